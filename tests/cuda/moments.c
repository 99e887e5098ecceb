// Variances and squares of few long rows on a CUDA device: one pass over memory (gen/pass/moments.c, and parts of rows,
// device/form.c). Values come from plain C in double.
#include "tcompile.h"

#include "tcompile_cuda.h"

#define TEST_NO_MAIN
#include "harness.h"
#include "help.h"
#include "tools/cuda_device.h"

#include <math.h>

// What is computed of x [rows, n]; `rows_out` = one number for each row, else one for each element.
typedef struct work {
    const char *name;
    tc_tensor (*of)(tc_tensor x);
    void (*of_row)(const double *x, double *y, int n);
    int rows_out;
} work;

static double mean_of(const double *x, int n) {
    double s = 0;
    for (int i = 0; i < n; i++) s += x[i];
    return s / n;
}

static double squares_of(const double *x, int n, double shift) {
    double s = 0;
    for (int i = 0; i < n; i++) s += (x[i] - shift) * (x[i] - shift);
    return s;
}

static tc_tensor variance(tc_tensor x) { return tc_var(x, 1, 1); }
static void variance_row(const double *x, double *y, int n) {
    y[0] = squares_of(x, n, mean_of(x, n)) / (n - 1);
}

// Not of a tensor, and what is subtracted is not the mean.
static tc_tensor shifted(tc_tensor x) {
    tc_tensor y = tc_mul_s(x, 2), s = tc_sum_dims(y, TC_DIMS(1), TC_KEEPDIM);
    tc_tensor d = tc_sub(y, tc_mul_s(tc_div_s(s, (double)tc_dim(x, 1)), 0.5));
    return tc_sum(tc_mul(d, d), 1);
}
static void shifted_row(const double *x, double *y, int n) {
    y[0] = 4 * squares_of(x, n, mean_of(x, n) / 2);
}

static tc_tensor standard(tc_tensor x) {
    tc_tensor d = tc_sub(x, tc_mean_dims(x, TC_DIMS(1), TC_KEEPDIM));
    tc_tensor v = tc_mean_dims(tc_square(d), TC_DIMS(1), TC_KEEPDIM);
    return tc_mul(d, tc_rsqrt(v));
}
static void standard_row(const double *x, double *y, int n) {
    double m = mean_of(x, n), v = squares_of(x, n, m) / n;
    for (int i = 0; i < n; i++) y[i] = (x[i] - m) / sqrt(v);
}

static tc_tensor squares(tc_tensor x) { return tc_sum(tc_square(x), 1); }
static void squares_row(const double *x, double *y, int n) { y[0] = squares_of(x, n, 0); }

static const work works[] = {{"variance", variance, variance_row, 1},
                             {"shifted", shifted, shifted_row, 1},
                             {"standard", standard, standard_row, 0},
                             {"squares", squares, squares_row, 1}};

static void body(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc;
    out[0] = works[*(const int *)user].of(in[0]);
}

// Numbers about `at`, which wander along the row, so that chunks have other means than the row.
static double *make_rows(int count, double at) {
    double *x = (double *)malloc((size_t)count * sizeof *x);
    for (int i = 0; x && i < count; i++)
        x[i] = at + sin(i * 1e-3) + (int)(test_word((unsigned)i, 7) >> 24) / 256.0;
    return x;
}

static tc_tensor there(tc_ctx *tc, double *x, int rows, int n, tc_dtype dtype) {
    tc_tensor t = tc_cast(tc_from_data(tc, x, TC_DIMS(rows, n), TC_F64), dtype);
    tc_read(tc_cast(t, TC_F64), x,
            (size_t)rows * (size_t)n * sizeof *x); // as it is rounded
    return tc_to(t, DEVICE_NAME);
}

static void check_values(const work *w, const double *x, const double *y, int rows, int n,
                         double bound) {
    double *want = (double *)malloc((size_t)n * sizeof *want), worst = 0;
    int each = w->rows_out ? 1 : n;
    REQUIRE(want);
    for (int r = 0; r < rows; r++) {
        w->of_row(x + r * n, want, n);
        for (int i = 0; i < each; i++) {
            double off = fabs(y[r * each + i] - want[i]) /
                         (w->rows_out ? fabs(want[i]) : 1 + fabs(want[i]));
            worst = off <= worst ? worst : off;
        }
    }
    CHECK(worst <= bound ||
          FAIL("%s of [%d, %d]: off by %g > %g", w->name, rows, n, worst, bound));
    free(want);
}

// Kernels that the function was made into are `kernels`; 0 = any number.
static void check(int which, tc_dtype dtype, int rows, int n, double at, double bound,
                  int kernels) {
    tc_ctx *tc = tc_open(NULL);
    REQUIRE(open_device(tc));
    tc_options o = tc_options_default();
    const work *w = &works[which];
    double *x = make_rows(rows * n, at);
    double *y = (double *)malloc((size_t)(w->rows_out ? rows : rows * n) * sizeof *y);
    tc_tensor in = there(tc, x, rows, n, dtype), out;
    tc_fn *f = tc_compile(tc, body, &which, sizeof which, &o);
    REQUIRE(tc_sync(tc) == TC_OK);
    uint64_t made = tc_stats_get(tc).kernels_made;
    REQUIRE(tc_call(f, &in, 1, &out, 1) == TC_OK || FAIL("%s", tc_error_text(tc)));
    REQUIRE(tc_sync(tc) == TC_OK);
    made = tc_stats_get(tc).kernels_made - made;
    CHECK(!kernels || made == (uint64_t)kernels ||
          FAIL("%s of [%d, %d]: %d kernels", w->name, rows, n, (int)made));
    REQUIRE(tc_read(tc_cast(out, TC_F64), y, (size_t)tc_numel(out) * sizeof *y) == TC_OK);
    check_values(w, x, y, rows, n, bound);
    free(x), free(y);
    tc_close(tc);
    check_device_closed();
}

// Two kernels: chunks, then their results.
TEST(variance_of_one_row) { check(0, TC_F32, 1, 65536, 0, 1e-5, 2); }
TEST(variance_of_three_rows) { check(0, TC_F32, 3, 81920, 0, 1e-5, 2); }
TEST(variance_in_chunks_of_another_length) { check(0, TC_F32, 2, 90000, 0, 1e-5, 2); }
TEST(variance_of_doubles) { check(0, TC_F64, 1, 65536, 0, 1e-12, 2); }
TEST(variance_of_halves) { check(0, TC_BF16, 1, 65536, 0, 2e-2, 2); }
TEST(variance_far_from_zero) { check(0, TC_F32, 1, 262144, 1000, 1e-4, 2); }
TEST(squares_from_another_number) { check(1, TC_F32, 1, 65536, 3, 1e-5, 2); }

// Nothing is cut where no chunk fits, and where there are rows enough.
TEST(variance_of_a_length_that_has_no_chunk) { check(0, TC_F32, 1, 65537, 0, 1e-5, 0); }
TEST(variance_of_a_row_that_is_held) { check(0, TC_F32, 1, 12000, 0, 1e-5, 1); }
TEST(variance_of_many_rows) { check(0, TC_F32, 40, 16384, 0, 1e-5, 1); }

// The mean is made of the chunks' sums for all that uses it.
TEST(standardised_rows) { check(2, TC_F32, 2, 65536, 5, 1e-5, 3); }

// Parts of 8192 columns and more: twice as much is asked for at once, of the last part less.
TEST(squares_in_long_parts) { check(3, TC_F32, 132, 32804, 0, 1e-5, 1); }
// More than 64 MiB, which leaves the cache first.
TEST(squares_that_no_cache_holds) { check(3, TC_F32, 1, 17000000, 0, 1e-5, 1); }
