// Whole blocks of networks: the loss and what it changes by with each parameter and input, against the values that
// PyTorch gives in f64 (blocks.py). In f64 and f32, op by op, interpreted and compiled, which give the same bits; in
// regions, by tc_grad, by tc_backward and out of a checkpoint, in functions, and by tc_jvp.
#include "tcompile.h"

#include "harness.h"

#include "help.h"

#include "grad/blocks_values.h"

enum { MOST = 13, ELEMENTS = 512, VALUES = 1300, VISITS = 3 };

// ---- operands ----
// An operand is a word: a kind, then sizes, "r3x4". Its numbers are fractions, the same in f32 and f64:
//     r [-1, 1), w [-0.5, 0.5), p [0.5, 1.5), s as p, a state, b bool, of which
//     row 2 is false, i7<5: 7 indices below 5
typedef struct operand {
    char kind;
    tc_dims dims;
    int n, limit;
    unsigned seed;
} operand;

typedef tc_tensor (*loss_of)(tc_ctx *tc, const tc_tensor *in);

typedef struct block {
    loss_of loss;
    operand operands[MOST];
    int n, n_derived;   // operands; those that the loss is derived by
    const double *want; // the loss, behind it all gradients, and states after all visits
    int n_want;
    tc_fn *f, *f_any; // both, in the context of the moment
} block;

// Kinds that the loss is derived by, and those that are written in place.
static const char DERIVED[] = "rwp", STATES[] = "s";

static int is_derived(const operand *o) { return strchr(DERIVED, o->kind) != NULL; }

// Reads one word; gives what is behind it.
static const char *operand_parse(operand *o, const char *s, unsigned seed) {
    char *end;
    memset(o, 0, sizeof *o);
    o->kind = *s, o->n = 1, o->seed = seed;
    do {
        int size = (int)strtol(s + 1, &end, 10);
        o->dims.size[o->dims.rank++] = size, o->n *= size, s = end;
    } while (*s == 'x');
    if (*s == '<') o->limit = (int)strtol(s + 1, &end, 10), s = end;
    CHECK(o->n <= ELEMENTS);
    return s + (*s == ' ');
}

// In [-1, 1), of 20 bits.
static double fraction(unsigned i, unsigned seed) {
    return ((int)(test_word(i, seed) >> 12 ^ 1u << 19) - (1 << 19)) / (double)(1 << 19);
}

static double number_of(const operand *o, int i) {
    unsigned word = test_word((unsigned)i, o->seed);
    double x = fraction((unsigned)i, o->seed);
    switch (o->kind) {
    case 'i': return word % (unsigned)o->limit;
    case 'b': return word % 8 < 5 && i / o->dims.size[1] != 2;
    case 'r': return x;
    case 'w': return 0.5 * x;
    }
    return 1 + 0.5 * x;
}

static tc_tensor operand_tensor(tc_ctx *tc, const operand *o, tc_dtype real) {
    double f64[ELEMENTS] = {0};
    tc_dtype dtype = o->kind == 'i' ? TC_I64 : o->kind == 'b' ? TC_BOOL : real;
    for (int i = 0; i < o->n; i++) f64[i] = number_of(o, i);
    tc_tensor t = tc_from_data(tc, f64, o->dims, TC_F64);
    return dtype == TC_F64 ? t : tc_cast(t, dtype);
}

static void operand_tensors(tc_ctx *tc, const block *b, tc_dtype real, tc_tensor *t) {
    for (int k = 0; k < b->n; k++) t[k] = operand_tensor(tc, &b->operands[k], real);
}

static void block_open(block *b, loss_of loss, const char *operands, const double *want,
                       int n_want) {
    int n = 1;
    memset(b, 0, sizeof *b);
    b->loss = loss, b->want = want, b->n_want = n_want;
    for (; *operands && CHECK(b->n < MOST); b->n++) {
        operand *o = &b->operands[b->n];
        operands = operand_parse(o, operands, (unsigned)b->n + 1);
        b->n_derived += is_derived(o);
        n += is_derived(o) || o->kind == 's' ? o->n : 0;
    }
    CHECK_EQ(n, n_want);
    CHECK(n_want <= VALUES);
}

// Those of in[] whose operands are of these kinds; how many.
static int operands_of(const block *b, const char *kinds, const tc_tensor *in,
                       tc_tensor *out) {
    int n = 0;
    for (int k = 0; k < b->n; k++)
        if (strchr(kinds, b->operands[k].kind)) out[n++] = in[k];
    return n;
}

// ---- ways to a gradient: each gives the loss and behind it the gradients ----
typedef void (*way)(tc_ctx *tc, const block *b, const tc_tensor *in, tc_tensor *out);

static void by_grad(tc_ctx *tc, const block *b, const tc_tensor *in, tc_tensor *out) {
    tc_tensor wrt[MOST];
    int n = operands_of(b, DERIVED, in, wrt);
    BEGIN("grad");
    out[0] = b->loss(tc, in);
    tc_grad(out[0], wrt, n, out + 1);
    END();
}

static void by_backward(tc_ctx *tc, const block *b, const tc_tensor *in, tc_tensor *out) {
    tc_tensor wrt[MOST];
    int n = operands_of(b, DERIVED, in, wrt);
    for (int i = 0; i < n; i++) CHECK_EQ(tc_requires_grad(wrt[i], 1), TC_OK);
    BEGIN("backward");
    for (int i = 0; i < n; i++) tc_zero_(tc_grad_of(wrt[i]));
    out[0] = b->loss(tc, in);
    CHECK_EQ(tc_backward(out[0]), TC_OK);
    END();
    for (int i = 0; i < n; i++) out[1 + i] = tc_grad_of(wrt[i]);
}

static void body(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    const block *b = (const block *)user;
    tc_tensor wrt[MOST];
    int n = operands_of(b, DERIVED, in, wrt);
    out[0] = b->loss(tc, in);
    tc_grad(out[0], wrt, n, out + 1);
}

static void by_function(tc_ctx *tc, const block *b, const tc_tensor *in, tc_tensor *out) {
    (void)tc;
    CALL(b->f, in, b->n, out, 1 + b->n_derived);
}

// All sizes are given to the program at run time.
static void of_any_sizes(tc_ctx *tc, const block *b, const tc_tensor *in, tc_tensor *out) {
    (void)tc;
    CALL(b->f_any, in, b->n, out, 1 + b->n_derived);
}

static void loss_alone(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    out[0] = ((const block *)user)->loss(tc, in);
}

static void by_checkpoint(tc_ctx *tc, const block *b, const tc_tensor *in, tc_tensor *out) {
    tc_tensor wrt[MOST];
    int n = operands_of(b, DERIVED, in, wrt);
    BEGIN("checkpoint");
    tc_checkpoint(tc, loss_alone, (void *)b, in, b->n, out, 1);
    tc_grad(out[0], wrt, n, out + 1);
    END();
}

enum { FUNCTION = 2, CHECKPOINT = 4, WAYS }; // no loop is in a checkpoint
static const struct {
    const char *name;
    way ask;
} ways[WAYS] = {{"grad", by_grad},
                {"backward", by_backward},
                {"function", by_function},
                {"any sizes", of_any_sizes},
                {"checkpoint", by_checkpoint}};

// What the loss changes by when each operand grows by its own part: forward mode.
static void check_forward(tc_ctx *tc, const block *b) {
    tc_tensor in[MOST], wrt[MOST], y;
    double is, want = 0, size = 0;
    int at = 1;
    tc_scope_begin(tc);
    operand_tensors(tc, b, TC_F64, in);
    int n = operands_of(b, DERIVED, in, wrt);
    BEGIN("forward");
    tc_jvp(b->loss(tc, in), wrt, wrt, n, &y);
    END();
    is = tc_item(y);
    for (int k = 0; k < b->n; k++)
        for (int i = 0; is_derived(&b->operands[k]) && i < b->operands[k].n; i++, at++) {
            double part = b->want[at] * number_of(&b->operands[k], i);
            want += part, size += fabs(part);
        }
    CHECK_NEAR(is, want, 1e-11 * size);
    if (tc_error(tc)) FAIL("%s", tc_error_text(tc));
    tc_error_clear(tc);
    tc_scope_end(tc);
}

// ---- comparing ----

static int read_doubles(tc_tensor t, double *to) {
    tc_tensor wide = tc_dtype_of(t) == TC_F64 ? t : tc_cast(t, TC_F64);
    int n = (int)tc_numel(wide);
    CHECK_EQ(tc_read(wide, to, (size_t)n * sizeof *to), TC_OK);
    return n;
}

static void near(const char *what, const double *got, const double *want, int n,
                 double tolerance) {
    double most = 0;
    for (int i = 0; i < n; i++) most = fmax(most, fabs(want[i]));
    for (int i = 0; i < n; i++)
        if (!(fabs(got[i] - want[i]) <= tolerance * most)) {
            FAIL("%s, element %d: %.13g, not %.13g; the largest is %g", what, i, got[i],
                 want[i], most);
            return;
        }
}

// Reads tensors, of operands of these kinds, to behind got[at]; each is to be near what is wanted there, relative to
// its largest element. Gives where that ends.
static int check_tensors(const block *b, const char *kinds, const tc_tensor *t,
                         const char *what, double *got, int at, double tolerance) {
    char name[100];
    for (int k = 0; k < b->n; k++) {
        if (!strchr(kinds, b->operands[k].kind)) continue;
        snprintf(name, sizeof name, "%s, operand %d", what, k);
        CHECK_EQ(read_doubles(*t++, got + at), b->operands[k].n);
        near(name, got + at, b->want + at, b->operands[k].n, tolerance);
        at += b->operands[k].n;
    }
    return at;
}

// Every visit of one way. What the last gave is left in `got`.
static void ask(tc_ctx *tc, const block *b, tc_dtype dtype, int w, const char *what,
                double *got) {
    tc_tensor in[MOST], out[1 + MOST], states[MOST];
    double tolerance = dtype == TC_F64 ? 1e-11 : 2e-5;
    int at = 0;
    tc_scope_begin(tc);
    operand_tensors(tc, b, dtype, in);
    for (int visit = 0; visit < VISITS; visit++) {
        ways[w].ask(tc, b, in, out);
        if (tc_error(tc)) break;
        read_doubles(out[0], got);
        near(what, got, b->want, 1, tolerance);
        at = check_tensors(b, DERIVED, out + 1, what, got, 1, tolerance);
    }
    operands_of(b, STATES, in, states);
    if (at) check_tensors(b, STATES, states, what, got, at, tolerance);
    if (tc_error(tc)) FAIL("%s: %s", what, tc_error_text(tc));
    tc_error_clear(tc);
    tc_scope_end(tc);
}

enum { EAGER, FUSED, COMPILED, BACKENDS };

// Compiled by each way only where all tests are wanted.
static void check_block(block *b, int n_ways, tc_dtype dtype) {
    static const char *const backends[BACKENDS] = {"eager", "aot_eager", "cpu"};
    static double got[BACKENDS][WAYS][VALUES];
    tc_options any = tc_options_default();
    any.dynamic = TC_DYNAMIC_ON;
    for (int k = 0; k < BACKENDS; k++) {
        int all = k != COMPILED || test_all();
        tc_ctx *tc = open_backend(backends[k]);
        REQUIRE(tc);
        b->f = tc_compile(tc, body, b, 0, NULL);
        b->f_any = tc_compile(tc, body, b, 0, &any);
        for (int w = 0; w < n_ways; w++) {
            char what[60];
            if (!all && w != FUNCTION) continue;
            snprintf(what, sizeof what, "%s, %s", backends[k], ways[w].name);
            ask(tc, b, dtype, w, what, got[k][w]);
            CHECK_BYTES(got[k][w], got[EAGER][w], sizeof(double) * (size_t)b->n_want);
        }
        if (all && dtype == TC_F64) check_forward(tc, b);
        tc_close(tc);
    }
}

// A block's operands and its loss, which follows, and what PyTorch gives for them.
#define BLOCK(name, operands, n_ways)                                                      \
    static tc_tensor name##_loss(tc_ctx *tc, const tc_tensor *in);                         \
    static void check_##name(tc_dtype dtype) {                                             \
        static block b;                                                                    \
        int n = (int)(sizeof name##_values / sizeof *name##_values);                       \
        block_open(&b, name##_loss, operands, name##_values, n);                           \
        check_block(&b, n_ways, dtype);                                                    \
    }                                                                                      \
    TEST(name##_f64) { check_##name(TC_F64); }                                             \
    TEST(name##_f32) { check_##name(TC_F32); }                                             \
    static tc_tensor name##_loss(tc_ctx *tc, const tc_tensor *in)

// ---- blocks: operands are those of the function of the same name in blocks.py ----

static tc_tensor mean_square(tc_tensor y) { return tc_mean_all(tc_mul(y, y)); }

BLOCK(mlp, "r7x9 w13x9 w13 w5x13 w5 i7<5", WAYS) {
    (void)tc;
    tc_tensor y = tc_gelu(tc_linear(in[0], in[1], in[2]));
    return tc_cross_entropy(tc_linear(y, in[3], in[4]), in[5]);
}

BLOCK(cnn, "r3x1x9x7 w4x1x3x3 p4 w4 s4 s4 w3x4x3x2 w3 w4x27 w4 i3<4", WAYS) {
    (void)tc;
    tc_tensor y = tc_conv2d(in[0], in[1], tc_null(), 2, 1, 1, 1);
    y = tc_relu(tc_batch_norm_running(y, in[4], in[5], in[2], in[3], 0.1, 1e-5));
    y = tc_relu(tc_conv2d(y, in[6], in[7], 1, 1, 1, 1));
    y = tc_max_pool2d(y, 3, 2, 1);
    return tc_cross_entropy(tc_linear(tc_flatten(y, 1, -1), in[8], in[9]), in[10]);
}

static tc_tensor self_attention(tc_tensor x, const tc_tensor *weight) {
    enum { HEADS = 2 };
    int64_t b = tc_dim(x, 0), t = tc_dim(x, 1), w = tc_dim(x, 2);
    tc_tensor qkv = tc_linear(x, weight[0], weight[1]), part[3];
    for (int i = 0; i < 3; i++) {
        tc_tensor one = tc_narrow(qkv, 2, i * w, w);
        one = tc_reshape(one, TC_DIMS(b, t, HEADS, w / HEADS));
        part[i] = tc_transpose(one, 1, 2);
    }
    tc_tensor y =
        tc_scaled_dot_product_attention(part[0], part[1], part[2], tc_null(), 1, 0);
    y = tc_reshape(tc_transpose(y, 1, 2), TC_DIMS(b, t, w));
    return tc_linear(y, weight[2], weight[3]);
}

BLOCK(transformer, "r2x5x12 p12 w12 w36x12 w36 w12x12 w12 p12 w12 w17x12 w17 w12x17 w12",
      WAYS) {
    (void)tc;
    tc_tensor x = in[0];
    x = tc_add(x, self_attention(tc_layer_norm(x, in[1], in[2], 1e-5), in + 3));
    tc_tensor y = tc_layer_norm(x, in[7], in[8], 1e-5);
    y = tc_gelu_tanh(tc_linear(y, in[9], in[10]));
    return mean_square(tc_add(x, tc_linear(y, in[11], in[12])));
}

BLOCK(attention_boolean, "r2x5x6 r2x7x6 r2x7x5 b5x7", WAYS) {
    (void)tc;
    return mean_square(tc_scaled_dot_product_attention(in[0], in[1], in[2], in[3], 0, 0));
}

BLOCK(attention_additive, "r2x5x6 r2x7x6 r2x7x5 r5x7", WAYS) {
    (void)tc;
    return mean_square(tc_scaled_dot_product_attention(in[0], in[1], in[2], in[3], 0, 0.7));
}

// A head of k and v is broadcast to those of q that share it.
BLOCK(attention_grouped, "r2x2x5x6 r2x1x7x6 r2x1x7x5", WAYS) {
    (void)tc;
    return mean_square(
        tc_scaled_dot_product_attention(in[0], in[1], in[2], tc_null(), 1, 0));
}

// in: h, c, what the input makes of the gates; out: h, c, h. user: weights of the block.
static void cell(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    const tc_tensor *weight = (const tc_tensor *)user;
    tc_tensor gate[4], all = tc_add(tc_linear(in[0], weight[4], tc_null()), in[2]);
    (void)tc;
    CHECK_EQ(tc_chunk(all, 4, 1, gate, 4), 4);
    tc_tensor come = tc_mul(tc_sigmoid(gate[0]), tc_tanh(gate[2]));
    out[1] = tc_add(tc_mul(tc_sigmoid(gate[1]), in[1]), come);
    out[0] = out[2] = tc_mul(tc_sigmoid(gate[3]), tc_tanh(out[1]));
}

BLOCK(lstm, "r12x2x3 r2x7 r2x7 w28x3 w28x7 w28 w4x7 w4", CHECKPOINT) {
    (void)tc;
    tc_tensor x = tc_linear(in[0], in[3], in[5]), last[2], ys;
    tc_scan(cell, (void *)in, &in[1], 2, &x, 1, last, &ys, 1);
    tc_tensor y = mean_square(tc_linear(ys, in[6], in[7]));
    return tc_add(y, tc_mean_all(tc_mul(last[0], last[1])));
}
