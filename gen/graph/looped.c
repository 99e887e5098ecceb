// Nodes of loops. A loop of the graph is a symbol, the number of the turn, and a chain of NEXT nodes: (carry, what it
// is in the next turn, the NEXT before). What is left of a loop has the end of the chain as an operand, so passes
// know that all carries are needed, and nothing else has to be told.

enum { TC__LOOPS_DEEP = 8 };

static int tc__make_loop(tc__graph *g, tc__ix turns, size_t slot) {
    tc__rounds l;
    int64_t last = tc__ix_hi(g->ix, turns) - 1;
    memset(&l, 0, sizeof l);
    l.slot = (uint32_t)slot, l.turns = turns, l.first = (uint32_t)g->node.count;
    l.turn = tc__ix_sym(g->ix, (int64_t)slot, 0, last < 0 ? 0 : last);
    return TC__PUSH(g->ctx, g->loop, l);
}

// Row `turn` of a.
static tc__node *tc__make_row(tc__graph *g, tc__node *a, tc__ix turn) {
    tc__ix dims[TC_MAX_RANK], one = tc__ix_const(1);
    if (a && tc__ix_equals(a->dims[0], 0)) { // no turn will be: anything that has its sizes
        tc__value none = tc__value_of(0, a->dtype);
        return tc__make_expand(g, tc__make_const(g, a->dtype, none), a->rank - 1,
                               a->dims + 1);
    }
    a = tc__make_slice(g, a, 0, turn, one, one);
    if (!a) return NULL;
    for (int i = 1; i < a->rank; i++) dims[i - 1] = a->dims[i];
    return tc__make_reshape(g, a, a->rank - 1, dims);
}

static tc__node *tc__make_carry(tc__graph *g, uint32_t loop, tc__node *init,
                                int64_t number) {
    int64_t word[2];
    word[TC__CARRY_LOOP] = loop, word[TC__CARRY_NUMBER] = number;
    return init ? tc__make1(g, TC_OP_CARRY, init, init->rank, init->dims, word, 2) : NULL;
}

static tc__node *tc__make_next(tc__graph *g, const tc__node *carry, const tc__node *value) {
    tc__rounds *l = &g->loop.at[carry->attr[TC__CARRY_LOOP]];
    uint32_t in[3];
    in[0] = carry->id, in[1] = value->id, in[2] = l->chain - 1;
    tc__node *n = tc__make(g, TC_OP_NEXT, carry->dtype, carry->rank, carry->dims, in,
                           l->chain ? 3 : 2, carry->attr, 2);
    if (n) l->chain = n->id + 1;
    return n;
}

static tc__node *tc__make_carried(tc__graph *g, const tc__node *next) {
    uint32_t in[2];
    in[0] = next->id, in[1] = g->loop.at[next->attr[TC__NEXT_LOOP]].chain - 1;
    return tc__make(g, TC_OP_CARRIED, next->dtype, next->rank, next->dims, in, 2,
                    next->attr, 2);
}

static tc__node *tc__make_stacked(tc__graph *g, uint32_t loop, const tc__node *y) {
    const tc__rounds *l = &g->loop.at[loop];
    tc__ix dims[TC_MAX_RANK];
    uint32_t in[2];
    int64_t word = loop;
    if (!y || y->rank == TC_MAX_RANK) return NULL;
    in[0] = y->id, in[1] = l->chain - 1;
    dims[0] = l->turns;
    for (int i = 0; i < y->rank; i++) dims[i + 1] = y->dims[i];
    return tc__make(g, TC_OP_STACKED, y->dtype, y->rank + 1, dims, in, l->chain ? 2 : 1,
                    &word, 1);
}

static int tc__loops_copy(tc__graph *to, const tc__graph *from) {
    for (size_t i = 0; i < from->loop.count; i++)
        if (!TC__PUSH(to->ctx, to->loop, from->loop.at[i])) return 0;
    return 1;
}

static int tc__loop_depth(const tc__graph *g, uint32_t loop) {
    int n = 0;
    for (; loop; loop = g->loop.at[loop - 1].outer) n++;
    return n;
}

// Whether `in` is loop `loop`, or inside it; both as tc__node.loop.
static int tc__loop_has(const tc__graph *g, uint32_t loop, uint32_t in) {
    while (in && in != loop) in = g->loop.at[in - 1].outer;
    return in == loop;
}

static uint32_t tc__loop_deeper(const tc__graph *g, uint32_t a, uint32_t b) {
    return tc__loop_depth(g, a) >= tc__loop_depth(g, b) ? a : b;
}

// The innermost loop whose turn e names.
static uint32_t tc__loop_named(const tc__graph *g, tc__ix e) {
    uint32_t in = 0;
    for (uint32_t i = 0; i < g->loop.count && !tc__ix_is_const(e); i++)
        if (tc__ix_has_sym(g->ix, e, g->loop.at[i].slot))
            in = tc__loop_deeper(g, in, i + 1);
    return in;
}

// 1 + the innermost loop that node n is in, where `of` has those of its operands; 0 = none.
static uint32_t tc__loop_of(const tc__graph *g, const tc__node *n, const uint32_t *of) {
    uint32_t in = 0;
    if (n->op == TC_OP_CARRY) return (uint32_t)n->attr[TC__CARRY_LOOP] + 1;
    if (n->op == TC_OP_CARRIED || n->op == TC_OP_STACKED)
        return g->loop.at[n->attr[TC__CARRIED_LOOP]].outer;
    for (uint32_t i = 0; i < n->n_in; i++) in = tc__loop_deeper(g, in, of[n->in[i]]);
    for (uint32_t i = 0; i < n->n_attr; i++)
        if (tc__attr_is_ix(n, i))
            in = tc__loop_deeper(g, in, tc__loop_named(g, n->attr[i]));
    return in;
}

// By node: 1 + the innermost loop that it is in, 0 = none. Owned by the caller; NULL = no memory.
static uint32_t *tc__loops_of(const tc__graph *g) {
    uint32_t *of = TC__NEW_ARRAY(g->ctx, uint32_t, g->node.count);
    for (size_t i = 0; of && i < g->node.count; i++)
        of[i] = tc__loop_of(g, g->node.at[i], of);
    return of;
}
