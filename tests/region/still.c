// Kernels of constants alone (exec/still.c) run once and what they store stays: values against loops in double, for other
// operands, sizes, constants and stances, with what is written in between; how often they ran is what the profiler counts.
#include "tcompile.h"

#include "harness.h"

#include "help.h"

#include <math.h>

enum { N = 48, RUNS = 4, SUMS = N * N };

// [n, N] of numbers from `from` on.
static float *numbers(int n, unsigned from) {
    float *x = (float *)malloc(sizeof *x * (size_t)(n * N));
    for (int i = 0; i < n * N; i++) x[i] = (float)test_number((unsigned)i, from);
    return x;
}

// Sums over rows of the square of c, times scale.
static void squares(const float *c, double scale, double *out) {
    for (int i = 0; i < N; i++) out[i] = 0;
    for (int i = 0; i < SUMS; i++) out[i % N] += (double)c[i] * c[i] * scale;
}

static int far_from(tc_tensor y, const float *x, int n, const double *s) {
    float *got = (float *)calloc((size_t)(n * N), sizeof *got);
    int far = tc_read(y, got, sizeof *got * (size_t)(n * N)) != TC_OK;
    for (int i = 0; i < n * N; i++)
        far += !(fabs(got[i] - (x[i] + s[i % N])) <= 1e-4 * (1 + fabs(s[i % N])));
    free(got);
    return far;
}

// x + sums of columns of c * c * scale: the sums are a kernel of their own.
static tc_tensor added(tc_tensor x, tc_tensor c, double scale) {
    return tc_add(x, tc_sum(tc_mul_s(tc_square(c), scale), 0));
}

static void count(tc_ctx *tc, int runs, int kernels, int line) {
    char words[80];
    snprintf(words, sizeof words, ": %d runs of %d kernels took ", runs, kernels);
    if (!strstr(tc_profile_text(tc), words))
        test_fail(__FILE__, line, "not \"%s\" in:\n%s", words, tc_profile_text(tc));
}

static void runs_once(tc_ctx *tc, const char *backend, int constant) {
    float *c = numbers(N, 3), *x[RUNS];
    double s[N];
    tc_options o = tc_options_default();
    o.backend = backend;
    squares(c, 2, s);
    tc_tensor tc_c = constant ? tc_const(tc, c, TC_DIMS(N, N), TC_F32)
                              : tc_from_data(tc, c, TC_DIMS(N, N), TC_F32);
    for (int i = 0; i < RUNS; i++) {
        x[i] = numbers(7, (unsigned)i);
        tc_tensor tx = tc_from_data(tc, x[i], TC_DIMS(7, N), TC_F32);
        if (i == 1) CHECK_EQ(tc_profile_begin(tc), TC_OK);
        tc_trace_begin_with(tc, "once", &o);
        tc_tensor y = added(tx, tc_c, 2);
        END();
        CHECK_EQ(far_from(y, x[i], 7, s), 0);
        tc_free(tx), free(x[i]);
    }
    CHECK_EQ(tc_profile_end(tc), TC_OK);
    count(tc, (RUNS - 1) * (constant ? 1 : 2), constant ? 1 : 2, __LINE__);
    tc_free(tc_c), free(c);
}

BOTH(a_kernel_of_constants_runs_once) {
    runs_once(tc, "cpu", 1);
    tc_reset(tc);
    runs_once(tc, "aot_eager", 1);
    tc_reset(tc);
    runs_once(tc, "cpu", 0); // what may change is read again
}

BOTH(other_constants_have_their_own) {
    for (unsigned i = 0; i < RUNS; i++) {
        float *c = numbers(N, i), *x = numbers(7, 9);
        double s[N];
        squares(c, 1, s);
        tc_tensor k = tc_const(tc, c, TC_DIMS(N, N), TC_F32),
                  tx = tc_from_data(tc, x, TC_DIMS(7, N), TC_F32);
        for (int turn = 0; turn < 2; turn++) {
            tc_trace_begin(tc, "others");
            tc_tensor y = added(tx, k, 1);
            END();
            CHECK_EQ(far_from(y, x, 7, s), 0);
        }
        tc_free(k), tc_free(tx), free(c), free(x);
    }
}

// Of a convolution and a product by constants: what is laid out of them, in panels, runs once; not of tensors, nor beside a loop,
// and eager calls lay nothing out. Whole numbers, so that sums are exact.
static tc_tensor weighted(tc_tensor x, tc_tensor w, tc_tensor v) {
    tc_tensor y = tc_conv2d(x, w, tc_null(), 1, 1, 1, 1);
    return tc_matmul(tc_reshape(y, TC_DIMS(64, 64)), tc_t(v));
}

static tc_tensor whole_numbers(tc_ctx *tc, int n, unsigned from, tc_dims d, int constant) {
    float *p = (float *)malloc(sizeof *p * (size_t)n);
    for (int i = 0; i < n; i++) p[i] = (float)(int)(test_word((unsigned)i, from) % 5) - 2;
    tc_tensor t = constant ? tc_const(tc, p, d, TC_F32) : tc_from_data(tc, p, d, TC_F32);
    free(p);
    return t;
}

static void counts_up(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user, out[0] = tc_add(in[0], in[1]);
}

static void lays_out(tc_ctx *tc, int constant, int loop, const float *want) {
    enum { Y = 64 * 64 };
    static float got[Y];
    char name[40];
    tc_tensor x = whole_numbers(tc, 16 * 64, 1, TC_DIMS(1, 16, 8, 8), 0),
              w = whole_numbers(tc, 64 * 16 * 9, 2, TC_DIMS(64, 16, 3, 3), constant),
              v = whole_numbers(tc, 64 * 64, 3, TC_DIMS(64, 64), constant),
              z = tc_zeros(tc, TC_DIMS(1), TC_F32), three = tc_arange(tc, 0, 3, 1, TC_F32);
    snprintf(name, sizeof name, "laid %d %d", constant, loop);
    for (int i = 0; i < RUNS; i++) {
        if (i == 1 && !loop) CHECK_EQ(tc_profile_begin(tc), TC_OK);
        tc_trace_begin_at(tc, name, NULL, name, 1);
        tc_tensor y = weighted(x, w, v), last = tc_null();
        if (loop) tc_scan(counts_up, NULL, &z, 1, &three, 1, &last, NULL, 0);
        END();
        CHECK_EQ(tc_read(y, got, sizeof got), TC_OK);
        int wrong = 0;
        for (int k = 0; k < Y; k++) wrong += got[k] != want[k];
        CHECK_EQ(wrong, 0);
    }
    if (loop) return;
    CHECK_EQ(tc_profile_end(tc), TC_OK);
    count(tc, (RUNS - 1) * 3, 3, __LINE__); // the image with its border, the two products
}

BOTH(weights_are_laid_out_once) {
    static float want[64 * 64], eager[64 * 64];
    for (int constant = 0; constant < 2; constant++) {
        tc_tensor x = whole_numbers(tc, 16 * 64, 1, TC_DIMS(1, 16, 8, 8), 0),
                  w = whole_numbers(tc, 64 * 16 * 9, 2, TC_DIMS(64, 16, 3, 3), constant),
                  v = whole_numbers(tc, 64 * 64, 3, TC_DIMS(64, 64), constant);
        CHECK_EQ(tc_read(weighted(x, w, v), constant ? eager : want, sizeof want), TC_OK);
    }
    CHECK(!memcmp(want, eager, sizeof want));
    // A sum by hand: channel o of place p is element (o, p) of the product's left operand.
    for (int o = 0, c = 63; o < 64; o += 21) {
        double sum = 0;
        for (int p = 0; p < 64; p++) {
            double y = 0;
            for (int k = 0; k < 16 * 9; k++) {
                int row = p / 8 + k / 3 % 3 - 1, column = p % 8 + k % 3 - 1;
                if (row < 0 || row > 7 || column < 0 || column > 7) continue;
                y += ((int)(test_word((unsigned)(o * 16 * 9 + k), 2) % 5) - 2) *
                     ((int)(test_word((unsigned)(k / 9 * 64 + row * 8 + column), 1) % 5) -
                      2);
            }
            sum += y * ((int)(test_word((unsigned)(c * 64 + p), 3) % 5) - 2);
        }
        CHECK_NEAR((double)want[o * 64 + c], sum, 0);
    }
    for (int constant = 0; constant < 2; constant++)
        for (int loop = 0; loop < 2; loop++) lays_out(tc, constant, loop, want);
}

// Memory is laid out anew, and grows: what was kept there is made again.
BOTH(other_sizes_make_it_again) {
    static const int rows[] = {3, 5, 900, 4, 900, 2};
    float *c = numbers(N, 1);
    double s[N];
    squares(c, 1, s);
    tc_tensor k = tc_const(tc, c, TC_DIMS(N, N), TC_F32);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        float *x = numbers(rows[i], (unsigned)i);
        tc_tensor tx = tc_from_data(tc, x, TC_DIMS(rows[i], N), TC_F32);
        tc_mark_dynamic(tx, 0, 1, 1000);
        for (int turn = 0; turn < 2; turn++) {
            tc_trace_begin(tc, "sizes");
            // Intermediates around it, which have memory of the arena.
            tc_tensor y = tc_cumsum(tc_neg(tc_flip(tc_neg(tx), TC_DIMS(1))), 1);
            y = tc_flip(tc_sub(y, tc_roll(tc_cumsum(tc_flip(tx, TC_DIMS(1)), 1), 0, 1)),
                        TC_DIMS(1));
            tc_tensor z = tc_add(added(tx, k, 1), y);
            END();
            CHECK_EQ(far_from(z, x, rows[i], s), 0);
        }
        tc_free(tx), free(x);
    }
    tc_free(k), free(c);
}

// A result is memory of whoever has it: writing to one does not change the next.
BOTH(results_are_made_in_each_run) {
    float *c = numbers(N, 5), got[N];
    double s[N];
    squares(c, 1, s);
    tc_tensor k = tc_const(tc, c, TC_DIMS(N, N), TC_F32);
    for (int i = 0; i < RUNS; i++) {
        tc_trace_begin(tc, "results");
        tc_tensor y = tc_keep(tc_sum(tc_square(k), 0));
        END();
        CHECK_EQ(tc_read(y, got, sizeof got), TC_OK);
        int far = 0;
        for (int j = 0; j < N; j++) far += !(fabs(got[j] - s[j]) <= 1e-4 * s[j]);
        CHECK_EQ(far, 0);
        tc_add_s_(y, 100), CHECK_EQ(tc_error(tc), TC_OK);
        tc_free(y);
    }
    tc_free(k), free(c);
}

// What a run draws or is told is no constant.
BOTH(numbers_of_a_run_are_made_in_each_run) {
    float *c = numbers(N, 2), *x = numbers(7, 4), got[2][7 * N];
    double s[N];
    tc_tensor k = tc_const(tc, c, TC_DIMS(N, N), TC_F32),
              tx = tc_from_data(tc, x, TC_DIMS(7, N), TC_F32);
    for (int i = 0; i < 8; i++) {
        squares(c, 1 + i * 0.5, s);
        tc_trace_begin(tc, "told");
        tc_tensor y = added(tx, k, 1 + i * 0.5);
        END();
        CHECK_EQ(far_from(y, x, 7, s), 0);
    }
    for (int i = 0; i < 2; i++) {
        tc_trace_begin(tc, "drawn");
        tc_tensor y = tc_add(tx, tc_sum(tc_mul(k, tc_rand(tc, TC_DIMS(N, N), TC_F32)), 0));
        END();
        CHECK_EQ(tc_read(y, got[i], sizeof got[i]), TC_OK);
    }
    CHECK(memcmp(got[0], got[1], sizeof got[0]) != 0);
    tc_free(k), tc_free(tx), free(c), free(x);
}

// Verification runs all of it twice, and finds the same.
BOTH(verified) {
    float *c = numbers(N, 2), *x = numbers(7, 4);
    double s[N];
    tc_options o = tc_options_default();
    o.verify = 1;
    squares(c, 3, s);
    tc_tensor k = tc_const(tc, c, TC_DIMS(N, N), TC_F32),
              tx = tc_from_data(tc, x, TC_DIMS(7, N), TC_F32);
    for (int i = 0; i < RUNS; i++) {
        tc_trace_begin_with(tc, "verified", &o);
        tc_tensor y = added(tx, k, 3);
        END();
        CHECK_EQ(far_from(y, x, 7, s), 0);
    }
    tc_free(k), tc_free(tx), free(c), free(x);
}

static void body_of(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = added(in[0], in[1], 1);
}

// Calls that are known go straight to the program: two constants in turn, and what may change in their place.
BOTH(of_a_function) {
    float *c[3], *x = numbers(7, 8);
    double s[3][N];
    tc_tensor in[3], tx = tc_from_data(tc, x, TC_DIMS(7, N), TC_F32), out;
    tc_options o = tc_options_default();
    tc_fn *f = tc_compile(tc, body_of, NULL, 0, &o);
    for (int i = 0; i < 3; i++) {
        c[i] = numbers(N, (unsigned)i), squares(c[i], 1, s[i]);
        in[i] = i < 2 ? tc_const(tc, c[i], TC_DIMS(N, N), TC_F32)
                      : tc_from_data(tc, c[i], TC_DIMS(N, N), TC_F32);
    }
    for (int turn = 0; turn < 24; turn++) {
        if (turn == 3) CHECK_EQ(tc_profile_begin(tc), TC_OK);
        if (turn == 6) {
            CHECK_EQ(tc_profile_end(tc), TC_OK);
            count(tc, 3, 1, __LINE__);
        }
        int i = turn < 6 ? 0 : turn < 9 ? 1 : turn % 3;
        tc_tensor given[] = {tx, in[i]};
        if (i == 2) { // it changes
            tc_add_s_(in[2], 1), CHECK_EQ(tc_error(tc), TC_OK);
            for (int k = 0; k < SUMS; k++) c[2][k] += 1;
            squares(c[2], 1, s[2]);
        }
        CHECK_EQ(tc_call(f, given, 2, &out, 1), TC_OK);
        CHECK_EQ(far_from(out, x, 7, s[i]), 0);
        tc_free(out);
    }
    tc_fn_free(f), tc_free(tx), free(x);
    for (int i = 0; i < 3; i++) tc_free(in[i]), free(c[i]);
}
