// Do the halves of a region work at the same time where one is on cuda:0 and one on cuda:1? The region with both,
// whose second result goes to cuda:0, against its halves one after the other, each waited for, and against both on
// one GPU; in turn, in one run. The results are compared bit by bit with those of one GPU. Where there is no
// second GPU it says so, and ends.
//
//     bench/cuda_two [N]     products of [N, N] f32, 4096 by default
#define TCOMPILE_IMPLEMENTATION
#define TCOMPILE_CUDA_IMPLEMENTATION
#include "tcompile.h"
#include "tcompile_cuda.h"

#include "bench.h"

enum { ROUNDS = 15, LAYERS = 6 };
static const double bar = 0.65; // of the time of one after the other

typedef struct two {
    tc_ctx *tc;
    tc_tensor x, here, there; // of one half; of the other on cuda:0, on cuda:1
    tc_tensor y[2];
} two;

static tc_tensor half(tc_tensor x) {
    tc_tensor y = x;
    for (int i = 0; i < LAYERS; i++) y = tc_mul_s(tc_tanh(tc_matmul(y, x)), 0.5);
    return y;
}

static void one_half(two *t, const char *name, tc_tensor x) {
    tc_trace_begin(t->tc, name);
    t->y[0] = tc_to(half(x), "cuda:0");
    tc_trace_end(t->tc);
    tc_sync(t->tc);
}

static void first(two *t) { one_half(t, "first", t->x); }
static void second(two *t) { one_half(t, "second", t->there); }

static void both(two *t, const char *name, tc_tensor other) {
    tc_trace_begin(t->tc, name);
    t->y[0] = half(t->x);
    t->y[1] = tc_to(half(other), "cuda:0");
    tc_trace_end(t->tc);
    tc_sync(t->tc);
}

static void on_two(two *t) { both(t, "two", t->there); }
static void on_one(two *t) { both(t, "one", t->here); }

static double time_of(two *t, void (*work)(two *)) {
    double start = bench_ns();
    work(t);
    return bench_ns() - start;
}

// Elements of both results that differ from those of one GPU.
static int64_t differ(two *t, int64_t n) {
    float *a = (float *)malloc((size_t)n * sizeof *a),
          *b = (float *)malloc((size_t)n * sizeof *b);
    int64_t wrong = 0;
    for (int i = 0; a && b && i < 2; i++) {
        on_one(t);
        tc_read(t->y[i], a, (size_t)n * sizeof *a);
        on_two(t);
        tc_read(t->y[i], b, (size_t)n * sizeof *b);
        for (int64_t k = 0; k < n; k++) wrong += memcmp(&a[k], &b[k], sizeof *a) != 0;
    }
    free(a), free(b);
    return wrong;
}

static int run(two *t, int64_t n) {
    static const char *const name[] = {"first half, cuda:0", "second half, cuda:1",
                                       "both on cuda:0", "both, on two"};
    void (*const work[])(two *) = {first, second, on_one, on_two};
    double ns[4][ROUNDS], median[4];
    t->x = tc_to(tc_randn(t->tc, TC_DIMS(n, n), TC_F32), "cuda:0");
    t->here = tc_to(tc_randn(t->tc, TC_DIMS(n, n), TC_F32), "cuda:0");
    t->there = tc_to(t->here, "cuda:1");
    for (int i = 0; i < 4 * 5; i++) work[i % 4](t); // compiled, and measured by the device
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < 4; i++) ns[i][round] = time_of(t, work[i]);
    printf("%d products of [%lld, %lld] f32 a half\n", (int)LAYERS, (long long)n,
           (long long)n);
    for (int i = 0; i < 4; i++) {
        median[i] = bench_median(ns[i], ROUNDS);
        printf("%-20s %10.1f us\n", name[i], median[i] / 1000);
    }
    double part = median[3] / (median[0] + median[1]);
    int64_t wrong = differ(t, n * n);
    printf("on two / one after the other %.2f   bar %.2f: %s\n", part, bar,
           part <= bar ? "ok" : "MISSED");
    printf("programs of \"two\": %d; elements that differ from one GPU's: %lld\n",
           tc_explain_counts(t->tc, "two").programs, (long long)wrong);
    return tc_error(t->tc) != TC_OK || wrong;
}

int main(int count, char **args) {
    two t;
    memset(&t, 0, sizeof t);
    if (tc_cuda_device_count() < 2) {
        printf("there is no second GPU\n");
        return 0;
    }
    t.tc = tc_open(NULL);
    if (!t.tc || tc_cuda_open(t.tc, 0) || tc_cuda_open(t.tc, 1)) {
        printf("%s\n", tc_error_text(t.tc));
        return 1;
    }
    int failed = run(&t, count > 1 ? atoi(args[1]) : 4096);
    if (tc_error(t.tc)) printf("%s\n", tc_error_text(t.tc));
    tc_close(t.tc);
    return failed;
}
