// Training under the stances: what learns under TC_STANCE_DEFAULT learns with the same bits in the interpreter, op by
// op under TC_STANCE_FORCE_EAGER, and where a loop goes from one to the other; and that one compiles nothing.
#include "tcompile.h"

#include "harness.h"

#include "help.h"

enum { WIDE = 12, STEPS = 9, SEEN = STEPS * (1 + 2 * WIDE * WIDE) };

// What learns: two matrices with all that some of the steps need.
typedef struct learner {
    tc_ctx *tc;
    tc_tensor w[2], average[2], square[2], count;
    tc_tensor scale, shift, mean, var; // of a norm
    tc_grad_scaler scaler;
    tc_fn *inner, *outer;
    int cube; // a custom op
    int step;
} learner;

static learner now; // bodies have it, too

static tc_tensor numbers(tc_ctx *tc, int rows, int number) {
    static float x[WIDE * WIDE];
    for (int i = 0; i < rows * WIDE; i++)
        x[i] = (float)(0.4 * sin(0.7 * (i + 1) * (number + 1.3)));
    return tc_from_data(tc, x, TC_DIMS(rows, WIDE), TC_F32);
}

static tc_tensor hidden(tc_tensor x) { return tc_gelu(tc_matmul(x, now.w[0])); }
static tc_tensor score(tc_tensor h) {
    return tc_mean_all(tc_square(tc_matmul(h, now.w[1])));
}

static void descend(tc_tensor loss, double rate) {
    tc_tensor g[2];
    CHECK_EQ(tc_grad(loss, now.w, 2, g), TC_OK);
    for (int i = 0; i < 2; i++) tc_sgd_(now.w[i], g[i], tc_null(), rate, 0, 0, 0);
}

// ---- steps: each gives its loss ----

static tc_tensor whole(tc_tensor x) {
    tc_tensor h = hidden(x), grad[2];
    h = tc_batch_norm_running(h, now.mean, now.var, now.scale, now.shift, 0.1, 1e-5);
    tc_tensor y = tc_matmul(tc_dropout(tc_relu(h), 0.3), now.w[1]);
    tc_tensor loss = tc_cross_entropy(y, tc_argmax(x, 1));
    for (int i = 0; i < 2; i++) tc_zero_(grad[i] = tc_grad_of(now.w[i]));
    CHECK_EQ(tc_backward(loss), TC_OK);
    (void)tc_clip_grad_norm_(grad, 2, 1, 2);
    tc_adamw_list_(now.w, grad, now.average, now.square, 2, now.count, 0.01, 0.9, 0.99,
                   1e-8, 0.01);
    return loss;
}

static void call_inner(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_layer_norm(hidden(in[0]), tc_null(), tc_null(), 1e-5);
}
static void call_outer(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    tc_tensor h = tc_null();
    (void)tc, (void)user;
    CHECK_EQ(tc_call(now.inner, in, 1, &h, 1), TC_OK);
    descend(out[0] = score(h), 0.1);
}
static tc_tensor functions(tc_tensor x) {
    tc_tensor loss = tc_null();
    CHECK_EQ(tc_call(now.outer, &x, 1, &loss, 1), TC_OK);
    return loss;
}

static tc_tensor second(tc_tensor x) {
    tc_tensor loss = score(hidden(x)), g, turned, one = tc_ones_like(x);
    CHECK_EQ(tc_grad(loss, &x, 1, &g), TC_OK);
    CHECK_EQ(tc_jvp(loss, &x, &one, 1, &turned), TC_OK);
    loss = tc_add(loss, tc_add(tc_sum_all(tc_square(g)), turned));
    descend(loss, 0.1);
    return loss;
}

static tc_status cube_run(void *user, const tc_buffer *in, int n_in, const tc_buffer *out) {
    const float *x = (const float *)in->data;
    float *y = (float *)out->data;
    int64_t n = 1;
    (void)user, (void)n_in;
    for (int d = 0; d < in->spec.rank; d++) n *= in->spec.dims[d];
    for (int64_t i = 0; i < n; i++) y[i] = x[i] * x[i] * x[i];
    return TC_OK;
}
static tc_status cube_gradient(tc_ctx *tc, void *user, const tc_tensor *in, int n_in,
                               tc_tensor out, tc_tensor g, tc_tensor *grad) {
    (void)tc, (void)user, (void)n_in, (void)out;
    grad[0] = tc_mul(g, tc_mul_s(tc_square(in[0]), 3));
    return TC_OK;
}
static tc_tensor custom(tc_tensor x) {
    tc_tensor h = tc_add_s(hidden(x), 1), loss = score(tc_custom(now.tc, now.cube, &h, 1));
    descend(loss, 0.02);
    return loss;
}

static void turn(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    tc_tensor row = tc_unsqueeze(in[1], 0);
    (void)tc, (void)user;
    out[0] = tc_tanh(tc_add(tc_matmul(in[0], now.w[0]), row));
    out[1] = tc_matmul(out[0], now.w[1]);
}
static tc_tensor scan(tc_tensor x) {
    tc_tensor h = tc_zeros(now.tc, TC_DIMS(1, WIDE), TC_F32), last, y;
    CHECK_EQ(tc_scan(turn, NULL, &h, 1, &x, 1, &last, &y, 1), TC_OK);
    tc_tensor loss = tc_add(tc_mean_all(tc_square(y)), tc_mean_all(last));
    descend(loss, 0.1);
    return loss;
}

static void layer(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_add(in[0], tc_dropout(hidden(in[0]), 0.2));
}
static tc_tensor checkpoints(tc_tensor x) {
    for (int i = 0; i < 2; i++)
        CHECK_EQ(tc_checkpoint(now.tc, layer, NULL, &x, 1, &x, 1), TC_OK);
    tc_tensor loss = score(x);
    descend(loss, 0.1);
    return loss;
}

static tc_tensor breaks(tc_tensor x) {
    tc_tensor h = tc_dropout(hidden(x), 0.2);
    double most = tc_item(tc_amax_all(h));
    tc_tensor loss = score(h);
    if (most > 0.25) loss = tc_mul_s(loss, 2);
    descend(loss, tc_item(loss) > 0.02 ? 0.2 : 0.1);
    return loss;
}

static tc_tensor mixed(tc_tensor x) {
    const tc_grad_scaler *s = &now.scaler;
    tc_tensor g[2];
    tc_autocast_begin(now.tc, TC_F16);
    tc_tensor loss = tc_to_f32(score(tc_softmax(hidden(x), -1)));
    tc_autocast_end(now.tc);
    if (now.step == 4) loss = tc_mul_s(loss, 1e30); // it overflows, and is skipped
    CHECK_EQ(tc_grad(tc_grad_scaler_scale(s, loss), now.w, 2, g), TC_OK);
    tc_grad_scaler_unscale_(s, g, 2);
    tc_grad_scaler_step_begin(s);
    tc_adam_list_(now.w, g, now.average, now.square, 2, now.count, 0.01, 0.9, 0.99, 1e-8,
                  0);
    tc_grad_scaler_step_end(s);
    tc_grad_scaler_update(s);
    return loss;
}

static const struct {
    const char *name;
    tc_tensor (*step)(tc_tensor x);
    int alone; // it opens no region: its function is called outside of any
    int budget;
} lessons[] = {
    {"whole", whole, 0, 0},         {"whole, on a budget", whole, 0, 50},
    {"functions", functions, 1, 0}, {"functions in a region", functions, 0, 0},
    {"second", second, 0, 0},       {"custom", custom, 0, 0},
    {"scan", scan, 0, 0},           {"checkpoints", checkpoints, 0, 0},
    {"breaks", breaks, 0, 0},       {"mixed", mixed, 0, 0},
};

// ---- a course ----

static void begin(const char *backend) {
    memset(&now, 0, sizeof now);
    tc_ctx *tc = now.tc = open_backend(backend);
    tc_custom_op op;
    memset(&op, 0, sizeof op);
    op.name = "cube", op.run = cube_run, op.gradient = cube_gradient;
    now.cube = tc_register_op(tc, &op);
    for (int i = 0; i < 2; i++) {
        now.w[i] = numbers(tc, WIDE, 5 + i);
        now.average[i] = tc_zeros_like(now.w[i]), now.square[i] = tc_zeros_like(now.w[i]);
        tc_requires_grad(now.w[i], 1);
    }
    now.count = tc_zeros(tc, TC_SCALAR, TC_F32);
    now.mean = tc_zeros(tc, TC_DIMS(WIDE), TC_F32);
    now.var = tc_ones(tc, TC_DIMS(WIDE), TC_F32);
    now.scale = tc_ones(tc, TC_DIMS(WIDE), TC_F32);
    now.shift = tc_zeros(tc, TC_DIMS(WIDE), TC_F32);
    tc_grad_scaler_init(tc, &now.scaler, 1024);
    now.inner = tc_compile(tc, call_inner, NULL, 0, NULL);
    now.outer = tc_compile(tc, call_outer, NULL, 0, NULL);
    tc_manual_seed(tc, 7);
}

// Losses and weights of all steps; stances[i] is that of step i, and again from the last one's end on.
static void learn(size_t lesson, const char *backend, const char *stances, float *seen) {
    static const int rows[] = {8, 8, 11, 9};
    begin(backend);
    tc_options o = tc_options_default();
    o.memory_budget = lessons[lesson].budget, o.recompile_limit = 64;
    o.round_each_op = 1; // else halves are rounded where a kernel ends
    for (int i = 0; i < STEPS; i++) {
        tc_tensor x = numbers(now.tc, rows[i % 4], i);
        size_t of = strlen(stances);
        now.step = i;
        tc_set_stance(now.tc, (tc_stance)(stances[(size_t)i % of] - '0'));
        if (!lessons[lesson].alone) tc_trace_begin_with(now.tc, lessons[lesson].name, &o);
        tc_tensor loss = lessons[lesson].step(x);
        if (!lessons[lesson].alone) CHECK_EQ(tc_trace_end(now.tc), TC_OK);
        CHECK_EQ(tc_read(loss, seen++, sizeof *seen), TC_OK);
        for (int k = 0; k < 2; k++, seen += WIDE * WIDE)
            CHECK_EQ(tc_read(now.w[k], seen, WIDE * WIDE * sizeof *seen), TC_OK);
    }
    if (tc_error(now.tc)) FAIL("%s: %s", lessons[lesson].name, tc_error_text(now.tc));
}

// Its end, and what it did.
static tc_stats finish(void) {
    tc_wait_compiled(now.tc);
    tc_stats s = tc_stats_get(now.tc);
    tc_close(now.tc);
    return s;
}

// Each step changes what is learnt, but for the one that overflows.
static int changes(const float *seen) {
    int n = 0;
    for (int i = 1; i < STEPS; i++) {
        const float *at = seen + i * (SEEN / STEPS);
        n += memcmp(at + 1, at + 1 - SEEN / STEPS, 2 * WIDE * WIDE * sizeof *at) != 0;
    }
    return n;
}

// By step, again and again: 0 default, 1 force_eager, 2 eager_on_recompile, 4 eager_then_compile.
static const char *const courses[] = {"1", "0011", "2", "01", "10", "110", "012", "4421"};

static void check(const char *backend) {
    static float want[SEEN], got[SEEN];
    for (size_t k = 0; k < sizeof lessons / sizeof *lessons; k++) {
        learn(k, backend, "0", want);
        tc_stats s = finish();
        CHECK_EQ(changes(want), lessons[k].step == mixed ? STEPS - 2 : STEPS - 1);
        CHECK_EQ(s.compiles > 0, !strcmp(backend, "cpu"));
        for (size_t i = 0; i < sizeof courses / sizeof *courses; i++) {
            if (i > 2 && !test_all()) break; // of ./build.sh test all
            learn(k, backend, courses[i], got);
            s = finish();
            if (memcmp(want, got, sizeof want))
                FAIL("%s, stances %s: other bits", lessons[k].name, courses[i]);
            if (strcmp(courses[i], "1")) continue;
            CHECK_EQ(s.compiles + s.disk_hits + s.memory_hits + s.kernels_made, 0);
            CHECK_EQ(s.skips, 0);
        }
    }
}

TEST(the_same_bits_interp) { check("aot_eager"); }
TEST(the_same_bits_cpu) { check("cpu"); }

// Back and forth makes each program once: what was compiled is there again, and so is what is not.
TEST(programs_stay) {
    static float seen[SEEN];
    uint64_t alone[2];
    for (int forced = 0; forced < 2; forced++) {
        learn(0, "cpu", forced ? "1" : "0", seen);
        alone[forced] = finish().programs;
    }
    learn(0, "cpu", "0011", seen); // both see all sizes
    CHECK(finish().programs <= alone[0] + alone[1]);
}
