// Scores of attention computed again where gradients read them, on devices, so that nothing of their size is in memory:
// results have other bits. Input: a TENSOR graph. Output: the same where each product that reads scores, or what is made
// of them, has copies of its own.
//
//     p = e * f, e = exp(x - m), x of q k^T; o = p v               row values m and f are there
//     dv = p^T do;  dk = ds^T q;  dq = ds k, ds of e and dp = do v^T
//
// A product whose left operand is such gets a copy of all that it is made of, down to products of k up to TC__RESCORE_DEEP:
// with AGAIN around an operand of those, so that they are nodes of their own. Of a turned operand the copy is made turned:
// (q k^T)^T = k q^T. So its kernel has several products (device/chain.c). And sum p dp of a row, which softmax's gradient
// takes, is sum o do: it needs no scores. Copies of p are exp(x - l), l = m + log f: one value of a row is kept, not two, and
// nothing is divided; factors are one fma with what is added, as there are more elements than matrix units need time for.
//
// All or nothing for an attention: where anything else reads its scores, they are stored, and all reads them.

enum {
    TC__RESCORE_DEEP =
        192, // k of products that are done again: two of them have room in a block
    TC__RESCORE_FROM = 64, // rows and columns of scores
    TC__RESCORE_FACTORS = 12
};

typedef enum tc__scored {
    TC__SCORED_NOT,
    TC__SCORED_PRODUCT, // q k^T, do v^T
    TC__SCORED_OF,      // made of such, element by element
    TC__SCORED_TURNED   // and with rows and columns exchanged
} tc__scored;

// A softmax between two products.
typedef struct tc__attended {
    const tc__node *p, *e, *f, *o; // p = e * f, or e / f: row values; o = p v
    int divides, refused;
    int reads; // products that are to compute scores again
} tc__attended;

typedef struct tc__rescore {
    tc__rewrite *w;
    TC__VEC(tc__attended) attended;
    uint8_t *scored;  // by old node
    uint32_t *of;     // by old node that is: number of the attention, from 1
    uint8_t *forward; // by old product: it is an o
    uint32_t *copy
        [2]; // by old node: of the copy that is made, as it is and turned; TC__NO_NODE = none yet
    int64_t mark;
} tc__rescore;

static const tc__node *tc__rescore_node(const tc__rescore *r, uint32_t id) {
    return r->w->from->node.at[id];
}

static tc__attended *tc__rescore_of(const tc__rescore *r, uint32_t id) {
    return &r->attended.at[r->of[id] - 1];
}

// ---- what is scores ----

// Whether a size at the end is at least so much. One of run time may be less: scores of such are stored.
static int tc__is_last(const tc__node *n, int behind, int64_t from) {
    tc__ix e = n->dims[n->rank - behind];
    return tc__ix_is_const(e) && tc__ix_value(e) >= from;
}

// Whether n is repeated along its last dimension.
static int tc__is_row_value(const tc__graph *g, const tc__node *n) {
    const tc__node *a = n->op == TC_OP_EXPAND ? tc__operand(g, n, 0) : NULL;
    return a && a->rank == n->rank && tc__ix_equals(a->dims[a->rank - 1], 1);
}

// Whether elements along dimension d of n are neighbours in memory, as far as the graph tells.
static int tc__is_dense_along(const tc__graph *g, const tc__node *n, int d) {
    for (;;) {
        const tc__node *a = n->n_in ? tc__operand(g, n, 0) : n;
        if (n->op == TC_OP_PERMUTE) {
            d = (int)n->attr[d];
        } else if (n->op == TC_OP_RESHAPE) {
            if (d != n->rank - 1 || !a->rank) return 0;
            tc__ix outer = a->dims[a->rank - 1], inner = n->dims[d];
            if (!tc__ix_is_const(outer) || !tc__ix_is_const(inner) ||
                tc__ix_value(outer) % tc__ix_value(inner))
                return 0;
            d = a->rank - 1;
        } else if (n->op == TC_OP_EXPAND) {
            if (a->dims[d] != n->dims[d]) return 0;
        } else if (n->op == TC_OP_SLICE) {
            if (n->attr[TC__SLICE_DIM] == d && !tc__ix_equals(n->attr[TC__SLICE_STEP], 1))
                return 0;
        } else if (n->op != TC_OP_AGAIN) {
            return d == n->rank - 1;
        }
        n = a;
    }
}

// Whether n is a product of halves that is done again at little cost.
static int tc__is_rescored_product(const tc__graph *g, const tc__node *n) {
    if (n->op != TC_OP_MATMUL || n->rank < 2) return 0;
    const tc__node *a = tc__operand(g, n, 0), *b = tc__operand(g, n, 1);
    tc__ix k = a->dims[a->rank - 1];
    return tc__is_half(a->dtype) && a->dtype == b->dtype && a->rank == n->rank &&
           b->rank == n->rank && tc__ix_is_const(k) && tc__ix_value(k) % 8 == 0 &&
           tc__ix_value(k) <= TC__RESCORE_DEEP && tc__is_last(n, 1, TC__RESCORE_FROM) &&
           tc__is_last(n, 2, TC__RESCORE_FROM) && tc__is_dense_along(g, a, a->rank - 1) &&
           tc__is_dense_along(g, b, b->rank - 2);
}

// Marks what n is made of; whether it is of scores. Random numbers are not drawn again here.
static int tc__rescore_mark(tc__rescore *r, const tc__node *n, const tc__node *like,
                            uint32_t of) {
    const tc__graph *g = r->w->from;
    int some = 0;
    if (n->op == TC_OP_RANDOM) r->attended.at[of - 1].refused = 1;
    if (!tc__dims_equal(n, like->rank, like->dims)) return 0;
    if (r->scored[n->id]) {
        r->attended.at[of - 1].refused |= r->of[n->id] != of;
        return 1;
    }
    if (tc__is_rescored_product(g, n)) {
        r->scored[n->id] = TC__SCORED_PRODUCT, r->of[n->id] = of;
        return 1;
    }
    if (!tc__is_alu(n)) return 0;
    for (uint32_t k = 0; k < n->n_in; k++)
        some |= tc__rescore_mark(r, tc__operand(g, n, k), like, of);
    if (some) r->scored[n->id] = TC__SCORED_OF, r->of[n->id] = of;
    return some;
}

// Whether n is the o of a softmax.
static int tc__rescore_attends(const tc__graph *g, const tc__node *n, tc__attended *a) {
    memset(a, 0, sizeof *a);
    if (n->op != TC_OP_MATMUL || (g->devices && !n->device) || n->loop) return 0;
    const tc__node *p = tc__operand(g, n, 0);
    if (!tc__is_half(p->dtype)) return 0;
    p = tc__raise_uncast(g, p);
    if (p->op != TC_OP_MUL && p->op != TC_OP_DIV) return 0;
    int first = tc__operand(g, p, 0)->op == TC_OP_EXP;
    a->divides = p->op == TC_OP_DIV;
    a->o = n, a->p = p, a->e = tc__operand(g, p, first ? 0 : 1),
    a->f = tc__operand(g, p, first ? 1 : 0);
    if (a->e->op != TC_OP_EXP || (a->divides && !first) || !tc__is_row_value(g, a->f))
        return 0;
    const tc__node *d = tc__operand(g, a->e, 0);
    return d->op == TC_OP_SUB && tc__is_row_value(g, tc__operand(g, d, 1));
}

// Dimension d of what n is a permutation of.
static int64_t tc__rescore_order(const tc__node *n, int d) {
    return n->op == TC_OP_PERMUTE ? n->attr[d] : d;
}

// Whether b is a with its last two dimensions exchanged; permutations of permutations are one.
static int tc__is_turned(const tc__node *a, const tc__node *b) {
    int last = a->rank - 1;
    if ((a->op == TC_OP_PERMUTE ? a->in[0] : a->id) !=
            (b->op == TC_OP_PERMUTE ? b->in[0] : b->id) ||
        a->rank != b->rank)
        return 0;
    for (int d = 0; d < last - 1; d++)
        if (tc__rescore_order(a, d) != tc__rescore_order(b, d)) return 0;
    return tc__rescore_order(a, last) == tc__rescore_order(b, last - 1) &&
           tc__rescore_order(a, last - 1) == tc__rescore_order(b, last);
}

// What is made of scores, and with it what else that is made of.
static void tc__rescore_spread(tc__rescore *r) {
    const tc__graph *g = r->w->from;
    for (uint32_t i = 0; i < g->node.count; i++) {
        const tc__node *n = g->node.at[i];
        uint32_t of = 0;
        if (!r->w->live[i] || r->scored[i]) continue;
        for (uint32_t k = 0; k < n->n_in; k++)
            if (r->scored[n->in[k]] && r->scored[n->in[k]] != TC__SCORED_TURNED)
                of = r->of[n->in[k]];
        if (!of) continue;
        if (tc__is_alu(n)) tc__rescore_mark(r, n, n, of);
        if (n->op == TC_OP_PERMUTE && tc__is_turned(tc__operand(g, n, 0), n))
            r->scored[i] = TC__SCORED_TURNED, r->of[i] = of;
    }
}

// ---- sums of rows ----

// sum p dp of an attention, and what else it is multiplied with.
typedef struct tc__row_sum {
    const tc__attended *of;
    const tc__node *dp;
    const tc__node *factor[TC__RESCORE_FACTORS]; // row values
    int es, ps, factors, negative;               // how often e is a factor, and p
} tc__row_sum;

// Takes the factors of n apart; 0 = there is something else.
static int tc__row_sum_factors(const tc__rescore *r, const tc__node *n, tc__row_sum *s) {
    const tc__graph *g = r->w->from;
    n = tc__raise_uncast(g, n);
    if (n == s->of->e) return s->es++ == 0;
    if (n == s->of->p) return s->ps++ == 0;
    if (r->scored[n->id] == TC__SCORED_PRODUCT) {
        int first = !s->dp;
        s->dp = n;
        return first;
    }
    if (tc__is_row_value(g, n)) {
        if (s->factors == TC__RESCORE_FACTORS) return 0;
        s->factor[s->factors++] = tc__operand(g, n, 0);
        return 1;
    }
    s->negative ^= n->op == TC_OP_NEG;
    if (n->op == TC_OP_NEG) return tc__row_sum_factors(r, tc__operand(g, n, 0), s);
    return n->op == TC_OP_MUL && tc__row_sum_factors(r, tc__operand(g, n, 0), s) &&
           tc__row_sum_factors(r, tc__operand(g, n, 1), s);
}

// Whether SUM n is sum p dp of an attention.
static int tc__row_sum_of(const tc__rescore *r, const tc__node *n, tc__row_sum *s) {
    const tc__graph *g = r->w->from;
    const tc__node *a = n->n_in ? tc__operand(g, n, 0) : n;
    memset(s, 0, sizeof *s);
    if (n->op != TC_OP_SUM || !r->of[a->id] || n->dtype != TC_F32 ||
        n->attr[TC__REDUCE_DIMS] != (int64_t)1 << (a->rank - 1))
        return 0;
    s->of = tc__rescore_of(r, a->id);
    if (!tc__row_sum_factors(r, a, s) || s->es + s->ps != 1 || !s->dp) return 0;
    const tc__node *v = tc__operand(g, s->of->o, 1), *right = tc__operand(g, s->dp, 1);
    return tc__is_turned(v, right);
}

static tc__node *tc__rescore_mul(tc__graph *g, tc__op op, tc__node *a, tc__node *b) {
    tc__node *in[2];
    in[0] = a, in[1] = b;
    return a && b ? tc__make_alu(g, op, a->dtype, in, 2) : NULL;
}

// sum o do, as what n was: p = e * f.
static tc__node *tc__row_sum_make(const tc__rescore *r, const tc__node *n,
                                  const tc__row_sum *s) {
    tc__graph *g = r->w->to;
    const tc__attended *x = s->of;
    int64_t dims = n->attr[TC__REDUCE_DIMS];
    tc__node *o = tc__make_cast(g, g->node.at[r->w->at[x->o->id]], TC_F32),
             *d = tc__make_cast(g, g->node.at[r->w->at[s->dp->in[0]]], TC_F32);
    tc__node *all = tc__rescore_mul(g, TC_OP_MUL, o, d);
    tc__node *sum = tc__make1(g, TC_OP_SUM, all, n->rank, n->dims, &dims, 1);
    tc__node *f = g->node.at[r->w->at[tc__operand(r->w->from, x->f, 0)->id]];
    if (s->es) sum = tc__rescore_mul(g, x->divides ? TC_OP_MUL : TC_OP_DIV, sum, f);
    for (int i = 0; i < s->factors; i++)
        sum = tc__rescore_mul(g, TC_OP_MUL, sum, g->node.at[r->w->at[s->factor[i]->id]]);
    if (sum && s->negative) sum = tc__make_alu(g, TC_OP_NEG, sum->dtype, &sum, 1);
    return sum;
}

// ---- who reads ----

// Whether operand k of n, which is of scores, may be read so.
static int tc__rescore_reads(const tc__rescore *r, const tc__node *n, uint32_t k) {
    tc__row_sum s;
    const tc__attended *x = tc__rescore_of(r, n->in[k]);
    if (r->scored[n->id]) return r->of[n->id] == r->of[n->in[k]];
    if (n->op == TC_OP_MATMUL)
        return tc__is_half(tc__rescore_node(r, n->in[k])->dtype) &&
               !r->scored[n->in[1 - k]];
    if (n->op == TC_OP_AMAX) return 1;
    if (n->op != TC_OP_SUM) return 0;
    return n->in[0] == x->e->id || tc__row_sum_of(r, n, &s);
}

static void tc__rescore_check(tc__rescore *r) {
    for (uint32_t i = 0; i < r->w->nodes; i++) {
        const tc__node *n = tc__rescore_node(r, i);
        if (!r->w->live[i]) continue;
        if (r->scored[i] && r->w->live[i] & TC__LIVE_OUTPUT)
            tc__rescore_of(r, i)->refused = 1;
        for (uint32_t k = 0; k < n->n_in; k++) {
            if (!r->scored[n->in[k]]) continue;
            tc__attended *x = tc__rescore_of(r, n->in[k]);
            if (!tc__rescore_reads(r, n, k)) x->refused = 1;
            x->reads += n->op == TC_OP_MATMUL && !r->forward[i];
        }
    }
}

// Whether an operand of product n is to be computed again.
static int tc__rescore_wants(const tc__rescore *r, const tc__node *n) {
    if (n->op != TC_OP_MATMUL || r->forward[n->id]) return 0;
    uint32_t scores = n->in[r->scored[n->in[0]] ? 0 : 1];
    if (!r->scored[scores]) return 0;
    const tc__attended *x = tc__rescore_of(r, scores);
    return !x->refused && x->reads;
}

// ---- copies ----

static tc__node *tc__rescore_turned(tc__graph *g, tc__node *a) {
    int64_t order[TC_MAX_RANK];
    if (!a) return NULL;
    for (int i = 0; i < a->rank; i++) order[i] = i;
    order[a->rank - 2] = a->rank - 1, order[a->rank - 1] = a->rank - 2;
    return tc__make_permute(g, a, order);
}

static tc__node *tc__rescore_again(tc__rescore *r, tc__node *a) {
    return tc__make1(r->w->to, TC_OP_AGAIN, a, a ? a->rank : 0, a ? a->dims : NULL,
                     &r->mark, 1);
}

// A product of its own.
static tc__node *tc__rescore_product(tc__rescore *r, const tc__node *n, int turned) {
    tc__graph *g = r->w->to;
    tc__node *a = g->node.at[r->w->at[n->in[0]]], *b = g->node.at[r->w->at[n->in[1]]];
    tc__ix dims[TC_MAX_RANK];
    uint32_t in[2];
    memcpy(dims, n->dims, sizeof dims);
    if (turned) {
        tc__node *left = tc__rescore_turned(g, b);
        b = tc__rescore_turned(g, a), a = left;
        dims[n->rank - 2] = n->dims[n->rank - 1], dims[n->rank - 1] = n->dims[n->rank - 2];
    }
    a = tc__rescore_again(r, a);
    if (!a || !b) return NULL;
    in[0] = a->id, in[1] = b->id;
    return tc__make(g, TC_OP_MATMUL, n->dtype, n->rank, dims, in, 2, NULL, 0);
}

// What no copy is made of. Values of rows are in memory: they are read for every column.
static tc__node *tc__rescore_leaf(tc__rescore *r, const tc__node *n, int turned) {
    tc__graph *g = r->w->to;
    tc__node *a = g->node.at[r->w->at[n->id]];
    tc__value v;
    if (tc__is_row_value(g, a) && !tc__splat_value(g, a, &v))
        a = tc__make_expand(g, tc__rescore_again(r, tc__operand(g, a, 0)), n->rank,
                            n->dims);
    return turned ? tc__rescore_turned(g, a) : a;
}

static tc__node *tc__rescore_copy(tc__rescore *r, uint32_t id, int turned);

// Row value v, [.., 1], for each element of what is like the old node `like`.
static tc__node *tc__rescore_spread_row(tc__rescore *r, tc__node *v, const tc__node *like,
                                        int turned) {
    if (v) v = tc__make_expand(r->w->to, tc__rescore_again(r, v), like->rank, like->dims);
    return turned ? tc__rescore_turned(r->w->to, v) : v;
}

// x * factor + row, in one rounding; x is old, `row` a row value.
static tc__node *tc__rescore_fma(tc__rescore *r, const tc__node *x, double factor,
                                 tc__node *row, int turned) {
    tc__node *in[3];
    in[0] = tc__rescore_copy(r, x->id, turned);
    in[1] = in[0] ? tc__make_number(r->w->to, in[0], factor) : NULL;
    in[2] = tc__rescore_spread_row(r, row, x, turned);
    return in[0] && in[1] && in[2] ? tc__make_alu(r->w->to, TC_OP_FMA, TC_F32, in, 3)
                                   : NULL;
}

// What f32 product n is of scores and a number; NULL = n is something else.
static const tc__node *tc__rescore_scaled(const tc__rescore *r, const tc__node *n,
                                          double *factor) {
    const tc__graph *g = r->w->from;
    tc__value v;
    if (n->op != TC_OP_MUL || n->dtype != TC_F32) return NULL;
    int first = tc__splat_value(g, tc__operand(g, n, 0), &v);
    if (!first && !tc__splat_value(g, tc__operand(g, n, 1), &v)) return NULL;
    *factor = v.f;
    n = tc__operand(g, n, first ? 1 : 0);
    return r->scored[n->id] ? n : NULL;
}

// l of an attention, [.., 1]: m + log f, or m - log f where p is e * f.
static tc__node *tc__rescore_sum(tc__rescore *r, const tc__attended *a) {
    const tc__graph *from = r->w->from;
    tc__graph *g = r->w->to;
    const tc__node *m = tc__operand(from, tc__operand(from, a->e, 0), 1);
    tc__node *log = g->node.at[r->w->at[tc__operand(from, a->f, 0)->id]];
    log = tc__make_alu(g, TC_OP_LOG, log->dtype, &log, 1);
    return tc__rescore_mul(g, a->divides ? TC_OP_ADD : TC_OP_SUB,
                           g->node.at[r->w->at[tc__operand(from, m, 0)->id]], log);
}

// Whether n is a choice between scores and -inf.
static int tc__rescore_chooses(const tc__rescore *r, const tc__node *n) {
    tc__value v;
    return n->op == TC_OP_WHERE &&
           tc__splat_value(r->w->from, tc__operand(r->w->from, n, 2), &v) &&
           v.f == -tc__infinity();
}

// The WHERE `choice` with `value` where its condition holds.
static tc__node *tc__rescore_choice(tc__rescore *r, const tc__node *choice, tc__node *value,
                                    int turned) {
    tc__node *in[3];
    in[0] = tc__rescore_copy(r, choice->in[0], turned), in[1] = value;
    in[2] = tc__rescore_copy(r, choice->in[2], turned);
    return in[0] && value && in[2] ? tc__make_alu(r->w->to, TC_OP_WHERE, TC_F32, in, 3)
                                   : NULL;
}

// p of an attention: exp(x - l); of x = s * c, which may be left out by a condition, 2^(s * c log2 e - l log2 e).
static tc__node *tc__rescore_share(tc__rescore *r, const tc__attended *a, int turned) {
    const double log2e = 1.4426950408889634;
    const tc__graph *from = r->w->from;
    tc__graph *g = r->w->to;
    const tc__node *x = tc__operand(from, tc__operand(from, a->e, 0), 0),
                   *choice = tc__rescore_chooses(r, x) ? x : NULL;
    tc__node *l = tc__rescore_sum(r, a), *in[3];
    double c = 0;
    const tc__node *s =
        tc__rescore_scaled(r, choice ? tc__operand(from, choice, 1) : x, &c);
    if (!l) return NULL;
    if (!s) {
        tc__node *copy = tc__rescore_copy(r, x->id, turned);
        in[0] =
            tc__rescore_mul(g, TC_OP_SUB, copy, tc__rescore_spread_row(r, l, x, turned));
        return in[0] ? tc__make_alu(g, TC_OP_EXP, TC_F32, in, 1) : NULL;
    }
    l = tc__rescore_mul(g, TC_OP_MUL, l, tc__make_number(r->w->to, l, -log2e));
    tc__node *e = tc__rescore_fma(r, s, c * log2e, l, turned);
    if (choice) e = tc__rescore_choice(r, choice, e, turned);
    return e ? tc__make_alu(g, TC_OP_EXP2, TC_F32, &e, 1) : NULL;
}

// x of n = x f where p = e f, of n = x / f where p = e / f; NULL = n is something else.
static const tc__node *tc__rescore_unscaled(const tc__rescore *r, const tc__attended *a,
                                            const tc__node *n) {
    if (n->op != (uint16_t)(a->divides ? TC_OP_DIV : TC_OP_MUL)) return NULL;
    int first = !a->divides && n->in[0] == a->f->id;
    if (n->in[first ? 0 : 1] != a->f->id) return NULL;
    return tc__operand(r->w->from, n, first ? 1 : 0);
}

// A sum of scores x and a row value that is multiplied with p c: as x p c, and so much more of p.
typedef struct tc__slope {
    const tc__node *x, *row;
    int of_e; // of e, not of p: then x and the row value are those of x f + row
    int minus;
    double c;
    const tc__node
        *choice; // where its condition does not hold, it is 0; NULL = it is all that
} tc__slope;

static int tc__rescore_slope_of(const tc__rescore *r, const tc__node *n, tc__slope *s) {
    const tc__graph *from = r->w->from;
    const tc__attended *a = tc__rescore_of(r, n->id);
    const tc__node *y = tc__rescore_scaled(r, n, &s->c);
    tc__value none;
    s->choice = y && y->op == TC_OP_WHERE ? y : NULL;
    if (s->choice) y = tc__operand(from, y, 1);
    if (s->choice &&
        (!tc__splat_value(from, tc__operand(from, s->choice, 2), &none) || none.f != 0))
        return 0;
    if (!y || y->op != TC_OP_MUL) return 0;
    int second = y->in[1] == a->p->id || y->in[1] == a->e->id;
    s->of_e = y->in[second] == a->e->id;
    if (!s->of_e && y->in[second] != a->p->id) return 0;
    const tc__node *u = tc__operand(from, y, (uint32_t)!second);
    if (u->op != TC_OP_SUB && u->op != TC_OP_ADD) return 0;
    int last = u->op == TC_OP_ADD && tc__is_row_value(from, tc__operand(from, u, 0));
    s->minus = u->op == TC_OP_SUB;
    s->x = tc__operand(from, u, (uint32_t)last);
    s->row = tc__operand(from, u, (uint32_t)!last);
    if (s->of_e) s->x = tc__rescore_unscaled(r, a, s->x);
    return s->x && r->scored[s->x->id] && tc__is_row_value(from, s->row);
}

// (x - d) p c, where d is a row value, as (x c - d c) p; (x f + d) e c, where p = e f, as (x c + d c / f) p. NULL = n is
// something else, or reported.
static tc__node *tc__rescore_slope(tc__rescore *r, const tc__node *n, int turned) {
    const tc__graph *from = r->w->from;
    const tc__attended *a = tc__rescore_of(r, n->id);
    tc__graph *g = r->w->to;
    tc__slope s;
    if (!tc__rescore_slope_of(r, n, &s)) return NULL;
    tc__node *d = g->node.at[r->w->at[tc__operand(from, s.row, 0)->id]],
             *f = g->node.at[r->w->at[tc__operand(from, a->f, 0)->id]];
    if (s.of_e) d = tc__rescore_mul(g, a->divides ? TC_OP_MUL : TC_OP_DIV, d, f);
    if (d)
        d = tc__rescore_mul(g, TC_OP_MUL, d, tc__make_number(g, d, s.minus ? -s.c : s.c));
    tc__node *made = tc__rescore_fma(r, s.x, s.c, d, turned);
    made = tc__rescore_mul(g, TC_OP_MUL, made, tc__rescore_copy(r, a->p->id, turned));
    return s.choice ? tc__rescore_choice(r, s.choice, made, turned) : made;
}

// Node `id` as the copy has it; NULL = reported.
static tc__node *tc__rescore_copy(tc__rescore *r, uint32_t id, int turned) {
    const tc__node *n = tc__rescore_node(r, id);
    tc__graph *g = r->w->to;
    uint32_t *at = &r->copy[turned][id], in[TC__MAX_OPERANDS];
    tc__node m = *n, *made;
    if (*at != TC__NO_NODE) return g->node.at[*at];
    if (r->scored[id] == TC__SCORED_PRODUCT) {
        made = tc__rescore_product(r, n, turned);
    } else if (r->scored[id] == TC__SCORED_OF && n == tc__rescore_of(r, id)->p) {
        made = tc__rescore_share(r, tc__rescore_of(r, id), turned);
    } else if (r->scored[id] == TC__SCORED_OF &&
               (made = tc__rescore_slope(r, n, turned)) != NULL) {
        *at = made->id;
        return made;
    } else if (r->scored[id] == TC__SCORED_OF) {
        for (uint32_t k = 0; k < n->n_in; k++) {
            const tc__node *a = tc__rescore_copy(r, n->in[k], turned);
            if (!a) return NULL;
            in[k] = a->id;
        }
        m.in = in;
        if (turned)
            m.dims[n->rank - 2] = n->dims[n->rank - 1],
                             m.dims[n->rank - 1] = n->dims[n->rank - 2];
        made = tc__node_cons(g, &m);
    } else {
        made = tc__rescore_leaf(r, n, turned);
    }
    if (made) *at = made->id;
    return made;
}

// Product n with scores of its own, which are its left operand: a s = (s^T a^T)^T.
static tc__node *tc__rescore_reader(tc__rescore *r, const tc__node *n) {
    tc__graph *g = r->w->to;
    int left = r->scored[n->in[0]] != 0;
    const tc__node *a = tc__rescore_node(r, n->in[left ? 0 : 1]);
    int turned = r->scored[a->id] == TC__SCORED_TURNED;
    tc__ix dims[TC_MAX_RANK];
    uint32_t in[2];
    r->mark++;
    for (int i = 0; i < 2; i++) memset(r->copy[i], 0xff, r->w->nodes * sizeof *r->copy[i]);
    const tc__node *scores =
        tc__rescore_copy(r, turned ? a->in[0] : a->id, left ? turned : !turned);
    tc__node *other = g->node.at[r->w->at[n->in[left ? 1 : 0]]];
    if (!left) other = tc__rescore_turned(g, other);
    if (!scores || !other) return NULL;
    memcpy(dims, n->dims, sizeof dims);
    if (!left)
        dims[n->rank - 2] = n->dims[n->rank - 1], dims[n->rank - 1] = n->dims[n->rank - 2];
    in[0] = scores->id, in[1] = other->id;
    tc__node *made = tc__make(g, TC_OP_MATMUL, n->dtype, n->rank, dims, in, 2, NULL, 0);
    return left ? made : tc__rescore_turned(g, made);
}

static int tc__rescore_each(tc__rescore *r) {
    tc__rewrite *w = r->w;
    for (uint32_t i = 0; i < w->nodes; i++) {
        const tc__node *n = w->from->node.at[i];
        uint32_t in[TC__MAX_OPERANDS];
        tc__row_sum s;
        if (!w->live[i]) continue;
        tc__node m = tc__rewrite_proto(w, n, in), *made;
        if (tc__rescore_wants(r, n))
            made = tc__rescore_reader(r, n);
        else if (tc__row_sum_of(r, n, &s) && !s.of->refused && s.of->reads)
            made = tc__row_sum_make(r, n, &s);
        else
            made = tc__node_cons(w->to, &m);
        if (!made) return 0;
        w->at[i] = w->output[i] = made->id;
    }
    return 1;
}

// ---- the pass ----

static int tc__wants_rescore(const tc__graph *g, const tc__node *n) {
    tc__attended a;
    return tc__rescore_attends(g, n, &a);
}

static int tc__rescore_find(tc__rescore *r) {
    const tc__graph *g = r->w->from;
    for (uint32_t i = 0; i < g->node.count; i++) {
        tc__attended a;
        if (tc__mark_of(g->node.at[i]) > r->mark) r->mark = tc__mark_of(g->node.at[i]);
        if (!r->w->live[i] || !tc__rescore_attends(g, g->node.at[i], &a)) continue;
        if (!TC__PUSH(r->w->ctx, r->attended, a)) return 0;
        r->forward[i] = 1;
        if (!tc__rescore_mark(r, a.e, a.e, (uint32_t)r->attended.count))
            r->attended.at[r->attended.count - 1].refused = 1;
    }
    tc__rescore_spread(r);
    tc__rescore_check(r);
    return 1;
}

static int tc__pass_rescore(tc__rewrite *w) {
    tc__rescore r;
    size_t n = w->nodes ? w->nodes : 1;
    memset(&r, 0, sizeof r);
    r.w = w;
    r.scored = TC__NEW_ARRAY(w->ctx, uint8_t, n),
    r.forward = TC__NEW_ARRAY(w->ctx, uint8_t, n);
    r.of = TC__NEW_ARRAY(w->ctx, uint32_t, n);
    r.copy[0] = TC__NEW_ARRAY(w->ctx, uint32_t, n),
    r.copy[1] = TC__NEW_ARRAY(w->ctx, uint32_t, n);
    int ok = r.scored && r.forward && r.of && r.copy[0] && r.copy[1] &&
             tc__rescore_find(&r) && tc__rescore_each(&r);
    tc__free(w->ctx, r.scored, n), tc__free(w->ctx, r.forward, n);
    tc__free(w->ctx, r.of, n * sizeof *r.of);
    for (int i = 0; i < 2; i++) tc__free(w->ctx, r.copy[i], n * sizeof *r.copy[i]);
    TC__VEC_FREE(w->ctx, r.attended);
    return ok;
}
