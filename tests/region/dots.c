// Products of narrow integers, several k at a time: bytes with and without signs, words of 16 bits and truth values, of operands
// that lie, are turned, sliced or computed; sums that overflow wrap. Held against loops in 64 bits, for all kinds of CPUs, AMX's
// tiles in C where there are none.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

#include "harness.h"
#include "help.h"
#include "tools/tiles.h"

#include <math.h>

enum { MOST = 1 << 19 };

typedef enum form { PLAIN, SCALED, NARROW, SUMS, QUANTISED, WINDOWS } form;

typedef struct product {
    tc_dtype left, right;
    int m, n, k;
    int turned_left, turned_right; // stored [k, m], [n, k]
    form form;
} product;

static const product products[] = {
    {TC_I8, TC_I8, 64, 64, 64, 0, 0, PLAIN},      // whole blocks
    {TC_I8, TC_I8, 50, 70, 129, 0, 1, SCALED},    // a rest everywhere
    {TC_U8, TC_I8, 33, 65, 66, 0, 0, SCALED},     // as quantised models have them
    {TC_I8, TC_U8, 17, 31, 67, 0, 1, PLAIN},      //   the other way round
    {TC_U8, TC_U8, 49, 33, 258, 0, 0, PLAIN},     // no signs
    {TC_I8, TC_I8, 1, 100, 300, 0, 1, SCALED},    // few rows
    {TC_U8, TC_I8, 5, 48, 31, 0, 0, PLAIN},       //
    {TC_I8, TC_I8, 8, 40, 333, 0, 1, SCALED},     //   of weights [columns, k]
    {TC_U8, TC_I8, 3, 33, 65, 0, 1, PLAIN},       //
    {TC_I8, TC_U8, 7, 50, 130, 0, 1, PLAIN},      //
    {TC_U8, TC_U8, 2, 47, 63, 0, 1, PLAIN},       //
    {TC_I8, TC_I8, 4, 200, 7, 0, 1, QUANTISED},   //
    {TC_I16, TC_I16, 5, 37, 71, 0, 1, PLAIN},     //
    {TC_I8, TC_I8, 16, 70, 200, 0, 1, PLAIN},     //
    {TC_U8, TC_I8, 25, 65, 1025, 0, 1, SCALED},   //
    {TC_I8, TC_I8, 13, 3, 3, 0, 0, PLAIN},        // less than a word
    {TC_I8, TC_I8, 40, 40, 1, 0, 1, PLAIN},       //
    {TC_I8, TC_I8, 70, 36, 2700, 0, 0, SCALED},   // slices
    {TC_U8, TC_I8, 97, 40, 3001, 0, 1, PLAIN},    //
    {TC_I8, TC_I8, 48, 64, 2821, 0, 0, PLAIN},    //   direct
    {TC_I8, TC_I8, 64, 50, 100, 1, 0, PLAIN},     // turned
    {TC_U8, TC_I8, 35, 37, 39, 1, 1, SCALED},     //
    {TC_I16, TC_I16, 34, 66, 77, 0, 0, PLAIN},    // pairs
    {TC_I16, TC_I16, 20, 50, 1501, 0, 1, PLAIN},  //
    {TC_I16, TC_U8, 51, 18, 19, 0, 0, SCALED},    // of two kinds
    {TC_I8, TC_I16, 18, 51, 20, 0, 1, PLAIN},     //
    {TC_BOOL, TC_I8, 40, 50, 60, 0, 0, PLAIN},    // a choice of rows
    {TC_U8, TC_BOOL, 40, 50, 61, 0, 0, PLAIN},    //
    {TC_BOOL, TC_BOOL, 30, 40, 50, 0, 1, PLAIN},  // how many are common
    {TC_I8, TC_I8, 36, 52, 90, 0, 0, NARROW},     // results are bytes again
    {TC_U8, TC_U8, 36, 52, 90, 0, 1, NARROW},     //
    {TC_I8, TC_I8, 37, 77, 88, 0, 0, SUMS},       // rows of it, added up
    {TC_I8, TC_I8, 44, 66, 131, 0, 0, QUANTISED}, // the left is rounded on the way
    {TC_U8, TC_I8, 30, 20, 66, 0, 1, QUANTISED},  //
    {TC_I8, TC_U8, 20, 2 * 7 * 9, 99, 0, 0,
     WINDOWS}, // a convolution: 11 channels 3x3, images of 7x9
};
enum { PRODUCTS = sizeof products / sizeof *products };

static int64_t least(tc_dtype t) { return t == TC_I8 ? -128 : t == TC_I16 ? -32768 : 0; }
static int64_t greatest(tc_dtype t) {
    return t == TC_BOOL ? 1 : t == TC_U8 ? 255 : t == TC_I8 ? 127 : 32767;
}

// Value i of an operand: often the least or greatest, whose sums overflow first.
static int64_t value(tc_dtype t, int i, int seed) {
    unsigned w = test_word((unsigned)i, (unsigned)seed);
    int64_t from = least(t), to = greatest(t);
    if (w % 4 == 0) return from;
    return w % 4 == 1 ? to : from + (int64_t)(w / 4 % (unsigned)(to - from + 1));
}

// Rows x columns of values of t, stored turned if asked for, as this dtype.
static tc_tensor operand(tc_ctx *tc, tc_dtype t, int rows, int columns, int turned,
                         int seed, tc_dtype as) {
    static int32_t x[MOST];
    for (int i = 0; i < rows * columns; i++) {
        int at = turned ? i % columns * rows + i / columns : i;
        x[at] = (int32_t)value(t, i, seed);
    }
    tc_dims d = turned ? TC_DIMS(columns, rows) : TC_DIMS(rows, columns);
    return tc_cast(tc_from_data(tc, x, d, TC_I32), as);
}

static float scale(int c) { return (float)(1 + c % 7) / 16; }

// What the values are before they are rounded and clamped to bytes: off by less than a half, or far outside.
static tc_tensor rounded(tc_tensor x, tc_dtype t) {
    tc_tensor y = tc_clamp(tc_round(tc_mul_s(x, 4)), (double)least(t), (double)greatest(t));
    return tc_cast(y, t);
}

enum { TALL = 7, BROAD = 9, TAPS = 9 };

// Value k of column c: of image c / 63, at place c % 63, what tap k % 9 meets of channel k / 9.
static int64_t window(const product *p, int k, int c) {
    int y = c / BROAD % TALL + k % TAPS / 3 - 1, x = c % BROAD + k % 3 - 1;
    int channels = p->k / TAPS, image = c / (TALL * BROAD) * channels + k / TAPS;
    if (y < 0 || y >= TALL || x < 0 || x >= BROAD) return 0;
    return value(p->right, (image * TALL + y) * BROAD + x, 2);
}

static tc_tensor multiply(tc_ctx *tc, const product *p, tc_tensor left, tc_tensor right) {
    float row[256];
    if (p->form == QUANTISED) left = rounded(left, p->left);
    if (p->form == WINDOWS) {
        int64_t channels = p->k / TAPS, images = p->n / (TALL * BROAD);
        tc_tensor x = tc_reshape(right, TC_DIMS(images, channels, TALL, BROAD)), none = {0};
        tc_tensor w = tc_reshape(left, TC_DIMS(p->m, channels, 3, 3));
        x = tc_conv2d(tc_cast(x, TC_I32), tc_cast(w, TC_I32), none, 1, 1, 1, 1);
        return tc_reshape(tc_transpose(x, 0, 1), TC_DIMS(p->m, p->n));
    }
    if (p->turned_left) left = tc_t(left);
    if (p->turned_right) right = tc_t(right);
    if (p->form == NARROW) return tc_matmul(left, right);
    tc_tensor y = tc_matmul(tc_cast(left, TC_I32), tc_cast(right, TC_I32));
    if (p->form == SUMS) return tc_sum(y, 1);
    if (p->form != SCALED) return y;
    for (int c = 0; c < p->n; c++) row[c] = scale(c);
    return tc_mul(tc_cast(y, TC_F32), tc_from_data(tc, row, TC_DIMS(p->n), TC_F32));
}

static int64_t sum_of(const product *p, int r, int c) {
    uint32_t sum = 0;
    for (int k = 0; k < p->k; k++)
        sum += (uint32_t)(value(p->left, r * p->k + k, 1) *
                          (p->form == WINDOWS ? window(p, k, c)
                                              : value(p->right, k * p->n + c, 2)));
    return (int32_t)sum;
}

static int is_right(const product *p, tc_tensor y) {
    static double got[MOST];
    static int64_t whole[MOST];
    size_t n = (size_t)tc_numel(y);
    int wrong = 0;
    tc_tensor all = tc_cast(y, p->form == SCALED ? TC_F64 : TC_I64);
    if (p->form == SCALED)
        CHECK_EQ(tc_read(all, got, n * sizeof *got), TC_OK);
    else
        CHECK_EQ(tc_read(all, whole, n * sizeof *whole), TC_OK);
    for (int r = 0; r < p->m; r++) {
        int64_t rows = 0;
        for (int c = 0; c < p->n; c++) {
            int64_t sum = sum_of(p, r, c);
            rows += sum;
            if (p->form == SUMS) continue;
            if (p->form == SCALED)
                wrong += got[r * p->n + c] != (double)((float)sum * scale(c));
            else if (p->form == NARROW)
                wrong += whole[r * p->n + c] !=
                         (p->left == TC_U8 ? (int64_t)(uint8_t)sum : (int64_t)(int8_t)sum);
            else
                wrong += whole[r * p->n + c] != sum;
        }
        if (p->form == SUMS) wrong += whole[r] != rows;
    }
    return !wrong;
}

static void run_all(tc_ctx *tc) {
    tc_tensor in[2 * PRODUCTS], out[PRODUCTS];
    REQUIRE(tc);
    for (int i = 0; i < PRODUCTS; i++) {
        const product *p = &products[i];
        int quantised = p->form == QUANTISED;
        in[2 * i] = operand(tc, p->left, p->m, p->k, p->turned_left, 1,
                            quantised ? TC_F32 : p->left);
        if (quantised) in[2 * i] = tc_mul_s(in[2 * i], 0.25);
        int taps = p->form == WINDOWS ? TAPS : 1; // of which each channel is there once
        in[2 * i + 1] =
            operand(tc, p->right, p->k / taps, p->n, p->turned_right, 2, p->right);
    }
    tc_trace_begin(tc, "products");
    for (int i = 0; i < PRODUCTS; i++)
        out[i] = multiply(tc, &products[i], in[2 * i], in[2 * i + 1]);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    for (int i = 0; i < PRODUCTS; i++)
        if (!is_right(&products[i], out[i])) FAIL("product %d is wrong", i);
    CHECK_EQ(tc_error(tc), TC_OK);
    CHECK_EQ(tc_stats_get(tc).fallbacks, 0);
    tc_close(tc);
}

static const char for_all[] = "of ./build.sh test all";

TEST(interpreted) { run_all(open_as("aot_eager", NULL, 2)); }
TEST(this_cpu) { run_all(open_as("cpu", NULL, 2)), run_all(open_as("cpu", NULL, 1)); }
TEST(avx512) {
    if (!test_all()) SKIP(for_all);
    run_all(open_as("cpu", "avx512", 3));
}
TEST(avx2) { run_all(open_as("cpu", "avx2", 2)); }
TEST(baseline) {
    if (!test_all()) SKIP(for_all);
    run_all(open_as("cpu", "baseline", 2));
}

TEST(tiles) {
    tc_ctx *tc = open_tiles(2);
    if (!tc) SKIP(no_tiles);
    run_all(tc);
}

// ---- bf16 ----

static const product halves[] = {
    {TC_BF16, TC_BF16, 64, 64, 64, 0, 0, PLAIN},
    {TC_BF16, TC_BF16, 50, 70, 129, 0, 1, PLAIN},
    {TC_BF16, TC_BF16, 3, 90, 300, 0, 1, PLAIN},
    {TC_BF16, TC_BF16, 1, 33, 95, 0, 1, PLAIN},
    {TC_BF16, TC_BF16, 8, 16, 64, 0, 1, PLAIN},
    {TC_BF16, TC_BF16, 7, 70, 161, 0, 1, PLAIN},
    {TC_BF16, TC_BF16, 17, 70, 161, 0, 1, PLAIN},
    {TC_BF16, TC_BF16, 5, 520, 512, 0, 0, PLAIN},
    {TC_BF16, TC_BF16, 33, 20, 31, 1, 0, PLAIN},
    {TC_BF16, TC_BF16, 70, 40, 2049, 0, 0, PLAIN},
    {TC_BF16, TC_BF16, 49, 65, 1301, 0, 1, PLAIN},
    {TC_BF16, TC_BF16, 40, 35, 77, 0, 1, QUANTISED}, // the left is made of f32
};
enum { HALVES = sizeof halves / sizeof *halves };

// 8 bits and an exponent; one in eight of a row is so small that products are subnormal, if `small`.
static float half_value(int i, int seed, int small) {
    unsigned w = test_word((unsigned)i, (unsigned)seed);
    float x = ((float)(w % 256) - 128) / 64;
    return small && w / 256 % 8 == 0 ? x * 0x1p-66f : x;
}

static tc_tensor half_operand(tc_ctx *tc, int rows, int columns, int turned, int seed,
                              int small) {
    static float x[MOST];
    for (int i = 0; i < rows * columns; i++)
        x[turned ? i % columns * rows + i / columns : i] = half_value(i, seed, small);
    return tc_from_data(tc, x, turned ? TC_DIMS(columns, rows) : TC_DIMS(rows, columns),
                        TC_F32);
}

// All products, one behind the other in `got`, as f32 sums.
static size_t run_halves(tc_ctx *tc, int small, float *got) {
    tc_tensor in[2 * HALVES], out[HALVES];
    tc_options o = tc_options_default();
    size_t n = 0;
    o.numerics = TC_NUMERICS_FAST;
    for (int i = 0; i < HALVES; i++) {
        const product *p = &halves[i];
        in[2 * i] = half_operand(tc, p->m, p->k, p->turned_left, 1, small);
        in[2 * i + 1] =
            tc_cast(half_operand(tc, p->k, p->n, p->turned_right, 2, small), TC_BF16);
        if (p->form != QUANTISED) in[2 * i] = tc_cast(in[2 * i], TC_BF16);
    }
    tc_trace_begin_with(tc, "halves", &o);
    for (int i = 0; i < HALVES; i++) {
        const product *p = &halves[i];
        tc_tensor x = in[2 * i], w = in[2 * i + 1];
        if (p->form == QUANTISED) x = tc_cast(tc_neg(x), TC_BF16);
        out[i] = tc_mul_s(
            tc_matmul(p->turned_left ? tc_t(x) : x, p->turned_right ? tc_t(w) : w), 1);
    }
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    for (int i = 0; i < HALVES; i++) {
        size_t count = (size_t)tc_numel(out[i]);
        tc_tensor y = tc_cast(out[i], TC_F32);
        CHECK_EQ(tc_read(y, got + n, count * sizeof *got), TC_OK);
        n += count;
    }
    CHECK_EQ(tc_error(tc), TC_OK);
    CHECK_EQ(tc_stats_get(tc).fallbacks, 0);
    tc_close(tc);
    return n;
}

// Held against sums in double, rounded to bf16 once.
static void check_halves(const float *got) {
    size_t at = 0;
    for (int i = 0; i < HALVES; i++) {
        const product *p = &halves[i];
        int wrong = 0;
        for (int e = 0; e < p->m * p->n; e++, at++) {
            double want = 0, size = 0;
            for (int k = 0; k < p->k; k++) {
                double x = half_value(e / p->n * p->k + k, 1, 0),
                       w = half_value(k * p->n + e % p->n, 2, 0);
                want += p->form == QUANTISED ? -x * w : x * w, size += fabs(x * w);
            }
            wrong += !(fabs(got[at] - want) <= fabs(want) / 256 + size * p->k * 6e-8);
        }
        if (wrong) FAIL("product %d of bf16: %d wrong", i, wrong);
    }
}

// ---- attention, whose products share a kernel ----

enum { HEADS = 3, TOKENS = 70, DEEP = 40 };

static void check_attention(tc_ctx *tc, int causal) {
    static float got[HEADS * TOKENS * DEEP];
    tc_tensor in[3], y;
    tc_options o = tc_options_default();
    int wrong = 0;
    o.numerics = TC_NUMERICS_FAST;
    for (int i = 0; i < 3; i++)
        in[i] = tc_reshape(
            tc_cast(half_operand(tc, HEADS * TOKENS, DEEP, 0, 5 + i, 0), TC_BF16),
            TC_DIMS(HEADS, TOKENS, DEEP));
    tc_trace_begin_with(tc, "attention", &o);
    y = tc_scaled_dot_product_attention(in[0], in[1], in[2], tc_null(), causal, 0);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    CHECK_EQ(tc_read(tc_cast(y, TC_F32), got, sizeof got), TC_OK);
    for (int at = 0; at < HEADS * TOKENS; at++) {
        double p[TOKENS], sum = 0, most = -1e30;
        int first = at / TOKENS * TOKENS, seen = causal ? at % TOKENS + 1 : TOKENS;
        for (int j = 0; j < seen; j++) {
            p[j] = 0;
            for (int k = 0; k < DEEP; k++)
                p[j] += (double)half_value(at * DEEP + k, 5, 0) *
                        half_value((first + j) * DEEP + k, 6, 0);
            p[j] /= sqrt(DEEP);
            most = p[j] > most ? p[j] : most;
        }
        for (int j = 0; j < seen; j++) sum += p[j] = exp(p[j] - most);
        for (int k = 0; k < DEEP; k++) {
            double want = 0, size = 0; // weights and results are rounded, by 2^-8 at most
            for (int j = 0; j < seen; j++) {
                double v = p[j] / sum * half_value((first + j) * DEEP + k, 7, 0);
                want += v, size += fabs(v);
            }
            wrong += !(fabs(got[at * DEEP + k] - want) <= size / 127);
        }
    }
    if (wrong) FAIL("attention%s: %d wrong", causal ? ", causal" : "", wrong);
    CHECK_EQ(tc_error(tc), TC_OK);
    CHECK_EQ(tc_stats_get(tc).fallbacks, 0);
    tc_close(tc);
}

TEST(attention) {
    for (int causal = 0; causal < 2; causal++)
        check_attention(open_as("cpu", NULL, 2), causal);
}

TEST(attention_in_tiles) {
    for (int causal = 0; causal < 2; causal++) {
        tc_ctx *tc = open_tiles(2);
        if (!tc) SKIP(no_tiles);
        check_attention(tc, causal);
    }
}

TEST(halves) {
    static float got[HALVES * 8192];
    run_halves(open_as("cpu", NULL, 2), 0, got);
    check_halves(got);
    run_halves(open_as("cpu", "avx512", 2), 0, got);
    check_halves(got);
}

// The instructions, where there are some, have the bits that amx.h has for them.
TEST(halves_in_tiles) {
    static float got[2][HALVES * 8192];
    tc_ctx *tc = open_as("cpu", NULL, 2);
    REQUIRE(tc);
    int has = tc->target >= TC__EMIT_AMX;
    for (int small = 0; small < 2; small++) {
        size_t n = 0;
        if (small) tc = open_as("cpu", NULL, 2);
        if (has)
            n = run_halves(tc, small, got[0]);
        else
            tc_close(tc);
        tc_ctx *emulated = open_tiles(2);
        if (!emulated) SKIP(no_tiles);
        run_halves(emulated, small, got[1]);
        unsetenv("CC");
        if (!small) check_halves(got[1]);
        if (has && memcmp(got[0], got[1], n * sizeof(float)))
            FAIL("other bits than the tiles'");
    }
}
