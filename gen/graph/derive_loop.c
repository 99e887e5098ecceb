// Derivatives of loops: a second loop that goes back. Input: adjoints of what a loop left. Output: those of what it was
// given, and of all that it used of the outside.
//
// A turn of it is the turn of the first one, made again of its row and of what the carries were then, which the first
// loop stacks; so are products, reductions and opaque ops, and sigmoid and tanh of products, for which
// the product itself is seldom needed then. What is left is computed again. Over these nodes goes the
// sweep of derive_sweep.c. What a carry counts is a carry of the loop back. What something of the outside counts is summed
// by a carry; or, if a turn uses one row of it, it is stacked; and what a factor of products counts is one product over
// the rows of all turns, behind the loop.

// What a turn's value was, a row of what the first loop stacked; and the node that would make it again, which has its
// adjoint. UINT32_MAX = a carry.
typedef struct tc__remade {
    uint32_t value, by;
} tc__remade;

// What counts for something of the outside when the loop is over.
typedef struct tc__late {
    uint32_t of;   // node
    int64_t dim;   // rows: the dimension that they are of
    int factor;    // products: 0 = the left one, 1 = the right one; or TC__LATE_ROW
    uint32_t a, g; // products: the other factor; the adjoint of a turn
} tc__late;

typedef struct tc__back {
    tc__derive *outer;
    uint32_t from, loop; // the loop, and the one that goes back
    uint32_t first, end; // nodes of the turn that is made again
    uint32_t *in;        // tc__loops_of,
    uint32_t *map;       //   and by node of the turn 1 + what it is in the loop back
    uint8_t *product;    //   and whether it is one, or element by element made of one,
    uint32_t nodes;      //   of so many
    uint32_t *inner;     // by loop before it: 1 + what that is, where it is in the turn
    TC__VEC(tc__remade) remade;
    TC__VEC(tc__late) late;
} tc__back;

static int tc__back_is_outside(const tc__back *b, uint32_t id) { return id < b->first; }

static tc__ix tc__back_turn(const tc__back *b) {
    return b->outer->g->loop.at[b->loop].turn;
}

// ---- the turn, again ----

static uint32_t tc__back_at(const tc__back *b, uint32_t id) {
    return b->map[id] ? b->map[id] - 1 : id;
}

// The value of n, which the first loop stacks.
static tc__node *tc__back_saved(tc__back *b, const tc__node *n, uint32_t by) {
    tc__graph *g = b->outer->g;
    tc__node *all = tc__make_stacked(g, b->from, n);
    tc__node *made = tc__make_row(g, all, tc__back_turn(b));
    tc__remade r;
    r.value = made ? made->id : 0, r.by = by;
    return made && TC__PUSH(g->ctx, b->remade, r) ? made : NULL;
}

// Index expression e of the turn.
static tc__ix tc__back_ix(const tc__back *b, tc__ix e) {
    tc__graph *g = b->outer->g;
    e = tc__ix_with(g->ix, e, g->loop.at[b->from].slot, tc__back_turn(b));
    for (uint32_t i = b->from; i < b->loop; i++)
        if (b->inner[i])
            e = tc__ix_with(g->ix, e, g->loop.at[i].slot, g->loop.at[b->inner[i] - 1].turn);
    return e;
}

// Node n with the operands that it has here, and the turns of these loops.
static tc__node *tc__back_copy(tc__back *b, const tc__node *n) {
    tc__graph *g = b->outer->g;
    uint32_t in[TC__MAX_OPERANDS];
    int64_t attr[TC__MAX_OPERANDS];
    tc__node m = *n;
    for (uint32_t i = 0; i < n->n_in; i++) in[i] = tc__back_at(b, n->in[i]);
    for (uint32_t i = 0; i < n->n_attr; i++)
        attr[i] = tc__attr_is_ix(n, i) ? tc__back_ix(b, n->attr[i]) : n->attr[i];
    if (tc__ops[n->op].kind == TC__KIND_LOOP)
        attr[TC__CARRY_LOOP] = (int64_t)b->inner[n->attr[TC__CARRY_LOOP]] - 1;
    m.in = in, m.attr = attr;
    tc__node *made = tc__node_cons(g, &m);
    if (made && n->op == TC_OP_NEXT) g->loop.at[attr[TC__NEXT_LOOP]].chain = made->id + 1;
    return made;
}

// Whether node n of the turn is a product, or arithmetic and movement made of one.
static int tc__back_is_product(const tc__back *b, const tc__node *n) {
    tc__kind k = tc__ops[n->op].kind;
    int made = 0;
    if (k == TC__KIND_CONTRACT) return 1;
    if (k == TC__KIND_LOOP || k == TC__KIND_REDUCE || k == TC__KIND_OPAQUE) return 0;
    for (uint32_t i = 0; i < n->n_in; i++) made |= b->product[n->in[i]];
    return made;
}

// Whether n of the turn is stacked: what loops in the turn compute is made again. Of no turn nothing is saved.
static int tc__back_is_saved(const tc__back *b, const tc__node *n) {
    tc__kind k = tc__ops[n->op].kind;
    int dear = n->op == TC_OP_SIGMOID ||
               n->op == TC_OP_TANH; // their slopes are made of their values
    return tc__is_arithmetic(n->dtype) && b->in[n->id] == b->from + 1 &&
           !tc__ix_equals(b->outer->g->loop.at[b->from].turns, 0) &&
           (k == TC__KIND_REDUCE || k == TC__KIND_CONTRACT || k == TC__KIND_OPAQUE ||
            (dear && b->product[n->id]));
}

// Node n of the turn; 0 = no memory.
static int tc__back_make(tc__back *b, uint32_t id) {
    const tc__node *n = b->outer->g->node.at[id];
    tc__node *made;
    int own =
        tc__ops[n->op].kind == TC__KIND_LOOP && n->attr[TC__CARRY_LOOP] == (int64_t)b->from;
    if (own && n->op == TC_OP_NEXT) return 1;
    b->product[id] = (uint8_t)tc__back_is_product(b, n);
    made = own ? tc__back_saved(b, n, UINT32_MAX) : tc__back_copy(b, n);
    if (made && !own && tc__back_is_saved(b, n)) made = tc__back_saved(b, n, made->id);
    if (made) b->map[id] = made->id + 1;
    return made != NULL;
}

// ---- adjoints ----

// Whether a is the row of this turn of something outside; *of = that.
static int tc__back_is_row(const tc__derive *d, const tc__node *a, const tc__node **of) {
    const tc__back *b = d->back;
    if (a->op == TC_OP_RESHAPE) a = d->g->node.at[a->in[0]];
    if (a->op != TC_OP_SLICE) return 0;
    *of = d->g->node.at[a->in[0]];
    return !a->attr[TC__SLICE_DIM] && a->attr[TC__SLICE_START] == tc__back_turn(b) &&
           (tc__back_is_outside(b, a->in[0]) || (*of)->op == TC_OP_STACKED) &&
           (*of)->dims[0] == d->g->loop.at[b->loop].turns;
}

// Whether each row has a turn: else nothing is known of rows that have none.
static int tc__back_is_whole(const tc__back *b) {
    return !b->outer->g->loop.at[b->loop].times;
}

static int tc__back_late(tc__derive *d, const tc__late *l) {
    if (!TC__PUSH(d->g->ctx, d->back->late, *l)) d->failed = 1;
    return 1;
}

// Where n, one row of a, is of this turn: its adjoint is stacked. 0 = it is not.
static int tc__derive_row_late(tc__derive *d, const tc__node *n, tc__node *g) {
    tc__late l;
    const tc__node *a = g ? d->g->node.at[n->in[0]] : NULL;
    if (!a || !tc__back_is_outside(d->back, a->id)) return 0;
    if (!tc__back_is_whole(d->back)) return 0;
    if (n->attr[TC__SLICE_START] != tc__back_turn(d->back)) return 0;
    memset(&l, 0, sizeof l);
    l.of = a->id, l.dim = n->attr[TC__SLICE_DIM], l.factor = TC__LATE_ROW, l.g = g->id;
    if (a->dims[l.dim] != d->g->loop.at[d->back->loop].turns) return 0;
    return tc__back_late(d, &l);
}

// Where factor i of product n is of the outside: a product behind the loop. 0 = it is not.
static int tc__derive_factor_late(tc__derive *d, const tc__node *n, uint32_t i,
                                  const tc__node *g) {
    tc__late l;
    const tc__node *a = d->g->node.at[n->in[!i]];
    if (!g || !tc__back_is_outside(d->back, n->in[i])) return 0;
    if (!tc__back_is_whole(d->back)) return 0;
    if (tc__back_is_outside(d->back, a->id) || n->rank == TC_MAX_RANK) return 0;
    memset(&l, 0, sizeof l);
    l.of = n->in[i], l.factor = (int)i, l.a = a->id, l.g = g->id;
    return tc__back_late(d, &l);
}

static int tc__derive_late(tc__derive *d, const tc__node *n, int factor, tc__node *g) {
    return factor == TC__LATE_ROW ? tc__derive_row_late(d, n, g)
                                  : tc__derive_factor_late(d, n, (uint32_t)factor, g);
}

// All turns of a, as rows. What was reshaped is stacked as it was, so that two shapes of it are stored once.
static tc__node *tc__back_stacked(tc__back *b, const tc__node *a) {
    tc__graph *g = b->outer->g;
    tc__ix dims[TC_MAX_RANK];
    const tc__node *was = a->op == TC_OP_RESHAPE ? g->node.at[a->in[0]] : a;
    if (was == a || tc__back_is_outside(b, was->id) || a->rank == TC_MAX_RANK ||
        was->rank == TC_MAX_RANK)
        return tc__make_stacked(g, b->loop, a);
    tc__node *all = tc__make_stacked(g, b->loop, was);
    dims[0] = g->loop.at[b->loop].turns;
    memcpy(dims + 1, a->dims, a->rank * sizeof *dims);
    return all ? tc__make_reshape(g, all, a->rank + 1, dims) : NULL;
}

// The same, but of a row of something that is all of its rows, which may have more dimensions, of size 1.
static tc__node *tc__back_all(tc__back *b, uint32_t id) {
    tc__derive d = *b->outer;
    const tc__node *of, *a = d.g->node.at[id];
    tc__ix dims[TC_MAX_RANK];
    d.back = b;
    if (!tc__back_is_row(&d, a, &of)) return tc__back_stacked(b, a);
    dims[0] = of->dims[0];
    memcpy(dims + 1, a->dims, a->rank * sizeof *dims);
    return tc__make_reshape(d.g, d.g->node.at[of->id], a->rank + 1, dims);
}

// a [turns, .., m, n] with the turns in front of dimension `dim` of a turn, and one with it.
static tc__node *tc__back_joined(tc__derive *d, tc__node *a, int dim) {
    tc__ix dims[TC_MAX_RANK];
    a = tc__d_moved(d, a, 0, dim);
    if (!a) return NULL;
    for (int i = 0; i < a->rank - 1; i++) dims[i] = a->dims[i + (i > dim)];
    dims[dim] = tc__ix_mul(d->g->ix, a->dims[dim], a->dims[dim + 1]);
    return tc__make_reshape(d->g, a, a->rank - 1, dims);
}

static void tc__back_give_late(tc__back *b, const tc__late *l) {
    tc__derive *d = b->outer;
    const tc__node *of = d->g->node.at[l->of];
    tc__node *g =
        l->factor < 0 ? tc__back_stacked(b, d->g->node.at[l->g]) : tc__back_all(b, l->g);
    if (l->factor < 0) { // [turns, .., 1, ..]
        tc__ix dims[TC_MAX_RANK];
        for (int i = 0; g && i < g->rank - 1; i++)
            dims[i] = g->dims[i <= l->dim ? i : i + 1];
        g = tc__d_moved(d, g ? tc__make_reshape(d->g, g, g->rank - 1, dims) : NULL, 0,
                        (int)l->dim);
    } else {
        int last = d->g->node.at[l->g]->rank - 1;
        tc__node *a = tc__back_all(b, l->a);
        int deep = l->factor ? last - 1 : last;
        a = tc__back_joined(d, a, deep), g = tc__back_joined(d, g, deep);
        g = l->factor ? tc__d_factor(d, of, tc__d_turned(d, a), g)
                      : tc__d_factor(d, of, g, tc__d_turned(d, a));
    }
    d->failed |= !g;
    tc__d_give(d, of, g);
}

static void tc__derive_loop(tc__derive *d, uint32_t loop);

// Adjoints of the turn's nodes, from those that are known. Loops are few deep.
static void tc__back_sweep(tc__back *b, tc__derive *s) {
    size_t at = b->remade.count;
    for (uint32_t i = b->end; i-- > b->first && !s->failed;) {
        for (uint32_t k = b->loop + 1; k < s->g->loop.count; k++)
            if (s->g->loop.at[k].last == i + 1) tc__derive_loop(s, k);
        if (at && b->remade.at[at - 1].value == i) {
            uint32_t by = b->remade.at[--at].by;
            if (by == UINT32_MAX) continue;
            s->how[by] |= s->how[i], s->value[by] = i + 1;
            if (s->adjoint[i])
                tc__d_give(s, s->g->node.at[by], s->g->node.at[s->adjoint[i] - 1]);
        } else {
            tc__derive_node(s, s->g->node.at[i]);
        }
    }
}

static tc__node *tc__back_adjoint(const tc__derive *d, uint32_t id) {
    return id < d->n && d->adjoint[id] ? d->g->node.at[d->adjoint[id] - 1] : NULL;
}

// What of the loop is left, and counts: as adjoints of the last turn, and of each.
static void tc__back_seed(tc__back *b, tc__derive *s) {
    tc__derive *d = b->outer;
    tc__graph *g = d->g;
    for (uint32_t i = g->loop.at[b->from].first; i < d->n && !s->failed; i++) {
        const tc__node *n = g->node.at[i];
        tc__node *a = n->op == TC_OP_STACKED ? tc__back_adjoint(d, i) : NULL;
        if (n->op != TC_OP_STACKED || n->attr[TC__STACKED_LOOP] != (int64_t)b->from)
            continue;
        uint32_t y = tc__back_at(b, n->in[0]);
        s->how[y] |= d->how[i];
        if (a) tc__d_give(s, g->node.at[y], tc__make_row(g, a, tc__back_turn(b)));
    }
}

// A carry of the loop back, which begins with `init` and counts for node `id` of the turn.
static tc__node *tc__back_carry(tc__back *b, tc__derive *s, const tc__node *next) {
    tc__derive *d = b->outer;
    tc__graph *g = d->g;
    tc__node *init = NULL;
    int how = TC__DEPENDS;
    for (uint32_t i = g->loop.at[b->from].first; i < d->n; i++)
        if (g->node.at[i]->op == TC_OP_CARRIED && g->node.at[i]->in[0] == next->id) {
            init = tc__back_adjoint(d, i);
            how |= d->how[i];
        }
    if (!init) init = tc__d_zeros(d, next);
    tc__node *c = tc__make_carry(g, b->loop, init, next->attr[TC__NEXT_NUMBER]);
    uint32_t to = tc__back_at(b, next->in[1]);
    d->failed |= !c;
    s->how[to] |= (uint8_t)how;
    tc__d_give(s, g->node.at[to], c);
    return c;
}

// The chain of NEXTs of a loop, the first one first. 0 = no memory.
typedef struct tc__carries {
    TC__VEC(const tc__node *) next;
    TC__VEC(tc__node *) carry; // of the loop back; NULL = it is no float
} tc__carries;

static int tc__back_carries(tc__back *b, tc__derive *s, tc__carries *c) {
    tc__graph *g = b->outer->g;
    for (uint32_t at = g->loop.at[b->from].chain; at;) {
        const tc__node *n = g->node.at[at - 1];
        if (!TC__PUSH(g->ctx, c->next, n)) return 0;
        at = n->n_in > 2 ? n->in[2] + 1 : 0;
    }
    for (size_t i = 0; i < c->next.count; i++) {
        const tc__node *n = c->next.at[i];
        tc__node *carry = tc__is_float(n->dtype) ? tc__back_carry(b, s, n) : NULL;
        if (!TC__PUSH(g->ctx, c->carry, carry)) return 0;
    }
    return !b->outer->failed;
}

// The NEXT of carry `number` in the chain of a loop.
static const tc__node *tc__chain_find(const tc__graph *g, uint32_t loop, int64_t number) {
    uint32_t at = g->loop.at[loop].chain;
    while (at && g->node.at[at - 1]->attr[TC__NEXT_NUMBER] != number)
        at = g->node.at[at - 1]->n_in > 2 ? g->node.at[at - 1]->in[2] + 1 : 0;
    return at ? g->node.at[at - 1] : NULL;
}

// The loop back has as many turns as the first one had, where that is not known. 0 = no memory.
static int tc__back_times(tc__back *b, int64_t number) {
    tc__graph *g = b->outer->g;
    const tc__rounds *from = &g->loop.at[b->from];
    const tc__node *n = NULL;
    tc__node *times, *c;
    if (!from->times && !from->go) return 1;
    n = tc__chain_find(g, b->from, (int64_t)(from->times ? from->times : from->count) - 1);
    if (!n) return 0;
    times = from->times ? g->node.at[g->node.at[n->in[0]]->in[0]] : tc__make_carried(g, n);
    c = tc__make_carry(g, b->loop, times, number);
    return c && tc__make_next(g, c, c) != NULL;
}

// Whether a node of the outside is made of numbers: nobody asks what they count.
static int tc__back_is_number(const tc__graph *g, const tc__node *n) {
    while (n->op == TC_OP_EXPAND || n->op == TC_OP_RESHAPE || n->op == TC_OP_CAST)
        n = g->node.at[n->in[0]];
    return n->op == TC_OP_CONST || n->op == TC_OP_ARG || n->op == TC_OP_IOTA ||
           n->op == TC_OP_RANDOM;
}

// The turn is over: what carries count before it, and sums of what the outside counts, by node in `sum`.
static int tc__back_close(tc__back *b, tc__derive *s, const tc__carries *c, uint32_t *sum) {
    tc__graph *g = b->outer->g;
    int64_t number = 0;
    for (size_t i = 0; i < c->next.count; i++) {
        const tc__node *n = c->next.at[i];
        uint32_t was = tc__back_at(b, n->in[0]);
        tc__node *a = tc__back_adjoint(s, was);
        if (n->attr[TC__NEXT_NUMBER] >= number) number = n->attr[TC__NEXT_NUMBER] + 1;
        if (!c->carry.at[i]) continue;
        if (!a) a = tc__d_zeros(s, n);
        if (!a || !tc__make_next(g, c->carry.at[i], a)) return 0;
    }
    if (g->loop.at[b->loop].times) g->loop.at[b->loop].times = (uint32_t)number + 1;
    if (!tc__back_times(b, number++)) return 0;
    for (uint32_t i = 0; i < b->first; i++) {
        tc__node *a = tc__back_adjoint(s, i);
        if (!a || tc__back_is_number(g, g->node.at[i])) continue;
        tc__node *acc = tc__make_carry(g, b->loop, tc__d_zeros(s, g->node.at[i]), number++);
        a = tc__d2(s, TC_OP_ADD, acc, a);
        const tc__node *next = a ? tc__make_next(g, acc, a) : NULL;
        if (!next) return 0;
        sum[i] = next->id + 1;
    }
    g->loop.at[b->loop].last = (uint32_t)g->node.count;
    return 1;
}

// What was outside gets what it counts.
static void tc__back_give(tc__back *b, const tc__derive *s, const tc__carries *c,
                          const uint32_t *sum) {
    tc__derive *d = b->outer;
    tc__graph *g = d->g;
    for (size_t i = 0; i < c->next.count; i++) {
        const tc__node *carry = g->node.at[c->next.at[i]->in[0]], *made = c->carry.at[i];
        uint32_t at = made ? g->loop.at[b->loop].chain : 0;
        while (at && g->node.at[at - 1]->in[0] != made->id)
            at = g->node.at[at - 1]->n_in > 2 ? g->node.at[at - 1]->in[2] + 1 : 0;
        tc__d_depends(d, carry->in[0], TC__DEPENDS);
        if (at)
            tc__d_give(d, g->node.at[carry->in[0]],
                       tc__make_carried(g, g->node.at[at - 1]));
    }
    for (uint32_t i = 0; i < b->first && i < d->n; i++) {
        tc__d_depends(d, i, s->how[i]);
        if (sum[i])
            tc__d_give(d, g->node.at[i], tc__make_carried(g, g->node.at[sum[i] - 1]));
    }
    for (size_t i = 0; i < b->late.count; i++) tc__back_give_late(b, &b->late.at[i]);
}

// The loop back, and what it gives.
static int tc__back_run(tc__back *b, tc__derive *s) {
    tc__graph *g = b->outer->g;
    tc__carries c;
    memset(&c, 0, sizeof c);
    uint32_t *sum = TC__NEW_ARRAY(g->ctx, uint32_t, b->first);
    int ok = sum && tc__back_carries(b, s, &c);
    if (ok) tc__back_seed(b, s), tc__back_sweep(b, s);
    ok = ok && !s->failed && tc__back_close(b, s, &c, sum);
    if (ok) tc__back_give(b, s, &c, sum);
    if (sum) TC__FREE_ARRAY(g->ctx, sum, b->first);
    TC__VEC_FREE(g->ctx, c.next);
    TC__VEC_FREE(g->ctx, c.carry);
    return ok;
}

// Begins the loops of the turn that begin before node i, and ends those that end. 0 = no memory.
static int tc__back_inner(tc__back *b, uint32_t i) {
    tc__graph *g = b->outer->g;
    for (uint32_t k = b->loop; k-- > b->from + 1;)
        if (b->inner[k] && g->loop.at[k].last == i)
            g->loop.at[b->inner[k] - 1].last = (uint32_t)g->node.count;
    for (uint32_t k = b->from + 1; k < b->loop; k++) {
        tc__rounds l = g->loop.at[k];
        uint32_t made = (uint32_t)g->loop.count;
        if (l.first != i || !tc__loop_has(g, b->from + 1, l.outer)) continue;
        if (!tc__make_loop(g, l.turns, l.slot - k + made)) return 0;
        l.turn = g->loop.at[made].turn, l.slot = g->loop.at[made].slot;
        l.first = g->loop.at[made].first, l.last = l.chain = 0;
        l.outer = l.outer == b->from + 1 ? b->loop + 1 : b->inner[l.outer - 1];
        g->loop.at[made] = l, b->inner[k] = made + 1;
    }
    return 1;
}

// The turn is made again, in a loop that is open.
static int tc__back_open(tc__back *b) {
    tc__graph *g = b->outer->g;
    tc__rounds from = g->loop.at[b->from];
    b->loop = (uint32_t)g->loop.count, b->nodes = (uint32_t)g->node.count;
    if (!tc__make_loop(g, from.turns, from.slot - b->from + b->loop)) return 0;
    g->loop.at[b->loop].times = from.times || from.go;
    g->loop.at[b->loop].backward = !from.backward, g->loop.at[b->loop].outer = from.outer;
    b->in = tc__loops_of(g), b->map = TC__NEW_ARRAY(g->ctx, uint32_t, b->nodes);
    b->product = TC__NEW_ARRAY(g->ctx, uint8_t, b->nodes);
    b->inner = TC__NEW_ARRAY(g->ctx, uint32_t, b->loop + 1);
    b->first = b->nodes;
    if (!b->in || !b->map || !b->product || !b->inner) return 0;
    for (uint32_t i = from.first; i <= from.last; i++) {
        if (!tc__back_inner(b, i)) return 0;
        if (i < from.last && tc__loop_has(g, b->from + 1, b->in[i]) && !tc__back_make(b, i))
            return 0;
    }
    b->end = (uint32_t)g->node.count;
    return 1;
}

// What is left of loop `loop` has adjoints: what it was made of gets them.
static void tc__derive_loop(tc__derive *d, uint32_t loop) {
    tc__graph *g = d->g;
    tc__back b;
    d->inside = 0; // no checkpoint has a loop
    tc__derive s = *d;
    int how = 0;
    for (uint32_t i = g->loop.at[loop].first; i < d->n; i++) {
        const tc__node *n = g->node.at[i];
        if ((n->op == TC_OP_CARRIED || n->op == TC_OP_STACKED) &&
            n->attr[TC__CARRIED_LOOP] == (int64_t)loop)
            how |= d->how[i];
    }
    if (!how) return;
    memset(&b, 0, sizeof b);
    memset(&s.again, 0, sizeof s.again);
    b.outer = d, b.from = loop, s.inside = 0;
    int ok = tc__back_open(&b);
    s.n = (uint32_t)g->node.count, s.back = &b, s.late = tc__derive_late;
    s.adjoint = ok ? TC__NEW_ARRAY(g->ctx, uint32_t, s.n) : NULL;
    s.how = ok ? TC__NEW_ARRAY(g->ctx, uint8_t, s.n) : NULL;
    s.value = ok ? TC__NEW_ARRAY(g->ctx, uint32_t, s.n) : NULL;
    ok = ok && s.adjoint && s.how && s.value && tc__back_run(&b, &s);
    d->failed |= !ok || s.failed, d->why = s.why;
    if (s.adjoint && s.adjoint != d->adjoint) TC__FREE_ARRAY(g->ctx, s.adjoint, s.n);
    if (s.how && s.how != d->how) TC__FREE_ARRAY(g->ctx, s.how, s.n);
    if (s.value && s.value != d->value) TC__FREE_ARRAY(g->ctx, s.value, s.n);
    if (b.in) TC__FREE_ARRAY(g->ctx, b.in, b.nodes);
    if (b.map) TC__FREE_ARRAY(g->ctx, b.map, b.nodes);
    if (b.product) TC__FREE_ARRAY(g->ctx, b.product, b.nodes);
    if (b.inner) TC__FREE_ARRAY(g->ctx, b.inner, b.loop + 1);
    TC__VEC_FREE(g->ctx, b.remade);
    TC__VEC_FREE(g->ctx, b.late);
}

// ---- the sweep over a whole graph ----

// Adjoints of all that y is made of; v has its sizes and dtype. Values of the checkpoints are made again. 0 = reported.
static int tc__derive_all(tc__derive *d, tc__graph *g, const tc__node *y, const tc__node *v,
                          const tc__checkpoint *checkpoint, size_t checkpoints,
                          tc__copies *copies) {
    int was = g->device;
    d->g = g, d->y = y->id, d->v = v->id, d->n = (uint32_t)g->node.count;
    d->adjoint = TC__NEW_ARRAY(g->ctx, uint32_t, d->n);
    d->how = TC__NEW_ARRAY(g->ctx, uint8_t, d->n);
    if (!d->adjoint || !d->how) return 0;
    if (!tc__recompute_open(&d->again, g, checkpoint, checkpoints, copies)) return 0;
    d->adjoint[tc__d_original(d, y)->id] = v->id + 1, tc__d_depends(d, y->id, TC__DEPENDS);
    for (uint32_t i = y->id + 1; i-- > 0 && !d->failed;) {
        for (uint32_t k = 0; k < g->loop.count; k++)
            if (g->loop.at[k].last == i + 1) tc__derive_loop(d, k);
        tc__derive_node(d, g->node.at[i]);
    }
    g->device = was;
    tc__recompute_close(&d->again);
    return !d->failed && !g->ix->failed;
}
