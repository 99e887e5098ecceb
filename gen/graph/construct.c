// Constructors of TENSOR nodes: what building a graph from steps, and rewriting it, make nodes with. Each gives
// NULL when memory is out, and NULL for NULL operands; what changes nothing gives its operand.

static tc__node *tc__make(tc__graph *g, tc__op op, int dtype, int rank, const tc__ix *dims,
                          const uint32_t *in, uint32_t n_in, const int64_t *attr,
                          uint32_t n_attr) {
    tc__node n;
    memset(&n, 0, sizeof n);
    n.op = (uint16_t)op, n.stage = TC__TENSOR, n.dtype = (uint8_t)dtype,
    n.rank = (uint8_t)rank;
    n.n_in = n_in, n.n_attr = n_attr;
    uint32_t ids[TC__MAX_OPERANDS];
    int64_t words[TC__MAX_OPERANDS];
    if (n_in) memcpy(ids, in, n_in * sizeof *in);
    if (n_attr) memcpy(words, attr, n_attr * sizeof *attr);
    n.in = ids, n.attr = words;
    n.device = n_in ? g->node.at[in[0]]->device : (uint8_t)g->device;
    if (op == TC_OP_TO) n.device = (uint8_t)attr[TC__TO_DEVICE];
    if (rank) memcpy(n.dims, dims, (size_t)rank * sizeof *dims);
    return tc__node_cons(g, &n);
}

static tc__node *tc__make1(tc__graph *g, tc__op op, const tc__node *a, int rank,
                           const tc__ix *dims, const int64_t *attr, uint32_t n_attr) {
    return a ? tc__make(g, op, a->dtype, rank, dims, &a->id, 1, attr, n_attr) : NULL;
}

static tc__node *tc__make1_as(tc__graph *g, tc__op op, int dtype, const tc__node *a,
                              int rank, const tc__ix *dims, const int64_t *attr,
                              uint32_t n_attr) {
    return a ? tc__make(g, op, dtype, rank, dims, &a->id, 1, attr, n_attr) : NULL;
}

static tc__node *tc__make_const(tc__graph *g, int dtype, tc__value v) {
    int64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return tc__make(g, TC_OP_CONST, dtype, 0, NULL, NULL, 0, &bits, 1);
}

static tc__value tc__node_const(const tc__node *n) {
    tc__value v;
    memcpy(&v, &n->attr[TC__CONST_BITS], sizeof v);
    return v;
}

static int tc__dims_equal(const tc__node *n, int rank, const tc__ix *dims) {
    return n->rank == rank && !memcmp(n->dims, dims, (size_t)rank * sizeof *dims);
}

static tc__node *tc__make_cast(tc__graph *g, tc__node *a, int dtype) {
    int64_t attr = dtype;
    if (!a || a->dtype == dtype) return a;
    if (a->op == TC_OP_CONST)
        return tc__make_const(g, dtype, tc__value_cast(tc__node_const(a), a->dtype, dtype));
    return tc__make(g, TC_OP_CAST, dtype, a->rank, a->dims, &a->id, 1, &attr, 1);
}

static tc__node *tc__make_reshape(tc__graph *g, tc__node *a, int rank, const tc__ix *dims) {
    if (!a || tc__dims_equal(a, rank, dims)) return a;
    if (a->op == TC_OP_RESHAPE) a = tc__operand(g, a, 0);
    if (tc__dims_equal(a, rank, dims)) return a;
    return tc__make1(g, TC_OP_RESHAPE, a, rank, dims, dims, (uint32_t)rank);
}

// a broadcast to `dims`: ones in front, then size 1 repeated.
static tc__node *tc__make_expand(tc__graph *g, tc__node *a, int rank, const tc__ix *dims) {
    tc__ix ones[TC_MAX_RANK];
    if (!a || tc__dims_equal(a, rank, dims)) return a;
    for (int i = 0; i < rank; i++)
        ones[i] = i < rank - a->rank ? tc__ix_const(1) : a->dims[i - (rank - a->rank)];
    a = tc__make_reshape(g, a, rank, ones);
    if (!a || tc__dims_equal(a, rank, dims)) return a;
    return tc__make1(g, TC_OP_EXPAND, a, rank, dims, dims, (uint32_t)rank);
}

// x in the sizes and dtype of `like`.
static tc__node *tc__make_number(tc__graph *g, const tc__node *like, double x) {
    if (!like) return NULL;
    return tc__make_expand(g, tc__make_const(g, like->dtype, tc__value_of(x, like->dtype)),
                           like->rank, like->dims);
}

static tc__node *tc__make_permute(tc__graph *g, tc__node *a, const int64_t *order) {
    tc__ix dims[TC_MAX_RANK];
    int64_t merged[TC_MAX_RANK];
    int identity = 1;
    if (!a) return NULL;
    for (int i = 0; i < a->rank; i++) dims[i] = a->dims[order[i]];
    int twice = a->op == TC_OP_PERMUTE;
    for (int i = 0; i < a->rank; i++) {
        merged[i] = twice ? a->attr[order[i]] : order[i];
        identity &= merged[i] == i;
    }
    if (twice) a = tc__operand(g, a, 0);
    if (identity) return a;
    return tc__make1(g, TC_OP_PERMUTE, a, a->rank, dims, merged, (uint32_t)a->rank);
}

static tc__node *tc__make_slice(tc__graph *g, tc__node *a, int64_t dim, tc__ix start,
                                tc__ix count, tc__ix step) {
    tc__ix dims[TC_MAX_RANK];
    int64_t attr[4];
    if (!a) return NULL;
    if (tc__ix_equals(start, 0) && tc__ix_equals(step, 1) && count == a->dims[dim])
        return a;
    memcpy(dims, a->dims, sizeof dims);
    dims[dim] = count;
    attr[TC__SLICE_DIM] = dim, attr[TC__SLICE_START] = start, attr[TC__SLICE_COUNT] = count,
    attr[TC__SLICE_STEP] = step;
    return tc__make1(g, TC_OP_SLICE, a, a->rank, dims, attr, 4);
}

static tc__node *tc__make_pad(tc__graph *g, tc__node *a, int64_t dim, tc__ix low,
                              tc__ix high, tc__ix dilation, int64_t fill) {
    tc__ix n;
    tc__ix dims[TC_MAX_RANK];
    int64_t attr[5];
    if (!a) return NULL;
    if (tc__ix_equals(low, 0) && tc__ix_equals(high, 0) && tc__ix_equals(dilation, 1))
        return a;
    memcpy(dims, a->dims, sizeof dims);
    n = tc__ix_mul(g->ix, tc__ix_sub(g->ix, dims[dim], tc__ix_const(1)), dilation);
    n = tc__ix_equals(dims[dim], 0) ? tc__ix_const(0)
                                    : tc__ix_add(g->ix, n, tc__ix_const(1));
    dims[dim] = tc__ix_add(g->ix, n, tc__ix_add(g->ix, low, high));
    attr[TC__PAD_DIM] = dim, attr[TC__PAD_LOW] = low, attr[TC__PAD_HIGH] = high,
    attr[TC__PAD_DILATION] = dilation, attr[TC__PAD_FILL] = fill;
    return tc__make1(g, TC_OP_PAD, a, a->rank, dims, attr, 5);
}

static tc__node *tc__make_alu(tc__graph *g, tc__op op, int dtype, tc__node *const *in,
                              uint32_t n_in) {
    uint32_t ids[3];
    for (uint32_t i = 0; i < n_in; i++) {
        if (!in[i]) return NULL;
        ids[i] = in[i]->id;
    }
    return tc__make(g, op, dtype, in[0]->rank, in[0]->dims, ids, n_in, NULL, 0);
}

// A reduction over the dimensions of mask that are not of size 1; over one element there is nothing
// to reduce, but adding it to 0 still turns -0 into 0.
static tc__node *tc__reduce_over(tc__graph *g, const tc__step *s, int dtype, tc__node *a) {
    tc__node *in[2];
    tc__value zero;
    int64_t mask = 0;
    if (!a) return NULL;
    for (int i = 0; i < a->rank; i++)
        if (!tc__ix_equals(a->dims[i], 1))
            mask |= s->attr[TC__REDUCE_DIMS] & ((int64_t)1 << i);
    if (mask)
        return tc__make1_as(g, (tc__op)s->op, dtype, a, s->meta.rank, s->meta.dims, &mask,
                            1);
    memset(&zero, 0, sizeof zero);
    in[0] = tc__make_expand(g, tc__make_const(g, dtype, zero), a->rank, a->dims);
    in[1] = a;
    if (s->op == TC_OP_ARGMAX || s->op == TC_OP_ARGMIN) return in[0];
    if (s->op == TC_OP_SUM) return tc__make_alu(g, TC_OP_ADD, a->dtype, in, 2);
    return a;
}

// Sums of halves are sums of f32: what is kept between two kernels of one sum must not overflow.
static tc__node *tc__make_reduce(tc__graph *g, const tc__step *s, tc__node *a) {
    int from = a ? a->dtype : 0, to = s->meta.dtype;
    int computed = tc__is_half(from) ? (int)TC_F32 : tc__computed_as(from);
    a = tc__reduce_over(g, s, to == from ? computed : to, tc__make_cast(g, a, computed));
    return tc__make_cast(g, a, to);
}

// A half or f8, which is f32 in registers, as memory would hold it.
static tc__node *tc__make_rounding(tc__graph *g, tc__node *n) {
    int64_t to = n ? n->dtype : 0;
    if (!n || !tc__is_rounded(n->dtype)) return n;
    return tc__make1_as(g, TC_OP_CAST, n->dtype, n, n->rank, n->dims, &to, 1);
}
