// Rules of ops in numbers that were worked out by hand, or by PyTorch's documentation: each case as eager
// code, as a region interpreted and as a region compiled. Results are row-major in all three.
#include "tcompile.h"

#include "harness.h"

#include "help.h"

#include <math.h>

enum { RUNS = 3, MAX_SIZE = 64, MAX_CASES = 24 };
static const char *const backends[RUNS] = {NULL, "aot_eager", "cpu"};

// ---- a case: one tensor, and what it is ----

typedef tc_tensor (*rule_fn)(tc_ctx *tc, int k);
typedef struct expected {
    tc_dims d;
    int dtype;
    double at[MAX_SIZE];
    double within;
} expected;

static int64_t count_of(tc_dims d) {
    int64_t n = 1;
    for (int i = 0; i < d.rank; i++) n *= d.size[i];
    return n;
}

static void check_values(tc_ctx *tc, tc_tensor t, const char *name, const expected *e) {
    double got[MAX_SIZE];
    int64_t n = count_of(e->d);
    tc_dims d = tc_shape(t);
    int same = d.rank == e->d.rank && (int)tc_dtype_of(t) == e->dtype;
    for (int i = 0; same && i < d.rank; i++) same = d.size[i] == e->d.size[i];
    if (!same || tc_read(tc_to_f64(t), got, (size_t)n * sizeof *got)) {
        FAIL("%s: %s of rank %d: %s", name, tc_dtype_name(tc_dtype_of(t)), d.rank,
             tc_error_text(tc));
        tc_error_clear(tc);
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        double off = fabs(got[i] - e->at[i]);
        int is_nan = isnan(got[i]) && isnan(e->at[i]);
        if (!is_nan && got[i] != e->at[i] && !(off <= e->within))
            FAIL("%s [%d]: %.9g, not %.9g", name, (int)i, got[i], e->at[i]);
    }
    if (n && !tc_data(t)) FAIL("%s: %s", name, tc_error_text(tc));
    tc_error_clear(tc);
}

// Cases 0..n-1 of fn three ways; each time their results are what `e` says.
static void check_rules(rule_fn fn, int n, const char *name, const expected *e) {
    tc_tensor t[MAX_CASES];
    for (int run = 0; run < RUNS; run++) {
        char text[120];
        tc_ctx *tc = open_backend(run ? backends[run] : "aot_eager");
        tc_scope_begin(tc);
        if (run) tc_trace_begin(tc, name);
        for (int k = 0; k < n; k++) t[k] = fn(tc, k);
        if (run) CHECK_EQ(tc_trace_end(tc), TC_OK);
        for (int k = 0; k < n; k++) {
            snprintf(text, sizeof text, "%s %d, %s", name, k,
                     run ? backends[run] : "eager");
            check_values(tc, t[k], text, &e[k]);
        }
        tc_scope_end(tc);
        tc_close(tc);
    }
}

static tc_tensor floats(tc_ctx *tc, tc_dims d, const double *x) {
    return tc_to_f32(tc_from_data(tc, x, d, TC_F64));
}

// 1, 2, 3...
static tc_tensor counted(tc_ctx *tc, tc_dims d) {
    return tc_reshape(tc_arange(tc, 1, (double)count_of(d) + 1, 1, TC_F32), d);
}

static tc_tensor number(tc_ctx *tc, double x) { return tc_scalar(tc, x, TC_F32); }
static tc_tensor zero_index(tc_ctx *tc) { return tc_scalar(tc, 0, TC_I64); }

// ---- a scalar has one dimension, of size 1, where a call goes along one ----

static tc_tensor scalar_call(tc_ctx *tc, int k) {
    tc_tensor s = number(tc, 5), x = number(tc, 7), i = zero_index(tc);
    tc_tensor v = counted(tc, TC_DIMS(3)), one = tc_reshape(i, TC_DIMS(1));
    switch (k) {
    case 0: return tc_unfold(s, 0, 1, 1);
    case 1: return tc_index_select(s, 0, i);
    case 2: return tc_index_select(s, 0, one);
    case 3: return tc_index_select(v, 0, i);
    case 4: return tc_scatter(s, 0, i, x);
    case 5: return tc_scatter_add(s, -1, i, x);
    case 6: return tc_index_add(s, 0, i, x);
    case 7: return tc_index_add(v, 0, i, tc_reshape(x, TC_DIMS(1)));
    case 8: return tc_scatter(v, 0, i, x);
    case 9: return tc_gather(s, 0, i);
    case 10: return tc_cumsum(s, 0);
    default: return tc_softmax(s, 0);
    }
}

TEST(scalars_along_a_dimension) {
    static const expected want[] = {
        {{1, {1}}, TC_F32, {5}, 0},       {{0, {0}}, TC_F32, {5}, 0},
        {{0, {0}}, TC_F32, {5}, 0},       {{1, {1}}, TC_F32, {1}, 0},
        {{0, {0}}, TC_F32, {7}, 0},       {{0, {0}}, TC_F32, {12}, 0},
        {{0, {0}}, TC_F32, {12}, 0},      {{1, {3}}, TC_F32, {8, 2, 3}, 0},
        {{1, {3}}, TC_F32, {7, 2, 3}, 0}, {{0, {0}}, TC_F32, {5}, 0},
        {{0, {0}}, TC_F32, {5}, 0},       {{0, {0}}, TC_F32, {1}, 0},
    };
    check_rules(scalar_call, 12, "scalar", want);
}

// ---- bools: or and and ----

static tc_tensor bool_call(tc_ctx *tc, int k) {
    static const uint8_t p[4] = {0, 0, 1, 1}, q[4] = {0, 1, 0, 1};
    tc_tensor a = tc_from_data(tc, p, TC_DIMS(4), TC_BOOL),
              b = tc_from_data(tc, q, TC_DIMS(4), TC_BOOL);
    if (k == 0) return tc_add(a, b);
    if (k == 1) return tc_mul(a, b);
    return k == 2 ? tc_maximum(a, b) : tc_minimum(a, b);
}

TEST(arithmetic_of_bools) {
    static const expected either = {{1, {4}}, TC_BOOL, {0, 1, 1, 1}, 0},
                          both = {{1, {4}}, TC_BOOL, {0, 0, 0, 1}, 0};
    expected want[4];
    for (int k = 0; k < 4; k++) want[k] = k % 2 ? both : either;
    check_rules(bool_call, 4, "bools", want);
}

// ---- nothing along a dimension, nothing to attend to ----

static tc_tensor empty_call(tc_ctx *tc, int k) {
    tc_tensor e = tc_zeros(tc, TC_DIMS(2, 0), TC_F32);
    switch (k) {
    case 0: return tc_softmax(e, 1);
    case 1: return tc_log_softmax(tc_cast(e, TC_BF16), 1);
    case 2: return tc_softmax(tc_to_i32(e), -1);
    case 3: return tc_logsumexp(e, 1);
    case 4: return tc_logsumexp(e, 0);
    case 5: return tc_logsumexp_all(e);
    default: return tc_softmax(e, 0);
    }
}

TEST(empty_dimensions) {
    static const expected want[] = {
        {{2, {2, 0}}, TC_F32, {0}, 0}, {{2, {2, 0}}, TC_BF16, {0}, 0},
        {{2, {2, 0}}, TC_F32, {0}, 0}, {{1, {2}}, TC_F32, {-INFINITY, -INFINITY}, 0},
        {{1, {0}}, TC_F32, {0}, 0},    {{0, {0}}, TC_F32, {-INFINITY}, 0},
        {{2, {2, 0}}, TC_F32, {0}, 0},
    };
    check_rules(empty_call, 7, "empty", want);
}

// Two keys that score alike: a row that sees both takes their mean, one that sees none is 0.
static tc_tensor attention_call(tc_ctx *tc, int k) {
    static const uint8_t sees[6] = {1, 1, 1, 0, 0, 0};
    static const double adds[6] = {0, 0, 0, -INFINITY, -INFINITY, -INFINITY};
    static const double value[4] = {1, 10, 3, 20};
    tc_tensor q = tc_ones(tc, TC_DIMS(3, 2), TC_F32),
              s = tc_ones(tc, TC_DIMS(2, 2), TC_F32);
    tc_tensor mask = k % 2 ? tc_from_data(tc, sees, TC_DIMS(3, 2), TC_BOOL)
                           : floats(tc, TC_DIMS(3, 2), adds);
    int dtype = k < 2 ? TC_F32 : k < 4 ? TC_F64 : TC_F16;
    if (k % 2 == 0) mask = tc_cast(mask, (tc_dtype)dtype);
    return tc_scaled_dot_product_attention(
        tc_cast(q, (tc_dtype)dtype), tc_cast(s, (tc_dtype)dtype),
        tc_cast(floats(tc, TC_DIMS(2, 2), value), (tc_dtype)dtype), mask, 0, 0);
}

TEST(rows_that_attend_to_nothing) {
    static const expected row = {{2, {3, 2}}, TC_F32, {2, 15, 1, 10, 0, 0}, 0};
    expected want[6];
    for (int k = 0; k < 6; k++)
        want[k] = row, want[k].dtype = k < 2 ? TC_F32 : k < 4 ? TC_F64 : TC_F16;
    check_rules(attention_call, 6, "attention", want);
}

// ---- cosine_similarity counts `dim` in the sizes that both broadcast to ----

static tc_tensor cosine_call(tc_ctx *tc, int k) {
    static const double a[2] = {3, 4}, b[4] = {3, 4, -4, 3};
    tc_tensor x = floats(tc, TC_DIMS(2), a), y = floats(tc, TC_DIMS(2, 2), b);
    tc_tensor column = tc_ones(tc, TC_DIMS(2, 1), TC_F32);
    if (k == 0) return tc_cosine_similarity(x, y, 1, 1e-8);
    if (k == 1) return tc_cosine_similarity(x, y, 0, 1e-8);
    return tc_cosine_similarity(column, y, 1, 1e-8);
}

TEST(cosine_of_what_broadcasts) {
    static const expected want[] = {
        {{1, {2}}, TC_F32, {1, 0}, 1e-6}, // 25/25, 0
        {{1, {2}},
         TC_F32,
         {-0.14142135623, 0.98994949366},
         1e-6}, // -3/(sqrt 18 * 5), 28/(sqrt 32 * 5)
        {{1, {2}},
         TC_F32,
         {0.98994949366, -0.14142135623},
         1e-6}, // 7/(sqrt 2 * 5), -1/(sqrt 2 * 5)
    };
    check_rules(cosine_call, 3, "cosine", want);
}

// ---- a half is compared with the half that the scalar rounds to ----

static tc_tensor compare_call(tc_ctx *tc, int k) {
    static const double x[2] = {0.1, 0.2};
    tc_tensor h = tc_cast(floats(tc, TC_DIMS(2), x), k % 2 ? TC_BF16 : TC_F16);
    switch (k / 2) {
    case 0: return tc_eq_s(h, 0.1);
    case 1: return tc_lt_s(h, 0.2);
    case 2: return tc_le_s(h, 0.1);
    case 3: return tc_gt_s(h, 0.1);
    case 4: return tc_ge_s(h, 0.2);
    default: return tc_ne_s(h, 0.1);
    }
}

TEST(halves_against_scalars) {
    static const double want[6][2] = {{1, 0}, {1, 0}, {1, 0}, {0, 1}, {0, 1}, {0, 1}};
    expected e[12];
    memset(e, 0, sizeof e);
    for (int k = 0; k < 12; k++) {
        e[k].d = TC_DIMS(2), e[k].dtype = TC_BOOL;
        e[k].at[0] = want[k / 2][0], e[k].at[1] = want[k / 2][1];
    }
    check_rules(compare_call, 12, "compare", e);
}

// ---- whole scalars that a narrow integer does not hold ----
// One rule: the op is computed in i32, and what it gives wraps; filling with s is 0 + s.

static const double far_scalars[] = {300, -1, -200, 70000, 256, 3e9};
static const int narrow[] = {TC_U8, TC_I8, TC_I16};

static int64_t wrapped(int t, int64_t x) {
    if (t == TC_U8) return (uint8_t)x;
    return t == TC_I8 ? (int8_t)(uint8_t)x : (int16_t)(uint16_t)x;
}

enum { FAR_X = 4, FAR_OPS = 19 };
static int64_t narrow_value(int t, int i) {
    static const int64_t u8[FAR_X] = {0, 7, 200, 255}, i8[FAR_X] = {-128, -3, 5, 127},
                         i16[FAR_X] = {-32768, -300, 44, 32767};
    return t == TC_U8 ? u8[i] : t == TC_I8 ? i8[i] : i16[i];
}

static int64_t divided(int64_t a, int64_t b) { // towards minus infinity; x / 0 = 0
    if (!b) return 0;
    return a / b - (a % b && (a < 0) != (b < 0));
}

// What op k gives for x and s, before it wraps; *truth: as a bool.
static int64_t far_value(int k, int64_t x, int64_t s, int *truth) {
    *truth = k >= 13 && k < 19;
    switch (k) {
    case 0: return x + s;
    case 1: return x - s;
    case 2: return s - x;
    case 3: return x * s;
    case 4: return divided(x, s);
    case 5: return x > s ? x : s;
    case 6: return x < s ? x : s;
    case 7: return x & s;
    case 8: return x | s;
    case 9:
    case 10:
    case 11:
    case 12: return s;
    case 13: return x < s;
    case 14: return x <= s;
    case 15: return x > s;
    case 16: return x >= s;
    case 17: return x == s;
    default: return x != s;
    }
}

static tc_tensor far_op(tc_ctx *tc, int k, tc_tensor x, double s) {
    tc_tensor all = tc_ones(tc, TC_DIMS(FAR_X), TC_BOOL);
    tc_dtype t = tc_dtype_of(x);
    switch (k) {
    case 0: return tc_add_s(x, s);
    case 1: return tc_sub_s(x, s);
    case 2: return tc_rsub_s(x, s);
    case 3: return tc_mul_s(x, s);
    case 4: return tc_floor_divide_s(x, s);
    case 5: return tc_maximum_s(x, s);
    case 6: return tc_minimum_s(x, s);
    case 7: return tc_bitwise_and_s(x, s);
    case 8: return tc_bitwise_or_s(x, s);
    case 9: return tc_full(tc, TC_DIMS(FAR_X), s, t);
    case 10: return tc_masked_fill(x, all, s);
    case 11: return tc_where(all, tc_scalar(tc, s, t), x);
    case 12: return tc_slice(tc_pad(x, TC_DIMS(FAR_X), TC_DIMS(0), s), 0, 0, FAR_X, 1);
    case 13: return tc_lt_s(x, s);
    case 14: return tc_le_s(x, s);
    case 15: return tc_gt_s(x, s);
    case 16: return tc_ge_s(x, s);
    case 17: return tc_eq_s(x, s);
    default: return tc_ne_s(x, s);
    }
}

static void check_far(tc_ctx *tc, const char *how, int t, int k, double s, tc_tensor y) {
    int64_t got[FAR_X], taken = s > 2147483647 ? 2147483647 : (int64_t)s;
    int truth;
    CHECK_EQ(tc_read(tc_to_i64(y), got, sizeof got), TC_OK);
    for (int i = 0; i < FAR_X; i++) {
        int64_t want = far_value(k, narrow_value(t, i), taken, &truth);
        if (!truth) want = wrapped(t, want);
        if (tc_dtype_of(y) != (truth ? TC_BOOL : (tc_dtype)t) || got[i] != want)
            FAIL("%s: op %d of %s %lld and %g: %lld, not %lld %s", how, k,
                 tc_dtype_name((tc_dtype)t), (long long)narrow_value(t, i), s,
                 (long long)got[i], (long long)want, tc_error_text(tc));
    }
}

TEST(scalars_beyond_narrow_integers) {
    for (int run = 0; run < RUNS; run++)
        for (int n = 0; n < 3; n++) {
            tc_ctx *tc = open_backend(run ? backends[run] : "aot_eager");
            int t = narrow[n];
            tc_tensor y[FAR_OPS][6];
            int64_t at[FAR_X];
            for (int i = 0; i < FAR_X; i++) at[i] = narrow_value(t, i);
            if (run) tc_trace_begin(tc, "far");
            tc_tensor x =
                tc_cast(tc_from_data(tc, at, TC_DIMS(FAR_X), TC_I64), (tc_dtype)t);
            for (int k = 0; k < FAR_OPS; k++)
                for (int i = 0; i < 6; i++) y[k][i] = far_op(tc, k, x, far_scalars[i]);
            if (run) CHECK_EQ(tc_trace_end(tc), TC_OK);
            for (int k = 0; k < FAR_OPS; k++)
                for (int i = 0; i < 6; i++)
                    check_far(tc, run ? backends[run] : "eager", t, k, far_scalars[i],
                              y[k][i]);
            tc_close(tc);
        }
}

// Padding of max_pool2d is below every element, of integers too.
static tc_tensor pool_call(tc_ctx *tc, int k) {
    static const tc_dtype of[] = {TC_I8, TC_I16, TC_I32, TC_F16};
    return tc_max_pool2d(tc_full(tc, TC_DIMS(1, 2, 2), -100, of[k]), 2, 2, 1);
}

TEST(padding_of_max_pools) {
    static const expected want[] = {
        {{3, {1, 2, 2}}, TC_I8, {-100, -100, -100, -100}, 0},
        {{3, {1, 2, 2}}, TC_I16, {-100, -100, -100, -100}, 0},
        {{3, {1, 2, 2}}, TC_I32, {-100, -100, -100, -100}, 0},
        {{3, {1, 2, 2}}, TC_F16, {-100, -100, -100, -100}, 0},
    };
    check_rules(pool_call, 4, "max_pool2d", want);
}

// ---- ops that compute give row-major results, along whatever dimension ----

static tc_tensor dense_call(tc_ctx *tc, int k) {
    static const double at[6] = {3, 1, 2, 0, 5, 4};
    tc_tensor x = floats(tc, TC_DIMS(3, 2), at), v, i;
    tc_tensor row = tc_zeros(tc, TC_DIMS(1, 2), TC_I64);
    tc_tensor nine = tc_full(tc, TC_DIMS(1, 2), 9, TC_F32);
    switch (k) {
    case 0: return tc_cumsum(x, 0);
    case 1: return tc_cumprod(tc_cast(x, TC_F16), 0);
    case 2: return tc_sort(x, 0, 0, &v, &i), v;
    case 3: return tc_sort(x, 0, 0, &v, &i), i;
    case 4: return tc_topk(x, 1, 0, 1, &v, &i), v;
    case 5: return tc_argsort(x, 0, 1);
    case 6: return tc_scatter(x, 0, row, nine);
    case 7: return tc_scatter_add(tc_cast(x, TC_BF16), 0, row, tc_cast(nine, TC_BF16));
    default: return tc_index_add(x, 0, tc_zeros(tc, TC_DIMS(1), TC_I32), nine);
    }
}

TEST(results_along_any_dimension_are_row_major) {
    static const expected want[] = {
        {{2, {3, 2}}, TC_F32, {3, 1, 5, 1, 10, 5}, 0},
        {{2, {3, 2}}, TC_F16, {3, 1, 6, 0, 30, 0}, 0},
        {{2, {3, 2}}, TC_F32, {2, 0, 3, 1, 5, 4}, 0},
        {{2, {3, 2}}, TC_I64, {1, 1, 0, 0, 2, 2}, 0},
        {{2, {1, 2}}, TC_F32, {5, 4}, 0},
        {{2, {3, 2}}, TC_I64, {2, 2, 0, 0, 1, 1}, 0},
        {{2, {3, 2}}, TC_F32, {9, 9, 2, 0, 5, 4}, 0},
        {{2, {3, 2}}, TC_BF16, {12, 10, 2, 0, 5, 4}, 0},
        {{2, {3, 2}}, TC_F32, {12, 10, 2, 0, 5, 4}, 0},
    };
    check_rules(dense_call, 9, "row-major", want);
}

// ---- padding with elements of the tensor ----

static tc_tensor pad_call(tc_ctx *tc, int k) {
    tc_tensor x = counted(tc, TC_DIMS(5)), m = counted(tc, TC_DIMS(2, 3));
    switch (k) {
    case 0: return tc_pad_with(x, TC_DIMS(2), TC_DIMS(3), TC_PAD_REFLECT);
    case 1: return tc_pad_with(x, TC_DIMS(2), TC_DIMS(3), TC_PAD_REPLICATE);
    case 2: return tc_pad_with(x, TC_DIMS(2), TC_DIMS(3), TC_PAD_CIRCULAR);
    case 3: return tc_pad_with(x, TC_DIMS(4), TC_DIMS(4), TC_PAD_REFLECT);
    case 4: return tc_pad_with(x, TC_DIMS(-1), TC_DIMS(2), TC_PAD_REFLECT);
    case 5: return tc_pad_with(x, TC_DIMS(-1), TC_DIMS(-2), TC_PAD_CIRCULAR);
    case 6: return tc_pad_with(tc_to_i32(m), TC_DIMS(1, 1), TC_DIMS(0, 2), TC_PAD_REFLECT);
    case 7: return tc_pad_with(m, TC_DIMS(1, 0), TC_DIMS(1, 1), TC_PAD_REPLICATE);
    case 8: return tc_pad_with(m, TC_DIMS(0, 0), TC_DIMS(0, 0), TC_PAD_REFLECT);
    default: return tc_pad_with(x, TC_DIMS(5), TC_DIMS(0), TC_PAD_CIRCULAR);
    }
}

TEST(padding_with_its_own_elements) {
    static const expected want[] = {
        {{1, {10}}, TC_F32, {3, 2, 1, 2, 3, 4, 5, 4, 3, 2}, 0},
        {{1, {10}}, TC_F32, {1, 1, 1, 2, 3, 4, 5, 5, 5, 5}, 0},
        {{1, {10}}, TC_F32, {4, 5, 1, 2, 3, 4, 5, 1, 2, 3}, 0},
        {{1, {13}}, TC_F32, {5, 4, 3, 2, 1, 2, 3, 4, 5, 4, 3, 2, 1}, 0},
        {{1, {6}}, TC_F32, {2, 3, 4, 5, 4, 3}, 0},
        {{1, {2}}, TC_F32, {2, 3}, 0},
        {{2, {3, 6}}, TC_I32, {5, 4, 5, 6, 5, 4, 2, 1, 2, 3, 2, 1, 5, 4, 5, 6, 5, 4}, 0},
        {{2, {4, 4}}, TC_F32, {1, 2, 3, 3, 1, 2, 3, 3, 4, 5, 6, 6, 4, 5, 6, 6}, 0},
        {{2, {2, 3}}, TC_F32, {1, 2, 3, 4, 5, 6}, 0},
        {{1, {10}}, TC_F32, {1, 2, 3, 4, 5, 1, 2, 3, 4, 5}, 0},
    };
    check_rules(pad_call, 10, "pad_with", want);
}

TEST(padding_that_does_not_fit) {
    tc_ctx *tc = open_backend("aot_eager");
    tc_tensor x = counted(tc, TC_DIMS(3)), none = tc_zeros(tc, TC_DIMS(0), TC_F32);
    CHECK(tc_is_null(tc_pad_with(x, TC_DIMS(3), TC_DIMS(0), TC_PAD_REFLECT)));
    CHECK_EQ(tc_error(tc), TC_E_SHAPE), tc_error_clear(tc);
    CHECK(tc_is_null(tc_pad_with(x, TC_DIMS(0), TC_DIMS(4), TC_PAD_CIRCULAR)));
    CHECK_EQ(tc_error(tc), TC_E_SHAPE), tc_error_clear(tc);
    CHECK(tc_is_null(tc_pad_with(none, TC_DIMS(1), TC_DIMS(0), TC_PAD_REPLICATE)));
    CHECK_EQ(tc_error(tc), TC_E_SHAPE), tc_error_clear(tc);
    CHECK(tc_is_null(tc_pad_with(x, TC_DIMS(-2), TC_DIMS(-2), TC_PAD_REFLECT)));
    CHECK_EQ(tc_error(tc), TC_E_SHAPE), tc_error_clear(tc);
    CHECK(tc_is_null(tc_pad_with(x, TC_DIMS(1), TC_DIMS(1), (tc_pad_mode)7)));
    CHECK_EQ(tc_error(tc), TC_E_ARG), tc_error_clear(tc);
    CHECK(tc_is_null(tc_interpolate(x, TC_DIMS(0), TC_NEAREST)));
    CHECK_EQ(tc_error(tc), TC_E_SHAPE), tc_error_clear(tc);
    CHECK(tc_is_null(tc_interpolate(x, TC_DIMS(2, 2), TC_NEAREST)));
    CHECK_EQ(tc_error(tc), TC_E_RANK), tc_error_clear(tc);
    tc_close(tc);
}

// ---- resizing ----

static tc_tensor resize_call(tc_ctx *tc, int k) {
    tc_tensor m = counted(tc, TC_DIMS(1, 2, 2)), x = counted(tc, TC_DIMS(5));
    switch (k) {
    case 0: return tc_interpolate(m, TC_DIMS(4, 4), TC_LINEAR);
    case 1: return tc_interpolate(m, TC_DIMS(4, 4), TC_LINEAR_CORNERS);
    case 2: return tc_interpolate(tc_to_u8(m), TC_DIMS(4, 4), TC_NEAREST);
    case 3: return tc_interpolate(x, TC_DIMS(3), TC_LINEAR);
    case 4: return tc_interpolate(x, TC_DIMS(3), TC_LINEAR_CORNERS);
    case 5: return tc_interpolate(x, TC_DIMS(3), TC_NEAREST);
    case 6: return tc_interpolate(x, TC_DIMS(1), TC_LINEAR);
    case 7: return tc_interpolate(x, TC_DIMS(1), TC_LINEAR_CORNERS);
    case 8: return tc_interpolate(tc_to_i32(x), TC_DIMS(5), TC_LINEAR);
    case 9: return tc_interpolate(tc_slice(x, 0, 4, 5, 1), TC_DIMS(3), TC_LINEAR_CORNERS);
    case 10: return tc_interpolate(tc_slice(x, 0, 4, 5, 1), TC_DIMS(3), TC_LINEAR);
    case 11: return tc_interpolate(tc_cast(x, TC_F16), TC_DIMS(3), TC_LINEAR);
    default: return tc_interpolate(x, TC_DIMS(7), TC_NEAREST);
    }
}

#define THIRD (1.0 / 3)

TEST(resizing) {
    static const expected want[] = {
        {{3, {1, 4, 4}},
         TC_F32,
         {1, 1.25, 1.75, 2, 1.5, 1.75, 2.25, 2.5, 2.5, 2.75, 3.25, 3.5, 3, 3.25, 3.75, 4},
         0},
        {{3, {1, 4, 4}},
         TC_F32,
         {1, 1 + THIRD, 2 - THIRD, 2, 2 - THIRD, 2, 2 + THIRD, 3 - THIRD, 2 + THIRD,
          3 - THIRD, 3, 3 + THIRD, 3, 3 + THIRD, 4 - THIRD, 4},
         1e-6},
        {{3, {1, 4, 4}}, TC_U8, {1, 1, 2, 2, 1, 1, 2, 2, 3, 3, 4, 4, 3, 3, 4, 4}, 0},
        {{1, {3}}, TC_F32, {1 + THIRD, 3, 5 - THIRD}, 1e-6},
        {{1, {3}}, TC_F32, {1, 3, 5}, 0},
        {{1, {3}}, TC_F32, {1, 2, 4}, 0},
        {{1, {1}}, TC_F32, {3}, 0},
        {{1, {1}}, TC_F32, {1}, 0},
        {{1, {5}}, TC_F32, {1, 2, 3, 4, 5}, 0},
        {{1, {3}}, TC_F32, {5, 5, 5}, 0},
        {{1, {3}}, TC_F32, {5, 5, 5}, 0},
        {{1, {3}}, TC_F16, {1 + THIRD, 3, 5 - THIRD}, 2e-3},
        {{1, {7}}, TC_F32, {1, 1, 2, 3, 3, 4, 5}, 0},
    };
    check_rules(resize_call, 13, "interpolate", want);
}

// Many pairs of sizes against the formula in double.
static double resized(const double *x, int in, int out, int i, tc_interpolation mode) {
    double s = mode == TC_LINEAR ? (i + 0.5) * in / out - 0.5
               : out > 1         ? (double)i * (in - 1) / (out - 1)
                                 : 0;
    if (mode == TC_NEAREST) return x[(int64_t)i * in / out];
    if (s < 0) s = 0;
    int low = (int)s, next = low + 1 < in ? low + 1 : low;
    if (low > in - 1) low = in - 1;
    return x[low] + (s - low) * (x[next] - x[low]);
}

enum { RESIZE_MOST = 40 };

TEST(resizing_to_all_sizes) {
    static const tc_interpolation modes[] = {TC_NEAREST, TC_LINEAR, TC_LINEAR_CORNERS};
    double x[RESIZE_MOST];
    float got[RESIZE_MOST];
    for (int i = 0; i < RESIZE_MOST; i++) x[i] = (double)(i * i % 17) - i * 0.25;
    for (int run = 0; run < 2; run++) {
        tc_ctx *tc = open_backend("aot_eager");
        for (int in = 1; in < RESIZE_MOST; in += 1 + in / 3)
            for (int out = 1; out < RESIZE_MOST; out += 1 + out / 4)
                for (int m = 0; m < 3; m++) {
                    tc_scope_begin(tc);
                    if (run) tc_trace_begin(tc, "resize");
                    tc_tensor y =
                        tc_interpolate(floats(tc, TC_DIMS(in), x), TC_DIMS(out), modes[m]);
                    if (run) tc_trace_end(tc);
                    CHECK_EQ(tc_read(y, got, (size_t)out * sizeof *got), TC_OK);
                    for (int i = 0; i < out; i++) {
                        double want = resized(x, in, out, i, modes[m]);
                        if (fabs(got[i] - want) > (m ? 4e-6 : 0))
                            FAIL("%d to %d, mode %d: [%d] is %g, not %g", in, out, m, i,
                                 (double)got[i], want);
                    }
                    tc_scope_end(tc);
                }
        tc_close(tc);
    }
}

// ---- memory that nobody has set, and arrays that have no name ----

TEST(empty_tensors_are_filled_later) {
    for (int run = 0; run < 2; run++) {
        tc_ctx *tc = open_backend("aot_eager");
        if (run) tc_trace_begin(tc, "empty");
        tc_tensor t = tc_empty(tc, TC_DIMS(2, 3), TC_F32);
        tc_copy_(t, counted(tc, TC_DIMS(2, 3)));
        if (run) CHECK_EQ(tc_trace_end(tc), TC_OK);
        CHECK_EQ(tc_rank(t), 2);
        CHECK_NEAR(tc_item(tc_sum_all(t)), 21, 0);
        CHECK(tc_is_null(tc_empty(tc, TC_DIMS(-1), TC_F32)));
        CHECK_EQ(tc_error(tc), TC_E_SHAPE), tc_error_clear(tc);
        tc_close(tc);
    }
}

static void twice(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc;
    out[0] = tc_mul_s(in[0], *(const double *)user);
}

TEST(compound_literals_in_calls) {
    tc_ctx *tc = open_backend("aot_eager");
    tc_tensor a = tc_from_data(tc, ((float[]){1, 2}), TC_DIMS(2), TC_F32);
    tc_tensor b = tc_from_data(tc, (float[]){3, 4}, TC_DIMS(2), TC_F32);
    tc_tensor c = tc_const(tc, (float[]){5, 6}, TC_DIMS(2), TC_F32), y;
    tc_tensor s =
        tc_wrap_strided(tc, (float[]){7, 0, 8}, TC_DIMS(2), (int64_t[]){2}, TC_F32);
    CHECK_NEAR(tc_item(tc_sum_all(tc_cat((tc_tensor[]){a, b, c, s}, 4, 0))), 36, 0);
    CHECK_EQ(tc_rank(tc_stack((tc_tensor[]){a, b}, 2, 0)), 2);
    CHECK_EQ(tc_dim(tc_zeros(tc, (tc_dims){2, {3, 4}}, TC_F32), 1), 4);
    CHECK_EQ(tc_dim(tc_reshape(a, (tc_dims){2, {2, 1}}), 0), 2);
    CHECK_NEAR(tc_get(a, (tc_dims){1, {1}}), 2, 0);
    tc_fn *f = tc_compile(tc, twice, (double[]){2, 0}, sizeof(double), NULL);
    CHECK_EQ(tc_call(f, (tc_tensor[]){a, b}, 1, &y, 1), TC_OK);
    CHECK_NEAR(tc_item(tc_sum_all(y)), 6, 0);
    tc_trace_begin_with(tc, "literal", (&(tc_options){.fullgraph = 1, .verify = 0}));
    y = tc_conv2d_with(tc_ones(tc, TC_DIMS(1, 1, 4, 4), TC_F32),
                       tc_ones(tc, TC_DIMS(1, 1, 2, 2), TC_F32), tc_null(),
                       &(tc_conv_options){.stride = {2, 2}, .groups = 1});
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    CHECK_NEAR(tc_item(tc_sum_all(y)), 16, 0);
    CHECK_EQ(tc_error(tc), TC_OK);
    tc_close(tc);
}

// ---- views of constants are constants, and nothing else is ----
// Taps of a constant that are 0 count for nothing, even where x is infinite: [1, 0] along one axis. Of what is computed
// of a constant they count in every way of running it, for eager code may write there before it is used.

// [1, 1, 2, 2] of a, b, c, d: a constant.
static tc_tensor taps(tc_ctx *tc, float a, float b, float c, float d) {
    const float w[4] = {a, b, c, d};
    return tc_const(tc, w, TC_DIMS(1, 1, 2, 2), TC_F32);
}

// 0, 1, 0, 0 made of a constant; 7: 0, 1, 0, 1.
static tc_tensor made_of_taps(tc_ctx *tc, int k) {
    tc_tensor part[2];
    switch (k) {
    case 0: return tc_clone(taps(tc, 0, 1, 0, 0));
    case 1: return tc_contiguous(tc_transpose(taps(tc, 0, 0, 1, 0), 2, 3));
    case 2: return tc_flip(taps(tc, 0, 0, 1, 0), TC_DIMS(2, 3));
    case 3: return tc_mul_s(taps(tc, 0, 0.5f, 0, 0), 2);
    case 4: return tc_cast(tc_cast(taps(tc, 0, 1, 0, 0), TC_F16), TC_F32);
    case 5:
        part[0] = tc_slice(taps(tc, 0, 1, 0, 0), 2, 0, 1, 1);
        part[1] = tc_slice(taps(tc, 0, 0, 0, 0), 2, 0, 1, 1);
        return tc_cat(part, 2, 2);
    case 6: return tc_roll(taps(tc, 1, 0, 0, 0), 1, 3);
    default:
        return tc_tile(tc_slice(taps(tc, 0, 1, 0, 0), 2, 0, 1, 1), TC_DIMS(1, 1, 2, 1));
    }
}

enum { VIEWS_OF_TAPS = 4, MADE_OF_TAPS = 8 };

static tc_tensor constant_call(tc_ctx *tc, int k) {
    static const double at[9] = {1, 2, 3, INFINITY, 5, 6, 7, INFINITY, 9};
    tc_tensor x = tc_reshape(floats(tc, TC_DIMS(9), at), TC_DIMS(1, 1, 3, 3));
    tc_tensor w = tc_const(tc, (float[]){0, 1, 0, 0}, TC_DIMS(1, 1, 2, 2), TC_F32);
    if (k == 1) w = tc_transpose(tc_transpose(w, 2, 3), 0, 1);
    if (k == 2)
        w = tc_slice(tc_slice(tc_transpose(w, 2, 3), 2, 1, TC_END, -1), 3, 1, TC_END, -1);
    if (k == 3)
        w = tc_reshape(tc_slice(tc_reshape(w, TC_DIMS(4)), 0, 1, 3, 1),
                       TC_DIMS(1, 1, 1, 2));
    if (k >= VIEWS_OF_TAPS) w = made_of_taps(tc, k - VIEWS_OF_TAPS);
    if (k == VIEWS_OF_TAPS + MADE_OF_TAPS) { // of a copy's values
        float copy[4] = {0};
        CHECK_EQ(tc_read(tc_flip(taps(tc, 0, 0, 1, 0), TC_DIMS(2, 3)), copy, sizeof copy),
                 TC_OK);
        w = taps(tc, copy[0], copy[1], copy[2], copy[3]);
    }
    return tc_reshape(tc_conv2d(x, w, tc_null(), 1, 0, 1, 1), TC_DIMS(-1));
}

TEST(views_of_constants) {
    static const expected want[] = {
        {{1, {4}}, TC_F32, {2, 3, 5, 6}, 0},               // x[i][j + 1]
        {{1, {4}}, TC_F32, {INFINITY, 5, 7, INFINITY}, 0}, // x[i + 1][j]
        {{1, {4}}, TC_F32, {2, 3, 5, 6}, 0},               // turned twice
        {{1, {6}}, TC_F32, {1, 2, INFINITY, 5, 7, INFINITY}, 0},
        {{1, {4}}, TC_F32, {NAN, 3, NAN, NAN}, 0}, // infinity * 0 is in all but one sum
        {{1, {4}}, TC_F32, {NAN, 3, NAN, NAN}, 0},
        {{1, {4}}, TC_F32, {NAN, 3, NAN, NAN}, 0},
        {{1, {4}}, TC_F32, {NAN, 3, NAN, NAN}, 0},
        {{1, {4}}, TC_F32, {NAN, 3, NAN, NAN}, 0},
        {{1, {4}}, TC_F32, {NAN, 3, NAN, NAN}, 0},
        {{1, {4}}, TC_F32, {NAN, 3, NAN, NAN}, 0},
        {{1, {4}}, TC_F32, {NAN, 9, NAN, NAN}, 0},
        {{1, {4}}, TC_F32, {2, 3, 5, 6}, 0}, // x[i][j + 1]
    };
    check_rules(constant_call, VIEWS_OF_TAPS + MADE_OF_TAPS + 1, "constant", want);
}

// ---- dtypes of two operands ----
// PyTorch's type promotion, by its documentation: of tensors with dimensions the higher category wins, then the
// wider one; one of no dimensions beside them only raises the category. Of two of none the first rule holds.

enum { DTYPES = 10 };
static const char order[] = "b u c s i l h g f d"; // f8 has none in common: ops/bytes.c
static const tc_dtype ordered[DTYPES] = {TC_BOOL, TC_U8,  TC_I8,   TC_I16, TC_I32,
                                         TC_I64,  TC_F16, TC_BF16, TC_F32, TC_F64};

static const char *const of_tensors[DTYPES] = {
    "b u c s i l h g f d", "u u s s i l h g f d", "c s c s i l h g f d",
    "s s s s i l h g f d", "i i i i i l h g f d", "l l l l l l h g f d",
    "h h h h h h h f f d", "g g g g g g f g f d", "f f f f f f f f f d",
    "d d d d d d d d d d"};

static const char *const of_tensor_and_point[DTYPES] = {
    "b u c s i l h g f d", "u u u u u u h g f d", "c c c c c c h g f d",
    "s s s s s s h g f d", "i i i i i i h g f d", "l l l l l l h g f d",
    "h h h h h h h h h h", "g g g g g g g g g g", "f f f f f f f f f f",
    "d d d d d d d d d d"};

static int dtype_named(const char *row, int at) {
    return (int)ordered[(strchr(order, row[2 * at]) - order) / 2];
}

static void add_body(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_add(in[0], in[1]), out[1] = tc_maximum(in[0], in[1]);
    out[2] = tc_where(tc_lt(in[0], in[1]), in[0], in[1]);
}

// 1 + 1, the larger one, and the second one, for they are equal: `how` 0 eager, 1 a region, else a function.
static void check_pair(tc_ctx *tc, tc_fn *f, const tc_tensor *in, int want, int how) {
    tc_tensor out[3];
    if (how > 1) CHECK_EQ(tc_call(f, in, 2, out, 3), TC_OK);
    if (how == 1) tc_trace_begin(tc, "pair");
    if (how < 2) add_body(tc, in, out, NULL);
    if (how == 1) CHECK_EQ(tc_trace_end(tc), TC_OK);
    for (int k = 0; k < 3; k++) {
        double sum = k == 0 && want != TC_BOOL ? 2 : 1;
        if ((int)tc_dtype_of(out[k]) != want)
            FAIL("%s[%d], %s[%d], result %d, way %d: %s, not %s",
                 tc_dtype_name(tc_dtype_of(in[0])), tc_rank(in[0]),
                 tc_dtype_name(tc_dtype_of(in[1])), tc_rank(in[1]), k, how,
                 tc_dtype_name(tc_dtype_of(out[k])), tc_dtype_name((tc_dtype)want));
        CHECK_NEAR(tc_item(tc_reshape(tc_slice(tc_flatten(out[k], 0, -1), 0, 0, 1, 1),
                                      TC_DIMS(1))),
                   sum, 0);
    }
    CHECK_EQ(tc_error(tc), TC_OK);
}

BOTH(dtypes_of_two_operands) {
    tc_fn *f = tc_compile(tc, add_body, NULL, 0, NULL);
    static const int ranks[][2] = {{1, 1}, {1, 0}, {0, 1}, {0, 0}};
    for (int a = 0; a < DTYPES; a++)
        for (int b = 0; b < DTYPES; b++)
            for (int r = 0; r < 4; r++) {
                int mixed = ranks[r][0] != ranks[r][1], turned = mixed && !ranks[r][0];
                tc_tensor in[2];
                if (!test_all() && (a + b) % 3 && r != 1) continue;
                tc_scope_begin(tc);
                in[0] = tc_full(tc, tc_dims_of(ranks[r][0], &(int64_t){3}), 1, ordered[a]);
                in[1] = tc_full(tc, tc_dims_of(ranks[r][1], &(int64_t){3}), 1, ordered[b]);
                int want = !mixed   ? dtype_named(of_tensors[a], b)
                           : turned ? dtype_named(of_tensor_and_point[b], a)
                                    : dtype_named(of_tensor_and_point[a], b);
                for (int how = 0; how < 3; how++) check_pair(tc, f, in, want, how);
                tc_scope_end(tc);
            }
}

// A value of the program's is such a tensor, and the number it is does not lose to f32 before it is used.
TEST(a_scalar_of_f64_does_not_widen) {
    tc_ctx *tc = open_backend("aot_eager");
    tc_tensor x = tc_ones(tc, TC_DIMS(2), TC_F32), half = tc_ones(tc, TC_DIMS(2), TC_BF16);
    tc_tensor y = tc_mul(x, tc_scalar(tc, 0.1, TC_F64));
    CHECK_EQ(tc_dtype_of(y), TC_F32);
    CHECK_EQ(tc_item(tc_select(y, 0, 1)), (double)0.1f);
    CHECK_EQ(tc_dtype_of(tc_sub(half, tc_sum_all(x))), TC_BF16);
    CHECK_EQ(tc_dtype_of(tc_add(tc_ones(tc, TC_DIMS(2), TC_I32), tc_sum_all(x))), TC_F32);
    tc_close(tc);
}

// ---- one_hot ----

static tc_tensor hot_of(tc_ctx *tc, const int64_t *at, int n, tc_dtype dtype) {
    return tc_one_hot(tc_cast(tc_from_data(tc, at, TC_DIMS(n), TC_I64), dtype), 4);
}

// Its index is one as any other: whole, from the end where negative, refused out of range.
BOTH(one_hot_is_an_index) {
    static const int64_t good[] = {3, 0, -1, -4}, bad[][2] = {{0, 4}, {-5, 1}};
    static const double want[16] = {0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0};
    double got[16];
    for (int region = 0; region < 2; region++) {
        for (int dtype = TC_I32; dtype <= TC_I64; dtype++) {
            if (region) tc_trace_begin(tc, "hot");
            tc_tensor y = hot_of(tc, good, 4, (tc_dtype)dtype);
            if (region) CHECK_EQ(tc_trace_end(tc), TC_OK);
            CHECK_EQ(tc_dtype_of(y), TC_I64);
            CHECK_EQ(tc_read(tc_to_f64(y), got, sizeof got), TC_OK);
            CHECK_BYTES(got, want, sizeof got);
        }
        for (int k = 0; k < 2; k++) {
            if (region) tc_trace_begin(tc, "out of range");
            tc_tensor y = hot_of(tc, bad[k], 2, TC_I64);
            if (region) CHECK_EQ(tc_trace_end(tc), TC_E_INDEX);
            (void)y;
            ERROR(TC_E_INDEX,
                  k ? "index -5 is out of range for" : "index 4 is out of range for");
        }
        if (region) tc_trace_begin(tc, "float");
        CHECK(tc_is_null(hot_of(tc, good, 4, TC_F32)));
        if (region) CHECK_EQ(tc_trace_end(tc), TC_E_DTYPE);
        ERROR(TC_E_DTYPE, "one_hot: the index must be i32 or i64, got f32");
    }
}
