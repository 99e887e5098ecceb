// Products of narrow values, of which several k lie in one word of 32 bits and are multiplied by one instruction: pairs of 16 bits
// (AVX2: vpmaddwd, VNNI: vpdpwssd), four bytes (VNNI: vpdpbusd), pairs of bf16 (AVX512-BF16: vdpbf16ps), whole tiles of bytes or
// bf16 (AMX). Integers add up exactly, modulo 2^32, in any order, so nobody sees which it was; those of bf16 have other bits than
// one k after the other, so they are for TC_NUMERICS_FAST to ask. Everything in contract.c counts words then: the depth is that of
// words, panels and rows of the left operand hold words, and the block adds a word's products where others add one product.
// What makes words of values is in print_dots.c.
//
// Bytes that are multiplied as pairs lie in memory as words of four: the first and third of these are a pair, and the second and
// fourth; the left operand's are dealt likewise (`split`).
//
// vpdpbusd wants bytes without a sign on one side. Where both sides have one, the left is taken plus 128, and the sums begin at
// minus 128 times what the right's column adds up to: `bias`, a row of an item's columns that lies with its panels.

enum {
    TC__DOT_TILE = 16,                  // rows of a tile, and words of each
    TC__THIRDS_WORDS = 3 * TC__DOT_TILE // of 32 k of f32
};

typedef enum tc__dots {
    TC__DOTS_NONE,
    TC__DOTS_PAIRS,
    TC__DOTS_BYTES,
    TC__DOTS_BF16,
    TC__DOTS_TILES
} tc__dots;

// What kernels for a target may use.
static int tc__dots_of(tc__emit target) {
    static const uint8_t dots[TC__EMITS] = {TC__DOTS_NONE,  TC__DOTS_PAIRS, TC__DOTS_PAIRS,
                                            TC__DOTS_BYTES, TC__DOTS_BF16,  TC__DOTS_TILES};
    return dots[target];
}

typedef struct tc__dot_plan {
    int each;            // how many k a word has; 1 = they are no words
    uint8_t left, right; // dtypes of the values
    int bias;            // the left is taken plus 128
    int tiles;           // by AMX
    int thirds;          // f32, of three bf16 each
    int columns,
        rows; // where words lie in memory as they are, for each column, or row: the LOAD, + 1
    int turned; // tiles of columns by rows: contract.c
    int split; // the LOAD of bytes [columns, k] that are multiplied as pairs of 16 bits, + 1
} tc__dot_plan;

// The node whose values a product multiplies: behind a cast to i32.
static const tc__node *tc__dot_node(const tc__group *g, uint32_t id) {
    const tc__node *n = g->body.node.at[id];
    while (n->op == TC_OP_CAST && n->dtype == TC_I32) n = g->body.node.at[n->in[0]];
    return n;
}

// As which dtype they are known. Halves and f8 are rounded where they are loaded or cast, no others.
static int tc__narrow_of(const tc__group *g, uint32_t id) {
    const tc__node *n = tc__dot_node(g, id);
    if (!tc__is_rounded(n->dtype) || n->op == TC_OP_CAST) return n->dtype;
    return n->op == TC_OP_LOAD ? (int)tc__buffer_of(g, n)->dtype : (int)TC_F32;
}

static int tc__dot_takes(int dtype) {
    return dtype == TC_BOOL || dtype == TC_U8 || dtype == TC_I8 || dtype == TC_I16;
}

// The LOAD with k side by side and nothing to test that operand `id` is; + 1, 0 = it is none.
static int tc__word_load(const tc__group *g, uint32_t id) {
    const tc__node *n = tc__dot_node(g, id);
    tc__ixpool *x = g->body.ix;
    if (n->op != TC_OP_LOAD || n->n_attr > TC__LOAD_PREDICATES) return 0;
    const tc__kbuf *from = tc__buffer_of(g, n);
    if (from->dtype != n->dtype || (!tc__is_memory(from) && from->place != TC__BUF_MADE))
        return 0;
    tc__ixrun run = tc__ix_run(x, n->attr[TC__LOAD_INDEX], TC__DEPTH);
    int plain = run.ok && run.run == INT64_MAX && tc__ix_equals(run.stride, 1) &&
                !tc__ix_has_val(x, n->attr[TC__LOAD_INDEX]);
    return plain && !g->target.checked ? (int)n->id + 1 : 0;
}

// Whether tiles may have products of bf16: what parts, which share their items, have the rows of these for.
static int tc__may_tile(const tc__group *g) {
    return g->target.fast && g->shape.dots >= TC__DOTS_TILES;
}

// How the product that list g ends with is multiplied.
static tc__dot_plan tc__dot_of(const tc__group *g) {
    tc__dot_plan d;
    memset(&d, 0, sizeof d);
    d.each = 1;
    d.left = (uint8_t)tc__narrow_of(g, tc__left_of(g));
    d.right = (uint8_t)tc__narrow_of(g, tc__right_of(g));
    int whole = tc__dot_takes(d.left) && tc__dot_takes(d.right) &&
                tc__product_dtype(g) == TC_I32 && g->shape.dots;
    int bf16 = d.left == TC_BF16 && d.right == TC_BF16 && g->target.fast &&
               g->shape.dots >= TC__DOTS_BF16;
    if (!whole && !bf16) return d;
    if (bf16) d.each = 2, d.tiles = g->shape.dots >= TC__DOTS_TILES;
    int bytes = d.left != TC_I16 && d.right != TC_I16;
    int no_sign = d.left == TC_U8 && d.right == TC_U8;
    if (whole) {
        d.tiles = g->shape.dots >= TC__DOTS_TILES && bytes;
        d.each = d.tiles || (bytes && g->shape.dots >= TC__DOTS_BYTES && !no_sign) ? 4 : 2;
        d.bias = d.each == 4 && !d.tiles && d.left != TC_U8 && d.right != TC_U8;
    }
    if ((int)tc__dtypes[d.right].bytes * d.each == 4)
        d.columns = tc__word_load(g, tc__right_of(g));
    if ((int)tc__dtypes[d.left].bytes * d.each == 4)
        d.rows = tc__word_load(g, tc__left_of(g));
    if (d.each == 2 && tc__dtypes[d.right].bytes == 1) d.split = tc__lying_load(g);
    return d;
}
