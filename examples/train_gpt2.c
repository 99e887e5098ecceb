// Training steps of GPT-2 (Radford et al. 2019): the real one of 124 million parameters, or a small one of the same
// kind, on the CPU or a GPU, in f32 or with products in halves. A step is one program: loss, gradients, their clipping
// and AdamW of all parameters. Tokens are the bytes of a file.
//
// Build: cc -O2 -I. examples/train_gpt2.c -o train_gpt2 -lm -lpthread -ldl
// Run:   ./train_gpt2 [WORD...]     (default: the small one, 8 steps, README.md)
//     124m  bf16  f16  cuda  checkpoint  batch=N  context=N  steps=N  text=FILE  table  profile  memory
//     save=FILE (of the weights before the first step, safetensors)
// Prints the loss and the time of each step, and what a step became. Exit status 1 if no loss is below the first (the large
// model is fed so few tokens that one step may leap, PyTorch's too) or a step is more than one program.
#define TCOMPILE_IMPLEMENTATION
#define TCOMPILE_CUDA_IMPLEMENTATION
#include "tcompile.h"

#include "tcompile_cuda.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LAYERS_MOST = 48, NAME = 32, TEXT_MOST = 1 << 20 };

typedef struct config {
    int layers, width, heads, vocabulary, context, batch, steps;
    int cuda, checkpoint, table, profile, memory;
    tc_dtype half; // of products; TC_F32 = f32
    const char *text, *save;
} config;

typedef struct layer {
    tc_tensor norm1, norm1_bias, qkv, qkv_bias, project, project_bias;
    tc_tensor norm2, norm2_bias, up, up_bias, down, down_bias;
    int heads;
} layer;

typedef struct model {
    config c;
    tc_params *weights, *state; // what AdamW keeps
    tc_tensor token, place, norm, norm_bias, steps;
    const tc_tensor *average, *square; // of each weight
    layer layers[LAYERS_MOST];
} model;

// ---- the network ----

static tc_tensor weight(tc_params *p, const char *layer, const char *name, tc_dims dims,
                        tc_init init) {
    char text[2 * NAME];
    snprintf(text, sizeof text, "%s%s", layer, name);
    return tc_param(p, text, dims, TC_F32, init);
}

static layer make_layer(tc_params *p, const config *c, int i) {
    int64_t w = c->width;
    tc_init deep = tc_init_normal(0, 0.02), zeros = tc_init_zeros(), ones = tc_init_ones();
    tc_init inner = tc_init_normal(0, 0.02 / sqrt(2.0 * c->layers)); // added to x by all
    char at[NAME];
    layer l;
    snprintf(at, sizeof at, "h.%d.", i);
    l.heads = c->heads;
    l.norm1 = weight(p, at, "ln_1.weight", TC_DIMS(w), ones);
    l.norm1_bias = weight(p, at, "ln_1.bias", TC_DIMS(w), zeros);
    l.qkv = weight(p, at, "attn.qkv.weight", TC_DIMS(3 * w, w), deep);
    l.qkv_bias = weight(p, at, "attn.qkv.bias", TC_DIMS(3 * w), zeros);
    l.project = weight(p, at, "attn.proj.weight", TC_DIMS(w, w), inner);
    l.project_bias = weight(p, at, "attn.proj.bias", TC_DIMS(w), zeros);
    l.norm2 = weight(p, at, "ln_2.weight", TC_DIMS(w), ones);
    l.norm2_bias = weight(p, at, "ln_2.bias", TC_DIMS(w), zeros);
    l.up = weight(p, at, "mlp.up.weight", TC_DIMS(4 * w, w), deep);
    l.up_bias = weight(p, at, "mlp.up.bias", TC_DIMS(4 * w), zeros);
    l.down = weight(p, at, "mlp.down.weight", TC_DIMS(w, 4 * w), inner);
    l.down_bias = weight(p, at, "mlp.down.bias", TC_DIMS(w), zeros);
    return l;
}

static model make_model(tc_ctx *tc, const config *c) {
    model m;
    memset(&m, 0, sizeof m);
    m.c = *c, m.weights = tc_params_open(tc), m.state = tc_params_open(tc);
    tc_params *p = m.weights;
    m.token =
        weight(p, "wte", "", TC_DIMS(c->vocabulary, c->width), tc_init_normal(0, 0.02));
    m.place = weight(p, "wpe", "", TC_DIMS(c->context, c->width), tc_init_normal(0, 0.01));
    for (int i = 0; i < c->layers; i++) m.layers[i] = make_layer(p, c, i);
    m.norm = weight(p, "ln_f.weight", "", TC_DIMS(c->width), tc_init_ones());
    m.norm_bias = weight(p, "ln_f.bias", "", TC_DIMS(c->width), tc_init_zeros());
    m.steps = tc_param_buffer(m.state, "steps", TC_SCALAR, TC_F32, tc_init_zeros());
    m.average = tc_params_state(p, m.state, "average");
    m.square = tc_params_state(p, m.state, "square");
    return m;
}

// x [B, T, width]; each place attends to itself and those before it.
static tc_tensor attention(tc_tensor x, const layer *l) {
    int64_t b = tc_dim(x, 0), t = tc_dim(x, 1), w = tc_dim(x, 2), each = w / l->heads;
    tc_tensor qkv = tc_linear(x, l->qkv, l->qkv_bias), part[3];
    for (int i = 0; i < 3; i++) {
        part[i] = tc_reshape(tc_narrow(qkv, 2, i * w, w), TC_DIMS(b, t, l->heads, each));
        part[i] = tc_permute(part[i], TC_DIMS(0, 2, 1, 3));
    }
    tc_tensor y =
        tc_scaled_dot_product_attention(part[0], part[1], part[2], tc_null(), 1, 0);
    y = tc_reshape(tc_permute(y, TC_DIMS(0, 2, 1, 3)), TC_DIMS(b, t, w));
    return tc_linear(y, l->project, l->project_bias);
}

static void block(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    const layer *l = (const layer *)user;
    (void)tc;
    tc_tensor x = in[0];
    x = tc_add(x, attention(tc_layer_norm(x, l->norm1, l->norm1_bias, 1e-5), l));
    tc_tensor y = tc_layer_norm(x, l->norm2, l->norm2_bias, 1e-5);
    y = tc_gelu_tanh(tc_linear(y, l->up, l->up_bias));
    out[0] = tc_add(x, tc_linear(y, l->down, l->down_bias));
}

// batch [B, context + 1]: each token is to be told from those before it.
static tc_tensor loss_of(tc_ctx *tc, model *m, tc_tensor batch) {
    int64_t b = tc_dim(batch, 0), t = tc_dim(batch, 1) - 1;
    tc_tensor tokens = tc_narrow(batch, 1, 0, t), target = tc_narrow(batch, 1, 1, t);
    tc_tensor x = tc_add(tc_embedding(m->token, tokens), tc_narrow(m->place, 0, 0, t));
    for (int i = 0; i < m->c.layers; i++) {
        if (m->c.checkpoint)
            tc_checkpoint(tc, block, &m->layers[i], &x, 1, &x, 1);
        else
            block(tc, &x, &x, &m->layers[i]);
    }
    x = tc_layer_norm(x, m->norm, m->norm_bias, 1e-5);
    tc_tensor y = tc_linear(x, m->token, tc_null());
    return tc_cross_entropy(tc_reshape(y, TC_DIMS(b * t, m->c.vocabulary)),
                            tc_reshape(tc_contiguous(target), TC_DIMS(b * t)));
}

// One graph, that writes in place: a function of the batch [B, context + 1]. The rate rises over the first steps; its
// schedule is ops of the step counter, so no call after the second runs this code.
static void step(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    model *m = (model *)user;
    const tc_tensor *w, *g;
    tc_params_zero_grad(m->weights);
    tc_autocast_begin(tc, m->c.half);
    tc_tensor loss = loss_of(tc, m, in[0]);
    tc_autocast_end(tc);
    tc_backward(loss);
    int n = tc_params_list(m->weights, &w, &g);
    tc_clip_grad_norm_(g, n, 1, 2);
    tc_lr_scale_begin(tc, tc_minimum_s(tc_mul_s(tc_add_s(m->steps, 1), 0.25), 1));
    tc_adamw_list_(w, g, m->average, m->square, n, m->steps, 1e-3, 0.9, 0.95, 1e-8, 0.1);
    tc_lr_scale_end(tc);
    out[0] = loss;
}

// ---- what is asked for ----

static int number_in(const char *word, const char *name, int *to) {
    size_t n = strlen(name);
    if (strncmp(word, name, n)) return 0;
    *to = atoi(word + n);
    return *to > 0;
}

static int take(config *c, const char *word) {
    if (!strcmp(word, "124m")) {
        c->layers = 12, c->width = 768, c->heads = 12, c->vocabulary = 50257;
        c->context = 1024, c->batch = 8;
    } else if (!strcmp(word, "bf16")) {
        c->half = TC_BF16;
    } else if (!strcmp(word, "f16")) {
        c->half = TC_F16;
    } else if (!strcmp(word, "cuda")) {
        c->cuda = 1;
    } else if (!strcmp(word, "checkpoint")) {
        c->checkpoint = 1;
    } else if (!strcmp(word, "table")) {
        c->table = 1;
    } else if (!strcmp(word, "profile")) {
        c->profile = 1; // of the second half of the steps
    } else if (!strcmp(word, "memory")) {
        c->memory = 1; // of the device
    } else if (!strncmp(word, "text=", 5)) {
        c->text = word + 5;
    } else if (!strncmp(word, "save=", 5)) {
        c->save = word + 5;
    } else {
        return number_in(word, "batch=", &c->batch) ||
               number_in(word, "steps=", &c->steps) ||
               number_in(word, "context=", &c->context);
    }
    return 1;
}

static double now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

// Rows of the text, one behind the other, and from its begin again.
static tc_tensor rows_of(tc_ctx *tc, const config *c, const unsigned char *text, int size,
                         int *at) {
    size_t n = (size_t)c->batch * (size_t)(c->context + 1);
    int32_t *tokens = (int32_t *)malloc(n * sizeof *tokens);
    if (!tokens) return tc_null();
    for (size_t i = 0; i < n; i++) tokens[i] = text[(*at)++ % size];
    tc_tensor t = tc_from_data(tc, tokens, TC_DIMS(c->batch, c->context + 1), TC_I32);
    free(tokens);
    return c->cuda ? tc_to(t, "cuda:0") : t;
}

int main(int argc, char **argv) {
    static unsigned char text[TEXT_MOST];
    char memory[512];
    config c = {2, 128, 4, 256, 64, 4, 8, 0, 0, 0, 0, 0, TC_F32, "README.md", NULL};
    for (int i = 1; i < argc; i++)
        if (!take(&c, argv[i])) return fprintf(stderr, "%s: no such word\n", argv[i]), 1;
    FILE *f = fopen(c.text, "rb");
    int size = f ? (int)fread(text, 1, sizeof text, f) : 0, at = 0;
    if (f) fclose(f);
    if (!size) return fprintf(stderr, "%s: no text; run from the root\n", c.text), 1;
    tc_ctx *tc = tc_open(NULL);
    if (!tc || (c.cuda && tc_cuda_open(tc, 0))) {
        fprintf(stderr, "%s\n", tc ? tc_error_text(tc) : "no context");
        return 1;
    }
    tc_manual_seed(tc, 1);
    model m = make_model(tc, &c);
    if (c.table) puts(tc_params_text(m.weights));
    if (c.cuda) tc_params_to(m.weights, "cuda:0"), tc_params_to(m.state, "cuda:0");
    printf("%.1f million parameters, %d x %d tokens a step\n",
           1e-6 * (double)tc_params_elements(m.weights), c.batch, c.context);
    if (c.save) tc_params_save(m.weights, c.save);
    tc_fn *train = tc_compile(tc, step, &m, 0, NULL);
    double first = 0, least = 0;
    for (int i = 0; i < c.steps && !tc_error(tc); i++) {
        double start = now_ms();
        if (c.profile && i == c.steps / 2) tc_profile_begin(tc);
        tc_tensor batch = rows_of(tc, &c, text, size, &at), loss;
        tc_call(train, &batch, 1, &loss, 1);
        double now = tc_item(loss);
        if (!i) first = least = now;
        if (now < least) least = now;
        printf("step %2d: loss %.4f, %.1f ms\n", i + 1, now, now_ms() - start);
        tc_free(loss), tc_free(batch);
    }
    if (c.profile) tc_profile_end(tc), puts(tc_profile_text(tc));
    if (c.memory && c.cuda && tc_cuda_memory(tc, 0, memory, sizeof memory)) puts(memory);
    tc_explanation made = tc_explain_counts(tc, "step");
    printf("a step is one program, of %d kernels; %d programs\n",
           made.programs ? made.kernels / made.programs : 0, made.programs);
    if (tc_error(tc)) fprintf(stderr, "error: %s\n", tc_error_text(tc));
    int ok = !tc_error(tc) && least < first && made.programs == 1;
    tc_close(tc);
    return !ok;
}
