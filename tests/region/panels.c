// Products by how panels of the right operand come about: packed for many items, or where the one item that has all rows uses
// them; slices of a long depth; columns shared by threads; operands that lie, are turned, or computed. Held, in bits, against
// loops in C that add k in order, one fma a step, for all kinds of CPUs.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

#include "harness.h"

#include <math.h>

enum { MOST = 1 << 19 };

typedef enum form {
    PLAIN,
    BESIDE,   // a bias and a bound behind it
    DOUBLED,  // the right operand is computed: twice what lies
    HALVES,   // the right operand is bf16
    CONSTANT, //   a constant, which is laid out once,
    FUSED,    //   with a bias and a bound behind it,
    WHOLE     //   less the most of its row
} form;

typedef struct product {
    int batch, m, n, k;
    int turned_left, turned_right; // stored [k, m], [n, k]
    form form;
} product;

static const product products[] = {
    {1, 32, 512, 128, 0, 0, PLAIN},   // columns for each thread
    {1, 32, 128, 512, 0, 1, PLAIN},   //   of weights [columns, k]
    {1, 31, 203, 130, 0, 0, BESIDE},  //   and a rest everywhere
    {2, 20, 300, 190, 0, 0, PLAIN},   //   of two products
    {1, 13, 17, 5, 0, 0, DOUBLED},    // one panel
    {1, 47, 130, 99, 0, 0, DOUBLED},  //
    {1, 128, 96, 900, 1, 0, PLAIN},   // slices, of all rows
    {1, 100, 70, 1500, 1, 0, BESIDE}, //
    {1, 144, 65, 701, 0, 0, DOUBLED}, //
    {1, 64, 80, 1024, 1, 1, PLAIN},   //   of columns that lie apart
    {1, 145, 64, 700, 0, 0, PLAIN},   //   of some of them
    {3, 49, 50, 641, 0, 0, PLAIN},    //   of three products
    {1, 50, 64, 1100, 1, 0, PLAIN},   // slices that are read in memory,
    {1, 70, 128, 1029, 0, 0, BESIDE}, //   with something behind them,
    {1, 260, 64, 1030, 1, 0, PLAIN},  //   by two items,
    {2, 49, 64, 1031, 0, 0, PLAIN},   //   of two products
    {1, 60, 70, 1100, 1, 0, PLAIN},   // or packed when they are used, and some columns over
    {1, 52, 64, 1060, 0, 1, PLAIN},   //   as they lie apart
    {1, 61, 33, 1027, 0, 0, DOUBLED}, //   or are computed
    {1, 45, 60, 90, 0, 1, HALVES},    // evaluated along k, and turned
    {1, 70, 50, 800, 0, 1, HALVES},   //   in slices
    {1, 40, 64, 3, 0, 0, PLAIN},      // rows that are a panel, fewer k than a step has
    {1, 300, 64, 2, 0, 0, BESIDE},    //
    {1, 33, 64, 6, 0, 0, PLAIN},      //   and some over
    {1, 128, 192, 300, 0, 1, CONSTANT},  // panels that lie
    {1, 16, 64, 99, 0, 1, CONSTANT},     //   for few rows
    {1, 33, 64, 130, 0, 0, FUSED},       //   of another major
    {1, 40, 128, 1500, 0, 0, CONSTANT},  //   in slices
    {1, 97, 64, 701, 1, 1, FUSED},       //
    {1, 300, 128, 1100, 0, 1, CONSTANT}, //  of many rows
    {1, 131, 64, 1027, 1, 0, FUSED},     //
    {1, 50, 64, 200, 0, 1, WHOLE},       //   whole rows of sums
    {1, 34, 192, 90, 0, 0, WHOLE},       //
    {1, 70, 80, 66, 0, 1, CONSTANT},     //   of vectors of 8 alone
    {1, 15, 64, 70, 0, 1, CONSTANT},     // or not: of fewer rows
    {1, 70, 65, 70, 0, 1, FUSED},        //   columns that are no whole panels
    {3, 33, 64, 50, 0, 0, CONSTANT},     //   or of several products
};
enum { PRODUCTS = sizeof products / sizeof *products };

static float left_at(const product *p, int b, int r, int k) {
    return (float)test_number((unsigned)((b * p->m + r) * p->k + k), 1);
}

// A number that bf16 has, too.
static float right_at(const product *p, int b, int k, int c) {
    unsigned w = test_word((unsigned)((b * p->k + k) * p->n + c), 2);
    return (float)((int)(w % 255) - 127) / 64;
}

static float bias_at(int c) { return (float)test_number((unsigned)c, 3); }

static tc_tensor left_of(tc_ctx *tc, const product *p) {
    static float x[MOST];
    CHECK(p->batch * p->m * p->k <= MOST);
    for (int b = 0; b < p->batch; b++)
        for (int r = 0; r < p->m; r++)
            for (int k = 0; k < p->k; k++) {
                int at = p->turned_left ? k * p->m + r : r * p->k + k;
                x[b * p->m * p->k + at] = left_at(p, b, r, k);
            }
    return tc_from_data(tc, x,
                        p->turned_left ? TC_DIMS(p->batch, p->k, p->m)
                                       : TC_DIMS(p->batch, p->m, p->k),
                        TC_F32);
}

static tc_tensor right_of(tc_ctx *tc, const product *p) {
    static float x[MOST];
    CHECK(p->batch * p->n * p->k <= MOST);
    for (int b = 0; b < p->batch; b++)
        for (int k = 0; k < p->k; k++)
            for (int c = 0; c < p->n; c++) {
                int at = p->turned_right ? c * p->k + k : k * p->n + c;
                x[b * p->n * p->k + at] = right_at(p, b, k, c);
            }
    tc_dims d =
        p->turned_right ? TC_DIMS(p->batch, p->n, p->k) : TC_DIMS(p->batch, p->k, p->n);
    if (p->form >= CONSTANT) return tc_const(tc, x, d, TC_F32);
    tc_tensor y = tc_from_data(tc, x, d, TC_F32);
    return p->form == HALVES ? tc_cast(y, TC_BF16) : y;
}

static tc_tensor multiply(tc_ctx *tc, const product *p, tc_tensor left, tc_tensor right) {
    float row[512];
    if (p->turned_left) left = tc_transpose(left, 1, 2);
    if (p->turned_right) right = tc_transpose(right, 1, 2);
    if (p->form == HALVES) right = tc_cast(right, TC_F32);
    if (p->form == DOUBLED) right = tc_add(right, right);
    tc_tensor y = tc_matmul(left, right);
    if (p->form == WHOLE) return tc_sub(y, tc_amax_dims(y, TC_DIMS(-1), 1));
    if (p->form != BESIDE && p->form != FUSED) return y;
    for (int c = 0; c < p->n; c++) row[c] = bias_at(c);
    return tc_relu(tc_add(y, tc_from_data(tc, row, TC_DIMS(p->n), TC_F32)));
}

// The operands as rows along k.
static void fill_rows(const product *p, float *left, float *right) {
    float by = p->form == DOUBLED ? 2 : 1;
    for (int b = 0; b < p->batch; b++)
        for (int k = 0; k < p->k; k++) {
            for (int r = 0; r < p->m; r++)
                left[(b * p->m + r) * p->k + k] = left_at(p, b, r, k);
            for (int c = 0; c < p->n; c++)
                right[(b * p->n + c) * p->k + k] = right_at(p, b, k, c) * by;
        }
}

static float expected(const product *p, const float *left, const float *right, int c) {
    float sum = 0;
    for (int k = 0; k < p->k; k++) sum = fmaf(left[k], right[k], sum);
    if (p->form != BESIDE && p->form != FUSED) return sum;
    sum += bias_at(c);
    return sum > 0 ? sum : 0;
}

static void check(const product *p, tc_tensor y, int number) {
    static float got[MOST], left[MOST], right[MOST];
    int at = 0, wrong = 0;
    REQUIRE(p->batch * p->m * p->n <= MOST);
    fill_rows(p, left, right);
    CHECK_EQ(tc_read(y, got, (size_t)(p->batch * p->m * p->n) * sizeof *got), TC_OK);
    for (int b = 0; b < p->batch; b++)
        for (int r = 0; r < p->m; r++) {
            float want[512], most = -INFINITY;
            for (int c = 0; c < p->n; c++) {
                want[c] = expected(p, left + (b * p->m + r) * p->k,
                                   right + (b * p->n + c) * p->k, c);
                if (want[c] > most) most = want[c];
            }
            for (int c = 0; c < p->n; c++, at++) {
                if (p->form == WHOLE) want[c] -= most;
                wrong += memcmp(&want[c], &got[at], sizeof *want) != 0;
            }
        }
    if (wrong) FAIL("product %d: %d elements are wrong", number, wrong);
}

static void run_all(const char *backend, const char *isa, int threads) {
    tc_config config = tc_config_default();
    config.backend = backend, config.isa = isa, config.threads = threads;
    config.no_disk_cache = 1;
    tc_ctx *tc = tc_open(&config);
    tc_tensor in[2 * PRODUCTS], out[PRODUCTS];
    REQUIRE(tc);
    for (int i = 0; i < PRODUCTS; i++)
        in[2 * i] = left_of(tc, &products[i]), in[2 * i + 1] = right_of(tc, &products[i]);
    for (int turn = 0; turn < 2; turn++) { // the second time what is laid out is there
        tc_trace_begin(tc, "products");
        for (int i = 0; i < PRODUCTS; i++)
            out[i] = multiply(tc, &products[i], in[2 * i], in[2 * i + 1]);
        CHECK_EQ(tc_trace_end(tc), TC_OK);
        for (int i = 0; i < PRODUCTS; i++) check(&products[i], out[i], i);
    }
    CHECK_EQ(tc_error(tc), TC_OK);
    CHECK_EQ(tc_stats_get(tc).fallbacks, 0);
    tc_close(tc);
}

TEST(interpreted) { run_all("aot_eager", NULL, 2); }
TEST(two_threads) { run_all("cpu", NULL, 2); }
TEST(one_thread) { run_all("cpu", NULL, 1); }
TEST(three_threads) { run_all("cpu", NULL, 3); }
TEST(avx2) { run_all("cpu", "avx2", 2); }
TEST(baseline) { run_all("cpu", "baseline", 2); }

// The C of a product of 32 rows, a depth of 128 and 256 columns, which are one block for each kind of CPU.
static const char *code_of(int threads) {
    static char text[1 << 18];
    tc_config config = tc_config_default();
    config.threads = threads, config.no_disk_cache = 1;
    tc_ctx *tc = tc_open(&config);
    tc_tensor x = tc_ones(tc, TC_DIMS(32, 128), TC_F32);
    tc_tensor w = tc_ones(tc, TC_DIMS(128, 256), TC_F32);
    tc_trace_begin(tc, "small");
    tc_tensor y = tc_matmul(x, w);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    (void)y;
    snprintf(text, sizeof text, "%s", tc_region_source(tc, "small"));
    tc_close(tc);
    return text;
}

TEST(threads_share_columns) {
    CHECK(strstr(code_of(2), "col_blocks = 2;"));
    CHECK(strstr(code_of(1), "col_blocks = 1;"));
}
