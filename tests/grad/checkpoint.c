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
#define LAYER                                                                              \
    const layer *l = (const layer *)user;                                                  \
    (void)tc, (void)l

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
        part[i] = tc_transpose(
            tc_reshape(tc_linear(n, l->w[i], tc_null()), TC_DIMS(1, rows, width / 16, 16)),
            1, 2);
    tc_tensor y =
        tc_scaled_dot_product_attention(part[0], part[1], part[2], tc_null(), 1, 0);
    y = tc_reshape(tc_transpose(y, 1, 2), TC_DIMS(rows, width));
    out[0] = tc_add(in[0], tc_linear(y, l->w[3], tc_null()));
}

BODY(transformer) {
    LAYER;
    tc_tensor x;
    attention(tc, in, &x, user);
    tc_tensor h =
        tc_gelu(tc_linear(tc_layer_norm(x, l->w[4], l->w[5], 1e-5), l->w[0], l->w[4]));
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
    int shares; // several checkpoints turn the same weight: what it counts twice derived adds up in another order
} bodies[] = {
    {"dense", dense, NULL, 0},
    {"chain", chain, NULL, 0},
    {"attention", attention, NULL, 0},
    {"transformer", transformer, NULL, 0},
    {"random_numbers", random_numbers, NULL, 0},
    {"writes", writes, NULL, 0},
    {"views", views, NULL, 0},
    {"sorted", sorted, NULL, 0},
    {"custom", custom, NULL, 0},
    {"twice", twice, NULL, 0},
    {"without_gradients", without_gradients, NULL, 0},
    {"norms", norms, NULL, 0},
    {"pools", pools, NULL, 0},
    {"nested dense", nested, dense, 1},
    {"nested random", nested, random_numbers, 0},
    {"nested custom", nested, custom, 0},
    {"nested writes", nested, writes, 0},
    {"nested twice", nested_deeper, NULL, 1},
    {"forces", forces, NULL, 0},
    {"nested forces", nested, forces, 0},
    {"nothing", nothing, NULL, 0},
};

enum { LAYERS = 3, GRADIENTS = LAYERS * PARAMETERS + 1 };

static void layers_open(tc_ctx *tc, layer *l, int n, int width) {
    for (int i = 0; i < n; i++)
        for (int k = 0; k < PARAMETERS; k++)
            l[i].w[k] = k < 4 ? waves(tc, TC_DIMS(width, width), 0.3, 7 * i + k)
                              : waves(tc, TC_DIMS(width), 0.7, 11 * i + k);
}

// Which parameters the loss depends on is the question of a lenient tc_backward: all of them have a gradient. Of
// order 2 what it depends on is the gradient by x, too.
static void backward_of(tc_ctx *tc, layer *l, tc_tensor x, const char *name, tc_body body,
                        int order, tc_tensor *loss) {
    tc_manual_seed(tc, 3);
    BEGIN(name);
    tc_tensor h = tc_mul_s(x, 1.5), g;
    for (int i = 0; i < LAYERS; i++) with_or_without(tc, l[i].checkpoint, body, &l[i], &h);
    *loss = tc_mean_all(tc_square(tc_add_s(h, 0.1)));
    if (order > 1 && !tc_grad(*loss, &x, 1, &g))
        *loss = tc_add(*loss, tc_sum_all(tc_square(g)));
    CHECK_EQ(tc_backward(*loss), TC_OK);
    END();
}

// Without is interpreted, which has the bits of compiled code.
static void with_and_without(tc_ctx *with, int order) {
    tc_ctx *of[2] = {open_backend("aot_eager"), with};
    int runs = 0, number[2] = {register_cube(of[0], &runs), register_cube(of[1], &runs)};
    for (size_t b = 0; b < sizeof bodies / sizeof *bodies; b++) {
        tc_tensor grad[2][GRADIENTS], loss[2];
        if (order > 1 && bodies[b].shares) continue;
        for (int on = 0; on < 2; on++) {
            tc_ctx *tc = of[on];
            layer l[LAYERS];
            char name[60];
            tc_tensor x = waves(tc, TC_DIMS(24, 32), 1, 5);
            layers_open(tc, l, LAYERS, 32);
            tc_requires_grad(x, 1), grad[on][GRADIENTS - 1] = tc_grad_of(x);
            for (int i = 0; i < LAYERS; i++) {
                l[i].custom = number[on], l[i].checkpoint = on,
                l[i].inner = bodies[b].inner;
                for (int k = 0; k < PARAMETERS; k++) {
                    tc_requires_grad(l[i].w[k], 1);
                    grad[on][i * PARAMETERS + k] = tc_grad_of(l[i].w[k]);
                }
            }
            snprintf(name, sizeof name, "%s %d", bodies[b].name, on);
            for (int visit = 0; visit < 3; visit++)
                backward_of(tc, l, x, name, bodies[b].body, order, &loss[on]);
            tc_keep(loss[on]);
        }
        SAME(loss[0], loss[1], bodies[b].name);
        for (int i = 0; i < GRADIENTS; i++) SAME(grad[0][i], grad[1][i], bodies[b].name);
        for (int on = 0; on < 2; on++) {
            if (tc_error(of[on])) FAIL("%s: %s", bodies[b].name, tc_error_text(of[on]));
            tc_error_clear(of[on]);
        }
    }
    tc_close(of[0]);
}

BOTH(gradients_have_the_same_bits) { with_and_without(tc, 1); }

TEST(gradients_of_gradients_have_the_same_bits) {
    tc_ctx *tc = open_backend("aot_eager");
    REQUIRE(tc);
    with_and_without(tc, 2);
    tc_close(tc);
}

// A custom op is run again; a value that nothing asks for again is not computed again.
BOTH(only_what_is_needed_is_computed_again) {
    int runs = 0, number = register_cube(tc, &runs);
    layer l[LAYERS];
    tc_tensor x = waves(tc, TC_DIMS(24, 32), 1, 5), loss, y;
    layers_open(tc, l, LAYERS, 32);
    for (int i = 0; i < LAYERS; i++) l[i].custom = number, l[i].checkpoint = 1;
    tc_requires_grad(x, 1);
    backward_of(tc, l, x, "again", custom, 1, &loss);
    CHECK_EQ(runs, 2 * LAYERS);
    runs = 0;
    BEGIN("forward alone");
    CHECK_EQ(tc_checkpoint(tc, custom, &l[0], &x, 1, &y, 1), TC_OK);
    END();
    CHECK_EQ(runs, 1);
    runs = 0;
    BEGIN("eager");
    tc_disable_begin(tc);
    CHECK_EQ(tc_checkpoint(tc, custom, &l[0], &x, 1, &y, 1), TC_OK);
    tc_disable_end(tc);
    END();
    CHECK_EQ(tc_checkpoint(tc, custom, &l[0], &x, 1, &y, 1), TC_OK);
    CHECK_EQ(runs, 2);
}

// ---- memory ----

// Bytes of the intermediates of a step with n layers of a body.
static double step_bytes(tc_ctx *tc, int checkpoint, int n, int rows, int width,
                         tc_body body, const char *name) {
    enum { DEEP = 8 };
    layer l[DEEP];
    tc_tensor x = waves(tc, TC_DIMS(rows, width), 1, 5), wrt[DEEP], g[DEEP];
    double before = (double)tc_stats_get(tc).arena_bytes;
    layers_open(tc, l, n, width);
    for (int i = 0; i < n; i++) wrt[i] = l[i].w[0];
    BEGIN(name);
    tc_tensor h = x;
    for (int i = 0; i < n; i++) with_or_without(tc, checkpoint, body, &l[i], &h);
    CHECK_EQ(tc_grad(tc_mean_all(tc_square(h)), wrt, n, g), TC_OK);
    END();
    return (double)tc_stats_get(tc).arena_bytes - before;
}

static void holds_less(tc_ctx *tc, int rows, int width, tc_body body, double share) {
    double without = step_bytes(tc, 0, 8, rows, width, body, "without");
    double with = step_bytes(tc, 1, 8, rows, width, body, "with");
    double few = step_bytes(tc, 1, 2, rows, width, body, "two with");
    double activation = rows * width * 4.0;
    if (with > share * without) FAIL("%g bytes with, %g without", with, without);
    // each further layer keeps its input, and nothing else of the rows
    if (with - few > 6.5 * activation)
        FAIL("6 layers more take %g activations", (with - few) / activation);
}

// The report tells what is kept, of which calls, and what is computed again.
BOTH(the_report_tells_what_is_kept) {
    layer l[2];
    tc_tensor x = waves(tc, TC_DIMS(640, 128), 1, 5);
    long kept[2] = {0, 0};
    layers_open(tc, l, 2, 128);
    for (int on = 0; on < 2; on++) {
        tc_tensor h = x, wrt[2], g[2];
        for (int i = 0; i < 2; i++) wrt[i] = l[i].w[0];
        tc_reset(tc);
        BEGIN("report");
        for (int i = 0; i < 2; i++) with_or_without(tc, on, dense, &l[i], &h);
        CHECK_EQ(tc_grad(tc_mean_all(tc_square(h)), wrt, 2, g), TC_OK);
        END();
        const char *text = tc_explain(tc);
        CHECK(strstr(text, "gradients: 0 bytes are kept") == NULL);
        CHECK(strstr(text, " bytes of gelu at "));
        CHECK(!on || !strstr(text, " bytes of linear at "));
        const char *bytes = strstr(text, "gradients: ");
        CHECK(bytes != NULL);
        if (bytes) kept[on] = atol(bytes + strlen("gradients: "));
        CHECK(!strstr(text, "gradients: computed again for them\n    linear at ") == !on);
        CHECK(strstr(text, " bytes of intermediates live at once, in kernel "));
    }
    CHECK(kept[1] > 0 && kept[1] < kept[0]);
    tc_reset(tc);
    BEGIN("none");
    tc_tensor y = tc_gelu(x);
    END();
    CHECK(y.id && !strstr(tc_explain(tc), "gradients: "));
}

BOTH(a_deep_network_holds_less) { holds_less(tc, 640, 128, dense, 0.7); }
// A pool's slopes are made of its taps again, not where it was first computed: with them the copies would be there, too.
BODY(pooled) {
    LAYER;
    int64_t rows = tc_dim(in[0], 0), width = tc_dim(in[0], 1);
    tc_tensor x = tc_gelu(tc_linear(in[0], l->w[0], l->w[4]));
    x = tc_reshape(x, TC_DIMS(rows / 40, width / 4, 40, 4));
    out[0] = tc_reshape(tc_max_pool2d(tc_sin(x), 3, 1, 1), TC_DIMS(rows, width));
}

BOTH(a_stack_of_pools_holds_less) { holds_less(tc, 640, 64, pooled, 0.4); }
BOTH(a_stack_of_transformers_holds_less) { holds_less(tc, 1040, 64, transformer, 0.5); }

// ---- budgets ----

// Bytes of the intermediates of a step through n layers of a body; g: by x, then by layers' matrices, if they have one.
static double budget_bytes(tc_ctx *tc, int percent, layer *l, int n, tc_tensor x,
                           tc_body body, tc_tensor *g) {
    tc_options o = tc_options_default();
    tc_tensor wrt[25], h = x;
    double before = (double)tc_stats_get(tc).arena_bytes;
    o.memory_budget = percent;
    tc_manual_seed(tc, 5);
    tc_trace_begin_at(tc, "budget", &o, "test.c", 1);
    for (int i = 0; i < n; i++) {
        wrt[1 + i] = l[i].w[0];
        with_or_without(tc, l[i].checkpoint, body, &l[i], &h);
    }
    wrt[0] = x, n = l[0].inner ? 1 : n + 1;
    CHECK_EQ(tc_grad(tc_mean_all(tc_square(h)), wrt, n, g), TC_OK);
    END();
    for (int i = 0; i < n; i++) tc_keep(g[i]);
    return (double)tc_stats_get(tc).arena_bytes - before;
}

static void row_body(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = out[1] = tc_tanh(tc_add(in[0], in[1]));
}

// A budget that no blocks meet is told where a report begins, one that is met is not.
BOTH(a_budget_that_is_not_met_is_named) {
    static const int percent[] = {0, 60, 1};
    layer l[8];
    tc_tensor x = waves(tc, TC_DIMS(640, 64), 1, 5), g[25], h, y, wrt;
    layers_open(tc, l, 8, 64);
    for (int k = 0; k < 8; k++) l[k].inner = NULL, l[k].checkpoint = 0;
    for (int k = 0; k < 3; k++) {
        tc_reset(tc);
        budget_bytes(tc, percent[k], l, 8, x, dense, g);
        const char *text = tc_explain(tc), *first = strstr(text, "\n\n");
        const char *next =
            strstr(text, "    next: intermediates of region \"budget\" (test.c:1)");
        CHECK(first && !next == (k < 2));
        CHECK(!strstr(text, "next: nothing is in the way") == (k == 2));
        if (!next) continue;
        int kept = 0;
        CHECK(next < first);
        CHECK_EQ(sscanf(strstr(next, " take "), " take %d %%", &kept), 1);
        CHECK(kept > 1 && kept < 60);
        CHECK(strstr(next, "over memory_budget 1: less was not found"));
    }
    tc_options o = tc_options_default();
    o.memory_budget = 50;
    tc_reset(tc);
    wrt = tc_zeros(tc, TC_DIMS(64), TC_F32);
    tc_trace_begin_at(tc, "loop", &o, "test.c", 2);
    CHECK_EQ(tc_scan(row_body, NULL, &wrt, 1, &x, 1, &h, &y, 1), TC_OK);
    CHECK_EQ(tc_grad(tc_sum_all(h), &wrt, 1, g), TC_OK);
    END();
    CHECK(strstr(tc_explain(tc), "region \"loop\" (test.c:2) take 100 % of what they would "
                                 "without a budget, over memory_budget 50: it does nothing "
                                 "where there are loops"));
}

// Another budget is another program of the region, with the same bits.
static void check_budgets(tc_ctx *tc, int rows, int width, int n, tc_body body,
                          tc_body inner, double third) {
    static const int percent[] = {0, 70, 40, 1, 100};
    layer l[24];
    tc_tensor x = waves(tc, TC_DIMS(rows, width), 1, 5), g[5][25];
    double bytes[5];
    int runs = 0, number = register_cube(tc, &runs);
    layers_open(tc, l, n, width);
    for (int i = 0; i < n; i++)
        l[i].inner = inner, l[i].custom = number, l[i].checkpoint = inner && i % 2;
    for (int k = 0; k < 5; k++) {
        uint64_t made = tc_stats_get(tc).programs;
        bytes[k] = budget_bytes(tc, percent[k], l, n, x, body, g[k]);
        CHECK_EQ(tc_stats_get(tc).programs - made, 1);
        for (int i = 0; i < (inner ? 1 : n + 1); i++) SAME(g[0][i], g[k][i], "budget");
        if (third > 0) tc_reset(tc); // bytes are of one program
    }
    if (third > 0 && !(bytes[1] < 0.9 * bytes[0] && bytes[2] < 0.7 * bytes[0] &&
                       bytes[3] < third * bytes[0] && bytes[4] == bytes[0]))
        FAIL("%g bytes, %g, %g, %g", bytes[0], bytes[1], bytes[2], bytes[3]);
}

BOTH(a_budget_holds_less) { check_budgets(tc, 640, 128, 16, dense, NULL, 0.5); }
BOTH(a_budget_of_transformers) { check_budgets(tc, 24, 32, 4, transformer, NULL, 0); }
BOTH(a_budget_around_checkpoints) { check_budgets(tc, 24, 32, 6, nested, custom, 0); }
BOTH(a_budget_of_random_numbers) {
    check_budgets(tc, 24, 32, 6, nested, random_numbers, 0);
}
BOTH(a_budget_of_writes) { check_budgets(tc, 24, 32, 6, nested, writes, 0); }
BOTH(a_budget_of_forces) { check_budgets(tc, 24, 32, 3, nested, forces, 0); }

// ---- what surrounds it ----

BODY(two_results) { // of two inputs and a tensor of places
    LAYER;
    tc_tensor rows = tc_take(in[0], in[2], 0);
    out[0] = tc_mul(tc_exp(tc_mul_s(rows, 0.1)), in[1]);
    out[1] = tc_sum(tc_sin(tc_mul(rows, l->w[4])), -1);
}

BOTH(several_operands_and_results) {
    tc_tensor x = waves(tc, TC_DIMS(12, 32), 1, 2), y = waves(tc, TC_DIMS(5, 32), 1, 3);
    static const int64_t place[5] = {3, 1, 3, 11, 0};
    tc_tensor at = tc_from_data(tc, place, TC_DIMS(5), TC_I64), g[2][3];
    layer l;
    layers_open(tc, &l, 1, 32);
    for (int on = 0; on < 2; on++) {
        tc_tensor in[3], out[2], wrt[3];
        in[0] = x, in[1] = y, in[2] = at, wrt[0] = x, wrt[1] = y, wrt[2] = l.w[4];
        BEGIN(on ? "with" : "without");
        if (on)
            CHECK_EQ(tc_checkpoint(tc, two_results, &l, in, 3, out, 2), TC_OK);
        else
            two_results(tc, in, out, &l);
        tc_tensor loss = tc_add(tc_sum_all(tc_square(out[0])), tc_sum_all(tc_exp(out[1])));
        CHECK_EQ(tc_grad(loss, wrt, 3, g[on]), TC_OK);
        END();
        for (int i = 0; i < 3; i++) tc_keep(g[on][i]);
    }
    for (int i = 0; i < 3; i++) SAME(g[0][i], g[1][i], "several");
}

BODY(cube_of) {
    LAYER;
    out[0] = tc_mul(tc_mul(in[0], in[0]), in[0]);
}

BOTH(derivatives_of_derivatives) { // of x^9, and times a vector
    tc_tensor x = line(tc, 20, 1, 0.125), t = line(tc, 20, 1, 0), g[3], v, plain;
    BEGIN("orders");
    tc_tensor y = x, z = tc_mul(tc_mul(x, x), x);
    for (int i = 0; i < 2; i++)
        CHECK_EQ(tc_checkpoint(tc, cube_of, NULL, &y, 1, &y, 1), TC_OK);
    z = tc_mul(tc_mul(z, z), z);
    CHECK_EQ(tc_grad(tc_sum_all(y), &x, 1, &g[0]), TC_OK);
    CHECK_EQ(tc_grad(tc_sum_all(g[0]), &x, 1, &g[1]), TC_OK);
    CHECK_EQ(tc_grad(tc_sum_all(g[1]), &x, 1, &g[2]), TC_OK);
    CHECK_EQ(tc_jvp(y, &x, &t, 1, &v), TC_OK);
    CHECK_EQ(tc_jvp(z, &x, &t, 1, &plain), TC_OK);
    END();
    SAME(plain, v, "jvp");
    for (int i = 0; i < 20; i++) {
        double a = 1 + i * 0.125;
        CHECK(fabs(AT(g[0], i) / (9 * pow(a, 8)) - 1) < 1e-6);
        CHECK(fabs(AT(g[1], i) / (72 * pow(a, 7)) - 1) < 1e-6);
        CHECK(fabs(AT(g[2], i) / (504 * pow(a, 6)) - 1) < 1e-6);
    }
}

BOTH(gradients_inside_of_an_open_checkpoint) {
    tc_tensor x = waves(tc, TC_DIMS(24, 32), 1, 5), y, z, g[2];
    layer l;
    layers_open(tc, &l, 1, 32);
    l.inner = forces, l.checkpoint = 1;
    BEGIN("inside");
    CHECK_EQ(tc_checkpoint(tc, nested, &l, &x, 1, &y, 1), TC_OK);
    l.checkpoint = 0;
    nested(tc, &x, &z, &l);
    CHECK_EQ(tc_grad(tc_sum_all(tc_square(y)), &x, 1, &g[0]), TC_OK);
    CHECK_EQ(tc_grad(tc_sum_all(tc_square(z)), &x, 1, &g[1]), TC_OK);
    END();
    SAME(z, y, "value"), SAME(g[1], g[0], "gradient");
}

BODY(scaled) {
    LAYER;
    out[0] = tc_mul(in[0], l->w[0]);
}

// What a gradient sums along rows was made outside of the checkpoint, by factors that repeat along them: those are
// multiplied with the sum, in both.
BOTH(sums_of_what_was_scaled_outside) {
    tc_tensor x = waves(tc, TC_DIMS(700, 32), 1, 5), r = waves(tc, TC_DIMS(32), 0.7, 3),
              g[2];
    layer l;
    l.w[0] = waves(tc, TC_DIMS(32), 0.9, 2);
    for (int form = 0; form < 4; form++)
        for (int on = 0; on < 2; on++) {
            tc_tensor row = tc_expand(tc_reshape(r, TC_DIMS(1, 32)), TC_DIMS(700, 32)), y;
            char name[40];
            snprintf(name, sizeof name, "scaled %d, %d", form, on);
            BEGIN(name);
            y = tc_mul(x, form == 1 ? tc_add(row, row) : row);
            if (form == 2) y = tc_neg(y);
            if (form == 3) with_or_without(tc, on, scaled, &l, &y);
            with_or_without(tc, on, scaled, &l, &y);
            CHECK_EQ(tc_grad(tc_sum_all(y), &l.w[0], 1, &g[on]), TC_OK);
            END();
            if (on) SAME(g[0], g[1], name);
            tc_keep(g[on]);
        }
}

BOTH(steps_of_training) {
    tc_tensor w[2][2];
    for (int on = 0; on < 2; on++) {
        layer l[2];
        layers_open(tc, l, 2, 32);
        tc_manual_seed(tc, 4);
        for (int i = 0; i < 2; i++) tc_requires_grad(w[on][i] = l[i].w[0], 1);
        for (int step = 0; step < 4; step++) {
            tc_tensor h = waves(tc, TC_DIMS(24, 32), 1, step);
            BEGIN(on ? "with" : "without");
            for (int i = 0; i < 2; i++) tc_zero_(tc_grad_of(w[on][i]));
            for (int i = 0; i < 2; i++) with_or_without(tc, on, transformer, &l[i], &h);
            CHECK_EQ(tc_backward(tc_mean_all(tc_square(h))), TC_OK);
            for (int i = 0; i < 2; i++)
                tc_sgd_(w[on][i], tc_grad_of(w[on][i]), tc_null(), 0.1, 0, 0, 0);
            END();
        }
    }
    for (int i = 0; i < 2; i++) SAME(w[0][i], w[1][i], "weights");
    CHECK_EQ(tc_stats_get(tc).programs, 2);
}

BOTH(what_a_body_writes_outside_is_written_once) {
    tc_tensor count = line(tc, 32, 0, 0), x = waves(tc, TC_DIMS(24, 32), 1, 5), y, g;
    layer l;
    layers_open(tc, &l, 1, 32);
    for (int visit = 1; visit < 4; visit++) {
        BEGIN("counts");
        tc_add_s_(count, 1);
        CHECK_EQ(tc_checkpoint(tc, dense, &l, &x, 1, &y, 1), TC_OK);
        CHECK_EQ(tc_grad(tc_sum_all(tc_square(y)), &x, 1, &g), TC_OK);
        END();
        CHECK_EQ(AT(count, 3), visit);
    }
}

BODY(counts) { // runs of a forward pass, as batch norms do
    LAYER;
    tc_add_s_(l->w[0], 1);
    out[0] = tc_sin(tc_mul(in[0], tc_exp(tc_mul_s(l->w[0], 0.1))));
}

BOTH(a_body_that_writes_what_it_captures) {
    tc_tensor g[2][3], x = line(tc, 32, 1, 0.1);
    for (int on = 0; on < 2; on++) {
        layer l;
        l.w[0] = line(tc, 32, 0, 0);
        for (int visit = 0; visit < 3; visit++) {
            tc_tensor y = x;
            BEGIN(on ? "with" : "without");
            for (int i = 0; i < 2; i++) with_or_without(tc, on, counts, &l, &y);
            CHECK_EQ(tc_grad(tc_sum_all(tc_square(y)), &x, 1, &g[on][visit]), TC_OK);
            END();
            tc_keep(g[on][visit]);
            CHECK_EQ(AT(l.w[0], 5), 2 * visit + 2);
        }
    }
    for (int visit = 0; visit < 3; visit++) SAME(g[0][visit], g[1][visit], "written");
}

BODY(reads) { // a branch on a value
    LAYER;
    tc_tensor x = tc_sin(in[0]);
    out[0] = tc_item(tc_sum_all(x)) > 0 ? tc_exp(x) : tc_mul(x, x);
}

BOTH(a_body_that_reads_a_value) {
    for (int sign = -1; sign < 2; sign += 2) {
        tc_tensor x = line(tc, 32, sign, 0.01), g[2];
        for (int on = 0; on < 2; on++) {
            tc_tensor y = x;
            BEGIN(on ? "with" : "without");
            for (int i = 0; i < 2; i++) with_or_without(tc, on, reads, NULL, &y);
            CHECK_EQ(tc_grad(tc_sum_all(tc_square(y)), &x, 1, &g[on]), TC_OK);
            END();
            tc_keep(g[on]);
        }
        SAME(g[0], g[1], "read");
    }
}

BOTH(sizes_at_run_time) {
    layer l;
    layers_open(tc, &l, 1, 32);
    for (int rows = 20; rows < 60; rows += 7) {
        tc_tensor x = waves(tc, TC_DIMS(rows, 32), 1, rows), g[2];
        for (int on = 0; on < 2; on++) {
            tc_tensor y = x;
            BEGIN(on ? "with" : "without");
            for (int i = 0; i < 2; i++) with_or_without(tc, on, transformer, &l, &y);
            CHECK_EQ(tc_grad(tc_sum_all(tc_square(y)), &x, 1, &g[on]), TC_OK);
            END();
            tc_keep(g[on]);
            tc_manual_seed(tc, 1);
        }
        if (rows > 20) SAME(g[0], g[1], "sizes"); // before it the seed is another
    }
    CHECK(tc_stats_get(tc).programs <= 4);
}

static void step_body(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    tc_tensor y = in[0];
    for (int i = 0; i < 3; i++)
        CHECK_EQ(tc_checkpoint(tc, dense, user, &y, 1, &y, 1), TC_OK);
    CHECK_EQ(tc_grad(tc_sum_all(tc_square(y)), in, 1, out), TC_OK);
}

BOTH(in_functions) {
    layer l;
    layers_open(tc, &l, 1, 32);
    tc_fn *f = tc_compile(tc, step_body, &l, sizeof l, NULL);
    tc_tensor first = tc_null();
    for (int call = 0; call < 4; call++) {
        tc_tensor x = waves(tc, TC_DIMS(24, 32), 1, 9), g;
        CALL(f, &x, 1, &g, 1);
        if (!call) first = g;
        SAME(first, g, "call");
    }
    CHECK_EQ(tc_stats_get(tc).skips, 2);
    CHECK_EQ(tc_stats_get(tc).programs, 1);
    CHECK(!tc_fn_demoted(f));
}

// With one and without is another path.
BOTH(it_is_part_of_what_is_recorded) {
    layer l;
    layers_open(tc, &l, 1, 32);
    tc_tensor x = waves(tc, TC_DIMS(24, 32), 1, 9), g;
    for (int visit = 0; visit < 4; visit++) {
        tc_tensor y = x;
        BEGIN("paths");
        with_or_without(tc, visit % 2, dense, &l, &y);
        CHECK_EQ(tc_grad(tc_sum_all(tc_square(y)), &x, 1, &g), TC_OK);
        END();
    }
    CHECK_EQ(tc_stats_get(tc).programs, 2);
}

BOTH(halves_and_every_op_rounded) {
    tc_tensor w = tc_cast(waves(tc, TC_DIMS(32, 32), 0.3, 1), TC_BF16), g[2];
    tc_tensor x = tc_cast(waves(tc, TC_DIMS(24, 32), 1, 9), TC_BF16);
    tc_options o = tc_options_default();
    o.round_each_op = 1;
    layer l;
    layers_open(tc, &l, 1, 32);
    l.w[0] = w, l.w[4] = tc_cast(l.w[4], TC_BF16);
    for (int on = 0; on < 2; on++) {
        tc_tensor y = x;
        tc_trace_begin_at(tc, on ? "with" : "without", &o, "test.c", 1);
        for (int i = 0; i < 3; i++) with_or_without(tc, on, dense, &l, &y);
        CHECK_EQ(tc_grad(tc_sum_all(tc_square(y)), &w, 1, &g[on]), TC_OK);
        g[on] = tc_cast(g[on], TC_F32);
        END();
        tc_keep(g[on]);
    }
    SAME(g[0], g[1], "bf16");
}

// ---- errors ----

static int wrong; // which mistake

BODY(mistaken) {
    LAYER;
    out[0] = in[0];
    if (wrong == 0) out[0] = tc_null();
    if (wrong == 1) out[0] = tc_matmul(in[0], in[0]);
    if (wrong == 2) tc_scope_begin(tc);
    if (wrong == 3) tc_trace_begin(tc, "left open");
    if (wrong == 4) CHECK(tc_checkpoint(tc, mistaken, NULL, in, 1, out, 1) != TC_OK);
}

static void refused(tc_ctx *tc, tc_status got, tc_status want, const char *text) {
    CHECK_EQ(got, want);
    ERROR(want, text);
}

static void wrong_calls(tc_ctx *tc, tc_tensor x) {
    static const struct {
        tc_status status;
        const char *text;
    } mistakes[] = {
        {TC_E_NULL, "tc_checkpoint: its body did not set out[0]"},
        {TC_E_SHAPE, "matmul"},
        {TC_E_STATE,
         "tc_checkpoint: its body has a tc_scope_begin without its tc_scope_end"},
        {TC_E_REGION,
         "tc_checkpoint: its body has a tc_trace_begin without its tc_trace_end"},
        {TC_E_STATE, "tc_checkpoint: calls of bodies and host functions are nested"},
    };
    tc_tensor none = tc_null(), y = x;
    CHECK_EQ(tc_checkpoint(NULL, dense, NULL, &x, 1, &y, 1), TC_E_NULL);
    ERROR(TC_E_NULL, "tc_checkpoint: ");
    refused(tc, tc_checkpoint(tc, NULL, NULL, &x, 1, &y, 1), TC_E_NULL, "body is NULL");
    CHECK(tc_is_null(y));
    refused(tc, tc_checkpoint(tc, dense, NULL, &none, 1, &y, 1), TC_E_NULL,
            "in[0] is a null");
    refused(tc, tc_checkpoint(tc, dense, NULL, NULL, 1, &y, 1), TC_E_NULL, "in is NULL");
    refused(tc, tc_checkpoint(tc, dense, NULL, &x, 1, NULL, 1), TC_E_NULL, "out is NULL");
    refused(tc, tc_checkpoint(tc, dense, NULL, &x, -1, &y, 1), TC_E_ARG, "n_in is -1");
    refused(tc, tc_checkpoint(tc, dense, NULL, &x, 1, &y, -2), TC_E_ARG, "n_out is -2");
    for (wrong = 0; wrong < 5; wrong++) {
        refused(tc, tc_checkpoint(tc, mistaken, NULL, &x, 1, &y, 1), mistakes[wrong].status,
                mistakes[wrong].text);
        CHECK(tc_is_null(y));
    }
}

BOTH(wrong_calls_lose_nothing) {
    layer l;
    layers_open(tc, &l, 1, 32);
    tc_tensor x = waves(tc, TC_DIMS(24, 32), 1, 9), y = x, z = x, g, h;
    wrong_calls(tc, x);
    BEGIN("mistakes");
    wrong_calls(tc, x);
    with_or_without(tc, 1, dense, &l, &y);
    CHECK_EQ(tc_grad(tc_sum_all(tc_square(y)), &x, 1, &g), TC_OK);
    END();
    BEGIN("none");
    with_or_without(tc, 0, dense, &l, &z);
    CHECK_EQ(tc_grad(tc_sum_all(tc_square(z)), &x, 1, &h), TC_OK);
    END();
    SAME(h, g, "behind mistakes");
    tc_free(x);
    refused(tc, tc_checkpoint(tc, dense, &l, &x, 1, &y, 1), TC_E_DEAD, "tc_checkpoint");
}
