// ---- mixed precision ----
// Weights stay f32, and with them their gradients, the optimiser's states and the update. Between
// tc_autocast_begin and its end products are computed in halves: operands are cast where they are
// used, by ops like any other, so what is used twice has one cast in the graph, gradients go through
// it, and no second copy of the weights has to be kept.
//
//     tc_autocast_begin(tc, TC_BF16);
//     loss = tc_cross_entropy(tc_linear(x, w, b), target);  // a product in bf16, a loss in f32
//     tc_autocast_end(tc);
//     tc_grad(loss, &w, 1, &g);                             // f32, as w is
//
// bf16 has the range of f32. That of f16 is small: gradients of the loss times a large number stay
// in it, and a tc_grad_scaler finds that number.

// From here on public calls cast their floats to `dtype`, TC_F16 or TC_BF16 (TC_E_DTYPE), or to f32, by
// the lists that PyTorch's autocast has for CUDA, here on every device:
//   to dtype   matmul bmm addmm linear conv1d conv2d conv2d_with conv3d conv3d_with conv_transpose1d
//              conv_transpose2d conv_transpose2d_with conv_transpose3d conv_transpose3d_with
//              scaled_dot_product_attention
//   to f32     exp expm1 log log2 log10 log1p pow pow_s rpow_s rdiv_s reciprocal rsqrt tan acos asin
//              sinh cosh softplus; in all their forms sum prod norm logsumexp; cumsum cumprod softmax
//              log_softmax layer_norm group_norm normalize cosine_similarity interpolate mse_loss
//              l1_loss bce_with_logits cross_entropy cross_entropy_ignore
//   to the widest of their operands   atan2 dot fma scatter_add
// Others take what they are given, as ever: add, cat, stack and where promote, relu and gelu keep a half.
// f64, integers and bool are never cast, nor is what is written in place (tc_exp_), nor the ops that
// a listed call, an optimiser or a gradient is made of. A tc_const that is cast is none any more.
// Ranges nest, 16 deep (TC_E_STATE); TC_F32 is a range without casts. A region or body goes on with that
// of the code around it, ends what it leaves open, and cannot end what was begun outside (TC_E_STATE). A
// function that is called under another dtype has another program (TC_MISS_AUTOCAST). Contexts of
// tc_open_shared begin without.
TCDEF tc_status tc_autocast_begin_at(tc_ctx *tc, tc_dtype dtype, const char *file, int line);
TCDEF tc_status tc_autocast_end_at(tc_ctx *tc, const char *file, int line);

// The scale of a loss whose gradients are f16: doubled after growth_interval steps in a row without an
// overflow, halved at one, whose step is not made. Formulas and numbers of torch.amp.GradScaler, as
// ops: it is part of the program, and the host waits for nothing. Its tensors are yours, as an
// optimiser's states are: saved (tc_save_npy, tc_item) and written back (tc_copy_, tc_fill_) it goes
// on as before. They are on the default device of tc_grad_scaler_init, and have to be where the weights are.
//
//     tc_grad_scaler_init(tc, &s, 0);                  // once, outside of regions
//     ...
//     tc_grad(tc_grad_scaler_scale(&s, loss), w, n, g);
//     tc_grad_scaler_unscale_(&s, g, n);
//     tc_clip_grad_norm_(g, n, 1, 2);                  // if at all, here
//     tc_grad_scaler_step_begin(&s);
//     tc_adamw_list_(...);                             // any optimiser, any writes in place
//     tc_grad_scaler_step_end(&s);
//     tc_grad_scaler_update(&s);
typedef struct tc_grad_scaler {
    tc_tensor scale;          // f32, a scalar
    tc_tensor growth_tracker; // i32, a scalar: steps since the scale changed
    tc_tensor found_inf;      // bool, a scalar: what unscale_ found since the last update
    double growth_factor;     // 2; > 1
    double backoff_factor;    // 0.5; in (0, 1)
    int growth_interval;      // 2000; >= 1
} tc_grad_scaler;

// Fills in *s, whose numbers may be changed then. scale is finite and above 0, or 0 for 65536 (TC_E_ARG).
// TC_E_STATE: inside a region or body. After an error *s is all zero.
TCDEF tc_status tc_grad_scaler_init_at(tc_ctx *tc, tc_grad_scaler *s, double scale,
                                       const char *file, int line);
// Frees its tensors; *s is all zero then, as that of NULL or one that was freed may be.
TCDEF void tc_grad_scaler_free_at(tc_grad_scaler *s, const char *file, int line);
// loss * scale, as tc_mul has it: f32 of a scalar in a half. Of several losses each is scaled.
TCDEF tc_tensor tc_grad_scaler_scale_at(const tc_grad_scaler *s, tc_tensor loss,
                                        const char *file, int line);
// Divides n >= 0 gradients by the scale, in place, and sets found_inf where an element of one is
// infinite or NaN: once for each gradient of a step. Operands as tc_clip_grad_norm_ has them.
TCDEF tc_status tc_grad_scaler_unscale__at(const tc_grad_scaler *s, const tc_tensor *grads,
                                           int n, const char *file, int line);
// What is written in place between these stays as it was where found_inf is true: weights, states and
// step counters, whatever writes them. Gradients are zeroed elsewhere: here they would not be, either.
// TC_E_STATE: a step is open already; none of this scaler was begun here; the other calls about
// scalers inside. A region or body goes on with the step around it, and ends what it leaves open. A function
// that is called inside has another program (TC_MISS_STEP). TC_E_STATE from step_begin and from update: a loss went through
// tc_grad_scaler_scale since the last update and no gradient through tc_grad_scaler_unscale_, so that the step would be
// `scale` times too large. What a skipped body did is not seen: of a scaler that bodies of functions use, it is the one of
// which none ever was.
TCDEF tc_status tc_grad_scaler_step_begin_at(const tc_grad_scaler *s, const char *file, int line);
TCDEF tc_status tc_grad_scaler_step_end_at(const tc_grad_scaler *s, const char *file, int line);
// The next scale: times backoff_factor where found_inf is true, which becomes false; else times
// growth_factor, unless that is infinite, if it was the growth_interval'th step without. TC_E_ARG: a
// number of *s is out of its range.
TCDEF tc_status tc_grad_scaler_update_at(const tc_grad_scaler *s, const char *file, int line);
