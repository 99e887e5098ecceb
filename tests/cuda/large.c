// Products of the sizes that the large tiles, the slices of k and the short rows are for, on a GPU; the
// emulator does the same with smaller ones. Many elements are compared with their sums in double, and all of
// them by two projections: y v is a (b v), and u y is (u a) b.
#include "tcompile.h"

#include "tcompile_cuda.h"

#define TEST_NO_MAIN
#include "harness.h"
#include "help.h"
#include "tools/cuda_device.h"

enum {
    TURNED_LEFT = 1,  // stored [k, m]
    TURNED_RIGHT = 2, // stored [n, k]
    SCALED = 4,       // the right one: i8 [n, k] times a number for each row
    BIAS = 8,
    RELU = 16,
    TF32 = 32,
    RUN_TIME = 64 // m is a size of run time
};
enum { SAMPLES = 1 << 15 };

// left[batch, m, k] times right[batch, k, n], of dtypes that are cast to `dtype`.
typedef struct product {
    int dtype, left, right;
    int batch, m, n, k, flags;
} product;

// One of its inputs: values in row-major order as the product takes them, [batch, rows, cols].
typedef struct operand {
    tc_tensor tensor;
    float *value;
    int rows, cols;
} operand;

// ---- data, with no more digits than the dtypes have

static float value_at(int64_t i, uint32_t seed, int exact) {
    if (exact) return (float)test_number((unsigned)i, seed);
    return (float)((int)test_word((unsigned)i, seed) >> 24) / 128.0f;
}

// The power of two that a row of bytes is multiplied by.
static float scale_at(int row) { return 1.0f / (float)(32 << row % 3); }

static float *floats(int64_t count) {
    float *p = (float *)malloc(sizeof *p * (size_t)count);
    if (!p) abort();
    return p;
}

static double *doubles(int64_t count) {
    double *p = (double *)calloc((size_t)count, sizeof *p);
    if (!p) abort();
    return p;
}

// [batch, rows, cols], stored as [batch, cols, rows] where turned.
static void operand_open(tc_ctx *tc, operand *o, const product *q, int right, int rows,
                         int cols) {
    int dtype = right ? q->right : q->left, b = q->batch, bytes = dtype == TC_I8;
    int turned = q->flags & (right ? TURNED_RIGHT : TURNED_LEFT);
    int exact = q->dtype != TC_BF16 && q->dtype != TC_F16 && !(q->flags & TF32);
    int64_t count = (int64_t)b * rows * cols, plane = (int64_t)rows * cols;
    float *stored = floats(count);
    o->value = floats(count), o->rows = rows, o->cols = cols;
    for (int64_t i = 0; i < count; i++) {
        int64_t at = i % plane, r = turned ? at % rows : at / cols,
                c = turned ? at / rows : at % cols;
        stored[i] = value_at(i, (uint32_t)right + 1, exact);
        if (bytes) stored[i] = floorf(stored[i] * 100);
        o->value[i / plane * plane + r * cols + c] =
            bytes ? stored[i] * scale_at((int)c) : stored[i];
    }
    int first = turned ? cols : rows, second = turned ? rows : cols;
    tc_dims d = b > 1 ? TC_DIMS(b, first, second) : TC_DIMS(first, second);
    tc_tensor here = tc_from_data(tc, stored, d, TC_F32),
              own = tc_cast(here, (tc_dtype)dtype);
    o->tensor = tc_to(own, DEVICE_NAME);
    tc_free(here), tc_free(own);
    free(stored);
}

static void operand_free(operand *o) {
    free(o->value);
    tc_free(o->tensor);
}

// ---- the product

typedef struct inputs {
    operand left, right;
    tc_tensor scale, bias;
    float *bias_value;
} inputs;

static void inputs_open(tc_ctx *tc, const product *q, inputs *in) {
    float *scale = floats(q->n);
    in->bias_value = floats(q->n);
    for (int i = 0; i < q->n; i++) scale[i] = scale_at(i);
    for (int i = 0; i < q->n; i++)
        in->bias_value[i] = q->flags & BIAS ? value_at(i, 9, 0) : 0;
    tc_tensor s = tc_from_data(tc, scale, TC_DIMS(q->n, 1), TC_F32),
              b = tc_from_data(tc, in->bias_value, TC_DIMS(q->n), TC_F32);
    in->scale = tc_to(s, DEVICE_NAME), in->bias = tc_to(b, DEVICE_NAME);
    tc_free(s), tc_free(b);
    free(scale);
    operand_open(tc, &in->left, q, 0, q->m, q->k);
    operand_open(tc, &in->right, q, 1, q->k, q->n);
}

static void inputs_free(inputs *in) {
    operand_free(&in->left), operand_free(&in->right);
    tc_free(in->scale), tc_free(in->bias);
    free(in->bias_value);
}

static tc_tensor taken(tc_tensor t, int dtype, int turned) {
    if (tc_dtype_of(t) != dtype) t = tc_cast(t, (tc_dtype)dtype);
    return turned ? tc_transpose(t, -2, -1) : t;
}

static tc_tensor run(tc_ctx *tc, const product *q, const inputs *in) {
    tc_options o = tc_options_default();
    tc_tensor w = in->right.tensor;
    o.allow_tf32 = (q->flags & TF32) != 0;
    if (q->flags & RUN_TIME) tc_mark_dynamic(in->left.tensor, 0, 2, 1 << 20);
    tc_trace_begin_with(tc, "large", &o);
    if (q->flags & SCALED) w = tc_mul(tc_cast(w, TC_F32), in->scale);
    tc_tensor y = tc_matmul(taken(in->left.tensor, q->dtype, q->flags & TURNED_LEFT),
                            taken(w, q->dtype, q->flags & TURNED_RIGHT));
    if (q->flags & BIAS) y = tc_add(y, tc_cast(in->bias, (tc_dtype)q->dtype));
    if (q->flags & RELU) y = tc_relu(y);
    y = tc_keep(y);
    CHECK(tc_trace_end(tc) == TC_OK || FAIL("%s", tc_error_text(tc)));
    return y;
}

// ---- the same in double

// How far a result may be from the sum `want` of terms of that `size`.
static double near_of(const product *q, double want, double size) {
    double digits = q->dtype == TC_BF16 ? 1.0 / 256 : q->dtype == TC_F16 ? 1.0 / 2048 : 0;
    double sums = q->dtype == TC_F64 ? 1e-14 : q->dtype == TC_F32 ? 4e-7 : 2e-6;
    return digits * fabs(want) + sums * size;
}

// Element (r, c) of batch b; `columns` are those of the right operand, [batch, n, k].
static int element_is_near(const product *q, const inputs *in, const float *columns, int b,
                           int r, int c, double have) {
    const float *x = in->left.value + ((int64_t)b * q->m + r) * q->k,
                *y = columns + ((int64_t)b * q->n + c) * q->k;
    double want = (double)in->bias_value[c], size = fabs(want);
    for (int k = 0; k < q->k; k++) {
        double v = (double)x[k] * (double)y[k];
        want += v, size += fabs(v);
    }
    if (q->flags & RELU && want < 0) want = 0;
    if (fabs(have - want) <= near_of(q, want, size)) return 1;
    return FAIL("batch %d, row %d, column %d is %.9g, not %.9g", b, r, c, have, want);
}

static void check_samples(const product *q, const inputs *in, const double *have) {
    int64_t plane = (int64_t)q->m * q->n, count = q->batch * plane, wrong = 0;
    int64_t step = count / SAMPLES + 1;
    float *columns = floats((int64_t)q->batch * q->n * q->k);
    for (int64_t b = 0; b < q->batch; b++)
        for (int64_t c = 0; c < q->n; c++)
            for (int64_t k = 0; k < q->k; k++)
                columns[(b * q->n + c) * q->k + k] =
                    in->right.value[(b * q->k + k) * q->n + c];
    for (int64_t at = 0; at < count && wrong < 20; at += step) {
        int64_t i =
            at + test_word((unsigned)at, 0) % step; // one of each stretch, and the last
        if (i >= count) i = count - 1;
        wrong += !element_is_near(q, in, columns, (int)(i / plane), (int)(i % plane / q->n),
                                  (int)(i % q->n), have[i]);
    }
    free(columns);
}

static double sign_at(int i) { return test_word((unsigned)i, 77) & 1 ? 1 : -1; }

// x[rows, cols] times signs: of columns, or of rows. squares: x squared, averaged, instead.
static void project(const float *x, int rows, int cols, int of_rows, double *signs,
                    double *squares) {
    int others = of_rows ? rows : cols;
    memset(signs, 0, sizeof *signs * (size_t)(of_rows ? cols : rows));
    memset(squares, 0, sizeof *squares * (size_t)(of_rows ? cols : rows));
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < cols; c++) {
            double v = (double)x[(int64_t)r * cols + c];
            int to = of_rows ? c : r;
            signs[to] += v * sign_at(of_rows ? r : c);
            squares[to] += v * v / others;
        }
}

// Sums of signed elements of y along columns (each row its own) or rows, against the projected operand.
static void check_lines(const product *q, const inputs *in, const double *y, int b,
                        int of_rows) {
    const float *left = in->left.value + (int64_t)b * q->m * q->k,
                *right = in->right.value + (int64_t)b * q->k * q->n;
    int lines = of_rows ? q->n : q->m, along = of_rows ? q->m : q->n, wrong = 0;
    double *signs = doubles(q->k), *squares = doubles(q->k), bias = 0;
    project(of_rows ? left : right, of_rows ? q->m : q->k, of_rows ? q->k : q->n, of_rows,
            signs, squares);
    for (int i = 0; i < along; i++)
        bias += sign_at(i) * (double)(of_rows ? 1 : in->bias_value[i]);
    for (int i = 0; i < lines && wrong < 20; i++) {
        double want = of_rows ? bias * (double)in->bias_value[i] : bias, have = 0, size = 1;
        for (int k = 0; k < q->k; k++) {
            double v = (double)(of_rows ? right[(int64_t)k * q->n + i]
                                        : left[(int64_t)i * q->k + k]);
            want += v * signs[k], size += v * v * squares[k];
        }
        for (int k = 0; k < along; k++)
            have += sign_at(k) * y[of_rows ? (int64_t)k * q->n + i : (int64_t)i * q->n + k];
        size = sqrt(size); // of one element
        if (fabs(have - want) <= 8 * sqrt(along) * near_of(q, size, size * sqrt(q->k)))
            continue;
        wrong++;
        FAIL("batch %d, %s %d: the projection is %.9g, not %.9g", b,
             of_rows ? "column" : "row", i, have, want);
    }
    free(signs), free(squares);
}

// ---- cases

// The emulator computes one thread after the other.
static int smaller(int size) {
    return device_is_real || size <= 96 ? size : 64 + size % 32;
}

static void check_product(product q) {
    tc_ctx *tc = open_backend("cpu");
    inputs in;
    REQUIRE(open_device(tc));
    q.m = smaller(q.m), q.n = smaller(q.n), q.k = smaller(q.k);
    if (!device_is_real && q.batch > 3) q.batch = 3;
    inputs_open(tc, &q, &in);
    int64_t plane = (int64_t)q.m * q.n, count = q.batch * plane;
    double *have = doubles(count);
    tc_tensor y = run(tc, &q, &in), all = tc_cast(y, TC_F64);
    CHECK_EQ(tc_read(all, have, sizeof *have * (size_t)count), TC_OK);
    check_samples(&q, &in, have);
    for (int b = 0; b < q.batch && !(q.flags & RELU); b++) {
        check_lines(&q, &in, have + b * plane, b, 0);
        check_lines(&q, &in, have + b * plane, b, 1);
    }
    tc_free(y), tc_free(all);
    free(have);
    inputs_free(&in);
    CHECK_STR(tc_error_text(tc), "");
    tc_close(tc);
    check_device_closed();
}

#define PRODUCT(name, ...)                                                                 \
    TEST(name) {                                                                           \
        static const product q[] = {__VA_ARGS__};                                          \
        for (size_t i = 0; i < sizeof q / sizeof *q && !test_failures; i++)                \
            check_product(q[i]);                                                           \
    }
#define SAME(dtype) dtype, dtype, dtype

PRODUCT(bf16_squares, {SAME(TC_BF16), 1, 2048, 2048, 1024, 0},
        {SAME(TC_BF16), 1, 4096, 4096, 256, BIAS},
        {SAME(TC_BF16), 1, 1000, 1032, 520, BIAS | RELU})
PRODUCT(bf16_odd_sizes, {SAME(TC_BF16), 1, 777, 1029, 333, 0},
        {SAME(TC_BF16), 1, 129, 257, 1031, BIAS})
PRODUCT(f16_turned, {SAME(TC_F16), 1, 2048, 1024, 512, TURNED_RIGHT},
        {SAME(TC_F16), 1, 1024, 2048, 512, TURNED_LEFT},
        {SAME(TC_F16), 1, 500, 700, 300, TURNED_LEFT | TURNED_RIGHT})
PRODUCT(bf16_of_f32, {TC_BF16, TC_F32, TC_F32, 1, 2048, 2048, 512, 0},
        {TC_BF16, TC_F32, TC_BF16, 1, 64, 2048, 2048, TURNED_RIGHT},
        {TC_BF16, TC_BF16, TC_F32, 1, 100, 1004, 1036, BIAS})
PRODUCT(bytes_and_scales,
        {TC_BF16, TC_BF16, TC_I8, 1, 1, 4096, 4096, SCALED | TURNED_RIGHT},
        {TC_BF16, TC_BF16, TC_I8, 1, 4, 4096, 4096, SCALED | TURNED_RIGHT},
        {TC_BF16, TC_BF16, TC_I8, 1, 16, 4096, 4096, SCALED | TURNED_RIGHT},
        {TC_BF16, TC_BF16, TC_I8, 1, 128, 2048, 4096, SCALED | TURNED_RIGHT},
        {TC_BF16, TC_BF16, TC_I8, 1, 1024, 2048, 1024, SCALED | TURNED_RIGHT | BIAS},
        {TC_F32, TC_F32, TC_I8, 1, 100, 1000, 1000, SCALED | TURNED_RIGHT})
PRODUCT(f32_squares, {SAME(TC_F32), 1, 2048, 2048, 1024, 0},
        {SAME(TC_F32), 1, 1001, 999, 1003, BIAS},
        {SAME(TC_F32), 1, 512, 1024, 96, BIAS | RELU})
PRODUCT(f32_turned, {SAME(TC_F32), 1, 1024, 512, 512, TURNED_RIGHT},
        {SAME(TC_F32), 1, 512, 1024, 512, TURNED_LEFT},
        {SAME(TC_F32), 1, 300, 500, 700, TURNED_LEFT | TURNED_RIGHT})
PRODUCT(tf32, {SAME(TC_F32), 1, 2048, 2048, 1024, TF32},
        {SAME(TC_F32), 1, 1001, 999, 1003, TF32 | BIAS},
        {SAME(TC_F32), 1, 512, 512, 512, TF32 | TURNED_RIGHT})
PRODUCT(few_rows, {SAME(TC_BF16), 1, 1, 8192, 8192, 0},
        {SAME(TC_BF16), 1, 1, 8192, 8192, TURNED_RIGHT},
        {SAME(TC_BF16), 1, 4, 4096, 4096, BIAS}, {SAME(TC_F32), 1, 3, 4096, 4096, 0},
        {SAME(TC_F32), 1, 16, 2048, 4100, TURNED_RIGHT | BIAS},
        {SAME(TC_F16), 1, 4097, 2, 1024, 0})
PRODUCT(slices, {SAME(TC_BF16), 1, 64, 64, 65536, 0},
        {SAME(TC_F32), 1, 64, 64, 65536, TURNED_RIGHT},
        {SAME(TC_BF16), 1, 200, 300, 20000, BIAS}, {SAME(TC_F32), 1, 100, 100, 30000, TF32})
PRODUCT(batches, {SAME(TC_BF16), 24, 512, 64, 512, 0},
        {SAME(TC_BF16), 24, 512, 512, 64, TURNED_RIGHT},
        {SAME(TC_F32), 12, 197, 197, 64, TURNED_RIGHT}, {SAME(TC_F16), 300, 16, 16, 64, 0})
PRODUCT(eight_bytes, {SAME(TC_F64), 1, 512, 512, 512, 0},
        {SAME(TC_F64), 1, 301, 203, 405, TURNED_RIGHT | BIAS})
PRODUCT(rows_of_run_time, {SAME(TC_BF16), 1, 1000, 2048, 1024, RUN_TIME},
        {SAME(TC_F32), 1, 777, 1024, 1024, RUN_TIME | BIAS},
        {TC_BF16, TC_BF16, TC_I8, 1, 300, 1024, 2048, SCALED | TURNED_RIGHT | RUN_TIME})
