// Every public call that takes a tensor, given handles that are none: null, freed, of a closed
// context, of another slot, of nothing at all. Each says that it failed, gives nothing, reads
// nothing of its own that it has not set (the stack is dirtied first), and work goes on.
#include "tcompile.h"

#include "harness.h"

#include <math.h>

// What a frame of a call would find where it forgot to write.
static void dirty_stack(void) {
    volatile unsigned char dirt[4096];
    for (size_t i = 0; i < sizeof dirt; i++) dirt[i] = 0xA5;
}

static tc_status host(void *user, const tc_buffer *in, int n_in) {
    return (void)user, (void)in, (void)n_in, TC_OK;
}

#define RESULT(call)  (dirty_stack(), CHECK_EQ((call).id, 0))
#define STATUS(call)  (dirty_stack(), CHECK_EQ((call) == TC_OK, 0))
#define ANSWER(call)  (dirty_stack(), (void)(call))
#define NOTHING(call) (dirty_stack(), call)

// Everything that takes a tensor, of a handle that is none.

static void gradients_and_reads(tc_ctx *tc, tc_tensor t) {
    static const char *const names[] = {"t"};
    tc_tensor list[1] = {t};
    tc_tensor out[2];
    double bytes[8];
    STATUS(tc_grad(t, list, 1, out));
    STATUS(tc_vjp(t, t, list, 1, out));
    STATUS(tc_jvp(t, list, list, 1, out));
    STATUS(tc_backward(t));
    STATUS(tc_requires_grad(t, 1));
    ANSWER(tc_grad_of(t));
    RESULT(tc_detach(t));
    RESULT(tc_init_(t, tc_init_ones()));
    RESULT(tc_batch_norm_running(t, t, t, t, t, 0.1, 1e-5));
    STATUS(tc_safetensors_save(tc, "/tmp/never", names, list, 1, NULL, 0));
    STATUS(tc_mark_dynamic(t, 0, 1, 1));
    STATUS(tc_mark_static(t, 0));
    ANSWER(tc_keep(t)); // gives what it was given
    STATUS(tc_read(t, bytes, sizeof bytes));
    ANSWER(tc_item(t));
    ANSWER(tc_item_i64(t));
    ANSWER(tc_get(t, TC_DIMS(1)));
    STATUS(tc_print(t));
    ANSWER(tc_data(t));
    STATUS(tc_eval(tc, list, 1));
    RESULT(tc_to(t, "cpu"));
    ANSWER(tc_device_of(t));
    RESULT(tc_custom(tc, 1, list, 1));
    STATUS(tc_host_call(tc, host, bytes, list, 1));
    ANSWER(tc_rank(t));
    ANSWER(tc_dim(t, 0));
    ANSWER(tc_dim_ge(t, 0, 1));
    ANSWER(tc_dim_lt(t, 0, 1));
    ANSWER(tc_dim_multiple_of(t, 0, 1));
    ANSWER(tc_numel(t));
    ANSWER(tc_shape(t));
    ANSWER(tc_dtype_of(t));
    RESULT(tc_scope_return(tc, t));
    NOTHING(tc_free(t));
    STATUS(tc_save_npy(t, "/nowhere"));
}

static void movement(tc_ctx *tc, tc_tensor t) {
    tc_tensor list[1] = {t};
    tc_tensor out[2];
    (void)tc;
    RESULT(tc_full_like(t, 1));
    RESULT(tc_reshape(t, TC_DIMS(1)));
    RESULT(tc_flatten(t, 0, 1));
    RESULT(tc_squeeze(t, 0));
    RESULT(tc_squeeze_all(t));
    RESULT(tc_unsqueeze(t, 0));
    RESULT(tc_permute(t, TC_DIMS(1)));
    RESULT(tc_transpose(t, 0, 1));
    RESULT(tc_t(t));
    RESULT(tc_movedim(t, 0, 1));
    RESULT(tc_expand(t, TC_DIMS(1)));
    RESULT(tc_slice(t, 0, 1, 1, 1));
    RESULT(tc_select(t, 0, 1));
    RESULT(tc_narrow(t, 0, 1, 1));
    RESULT(tc_flip(t, TC_DIMS(1)));
    RESULT(tc_roll(t, 1, 0));
    RESULT(tc_pad(t, TC_DIMS(1), TC_DIMS(1), 1));
    RESULT(tc_pad_with(t, TC_DIMS(1), TC_DIMS(1), TC_PAD_REFLECT));
    RESULT(tc_cat(list, 1, 0));
    RESULT(tc_stack(list, 1, 0));
    ANSWER(tc_split(t, 1, 0, out, 1));
    ANSWER(tc_chunk(t, 1, 0, out, 1));
    RESULT(tc_unfold(t, 0, 1, 1));
    RESULT(tc_tile(t, TC_DIMS(1)));
    RESULT(tc_repeat_interleave(t, 1, 0));
    RESULT(tc_contiguous(t));
    RESULT(tc_clone(t));
    RESULT(tc_cast(t, TC_F32));
    RESULT(tc_take(t, t, 0));
    RESULT(tc_index_select(t, 0, t));
    RESULT(tc_embedding(t, t));
    RESULT(tc_gather(t, 0, t));
    RESULT(tc_scatter(t, 0, t, t));
    RESULT(tc_scatter_add(t, 0, t, t));
    RESULT(tc_index_add(t, 0, t, t));
    RESULT(tc_one_hot(t, 1));
    RESULT(tc_tril(t, 1));
    RESULT(tc_triu(t, 1));
    RESULT(tc_masked_fill(t, t, 1));
}

static void with_scalars(tc_ctx *tc, tc_tensor t) {
    (void)tc;
    RESULT(tc_add_s(t, 1));
    RESULT(tc_sub_s(t, 1));
    RESULT(tc_mul_s(t, 1));
    RESULT(tc_div_s(t, 1));
    RESULT(tc_floor_divide_s(t, 1));
    RESULT(tc_remainder_s(t, 1));
    RESULT(tc_fmod_s(t, 1));
    RESULT(tc_pow_s(t, 1));
    RESULT(tc_maximum_s(t, 1));
    RESULT(tc_minimum_s(t, 1));
    RESULT(tc_eq_s(t, 1));
    RESULT(tc_ne_s(t, 1));
    RESULT(tc_lt_s(t, 1));
    RESULT(tc_le_s(t, 1));
    RESULT(tc_gt_s(t, 1));
    RESULT(tc_ge_s(t, 1));
    RESULT(tc_bitwise_and_s(t, 1));
    RESULT(tc_bitwise_or_s(t, 1));
    RESULT(tc_bitwise_xor_s(t, 1));
    RESULT(tc_bitwise_left_shift_s(t, 1));
    RESULT(tc_bitwise_right_shift_s(t, 1));
    RESULT(tc_rsub_s(t, 1));
    RESULT(tc_rdiv_s(t, 1));
    RESULT(tc_rpow_s(t, 1));
    RESULT(tc_clamp(t, 1, 1));
    RESULT(tc_clamp_min(t, 1));
    RESULT(tc_clamp_max(t, 1));
}

static void in_place(tc_ctx *tc, tc_tensor t) {
    (void)tc;
    RESULT(tc_copy_(t, t));
    RESULT(tc_fill_(t, 1));
    RESULT(tc_zero_(t));
    RESULT(tc_add_(t, t));
    RESULT(tc_sub_(t, t));
    RESULT(tc_mul_(t, t));
    RESULT(tc_div_(t, t));
    RESULT(tc_maximum_(t, t));
    RESULT(tc_minimum_(t, t));
    RESULT(tc_add_s_(t, 1));
    RESULT(tc_sub_s_(t, 1));
    RESULT(tc_mul_s_(t, 1));
    RESULT(tc_div_s_(t, 1));
    RESULT(tc_pow_s_(t, 1));
    RESULT(tc_clamp_(t, 1, 1));
    RESULT(tc_masked_fill_(t, t, 1));
    RESULT(tc_neg_(t));
    RESULT(tc_abs_(t));
    RESULT(tc_square_(t));
    RESULT(tc_sqrt_(t));
    RESULT(tc_rsqrt_(t));
    RESULT(tc_reciprocal_(t));
    RESULT(tc_exp_(t));
    RESULT(tc_log_(t));
    RESULT(tc_tanh_(t));
    RESULT(tc_sigmoid_(t));
    RESULT(tc_relu_(t));
    RESULT(tc_gelu_(t));
    RESULT(tc_silu_(t));
}

static void reductions(tc_ctx *tc, tc_tensor t) {
    (void)tc;
    RESULT(tc_sum(t, 0));
    RESULT(tc_sum_dims(t, TC_DIMS(1), 1));
    RESULT(tc_sum_all(t));
    RESULT(tc_prod(t, 0));
    RESULT(tc_prod_dims(t, TC_DIMS(1), 1));
    RESULT(tc_prod_all(t));
    RESULT(tc_mean(t, 0));
    RESULT(tc_mean_dims(t, TC_DIMS(1), 1));
    RESULT(tc_mean_all(t));
    RESULT(tc_amax(t, 0));
    RESULT(tc_amax_dims(t, TC_DIMS(1), 1));
    RESULT(tc_amax_all(t));
    RESULT(tc_amin(t, 0));
    RESULT(tc_amin_dims(t, TC_DIMS(1), 1));
    RESULT(tc_amin_all(t));
    RESULT(tc_argmax(t, 0));
    RESULT(tc_argmax_dims(t, TC_DIMS(1), 1));
    RESULT(tc_argmax_all(t));
    RESULT(tc_argmin(t, 0));
    RESULT(tc_argmin_dims(t, TC_DIMS(1), 1));
    RESULT(tc_argmin_all(t));
    RESULT(tc_any(t, 0));
    RESULT(tc_any_dims(t, TC_DIMS(1), 1));
    RESULT(tc_any_all(t));
    RESULT(tc_all(t, 0));
    RESULT(tc_all_dims(t, TC_DIMS(1), 1));
    RESULT(tc_all_all(t));
    RESULT(tc_logsumexp(t, 0));
    RESULT(tc_logsumexp_dims(t, TC_DIMS(1), 1));
    RESULT(tc_logsumexp_all(t));
    RESULT(tc_var(t, 0, 1));
    RESULT(tc_var_dims(t, TC_DIMS(1), 1, 1));
    RESULT(tc_var_all(t, 1));
    RESULT(tc_std(t, 0, 1));
    RESULT(tc_std_dims(t, TC_DIMS(1), 1, 1));
    RESULT(tc_std_all(t, 1));
    RESULT(tc_norm(t, 0, 1));
    RESULT(tc_norm_dims(t, TC_DIMS(1), 1, 1));
    RESULT(tc_norm_all(t, 1));
}

static void layers(tc_ctx *tc, tc_tensor t) {
    tc_tensor out[2];
    (void)tc;
    RESULT(tc_cumsum(t, 0));
    RESULT(tc_cumprod(t, 0));
    RESULT(tc_argsort(t, 0, 1));
    STATUS(tc_sort(t, 0, 1, out, out));
    STATUS(tc_topk(t, 1, 0, 1, out, out));
    RESULT(tc_softmax(t, 0));
    RESULT(tc_log_softmax(t, 0));
    RESULT(tc_layer_norm(t, t, t, 1));
    RESULT(tc_rms_norm(t, t, 1));
    RESULT(tc_group_norm(t, 1, t, t, 1));
    RESULT(tc_batch_norm(t, t, t, t, t, 1));
    RESULT(tc_normalize(t, 1, 0, 1));
    RESULT(tc_cosine_similarity(t, t, 0, 1));
    RESULT(tc_dropout(t, 1));
    RESULT(tc_matmul(t, t));
    RESULT(tc_linear(t, t, t));
    RESULT(tc_addmm(t, t, t, 1, 1));
    RESULT(tc_bmm(t, t));
    RESULT(tc_dot(t, t));
    RESULT(tc_outer(t, t));
    RESULT(tc_scaled_dot_product_attention(t, t, t, t, 1, 1));
    RESULT(tc_conv2d(t, t, t, 1, 1, 1, 1));
    RESULT(tc_conv2d_with(t, t, t, NULL));
    RESULT(tc_conv1d(t, t, t, 1, 1, 1, 1));
    RESULT(tc_conv3d(t, t, t, 1, 1, 1, 1));
    RESULT(tc_conv3d_with(t, t, t, NULL));
    RESULT(tc_conv_transpose2d(t, t, t, 1, 1, 0, 1, 1));
    RESULT(tc_conv_transpose2d_with(t, t, t, NULL));
    RESULT(tc_conv_transpose3d(t, t, t, 1, 1, 0, 1, 1));
    RESULT(tc_conv_transpose3d_with(t, t, t, NULL));
    RESULT(tc_conv_transpose1d(t, t, t, 1, 1, 0, 1, 1));
    RESULT(tc_avg_pool2d(t, 1, 1, 1));
    RESULT(tc_max_pool2d(t, 1, 1, 1));
    RESULT(tc_interpolate(t, TC_DIMS(1), TC_NEAREST));
    RESULT(tc_mse_loss(t, t));
    RESULT(tc_l1_loss(t, t));
    RESULT(tc_cross_entropy(t, t));
    RESULT(tc_cross_entropy_ignore(t, t, 1));
    RESULT(tc_bce_with_logits(t, t));
}

static void optimisers(tc_ctx *tc, tc_tensor t) {
    tc_tensor list[1] = {t};
    (void)tc;
    RESULT(tc_adamw_(t, t, t, t, t, 1, 1, 1, 1, 1));
    STATUS(tc_adamw_list_(list, list, list, list, 1, t, 1, 1, 1, 1, 1));
    RESULT(tc_adam_(t, t, t, t, t, 1, 1, 1, 1, 1));
    STATUS(tc_adam_list_(list, list, list, list, 1, t, 1, 1, 1, 1, 1));
    RESULT(tc_sgd_(t, t, t, 1, 1, 1, 1));
    STATUS(tc_sgd_list_(list, list, list, 1, 1, 1, 1, 1));
    RESULT(tc_adagrad_(t, t, t, t, 1, 1, 1, 1));
    STATUS(tc_adagrad_list_(list, list, list, 1, t, 1, 1, 1, 1));
    RESULT(tc_rmsprop_(t, t, t, t, t, 1, 1, 1, 1, 1, 1));
    STATUS(tc_rmsprop_list_(list, list, list, list, list, 1, 1, 1, 1, 1, 1, 1));
    RESULT(tc_lion_(t, t, t, 1, 1, 1, 1));
    STATUS(tc_lion_list_(list, list, list, 1, 1, 1, 1, 1));
    RESULT(tc_clip_grad_norm_(list, 1, 1, 2));
    STATUS(tc_clip_grad_value_(list, 1, 1));
}

static void of_two(tc_ctx *tc, tc_tensor t) {
    (void)tc;
    RESULT(tc_add(t, t));
    RESULT(tc_sub(t, t));
    RESULT(tc_mul(t, t));
    RESULT(tc_div(t, t));
    RESULT(tc_floor_divide(t, t));
    RESULT(tc_remainder(t, t));
    RESULT(tc_fmod(t, t));
    RESULT(tc_pow(t, t));
    RESULT(tc_atan2(t, t));
    RESULT(tc_maximum(t, t));
    RESULT(tc_minimum(t, t));
    RESULT(tc_fma(t, t, t));
    RESULT(tc_eq(t, t));
    RESULT(tc_ne(t, t));
    RESULT(tc_lt(t, t));
    RESULT(tc_le(t, t));
    RESULT(tc_gt(t, t));
    RESULT(tc_ge(t, t));
    RESULT(tc_logical_and(t, t));
    RESULT(tc_logical_or(t, t));
    RESULT(tc_logical_xor(t, t));
}

static void of_one(tc_ctx *tc, tc_tensor t) {
    (void)tc;
    RESULT(tc_logical_not(t));
    RESULT(tc_bitwise_and(t, t));
    RESULT(tc_bitwise_or(t, t));
    RESULT(tc_bitwise_xor(t, t));
    RESULT(tc_bitwise_left_shift(t, t));
    RESULT(tc_bitwise_right_shift(t, t));
    RESULT(tc_where(t, t, t));
    RESULT(tc_isnan(t));
    RESULT(tc_isfinite(t));
    RESULT(tc_neg(t));
    RESULT(tc_abs(t));
    RESULT(tc_sign(t));
    RESULT(tc_square(t));
    RESULT(tc_reciprocal(t));
    RESULT(tc_sqrt(t));
    RESULT(tc_rsqrt(t));
    RESULT(tc_exp(t));
    RESULT(tc_exp2(t));
    RESULT(tc_expm1(t));
    RESULT(tc_log(t));
    RESULT(tc_log2(t));
    RESULT(tc_log10(t));
    RESULT(tc_log1p(t));
    RESULT(tc_sin(t));
    RESULT(tc_cos(t));
    RESULT(tc_tan(t));
    RESULT(tc_asin(t));
    RESULT(tc_acos(t));
    RESULT(tc_atan(t));
    RESULT(tc_sinh(t));
    RESULT(tc_cosh(t));
    RESULT(tc_tanh(t));
    RESULT(tc_erf(t));
    RESULT(tc_sigmoid(t));
    RESULT(tc_relu(t));
    RESULT(tc_gelu(t));
    RESULT(tc_gelu_tanh(t));
    RESULT(tc_silu(t));
    RESULT(tc_softplus(t));
    RESULT(tc_floor(t));
    RESULT(tc_ceil(t));
    RESULT(tc_round(t));
    RESULT(tc_trunc(t));
    RESULT(tc_bitwise_not(t));
}

static void every_call(tc_ctx *tc, tc_tensor t) {
    gradients_and_reads(tc, t), movement(tc, t), with_scalars(tc, t), in_place(tc, t),
        reductions(tc, t), layers(tc, t), optimisers(tc, t), of_two(tc, t), of_one(tc, t);
}

// Handles that are none, and whether a region is open.
static tc_tensor lost_of(tc_ctx *tc, int kind) {
    float one = 1;
    tc_ctx *other = tc_open(NULL);
    tc_tensor mine = tc_from_data(tc, &one, TC_DIMS(1), TC_F32),
              theirs = tc_from_data(other, &one, TC_DIMS(1), TC_F32), nothing = {0},
              nowhere = {(uint64_t)200 << 56 | 1};
    tc_free(mine);
    tc_close(other);
    tc_tensor of[] = {nothing, mine, theirs, nowhere};
    return of[kind];
}

TEST(every_call_of_a_lost_handle) {
    for (int kind = 0; kind < 4; kind++)
        for (int region = 0; region < 2; region++) {
            tc_ctx *tc = tc_open(NULL);
            tc_tensor t = lost_of(tc, kind), x = tc_ones(tc, TC_DIMS(4), TC_F32);
            if (region) tc_trace_begin(tc, "lost");
            every_call(tc, t);
            if (region) tc_trace_end(tc);
            CHECK(tc_error(tc) != TC_OK);
            tc_error_clear(tc);
            tc_tensor y = tc_add_s(x, 1);
            CHECK_NEAR(tc_item(tc_select(y, 0, 3)), 2, 0);
            CHECK_EQ(tc_error(tc), TC_OK);
            tc_close(tc);
        }
}

// A list of nothing leads to no context: the error is where this thread would look for it.
TEST(lists_of_nothing) {
    tc_ctx *tc = tc_open(NULL);
    tc_tensor list[1] = {tc_ones(tc, TC_DIMS(4), TC_F32)};
    RESULT(tc_cat(list, 0, 0));
    CHECK_EQ(tc_error(tc), TC_E_ARG);
    CHECK_STR(tc_error_text(tc), "cat: 0 tensors; at least one is needed");
    tc_error_clear(tc);
    RESULT(tc_stack(list, -2, 0));
    CHECK_STR(tc_error_text(tc), "stack: -2 tensors; at least one is needed");
    tc_error_clear(tc);
    tc_close(tc);
}

// Two contexts, of which the one that was opened first has a region: its end tells what it was that failed in it.
TEST(a_null_tensor_in_the_region_of_one_of_two_contexts) {
    tc_ctx *tc = tc_open(NULL), *other = tc_open(NULL);
    tc_tensor w = tc_ones(tc, TC_DIMS(4), TC_F32), none = {0}, g;
    tc_trace_begin(tc, "null");
    tc_tensor loss = tc_sum_all(tc_square(w));
    CHECK_EQ(tc_grad(none, &w, 1, &g), TC_E_NULL);
    CHECK_EQ(tc_scan(NULL, NULL, &w, 0, &w, 1, NULL, NULL, 0), TC_E_NULL);
    CHECK_EQ(tc_trace_end(tc), TC_E_NULL);
    CHECK(strstr(tc_error_text(tc), "tc_grad: a null tensor was given") != NULL);
    CHECK_EQ(tc_error(other), TC_OK);
    CHECK_NEAR(tc_item(loss), 4, 0);
    tc_error_clear(tc);
    RESULT(tc_neg(none)); // no region is open: that of the last tc_open
    CHECK_EQ(tc_error(tc), TC_OK);
    CHECK_EQ(tc_error(other), TC_E_NULL);
    tc_close(other), tc_close(tc);
}
