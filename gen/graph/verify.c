// The verifier: is a graph what its stage promises? After every pass, after scheduling and
// after lowering in builds with TC_ASSERT or TC_DEBUG, as those of the tests are. Input: a graph of one stage. Output: 1, or 0 with an error that
// names the node and the rule.
//
//   all     ids are positions; operands are earlier nodes that are values; ops are legal at
//           the stage; numbers of operands and words are those of ops.def
//   TENSOR  the dtype and shape rules of the op, run again, give what the node says; those of a
//           composite op give what its result says, and its operands have the ranks it asks for
//   GROUP   nothing uses a value of a later phase; a row value never depends on a column
//           value but through an ACC of an earlier phase; operands of a contraction stay on
//           their side
//   LOOP    loops nest, and in a launch all variables are bound; a value is used only inside the loop that computes it; an
//           accumulator is made before its loop, stepped inside it, combined after it, with
//           one monoid

enum { TC__LEGAL_TENSOR = 1, TC__LEGAL_GROUP = 2, TC__LEGAL_LOOP = 4 };

// Which kinds may stand at which stage.
static const struct {
    tc__kind kind;
    int stages;
} tc__legal_kinds[] = {
    {TC__KIND_UNARY, TC__LEGAL_TENSOR | TC__LEGAL_GROUP | TC__LEGAL_LOOP},
    {TC__KIND_BINARY, TC__LEGAL_TENSOR | TC__LEGAL_GROUP | TC__LEGAL_LOOP},
    {TC__KIND_TERNARY, TC__LEGAL_TENSOR | TC__LEGAL_GROUP | TC__LEGAL_LOOP},
    {TC__KIND_CAST, TC__LEGAL_TENSOR | TC__LEGAL_GROUP | TC__LEGAL_LOOP},
    {TC__KIND_LAYOUT, TC__LEGAL_TENSOR},
    {TC__KIND_SOURCE, TC__LEGAL_TENSOR}, // but for those below
    {TC__KIND_MOVE, TC__LEGAL_TENSOR},
    {TC__KIND_JOIN, TC__LEGAL_TENSOR},
    {TC__KIND_GATHER, TC__LEGAL_TENSOR},
    {TC__KIND_REDUCE, TC__LEGAL_TENSOR},
    {TC__KIND_CONTRACT, TC__LEGAL_TENSOR},
    {TC__KIND_OPAQUE, TC__LEGAL_TENSOR},
    {TC__KIND_KERNEL, TC__LEGAL_GROUP | TC__LEGAL_LOOP},
    {TC__KIND_EFFECT, 0}, // trace only
    {TC__KIND_DERIVE, 0},
    {TC__KIND_LOOP, TC__LEGAL_TENSOR},
};

// Kernel ops and sources: their own stages, operands, and least and most words.
static const struct {
    tc__op op;
    int stages, n_in;
    uint32_t least, most;
} tc__legal_ops[] = {
    {TC_OP_CONST, TC__LEGAL_TENSOR | TC__LEGAL_GROUP | TC__LEGAL_LOOP, 0, 1, 1},
    {TC_OP_ARG, TC__LEGAL_TENSOR | TC__LEGAL_GROUP | TC__LEGAL_LOOP, 0, 1, 1},
    {TC_OP_LOAD, TC__LEGAL_GROUP | TC__LEGAL_LOOP, 0, 3, 30},
    {TC_OP_STORE, TC__LEGAL_GROUP | TC__LEGAL_LOOP, 1, 2, 3},
    {TC_OP_INDEX, TC__LEGAL_GROUP | TC__LEGAL_LOOP, 0, 1, 1},
    {TC_OP_CHECK, TC__LEGAL_GROUP | TC__LEGAL_LOOP, 1, 2, 2},
    {TC_OP_VALID, TC__LEGAL_GROUP | TC__LEGAL_LOOP, 0, 2, 30},
    {TC_OP_ACC, TC__LEGAL_GROUP | TC__LEGAL_LOOP, 1, 1, 2},
    {TC_OP_CONTRACT, TC__LEGAL_GROUP | TC__LEGAL_LOOP, 2, 1, 1},
    {TC_OP_LEFT_SUM, TC__LEGAL_LOOP, 1, 1, 1},
    {TC_OP_FOR, TC__LEGAL_LOOP, 0, 6, 32},
    {TC_OP_LAUNCH, TC__LEGAL_LOOP, 0, 3, 4},
    {TC_OP_TEMPLATE, TC__LEGAL_LOOP, 0, 8 + TC__DECODE_NUMBERS, 8 + TC__CHAIN_NUMBERS},
    {TC_OP_HOLE, TC__LEGAL_LOOP, 0, 11, 11},
    {TC_OP_AXIS, TC__LEGAL_LOOP, 0, 3, 3},
    {TC_OP_IF, TC__LEGAL_LOOP, 0, 0, 30},
    {TC_OP_ELSE, TC__LEGAL_LOOP, 0, 0, 0},
    {TC_OP_LEAVE, TC__LEGAL_LOOP, 0, 2, 30},
    {TC_OP_COPY, TC__LEGAL_LOOP, 0, 5, UINT32_MAX},
    {TC_OP_WAIT, TC__LEGAL_LOOP, 0, 0, 0},
    {TC_OP_BARRIER, TC__LEGAL_LOOP, 0, 0, 1},
    {TC_OP_END, TC__LEGAL_LOOP, 0, 1, 1},
    {TC_OP_NEW, TC__LEGAL_LOOP, 0, 2, 3},
    {TC_OP_COMBINE, TC__LEGAL_LOOP, 0, 2, 4},
    {TC_OP_PUT, TC__LEGAL_LOOP, 0, 4, 5},
    {TC_OP_GET, TC__LEGAL_LOOP, 0, 4, 5},
    {TC_OP_LAST, TC__LEGAL_LOOP, 0, 3, 3},
    {TC_OP_FORGET, TC__LEGAL_LOOP, 0, 1, 1},
    {TC_OP_BEGUN, TC__LEGAL_LOOP, 0, 1, 1},
    {TC_OP_MEET, TC__LEGAL_LOOP, 0, 3, 3},
    {TC_OP_CALL, TC__LEGAL_LOOP, 0, TC__CALL_BUFFERS + 4, TC__CALL_MOST},
};

enum { TC__VERIFY_DEPTH = 16 };

typedef struct tc__verifier {
    tc_ctx *ctx;
    const tc__graph *g;
    tc__stage stage;
    uint32_t
        *scope; // LOOP: by node, 1 + id of the innermost open statement when it stood there
    uint32_t open[TC__VERIFY_DEPTH]; // LOOP: ids of what is open: FOR, IF, LAUNCH
    uint32_t names
        [TC__VERIFY_DEPTH]; //   and the variables that each of them or an AXIS in it binds
    uint32_t depth;
    const tc__node *node; // being looked at
} tc__verifier;

TC__PRINTF(2, 3)
static int tc__verify_fail(const tc__verifier *v, const char *fmt, ...) {
    char text[200];
    va_list args;
    va_start(args, fmt);
    tc__format_line(text, sizeof text, fmt, args);
    va_end(args);
    return tc__fail(v->ctx, TC_E_INTERNAL, "verify: %%%u = %s: %s", (unsigned)v->node->id,
                    v->node->op < TC_OP_COUNT ? tc__op_name((tc__op)v->node->op) : "?",
                    text);
}

// ---- all stages ----

static int tc__verify_legal(const tc__verifier *v) {
    const tc__node *n = v->node;
    int stages = 0, n_in = tc__ops[n->op].arity;
    uint32_t least = 0, most = UINT32_MAX;
    for (size_t i = 0; i < TC__COUNT(tc__legal_kinds); i++)
        if (tc__legal_kinds[i].kind == tc__ops[n->op].kind)
            stages = tc__legal_kinds[i].stages;
    for (size_t i = 0; i < TC__COUNT(tc__legal_ops); i++) {
        if (tc__legal_ops[i].op != (tc__op)n->op) continue;
        stages = tc__legal_ops[i].stages, n_in = tc__legal_ops[i].n_in;
        least = tc__legal_ops[i].least, most = tc__legal_ops[i].most;
    }
    // An external has what is stored there before it is read.
    if (n->op == TC_OP_INPUT && n->n_in) n_in = -1;
    // A random number is drawn for an element: inside a kernel its index is an operand.
    if (n->op == TC_OP_RANDOM && v->stage != TC__TENSOR) stages = 7, n_in = 1;
    if (!(stages >> v->stage & 1)) return tc__verify_fail(v, "not legal at this stage");
    if (n_in >= 0 && n->n_in != (uint32_t)n_in)
        return tc__verify_fail(v, "%u operands, %d belong there", (unsigned)n->n_in, n_in);
    if (n_in < 0 && !n->n_in) return tc__verify_fail(v, "no operands");
    if (n->n_attr < least || n->n_attr > most)
        return tc__verify_fail(v, "%u attribute words", (unsigned)n->n_attr);
    return 1;
}

static int tc__has_value(const tc__node *n) {
    return n->op != TC_OP_STORE && !tc__opens(n) && n->op != TC_OP_END &&
           n->op != TC_OP_AXIS && n->op != TC_OP_ELSE && n->op != TC_OP_LEAVE &&
           n->op != TC_OP_COPY && n->op != TC_OP_WAIT && n->op != TC_OP_BARRIER &&
           n->op != TC_OP_NEW && n->op != TC_OP_PUT && n->op != TC_OP_GET &&
           n->op != TC_OP_LAST && n->op != TC_OP_FORGET && n->op != TC_OP_BEGUN &&
           n->op != TC_OP_MEET && n->op != TC_OP_CALL &&
           !(n->op == TC_OP_ACC && n->stage == TC__LOOP);
}

static int tc__verify_common(const tc__verifier *v, uint32_t position) {
    const tc__node *n = v->node;
    if (n->op >= TC_OP_COUNT)
        return tc__verify_fail(v, "no op has the number %u", (unsigned)n->op);
    if (n->id != position)
        return tc__verify_fail(v, "it stands at position %u", (unsigned)position);
    if (n->stage != (uint8_t)v->stage) return tc__verify_fail(v, "a node of another stage");
    if (!tc__dtype_valid(n->dtype))
        return tc__verify_fail(v, "no dtype has the number %d", n->dtype);
    for (uint32_t i = 0; i < n->n_in; i++) {
        if (n->in[i] >= n->id)
            return tc__verify_fail(v, "operand %%%u is not earlier", (unsigned)n->in[i]);
        if (!tc__has_value(tc__operand(v->g, n, i)))
            return tc__verify_fail(v, "operand %%%u has no value", (unsigned)n->in[i]);
    }
    return tc__verify_legal(v);
}

// ---- TENSOR ----

// Facts of an op's attribute words that its shape rule takes on trust.
static int tc__verify_words(const tc__verifier *v) {
    const tc__node *n = v->node;
    const tc__node *a = n->n_in ? tc__composite_node(v->g, n->in[0]) : n;
    tc__ixpool *p = v->g->ix;
    tc__attr_name name;
    uint32_t want = 0;
    name.rest = tc__ops[n->op].attr;
    while (tc__attr_next(&name)) {
        int sizes = tc__attr_is(&name, "sizes"), order = tc__attr_is(&name, "order");
        want += sizes ? n->rank : order ? a->rank : 1u;
    }
    // Without a mark a random number is drawn for the first time.
    if (n->op == TC_OP_RANDOM && n->n_attr == TC__RANDOM_MARK) want = TC__RANDOM_MARK;
    if (n->n_attr != want)
        return tc__verify_fail(v, "%u attribute words, %u belong there",
                               (unsigned)n->n_attr, (unsigned)want);
    if (n->op == TC_OP_SLICE &&
        (n->attr[TC__SLICE_DIM] < 0 || n->attr[TC__SLICE_DIM] >= a->rank))
        return tc__verify_fail(v, "dimension %lld", (long long)n->attr[TC__SLICE_DIM]);
    if (n->op == TC_OP_SLICE && tc__ix_hi(p, n->attr[TC__SLICE_COUNT]) > 0) {
        tc__ix last =
            tc__ix_mul(p, tc__ix_sub(p, n->attr[TC__SLICE_COUNT], tc__ix_const(1)),
                       n->attr[TC__SLICE_STEP]);
        last = tc__ix_add(p, n->attr[TC__SLICE_START], last);
        tc__ix past = tc__ix_sub(p, a->dims[n->attr[TC__SLICE_DIM]], tc__ix_const(1));
        // Run-time sizes may reach outside for all that stands here: recording checks them.
        if (tc__ix_hi(p, n->attr[TC__SLICE_START]) < 0 || tc__ix_hi(p, last) < 0 ||
            tc__ix_hi(p, tc__ix_sub(p, past, n->attr[TC__SLICE_START])) < 0 ||
            tc__ix_hi(p, tc__ix_sub(p, past, last)) < 0)
            return tc__verify_fail(v, "it reaches outside its operand");
    }
    if (n->op == TC_OP_PAD && tc__ix_lo(p, n->attr[TC__PAD_DILATION]) < 1)
        return tc__verify_fail(v, "dilation below 1");
    if (n->op == TC_OP_WINDOW && (tc__ix_lo(p, n->attr[TC__WINDOW_SIZE]) < 1 ||
                                  tc__ix_lo(p, n->attr[TC__WINDOW_STRIDE]) < 1 ||
                                  tc__ix_lo(p, n->attr[TC__WINDOW_DILATION]) < 1))
        return tc__verify_fail(v, "size, stride and dilation are at least 1");
    if (n->op == TC_OP_CAST && !tc__dtype_valid((int)n->attr[TC__CAST_DTYPE]))
        return tc__verify_fail(v, "no such dtype");
    if (n->op == TC_OP_IOTA &&
        (n->attr[TC__IOTA_DIM] < 0 || n->attr[TC__IOTA_DIM] >= n->rank))
        return tc__verify_fail(v, "dimension %lld", (long long)n->attr[TC__IOTA_DIM]);
    if (tc__ops[n->op].kind == TC__KIND_REDUCE &&
        (n->attr[TC__REDUCE_DIMS] <= 0 || n->attr[TC__REDUCE_DIMS] >> a->rank))
        return tc__verify_fail(v, "dims=%lld for rank %d",
                               (long long)n->attr[TC__REDUCE_DIMS], a->rank);
    return 1;
}

// Operands of arithmetic are cast and expanded before: equal sizes, one dtype.
static int tc__verify_alu(const tc__verifier *v) {
    const tc__node *n = v->node;
    uint32_t first = n->op == TC_OP_WHERE ? 1 : 0;
    int class_rule = tc__ops[n->op].dtype != tc__dtype_compare;
    for (uint32_t i = 0; i < n->n_in; i++) {
        const tc__node *a = tc__operand(v->g, n, i);
        if (a->rank != n->rank || memcmp(a->dims, n->dims, n->rank * sizeof *n->dims))
            return tc__verify_fail(v, "operand %%%u has other sizes", (unsigned)a->id);
        if (i >= first && class_rule && a->dtype != n->dtype)
            return tc__verify_fail(v, "operand %%%u is %s, the result %s", (unsigned)a->id,
                                   tc__dtype(a->dtype)->name, tc__dtype(n->dtype)->name);
        if (i > first && a->dtype != tc__operand(v->g, n, first)->dtype)
            return tc__verify_fail(v, "operands differ in dtype");
    }
    return 1;
}

static tc__meta tc__verify_meta(const tc__node *n) {
    tc__meta m;
    memset(&m, 0, sizeof m);
    m.dtype = n->dtype, m.rank = n->rank;
    memcpy(m.dims, n->dims, n->rank * sizeof *n->dims);
    return m;
}

static int tc__verify_rules(const tc__verifier *v) {
    const tc__node *n = v->node;
    const tc__op_info *o = &tc__ops[n->op];
    tc__meta meta[TC__MAX_OPERANDS];
    const tc__meta *in[TC__MAX_OPERANDS];
    tc__infer q;
    memset(&q, 0, sizeof q);
    if (n->n_in > TC__MAX_OPERANDS) return tc__verify_fail(v, "too many operands");
    for (uint32_t i = 0; i < n->n_in; i++) {
        meta[i] = tc__verify_meta(tc__composite_node(v->g, n->in[i]));
        in[i] = &meta[i];
    }
    q.ctx = v->ctx, q.ix = v->g->ix, q.op = (tc__op)n->op, q.n_in = n->n_in, q.in = in;
    q.n_attr = n->n_attr, q.attr = n->attr;
    q.out.dtype = n->dtype, q.out.rank = n->rank;
    memcpy(q.out.dims, n->dims, n->rank * sizeof *n->dims);
    if (!o->dtype(&q) || !o->shape(&q)) return tc__verify_fail(v, "its rules refuse it");
    if (q.out.dtype != n->dtype)
        return tc__verify_fail(v, "it is %s, its rule gives %s", tc__dtype(n->dtype)->name,
                               tc__dtype(q.out.dtype)->name);
    if (q.out.rank != n->rank || memcmp(q.out.dims, n->dims, n->rank * sizeof *n->dims))
        return tc__verify_fail(v, "its sizes are not those of its rule");
    return !v->g->ix->failed || tc__verify_fail(v, "its sizes are too large an expression");
}

// TO has a copy of what is elsewhere; all else is computed where its operands are.
static int tc__verify_place(const tc__verifier *v) {
    const tc__node *n = v->node;
    for (uint32_t i = 0; i < n->n_in; i++) {
        int there = tc__composite_node(v->g, n->in[i])->device;
        if (n->op == TC_OP_TO ? there == n->device : there != n->device)
            return tc__verify_fail(v, "on %s, its operand %%%u on %s",
                                   tc__device_name(v->ctx, n->device), (unsigned)n->in[i],
                                   tc__device_name(v->ctx, there));
    }
    return 1;
}

static int tc__verify_tensor(const tc__verifier *v) {
    const tc__node *n = v->node;
    tc__kind k = tc__ops[n->op].kind;
    int alu = k == TC__KIND_UNARY || k == TC__KIND_BINARY || k == TC__KIND_TERNARY;
    if (n->rank > TC_MAX_RANK) return tc__verify_fail(v, "rank %d", n->rank);
    if (!tc__device_is_there(v->ctx, n->device))
        return tc__verify_fail(v, "no device has the number %d", n->device);
    return tc__verify_words(v) && tc__verify_place(v) && (!alu || tc__verify_alu(v)) &&
           (k == TC__KIND_LOOP || tc__verify_rules(v)); // those are about steps
}

// ---- composite ops ----

TC__PRINTF(3, 4)
static int tc__verify_composite_fail(const tc__verifier *v, const tc__composite *f,
                                     const char *fmt, ...) {
    char text[200];
    va_list args;
    va_start(args, fmt);
    tc__format_line(text, sizeof text, fmt, args);
    va_end(args);
    return tc__fail(v->ctx, TC_E_INTERNAL, "verify: composite %s: %s",
                    f->op >= TC_OP_COUNT && f->op < TC_OP_TOTAL ? tc__op_name((tc__op)f->op)
                                                                : "?",
                    text);
}

static int tc__verify_id(const tc__verifier *v, uint32_t id) {
    return id & TC__ASIDE ? (id & ~TC__ASIDE) < v->g->aside.count : id < v->g->node.count;
}

// What stands aside is made of nodes, or of what stands before it.
static int tc__verify_aside(tc__verifier *v, uint32_t i) {
    const tc__node *n = v->node = v->g->aside.at[i];
    if (n->id != (i | TC__ASIDE) || !tc__may_stand_aside(n))
        return tc__verify_fail(v, "it does not stand aside");
    if (n->n_in != (uint32_t)tc__ops[n->op].arity)
        return tc__verify_fail(v, "%u operands", (unsigned)n->n_in);
    if (n->n_in &&
        (!tc__verify_id(v, n->in[0]) || (n->in[0] & TC__ASIDE && n->in[0] >= n->id)))
        return tc__verify_fail(v, "its operand is not earlier");
    return tc__verify_tensor(v);
}

// Operands that have to be there, and their ranks.
static int tc__verify_composite_in(const tc__verifier *v, const tc__composite *f) {
    const tc__whole_info *w = tc__whole_of((tc__op)f->op);
    for (uint32_t i = 0; i < w->n_in; i++) {
        if (f->in[i] == TC__NO_NODE && w->in[i].may_miss) continue;
        if (f->in[i] == TC__NO_NODE || !tc__verify_id(v, f->in[i]))
            return tc__verify_composite_fail(v, f, "operand %u is not there", (unsigned)i);
        int rank = tc__composite_node(v->g, f->in[i])->rank;
        if (rank != w->in[i].rank && !(w->in[i].at_least && rank > w->in[i].rank))
            return tc__verify_composite_fail(v, f, "operand %u has rank %d", (unsigned)i,
                                             rank);
    }
    return 1;
}

// The op's rules give what the result is. A product's f32 of halves is what rounds to them.
static int tc__verify_composite(const tc__verifier *v, const tc__composite *f) {
    tc__meta meta[TC__WHOLE_OPERANDS], out;
    const tc__meta *in[TC__WHOLE_OPERANDS];
    tc__infer q;
    if (f->op < TC_OP_COUNT || f->op >= TC_OP_TOTAL || !tc__verify_id(v, f->result))
        return tc__verify_composite_fail(v, f, "no op, or no result");
    if (!tc__verify_composite_in(v, f)) return 0;
    memset(&q, 0, sizeof q);
    out = tc__verify_meta(tc__composite_node(v->g, f->result));
    q.ctx = v->ctx, q.ix = v->g->ix, q.op = (tc__op)f->op, q.in = in, q.out = out;
    for (uint32_t i = 0; i < tc__whole_of((tc__op)f->op)->n_in; i++) {
        if (f->in[i] == TC__NO_NODE) continue;
        meta[q.n_in] = tc__verify_meta(tc__composite_node(v->g, f->in[i]));
        in[q.n_in] = &meta[q.n_in], q.n_in++;
    }
    if (!tc__ops[f->op].dtype(&q) || !tc__ops[f->op].shape(&q))
        return tc__verify_composite_fail(v, f, "its rules refuse it");
    if (q.out.dtype != out.dtype)
        return tc__verify_composite_fail(v, f, "the result is %s, its rule gives %s",
                                         tc__dtype(out.dtype)->name,
                                         tc__dtype(q.out.dtype)->name);
    if (q.out.rank != out.rank || memcmp(q.out.dims, out.dims, out.rank * sizeof *out.dims))
        return tc__verify_composite_fail(v, f,
                                         "the result's sizes are not those of its rule");
    return 1;
}

static int tc__verify_composites(tc__verifier *v) {
    for (uint32_t i = 0; i < v->g->aside.count; i++)
        if (!tc__verify_aside(v, i)) return 0;
    for (size_t i = 0; i < v->g->composite.count; i++)
        if (!tc__verify_composite(v, &v->g->composite.at[i])) return 0;
    return 1;
}

// ---- GROUP ----

typedef struct tc__verify_use {
    const tc__verifier *v;
    int ok;
} tc__verify_use;

// What a node names, as an operand or in an index expression, is known where the node
// stands.
static int tc__verify_known(const tc__verifier *v, uint32_t id) {
    const tc__node *n = v->node, *a;
    if (id >= n->id)
        return tc__verify_fail(v, "it names %%%u, which is not earlier", (unsigned)id);
    a = v->g->node.at[id];
    if (v->stage != TC__GROUP) return 1;
    int finished = a->op == TC_OP_ACC;
    if (a->phase + finished > n->phase)
        return tc__verify_fail(v, "phase %u uses %%%u of phase %u", (unsigned)n->phase,
                               (unsigned)id, (unsigned)(a->phase + finished));
    uint32_t level = finished ? (uint32_t)TC__AT_ROW : a->level;
    if (level == TC__AT_ROW || level == n->level || n->op == TC_OP_CONTRACT) return 1;
    // The right operand is at (r, c, k): it may use what the columns know.
    if (level == TC__AT_COL && n->level == TC__AT_RIGHT) return 1;
    return tc__verify_fail(v, "it uses %%%u of another level", (unsigned)id);
}

static void tc__verify_val(void *user, uint32_t id) {
    tc__verify_use *u = (tc__verify_use *)user;
    u->ok = u->ok && tc__verify_known(u->v, id);
}

// The variables that are bound where the node stands.
static uint32_t tc__verify_bound(const tc__verifier *v) {
    uint32_t names = 0;
    for (uint32_t i = 0; i < v->depth; i++) names |= v->names[i];
    return names;
}

static int tc__in_launch(const tc__verifier *v) {
    return v->depth && v->g->node.at[v->open[0]]->op == TC_OP_LAUNCH;
}

// Of an index expression: the values that it names; and in a launch, that its variables are bound.
static void tc__verify_ix(tc__verify_use *u, tc__ix e) {
    const tc__verifier *v = u->v;
    tc__ix_each_val(v->g->ix, e, tc__verify_val, u);
    if (u->ok && tc__in_launch(v) &&
        tc__ix_names_of(v->g->ix, e) & ~(tc__verify_bound(v) | TC__IX_NAMES_VAL))
        u->ok = tc__verify_fail(v, "it names a variable that nothing around it binds");
}

static int tc__verify_each_ix(const tc__verifier *v) {
    const tc__node *n = v->node;
    tc__verify_use u;
    u.v = v, u.ok = 1;
    for (uint32_t i = 0; i < n->n_attr; i++)
        if (tc__attr_is_ix(n, i)) tc__verify_ix(&u, n->attr[i]);
    return u.ok;
}

static int tc__verify_contract(const tc__verifier *v) {
    const tc__node *n = v->node, *left = v->g->node.at[n->in[0]],
                   *right = v->g->node.at[n->in[1]];
    if (left->level != TC__AT_LEFT || right->level != TC__AT_RIGHT)
        return tc__verify_fail(v, "its operands are not a left and a right one");
    return left->dtype == right->dtype ||
           tc__verify_fail(v, "its operands have two dtypes");
}

// There is a product of the same left operand and depth before it.
static int tc__verify_total(const tc__verifier *v) {
    const tc__node *n = v->node;
    for (uint32_t id = n->in[0] + 1; id < n->id; id++) {
        const tc__node *m = v->g->node.at[id];
        if (m->op == TC_OP_CONTRACT && m->in[0] == n->in[0] &&
            m->attr[TC__CONTRACT_DEPTH] == n->attr[TC__LEFT_SUM_DEPTH])
            return n->level == TC__AT_ROW || tc__verify_fail(v, "it is not of a row");
    }
    return tc__verify_fail(v, "no product has what it sums");
}

static int tc__verify_kernel_node(const tc__verifier *v) {
    const tc__node *n = v->node;
    if (n->level > TC__AT_RIGHT) return tc__verify_fail(v, "level %d", n->level);
    if (n->op == TC_OP_LOAD && n->n_attr % 2 == 0)
        return tc__verify_fail(v, "half a predicate");
    if (n->op == TC_OP_VALID && n->n_attr % 2)
        return tc__verify_fail(v, "half a predicate");
    for (uint32_t i = 0; i < n->n_in; i++)
        if (!tc__verify_known(v, n->in[i])) return 0;
    if (n->op == TC_OP_CONTRACT && !tc__verify_contract(v)) return 0;
    if (n->op == TC_OP_LEFT_SUM && !tc__verify_total(v)) return 0;
    return tc__verify_each_ix(v);
}

// ---- LOOP ----

static int tc__is_open(const tc__verifier *v, uint32_t scope) {
    if (!scope) return 1;
    for (uint32_t i = 0; i < v->depth; i++)
        if (v->open[i] + 1 == scope) return 1;
    return 0;
}

static const tc__node *tc__innermost(const tc__verifier *v) {
    return v->depth ? v->g->node.at[v->open[v->depth - 1]] : NULL;
}

// The newest NEW of accumulator `number` before the node.
static const tc__node *tc__find_new(const tc__verifier *v, int64_t number) {
    for (uint32_t i = v->node->id; i-- > 0;) {
        const tc__node *n = v->g->node.at[i];
        if (n->op == TC_OP_NEW && n->attr[TC__NEW_ACCUMULATOR] == number) return n;
    }
    return NULL;
}

// Which accumulator a statement names, and of what monoid it says it is. 0 = it names none.
static int tc__accumulator_of(const tc__node *n, int64_t *number, int64_t *monoid) {
    switch (n->op) {
    case TC_OP_ACC:
        *number = n->attr[TC__ACC_ACCUMULATOR], *monoid = n->attr[TC__ACC_MONOID];
        return 1;
    case TC_OP_COMBINE:
        *number = n->attr[TC__COMBINE_ACCUMULATOR], *monoid = n->attr[TC__COMBINE_MONOID];
        return 1;
    case TC_OP_PUT:
    case TC_OP_GET:
        *number = n->attr[TC__PUT_ACCUMULATOR], *monoid = n->attr[TC__PUT_MONOID];
        return 1;
    default: return 0;
    }
}

// A sum down the columns, made before all loops, is stepped at rows and columns and combined at columns alone.
static int tc__verify_down(const tc__verifier *v, int64_t number) {
    uint32_t bound = tc__verify_bound(v);
    int rows = bound >> TC__ROW & 1, columns = bound >> TC__COL & 1;
    if (columns && rows == (v->node->op == TC_OP_ACC)) return 1;
    return tc__verify_fail(v, "accumulator %lld is not of the columns around",
                           (long long)number);
}

static int tc__verify_accumulator(const tc__verifier *v, int64_t number, int64_t monoid) {
    const tc__node *n = v->node;
    const tc__node *made = tc__find_new(v, number);
    uint32_t here = v->depth ? v->open[v->depth - 1] + 1 : 0;
    if (!made)
        return tc__verify_fail(v, "accumulator %lld was not made", (long long)number);
    if (made->attr[TC__NEW_MONOID] != monoid)
        return tc__verify_fail(v, "accumulator %lld has another monoid", (long long)number);
    uint32_t home = v->scope[made->id];
    if (tc__in_launch(v) && tc__is_open(v, home)) return 1;
    if (!home && !tc__in_launch(v)) return tc__verify_down(v, number);
    if (n->op == TC_OP_COMBINE)
        return here == home ||
               tc__verify_fail(v, "accumulator %lld is of another loop", (long long)number);
    uint32_t around = v->depth > 1 ? v->open[v->depth - 2] + 1 : 0;
    if (v->depth && around == home) return 1;
    return tc__verify_fail(v, "accumulator %lld is not of the loop around",
                           (long long)number);
}

static int tc__verify_bind_axis(tc__verifier *v, int64_t axis) {
    if (axis < 0 || axis >= (int64_t)TC__VAR_END || !tc__axis_name(axis))
        return tc__verify_fail(v, "no such axis");
    if (tc__verify_bound(v) >> axis & 1)
        return tc__verify_fail(v, "its variable is bound by what is around");
    if (!v->depth) return tc__verify_fail(v, "no loop is around");
    v->names[v->depth - 1] |= (uint32_t)1 << axis;
    return 1;
}

static int tc__verify_bind(tc__verifier *v) {
    return tc__verify_bind_axis(v, v->node->attr[TC__FOR_AXIS]); // of an AXIS, too
}

// The place that a hole is asked for.
static int tc__verify_hole(tc__verifier *v) {
    const int64_t *attr = v->node->attr;
    for (int i = TC__HOLE_ROW; i <= (int)TC__HOLE_DEEP; i++)
        if (attr[i] >= 0 && !tc__verify_bind_axis(v, attr[i])) return 0;
    return 1;
}

static int tc__verify_open(tc__verifier *v) {
    if (v->depth == TC__VERIFY_DEPTH) return tc__verify_fail(v, "loops nest too deep");
    v->names[v->depth] = 0, v->open[v->depth++] = v->node->id;
    if (v->node->op == TC_OP_HOLE) return tc__verify_hole(v);
    return v->node->op != TC_OP_FOR || tc__verify_bind(v);
}

static int tc__verify_end(tc__verifier *v) {
    const tc__node *around = tc__innermost(v);
    if (!around) return tc__verify_fail(v, "nothing is open");
    if (v->node->attr[TC__END_AXIS] !=
        (around->op == TC_OP_FOR ? around->attr[TC__FOR_AXIS] : (int64_t)TC__END_BLOCK))
        return tc__verify_fail(v, "no such loop is innermost");
    v->depth--;
    return 1;
}

// From here on the ELSE is what is open: what its IF has computed and bound is over.
static int tc__verify_else(tc__verifier *v) {
    const tc__node *around = tc__innermost(v);
    if (!around || around->op != TC_OP_IF || !around->n_attr)
        return tc__verify_fail(v, "no if with predicates is innermost");
    v->open[v->depth - 1] = v->node->id, v->names[v->depth - 1] = 0;
    return 1;
}

static int tc__verify_loop(tc__verifier *v) {
    const tc__node *n = v->node, *loop = tc__innermost(v);
    int constant = n->op == TC_OP_CONST || n->op == TC_OP_ARG;
    v->scope[n->id] = loop ? loop->id + 1 : 0;
    for (uint32_t i = 0; i < n->n_in; i++)
        if (!tc__is_open(v, v->scope[n->in[i]]))
            return tc__verify_fail(v, "%%%u is computed inside a loop that is over",
                                   (unsigned)n->in[i]);
    if (tc__opens(n)) return tc__verify_open(v);
    if (n->op == TC_OP_AXIS) return tc__verify_bind(v);
    if (n->op == TC_OP_END) return tc__verify_end(v);
    if (n->op == TC_OP_ELSE) return tc__verify_else(v);
    if (n->op == TC_OP_ACC && n->n_attr != 2) return tc__verify_fail(v, "no accumulator");
    int64_t number, monoid;
    if (tc__accumulator_of(n, &number, &monoid))
        return tc__verify_accumulator(v, number, monoid);
    if (n->level == TC__AT_COL && !constant && !(tc__verify_bound(v) >> TC__COL & 1))
        return tc__verify_fail(v, "a column value outside the loop over the columns");
    return 1;
}

// ---- entry ----

static int tc__verify_node(tc__verifier *v, uint32_t i) {
    v->node = v->g->node.at[i];
    if (!tc__verify_common(v, i)) return 0;
    if (v->stage == TC__TENSOR) return tc__verify_tensor(v);
    if (!tc__verify_kernel_node(v)) return 0;
    return v->stage == TC__GROUP || tc__verify_loop(v);
}

// 1, or 0 with TC_E_INTERNAL that names the first node at fault.
static int tc__verify(tc_ctx *c, const tc__graph *g, tc__stage stage) {
    tc__verifier v;
    size_t n = g->node.count;
    memset(&v, 0, sizeof v);
    v.ctx = c, v.g = g, v.stage = stage;
    v.scope = TC__NEW_ARRAY(c, uint32_t, n);
    int ok = v.scope != NULL;
    for (uint32_t i = 0; ok && i < n; i++) ok = tc__verify_node(&v, i);
    if (ok && v.depth) ok = tc__verify_fail(&v, "a loop is not closed");
    if (ok && stage == TC__TENSOR) ok = tc__verify_composites(&v);
    tc__free(c, v.scope, (n ? n : 1) * sizeof *v.scope);
    return ok;
}

// What a stage has made, in debug builds: 1, or 0 with the verifier's error.
static int tc__checked(tc_ctx *c, const tc__graph *g, tc__stage stage) {
    return !TC__DEBUG || tc__verify(c, g, stage);
}
