// Golden tests: programs and graphs whose kernels are pinned as text.
// A row of the table is a program over the public API, or (run NULL) the graph text in the
// section `input` of its file. tests/golden/NAME.tc holds the graph after the passes, every
// kernel as GROUP report and LOOP list, and for some the emitted C; tests/golden/NAME.cu is
// the CUDA file of those kernels, which tests/cuda compiles. `--update` writes the files
// anew: read the diff. Beside the text every row has a bound on its kernels, which no
// update changes.
#define TCOMPILE_IMPLEMENTATION
#define TCOMPILE_CUDA_IMPLEMENTATION
#include "tcompile.in.h"

#include "tcompile_cuda.in.h"

#include "harness.h"

#include <math.h>

// JOINED: as a CUDA device has them. IN_PARTS: joined as the host has them, as programs are that run. WITH_LISTS: the CUDA file has the kernels that lists of tensors
// share instead. IN_CLUSTERS: it is for a device whose blocks can be in clusters. WITH_TF32: products may
// take f32 as that. WITH_MATRIX_UNITS: the device has some that read shared memory; WITH_MAPS: it brings operands to them.
// FAST: so are numerics.
enum {
    WITH_SOURCE = 1,
    WITH_CUDA = 2,
    JOINED = 4,
    WITH_CHECKS = 8,
    WITH_LISTS = 16,
    IN_CLUSTERS = 32,
    WITH_TF32 = 64,
    IN_PARTS = 128,
    WITH_MATRIX_UNITS = 256,
    WITH_MAPS = 1024,
    FAST = 2048,
    FOR_DEVICES = 512 // results may have other bits than the host's
};

static tc_tensor random_of(tc_ctx *c, tc_dims dims) { return tc_rand(c, dims, TC_F32); }

static const tc_tensor none = {0};

// ---- programs ----

// The exponentials are held as a row between their sum and the quotient.
static void run_softmax(tc_ctx *c) {
    tc_tensor x = random_of(c, TC_DIMS(64, 768));
    tc_trace_begin(c, "golden");
    tc_softmax(x, -1);
    tc_trace_end(c);
}

// Halves in memory, f32 in registers: rounded once, where the result is stored.
static void run_softmax_bf16(tc_ctx *c) {
    tc_tensor x = tc_cast(random_of(c, TC_DIMS(64, 768)), TC_BF16);
    tc_trace_begin(c, "golden");
    tc_softmax(x, -1);
    tc_trace_end(c);
}

// Weights of eight bits scaled by f16, and what was rounded away as i16: each its own memory type.
static void run_narrow(tc_ctx *c) {
    tc_tensor w = tc_cast(tc_mul_s(random_of(c, TC_DIMS(64, 768)), 40), TC_I8);
    tc_tensor scale = tc_cast(random_of(c, TC_DIMS(64, 1)), TC_F16);
    tc_trace_begin(c, "golden");
    tc_tensor y = tc_mul(tc_cast(w, TC_F32), scale);
    tc_cast(y, TC_F16);
    tc_cast(tc_mul_s(tc_sub(y, tc_round(y)), 1000), TC_I16);
    tc_trace_end(c);
}

// Cheap nodes are computed again in each phase, and no row is held.
static void run_log_softmax(tc_ctx *c) {
    tc_tensor x = random_of(c, TC_DIMS(64, 768));
    tc_trace_begin(c, "golden");
    tc_log_softmax(x, -1);
    tc_trace_end(c);
}

// The logits of the targets are taken where they are: nothing of the logits' size is written.
static void run_cross_entropy(tc_ctx *c) {
    static const int64_t target[64] = {7, 1, 767};
    tc_tensor x = random_of(c, TC_DIMS(64, 768));
    tc_tensor y = tc_from_data(c, target, TC_DIMS(64), TC_I64);
    tc_trace_begin(c, "golden");
    tc_cross_entropy(x, y);
    tc_trace_end(c);
}

// Four elements share what Philox gives for one of them.
static void run_dropout_norm(tc_ctx *c) {
    tc_tensor x = tc_cast(random_of(c, TC_DIMS(64, 1024)), TC_BF16);
    tc_tensor y = tc_cast(random_of(c, TC_DIMS(64, 1024)), TC_BF16);
    tc_tensor w = tc_cast(random_of(c, TC_DIMS(1024)), TC_BF16);
    tc_tensor b = tc_cast(random_of(c, TC_DIMS(1024)), TC_BF16);
    tc_trace_begin(c, "golden");
    tc_layer_norm(tc_add(tc_dropout(x, 0.1), y), w, b, 1e-5);
    tc_trace_end(c);
}

// What a transformer begins with: a row of the table is read once, though three loops over its columns have it.
static void run_embedding_norm(tc_ctx *c) {
    static const int64_t at[64] = {5, 0, 99};
    tc_tensor w = random_of(c, TC_DIMS(100, 768)), places = random_of(c, TC_DIMS(64, 768));
    tc_tensor i = tc_from_data(c, at, TC_DIMS(64), TC_I64);
    tc_trace_begin(c, "golden");
    tc_keep(tc_layer_norm(tc_add(tc_embedding(w, i), places), tc_null(), tc_null(), 1e-5));
    tc_trace_end(c);
}

// Rows are copied: the index is looked at once for each.
static void run_embedding(tc_ctx *c) {
    static const int64_t at[64] = {5, 0, 99};
    tc_tensor w = random_of(c, TC_DIMS(100, 768));
    tc_tensor i = tc_from_data(c, at, TC_DIMS(64), TC_I64);
    tc_trace_begin(c, "golden");
    tc_embedding(w, i);
    tc_trace_end(c);
}

// Two passes over the row for mean and variance, a third that stores; dimensions in front are rows.
static void run_layer_norm(tc_ctx *c) {
    tc_tensor x = random_of(c, TC_DIMS(4, 16, 768)), w = random_of(c, TC_DIMS(768)),
              b = random_of(c, TC_DIMS(768));
    tc_trace_begin(c, "golden");
    tc_layer_norm(x, w, b, 1e-5);
    tc_trace_end(c);
}

// ---- gradients: of y, each element of which counts w times ----

static void derive(tc_ctx *c, tc_tensor y, tc_tensor w, const tc_tensor *wrt, int n) {
    tc_tensor g[4];
    tc_vjp(y, w, wrt, n, g);
    tc_trace_end(c);
}

// Forward again, and y (w - sum(w y)): the row is held, nothing but the result is stored.
static void run_softmax_backward(tc_ctx *c) {
    tc_tensor x = random_of(c, TC_DIMS(64, 768)), w = random_of(c, TC_DIMS(64, 768));
    tc_trace_begin(c, "golden");
    derive(c, tc_softmax(x, -1), w, &x, 1);
}

// w - softmax sum(w), in one pass behind the sums.
static void run_log_softmax_backward(tc_ctx *c) {
    tc_tensor x = random_of(c, TC_DIMS(64, 768)), w = random_of(c, TC_DIMS(64, 768));
    tc_trace_begin(c, "golden");
    derive(c, tc_log_softmax(x, -1), w, &x, 1);
}

// The gradient, in one pass over the logits with what the loss needs; the loss is a second kernel, of the rows' sums.
static void run_cross_entropy_backward(tc_ctx *c) {
    tc_tensor x = random_of(c, TC_DIMS(64, 768)), g;
    tc_tensor target = tc_const(c, (int64_t[64]){0, 767, 3}, TC_DIMS(64), TC_I64);
    tc_trace_begin(c, "golden");
    tc_tensor loss = tc_keep(tc_cross_entropy(x, target));
    tc_grad(loss, &x, 1, &g);
    tc_trace_end(c);
}

// That of x alone, of rows: the norm again, and what its sums change by.
static void run_layer_norm_gradient(tc_ctx *c) {
    tc_tensor x = random_of(c, TC_DIMS(64, 768)), w = random_of(c, TC_DIMS(64, 768));
    tc_tensor scale = random_of(c, TC_DIMS(768)), b = random_of(c, TC_DIMS(768));
    tc_trace_begin(c, "golden");
    derive(c, tc_layer_norm(x, scale, b, 1e-5), w, &x, 1);
}

// Rows give the gradient of x, columns those of weight and bias: an item keeps what it sums of columns while its rows go by.
static void run_layer_norm_backward(tc_ctx *c) {
    tc_tensor in[3], w = random_of(c, TC_DIMS(64, 768));
    in[0] = random_of(c, TC_DIMS(64, 768)), in[1] = random_of(c, TC_DIMS(768));
    in[2] = random_of(c, TC_DIMS(768));
    tc_trace_begin(c, "golden");
    derive(c, tc_layer_norm(in[0], in[1], in[2], 1e-5), w, in, 3);
}

static void rnn_cell(tc_ctx *c, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)c;
    const tc_tensor *w = (const tc_tensor *)user;
    out[0] = out[1] = tc_tanh(tc_add(tc_matmul(in[0], *w), in[1]));
}

// A turn forward, a turn back, and behind the loops one product for the weights.
static void run_scan(tc_ctx *c) {
    tc_tensor in[3], last, ys, w = random_of(c, TC_DIMS(10, 16, 64));
    in[0] = random_of(c, TC_DIMS(64, 64)), in[1] = random_of(c, TC_DIMS(10, 16, 64));
    in[2] = random_of(c, TC_DIMS(16, 64));
    tc_trace_begin(c, "golden");
    tc_scan(rnn_cell, &in[0], &in[2], 1, &in[1], 1, &last, &ys, 1);
    derive(c, ys, w, in, 3);
}

// As layer_norm_backward, with one reduction less.
static void run_rms_norm_backward(tc_ctx *c) {
    tc_tensor in[2], w = random_of(c, TC_DIMS(64, 768));
    in[0] = random_of(c, TC_DIMS(64, 768)), in[1] = random_of(c, TC_DIMS(768));
    tc_trace_begin(c, "golden");
    derive(c, tc_rms_norm(in[0], in[1], 1e-6), w, in, 2);
}

// The slope is computed once, for the result and for the bias's sum of columns.
static void run_gelu_backward(tc_ctx *c) {
    tc_tensor in[2], w = random_of(c, TC_DIMS(64, 768));
    in[0] = random_of(c, TC_DIMS(64, 768)), in[1] = random_of(c, TC_DIMS(768));
    tc_trace_begin(c, "golden");
    derive(c, tc_gelu(tc_add(in[0], in[1])), w, in, 2);
}

// Of the hidden values two are stored, gelu's result and its slope. Gradients of weights are products as they lie.
static void run_feed_forward_backward(tc_ctx *c) {
    tc_tensor in[3], w = random_of(c, TC_DIMS(256, 64));
    in[0] = random_of(c, TC_DIMS(256, 64)), in[1] = random_of(c, TC_DIMS(128, 64));
    in[2] = random_of(c, TC_DIMS(64, 128));
    tc_trace_begin(c, "golden");
    tc_tensor hidden = tc_gelu_tanh(tc_linear(in[0], in[1], tc_null()));
    derive(c, tc_linear(hidden, in[2], tc_null()), w, in, 3);
}

// Nothing is kept of a row; the mask is drawn once, for it and its columns.
static void run_dropout_norm_backward(tc_ctx *c) {
    tc_tensor in[4], w = random_of(c, TC_DIMS(64, 768));
    in[0] = random_of(c, TC_DIMS(64, 768)), in[1] = random_of(c, TC_DIMS(64, 768));
    in[2] = random_of(c, TC_DIMS(768)), in[3] = random_of(c, TC_DIMS(768));
    tc_trace_begin(c, "golden");
    derive(c, tc_layer_norm(tc_add(tc_dropout(in[0], 0.1), in[1]), in[2], in[3], 1e-5), w,
           in, 4);
}

static void gelu_layer(tc_ctx *c, const tc_tensor *in, tc_tensor *out, void *w) {
    (void)c;
    out[0] = tc_gelu(tc_linear(in[0], *(tc_tensor *)w, tc_null()));
}

// Of each layer its input is kept; its product is computed again right before it is needed.
static void run_checkpoint(tc_ctx *c) {
    tc_tensor in[3], x = random_of(c, TC_DIMS(80, 128)), w = random_of(c, TC_DIMS(80, 128));
    for (int i = 0; i < 3; i++) in[i] = random_of(c, TC_DIMS(128, 128));
    tc_trace_begin(c, "golden");
    for (int i = 0; i < 3; i++) tc_checkpoint(c, gelu_layer, &in[i], &x, 1, &x, 1);
    derive(c, x, w, in, 3);
}

// One reduction, and what stands behind it, in one kernel.
static void run_rms_norm(tc_ctx *c) {
    tc_tensor x = random_of(c, TC_DIMS(4, 16, 768)), w = random_of(c, TC_DIMS(768));
    tc_trace_begin(c, "golden");
    tc_rms_norm(x, w, 1e-6);
    tc_trace_end(c);
}

// A softmax, and a reduction of what it gives: the probabilities are never in memory.
static void run_entropy(tc_ctx *c) {
    tc_tensor x = random_of(c, TC_DIMS(4, 16, 768));
    tc_trace_begin(c, "golden");
    tc_tensor p = tc_softmax(x, -1);
    tc_neg(tc_sum(tc_mul(p, tc_log(tc_add_s(p, 1e-8))), -1));
    tc_trace_end(c);
}

// Two results over the same rows share the first reduction.
static void run_mean_var(tc_ctx *c) {
    tc_tensor x = random_of(c, TC_DIMS(64, 768));
    tc_trace_begin(c, "golden");
    tc_mean(x, -1);
    tc_var(x, -1, 0);
    tc_trace_end(c);
}

// Element-wise ops with a row, a column and a scalar broadcast are one kernel over one flat space.
static void run_chain(tc_ctx *c) {
    tc_tensor x = random_of(c, TC_DIMS(128, 512)), a = random_of(c, TC_DIMS(512)),
              b = random_of(c, TC_DIMS(128, 1)), s = random_of(c, TC_DIMS(1));
    tc_trace_begin(c, "golden");
    tc_tensor y = tc_add(tc_mul(x, a), b);
    y = tc_mul(y, tc_add_s(tc_tanh(tc_mul_s(y, 0.5)), 1));
    tc_tensor gate =
        tc_sigmoid(y); // a statement each: compilers order arguments as they like
    y = tc_sub(gate, tc_mul(y, s));
    y = tc_exp(tc_neg(tc_abs(y)));
    tc_maximum(y, s);
    tc_trace_end(c);
}

// Thirty small programs that need nothing of each other are one kernel.
static void run_thirty(tc_ctx *c) {
    tc_tensor x[30];
    for (int i = 0; i < 30; i++) x[i] = random_of(c, TC_DIMS(100));
    tc_trace_begin(c, "golden");
    for (int i = 0; i < 30; i++) tc_add_s(tc_mul(x[i], x[i]), i);
    tc_trace_end(c);
}

// The salience scorer of the benchmark: two 3x3 stencils, a 7x7 box, and the largest of
// each image.
static void run_salience(tc_ctx *c) {
    static const float sx[9] = {-1, 0, 1, -2, 0, 2, -1, 0, 1},
                       sy[9] = {-1, -2, -1, 0, 0, 0, 1, 2, 1};
    tc_tensor im = random_of(c, TC_DIMS(2, 3, 32, 32));
    tc_tensor kx = tc_const(c, sx, TC_DIMS(1, 1, 3, 3), TC_F32),
              ky = tc_const(c, sy, TC_DIMS(1, 1, 3, 3), TC_F32);
    tc_trace_begin(c, "golden");
    tc_tensor red = tc_mul_s(tc_narrow(im, 1, 0, 1), 0.299),
              green = tc_mul_s(tc_narrow(im, 1, 1, 1), 0.587),
              blue = tc_mul_s(tc_narrow(im, 1, 2, 1), 0.114);
    tc_tensor gray = tc_add(tc_add(red, green), blue);
    tc_tensor gx = tc_conv2d(gray, kx, none, 1, 1, 1, 1),
              gy = tc_conv2d(gray, ky, none, 1, 1, 1, 1);
    tc_tensor xx = tc_mul(gx, gx), yy = tc_mul(gy, gy);
    tc_tensor mag = tc_sqrt(tc_add_s(tc_add(xx, yy), 1e-12));
    tc_tensor s = tc_add(mag, tc_abs(tc_sub(gray, tc_avg_pool2d(gray, 7, 1, 3))));
    tc_div(s, tc_add_s(tc_amax_dims(s, TC_DIMS(1, 2, 3), 1), 1e-6));
    tc_trace_end(c);
}

// Scores, their softmax and the product with the values: parts of one kernel, over blocks of rows.
static void run_attention(tc_ctx *c) {
    tc_tensor q = random_of(c, TC_DIMS(2, 8, 64, 32)),
              k = random_of(c, TC_DIMS(2, 8, 64, 32)),
              v = random_of(c, TC_DIMS(2, 8, 64, 32));
    tc_trace_begin(c, "golden");
    tc_scaled_dot_product_attention(q, k, v, none, 0, 0);
    tc_trace_end(c);
}

// Two linear layers: bias, gelu and the residual are in the products' epilogues.
static void run_mlp(tc_ctx *c) {
    tc_tensor x = random_of(c, TC_DIMS(32, 48)), w1 = random_of(c, TC_DIMS(96, 48)),
              b1 = random_of(c, TC_DIMS(96));
    tc_tensor w2 = random_of(c, TC_DIMS(48, 96)), b2 = random_of(c, TC_DIMS(48));
    tc_trace_begin(c, "golden");
    tc_add(x, tc_linear(tc_gelu(tc_linear(x, w1, b1)), w2, b2));
    tc_trace_end(c);
}

// Sums that the next layer needs twice are stored once, by the product that ends them, and a norm is
// stored as halves, which is all that the next product reads.
static void run_residual(tc_ctx *c) {
    tc_tensor x = tc_cast(random_of(c, TC_DIMS(2, 16, 64)), TC_BF16);
    tc_tensor w = tc_cast(random_of(c, TC_DIMS(64, 64)), TC_BF16),
              b = tc_cast(random_of(c, TC_DIMS(64)), TC_BF16);
    tc_trace_begin(c, "golden");
    for (int i = 0; i < 2; i++)
        x = tc_add(x, tc_linear(tc_layer_norm(x, none, none, 1e-5), w, b));
    tc_trace_end(c);
}

// What reads one large tensor at the same places reads it once.
static void run_readers(tc_ctx *c) {
    tc_tensor x = random_of(c, TC_DIMS(256, 1024));
    tc_trace_begin(c, "golden");
    tc_amax(x, -1), tc_argmax(x, -1), tc_sum(tc_mul(x, x), -1);
    tc_exp(x);
    tc_trace_end(c);
}

// Ops over whole rows: short ones, and those that take several launches.
static void run_opaque(tc_ctx *c) {
    static const int64_t at[6] = {0, 3, -1, 2, 2, 0};
    tc_tensor x = random_of(c, TC_DIMS(4, 96)), long_row = random_of(c, TC_DIMS(2, 50000)),
              row = tc_cast(tc_mul_s(long_row, 1000), TC_I64);
    tc_tensor index = tc_from_data(c, at, TC_DIMS(6), TC_I64);
    tc_tensor indices = tc_broadcast_to(index, TC_DIMS(3, 6));
    tc_tensor part = tc_narrow(x, 1, 0, 6), whole = random_of(c, TC_DIMS(6, 96)), values,
              first;
    tc_trace_begin(c, "golden");
    tc_cumsum(x, 1), tc_cumprod(long_row, 1);
    tc_argsort(x, 1, 1), tc_argsort(row, 1, 0);
    tc_topk(long_row, 10, 1, 1, &values, &first);
    tc_scatter(x, 1, indices, part);
    tc_scatter_add(x, 1, indices, part), tc_index_add(x, 1, index, part);
    tc_index_add(x, 0, index, whole);
    tc_trace_end(c);
}

// The discrete Laplacian of images with a border: five loads of one window.
static void run_stencil(tc_ctx *c) {
    enum { H = 1080, W = 1920 };
    static const int down[] = {0, 1, 1, 1, 2}, right[] = {1, 0, 1, 2, 1};
    tc_tensor x = random_of(c, TC_DIMS(H, W)), sum = none;
    tc_trace_begin(c, "golden");
    tc_tensor image = tc_pad(x, TC_DIMS(1, 1), TC_DIMS(1, 1), 0);
    for (int i = 0; i < 5; i++) {
        tc_tensor at = tc_narrow(tc_narrow(image, 0, down[i], H), 1, right[i], W);
        at = tc_mul_s(at, i == 2 ? -4 : 1);
        sum = i ? tc_add(sum, at) : at;
    }
    tc_trace_end(c);
}

// The inside of an image, changed, and its edges, as they are.
static void run_border(tc_ctx *c) {
    enum { H = 512, W = 768 };
    tc_tensor x = random_of(c, TC_DIMS(H, W));
    tc_trace_begin(c, "golden");
    tc_tensor middle = tc_narrow(x, 0, 1, H - 2);
    tc_tensor left = tc_narrow(middle, 1, 0, W - 2), right = tc_narrow(middle, 1, 2, W - 2);
    tc_tensor row[3] = {tc_narrow(middle, 1, 0, 1), tc_sub(right, left),
                        tc_narrow(middle, 1, W - 1, 1)};
    tc_tensor all[3] = {tc_narrow(x, 0, 0, 1), tc_cat(row, 3, 1),
                        tc_narrow(x, 0, H - 1, 1)};
    tc_cat(all, 3, 0);
    tc_trace_end(c);
}

// Rotary embedding: halves of heads turned by the position, and put together again.
static void run_rotary(tc_ctx *c) {
    enum { TOKENS = 2048, HALF = 64 };
    tc_tensor x = tc_zeros(c, TC_DIMS(4, 16, TOKENS, 2 * HALF), TC_BF16);
    tc_tensor cosines = tc_zeros(c, TC_DIMS(TOKENS, HALF), TC_BF16);
    tc_tensor sines = tc_zeros(c, TC_DIMS(TOKENS, HALF), TC_BF16);
    tc_trace_begin(c, "golden");
    tc_tensor a = tc_narrow(x, -1, 0, HALF), b = tc_narrow(x, -1, HALF, HALF);
    tc_tensor ac = tc_mul(a, cosines), bs = tc_mul(b, sines);
    tc_tensor bc = tc_mul(b, cosines), as = tc_mul(a, sines);
    tc_tensor left = tc_sub(ac, bs), right = tc_add(bc, as);
    tc_cat((tc_tensor[]){left, right}, 2, -1);
    tc_trace_end(c);
}

// A step of AdamW over f32 and bf16 parameters: two of equal sizes are one kernel of a program, and two
// tensors of a list.
static void run_lists(tc_ctx *c) {
    enum { TENSORS = 8 };
    static const int64_t size[TENSORS] = {1000, 4096, 1777, 77, 4096, 500, 600, 700};
    tc_tensor p[TENSORS], g[TENSORS], m[TENSORS], v[TENSORS];
    for (int i = 0; i < TENSORS; i++) {
        tc_dims d = TC_DIMS(size[i]);
        tc_dtype dtype = i < 5 ? TC_F32 : TC_BF16;
        p[i] = tc_zeros(c, d, dtype), g[i] = tc_zeros(c, d, dtype);
        m[i] = tc_zeros(c, d, TC_F32), v[i] = tc_zeros(c, d, TC_F32);
    }
    tc_tensor step = tc_zeros(c, TC_SCALAR, TC_F32);
    tc_trace_begin(c, "golden");
    tc_adamw_list_(p, g, m, v, TENSORS, step, 1e-3, 0.9, 0.999, 1e-8, 0.01);
    tc_trace_end(c);
}

// The largest of all gradients: those of long rows are first one for each row, which blocks share.
static void run_norms(tc_ctx *c) {
    enum { TENSORS = 4, CHUNK = 8192 };
    tc_tensor g[TENSORS];
    for (int i = 0; i < TENSORS; i++) g[i] = tc_zeros(c, TC_DIMS(CHUNK * (8 + i)), TC_BF16);
    tc_trace_begin(c, "golden");
    tc_clip_grad_norm_(g, TENSORS, 1, HUGE_VAL);
    tc_trace_end(c);
}

// A weight that two products take is one cast of the graph, which they make as they load it. What the scaler
// decides is read where the weight is written.
static void run_mixed_precision(tc_ctx *c) {
    tc_tensor x = random_of(c, TC_DIMS(64, 128)), w = random_of(c, TC_DIMS(128, 128)), g;
    tc_tensor m = tc_zeros_like(w);
    tc_grad_scaler s;
    tc_grad_scaler_init(c, &s, 0);
    tc_trace_begin(c, "golden");
    tc_autocast_begin(c, TC_F16);
    tc_tensor h = tc_relu(tc_linear(x, w, none));
    tc_tensor loss = tc_mse_loss(tc_linear(h, w, none), x);
    tc_autocast_end(c);
    tc_grad(tc_grad_scaler_scale(&s, loss), &w, 1, &g);
    tc_grad_scaler_unscale_(&s, &g, 1);
    tc_grad_scaler_step_begin(&s);
    tc_sgd_(w, g, m, 0.1, 0.9, 0, 0);
    tc_grad_scaler_step_end(&s);
    tc_grad_scaler_update(&s);
    tc_trace_end(c);
}

// ---- the table ----

typedef struct golden {
    const char *name;
    int most; // kernels
    int flags;
    void (*run)(tc_ctx *c);
} golden;

static const golden goldens[] = {
    {"softmax", 1, WITH_SOURCE | WITH_CUDA, run_softmax},
    {"softmax_bf16", 1, WITH_SOURCE | WITH_CUDA, run_softmax_bf16},
    {"narrow", 1, WITH_SOURCE | WITH_CUDA, run_narrow},
    {"log_softmax", 1, 0, run_log_softmax},
    {"cross_entropy", 2, WITH_CUDA, run_cross_entropy},
    {"dropout_norm", 1, WITH_CUDA, run_dropout_norm},
    {"embedding_norm", 1, WITH_CUDA, run_embedding_norm},
    {"embedding", 1, WITH_SOURCE | WITH_CUDA, run_embedding},
    {"layer_norm", 1, WITH_SOURCE, run_layer_norm},
    {"rms_norm", 1, 0, run_rms_norm},
    {"softmax_backward", 1, 0, run_softmax_backward},
    {"log_softmax_backward", 1, 0, run_log_softmax_backward},
    {"cross_entropy_backward", 2, WITH_CUDA, run_cross_entropy_backward},
    {"layer_norm_backward", 1, IN_PARTS, run_layer_norm_backward},
    {"layer_norm_gradient", 1, 0, run_layer_norm_gradient},
    {"layer_norm_down", 1, WITH_CUDA | JOINED, NULL},
    {"scan", 8, 0, run_scan},
    {"rms_norm_backward", 1, IN_PARTS, run_rms_norm_backward},
    {"rms_norm_down", 1, WITH_CUDA | JOINED, NULL},
    {"gelu_backward", 1, WITH_CUDA, run_gelu_backward},
    {"feed_forward_backward", 5, 0, run_feed_forward_backward},
    {"dropout_norm_backward", 1, IN_PARTS, run_dropout_norm_backward},
    {"dropout_norm_down", 1, WITH_CUDA | JOINED, NULL},
    {"checkpoint", 11, 0, run_checkpoint},
    {"entropy", 1, 0, run_entropy},
    {"mean_var", 1, 0, run_mean_var},
    {"chain", 1, WITH_SOURCE, run_chain},
    {"thirty", 1, 0, run_thirty},
    {"salience", 2, 0, run_salience},
    {"mlp", 2, WITH_SOURCE, run_mlp},
    {"residual", 4, 0, run_residual},
    {"attention", 1, WITH_SOURCE, run_attention},
    {"attention_plain", 1, IN_PARTS, NULL},
    {"attention_halves", 1, WITH_CUDA | JOINED, NULL},
    {"attention_row", 1, WITH_CUDA | JOINED | IN_CLUSTERS, NULL},
    {"attention_gradient", 5, WITH_CUDA | JOINED | FOR_DEVICES, NULL},
    {"readers", 1, 0, run_readers},
    {"opaque", 13, WITH_CUDA, run_opaque},
    {"lists", 8, WITH_LISTS, run_lists},
    {"norms", 12, WITH_LISTS, run_norms},
    {"mixed_precision", 20, WITH_CUDA, run_mixed_precision},
    {"stencil", 1, WITH_CUDA, run_stencil},
    {"border", 1, WITH_SOURCE | WITH_CUDA, run_border},
    {"rotary", 1, WITH_SOURCE | WITH_CUDA, run_rotary},
    {"fold", 1, 0, NULL},
    {"rules", 1, 0, NULL},
    {"widen", 2, 0, NULL},
    {"symbolic", 1, WITH_SOURCE | WITH_CUDA | WITH_CHECKS, NULL},
    {"pointwise", 1, WITH_CUDA, NULL},
    {"transpose", 1, WITH_CUDA, NULL},
    {"long_rows", 1, WITH_CUDA | IN_CLUSTERS, NULL},
    {"parts", 2, WITH_CUDA, NULL},
    {"columns", 2, WITH_CUDA, NULL},
    {"columns_softmax", 1, WITH_CUDA, NULL},
    {"matmul", 1, WITH_CUDA, NULL},
    {"matmul_bf16", 1, WITH_CUDA | WITH_CHECKS, NULL},
    {"matmul_tf32", 1, WITH_CUDA | WITH_TF32, NULL},
    {"matmul_matrix_units", 1, WITH_CUDA | WITH_MATRIX_UNITS, NULL},
    {"matmul_maps", 1, WITH_CUDA | WITH_MATRIX_UNITS | WITH_MAPS, NULL},
    {"bias_gradient", 1, WITH_CUDA | JOINED | FOR_DEVICES | WITH_MATRIX_UNITS | WITH_MAPS,
     NULL},
    {"assembled", 3, WITH_CUDA | JOINED | FOR_DEVICES | WITH_MATRIX_UNITS, NULL},
    {"matmul_f8", 1, WITH_CUDA | WITH_MATRIX_UNITS | WITH_MAPS | FAST, NULL},
    {"attention_maps", 4, WITH_CUDA | JOINED | FOR_DEVICES | WITH_MATRIX_UNITS | WITH_MAPS,
     NULL},
    {"slices", 1, WITH_CUDA, NULL},
    {"gemv", 1, WITH_CUDA, NULL},
    {"attn_score", 1, WITH_CUDA, NULL},
    {"tinymlp", 2, WITH_CUDA | JOINED, NULL},
    {"dequantise", 1, WITH_CUDA | JOINED, NULL},
    {"dequantise_row", 1, WITH_CUDA | JOINED, NULL},
};

// ---- files ----

static char *file_text(const char *path) {
    FILE *f = fopen(path, "rb");
    size_t n = 0;
    char *text = (char *)calloc(1, 1 << 20);
    if (f) n = fread(text, 1, (1 << 20) - 1, f), fclose(f);
    text[n] = 0;
    return text;
}

// The section between "== input" and the next "== ", into out.
static void input_of(const char *text, tc__text *out) {
    const char *s = strstr(text, "== input\n"), *end;
    if (!s) return;
    s += strlen("== input\n");
    end = strstr(s, "== ");
    tc__put_raw(out, s, end ? (size_t)(end - s) : strlen(s));
}

static int first_difference(const char *a, const char *b) {
    int line = 1;
    for (; *a && *a == *b; a++, b++) line += *a == '\n';
    return line;
}

static void compare(const char *path, const char *have) {
    char *want = file_text(path);
    if (test_option("--update")) {
        FILE *f = strcmp(want, have) ? fopen(path, "wb") : NULL;
        if (f) fputs(have, f), fclose(f);
    } else if (strcmp(want, have)) {
        FAIL("%s differs from line %d on; --update, then read the diff", path,
             first_difference(want, have));
    }
    free(want);
}

// ---- text of kernels ----

// The whole CUDA file of the kernels, held by tests/golden/NAME.cu.
static void compare_cuda(tc_ctx *c, const char *name, tc__group *const *k, size_t n) {
    char path[200], symbol[32];
    tc__text t;
    tc__text_init(&t, c);
    CHECK(tc__print_cuda_prelude(&t, (const tc__group *const *)k, (int)n));
    for (size_t i = 0; i < n; i++) {
        snprintf(symbol, sizeof symbol, "kernel%u", (unsigned)i);
        CHECK(tc__print_kernel(&t, k[i], &tc__dialect_cuda, symbol));
    }
    snprintf(path, sizeof path, "tests/golden/%s.cu", name);
    compare(path, t.at);
    tc__text_free(&t);
}

// What the device has decides which kernels are joined, too.
static void aim(const golden *g, tc__group *const *k, size_t n) {
    for (size_t i = 0; i < n; i++) {
        k[i]->target.fast = (g->flags & FAST) != 0;
        if (!(g->flags & WITH_MATRIX_UNITS)) continue;
        k[i]->target.matrix_warps = 4;
        k[i]->target.tensor_maps = (g->flags & WITH_MAPS) != 0;
    }
}

// And what it looks like when every access is checked.
static void check_cuda(tc_ctx *c, const golden *g, tc__group *const *k, size_t n) {
    char name[100];
    for (size_t i = 0; i < n && (g->flags & IN_CLUSTERS); i++) k[i]->target.cluster = 8;
    for (size_t i = 0; i < n && (g->flags & WITH_TF32); i++) k[i]->target.tf32 = 1;
    compare_cuda(c, g->name, k, n);
    if (!(g->flags & WITH_CHECKS)) return;
    for (size_t i = 0; i < n; i++) k[i]->target.checked = 1;
    snprintf(name, sizeof name, "%s_checked", g->name);
    compare_cuda(c, name, k, n);
}

// The kernels that lists of these share, by how many tensors are in them.
static void check_lists(tc_ctx *c, const char *name, tc__group *const *k, size_t n) {
    uint64_t memory[64];
    tc__arena arena;
    tc__lists s;
    tc__arena_init(&arena, c);
    tc__lists_open(&s, c, &arena, tc__dialect_cuda.order);
    for (size_t i = 0; i < n; i++) {
        REQUIRE(k[i]->buffer.count <= 64);
        for (size_t b = 0; b < k[i]->buffer.count; b++) memory[b] = b; // none is in place
        CHECK(tc__lists_add(&s, (uint32_t)i, k[i], memory));
    }
    for (size_t i = 0; i < s.form.count; i++) s.form.at[i]->shape.list = 0;
    for (size_t i = 0; i < s.piece.count; i++) s.form.at[s.piece.at[i].form]->shape.list++;
    compare_cuda(c, name, s.form.at, s.form.count);
    tc__lists_close(&s);
    tc__arena_free(&arena);
}

static void put_kernels(tc__text *t, const tc__graph *g, tc__group *const *k, size_t n,
                        int flags) {
    for (size_t i = 0; i < n; i++) {
        tc__put(t, "== kernel %u\n", (unsigned)i);
        tc__report_kernel(t, g, k[i], (uint32_t)i);
        tc__dump_graph(t, &k[i]->body, NULL, 0);
        CHECK(tc__verify(t->ctx, &k[i]->body, TC__LOOP));
        CHECK(!k[i]->shape.prologue || tc__verify_parts(t->ctx, k[i]));
        if (!(flags & WITH_SOURCE)) continue;
        tc__put(t, "== source %u\n", (unsigned)i);
        CHECK(tc__print_kernel(t, k[i], &tc__dialect_c, "kernel"));
    }
}

static void run_program(tc_ctx *c, const golden *g, tc__text *t) {
    tc__group *k[64];
    uint32_t node[64];
    size_t n = 0, outputs = 0;
    g->run(c);
    const tc__region *r = tc__region_named(c, "golden");
    REQUIRE(r != NULL);
    const tc__program *p = tc__last_program(r);
    for (size_t i = 0; i < p->launch.count && n < 64; i++) k[n++] = p->launch.at[i].group;
    for (size_t i = 0; i < p->output.count && outputs < 64; i++)
        node[outputs++] = p->output.at[i].node;
    tc__put(t, "== trace\n");
    tc__dump_trace(t, tc__last_visit(r));
    tc__put(t, "== graph\n");
    tc__dump_graph(t, &p->graph, node, outputs);
    CHECK(tc__verify(c, &p->graph, TC__TENSOR));
    CHECK((int)n <= g->most ||
          FAIL("%s: %d kernels, at most %d", g->name, (int)n, g->most));
    CHECK_EQ(tc_region_kernels(c, "golden"), n);
    put_kernels(t, &p->graph, k, n, g->flags);
    if (g->flags & WITH_CUDA) check_cuda(c, g, k, n);
    if (g->flags & WITH_LISTS) check_lists(c, g->name, k, n);
}

static void run_graph(tc_ctx *c, const golden *g, const char *input, tc__text *t) {
    tc__ixpool ix;
    tc__graph from, to;
    tc__ids outputs;
    tc__schedule s;
    memset(&outputs, 0, sizeof outputs);
    tc__ix_open(&ix, c);
    tc__graph_open(&from, c, &ix), tc__graph_open(&to, c, &ix);
    tc__put(t, "== input\n%s", input);
    CHECK(tc__read_graph(c, &from, input, &outputs));
    CHECK(tc__verify(c, &from, TC__TENSOR));
    CHECK(tc__passes_run(c, &from, &to, outputs.at, outputs.count, 0,
                         (g->flags & FOR_DEVICES) != 0));
    CHECK(tc__verify(c, &to, TC__TENSOR));
    tc__put(t, "== graph\n");
    tc__dump_graph(t, &to, outputs.at, outputs.count);
    uint8_t *output = TC__NEW_ARRAY(c, uint8_t, to.node.count + 1);
    for (size_t i = 0; i < outputs.count; i++) output[outputs.at[i]] = 1;
    CHECK(tc__schedule_run(&s, c, &to, output, NULL,
                           g->flags & (JOINED | WITH_CUDA) ? TC__FUSE_LOADS : TC__FUSE));
    aim(g, s.kernel.at, s.kernel.count);
    if (g->flags & JOINED) CHECK(tc__schedule_join(&s, &tc__dialect_cuda));
    if (g->flags & IN_PARTS) CHECK(tc__schedule_join(&s, &tc__dialect_c));
    CHECK((int)s.kernel.count <= g->most ||
          FAIL("%s: %d kernels, at most %d", g->name, (int)s.kernel.count, g->most));
    put_kernels(t, &to, s.kernel.at, s.kernel.count, g->flags);
    if (g->flags & WITH_CUDA) check_cuda(c, g, s.kernel.at, s.kernel.count);
    tc__schedule_close(&s);
    tc__free(c, output, to.node.count + 1);
    TC__VEC_FREE(c, outputs);
    tc__graph_close(&to), tc__graph_close(&from);
    tc__ix_close(&ix);
}

static void check_golden(const char *name) {
    const golden *g = NULL;
    char path[200];
    for (size_t i = 0; i < TC__COUNT(goldens); i++)
        if (!strcmp(goldens[i].name, name)) g = &goldens[i];
    REQUIRE(g != NULL);
    tc_config config = tc_config_default();
    config.backend = "aot_eager", config.threads = 1;
    config.isa = "baseline"; // the text does not depend on the CPU
    tc_ctx *c = tc_open(&config);
    tc__text t, input;
    tc__text_init(&t, c), tc__text_init(&input, c);
    snprintf(path, sizeof path, "tests/golden/%s.tc", name);
    char *old = file_text(path);
    input_of(old, &input);
    if (g->run)
        run_program(c, g, &t);
    else
        run_graph(c, g, input.at, &t);
    CHECK_STR(tc_error_text(c), "");
    compare(path, t.at);
    free(old);
    tc__text_free(&t), tc__text_free(&input);
    tc_close(c);
}

#define GOLDEN(name)                                                                       \
    TEST(name) { check_golden(#name); }
GOLDEN(softmax)
GOLDEN(softmax_bf16)
GOLDEN(narrow)
GOLDEN(log_softmax)
GOLDEN(cross_entropy)
GOLDEN(dropout_norm)
GOLDEN(embedding_norm)
GOLDEN(embedding)
GOLDEN(layer_norm)
GOLDEN(rms_norm)
GOLDEN(softmax_backward)
GOLDEN(log_softmax_backward)
GOLDEN(cross_entropy_backward)
GOLDEN(layer_norm_backward)
GOLDEN(layer_norm_gradient)
GOLDEN(layer_norm_down)
GOLDEN(scan)
GOLDEN(rms_norm_backward)
GOLDEN(rms_norm_down)
GOLDEN(gelu_backward)
GOLDEN(feed_forward_backward)
GOLDEN(dropout_norm_backward)
GOLDEN(dropout_norm_down)
GOLDEN(checkpoint)
GOLDEN(entropy)
GOLDEN(mean_var)
GOLDEN(chain)
GOLDEN(thirty)
GOLDEN(salience)
GOLDEN(mlp)
GOLDEN(residual)
GOLDEN(attention)
GOLDEN(attention_plain)
GOLDEN(attention_halves)
GOLDEN(attention_row)
GOLDEN(attention_gradient)
GOLDEN(readers)
GOLDEN(opaque)
GOLDEN(lists)
GOLDEN(norms)
GOLDEN(mixed_precision)
GOLDEN(stencil)
GOLDEN(border)
GOLDEN(rotary)
GOLDEN(fold)
GOLDEN(rules)
GOLDEN(widen)
GOLDEN(symbolic)
GOLDEN(pointwise)
GOLDEN(transpose)
GOLDEN(long_rows)
GOLDEN(parts)
GOLDEN(columns)
GOLDEN(columns_softmax)
GOLDEN(matmul)
GOLDEN(matmul_bf16)
GOLDEN(matmul_tf32)
GOLDEN(matmul_matrix_units)
GOLDEN(matmul_maps)
GOLDEN(bias_gradient)
GOLDEN(assembled)
GOLDEN(matmul_f8)
GOLDEN(attention_maps)
GOLDEN(slices)
GOLDEN(gemv)
GOLDEN(attn_score)
GOLDEN(tinymlp)
GOLDEN(dequantise)
GOLDEN(dequantise_row)

TEST(every_row_is_a_test) {
    for (size_t i = 0; i < TC__COUNT(goldens); i++) {
        int found = 0;
        for (const test_case *t = test_first; t; t = t->next)
            found |= !strcmp(t->name, goldens[i].name);
        CHECK(found || FAIL("no GOLDEN(%s)", goldens[i].name));
    }
}
