// How the LOAD, STORE and VALID nodes of a LOOP list move along the vector. Printer and
// interpreter ask the same questions here.
//
// Three questions decide how a load is done: does it name the vector's variable (no:
// uniform); is its stride 1 over runs of at least the vector's width (one access); else
// lane by lane.

// Whether the value of n may differ between the lanes of a vector along `axis`.
static int tc__lanes_differ(const tc__node *n, tc__axis axis) {
    if (n->op == TC_OP_CONST || n->op == TC_OP_ARG) return 0;
    return axis == TC__ROW || n->level != TC__AT_ROW;
}

typedef struct tc__val_scan {
    const tc__group *g;
    tc__axis axis;
    int differ;
} tc__val_scan;

static void tc__val_scan_one(void *user, uint32_t id) {
    tc__val_scan *s = (tc__val_scan *)user;
    s->differ |= tc__lanes_differ(s->g->body.node.at[id], s->axis);
}

// Whether e names a loaded value that differs between lanes.
static int tc__ix_has_lane_val(const tc__group *g, tc__ix e, tc__axis axis) {
    tc__val_scan s;
    s.g = g, s.axis = axis, s.differ = 0;
    tc__ix_each_val(g->body.ix, e, tc__val_scan_one, &s);
    return s.differ;
}

// e(axis + j) = e(axis) + j * stride inside aligned blocks of `width`; 0 = it is not so.
static int tc__ix_steps(const tc__group *g, tc__ix e, tc__axis axis, int64_t width,
                        tc__ix *stride) {
    if (tc__ix_has_lane_val(g, e, axis)) return 0;
    tc__ixrun run = tc__ix_run(g->body.ix, e, axis);
    *stride = run.stride;
    return tc__ixrun_spans(&run, width);
}

static tc__access tc__access_along(const tc__group *g, tc__ix e, tc__axis axis,
                                   int64_t width) {
    tc__ix stride = 0;
    if (!tc__ix_steps(g, e, axis, width, &stride)) return TC__PER_LANE;
    if (tc__ix_equals(stride, 0)) return TC__UNIFORM;
    return tc__ix_equals(stride, 1) ? TC__CONTIGUOUS : TC__PER_LANE;
}

enum { TC__PLACES_MOST = 16 };

// How far the lanes of whole vectors, which begin at multiples of their width, are from the first; 0 = it is not the
// same for all vectors.
TC__UNUSED static int tc__lane_places(const tc__group *g, tc__ix e, tc__axis axis,
                                      int width, int64_t place[TC__PLACES_MOST]) {
    tc__ixpool *x = g->body.ix;
    tc__ix v = tc__ix_find_var(x, e, axis), first = 0;
    if (!v || tc__ix_has_val(x, e) || width > TC__PLACES_MOST) return 0;
    for (int l = 0; l < width; l++) {
        tc__ix at = tc__ix_mul(x, v, tc__ix_const(width));
        at = tc__ix_subst(x, e, v, tc__ix_add(x, at, tc__ix_const(l)));
        if (!l) first = at;
        at = tc__ix_sub(x, at, first);
        if (!tc__ix_is_const(at)) return 0;
        place[l] = tc__ix_value(at);
    }
    return 1;
}

// Rows of `size` lanes, in each of which lanes stand at the same places from what is the row's: e where v, the variable, is
// size * q + t is first + place, that of v = q and t.
typedef struct tc__lane_rows {
    int64_t size;
    tc__ix v, t, first, place;
} tc__lane_rows;

enum {
    TC__LANE_ROWS_MOST = 1024, // lanes of a row, whose places are listed
    TC__LANE_DIVISORS = 12,    // sizes that are tried;
    TC__LANE_DIVIDED =
        3 //   divisions of an index from which on the list is less than they are
};

typedef struct tc__lane_divisors {
    int64_t by[TC__LANE_DIVISORS];
    int count, divisions;
} tc__lane_divisors;

static void tc__add_lane_divisor(tc__lane_divisors *d, int64_t by) {
    for (int i = 0; i < d->count; i++)
        if (d->by[i] == by) return;
    if (d->count < TC__LANE_DIVISORS) d->by[d->count++] = by;
}

// What v is divided by in e, by numbers and by one after another.
static void tc__find_lane_divisors(const tc__ixpool *x, tc__ix e, tc__axis axis,
                                   tc__lane_divisors *d) {
    if (!tc__ix_uses(x, e, axis)) return;
    const tc__ixnode *n = tc__ix_node(x, e);
    if (n->kind == TC__IX_DIV || n->kind == TC__IX_MOD) {
        const tc__ixnode *a = tc__ix_node(x, n->a);
        d->divisions++;
        if (tc__ix_is_const(n->b)) tc__add_lane_divisor(d, tc__ix_value(n->b));
        if (a->kind == TC__IX_DIV && tc__ix_is_const(n->b) && tc__ix_is_const(a->b) &&
            tc__ix_value(a->b) <= TC__LANE_ROWS_MOST &&
            tc__ix_value(n->b) <= TC__LANE_ROWS_MOST)
            tc__add_lane_divisor(d, tc__ix_value(n->b) * tc__ix_value(a->b));
        tc__find_lane_divisors(x, n->a, axis, d);
        return;
    }
    for (uint32_t i = 0; n->kind == TC__IX_POLY && i < n->count; i++)
        for (int k = 0; k < TC__IX_ATOMS && x->term.at[n->first + i].atom[k]; k++)
            tc__find_lane_divisors(x, x->term.at[n->first + i].atom[k], axis, d);
}

// The smallest rows of at least `width` lanes that e has; 0 = none, or it is not worth while.
TC__UNUSED static int tc__find_lane_rows(const tc__group *g, tc__ix e, tc__axis axis,
                                         int width, tc__lane_rows *rows) {
    tc__ixpool *x = g->body.ix;
    tc__lane_divisors d;
    d.count = d.divisions = 0, rows->size = 0;
    rows->v = tc__ix_find_var(x, e, axis);
    if (!rows->v || tc__ix_has_val(x, e) || tc__ix_uses(x, e, TC__DEPTH)) return 0;
    tc__find_lane_divisors(x, e, axis, &d);
    if (d.divisions < TC__LANE_DIVIDED) return 0;
    for (int i = 0; i < d.count; i++) {
        int64_t by = d.by[i];
        if (by < width || by > TC__LANE_ROWS_MOST || (rows->size && by >= rows->size))
            continue;
        tc__ix from = tc__ix_mul(x, rows->v, tc__ix_const(by));
        tc__ix t = tc__ix_var(x, TC__DEPTH, tc__ix_const(by));
        tc__ix first = tc__ix_subst(x, e, rows->v, from);
        tc__ix place =
            tc__ix_sub(x, tc__ix_subst(x, e, rows->v, tc__ix_add(x, from, t)), first);
        if (x->failed || (tc__ix_names_of(x, place) & ~((uint32_t)1 << TC__DEPTH)) ||
            !tc__ix_is_i32(x, place))
            continue;
        rows->size = by, rows->t = t, rows->first = first, rows->place = place;
    }
    return rows->size > 0;
}

// Whether INDEX n says which random numbers of f32 are drawn, and nothing else, adjacent ones in aligned blocks of
// `width`: then they are counted from the first, and the index takes no register.
static int tc__is_drawn_run(const tc__group *g, const tc__node *n, tc__axis axis,
                            int64_t width) {
    tc__ix stride;
    if (n->op != TC_OP_INDEX ||
        !tc__ix_steps(g, n->attr[TC__INDEX_EXPR], axis, width, &stride) ||
        !tc__ix_equals(stride, 1))
        return 0;
    for (size_t i = n->id + 1; i < g->body.node.count; i++) {
        const tc__node *o = g->body.node.at[i];
        for (uint32_t k = 0; k < o->n_in; k++)
            if (o->in[k] == n->id && (o->op != TC_OP_RANDOM || o->dtype != TC_F32))
                return 0;
    }
    return 1;
}

// Of the scratch row of a block of 32 rows, element e of lane j is at 32 * e + j.
static int tc__is_lane_row(const tc__group *g, const tc__node *n, tc__axis axis) {
    return tc__buffer_of(g, n)->place == TC__BUF_ROW && axis == TC__ROW;
}

TC__UNUSED static tc__access tc__access_of(const tc__group *g, const tc__node *n,
                                           int64_t width) {
    if (tc__is_lane_row(g, n, g->shape.vector)) return TC__CONTIGUOUS;
    return tc__access_along(g, n->attr[TC__ACCESS_INDEX], g->shape.vector, width);
}

// 0: no predicate; 1: one scalar test does for the vector; 2: lanes differ.
static int tc__pred_along(const tc__group *g, const tc__node *n, tc__axis axis,
                          int64_t width) {
    uint32_t first = n->op == TC_OP_LOAD ? (uint32_t)TC__LOAD_PREDICATES : 0;
    int kind = 0;
    for (uint32_t i = first; i < n->n_attr; i++) {
        int still = tc__access_along(g, n->attr[i], axis, width) == TC__UNIFORM;
        if (!still) return 2;
        kind = 1;
    }
    return kind;
}

TC__UNUSED static int tc__pred_of(const tc__group *g, const tc__node *n, int64_t width) {
    return tc__pred_along(g, n, g->shape.vector, width);
}
