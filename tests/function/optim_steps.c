// Every optimiser for many steps: against its formula by hand in double and what PyTorch gave (where
// optim_torch.h has it), eager runs against regions, and runs that go on from saved states.
#include "tcompile.h"

#include "harness.h"

#include "help.h"

enum { LIST = 3, STEPS = 50, MOST = 12, STATES = 3 };

static const int count[LIST] = {5, 12, 1};

#include "optim_torch.h"

typedef struct tensors {
    tc_tensor p[LIST], g[LIST], s[STATES][LIST], step;
} tensors;

typedef struct numbers {
    double p, s[STATES];
} numbers;

typedef struct kind {
    const char *name;
    double decay, momentum;
    int flag; // nesterov, centered
    tc_status (*all)(const struct kind *k, tensors *t, double lr);
    tc_tensor (*one)(const struct kind *k, tensors *t, int i, double lr);
    void (*want)(const struct kind *k, numbers *x, double g, double lr, int t);
} kind;

// tests/tools/optim_torch.py has the same three.
static double gradient(int list, int step, int i) {
    return sin(1.0 + i * 0.7 + list * 3 + step * 1.3) + 0.25;
}
static double start(int list, int i) { return 0.5 * i - list + 0.25; }
static double rate(int t) { return 0.01 / (1 + 0.1 * t); }

// ---- what is called, and the same by hand ----

#define ONE(name) static tc_tensor name##_one(const kind *k, tensors *t, int i, double lr)
#define ALL(name) static tc_status name##_all(const kind *k, tensors *t, double lr)
#define WANT(name)                                                                         \
    static void name##_want(const kind *k, numbers *x, double g, double lr, int t)

ALL(sgd) {
    return tc_sgd_list_(t->p, t->g, k->momentum != 0 ? t->s[0] : NULL, LIST, lr,
                        k->momentum, k->decay, k->flag);
}
ONE(sgd) {
    return tc_sgd_(t->p[i], t->g[i], t->s[0][i], lr, k->momentum, k->decay, k->flag);
}
WANT(sgd) {
    (void)t;
    g += k->decay * x->p;
    double b = k->momentum * x->s[0] + g;
    if (k->momentum != 0) x->s[0] = b;
    x->p -= lr * (k->flag ? g + k->momentum * b : b);
}

static double moments(numbers *x, double g, int t) {
    x->s[0] = 0.9 * x->s[0] + 0.1 * g;
    x->s[1] = 0.999 * x->s[1] + 0.001 * g * g;
    return x->s[0] / (1 - pow(0.9, t)) / (sqrt(x->s[1] / (1 - pow(0.999, t))) + 1e-8);
}

ALL(adam) {
    return tc_adam_list_(t->p, t->g, t->s[0], t->s[1], LIST, t->step, lr, 0.9, 0.999, 1e-8,
                         k->decay);
}
ONE(adam) {
    return tc_adam_(t->p[i], t->g[i], t->s[0][i], t->s[1][i], t->step, lr, 0.9, 0.999, 1e-8,
                    k->decay);
}
WANT(adam) { x->p -= lr * moments(x, g + k->decay * x->p, t); }

ALL(adamw) {
    return tc_adamw_list_(t->p, t->g, t->s[0], t->s[1], LIST, t->step, lr, 0.9, 0.999, 1e-8,
                          k->decay);
}
ONE(adamw) {
    return tc_adamw_(t->p[i], t->g[i], t->s[0][i], t->s[1][i], t->step, lr, 0.9, 0.999,
                     1e-8, k->decay);
}
WANT(adamw) { x->p = x->p * (1 - lr * k->decay) - lr * moments(x, g, t); }

ALL(adagrad) {
    return tc_adagrad_list_(t->p, t->g, t->s[0], LIST, t->step, lr, 0.02, 1e-10, k->decay);
}
ONE(adagrad) {
    return tc_adagrad_(t->p[i], t->g[i], t->s[0][i], t->step, lr, 0.02, 1e-10, k->decay);
}
WANT(adagrad) {
    g += k->decay * x->p;
    x->s[0] += g * g;
    x->p -= lr / (1 + (t - 1) * 0.02) * g / (sqrt(x->s[0]) + 1e-10);
}

ALL(rmsprop) {
    return tc_rmsprop_list_(t->p, t->g, t->s[0], k->flag ? t->s[1] : NULL,
                            k->momentum != 0 ? t->s[2] : NULL, LIST, lr, 0.99, 1e-8,
                            k->decay, k->momentum, k->flag);
}
ONE(rmsprop) {
    return tc_rmsprop_(t->p[i], t->g[i], t->s[0][i], t->s[1][i], t->s[2][i], lr, 0.99, 1e-8,
                       k->decay, k->momentum, k->flag);
}
WANT(rmsprop) {
    (void)t;
    g += k->decay * x->p;
    x->s[0] = 0.99 * x->s[0] + 0.01 * g * g;
    if (k->flag) x->s[1] = 0.99 * x->s[1] + 0.01 * g;
    double d = g / (sqrt(x->s[0] - x->s[1] * x->s[1]) + 1e-8);
    if (k->momentum != 0) d = x->s[2] = k->momentum * x->s[2] + d;
    x->p -= lr * d;
}

ALL(lion) { return tc_lion_list_(t->p, t->g, t->s[0], LIST, lr, 0.9, 0.99, k->decay); }
ONE(lion) { return tc_lion_(t->p[i], t->g[i], t->s[0][i], lr, 0.9, 0.99, k->decay); }
WANT(lion) {
    (void)t;
    double d = 0.9 * x->s[0] + 0.1 * g;
    x->p = x->p * (1 - lr * k->decay) - lr * (d > 0 ? 1 : -1);
    x->s[0] = 0.99 * x->s[0] + 0.01 * g;
}

#define KIND(name, decay, momentum, flag)                                                  \
    { #name, decay, momentum, flag, name##_all, name##_one, name##_want }
// The order of optim_torch.h, which has all but Lion.
static const kind kinds[] = {
    KIND(sgd, 0, 0, 0),         KIND(sgd, 0.1, 0.9, 0),     KIND(sgd, 0.1, 0.9, 1),
    KIND(adam, 0, 0, 0),        KIND(adam, 0.1, 0, 0),      KIND(adamw, 0, 0, 0),
    KIND(adamw, 0.1, 0, 0),     KIND(adagrad, 0, 0, 0),     KIND(adagrad, 0.1, 0, 0),
    KIND(rmsprop, 0, 0, 0),     KIND(rmsprop, 0.1, 0.9, 0), KIND(rmsprop, 0, 0, 1),
    KIND(rmsprop, 0.1, 0.9, 1), KIND(lion, 0, 0, 0),        KIND(lion, 0.1, 0, 0),
};
enum { KINDS = sizeof kinds / sizeof *kinds };

// ---- runs ----

static tc_tensor filled(tc_ctx *tc, int list, tc_dtype dtype, const double *x) {
    tc_dims d = list == 1 ? TC_DIMS(3, 4) : TC_DIMS(count[list]);
    return tc_cast(tc_from_data(tc, x, d, TC_F64), dtype);
}

static void begin(tc_ctx *tc, tensors *t, tc_dtype dtype) {
    double x[MOST], none[MOST] = {0};
    for (int l = 0; l < LIST; l++) {
        for (int i = 0; i < count[l]; i++) x[i] = start(l, i);
        t->p[l] = filled(tc, l, dtype, x), t->g[l] = filled(tc, l, dtype, none);
        for (int s = 0; s < STATES; s++) t->s[s][l] = filled(tc, l, dtype, none);
    }
    t->step = tc_zeros(tc, TC_SCALAR, TC_F32);
}

static void set_gradients(tc_ctx *tc, tensors *t, int step) {
    double x[MOST];
    for (int l = 0; l < LIST; l++) {
        for (int i = 0; i < count[l]; i++) x[i] = gradient(l, step, i);
        tc_copy_(t->g[l], tc_from_data(tc, x, tc_shape(t->g[l]), TC_F64));
    }
}

// Steps from..to, as a region or eagerly; gives how many programs the regions took.
static int steps(tc_ctx *tc, const kind *k, tensors *t, int from, int to, int region) {
    uint64_t programs = 0;
    for (int n = from; n <= to; n++) {
        set_gradients(tc, t, n);
        uint64_t before = tc_stats_get(tc).programs;
        if (region) tc_trace_begin_at(tc, k->name, NULL, "steps.c", 1 + (int)(k - kinds));
        CHECK_EQ(k->all(k, t, rate(n)), TC_OK);
        if (region) END();
        programs += tc_stats_get(tc).programs - before;
    }
    return (int)programs;
}

static void read_all(const tc_tensor *list, double x[LIST][MOST]) {
    for (int l = 0; l < LIST; l++)
        CHECK_EQ(tc_read(tc_to_f64(list[l]), x[l], (size_t)count[l] * sizeof **x), TC_OK);
}

static void compare(const kind *k, const char *what, const tc_tensor *list,
                    double want[LIST][MOST], double near) {
    double got[LIST][MOST];
    read_all(list, got);
    for (int l = 0; l < LIST; l++)
        for (int i = 0; i < count[l]; i++)
            if (!(fabs(got[l][i] - want[l][i]) <= near * (1 + fabs(want[l][i]))))
                FAIL("%s %g %g %d: %s %d[%d] is %.17g, not %.17g", k->name, k->decay,
                     k->momentum, k->flag, what, l, i, got[l][i], want[l][i]);
}

static void against_formulas(tc_ctx *tc, tc_dtype dtype, double near) {
    for (const kind *k = kinds; k < kinds + KINDS; k++) {
        tensors t;
        double p[LIST][MOST], s[STATES][LIST][MOST];
        begin(tc, &t, dtype);
        // The second rate makes the program that has them all at run time.
        CHECK(steps(tc, k, &t, 1, STEPS, 1) <= 2);
        for (int l = 0; l < LIST; l++)
            for (int i = 0; i < count[l]; i++) {
                numbers x = {start(l, i), {0, 0, 0}};
                for (int n = 1; n <= STEPS; n++)
                    k->want(k, &x, gradient(l, n, i), rate(n), n);
                p[l][i] = x.p;
                for (int j = 0; j < STATES; j++) s[j][l][i] = x.s[j];
            }
        compare(k, "parameter", t.p, p, near);
        for (int j = 0; j < STATES; j++) compare(k, "state", t.s[j], s[j], near);
        if (k - kinds >= TORCH_KINDS) continue;
        memset(p, 0, sizeof p);
        for (int l = 0, at = 0; l < LIST; l++)
            for (int i = 0; i < count[l]; i++) p[l][i] = torch_given[k - kinds][at++];
        compare(k, "PyTorch's", t.p, p, near);
    }
}

BOTH(steps_f32) { against_formulas(tc, TC_F32, 2e-5); }
BOTH(steps_f64) { against_formulas(tc, TC_F64, 1e-12); }

// ---- rates of tc_lr_scale_begin ----

static const double base = 0.02; // lr of the calls; the factor makes it rate()

typedef struct job {
    const kind *k;
    tensors t;
    int runs;
} job;

static void scaled_body(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    job *j = (job *)user;
    j->runs++;
    CHECK_EQ(tc_lr_scale_begin(tc, in[0]), TC_OK);
    CHECK_EQ(j->k->all(j->k, &j->t, base), TC_OK);
    CHECK_EQ(tc_lr_scale_end(tc), TC_OK);
    out[0] = tc_add_s(in[0], 0);
}

static void scaled_steps(tc_ctx *tc, job *j, tc_dtype dtype) {
    tc_fn *f = tc_compile(tc, scaled_body, j, 0, NULL);
    for (int n = 1; n <= STEPS; n++) {
        tc_tensor factor = tc_full(tc, TC_SCALAR, rate(n) / base, dtype), y;
        set_gradients(tc, &j->t, n);
        CHECK_EQ(tc_call(f, &factor, 1, &y, 1), TC_OK);
    }
    tc_fn_free(f);
}

static void against_scaled(tc_ctx *tc, tc_dtype dtype, double near) {
    for (const kind *k = kinds; k < kinds + KINDS; k++) {
        double p[LIST][MOST];
        job j;
        j.k = k, j.runs = 0;
        begin(tc, &j.t, dtype);
        scaled_steps(tc, &j, dtype);
        CHECK_EQ(j.runs, 2); // of 50: the rate is an input
        for (int l = 0; l < LIST; l++)
            for (int i = 0; i < count[l]; i++) {
                numbers x = {start(l, i), {0, 0, 0}};
                for (int n = 1; n <= STEPS; n++)
                    k->want(k, &x, gradient(l, n, i), rate(n), n);
                p[l][i] = x.p;
            }
        compare(k, "scaled parameter", j.t.p, p, near);
    }
}

BOTH(scaled_f32) { against_scaled(tc, TC_F32, 2e-5); }
BOTH(scaled_f64) { against_scaled(tc, TC_F64, 1e-12); }

// A schedule of the step counter, in a region: one program, and nothing from the host.
BOTH(scaled_by_the_step) {
    tensors t[2];
    double want[LIST][MOST];
    memset(want, 0, sizeof want);
    begin(tc, &t[0], TC_F64), begin(tc, &t[1], TC_F64);
    uint64_t before = tc_stats_get(tc).programs;
    for (int n = 1; n <= 8; n++) {
        set_gradients(tc, &t[0], n);
        BEGIN("warm");
        // of the step before: it is counted by the call
        tc_tensor warm = tc_minimum_s(tc_mul_s(tc_add_s(t[0].step, 1), 0.25), 1);
        CHECK_EQ(tc_lr_scale_begin(tc, warm), TC_OK);
        CHECK_EQ(kinds[6].all(&kinds[6], &t[0], base), TC_OK);
        tc_lr_scale_end(tc);
        END();
    }
    CHECK_EQ(tc_stats_get(tc).programs - before, 1);
    for (int n = 1; n <= 8; n++) {
        set_gradients(tc, &t[1], n);
        CHECK_EQ(kinds[6].all(&kinds[6], &t[1], base * (n < 4 ? 0.25 * n : 1)), TC_OK);
    }
    read_all(t[1].p, want);
    compare(&kinds[6], "warmed parameter", t[0].p, want, 1e-12);
}

static void left_open(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    CHECK_EQ(tc_lr_scale_begin(tc, in[0]), TC_OK);
    out[0] = tc_add_s(in[0], 1);
}

static void ends_another(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)user;
    CHECK_EQ(tc_lr_scale_end(tc), TC_E_STATE);
    CHECK_EQ(tc_lr_scale_begin(tc, in[0]), TC_E_STATE);
    out[0] = tc_add_s(in[0], 1);
}

static void sgd_body(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    tc_sgd_(in[0], in[1], tc_null(), 1, 0, 0, 0);
    out[0] = tc_add_s(in[1], 0);
}

BOTH(scale_of_code_around) {
    tc_tensor half = tc_full(tc, TC_SCALAR, 0.5, TC_F32), y, two[2];
    tc_tensor tenth = tc_full(tc, TC_SCALAR, 0.1, TC_F64);
    two[0] = tc_zeros(tc, TC_DIMS(2), TC_F32), two[1] = tc_full(tc, TC_DIMS(2), 8, TC_F32);
    tc_fn *f = tc_compile(tc, left_open, NULL, 0, NULL);
    CHECK_EQ(tc_call(f, &half, 1, &y, 1), TC_OK);
    CHECK_EQ(tc_lr_scale_end(tc), TC_E_STATE); // ended with the body
    ERROR(TC_E_STATE, "tc_lr_scale_end: no tc_lr_scale_begin is open here");
    tc_fn *sgd = tc_compile(tc, sgd_body, NULL, 0, NULL);
    for (int i = 0; i < 3; i++) CHECK_EQ(tc_call(sgd, two, 2, &y, 1), TC_OK);
    CHECK_NEAR(AT(two[0], 1), -24, 0);
    CHECK_EQ(tc_lr_scale_begin(tc, half), TC_OK);
    for (int i = 0; i < 3; i++) CHECK_EQ(tc_call(sgd, two, 2, &y, 1), TC_OK);
    CHECK_NEAR(AT(two[0], 1), -36, 0);
    tc_fn *other = tc_compile(tc, ends_another, NULL, 0, NULL);
    CHECK_EQ(tc_call(other, &half, 1, &y, 1), TC_E_STATE);
    ERROR(TC_E_STATE, "tc_lr_scale_end: no tc_lr_scale_begin is open here");
    tc_sgd_(two[0], two[1], tc_null(), 1, 0, 0, 0);
    CHECK_NEAR(AT(two[0], 1), -40, 0);
    CHECK_EQ(tc_lr_scale_end(tc), TC_OK);
    CHECK_EQ(tc_call(sgd, two, 2, &y, 1), TC_OK);
    CHECK_EQ(tc_lr_scale_begin(tc, tenth), TC_OK);
    CHECK_EQ(tc_call(sgd, two, 2, &y, 1), TC_OK);
    if (tc_last_miss(sgd).kind != TC_MISS_DEMOTED)
        CHECK_EQ(tc_last_miss(sgd).kind, TC_MISS_LR_SCALE);
    CHECK_EQ(tc_lr_scale_end(tc), TC_OK);
    tc_tensor eighth = tc_full(tc, TC_SCALAR, 0.125, TC_F64);
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(tc_lr_scale_begin(tc, i ? eighth : tenth), TC_OK);
        for (int k = 0; k < 2 - i; k++) CHECK_EQ(tc_call(sgd, two, 2, &y, 1), TC_OK);
        if (!i) CHECK_EQ(tc_lr_scale_end(tc), TC_OK);
    }
    if (tc_last_miss(sgd).kind == TC_MISS_LR_SCALE)
        CHECK(strstr(tc_miss_text(sgd), "of another factor (keep one tensor") ||
              FAIL("%s", tc_miss_text(sgd)));
    CHECK_EQ(tc_lr_scale_end(tc), TC_OK);
    CHECK_NEAR(AT(two[0], 1), -51.4, 1e-5);
    tc_fn_free(f), tc_fn_free(other), tc_fn_free(sgd);
}

BOTH(mistakes_of_scales) {
    tensors t;
    begin(tc, &t, TC_F32);
    tc_tensor wide = tc_zeros(tc, TC_DIMS(1), TC_F32),
              whole = tc_zeros(tc, TC_SCALAR, TC_I32);
    tc_tensor gone = tc_full(tc, TC_SCALAR, 2, TC_F32);
    CHECK_EQ(tc_lr_scale_begin(tc, wide), TC_E_SHAPE);
    ERROR(TC_E_SHAPE,
          "tc_lr_scale_begin: factor is f32[1], a scalar is needed; tc_reshape");
    CHECK_EQ(tc_sgd_list_(t.p, t.g, NULL, LIST, 1, 0, 0, 0), TC_E_STATE);
    ERROR(TC_E_STATE, "sgd_list_: the tc_lr_scale_begin around it was refused");
    CHECK_NEAR(AT(t.p[0], 0), start(0, 0), 0);
    CHECK_EQ(tc_lr_scale_end(tc), TC_OK);
    BEGIN("refused");
    CHECK_EQ(tc_lr_scale_begin(tc, whole), TC_E_DTYPE);
    tc_error_clear(tc);
    CHECK_EQ(tc_sgd_list_(t.p, t.g, NULL, LIST, 1, 0, 0, 0), TC_E_STATE);
    CHECK_EQ(tc_trace_end(tc), TC_E_STATE);
    ERROR(TC_E_STATE, "sgd_list_: the tc_lr_scale_begin around it was refused");
    CHECK_NEAR(AT(t.p[0], 0), start(0, 0), 0);
    CHECK_EQ(tc_lr_scale_begin(tc, tc_null()), TC_E_NULL);
    ERROR(TC_E_NULL, "tc_lr_scale_begin: factor is a null tensor");
    CHECK_EQ(tc_lr_scale_end(tc), TC_OK);
    tc_ctx *other = tc_open(NULL);
    CHECK_EQ(tc_lr_scale_begin(tc, tc_full(other, TC_SCALAR, 2, TC_F32)), TC_E_FOREIGN);
    ERROR(TC_E_FOREIGN, "tc_lr_scale_begin");
    tc_close(other);
    CHECK_EQ(tc_lr_scale_end(tc), TC_OK);
    CHECK_EQ(tc_lr_scale_begin(tc, gone), TC_OK);
    CHECK_EQ(tc_lr_scale_begin(tc, gone), TC_E_STATE);
    ERROR(TC_E_STATE, "there is a factor already");
    tc_free(gone);
    CHECK_EQ(tc_sgd_list_(t.p, t.g, NULL, LIST, 1, 0, 0, 0), TC_E_DEAD);
    ERROR(TC_E_DEAD, "sgd_list_: factor of tc_lr_scale_begin");
    CHECK_NEAR(AT(t.p[0], 0), start(0, 0), 0);
    CHECK_EQ(tc_clip_grad_value_(t.g, LIST, 1), TC_OK); // has no rate
    CHECK_EQ(tc_lr_scale_end(tc), TC_OK);
    CHECK_EQ(tc_sgd_list_(t.p, t.g, NULL, LIST, 1, 0, 0, 0), TC_OK);
}

// Bits of a list eagerly, of single tensors in a region, and of a run that goes on from copies of its states,
// are those of a list in a region.
BOTH(same_bits) {
    for (const kind *k = kinds; k < kinds + KINDS; k++) {
        tensors t[3], saved;
        double want[LIST][MOST], got[LIST][MOST];
        memset(want, 0, sizeof want), memset(got, 0, sizeof got);
        for (int i = 0; i < 3; i++) begin(tc, &t[i], TC_F32);
        steps(tc, k, &t[0], 1, 8, 1);
        steps(tc, k, &t[1], 1, 8, 0);
        read_all(t[0].p, want), read_all(t[1].p, got);
        CHECK_BYTES(want, got, sizeof want);
        for (int n = 1; n <= 8; n++) {
            set_gradients(tc, &t[2], n);
            CHECK_EQ(k->one(k, &t[2], 1, rate(n)).id, t[2].p[1].id);
        }
        read_all(t[2].p, got);
        CHECK_BYTES(want[1], got[1], sizeof want[1]);
        begin(tc, &saved, TC_F32);
        for (int l = 0; l < LIST; l++) {
            tc_copy_(saved.p[l], t[0].p[l]);
            for (int j = 0; j < STATES; j++) tc_copy_(saved.s[j][l], t[0].s[j][l]);
        }
        tc_copy_(saved.step, t[0].step);
        steps(tc, k, &t[0], 9, 14, 1), steps(tc, k, &saved, 9, 14, 1);
        read_all(t[0].p, want), read_all(saved.p, got);
        CHECK_BYTES(want, got, sizeof want);
    }
}

// ---- clipping ----

static void clip_norm(tc_ctx *tc, double type, tc_dtype dtype, double near) {
    for (int n = 0; n < 4; n++) {
        tensors t;
        double norm = 0, limit = n < 2 ? 0.5 + n : 50, x[LIST][MOST];
        begin(tc, &t, dtype);
        set_gradients(tc, &t, n);
        for (int l = 0; l < LIST; l++)
            for (int i = 0; i < count[l]; i++) {
                double g = x[l][i] = gradient(l, n, i);
                norm = type == 2 ? norm + g * g : fmax(norm, fabs(g));
            }
        if (type == 2) norm = sqrt(norm);
        if (n % 2) BEGIN(type == 2 ? "two" : "largest");
        tc_tensor total = tc_clip_grad_norm_(t.g, LIST, limit, type);
        if (n % 2) tc_keep(total);
        if (n % 2) END();
        double by = fmin(1, limit / (norm + 1e-6));
        for (int l = 0; l < LIST; l++)
            for (int i = 0; i < count[l]; i++) x[l][i] *= by;
        CHECK_EQ(tc_dtype_of(total), dtype);
        CHECK_NEAR(tc_item(total), norm, near * 10);
        compare(kinds, "clipped", t.g, x, near);
    }
}

BOTH(clip_norm_2) { clip_norm(tc, 2, TC_F32, 1e-6); }
BOTH(clip_norm_inf) { clip_norm(tc, INFINITY, TC_F32, 1e-6); }
BOTH(clip_norm_2_f64) { clip_norm(tc, 2, TC_F64, 1e-14); }
BOTH(clip_norm_inf_f64) { clip_norm(tc, INFINITY, TC_F64, 1e-14); }

BOTH(clip_norm_of_nan_and_none) {
    tc_tensor g[3];
    g[0] = tc_full(tc, TC_DIMS(2), 3, TC_F32), g[1] = tc_zeros(tc, TC_DIMS(0), TC_F32);
    g[2] = tc_full(tc, TC_DIMS(3), NAN, TC_F32);
    CHECK_NEAR(tc_item(tc_clip_grad_norm_(g, 2, 100, INFINITY)), 3, 0);
    CHECK_NEAR(tc_item(tc_clip_grad_norm_(g + 1, 1, 100, INFINITY)), 0, 0);
    CHECK_NEAR(AT(g[0], 1), 3, 0);
    CHECK_NEAR(tc_item(tc_clip_grad_norm_(g, 3, 100, 2)), NAN, 0);
    CHECK_NEAR(AT(g[0], 0), NAN, 0);
}

BOTH(clip_value) {
    tensors t;
    double x[LIST][MOST];
    begin(tc, &t, TC_F32);
    set_gradients(tc, &t, 1);
    CHECK_EQ(tc_clip_grad_value_(t.g, LIST, 0.3), TC_OK);
    for (int l = 0; l < LIST; l++)
        for (int i = 0; i < count[l]; i++)
            x[l][i] = fmax(-0.3, fmin(0.3, gradient(l, 1, i)));
    compare(kinds, "clipped", t.g, x, 1e-6);
}

// ---- mistakes: nothing is written then ----

BOTH(mistakes_of_all) {
    for (const kind *k = kinds; k < kinds + KINDS; k++) {
        tensors t, wrong;
        char text[80];
        begin(tc, &t, TC_F32);
        set_gradients(tc, &t, 1);
        wrong = t, wrong.g[2] = t.g[1];
        CHECK_EQ(k->all(k, &wrong, 1), TC_E_SHAPE);
        snprintf(text, sizeof text, "%s_list_: grad 2 is [3, 4], its parameter [1]",
                 k->name);
        ERROR(TC_E_SHAPE, text);
        wrong = t, wrong.p[1] = tc_null();
        CHECK_EQ(k->all(k, &wrong, 1), TC_E_NULL);
        ERROR(TC_E_NULL, "parameter 1 is a null tensor");
        wrong = t, wrong.g[2] = tc_zeros(tc, TC_DIMS(1), TC_I64);
        CHECK_EQ(k->all(k, &wrong, 1), TC_E_DTYPE);
        ERROR(TC_E_DTYPE, "grad 2 is i64");
        wrong = t,
        wrong.p[1] = tc_expand(tc_zeros(tc, TC_DIMS(3, 1), TC_F32), TC_DIMS(3, 4));
        CHECK(!k->one(k, &wrong, 1, 1).id);
        ERROR(TC_E_ALIAS, "expanded");
        CHECK_NEAR(AT(t.p[0], 0), start(0, 0), 0);
        CHECK_NEAR(tc_item(t.step), 0, 0);
    }
}

BOTH(mistakes_of_lists) {
    tensors t;
    begin(tc, &t, TC_F32);
    CHECK_EQ(tc_lion_list_(t.p, t.g, t.s[0], -3, 1, 0.9, 0.9, 0), TC_E_ARG);
    ERROR(TC_E_ARG, "lion_list_: -3 tensors");
    CHECK_EQ(tc_lion_list_(t.p, t.g, NULL, LIST, 1, 0.9, 0.9, 0), TC_E_NULL);
    ERROR(TC_E_NULL, "exp_avg is null, an array of 3 is needed");
    CHECK_EQ(tc_sgd_list_(t.p, t.g, NULL, LIST, 1, 0.9, 0, 0), TC_E_NULL);
    ERROR(TC_E_NULL, "momentum_buffer is null");
    CHECK_EQ(tc_sgd_list_(NULL, NULL, NULL, 0, 1, 0.9, 0, 0), TC_OK);
    CHECK_EQ(tc_sgd_list_(t.p, t.g, t.s[0], LIST, NAN, 0.9, 0, 0), TC_E_ARG);
    ERROR(TC_E_ARG, "sgd_list_: lr is nan, 0 or more is needed");
    CHECK(!tc_lion_(t.p[0], t.g[0], t.s[0][0], 1, 0.9, 1, 0).id);
    ERROR(TC_E_ARG, "lion_: beta2 is 1, less than 1 is needed");
    CHECK(
        !tc_adamw_(t.p[0], t.g[0], t.s[0][0], t.s[1][0], t.step, 1, 0.9, 0.9, -1e-8, 0).id);
    ERROR(TC_E_ARG, "adamw_: eps is -1e-08, 0 or more is needed");
    CHECK(!tc_rmsprop_(t.p[0], t.g[0], t.s[0][0], tc_null(), tc_null(), 1, NAN, 0, 0, 0, 0)
               .id);
    ERROR(TC_E_ARG, "rmsprop_: alpha is nan");
    CHECK_NEAR(AT(t.p[0], 0), start(0, 0), 0);
    CHECK_EQ(tc_clip_grad_value_(t.g, LIST, -1), TC_E_ARG);
    ERROR(TC_E_ARG, "clip_grad_value_: the limit is -1");
    CHECK_EQ(tc_clip_grad_value_(NULL, 0, 1), TC_OK);
    CHECK(!tc_clip_grad_norm_(t.g, LIST, NAN, 2).id);
    ERROR(TC_E_ARG, "clip_grad_norm_: the limit is nan");
    CHECK(!tc_clip_grad_norm_(t.g, LIST, 1, 3).id);
    ERROR(TC_E_ARG, "norm_type is 3");
    CHECK(!tc_clip_grad_norm_(t.g, 0, 1, 2).id);
    ERROR(TC_E_ARG, "0 tensors; at least one is needed");
    t.g[1] = tc_zeros(tc, TC_DIMS(2), TC_I32);
    CHECK(!tc_clip_grad_norm_(t.g, LIST, 1, 2).id);
    ERROR(TC_E_DTYPE, "grad 1 is i32");
}
