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

// ---- memory of steps that nobody scopes or frees ----

enum { SIDE = 256, STEPS = 500 };

static tc_tensor heat(tc_tensor u) {
    tc_tensor rows = tc_add(tc_roll(u, 1, 0), tc_roll(u, -1, 0));
    tc_tensor sum = tc_add(rows, tc_add(tc_roll(u, 1, 1), tc_roll(u, -1, 1)));
    return tc_add(u, tc_mul_s(tc_sub(sum, tc_mul_s(u, 4)), 0.1));
}

// The most that a context holds, by the size of the state.
static int held(const char *name, int lazily, double bar) {
    tc_ctx *tc = bench_open(2);
    tc_tensor u = bench_randn(tc, TC_DIMS(SIDE, SIDE), 1);
    if (lazily) tc_lazy(tc, 1);
    for (int i = 0; i < STEPS; i++) {
        u = heat(u);
        if (lazily) tc_eval(tc, NULL, 0);
    }
    bench_check(tc);
    double most = (double)tc_stats_get(tc).peak_bytes / (SIDE * SIDE * 4.0);
    tc_close(tc);
    return bench_row(name, -1, -1, most, bar > 0 ? BENCH_AT_MOST : BENCH_NO_BAR, bar);
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
    bench_head("", "", "states");
    missed += held("500 heat steps, eager, unscoped", 0, 0);
    missed += held("500 heat steps, tc_lazy", 1, 24);
    return bench_status(missed);
}
