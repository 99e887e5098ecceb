// Whole models for bench/cuda.c: the encoder and GPT-2 of models.h, ResNet-50, and a step of a LLaMA's decoding. What
// is not an input is captured. bench/peers/cuda_models.py has the same in PyTorch.
#ifndef BENCH_CUDA_MODELS_H
#define BENCH_CUDA_MODELS_H
#include "models.h"

#include <math.h>

enum { MODEL_TENSORS = 512 };

// Parameters in the order in which a body asks for them. Its first run, eager and on the host, makes them.
static struct {
    tc_ctx *tc; // while they are made
    tc_tensor at[MODEL_TENSORS];
    int next;
} given;

// The next parameter, of normal numbers times `scale` around `middle`.
static tc_tensor parameter(tc_dims d, double scale, double middle) {
    int i = given.next++;
    if (i >= MODEL_TENSORS) fprintf(stderr, "too many parameters\n"), exit(2);
    if (!given.tc) return given.at[i];
    tc_tensor t = tc_add_s(tc_mul_s(tc_randn(given.tc, d, TC_F32), scale), middle);
    t = tc_cast(t, TC_BF16);
    given.at[i] = tc_keep(tc_to(t, "cuda:0"));
    return t;
}

// ---- ResNet-50 (He et al. 2015), stride in the 3x3; norms have given statistics ----

static tc_tensor conv_norm(tc_tensor x, int64_t out, int taps, int stride) {
    int64_t in = tc_dim(x, 1);
    double scale = 1 / sqrt((double)in * taps * taps);
    tc_tensor w = parameter(TC_DIMS(out, in, taps, taps), scale, 0);
    tc_tensor mean = parameter(TC_DIMS(out), 0.1, 0), var = parameter(TC_DIMS(out), 0.1, 1);
    tc_tensor weight = parameter(TC_DIMS(out), 0.1, 1),
              bias = parameter(TC_DIMS(out), 0.1, 0);
    x = tc_conv2d(x, w, tc_null(), stride, taps / 2, 1, 1);
    return tc_batch_norm(x, mean, var, weight, bias, 1e-5);
}

static tc_tensor bottleneck(tc_tensor x, int64_t width, int stride) {
    tc_tensor y = tc_relu(conv_norm(x, width, 1, 1));
    y = tc_relu(conv_norm(y, width, 3, stride));
    y = conv_norm(y, 4 * width, 1, 1);
    if (tc_dim(x, 1) != 4 * width) x = conv_norm(x, 4 * width, 1, stride);
    return tc_relu(tc_add(x, y));
}

static void resnet50(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    static const int blocks[4] = {3, 4, 6, 3};
    (void)tc, (void)user;
    given.next = 0;
    tc_tensor x = tc_max_pool2d(tc_relu(conv_norm(in[0], 64, 7, 2)), 3, 2, 1);
    for (int stage = 0; stage < 4; stage++)
        for (int i = 0; i < blocks[stage]; i++)
            x = bottleneck(x, 64 << stage, i == 0 && stage ? 2 : 1);
    tc_tensor w = parameter(TC_DIMS(1000, 2048), 0.02, 0);
    out[0] =
        tc_linear(tc_mean_dims(x, TC_DIMS(2, 3), 0), w, parameter(TC_DIMS(1000), 0.1, 0));
}

// ---- one token through layers of LLaMA-7B's shapes (Touvron et al. 2023), behind 1024 in the cache ----

enum {
    LLAMA_WIDTH = 4096,
    LLAMA_HEADS = 32,
    LLAMA_HIDDEN = 11008,
    LLAMA_LAYERS = 8,
    LLAMA_CACHE = 1024
};
#define LLAMA_BYTES                                                                        \
    (2.0 * LLAMA_LAYERS * LLAMA_WIDTH *                                                    \
     (4.0 * LLAMA_WIDTH + 3.0 * LLAMA_HIDDEN + 2.0 * LLAMA_CACHE))

static tc_tensor turned(tc_tensor x, tc_tensor c, tc_tensor s) {
    int64_t half = tc_dim(x, -1) / 2;
    tc_tensor a = tc_narrow(x, -1, 0, half), b = tc_narrow(x, -1, half, half);
    tc_tensor half_of[2] = {tc_sub(tc_mul(a, c), tc_mul(b, s)),
                            tc_add(tc_mul(b, c), tc_mul(a, s))};
    return tc_cat(half_of, 2, -1);
}

static tc_tensor weights(int64_t out, int64_t in) {
    return parameter(TC_DIMS(out, in), 0.02, 0);
}

static tc_tensor llama_layer(tc_tensor x) {
    enum { C = LLAMA_WIDTH, H = LLAMA_HEADS, D = C / H };
    tc_tensor y = tc_rms_norm(x, parameter(TC_DIMS(C), 0.1, 1), 1e-5);
    tc_tensor part[3];
    for (int i = 0; i < 3; i++)
        part[i] = tc_reshape(tc_linear(y, weights(C, C), tc_null()), TC_DIMS(1, H, 1, D));
    tc_tensor c = parameter(TC_DIMS(D / 2), 0.7, 0), s = parameter(TC_DIMS(D / 2), 0.7, 0);
    tc_tensor keys = parameter(TC_DIMS(1, H, LLAMA_CACHE, D), 1, 0);
    tc_tensor values = parameter(TC_DIMS(1, H, LLAMA_CACHE, D), 1, 0);
    // the token's own key and value are in the last row
    tc_copy_(tc_narrow(keys, 2, LLAMA_CACHE - 1, 1), turned(part[1], c, s));
    tc_copy_(tc_narrow(values, 2, LLAMA_CACHE - 1, 1), part[2]);
    y = tc_scaled_dot_product_attention(turned(part[0], c, s), keys, values, tc_null(), 0,
                                        0);
    x = tc_add(x, tc_linear(tc_reshape(y, TC_DIMS(1, C)), weights(C, C), tc_null()));
    y = tc_rms_norm(x, parameter(TC_DIMS(C), 0.1, 1), 1e-5);
    tc_tensor gate = tc_linear(y, weights(LLAMA_HIDDEN, C), tc_null());
    tc_tensor up = tc_linear(y, weights(LLAMA_HIDDEN, C), tc_null());
    return tc_add(
        x, tc_linear(tc_mul(tc_silu(gate), up), weights(C, LLAMA_HIDDEN), tc_null()));
}

static void llama(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    tc_tensor x = in[0];
    (void)tc, (void)user;
    given.next = 0;
    for (int i = 0; i < LLAMA_LAYERS; i++) x = llama_layer(x);
    out[0] = x;
}

// ---- those of models.h ----

static const model_shape encoder_shape = {"encoder", 8, 512, 512, 8, 6, 0, TC_BF16};
static const model_shape gpt2_shape = {"gpt2_fwd", 8, 1024, 768, 12, 12, 50304, TC_BF16};
static model made;

static void transformer(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)user;
    model_forward(tc, in, out, &made);
}

static int make_transformer(tc_ctx *tc, const model_shape *of, tc_tensor *in) {
    model_make(tc, &made, of, "cuda:0");
    in[0] = made.input;
    return 1;
}

static int make_encoder(tc_ctx *tc, tc_tensor *in) {
    return make_transformer(tc, &encoder_shape, in);
}

static int make_gpt2_forward(tc_ctx *tc, tc_tensor *in) {
    return make_transformer(tc, &gpt2_shape, in);
}

// Parameters of a body, which small inputs make as well, and its inputs.
static int make_parameters(tc_ctx *tc, tc_dims small, tc_dims d,
                           void (*body)(tc_ctx *, const tc_tensor *, tc_tensor *, void *),
                           tc_tensor *in) {
    tc_tensor x, y;
    given.tc = tc;
    tc_scope_begin(tc);
    x = tc_cast(tc_randn(tc, small, TC_F32), TC_BF16);
    body(tc, &x, &y, NULL);
    in[0] = tc_keep(tc_to(tc_cast(tc_randn(tc, d, TC_F32), TC_BF16), "cuda:0"));
    tc_scope_end(tc);
    given.tc = NULL;
    bench_check(tc);
    return 1;
}

static int make_resnet50(tc_ctx *tc, tc_tensor *in) {
    return make_parameters(tc, TC_DIMS(1, 3, 32, 32), TC_DIMS(64, 3, 224, 224), resnet50,
                           in);
}

static int make_llama(tc_ctx *tc, tc_tensor *in) {
    return make_parameters(tc, TC_DIMS(1, LLAMA_WIDTH), TC_DIMS(1, LLAMA_WIDTH), llama, in);
}

#endif
