// Trains a small GPT on characters: 5 layers of 128, 4 heads, 128 characters of context, 1.0 million parameters
// (Radford et al. 2019, as Karpathy's nanoGPT has it). A step is one program: loss, gradients, their clipping and
// AdamW of all parameters; the learning rate, another in each step, is an argument of it.
//
// Build: cc -O2 -I. examples/char_gpt.c -o char_gpt -lm -lpthread -ldl
// Run:   ./char_gpt [steps [text...]]     (default 32 steps, README.md tcompile.h: as much of each as TEXT_MOST)
// Prints the loss, the loss on text that was held out, in nats a character, and what the network writes. Exit status 1
// if it has learned less than the letters' frequencies tell, after LONG_RUN steps if the loss on what was held out is
// more than LONG_BAR, or if there are more programs of a step than two: one had the first rate compiled in.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LAYERS = 5, WIDTH = 128, HEADS = 4, CONTEXT = 128, BATCH = 16 };
enum { STEPS = 32, LONG_RUN = 600, WARM_UP = 30, SAMPLE = 400 };
enum { TEXT_MOST = 1 << 17, TEXTS_MOST = 8, BLOCK = 1024, HELD_EVERY = 10, ALPHABET = 256 };
static const double RATE = 3e-3, DROPOUT = 0.05, CLIP = 1, LONG_BAR = 1.8;

enum { NORM1, QKV, PROJECT, NORM2, UP, DOWN, OF_LAYER };
enum { TOKEN, PLACE, LAST_NORM, FIRST_LAYER, WEIGHTS = FIRST_LAYER + LAYERS * OF_LAYER };

typedef struct model {
    tc_tensor weight[WEIGHTS], average[WEIGHTS], square[WEIGHTS]; // of the gradients
    tc_tensor steps;                                              // made so far
    int vocabulary;
} model;

// Characters as numbers below the size of the vocabulary.
typedef struct text {
    int32_t train[TEXTS_MOST * TEXT_MOST], held[TEXTS_MOST * TEXT_MOST];
    int n_train, n_held, vocabulary;
    int number[ALPHABET];
    char character[ALPHABET];
} text;

// ---- the text ----

static int number_of(text *t, unsigned char c) {
    if (t->number[c] < 0) {
        t->character[t->vocabulary] = (char)c;
        t->number[c] = t->vocabulary++;
    }
    return t->number[c];
}

// Every tenth block of 1024 characters is held out. 0 = the file is not there.
static int load(text *t, const char *path) {
    static unsigned char bytes[TEXT_MOST];
    FILE *f = fopen(path, "rb");
    if (!f) return 0;
    int n = (int)fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    for (int i = 0; i < n; i++) {
        int held = i / BLOCK % HELD_EVERY == HELD_EVERY - 1;
        int32_t *to = held ? &t->held[t->n_held++] : &t->train[t->n_train++];
        *to = number_of(t, bytes[i]);
    }
    return 1;
}

static uint32_t random_below(uint32_t n) {
    static uint64_t seed = 1;
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((seed >> 33) % n);
}

// ---- the network ----

static tc_tensor normal(tc_ctx *tc, tc_dims dims, double deviation) {
    return tc_mul_s_(tc_randn(tc, dims, TC_F32), deviation);
}

static void make_layer(tc_ctx *tc, tc_tensor *w) {
    double inner = 0.02 / sqrt(2.0 * LAYERS); // what is added to x by all layers
    w[NORM1] = tc_ones(tc, TC_DIMS(WIDTH), TC_F32);
    w[QKV] = normal(tc, TC_DIMS(3 * WIDTH, WIDTH), 0.02);
    w[PROJECT] = normal(tc, TC_DIMS(WIDTH, WIDTH), inner);
    w[NORM2] = tc_ones(tc, TC_DIMS(WIDTH), TC_F32);
    w[UP] = normal(tc, TC_DIMS(4 * WIDTH, WIDTH), 0.02);
    w[DOWN] = normal(tc, TC_DIMS(WIDTH, 4 * WIDTH), inner);
}

static model make_model(tc_ctx *tc, int vocabulary) {
    model m;
    m.vocabulary = vocabulary;
    m.weight[TOKEN] = normal(tc, TC_DIMS(vocabulary, WIDTH), 0.02);
    m.weight[PLACE] = normal(tc, TC_DIMS(CONTEXT, WIDTH), 0.02);
    m.weight[LAST_NORM] = tc_ones(tc, TC_DIMS(WIDTH), TC_F32);
    for (int i = 0; i < LAYERS; i++) make_layer(tc, m.weight + FIRST_LAYER + i * OF_LAYER);
    for (int i = 0; i < WEIGHTS; i++) {
        m.average[i] = tc_zeros_like(m.weight[i]);
        m.square[i] = tc_zeros_like(m.weight[i]);
    }
    m.steps = tc_zeros(tc, TC_SCALAR, TC_F32);
    return m;
}

static int64_t count_parameters(const model *m) {
    int64_t n = 0;
    for (int i = 0; i < WEIGHTS; i++) n += tc_numel(m->weight[i]);
    return n;
}

static tc_tensor norm(tc_tensor x, tc_tensor weight) {
    return tc_layer_norm(x, weight, tc_null(), 1e-5);
}

static tc_tensor linear(tc_tensor x, tc_tensor weight) {
    return tc_linear(x, weight, tc_null());
}

// x[B, T, WIDTH]; each place attends to itself and those before it.
static tc_tensor attention(tc_tensor x, const tc_tensor *w) {
    int64_t length = tc_dim(x, 1);
    tc_tensor qkv =
        tc_reshape(linear(x, w[QKV]), TC_DIMS(-1, length, 3, HEADS, WIDTH / HEADS));
    qkv = tc_permute(qkv, TC_DIMS(2, 0, 3, 1, 4));
    tc_tensor q = tc_select(qkv, 0, 0), k = tc_select(qkv, 0, 1), v = tc_select(qkv, 0, 2);
    tc_tensor y = tc_scaled_dot_product_attention(q, k, v, tc_null(), 1, 0);
    y = tc_reshape(tc_permute(y, TC_DIMS(0, 2, 1, 3)), TC_DIMS(-1, length, WIDTH));
    return linear(y, w[PROJECT]);
}

static tc_tensor perceptron(tc_tensor x, const tc_tensor *w) {
    return linear(tc_gelu_tanh(linear(x, w[UP])), w[DOWN]);
}

// tokens[B, T] -> [B, T, vocabulary]; without dropout where it is 0.
static tc_tensor logits(const model *m, tc_tensor tokens, double dropout) {
    tc_tensor place = tc_narrow(m->weight[PLACE], 0, 0, tc_dim(tokens, 1));
    tc_tensor x = tc_add(tc_embedding(m->weight[TOKEN], tokens), place);
    if (dropout > 0) x = tc_dropout(x, dropout);
    for (int i = 0; i < LAYERS; i++) {
        const tc_tensor *w = m->weight + FIRST_LAYER + i * OF_LAYER;
        tc_tensor y = attention(norm(x, w[NORM1]), w);
        x = tc_add(x, dropout > 0 ? tc_dropout(y, dropout) : y);
        y = perceptron(norm(x, w[NORM2]), w);
        x = tc_add(x, dropout > 0 ? tc_dropout(y, dropout) : y);
    }
    return linear(norm(x, m->weight[LAST_NORM]), m->weight[TOKEN]);
}

// Mean loss of all characters of batch[B, CONTEXT + 1] but the first, each told from those before it.
static tc_tensor loss_of(const model *m, tc_tensor batch, double dropout) {
    tc_tensor before = tc_narrow(batch, 1, 0, CONTEXT);
    tc_tensor next = tc_reshape(tc_narrow(batch, 1, 1, CONTEXT), TC_DIMS(-1));
    tc_tensor y = tc_reshape(logits(m, before, dropout), TC_DIMS(-1, m->vocabulary));
    return tc_cross_entropy(y, next);
}

// ---- training ----

// Forward, backward and the update of all weights: one graph, that writes in place.
static double step(tc_ctx *tc, const model *m, tc_tensor batch, double rate, int wanted) {
    tc_tensor gradient[WEIGHTS];
    tc_trace_begin(tc, "step");
    tc_tensor loss = loss_of(m, batch, DROPOUT);
    tc_grad(loss, m->weight, WEIGHTS, gradient);
    tc_clip_grad_norm_(gradient, WEIGHTS, CLIP, 2);
    tc_adamw_list_(m->weight, gradient, m->average, m->square, WEIGHTS, m->steps, rate, 0.9,
                   0.99, 1e-8, 0.1);
    tc_trace_end(tc);
    return wanted ? tc_item(loss) : 0;
}

// Up to RATE, and from there down to a tenth of it by half a cosine.
static double rate_of(int i, int steps) {
    int warm_up = steps / 4 < WARM_UP ? steps / 4 : WARM_UP;
    if (i < warm_up) return RATE * (i + 1) / warm_up;
    double done = (double)(i - warm_up) / (steps - warm_up);
    return RATE * (0.1 + 0.9 * 0.5 * (1 + cos(3.141592653589793 * done)));
}

static void fill(int32_t (*batch)[CONTEXT + 1], const int32_t *from, int n) {
    for (int i = 0; i < BATCH; i++)
        memcpy(batch[i], from + random_below((uint32_t)(n - CONTEXT)), sizeof batch[i]);
}

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void train(tc_ctx *tc, const model *m, const text *t, int steps) {
    static int32_t tokens[BATCH][CONTEXT + 1];
    tc_tensor batch = tc_wrap(tc, tokens, TC_DIMS(BATCH, CONTEXT + 1), TC_I32);
    double begun = seconds();
    int shown = 0, every = steps / 10 > 0 ? steps / 10 : 1;
    for (int i = 0; i < steps && !tc_error(tc); i++) {
        int show = i % every == every - 1 || i == steps - 1;
        fill(tokens, t->train, t->n_train);
        double loss = step(tc, m, batch, rate_of(i, steps), show);
        if (!show) continue;
        double now = seconds();
        printf("step %4d: loss %.3f, %.0f characters a second\n", i + 1, loss,
               (double)(i + 1 - shown) * BATCH * CONTEXT / (now - begun));
        fflush(stdout);
        begun = now, shown = i + 1;
    }
    tc_free(batch);
}

// Mean loss of what was held out, as far as it fills batches.
static double held_out_loss(tc_ctx *tc, const model *m, const text *t) {
    static int32_t tokens[BATCH][CONTEXT + 1];
    tc_tensor batch = tc_wrap(tc, tokens, TC_DIMS(BATCH, CONTEXT + 1), TC_I32);
    double sum = 0;
    int n = 0;
    for (int at = 0; at + BATCH * CONTEXT < t->n_held; at += BATCH * CONTEXT, n++) {
        for (int i = 0; i < BATCH; i++)
            memcpy(tokens[i], t->held + at + i * CONTEXT, sizeof tokens[i]);
        tc_trace_begin(tc, "held out");
        tc_tensor loss = loss_of(m, batch, 0);
        tc_trace_end(tc);
        sum += tc_item(loss);
    }
    tc_free(batch);
    return n ? sum / n : (double)NAN;
}

// What frequencies of characters alone tell: their entropy in nats.
static double entropy(const text *t) {
    double count[ALPHABET] = {0}, sum = 0;
    for (int i = 0; i < t->n_train; i++) count[t->train[i]]++;
    for (int i = 0; i < t->vocabulary; i++) {
        double p = count[i] / t->n_train;
        if (p > 0) sum -= p * log(p);
    }
    return sum;
}

// ---- writing ----

// A character, as likely as the network has it.
static int draw(const float *p, int n) {
    double at = (double)random_below(1 << 30) / (1 << 30);
    for (int i = 0; i < n; i++)
        if ((at -= (double)p[i]) < 0) return i;
    return n - 1;
}

// Text behind a line break. Its length is a size that the program gets at run time.
static void write_text(tc_ctx *tc, const model *m, text *t, int n) {
    int32_t past[CONTEXT];
    float p[ALPHABET];
    int length = 1;
    past[0] = number_of(t, '\n');
    for (int i = 0; i < n && !tc_error(tc); i++) {
        tc_scope_begin(tc);
        tc_tensor tokens = tc_wrap(tc, past, TC_DIMS(1, length), TC_I32);
        tc_trace_begin(tc, "write");
        tc_tensor last = tc_select(logits(m, tokens, 0), 1, -1);
        tc_tensor share = tc_softmax(tc_mul_s(last, 1 / 0.8), -1);
        tc_trace_end(tc);
        tc_read(share, p, (size_t)m->vocabulary * sizeof *p);
        tc_scope_end(tc);
        if (length == CONTEXT) memmove(past, past + 1, (size_t)--length * sizeof *past);
        past[length] = draw(p, m->vocabulary);
        putchar(t->character[past[length++]]);
    }
    putchar('\n');
}

int main(int argc, char **argv) {
    static const char *const usual[] = {"README.md", "tcompile.h"};
    static text t;
    int steps = argc > 1 ? atoi(argv[1]) : STEPS, files = argc > 2 ? argc - 2 : 2;
    memset(t.number, -1, sizeof t.number);
    for (int i = 0; i < files && i < TEXTS_MOST; i++) {
        const char *path = argc > 2 ? argv[2 + i] : usual[i];
        if (load(&t, path)) continue;
        fprintf(stderr, "%s is not there; run from the root or name a text\n", path);
        return 1;
    }
    if (steps < 1 || t.n_held <= BATCH * CONTEXT) {
        fprintf(stderr, "usage: char_gpt [steps [text...]], with %d characters or more\n",
                HELD_EVERY * (BATCH * CONTEXT + BLOCK));
        return 1;
    }
    tc_ctx *tc = tc_open(NULL);
    if (!tc) return 1;
    tc_manual_seed(tc, 1);
    model m = make_model(tc, t.vocabulary);
    printf("%d characters of %d kinds, %d held out; %lld parameters\n", t.n_train,
           t.vocabulary, t.n_held, (long long)count_parameters(&m));
    double begun = seconds();
    train(tc, &m, &t, steps);
    double loss = held_out_loss(tc, &m, &t), bar = entropy(&t);
    printf("held out: loss %.3f after %d steps, %.1f s; frequencies alone have %.3f\n",
           loss, steps, seconds() - begun, bar);
    write_text(tc, &m, &t, SAMPLE);
    tc_explanation made = tc_explain_counts(tc, "step");
    printf("a step is one program, of %d kernels; %d programs: one had the first rate "
           "compiled in\n",
           made.programs ? made.kernels / made.programs : 0, made.programs);
    if (tc_error(tc)) fprintf(stderr, "error: %s\n", tc_error_text(tc));
    if (steps >= LONG_RUN) bar = LONG_BAR;
    int ok = !tc_error(tc) && loss <= bar && made.programs <= 2;
    tc_close(tc);
    return !ok;
}
