// Trains a network to read handwritten digits: 1347 of them, 450 others to test it. 64 pixels, 128 hidden units,
// 10 classes. A step is one function: loss, gradients and the update of all weights are one graph.
//
// Build: cc -O2 -I. examples/train_digits_mlp.c -o train_digits_mlp -lm -lpthread -ldl
// Run:   ./train_digits_mlp [digits.u8]     (default examples/data/digits.u8)
// Prints the loss of every third epoch, how many of the test's digits are right, and what the step became. Exit
// status 1 if less than 97 % are right, or if there are more programs than sizes of batches.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

#include <math.h>
#include <stdio.h>

enum { DIGITS = 1797, PIXELS = 64, RECORD = PIXELS + 1, TEST_EVERY = 4 };
enum { HIDDEN = 128, CLASSES = 10, BATCH = 40, EPOCHS = 30 };
enum { W1, B1, W2, B2, WEIGHTS };

typedef struct model {
    tc_tensor weight[WEIGHTS], average[WEIGHTS], square[WEIGHTS]; // of the gradients
    tc_tensor steps;                                              // made so far
    tc_tensor loss;                                               // summed over the epoch
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

static void shuffle(int64_t *x, int n) {
    static uint32_t seed = 1;
    for (int i = n - 1; i > 0; i--) {
        seed = seed * 1664525u + 1013904223u;
        int k = (int)((seed >> 8) % (uint32_t)(i + 1));
        int64_t swapped = x[i];
        x[i] = x[k], x[k] = swapped;
    }
}

static model make_model(tc_ctx *tc) {
    model m;
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
    return m;
}

// Pixels and labels of the digits `which`, of all the records.
static tc_tensor pixels(tc_tensor all, tc_tensor which) {
    tc_tensor x = tc_index_select(tc_narrow(all, 1, 0, PIXELS), 0, which);
    return tc_div_s(tc_to_f32(x), 16);
}

static tc_tensor labels(tc_tensor all, tc_tensor which) {
    return tc_to_i32(tc_index_select(tc_select(all, 1, PIXELS), 0, which));
}

static tc_tensor logits(const model *m, tc_tensor x) {
    tc_tensor hidden = tc_relu(tc_linear(x, m->weight[W1], m->weight[B1]));
    return tc_linear(hidden, m->weight[W2], m->weight[B2]);
}

// in: all records, those of the batch. out: its loss, summed up in the model too.
static void step(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    model *m = (model *)user;
    tc_tensor gradient[WEIGHTS];
    (void)tc;
    out[0] = tc_cross_entropy(logits(m, pixels(in[0], in[1])), labels(in[0], in[1]));
    tc_grad(out[0], m->weight, WEIGHTS, gradient);
    tc_adamw_list_(m->weight, gradient, m->average, m->square, WEIGHTS, m->steps, 3e-3, 0.9,
                   0.999, 1e-8, 1e-2);
    tc_add_(m->loss, out[0]);
}

// One pass over the digits `train`, in an order of its own; the last batch is smaller. The mean loss of a batch.
static double epoch(tc_ctx *tc, tc_fn *f, const model *m, tc_tensor all, int64_t *train,
                    int n) {
    int batches = 0;
    shuffle(train, n);
    tc_zero_(m->loss);
    for (int i = 0; i < n; i += BATCH, batches++) {
        tc_tensor in[2], loss;
        tc_scope_begin(tc);
        in[0] = all;
        in[1] = tc_wrap(tc, train + i, TC_DIMS(n - i < BATCH ? n - i : BATCH), TC_I64);
        tc_call(f, in, 2, &loss, 1);
        tc_scope_end(tc);
    }
    return tc_item(m->loss) / batches;
}

static int count_right(tc_ctx *tc, const model *m, tc_tensor all, tc_tensor which) {
    tc_trace_begin(tc, "test");
    tc_tensor said = tc_argmax(logits(m, pixels(all, which)), 1);
    tc_tensor n_right = tc_sum_all(tc_eq(said, labels(all, which)));
    tc_trace_end(tc);
    return (int)tc_item_i64(n_right);
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
    tc_manual_seed(tc, 1);
    model m = make_model(tc);
    tc_tensor all = tc_wrap(tc, records, TC_DIMS(DIGITS, RECORD), TC_U8);
    tc_tensor which = tc_wrap(tc, test, TC_DIMS(n_test), TC_I64);
    tc_fn *f = tc_compile(tc, step, &m, sizeof m, NULL);
    for (int i = 1; i <= EPOCHS; i++) {
        double loss = epoch(tc, f, &m, all, train, n);
        if (i % 3 == 0) printf("epoch %2d: loss %.4f\n", i, loss);
    }
    int right = count_right(tc, &m, all, which);
    tc_explanation made = tc_explain_counts(tc, "step");
    printf("%d of %d right (%.1f %%)\n", right, n_test, 100.0 * right / n_test);
    printf("a step is one program, of %d kernels; %d programs for batches of any size\n",
           made.programs ? made.kernels / made.programs : 0, made.programs);
    if (tc_error(tc)) fprintf(stderr, "error: %s\n", tc_error_text(tc));
    int ok = !tc_error(tc) && right >= 0.97 * n_test && made.programs <= 2;
    tc_fn_free(f);
    tc_close(tc);
    return !ok;
}
