// Operands of contractions as the host reads them: in place through pointers, or as windows of an image. Input: a list
// that ends in a contraction. Output: what is so; contract.c chooses blocks by it, lanes.c vectors.

enum {
    TC__WINDOWS_LEAST = 64,  // columns for each thread, of all batches, share packed rows;
    TC__WINDOWS_MOST = 1024, // fewer stand on a worker's stack, some 48 bytes each
    TC__WINDOWS_FEW = 16,    // so many of a batch are windows, too, where there are
    TC__WINDOWS_ROWS = 4,    //   so many vectors of rows;
    TC__WINDOWS_WEIGHTS_FROM = 33, // rows of a product that reads weights [columns, k] so
    TC__WINDOWS_WEIGHTS_TO = 256,
    TC__WINDOWS_PERIOD = 160, // most k until predicates are the same again
    TC__WINDOWS_TESTS = 12    // predicates of a load at most
};

static int tc__product_dtype(const tc__group *g) {
    return g->body.node.at[tc__left_of(g)]->dtype;
}

// Whether node `id` is a load of the product's own type that can be read through a pointer
// moving by a constant along k.
static int tc__is_plain(const tc__group *g, uint32_t id) {
    const tc__node *n = g->body.node.at[id];
    if (n->op != TC_OP_LOAD || n->n_attr > TC__LOAD_PREDICATES ||
        n->dtype != tc__product_dtype(g))
        return 0;
    if (!tc__is_own_class(n->dtype) || tc__ix_has_val(g->body.ix, n->attr[TC__LOAD_INDEX]))
        return 0;
    tc__ixrun run = tc__ix_run(g->body.ix, n->attr[TC__LOAD_INDEX], TC__DEPTH);
    return run.ok && run.run == INT64_MAX && tc__ix_is_const(run.stride);
}

// Whether it is read by vectors of columns.
static int tc__is_adjacent(const tc__group *g, uint32_t id) {
    tc__ixrun run =
        tc__ix_run(g->body.ix, g->body.node.at[id]->attr[TC__LOAD_INDEX], TC__COL);
    return run.ok && run.run == INT64_MAX && tc__ix_equals(run.stride, 1);
}

// How often the rows of the tile are gone through, at least.
static int tc__contract_phases(const tc__group *g) {
    if (tc__has_parts(g)) return 2;
    for (size_t i = 0; i < g->body.node.count; i++)
        if (g->body.node.at[i]->op == TC_OP_ACC || g->body.node.at[i]->op == TC_OP_COMBINE)
            return 2;
    for (size_t i = 0; i < g->buffer.count; i++)
        if (g->buffer.at[i].place == TC__BUF_ROW) return 2;
    return 1;
}

// ---- windows ----

// e without what k adds to it beyond k = 0.
static tc__ix tc__without_depth(tc__ixpool *x, tc__ix e) {
    tc__ix k = tc__ix_find_var(x, e, TC__DEPTH);
    return k ? tc__ix_subst(x, e, k, tc__ix_const(0)) : e;
}

// What k adds.
static tc__ix tc__of_depth(tc__ixpool *x, tc__ix e) {
    return tc__ix_sub(x, e, tc__without_depth(x, e));
}

// Whether e is a sum of what k adds, and the rest.
static int tc__is_depth_apart(tc__ixpool *x, tc__ix e) {
    tc__ix of = tc__of_depth(x, e);
    return !tc__ix_uses(x, of, TC__COL) && !tc__ix_uses(x, of, TC__ROW) &&
           !tc__ix_has_val(x, e);
}

// Whether what k adds is known to be an i32.
static int tc__is_depth_narrow(tc__ixpool *x, tc__ix e) {
    return tc__ix_is_i32(x, tc__of_depth(x, e));
}

// Whether node `id` is a load whose place and predicates are such sums.
static int tc__is_apart(const tc__group *g, uint32_t id) {
    const tc__node *n = g->body.node.at[id];
    tc__ixpool *x = g->body.ix;
    if (n->op != TC_OP_LOAD || n->dtype != tc__product_dtype(g) ||
        !tc__is_own_class(n->dtype) || tc__buffer_of(g, n)->place == TC__BUF_MADE ||
        n->attr[TC__LOAD_FILL] || n->n_attr > TC__LOAD_PREDICATES + 2 * TC__WINDOWS_TESTS)
        return 0;
    int apart = tc__is_depth_apart(x, n->attr[TC__LOAD_INDEX]);
    for (uint32_t i = TC__LOAD_PREDICATES; apart && i + 1 < n->n_attr; i += 2)
        apart = tc__is_depth_apart(x, n->attr[i]) && !tc__ix_names_of(x, n->attr[i + 1]);
    return apart;
}

// Whether it is one of windows: what k adds to a predicate's number is known.
static int tc__is_windows(const tc__group *g, uint32_t id) {
    const tc__node *n = g->body.node.at[id];
    if (!tc__is_apart(g, id)) return 0;
    for (uint32_t i = TC__LOAD_PREDICATES; i + 1 < n->n_attr; i += 2)
        if (!tc__is_depth_narrow(g->body.ix, n->attr[i])) return 0;
    return 1;
}

// Predicate i of a load.
static uint32_t tc__windows_tests(const tc__node *n) {
    return (n->n_attr - TC__LOAD_PREDICATES) / 2;
}

static tc__ix tc__windows_test(const tc__node *n, uint32_t i) {
    return n->attr[TC__LOAD_PREDICATES + 2 * i];
}

static tc__ix tc__windows_limit(const tc__node *n, uint32_t i) {
    return n->attr[TC__LOAD_PREDICATES + 2 * i + 1];
}

// After how many k e has the same values again: of digits of k the last one's. 0 = never, or not known.
static int64_t tc__depth_period(const tc__ixpool *x, tc__ix e) {
    if (tc__ix_is_const(e)) return 1;
    const tc__ixnode *n = tc__ix_node(x, e);
    if (n->kind == TC__IX_MOD && tc__ix_is_const(n->b) && !tc__ix_is_const(n->a)) {
        const tc__ixnode *of = tc__ix_node(x, n->a);
        int64_t m = tc__ix_value(n->b);
        if (of->kind == TC__IX_VAR) return m;
        if (of->kind != TC__IX_DIV || !tc__ix_is_const(of->b) || tc__ix_is_const(of->a))
            return 0;
        return tc__ix_node(x, of->a)->kind == TC__IX_VAR ? m * tc__ix_value(of->b) : 0;
    }
    int64_t all = n->kind == TC__IX_POLY;
    for (uint32_t i = 0; i < n->count && all; i++) {
        const tc__ixterm *t = &x->term.at[n->first + i];
        for (int k = 0; k < TC__IX_ATOMS && t->atom[k] && all; k++) {
            int64_t own = tc__depth_period(x, t->atom[k]);
            all = own && all % own == 0 ? all : own && own % all == 0 ? own : 0;
        }
    }
    return all;
}

// After how many k all predicates of the right operand are the same again, else its depth.
static int64_t tc__windows_period(const tc__group *g) {
    const tc__node *n = g->body.node.at[tc__right_of(g)];
    int64_t depth = tc__ix_value(tc__depth_of(g)), all = 1;
    for (uint32_t i = TC__LOAD_PREDICATES; i + 1 < n->n_attr; i += 2) {
        int64_t own = tc__depth_period(g->body.ix, tc__of_depth(g->body.ix, n->attr[i]));
        if (!own || (all % own && own % all) || own > TC__WINDOWS_PERIOD) return depth;
        if (own > all) all = own;
    }
    return all;
}

// Whether the left operand is the same for all batches, of m rows each.
static int tc__is_left_of_all(const tc__group *g, tc__ix m) {
    tc__ixpool *x = g->body.ix;
    tc__ix e = g->body.node.at[tc__left_of(g)]->attr[TC__LOAD_INDEX];
    tc__ix r = tc__ix_find_var(x, e, TC__ROW);
    return tc__ix_equals(g->shape.batch, 1) || !r ||
           tc__ix_subst(x, e, r, tc__ix_add(x, r, m)) == e;
}

// Whether there are enough columns for each thread to pack all rows. Images of any size are taken for large ones.
static int tc__has_many_windows(const tc__group *g) {
    tc__ixpool *x = g->body.ix;
    int threads = g->target.threads < 2 ? 2 : g->target.threads;
    int64_t least = (int64_t)TC__WINDOWS_LEAST * threads,
            cols = tc__ix_lo(x, g->shape.cols);
    if (least > TC__WINDOWS_MOST) least = TC__WINDOWS_MOST;
    if (!tc__ix_is_const(g->shape.cols)) cols = tc__ix_hi(x, g->shape.cols);
    return tc__ix_times(cols, tc__ix_lo(x, g->shape.batch)) >= least;
}

// Whether the right operand of a product of m rows is weights [columns, k] which are too many to pack for so few rows.
static int tc__is_weights(const tc__group *g, int64_t m) {
    tc__ixpool *x = g->body.ix;
    uint32_t id = tc__right_of(g);
    int threads = g->target.threads < 2 ? 2 : g->target.threads;
    if (!tc__is_plain(g, id) || m < TC__WINDOWS_WEIGHTS_FROM || m > TC__WINDOWS_WEIGHTS_TO)
        return 0;
    tc__ix at = g->body.node.at[id]->attr[TC__LOAD_INDEX];
    tc__ixrun run = tc__ix_run(x, at, TC__COL);
    return tc__ix_equals(tc__ix_run(x, at, TC__DEPTH).stride, 1) && run.ok &&
           run.run == INT64_MAX && tc__ix_is_const(run.stride) &&
           tc__ix_equals(g->shape.batch, 1) && tc__ix_is_const(g->shape.cols) &&
           tc__ix_value(g->shape.cols) >= m * threads;
}

// Whether the columns of a contraction are windows: many, or few and many rows, which then are packed by the thread
// that has them. Weights are columns of this kind as well. A vector has so many `lanes`.
static int tc__has_windows(const tc__group *g, int lanes) {
    if (g->shape.kind != TC__CONTRACTION || tc__contract_phases(g) != 1) return 0;
    tc__ix m = tc__ix_div(g->body.ix, g->shape.rows, g->shape.batch);
    int64_t rows = tc__ix_is_const(m) ? tc__ix_value(m) : 0;
    if (rows < lanes || !tc__ix_is_const(tc__depth_of(g))) return 0;
    int few = tc__ix_is_const(g->shape.cols) &&
              tc__ix_value(g->shape.cols) >= TC__WINDOWS_FEW &&
              rows >= TC__WINDOWS_ROWS * lanes;
    return (few || tc__has_many_windows(g)) && tc__is_plain(g, tc__left_of(g)) &&
           tc__is_left_of_all(g, m) &&
           (!tc__is_plain(g, tc__right_of(g)) || tc__is_weights(g, rows)) &&
           tc__is_windows(g, tc__right_of(g));
}

// The type of tables: how far k is from an element's place may be more than 32 bits say, where sizes are not known.
static const char *tc__table_type(const tc__group *g) {
    tc__ix at = g->body.node.at[tc__right_of(g)]->attr[TC__LOAD_INDEX];
    return tc__is_depth_narrow(g->body.ix, at) ? "tc_i32" : "tc_i64";
}
