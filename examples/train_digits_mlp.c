// Trains a network to read handwritten digits: 1347 of them, 450 others to test it. 64 pixels, 128 hidden units,
// 10 classes. A step is one function: loss, gradients and the update of all weights are one graph. The weights are a
// set of parameters, which is saved, and read again by another one.
//
// Build: cc -O2 -I. examples/train_digits_mlp.c -o train_digits_mlp -lpthread -ldl
// Run:   ./train_digits_mlp [digits.u8 [weights.safetensors [loss.svg]]]     (default examples/data/digits.u8, a file
//        that is removed at the end, and train_digits_mlp.svg, which stays: the loss as a curve)
// Prints the loss of every third epoch, the weights, how many of the test's digits are right, and what the step became.
// Exit status 1 if less than 97 % are right, if the weights that were read say anything else, or if there are more
// programs than sizes of batches.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

#include <stdint.h>
#include <stdio.h>

enum { DIGITS = 1797, PIXELS = 64, RECORD = PIXELS + 1, TEST_EVERY = 4 };
enum { HIDDEN = 128, CLASSES = 10, BATCH = 40, EPOCHS = 30 };
enum { WEIGHTS = 4 };

typedef struct model {
    tc_params *params, *state;         // what is learnt; what the optimiser keeps
    const tc_tensor *average, *square; //   of each gradient
    tc_tensor steps;                   //   and made so far
    tc_tensor loss;                    // summed over the epoch
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

static tc_params *make_params(tc_ctx *tc) {
    tc_params *p = tc_params_open(tc);
    tc_init relu = tc_init_kaiming_normal(TC_FAN_IN, tc_gain(TC_GAIN_RELU, 0));
    tc_param(p, "hidden.weight", TC_DIMS(HIDDEN, PIXELS), TC_F32, relu);
    tc_param(p, "hidden.bias", TC_DIMS(HIDDEN), TC_F32, tc_init_zeros());
    tc_param(p, "out.weight", TC_DIMS(CLASSES, HIDDEN), TC_F32, relu);
    tc_param(p, "out.bias", TC_DIMS(CLASSES), TC_F32, tc_init_zeros());
    return p;
}

static model make_model(tc_ctx *tc) {
    model m;
    m.params = make_params(tc), m.state = tc_params_open(tc);
    m.average = tc_params_state(m.params, m.state, "exp_avg");
    m.square = tc_params_state(m.params, m.state, "exp_avg_sq");
    m.steps = tc_param_buffer(m.state, "step", TC_SCALAR, TC_F32, tc_init_zeros());
    m.loss = tc_zeros(tc, TC_SCALAR, TC_F32);
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

static tc_tensor logits(const tc_params *p, tc_tensor x) {
    x = tc_linear(x, tc_params_find(p, "hidden.weight"), tc_params_find(p, "hidden.bias"));
    x = tc_relu(x);
    return tc_linear(x, tc_params_find(p, "out.weight"), tc_params_find(p, "out.bias"));
}

// in: all records, those of the batch. out: its loss, summed up in the model too.
static void step(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    model *m = (model *)user;
    const tc_tensor *weight;
    tc_tensor gradient[WEIGHTS];
    (void)tc;
    tc_params_list(m->params, &weight, NULL);
    out[0] =
        tc_cross_entropy(logits(m->params, pixels(in[0], in[1])), labels(in[0], in[1]));
    tc_grad(out[0], weight, WEIGHTS, gradient);
    tc_adamw_list_(weight, gradient, m->average, m->square, WEIGHTS, m->steps, 3e-3, 0.9,
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

static int count_right(tc_ctx *tc, const tc_params *p, tc_tensor all, tc_tensor which) {
    tc_trace_begin(tc, "test");
    tc_tensor said = tc_argmax(logits(p, pixels(all, which)), 1);
    tc_tensor n_right = tc_sum_all(tc_eq(said, labels(all, which)));
    tc_trace_end(tc);
    return (int)tc_item_i64(n_right);
}

// The same of weights that were saved, and read into a set that has others.
static int count_right_again(tc_ctx *tc, tc_params *p, const char *path, tc_tensor all,
                             tc_tensor which) {
    tc_params *read = make_params(tc);
    int right = -1;
    if (!tc_params_save(p, path) && !tc_params_load(read, path, 0))
        right = count_right(tc, read, all, which);
    tc_params_close(read);
    return right;
}

// The losses of the epochs as a curve, for a browser. 0 = the file cannot be written.
static int draw(const char *path, const double *loss, int n) {
    double most = loss[0];
    FILE *f = fopen(path, "w");
    if (!f) return 0;
    for (int i = 1; i < n; i++)
        if (loss[i] > most) most = loss[i];
    fprintf(f,
            "<svg xmlns='http://www.w3.org/2000/svg' viewBox='-50 -20 480 260' "
            "font-family='sans-serif' font-size='12'>\n"
            "<path d='M0 0V200H400' fill='none' stroke='gray'/>\n"
            "<text x='-6' y='4' text-anchor='end'>%.2f</text>\n"
            "<text x='-6' y='204' text-anchor='end'>0</text>\n"
            "<text x='400' y='220' text-anchor='end'>loss of %d epochs</text>\n"
            "<polyline fill='none' stroke='steelblue' stroke-width='2' points='",
            most, n);
    for (int i = 0; i < n; i++)
        fprintf(f, "%s%.1f,%.1f", i ? " " : "", 400.0 * i / (n - 1),
                200 - 200 * loss[i] / most);
    fputs("'/>\n</svg>\n", f);
    return !fclose(f);
}

int main(int argc, char **argv) {
    static int64_t train[DIGITS], test[DIGITS];
    const char *path = argc > 1 ? argv[1] : "examples/data/digits.u8";
    const char *saved = argc > 2 ? argv[2] : "train_digits_mlp.safetensors";
    const char *curve = argc > 3 ? argv[3] : "train_digits_mlp.svg";
    double loss[EPOCHS];
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
        loss[i - 1] = epoch(tc, f, &m, all, train, n);
        if (i % 3 == 0) printf("epoch %2d: loss %.4f\n", i, loss[i - 1]);
    }
    int drawn = draw(curve, loss, EPOCHS);
    printf("a curve of it: %s%s\n\n%s\n", curve, drawn ? "" : ", which cannot be written",
           tc_params_text(m.params));
    int right = count_right(tc, m.params, all, which);
    int again = count_right_again(tc, m.params, saved, all, which);
    if (argc <= 2) remove(saved);
    tc_explanation made = tc_explain_counts(tc, "step");
    printf("%d of %d right (%.1f %%), and %d with the weights that were saved and read\n",
           right, n_test, 100.0 * right / n_test, again);
    printf("a step is one program, of %d kernels; %d programs for batches of any size\n",
           made.programs ? made.kernels / made.programs : 0, made.programs);
    if (tc_error(tc)) fprintf(stderr, "error: %s\n", tc_error_text(tc));
    int ok =
        !tc_error(tc) && right >= 0.97 * n_test && again == right && made.programs <= 2;
    tc_fn_free(f);
    tc_close(tc);
    return !ok;
}
