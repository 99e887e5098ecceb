// The models of the peers (bench/peers): a transformer's block, the encoder and GPT-2's forward pass made
// of it, written in public ops. Parameters are random; their order is that of the calls.
#ifndef BENCH_MODELS_H
#define BENCH_MODELS_H
#include "bench.h"

typedef struct model_shape {
    const char *name;
    int64_t batch, tokens, width, heads, layers, words; // words 0: no embedding, no head
    tc_dtype dtype;
} model_shape;

enum { BLOCK_PARAMETERS = 12, MODEL_PARAMETERS = 4 + 12 * BLOCK_PARAMETERS };

typedef struct model {
    model_shape of;
    const char *device; // where parameters and inputs are
    tc_tensor input;
    tc_tensor
        p[MODEL_PARAMETERS]; // of blocks, then: words, places, last norm's scale and shift
    int n;
} model;

static inline tc_tensor model_attention(const model *m, tc_tensor qkv) {
    int64_t b = m->of.batch, t = m->of.tokens, c = m->of.width, h = m->of.heads;
    tc_tensor part[3];
    for (int i = 0; i < 3; i++) {
        tc_tensor x = tc_narrow(qkv, -1, i * c, c);
        part[i] = tc_transpose(tc_reshape(x, TC_DIMS(b, t, h, c / h)), 1, 2);
    }
    tc_tensor y =
        tc_scaled_dot_product_attention(part[0], part[1], part[2], tc_null(), 1, 0);
    return tc_reshape(tc_transpose(y, 1, 2), TC_DIMS(b, t, c));
}

static inline tc_tensor model_block(const model *m, tc_tensor x, const tc_tensor *p) {
    tc_tensor y =
        model_attention(m, tc_linear(tc_layer_norm(x, p[0], p[1], 1e-5), p[2], p[3]));
    x = tc_add(x, tc_linear(y, p[4], p[5]));
    y = tc_gelu_tanh(tc_linear(tc_layer_norm(x, p[6], p[7], 1e-5), p[8], p[9]));
    return tc_add(x, tc_linear(y, p[10], p[11]));
}

// A body of tc_compile; user is the model.
static inline void model_forward(tc_ctx *tc, const tc_tensor *in, tc_tensor *out,
                                 void *user) {
    const model *m = (const model *)user;
    const tc_tensor *last = m->p + m->of.layers * BLOCK_PARAMETERS;
    tc_tensor x = in[0];
    (void)tc;
    if (m->of.words) x = tc_add(tc_embedding(last[0], x), last[1]);
    for (int i = 0; i < m->of.layers; i++)
        x = model_block(m, x, m->p + i * BLOCK_PARAMETERS);
    if (m->of.words)
        x = tc_linear(tc_layer_norm(x, last[2], last[3], 1e-5), last[0], tc_null());
    out[0] = x;
}

static inline tc_tensor model_parameter(tc_ctx *tc, const model *m, tc_dims d,
                                        double scale) {
    tc_tensor t = tc_to(tc_mul_s(tc_randn(tc, d, TC_F32), scale), m->device);
    return m->of.dtype == TC_F32 ? t : tc_cast(t, m->of.dtype);
}

// Scales and shifts are random too.
static inline void model_make(tc_ctx *tc, model *m, const model_shape *of,
                              const char *device) {
    int64_t c = of->width;
    static const int wide[12] = {0, 0, 3, 3, 1, 1, 0, 0, 4, 4, -4, 1};
    m->of = *of, m->device = device, m->n = 0;
    for (int i = 0; i < of->layers * BLOCK_PARAMETERS; i++) {
        int k = i % BLOCK_PARAMETERS, w = wide[k];
        int matrix = k == 2 || k == 4 || k == 8 || k == 10;
        tc_dims d =
            matrix ? TC_DIMS(w < 0 ? c : w * c, w < 0 ? 4 * c : c) : TC_DIMS(w ? w * c : c);
        m->p[m->n++] = model_parameter(tc, m, d, matrix ? 0.02 : 1);
    }
    if (!of->words) {
        m->input = model_parameter(tc, m, TC_DIMS(of->batch, of->tokens, c), 1);
        return;
    }
    m->p[m->n++] = model_parameter(tc, m, TC_DIMS(of->words, c), 0.02);
    m->p[m->n++] = model_parameter(tc, m, TC_DIMS(of->tokens, c), 0.02);
    m->p[m->n++] = model_parameter(tc, m, TC_DIMS(c), 1);
    m->p[m->n++] = model_parameter(tc, m, TC_DIMS(c), 1);
    m->input = tc_to(tc_randint(tc, 0, of->words, TC_DIMS(of->batch, of->tokens), TC_I64),
                     m->device);
}

#endif
