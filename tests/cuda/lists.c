// One launch for a list of tensors: optimisers' steps and formulas over many tensors of different
// sizes, against the same in double. On a GPU or on the emulator.
#include "tcompile.h"

#include "tcompile_cuda.h"

#define TEST_NO_MAIN
#include "harness.h"
#include "help.h"
#include "tools/cuda_device.h"

#include <math.h>

enum { LIST = 150, STEPS = 4, MOST = 70000 };

// Whole vectors and not, fewer elements than a vector or a block has, one, none, and many.
static int size_of(int i) {
    static const int first[] = {70000, 2,    3,    4, 5,    7,     8,
                                1023,  1024, 1025, 0, 4097, 65537, 1};
    return i < (int)(sizeof first / sizeof *first) ? first[i] : 6 + i * 37 % 700;
}

static tc_dims dims_of(int i) {
    int n = size_of(i);
    return i % 3 == 1 && n % 2 == 0 ? TC_DIMS(2, n / 2) : TC_DIMS(n);
}

// Every fifth tensor is a view that begins inside of another one, at any element.
static tc_tensor on_device(tc_ctx *tc, int i, const double *x, tc_dtype dtype) {
    int n = size_of(i), lead = i % 5 == 3 ? i % 7 : 0;
    double *all = (double *)calloc((size_t)n + 8, sizeof *all);
    if (x) memcpy(all + lead, x, (size_t)n * sizeof *x);
    tc_tensor host = tc_cast(tc_from_data(tc, all, TC_DIMS(n + lead), TC_F64), dtype);
    tc_tensor t = tc_to(host, DEVICE_NAME);
    free(all);
    return tc_reshape(tc_narrow(t, 0, lead, n), dims_of(i));
}

// Exact in bf16.
static double value(int i, int k) { return floor(sin(0.37 * k + i) * 64) / 64; }
static double gradient(int i, int k, int t) {
    return floor(cos(0.11 * k * (1 + t) + 2 * i) * 64) / 64;
}

typedef struct params {
    tc_tensor p[LIST], m[LIST], v[LIST], step;
    double lr;
    int halves; // the second half of the tensors has half the rate, and twice the decay
} params;

typedef struct wanted {
    double *p[LIST], *m[LIST], *v[LIST];
} wanted;

static params given; // what functions keep between calls
static wanted want;
static double scratch[MOST];

static void params_open(tc_ctx *tc, tc_dtype dtype) {
    memset(&given, 0, sizeof given);
    for (int i = 0; i < LIST; i++) {
        size_t n = (size_t)size_of(i) + 1;
        want.p[i] = (double *)calloc(n, sizeof(double));
        want.m[i] = (double *)calloc(n, sizeof(double));
        want.v[i] = (double *)calloc(n, sizeof(double));
        for (int k = 0; k < size_of(i); k++) want.p[i][k] = value(i, k);
        given.p[i] = on_device(tc, i, want.p[i], dtype);
        given.m[i] = on_device(tc, i, NULL, TC_F32);
        given.v[i] = on_device(tc, i, NULL, TC_F32);
    }
    given.step = tc_to(tc_zeros(tc, TC_SCALAR, TC_F32), DEVICE_NAME);
    given.lr = 0.01;
}

static void params_close(void) {
    for (int i = 0; i < LIST; i++) free(want.p[i]), free(want.m[i]), free(want.v[i]);
}

// New tensors, so that they are elsewhere than those of the step before.
static void gradients(tc_ctx *tc, tc_tensor *g, int t, tc_dtype dtype) {
    for (int i = 0; i < LIST; i++) {
        for (int k = 0; k < size_of(i); k++) scratch[k] = gradient(i, k, t);
        g[i] = on_device(tc, i, scratch, dtype);
    }
}

static void adamw_want(int t) {
    double c1 = 1 - pow(0.9, t), c2 = 1 - pow(0.999, t);
    for (int i = 0; i < LIST; i++) {
        for (int k = 0; k < size_of(i); k++) {
            double g = gradient(i, k, t), *p = &want.p[i][k];
            double *m = &want.m[i][k], *v = &want.v[i][k];
            *m = 0.9 * *m + 0.1 * g;
            *v = 0.999 * *v + 0.001 * g * g;
            double lr = given.lr * (given.halves && i >= LIST / 2 ? 0.5 : 1);
            *p = *p * (1 - given.lr * 0.1) - lr / c1 * *m / (sqrt(*v) / sqrt(c2) + 1e-8);
        }
    }
}

static void compare(tc_tensor t, const double *x, int n, double near, const char *what,
                    int i) {
    int bad = 0;
    REQUIRE(tc_numel(t) == n);
    CHECK_EQ(
        tc_read(tc_cast(tc_to(t, "cpu"), TC_F64), scratch, (size_t)n * sizeof *scratch),
        TC_OK);
    for (int k = 0; k < n && bad < 2; k++)
        if (!(fabs(scratch[k] - x[k]) <= near * (1 + fabs(x[k]))))
            FAIL("%s %d of %d elements: element %d is %.9g, not %.9g", what, i, n, k,
                 scratch[k], x[k]),
                bad++;
}

static void compare_all(double near, double near_moments) {
    for (int i = 0; i < LIST; i++) {
        compare(given.p[i], want.p[i], size_of(i), near, "parameter", i);
        compare(given.m[i], want.m[i], size_of(i), near_moments, "exp_avg", i);
        compare(given.v[i], want.v[i], size_of(i), near_moments, "exp_avg_sq", i);
    }
}

// Launches of a call: kernels of the device, as tc_stats counts them.
static int launches_of_call(tc_ctx *tc, tc_fn *f, const tc_tensor *in, int n_in,
                            tc_tensor *out, int n_out) {
    uint64_t before = tc_stats_get(tc).kernel_runs;
    unsigned ran = fake ? (unsigned)fake->executed : 0;
    CHECK_EQ(tc_call(f, in, n_in, out, n_out), TC_OK);
    CHECK_EQ(tc_sync(tc), TC_OK);
    int counted = (int)(tc_stats_get(tc).kernel_runs - before);
    if (fake) CHECK_EQ((unsigned)fake->executed - ran, (unsigned)counted);
    return counted;
}

// A test with a context that has the device, in each way to run.
static void in_mode(const char *mode, void (*body)(tc_ctx *)) {
    tc_config config = tc_config_default();
    config.threads = 2;
    setenv("TC_MODE", mode, 1), setenv("TC_CUDA_GRAPH_BRANCHES", "1", 1);
    tc_ctx *tc = tc_open(&config);
    unsetenv("TC_MODE");
    REQUIRE(open_device(tc));
    unsetenv("TC_CUDA_GRAPH_BRANCHES");
    if (fake) fake->last_first = 1; // of a graph, what may run early does
    body(tc);
    if (tc_error(tc)) FAIL("error left over: %s", tc_error_text(tc));
    tc_close(tc);
    check_device_closed();
}

#define LISTS(name, mode)                                                                  \
    static void body_##name(tc_ctx *tc);                                                   \
    TEST(name) { in_mode(mode, body_##name); }                                             \
    static void body_##name(tc_ctx *tc)

// ---- AdamW ----

static void adamw(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    params *s = (params *)user;
    (void)tc, (void)out;
    tc_adamw_list_(s->p, in, s->m, s->v, LIST, s->step, s->lr, 0.9, 0.999, 1e-8, 0.1);
}

enum { IN_ONE = 2, IN_PARTS = 5 }; // launches

// The counter's kernel, which has the tensors of one element too, and one launch for all others.
static void adamw_steps(tc_ctx *tc, tc_dtype dtype, double near, int launches) {
    static tc_tensor g[LIST];
    params_open(tc, dtype);
    tc_fn *f = tc_compile(tc, adamw, &given, sizeof given, NULL);
    for (int t = 1; t <= STEPS; t++) {
        tc_scope_begin(tc);
        gradients(tc, g, t, dtype);
        CHECK_EQ(launches_of_call(tc, f, g, LIST, NULL, 0), launches);
        tc_scope_end(tc);
        adamw_want(t);
    }
    compare_all(near, 1e-5);
    tc_fn_free(f);
    params_close();
}

LISTS(adamw_f32, "max-autotune-no-cudagraphs") { adamw_steps(tc, TC_F32, 1e-5, IN_ONE); }
LISTS(adamw_as_a_graph, "reduce-overhead") { adamw_steps(tc, TC_F32, 1e-5, IN_ONE); }
LISTS(adamw_bf16, "default") { adamw_steps(tc, TC_BF16, 0.02, IN_ONE); }

// The same in a region, each half of the tensors at a rate of its own that changes from step to step, which is a
// number of the run from the second program on: still one launch.
static void scheduled(tc_ctx *tc, const tc_tensor *g, int t) {
    params *s = &given;
    const int half = LIST / 2;
    given.lr = 0.01 / t;
    CHECK_EQ(tc_trace_begin(tc, "scheduled"), TC_OK);
    tc_adamw_list_(s->p, g, s->m, s->v, half, s->step, s->lr, 0.9, 0.999, 1e-8, 0.1);
    tc_sub_(s->step, tc_ones(tc, TC_SCALAR, TC_F32)); // both halves are of one step
    tc_adamw_list_(s->p + half, g + half, s->m + half, s->v + half, LIST - half, s->step,
                   s->lr * 0.5, 0.9, 0.999, 1e-8, 0.2);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
}

LISTS(adamw_of_two_schedules, "default") {
    static tc_tensor g[LIST];
    enum { MANY = 7, IN_ONE_EACH = 3 };
    params_open(tc, TC_F32);
    given.halves = 1;
    for (int t = 1; t <= MANY; t++) {
        tc_scope_begin(tc);
        gradients(tc, g, t, TC_F32);
        uint64_t before = tc_stats_get(tc).kernel_runs;
        scheduled(tc, g, t);
        CHECK_EQ(tc_sync(tc), TC_OK);
        int launches = (int)(tc_stats_get(tc).kernel_runs - before);
        tc_scope_end(tc);
        if (t > 3) CHECK_EQ(launches, IN_ONE_EACH);
        adamw_want(t);
    }
    compare_all(1e-5, 1e-5);
    params_close();
}

static void body_adamw_in_parts(tc_ctx *tc) { adamw_steps(tc, TC_F32, 1e-5, IN_PARTS); }

// Where arguments are few, as with drivers before CUDA 12.1: 48 of the 148 tensors in a launch.
TEST(adamw_in_few_arguments) {
    REQUIRE(device_use());
    if (device_is_real) SKIP("a GPU has the driver that it has");
    fake->version = 12000;
    in_mode("reduce-overhead", body_adamw_in_parts);
}

// ---- results that are new tensors ----

enum { FEW = 12 };

static int few_size(int i) { return i == 5 ? 3000 : 17 + 13 * i; }

// x[i] of few_size(i) elements: a + i + k * step, exact in f32
static tc_tensor few(tc_ctx *tc, int i, double a, double step) {
    tc_tensor host = line(tc, few_size(i), a + i, step), t = tc_to(host, DEVICE_NAME);
    tc_free(host);
    return t;
}

static tc_tensor to_device_zeros(tc_ctx *tc, int n) {
    return tc_to(tc_zeros(tc, TC_DIMS(n), TC_F32), DEVICE_NAME);
}

static void few_check(tc_tensor t, int i, double (*at)(int i, int k, int round),
                      int round) {
    int bad = 0, n = few_size(i);
    float *x = (float *)calloc((size_t)n, sizeof *x);
    CHECK_EQ(tc_read(t, x, (size_t)n * sizeof *x), TC_OK);
    for (int k = 0; k < n && bad < 2; k++)
        if ((double)x[k] != at(i, k, round))
            FAIL("tensor %d, round %d: element %d is %.9g, not %.9g", i, round, k,
                 (double)x[k], at(i, k, round)),
                bad++;
    free(x);
}

// Two formulas, each over a list: p - g / 2, and h a + 1.
static void two_formulas(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    for (int i = 0; i < FEW; i++) out[i] = tc_sub(in[i], tc_mul_s(in[FEW + i], 0.5));
    for (int i = 0; i < FEW; i++)
        out[FEW + i] = tc_add_s(tc_mul(in[2 * FEW + i], in[3 * FEW]), 1);
}

static double stepped_at(int i, int k, int round) {
    return round + i + 2.0 * k - 0.5 * (3 * round + i + k);
}

static double scaled_at(int i, int k, int round) {
    return (3 * round + i + k) * (round + 0.25) + 1;
}

static void two_lists(tc_ctx *tc) {
    tc_tensor in[3 * FEW + 1], out[2 * FEW];
    tc_fn *f = tc_compile(tc, two_formulas, NULL, 0, NULL);
    for (int round = 1; round <= 5; round++) {
        tc_scope_begin(tc);
        for (int i = 0; i < FEW; i++) {
            in[i] = few(tc, i, round, 2);
            in[FEW + i] = few(tc, i, 3 * round, 1);
            in[2 * FEW + i] = few(tc, i, 3 * round, 1);
        }
        in[3 * FEW] = tc_to(tc_full(tc, TC_SCALAR, round + 0.25, TC_F32), DEVICE_NAME);
        CHECK_EQ(launches_of_call(tc, f, in, 3 * FEW + 1, out, 2 * FEW), 2);
        for (int i = 0; i < FEW; i++) {
            few_check(out[i], i, stepped_at, round);
            few_check(out[FEW + i], i, scaled_at, round);
        }
        tc_scope_end(tc);
    }
    tc_fn_free(f);
}

LISTS(two_formulas_one_by_one, "max-autotune-no-cudagraphs") { two_lists(tc); }
LISTS(two_formulas_as_a_graph, "reduce-overhead") { two_lists(tc); }

// ---- SGD ----

typedef struct sgd_state {
    tc_tensor p[FEW], m[FEW];
} sgd_state;

static void sgd(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    sgd_state *s = (sgd_state *)user;
    (void)tc, (void)out;
    for (int i = 0; i < FEW; i++) tc_sgd_(s->p[i], in[i], s->m[i], 0.5, 0.5, 0, 0);
}

// After n steps with the gradient g: m = (2 - 2^(1-n)) g, all of it exact in f32.
static double sgd_moment(int i, int k, int round) {
    return (2 - ldexp(1, 1 - round)) * (i + 4 * k);
}
static double sgd_param(int i, int k, int round) {
    double p = 1 + i + k;
    for (int n = 1; n <= round; n++) p -= 0.5 * sgd_moment(i, k, n);
    return p;
}

LISTS(sgd_list, "reduce-overhead") {
    static sgd_state s;
    tc_tensor g[FEW];
    for (int i = 0; i < FEW; i++) s.p[i] = few(tc, i, 1, 1);
    for (int i = 0; i < FEW; i++) s.m[i] = to_device_zeros(tc, few_size(i));
    tc_fn *f = tc_compile(tc, sgd, &s, sizeof s, NULL);
    for (int round = 1; round <= 4; round++) {
        tc_scope_begin(tc);
        for (int i = 0; i < FEW; i++) g[i] = few(tc, i, 0, 4);
        CHECK_EQ(launches_of_call(tc, f, g, FEW, NULL, 0), 1);
        for (int i = 0; i < FEW; i++) {
            few_check(s.m[i], i, sgd_moment, round);
            few_check(s.p[i], i, sgd_param, round);
        }
        tc_scope_end(tc);
    }
    tc_fn_free(f);
}

// ---- the other optimisers: few launches, and the numbers of the host ----

typedef struct other_state {
    tc_tensor p[FEW], a[FEW], b[FEW], c[FEW], step;
    int which;
} other_state;

static void other(tc_ctx *tc, const tc_tensor *g, tc_tensor *out, void *user) {
    other_state *s = (other_state *)user;
    (void)tc, (void)out;
    if (s->which == 0)
        tc_adam_list_(s->p, g, s->a, s->b, FEW, s->step, 0.1, 0.9, 0.999, 1e-8, 0.1);
    if (s->which == 1) tc_adagrad_list_(s->p, g, s->a, FEW, s->step, 0.1, 0.1, 1e-10, 0.1);
    if (s->which == 2)
        tc_rmsprop_list_(s->p, g, s->a, s->b, s->c, FEW, 0.1, 0.9, 1e-8, 0.1, 0.9, 1);
    if (s->which == 3) tc_lion_list_(s->p, g, s->a, FEW, 0.1, 0.9, 0.99, 0.1);
    if (s->which == 4) tc_sgd_list_(s->p, g, s->a, FEW, 0.1, 0.9, 0.1, 1);
    if (s->which == 5) tc_clip_grad_value_(s->p, FEW, 5);
}

enum { OTHERS = 6 };

static void other_open(tc_ctx *tc, other_state *s, tc_tensor *g, const char *device) {
    s->step = tc_to(tc_zeros(tc, TC_SCALAR, TC_F32), device);
    for (int i = 0; i < FEW; i++) {
        int n = few_size(i);
        s->p[i] = tc_to(line(tc, n, i, 0.01), device);
        s->a[i] = tc_to(line(tc, n, 0, 0), device);
        s->b[i] = tc_to(line(tc, n, 0, 0), device);
        s->c[i] = tc_to(line(tc, n, 0, 0), device);
        g[i] = tc_to(line(tc, n, i - 2.5, 0.02), device);
    }
}

static void check_same(tc_tensor a, tc_tensor b) {
    for (int i = 0; i < 17; i++) CHECK_NEAR(AT(a, i), AT(b, i), 1e-4);
}

LISTS(other_lists, "reduce-overhead") {
    static const int launches[OTHERS] = {2, 2, 1, 1, 1, 1};
    for (int which = 0; which < OTHERS; which++) {
        static other_state s, host;
        tc_tensor g[FEW], host_g[FEW];
        tc_scope_begin(tc);
        other_open(tc, &s, g, DEVICE_NAME), other_open(tc, &host, host_g, "cpu");
        s.which = host.which = which;
        tc_fn *f = tc_compile(tc, other, &s, sizeof s, NULL);
        for (int round = 0; round < 3; round++) {
            int n = launches_of_call(tc, f, g, FEW, NULL, 0);
            if (n != launches[which]) FAIL("optimiser %d: %d launches", which, n);
            other(tc, host_g, NULL, &host);
        }
        for (int i = 0; i < FEW; i++)
            check_same(s.p[i], host.p[i]), check_same(s.a[i], host.a[i]);
        tc_fn_free(f);
        tc_scope_end(tc);
    }
}

// ---- what depends on each other ----

// Each tensor is scaled by the sum of the one before it, after that was scaled: no two of the scalings
// may share a launch, though they are the same.
static void one_after_another(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    tc_tensor by = in[FEW];
    for (int i = 0; i < FEW; i++) {
        out[i] = tc_mul(in[i], by);
        by = tc_mul_s(tc_amax_dims(out[i], TC_DIMS(0), 0), 1.0 / 64);
    }
}

LISTS(dependence, "max-autotune-no-cudagraphs") {
    tc_tensor in[FEW + 1], out[FEW];
    tc_fn *f = tc_compile(tc, one_after_another, NULL, 0, NULL);
    for (int i = 0; i < FEW; i++) in[i] = few(tc, i, 1, 0.25);
    in[FEW] = tc_to(tc_full(tc, TC_SCALAR, 0.5, TC_F32), DEVICE_NAME);
    CHECK(launches_of_call(tc, f, in, FEW + 1, out, FEW) >= FEW);
    double by = 0.5;
    for (int i = 0; i < FEW; i++) {
        double last = (1 + i + 0.25 * (few_size(i) - 1)) * by;
        CHECK_NEAR(AT(out[i], 0), (1 + i) * by, 1e-5 * fabs(by));
        CHECK_NEAR(AT(out[i], few_size(i) - 1), last, 1e-5 * last);
        by = last / 64;
    }
    tc_fn_free(f);
}

// Parameters are read by one list and written in place by another: both orders of recording. Before
// that, other tensors are written by the same formula, so that those that are written could be first.
typedef struct both {
    tc_tensor p[FEW], q[FEW];
    int write_first;
} both;

static void read_and_write(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    both *s = (both *)user;
    (void)tc;
    for (int i = 0; i < FEW; i++) tc_copy_(s->q[i], tc_sub(s->q[i], tc_mul_s(in[i], 0.5)));
    for (int turn = 0; turn < 2; turn++)
        for (int i = 0; i < FEW; i++) {
            if (turn == s->write_first)
                out[i] = tc_add(tc_mul_s(s->p[i], 3), in[i]);
            else
                tc_copy_(s->p[i], tc_sub(s->p[i], tc_mul_s(in[i], 0.5)));
        }
}

static double base_at(int i, int k, int round) {
    return i + k - round * 0.5 * (8 + i + 2 * k);
}
static double read_before(int i, int k, int round) {
    return 3 * base_at(i, k, round - 1) + 8 + i + 2 * k;
}
static double read_behind(int i, int k, int round) {
    return 3 * base_at(i, k, round) + 8 + i + 2 * k;
}

static void read_write(tc_ctx *tc) {
    tc_tensor in[FEW], out[FEW];
    static both s;
    for (int order = 0; order < 2; order++) {
        s.write_first = order;
        for (int i = 0; i < FEW; i++) {
            s.p[i] = few(tc, i, 0, 1), s.q[i] = few(tc, i, 0, 1);
            in[i] = few(tc, i, 8, 2);
        }
        tc_fn *f = tc_compile(tc, read_and_write, &s, sizeof s, NULL);
        for (int round = 1; round <= 4; round++) {
            int n = launches_of_call(tc, f, in, FEW, out, FEW);
            CHECK(n <= 2 || FAIL("%d launches", n));
            for (int i = 0; i < FEW; i++) {
                few_check(s.p[i], i, base_at, round);
                few_check(s.q[i], i, base_at, round);
                few_check(out[i], i, order ? read_behind : read_before, round);
                tc_free(out[i]);
            }
        }
        tc_fn_free(f);
    }
}

LISTS(written_in_place_one_by_one, "max-autotune-no-cudagraphs") { read_write(tc); }
LISTS(written_in_place_as_a_graph, "reduce-overhead") { read_write(tc); }

// Read from the second element on, by a kernel, then written in place by another: nothing but what the
// launches come after keeps them in order.
typedef struct pair {
    tc_tensor p[2];
} pair;

static void shifted(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    pair *s = (pair *)user;
    (void)tc;
    for (int i = 0; i < 2; i++)
        out[i] = tc_mul_s(tc_narrow(s->p[i], 0, 1, few_size(i) - 1), 3);
    for (int i = 0; i < 2; i++) tc_copy_(s->p[i], tc_sub(s->p[i], in[i]));
}

LISTS(read_before_it_is_written, "reduce-overhead") {
    tc_tensor in[2], out[2];
    static pair s;
    for (int i = 0; i < 2; i++) s.p[i] = few(tc, i, 0, 1), in[i] = few(tc, i, 1, 0);
    tc_fn *f = tc_compile(tc, shifted, &s, sizeof s, NULL);
    for (int round = 0; round < 5; round++) {
        CALL(f, in, 2, out, 2);
        for (int i = 0; i < 2; i++)
            for (int k = 0; k < few_size(i) - 1; k += 5)
                CHECK_EQ(AT(out[i], k), 3 * (i + k + 1 - round * (1 + i)));
    }
    tc_fn_free(f);
}

// ---- reductions of rows ----

enum { SUMS = 29, ONE_ROWS = 18, SHORT_ROWS = 23, LONG_ROWS = 12 };

// Rows of one length, of another that no vector divides, of one that blocks share; single rows; rows for some threads of a
// warp.
static void sum_shape(int i, int *rows, int *columns) {
    static const int many[] = {2, 300, 7, 33, 64, 5}, few[] = {2, 5, 3, 8, 4, 6};
    *rows = i < LONG_ROWS ? many[i % 6] : few[i % 6];
    *columns = i < 6 ? 1000 : i < LONG_ROWS ? 77 : 8192;
    if (i >= ONE_ROWS) *rows = 1, *columns = 1000;
    if (i >= SHORT_ROWS) *rows = many[i % 6], *columns = 40;
}

static double elements[300 * 1000];

// In such values the order of additions is in the bits.
static double wave(int i, int k) { return sin(0.37 * k + i) * (1 + i); }

static tc_tensor sum_operand(tc_ctx *tc, int i, tc_dtype dtype) {
    int rows, columns;
    sum_shape(i, &rows, &columns);
    for (int k = 0; k < rows * columns; k++) elements[k] = wave(i, k);
    tc_tensor host =
        tc_cast(tc_from_data(tc, elements, TC_DIMS(rows, columns), TC_F64), dtype);
    return tc_to(host, DEVICE_NAME);
}

typedef tc_tensor (*sum_of)(tc_ctx *tc, tc_tensor x);

static tc_tensor squares(tc_ctx *tc, tc_tensor x) {
    (void)tc;
    return tc_sum_dims(tc_square(tc_cast(x, TC_F32)), TC_DIMS(1), 0);
}
static tc_tensor largest(tc_ctx *tc, tc_tensor x) {
    (void)tc;
    return tc_amax_dims(tc_abs(x), TC_DIMS(1), 0);
}
static tc_tensor where_largest(tc_ctx *tc, tc_tensor x) {
    (void)tc;
    return tc_argmax_dims(x, TC_DIMS(1), 0);
}

typedef struct sums {
    sum_of each;
    int count;
} sums;

static void sum_all_of(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    const sums *s = (const sums *)user;
    for (int i = 0; i < s->count; i++) out[i] = s->each(tc, in[i]);
}

static double sum_wanted(sum_of each, const double *x, int columns) {
    double y = each == squares ? 0 : -1;
    int at = 0;
    for (int k = 0; k < columns; k++) {
        if (each == squares) y += x[k] * x[k];
        if (each == largest && fabs(x[k]) > y) y = fabs(x[k]);
        if (each == where_largest && x[k] > x[at]) at = k;
    }
    return each == where_largest ? at : y;
}

static void sums_compare(tc_tensor x, tc_tensor y, sum_of each, int i) {
    static double got[512];
    int rows, columns, bad = 0;
    sum_shape(i, &rows, &columns);
    CHECK_EQ(tc_read(tc_cast(tc_to(x, "cpu"), TC_F64), elements,
                     (size_t)(rows * columns) * sizeof *elements),
             TC_OK);
    CHECK_EQ(
        tc_read(tc_cast(tc_to(y, "cpu"), TC_F64), got, (size_t)rows * sizeof *elements),
        TC_OK);
    for (int r = 0; r < rows && bad < 2; r++) {
        double wants = sum_wanted(each, elements + r * columns, columns);
        if (!(fabs(got[r] - wants) <= 1e-5 * fabs(wants)))
            FAIL("%d: row %d of %d x %d is %.9g, not %.9g", i, r, rows, columns, got[r],
                 wants),
                bad++;
    }
}

// The bits are those of a program for this tensor alone.
static void sums_same(tc_ctx *tc, tc_tensor x, tc_tensor y, sum_of each, int i) {
    static unsigned char a[4096], b[4096];
    sums one;
    tc_tensor alone;
    int rows, columns;
    sum_shape(i, &rows, &columns);
    one.each = each, one.count = 1;
    tc_fn *f = tc_compile(tc, sum_all_of, &one, sizeof one, NULL);
    CALL(f, &x, 1, &alone, 1);
    size_t bytes = (size_t)tc_numel(y) * (tc_dtype_of(y) == TC_I64    ? 8
                                          : tc_dtype_of(y) == TC_BF16 ? 2
                                                                      : 4);
    CHECK_EQ(tc_read(tc_to(y, "cpu"), a, bytes), TC_OK);
    CHECK_EQ(tc_read(tc_to(alone, "cpu"), b, bytes), TC_OK);
    if (memcmp(a, b, bytes)) FAIL("%d: %d x %d has other bits in a list", i, rows, columns);
    tc_fn_free(f);
}

static void sums_of_rows(tc_ctx *tc, sum_of each, tc_dtype dtype, int launches) {
    tc_tensor in[SUMS], out[SUMS];
    sums s;
    s.each = each, s.count = SUMS;
    tc_fn *f = tc_compile(tc, sum_all_of, &s, sizeof s, NULL);
    for (int i = 0; i < SUMS; i++) in[i] = sum_operand(tc, i, dtype);
    for (int round = 0; round < 3; round++) { // where blocks meet, nothing is left behind
        tc_scope_begin(tc);
        CHECK_EQ(launches_of_call(tc, f, in, SUMS, out, SUMS), launches);
        for (int i = 0; i < SUMS; i++) sums_compare(in[i], out[i], each, i);
        for (int i = 0; i < SUMS && round == 1; i++) sums_same(tc, in[i], out[i], each, i);
        tc_scope_end(tc);
    }
    tc_fn_free(f);
}

enum { IN_FIVE = 5 }; // one for each length, and one for single rows

LISTS(squares_of_f32, "max-autotune-no-cudagraphs") {
    sums_of_rows(tc, squares, TC_F32, IN_FIVE);
}
LISTS(squares_of_bf16, "reduce-overhead") { sums_of_rows(tc, squares, TC_BF16, IN_FIVE); }
LISTS(largest_of_bf16, "default") { sums_of_rows(tc, largest, TC_BF16, IN_FIVE); }
LISTS(places_of_f32, "default") { sums_of_rows(tc, where_largest, TC_F32, IN_FIVE); }

// Reductions of two kinds that are one kernel stay one: in lists they would be two launches.
static void two_kinds(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)user;
    for (int i = 0; i < FEW; i++) out[i] = i % 2 ? squares(tc, in[i]) : largest(tc, in[i]);
}

LISTS(kinds_of_one_kernel, "default") {
    tc_tensor in[FEW], out[FEW];
    tc_fn *f = tc_compile(tc, two_kinds, NULL, 0, NULL);
    for (int i = 0; i < FEW; i++) in[i] = sum_operand(tc, ONE_ROWS, TC_F32);
    CHECK_EQ(launches_of_call(tc, f, in, FEW, out, FEW), 1);
    for (int i = 0; i < FEW; i++)
        sums_compare(in[i], out[i], i % 2 ? squares : largest, ONE_ROWS);
    tc_fn_free(f);
}

// What is stored at each element and summed, in place: each row is scaled, by one number for all.
typedef struct scaled_rows {
    tc_tensor x[FEW], by;
} scaled_rows;

static void scale_and_sum(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    scaled_rows *s = (scaled_rows *)user;
    (void)tc, (void)in;
    for (int i = 0; i < FEW; i++) {
        tc_mul_(s->x[i], s->by);
        out[i] = tc_mul(tc_sum_dims(s->x[i], TC_DIMS(1), 0), s->by);
    }
}

LISTS(rows_in_place, "reduce-overhead") {
    enum { COLUMNS = 24, ROUNDS = 3 };
    static scaled_rows s;
    tc_tensor out[FEW];
    s.by = tc_to(tc_full(tc, TC_SCALAR, 0.5, TC_F32), DEVICE_NAME);
    for (int i = 0; i < FEW; i++) {
        int rows = 1 + 3 * i;
        tc_tensor host = tc_reshape(line(tc, rows * COLUMNS, i, 1), TC_DIMS(rows, COLUMNS));
        s.x[i] = tc_to(host, DEVICE_NAME);
    }
    tc_fn *f = tc_compile(tc, scale_and_sum, &s, sizeof s, NULL);
    for (int round = 1; round <= ROUNDS; round++) {
        CHECK_EQ(launches_of_call(tc, f, NULL, 0, out, FEW), 2); // one has a single row
        for (int i = 0; i < FEW; i++)
            for (int r = 0; r < 1 + 3 * i; r++) { // exact in f32
                double first = i + r * COLUMNS,
                       sum = COLUMNS * (first + 0.5 * (COLUMNS - 1));
                double by = ldexp(1, -round);
                CHECK_EQ(AT(out[i], r), 0.5 * by * sum);
                CHECK_EQ(AT(tc_reshape(s.x[i], TC_DIMS(-1)), r * COLUMNS), by * first);
            }
    }
    tc_fn_free(f);
}

// ---- the norm of all gradients ----

enum { NORMS = 6, CHUNK = 8192 };

static int norm_size(int i) { return CHUNK * (8 + i) + (i == 5 ? 3 : 0); }

typedef struct clipped {
    tc_tensor g[NORMS];
    double type;
} clipped;

static void clip(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    clipped *s = (clipped *)user;
    (void)tc;
    for (int i = 0; i < NORMS; i++) tc_copy_(s->g[i], in[i]);
    out[0] = tc_clip_grad_norm_(s->g, NORMS, 1, s->type);
}

static void clip_norm(tc_ctx *tc, double type, tc_dtype dtype, int launches) {
    static clipped s;
    double norm = 0, got, first;
    tc_tensor in[NORMS], out;
    s.type = type;
    for (int i = 0; i < NORMS; i++) {
        int n = norm_size(i);
        for (int k = 0; k < n; k++) {
            elements[k] = ldexp(value(i, k), i);
            norm = type == 2 ? norm + elements[k] * elements[k]
                             : fmax(norm, fabs(elements[k]));
        }
        in[i] = tc_to(tc_cast(tc_from_data(tc, elements, TC_DIMS(n), TC_F64), dtype),
                      DEVICE_NAME);
        s.g[i] = tc_to(tc_zeros(tc, TC_DIMS(n), dtype), DEVICE_NAME);
    }
    if (type == 2) norm = sqrt(norm);
    tc_fn *f = tc_compile(tc, clip, &s, sizeof s, NULL);
    for (int round = 0; round < 2; round++) {
        CHECK_EQ(launches_of_call(tc, f, in, NORMS, &out, 1), launches);
        CHECK_EQ(tc_read(tc_cast(tc_to(out, "cpu"), TC_F64), &got, sizeof got), TC_OK);
        CHECK_NEAR(got, norm, 1e-5 * norm);
        for (int i = 0; i < NORMS; i++) {
            first = ldexp(value(i, 1), i) / norm;
            tc_tensor g = tc_cast(tc_to(tc_narrow(s.g[i], 0, 1, 1), "cpu"), TC_F32);
            CHECK_NEAR(AT(g, 0), first, 1e-2 * fabs(first) + 1e-9);
        }
    }
    tc_fn_free(f);
}

// What is no multiple of a chunk, sums of rows in a list, what adds up each of the five, and a list of products.
enum { IN_EIGHT = 8 };

LISTS(norm_of_f32, "default") { clip_norm(tc, 2, TC_F32, IN_EIGHT); }
LISTS(norm_of_bf16, "reduce-overhead") { clip_norm(tc, 2, TC_BF16, IN_EIGHT); }
LISTS(largest_norm, "default") { clip_norm(tc, INFINITY, TC_F32, IN_EIGHT); }

// Sums that a loop needs in each of its turns: what is made of their rows stands before it.
enum { TURNS = 3, WIDTH = 40 };

static void turn(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    const tc_tensor *total = (const tc_tensor *)user;
    (void)tc;
    out[0] = out[1] = tc_add(tc_mul(tc_cumsum(in[0], 0), *total), in[1]); // two kernels
}

static void sums_of_turns(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    tc_tensor total, h = tc_zeros_like(tc_select(in[NORMS], 0, 0)), last;
    (void)user, (void)tc;
    for (int i = 0; i < NORMS; i++) {
        tc_tensor x = tc_sum_all(in[i]);
        total = i ? tc_add(total, x) : x;
    }
    CHECK_EQ(tc_scan(turn, &total, &h, 1, &in[NORMS], 1, &last, out, 1), TC_OK);
}

LISTS(sums_that_a_loop_needs, "default") {
    tc_tensor in[NORMS + 1], out;
    double total = 0, h[WIDTH], sum; // exact in f32
    for (int i = 0; i < NORMS; i++) {
        int n = CHUNK * (8 + i);
        in[i] = tc_to(tc_full(tc, TC_DIMS(n), 1.0 / CHUNK, TC_F32), DEVICE_NAME);
        total += 8 + i;
    }
    in[NORMS] = tc_to(tc_ones(tc, TC_DIMS(TURNS, WIDTH), TC_F32), DEVICE_NAME);
    tc_fn *f = tc_compile(tc, sums_of_turns, NULL, 0, NULL);
    for (int round = 0; round < 2; round++) {
        CALL(f, in, NORMS + 1, &out, 1);
        memset(h, 0, sizeof h);
        for (int step = 0; step < TURNS; step++) {
            sum = 0;
            for (int k = 0; k < WIDTH; k++) sum += h[k], h[k] = sum * total + 1;
            CHECK_EQ(AT(tc_reshape(out, TC_DIMS(-1)), step * WIDTH + 7), h[7]);
        }
        tc_free(out);
    }
    tc_fn_free(f);
}

// ---- run-time sizes ----

static void halves(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    for (int i = 0; i < FEW; i++) out[i] = tc_mul_s(in[i], 0.5);
}

// A program for all sizes, and a list whose tensors have others in each call.
LISTS(run_time_sizes, "default") {
    tc_tensor in[FEW], out[FEW];
    tc_options o = tc_options_default();
    tc_fn *f = tc_compile(tc, halves, NULL, 0, &o);
    for (int round = 1; round <= 5; round++) {
        for (int i = 0; i < FEW; i++) {
            int n = 2 + (i * 7 + round * round * 5) % 23;
            tc_tensor host = line(tc, n, i, 1);
            in[i] = tc_to(host, DEVICE_NAME);
            tc_free(host);
        }
        CHECK_EQ(tc_call(f, in, FEW, out, FEW), TC_OK);
        for (int i = 0; i < FEW; i++)
            for (int k = 0; k < (int)tc_numel(in[i]); k += 7)
                CHECK_EQ(AT(out[i], k), 0.5 * (i + k));
    }
    tc_fn_free(f);
}

// ---- weights under autocast ----

enum { LAYERS = 5, ROWS = 256, WIDEST = 192 };

static const int width_of[LAYERS + 1] = {128, 192, 64, 128, 64, 192};

static double weight(int l, int i, int k) {
    return floor(8 * sin(1 + l + 0.7 * i + 0.3 * k)) / 32; // exact in bf16
}

static void linears(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    tc_tensor x = in[LAYERS];
    (void)user;
    tc_autocast_begin(tc, TC_BF16);
    for (int l = 0; l < LAYERS; l++) x = tc_relu(tc_linear(x, in[l], tc_null()));
    tc_autocast_end(tc);
    out[0] = tc_cast(x, TC_F32);
}

// Each layer's product needs the one before: the casts stand between them, but happen in one launch.
LISTS(weights_are_cast_at_once, "default") {
    double x[WIDEST], y[WIDEST];
    static float w[ROWS * WIDEST];
    tc_tensor in[LAYERS + 1], out;
    for (int l = 0; l < LAYERS; l++) {
        int rows = width_of[l + 1], n = width_of[l];
        for (int i = 0; i < rows * n; i++) w[i] = (float)weight(l, i / n, i % n);
        in[l] = tc_to(tc_from_data(tc, w, TC_DIMS(rows, n), TC_F32), DEVICE_NAME);
    }
    in[LAYERS] = tc_to(tc_ones(tc, TC_DIMS(ROWS, width_of[0]), TC_F32), DEVICE_NAME);
    tc_fn *f = tc_compile(tc, linears, NULL, 0, NULL);
    CHECK(launches_of_call(tc, f, in, LAYERS + 1, &out, 1) <=
          1 + LAYERS); // two products may be one
    for (int i = 0; i < WIDEST; i++) x[i] = 1;
    for (int l = 0; l < LAYERS; l++, memcpy(x, y, sizeof x))
        for (int i = 0; i < width_of[l + 1]; i++) {
            y[i] = 0;
            for (int k = 0; k < width_of[l]; k++) y[i] += x[k] * weight(l, i, k);
            if (y[i] < 0) y[i] = 0;
        }
    REQUIRE(tc_numel(out) == ROWS * width_of[LAYERS]);
    CHECK_EQ(tc_read(tc_to(out, "cpu"), w, sizeof *w * (size_t)tc_numel(out)), TC_OK);
    for (int i = 0; i < width_of[LAYERS];
         i++) { // of row i, after as many roundings to bf16 as layers
        double got = w[(size_t)i * width_of[LAYERS] + i];
        if (!(fabs(got - y[i]) <= 0.03 * (1 + fabs(y[i]))))
            FAIL("element %d is %.9g, not %.9g", i, got, y[i]);
    }
    tc_fn_free(f);
}

// ---- reports ----

LISTS(explain_tells, "default") {
    static char page_text[1 << 18], path[300];
    tc_tensor in[FEW], out[FEW];
    tc_fn *f = tc_compile(tc, halves, NULL, 0, NULL);
    for (int i = 0; i < FEW; i++) in[i] = few(tc, i, 1, 1);
    CHECK_EQ(launches_of_call(tc, f, in, FEW, out, FEW), 1);
    const char *text = tc_explain(tc);
    CHECK(strstr(text, "in a launch for 12 tensors") != NULL);
    CHECK(strstr(text, "launches: 1, of which 1 for lists of tensors") != NULL);
    snprintf(path, sizeof path, "%s/page.html", fake_folder);
    CHECK_EQ(tc_explain_html(tc, path), TC_OK);
    FILE *page = fopen(path, "rb");
    REQUIRE(page != NULL);
    page_text[fread(page_text, 1, sizeof page_text - 1, page)] = 0;
    fclose(page);
    CHECK(strstr(page_text, "in a launch for 12 tensors") != NULL);
    CHECK(strstr(page_text, "__grid_constant__ tc_list") != NULL);
    tc_fn_free(f);
}
