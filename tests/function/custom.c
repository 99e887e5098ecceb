// Custom ops: C functions of the user's inside graphs. Every test but those about c_source runs
// interpreted and compiled; values come from plain C loops over the test's own numbers.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

#include "harness.h"

#include "help.h"

#include <pthread.h>
#include <sys/stat.h>

// ---- help ----
enum { ROWS = 4, COLS = 12, N = ROWS * COLS };

// Element i of the test's matrix, a small whole number: sums of them are exact in f32.
static double given(int64_t i) { return (double)((i * 7 + 3) % 11 - 5); }

static tc_tensor matrix(tc_ctx *tc, int rows, int cols) {
    float p[1000];
    for (int i = 0; i < rows * cols; i++) p[i] = (float)given(i);
    return tc_from_data(tc, p, TC_DIMS(rows, cols), TC_F32);
}

// The elements of t as doubles; 0 = it has others than n.
static int elements(tc_tensor t, double *out, int n) {
    unsigned char raw[8000];
    tc_dtype dtype = tc_dtype_of(t);
    size_t size = tc_dtype_bytes(dtype);
    if (tc_read(t, raw, (size_t)n * size)) return 0;
    for (int i = 0; i < n; i++) {
        float f;
        double d = 0;
        int32_t w;
        int64_t l = 0;
        const unsigned char *at = raw + (size_t)i * size;
        memcpy(&f, at, sizeof f), memcpy(&w, at, sizeof w);
        if (size == 8) memcpy(&d, at, sizeof d), memcpy(&l, at, sizeof l);
        out[i] = dtype == TC_F32   ? (double)f
                 : dtype == TC_F64 ? d
                 : dtype == TC_I32 ? (double)w
                 : dtype == TC_I64 ? (double)l
                                   : (double)*at;
    }
    return 1;
}

static void expect(tc_tensor t, const double *want, int n, int line_number) {
    double got[1000];
    if (!elements(t, got, n)) {
        test_fail(__FILE__, line_number, "cannot be read");
        return;
    }
    for (int i = 0; i < n; i++)
        if (got[i] < want[i] || got[i] > want[i])
            test_fail(__FILE__, line_number, "element %d is %g, not %g", i, got[i],
                      want[i]);
}
#define EXPECT(t, want, n) expect((t), (want), (n), __LINE__)

static void sums_of(const double *x, int rows, int cols, double *out) {
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < cols; c++)
            out[r * cols + c] = x[r * cols + c] + (c ? out[r * cols + c - 1] : 0);
}

// ---- ops ----
typedef struct watch {
    int calls, shapes;
    tc_status status; // that the function returns
    double first;     // element of input 0 of the last call
    pthread_t thread;
    tc_spec spec; // of input 0, and
    tc_spec out;  //   of the result of the last call
} watch;

static int64_t count(const tc_spec *s) {
    int64_t n = 1;
    for (int i = 0; i < s->rank; i++) n *= s->dims[i];
    return n;
}

// Running sums along the last dimension, in order.
static tc_status cumsum(void *user, const tc_buffer *in, int n_in, const tc_buffer *out) {
    watch *w = (watch *)user;
    const float *x = (const float *)in[0].data;
    float *y = (float *)out->data;
    int64_t n = count(&in[0].spec), cols = in[0].spec.dims[in[0].spec.rank - 1];
    if (n_in != 1) return TC_E_INTERNAL;
    for (int64_t i = 0; i < n; i++) y[i] = x[i] + (i % cols ? y[i - 1] : 0);
    if (!w) return TC_OK;
    w->calls++, w->thread = pthread_self(), w->spec = in[0].spec, w->out = out->spec;
    w->first = n ? (double)x[0] : 0;
    return w->status;
}

static int add_op(tc_ctx *tc, const char *name, tc_custom_run run, tc_custom_shape shape,
                  int n_in, void *user) {
    tc_custom_op op;
    memset(&op, 0, sizeof op);
    op.name = name, op.run = run, op.shape = shape, op.n_in = n_in, op.user = user;
    int id = tc_register_op(tc, &op);
    CHECK(id > 0);
    return id;
}

static int add_cumsum(tc_ctx *tc, watch *w) {
    return add_op(tc, "cumsum", cumsum, NULL, 0, w);
}

// The place of the largest element of each row: f32[r, c] -> i64[r].
static tc_status places_shape(void *user, const tc_spec *in, int n_in, tc_spec *out) {
    watch *w = (watch *)user;
    if (w) w->shapes++;
    if (n_in != 1 || in[0].rank != 2 || in[0].dtype != TC_F32) return TC_E_SHAPE;
    out->dtype = TC_I64, out->rank = 1, out->dims[0] = in[0].dims[0];
    return TC_OK;
}

static tc_status places(void *user, const tc_buffer *in, int n_in, const tc_buffer *out) {
    const float *x = (const float *)in[0].data;
    int64_t *y = (int64_t *)out->data;
    int64_t rows = in[0].spec.dims[0], cols = in[0].spec.dims[1];
    (void)n_in;
    if (user) ((watch *)user)->calls++;
    for (int64_t r = 0; r < rows; r++) {
        y[r] = 0;
        for (int64_t c = 1; c < cols; c++)
            if (x[r * cols + c] > x[r * cols + y[r]]) y[r] = c;
    }
    return TC_OK;
}

// Elements in reverse order, of any dtype.
static tc_status reversed(void *user, const tc_buffer *in, int n_in, const tc_buffer *out) {
    int64_t n = count(&in[0].spec);
    size_t size = tc_dtype_bytes(in[0].spec.dtype);
    (void)user, (void)n_in;
    for (int64_t i = 0; i < n; i++)
        memcpy((char *)out->data + (size_t)i * size,
               (const char *)in[0].data + (size_t)(n - 1 - i) * size, size);
    return TC_OK;
}

// ---- among other ops ----
BOTH(neighbours_are_fused_on_both_sides) {
    watch w;
    double x[N], sums[N], want[N], rows[ROWS];
    memset(&w, 0, sizeof w);
    int op = add_cumsum(tc, &w);
    tc_tensor a = matrix(tc, ROWS, COLS), y = tc_null(), z = y;
    for (int k = 0; k < 3; k++) {
        BEGIN("between");
        tc_tensor t = tc_square(tc_add_s(tc_mul_s(a, 2), 1));
        t = tc_custom(tc, op, &t, 1);
        y = tc_mul_s(tc_relu(tc_sub_s(t, 40)), 3);
        z = tc_sum(y, -1);
        tc_keep(y);
        END();
    }
    CHECK_EQ(tc_region_kernels(tc, "between"), 3);
    CHECK_EQ(w.calls, 3);
    for (int i = 0; i < N; i++) x[i] = (given(i) * 2 + 1) * (given(i) * 2 + 1);
    sums_of(x, ROWS, COLS, sums);
    for (int i = 0; i < N; i++) want[i] = sums[i] > 40 ? (sums[i] - 40) * 3 : 0;
    EXPECT(y, want, N);
    for (int r = 0; r < ROWS; r++) {
        rows[r] = 0;
        for (int c = 0; c < COLS; c++) rows[r] += want[r * COLS + c];
    }
    EXPECT(z, rows, ROWS);
    CHECK_EQ(tc_stats_get(tc).programs, 1);
}

BOTH(it_is_given_whole_row_major_buffers) {
    watch w;
    memset(&w, 0, sizeof w);
    int op = add_cumsum(tc, &w);
    tc_tensor a = matrix(tc, ROWS, COLS);
    BEGIN("whole");
    tc_tensor t = tc_add_s(a, 100);
    tc_custom(tc, op, &t, 1);
    END();
    CHECK_EQ(w.spec.dtype, TC_F32);
    CHECK_EQ(w.spec.rank, 2);
    CHECK_EQ(w.spec.dims[0], ROWS);
    CHECK_EQ(w.spec.dims[1], COLS);
    CHECK_EQ(w.spec.dims[2], 0);
    CHECK_BYTES(&w.out, &w.spec, sizeof w.out);
    CHECK_EQ(w.first, given(0) + 100);
}

BOTH(eager_calls) {
    watch w;
    double x[N], want[N];
    memset(&w, 0, sizeof w);
    int op = add_cumsum(tc, &w);
    for (int i = 0; i < N; i++) x[i] = given(i);
    sums_of(x, ROWS, COLS, want);
    for (int k = 0; k < 3; k++) {
        tc_tensor a = matrix(tc, ROWS, COLS), y = tc_custom(tc, op, &a, 1);
        EXPECT(y, want, N);
    }
    CHECK_EQ(w.calls, 3);
}

// What a view shows, by hand: element (r, c) of the result is element at[r][c] of the matrix.
static void view_case(tc_ctx *tc, int op, tc_tensor view, const int *at, int rows, int cols,
                      int line_number) {
    double x[N], want[N];
    for (int i = 0; i < rows * cols; i++) x[i] = given(at[i]);
    sums_of(x, rows, cols, want);
    expect(tc_custom(tc, op, &view, 1), want, rows * cols, line_number);
}

// Views of x, made anew where they are used; n = 0..5.
static tc_tensor view_of(tc_tensor x, int n, int *at, int *rows, int *cols) {
    *rows = ROWS, *cols = COLS;
    if (n == 0) *rows = COLS, *cols = ROWS;
    if (n == 1) *cols = COLS / 2;
    if (n == 5) *rows = COLS, *cols = ROWS;
    for (int i = 0; i < *rows * *cols; i++) {
        int r = i / *cols, c = i % *cols;
        at[i] = n == 0   ? c * COLS + r
                : n == 1 ? r * COLS + 2 * c + 1
                : n == 2 ? (ROWS - 1 - r) * COLS + c
                : n == 3 ? 2 * COLS + c
                : n == 4 ? r * COLS
                         : i;
    }
    switch (n) {
    case 0: return tc_t(x);
    case 1: return tc_slice(x, 1, 1, TC_END, 2);
    case 2: return tc_slice(x, 0, -1, TC_END, -1);
    case 3: return tc_expand(tc_narrow(x, 0, 2, 1), TC_DIMS(ROWS, COLS));
    case 4: return tc_expand(tc_narrow(x, 1, 0, 1), TC_DIMS(ROWS, COLS));
    default: return tc_reshape(x, TC_DIMS(COLS, ROWS));
    }
}

BOTH(views_are_row_major) {
    int op = add_cumsum(tc, NULL), at[N], rows, cols;
    tc_tensor a = matrix(tc, ROWS, COLS);
    for (int n = 0; n < 6; n++) {
        tc_tensor v = view_of(a, n, at, &rows, &cols);
        view_case(tc, op, v, at, rows, cols, __LINE__);
    }
    for (int n = 0; n < 6; n++) {
        double x[N], want[N], doubled[N];
        tc_trace_begin_at(tc, "views", NULL, "custom.c", 10 + n);
        tc_tensor v = view_of(a, n, at, &rows, &cols);
        tc_tensor y = tc_custom(tc, op, &v, 1);
        tc_tensor both = tc_add(v, v); // reads the same view beside it
        tc_tensor w = view_of(tc_add_s(a, 0), n, at, &rows, &cols); // of a result
        tc_tensor z = tc_custom(tc, op, &w, 1);
        tc_keep(y), tc_keep(z), tc_keep(both);
        END();
        for (int i = 0; i < rows * cols; i++)
            x[i] = given(at[i]), doubled[i] = 2 * given(at[i]);
        sums_of(x, rows, cols, want);
        EXPECT(y, want, rows * cols);
        EXPECT(z, want, rows * cols);
        EXPECT(both, doubled, rows * cols);
    }
}

BOTH(views_of_its_result) {
    int op = add_cumsum(tc, NULL);
    double x[N], sums[N], want[N];
    tc_tensor a = matrix(tc, ROWS, COLS);
    for (int i = 0; i < N; i++) x[i] = given(i);
    sums_of(x, ROWS, COLS, sums);
    BEGIN("after");
    tc_tensor y = tc_custom(tc, op, &a, 1);
    tc_tensor t = tc_add_s(tc_t(y), 1);
    tc_tensor last = tc_narrow(y, 1, COLS - 1, 1);
    tc_tensor share = tc_sub(y, last);
    END();
    for (int i = 0; i < N; i++) want[i] = sums[i % ROWS * COLS + i / ROWS] + 1;
    EXPECT(t, want, N);
    for (int i = 0; i < N; i++) want[i] = sums[i] - sums[i / COLS * COLS + COLS - 1];
    EXPECT(share, want, N);
}

BOTH(all_dtypes) {
    int op = add_op(tc, "reversed", reversed, NULL, 1, NULL);
    static const tc_dtype dtypes[] = {TC_BOOL, TC_U8, TC_I32, TC_I64, TC_F32, TC_F64};
    tc_tensor a = matrix(tc, ROWS, COLS);
    for (int k = 0; k < 6; k++) {
        double want[N], back[N];
        tc_trace_begin_at(tc, "dtypes", NULL, "custom.c", 30 + k);
        tc_tensor x = tc_cast(tc_abs(a), dtypes[k]);
        tc_tensor y = tc_custom(tc, op, &x, 1);
        tc_tensor z = tc_mul_s(tc_cast(y, TC_F32), 2);
        tc_keep(y);
        END();
        CHECK_EQ(tc_dtype_of(y), dtypes[k]);
        for (int i = 0; i < N; i++) {
            double v = given(N - 1 - i);
            v = v < 0 ? -v : v;
            if (dtypes[k] == TC_BOOL) v = v > 0;
            want[i] = v, back[i] = 2 * v;
        }
        EXPECT(y, want, N);
        EXPECT(z, back, N);
        EXPECT(tc_custom(tc, op, &x, 1), want, N);
    }
}

BOTH(its_shape_decides_dtype_and_sizes) {
    int op = add_op(tc, "places", places, places_shape, 1, NULL);
    double want[ROWS], best[ROWS];
    tc_tensor a = matrix(tc, ROWS, COLS);
    for (int r = 0; r < ROWS; r++) {
        want[r] = 0;
        for (int c = 1; c < COLS; c++)
            if (given(r * COLS + c) > given(r * COLS + (int)want[r])) want[r] = c;
        best[r] = 10 * given(r * COLS + (int)want[r]);
    }
    BEGIN("places");
    tc_tensor b = tc_mul_s(a, 10);
    tc_tensor at = tc_custom(tc, op, &b, 1);
    CHECK_EQ(tc_rank(at), 1);
    CHECK_EQ(tc_dtype_of(at), TC_I64);
    tc_tensor top = tc_squeeze(tc_gather(b, 1, tc_unsqueeze(at, 1)), 1);
    END();
    EXPECT(at, want, ROWS);
    EXPECT(top, best, ROWS);
}

// out = a + 2 * b where c, else 0: three inputs of three dtypes.
static tc_status blend(void *user, const tc_buffer *in, int n_in, const tc_buffer *out) {
    const double *a = (const double *)in[0].data;
    const int32_t *b = (const int32_t *)in[1].data;
    const uint8_t *c = (const uint8_t *)in[2].data;
    int64_t n = count(&out->spec);
    (void)user, (void)n_in;
    for (int64_t i = 0; i < n; i++)
        ((double *)out->data)[i] = c[i] == 1 ? a[i] + 2 * b[i] : 0;
    return TC_OK;
}

BOTH(several_inputs) {
    int op = add_op(tc, "blend", blend, NULL, 3, NULL);
    double want[N];
    tc_tensor a = matrix(tc, ROWS, COLS), in[3];
    for (int k = 0; k < 2; k++) {
        if (k) BEGIN("blend");
        in[0] = tc_cast(a, TC_F64), in[1] = tc_cast(tc_add_s(a, 3), TC_I32);
        in[2] = tc_gt_s(a, 0);
        tc_tensor y = tc_custom(tc, op, in, 3);
        if (k) END();
        for (int i = 0; i < N; i++)
            want[i] = given(i) > 0 ? given(i) + 2 * (given(i) + 3) : 0;
        EXPECT(y, want, N);
    }
}

static tc_status sum_all(void *user, const tc_buffer *in, int n_in, const tc_buffer *out) {
    float *y = (float *)out->data;
    int64_t n = count(&out->spec);
    (void)user;
    for (int64_t i = 0; i < n; i++) y[i] = 0;
    for (int k = 0; k < n_in; k++)
        for (int64_t i = 0; i < n; i++) y[i] += ((const float *)in[k].data)[i];
    return TC_OK;
}

BOTH(sixty_four_inputs) {
    int op = add_op(tc, "sum_all", sum_all, NULL, 64, NULL);
    double want[N];
    tc_tensor a = matrix(tc, ROWS, COLS), in[64];
    BEGIN("many");
    for (int k = 0; k < 64; k++) in[k] = k % 2 ? a : tc_mul_s(a, k);
    tc_tensor y = tc_custom(tc, op, in, 64);
    END();
    for (int i = 0; i < N; i++) want[i] = given(i) * (32 + 31 * 32);
    EXPECT(y, want, N);
}

BOTH(one_after_the_other) {
    int op = add_cumsum(tc, NULL), back = add_op(tc, "reversed", reversed, NULL, 1, NULL);
    double x[N], one[N], two[N];
    tc_tensor a = matrix(tc, ROWS, COLS);
    BEGIN("chain");
    tc_tensor y = tc_custom(tc, op, &a, 1);
    y = tc_custom(tc, back, &y, 1);
    y = tc_reshape(y, TC_DIMS(COLS, ROWS));
    y = tc_custom(tc, op, &y, 1);
    END();
    CHECK_EQ(tc_region_kernels(tc, "chain"), 3); // the reshape is none
    for (int i = 0; i < N; i++) x[i] = given(i);
    sums_of(x, ROWS, COLS, one);
    for (int i = 0; i < N; i++) x[i] = one[N - 1 - i];
    sums_of(x, COLS, ROWS, two);
    EXPECT(y, two, N);
}

BOTH(inputs_that_are_constants) {
    int op = add_op(tc, "blend", blend, NULL, 3, NULL);
    double want[N];
    tc_tensor in[3];
    BEGIN("constants");
    in[0] = tc_full(tc, TC_DIMS(ROWS, COLS), 5, TC_F64);
    in[1] = tc_reshape(tc_arange(tc, 0, N, 1, TC_I32), TC_DIMS(ROWS, COLS));
    in[2] = tc_expand(tc_full(tc, TC_DIMS(1, 1), 1, TC_BOOL), TC_DIMS(ROWS, COLS));
    tc_tensor y = tc_add_s(tc_custom(tc, op, in, 3), 5);
    END();
    for (int i = 0; i < N; i++) want[i] = 5 + 2 * i + 5;
    EXPECT(y, want, N);
}

BOTH(a_scalar_input) {
    int op = add_op(tc, "reversed", reversed, NULL, 1, NULL);
    for (int k = 1; k < 5; k++) {
        double want = 3 * k + 1, other = k + 1;
        BEGIN("scalar");
        tc_tensor s = tc_scalar(tc, k, TC_F32), t = tc_custom(tc, op, &s, 1);
        tc_tensor y = tc_add_s(tc_mul_s(t, 3), 1), z = tc_add_s(s, 1);
        END();
        EXPECT(y, &want, 1);
        EXPECT(z, &other, 1);
    }
}

BOTH(the_library_gets_truth_values) {
    int op = add_op(tc, "reversed", reversed, NULL, 1, NULL);
    uint8_t raw[3] = {1, 0, 1};
    double want[3] = {1, 0, 1}, sum = 2;
    tc_tensor x = tc_wrap(tc, raw, TC_DIMS(3), TC_BOOL);
    raw[0] = 7; // what tc_wrap forbids, and a function may do
    tc_tensor y = tc_custom(tc, op, &x, 1);
    EXPECT(y, want, 3);
    EXPECT(tc_sum_all(tc_cast(y, TC_I32)), &sum, 1);
}

// ---- without elements ----
static tc_status as_one(void *user, const tc_spec *in, int n_in, tc_spec *out) {
    (void)user, (void)in, (void)n_in;
    out->rank = 1, out->dims[0] = 1;
    return TC_OK;
}

static tc_status number_of(void *user, const tc_buffer *in, int n_in,
                           const tc_buffer *out) {
    (void)n_in;
    ((watch *)user)->calls++;
    if (!count(&in[0].spec) != !in[0].data) return TC_E_INTERNAL;
    ((float *)out->data)[0] = (float)count(&in[0].spec);
    return TC_OK;
}

BOTH(no_elements) {
    watch w, v;
    memset(&w, 0, sizeof w), memset(&v, 0, sizeof v);
    int op = add_cumsum(tc, &w), size = add_op(tc, "size", number_of, as_one, 1, &v);
    tc_tensor none = tc_zeros(tc, TC_DIMS(0, 5), TC_F32);
    double zero = 0, five = 5;
    for (int k = 0; k < 2; k++) {
        if (k) BEGIN("empty");
        tc_tensor t = tc_add_s(none, 1);
        tc_tensor y = tc_custom(tc, op, &t, 1), n = tc_custom(tc, size, &t, 1);
        tc_tensor m = tc_add_s(n, 5);
        if (k) tc_keep(y), tc_keep(n), END();
        CHECK_EQ(tc_numel(y), 0);
        CHECK_EQ(tc_dim(y, 1), 5);
        EXPECT(y, &zero, 0);
        EXPECT(n, &zero, 1);
        EXPECT(m, &five, 1);
    }
    CHECK_EQ(w.calls, 0);
    CHECK(v.calls >= 2);
}

// ---- purity ----
BOTH(equal_calls_are_one) {
    watch w;
    memset(&w, 0, sizeof w);
    int op = add_cumsum(tc, &w);
    tc_tensor a = matrix(tc, ROWS, COLS);
    BEGIN("equal");
    tc_tensor x = tc_custom(tc, op, &a, 1), y = tc_custom(tc, op, &a, 1);
    tc_tensor z = tc_sub(x, y);
    END();
    CHECK_EQ(w.calls, 1);
    CHECK_EQ(tc_item(tc_amax_all(tc_abs(z))), 0);
}

BOTH(what_nobody_needs_is_not_called) {
    watch w;
    memset(&w, 0, sizeof w);
    int op = add_cumsum(tc, &w);
    tc_tensor a = matrix(tc, ROWS, COLS);
    BEGIN("unused");
    tc_tensor x = tc_custom(tc, op, &a, 1);
    tc_tensor y = tc_add_s(tc_narrow(x, 0, 0, 0), 1); // no element of x is in it
    tc_tensor z = tc_add_s(a, 1);
    tc_keep(z);
    END();
    CHECK_EQ(w.calls, 0);
    CHECK_EQ(tc_numel(y), 0);
}

BOTH(different_ops_differ) {
    watch w, v;
    double sums[N], x[N];
    memset(&w, 0, sizeof w), memset(&v, 0, sizeof v);
    int one = add_cumsum(tc, &w), two = add_op(tc, "cumsum2", cumsum, NULL, 1, &v);
    tc_tensor a = matrix(tc, ROWS, COLS);
    CHECK(one != two);
    for (int k = 0; k < 4; k++) {
        BEGIN("which");
        tc_tensor y = tc_custom(tc, k % 2 ? two : one, &a, 1);
        END();
        for (int i = 0; i < N; i++) x[i] = given(i);
        sums_of(x, ROWS, COLS, sums);
        EXPECT(y, sums, N);
        CHECK_EQ(w.calls, k / 2 + 1);
        CHECK_EQ(v.calls, (k + 1) / 2);
    }
    CHECK_EQ(tc_stats_get(tc).programs, 2);
}

BOTH(a_result_read_later_is_computed_then) {
    watch w;
    double x[N], sums[N];
    memset(&w, 0, sizeof w);
    int op = add_cumsum(tc, &w);
    tc_tensor a = matrix(tc, ROWS, COLS);
    for (int i = 0; i < N; i++) x[i] = given(i);
    sums_of(x, ROWS, COLS, sums);
    for (int k = 0; k < 3; k++) {
        BEGIN("later");
        tc_tensor y = tc_custom(tc, op, &a, 1);
        tc_tensor z = tc_add_s(y, 1);
        END();
        EXPECT(y, sums, N);
        (void)z;
    }
    CHECK_EQ(w.calls, 4); // again for the first read; stored from then on
}

BOTH(it_runs_on_the_thread_of_the_context) {
    enum { MANY = 200000 };
    watch w;
    memset(&w, 0, sizeof w);
    int op = add_cumsum(tc, &w);
    tc_tensor x = tc_ones(tc, TC_DIMS(MANY / 100, 100), TC_F32);
    BEGIN("thread");
    tc_tensor t = tc_add_s(x, 1), y = tc_custom(tc, op, &t, 1);
    y = tc_sum_all(tc_mul_s(y, 1));
    END();
    CHECK(pthread_equal(w.thread, pthread_self()));
    CHECK_EQ(w.calls, 1);
    CHECK_EQ(tc_item(y), MANY / 100 * (2.0 * 100 * 101 / 2));
}

// ---- in place, from visit to visit ----
BOTH(writes_in_place_around_it) {
    int op = add_cumsum(tc, NULL);
    double x[N], sums[N], want[N];
    tc_tensor a = matrix(tc, ROWS, COLS);
    BEGIN("in place");
    tc_add_s_(a, 1);
    tc_tensor y = tc_custom(tc, op, &a, 1);
    tc_mul_s_(a, 2);
    tc_tensor z = tc_custom(tc, op, &a, 1);
    tc_add_s_(y, 0.5);
    END();
    for (int i = 0; i < N; i++) x[i] = given(i) + 1;
    sums_of(x, ROWS, COLS, sums);
    for (int i = 0; i < N; i++) want[i] = sums[i] + 0.5;
    EXPECT(y, want, N);
    for (int i = 0; i < N; i++) want[i] = 2 * sums[i];
    EXPECT(z, want, N);
    for (int i = 0; i < N; i++) want[i] = 2 * x[i];
    EXPECT(a, want, N);
}

BOTH(it_sees_what_a_view_wrote) {
    int op = add_cumsum(tc, NULL);
    double x[N], sums[N];
    tc_tensor a = matrix(tc, ROWS, COLS);
    BEGIN("view");
    tc_fill_(tc_narrow(a, 1, 2, 3), 9);
    tc_tensor y = tc_custom(tc, op, &a, 1);
    END();
    for (int i = 0; i < N; i++) x[i] = i % COLS >= 2 && i % COLS < 5 ? 9 : given(i);
    sums_of(x, ROWS, COLS, sums);
    EXPECT(y, sums, N);
    EXPECT(a, x, N);
}

BOTH(results_go_into_the_next_visit) {
    int op = add_cumsum(tc, NULL);
    double x[N], sums[N];
    tc_tensor h = matrix(tc, ROWS, COLS);
    for (int i = 0; i < N; i++) x[i] = given(i);
    for (int k = 0; k < 4; k++) {
        BEGIN("step");
        h = tc_custom(tc, op, &h, 1);
        END();
        sums_of(x, ROWS, COLS, sums);
        memcpy(x, sums, sizeof x);
    }
    EXPECT(h, sums, N);
}

BOTH(breaks_before_and_behind_it) {
    watch w;
    memset(&w, 0, sizeof w);
    int op = add_cumsum(tc, &w);
    double x[N], sums[N], want[N];
    tc_tensor a = matrix(tc, ROWS, COLS);
    for (int i = 0; i < N; i++) x[i] = given(i);
    sums_of(x, ROWS, COLS, sums);
    for (int k = 0; k < 3; k++) {
        BEGIN("breaks");
        tc_tensor y = tc_custom(tc, op, &a, 1);
        double s = tc_item(tc_select(tc_select(y, 0, 1), 0, 3));
        tc_tensor z = tc_add_s(tc_custom(tc, op, &y, 1), 1);
        double t = tc_item(tc_select(tc_select(z, 0, 0), 0, 0));
        tc_tensor u = tc_mul_s(z, 2);
        END();
        CHECK_EQ(s, sums[COLS + 3]);
        CHECK_EQ(t, sums[0] + 1);
        sums_of(sums, ROWS, COLS, want);
        for (int i = 0; i < N; i++) want[i] = 2 * (want[i] + 1);
        EXPECT(u, want, N);
    }
    CHECK(w.calls <= 3 * 2 + 4); // the first visit does not know what crosses its breaks
}

// ---- functions ----
static int body_runs;
static void sums_body(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    body_runs++;
    tc_tensor t = tc_add_s(in[0], 1);
    out[0] = tc_mul_s(tc_custom(tc, *(int *)user, &t, 1), 2);
}

BOTH(a_body_with_it_is_skipped) {
    watch w;
    memset(&w, 0, sizeof w);
    int op = add_cumsum(tc, &w);
    double x[N], sums[N];
    tc_fn *f = tc_compile(tc, sums_body, &op, sizeof op, NULL);
    for (int i = 0; i < N; i++) x[i] = 2 * (given(i) + 1);
    sums_of(x, ROWS, COLS, sums);
    body_runs = 0;
    for (int k = 0; k < 6; k++) {
        tc_tensor a = matrix(tc, ROWS, COLS), y;
        CHECK_EQ(tc_call(f, &a, 1, &y, 1), TC_OK);
        EXPECT(y, sums, N);
    }
    CHECK_EQ(body_runs, 2);
    CHECK_EQ(w.calls, 6);
    CHECK(!tc_fn_demoted(f));
    CHECK_EQ(tc_stats_get(tc).skips, 4);
}

BOTH(another_op_is_another_program) {
    watch w;
    memset(&w, 0, sizeof w);
    int op = add_cumsum(tc, &w), back = add_op(tc, "reversed", reversed, NULL, 1, NULL);
    int use = op;
    double want[N];
    tc_fn *f = tc_compile(tc, sums_body, &use, sizeof use, NULL);
    tc_tensor a = matrix(tc, ROWS, COLS), y;
    for (int k = 0; k < 3; k++) CHECK_EQ(tc_call(f, &a, 1, &y, 1), TC_OK);
    use = back;
    for (int k = 0; k < 3; k++) {
        CHECK_EQ(tc_call(f, &a, 1, &y, 1), TC_OK);
        for (int i = 0; i < N; i++) want[i] = 2 * (given(N - 1 - i) + 1);
        EXPECT(y, want, N);
    }
    CHECK_EQ(w.calls, 3);
}

// A body that writes an input in place, with an op that fails at the third call.
static void risky_body(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    tc_add_s_(in[0], 1);
    out[0] = tc_custom(tc, *(int *)user, &in[0], 1);
}

BOTH(a_failing_call_leaves_its_inputs) {
    watch w;
    memset(&w, 0, sizeof w);
    int op = add_cumsum(tc, &w);
    double want[N];
    tc_fn *f = tc_compile(tc, risky_body, &op, sizeof op, NULL);
    tc_tensor a = matrix(tc, ROWS, COLS), y;
    for (int k = 0; k < 6; k++) {
        w.status = k == 3 ? TC_E_IO : TC_OK;
        CHECK_EQ(tc_call(f, &a, 1, &y, 1), k == 3 ? TC_E_IO : TC_OK);
        if (k == 3) ERROR(TC_E_IO, "cumsum");
        CHECK_EQ(y.id != 0, k != 3);
    }
    for (int i = 0; i < N; i++) want[i] = given(i) + 5;
    EXPECT(a, want, N);
}

BOTH(ops_stay_after_a_reset) {
    int op = add_cumsum(tc, NULL);
    double x[N], sums[N];
    tc_tensor a = matrix(tc, ROWS, COLS);
    for (int i = 0; i < N; i++) x[i] = given(i);
    sums_of(x, ROWS, COLS, sums);
    for (int k = 0; k < 2; k++) {
        BEGIN("reset");
        tc_tensor y = tc_custom(tc, op, &a, 1);
        END();
        EXPECT(y, sums, N);
        CHECK_EQ(tc_reset(tc), TC_OK);
        CHECK_EQ(tc_op_named(tc, "cumsum"), op);
    }
}

// ---- run-time sizes and values ----
static void sizes_case(tc_ctx *tc, int op, int rows, int cols, double s, int line_number) {
    double x[1000], sums[1000];
    tc_tensor a = matrix(tc, rows, cols);
    tc_trace_begin_at(tc, "sizes", NULL, "custom.c", 70);
    tc_tensor t = tc_mul_s(a, s), y = tc_custom(tc, op, &t, 1);
    y = tc_add_s(y, 1);
    END();
    for (int i = 0; i < rows * cols; i++) x[i] = given(i) * s;
    sums_of(x, rows, cols, sums);
    for (int i = 0; i < rows * cols; i++) sums[i] += 1;
    expect(y, sums, rows * cols, line_number);
}

BOTH(sizes_at_run_time_without_a_shape_function) {
    int op = add_cumsum(tc, NULL);
    for (int k = 0; k < 8; k++) sizes_case(tc, op, 2 + k, 5 + 2 * k, 2, __LINE__);
    CHECK_EQ(tc_stats_get(tc).programs, 2); // for the first sizes, and for all
    for (int k = 0; k < 4; k++) sizes_case(tc, op, 3, 20, 1 + k, __LINE__);
    CHECK(tc_stats_get(tc).programs <= 3);
}

// The same with a shape function that knows numbers only: each size is a program.
static tc_status same_shape(void *user, const tc_spec *in, int n_in, tc_spec *out) {
    (void)user, (void)n_in;
    for (int i = 0; i < in[0].rank; i++) out->dims[i] = in[0].dims[i] + 0;
    return TC_OK;
}

BOTH(a_program_for_each_size_with_one) {
    int op = add_op(tc, "cumsum", cumsum, same_shape, 1, NULL);
    for (int turn = 0; turn < 2; turn++)
        for (int k = 0; k < 5; k++) sizes_case(tc, op, 2 + k, 5, 2, __LINE__);
    CHECK_EQ(tc_stats_get(tc).programs, 5);
}

BOTH(values_change_beside_fixed_sizes) {
    int op = add_op(tc, "cumsum", cumsum, same_shape, 1, NULL);
    for (int k = 0; k < 8; k++) sizes_case(tc, op, 3, 7, 1 + k, __LINE__);
    CHECK_EQ(tc_stats_get(tc).programs, 2);
    for (int k = 0; k < 8; k++) sizes_case(tc, op, 3 + k % 2, 7, 1 + k, __LINE__);
    CHECK(tc_stats_get(tc).programs <= 4);
}

// A size that the op does not see may differ all the same.
BOTH(other_sizes_are_free) {
    int op = add_op(tc, "cumsum", cumsum, same_shape, 1, NULL);
    double x[N], sums[N], want[1000];
    tc_tensor a = matrix(tc, ROWS, COLS);
    for (int i = 0; i < N; i++) x[i] = given(i);
    sums_of(x, ROWS, COLS, sums);
    for (int k = 0; k < 6; k++) {
        int n = 3 + 2 * k;
        tc_tensor b = matrix(tc, n, 1);
        BEGIN("free");
        tc_tensor y = tc_narrow(tc_custom(tc, op, &a, 1), 0, 0, 1);
        tc_tensor z = tc_add(y, b);
        END();
        for (int i = 0; i < n * COLS; i++) want[i] = sums[i % COLS] + given(i / COLS);
        EXPECT(z, want, n * COLS);
    }
    CHECK_EQ(tc_stats_get(tc).programs, 2);
}

BOTH(dynamic_from_the_start) {
    tc_options o = tc_options_default();
    o.dynamic = TC_DYNAMIC_ON;
    for (int fixed = 0; fixed < 2; fixed++) {
        int op = add_op(tc, fixed ? "fixed" : "open", cumsum, fixed ? same_shape : NULL, 1,
                        NULL);
        for (int k = 0; k < 4; k++) {
            double x[N], sums[N];
            int rows = 2 + k % 3, before = (int)tc_stats_get(tc).programs;
            tc_tensor a = matrix(tc, rows, COLS);
            tc_trace_begin_at(tc, "dynamic", &o, "custom.c", 80 + fixed);
            tc_tensor t = tc_add_s(a, 1), y = tc_custom(tc, op, &t, 1);
            END();
            for (int i = 0; i < rows * COLS; i++) x[i] = given(i) + 1;
            sums_of(x, rows, COLS, sums);
            EXPECT(y, sums, rows * COLS);
            int made = (int)tc_stats_get(tc).programs - before;
            CHECK_EQ(made, fixed ? k < 3 : k == 0);
        }
    }
}

static void sized_body(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    out[0] = tc_custom(tc, *(int *)user, in, 1);
}

BOTH(a_function_with_sizes) {
    for (int fixed = 0; fixed < 2; fixed++) {
        int op = add_op(tc, fixed ? "fixed" : "open", cumsum, fixed ? same_shape : NULL, 1,
                        NULL);
        tc_fn *f = tc_compile(tc, sized_body, &op, sizeof op, NULL);
        for (int k = 0; k < 12; k++) {
            double x[N], sums[N];
            int rows = 1 + k % 3;
            tc_tensor a = matrix(tc, rows, COLS), y;
            CHECK_EQ(tc_call(f, &a, 1, &y, 1), TC_OK);
            for (int i = 0; i < rows * COLS; i++) x[i] = given(i);
            sums_of(x, rows, COLS, sums);
            EXPECT(y, sums, rows * COLS);
        }
        CHECK(!tc_fn_demoted(f));
    }
}

// ---- errors ----
BOTH(a_failing_op_fails_its_region) {
    watch w;
    memset(&w, 0, sizeof w);
    int op = add_cumsum(tc, &w);
    double x[N];
    tc_tensor a = matrix(tc, ROWS, COLS);
    static const tc_status given_status[] = {TC_E_IO, 7, -1000};
    static const tc_status item[] = {TC_E_IO, TC_E_ARG, TC_E_ARG};
    static const char *const text[] = {"TC_E_IO", "7, which is no status", "-1000"};
    for (int i = 0; i < N; i++) x[i] = given(i);
    for (int k = 0; k < 3; k++) {
        w.status = given_status[k];
        BEGIN("failing");
        tc_tensor y = tc_custom(tc, op, &a, 1);
        tc_mul_s_(a, 3);
        CHECK_EQ(tc_trace_end(tc), item[k]);
        CHECK(strstr(tc_error_text(tc), "\"cumsum\""));
        ERROR(item[k], text[k]);
        EXPECT(a, x, N); // not written
        CHECK_EQ(tc_read(y, x, 1), TC_E_STATE);
        tc_error_clear(tc);
        CHECK(!tc_custom(tc, op, &a, 1).id);
        ERROR(item[k], text[k]);
    }
    w.status = TC_OK;
    BEGIN("failing");
    tc_custom(tc, op, &a, 1);
    tc_mul_s_(a, 3);
    END();
    for (int i = 0; i < N; i++) x[i] = 3 * given(i);
    EXPECT(a, x, N);
}

BOTH(a_failing_op_fails_a_break) {
    watch w;
    memset(&w, 0, sizeof w);
    int op = add_cumsum(tc, &w);
    tc_tensor a = matrix(tc, ROWS, COLS);
    w.status = TC_E_BACKEND;
    BEGIN("broken");
    tc_tensor y = tc_sum_all(tc_custom(tc, op, &a, 1));
    tc_item(y);
    ERROR(TC_E_BACKEND, "cumsum");
    w.status = TC_OK;
    CHECK(tc_item(y) < 1e6);
    END();
}

// A function that uses its context all the same.
typedef struct stray {
    tc_ctx *tc;
    tc_tensor t;
    int in_shape;
} stray;

static void goes_astray(stray *w) {
    if (tc_add_s(w->t, 1).id || tc_item(w->t) > 0 || tc_item(w->t) < 0)
        FAIL("an op inside a custom op");
    tc_trace_begin(w->tc, "stray");
}

static tc_status stray_shape(void *user, const tc_spec *in, int n_in, tc_spec *out) {
    stray *w = (stray *)user;
    (void)in, (void)n_in, (void)out;
    if (w->in_shape) goes_astray(w);
    return TC_OK;
}

static tc_status stray_run(void *user, const tc_buffer *in, int n_in,
                           const tc_buffer *out) {
    stray *w = (stray *)user;
    if (!w->in_shape) goes_astray(w);
    return reversed(NULL, in, n_in, out);
}

BOTH(a_function_must_not_use_the_context) {
    static const char *const names[] = {"in_run", "in_shape"};
    double want[N];
    for (int i = 0; i < N; i++) want[i] = 2 * given(N - 1 - i);
    for (int k = 0; k < 2; k++) {
        stray w;
        tc_tensor a = matrix(tc, ROWS, COLS), y = a;
        w.tc = tc, w.t = tc_ones(tc, TC_DIMS(1), TC_F32), w.in_shape = k;
        int op = add_op(tc, names[k], stray_run, stray_shape, 1, &w);
        for (int visit = 0; visit < 3; visit++) {
            tc_trace_begin_at(tc, "astray", NULL, "custom.c", 90 + k);
            tc_tensor t = tc_mul_s(a, 2);
            t = tc_custom(tc, op, &t, 1);
            double first = tc_item(tc_select(tc_select(t, 0, 0), 0, 0));
            y = tc_add_s(tc_sub_s(t, 1), 1);
            tc_status s = tc_trace_end(tc);
            CHECK_EQ(first, want[0]);
            EXPECT(y, want, N);
            if (visit && k) continue; // the second visit asks no shape
            CHECK_EQ(s, TC_E_STATE);
            ERROR(TC_E_STATE, "must not use the context");
        }
    }
    tc_error_clear(tc); // debug builds ask shapes more often
}

static tc_status nonsense;    // what odd_shape returns
static tc_spec nonsense_spec; //   and gives
static tc_status odd_shape(void *user, const tc_spec *in, int n_in, tc_spec *out) {
    (void)user, (void)n_in;
    if (out->dtype != in[0].dtype || out->rank != in[0].rank) return TC_E_INTERNAL;
    *out = nonsense_spec;
    return nonsense;
}

BOTH(nonsense_from_a_shape_function) {
    int op = add_op(tc, "odd", reversed, odd_shape, 1, NULL);
    tc_tensor a = matrix(tc, ROWS, COLS);
    static const struct {
        tc_status status, item;
        int dtype, rank;
        int64_t size;
        const char *text;
    } cases[] = {
        {TC_E_DIM, TC_E_DIM, TC_F32, 1, 3, "returned TC_E_DIM"},
        {12, TC_E_ARG, TC_F32, 1, 3, "returned 12"},
        {TC_OK, TC_E_DTYPE, 77, 1, 3, "77 is no dtype"},
        {TC_OK, TC_E_DTYPE, -1, 1, 3, "-1 is no dtype"},
        {TC_OK, TC_E_RANK, TC_F32, 9, 3, "rank 9"},
        {TC_OK, TC_E_RANK, TC_F32, -1, 3, "rank -1"},
        {TC_OK, TC_E_SHAPE, TC_F32, 1, -4, "-4"},
        {TC_OK, TC_E_TOO_BIG, TC_F32, 2, INT64_MAX / 2, "memory"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        memset(&nonsense_spec, 0, sizeof nonsense_spec);
        nonsense = cases[i].status;
        nonsense_spec.dtype = (tc_dtype)cases[i].dtype, nonsense_spec.rank = cases[i].rank;
        for (int d = 0; d < TC_MAX_RANK; d++) nonsense_spec.dims[d] = cases[i].size;
        for (int region = 0; region < 2; region++) {
            if (region) BEGIN("nonsense");
            CHECK(!tc_custom(tc, op, &a, 1).id);
            CHECK(strstr(tc_error_text(tc), "\"odd\""));
            ERROR(cases[i].item, cases[i].text);
            tc_tensor y = tc_add_s(a, 1);
            if (region) END();
            CHECK(y.id != 0);
        }
    }
}

BOTH(wrong_calls) {
    int op = add_cumsum(tc, NULL);
    tc_tensor a = matrix(tc, ROWS, COLS), two[2], dead = tc_add_s(a, 1);
    tc_ctx *other = open_backend("aot_eager");
    int theirs = add_cumsum(other, NULL);
    tc_tensor foreign = tc_zeros(other, TC_DIMS(2), TC_F32);
    tc_free(dead);
    two[0] = a, two[1] = tc_null();
    for (int region = 0; region < 2; region++) {
        if (region) BEGIN("wrong");
        CHECK(!tc_custom(tc, 0, &a, 1).id);
        ERROR(TC_E_ARG, "0 is no op of this context");
        CHECK(!tc_custom(tc, op + 1, &a, 1).id);
        ERROR(TC_E_ARG, "is no op of this context");
        CHECK(!tc_custom(tc, -5, &a, 1).id);
        ERROR(TC_E_ARG, "-5 is no op");
        CHECK(!tc_custom(tc, theirs, &a, 1).id);
        ERROR(TC_E_ARG, "is no op of this context");
        CHECK(!tc_custom(tc, op, two, 2).id);
        ERROR(TC_E_ARG, "\"cumsum\": 2 inputs are given, it has 1");
        CHECK(!tc_custom(tc, op, NULL, 1).id);
        ERROR(TC_E_NULL, "null array");
        CHECK(!tc_custom(tc, op, two + 1, 1).id);
        ERROR(TC_E_NULL, "input 0 is a null tensor");
        CHECK(!tc_custom(tc, op, &dead, 1).id);
        ERROR(TC_E_DEAD, "custom");
        CHECK(!tc_custom(tc, op, &foreign, 1).id);
        ERROR(TC_E_FOREIGN, "custom");
        int line = __LINE__ + 1;
        CHECK(!tc_custom(tc, op, two, 0).id);
        CHECK_EQ(tc_error_line(tc), line);
        ERROR(TC_E_ARG, "0 inputs");
        if (region) END();
    }
    CHECK(!tc_custom(NULL, op, &a, 1).id);
    tc_close(other);
}

BOTH(wrong_registrations) {
    tc_custom_op op, good;
    char long_name[80];
    memset(&good, 0, sizeof good);
    good.name = "good", good.run = cumsum;
    CHECK(!tc_register_op(NULL, &good));
    ERROR(TC_E_NULL, "tc_register_op: ");
    CHECK(!tc_register_op(tc, NULL));
    ERROR(TC_E_NULL, "the op is null");
    op = good, op.name = NULL;
    CHECK(!tc_register_op(tc, &op));
    ERROR(TC_E_NULL, "the name is null");
    static const char *const names[] = {"", "9lives", "two words", "a-b", "a\xc3\xa9"};
    for (int i = 0; i < 5; i++) {
        op.name = names[i];
        CHECK(!tc_register_op(tc, &op));
        ERROR(TC_E_ARG, "is no C identifier");
    }
    memset(long_name, 'a', sizeof long_name);
    long_name[64] = 0, op.name = long_name;
    CHECK(!tc_register_op(tc, &op));
    ERROR(TC_E_ARG, "63 characters");
    long_name[63] = 0;
    CHECK(tc_register_op(tc, &op) > 0);
    op = good, op.n_in = 65;
    CHECK(!tc_register_op(tc, &op));
    ERROR(TC_E_ARG, "65 inputs");
    op.n_in = -1;
    CHECK(!tc_register_op(tc, &op));
    ERROR(TC_E_ARG, "-1 inputs");
    op = good, op.run = NULL;
    CHECK(!tc_register_op(tc, &op));
    ERROR(TC_E_NULL, "neither run nor c_source");
    op.c_source = "int goodness(void); int x = good;";
    CHECK(!tc_register_op(tc, &op));
    ERROR(TC_E_ARG, "no function of that name");
    op.c_source = "#  include <math.h>\ntc_status good(void *u) { return 0; }";
    CHECK(!tc_register_op(tc, &op));
    ERROR(TC_E_ARG, "#include");
    BEGIN("open");
    CHECK(!tc_register_op(tc, &good));
    ERROR(TC_E_STATE, "region is open");
    END();
    int id = tc_register_op(tc, &good);
    CHECK(id > 0);
    CHECK(!tc_register_op(tc, &good));
    ERROR(TC_E_ARG, "registered already");
    CHECK_EQ(tc_op_named(tc, "good"), id);
    CHECK_EQ(tc_op_named(tc, "goo"), 0);
    CHECK_EQ(tc_op_named(tc, NULL), 0);
    CHECK_EQ(tc_op_named(NULL, "good"), 0);
}

BOTH(the_descriptor_is_copied) {
    char name[] = "copied";
    tc_custom_op op;
    double want[N];
    memset(&op, 0, sizeof op);
    op.name = name, op.run = reversed;
    int id = tc_register_op(tc, &op);
    memset(name, 'x', sizeof name - 1), memset(&op, 0, sizeof op);
    CHECK_EQ(tc_op_named(tc, "copied"), id);
    tc_tensor a = matrix(tc, ROWS, COLS), y = tc_custom(tc, id, &a, 1);
    for (int i = 0; i < N; i++) want[i] = given(N - 1 - i);
    EXPECT(y, want, N);
}

// ---- contexts that share ----
BOTH(a_shared_context_has_the_ops) {
    watch w;
    memset(&w, 0, sizeof w);
    int op = add_cumsum(tc, &w), use = op;
    double x[N], sums[N];
    tc_fn *f = tc_compile(tc, sums_body, &use, sizeof use, NULL);
    tc_ctx *other = tc_open_shared(tc);
    REQUIRE(other);
    CHECK_EQ(tc_op_named(other, "cumsum"), op);
    int late = add_op(tc, "late", cumsum, NULL, 1, NULL);
    int own = add_op(other, "own", reversed, NULL, 1, NULL);
    CHECK(late != own);
    tc_tensor a = matrix(other, ROWS, COLS), y;
    CHECK(!tc_custom(other, late, &a, 1).id); // registered after it was opened
    CHECK_EQ(tc_error(other), TC_E_ARG);
    tc_error_clear(other);
    for (int i = 0; i < N; i++) x[i] = 2 * (given(i) + 1);
    sums_of(x, ROWS, COLS, sums);
    for (int k = 0; k < 3; k++) {
        CHECK_EQ(tc_call(f, &a, 1, &y, 1), TC_OK); // runs the body in the other context
        EXPECT(y, sums, N);
        tc_tensor z = tc_custom(other, own, &a, 1);
        for (int i = 0; i < N; i++) x[i] = given(N - 1 - i);
        EXPECT(z, x, N);
    }
    CHECK(!tc_error(other));
    tc_close(other);
}

// ---- programs ahead of time, frozen contexts, laziness, profiles ----
BOTH(ahead_of_time_and_frozen) {
    watch w;
    memset(&w, 0, sizeof w);
    int op = add_cumsum(tc, &w);
    double x[N], sums[N];
    tc_spec spec;
    memset(&spec, 0, sizeof spec);
    spec.dtype = TC_F32, spec.rank = 2, spec.dims[0] = ROWS, spec.dims[1] = COLS;
    tc_fn *f = tc_compile(tc, sums_body, &op, sizeof op, NULL);
    CHECK_EQ(tc_precompile(f, &spec, 1, 1), TC_OK);
    CHECK_EQ(w.calls, 0);
    for (int i = 0; i < N; i++) x[i] = 2 * (given(i) + 1);
    sums_of(x, ROWS, COLS, sums);
    tc_tensor a = matrix(tc, ROWS, COLS), y;
    body_runs = 0;
    for (int k = 0; k < 6; k++) {
        CHECK_EQ(tc_call(f, &a, 1, &y, 1), TC_OK);
        if (k == 2) CHECK_EQ(tc_freeze(tc), TC_OK);
        if (k < 5) tc_free(y);
    }
    CHECK_EQ(tc_thaw(tc), TC_OK);
    EXPECT(y, sums, N);
    CHECK_EQ(body_runs, 0);
    CHECK_EQ(w.calls, 6);
}

BOTH(recorded_lazily_and_profiled) {
    int op = add_cumsum(tc, NULL);
    double x[N], sums[N];
    tc_tensor a = matrix(tc, ROWS, COLS);
    for (int i = 0; i < N; i++) x[i] = given(i) + 1;
    sums_of(x, ROWS, COLS, sums);
    CHECK_EQ(tc_profile_begin(tc), TC_OK);
    CHECK_EQ(tc_lazy(tc, 1), TC_OK);
    for (int k = 0; k < 2; k++) {
        tc_tensor t = tc_add_s(a, 1), y = tc_custom(tc, op, &t, 1);
        CHECK_EQ(tc_eval(tc, &y, 1), TC_OK);
        EXPECT(y, sums, N);
        tc_free(y);
    }
    CHECK_EQ(tc_lazy(tc, 0), TC_OK);
    CHECK_EQ(tc_profile_end(tc), TC_OK);
    CHECK(strstr(tc_profile_text(tc), "custom_cumsum"));
}

// ---- seeing ----
BOTH(explain_tells_of_it) {
    int op = add_cumsum(tc, NULL);
    tc_tensor a = matrix(tc, ROWS, COLS);
    BEGIN("seen");
    tc_tensor t = tc_add_s(a, 1), y = tc_custom(tc, op, &t, 1);
    y = tc_mul_s(y, 2);
    END();
    const char *text = tc_explain(tc);
    CHECK(strstr(text, "op=cumsum"));
    CHECK(strstr(text, "custom op, rows 1 x columns 48"));
    CHECK(strstr(text, "k1_custom_cumsum"));
    CHECK(strstr(text, "runs the host's function"));
    CHECK(strstr(text, "_custom_cumsum"));
    const char *source = tc_region_source(tc, "seen");
    CHECK(!source || !strstr(source, "cumsum"));
}

TEST(graphs_are_dumped_and_read_back) {
    static const char text[] = "%0 = input x0                     f32[4,12]\n"
                               "%1 = square %0                    f32[4,12]\n"
                               "%2 = custom %1 op=cumsum          f32[4,12]\n"
                               "%3 = reshape %2                   f32[48]\n"
                               "%4 = custom %2 op=places          i64[4]\n"
                               "return %3 %4\n";
    tc_ctx *tc = open_backend("aot_eager");
    tc__ixpool ix;
    tc__graph g;
    tc__ids out;
    tc__text t;
    memset(&out, 0, sizeof out);
    add_cumsum(tc, NULL), add_op(tc, "places", places, places_shape, 1, NULL);
    tc__ix_open(&ix, tc), tc__graph_open(&g, tc, &ix), tc__text_init(&t, tc);
    CHECK(tc__read_graph(tc, &g, text, &out));
    CHECK(tc__verify(tc, &g, TC__TENSOR));
    tc__dump_graph(&t, &g, out.at, out.count);
    CHECK_STR(t.at, text);
    tc__text_clear(&t);
    tc__dump_dot(&t, &g, NULL, 0);
    CHECK(strstr(t.at, "n2 [label=\"%2 custom op=cumsum\\nf32[4,12]\"]"));
    tc__graph_close(&g), tc__graph_open(&g, tc, &ix);
    CHECK(!tc__read_graph(tc, &g, "%0 = input x0 f32[4]\n%1 = custom %0 op=none f32[4]\n",
                          NULL));
    ERROR(TC_E_FORMAT, "no op of this name");
    tc__graph_close(&g), tc__graph_open(&g, tc, &ix);
    CHECK(tc__read_graph(tc, &g, "%0 = input x0 f32[4]\n%1 = custom %0 op=cumsum f32[5]\n",
                         NULL));
    CHECK(!tc__verify(tc, &g, TC__TENSOR));
    ERROR(TC_E_INTERNAL, "sizes are not those of its rule");
    tc__graph_close(&g), tc__graph_open(&g, tc, &ix);
    CHECK(tc__read_graph(tc, &g,
                         "size s0 in 1..9\n%0 = input x0 f32[4,s0]\n"
                         "%1 = custom %0 op=places i64[4]\n",
                         NULL));
    CHECK(!tc__verify(tc, &g, TC__TENSOR)); // its shape function knows numbers only
    ERROR(TC_E_UNSUPPORTED, "places");
    tc__graph_close(&g), tc__text_free(&t), tc__ix_close(&ix);
    TC__VEC_FREE(tc, out);
    tc_close(tc);
}

TEST(without_fusion_and_without_passes) {
    for (int k = 0; k < 2; k++) {
        tc_config config = tc_config_default();
        config.backend = "aot_eager";
        config.no_fusion = k == 0, config.passes_off = k ? "all" : NULL;
        tc_ctx *tc = tc_open(&config);
        int op = add_cumsum(tc, NULL);
        double x[N], sums[N];
        tc_tensor a = matrix(tc, ROWS, COLS);
        BEGIN("plain");
        tc_tensor t = tc_add_s(tc_t(a), 1), y = tc_custom(tc, op, &t, 1);
        y = tc_mul_s(y, 2);
        END();
        for (int i = 0; i < N; i++) x[i] = 2 * (given(i % ROWS * COLS + i / ROWS) + 1);
        sums_of(x, COLS, ROWS, sums);
        EXPECT(y, sums, N);
        CHECK(!tc_error(tc));
        tc_close(tc);
    }
}

// ---- what such a function must not do ----

static tc_ctx *own;
static tc_fn *own_fn;
static tc_tensor own_x;
static int deed, deeds_refused;

static void plus_one(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_add_s(in[0], 1);
}

static tc_status no_backend(void *user, void *state, const tc_graph_run *run) {
    (void)user, (void)state, (void)run;
    return TC_OK;
}

enum { DEEDS = 19 };

// Calls of the context that would pull the ground from under what runs.
static tc_status misdeed(void) {
    tc_tensor y;
    tc_spec s;
    tc_backend b;
    memset(&s, 0, sizeof s);
    memset(&b, 0, sizeof b);
    s.dtype = TC_F32, s.rank = 1, s.dims[0] = 8;
    b.name = "late", b.run = no_backend;
    switch (deed) {
    case 0: return tc_reset(own);
    case 1: return tc_call(own_fn, &own_x, 1, &y, 1);
    case 2: return tc_trace_begin(own, "inside");
    case 3: return tc_trace_end(own);
    case 4: return tc_disable_begin(own);
    case 5: return tc_disable_end(own);
    case 6: return tc_freeze(own);
    case 7: return tc_thaw(own);
    case 8: return tc_register_backend(own, &b);
    case 9: return tc_precompile(own_fn, &s, 1, 1);
    case 10: return tc_lazy(own, 1);
    case 11: return tc_eval(own, &own_x, 1);
    case 12: return tc_scope_end(own);
    case 13: tc_set_stance(own, TC_STANCE_FORCE_EAGER); break;
    case 14: tc_fn_free(own_fn); break;
    case 15: tc_free(own_x); break;
    case 16: tc_close(own); break;
    case 17: tc_zeros(own, TC_DIMS(3), TC_F32); break;
    case 18: tc_scope_begin(own); break;
    }
    return tc_error(own);
}

static tc_status misbehaves(void *user, const tc_buffer *in, int n_in,
                            const tc_buffer *out) {
    (void)user, (void)n_in;
    memcpy(out->data, in->data, sizeof(float) * 8);
    if (deed < 0) return TC_OK;
    deeds_refused += misdeed() == TC_E_STATE && tc_error(own) == TC_E_STATE;
    tc_error_clear(own);
    return TC_OK;
}

static int own_op;

static void calls_op(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)user;
    out[0] = tc_add_s(tc_custom(tc, own_op, in, 1), 1);
}

BOTH(it_must_not_use_the_context) {
    tc_custom_op op;
    memset(&op, 0, sizeof op);
    op.name = "misbehaves", op.run = misbehaves;
    own = tc, own_op = tc_register_op(tc, &op);
    own_x = line(tc, 8, 0, 1);
    own_fn = tc_compile(tc, plus_one, NULL, 0, NULL);
    tc_fn *f = tc_compile(tc, calls_op, NULL, 0, NULL);
    tc_tensor y;
    deed = -1;
    for (int k = 0; k < 3; k++) {
        CALL(own_fn, &own_x, 1, &y, 1);
        CALL(f, &own_x, 1, &y, 1);
    }
    for (deed = 0; deed < DEEDS; deed++) {
        deeds_refused = 0;
        y = tc_custom(tc, own_op, &own_x,
                      1); // alone, in a region, in a call that skips the body
        CHECK_EQ(AT(y, 3), 3);
        BEGIN("around");
        y = tc_add_s(tc_custom(tc, own_op, &own_x, 1), 1);
        END();
        CHECK_EQ(AT(y, 3), 4);
        CALL(f, &own_x, 1, &y, 1);
        CHECK_EQ(AT(y, 3), 4);
        CHECK(deeds_refused == 3 || FAIL("deed %d: refused %d times", deed, deeds_refused));
    }
}

// Its shape function neither, in a region least of all.
static tc_status shape_misbehaves(void *user, const tc_spec *in, int n_in, tc_spec *out) {
    (void)user, (void)in, (void)n_in, (void)out;
    if (deed == 1) deeds_refused += !tc_add_s(own_x, 1).id && tc_error(own) == TC_E_STATE;
    tc_error_clear(own);
    return TC_OK;
}

BOTH(its_shape_function_must_not_either) {
    tc_custom_op op;
    memset(&op, 0, sizeof op);
    op.name = "shaped", op.run = misbehaves, op.shape = shape_misbehaves;
    own = tc, own_op = tc_register_op(tc, &op), own_x = line(tc, 8, 0, 1);
    deeds_refused = 0;
    for (int k = 0; k < 3; k++) {
        BEGIN("around"); // the first path goes on with what the function calls
        deed = -1;
        tc_tensor y = k ? tc_custom(tc, own_op, &own_x, (deed = k == 1, 1)) : own_x;
        deed = -1;
        y = tc_mul_s(tc_add_s(y, 1), 2);
        END();
        CHECK_EQ(AT(y, 3), 8);
    }
    CHECK(deeds_refused > 0);
}
