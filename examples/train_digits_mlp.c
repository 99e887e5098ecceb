// Trains a network of two layers on handwritten digits: 1347 to learn from, 450 to be read. A step, from the batch to
// the updated parameters, is one region: forward, gradients and AdamW become one program, compiled once.
//
// Build: cc -O2 -I. examples/train_digits_mlp.c -o train_digits_mlp -lpthread -ldl
// Run:   ./train_digits_mlp [digits.u8]     (default examples/data/digits.u8)
// Prints the loss by epoch and what is read right. Exit status 1 if that is less than 97 %.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

#include <stdio.h>
#include <string.h>

enum {
    DIGITS = 1797,
    PIXELS = 64,
    RECORD = PIXELS + 1, // 64 pixels 0..16, row by row, then the label
    READ_EVERY = 4,      // every fourth digit is not learnt
    HIDDEN = 128,
    BATCH = 64,
    EPOCHS = 40,
    PARAMS = 4
};

static unsigned char records[DIGITS * RECORD];
static int64_t known[DIGITS], unknown[DIGITS], batch[BATCH];

static int load(const char *path) {
    FILE *f = fopen(path, "rb");
    size_t n = f ? fread(records, 1, sizeof records, f) : 0;
    if (f) fclose(f);
    return n == sizeof records;
}

// What is learnt, and the two averages that AdamW has of each.
typedef struct model {
    tc_tensor param[PARAMS], mean[PARAMS], square[PARAMS], step;
} model;

static model make_model(tc_ctx *tc) {
    model m;
    m.param[0] = tc_mul_s(tc_randn(tc, TC_DIMS(HIDDEN, PIXELS), TC_F32), 0.15);
    m.param[1] = tc_zeros(tc, TC_DIMS(HIDDEN), TC_F32);
    m.param[2] = tc_mul_s(tc_randn(tc, TC_DIMS(10, HIDDEN), TC_F32), 0.1);
    m.param[3] = tc_zeros(tc, TC_DIMS(10), TC_F32);
    for (int i = 0; i < PARAMS; i++) {
        m.mean[i] = tc_zeros_like(m.param[i]);
        m.square[i] = tc_zeros_like(m.param[i]);
    }
    m.step = tc_zeros(tc, TC_SCALAR, TC_F32);
    return m;
}

// Scores [N, 10] of images [N, 64].
static tc_tensor scores(const model *m, tc_tensor x) {
    tc_tensor h = tc_gelu(tc_linear(x, m->param[0], m->param[1]));
    return tc_linear(h, m->param[2], m->param[3]);
}

static tc_tensor images(tc_tensor all, tc_tensor at) {
    tc_tensor rows = tc_index_select(all, 0, at);
    return tc_mul_s(tc_to_f32(tc_narrow(rows, 1, 0, PIXELS)), 1.0 / 16);
}

static tc_tensor labels(tc_tensor all, tc_tensor at) {
    return tc_to_i64(tc_select(tc_index_select(all, 0, at), 1, PIXELS));
}

// The loss of the digits at `at`, which is a scalar; the parameters are a step further.
static tc_tensor learn(tc_ctx *tc, model *m, tc_tensor all, tc_tensor at, double lr) {
    tc_tensor grad[PARAMS];
    tc_trace_begin(tc, "learn");
    tc_tensor loss = tc_cross_entropy(scores(m, images(all, at)), labels(all, at));
    tc_grad(loss, m->param, PARAMS, grad);
    tc_adamw_list_(m->param, grad, m->mean, m->square, PARAMS, m->step, lr, 0.9, 0.999,
                   1e-8, 0.01);
    tc_trace_end(tc);
    return loss;
}

static void shuffle(int64_t *at, int n) {
    static unsigned state = 1;
    for (int i = n - 1; i > 0; i--) {
        state = state * 1664525u + 1013904223u;
        int k = (int)((state >> 8) % (unsigned)(i + 1));
        int64_t t = at[i];
        at[i] = at[k], at[k] = t;
    }
}

int main(int argc, char **argv) {
    const char *path = argc > 1 ? argv[1] : "examples/data/digits.u8";
    int n_known = 0, n_unknown = 0;
    for (int i = 0; i < DIGITS; i++) {
        if (i % READ_EVERY)
            known[n_known++] = i;
        else
            unknown[n_unknown++] = i;
    }
    if (!load(path)) {
        fprintf(stderr, "%s: not %d digits; run from the root or name the file\n", path,
                DIGITS);
        return 1;
    }
    tc_ctx *tc = tc_open(NULL);
    if (!tc) return 1;
    tc_tensor all = tc_wrap(tc, records, TC_DIMS(DIGITS, RECORD), TC_U8);
    tc_tensor at = tc_wrap(tc, batch, TC_DIMS(BATCH), TC_I64);
    tc_tensor held = tc_wrap(tc, unknown, TC_DIMS(n_unknown), TC_I64);
    model m = make_model(tc);

    for (int epoch = 0; epoch < EPOCHS && !tc_error(tc); epoch++) {
        double sum = 0;
        int steps = n_known / BATCH; // what is left over comes with another epoch
        shuffle(known, n_known);
        for (int i = 0; i < steps; i++) {
            memcpy(batch, known + i * BATCH, sizeof batch);
            sum += tc_item(learn(tc, &m, all, at, epoch < EPOCHS * 3 / 4 ? 2e-3 : 5e-4));
        }
        if (epoch % 8 == 7) printf("epoch %2d  loss %.4f\n", epoch + 1, sum / steps);
    }

    tc_trace_begin(tc, "read");
    tc_tensor said = tc_argmax(scores(&m, images(all, held)), 1);
    tc_tensor right = tc_sum_all(tc_eq(said, labels(all, held)));
    tc_trace_end(tc);
    int good = (int)tc_item_i64(right), ok = !tc_error(tc) && good >= 0.97 * n_unknown;
    printf("%d of %d right (%.1f %%); a step is %d kernels, %d programs in all\n", good,
           n_unknown, 100.0 * good / n_unknown, tc_region_kernels(tc, "learn"),
           (int)tc_stats_get(tc).programs);
    if (tc_error(tc)) fprintf(stderr, "error: %s\n", tc_error_text(tc));
    tc_close(tc);
    return !ok;
}
