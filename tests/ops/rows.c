// Scans, sorting and scatters against definitions written out here: every dtype, several layouts and
// every dimension, run eagerly, as a region interpreted, as a region compiled.
#include "tcompile.h"

#include "harness.h"

#include "help.h"

// tests/cuda/rows.c has the same on a device: it defines ROWS_DEVICE, and what is below.
#ifndef ROWS_DEVICE
static tc_tensor there(tc_tensor t) { return t; } // operands go where the ops run
static tc_ctx *open_there(const char *backend) { return open_backend(backend); }
enum { FIRST_RUN = 0 };
#endif

// The dimension goes on with the turn. Compiled is the first, and all of them where all is wanted.
static int turns(int run) { return run < 2 || test_all() ? 3 : 1; }

enum { ROWS = 4, MIDDLE = 5, COLS = 6, N = ROWS * MIDDLE * COLS, LAYOUTS = 4, RUNS = 3 };

#define DIMS TC_DIMS(ROWS, MIDDLE, COLS)

static const int sizes[3] = {ROWS, MIDDLE, COLS};
static const char *const backends[RUNS] = {"eager run", "aot_eager", "cpu"};

static uint64_t state = 1;
static uint32_t any(void) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33);
}

static int is_float(int dtype) { return dtype >= TC_F8E4M3; }
static int is_byte_float(int dtype) { return dtype == TC_F8E4M3 || dtype == TC_F8E5M2; }
static int is_added(int dtype) { return dtype != TC_BOOL && !is_byte_float(dtype); }

// A value that the dtype holds exactly; floats have special ones.
static double some(int dtype) {
    double x = (double)(any() % 17) - 8;
    if (dtype == TC_BOOL) return x > 0;
    if (dtype == TC_U8) return x < 0 ? -x : x;
    if (!is_float(dtype)) return x;
    if (any() % 9 == 0) return NAN;
    if (any() % 9 == 0 && dtype != TC_F8E4M3) return any() % 2 ? INFINITY : -INFINITY;
    return any() % 9 ? x / 4 : -0.0;
}

// A tensor of these elements, row-major, that lies in memory in one of several ways.
static tc_tensor laid_out(tc_ctx *tc, const double *x, int dtype, int layout) {
    static double at[2 * N];
    tc_dims d = DIMS;
    for (int i = 0; i < N; i++) {
        int r = i / (MIDDLE * COLS), m = i / COLS % MIDDLE, c = i % COLS;
        if (layout == 0) at[i] = x[i];
        if (layout == 1) at[(c * MIDDLE + m) * ROWS + r] = x[i];
        if (layout == 2) at[2 * i] = x[i], at[2 * i + 1] = 7;
        if (layout == 3) at[((ROWS - 1 - r) * MIDDLE + m) * COLS + c] = x[i];
    }
    if (layout == 1) d = TC_DIMS(COLS, MIDDLE, ROWS);
    if (layout == 2) d = TC_DIMS(ROWS, MIDDLE, 2 * COLS);
    tc_tensor t = there(tc_cast(tc_from_data(tc, at, d, TC_F64), (tc_dtype)dtype));
    if (layout == 1) return tc_permute(t, TC_DIMS(2, 1, 0));
    if (layout == 2) return tc_slice(t, 2, 0, TC_END, 2);
    return layout == 3 ? tc_flip(t, TC_DIMS(0)) : t;
}

static tc_tensor indices(tc_ctx *tc, const int64_t *x, tc_dims d, int dtype) {
    return there(tc_cast(tc_from_data(tc, x, d, TC_I64), (tc_dtype)dtype));
}

// Elements as doubles, of which zeros and NaN are told apart.
static void read_all(tc_tensor t, double *x, int64_t n) {
    CHECK_EQ(tc_numel(t), n);
    if (tc_numel(t) != n) return;
    CHECK_EQ(tc_read(tc_to_f64(tc_to(t, "cpu")), x, (size_t)n * sizeof *x), TC_OK);
}

static int same(double a, double b) {
    return (a != a && b != b) || (a == b && signbit(a) == signbit(b));
}

static void expect(tc_tensor t, const double *want, int64_t n, const char *what, int dtype,
                   int line_number) {
    static double got[1000];
    read_all(t, got, n);
    for (int64_t i = 0; i < n; i++)
        if (!same(got[i], want[i])) {
            test_fail(__FILE__, line_number, "%s of %s: element %d is %g, not %g", what,
                      tc_dtype_name((tc_dtype)dtype), (int)i, got[i], want[i]);
            return;
        }
}

static tc_ctx *open_run(int run) { return open_there(run ? backends[run] : "cpu"); }
static void begin_run(tc_ctx *tc, int run) {
    if (run) tc_trace_begin_at(tc, backends[run], NULL, "rows.c", 1);
}
static void end_run(tc_ctx *tc, int run) {
    if (run) CHECK_EQ(tc_trace_end(tc), TC_OK);
    if (tc_error(tc)) FAIL("%s: %s", backends[run], tc_error_text(tc));
}

// Distance of neighbours along a dimension.
static int step_of(int dim) { return dim == 0 ? MIDDLE * COLS : dim == 1 ? COLS : 1; }

// The first element of line l along a dimension.
static int line_start(int dim, int l) {
    int step = step_of(dim);
    return l / step * step * sizes[dim] + l % step;
}

// ---- every dtype, layout and dimension ----

enum { CASES = TC_DTYPE_COUNT * LAYOUTS };

typedef struct given {
    double x[N];
    tc_tensor t;
    int dtype, layout, dim;
} given;

// One tensor of each dtype in each layout; the dimension changes with them.
static void give(tc_ctx *tc, given *g, int turn) {
    for (int k = 0; k < CASES; k++) {
        g[k].dtype = k / LAYOUTS, g[k].layout = k % LAYOUTS;
        g[k].dim = (g[k].dtype + g[k].layout + turn) % 3;
        for (int i = 0; i < N; i++) g[k].x[i] = some(g[k].dtype);
        g[k].t = laid_out(tc, g[k].x, g[k].dtype, g[k].layout);
    }
}

static given cases[CASES];

static void scan(const given *g, int product, double *want) {
    for (int l = 0; l < N / sizes[g->dim]; l++) {
        double s = product;
        for (int i = 0; i < sizes[g->dim]; i++) {
            int at = line_start(g->dim, l) + i * step_of(g->dim);
            s = product ? s * g->x[at] : s + g->x[at];
            want[at] = s != 0 || is_float(g->dtype) ? s : 0; // integers have no -0
        }
    }
}

// Sums and products of 6 quarters are exact in f32; halves get values that stay exact.
static void scans(int product) {
    static double want[N];
    for (int run = FIRST_RUN; run < RUNS; run++)
        for (int turn = 0; turn < turns(run); turn++) {
            tc_ctx *tc = open_run(run);
            tc_tensor y[CASES];
            give(tc, cases, turn);
            begin_run(tc, run);
            for (int k = 0; k < CASES; k++) {
                given *g = &cases[k];
                int dim = turn == 1 ? g->dim - 3 : g->dim; // from the end
                if (is_byte_float(g->dtype)) continue;     // not computed with
                y[k] = product ? tc_cumprod(g->t, dim) : tc_cumsum(g->t, dim);
            }
            end_run(tc, run);
            for (int k = 0; k < CASES; k++) {
                int dtype = cases[k].dtype;
                if (is_byte_float(dtype)) continue;
                if (product && dtype == TC_BF16) continue; // of 8 bits
                if (product && dtype == TC_F16) continue;
                scan(&cases[k], product, want);
                expect(y[k], want, N, product ? "cumprod" : "cumsum", dtype, __LINE__);
                CHECK_EQ(tc_dtype_of(y[k]), is_float(dtype) ? dtype : TC_I64);
            }
            tc_close(tc);
        }
}

TEST(cumsum) { scans(0); }
TEST(cumprod) { scans(1); }

// 2048 + 1 is no f16, 256 + 1 no bf16: what is summed in f32 is rounded once.
TEST(halves_are_summed_in_f32) {
    static const double x[] = {2048, 1, 1, 1}, y[] = {256, 1, 1, 1};
    static const double want_x[] = {2048, 2048, 2050, 2052},
                        want_y[] = {256, 256, 258, 260};
    for (int run = FIRST_RUN; run < RUNS; run++) {
        tc_ctx *tc = open_run(run);
        tc_tensor a = there(tc_cast(tc_from_data(tc, x, TC_DIMS(4), TC_F64), TC_F16));
        tc_tensor b = there(tc_cast(tc_from_data(tc, y, TC_DIMS(4), TC_F64), TC_BF16));
        int64_t zeros[4] = {0, 0, 0, 0};
        tc_tensor at = indices(tc, zeros, TC_DIMS(4), TC_I32);
        begin_run(tc, run);
        tc_tensor s = tc_cumsum(a, 0), t = tc_cumsum(b, 0);
        tc_tensor u = tc_scatter_add(tc_zeros(tc, TC_DIMS(2), TC_F16), 0, at, a);
        tc_tensor v = tc_index_add(tc_ones(tc, TC_DIMS(1), TC_BF16), 0, at, b);
        tc_tensor p = tc_cumprod(a, 0);
        end_run(tc, run);
        expect(s, want_x, 4, "cumsum", TC_F16, __LINE__);
        expect(t, want_y, 4, "cumsum", TC_BF16, __LINE__);
        static const double want_u[] = {2052, 0}, want_v[] = {260},
                            want_p[] = {2048, 2048, 2048, 2048};
        expect(u, want_u, 2, "scatter_add", TC_F16, __LINE__); // 2051 is in the middle
        expect(v, want_v, 1, "index_add", TC_BF16, __LINE__);
        expect(p, want_p, 4, "cumprod", TC_F16, __LINE__);
        CHECK_EQ(tc_dtype_of(u), TC_F16);
        CHECK_EQ(tc_dtype_of(v), TC_BF16);
        tc_close(tc);
    }
}

// ---- order ----

static int less(double a, double b) {
    if (a != a) return 0;
    return b != b ? 1 : a < b;
}

// How many of the n elements come before element i.
static int place(const double *x, int n, int step, int i, int descending) {
    int before = 0;
    for (int j = 0; j < n; j++) {
        double a = x[j * step], b = x[i * step];
        int first = descending ? less(b, a) : less(a, b);
        int last = descending ? less(a, b) : less(b, a);
        before += first || (!last && j < i);
    }
    return before;
}

static void order(const given *g, int descending, double *at, double *values) {
    for (int l = 0; l < N / sizes[g->dim]; l++) {
        int start = line_start(g->dim, l), step = step_of(g->dim), n = sizes[g->dim];
        for (int i = 0; i < n; i++) {
            int to = start + step * place(g->x + start, n, step, i, descending);
            at[to] = i, values[to] = g->x[start + i * step];
        }
    }
}

TEST(sort_and_argsort) {
    static double at[N], values[N];
    for (int run = FIRST_RUN; run < RUNS; run++)
        for (int turn = 0; turn < turns(run); turn++) {
            tc_ctx *tc = open_run(run);
            tc_tensor y[CASES], v[CASES], i[CASES];
            give(tc, cases, turn);
            begin_run(tc, run);
            for (int k = 0; k < CASES; k++) {
                given *g = &cases[k];
                y[k] = tc_argsort(g->t, g->dim, (k + turn) % 2);
                CHECK_EQ(tc_sort(g->t, g->dim - 3, (k + turn) % 2, &v[k], &i[k]), TC_OK);
            }
            end_run(tc, run);
            for (int k = 0; k < CASES; k++) {
                order(&cases[k], (k + turn) % 2, at, values);
                expect(y[k], at, N, "argsort", cases[k].dtype, __LINE__);
                expect(v[k], values, N, "sort", cases[k].dtype, __LINE__);
                expect(i[k], at, N, "sort, indices", cases[k].dtype, __LINE__);
                CHECK_EQ(tc_dtype_of(y[k]), TC_I64);
                CHECK_EQ(tc_dtype_of(v[k]), cases[k].dtype);
            }
            tc_close(tc);
        }
}

TEST(topk) {
    static double at[N], values[N], want_at[N], want_values[N];
    for (int run = FIRST_RUN; run < RUNS; run++)
        for (int turn = 0; turn < turns(run); turn++) {
            tc_ctx *tc = open_run(run);
            tc_tensor v[CASES], i[CASES];
            int count[CASES];
            give(tc, cases, turn);
            begin_run(tc, run);
            for (int k = 0; k < CASES; k++) {
                given *g = &cases[k];
                count[k] = k % (sizes[g->dim] + 1); // 0 and all among them
                CHECK_EQ(tc_topk(g->t, count[k], g->dim, k % 3 != 0, &v[k], &i[k]), TC_OK);
            }
            end_run(tc, run);
            for (int k = 0; k < CASES; k++) {
                int n = 0, dim = cases[k].dim, step = step_of(dim);
                order(&cases[k], k % 3 != 0, at, values);
                for (int e = 0; e < N; e++)
                    if (e / step % sizes[dim] < count[k])
                        want_at[n] = at[e], want_values[n++] = values[e];
                CHECK_EQ(tc_dim(i[k], dim), count[k]);
                expect(v[k], want_values, n, "topk", cases[k].dtype, __LINE__);
                expect(i[k], want_at, n, "topk, indices", cases[k].dtype, __LINE__);
            }
            tc_close(tc);
        }
}

// Long rows take other ways: by digits, and the first few by a heap.
enum { LONG = 1000 };

static double long_value(int dtype, int i) {
    static const double odd[] = {0.0, -0.0, 1e-40, -1e-40, 3e38, -3e38, 65536, -65537};
    double x = (double)any() - 1e9;
    if (i % 7 == 0) return dtype >= TC_F32 ? (float)odd[any() % 8] : (double)(any() % 3);
    if (dtype == TC_F32) return any() % 50 ? (float)(x / 1e5) : NAN;
    if (dtype == TC_F64) return any() % 50 ? x * 1e90 : -INFINITY;
    if (dtype == TC_I64) return x * 4194304;
    return dtype == TC_I32 ? x : any() % 100;
}

TEST(long_rows) {
    static const int counts[] = {0, 1, 5, 62, 63, 500, LONG};
    static double x[LONG], at[LONG], values[LONG];
    for (int dtype = TC_U8; dtype < TC_DTYPE_COUNT; dtype++) {
        if (is_byte_float(dtype)) continue; // they have few numbers
        tc_ctx *tc = open_backend("aot_eager");
        for (int i = 0; i < LONG; i++) x[i] = long_value(dtype, i);
        tc_tensor t = tc_cast(tc_from_data(tc, x, TC_DIMS(LONG), TC_F64), (tc_dtype)dtype);
        for (int down = 0; down < 2; down++) {
            for (int i = 0; i < LONG; i++) {
                int to = place(x, LONG, 1, i, down);
                at[to] = i, values[to] = x[i];
            }
            expect(tc_argsort(t, 0, down), at, LONG, "argsort", dtype, __LINE__);
            for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
                tc_tensor v, i;
                CHECK_EQ(tc_topk(t, counts[k], -1, down, &v, &i), TC_OK);
                expect(i, at, counts[k], "topk", dtype, __LINE__);
                expect(v, values, counts[k], "topk", dtype, __LINE__);
            }
        }
        CHECK_EQ(tc_error(tc), TC_OK);
        tc_close(tc);
    }
}

// Extremes that a double does not tell apart.
TEST(argsort_of_large_integers) {
    static const int64_t x[] = {INT64_MAX, INT64_MIN, INT64_MAX - 1, -1, 0, INT64_MIN + 1};
    static const int64_t want[] = {1, 5, 3, 4, 2, 0};
    int64_t got[6];
    tc_ctx *tc = tc_open(NULL);
    tc_tensor t = tc_from_data(tc, x, TC_DIMS(6), TC_I64);
    CHECK_EQ(tc_read(tc_argsort(t, 0, 0), got, sizeof got), TC_OK);
    CHECK_BYTES(got, want, sizeof want);
    CHECK_EQ(tc_read(tc_argsort(t, 0, 1), got, sizeof got), TC_OK);
    for (int i = 0; i < 6; i++) CHECK_EQ(got[i], want[5 - i]);
    tc_close(tc);
}

// All lengths at which runs are merged in another way, and those around the radix sort's least.
TEST(argsort_of_every_length) {
    static double x[600], at[600];
    tc_ctx *tc = tc_open(NULL);
    for (int n = 1; n < 540; n += n < 70 ? 1 : 13) {
        int64_t got[600];
        for (int i = 0; i < n; i++) x[i] = any() % (unsigned)n;
        for (int i = 0; i < n; i++) at[place(x, n, 1, i, 0)] = i;
        tc_tensor y = tc_argsort(tc_from_data(tc, x, TC_DIMS(n), TC_F64), 0, 0);
        CHECK_EQ(tc_read(y, got, (size_t)n * sizeof *got), TC_OK);
        for (int i = 0; i < n; i++)
            if (got[i] != (int64_t)at[i]) {
                FAIL("%d of %d elements: %d, not %d", i, n, (int)got[i], (int)at[i]);
                break;
            }
    }
    tc_close(tc);
}

// ---- scatters ----

enum { IR = 3, IM = 4, IC = 5, IN = IR * IM * IC }; // the index is smaller than both

typedef enum how { SET, ADD } how;

static double wrapped(int dtype, double x) {
    int64_t v = is_float(dtype) ? 0 : (int64_t)x;
    if (dtype == TC_U8) return (double)(uint8_t)v;
    return x;
}

static void scatter(const given *g, const int64_t *index, const double *src, how h,
                    double *want) {
    memcpy(want, g->x, sizeof g->x);
    for (int i = 0; i < IN; i++) {
        int p[3] = {i / (IM * IC), i / IC % IM, i % IC};
        double v = src[(p[0] * MIDDLE + p[1]) * COLS + p[2]];
        p[g->dim] = (int)(index[i] < 0 ? index[i] + sizes[g->dim] : index[i]);
        double *to = &want[(p[0] * MIDDLE + p[1]) * COLS + p[2]];
        *to = h == ADD ? wrapped(g->dtype, *to + v) : v;
    }
}

static void scatters(how h) {
    static double src[CASES][N], want[N];
    static int64_t index[CASES][IN];
    for (int run = FIRST_RUN; run < RUNS; run++)
        for (int turn = 0; turn < turns(run); turn++) {
            tc_ctx *tc = open_run(run);
            tc_tensor y[CASES], s[CASES], at[CASES];
            give(tc, cases, turn);
            for (int k = 0; k < CASES; k++) {
                given *g = &cases[k];
                int n = sizes[g->dim];
                for (int i = 0; i < N; i++) src[k][i] = some(g->dtype);
                for (int i = 0; i < IN; i++)
                    index[k][i] = (int64_t)(any() % (unsigned)(2 * n)) - n;
                s[k] = laid_out(tc, src[k], g->dtype, (g->layout + 1) % LAYOUTS);
                at[k] = indices(tc, index[k], TC_DIMS(IR, IM, IC), k % 2 ? TC_I32 : TC_I64);
            }
            begin_run(tc, run);
            for (int k = 0; k < CASES; k++) {
                given *g = &cases[k];
                if (h == ADD && !is_added(g->dtype)) continue;
                y[k] = h == ADD ? tc_scatter_add(g->t, g->dim, at[k], s[k])
                                : tc_scatter(g->t, g->dim - 3, at[k], s[k]);
            }
            end_run(tc, run);
            for (int k = 0; k < CASES; k++) {
                if (h == ADD && !is_added(cases[k].dtype)) continue;
                scatter(&cases[k], index[k], src[k], h, want);
                expect(y[k], want, N, h ? "scatter_add" : "scatter", cases[k].dtype,
                       __LINE__);
                CHECK_EQ(tc_dtype_of(y[k]), cases[k].dtype);
            }
            tc_close(tc);
        }
}

TEST(scatter) { scatters(SET); }
TEST(scatter_add) { scatters(ADD); }

// src has the tensor's sizes but for `dim`, where the index has more.
TEST(index_add) {
    enum { MORE = 7 };
    static double src[CASES][N * MORE], want[N];
    static int64_t index[CASES][MORE];
    for (int run = FIRST_RUN; run < RUNS; run++)
        for (int turn = 0; turn < turns(run); turn++) {
            tc_ctx *tc = open_run(run);
            tc_tensor y[CASES], s[CASES], at[CASES];
            give(tc, cases, turn);
            for (int k = 0; k < CASES; k++) {
                given *g = &cases[k];
                tc_dims d = DIMS;
                d.size[g->dim] = MORE;
                for (int i = 0; i < N / sizes[g->dim] * MORE; i++)
                    src[k][i] = some(g->dtype);
                for (int i = 0; i < MORE; i++)
                    index[k][i] = (int64_t)(any() % (unsigned)sizes[g->dim]) - k % 2;
                s[k] =
                    there(tc_cast(tc_from_data(tc, src[k], d, TC_F64), (tc_dtype)g->dtype));
                at[k] = indices(tc, index[k], TC_DIMS(MORE), k % 2 ? TC_I32 : TC_I64);
            }
            begin_run(tc, run);
            for (int k = 0; k < CASES; k++)
                if (is_added(cases[k].dtype))
                    y[k] = tc_index_add(cases[k].t, cases[k].dim, at[k], s[k]);
            end_run(tc, run);
            for (int k = 0; k < CASES; k++) {
                if (!is_added(cases[k].dtype)) continue;
                given *g = &cases[k];
                int n = sizes[g->dim], step = step_of(g->dim);
                memcpy(want, g->x, sizeof want);
                for (int l = 0; l < N / n; l++)
                    for (int i = 0; i < MORE; i++) {
                        int64_t to = (index[k][i] + n) % n;
                        double *p = &want[line_start(g->dim, l) + to * step];
                        *p = wrapped(
                            g->dtype,
                            *p + src[k][l / step * step * MORE + i * step + l % step]);
                    }
                expect(y[k], want, N, "index_add", g->dtype, __LINE__);
            }
            tc_close(tc);
        }
}

// Rows that lie together are added whole; to a tensor, or to one number all over.
static void check_index_add_of_rows(int filled) {
    enum { ROWS_OF = 7, WIDE = 40, MORE = 11 };
    static const int dtypes[] = {TC_F32, TC_BF16, TC_F64, TC_I32, TC_U8};
    static double x[ROWS_OF * WIDE], src[MORE * WIDE], want[ROWS_OF * WIDE];
    static int64_t index[MORE];
    for (int run = FIRST_RUN; run < RUNS; run++)
        for (size_t k = 0; k < sizeof dtypes / sizeof *dtypes; k++) {
            tc_dtype dtype = (tc_dtype)dtypes[k];
            tc_ctx *tc = open_run(run);
            double one = k % 2 ? 3 : 0;
            for (int i = 0; i < ROWS_OF * WIDE; i++)
                x[i] = want[i] = filled ? one : some(dtype);
            for (int i = 0; i < MORE * WIDE; i++) src[i] = some(dtype);
            for (int i = 0; i < MORE; i++) index[i] = (int64_t)(any() % ROWS_OF) - i % 2;
            tc_tensor t =
                there(tc_cast(tc_from_data(tc, x, TC_DIMS(ROWS_OF, WIDE), TC_F64), dtype));
            tc_tensor s =
                there(tc_cast(tc_from_data(tc, src, TC_DIMS(MORE, WIDE), TC_F64), dtype));
            tc_tensor at = indices(tc, index, TC_DIMS(MORE), k % 2 ? TC_I32 : TC_I64);
            begin_run(tc, run);
            tc_tensor y = tc_index_add(filled ? tc_full_like(t, one) : t, 0, at, s);
            end_run(tc, run);
            for (int i = 0; i < MORE * WIDE; i++) {
                double *p = &want[(index[i / WIDE] + ROWS_OF) % ROWS_OF * WIDE + i % WIDE];
                *p = wrapped(dtype, *p + src[i]);
            }
            expect(y, want, ROWS_OF * WIDE, "index_add of rows", dtype, __LINE__);
            tc_close(tc);
        }
}

TEST(index_add_of_rows) { check_index_add_of_rows(0); }
TEST(index_add_of_rows_to_one_number) { check_index_add_of_rows(1); }

// Integers wrap as they do in tc_add.
TEST(integers_wrap) {
    static const int64_t same_place[] = {0, 0, 0};
    static const double x[] = {100, 100, 100}, large[] = {30000, 30000, 30000};
    tc_ctx *tc = tc_open(NULL);
    tc_tensor at = tc_from_data(tc, same_place, TC_DIMS(3), TC_I64);
    tc_tensor a = tc_cast(tc_from_data(tc, x, TC_DIMS(3), TC_F64), TC_I8);
    tc_tensor b = tc_cast(tc_from_data(tc, large, TC_DIMS(3), TC_F64), TC_I16);
    CHECK_EQ(tc_item_i64(tc_scatter_add(tc_zeros(tc, TC_DIMS(1), TC_I8), 0, at, a)),
             300 - 256);
    CHECK_EQ(tc_item_i64(tc_scatter_add(tc_zeros(tc, TC_DIMS(1), TC_I16), 0, at, b)),
             90000 - 65536);
    CHECK_EQ(tc_item_i64(tc_select(tc_cumsum(a, 0), 0, 2)), 300); // i64
    tc_close(tc);
}

// ---- edges ----

BOTH(empty_and_scalar) {
    double got[8];
    int64_t none[1] = {0};
    tc_tensor e = tc_zeros(tc, TC_DIMS(0, 3), TC_F32), s = tc_scalar(tc, 5, TC_F32), v, i;
    CHECK_EQ(tc_numel(tc_cumsum(e, 0)), 0);
    CHECK_EQ(tc_numel(tc_cumprod(e, 1)), 0);
    CHECK_EQ(tc_numel(tc_argsort(e, 0, 0)), 0);
    CHECK_EQ(tc_sort(e, 1, 0, &v, &i), TC_OK);
    CHECK_EQ(tc_dim(v, 1), 3);
    CHECK_EQ(tc_topk(e, 0, 0, 1, &v, &i), TC_OK);
    CHECK_EQ(tc_topk(e, 2, 1, 1, &v, NULL), TC_OK);
    CHECK_EQ(tc_dim(v, 1), 2);
    CHECK_EQ(tc_rank(tc_cumsum(s, -1)), 0);
    CHECK_NEAR(tc_item(tc_cumsum(s, 0)), 5, 0);
    CHECK_EQ(tc_item_i64(tc_argsort(s, 0, 1)), 0);
    CHECK_EQ(tc_sort(s, 0, 0, &v, &i), TC_OK);
    CHECK_EQ(tc_rank(v), 0);
    CHECK_NEAR(tc_item(v), 5, 0);
    CHECK_EQ(tc_topk(s, 1, 0, 1, NULL, &i), TC_OK);
    CHECK_EQ(tc_item_i64(i), 0);
    // An index without elements writes nothing.
    tc_tensor t = line(tc, 4, 1, 1), at = tc_from_data(tc, none, TC_DIMS(0), TC_I64);
    tc_tensor nothing = tc_zeros(tc, TC_DIMS(0), TC_F32);
    tc_tensor r[3];
    BEGIN("empty");
    r[0] = tc_scatter(t, 0, at, nothing), r[1] = tc_scatter_add(t, 0, at, t);
    r[2] = tc_index_add(t, 0, at, nothing);
    END();
    for (int k = 0; k < 3; k++) {
        read_all(r[k], got, 4);
        for (int j = 0; j < 4; j++) CHECK_NEAR(got[j], 1 + j, 0);
    }
    tc_tensor one = tc_ones(tc, TC_DIMS(3, 1), TC_F64);
    CHECK_NEAR(tc_item(tc_sum_all(tc_cumsum(one, 1))), 3, 0);
    CHECK_EQ(tc_item_i64(tc_sum_all(tc_argsort(one, 1, 0))), 0);
}

// An index out of range is clamped, and told.
BOTH(index_out_of_range) {
    static const int64_t far_away[][2] = {{0, 3}, {-4, 1}, {1, INT64_MIN}, {INT64_MAX, 0}};
    static const char *const text[] = {"index 3 is", "index -4 is",
                                       "index -9223372036854775808 is",
                                       "index 9223372036854775807 is"};
    for (int k = 0; k < 4; k++) {
        tc_tensor t = line(tc, 3, 0, 1), v = line(tc, 2, 5, 1);
        tc_tensor at = tc_from_data(tc, far_away[k], TC_DIMS(2), TC_I64);
        for (int op = 0; op < 3; op++) {
            static const char *const names[] = {"scatter (", "scatter_add (",
                                                "index_add ("};
            tc_trace_begin_at(tc, names[op], NULL, "rows.c", 2);
            tc_tensor y = op == 0   ? tc_scatter(t, 0, at, v)
                          : op == 1 ? tc_scatter_add(t, 0, at, v)
                                    : tc_index_add(t, 0, at, v);
            (void)y;
            CHECK_EQ(tc_trace_end(tc), TC_E_INDEX);
            CHECK(strstr(tc_error_text(tc), names[op]) &&
                  strstr(tc_error_text(tc), text[k]));
            ERROR(TC_E_INDEX, "size 3");
        }
        CHECK(!tc_scatter_add(t, 0, at, v).id);
        ERROR(TC_E_INDEX, text[k]);
    }
}

// A write in place does not happen when an index is out of range.
BOTH(nothing_is_written_then) {
    static const int64_t at[] = {0, 9};
    tc_tensor t = line(tc, 3, 0, 1), kept = line(tc, 3, 7, 0), v = line(tc, 2, 5, 1);
    tc_tensor index = tc_from_data(tc, at, TC_DIMS(2), TC_I64);
    BEGIN("written");
    tc_add_s_(kept, 1);
    tc_tensor y = tc_scatter(t, 0, index, v);
    (void)y;
    CHECK_EQ(tc_trace_end(tc), TC_E_INDEX);
    ERROR(TC_E_INDEX, "scatter");
    CHECK_NEAR(AT(kept, 0), 7, 0);
}
