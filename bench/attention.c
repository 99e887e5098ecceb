// Attention on the CPU: one kernel, whose scores stay in the caches, against the same in three regions, whose
// scores and shares go through memory; and a causal mask against the same mask given as a tensor.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

#include "bench.h"

enum { ROUNDS = 9 };

typedef struct job {
    tc_ctx *tc;
    const char *name;
    int64_t heads, rows, columns;
    int causal;
    tc_tensor q, k, v, mask;
} job;

static void attend(const job *j, const char *name, tc_tensor mask, int causal) {
    tc_trace_begin(j->tc, name);
    tc_scaled_dot_product_attention(j->q, j->k, j->v, mask, causal, 0);
    tc_trace_end(j->tc);
}

static void one(void *user) {
    const job *j = (const job *)user;
    attend(j, j->name, tc_null(), j->causal);
}

static void masked(void *user) {
    const job *j = (const job *)user;
    attend(j, "masked", j->mask, 0);
}

static void three(void *user) {
    const job *j = (const job *)user;
    tc_trace_begin(j->tc, "scores");
    tc_tensor x = tc_mul_s(tc_matmul(j->q, tc_transpose(j->k, -2, -1)), 0.125);
    if (j->causal) x = tc_where(j->mask, x, tc_full(j->tc, TC_SCALAR, -1e30, TC_F32));
    tc_trace_end(j->tc);
    tc_trace_begin(j->tc, "shares");
    tc_tensor p = tc_softmax(x, -1);
    tc_trace_end(j->tc);
    tc_trace_begin(j->tc, "values");
    tc_matmul(p, j->v);
    tc_trace_end(j->tc);
}

static int measure(job *j) {
    int sides = j->causal ? 3 : 2;
    j->tc = bench_open(0);
    j->q = bench_randn(j->tc, TC_DIMS(j->heads, j->rows, 64), 1);
    j->k = bench_randn(j->tc, TC_DIMS(j->heads, j->columns, 64), 2);
    j->v = bench_randn(j->tc, TC_DIMS(j->heads, j->columns, 64), 3);
    j->mask = tc_tril(tc_ones(j->tc, TC_DIMS(j->rows, j->columns), TC_BOOL), 0);
    bench_side side[3] = {{one, j, 0}, {three, j, 0}, {masked, j, 0}};
    bench_interleave(side, sides, ROUNDS);
    bench_check(j->tc);
    tc_close(j->tc);
    int missed = bench_row(j->name, side[0].ns, side[1].ns, side[0].ns / side[1].ns,
                           BENCH_AT_MOST, 1);
    if (sides == 3)
        missed += bench_row("    the mask as a tensor", side[0].ns, side[2].ns,
                            side[0].ns / side[2].ns, BENCH_AT_MOST, 1.1);
    return missed;
}

int main(void) {
    static job jobs[] = {
        {.name = "8 x 1024 x 1024", .heads = 8, .rows = 1024, .columns = 1024},
        {.name = "  causal", .heads = 8, .rows = 1024, .columns = 1024, .causal = 1},
        {.name = "12 x 512 x 512, causal",
         .heads = 12,
         .rows = 512,
         .columns = 512,
         .causal = 1},
        {.name = "96 x 128 x 128, causal",
         .heads = 96,
         .rows = 128,
         .columns = 128,
         .causal = 1},
        {.name = "8 x 301 x 1003, causal",
         .heads = 8,
         .rows = 301,
         .columns = 1003,
         .causal = 1}};
    int missed = 0;
    bench_head("one kernel", "other", "ratio");
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) missed += measure(&jobs[i]);
    return bench_status(missed);
}
