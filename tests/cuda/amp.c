// Mixed precision on a device: what autocast computes there is what it computes on the host, up to the rounding of halves;
// a step that a scaler skips changes no bit, and an optimiser's list is as few launches as without a scaler.
#include "tcompile.h"

#include "tcompile_cuda.h"

#define TEST_NO_MAIN
#include "harness.h"
#include "help.h"
#include "tools/cuda_device.h"

enum {
    ROWS = 16,
    IN = 24,
    HIDDEN = 32,
    OUT = 8,
    LIST = 12,
    STEPS = 12,
    MOST = IN * HIDDEN
};

static tc_ctx *open_here(void) {
    tc_config config = tc_config_default();
    config.threads = 1;
    tc_ctx *tc = tc_open(&config);
    if (tc && open_device(tc)) return tc;
    tc_close(tc);
    return NULL;
}

// sin(number, i) / 2, on a device.
static tc_tensor operand(tc_ctx *tc, tc_dims d, int number, const char *device) {
    static float x[MOST];
    int n = 1;
    for (int i = 0; i < d.rank; i++) n *= (int)d.size[i];
    for (int i = 0; i < n; i++) x[i] = (float)(sin(0.7 * (i + 1) * (number + 1.3)) / 2);
    return tc_to(tc_from_data(tc, x, d, TC_F32), device);
}

static int reads(tc_tensor t, float *x, int n) {
    return CHECK_EQ(tc_read(t, x, (size_t)n * sizeof *x), TC_OK);
}

// ---- autocast ----

typedef struct made {
    float loss, first[HIDDEN * IN], second[OUT * HIDDEN];
} made;

static void two_layers(tc_ctx *tc, tc_dtype half, const char *device, made *m) {
    tc_tensor x = operand(tc, TC_DIMS(ROWS, IN), 0, device), w[2], g[2];
    w[0] = operand(tc, TC_DIMS(HIDDEN, IN), 1, device);
    w[1] = operand(tc, TC_DIMS(OUT, HIDDEN), 2, device);
    BEGIN("two layers");
    tc_autocast_begin(tc, half);
    tc_tensor h = tc_gelu(tc_linear(x, w[0], tc_null()));
    tc_tensor n = tc_layer_norm(h, tc_null(), tc_null(), 1e-5);
    tc_tensor y = tc_linear(n, w[1], tc_null());
    CHECK_EQ(tc_dtype_of(h), half);
    CHECK_EQ(tc_dtype_of(n), TC_F32);
    CHECK_EQ(tc_dtype_of(y), half);
    tc_tensor loss = tc_sum_all(tc_pow_s(y, 2));
    tc_autocast_end(tc);
    CHECK_EQ(tc_grad(loss, w, 2, g), TC_OK);
    END();
    CHECK_EQ(tc_dtype_of(g[0]), TC_F32);
    reads(loss, &m->loss, 1);
    reads(g[0], m->first, HIDDEN * IN), reads(g[1], m->second, OUT * HIDDEN);
}

static void check_near(const float *a, const float *b, int n, double tolerance) {
    double most = 0;
    for (int i = 0; i < n; i++) most = fmax(most, fabs((double)a[i]));
    CHECK(most > 1e-3);
    for (int i = 0; i < n; i++)
        if (!(fabs((double)a[i] - (double)b[i]) <= tolerance * most))
            FAIL("number %d: %g, on the host %g", i, (double)b[i], (double)a[i]);
}

static void check_half(tc_dtype half, double tolerance) {
    static made host, device;
    tc_ctx *tc = open_here();
    REQUIRE(tc);
    two_layers(tc, half, "cpu", &host);
    two_layers(tc, half, DEVICE_NAME, &device);
    check_near(&host.loss, &device.loss, 1, tolerance);
    check_near(host.first, device.first, HIDDEN * IN, tolerance);
    check_near(host.second, device.second, OUT * HIDDEN, tolerance);
    if (tc_error(tc)) FAIL("error left over: %s", tc_error_text(tc));
    tc_close(tc);
    check_device_closed();
}

TEST(as_on_the_host_f16) { check_half(TC_F16, 4e-3); }
TEST(as_on_the_host_bf16) { check_half(TC_BF16, 3e-2); }

// ---- the scaler ----

typedef struct params {
    tc_tensor p[LIST], g[LIST], m[LIST], v[LIST], step;
    tc_grad_scaler s;
    int scales;
} params;

static tc_dims dims_of(int i) { return i % 3 ? TC_DIMS(5 + i * 17) : TC_DIMS(4, 9 + i); }

static void open_params(tc_ctx *tc, params *a, int scales) {
    memset(a, 0, sizeof *a);
    for (int i = 0; i < LIST; i++) {
        a->p[i] = operand(tc, dims_of(i), i, DEVICE_NAME);
        a->g[i] = operand(tc, dims_of(i), i + LIST, DEVICE_NAME);
        a->m[i] = tc_zeros_like(a->p[i]), a->v[i] = tc_zeros_like(a->p[i]);
    }
    a->step = tc_zeros(tc, TC_SCALAR, TC_F32);
    a->scales = scales;
    CHECK_EQ(tc_grad_scaler_init(tc, &a->s, 0), TC_OK);
    a->s.growth_interval = 3;
}

static void update(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    params *a = (params *)user;
    tc_tensor g[LIST];
    (void)tc;
    for (int i = 0; i < LIST; i++) g[i] = tc_mul(a->g[i], in[0]);
    if (a->scales) {
        for (int i = 0; i < LIST; i++) g[i] = tc_mul(g[i], a->s.scale);
        tc_grad_scaler_unscale_(&a->s, g, LIST);
        tc_grad_scaler_step_begin(&a->s);
    }
    tc_adamw_list_(a->p, g, a->m, a->v, LIST, a->step, 0.1, 0.9, 0.999, 1e-8, 0.01);
    if (a->scales) {
        tc_grad_scaler_step_end(&a->s);
        tc_grad_scaler_update(&a->s);
    }
    out[0] = tc_add_s(a->step, 0);
}

static int alike(tc_tensor a, tc_tensor b) {
    static float x[MOST], y[MOST];
    int n = (int)tc_numel(a);
    return reads(a, x, n) && reads(b, y, n) && !memcmp(x, y, (size_t)n * sizeof *x);
}

static int overflows(int step) { return step == 1 || step == 2 || step == 7; }

// Factors of gradients: NaN and infinity reach all of them. The launches of the last call.
static uint64_t run_step(tc_ctx *tc, tc_fn *f, int step, int overflow) {
    float by = (float)(1 + step);
    if (overflow) by = step % 2 ? HUGE_VALF : NAN;
    tc_tensor factor = tc_to(tc_from_data(tc, &by, TC_SCALAR, TC_F32), DEVICE_NAME), out;
    uint64_t before = tc_stats_get(tc).kernel_runs;
    CALL(f, &factor, 1, &out, 1);
    uint64_t ran = tc_stats_get(tc).kernel_runs - before;
    tc_free(out), tc_free(factor);
    return ran;
}

TEST(skipped_steps) {
    static params scaled, plain;
    double scale = 65536;
    int tracker = 0;
    uint64_t with = 0, without = 0;
    tc_ctx *tc = open_here();
    REQUIRE(tc);
    CHECK_EQ(tc_set_default_device(tc, DEVICE_NAME), TC_OK);
    open_params(tc, &scaled, 1), open_params(tc, &plain, 0);
    tc_fn *f = tc_compile(tc, update, &scaled, sizeof scaled, NULL);
    tc_fn *g = tc_compile(tc, update, &plain, sizeof plain, NULL);
    for (int k = 0; k < STEPS; k++) {
        with = run_step(tc, f, k, overflows(k));
        if (!overflows(k)) without = run_step(tc, g, k, 0);
        tracker = overflows(k) ? 0 : tracker + 1;
        scale *= overflows(k) ? 0.5 : tracker == 3 ? 2 : 1;
        if (tracker == 3) tracker = 0;
        CHECK_EQ(tc_item(scaled.s.scale), scale);
        CHECK_EQ(tc_item(scaled.s.growth_tracker), tracker);
        CHECK_EQ(tc_item(scaled.step), tc_item(plain.step));
        for (int i = 0; i < LIST; i++)
            if (!alike(scaled.p[i], plain.p[i]) || !alike(scaled.v[i], plain.v[i]))
                FAIL("step %d, tensor %d: not as without a scaler", k, i);
    }
    CHECK(with <= without + LIST || FAIL("%d launches, not %d", (int)with, (int)without));
    CHECK_EQ(tc_last_miss(f).kind, TC_MISS_CHECK);
    tc_fn_free(f), tc_fn_free(g);
    if (tc_error(tc)) FAIL("error left over: %s", tc_error_text(tc));
    tc_close(tc);
    check_device_closed();
}
