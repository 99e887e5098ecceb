// What a kernel stores where an operand of it lay that nobody needs any more: values, and how much memory the program has
// between its kernels. Each case is a function between two cumulative sums, which are kernels of their own, so what it reads
// and what it gives live there; or behind one, so what it gives is the program's, and what it reads can lie there. Values
// come from plain C in double precision. After harness.h and help.h; the program gives `there`, which puts a tensor where the case
// is to run.
#ifndef TEST_OVERLAY_H
#define TEST_OVERLAY_H

#include <math.h>
#include <stdio.h>

enum { OVERLAY_MOST = 1 << 16 };

typedef struct overlay_case {
    const char *name;
    tc_tensor (*of)(tc_tensor a, tc_tensor at);
    void (*expected)(const double *a, const int64_t *at, double *y, int rows, int cols);
    int slabs; // places of so many elements that the program needs between its kernels; 0 = one or two
    int least; // columns from which on that is so; parts of few are results by the way
} overlay_case;

// ---- one place ----

static tc_tensor overlay_scaled(tc_tensor a, tc_tensor at) {
    (void)at;
    return tc_add_s(tc_mul_s(a, 2), 1);
}

static void expect_scaled(const double *a, const int64_t *at, double *y, int rows,
                          int cols) {
    (void)at;
    for (int i = 0; i < rows * cols; i++) y[i] = 2 * a[i] + 1;
}

static tc_tensor overlay_softmax(tc_tensor a, tc_tensor at) {
    (void)at;
    return tc_softmax(a, 1);
}

static void expect_softmax(const double *a, const int64_t *at, double *y, int rows,
                           int cols) {
    (void)at;
    for (int r = 0; r < rows; r++, a += cols, y += cols) {
        double most = a[0], sum = 0;
        for (int c = 0; c < cols; c++) most = a[c] > most ? a[c] : most;
        for (int c = 0; c < cols; c++) sum += y[c] = exp(a[c] - most);
        for (int c = 0; c < cols; c++) y[c] /= sum;
    }
}

// Another element of the row, which is read before it.
static tc_tensor overlay_target(tc_tensor a, tc_tensor at) {
    tc_tensor s = tc_sum_dims(tc_exp(tc_neg(tc_abs(a))), TC_DIMS(1), TC_KEEPDIM);
    tc_tensor t = tc_gather(a, 1, tc_reshape(at, TC_DIMS(tc_dim(at, 0), 1)));
    return tc_add(tc_div(a, s), tc_mul(t, s));
}

static void expect_target(const double *a, const int64_t *at, double *y, int rows,
                          int cols) {
    for (int r = 0; r < rows; r++, a += cols, y += cols) {
        double sum = 0;
        for (int c = 0; c < cols; c++) sum += exp(-fabs(a[c]));
        for (int c = 0; c < cols; c++) y[c] = a[c] / sum + a[at[r]] * sum;
    }
}

// ---- two places: elements are read elsewhere, too ----

static tc_tensor overlay_shifted(tc_tensor a, tc_tensor at) {
    (void)at;
    return tc_add(a, tc_roll(a, 1, 1));
}

static void expect_shifted(const double *a, const int64_t *at, double *y, int rows,
                           int cols) {
    (void)at;
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < cols; c++)
            y[r * cols + c] = a[r * cols + c] + a[r * cols + (c + cols - 1) % cols];
}

static tc_tensor overlay_mirrored(tc_tensor a, tc_tensor at) {
    (void)at;
    tc_tensor most = tc_amax_dims(a, TC_DIMS(1), TC_KEEPDIM);
    return tc_sub(tc_mul_s(a, 3), tc_add(tc_flip(a, TC_DIMS(1)), most));
}

static void expect_mirrored(const double *a, const int64_t *at, double *y, int rows,
                            int cols) {
    (void)at;
    for (int r = 0; r < rows; r++, a += cols, y += cols) {
        double most = a[0];
        for (int c = 0; c < cols; c++) most = a[c] > most ? a[c] : most;
        for (int c = 0; c < cols; c++) y[c] = 3 * a[c] - (a[cols - 1 - c] + most);
    }
}

static tc_tensor overlay_rows_above(tc_tensor a, tc_tensor at) {
    (void)at;
    return tc_div_s(tc_add(a, tc_roll(a, 1, 0)), 2);
}

static void expect_rows_above(const double *a, const int64_t *at, double *y, int rows,
                              int cols) {
    (void)at;
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < cols; c++)
            y[r * cols + c] = (a[r * cols + c] + a[(r + rows - 1) % rows * cols + c]) / 2;
}

// A row's sum goes to other rows than those that are read for it.
static tc_tensor overlay_sums_elsewhere(tc_tensor a, tc_tensor at) {
    (void)at;
    return tc_add(a, tc_flip(tc_sum_dims(a, TC_DIMS(1), TC_KEEPDIM), TC_DIMS(0)));
}

static void expect_sums_elsewhere(const double *a, const int64_t *at, double *y, int rows,
                                  int cols) {
    (void)at;
    for (int r = 0; r < rows; r++) {
        double sum = 0;
        for (int c = 0; c < cols; c++) sum += a[(rows - 1 - r) * cols + c];
        for (int c = 0; c < cols; c++) y[r * cols + c] = a[r * cols + c] + sum;
    }
}

// What is stored in the middle of a row is made of what the end of it is made of, too.
static tc_tensor overlay_twice(tc_tensor a, tc_tensor at) {
    (void)at;
    tc_tensor e = tc_exp(tc_sub(a, tc_amax_dims(a, TC_DIMS(1), TC_KEEPDIM)));
    tc_tensor y = tc_div(e, tc_sum_dims(e, TC_DIMS(1), TC_KEEPDIM));
    return tc_add(tc_cumsum(e, 1), tc_cumsum(y, 1));
}

static void expect_twice(const double *a, const int64_t *at, double *y, int rows,
                         int cols) {
    expect_softmax(a, at, y, rows, cols);
    for (int r = 0; r < rows; r++, a += cols, y += cols) {
        double most = a[0], sum = 0, ones = 0;
        for (int c = 0; c < cols; c++) most = a[c] > most ? a[c] : most;
        for (int c = 0; c < cols; c++) {
            sum += exp(a[c] - most), ones += y[c];
            y[c] = sum + ones;
        }
    }
}

// ---- some elements are changed, where they lie ----

static tc_tensor overlay_column(tc_tensor at) {
    return tc_reshape(at, TC_DIMS(tc_dim(at, 0), 1));
}

static tc_tensor overlay_behind(tc_tensor at) {
    return tc_cast(overlay_column(tc_add_s(at, 1)), TC_F32);
}

static tc_tensor overlay_scattered(tc_tensor a, tc_tensor at) {
    return tc_scatter(a, 1, overlay_column(at), overlay_behind(at));
}

static void expect_scattered(const double *a, const int64_t *at, double *y, int rows,
                             int cols) {
    memcpy(y, a, (size_t)(rows * cols) * sizeof *y);
    for (int r = 0; r < rows; r++) y[r * cols + at[r]] = (double)at[r] + 1;
}

static tc_tensor overlay_scatter_added(tc_tensor a, tc_tensor at) {
    return tc_scatter_add(a, 1, overlay_column(at), overlay_behind(at));
}

static void expect_scatter_added(const double *a, const int64_t *at, double *y, int rows,
                                 int cols) {
    memcpy(y, a, (size_t)(rows * cols) * sizeof *y);
    for (int r = 0; r < rows; r++) y[r * cols + at[r]] += (double)at[r] + 1;
}

// Whole rows: the gradient of a table that is also used elsewhere. Some rows are taken often, most never.
static tc_tensor overlay_rows_added(tc_tensor a, tc_tensor at) {
    tc_tensor g = tc_null(), few = tc_remainder_s(tc_fmod_s(at, 3), (double)tc_dim(a, 0));
    tc_tensor taken = tc_sum_all(tc_mul_s(tc_embedding(a, few), 3));
    tc_grad(tc_add(taken, tc_sum_all(tc_square(a))), &a, 1, &g);
    return g;
}

static void expect_rows_added(const double *a, const int64_t *at, double *y, int rows,
                              int cols) {
    for (int i = 0; i < rows * cols; i++) y[i] = 2 * a[i];
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < cols; c++) y[at[r] % 3 % rows * cols + c] += 3;
}

// What is added is also what it is added to: two places.
static tc_tensor overlay_added_to_itself(tc_tensor a, tc_tensor at) {
    (void)at;
    tc_tensor row = tc_reshape(tc_narrow(a, 0, 0, 1), TC_DIMS(tc_dim(a, 1)));
    tc_tensor to = tc_cumsum(tc_cast(tc_ones_like(row), TC_I64), 0); // 1, 2, ...
    return tc_index_add(a, 1, tc_rsub_s(to, (double)tc_dim(a, 1)), a);
}

static void expect_added_to_itself(const double *a, const int64_t *at, double *y, int rows,
                                   int cols) {
    (void)at;
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < cols; c++)
            y[r * cols + c] = a[r * cols + c] + a[r * cols + cols - 1 - c];
}

static const overlay_case overlay_cases[] = {
    {"scaled", overlay_scaled, expect_scaled, 1, 0},
    {"softmax", overlay_softmax, expect_softmax, 1, 0},
    {"target", overlay_target, expect_target, 1, 0},
    {"shifted", overlay_shifted, expect_shifted, 2, 0},
    {"mirrored", overlay_mirrored, expect_mirrored, 2, 0},
    {"rows above", overlay_rows_above, expect_rows_above, 2, 8},
    {"scattered", overlay_scattered, expect_scattered, 1, 0},
    {"scatter added", overlay_scatter_added, expect_scatter_added, 1, 0},
    {"rows added", overlay_rows_added, expect_rows_added, 3, 16},
    {"added to itself", overlay_added_to_itself, expect_added_to_itself, 0, 0},
    {"sums elsewhere", overlay_sums_elsewhere, expect_sums_elsewhere, 0, 0},
    {"twice", overlay_twice, expect_twice, 0, 0},
};

static const int overlay_sizes[][2] = {{3, 7},   {5, 33},   {16, 64},  {3, 1000},
                                       {600, 6}, {129, 17}, {64, 257}, {2, 5003}};

static void add_up(double *y, int rows, int cols) {
    for (int r = 0; r < rows; r++)
        for (int c = 1; c < cols; c++) y[r * cols + c] += y[r * cols + c - 1];
}

// Places between kernels, where the result is the program's, or is summed up behind.
static int overlay_slabs(const overlay_case *k, int is_last) {
    return is_last ? k->slabs - 1 : k->slabs;
}

static void check_overlay(tc_ctx *tc, const overlay_case *k, int rows, int cols,
                          int is_last) {
    static float x[OVERLAY_MOST];
    static double a[OVERLAY_MOST], y[OVERLAY_MOST];
    static int64_t at[OVERLAY_MOST];
    char name[64];
    int n = rows * cols;
    for (int i = 0; i < n; i++)
        a[i] = x[i] = (float)((int)(test_word((unsigned)i, 7) % 4001) - 2000) / 1000;
    for (int r = 0; r < rows; r++)
        at[r] = (int64_t)(test_word((unsigned)r, 8) % (unsigned)cols);
    tc_tensor in = there(tc_from_data(tc, x, TC_DIMS(rows, cols), TC_F32));
    tc_tensor where = there(tc_from_data(tc, at, TC_DIMS(rows), TC_I64)), out = tc_null();
    snprintf(name, sizeof name, "%s %d %d %d", k->name, rows, cols, is_last);
    size_t before = (size_t)tc_stats_get(tc).arena_bytes;
    for (int i = 0; i < 3; i++) {
        BEGIN(name);
        out = k->of(tc_cumsum(in, 1), where);
        out = tc_keep(is_last ? out : tc_cumsum(out, 1));
        END();
        if (i < 2) tc_free(out);
    }
    double each = n * sizeof(float), slack = 0.6 * each + 2048;
    double bytes = (double)((size_t)tc_stats_get(tc).arena_bytes - before);
    double least = each * overlay_slabs(k, is_last);
    if (k->slabs && cols >= k->least && (bytes < least || bytes > least + slack))
        FAIL("%s of %d x %d: %.0f bytes between kernels, of %.0f a place", name, rows, cols,
             bytes, each);
    add_up(a, rows, cols);
    k->expected(a, at, y, rows, cols);
    if (!is_last) add_up(y, rows, cols);
    CHECK_EQ(tc_read(out, x, (size_t)n * sizeof *x), TC_OK);
    double most = 0; // of the sums, each of which adds up so many in f32
    for (int i = 0; i < n; i++) most = fabs(y[i]) > most ? fabs(y[i]) : most;
    for (int i = 0; i < n; i++)
        if (!(fabs(x[i] - y[i]) <= (1e-6 + cols * 6e-8) * most)) {
            FAIL("%s of %d x %d: element %d is %g, not %g", name, rows, cols, i, x[i],
                 y[i]);
            break;
        }
    tc_free(in), tc_free(where), tc_free(out);
}

static void check_overlays(tc_ctx *tc) {
    for (size_t i = 0; i < sizeof overlay_cases / sizeof *overlay_cases; i++)
        for (size_t s = 0; s < 2 * (sizeof overlay_sizes / sizeof *overlay_sizes); s++)
            check_overlay(tc, &overlay_cases[i], overlay_sizes[s / 2][0],
                          overlay_sizes[s / 2][1], s % 2);
}

#endif
