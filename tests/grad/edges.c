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
    E(norm_of_all, tc_norm_all(rows(a), 2), 2, {0, 0}, {0}, {1}, {0, 0}, {0}, 0)           \
    E(var, tc_var(a, 0, 1), 3, {1, 1, 1}, {0}, {1}, {0, 0, 0}, {0}, 0)                     \
    E(std, tc_std(a, 0, 1), 3, {1, 1, 1}, {0}, {1}, {0, 0, 0}, {0}, 0)                     \
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
