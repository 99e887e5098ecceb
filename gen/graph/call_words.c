// The words of a call, and what it gives: follow.c compares them with a step's, or makes a step of them.

// ---- words of a call ----

// What may be known at run time only: a word of an attribute that is a size or a value. The others
// decide how a kernel looks.
typedef enum tc__slot_kind {
    TC__SLOT_FIXED,
    TC__SLOT_SIZE,
    TC__SLOT_SCALAR, // a double
    TC__SLOT_VALUE   // a tc__value of the result's dtype
} tc__slot_kind;

static tc__slot_kind tc__slot_of(tc__op op, uint32_t n_attr, uint32_t i) {
    tc__kind kind = tc__ops[op].kind;
    int alu = kind == TC__KIND_UNARY || kind == TC__KIND_BINARY || kind == TC__KIND_TERNARY;
    if (tc__is_composite(op))
        return tc__ops[op].sizes >> i & 1    ? TC__SLOT_SIZE
               : tc__ops[op].values >> i & 1 ? TC__SLOT_SCALAR
                                             : TC__SLOT_FIXED;
    if (op == TC_OP_RESHAPE || op == TC_OP_EXPAND) return TC__SLOT_SIZE;
    if (op == TC_OP_SLICE)
        return i == TC__SLICE_START || i == TC__SLICE_COUNT ? TC__SLOT_SIZE
                                                            : TC__SLOT_FIXED;
    if (op == TC_OP_PAD)
        return i == TC__PAD_LOW || i == TC__PAD_HIGH ? TC__SLOT_SIZE : TC__SLOT_FIXED;
    if (op == TC_OP_CONST || op == TC_OP_ARG) return TC__SLOT_VALUE;
    return alu && n_attr == 2 && i == TC__SCALAR_VALUE ? TC__SLOT_SCALAR : TC__SLOT_FIXED;
}

// ---- what a call gives ----

// dtype and sizes of an operand as the path has them.
static void tc__code_meta(tc_ctx *c, const tc__visit *v, uint32_t code, tc__meta *m) {
    if (!(code & TC__EXTERNAL)) {
        *m = v->path.at[code]->meta;
        return;
    }
    const tc__external *e = &v->external.at[code & ~TC__EXTERNAL];
    tc__meta_of_layout(tc__layout_at(c, e->layout), m);
    if (e->shape) memcpy(m->dims, e->shape->dims, sizeof m->dims);
}

// The same of an operand of a call; v NULL = eager.
static int tc__operand_meta(tc_ctx *c, const tc__visit *v, const tc__call *k, uint32_t i,
                            tc__meta *m) {
    tc_tensor h = k->in[i];
    if (v && h.id >> TC__SLOT_BITS == v->key && tc__position(h) < v->path.count) {
        tc__code_meta(c, v, tc__position(h), m);
        return 1;
    }
    const tc__tensor *t = v ? tc__tensor_find(c, h) : NULL;
    if (!t || t->bind_epoch != v->epoch) return tc__meta_of(c, tc__called(c, k->op), h, m);
    tc__code_meta(c, v, TC__EXTERNAL | t->bind_index, m);
    return 1;
}

static void tc__equate_all(tc__ixpool *p, const tc__relation *r, uint32_t n, tc__ix *equal,
                           uint32_t symbols) {
    tc__ix sym, to;
    for (uint32_t i = 0; i < n; i++) {
        if (r[i].kind != TC__EQUAL) continue;
        tc__ix a = tc__ix_copy(p, p, r[i].a, equal), b = tc__ix_copy(p, p, r[i].b, equal);
        if (tc__ix_solve(p, a, b, &sym, &to)) tc__equate(p, equal, symbols, sym, to);
    }
}

// What each symbol of the path has to be equal to, itself if nothing is said; into `equal`.
static void tc__path_equalities(tc_ctx *c, const tc__visit *v, size_t steps,
                                tc__ix *equal) {
    tc__ixpool *p = &tc__recorder_of(c)->ix;
    uint32_t n = (uint32_t)v->size.count;
    if (!n) return;
    memcpy(equal, v->sym.at, n * sizeof *equal);
    for (size_t i = 0; i < steps; i++)
        tc__equate_all(p, v->path.at[i]->guard, v->path.at[i]->n_guard, equal, n);
    tc__equate_all(p, v->pending, v->n_pending, equal, n);
}

enum { TC__MAX_OPERANDS = 64, TC__MAX_SYMBOLS = 256 }; // symbols of one path

static int tc__rules_run(tc_ctx *c, const tc__visit *v, const tc__call *k, tc__infer *q) {
    tc__ix equal[TC__MAX_SYMBOLS];
    int64_t dims[TC_MAX_RANK];
    size_t steps = v && v->at->parent ? v->at->position + 1u : 0;
    q->out.dtype = k->dtype, q->out.rank = k->rank, q->needs = 0;
    if (k->dims) memcpy(q->out.dims, k->dims, k->rank * sizeof *k->dims);
    if (q->symbols) tc__path_equalities(c, v, steps, q->equal = equal);
    int ok = tc__ops[k->op].dtype(q) && tc__ops[k->op].shape(q);
    q->equal = NULL;
    for (int i = 0; ok && i < q->out.rank; i++)
        dims[i] = v ? tc__visit_eval(c, v, q->out.dims[i]) : tc__ix_value(q->out.dims[i]);
    return ok && tc__dims_check(c, tc__called(c, k->op), q->out.rank, dims);
}

// Expressions got too large: the step is for the sizes of this visit alone.
static int tc__rules_exact(tc_ctx *c, const tc__visit *v, const tc__call *k, tc__meta *m,
                           tc__infer *q) {
    int64_t words[TC__MAX_OPERANDS];
    tc__call exact = *k;
    q->ix->failed = 0;
    for (uint32_t i = 0; i < k->n_in; i++) tc__visit_sizes(c, v, m[i].rank, m[i].dims);
    for (uint32_t i = 0; i < k->n_attr; i++) {
        int size = tc__slot_of(k->op, k->n_attr, i) == TC__SLOT_SIZE;
        words[i] = size ? tc__ix_const(tc__visit_eval(c, v, k->attr[i])) : k->attr[i];
    }
    q->symbols = 0, q->size = NULL, q->attr = words;
    if (!tc__rules_run(c, v, &exact, q)) return 0;
    for (size_t i = 0; i < v->size.count; i++)
        if (!tc__need(q, TC__EQUAL, v->sym.at[i], tc__ix_const(v->size.at[i]))) return 0;
    return q->exact = 1;
}

// The rules of the op, for operands of these sizes; 0 = reported.
static int tc__call_rules(tc_ctx *c, const tc__visit *v, const tc__call *k, tc__meta *m,
                          tc__infer *q) {
    const tc__meta *p[TC__MAX_OPERANDS];
    memset(q, 0, sizeof *q);
    for (uint32_t i = 0; i < k->n_in; i++) p[i] = &m[i];
    q->ctx = c, q->ix = &tc__recorder_of(c)->ix, q->op = k->op;
    q->n_in = k->n_in, q->n_attr = k->n_attr, q->in = p, q->attr = k->attr;
    q->size = v ? v->size.at : NULL;
    q->symbols = v ? (uint32_t)v->size.count : 0;
    tc__error_mark before = tc__error_now(c);
    int ok = tc__rules_run(c, v, k, q);
    if (q->symbols && q->ix->failed) {
        tc__error_restore(c, before);
        ok = tc__rules_exact(c, v, k, m, q);
    }
    q->in = NULL, q->attr = NULL;
    return ok;
}

// A step that only marks a place: it has no result, and no rules.
static int tc__is_mark(tc__op op, uint32_t n_in) {
    return op == TC_OP_FINISH || op == TC_OP_SHARE || op == TC_OP_NO_GRAD ||
           op == TC_OP_FORCE_EAGER || op == TC_OP_CHECKPOINT || op == TC_OP_OWN_GRADIENT ||
           op == TC_OP_END_LOOP || (op == TC_OP_BREAK && !n_in) || tc__is_composite(op);
}

// dtype and sizes of a call's result, as expressions of the path; 0 = reported.
static int tc__call_infer(tc_ctx *c, const tc__visit *v, const tc__call *k, tc__infer *q) {
    tc__meta m[TC__MAX_OPERANDS];
    memset(q, 0, sizeof *q);
    if (tc__is_mark(k->op, k->n_in)) return 1;
    if (k->n_in > TC__MAX_OPERANDS)
        return tc__fail(c, TC_E_ARG, "%s: %u operands, %d are possible",
                        tc__called(c, k->op), (unsigned)k->n_in, TC__MAX_OPERANDS);
    for (uint32_t i = 0; i < k->n_in; i++)
        if (!tc__operand_meta(c, v, k, i, &m[i])) return 0;
    if (k->op != TC_OP_CUSTOM) return tc__call_rules(c, v, k, m, q);
    tc__calling calling = tc__calling_begin(c); // its shape function is the user's
    int ok = tc__call_rules(c, v, k, m, q);
    tc__calling_end(c, calling);
    return ok;
}
