// Sums down the columns of what a kernel does row by row are in that kernel, however many threads there are, and have the order
// that is promised: of 32 rows in turn, and chunks of 8192. So are the gradients of a norm, which are held against doubles.
#include <math.h>

#include "tcompile.h"

#include "harness.h"
#include "help.h"
#include "sums.h"

enum { MOST = 1 << 20, COLUMNS = 1 << 12, ROWS = 20000 };

static const int sizes[][2] = {
    {64, 40},    {65, 768},   {100, 33},   {8192, 48}, {8200, 40},
    {16385, 33}, {300, 1024}, {130, 2500}, {64, 4095}, {20000, 50},
};
enum { SIZES = sizeof sizes / sizeof *sizes };

static float x[MOST], made[MOST], squares[MOST], got[MOST], sum[2][COLUMNS], most[COLUMNS];

static float number(int i) { return (float)test_number((unsigned)i, 5); }

// Elements that are no row times its sum, and columns whose sums, sums of products and largest are not those of loops.
static void count_wrong(int rows, int columns, int wrong[4]) {
    for (int r = 0; r < rows; r++) {
        float all = promised_sum(x + r * columns, columns, 1);
        for (int i = r * columns; i < (r + 1) * columns; i++) {
            made[i] = x[i] * all, squares[i] = made[i] * x[i];
            wrong[0] += got[i] != made[i];
        }
    }
    for (int c = 0; c < columns; c++) {
        float top = made[c];
        for (int r = 0; r < rows; r++)
            top = made[r * columns + c] > top ? made[r * columns + c] : top;
        wrong[1] += sum[0][c] != promised_sum(made + c, rows, columns);
        wrong[2] += sum[1][c] != promised_sum(squares + c, rows, columns);
        wrong[3] += most[c] != top;
    }
}

// Rows times their sums, and of those down the columns the sum, that of their products, and the largest: one kernel.
static void run_rows(tc_ctx *tc, int rows, int columns, int marked) {
    size_t bytes = (size_t)columns * sizeof(float);
    char name[24];
    snprintf(name, sizeof name, "down %d", columns);
    tc_scope_begin(tc);
    tc_tensor in = tc_from_data(tc, x, TC_DIMS(rows, columns), TC_F32);
    if (marked) CHECK_EQ(tc_mark_dynamic(in, 0, 2, ROWS), TC_OK);
    uint64_t before = tc_stats_get(tc).kernel_runs;
    tc_trace_begin(tc, name);
    tc_tensor out = tc_keep(tc_mul(in, tc_sum_dims(in, TC_DIMS(1), TC_KEEPDIM)));
    tc_tensor all = tc_sum(out, 0), products = tc_sum(tc_mul(out, in), 0);
    tc_tensor top = tc_amax(out, 0);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    CHECK_EQ(tc_read(out, got, (size_t)rows * bytes), TC_OK);
    CHECK_EQ(tc_read(all, sum[0], bytes), TC_OK);
    CHECK_EQ(tc_read(products, sum[1], bytes), TC_OK);
    CHECK_EQ(tc_read(top, most, bytes), TC_OK);
    CHECK_EQ(tc_stats_get(tc).kernel_runs - before, 1);
    tc_free(out);
    tc_scope_end(tc);
}

static void check_rows(tc_ctx *tc, int rows, int columns, int marked) {
    int wrong[4] = {0};
    REQUIRE(rows * columns <= MOST && rows <= ROWS && columns <= COLUMNS);
    for (int i = 0; i < rows * columns; i++) x[i] = number(i);
    run_rows(tc, rows, columns, marked);
    count_wrong(rows, columns, wrong);
    for (int k = 0; k < 4; k++)
        if (wrong[k]) FAIL("%dx%d: %d of kind %d are wrong", rows, columns, wrong[k], k);
}

// MARKED: the number of rows is known at run time only, and may be less than there are lanes.
enum { KNOWN, MARKED };

static void check(tc_ctx *tc, int marked) {
    static const int rows_then[] = {3, 31, 70};
    REQUIRE(tc);
    for (int s = 0; s < SIZES; s++) {
        check_rows(tc, sizes[s][0], sizes[s][1], marked);
        for (size_t i = 0; marked && i < sizeof rows_then / sizeof *rows_then; i++)
            check_rows(tc, rows_then[i], sizes[s][1], marked);
    }
    CHECK_EQ(tc_error(tc), TC_OK);
    CHECK_EQ(tc_stats_get(tc).fallbacks, 0);
    tc_close(tc);
}

// Sums that need nothing of the rows stand first, and are in their kernel all the same; rows that need the sums cannot be.
static void run_first(tc_ctx *tc, int rows, int columns, int needed) {
    size_t bytes = (size_t)columns * sizeof(float);
    char name[24];
    snprintf(name, sizeof name, "first %d %d", columns, needed);
    tc_scope_begin(tc);
    tc_tensor in = tc_from_data(tc, x, TC_DIMS(rows, columns), TC_F32);
    uint64_t before = tc_stats_get(tc).kernel_runs;
    tc_trace_begin(tc, name);
    tc_tensor all = tc_keep(tc_sum(in, 0)), out = needed ? tc_add(in, all) : in;
    out = tc_keep(tc_mul(out, tc_sum_dims(in, TC_DIMS(1), TC_KEEPDIM)));
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    CHECK_EQ(tc_read(all, sum[0], bytes), TC_OK);
    CHECK_EQ(tc_read(out, got, (size_t)rows * bytes), TC_OK);
    uint64_t runs = tc_stats_get(tc).kernel_runs - before;
    CHECK(needed ? runs > 1 : runs == 1);
    tc_scope_end(tc);
}

static void check_first(tc_ctx *tc, int needed) {
    for (int k = 0; k < SIZES; k++) {
        int rows = sizes[k][0], columns = sizes[k][1], wrong[2] = {0, 0};
        for (int i = 0; i < rows * columns; i++) x[i] = number(i);
        run_first(tc, rows, columns, needed);
        for (int c = 0; c < columns; c++)
            wrong[0] += sum[0][c] != promised_sum(x + c, rows, columns);
        for (int r = 0; r < rows; r++) {
            float all = promised_sum(x + r * columns, columns, 1);
            for (int c = 0; c < columns; c++)
                wrong[1] += got[r * columns + c] !=
                            (x[r * columns + c] + (needed ? sum[0][c] : 0)) * all;
        }
        if (wrong[0] || wrong[1])
            FAIL("%d x %d: %d sums and %d elements are wrong", rows, columns, wrong[0],
                 wrong[1]);
    }
    tc_close(tc);
}

TEST(interpreted) { check(open_as("aot_eager", NULL, 2), KNOWN); }
TEST(one_thread) { check(open_as("cpu", NULL, 1), KNOWN); }
TEST(three_threads) { check(open_as("cpu", NULL, 3), KNOWN); }
TEST(any_rows) { check(open_as("cpu", NULL, 2), MARKED); }
TEST(any_rows_interpreted) { check(open_as("aot_eager", NULL, 3), MARKED); }
TEST(sums_first) { check_first(open_as("cpu", NULL, 2), 0); }
TEST(sums_first_interpreted) { check_first(open_as("aot_eager", NULL, 2), 0); }
TEST(rows_need_sums) { check_first(open_as("cpu", NULL, 2), 1); }
TEST(avx2) { check(open_as("cpu", "avx2", 3), KNOWN); }
TEST(baseline) { check(open_as("cpu", "baseline", 2), KNOWN); }

// ---- norms ----

enum { R = 300, C = 77 };

typedef struct norm {
    double x[R * C], w[C], g[R * C]; // g: what comes from behind
    double dx[R * C], dw[C], db[C];
} norm;

// The gradients by their formulas.
static void norm_expect(norm *n) {
    for (int c = 0; c < C; c++) n->dw[c] = n->db[c] = 0;
    for (int r = 0; r < R; r++) {
        const double *a = n->x + r * C, *g = n->g + r * C;
        double mean = 0, var = 0, p = 0, q = 0;
        for (int c = 0; c < C; c++) mean += a[c] / C;
        for (int c = 0; c < C; c++) var += (a[c] - mean) * (a[c] - mean) / C;
        double slope = 1 / sqrt(var + 1e-5);
        for (int c = 0; c < C; c++) {
            double h = (a[c] - mean) * slope;
            p += g[c] * n->w[c] / C, q += g[c] * n->w[c] * h / C;
            n->dw[c] += g[c] * h, n->db[c] += g[c];
        }
        for (int c = 0; c < C; c++)
            n->dx[r * C + c] = slope * (g[c] * n->w[c] - p - (a[c] - mean) * slope * q);
    }
}

static double norm_error(tc_tensor t, const double *want, int count) {
    static double is[R * C];
    double most_off = 0;
    CHECK_EQ(tc_read(tc_cast(t, TC_F64), is, (size_t)count * sizeof *is), TC_OK);
    for (int i = 0; i < count; i++)
        if (!(fabs(is[i] - want[i]) <= most_off)) most_off = fabs(is[i] - want[i]);
    return most_off;
}

static void check_norm(tc_ctx *tc, tc_dtype dtype, double bound) {
    static norm n;
    tc_tensor in[3], out[3];
    REQUIRE(tc);
    for (int i = 0; i < R * C; i++) n.x[i] = number(i), n.g[i] = number(i + R * C);
    for (int c = 0; c < C; c++) n.w[c] = 1 + number(c) / 8;
    norm_expect(&n);
    in[0] = tc_cast(tc_from_data(tc, n.x, TC_DIMS(R, C), TC_F64), dtype);
    in[1] = tc_cast(tc_from_data(tc, n.w, TC_DIMS(C), TC_F64), dtype);
    in[2] = tc_mul_s(in[1], 0);
    tc_tensor g = tc_cast(tc_from_data(tc, n.g, TC_DIMS(R, C), TC_F64), dtype);
    for (int again = 0; again < 2; again++) {
        uint64_t before = tc_stats_get(tc).kernel_runs;
        tc_trace_begin(tc, "norm");
        tc_vjp(tc_layer_norm(in[0], in[1], in[2], 1e-5), g, in, 3, out);
        CHECK_EQ(tc_trace_end(tc), TC_OK);
        CHECK_EQ(tc_stats_get(tc).kernel_runs - before, 1);
        CHECK(norm_error(out[0], n.dx, R * C) < bound);
        CHECK(norm_error(out[1], n.dw, C) < bound);
        CHECK(norm_error(out[2], n.db, C) < bound);
    }
    CHECK_EQ(tc_error(tc), TC_OK);
    tc_close(tc);
}

TEST(norm) { check_norm(open_as("cpu", NULL, 2), TC_F32, 1e-4); }
TEST(norm_interpreted) { check_norm(open_as("aot_eager", NULL, 2), TC_F32, 1e-4); }
TEST(norm_of_doubles) { check_norm(open_as("cpu", NULL, 2), TC_F64, 1e-10); }
TEST(norm_of_doubles_avx2) { check_norm(open_as("cpu", "avx2", 2), TC_F64, 1e-10); }
