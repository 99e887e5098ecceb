// What the rules of dtypes and shapes work on, decisions about sizes, and the rules of dtypes, which the DTYPE column of
// ops.def names; those of shapes are in shape.c.
// Input: the operands' metas and the call's attribute words; output: the meta of the result.
// Sizes are expressions, so one rule serves recording (constants) and symbolic graphs.
// A rule that fails has reported an error that names the op, the values and the fix.
//
// Sizes are compared by tc__know, never by ==: what the expressions cannot tell is told
// from the sizes of the visit, and becomes a condition of the step. `a == b` is solved for
// a symbol, which in the program's graph *is* the other side, so nothing behind recording
// knows of conditions; what cannot be solved fixes the sizes to those of the visit. Sizes
// that an attribute may bring at run time are listed in tc__slot_of. That is all there is
// to adding a shape rule.

// What is known of a tensor without its data.
typedef struct tc__meta {
    uint8_t dtype, rank;
    tc__ix dims[TC_MAX_RANK];
} tc__meta;

// The layout of an external, whose sizes may be symbols; so then are the strides.
typedef struct tc__shape {
    uint8_t dtype, rank, contiguous, device;
    tc__ix dims[TC_MAX_RANK], strides[TC_MAX_RANK];
} tc__shape;

// What a shape rule had to assume of sizes that are known at run time only.
typedef enum tc__relation_kind {
    TC__EQUAL,    // a == b
    TC__DIFFER,   // a != b
    TC__NOT_LESS, // a >= b
    TC__MULTIPLE  // a % b == 0
} tc__relation_kind;

typedef struct tc__relation {
    tc__relation_kind kind;
    tc__ix a, b;
} tc__relation;

enum { TC__MAX_RELATIONS = 32 };

typedef struct tc__infer {
    tc_ctx *ctx;
    tc__ixpool *ix;
    tc__op op;
    uint32_t n_in, n_attr;
    const tc__meta *const *in;
    const int64_t *attr;
    const int64_t *size; // by symbol: its value in this run; NULL = unknown
    tc__ix *equal; // by symbol: what it has to be equal to, itself at first; in and out
    uint32_t symbols;
    tc__meta out;
    int exact;                            // `out` is for the sizes of this run alone
    tc__relation need[TC__MAX_RELATIONS]; // what must hold for `out` to be right
    uint32_t needs;
} tc__infer;

typedef enum tc__kind {
    TC__KIND_UNARY,
    TC__KIND_BINARY,
    TC__KIND_TERNARY,
    TC__KIND_CAST,
    TC__KIND_LAYOUT,
    TC__KIND_SOURCE,
    TC__KIND_MOVE,
    TC__KIND_JOIN,
    TC__KIND_GATHER,
    TC__KIND_REDUCE,
    TC__KIND_CONTRACT,
    TC__KIND_OPAQUE,
    TC__KIND_KERNEL,
    TC__KIND_EFFECT,
    TC__KIND_DERIVE,   // of steps: the builder makes nodes of it
    TC__KIND_LOOP,     // of steps, and of nodes up to pass/loops.c
    TC__KIND_COMPOSITE // of steps and about nodes (tables/composites.def), of no node
} tc__kind;

// Algebra flags.
enum { TC__AL_IDEM = 1, TC__AL_INVOL = 2 };

typedef struct tc__op_info {
    tc__kind kind;
    int arity; // -1: any number
    uint32_t cost;
    int (*dtype)(tc__infer *q);
    int (*shape)(tc__infer *q);
    uint32_t flags;  // TC__AL_
    tc__op monoid;   // REDUCE: the op that combines two elements, else TC_OP_COUNT
    uint32_t sizes;  // a bit per word that is an index expression, the last for all behind,
    uint32_t values; //   and per word that is a number
    const char *attr, *expr;
} tc__op_info;

typedef struct tc__whole_info {
    struct {
        uint8_t rank, at_least, may_miss; // that rank, or at least; whether it may be null
    } in[TC__WHOLE_OPERANDS];
    uint8_t n_in;
} tc__whole_info;

#include "out/op_names.inc"

// The row's ID in lower case: "add", "input", "copy_".
static const char *tc__op_name(tc__op op) { return tc__op_names[op]; }

// The user's word for an op that is being made: the call that makes it of several, or its own.
static const char *tc__called(tc_ctx *c, tc__op op) {
    const char *doing = c ? tc__core_of(c)->doing : NULL;
    return doing ? doing : tc__op_name(op);
}

// "[32, 48]" into out.
static const char *tc__dims_text(const tc__meta *m, char out[160]) {
    size_t n = 0;
    n += (size_t)snprintf(out, 160, "[");
    for (int i = 0; i < m->rank; i++) {
        const char *comma = i ? ", " : "";
        if (tc__ix_is_const(m->dims[i]))
            n += (size_t)snprintf(out + n, 160 - n, "%s%lld", comma,
                                  (long long)tc__ix_value(m->dims[i]));
        else
            n += (size_t)snprintf(out + n, 160 - n, "%ss", comma);
        if (n > 130) break;
    }
    snprintf(out + n, 160 - n, "]");
    return out;
}

// Whether two are of the same dtype and sizes.
static int tc__meta_alike(const tc__meta *a, const tc__meta *b) {
    return a->dtype == b->dtype && a->rank == b->rank &&
           !memcmp(a->dims, b->dims, (size_t)a->rank * sizeof *a->dims);
}

// ---- decisions about sizes ----
// A rule that needs to know how two sizes relate asks tc__know. What cannot be told from the
// expressions is told from the sizes of this run, and noted in `need`.

static int tc__relation_holds(tc__relation_kind kind, int64_t a, int64_t b) {
    switch (kind) {
    case TC__EQUAL: return a == b;
    case TC__DIFFER: return a != b;
    case TC__NOT_LESS: return a >= b;
    case TC__MULTIPLE: return b > 0 && a % b == 0;
    }
    return 0;
}

// 1 = always, 0 = never, -1 = it depends.
static int tc__relation_known(tc__ixpool *p, tc__relation_kind kind, tc__ix a, tc__ix b) {
    if (tc__ix_is_const(a) && tc__ix_is_const(b))
        return tc__relation_holds(kind, tc__ix_value(a), tc__ix_value(b));
    tc__ix d = tc__ix_sub(p, a, b);
    int64_t lo = tc__ix_lo(p, d), hi = tc__ix_hi(p, d);
    int apart = lo > 0 || hi < 0;
    switch (kind) {
    case TC__EQUAL: return a == b ? 1 : apart ? 0 : -1;
    case TC__DIFFER: return a == b ? 0 : apart ? 1 : -1;
    case TC__NOT_LESS: return lo >= 0 ? 1 : hi < 0 ? 0 : -1;
    case TC__MULTIPLE: return a == b || tc__ix_equals(tc__ix_mod(p, a, b), 0) ? 1 : -1;
    }
    return -1;
}

static int tc__need(tc__infer *q, tc__relation_kind kind, tc__ix a, tc__ix b) {
    tc__relation r;
    r.kind = kind, r.a = a, r.b = b;
    for (uint32_t i = 0; i < q->needs; i++)
        if (q->need[i].kind == kind && q->need[i].a == a && q->need[i].b == b) return 1;
    if (q->needs == TC__MAX_RELATIONS)
        return tc__fail(q->ctx, TC_E_TOO_BIG, "%s: more than %d relations of sizes",
                        tc__called(q->ctx, q->op), TC__MAX_RELATIONS);
    q->need[q->needs++] = r;
    return 1;
}

// From now on `sym` is `to`, wherever symbols are looked up in `equal`.
static void tc__equate(tc__ixpool *p, tc__ix *equal, uint32_t n, tc__ix sym, tc__ix to) {
    for (uint32_t i = 0; i < n; i++) equal[i] = tc__ix_subst(p, equal[i], sym, to);
}

// Notes a == b. If it cannot be solved for a symbol, each symbol is what it is in this run.
static int tc__need_equal(tc__infer *q, tc__ix a, tc__ix b) {
    tc__ixsyms s;
    tc__ix sym, to;
    if (tc__ix_solve(q->ix, a, b, &sym, &to)) {
        tc__equate(q->ix, q->equal, q->symbols, sym, to);
        return tc__need(q, TC__EQUAL, sym, to);
    }
    tc__ix_syms(q->ix, a, &s, 1);
    tc__ix_syms(q->ix, b, &s, 0);
    for (uint32_t i = 0; i < s.count; i++) {
        to = tc__ix_const(q->size[tc__ix_node(q->ix, s.at[i])->a]);
        tc__equate(q->ix, q->equal, q->symbols, s.at[i], to);
        if (!tc__need(q, TC__EQUAL, s.at[i], to)) return 0;
    }
    return !s.lost;
}

// Whether the relation holds, from now on for good.
static int tc__know(tc__infer *q, tc__relation_kind kind, tc__ix a, tc__ix b) {
    tc__ixenv env;
    if (q->equal) {
        a = tc__ix_copy(q->ix, q->ix, a, q->equal);
        b = tc__ix_copy(q->ix, q->ix, b, q->equal);
    }
    int known = tc__relation_known(q->ix, kind, a, b);
    if (known >= 0) return known;
    if (!q->size) return kind != TC__EQUAL; // a graph whose path has seen to it
    memset(&env, 0, sizeof env);
    env.sym = q->size;
    int64_t x = tc__ix_eval(q->ix, a, &env), y = tc__ix_eval(q->ix, b, &env);
    if (!tc__relation_holds(kind, x, y)) return 0;
    return kind == TC__EQUAL ? tc__need_equal(q, a, b) : tc__need(q, kind, a, b);
}

// ---- dtype rules ----

// f8 is for storage: it is moved, compared and selected, and what computes wants a cast. There is no dtype that another one
// has in common with it. Operands from `first` on; 0 = reported.
static int tc__fp8_check(tc__infer *q, uint32_t first, int computes) {
    int t = -1, other = -1;
    for (uint32_t i = first; i < q->n_in; i++)
        if (tc__is_fp8(q->in[i]->dtype)) t = q->in[i]->dtype;
    if (t < 0) return 1;
    if (computes)
        return tc__fail(q->ctx, TC_E_DTYPE,
                        "%s: not defined on %s, which is for storage; tc_cast to TC_F32 or "
                        "TC_BF16 first",
                        tc__called(q->ctx, q->op), tc__dtype(t)->name);
    for (uint32_t i = first; i < q->n_in; i++)
        if (q->in[i]->dtype != t) other = q->in[i]->dtype;
    return other < 0 ||
           tc__fail(q->ctx, TC_E_DTYPE,
                    "%s: %s and %s have no dtype in common; tc_cast one of them",
                    tc__called(q->ctx, q->op), tc__dtype(t)->name, tc__dtype(other)->name);
}

// Common dtype of tensor operands `first`...; a scalar operand (fewer operands than the op's arity,
// its value a word) only raises the category.
static int tc__dtype_common(tc__infer *q, uint32_t first) {
    tc__common all = tc__common_none();
    for (uint32_t i = first; i < q->n_in; i++)
        tc__common_add(&all, q->in[i]->dtype, q->in[i]->rank);
    int t = tc__common_dtype(&all);
    if (q->n_attr == 2 && q->op != TC_OP_CAT) {
        double s;
        memcpy(&s, &q->attr[TC__SCALAR_VALUE], sizeof s);
        t = tc__promote_scalar(t, s);
    }
    return t;
}

// What arithmetic is on bools: true + true is true. And a complement that does not ask which bits true
// has, a mask on the CPU and 1 on a GPU.
static const struct {
    tc__op op, on_bool;
} tc__bool_forms[] = {{TC_OP_ADD, TC_OP_LOGICAL_OR},
                      {TC_OP_MUL, TC_OP_LOGICAL_AND},
                      {TC_OP_MAXIMUM, TC_OP_LOGICAL_OR},
                      {TC_OP_MINIMUM, TC_OP_LOGICAL_AND},
                      {TC_OP_BITWISE_NOT, TC_OP_LOGICAL_NOT}};

// The op that is done on operands of dtype t.
static tc__op tc__op_on(tc__op op, int t) {
    for (size_t i = 0; i < TC__COUNT(tc__bool_forms) && t == TC_BOOL; i++)
        if (tc__bool_forms[i].op == op) return tc__bool_forms[i].on_bool;
    return op;
}

static int tc__dtype_promote(tc__infer *q) {
    if (!tc__fp8_check(q, 0, q->op != TC_OP_CAT)) return 0;
    q->out.dtype = (uint8_t)tc__dtype_common(q, 0);
    if (q->out.dtype != TC_BOOL || q->op == TC_OP_CAT) return 1;
    if (tc__op_on(q->op, TC_BOOL) != q->op) return 1;
    return tc__fail(q->ctx, TC_E_DTYPE,
                    "%s: not defined on bool; use logical ops, or tc_cast to TC_I32 first",
                    tc__called(q->ctx, q->op));
}

// Of halves also their sums as they are, in f32: a word of the call says so, and a node's dtype.
static int tc__dtype_product(tc__infer *q) {
    int asked = q->n_attr ? (int)q->attr[TC__PRODUCT_DTYPE] : q->out.dtype;
    if (!tc__dtype_promote(q)) return 0;
    if (asked == TC_F32 && tc__is_half(q->out.dtype)) q->out.dtype = TC_F32;
    return 1;
}

static int tc__dtype_floating(tc__infer *q) {
    if (!tc__fp8_check(q, 0, 1)) return 0;
    int t = tc__dtype_common(q, 0);
    q->out.dtype = (uint8_t)(tc__is_float(t) ? t : TC_F32);
    return 1;
}

static int tc__dtype_rounding(tc__infer *q) { return tc__dtype_promote(q); }

static int tc__dtype_compare(tc__infer *q) {
    q->out.dtype = TC_BOOL;
    return tc__fp8_check(q, 0, 0);
}

static int tc__dtype_logic(tc__infer *q) {
    q->out.dtype = TC_BOOL;
    return 1;
}

static int tc__dtype_bits(tc__infer *q) {
    q->out.dtype = (uint8_t)tc__dtype_common(q, 0);
    if (!tc__is_float(q->out.dtype)) return 1;
    return tc__fail(q->ctx, TC_E_DTYPE,
                    "%s: needs integers or bool, got %s; tc_cast first?",
                    tc__called(q->ctx, q->op), tc__dtype(q->out.dtype)->name);
}

// A bool has no width to shift in.
static int tc__dtype_shift(tc__infer *q) {
    q->out.dtype = (uint8_t)tc__dtype_common(q, 0);
    if (!tc__is_float(q->out.dtype) && q->out.dtype != TC_BOOL) return 1;
    return tc__fail(q->ctx, TC_E_DTYPE, "%s: needs integers, got %s; tc_cast first?",
                    tc__called(q->ctx, q->op), tc__dtype(q->out.dtype)->name);
}

static int tc__dtype_where(tc__infer *q) {
    const char *who = tc__called(q->ctx, q->op);
    int is_where = !strcmp(who, "where");
    q->out.dtype = (uint8_t)tc__dtype_common(q, 1);
    if (q->in[0]->dtype == TC_BOOL) return tc__fp8_check(q, 1, 0);
    return tc__fail(q->ctx, TC_E_DTYPE,
                    "%s: the %s must be bool, got %s; use tc_ne_s(%s, 0)", who,
                    is_where ? "condition" : "mask", tc__dtype(q->in[0]->dtype)->name,
                    is_where ? "c" : "mask");
}

static int tc__dtype_same(tc__infer *q) {
    q->out.dtype = q->in[0]->dtype;
    return 1;
}

// The same, of what computes with elements.
static int tc__dtype_reduce(tc__infer *q) {
    return tc__fp8_check(q, 0, 1) && tc__dtype_same(q);
}

static int tc__dtype_i64(tc__infer *q) {
    q->out.dtype = TC_I64;
    return tc__fp8_check(q, 0, 1);
}

// As the first operand, or f32 of what is no float.
static int tc__dtype_first(tc__infer *q) {
    int t = q->in[0]->dtype;
    q->out.dtype = (uint8_t)(tc__is_float(t) ? t : (int)TC_F32);
    return 1;
}

// CAST: its word; sources carry theirs in out already.
static int tc__dtype_attr(tc__infer *q) {
    if (q->op == TC_OP_CAST) q->out.dtype = (uint8_t)q->attr[TC__CAST_DTYPE];
    return 1;
}
