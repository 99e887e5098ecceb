// Functions of halves on a device (gen/cuda/fast.cuh), of every number that there is, against double: the nearest half
// or, within a quarter of a last place of the middle, the one on its other side.
#include "tcompile.h"

#include "tcompile_cuda.h"

#define TEST_NO_MAIN
#include "halves.h"
#include "harness.h"
#include "tools/cuda_device.h"

enum { ALL = 0x10000 };

typedef tc_tensor (*call_fn)(tc_tensor x);

static tc_tensor do_exp(tc_tensor x) { return tc_exp(x); }
static tc_tensor do_log(tc_tensor x) { return tc_log(x); }
static tc_tensor do_sin(tc_tensor x) { return tc_sin(x); }
static tc_tensor do_tanh(tc_tensor x) { return tc_tanh(x); }
static tc_tensor do_sigmoid(tc_tensor x) { return tc_sigmoid(x); }
static tc_tensor do_silu(tc_tensor x) { return tc_silu(x); }
static tc_tensor do_erf(tc_tensor x) { return tc_erf(x); }
static tc_tensor do_gelu(tc_tensor x) { return tc_gelu(x); }
static tc_tensor do_gelu_tanh(tc_tensor x) { return tc_gelu_tanh(x); }

static double want_sigmoid(double x) { return 1 / (1 + exp(-x)); }
static double want_silu(double x) {
    return x == -(double)INFINITY ? NAN : x / (1 + exp(-x));
}
static double want_gelu(double x) { return x * 0.5 * erfc(-x * 0.70710678118654752440); }
static double want_gelu_tanh(double x) {
    return x / (1 + exp(-2 * 0.79788456080286535588 * (x + 0.044715 * x * x * x)));
}

static const struct {
    const char *name;
    call_fn call;
    double (*want)(double x);
    double
        most; // beyond which it is not looked at: what is asked of arguments is another test's
} all[] = {{"exp", do_exp, exp, INFINITY},
           {"log", do_log, log, INFINITY},
           {"sin", do_sin, sin, 1e4},
           {"tanh", do_tanh, tanh, INFINITY},
           {"sigmoid", do_sigmoid, want_sigmoid, INFINITY},
           {"silu", do_silu, want_silu, INFINITY},
           {"erf", do_erf, erf, INFINITY},
           {"gelu", do_gelu, want_gelu, INFINITY},
           {"gelu_tanh", do_gelu_tanh, want_gelu_tanh, 1e12}};

// How far y is from x's value, in last places of that. Units take f32's denormals for 0: silu multiplies one with its argument.
static double distance(half_format f, double y, double want) {
    if (isnan(want) && isnan(y)) return 0;
    if (y == want || (y == 0 && fabs(want) < 0x1p-121)) return 0;
    if (!isfinite(want)) return INFINITY;
    int e = want == 0 ? f.lowest : ilogb(want);
    double place = half_power((e < f.lowest ? f.lowest : e) - f.digits);
    if (isinf(y) && fabs(want) >= half_size(f, half_infinity(f)) - place) return 0;
    return isfinite(y) ? fabs(y - want) / place : INFINITY;
}

static void check_function(tc_ctx *tc, int k, tc_dtype dtype, half_format f) {
    static uint16_t in[ALL], got[ALL];
    for (int i = 0; i < ALL; i++) in[i] = (uint16_t)i;
    tc_tensor x = tc_to(tc_from_data(tc, in, TC_DIMS(ALL), dtype), DEVICE_NAME);
    tc_trace_begin(tc, all[k].name);
    tc_tensor y = tc_keep(all[k].call(x));
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    REQUIRE(tc_read(y, got, sizeof got) == TC_OK);
    double most = 0;
    int at = 0;
    for (int i = 0; i < ALL; i++) {
        double v = half_value(f, in[i]);
        if (!(fabs(v) <= all[k].most) && !isnan(v)) continue;
        double far = distance(f, half_value(f, got[i]), all[k].want(v));
        if (far > most) most = far, at = i;
    }
    if (!(most <= 0.75))
        FAIL("%s of %s %04x, %g: %g, not %g: %g last places", all[k].name,
             dtype == TC_F16 ? "f16" : "bf16", at, half_value(f, in[at]),
             half_value(f, got[at]), all[k].want(half_value(f, in[at])), most);
    tc_free(x), tc_free(y);
}

TEST(functions_of_every_half) {
    tc_config config = tc_config_default();
    config.no_disk_cache = 1;
    tc_ctx *tc = tc_open(&config);
    REQUIRE(open_device(tc));
    for (int k = 0; k < (int)(sizeof all / sizeof *all); k++) {
        check_function(tc, k, TC_F16, half_f16);
        check_function(tc, k, TC_BF16, half_bf16);
    }
    if (tc_error(tc)) FAIL("error left over: %s", tc_error_text(tc));
    tc_close(tc);
    check_device_closed();
}
