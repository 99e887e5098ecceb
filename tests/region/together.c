// Composite ops outside regions, whose primitives run together: they have the bits of the primitives one by
// one, their results are the caller's alone, and whatever sizes there are, memory is given back.
#include "tcompile.h"

#include "harness.h"
#include "help.h"

enum { ROWS = 5, N = 37, MOST = 64 };

typedef struct operands {
    tc_ctx *tc;
    tc_tensor x, y, row, targets, image, taps, odds;
} operands;

#define OPS(X)                                                                             \
    X(softmax, tc_softmax(o->x, 1))                                                        \
    X(softmax_columns, tc_softmax(o->x, 0))                                                \
    X(log_softmax, tc_log_softmax(o->x, -1))                                               \
    X(logsumexp, tc_logsumexp(o->x, 0))                                                    \
    X(sum, tc_sum(o->x, 1))                                                                \
    X(mean_all, tc_mean_all(o->x))                                                         \
    X(var, tc_var(o->x, 1, 1))                                                             \
    X(std, tc_std_all(o->x, 0))                                                            \
    X(norm, tc_norm(o->x, 1, 3))                                                           \
    X(argmax, tc_argmax(o->x, 1))                                                          \
    X(layer_norm, tc_layer_norm(o->x, o->row, o->row, 1e-5))                               \
    X(rms_norm, tc_rms_norm(o->x, o->row, 1e-5))                                           \
    X(normalize, tc_normalize(o->x, 2, 1, 1e-12))                                          \
    X(cosine_similarity, tc_cosine_similarity(o->x, o->y, 1, 1e-8))                        \
    X(mse_loss, tc_mse_loss(o->x, o->y))                                                   \
    X(l1_loss, tc_l1_loss(o->x, o->y))                                                     \
    X(cross_entropy, tc_cross_entropy(o->x, o->targets))                                   \
    X(tril, tc_tril(o->x, 1))                                                              \
    X(triu, tc_triu(tc_t(o->x), -2))                                                       \
    X(repeat_interleave, tc_repeat_interleave(o->x, 3, 0))                                 \
    X(max_pool2d, tc_max_pool2d(o->image, 3, 2, 1))                                        \
    X(avg_pool2d, tc_avg_pool2d(o->image, 2, 2, 0))                                        \
    X(pad, tc_pad(o->image, TC_DIMS(0, 0, 1, 2), TC_DIMS(0, 1, -1, 3), 4))                 \
    X(arange, tc_arange(o->tc, 1, tc_dim(o->x, 1), 2, tc_dtype_of(o->x)))                  \
    X(arange_fractions, tc_arange(o->tc, 1, tc_dim(o->x, 1), 0.5, tc_dtype_of(o->x)))      \
    X(conv2d_taps, tc_conv2d(o->image, o->taps, tc_null(), 1, 1, 1, 2))                    \
    X(conv2d_taps_bias,                                                                    \
      tc_conv2d(o->image, o->taps, tc_narrow(o->row, 0, 0, 2), 2, 1, 1, 2))                \
    X(attention, tc_scaled_dot_product_attention(o->x, o->y, o->x, tc_null(), 0, 0))

#define NAME(name, call) #name,
static const char *const names[] = {OPS(NAME)};
enum { COUNT = sizeof names / sizeof *names };

static tc_tensor run(const operands *o, int i) {
    int k = 0;
#define RUN(name, call)                                                                    \
    if (i == k++) return call;
    OPS(RUN)
#undef RUN
    return tc_null();
}

static operands make(tc_ctx *tc, int rows, int n, int dtype) {
    static const float taps[18] = {1, 2, 1, 0, 3, 0, 1, -2, 1, 1, 0, -1, 2, 0, -3, 1, 0, 5};
    operands o;
    o.tc = tc, o.taps = tc_const(tc, taps, TC_DIMS(2, 1, 3, 3), TC_F32);
    tc_manual_seed(tc, 7);
    o.x = tc_cast(tc_randn(tc, TC_DIMS(rows, n), TC_F32), (tc_dtype)dtype);
    o.y = tc_cast(tc_randn(tc, TC_DIMS(rows, n), TC_F32), (tc_dtype)dtype);
    o.row = tc_cast(tc_randn(tc, TC_DIMS(n), TC_F32), (tc_dtype)dtype);
    o.image = tc_cast(tc_randn(tc, TC_DIMS(1, 2, rows + 3, n), TC_F32), (tc_dtype)dtype);
    o.targets = tc_arange(tc, 0, rows, 1, TC_I64);
    return o;
}

static size_t bytes_of(tc_tensor t) {
    return (size_t)tc_numel(t) * tc_dtype_bytes(tc_dtype_of(t));
}

static void check_bits(int dtype) {
    tc_ctx *tc = open_backend("cpu");
    REQUIRE(tc);
    for (int i = 0; i < COUNT; i++)
        for (int turn = 0; turn < 3; turn++) {
            static char want[1 << 16], got[1 << 16];
            tc_scope_begin(tc);
            operands o = make(tc, ROWS + turn / 2, N + turn / 2 * 9, dtype);
            tc_set_stance(tc, TC_STANCE_FORCE_EAGER);
            tc_tensor alone = run(&o, i);
            tc_set_stance(tc, TC_STANCE_DEFAULT);
            tc_tensor t = run(&o, i);
            size_t n = bytes_of(t);
            if (!CHECK(t.id && n && n <= sizeof got && n == bytes_of(alone))) return;
            CHECK_EQ(tc_dtype_of(t), tc_dtype_of(alone));
            CHECK_EQ(tc_read(alone, want, n), TC_OK);
            CHECK_EQ(tc_read(t, got, n), TC_OK);
            if (memcmp(want, got, n)) FAIL("%s has other bits", names[i]);
            tc_scope_end(tc);
        }
    CHECK_STR(tc_error_text(tc), "");
    tc_close(tc);
}

TEST(bits_f32) { check_bits(TC_F32); }
TEST(bits_f64) { check_bits(TC_F64); }
TEST(bits_bf16) { check_bits(TC_BF16); }
TEST(bits_f16) { check_bits(TC_F16); }

BOTH(results_are_the_callers) {
    operands o = make(tc, ROWS, N, TC_F32);
    tc_tensor a = tc_softmax(o.x, 1), b = tc_softmax(o.x, 1);
    double first = AT(a, 3);
    tc_add_s_(a, 1);
    CHECK_EQ(AT(b, 3), first);
    tc_tensor d = tc_softmax(o.x, 1);
    CHECK_EQ(AT(d, 3), first);
    tc_free(b);
    tc_tensor e = tc_softmax(o.y, 1);
    CHECK_EQ(AT(d, 3), first);
    CHECK(AT(e, 3) != first);
    CHECK(AT(a, 3) > 1);
    // Into an operand, and of a view of one.
    tc_tensor half = tc_narrow(o.x, 0, 1, 2);
    tc_copy_(half, tc_softmax(half, 1));
    CHECK_EQ(AT(o.x, N + 3), AT(tc_narrow(d, 0, 1, 2), 3));
}

// Sizes that change without end, and intermediates that are large.
BOTH(memory_is_given_back) {
    static float data[1 << 20];
    for (int n = 1; n <= 400; n++) {
        tc_scope_begin(tc);
        tc_var(tc_from_data(tc, data, TC_DIMS(3, n), TC_F32), 1, 0);
        tc_scope_end(tc);
        CHECK(tc_stats_get(tc).bytes < 8 << 20);
    }
    uint64_t before = tc_stats_get(tc).bytes, first = 0;
    for (int i = 0; i < 4; i++) { // 4 MB each; what stays is scratch of the workers
        tc_scope_begin(tc);
        tc_tensor x = tc_from_data(tc, data, TC_DIMS(1 << 10, 1 << 10), TC_F32);
        tc_scaled_dot_product_attention(x, x, x, tc_null(), 0, 0);
        tc_softmax(x, 0);
        tc_scope_end(tc);
        if (!i) first = tc_stats_get(tc).bytes;
        CHECK(tc_stats_get(tc).bytes < first + (64 << 10));
        CHECK(first < before + (6 << 20));
    }
}

// An error leaves nothing open, and says what was called.
BOTH(errors) {
    operands o = make(tc, ROWS, N, TC_F32);
    tc_tensor wrong = tc_full(tc, TC_DIMS(ROWS), 1000, TC_I64);
    CHECK(!tc_layer_norm(o.x, o.y, o.row, 1e-5).id);
    ERROR(tc_error(tc), "layer_norm");
    CHECK(!tc_cosine_similarity(o.x, o.row, 7, 1e-8).id);
    ERROR(tc_error(tc), "cosine_similarity");
    CHECK(!tc_softmax(o.x, 9).id);
    ERROR(tc_error(tc), "softmax");
    tc_tensor loss = tc_cross_entropy(o.x, wrong);
    CHECK(!loss.id);
    ERROR(TC_E_INDEX, "cross_entropy");
    CHECK_EQ(tc_numel(tc_softmax(o.x, 1)), ROWS * N);
    tc_trace_begin(tc, "after");
    tc_tensor s = tc_softmax(o.x, 1);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    CHECK_EQ(AT(s, 3), AT(tc_softmax(o.x, 1), 3));
}

// One call counts as its primitives do, and no region is seen.
BOTH(nothing_is_seen) {
    operands o = make(tc, ROWS, N, TC_F32);
    tc_stats was = tc_stats_get(tc);
    for (int i = 0; i < 5; i++) tc_softmax(o.x, 1);
    tc_stats now = tc_stats_get(tc);
    CHECK(now.eager_ops >= was.eager_ops + 25);
    CHECK_EQ(now.visits, was.visits);
    CHECK_EQ(now.programs, was.programs);
    CHECK(!strstr(tc_explain(tc), "region \"softmax\""));
}
