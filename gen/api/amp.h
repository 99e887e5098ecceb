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

// Finds a scale for gradients in f16: doubled after growth_interval steps in a row without an overflow, halved at one, whose
// step is not made. All of it is in the program, and the host waits for nothing. Formulas and numbers of
// torch.amp.GradScaler. The tensors are yours, as an optimiser's states are: saved (tc_save_npy, tc_item) and written back
// (tc_copy_, tc_fill_) it goes on as before. They are on the default device of tc_grad_scaler_init, where the parameters
// have to be.
//
//     tc_grad_scaler_init(tc, &s, 0);                 // once, outside of regions
//     ...
//     tc_grad(tc_grad_scaler_scale(&s, loss), weight, n, grad);
//     tc_grad_scaler_unscale_(&s, grad, n);
//     tc_clip_grad_norm_(grad, n, 1, 2);              // of the gradients as they are
//     tc_grad_scaler_step_begin(&s);
//     tc_adamw_list_(...);                            // any optimiser, any writes in place
//     tc_grad_scaler_step_end(&s);
//     tc_grad_scaler_update(&s);
typedef struct tc_grad_scaler {
    tc_tensor scale;          // f32, a scalar
    tc_tensor growth_tracker; // i32, a scalar: steps since the scale changed
    tc_tensor found_inf;      // bool, a scalar: of unscale_, up to the next update
    double growth_factor;     // 2; > 1
    double backoff_factor;    // 0.5; in (0, 1)
    int growth_interval;      // 2000; >= 1
} tc_grad_scaler;

// Fills in *s; scale 0 = 65536, else it is finite and above 0 (TC_E_ARG). The numbers may be changed then. TC_E_STATE: inside
// a region or body. On an error *s is all zero.
TCDEF tc_status tc_grad_scaler_init_at(tc_ctx *tc, tc_grad_scaler *s, double scale, const char *file, int line);
// Frees its tensors; *s is all zero then. NULL, or one that was freed, does nothing.
TCDEF void tc_grad_scaler_free_at(tc_grad_scaler *s, const char *file, int line);
// loss * scale, as tc_mul has it: f32 of a scalar in a half. Several losses may be scaled ahead of one update.
TCDEF tc_tensor tc_grad_scaler_scale_at(const tc_grad_scaler *s, tc_tensor loss, const char *file, int line);
// Divides n >= 0 gradients by the scale, in place, and sets found_inf where an element of them is infinite or NaN: once for
// each gradient of a step. Operands as tc_clip_grad_norm_ has them.
TCDEF tc_status tc_grad_scaler_unscale__at(const tc_grad_scaler *s, const tc_tensor *grads, int n,
                                           const char *file, int line);
// What is written in place between these stays as it was where found_inf is true: parameters, states, step counters,
// whatever writes them. Nothing else belongs there: gradients that are zeroed there would not be either.
// TC_E_STATE: a step is open already, or none was begun here; other calls about a scaler inside. A region or body that leaves one
// open ends it; one that is called inside has its writes guarded, too, and is another program (TC_MISS_STEP).
TCDEF tc_status tc_grad_scaler_step_begin_at(const tc_grad_scaler *s, const char *file, int line);
TCDEF tc_status tc_grad_scaler_step_end_at(const tc_grad_scaler *s, const char *file, int line);
// The next scale: scale * backoff_factor if found_inf, which becomes false; else scale * growth_factor (unless that is
// infinite) if this was the growth_interval'th step without. TC_E_ARG: the numbers of *s.
TCDEF tc_status tc_grad_scaler_update_at(const tc_grad_scaler *s, const char *file, int line);
