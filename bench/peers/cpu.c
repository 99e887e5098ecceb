// Our side of the comparison with torch.compile: bench/peers/run.sh builds and runs it in
// turn with cpu.py. Prints `name nanoseconds` per workload, medians of this process; 2
// threads, outputs reused from call to call.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

#include "../models.h"

enum { THREADS = 2, LAYERS = 24, WIDTH = 64, CONVOLUTIONS = 6, PRODUCTS = 9 };

// Left [batch, m, k], right [batch, k, n]; `turned`: weights [n, k], as of a linear layer.
static const struct {
    int batch, m, n, k, turned;
} products[PRODUCTS] = {
    {1, 384, 384, 384, 0},  {1, 1024, 1024, 1024, 0}, {1, 2048, 2048, 2048, 0},
    {1, 333, 517, 1029, 0}, {96, 128, 128, 64, 0},    {1, 1, 4096, 4096, 1},
    {1, 8, 4096, 4096, 1},  {1, 16, 4096, 4096, 1},   {1, 512, 3072, 768, 1},
};

static const model_shape encoder = {"encoder", 8, 512, 512, 8, 6, 0, TC_F32};
static const model_shape gpt2 = {"gpt2", 1, 128, 768, 12, 12, 50304, TC_F32};

// Images [batch, channels, side, side] by filters [filters, channels / groups, size, size].
static const struct {
    int batch, channels, side, filters, size, stride, pad, groups;
} convolutions[CONVOLUTIONS] = {
    {1, 64, 56, 64, 3, 1, 1, 1},  {1, 256, 28, 256, 3, 1, 1, 1},
    {1, 512, 7, 512, 3, 1, 1, 1}, {1, 3, 224, 64, 7, 2, 3, 1},
    {32, 64, 56, 64, 3, 1, 1, 1}, {1, 128, 56, 128, 3, 1, 1, 128},
};

typedef struct work {
    tc_ctx *tc;
    tc_tensor seq;                     // [32, 196, 768]
    tc_tensor flat, one, two;          // [16M], [1], [1]
    tc_tensor square, weight, bias;    // [4096, 4096], [4096], [4096]
    tc_tensor image, sobel_x, sobel_y; // [32, 3, 224, 224]
    tc_tensor tiny;                    // [16, 64]
    tc_tensor table, ids;              // [50304, 768]; [8192] of its rows
    tc_tensor wide, logits, targets;   // [512, 32768], [512, 50304], [512]
    tc_tensor maps;                    // [16, 64, 112, 112]
    tc_tensor tokens, scale, shift;    // [4096, 768], [768], [768]
    tc_tensor tall;                    // [8192, 1024]
    tc_tensor seen[CONVOLUTIONS], filters[CONVOLUTIONS];
    tc_tensor left[PRODUCTS], right[PRODUCTS];
    tc_tensor heads[2][3]; // q, k, v: [12, 128, 64], [12, 1024, 64]
    tc_tensor mlp[5];      // [512, 768], [3072, 768], [3072], [768, 3072], [768]
    model model;           // of the row at hand
    tc_tensor w[LAYERS], b[LAYERS], g[LAYERS], s[LAYERS];
} work;

static void entropy(work *k) { bench_entropy(k->seq); }
static void softmax(work *k) { tc_softmax(k->square, -1); }
static void sincos(work *k) { tc_add(tc_sin(k->flat), tc_cos(k->flat)); }
static void chain(work *k) { bench_chain(k->flat, k->one, k->two); }
static void layer_norm(work *k) { tc_layer_norm(k->square, k->weight, k->bias, 1e-5); }

static void salience(work *k) { bench_salience(k->image, k->sobel_x, k->sobel_y); }

static void embedding(work *k) { tc_embedding(k->table, k->ids); }
static void index_select(work *k) { tc_index_select(k->table, 0, k->ids); }
static void max_pool(work *k) { tc_max_pool2d(k->maps, 3, 2, 1); }
static void cross_entropy(work *k) { tc_cross_entropy(k->logits, k->targets); }
static void layer_norm_768(work *k) { tc_layer_norm(k->tokens, k->scale, k->shift, 1e-5); }
static void column_sums(work *k) { tc_sum(k->tall, 0); }

static void convolution(work *k, int i) {
    tc_tensor none = {0};
    tc_conv2d(k->seen[i], k->filters[i], none, convolutions[i].stride, convolutions[i].pad,
              1, convolutions[i].groups);
}

static void conv_64x56(work *k) { convolution(k, 0); }
static void conv_256x28(work *k) { convolution(k, 1); }
static void conv_512x7(work *k) { convolution(k, 2); }
static void conv_first(work *k) { convolution(k, 3); }
static void conv_batch(work *k) { convolution(k, 4); }
static void conv_depthwise(work *k) { convolution(k, 5); }

static void product(work *k, int i) {
    tc_matmul(k->left[i], products[i].turned ? tc_t(k->right[i]) : k->right[i]);
}

static void product_384(work *k) { product(k, 0); }
static void product_1024(work *k) { product(k, 1); }
static void product_2048(work *k) { product(k, 2); }
static void product_odd(work *k) { product(k, 3); }
static void product_batch(work *k) { product(k, 4); }
static void product_row(work *k) { product(k, 5); }
static void product_8_rows(work *k) { product(k, 6); }
static void product_16_rows(work *k) { product(k, 7); }
static void product_512(work *k) { product(k, 8); }

static void mlp(work *k) {
    tc_tensor x = tc_gelu_tanh(tc_linear(k->mlp[0], k->mlp[1], k->mlp[2]));
    tc_linear(x, k->mlp[3], k->mlp[4]);
}

static void attend(work *k, int i, int causal) {
    tc_tensor *x = k->heads[i];
    tc_scaled_dot_product_attention(x[0], x[1], x[2], tc_null(), causal, 0);
}

static void attention_128(work *k) { attend(k, 0, 0); }
static void attention_1024(work *k) { attend(k, 1, 0); }
static void attention_causal(work *k) { attend(k, 1, 1); }

static void forward(work *k) {
    tc_tensor out;
    model_forward(k->tc, &k->model.input, &out, &k->model);
}

static void topk(work *k) {
    tc_tensor values, indices;
    tc_topk(k->wide, 64, -1, 1, &values, &indices);
}

static void tinymlp(work *k) {
    tc_tensor x = k->tiny;
    for (int i = 0; i < LAYERS; i++)
        x = bench_mlp_layer(x, k->g[i], k->s[i], k->w[i], k->b[i]);
}

static const struct {
    const char *name;
    void (*record)(work *k);
    const model_shape *model;
} jobs[] = {
    {"entropy_32x196x768_f32", entropy, NULL},
    {"softmax_4096x4096_f32", softmax, NULL},
    {"sincos_16M_f32", sincos, NULL},
    {"chain_16M_f32", chain, NULL},
    {"salience_32x3x224x224_f32", salience, NULL},
    {"layernorm_4096x4096_f32", layer_norm, NULL},
    {"tinymlp_24x64_b16_f32", tinymlp, NULL},
    {"embedding_8192x768_f32", embedding, NULL},
    {"indexselect_8192x768_f32", index_select, NULL},
    {"topk_64_512x32768_f32", topk, NULL},
    {"maxpool_16x64x112x112_f32", max_pool, NULL},
    {"crossentropy_512x50304_f32", cross_entropy, NULL},
    {"norm_4096x768_f32", layer_norm_768, NULL},
    {"columnsums_8192x1024_f32", column_sums, NULL},
    {"conv3x3_1x64x56x56_f32", conv_64x56, NULL},
    {"conv3x3_1x256x28x28_f32", conv_256x28, NULL},
    {"conv3x3_1x512x7x7_f32", conv_512x7, NULL},
    {"conv7x7s2_1x3x224x224_f32", conv_first, NULL},
    {"conv3x3_32x64x56x56_f32", conv_batch, NULL},
    {"depthwise3x3_1x128x56x56_f32", conv_depthwise, NULL},
    {"matmul_384x384x384_f32", product_384, NULL},
    {"matmul_1024x1024x1024_f32", product_1024, NULL},
    {"matmul_2048x2048x2048_f32", product_2048, NULL},
    {"matmul_333x517x1029_f32", product_odd, NULL},
    {"matmul_96x128x128x64_f32", product_batch, NULL},
    {"rows_1x4096x4096_f32", product_row, NULL},
    {"rows_8x4096x4096_f32", product_8_rows, NULL},
    {"rows_16x4096x4096_f32", product_16_rows, NULL},
    {"matmul_512x3072x768_f32", product_512, NULL},
    {"mlp_512x768x3072_f32", mlp, NULL},
    {"attention_12x128x64_f32", attention_128, NULL},
    {"attention_12x1024x64_f32", attention_1024, NULL},
    {"attention_causal_12x1024x64_f32", attention_causal, NULL},
    {"gpt2_1x128_f32", forward, &gpt2},
    {"encoder_8x512x512_f32", forward, &encoder},
};

// Whole numbers below `limit`.
static tc_tensor random_ids(tc_ctx *tc, int64_t n, uint64_t limit, uint64_t seed) {
    int64_t *x = (int64_t *)(void *)bench_floats((size_t)n * 2);
    for (int64_t i = 0; i < n; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        x[i] = (int64_t)((seed >> 33) % limit);
    }
    return tc_wrap(tc, x, TC_DIMS(n), TC_I64);
}

static work open_work(void) {
    static const float sobel_x[] = {-1, 0, 1, -2, 0, 2, -1, 0, 1};
    static const float sobel_y[] = {-1, -2, -1, 0, 0, 0, 1, 2, 1};
    work k;
    memset(&k, 0, sizeof k);
    k.tc = bench_open(THREADS);
    k.seq = bench_randn(k.tc, TC_DIMS(32, 196, 768), 1);
    k.flat = bench_randn(k.tc, TC_DIMS(1 << 24), 2);
    k.one = bench_randn(k.tc, TC_DIMS(1), 3), k.two = bench_randn(k.tc, TC_DIMS(1), 4);
    k.square = bench_randn(k.tc, TC_DIMS(4096, 4096), 5);
    k.weight = bench_randn(k.tc, TC_DIMS(4096), 6),
    k.bias = bench_randn(k.tc, TC_DIMS(4096), 7);
    k.image = bench_randn(k.tc, TC_DIMS(32, 3, 224, 224), 8);
    k.sobel_x = tc_const(k.tc, sobel_x, TC_DIMS(1, 1, 3, 3), TC_F32);
    k.sobel_y = tc_const(k.tc, sobel_y, TC_DIMS(1, 1, 3, 3), TC_F32);
    k.tiny = bench_randn(k.tc, TC_DIMS(16, WIDTH), 9);
    k.table = bench_randn(k.tc, TC_DIMS(50304, 768), 10);
    k.ids = random_ids(k.tc, 8192, 50304, 11);
    k.wide = bench_randn(k.tc, TC_DIMS(512, 32768), 12);
    k.logits = bench_randn(k.tc, TC_DIMS(512, 50304), 13);
    k.targets = random_ids(k.tc, 512, 50304, 14);
    k.maps = bench_randn(k.tc, TC_DIMS(16, 64, 112, 112), 15);
    k.tokens = bench_randn(k.tc, TC_DIMS(4096, 768), 16);
    k.scale = bench_randn(k.tc, TC_DIMS(768), 17);
    k.shift = bench_randn(k.tc, TC_DIMS(768), 18);
    k.tall = bench_randn(k.tc, TC_DIMS(8192, 1024), 19);
    for (int i = 0; i < CONVOLUTIONS; i++) {
        int n = convolutions[i].channels, side = convolutions[i].side,
            t = convolutions[i].size;
        k.seen[i] = bench_randn(k.tc, TC_DIMS(convolutions[i].batch, n, side, side), 20);
        k.filters[i] = bench_randn(
            k.tc, TC_DIMS(convolutions[i].filters, n / convolutions[i].groups, t, t), 21);
    }
    for (int i = 0; i < PRODUCTS; i++) {
        int64_t m = products[i].m, n = products[i].n, d = products[i].k,
                copies = products[i].batch;
        int one = copies == 1;
        k.left[i] = bench_randn(k.tc, one ? TC_DIMS(m, d) : TC_DIMS(copies, m, d), 22);
        k.right[i] = bench_randn(k.tc,
                                 products[i].turned ? TC_DIMS(n, d)
                                 : one              ? TC_DIMS(d, n)
                                                    : TC_DIMS(copies, d, n),
                                 23);
    }
    for (int i = 0; i < 6; i++)
        k.heads[i / 3][i % 3] =
            bench_randn(k.tc, TC_DIMS(12, i < 3 ? 128 : 1024, 64), 24 + (uint64_t)i);
    k.mlp[0] = bench_randn(k.tc, TC_DIMS(512, 768), 30);
    k.mlp[1] = tc_mul_s(bench_randn(k.tc, TC_DIMS(3072, 768), 31), 0.03);
    k.mlp[2] = bench_randn(k.tc, TC_DIMS(3072), 32);
    k.mlp[3] = tc_mul_s(bench_randn(k.tc, TC_DIMS(768, 3072), 33), 0.03);
    k.mlp[4] = bench_randn(k.tc, TC_DIMS(768), 34);
    for (int i = 0; i < LAYERS; i++) {
        uint64_t seed = 100 + 4 * (uint64_t)i;
        k.w[i] = tc_mul_s(bench_randn(k.tc, TC_DIMS(WIDTH, WIDTH), seed), 0.1);
        k.b[i] = bench_randn(k.tc, TC_DIMS(WIDTH), seed + 1);
        k.g[i] = bench_randn(k.tc, TC_DIMS(WIDTH), seed + 2);
        k.s[i] = bench_randn(k.tc, TC_DIMS(WIDTH), seed + 3);
    }
    bench_check(k.tc);
    return k;
}

typedef struct call {
    work *k;
    size_t job;
} call;

static void run(void *user) {
    call *c = (call *)user;
    tc_trace_begin(c->k->tc, jobs[c->job].name);
    jobs[c->job].record(c->k);
    tc_trace_end(c->k->tc);
}

// Arguments: workloads, by the beginnings of their names; none = all. `--source NAME`
// prints the C.
int main(int argc, char **argv) {
    work k = open_work();
    int source = argc > 1 && !strcmp(argv[1], "--source");
    for (size_t i = 0; i < sizeof jobs / sizeof jobs[0]; i++) {
        int wanted = argc == 1;
        for (int a = 1; a < argc; a++)
            wanted |= !strncmp(jobs[i].name, argv[a], strlen(argv[a]));
        if (!wanted) continue;
        if (jobs[i].model) model_make(k.tc, &k.model, jobs[i].model, "cpu");
        call c = {&k, i};
        bench_side side = {run, &c, 0};
        if (source)
            run(&c);
        else
            bench_interleave(&side, 1, BENCH_ROUNDS);
        bench_check(k.tc);
        if (source)
            printf("%s", tc_region_source(k.tc, jobs[i].name));
        else
            printf("%s %.0f\n", jobs[i].name, side.ns);
        fflush(stdout);
    }
    tc_close(k.tc);
    return 0;
}
