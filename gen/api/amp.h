// ---- mixed precision ----
// Parameters stay f32, and with them their gradients, the optimiser's states and the update. Between tc_autocast_begin
// and its end products are computed in halves: each operand is cast where it is used, by an op like any other, so a
// parameter has one copy in a half for all its uses, gradients go through the casts, and nothing has to be kept twice.
//
//     tc_autocast_begin(tc, TC_BF16);
//     tc_tensor loss = tc_cross_entropy(tc_linear(x, w, b), target);   // a product in bf16, a loss in f32
//     tc_autocast_end(tc);
//     tc_grad(loss, &w, 1, &g);                                        // f32, as w is
//
// f16 has a small range: gradients of the loss times a large number stay in it, and tc_grad_scaler finds that number.
// bf16 has the range of f32 and needs none.

// From here on public calls cast their operands as PyTorch's autocast for CUDA has it (on every device; that for CPUs has
// other lists), `dtype` being TC_F16 or TC_BF16; TC_F32 switches it off up to the end. They nest, 16 deep (TC_E_STATE).
//   to dtype   matmul, bmm, addmm, linear, conv1d, conv2d, conv2d_with, scaled_dot_product_attention
//   to f32     acos asin cosh exp expm1 log log2 log10 log1p pow pow_s rpow_s rdiv_s reciprocal rsqrt sinh softplus
//              tan; sum prod norm logsumexp in all forms, cumsum cumprod; softmax log_softmax layer_norm group_norm
//              normalize cosine_similarity interpolate; mse_loss l1_loss bce_with_logits cross_entropy and _ignore
//   to the widest of their operands   atan2 dot fma scatter_add
// All others take what they are given, as ever: add, cat, stack and where promote, relu and gelu keep a half. f64, integers and
// bool are never cast, nor what is written in place (tc_exp_); calls that an op, an optimiser or a gradient is made of are not
// either. What a function's body records depends on it: a call under another dtype is another program (TC_MISS_AUTOCAST).
// It holds for code, not for tensors: a region or body that leaves one open ends it, and ends none from outside
// (TC_E_STATE); contexts of tc_open_shared begin without. TC_E_DTYPE: another dtype.
TCDEF tc_status tc_autocast_begin_at(tc_ctx *tc, tc_dtype dtype, const char *file, int line);
TCDEF tc_status tc_autocast_end_at(tc_ctx *tc, const char *file, int line);
