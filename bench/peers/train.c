// Our side of the training steps; bench/peers/train.sh builds and runs it in turn with train.py. Prints `name
// nanoseconds` per workload, medians of this process; 2 threads. A step is one region: loss, gradients, for char_gpt
// their norm clipped, and AdamW of all parameters.
#define main char_gpt_main
#include "../../examples/char_gpt.c"
#undef main

#include "../bench.h"

enum { THREADS = 2 };

// ---- the network of examples/train_digits_mlp.c ----

enum { DIGITS = 1797, PIXELS = 64, HIDDEN = 128, CLASSES = 10, DIGITS_BATCH = 40 };
enum { W1, B1, W2, B2, MLP_WEIGHTS };

typedef struct digits {
    tc_tensor weight[MLP_WEIGHTS], average[MLP_WEIGHTS], square[MLP_WEIGHTS];
    tc_tensor steps, pixels, labels, which;
} digits;

static tc_tensor whole_numbers(tc_ctx *tc, tc_dims dims, double limit, tc_dtype dtype) {
    return tc_cast(tc_floor(tc_mul_s(tc_rand(tc, dims, TC_F32), limit)), dtype);
}

static digits digits_open(tc_ctx *tc) {
    digits d;
    d.weight[W1] = tc_mul_s(tc_randn(tc, TC_DIMS(HIDDEN, PIXELS), TC_F32), 0.2);
    d.weight[B1] = tc_zeros(tc, TC_DIMS(HIDDEN), TC_F32);
    d.weight[W2] = tc_mul_s(tc_randn(tc, TC_DIMS(CLASSES, HIDDEN), TC_F32), 0.1);
    d.weight[B2] = tc_zeros(tc, TC_DIMS(CLASSES), TC_F32);
    for (int i = 0; i < MLP_WEIGHTS; i++) {
        d.average[i] = tc_zeros_like(d.weight[i]);
        d.square[i] = tc_zeros_like(d.weight[i]);
    }
    d.steps = tc_zeros(tc, TC_SCALAR, TC_F32);
    d.pixels = whole_numbers(tc, TC_DIMS(DIGITS, PIXELS), 17, TC_U8);
    d.labels = whole_numbers(tc, TC_DIMS(DIGITS), 10, TC_U8);
    d.which = whole_numbers(tc, TC_DIMS(DIGITS_BATCH), DIGITS, TC_I64);
    return d;
}

static void digits_step(tc_ctx *tc, void *user) {
    const digits *d = (const digits *)user;
    tc_tensor gradient[MLP_WEIGHTS];
    tc_trace_begin(tc, "digits_mlp");
    tc_tensor x = tc_index_select(d->pixels, 0, d->which);
    tc_tensor y = tc_to_i32(tc_index_select(d->labels, 0, d->which));
    x = tc_div_s(tc_to_f32(x), 16);
    x = tc_relu(tc_linear(x, d->weight[W1], d->weight[B1]));
    tc_tensor loss = tc_cross_entropy(tc_linear(x, d->weight[W2], d->weight[B2]), y);
    tc_grad(loss, d->weight, MLP_WEIGHTS, gradient);
    tc_adamw_list_(d->weight, gradient, d->average, d->square, MLP_WEIGHTS, d->steps, 3e-3,
                   0.9, 0.999, 1e-8, 1e-2);
    tc_trace_end(tc);
}

// ---- examples/char_gpt.c ----

typedef struct gpt {
    model m;
    tc_tensor batch;
} gpt;

enum { KINDS = 96 };

static gpt gpt_open(tc_ctx *tc) {
    gpt g;
    g.m = make_model(tc, KINDS);
    g.batch = whole_numbers(tc, TC_DIMS(BATCH, CONTEXT + 1), KINDS, TC_I32);
    return g;
}

static void gpt_step(tc_ctx *tc, void *user) {
    const gpt *g = (const gpt *)user;
    step(tc, &g->m, g->batch, 1e-3, 0);
}

// ---- an LSTM of 128 steps: loss and gradients, a loop of the program ----

enum { LSTM_STEPS = 128, LSTM_BATCH = 32, LSTM_INPUT = 64, LSTM_HIDDEN = 128 };
enum { OF_INPUT, OF_STATE, GATE_BIAS, LSTM_WEIGHTS };

typedef struct lstm {
    tc_tensor weight[LSTM_WEIGHTS], x, zeros;
} lstm;

static tc_tensor within(tc_ctx *tc, tc_dims dims, double limit) {
    return tc_mul_s(tc_sub_s(tc_rand(tc, dims, TC_F32), 0.5), 2 * limit);
}

static lstm lstm_open(tc_ctx *tc) {
    lstm l;
    double limit = 1 / sqrt(LSTM_HIDDEN);
    l.weight[OF_INPUT] = within(tc, TC_DIMS(LSTM_INPUT, 4 * LSTM_HIDDEN), limit);
    l.weight[OF_STATE] = within(tc, TC_DIMS(LSTM_HIDDEN, 4 * LSTM_HIDDEN), limit);
    l.weight[GATE_BIAS] = within(tc, TC_DIMS(4 * LSTM_HIDDEN), limit);
    l.x = tc_rand(tc, TC_DIMS(LSTM_STEPS, LSTM_BATCH, LSTM_INPUT), TC_F32);
    l.zeros = tc_zeros(tc, TC_DIMS(LSTM_BATCH, LSTM_HIDDEN), TC_F32);
    return l;
}

static tc_tensor lstm_gate(tc_tensor gates, int number) {
    return tc_narrow(gates, 1, number * LSTM_HIDDEN, LSTM_HIDDEN);
}

static void lstm_cell(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    const lstm *l = (const lstm *)user;
    (void)tc;
    tc_tensor gates = tc_add(tc_matmul(in[0], l->weight[OF_STATE]), in[2]);
    tc_tensor keep = tc_mul(tc_sigmoid(lstm_gate(gates, 1)), in[1]);
    tc_tensor come = tc_mul(tc_sigmoid(lstm_gate(gates, 0)), tc_tanh(lstm_gate(gates, 2)));
    out[1] = tc_add(keep, come);
    out[0] = out[2] = tc_mul(tc_sigmoid(lstm_gate(gates, 3)), tc_tanh(out[1]));
}

static void lstm_step(tc_ctx *tc, void *user) {
    lstm *l = (lstm *)user;
    tc_tensor gradient[LSTM_WEIGHTS], first[2] = {l->zeros, l->zeros}, last[2], y;
    tc_trace_begin(tc, "lstm");
    tc_tensor x = tc_add(tc_matmul(l->x, l->weight[OF_INPUT]), l->weight[GATE_BIAS]);
    tc_scan(lstm_cell, l, first, 2, &x, 1, last, &y, 1);
    tc_tensor loss = tc_mean_all(tc_square(y));
    tc_grad(loss, l->weight, LSTM_WEIGHTS, gradient);
    for (int i = 0; i < LSTM_WEIGHTS; i++) tc_keep(gradient[i]);
    tc_trace_end(tc);
    for (int i = 0; i < LSTM_WEIGHTS; i++) tc_free(gradient[i]);
}

// ---- what is measured ----

static const struct {
    const char *name;
    void (*step)(tc_ctx *tc, void *user);
} jobs[] = {
    {"digits_mlp_b40_f32", digits_step},
    {"char_gpt_16x128_f32", gpt_step},
    {"lstm_128x32x128_f32", lstm_step},
};

typedef struct call {
    tc_ctx *tc;
    void *user;
    size_t job;
} call;

static void run(void *user) {
    const call *c = (const call *)user;
    jobs[c->job].step(c->tc, c->user);
}

static int is_wanted(const char *name, int argc, char **argv) {
    int wanted = argc == 1;
    for (int a = 1; a < argc; a++) wanted |= !strncmp(name, argv[a], strlen(argv[a]));
    return wanted;
}

// One step under the profiler, and what it became.
static void explain(call *c) {
    for (int i = 0; i < 3; i++) run(c);
    tc_profile_begin(c->tc);
    for (int i = 0; i < 20; i++) run(c);
    tc_profile_end(c->tc);
    printf("%s\n%s\n", tc_profile_text(c->tc), tc_explain(c->tc));
}

// Arguments: workloads, by the beginnings of their names; none = all. `--explain NAME` prints the profile.
int main(int argc, char **argv) {
    int explains = argc > 2 && !strcmp(argv[1], "--explain");
    tc_ctx *tc = bench_open(THREADS);
    tc_manual_seed(tc, 1);
    digits d = digits_open(tc);
    gpt g = gpt_open(tc);
    lstm l = lstm_open(tc);
    void *const user[] = {&d, &g, &l};
    for (size_t i = 0; i < sizeof jobs / sizeof jobs[0]; i++) {
        if (!is_wanted(jobs[i].name, argc, argv)) continue;
        call c = {tc, user[i], i};
        bench_side side = {run, &c, 0};
        double first = bench_ns();
        run(&c);
        first = bench_ns() - first;
        if (explains)
            explain(&c);
        else
            bench_interleave(&side, 1, BENCH_ROUNDS);
        bench_check(tc);
        if (!explains) printf("%s %.0f %.0f\n", jobs[i].name, side.ns, first);
        fflush(stdout);
    }
    tc_close(tc);
    return 0;
}
