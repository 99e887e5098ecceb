// Steps of optimisers against torch.optim's formulas in double.
#include "tcompile.h"

#include "harness.h"

#include "help.h"

enum { LIST = 3, STEPS = 5, MOST = 12 };

static const int count[LIST] = {4, 12, 1};

typedef struct moments {
    double p[MOST], m[MOST], v[MOST];
} moments;

static double gradient(int list, int step, int i) {
    return sin(1.0 + i * 0.7 + list * 3 + step * 1.3);
}

// torch.optim.AdamW: step `t` counts from 1.
static void adamw(moments *s, int n, int list, int t, double lr, double decay) {
    for (int i = 0; i < n; i++) {
        double g = gradient(list, t, i), c1 = 1 - pow(0.9, t), c2 = 1 - pow(0.999, t);
        s->p[i] *= 1 - lr * decay;
        s->m[i] = 0.9 * s->m[i] + 0.1 * g;
        s->v[i] = 0.999 * s->v[i] + 0.001 * g * g;
        s->p[i] -= lr / c1 * s->m[i] / (sqrt(s->v[i]) / sqrt(c2) + 1e-8);
    }
}

static double start(int list, int i) { return 0.5 * i - list; }

static void begin_moments(moments *s) {
    memset(s, 0, LIST * sizeof *s);
    for (int l = 0; l < LIST; l++)
        for (int i = 0; i < count[l]; i++) s[l].p[i] = start(l, i);
}

typedef struct state {
    tc_tensor p[LIST], g[LIST], m[LIST], v[LIST], step;
} state;

static tc_tensor filled(tc_ctx *tc, int list, tc_dtype dtype, double (*at)(int, int)) {
    double x[MOST];
    tc_dims d = list == 1 ? TC_DIMS(3, 4) : TC_DIMS(count[list]);
    for (int i = 0; i < count[list]; i++) x[i] = at ? at(list, i) : 0;
    return tc_cast(tc_from_data(tc, x, d, TC_F64), dtype);
}

static void open_state(tc_ctx *tc, state *s, tc_dtype dtype) {
    for (int l = 0; l < LIST; l++) {
        s->p[l] = filled(tc, l, dtype, start);
        s->g[l] = filled(tc, l, dtype, NULL);
        s->m[l] = filled(tc, l, dtype, NULL);
        s->v[l] = filled(tc, l, dtype, NULL);
    }
    s->step = tc_zeros(tc, TC_SCALAR, TC_F32);
}

static void set_gradients(tc_ctx *tc, state *s, int t) {
    double x[MOST];
    for (int l = 0; l < LIST; l++) {
        for (int i = 0; i < count[l]; i++) x[i] = gradient(l, t, i);
        tc_copy_(s->g[l], tc_from_data(tc, x, tc_shape(s->g[l]), TC_F64));
    }
}

static void compare(tc_tensor t, const double *want, int n, double near, int line_number) {
    double got[MOST];
    CHECK_EQ(tc_numel(t), n);
    CHECK_EQ(tc_read(tc_to_f64(t), got, (size_t)n * sizeof *got), TC_OK);
    for (int i = 0; i < n; i++)
        if (!(fabs(got[i] - want[i]) <= near * (1 + fabs(want[i]))))
            test_fail(__FILE__, line_number, "element %d is %.9g, not %.9g", i, got[i],
                      want[i]);
}

static double rate(int t) { return t < 3 ? 0.01 : 0.002 * t; }

// One region for all steps: the second learning rate makes the program that has them all.
static void adamw_steps(tc_ctx *tc, int listed, tc_dtype dtype, double near) {
    state s;
    moments want[LIST];
    open_state(tc, &s, dtype);
    begin_moments(want);
    for (int t = 1; t <= STEPS; t++) {
        set_gradients(tc, &s, t);
        uint64_t before = tc_stats_get(tc).programs;
        tc_trace_begin_at(tc, tc_dtype_name(dtype), NULL, "optim.c", 1 + listed);
        if (listed)
            CHECK_EQ(tc_adamw_list_(s.p, s.g, s.m, s.v, LIST, s.step, rate(t), 0.9, 0.999,
                                    1e-8, 0.1),
                     TC_OK);
        else
            CHECK_EQ(tc_adamw_(s.p[1], s.g[1], s.m[1], s.v[1], s.step, rate(t), 0.9, 0.999,
                               1e-8, 0.1)
                         .id,
                     s.p[1].id);
        END();
        before = tc_stats_get(tc).programs - before; // of the region alone
        if (t > 3) CHECK_EQ(before, 0);              // rates change, programs do not
        for (int l = 0; l < LIST; l++) adamw(&want[l], count[l], l, t, rate(t), 0.1);
        for (int l = 0; l < LIST; l++) {
            if (!listed && l != 1) continue;
            compare(s.p[l], want[l].p, count[l], near, __LINE__);
            compare(s.m[l], want[l].m, count[l], near, __LINE__);
            compare(s.v[l], want[l].v, count[l], near, __LINE__);
        }
        CHECK_NEAR(tc_item(s.step), t, 0);
    }
}

BOTH(adamw_f32) { adamw_steps(tc, 0, TC_F32, 1e-6); }
BOTH(adamw_f64) { adamw_steps(tc, 0, TC_F64, 1e-14); }
BOTH(adamw_bf16) { adamw_steps(tc, 0, TC_BF16, 0.02); }
BOTH(adamw_list_f32) { adamw_steps(tc, 1, TC_F32, 1e-6); }
BOTH(adamw_list_f16) { adamw_steps(tc, 1, TC_F16, 0.004); }

// The same bits outside regions as inside.
TEST(adamw_eager) {
    float x[2][MOST];
    for (int run = 0; run < 2; run++) {
        state s;
        tc_ctx *tc = open_backend("cpu");
        open_state(tc, &s, TC_F32);
        for (int t = 1; t <= STEPS; t++) {
            set_gradients(tc, &s, t);
            if (run) BEGIN("adamw");
            tc_adamw_(s.p[1], s.g[1], s.m[1], s.v[1], s.step, rate(t), 0.9, 0.999, 1e-8, 0);
            if (run) END();
        }
        CHECK_EQ(tc_read(s.p[1], x[run], sizeof x[run]), TC_OK);
        CHECK_EQ(tc_error(tc), TC_OK);
        tc_close(tc);
    }
    CHECK_BYTES(x[0], x[1], sizeof x[0]);
}

// ---- in a function ----

typedef struct training {
    state s;
    double lr;
} training;

static void train(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    training *w = (training *)user;
    (void)tc;
    tc_adamw_list_(w->s.p, in, w->s.m, w->s.v, LIST, w->s.step, w->lr, 0.9, 0.999, 1e-8,
                   0.1);
    out[0] = tc_sum_all(w->s.p[1]);
}

BOTH(adamw_in_a_function) {
    training w;
    moments want[LIST];
    tc_tensor sum;
    uint64_t programs = 0;
    memset(&w, 0, sizeof w);
    open_state(tc, &w.s, TC_F32);
    begin_moments(want);
    tc_fn *f = tc_compile(tc, train, &w, sizeof w, NULL);
    for (int t = 1; t <= 2 * STEPS; t++) {
        double total = 0;
        w.lr = rate(t);
        set_gradients(tc, &w.s, t);
        uint64_t before = tc_stats_get(tc).programs;
        CALL(f, w.s.g, LIST, &sum, 1);
        programs += tc_stats_get(tc).programs - before;
        for (int l = 0; l < LIST; l++) adamw(&want[l], count[l], l, t, w.lr, 0.1);
        for (int i = 0; i < count[1]; i++) total += want[1].p[i];
        CHECK_NEAR(tc_item(sum), total, 1e-4);
        compare(w.s.p[0], want[0].p, count[0], 1e-5, __LINE__);
    }
    CHECK(programs <= 2);
}

// ---- SGD ----

static void sgd_steps(tc_ctx *tc, double momentum, int nesterov, double decay) {
    double p[MOST], b[MOST] = {0};
    state s;
    open_state(tc, &s, TC_F32);
    tc_tensor buffer = momentum != 0 ? s.m[1] : tc_null();
    for (int i = 0; i < MOST; i++) p[i] = start(1, i);
    for (int t = 1; t <= STEPS; t++) {
        set_gradients(tc, &s, t);
        BEGIN(momentum != 0 ? nesterov ? "nesterov" : "momentum" : "sgd");
        CHECK_EQ(tc_sgd_(s.p[1], s.g[1], buffer, rate(t), momentum, decay, nesterov).id,
                 s.p[1].id);
        END();
        for (int i = 0; i < MOST; i++) {
            double g = gradient(1, t, i) + decay * p[i];
            b[i] = momentum * b[i] + g;
            p[i] -= rate(t) * (nesterov ? g + momentum * b[i] : b[i]);
        }
        compare(s.p[1], p, MOST, 1e-6, __LINE__);
        if (momentum != 0) compare(s.m[1], b, MOST, 1e-6, __LINE__);
    }
}

BOTH(sgd) { sgd_steps(tc, 0, 0, 0); }
BOTH(sgd_momentum) { sgd_steps(tc, 0.9, 0, 0.01); }
BOTH(sgd_nesterov) { sgd_steps(tc, 0.9, 1, 0.01); }

// ---- mistakes: nothing is written then ----

BOTH(mistakes) {
    state s;
    open_state(tc, &s, TC_F32);
    tc_tensor right = s.g[1], whole = tc_zeros(tc, TC_DIMS(3, 4), TC_I32);
    tc_tensor wide = tc_expand(tc_zeros(tc, TC_DIMS(3, 1), TC_F32), TC_DIMS(3, 4));
#define STEP(p, g, m, v, step) tc_adamw_(p, g, m, v, step, 0.1, 0.9, 0.999, 1e-8, 0)
    CHECK(!STEP(s.p[1], s.g[0], s.m[1], s.v[1], s.step).id);
    ERROR(TC_E_SHAPE, "adamw_: grad is [4], its parameter [3, 4]");
    CHECK(!STEP(s.p[1], whole, s.m[1], s.v[1], s.step).id);
    ERROR(TC_E_DTYPE, "grad is i32");
    CHECK(!STEP(s.p[1], s.g[1], wide, s.v[1], s.step).id);
    ERROR(TC_E_ALIAS, "expanded");
    CHECK(!STEP(s.p[1], s.g[1], s.m[1], tc_null(), s.step).id);
    ERROR(TC_E_NULL, "exp_avg_sq is a null tensor");
    CHECK(!STEP(s.p[1], s.g[1], s.m[1], s.v[1], s.g[0]).id);
    ERROR(TC_E_SHAPE, "step is f32[4]");
    CHECK(!STEP(tc_null(), s.g[1], s.m[1], s.v[1], s.step).id);
    ERROR(TC_E_NULL, "adamw_: parameter is a null tensor");
    CHECK(!tc_sgd_(s.p[1], s.g[1], tc_null(), 0.1, 0.9, 0, 0).id);
    ERROR(TC_E_NULL, "sgd_: momentum_buffer is a null tensor");
    CHECK(!tc_sgd_(whole, s.g[1], tc_null(), 0.1, 0, 0, 0).id);
    ERROR(TC_E_DTYPE, "parameter is i32");
#define LIST_STEP(n) tc_adamw_list_(s.p, s.g, s.m, s.v, n, s.step, 0.1, 0.9, 0.999, 1e-8, 0)
    s.g[1] = s.g[2];
    CHECK_EQ(LIST_STEP(3), TC_E_SHAPE);
    ERROR(TC_E_SHAPE, "adamw_list_: grad 1 is [1]");
    s.g[1] = right;
    CHECK_EQ(LIST_STEP(-1), TC_E_ARG);
    ERROR(TC_E_ARG, "-1 tensors");
    CHECK_EQ(tc_adamw_list_(s.p, NULL, s.m, s.v, 3, s.step, 0.1, 0.9, 0.999, 1e-8, 0),
             TC_E_NULL);
    ERROR(TC_E_NULL, "adamw_list_");
    CHECK_NEAR(tc_item(s.step), 0, 0);
    for (int i = 0; i < 4; i++) CHECK_NEAR(AT(s.p[0], i), start(0, i), 0);
    CHECK_EQ(LIST_STEP(0), TC_OK);
    CHECK_NEAR(tc_item(s.step), 1, 0);
}
