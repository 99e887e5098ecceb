// Derivatives where there is no slope, or where the parts of an op have none: at 0, at bounds, between equal
// elements, with infinite weights. What is expected is what PyTorch documents, or does.
#include "tcompile.h"

#include "harness.h"

#include "help.h"

enum { MOST = 4 };
#define INF  ((double)INFINITY)
#define NANS ((double)NAN)

typedef tc_tensor (*op_fn)(tc_ctx *tc, tc_tensor a, tc_tensor b);

typedef struct edge {
    const char *name;
    op_fn call;
    int n;
    double a[MOST], b[MOST], v[MOST]; // v counts the result's elements
    double da[MOST], db[MOST];
    int of_b; // 1 = b is derived by as well
} edge;

static tc_tensor rows(tc_tensor a) { return tc_reshape(a, TC_DIMS(1, -1)); }

// The first is overwritten and counts nothing, which differences tell (PyTorch gives it 5).
static tc_tensor scatter_twice(tc_ctx *tc, tc_tensor a, tc_tensor b) {
    static const int64_t index[] = {0, 0};
    return tc_scatter(a, 0, tc_const(tc, index, TC_DIMS(2), TC_I64), b);
}

// The second of two queries attends to nothing.
static tc_tensor attend_to_none(tc_ctx *tc, tc_tensor a, tc_tensor b) {
    static const uint8_t mask[] = {1, 1, 0, 0};
    tc_tensor q = tc_reshape(a, TC_DIMS(2, 1)), k = tc_reshape(b, TC_DIMS(2, 1));
    tc_tensor m = tc_const(tc, mask, TC_DIMS(2, 2), TC_BOOL);
    return tc_reshape(tc_scaled_dot_product_attention(q, k, k, m, 0, 1), TC_DIMS(2));
}

static tc_tensor filled(tc_ctx *tc, tc_tensor a) {
    static const uint8_t mask[] = {1, 0, 1, 0};
    return tc_masked_fill(
        a, tc_slice(tc_const(tc, mask, TC_DIMS(4), TC_BOOL), 0, 0, tc_dim(a, 0), 1), 7);
}

// name, expression of a and b, n, a, b, v, da, db, whether of b
#define EDGES(E)                                                                           \
    E(maximum, tc_maximum(a, b), 3, {1, 2, 3}, {1, 1, 4}, {1, 1, 1}, {0.5, 1, 0},          \
      {0.5, 0, 1}, 1)                                                                      \
    E(minimum, tc_minimum(a, b), 3, {1, 2, 3}, {1, 1, 4}, {1, 1, 1}, {0.5, 0, 1},          \
      {0.5, 1, 0}, 1)                                                                      \
    E(maximum_of_inf, tc_maximum(a, b), 2, {1, 2}, {3, 0}, {INF, INF}, {0, INF}, {INF, 0}, \
      1)                                                                                   \
    E(minimum_of_inf, tc_minimum(a, b), 2, {1, 2}, {3, 0}, {INF, INF}, {INF, 0}, {0, INF}, \
      1)                                                                                   \
    E(clamp, tc_clamp(a, -1, 1), 4, {-1, 1, 0, 2}, {0}, {1, 1, 1, INF}, {1, 1, 1, 0}, {0}, \
      0)                                                                                   \
    E(clamp_min, tc_clamp_min(a, 1), 3, {1, 2, 0}, {0}, {1, 1, INF}, {1, 1, 0}, {0}, 0)    \
    E(clamp_max, tc_clamp_max(a, 1), 3, {1, 2, 0}, {0}, {1, INF, 1}, {1, 0, 1}, {0}, 0)    \
    E(relu, tc_relu(a), 3, {-1, 0, 1}, {0}, {INF, INF, INF}, {0, 0, INF}, {0}, 0)          \
    E(abs, tc_abs(a), 3, {-1, 0, 2}, {0}, {1, 1, 1}, {-1, 0, 1}, {0}, 0)                   \
    E(sign, tc_sign(a), 3, {-1, 0, 2}, {0}, {1, 1, 1}, {0}, {0}, 0)                        \
    E(floor, tc_floor(a), 3, {-1, 0.5, 2}, {0}, {1, 1, 1}, {0}, {0}, 0)                    \
    E(sqrt, tc_sqrt(a), 2, {0, 4}, {0}, {1, 1}, {INF, 0.25}, {0}, 0)                       \
    E(pow_s_0, tc_pow_s(a, 0), 2, {0, 2}, {0}, {1, 1}, {0, 0}, {0}, 0)                     \
    E(pow_s_1, tc_pow_s(a, 1), 2, {0, 2}, {0}, {1, 1}, {1, 1}, {0}, 0)                     \
    E(pow_s_2, tc_pow_s(a, 2), 2, {0, 2}, {0}, {1, 1}, {0, 4}, {0}, 0)                     \
    E(pow_s_half, tc_pow_s(a, 0.5), 2, {0, 4}, {0}, {1, 1}, {INF, 0.25}, {0}, 0)           \
    E(pow_at_0, tc_pow(a, b), 4, {0, 0, 0, 0}, {0, 2, 0.5, 1}, {1, 1, 1, 1},               \
      {0, 0, INF, 1}, {0, 0, 0, 0}, 1)                                                     \
    E(atan2_at_0, tc_atan2(a, b), 3, {0, 0, 3}, {0, 2, 4}, {1, 1, 1}, {0, 0.5, 0.16},      \
      {0, 0, -0.12}, 1)                                                                    \
    E(pow_below_0, tc_pow(a, b), 1, {-2}, {3}, {1}, {12}, {NANS}, 1)                       \
    E(prod_zero, tc_prod(a, 0), 3, {0, 2, 3}, {0}, {1}, {6, 0, 0}, {0}, 0)                 \
    E(prod_zeros, tc_prod(a, 0), 3, {0, 2, 0}, {0}, {1}, {0, 0, 0}, {0}, 0)                \
    E(cumprod_zero, tc_cumprod(a, 0), 3, {2, 0, 3}, {0}, {1, 1, 1}, {1, 8, 0}, {0}, 0)     \
    E(cumprod_zeros, tc_cumprod(a, 0), 4, {2, 0, 3, 0}, {0}, {1, 1, 1, 1}, {1, 8, 0, 0},   \
      {0}, 0)                                                                              \
    E(amax, tc_amax(a, 0), 3, {3, 3, 1}, {0}, {1}, {0.5, 0.5, 0}, {0}, 0)                  \
    E(amin, tc_amin(a, 0), 4, {1, 3, 1, 1}, {0}, {3}, {1, 0, 1, 1}, {0}, 0)                \
    E(amax_of_inf, tc_amax(a, 0), 2, {3, 1}, {0}, {INF}, {INF, 0}, {0}, 0)                 \
    E(norm, tc_norm(a, 0, 2), 2, {0, 0}, {0}, {1}, {0, 0}, {0}, 0)                         \
    E(norm_1, tc_norm(a, 0, 1), 2, {0, -1}, {0}, {1}, {0, -1}, {0}, 0)                     \
    E(norm_3, tc_norm(a, 0, 3), 2, {0, 0}, {0}, {1}, {0, 0}, {0}, 0)                       \
    E(norm_largest, tc_norm(a, 0, INF), 3, {-2, 2, 1}, {0}, {1}, {-0.5, 0.5, 0}, {0}, 0)   \
    E(norm_of_one, tc_norm(tc_reshape(a, TC_DIMS(-1, 1)), 1, 2), 2, {0, -3}, {0}, {1, 1},  \
      {0, -1}, {0}, 0)                                                                     \
    E(norm_3_of_one, tc_norm(tc_reshape(a, TC_DIMS(-1, 1)), 1, 3), 2, {0, -3}, {0},        \
      {1, 1}, {0, -1}, {0}, 0)                                                             \
    E(norm_of_all, tc_norm_all(rows(a), 2), 2, {0, 0}, {0}, {1}, {0, 0}, {0}, 0)           \
    E(var, tc_var(a, 0, 1), 3, {1, 1, 1}, {0}, {1}, {0, 0, 0}, {0}, 0)                     \
    E(std, tc_std(a, 0, 1), 3, {1, 1, 1}, {0}, {1}, {0, 0, 0}, {0}, 0)                     \
    E(std_of_one, tc_std(tc_reshape(a, TC_DIMS(-1, 1)), 1, 0), 2, {1, 2}, {0}, {1, 1},     \
      {0, 0}, {0}, 0)                                                                      \
    E(root_of_no_sum, tc_sqrt(tc_add(tc_full(tc, TC_DIMS(2), 1, TC_F64), a)), 2, {-1, 3},  \
      {0}, {1, 1}, {INF, 0.25}, {0}, 0)                                                    \
    E(normalize_one, tc_normalize(tc_reshape(a, TC_DIMS(-1, 1)), 2, 1, 0.125), 2, {0, 3},  \
      {0}, {1, 1}, {8, 0}, {0}, 0)                                                         \
    E(normalize, tc_normalize(a, 2, 0, 0.125), 2, {0, 0}, {0}, {1, 2}, {8, 16}, {0}, 0)    \
    E(normalize_3, tc_normalize(a, 3, 0, 0.125), 2, {0, 0}, {0}, {1, 2}, {8, 16}, {0}, 0)  \
    E(cosine, tc_cosine_similarity(a, b, 0, 0.125), 2, {0, 0}, {3, 4}, {1}, {4.8, 6.4},    \
      {0, 0}, 1)                                                                           \
    E(l1_loss, tc_l1_loss(a, b), 2, {1, 2}, {1, 1}, {1}, {0, 0.5}, {0, -0.5}, 1)           \
    E(bce, tc_bce_with_logits(a, b), 2, {0, 0}, {0, 1}, {1}, {0.25, -0.25}, {0, 0}, 1)     \
    E(max_pool, tc_max_pool2d(tc_reshape(a, TC_DIMS(1, 2, 2)), 2, 0, 0), 4, {3, 1, 3, 3},  \
      {0}, {1}, {1, 0, 0, 0}, {0}, 0)                                                      \
    E(softmax, tc_softmax(a, 0), 2, {-INF, 0}, {0}, {1, 0}, {0, 0}, {0}, 0)                \
    E(log_softmax, tc_log_softmax(a, 0), 2, {-INF, 0}, {0}, {1, 0}, {1, -1}, {0}, 0)       \
    E(masked_fill, filled(tc, a), 3, {1, 2, 3}, {0}, {INF, INF, NANS}, {0, INF, 0}, {0},   \
      0)                                                                                   \
    E(scatter, scatter_twice(tc, a, b), 2, {1, 2}, {3, 4}, {5, 7}, {0, 7}, {0, 5}, 1)      \
    E(attention, attend_to_none(tc, a, b), 2, {0, 0}, {1, 2}, {1, 1}, {0.25, 0},           \
      {0.5, 0.5}, 1)

#define EDGE_CALL(name, expression, ...)                                                   \
    static tc_tensor call_##name(tc_ctx *tc, tc_tensor a, tc_tensor b) {                   \
        (void)tc, (void)b;                                                                 \
        return expression;                                                                 \
    }
#define EDGE_ROW(name, expression, ...) {#name, call_##name, __VA_ARGS__},
EDGES(EDGE_CALL)
static const edge edges[] = {EDGES(EDGE_ROW)};

static void expect(const edge *e, const char *of, tc_tensor g, const double *want) {
    double is[MOST];
    CHECK_EQ(tc_read(g, is, (size_t)e->n * sizeof *is), TC_OK);
    for (int i = 0; i < e->n; i++) {
        int both_nan = isnan(is[i]) && isnan(want[i]);
        int exact = is[i] >= want[i] && is[i] <= want[i];
        if (!both_nan && !exact && !(fabs(is[i] - want[i]) <= 1e-12))
            FAIL("%s by %s, element %d: %g, not %g", e->name, of, i, is[i], want[i]);
    }
}

static void check_edge(tc_ctx *tc, const edge *e) {
    tc_tensor g[2], wrt[2] = {tc_from_data(tc, e->a, TC_DIMS(e->n), TC_F64),
                              tc_from_data(tc, e->b, TC_DIMS(e->n), TC_F64)};
    BEGIN(e->name);
    tc_tensor y = e->call(tc, wrt[0], wrt[1]);
    tc_tensor v = tc_from_data(tc, e->v, tc_shape(y), TC_F64);
    tc_vjp(y, v, wrt, 1 + e->of_b, g);
    if (tc_trace_end(tc)) {
        FAIL("%s: %s", e->name, tc_error_text(tc));
        tc_error_clear(tc);
        return;
    }
    expect(e, "a", g[0], e->da);
    if (e->of_b) expect(e, "b", g[1], e->db);
}

BOTH(where_there_is_no_slope) {
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) {
        tc_scope_begin(tc);
        check_edge(tc, &edges[i]);
        tc_scope_end(tc);
    }
}

// ---- tensors of equal values: what is derived by one of them is not what it is by the others ----

static void equal_zeros(tc_ctx *tc, tc_tensor x, tc_tensor *a, tc_tensor *b) {
    (void)tc, *a = tc_zeros_like(x), *b = tc_zeros_like(x);
}
static void equal_exps(tc_ctx *tc, tc_tensor x, tc_tensor *a, tc_tensor *b) {
    (void)tc, *a = tc_exp(x), *b = tc_exp(x);
}
static void equal_clone(tc_ctx *tc, tc_tensor x, tc_tensor *a, tc_tensor *b) {
    (void)tc, *a = x, *b = tc_clone(x);
}
static void equal_clones(tc_ctx *tc, tc_tensor x, tc_tensor *a, tc_tensor *b) {
    (void)tc, *a = tc_clone(x), *b = tc_clone(x);
}
static void equal_view(tc_ctx *tc, tc_tensor x, tc_tensor *a, tc_tensor *b) {
    (void)tc, *a = x, *b = tc_reshape(x, TC_DIMS(-1));
}
static void equal_cast(tc_ctx *tc, tc_tensor x, tc_tensor *a, tc_tensor *b) {
    (void)tc, *a = tc_exp(x), *b = tc_cast(*a, TC_F64);
}
static void equal_copy(tc_ctx *tc, tc_tensor x, tc_tensor *a, tc_tensor *b) {
    *a = tc_exp(x), *b = tc_empty(tc, tc_shape(x), TC_F64);
    tc_copy_(*b, *a);
}
static void equal_part(tc_ctx *tc, tc_tensor x, tc_tensor *a, tc_tensor *b) {
    tc_tensor all = tc_tile(x, TC_DIMS(2));
    (void)tc, *a = tc_narrow(all, 0, 0, 2), *b = tc_narrow(all, 0, 0, 2);
}
static void equal_gradient(tc_ctx *tc, tc_tensor x, tc_tensor *a, tc_tensor *b) {
    tc_tensor w = tc_ones_like(x);
    (void)tc, *a = x, tc_grad(tc_sum_all(tc_mul(x, w)), &w, 1, b);
}
static void twice(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user, out[0] = tc_exp(in[0]), out[1] = tc_exp(in[0]);
}
static void equal_in_checkpoint(tc_ctx *tc, tc_tensor x, tc_tensor *a, tc_tensor *b) {
    tc_tensor y[2];
    tc_checkpoint(tc, twice, NULL, &x, 1, y, 2);
    *a = y[0], *b = y[1];
}

static const struct {
    void (*make)(tc_ctx *tc, tc_tensor x, tc_tensor *a, tc_tensor *b);
    int of_a; // b is made of a
} equals[] = {{equal_zeros, 0},        {equal_exps, 0}, {equal_clone, 1},
              {equal_clones, 0},       {equal_view, 1}, {equal_cast, 1},
              {equal_copy, 1},         {equal_part, 0}, {equal_gradient, 1},
              {equal_in_checkpoint, 0}};

static const double equal_at[] = {0.5, -2};

// sum(a (b^2 + 3 b')), b' a view of b: by b 2 a b + 3 a, the seconds 2 a and, by a, 2 b + 3; along t the first, times t.
BOTH(by_one_of_equal_tensors) {
    tc_tensor x = tc_from_data(tc, equal_at, TC_DIMS(2), TC_F64), t = tc_add_s(x, 1);
    for (size_t i = 0; i < sizeof equals / sizeof *equals; i++) {
        tc_tensor a, b, g = tc_null(), again[2] = {tc_null(), tc_null()}, along = tc_null();
        char name[32];
        snprintf(name, sizeof name, "equal %d", (int)i);
        BEGIN(name);
        equals[i].make(tc, x, &a, &b);
        tc_tensor shown = tc_flip(tc_slice(b, 0, 0, TC_END, 1), TC_DIMS(0)), ab[2] = {a, b};
        tc_tensor y =
            tc_mul(a, tc_add(tc_square(b), tc_mul_s(tc_flip(shown, TC_DIMS(0)), 3)));
        tc_grad(tc_sum_all(y), &b, 1, &g);
        tc_grad(tc_sum_all(g), ab, 2, again);
        tc_jvp(y, &b, &t, 1, &along);
        END();
        for (int k = 0; k < 2 && !tc_error(tc); k++) {
            double u = tc_get(a, TC_DIMS(k)), v = tc_get(b, TC_DIMS(k));
            double first = 2 * u * v + 3 * u, to = tc_get(t, TC_DIMS(k));
            CHECK_NEAR(tc_get(g, TC_DIMS(k)), first, 1e-12);
            CHECK_NEAR(tc_get(again[1], TC_DIMS(k)), 2 * u, 1e-12);
            CHECK_NEAR(tc_get(again[0], TC_DIMS(k)),
                       2 * v + 3 + (equals[i].of_a ? 2 * u : 0), 1e-12);
            CHECK_NEAR(tc_get(along, TC_DIMS(k)), first * to, 1e-12);
        }
    }
}

BOTH(what_is_used_is_an_equal_tensor) {
    tc_tensor x = tc_from_data(tc, equal_at, TC_DIMS(2), TC_F64), g;
    BEGIN("other");
    tc_tensor b = tc_exp(x);
    tc_grad(tc_sum_all(tc_exp(x)), &b, 1, &g);
    tc_trace_end(tc);
    ERROR(TC_E_ARG, "does not depend");
}

// ---- one program for several sizes ----

// The mean is a part of the variance, too: one node with one number of elements, also where that comes at run time.
static void centred(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    tc_tensor mean = tc_mean_dims(in[0], TC_DIMS(0), TC_KEEPDIM);
    tc_tensor var = tc_var_dims(in[0], TC_DIMS(0), 0, TC_KEEPDIM);
    tc_tensor y = tc_mul(tc_sub(in[0], mean), tc_rsqrt(tc_add_s(var, 1e-5)));
    (void)tc, (void)user;
    tc_grad(tc_sum_all(tc_mul(tc_amax(y, 1), tc_cos(tc_sum(y, 1)))), in, 1, out);
}

BOTH(run_time_counts_of_equal_steps_are_one) {
    double got[2][4 * 9];
    for (int dynamic = 0; dynamic < 2; dynamic++) {
        tc_options options = tc_options_default();
        options.dynamic = dynamic ? TC_DYNAMIC_AUTO : TC_DYNAMIC_OFF;
        tc_fn *f = tc_compile(tc, centred, NULL, 0, &options);
        for (int rows = 3; rows <= 9;
             rows += 6) { // the second size makes the program for all
            tc_tensor x = tc_sin(tc_reshape(tc_arange(tc, 0, 4 * rows, 1, TC_F64),
                                            TC_DIMS(rows, 4))),
                      g;
            CHECK_EQ(tc_call(f, &x, 1, &g, 1), TC_OK);
            if (rows == 9) CHECK_EQ(tc_read(g, got[dynamic], sizeof got[0]), TC_OK);
        }
        tc_fn_free(f);
    }
    CHECK_BYTES(got[0], got[1], sizeof got[0]);
}

// ---- random numbers ----

// Whether dropout keeps element i of the first draw: Philox4x32-10 as its authors wrote it, four elements of a counter.
static int is_kept(uint64_t seed, int64_t i, double p) {
    uint32_t w[4] = {(uint32_t)(i / 4), 0, 0, 0},
             k[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    for (int n = 0; n < 10; n++, k[0] += 0x9e3779b9u, k[1] += 0xbb67ae85u) {
        uint64_t a = (uint64_t)w[0] * 0xd2511f53u, c = (uint64_t)w[2] * 0xcd9e8d57u;
        uint32_t x[4] = {(uint32_t)(c >> 32) ^ w[1] ^ k[0], (uint32_t)c,
                         (uint32_t)(a >> 32) ^ w[3] ^ k[1], (uint32_t)a};
        memcpy(w, x, sizeof x);
    }
    return (w[i % 4] >> 8) / 16777216.0 >= p;
}

// Whether a kernel stores a mask.
static int stores_mask(tc_ctx *tc) {
    const char *at = tc_explain(tc);
    for (; at && (at = strstr(at, "  writes b")); at++)
        if (memchr(at, '\n', 160) && strstr(at, " bool[") &&
            strstr(at, " bool[") < (const char *)memchr(at, '\n', 160))
            return 1;
    return 0;
}

enum { MASK_SEED = 77 };

// What check_mask() computes, in f64: z = (y - mean(y)) w, of which 2 (z + sum(z)) goes back. 0 = what is wrong was told.
static int is_mask_gradient(tc_tensor g, int64_t rows, int64_t columns) {
    double *z = (double *)calloc((size_t)(rows + columns + 1), sizeof *z), sum = 0,
           most = 1;
    double *d = z + rows;
    for (int64_t r = 0; r < rows; r++) {
        double mean = 0;
        for (int64_t c = 0; c < columns; c++)
            mean += is_kept(MASK_SEED, r * columns + c, 0.5) * 6.0 / (double)columns;
        for (int64_t c = 0; c < columns; c++)
            z[r] +=
                (is_kept(MASK_SEED, r * columns + c, 0.5) * 6.0 - mean) * sin((double)c);
        sum += z[r], most += fabs(z[r]);
    }
    int ok = 1;
    for (int64_t r = 0; r < rows; r++) {
        double mean = 0;
        for (int64_t c = 0; c < columns; c++) {
            d[c] = 2 * (z[r] + sum) * sin((double)c);
            mean += d[c] / (double)columns;
        }
        for (int64_t c = 0; c < columns; c++) {
            int kept = is_kept(MASK_SEED, r * columns + c, 0.5);
            double want = kept ? 2 * (d[c] - mean) : 0, got = tc_get(g, TC_DIMS(r, c));
            ok &= kept ? fabs(got - want) <= 1e-5 * most : got == 0;
        }
    }
    free(z);
    return ok;
}

// A dropout's mask is drawn again where its gradient needs it, wherever rows begin, and lies nowhere between: the mean
// of each row, then a product, and the way back.
static void check_mask(const char *backend, const char *isa, int64_t rows,
                       int64_t columns) {
    tc_ctx *tc = open_as(backend, isa, 1);
    REQUIRE(tc);
    CHECK_EQ(tc_manual_seed(tc, MASK_SEED), TC_OK);
    tc_tensor x = tc_full(tc, TC_DIMS(rows, columns), 3, TC_F32), g;
    tc_tensor w = tc_sin(tc_arange(tc, 0, (double)columns, 1, TC_F32));
    tc_trace_begin(tc, "mask");
    tc_tensor y = tc_dropout(tc_relu(x), 0.5); // scaled by 2
    tc_tensor centred = tc_sub(y, tc_mean_dims(y, TC_DIMS(1), TC_KEEPDIM));
    tc_tensor z = tc_matmul(centred, tc_reshape(w, TC_DIMS(columns, 1)));
    tc_grad(tc_sum_all(tc_add(tc_square(z), tc_mul(z, tc_sum_all(z)))), &x, 1, &g);
    tc_keep(g);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    CHECK(!stores_mask(tc));
    CHECK(is_mask_gradient(g, rows, columns));
    tc_close(tc);
}

TEST(masks_are_drawn_again) {
    static const char *const isa[] = {"baseline", "avx2", "native"};
    static const int64_t size[][2] = {{96, 128}, {33, 67}, {50, 1}, {7, 301}, {130, 34}};
    for (size_t i = 0; i < sizeof size / sizeof *size; i++) {
        check_mask("aot_eager", NULL, size[i][0], size[i][1]);
        for (size_t k = 0; k < sizeof isa / sizeof *isa; k++)
            check_mask("cpu", isa[k], size[i][0], size[i][1]);
    }
}
