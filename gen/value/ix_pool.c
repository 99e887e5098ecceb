// Size and index expressions: integers that may name symbols (sizes known only at run time), loop
// variables and values loaded by a kernel. Every IR uses them, a fixed size is a constant.
//
// One idea: an expression is a polynomial over atoms, kept in normal form, so equal expressions are
// the same number and comparing is `==`. An atom is a symbol, a variable, a loaded value, or
// div/mod/min/max of two expressions. A tc__ix is 2*v for the constant v, else 2*id + 1.
// Division is floor division; divisors are positive: where a size is 0, nothing that is divided by it is evaluated.
// How they are added, multiplied and divided is in ix.c.

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
// the end (kernel/walk.c).
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
