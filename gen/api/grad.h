// ---- gradients: reverse-mode derivatives of what a region or a function computes ----
// They are part of the program: forward and backward are one graph, fused and compiled together, and what they
// give can be derived again. Outside of regions and functions, and where these run eagerly (TC_DISABLE, option
// disable, tc_disable_begin), they are an error (TC_E_STATE) that says so; TC_STANCE_FORCE_EAGER runs them op by op.
// Writes in place, views, functions in functions and run-time sizes are seen through; a view made outside is a tensor
// of its own: what is computed from it is not derived by what it shows. An op that rounds to
// integers, compares or sorts indices passes nothing on; floor, sign and the like pass 0 on, as PyTorch has it.
// relu at 0 has the slope 0, abs at 0 too; equal operands of maximum and minimum get half each; all that equal
// amax or amin share; clamp and what is compared with a number (maximum_s, minimum_s) have the slope 1 at the bound.
//
//     tc_trace_begin(tc, "step");
//     tc_tensor loss = tc_cross_entropy(tc_linear(x, w, b), target), wrt[2] = {w, b}, g[2];
//     tc_grad(loss, wrt, 2, g);
//     tc_sgd_(w, g[0], tc_null(), 0.1, 0, 0, 0), tc_sgd_(b, g[1], tc_null(), 0.1, 0, 0, 0);
//     tc_trace_end(tc);

// out[i] = what `loss` changes by with wrt[i], of the same sizes, dtype and device. loss is floating, of one
// element (TC_E_SHAPE); wrt are floating (TC_E_DTYPE), in the open region, from outside or computed there; of
// equal tensors one is not the other: by a clone of x is not by x. That loss does not depend on wrt[i] (TC_E_ARG), or
// through an op that has no derivative (TC_E_UNSUPPORTED), is an error of the region's end. n >= 0. out may
// be wrt, or overlap it.
TCDEF tc_status tc_grad_at(tc_tensor loss, const tc_tensor *wrt, int n, tc_tensor *out,
                           const char *file, int line);
// The same of a y of any size, whose elements count v times: out[i] = sum(v * dy / dwrt[i]). v has the sizes and dtype of y.
TCDEF tc_status tc_vjp_at(tc_tensor y, tc_tensor v, const tc_tensor *wrt, int n,
                          tc_tensor *out, const char *file, int line);
// *out = what y changes by when wrt[i] change by t[i]: the Jacobian times t, of the sizes of y. Forward mode, at the
// cost of about two gradients. t[i] has the sizes and dtype of wrt[i]; n >= 1.
TCDEF tc_status tc_jvp_at(tc_tensor y, const tc_tensor *wrt, const tc_tensor *t, int n,
                          tc_tensor *out, const char *file, int line);
// Nothing is derived through what is made between these. They nest; what a region or a body leaves open ends with it. Outside
// of regions they do nothing.
TCDEF tc_status tc_no_grad_begin_at(tc_ctx *tc, const char *file, int line);
TCDEF tc_status tc_no_grad_end_at(tc_ctx *tc, const char *file, int line);
// Computes out[0..n_out) from in[0..n_in) by `body`, now, like any code; but what it computes between is not kept for
// gradients: they compute it again, from in[] and the tensors the body captures, which are kept, and on the CPU have the
// same bits (halves, which are rounded where they are stored, under option round_each_op); on a GPU sums of what is
// computed again may be in another order, as kernels are others. So of a deep network's layers, each in
// a checkpoint, one at a time has its values in memory (torch.utils.checkpoint). They nest. tc_jvp keeps values as
// ever. Custom ops in it run twice, random numbers are the same. Gradients of gradients may add up in another order
// where several checkpoints use a weight. Without gradients, and outside of regions and functions, it is a call of
// `body`. *user is not guarded: what a function's recording depends on is its own to guard. TC_E_NULL: body, in or out
// is NULL, a tensor of in is null, or body did not set out[i], which is null after every error; TC_E_DEAD, TC_E_FOREIGN: one of
// in or of what the body gives is no tensor of the context; TC_E_ARG: a count below 0; TC_E_STATE, TC_E_REGION: the body leaves a scope or a region open.
//
//     static void block(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *layer) { ... }
//     for (int i = 0; i < 24; i++) tc_checkpoint(tc, block, &layer[i], &x, 1, &x, 1);
TCDEF tc_status tc_checkpoint_at(tc_ctx *tc, tc_body body, void *user, const tc_tensor *in,
                                 int n_in, tc_tensor *out, int n_out, const char *file,
                                 int line);
// x as a value of which nothing behind it is a derivative: a view of the same memory, as in PyTorch, so what is written
// in place to it x shows, too, and the other way round. In a region, what was computed from x before is derived by what
// x was then; elements of x that were written so are no longer derived by what x was made of, all others are (PyTorch
// goes on as if nothing had been written): tc_clone it to have values to write to.
TCDEF tc_tensor tc_detach_at(tc_tensor x, const char *file, int line);

// From now on (`on`), or no more, tc_backward adds to what tc_grad_of(t) gives: a tensor of zeros, of t's sizes,
// dtype and device, which is made here, is t's, and ends with t or when it is switched off. t is a floating
// tensor in memory, outside of open regions (TC_E_STATE).
TCDEF tc_status tc_requires_grad_at(tc_tensor t, int on, const char *file, int line);
// The gradient of t, which tc_backward adds to; null without an error where t has none. Inside regions it may be
// read and written like any tensor: tc_zero_(tc_grad_of(w)).
TCDEF tc_tensor tc_grad_of(tc_tensor t);
// Adds to the gradient of every tensor with tc_requires_grad that the open region has used so far what `loss`
// changes by with it. What loss does not depend on gets nothing. TC_E_ARG: another region has computed it, or it depends
// on no tensor with tc_requires_grad, or only through what nothing is derived through: tc_detach, tc_no_grad_begin, integers. A view of one that was made outside of the region, such as wt = tc_t(w), is a
// tensor of its own, without a gradient: make the view inside.
TCDEF tc_status tc_backward_at(tc_tensor loss, const char *file, int line);
