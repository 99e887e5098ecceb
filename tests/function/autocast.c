// Autocast: what dtype each listed call computes in, by PyTorch's documentation ("Autocast Op Reference", CUDA), and that
// it gives the bits of the same call on operands cast by hand; ranges of code, and what they are of functions.
#include "tcompile.h"

#include "harness.h"

#include "help.h"

enum { OPERANDS = 3, MOST = 256 };

static double at(tc_tensor t, int i) {
    double x[MOST];
    if (!CHECK(tc_numel(t) <= MOST)) return NAN;
    CHECK_EQ(tc_read(tc_to_f64(t), x, (size_t)tc_numel(t) * sizeof *x), TC_OK);
    return x[i];
}

// Whether both have the same dtype, sizes and bits.
static int alike(tc_tensor a, tc_tensor b) {
    unsigned char x[MOST * 8], y[MOST * 8];
    tc_dims d = tc_shape(a), e = tc_shape(b);
    size_t n = (size_t)tc_numel(a) * tc_dtype_bytes(tc_dtype_of(a));
    if (tc_dtype_of(a) != tc_dtype_of(b) || memcmp(&d, &e, sizeof d) || n > sizeof x)
        return 0;
    return !tc_read(a, x, n) && !tc_read(b, y, n) && !memcmp(x, y, n);
}

// ---- each call, of up to three operands [4, 4] in (0.25, 0.75) ----

typedef tc_tensor (*call_fn)(const tc_tensor *in);

#define CALL_OF(name, ...)                                                                 \
    static tc_tensor call_##name(const tc_tensor *in) { return __VA_ARGS__; }
#define CALL_1(name) CALL_OF(name, tc_##name(in[0]))
#define CALL_2(name) CALL_OF(name, tc_##name(in[0], in[1]))

static tc_tensor row_of(tc_tensor t) { return tc_select(t, 0, 0); }
static tc_tensor image(tc_tensor t) { return tc_reshape(t, TC_DIMS(1, 1, 4, 4)); }
static tc_tensor taps(tc_tensor t) { return tc_reshape(t, TC_DIMS(4, 1, 2, 2)); }
static tc_tensor batch(tc_tensor t) { return tc_reshape(t, TC_DIMS(1, 4, 4)); }
static tc_tensor classes(tc_tensor t) { return tc_to_i32(row_of(t)); } // all 0

CALL_2(matmul)
CALL_OF(bmm, tc_bmm(batch(in[0]), batch(in[1])))
CALL_OF(addmm, tc_addmm(in[0], in[1], in[2], 0.5, 2))
CALL_OF(linear, tc_linear(in[0], in[1], row_of(in[2])))
CALL_OF(conv1d,
        tc_conv1d(batch(in[0]), tc_reshape(in[1], TC_DIMS(2, 4, 2)), tc_null(), 1, 0, 1, 1))
CALL_OF(conv2d, tc_conv2d(image(in[0]), taps(in[1]), row_of(in[2]), 1, 0, 1, 1))
CALL_OF(conv2d_with, tc_conv2d_with(image(in[0]), taps(in[1]), tc_null(), NULL))
static tc_tensor volume(tc_tensor t) { return tc_reshape(t, TC_DIMS(1, 1, 2, 2, 4)); }
CALL_OF(conv3d, tc_conv3d(volume(in[0]), volume(in[1]), tc_null(), 1, 0, 1, 1))
CALL_OF(conv3d_with, tc_conv3d_with(volume(in[0]), volume(in[1]), tc_null(), NULL))
CALL_OF(conv_transpose1d,
        tc_conv_transpose1d(batch(in[0]), tc_reshape(in[1], TC_DIMS(4, 2, 2)), tc_null(), 1,
                            0, 0, 1, 1))
CALL_OF(conv_transpose2d, tc_conv_transpose2d(image(in[0]), tc_transpose(taps(in[1]), 0, 1),
                                              tc_null(), 1, 0, 0, 1, 1))
CALL_OF(conv_transpose2d_with,
        tc_conv_transpose2d_with(image(in[0]), tc_transpose(taps(in[1]), 0, 1), tc_null(),
                                 NULL))
CALL_OF(conv_transpose3d,
        tc_conv_transpose3d(volume(in[0]), volume(in[1]), tc_null(), 1, 0, 0, 1, 1))
CALL_OF(conv_transpose3d_with,
        tc_conv_transpose3d_with(volume(in[0]), volume(in[1]), tc_null(), NULL))
CALL_OF(scaled_dot_product_attention,
        tc_scaled_dot_product_attention(in[0], in[1], in[2], tc_null(), 1, 0))
CALL_1(acos)
CALL_1(asin)
CALL_1(cosh)
CALL_1(exp)
CALL_1(expm1)
CALL_1(log)
CALL_1(log10)
CALL_1(log1p)
CALL_1(log2)
CALL_2(pow)
CALL_OF(pow_s, tc_pow_s(in[0], 3))
CALL_OF(rdiv_s, tc_rdiv_s(in[0], 3))
CALL_1(reciprocal)
CALL_OF(rpow_s, tc_rpow_s(in[0], 3))
CALL_1(rsqrt)
CALL_1(sinh)
CALL_1(softplus)
CALL_1(tan)
CALL_OF(sum, tc_sum(in[0], 1))
CALL_OF(prod, tc_prod_dims(in[0], TC_DIMS(0), TC_KEEPDIM))
CALL_OF(norm, tc_norm_all(in[0], 2))
CALL_OF(logsumexp, tc_logsumexp(in[0], 0))
CALL_OF(cumsum, tc_cumsum(in[0], 1))
CALL_OF(cumprod, tc_cumprod(in[0], 0))
CALL_OF(softmax, tc_softmax(in[0], -1))
CALL_OF(log_softmax, tc_log_softmax(in[0], 0))
CALL_OF(layer_norm, tc_layer_norm(in[0], row_of(in[1]), row_of(in[2]), 1e-5))
CALL_OF(group_norm, tc_group_norm(in[0], 2, row_of(in[1]), row_of(in[2]), 1e-5))
CALL_OF(normalize, tc_normalize(in[0], 2, 1, 1e-12))
CALL_OF(cosine_similarity, tc_cosine_similarity(in[0], in[1], 1, 1e-8))
CALL_OF(interpolate, tc_interpolate(in[0], TC_DIMS(3, 6), TC_LINEAR))
CALL_2(mse_loss)
CALL_2(l1_loss)
CALL_2(bce_with_logits)
CALL_OF(cross_entropy, tc_cross_entropy(in[0], classes(in[1])))
CALL_OF(cross_entropy_ignore, tc_cross_entropy_ignore(in[0], classes(in[1]), -100))
CALL_2(atan2)
CALL_OF(dot, tc_dot(row_of(in[0]), row_of(in[1])))
CALL_OF(fma, tc_fma(in[0], in[1], in[2]))
CALL_OF(scatter_add, tc_scatter_add(in[0], 0, tc_zeros_like(tc_to_i64(in[1])), in[1]))

// Not listed.
static tc_tensor cat(const tc_tensor *in) { return tc_cat(in, 3, 0); }
static tc_tensor stack(const tc_tensor *in) { return tc_stack(in, 3, 0); }
CALL_2(add)
CALL_2(sub)
CALL_2(mul)
CALL_2(div)
CALL_2(maximum)
CALL_2(fmod)
CALL_OF(where, tc_where(tc_gt_s(in[2], 0.5), in[0], in[1]))
CALL_OF(rsub_s, tc_rsub_s(in[0], 1))
CALL_1(abs)
CALL_1(cos)
CALL_1(erf)
CALL_1(exp2)
CALL_1(gelu)
CALL_1(neg)
CALL_1(relu)
CALL_1(sigmoid)
CALL_1(silu)
CALL_1(sin)
CALL_1(sqrt)
CALL_1(square)
CALL_1(tanh)
CALL_OF(amax, tc_amax(in[0], 0))
CALL_OF(mean, tc_mean(in[0], 0))
CALL_OF(var, tc_var(in[0], 0, 1))
CALL_OF(std, tc_std(in[0], 0, 1))
CALL_OF(rms_norm, tc_rms_norm(in[0], tc_null(), 1e-5))
CALL_OF(batch_norm,
        tc_batch_norm(in[0], row_of(in[0]), row_of(in[0]), tc_null(), tc_null(), 1e-5))
CALL_OF(dropout, tc_dropout(in[0], 0))
CALL_OF(max_pool2d, tc_max_pool2d(in[0], 2, 0, 0))
CALL_OF(avg_pool2d, tc_avg_pool2d(in[0], 2, 0, 0))
CALL_OF(outer, tc_outer(row_of(in[0]), row_of(in[0])))
CALL_OF(embedding, tc_embedding(in[0], classes(in[0])))
CALL_OF(index_add, tc_index_add(in[0], 0, tc_to_i64(row_of(in[0])), in[0]))

// What PyTorch says of the op: it runs in the half, in f32, in the widest dtype of its inputs; UNLISTED: in what they
// are, promoted.
typedef enum expected { HALF, F32, WIDEST, UNLISTED } expected;

typedef struct row {
    const char *name;
    call_fn call;
    expected runs_in;
    int n; // of operands that count
} row;

#define ROW(name, runs_in, n) {#name, call_##name, runs_in, n},
static const row rows[] = {
    // CUDA Ops that can autocast to float16
    ROW(matmul, HALF, 2) ROW(bmm, HALF, 2) ROW(addmm, HALF, 3) ROW(linear, HALF, 3)
        ROW(conv1d, HALF, 2) ROW(conv2d, HALF, 3) ROW(conv2d_with, HALF, 2)
            ROW(conv3d, HALF, 2) ROW(conv3d_with, HALF, 2) ROW(conv_transpose1d, HALF, 2)
                ROW(conv_transpose2d, HALF, 2) ROW(conv_transpose2d_with, HALF, 2)
                    ROW(conv_transpose3d, HALF, 2) ROW(conv_transpose3d_with, HALF, 2)
                        ROW(scaled_dot_product_attention, HALF, 3)
    // CUDA Ops that can autocast to float32
    ROW(acos, F32, 1) ROW(asin, F32, 1) ROW(cosh, F32, 1) ROW(exp, F32, 1)
        ROW(expm1, F32, 1) ROW(log, F32, 1) ROW(log10, F32, 1) ROW(log1p, F32, 1)
            ROW(log2, F32, 1) ROW(pow, F32, 2) ROW(pow_s, F32, 1) ROW(rdiv_s, F32, 1) ROW(
                reciprocal, F32, 1) ROW(rpow_s, F32, 1) ROW(rsqrt, F32, 1) ROW(sinh, F32, 1)
                ROW(softplus, F32, 1) ROW(tan, F32, 1) ROW(sum, F32, 1) ROW(prod, F32, 1)
                    ROW(norm, F32, 1) ROW(logsumexp, F32, 1) ROW(cumsum, F32, 1)
                        ROW(cumprod, F32, 1) ROW(softmax, F32, 1) ROW(log_softmax, F32, 1)
                            ROW(layer_norm, F32, 3) ROW(group_norm, F32, 3)
                                ROW(normalize, F32, 1) ROW(cosine_similarity, F32, 2)
                                    ROW(interpolate, F32, 1) ROW(mse_loss, F32, 2)
                                        ROW(l1_loss, F32, 2) ROW(bce_with_logits, F32, 2)
                                            ROW(cross_entropy, F32, 1)
                                                ROW(cross_entropy_ignore, F32, 1)
    // CUDA Ops that promote to the widest input type
    ROW(atan2, WIDEST, 2) ROW(dot, WIDEST, 2) ROW(fma, WIDEST, 3)
        ROW(scatter_add, WIDEST, 2)
    // neither: "They run in the type defined by their inputs"
    {"cat", cat, UNLISTED, 3},
    {"stack", stack, UNLISTED, 3},
    ROW(add, UNLISTED, 2) ROW(sub, UNLISTED, 2) ROW(mul, UNLISTED, 2) ROW(div, UNLISTED, 2)
        ROW(maximum, UNLISTED, 2) ROW(fmod, UNLISTED, 2) ROW(where, UNLISTED, 2)
            ROW(rsub_s, UNLISTED, 1) ROW(abs, UNLISTED, 1) ROW(cos, UNLISTED, 1) ROW(
                erf, UNLISTED, 1) ROW(exp2, UNLISTED, 1) ROW(gelu, UNLISTED, 1)
                ROW(neg, UNLISTED, 1) ROW(relu, UNLISTED, 1) ROW(sigmoid, UNLISTED, 1) ROW(
                    silu, UNLISTED, 1) ROW(sin, UNLISTED, 1) ROW(sqrt, UNLISTED, 1)
                    ROW(square, UNLISTED, 1) ROW(tanh, UNLISTED, 1) ROW(amax, UNLISTED, 1)
                        ROW(mean, UNLISTED, 1) ROW(var, UNLISTED, 1) ROW(std, UNLISTED, 1)
                            ROW(rms_norm, UNLISTED, 1) ROW(batch_norm, UNLISTED, 1)
                                ROW(dropout, UNLISTED, 1) ROW(max_pool2d, UNLISTED, 1)
                                    ROW(avg_pool2d, UNLISTED, 1) ROW(outer, UNLISTED, 1)
                                        ROW(embedding, UNLISTED, 1)
                                            ROW(index_add, UNLISTED, 1)};
enum { ROWS = sizeof rows / sizeof *rows };

static const row *row_named(const char *name) {
    for (int i = 0; i < ROWS; i++)
        if (!strcmp(rows[i].name, name)) return &rows[i];
    return NULL;
}

TEST(each_listed_call_has_a_row) {
#define AUTOCAST(name, policy) #name,
    static const char *const listed[] = {
#include "tables/autocast.def"
    };
    size_t n = sizeof listed / sizeof *listed, expected_to = 0;
    for (size_t i = 0; i < n; i++) {
        const row *r = row_named(listed[i]);
        if (!r || r->runs_in == UNLISTED)
            FAIL("%s: no row says what it runs in", listed[i]);
    }
    for (int i = 0; i < ROWS; i++) expected_to += rows[i].runs_in != UNLISTED;
    CHECK_EQ((int)n, (int)expected_to);
}

static tc_dtype wider(tc_dtype a, tc_dtype b) {
    return a == b ? a : TC_F32;
} // of f16, bf16, f32

// What the operands are cast to, all of the dtypes `of`.
static tc_dtype runs_in(const row *r, tc_dtype half, const tc_dtype *of) {
    tc_dtype widest = of[0];
    if (of[0] == TC_F64) return TC_F64;
    for (int i = 1; i < r->n; i++) widest = wider(widest, of[i]);
    return r->runs_in == HALF ? half : r->runs_in == F32 ? TC_F32 : widest;
}

static void operands(tc_ctx *tc, tc_tensor *in, const tc_dtype *of) {
    float x[16];
    for (int k = 0; k < OPERANDS; k++) {
        for (int i = 0; i < 16; i++)
            x[i] = (float)(0.3 + 0.4 * ((i * 7 + k * 5) % 16) / 16);
        tc_tensor t = tc_from_data(tc, x, TC_DIMS(4, 4), TC_F32);
        in[k] = tc_cast(t, of[k]);
    }
}

// Under autocast, eagerly or in a region, it is what it gives of operands cast by hand without.
static void check_row(tc_ctx *tc, const row *r, tc_dtype half, const tc_dtype *of,
                      int region) {
    tc_tensor in[OPERANDS], by_hand[OPERANDS];
    tc_dtype want = runs_in(r, half, of);
    tc_scope_begin(tc);
    operands(tc, in, of), operands(tc, by_hand, of);
    for (int k = 0; k < r->n && r->runs_in != UNLISTED; k++)
        by_hand[k] = tc_cast(by_hand[k], want);
    if (region) tc_trace_begin_at(tc, r->name, NULL, "by_hand.c", 1);
    tc_tensor y = tc_keep(r->call(by_hand));
    if (region) CHECK_EQ(tc_trace_end(tc), TC_OK);
    if (region) tc_trace_begin_at(tc, r->name, NULL, "cast.c", 1);
    CHECK_EQ(tc_autocast_begin(tc, half), TC_OK);
    tc_tensor z = tc_keep(r->call(in));
    CHECK_EQ(tc_autocast_end(tc), TC_OK);
    if (region) CHECK_EQ(tc_trace_end(tc), TC_OK);
    if (tc_dtype_of(z) != want || !alike(y, z))
        FAIL("%s of %s, %s under %s: %s, not %s, %s", r->name, tc_dtype_name(of[0]),
             tc_dtype_name(of[1]), tc_dtype_name(half), tc_dtype_name(tc_dtype_of(z)),
             tc_dtype_name(want), tc_error_text(tc));
    tc_error_clear(tc);
    tc_free(y), tc_free(z);
    CHECK_EQ(tc_scope_end(tc), TC_OK);
}

static void check_rows(const char *backend, tc_dtype half, int region) {
    tc_dtype of[][OPERANDS] = {{TC_F32, TC_F32, TC_F32},
                               {half, half, half},
                               {half, TC_F32, half},
                               {TC_F32, half, half},
                               {TC_F64, TC_F64, TC_F64}};
    tc_ctx *tc = open_backend(backend);
    REQUIRE(tc);
    for (int i = 0; i < ROWS; i++)
        for (size_t k = 0; k < sizeof of / sizeof *of; k++)
            check_row(tc, &rows[i], half, of[k], region);
    tc_close(tc);
}

TEST(dtype_of_each_call_eager_bf16) { check_rows("aot_eager", TC_BF16, 0); }
TEST(dtype_of_each_call_eager_f16) { check_rows("aot_eager", TC_F16, 0); }
TEST(dtype_of_each_call_region_bf16) { check_rows("aot_eager", TC_BF16, 1); }
TEST(dtype_of_each_call_region_f16) { check_rows("aot_eager", TC_F16, 1); }

// The other half is cast, too; integers, bool and what is written in place are not.
BOTH(what_is_cast) {
    tc_tensor x = line(tc, 4, 0.5, 0.25), h = tc_cast(x, TC_F16), i = tc_to_i64(x);
    CHECK_EQ(tc_autocast_begin(tc, TC_BF16), TC_OK);
    CHECK_EQ(tc_dtype_of(tc_matmul(tc_unsqueeze(h, 0), tc_unsqueeze(h, 1))), TC_BF16);
    CHECK_EQ(tc_dtype_of(tc_exp(h)), TC_F32);
    CHECK_EQ(tc_dtype_of(tc_exp(i)), TC_F32);
    CHECK_EQ(tc_dtype_of(tc_sum_all(i)), TC_I64);
    CHECK_EQ(tc_dtype_of(tc_cumsum(i, 0)), TC_I64);
    CHECK_EQ(tc_dtype_of(tc_matmul(tc_unsqueeze(i, 0), tc_unsqueeze(i, 1))), TC_I64);
    tc_exp_(h);
    CHECK_EQ(tc_dtype_of(h), TC_F16);
    CHECK_EQ(tc_dtype_of(tc_exp(tc_null())), TC_BOOL);
    ERROR(TC_E_NULL, "exp");
    CHECK(tc_is_null(tc_pow(x, tc_null())));
    ERROR(TC_E_NULL, "pow");
    CHECK(tc_is_null(tc_linear(x, tc_null(), tc_null())));
    ERROR(TC_E_NULL, "weight");
    CHECK(tc_is_null(tc_matmul(x, line(tc, 3, 0, 1))));
    ERROR(TC_E_SHAPE, "matmul: inner sizes differ");
    CHECK(tc_is_null(tc_sum(x, 3)));
    ERROR(TC_E_DIM, "sum");
    CHECK_EQ(tc_autocast_end(tc), TC_OK);
    double half = at(tc_exp(tc_cast(x, TC_F16)), 3);
    CHECK_EQ(at(h, 3), half); // exp_ rounds once
}

// ---- ranges ----

static tc_dtype product(tc_tensor x) { return tc_dtype_of(tc_matmul(x, x)); }

BOTH(ranges_nest) {
    tc_tensor x = tc_ones(tc, TC_DIMS(2, 2), TC_F32);
    for (int region = 0; region < 2; region++) {
        if (region) tc_trace_begin(tc, "nest");
        CHECK_EQ(tc_autocast_begin(tc, TC_F16), TC_OK);
        CHECK_EQ(product(x), TC_F16);
        CHECK_EQ(tc_autocast_begin(tc, TC_F32), TC_OK); // off
        CHECK_EQ(product(x), TC_F32);
        CHECK_EQ(tc_dtype_of(tc_exp(tc_cast(x, TC_F16))), TC_F16);
        CHECK_EQ(tc_autocast_begin(tc, TC_BF16), TC_OK);
        CHECK_EQ(product(x), TC_BF16);
        CHECK_EQ(tc_autocast_end(tc), TC_OK);
        CHECK_EQ(product(x), TC_F32);
        CHECK_EQ(tc_autocast_end(tc), TC_OK);
        CHECK_EQ(product(x), TC_F16);
        CHECK_EQ(tc_autocast_end(tc), TC_OK);
        CHECK_EQ(product(x), TC_F32);
        if (region) CHECK_EQ(tc_trace_end(tc), TC_OK);
    }
}

BOTH(what_is_wrong_is_told) {
    CHECK_EQ(tc_autocast_begin(NULL, TC_F16), TC_E_NULL);
    ERROR(TC_E_NULL, "tc_autocast_begin: the context is NULL");
    CHECK_EQ(tc_autocast_end(NULL), TC_E_NULL);
    ERROR(TC_E_NULL, "tc_autocast_end: the context is NULL");
    CHECK_EQ(tc_autocast_end(tc), TC_E_STATE);
    ERROR(TC_E_STATE, "tc_autocast_end: no tc_autocast_begin is open here");
    CHECK_EQ(tc_autocast_begin(tc, TC_I64), TC_E_DTYPE);
    ERROR(TC_E_DTYPE, "tc_autocast_begin: the dtype is i64; TC_F16, TC_BF16");
    CHECK_EQ(tc_autocast_begin(tc, (tc_dtype)77), TC_E_DTYPE);
    ERROR(TC_E_DTYPE, "the dtype is ?");
    for (int i = 0; i < 16; i++) CHECK_EQ(tc_autocast_begin(tc, TC_F16), TC_OK);
    CHECK_EQ(tc_autocast_begin(tc, TC_F16), TC_E_STATE);
    ERROR(TC_E_STATE, "16 ranges are open inside each other");
    for (int i = 0; i < 16; i++) CHECK_EQ(tc_autocast_end(tc), TC_OK);
    CHECK_EQ(tc_autocast_end(tc), TC_E_STATE);
    tc_error_clear(tc);
}

// A region goes on as the code around it has it, ends what it leaves open, and ends nothing of outside.
static void check_region(tc_ctx *tc) {
    tc_tensor x = tc_ones(tc, TC_DIMS(2, 2), TC_F32);
    tc_autocast_begin(tc, TC_F16);
    tc_trace_begin(tc, "inside");
    CHECK_EQ(product(x), TC_F16);
    CHECK_EQ(tc_autocast_begin(tc, TC_BF16), TC_OK);
    CHECK_EQ(product(x), TC_BF16);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    CHECK_EQ(product(x), TC_F16);
    CHECK_EQ(tc_autocast_end(tc), TC_OK);
    CHECK_EQ(product(x), TC_F32);
}

BOTH(a_region_ends_what_it_leaves_open) {
    tc_tensor x = tc_ones(tc, TC_DIMS(2, 2), TC_F32);
    check_region(tc);
    tc_autocast_begin(tc, TC_F16);
    tc_trace_begin(tc, "ends too much");
    CHECK_EQ(tc_autocast_end(tc), TC_E_STATE);
    CHECK_EQ(product(x), TC_F16);
    CHECK_EQ(tc_trace_end(tc), TC_E_STATE);
    ERROR(TC_E_STATE, "outside of a region or body ends outside of it");
    CHECK_EQ(tc_autocast_end(tc), TC_OK);
    tc_trace_begin(tc, "eager inside");
    tc_autocast_begin(tc, TC_BF16);
    tc_disable_begin(tc);
    CHECK_EQ(product(x), TC_BF16);
    tc_disable_end(tc);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
}

TEST(regions_that_run_eagerly) {
    tc_ctx *tc = open_backend("aot_eager");
    REQUIRE(tc);
    tc_disable_begin(tc);
    check_region(tc);
    tc_disable_end(tc);
    tc_set_stance(tc, TC_STANCE_FORCE_EAGER);
    check_region(tc);
    CHECK_EQ(tc_error(tc), TC_OK);
    tc_close(tc);
}

// The same code is the same program; under another dtype it is another one.
BOTH(a_region_has_a_program_for_each) {
    static const tc_dtype under[] = {TC_F32, TC_BF16, TC_F16, TC_BF16, TC_F32, TC_F16};
    tc_tensor x = tc_ones(tc, TC_DIMS(2, 2), TC_F32), y;
    for (int i = 0; i < 6; i++) {
        tc_autocast_begin(tc, under[i]);
        BEGIN("each");
        y = tc_matmul(x, tc_add_s(x, 1));
        END();
        tc_autocast_end(tc);
        CHECK_EQ(tc_dtype_of(y), under[i]);
        CHECK_EQ(at(y, 3), 4);
    }
    CHECK_EQ(tc_stats_get(tc).programs, 3);
}

// Steps that were recorded without it, or as a part of another call, are not followed under it.
BOTH(a_recorded_step_is_no_shortcut) {
    tc_tensor h = tc_zeros(tc, TC_DIMS(3), TC_F16), y = tc_null();
    for (int i = 0; i < 9; i++) {
        tc_zero_(h);
        BEGIN("steps");
        tc_add_s_(h, 1); // binds h
        if (i % 3) tc_autocast_begin(tc, TC_F16);
        if (i % 3 == 1)
            tc_exp_(h); // the same op, in place
        else
            y = tc_exp(h);
        END();
        if (i % 3 != 1) CHECK_EQ(tc_dtype_of(y), i % 3 ? TC_F32 : TC_F16);
        CHECK_NEAR(at(i % 3 == 1 ? h : y, 0), exp(1), 2e-3);
    }
    CHECK_EQ(tc_stats_get(tc).programs, 3);
}

BOTH(ops_without_regions_go_on_in_their_range) {
    tc_tensor x = tc_ones(tc, TC_DIMS(2, 2), TC_F32);
    CHECK_EQ(tc_lazy(tc, 1), TC_OK);
    tc_autocast_begin(tc, TC_BF16);
    for (int i = 0; i < 3; i++) {
        tc_tensor y = tc_matmul(x, x);
        CHECK_EQ(tc_eval(tc, &y, 1), TC_OK);
        CHECK_EQ(tc_dtype_of(y), TC_BF16);
    }
    CHECK_EQ(tc_autocast_end(tc), TC_OK);
    CHECK_EQ(product(x), TC_F32);
    CHECK_EQ(tc_lazy(tc, 0), TC_OK);
    CHECK_EQ(product(x), TC_F32);
}

TEST(a_shared_context_begins_without) {
    tc_ctx *tc = open_backend("aot_eager");
    REQUIRE(tc);
    tc_tensor x = tc_ones(tc, TC_DIMS(2, 2), TC_F32);
    tc_autocast_begin(tc, TC_F16);
    tc_ctx *child = tc_open_shared(tc);
    REQUIRE(child);
    tc_tensor y = tc_ones(child, TC_DIMS(2, 2), TC_F32);
    CHECK_EQ(product(y), TC_F32);
    tc_autocast_begin(child, TC_BF16);
    CHECK_EQ(product(y), TC_BF16);
    CHECK_EQ(tc_dtype_of(tc_pow(tc_cast(y, TC_F16), x)), TC_F32);
    tc_close(child);
    CHECK_EQ(product(x), TC_F16);
    tc_close(tc);
}

// ---- functions ----

static int runs;

static void body(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    runs++;
    out[0] = tc_exp(tc_matmul(in[0], in[0]));
    out[1] = tc_relu(tc_matmul(in[0], in[0]));
}

static void call_under(tc_ctx *tc, tc_fn *f, tc_tensor x, tc_dtype dtype, int ran) {
    tc_tensor out[2];
    int before = runs;
    tc_autocast_begin(tc, dtype);
    CALL(f, &x, 1, out, 2);
    tc_autocast_end(tc);
    CHECK_EQ(runs - before, ran);
    CHECK_EQ(tc_dtype_of(out[0]), TC_F32);
    CHECK_EQ(tc_dtype_of(out[1]), dtype);
    CHECK_NEAR(at(out[0], 0), exp(2), 1e-5);
    tc_free(out[0]), tc_free(out[1]);
}

BOTH(a_function_is_guarded_by_it) {
    tc_tensor x = tc_ones(tc, TC_DIMS(2, 2), TC_F32);
    tc_fn *f = tc_compile(tc, body, NULL, 0, NULL);
    call_under(tc, f, x, TC_F32, 1), call_under(tc, f, x, TC_F32, 1);
    for (int i = 0; i < 4; i++) call_under(tc, f, x, TC_F32, 0);
    call_under(tc, f, x, TC_F16, 1);
    MISS(f, TC_MISS_AUTOCAST);
    CHECK_EQ(tc_last_miss(f).was, 0);
    CHECK_EQ(tc_last_miss(f).now, TC_F16);
    CHECK(strstr(tc_miss_text(f), "autocast was off, now f16; called at"));
    call_under(tc, f, x, TC_F16, 1), call_under(tc, f, x, TC_F16, 0);
    call_under(tc, f, x, TC_BF16, 1);
    CHECK(strstr(tc_miss_text(f), "autocast was f16, now bf16"));
    call_under(tc, f, x, TC_BF16, 1);
    for (int i = 0; i < 3; i++) {
        call_under(tc, f, x, TC_F32, 0);
        call_under(tc, f, x, TC_F16, 0), call_under(tc, f, x, TC_F16, 0);
        call_under(tc, f, x, TC_BF16, 0);
    }
    CHECK_EQ(tc_stats_get(tc).programs, 3);
    tc_fn_free(f);
}

// in: leaves a range open, and ends one that is not its own; goes on where `user` is not 0.
static void open_body(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    CHECK_EQ(product(in[0]), TC_F16);
    if (*(const int *)user) tc_autocast_end(tc);
    CHECK_EQ(product(in[0]), TC_F16);
    tc_autocast_begin(tc, TC_BF16);
    out[0] = tc_matmul(in[0], in[0]);
}

BOTH(a_body_ends_what_it_leaves_open) {
    tc_tensor x = tc_ones(tc, TC_DIMS(2, 2), TC_F32), y;
    int ends = 0;
    tc_fn *f = tc_compile(tc, open_body, &ends, sizeof ends, NULL);
    tc_autocast_begin(tc, TC_F16);
    for (int i = 0; i < 3; i++) {
        CALL(f, &x, 1, &y, 1);
        CHECK_EQ(tc_dtype_of(y), TC_BF16);
        CHECK_EQ(product(x), TC_F16);
    }
    tc_trace_begin(tc, "around");
    CALL(f, &x, 1, &y, 1);
    CHECK_EQ(product(x), TC_F16);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    tc_disable_begin(tc);
    CALL(f, &x, 1, &y, 1);
    CHECK_EQ(product(x), TC_F16);
    tc_disable_end(tc);
    ends = 1;
    CHECK_EQ(tc_call(f, &x, 1, &y, 1), TC_E_STATE);
    ERROR(TC_E_STATE, "tc_autocast_end");
    CHECK_EQ(product(x), TC_F16);
    CHECK_EQ(tc_autocast_end(tc), TC_OK);
    CHECK_EQ(product(x), TC_F32);
    tc_fn_free(f);
}

// ---- gradients ----

// Of mean(relu(x w) w'), by casts of its own or by autocast's.
static tc_tensor two_products(tc_tensor x, tc_tensor w, int by_hand) {
    tc_tensor a = by_hand ? tc_cast(x, TC_BF16) : x, b = by_hand ? tc_cast(w, TC_BF16) : w;
    tc_tensor h = tc_relu(tc_matmul(a, b));
    tc_tensor y = tc_matmul(h, b);
    return tc_sum_all(by_hand ? tc_to_f32(y) : y);
}

BOTH(gradients_go_through_the_casts) {
    tc_tensor x = tc_sub_s(tc_rand(tc, TC_DIMS(8, 8), TC_F32), 0.5);
    tc_tensor w = tc_sub_s(tc_rand(tc, TC_DIMS(8, 8), TC_F32), 0.5), g[2];
    for (int by_hand = 0; by_hand < 2; by_hand++) {
        tc_trace_begin(tc, by_hand ? "by hand" : "cast");
        tc_autocast_begin(tc, by_hand ? TC_F32 : TC_BF16);
        tc_tensor loss = two_products(x, w, by_hand);
        CHECK_EQ(tc_grad(loss, &w, 1, &g[by_hand]), TC_OK);
        tc_keep(g[by_hand]);
        CHECK_EQ(tc_trace_end(tc), TC_OK);
        CHECK_EQ(tc_dtype_of(loss), TC_F32);
        CHECK_EQ(tc_dtype_of(g[by_hand]), TC_F32);
    }
    CHECK(alike(g[0], g[1]));
}

BOTH(a_parameter_keeps_its_gradient_in_f32) {
    tc_tensor x = tc_ones(tc, TC_DIMS(4, 3), TC_F32),
              w = tc_ones(tc, TC_DIMS(2, 3), TC_F32);
    CHECK_EQ(tc_requires_grad(w, 1), TC_OK);
    for (int i = 1; i < 4; i++) {
        tc_trace_begin(tc, "backward");
        tc_autocast_begin(tc, TC_F16);
        tc_tensor loss = tc_sum_all(tc_linear(x, w, tc_null()));
        tc_autocast_end(tc);
        CHECK_EQ(tc_backward(loss), TC_OK);
        CHECK_EQ(tc_trace_end(tc), TC_OK);
        CHECK_EQ(tc_dtype_of(tc_grad_of(w)), TC_F32);
        CHECK_EQ(at(tc_grad_of(w), 0), 4 * i);
    }
}
