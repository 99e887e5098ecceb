// Derivatives of gathers and scatters: rules of graph/derive.c. What is taken from a place is added to it on the way back, in the
// order of the index. They work along the last dimension, and others are moved there; slices of a first dimension that lie
// together are added as rows.

// Halves and f8 are added as f32.
static tc__node *tc__d_opaque3(tc__derive *d, tc__op op, tc__node *a, tc__node *index,
                               tc__node *src) {
    uint32_t ids[3];
    if (!a || !index || !src) return NULL;
    int t = tc__is_rounded(a->dtype) ? (int)TC_F32 : a->dtype;
    a = tc__make_cast(d->g, a, t), src = tc__make_cast(d->g, src, t);
    if (!a || !src) return NULL;
    ids[0] = a->id, ids[1] = index->id, ids[2] = src->id;
    return tc__make(d->g, op, a->dtype, a->rank, a->dims, ids, 3, NULL, 0);
}

// Dimension `from` moved to `to`, the others in order.
static tc__node *tc__d_moved(tc__derive *d, tc__node *a, int from, int to) {
    int64_t order[TC_MAX_RANK];
    int n = 0;
    if (!a) return NULL;
    for (int i = 0; i < a->rank; i++) {
        if (i == to)
            order[i] = from;
        else {
            n += n == from;
            order[i] = n++;
        }
    }
    return tc__make_permute(d->g, a, order);
}

static int tc__d_has_rows(const tc__derive *d, const tc__node *a, int dim, tc__ix *width) {
    *width = tc__ix_const(1);
    for (int i = dim + 1; i < a->rank; i++)
        *width = tc__ix_mul(d->g->ix, *width, a->dims[i]);
    for (int i = 0; i < dim; i++)
        if (!tc__ix_equals(a->dims[i], 1)) return 0;
    return tc__ix_lo(d->g->ix, *width) >= TC__ROW_LEAST;
}

// Rows of g are added to what a has already: a table whose product is wanted, too, is summed once.
static void tc__derive_take_rows(tc__derive *d, const tc__node *a, tc__node *index,
                                 tc__node *g, tc__ix width) {
    uint32_t *at = &d->adjoint[tc__d_original(d, a)->id];
    tc__ix rows[2] = {tc__ix_div(d->g->ix, tc__node_numel(d->g, a), width), width};
    if (!tc__d_flows(a)) return;
    tc__node *sum = *at ? d->g->node.at[*at - 1] : tc__d_zeros(d, a);
    *at = 0, sum = sum ? tc__make_reshape(d->g, sum, 2, rows) : NULL;
    rows[0] = tc__node_numel(d->g, index), g = tc__make_reshape(d->g, g, 2, rows);
    sum = tc__d_opaque3(d, TC_OP_ROW_ADD, sum, index, g);
    tc__d_give(d, a, sum ? tc__make_reshape(d->g, sum, a->rank, a->dims) : NULL);
    d->failed |= !sum;
}

// take gave slice index[j] of a as slice j.
static void tc__derive_take(tc__derive *d, const tc__node *n, tc__node *g) {
    tc__node *a = tc__d_in(d, n, 0), *index = tc__d_in(d, n, 1);
    int dim = (int)n->attr[TC__GATHER_DIM], last = a->rank - 1;
    tc__ix dims[TC_MAX_RANK], all = tc__node_numel(d->g, index), width;
    memcpy(dims, a->dims, sizeof dims);
    dims[dim] = all;
    index = tc__make_reshape(d->g, index, 1, &all);
    if (index && tc__d_has_rows(d, a, dim, &width)) {
        tc__derive_take_rows(d, a, index, g, width);
        return;
    }
    g = tc__d_moved(d, tc__make_reshape(d->g, g, a->rank, dims), dim, last);
    tc__node *none = tc__d_moved(d, tc__d_zeros(d, a), dim, last);
    tc__node *sum = tc__d_opaque3(d, TC_OP_INDEX_ADD, none, index, g);
    tc__d_give(d, a, tc__d_moved(d, sum, last, dim));
}

// Whether each row gave one element: then what gets something is told by comparing places, and no two share one.
static int tc__gathers_one(const tc__node *a, const tc__node *n, int dim) {
    for (int i = 0; i < a->rank; i++)
        if (i == dim ? !tc__ix_equals(n->dims[i], 1) : n->dims[i] != a->dims[i]) return 0;
    return 1;
}

// i64 `index` without those that count from the end of a's dimension `dim`; `place` is a's places along it.
static tc__node *tc__d_from_front(tc__derive *d, tc__node *place, tc__node *index,
                                  int64_t dim) {
    if (!place || !index || tc__ix_equals(place->dims[dim], 0)) return index;
    tc__ix one = tc__ix_const(1), end = tc__ix_sub(d->g->ix, place->dims[dim], one);
    tc__node *last = tc__make_slice(d->g, place, dim, end, one, one);
    last = last ? tc__d_expand_like(d, last, index) : NULL;
    tc__node *size = tc__d2(d, TC_OP_ADD, last, tc__d_number(d, index, 1));
    tc__node *moved = tc__d2(d, TC_OP_ADD, index, size);
    tc__node *negative = tc__d2(d, TC_OP_LT, index, tc__d_zeros(d, index));
    return tc__d3(d, TC_OP_WHERE, negative, moved, index);
}

static tc__node *tc__d_placed(tc__derive *d, const tc__node *a, tc__node *index,
                              tc__node *g, int64_t dim) {
    tc__node *place =
        tc__make(d->g, TC_OP_IOTA, TC_I64, a->rank, a->dims, NULL, 0, &dim, 1);
    index = tc__d_from_front(d, place, tc__make_cast(d->g, index, TC_I64), dim);
    index = tc__d_expand_like(d, index, a);
    tc__node *here = tc__d2(d, TC_OP_EQ, place, index);
    g = tc__d_expand_like(d, g, a);
    return tc__d3(d, TC_OP_WHERE, here, g, tc__d_zeros(d, g));
}

static void tc__derive_gather(tc__derive *d, const tc__node *n, tc__node *g) {
    tc__node *a = tc__d_in(d, n, 0), *index = tc__d_in(d, n, 1);
    int dim = (int)n->attr[TC__GATHER_DIM], last = a->rank - 1;
    if (tc__gathers_one(a, n, dim)) {
        tc__d_give(d, a, tc__d_placed(d, a, index, g, dim));
        return;
    }
    tc__node *none = tc__d_moved(d, tc__d_zeros(d, a), dim, last);
    index = tc__d_moved(d, index, dim, last);
    g = tc__d_moved(d, g, dim, last);
    tc__node *sum = tc__d_opaque3(d, TC_OP_SCATTER_ADD, none, index, g);
    tc__d_give(d, a, tc__d_moved(d, sum, last, dim));
}

static tc__node *tc__d_gather_last(tc__derive *d, tc__node *a, const tc__node *index) {
    uint32_t ids[2];
    int64_t dim = a ? a->rank - 1 : 0;
    if (!a) return NULL;
    ids[0] = a->id, ids[1] = index->id;
    return tc__make(d->g, TC_OP_GATHER, a->dtype, index->rank, index->dims, ids, 2, &dim,
                    1);
}

// Which elements of src stayed: those whose number in the row comes back from where it was scattered to.
static tc__node *tc__d_stayed(tc__derive *d, const tc__node *n) {
    tc__node *index = tc__d_in(d, n, 1);
    int64_t dim = index->rank - 1;
    tc__node *number =
        tc__make(d->g, TC_OP_IOTA, TC_I64, index->rank, index->dims, NULL, 0, &dim, 1);
    tc__node *none = tc__d_zeros(d, tc__make_cast(d->g, tc__d_in(d, n, 0), TC_I64));
    tc__node *last = tc__d_opaque3(d, TC_OP_SCATTER, none, index, number);
    return tc__d2(d, TC_OP_EQ, tc__d_gather_last(d, last, index), number);
}

// What was overwritten counts nothing.
static void tc__derive_scatter(tc__derive *d, const tc__node *n, tc__node *g) {
    tc__node *index = tc__d_in(d, n, 1), *src = tc__d_in(d, n, 2);
    tc__node *rest = g, *given = tc__d_gather_last(d, g, index);
    int sets = n->op == TC_OP_SCATTER;
    if (sets) rest = tc__d_opaque3(d, TC_OP_SCATTER, g, index, tc__d_zeros(d, src));
    if (sets && !tc__ix_equals(index->dims[index->rank - 1], 1))
        given = tc__d3(d, TC_OP_WHERE, tc__d_stayed(d, n), given, tc__d_zeros(d, given));
    tc__d_give(d, tc__d_in(d, n, 0), rest);
    tc__d_give(d, src, given);
}

// Of src, whose slices of the last dimension, or rows, were added to places of the first operand.
static void tc__derive_index_add(tc__derive *d, const tc__node *n, tc__node *g) {
    tc__node *src = tc__d_in(d, n, 2);
    uint32_t ids[2];
    int64_t dim = n->op == TC_OP_ROW_ADD ? 0 : n->rank - 1;
    ids[0] = g->id, ids[1] = n->in[1];
    tc__d_give(d, tc__d_in(d, n, 0), g);
    tc__d_give(d, src,
               tc__make(d->g, TC_OP_TAKE, g->dtype, src->rank, src->dims, ids, 2, &dim, 1));
}
