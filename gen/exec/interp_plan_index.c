// From the index expressions of a LOOP list to those of the interpreter's program, and how they move: what
// exec/interp_plan.c makes loads, stores and predicates of.
//
// Short rows of what is computed element by element stand behind one another in a block,
// with expressions over the column of all (tc__plan_flat): max-pooling of 8 x 16 x 56 x 56
// takes a quarter of what it took row by row.

enum {
    TC__PLAN_LOOPS = 16,             // nested
    TC__PLAN_SHORT_ROW = 128,        // up to here rows stand behind one another in a block
    TC__PLAN_SHORT_RUN = 4,          // shorter runs are done in combs, or lane by lane
    TC__PLAN_SHORT_STRETCH = 8,      // the runs of shorter stretches are asked one by one
    TC__PLAN_COMB_RUN = 16,          // a comb has runs of at least this many
    TC__PLAN_COMB_LIMITS = 8,        //   and at most so many predicates
    TC__PLAN_BYTES = 48 * 1024,      // of all blocks: what a first-level cache holds
    TC__PLAN_ROWS_BYTES = 768 * 1024 // of accumulators and rows when vectors run along rows
};

typedef struct tc__planner {
    tc_ctx *ctx;
    tc__group *g;
    tc__interp *p;
    tc__axis axis; // of the section at hand
    tc__ix
        flat; // the column of all rows, where they stand behind one another; 0: they do not
    uint8_t *uniform; // by node
    uint32_t *last;   // by node: position of the last use
    uint32_t *where;  // by node: the use a LOAD is planned just before; 0: none
    uint32_t *slot;   // by node: block register
    uint8_t *alive;   // by node: it holds its slot; 2: it mostly is one vector
    uint8_t *stored;  // by node: stores are its only uses
    uint8_t *narrow;  // by node: an INDEX whose register is of i32
    uint32_t *uses;   // by node: operands that it is; more where it is an index, too
    uint32_t *
        tree; // by node: 1 + the root of the tree of choices it is in, or the ACC or FMA whose instruction makes it; 0: none
    size_t *home;      // by node: bytes into scratch
    uint32_t *loop_of; // by node: loop number of FOR, and of the loop around an ACC
    int loops_around;
    uint32_t around[TC__PLAN_LOOPS]; // loops open here, outermost first
    uint32_t *loop_node, *loop_end;  // by loop: FOR and END
    TC__VEC(uint32_t) free4;         // slots of 4-byte and 8-byte classes
    TC__VEC(uint32_t) free8;
    uint32_t slots4, slots8;
    int64_t touched; // bytes of the values alive at a time, for an element of a block
    size_t used;     // bytes of scratch
    int failed;
} tc__planner;

static const tc__node *tc__plan_node(const tc__planner *b, uint32_t i) {
    return b->g->body.node.at[i];
}

static void tc__plan_fail(tc__planner *b, const tc__node *n, const char *why) {
    b->failed = 1;
    tc__fail(b->ctx, TC_E_INTERNAL, "interpreter: node %u (op %u, dtype %u): %s", n->id,
             n->op, n->dtype, why);
}

// ---- index expressions

static void tc__plan_step(tc__planner *b, tc__expr_op op, int64_t a) {
    tc__expr_step s;
    memset(&s, 0, sizeof s); // programs are compared
    s.op = op, s.a = a;
    if (!TC__PUSH(b->ctx, b->p->steps, s)) b->failed = 1;
}

static int tc__plan_expr_steps(tc__planner *b, tc__ix e);

// coef * atom * ..., returns the stack it takes.
static int tc__plan_term_steps(tc__planner *b, const tc__ixterm *t) {
    int most = 0;
    for (int k = 0; k < TC__IX_ATOMS && t->atom[k]; k++) {
        int deep = !!k + tc__plan_expr_steps(b, t->atom[k]);
        most = deep > most ? deep : most;
        if (k) tc__plan_step(b, TC__EXPR_MUL, 0);
    }
    if (t->coef != 1) tc__plan_step(b, TC__EXPR_MUL_K, t->coef);
    return most;
}

// base + terms
static int tc__plan_sum_steps(tc__planner *b, const tc__ixnode *n) {
    int most = 1;
    for (uint32_t i = 0; i < n->count; i++) {
        tc__ixterm t = b->g->body.ix->term.at[n->first + i];
        int deep = !!i + tc__plan_term_steps(b, &t);
        most = deep > most ? deep : most;
        if (i) tc__plan_step(b, TC__EXPR_ADD, 0);
    }
    if (!n->count) tc__plan_step(b, TC__EXPR_CONST, n->base);
    if (n->count && n->base) tc__plan_step(b, TC__EXPR_ADD_K, n->base);
    return most;
}

static int tc__plan_pair_steps(tc__planner *b, const tc__ixnode *n, tc__expr_op op,
                               tc__expr_op by_constant) {
    int x = tc__plan_expr_steps(b, n->a);
    if (by_constant != op && tc__ix_is_const(n->b) && tc__ix_value(n->b) > 0) {
        tc__plan_step(b, by_constant, tc__ix_value(n->b));
        return x;
    }
    int y = 1 + tc__plan_expr_steps(b, n->b);
    tc__plan_step(b, op, 0);
    return x > y ? x : y;
}

static int tc__plan_expr_steps(tc__planner *b, tc__ix e) {
    if (tc__ix_is_const(e)) {
        tc__plan_step(b, TC__EXPR_CONST, tc__ix_value(e));
        return 1;
    }
    tc__ixnode n = *tc__ix_node(b->g->body.ix, e);
    switch (n.kind) {
    case TC__IX_SYM: tc__plan_step(b, TC__EXPR_SYM, n.a); return 1;
    case TC__IX_VAR: tc__plan_step(b, TC__EXPR_VAR, n.a); return 1;
    case TC__IX_VAL: tc__plan_step(b, TC__EXPR_VAL, n.a); return 1;
    case TC__IX_DIV: return tc__plan_pair_steps(b, &n, TC__EXPR_DIV, TC__EXPR_DIV_K);
    case TC__IX_MOD: return tc__plan_pair_steps(b, &n, TC__EXPR_MOD, TC__EXPR_MOD_K);
    case TC__IX_MIN: return tc__plan_pair_steps(b, &n, TC__EXPR_MIN, TC__EXPR_MIN);
    case TC__IX_POLY: break;
    }
    return tc__plan_sum_steps(b, &n);
}

// Adds coef * atom to the affine part of an expression; 0 = it is none of a variable.
static int tc__plan_affine_term(const tc__planner *b, tc__expr *e, tc__ix atom,
                                int64_t coef) {
    if (tc__ix_is_const(atom)) return 0;
    const tc__ixnode *n = tc__ix_node(b->g->body.ix, atom);
    if (n->kind != TC__IX_VAR) return 0;
    e->coef[n->a] += coef;
    return 1;
}

// The affine part of e to `out`, steps of the rest to the program. Returns the stack they take.
static int tc__plan_parts(tc__planner *b, tc__ix e, tc__expr *out) {
    int most = 0, terms = 0;
    if (tc__ix_is_const(e)) {
        out->base = tc__ix_value(e);
        return 0;
    }
    tc__ixnode n = *tc__ix_node(b->g->body.ix, e);
    if (n.kind != TC__IX_POLY)
        return tc__plan_affine_term(b, out, e, 1) ? 0 : tc__plan_expr_steps(b, e);
    out->base = n.base;
    for (uint32_t i = 0; i < n.count; i++) {
        tc__ixterm t = b->g->body.ix->term.at[n.first + i];
        if (!t.atom[1] && tc__plan_affine_term(b, out, t.atom[0], t.coef)) continue;
        int deep = !!terms + tc__plan_term_steps(b, &t);
        most = deep > most ? deep : most;
        if (terms++) tc__plan_step(b, TC__EXPR_ADD, 0);
    }
    return most;
}

// The number of the program of e, whose steps were written last; those of one that is there go again.
// What a program has from values of the list is not remembered.
static void tc__plan_keep(tc__planner *b, tc__ix ix, tc__expr *e) {
    tc__interp *p = b->p;
    size_t bytes = e->count * sizeof *p->steps.at;
    e->kept = UINT32_MAX;
    if (!e->count || b->failed || tc__ix_has_val(b->g->body.ix, ix)) return;
    for (size_t i = 0; i < p->kept.count; i++) {
        const tc__expr *k = &p->kept.at[i];
        if (k->count != e->count ||
            memcmp(p->steps.at + k->first, p->steps.at + e->first, bytes))
            continue;
        p->steps.count = e->first;
        e->first = k->first, e->kept = (uint32_t)i;
        return;
    }
    e->kept = (uint32_t)p->kept.count;
    if (!TC__PUSH(b->ctx, p->kept, *e)) b->failed = 1;
}

// An index expression of a list whose rows stand behind one another in a block: over the column of all.
static tc__ix tc__plan_flat(tc__planner *b, tc__ix e) {
    tc__ixpool *x = b->g->body.ix;
    tc__ix v;
    if (!b->flat || tc__ix_is_const(e) || tc__ix_find_var(x, e, TC__COL) == b->flat)
        return e;
    tc__ix all =
        tc__ix_var(x, TC__DEPTH, tc__ix_mul(x, b->g->shape.rows, b->g->shape.cols));
    while ((v = tc__ix_find_var(x, e, TC__COL)) != 0)
        e = tc__ix_subst(x, e, v, tc__ix_rest(x, all, b->g->shape.cols));
    while ((v = tc__ix_find_var(x, e, TC__ROW)) != 0)
        e = tc__ix_subst(x, e, v, tc__ix_quotient(x, all, b->g->shape.cols));
    return tc__ix_subst(x, e, all, b->flat);
}

static tc__expr tc__plan_expr(tc__planner *b, tc__ix e) {
    tc__expr r;
    e = tc__plan_flat(b, e);
    memset(&r, 0, sizeof r);
    r.first = (uint32_t)b->p->steps.count;
    int deep = tc__plan_parts(b, e, &r);
    if ((size_t)deep > b->p->deepest) b->p->deepest = (size_t)deep;
    if (deep > TC__EXPR_DEPTH) {
        b->failed = 1;
        tc__fail(b->ctx, TC_E_TOO_BIG, "an index expression needs a stack of more than %d",
                 (int)TC__EXPR_DEPTH);
    }
    r.count = (uint32_t)b->p->steps.count - r.first;
    r.same = (uint32_t)tc__ix_is_const(e);
    tc__plan_keep(b, e, &r);
    return r;
}

// ---- how indices move

typedef struct tc__plan_scan {
    const tc__planner *b;
    uint32_t at; // position of the use
    int differ;  // a value of several lanes is named
} tc__plan_scan;

static void tc__plan_scan_val(void *user, uint32_t id) {
    tc__plan_scan *s = (tc__plan_scan *)user;
    s->differ |= !s->b->uniform[id];
}

// The run of e along the axis; ok 0 where lanes must be asked one by one.
static tc__ixrun tc__plan_run(tc__planner *b, tc__ix e) {
    tc__plan_scan s;
    e = tc__plan_flat(b, e);
    tc__ixrun r = tc__ix_run(b->g->body.ix, e, b->axis);
    s.b = b, s.at = 0, s.differ = 0;
    tc__ix_each_val(b->g->body.ix, e, tc__plan_scan_val, &s);
    if (s.differ) r.ok = 0;
    return r;
}

static void tc__plan_join_run(int64_t *run, const tc__ixrun *r) {
    if (!r->ok) *run = 0;
    if (!*run || r->run == INT64_MAX) return;
    *run = *run == INT64_MAX ? r->run : tc__ix_gcd(*run, r->run);
}

static int tc__plan_is_still(tc__planner *b, tc__ix e) {
    tc__ixrun r = tc__plan_run(b, e);
    return r.ok && r.run == INT64_MAX && tc__ix_equals(r.stride, 0);
}

// Index and (e, limit) pairs of a node that has them; attr from `first`.
static int tc__plan_path_uniform(tc__planner *b, const tc__node *n, int64_t index,
                                 uint32_t first) {
    if (!tc__plan_is_still(b, index)) return 0;
    for (uint32_t i = first; i < n->n_attr; i++)
        if (!tc__plan_is_still(b, n->attr[i])) return 0;
    return 1;
}

static tc__walk tc__plan_walk(tc__planner *b, tc__ix e, const tc__ixrun *r) {
    tc__walk w;
    w.at = tc__plan_expr(b, e);
    w.stride = tc__plan_expr(b, r->ok ? r->stride : tc__ix_const(0));
    w.over = tc__plan_expr(b, tc__ix_const(0));
    return w;
}

// How e moves from one run of `run` elements to the next.
static tc__ixrun tc__plan_over(tc__planner *b, tc__ix e, int64_t run) {
    tc__ixpool *x = b->g->body.ix;
    tc__ixrun r = tc__plan_run(b, e);
    int moves = !r.ok || tc__ix_uses(x, r.stride, b->axis);
    e = tc__plan_flat(b, e);
    tc__ix var = tc__ix_find_var(x, e, b->axis);
    if (var) e = tc__ix_subst(x, e, var, tc__ix_mul(x, tc__ix_const(run), var));
    r = tc__ix_run(x, e, b->axis);
    if (moves || !r.ok || tc__ix_uses(x, r.stride, b->axis))
        r.ok = 0, r.stride = tc__ix_const(0);
    return r;
}

// The runs over which the index and predicates of a path move evenly; sets how.
static void tc__plan_stretch(tc__planner *b, tc__path *path, int64_t index,
                             const int64_t *limit) {
    tc__ixrun r = tc__plan_over(b, index, path->run);
    path->stretch = INT64_MAX;
    tc__plan_join_run(&path->stretch, &r);
    path->index.over = tc__plan_expr(b, r.stride);
    for (uint32_t i = 0; i < path->limits && !b->failed; i++) {
        tc__limit *l = &b->p->limit.at[path->first_limit + i];
        r = tc__plan_over(b, limit[2 * i], path->run);
        tc__plan_join_run(&path->stretch, &r);
        l->e.over = tc__plan_expr(b, r.stride);
        if (l->kind == TC__LIMIT_MOVES) path->stretch = 0;
    }
    if (path->stretch < TC__PLAN_SHORT_STRETCH) path->stretch = 0;
}

// What predicate e is from run to run, `run` elements each.
static tc__limit_kind tc__plan_limit_kind(tc__planner *b, tc__ix e, int64_t run) {
    tc__ixpool *x = b->g->body.ix;
    tc__ixrun r = tc__plan_run(b, e);
    if (!run || run == INT64_MAX || !r.ok || !tc__ix_is_const(r.stride))
        return TC__LIMIT_MOVES;
    e = tc__plan_flat(b, e);
    tc__ix var = tc__ix_find_var(x, e, b->axis);
    if (!var) return TC__LIMIT_ALIKE;
    tc__ix start = tc__ix_subst(x, e, var, tc__ix_mul(x, tc__ix_const(run), var));
    if (!tc__ix_uses(x, start, b->axis)) return TC__LIMIT_ALIKE;
    return tc__ix_equals(r.stride, 0) ? TC__LIMIT_STILL : TC__LIMIT_MOVES;
}

// A path whose predicates are the pairs of e and limit in limit[0 .. n). Its runs are as long as they may be, or `run`.
static tc__path tc__plan_path_of(tc__planner *b, int64_t index, const int64_t *limit,
                                 uint32_t n, uint32_t buffer, int64_t run) {
    tc__path path;
    tc__ixrun r = tc__plan_run(b, index), e;
    memset(&path, 0, sizeof path);
    path.run = INT64_MAX;
    tc__plan_join_run(&path.run, &r);
    path.index = tc__plan_walk(b, index, &r);
    path.buffer = buffer;
    path.first_limit = (uint32_t)b->p->limit.count;
    for (uint32_t i = 0; i + 1 < n; i += 2) {
        tc__limit l;
        e = tc__plan_run(b, limit[i]);
        tc__plan_join_run(&path.run, &e);
        if (!tc__plan_is_still(b, limit[i + 1])) path.run = 0;
        l.e = tc__plan_walk(b, limit[i], &e);
        l.limit = tc__plan_expr(b, limit[i + 1]);
        l.kind = TC__LIMIT_MOVES;
        if (!TC__PUSH(b->ctx, b->p->limit, l)) b->failed = 1;
        path.limits++;
    }
    if (run) path.run = run;
    for (uint32_t i = 0; i < path.limits && !b->failed; i++)
        b->p->limit.at[path.first_limit + i].kind =
            tc__plan_limit_kind(b, limit[2 * i], path.run);
    if (path.run && path.run != INT64_MAX) tc__plan_stretch(b, &path, index, limit);
    path.whole = path.run && r.ok && r.run == INT64_MAX && tc__ix_equals(r.stride, 1);
    path.plain = path.whole && !path.limits;
    return path;
}

// e at lane `tooth` of every `comb` lanes, over the variable that counts those.
static tc__ix tc__plan_tooth(tc__planner *b, tc__ix e, int64_t comb, int64_t tooth,
                             tc__ix var, tc__ix count) {
    tc__ixpool *x = b->g->body.ix;
    tc__ix at =
        tc__ix_add(x, tc__ix_mul(x, tc__ix_const(comb), count), tc__ix_const(tooth));
    return tc__ix_subst(x, tc__plan_flat(b, e), var, at);
}

// Runs of 2 or 3 lanes are long ones across them, for each of their lanes: elements that are
// interleaved. Plans the combs of such a path; 0 = they have no runs either.
static int tc__plan_combs(tc__planner *b, tc__path *path, int64_t index,
                          const int64_t *limit, uint32_t n, int64_t comb) {
    tc__ixpool *x = b->g->body.ix;
    int64_t own[TC__PLAN_COMB_LIMITS * 2];
    tc__path tooth[TC__PLAN_SHORT_RUN];
    tc__ix flat = b->flat, var = tc__ix_find_var(x, tc__plan_flat(b, index), b->axis);
    for (uint32_t i = 0; !var && i < n; i++)
        var = tc__ix_find_var(x, tc__plan_flat(b, limit[i]), b->axis);
    if (comb < 2 || comb >= TC__PLAN_SHORT_RUN || n > TC__COUNT(own) || !var) return 0;
    tc__ix all = tc__ix_add(x, tc__ix_node(x, var)->b, tc__ix_const(comb - 1));
    tc__ix count = tc__ix_var(x, (int)b->axis, tc__ix_quotient(x, all, tc__ix_const(comb)));
    int ok = !b->failed;
    for (int64_t t = 0; ok && t < comb; t++) {
        tc__ix at = tc__plan_tooth(b, index, comb, t, var, count);
        for (uint32_t i = 0; i < n; i++)
            own[i] = tc__plan_tooth(b, limit[i], comb, t, var, count);
        b->flat = flat ? count : 0;
        tooth[t] = tc__plan_path_of(b, at, own, n, path->buffer, 0);
        b->flat = flat;
        ok = !b->failed && tooth[t].run >= TC__PLAN_COMB_RUN;
    }
    path->teeth = (uint32_t)b->p->path.count;
    for (int64_t t = 0; ok && t < comb; t++) ok = TC__PUSH(b->ctx, b->p->path, tooth[t]);
    path->comb = ok ? comb : 0;
    return ok;
}

static uint32_t tc__plan_path(tc__planner *b, const tc__node *n, int64_t index,
                              uint32_t first, uint32_t buffer) {
    const int64_t *limit = n->attr + first;
    uint32_t limits = n->n_attr > first ? n->n_attr - first : 0;
    tc__path path = tc__plan_path_of(b, index, limit, limits, buffer, 0);
    if (path.run < TC__PLAN_SHORT_RUN) {
        (void)tc__plan_combs(b, &path, index, limit, limits, path.run);
        path.run = 0;
    }
    if (!path.run) path.whole = path.plain = 0;
    if (!TC__PUSH(b->ctx, b->p->path, path)) b->failed = 1;
    return (uint32_t)b->p->path.count - 1;
}
