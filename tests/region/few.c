// Few rows times weights [columns, k] of f32 and halves, whose words are turned in registers, and [k, columns], which are
// streamed: every sum adds k in order, one fma a step, and is rounded once, so results have the bits of loops in C. Depths and
// columns around those of lines, vectors and blocks; weights that lie whole or as part of a table, whose other elements are
// no numbers, at odd addresses; for all kinds of CPUs.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

#include "halves.h"
#include "harness.h"

#include <math.h>

typedef enum form {
    WHOLE,
    PART,
    CAST,
    CHAIN
} form; // CAST: halves to f32 before; CHAIN: ops beside

typedef struct product {
    tc_dtype dtype; // of weights, and of the left operand but for CAST
    int m, n, k;
    form form;
    int turned; // weights are [k, columns]
} product;

static const product products[] = {
    {TC_BF16, 1, 64, 128, WHOLE, 0}, // lines only
    {TC_BF16, 1, 33, 97, PART, 0},   // a rest everywhere
    {TC_BF16, 2, 47, 31, PART, 0},   // no whole line
    {TC_BF16, 3, 16, 160, WHOLE, 0}, // one vector of columns
    {TC_BF16, 4, 15, 65, PART, 0},   // fewer than that
    {TC_BF16, 5, 130, 64, CHAIN, 0}, //
    {TC_BF16, 8, 35, 257, PART, 0},  //
    {TC_BF16, 9, 50, 129, PART, 0},  // more rows
    {TC_BF16, 16, 40, 200, WHOLE, 0}, {TC_BF16, 33, 70, 75, PART, 0},
    {TC_F16, 1, 70, 100, PART, 0},    {TC_F16, 4, 33, 33, CHAIN, 0},
    {TC_F16, 7, 48, 128, WHOLE, 0},   {TC_F16, 13, 37, 67, PART, 0},
    {TC_F32, 1, 50, 77, PART, 0},     {TC_F32, 4, 32, 64, WHOLE, 0},
    {TC_F32, 6, 19, 50, PART, 0},     {TC_F32, 8, 100, 49, CHAIN, 0},
    {TC_F32, 12, 33, 40, PART, 0},    {TC_BF16, 3, 40, 70, CAST, 0},
    {TC_F16, 8, 17, 90, CAST, 0},     {TC_BF16, 20, 30, 66, CAST, 0},
    {TC_BF16, 6, 20, 1, PART, 0},     {TC_F32, 5, 17, 1030, PART, 0},
    {TC_BF16, 1, 513, 520, WHOLE, 1}, // streamed as they lie
    {TC_BF16, 8, 517, 520, PART, 1},  {TC_F16, 17, 515, 514, PART, 1},
    {TC_BF16, 32, 600, 450, PART, 1}, {TC_F16, 1, 530, 500, PART, 1},
};
enum { PRODUCTS = sizeof products / sizeof *products, MOST = 1 << 19, GAP = 5, FIRST = 3 };

static half_format format(tc_dtype t) { return t == TC_F16 ? half_f16 : half_bf16; }

// Value i, one that dtype t has: sums of them round at every step.
static float value(tc_dtype t, int i, int seed) {
    unsigned w = test_word((unsigned)i, (unsigned)seed);
    double x = ((double)(w >> 8) / (1 << 24) - 0.5) * (w % 16 ? 1 : 256);
    return t == TC_F32 ? (float)x
                       : (float)half_value(format(t), half_nearest(format(t), x));
}

// rows x columns of them; a part of a table of more columns, if asked for.
static tc_tensor operand(tc_ctx *tc, tc_dtype t, int rows, int columns, int part,
                         int seed) {
    static float x[MOST];
    int wide = part ? columns + GAP : columns, first = part ? FIRST : 0;
    for (int i = 0; i < rows * wide; i++) x[i] = NAN;
    for (int i = 0; i < rows * columns; i++)
        x[i / columns * wide + first + i % columns] = value(t, i, seed);
    tc_tensor all = tc_cast(tc_from_data(tc, x, TC_DIMS(rows, wide), TC_F32), t);
    return part ? tc_narrow(all, 1, FIRST, columns) : all;
}

static tc_dtype left_dtype(const product *p) { return p->form == CAST ? TC_F32 : p->dtype; }

static tc_tensor multiply(const product *p, tc_tensor x, tc_tensor w) {
    if (p->form == CAST) w = tc_cast(w, TC_F32);
    if (!p->turned) w = tc_t(w);
    return p->form == CHAIN ? tc_relu(tc_matmul(tc_neg(x), w)) : tc_matmul(x, w);
}

// The operands as rows along k.
static void fill_rows(const product *p, float *x, float *w) {
    for (int i = 0; i < p->m * p->k; i++)
        x[i] = value(left_dtype(p), i, 1) * (p->form == CHAIN ? -1.0f : 1.0f);
    for (int c = 0; c < p->n; c++)
        for (int k = 0; k < p->k; k++)
            w[c * p->k + k] = value(p->dtype, p->turned ? k * p->n + c : c * p->k + k, 2);
}

// What the product is, by a loop, of a row of each.
static float want_of(const product *p, const float *x, const float *w) {
    float sum = 0;
    for (int k = 0; k < p->k; k++) sum = fmaf(x[k], w[k], sum);
    if (p->form == CHAIN && !(sum > 0)) sum = 0;
    if (left_dtype(p) == TC_F32) return sum;
    return (float)half_value(format(p->dtype), half_nearest(format(p->dtype), (double)sum));
}

static void run_all(const char *backend, const char *isa, int threads) {
    static float got[MOST], left[MOST], right[MOST];
    tc_config config = tc_config_default();
    config.backend = backend, config.isa = isa, config.threads = threads;
    config.no_disk_cache = 1;
    tc_ctx *tc = tc_open(&config);
    tc_tensor x[PRODUCTS], w[PRODUCTS], out[PRODUCTS];
    REQUIRE(tc);
    for (int i = 0; i < PRODUCTS; i++) {
        const product *p = &products[i];
        x[i] = operand(tc, left_dtype(p), p->m, p->k, 0, 1);
        w[i] = operand(tc, p->dtype, p->turned ? p->k : p->n, p->turned ? p->n : p->k,
                       p->form == PART, 2);
    }
    tc_trace_begin(tc, "few rows");
    for (int i = 0; i < PRODUCTS; i++) out[i] = multiply(&products[i], x[i], w[i]);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    for (int i = 0; i < PRODUCTS; i++) {
        const product *p = &products[i];
        size_t n = (size_t)(p->m * p->n);
        int wrong = 0;
        fill_rows(p, left, right);
        CHECK_EQ(tc_read(tc_cast(out[i], TC_F32), got, n * sizeof *got), TC_OK);
        for (int e = 0; e < p->m * p->n; e++) {
            float want = want_of(p, left + e / p->n * p->k, right + e % p->n * p->k);
            wrong += memcmp(&got[e], &want, sizeof want) != 0;
        }
        if (wrong) FAIL("product %d: %d of %zu are wrong", i, wrong, n);
    }
    CHECK_EQ(tc_error(tc), TC_OK);
    CHECK_EQ(tc_stats_get(tc).fallbacks, 0);
    tc_close(tc);
}

TEST(interpreted) { run_all("aot_eager", NULL, 2); }
TEST(this_cpu) { run_all("cpu", NULL, 2); }
TEST(avx2) { run_all("cpu", "avx2", 1); }
TEST(baseline) {
    if (!test_all()) SKIP("of ./build.sh test all");
    run_all("cpu", "baseline", 2);
}
