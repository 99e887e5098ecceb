// A CUDA graph replayed very often with inputs that change: every result that is looked at is right, and
// the device's memory stays as large as it was.
#include "tcompile.h"

#include "tcompile_cuda.h"

#define TEST_NO_MAIN
#include "harness.h"
#include "tools/cuda_device.h"

#include <math.h>

enum { ROWS = 8, COLS = 96, INPUTS = 7, REPLAYS = 100000, REPLAYS_EMULATED = 70 };

static float value(int set, int i) {
    return (float)((i * 37 + set * 101) % 89) / 89 - 0.5f;
}

// Others at every replay for a while, then the same a few times.
static int set_of(int replay) { return (replay % 20 < 10 ? replay : replay / 3) % INPUTS; }

// Several kernels that wait for each other: rows, a product, a sum of all.
static void body(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    tc_tensor y = tc_softmax(in[0], -1);
    out[0] = tc_mul(tc_matmul(y, in[1]), tc_sum_all(in[0]));
}

static void expect(const float *x, const float *w, double *out) {
    double all = 0;
    for (int i = 0; i < ROWS * COLS; i++) all += x[i];
    for (int r = 0; r < ROWS; r++) {
        double sum = 0;
        for (int c = 0; c < COLS; c++) sum += exp((double)x[r * COLS + c]);
        for (int n = 0; n < COLS; n++) {
            double dot = 0;
            for (int c = 0; c < COLS; c++)
                dot += exp((double)x[r * COLS + c]) / sum * w[c * COLS + n];
            out[r * COLS + n] = dot * all;
        }
    }
}

static void check_result(tc_tensor t, const double *want, int replay) {
    float y[ROWS * COLS];
    CHECK_EQ(tc_read(t, y, sizeof y), TC_OK);
    for (int i = 0; i < ROWS * COLS; i++)
        if (!(fabs(y[i] - want[i]) <= 1e-4 * (1 + fabs(want[i])))) {
            FAIL("replay %d: element %d is %g, not %g", replay, i, y[i], want[i]);
            return;
        }
}

// What this context holds; what is free of the device is other programs' business too.
static void held(tc_ctx *tc, char text[512]) {
    CHECK(tc_cuda_memory(tc, 0, text, 512));
    char *end = strstr(text, ", copies");
    if (CHECK(end != NULL)) *end = 0;
}

TEST(many_replays) {
    static float x[INPUTS][ROWS * COLS], w[COLS * COLS];
    static double want[INPUTS][ROWS * COLS];
    char before[512], after[512];
    tc_tensor in[2], set[INPUTS], out;
    tc_options o = tc_options_default();
    tc_ctx *tc = tc_open(NULL);
    REQUIRE(open_device(tc));
    int replays = device_is_real ? REPLAYS : REPLAYS_EMULATED;
    for (int i = 0; i < COLS * COLS; i++) w[i] = value(INPUTS, i);
    in[1] = tc_to(tc_from_data(tc, w, TC_DIMS(COLS, COLS), TC_F32), DEVICE_NAME);
    for (int k = 0; k < INPUTS; k++) {
        for (int i = 0; i < ROWS * COLS; i++) x[k][i] = value(k, i);
        expect(x[k], w, want[k]);
        set[k] = tc_to(tc_from_data(tc, x[k], TC_DIMS(ROWS, COLS), TC_F32), DEVICE_NAME);
    }
    o.mode = "reduce-overhead";
    tc_fn *f = tc_compile(tc, body, NULL, 0, &o);
    for (int k = 0; k < replays; k++) {
        in[0] = set[set_of(k)];
        tc_scope_begin(tc);
        REQUIRE(tc_call(f, in, 2, &out, 1) == TC_OK);
        if (k % (device_is_real ? 997 : 1) == 0) check_result(out, want[set_of(k)], k);
        tc_scope_end(tc);
        if (k == replays / 10) held(tc, before);
    }
    held(tc, after);
    CHECK_STR(after, before);
    CHECK(strstr(tc_explain(tc), "a graph") != NULL);
    tc_close(tc);
    check_device_closed();
}

// ---- operands that the device brings by tensor maps: made again where a tensor has moved, and then only

enum { M = 72, N = 80, K = 136, PAIRS = 3, TURNS = 24 };

static void product(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_relu(tc_matmul(in[0], in[1]));
}

// -1, 0 or 1: sums of them are whole numbers that halves hold.
static float small(int set, int i) { return (float)((i * 37 + set * 101) % 89 % 3) - 1; }

static int maps_made(void) {
    int n = 0;
    for (int i = 0; fake && i < fake->calls && i < FAKE_CALLS; i++)
        n += !strcmp(fake->name[i], "cuTensorMapEncodeTiled");
    return n;
}

static tc_tensor halves_of(tc_ctx *tc, int set, int rows, int cols) {
    static float x[K * (M + N)];
    for (int i = 0; i < rows * cols; i++) x[i] = small(set, i);
    return tc_to(tc_cast(tc_from_data(tc, x, TC_DIMS(rows, cols), TC_F32), TC_BF16),
                 DEVICE_NAME);
}

static void check_product(tc_tensor t, int left, int right, int turn) {
    static float y[M * N];
    CHECK_EQ(tc_read(tc_cast(t, TC_F32), y, sizeof y), TC_OK);
    for (int r = 0; r < M; r++)
        for (int c = 0; c < N; c++) {
            float sum = 0;
            for (int k = 0; k < K; k++)
                sum += small(left, r * K + k) * small(right, k * N + c);
            if (y[r * N + c] != (sum > 0 ? sum : 0)) {
                FAIL("turn %d: [%d, %d] is %g, not %g", turn, r, c, y[r * N + c], sum);
                return;
            }
        }
}

TEST(tensors_that_move) {
    static const char *const modes[] = {"default", "reduce-overhead"};
    tc_tensor left[PAIRS], right[PAIRS], in[2], out;
    tc_ctx *tc = tc_open(NULL);
    REQUIRE(open_device(tc));
    for (int i = 0; i < PAIRS; i++) {
        left[i] = halves_of(tc, i, M, K);
        right[i] = halves_of(tc, PAIRS + i, K, N);
    }
    for (int mode = 0; mode < 2; mode++) {
        tc_options o = tc_options_default();
        o.mode = modes[mode];
        tc_fn *f = tc_compile(tc, product, NULL, 0, &o);
        for (int i = 0; i < TURNS; i++) {
            int l = i / 4 % PAIRS, r = i / 6 % PAIRS, before = maps_made();
            in[0] = left[l], in[1] = right[r];
            tc_scope_begin(tc);
            REQUIRE(tc_call(f, in, 2, &out, 1) == TC_OK);
            check_product(out, l, PAIRS + r, i);
            tc_scope_end(tc);
            if (device_is_real || i < 2) continue; // the second call runs the body again
            CHECK_EQ(maps_made() - before, (i % 4 == 0) + (i % 6 == 0));
        }
        tc_fn_free(f);
    }
    if (!device_is_real) CHECK(maps_made() > 2 * TURNS / 4);
    tc_close(tc);
    check_device_closed();
}
