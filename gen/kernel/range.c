// What is known of a value's range, so that a kernel may call the form of a function that
// leaves out cases which cannot happen: exp for arguments <= 0, log for normal positive ones.
// These give the same bits, so nothing depends on how much is found here.
//
// A range is about the numbers: NaN may always come too. It is read off the nodes above a
// value, a few levels deep: softmax's x - max(x), exp and its sum, sigmoid, squares.

typedef struct tc__range {
    double low, high;
} tc__range;

enum {
    TC__RANGE_DEPTH = 7
}; // levels looked at; a value that two paths reach is seen twice

static tc__range tc__range_of(const tc__group *g, uint32_t id, int depth);

static const double tc__far = 1e300; // stands for infinity

static tc__range tc__range_make(double low, double high) {
    tc__range r;
    r.low = low, r.high = high;
    return r;
}

static tc__range tc__range_any(void) { return tc__range_make(-tc__far, tc__far); }

// The STORE that fills scratch row b: what a later phase loads from it.
static const tc__node *tc__row_stored(const tc__group *g, int64_t b) {
    if (g->buffer.at[b].place != TC__BUF_ROW) return NULL;
    for (size_t i = 0; i < g->body.node.count; i++) {
        const tc__node *n = g->body.node.at[i];
        if (n->op == TC_OP_STORE && n->attr[TC__STORE_BUFFER] == b) return n;
    }
    return NULL;
}

// The node whose value n has: n itself, or what was kept in a scratch row.
static const tc__node *tc__value_origin(const tc__group *g, const tc__node *n) {
    const tc__node *s = n->op == TC_OP_LOAD && n->n_attr <= TC__LOAD_PREDICATES
                            ? tc__row_stored(g, n->attr[TC__LOAD_BUFFER])
                            : NULL;
    return s ? g->body.node.at[s->in[0]] : n;
}

// Whether two nodes have equal values at equal indices: phases compute cheap values again.
static int tc__same_value(const tc__group *g, uint32_t x, uint32_t y, int depth) {
    const tc__node *a = tc__value_origin(g, g->body.node.at[x]);
    const tc__node *b = tc__value_origin(g, g->body.node.at[y]);
    if (a == b) return 1;
    if (!depth || a->op != b->op || a->dtype != b->dtype || a->n_in != b->n_in) return 0;
    if (a->op == TC_OP_COMBINE || a->op == TC_OP_RANDOM || a->n_attr != b->n_attr) return 0;
    if (a->n_attr && memcmp(a->attr, b->attr, a->n_attr * sizeof *a->attr)) return 0;
    for (uint32_t i = 0; i < a->n_in; i++)
        if (!tc__same_value(g, a->in[i], b->in[i], depth - 1)) return 0;
    return 1;
}

// The ACC of accumulator `at`.
static const tc__node *tc__acc_of(const tc__group *g, int64_t at) {
    for (size_t i = 0; i < g->body.node.count; i++) {
        const tc__node *n = g->body.node.at[i];
        if (n->op == TC_OP_ACC && n->attr[TC__ACC_ACCUMULATOR] == at) return n;
    }
    return NULL;
}

// The extremum of row values of `monoid` that node y is, over the values of node x.
static int tc__is_extremum_of(const tc__group *g, uint32_t y, tc__op monoid, uint32_t x) {
    const tc__node *n = g->body.node.at[y];
    const tc__node *acc =
        n->op == TC_OP_COMBINE ? tc__acc_of(g, n->attr[TC__COMBINE_ACCUMULATOR]) : NULL;
    return acc && acc->attr[TC__ACC_MONOID] == (int64_t)monoid &&
           tc__same_value(g, acc->in[0], x, TC__RANGE_DEPTH);
}

static double tc__range_min(double a, double b) { return a < b ? a : b; }
static double tc__range_max(double a, double b) { return a > b ? a : b; }

// ---- a row per op: the range of the result from those of the operands ----

typedef tc__range (*tc__range_fn)(tc__range a, tc__range b);

static tc__range tc__range_neg(tc__range a, tc__range b) {
    (void)b;
    return tc__range_make(-a.high, -a.low);
}

static tc__range tc__range_add(tc__range a, tc__range b) {
    tc__range r = tc__range_make(a.low + b.low, a.high + b.high);
    return r.low == r.low && r.high == r.high ? r : tc__range_any();
}

static tc__range tc__range_sub(tc__range a, tc__range b) {
    return tc__range_add(a, tc__range_neg(b, b));
}

static tc__range tc__range_mul(tc__range a, tc__range b) {
    if (a.low < 0 || b.low < 0) return tc__range_any();
    tc__range r = tc__range_make(a.low * b.low, a.high * b.high);
    return r.low == r.low && r.high == r.high ? r : tc__range_make(0, tc__far);
}

static tc__range tc__range_div(tc__range a, tc__range b) {
    if (a.low < 0 || b.low < 0) return tc__range_any();
    return tc__range_make(0, tc__far);
}

static tc__range tc__range_abs(tc__range a, tc__range b) {
    (void)b;
    return tc__range_make(0, tc__range_max(-a.low, a.high));
}

static tc__range tc__range_maximum(tc__range a, tc__range b) {
    return tc__range_make(tc__range_max(a.low, b.low), tc__range_max(a.high, b.high));
}

static tc__range tc__range_minimum(tc__range a, tc__range b) {
    return tc__range_make(tc__range_min(a.low, b.low), tc__range_min(a.high, b.high));
}

static tc__range tc__range_relu(tc__range a, tc__range b) {
    (void)b;
    return tc__range_maximum(a, tc__range_make(0, 0));
}

static tc__range tc__range_positive(tc__range a, tc__range b) {
    (void)a, (void)b;
    return tc__range_make(0, tc__far);
}

static tc__range tc__range_exp(tc__range a, tc__range b) {
    (void)b;
    return tc__range_make(0, a.high <= 0 ? 1 : tc__far);
}

static tc__range tc__range_unit(tc__range a, tc__range b) {
    (void)a, (void)b;
    return tc__range_make(0, 1);
}

static const struct {
    tc__op op;
    tc__range_fn range;
} tc__range_rows[] = {
    {TC_OP_NEG, tc__range_neg},         {TC_OP_ADD, tc__range_add},
    {TC_OP_SUB, tc__range_sub},         {TC_OP_MUL, tc__range_mul},
    {TC_OP_DIV, tc__range_div},         {TC_OP_ABS, tc__range_abs},
    {TC_OP_MAXIMUM, tc__range_maximum}, {TC_OP_MINIMUM, tc__range_minimum},
    {TC_OP_RELU, tc__range_relu},       {TC_OP_SQRT, tc__range_positive},
    {TC_OP_EXP, tc__range_exp},         {TC_OP_SIGMOID, tc__range_unit},
};

static tc__range tc__range_of_acc(const tc__group *g, const tc__node *n, int depth) {
    const tc__node *acc = tc__acc_of(g, n->attr[TC__COMBINE_ACCUMULATOR]);
    tc__range r = acc ? tc__range_of(g, acc->in[0], depth) : tc__range_any();
    if (n->attr[TC__COMBINE_MONOID] == TC_OP_MAXIMUM ||
        n->attr[TC__COMBINE_MONOID] == TC_OP_MINIMUM)
        return tc__range_any(); // of no element: an infinity
    if (n->attr[TC__COMBINE_MONOID] == TC_OP_ADD && r.low >= 0)
        return tc__range_make(0, tc__far);
    return tc__range_any();
}

static tc__range tc__range_of_op(const tc__group *g, const tc__node *n, int depth) {
    tc__range in[2];
    in[0] = in[1] = tc__range_any();
    if (n->op == TC_OP_RECIPROCAL && tc__range_of(g, n->in[0], depth).low >= 0)
        return tc__range_make(0, tc__far);
    if (n->op == TC_OP_SUB && tc__is_extremum_of(g, n->in[1], TC_OP_MAXIMUM, n->in[0]))
        return tc__range_make(-tc__far, 0);
    if (n->op == TC_OP_MUL && n->in[0] == n->in[1]) return tc__range_make(0, tc__far);
    for (size_t i = 0; i < TC__COUNT(tc__range_rows); i++) {
        if ((int)tc__range_rows[i].op != n->op) continue;
        for (uint32_t k = 0; k < n->n_in && k < 2; k++)
            in[k] = tc__range_of(g, n->in[k], depth);
        return tc__range_rows[i].range(in[0], in[1]);
    }
    return tc__range_any();
}

static tc__range tc__range_of(const tc__group *g, uint32_t id, int depth) {
    const tc__node *n = tc__value_origin(g, g->body.node.at[id]);
    if (n->dtype != TC_F32 || !depth) return tc__range_any();
    if (n->op == TC_OP_CONST) {
        tc__value v;
        memcpy(&v, &n->attr[TC__CONST_BITS], sizeof v);
        return v.f == v.f ? tc__range_make(v.f, v.f) : tc__range_any();
    }
    if (n->op == TC_OP_COMBINE) return tc__range_of_acc(g, n, depth - 1);
    return tc__range_of_op(g, n, depth - 1);
}

// The form of n's function that its operand allows: "exp_neg", "log_pos"; NULL = the general.
static const char *tc__ranged_form(const tc__group *g, const tc__node *n) {
    if (n->dtype != TC_F32 || (n->op != TC_OP_EXP && n->op != TC_OP_LOG)) return NULL;
    tc__range r = tc__range_of(g, n->in[0], TC__RANGE_DEPTH);
    if (n->op == TC_OP_EXP) return r.high <= 0 ? "exp_neg" : NULL;
    return r.low >= 4e-38 ? "log_pos" : NULL; // 2^-126 and what the sums above may lose
}
