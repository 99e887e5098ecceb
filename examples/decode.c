// A decode loop: one token after the other, each attends to all before it. Keys and values lie in a cache of
// room for the longest text; a layer is one region that writes its row in place and reads the rows so far where
// they lie, so nothing of the cache is ever copied, and the second token makes the program for all
// lengths. Every step is checked against plain C.
//
//     cc -I. examples/decode.c -o decode -lpthread -ldl -lm && ./decode
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

#include <math.h>
#include <stdio.h>

enum { TOKENS = 60, MOST = 1024, HEADS = 4, WIDTH = 16, D = HEADS * WIDTH, LAYERS = 2 };

typedef struct layer {
    tc_tensor wq, wk, wv, wo; // [D, D]
    tc_tensor keys, values;   // the cache: [HEADS, MOST, WIDTH]
} layer;

// The next x of a layer at position n.
static tc_tensor step(tc_ctx *tc, layer *l, tc_tensor x, int n) {
    tc_trace_begin(tc, "layer");
    tc_tensor q = tc_reshape(tc_linear(x, l->wq, tc_null()), TC_DIMS(HEADS, 1, WIDTH));
    tc_tensor k = tc_reshape(tc_linear(x, l->wk, tc_null()), TC_DIMS(HEADS, 1, WIDTH));
    tc_tensor v = tc_reshape(tc_linear(x, l->wv, tc_null()), TC_DIMS(HEADS, 1, WIDTH));
    tc_copy_(tc_narrow(l->keys, 1, n, 1), k); // one row is written
    tc_copy_(tc_narrow(l->values, 1, n, 1), v);
    tc_tensor keys = tc_narrow(l->keys, 1, 0, n + 1);
    tc_tensor values = tc_narrow(l->values, 1, 0, n + 1);
    tc_tensor a = tc_scaled_dot_product_attention(q, keys, values, tc_null(), 0, 0);
    tc_tensor o = tc_linear(tc_reshape(a, TC_DIMS(1, D)), l->wo, tc_null());
    tc_tensor next = tc_keep(tc_tanh(tc_add(x, o)));
    tc_trace_end(tc);
    return next;
}

// ---- the same in plain C ----

static float keys[LAYERS][MOST][D], values[LAYERS][MOST][D];

static void times(const float *w, const float *x, float *y) {
    for (int i = 0; i < D; i++) {
        double sum = 0;
        for (int k = 0; k < D; k++) sum += (double)w[i * D + k] * x[k];
        y[i] = (float)sum;
    }
}

static void plain(const layer *l, int number, int n, float *x) {
    float q[D], a[D], o[D];
    times((const float *)tc_data(l->wq), x, q);
    times((const float *)tc_data(l->wk), x, keys[number][n]);
    times((const float *)tc_data(l->wv), x, values[number][n]);
    for (int h = 0; h < HEADS; h++) {
        double w[MOST], sum = 0;
        for (int i = 0; i <= n; i++) {
            w[i] = 0;
            for (int e = h * WIDTH; e < (h + 1) * WIDTH; e++)
                w[i] += (double)q[e] * keys[number][i][e];
            sum += w[i] = exp(w[i] / sqrt((double)WIDTH));
        }
        for (int e = h * WIDTH; e < (h + 1) * WIDTH; e++) {
            double y = 0;
            for (int i = 0; i <= n; i++) y += w[i] / sum * values[number][i][e];
            a[e] = (float)y;
        }
    }
    times((const float *)tc_data(l->wo), a, o);
    for (int i = 0; i < D; i++) x[i] = tanhf(x[i] + o[i]);
}

static tc_tensor weight(tc_ctx *tc) {
    tc_tensor w = tc_randn(tc, TC_DIMS(D, D), TC_F32);
    return tc_mul_s_(w, 0.1);
}

int main(void) {
    tc_ctx *tc = tc_open(NULL);
    layer l[LAYERS];
    float plain_x[D], x_now[D];
    double worst = 0;
    if (!tc) return 1;
    tc_manual_seed(tc, 5);
    for (int i = 0; i < LAYERS; i++) {
        l[i].wq = weight(tc), l[i].wk = weight(tc), l[i].wv = weight(tc),
        l[i].wo = weight(tc);
        l[i].keys = tc_zeros(tc, TC_DIMS(HEADS, MOST, WIDTH), TC_F32);
        l[i].values = tc_zeros(tc, TC_DIMS(HEADS, MOST, WIDTH), TC_F32);
    }
    tc_tensor x = tc_randn(tc, TC_DIMS(1, D), TC_F32);
    tc_read(x, plain_x, sizeof plain_x);
    for (int n = 0; n < TOKENS; n++) {
        for (int i = 0; i < LAYERS; i++) {
            tc_tensor next = step(tc, &l[i], x, n);
            tc_free(x);
            x = next;
            plain(&l[i], i, n, plain_x);
        }
        tc_read(x, x_now, sizeof x_now);
        for (int i = 0; i < D; i++)
            worst = fmax(worst, fabs((double)x_now[i] - plain_x[i]));
    }
    int programs = tc_explain_counts(tc, NULL).programs, failed = tc_error(tc) != TC_OK;
    long long made = (long long)tc_stats_get(tc).arena_bytes;
    printf("%d tokens through %d layers: %d programs, %lld bytes of intermediates, largest "
           "difference %.1e%s%s\n",
           TOKENS, LAYERS, programs, made, worst, failed ? "; " : "", tc_error_text(tc));
    failed |= programs != 2 || made > HEADS * MOST * WIDTH * 4 || worst > 1e-4;
    tc_close(tc);
    return failed;
}
