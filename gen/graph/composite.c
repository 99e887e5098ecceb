// Composite ops of a TENSOR graph: what nodes are together, for who wants to see a composite op whole (a template, a
// derivative, an importer, a report). They change no node and no kernel.
//
// Each is the op, its operands, its words and its result, as a path has recorded it
// (graph/build.c) or a pass found it (pass/raise.c). Passes carry them along (pass/composites.c). What movement
// of a composite op's operand or result has become one with other movement, k.transpose() of a permuted k,
// say, is no node of the graph any more; then it stands aside: a node that nobody computes, which tells how
// the operand is made from one that is there. Its id has the bit TC__ASIDE.
//
//     composite layer_norm %0 %1 %2 -> %25 eps=0.00001        a dump has them behind all nodes

#define TC__ASIDE   ((uint32_t)1 << 31)
#define TC__NO_NODE UINT32_MAX

// The node of an id that they name; NULL = TC__NO_NODE.
static tc__node *tc__composite_node(const tc__graph *g, uint32_t id) {
    if (id == TC__NO_NODE) return NULL;
    return id & TC__ASIDE ? g->aside.at[id & ~TC__ASIDE] : g->node.at[id];
}

// What stands aside is movement, casts, and sources that nothing computed reads.
static int tc__may_stand_aside(const tc__node *n) {
    tc__kind k = tc__ops[n->op].kind;
    return k == TC__KIND_MOVE || k == TC__KIND_CAST || (k == TC__KIND_SOURCE && !n->n_in);
}

// A copy of the prototype, whose operands are such ids, aside; TC__NO_NODE = no memory.
static uint32_t tc__aside(tc__graph *g, const tc__node *n) {
    tc__node *m = tc__node_copy(g, n);
    if (!m || !TC__PUSH(g->ctx, g->aside, m)) return TC__NO_NODE;
    m->id = (uint32_t)(g->aside.count - 1) | TC__ASIDE;
    return m->id;
}

// The node of the graph that id is, behind what stands aside; TC__NO_NODE = none, it is a source aside.
static uint32_t tc__composite_root(const tc__graph *g, uint32_t id) {
    while (id != TC__NO_NODE && id & TC__ASIDE) {
        const tc__node *n = tc__composite_node(g, id);
        id = n->n_in ? n->in[0] : TC__NO_NODE;
    }
    return id;
}

// Whether it tells something: the result is computed, and is none of the operands.
static int tc__composite_tells(const tc__graph *g, const tc__composite *f) {
    uint32_t root = tc__composite_root(g, f->result);
    if (root == TC__NO_NODE || tc__ops[g->node.at[root]->op].kind == TC__KIND_SOURCE)
        return 0;
    for (uint32_t i = 0; i < tc__whole_of((tc__op)f->op)->n_in; i++)
        if (tc__composite_root(g, f->in[i]) == root) return 0;
    return 1;
}

// Adds one that tells something; others are left out. 0 = no memory.
static int tc__composite_add(tc__graph *g, const tc__composite *f) {
    uint64_t before = 0;
    tc__composite own = *f;
    if (!tc__composite_tells(g, f)) return 1;
    uint32_t root = tc__composite_root(g, f->result);
    (void)tc__map_get(&g->composite_of, root, &before);
    own.before = (uint32_t)before;
    return TC__PUSH(g->ctx, g->composite, own) &&
           tc__map_set(&g->composite_of, root, g->composite.count);
}

// ---- for templates, derivatives and importers ----

// The composite op whose result is node `id`, up to movement that stands aside. Of several it is the one that
// holds the others; `op` is that one, or TC_OP_TOTAL for any. NULL = there is none.
TC__UNUSED static const tc__composite *tc__composite_of(const tc__graph *g, uint32_t id,
                                                        tc__op op) {
    uint64_t at = 0;
    (void)tc__map_get(&g->composite_of, id, &at);
    while (at && op != TC_OP_TOTAL && g->composite.at[at - 1].op != (uint16_t)op)
        at = g->composite.at[at - 1].before;
    return at ? &g->composite.at[at - 1] : NULL;
}

// Operand i, TC__ATTENTION_K, say; NULL = it is not there. Where it stands aside, tc__composite_root leads on.
TC__UNUSED static const tc__node *tc__composite_in(const tc__graph *g,
                                                   const tc__composite *f, uint32_t i) {
    return tc__composite_node(g, f->in[i]);
}

// Word i that is a number, TC__LAYER_NORM_EPS, say; 0 = it is known at run time only, and its slot is in
// f->attr[i].
TC__UNUSED static int tc__composite_number(const tc__composite *f, uint32_t i,
                                           double *out) {
    if (f->args >> i & 1) return 0;
    memcpy(out, &f->attr[i], sizeof *out);
    return 1;
}
