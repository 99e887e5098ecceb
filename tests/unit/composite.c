// Composite ops as graphs have them (gen/graph/composite.c): recorded behind their parts, carried through
// passes, found by the node of their result, with operands and words, also where sizes and values are known
// at run time only; and how they are written.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.in.h"

#include "harness.h"
#include "help.h"

static const tc_tensor none = {0};

static const tc__program *program_of(tc_ctx *tc, const char *region) {
    const tc__region *r = tc__region_named(tc, region);
    return r ? tc__last_program(r) : NULL;
}

static const tc__graph *graph_of(tc_ctx *tc) {
    const tc__program *p = program_of(tc, "whole");
    if (p) CHECK(tc__verify(tc, &p->graph, TC__TENSOR));
    CHECK_STR(tc_error_text(tc), "");
    return p ? &p->graph : NULL;
}

// The nodes that are the result of such a composite op; the last of them goes to *last.
static int count_of(const tc__graph *g, tc__op op, const tc__composite **last) {
    int n = 0;
    for (uint32_t i = 0; g && i < g->node.count; i++) {
        const tc__composite *f = tc__composite_of(g, i, op);
        if (!f) continue;
        if (last) *last = f;
        n++;
    }
    return n;
}

static const tc__composite *only(const tc__graph *g, tc__op op) {
    const tc__composite *f = NULL;
    CHECK_EQ(count_of(g, op, &f), 1);
    return f;
}

static void check_dims(const tc__graph *g, const tc__node *n, const char *want) {
    tc__text t;
    tc__text_init(&t, g->ctx);
    if (n) tc__dump_dims(&t, g->ix, n->rank, n->dims);
    CHECK_STR(n ? t.at : "", want);
    tc__text_free(&t);
}

static double number_of(const tc__composite *f, uint32_t word) {
    double v = -1;
    CHECK(tc__composite_number(f, word, &v));
    return v;
}

static tc_tensor randn(tc_ctx *tc, tc_dims d) { return tc_randn(tc, d, TC_F32); }

// ---- attention ----

// x[B, L, 64] in 4 heads: [B, 4, L, 16], a permuted view of a reshape, which a product's own transposition
// becomes one with.
static tc_tensor heads(tc_tensor x, tc_tensor w) {
    tc_tensor y = tc_linear(x, w, none);
    y = tc_reshape(y, TC_DIMS(tc_dim(x, 0), tc_dim(x, 1), 4, 16));
    return tc_permute(y, TC_DIMS(0, 2, 1, 3));
}

static void attend(tc_ctx *tc, int batch, int length, int with_mask) {
    tc_tensor x = randn(tc, TC_DIMS(batch, length, 64)), w[3], mask = none;
    for (int i = 0; i < 3; i++) w[i] = randn(tc, TC_DIMS(64, 64));
    if (with_mask) mask = tc_zeros(tc, TC_DIMS(length, length), TC_F32);
    tc_trace_begin(tc, "whole");
    tc_tensor y = tc_scaled_dot_product_attention(heads(x, w[0]), heads(x, w[1]),
                                                  heads(x, w[2]), mask, !with_mask, 0);
    tc_reshape(tc_permute(y, TC_DIMS(0, 2, 1, 3)), TC_DIMS(batch, length, 64));
    CHECK_EQ(tc_trace_end(tc), TC_OK);
}

TEST(attention_is_found_with_its_operands) {
    tc_ctx *tc = open_backend("aot_eager");
    attend(tc, 2, 8, 0);
    const tc__graph *g = graph_of(tc);
    const tc__composite *f = only(g, TC_OP_ATTENTION);
    CHECK_EQ(count_of(g, TC_OP_LINEAR, NULL), 3);
    REQUIRE(f != NULL);
    for (uint32_t i = 0; i < 3; i++) check_dims(g, tc__composite_in(g, f, i), "[2,4,8,16]");
    CHECK(!tc__composite_in(g, f, TC__ATTENTION_MASK));
    CHECK_EQ(f->attr[TC__ATTENTION_CAUSAL], 1);
    CHECK(number_of(f, TC__ATTENTION_SCALE) == 0.25);
    // k was permuted by the user and by the formula: one permutation, of what linear gave, reshaped.
    CHECK(f->in[TC__ATTENTION_K] & TC__ASIDE);
    const tc__node *k = g->node.at[tc__composite_root(g, f->in[TC__ATTENTION_K])];
    CHECK_EQ(k->op, TC_OP_RESHAPE);
    CHECK(tc__composite_of(g, k->in[0], TC_OP_LINEAR) != NULL);
    check_dims(g, tc__composite_node(g, f->result), "[2,4,8,16]");
    CHECK_EQ(g->node.at[tc__composite_root(g, f->result)]->op, TC_OP_MATMUL);
    tc_close(tc);
}

TEST(attention_of_any_size_has_symbols) {
    tc_ctx *tc = open_backend("aot_eager");
    for (int i = 0; i < 3; i++) attend(tc, 2 + i, 8 + 2 * i, 1);
    const tc__graph *g = graph_of(tc);
    const tc__composite *f = only(g, TC_OP_ATTENTION);
    REQUIRE(f != NULL);
    check_dims(g, tc__composite_in(g, f, TC__ATTENTION_Q), "[s0,4,s1,16]");
    check_dims(g, tc__composite_in(g, f, TC__ATTENTION_K), "[s0,4,s1,16]");
    check_dims(g, tc__composite_in(g, f, TC__ATTENTION_V), "[s0,4,s1,16]");
    const tc__node *mask = tc__composite_in(g, f, TC__ATTENTION_MASK);
    check_dims(g, mask, "[s1,s1]");
    CHECK_EQ(mask->op, TC_OP_INPUT);
    CHECK_EQ(f->attr[TC__ATTENTION_CAUSAL], 0);
    CHECK_EQ(tc__region_named(tc, "whole")->made, 2);
    tc_close(tc);
}

// ---- words ----

// Values that differ from visit to visit are those of a part: one ARG, no more.
TEST(a_value_of_a_run_is_the_parts) {
    tc_ctx *tc = open_backend("aot_eager");
    tc_tensor x = randn(tc, TC_DIMS(8, 32)), w = randn(tc, TC_DIMS(32));
    for (int i = 1; i < 5; i++) {
        tc_trace_begin(tc, "whole");
        tc_layer_norm(x, w, none, 1e-5 * i);
        CHECK_EQ(tc_trace_end(tc), TC_OK);
    }
    const tc__program *p = program_of(tc, "whole");
    const tc__graph *g = graph_of(tc);
    const tc__composite *f = only(g, TC_OP_LAYER_NORM);
    REQUIRE(f != NULL);
    double eps;
    CHECK(!tc__composite_number(f, TC__LAYER_NORM_EPS, &eps));
    CHECK_EQ(p->arg.count, 1);
    CHECK_EQ(f->attr[TC__LAYER_NORM_EPS], 0);
    int args = 0;
    for (uint32_t i = 0; i < g->node.count; i++) args += g->node.at[i]->op == TC_OP_ARG;
    CHECK_EQ(args, 1);
    CHECK(!tc__composite_in(g, f, TC__LAYER_NORM_BIAS));
    CHECK_EQ(tc__region_named(tc, "whole")->made, 2);
    tc_close(tc);
}

TEST(layer_norm_has_its_eps_and_counts_from_the_front) {
    tc_ctx *tc = open_backend("aot_eager");
    tc_tensor x = tc_cast(randn(tc, TC_DIMS(4, 8, 32)), TC_BF16);
    tc_trace_begin(tc, "whole");
    tc_softmax(tc_layer_norm(x, none, none, 1e-6), -2);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    const tc__graph *g = graph_of(tc);
    const tc__composite *f = only(g, TC_OP_LAYER_NORM), *s = only(g, TC_OP_SOFTMAX);
    REQUIRE(f && s);
    CHECK(number_of(f, TC__LAYER_NORM_EPS) == 1e-6);
    CHECK_EQ(tc__composite_in(g, f, 0)->op, TC_OP_INPUT);
    CHECK_EQ(tc__composite_in(g, f, 0)->dtype, TC_BF16);
    CHECK_EQ(s->attr[TC__SOFTMAX_DIM], 1);
    CHECK(s->in[0] == f->result); // what one gives, the other takes
    tc_close(tc);
}

TEST(conv2d_has_its_geometry) {
    tc_ctx *tc = open_backend("aot_eager");
    tc_tensor x = randn(tc, TC_DIMS(2, 4, 16, 20)), w = randn(tc, TC_DIMS(6, 2, 3, 5));
    tc_conv_options o;
    memset(&o, 0, sizeof o);
    o.stride[1] = 2, o.padding[0] = 1, o.dilation[1] = 2, o.groups = 2;
    tc_trace_begin(tc, "whole");
    tc_conv2d_with(x, w, none, &o);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    const tc__graph *g = graph_of(tc);
    const tc__composite *f = only(g, TC_OP_CONV2D);
    static const int64_t want[] = {3, 5, 1, 2};
    REQUIRE(f != NULL);
    for (uint32_t i = 0; i < 4; i++) CHECK_EQ(f->attr[TC__CONV2D_KERNEL_H + i], want[i]);
    CHECK_EQ(tc__ix_value(f->attr[TC__CONV2D_PADDING_H]), 1);
    CHECK_EQ(tc__ix_value(f->attr[TC__CONV2D_PADDING_W]), 0);
    CHECK_EQ(f->attr[TC__CONV2D_DILATION_H], 1);
    CHECK_EQ(f->attr[TC__CONV2D_DILATION_W], 2);
    CHECK_EQ(tc__ix_value(f->attr[TC__CONV2D_GROUPS]), 2);
    check_dims(g, tc__composite_in(g, f, TC__CONV2D_X), "[2,4,16,20]");
    check_dims(g, tc__composite_in(g, f, TC__CONV2D_WEIGHT), "[6,2,3,5]");
    check_dims(g, tc__composite_node(g, f->result), "[2,6,16,6]");
    tc_close(tc);
}

// A padding that changes is an expression, as it is in the pads.
TEST(padding_of_a_run_is_an_expression) {
    tc_ctx *tc = open_backend("aot_eager");
    tc_tensor x = randn(tc, TC_DIMS(1, 2, 30, 30)), w = randn(tc, TC_DIMS(3, 2, 5, 5));
    for (int i = 1; i < 4; i++) {
        tc_trace_begin(tc, "whole");
        tc_conv2d(x, w, none, 1, i, 1, 1);
        CHECK_EQ(tc_trace_end(tc), TC_OK);
    }
    const tc__graph *g = graph_of(tc);
    const tc__composite *f = only(g, TC_OP_CONV2D);
    REQUIRE(f != NULL);
    CHECK(!tc__ix_is_const(f->attr[TC__CONV2D_PADDING_H]));
    CHECK(f->attr[TC__CONV2D_PADDING_H] == f->attr[TC__CONV2D_PADDING_W]);
    CHECK_EQ(tc__region_named(tc, "whole")->made, 2);
    tc_close(tc);
}

// A weight whose taps became numbers is not there; its sizes are in the words.
TEST(a_weight_that_no_part_reads_is_not_there) {
    static const float taps[9] = {1, 0, -1, 2, 0, -2, 1, 0, -1};
    tc_ctx *tc = open_backend("aot_eager");
    tc_tensor x = randn(tc, TC_DIMS(2, 1, 16, 16));
    tc_tensor w = tc_const(tc, taps, TC_DIMS(1, 1, 3, 3), TC_F32);
    for (int i = 0; i < 2; i++) {
        tc_trace_begin(tc, "whole");
        tc_conv2d(x, w, none, 1, 1, 1, 1);
        CHECK_EQ(tc_trace_end(tc), TC_OK);
    }
    const tc__graph *g = graph_of(tc);
    const tc__composite *f = only(g, TC_OP_CONV2D);
    REQUIRE(f != NULL);
    CHECK(!tc__composite_in(g, f, TC__CONV2D_WEIGHT));
    CHECK_EQ(f->attr[TC__CONV2D_KERNEL_W], 3);
    CHECK_EQ(program_of(tc, "whole")->externals, 1);
    tc_close(tc);
}

TEST(cross_entropy_has_its_index) {
    static const int64_t target[8] = {3, 1, 0, 7};
    tc_ctx *tc = open_backend("aot_eager");
    tc_tensor y = tc_from_data(tc, target, TC_DIMS(8), TC_I64);
    for (int i = 0; i < 3; i++) {
        tc_tensor x = randn(tc, TC_DIMS(8, 10 + i));
        tc_trace_begin(tc, "whole");
        tc_cross_entropy(x, y);
        CHECK_EQ(tc_trace_end(tc), TC_OK);
    }
    const tc__graph *g = graph_of(tc);
    const tc__composite *f = only(g, TC_OP_CROSS_ENTROPY);
    REQUIRE(f != NULL);
    const tc__node *at = tc__composite_in(g, f, TC__CROSS_ENTROPY_TARGET);
    CHECK_EQ(at->op, TC_OP_INPUT);
    CHECK_EQ(at->dtype, TC_I64);
    CHECK_EQ(at->attr[TC__INPUT_EXTERNAL], 1);
    check_dims(g, tc__composite_in(g, f, TC__CROSS_ENTROPY_LOGITS), "[8,s0]");
    tc_close(tc);
}

// ---- what is recorded, and what becomes of it ----

TEST(one_that_holds_another_comes_first) {
    tc_ctx *tc = open_backend("aot_eager");
    tc_tensor x = randn(tc, TC_DIMS(2, 3, 40)), w = randn(tc, TC_DIMS(4, 3, 5)),
              b = randn(tc, TC_DIMS(4));
    tc_trace_begin(tc, "whole");
    tc_conv1d(x, w, b, 1, 2, 1, 1);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    const tc__graph *g = graph_of(tc);
    const tc__composite *f = only(g, TC_OP_CONV1D);
    REQUIRE(f && only(g, TC_OP_CONV2D));
    uint32_t root = tc__composite_root(g, f->result);
    CHECK(tc__composite_of(g, root, TC_OP_TOTAL) == f);
    CHECK(tc__composite_of(g, root, TC_OP_SOFTMAX) == NULL);
    CHECK_EQ(tc__ix_value(f->attr[TC__CONV1D_PADDING]), 2);
    check_dims(g, tc__composite_in(g, f, TC__CONV1D_WEIGHT), "[4,3,5]");
    tc_close(tc);
}

// What is written behind it is another value.
TEST(an_operand_is_what_it_was) {
    tc_ctx *tc = open_backend("aot_eager");
    tc_tensor x = randn(tc, TC_DIMS(4, 32)), y = randn(tc, TC_DIMS(4, 32));
    tc_trace_begin(tc, "whole");
    tc_mul_s_(x, 2);
    tc_tensor half = tc_narrow(x, 1, 0, 16);
    tc_tensor p = tc_softmax(half, 1);
    tc_copy_(x, y);
    tc_mul_s(p, 3);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    const tc__graph *g = graph_of(tc);
    const tc__composite *f = only(g, TC_OP_SOFTMAX);
    REQUIRE(f != NULL);
    const tc__node *a = tc__composite_in(g, f, 0);
    CHECK_EQ(a->op, TC_OP_SLICE);
    CHECK_EQ(tc__operand(g, a, 0)->op, TC_OP_MUL);
    tc_close(tc);
}

TEST(one_that_nothing_needs_goes) {
    tc_ctx *tc = open_backend("aot_eager");
    tc_tensor x = randn(tc, TC_DIMS(4, 32));
    tc_trace_begin(tc, "whole");
    tc_free(tc_softmax(x, 1));
    tc_mul_s(tc_sum(tc_mul_s(tc_softmax(tc_mul_s(x, 2), 1), 1), 1), 3);
    tc_dropout(x, 0.5);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    const tc__graph *g = graph_of(tc);
    CHECK(count_of(g, TC_OP_SOFTMAX, NULL) >= 1);
    const tc__composite *f = only(g, TC_OP_DROPOUT);
    CHECK(f && number_of(f, TC__DROPOUT_P) == 0.5);
    tc_close(tc);
}

// Another visit follows it, and outside of regions nothing is recorded.
TEST(visits_follow_them) {
    tc_ctx *tc = open_backend("aot_eager");
    tc_tensor x = randn(tc, TC_DIMS(4, 32));
    tc_softmax(x, 1);
    for (int i = 0; i < 4; i++) {
        tc_trace_begin(tc, "whole");
        tc_softmax(x, -1);
        CHECK_EQ(tc_trace_end(tc), TC_OK);
    }
    const tc__region *r = tc__region_named(tc, "whole");
    int steps = 0;
    for (const tc__step *s = r->root.next; s; s = tc__step_after(s)) steps++;
    CHECK_EQ(steps, 9); // seven parts, softmax, the end
    CHECK_EQ(r->made, 1);
    for (const tc__region *a = tc->alone; a; a = a->next)
        for (const tc__step *s = a->root.next; s; s = tc__step_after(s))
            CHECK(!tc__is_composite((tc__op)s->op));
    tc_close(tc);
}

// ---- attention written by hand ----

typedef struct factors {
    tc_tensor q, k, v, mask, where, other; // [2, 4, 8, 16], mask [8, 8], where bool
    double scale;
} factors;

static tc_tensor scores_of(const factors *f) {
    return tc_matmul(f->q, tc_transpose(f->k, -2, -1));
}

static tc_tensor by_mul(const factors *f) {
    return tc_matmul(tc_softmax(tc_mul_s(scores_of(f), f->scale), -1), f->v);
}
static tc_tensor by_div_and_mask(const factors *f) {
    tc_tensor s = tc_add(tc_div_s(scores_of(f), 1 / f->scale), f->mask);
    return tc_matmul(tc_softmax(s, 3), f->v);
}
static tc_tensor mask_first(const factors *f) {
    tc_tensor s = tc_add(f->mask, tc_mul_s(scores_of(f), f->scale));
    return tc_matmul(tc_softmax(s, -1), f->v);
}
static tc_tensor q_scaled(const factors *f) {
    tc_tensor s = tc_matmul(tc_mul_s(f->q, f->scale), tc_transpose(f->k, 2, 3));
    return tc_matmul(tc_softmax(s, -1), f->v);
}
static tc_tensor by_exp(const factors *f) {
    tc_tensor s = tc_where(f->where, tc_mul_s(scores_of(f), f->scale),
                           tc_full(tc__ctx_of(f->q), TC_SCALAR, -INFINITY, TC_F32));
    tc_tensor e = tc_exp(tc_sub(s, tc_amax_dims(s, TC_DIMS(-1), TC_KEEPDIM)));
    return tc_matmul(tc_div(e, tc_sum_dims(e, TC_DIMS(-1), TC_KEEPDIM)), f->v);
}
static tc_tensor in_bf16(const factors *f) {
    tc_tensor q = tc_cast(f->q, TC_BF16), k = tc_cast(f->k, TC_BF16);
    tc_tensor s = tc_mul_s(tc_matmul(q, tc_transpose(k, -2, -1)), f->scale);
    return tc_matmul(tc_softmax(s, -1), tc_cast(f->v, TC_BF16));
}

// What is not quite attention.
static tc_tensor other_dim(const factors *f) {
    return tc_matmul(tc_softmax(tc_mul_s(scores_of(f), f->scale), -2), f->v);
}
static tc_tensor without_max(const factors *f) {
    tc_tensor e = tc_exp(tc_mul_s(scores_of(f), f->scale));
    return tc_matmul(tc_div(e, tc_sum_dims(e, TC_DIMS(-1), TC_KEEPDIM)), f->v);
}
static tc_tensor other_max(const factors *f) {
    tc_tensor s = scores_of(f), m = tc_amax_dims(f->other, TC_DIMS(-1), TC_KEEPDIM);
    tc_tensor e = tc_exp(tc_sub(s, m));
    return tc_matmul(tc_div(e, tc_sum_dims(e, TC_DIMS(-1), TC_KEEPDIM)), f->v);
}
static tc_tensor other_sum(const factors *f) {
    tc_tensor s = scores_of(f);
    tc_tensor e = tc_exp(tc_sub(s, tc_amax_dims(s, TC_DIMS(-1), TC_KEEPDIM)));
    return tc_matmul(tc_div(e, tc_sum_dims(s, TC_DIMS(-1), TC_KEEPDIM)), f->v);
}
static tc_tensor masked_behind(const factors *f) {
    return tc_matmul(tc_mul(tc_softmax(scores_of(f), -1), f->mask), f->v);
}
static tc_tensor with_relu(const factors *f) {
    return tc_matmul(tc_softmax(tc_relu(scores_of(f)), -1), f->v);
}
static tc_tensor by_tensor(const factors *f) {
    return tc_matmul(tc_softmax(tc_mul(scores_of(f), f->mask), -1), f->v);
}
static tc_tensor nearly_masked(const factors *f) {
    tc_tensor s = tc_where(f->where, scores_of(f),
                           tc_full(tc__ctx_of(f->q), TC_SCALAR, -1e9, TC_F32));
    return tc_matmul(tc_softmax(s, -1), f->v);
}
static tc_tensor masked_the_other_way(const factors *f) {
    tc_tensor least = tc_full(tc__ctx_of(f->q), TC_SCALAR, -INFINITY, TC_F32);
    return tc_matmul(tc_softmax(tc_where(f->where, least, scores_of(f)), -1), f->v);
}
static tc_tensor on_the_right(const factors *f) {
    return tc_matmul(f->other, tc_softmax(scores_of(f), -1));
}
static tc_tensor no_product(const factors *f) {
    return tc_matmul(tc_softmax(tc_add(f->other, f->mask), -1), f->v);
}
static tc_tensor with_dropout(const factors *f) {
    return tc_matmul(tc_dropout(tc_softmax(scores_of(f), -1), 0.1), f->v);
}

static factors factors_of(tc_ctx *tc) {
    tc_dims d = TC_DIMS(2, 4, 8, 16);
    factors f = {randn(tc, d), randn(tc, d), randn(tc, d), randn(tc, TC_DIMS(8, 8)),
                 none,         none,         0.25};
    f.where = tc_gt_s(f.mask, 0), f.other = randn(tc, TC_DIMS(2, 4, 8, 8));
    return f;
}

// The graph of a program of it.
static const tc__graph *graph_by(tc_ctx *tc, const factors *f,
                                 tc_tensor (*way)(const factors *f)) {
    tc_trace_begin(tc, "whole");
    (void)way(f);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    return graph_of(tc);
}

TEST(attention_by_hand_is_raised) {
    static const struct {
        const char *name;
        tc_tensor (*way)(const factors *f);
        int mask;
    } rows[] = {{"by mul", by_mul, 0},         {"by div and mask", by_div_and_mask, 1},
                {"mask first", mask_first, 1}, {"q scaled", q_scaled, 0},
                {"by exp", by_exp, 1},         {"in bf16", in_bf16, 0}};
    for (size_t i = 0; i < TC__COUNT(rows); i++) {
        tc_ctx *tc = open_backend("aot_eager");
        factors f = factors_of(tc);
        const tc__graph *g = graph_by(tc, &f, rows[i].way);
        const tc__composite *a = NULL;
        CHECK(count_of(g, TC_OP_ATTENTION, &a) == 1 || FAIL("%s", rows[i].name));
        REQUIRE(a != NULL);
        CHECK(number_of(a, TC__ATTENTION_SCALE) == 0.25);
        CHECK_EQ(a->attr[TC__ATTENTION_NAN], 1);
        CHECK_EQ(tc__composite_in(g, a, TC__ATTENTION_MASK) != NULL, rows[i].mask);
        for (uint32_t k = 0; k < 3; k++)
            check_dims(g, tc__composite_in(g, a, k), "[2,4,8,16]");
        // q, k and v are the first externals, in any order of their use, as they are or cast
        for (uint32_t k = 0; k < 3; k++) {
            const tc__node *n = tc__composite_in(g, a, k);
            if (n->op == TC_OP_CAST) n = tc__operand(g, n, 0);
            CHECK_EQ(n->op, TC_OP_INPUT);
        }
        tc_close(tc);
    }
}

TEST(what_is_nearly_attention_is_not) {
    static const struct {
        const char *name;
        tc_tensor (*way)(const factors *f);
    } rows[] = {{"another dimension", other_dim},
                {"without the largest", without_max},
                {"another's largest", other_max},
                {"another sum", other_sum},
                {"a mask behind", masked_behind},
                {"relu between", with_relu},
                {"a factor that is a tensor", by_tensor},
                {"a mask of -1e9", nearly_masked},
                {"a mask the other way", masked_the_other_way},
                {"the shares on the right", on_the_right},
                {"no product", no_product},
                {"dropout between", with_dropout}};
    for (size_t i = 0; i < TC__COUNT(rows); i++) {
        tc_ctx *tc = open_backend("aot_eager");
        factors f = factors_of(tc);
        const tc__graph *g = graph_by(tc, &f, rows[i].way);
        CHECK(!count_of(g, TC_OP_ATTENTION, NULL) || FAIL("%s", rows[i].name));
        tc_close(tc);
    }
}

// A scale that changes from visit to visit is an ARG; and the pass can be left out.
TEST(raised_with_a_scale_of_the_run) {
    for (int off = 0; off < 2; off++) {
        tc_config config = tc_config_default();
        config.backend = "aot_eager", config.passes_off = off ? "raise" : NULL;
        tc_ctx *tc = tc_open(&config);
        factors f = factors_of(tc);
        const tc__graph *g = NULL;
        for (int i = 1; i < 4; i++) f.scale = 0.1 * i, g = graph_by(tc, &f, by_mul);
        const tc__composite *a = NULL;
        CHECK_EQ(count_of(g, TC_OP_ATTENTION, &a), !off);
        if (a) CHECK_EQ(a->args, 1u << TC__ATTENTION_SCALE);
        if (a) CHECK_EQ(a->attr[TC__ATTENTION_SCALE], 0);
        tc_close(tc);
    }
}

// ---- as text ----

static const char *const sample =
    "size s0 in 1..4096\n"
    "%0 = input x0                     f32[2,s0,64]\n"
    "%1 = input x1                     f32[2,16,64]\n"
    "%2 = permute %1 order=0,2,1       f32[2,64,16]\n"
    "%3 = matmul %0 %2                 f32[2,s0,16]\n"
    "%4 = arg slot=0                   f32[]\n"
    "%5 = reshape %4                   f32[1,1,1]\n"
    "%6 = expand %5                    f32[2,s0,16]\n"
    "%7 = mul %3 %6                    f32[2,s0,16]\n"
    "%8 = matmul %7 %1                 f32[2,s0,64]\n"
    "%9 = relu %8                      f32[2,s0,64]\n"
    "aside %10 = permute %2 order=0,2,1  f32[2,16,64]\n"
    "aside %11 = reshape %9            f32[2,1,s0,64]\n"
    "composite attention %0 %10 %1 - -> %8 causal=0 scale=arg0 nan=1\n"
    "composite avg_pool2d %11 -> %9 kernel=1 stride=1 padding=s0\n"
    "return %9\n";

typedef struct kit {
    tc_ctx *c;
    tc__ixpool ix;
    tc__graph g;
} kit;

static int kit_read(kit *t, const char *text, tc__text *out) {
    tc__ids outputs;
    memset(t, 0, sizeof *t), memset(&outputs, 0, sizeof outputs);
    t->c = open_backend("aot_eager");
    tc__ix_open(&t->ix, t->c), tc__graph_open(&t->g, t->c, &t->ix);
    if (out) tc__text_init(out, t->c);
    int ok = tc__read_graph(t->c, &t->g, text, &outputs);
    if (ok && out) tc__dump_graph(out, &t->g, outputs.at, outputs.count);
    TC__VEC_FREE(t->c, outputs);
    return ok && tc__verify(t->c, &t->g, TC__TENSOR);
}

static void kit_close(kit *t) {
    tc__graph_close(&t->g), tc__ix_close(&t->ix);
    tc_close(t->c);
}

TEST(a_dump_reads_back) {
    kit t;
    tc__text out;
    CHECK(kit_read(&t, sample, &out));
    CHECK_STR(tc_error_text(t.c), "");
    // avg_pool2d of its own result tells nothing
    const char *gone = "composite avg_pool2d %11 -> %9 kernel=1 stride=1 padding=s0\n";
    const char *at = strstr(sample, gone);
    size_t n = (size_t)(at - sample);
    CHECK(out.at && !strncmp(out.at, sample, n) && !strcmp(out.at + n, at + strlen(gone)));
    tc__text_free(&out);
    kit_close(&t);
}

TEST(what_is_wrong_is_told) {
    static const char nodes[] = "%0 = input x0  f32[4,8]\n%1 = exp %0  f32[4,8]\n"
                                "%2 = input x1  f32[8]\naside %3 = reshape %0  f32[32]\n";
    static const struct {
        const char *line, *error;
    } rows[] = {
        {"composite soft %0 -> %1 dim=1\n", "column 11: \"soft\" is no composite op"},
        {"composite softmax - -> %1 dim=1\n", "softmax: operand 0 is not there"},
        {"composite softmax %0 -> %1 eps=1\n", "\"dim\" is expected here"},
        {"composite softmax %0 %1 dim=1\n", "\"->\" is expected here"},
        {"composite softmax %3 -> %1 dim=0\n", "the result's sizes are not"},
        {"composite layer_norm %0 %0 - -> %1 eps=1\n", "operand 1 has rank 2"},
        {"composite layer_norm %2 - - -> %1 eps=1\n", "the result's sizes are not"},
        {"%4 = exp %3  f32[32]\n", "what stands aside is no operand"},
        {"return %3\n", "what stands aside is no result"},
        {"aside %4 = exp %0  f32[4,8]\n", "exp may not"},
        {"aside %4 = reshape %0  f32[3]\n", "reshape: [4, 8] has 32 elements"},
    };
    for (size_t i = 0; i < TC__COUNT(rows); i++) {
        char text[600];
        kit t;
        snprintf(text, sizeof text, "%s%s", nodes, rows[i].line);
        CHECK(!kit_read(&t, text, NULL));
        CHECK(strstr(tc_error_text(t.c), rows[i].error) ||
              FAIL("%s: %s", rows[i].line, tc_error_text(t.c)));
        kit_close(&t);
    }
}
