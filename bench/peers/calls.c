// Our side of bench/peers/calls.sh: prints `name nanoseconds`. guards8: a call of a compiled
// function with eight inputs of 16 elements, kernel and all. batches: 16 batch sizes through
// one MLP, from nothing to the last result, nothing on disk; 2 threads.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

#include "../bench.h"

enum { INPUTS = 8, CALLS = 2000, ROUNDS = 5, BATCHES = 16, WIDTH = 256, LAYERS = 3 };

static void many(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    tc_tensor s = in[0];
    for (int i = 1; i < INPUTS; i++) s = tc_add_s(tc_mul(s, in[i]), 1);
    out[0] = s;
}

static double guards8(tc_ctx *tc) {
    tc_tensor in[INPUTS], y;
    double ns[ROUNDS];
    tc_fn *f = tc_compile(tc, many, NULL, 0, NULL);
    for (int i = 0; i < INPUTS; i++) in[i] = bench_randn(tc, TC_DIMS(16), (uint64_t)i + 1);
    for (int r = 0; r < ROUNDS; r++) {
        double start = bench_ns();
        for (int k = 0; k < CALLS; k++) {
            tc_call(f, in, INPUTS, &y, 1);
            tc_free(y);
        }
        ns[r] = (bench_ns() - start) / CALLS;
    }
    return bench_median(ns, ROUNDS);
}

typedef struct mlp {
    tc_tensor w[LAYERS], b[LAYERS];
} mlp;

static void forward(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    const mlp *m = (const mlp *)user;
    tc_tensor x = in[0];
    (void)tc;
    for (int i = 0; i < LAYERS; i++) x = tc_relu(tc_linear(x, m->w[i], m->b[i]));
    out[0] = tc_softmax(x, -1);
}

static double batches(tc_ctx *tc) {
    static const int sizes[BATCHES] = {32, 48, 7,  64, 96, 33, 100, 5,
                                       17, 80, 12, 55, 70, 41, 23,  90};
    mlp m;
    for (int i = 0; i < LAYERS; i++) {
        m.w[i] = bench_randn(tc, TC_DIMS(WIDTH, WIDTH), (uint64_t)i + 1);
        m.b[i] = bench_randn(tc, TC_DIMS(WIDTH), (uint64_t)i + 50);
    }
    tc_tensor x[BATCHES], y;
    for (int i = 0; i < BATCHES; i++)
        x[i] = bench_randn(tc, TC_DIMS(sizes[i], WIDTH), (uint64_t)i + 100);
    double start = bench_ns();
    tc_fn *f = tc_compile(tc, forward, &m, sizeof m, NULL);
    for (int i = 0; i < BATCHES; i++) {
        tc_call(f, &x[i], 1, &y, 1);
        tc_free(y);
    }
    return bench_ns() - start;
}

int main(void) {
    tc_config config = tc_config_default();
    config.threads = 2;
    config.no_disk_cache = 1;
    tc_ctx *tc = tc_open(&config);
    bench_check(tc);
    printf("guards8 %.1f\n", guards8(tc));
    printf("batches16 %.1f\n", batches(tc));
    bench_check(tc);
    tc_close(tc);
    return 0;
}
