// Rows of inputs that products of halves read, and that are no multiple of an access, are laid out first on a device:
// pass/align.c. Results against sums in double, of operands in any order, batches, parts of inputs and casts, and how many
// kernels there are.
#include "tcompile.h"

#include "tcompile_cuda.h"

#define TEST_NO_MAIN
#include "harness.h"
#include "help.h"
#include "tools/cuda_device.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TURNED_LEFT = 1, TURNED_RIGHT = 2, RELU = 4, PART = 8, CAST = 16, SHARED = 32 };

// left[batch, m, k] times right[batch, k, n], stored with their last dimensions exchanged where they are TURNED. PART: of a
// larger input, from place 1 on; CAST: of f32; SHARED: the right operand is one for all batches.
typedef struct product {
    tc_dtype dtype;
    int batch, m, n, k, flags;
    int kernels; // of the function
} product;

static float given(int seed, size_t i) {
    return (float)((int)((i * 7 + i / 5 * 3 + i / 131 + (size_t)seed * 13) % 17) - 8) / 16;
}

// An operand, of halves exactly, and its values [batch, rows, cols] as they are in memory.
static tc_tensor operand(tc_ctx *tc, const product *q, int seed, int batch, int rows,
                         int cols, float *value) {
    int part = q->flags & PART ? 2 : 0;
    size_t wide = (size_t)(cols + part), n = (size_t)batch * (size_t)rows * wide;
    float *all = (float *)malloc(n * sizeof *all);
    for (size_t i = 0; i < n; i++) {
        all[i] = given(seed, i);
        size_t c = i % wide - (size_t)(part / 2);
        if (c < (size_t)cols) value[i / wide * (size_t)cols + c] = all[i];
    }
    tc_tensor t = tc_from_data(tc, all, TC_DIMS(batch, rows, (int64_t)wide), TC_F32);
    if (!(q->flags & CAST)) t = tc_cast(t, q->dtype);
    free(all);
    return tc_to(t, DEVICE_NAME);
}

static tc_tensor seen(const product *q, tc_tensor t, int cols, int turned) {
    if (q->flags & PART) t = tc_narrow(t, 2, 1, cols);
    if (q->flags & CAST) t = tc_cast(t, q->dtype);
    return turned ? tc_transpose(t, 1, 2) : t;
}

static void body(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    const product *q = (const product *)user;
    int left = q->flags & TURNED_LEFT, right = q->flags & TURNED_RIGHT;
    (void)tc;
    tc_tensor a = seen(q, in[0], left ? q->m : q->k, left),
              b = seen(q, in[1], right ? q->k : q->n, right);
    tc_tensor y = tc_matmul(a, b);
    out[0] = q->flags & RELU ? tc_relu(y) : y;
}

static double wanted(const product *q, const float *a, const float *b, int z, int r,
                     int c) {
    size_t m = (size_t)q->m, n = (size_t)q->n, k = (size_t)q->k;
    size_t left = (size_t)z, right = q->flags & SHARED ? 0 : left;
    double sum = 0;
    for (size_t l = 0; l < k; l++) {
        size_t i = q->flags & TURNED_LEFT ? (left * k + l) * m + (size_t)r
                                          : (left * m + (size_t)r) * k + l,
               j = q->flags & TURNED_RIGHT ? (right * n + (size_t)c) * k + l
                                           : (right * k + l) * n + (size_t)c;
        sum += (double)a[i] * (double)b[j];
    }
    return q->flags & RELU && sum < 0 ? 0 : sum;
}

// Every element, each off by at most half a unit of its last place: sums are exact in f32.
static void compare(const product *q, tc_tensor y, const float *a, const float *b) {
    double eps = q->dtype == TC_F16 ? 0x1p-11 : 0x1p-8;
    y = tc_to(tc_cast(y, TC_F32), "cpu");
    if (!y.id) return;
    int64_t wrong = 0, first = -1, i = 0;
    for (int z = 0; z < q->batch; z++)
        for (int r = 0; r < q->m; r++)
            for (int c = 0; c < q->n; c++, i++) {
                double want = wanted(q, a, b, z, r, c), off = fabs(AT(y, i) - want);
                if (off <= eps * fabs(want)) continue;
                if (!wrong++) first = i;
            }
    if (wrong)
        FAIL("%dx%dx%dx%d flags %d: %lld elements are wrong, the first %lld", q->batch,
             q->m, q->n, q->k, q->flags, (long long)wrong, (long long)first);
}

static void check_in(tc_ctx *tc, const product *q) {
    int left = q->flags & TURNED_LEFT, right = q->flags & TURNED_RIGHT,
        shared = q->flags & SHARED ? 1 : q->batch;
    float *a = (float *)malloc(sizeof *a * (size_t)q->batch * (size_t)q->m * (size_t)q->k),
          *b = (float *)malloc(sizeof *b * (size_t)shared * (size_t)q->n * (size_t)q->k);
    tc_tensor in[2], out[1];
    in[0] = operand(tc, q, 1, q->batch, left ? q->k : q->m, left ? q->m : q->k, a);
    in[1] = operand(tc, q, 2, shared, right ? q->n : q->k, right ? q->k : q->n, b);
    tc_options o = tc_options_default();
    o.fullgraph = 1;
    tc_fn *f = tc_compile(tc, body, (void *)q, sizeof *q, &o);
    for (int visit = 0; visit < 2; visit++) {
        uint64_t kernels = tc_stats_get(tc).kernel_runs;
        CHECK_EQ(tc_call(f, in, 2, out, 1), TC_OK);
        CHECK_EQ((int)(tc_stats_get(tc).kernel_runs - kernels), q->kernels);
        compare(q, out[0], a, b);
        tc_free(out[0]);
    }
    tc_fn_free(f);
    free(a), free(b);
}

static void check(const product *q, size_t n) {
    for (size_t i = 0; i < n; i++) {
        tc_config config = tc_config_default();
        config.no_disk_cache = 1;
        tc_ctx *tc = tc_open(&config);
        REQUIRE(open_device(tc));
        check_in(tc, &q[i]);
        CHECK_STR(tc_error_text(tc), "");
        tc_close(tc);
        check_device_closed();
    }
}

#define PRODUCTS(name, ...)                                                                \
    TEST(name) {                                                                           \
        static const product q[] = {__VA_ARGS__};                                          \
        check(q, sizeof q / sizeof *q);                                                    \
    }

// Both, one of them, none; as they lie and turned.
PRODUCTS(rows_of_operands, {TC_BF16, 1, 65, 77, 131, 0, 3}, {TC_F16, 1, 40, 72, 131, 0, 2},
         {TC_BF16, 1, 33, 77, 128, RELU, 2}, {TC_F16, 1, 72, 64, 131, TURNED_LEFT, 1},
         {TC_BF16, 1, 65, 77, 131, TURNED_LEFT | TURNED_RIGHT, 3},
         {TC_F16, 1, 130, 33, 203, TURNED_RIGHT | RELU, 3})

PRODUCTS(batches, {TC_BF16, 3, 33, 45, 129, 0, 3}, {TC_F16, 2, 65, 9, 130, TURNED_RIGHT, 3},
         {TC_BF16, 3, 20, 45, 129, SHARED, 3})

// Slices of k, which meet.
PRODUCTS(long_sums, {TC_F16, 1, 61, 67, 1501, 0, 3},
         {TC_BF16, 1, 21, 30, 2999, TURNED_RIGHT, 3})

PRODUCTS(parts_of_inputs_and_casts, {TC_BF16, 1, 35, 77, 131, PART, 3},
         {TC_F16, 2, 35, 41, 131, CAST, 3},
         {TC_BF16, 1, 35, 41, 131, CAST | PART | TURNED_RIGHT, 3})

// Few rows or columns, and few of k: what brings them one by one is done sooner.
PRODUCTS(short_ones, {TC_BF16, 1, 3, 77, 131, 0, 1}, {TC_F16, 1, 77, 4, 131, 0, 1},
         {TC_BF16, 2, 35, 37, 63, 0, 1})
