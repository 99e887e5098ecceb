// Reductions and in-place stencils on a device whose threads have single elements, or rows that overlap: what random
// programs found. Values come from plain C.
#include "tcompile.h"

#include "tcompile_cuda.h"

#define TEST_NO_MAIN
#include "harness.h"
#include "help.h"
#include "tools/cuda_device.h"

#include <math.h>

static double number(size_t i, unsigned of) {
    return (double)((int)(test_word((unsigned)i, of) % 2001) - 1000) / 64;
}

static tc_ctx *open_there(void) {
    tc_ctx *tc = tc_open(NULL);
    if (!open_device(tc)) exit(TEST_FAILED);
    return tc;
}

static tc_tensor there(tc_ctx *tc, int64_t rows, int64_t cols, unsigned of,
                       tc_dtype dtype) {
    size_t n = (size_t)(rows * cols);
    double *p = (double *)malloc(n * sizeof *p);
    if (!p) exit(TEST_FAILED);
    for (size_t i = 0; i < n; i++) p[i] = number(i, of);
    tc_tensor t = tc_cast(tc_from_data(tc, p, TC_DIMS(rows, cols), TC_F64), dtype);
    free(p);
    return tc_to(t, DEVICE_NAME);
}

static void call(tc_ctx *tc, tc_body body, const tc_tensor *in, int n_in, tc_tensor *out,
                 int n_out) {
    tc_options o = tc_options_default();
    o.dynamic = TC_DYNAMIC_OFF;
    tc_fn *f = tc_compile(tc, body, NULL, 0, &o);
    REQUIRE(tc_call(f, in, n_in, out, n_out) == TC_OK || FAIL("%s", tc_error_text(tc)));
}

// ---- a stencil that is added to what is there ----

static void add_neighbours(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    tc_tensor x = in[0], across = tc_slice(x, 0, 1, -1, 1), down = tc_slice(x, 1, 1, -1, 1);
    (void)tc, (void)out, (void)user;
    tc_tensor sides =
        tc_add(tc_slice(across, 1, 0, -2, 1), tc_slice(across, 1, 2, TC_END, 1));
    tc_add_(in[1], tc_add(tc_add(sides, tc_slice(down, 0, 0, -2, 1)),
                          tc_slice(down, 0, 2, TC_END, 1)));
}

// Threads have four rows each; the last of them would have three.
TEST(a_stencil_is_added_once) {
    enum { ROWS = 2051, COLS = 2048, PITCH = COLS + 2 };
    tc_ctx *tc = open_there();
    tc_tensor in[2];
    in[0] = there(tc, ROWS + 2, PITCH, 1, TC_F32), in[1] = there(tc, ROWS, COLS, 2, TC_F32);
    float *y = (float *)malloc(sizeof *y * ROWS * COLS);
    REQUIRE(y);
    call(tc, add_neighbours, in, 2, NULL, 0);
    REQUIRE(tc_read(in[1], y, sizeof *y * ROWS * COLS) == TC_OK);
    int64_t wrong = 0;
    for (size_t i = 0; i < (size_t)ROWS * COLS; i++) {
        size_t at = i / COLS * PITCH + i % COLS;
        wrong += (double)y[i] != number(i, 2) + number(at + 1, 1) + number(at + PITCH, 1) +
                                     number(at + PITCH + 2, 1) +
                                     number(at + 2 * PITCH + 1, 1);
    }
    CHECK_EQ(wrong, 0);
    free(y);
    tc_close(tc);
}

// ---- several inputs that are held in shared memory by single elements ----

static void softmax_of_product(tc_ctx *tc, const tc_tensor *in, tc_tensor *out,
                               void *user) {
    (void)tc, (void)user;
    out[0] = tc_softmax(tc_mul(in[0], in[1]), 1);
}

TEST(odd_rows_of_two_inputs) {
    enum { ROWS = 3, COLS = 5001 };
    static float y[ROWS * COLS];
    tc_ctx *tc = open_there();
    tc_tensor in[2], out;
    in[0] = there(tc, ROWS, COLS, 1, TC_F32), in[1] = there(tc, 1, COLS, 2, TC_F32);
    call(tc, softmax_of_product, in, 2, &out, 1);
    REQUIRE(tc_read(out, y, sizeof y) == TC_OK);
    for (size_t r = 0; r < ROWS; r++) {
        double top = -INFINITY, sum = 0;
        for (size_t c = 0; c < COLS; c++)
            top = fmax(top, number(r * COLS + c, 1) * number(c, 2));
        for (size_t c = 0; c < COLS; c++)
            sum += exp(number(r * COLS + c, 1) * number(c, 2) - top);
        for (size_t c = 0; c < COLS; c++)
            CHECK_NEAR(y[r * COLS + c],
                       exp(number(r * COLS + c, 1) * number(c, 2) - top) / sum, 1e-6);
    }
    tc_close(tc);
}

// ---- columns whose threads have single rows, and no row too few ----

static void places(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_argmax(in[0], 0), out[1] = tc_argmin(in[0], 0);
    out[2] = tc_sub(in[0], tc_cast(tc_unsqueeze(tc_argmax(tc_abs(in[0]), 0), 0), TC_F64));
}

TEST(places_in_columns_of_single_rows) {
    enum { ROWS = 1000, COLS = 64 };
    static int64_t most[COLS], least[COLS];
    static double less[ROWS * COLS];
    tc_ctx *tc = open_there();
    tc_tensor x = there(tc, ROWS, COLS, 1, TC_F64), out[3];
    call(tc, places, &x, 1, out, 3);
    REQUIRE(tc_read(out[0], most, sizeof most) == TC_OK);
    REQUIRE(tc_read(out[1], least, sizeof least) == TC_OK);
    REQUIRE(tc_read(out[2], less, sizeof less) == TC_OK);
    for (size_t c = 0; c < COLS; c++) {
        size_t high = 0, low = 0, far = 0;
        for (size_t r = 1; r < ROWS; r++) {
            double v = number(r * COLS + c, 1);
            if (v > number(high * COLS + c, 1)) high = r;
            if (v < number(low * COLS + c, 1)) low = r;
            if (fabs(v) > fabs(number(far * COLS + c, 1))) far = r;
        }
        CHECK_EQ(most[c], (int64_t)high);
        CHECK_EQ(least[c], (int64_t)low);
        for (size_t r = 0; r < ROWS; r++)
            CHECK(less[r * COLS + c] == number(r * COLS + c, 1) - (double)far);
    }
    tc_close(tc);
}
