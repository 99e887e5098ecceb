// Gradients of norms on a device: what is summed along rows and what is summed down their columns is one kernel. Values
// come from plain C in double precision; two runs have the same bits.
#include "tcompile.h"

#include "tcompile_cuda.h"

#define TEST_NO_MAIN
#include "harness.h"
#include "help.h"
#include "tools/cuda_device.h"
#include "tools/cuda_near.h"

typedef struct size {
    int64_t rows, cols;
    tc_dtype dtype;
} size;

// Fewer rows than blocks and more, that no warps divide; rows of a warp, of a block; columns that are no vectors; rows that
// are too long to have their sums with them.
static const size sizes[] = {
    {1, 96, TC_F32},     {3, 5, TC_F32},       {33, 97, TC_F32},   {37, 100, TC_BF16},
    {7, 1025, TC_F32},   {40, 768, TC_F16},    {900, 64, TC_BF16}, {5, 4096, TC_BF16},
    {9, 4100, TC_F32},   {450, 1024, TC_BF16}, {3, 20000, TC_F32}, {135, 8192, TC_BF16},
    {134, 8190, TC_F32},
};

// dx, dw and db of y = (x - mean) * slope * w + b where y counts g; `centred` = 0: without the mean, as rms_norm.
static void expect(const size *z, const double *x, const double *w, const double *g,
                   int centred, double *dx, double *dw, double *db) {
    int64_t n = z->cols;
    memset(dw, 0, (size_t)n * sizeof *dw), memset(db, 0, (size_t)n * sizeof *db);
    for (int64_t r = 0; r < z->rows; r++) {
        const double *xr = x + r * n, *gr = g + r * n;
        double mean = 0, var = 0, gw = 0, gwx = 0;
        for (int64_t c = 0; c < n && centred; c++) mean += xr[c] / (double)n;
        for (int64_t c = 0; c < n; c++) var += (xr[c] - mean) * (xr[c] - mean) / (double)n;
        double slope = 1 / sqrt(var + 1e-5);
        for (int64_t c = 0; c < n; c++) {
            double h = (xr[c] - mean) * slope;
            gw += centred ? gr[c] * w[c] / (double)n : 0,
                gwx += gr[c] * w[c] * h / (double)n;
            dw[c] += gr[c] * h, db[c] += gr[c];
        }
        for (int64_t c = 0; c < n; c++)
            dx[r * n + c] = slope * (gr[c] * w[c] - gw - (xr[c] - mean) * slope * gwx);
    }
}

static void layer(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    tc_tensor y = tc_layer_norm(in[0], in[1], in[2], 1e-5);
    (void)tc, (void)user;
    tc_vjp(y, in[3], in, 3, out);
}

static void rms(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    tc_tensor y = tc_rms_norm(in[0], in[1], 1e-5);
    (void)tc, (void)user;
    tc_vjp(y, in[3], in, 2, out);
    out[2] = tc_sum(out[0], 0);
}

static void check_norm(tc_ctx *tc, const size *z, tc_body body, int centred) {
    int64_t n = z->rows * z->cols;
    double *v = (double *)calloc((size_t)(3 * n + 5 * z->cols), sizeof *v);
    double *x = v, *g = v + n, *dx = g + n, *w = dx + n, *b = w + z->cols;
    double *dw = b + z->cols, *db = dw + z->cols,
           near = z->dtype == TC_F32   ? 2e-6
                  : z->dtype == TC_F16 ? 1e-3
                                       : 8e-3;
    tc_tensor in[4], out[3], again[3];
    REQUIRE(v != NULL);
    in[0] = there(tc, TC_DIMS(z->rows, z->cols), 1, z->dtype, x);
    in[1] = there(tc, TC_DIMS(z->cols), 2, z->dtype, w);
    in[2] = there(tc, TC_DIMS(z->cols), 3, z->dtype, b);
    in[3] = there(tc, TC_DIMS(z->rows, z->cols), 4, z->dtype, g);
    tc_options o = tc_options_default();
    o.dynamic = TC_DYNAMIC_OFF;
    tc_fn *f = tc_compile(tc, body, NULL, 0, &o);
    REQUIRE(tc_call(f, in, 4, out, 3) == TC_OK || FAIL("%s", tc_error_text(tc)));
    REQUIRE(tc_call(f, in, 4, again, 3) == TC_OK || FAIL("%s", tc_error_text(tc)));
    expect(z, x, w, g, centred, dx, dw, db);
    for (int64_t c = 0; c < z->cols && !centred; c++) {
        db[c] = 0;
        for (int64_t r = 0; r < z->rows; r++) db[c] += dx[r * z->cols + c];
    }
    double e[3];
    e[0] = apart(out[0], dx, n), e[1] = apart(out[1], dw, z->cols);
    e[2] = apart(out[2], db, z->cols);
    for (int k = 0; k < 3; k++)
        CHECK(e[k] < near ||
              FAIL("%d x %d, gradient %d: %g apart", (int)z->rows, (int)z->cols, k, e[k]));
    size_t bytes = z->dtype == TC_F32 ? 4 : 2;
    for (int k = 0; k < 3; k++)
        check_same(out[k], again[k], (size_t)(k ? z->cols : n) * bytes);
    free(v);
}

static void check_norms(tc_body body, int centred) {
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        tc_ctx *tc = tc_open(NULL);
        if (!open_device(tc)) return;
        check_norm(tc, &sizes[i], body, centred);
        tc_close(tc);
        check_device_closed();
    }
}

TEST(layer_norm) { check_norms(layer, 1); }

// Its gradient by the operand is summed down the columns itself, as for a bias before it.
TEST(rms_norm) { check_norms(rms, 0); }

// A second number of rows makes it one of run time.
TEST(any_number_of_rows) {
    enum { COLS = 96 };
    static const int64_t rows[] = {5, 40, 700, 1};
    tc_ctx *tc = tc_open(NULL);
    if (!open_device(tc)) return;
    tc_fn *f = tc_compile(tc, layer, NULL, 0, NULL);
    for (int i = 0; i < 4; i++) {
        static double x[700 * COLS], g[700 * COLS], dx[700 * COLS], w[COLS], b[COLS];
        static double dw[COLS], db[COLS];
        size z = {rows[i], COLS, TC_F32};
        tc_tensor in[4], out[3];
        in[0] = there(tc, TC_DIMS(z.rows, COLS), 1, TC_F32, x);
        in[1] = there(tc, TC_DIMS(COLS), 2, TC_F32, w);
        in[2] = there(tc, TC_DIMS(COLS), 3, TC_F32, b);
        in[3] = there(tc, TC_DIMS(z.rows, COLS), 4, TC_F32, g);
        REQUIRE(tc_call(f, in, 4, out, 3) == TC_OK || FAIL("%s", tc_error_text(tc)));
        expect(&z, x, w, g, 1, dx, dw, db);
        CHECK(apart(out[0], dx, z.rows * COLS) < 2e-6);
        CHECK(apart(out[1], dw, COLS) < 2e-6 && apart(out[2], db, COLS) < 2e-6);
    }
    tc_close(tc);
    check_device_closed();
}
