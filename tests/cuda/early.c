// Kernels begin while the launch ahead of them ends, so each has to wait before it reads what that one
// writes. A layer norm whose every step is a kernel has its mean and its scale read as single numbers;
// sizes and values change with every call, so a number that is read too early is an old one, and shows.
#include "tcompile.h"

#include "tcompile_cuda.h"

#define TEST_NO_MAIN
#include "harness.h"
#include "tools/cuda_device.h"

#include <math.h>

enum { MOST = 64, CALLS = 7 };

static float value(int i, int call) {
    return (float)((i * 7919 + call * 31) % 101) / 10 - 5;
}

static void check_norm(const float *x, const float *y, int n) {
    double mean = 0, square = 0;
    for (int i = 0; i < n; i++) mean += x[i] / (double)n;
    for (int i = 0; i < n; i++) square += (x[i] - mean) * (x[i] - mean) / n;
    for (int i = 0; i < n; i++) CHECK_NEAR(y[i], (x[i] - mean) / sqrt(square + 1e-5), 1e-4);
}

static void call_norm(tc_ctx *tc, int n, int call) {
    float x[MOST], y[MOST];
    tc_options o = tc_options_default();
    o.round_each_op = 1;
    for (int i = 0; i < n; i++) x[i] = value(i, call);
    tc_scope_begin(tc);
    tc_tensor t = tc_to(tc_from_data(tc, x, TC_DIMS(n), TC_F32), DEVICE_NAME);
    tc_trace_begin_with(tc, "norm", &o);
    tc_tensor index = tc_remainder_s(tc_cast(t, TC_I64), n);
    tc_tensor kept = tc_keep(tc_gather(t, 0, index));
    tc_tensor norm = tc_layer_norm(t, tc_null(), tc_null(), 1e-5);
    tc_trace_end(tc);
    CHECK_EQ(tc_read(norm, y, (size_t)n * sizeof *y), TC_OK);
    check_norm(x, y, n);
    CHECK_EQ(tc_read(kept, y, (size_t)n * sizeof *y), TC_OK);
    for (int i = 0; i < n; i++) {
        int64_t whole = (int64_t)x[i] % n;
        CHECK(y[i] == x[whole < 0 ? whole + n : whole]);
    }
    tc_scope_end(tc);
}

TEST(each_kernel_waits) {
    static const int sizes[] = {1, 8, 31, 13};
    for (int context = 0; context < (device_is_real ? 40 : 1); context++) {
        tc_config config = tc_config_default();
        tc_ctx *tc = tc_open(&config);
        REQUIRE(open_device(tc));
        for (int call = 0; call < CALLS; call++)
            for (int i = 0; i < 4; i++) call_norm(tc, sizes[i], call);
        CHECK(tc_error(tc) == TC_OK || FAIL("%s", tc_error_text(tc)));
        tc_close(tc);
        check_device_closed();
    }
}
