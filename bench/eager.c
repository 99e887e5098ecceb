// What does a region win over the same code run op by op? Same context, same threads.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

#include "bench.h"

enum { ROUNDS = 9 };

typedef struct job {
    tc_ctx *tc;
    const char *name;
    tc_tensor (*record)(const struct job *j);
    tc_tensor x, a, b;
} job;

static tc_tensor chain(const job *j) { return bench_chain(j->x, j->a, j->b); }
static tc_tensor entropy(const job *j) { return bench_entropy(j->x); }
static tc_tensor layer_norm(const job *j) { return tc_layer_norm(j->x, j->a, j->b, 1e-5); }

static void compiled(void *user) {
    job *j = (job *)user;
    tc_trace_begin(j->tc, j->name);
    j->record(j);
    tc_trace_end(j->tc);
}

static void eager(void *user) {
    job *j = (job *)user;
    tc_scope_begin(j->tc);
    j->record(j);
    tc_scope_end(j->tc);
}

static int row(job *j, double bar) {
    bench_side side[2] = {{compiled, j, 0}, {eager, j, 0}};
    bench_interleave(side, 2, ROUNDS);
    bench_check(j->tc);
    return bench_row(j->name, side[0].ns, side[1].ns, side[1].ns / side[0].ns,
                     bar > 0 ? BENCH_AT_LEAST : BENCH_NO_BAR, bar);
}

int main(void) {
    tc_ctx *tc = bench_open(2);
    tc_tensor x = bench_randn(tc, TC_DIMS(1 << 24), 1);
    tc_tensor a = bench_randn(tc, TC_DIMS(1), 2), b = bench_randn(tc, TC_DIMS(1), 3);
    tc_tensor y = bench_randn(tc, TC_DIMS(32, 196, 768), 4);
    tc_tensor w = bench_randn(tc, TC_DIMS(768), 5), v = bench_randn(tc, TC_DIMS(768), 6);
    job first = {tc, "chain_16M_f32", chain, x, a, b};
    job second = {tc, "entropy_32x196x768_f32", entropy, y, a, b};
    job third = {tc, "layernorm_32x196x768_f32", layer_norm, y, w, v};
    int missed = 0;
    bench_head("compiled", "eager", "speedup");
    missed += row(&first, 3);
    missed += row(&second, 3);
    missed += row(&third, 0);
    tc_close(tc);
    return bench_status(missed);
}
