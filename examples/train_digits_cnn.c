// Trains a convolutional network to read handwritten digits: 1347 of them, 450 others to test it. Two convolutions
// of 3x3, each halved by max_pool, and a linear layer: [1, 8, 8] -> [16, 4, 4] -> [32, 2, 2] -> [10].
//
// Build: cc -O2 -I. examples/train_digits_cnn.c -o train_digits_cnn -lm -lpthread -ldl
// Run:   ./train_digits_cnn [digits.u8]     (default examples/data/digits.u8)
// Prints the loss of each epoch, how many of the test's digits are right, and what the step became. Exit status 1 if
// less than 98 % are right, or if a step is not one program.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { DIGITS = 1797, SIDE = 8, PIXELS = 64, RECORD = PIXELS + 1, TEST_EVERY = 4 };
enum { C1 = 16, C2 = 32, FLAT = C2 * 4, CLASSES = 10, BATCH = 32, EPOCHS = 12 };
enum { CONV1, BIAS1, CONV2, BIAS2, OUT, BIAS, WEIGHTS };

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

// Numbers whose products with `inputs` numbers are as large as these.
static tc_tensor random_weight(tc_ctx *tc, tc_dims dims, int inputs) {
    return tc_mul_s_(tc_randn(tc, dims, TC_F32), sqrt(2.0 / inputs));
}

static model make_model(tc_ctx *tc) {
    model m;
    m.weight[CONV1] = random_weight(tc, TC_DIMS(C1, 1, 3, 3), 9);
    m.weight[BIAS1] = tc_zeros(tc, TC_DIMS(C1), TC_F32);
    m.weight[CONV2] = random_weight(tc, TC_DIMS(C2, C1, 3, 3), C1 * 9);
    m.weight[BIAS2] = tc_zeros(tc, TC_DIMS(C2), TC_F32);
    m.weight[OUT] = random_weight(tc, TC_DIMS(CLASSES, FLAT), FLAT);
    m.weight[BIAS] = tc_zeros(tc, TC_DIMS(CLASSES), TC_F32);
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
    return tc_reshape(tc_div_s(tc_to_f32(x), 16), TC_DIMS(-1, 1, SIDE, SIDE));
}

static tc_tensor labels(tc_tensor all, tc_tensor which) {
    return tc_to_i32(tc_index_select(tc_select(all, 1, PIXELS), 0, which));
}

static tc_tensor layer(tc_tensor x, tc_tensor weight, tc_tensor bias) {
    return tc_max_pool2d(tc_relu(tc_conv2d(x, weight, bias, 1, 1, 1, 1)), 2, 0, 0);
}

static tc_tensor logits(const model *m, tc_tensor x) {
    x = layer(x, m->weight[CONV1], m->weight[BIAS1]);
    x = layer(x, m->weight[CONV2], m->weight[BIAS2]);
    return tc_linear(tc_flatten(x, 1, -1), m->weight[OUT], m->weight[BIAS]);
}

// Loss, gradients and the update of all weights: one graph, that writes in place.
static void step(tc_ctx *tc, const model *m, tc_tensor all, tc_tensor which, double lr) {
    tc_tensor gradient[WEIGHTS];
    tc_trace_begin(tc, "step");
    tc_tensor loss = tc_cross_entropy(logits(m, pixels(all, which)), labels(all, which));
    tc_grad(loss, m->weight, WEIGHTS, gradient);
    tc_adamw_list_(m->weight, gradient, m->average, m->square, WEIGHTS, m->steps, lr, 0.9,
                   0.999, 1e-8, 1e-2);
    tc_add_(m->loss, loss);
    tc_trace_end(tc);
}

// One pass over the digits `train`, in an order of its own, without the few that fill no batch. The mean loss.
static double epoch(tc_ctx *tc, const model *m, tc_tensor all, int64_t *train, int n,
                    double lr) {
    static int64_t batch[BATCH];
    tc_tensor which = tc_wrap(tc, batch, TC_DIMS(BATCH), TC_I64);
    int batches = n / BATCH;
    shuffle(train, n);
    tc_zero_(m->loss);
    for (int i = 0; i < batches; i++) {
        memcpy(batch, train + i * BATCH, sizeof batch);
        step(tc, m, all, which, lr);
    }
    tc_free(which);
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
    for (int i = 0; i < EPOCHS; i++) {
        // Less and less: a number that changes is an argument of the program.
        double lr = 5e-3 * (1 - (double)i / EPOCHS);
        printf("epoch %2d: loss %.4f\n", i + 1, epoch(tc, &m, all, train, n, lr));
    }
    int right = count_right(tc, &m, all, which);
    tc_explanation made = tc_explain_counts(tc, "step");
    printf("%d of %d right (%.1f %%)\n", right, n_test, 100.0 * right / n_test);
    printf(
        "a step is one program, of %d kernels; %d programs: one had the first rate compiled "
        "in\n",
        made.programs ? made.kernels / made.programs : 0, made.programs);
    if (tc_error(tc)) fprintf(stderr, "error: %s\n", tc_error_text(tc));
    int ok = !tc_error(tc) && right >= 0.98 * n_test && made.programs <= 2;
    tc_close(tc);
    return !ok;
}
