// Kernels with many functions, which are called, several vectors at a time: sums, the largest and its place keep the order
// of their lanes whatever goes together, in whole steps and in what is left over.
#include "tcompile.h"

#include "harness.h"
#include "help.h"
#include "sums.h"

#include <math.h>

enum { MOST = 1 << 16 };

// Rows and columns: below a vector, a step, several; chunks of sums; what leaves vectors and parts of one.
static const int sizes[][2] = {
    {3, 5},     {3, 31},    {4, 32},  {3, 64},   {2, 100},  {3, 128},
    {2, 129},   {3, 160},   {2, 200}, {1, 255},  {2, 1000}, {1, 8192},
    {2, 20001}, {1, 40000}, {64, 96}, {300, 33}, {7, 4097},
};
enum { SIZES = sizeof sizes / sizeof *sizes };

typedef struct results {
    tc_tensor y, sum, most, place, scaled;
} results;

static tc_tensor functions(tc_tensor x) {
    x = tc_tanh(tc_add_s(tc_sin(x), 0.125));
    x = tc_sigmoid(tc_log1p(tc_exp(x)));
    x = tc_mul_s(tc_erf(tc_cos(x)), 3);
    return tc_atan(tc_add(tc_cosh(x), tc_expm1(x)));
}

static double in_double(double x) {
    x = tanh(sin(x) + 0.125);
    x = 1 / (1 + exp(-log1p(exp(x))));
    x = 3 * erf(cos(x));
    return atan(cosh(x) + expm1(x));
}

// Two phases over each row, both with functions.
static results program(tc_tensor x) {
    results r;
    r.y = functions(x);
    r.sum = tc_sum(r.y, 1), r.most = tc_amax(r.y, 1), r.place = tc_argmax(r.y, 1);
    r.scaled = functions(tc_sub(r.y, tc_sum_dims(r.y, TC_DIMS(1), TC_KEEPDIM)));
    return r;
}

static void check_row(const float *x, const float *y, int columns, float sum, float most,
                      int64_t place) {
    int top = 0, far = 0;
    for (int c = 0; c < columns; c++) {
        double want = in_double((double)x[c]);
        far += !(fabs((double)y[c] - want) <= 4e-6);
        if (y[c] > y[top]) top = c;
    }
    if (far) FAIL("%d of %d values are far from those in double", far, columns);
    if (sum != promised_sum(y, columns, 1))
        FAIL("%d columns: the sum is %a", columns, (double)sum);
    if (most != y[top] || place != top)
        FAIL("%d columns: the largest is %g at %d, not %g at %d", columns, (double)y[top],
             top, (double)most, (int)place);
}

static void check(tc_ctx *tc, tc_dynamic dynamic) {
    static float x[MOST * 2], y[MOST * 2], scaled[MOST * 2], sum[512], most[512];
    static int64_t place[512];
    tc_options o = tc_options_default();
    REQUIRE(tc);
    o.dynamic = dynamic;
    for (int s = 0; s < SIZES; s++) {
        int rows = sizes[s][0], columns = sizes[s][1], n = rows * columns, far = 0;
        size_t bytes = (size_t)n * sizeof *x, each = (size_t)rows * sizeof *sum;
        REQUIRE(n <= MOST && rows <= 512);
        for (int i = 0; i < n; i++) x[i] = (float)test_number((unsigned)i, 5);
        tc_scope_begin(tc);
        tc_tensor in = tc_from_data(tc, x, TC_DIMS(rows, columns), TC_F32);
        tc_trace_begin_with(tc, "called", &o);
        results r = program(in);
        CHECK_EQ(tc_trace_end(tc), TC_OK);
        CHECK_EQ(tc_read(r.y, y, bytes), TC_OK);
        CHECK_EQ(tc_read(r.scaled, scaled, bytes), TC_OK);
        CHECK_EQ(tc_read(r.sum, sum, each), TC_OK);
        CHECK_EQ(tc_read(r.most, most, each), TC_OK);
        CHECK_EQ(tc_read(r.place, place, 2 * each), TC_OK);
        for (int i = 0; i < rows; i++) {
            const float *row = y + (size_t)i * (size_t)columns;
            check_row(x + (size_t)i * (size_t)columns, row, columns, sum[i], most[i],
                      place[i]);
            for (int c = 0; c < columns; c++) {
                double want = in_double((double)(row[c] - sum[i]));
                far += !(fabs((double)scaled[i * columns + c] - want) <= 4e-6);
            }
        }
        if (far) FAIL("%dx%d: %d of the second phase are far", rows, columns, far);
        tc_scope_end(tc);
    }
    CHECK_EQ(tc_error(tc), TC_OK);
    CHECK_EQ(tc_stats_get(tc).fallbacks, 0);
    tc_close(tc);
}

TEST(interpreted) { check(open_as("aot_eager", NULL, 2), TC_DYNAMIC_OFF); }
TEST(one_thread) { check(open_as("cpu", NULL, 1), TC_DYNAMIC_OFF); }
TEST(three_threads) { check(open_as("cpu", NULL, 3), TC_DYNAMIC_OFF); }
TEST(any_size) { check(open_as("cpu", NULL, 2), TC_DYNAMIC_ON); }
TEST(avx2) { check(open_as("cpu", "avx2", 3), TC_DYNAMIC_OFF); }
TEST(baseline) { check(open_as("cpu", "baseline", 2), TC_DYNAMIC_AUTO); }
