// What is computed again (AGAIN, graph/recompute.c) is computed late: no kernel has both it and what stood before its
// AGAIN, and its kernels come right before those that first read them, so that what it is a copy of can be dropped
// between. Nor has one both a value of the forward pass and a derivative that is made of copies: those would be there from
// then on, beside what they are copies of. Input: a TENSOR graph, then clusters in an order. Output: which nodes are copies; another order.

enum {
    TC__AGAIN_NOT,
    TC__AGAIN_BARE,
    TC__AGAIN_FIRST
}; // made of tensors, of none; else as below

// Whether it was made for a step that derives, and is no copy: those are of the steps that they are copies of.
static int tc__is_derivative(const tc__node *n) {
    return n->from && tc__ops[n->from->op].kind == TC__KIND_DERIVE;
}

// What stands before the first node of its mark stands before a copy: 2 + id of that one, of the last mark that it
// is made with. A node is a copy when all that it is made of is, and it is no derivative.
static uint32_t tc__again_of_node(const uint32_t *again, const tc__node *n) {
    uint32_t last = TC__AGAIN_BARE;
    if (n->op == TC_OP_INPUT || n->op == TC_OP_RANDOM) return TC__AGAIN_NOT;
    if (n->n_in && tc__is_derivative(n)) return TC__AGAIN_NOT;
    for (uint32_t k = 0; k < n->n_in; k++) {
        uint32_t a = again[n->in[k]];
        if (a == TC__AGAIN_NOT) return TC__AGAIN_NOT;
        if (a > last) last = a;
    }
    return last;
}

// By node. 0 = out of memory.
static int tc__again_all(tc_ctx *c, const tc__graph *g, uint32_t *again) {
    int64_t marks = 0;
    for (size_t i = 0; i < g->node.count; i++)
        if (tc__mark_of(g->node.at[i]) > marks) marks = tc__mark_of(g->node.at[i]);
    uint32_t *first = TC__NEW_ARRAY(c, uint32_t, marks + 1); // by mark: its first node
    for (uint32_t i = 0; first && marks && i < g->node.count; i++) {
        const tc__node *n = g->node.at[i];
        int64_t mark = tc__mark_of(n);
        uint32_t of = tc__again_of_node(again, n);
        if (mark && !first[mark]) first[mark] = i + TC__AGAIN_FIRST;
        again[i] = mark && first[mark] > of ? first[mark] : of;
    }
    if (first) TC__FREE_ARRAY(c, first, marks + 1);
    return first != NULL;
}

// Fills s->behind: of the copies that a node is made of, or is, the last as in s->again; 0 = there is none.
static void tc__behind_all(tc__schedule *s) {
    for (uint32_t i = 0; i < s->g->node.count; i++) {
        const tc__node *n = s->g->node.at[i];
        uint32_t last = s->again[i] >= TC__AGAIN_FIRST ? s->again[i] : 0;
        for (uint32_t k = 0; k < n->n_in; k++)
            if (s->behind[n->in[k]] > last) last = s->behind[n->in[k]];
        s->behind[i] = last, s->repeats |= last != 0;
    }
}

// What a cluster of root n has of copies.
static void tc__cluster_again(const tc__schedule *s, tc__cluster *c, const tc__node *n) {
    uint32_t a = s->again[n->id];
    c->again = a >= TC__AGAIN_FIRST ? a : 0, c->behind = s->behind[n->id];
    c->ahead = c->behind || tc__is_derivative(n) ? 0 : n->id + 1;
    c->block = s->repeats && tc__is_derivative(n) ? c->behind + 1 : 0;
}

// Whether two clusters are derivatives, where something is computed again, and of two checkpoints. Without need such do not
// share a kernel: the one that could be done first would keep what it reads until the other one can be done.
static int tc__are_of_blocks(const tc__cluster *x, const tc__cluster *y) {
    return x->block && y->block;
}

static int tc__are_of_two_blocks(const tc__cluster *x, const tc__cluster *y) {
    return tc__are_of_blocks(x, y) && x->block != y->block;
}

// Whether a cluster is of the forward pass, and the other is made of copies of what stood there then.
static int tc__is_far_ahead(const tc__cluster *x, const tc__cluster *y) {
    return x->ahead && y->behind > x->ahead - 1 + TC__AGAIN_FIRST;
}

// Whether one of two clusters is computed again, or made of what is, and the other stood there before.
static int tc__is_before_again(const tc__schedule *s, const tc__cluster *x,
                               const tc__cluster *y) {
    uint32_t a = s->root.at[x->first].node, b = s->root.at[y->first].node;
    uint32_t first = a < b ? a : b, again = x->again > y->again ? x->again : y->again;
    return again > first + TC__AGAIN_FIRST || tc__is_far_ahead(x, y) ||
           tc__is_far_ahead(y, x);
}

// The place before which all has to be done that cluster order[p] reads: a loop that it is in begins there.
static uint32_t tc__needed_at(const tc__schedule *s, const uint32_t *order, uint32_t p) {
    uint32_t in = s->cluster.at[order[p]].loop;
    if (!in) return p;
    while (s->g->loop.at[in - 1].outer) in = s->g->loop.at[in - 1].outer;
    while (p && tc__loop_has(s->g, in, s->cluster.at[order[p - 1]].loop)) p--;
    return p;
}

// By place in the order: that of the first kernel before which it has to be done. 0 = out of memory.
static int tc__find_anchors(const tc__schedule *s, const uint32_t *order, size_t n,
                            uint64_t *anchor) {
    size_t some = s->cluster.count ? s->cluster.count : 1;
    uint32_t *reader = TC__NEW_ARRAY(s->ctx, uint32_t, some); // 1 + place of the first
    for (size_t p = n; reader && p-- > 0;) {
        const tc__cluster *c = &s->cluster.at[order[p]];
        uint32_t own = reader[order[p]];
        uint32_t at = c->again && own && !c->loop ? own - 1 : (uint32_t)p;
        anchor[p] = at;
        if (c->loop) at = tc__needed_at(s, order, (uint32_t)p);
        for (uint32_t r = c->first; r != UINT32_MAX; r = s->root.at[r].next) {
            const tc__root *root = &s->root.at[r];
            for (uint32_t i = root->use; i < root->use + root->uses; i++) {
                uint32_t *first = &reader[s->root.at[s->use.at[i].root].group];
                if (!*first || at < *first - 1) *first = at + 1;
            }
        }
    }
    if (reader) TC__FREE_ARRAY(s->ctx, reader, some);
    return reader != NULL;
}

static int tc__anchor_order(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

// Moves clusters that are computed again to where they are needed. 0 = out of memory.
static int tc__order_again(const tc__schedule *s, uint32_t *order, size_t n) {
    int any = 0;
    for (size_t i = 0; i < n; i++) any |= s->cluster.at[order[i]].again != 0;
    if (!any) return 1;
    uint64_t *key = TC__NEW_ARRAY(s->ctx, uint64_t, n);
    uint32_t *was = TC__NEW_ARRAY(s->ctx, uint32_t, n);
    int ok = key && was && tc__find_anchors(s, order, n, key);
    for (size_t i = 0; ok && i < n; i++) key[i] = key[i] << 32 | i, was[i] = order[i];
    if (ok) qsort(key, n, sizeof *key, tc__anchor_order);
    for (size_t i = 0; ok && i < n; i++) order[i] = was[(uint32_t)key[i]];
    if (key) TC__FREE_ARRAY(s->ctx, key, n);
    if (was) TC__FREE_ARRAY(s->ctx, was, n);
    return ok;
}
