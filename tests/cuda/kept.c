// Rows that are kept and made of other kept rows on a CUDA device: in registers, in shared memory, in parts in
// global memory; with sizes of run time too, where rows get too long for a block. Values come from plain C in
// double.
#include "tcompile.h"

#include "tcompile_cuda.h"

#define TEST_NO_MAIN
#include "harness.h"
#include "help.h"
#include "tools/cuda_device.h"

// A row in double, and the same of tensors along dimension `dim`.
typedef struct chain {
    void (*of_row)(double *x, int n);
    tc_tensor (*of)(tc_tensor x, int dim);
} chain;

static void gelu_row(double *x, int n) {
    for (int i = 0; i < n; i++) x[i] *= 0.5 * (1 + erf(x[i] / sqrt(2.0)));
}

static void softmax_row(double *x, int n) {
    double top = x[0], sum = 0;
    for (int i = 1; i < n; i++) top = x[i] > top ? x[i] : top;
    for (int i = 0; i < n; i++) sum += x[i] = exp(x[i] - top);
    for (int i = 0; i < n; i++) x[i] /= sum;
}

static void standard_row(double *x, int n) {
    double mean = 0, squares = 0;
    for (int i = 0; i < n; i++) mean += x[i] / n;
    for (int i = 0; i < n; i++) x[i] -= mean;
    for (int i = 0; i < n; i++) squares += x[i] * x[i] / n;
    for (int i = 0; i < n; i++) x[i] /= sqrt(squares + 1e-5);
}

static tc_tensor mean(tc_tensor x, int dim) { return tc_unsqueeze(tc_mean(x, dim), dim); }

static tc_tensor standard(tc_tensor x, int dim) {
    tc_tensor y = tc_sub(x, mean(x, dim));
    return tc_mul(y, tc_rsqrt(tc_add_s(mean(tc_square(y), dim), 1e-5)));
}

static void norm_of_gelu_row(double *x, int n) { gelu_row(x, n), standard_row(x, n); }
static tc_tensor norm_of_gelu(tc_tensor x, int dim) { return standard(tc_gelu(x), dim); }

static void sharp_row(double *x, int n) {
    standard_row(x, n), softmax_row(x, n);
    for (int i = 0; i < n; i++) x[i] *= n;
    softmax_row(x, n);
    for (int i = 0; i < n; i++) x[i] *= n;
}

// Two softmaxes of a standardised row, times its length, so that values are about 1.
static tc_tensor sharp(tc_tensor x, int dim) {
    double n = (double)tc_dim(x, dim);
    tc_tensor y = tc_mul_s(tc_softmax(standard(x, dim), dim), n);
    return tc_mul_s(tc_softmax(y, dim), n);
}

static const chain chains[] = {{norm_of_gelu_row, norm_of_gelu}, {sharp_row, sharp}};

static void body(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc;
    const int *which = (const int *)user;
    out[0] = chains[which[0]].of(in[0], which[1]);
}

// One call with [rows, n] along the second dimension, or [n, rows] along the first.
static void check_size(tc_ctx *tc, tc_fn *f, const int *which, int dtype, int rows, int n) {
    size_t count = (size_t)rows * (size_t)n;
    float *x = (float *)malloc(count * sizeof *x), *y = (float *)malloc(count * sizeof *y);
    double *row = (double *)malloc((size_t)n * sizeof *row), worst = 0;
    int along = which[1] ? 1 : rows,
        next = which[1] ? n : 1; // strides of a row and of rows
    REQUIRE(x && y && row);
    for (size_t i = 0; i < count; i++) // numbers that bf16 has
        x[i] = (float)((int)test_word((unsigned)i, 7) >> 24) / 64.0f;
    tc_tensor t = which[1] ? tc_from_data(tc, x, TC_DIMS(rows, n), TC_F32)
                           : tc_from_data(tc, x, TC_DIMS(n, rows), TC_F32);
    tc_tensor in = tc_to(tc_cast(t, (tc_dtype)dtype), DEVICE_NAME), out;
    REQUIRE(tc_call(f, &in, 1, &out, 1) == TC_OK || FAIL("%s", tc_error_text(tc)));
    REQUIRE(tc_read(tc_cast(out, TC_F32), y, count * sizeof *y) == TC_OK);
    for (int r = 0; r < rows; r++) {
        for (int i = 0; i < n; i++) row[i] = (double)x[r * next + i * along];
        chains[which[0]].of_row(row, n);
        for (int i = 0; i < n; i++) {
            double off =
                fabs((double)y[r * next + i * along] - row[i]) / (1 + fabs(row[i]));
            worst = off > worst ? off : worst;
        }
    }
    // bf16: results of softmaxes, and of their products, are rounded to 2^-9; up to 3.6, they are exponents.
    double bound = dtype == TC_BF16 ? 2.5e-2 : 2e-5;
    CHECK(worst <= bound || FAIL("chain %d, [%d, %d] along %d: off by %g", which[0], rows,
                                 n, which[1], worst));
    free(x), free(y), free(row);
}

typedef struct sizes {
    int rows, n;
} sizes;

// All sizes, each in a function of its own or all in one with sizes of run time.
static void check_sizes(int dtype, int dim, int dynamic, const sizes *s, int count) {
    for (int k = 0; k < 2; k++) {
        int which[2] = {k, dim};
        tc_options o = tc_options_default();
        o.dynamic = dynamic ? TC_DYNAMIC_ON : TC_DYNAMIC_OFF;
        tc_ctx *tc = tc_open(NULL);
        REQUIRE(open_device(tc));
        tc_fn *f = NULL;
        for (int i = 0; i < count; i++) {
            if (!f || !dynamic) f = tc_compile(tc, body, which, sizeof which, &o);
            tc_scope_begin(tc);
            check_size(tc, f, which, dtype, s[i].rows, s[i].n);
            CHECK_EQ(tc_scope_end(tc), TC_OK);
        }
        tc_close(tc);
    }
    check_device_closed();
}

#define KEPT(name, dtype, dim, dynamic, ...)                                               \
    TEST(name) {                                                                           \
        static const sizes s[] = {__VA_ARGS__};                                            \
        check_sizes(dtype, dim, dynamic, s, (int)(sizeof s / sizeof *s));                  \
    }

KEPT(rows_f32, TC_F32, 1, 0, {8, 40}, {5, 333}, {8, 640}, {9, 768}, {6, 1000}, {7, 1024},
     {3, 1500}, {2, 5000})
KEPT(rows_f64, TC_F64, 1, 0, {8, 40}, {5, 333}, {9, 768}, {3, 1500})
KEPT(rows_bf16, TC_BF16, 1, 0, {8, 40}, {9, 768}, {6, 1000}, {7, 1024}, {3, 1500})
KEPT(columns, TC_F32, 0, 0, {40, 100}, {40, 700}, {64, 1000})
KEPT(rows_that_no_block_has_room_for, TC_F32, 1, 0, {2, 16384}, {3, 60000}, {150, 60000})
KEPT(rows_that_leave_no_room_for_parts, TC_F32, 1, 0, {270, 58000})
KEPT(rows_that_get_too_long, TC_F32, 1, 1, {4, 100}, {4, 300}, {3, 60000}, {3, 60000},
     {2, 61000}, {4, 100}, {5, 300}, {5, 300})

// ---- one column of a row that is another than all others ----

enum { ONES = 5 };

// softmax(x) - 1 where the column is the row's, which may be none of them.
static void one_body(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    int64_t n = tc_dim(in[0], 1);
    (void)user;
    tc_tensor p = tc_softmax(in[0], 1),
              c = tc_to(tc_arange(tc, 0, (double)n, 1, tc_dtype_of(in[1])), DEVICE_NAME);
    out[0] = tc_where(tc_eq(in[1], c), tc_sub_s(p, 1), p);
}

static void check_one(tc_ctx *tc, int n, tc_dtype dtype, tc_dtype index) {
    const int64_t where[ONES] = {0, n - 1, -3, n / 2,
                                 index == TC_I64 ? (INT64_C(1) << 32) + 3 : n};
    float *x = (float *)malloc(ONES * (size_t)n * sizeof *x);
    double *row = (double *)malloc((size_t)n * sizeof *row), worst = 0;
    REQUIRE(x && row);
    for (int i = 0; i < ONES * n; i++)
        x[i] = (float)((int)test_word((unsigned)i, 9) >> 24) / 64.0f;
    tc_tensor in[2], out;
    in[0] =
        tc_to(tc_cast(tc_from_data(tc, x, TC_DIMS(ONES, n), TC_F32), dtype), DEVICE_NAME);
    in[1] = tc_to(tc_cast(tc_from_data(tc, where, TC_DIMS(ONES, 1), TC_I64), index),
                  DEVICE_NAME);
    tc_fn *f = tc_compile(tc, one_body, NULL, 0, NULL);
    REQUIRE(tc_call(f, in, 2, &out, 1) == TC_OK || FAIL("%s", tc_error_text(tc)));
    float *y = (float *)malloc(ONES * (size_t)n * sizeof *y);
    REQUIRE(y && tc_read(tc_cast(out, TC_F32), y, ONES * (size_t)n * sizeof *y) == TC_OK);
    for (int r = 0; r < ONES; r++) {
        for (int i = 0; i < n; i++) row[i] = (double)x[r * n + i];
        softmax_row(row, n);
        for (int i = 0; i < n; i++)
            worst = fmax(worst, fabs((double)y[r * n + i] - row[i] + (i == where[r])));
    }
    CHECK(worst <= (dtype == TC_BF16 ? 4e-3 : 1e-6) ||
          FAIL("%d columns: off by %g", n, worst));
    tc_fn_free(f);
    free(x), free(y), free(row);
}

TEST(one_of_a_row) {
    static const int columns[] = {4, 8, 40, 100, 1000, 9003, 40000};
    tc_ctx *tc = tc_open(NULL);
    REQUIRE(open_device(tc));
    for (int i = 0; i < (device_is_real ? 7 : 6); i++) {
        check_one(tc, columns[i], TC_F32, TC_I64);
        check_one(tc, columns[i], TC_BF16, TC_I64);
        check_one(tc, columns[i], TC_F32, TC_I32);
    }
    tc_close(tc);
}

// ---- rows that values of theirs name ----

enum { NAMED = 37, TABLE = 11 };

// An embedding, to which places are added, standardised; and the sum.
static void named_body(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_add(tc_embedding(in[0], in[1]), in[2]);
    out[1] = standard(out[0], 1);
}

static void check_named(tc_ctx *tc, int n, tc_dtype dtype, tc_dtype index) {
    size_t count = (size_t)NAMED * (size_t)n;
    float *table = (float *)malloc(TABLE * (size_t)n * sizeof *table);
    float *place = (float *)malloc(count * sizeof *place), *y[2];
    double *row = (double *)malloc((size_t)n * sizeof *row), worst = 0;
    int64_t named[NAMED];
    REQUIRE(table && place && row);
    for (int i = 0; i < TABLE * n; i++)
        table[i] = (float)((int)test_word((unsigned)i, 11) >> 24) / 64.0f;
    for (size_t i = 0; i < count; i++)
        place[i] = (float)((int)test_word((unsigned)i, 12) >> 24) / 64.0f;
    for (int r = 0; r < NAMED; r++) named[r] = (r * 7 + 3) % TABLE;
    tc_tensor in[3], out[2];
    in[0] = tc_cast(tc_from_data(tc, table, TC_DIMS(TABLE, n), TC_F32), dtype);
    in[1] = tc_cast(tc_from_data(tc, named, TC_DIMS(NAMED), TC_I64), index);
    in[2] = tc_from_data(tc, place, TC_DIMS(NAMED, n), TC_F32);
    for (int i = 0; i < 3; i++) in[i] = tc_to(in[i], DEVICE_NAME);
    tc_fn *f = tc_compile(tc, named_body, NULL, 0, NULL);
    REQUIRE(tc_call(f, in, 3, out, 2) == TC_OK || FAIL("%s", tc_error_text(tc)));
    for (int k = 0; k < 2; k++) {
        y[k] = (float *)malloc(count * sizeof *y[k]);
        REQUIRE(y[k] && tc_read(out[k], y[k], count * sizeof *y[k]) == TC_OK);
    }
    for (int r = 0; r < NAMED; r++) {
        for (int i = 0; i < n; i++)
            row[i] = (double)table[named[r] * n + i] + (double)place[r * n + i];
        for (int i = 0; i < n; i++)
            worst = fmax(worst, fabs((double)y[0][r * n + i] - row[i]));
        standard_row(row, n);
        for (int i = 0; i < n; i++)
            worst = fmax(worst, fabs((double)y[1][r * n + i] - row[i]));
    }
    CHECK(worst <= 2e-5 || FAIL("%d columns: off by %g", n, worst));
    tc_fn_free(f);
    free(table), free(place), free(row), free(y[0]), free(y[1]);
}

TEST(rows_that_values_name) {
    static const int columns[] = {8, 40, 100, 333, 768, 1024, 3000, 9003};
    tc_ctx *tc = tc_open(NULL);
    REQUIRE(open_device(tc));
    for (int i = 0; i < 8; i++) {
        check_named(tc, columns[i], TC_F32, TC_I64);
        check_named(tc, columns[i], TC_BF16, TC_I32);
    }
    tc_close(tc);
}
