// allow_tf32 from the options to the text: a program with it is another one than without, and takes the
// operands of f32 products as tf32; on the host nothing depends on it. Blocks share the sums of the product, so
// a program's workspace has to be as it was when it runs again.
#include "tcompile.h"

#include "tcompile_cuda.h"

#define TEST_NO_MAIN
#include "harness.h"
#include "tools/cuda_device.h"

#include <math.h>

enum { M = 40, N = 52, K = 2000 }; // long enough for slices of k

static float left[M * K], right[K * N], bias[N];

static void make_data(void) {
    for (int i = 0; i < M * K; i++) left[i] = (float)test_number((unsigned)i, 1);
    for (int i = 0; i < K * N; i++) right[i] = (float)test_number((unsigned)i, 2);
    for (int i = 0; i < N; i++) bias[i] = (float)test_number((unsigned)i, 3);
}

// A product and a bias, on a device or (where NULL) on the host.
static void visit(tc_ctx *tc, const char *where, int allow_tf32, float *out) {
    tc_options o = tc_options_default();
    o.allow_tf32 = allow_tf32;
    tc_scope_begin(tc);
    tc_tensor a = tc_from_data(tc, left, TC_DIMS(M, K), TC_F32),
              b = tc_from_data(tc, right, TC_DIMS(K, N), TC_F32),
              c = tc_from_data(tc, bias, TC_DIMS(N), TC_F32);
    if (where) a = tc_to(a, where), b = tc_to(b, where), c = tc_to(c, where);
    tc_trace_begin_with(tc, "visit", &o);
    tc_tensor y = tc_keep(tc_add(tc_matmul(a, b), c));
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    CHECK_EQ(tc_read(y, out, M * N * sizeof *out), TC_OK);
    tc_free(y);
    tc_scope_end(tc);
    CHECK_STR(tc_error_text(tc), "");
}

// How far the results are from the sums in double, as a part of the sum of |a b|: the most of all.
static double distance(const float *out) {
    double most = 0;
    for (int r = 0; r < M; r++)
        for (int c = 0; c < N; c++) {
            double sum = (double)bias[c], size = fabs(sum);
            for (int k = 0; k < K; k++) {
                double v = (double)left[r * K + k] * (double)right[k * N + c];
                sum += v, size += fabs(v);
            }
            double far = fabs((double)out[r * N + c] - sum) / size;
            if (far > most) most = far;
        }
    return most;
}

TEST(a_program_of_its_own) {
    static float exact[M * N], rounded[M * N], again[M * N];
    tc_config config = tc_config_default();
    tc_ctx *tc = tc_open(&config);
    REQUIRE(open_device(tc));
    make_data();
    visit(tc, DEVICE_NAME, 0, exact);
    CHECK(distance(exact) < 2e-7);
    visit(tc, DEVICE_NAME, 0, again); // the same program
    CHECK(!memcmp(exact, again, sizeof exact));
    CHECK(!strstr(tc_region_source(tc, "visit"), "way = 3,"));
    CHECK(!strstr(tc_region_source(tc, "visit"), "way = 6,"));
    visit(tc, DEVICE_NAME, 1, rounded);
    CHECK(distance(rounded) < 1.0 / 2048);
    CHECK(distance(rounded) > 1e-6);
    const char *source = tc_region_source(tc, "visit");
    if (strstr(source, "way = 6,")) // by Hopper's matrix units
        CHECK(strstr(source, "TC_N(wgmma_words)("));
    else
        CHECK(strstr(source, "way = 3,") && strstr(source, "TC_N(mma_tf32)("));
    CHECK(!strstr(source, "TC_N(split)("));
    CHECK(strstr(source, "TC_N(arrives_last)("));
    visit(tc, DEVICE_NAME, 0, again);
    CHECK(!memcmp(exact, again, sizeof exact));
    visit(tc, DEVICE_NAME, 1, again);
    CHECK(!memcmp(rounded, again, sizeof rounded));
    tc_close(tc);
    check_device_closed();
}

TEST(nothing_on_the_host) {
    static float exact[M * N], allowed[M * N];
    tc_config config = tc_config_default();
    tc_ctx *tc = tc_open(&config);
    make_data();
    visit(tc, NULL, 0, exact);
    visit(tc, NULL, 1, allowed);
    CHECK(!memcmp(exact, allowed, sizeof exact));
    tc_close(tc);
}
