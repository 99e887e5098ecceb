// The sweep of derivatives over nodes: which rule of graph/derive.c a node has, what the user has told of ops of his, and
// what is left out. Input: a node whose adjoint is known. Output: those of its operands.

// ---- ops of the user's ----

// Nodes that are made of the seed are made again of g in its place, up to node `last`; for what is made in a checkpoint,
// so are those that are made of its values. map[i] is what node seed + i is then.
static void tc__d_replaced(tc__derive *d, uint32_t seed, const tc__node *g, uint32_t last,
                           uint32_t *map) {
    map[0] = g->id;
    for (uint32_t i = seed + 1; i <= last && !d->failed; i++) {
        tc__node own = *d->g->node.at[i];
        uint32_t ids[TC__MAX_OPERANDS];
        int changed = 0;
        map[i - seed] = i;
        for (uint32_t k = 0; k < own.n_in && !d->failed; k++) {
            const tc__node *a = own.in[k] < seed ? tc__d_value(d, own.in[k]) : NULL;
            ids[k] = a ? a->id : map[own.in[k] - seed];
            changed |= ids[k] != own.in[k];
        }
        if (!changed || d->failed) continue;
        own.in = ids;
        const tc__node *made = tc__node_cons(d->g, &own);
        d->failed |= !made;
        if (made) map[i - seed] = made->id;
    }
}

static void tc__derive_own(tc__derive *d, const tc__own_gradient *o, const tc__node *n,
                           tc__node *g) {
    uint32_t last = o->seed;
    for (uint32_t i = 0; i < o->n; i++)
        if (o->in[i] != TC__NO_NODE && o->in[i] > last) last = o->in[i];
    uint32_t *map = TC__NEW_ARRAY(d->g->ctx, uint32_t, last - o->seed + 1);
    d->failed |= !map;
    if (map) tc__d_replaced(d, o->seed, g, last, map);
    for (uint32_t i = 0; i < o->n && !d->failed; i++) {
        uint32_t at = o->in[i];
        if (at == TC__NO_NODE) continue;
        tc__d_give(d, tc__d_in(d, n, i),
                   at < o->seed ? tc__d_value(d, at) : d->g->node.at[map[at - o->seed]]);
    }
    if (map) TC__FREE_ARRAY(d->g->ctx, map, last - o->seed + 1);
}

static const tc__own_gradient *tc__own_of(const tc__derive *d, const tc__node *n) {
    for (size_t i = 0; i < d->owns; i++)
        if (d->own[i].result == n->id) return &d->own[i];
    return NULL;
}

// What is not here is refused, or arithmetic.
static const struct {
    tc__op op;
    tc__rule_fn rule;
} tc__derive_rules[] = {
    {TC_OP_RESHAPE, tc__derive_reshape},
    {TC_OP_PERMUTE, tc__derive_permute},
    {TC_OP_EXPAND, tc__derive_expand},
    {TC_OP_SLICE, tc__derive_slice},
    {TC_OP_PAD, tc__derive_pad},
    {TC_OP_WINDOW, tc__derive_window},
    {TC_OP_CAT, tc__derive_cat},
    {TC_OP_TAKE, tc__derive_take},
    {TC_OP_GATHER, tc__derive_gather},
    {TC_OP_SUM, tc__derive_sum},
    {TC_OP_PROD, tc__derive_prod},
    {TC_OP_AMAX, tc__derive_extreme},
    {TC_OP_AMIN, tc__derive_extreme},
    {TC_OP_MATMUL, tc__derive_matmul},
    {TC_OP_CUMSUM, tc__derive_cumsum},
    {TC_OP_CUMPROD, tc__derive_cumprod},
    {TC_OP_SCATTER, tc__derive_scatter},
    {TC_OP_SCATTER_ADD, tc__derive_scatter},
    {TC_OP_INDEX_ADD, tc__derive_index_add},
    {TC_OP_ROW_ADD, tc__derive_index_add},
    {TC_OP_TO, tc__derive_to},
    {TC_OP_AGAIN, tc__derive_same},
    {TC_OP_WRT, tc__derive_same},
    {TC_OP_CENTRED, tc__derive_same},
    {TC_OP_DETACH, tc__derive_nothing},
    {TC_OP_CARRY, tc__derive_nothing}, // see tc__derive_loop
    {TC_OP_NEXT, tc__derive_nothing},
    {TC_OP_CARRIED, tc__derive_nothing},
    {TC_OP_STACKED, tc__derive_nothing},
    {TC_OP_INPUT, tc__derive_nothing},
    {TC_OP_CONST, tc__derive_nothing},
    {TC_OP_ARG, tc__derive_nothing},
    {TC_OP_IOTA, tc__derive_nothing},
    {TC_OP_RANDOM, tc__derive_nothing},
};

static tc__rule_fn tc__derive_rule(const tc__node *n) {
    if (tc__is_alu(n) || n->op == TC_OP_CAST) return tc__derive_alu;
    for (size_t i = 0; i < TC__COUNT(tc__derive_rules); i++)
        if (tc__derive_rules[i].op == (tc__op)n->op) return tc__derive_rules[i].rule;
    return NULL;
}

// ---- the sweep ----

// What y does not depend on is left out.
static void tc__derive_node(tc__derive *d, const tc__node *n) {
    tc__rule_fn rule = tc__derive_rule(n);
    const tc__own_gradient *own = n->op == TC_OP_CUSTOM ? tc__own_of(d, n) : NULL;
    int how = d->how[n->id];
    if (rule == tc__derive_nothing || !how) return;
    if (!rule && !own) how |= TC__REFUSED;
    if (!rule && !own && !d->why) d->why = n;
    for (uint32_t i = 0; i < n->n_in; i++)
        if (tc__d_flows(tc__d_in(d, n, i))) tc__d_depends(d, n->in[i], how);
    if ((!rule && !own) || !d->adjoint[n->id]) return;
    tc__node *g = d->g->node.at[d->adjoint[n->id] - 1];
    d->g->device = n->device;
    d->inside = d->again.checkpoints ? d->again.within[n->id] : 0;
    n = tc__d_value(d, n->id);
    if (!n) return;
    if (own)
        tc__derive_own(d, own, n, g);
    else
        rule(d, n, g);
}

static void tc__derive_close(tc__derive *d) {
    tc_ctx *c = d->g ? d->g->ctx : NULL;
    if (!c) return;
    tc__free(c, d->adjoint, d->n * sizeof *d->adjoint);
    tc__free(c, d->how, d->n);
    tc__recompute_close(&d->again);
    memset(d, 0, sizeof *d);
}
