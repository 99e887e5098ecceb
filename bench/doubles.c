// What does double precision cost? The same code in f64 and in f32, of as many bytes: vectors of half as many
// elements, so a step of arithmetic takes as long, and memory as well. Ratio: time in f32 / time in f64. Functions take
// longer by what their polynomials have more.
//
// Beside that, against plain C of doubles, written by hand in this file, -O3 with the CPU's vectors (ratio: our time
// / theirs), and products against OpenBLAS' dgemm (ratio: its time / ours), where OPENBLAS or one of the usual names is
// its library. One thread on all sides.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

#include "bench.h"

#include <dlfcn.h>
#include <math.h>

enum { ROUNDS = 21, ROWS = 32, COLS = 1024, LABELS = 512 };

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__)
#    define O3                                                                             \
        __attribute__((noinline, optimize("O3"), target_clones("arch=haswell", "default")))
#else
#    define O3 __attribute__((noinline))
#endif

// One dtype's tensors; of f32 they have twice the rows.
typedef struct job {
    tc_ctx *tc;
    tc_dtype dtype;
    const char *name;
    tc_tensor x, a, b;    // [ROWS, COLS], [ROWS, COLS], [ROWS, COLS]
    tc_tensor row, scale; // [COLS], [COLS]
    tc_tensor i, k;       // [ROWS, COLS]: whole numbers of as many bits
    tc_tensor at, where;  // [ROWS], [ROWS, COLS]: indices
    tc_tensor left[3], right[3], halves;
    double *to;
} job;

typedef tc_tensor (*body)(const job *j);

// ---- what is measured ----

static tc_tensor muladd(const job *j) { return tc_add(j->a, tc_mul(j->x, j->b)); }
static tc_tensor poly(const job *j) {
    tc_tensor y = j->x;
    for (int i = 0; i < 12; i++) y = tc_add(tc_mul(y, j->a), j->b);
    return y;
}
static tc_tensor exp_of(const job *j) { return tc_exp(j->x); }
static tc_tensor log_of(const job *j) { return tc_log(tc_abs(j->x)); }
static tc_tensor sin_of(const job *j) { return tc_sin(j->x); }
static tc_tensor tanh_of(const job *j) { return tc_tanh(j->x); }
static tc_tensor sqrt_div(const job *j) {
    return tc_div(tc_sqrt(tc_abs(j->x)), tc_add_s(tc_abs(j->a), 1));
}
static tc_tensor softmax(const job *j) { return tc_softmax(j->x, -1); }
static tc_tensor layer_norm(const job *j) {
    return tc_layer_norm(j->x, j->scale, j->row, 1e-5);
}
static tc_tensor row_sums(const job *j) { return tc_sum(j->x, -1); }
static tc_tensor column_sums(const job *j) { return tc_sum(j->x, 0); }
static tc_tensor row_most(const job *j) { return tc_amax_dims(j->x, TC_DIMS(1), 0); }
static tc_tensor row_best(const job *j) { return tc_argmax(j->x, -1); }
static tc_tensor shifted(tc_tensor x, int dy, int dx) {
    tc_tensor rows = tc_slice(x, 0, 1 + dy, tc_dim(x, 0) - 1 + dy, 1);
    return tc_slice(rows, 1, 1 + dx, tc_dim(x, 1) - 1 + dx, 1);
}
static tc_tensor stencil(const job *j) {
    tc_tensor sum = shifted(j->x, 0, 0);
    for (int at = 0; at < 9; at++)
        if (at != 4) sum = tc_add(sum, shifted(j->x, at / 3 - 1, at % 3 - 1));
    return tc_mul_s(sum, 1.0 / 9);
}
static tc_tensor stencil_padded(const job *j) {
    job p = *j;
    p.x = tc_pad(j->x, TC_DIMS(1, 1), TC_DIMS(1, 1), 0);
    return stencil(&p);
}
static tc_tensor cumsum(const job *j) { return tc_cumsum(j->x, -1); }
static tc_tensor where_less(const job *j) {
    return tc_where(tc_lt(j->x, j->a), tc_mul(j->x, j->b), j->a);
}
static tc_tensor less(const job *j) { return tc_lt(j->x, j->a); }
static tc_tensor clamped(const job *j) {
    return tc_minimum(tc_maximum(j->x, tc_neg(j->a)), j->b);
}
static tc_tensor integers(const job *j) {
    return tc_add(tc_mul_s(j->i, 3), tc_sub(j->k, j->i));
}
static tc_tensor integers_times(const job *j) { return tc_mul(j->i, j->k); }
static tc_tensor integers_where(const job *j) {
    return tc_where(tc_gt(j->i, j->k), j->i, tc_add_s(j->k, 1));
}
static tc_tensor integer_sums(const job *j) { return tc_sum(j->i, -1); }
static tc_tensor rows_at(const job *j) { return tc_embedding(j->x, j->at); }
static tc_tensor elements_at(const job *j) { return tc_gather(j->x, 1, j->where); }
static tc_tensor turned(const job *j) { return tc_add_s(tc_t(j->x), 1); }
static tc_tensor back(const job *j) { return tc_mul_s(tc_flip(j->x, TC_DIMS(1)), 2); }
static tc_tensor to_other(const job *j) {
    return tc_cast(j->x, j->dtype == TC_F64 ? TC_F32 : TC_F64);
}
static tc_tensor of_other(const job *j) {
    return tc_mul(tc_cast(j->halves, j->dtype), j->x);
}
static tc_tensor of_integers(const job *j) { return tc_mul(tc_cast(j->i, j->dtype), j->x); }
static tc_tensor product_0(const job *j) { return tc_matmul(j->left[0], j->right[0]); }
static tc_tensor product_1(const job *j) { return tc_matmul(j->left[1], j->right[1]); }
static tc_tensor product_2(const job *j) { return tc_matmul(j->left[2], j->right[2]); }

// ---- by hand ----

static const double *data(tc_tensor t) { return (const double *)tc_data(t); }

#define EACH(name, expr)                                                                   \
    O3 static void name(const job *j) {                                                    \
        const double *x = data(j->x), *a = data(j->a), *b = data(j->b);                    \
        double *restrict to = j->to;                                                       \
        for (int i = 0; i < ROWS * COLS; i++) to[i] = expr;                                \
        (void)x, (void)a, (void)b;                                                         \
    }
#define EACH_I64(name, expr)                                                               \
    O3 static void name(const job *j) {                                                    \
        const int64_t *x = (const int64_t *)tc_data(j->i);                                 \
        const int64_t *a = (const int64_t *)tc_data(j->k);                                 \
        int64_t *restrict to = (int64_t *)j->to;                                           \
        for (int i = 0; i < ROWS * COLS; i++) to[i] = expr;                                \
    }
EACH(muladd_c, a[i] + x[i] * b[i])
EACH(exp_c, exp(x[i]))
EACH(log_c, log(fabs(x[i])))
EACH(sin_c, sin(x[i]))
EACH(tanh_c, tanh(x[i]))
EACH(sqrt_div_c, sqrt(fabs(x[i])) / (fabs(a[i]) + 1))
EACH(where_c, x[i] < a[i] ? x[i] * b[i] : a[i])
EACH_I64(integers_c, 3 * x[i] + (a[i] - x[i]))
EACH_I64(integers_times_c, x[i] * a[i])
EACH_I64(integers_where_c, x[i] > a[i] ? x[i] : a[i] + 1)

O3 static void poly_c(const job *j) {
    const double *x = data(j->x), *a = data(j->a), *b = data(j->b);
    double *restrict to = j->to;
    for (int i = 0; i < ROWS * COLS; i++) {
        double y = x[i];
        for (int k = 0; k < 12; k++) y = y * a[i] + b[i];
        to[i] = y;
    }
}

O3 static void clamped_c(const job *j) {
    const double *x = data(j->x), *a = data(j->a), *b = data(j->b);
    double *restrict to = j->to;
    for (int i = 0; i < ROWS * COLS; i++) {
        double y = x[i] > -a[i] ? x[i] : -a[i];
        to[i] = y < b[i] ? y : b[i];
    }
}

O3 static void less_c(const job *j) {
    const double *x = data(j->x), *a = data(j->a);
    uint8_t *restrict to = (uint8_t *)j->to;
    for (int i = 0; i < ROWS * COLS; i++) to[i] = x[i] < a[i];
}

O3 static void column_sums_c(const job *j) {
    const double *x = data(j->x);
    double *restrict to = j->to;
    for (int c = 0; c < COLS; c++) to[c] = 0;
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < COLS; c++) to[c] += x[r * COLS + c];
}

O3 static void row_sums_c(const job *j) {
    const double *x = data(j->x);
    for (int r = 0; r < ROWS; r++) {
        double s = 0;
        for (int c = 0; c < COLS; c++) s += x[r * COLS + c];
        j->to[r] = s;
    }
}

O3 static void softmax_c(const job *j) {
    const double *x = data(j->x);
    for (int r = 0; r < ROWS; r++, x += COLS) {
        double most = x[0], sum = 0, *restrict to = j->to + r * COLS;
        for (int c = 1; c < COLS; c++) most = x[c] > most ? x[c] : most;
        for (int c = 0; c < COLS; c++) to[c] = exp(x[c] - most);
        for (int c = 0; c < COLS; c++) sum += to[c];
        for (int c = 0; c < COLS; c++) to[c] /= sum;
    }
}

O3 static void layer_norm_c(const job *j) {
    const double *x = data(j->x), *scale = data(j->scale), *shift = data(j->row);
    for (int r = 0; r < ROWS; r++, x += COLS) {
        double sum = 0, squares = 0, *restrict to = j->to + r * COLS;
        for (int c = 0; c < COLS; c++) sum += x[c];
        double mean = sum / COLS;
        for (int c = 0; c < COLS; c++) squares += (x[c] - mean) * (x[c] - mean);
        double by = 1 / sqrt(squares / COLS + 1e-5);
        for (int c = 0; c < COLS; c++) to[c] = (x[c] - mean) * by * scale[c] + shift[c];
    }
}

O3 static void stencil_c(const job *j) {
    const double *x = data(j->x);
    double *restrict to = j->to;
    for (int r = 1; r < ROWS - 1; r++)
        for (int c = 1; c < COLS - 1; c++) {
            const double *p = x + r * COLS + c;
            to[(r - 1) * (COLS - 2) + c - 1] =
                (p[0] + p[-COLS - 1] + p[-COLS] + p[-COLS + 1] + p[-1] + p[1] +
                 p[COLS - 1] + p[COLS] + p[COLS + 1]) *
                (1.0 / 9);
        }
}

O3 static void cumsum_c(const job *j) {
    const double *x = data(j->x);
    for (int r = 0; r < ROWS; r++) {
        double s = 0;
        for (int c = 0; c < COLS; c++) j->to[r * COLS + c] = s += x[r * COLS + c];
    }
}

O3 static void rows_at_c(const job *j) {
    const int64_t *at = (const int64_t *)tc_data(j->at);
    for (int r = 0; r < ROWS; r++)
        memcpy(j->to + r * COLS, data(j->x) + at[r] * COLS, COLS * sizeof(double));
}

O3 static void elements_at_c(const job *j) {
    const double *x = data(j->x);
    const int64_t *at = (const int64_t *)tc_data(j->where);
    double *restrict to = j->to;
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < COLS; c++) to[r * COLS + c] = x[r * COLS + at[r * COLS + c]];
}

O3 static void to_other_c(const job *j) {
    const double *x = data(j->x);
    float *restrict to = (float *)j->to;
    for (int i = 0; i < ROWS * COLS; i++) to[i] = (float)x[i];
}

O3 static void of_other_c(const job *j) {
    const double *a = data(j->x);
    const float *x = (const float *)tc_data(j->halves);
    double *restrict to = j->to;
    for (int i = 0; i < ROWS * COLS; i++) to[i] = (double)x[i] * a[i];
}

O3 static void of_integers_c(const job *j) {
    const double *a = data(j->x);
    const int64_t *x = (const int64_t *)tc_data(j->i);
    double *restrict to = j->to;
    for (int i = 0; i < ROWS * COLS; i++) to[i] = (double)x[i] * a[i];
}

// ---- products ----

static const int sizes[3] = {256, 512, 1024};

typedef void (*dgemm)(int order, int turned_a, int turned_b, int m, int n, int k,
                      double alpha, const double *a, int lda, const double *b, int ldb,
                      double beta, double *c, int ldc);
static dgemm peer;

static void open_peer(void) {
    const char *const names[] = {getenv("OPENBLAS"), "libscipy_openblas.so",
                                 "libopenblas.so.0", "libopenblas.so"};
    void *so = NULL, *found;
    void (*set_threads)(int);
    for (size_t i = 0; i < sizeof names / sizeof *names && !so; i++)
        if (names[i]) so = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!so) return;
    found = dlsym(so, "scipy_cblas_dgemm");
    if (!found) found = dlsym(so, "cblas_dgemm");
    if (found) memcpy(&peer, &found, sizeof peer);
    found = dlsym(so, "scipy_openblas_set_num_threads");
    if (!found) found = dlsym(so, "openblas_set_num_threads");
    if (!found) return;
    memcpy(&set_threads, &found, sizeof set_threads);
    set_threads(1);
}

static void product_peer(const job *j, int i) {
    enum { ROW_MAJOR = 101, NOT_TURNED = 111 };
    int n = sizes[i];
    if (peer)
        peer(ROW_MAJOR, NOT_TURNED, NOT_TURNED, n, n, n, 1, data(j->left[i]), n,
             data(j->right[i]), n, 0, j->to, n);
}
static void product_0_peer(const job *j) { product_peer(j, 0); }
static void product_1_peer(const job *j) { product_peer(j, 1); }
static void product_2_peer(const job *j) { product_peer(j, 2); }

// ---- the table ----

static const struct row {
    const char *name;
    body ours;
    void (*other)(const job *j);
    double share,
        bar; // of f32, at least; of plain C, at most, or of dgemm, at least; 0 = none
} rows[] = {
    {"a + x * b", muladd, muladd_c, 0.9, 1.1},
    {"12 steps of y * a + b", poly, poly_c, 0.9, 1.1},
    {"sqrt(x) / (a + 1)", sqrt_div, sqrt_div_c, 0, 1.1},
    {"min(max(x, -a), b)", clamped, clamped_c, 0.9, 1.1},
    {"where(x < a, x * b, a)", where_less, where_c, 0.9, 1.1},
    {"x < a", less, less_c, 0, 1.1},
    {"exp", exp_of, exp_c, 0, 1.1},
    {"log", log_of, log_c, 0, 1.1},
    {"sin", sin_of, sin_c, 0, 1.1},
    {"tanh", tanh_of, tanh_c, 0, 1.1},
    {"softmax", softmax, softmax_c, 0, 1.1},
    {"layer norm", layer_norm, layer_norm_c, 0.9, 1.1},
    {"sums of rows", row_sums, row_sums_c, 0.9, 1.1},
    {"sums of columns", column_sums, column_sums_c, 0.9, 1.1},
    {"largest of rows", row_most, NULL, 0.9, 0},
    {"place of it", row_best, NULL, 0.9, 0},
    {"3x3 stencil", stencil, stencil_c, 0.9, 1.1},
    {"3x3 stencil, padded", stencil_padded, NULL, 0.9, 0},
    {"cumsum", cumsum, cumsum_c, 0, 1.1},
    {"transpose + 1", turned, NULL, 0, 0},
    {"from behind * 2", back, NULL, 0.9, 0},
    {"rows by index", rows_at, rows_at_c, 0.9, 1.1},
    {"elements by index", elements_at, elements_at_c, 0, 1.1},
    {"f64 to f32", to_other, to_other_c, 0, 1.1},
    {"f32 to f64, times f64", of_other, of_other_c, 0, 1.1},
    {"i64 to f64, times f64", of_integers, of_integers_c, 0, 1.1},
    {"3 * i + (k - i)", integers, integers_c, 0.9, 1.1},
    {"i * k", integers_times, integers_times_c, 0, 1.1},
    {"where(i > k, i, k + 1)", integers_where, integers_where_c, 0.9, 1.1},
    {"sums of rows of integers", integer_sums, NULL, 0.9, 0},
    {"product of 256", product_0, product_0_peer, 0, 0.8},
    {"product of 512", product_1, product_1_peer, 0, 0.8},
    {"product of 1024", product_2, product_2_peer, 0, 0.8},
};

typedef struct run {
    const struct row *row;
    const job *j;
} run;

static void run_ours(void *user) {
    run *r = (run *)user;
    tc_trace_begin_at(r->j->tc, "doubles", NULL, r->row->name, r->j->dtype);
    r->row->ours(r->j);
    tc_trace_end(r->j->tc);
}

static void run_other(void *user) {
    run *r = (run *)user;
    r->row->other(r->j);
}

static tc_tensor randn(const job *j, tc_dims dims, uint64_t seed) {
    return tc_clone(tc_cast(bench_randn(j->tc, dims, seed), j->dtype));
}

static tc_tensor whole(const job *j, tc_dims dims, uint64_t seed, double from,
                       tc_dtype to) {
    tc_tensor x = tc_abs(bench_randn(j->tc, dims, seed));
    return tc_clone(tc_cast(tc_minimum_s(tc_mul_s(x, from / 4), from - 1), to));
}

static void fill(job *j, tc_ctx *tc, tc_dtype dtype) {
    int n = dtype == TC_F64 ? ROWS : 2 * ROWS;
    memset(j, 0, sizeof *j);
    j->tc = tc, j->dtype = dtype, j->to = (double *)bench_floats(2 * 1024 * 1024);
    j->x = randn(j, TC_DIMS(n, COLS), 1);
    j->a = randn(j, TC_DIMS(n, COLS), 2), j->b = randn(j, TC_DIMS(n, COLS), 3);
    j->row = randn(j, TC_DIMS(COLS), 4), j->scale = randn(j, TC_DIMS(COLS), 5);
    tc_dtype integer = dtype == TC_F64 ? TC_I64 : TC_I32;
    j->i = whole(j, TC_DIMS(n, COLS), 6, 1000, integer);
    j->k = whole(j, TC_DIMS(n, COLS), 7, 1000, integer);
    j->at = whole(j, TC_DIMS(n), 8, n, TC_I64);
    j->where = whole(j, TC_DIMS(n, COLS), 9, COLS, TC_I64);
    j->halves = tc_clone(tc_cast(j->a, dtype == TC_F64 ? TC_F32 : TC_F64));
    for (int i = 0; i < 3; i++) {
        j->left[i] = randn(j, TC_DIMS(sizes[i], sizes[i]), 10);
        j->right[i] = randn(j, TC_DIMS(sizes[i], sizes[i]), 11);
    }
    bench_check(tc);
}

int main(int argc, char **argv) {
    tc_ctx *tc = bench_open(1);
    job f64, f32;
    char name[80];
    int missed = 0;
    fill(&f64, tc, TC_F64), fill(&f32, tc, TC_F32);
    open_peer();
    bench_head("f64", "other", "ratio");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct row *row = &rows[i];
        int product = strstr(row->name, "product") != NULL, sides = 2;
        run ours = {row, &f64}, single = {row, &f32};
        bench_side side[3] = {
            {run_ours, &ours, 0}, {run_ours, &single, 0}, {run_other, &ours, 0}};
        if (argc > 1 && !strstr(row->name, argv[1])) continue;
        sides += row->other && (!product || peer);
        bench_interleave(side, sides, ROUNDS);
        bench_check(tc);
        snprintf(name, sizeof name, "%s: f32", row->name);
        missed += bench_row(name, side[0].ns, side[1].ns, side[1].ns / side[0].ns,
                            row->share > 0 ? BENCH_AT_LEAST : BENCH_NO_BAR, row->share);
        if (sides < 3) continue;
        snprintf(name, sizeof name, product ? "%s: dgemm" : "%s: plain C", row->name);
        double ratio = product ? side[2].ns / side[0].ns : side[0].ns / side[2].ns;
        missed += bench_row(name, side[0].ns, side[2].ns, ratio,
                            row->bar > 0 ? product ? BENCH_AT_LEAST : BENCH_AT_MOST
                                         : BENCH_NO_BAR,
                            row->bar);
    }
    tc_close(tc);
    return bench_status(missed);
}
