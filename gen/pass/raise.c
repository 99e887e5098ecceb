// Attention written by hand: softmax(q k^T * scale [+ mask]) v in plain ops is found, and told as the composite
// op that it is (graph/composite.c). No node changes.
//
//   P V, where P = e / sum(e) or e * reciprocal(sum(e)), e = exp(x - max(x)), both over the last dimension
//   x = s    s + mask    where(mask, s, -inf)
//   s = q k^T with a number as factor or divisor of it, of q or of k, or with none
//
// Casts between floats do not count: halves are widened where softmax computes. It is attention but for a query
// that attends to none: softmax of -inf alone is NaN, which the word `nan` says. Without taking the largest
// out (exp(x) / sum(exp(x)) overflows), over another dimension, with anything else between the two
// products, it is another function, and nothing is said.

typedef struct tc__attention {
    const tc__node *q, *k, *v, *mask; // k: its transposition; mask NULL = none
    double scale;
    int64_t slot; // of an ARG that is the scale; -1 = it is a number
    int scaled;   // how many numbers it is made of
} tc__attention;

static int tc__raise_is_expanded(const tc__node *n) {
    return n->op == TC_OP_EXPAND || n->op == TC_OP_RESHAPE;
}

// What n is behind casts from float to float.
static const tc__node *tc__raise_uncast(const tc__graph *g, const tc__node *n) {
    while (n->op == TC_OP_CAST && tc__is_float(n->dtype) &&
           tc__is_float(tc__operand(g, n, 0)->dtype))
        n = tc__operand(g, n, 0);
    return n;
}

// What n repeats.
static const tc__node *tc__raise_unexpanded(const tc__graph *g, const tc__node *n) {
    while (tc__raise_is_expanded(n)) n = tc__operand(g, n, 0);
    return n;
}

// Whether n, repeated along the last dimension, is `op` of x over that dimension.
static int tc__raise_is_over_rows(const tc__graph *g, const tc__node *n, tc__op op,
                                  const tc__node *x) {
    n = tc__raise_unexpanded(g, n);
    return n->op == (uint16_t)op && n->in[0] == x->id && x->rank >= 2 &&
           n->attr[TC__REDUCE_DIMS] == (int64_t)1 << (x->rank - 1);
}

// The operand x of n = softmax(x) over the last dimension; NULL = it is none.
static const tc__node *tc__raise_softmax(const tc__graph *g, const tc__node *n) {
    const tc__node *e, *sum;
    if (n->op != TC_OP_DIV && n->op != TC_OP_MUL) return NULL;
    e = tc__operand(g, n, 0), sum = tc__operand(g, n, 1);
    if (n->op == TC_OP_MUL && e->op != TC_OP_EXP) sum = e, e = tc__operand(g, n, 1);
    if (n->op == TC_OP_MUL) {
        sum = tc__raise_unexpanded(g, sum);
        if (sum->op != TC_OP_RECIPROCAL) return NULL;
        sum = tc__operand(g, sum, 0);
    }
    if (e->op != TC_OP_EXP || !tc__raise_is_over_rows(g, sum, TC_OP_SUM, e)) return NULL;
    const tc__node *d = tc__operand(g, e, 0);
    if (d->op != TC_OP_SUB) return NULL;
    const tc__node *x = tc__operand(g, d, 0);
    return tc__raise_is_over_rows(g, tc__operand(g, d, 1), TC_OP_AMAX, x) ? x : NULL;
}

// n without a number that it is multiplied with or divided by, which goes to the scale. NULL = two factors of
// which one is known at run time only.
static const tc__node *tc__raise_unscaled(const tc__graph *g, const tc__node *n,
                                          tc__attention *a) {
    n = tc__raise_uncast(g, n);
    if (n->op != TC_OP_MUL && n->op != TC_OP_DIV) return n;
    for (uint32_t i = 2; i-- > (n->op == TC_OP_DIV ? 1u : 0u);) {
        const tc__node *by =
            tc__raise_unexpanded(g, tc__raise_uncast(g, tc__operand(g, n, i)));
        by = tc__raise_uncast(g, by);
        if (by->op != TC_OP_CONST && by->op != TC_OP_ARG) continue;
        a->scaled++;
        if (by->op == TC_OP_CONST) {
            double v = tc__node_const(by).f;
            a->scale = n->op == TC_OP_DIV ? a->scale / v : a->scale * v;
        } else if (n->op == TC_OP_DIV) {
            return NULL;
        } else {
            a->slot = by->attr[TC__ARG_SLOT];
        }
        return a->slot >= 0 && a->scaled > 1
                   ? NULL
                   : tc__raise_uncast(g, tc__operand(g, n, 1 - i));
    }
    return n;
}

// Whether n is s.
static int tc__raise_scores(const tc__graph *g, const tc__node *n, tc__attention *a) {
    n = tc__raise_unscaled(g, n, a);
    if (!n || n->op != TC_OP_MATMUL) return 0;
    a->q = tc__raise_unscaled(g, tc__operand(g, n, 0), a);
    a->k = a->q ? tc__raise_unscaled(g, tc__operand(g, n, 1), a) : NULL;
    return a->k != NULL;
}

// The same with x, of which one operand may be the mask.
static int tc__raise_masked(const tc__graph *g, const tc__node *x, tc__attention *a) {
    tc__attention none = *a;
    tc__value least;
    x = tc__raise_uncast(g, x);
    if (tc__raise_scores(g, x, a)) return 1;
    *a = none;
    if (x->op == TC_OP_WHERE) {
        if (!tc__splat_value(g, tc__operand(g, x, 2), &least) || least.f != -tc__infinity())
            return 0;
        a->mask = tc__operand(g, x, 0);
        return tc__raise_scores(g, tc__operand(g, x, 1), a);
    }
    for (uint32_t i = 0; i < 2 && x->op == TC_OP_ADD; i++) {
        *a = none, a->mask = tc__operand(g, x, 1 - i);
        if (tc__raise_scores(g, tc__operand(g, x, i), a)) return 1;
    }
    return 0;
}

// Whether n is attention, and nobody has said so.
static int tc__raise_match(const tc__graph *g, const tc__node *n, tc__attention *a) {
    memset(a, 0, sizeof *a);
    a->scale = 1, a->slot = -1;
    if (n->op != TC_OP_MATMUL || !tc__is_float(n->dtype)) return 0;
    const tc__node *x = tc__raise_softmax(g, tc__raise_uncast(g, tc__operand(g, n, 0)));
    if (!x || tc__composite_of(g, n->id, TC_OP_ATTENTION)) return 0;
    a->v = tc__operand(g, n, 1);
    return tc__raise_masked(g, x, a);
}

static int tc__wants_raise(const tc__graph *g, const tc__node *n) {
    tc__attention a;
    return tc__raise_match(g, n, &a);
}

// n with its last two dimensions exchanged: what it is the transposition of, or aside. TC__NO_NODE = no memory.
static uint32_t tc__raise_transposed(tc__graph *g, const tc__node *n) {
    int64_t order[TC_MAX_RANK];
    uint32_t in = n->id;
    tc__node m = *n;
    int same = n->op == TC_OP_PERMUTE;
    for (int i = 0; i < n->rank; i++) order[i] = i;
    order[n->rank - 2] = n->rank - 1, order[n->rank - 1] = n->rank - 2;
    for (int i = 0; same && i < n->rank; i++) same = n->attr[i] == order[i];
    if (same) return n->in[0];
    for (int i = 0; i < n->rank; i++) m.dims[i] = n->dims[order[i]];
    m.op = TC_OP_PERMUTE, m.n_in = 1, m.in = &in, m.n_attr = n->rank, m.attr = order;
    return tc__aside(g, &m);
}

static int tc__raise_add(tc__graph *g, const tc__node *n, const tc__attention *a) {
    tc__composite f;
    memset(&f, 0, sizeof f);
    for (uint32_t i = 0; i < TC__WHOLE_OPERANDS; i++) f.in[i] = TC__NO_NODE;
    f.op = TC_OP_ATTENTION, f.result = n->id;
    f.in[TC__ATTENTION_Q] = a->q->id, f.in[TC__ATTENTION_V] = a->v->id;
    f.in[TC__ATTENTION_K] = tc__raise_transposed(g, a->k);
    if (a->mask) f.in[TC__ATTENTION_MASK] = a->mask->id;
    f.attr[TC__WHOLE_GIVEN] = a->mask ? 15 : 7;
    f.attr[TC__ATTENTION_NAN] = 1;
    memcpy(&f.attr[TC__ATTENTION_SCALE], &a->scale, sizeof a->scale);
    if (a->slot >= 0)
        f.attr[TC__ATTENTION_SCALE] = a->slot, f.args = 1u << TC__ATTENTION_SCALE;
    return f.in[TC__ATTENTION_K] != TC__NO_NODE && tc__composite_add(g, &f);
}

static int tc__pass_raise(tc__rewrite *w) {
    if (!tc__rewrite_each(w, NULL)) return 0;
    for (size_t i = 0; i < w->nodes; i++) {
        tc__attention a;
        if (!w->live[i] || !tc__raise_match(w->from, w->from->node.at[i], &a)) continue;
        const tc__node *n = w->to->node.at[w->at[i]];
        if (tc__raise_match(w->to, n, &a) && !tc__raise_add(w->to, n, &a)) return 0;
    }
    return 1;
}
