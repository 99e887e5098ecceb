// CUDA dialect, how what is in a loop over a vector moves along it: which accesses are one of the whole vector, what is the
// same for all of its elements.

// What a hole needs beside what it is given: where it is loaded.
typedef enum tc__cuda_loaded {
    TC__LOADED_HERE,
    TC__LOADED_AHEAD,  // that is what is printed: tc__cuda_print_ahead
    TC__LOADED_BEFORE, // it is there
} tc__cuda_loaded;

// The vector loop that is printed: its nodes are [begin, end).
typedef struct tc__cuda_vector {
    uint32_t begin, end;
    tc__axis axis;
    int width;
    uint8_t *way; // by node: a tc__cuda_way
    int inside;   // what is printed is in the loop
    tc__cuda_loaded loaded;
} tc__cuda_vector;

typedef enum tc__cuda_way {
    TC__WAY_MOVES,
    TC__WAY_STILL, // the same for all elements: it stands before the loop
    TC__WAY_APART  // in an `if`
} tc__cuda_way;

// ---- how things move along the vector ----

// Whether what is read of one long row moves by parts of its columns: `c / 32 % 112`.
static int tc__cuda_divides_columns(const tc__group *g) {
    for (size_t i = 0; i < g->body.node.count && tc__ix_equals(g->shape.rows, 1); i++) {
        const tc__node *n = g->body.node.at[i];
        if (n->op == TC_OP_LOAD &&
            tc__ix_run(g->body.ix, n->attr[TC__LOAD_INDEX], TC__COL).run != INT64_MAX)
            return 1;
    }
    return 0;
}

// e by the variable of the vector: axes that are made of it are replaced.
static tc__ix tc__cuda_expand(const tc__printer *p, tc__ix e) {
    tc__ixpool *x = p->g->body.ix;
    for (uint32_t id = p->vector->begin; id < p->vector->end; id++) {
        const tc__node *n = tc__body(p, id);
        tc__ix var = n->op == TC_OP_AXIS
                         ? tc__ix_find_var(x, e, (tc__axis)n->attr[TC__AXIS_AXIS])
                         : 0;
        if (var && tc__ix_uses(x, n->attr[TC__AXIS_VALUE], p->vector->axis))
            e = tc__ix_subst(x, e, var, n->attr[TC__AXIS_VALUE]);
    }
    return e;
}

// What a hole is told of a vector's place is a multiple of its width.
static tc__ix tc__cuda_by_hole(const tc__printer *p, const tc__node *hole, tc__ix e) {
    tc__ixpool *x = p->g->body.ix;
    for (int i = TC__HOLE_LINE; i <= (int)TC__HOLE_DEEP; i++) {
        int64_t axis = hole->attr[i];
        tc__ix var = axis >= (int64_t)TC__VAR0 ? tc__ix_find_var(x, e, (tc__axis)axis) : 0;
        if (var)
            e = tc__ix_subst(x, e, var,
                             tc__ix_mul(x, var, tc__ix_const(hole->attr[TC__HOLE_WIDTH])));
    }
    return e;
}

// e by the loops alone: axes that are bound around the vector are replaced, too.
static tc__ix tc__cuda_by_loops(const tc__printer *p, tc__ix e) {
    tc__ixpool *x = p->g->body.ix;
    int inside = 0; // of what is over before the vector
    for (uint32_t id = p->vector->begin - 1; id-- > 0;) {
        const tc__node *n = tc__body(p, id);
        if (n->op == TC_OP_HOLE && !inside) e = tc__cuda_by_hole(p, n, e);
        inside += (n->op == TC_OP_END) - (inside && tc__opens(n));
        if (n->op != TC_OP_AXIS || inside) continue;
        tc__ix var = tc__ix_find_var(x, e, (tc__axis)n->attr[TC__AXIS_AXIS]);
        if (var) e = tc__ix_subst(x, e, var, n->attr[TC__AXIS_VALUE]);
    }
    return e;
}

typedef struct tc__cuda_moves {
    const tc__cuda_vector *v;
    int moves;
} tc__cuda_moves;

static void tc__cuda_moves_val(void *user, uint32_t id) {
    tc__cuda_moves *m = (tc__cuda_moves *)user;
    m->moves |= id >= m->v->begin && id < m->v->end && m->v->way[id] != TC__WAY_STILL;
}

static tc__access tc__cuda_moves_by(const tc__printer *p, tc__ix e) {
    tc__ixpool *x = p->g->body.ix;
    tc__cuda_moves m;
    m.v = p->vector, m.moves = 0;
    tc__ix_each_val(x, e, tc__cuda_moves_val, &m);
    e = tc__cuda_expand(p, e);
    tc__ixrun run = tc__ix_run(x, e, p->vector->axis);
    if (!tc__ixrun_spans(&run, p->vector->width)) // (p + l) % 784
        run = tc__ix_run(x, tc__cuda_by_loops(p, e), p->vector->axis);
    if (m.moves || !tc__ixrun_spans(&run, p->vector->width)) return TC__PER_LANE;
    if (tc__ix_equals(run.stride, 0)) return TC__UNIFORM;
    return tc__ix_equals(run.stride, 1) ? TC__CONTIGUOUS : TC__PER_LANE;
}

// e at the first element.
static tc__ix tc__cuda_first(const tc__printer *p, tc__ix e) {
    tc__ixpool *x = p->g->body.ix;
    e = tc__cuda_expand(p, e);
    tc__ix var = tc__ix_find_var(x, e, p->vector->axis);
    return var ? tc__ix_subst(x, e, var, tc__ix_const(0)) : e;
}

static int tc__cuda_starts_at(const tc__printer *p, tc__ix e, int64_t multiple) {
    tc__ixpool *x = p->g->body.ix;
    e = tc__cuda_first(p, e);
    return tc__ix_divisor(x, e) % multiple == 0 ||
           tc__ix_divisor(x, tc__cuda_by_loops(p, e)) % multiple == 0;
}

static int tc__cuda_starts_at_multiple(const tc__printer *p, tc__ix e) {
    return tc__cuda_starts_at(p, e, p->vector->width);
}

// Whether all elements are below the limits of their load, or none is.
static int tc__cuda_limits_hold(const tc__printer *p, const tc__node *n) {
    for (uint32_t i = TC__LOAD_PREDICATES; i + 1 < n->n_attr; i += 2) {
        tc__access by = tc__cuda_moves_by(p, n->attr[i]);
        if (tc__cuda_moves_by(p, n->attr[i + 1]) != TC__UNIFORM) return 0;
        if (by == TC__UNIFORM) continue;
        if (by != TC__CONTIGUOUS || !tc__cuda_starts_at_multiple(p, n->attr[i]) ||
            tc__ix_divisor(p->g->body.ix, n->attr[i + 1]) % p->vector->width)
            return 0;
    }
    return 1;
}

// Whether a load or store is one access for the vector.
static int tc__cuda_is_whole(const tc__printer *p, const tc__node *n) {
    const tc__cuda_vector *v = p->vector;
    if (!v || n->id < v->begin || n->id >= v->end || v->way[n->id] != TC__WAY_MOVES)
        return 0;
    tc__place place = p->g->buffer.at[n->attr[TC__LOAD_BUFFER]].place;
    if (place == TC__BUF_REGISTER || place == TC__BUF_LOCAL) return 0;
    if (n->op == TC_OP_LOAD && !tc__cuda_limits_hold(p, n)) return 0;
    if (!tc__device_begins_at_multiple(p->g, n, v->width)) return 0;
    int64_t most = TC__DEVICE_ACCESS / tc__device_bytes(p->g, n); // elements of an access
    return tc__cuda_moves_by(p, n->attr[TC__LOAD_INDEX]) == TC__CONTIGUOUS &&
           tc__cuda_starts_at(p, n->attr[TC__LOAD_INDEX],
                              v->width < most ? v->width : most);
}

// Whether an access is to memory of the block or the thread.
static int tc__cuda_is_near(const tc__printer *p, const tc__node *n) {
    tc__place place = p->g->buffer.at[n->attr[TC__ACCESS_BUFFER]].place;
    return place == TC__BUF_SHARED || place == TC__BUF_GIVEN;
}

static int tc__cuda_find_still(const tc__printer *p, const tc__node *n) {
    const tc__cuda_vector *v = p->vector;
    if (n->op == TC_OP_STORE || n->op == TC_OP_END || n->op == TC_OP_IF ||
        n->op == TC_OP_ELSE || n->op == TC_OP_ACC || n->op == TC_OP_COMBINE ||
        n->op == TC_OP_PUT || n->op == TC_OP_GET)
        return 0;
    for (uint32_t i = 0; i < n->n_in; i++)
        if (n->in[i] >= v->begin && v->way[n->in[i]] != TC__WAY_STILL) return 0;
    for (uint32_t i = 0; i < n->n_attr; i++)
        if (tc__attr_is_ix(n, i) && tc__cuda_moves_by(p, n->attr[i]) != TC__UNIFORM)
            return 0;
    return 1;
}

// In the loop over a vector whose elements are adjacent, element l: the first's index and l. 0 = it is another, or its
// own index is as simple. So the compiler sees which loads of a window are the same, though a column is divided:
// salience took 29 us of an H200, and 49 where each element's column was.
static int tc__cuda_first_element(tc__printer *p, const tc__node *n) {
    tc__ixpool *x = p->g->body.ix;
    tc__ix e = n->attr[TC__ACCESS_INDEX];
    char behind[8];
    if (!p->vector || !p->vector->inside || n->id < p->vector->begin ||
        tc__cuda_moves_by(p, e) != TC__CONTIGUOUS)
        return 0;
    tc__ix lane = tc__ix_var(x, (int)p->vector->axis, tc__ix_const(p->vector->width));
    if (tc__ix_add(x, tc__cuda_first(p, e), lane) == tc__cuda_expand(p, e)) return 0;
    snprintf(behind, sizeof behind, " + %s", tc__axis_name(p->vector->axis));
    tc__cuda_place_of(p, n->attr[TC__ACCESS_BUFFER], tc__cuda_first(p, e), behind, 1);
    return 1;
}

static void tc__cuda_element(tc__printer *p, const tc__node *n) {
    if (!tc__cuda_first_element(p, n))
        tc__cuda_place_of(p, n->attr[TC__ACCESS_BUFFER], n->attr[TC__ACCESS_INDEX], "", 1);
}

// ---- a vector ----

// Which way each node of the vector goes.
static void tc__cuda_find_ways(tc__printer *p, tc__cuda_vector *v) {
    uint32_t apart = v->begin;
    for (uint32_t id = v->begin; id < v->end; id++) {
        const tc__node *n = tc__body(p, id);
        if (n->op == TC_OP_IF && id >= apart) apart = tc__loop_end(p->g, id);
        v->way[id] = id < apart                  ? TC__WAY_APART
                     : tc__cuda_find_still(p, n) ? TC__WAY_STILL
                                                 : TC__WAY_MOVES;
    }
}

// 0 = no memory.
static int tc__cuda_vector_open(tc__printer *p, tc__cuda_vector *v, const tc__node *loop,
                                uint32_t end) {
    memset(v, 0, sizeof *v);
    v->begin = loop->id + 1, v->end = end, v->axis = (tc__axis)loop->attr[TC__FOR_AXIS];
    v->width = (int)tc__ix_value(loop->attr[TC__FOR_END]);
    v->way = TC__NEW_ARRAY(p->out->ctx, uint8_t, p->g->body.node.count);
    if (!v->way) return p->out->failed = 1, 0;
    p->vector = v;
    tc__cuda_find_ways(p, v);
    return 1;
}

static void tc__cuda_vector_close(tc__printer *p, tc__cuda_vector *v) {
    p->vector = NULL;
    tc__free(p->out->ctx, v->way, p->g->body.node.count);
}
