// What lies in rows of no whole sectors, and a product reads, has rows apart on a device: kernel/pitch.c. Values and
// gradients against sums in double, with rests in every size, and the operand at either side, along k and across it.
#include "tcompile.h"

#include "tcompile_cuda.h"

#define TEST_NO_MAIN
#include "harness.h"
#include "help.h"
#include "tools/cuda_device.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 40, IN = 24, OUT = 16, MID_MOST = 328 };
enum { X, W, V, G, INPUTS };

static double given(int seed, int i) {
    return (double)((i * 7 + i / 5 + seed * 13) % 17 - 8) / 16; // exact in any dtype
}

// Of what a product reads.
static double rounded(double v, tc_dtype dtype) {
    union {
        float f;
        uint32_t bits;
    } u;
    u.f = (float)v; // in f16 these sums are exact
    if (dtype == TC_BF16) u.bits = (u.bits + 0x7fff + (u.bits >> 16 & 1)) & 0xffff0000u;
    return (double)u.f;
}

// a[m, k] b[k, n], either of them turned in memory.
static void multiply(const double *a, const double *b, double *c, int m, int n, int k,
                     int turned_a, int turned_b) {
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int l = 0; l < k; l++)
                sum += a[turned_a ? l * m + i : i * k + l] *
                       b[turned_b ? j * k + l : l * n + j];
            c[i * n + j] = sum;
        }
}

// h = max(x w, 0); y = h v; z = v' h'; and of the sum of g y the gradients by x, w and v.
typedef struct values {
    double in[INPUTS][MID_MOST * IN], h[ROWS * MID_MOST], dh[ROWS * MID_MOST];
    double y[ROWS * OUT], z[OUT * ROWS], dx[ROWS * IN], dw[IN * MID_MOST],
        dv[MID_MOST * OUT];
} values;

static void expect(values *e, int mid, tc_dtype dtype) {
    multiply(e->in[X], e->in[W], e->h, ROWS, mid, IN, 0, 0);
    multiply(e->in[G], e->in[V], e->dh, ROWS, mid, OUT, 0, 1);
    for (int i = 0; i < ROWS * mid; i++) {
        e->dh[i] = e->h[i] > 0 ? rounded(e->dh[i], dtype) : 0;
        e->h[i] = e->h[i] > 0 ? rounded(e->h[i], dtype) : 0;
    }
    multiply(e->h, e->in[V], e->y, ROWS, OUT, mid, 0, 0);
    multiply(e->in[V], e->h, e->z, OUT, ROWS, mid, 1, 1);
    multiply(e->dh, e->in[W], e->dx, ROWS, IN, mid, 0, 1);
    multiply(e->in[X], e->dh, e->dw, IN, mid, ROWS, 1, 0);
    multiply(e->h, e->in[G], e->dv, mid, OUT, ROWS, 1, 0);
}

static void compare(tc_tensor t, const double *e, int n, double eps, const char *name) {
    double most = 0, off = 0;
    t = tc_to(tc_cast(t, TC_F32), "cpu");
    if (!t.id) return (void)FAIL("%s", name);
    for (int i = 0; i < n; i++) {
        double v = AT(t, i), d = v - e[i];
        if (e[i] > most || -e[i] > most) most = e[i] > 0 ? e[i] : -e[i];
        if (!(d <= off && -d <= off)) off = d == d ? (d > 0 ? d : -d) : 1e30;
    }
    if (!(off <= eps * most)) FAIL("%s: off by %g of %g", name, off, most);
}

static tc_tensor made(tc_ctx *tc, values *e, int which, int rows, int cols,
                      tc_dtype dtype) {
    static float at[MID_MOST * IN];
    for (int i = 0; i < rows * cols; i++) {
        e->in[which][i] = given(which, i);
        at[i] = (float)e->in[which][i];
    }
    tc_tensor t = tc_from_data(tc, at, TC_DIMS(rows, cols), TC_F32);
    return tc_to(tc_cast(t, dtype), DEVICE_NAME);
}

static void check(tc_ctx *tc, int mid, tc_dtype dtype, int apart) {
    values *e = (values *)calloc(1, sizeof *e);
    double eps = dtype == TC_F32 ? 2e-6 : dtype == TC_F16 ? 1e-3 : 8e-3;
    char size[64];
    REQUIRE(e);
    tc_tensor in[3], d[3], g;
    in[X] = made(tc, e, X, ROWS, IN, dtype), in[W] = made(tc, e, W, IN, mid, dtype);
    in[V] = made(tc, e, V, mid, OUT, dtype), g = made(tc, e, G, ROWS, OUT, dtype);
    expect(e, mid, dtype);
    for (int i = 0; i < 3; i++) tc_requires_grad(in[i], 1);
    BEGIN("apart");
    tc_tensor h = tc_relu(tc_matmul(in[X], in[W])), y = tc_matmul(h, in[V]);
    tc_tensor z = tc_matmul(tc_t(in[V]), tc_t(h));
    CHECK_EQ(tc_grad(tc_sum_all(tc_mul(y, g)), in, 3, d), TC_OK);
    y = tc_keep(y), z = tc_keep(z);
    for (int i = 0; i < 3; i++) d[i] = tc_keep(d[i]);
    END();
    if (tc_error(tc)) return free(e);
    compare(y, e->y, ROWS * OUT, eps, "y"), compare(z, e->z, ROWS * OUT, eps, "z");
    compare(d[X], e->dx, ROWS * IN, eps, "dx");
    compare(d[W], e->dw, IN * mid, eps, "dw");
    compare(d[V], e->dv, mid * OUT, eps, "dv");
    snprintf(size, sizeof size, "%s[%d]",
             dtype == TC_F32   ? "f32"
             : dtype == TC_F16 ? "f16"
                               : "bf16",
             ROWS * apart);
    CHECK(strstr(tc_explain(tc), size) || FAIL("no %s\n%s", size, tc_explain(tc)));
    free(e);
}

// Sizes of a row, of them those that are whole accesses, and elements between rows then.
TEST(rows_apart) {
    static const struct {
        int mid;
        tc_dtype dtype;
        int apart;
    } all[] = {{131, TC_F16, 160},  {257, TC_BF16, 288}, {327, TC_F16, 352},
               {140, TC_BF16, 160}, {131, TC_F32, 144},  {77, TC_F32, 80},
               {128, TC_F16, 128},  {63, TC_F16, 63},    {302, TC_BF16, 320}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        tc_config config = tc_config_default();
        config.no_disk_cache = 1;
        tc_ctx *tc = tc_open(&config);
        REQUIRE(open_device(tc));
        check(tc, all[i].mid, all[i].dtype, all[i].apart);
        CHECK_STR(tc_error_text(tc), "");
        tc_close(tc);
        check_device_closed();
    }
}

// ---- long rows of an odd number of columns, which reductions read in vectors and a tail

enum { TOKENS = 264, WIDTH = 8, WORDS = 4101, APART = 4128 };

static double hidden(int t, int k) { return given(1, t * WIDTH + k); }
static double word(int v, int k) { return 2 * given(2, v * WIDTH + k); }
static int target_of(int t) {
    return (t * 997 + 4) % WORDS;
} // the tail, too: t = 148 and others

// The logits of a token, as halves; what their loss is, and by them.
static double loss_of(int t, double *by) {
    double most = -1e30, sum = 0;
    for (int v = 0; v < WORDS; v++) {
        by[v] = 0;
        for (int k = 0; k < WIDTH; k++) by[v] += hidden(t, k) * word(v, k);
        by[v] = rounded(by[v], TC_BF16);
        if (by[v] > most) most = by[v];
    }
    double wanted = by[target_of(t)];
    for (int v = 0; v < WORDS; v++) sum += exp(by[v] - most);
    for (int v = 0; v < WORDS; v++) {
        by[v] = (exp(by[v] - most) / sum - (v == target_of(t))) / TOKENS;
        by[v] = rounded(by[v], TC_BF16);
    }
    return (most + log(sum) - wanted) / TOKENS;
}

typedef struct words {
    float x[TOKENS * WIDTH], w[WORDS * WIDTH];
    int64_t target[TOKENS];
    double by[WORDS], loss[1], dx[TOKENS * WIDTH], dw[WORDS * WIDTH];
} words;

static void expect_words(words *e) {
    for (int i = 0; i < TOKENS * WIDTH; i++) e->x[i] = (float)hidden(i / WIDTH, i % WIDTH);
    for (int i = 0; i < WORDS * WIDTH; i++) e->w[i] = (float)word(i / WIDTH, i % WIDTH);
    for (int t = 0; t < TOKENS; t++) {
        e->target[t] = target_of(t);
        e->loss[0] += loss_of(t, e->by);
        for (int v = 0; v < WORDS; v++)
            for (int k = 0; k < WIDTH; k++) {
                e->dx[t * WIDTH + k] += e->by[v] * word(v, k);
                e->dw[v * WIDTH + k] += e->by[v] * hidden(t, k);
            }
    }
}

static void check_words(tc_ctx *tc, words *e) {
    char size[64];
    tc_tensor in[2], d[2], target;
    in[0] = tc_to(tc_from_data(tc, e->x, TC_DIMS(TOKENS, WIDTH), TC_F32), DEVICE_NAME);
    in[1] = tc_to(tc_from_data(tc, e->w, TC_DIMS(WORDS, WIDTH), TC_F32), DEVICE_NAME);
    target = tc_to(tc_from_data(tc, e->target, TC_DIMS(TOKENS), TC_I64), DEVICE_NAME);
    for (int i = 0; i < 2; i++) tc_requires_grad(in[i], 1);
    BEGIN("words");
    tc_autocast_begin(tc, TC_BF16);
    tc_tensor loss = tc_cross_entropy(tc_linear(in[0], in[1], tc_null()), target);
    tc_autocast_end(tc);
    CHECK_EQ(tc_grad(loss, in, 2, d), TC_OK);
    loss = tc_keep(loss), d[0] = tc_keep(d[0]), d[1] = tc_keep(d[1]);
    END();
    if (tc_error(tc)) return;
    compare(loss, e->loss, 1, 1e-4, "loss");
    compare(d[0], e->dx, TOKENS * WIDTH, 1e-2, "dx");
    compare(d[1], e->dw, WORDS * WIDTH, 1e-2, "dw");
    snprintf(size, sizeof size, "bf16[%d]", TOKENS * APART);
    CHECK(strstr(tc_explain(tc), size) || FAIL("no %s\n%s", size, tc_explain(tc)));
    snprintf(size, sizeof size, "bf16[%d]", TOKENS * WORDS);
    CHECK(!strstr(tc_explain(tc), size) || FAIL("%s", tc_explain(tc)));
}

TEST(words_apart) {
    words *e = (words *)calloc(1, sizeof *e);
    tc_config config = tc_config_default();
    config.no_disk_cache = 1;
    tc_ctx *tc = tc_open(&config);
    REQUIRE(e && open_device(tc));
    expect_words(e);
    check_words(tc, e);
    CHECK_STR(tc_error_text(tc), "");
    tc_close(tc);
    check_device_closed();
    free(e);
}
