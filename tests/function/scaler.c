// tc_grad_scaler against torch.amp.GradScaler's arithmetic by hand (_amp_update_scale_ and
// _amp_foreach_non_finite_check_and_unscale_), for every optimiser: a step with an overflow is as if it had not been.
#include "tcompile.h"

#include "harness.h"

#include "help.h"

enum { LIST = 2, STATES = 3, STEPS = 50, N = 6 };

static double infinity_of(int step) {
    return step % 3 ? (step % 2 ? -HUGE_VAL : HUGE_VAL) : NAN;
}

// Steps in which some gradient overflows: some in a row, at the scale's growth, at the begin.
static int overflows(int step) {
    return step == 0 || step == 7 || step == 8 || step == 9 || step == 24 || step == 40;
}

// ---- the scale by hand ----

typedef struct by_hand {
    float scale;
    int tracker;
} by_hand;

// As PyTorch's kernel has it: the product in double, the scale in float.
static void update(by_hand *s, int found_inf, double growth, double backoff, int interval) {
    if (found_inf) {
        s->scale = (float)((double)s->scale * backoff), s->tracker = 0;
    } else if (++s->tracker == interval) {
        float grown = (float)((double)s->scale * growth);
        if (grown - grown == 0) s->scale = grown;
        s->tracker = 0;
    }
}

static void check_state(const tc_grad_scaler *s, const by_hand *want, int step) {
    float scale;
    int32_t tracker;
    CHECK_EQ(tc_read(s->scale, &scale, sizeof scale), TC_OK);
    CHECK_EQ(tc_read(s->growth_tracker, &tracker, sizeof tracker), TC_OK);
    if (scale != want->scale || tracker != want->tracker)
        FAIL("step %d: scale %g, %d steps; not %g, %d", step, (double)scale, (int)tracker,
             (double)want->scale, want->tracker);
    CHECK_EQ(tc_item(s->found_inf), 0);
}

typedef struct numbers {
    double scale, growth, backoff;
    int interval;
} numbers;

static const numbers settings[] = {
    {0, 2, 0.5, 4},                          // PyTorch's but for the interval
    {1, 1.7, 0.3, 1},                        // what is rounded
    {1e38, 2, 0.75, 2},                      // grows up to the end of f32
    {1.1754943508222875e-38, 3, 0.001, 100}, // down to 0
};

static void set_numbers(tc_ctx *tc, tc_grad_scaler *s, const numbers *n) {
    CHECK_EQ(tc_grad_scaler_init(tc, s, n->scale), TC_OK);
    CHECK_EQ(s->growth_factor, 2);
    CHECK_EQ(s->backoff_factor, 0.5);
    CHECK_EQ(s->growth_interval, 2000);
    s->growth_factor = n->growth, s->backoff_factor = n->backoff;
    s->growth_interval = n->interval;
}

BOTH(the_scale_is_pytorchs) {
    for (size_t k = 0; k < sizeof settings / sizeof *settings; k++) {
        const numbers *n = &settings[k];
        tc_grad_scaler s;
        by_hand want = {n->scale == 0 ? 65536.f : (float)n->scale, 0};
        set_numbers(tc, &s, n);
        for (int step = 0; step < STEPS; step++) {
            tc_tensor g = line(tc, N, 1, 0.5);
            if (overflows(step)) tc_fill_(tc_select(g, 0, step % N), infinity_of(step));
            if (step % 2) BEGIN("scale");
            CHECK_EQ(tc_grad_scaler_unscale_(&s, &g, 1), TC_OK);
            CHECK_EQ(tc_grad_scaler_update(&s), TC_OK);
            if (step % 2) END();
            update(&want, overflows(step), n->growth, n->backoff, n->interval);
            check_state(&s, &want, step);
            tc_free(g);
        }
        tc_grad_scaler_free(&s);
        CHECK(tc_is_null(s.scale) && tc_is_null(s.found_inf));
        tc_grad_scaler_free(&s), tc_grad_scaler_free(NULL);
    }
}

// Each element by 1 / scale, rounded once from double to float; of halves in f32.
BOTH(gradients_are_unscaled) {
    tc_grad_scaler s;
    tc_tensor g[3];
    CHECK_EQ(tc_grad_scaler_init(tc, &s, 1000), TC_OK);
    for (int region = 0; region < 2; region++) {
        g[0] = line(tc, N, 1, 0.7), g[1] = tc_cast(g[0], TC_F16), g[2] = line(tc, 0, 0, 0);
        if (region) BEGIN("unscale");
        CHECK_EQ(tc_grad_scaler_unscale_(&s, g, 3), TC_OK);
        CHECK_EQ(tc_grad_scaler_unscale_(&s, g, 0), TC_OK);
        CHECK_EQ(tc_grad_scaler_unscale_(&s, NULL, 0), TC_OK);
        if (region) END();
        for (int i = 0; i < N; i++) {
            float by = (float)(1 / 1000.0), x = (float)(1 + i * 0.7);
            CHECK_EQ(AT(g[0], i), (double)(x * by));
        }
        CHECK_EQ(tc_dtype_of(g[1]), TC_F16);
        CHECK_NEAR(AT(tc_to_f32(g[1]), 0), 0.001, 1e-6);
        CHECK_EQ(tc_item(s.found_inf), 0);
    }
    tc_grad_scaler_free(&s);
}

BOTH(a_flag_stays_up_to_the_update) {
    tc_grad_scaler s;
    tc_tensor g[2];
    g[0] = line(tc, N, HUGE_VAL, 0), g[1] = line(tc, N, 1, 1);
    CHECK_EQ(tc_grad_scaler_init(tc, &s, 1000), TC_OK);
    CHECK_EQ(tc_grad_scaler_unscale_(&s, &g[0], 1), TC_OK);
    CHECK_EQ(tc_grad_scaler_unscale_(&s, &g[1], 1), TC_OK);
    CHECK_EQ(tc_item(s.found_inf), 1);
    CHECK_EQ(tc_grad_scaler_update(&s), TC_OK);
    CHECK_EQ(tc_item(s.found_inf), 0);
    CHECK_EQ(tc_item(s.scale), 500);
    CHECK_EQ(tc_item(tc_grad_scaler_scale(&s, tc_scalar(tc, 3, TC_F32))), 1500);
    CHECK_EQ(tc_dtype_of(tc_grad_scaler_scale(&s, tc_scalar(tc, 3, TC_F64))), TC_F64);
    CHECK_EQ(tc_dtype_of(tc_grad_scaler_scale(&s, tc_scalar(tc, 3, TC_F16))), TC_F32);
    tc_grad_scaler_free(&s);
}

// Of 4 rows of 300 and a scale of 512 the weight counts more than f16 has room for, though f32, in which the product
// adds up, has it: that is an overflow where the kernel that looks has it in a register, too.
BOTH(an_overflow_that_f32_has_room_for_is_found) {
    for (int backward = 0; backward < 2; backward++) {
        tc_tensor x = line(tc, 16, 300, 0), w = line(tc, 8, 0.25, 0), g;
        tc_grad_scaler s;
        CHECK_EQ(tc_grad_scaler_init(tc, &s, 512), TC_OK);
        if (backward) CHECK_EQ(tc_requires_grad(w, 1), TC_OK);
        BEGIN(backward ? "backward" : "grad");
        tc_autocast_begin(tc, TC_F16);
        tc_tensor y = tc_matmul(tc_reshape(x, TC_DIMS(4, 4)), tc_reshape(w, TC_DIMS(4, 2)));
        tc_autocast_end(tc);
        tc_tensor loss = tc_grad_scaler_scale(&s, tc_sum_all(tc_to_f32(y)));
        if (backward) tc_backward(loss), g = tc_grad_of(w);
        if (!backward) tc_grad(loss, &w, 1, &g);
        tc_grad_scaler_unscale_(&s, &g, 1);
        tc_clip_grad_norm_(&g, 1, 1, 2);
        tc_grad_scaler_step_begin(&s);
        tc_sgd_(w, g, tc_null(), 0.1, 0, 0, 0);
        tc_grad_scaler_step_end(&s);
        tc_grad_scaler_update(&s);
        END();
        CHECK_EQ(tc_item(s.scale), 256);
        for (int i = 0; i < 8; i++) CHECK_EQ(AT(w, i), 0.25);
        tc_grad_scaler_free(&s);
    }
}

// ---- who forgets to unscale ----

static const char forgotten[] = "call tc_grad_scaler_unscale_ first";

// One step of w as code has it that scales, unscales and steps, or leaves some out.
enum { SCALES = 1, UNSCALES = 2, UPDATES = 4, ALL = 7 };

static tc_status partly(const tc_grad_scaler *s, tc_tensor w, int parts) {
    tc_tensor loss = tc_sum_all(tc_square(w)), g = tc_mul_s(w, 2);
    if (parts & SCALES) loss = tc_grad_scaler_scale(s, loss), g = tc_mul(g, s->scale);
    CHECK(!tc_is_null(loss));
    if (parts & UNSCALES) CHECK_EQ(tc_grad_scaler_unscale_(s, &g, 1), TC_OK);
    tc_status status = tc_grad_scaler_step_begin(s);
    if (status) return status;
    tc_sgd_(w, g, tc_null(), 0.1, 0, 0, 0);
    tc_grad_scaler_step_end(s);
    return parts & UPDATES ? tc_grad_scaler_update(s) : TC_OK;
}

BOTH(an_unscale_is_not_forgotten) {
    tc_grad_scaler s;
    tc_tensor w = line(tc, N, 1, 0), g = line(tc, N, 1, 0);
    CHECK_EQ(tc_grad_scaler_init(tc, &s, 0), TC_OK);
    for (int region = 0; region < 2; region++) {
        static const struct {
            int parts, fails;
        } rows[] = {
            {SCALES, 1},  // at all
            {UPDATES, 1}, //   of the loss before
            {ALL, 0},
            {SCALES | UPDATES, 1}, // now and then
            {ALL - UPDATES, 0},
            {SCALES, 0}, // once is for all up to the update
            {ALL, 0},
            {UPDATES, 0}, // without a scale nothing is to do
            {UPDATES | UNSCALES, 0},
        };
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            if (region) BEGIN("partly");
            tc_status status = partly(&s, w, rows[i].parts);
            if (region) CHECK_EQ(tc_trace_end(tc), status);
            CHECK_EQ(status, rows[i].fails ? TC_E_STATE : TC_OK);
            if (rows[i].fails) ERROR(TC_E_STATE, forgotten);
        }
    }
    // The update says so, too, where it is no step that is skipped.
    (void)tc_grad_scaler_scale(&s, tc_sum_all(w));
    CHECK_EQ(tc_grad_scaler_update(&s), TC_E_STATE);
    ERROR(TC_E_STATE, "tc_grad_scaler_update: a loss");
    CHECK_EQ(tc_grad_scaler_unscale_(&s, &g, 1), TC_OK);
    CHECK_EQ(tc_grad_scaler_update(&s), TC_OK);
    tc_grad_scaler_free(&s);
}

typedef struct part_job {
    tc_grad_scaler s;
    tc_tensor w, g;
} part_job;

static void forget_body(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    const part_job *j = (const part_job *)user;
    (void)tc;
    partly(&j->s, j->w, SCALES | UPDATES);
    out[0] = tc_add_s(in[0], 1);
}

static void unscale_body(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    const part_job *j = (const part_job *)user;
    (void)tc;
    tc_grad_scaler_unscale_(&j->s, &j->g, 1);
    out[0] = tc_add_s(in[0], 1);
}

// A body that is skipped has unscaled all the same, whoever makes the step.
BOTH(an_unscale_of_a_function_counts) {
    part_job j;
    tc_tensor x = tc_ones(tc, TC_SCALAR, TC_F32), y;
    memset(&j, 0, sizeof j);
    CHECK_EQ(tc_grad_scaler_init(tc, &j.s, 1024), TC_OK);
    j.w = line(tc, N, 1, 0), j.g = line(tc, N, 1024, 0);
    tc_fn *f = tc_compile(tc, forget_body, &j, sizeof j, NULL);
    CHECK_EQ(tc_call(f, &x, 1, &y, 1), TC_E_STATE);
    ERROR(TC_E_STATE, forgotten);
    tc_fn *u = tc_compile(tc, unscale_body, &j, sizeof j, NULL);
    for (int i = 0; i < 5; i++) {
        (void)tc_grad_scaler_scale(&j.s, tc_sum_all(j.w));
        CALL(u, &x, 1, &y, 1);
        CHECK_EQ(tc_grad_scaler_step_begin(&j.s), TC_OK);
        tc_grad_scaler_step_end(&j.s);
        CHECK_EQ(tc_grad_scaler_update(&j.s), TC_OK);
    }
    CHECK(tc_stats_get(tc).skips > 0);
    tc_grad_scaler_free(&j.s);
}

// ---- every optimiser ----

typedef struct tensors {
    tc_tensor p[LIST], g[LIST], s[STATES][LIST], step;
} tensors;

typedef void (*optimiser)(tensors *t);

#define OPTIMISER(name, ...)                                                               \
    static void name(tensors *t) { __VA_ARGS__; }
#define EACH_OF(call)                                                                      \
    for (int i = 0; i < LIST; i++) call

OPTIMISER(sgd, tc_sgd_list_(t->p, t->g, t->s[0], LIST, 0.1, 0.9, 0.01, 1))
OPTIMISER(adam, tc_adam_list_(t->p, t->g, t->s[0], t->s[1], LIST, t->step, 0.1, 0.9, 0.999,
                              1e-8, 0.01))
OPTIMISER(adamw, tc_adamw_list_(t->p, t->g, t->s[0], t->s[1], LIST, t->step, 0.1, 0.9,
                                0.999, 1e-8, 0.01))
OPTIMISER(adagrad,
          tc_adagrad_list_(t->p, t->g, t->s[0], LIST, t->step, 0.1, 0.1, 1e-8, 0.01))
OPTIMISER(rmsprop, tc_rmsprop_list_(t->p, t->g, t->s[0], t->s[1], t->s[2], LIST, 0.1, 0.9,
                                    1e-8, 0.01, 0.9, 1))
OPTIMISER(lion, tc_lion_list_(t->p, t->g, t->s[0], LIST, 0.1, 0.9, 0.99, 0.01))
OPTIMISER(adamw_each, EACH_OF(tc_adamw_(t->p[i], t->g[i], t->s[0][i], t->s[1][i], t->step,
                                        0.1, 0.9, 0.999, 1e-8, 0.01)))
OPTIMISER(sgd_plain, EACH_OF(tc_sgd_(t->p[i], t->g[i], tc_null(), 0.1, 0, 0, 0)))
OPTIMISER(own, EACH_OF(tc_sub_(t->p[i], tc_mul_s(t->g[i], 0.1))); tc_add_s_(t->step, 1))
OPTIMISER(copied,
          EACH_OF(tc_copy_(tc_narrow(t->p[i], 0, 1, 2), tc_narrow(t->g[i], 0, 0, 2))))

static const struct {
    const char *name;
    optimiser step;
} optimisers[] = {
    {"sgd", sgd},
    {"adam", adam},
    {"adamw", adamw},
    {"adagrad", adagrad},
    {"rmsprop", rmsprop},
    {"lion", lion},
    {"adamw_each", adamw_each},
    {"sgd_plain", sgd_plain},
    {"own", own},
    {"copied", copied},
};

static void open_tensors(tc_ctx *tc, tensors *t) {
    for (int l = 0; l < LIST; l++) {
        t->p[l] = line(tc, N, 0.5 - l, 0.25), t->g[l] = line(tc, N, 0, 0);
        for (int k = 0; k < STATES; k++) t->s[k][l] = line(tc, N, 0, 0);
    }
    t->step = tc_zeros(tc, TC_SCALAR, TC_F32);
}

static int same_bits(tc_tensor a, tc_tensor b, int n) {
    float x[N], y[N];
    size_t bytes = (size_t)n * sizeof *x;
    return !tc_read(a, x, bytes) && !tc_read(b, y, bytes) && !memcmp(x, y, bytes);
}

static int same_tensors(const tensors *a, const tensors *b) {
    int same = same_bits(a->step, b->step, 1);
    for (int l = 0; l < LIST; l++) {
        same = same && same_bits(a->p[l], b->p[l], N);
        for (int k = 0; k < STATES; k++)
            same = same && same_bits(a->s[k][l], b->s[k][l], N);
    }
    return same;
}

static void set_gradients(tensors *t, int step, int overflow) {
    for (int l = 0; l < LIST; l++) {
        tc_zero_(t->g[l]), tc_add_s_(t->g[l], sin(step * 1.3 + l * 3) + 0.25);
        if (overflow && l == step % LIST)
            tc_fill_(tc_select(t->g[l], 0, step % N), infinity_of(step));
    }
}

// A step whose gradients are scaled, as those of a scaled loss are.
static void scaled_step(const tc_grad_scaler *s, tensors *t, optimiser step) {
    tensors scaled = *t;
    for (int l = 0; l < LIST; l++) scaled.g[l] = tc_mul(t->g[l], s->scale);
    CHECK_EQ(tc_grad_scaler_unscale_(s, scaled.g, LIST), TC_OK);
    CHECK_EQ(tc_grad_scaler_step_begin(s), TC_OK);
    step(&scaled);
    CHECK_EQ(tc_grad_scaler_step_end(s), TC_OK);
    CHECK_EQ(tc_grad_scaler_update(s), TC_OK);
}

typedef struct job {
    tc_grad_scaler s;
    tensors t;
    optimiser step;
} job;

static void step_body(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    job *j = (job *)user;
    (void)tc, (void)in;
    scaled_step(&j->s, &j->t, j->step);
    out[0] = tc_add_s(j->s.scale, 0);
}

enum { EAGER, REGION, FUNCTION };

static void run_scaled(tc_ctx *tc, job *j, tc_fn *f, int how) {
    tc_tensor scale;
    if (how == FUNCTION) {
        CALL(f, NULL, 0, &scale, 1);
        tc_free(scale);
        return;
    }
    if (how == REGION) BEGIN("scaled");
    scaled_step(&j->s, &j->t, j->step);
    if (how == REGION) END();
}

// Powers of two scale exactly, so bits are those of a run without a scaler that leaves the steps out.
static void check_optimiser(tc_ctx *tc, const char *name, optimiser step, int how) {
    static const numbers n = {0, 2, 0.5, 4};
    job j;
    tensors plain;
    by_hand want = {65536, 0};
    memset(&j, 0, sizeof j);
    set_numbers(tc, &j.s, &n);
    open_tensors(tc, &j.t), open_tensors(tc, &plain);
    j.step = step;
    tc_fn *f = tc_compile(tc, step_body, &j, sizeof j, NULL);
    for (int k = 0; k < STEPS; k++) {
        set_gradients(&j.t, k, overflows(k)), set_gradients(&plain, k, 0);
        run_scaled(tc, &j, f, how);
        if (how) BEGIN("plain");
        if (!overflows(k)) step(&plain);
        if (how) END();
        update(&want, overflows(k), 2, 0.5, 4);
        check_state(&j.s, &want, k);
        if (same_tensors(&j.t, &plain)) continue;
        FAIL("%s (%d), step %d: not as without a scaler", name, how, k);
        break;
    }
    if (how == FUNCTION) CHECK(tc_stats_get(tc).skips > 0);
    tc_fn_free(f);
    tc_grad_scaler_free(&j.s);
}

static void check_optimisers(tc_ctx *tc, int how) {
    for (size_t i = 0; i < sizeof optimisers / sizeof *optimisers; i++) {
        tc_scope_begin(tc);
        check_optimiser(tc, optimisers[i].name, optimisers[i].step, how);
        tc_scope_end(tc);
    }
}

TEST(steps_are_skipped_eager) {
    tc_ctx *tc = open_backend("aot_eager");
    REQUIRE(tc);
    check_optimisers(tc, EAGER);
    CHECK_EQ(tc_error(tc), TC_OK);
    tc_close(tc);
}
BOTH(steps_are_skipped_in_regions) { check_optimisers(tc, REGION); }
BOTH(steps_are_skipped_in_functions) { check_optimisers(tc, FUNCTION); }

// Gradients that stay are unscaled where they lie, and zeroed outside of the step.
BOTH(of_gradients_that_stay) {
    tc_grad_scaler s;
    tc_tensor w = line(tc, N, 1, 0), x = line(tc, N, 1, 1);
    double want = 1;
    CHECK_EQ(tc_grad_scaler_init(tc, &s, 0), TC_OK);
    CHECK_EQ(tc_requires_grad(w, 1), TC_OK);
    for (int k = 0; k < 8; k++) {
        tc_tensor g = tc_grad_of(w), by = line(tc, N, overflows(k) ? HUGE_VAL : 1, 0);
        BEGIN("stay");
        tc_zero_(g);
        tc_tensor loss = tc_sum_all(tc_mul(tc_mul(w, x), by));
        CHECK_EQ(tc_backward(tc_grad_scaler_scale(&s, loss)), TC_OK);
        CHECK_EQ(tc_grad_scaler_unscale_(&s, &g, 1), TC_OK);
        CHECK_EQ(tc_grad_scaler_step_begin(&s), TC_OK);
        tc_sgd_(w, g, tc_null(), 0.5, 0, 0, 0);
        CHECK_EQ(tc_grad_scaler_step_end(&s), TC_OK);
        CHECK_EQ(tc_grad_scaler_update(&s), TC_OK);
        END();
        if (!overflows(k)) want -= 0.5 * 3; // x[2] is 3
        CHECK_EQ(AT(w, 2), want);
    }
    CHECK_EQ(tc_item(s.scale), 65536.0 / 4);
    tc_grad_scaler_free(&s);
}

// ---- states that are saved ----

BOTH(it_goes_on_from_a_saved_state) {
    static const numbers n = {0, 2, 0.5, 3};
    tc_grad_scaler a, b;
    set_numbers(tc, &a, &n), set_numbers(tc, &b, &n);
    for (int k = 0; k < 20; k++) {
        tc_tensor g = line(tc, N, overflows(k) ? HUGE_VAL : 1, 0);
        CHECK_EQ(tc_grad_scaler_unscale_(&a, &g, 1), TC_OK);
        CHECK_EQ(tc_grad_scaler_update(&a), TC_OK);
        if (k < 11) continue; // b begins here
        if (k == 11) {
            tc_fill_(b.scale, tc_item(a.scale));
            tc_copy_(b.growth_tracker, a.growth_tracker);
            continue;
        }
        CHECK_EQ(tc_grad_scaler_update(&b), TC_OK);
        CHECK_EQ(tc_item(a.scale), tc_item(b.scale));
        CHECK_EQ(tc_item(a.growth_tracker), tc_item(b.growth_tracker));
    }
    CHECK(tc_item(a.scale) != 65536);
    tc_grad_scaler_free(&a), tc_grad_scaler_free(&b);
}

// ---- where a step holds ----

static void check_guarded(tc_ctx *tc, const tc_grad_scaler *s, int skips, int region) {
    const double large = 9007199254740993.0 * 64; // no f32
    tc_tensor x = line(tc, N, 1, 0), y = line(tc, N, 1, 0);
    tc_tensor i = tc_full(tc, TC_DIMS(2), 5, TC_I64);
    tc_tensor h = tc_full(tc, TC_DIMS(2, N), 2, TC_BF16);
    tc_fill_(s->found_inf, skips);
    if (region) BEGIN("guarded");
    tc_add_s_(y, 1);
    CHECK_EQ(tc_grad_scaler_step_begin(s), TC_OK);
    tc_tensor z = tc_add_s(x, 1); // no write
    tc_add_s_(x, 1), tc_add_s_(x, 1);
    tc_copy_(i, tc_scalar(tc, large, TC_F64)); // converted, then chosen
    tc_copy_(tc_select(h, 0, 1), x);
    CHECK_EQ(tc_grad_scaler_step_end(s), TC_OK);
    tc_add_s_(y, 1);
    if (region) END();
    CHECK_EQ(AT(x, 0), skips ? 1 : 3);
    CHECK_EQ(AT(y, 0), 3);
    CHECK_EQ(AT(z, 0), 2);
    CHECK_EQ(tc_item(tc_select(i, 0, 1)), skips ? 5 : large);
    CHECK_EQ(AT(tc_to_f32(h), 0), 2);
    CHECK_EQ(AT(tc_to_f32(h), N), skips ? 2 : 3);
}

BOTH(only_writes_inside_are_guarded) {
    tc_grad_scaler s;
    CHECK_EQ(tc_grad_scaler_init(tc, &s, 0), TC_OK);
    for (int k = 0; k < 4; k++) check_guarded(tc, &s, k % 2, k / 2);
    tc_grad_scaler_free(&s);
}

static int runs;
static void add_body(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    runs++;
    tc_add_s_(in[0], 1);
    out[0] = tc_add_s(in[0], 0);
}

// A function that a region calls in its step writes there.
BOTH(a_function_in_a_regions_step) {
    tc_grad_scaler s;
    tc_tensor x = line(tc, N, 0, 0), y;
    tc_fn *f = tc_compile(tc, add_body, NULL, 0, NULL);
    CHECK_EQ(tc_grad_scaler_init(tc, &s, 0), TC_OK);
    for (int skips = 0; skips < 2; skips++) {
        tc_fill_(s.found_inf, skips);
        BEGIN("calls");
        CHECK_EQ(tc_grad_scaler_step_begin(&s), TC_OK);
        CALL(f, &x, 1, &y, 1);
        CHECK_EQ(tc_grad_scaler_step_end(&s), TC_OK);
        CALL(f, &x, 1, &y, 1);
        END();
        CHECK_EQ(AT(x, 0), skips ? 3 : 2);
    }
    tc_fn_free(f);
    tc_grad_scaler_free(&s);
}

// A function that is called in a step and outside of it has two programs.
BOTH(a_function_is_guarded_by_it) {
    tc_grad_scaler s[2];
    tc_tensor x = line(tc, N, 0, 0), y;
    tc_fn *f = tc_compile(tc, add_body, NULL, 0, NULL);
    double want = 0;
    for (int k = 0; k < 2; k++) CHECK_EQ(tc_grad_scaler_init(tc, &s[k], 0), TC_OK);
    tc_fill_(s[1].found_inf, 1);
    runs = 0;
    for (int k = 0; k < 18; k++) {
        int in =
            k / 2 % 3; // outside, in a step of the first, of the second, which is skipped
        if (in) CHECK_EQ(tc_grad_scaler_step_begin(&s[in - 1]), TC_OK);
        CALL(f, &x, 1, &y, 1);
        if (k == 2) {
            MISS(f, TC_MISS_STEP);
            CHECK(
                strstr(tc_miss_text(f), "inside a step of a tc_grad_scaler was 0, now 1"));
        }
        if (k == 4) CHECK(strstr(tc_miss_text(f), "inside a step of a tc_grad_scaler; "));
        if (in) CHECK_EQ(tc_grad_scaler_step_end(&s[in - 1]), TC_OK);
        want += in != 2;
        CHECK_EQ(AT(x, 0), want);
        CHECK_EQ(AT(y, 0), want);
        tc_free(y);
    }
    CHECK_EQ(runs, 6);
    tc_fn_free(f);
    tc_grad_scaler_free(&s[0]), tc_grad_scaler_free(&s[1]);
}

static void open_step(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc;
    tc_grad_scaler_step_begin((const tc_grad_scaler *)user);
    tc_add_s_(in[0], 1);
    out[0] = tc_add_s(in[0], 0);
}

static void end_step(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc;
    tc_grad_scaler_step_end((const tc_grad_scaler *)user);
    out[0] = tc_add_s(in[0], 0);
}

BOTH(a_region_or_body_ends_a_step_that_it_leaves_open) {
    tc_grad_scaler s;
    tc_tensor x = line(tc, N, 0, 0), y;
    CHECK_EQ(tc_grad_scaler_init(tc, &s, 0), TC_OK);
    tc_fn *f = tc_compile(tc, open_step, &s, sizeof s, NULL);
    tc_fn *g = tc_compile(tc, end_step, &s, sizeof s, NULL);
    tc_fill_(s.found_inf, 1);
    BEGIN("open");
    CHECK_EQ(tc_grad_scaler_step_begin(&s), TC_OK);
    END();
    for (int k = 1; k < 4; k++) {
        CALL(f, &x, 1, &y, 1);
        tc_add_s_(x, 1); // outside
        CHECK_EQ(AT(x, 0), k);
    }
    CHECK_EQ(tc_grad_scaler_step_begin(&s), TC_OK);
    CHECK_EQ(tc_call(g, &x, 1, &y, 1), TC_E_STATE);
    ERROR(TC_E_STATE, "no tc_grad_scaler_step_begin of this scaler is open here");
    CHECK_EQ(tc_grad_scaler_step_end(&s), TC_OK);
    tc_fn_free(f), tc_fn_free(g);
    tc_grad_scaler_free(&s);
}

// ---- errors ----

BOTH(what_is_wrong_in_init_is_told) {
    static const double scales[] = {-1, NAN, HUGE_VAL, 1e39};
    tc_grad_scaler s;
    CHECK_EQ(tc_grad_scaler_init(NULL, &s, 0), TC_E_NULL);
    ERROR(TC_E_NULL, "tc_grad_scaler_init: ");
    CHECK_EQ(tc_grad_scaler_init(tc, NULL, 0), TC_E_NULL);
    ERROR(TC_E_NULL, "tc_grad_scaler_init: the scaler is NULL");
    for (int k = 0; k < 4; k++) {
        CHECK_EQ(tc_grad_scaler_init(tc, &s, scales[k]), TC_E_ARG);
        CHECK(tc_is_null(s.scale));
        ERROR(TC_E_ARG, "tc_grad_scaler_init: the scale is");
    }
    BEGIN("inside");
    CHECK_EQ(tc_grad_scaler_init(tc, &s, 0), TC_E_STATE);
    CHECK_EQ(tc_trace_end(tc), TC_E_STATE);
    ERROR(TC_E_STATE, "tc_grad_scaler_init: a region is open");
}

BOTH(what_is_wrong_with_tensors_is_told) {
    tc_grad_scaler s, none;
    tc_tensor g = line(tc, N, 1, 1), i = tc_to_i32(g), dead = line(tc, 2, 0, 0), three[3];
    memset(&none, 0, sizeof none);
    tc_free(dead);
    CHECK_EQ(tc_grad_scaler_init(tc, &s, 0), TC_OK);
    CHECK(tc_is_null(tc_grad_scaler_scale(NULL, g)));
    ERROR(TC_E_NULL, "tc_grad_scaler_scale");
    CHECK(tc_is_null(tc_grad_scaler_scale(&s, tc_null())));
    ERROR(TC_E_NULL, "tc_grad_scaler_scale: loss is a null tensor");
    CHECK(tc_is_null(tc_grad_scaler_scale(&s, dead)));
    ERROR(TC_E_DEAD, "tc_grad_scaler_scale");
    CHECK_EQ(tc_grad_scaler_unscale_(&none, &g, 1), TC_E_NULL);
    ERROR(TC_E_NULL, "tc_grad_scaler_unscale_");
    CHECK_EQ(tc_grad_scaler_unscale_(&s, NULL, 1), TC_E_NULL);
    ERROR(TC_E_NULL, "tc_grad_scaler_unscale_: grad is null, an array of 1 is needed");
    CHECK_EQ(tc_grad_scaler_unscale_(&s, &g, -1), TC_E_ARG);
    ERROR(TC_E_ARG, "tc_grad_scaler_unscale_: -1 tensors");
    CHECK_EQ(tc_grad_scaler_unscale_(&s, &i, 1), TC_E_DTYPE);
    ERROR(TC_E_DTYPE, "tc_grad_scaler_unscale_: grad 0 is i32, floats are needed");
    three[0] = three[2] = g, three[1] = tc_null();
    CHECK_EQ(tc_grad_scaler_unscale_(&s, three, 3), TC_E_NULL);
    ERROR(TC_E_NULL, "tc_grad_scaler_unscale_: grad 1 is a null tensor");
    CHECK_EQ(AT(g, 1), 2); // nothing was written
    none = s;
    tc_grad_scaler_free(&s);
    CHECK_EQ(tc_grad_scaler_update(&none), TC_E_DEAD);
    ERROR(TC_E_DEAD, "tc_grad_scaler_update");
    CHECK_EQ(tc_grad_scaler_step_begin(&none), TC_E_DEAD);
    ERROR(TC_E_DEAD, "tc_grad_scaler_step_begin");
}

BOTH(what_is_wrong_with_steps_is_told) {
    tc_grad_scaler s, other;
    tc_tensor g = line(tc, N, 1, 1);
    CHECK_EQ(tc_grad_scaler_init(tc, &s, 0), TC_OK);
    CHECK_EQ(tc_grad_scaler_init(tc, &other, 0), TC_OK);
    CHECK_EQ(tc_grad_scaler_step_begin(NULL), TC_E_NULL);
    ERROR(TC_E_NULL, "tc_grad_scaler_step_begin");
    CHECK_EQ(tc_grad_scaler_step_end(NULL), TC_E_NULL);
    ERROR(TC_E_NULL, "tc_grad_scaler_step_end");
    CHECK_EQ(tc_grad_scaler_step_end(&s), TC_E_STATE);
    ERROR(TC_E_STATE, "tc_grad_scaler_step_end: no tc_grad_scaler_step_begin");
    CHECK_EQ(tc_grad_scaler_step_begin(&s), TC_OK);
    CHECK_EQ(tc_grad_scaler_step_begin(&s), TC_E_STATE);
    ERROR(TC_E_STATE, "tc_grad_scaler_step_begin: inside a step, which may be skipped");
    CHECK_EQ(tc_grad_scaler_unscale_(&s, &g, 1), TC_E_STATE);
    ERROR(TC_E_STATE, "tc_grad_scaler_unscale_: inside a step");
    CHECK_EQ(tc_grad_scaler_update(&s), TC_E_STATE);
    ERROR(TC_E_STATE, "tc_grad_scaler_update: inside a step");
    CHECK_EQ(tc_grad_scaler_step_end(&other), TC_E_STATE);
    ERROR(TC_E_STATE, "no tc_grad_scaler_step_begin of this scaler is open here");
    CHECK_EQ(tc_grad_scaler_step_end(&s), TC_OK);
    tc_grad_scaler_free(&s), tc_grad_scaler_free(&other);
}

BOTH(what_is_wrong_with_numbers_is_told) {
    static const numbers wrong[] = {
        {0, 1, 0.5, 1}, {0, 2, 1, 1}, {0, 2, 0, 1}, {0, 2, 0.5, 0}};
    tc_grad_scaler s;
    CHECK_EQ(tc_grad_scaler_init(tc, &s, 0), TC_OK);
    for (int k = 0; k < 4; k++) {
        s.growth_factor = wrong[k].growth, s.backoff_factor = wrong[k].backoff;
        s.growth_interval = wrong[k].interval;
        CHECK_EQ(tc_grad_scaler_update(&s), TC_E_ARG);
        ERROR(TC_E_ARG, "tc_grad_scaler_update: growth_factor is");
    }
    CHECK_EQ(tc_item(s.scale), 65536);
    tc_grad_scaler_free(&s);
}
