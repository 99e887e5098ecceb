// An LSTM that reads handwritten digits row by row: 8 steps of 8 pixels. tc_scan makes the steps a loop of the program:
// its size does not depend on how many there are, and a test that reads fewer rows runs the program of all rows.
//
// Build: cc -O2 -I. examples/lstm.c -o lstm -lm -lpthread -ldl
// Run:   ./lstm [digits.u8]     (default examples/data/digits.u8)
// Prints the loss of each epoch, how many of the test's digits are right after so many rows, and what a step became.
// Exit status 1 if less than 97 % are right, or if the step is not one program of few kernels.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { DIGITS = 1797, SIDE = 8, PIXELS = 64, RECORD = PIXELS + 1, TEST_EVERY = 4 };
enum { HIDDEN = 48, GATES = 4 * HIDDEN, CLASSES = 10, BATCH = 32, EPOCHS = 12 };
enum { INPUT, STATE, BIAS, OUT, OUT_BIAS, WEIGHTS };

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

static tc_tensor random_weight(tc_ctx *tc, int64_t rows, int64_t cols) {
    return tc_mul_s_(tc_randn(tc, TC_DIMS(rows, cols), TC_F32), sqrt(1.0 / (double)rows));
}

static model make_model(tc_ctx *tc) {
    model m;
    m.weight[INPUT] = random_weight(tc, SIDE, GATES);
    m.weight[STATE] = random_weight(tc, HIDDEN, GATES);
    m.weight[BIAS] = tc_zeros(tc, TC_DIMS(GATES), TC_F32);
    m.weight[OUT] = random_weight(tc, HIDDEN, CLASSES);
    m.weight[OUT_BIAS] = tc_zeros(tc, TC_DIMS(CLASSES), TC_F32);
    tc_fill_(tc_narrow(m.weight[BIAS], 0, HIDDEN, HIDDEN), 1); // remembers at first
    for (int i = 0; i < WEIGHTS; i++) {
        m.average[i] = tc_zeros_like(m.weight[i]);
        m.square[i] = tc_zeros_like(m.weight[i]);
    }
    m.steps = tc_zeros(tc, TC_SCALAR, TC_F32), m.loss = tc_zeros(tc, TC_SCALAR, TC_F32);
    return m;
}

static tc_tensor gate(tc_tensor gates, int number) {
    return tc_narrow(gates, 1, number * HIDDEN, HIDDEN);
}

// One step. in: h and c [batch, hidden], what the input makes of the gates [batch, 4 hidden]; out: h, c.
static void cell(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    const model *m = (const model *)user;
    (void)tc;
    tc_tensor gates = tc_add(tc_matmul(in[0], m->weight[STATE]), in[2]);
    tc_tensor keep = tc_mul(tc_sigmoid(gate(gates, 1)), in[1]);
    tc_tensor come = tc_mul(tc_sigmoid(gate(gates, 0)), tc_tanh(gate(gates, 2)));
    out[1] = tc_add(keep, come);
    out[0] = tc_mul(tc_sigmoid(gate(gates, 3)), tc_tanh(out[1]));
}

// Of the digits `which`, from their first `rows` rows.
static tc_tensor logits(tc_ctx *tc, const model *m, tc_tensor all, tc_tensor which,
                        int rows) {
    tc_tensor x = tc_index_select(tc_narrow(all, 1, 0, rows * SIDE), 0, which);
    int64_t n = tc_numel(which);
    x = tc_reshape(tc_div_s(tc_to_f32(x), 16), TC_DIMS(n, rows, SIDE));
    x = tc_permute(x, TC_DIMS(1, 0, 2)); // [rows, n, pixels]: a step for each
    x = tc_add(tc_matmul(x, m->weight[INPUT]), m->weight[BIAS]);
    tc_tensor zeros = tc_zeros(tc, TC_DIMS(n, HIDDEN), TC_F32);
    tc_tensor first[2] = {zeros, zeros}, last[2];
    tc_scan(cell, (void *)m, first, 2, &x, 1, last, NULL, 0);
    return tc_add(tc_matmul(last[0], m->weight[OUT]), m->weight[OUT_BIAS]);
}

static tc_tensor labels(tc_tensor all, tc_tensor which) {
    return tc_to_i32(tc_index_select(tc_select(all, 1, PIXELS), 0, which));
}

// Loss, gradients through all steps, and the update of all weights: one graph, that writes in place.
static void step(tc_ctx *tc, const model *m, tc_tensor all, tc_tensor which, double lr) {
    tc_tensor gradient[WEIGHTS];
    tc_trace_begin(tc, "step");
    tc_tensor y = logits(tc, m, all, which, SIDE);
    tc_tensor loss = tc_cross_entropy(y, labels(all, which));
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

static int count_right(tc_ctx *tc, const model *m, tc_tensor all, tc_tensor which,
                       int rows) {
    tc_trace_begin(tc, "test");
    tc_tensor said = tc_argmax(logits(tc, m, all, which, rows), 1);
    tc_tensor n_right = tc_sum_all(tc_eq(said, labels(all, which)));
    tc_trace_end(tc);
    return (int)tc_item_i64(n_right);
}

int main(int argc, char **argv) {
    static int64_t train[DIGITS], test[DIGITS];
    const char *path = argc > 1 ? argv[1] : "examples/data/digits.u8";
    int n_test, right = 0, n = split(train, test, &n_test);
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
        double lr = 1e-2 * (1 - (double)i / EPOCHS);
        printf("epoch %2d: loss %.4f\n", i + 1, epoch(tc, &m, all, train, n, lr));
    }
    for (int rows = 5; rows <= SIDE; rows++) {
        right = count_right(tc, &m, all, which, rows);
        printf("after %d rows %d of %d right (%.1f %%)\n", rows, right, n_test,
               100.0 * right / n_test);
    }
    tc_explanation made = tc_explain_counts(tc, "step"),
                   tested = tc_explain_counts(tc, "test");
    int kernels = made.programs ? made.kernels / made.programs : 0;
    printf("a step is one program, of %d kernels; %d programs for %d lengths of the test\n",
           kernels, tested.programs, SIDE - 4);
    if (tc_error(tc)) fprintf(stderr, "error: %s\n", tc_error_text(tc));
    int ok =
        !tc_error(tc) && right >= 0.97 * n_test && kernels <= 24 && tested.programs <= 2;
    tc_close(tc);
    return !ok;
}
