// f8 on a CUDA device: tests/ops/bytes.c there, and products of what is cast from it, by matrix units for f8 where
// numerics are fast and both operands lie along k, else by those for halves, which hold its numbers.
#include "tcompile.h"

#include "tcompile_cuda.h"

#define TEST_NO_MAIN
#include "harness.h"
#include "help.h"
#include "tools/cuda_device.h"

#define BYTES_DEVICE
enum { FIRST_RUN = 2 };

static tc_tensor there(tc_tensor t) { return tc_to(t, DEVICE_NAME); }

static tc_ctx *open_there(const char *backend) {
    tc_config config = tc_config_default();
    config.backend = backend;
    tc_ctx *tc = tc_open(&config);
    if (!open_device(tc)) exit(TEST_FAILED);
    return tc;
}

#include "ops/bytes.c"

// Before 8.9 there are no instructions for it.
TEST(without_instructions) {
    if (device_is_real) SKIP("a GPU has what it has; the emulator does this");
    REQUIRE(device_use());
    fake->major = 8, fake->minor = 0;
    check_codes(), check_roundings();
}

// ---- products

enum { LEFT_TURNED = 1, RIGHT_ALONG = 2, FAST = 4, BATCH = 8 };

typedef struct shape {
    int m, n, k, flags;
    int units; // those for f8 multiply
} shape;

static double number(int dtype, uint8_t b) {
    static double known[2][256];
    static int made;
    for (int i = 0; !made && i < 512; i++)
        known[i / 256][i % 256] = byte_value(formats[i / 256], (uint8_t)i);
    made = 1;
    return known[dtype][b];
}

// What the user writes: sums of products in f32, times a scale for each row and each column.
static tc_tensor scaled_product(tc_tensor x, tc_tensor w, tc_tensor rows, tc_tensor columns,
                                tc_dtype computed) {
    tc_tensor y = tc_matmul(tc_cast(x, computed), tc_cast(w, computed));
    return tc_cast(tc_mul(tc_mul(tc_to_f32(y), rows), columns), TC_F32);
}

// f8 [b, m, k] and [b, k, n], whose last two axes may be exchanged in memory, and scales of rows and columns.
typedef struct factors {
    int left, right; // formats
    int b, m, n, k, turned, along;
    const uint8_t *x, *w;
    const float *rows, *columns;
} factors;

// Their scaled product, on the device.
static void multiply(tc_ctx *tc, const factors *f, const tc_options *o, tc_dtype computed,
                     float *got) {
    int b = f->b, m = f->m, n = f->n, k = f->k;
    tc_dims dx = f->turned ? TC_DIMS(b, k, m) : TC_DIMS(b, m, k);
    tc_dims dw = f->along ? TC_DIMS(b, n, k) : TC_DIMS(b, k, n);
    tc_tensor a = there(tc_from_data(tc, f->x, dx, both[f->left]));
    tc_tensor c = there(tc_from_data(tc, f->w, dw, both[f->right]));
    tc_tensor r = there(tc_from_data(tc, f->rows, TC_DIMS(m, 1), TC_F32));
    tc_tensor q = there(tc_from_data(tc, f->columns, TC_DIMS(n), TC_F32));
    tc_trace_begin_at(tc, "product", o, "bytes.c", 1);
    if (f->turned) a = tc_permute(a, TC_DIMS(0, 2, 1));
    if (f->along) c = tc_permute(c, TC_DIMS(0, 2, 1));
    tc_tensor y = scaled_product(a, c, r, q, computed);
    if (tc_trace_end(tc)) FAIL("%s", tc_error_text(tc));
    CHECK_EQ(tc_read(tc_to(y, "cpu"), got, (size_t)b * (size_t)m * (size_t)n * sizeof *got),
             TC_OK);
}

// Product d of an element's sum.
static double term_of(const factors *f, int z, int row, int col, int d) {
    int m = f->m, n = f->n, k = f->k;
    return number(f->left,
                  f->turned ? f->x[(z * k + d) * m + row] : f->x[(z * m + row) * k + d]) *
           number(f->right,
                  f->along ? f->w[(z * n + col) * k + d] : f->w[(z * k + d) * n + col]);
}

// left: 0 = e4m3, 1 = e5m2. Sums of few digits are exact whatever units they go through; an f16 holds those of
// `computed` halves.
static void product_case(const shape *s, int left, int right, tc_dtype computed) {
    int b = s->flags & BATCH ? 3 : 1, m = s->m, n = s->n, k = s->k;
    int turned = s->flags & LEFT_TURNED, along = s->flags & RIGHT_ALONG;
    uint8_t *x = (uint8_t *)malloc((size_t)b * (size_t)m * (size_t)k);
    uint8_t *w = (uint8_t *)malloc((size_t)b * (size_t)n * (size_t)k);
    float *rows = (float *)malloc((size_t)m * sizeof *rows),
          *columns = (float *)malloc((size_t)n * sizeof *columns),
          *got = (float *)malloc((size_t)b * (size_t)m * (size_t)n * sizeof *got);
    if (!x || !w || !rows || !columns || !got) abort();
    uint8_t five[5], seven[7];
    for (int i = 0; i < 5; i++) five[i] = byte_nearest(formats[left], (double)(i - 2));
    for (int i = 0; i < 7; i++)
        seven[i] = byte_nearest(formats[right], (double)(i - 3) / 2);
    for (int i = 0; i < b * m * k; i++) x[i] = five[(i * 7 + i / k) % 5];
    for (int i = 0; i < b * n * k; i++) w[i] = seven[(i * 5 + i / n) % 7];
    for (int i = 0; i < m; i++) rows[i] = (float)half_power(i % 5 - 2);
    for (int i = 0; i < n; i++) columns[i] = (float)half_power(i % 3);
    tc_ctx *tc = open_there("cpu");
    tc_options o;
    memset(&o, 0, sizeof o);
    o.numerics = s->flags & FAST ? TC_NUMERICS_FAST : TC_NUMERICS_STRICT;
    factors f = {left, right, b, m, n, k, turned, along, x, w, rows, columns};
    multiply(tc, &f, &o, computed, got);
    const char *text = tc_region_source(tc, "product");
    CHECK_EQ(text && strstr(text, "tc_mapped<tc_mapped_sums_f8, ") != NULL, s->units);
    int bad = 0;
    for (int i = 0; i < b * m * n && bad < 3; i++) {
        int z = i / (m * n), row = i / n % m, col = i % n;
        double sum = 0;
        for (int d = 0; d < k; d++) sum += term_of(&f, z, row, col, d);
        double want = sum * (double)rows[row] * (double)columns[col];
        double least =
            computed == TC_F32 ? 0 : fabs(want) * (computed == TC_F16 ? 0x1p-11 : 0x1p-8);
        if (fabs((double)got[i] - want) <= least) continue;
        bad++;
        FAIL("%d x %d x %d, flags %d, %d by %d: element %d is %g, not %g", m, n, k,
             s->flags, left, right, i, (double)got[i], want);
    }
    tc_close(tc);
    check_device_closed();
    free(x), free(w), free(rows), free(columns), free(got);
}

// Whole tiles, and rests of rows, of columns, of k and of 16 bytes.
static const shape shapes[] = {{128, 256, 256, RIGHT_ALONG | FAST, 1},
                               {200, 136, 272, RIGHT_ALONG | FAST, 1},
                               {64, 96, 144, RIGHT_ALONG | FAST | BATCH, 1},
                               {70, 72, 128, RIGHT_ALONG, 0},
                               {70, 72, 100, RIGHT_ALONG | FAST, 0},
                               {66, 64, 128, FAST, 0},
                               {64, 72, 128, LEFT_TURNED | RIGHT_ALONG | FAST, 0},
                               {3, 200, 256, RIGHT_ALONG | FAST, 0},
                               {40, 33, 65, 0, 0}};

static void product_shapes(int left, int right, tc_dtype computed) {
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        product_case(&shapes[i], left, right, computed);
}

// ---- random ones, of all numbers that f8 has, within the bound of a sum of 14 bits in f32

// A byte of its format, that is a number; one in four a small one.
static uint8_t random_byte(int format, unsigned i, unsigned seed) {
    unsigned w = test_word(i, seed);
    uint8_t b = (uint8_t)(w % 4 ? w >> 8 : (w >> 8) % 9);
    double x = number(format, b);
    return isfinite(x) && fabs(x) <= 256 ? b : 0;
}

// What a sum of products p may differ by: in each step of 32, what is added to the sum so far, and that, lose what is below 14 bits
// of the largest; every 128 products go to a sum in f32.
static double far_of(const double *p, int k) {
    double far = 0, part = 0, size = 0;
    for (int from = 0; from < k; from += 32) {
        double most = from % 128 ? fabs(part) : 0;
        if (from % 128 == 0) part = 0;
        for (int d = from; d < from + 32 && d < k; d++)
            most = fmax(most, fabs(p[d])), part += p[d], size += fabs(p[d]);
        far += 33 * 0x1p-13 * most;
    }
    return far + (k + 4) * 0x1p-24 * size;
}

static void random_product(unsigned program) {
    enum { B = 3, M = 90, N = 90, K = 420 };
    static uint8_t x[B * M * K], w[B * N * K];
    static float rows[M], columns[N], got[B * M * N];
    unsigned seed = 1000 + program * 10;
    int left = (int)(test_word(0, seed) % 2), right = (int)(test_word(1, seed) % 2);
    int b = test_word(2, seed) % 3 ? 1 : B, m = 1 + (int)(test_word(3, seed) % M);
    int n = 1 + (int)(test_word(4, seed) % N), k = 1 + (int)(test_word(5, seed) % K);
    int turned = test_word(6, seed) % 5 == 0, along = test_word(7, seed) % 5 != 0;
    if (test_word(8, seed) % 3) k = (k + 15) / 16 * 16 > K ? 400 : (k + 15) / 16 * 16;
    if (test_word(9, seed) % 3) n = (n + 7) / 8 * 8 > N ? 88 : (n + 7) / 8 * 8;
    for (int i = 0; i < b * m * k; i++) x[i] = random_byte(left, (unsigned)i, seed + 1);
    for (int i = 0; i < b * n * k; i++) w[i] = random_byte(right, (unsigned)i, seed + 2);
    for (int i = 0; i < m; i++) rows[i] = (float)test_number((unsigned)i, seed + 3);
    for (int i = 0; i < n; i++) columns[i] = (float)test_number((unsigned)i, seed + 4);
    tc_ctx *tc = open_there("cpu");
    tc_options o = tc_options_default();
    o.numerics = TC_NUMERICS_FAST;
    factors f = {left, right, b, m, n, k, turned, along, x, w, rows, columns};
    multiply(tc, &f, &o, TC_F32, got);
    int bad = 0;
    for (int i = 0; i < b * m * n && bad < 3; i++) {
        int z = i / (m * n), row = i / n % m, col = i % n;
        double sum = 0, p[K], scale = (double)rows[row] * (double)columns[col];
        for (int d = 0; d < k; d++) {
            p[d] = term_of(&f, z, row, col, d);
            sum += p[d];
        }
        if (fabs((double)got[i] - sum * scale) <= far_of(p, k) * fabs(scale)) continue;
        bad++;
        FAIL("program %u: %d x %d x %d x %d, %d by %d: element %d is %g, not %g", program,
             b, m, n, k, left, right, i, (double)got[i], sum * scale);
    }
    tc_close(tc);
    check_device_closed();
}

TEST(random_products) {
    for (unsigned i = 0; i < (test_all() ? 48u : 8u); i++) random_product(i);
}

TEST(products_e4m3) { product_shapes(0, 0, TC_F32); }
TEST(products_e5m2) { product_shapes(1, 1, TC_F32); }
TEST(products_e4m3_by_e5m2) { product_shapes(0, 1, TC_BF16); }
TEST(products_e5m2_by_e4m3) { product_shapes(1, 0, TC_F16); }
