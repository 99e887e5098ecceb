// Parts that a kernel only puts beside each other, on a device: the gradients of q, k and v, which one product made, and others, by
// columns and by rows; what overlaps, leaves something out or is wanted elsewhere as well. Values come from plain C in double
// precision; kernels are counted.
#include "tcompile.h"

#include "tcompile_cuda.h"

#define TEST_NO_MAIN
#include "harness.h"
#include "help.h"
#include "tools/cuda_device.h"
#include "tools/cuda_near.h"

enum {
    BATCH = 2,
    HEADS = 2,
    TOKENS = 64,
    DEEP = 64,
    WIDTH = HEADS * DEEP,
    ROWS = BATCH * TOKENS
};

static tc_tensor heads(tc_tensor qkv, int which) {
    tc_tensor part = tc_slice(qkv, 1, which * WIDTH, (which + 1) * WIDTH, 1);
    return tc_transpose(tc_reshape(part, TC_DIMS(BATCH, TOKENS, HEADS, DEEP)), 1, 2);
}

// Gradients of attention behind one product for q, k and v: of its input, its weights and its bias.
static void attention(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    tc_tensor x = in[0], w = in[1], b = in[2];
    tc_tensor qkv = tc_add(tc_matmul(x, w), tc_cast(b, TC_BF16));
    tc_tensor y = tc_scaled_dot_product_attention(heads(qkv, 0), heads(qkv, 1),
                                                  heads(qkv, 2), tc_null(), 1, 0);
    tc_tensor flat = tc_reshape(tc_transpose(y, 1, 2), TC_DIMS(ROWS, WIDTH));
    tc_tensor loss = tc_sum_all(tc_mul(tc_cast(flat, TC_F32), tc_cast(in[3], TC_F32)));
    tc_grad(loss, ((const tc_tensor[]){x, w, b}), 3, out);
    out[3] = flat;
}

// One head's part of dqkv, from what attention's rows are and what is asked for.
static void head_gradient(const double *qkv, const double *g, double *d, int b, int h) {
    static double p[TOKENS][TOKENS], ds[TOKENS][TOKENS];
    int q = h * DEEP, k = q + WIDTH, v = k + WIDTH;
#define CELL(m, t, c) m[(b * TOKENS + (t)) * 3 * WIDTH + (c)]
    for (int i = 0; i < TOKENS; i++) {
        double sum = 0, dot = 0;
        for (int j = 0; j <= i; j++) {
            double s = 0;
            for (int e = 0; e < DEEP; e++) s += CELL(qkv, i, q + e) * CELL(qkv, j, k + e);
            sum += p[i][j] = exp(s / 8);
        }
        for (int j = 0; j <= i; j++) {
            ds[i][j] = 0, p[i][j] /= sum;
            for (int e = 0; e < DEEP; e++)
                ds[i][j] += g[(b * TOKENS + i) * WIDTH + q + e] * CELL(qkv, j, v + e);
            dot += ds[i][j] * p[i][j];
        }
        for (int j = 0; j <= i; j++) ds[i][j] = (ds[i][j] - dot) * p[i][j] / 8;
        for (int j = 0; j <= i; j++)
            for (int e = 0; e < DEEP; e++) {
                CELL(d, i, q + e) += ds[i][j] * CELL(qkv, j, k + e);
                CELL(d, j, k + e) += ds[i][j] * CELL(qkv, i, q + e);
                CELL(d, j, v + e) += p[i][j] * g[(b * TOKENS + i) * WIDTH + q + e];
            }
    }
#undef CELL
}

static void multiply(const double *a, const double *b, double *c, int m, int k, int n,
                     int turned_a, int turned_b) {
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            double s = 0;
            for (int e = 0; e < k; e++)
                s += a[turned_a ? e * m + i : i * k + e] *
                     b[turned_b ? j * k + e : e * n + j];
            c[i * n + j] = s;
        }
}

// Kernels that a call of body makes.
static int call(tc_ctx *tc, tc_body body, const tc_tensor *in, int n, tc_tensor *out,
                int outs) {
    tc_options o = tc_options_default();
    o.dynamic = TC_DYNAMIC_OFF;
    tc_fn *f = tc_compile(tc, body, NULL, 0, &o);
    uint64_t made = tc_stats_get(tc).kernels_made;
    CHECK(tc_call(f, in, n, out, outs) == TC_OK || FAIL("%s", tc_error_text(tc)));
    return (int)(tc_stats_get(tc).kernels_made - made);
}

TEST(attention) {
    static double x[ROWS * WIDTH], w[WIDTH * 3 * WIDTH], b[3 * WIDTH], g[ROWS * WIDTH],
        qkv[ROWS * 3 * WIDTH], d[ROWS * 3 * WIDTH], dx[ROWS * WIDTH], dw[WIDTH * 3 * WIDTH],
        db[3 * WIDTH];
    tc_ctx *tc = tc_open(NULL);
    if (!open_device(tc)) return;
    tc_tensor in[4], out[4];
    in[0] = there(tc, TC_DIMS(ROWS, WIDTH), 1, TC_BF16, x);
    in[1] = there(tc, TC_DIMS(WIDTH, 3 * WIDTH), 2, TC_BF16, w);
    in[2] = there(tc, TC_DIMS(3 * WIDTH), 3, TC_F32, b);
    in[3] = there(tc, TC_DIMS(ROWS, WIDTH), 4, TC_BF16, g);
    in[1] = tc_mul_s(in[1], 0.0625), in[2] = tc_mul_s(in[2], 0.125);
    for (int i = 0; i < WIDTH * 3 * WIDTH; i++) w[i] /= 16;
    for (int i = 0; i < 3 * WIDTH; i++) b[i] /= 8;
    (void)call(tc, attention, in, 4, out, 4);
    multiply(x, w, qkv, ROWS, WIDTH, 3 * WIDTH, 0, 0);
    for (int i = 0; i < ROWS * 3 * WIDTH; i++) qkv[i] += b[i % (3 * WIDTH)];
    for (int h = 0; h < BATCH * HEADS; h++) head_gradient(qkv, g, d, h / HEADS, h % HEADS);
    multiply(d, w, dx, ROWS, 3 * WIDTH, WIDTH, 0, 1);
    multiply(x, d, dw, WIDTH, ROWS, 3 * WIDTH, 1, 0);
    for (int i = 0; i < ROWS * 3 * WIDTH; i++) db[i % (3 * WIDTH)] += d[i];
    double e[] = {apart(out[0], dx, ROWS * WIDTH), apart(out[1], dw, WIDTH * 3 * WIDTH),
                  apart(out[2], db, 3 * WIDTH)};
    for (int i = 0; i < 3; i++)
        CHECK(e[i] < 0.02 || FAIL("gradient %d is %g apart", i, e[i]));
    tc_close(tc);
    check_device_closed();
}

// ---- parts of other kinds ----

enum { M = 48, A = 64, B = 128, ALL = A + B + A, N = 40 };

static tc_tensor part(const tc_tensor *in, int which) {
    return tc_relu(tc_matmul(in[0], in[1 + which]));
}

static tc_tensor columns_of(const tc_tensor *in, int shift) {
    tc_tensor a = tc_pad(part(in, 0), TC_DIMS(0, 0), TC_DIMS(0, B + A), 0);
    tc_tensor b = tc_pad(part(in, 1), TC_DIMS(0, A - shift), TC_DIMS(0, A + shift), 0);
    tc_tensor c = tc_pad(part(in, 2), TC_DIMS(0, A + B), TC_DIMS(0, 0), 0);
    return tc_add(tc_add(a, b), c);
}

static void use(tc_tensor all, const tc_tensor *in, tc_tensor *out) {
    out[0] = tc_matmul(all, in[4]), out[1] = tc_sum(all, 0);
}

static void beside(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    use(columns_of(in, 0), in, out);
}

// Nothing else is made of them: they need no kernel of their own.
static void alone(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_matmul(columns_of(in, 0), in[4]), out[1] = tc_sum(in[4], 0);
}

// The second lies over the end of the first.
static void over(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    use(columns_of(in, 8), in, out);
}

// The third is not there, and zeros are.
static void without(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    tc_tensor a = tc_pad(part(in, 0), TC_DIMS(0, 0), TC_DIMS(0, B + A), 0);
    tc_tensor b = tc_pad(part(in, 1), TC_DIMS(0, A), TC_DIMS(0, A), 0);
    use(tc_add(a, b), in, out);
}

// All are results, or a part is.
static void seen(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[2] = columns_of(in, 0), use(out[2], in, out);
}

static void kept(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    use(columns_of(in, 0), in, out), out[2] = part(in, 1);
}

static const struct {
    const char *name;
    tc_body body;
    int shift, parts, outs;
    int kernels; // 0 = any number
} ways[] = {{"beside", beside, 0, 3, 2, 0}, {"alone", alone, 0, 3, 2, 5},
            {"over", over, 8, 3, 2, 0},     {"without", without, 0, 2, 2, 0},
            {"seen", seen, 0, 3, 3, 0},     {"kept", kept, 0, 3, 3, 0}};

static const int from[] = {0, A, A + B}, wide[] = {A, B, A};

TEST(parts) {
    static double x[M * N], w[3][N * B], last[ALL * N], rows[3][M * B], all[M * ALL],
        product[M * N], sums[ALL];
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
        tc_ctx *tc = tc_open(NULL);
        if (!open_device(tc)) return;
        tc_tensor in[5], out[3], again[3];
        in[0] = there(tc, TC_DIMS(M, N), 1, TC_F32, x);
        for (int i = 0; i < 3; i++)
            in[1 + i] = there(tc, TC_DIMS(N, wide[i]), 2 + (unsigned)i, TC_F32, w[i]);
        in[4] = there(tc, TC_DIMS(ALL, N), 5, TC_F32, last);
        memset(all, 0, sizeof all), memset(sums, 0, sizeof sums);
        for (int i = 0; i < ways[k].parts; i++) {
            int at = from[i] - (i == 1 ? ways[k].shift : 0);
            multiply(x, w[i], rows[i], M, N, wide[i], 0, 0);
            for (int e = 0; e < M * wide[i]; e++) {
                rows[i][e] = fmax(rows[i][e], 0);
                all[e / wide[i] * ALL + at + e % wide[i]] += rows[i][e];
            }
        }
        multiply(all, last, product, M, ALL, N, 0, 0);
        for (int e = 0; e < M * ALL; e++) sums[e % ALL] += all[e];
        if (ways[k].body == alone) {
            memset(sums, 0, sizeof sums);
            for (int e = 0; e < ALL * N; e++) sums[e % N] += last[e];
        }
        int made = call(tc, ways[k].body, in, 5, out, ways[k].outs);
        CHECK(!ways[k].kernels || made == ways[k].kernels ||
              FAIL("%s: %d kernels", ways[k].name, made));
        (void)call(tc, ways[k].body, in, 5, again, ways[k].outs);
        double e[3] = {apart(out[0], product, M * N),
                       apart(out[1], sums, ways[k].body == alone ? N : ALL), 0};
        if (ways[k].body == seen) e[2] = apart(out[2], all, M * ALL);
        if (ways[k].body == kept) e[2] = apart(out[2], rows[1], M * B);
        for (int i = 0; i < ways[k].outs; i++)
            CHECK(e[i] < 1e-5 || FAIL("%s: result %d is %g apart", ways[k].name, i, e[i]));
        check_same(out[0], again[0], M * N * 4),
            check_same(out[1], again[1], ways[k].body == alone ? N * 4 : ALL * 4);
        tc_close(tc);
        check_device_closed();
    }
}

// ---- some rows of each ----

// The first half of the rows of one above that of another, whose other rows go nowhere.
static void halves(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    tc_tensor a = tc_slice(tc_matmul(in[0], in[1]), 0, 0, M / 2, 1),
              b = tc_slice(tc_matmul(in[0], in[2]), 0, 0, M / 2, 1);
    tc_tensor all = tc_add(tc_pad(a, TC_DIMS(0, 0), TC_DIMS(M / 2, 0), 0),
                           tc_pad(b, TC_DIMS(M / 2, 0), TC_DIMS(0, 0), 0));
    out[0] = tc_matmul(all, in[3]), out[1] = tc_sum(all, 0);
}

TEST(halves) {
    static double x[M * N], w[2][N * A], last[A * N], rows[2][M * A], all[M * A],
        product[M * N], sums[A];
    tc_ctx *tc = tc_open(NULL);
    if (!open_device(tc)) return;
    tc_tensor in[4], out[2];
    in[0] = there(tc, TC_DIMS(M, N), 1, TC_F32, x);
    for (int i = 0; i < 2; i++)
        in[1 + i] = there(tc, TC_DIMS(N, A), 2 + (unsigned)i, TC_F32, w[i]);
    in[3] = there(tc, TC_DIMS(A, N), 5, TC_F32, last);
    for (int i = 0; i < 2; i++) {
        multiply(x, w[i], rows[i], M, N, A, 0, 0);
        memcpy(all + i * M / 2 * A, rows[i], sizeof all / 2);
    }
    multiply(all, last, product, M, A, N, 0, 0);
    for (int e = 0; e < M * A; e++) sums[e % A] += all[e];
    (void)call(tc, halves, in, 4, out, 2);
    double e[] = {apart(out[0], product, M * N), apart(out[1], sums, A)};
    for (int i = 0; i < 2; i++)
        CHECK(e[i] < 1e-5 || FAIL("result %d is %g apart", i, e[i]));
    tc_close(tc);
    check_device_closed();
}

// ---- drawn by lot ----

enum { PROGRAMS = 24, SIDE = 32, LONGEST = 40, INNER = 16, PLACES = 120, NARROW = 8 };

// A product, turned or not, of which `size` by SIDE elements from `first` on along the axis, and from 0 on along the other, are at
// `at` of the whole.
typedef struct piece {
    int long_side, other, turned, first, size, at;
} piece;

typedef struct plan {
    int axis, parts, whole;
    piece part[3];
} plan;

static plan draw(unsigned seed) {
    plan p;
    unsigned n = 0;
#define DRAW(below) ((int)(test_word(n++, seed) % (unsigned)(below)))
    p.axis = DRAW(2), p.parts = 2 + DRAW(2), p.whole = 0;
    for (int i = 0; i < p.parts; i++) {
        piece *q = &p.part[i];
        q->size = 16 + 8 * DRAW(3), q->turned = DRAW(8) == 0;
        q->long_side = q->size + (DRAW(3) ? 0 : 8), q->other = SIDE + (DRAW(8) ? 0 : 8);
        q->first = DRAW(2) ? 0 : q->long_side - q->size;
        int beside = DRAW(12); // behind that before, apart, or over its end
        q->at = p.whole + (!i || beside ? 0 : DRAW(2) ? 8 : -8);
        if (q->at + q->size > p.whole) p.whole = q->at + q->size;
    }
    p.whole += DRAW(10) ? 0 : 8;
#undef DRAW
    return p;
}

// [long side, other] along axis 0, else the other way round.
static tc_dims sides(int axis, int64_t along, int64_t other) {
    return axis ? TC_DIMS(other, along) : TC_DIMS(along, other);
}

static void drawn(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    const plan *p = (const plan *)user;
    tc_tensor all = tc_null();
    (void)tc;
    for (int i = 0; i < p->parts; i++) {
        const piece *q = &p->part[i];
        tc_tensor x = in[2 * i], w = in[2 * i + 1];
        tc_tensor y = q->turned ? tc_t(tc_matmul(tc_t(w), tc_t(x))) : tc_matmul(x, w);
        y = tc_slice(y, p->axis, q->first, q->first + q->size, 1);
        y = tc_slice(y, 1 - p->axis, 0, SIDE, 1);
        y = tc_pad(y, sides(p->axis, q->at, 0),
                   sides(p->axis, p->whole - q->at - q->size, 0), 0);
        all = i ? tc_add(all, y) : y;
    }
    out[0] = tc_matmul(all, in[6]), out[1] = tc_sum(all, 0);
}

static void check_drawn(unsigned seed) {
    static double x[LONGEST * INNER], w[INNER * LONGEST], y[LONGEST * LONGEST],
        all[PLACES * SIDE], last[PLACES * NARROW], product[PLACES * NARROW], sums[PLACES];
    plan p = draw(seed);
    tc_ctx *tc = tc_open(NULL);
    if (!open_device(tc)) return;
    tc_tensor in[7], out[2];
    int rows = p.axis ? SIDE : p.whole, columns = p.axis ? p.whole : SIDE;
    memset(all, 0, sizeof all), memset(sums, 0, sizeof sums);
    for (int i = 0; i < 3; i++) {
        const piece *q = &p.part[i < p.parts ? i : 0];
        int m = p.axis ? q->other : q->long_side, n = p.axis ? q->long_side : q->other;
        in[2 * i] = there(tc, TC_DIMS(m, INNER), seed + 2 * (unsigned)i, TC_F32, x);
        in[2 * i + 1] = there(tc, TC_DIMS(INNER, n), seed + 2 * (unsigned)i + 1, TC_F32, w);
        multiply(x, w, y, m, INNER, n, 0, 0);
        for (int e = 0; i < p.parts && e < q->size * SIDE; e++) {
            int r = p.axis ? e % SIDE : e / SIDE, c = p.axis ? e / SIDE : e % SIDE;
            all[(r + (p.axis ? 0 : q->at)) * columns + c + (p.axis ? q->at : 0)] +=
                y[(r + (p.axis ? 0 : q->first)) * n + c + (p.axis ? q->first : 0)];
        }
    }
    in[6] = there(tc, TC_DIMS(columns, NARROW), seed + 9, TC_F32, last);
    multiply(all, last, product, rows, columns, NARROW, 0, 0);
    for (int e = 0; e < rows * columns; e++) sums[e % columns] += all[e];
    tc_options o = tc_options_default();
    o.dynamic = TC_DYNAMIC_OFF;
    tc_fn *f = tc_compile(tc, drawn, &p, sizeof p, &o);
    CHECK(tc_call(f, in, 7, out, 2) == TC_OK || FAIL("%s", tc_error_text(tc)));
    double e[] = {apart(out[0], product, rows * NARROW), apart(out[1], sums, columns)};
    for (int i = 0; i < 2; i++)
        CHECK(e[i] < 1e-5 || FAIL("seed %u: result %d is %g apart", seed, i, e[i]));
    tc_close(tc);
    check_device_closed();
}

TEST(drawn) {
    for (unsigned seed = 1; seed <= PROGRAMS; seed++) check_drawn(seed * 101);
}
