// f8e4m3 and f8e5m2: every code and every rounding by their definition in double (halves.h), eagerly, as a region
// interpreted, as a region compiled; what is refused; what moves them.
#include "tcompile.h"

#include "halves.h"
#include "harness.h"

#include "help.h"

// tests/cuda/bytes.c has the same on a device: it defines BYTES_DEVICE, and what is below.
#ifndef BYTES_DEVICE
static tc_tensor there(tc_tensor t) { return t; } // operands go where the ops run
static tc_ctx *open_there(const char *backend) { return open_backend(backend); }
enum { FIRST_RUN = 0 };
#endif

enum { RUNS = 3 };
static const char *const backends[RUNS] = {"eager run", "aot_eager", "cpu"};
static const tc_dtype both[2] = {TC_F8E4M3, TC_F8E5M2};
static const byte_format formats[2] = {{3, -6, 0x7f, 0}, {2, -14, 0x7c, 1}};

static tc_ctx *begin(int run) {
    tc_ctx *tc = open_there(run ? backends[run] : "cpu");
    return tc;
}

static void enter(tc_ctx *tc, int run) {
    if (run) tc_trace_begin_at(tc, backends[run], NULL, "bytes.c", 1);
}

static void leave(tc_ctx *tc, int run) {
    if (run) CHECK_EQ(tc_trace_end(tc), TC_OK);
    if (tc_error(tc)) FAIL("%s: %s", backends[run], tc_error_text(tc));
}

static void codes(uint8_t *to, int n) {
    for (int i = 0; i < n; i++) to[i] = (uint8_t)(i * 77 + i / 256);
}

// Elements as doubles; NaN is one number, zeros are told apart.
static void expect(tc_tensor t, const double *want, int n, const char *what, int run) {
    double *got = (double *)calloc((size_t)n + 1, sizeof *got);
    CHECK_EQ(tc_numel(t), n);
    CHECK_EQ(tc_read(tc_to_f64(tc_to(t, "cpu")), got, (size_t)n * sizeof *got), TC_OK);
    for (int i = 0; i < n; i++) {
        int same = got[i] == want[i] && signbit(got[i]) == signbit(want[i]);
        if (same || (got[i] != got[i] && want[i] != want[i])) continue;
        FAIL("%s, %s: element %d is %g, not %g", backends[run], what, i, got[i], want[i]);
        break;
    }
    free(got);
}

static void expect_bytes(tc_tensor t, byte_format f, const uint8_t *want, int n,
                         const char *what, int run) {
    uint8_t *got = (uint8_t *)calloc((size_t)n + 1, 1);
    CHECK_EQ(tc_numel(t), n);
    CHECK_EQ(tc_read(t, got, (size_t)n), TC_OK);
    for (int i = 0; i < n; i++) {
        if (byte_same(f, got[i], want[i])) continue;
        FAIL("%s, %s: element %d is %02x, not %02x", backends[run], what, i, got[i],
             want[i]);
        break;
    }
    free(got);
}

// Vectors, the rest behind them, and one element.
static const int lengths[] = {256, 1031, 7, 1};

static void check_codes(void) {
    static uint8_t at[1031];
    static double want[1031];
    codes(at, 1031);
    for (int run = FIRST_RUN; run < RUNS; run++)
        for (int k = 0; k < 8; k++) {
            int t = k % 2, n = lengths[k / 2];
            byte_format f = formats[t];
            tc_ctx *tc = begin(run);
            tc_tensor x = there(tc_from_data(tc, at, TC_DIMS(n), both[t]));
            enter(tc, run);
            tc_tensor single = tc_to_f32(x), large = tc_to_f64(x);
            tc_tensor half = tc_cast(x, TC_F16), brain = tc_cast(x, TC_BF16);
            tc_tensor copy = tc_clone(tc_flip(x, TC_DIMS(0))), truth = tc_to_bool(x);
            tc_tensor whole = tc_cast(x, TC_I16), again = tc_cast(tc_to_f32(x), both[t]);
            tc_tensor other = tc_cast(x, both[!t]);
            leave(tc, run);
            for (int i = 0; i < n; i++) want[i] = byte_value(f, at[i]);
            expect(single, want, n, "f32", run), expect(large, want, n, "f64", run);
            expect(half, want, n, "f16", run), expect(brain, want, n, "bf16", run);
            expect_bytes(again, f, at, n, "through f32", run);
            for (int i = 0; i < n; i++) want[i] = byte_value(f, at[n - 1 - i]);
            expect(copy, want, n, "flip", run);
            for (int i = 0; i < n; i++) {
                double v = byte_value(f, at[i]);
                want[i] = v != v ? 0 : v > 32767 ? 32767 : v < -32768 ? -32768 : trunc(v);
                want[i] += 0; // of integers -0 is 0
            }
            expect(whole, want, n, "i16", run);
            for (int i = 0; i < n; i++) want[i] = byte_value(f, at[i]) != 0;
            expect(truth, want, n, "bool", run);
            for (int i = 0; i < n; i++)
                want[i] = byte_value(formats[!t],
                                     byte_nearest(formats[!t], byte_value(f, at[i])));
            expect(other, want, n, "the other f8", run);
            tc_close(tc);
        }
}

static void check_roundings(void) {
    static float x[BYTE_CASES];
    static double wide[BYTE_CASES];
    static uint8_t want[BYTE_CASES], scaled[BYTE_CASES];
    for (int run = FIRST_RUN; run < RUNS; run++)
        for (int t = 0; t < 2; t++) {
            byte_format f = formats[t];
            tc_ctx *tc = begin(run);
            byte_cases(f, x);
            for (int i = 0; i < BYTE_CASES; i++) {
                volatile float twice = 2 * x[i];
                wide[i] = (double)x[i] * (1 + 0x1p-40); // rounded to f32 on its way
                want[i] = byte_nearest(f, (double)x[i]);
                scaled[i] = byte_nearest(f, (double)twice);
            }
            tc_tensor a = there(tc_from_data(tc, x, TC_DIMS(BYTE_CASES), TC_F32));
            tc_tensor b = there(tc_from_data(tc, wide, TC_DIMS(BYTE_CASES), TC_F64));
            enter(tc, run);
            tc_tensor y = tc_cast(a, both[t]), z = tc_cast(tc_mul_s(a, 2), both[t]);
            tc_tensor w = tc_cast(b, both[t]), back = tc_to_f32(tc_cast(a, both[t]));
            tc_tensor least = tc_cast(tc_narrow(a, 0, 3, 5), both[t]);
            leave(tc, run);
            expect_bytes(y, f, want, BYTE_CASES, "of f32", run);
            expect_bytes(z, f, scaled, BYTE_CASES, "of twice", run);
            expect_bytes(w, f, want, BYTE_CASES, "of f64", run);
            expect_bytes(least, f, want + 3, 5, "of five", run);
            for (int i = 0; i < BYTE_CASES; i++) wide[i] = byte_value(f, want[i]);
            expect(back, wide, BYTE_CASES, "and back", run);
            tc_close(tc);
        }
}

TEST(every_code) { check_codes(); }
TEST(every_rounding) { check_roundings(); }

TEST(integers_are_rounded) {
    enum { N = 1201 };
    static int32_t x[N];
    static uint8_t want[N];
    for (int run = FIRST_RUN; run < RUNS; run++)
        for (int t = 0; t < 2; t++) {
            tc_ctx *tc = begin(run);
            for (int i = 0; i < N; i++) {
                x[i] = i < 1000 ? i - 500 : (i - 1100) * 1217;
                want[i] = byte_nearest(formats[t], (double)x[i]);
            }
            tc_tensor a = there(tc_from_data(tc, x, TC_DIMS(N), TC_I32));
            enter(tc, run);
            tc_tensor y = tc_cast(a, both[t]), z = tc_cast(tc_to_i64(a), both[t]);
            leave(tc, run);
            expect_bytes(y, formats[t], want, N, "of i32", run);
            expect_bytes(z, formats[t], want, N, "of i64", run);
            tc_close(tc);
        }
}

// What moves, compares and selects; a scalar is rounded as it is stored.
TEST(moved_compared_selected) {
    enum { R = 24, C = 33, N = R * C };
    static uint8_t at[2 * N], want[2 * N];
    static double truth[N];
    codes(at, 2 * N);
    for (int run = FIRST_RUN; run < RUNS; run++)
        for (int t = 0; t < 2; t++) {
            byte_format f = formats[t];
            tc_ctx *tc = begin(run);
            tc_tensor x = there(tc_from_data(tc, at, TC_DIMS(R, C), both[t]));
            tc_tensor y = there(tc_from_data(tc, at + N, TC_DIMS(R, C), both[t]));
            enter(tc, run);
            tc_tensor list[2], less = tc_lt(x, y), equal = tc_eq_s(x, 0.1);
            list[0] = x, list[1] = tc_slice(y, 0, -1, TC_END, -1);
            tc_tensor joined = tc_cat(list, 2, 0);
            tc_tensor picked = tc_where(less, x, y), turned = tc_contiguous(tc_t(x));
            tc_tensor padded = tc_pad(x, TC_DIMS(0, 0), TC_DIMS(0, 1), 0.3);
            tc_tensor filled = tc_masked_fill(x, less, 1.07), full = tc_full_like(x, 1e9);
            leave(tc, run);
            for (int i = 0; i < N; i++) want[i] = at[i];
            for (int i = 0; i < N; i++) want[N + i] = at[N + (R - 1 - i / C) * C + i % C];
            expect_bytes(joined, f, want, 2 * N, "cat", run);
            for (int i = 0; i < N; i++)
                truth[i] = byte_value(f, at[i]) < byte_value(f, at[N + i]);
            expect(less, truth, N, "lt", run);
            for (int i = 0; i < N; i++) want[i] = truth[i] != 0 ? at[i] : at[N + i];
            expect_bytes(picked, f, want, N, "where", run);
            for (int i = 0; i < N; i++)
                want[i] = truth[i] != 0 ? byte_nearest(f, 1.07) : at[i];
            expect_bytes(filled, f, want, N, "masked_fill", run);
            for (int i = 0; i < N; i++)
                truth[i] = byte_value(f, at[i]) == byte_value(f, byte_nearest(f, 0.1));
            expect(equal, truth, N, "eq_s", run);
            for (int i = 0; i < N; i++) want[i] = at[i % R * C + i / R];
            expect_bytes(turned, f, want, N, "t", run);
            for (int i = 0; i < R * (C + 1); i++)
                want[i] = i % (C + 1) < C ? at[i / (C + 1) * C + i % (C + 1)]
                                          : byte_nearest(f, 0.3);
            expect_bytes(padded, f, want, R * (C + 1), "pad", run);
            for (int i = 0; i < N; i++) want[i] = byte_nearest(f, 1e9);
            expect_bytes(full, f, want, N, "full", run);
            tc_close(tc);
        }
}

// A product of what they are cast to, with scales of rows and columns behind it: their numbers and products are exact
// in f32, so sums of few steps are too.
TEST(products_of_casts) {
    enum { M = 17, K = 40, N = 35 };
    static uint8_t a[M * K], b[K * N];
    static float rows[M], columns[N];
    static double want[M * N];
    for (int run = FIRST_RUN; run < RUNS; run++)
        for (int k = 0; k < 6; k++) {
            int t = k % 2, wide = k / 2;
            static const tc_dtype computed[3] = {TC_F32, TC_BF16, TC_F16};
            for (int i = 0; i < M * K; i++) // -1.75 to 1.75
                a[i] = byte_nearest(formats[t], (double)(i * 7 % 15 - 7) / 4);
            for (int i = 0; i < K * N; i++)
                b[i] = byte_nearest(formats[!t], (double)(i * 5 % 13 - 6) / 2);
            for (int i = 0; i < M; i++) rows[i] = (float)half_power(i % 4 - 2);
            for (int i = 0; i < N; i++) columns[i] = (float)half_power(i % 3);
            for (int i = 0; i < M * N; i++) {
                double s = 0;
                for (int d = 0; d < K; d++)
                    s += byte_value(formats[t], a[i / N * K + d]) *
                         byte_value(formats[!t], b[d * N + i % N]);
                want[i] = s * (double)rows[i / N] * (double)columns[i % N] + 0;
            }
            tc_ctx *tc = begin(run);
            tc_tensor x = there(tc_from_data(tc, a, TC_DIMS(M, K), both[t]));
            tc_tensor y = there(tc_from_data(tc, b, TC_DIMS(K, N), both[!t]));
            tc_tensor r = there(tc_from_data(tc, rows, TC_DIMS(M, 1), TC_F32));
            tc_tensor c = there(tc_from_data(tc, columns, TC_DIMS(N), TC_F32));
            enter(tc, run);
            tc_tensor p = tc_matmul(tc_cast(x, computed[wide]), tc_cast(y, computed[wide]));
            tc_tensor z = tc_mul(tc_mul(tc_to_f32(p), r), c);
            leave(tc, run);
            // The product of halves is one: its sums here have at most 11 bits, of bf16 not.
            if (computed[wide] != TC_BF16) expect(z, want, M * N, "product", run);
            if (computed[wide] == TC_BF16) {
                static float got[M * N];
                CHECK_EQ(tc_read(tc_to(z, "cpu"), got, sizeof got), TC_OK);
                for (int i = 0; i < M * N; i++)
                    CHECK(fabs((double)got[i] - want[i]) <= fabs(want[i]) * 0x1p-8);
            }
            tc_close(tc);
        }
}

// What is rounded on its way has gradients as if it was not.
TEST(gradients_go_through) {
    static const float x[4] = {1, 2.3f, -0.4f, 5};
    for (int run = 1; run < RUNS; run++)
        for (int t = 0; t < 2; t++) {
            double want[4];
            tc_tensor g = tc_null();
            tc_ctx *tc = begin(run);
            tc_tensor a = there(tc_from_data(tc, x, TC_DIMS(4), TC_F32));
            enter(tc, run);
            tc_tensor y = tc_to_f32(tc_cast(a, both[t]));
            tc_tensor loss = tc_sum_all(tc_mul(y, a));
            CHECK_EQ(tc_grad(loss, &a, 1, &g), TC_OK);
            leave(tc, run);
            for (int i = 0; i < 4; i++) {
                double v = byte_value(formats[t], byte_nearest(formats[t], (double)x[i]));
                want[i] = (double)(float)(v + (double)x[i]);
            }
            expect(g, want, 4, "gradient", run);
            tc_close(tc);
        }
}

// The same where elements are taken from places: they are added there, in f32, in the order of the index.
TEST(gradients_of_what_is_taken) {
    enum { ROWS = 6, COLS = 4, TAKEN = 5 };
    static const int64_t rows[TAKEN] = {0, 3, 3, 5, 0};
    float x[ROWS * COLS], w[TAKEN * COLS], v[ROWS * COLS];
    int64_t cols[ROWS * COLS];
    for (int i = 0; i < ROWS * COLS; i++)
        x[i] = (float)(i * 5 % 23) / 4, v[i] = (float)(i % 7) - 2.5f,
        cols[i] = i * i % COLS;
    for (int i = 0; i < TAKEN * COLS; i++) w[i] = (float)(i % 9) - 3.25f;
    for (int run = 1; run < RUNS; run++)
        for (int t = 0; t < 2; t++) {
            double taken[ROWS * COLS] = {0}, gathered[ROWS * COLS] = {0},
                                sorted[ROWS * COLS];
            tc_ctx *tc = begin(run);
            tc_tensor a = there(tc_from_data(tc, x, TC_DIMS(ROWS, COLS), TC_F32)),
                      at = there(tc_from_data(tc, rows, TC_DIMS(TAKEN), TC_I64)),
                      in = there(tc_from_data(tc, cols, TC_DIMS(ROWS, COLS), TC_I64)),
                      by = there(tc_from_data(tc, w, TC_DIMS(TAKEN, COLS), TC_F32)),
                      each = there(tc_from_data(tc, v, TC_DIMS(ROWS, COLS), TC_F32)), g[4],
                      index;
            enter(tc, run);
            tc_tensor q = tc_cast(a, both[t]), y[4];
            y[0] = tc_mul(tc_to_f32(tc_embedding(q, at)), by);
            y[1] = tc_mul(tc_to_f32(tc_index_select(q, 0, at)), by);
            y[2] = tc_mul(tc_to_f32(tc_gather(q, 1, in)), each);
            CHECK_EQ(tc_sort(q, 1, 0, &y[3], &index), TC_OK);
            y[3] = tc_to_f32(y[3]);
            for (int i = 0; i < 4; i++)
                CHECK_EQ(tc_grad(tc_sum_all(y[i]), &a, 1, &g[i]), TC_OK);
            leave(tc, run);
            for (int i = 0; i < TAKEN * COLS; i++)
                taken[rows[i / COLS] * COLS + i % COLS] += (double)w[i];
            for (int i = 0; i < ROWS * COLS; i++)
                gathered[i / COLS * COLS + cols[i]] += (double)v[i], sorted[i] = 1;
            expect(g[0], taken, ROWS * COLS, "gradient of an embedding", run);
            expect(g[1], taken, ROWS * COLS, "gradient of index_select", run);
            expect(g[2], gathered, ROWS * COLS, "gradient of gather", run);
            expect(g[3], sorted, ROWS * COLS, "gradient of sort", run);
            tc_close(tc);
        }
}

// h = f8(h * w + x), three times: gradients as if it was not rounded, of the values that were.
static void turn(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    const tc_tensor *w = (const tc_tensor *)user;
    (void)tc;
    out[0] = tc_cast(tc_add(tc_mul(tc_to_f32(in[0]), w[0]), in[1]),
                     w[1].id ? TC_F8E5M2 : TC_F8E4M3);
}

TEST(gradients_of_carries) {
    enum { TURNS = 3, N = 4 };
    static const float w[N] = {0.5f, 1, 0.25f, 2}, h[N] = {1, 2, 0.5f, 1},
                       x[TURNS * N] = {.5f,  1,   .25f, .5f, .5f, 1,
                                       .25f, .5f, .25f, .5f, 1,   .5f};
    for (int run = 1; run < RUNS; run++)
        for (int t = 0; t < 2; t++) {
            double dw[N], dh[N];
            tc_ctx *tc = begin(run);
            tc_tensor tw = there(tc_from_data(tc, w, TC_DIMS(N), TC_F32)),
                      th = there(tc_from_data(tc, h, TC_DIMS(N), TC_F32)),
                      tx = there(tc_from_data(tc, x, TC_DIMS(TURNS, N), TC_F32)), last,
                      g[2], wrt[2], user[2];
            user[0] = tw, user[1] = t ? tw : tc_null(), wrt[0] = tw, wrt[1] = th;
            enter(tc, run);
            tc_tensor first = tc_cast(th, both[t]);
            CHECK_EQ(tc_scan(turn, user, &first, 1, &tx, 1, &last, NULL, 0), TC_OK);
            CHECK_EQ(tc_grad(tc_sum_all(tc_to_f32(last)), wrt, 2, g), TC_OK);
            leave(tc, run);
            for (int i = 0; i < N; i++) {
                double at = byte_value(formats[t], byte_nearest(formats[t], (double)h[i]));
                dw[i] = 0, dh[i] = 1;
                for (int k = 0; k < TURNS; k++) {
                    dw[i] = dw[i] * (double)w[i] + at, dh[i] *= (double)w[i];
                    at = byte_value(
                        formats[t],
                        byte_nearest(formats[t], at * (double)w[i] + (double)x[k * N + i]));
                }
            }
            expect(g[0], dw, N, "gradient of a weight", run);
            expect(g[1], dh, N, "gradient of the first carry", run);
            tc_close(tc);
        }
}

// A number that is filled in has the bits of the dtype, eagerly and in a region.
TEST(numbers_are_rounded_where_they_are_filled_in) {
    for (int run = 0; run < RUNS; run++)
        for (int t = 0; t < 2; t++) {
            double third = byte_value(formats[t], byte_nearest(formats[t], 0.3)),
                   want[4] = {third, 2, 3, third};
            static const float x[2] = {2, 3};
            tc_ctx *tc = begin(run);
            tc_tensor a = there(tc_from_data(tc, x, TC_DIMS(2), TC_F32));
            enter(tc, run);
            tc_tensor y =
                tc_to_f32(tc_pad(tc_cast(a, both[t]), TC_DIMS(1), TC_DIMS(1), 0.3));
            leave(tc, run);
            expect(y, want, 4, "pad", run);
            tc_close(tc);
        }
}

#ifndef BYTES_DEVICE
static void refused(tc_ctx *tc, tc_tensor t, const char *text) {
    CHECK(!t.id);
    CHECK_EQ(tc_error(tc), TC_E_DTYPE);
    if (!strstr(tc_error_text(tc), text)) FAIL("%s: %s", text, tc_error_text(tc));
    tc_error_clear(tc);
}

TEST(what_computes_is_refused) {
    tc_ctx *tc = tc_open(NULL);
    for (int t = 0; t < 2; t++) {
        tc_tensor x = tc_ones(tc, TC_DIMS(4, 4), both[t]), f = tc_ones_like(tc_to_f32(x));
        const char *name = tc_dtype_name(both[t]);
        char text[100];
#    define REFUSED(call, op)                                                              \
        snprintf(text, sizeof text, "%s: not defined on %s, which is for storage", op,     \
                 name);                                                                    \
        refused(tc, call, text)
        REFUSED(tc_add(x, x), "add");
        REFUSED(tc_add(x, f), "add");
        REFUSED(tc_mul_s(x, 2), "mul");
        REFUSED(tc_neg(x), "neg");
        REFUSED(tc_exp(x), "exp");
        REFUSED(tc_floor(x), "floor");
        REFUSED(tc_maximum(x, x), "maximum");
        REFUSED(tc_matmul(x, x), "matmul");
        REFUSED(tc_matmul(f, x), "matmul");
        REFUSED(tc_sum_all(x), "sum");
        REFUSED(tc_amax(x, 0), "amax");
        REFUSED(tc_argmax(x, 0), "argmax");
        REFUSED(tc_mean(x, 0), "mean");
        REFUSED(tc_softmax(x, 0), "softmax");
        REFUSED(tc_cumsum(x, 0), "cumsum");
        REFUSED(tc_gelu(x), "gelu");
#    undef REFUSED
        tc_tensor list[2];
        list[0] = x, list[1] = f;
        snprintf(text, sizeof text, "cat: %s and f32 have no dtype in common", name);
        refused(tc, tc_cat(list, 2, 0), text);
        list[1] = tc_cast(f, both[!t]);
        snprintf(text, sizeof text, "cat: %s and %s have no dtype in common",
                 tc_dtype_name(both[!t]), name);
        refused(tc, tc_cat(list, 2, 0), text);
        refused(tc, tc_lt(x, f), "lt: ");
        refused(tc, tc_where(tc_gt_s(f, 0), x, f), "where: ");
        refused(tc, tc_rand(tc, TC_DIMS(2), both[t]), "rand: needs a float dtype");
        CHECK_EQ(tc_requires_grad(x, 1), TC_E_DTYPE);
        tc_error_clear(tc);
    }
    tc_close(tc);
}

TEST(numbers) {
    tc_ctx *tc = tc_open(NULL);
    CHECK_EQ(tc_dtype_bytes(TC_F8E4M3), 1);
    CHECK_EQ(tc_dtype_bytes(TC_F8E5M2), 1);
    CHECK_NEAR(tc_item(tc_scalar(tc, 1.1, TC_F8E4M3)), 1.125, 0);
    CHECK_NEAR(tc_item(tc_scalar(tc, 1.1, TC_F8E5M2)), 1, 0);
    CHECK_NEAR(tc_item(tc_scalar(tc, -5000, TC_F8E4M3)), -448, 0);
    CHECK(tc_item(tc_scalar(tc, -1e6, TC_F8E5M2)) < -1e30); // infinity
    tc_close(tc);
}
#endif
