// Our side of the comparison with other libraries: bench/peers/cpu.py runs it in turn with theirs. 2 threads, outputs
// reused from call to call; what a row needs is made when the row begins.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

#include "../models.h"

enum { THREADS = 2, LAYERS = 24, WIDTH = 64, INPUTS = 5 * LAYERS }; // at most

// Weights that few rows meet come from memory, as they do in a model: so many bytes of copies of them are gone through.
enum { COPIES_BYTES = 256 << 20, COPIES_ROWS = 16 };

// Left [batch, m, k], right [batch, k, n]; `turned`: weights [n, k], as of a linear layer.
static const struct {
    int batch, m, n, k, turned;
} products[] = {
    {1, 384, 384, 384, 0},  {1, 1024, 1024, 1024, 0}, {1, 2048, 2048, 2048, 0},
    {1, 333, 517, 1029, 0}, {96, 128, 128, 64, 0},    {1, 1, 4096, 4096, 1},
    {1, 1, 4096, 4096, 0},  {1, 1, 50257, 768, 1},    {1, 5, 4096, 4096, 1},
    {1, 8, 4096, 4096, 1},  {1, 8, 4096, 4096, 0},    {1, 16, 4096, 4096, 1},
    {1, 512, 3072, 768, 1}, {1, 512, 768, 3072, 1},   {1, 128, 768, 3072, 1},
    {1, 17, 23, 61, 1},     {1, 1000, 64, 40, 0},     {1, 128, 768, 768, 1},
    {1, 32, 4096, 4096, 1}, {1, 128, 50304, 768, 1},
};

static const model_shape models[] = {
    {"gpt2", 1, 128, 768, 12, 12, 50304, TC_F32},
    {"encoder", 8, 512, 512, 8, 6, 0, TC_F32},
    {"gpt2", 1, 128, 768, 12, 12, 50304, TC_BF16},
    {"encoder", 8, 512, 512, 8, 6, 0, TC_BF16},
};

// Images [batch, channels, side, side] by filters [filters, channels / groups, size, size], or transposed to `filters`
// channels, with so much more at the end.
static const struct {
    int batch, channels, side, filters, size, stride, pad, groups, transposed, more;
} convolutions[] = {
    {1, 64, 56, 64, 3, 1, 1, 1, 0, 0},   {1, 256, 28, 256, 3, 1, 1, 1, 0, 0},
    {1, 512, 7, 512, 3, 1, 1, 1, 0, 0},  {1, 3, 224, 64, 7, 2, 3, 1, 0, 0},
    {32, 64, 56, 64, 3, 1, 1, 1, 0, 0},  {1, 128, 56, 128, 3, 1, 1, 128, 0, 0},
    {1, 256, 28, 128, 4, 2, 1, 1, 1, 0}, {1, 256, 28, 128, 3, 2, 1, 1, 1, 1},
    {1, 128, 56, 64, 2, 2, 0, 1, 1, 0},  {1, 64, 20, 64, 3, 3, 0, 1, 1, 0},
    {1, 64, 20, 64, 5, 3, 1, 1, 1, 0},   {1, 64, 27, 64, 3, 2, 1, 1, 1, 0},
    {1, 512, 1, 512, 4, 1, 0, 1, 1, 0},  {1, 64, 56, 64, 3, 2, 1, 1, 0, 0},
};

typedef struct work {
    tc_ctx *tc;
    tc_tensor in[INPUTS];
    void *memory[INPUTS]; // of in; NULL = the context's
    int inputs, copies, at;
    model model;
    int has_model;
} work;

static tc_tensor give(work *k, tc_dims dims, double scale) {
    size_t n = 1;
    for (int i = 0; i < dims.rank; i++) n *= (size_t)dims.size[i];
    float *x = bench_floats(n);
    bench_random(x, n, (uint64_t)k->inputs + 1);
    for (size_t i = 0; i < n && scale != 1; i++) x[i] *= (float)scale;
    k->memory[k->inputs] = x;
    return k->in[k->inputs++] = tc_wrap(k->tc, x, dims, TC_F32);
}

// Whole numbers below `limit`.
static void give_ids(work *k, int64_t n, uint64_t limit) {
    int64_t *x = (int64_t *)(void *)bench_floats((size_t)n * 2);
    for (int64_t i = 0; i < n; i++) x[i] = (int64_t)(bench_hash((uint64_t)i + 1) % limit);
    k->memory[k->inputs] = x;
    k->in[k->inputs++] = tc_wrap(k->tc, x, TC_DIMS(n), TC_I64);
}

// ---- rows: what each needs, and does ----

static void make_seq(work *k, int i) { (void)i, give(k, TC_DIMS(32, 196, 768), 1); }
static void entropy(work *k, int i) { (void)i, bench_entropy(k->in[0]); }

static void make_square(work *k, int i) { (void)i, give(k, TC_DIMS(4096, 4096), 1); }
static void softmax(work *k, int i) { (void)i, tc_softmax(k->in[0], -1); }

static void make_flat(work *k, int i) {
    (void)i, give(k, TC_DIMS(1 << 24), 1);
    give(k, TC_DIMS(1), 1), give(k, TC_DIMS(1), 1);
}

static void sincos(work *k, int i) { (void)i, tc_add(tc_sin(k->in[0]), tc_cos(k->in[0])); }
static void chain(work *k, int i) { (void)i, bench_chain(k->in[0], k->in[1], k->in[2]); }

static void make_norm(work *k, int i) {
    int64_t wide = i ? i : 4096;
    give(k, TC_DIMS(4096, wide), 1), give(k, TC_DIMS(wide), 1), give(k, TC_DIMS(wide), 1);
}

static void layer_norm(work *k, int i) {
    (void)i, tc_layer_norm(k->in[0], k->in[1], k->in[2], 1e-5);
}

static void make_norm_grad(work *k, int i) {
    make_norm(k, i), give(k, TC_DIMS(4096, i), 1);
}

// Its result, and the gradients of all three.
static void layer_norm_grad(work *k, int i) {
    tc_tensor of[3], y = tc_layer_norm(k->in[0], k->in[1], k->in[2], 1e-5);
    tc_vjp(y, k->in[3], k->in, 3, of);
    layer_norm(k, i);
}

static void make_salience(work *k, int i) {
    static const float sobel_x[] = {-1, 0, 1, -2, 0, 2, -1, 0, 1};
    static const float sobel_y[] = {-1, -2, -1, 0, 0, 0, 1, 2, 1};
    (void)i, give(k, TC_DIMS(32, 3, 224, 224), 1);
    k->in[k->inputs++] = tc_const(k->tc, sobel_x, TC_DIMS(1, 1, 3, 3), TC_F32);
    k->in[k->inputs++] = tc_const(k->tc, sobel_y, TC_DIMS(1, 1, 3, 3), TC_F32);
}

static void salience(work *k, int i) {
    (void)i, bench_salience(k->in[0], k->in[1], k->in[2]);
}

static void make_tinymlp(work *k, int i) {
    (void)i, give(k, TC_DIMS(16, WIDTH), 1);
    for (int l = 0; l < LAYERS; l++) {
        give(k, TC_DIMS(WIDTH, WIDTH), 0.1), give(k, TC_DIMS(WIDTH), 1);
        give(k, TC_DIMS(WIDTH), 1), give(k, TC_DIMS(WIDTH), 1);
    }
}

static void tinymlp(work *k, int i) {
    tc_tensor x = k->in[0], *p = k->in + 1;
    (void)i;
    for (int l = 0; l < LAYERS; l++, p += 4) x = bench_mlp_layer(x, p[2], p[3], p[0], p[1]);
}

static void make_table(work *k, int i) {
    (void)i, give(k, TC_DIMS(50304, 768), 1), give_ids(k, 8192, 50304);
}

static void embedding(work *k, int i) { (void)i, tc_embedding(k->in[0], k->in[1]); }

static void index_select(work *k, int i) {
    (void)i, tc_index_select(k->in[0], 0, k->in[1]);
}

static void make_wide(work *k, int i) { (void)i, give(k, TC_DIMS(512, 32768), 1); }

static void topk(work *k, int i) {
    tc_tensor values, indices;
    (void)i, tc_topk(k->in[0], 64, -1, 1, &values, &indices);
}

static void make_maps(work *k, int i) { (void)i, give(k, TC_DIMS(16, 64, 112, 112), 1); }
static void max_pool(work *k, int i) { (void)i, tc_max_pool2d(k->in[0], 3, 2, 1); }

static void make_logits(work *k, int i) {
    (void)i, give(k, TC_DIMS(512, 50304), 1), give_ids(k, 512, 50304);
}

static void cross_entropy(work *k, int i) { (void)i, tc_cross_entropy(k->in[0], k->in[1]); }

static void make_tall(work *k, int i) { (void)i, give(k, TC_DIMS(8192, 1024), 1); }
static void column_sums(work *k, int i) { (void)i, tc_sum(k->in[0], 0); }

static void make_convolution(work *k, int i) {
    int n = convolutions[i].channels, side = convolutions[i].side, t = convolutions[i].size;
    give(k, TC_DIMS(convolutions[i].batch, n, side, side), 1);
    if (convolutions[i].transposed)
        give(k, TC_DIMS(n, convolutions[i].filters, t, t), 1);
    else
        give(k, TC_DIMS(convolutions[i].filters, n / convolutions[i].groups, t, t), 1);
}

static void convolution(work *k, int i) {
    tc_tensor none = {0};
    tc_conv2d(k->in[0], k->in[1], none, convolutions[i].stride, convolutions[i].pad, 1,
              convolutions[i].groups);
}

// ---- ResNet-18 (He et al. 2015): an image, and what its layers take, in their order ----

typedef tc_tensor (*layer)(work *k, tc_tensor x, int64_t in, int64_t out, int taps,
                           int stride);

// Makes a layer's parameters.
static tc_tensor give_layer(work *k, tc_tensor x, int64_t in, int64_t out, int taps,
                            int stride) {
    int64_t root = 1; // results keep the size of what they are made of
    while (root * root < in * taps * taps / 2) root++;
    give(k, TC_DIMS(out, in, taps, taps), 1.0 / (double)root);
    for (int i = 0; i < 4; i++) give(k, TC_DIMS(out), 0.1);
    float *var = (float *)k->memory[k->inputs - 3];
    for (int64_t i = 0; i < out; i++) var[i] += 1;
    return (void)stride, x;
}

static tc_tensor conv_norm(work *k, tc_tensor x, int64_t in, int64_t out, int taps,
                           int stride) {
    tc_tensor none = {0}, *p = k->in + k->at;
    (void)in, (void)out, k->at += 5;
    x = tc_conv2d(x, p[0], none, stride, taps / 2, 1, 1);
    return tc_batch_norm(x, p[1], p[2], p[3], p[4], 1e-5);
}

static tc_tensor residual(work *k, layer of, tc_tensor x, int64_t in, int64_t out,
                          int stride, int record) {
    tc_tensor y = of(k, x, in, out, 3, stride);
    y = of(k, record ? tc_relu(y) : y, out, out, 3, 1);
    if (in != out) x = of(k, x, in, out, 1, stride);
    return record ? tc_relu(tc_add(x, y)) : x;
}

static tc_tensor resnet_body(work *k, layer of, tc_tensor x, int record) {
    x = of(k, x, 3, 64, 7, 2);
    if (record) x = tc_max_pool2d(tc_relu(x), 3, 2, 1);
    for (int stage = 0; stage < 4; stage++)
        for (int i = 0; i < 2; i++)
            x = residual(k, of, x, 64 << (stage - (stage && !i)), 64 << stage,
                         stage && !i ? 2 : 1, record);
    return x;
}

static void make_resnet(work *k, int i) {
    tc_tensor x = give(k, TC_DIMS(1, 3, 224, 224), 1);
    (void)i, resnet_body(k, give_layer, x, 0);
    give(k, TC_DIMS(1000, 512), 0.05), give(k, TC_DIMS(1000), 0.1);
    for (int p = 1; p < k->inputs; p++) { // constants, as ONNX Runtime has them
        tc_tensor was = k->in[p];
        tc_dims d = tc_shape(was);
        k->in[p] = tc_const(k->tc, k->memory[p], d, TC_F32);
        tc_free(was);
    }
}

static void resnet(work *k, int i) {
    (void)i, k->at = 1;
    tc_tensor x = resnet_body(k, conv_norm, k->in[0], 1);
    tc_linear(tc_mean_dims(x, TC_DIMS(2, 3), 0), k->in[k->at], k->in[k->at + 1]);
}

// A result that counts, a weight and an image.
static void make_gradient(work *k, int i) {
    int n = convolutions[i].channels, side = convolutions[i].side, t = convolutions[i].size,
        out = side / convolutions[i].stride;
    give(k, TC_DIMS(convolutions[i].batch, convolutions[i].filters, out, out), 1);
    give(k, TC_DIMS(convolutions[i].filters, n / convolutions[i].groups, t, t), 1);
    give(k, TC_DIMS(convolutions[i].batch, n, side, side), 1);
}

// What the image counts, for a result that counts in[0]; its own values do not matter.
static void image_gradient(work *k, int i) {
    tc_tensor none = {0}, image = k->in[2], of;
    tc_tensor y = tc_conv2d(image, k->in[1], none, convolutions[i].stride,
                            convolutions[i].pad, 1, convolutions[i].groups);
    tc_vjp(y, k->in[0], &image, 1, &of);
}

static void transposed(work *k, int i) {
    tc_tensor none = {0};
    tc_conv_transpose2d(k->in[0], k->in[1], none, convolutions[i].stride,
                        convolutions[i].pad, convolutions[i].more, 1, 1);
}

static void make_volume(work *k, int i) {
    (void)i;
    give(k, TC_DIMS(1, 16, 16, 32, 32), 1), give(k, TC_DIMS(32, 16, 3, 3, 3), 1);
}

static void volume(work *k, int i) {
    tc_tensor none = {0};
    (void)i, tc_conv3d(k->in[0], k->in[1], none, 1, 1, 1, 1);
}

static void make_product(work *k, int i) {
    int64_t m = products[i].m, n = products[i].n, d = products[i].k,
            batch = products[i].batch;
    int one = batch == 1;
    give(k, one ? TC_DIMS(m, d) : TC_DIMS(batch, m, d), 1);
    if (m <= COPIES_ROWS) k->copies = (int)(COPIES_BYTES / (n * d * 4)) + 1;
    for (int c = 0; c < k->copies; c++)
        give(k,
             products[i].turned ? TC_DIMS(n, d)
             : one              ? TC_DIMS(d, n)
                                : TC_DIMS(batch, d, n),
             1);
}

static void product(work *k, int i) {
    tc_tensor w = k->in[1 + k->at++ % k->copies];
    tc_matmul(k->in[0], products[i].turned ? tc_t(w) : w);
}

// Activations and weights [n, k] that were quantised, and the scale of each result.
static void make_int8(work *k, int i) {
    int64_t m = products[i].m, n = products[i].n, d = products[i].k;
    for (int t = 0; t < 2; t++) {
        size_t bytes = (size_t)((t ? n : m) * d);
        signed char *x = (signed char *)(void *)bench_floats(bytes / 4 + 1);
        for (size_t b = 0; b < bytes; b++)
            x[b] = (signed char)(bench_hash(b + 1) % 255 - 127);
        k->memory[k->inputs] = x;
        k->in[k->inputs++] = tc_wrap(k->tc, x, TC_DIMS(t ? n : m, d), TC_I8);
    }
    give(k, TC_DIMS(n), 1);
}

static void int8(work *k, int i) {
    tc_tensor x = tc_cast(k->in[0], TC_I32), w = tc_cast(k->in[1], TC_I32);
    (void)i, tc_mul(tc_cast(tc_matmul(x, tc_t(w)), TC_F32), k->in[2]);
}

static void make_bf16(work *k, int i) {
    make_product(k, i);
    k->copies = 1;
    for (int t = 0; t < 2; t++) k->in[t] = tc_keep(tc_cast(k->in[t], TC_BF16));
}

static void make_mlp(work *k, int i) {
    (void)i, give(k, TC_DIMS(512, 768), 1);
    give(k, TC_DIMS(3072, 768), 0.03), give(k, TC_DIMS(3072), 1);
    give(k, TC_DIMS(768, 3072), 0.03), give(k, TC_DIMS(768), 1);
}

static void mlp(work *k, int i) {
    tc_tensor x = tc_gelu_tanh(tc_linear(k->in[0], k->in[1], k->in[2]));
    (void)i, tc_linear(x, k->in[3], k->in[4]);
}

static void make_heads(work *k, int i) {
    for (int j = 0; j < 3; j++) give(k, TC_DIMS(12, i, 64), 1);
}

static void attention(work *k, int i) {
    tc_scaled_dot_product_attention(k->in[0], k->in[1], k->in[2], tc_null(), 0, 0);
    (void)i;
}

static void attention_causal(work *k, int i) {
    tc_scaled_dot_product_attention(k->in[0], k->in[1], k->in[2], tc_null(), 1, 0);
    (void)i;
}

static void make_model(work *k, int i) {
    model_make(k->tc, &k->model, &models[i], "cpu");
    k->has_model = 1;
}

// Parameters are constants, as ONNX Runtime has them.
static void make_const(work *k, int i) {
    make_model(k, i);
    for (int p = 0; p < k->model.n; p++) {
        tc_tensor was = k->model.p[p];
        k->model.p[p] = tc_const(k->tc, tc_data(was), tc_shape(was), TC_F32);
    }
}

static void forward(work *k, int i) {
    tc_tensor out;
    (void)i, model_forward(k->tc, &k->model.input, &out, &k->model);
}

static const struct {
    const char *name;
    void (*make)(work *k, int i);
    void (*record)(work *k, int i);
    int i;
} jobs[] = {
    {"entropy_32x196x768_f32", make_seq, entropy, 0},
    {"softmax_4096x4096_f32", make_square, softmax, 0},
    {"sincos_16M_f32", make_flat, sincos, 0},
    {"chain_16M_f32", make_flat, chain, 0},
    {"salience_32x3x224x224_f32", make_salience, salience, 0},
    {"layernorm_4096x4096_f32", make_norm, layer_norm, 0},
    {"tinymlp_24x64_b16_f32", make_tinymlp, tinymlp, 0},
    {"embedding_8192x768_f32", make_table, embedding, 0},
    {"indexselect_8192x768_f32", make_table, index_select, 0},
    {"topk_64_512x32768_f32", make_wide, topk, 0},
    {"maxpool_16x64x112x112_f32", make_maps, max_pool, 0},
    {"crossentropy_512x50304_f32", make_logits, cross_entropy, 0},
    {"norm_4096x768_f32", make_norm, layer_norm, 768},
    {"layernorm_grad_4096x768_f32", make_norm_grad, layer_norm_grad, 768},
    {"layernorm_grad_4096x4096_f32", make_norm_grad, layer_norm_grad, 4096},
    {"columnsums_8192x1024_f32", make_tall, column_sums, 0},
    {"conv3x3_1x64x56x56_f32", make_convolution, convolution, 0},
    {"conv3x3_1x256x28x28_f32", make_convolution, convolution, 1},
    {"conv3x3_1x512x7x7_f32", make_convolution, convolution, 2},
    {"conv3x3fast_1x64x56x56_f32", make_convolution, convolution, 0},
    {"conv3x3fast_1x256x28x28_f32", make_convolution, convolution, 1},
    {"conv3x3fast_32x64x56x56_f32", make_convolution, convolution, 4},
    {"conv7x7s2_1x3x224x224_f32", make_convolution, convolution, 3},
    {"conv3x3_32x64x56x56_f32", make_convolution, convolution, 4},
    {"depthwise3x3_1x128x56x56_f32", make_convolution, convolution, 5},
    {"convgrad3x3_1x64x56x56_f32", make_gradient, image_gradient, 0},
    {"convgrad3x3s2_1x64x56x56_f32", make_gradient, image_gradient, 13},
    {"conv3x3x3_1x16x16x32x32_f32", make_volume, volume, 0},
    {"convtransposed4x4s2_1x256x28x28_f32", make_convolution, transposed, 6},
    {"convtransposed3x3s2_1x256x28x28_f32", make_convolution, transposed, 7},
    {"convtransposed2x2s2_1x128x56x56_f32", make_convolution, transposed, 8},
    {"convtransposed3x3s3_1x64x20x20_f32", make_convolution, transposed, 9},
    {"convtransposed5x5s3_1x64x20x20_f32", make_convolution, transposed, 10},
    {"convtransposed3x3s2_1x64x27x27_f32", make_convolution, transposed, 11},
    {"convtransposed4x4_1x512x1x1_f32", make_convolution, transposed, 12},
    {"matmul_384x384x384_f32", make_product, product, 0},
    {"matmul_1024x1024x1024_f32", make_product, product, 1},
    {"matmul_2048x2048x2048_f32", make_product, product, 2},
    {"matmul_333x517x1029_f32", make_product, product, 3},
    {"matmul_96x128x128x64_f32", make_product, product, 4},
    {"rows_1x4096x4096_f32", make_product, product, 5},
    {"rows_kn_1x4096x4096_f32", make_product, product, 6},
    {"rows_1x50257x768_f32", make_product, product, 7},
    {"rows_5x4096x4096_f32", make_product, product, 8},
    {"rows_8x4096x4096_f32", make_product, product, 9},
    {"rows_kn_8x4096x4096_f32", make_product, product, 10},
    {"rows_16x4096x4096_f32", make_product, product, 11},
    {"matmul_512x3072x768_f32", make_product, product, 12},
    {"matmul_512x768x3072_f32", make_product, product, 13},
    {"matmul_128x768x3072_f32", make_product, product, 14},
    {"matmul_128x50304x768_f32", make_product, product, 19},
    {"matmul_17x23x61_f32", make_product, product, 15},
    {"matmul_1000x64x40_f32", make_product, product, 16},
    {"matmulfast_384x384x384_f32", make_product, product, 0},
    {"matmulfast_1024x1024x1024_f32", make_product, product, 1},
    {"matmulfast_2048x2048x2048_f32", make_product, product, 2},
    {"matmulfast_333x517x1029_f32", make_product, product, 3},
    {"matmulfast_96x128x128x64_f32", make_product, product, 4},
    {"matmulfast_512x3072x768_f32", make_product, product, 12},
    {"matmulfast_512x768x3072_f32", make_product, product, 13},
    {"matmulfast_128x768x3072_f32", make_product, product, 14},
    {"int8_512x3072x768", make_int8, int8, 12},
    {"bf16_512x3072x768", make_bf16, product, 12},
    {"int8_512x768x3072", make_int8, int8, 13},
    {"bf16_512x768x3072", make_bf16, product, 13},
    {"int8_128x768x768", make_int8, int8, 17},
    {"bf16_128x768x768", make_bf16, product, 17},
    {"int8_32x4096x4096", make_int8, int8, 18},
    {"bf16_32x4096x4096", make_bf16, product, 18},
    {"half_1x4096x4096", make_bf16, product, 5}, // strict: by the order of f32
    {"half_8x4096x4096", make_bf16, product, 9},
    {"mlp_512x768x3072_f32", make_mlp, mlp, 0},
    {"mlpfast_512x768x3072_f32", make_mlp, mlp, 0},
    {"attention_12x128x64_f32", make_heads, attention, 128},
    {"attention_12x1024x64_f32", make_heads, attention, 1024},
    {"attention_causal_12x1024x64_f32", make_heads, attention_causal, 1024},
    {"gpt2_1x128_f32", make_model, forward, 0},
    {"encoder_8x512x512_f32", make_model, forward, 1},
    {"gpt2const_1x128_f32", make_const, forward, 0},
    {"gpt2fast_1x128_f32", make_model, forward, 0},
    {"encoderfast_8x512x512_f32", make_model, forward, 1},
    {"gpt2bf16_1x128", make_model, forward, 2},
    {"encoderbf16_8x512x512", make_model, forward, 3},
    {"resnet18_1x3x224x224_f32", make_resnet, resnet, 0},
    {"resnet18fast_1x3x224x224_f32", make_resnet, resnet, 0},
};

typedef struct call {
    work k;
    size_t job;
} call;

static void run(void *user) {
    call *c = (call *)user;
    tc_options o = tc_options_default();
    // As torch does: by AMX and AVX512-BF16, whose sums have other bits than ours of one k after the other.
    // And 3x3 convolutions with fewer products, and products of f32 by AMX, where a row says so.
    if (strstr(jobs[c->job].name, "bf16") || strstr(jobs[c->job].name, "fast"))
        o.numerics = TC_NUMERICS_FAST;
    tc_trace_begin_with(c->k.tc, jobs[c->job].name, &o);
    jobs[c->job].record(&c->k, jobs[c->job].i);
    tc_trace_end(c->k.tc);
}

static void open_job(call *c, size_t job) {
    work *k = &c->k;
    c->job = job;
    k->inputs = k->at = k->has_model = 0, k->copies = 1;
    jobs[job].make(k, jobs[job].i);
    run(c);
    bench_check(k->tc);
}

static void close_job(work *k) {
    for (int i = 0; i < k->inputs; i++) tc_free(k->in[i]), free(k->memory[i]);
    memset(k->memory, 0, sizeof k->memory);
    for (int i = 0; i < k->model.n && k->has_model; i++) tc_free(k->model.p[i]);
    if (k->has_model) tc_free(k->model.input);
}

// Conversation with cpu.py, a line at a time: `open ROW` is answered by what can be timed, `turn ours` by
// nanoseconds of a call after one that is not timed, `close` by `closed`.
static int take_turns(call *c) {
    enum { LEAST = 3000000 };
    char line[200];
    int calls = 1;
    while (fgets(line, sizeof line, stdin)) {
        size_t i = 0, jobs_n = sizeof jobs / sizeof jobs[0];
        line[strcspn(line, "\n")] = 0;
        if (!strncmp(line, "open ", 5)) {
            while (i < jobs_n && strcmp(jobs[i].name, line + 5)) i++;
            if (i < jobs_n) open_job(c, i);
            double start = bench_ns();
            if (i < jobs_n) run(c);
            double ns = bench_ns() - start;
            calls = ns > LEAST ? 1 : (int)(LEAST / (ns > 10 ? ns : 10)) + 1;
            puts(i < jobs_n ? "ours" : "");
        } else if (!strncmp(line, "turn ", 5)) {
            run(c);
            double start = bench_ns();
            for (int n = 0; n < calls; n++) run(c);
            printf("%.0f\n", (bench_ns() - start) / calls);
        } else {
            close_job(&c->k);
            puts("closed");
        }
        fflush(stdout);
    }
    return 0;
}

// What kernels of a row take.
static void profile(call *c) {
    for (int i = 0; i < 3; i++) run(c);
    tc_profile_begin(c->k.tc);
    for (int i = 0; i < 20; i++) run(c);
    tc_profile_end(c->k.tc);
    printf("%s\n", tc_profile_text(c->k.tc));
}

// Arguments: rows, by the beginnings of their names; none = all. `--names NAME` prints these, `--source NAME` the C,
// `--profile NAME` what its kernels take, `--turns` is for cpu.py.
int main(int argc, char **argv) {
    static call c;
    c.k.tc = bench_open(THREADS);
    int names = argc > 1 && !strcmp(argv[1], "--names");
    int source = argc > 1 && !strcmp(argv[1], "--source"),
        profiled = argc > 1 && !strcmp(argv[1], "--profile"),
        first = 1 + (names || source || profiled);
    if (argc == 2 && !strcmp(argv[1], "--turns")) return take_turns(&c);
    for (size_t i = 0; i < sizeof jobs / sizeof jobs[0]; i++) {
        int wanted = argc == first;
        for (int a = first; a < argc; a++)
            wanted |= !strncmp(jobs[i].name, argv[a], strlen(argv[a]));
        if (!wanted) continue;
        if (names) {
            puts(jobs[i].name);
            continue;
        }
        open_job(&c, i);
        bench_side side = {run, &c, 0};
        if (!source && !profiled) bench_interleave(&side, 1, BENCH_ROUNDS);
        bench_check(c.k.tc);
        if (profiled)
            profile(&c);
        else if (source)
            printf("%s", tc_region_source(c.k.tc, jobs[i].name));
        else
            printf("%s %.0f\n", jobs[i].name, side.ns);
        fflush(stdout);
        close_job(&c.k);
    }
    tc_close(c.k.tc);
    return 0;
}
