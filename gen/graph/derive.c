// Derivatives of TENSOR graphs. Input: a graph that is being built, a node y of it and what each of y's elements
// counts. Output: nodes of the same graph, by node what y changes by with it: its adjoint.
//
// One sweep from y down to node 0, which is an order in which all that reads a node comes before it. A node whose
// adjoint is known gives its operands theirs, by the GRAD column of ops.def or a rule below; a node that gets
// several gets their sum. So it is the graph that is derived: writes in place are new values in it, views are
// movement, and what a derivative is made of are nodes, with derivatives. What is not needed of them nobody computes.
// Composite ops are derived as their parts are, whose formulas detach what cancels out (tc__below_top).

// What the user has told of an op of his: the gradients of its inputs, as nodes made of `seed`, which stands for that
// of its result.
typedef struct tc__own_gradient {
    uint32_t result, seed, n;
    const uint32_t *in; // by operand; TC__NO_NODE = it has none
} tc__own_gradient;

enum {
    TC__DEPENDS = 1, // through ops that have derivatives, which may be 0 everywhere
    TC__REFUSED = 2  // and through one that has none
};

enum {
    TC__LATE_ROW = -1,
    TC__D_TERMS = 6 // of a sum: signs, factors, and terms, at most
};

typedef struct tc__derive {
    tc__graph *g;
    uint32_t y, v;       // what is derived, and what it counts
    uint32_t n;          // nodes when it was: those below have an adjoint, or have none
    uint32_t *adjoint;   // by node: 1 + id; 0 = y does not depend on it
    uint8_t *how;        //   and how it depends on it: TC__DEPENDS, TC__REFUSED
    const tc__node *why; // the first such op that was met
    const tc__own_gradient *own; // of custom ops, so many
    size_t owns;
    // While a turn of a loop that goes back is made: whether what n counts for its factor, or for the tensor that it is
    // a row of (TC__LATE_ROW), is taken from here, and given behind the loop (graph/derive_loop.c). NULL = outside.
    int (*late)(struct tc__derive *d, const tc__node *n, int factor, tc__node *g);
    struct tc__back *back; // and that loop,
    uint32_t *value;       // and by node: 1 + what its value is read from; 0 = itself
    tc__recompute again;   // of checkpoints,
    uint32_t inside; //   and 1 + number of that whose node is being derived; 0 = of none
    int rounds;      // halves are rounded behind every op
    int failed;
} tc__derive;

// ---- arithmetic: operands of equal sizes, and of the dtype of the first that is floating ----

// The dtype of a's gradients: of f8, which is not computed with, f32.
static int tc__d_dtype(tc__derive *d, const tc__node *a) {
    (void)d;
    return a && !tc__is_fp8(a->dtype) ? a->dtype : (int)TC_F32;
}

// What f16 has no room for is infinite for all who look, also where it is in a register: a scaler has to find it.
static tc__node *tc__d_cast(tc__derive *d, tc__node *a, int dtype) {
    int widens = a && a->dtype == TC_F16 && (dtype == TC_F32 || dtype == TC_F64);
    return tc__make_cast(d->g, widens ? tc__make_rounding(d->g, a) : a, dtype);
}

static tc__node *tc__d_number(tc__derive *d, const tc__node *like, double x) {
    return tc__make_number(d->g, like, x);
}

static tc__node *tc__d_zeros(tc__derive *d, const tc__node *like) {
    return tc__d_cast(d, tc__d_number(d, like, 0), tc__d_dtype(d, like));
}

static tc__node *tc__d_made(tc__derive *d, tc__node *n) {
    return d->rounds ? tc__make_rounding(d->g, n) : n;
}

static tc__node *tc__d1(tc__derive *d, tc__op op, tc__node *a) {
    return a ? tc__d_made(d, tc__make_alu(d->g, op, a->dtype, &a, 1)) : NULL;
}

static tc__node *tc__d2(tc__derive *d, tc__op op, tc__node *a, tc__node *b) {
    tc__node *in[2];
    if (!a || !b) return NULL;
    int t = tc__is_float(b->dtype) && !tc__is_float(a->dtype) ? b->dtype : a->dtype;
    int compares = tc__ops[op].dtype == tc__dtype_compare;
    in[0] = tc__make_cast(d->g, a, t), in[1] = tc__make_cast(d->g, b, t);
    return tc__d_made(d, tc__make_alu(d->g, op, compares ? (int)TC_BOOL : t, in, 2));
}

static tc__node *tc__d2_s(tc__derive *d, tc__op op, tc__node *a, double x) {
    return tc__d2(d, op, a, tc__d_number(d, a, x));
}

static tc__node *tc__d2_rs(tc__derive *d, tc__op op, tc__node *a, double x) {
    return tc__d2(d, op, tc__d_number(d, a, x), a);
}

static tc__node *tc__d3(tc__derive *d, tc__op op, tc__node *a, tc__node *b, tc__node *c) {
    tc__node *in[3];
    in[0] = a, in[1] = b, in[2] = c;
    return a && b && c ? tc__d_made(d, tc__make_alu(d->g, op, b->dtype, in, 3)) : NULL;
}

// ---- movement ----

static tc__node *tc__d_reshape_like(tc__derive *d, tc__node *a, const tc__node *like) {
    return tc__make_reshape(d->g, a, like->rank, like->dims);
}

static tc__node *tc__d_expand_like(tc__derive *d, tc__node *a, const tc__node *like) {
    return tc__make_expand(d->g, a, like->rank, like->dims);
}

static tc__node *tc__d_reduce(tc__derive *d, tc__op op, tc__node *a, int64_t mask) {
    tc__step s;
    if (!a) return NULL;
    memset(&s, 0, sizeof s);
    s.op = (uint16_t)op, s.attr = &mask, s.n_attr = 1;
    s.meta.dtype = a->dtype, s.meta.rank = a->rank;
    for (int i = 0; i < a->rank; i++)
        s.meta.dims[i] = mask >> i & 1 ? tc__ix_const(1) : a->dims[i];
    return tc__make_reduce(d->g, &s, a);
}

// The dimensions along which `to`, of as many, repeats what has size 1 in `from`.
static int64_t tc__d_repeated(const tc__node *from, const tc__node *to) {
    int64_t mask = 0;
    for (int i = 0; i < to->rank; i++)
        if (tc__ix_equals(from->dims[i], 1) && !tc__ix_equals(to->dims[i], 1))
            mask |= (int64_t)1 << i;
    return mask;
}

static tc__node *tc__d_turned(tc__derive *d, tc__node *a) { // the last two dimensions
    int64_t order[TC_MAX_RANK];
    if (!a) return NULL;
    for (int i = 0; i < a->rank; i++) order[i] = i;
    order[a->rank - 1] = a->rank - 2, order[a->rank - 2] = a->rank - 1;
    return tc__make_permute(d->g, a, order);
}

static tc__node *tc__d_flip(tc__derive *d, tc__node *a, int dim) {
    if (!a) return NULL;
    tc__ix last = tc__ix_sub(d->g->ix, a->dims[dim], tc__ix_const(1));
    if (tc__ix_equals(a->dims[dim], 0)) return a;
    return tc__make_slice(d->g, a, dim, last, a->dims[dim], tc__ix_const(-1));
}

// a with zeros around along a dimension, so that it has the size n; element 0 comes to `low`, the others to every
// `step`th.
static tc__node *tc__d_within(tc__derive *d, tc__node *a, int64_t dim, tc__ix low,
                              int64_t step, tc__ix n) {
    tc__ixpool *x = d->g->ix;
    if (!a) return NULL;
    tc__ix end =
        tc__ix_mul(x, tc__ix_sub(x, a->dims[dim], tc__ix_const(1)), tc__ix_const(step));
    end = tc__ix_add(x, tc__ix_add(x, end, tc__ix_const(1)), low);
    return tc__make_pad(d->g, a, dim, low, tc__ix_sub(x, n, end), tc__ix_const(step), 0);
}

// a as a value that nothing is derived through; with a mark it is like no other.
static tc__node *tc__d_detach(tc__graph *g, tc__node *a, int64_t mark) {
    return a && tc__is_float(a->dtype)
               ? tc__make1(g, TC_OP_DETACH, a, a->rank, a->dims, &mark, 1)
               : a;
}

// ---- giving ----

static tc__node *tc__d_in(tc__derive *d, const tc__node *n, uint32_t i) {
    return d->g->node.at[n->in[i]];
}

// Node `id` as a value; NULL = reported.
static tc__node *tc__d_value(tc__derive *d, uint32_t id) {
    tc__node *v = d->inside ? tc__again_of(&d->again, d->inside, id) : d->g->node.at[id];
    d->failed |= !v;
    return v;
}

// The value of n, which is being derived: where a loop has stacked it, not what would make it again.
static tc__node *tc__d_result(const tc__derive *d, const tc__node *n) {
    uint32_t at = d->value ? d->value[n->id] : 0;
    return d->g->node.at[at ? at - 1 : n->id];
}

// What n is, where it is made again for what is being derived.
static const tc__node *tc__d_original(const tc__derive *d, const tc__node *n) {
    return tc__original(&d->again, n);
}

// y depends on node `id`, in a way.
static void tc__d_depends(tc__derive *d, uint32_t id, int how) {
    d->how[tc__d_original(d, d->g->node.at[id])->id] |= (uint8_t)how;
}

static int tc__d_flows(const tc__node *n) { return tc__is_float(n->dtype); }

// Node `to` counts so much more. a NULL = nothing more, or no memory.
static void tc__d_give(tc__derive *d, const tc__node *to, tc__node *a) {
    uint32_t *at = &d->adjoint[tc__d_original(d, to)->id];
    if (!a || !tc__d_flows(to)) return;
    a = tc__d_cast(d, a, tc__d_dtype(d, to));
    if (*at) a = tc__d2(d, TC_OP_ADD, d->g->node.at[*at - 1], a);
    d->failed |= !a;
    if (a) *at = a->id + 1;
}

// ---- rules ----

typedef void (*tc__rule_fn)(tc__derive *d, const tc__node *n, tc__node *g);

// Whether operand i of n is one number for all elements.
static int tc__d_is_number(tc__derive *d, const tc__node *n, uint32_t i) {
    const tc__node *a = tc__d_in(d, tc__d_original(d, n), i);
    while (a->op == TC_OP_EXPAND || a->op == TC_OP_RESHAPE || a->op == TC_OP_CAST)
        a = tc__d_in(d, a, 0);
    return a->op == TC_OP_CONST || a->op == TC_OP_ARG;
}

// A bound that is a number lets all pass that it does not replace, also what equals it, as clamp of PyTorch does;
// between tensors the table has it.
static int tc__derive_bound(tc__derive *d, const tc__node *n, tc__node *g) {
    if (n->op != TC_OP_MAXIMUM && n->op != TC_OP_MINIMUM) return 0;
    int bound = tc__d_is_number(d, n, 0) ? 0 : 1;
    if (!tc__d_is_number(d, n, (uint32_t)bound)) return 0;
    tc__node *a = tc__d_in(d, n, !bound), *b = tc__d_in(d, n, (uint32_t)bound);
    tc__node *out = tc__d2(d, n->op == TC_OP_MAXIMUM ? TC_OP_LT : TC_OP_GT, a, b);
    tc__d_give(d, a, tc__d3(d, TC_OP_WHERE, out, tc__d_zeros(d, g), g));
    return 1;
}

// Whether a is a sum, or one by a number: what norms and deviations are a root of. Of one element it is 0 + that
// (tc__reduce_over).
static int tc__d_is_sum(tc__derive *d, const tc__node *a) {
    a = tc__d_original(d, a);
    while (a->op == TC_OP_RESHAPE || (a->op == TC_OP_DIV && tc__d_is_number(d, a, 1)))
        a = tc__d_in(d, a, 0);
    if (a->op != TC_OP_ADD) return a->op == TC_OP_SUM;
    const tc__node *zero = tc__d_in(d, a, 0);
    while (zero->op == TC_OP_EXPAND || zero->op == TC_OP_RESHAPE)
        zero = tc__d_in(d, zero, 0);
    return zero->op == TC_OP_CONST && tc__node_const(zero).i == 0;
}

// Of equal elements of a pool's window the first counts, as PyTorch has it. Its taps are a chain of maxima, each between
// those before it and the next tap; large windows are an amax, which shares.
static int tc__derive_pool(tc__derive *d, const tc__node *n, tc__node *g) {
    n = tc__d_original(d, n);
    const tc__composite *f =
        n->op == TC_OP_MAXIMUM ? tc__composite_of(d->g, n->id, TC_OP_MAX_POOL2D) : NULL;
    if (!f || f->result != n->id) return 0;
    int64_t size = f->attr[TC__MAX_POOL2D_KERNEL], taps = size * size;
    for (; n->op == TC_OP_MAXIMUM && taps > 1 && g; taps--) {
        tc__node *before = tc__d_value(d, n->in[0]), *tap = tc__d_value(d, n->in[1]);
        if (!before || !tap) return 1;
        tc__node *zeros = tc__d_zeros(d, g), *less = tc__d2(d, TC_OP_LT, before, tap);
        tc__d_give(d, tap, tc__d3(d, TC_OP_WHERE, less, g, zeros));
        g = tc__d3(d, TC_OP_WHERE, less, zeros, g), n = tc__d_in(d, n, 0);
    }
    tc__d_give(d, n, g);
    return 1;
}

// The GRAD column.
static void tc__derive_row(tc__derive *d, const tc__node *n, tc__node *g) {
    tc__node *y = tc__d_made(d, tc__d_result(d, n)), *a = tc__d_in(d, n, 0);
    tc__node *b = n->n_in > 1 ? tc__d_in(d, n, 1) : NULL;
    tc__node *c = n->n_in > 2 ? tc__d_in(d, n, 2) : NULL;
    (void)y, (void)b, (void)c;
    switch (n->op) {
#include "out/derive_rules.inc"
    default: break;
    }
}

// A root of a sum that is 0 counts nothing, as PyTorch has it for norms and deviations: inf times the slope of
// what was summed, which is 0, would be NaN.
static int tc__derive_root(tc__derive *d, const tc__node *n, tc__node *g) {
    tc__node *a = tc__d_in(d, n, 0);
    uint32_t *at = &d->adjoint[tc__d_original(d, a)->id], was = *at;
    if (n->op != TC_OP_SQRT && !(n->op == TC_OP_POW && tc__d_is_number(d, n, 1))) return 0;
    if (!tc__d_is_sum(d, a)) return 0;
    *at = 0;
    tc__derive_row(d, n, g);
    tc__node *slope = *at ? d->g->node.at[*at - 1] : NULL;
    *at = was;
    tc__node *none = tc__d2_s(d, TC_OP_EQ, tc__d_made(d, tc__d_result(d, n)), 0);
    tc__d_give(d, a, tc__d3(d, TC_OP_WHERE, none, tc__d_zeros(d, a), slope));
    return 1;
}

static void tc__derive_alu(tc__derive *d, const tc__node *n, tc__node *g) {
    if (tc__derive_pool(d, n, g) || tc__derive_bound(d, n, g)) return;
    if (!tc__derive_root(d, n, g)) tc__derive_row(d, n, g);
}

static void tc__derive_reshape(tc__derive *d, const tc__node *n, tc__node *g) {
    tc__node *a = tc__d_in(d, n, 0);
    tc__d_give(d, a, tc__d_reshape_like(d, g, a));
}

static void tc__derive_permute(tc__derive *d, const tc__node *n, tc__node *g) {
    int64_t order[TC_MAX_RANK];
    for (int i = 0; i < n->rank; i++) order[n->attr[i]] = i;
    tc__d_give(d, tc__d_in(d, n, 0), tc__make_permute(d->g, g, order));
}

// What stands before a, where it is taken from outside of what is made again.
static tc__node *tc__d_before(tc__derive *d, tc__node *a) {
    while (a->op == TC_OP_AGAIN) a = tc__d_in(d, a, 0);
    return a;
}

// Operand i of a, or of what stands before it: that as a is taken. So sums are the same in checkpoints and without.
static tc__node *tc__d_operand(tc__derive *d, tc__node *a, uint32_t i) {
    const tc__node *around[TC__CHECKPOINTS_DEEP];
    uint32_t n = 0;
    for (; a->op == TC_OP_AGAIN && n < TC__CHECKPOINTS_DEEP; a = tc__d_in(d, a, 0))
        around[n++] = a;
    a = i < a->n_in ? tc__d_in(d, a, i) : NULL;
    while (n-- && a)
        a = tc__make1(d->g, TC_OP_AGAIN, a, a->rank, a->dims, around[n]->attr, 1);
    return a;
}

// What is repeated along all of the dimensions to make a, which may be twice an expand; NULL = nothing is.
static tc__node *tc__d_row(tc__derive *d, tc__node *a, int64_t mask) {
    const tc__node *e = a ? tc__d_before(d, a) : NULL;
    int twice = e && e->op == TC_OP_ADD && e->in[0] == e->in[1];
    if (twice) a = tc__d_operand(d, a, 0), e = a ? tc__d_before(d, a) : NULL;
    if (!e || e->op != TC_OP_EXPAND) return NULL;
    if (mask & ~tc__d_repeated(tc__d_in(d, e, 0), e)) return NULL;
    tc__node *row = tc__d_operand(d, a, 0);
    return twice ? tc__d2(d, TC_OP_ADD, row, row) : row;
}

// Whether the sums of a along the dimensions are 0: it is centred there, but for signs and factors that are repeated.
static int tc__d_vanishes(tc__derive *d, const tc__node *a, int64_t mask) {
    for (int i = 0; i < TC__D_TERMS; i++) {
        if (a->op == TC_OP_CENTRED) return a->attr[TC__CENTRED_DIMS] == mask;
        if (a->op == TC_OP_MUL && tc__d_row(d, tc__d_in(d, a, 0), mask))
            a = tc__d_in(d, a, 1);
        else if (a->op == TC_OP_NEG || a->op == TC_OP_AGAIN ||
                 (a->op == TC_OP_ADD && a->in[0] == a->in[1]) ||
                 (a->op == TC_OP_MUL && tc__d_row(d, tc__d_in(d, a, 1), mask)))
            a = tc__d_in(d, a, 0);
        else
            return 0;
    }
    return 0;
}

// a without one sign, one factor that is repeated along the dimensions, or one term whose sums are 0; NULL = it has none.
static tc__node *tc__d_less(tc__derive *d, tc__node *a, int64_t mask, int *sign,
                            tc__node **factor) {
    tc__op op = (tc__op)tc__d_before(d, a)->op;
    *factor = NULL;
    if (op != TC_OP_NEG && op != TC_OP_MUL && op != TC_OP_ADD && op != TC_OP_SUB)
        return NULL;
    tc__node *x = tc__d_operand(d, a, 0), *y = tc__d_operand(d, a, 1);
    if (op == TC_OP_NEG) *sign = -*sign;
    if (op == TC_OP_NEG) return x;
    if (op == TC_OP_MUL && (*factor = tc__d_row(d, y, mask)) != NULL) return x;
    if (op == TC_OP_MUL && (*factor = tc__d_row(d, x, mask)) != NULL) return y;
    if (op == TC_OP_MUL || !x || !y) return NULL;
    if (tc__d_vanishes(d, y, mask)) return x;
    return op == TC_OP_ADD && tc__d_vanishes(d, x, mask) ? y : NULL;
}

// The sum along dimensions of what is counted there. It stands behind what makes the row values in it, in a pass of its
// own over the row: so factors that are repeated there are multiplied with the sum, and what vanishes is left out. A norm
// and its gradient take three passes so, not four.
static tc__node *tc__d_sum(tc__derive *d, tc__node *a, int64_t mask) {
    tc__node *factor[TC__D_TERMS], *less;
    int n = 0, sign = 1, wide = a && (a->dtype == TC_F32 || a->dtype == TC_F64);
    if (wide && tc__d_vanishes(d, a, mask)) return NULL;
    for (int i = 0; wide && mask && i < TC__D_TERMS && a->n_in; i++) {
        less = tc__d_less(d, a, mask, &sign, &factor[n]);
        if (!less) break;
        if (factor[n]) n++;
        a = less;
    }
    tc__node *sum = tc__d_reduce(d, TC_OP_SUM, a, mask);
    while (n-- > 0 && sum)
        sum = tc__d2(d, TC_OP_MUL, sum, tc__d_expand_like(d, factor[n], sum));
    return sign < 0 && sum ? tc__d1(d, TC_OP_NEG, sum) : sum;
}

static void tc__derive_expand(tc__derive *d, const tc__node *n, tc__node *g) {
    tc__node *a = tc__d_in(d, n, 0);
    tc__d_give(d, a, tc__d_sum(d, g, tc__d_repeated(a, n)));
}

static void tc__derive_slice(tc__derive *d, const tc__node *n, tc__node *g) {
    tc__node *a = tc__d_in(d, n, 0);
    if (d->late && d->late(d, n, TC__LATE_ROW, g)) return;
    tc__ixpool *x = d->g->ix;
    int64_t dim = n->attr[TC__SLICE_DIM], step = tc__ix_value(n->attr[TC__SLICE_STEP]);
    tc__ix low = n->attr[TC__SLICE_START], count = n->attr[TC__SLICE_COUNT];
    if (tc__ix_equals(count, 0)) return;
    if (step < 0) {
        tc__ix last = tc__ix_sub(x, count, tc__ix_const(1));
        low = tc__ix_add(x, low, tc__ix_mul(x, last, tc__ix_const(step)));
        g = tc__d_flip(d, g, (int)dim), step = -step;
    }
    tc__d_give(d, a, tc__d_within(d, g, dim, low, step, a->dims[dim]));
}

// How many elements a pad of `by` cuts off, where it is less than 0.
static tc__ix tc__d_cut(tc__derive *d, tc__ix by) {
    tc__ix none = tc__ix_const(0);
    if (tc__ix_lo(d->g->ix, by) >= 0) return none;
    return tc__ix_sub(d->g->ix, none, tc__ix_min(d->g->ix, by, none));
}

// Element i stands at low + i * dilation, where that was not cut off: there nothing is counted.
static void tc__derive_pad(tc__derive *d, const tc__node *n, tc__node *g) {
    tc__node *a = tc__d_in(d, n, 0);
    tc__ix low = n->attr[TC__PAD_LOW], one = tc__ix_const(1);
    tc__ix below = tc__d_cut(d, low), above = tc__d_cut(d, n->attr[TC__PAD_HIGH]);
    int64_t dim = n->attr[TC__PAD_DIM];
    if (tc__ix_equals(a->dims[dim], 0)) return;
    g = tc__make_pad(d->g, g, dim, below, above, one, 0);
    low = tc__ix_add(d->g->ix, low, below);
    tc__d_give(d, a,
               tc__make_slice(d->g, g, dim, low, a->dims[dim], n->attr[TC__PAD_DILATION]));
}

// Element i of dimension `dim` was element k of window (i - k * dilation) / stride.
static void tc__derive_window(tc__derive *d, const tc__node *n, tc__node *g) {
    tc__node *a = tc__d_in(d, n, 0), *sum = NULL;
    int64_t dim = n->attr[TC__WINDOW_DIM];
    int64_t size = tc__ix_value(n->attr[TC__WINDOW_SIZE]);
    int64_t stride = tc__ix_value(n->attr[TC__WINDOW_STRIDE]);
    int64_t dilation = tc__ix_value(n->attr[TC__WINDOW_DILATION]);
    tc__ix dims[TC_MAX_RANK];
    memcpy(dims, n->dims, sizeof dims);
    for (int64_t k = 0; k < size; k++) {
        tc__node *part = tc__make_slice(d->g, g, n->rank - 1, tc__ix_const(k),
                                        tc__ix_const(1), tc__ix_const(1));
        part = tc__make_reshape(d->g, part, n->rank - 1, dims);
        part = tc__d_within(d, part, dim, tc__ix_const(k * dilation), stride, a->dims[dim]);
        sum = k ? tc__d2(d, TC_OP_ADD, sum, part) : part;
        d->failed |= !sum;
    }
    tc__d_give(d, a, sum);
}

static void tc__derive_cat(tc__derive *d, const tc__node *n, tc__node *g) {
    int64_t dim = n->attr[TC__CAT_DIM];
    tc__ix at = tc__ix_const(0);
    for (uint32_t i = 0; i < n->n_in; i++) {
        tc__node *a = tc__d_in(d, n, i);
        tc__d_give(d, a, tc__make_slice(d->g, g, dim, at, a->dims[dim], tc__ix_const(1)));
        at = tc__ix_add(d->g->ix, at, a->dims[dim]);
    }
}

// ---- reductions, scans ----

static void tc__derive_sum(tc__derive *d, const tc__node *n, tc__node *g) {
    tc__node *a = tc__d_in(d, n, 0);
    tc__d_give(d, a, tc__d_expand_like(d, g, a));
}

// All elements that are the extreme share what it counts.
static void tc__derive_extreme(tc__derive *d, const tc__node *n, tc__node *g) {
    tc__node *a = tc__d_in(d, n, 0);
    tc__node *is = tc__d2(d, TC_OP_EQ, a, tc__d_expand_like(d, tc__d_result(d, n), a));
    tc__node *count =
        tc__d_reduce(d, TC_OP_SUM, tc__d_cast(d, is, a->dtype), n->attr[TC__REDUCE_DIMS]);
    g = tc__d_expand_like(d, tc__d2(d, TC_OP_DIV, g, count), a);
    tc__d_give(d, a, tc__d3(d, TC_OP_WHERE, is, g, tc__d_zeros(d, a)));
}

static tc__node *tc__d_scan(tc__derive *d, tc__op op, tc__node *a) {
    return a ? tc__make1(d->g, op, a, a->rank, a->dims, NULL, 0) : NULL;
}

// The scan from the end.
static tc__node *tc__d_scan_back(tc__derive *d, tc__op op, tc__node *a) {
    int last = a ? a->rank - 1 : 0;
    return tc__d_flip(d, tc__d_scan(d, op, tc__d_flip(d, a, last)), last);
}

static void tc__derive_cumsum(tc__derive *d, const tc__node *n, tc__node *g) {
    tc__d_give(d, tc__d_in(d, n, 0), tc__d_scan_back(d, TC_OP_CUMSUM, g));
}

// a moved by one place along the last dimension, 1 coming in.
static tc__node *tc__d_after(tc__derive *d, tc__node *a) {
    if (!a) return NULL;
    int last = a->rank - 1;
    tc__ix less = tc__ix_sub(d->g->ix, a->dims[last], tc__ix_const(1)),
           one = tc__ix_const(1);
    if (tc__ix_equals(less, 0)) return tc__d_number(d, a, 1);
    a = tc__make_slice(d->g, a, last, tc__ix_const(0), less, one);
    if (!a) return NULL;
    return tc__make_pad(d->g, a, last, one, tc__ix_const(0), one,
                        tc__value_word(1, a->dtype));
}

// Of a product of rows [.., n]: for each element that of the others, whatever is 0.
static tc__node *tc__d_others(tc__derive *d, tc__node *a) {
    if (!a) return NULL;
    int last = a->rank - 1;
    if (tc__ix_equals(a->dims[last], 0)) return a;
    tc__node *before = tc__d_after(d, tc__d_scan(d, TC_OP_CUMPROD, a));
    tc__node *turned = tc__d_scan(d, TC_OP_CUMPROD, tc__d_flip(d, a, last));
    return tc__d2(d, TC_OP_MUL, before, tc__d_flip(d, tc__d_after(d, turned), last));
}

// The dimensions of the mask go last and become one; *back is the order that undoes it.
static tc__node *tc__d_rows(tc__derive *d, tc__node *a, int64_t mask, int64_t *back) {
    int64_t order[TC_MAX_RANK];
    tc__ix dims[TC_MAX_RANK], each = tc__ix_const(1);
    int n = 0, kept = 0;
    for (int i = 0; i < a->rank; i++)
        if (!(mask >> i & 1)) dims[kept++] = a->dims[i], order[n++] = i;
    for (int i = 0; i < a->rank; i++)
        if (mask >> i & 1) each = tc__ix_mul(d->g->ix, each, a->dims[i]), order[n++] = i;
    for (int i = 0; i < n; i++) back[order[i]] = i;
    dims[kept] = each;
    return tc__make_reshape(d->g, tc__make_permute(d->g, a, order), kept + 1, dims);
}

static void tc__derive_prod(tc__derive *d, const tc__node *n, tc__node *g) {
    tc__node *a = tc__d_in(d, n, 0);
    int64_t back[TC_MAX_RANK], order[TC_MAX_RANK];
    tc__ix dims[TC_MAX_RANK];
    tc__node *others = tc__d_others(d, tc__d_rows(d, a, n->attr[TC__REDUCE_DIMS], back));
    for (int i = 0; i < a->rank; i++) order[back[i]] = i;
    for (int i = 0; i < a->rank; i++) dims[i] = a->dims[order[i]];
    others = tc__make_reshape(d->g, others, a->rank, dims);
    others = tc__make_permute(d->g, others, back);
    tc__d_give(d, a, tc__d2(d, TC_OP_MUL, tc__d_expand_like(d, g, a), others));
}

// y_j = a_0 ... a_j, so a_i counts the sum over j >= i of g_j y_j / a_i, where a_i is not 0; behind the first 0 of a
// row nothing; that 0 the same sum of what y was if it were 1.
static void tc__derive_cumprod(tc__derive *d, const tc__node *n, tc__node *g) {
    tc__node *a = tc__d_in(d, n, 0), *y = tc__d_result(d, n);
    tc__node *is = tc__d2_s(d, TC_OP_EQ, a, 0);
    tc__node *zeros = tc__d_scan(d, TC_OP_CUMSUM, tc__d_cast(d, is, a->dtype));
    tc__node *met = tc__d2_s(d, TC_OP_GT, zeros, 0);
    tc__node *first = tc__d2_s(d, TC_OP_EQ, tc__d2(d, TC_OP_MUL, zeros, is), 1);
    tc__node *one = tc__d3(d, TC_OP_WHERE, first, tc__d_number(d, a, 1), a);
    tc__node *without = tc__d_scan(d, TC_OP_CUMPROD, one);
    tc__node *of_first = tc__d_scan_back(d, TC_OP_CUMSUM, tc__d2(d, TC_OP_MUL, g, without));
    tc__node *sum = tc__d_scan_back(d, TC_OP_CUMSUM, tc__d2(d, TC_OP_MUL, g, y));
    sum = tc__d2(d, TC_OP_DIV, sum, tc__d3(d, TC_OP_WHERE, met, tc__d_number(d, a, 1), a));
    sum = tc__d3(d, TC_OP_WHERE, met, tc__d_zeros(d, a), sum);
    tc__d_give(d, a, tc__d3(d, TC_OP_WHERE, first, of_first, sum));
}

// ---- products, devices ----

static tc__node *tc__d_product(tc__derive *d, tc__node *a, tc__node *b) {
    uint32_t ids[2];
    tc__ix dims[TC_MAX_RANK];
    if (!a || !b) return NULL;
    memcpy(dims, a->dims, sizeof dims);
    dims[a->rank - 1] = b->dims[b->rank - 1];
    ids[0] = a->id, ids[1] = b->id;
    return tc__d_made(
        d, tc__make(d->g, TC_OP_MATMUL, a->dtype, a->rank, dims, ids, 2, NULL, 0));
}

// Whether a is another value with its last two dimensions exchanged.
static int tc__d_is_turned(const tc__node *a) {
    if (a->op != TC_OP_PERMUTE) return 0;
    for (int i = 0; i + 2 < a->rank; i++)
        if (a->attr[i] != i) return 0;
    return a->rank >= 2 && a->attr[a->rank - 1] == a->rank - 2;
}

// left x right, what operand `to` counts. If that is turned itself, as the weight of tc_linear is, the product is made
// turned: what was turned gets it as it lies, with the same bits.
static tc__node *tc__d_factor(tc__derive *d, const tc__node *to, tc__node *left,
                              tc__node *right) {
    if (!tc__d_is_turned(to)) return tc__d_product(d, left, right);
    left = tc__d_turned(d, left), right = tc__d_turned(d, right);
    return tc__d_turned(d, tc__d_product(d, right, left));
}

// Whether what n's image counts is made as a convolution: on a device what tensor cores take, with zeros between what windows
// count; on the host by phases, where they are products of some rows, or what windows count is little. Else sums over
// columns are less: 4 channels of 64 results take 0.3 to 0.8 of the time so, of 16 results 2.
static int tc__d_is_image(const tc__derive *d, const tc__node *n, tc__windowed_back *b) {
    tc__windowed w;
    if (n->device)
        return tc__windowed_of(d->g, n, &w) && w.channels >= TC__WINDOWED_LEAST &&
               w.size[0] * w.size[1] > 1 && tc__windowed_plan(d->g, b, &w, 0);
    if (d->g->devices || !tc__windowed_form(d->g, n, &w) || !tc__is_float(n->dtype) ||
        w.size[0] * w.size[1] == 1 || !tc__windowed_plan(d->g, b, &w, 1))
        return 0;
    return b->rows >= TC__WINDOWED_HOST || w.results <= TC__WINDOWED_MORE * w.channels;
}

// Of such a convolution, what its image counts is given to it: no column of windows is made. 0 = it is none.
static int tc__d_image(tc__derive *d, const tc__node *n, tc__node *g) {
    tc__windowed_back b;
    if (!tc__d_is_image(d, n, &b)) return 0;
    g = tc__d_made(d, tc__windowed_image_of(d->g, &b, g));
    tc__d_give(d, d->g->node.at[b.of.image->id], g);
    return 1;
}

static void tc__derive_matmul(tc__derive *d, const tc__node *n, tc__node *g) {
    tc__node *a = tc__d_in(d, n, 0), *b = tc__d_in(d, n, 1);
    g = tc__make_cast(d->g, g, a->dtype);
    if (!d->late || !d->late(d, n, 0, g))
        tc__d_give(d, a, tc__d_factor(d, a, g, tc__d_turned(d, b)));
    if (!d->late && tc__d_image(d, n, g)) return;
    if (!d->late || !d->late(d, n, 1, g))
        tc__d_give(d, b, tc__d_factor(d, b, tc__d_turned(d, a), g));
}

static void tc__derive_to(tc__derive *d, const tc__node *n, tc__node *g) {
    tc__node *a = tc__d_in(d, n, 0);
    int64_t device = a->device;
    tc__d_give(d, a, tc__make1(d->g, TC_OP_TO, g, g->rank, g->dims, &device, 1));
}

static void tc__derive_same(tc__derive *d, const tc__node *n, tc__node *g) {
    tc__d_give(d, tc__d_in(d, n, 0), g);
}

static void tc__derive_nothing(tc__derive *d, const tc__node *n, tc__node *g) {
    (void)d, (void)n, (void)g;
}
