// Checkpoints: gradients have the bits of those without, whatever is in them, and programs hold less memory.
#include "tcompile.h"

#include "harness.h"

#include "help.h"

enum { DEEP = 8, ROWS = 512, WIDTH = 160 };

// n numbers around 0 that repeat after a while.
static tc_tensor waves(tc_ctx *tc, tc_dims d, double by, int seed) {
    int64_t n = 1;
    for (int i = 0; i < d.rank; i++) n *= d.size[i];
    float *p = (float *)malloc(sizeof *p * (size_t)n);
    for (int64_t i = 0; i < n; i++)
        p[i] = (float)(by * (double)((i * 37 + seed * 101) % 61 - 30) / 30);
    tc_tensor t = tc_from_data(tc, p, d, TC_F32);
    free(p);
    return t;
}

#define SAME(a, b) same_bits((a), (b), __LINE__)
static void same_bits(tc_tensor a, tc_tensor b, int line_number) {
    size_t n = (size_t)tc_numel(a);
    CHECK_EQ(tc_numel(b), (int64_t)n);
    float *x = (float *)malloc(sizeof *x * (n + 1)),
          *y = (float *)malloc(sizeof *y * (n + 1));
    tc_read(a, x, n * sizeof *x), tc_read(b, y, n * sizeof *y);
    for (size_t i = 0; i < n; i++)
        if (memcmp(&x[i], &y[i], sizeof *x)) {
            test_fail(__FILE__, line_number, "element %d is %a, not %a", (int)i, y[i],
                      x[i]);
            break;
        }
    free(x), free(y);
}

typedef struct layer {
    tc_tensor w, b;
} layer;

static void dense(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    const layer *l = (const layer *)user;
    (void)tc;
    out[0] = tc_gelu(tc_linear(in[0], l->w, l->b));
}

static void apply(tc_ctx *tc, int checkpoint, tc_body body, void *user, tc_tensor *x) {
    if (checkpoint) {
        CHECK_EQ(tc_checkpoint(tc, body, user, x, 1, x, 1), TC_OK);
        return;
    }
    tc_tensor y;
    body(tc, x, &y, user), *x = y;
}

BOTH(an_mlp_has_the_same_gradients) {
    layer l[DEEP];
    tc_tensor x = waves(tc, TC_DIMS(ROWS, WIDTH), 1, 0), g[2][2 * DEEP];
    for (int i = 0; i < DEEP; i++) {
        l[i].w = waves(tc, TC_DIMS(WIDTH, WIDTH), 0.2, i + 1);
        l[i].b = waves(tc, TC_DIMS(WIDTH), 0.1, i + 20);
    }
    for (int checkpoint = 0; checkpoint < 2; checkpoint++) {
        tc_tensor h = x, wrt[2 * DEEP];
        uint64_t before = tc_stats_get(tc).arena_bytes;
        BEGIN(checkpoint ? "with" : "without");
        for (int i = 0; i < DEEP; i++) {
            apply(tc, checkpoint, dense, &l[i], &h);
            wrt[2 * i] = l[i].w, wrt[2 * i + 1] = l[i].b;
        }
        CHECK_EQ(tc_grad(tc_mean_all(tc_square(h)), wrt, 2 * DEEP, g[checkpoint]), TC_OK);
        END();
        for (int i = 0; i < 2 * DEEP; i++) tc_keep(g[checkpoint][i]);
        printf("arena %d\n", (int)(tc_stats_get(tc).arena_bytes - before));
    }
    for (int i = 0; i < 2 * DEEP; i++) SAME(g[0][i], g[1][i]);
}
