// Checkpoints: gradients have the bits of those without, whatever is in them, and programs hold less memory.
#include "tcompile.h"

#include "harness.h"

#include "help.h"

// n numbers around 0 that repeat after a while.
static tc_tensor waves(tc_ctx *tc, tc_dims d, double by, int seed) {
    int64_t n = 1;
    for (int i = 0; i < d.rank; i++) n *= d.size[i];
    float *p = (float *)malloc(sizeof *p * (size_t)n);
    for (int64_t i = 0; i < n; i++)
        p[i] = (float)(by * (double)((i * 37 + seed * 101) % 61 - 30) / 30);
    tc_tensor t = tc_from_data(tc, p, d, TC_F32);
    free(p);
    return t;
}

#define SAME(a, b, what) same_bits((a), (b), (what), __LINE__)
static void same_bits(tc_tensor a, tc_tensor b, const char *what, int line_number) {
    size_t n = (size_t)tc_numel(a);
    if (tc_numel(b) != (int64_t)n)
        test_fail(__FILE__, line_number, "%s: other sizes", what);
    float *x = (float *)malloc(sizeof *x * (n + 1)),
          *y = (float *)malloc(sizeof *y * (n + 1));
    CHECK_EQ(tc_read(a, x, n * sizeof *x), TC_OK);
    CHECK_EQ(tc_read(b, y, n * sizeof *y), TC_OK);
    for (size_t i = 0; i < n; i++)
        if (memcmp(&x[i], &y[i], sizeof *x)) {
            test_fail(__FILE__, line_number, "%s: element %d is %a, not %a", what, (int)i,
                      y[i], x[i]);
            break;
        }
    free(x), free(y);
}

// ---- bodies ----

enum { PARAMETERS = 6 };

typedef struct layer {
    tc_tensor w[PARAMETERS];
    int custom, checkpoint;
    tc_body inner;
} layer;

static void with_or_without(tc_ctx *tc, int checkpoint, tc_body body, void *user,
                            tc_tensor *x) {
    tc_tensor y = tc_null();
    if (checkpoint)
        CHECK_EQ(tc_checkpoint(tc, body, user, x, 1, &y, 1), TC_OK);
    else
        body(tc, x, &y, user);
    *x = y;
}

#define BODY(name)                                                                         \
    static void name(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user)
#define LAYER const layer *l = (const layer *)user; (void)tc, (void)l

BODY(dense) {
    LAYER;
    out[0] = tc_gelu(tc_linear(in[0], l->w[0], l->w[4]));
}

BODY(chain) {
    LAYER;
    out[0] = tc_mul(tc_sin(tc_add(in[0], l->w[4])), tc_exp(tc_neg(tc_square(in[0]))));
}

BODY(attention) { // over heads of 16
    LAYER;
    int64_t rows = tc_dim(in[0], 0), width = tc_dim(in[0], 1);
    tc_tensor n = tc_layer_norm(in[0], l->w[4], l->w[5], 1e-5), part[3];
    for (int i = 0; i < 3; i++)
        part[i] = tc_transpose(tc_reshape(tc_linear(n, l->w[i], tc_null()),
                                          TC_DIMS(1, rows, width / 16, 16)),
                               1, 2);
    tc_tensor y = tc_scaled_dot_product_attention(part[0], part[1], part[2], tc_null(), 1, 0);
    y = tc_reshape(tc_transpose(y, 1, 2), TC_DIMS(rows, width));
    out[0] = tc_add(in[0], tc_linear(y, l->w[3], tc_null()));
}

BODY(transformer) {
    LAYER;
    tc_tensor x;
    attention(tc, in, &x, user);
    tc_tensor h = tc_gelu(tc_linear(tc_layer_norm(x, l->w[4], l->w[5], 1e-5), l->w[0], l->w[4]));
    out[0] = tc_add(x, tc_dropout(tc_linear(h, l->w[1], l->w[5]), 0.1));
}

BODY(random_numbers) {
    LAYER;
    tc_tensor noise = tc_randn(tc, tc_shape(in[0]), TC_F32);
    tc_tensor x = tc_tanh(tc_add(tc_mul(in[0], noise), l->w[4]));
    out[0] = tc_add(tc_dropout(x, 0.3), tc_mul_s(in[0], 0.5));
}

BODY(writes) {
    LAYER;
    tc_tensor x = tc_clone(in[0]);
    tc_mul_(x, l->w[4]);
    tc_tensor y = tc_sigmoid(x);
    tc_add_(tc_slice(x, 1, 0, 8, 1), tc_slice(y, 1, 8, 16, 1));
    tc_copy_(tc_select(x, 0, 1), tc_select(y, 0, 2));
    out[0] = tc_mul(x, y);
}

BODY(views) {
    LAYER;
    tc_tensor t = tc_exp(tc_mul_s(tc_t(in[0]), 0.1));
    out[0] = tc_mul(tc_t(t), tc_flip(in[0], TC_DIMS(1)));
}

BODY(sorted) {
    LAYER;
    tc_tensor order = tc_argsort(in[0], 1, 0);
    out[0] = tc_cumsum(tc_mul_s(tc_gather(in[0], 1, order), 0.2), 1);
}

BODY(custom) {
    LAYER;
    tc_tensor x = tc_mul_s(in[0], 0.5);
    out[0] = tc_sin(tc_custom(tc, l->custom, &x, 1));
}

BODY(twice) { // of one value, and a detached one
    LAYER;
    tc_tensor e = tc_exp(tc_mul_s(in[0], 0.3));
    out[0] = tc_add(tc_mul(e, tc_detach(e)), tc_div(in[0], tc_add_s(e, 1)));
}

BODY(without_gradients) {
    LAYER;
    tc_no_grad_begin(tc);
    tc_tensor scale = tc_rsqrt(tc_add_s(tc_mean(tc_square(in[0]), -1), 1e-3));
    tc_no_grad_end(tc);
    out[0] = tc_tanh(tc_mul(in[0], tc_reshape(scale, TC_DIMS(tc_dim(in[0], 0), 1))));
}

// A norm of rows whose sum is made outside of what is made again, some of them 0.
BODY(norms) {
    LAYER;
    tc_tensor x = tc_mul(in[0], l->w[4]);
    tc_tensor n = tc_sqrt(tc_sum(tc_square(tc_relu(x)), -1));
    out[0] = tc_mul(x, tc_reshape(n, TC_DIMS(tc_dim(x, 0), 1)));
}

BODY(pools) {
    LAYER;
    int64_t n = tc_dim(in[0], 0);
    tc_tensor image = tc_reshape(in[0], TC_DIMS(1, 1, n, tc_dim(in[0], 1)));
    tc_tensor a = tc_max_pool2d(image, 2, 1, 0), b = tc_max_pool2d(image, 3, 1, 1);
    out[0] = tc_add(tc_mul_s(tc_sum_all(a), 1e-3), tc_reshape(b, tc_shape(in[0])));
}

BODY(nested) {
    layer *l = (layer *)user;
    tc_tensor x = tc_sin(in[0]);
    for (int i = 0; i < 3; i++) with_or_without(tc, l->checkpoint, l->inner, l, &x);
    out[0] = tc_mul(x, tc_cos(in[0]));
}

BODY(nested_deeper) {
    layer own = *(const layer *)user;
    tc_tensor x = tc_tanh(in[0]);
    own.inner = dense;
    for (int i = 0; i < 2; i++) with_or_without(tc, own.checkpoint, nested, &own, &x);
    out[0] = tc_add(x, in[0]);
}

BODY(forces) { // a gradient inside
    LAYER;
    tc_tensor g, x = in[0];
    tc_tensor energy = tc_sum_all(tc_mul(tc_square(x), tc_sin(tc_mul(x, l->w[4]))));
    CHECK_EQ(tc_grad(energy, &x, 1, &g), TC_OK);
    out[0] = tc_mul_s(g, 0.3);
}

BODY(nothing) {
    LAYER;
    out[0] = in[0];
}

static tc_status cube_run(void *user, const tc_buffer *in, int n_in, const tc_buffer *out) {
    const float *x = (const float *)in[0].data;
    float *y = (float *)out->data;
    int64_t n = 1;
    (void)n_in;
    for (int d = 0; d < in[0].spec.rank; d++) n *= in[0].spec.dims[d];
    for (int64_t i = 0; i < n; i++) y[i] = x[i] * x[i] * x[i];
    ++*(int *)user;
    return TC_OK;
}

static tc_status cube_gradient(tc_ctx *tc, void *user, const tc_tensor *in, int n_in,
                               tc_tensor out, tc_tensor g, tc_tensor *grad) {
    (void)tc, (void)user, (void)n_in;
    tc_tensor slope = tc_sub(tc_mul_s(tc_square(in[0]), 3), tc_mul_s(out, 1e-3));
    grad[0] = tc_mul(g, slope);
    return TC_OK;
}

static int register_cube(tc_ctx *tc, int *runs) {
    tc_custom_op op;
    memset(&op, 0, sizeof op);
    op.name = "cube", op.run = cube_run, op.user = runs, op.gradient = cube_gradient;
    return tc_register_op(tc, &op);
}

// ---- the same bits ----

static const struct {
    const char *name;
    tc_body body, inner;
} bodies[] = {
    {"dense", dense, NULL},
    {"chain", chain, NULL},
    {"attention", attention, NULL},
    {"transformer", transformer, NULL},
    {"random_numbers", random_numbers, NULL},
    {"writes", writes, NULL},
    {"views", views, NULL},
    {"sorted", sorted, NULL},
    {"custom", custom, NULL},
    {"twice", twice, NULL},
    {"without_gradients", without_gradients, NULL},
    {"norms", norms, NULL},
    {"pools", pools, NULL},
    {"nested dense", nested, dense},
    {"nested random", nested, random_numbers},
    {"nested custom", nested, custom},
    {"nested writes", nested, writes},
    {"nested twice", nested_deeper, NULL},
    {"forces", forces, NULL},
    {"nested forces", nested, forces},
    {"nothing", nothing, NULL},
};

enum { LAYERS = 3, GRADIENTS = LAYERS * PARAMETERS + 1 };

static void layers_open(tc_ctx *tc, layer *l, int n, int width) {
    for (int i = 0; i < n; i++)
        for (int k = 0; k < PARAMETERS; k++)
            l[i].w[k] = k < 4 ? waves(tc, TC_DIMS(width, width), 0.3, 7 * i + k)
                              : waves(tc, TC_DIMS(width), 0.7, 11 * i + k);
}

// Which parameters the loss depends on is the question of a lenient tc_backward: all of them have a gradient.
static void backward_of(tc_ctx *tc, layer *l, tc_tensor x, const char *name, tc_body body,
                        tc_tensor *loss) {
    tc_manual_seed(tc, 3);
    BEGIN(name);
    tc_tensor h = tc_mul_s(x, 1.5);
    for (int i = 0; i < LAYERS; i++)
        with_or_without(tc, l[i].checkpoint, body, &l[i], &h);
    *loss = tc_mean_all(tc_square(tc_add_s(h, 0.1)));
    CHECK_EQ(tc_backward(*loss), TC_OK);
    END();
}

BOTH(gradients_have_the_same_bits) {
    int runs = 0, number = register_cube(tc, &runs);
    for (size_t b = 0; b < sizeof bodies / sizeof *bodies; b++) {
        tc_tensor grad[2][GRADIENTS], loss[2];
        for (int on = 0; on < 2; on++) {
            layer l[LAYERS];
            char name[60];
            tc_tensor x = waves(tc, TC_DIMS(24, 32), 1, 5);
            layers_open(tc, l, LAYERS, 32);
            tc_requires_grad(x, 1), grad[on][GRADIENTS - 1] = tc_grad_of(x);
            for (int i = 0; i < LAYERS; i++) {
                l[i].custom = number, l[i].checkpoint = on, l[i].inner = bodies[b].inner;
                for (int k = 0; k < PARAMETERS; k++) {
                    tc_requires_grad(l[i].w[k], 1);
                    grad[on][i * PARAMETERS + k] = tc_grad_of(l[i].w[k]);
                }
            }
            snprintf(name, sizeof name, "%s %d", bodies[b].name, on);
            for (int visit = 0; visit < 3; visit++)
                backward_of(tc, l, x, name, bodies[b].body, &loss[on]);
            tc_keep(loss[on]);
        }
        SAME(loss[0], loss[1], bodies[b].name);
        for (int i = 0; i < GRADIENTS; i++) SAME(grad[0][i], grad[1][i], bodies[b].name);
        if (tc_error(tc)) FAIL("%s: %s", bodies[b].name, tc_error_text(tc));
        tc_error_clear(tc);
    }
}
