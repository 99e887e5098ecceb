// One function, 16 batch sizes: compiled for the first, once more with run-time sizes for the second,
// and never again. Prints why each call ran its body, the programs, and that every result is the
// eager one's, bit by bit.
//
//     cc -I. examples/dynamic_batch.c -o dynamic_batch -lpthread -ldl && ./dynamic_batch
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

#include <stdio.h>
#include <string.h>

enum { BATCHES = 16, WIDTH = 64, CLASSES = 10, MOST = 128 };

typedef struct model {
    tc_tensor w1, b1, w2, b2;
} model;

static void forward(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    const model *m = (const model *)user;
    (void)tc;
    tc_tensor h = tc_gelu(tc_linear(in[0], m->w1, m->b1));
    out[0] = tc_softmax(tc_linear(h, m->w2, m->b2), -1);
}

static int equal(tc_tensor a, tc_tensor b) {
    static float x[MOST * CLASSES], y[MOST * CLASSES];
    size_t bytes = (size_t)tc_numel(a) * sizeof *x;
    if (tc_numel(a) != tc_numel(b) || tc_read(a, x, bytes) || tc_read(b, y, bytes))
        return 0;
    return !memcmp(x, y, bytes);
}

int main(void) {
    static const int size[BATCHES] = {32, 48, 7,  64, 96, 33, 100, 5,
                                      17, 80, 12, 55, 70, 41, 1,   128};
    tc_ctx *tc = tc_open(NULL);
    model m;
    if (!tc) return 1;
    tc_manual_seed(tc, 7);
    m.w1 = tc_randn(tc, TC_DIMS(WIDTH, WIDTH), TC_F32);
    m.b1 = tc_randn(tc, TC_DIMS(WIDTH), TC_F32);
    m.w2 = tc_randn(tc, TC_DIMS(CLASSES, WIDTH), TC_F32);
    m.b2 = tc_randn(tc, TC_DIMS(CLASSES), TC_F32);

    tc_fn *f = tc_compile(tc, forward, &m, sizeof m, NULL);
    int wrong = 0;
    for (int i = 0; i < BATCHES; i++) {
        tc_scope_begin(tc);
        tc_tensor x = tc_randn(tc, TC_DIMS(size[i], WIDTH), TC_F32), y, want;
        uint64_t before = tc_stats_get(tc).programs;
        if (tc_call(f, &x, 1, &y, 1)) break;
        int made = tc_stats_get(tc).programs > before;
        if (i < 4)
            printf("batch %3d: %s%s\n", size[i], made ? "compiled; " : "", tc_miss_text(f));
        forward(tc, &x, &want, &m); // the same code, one op after the other
        wrong += !equal(y, want);
        tc_scope_end(tc);
    }
    tc_stats s = tc_stats_get(tc);
    printf("%d batch sizes, %d programs, %d wrong\n", BATCHES, (int)s.programs, wrong);
    if (tc_error(tc)) printf("error: %s\n", tc_error_text(tc));
    int bad = wrong || s.programs > 2 || tc_error(tc);
    tc_close(tc);
    return bad;
}
