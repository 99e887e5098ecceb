// Attention as one kernel of three parts: scores, softmax and values over blocks of rows. Compiled, interpreted, as
// kernels of their own (a run-time size) and op by op give the same bits, near a reference in double.
#include "tcompile.h"

#include "harness.h"
#include "help.h"

typedef struct shape {
    int64_t batch, m, n, d, e;
    int kernels; // that it takes
} shape;

// How it is written.
typedef enum form { COMPOSITE, PLAIN, MASKED, CAUSAL, WINDOW, KEPT, SHARED } form;

enum {
    SEEN = 20
}; // columns of WINDOW, whose last one is that of the row, counted from the ends

static float *numbers(int64_t n, uint32_t state) {
    float *p = (float *)malloc((size_t)n * sizeof *p);
    for (int64_t i = 0; i < n; i++) {
        state = state * 1664525u + 1013904223u;
        p[i] = (float)((double)(state >> 8) / 8388608.0 - 1.0) * 2.0f;
    }
    return p;
}

typedef struct data {
    shape s;
    float *q, *k, *v;
    uint8_t *mask; // [m, n], of MASKED
} data;

static void data_open(data *d, const shape *s) {
    d->s = *s;
    d->q = numbers(s->batch * s->m * s->d, 1), d->k = numbers(s->batch * s->n * s->d, 2);
    d->v = numbers(s->batch * s->n * s->e, 3);
    d->mask = (uint8_t *)malloc((size_t)(s->m * s->n));
    for (int64_t i = 0; i < s->m * s->n; i++) d->mask[i] = i * 7 % 5 != 0;
}

static void data_close(data *d) { free(d->q), free(d->k), free(d->v), free(d->mask); }

static int attends(const data *d, form f, int64_t row, int64_t column) {
    if (f == MASKED) return d->mask[row * d->s.n + column];
    if (f == WINDOW)
        return column <= row + d->s.n - d->s.m && column > row + d->s.n - d->s.m - SEEN;
    return f != CAUSAL || column <= row;
}

// Row `row` of batch b in double; zeros where nothing is attended to.
static void ref_row(const data *d, form f, int64_t b, int64_t row, double *out) {
    const shape *s = &d->s;
    double *x = (double *)malloc((size_t)s->n * sizeof *x), top = -INFINITY, sum = 0;
    for (int64_t c = 0; c < s->n; c++) {
        x[c] = 0;
        for (int64_t i = 0; i < s->d; i++)
            x[c] += (double)d->q[(b * s->m + row) * s->d + i] *
                    (double)d->k[(b * s->n + c) * s->d + i];
        x[c] = attends(d, f, row, c) ? x[c] / sqrt((double)s->d) : -INFINITY;
        if (x[c] > top) top = x[c];
    }
    if (top == -INFINITY) top = 0;
    for (int64_t c = 0; c < s->n; c++) sum += x[c] = exp(x[c] - top);
    if (sum == 0) sum = 1;
    for (int64_t j = 0; j < s->e; j++) {
        out[j] = 0;
        for (int64_t c = 0; c < s->n; c++)
            out[j] += x[c] / sum * (double)d->v[(b * s->n + c) * s->e + j];
    }
    free(x);
}

// The mask of WINDOW, of positions.
static tc_tensor window(tc_ctx *c, const shape *s) {
    tc_tensor column = tc_arange(c, 0, (double)s->n, 1, TC_I64);
    tc_tensor row = tc_unsqueeze(tc_arange(c, 0, (double)s->m, 1, TC_I64), 1);
    tc_tensor last = tc_add_s(row, (double)(s->n - s->m));
    return tc_logical_and(tc_le(column, last), tc_gt(column, tc_sub_s(last, SEEN)));
}

static tc_tensor attend(tc_ctx *c, const data *d, form f, tc_tensor q, tc_tensor k,
                        tc_tensor v, tc_tensor mask) {
    if (f == WINDOW) mask = window(c, &d->s);
    if (f != PLAIN && f != KEPT && f != SHARED)
        return tc_scaled_dot_product_attention(q, k, v, mask, f == CAUSAL, 0);
    tc_tensor p = tc_matmul(q, tc_transpose(k, -2, -1));
    p = tc_softmax(tc_mul_s(p, 1 / sqrt((double)d->s.d)), -1);
    if (f == KEPT) tc_keep(p);
    if (f == SHARED) tc_keep(tc_matmul(p, tc_neg(v)));
    return tc_matmul(p, v);
}

// The result as f32; the kernels it took.
static int run_in(tc_ctx *c, const data *d, form f, tc_dtype dtype, float *out) {
    const shape *s = &d->s;
    tc_tensor q = tc_from_data(c, d->q, TC_DIMS(s->batch, s->m, s->d), TC_F32);
    tc_tensor k = tc_from_data(c, d->k, TC_DIMS(s->batch, s->n, s->d), TC_F32);
    tc_tensor v = tc_from_data(c, d->v, TC_DIMS(s->batch, s->n, s->e), TC_F32);
    tc_tensor mask = tc_from_data(c, d->mask, TC_DIMS(s->m, s->n), TC_BOOL);
    q = tc_cast(q, dtype), k = tc_cast(k, dtype), v = tc_cast(v, dtype);
    float first;
    tc_tensor all =
        tc_cast(tc_add(tc_sum_all(q), tc_add(tc_sum_all(k), tc_sum_all(v))), TC_F32);
    CHECK_EQ(tc_read(all, &first, sizeof first), TC_OK); // q, k and v are there
    tc_trace_begin(c, "attention");
    tc_tensor y = attend(c, d, f, q, k, v, f == MASKED ? mask : tc_null());
    tc_trace_end(c);
    CHECK_EQ(
        tc_read(tc_cast(y, TC_F32), out, (size_t)(s->batch * s->m * s->e) * sizeof *out),
        TC_OK);
    CHECK_STR(tc_error_text(c), "");
    return tc_region_kernels(c, "attention");
}

// The same in a context of its own. other: rows of a first run, whose size makes that one a run-time size; 0 = none.
static int run_form(const char *backend, const char *isa, int threads, const data *d,
                    form f, tc_dtype dtype, int64_t other, float *out) {
    tc_config config = tc_config_default();
    config.backend = backend, config.isa = isa, config.threads = threads;
    config.no_disk_cache = 1;
    tc_ctx *c = tc_open(&config);
    if (other) {
        data first;
        shape s = d->s;
        s.n = other;
        data_open(&first, &s);
        run_in(c, &first, f, dtype, out);
        data_close(&first);
    }
    int kernels = run_in(c, d, f, dtype, out);
    tc_close(c);
    return kernels;
}

static void expect_near(const data *d, form f, const float *y, double most) {
    const shape *s = &d->s;
    double *want = (double *)malloc((size_t)s->e * sizeof *want), worst = 0;
    for (int64_t b = 0; b < s->batch; b++)
        for (int64_t r = 0; r < s->m; r++) {
            ref_row(d, f, b, r, want);
            for (int64_t j = 0; j < s->e; j++) {
                double off = fabs((double)y[(b * s->m + r) * s->e + j] - want[j]);
                if (!(off <= worst)) worst = off;
            }
        }
    CHECK(worst <= most || FAIL("%g is not below %g", worst, most));
    free(want);
}

static void expect_same(const float *a, const float *b, int64_t n, const char *what) {
    CHECK(!memcmp(a, b, (size_t)n * sizeof *a) || FAIL("other bits: %s", what));
}

static void check(const shape *s, form f, tc_dtype dtype) {
    data d;
    data_open(&d, s);
    int64_t n = s->batch * s->m * s->e;
    float *y = (float *)calloc((size_t)n, sizeof *y),
          *z = (float *)calloc((size_t)n, sizeof *z);
    CHECK_EQ(run_form("cpu", NULL, 3, &d, f, dtype, 0, y), s->kernels);
    expect_near(&d, f, y, dtype == TC_BF16 ? 4e-2 : 2e-6);
    run_form("aot_eager", NULL, 2, &d, f, dtype, 0, z);
    expect_same(y, z, n, "interpreted");
    run_form("cpu", "baseline", 1, &d, f, dtype, 0, z);
    expect_same(y, z, n, "for the oldest CPU, on one thread");
    CHECK_EQ(run_form("cpu", NULL, 2, &d, f, dtype, s->n + 3, z), 3);
    expect_same(y, z, n, "three kernels");
    run_form("eager", NULL, 2, &d, f, dtype, 0, z);
    if (dtype != TC_BF16) expect_same(y, z, n, "op by op");
    free(y), free(z);
    data_close(&d);
}

// Rows and columns that are no multiples of vectors, tiles or blocks.
TEST(odd_sizes_are_one_kernel) {
    static const shape shapes[] = {
        {6, 150, 101, 33, 19, 1}, {20, 9, 33, 5, 1, 1}, {1, 800, 64, 64, 64, 1}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        check(&shapes[i], i ? COMPOSITE : PLAIN, TC_F32);
}

// Above 8192 columns sums are made in chunks; a block has fewer rows, so that they stay in the caches.
TEST(long_rows_are_one_kernel) {
    static const shape s = {2, 200, 8300, 8, 8, 1};
    check(&s, COMPOSITE, TC_F32);
}

TEST(halves_are_rounded_where_rows_are_kept) {
    static const shape s = {8, 100, 72, 16, 24, 1};
    check(&s, COMPOSITE, TC_BF16);
}

TEST(doubles_are_one_kernel) {
    static const shape s = {8, 100, 72, 16, 24, 1};
    check(&s, PLAIN, TC_F64);
}

TEST(masks_are_in_the_kernel) {
    static const shape s = {8, 100, 72, 16, 24, 1};
    check(&s, MASKED, TC_F32);
}

// Rows that are no multiples of anything, fewer and more than columns; some rows of a window attend to
// nothing.
TEST(masks_of_positions_are_in_the_kernel) {
    static const shape shapes[] = {
        {8, 100, 72, 16, 24, 1}, {6, 150, 101, 33, 19, 1}, {14, 61, 203, 16, 24, 1}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        check(&shapes[i], CAUSAL, TC_F32);
        check(&shapes[i], WINDOW, TC_F32);
    }
    check(shapes, CAUSAL, TC_BF16);
}

// A part without vectors of 16 would take them from all: they stay apart.
TEST(what_would_be_slower_stays_apart) {
    static const shape few = {8, 100, 7, 16, 24, 3}, one_row = {64, 1, 72, 16, 24, 3},
                       small = {1, 40, 72, 16, 24, 3};
    check(&few, COMPOSITE, TC_F32);
    check(&one_row, COMPOSITE, TC_F32);
    check(&small, COMPOSITE, TC_F32);
}

// What is a result, too, is in memory and made once.
TEST(shares_that_are_kept_are_results) {
    static const shape s = {8, 100, 72, 16, 24, 1};
    check(&s, KEPT, TC_F32);
}

// Two products of the same shares: those are made once, in the first one's kernel.
TEST(shares_of_two_products_are_made_once) {
    static const shape s = {8, 100, 72, 16, 24, 3}; // one is the negated values
    data d;
    float *y = (float *)calloc(8 * 100 * 24, sizeof *y),
          *z = (float *)calloc(8 * 100 * 24, sizeof *z);
    data_open(&d, &s);
    CHECK_EQ(run_form("cpu", NULL, 3, &d, SHARED, TC_F32, 0, y), s.kernels);
    expect_near(&d, SHARED, y, 2e-6);
    run_form("eager", NULL, 2, &d, SHARED, TC_F32, 0, z);
    expect_same(y, z, 8 * 100 * 24, "op by op");
    free(y), free(z);
    data_close(&d);
}
