// How sure is a classifier of each patch? Entropy of softmax over 768 logits for 32 images
// of 196 patches: 0 = certain, log(768) = 6.64 = no idea.
//
// Build: cc -O2 -I. examples/entropy.c -o entropy -lm -lpthread -ldl
// Prints the mean entropy and the least and most certain patch, and the largest difference
// to a reference in double. Exit status 1 if that is above 1e-4.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { IMAGES = 32, PATCHES = 196, CLASSES = 768, ROWS = IMAGES * PATCHES };

// Logits of a made-up classifier: noise, and one class that stands out by an amount of its
// own.
static float *make_logits(void) {
    float *x = (float *)malloc(sizeof(float) * ROWS * CLASSES);
    uint32_t seed = 1;
    for (size_t i = 0; x && i < (size_t)ROWS * CLASSES; i++) {
        seed = seed * 1664525u + 1013904223u;
        x[i] = (float)(seed >> 8) / 8388608.0f - 1.0f;
        if (i % CLASSES == i / CLASSES % CLASSES) x[i] += (float)(i / CLASSES % 17);
    }
    return x;
}

static tc_tensor entropy(tc_tensor logits) {
    tc_tensor p = tc_softmax(logits, -1);
    return tc_neg(tc_sum(tc_mul(p, tc_log(tc_add_s(p, 1e-8))), -1));
}

// The same for one row in double.
static double reference(const float *x) {
    double most = x[0], sum = 0, h = 0;
    for (int i = 1; i < CLASSES; i++) most = fmax(most, x[i]);
    for (int i = 0; i < CLASSES; i++) sum += exp(x[i] - most);
    for (int i = 0; i < CLASSES; i++) {
        double p = exp(x[i] - most) / sum;
        h -= p * log(p + 1e-8);
    }
    return h;
}

int main(void) {
    float *x = make_logits();
    tc_ctx *tc = tc_open(NULL);
    if (!x || !tc) return 1;
    tc_tensor logits = tc_wrap(tc, x, TC_DIMS(IMAGES, PATCHES, CLASSES), TC_F32);

    tc_trace_begin(tc, "entropy");
    tc_tensor h = tc_keep(entropy(logits));
    tc_tensor mean = tc_mean_all(h);
    tc_tensor least = tc_argmax_all(h), most = tc_argmin_all(h);
    tc_trace_end(tc);

    const float *got = (const float *)tc_data(h);
    double worst = 0;
    for (int r = 0; got && r < ROWS; r++)
        worst = fmax(worst, fabs(got[r] - reference(x + (size_t)r * CLASSES)));
    int ok = got && worst <= 1e-4 && !tc_error(tc);
    if (got) {
        int64_t a = tc_item_i64(most), b = tc_item_i64(least);
        printf("mean entropy %.4f nats\n", tc_item(mean));
        printf("most certain:  image %d, patch %d, %.4f\n", (int)a / PATCHES,
               (int)a % PATCHES, (double)got[a]);
        printf("least certain: image %d, patch %d, %.4f\n", (int)b / PATCHES,
               (int)b % PATCHES, (double)got[b]);
        printf("largest difference to double %.1e\n", worst);
    }
    if (tc_error(tc)) fprintf(stderr, "error: %s\n", tc_error_text(tc));
    tc_close(tc);
    free(x);
    return !ok;
}
