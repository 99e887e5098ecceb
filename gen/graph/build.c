// Trace -> TENSOR graph: a path of steps becomes pure nodes.
// Recording's conveniences are made explicit: operands are cast and broadcast, scalars become
// constants, and in-place writes become new values of a root. A root is an external or a computed
// result; movement results are views of their root and are rebuilt when the root has been written.

// A result to be stored, or an external to be overwritten, by a program.
typedef struct tc__target {
    uint32_t position; // of the step; UINT32_MAX = write-back of external `external`
    uint32_t external;
    uint32_t node;
} tc__target;

// One operand code's value while the path is walked.
typedef struct tc__cell {
    const tc__step *via; // movement that makes it from `parent`; NULL = a root
    uint32_t parent;     // cell
    uint32_t version;    // root: writes so far; view: root's version that `node` belongs to
    tc__node *node;
} tc__cell;

// A value that a program gets at every run.
typedef struct tc__run_arg {
    uint32_t number;  // of the visit's `arg`
    uint8_t dtype;    // that it is computed in
    uint8_t is_value; // a tc__value of that dtype; else a double, to be converted
} tc__run_arg;

typedef struct tc__builder {
    tc_ctx *ctx;
    tc__graph *g;
    tc__visit *visit;
    uint32_t externals; // cells below this are externals, above are positions
    TC__VEC(tc__cell) cell;
    TC__VEC(tc__ix) sym;      // by symbol of the path: what it is in the graph
    TC__VEC(tc__run_arg) arg; // by slot of ARG
    int round_each_op;        // see tc_options
    int failed;
} tc__builder;

// ---- node constructors; each gives NULL when memory is out, and NULL for NULL operands ----

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
    memcpy(&v, &n->attr[0], sizeof v);
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
    attr[0] = dim, attr[1] = start, attr[2] = count, attr[3] = step;
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
    attr[0] = dim, attr[1] = low, attr[2] = high, attr[3] = dilation, attr[4] = fill;
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
        if (!tc__ix_equals(a->dims[i], 1)) mask |= s->attr[0] & ((int64_t)1 << i);
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

// ---- in-place writes ----

// The base whose view through SLICE `s` has become `value`: where(inside, padded value, base).
static tc__node *tc__unslice(tc__graph *g, const tc__step *s, tc__node *base,
                             tc__node *value) {
    int64_t dim = s->attr[0], step = tc__ix_value(s->attr[3]);
    tc__ix low = s->attr[1], count = s->attr[2], n = base->dims[dim];
    tc__node *in[3];
    if (tc__ix_equals(count, 0)) return base;
    tc__ix last = tc__ix_sub(g->ix, count, tc__ix_const(1));
    if (step < 0) {
        value = tc__make_slice(g, value, dim, last, count, tc__ix_const(-1));
        low = tc__ix_add(g->ix, low, tc__ix_mul(g->ix, last, tc__ix_const(step)));
        step = -step;
    }
    tc__value one;
    one.i = 1;
    tc__ix end = tc__ix_add(g->ix, low, tc__ix_mul(g->ix, last, tc__ix_const(step)));
    tc__ix high = tc__ix_sub(g->ix, tc__ix_sub(g->ix, n, end), tc__ix_const(1));
    tc__node *inside = tc__make_const(g, TC_BOOL, one);
    if (!value || !inside) return NULL;
    inside = tc__make_expand(g, inside, value->rank, value->dims);
    in[0] = tc__make_pad(g, inside, dim, low, high, tc__ix_const(step), 0);
    in[1] = tc__make_pad(g, value, dim, low, high, tc__ix_const(step), 0);
    in[2] = base;
    if (!in[0] || in[1] == value) return value;
    return tc__make_alu(g, TC_OP_WHERE, base->dtype, in, 3);
}

static tc__node *tc__unpermute(tc__graph *g, const tc__step *s, tc__node *value) {
    int64_t order[TC_MAX_RANK];
    for (int i = 0; i < s->n_attr; i++) order[s->attr[i]] = i;
    return tc__make_permute(g, value, order);
}

static tc__cell *tc__cell_at(tc__builder *b, uint32_t i) { return &b->cell.at[i]; }

static uint32_t tc__cell_root(tc__builder *b, uint32_t i) {
    while (tc__cell_at(b, i)->via) i = tc__cell_at(b, i)->parent;
    return i;
}

static tc__node *tc__move(tc__graph *g, const tc__step *s, tc__node *a) {
    if (!a) return NULL;
    switch (s->op) {
    case TC_OP_RESHAPE: return tc__make_reshape(g, a, s->n_attr, s->attr);
    case TC_OP_EXPAND: return tc__make_expand(g, a, s->n_attr, s->attr);
    case TC_OP_PERMUTE: return tc__make_permute(g, a, s->attr);
    case TC_OP_SLICE:
        return tc__make_slice(g, a, s->attr[0], s->attr[1], s->attr[2], s->attr[3]);
    case TC_OP_PAD:
        return tc__make_pad(g, a, s->attr[0], s->attr[1], s->attr[2], s->attr[3],
                            s->attr[4]);
    default:
        return tc__make1(g, (tc__op)s->op, a, s->meta.rank, s->meta.dims, s->attr,
                         s->n_attr);
    }
}

// The current value of a cell.
static tc__node *tc__cell_read(tc__builder *b, uint32_t i) {
    tc__cell *v = tc__cell_at(b, i);
    if (!v->via) return v->node;
    uint32_t version = tc__cell_at(b, tc__cell_root(b, i))->version;
    if (v->node && v->version == version) return v->node;
    v->node = tc__move(b->g, v->via, tc__cell_read(b, v->parent));
    v->version = version;
    return v->node;
}

static int tc__cell_write(tc__builder *b, uint32_t i, tc__node *value) {
    tc__cell *v = tc__cell_at(b, i);
    const tc__step *s = v->via;
    if (!value) return 0;
    if (!s) {
        v->node = value;
        v->version++;
        return 1;
    }
    tc__node *base = tc__cell_read(b, v->parent);
    if (!base) return 0;
    if (s->op == TC_OP_EXPAND && !tc__dims_equal(base, value->rank, value->dims))
        return tc__fail(b->ctx, TC_E_ALIAS,
                        "in-place write to an expanded tensor: several elements "
                        "share memory; tc_contiguous it first");
    if (s->op == TC_OP_SLICE) value = tc__unslice(b->g, s, base, value);
    if (s->op == TC_OP_PERMUTE) value = tc__unpermute(b->g, s, value);
    if (s->op == TC_OP_RESHAPE || s->op == TC_OP_EXPAND)
        value = tc__make_reshape(b->g, value, base->rank, base->dims);
    return tc__cell_write(b, v->parent, value);
}

// ---- run-time sizes ----
// The expressions of a path name its symbols. In the graph a symbol that has to be equal to
// something is that.

static tc__ix tc__local(const tc__builder *b, tc__ix e) {
    return tc__ix_copy(b->g->ix, &tc__recorder_of(b->ctx)->ix, e, b->sym.at);
}

// The next symbol of the path, if e is it.
static int tc__build_symbol(tc__builder *b, tc__ix e) {
    if (tc__ix_is_const(e)) return 1;
    const tc__ixnode *n = tc__ix_node(&tc__recorder_of(b->ctx)->ix, e);
    if (n->kind != TC__IX_SYM || n->a != (int64_t)b->sym.count) return 1;
    return TC__PUSH(b->ctx, b->sym, tc__ix_sym(b->g->ix, n->a, n->lo, n->hi));
}

static int tc__build_symbols_of(tc__builder *b, const tc__step *s) {
    for (uint32_t i = 0; i < s->n_bind; i++)
        for (int d = 0; s->bind[i].shape && d < s->bind[i].shape->rank; d++)
            if (!tc__build_symbol(b, s->bind[i].shape->dims[d])) return 0;
    for (uint32_t i = 0; i < s->n_attr; i++)
        if (tc__slot_of((tc__op)s->op, s->n_attr, i) == TC__SLOT_SIZE &&
            !tc__build_symbol(b, s->attr[i]))
            return 0;
    for (int d = 0; tc__ops[s->op].kind == TC__KIND_SOURCE && d < s->meta.rank; d++)
        if (!tc__build_symbol(b, s->meta.dims[d])) return 0;
    return 1;
}

static int tc__build_symbols(tc__builder *b, uint32_t count) {
    tc__ix equal[TC__MAX_SYMBOLS];
    for (uint32_t i = 0; i < count; i++)
        if (b->visit->path.at[i]->symbolic &&
            !tc__build_symbols_of(b, b->visit->path.at[i]))
            return 0;
    if (!b->sym.count) return 1;
    tc__path_equalities(b->ctx, b->visit, count, equal);
    tc__ix own[TC__MAX_SYMBOLS];
    memcpy(own, b->sym.at, b->sym.count * sizeof *own);
    for (size_t i = 0; i < b->sym.count && b->visit->exact; i++)
        own[i] = tc__ix_const(b->visit->size.at[i]);
    for (size_t i = 0; i < b->sym.count; i++)
        b->sym.at[i] = tc__ix_copy(b->g->ix, &tc__recorder_of(b->ctx)->ix, equal[i], own);
    return 1;
}

// The step with the graph's expressions; NULL = out of memory.
static const tc__step *tc__local_step(tc__builder *b, const tc__step *s) {
    if (!s->symbolic) return s;
    tc__step *l = TC__ANEW(&b->g->arena, tc__step);
    int64_t *attr = TC__ANEW_ARRAY(&b->g->arena, int64_t, s->n_attr + 1);
    if (!l || !attr) return NULL;
    *l = *s;
    l->attr = attr;
    for (uint32_t i = 0; i < s->n_attr; i++) {
        int size = tc__slot_of((tc__op)s->op, s->n_attr, i) == TC__SLOT_SIZE;
        attr[i] = size ? tc__local(b, s->attr[i]) : s->attr[i];
    }
    for (int d = 0; d < s->meta.rank; d++) l->meta.dims[d] = tc__local(b, s->meta.dims[d]);
    return l;
}

// ---- steps ----

static uint32_t tc__code_cell(const tc__builder *b, uint32_t code) {
    return code & TC__EXTERNAL ? code & ~TC__EXTERNAL : b->externals + code;
}

static tc__node *tc__step_operand(tc__builder *b, const tc__step *s, uint32_t i) {
    return tc__cell_read(b, tc__code_cell(b, s->in[i]));
}

// dtype in which operand i of an elementwise step is computed.
static int tc__operand_dtype(const tc__step *s, uint32_t i, int common) {
    if (s->op == TC_OP_WHERE) return i ? s->meta.dtype : (int)TC_BOOL;
    if (tc__ops[s->op].dtype == tc__dtype_logic) return TC_BOOL;
    // bool registers are masks, which order the wrong way: compare truth values as 0 and 1.
    if (tc__ops[s->op].dtype == tc__dtype_compare)
        return common == TC_BOOL ? (int)TC_I32 : tc__computed_as(common);
    return tc__computed_as(s->meta.dtype);
}

// The scalar of a step in dtype t: a constant, or a run-time value.
static tc__node *tc__make_scalar(tc__builder *b, const tc__step *s, int t) {
    int is_value = s->op == TC_OP_CONST || s->op == TC_OP_ARG;
    tc__run_arg a;
    double x;
    tc__value v;
    if (!(s->args & 1)) {
        memcpy(&v, &s->attr[0], sizeof v);
        memcpy(&x, &s->attr[0], sizeof x);
        return tc__make_const(b->g, t, is_value ? v : tc__value_of(x, t));
    }
    memset(&a, 0, sizeof a);
    a.number = (uint32_t)s->attr[0], a.dtype = (uint8_t)t, a.is_value = (uint8_t)is_value;
    int64_t slot = 0, n = (int64_t)b->arg.count;
    while (slot < n && memcmp(&b->arg.at[slot], &a, sizeof a)) slot++;
    if (slot == n && !TC__PUSH(b->ctx, b->arg, a)) return NULL;
    return tc__make(b->g, TC_OP_ARG, t, 0, NULL, NULL, 0, &slot, 1);
}

static int tc__step_common_dtype(tc__builder *b, const tc__step *s) {
    double v = 0;
    int t = TC_BOOL;
    for (uint32_t i = 0; i < s->n_in; i++) {
        tc__node *n = tc__step_operand(b, s, i);
        if (n) t = i ? tc__promote(t, n->dtype) : n->dtype;
    }
    if (s->n_attr == 2)
        memcpy(&v, s->args & 1 ? &b->visit->arg.at[s->attr[0]] : &s->attr[0], sizeof v);
    return s->n_attr == 2 ? tc__promote_scalar(t, v) : t;
}

// A half, which is f32 in registers, as memory would hold it.
static tc__node *tc__make_rounding(tc__graph *g, tc__node *n) {
    int64_t to = n ? n->dtype : 0;
    if (!n || !tc__is_half(n->dtype)) return n;
    return tc__make1_as(g, TC_OP_CAST, n->dtype, n, n->rank, n->dims, &to, 1);
}

// The result of an op that computes, rounded if it is to be as eager code would.
static tc__node *tc__make_rounded(tc__builder *b, tc__node *n) {
    return b->round_each_op ? tc__make_rounding(b->g, n) : n;
}

static tc__node *tc__step_alu(tc__builder *b, const tc__step *s) {
    const tc__op_info *o = &tc__ops[s->op];
    tc__node *in[3] = {NULL, NULL, NULL};
    int common = tc__step_common_dtype(b, s), scalar = s->n_attr == 2;
    for (uint32_t i = 0, k = 0; i < (uint32_t)o->arity; i++) {
        int t = tc__operand_dtype(s, i, common);
        if (scalar && i == (s->attr[1] == TC__SCALAR_LEFT ? 0u : (uint32_t)o->arity - 1)) {
            in[i] = tc__make_scalar(b, s, t);
        } else {
            in[i] = tc__make_cast(b->g, tc__step_operand(b, s, k++), t);
        }
        in[i] = tc__make_expand(b->g, in[i], s->meta.rank, s->meta.dims);
        if (!in[i]) return NULL;
    }
    tc__node *n = in[0];
    int t = s->op == TC_OP_WHERE ? s->meta.dtype : tc__computed_as(s->meta.dtype);
    tc__op op = (tc__op)s->op;
    // Whatever bits true has: a mask on the CPU, 1 on a GPU.
    if (op == TC_OP_BITWISE_NOT && t == TC_BOOL) op = TC_OP_LOGICAL_NOT;
    if (o->dtype != tc__dtype_rounding || tc__is_float(t))
        n = tc__make_alu(b->g, op, t, in, (uint32_t)o->arity);
    return tc__make_rounded(b, tc__make_cast(b->g, n, s->meta.dtype));
}

static tc__node *tc__step_node(tc__builder *b, const tc__step *s) {
    uint32_t ids[TC__MAX_OPERANDS];
    switch (tc__ops[s->op].kind) {
    case TC__KIND_UNARY:
    case TC__KIND_BINARY:
    case TC__KIND_TERNARY: return tc__step_alu(b, s);
    case TC__KIND_CAST:
        return tc__make_cast(b->g, tc__step_operand(b, s, 0), s->meta.dtype);
    case TC__KIND_CONTRACT:
    case TC__KIND_OPAQUE:
    case TC__KIND_MOVE:
    case TC__KIND_JOIN:
    case TC__KIND_GATHER:
    case TC__KIND_REDUCE:
    case TC__KIND_SOURCE:
    case TC__KIND_KERNEL:
    case TC__KIND_EFFECT: break;
    }
    if (s->op == TC_OP_CONST || s->op == TC_OP_ARG)
        return tc__make_expand(
            b->g, tc__make_rounding(b->g, tc__make_scalar(b, s, s->meta.dtype)),
            s->meta.rank, s->meta.dims);
    if (tc__ops[s->op].kind == TC__KIND_REDUCE)
        return tc__make_reduce(b->g, s, tc__step_operand(b, s, 0));
    int cast = s->op == TC_OP_CAT || s->op == TC_OP_MATMUL;
    int t = s->op == TC_OP_MATMUL ? tc__computed_as(s->meta.dtype) : s->meta.dtype;
    for (uint32_t i = 0; i < s->n_in; i++) {
        tc__node *n = tc__step_operand(b, s, i);
        if (cast) n = tc__make_cast(b->g, n, t);
        if (!n) return NULL;
        ids[i] = n->id;
    }
    if (tc__ops[s->op].kind == TC__KIND_MOVE)
        return tc__move(b->g, s, b->g->node.at[ids[0]]);
    tc__node *n = tc__make(b->g, (tc__op)s->op, t, s->meta.rank, s->meta.dims, ids, s->n_in,
                           s->attr, s->n_attr);
    n = tc__make_cast(b->g, n, s->meta.dtype);
    return s->op == TC_OP_MATMUL ? tc__make_rounded(b, n) : n;
}

static int tc__build_step(tc__builder *b, const tc__step *s) {
    tc__cell v;
    memset(&v, 0, sizeof v);
    if (s->op == TC_OP_COPY_) {
        tc__node *to = tc__step_operand(b, s, 0), *value = tc__step_operand(b, s, 1);
        if (!to || !value) return 0;
        value = tc__make_expand(b->g, tc__make_cast(b->g, value, to->dtype), to->rank,
                                to->dims);
        if (!tc__cell_write(b, tc__code_cell(b, s->in[0]), value)) return 0;
    } else if (tc__ops[s->op].kind == TC__KIND_EFFECT) {
        v.node = NULL;
    } else if (s->view) {
        v.via = s, v.parent = tc__code_cell(b, s->in[0]);
    } else {
        v.node = tc__step_node(b, s);
        if (!v.node) return 0;
    }
    return TC__PUSH(b->ctx, b->cell, v);
}

static int tc__build_external(tc__builder *b, uint32_t i) {
    const tc__external *e = &b->visit->external.at[i];
    tc__meta m;
    tc__cell v;
    int64_t attr = i;
    memset(&v, 0, sizeof v);
    tc__meta_of_layout(tc__layout_at(b->ctx, e->layout), &m);
    for (int d = 0; e->shape && d < m.rank; d++)
        m.dims[d] = tc__local(b, e->shape->dims[d]);
    v.node = tc__make(b->g, TC_OP_INPUT, m.dtype, m.rank, m.dims, NULL, 0, &attr, 1);
    return v.node && TC__PUSH(b->ctx, b->cell, v);
}

// Results of earlier segments that are in memory enter as inputs: code n_ext + position. Views are
// made again from what they show.
static int tc__build_known(tc__builder *b, const tc__step *s) {
    tc__visit *v = b->visit;
    if (s->view || s->position >= v->result_of.count || !v->result_of.at[s->position])
        return 0;
    int64_t attr = (int64_t)(b->externals + s->position);
    tc__cell cell;
    memset(&cell, 0, sizeof cell);
    cell.node = tc__make(b->g, TC_OP_INPUT, s->meta.dtype, s->meta.rank, s->meta.dims, NULL,
                         0, &attr, 1);
    if (!cell.node || !TC__PUSH(b->ctx, b->cell, cell)) b->failed = 1;
    return 1;
}

static void tc__builder_close(tc__builder *b) {
    TC__VEC_FREE(b->ctx, b->cell);
    TC__VEC_FREE(b->ctx, b->sym);
    TC__VEC_FREE(b->ctx, b->arg);
}

// Walks the first `count` steps of the visit. Results already in memory are inputs unless the path
// writes in place anywhere (then everything is recomputed from the externals). 0 = reported.
static int tc__build(tc__builder *b, tc__graph *g, tc__visit *v, uint32_t count) {
    int pure = 1;
    memset(b, 0, sizeof *b);
    b->ctx = g->ctx, b->g = g, b->visit = v, b->externals = (uint32_t)v->external.count;
    b->round_each_op = v->region && v->region->options.round_each_op;
    if (!tc__build_symbols(b, count)) return 0;
    for (uint32_t i = 0; i < count; i++) pure &= v->path.at[i]->op != TC_OP_COPY_;
    for (uint32_t i = 0; i < b->externals; i++)
        if (!tc__build_external(b, i)) return 0;
    for (uint32_t i = 0; i < count; i++) {
        const tc__step *s = tc__local_step(b, v->path.at[i]);
        if (!s) return 0;
        if (pure && tc__build_known(b, s)) continue;
        if (b->failed || !tc__build_step(b, s)) return 0;
    }
    return 1;
}
