// Trains a convolutional network to read handwritten digits: 1347 of them, 450 others to test it. Two convolutions
// of 3x3, each normalised and halved by max_pool, and a linear layer: [1, 8, 8] -> [16, 4, 4] -> [32, 2, 2] -> [10].
// A quarter of what it gets is dropped out. Batch norm and dropout follow tc_training, which the test has off.
//
// Build: cc -O2 -I. examples/train_digits_cnn.c -o train_digits_cnn -lpthread -ldl
// Run:   ./train_digits_cnn [digits.u8 [weights.safetensors [loss.svg]]]     (default examples/data/digits.u8, a file
//        that is removed at the end, and train_digits_cnn.svg, which stays: the loss as a curve)
// Prints the loss of each epoch, the parameters, how many of the test's digits are right, and what the step became.
// The test is made with parameters that were saved and read again. Exit status 1 if less than 98 % are right, or if a
// step is not one program.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { DIGITS = 1797, SIDE = 8, PIXELS = 64, RECORD = PIXELS + 1, TEST_EVERY = 4 };
enum { C1 = 16, C2 = 32, FLAT = C2 * 4, CLASSES = 10, BATCH = 32, EPOCHS = 12 };
enum { CONV1, CONV2, LAYERS, WEIGHTS = 3 * LAYERS + 2 };

// A convolution and the batch norm behind it.
typedef struct layer {
    tc_tensor weight, scale, shift, mean, var;
} layer;

typedef struct model {
    tc_params *params, *state; // what is learnt; what the optimiser keeps
    layer at[LAYERS];          //   of params
    tc_tensor weight, bias;    //   and of its last layer
    const tc_tensor *average, *square;
    tc_tensor steps; // made so far
    tc_tensor loss;  // summed over the epoch
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

static tc_init for_relu(void) {
    return tc_init_kaiming_normal(TC_FAN_IN, tc_gain(TC_GAIN_RELU, 0));
}

// Parameter "name.part".
static tc_tensor part(tc_params *p, const char *name, const char *of, tc_dims dims,
                      tc_init init) {
    char full[64];
    snprintf(full, sizeof full, "%s.%s", name, of);
    return tc_param(p, full, dims, TC_F32, init);
}

static tc_tensor statistic(tc_params *p, const char *name, const char *of, int n,
                           tc_init init) {
    char full[64];
    snprintf(full, sizeof full, "%s.%s", name, of);
    return tc_param_buffer(p, full, TC_DIMS(n), TC_F32, init);
}

// Without a bias, which batch norm would take away.
static layer make_layer(tc_params *p, const char *name, int in, int out) {
    layer l;
    l.weight = part(p, name, "conv.weight", TC_DIMS(out, in, 3, 3), for_relu());
    l.scale = part(p, name, "norm.weight", TC_DIMS(out), tc_init_ones());
    l.shift = part(p, name, "norm.bias", TC_DIMS(out), tc_init_zeros());
    l.mean = statistic(p, name, "norm.running_mean", out, tc_init_zeros());
    l.var = statistic(p, name, "norm.running_var", out, tc_init_ones());
    return l;
}

static model make_model(tc_ctx *tc) {
    model m;
    m.params = tc_params_open(tc), m.state = tc_params_open(tc);
    m.at[CONV1] = make_layer(m.params, "layer1", 1, C1);
    m.at[CONV2] = make_layer(m.params, "layer2", C1, C2);
    m.weight = part(m.params, "out", "weight", TC_DIMS(CLASSES, FLAT), for_relu());
    m.bias = part(m.params, "out", "bias", TC_DIMS(CLASSES), tc_init_zeros());
    m.average = tc_params_state(m.params, m.state, "exp_avg");
    m.square = tc_params_state(m.params, m.state, "exp_avg_sq");
    m.steps = tc_param_buffer(m.state, "step", TC_SCALAR, TC_F32, tc_init_zeros());
    m.loss = tc_zeros(tc, TC_SCALAR, TC_F32);
    return m;
}

static void free_model(const model *m) {
    tc_params_close(m->params), tc_params_close(m->state);
    tc_free(m->loss);
}

// Pixels and labels of the digits `which`, of all the records.
static tc_tensor pixels(tc_tensor all, tc_tensor which) {
    tc_tensor x = tc_index_select(tc_narrow(all, 1, 0, PIXELS), 0, which);
    return tc_reshape(tc_div_s(tc_to_f32(x), 16), TC_DIMS(-1, 1, SIDE, SIDE));
}

static tc_tensor labels(tc_tensor all, tc_tensor which) {
    return tc_to_i32(tc_index_select(tc_select(all, 1, PIXELS), 0, which));
}

static tc_tensor through(const layer *l, tc_tensor x) {
    x = tc_conv2d(x, l->weight, tc_null(), 1, 1, 1, 1);
    x = tc_batch_norm_running(x, l->mean, l->var, l->scale, l->shift, 0.1, 1e-5);
    return tc_max_pool2d(tc_relu(x), 2, 0, 0);
}

static tc_tensor logits(const model *m, tc_tensor x) {
    for (int i = 0; i < LAYERS; i++) x = through(&m->at[i], x);
    x = tc_dropout(tc_flatten(x, 1, -1), 0.25);
    return tc_linear(x, m->weight, m->bias);
}

// Loss, gradients and the update of all weights: one graph, that writes in place.
static void step(tc_ctx *tc, const model *m, tc_tensor all, tc_tensor which, double lr) {
    const tc_tensor *weight;
    tc_tensor gradient[WEIGHTS];
    tc_params_list(m->params, &weight, NULL);
    tc_trace_begin(tc, "step");
    tc_tensor loss = tc_cross_entropy(logits(m, pixels(all, which)), labels(all, which));
    tc_grad(loss, weight, WEIGHTS, gradient);
    tc_adamw_list_(weight, gradient, m->average, m->square, WEIGHTS, m->steps, lr, 0.9,
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

// Of the digits `which`, by parameters that are saved, and read into a model that has others.
static int count_right(tc_ctx *tc, const model *m, const char *path, tc_tensor all,
                       tc_tensor which) {
    model read = make_model(tc);
    int right = -1;
    if (!tc_params_save(m->params, path) && !tc_params_load(read.params, path, 0)) {
        tc_training(tc, 0);
        tc_trace_begin(tc, "test");
        tc_tensor said = tc_argmax(logits(&read, pixels(all, which)), 1);
        tc_tensor n_right = tc_sum_all(tc_eq(said, labels(all, which)));
        tc_trace_end(tc);
        tc_training(tc, 1);
        right = (int)tc_item_i64(n_right);
    }
    free_model(&read);
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
    const char *saved = argc > 2 ? argv[2] : "train_digits_cnn.safetensors";
    const char *curve = argc > 3 ? argv[3] : "train_digits_cnn.svg";
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
    for (int i = 0; i < EPOCHS; i++) {
        // Less and less: a number that changes is an argument of the program.
        double lr = 5e-3 * (1 - (double)i / EPOCHS);
        loss[i] = epoch(tc, &m, all, train, n, lr);
        printf("epoch %2d: loss %.4f\n", i + 1, loss[i]);
    }
    int drawn = draw(curve, loss, EPOCHS);
    printf("a curve of it: %s%s\n\n%s\n", curve, drawn ? "" : ", which cannot be written",
           tc_params_text(m.params));
    int right = count_right(tc, &m, saved, all, which);
    if (argc <= 2) remove(saved);
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
