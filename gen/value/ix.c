// Size and index expressions: integers that may name symbols (sizes known only at run time), loop
// variables and values loaded by a kernel. Every IR uses them, a fixed size is a constant.
//
// One idea: an expression is a polynomial over atoms, kept in normal form, so equal expressions are
// the same number and comparing is `==`. An atom is a symbol, a variable, a loaded value, or
// div/mod/min/max of two expressions. A tc__ix is 2*v for the constant v, else 2*id + 1.
// Division is floor division; divisors are positive.
//
// What an operation gave is remembered by its operands: kernels of a model ask for the same
// ones over and over.

typedef int64_t tc__ix;

typedef enum tc__ix_kind {
    TC__IX_SYM,
    TC__IX_VAR,
    TC__IX_VAL,
    TC__IX_DIV,
    TC__IX_MOD,
    TC__IX_MIN,
    TC__IX_POLY
} tc__ix_kind;

// Loop variables of a kernel: its rows, its columns, the summed index of a contraction. While a kernel
// is built its space has one variable per dimension, TC__DIM0 + i, replaced by rows and columns at
// the end (kernel/space.c).
typedef enum tc__axis {
    TC__ROW,
    TC__COL,
    TC__DEPTH,
    TC__AXES,
    TC__DIM0 = TC__AXES,
    TC__VAR0 =
        TC__DIM0 + 2 * TC_MAX_RANK, // loops of a device's list have variables of their own
    TC__VAR_END = 31
} tc__axis;

enum { TC__IX_FACTOR = 1 << 30 }; // largest divisors that are multiplied
enum { TC__IX_ATOMS = 4 };        // atoms in one product; more is TC_E_TOO_BIG

typedef struct tc__ixterm {
    int64_t coef;
    tc__ix atom[TC__IX_ATOMS]; // sorted, unused = 0
} tc__ixterm;

typedef struct tc__ixnode {
    tc__ix_kind kind;
    tc__ix a, b;    // DIV MOD MIN MAX: operands; SYM VAR VAL: a = slot, axis or node id
    int64_t lo, hi; // bounds, inclusive
    int64_t base;   // POLY: the constant
    uint32_t first, count; // POLY: terms
    uint32_t names;        // bit i: the variable of axis i is in it; TC__IX_NAMES_VAL
} tc__ixnode;

#define TC__IX_NAMES_VAL ((uint32_t)1 << 31) // a loaded value is

typedef struct tc__ixpool {
    tc_ctx *ctx;
    TC__VEC(tc__ixnode) node;
    TC__VEC(tc__ixterm) term;
    tc__map ids;             // hash of a node -> id of the newest with that hash
    struct tc__ixmade *made; // what operations gave, owned; NULL = nothing yet
    int failed; // out of memory or a product of too many atoms: results are garbage, not unsafe
} tc__ixpool;

#define TC__IX_INF (INT64_MAX / 4)
enum { TC__IX_TERMS = 48 }; // terms of one polynomial while it is built

typedef struct tc__ixsum {
    int64_t base;
    int count, overflow;
    tc__ixterm term[TC__IX_TERMS];
} tc__ixsum;

static tc__ix tc__ix_const(int64_t v) { return (tc__ix)((uint64_t)v << 1); }
static int tc__ix_is_const(tc__ix e) { return !(e & 1); }
static int64_t tc__ix_value(tc__ix e) { return e >> 1; }
static int tc__ix_equals(tc__ix e, int64_t v) { return e == tc__ix_const(v); }
static tc__ixnode *tc__ix_node(const tc__ixpool *p, tc__ix e) {
    return &p->node.at[e >> 1];
}

static void tc__ix_open(tc__ixpool *p, tc_ctx *c) {
    memset(p, 0, sizeof *p);
    p->ctx = c;
    tc__map_init(&p->ids, c);
}

// An operation and what it gave. Expressions never change, so neither does that; and kernels ask for
// the same ones over and over: of a model with equal layers, nine times in ten.
typedef enum tc__ixop {
    TC__IX_NO_OP,
    TC__IX_ADD,
    TC__IX_SUB,
    TC__IX_MUL,
    TC__IX_QUOTIENT,
    TC__IX_REST
} tc__ixop;

typedef struct tc__ixmade {
    tc__ixop op;
    tc__ix a, b, result;
} tc__ixmade;

enum {
    TC__IX_MADE = 256
}; // operations that a pool remembers, a later one in place of an earlier

// Forgets them: a pool that nothing is made in any more is small again.
static void tc__ix_forget(tc__ixpool *p) {
    if (p->made) tc__free(p->ctx, p->made, TC__IX_MADE * sizeof *p->made);
    p->made = NULL;
}

static void tc__ix_close(tc__ixpool *p) {
    tc__ix_forget(p);
    TC__VEC_FREE(p->ctx, p->node);
    TC__VEC_FREE(p->ctx, p->term);
    tc__map_free(&p->ids);
}

static int64_t tc__ix_clamp(int64_t v) {
    return v > TC__IX_INF ? TC__IX_INF : v < -TC__IX_INF ? -TC__IX_INF : v;
}

// Product of two bounds, saturating.
static int64_t tc__ix_times(int64_t a, int64_t b) {
    if (a == 0 || b == 0) return 0;
    int negative = (a < 0) != (b < 0);
    uint64_t x = a < 0 ? (uint64_t)-a : (uint64_t)a, y = b < 0 ? (uint64_t)-b : (uint64_t)b;
    if (x > (uint64_t)TC__IX_INF / y) return negative ? -TC__IX_INF : TC__IX_INF;
    int64_t v = (int64_t)(x * y);
    return negative ? -v : v;
}

static int64_t tc__ix_lo(const tc__ixpool *p, tc__ix e) {
    return tc__ix_is_const(e) ? tc__ix_value(e) : tc__ix_node(p, e)->lo;
}

static int64_t tc__ix_hi(const tc__ixpool *p, tc__ix e) {
    return tc__ix_is_const(e) ? tc__ix_value(e) : tc__ix_node(p, e)->hi;
}

static int64_t tc__ix_floor_div(int64_t a, int64_t b) {
    int64_t q = a / b;
    return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}

// ---- interning ----

static int tc__ix_same(const tc__ixpool *p, const tc__ixnode *x, const tc__ixnode *y,
                       const tc__ixterm *terms) {
    if (x->kind != y->kind || x->a != y->a || x->b != y->b) return 0;
    // Paths number their symbols alike: the bounds are a part of the name.
    if (x->kind == TC__IX_SYM) return x->lo == y->lo && x->hi == y->hi;
    if (x->kind != TC__IX_POLY) return 1;
    if (x->base != y->base || x->count != y->count) return 0;
    return !memcmp(&p->term.at[x->first], terms, x->count * sizeof *terms);
}

static uint32_t tc__ix_names_of(const tc__ixpool *p, tc__ix e) {
    return tc__ix_is_const(e) ? 0 : tc__ix_node(p, e)->names;
}

// What n names; sizes of variables, and what a loaded value was loaded from, do not count.
static uint32_t tc__ix_names_in(const tc__ixpool *p, const tc__ixnode *n,
                                const tc__ixterm *terms) {
    uint32_t names = 0;
    if (n->kind == TC__IX_SYM) return 0;
    if (n->kind == TC__IX_VAR) return (uint32_t)1 << n->a;
    if (n->kind == TC__IX_VAL) return TC__IX_NAMES_VAL;
    if (n->kind != TC__IX_POLY) return tc__ix_names_of(p, n->a) | tc__ix_names_of(p, n->b);
    for (uint32_t i = 0; i < n->count; i++)
        for (int k = 0; k < TC__IX_ATOMS && terms[i].atom[k]; k++)
            names |= tc__ix_names_of(p, terms[i].atom[k]);
    return names;
}

// The id of `n` (with `terms` if POLY), made if new.
static tc__ix tc__ix_intern(tc__ixpool *p, tc__ixnode n, const tc__ixterm *terms) {
    uint64_t h = tc__hash_mix(tc__hash_mix((uint64_t)n.kind, (uint64_t)n.a), (uint64_t)n.b),
             id;
    if (n.kind == TC__IX_POLY)
        h = tc__hash64(terms, n.count * sizeof *terms, tc__hash_mix(h, (uint64_t)n.base));
    for (; tc__map_get(&p->ids, h, &id); h = tc__hash_mix(h, 1))
        if (tc__ix_same(p, &p->node.at[id], &n, terms)) return (tc__ix)(id * 2 + 1);
    n.first = (uint32_t)p->term.count, n.names = tc__ix_names_in(p, &n, terms);
    for (uint32_t i = 0; i < n.count; i++)
        if (!TC__PUSH(p->ctx, p->term, terms[i])) p->failed = 1;
    id = p->node.count;
    if (p->failed || !TC__PUSH(p->ctx, p->node, n) || !tc__map_set(&p->ids, h, id)) {
        p->failed = 1;
        return 0;
    }
    return (tc__ix)(id * 2 + 1);
}

static tc__ix tc__ix_leaf(tc__ixpool *p, tc__ix_kind kind, int64_t slot, int64_t lo,
                          int64_t hi) {
    tc__ixnode n;
    memset(&n, 0, sizeof n);
    n.kind = kind, n.a = slot, n.lo = lo, n.hi = hi;
    return tc__ix_intern(p, n, NULL);
}

// A size known at run time: argument `slot` of the program, within [lo, hi].
static tc__ix tc__ix_sym(tc__ixpool *p, int64_t slot, int64_t lo, int64_t hi) {
    return tc__ix_leaf(p, TC__IX_SYM, slot, lo, hi);
}

// The loop variable of an axis of a kernel; b is its extent, so it runs over [0, extent).
static tc__ix tc__ix_var(tc__ixpool *p, int axis, tc__ix extent) {
    tc__ixnode n;
    memset(&n, 0, sizeof n);
    int64_t hi = tc__ix_hi(p, extent) - 1;
    n.kind = TC__IX_VAR, n.a = axis, n.b = extent, n.hi = hi < 0 ? 0 : hi;
    return tc__ix_intern(p, n, NULL);
}

// The value of kernel node `id` as an index, known to be within [0, limit).
// The bound is a part of its name: kernels number their nodes alike.
static tc__ix tc__ix_val(tc__ixpool *p, uint32_t id, tc__ix limit) {
    tc__ixnode n;
    memset(&n, 0, sizeof n);
    int64_t hi = tc__ix_hi(p, limit) - 1;
    n.kind = TC__IX_VAL, n.a = (int64_t)id, n.b = n.hi = hi < 0 ? 0 : hi;
    return tc__ix_intern(p, n, NULL);
}

// ---- sums ----

static int tc__ix_term_order(const tc__ixterm *x, const tc__ixterm *y) {
    return memcmp(x->atom, y->atom, sizeof x->atom);
}

static void tc__ix_sum_term(tc__ixsum *s, const tc__ixterm *t, int64_t scale) {
    int i = 0;
    while (i < s->count && tc__ix_term_order(&s->term[i], t) < 0) i++;
    if (i < s->count && !tc__ix_term_order(&s->term[i], t)) {
        s->term[i].coef += t->coef * scale;
        if (s->term[i].coef) return;
        memmove(&s->term[i], &s->term[i + 1], (size_t)(--s->count - i) * sizeof *t);
        return;
    }
    if (s->count == TC__IX_TERMS) {
        s->overflow = 1;
        return;
    }
    memmove(&s->term[i + 1], &s->term[i], (size_t)(s->count++ - i) * sizeof *t);
    s->term[i] = *t;
    s->term[i].coef *= scale;
}

static void tc__ix_sum_add(const tc__ixpool *p, tc__ixsum *s, tc__ix e, int64_t scale) {
    if (!scale) return;
    if (tc__ix_is_const(e)) {
        s->base += tc__ix_value(e) * scale;
        return;
    }
    const tc__ixnode *n = tc__ix_node(p, e);
    if (n->kind != TC__IX_POLY) {
        tc__ixterm t;
        memset(&t, 0, sizeof t);
        t.coef = 1, t.atom[0] = e;
        tc__ix_sum_term(s, &t, scale);
        return;
    }
    s->base += n->base * scale;
    for (uint32_t i = 0; i < n->count; i++)
        tc__ix_sum_term(s, &p->term.at[n->first + i], scale);
}

static void tc__ix_term_bounds(const tc__ixpool *p, const tc__ixterm *t, int64_t *lo,
                               int64_t *hi) {
    int64_t l = 1, h = 1;
    for (int i = 0; i < TC__IX_ATOMS && t->atom[i]; i++) {
        int64_t x = tc__ix_lo(p, t->atom[i]), y = tc__ix_hi(p, t->atom[i]);
        int64_t q[4];
        q[0] = tc__ix_times(l, x), q[1] = tc__ix_times(l, y);
        q[2] = tc__ix_times(h, x), q[3] = tc__ix_times(h, y);
        l = h = q[0];
        for (int k = 1; k < 4; k++) l = q[k] < l ? q[k] : l, h = q[k] > h ? q[k] : h;
    }
    l = tc__ix_times(l, t->coef), h = tc__ix_times(h, t->coef);
    *lo = l < h ? l : h;
    *hi = l < h ? h : l;
}

static tc__ix tc__ix_mod(tc__ixpool *p, tc__ix a, tc__ix d);

// d * (x / d) + x % d = x   for term q = d * (x / d) and m = x % d, both times a number
static int tc__ix_is_quotient(const tc__ixpool *p, const tc__ixterm *q, const tc__ixterm *m,
                              const tc__ixnode *mod) {
    int constant = tc__ix_is_const(mod->b), at = 0;
    if (q->coef != m->coef * (constant ? tc__ix_value(mod->b) : 1)) return 0;
    if (constant != !q->atom[1] || q->atom[2]) return 0;
    if (!constant && q->atom[0] != mod->b && q->atom[1] != mod->b) return 0;
    if (!constant) at = q->atom[0] == mod->b;
    const tc__ixnode *div = tc__ix_node(p, q->atom[at]);
    return div->kind == TC__IX_DIV && div->a == mod->a && div->b == mod->b;
}

// a * ((x / a) % b) + x % a = x % (a b)   for constants; the result is a b, 0 = not so
static int64_t tc__ix_is_digit(const tc__ixpool *p, const tc__ixterm *q,
                               const tc__ixterm *m, const tc__ixnode *mod) {
    const tc__ixnode *n = tc__ix_node(p, q->atom[0]);
    if (n->kind != TC__IX_MOD || q->atom[1] || !tc__ix_is_const(mod->b)) return 0;
    int64_t a = tc__ix_value(mod->b), b = tc__ix_is_const(n->b) ? tc__ix_value(n->b) : 0;
    if (b < 1 || q->coef != m->coef * a || tc__ix_is_const(n->a)) return 0;
    const tc__ixnode *div = tc__ix_node(p, n->a);
    if (div->kind != TC__IX_DIV || div->a != mod->a || div->b != mod->b) return 0;
    return a > TC__IX_FACTOR || b > TC__IX_FACTOR ? 0 : a * b;
}

// Joins two terms of a sum that are parts of one number; 0 = there are none.
static int tc__ix_recombine(tc__ixpool *p, tc__ixsum *s) {
    for (int i = 0; i < s->count; i++) {
        tc__ixterm m = s->term[i];
        if (m.atom[1] || tc__ix_node(p, m.atom[0])->kind != TC__IX_MOD) continue;
        tc__ixnode mod = *tc__ix_node(p, m.atom[0]);
        for (int j = 0; j < s->count; j++) {
            tc__ixterm q = s->term[j];
            int whole = tc__ix_is_quotient(p, &q, &m, &mod);
            int64_t period = whole ? 0 : tc__ix_is_digit(p, &q, &m, &mod);
            if (!whole && !period) continue;
            tc__ix x = whole ? mod.a : tc__ix_mod(p, mod.a, tc__ix_const(period));
            tc__ix_sum_term(s, &q, -1);
            tc__ix_sum_term(s, &m, -1);
            tc__ix_sum_add(p, s, x, m.coef);
            return 1;
        }
    }
    return 0;
}

static tc__ix tc__ix_sum_end(tc__ixpool *p, tc__ixsum *s) {
    while (tc__ix_recombine(p, s)) {
    }
    if (s->overflow) p->failed = 1;
    if (!s->count) return tc__ix_const(s->base);
    if (s->count == 1 && !s->base && s->term[0].coef == 1 && !s->term[0].atom[1])
        return s->term[0].atom[0];
    tc__ixnode n;
    memset(&n, 0, sizeof n);
    n.kind = TC__IX_POLY, n.base = s->base, n.count = (uint32_t)s->count;
    n.lo = n.hi = s->base;
    for (int i = 0; i < s->count; i++) {
        int64_t lo, hi;
        tc__ix_term_bounds(p, &s->term[i], &lo, &hi);
        n.lo = tc__ix_clamp(n.lo + lo), n.hi = tc__ix_clamp(n.hi + hi);
    }
    return tc__ix_intern(p, n, s->term);
}

static tc__ix tc__ix_mad(tc__ixpool *p, tc__ix a, tc__ix b, int64_t scale) {
    tc__ixsum s;
    s.base = 0, s.count = 0, s.overflow = 0;
    tc__ix_sum_add(p, &s, a, 1);
    tc__ix_sum_add(p, &s, b, scale);
    return tc__ix_sum_end(p, &s);
}

// a op b as the pool remembers it, else made.
static tc__ix tc__ix_of(tc__ixpool *p, tc__ixop op, tc__ix a, tc__ix b);

static tc__ix tc__ix_add(tc__ixpool *p, tc__ix a, tc__ix b) {
    if (tc__ix_is_const(a) && tc__ix_is_const(b)) return a + b;
    if (tc__ix_equals(a, 0)) return b;
    return tc__ix_equals(b, 0) ? a : tc__ix_of(p, TC__IX_ADD, a, b);
}

static tc__ix tc__ix_sub(tc__ixpool *p, tc__ix a, tc__ix b) {
    if (tc__ix_is_const(a) && tc__ix_is_const(b)) return a - b;
    return tc__ix_equals(b, 0) ? a : tc__ix_of(p, TC__IX_SUB, a, b);
}

// ---- products ----

static int tc__ix_merge_atoms(tc__ixterm *out, const tc__ixterm *x, const tc__ixterm *y) {
    int i = 0, j = 0;
    memset(out, 0, sizeof *out);
    out->coef = x->coef * y->coef;
    for (int k = 0; k < 2 * TC__IX_ATOMS; k++) {
        tc__ix u = i < TC__IX_ATOMS ? x->atom[i] : 0, v = j < TC__IX_ATOMS ? y->atom[j] : 0;
        if (!u && !v) return 1;
        if (k >= TC__IX_ATOMS) return 0;
        int left = u && (!v || u <= v);
        out->atom[k] = left ? u : v;
        i += left, j += !left;
    }
    return 1;
}

static tc__ix tc__ix_mul(tc__ixpool *p, tc__ix a, tc__ix b) {
    if (tc__ix_is_const(a) && tc__ix_is_const(b))
        return tc__ix_const(tc__ix_value(a) * tc__ix_value(b));
    if (tc__ix_equals(a, 1)) return b;
    return tc__ix_equals(b, 1) ? a : tc__ix_of(p, TC__IX_MUL, a, b);
}

static tc__ix tc__ix_product(tc__ixpool *p, tc__ix a, tc__ix b) {
    if (tc__ix_is_const(a)) return tc__ix_mad(p, tc__ix_const(0), b, tc__ix_value(a));
    if (tc__ix_is_const(b)) return tc__ix_mad(p, tc__ix_const(0), a, tc__ix_value(b));
    tc__ixsum x, y, s;
    x.base = y.base = s.base = 0, x.count = y.count = s.count = 0;
    x.overflow = y.overflow = s.overflow = 0;
    tc__ix_sum_add(p, &x, a, 1);
    tc__ix_sum_add(p, &y, b, 1);
    s.base = x.base * y.base;
    for (int i = 0; i < x.count; i++) tc__ix_sum_term(&s, &x.term[i], y.base ? y.base : 0);
    for (int i = 0; i < y.count; i++) tc__ix_sum_term(&s, &y.term[i], x.base ? x.base : 0);
    int kept = 0;
    for (int i = 0; i < s.count; i++)
        if (s.term[i].coef) s.term[kept++] = s.term[i];
    s.count = kept;
    for (int i = 0; i < x.count; i++) {
        for (int j = 0; j < y.count; j++) {
            tc__ixterm t;
            if (!tc__ix_merge_atoms(&t, &x.term[i], &y.term[j])) p->failed = 1;
            tc__ix_sum_term(&s, &t, 1);
        }
    }
    return tc__ix_sum_end(p, &s);
}

// ---- quotients ----

static int tc__ix_term_divides(const tc__ixterm *t, tc__ix d, tc__ixterm *q) {
    *q = *t;
    if (tc__ix_is_const(d)) {
        q->coef = t->coef / tc__ix_value(d);
        return t->coef % tc__ix_value(d) == 0;
    }
    for (int i = 0; i < TC__IX_ATOMS; i++) {
        if (t->atom[i] != d) continue;
        memmove(&q->atom[i], &q->atom[i + 1], (size_t)(TC__IX_ATOMS - 1 - i) * sizeof d);
        q->atom[TC__IX_ATOMS - 1] = 0;
        return 1;
    }
    return 0;
}

// Largest value of e as an expression: each variable at its extent - 1. 0 = cannot tell.
static int tc__ix_max_expr(tc__ixpool *p, tc__ix e, tc__ix *out) {
    tc__ix sum = tc__ix_const(0);
    tc__ixsum s;
    s.base = 0, s.count = 0, s.overflow = 0;
    tc__ix_sum_add(p, &s, e, 1);
    for (int i = 0; i < s.count; i++) {
        if (s.term[i].coef < 0) return 0;
        tc__ix prod = tc__ix_const(s.term[i].coef);
        for (int k = 0; k < TC__IX_ATOMS && s.term[i].atom[k]; k++) {
            tc__ix atom = s.term[i].atom[k];
            const tc__ixnode *n = tc__ix_node(p, atom);
            if (n->lo < 0) return 0;
            if (n->kind == TC__IX_VAR || n->kind == TC__IX_MOD)
                atom = tc__ix_sub(p, n->b, tc__ix_const(1));
            prod = tc__ix_mul(p, prod, atom);
        }
        sum = tc__ix_add(p, sum, prod);
    }
    *out = tc__ix_add(p, sum, tc__ix_const(s.base));
    return 1;
}

// 0 <= e < d for every value of the variables.
static int tc__ix_within(tc__ixpool *p, tc__ix e, tc__ix d) {
    if (tc__ix_lo(p, e) < 0) return 0;
    if (tc__ix_hi(p, e) < tc__ix_lo(p, d)) return 1;
    tc__ix top;
    if (tc__ix_is_const(d) || !tc__ix_max_expr(p, e, &top)) return 0;
    return tc__ix_lo(p, tc__ix_sub(p, d, top)) >= 1;
}

static tc__ix tc__ix_quotient_atom(tc__ixpool *p, tc__ix_kind kind, tc__ix a, tc__ix d) {
    tc__ixnode n;
    memset(&n, 0, sizeof n);
    n.kind = kind, n.a = a, n.b = d;
    int64_t lo = tc__ix_lo(p, a), hi = tc__ix_hi(p, a), dl = tc__ix_lo(p, d);
    if (dl < 1) dl = 1;
    if (kind == TC__IX_DIV) {
        n.lo = lo >= 0 ? lo / (tc__ix_hi(p, d) > 0 ? tc__ix_hi(p, d) : 1)
                       : tc__ix_floor_div(lo, dl);
        n.hi = tc__ix_floor_div(hi,
                                hi >= 0 ? dl : (tc__ix_hi(p, d) > 0 ? tc__ix_hi(p, d) : 1));
    } else {
        n.lo = 0;
        n.hi = tc__ix_hi(p, d) - 1;
        if (lo >= 0 && hi < n.hi) n.hi = hi;
    }
    return tc__ix_intern(p, n, NULL);
}

// a = quotient * d + rest, where every term of the quotient is exact.
static void tc__ix_split(tc__ixpool *p, tc__ix a, tc__ix d, tc__ix *quotient,
                         tc__ix *rest) {
    tc__ixsum s, q, r;
    s.base = q.base = r.base = 0, s.count = q.count = r.count = 0;
    s.overflow = q.overflow = r.overflow = 0;
    tc__ix_sum_add(p, &s, a, 1);
    for (int i = 0; i < s.count; i++) {
        tc__ixterm t;
        if (tc__ix_term_divides(&s.term[i], d, &t)) {
            int bare = !t.atom[0];
            if (bare) q.base += t.coef;
            if (!bare) tc__ix_sum_term(&q, &t, 1);
            continue;
        }
        tc__ix_sum_term(&r, &s.term[i], 1);
    }
    r.base = s.base;
    if (tc__ix_is_const(d)) {
        int64_t k = tc__ix_floor_div(s.base, tc__ix_value(d));
        q.base += k;
        r.base -= k * tc__ix_value(d);
    }
    *quotient = tc__ix_sum_end(p, &q);
    *rest = tc__ix_sum_end(p, &r);
}

static tc__ix tc__ix_div(tc__ixpool *p, tc__ix a, tc__ix d);

// The divisor of x / d or x % d where it and `by` are small constants, else 0.
static int64_t tc__ix_divisor_of(const tc__ixpool *p, tc__ix e, tc__ix_kind kind,
                                 tc__ix by) {
    if (tc__ix_is_const(e) || tc__ix_node(p, e)->kind != kind) return 0;
    tc__ix d = tc__ix_node(p, e)->b;
    if (!tc__ix_is_const(d) || !tc__ix_is_const(by)) return 0;
    if (tc__ix_value(by) < 1 || tc__ix_value(by) > TC__IX_FACTOR) return 0;
    return tc__ix_value(d) > TC__IX_FACTOR ? 0 : tc__ix_value(d);
}

// (x / m) / d = x / (m d)
// (x % m) / d = (x / d) % (m / d)   where d divides m
static tc__ix tc__ix_div_atom(tc__ixpool *p, tc__ix a, tc__ix d) {
    int64_t m = tc__ix_divisor_of(p, a, TC__IX_DIV, d);
    if (m > 0)
        return tc__ix_div(p, tc__ix_node(p, a)->a, tc__ix_const(m * tc__ix_value(d)));
    m = tc__ix_divisor_of(p, a, TC__IX_MOD, d);
    if (m > 0 && m % tc__ix_value(d) == 0)
        return tc__ix_mod(p, tc__ix_div(p, tc__ix_node(p, a)->a, d),
                          tc__ix_const(m / tc__ix_value(d)));
    return tc__ix_quotient_atom(p, TC__IX_DIV, a, d);
}

// (x % m) % d = x % d   where d divides m
static tc__ix tc__ix_mod_atom(tc__ixpool *p, tc__ix a, tc__ix d) {
    int64_t m = tc__ix_divisor_of(p, a, TC__IX_MOD, d);
    if (m > 0 && m % tc__ix_value(d) == 0) return tc__ix_mod(p, tc__ix_node(p, a)->a, d);
    return tc__ix_quotient_atom(p, TC__IX_MOD, a, d);
}

static tc__ix tc__ix_div(tc__ixpool *p, tc__ix a, tc__ix d) {
    if (tc__ix_equals(d, 1)) return a;
    if (tc__ix_equals(d, 0)) return tc__ix_const(0); // an empty dimension: never evaluated
    if (tc__ix_is_const(a) && tc__ix_is_const(d))
        return tc__ix_const(tc__ix_floor_div(tc__ix_value(a), tc__ix_value(d)));
    return tc__ix_of(p, TC__IX_QUOTIENT, a, d);
}

static tc__ix tc__ix_mod(tc__ixpool *p, tc__ix a, tc__ix d) {
    if (tc__ix_equals(d, 1) || tc__ix_equals(d, 0)) return tc__ix_const(0);
    return tc__ix_of(p, TC__IX_REST, a, d);
}

static tc__ix tc__ix_quotient(tc__ixpool *p, tc__ix a, tc__ix d) {
    tc__ix q, r;
    tc__ix_split(p, a, d, &q, &r);
    if (tc__ix_within(p, r, d)) return q;
    return tc__ix_add(p, q, tc__ix_div_atom(p, r, d));
}

static tc__ix tc__ix_rest(tc__ixpool *p, tc__ix a, tc__ix d) {
    tc__ix q, r;
    tc__ix_split(p, a, d, &q, &r);
    if (tc__ix_within(p, r, d)) return r;
    return tc__ix_mod_atom(p, r, d);
}

static tc__ix tc__ix_make(tc__ixpool *p, tc__ixop op, tc__ix a, tc__ix b) {
    switch (op) {
    case TC__IX_ADD: return tc__ix_mad(p, a, b, 1);
    case TC__IX_SUB: return tc__ix_mad(p, a, b, -1);
    case TC__IX_MUL: return tc__ix_product(p, a, b);
    case TC__IX_QUOTIENT: return tc__ix_quotient(p, a, b);
    case TC__IX_REST: return tc__ix_rest(p, a, b);
    case TC__IX_NO_OP: break;
    }
    return 0;
}

static tc__ix tc__ix_of(tc__ixpool *p, tc__ixop op, tc__ix a, tc__ix b) {
    uint64_t h = tc__hash_mix(tc__hash_mix((uint64_t)op, (uint64_t)a), (uint64_t)b);
    if (!p->made) p->made = TC__NEW_ARRAY(p->ctx, tc__ixmade, TC__IX_MADE);
    if (!p->made) return tc__ix_make(p, op, a, b);
    tc__ixmade *m = &p->made[h % TC__IX_MADE];
    if (m->op == op && m->a == a && m->b == b) return m->result;
    tc__ix e = tc__ix_make(p, op, a, b);
    m->op = op, m->a = a, m->b = b, m->result = e;
    return e;
}

static tc__ix tc__ix_min(tc__ixpool *p, tc__ix a, tc__ix b) {
    if (tc__ix_hi(p, a) <= tc__ix_lo(p, b)) return a;
    if (tc__ix_hi(p, b) <= tc__ix_lo(p, a)) return b;
    tc__ixnode n;
    memset(&n, 0, sizeof n);
    n.kind = TC__IX_MIN, n.a = a < b ? a : b, n.b = a < b ? b : a;
    n.lo = tc__ix_lo(p, a) < tc__ix_lo(p, b) ? tc__ix_lo(p, a) : tc__ix_lo(p, b);
    n.hi = tc__ix_hi(p, a) < tc__ix_hi(p, b) ? tc__ix_hi(p, a) : tc__ix_hi(p, b);
    return tc__ix_intern(p, n, NULL);
}

// ceil(a / d)
static tc__ix tc__ix_ceil_div(tc__ixpool *p, tc__ix a, tc__ix d) {
    return tc__ix_div(p, tc__ix_sub(p, tc__ix_add(p, a, d), tc__ix_const(1)), d);
}
