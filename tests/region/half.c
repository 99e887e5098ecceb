// f16 and bf16 through whole programs: how far regions and eager code are from a reference in double,
// and sums whose parts no half can hold.
#include "tcompile.h"

#include "harness.h"
#include "halves.h"
#include "help.h"

enum { BATCH = 32, IN = 64, HIDDEN = 128, OUT = 16, LONG = 100000 };
enum { X, W1, B1, SCALE, SHIFT, W2, B2, PARTS };

// What the network is made of: sizes, then the range of the values.
static const struct {
    int rows, cols; // rows 0: one dimension
    double low, high;
} parts[PARTS] = {
    {BATCH, IN, -2, 2},    {HIDDEN, IN, -0.25, 0.25}, {0, HIDDEN, -0.5, 0.5},
    {0, HIDDEN, 0.5, 1.5}, {0, HIDDEN, -0.5, 0.5},    {OUT, HIDDEN, -0.25, 0.25},
    {0, OUT, -0.5, 0.5},
};

static int count_of(int part) {
    return (parts[part].rows ? parts[part].rows : 1) * parts[part].cols;
}

// Element i as bf16.
static uint16_t element(int part, int i) {
    uint32_t h = ((uint32_t)part * 1000003u + (uint32_t)i) * 2654435761u;
    h = (h ^ h >> 15) * 2246822519u;
    double u = (double)(h >> 8) / (1 << 24);
    return half_nearest(half_bf16,
                        parts[part].low + (parts[part].high - parts[part].low) * u);
}

static double value(int part, int i) { return half_value(half_bf16, element(part, i)); }

static tc_tensor tensor(tc_ctx *tc, int part) {
    int n = count_of(part), rows = parts[part].rows, cols = parts[part].cols;
    uint16_t *p = (uint16_t *)malloc((size_t)n * sizeof *p);
    for (int i = 0; i < n; i++) p[i] = element(part, i);
    tc_tensor t = tc_from_data(tc, p, rows ? TC_DIMS(rows, cols) : TC_DIMS(cols), TC_BF16);
    free(p);
    return t;
}

static tc_tensor network(const tc_tensor *p) {
    tc_tensor h = tc_gelu(tc_add(tc_matmul(p[X], tc_t(p[W1])), p[B1]));
    h = tc_layer_norm(h, p[SCALE], p[SHIFT], 1e-5);
    return tc_softmax(tc_add(tc_matmul(h, tc_t(p[W2])), p[B2]), -1);
}

// One row of the network in double.
static void reference(int row, double *out) {
    double h[HIDDEN], mean = 0, var = 0, sum = 0;
    for (int j = 0; j < HIDDEN; j++) {
        double s = value(B1, j);
        for (int k = 0; k < IN; k++) s += value(X, row * IN + k) * value(W1, j * IN + k);
        h[j] = 0.5 * s * (1 + erf(s / sqrt(2.0)));
        mean += h[j] / HIDDEN;
    }
    for (int j = 0; j < HIDDEN; j++) var += (h[j] - mean) * (h[j] - mean) / HIDDEN;
    for (int j = 0; j < HIDDEN; j++)
        h[j] = (h[j] - mean) / sqrt(var + 1e-5) * value(SCALE, j) + value(SHIFT, j);
    for (int j = 0; j < OUT; j++) {
        double s = value(B2, j);
        for (int k = 0; k < HIDDEN; k++) s += h[k] * value(W2, j * HIDDEN + k);
        sum += out[j] = exp(s);
    }
    for (int j = 0; j < OUT; j++) out[j] /= sum;
}

// Root of the mean squared distance of y to the reference.
static double distance(tc_tensor y) {
    uint16_t got[BATCH * OUT];
    double sum = 0, want[OUT];
    CHECK_EQ(tc_dtype_of(y), TC_BF16);
    CHECK_EQ(tc_read(y, got, sizeof got), TC_OK);
    for (int row = 0; row < BATCH; row++) {
        reference(row, want);
        for (int j = 0; j < OUT; j++) {
            double d = half_value(half_bf16, got[row * OUT + j]) - want[j];
            sum += d * d;
        }
    }
    return sqrt(sum / (BATCH * OUT));
}

BOTH(a_network_is_as_near_as_eager) {
    tc_tensor p[PARTS];
    for (int i = 0; i < PARTS; i++) p[i] = tensor(tc, i);
    double eager = distance(network(p));
    BEGIN("network");
    tc_tensor y = network(p);
    END();
    double region = distance(y);
    CHECK(eager > 0 && eager < 0.01);
    CHECK(region <= 3 * eager || FAIL("region %g, eager %g", region, eager));
}

// LONG elements of `x`, and of minus x where `turns`.
static tc_tensor long_row(tc_ctx *tc, tc_dtype dtype, double x, int turns) {
    half_format f = dtype == TC_F16 ? half_f16 : half_bf16;
    uint16_t *p = (uint16_t *)malloc(LONG * sizeof *p);
    for (int i = 0; i < LONG; i++) p[i] = half_nearest(f, turns && i % 2 ? -x : x);
    tc_tensor t = tc_from_data(tc, p, TC_DIMS(LONG), dtype);
    free(p);
    return t;
}

// Sums are f32 until the end, also between the kernels that share a long one.
BOTH(long_sums_do_not_overflow) {
    tc_tensor ones = long_row(tc, TC_F16, 1, 0), large = long_row(tc, TC_F16, 60000, 0);
    tc_tensor turns = long_row(tc, TC_F16, 65504, 1), b = long_row(tc, TC_BF16, 1, 0);
    for (int region = 0; region < 2; region++) {
        if (region) BEGIN("sums");
        tc_tensor mean = tc_mean_all(ones), most = tc_mean_all(large);
        tc_tensor none = tc_sum_all(turns), over = tc_sum_all(ones), sum = tc_sum_all(b);
        tc_tensor spread = tc_var_dims(ones, TC_DIMS(0), 0, 0);
        if (region) END();
        CHECK_EQ(tc_dtype_of(mean), TC_F16);
        CHECK_EQ(tc_item(mean), 1);
        CHECK_EQ(tc_item(most), 60000);
        CHECK_EQ(tc_item(none), 0);
        CHECK_EQ(tc_item(spread), 0);
        CHECK(tc_item(over) == (double)INFINITY); // 100000 is no f16
        CHECK_EQ(tc_item(sum), half_value(half_bf16, half_nearest(half_bf16, LONG)));
    }
}

// A result that is kept is rounded where it is stored: what eager code gives, bit by bit.
BOTH(one_op_is_eager_bits) {
    static const tc_dtype dtypes[] = {TC_F16, TC_BF16};
    for (int k = 0; k < 2; k++) {
        uint16_t a[64], b[64];
        tc_tensor x = tc_cast(tensor(tc, X), dtypes[k]), y = tc_t(x);
        tc_tensor eager = tc_narrow(tc_exp(tc_reshape(x, TC_DIMS(BATCH * IN))), 0, 7, 64);
        BEGIN("op");
        tc_tensor z = tc_narrow(tc_exp(tc_reshape(tc_t(y), TC_DIMS(BATCH * IN))), 0, 7, 64);
        END();
        CHECK_EQ(tc_read(eager, a, sizeof a), TC_OK);
        CHECK_EQ(tc_read(z, b, sizeof b), TC_OK);
        CHECK_BYTES(b, a, sizeof a);
    }
}
