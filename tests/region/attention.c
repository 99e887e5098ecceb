// Attention as one kernel of three parts: scores, softmax and values over blocks of rows. Compiled, interpreted, for a
// size of run time, with a kernel for each op and op by op give the same bits, near a reference in double.
#include "tcompile.h"

#include "harness.h"
#include "help.h"

typedef struct shape {
    int64_t batch, m, n, d, e;
    int kernels;   // that it takes
    int64_t heads, // of the batch, a dimension of their own; 0 = there is none
        group;     // heads of q that have the same k and v; 0 = 1
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
    int64_t keys = s->batch / (s->group ? s->group : 1) * s->n;
    d->s = *s;
    d->q = numbers(s->batch * s->m * s->d, 1);
    d->k = numbers(keys * s->d, 2), d->v = numbers(keys * s->e, 3);
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
    int64_t key = s->group ? b / s->group : b;
    double *x = (double *)malloc((size_t)s->n * sizeof *x), top = -INFINITY, sum = 0;
    for (int64_t c = 0; c < s->n; c++) {
        x[c] = 0;
        for (int64_t i = 0; i < s->d; i++)
            x[c] += (double)d->q[(b * s->m + row) * s->d + i] *
                    (double)d->k[(key * s->n + c) * s->d + i];
        x[c] = attends(d, f, row, c) ? x[c] / sqrt((double)s->d) : -INFINITY;
        if (x[c] > top) top = x[c];
    }
    if (top == -INFINITY) top = 0;
    for (int64_t c = 0; c < s->n; c++) sum += x[c] = exp(x[c] - top);
    if (sum == 0) sum = 1;
    for (int64_t j = 0; j < s->e; j++) {
        out[j] = 0;
        for (int64_t c = 0; c < s->n; c++)
            out[j] += x[c] / sum * (double)d->v[(key * s->n + c) * s->e + j];
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

// Sizes of q, or of k and v.
static tc_dims dims_of(const shape *s, int of_keys, int64_t rows, int64_t columns) {
    if (!s->heads) return TC_DIMS(s->batch, rows, columns);
    if (!s->group) return TC_DIMS(s->batch / s->heads, s->heads, rows, columns);
    return TC_DIMS(s->batch / s->heads, s->heads / s->group, of_keys ? 1 : s->group, rows,
                   columns);
}

// A context, and which sizes it is told to be of run time; 0 = those that change.
typedef struct session {
    tc_ctx *c;
    int64_t longest; // rows and columns
} session;

static void mark(const session *t, tc_tensor x, int dim) {
    if (t->longest) CHECK_EQ(tc_mark_dynamic(x, dim, 2, t->longest), TC_OK);
}

// The result as f32; the kernels it took.
static int run_in(const session *t, const data *d, form f, tc_dtype dtype, float *out) {
    const shape *s = &d->s;
    tc_ctx *c = t->c;
    tc_tensor q = tc_from_data(c, d->q, dims_of(s, 0, s->m, s->d), TC_F32);
    tc_tensor k = tc_from_data(c, d->k, dims_of(s, 1, s->n, s->d), TC_F32);
    tc_tensor v = tc_from_data(c, d->v, dims_of(s, 1, s->n, s->e), TC_F32);
    tc_tensor mask = tc_from_data(c, d->mask, TC_DIMS(s->m, s->n), TC_BOOL);
    if (dtype != TC_F32)
        q = tc_cast(q, dtype), k = tc_cast(k, dtype), v = tc_cast(v, dtype);
    float first;
    tc_tensor all =
        tc_cast(tc_add(tc_sum_all(q), tc_add(tc_sum_all(k), tc_sum_all(v))), TC_F32);
    if (!t->longest)
        CHECK_EQ(tc_read(all, &first, sizeof first), TC_OK); // q, k and v are there
    mark(t, q, -2), mark(t, k, -2), mark(t, v, -2), mark(t, mask, 0), mark(t, mask, 1);
    tc_trace_begin(c, "attention");
    tc_tensor y = attend(c, d, f, q, k, v, f == MASKED ? mask : tc_null());
    tc_trace_end(c);
    CHECK_EQ(
        tc_read(tc_cast(y, TC_F32), out, (size_t)(s->batch * s->m * s->e) * sizeof *out),
        TC_OK);
    CHECK_STR(tc_error_text(c), "");
    return tc_region_kernels(c, "attention");
}

// How programs are run.
typedef struct way {
    const char *backend, *isa;
    int threads, no_fusion;
    int64_t
        other; // columns of a first run, which makes them a run-time size; 0 = there is none
} way;

static tc_ctx *open_for(const way *w) {
    tc_config config = tc_config_default();
    config.backend = w->backend, config.isa = w->isa, config.threads = w->threads;
    config.no_fusion = w->no_fusion, config.no_disk_cache = 1;
    return tc_open(&config);
}

// The same in a context of its own.
static int run_form(way w, const data *d, form f, tc_dtype dtype, float *out) {
    session t = {open_for(&w), 0};
    if (w.other) {
        data first;
        shape s = d->s;
        s.n = w.other;
        data_open(&first, &s);
        run_in(&t, &first, f, dtype, out);
        data_close(&first);
    }
    int kernels = run_in(&t, d, f, dtype, out);
    tc_close(t.c);
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

// at_run_time: the kernels where columns are a run-time size.
static void check_both(const shape *s, form f, tc_dtype dtype, int at_run_time) {
    data d;
    data_open(&d, s);
    int64_t n = s->batch * s->m * s->e;
    float *y = (float *)calloc((size_t)n, sizeof *y),
          *z = (float *)calloc((size_t)n, sizeof *z);
    CHECK_EQ(run_form((way){"cpu", NULL, 3, 0, 0}, &d, f, dtype, y), s->kernels);
    expect_near(&d, f, y, dtype == TC_BF16 ? 4e-2 : 2e-6);
    run_form((way){"aot_eager", NULL, 2, 0, 0}, &d, f, dtype, z);
    expect_same(y, z, n, "interpreted");
    run_form((way){"cpu", "baseline", 1, 0, 0}, &d, f, dtype, z);
    expect_same(y, z, n, "for the oldest CPU, on one thread");
    CHECK_EQ(run_form((way){"cpu", NULL, 2, 0, s->n + 3}, &d, f, dtype, z), at_run_time);
    expect_same(y, z, n, "columns of run time");
    CHECK(run_form((way){"aot_eager", NULL, 2, 1, 0}, &d, f, dtype, z) >= 3);
    expect_same(y, z, n, "a kernel for each op");
    run_form((way){"eager", NULL, 2, 0, 0}, &d, f, dtype, z);
    if (dtype != TC_BF16) expect_same(y, z, n, "op by op");
    free(y), free(z);
    data_close(&d);
}

static void check(const shape *s, form f, tc_dtype dtype) {
    check_both(s, f, dtype, s->kernels);
}

// Rows and columns that are no multiples of vectors, tiles or blocks.
TEST(odd_sizes_are_one_kernel) {
    static const shape shapes[] = {{6, 150, 101, 33, 19, 1, 0, 0},
                                   {20, 9, 33, 5, 1, 1, 0, 0},
                                   {1, 800, 64, 64, 64, 1, 0, 0}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        check(&shapes[i], i ? COMPOSITE : PLAIN, TC_F32);
}

// Above 8192 columns sums are made in chunks; a block has fewer rows, so that they stay in the caches.
TEST(long_rows_are_one_kernel) {
    static const shape s = {2, 200, 8300, 8, 8, 1, 0, 0};
    check(&s, COMPOSITE, TC_F32);
}

TEST(halves_are_rounded_where_rows_are_kept) {
    static const shape s = {8, 100, 72, 16, 24, 1, 0, 0};
    check(&s, COMPOSITE, TC_BF16);
}

TEST(doubles_are_one_kernel) {
    static const shape s = {8, 100, 72, 16, 24, 1, 0, 0};
    check(&s, PLAIN, TC_F64);
}

TEST(masks_are_in_the_kernel) {
    static const shape s = {8, 100, 72, 16, 24, 1, 0, 0};
    check(&s, MASKED, TC_F32);
}

// Rows that are no multiples of anything, fewer and more than columns; some rows of a window attend to
// nothing. Where it begins is a number of run time if sizes are: an i64, of which there are no vectors of 16.
TEST(masks_of_positions_are_in_the_kernel) {
    static const shape shapes[] = {{8, 100, 72, 16, 24, 1, 0, 0},
                                   {6, 150, 101, 33, 19, 1, 0, 0},
                                   {14, 61, 203, 16, 24, 1, 0, 0}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        check(&shapes[i], CAUSAL, TC_F32);
        check_both(&shapes[i], WINDOW, TC_F32, 3);
    }
    check(shapes, CAUSAL, TC_BF16);
}

// A part without vectors of 16 would take them from all: they stay apart. Of columns of run time is not known that
// they are few.
TEST(what_would_be_slower_stays_apart) {
    static const shape few = {8, 100, 7, 16, 24, 3, 0, 0},
                       one_row = {64, 1, 72, 16, 24, 3, 0, 0},
                       small = {1, 40, 72, 16, 24, 3, 0, 0};
    check_both(&few, COMPOSITE, TC_F32, 1);
    check(&one_row, COMPOSITE, TC_F32);
    check(&small, COMPOSITE, TC_F32);
}

// What is a result, too, is in memory and made once.
TEST(shares_that_are_kept_are_results) {
    static const shape s = {8, 100, 72, 16, 24, 1, 0, 0};
    check(&s, KEPT, TC_F32);
}

// Two products of the same shares: those are made once, in the first one's kernel.
TEST(shares_of_two_products_are_made_once) {
    static const shape s = {8, 100, 72, 16, 24, 3, 0, 0}; // one is the negated values
    data d;
    float *y = (float *)calloc(8 * 100 * 24, sizeof *y),
          *z = (float *)calloc(8 * 100 * 24, sizeof *z);
    data_open(&d, &s);
    CHECK_EQ(run_form((way){"cpu", NULL, 3, 0, 0}, &d, SHARED, TC_F32, y), s.kernels);
    expect_near(&d, SHARED, y, 2e-6);
    run_form((way){"eager", NULL, 2, 0, 0}, &d, SHARED, TC_F32, z);
    expect_same(y, z, 8 * 100 * 24, "op by op");
    free(y), free(z);
    data_close(&d);
}

// ---- sizes of run time

// Shapes one after the other in a context: the program of the second is that of all behind it, unless a first one was
// told to be. It is one kernel.
static void check_series(const shape *s, int count, form f, way w, int64_t longest) {
    session t = {open_for(&w), longest};
    for (int i = 0; i < count; i++) {
        data d;
        data_open(&d, &s[i]);
        float *y = (float *)calloc((size_t)(s[i].batch * s[i].m * s[i].e), sizeof *y);
        int kernels = run_in(&t, &d, f, TC_F32, y);
        CHECK(kernels == 1 || (!i && !longest) || FAIL("form %d: %d kernels", f, kernels));
        expect_near(&d, f, y, 2e-6);
        free(y);
        data_close(&d);
    }
    tc_close(t.c);
}

static const way interpreted = {"aot_eager", NULL, 2, 0, 0},
                 compiled = {"cpu", NULL, 2, 0, 0};

enum { SERIES = 4 };

// A series in the forms that have masks of all kinds, and grouped.
static void check_forms(const shape series[SERIES], int64_t longest) {
    static const form forms[] = {COMPOSITE, PLAIN, MASKED, CAUSAL};
    shape grouped[SERIES];
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        check_series(series, SERIES, forms[i], interpreted, longest);
    check_series(series, SERIES, CAUSAL, compiled, longest);
    for (int i = 0; i < SERIES; i++) {
        grouped[i] = series[i];
        grouped[i].heads = 6, grouped[i].group = 3, grouped[i].batch *= 2;
    }
    check_series(grouped, SERIES, COMPOSITE, interpreted, longest);
    check_series(grouped, SERIES, MASKED, compiled, longest);
}

TEST(heads_of_as_many_rows_as_columns) {
    static const shape series[SERIES] = {{6, 40, 40, 8, 12, 1, 3, 0},
                                         {6, 101, 101, 8, 12, 1, 3, 0},
                                         {6, 5, 5, 8, 12, 1, 3, 0},
                                         {6, 150, 150, 8, 12, 1, 3, 0}};
    check_forms(series, 0);
}

TEST(heads_of_rows_and_columns) {
    static const shape series[SERIES] = {{6, 40, 33, 8, 12, 1, 3, 0},
                                         {6, 101, 70, 8, 12, 1, 3, 0},
                                         {6, 5, 203, 8, 12, 1, 3, 0},
                                         {6, 150, 2, 8, 12, 1, 3, 0}};
    check_forms(series, 0);
    check_forms(series, 256);
}

TEST(columns_of_heads) {
    static const shape series[SERIES] = {{6, 61, 33, 8, 12, 1, 3, 0},
                                         {6, 61, 70, 8, 12, 1, 3, 0},
                                         {6, 61, 203, 8, 12, 1, 3, 0},
                                         {6, 61, 17, 8, 12, 1, 3, 0}};
    check_forms(series, 0);
}

TEST(batches_of_heads) {
    static const shape series[SERIES] = {{6, 150, 101, 8, 12, 1, 3, 0},
                                         {15, 150, 101, 8, 12, 1, 3, 0},
                                         {3, 150, 101, 8, 12, 1, 3, 0},
                                         {9, 150, 101, 8, 12, 1, 3, 0}};
    check_forms(series, 0);
}

TEST(batches_rows_and_columns_of_heads) {
    static const shape series[SERIES] = {{6, 40, 33, 8, 12, 1, 3, 0},
                                         {12, 101, 70, 8, 12, 1, 3, 0},
                                         {9, 5, 203, 8, 12, 1, 3, 0},
                                         {6, 150, 40, 8, 12, 1, 3, 0}};
    check_forms(series, 0);
}
