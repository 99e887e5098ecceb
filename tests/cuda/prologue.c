// Rows made in the prologue of the product that reads them: norms and softmax before matmul and
// linear layers, on a GPU or on the emulator. Values are compared with sums in double; that rows and
// product are one kernel is a count.
#include "tcompile.h"

#include "tcompile_cuda.h"

#define TEST_NO_MAIN
#include "harness.h"
#include "help.h"
#include "tools/cuda_device.h"

typedef enum rows { LAYER_NORM, RMS_NORM, SOFTMAX, CENTRED, ROWS } rows;

enum {
    AFFINE = 1,   // weight and shift of the rows
    TURNED = 2,   // linear: weights [n, k], not [k, n]
    GELU = 4,     // of the product and a bias
    RESIDUAL = 8, // x + ..., of a square product
    KEPT = 16,    // the rows are a result, too
    SHARED = 32   // one right operand for all batches
};

typedef struct chain {
    int dtype, batch, m, n, k;
    rows rows;
    int flags, kernels;
} chain;

// ---- data, rounded to what the device has

typedef struct operand {
    tc_tensor tensor; // on the device
    double *value;
    int64_t count;
} operand;

static operand operand_of(tc_ctx *tc, tc_dims d, int dtype, uint32_t seed) {
    operand o;
    o.count = 1;
    for (int i = 0; i < d.rank; i++) o.count *= d.size[i];
    o.value = (double *)malloc(sizeof *o.value * (size_t)o.count);
    for (int64_t i = 0; i < o.count; i++) o.value[i] = test_number((uint32_t)i, seed);
    tc_tensor all = tc_from_data(tc, o.value, d, TC_F64),
              own = tc_cast(all, (tc_dtype)dtype), back = tc_cast(own, TC_F64);
    CHECK_EQ(tc_read(back, o.value, sizeof *o.value * (size_t)o.count), TC_OK);
    o.tensor = tc_to(own, DEVICE_NAME);
    tc_free(all), tc_free(own), tc_free(back);
    return o;
}

static void operand_free(operand *o) {
    free(o->value);
    tc_free(o->tensor);
}

// ---- the same in double

static double mean_of(const double *x, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += x[i];
    return sum / n;
}

static void rows_of(rows what, const double *x, int n, double *y) {
    double mean = what == LAYER_NORM || what == CENTRED ? mean_of(x, n) : 0, most = x[0];
    double squares = 0, sum = 0;
    for (int i = 0; i < n; i++) {
        squares += (x[i] - mean) * (x[i] - mean);
        if (x[i] > most) most = x[i];
    }
    for (int i = 0; i < n; i++) sum += exp(x[i] - most);
    for (int i = 0; i < n; i++)
        y[i] = what == SOFTMAX   ? exp(x[i] - most) / sum
               : what == CENTRED ? x[i] - mean
                                 : (x[i] - mean) / sqrt(squares / n + 1e-5);
}

typedef struct inputs {
    operand x, gain, shift, weight, bias;
} inputs;

static double element(const chain *q, const inputs *in, const double *row, int64_t b,
                      int64_t r, int64_t c) {
    double sum = 0;
    const double *w = in->weight.value + (q->flags & SHARED ? 0 : b * q->k * q->n);
    for (int k = 0; k < q->k; k++)
        sum += row[k] * w[q->flags & TURNED ? c * q->k + k : (int64_t)k * q->n + c];
    if (q->flags & GELU) {
        sum += in->bias.value[c];
        sum = sum * 0.5 * erfc(-sum / sqrt(2.0));
    }
    if (q->flags & RESIDUAL) sum += in->x.value[(b * q->m + r) * q->k + c];
    return sum;
}

static double near_of(int dtype, double scale) {
    double each = dtype == TC_F64   ? 1e-12
                  : dtype == TC_F32 ? 1e-5
                  : dtype == TC_F16 ? 2e-3
                                    : 1.6e-2;
    return each * scale;
}

// ---- one chain

static tc_tensor make_rows(const chain *q, const inputs *in) {
    tc_tensor none = {0}, gain = q->flags & AFFINE ? in->gain.tensor : none,
              shift = q->flags & AFFINE ? in->shift.tensor : none;
    if (q->rows == LAYER_NORM) return tc_layer_norm(in->x.tensor, gain, shift, 1e-5);
    if (q->rows == RMS_NORM) return tc_rms_norm(in->x.tensor, gain, 1e-5);
    if (q->rows == SOFTMAX) return tc_softmax(in->x.tensor, -1);
    return tc_sub(in->x.tensor, tc_mean_dims(in->x.tensor, TC_DIMS(-1), 1));
}

static tc_tensor run_chain(const chain *q, const inputs *in, tc_tensor *made) {
    tc_tensor w = in->weight.tensor, y = *made = make_rows(q, in);
    y = tc_matmul(y, q->flags & TURNED ? tc_transpose(w, -2, -1) : w);
    if (q->flags & GELU) y = tc_gelu(tc_add(y, in->bias.tensor));
    return q->flags & RESIDUAL ? tc_add(in->x.tensor, y) : y;
}

static void check_all(const chain *q, const inputs *in, const double *have,
                      const double *made) {
    double *row = (double *)malloc(sizeof *row * (size_t)q->k);
    int wrong = 0;
    for (int64_t i = 0; i < (int64_t)q->batch * q->m; i++) {
        rows_of(q->rows, in->x.value + i * q->k, q->k, row);
        for (int k = 0; k < q->k && q->flags & AFFINE; k++)
            row[k] = row[k] * in->gain.value[k] +
                     (q->rows == LAYER_NORM ? in->shift.value[k] : 0);
        for (int k = 0; k < q->k && made; k++)
            wrong += !(fabs(made[i * q->k + k] - row[k]) <= near_of(q->dtype, 2));
        for (int c = 0; c < q->n; c++) {
            double want = element(q, in, row, i / q->m, i % q->m, c);
            double near = near_of(q->dtype, 1 + fabs(want) + sqrt(q->k) / 4);
            if (fabs(have[i * q->n + c] - want) <= near || wrong++) continue;
            FAIL("row %lld, column %d is %.9g, not %.9g", (long long)i, c,
                 have[i * q->n + c], want);
        }
    }
    free(row);
    CHECK(!wrong || FAIL("%d wrong of %dx%dx%dx%d, dtype %d, rows %d, flags %d", wrong,
                         q->batch, q->m, q->n, q->k, q->dtype, (int)q->rows, q->flags));
}

static void read_doubles(tc_tensor t, double *to, int64_t count) {
    tc_tensor d = tc_cast(t, TC_F64);
    CHECK_EQ(tc_read(d, to, sizeof *to * (size_t)count), TC_OK);
    tc_free(d);
}

static void inputs_open(tc_ctx *tc, const chain *q, inputs *in) {
    int one = q->flags & SHARED, turned = q->flags & TURNED, b = q->batch;
    int64_t first = turned ? q->n : q->k, second = turned ? q->k : q->n;
    in->x =
        operand_of(tc, b > 1 ? TC_DIMS(b, q->m, q->k) : TC_DIMS(q->m, q->k), q->dtype, 1);
    in->weight =
        operand_of(tc, b > 1 && !one ? TC_DIMS(b, first, second) : TC_DIMS(first, second),
                   q->dtype, 2);
    in->gain = operand_of(tc, TC_DIMS(q->k), q->dtype, 3);
    in->shift = operand_of(tc, TC_DIMS(q->k), q->dtype, 4);
    in->bias = operand_of(tc, TC_DIMS(q->n), q->dtype, 5);
}

static void check_chain(const chain *q) {
    inputs in;
    tc_ctx *tc = open_backend("cpu");
    REQUIRE(open_device(tc));
    inputs_open(tc, q, &in);
    int64_t count = (int64_t)q->batch * q->m * q->n, all = (int64_t)q->batch * q->m * q->k;
    double *have = (double *)malloc(sizeof *have * (size_t)count),
           *kept = (double *)malloc(sizeof *kept * (size_t)all);
    tc_tensor made, y;
    tc_trace_begin(tc, "chain");
    y = run_chain(q, &in, &made);
    if (!(q->flags & KEPT)) tc_free(made);
    tc_trace_end(tc);
    read_doubles(y, have, count);
    if (q->flags & KEPT) read_doubles(made, kept, all);
    check_all(q, &in, have, q->flags & KEPT ? kept : NULL);
    CHECK(tc_region_kernels(tc, "chain") == q->kernels ||
          FAIL("%d kernels, not %d: %dx%dx%dx%d, rows %d, flags %d",
               tc_region_kernels(tc, "chain"), q->kernels, q->batch, q->m, q->n, q->k,
               (int)q->rows, q->flags));
    CHECK_STR(tc_error_text(tc), "");
    free(have), free(kept);
    operand_free(&in.x), operand_free(&in.gain), operand_free(&in.shift);
    operand_free(&in.weight), operand_free(&in.bias);
    tc_close(tc);
    check_device_closed();
}

#define CHAINS(name, ...)                                                                  \
    TEST(name) {                                                                           \
        static const chain q[] = {__VA_ARGS__};                                            \
        for (size_t i = 0; i < sizeof q / sizeof *q; i++) check_chain(&q[i]);              \
    }

// ---- dtype, batch, m, n, k, rows, flags, kernels

CHAINS(linear_layers,
       {TC_F32, 1, 16, 64, 64, LAYER_NORM, AFFINE | TURNED | GELU | RESIDUAL, 1},
       {TC_F32, 1, 16, 64, 64, RMS_NORM, AFFINE | TURNED, 1},
       {TC_F32, 1, 3, 40, 48, LAYER_NORM, TURNED | GELU, 1},
       {TC_F32, 1, 1, 200, 96, RMS_NORM, AFFINE | TURNED, 1})

CHAINS(columns_of_weights, {TC_F32, 1, 16, 64, 64, LAYER_NORM, AFFINE | GELU | RESIDUAL, 1},
       {TC_F32, 1, 5, 72, 33, RMS_NORM, AFFINE, 1},
       {TC_F32, 1, 4, 37, 50, SOFTMAX, GELU, 1})

CHAINS(all_kinds_of_rows, {TC_F32, 1, 9, 24, 70, SOFTMAX, TURNED, 1},
       {TC_F32, 1, 6, 30, 31, CENTRED, TURNED, 1}, {TC_F32, 1, 7, 19, 2, LAYER_NORM, 0, 1},
       {TC_F32, 1, 7, 19, 3, CENTRED, 0, 1})

CHAINS(many_rows, {TC_F32, 1, 100, 64, 64, LAYER_NORM, AFFINE | TURNED | GELU, 1},
       {TC_F32, 1, 257, 64, 40, RMS_NORM, AFFINE, 1},
       {TC_F32, 1, 1000, 10, 96, LAYER_NORM, AFFINE | TURNED | GELU, 1},
       {TC_F32, 1, 333, 3, 37, SOFTMAX, 0, 1})

CHAINS(batches, {TC_F32, 3, 5, 24, 32, SOFTMAX, 0, 1},
       {TC_F32, 2, 6, 40, 36, LAYER_NORM, AFFINE | TURNED | GELU, 1},
       {TC_F32, 2, 50, 7, 36, RMS_NORM, TURNED, 1},
       {TC_F32, 2, 20, 40, 36, LAYER_NORM, AFFINE | KEPT, 1},
       {TC_F32, 4, 4, 32, 32, LAYER_NORM, SHARED | TURNED | RESIDUAL, 1})

CHAINS(other_types,
       {TC_F16, 1, 16, 64, 64, LAYER_NORM, AFFINE | TURNED | GELU | RESIDUAL, 1},
       {TC_BF16, 1, 16, 64, 64, RMS_NORM, AFFINE, 1},
       {TC_BF16, 2, 3, 40, 72, SOFTMAX, TURNED, 1},
       {TC_BF16, 1, 60, 3, 50, LAYER_NORM, AFFINE | TURNED, 1},
       {TC_F64, 1, 12, 40, 40, LAYER_NORM, AFFINE | TURNED | RESIDUAL, 1},
       {TC_F64, 1, 5, 9, 17, SOFTMAX, GELU, 1})

// Rows of which a warp has many steps, and those that a block makes.
CHAINS(long_rows, {TC_F32, 1, 2, 24, 1024, LAYER_NORM, AFFINE | TURNED, 1},
       {TC_F32, 1, 1, 24, 2500, RMS_NORM, AFFINE | TURNED, 1},
       {TC_F32, 1, 1, 20, 6001, SOFTMAX, 0, 1},
       {TC_BF16, 1, 1, 40, 4096, RMS_NORM, AFFINE | TURNED, 1})

// Several columns of each thread; softmax over one row of each head, whose lanes along columns are few.
CHAINS(one_row, {TC_BF16, 1, 1, 3001, 4096, RMS_NORM, AFFINE | TURNED, 1},
       {TC_BF16, 1, 1, 1050, 4096, RMS_NORM, AFFINE | TURNED, 1},
       {TC_F32, 1, 1, 600, 2048, LAYER_NORM, AFFINE | TURNED | GELU, 1},
       {TC_BF16, 6, 1, 128, 300, SOFTMAX, 0, 1}, {TC_F32, 8, 1, 60, 200, SOFTMAX, 0, 1})

// Too much to be made again for all columns, and rows that somebody else needs.
CHAINS(what_stays_apart, {TC_F32, 1, 600, 512, 64, LAYER_NORM, TURNED, 2},
       {TC_F32, 1, 16, 4096, 320, RMS_NORM, TURNED, 2},
       {TC_F32, 1, 16, 64, 64, LAYER_NORM, AFFINE | TURNED | KEPT, 1})

// ---- graphs of several products

enum { M = 20, K = 48, N = 40 };

static void check_product(const char *what, const double *have, const double *rows,
                          const double *weight, const double *add, int n, int k) {
    int wrong = 0;
    for (int r = 0; r < M; r++)
        for (int c = 0; c < n; c++) {
            double sum = add ? add[r * n + c] : 0;
            for (int i = 0; i < k; i++) sum += rows[r * k + i] * weight[c * k + i];
            wrong += !(fabs(have[r * n + c] - sum) <= 1e-4 * (1 + fabs(sum)));
        }
    CHECK(!wrong || FAIL("%d elements of %s are wrong", wrong, what));
}

// Queries, keys and values: each makes the rows for itself, and none is in memory.
TEST(three_products_of_the_same_rows) {
    static double rows[M * K], have[M * N];
    operand x, w[3];
    tc_tensor y[3];
    tc_ctx *tc = open_backend("cpu");
    REQUIRE(open_device(tc));
    x = operand_of(tc, TC_DIMS(M, K), TC_F32, 1);
    for (int i = 0; i < 3; i++)
        w[i] = operand_of(tc, TC_DIMS(N, K), TC_F32, (uint32_t)i + 2);
    tc_trace_begin(tc, "three");
    tc_tensor none = {0}, n = tc_layer_norm(x.tensor, none, none, 1e-5);
    for (int i = 0; i < 3; i++) y[i] = tc_linear(n, w[i].tensor, none);
    tc_trace_end(tc);
    for (int r = 0; r < M; r++) rows_of(LAYER_NORM, x.value + r * K, K, rows + r * K);
    for (int i = 0; i < 3; i++) {
        read_doubles(y[i], have, M * N);
        check_product("a product", have, rows, w[i].value, NULL, N, K);
    }
    CHECK_EQ(tc_region_kernels(tc, "three"), 3);
    for (int i = 0; i < 3; i++) operand_free(&w[i]);
    operand_free(&x);
    tc_close(tc);
    check_device_closed();
}

// What follows a product reads the rows, too, or alone, as a derivative does that computes them again: then they are made
// apart, since no hole for results has them.
TEST(what_follows_reads_the_rows) {
    static double rows[M * K], have[M * K];
    operand x, y, w;
    tc_tensor z[2], none = {0};
    tc_ctx *tc = open_backend("cpu");
    REQUIRE(open_device(tc));
    x = operand_of(tc, TC_DIMS(M, K), TC_F32, 1),
    y = operand_of(tc, TC_DIMS(M, K), TC_F32, 2);
    w = operand_of(tc, TC_DIMS(K, K), TC_F32, 3);
    for (int both = 0; both < 2; both++) {
        tc_trace_begin(tc, both ? "both" : "alone");
        tc_tensor h = tc_tanh(tc_layer_norm(x.tensor, none, none, 1e-5));
        z[both] = tc_mul(tc_linear(both ? h : y.tensor, w.tensor, none),
                         tc_add_s(tc_square(h), 1));
        tc_trace_end(tc);
    }
    for (int r = 0; r < M; r++) rows_of(LAYER_NORM, x.value + r * K, K, rows + r * K);
    for (int i = 0; i < M * K; i++) rows[i] = tanh(rows[i]);
    for (int both = 0; both < 2; both++) {
        const double *left = both ? rows : y.value;
        int wrong = 0;
        read_doubles(z[both], have, M * K);
        for (int r = 0; r < M; r++)
            for (int c = 0; c < K; c++) {
                double sum = 0, h = rows[r * K + c];
                for (int i = 0; i < K; i++) sum += left[r * K + i] * w.value[c * K + i];
                sum *= h * h + 1;
                wrong += !(fabs(have[r * K + c] - sum) <= 1e-4 * (1 + fabs(sum)));
            }
        CHECK(!wrong || FAIL("%d elements are wrong, both %d", wrong, both));
    }
    operand_free(&x), operand_free(&y), operand_free(&w);
    CHECK_STR(tc_error_text(tc), "");
    tc_close(tc);
    check_device_closed();
}

// h = exp(x) + y: what the rows are made of is stored by the kernel that makes them, and read by the
// second product's epilogue. The rows themselves are read by something that is no product.
TEST(what_rows_are_made_of_is_read_later) {
    static double h[M * K], rows[M * K], first[M * N], have[M * K];
    operand x, y, up, down;
    tc_ctx *tc = open_backend("cpu");
    REQUIRE(open_device(tc));
    x = operand_of(tc, TC_DIMS(M, K), TC_F32, 1);
    y = operand_of(tc, TC_DIMS(M, K), TC_F32, 2);
    up = operand_of(tc, TC_DIMS(N, K), TC_F32, 3);
    down = operand_of(tc, TC_DIMS(K, N), TC_F32, 4);
    tc_trace_begin(tc, "block");
    tc_tensor none = {0}, e = tc_add(tc_exp(x.tensor), y.tensor);
    tc_tensor n = tc_rms_norm(e, none, 1e-5);
    tc_tensor p = tc_linear(n, up.tensor, none);
    tc_tensor z = tc_add(e, tc_linear(p, down.tensor, none));
    tc_tensor twice = tc_mul_s(n, 2);
    tc_trace_end(tc);
    for (int i = 0; i < M * K; i++) h[i] = exp(x.value[i]) + y.value[i];
    for (int r = 0; r < M; r++) rows_of(RMS_NORM, h + r * K, K, rows + r * K);
    read_doubles(p, first, M * N);
    check_product("the first product", first, rows, up.value, NULL, N, K);
    read_doubles(z, have, M * K);
    check_product("the second product", have, first, down.value, h, K, N);
    read_doubles(twice, have, M * K);
    for (int i = 0; i < M * K; i++)
        CHECK(fabs(have[i] - 2 * rows[i]) <= 1e-4 || FAIL("[%d] is %g", i, have[i]));
    CHECK_EQ(tc_region_kernels(tc, "block"), 2);
    operand_free(&x), operand_free(&y), operand_free(&up), operand_free(&down);
    tc_close(tc);
    check_device_closed();
}

static tc_tensor sized(tc_tensor x, tc_tensor w) {
    tc_tensor none = {0};
    return tc_matmul(tc_layer_norm(x, none, none, 1e-5), w);
}

// The number of rows at run time: with few columns each row is made once, whatever their number; with
// many it depends on it, and they stay apart.
static void check_sizes(int n, int kernels) {
    static const int sizes[] = {40, 77, 3, 130};
    static double rows[130 * K], have[130 * N];
    tc_ctx *tc = open_backend("cpu");
    REQUIRE(open_device(tc));
    operand w = operand_of(tc, TC_DIMS(K, n), TC_F32, 9);
    for (int s = 0; s < 4; s++) {
        int m = sizes[s], wrong = 0;
        operand x = operand_of(tc, TC_DIMS(m, K), TC_F32, (uint32_t)s + 1);
        tc_trace_begin(tc, "sized");
        tc_tensor y = sized(x.tensor, w.tensor);
        tc_trace_end(tc);
        read_doubles(y, have, (int64_t)m * n);
        for (int r = 0; r < m; r++) {
            rows_of(LAYER_NORM, x.value + r * K, K, rows);
            for (int c = 0; c < n; c++) {
                double sum = 0;
                for (int i = 0; i < K; i++) sum += rows[i] * w.value[i * n + c];
                wrong += !(fabs(have[r * n + c] - sum) <= 1e-4 * (1 + fabs(sum)));
            }
        }
        CHECK(!wrong || FAIL("%d of %d x %d are wrong", wrong, m, n));
        if (s) CHECK_EQ(tc_region_kernels(tc, "sized"), kernels);
        operand_free(&x);
    }
    operand_free(&w);
    CHECK_STR(tc_error_text(tc), "");
    tc_close(tc);
    check_device_closed();
}

TEST(rows_of_run_time_size_and_few_columns) { check_sizes(5, 1); }
TEST(rows_of_run_time_size_and_many_columns) { check_sizes(N, 2); }

// ---- weights of eight bits

enum { GROUP = 12, GROUPS = K / GROUP };

// Bytes on the device: [N, K], or [GROUPS, GROUP, N] with their 0 at 128.
static tc_tensor bytes_of(tc_ctx *tc, int grouped, double *value) {
    static int8_t i8[N * K];
    static uint8_t u8[N * K];
    for (int i = 0; i < N * K; i++) {
        int v = (int)floor(test_number((uint32_t)i, 77) * 128);
        i8[i] = (int8_t)v, u8[i] = (uint8_t)(v + 128), value[i] = v;
    }
    tc_tensor here = grouped ? tc_from_data(tc, u8, TC_DIMS(GROUPS, GROUP, N), TC_U8)
                             : tc_from_data(tc, i8, TC_DIMS(N, K), TC_I8);
    tc_tensor there = tc_to(here, DEVICE_NAME);
    tc_free(here);
    return there;
}

static tc_tensor dequantised(tc_tensor bytes, tc_tensor scale, int grouped) {
    tc_tensor w = tc_cast(bytes, TC_F32);
    if (grouped) w = tc_sub_s(w, 128);
    w = tc_mul(w, scale);
    return grouped ? tc_reshape(w, TC_DIMS(K, N)) : tc_transpose(w, -2, -1);
}

// x, or its norm, times the weights: one kernel, whatever the number of rows; with the norm in it, too,
// where that number is known.
static void check_bytes(int grouped, int normed, int kernels) {
    static const int sizes[] = {40, 77, 3, 130, 1};
    static double rows[K], have[130 * N], weight[N * K];
    tc_ctx *tc = open_backend("cpu");
    REQUIRE(open_device(tc));
    tc_tensor none = {0}, bytes = bytes_of(tc, grouped, weight);
    operand scale =
        operand_of(tc, grouped ? TC_DIMS(GROUPS, 1, N) : TC_DIMS(N, 1), TC_F32, 9);
    for (int s = 0; s < 5; s++) {
        int m = sizes[s], wrong = 0;
        operand x = operand_of(tc, TC_DIMS(m, K), TC_F32, (uint32_t)s + 1);
        tc_trace_begin(tc, "bytes");
        tc_tensor left = normed ? tc_rms_norm(x.tensor, none, 1e-5) : x.tensor;
        tc_tensor y = tc_matmul(left, dequantised(bytes, scale.tensor, grouped));
        tc_trace_end(tc);
        read_doubles(y, have, (int64_t)m * N);
        for (int r = 0; r < m; r++) {
            if (normed) rows_of(RMS_NORM, x.value + r * K, K, rows);
            if (!normed) memcpy(rows, x.value + r * K, sizeof rows);
            for (int c = 0; c < N; c++) {
                double sum = 0, size = 1;
                for (int k = 0; k < K; k++) {
                    double v = rows[k] *
                               (grouped ? weight[k * N + c] * scale.value[k / GROUP * N + c]
                                        : weight[c * K + k] * scale.value[c]);
                    sum += v, size += fabs(v);
                }
                wrong += !(fabs(have[r * N + c] - sum) <= 1e-6 * size);
            }
        }
        CHECK(!wrong || FAIL("%d of %d rows are wrong", wrong, m));
        CHECK_EQ(tc_region_kernels(tc, "bytes"), s ? kernels : 1);
        operand_free(&x);
    }
    operand_free(&scale), tc_free(bytes);
    CHECK_STR(tc_error_text(tc), "");
    tc_close(tc);
    check_device_closed();
}

TEST(bytes_of_columns) { check_bytes(0, 0, 1); }
TEST(bytes_of_groups) { check_bytes(1, 0, 1); }
TEST(bytes_behind_a_norm) { check_bytes(0, 1, 2); }

// An index out of range in rows that several blocks make is reported as ever.
TEST(an_index_out_of_range) {
    static const int64_t at[M] = {0, 1, 2, 99, 4, 5};
    tc_ctx *tc = open_backend("cpu");
    REQUIRE(open_device(tc));
    operand x = operand_of(tc, TC_DIMS(M, K), TC_F32, 1),
            w = operand_of(tc, TC_DIMS(N, K), TC_F32, 2);
    tc_tensor none = {0}, all = tc_from_data(tc, at, TC_DIMS(M), TC_I64),
              index = tc_to(all, DEVICE_NAME);
    tc_trace_begin(tc, "taken");
    tc_tensor y = tc_layer_norm(tc_take(x.tensor, index, 0), none, none, 1e-5);
    y = tc_linear(y, w.tensor, none);
    tc_trace_end(tc);
    CHECK_EQ(tc_region_kernels(tc, "taken"), 1);
    tc_sync(tc);
    ERROR(TC_E_INDEX, "99");
    operand_free(&x), operand_free(&w);
    tc_free(all), tc_free(index);
    tc_close(tc);
    check_device_closed();
}

// The MLP of the benchmark: a kernel for each layer.
TEST(mlp_of_24_layers) {
    enum { LAYERS = 24, ROWS_OF_X = 16, WIDTH = 64 };
    static double x[ROWS_OF_X * WIDTH], y[ROWS_OF_X * WIDTH], have[ROWS_OF_X * WIDTH];
    operand in[1 + 4 * LAYERS];
    tc_ctx *tc = open_backend("cpu");
    REQUIRE(open_device(tc));
    in[0] = operand_of(tc, TC_DIMS(ROWS_OF_X, WIDTH), TC_F32, 1);
    for (int i = 1; i <= 4 * LAYERS; i++)
        in[i] = operand_of(tc, i % 4 == 3 ? TC_DIMS(WIDTH, WIDTH) : TC_DIMS(WIDTH), TC_F32,
                           (uint32_t)i + 1);
    tc_trace_begin(tc, "mlp");
    tc_tensor t = in[0].tensor;
    for (int i = 0; i < LAYERS; i++) {
        operand *o = &in[1 + 4 * i];
        tc_tensor n = tc_layer_norm(t, o[0].tensor, o[1].tensor, 1e-5);
        t = tc_add(t, tc_relu(tc_linear(n, o[2].tensor, o[3].tensor)));
    }
    tc_trace_end(tc);
    memcpy(x, in[0].value, sizeof x);
    for (int i = 0; i < LAYERS; i++) {
        operand *o = &in[1 + 4 * i];
        for (int r = 0; r < ROWS_OF_X; r++) {
            double *row = y + r * WIDTH;
            rows_of(LAYER_NORM, x + r * WIDTH, WIDTH, row);
            for (int k = 0; k < WIDTH; k++) row[k] = row[k] * o[0].value[k] + o[1].value[k];
            for (int c = 0; c < WIDTH; c++) {
                double sum = o[3].value[c];
                for (int k = 0; k < WIDTH; k++) sum += row[k] * o[2].value[c * WIDTH + k];
                x[r * WIDTH + c] += sum > 0 ? sum : 0;
            }
        }
    }
    read_doubles(t, have, ROWS_OF_X * WIDTH);
    for (int i = 0; i < ROWS_OF_X * WIDTH; i++)
        CHECK(fabs(have[i] - x[i]) <= 1e-3 * (1 + fabs(x[i])) ||
              FAIL("[%d] is %.9g, not %.9g", i, have[i], x[i]));
    CHECK_EQ(tc_region_kernels(tc, "mlp"), LAYERS);
    for (int i = 0; i <= 4 * LAYERS; i++) operand_free(&in[i]);
    CHECK_STR(tc_error_text(tc), "");
    tc_close(tc);
    check_device_closed();
}
