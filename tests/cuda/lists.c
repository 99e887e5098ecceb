// One launch for a list of tensors: optimisers' steps and formulas over many tensors of different
// sizes, against the same in double. On a GPU or on the emulator.
#include "tcompile.h"

#define TCOMPILE_CUDA_IMPLEMENTATION
#include "tcompile_cuda.h"

#define TEST_NO_MAIN
#include "harness.h"
#include "help.h"
#include "tools/cuda_device.h"

#include <math.h>

enum { LIST = 150, STEPS = 4, MOST = 70000 };

// Whole vectors and not, fewer elements than a vector or a block has, one, none, and many.
static int size_of(int i) {
    static const int first[] = {70000, 2, 3, 4, 5, 7, 8, 1023, 1024, 1025, 0, 4097, 65537, 1};
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

static double value(int i, int k) { return sin(0.37 * k + i); }
static double gradient(int i, int k, int t) { return cos(0.11 * k * (1 + t) + 2 * i); }

typedef struct params {
    tc_tensor p[LIST], m[LIST], v[LIST], step;
    double lr;
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
        for (int k = 0; k < size_of(i); k++)
            want.p[i][k] = dtype == TC_BF16 ? floor(value(i, k) * 64) / 64 : value(i, k);
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

static double rounded(double x, tc_dtype dtype) {
    double one = ldexp(1, ilogb(x == 0 ? 1 : x) - 7);
    return dtype == TC_BF16 ? nearbyint(x / one) * one : x;
}

static void adamw_want(int t, tc_dtype dtype) {
    double c1 = 1 - pow(0.9, t), c2 = 1 - pow(0.999, t);
    for (int i = 0; i < LIST; i++) {
        for (int k = 0; k < size_of(i); k++) {
            double g = rounded(gradient(i, k, t), dtype), *p = &want.p[i][k];
            double *m = &want.m[i][k], *v = &want.v[i][k];
            *m = 0.9 * *m + 0.1 * g;
            *v = 0.999 * *v + 0.001 * g * g;
            *p = *p * (1 - given.lr * 0.1) -
                 given.lr / c1 * *m / (sqrt(*v) / sqrt(c2) + 1e-8);
        }
    }
}

static void compare(tc_tensor t, const double *x, int n, double near, const char *what,
                    int i) {
    int bad = 0;
    REQUIRE(tc_numel(t) == n);
    CHECK_EQ(tc_read(tc_cast(tc_to(t, "cpu"), TC_F64), scratch,
                     (size_t)n * sizeof *scratch),
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
    setenv("TC_MODE", mode, 1);
    tc_ctx *tc = tc_open(&config);
    unsetenv("TC_MODE");
    REQUIRE(open_device(tc));
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

// The counter's kernel, which has the tensors of one element too, and one launch for all others.
static void adamw_steps(tc_ctx *tc, tc_dtype dtype, double near, double near_moments) {
    static tc_tensor g[LIST];
    params_open(tc, dtype);
    tc_fn *f = tc_compile(tc, adamw, &given, sizeof given, NULL);
    for (int t = 1; t <= STEPS; t++) {
        tc_scope_begin(tc);
        gradients(tc, g, t, dtype);
        CHECK_EQ(launches_of_call(tc, f, g, LIST, NULL, 0), 2);
        tc_scope_end(tc);
        adamw_want(t, dtype);
    }
    compare_all(near, near_moments);
    tc_fn_free(f);
    params_close();
}

LISTS(adamw_f32, "max-autotune-no-cudagraphs") { adamw_steps(tc, TC_F32, 1e-5, 1e-5); }
LISTS(adamw_as_a_graph, "reduce-overhead") { adamw_steps(tc, TC_F32, 1e-5, 1e-5); }
