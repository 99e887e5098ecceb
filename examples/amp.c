// Mixed precision: the digits of train_digits_mlp.c, once in f32 and once with products in f16 and a loss that is scaled.
// The weights are f32 in both: their halves are casts in the graph. In the middle a batch overflows f16 on purpose:
// that step is not made, the scale is halved, and training goes on; the host reads nothing of it meanwhile.
//
// Build: cc -O2 -I. examples/amp.c -o amp -lm -lpthread -ldl
// Run:   ./amp [digits.u8]     (default examples/data/digits.u8)
// Prints losses, scales and how many of the test's digits are right. Exit status 1 if a weight changed in the step that
// overflowed, if the scale was not halved then, or if f16 is more than 1 % worse than f32.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { DIGITS = 1797, PIXELS = 64, RECORD = PIXELS + 1, TEST_EVERY = 4 };
enum { HIDDEN = 128, CLASSES = 10, BATCH = 40, EPOCHS = 20, BAD_EPOCH = 10 };
enum { W1, B1, W2, B2, WEIGHTS };

typedef struct model {
    tc_tensor weight[WEIGHTS], average[WEIGHTS], square[WEIGHTS]; // all f32
    tc_tensor steps;                                              // made so far
    tc_tensor loss;                                               // summed over the epoch
    tc_dtype half;         // of products; TC_F32 = autocast is off
    tc_grad_scaler scaler; // of f16
} model;

// Record: 64 pixels 0..16, row by row, then the label.
static unsigned char records[DIGITS * RECORD];

static int load(const char *path) {
    FILE *f = fopen(path, "rb");
    size_t n = f ? fread(records, 1, sizeof records, f) : 0;
    if (f) fclose(f);
    return n == sizeof records;
}

// Every fourth digit is for the test.
static int split(int64_t *train, int64_t *test, int *n_test) {
    int n = 0;
    *n_test = 0;
    for (int i = 0; i < DIGITS; i++) {
        if (i % TEST_EVERY)
            train[n++] = i;
        else
            test[(*n_test)++] = i;
    }
    return n;
}

static void shuffle(int64_t *x, int n, uint32_t *seed) {
    for (int i = n - 1; i > 0; i--) {
        *seed = *seed * 1664525u + 1013904223u;
        int k = (int)((*seed >> 8) % (uint32_t)(i + 1));
        int64_t swapped = x[i];
        x[i] = x[k], x[k] = swapped;
    }
}

static model make_model(tc_ctx *tc, tc_dtype half) {
    model m;
    memset(&m, 0, sizeof m); // bytes of it are compared at each call
    tc_manual_seed(tc, 1);
    m.weight[W1] = tc_randn(tc, TC_DIMS(HIDDEN, PIXELS), TC_F32);
    m.weight[B1] = tc_zeros(tc, TC_DIMS(HIDDEN), TC_F32);
    m.weight[W2] = tc_randn(tc, TC_DIMS(CLASSES, HIDDEN), TC_F32);
    m.weight[B2] = tc_zeros(tc, TC_DIMS(CLASSES), TC_F32);
    tc_mul_s_(m.weight[W1], sqrt(2.0 / PIXELS)),
        tc_mul_s_(m.weight[W2], sqrt(2.0 / HIDDEN));
    for (int i = 0; i < WEIGHTS; i++) {
        m.average[i] = tc_zeros_like(m.weight[i]);
        m.square[i] = tc_zeros_like(m.weight[i]);
    }
    m.steps = tc_zeros(tc, TC_SCALAR, TC_F32), m.loss = tc_zeros(tc, TC_SCALAR, TC_F32);
    m.half = half;
    tc_grad_scaler_init(tc, &m.scaler, 0);
    m.scaler.growth_interval = 200; // of 680 steps
    return m;
}

static tc_tensor pixels(tc_tensor all, tc_tensor which) {
    tc_tensor x = tc_index_select(tc_narrow(all, 1, 0, PIXELS), 0, which);
    return tc_div_s(tc_to_f32(x), 16);
}

static tc_tensor labels(tc_tensor all, tc_tensor which) {
    return tc_to_i32(tc_index_select(tc_select(all, 1, PIXELS), 0, which));
}

// Under autocast two products in the half, of casts of the weights.
static tc_tensor logits(const model *m, tc_tensor x) {
    tc_tensor hidden = tc_relu(tc_linear(x, m->weight[W1], m->weight[B1]));
    return tc_linear(hidden, m->weight[W2], m->weight[B2]);
}

static void adamw(model *m, const tc_tensor *gradient) {
    tc_adamw_list_(m->weight, gradient, m->average, m->square, WEIGHTS, m->steps, 3e-3, 0.9,
                   0.999, 1e-8, 1e-2);
}

// in: all records, those of the batch, what pixels are multiplied by. out: the loss, summed up in the model too.
static void step(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    model *m = (model *)user;
    const tc_grad_scaler *s = &m->scaler;
    tc_tensor gradient[WEIGHTS], x = tc_mul(pixels(in[0], in[1]), in[2]);
    tc_autocast_begin(tc, m->half);
    out[0] = tc_cross_entropy(logits(m, x), labels(in[0], in[1])); // f32
    tc_autocast_end(tc);
    if (m->half == TC_F32) {
        tc_grad(out[0], m->weight, WEIGHTS, gradient);
        adamw(m, gradient);
    } else {
        tc_grad(tc_grad_scaler_scale(s, out[0]), m->weight, WEIGHTS, gradient);
        tc_grad_scaler_unscale_(s, gradient, WEIGHTS);
        tc_grad_scaler_step_begin(s);
        adamw(m, gradient);
        tc_grad_scaler_step_end(s);
        tc_grad_scaler_update(s);
    }
    tc_add_(m->loss, out[0]);
}

static void run_batch(tc_ctx *tc, tc_fn *f, tc_tensor all, int64_t *which, int n,
                      double factor) {
    tc_tensor in[3], loss;
    tc_scope_begin(tc);
    in[0] = all, in[1] = tc_wrap(tc, which, TC_DIMS(n), TC_I64);
    in[2] = tc_full(tc, TC_DIMS(1), factor, TC_F32);
    tc_call(f, in, 3, &loss, 1);
    tc_scope_end(tc);
}

// One pass over the digits `train`, in an order of its own. The mean loss of a batch.
static double epoch(tc_ctx *tc, tc_fn *f, const model *m, tc_tensor all, int64_t *train,
                    int n, uint32_t *seed) {
    int batches = 0;
    shuffle(train, n, seed);
    tc_zero_(m->loss);
    for (int i = 0; i < n; i += BATCH, batches++)
        run_batch(tc, f, all, train + i, n - i < BATCH ? n - i : BATCH, 1);
    return tc_item(m->loss) / batches;
}

// A batch of a million times the pixels: infinite in f16. Whether it changed nothing but the scale, which is half of what
// it was.
static int overflow(tc_ctx *tc, tc_fn *f, const model *m, tc_tensor all, int64_t *train) {
    static float before[HIDDEN * PIXELS], behind[HIDDEN * PIXELS];
    double scale = tc_item(m->scaler.scale), steps = tc_item(m->steps);
    tc_read(m->weight[W1], before, sizeof before);
    run_batch(tc, f, all, train, BATCH, 1e6);
    tc_read(m->weight[W1], behind, sizeof behind);
    int same = !memcmp(before, behind, sizeof before) && tc_item(m->steps) == steps;
    printf("    a batch overflows: %s, the scale was %g, now %g\n",
           same ? "no weight has changed" : "WEIGHTS HAVE CHANGED", scale,
           tc_item(m->scaler.scale));
    return same && tc_item(m->scaler.scale) == scale / 2;
}

static int count_right(tc_ctx *tc, const model *m, tc_tensor all, tc_tensor which) {
    tc_trace_begin(tc, "test");
    tc_autocast_begin(tc, m->half);
    tc_tensor said = tc_argmax(logits(m, pixels(all, which)), 1);
    tc_autocast_end(tc);
    tc_tensor n_right = tc_sum_all(tc_eq(said, labels(all, which)));
    tc_trace_end(tc);
    return (int)tc_item_i64(n_right);
}

// Trains a model with products in `half`; how many of the test's digits are right, -1 = something is wrong.
static int train_model(tc_ctx *tc, tc_dtype half, int64_t *train, int n, int64_t *test,
                       int n_test) {
    uint32_t seed = 1;
    int ok = 1;
    tc_tensor all = tc_wrap(tc, records, TC_DIMS(DIGITS, RECORD), TC_U8);
    tc_tensor which = tc_wrap(tc, test, TC_DIMS(n_test), TC_I64);
    model m = make_model(tc, half);
    tc_fn *f = tc_compile(tc, step, &m, sizeof m, NULL);
    printf("products in %s\n", tc_dtype_name(half));
    for (int i = 1; i <= EPOCHS; i++) {
        double loss = epoch(tc, f, &m, all, train, n, &seed);
        if (half != TC_F32 && i == BAD_EPOCH) ok = overflow(tc, f, &m, all, train);
        if (i % 5 == 0)
            printf("    epoch %2d: loss %.4f, %g steps, scale %g\n", i, loss,
                   tc_item(m.steps), tc_item(m.scaler.scale));
    }
    int right = count_right(tc, &m, all, which);
    printf("    %d of %d right (%.1f %%)\n", right, n_test, 100.0 * right / n_test);
    tc_grad_scaler_free(&m.scaler);
    tc_fn_free(f);
    return ok ? right : -1;
}

int main(int argc, char **argv) {
    static int64_t train[DIGITS], test[DIGITS];
    const char *path = argc > 1 ? argv[1] : "examples/data/digits.u8";
    int n_test, n = split(train, test, &n_test);
    if (!load(path)) {
        fprintf(stderr, "%s: not %d digits; run from the root or name the file\n", path,
                DIGITS);
        return 1;
    }
    tc_ctx *tc = tc_open(NULL);
    if (!tc) return 1;
    int single = train_model(tc, TC_F32, train, n, test, n_test);
    n = split(train, test, &n_test); // in the order of before
    int mixed = train_model(tc, TC_F16, train, n, test, n_test);
    if (tc_error(tc)) fprintf(stderr, "error: %s\n", tc_error_text(tc));
    int ok = !tc_error(tc) && single > 0 && mixed >= single - n_test / 100;
    tc_close(tc);
    return !ok;
}
