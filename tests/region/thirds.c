// Products of f32 by AMX's tiles, as TC_NUMERICS_FAST has them: all majors, ragged sizes, batches, what is computed before and behind
// them, slices, and numbers that are not finite. Held against sums in double; AMX's tiles in C where there are none.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

#include "harness.h"
#include "help.h"
#include "tools/tiles.h"

#include <math.h>
#include <string.h>

typedef enum form { PLAIN, BEFORE, RIGHT, BIAS, SOFTMAX, SHIFTED } form;

typedef struct product {
    int batch, m, n, k;
    int turned_left, turned_right; // stored [k, m], [n, k]
    form form;
} product;

static const product products[] = {
    {1, 64, 128, 128, 0, 0, PLAIN},   // the least
    {1, 96, 160, 160, 0, 0, PLAIN},   // whole blocks
    {1, 71, 133, 129, 0, 0, PLAIN},   // a rest everywhere
    {1, 65, 129, 161, 0, 1, BIAS},    //   of weights [columns, k]
    {1, 80, 144, 203, 1, 0, PLAIN},   // rows beside each other, whole vectors of them
    {1, 70, 131, 130, 1, 1, PLAIN},   //   and not
    {3, 64, 128, 134, 0, 0, PLAIN},   // a batch
    {2, 66, 150, 128, 1, 0, BIAS},    //
    {1, 64, 128, 400, 0, 0, PLAIN},   // slices
    {1, 67, 130, 391, 0, 1, PLAIN},   //
    {1, 96, 130, 389, 1, 1, PLAIN},   //
    {1, 400, 128, 128, 0, 0, PLAIN},  // several items of rows, of which the first packs
    {1, 390, 150, 400, 0, 1, PLAIN},  //   in slices
    {2, 385, 128, 130, 1, 0, BIAS},   //
    {1, 64, 1100, 134, 0, 0, BIAS},   //   of columns
    {1, 64, 1100, 134, 0, 1, PLAIN},  //
    {1, 70, 128, 130, 0, 0, BEFORE},  // the left is computed
    {1, 70, 128, 130, 1, 0, BEFORE},  //
    {1, 64, 140, 220, 0, 0, RIGHT},   // the right is
    {1, 64, 140, 220, 0, 1, RIGHT},   //
    {1, 64, 150, 144, 0, 0, SOFTMAX}, // rows are whole
    {1, 64, 130, 134, 0, 0, SHIFTED}, // operands that are read with a border
};
enum { PRODUCTS = sizeof products / sizeof *products, MOST = 200000 };

// A full significand, of a size between 1/4 and 4.
static float value(int i, int seed) {
    unsigned w = test_word((unsigned)i, (unsigned)seed);
    float x = 1 + (float)(w >> 9) * 0x1p-23f;
    return ldexpf(w & 1 ? -x : x, (int)(w >> 1 & 3) - 2);
}

static tc_tensor operand(tc_ctx *tc, const float *x, int batch, int rows, int columns,
                         int turned) {
    static float y[MOST];
    tc_dims d = turned ? TC_DIMS(batch, columns, rows) : TC_DIMS(batch, rows, columns);
    for (int b = 0; b < batch; b++)
        for (int i = 0; i < rows * columns; i++)
            y[b * rows * columns + (turned ? i % columns * rows + i / columns : i)] =
                x[b * rows * columns + i];
    if (batch == 1) d = turned ? TC_DIMS(columns, rows) : TC_DIMS(rows, columns);
    return tc_from_data(tc, y, d, TC_F32);
}

static float bias(int c) { return (float)(c % 5) - 2; }

// The rows of x, the first of which come last, and one of zeros before them all, which replaces the last.
static tc_tensor shifted(tc_tensor x) {
    int64_t rows = tc_shape(x).size[0];
    tc_tensor y = tc_pad(x, TC_DIMS(1, 0), TC_DIMS(0, 0), 0);
    return tc_slice(y, 0, 0, rows, 1);
}

static tc_tensor multiply(tc_ctx *tc, const product *p, tc_tensor left, tc_tensor right) {
    static float row[MOST];
    if (p->form == SHIFTED) left = shifted(left), right = shifted(right);
    if (p->turned_left) left = tc_transpose(left, -1, -2);
    if (p->turned_right) right = tc_transpose(right, -1, -2);
    if (p->form == BEFORE) left = tc_relu(tc_mul_s(left, -2));
    if (p->form == RIGHT) right = tc_add_s(tc_abs(right), -1);
    tc_tensor y = tc_matmul(left, right);
    if (p->form == SOFTMAX) return tc_softmax(tc_mul_s(y, 0.125), -1);
    if (p->form != BIAS) return y;
    for (int c = 0; c < p->n; c++) row[c] = bias(c);
    return tc_relu(tc_add(y, tc_from_data(tc, row, TC_DIMS(p->n), TC_F32)));
}

static double left_at(const product *p, const float *x, int b, int r, int k) {
    if (p->form == SHIFTED) return r ? x[(r - 1) * p->k + k] : 0;
    double v = x[((size_t)b * p->m + r) * p->k + k];
    return p->form == BEFORE ? v < 0 ? -2 * v : 0 : v;
}

static double right_at(const product *p, const float *x, int b, int k, int c) {
    if (p->form == SHIFTED) return k ? x[(k - 1) * p->n + c] : 0;
    double v = x[((size_t)b * p->k + k) * p->n + c];
    return p->form == RIGHT ? (double)(float)(fabs(v) - 1) : v;
}

// As near as a chain of fma is.
static void check_product(const product *p, const float *left, const float *right,
                          const float *got) {
    static double row[MOST], size[MOST];
    int wrong = 0;
    double far = 0;
    for (int e = 0; e < p->batch * p->m; e++) {
        int b = e / p->m, r = e % p->m;
        double total = 0;
        for (int c = 0; c < p->n; c++) {
            double sum = 0, all = 0;
            for (int k = 0; k < p->k; k++) {
                double v = left_at(p, left, b, r, k) * right_at(p, right, b, k, c);
                sum += v, all += fabs(v);
            }
            row[c] = sum, size[c] = all * 0x1p-21;
            if (p->form == BIAS) row[c] = fmax(0, sum + bias(c)), size[c] += 0x1p-20;
            if (p->form == SOFTMAX) total += row[c] = exp(sum / 8);
        }
        for (int c = 0; c < p->n; c++) {
            double want = p->form == SOFTMAX ? row[c] / total : row[c];
            double most = p->form == SOFTMAX ? want * 1e-4 : size[c];
            double off = fabs(got[(size_t)e * p->n + c] - want);
            wrong += !(off <= most);
            if (most > 0 && off / most > far) far = off / most;
        }
    }
    if (wrong)
        FAIL("product %d: %d wrong, up to %g times what is allowed", (int)(p - products),
             wrong, far);
}

static size_t run(tc_ctx *tc, const product *p, const float *left, const float *right,
                  int numerics, float *got) {
    tc_options o = tc_options_default();
    o.numerics = (tc_numerics)numerics;
    tc_tensor x = operand(tc, left, p->batch, p->m, p->k, p->turned_left);
    tc_tensor w = operand(tc, right, p->batch, p->k, p->n, p->turned_right);
    CHECK_EQ(tc_trace_begin_with(tc, "product", &o), TC_OK);
    tc_tensor y = tc_keep(multiply(tc, p, x, w));
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    size_t bytes = (size_t)tc_numel(y) * sizeof(float);
    CHECK_EQ(tc_read(y, got, bytes), TC_OK);
    CHECK_EQ(tc_stats_get(tc).fallbacks, 0);
    tc_free(x), tc_free(w), tc_free(y);
    return bytes;
}

static float in[2][MOST], out[3][MOST];

static void fill(const product *p, int seed) {
    for (int i = 0; i < p->batch * p->m * p->k; i++) in[0][i] = value(i, seed);
    for (int i = 0; i < p->batch * p->k * p->n; i++) in[1][i] = value(i, seed + 1);
}

TEST(tiles) {
    for (int i = 0; i < PRODUCTS; i++) {
        const product *p = &products[i];
        tc_ctx *tc = open_tiles(2); // each has its program of sizes that are known
        if (!tc) SKIP(no_tiles);
        fill(p, 3);
        size_t n = run(tc, p, in[0], in[1], TC_NUMERICS_FAST, out[0]);
        check_product(p, in[0], in[1], out[0]);
        run(tc, p, in[0], in[1], TC_NUMERICS_STRICT, out[1]);
        check_product(p, in[0], in[1], out[1]);
        if (!memcmp(out[0], out[1], n)) FAIL("product %d is not made by tiles", i);
        tc_close(tc);
    }
}

// The instructions, where there are some, have the bits that amx.h has for them.
TEST(instructions) {
    tc_ctx *real = open_as("cpu", NULL, 2), *tc;
    REQUIRE(real);
    if (real->target < TC__EMIT_AMX) {
        tc_close(real);
        SKIP("the CPU has no AMX");
    }
    fill(&products[9], 5);
    size_t n = run(real, &products[9], in[0], in[1], TC_NUMERICS_FAST, out[0]);
    tc_close(real);
    tc = open_tiles(2);
    REQUIRE(tc);
    run(tc, &products[9], in[0], in[1], TC_NUMERICS_FAST, out[1]);
    CHECK(!memcmp(out[0], out[1], n));
    tc_close(tc);
}

// Values times a power of two: all 24 bits stay, of both operands.
TEST(whole_values) {
    for (int side = 0; side < 2; side++)
        for (int turned = 0; turned < 2; turned++) {
            tc_ctx *tc = open_tiles(2);
            if (!tc) SKIP(no_tiles);
            product p = {1, side ? 128 : 100, side ? 135 : 128, 128, turned, turned, PLAIN};
            int rows = side ? p.k : p.m, columns = side ? p.n : p.k, wrong = 0;
            fill(&p, 7);
            float *of = in[side], *by = in[1 - side];
            memset(by, 0, 128 * 128 * sizeof *by);
            for (int i = 0; i < 128; i++) by[i * 128 + i * 37 % 128] = ldexpf(1, i % 7 - 3);
            run(tc, &p, in[0], in[1], TC_NUMERICS_FAST, out[0]);
            for (int e = 0; e < rows * columns; e++) {
                int r = e / columns, c = e % columns;
                float want =
                    side ? of[r * 37 % 128 * columns + c] * by[r * 128 + r * 37 % 128] : 0;
                if (!side) { // column c is what k has that leads there
                    for (int k = 0; k < 128; k++)
                        if (k * 37 % 128 == c) want = of[r * 128 + k] * by[k * 128 + c];
                }
                wrong += memcmp(&out[0][e], &want, sizeof want) != 0;
            }
            if (wrong) FAIL("side %d, turned %d: %d wrong", side, turned, wrong);
            tc_close(tc);
        }
}

// What is not finite makes the same of sums as a chain does, and nothing of others.
TEST(ends) {
    static const struct {
        int side, at;
        float x;
    } wild[] = {{0, 1, INFINITY},         {0, 900, -INFINITY}, {0, 4000, NAN},
                {0, 2000, 3.4028235e38f}, {1, 2, INFINITY},    {1, 5000, NAN},
                {1, 333, -INFINITY},      {1, 7777, 3.4e38f},  {0, 3000, 0x1p-149f}};
    product p = {1, 96, 140, 390, 0, 0, PLAIN};
    for (int turned = 0; turned < 2; turned++) {
        tc_ctx *tc = open_tiles(2);
        if (!tc) SKIP(no_tiles);
        for (size_t i = 0; i < sizeof wild / sizeof *wild; i++) {
            int wrong = 0, off = 0;
            p.turned_left = p.turned_right = turned;
            fill(&p, 11);
            in[1][5] = 0; // which infinity meets
            run(tc, &p, in[0], in[1], TC_NUMERICS_FAST, out[0]);
            in[wild[i].side][wild[i].at] = wild[i].x;
            run(tc, &p, in[0], in[1], TC_NUMERICS_FAST, out[1]);
            run(tc, &p, in[0], in[1], TC_NUMERICS_STRICT, out[2]);
            for (int e = 0; e < p.m * p.n; e++) {
                int of = wild[i].side ? e % p.n == wild[i].at % p.n
                                      : e / p.n == wild[i].at / p.k;
                float got = out[1][e], want = out[2][e];
                if (!of) off += memcmp(&got, &out[0][e], sizeof got) != 0;
                if (!of) continue;
                if (isfinite(want))
                    wrong += !(fabsf(got - want) <= fabsf(want) * 1e-5f + 1e-3f);
                else
                    wrong += !(isnan(want) ? isnan(got) : got == want);
            }
            if (wrong || off)
                FAIL("value %d, turned %d: %d wrong, %d others", (int)i, turned, wrong,
                     off);
        }
        tc_close(tc);
    }
}

TEST(threads) {
    product p = {1, 200, 500, 300, 0, 1, BIAS};
    size_t n = 0;
    fill(&p, 13);
    for (int threads = 1; threads < 6; threads += 2) {
        tc_ctx *tc = open_tiles(threads);
        if (!tc) SKIP(no_tiles);
        n = run(tc, &p, in[0], in[1], TC_NUMERICS_FAST, out[threads > 1]);
        check_product(&p, in[0], in[1], out[threads > 1]);
        if (threads > 1) CHECK(!memcmp(out[0], out[1], n));
        tc_close(tc);
    }
    CHECK(n > 0);
}
