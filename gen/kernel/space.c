// Iteration spaces, and what a group's body is while it is woven: nodes that are hash-consed, buffers, the guard of loads.
// walk.c lowers TENSOR nodes into it.

typedef struct tc__space {
    int rank;
    tc__ix dims[2 * TC_MAX_RANK];
    tc__ix var[2 * TC_MAX_RANK];
    uint32_t reduced; // bit i: dimension i is summed over: a column
} tc__space;

// A TENSOR node that has its own memory or is computed whole inside one group.
typedef struct tc__root {
    uint32_t node;
    uint32_t group;       // index of the group that computes it
    uint32_t next;        // root of that group, in order; UINT32_MAX = it is the last
    uint32_t use, uses;   // tc__schedule.use: those that it reads by itself
    uint32_t read, reads; // tc__schedule.read: the places that it reads
    uint32_t op, ops;     // tc__schedule.op: the nodes that are its expression
    uint32_t readers;     // how often others read it
    uint8_t output;       // must be in memory after the program
    uint8_t stored;       // another group reads it
    uint8_t
        forced; // must be in memory before its readers (stencil, gather, contraction operand)
    uint8_t folds,
        along;   // equal parts, along this dimension, that a point makes one element of
    tc__ix fold; //   each of: their size there. 0 = it is made as a whole
    uint32_t
        unrolled; // or, of an UNROLLED node, all elements along the dimensions of this mask
} tc__root;

typedef struct tc__visited {
    uint32_t node, level; // TENSOR node; side it was lowered for
    uint32_t rank;
    uint64_t guard; // hash of the predicates around it
    tc__ix index[TC_MAX_RANK];
    uint32_t result; // GROUP node
} tc__visited;

// What a node waits for: a value at an index, under the predicates there.
typedef struct tc__wanted {
    uint32_t node;
    tc__ix index[TC_MAX_RANK];
    tc__bounds guard;
} tc__wanted;

// State of one body under construction.
typedef struct tc__weave {
    tc_ctx *ctx;
    const tc__graph *g; // TENSOR
    tc__group *k;
    tc__ixpool *ix;
    const int32_t *root_of; // TENSOR node -> index in roots, -1 = inlined
    const tc__root *roots;
    uint32_t group; // the group being built; roots of other groups are loads
    tc__space space;
    tc__level side;      // contraction operand being lowered, TC__AT_COL otherwise
    uint32_t factor[2];  // GROUP nodes of the contraction's operands,
    tc__ix depth;        //   and the extent of their k
    tc__bounds guard;    // predicates around the node being lowered
    uint64_t guard_hash; // of them; 0 = none
    TC__VEC(tc__visited) seen;
    tc__map seen_ids;
    TC__VEC(tc__wanted) wanted; // the last one first
    int waits;                  // what is being lowered needs the last one wanted
    uint32_t *accumulated; // per root: GROUP node of its reduction, 0 = not yet (id + 1)
    uint32_t site;         // next CHECK number
    int failed;
} tc__weave;

enum { TC__NONE = -1 };

// ---- rows and columns ----

static tc__ix tc__index_of_flat(tc__ixpool *p, const tc__space *s, uint32_t mask,
                                tc__ix flat, int at) {
    for (int i = s->rank - 1; i > at; i--)
        if (mask >> i & 1) flat = tc__ix_div(p, flat, s->dims[i]);
    for (int i = 0; i < at; i++)
        if (mask >> i & 1) return tc__ix_mod(p, flat, s->dims[at]);
    return flat;
}

static tc__ix tc__space_size(tc__ixpool *p, const tc__space *s, uint32_t mask) {
    tc__ix n = tc__ix_const(1);
    for (int i = 0; i < s->rank; i++)
        if (mask >> i & 1) n = tc__ix_mul(p, n, s->dims[i]);
    return n;
}

// e with every dimension's variable replaced by its place in rows r and columns c.
static tc__ix tc__to_rows_cols(tc__ixpool *p, const tc__space *s, uint32_t columns,
                               tc__ix e) {
    uint32_t all = s->rank ? (uint32_t)(((uint64_t)1 << s->rank) - 1) : 0,
             rows = all & ~columns;
    tc__ix r = tc__ix_var(p, TC__ROW, tc__space_size(p, s, rows));
    tc__ix c = tc__ix_var(p, TC__COL, tc__space_size(p, s, columns & all));
    for (int i = 0; i < s->rank; i++) {
        int col = (int)(columns >> i & 1);
        e = tc__ix_subst(
            p, e, s->var[i],
            tc__index_of_flat(p, s, col ? columns & all : rows, col ? c : r, i));
    }
    return e;
}

static int tc__has_no_elements(const tc__node *n) {
    for (int i = 0; i < n->rank; i++)
        if (tc__ix_equals(n->dims[i], 0)) return 1;
    return 0;
}

static tc__ix tc__dims_size(tc__ixpool *p, int rank, const tc__ix *dims) {
    tc__ix n = tc__ix_const(1);
    for (int i = 0; i < rank; i++) n = tc__ix_mul(p, n, dims[i]);
    return n;
}

// ---- group nodes ----

// Nothing is made: an error, or a value is wanted first.
static int tc__weave_stops(const tc__weave *w) {
    return w->failed || w->ix->failed || w->waits;
}

static tc__node *tc__body_node(const tc__weave *w, uint32_t id) {
    return w->k->body.node.at[id];
}

static int tc__ix_in_columns(const tc__weave *w, tc__ix e) {
    if (tc__ix_uses(w->ix, e, TC__COL) || tc__ix_uses(w->ix, e, TC__DEPTH)) return 1;
    for (int i = 0; i < w->space.rank; i++)
        if ((w->space.reduced >> i & 1) && tc__ix_uses(w->ix, e, (tc__axis)(TC__DIM0 + i)))
            return 1;
    return 0;
}

typedef struct tc__placement {
    const tc__weave *w;
    uint32_t level, phase;
} tc__placement;

static void tc__place_after(tc__placement *p, uint32_t id) {
    const tc__node *n = tc__body_node(p->w, id);
    uint32_t phase = n->phase, level = n->level;
    if (n->op == TC_OP_ACC) phase = n->phase + 1u, level = TC__AT_ROW;
    if (phase > p->phase) p->phase = phase;
    if (level > p->level) p->level = level;
}

static void tc__place_val(void *user, uint32_t id) {
    tc__place_after((tc__placement *)user, id);
}

static void tc__place_ix(tc__placement *p, tc__ix e) {
    if (tc__ix_in_columns(p->w, e) && p->level < (uint32_t)p->w->side)
        p->level = p->w->side;
    tc__ix_each_val(p->w->ix, e, tc__place_val, p);
}

// A node of the body, placed at the first phase and level where all it names is known.
static uint32_t tc__weave_node(tc__weave *w, tc__op op, int dtype, const uint32_t *in,
                               uint32_t n_in, const int64_t *attr, uint32_t n_attr) {
    tc__node n, *made;
    uint32_t ids[3];
    int64_t words[30];
    tc__placement p;
    if (w->waits) return 0;
    if (w->failed || w->ix->failed || n_in > 3 || n_attr > 30) {
        w->failed = 1;
        return 0;
    }
    memset(&n, 0, sizeof n);
    p.w = w, p.level = TC__AT_ROW, p.phase = 0;
    if (n_in) memcpy(ids, in, n_in * sizeof *in);
    if (n_attr) memcpy(words, attr, n_attr * sizeof *attr);
    n.op = (uint16_t)op, n.stage = TC__GROUP, n.dtype = (uint8_t)dtype;
    n.in = ids, n.n_in = n_in, n.attr = words, n.n_attr = n_attr;
    for (uint32_t i = 0; i < n_in; i++) tc__place_after(&p, ids[i]);
    for (uint32_t i = 0; i < n_attr; i++)
        if (tc__attr_is_ix(&n, i)) tc__place_ix(&p, words[i]);
    if (op == TC_OP_ACC || op == TC_OP_CONTRACT || w->side != TC__AT_COL) p.level = w->side;
    n.level = (uint8_t)p.level, n.phase = (uint16_t)p.phase;
    made = tc__node_cons(&w->k->body, &n);
    if (!made) w->failed = 1;
    return made ? made->id : 0;
}

// Whether the register of a node has what memory of its dtype would hold. A half, or f8, that is computed is f32 there.
static int tc__is_in_dtype(const tc__node *n) {
    int zero = n->op == TC_OP_LOAD && !n->attr[TC__LOAD_FILL];
    return !tc__is_rounded(n->dtype) || n->op == TC_OP_CAST || zero;
}

// Node v as dtype. What comes of it through casts that lose nothing is itself: of a product in halves the half is
// stored, so who was given what it was widened to, and rounds that again, has it as it lies in memory. The passes do
// not see this: they do not know what is stored.
static uint32_t tc__weave_cast(tc__weave *w, uint32_t v, int dtype) {
    int64_t to = dtype;
    if (tc__weave_stops(w)) return 0;
    const tc__node *n = tc__body_node(w, v);
    while (n->dtype != dtype && n->op == TC_OP_CAST && tc__holds(dtype, n->dtype))
        n = tc__body_node(w, n->in[0]);
    if (n->dtype == dtype && tc__is_in_dtype(n)) return n->id;
    return tc__weave_node(w, TC_OP_CAST, dtype, &v, 1, &to, 1);
}

static uint32_t tc__weave_const(tc__weave *w, int dtype, int64_t bits) {
    return tc__weave_node(w, TC_OP_CONST, dtype, NULL, 0, &bits, 1);
}

// ---- buffers ----

// Whether a turn of a loop stores the node as its row of what all turns store.
static int tc__is_of_turn(const tc__graph *g, uint32_t node) {
    for (size_t i = 0; i < g->place.count; i++)
        if (g->place.at[i].node == node)
            return g->place.at[i].kind == TC__SPOT_ROW ||
                   (g->place.at[i].kind == TC__SPOT_NEXT &&
                    g->memory.at[g->place.at[i].memory].stacked);
    return 0;
}

static uint32_t tc__weave_buffer(tc__weave *w, tc__place place, uint32_t source, int dtype,
                                 tc__ix numel) {
    tc__kbuf b;
    memset(&b, 0, sizeof b);
    for (uint32_t i = 0; i < w->k->buffer.count; i++)
        if (w->k->buffer.at[i].place == place && w->k->buffer.at[i].source == source)
            return i;
    b.place = place, b.source = source, b.dtype = (uint8_t)dtype, b.numel = numel;
    b.in_turns = place == TC__BUF_NODE && tc__is_of_turn(w->g, source);
    if (!TC__PUSH(w->ctx, w->k->buffer, b)) {
        w->failed = 1;
        return 0;
    }
    return (uint32_t)w->k->buffer.count - 1;
}

// Row-major position of an index tuple.
static tc__ix tc__flat(tc__ixpool *p, int rank, const tc__ix *dims, const tc__ix *index) {
    tc__ix e = tc__ix_const(0);
    for (int i = 0; i < rank; i++) e = tc__ix_add(p, tc__ix_mul(p, e, dims[i]), index[i]);
    return e;
}

static uint32_t tc__weave_load(tc__weave *w, uint32_t buffer, int dtype, tc__ix at) {
    int64_t attr[TC__LOAD_PREDICATES + 24];
    attr[TC__LOAD_BUFFER] = buffer, attr[TC__LOAD_INDEX] = at, attr[TC__LOAD_FILL] = 0;
    memcpy(attr + TC__LOAD_PREDICATES, w->guard.pair, w->guard.count * sizeof *attr);
    return tc__weave_node(w, TC_OP_LOAD, dtype, NULL, 0, attr,
                          TC__LOAD_PREDICATES + w->guard.count);
}
