// Functions of fewer instructions, where what is known of a value allows them. Input: a LOOP list.
//
//   halves   a result of 16 bits, or one whose every way to memory rounds it to such: functions that
//            are accurate to 2^-13, tanh of bf16 to 2^-11, a quarter of its last place
//   shifted  e^(x - m), where m is the maximum of x: it is at most 1, and below 2^-126 it is 0
//   added    tanh that is only added to a number of about 1 or more: what is near 0 need not be
//            accurate in all its places
//   itself   what 0 is added to and is never -0, as a gradient of a softmax is where no target is
//   normal   log of what is known to be at least 2^-126: numbers without a place in a float, zero and
//            negative ones are not asked for
//
// All are found from the list alone, so a text depends on nothing else.
//
// All is found from the list, so the text is the same wherever it is printed. On an H200:
// entropy 0.67 to 0.85 of a copy's speed, softmax of 50304 columns 0.78 to 0.97.

// What is not in the list is as for f32. `passes` = of an f32, too, that is rounded in the end: not of ops
// whose f32 results are the nearest number, and so the same everywhere.
static const struct {
    tc__op op;
    const char *f16, *bf16;
    int passes;
} tc__cuda_half_functions[] = {{TC_OP_EXP, "exp_half", "exp_half", 1},
                               {TC_OP_EXP2, "exp2_half", "exp2_half", 1},
                               {TC_OP_LOG, "log_half", "log_half", 0},
                               {TC_OP_LOG2, "log2_half", "log2_half", 0},
                               {TC_OP_SIN, "sin_half", "sin_half", 0},
                               {TC_OP_COS, "cos_half", "cos_half", 0},
                               {TC_OP_TANH, "tanh_half", "tanh_bf16", 0},
                               {TC_OP_SIGMOID, "sigmoid_half", "sigmoid_half", 1},
                               {TC_OP_SILU, "silu_half", "silu_half", 1},
                               {TC_OP_ERF, "erf_half", "erf_half", 1},
                               {TC_OP_GELU, "gelu_half", "gelu_half", 1},
                               {TC_OP_GELU_TANH, "gelu_tanh_half", "gelu_tanh_half", 0},
                               {TC_OP_DIV, "div_half", "div_half", 0},
                               {TC_OP_RECIPROCAL, "rcp_half", "rcp_half", 0},
                               {TC_OP_SQRT, "sqrt_half", "sqrt_half", 0},
                               {TC_OP_RSQRT, "rsqrt_half", "rsqrt_half", 0}};

enum { TC__FACT_DEPTH = 12 }; // nodes that are followed for one question

// No bound, and the least number that has its place in a float.
static const double TC__FACT_NONE = -1.7976931348623157e308,
                    TC__FACT_NORMAL = 1.1754943508222875e-38;

// ---- bounds ----

static const tc__node *tc__fact_node(const tc__group *g, uint32_t id) {
    return g->body.node.at[id];
}

static double tc__fact_least(const tc__group *g, uint32_t id, int depth);

static double tc__fact_least_of_memory(const tc__group *g, const tc__node *n, int depth) {
    const tc__node *fill = tc__is_memory(tc__buffer_of(g, n))
                               ? NULL
                               : tc__device_fills(g, n->attr[TC__LOAD_BUFFER]);
    return fill ? tc__fact_least(g, fill->in[0], depth) : TC__FACT_NONE;
}

static double tc__fact_least_of_sum(const tc__group *g, const tc__node *n, int depth) {
    const tc__node *step = tc__acc_of(g, n->attr[TC__COMBINE_ACCUMULATOR]);
    int sum = n->attr[TC__COMBINE_MONOID] == TC_OP_ADD,
        most = n->attr[TC__COMBINE_MONOID] == TC_OP_MAXIMUM;
    if (!step || (!sum && !most)) return TC__FACT_NONE;
    double least = tc__fact_least(g, step->in[0], depth);
    return sum && least > 0 ? 0 : least; // there may be nothing to add
}

static double tc__fact_least_of_two(const tc__group *g, const tc__node *n, int depth) {
    double a = tc__fact_least(g, n->in[0], depth), b = tc__fact_least(g, n->in[1], depth);
    if (n->op == TC_OP_ADD) return a + b;
    if (n->op == TC_OP_MAXIMUM) return a > b ? a : b;
    if (n->op == TC_OP_MUL && n->in[0] == n->in[1]) return 0;
    return a >= 0 && b >= 0 ? 0 : TC__FACT_NONE; // MUL, DIV
}

static double tc__fact_least_of_one(const tc__group *g, const tc__node *n, int depth) {
    double a = tc__fact_least(g, n->in[0], depth);
    return n->op == TC_OP_CAST ? a : a >= 0 ? 0 : TC__FACT_NONE; // CAST, RECIPROCAL
}

static double tc__fact_least_of_const(const tc__group *g, const tc__node *n, int depth) {
    (void)g, (void)depth;
    return tc__const_value(n).f;
}

static double tc__fact_least_is_zero(const tc__group *g, const tc__node *n, int depth) {
    (void)g, (void)n, (void)depth;
    return 0;
}

static const struct {
    tc__op op;
    double (*least)(const tc__group *g, const tc__node *n, int depth);
} tc__fact_bounds[] = {
    {TC_OP_CONST, tc__fact_least_of_const},    {TC_OP_EXP, tc__fact_least_is_zero},
    {TC_OP_EXP2, tc__fact_least_is_zero},      {TC_OP_SIGMOID, tc__fact_least_is_zero},
    {TC_OP_SQRT, tc__fact_least_is_zero},      {TC_OP_ABS, tc__fact_least_is_zero},
    {TC_OP_RECIPROCAL, tc__fact_least_of_one}, {TC_OP_CAST, tc__fact_least_of_one},
    {TC_OP_ADD, tc__fact_least_of_two},        {TC_OP_MUL, tc__fact_least_of_two},
    {TC_OP_DIV, tc__fact_least_of_two},        {TC_OP_MAXIMUM, tc__fact_least_of_two},
    {TC_OP_LOAD, tc__fact_least_of_memory},    {TC_OP_COMBINE, tc__fact_least_of_sum}};

// What value `id` is not below, unless it is NaN.
static double tc__fact_least(const tc__group *g, uint32_t id, int depth) {
    const tc__node *n = tc__fact_node(g, id);
    if (!depth-- || !tc__is_float(n->dtype)) return TC__FACT_NONE;
    for (size_t i = 0; i < TC__COUNT(tc__fact_bounds); i++)
        if ((int)tc__fact_bounds[i].op == n->op)
            return tc__fact_bounds[i].least(g, n, depth);
    return TC__FACT_NONE;
}

// ---- equal values ----

// The value that the thread has put where node id loads it from, else the node itself.
static const tc__node *tc__fact_held(const tc__group *g, uint32_t id) {
    const tc__node *n = tc__fact_node(g, id);
    if (n->op != TC_OP_LOAD || tc__is_memory(tc__buffer_of(g, n))) return n;
    const tc__node *fill = tc__device_fills(g, n->attr[TC__LOAD_BUFFER]);
    if (!fill || fill->attr[TC__STORE_INDEX] != n->attr[TC__LOAD_INDEX]) return n;
    return tc__fact_node(g, fill->in[0]);
}

static const tc__node *tc__fact_copy(const tc__group *g, int64_t buffer) {
    for (size_t i = 0; i < g->body.node.count; i++) {
        const tc__node *n = g->body.node.at[i];
        if (n->op == TC_OP_COPY && n->attr[TC__COPY_BUFFER] == buffer) return n;
    }
    return NULL;
}

// Whether x and y load the same element of what was copied from the same place.
static int tc__fact_same_copy(const tc__group *g, const tc__node *x, const tc__node *y) {
    tc__ixpool *ix = g->body.ix;
    if (x->op != TC_OP_LOAD || y->op != TC_OP_LOAD) return 0;
    const tc__node *a = tc__fact_copy(g, x->attr[TC__LOAD_BUFFER]),
                   *b = tc__fact_copy(g, y->attr[TC__LOAD_BUFFER]);
    return a && b && a->attr[TC__COPY_FROM] == b->attr[TC__COPY_FROM] &&
           a->attr[TC__COPY_SOURCE] == b->attr[TC__COPY_SOURCE] &&
           tc__ix_sub(ix, x->attr[TC__LOAD_INDEX], a->attr[TC__COPY_INDEX]) ==
               tc__ix_sub(ix, y->attr[TC__LOAD_INDEX], b->attr[TC__COPY_INDEX]);
}

// Whether a and b are computed alike, at whatever place of the list.
static int tc__fact_same(const tc__group *g, uint32_t a, uint32_t b, int depth) {
    const tc__node *x = tc__fact_held(g, a), *y = tc__fact_held(g, b);
    if (x == y || tc__fact_same_copy(g, x, y)) return 1;
    if (!depth-- || x->op != y->op || x->dtype != y->dtype || x->n_in != y->n_in ||
        x->n_attr != y->n_attr)
        return 0;
    if (!tc__is_alu(x) && x->op != TC_OP_LOAD && x->op != TC_OP_CAST &&
        x->op != TC_OP_CONST && x->op != TC_OP_VALID && x->op != TC_OP_INDEX)
        return 0;
    for (uint32_t i = 0; i < x->n_attr; i++)
        if (x->attr[i] != y->attr[i]) return 0;
    for (uint32_t i = 0; i < x->n_in; i++)
        if (!tc__fact_same(g, x->in[i], y->in[i], depth)) return 0;
    return 1;
}

// x - m, m the maximum of x.
static int tc__fact_is_shifted(const tc__group *g, const tc__node *n) {
    if (n->op != TC_OP_SUB) return 0;
    const tc__node *m = tc__fact_held(g, n->in[1]);
    if (m->op != TC_OP_COMBINE || m->attr[TC__COMBINE_MONOID] != TC_OP_MAXIMUM) return 0;
    const tc__node *step = tc__acc_of(g, m->attr[TC__COMBINE_ACCUMULATOR]);
    return step && tc__fact_same(g, n->in[0], step->in[0], TC__FACT_DEPTH);
}

// ---- what has no sign ----

// Whether value `id` is NaN, or has no sign: 0 added to it is itself. A bound does not tell: -0 is not below 0.
static int tc__fact_is_unsigned(const tc__group *g, uint32_t id, int depth) {
    const tc__node *n = tc__fact_node(g, id);
    if (!depth-- || n->dtype != TC_F32) return 0;
    if (n->op == TC_OP_EXP || n->op == TC_OP_EXP2 || n->op == TC_OP_ABS) return 1;
    if (n->op == TC_OP_CONST) return tc__const_value(n).i >= 0; // the sign is the first bit
    if (n->op == TC_OP_COMBINE) {
        const tc__node *step = tc__acc_of(g, n->attr[TC__COMBINE_ACCUMULATOR]);
        return step && n->attr[TC__COMBINE_MONOID] == TC_OP_ADD &&
               tc__fact_is_unsigned(g, step->in[0], depth);
    }
    if (n->op != TC_OP_ADD && n->op != TC_OP_MUL && n->op != TC_OP_DIV) return 0;
    return tc__fact_is_unsigned(g, n->in[0], depth) &&
           tc__fact_is_unsigned(g, n->in[1], depth);
}

static int tc__fact_is_zero(const tc__node *n) {
    return n->op == TC_OP_CONST && n->dtype == TC_F32 && tc__const_value(n).f == 0;
}

// The operand that n is, since the other one is 0; n->n_in = there is none.
static uint32_t tc__fact_itself(const tc__group *g, const tc__node *n) {
    if (n->op != TC_OP_ADD || n->dtype != TC_F32) return n->n_in;
    for (uint32_t k = 0; k < 2; k++)
        if (tc__fact_is_zero(tc__fact_node(g, n->in[!k])) &&
            tc__fact_is_unsigned(g, n->in[k], TC__FACT_DEPTH))
            return k;
    return n->n_in;
}

// ---- what is rounded in the end ----

// Ops whose result is as accurate as what they are given, beside a rounding.
static int tc__fact_passes(const tc__node *n, uint32_t operand) {
    if (n->op == TC_OP_WHERE) return operand > 0;
    return n->op == TC_OP_MUL || n->op == TC_OP_DIV || n->op == TC_OP_RECIPROCAL ||
           n->op == TC_OP_NEG || n->op == TC_OP_ABS || n->op == TC_OP_SQRT ||
           n->op == TC_OP_RSQRT;
}

typedef enum tc__fact_use { TC__USE_EXACT, TC__USE_ROUNDS, TC__USE_PASSES } tc__fact_use;

// What n makes of operand k, which is not accurate.
static tc__fact_use tc__fact_use_of(const tc__group *g, const tc__node *n, uint32_t k) {
    if (n->op == TC_OP_CAST && tc__is_half(n->dtype)) return TC__USE_ROUNDS;
    if (n->op == TC_OP_STORE)
        return tc__device_is_row(g, n->attr[TC__STORE_BUFFER]) ? TC__USE_PASSES
                                                               : TC__USE_EXACT;
    if (n->dtype != TC_F32) return TC__USE_EXACT;
    if (n->op != TC_OP_ACC) return tc__fact_passes(n, k) ? TC__USE_PASSES : TC__USE_EXACT;
    if (n->attr[TC__ACC_MONOID] == TC_OP_MAXIMUM) return TC__USE_PASSES;
    return n->attr[TC__ACC_MONOID] == TC_OP_ADD &&
                   tc__fact_least(g, n->in[0], TC__FACT_DEPTH) >= 0
               ? TC__USE_PASSES // nothing cancels
               : TC__USE_EXACT;
}

// Whether n takes a value that is marked: from a row, an accumulator, or as an operand, `k`.
static int tc__fact_takes(const tc__node *n, const uint8_t *values, const uint8_t *rows,
                          const uint8_t *sums, uint32_t *k) {
    if (n->op == TC_OP_FOR || n->op == TC_OP_END || n->op == TC_OP_NEW) return 0;
    if (n->op == TC_OP_LOAD) return rows[n->attr[TC__ACCESS_BUFFER]];
    if (n->op == TC_OP_COMBINE) return sums[n->attr[TC__COMBINE_ACCUMULATOR]];
    for (*k = 0; *k < n->n_in; (*k)++)
        if (values[n->in[*k]]) return 1;
    return 0;
}

// Whether all that is made of value `id` is rounded to halves before it reaches memory. mark[]: for
// values, buffers and accumulators, all 0.
static int tc__fact_follow(const tc__group *g, uint32_t id, uint8_t *mark) {
    size_t count = g->body.node.count;
    uint8_t *rows = mark + count, *sums = rows + g->buffer.count;
    int rounded = 0;
    mark[id] = 1;
    for (size_t i = id + 1; i < count; i++) {
        const tc__node *n = g->body.node.at[i];
        uint32_t k = 0;
        if (!tc__fact_takes(n, mark, rows, sums, &k)) continue;
        int made = n->op == TC_OP_LOAD || n->op == TC_OP_COMBINE;
        tc__fact_use use = made ? TC__USE_PASSES : tc__fact_use_of(g, n, k);
        if (use == TC__USE_EXACT) return 0;
        rounded |= use == TC__USE_ROUNDS;
        if (use == TC__USE_ROUNDS) continue;
        if (n->op == TC_OP_STORE)
            rows[n->attr[TC__ACCESS_BUFFER]] = 1;
        else if (n->op == TC_OP_ACC)
            sums[n->attr[TC__ACC_ACCUMULATOR]] = 1;
        else
            mark[i] = 1;
    }
    return rounded;
}

// Whether halves that a product computes itself, as scores of attention, may be made by such functions.
static int tc__fact_of_product(const tc__group *g) {
    for (size_t i = 0; i < g->body.node.count; i++) {
        const tc__node *n = g->body.node.at[i];
        if (n->op == TC_OP_TEMPLATE && n->attr[TC__TEMPLATE_NAME] == TC__TEMPLATE_CHAIN)
            return 1;
    }
    return g->shape.kind != TC__CONTRACTION;
}

static int tc__fact_is_rounded(const tc__printer *p, const tc__node *n) {
    const tc__group *g = p->g;
    size_t marks = g->body.node.count + g->buffer.count + TC__PRINT_ACCS;
    if (n->dtype != TC_F32 || !tc__fact_of_product(g)) return 0;
    uint8_t *mark = TC__NEW_ARRAY(p->out->ctx, uint8_t, marks);
    if (!mark) {
        p->out->failed = 1;
        return 0;
    }
    int rounded = tc__fact_follow(g, n->id, mark);
    tc__free(p->out->ctx, mark, marks);
    return rounded;
}

// ---- what is only added ----

static int tc__fact_is_large(const tc__node *n) {
    return n->op == TC_OP_CONST &&
           (tc__const_value(n).f >= 0.5 || tc__const_value(n).f <= -0.5);
}

// Whether all that is made of value `id` is its sum with a number that is not small.
static int tc__fact_is_added(const tc__group *g, uint32_t id) {
    int added = 0;
    for (size_t i = id + 1; i < g->body.node.count; i++) {
        const tc__node *n = g->body.node.at[i];
        if (n->op == TC_OP_FOR || n->op == TC_OP_END) continue;
        for (uint32_t k = 0; k < n->n_in; k++) {
            if (n->in[k] != id) continue;
            if (n->op != TC_OP_ADD || !tc__fact_is_large(tc__fact_node(g, n->in[!k])))
                return 0;
            added = 1;
        }
    }
    return added && g->shape.kind != TC__CONTRACTION;
}

// ---- the choice ----

static const char *tc__cuda_fast_f32(const tc__printer *p, const tc__node *n) {
    if (n->op == TC_OP_EXP && tc__fact_is_shifted(p->g, tc__body(p, n->in[0])))
        return "exp_shifted";
    if (n->op == TC_OP_TANH && tc__fact_is_added(p->g, n->id)) return "tanh_added";
    if (n->op == TC_OP_LOG &&
        tc__fact_least(p->g, n->in[0], TC__FACT_DEPTH) >= TC__FACT_NORMAL)
        return "log_normal";
    return NULL;
}

// The function that computes n, NULL = that of ops.def.
static const char *tc__cuda_fast_name(const tc__printer *p, const tc__node *n) {
    for (size_t i = 0; i < TC__COUNT(tc__cuda_half_functions); i++) {
        if ((int)tc__cuda_half_functions[i].op != n->op) continue;
        if (n->dtype == TC_BF16) return tc__cuda_half_functions[i].bf16;
        if (n->dtype == TC_F16 ||
            (tc__cuda_half_functions[i].passes && tc__fact_is_rounded(p, n)))
            return tc__cuda_half_functions[i].f16;
    }
    return n->dtype == TC_F32 ? tc__cuda_fast_f32(p, n) : NULL;
}

static void tc__cuda_fast(tc__printer *p, const tc__node *n, int copy) {
    const char *name = tc__cuda_fast_name(p, n);
    if (!name) {
        tc__print_alu(p, n, copy);
        return;
    }
    tc__put_let(p, n, copy);
    tc__put(p->out, "tc_%s(", name);
    for (uint32_t k = 0; k < n->n_in; k++) {
        if (k) tc__put(p->out, ", ");
        tc__put_value(p, n->in[k], copy);
    }
    tc__put(p->out, ");\n");
}

static void tc__cuda_add(tc__printer *p, const tc__node *n, int copy) {
    uint32_t itself = tc__fact_itself(p->g, n);
    if (itself == n->n_in) {
        tc__print_alu(p, n, copy);
        return;
    }
    tc__put_let(p, n, copy);
    tc__put_value(p, n->in[itself], copy);
    tc__put(p->out, ";\n");
}
