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

// ---- products of one row, which work beside each other ----

enum { WIDTH = 256 };

// A weight of small numbers: its products with one row are exact in f32.
static float weight_at(int w, int i, int k) {
    return (float)((w * 5 + i * 7 + k * 3) % 9 - 4) / 4;
}

static tc_tensor weight(tc_ctx *tc, int w) {
    static float x[WIDTH * WIDTH];
    for (int i = 0; i < WIDTH * WIDTH; i++) x[i] = weight_at(w, i / WIDTH, i % WIDTH);
    return tc_to(tc_from_data(tc, x, TC_DIMS(WIDTH, WIDTH), TC_F32), DEVICE_NAME);
}

static void product(int w, const double *x, double *y) {
    for (int i = 0; i < WIDTH; i++) {
        y[i] = 0;
        for (int k = 0; k < WIDTH; k++) y[i] += x[k] * (double)weight_at(w, i, k);
    }
}

static double positive(double x) { return x > 0 ? x : 0; }

// q, k and v of one row read the row alone, and v's last step reads k; a gate and what it opens; then the row is another.
static tc_tensor step(const tc_tensor *w, tc_tensor x) {
    tc_tensor row = tc_floor(tc_mul_s(x, 0.5)), q = tc_linear(row, w[0], tc_null());
    tc_tensor k = tc_linear(row, w[1], tc_null());
    tc_tensor v = tc_add(tc_linear(row, w[2], tc_null()), k);
    tc_tensor sum = tc_floor(tc_mul_s(tc_add(q, v), 1.0 / 64));
    tc_tensor gate = tc_linear(sum, w[3], tc_null());
    return tc_mul(tc_relu(gate), tc_linear(sum, w[4], tc_null()));
}

static void check_step(const float *x, const float *y) {
    double row[WIDTH], q[WIDTH], k[WIDTH], v[WIDTH], sum[WIDTH], gate[WIDTH], open[WIDTH];
    for (int i = 0; i < WIDTH; i++) row[i] = floor((double)x[i] / 2);
    product(0, row, q), product(1, row, k), product(2, row, v);
    for (int i = 0; i < WIDTH; i++) sum[i] = floor((q[i] + (v[i] + k[i])) / 64);
    product(3, sum, gate), product(4, sum, open);
    for (int i = 0; i < WIDTH; i++) CHECK_EQ((double)y[i], positive(gate[i]) * open[i]);
}

static int times_in(const char *text, const char *words) {
    int n = 0;
    while ((text = strstr(text, words)) != NULL) n++, text++;
    return n;
}

TEST(products_of_one_row_are_beside_each_other) {
    tc_ctx *tc = tc_open(NULL);
    REQUIRE(open_device(tc));
    tc_tensor w[5];
    for (int i = 0; i < 5; i++) w[i] = weight(tc, i);
    for (int call = 0; call < (device_is_real ? 2000 : 3); call++) {
        float x[WIDTH], y[WIDTH];
        for (int i = 0; i < WIDTH; i++) x[i] = floorf(value(i, call));
        tc_scope_begin(tc);
        tc_tensor t = tc_to(tc_from_data(tc, x, TC_DIMS(1, WIDTH), TC_F32), DEVICE_NAME);
        tc_trace_begin(tc, "step");
        tc_tensor out = tc_keep(step(w, t));
        tc_trace_end(tc);
        REQUIRE(tc_read(out, y, sizeof y) == TC_OK);
        check_step(x, y);
        tc_scope_end(tc);
    }
    tc_tensor t = tc_to(tc_ones(tc, TC_DIMS(1, WIDTH), TC_F32), DEVICE_NAME);
    tc_trace_begin(tc, "chain"); // each reads what the one before it writes
    tc_tensor out = tc_keep(tc_linear(tc_linear(t, w[0], tc_null()), w[1], tc_null()));
    tc_trace_end(tc);
    double x[WIDTH], y[WIDTH];
    float z[WIDTH];
    for (int i = 0; i < WIDTH; i++) x[i] = 1;
    product(0, x, y), product(1, y, x);
    REQUIRE(tc_read(out, z, sizeof z) == TC_OK);
    for (int i = 0; i < WIDTH; i++) CHECK_EQ((double)z[i], x[i]);
    // k and v beside q, and what the gate opens beside the gate; the gate itself waits.
    CHECK_EQ(times_in(tc_explain(tc), "beside the one before"), 3);
    tc_close(tc);
    check_device_closed();
}
