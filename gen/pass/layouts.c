// Convolutions on devices whose results are laid out with channels last for the next one: they are stored so by the product's
// epilogue, and nowhere else. Input: a TENSOR graph with what channels.c made. Output: the same where
//
//     %y = laid permute %x  (0,2,3,1)     what some product reads, of %x [n, c, h, w], which is computed
//
// stands in place of %x for all others as well, by movement, and where a product that %x is made of element by element has a row
// for each place, not for each channel:
//
//     %p = matmul %weight %image          [n, 1, c, places]
//     %q = matmul permute %image permute %weight; %p = permute %q
//
// so that it is made in the order of %y. Windows are right operands: such products stay as they are.

typedef struct tc__layouts {
    uint8_t *last;   // by node of it: it lies with channels last
    uint8_t *turned; //   and a product that is turned for that
} tc__layouts;

static const int64_t tc__layouts_last[] = {0, 2, 3, 1};
static const int64_t tc__layouts_first[] = {0, 3, 1, 2};
static const int64_t tc__layouts_turn[] = {0, 1, 3, 2};

static int tc__is_permuted(const tc__node *n, const int64_t *order) {
    if (n->op != TC_OP_PERMUTE || n->rank != 4) return 0;
    for (int i = 0; i < 4; i++)
        if (n->attr[i] != order[i]) return 0;
    return 1;
}

// What a LAID node has with channels last; NULL = it is of another kind.
static const tc__node *tc__layouts_image(const tc__graph *g, const tc__node *n) {
    if (n->op != TC_OP_LAID) return NULL;
    const tc__node *a = tc__operand(g, n, 0);
    if (!tc__is_permuted(a, tc__layouts_last)) return NULL;
    a = tc__operand(g, a, 0);
    return tc__is_alu(a) ? a : NULL;
}

static int tc__wants_layouts(const tc__graph *g, const tc__node *n) {
    return n->device && !g->loop.count && tc__layouts_image(g, n) != NULL;
}

// Whether n is a convolution's product of an image that is no window, of so many channels that rows are whole accesses.
static int tc__layouts_turns(const tc__graph *g, const tc__node *n) {
    if (n->op != TC_OP_MATMUL || n->rank != 4 || !tc__ix_equals(n->dims[1], 1)) return 0;
    const tc__node *weight = tc__operand(g, n, 0), *image = tc__operand(g, n, 1);
    if (!tc__is_half(weight->dtype) || weight->op != TC_OP_EXPAND) return 0;
    if (!tc__ix_is_const(n->dims[2]) || tc__ix_value(n->dims[2]) % TC__CHANNELS_PACK)
        return 0;
    while (image->op == TC_OP_RESHAPE || image->op == TC_OP_PERMUTE ||
           (image->op == TC_OP_WINDOW && tc__ix_equals(image->attr[TC__WINDOW_SIZE], 1)))
        image = tc__operand(g, image, 0);
    return image->op != TC_OP_WINDOW;
}

// Whether an operand has as many elements as what is made of it, of its own.
static int tc__layouts_whole(const tc__graph *g, const tc__node *a, const tc__node *n) {
    return a->op != TC_OP_EXPAND && a->op != TC_OP_CONST &&
           tc__node_numel(g, a) == tc__node_numel(g, n);
}

// The product that alone n is made of element by element, to be turned; NULL = there is none, or an output on the way. What is added
// to another image stays as that lies.
static const tc__node *tc__layouts_of(const tc__rewrite *w, const tc__node *n) {
    const tc__graph *g = w->from;
    while (n && !(w->live[n->id] & TC__LIVE_OUTPUT) && !tc__layouts_turns(g, n)) {
        const tc__node *of = NULL;
        int same = tc__is_alu(n) || n->op == TC_OP_RESHAPE;
        for (uint32_t i = 0; i < n->n_in && same; i++) {
            const tc__node *a = tc__operand(g, n, i);
            if (!tc__layouts_whole(g, a, n)) continue;
            if (of && of != a) return NULL;
            of = a;
        }
        n = of;
    }
    return n && w->live[n->id] & TC__LIVE_OUTPUT ? NULL : n;
}

// [n, 1, c, places] of a product with a row for each place.
static tc__node *tc__layouts_product(tc__graph *g, const tc__node *n) {
    tc__node *left = tc__make_permute(g, g->node.at[n->in[1]], tc__layouts_turn),
             *right = tc__make_permute(g, g->node.at[n->in[0]], tc__layouts_turn);
    tc__ix dims[4] = {n->dims[0], n->dims[1], n->dims[3], n->dims[2]};
    uint32_t in[2];
    if (!left || !right) return NULL;
    in[0] = left->id, in[1] = right->id;
    return tc__windowed_permute(
        g, tc__make(g, TC_OP_MATMUL, n->dtype, 4, dims, in, 2, NULL, 0), tc__layouts_turn);
}

// n, which lies with channels last.
static tc__node *tc__layouts_laid(tc__graph *g, tc__node *n) {
    n = tc__windowed_permute(g, n, tc__layouts_last);
    n = n ? tc__make_alu(g, TC_OP_LAID, n->dtype, &n, 1) : NULL;
    return tc__windowed_permute(g, n, tc__layouts_first);
}

static int tc__layouts_rewrite(tc__layouts *l, tc__rewrite *w) {
    for (size_t i = 0; i < w->nodes; i++) {
        const tc__node *n = w->from->node.at[i], *image = tc__layouts_image(w->from, n);
        uint32_t in[TC__MAX_OPERANDS];
        if (!w->live[i]) continue;
        tc__node m = tc__rewrite_proto(w, n, in), *made;
        if (image && l->last[image->id])
            made = tc__operand(w->to, w->to->node.at[w->at[image->id]], 0);
        else
            made = l->turned[i] ? tc__layouts_product(w->to, &m) : tc__node_cons(w->to, &m);
        if (made && l->last[i]) made = tc__layouts_laid(w->to, made);
        if (!made) return 0;
        w->at[i] = w->output[i] = made->id;
    }
    return 1;
}

static int tc__pass_layouts(tc__rewrite *w) {
    tc__layouts l;
    size_t n = w->nodes ? w->nodes : 1;
    l.last = TC__NEW_ARRAY(w->ctx, uint8_t, n);
    l.turned = TC__NEW_ARRAY(w->ctx, uint8_t, n);
    for (size_t i = 0; i < w->nodes && l.last && l.turned; i++) {
        const tc__node *image = tc__layouts_image(w->from, w->from->node.at[i]);
        if (!w->live[i] || !w->from->node.at[i]->device || !image) continue;
        const tc__node *product = tc__layouts_of(w, image);
        if (product) l.last[image->id] = l.turned[product->id] = 1;
    }
    int ok = l.last && l.turned && tc__layouts_rewrite(&l, w);
    tc__free(w->ctx, l.last, n), tc__free(w->ctx, l.turned, n);
    return ok;
}
