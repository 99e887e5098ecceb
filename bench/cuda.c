// How near are fused kernels to what the card's memory can do, and what does a call cost? The
// yardstick is the better of the driver's copy and a copy kernel, over as many bytes, in the same run.
// Names and shapes are those of bench/peers/cuda.py, which bench/peers/cuda.sh runs beside this.
//
//     bench/cuda [--raw | --profile] [WORKLOAD...]     beginnings of names, none = all
//
// --raw: `name ns` lines; --profile: the times of each one's kernels instead.
//
// A time is that of a call among many that are given to the card without waiting.
#define TCOMPILE_IMPLEMENTATION
#define TCOMPILE_CUDA_IMPLEMENTATION
#include "tcompile.h"
#include "tcompile_cuda.h"

#include "bench.h"
#include "cuda_models.h"

enum { MOST_INPUTS = 160, LAYERS = 24, WIDTH = 64, REPEATS = 5, GIVEN = 21 };

typedef struct input {
    tc_dtype dtype;
    int rank;
    int64_t size[4];
    double scale;
} input;

typedef struct work {
    const char *name;
    int inputs;
    const input *input;
    double bytes, flops; // at least moved, done
    double bar;          // of the copy's bandwidth, 0 = none
    void (*body)(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user);
    int more; // results beside the first
    int (*make)(tc_ctx *tc,
                tc_tensor *in); // its inputs, where they are no list; their number
} work;

// ---- bodies ----

static void entropy(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = bench_entropy(in[0]);
}

static void chain(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = bench_chain(in[0], in[1], in[2]);
}

static void relu(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_relu(tc_add(tc_mul(in[0], in[1]), in[2]));
}

static void softmax(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_softmax(in[0], -1);
}

static void layernorm(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_layer_norm(in[0], in[1], in[2], 1e-5);
}

static void salience(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    const tc_tensor *sobel = (const tc_tensor *)user;
    (void)tc;
    out[0] = bench_salience(in[0], sobel[0], sobel[1]);
}

static void attn_score(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    tc_tensor s = tc_matmul(in[0], tc_transpose(in[1], -2, -1));
    out[0] = tc_softmax(tc_mul_s(s, 1 / 27.712812921102035), -1);
}

// A stencil in plain ops: taps x taps shifted images, each times its weight.
static void stencil(tc_tensor x, tc_tensor *out, int taps) {
    tc_dims d = tc_shape(x);
    tc_tensor sum = tc_null();
    for (int i = 0; i < taps; i++)
        for (int k = 0; k < taps; k++) {
            tc_tensor rows = tc_narrow(x, 0, i, d.size[0] - taps + 1);
            tc_tensor tap = tc_mul_s(tc_narrow(rows, 1, k, d.size[1] - taps + 1),
                                     0.1 * (i + 1) + 0.01 * k);
            sum = sum.id ? tc_add(sum, tap) : tap;
        }
    out[0] = sum;
}

static void stencil_3x3(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    stencil(in[0], out, 3);
}

static void stencil_same(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    stencil(tc_pad(in[0], TC_DIMS(1, 1), TC_DIMS(1, 1), 0), out, 3);
}

static void stencil_7x7(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    stencil(in[0], out, 7);
}

static void dropout_norm(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_layer_norm(tc_add(tc_dropout(in[0], 0.1), in[1]), in[2], in[3], 1e-5);
}

static void cross_entropy(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_cross_entropy(in[0], in[1]);
}

// ---- with gradients: the first result counts as much as the last operand says ----

static void layernorm_grad(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_layer_norm(in[0], in[1], in[2], 1e-5);
    tc_vjp(out[0], in[3], in, 3, out + 1);
}

static void dropout_norm_grad(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_layer_norm(tc_add(tc_dropout(in[0], 0.1), in[1]), in[2], in[3], 1e-5);
    tc_vjp(out[0], in[4], in, 4, out + 1);
}

static void cross_entropy_grad(tc_ctx *tc, const tc_tensor *in, tc_tensor *out,
                               void *user) {
    (void)tc, (void)user;
    out[0] = tc_cross_entropy(in[0], in[1]);
    tc_grad(out[0], in, 1, out + 1);
}

static void column_sums(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_sum(in[0], 0);
}

static void variance(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_var_all(in[0], 1);
}

static void sort(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    tc_tensor indices;
    (void)tc, (void)user;
    tc_sort(in[0], -1, 0, &out[0], &indices);
}

static void embedding(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_embedding(in[1], in[0]);
}

// What a table of 50304 rows gets back of those that were taken.
static void embedding_grad(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)user;
    tc_tensor none = tc_zeros(tc, TC_DIMS(50304, tc_dim(in[1], 1)), tc_dtype_of(in[1]));
    out[0] = tc_index_add(none, 0, in[0], in[1]);
}

// x [.., tokens, heads' size], cosines and sines [tokens, half a head].
static void rotary(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    int64_t half = tc_dim(in[1], -1);
    (void)tc, (void)user;
    tc_tensor a = tc_narrow(in[0], -1, 0, half), b = tc_narrow(in[0], -1, half, half);
    tc_tensor both[2] = {tc_sub(tc_mul(a, in[1]), tc_mul(b, in[2])),
                         tc_add(tc_mul(b, in[1]), tc_mul(a, in[2]))};
    out[0] = tc_cat(both, 2, -1);
}

static void transpose_add(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_add(tc_t(in[0]), in[1]);
}

static void gemm(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_matmul(in[0], in[1]);
}

static void gemm_cast(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_matmul(tc_cast(in[0], TC_BF16), tc_cast(in[1], TC_BF16));
}

// torch._scaled_mm: both run along k, with a scale of each, and a result in bf16.
static void gemm_f8(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    tc_tensor y = tc_matmul(tc_cast(in[0], TC_F32), tc_t(tc_cast(in[1], TC_F32)));
    out[0] = tc_cast(tc_mul(y, tc_mul(in[2], in[3])), TC_BF16);
}

// Weights of eight bits, [out, in], with a number for each row.
static void bytes(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    tc_tensor w = tc_mul(tc_cast(in[1], TC_F32), in[2]);
    out[0] = tc_linear(in[0], tc_cast(w, TC_BF16), tc_null());
}

// The same as [in / 128, 128, out], with a number for each 128 of a column.
static void bytes_groups(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    tc_tensor w = tc_mul(tc_cast(in[1], TC_F32), in[2]);
    w = tc_reshape(tc_cast(w, TC_BF16), TC_DIMS(-1, tc_dim(in[2], 2)));
    out[0] = tc_matmul(in[0], w);
}

static void gemm_turned(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_matmul(in[0], tc_t(in[1]));
}

static void gemm_left_turned(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_matmul(tc_t(in[0]), in[1]);
}

// The gradients of a layer's weight and bias.
static void linear_gradient(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_matmul(tc_t(in[0]), in[1]);
    out[1] = tc_sum(tc_cast(in[0], TC_F32), 0);
}

static void scores(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_matmul(in[0], tc_transpose(in[1], -2, -1));
}

static void linear_relu(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_relu(tc_linear(in[0], in[1], in[2]));
}

static void linear_gelu(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_gelu(tc_linear(in[0], in[1], in[2]));
}

static void linear_residual(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_add(in[3], tc_linear(in[0], in[1], in[2]));
}

static tc_tensor convolved(const tc_tensor *in, int stride, int padding) {
    return tc_conv2d(in[0], in[1], tc_null(), stride, padding, 1, 1);
}

static void conv1x1(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = convolved(in, 1, 0);
}

static void conv3x3(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = convolved(in, 1, 1);
}

// Of an image whose channels are last in memory.
static void conv3x3_last(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    tc_tensor x = tc_permute(in[0], TC_DIMS(0, 3, 1, 2));
    out[0] = tc_conv2d(x, in[1], tc_null(), 1, 1, 1, 1);
}

static void conv3x3_relu(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_relu(tc_conv2d(in[0], in[1], in[2], 1, 1, 1, 1));
}

static void conv3x3_strided(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = convolved(in, 2, 1);
}

static void conv7x7(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = convolved(in, 2, 3);
}

// By the image, and by the weight.
static void conv3x3_grad(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = convolved(in, 1, 1);
    tc_vjp(out[0], in[2], in, 2, out + 1);
}

static void tinymlp(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    tc_tensor x = in[0];
    (void)tc, (void)user;
    for (int i = 0; i < LAYERS; i++)
        x = bench_mlp_layer(x, in[1 + 4 * i], in[2 + 4 * i], in[3 + 4 * i], in[4 + 4 * i]);
    out[0] = x;
}

// A step over tensors of GPT-2's sizes; the inputs are their gradients.
enum { BLOCKS = 12, BLOCK_TENSORS = 12, GPT2_TENSORS = 4 + BLOCKS * BLOCK_TENSORS };
#define GPT2_PARAMETERS 124475904.0

static struct {
    tc_tensor param[GPT2_TENSORS], exp_avg[GPT2_TENSORS], exp_avg_sq[GPT2_TENSORS], step;
} gpt2;

static void adamw(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    tc_adamw_list_(gpt2.param, in, gpt2.exp_avg, gpt2.exp_avg_sq, GPT2_TENSORS, gpt2.step,
                   1e-4, 0.9, 0.999, 1e-8, 0.01);
    out[0] = tc_add_s(gpt2.step, 0);
}

static void mlp(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_linear(tc_gelu_tanh(tc_linear(in[0], in[1], in[2])), in[3], in[4]);
}

static void swiglu(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    tc_tensor gate = tc_silu(tc_linear(in[0], in[1], tc_null()));
    out[0] = tc_mul(gate, tc_linear(in[0], in[2], tc_null()));
}

static void attention_causal(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_scaled_dot_product_attention(in[0], in[1], in[2], tc_null(), 1, 0);
}

static void attention(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_scaled_dot_product_attention(in[0], in[1], in[2], tc_null(), 0, 0);
}

static void attention_causal_grad(tc_ctx *tc, const tc_tensor *in, tc_tensor *out,
                                  void *user) {
    attention_causal(tc, in, out, user);
    tc_vjp(out[0], in[3], in, 3, out + 1);
}

static void attention_grad(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    attention(tc, in, out, user);
    tc_vjp(out[0], in[3], in, 3, out + 1);
}

#define IN(...)                                                                            \
    (int)(sizeof((const input[]){__VA_ARGS__}) / sizeof(input)), (const input[]) {         \
        __VA_ARGS__                                                                        \
    }
#define F32(scale, ...)                                                                    \
    { TC_F32, (int)(sizeof((int64_t[]){__VA_ARGS__}) / 8), {__VA_ARGS__}, scale }
#define BF16(scale, ...)                                                                   \
    { TC_BF16, (int)(sizeof((int64_t[]){__VA_ARGS__}) / 8), {__VA_ARGS__}, scale }
#define F16(scale, ...)                                                                    \
    { TC_F16, (int)(sizeof((int64_t[]){__VA_ARGS__}) / 8), {__VA_ARGS__}, scale }
#define E4M3(scale, ...)                                                                   \
    { TC_F8E4M3, (int)(sizeof((int64_t[]){__VA_ARGS__}) / 8), {__VA_ARGS__}, scale }
#define E5M2(scale, ...)                                                                   \
    { TC_F8E5M2, (int)(sizeof((int64_t[]){__VA_ARGS__}) / 8), {__VA_ARGS__}, scale }
#define I8(scale, ...)                                                                     \
    { TC_I8, (int)(sizeof((int64_t[]){__VA_ARGS__}) / 8), {__VA_ARGS__}, scale }
// Whole numbers below `limit`.
#define I64(limit, ...)                                                                    \
    { TC_I64, (int)(sizeof((int64_t[]){__VA_ARGS__}) / 8), {__VA_ARGS__}, limit }
#define BYTES(rows)                                                                        \
    {                                                                                      \
        "bytes_" #rows "x8192x8192_bf16",                                                  \
            IN(BF16(1, rows, 8192), I8(100, 8192, 8192), F32(0.01, 8192, 1)),              \
            1.0 * 8192 * 8192, 2.0 * rows * 8192 * 8192, 0, bytes                          \
    }

// q, k and v; and how much elements of the result count.
#define HEADS(n, ...)                                                                      \
    n, (const input[]) {                                                                   \
        BF16(1, __VA_ARGS__), BF16(1, __VA_ARGS__), BF16(1, __VA_ARGS__),                  \
            BF16(1, __VA_ARGS__)                                                           \
    }

// ---- inputs ----

static tc_tensor make(tc_ctx *tc, const input *in, uint64_t seed) {
    tc_dims d = tc_dims_of(in->rank, in->size);
    int64_t n = 1;
    for (int i = 0; i < in->rank; i++) n *= in->size[i];
    float *x = bench_floats((size_t)n);
    bench_random(x, (size_t)n, seed);
    for (int64_t i = 0; in->scale != 1 && i < n; i++) x[i] *= (float)in->scale;
    // Of whole numbers the scale is the limit: random ones, as the peers', some of which repeat.
    for (int64_t i = 0; in->dtype == TC_I64 && i < n; i++)
        x[i] = (float)(bench_hash(seed + (uint64_t)i) % (uint64_t)in->scale);
    tc_tensor h = tc_wrap(tc, x, d, TC_F32), t = tc_to(h, "cuda:0");
    tc_tensor out = in->dtype == TC_F32 ? t : tc_cast(t, in->dtype);
    if (in->dtype != TC_F32) tc_free(t);
    tc_free(h);
    free(x);
    bench_check(tc);
    return out;
}

// Tensor i of GPT-2: two embeddings, the layers, the last norm.
static input gpt2_tensor(int i) {
    enum { C = 768 };
    static const input first[2] = {F32(1, 50304, C), F32(1, 1024, C)};
    static const input block[BLOCK_TENSORS] = {
        F32(1, C), F32(1, C), F32(1, 3 * C, C), F32(1, 3 * C), F32(1, C, C),     F32(1, C),
        F32(1, C), F32(1, C), F32(1, 4 * C, C), F32(1, 4 * C), F32(1, C, 4 * C), F32(1, C)};
    return i < 2 ? first[i] : block[(i - 2) % BLOCK_TENSORS];
}

static int make_gpt2(tc_ctx *tc, tc_tensor *grad) {
    for (int i = 0; i < GPT2_TENSORS; i++) {
        input t = gpt2_tensor(i);
        tc_dims d = tc_dims_of(t.rank, t.size);
        tc_tensor zero = tc_zeros(tc, d, TC_F32);
        gpt2.param[i] = make(tc, &t, (uint64_t)i + 1);
        grad[i] = make(tc, &t, (uint64_t)i + 1000);
        gpt2.exp_avg[i] = tc_to(zero, "cuda:0");
        gpt2.exp_avg_sq[i] = tc_to(zero, "cuda:0");
        tc_free(zero);
    }
    gpt2.step = tc_to(tc_zeros(tc, TC_SCALAR, TC_F32), "cuda:0");
    bench_check(tc);
    return GPT2_TENSORS;
}

// ---- the table ----

static const work works[] = {
    {"relu_64M_f32", IN(F32(1, 1 << 26), F32(1, 1), F32(1, 1)), 8.0 * (1 << 26), 0, 0.92,
     relu},
    {"relu_128M_bf16", IN(BF16(1, 1 << 27), BF16(1, 1), BF16(1, 1)), 4.0 * (1 << 27), 0, 0,
     relu},
    {"chain_64M_f32", IN(F32(1, 1 << 26), F32(1, 1), F32(1, 1)), 8.0 * (1 << 26), 0, 0,
     chain},
    {"chain_128M_bf16", IN(BF16(1, 1 << 27), BF16(1, 1), BF16(1, 1)), 4.0 * (1 << 27), 0, 0,
     chain},
    {"softmax_16384x4096_f32", IN(F32(1, 16384, 4096)), 8.0 * 16384 * 4096, 0, 0.92,
     softmax},
    {"softmax_4096x50304_bf16", IN(BF16(1, 4096, 50304)), 4.0 * 4096 * 50304, 0, 0.85,
     softmax},
    {"layernorm_32768x4096_bf16", IN(BF16(1, 32768, 4096), BF16(1, 4096), BF16(1, 4096)),
     4.0 * 32768 * 4096, 0, 0.92, layernorm},
    {"entropy_512x196x768_f32", IN(F32(1, 512, 196, 768)), 4.0 * 512 * 196 * 768, 0, 0.75,
     entropy},
    {"entropy_32x196x768_f32", IN(F32(1, 32, 196, 768)), 4.0 * 32 * 196 * 768, 0, 0,
     entropy},
    {"salience_32x3x224x224_f32", IN(F32(1, 32, 3, 224, 224)), 16.0 * 32 * 224 * 224, 0, 0,
     salience},
    {"attn_score_32x196x768_f32", IN(F32(1, 32, 1, 768), F32(1, 32, 196, 768)),
     4.0 * 32 * 196 * 768, 0, 0, attn_score},
    {"stencil_3x3_8192x8192_f32", IN(F32(1, 8192, 8192)), 8.0 * 8192 * 8192, 0, 0,
     stencil_3x3},
    {"stencil_same_8192x8192_f32", IN(F32(1, 8192, 8192)), 8.0 * 8192 * 8192, 0, 0,
     stencil_same},
    {"stencil_7x7_8192x8192_f32", IN(F32(1, 8192, 8192)), 8.0 * 8192 * 8192, 0, 0,
     stencil_7x7},
    {"dropoutnorm_16384x1024_bf16",
     IN(BF16(1, 16384, 1024), BF16(1, 16384, 1024), BF16(1, 1024), BF16(1, 1024)),
     6.0 * 16384 * 1024, 0, 0, dropout_norm},
    {"crossentropy_8192x50304_bf16", IN(BF16(1, 8192, 50304), I64(50304, 8192)),
     2.0 * 8192 * 50304, 0, 0, cross_entropy},
    {"layernorm_grad_32768x4096_bf16",
     IN(BF16(1, 32768, 4096), BF16(1, 4096), BF16(1, 4096), BF16(1, 32768, 4096)),
     8.0 * 32768 * 4096, 0, 0, layernorm_grad, 3},
    {"dropoutnorm_grad_16384x1024_bf16",
     IN(BF16(1, 16384, 1024), BF16(1, 16384, 1024), BF16(1, 1024), BF16(1, 1024),
        BF16(1, 16384, 1024)),
     12.0 * 16384 * 1024, 0, 0, dropout_norm_grad, 4},
    {"crossentropy_grad_8192x50304_bf16", IN(BF16(1, 8192, 50304), I64(50304, 8192)),
     4.0 * 8192 * 50304, 0, 0, cross_entropy_grad, 1},
    {"softmax_1048576x64_f32", IN(F32(1, 1 << 20, 64)), 8.0 * 64 * (1 << 20), 0, 0,
     softmax},
    {"columnsums_65536x1024_f32", IN(F32(1, 65536, 1024)), 4.0 * 65536 * 1024, 0, 0,
     column_sums},
    {"columnsums_8192x768_bf16", IN(BF16(1, 8192, 768)), 2.0 * 8192 * 768, 0, 0,
     column_sums},
    {"columnsums_8192x3072_bf16", IN(BF16(1, 8192, 3072)), 2.0 * 8192 * 3072, 0, 0,
     column_sums},
    {"variance_128M_f32", IN(F32(1, 1 << 27)), 4.0 * (1 << 27), 0, 0, variance},
    {"sort_4096x4096_f32", IN(F32(1, 4096, 4096)), 16.0 * 4096 * 4096, 0, 0, sort},
    {"embedding_65536x768_f32", IN(I64(50304, 65536), F32(1, 50304, 768)),
     8.0 * 65536 * 768, 0, 0, embedding},
    {"embedding_grad_8192x768_f32", IN(I64(50304, 8192), F32(1, 8192, 768)),
     4.0 * 768 * (50304 + 3 * 8192), 0, 0, embedding_grad},
    {"rotary_16x16x2048x128_bf16",
     IN(BF16(1, 16, 16, 2048, 128), BF16(1, 2048, 64), BF16(1, 2048, 64)),
     4.0 * 16 * 16 * 2048 * 128, 0, 0, rotary},
    {"transposeadd_8192x8192_f32", IN(F32(1, 8192, 8192), F32(1, 8192, 8192)),
     12.0 * 8192 * 8192, 0, 0, transpose_add},
    {"gemm_2048_bf16", IN(BF16(1, 2048, 2048), BF16(1, 2048, 2048)), 0,
     2.0 * 2048 * 2048 * 2048, 0, gemm},
    {"gemm_4096_bf16", IN(BF16(1, 4096, 4096), BF16(1, 4096, 4096)), 0,
     2.0 * 4096 * 4096 * 4096, 0, gemm},
    {"gemm_4096_f16", IN(F16(1, 4096, 4096), F16(1, 4096, 4096)), 0,
     2.0 * 4096 * 4096 * 4096, 0, gemm},
    {"gemm_4096_f32", IN(F32(1, 4096, 4096), F32(1, 4096, 4096)), 0,
     2.0 * 4096 * 4096 * 4096, 0, gemm},
    {"gemm_4096_tf32", IN(F32(1, 4096, 4096), F32(1, 4096, 4096)), 0,
     2.0 * 4096 * 4096 * 4096, 0, gemm},
    {"gemm_4096_fp8",
     IN(E4M3(1, 4096, 4096), E4M3(1, 4096, 4096), F32(1, 1, 1), F32(1, 1, 1)), 0,
     2.0 * 4096 * 4096 * 4096, 0, gemm_f8},
    {"gemm_8192_fp8",
     IN(E4M3(1, 8192, 8192), E4M3(1, 8192, 8192), F32(1, 1, 1), F32(1, 1, 1)), 0,
     2.0 * 8192 * 8192 * 8192, 0, gemm_f8},
    {"gemm_4096_fp8_mixed", // gradients by weights
     IN(E5M2(1, 4096, 4096), E4M3(1, 4096, 4096), F32(1, 1, 1), F32(1, 1, 1)), 0,
     2.0 * 4096 * 4096 * 4096, 0, gemm_f8},
    {"gemm_64x64x65536_bf16", IN(BF16(1, 64, 65536), BF16(1, 65536, 64)), 4.0 * 64 * 65536,
     2.0 * 64 * 64 * 65536, 0, gemm},
    {"gemm_8192_bf16", IN(BF16(1, 8192, 8192), BF16(1, 8192, 8192)), 0,
     2.0 * 8192 * 8192 * 8192, 0, gemm},
    {"gemm_1000x3000x5000_bf16", IN(BF16(1, 1000, 5000), BF16(1, 5000, 3000)), 0,
     2.0 * 1000 * 3000 * 5000, 0, gemm},
    {"gemm_333x517x1029_bf16", IN(BF16(1, 333, 1029), BF16(1, 1029, 517)), 0,
     2.0 * 333 * 517 * 1029, 0, gemm},
    {"gemm_511x769x1027_bf16", IN(BF16(1, 511, 1027), BF16(1, 1027, 769)), 0,
     2.0 * 511 * 769 * 1027, 0, gemm},
    {"gemm_77x8191x513_bf16", IN(BF16(1, 77, 513), BF16(1, 513, 8191)), 0,
     2.0 * 77 * 8191 * 513, 0, gemm},
    {"gemm_12x127x127x64_bf16", IN(BF16(1, 12, 127, 64), BF16(1, 12, 64, 127)), 0,
     2.0 * 12 * 127 * 127 * 64, 0, gemm},
    {"gemm_4095x4097x4093_bf16", IN(BF16(1, 4095, 4093), BF16(1, 4093, 4097)), 0,
     2.0 * 4095 * 4097 * 4093, 0, gemm},
    {"gemm_128x4096x4096_bf16", IN(BF16(1, 128, 4096), BF16(1, 4096, 4096)), 0,
     2.0 * 128 * 4096 * 4096, 0, gemm_turned},
    // of GPT-2: a layer's products, their gradients by inputs and weights, logits, scores of attention
    {"qkv_8192x2304x768_bf16", IN(BF16(1, 8192, 768), BF16(1, 2304, 768)), 0,
     2.0 * 8192 * 2304 * 768, 0, gemm_turned},
    {"qkv_plain_8192x2304x768_bf16", IN(BF16(1, 8192, 768), BF16(1, 768, 2304)), 0,
     2.0 * 8192 * 2304 * 768, 0, gemm},
    {"out_8192x768x768_bf16", IN(BF16(1, 8192, 768), BF16(1, 768, 768)), 0,
     2.0 * 8192 * 768 * 768, 0, gemm_turned},
    {"up_8192x3072x768_bf16", IN(BF16(1, 8192, 768), BF16(1, 3072, 768)), 0,
     2.0 * 8192 * 3072 * 768, 0, gemm_turned},
    {"up_by_weight_bf16", IN(BF16(1, 8192, 3072), BF16(1, 8192, 768)), 0,
     2.0 * 8192 * 3072 * 768, 0, gemm_left_turned},
    {"down_8192x768x3072_bf16", IN(BF16(1, 8192, 3072), BF16(1, 768, 3072)), 0,
     2.0 * 8192 * 3072 * 768, 0, gemm_turned},
    {"qkv_by_input_bf16", IN(BF16(1, 8192, 2304), BF16(1, 2304, 768)), 0,
     2.0 * 8192 * 2304 * 768, 0, gemm},
    {"qkv_by_weight_bf16", IN(BF16(1, 8192, 2304), BF16(1, 8192, 768)), 0,
     2.0 * 8192 * 2304 * 768, 0, gemm_left_turned},
    {"linear_gradient_8192x3072x768_bf16", IN(BF16(1, 8192, 3072), BF16(1, 8192, 768)), 0,
     2.0 * 8192 * 3072 * 768, 0, linear_gradient, 1},
    {"logits_8192x50304x768_bf16", IN(BF16(1, 8192, 768), BF16(1, 50304, 768)), 0,
     2.0 * 8192 * 50304 * 768, 0, gemm_turned},
    {"scores_96x1024x1024x64_bf16", IN(BF16(1, 96, 1024, 64), BF16(1, 96, 1024, 64)), 0,
     2.0 * 96 * 1024 * 1024 * 64, 0, scores},
    {"linear_relu_8192x4096x4096_bf16",
     IN(BF16(1, 8192, 4096), BF16(1, 4096, 4096), BF16(1, 4096)), 0,
     2.0 * 8192 * 4096 * 4096, 0, linear_relu},
    {"linear_gelu_8192x768x3072_bf16",
     IN(BF16(1, 8192, 768), BF16(0.03, 3072, 768), BF16(1, 3072)), 0,
     2.0 * 8192 * 768 * 3072, 0, linear_gelu},
    {"linear_residual_8192x768x768_bf16",
     IN(BF16(1, 8192, 768), BF16(0.03, 768, 768), BF16(1, 768), BF16(1, 8192, 768)), 0,
     2.0 * 8192 * 768 * 768, 0, linear_residual},
    {"gemm_cast_4096_bf16", IN(F32(1, 4096, 4096), F32(1, 4096, 4096)), 0,
     2.0 * 4096 * 4096 * 4096, 0, gemm_cast},
    {"gemv_8192x8192_bf16", IN(BF16(1, 1, 8192), BF16(1, 8192, 8192)), 2.0 * 8192 * 8192,
     2.0 * 8192 * 8192, 0, gemm},
    {"gemv_4096x14336_bf16", IN(BF16(1, 1, 4096), BF16(1, 4096, 14336)), 2.0 * 4096 * 14336,
     2.0 * 4096 * 14336, 0, gemm},
    {"gemv_8192x28672_bf16", IN(BF16(1, 1, 8192), BF16(1, 8192, 28672)), 2.0 * 8192 * 28672,
     2.0 * 8192 * 28672, 0, gemm},
    {"gemv_turned_8192x8192_bf16", IN(BF16(1, 1, 8192), BF16(1, 8192, 8192)),
     2.0 * 8192 * 8192, 2.0 * 8192 * 8192, 0, gemm_turned},
    BYTES(1),
    BYTES(4),
    BYTES(16),
    BYTES(128),
    BYTES(1024),
    BYTES(2048),
    {"bytes_groups_1x8192x8192_bf16",
     IN(BF16(1, 1, 8192), I8(100, 64, 128, 8192), F32(0.01, 64, 1, 8192)),
     1.0 * 8192 * 8192, 2.0 * 8192 * 8192, 0, bytes_groups},
    {"attention_causal_8x12x1024x64_bf16", HEADS(3, 8, 12, 1024, 64), 0,
     2.0 * 96 * 1024 * 1024 * 64, 0, attention_causal},
    {"attention_causal_grad_8x12x1024x64_bf16", HEADS(4, 8, 12, 1024, 64), 0,
     7.0 * 96 * 1024 * 1024 * 64, 0, attention_causal_grad, 3},
    {"attention_4x16x4096x128_bf16", HEADS(3, 4, 16, 4096, 128), 0,
     4.0 * 64 * 4096 * 4096 * 128, 0, attention},
    {"attention_grad_4x16x4096x128_bf16", HEADS(4, 4, 16, 4096, 128), 0,
     14.0 * 64 * 4096 * 4096 * 128, 0, attention_grad, 3},
    {"conv3x3_32x256x28x28_bf16", IN(BF16(1, 32, 256, 28, 28), BF16(0.02, 256, 256, 3, 3)),
     0, 2.0 * 32 * 784 * 256 * 2304, 0, conv3x3},
    {"conv3x3_relu_32x256x28x28_bf16",
     IN(BF16(1, 32, 256, 28, 28), BF16(0.02, 256, 256, 3, 3), BF16(1, 256)), 0,
     2.0 * 32 * 784 * 256 * 2304, 0, conv3x3_relu},
    {"conv3x3_last_32x256x28x28_bf16",
     IN(BF16(1, 32, 28, 28, 256), BF16(0.02, 256, 256, 3, 3)), 0,
     2.0 * 32 * 784 * 256 * 2304, 0, conv3x3_last},
    {"conv3x3_64x512x7x7_bf16", IN(BF16(1, 64, 512, 7, 7), BF16(0.02, 512, 512, 3, 3)), 0,
     2.0 * 64 * 49 * 512 * 4608, 0, conv3x3},
    {"conv3x3_32x64x56x56_bf16", IN(BF16(1, 32, 64, 56, 56), BF16(0.04, 64, 64, 3, 3)), 0,
     2.0 * 32 * 3136 * 64 * 576, 0, conv3x3},
    {"conv3x3_32x64x56x56_tf32", IN(F32(1, 32, 64, 56, 56), F32(0.04, 64, 64, 3, 3)), 0,
     2.0 * 32 * 3136 * 64 * 576, 0, conv3x3},
    {"conv3x3_32x64x56x56_f32", IN(F32(1, 32, 64, 56, 56), F32(0.04, 64, 64, 3, 3)), 0,
     2.0 * 32 * 3136 * 64 * 576, 0, conv3x3},
    {"conv3x3_32x256x28x28_f32", IN(F32(1, 32, 256, 28, 28), F32(0.02, 256, 256, 3, 3)), 0,
     2.0 * 32 * 784 * 256 * 2304, 0, conv3x3},
    {"conv3x3_64x512x7x7_f32", IN(F32(1, 64, 512, 7, 7), F32(0.02, 512, 512, 3, 3)), 0,
     2.0 * 64 * 49 * 512 * 4608, 0, conv3x3},
    {"conv3x3s2_32x128x56x56_f32", IN(F32(1, 32, 128, 56, 56), F32(0.03, 128, 128, 3, 3)),
     0, 2.0 * 32 * 784 * 128 * 1152, 0, conv3x3_strided},
    {"conv7x7s2_32x3x224x224_f32", IN(F32(1, 32, 3, 224, 224), F32(0.08, 64, 3, 7, 7)), 0,
     2.0 * 32 * 12544 * 64 * 147, 0, conv7x7},
    {"conv3x3s2_32x128x56x56_bf16",
     IN(BF16(1, 32, 128, 56, 56), BF16(0.03, 128, 128, 3, 3)), 0,
     2.0 * 32 * 784 * 128 * 1152, 0, conv3x3_strided},
    {"conv1x1_32x512x28x28_bf16", IN(BF16(1, 32, 512, 28, 28), BF16(0.04, 128, 512, 1, 1)),
     0, 2.0 * 32 * 784 * 128 * 512, 0, conv1x1},
    {"conv1x1_32x1024x14x14_bf16",
     IN(BF16(1, 32, 1024, 14, 14), BF16(0.03, 256, 1024, 1, 1)), 0,
     2.0 * 32 * 196 * 256 * 1024, 0, conv1x1},
    {"conv7x7s2_32x3x224x224_bf16", IN(BF16(1, 32, 3, 224, 224), BF16(0.08, 64, 3, 7, 7)),
     0, 2.0 * 32 * 12544 * 64 * 147, 0, conv7x7},
    {"conv3x3_grad_32x256x28x28_bf16",
     IN(BF16(1, 32, 256, 28, 28), BF16(0.02, 256, 256, 3, 3), BF16(1, 32, 256, 28, 28)), 0,
     6.0 * 32 * 784 * 256 * 2304, 0, conv3x3_grad, 2},
    {"conv3x3_grad_32x64x56x56_tf32",
     IN(F32(1, 32, 64, 56, 56), F32(0.04, 64, 64, 3, 3), F32(1, 32, 64, 56, 56)), 0,
     6.0 * 32 * 3136 * 64 * 576, 0, conv3x3_grad, 2},
    {"conv3x3_grad_32x64x56x56_f32",
     IN(F32(1, 32, 64, 56, 56), F32(0.04, 64, 64, 3, 3), F32(1, 32, 64, 56, 56)), 0,
     6.0 * 32 * 3136 * 64 * 576, 0, conv3x3_grad, 2},
    {"tinymlp_24x64_b16_f32", 1 + 4 * LAYERS, NULL, 0, 0, 0, tinymlp},
    // read: parameters, gradients, both moments; written: all but the gradients
    {"adamw_gpt2", GPT2_TENSORS, NULL, 7 * 4.0 * GPT2_PARAMETERS, 0, 0, adamw, 0,
     make_gpt2},
    {"mlp_8192x1024x4096_bf16",
     IN(BF16(1, 8192, 1024), BF16(0.03, 4096, 1024), BF16(1, 4096), BF16(0.02, 1024, 4096),
        BF16(1, 1024)),
     0, 4.0 * 8192 * 1024 * 4096, 0, mlp},
    {"swiglu_4096x4096x11008_bf16",
     IN(BF16(1, 4096, 4096), BF16(0.02, 11008, 4096), BF16(0.02, 11008, 4096)), 0,
     4.0 * 4096 * 4096 * 11008, 0, swiglu},
    {"decode_32x8x4096x128_bf16",
     IN(BF16(1, 32, 8, 1, 128), BF16(1, 32, 8, 4096, 128), BF16(1, 32, 8, 4096, 128)),
     4.0 * 32 * 8 * 4096 * 128, 0, 0.85, attention},
    {"encoder_8x512x512_bf16", 1, NULL, 0, 0, 0, transformer, 0, make_encoder},
    {"gpt2_fwd_8x1024_bf16", 1, NULL, 0, 0, 0, transformer, 0, make_gpt2_forward},
    {"resnet50_64x3x224x224_bf16", 1, NULL, 0, 0, 0, resnet50, 0, make_resnet50},
    {"llama_step_1x4096_bf16", 1, NULL, LLAMA_BYTES, 0, 0.85, llama, 0, make_llama},
};

// ---- measuring ----

static int make_all(tc_ctx *tc, const work *w, tc_tensor *in) {
    if (w->make) return w->make(tc, in);
    static const input layer[5] = {F32(1, 16, WIDTH), F32(1, WIDTH), F32(1, WIDTH),
                                   F32(0.1, WIDTH, WIDTH), F32(1, WIDTH)};
    for (int i = 0; i < w->inputs; i++)
        in[i] = make(tc, w->input ? &w->input[i] : &layer[i ? 1 + (i - 1) % 4 : 0],
                     (uint64_t)i + 1);
    return w->inputs;
}

typedef struct timed {
    double ns, host; // of one call: of many, until the card is done; until it returns
} timed;

enum { MOST_RESULTS = 8 };

static void call(tc_ctx *tc, tc_fn *f, const tc_tensor *in, int n_in, int n_out) {
    tc_tensor out[MOST_RESULTS];
    tc_scope_begin(tc);
    tc_call(f, in, n_in, out, n_out);
    tc_scope_end(tc);
}

// Calls f n times and waits once: ns of a call.
static double run(tc_ctx *tc, tc_fn *f, const tc_tensor *in, int n_in, int n_out, int n) {
    double start = bench_ns();
    for (int i = 0; i < n; i++) call(tc, f, in, n_in, n_out);
    tc_sync(tc);
    double ns = (bench_ns() - start) / n;
    bench_check(tc);
    return ns;
}

// What a call takes the host: the median of a few calls, since where the card is busy, giving it many
// waits for it, and since a processor that slept in tc_sync is slow in the first of them.
static double run_host(tc_ctx *tc, tc_fn *f, const tc_tensor *in, int n_in, int n_out) {
    double ns[GIVEN];
    for (int i = 0; i < GIVEN; i++) {
        double start = bench_ns();
        call(tc, f, in, n_in, n_out);
        ns[i] = bench_ns() - start;
    }
    tc_sync(tc);
    bench_check(tc);
    return bench_median(ns, GIVEN);
}

static timed measure(tc_ctx *tc, tc_fn *f, const tc_tensor *in, int n_in, int n_out) {
    double ns[REPEATS], host[REPEATS];
    timed t;
    run(tc, f, in, n_in, n_out, 5);
    int n = (int)(3e7 / run(tc, f, in, n_in, n_out, 3));
    n = n < 5 ? 5 : n > 2000 ? 2000 : n;
    for (int i = 0; i < REPEATS; i++) ns[i] = run(tc, f, in, n_in, n_out, n);
    for (int i = 0; i < REPEATS; i++) host[i] = run_host(tc, f, in, n_in, n_out);
    t.ns = bench_median(ns, REPEATS), t.host = bench_median(host, REPEATS);
    return t;
}

static void copy_kernel(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_clone(in[0]);
}

// Bytes per ns of a copy: by the driver, and by a kernel of ours.
static double copy_ceiling(tc_ctx *tc, int raw) {
    const tc_device *d = tc_registered_device(tc, "cuda:0");
    const input big = F32(1, 1 << 26);
    tc_tensor in = make(tc, &big, 1);
    tc_options o = tc_options_default();
    tc_fn *f = tc_compile(tc, copy_kernel, NULL, 0, &o);
    double kernel = 8.0 * (1 << 26) / measure(tc, f, &in, 1, 1).ns, driver[REPEATS];
    tc_device_memory to, from;
    size_t bytes = (size_t)4 << 26;
    if (d->take(d->user, bytes, &to) || d->take(d->user, bytes, &from)) exit(2);
    for (int i = 0; i < REPEATS; i++) {
        d->sync(d->user);
        double start = bench_ns();
        for (int k = 0; k < 100; k++) d->copy_on(d->user, to.address, from.address, bytes);
        d->sync(d->user);
        driver[i] = 2.0 * (double)bytes * 100 / (bench_ns() - start);
    }
    d->give(d->user, to), d->give(d->user, from);
    double best = bench_median(driver, REPEATS);
    if (!raw) printf("copy of 256 MiB: driver %.0f GB/s, kernel %.0f GB/s\n", best, kernel);
    tc_free(in);
    tc_fn_free(f);
    return kernel > best ? kernel : best;
}

// What a call may take the host, in us: one kernel is launched, several are replayed. 0 = no bar.
static double host_bar(const work *w, int kernels) {
    return w->body == adamw ? 0 : kernels == 1 ? 5 : 4;
}

static int show(const work *w, timed t, double copy, int kernels) {
    char a[32], b[32];
    double rate = w->bytes / t.ns, share = rate / copy, host = host_bar(w, kernels);
    int miss = w->bar > 0 && share<w->bar, late = host> 0 && t.host > host * 1e3;
    printf("%-34s %10s  %3d kernel%s  host %9s", w->name, bench_time(a, sizeof a, t.ns),
           kernels, kernels == 1 ? " " : "s", bench_time(b, sizeof b, t.host));
    if (host > 0) printf(" <= %g us  %-6s", host, late ? "MISSED" : "ok");
    if (w->flops > 0) printf("  %7.1f TFLOP/s", w->flops / t.ns / 1e3);
    if (w->bytes > 0) printf("  %5.0f GB/s  %.2f of a copy", rate, share);
    if (w->bar > 0) printf("  >= %g  %s", w->bar, miss ? "MISSED" : "ok");
    printf("\n");
    fflush(stdout);
    return miss || late;
}

static void profile(tc_ctx *tc, tc_fn *f, const tc_tensor *in, int n_in, int n_out) {
    run(tc, f, in, n_in, n_out, 8);
    tc_profile_begin(tc);
    run(tc, f, in, n_in, n_out, 8);
    tc_profile_end(tc);
    printf("%s\n", tc_profile_text(tc));
}

enum { SHOW, RAW, PROFILE };

static int bench_one(tc_ctx *tc, const work *w, double copy, int how) {
    static const float sx[9] = {-1, 0, 1, -2, 0, 2, -1, 0, 1};
    static const float sy[9] = {-1, -2, -1, 0, 0, 0, 1, 2, 1};
    static tc_tensor in[MOST_INPUTS];
    tc_tensor sobel[2];
    tc_options o = tc_options_default();
    int missed = 0;
    sobel[0] = tc_to(tc_const(tc, sx, TC_DIMS(1, 1, 3, 3), TC_F32), "cuda:0");
    sobel[1] = tc_to(tc_const(tc, sy, TC_DIMS(1, 1, 3, 3), TC_F32), "cuda:0");
    o.fullgraph = 1;
    o.allow_tf32 = strstr(w->name, "_tf32") != NULL;
    if (strstr(w->name, "_fp8")) o.numerics = TC_NUMERICS_FAST;
    int n = make_all(tc, w, in);
    tc_fn *f = tc_compile(tc, w->body, sobel, sizeof sobel, &o);
    tc_tensor out[MOST_RESULTS];
    uint64_t kernels = tc_stats_get(tc).kernel_runs;
    if (tc_call(f, in, n, out,
                1 + w->more)) { // what cannot be made is told, and the others go on
        printf("%s%s -1  %s\n", how == RAW ? "# " : "", w->name, tc_error_text(tc));
        tc_error_clear(tc);
    } else if (how == PROFILE) {
        printf("%s\n", w->name);
        profile(tc, f, in, n, 1 + w->more);
    } else {
        kernels = tc_stats_get(tc).kernel_runs - kernels;
        timed t = measure(tc, f, in, n, 1 + w->more);
        if (how == RAW)
            printf("%s %.1f %.1f\n", w->name, t.ns, t.host);
        else
            missed = show(w, t, copy, (int)kernels);
    }
    for (int i = 0; i < n; i++) tc_free(in[i]);
    tc_fn_free(f);
    return missed;
}

int main(int argc, char **argv) {
    const char *option = argc > 1 ? argv[1] : "";
    int how = !strcmp(option, "--raw")       ? RAW
              : !strcmp(option, "--profile") ? PROFILE
                                             : SHOW;
    int first = how == SHOW ? 1 : 2, missed = 0;
    char why[640], name[128];
    if (!tc_cuda_available(why, sizeof why)) {
        printf("skipped: %s\n", why);
        return 0;
    }
    tc_ctx *tc = bench_open(0);
    if (tc_cuda_open(tc, 0)) bench_check(tc);
    tc_cuda_device_name(0, name, sizeof name);
    if (how == SHOW) printf("%s\n", name);
    double copy = how == PROFILE ? 0 : copy_ceiling(tc, how);
    for (size_t i = 0; i < sizeof works / sizeof works[0]; i++) {
        int wanted = argc == first;
        for (int a = first; a < argc; a++)
            wanted |= !strncmp(works[i].name, argv[a], strlen(argv[a]));
        if (wanted) missed += bench_one(tc, &works[i], copy, how);
    }
    if (how == SHOW && tc_cuda_memory(tc, 0, why, sizeof why)) printf("%s\n", why);
    tc_close(tc);
    return bench_status(missed);
}
