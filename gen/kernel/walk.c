// Lowering of TENSOR nodes into a group's body (space.c).
// Input: a TENSOR node and an index tuple. Output: the GROUP node of its value at that index.
//
// One idea: a movement op is a change of the index tuple, so lowering a node is a walk down its
// operands with the tuple rewritten on the way, ending at loads. Equal (node, tuple) pairs are
// lowered once; hash-consing shares the rest. While a body is built every dimension of the space has
// its own variable; rows and columns replace them at the end (group_finish).
//
// A walk may be as deep as the program is long, so it is a list of what is wanted, not a recursion: a
// node that needs a value which is not there yet puts it on the list and stops, and is lowered once
// more when it is there. What it made before it stopped is made again by hash-consing: the same nodes.
//
// So views, pads, flips, cats, stencils and broadcasts have no kernels of their own.
// Predicates of a pad are put on every load beneath it: nothing outside a tensor is ever
// read.

static uint32_t tc__lower_at(tc__weave *w, const tc__node *n, const tc__ix *index);

// Externals are strided by their layouts.
static uint32_t tc__lower_input(tc__weave *w, const tc__node *n, const tc__ix *index) {
    const tc__shape *l =
        w->k->target.inputs ? w->k->target.inputs[n->attr[TC__INPUT_EXTERNAL]] : NULL;
    tc__ix at = tc__ix_const(0);
    if (!l) at = tc__flat(w->ix, n->rank, n->dims, index);
    for (int i = 0; l && i < n->rank; i++)
        at = tc__ix_add(w->ix, at, tc__ix_mul(w->ix, l->strides[i], index[i]));
    uint32_t b = tc__weave_buffer(w, TC__BUF_INPUT, (uint32_t)n->attr[TC__INPUT_EXTERNAL],
                                  n->dtype, tc__node_numel(w->g, n));
    return tc__weave_load(w, b, n->dtype, at);
}

static uint32_t tc__lower_root(tc__weave *w, const tc__node *n, const tc__ix *index) {
    uint32_t b =
        tc__weave_buffer(w, TC__BUF_NODE, n->id, n->dtype, tc__node_numel(w->g, n));
    return tc__weave_load(w, b, n->dtype, tc__flat(w->ix, n->rank, n->dims, index));
}

// Whether node id is an i64 whose value an index expression says.
static int tc__weave_index(const tc__weave *w, uint32_t id, tc__ix *e) {
    const tc__node *n = tc__body_node(w, id);
    if (n->dtype != TC_I64) return 0;
    if (n->op == TC_OP_INDEX) return *e = n->attr[TC__INDEX_EXPR], 1;
    int64_t v = n->op == TC_OP_CONST ? n->attr[TC__CONST_BITS] : INT64_MAX;
    if (v > TC__FAR || v < -TC__FAR) return 0;
    return *e = tc__ix_const(v), 1;
}

// Arithmetic and order of positions, as in masks (column <= row + 3): a position, or a predicate of the
// loop, which needs no vectors of i64. So they are lanes of a mask where they move by one, and a box may decide
// them. 0 = it is something else.
static int tc__lower_positions(tc__weave *w, const tc__node *n, const uint32_t *in,
                               uint32_t *made) {
    tc__ix a, b, pair[2];
    if (n->n_in != 2 || tc__weave_stops(w) || !tc__weave_index(w, in[0], &a) ||
        !tc__weave_index(w, in[1], &b))
        return 0;
    int less = n->op == TC_OP_LE || n->op == TC_OP_LT, equal = n->op == TC_OP_EQ;
    int more = n->op == TC_OP_GE || n->op == TC_OP_GT, sum = n->op == TC_OP_ADD;
    if (!sum && !less && !more && !equal && n->op != TC_OP_SUB) return 0;
    int64_t e = sum    ? tc__ix_add(w->ix, a, b)
                : less ? tc__ix_sub(w->ix, b, a)
                       : tc__ix_sub(w->ix, a, b);
    if (n->op == TC_OP_LT || n->op == TC_OP_GT) e = tc__ix_sub(w->ix, e, tc__ix_const(1));
    int64_t least = tc__ix_lo(w->ix, e), most = tc__ix_hi(w->ix, e);
    if (least < -TC__FAR || most > TC__FAR) return 0; // a run-time size, or it may wrap
    if (!less && !more && !equal) {
        *made = tc__weave_node(w, TC_OP_INDEX, TC_I64, NULL, 0, &e, 1);
        return 1;
    }
    if (most < 0) return 0;
    pair[0] = e, pair[1] = tc__ix_const(equal ? 1 : most + 1); // it is 0, or not below
    *made = tc__weave_node(w, TC_OP_VALID, TC_BOOL, NULL, 0, pair, 2);
    return 1;
}

static uint32_t tc__lower_alu(tc__weave *w, const tc__node *n, const tc__ix *index) {
    uint32_t in[3], made;
    for (uint32_t i = 0; i < n->n_in; i++)
        in[i] = tc__lower_at(w, tc__operand(w->g, n, i), index);
    if (tc__lower_positions(w, n, in, &made)) return made;
    if (tc__is_layout(n)) return in[0];
    if (n->op == TC_OP_CAST) return tc__weave_cast(w, in[0], n->dtype);
    return tc__weave_node(w, (tc__op)n->op, n->dtype, in, n->n_in, n->attr, n->n_attr);
}

// Row-major position -> index tuple; sizes of 1 give 0.
static void tc__unflatten(tc__ixpool *p, tc__ix flat, int rank, const tc__ix *dims,
                          tc__ix *index) {
    for (int i = rank - 1; i >= 0; i--) {
        int first = 1;
        for (int j = 0; j < i; j++) first &= tc__ix_equals(dims[j], 1);
        if (tc__ix_equals(dims[i], 1)) {
            index[i] = tc__ix_const(0);
            continue;
        }
        index[i] = first ? flat : tc__ix_mod(p, flat, dims[i]);
        flat = first ? tc__ix_const(0) : tc__ix_div(p, flat, dims[i]);
    }
}

// Matches the sizes of both sides from the left, group by group, so that only sizes that really
// merge or split meet a division.
static void tc__reshape_index(tc__weave *w, const tc__node *from, const tc__node *to,
                              const tc__ix *index, tc__ix *out) {
    int i = 0, j = 0;
    while (i < to->rank || j < from->rank) {
        int i0 = i, j0 = j;
        tc__ix a = i < to->rank ? to->dims[i++] : tc__ix_const(1);
        tc__ix b = j < from->rank ? from->dims[j++] : tc__ix_const(1);
        while (a != b) {
            int more = i < to->rank &&
                       (j >= from->rank || tc__ix_hi(w->ix, a) < tc__ix_hi(w->ix, b));
            if (!more && j >= from->rank && i >= to->rank) break;
            if (more)
                a = tc__ix_mul(w->ix, a, to->dims[i++]);
            else if (j < from->rank)
                b = tc__ix_mul(w->ix, b, from->dims[j++]);
            else
                a = tc__ix_mul(w->ix, a, to->dims[i++]);
        }
        tc__ix flat = tc__flat(w->ix, i - i0, to->dims + i0, index + i0);
        tc__unflatten(w->ix, flat, j - j0, from->dims + j0, out + j0);
    }
}

static void tc__bounds_add(tc__weave *w, tc__bounds *b, tc__ix e, tc__ix limit) {
    if (tc__ix_within(w->ix, e, limit)) return;
    for (uint32_t i = 0; i < b->count; i += 2)
        if (b->pair[i] == e && b->pair[i + 1] == limit) return;
    if (b->count + 2 > TC__COUNT(b->pair)) {
        w->failed = 1;
        return;
    }
    b->pair[b->count++] = e;
    b->pair[b->count++] = limit;
}

// The pairs around the node being lowered, and those of `own`.
static tc__bounds tc__guard_and(tc__weave *w, const tc__bounds *own) {
    tc__bounds all = w->guard;
    for (uint32_t i = 0; i < own->count; i += 2)
        tc__bounds_add(w, &all, own->pair[i], own->pair[i + 1]);
    return all;
}

static void tc__guard_set(tc__weave *w, const tc__bounds *b) {
    w->guard = *b;
    w->guard_hash = b->count ? tc__hash64(b->pair, b->count * sizeof *b->pair, 1) : 0;
}

// Node `a` at `at`, evaluated only where the pairs of `all` hold.
static uint32_t tc__lower_under(tc__weave *w, const tc__node *a, const tc__ix *at,
                                const tc__bounds *all) {
    tc__bounds outer = w->guard;
    tc__guard_set(w, all);
    uint32_t v = tc__lower_at(w, a, at);
    tc__guard_set(w, &outer);
    return v;
}

// Whether v is a load, or casts of one, that gives 0 where the pairs around it fail.
static int tc__weave_gives_zero(const tc__weave *w, uint32_t v) {
    const tc__node *n = tc__body_node(w, v);
    while (n->op == TC_OP_CAST) n = tc__body_node(w, n->in[0]);
    return n->op == TC_OP_LOAD && !n->attr[TC__LOAD_FILL];
}

// `value`, lowered under `own`, where its pairs hold, else `other`.
static uint32_t tc__weave_select(tc__weave *w, const tc__bounds *own, uint32_t value,
                                 uint32_t other) {
    uint32_t in[3];
    in[0] = tc__weave_node(w, TC_OP_VALID, TC_BOOL, NULL, 0, own->pair, own->count);
    in[1] = value, in[2] = other;
    if (tc__weave_stops(w)) return 0;
    return tc__weave_node(w, TC_OP_WHERE, tc__body_node(w, value)->dtype, in, 3, NULL, 0);
}

static uint32_t tc__lower_pad(tc__weave *w, const tc__node *n, const tc__ix *index) {
    const tc__node *a = tc__operand(w->g, n, 0);
    int64_t dim = n->attr[TC__PAD_DIM], attr[30];
    tc__ix at[TC_MAX_RANK];
    tc__bounds own, all;
    own.count = 0;
    memcpy(at, index, n->rank * sizeof *at);
    tc__ix e = tc__ix_sub(w->ix, index[dim], n->attr[TC__PAD_LOW]);
    if (!tc__ix_equals(n->attr[TC__PAD_DILATION], 1)) {
        tc__bounds_add(w, &own, tc__ix_mod(w->ix, e, n->attr[TC__PAD_DILATION]),
                       tc__ix_const(1));
        e = tc__ix_div(w->ix, e, n->attr[TC__PAD_DILATION]);
    }
    if (tc__ix_beyond(w->ix, e, a->dims[dim]))
        return tc__weave_const(w, n->dtype, n->attr[TC__PAD_FILL]);
    tc__bounds_add(w, &own, e, a->dims[dim]);
    at[dim] = e;
    all = tc__guard_and(w, &own);
    uint32_t v = tc__lower_under(w, a, at, &all);
    if (!own.count || tc__weave_stops(w)) return v;
    if (!n->attr[TC__PAD_FILL] && tc__weave_gives_zero(w, v)) return v;
    const tc__node *load = tc__body_node(w, v);
    // A load with these predicates and no others can give the fill itself; where those around it
    // fail, nobody asks what it gives.
    if (load->op == TC_OP_LOAD && load->n_attr <= TC__COUNT(attr) &&
        (n->attr[TC__PAD_FILL] == load->attr[TC__LOAD_FILL] ||
         load->n_attr == TC__LOAD_PREDICATES + all.count)) {
        memcpy(attr, load->attr, load->n_attr * sizeof *attr);
        attr[TC__LOAD_FILL] = n->attr[TC__PAD_FILL];
        return tc__weave_node(w, TC_OP_LOAD, load->dtype, NULL, 0, attr, load->n_attr);
    }
    return tc__weave_select(w, &own, v,
                            tc__weave_const(w, n->dtype, n->attr[TC__PAD_FILL]));
}

static uint32_t tc__lower_window(tc__weave *w, const tc__node *n, const tc__ix *index) {
    int64_t dim = n->attr[TC__WINDOW_DIM];
    tc__ix at[TC_MAX_RANK];
    memcpy(at, index, n->rank * sizeof *at);
    at[dim] =
        tc__ix_add(w->ix, tc__ix_mul(w->ix, index[dim], n->attr[TC__WINDOW_STRIDE]),
                   tc__ix_mul(w->ix, index[n->rank - 1], n->attr[TC__WINDOW_DILATION]));
    return tc__lower_at(w, tc__operand(w->g, n, 0), at);
}

// Operand i where it lies, decided from the last boundary to the first. One that is out of reach, as the far
// edge of a pad is for what reads the near one, is not asked for.
static uint32_t tc__lower_cat(tc__weave *w, const tc__node *n, const tc__ix *index) {
    int64_t dim = n->attr[TC__CAT_DIM];
    tc__ix start = tc__ix_const(0), at[TC_MAX_RANK];
    uint32_t value = 0;
    int found = 0;
    memcpy(at, index, n->rank * sizeof *at);
    for (uint32_t i = 0; i < n->n_in; i++) { // one that is known to be meant: none is asked
        const tc__node *a = tc__operand(w->g, n, i);
        at[dim] = tc__ix_sub(w->ix, index[dim], start);
        if (tc__ix_within(w->ix, at[dim], a->dims[dim])) return tc__lower_at(w, a, at);
        start = tc__ix_add(w->ix, start, a->dims[dim]);
    }
    start = tc__ix_const(0);
    for (uint32_t i = 0; i < n->n_in; i++) {
        const tc__node *a = tc__operand(w->g, n, i);
        tc__bounds own;
        own.count = 0;
        at[dim] = tc__ix_sub(w->ix, index[dim], start);
        start = tc__ix_add(w->ix, start, a->dims[dim]);
        if (tc__ix_equals(a->dims[dim], 0) || tc__ix_beyond(w->ix, at[dim], a->dims[dim]))
            continue;
        tc__bounds_add(w, &own, at[dim], a->dims[dim]);
        tc__bounds all = tc__guard_and(w, &own);
        uint32_t v = tc__lower_under(w, a, at, &all);
        if (tc__weave_stops(w)) return 0;
        value = found && own.count ? tc__weave_select(w, &own, v, value) : v;
        found = 1;
    }
    return found ? value : tc__weave_const(w, n->dtype, 0); // nobody's element
}

// Index v, or 0 where a predicate around it fails: what is computed there is nobody's index, and no error. A load is
// 0 there as it is.
static uint32_t tc__guard_index(tc__weave *w, uint32_t v) {
    const tc__node *n = tc__body_node(w, v);
    int fine = n->op == TC_OP_CONST || (n->op == TC_OP_LOAD && !n->attr[TC__LOAD_FILL]);
    if (!w->guard.count || fine) return v;
    uint32_t zero = tc__weave_const(w, n->dtype, 0);
    return tc__weave_select(w, &w->guard, v, zero);
}

// The index operand's value as an index expression, made safe for `limit`.
static tc__ix tc__lower_index(tc__weave *w, const tc__node *b, const tc__ix *at,
                              tc__ix limit) {
    uint32_t v = tc__lower_at(w, b, at);
    int64_t attr[2];
    if (!tc__weave_stops(w)) v = tc__guard_index(w, v);
    if (tc__weave_stops(w)) return tc__ix_const(0);
    v = tc__weave_cast(w, v, TC_I64);
    attr[TC__CHECK_LIMIT] = limit, attr[TC__CHECK_SITE] = b->id;
    v = tc__weave_node(w, TC_OP_CHECK, TC_I64, &v, 1, attr, 2);
    return tc__ix_val(w->ix, v, limit);
}

static uint32_t tc__lower_take(tc__weave *w, const tc__node *n, const tc__ix *index) {
    const tc__node *a = tc__operand(w->g, n, 0), *b = tc__operand(w->g, n, 1);
    int64_t dim = n->attr[TC__GATHER_DIM];
    tc__ix at[TC_MAX_RANK];
    for (int i = 0; i < dim; i++) at[i] = index[i];
    at[dim] = tc__lower_index(w, b, index + dim, a->dims[dim]);
    for (int i = (int)dim + 1; i < a->rank; i++) at[i] = index[i - 1 + b->rank];
    return tc__lower_at(w, a, at);
}

static uint32_t tc__lower_gather(tc__weave *w, const tc__node *n, const tc__ix *index) {
    const tc__node *a = tc__operand(w->g, n, 0), *b = tc__operand(w->g, n, 1);
    tc__ix at[TC_MAX_RANK];
    memcpy(at, index, n->rank * sizeof *at);
    at[n->attr[TC__GATHER_DIM]] =
        tc__lower_index(w, b, index, a->dims[n->attr[TC__GATHER_DIM]]);
    return tc__lower_at(w, a, at);
}

// A slice of one element has no step: what a border of one reflects is read forwards, as what it repeats.
static void tc__slice_index(tc__ixpool *p, const tc__node *n, const tc__ix *index,
                            tc__ix *at) {
    int64_t dim = n->attr[TC__SLICE_DIM];
    int one = tc__ix_equals(n->dims[dim], 1);
    tc__ix step = one ? tc__ix_const(1) : n->attr[TC__SLICE_STEP];
    memcpy(at, index, n->rank * sizeof *at);
    at[dim] = tc__ix_add(p, n->attr[TC__SLICE_START], tc__ix_mul(p, index[dim], step));
}

static uint32_t tc__lower_move(tc__weave *w, const tc__node *n, const tc__ix *index) {
    const tc__node *a = tc__operand(w->g, n, 0);
    tc__ix at[TC_MAX_RANK];
    int lead = n->rank - a->rank;
    switch (n->op) {
    case TC_OP_RESHAPE: tc__reshape_index(w, a, n, index, at); break;
    case TC_OP_PERMUTE:
        for (int i = 0; i < n->rank; i++) at[n->attr[i]] = index[i];
        break;
    case TC_OP_EXPAND:
        for (int i = 0; i < a->rank; i++)
            at[i] = tc__ix_equals(a->dims[i], 1) ? tc__ix_const(0) : index[lead + i];
        break;
    case TC_OP_SLICE: tc__slice_index(w->ix, n, index, at); break;
    case TC_OP_PAD: return tc__lower_pad(w, n, index);
    case TC_OP_WINDOW: return tc__lower_window(w, n, index);
    case TC_OP_CENTRED:
    case TC_OP_DETACH:
    case TC_OP_WRT:
    case TC_OP_AGAIN: return tc__lower_at(w, a, index);
    default: w->failed = 1; return 0;
    }
    return tc__lower_at(w, a, at);
}

static uint32_t tc__lower_source(tc__weave *w, const tc__node *n, const tc__ix *index) {
    int64_t word; // of the index
    if (n->op == TC_OP_INPUT) return tc__lower_input(w, n, index);
    if (n->op == TC_OP_CONST) return tc__weave_const(w, n->dtype, n->attr[TC__CONST_BITS]);
    if (n->op == TC_OP_ARG)
        return tc__weave_node(w, TC_OP_ARG, n->dtype, NULL, 0, n->attr, 1);
    word = n->op == TC_OP_IOTA ? index[n->attr[TC__IOTA_DIM]]
                               : tc__flat(w->ix, n->rank, n->dims, index);
    uint32_t v = tc__weave_node(w, TC_OP_INDEX, TC_I64, NULL, 0, &word, 1);
    if (n->op == TC_OP_RANDOM)
        return tc__weave_node(w, TC_OP_RANDOM, n->dtype, &v, 1, n->attr, 2);
    return tc__weave_cast(w, v, n->dtype);
}

// The index tuple, for these sizes, of the element at the current point of the space; `skip` are the
// dimensions that do not count (the reduced ones, for a row value).
static void tc__own_index(const tc__weave *w, int rank, const tc__ix *dims, uint32_t skip,
                          tc__ix *index) {
    tc__ix flat = tc__ix_const(0);
    int d = 0, same = 1;
    for (int i = 0; i < rank; i++) {
        index[i] = tc__ix_const(0);
        if (tc__ix_equals(dims[i], 1)) continue;
        while (d < w->space.rank && (skip >> d & 1)) d++;
        same &= d < w->space.rank && w->space.dims[d] == dims[i];
        if (same) index[i] = w->space.var[d++];
    }
    if (same) return;
    for (d = 0; d < w->space.rank; d++)
        if (!(skip >> d & 1))
            flat = tc__ix_add(w->ix, tc__ix_mul(w->ix, flat, w->space.dims[d]),
                              w->space.var[d]);
    tc__unflatten(w->ix, flat, rank, dims, index);
}

// A reduction of this group: one ACC per root, its operand at the space's own variables.
static uint32_t tc__lower_reduce(tc__weave *w, const tc__node *n) {
    uint32_t *slot = &w->accumulated[w->root_of[n->id]];
    if (*slot) return *slot - 1;
    const tc__node *a = tc__operand(w->g, n, 0);
    tc__ix at[TC_MAX_RANK];
    int64_t attr = tc__ops[n->op].monoid;
    tc__own_index(w, a->rank, a->dims, 0, at);
    uint32_t v = tc__lower_at(w, a, at);
    v = tc__weave_node(w, TC_OP_ACC, n->dtype, &v, 1, &attr, 1);
    if (!tc__weave_stops(w)) *slot = v + 1;
    return v;
}

static uint32_t tc__lower_fresh(tc__weave *w, const tc__node *n, const tc__ix *index) {
    int root = w->root_of[n->id];
    // Nothing may be loaded for what has no elements, not even once per row.
    if (tc__has_no_elements(n)) return tc__weave_const(w, n->dtype, 0);
    if (root != TC__NONE && w->roots[root].group != w->group)
        return tc__lower_root(w, n, index);
    switch (tc__ops[n->op].kind) {
    case TC__KIND_UNARY:
    case TC__KIND_BINARY:
    case TC__KIND_TERNARY:
    case TC__KIND_CAST:
    case TC__KIND_LAYOUT: return tc__lower_alu(w, n, index);
    case TC__KIND_SOURCE: return tc__lower_source(w, n, index);
    case TC__KIND_MOVE: return tc__lower_move(w, n, index);
    case TC__KIND_JOIN: return tc__lower_cat(w, n, index);
    case TC__KIND_GATHER:
        return n->op == TC_OP_TAKE ? tc__lower_take(w, n, index)
                                   : tc__lower_gather(w, n, index);
    case TC__KIND_REDUCE: return tc__lower_reduce(w, n);
    case TC__KIND_CONTRACT:
        return tc__weave_node(w, TC_OP_CONTRACT, n->dtype, w->factor, 2, &w->depth, 1);
    case TC__KIND_OPAQUE: // a root that is loaded
    case TC__KIND_KERNEL:
    case TC__KIND_EFFECT:
    case TC__KIND_DERIVE:
    case TC__KIND_LOOP:
    case TC__KIND_COMPOSITE: break;
    }
    w->failed = 1;
    return 0;
}

// Where the result of node `id` at `index` is in w->seen, under the predicates around; SIZE_MAX = it is
// not there, and *hash is where it belongs.
static size_t tc__lowered(const tc__weave *w, uint32_t id, int rank, const tc__ix *index,
                          uint64_t *hash) {
    uint64_t at, h = tc__hash64(index, (size_t)rank * sizeof *index,
                                tc__hash_mix(id, (uint64_t)w->side ^ w->guard_hash));
    for (; tc__map_get(&w->seen_ids, h, &at); h = tc__hash_mix(h, 1)) {
        const tc__visited *s = &w->seen.at[at];
        if (s->node == id && s->level == (uint32_t)w->side && s->guard == w->guard_hash &&
            !memcmp(s->index, index, (size_t)rank * sizeof *index))
            return (size_t)at;
    }
    *hash = h;
    return SIZE_MAX;
}

// The GROUP node of TENSOR node `n` at `index`, if it has been lowered; else it is wanted first.
static uint32_t tc__lower_at(tc__weave *w, const tc__node *n, const tc__ix *index) {
    tc__wanted v;
    uint64_t h;
    if (tc__weave_stops(w)) return 0;
    size_t at = tc__lowered(w, n->id, n->rank, index, &h);
    if (at != SIZE_MAX) return w->seen.at[at].result;
    v.node = n->id, v.guard = w->guard;
    memcpy(v.index, index, n->rank * sizeof *index);
    w->waits = 1;
    if (!TC__PUSH(w->ctx, w->wanted, v)) w->failed = 1;
    return 0;
}

// Lowers what is wanted last, and says so in w->seen, unless it has to wait in turn.
static void tc__lower_last(tc__weave *w) {
    tc__visited v;
    uint64_t h;
    const tc__wanted *last = &w->wanted.at[w->wanted.count - 1];
    const tc__node *n = w->g->node.at[last->node];
    memset(&v, 0, sizeof v);
    memcpy(v.index, last->index, n->rank * sizeof *v.index);
    tc__guard_set(w, &last->guard);
    v.node = n->id, v.level = w->side, v.rank = n->rank, v.guard = w->guard_hash;
    v.result = tc__lower_fresh(w, n, v.index);
    if (tc__weave_stops(w)) return;
    w->wanted.count--;
    (void)tc__lowered(w, n->id, n->rank, v.index, &h);
    if (!tc__map_set(&w->seen_ids, h, w->seen.count) || !TC__PUSH(w->ctx, w->seen, v))
        w->failed = 1;
}

// The GROUP node of TENSOR node `n` at `index`, and of all that it needs.
static uint32_t tc__lower_value(tc__weave *w, const tc__node *n, const tc__ix *index) {
    tc__bounds outer = w->guard;
    (void)tc__lower_at(w, n, index);
    while (w->wanted.count && !w->failed && !w->ix->failed) {
        w->waits = 0;
        tc__lower_last(w);
    }
    tc__guard_set(w, &outer);
    return tc__lower_at(w, n, index);
}
