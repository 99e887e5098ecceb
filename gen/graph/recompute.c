// What derivatives take of a checkpoint (tc_checkpoint): its nodes, made again of what stood before it. Input: which
// nodes were made in which checkpoint. Output: copies of them, once for each derivation.
// A copy has no adjoint of its own, in later derivations neither: what it counts, its original does.
//
// A copy has AGAIN around each operand from outside, with a mark that no other node has: so it is a node of its own,
// though it computes the same, and the value of the first one ends with the forward pass. The rules of derivatives
// see copies where a node was made in a checkpoint; what they give is the node's. In nested checkpoints a copy is made
// of copies of the outer one. What is made of no tensor is the same in both; random numbers are drawn by the same
// counters again. Kernels compute copies late, and none that stands before them (kernel/again.c).

enum { TC__CHECKPOINTS_DEEP = 64 }; // inside each other

// The mark of a node with which something begins that is computed again; 0 = it is none.
static int64_t tc__mark_of(const tc__node *n) {
    if (n->op == TC_OP_AGAIN) return n->attr[TC__AGAIN_MARK];
    return n->op == TC_OP_RANDOM && n->n_attr > TC__RANDOM_MARK ? n->attr[TC__RANDOM_MARK]
                                                                : 0;
}

// A call of tc_checkpoint: graph/build.c notes it.
typedef struct tc__checkpoint {
    uint32_t first, end; // its nodes
    uint32_t outer;      // 1 + number of the one around it, 0 = there is none
} tc__checkpoint;

#define TC__CHECKPOINT_OPEN UINT32_MAX // end: it is being walked, and its values are there

// What all derivations of a graph have made.
typedef struct tc__copies {
    int64_t marks; // how many were given
    TC__VEC(uint32_t)
    original; // by node: what it is a copy of, or TC__NO_NODE
} tc__copies;

typedef struct tc__recompute {
    tc__graph *g;
    tc__copies *copies;               // NULL = it makes none, and has met none
    const tc__checkpoint *checkpoint; // so many, an outer one before those inside it
    size_t checkpoints;
    uint32_t n;       // nodes when the derivation began
    uint8_t *bare;    // by node: it is made of no tensor
    uint32_t *within; // by node: 1 + number of the innermost checkpoint
    uint32_t **copy;  // by checkpoint: by node of it; NULL = none is made yet
    int64_t *mark;    //   and what tells its AGAINs from others
} tc__recompute;

static void tc__recompute_close(tc__recompute *r) {
    tc_ctx *c = r->g ? r->g->ctx : NULL;
    if (!c) return;
    for (size_t i = 0; r->copy && i < r->checkpoints; i++) {
        const tc__checkpoint *k = &r->checkpoint[i];
        if (r->copy[i]) TC__FREE_ARRAY(c, r->copy[i], k->end - k->first);
    }
    if (r->bare) TC__FREE_ARRAY(c, r->bare, r->n);
    if (r->within) TC__FREE_ARRAY(c, r->within, r->n);
    if (r->copy) TC__FREE_ARRAY(c, r->copy, r->checkpoints);
    if (r->mark) TC__FREE_ARRAY(c, r->mark, r->checkpoints);
    memset(r, 0, sizeof *r);
}

static int tc__is_closed(const tc__checkpoint *k) { return k->end != TC__CHECKPOINT_OPEN; }

static int tc__is_bare(const tc__recompute *r, const tc__node *n) {
    int bare = n->n_in ? n->op != TC_OP_INPUT
                       : n->op == TC_OP_CONST || n->op == TC_OP_IOTA || n->op == TC_OP_ARG;
    for (uint32_t k = 0; k < n->n_in; k++) bare &= r->bare[n->in[k]];
    return bare;
}

// Without checkpoints it costs nothing. 0 = reported.
static int tc__recompute_open(tc__recompute *r, tc__graph *g, const tc__checkpoint *all,
                              size_t n, tc__copies *copies) {
    memset(r, 0, sizeof *r);
    r->g = g, r->copies = copies;
    if (!n) return 1;
    r->checkpoint = all, r->checkpoints = n;
    r->n = (uint32_t)g->node.count;
    r->bare = TC__NEW_ARRAY(g->ctx, uint8_t, r->n);
    r->within = TC__NEW_ARRAY(g->ctx, uint32_t, r->n);
    r->copy = TC__NEW_ARRAY(g->ctx, uint32_t *, n);
    r->mark = TC__NEW_ARRAY(g->ctx, int64_t, n);
    if (!r->bare || !r->within || !r->copy || !r->mark) return 0;
    for (uint32_t i = 0; i < r->n; i++) r->bare[i] = (uint8_t)tc__is_bare(r, g->node.at[i]);
    for (size_t i = 0; i < n; i++)
        for (uint32_t k = all[i].first; tc__is_closed(&all[i]) && k < all[i].end; k++)
            r->within[k] = (uint32_t)i + 1;
    return 1;
}

// The checkpoints around and with `number`, from 1, the outermost last.
static uint32_t tc__checkpoints_around(const tc__recompute *r, uint32_t number,
                                       uint32_t *chain) {
    uint32_t n = 0;
    for (; number && n < TC__CHECKPOINTS_DEEP; number = r->checkpoint[number - 1].outer)
        if (tc__is_closed(&r->checkpoint[number - 1])) chain[n++] = number - 1;
    return n;
}

static const tc__node *tc__original(const tc__recompute *r, const tc__node *n) {
    while (r->copies && n->id < r->copies->original.count &&
           r->copies->original.at[n->id] != TC__NO_NODE)
        n = r->g->node.at[r->copies->original.at[n->id]];
    return n;
}

// Notes that `made` is node `id` again; NULL = reported.
static tc__node *tc__recompute_note(tc__recompute *r, tc__node *made, uint32_t id) {
    tc__copies *c = r->copies;
    while (made && c->original.count <= made->id)
        if (!TC__PUSH(r->g->ctx, c->original, TC__NO_NODE)) return NULL;
    if (made && made->id >= r->n) c->original.at[made->id] = id;
    return made;
}

// Node `id` as what is made again in the checkpoints of `chain` takes it, which are copied. NULL = reported.
static tc__node *tc__again_in(tc__recompute *r, const uint32_t *chain, uint32_t n,
                              uint32_t id) {
    tc__node *v = r->g->node.at[id];
    while (v && n-- && !r->bare[id]) {
        const tc__checkpoint *k = &r->checkpoint[chain[n]];
        if (id >= k->first && id < k->end)
            v = r->g->node.at[r->copy[chain[n]][id - k->first]];
        else
            v = tc__make1(r->g, TC_OP_AGAIN, v, v->rank, v->dims, &r->mark[chain[n]], 1);
        v = tc__recompute_note(r, v, id);
    }
    return v;
}

// A copy of node `id`, which is of the innermost checkpoint of `chain`; NULL = reported.
static tc__node *tc__copy_node(tc__recompute *r, const uint32_t *chain, uint32_t n,
                               uint32_t id) {
    const tc__node *a = r->g->node.at[id];
    tc__node own = *a;
    uint32_t ids[TC__MAX_OPERANDS];
    int64_t words[3] = {0, 0, r->mark[*chain]};
    if (r->bare[id]) return r->g->node.at[id];
    r->g->from = a->from;
    if (a->op == TC_OP_INPUT) {
        tc__node *v = tc__again_in(r, chain + 1, n - 1, id);
        return v ? tc__make1(r->g, TC_OP_AGAIN, v, v->rank, v->dims, words + 2, 1) : NULL;
    }
    for (uint32_t k = 0; k < a->n_in; k++) {
        const tc__node *in = tc__again_in(r, chain, n, a->in[k]);
        if (!in) return NULL;
        ids[k] = in->id;
    }
    own.in = ids;
    if (a->op == TC_OP_RANDOM) {
        words[TC__RANDOM_KIND] = a->attr[TC__RANDOM_KIND];
        words[TC__RANDOM_DRAW] = a->attr[TC__RANDOM_DRAW];
        own.attr = words, own.n_attr = 3;
    }
    return tc__node_cons(r->g, &own);
}

// Makes the nodes of the innermost checkpoint of `chain` again. 0 = reported.
static int tc__copy_checkpoint(tc__recompute *r, const uint32_t *chain, uint32_t n) {
    const tc__checkpoint *k = &r->checkpoint[*chain];
    const struct tc__step *from = r->g->from;
    uint32_t *copy = TC__NEW_ARRAY(r->g->ctx, uint32_t, k->end - k->first);
    int ok = copy != NULL;
    r->copy[*chain] = copy, r->mark[*chain] = ++r->copies->marks;
    for (uint32_t id = k->first; ok && id < k->end; id++) {
        const tc__node *made = tc__recompute_note(r, tc__copy_node(r, chain, n, id), id);
        ok = made != NULL;
        if (ok) copy[id - k->first] = made->id;
    }
    r->g->from = from;
    return ok;
}

// Node `id` as derivatives of what checkpoint `number` made take it: from 1; 0 = no checkpoint. NULL = reported.
static tc__node *tc__again_of(tc__recompute *r, uint32_t number, uint32_t id) {
    uint32_t chain[TC__CHECKPOINTS_DEEP];
    uint32_t n = tc__checkpoints_around(r, number, chain);
    for (uint32_t i = n; i-- > 0;)
        if (!r->copy[chain[i]] && !tc__copy_checkpoint(r, chain + i, n - i)) return NULL;
    return tc__again_in(r, chain, n, id);
}
