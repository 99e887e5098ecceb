// An index out of range is found when a kernel runs. The error names the call that the user wrote, and
// the line where it stands: in regions, in functions, at visits that follow, with run-time sizes, and eagerly.
#include "tcompile.h"

#include "harness.h"

enum { ROWS = 5, COLUMNS = 4, BAD = 9 };

static tc_tensor rows_of(tc_tensor i) {
    return tc_expand(tc_unsqueeze(i, 1), TC_DIMS(-1, COLUMNS));
}

static tc_tensor ones_like(tc_ctx *tc, tc_tensor i) {
    return tc_ones(tc, TC_DIMS(tc_dim(i, 0), COLUMNS), TC_F32);
}

// Every public call whose indices are checked when it runs; `at` is its line.
typedef tc_tensor (*call)(tc_ctx *tc, tc_tensor w, tc_tensor i, int at);
#define CALL(name) static tc_tensor name(tc_ctx *tc, tc_tensor w, tc_tensor i, int at)

CALL(embedding) { return (void)tc, tc_embedding_at(w, i, "user.c", at); }
CALL(index_select) { return (void)tc, tc_index_select_at(w, 0, i, "user.c", at); }
CALL(take) { return (void)tc, tc_take_at(w, i, 0, "user.c", at); }
CALL(gather) { return (void)tc, tc_gather_at(w, 0, rows_of(i), "user.c", at); }
CALL(scatter) { return tc_scatter_at(w, 0, rows_of(i), ones_like(tc, i), "user.c", at); }
CALL(scatter_add) {
    return tc_scatter_add_at(w, 0, rows_of(i), ones_like(tc, i), "user.c", at);
}
CALL(index_add) { return tc_index_add_at(w, 0, i, ones_like(tc, i), "user.c", at); }
CALL(cross_entropy) {
    tc_tensor x = tc_matmul(ones_like(tc, i), tc_t(w));
    return tc_cross_entropy_at(x, i, "user.c", at);
}

static const struct {
    const char *name;
    call make;
} calls[] = {
    {"embedding", embedding}, {"index_select", index_select},
    {"take", take},           {"gather", gather},
    {"scatter", scatter},     {"scatter_add", scatter_add},
    {"index_add", index_add}, {"cross_entropy", cross_entropy},
};
enum { CALLS = sizeof calls / sizeof *calls };

static tc_tensor indices(tc_ctx *tc, int n) {
    int64_t at[16] = {1, 0, BAD};
    return tc_from_data(tc, at, TC_DIMS(n), TC_I64);
}

static void expect(tc_ctx *tc, const char *want) {
    const char *text = tc_error_text(tc);
    CHECK_EQ(tc_error(tc), TC_E_INDEX);
    if (!strstr(text, want)) FAIL("no \"%s\" in \"%s\"", want, text);
    tc_error_clear(tc);
}

static const char *named(const char *name, int line) {
    static char text[100];
    char where[40] = "";
    if (line) snprintf(where, sizeof where, " (user.c:%d)", line);
    snprintf(text, sizeof text, "%s%s: index 9 is out of range for size 5", name, where);
    return text;
}

static tc_ctx *open_context(void) {
    tc_config config = tc_config_default();
    config.threads = 1, config.backend = "aot_eager";
    return tc_open(&config);
}

// The third visit has another size, the fourth follows with one of its own.
TEST(in_regions) {
    tc_ctx *tc = open_context();
    tc_tensor w = tc_ones(tc, TC_DIMS(ROWS, COLUMNS), TC_F32);
    for (int k = 0; k < CALLS; k++)
        for (int visit = 0; visit < 4; visit++) {
            tc_tensor i = indices(tc, 3 + (visit > 1 ? visit : 0));
            tc_trace_begin(tc, calls[k].name);
            tc_tanh(calls[k].make(tc, tc_mul_s(w, 2), tc_add_s(i, 0), 100 + k));
            CHECK_EQ(tc_trace_end(tc), TC_E_INDEX);
            expect(tc, named(calls[k].name, 100 + k));
        }
    tc_close(tc);
}

TEST(eagerly) {
    tc_ctx *tc = open_context();
    tc_tensor w = tc_ones(tc, TC_DIMS(ROWS, COLUMNS), TC_F32);
    for (int twice = 0; twice < 2; twice++)
        for (int k = 0; k < CALLS; k++) {
            (void)calls[k].make(tc, w, indices(tc, 3), 100 + k);
            expect(tc, named(calls[k].name, 0));
        }
    tc_close(tc);
}

static void body(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    int k = *(const int *)user;
    out[0] = calls[k].make(tc, in[0], in[1], 100 + k);
}

// The third call skips the body.
TEST(in_functions) {
    tc_ctx *tc = open_context();
    tc_tensor w = tc_ones(tc, TC_DIMS(ROWS, COLUMNS), TC_F32), y;
    for (int k = 0; k < CALLS; k++) {
        tc_fn *f = tc_compile(tc, body, &k, sizeof k, NULL);
        for (int i = 0; i < 3; i++) {
            tc_tensor in[2];
            in[0] = w, in[1] = indices(tc, 3);
            CHECK_EQ(tc_call(f, in, 2, &y, 1), TC_E_INDEX);
            expect(tc, named(calls[k].name, 100 + k));
        }
    }
    tc_close(tc);
}

// Two calls with one index: the size tells which of them it is out of range for.
TEST(of_two_calls_with_one_index) {
    tc_ctx *tc = open_context();
    tc_tensor w = tc_ones(tc, TC_DIMS(20, COLUMNS), TC_F32), i = indices(tc, 3);
    tc_tensor v = tc_ones(tc, TC_DIMS(ROWS), TC_F32);
    tc_trace_begin(tc, "two");
    tc_tensor a = tc_embedding_at(w, i, "user.c", 1);
    tc_tensor b = tc_index_select_at(v, 0, i, "user.c", 2);
    tc_tensor c = tc_take_at(w, i, 0, "user.c", 3);
    tc_add(tc_add(a, tc_unsqueeze(b, 1)), c);
    CHECK_EQ(tc_trace_end(tc), TC_E_INDEX);
    expect(tc, named("index_select", 2));
    tc_close(tc);
}

// ---- operands that are null or dead, of every place, whatever ops the call is made of ----

enum {
    X,
    W,
    B,
    M,
    I,
    V,
    Q,
    K,
    OPERANDS
}; // floats [2, 3], [3], [2], mask, index, [4], images

typedef void (*use)(tc_ctx *tc, const tc_tensor *t);
#define USES(U)                                                                            \
    U(zeros_like, X, tc_zeros_like(t[X]))                                                  \
    U(ones_like, X, tc_ones_like(t[X]))                                                    \
    U(full_like, X, tc_full_like(t[X], 2))                                                 \
    U(broadcast_to, X, tc_broadcast_to(t[X], TC_DIMS(5, 2, 3)))                            \
    U(to_bool, X, tc_to_bool(t[X]))                                                        \
    U(to_f64, X, tc_to_f64(t[X]))                                                          \
    U(stack, X, tc_stack(pair(t[X], t[X]), 2, 0))                                          \
    U(stack, K, tc_stack(pair(t[Q], t[K]), 2, 0))                                          \
    U(cat, K, tc_cat(pair(t[Q], t[K]), 2, 0))                                              \
    U(flatten, X, tc_flatten(t[X], 0, -1))                                                 \
    U(tile, X, tc_tile(t[X], TC_DIMS(2, 2)))                                               \
    U(roll, X, tc_roll(t[X], 1, 0))                                                        \
    U(pad_with, X, tc_pad_with(t[X], TC_DIMS(1, 1), TC_DIMS(1, 1), TC_PAD_REFLECT))        \
    U(masked_fill, M, tc_masked_fill(t[X], t[M], 1))                                       \
    U(masked_fill_, M, tc_masked_fill_(t[X], t[M], 1))                                     \
    U(tril, X, tc_tril(t[X], 0))                                                           \
    U(one_hot, I, tc_one_hot(t[I], 4))                                                     \
    U(embedding, I, tc_embedding(t[X], t[I]))                                              \
    U(index_select, I, tc_index_select(t[X], 0, t[I]))                                     \
    U(index_add, I, tc_index_add(t[X], 0, t[I], t[X]))                                     \
    U(index_add, K, tc_index_add(t[X], 0, t[I], t[K]))                                     \
    U(scatter, I, tc_scatter(t[V], 0, t[I], t[B]))                                         \
    U(scatter, B, tc_scatter(t[V], 0, t[I], t[B]))                                         \
    U(scatter_add, I, tc_scatter_add(t[V], 0, t[I], t[B]))                                 \
    U(scatter_add, B, tc_scatter_add(t[V], 0, t[I], t[B]))                                 \
    U(gather, I, tc_gather(t[V], 0, t[I]))                                                 \
    U(take, I, tc_take(t[X], t[I], 0))                                                     \
    U(clamp, X, tc_clamp(t[X], 0, 1))                                                      \
    U(clamp_min, X, tc_clamp_min(t[X], 0))                                                 \
    U(clamp_max, X, tc_clamp_max(t[X], 1))                                                 \
    U(zero_, X, tc_zero_(t[X]))                                                            \
    U(fill_, X, tc_fill_(t[X], 1))                                                         \
    U(copy_, W, tc_copy_(t[X], t[W]))                                                      \
    U(add_, W, tc_add_(t[X], t[W]))                                                        \
    U(std, X, tc_std(t[X], 0, 1))                                                          \
    U(norm, X, tc_norm_all(t[X], 2))                                                       \
    U(layer_norm, X, tc_layer_norm(t[X], t[W], tc_null(), 1e-5))                           \
    U(cosine_similarity, W, tc_cosine_similarity(t[X], t[W], 0, 1e-8))                     \
    U(matmul, W, tc_matmul(t[X], t[W]))                                                    \
    U(linear, X, tc_linear(t[X], t[K], t[B]))                                              \
    U(linear, K, tc_linear(t[X], t[K], t[B]))                                              \
    U(addmm, B, tc_addmm(t[B], t[X], tc_t(t[Q]), 1, 1))                                    \
    U(dot, W, tc_dot(t[V], t[W]))                                                          \
    U(outer, W, tc_outer(t[V], t[W]))                                                      \
    U(scaled_dot_product_attention, K,                                                     \
      tc_scaled_dot_product_attention(t[X], t[K], t[Q], tc_null(), 0, 0))                  \
    U(mse_loss, W, tc_mse_loss(t[X], t[W]))                                                \
    U(bce_with_logits, W, tc_bce_with_logits(t[X], t[W]))                                  \
    U(cross_entropy, I, tc_cross_entropy(t[X], t[I]))                                      \
    U(interpolate, X, tc_interpolate(t[X], TC_DIMS(4, 4), TC_LINEAR))                      \
    U(sgd_, K, tc_sgd_(t[X], t[K], tc_null(), 0.1, 0, 0, 0))

static const tc_tensor *pair(tc_tensor a, tc_tensor b) {
    static tc_tensor two[2];
    two[0] = a, two[1] = b;
    return two;
}

#define U(name, of, expression)                                                            \
    static void name##_without_##of(tc_ctx *tc, const tc_tensor *t) {                      \
        (void)tc, (void)(expression);                                                      \
    }
USES(U)
#undef U

static const struct {
    const char *name;
    int operand;
    use make;
} uses[] = {
#define U(name, of, expression) {#name, of, name##_without_##of},
    USES(U)
#undef U
};

static void make_operands(tc_ctx *tc, tc_tensor *t) {
    int64_t index[] = {1, 0};
    t[X] = tc_ones(tc, TC_DIMS(2, 3), TC_F32), t[W] = tc_ones(tc, TC_DIMS(3), TC_F32);
    t[B] = tc_ones(tc, TC_DIMS(2), TC_F32), t[V] = tc_ones(tc, TC_DIMS(3), TC_F32);
    t[M] = tc_ones(tc, TC_DIMS(2, 3), TC_BOOL);
    t[I] = tc_from_data(tc, index, TC_DIMS(2), TC_I64);
    t[Q] = tc_ones(tc, TC_DIMS(2, 3), TC_F32), t[K] = tc_ones(tc, TC_DIMS(2, 3), TC_F32);
}

static void expect_name(tc_ctx *tc, tc_status status, const char *name) {
    const char *text = tc_error_text(tc);
    size_t n = strlen(name);
    CHECK_EQ(tc_error(tc), status);
    if (strncmp(text, name, n) || text[n] != ':') FAIL("\"%s\" is not of %s", text, name);
    tc_error_clear(tc);
}

static void misuse(tc_ctx *tc, int i, int dead) {
    tc_tensor t[OPERANDS];
    make_operands(tc, t);
    uses[i].make(tc, t);
    CHECK_EQ(tc_error(tc), TC_OK);
    if (dead)
        tc_free(t[uses[i].operand]);
    else
        t[uses[i].operand] = tc_null();
    uses[i].make(tc, t);
    expect_name(tc, dead ? TC_E_DEAD : TC_E_NULL, uses[i].name);
}

TEST(of_operands_null_and_dead) {
    tc_ctx *tc = open_context();
    for (int i = 0; i < (int)(sizeof uses / sizeof *uses); i++)
        for (int dead = 0; dead < 2; dead++) {
            misuse(tc, i, dead);
            tc_tensor t[OPERANDS];
            make_operands(tc, t);
            tc_free(t[uses[i].operand]);
            if (!dead) t[uses[i].operand] = tc_null();
            tc_trace_begin(tc, "misused");
            uses[i].make(tc, t);
            expect_name(tc, dead ? TC_E_DEAD : TC_E_NULL, uses[i].name);
            tc_trace_end(tc);
            tc_error_clear(tc);
        }
    tc_close(tc);
}

TEST(of_sizes_and_masks) {
    tc_ctx *tc = open_context();
    tc_tensor x = tc_ones(tc, TC_DIMS(2, 3), TC_F32);
    tc_zeros(tc, TC_DIMS(-1), TC_F32), expect_name(tc, TC_E_SHAPE, "zeros");
    tc_ones(tc, TC_DIMS(-1), TC_F32), expect_name(tc, TC_E_SHAPE, "ones");
    tc_broadcast_to(x, TC_DIMS(5, 3)), expect_name(tc, TC_E_BROADCAST, "broadcast_to");
    tc_masked_fill(x, x, 0);
    CHECK(strstr(tc_error_text(tc), "masked_fill: the mask must be bool"));
    tc_error_clear(tc);
    tc_where(x, x, x);
    CHECK(strstr(tc_error_text(tc), "where: the condition must be bool"));
    tc_close(tc);
}
