// The list of a reduction whose vector runs along the rows: a thread has V rows, and those side by side the next
// ones; threads one below the other, y, share the columns. What they have is summed from shared memory, top down.
//
//     for i in 0..8 bind=grid, y in 0..8 bind=block, x in 0..32 bind=block
//       acc0 = new add width=4
//       for p in 0..256 bind=serial                                    c = 8*p + y
//         for l in 0..4 bind=vector:  acc0 add= in0[1024*c + r]        r = 4*(32*i + x) + l
//       for l in 0..4 bind=vector:  put shared0[128*y + 4*x + l] <- acc0
//       barrier block
//       if 32*y + x < 128                                              r = 128*i + 32*y + x
//         acc1 = new add width=1
//         for n in 0..8 bind=unroll:  get acc1 <- shared0[128*n + 32*y + x]
//         %2 = combine acc1;  out0[r] = %2
//
// So what is summed is spread over all threads; where the columns are walked again, or values of rows are kept, each
// thread has the sums of its own rows instead.
//
// Where blocks are few the columns are cut, z: parts leave their sums in memory, and the last block at a ticket
// goes on with all of them. Of 8192 x 3072 halves, in 44 parts, an H200 takes 26.0 us where a warp sums what the others
// have, and threads below each other the parts; 22.7 us where each thread has a row, and loads all its parts at once.

enum {
    TC__COLUMNS_I = TC__VAR0 + 1,
    TC__COLUMNS_Y = TC__VAR0 + 2,
    TC__COLUMNS_X = TC__VAR0 + 3,
    TC__COLUMNS_P = TC__VAR0 + 7,
    TC__COLUMNS_Q = TC__VAR0 + 8,
    TC__COLUMNS_M = TC__VAR0 + 9,
    TC__COLUMNS_N = TC__VAR0 + 10,
    TC__COLUMNS_Z = TC__VAR0 + 11,
    TC__COLUMNS_AT_ONCE = 64 // parts that a thread loads together
};

typedef struct tc__columner {
    tc__vectors v;
    tc__device_plan q;
    tc__ix i, z, y, x; // blocks, parts, threads
    tc__ix p;          // turn of the loop over columns
    tc__ix row;        // the thread's first
    int64_t rows;      // of all blocks, where there are parts
    uint32_t *group;   // by node: loops over columns before it
    uint8_t *kept;     // by node: a value of the rows that another group needs
    int spreads; // sums are spread over all threads: nothing needs those of the thread's own rows
    int64_t sums; // accumulators of the loops: those that are spread come behind them
} tc__columner;

static int tc__columns_below(const tc__columner *t) { return t->q.threads / t->q.sharing; }

// Rows of a block.
static int64_t tc__columns_across(const tc__columner *t) {
    return (int64_t)t->q.sharing * t->q.width;
}

// Rows of a thread where they are spread over all of them, or as many as there are rows.
static int tc__columns_few(const tc__columner *t) {
    return t->q.width > tc__columns_below(t) ? t->q.width / tc__columns_below(t) : 1;
}

static tc__ix tc__columns_thread(const tc__columner *t) {
    return tc__vector_ix(&t->v, t->q.sharing, t->y, t->x);
}

// Gives each thread the rows that are its own, or few that are side by side.
static void tc__columns_deal(tc__columner *t, int spread) {
    tc__vectors *v = &t->v;
    tc__ix first = tc__ix_mul(v->ix, tc__ix_const(tc__columns_across(t)), t->i);
    v->width = spread ? tc__columns_few(t) : t->q.width;
    v->spread = spread ? t->sums : 0;
    t->row = tc__vector_ix(v, v->width, spread ? tc__columns_thread(t) : t->x, first);
}

// Opens what only threads that have rows do, and of those below each other the first alone. 0 = all do it.
static int tc__columns_if(tc__columner *t, int first) {
    tc__ix one = tc__ix_const(1);
    int64_t few = tc__columns_across(t) / t->v.width;
    if (t->v.spread && few < t->q.threads)
        return tc__relist_if(&t->v.l, tc__columns_thread(t), tc__ix_const(few), t->row,
                             t->v.l.from->shape.rows);
    first = first && !t->v.spread && tc__columns_below(t) > 1;
    return first ? tc__relist_if(&t->v.l, t->y, one, t->row, t->v.l.from->shape.rows)
                 : tc__relist_if(&t->v.l, t->row, t->v.l.from->shape.rows, 0, 0);
}

// The same, of one row of a thread in a scope of its own: its axis is bound there.
static int tc__columns_if_rows(tc__columner *t, int first) {
    return tc__columns_if(t, first) || (t->v.width == 1 && tc__relist_do(&t->v.l));
}

// ---- columns ----

// Columns of a block.
static tc__ix tc__columns_extent(const tc__columner *t) {
    return t->q.parts > 1 ? t->q.chunk : t->v.l.from->shape.cols;
}

// Opens column u of the turn at hand: the first row.
static tc__ix tc__columns_open(tc__vectors *v) {
    tc__columner *t = (tc__columner *)(void *)v;
    tc__ix cols = v->l.from->shape.cols;
    tc__ix at = tc__vector_ix(v, v->count, t->p, v->u);
    tc__ix own = tc__vector_ix(v, tc__columns_below(t), at, t->y), c = own;
    int64_t chunk = t->q.parts > 1 ? tc__ix_value(t->q.chunk) : 0;
    if (chunk) c = tc__vector_ix(v, chunk, t->z, own);
    v->opened = !chunk ? tc__relist_if(&v->l, c, cols, 0, 0)
                : chunk * t->q.parts == tc__ix_value(cols)
                    ? tc__relist_if(&v->l, own, t->q.chunk, 0, 0)
                    : tc__relist_if(&v->l, c, cols, own, t->q.chunk);
    tc__relist_axis(&v->l, TC__COL, c);
    return t->row;
}

// Turns of the loop over columns that have as many each.
static void tc__columns_even(tc__columner *t) {
    tc__ix extent = tc__columns_extent(t);
    int64_t below = tc__columns_below(t);
    if (!tc__ix_is_const(extent) || tc__ix_value(extent) < 1) return;
    int64_t each = (tc__ix_value(extent) + below - 1) / below;
    int64_t turns = (each + t->v.count - 1) / t->v.count;
    t->v.count = (int)((each + turns - 1) / turns);
}

// The loop over columns of nodes [begin, end).
static void tc__columns_loop(tc__columner *t, uint32_t begin, uint32_t end) {
    tc__vectors *v = &t->v;
    int count = v->count, opened = tc__columns_if(t, 0);
    v->begin = begin, v->end = end;
    if (v->l.from->target.checked || !tc__vectors_are_deep(v)) v->count = 1;
    tc__columns_even(t);
    t->p = tc__relist_for(
        &v->l, (tc__axis)TC__COLUMNS_P, TC__BIND_SERIAL,
        tc__ix_ceil_div(v->ix, tc__columns_extent(t),
                        tc__ix_const((int64_t)tc__columns_below(t) * v->count)));
    tc__vectors_put(v);
    tc__relist_end(&v->l, TC__COLUMNS_P);
    tc__relist_end_if(&v->l, opened);
    t->p = tc__ix_const(0), v->count = count;
    for (uint32_t id = 0; id < end; id++)
        if (v->ahead[id] != TC__HOLD_ROWS) v->ahead[id] = TC__HOLD_NOT;
}

// ---- sums ----

// The elements of the thread's accumulators to element `at` and those behind it, or from there.
static void tc__columns_move(tc__columner *t, const tc__sums *s, tc__op op, tc__ix at) {
    tc__vectors *v = &t->v;
    tc__ix lane = tc__vector_lanes(v, v->width);
    tc__sums_move(&v->l, s, op, tc__ix_add(v->ix, at, lane));
    tc__vector_lanes_end(v, v->width);
}

// What threads one below the other have, in all of them, or spread.
static void tc__columns_share(tc__columner *t, tc__sums *s) {
    tc__vectors *v = &t->v;
    int below = tc__columns_below(t), opened = 0;
    int64_t across = tc__columns_across(t);
    tc__ix at = tc__vector_ix(v, v->width, t->x, tc__ix_const(0));
    if (below == 1) return;
    tc__sums_in(&v->l, s, TC__BUF_SHARED, tc__ix_const(below * across));
    tc__columns_move(t, s, TC_OP_PUT, tc__vector_ix(v, across, t->y, at));
    tc__relist_barrier(&v->l, 0);
    if (t->spreads) tc__columns_deal(t, 1);
    s->behind = v->spread;
    tc__sums_new(&v->l, s, v->width);
    if (v->spread) {
        opened = tc__columns_if(t, 0);
        at = tc__vector_ix(v, v->width, tc__columns_thread(t), tc__ix_const(0));
    }
    tc__ix n = tc__relist_for(&v->l, (tc__axis)TC__COLUMNS_N, TC__BIND_UNROLL,
                              tc__ix_const(below));
    tc__columns_move(t, s, TC_OP_GET, tc__vector_ix(v, across, n, at));
    tc__relist_end(&v->l, TC__COLUMNS_N);
    tc__relist_end_if(&v->l, opened);
}

// Every `below`-th part of the thread's rows, from `first` on.
static void tc__columns_parts(tc__columner *t, tc__sums *s, int below, tc__ix first) {
    tc__vectors *v = &t->v;
    tc__relist *l = &v->l;
    tc__ix parts = tc__ix_const(t->q.parts);
    tc__ix turns = tc__ix_ceil_div(v->ix, parts, tc__ix_const(below));
    tc__bind bind = below == 1 ? TC__BIND_UNROLL : TC__BIND_SERIAL;
    tc__ix q = tc__relist_for(l, (tc__axis)TC__COLUMNS_Q, bind, turns);
    tc__ix part = tc__vector_ix(v, below, q, first);
    int opened = tc__relist_if(l, part, parts, 0, 0);
    part = tc__relist_bind(l, TC__COLUMNS_M, part, parts);
    tc__columns_move(t, s, TC_OP_GET, tc__vector_ix(v, t->rows, part, t->row));
    tc__relist_end_if(l, opened);
    tc__relist_end(l, TC__COLUMNS_Q);
}

// What all parts have, in the block that is the last of them.
static void tc__columns_meet(tc__columner *t, tc__sums *s) {
    tc__vectors *v = &t->v;
    tc__relist *l = &v->l;
    int64_t blocks = t->rows / tc__columns_across(t);
    int64_t ticket = tc__relist_buffer(l, TC__BUF_TICKET, TC_I32, blocks);
    tc__sums_in(l, s, TC__BUF_WORK, tc__ix_const(t->rows * t->q.parts));
    int opened = tc__columns_if(t, 1);
    tc__columns_move(t, s, TC_OP_PUT, tc__vector_ix(v, t->rows, t->z, t->row));
    tc__relist_end_if(l, opened);
    tc__relist_last(l, ticket, t->i, t->q.parts);
    if (v->spread && t->q.parts <= TC__COLUMNS_AT_ONCE) {
        tc__sums_new(l, s, v->width);
        opened = tc__columns_if(t, 0);
        tc__columns_parts(t, s, 1, tc__ix_const(0));
        tc__relist_end_if(l, opened);
        return;
    }
    if (v->spread) tc__columns_deal(t, 0), s->behind = 0;
    tc__sums_new(l, s, v->width);
    tc__columns_parts(t, s, tc__columns_below(t), t->y);
    tc__columns_share(t, s);
}

static void tc__columns_sums(tc__columner *t, uint32_t begin, uint32_t end) {
    tc__sums s;
    s.count = 0, s.behind = 0;
    for (uint32_t id = begin; id < end; id++)
        if (t->v.l.from->body.node.at[id]->op == TC_OP_COMBINE)
            s.combine[s.count++] = t->v.l.from->body.node.at[id];
    if (!s.count) return;
    tc__columns_share(t, &s);
    if (t->q.parts > 1) tc__columns_meet(t, &s);
}

// ---- values of rows ----

static void tc__columns_mark_kept(void *user, uint32_t id) {
    tc__columner *t = (tc__columner *)user;
    const tc__node *m = t->v.l.from->body.node.at[id];
    if (m->level != TC__AT_ROW || tc__relist_is_given(&t->v.l, id)) return;
    if (t->group[id] != t->group[t->v.begin]) t->kept[id] = 1;
}

// Finds the group of each node, and the values that are kept for another.
static void tc__columns_find_kept(tc__columner *t) {
    const tc__group *g = t->v.l.from;
    uint32_t group = 0, loop = 0;
    for (uint32_t id = 0; id < g->body.node.count; id++) {
        const tc__node *n = g->body.node.at[id];
        int columns = n->op == TC_OP_FOR && n->attr[TC__FOR_AXIS] == TC__COL;
        if (columns) loop = tc__loop_end(g, id), group++;
        t->group[id] = group; // the loop is one of its own
        group += id == loop && loop;
        t->v.begin = id;
        for (uint32_t k = 0; k < n->n_in; k++) tc__columns_mark_kept(t, n->in[k]);
        for (uint32_t k = 0; k < n->n_attr; k++)
            if (tc__attr_is_ix(n, k))
                tc__ix_each_val(t->v.ix, n->attr[k], tc__columns_mark_kept, t);
    }
}

// Whether sums can be spread: one loop over columns, behind which nothing has a thread's own rows.
static void tc__columns_find_spread(tc__columner *t) {
    const tc__group *g = t->v.l.from;
    t->sums = tc__count_op(g, TC_OP_NEW);
    t->spreads = tc__device_loops(g) == 1 && tc__columns_below(t) > 1 &&
                 2 * t->sums <= TC__PRINT_ACCS;
    for (uint32_t id = 0; id < g->body.node.count; id++)
        if (t->kept[id] ||
            (tc__device_is_memory(g->body.node.at[id]) &&
             tc__device_is_row(g, g->body.node.at[id]->attr[TC__ACCESS_BUFFER])))
            t->spreads = 0;
}

// Makes values that are kept of nodes [begin, end), into registers of the thread.
static void tc__columns_keep(tc__columner *t, uint32_t begin, uint32_t end) {
    tc__vectors *v = &t->v;
    const tc__group *g = v->l.from;
    int some = 0;
    memset(v->need, 0, g->body.node.count);
    for (uint32_t id = begin; id < end; id++) {
        const tc__node *n = g->body.node.at[id];
        v->need[id] = t->kept[id] || n->op == TC_OP_CHECK;
        some |= v->need[id];
        if (!t->kept[id]) continue;
        v->ahead[id] = TC__HOLD_FIRST;
        v->held[id] = tc__relist_buffer(&v->l, TC__BUF_REGISTER, n->dtype, v->width);
    }
    if (!some) return;
    int opened = tc__columns_if_rows(t, 0);
    v->end = end, v->apart = 0;
    tc__vectors_close(v, TC__HOLD_FIRST);
    tc__vector_nodes(v, g, v->need, t->row, v->width, TC__HOLD_FIRST);
    v->apart = 1;
    tc__relist_end_if(&v->l, opened);
    for (uint32_t id = begin; id < end; id++)
        if (t->kept[id]) v->ahead[id] = TC__HOLD_ROWS;
}

// Stores of nodes [begin, end), by one of the threads that share a row.
static void tc__columns_store(tc__columner *t, uint32_t begin, uint32_t end) {
    tc__vectors *v = &t->v;
    const tc__group *g = v->l.from;
    int some = 0;
    memset(v->need, 0, g->body.node.count);
    for (uint32_t id = begin; id < end; id++)
        some |= v->need[id] = g->body.node.at[id]->op == TC_OP_STORE;
    if (!some) return;
    int opened = tc__columns_if_rows(t, 1);
    v->end = end, v->apart = 0;
    tc__vectors_close(v, TC__HOLD_NOT);
    tc__vector_nodes(v, g, v->need, t->row, v->width, TC__HOLD_NOT);
    v->apart = 1;
    tc__relist_end_if(&v->l, opened);
}

// What stands between two loops over columns.
static void tc__columns_rows(tc__columner *t, uint32_t begin, uint32_t end) {
    const tc__group *g = t->v.l.from;
    t->v.u = tc__ix_const(0);
    tc__columns_sums(t, begin, end);
    tc__columns_keep(t, begin, end);
    tc__columns_store(t, begin, end);
    for (uint32_t id = begin; id < end; id++) {
        tc__node m = *g->body.node.at[id];
        int64_t attr[3];
        if (m.op != TC_OP_NEW) continue;
        memcpy(attr, m.attr, TC__NEW_WIDTH * sizeof *attr);
        attr[TC__NEW_WIDTH] = t->v.width;
        m.attr = attr, m.n_attr = 3;
        tc__relist_copy(&t->v.l, &m);
    }
}

// ---- the list ----

static void tc__columns_body(tc__columner *t) {
    const tc__group *g = t->v.l.from;
    uint32_t count = (uint32_t)g->body.node.count, begin = 0;
    for (uint32_t id = 0; id < count; id++) {
        const tc__node *n = g->body.node.at[id];
        if (n->op != TC_OP_FOR || n->attr[TC__FOR_AXIS] != TC__COL) continue;
        uint32_t end = tc__loop_end(g, id);
        tc__columns_rows(t, begin, id);
        tc__columns_loop(t, id + 1, end);
        id = end, begin = end + 1;
    }
    tc__columns_rows(t, begin, count);
}

static void tc__columns_loops(tc__columner *t) {
    tc__vectors *v = &t->v;
    tc__relist *l = &v->l;
    int below = tc__columns_below(t), parts = t->q.parts;
    tc__ix across = tc__ix_const(tc__columns_across(t));
    tc__ix blocks = tc__ix_ceil_div(v->ix, l->from->shape.rows, across);
    t->rows = parts > 1 ? tc__ix_value(blocks) * tc__ix_value(across) : 0;
    t->i = tc__relist_for(l, (tc__axis)TC__COLUMNS_I, TC__BIND_GRID, blocks);
    t->z = t->y = t->p = tc__ix_const(0);
    if (parts > 1)
        t->z =
            tc__relist_for(l, (tc__axis)TC__COLUMNS_Z, TC__BIND_GRID, tc__ix_const(parts));
    if (below > 1)
        t->y =
            tc__relist_for(l, (tc__axis)TC__COLUMNS_Y, TC__BIND_BLOCK, tc__ix_const(below));
    t->x = tc__relist_for(l, (tc__axis)TC__COLUMNS_X, TC__BIND_BLOCK,
                          tc__ix_const(t->q.sharing));
    tc__columns_deal(t, 0);
    tc__columns_body(t);
    tc__relist_end(l, TC__COLUMNS_X);
    if (below > 1) tc__relist_end(l, TC__COLUMNS_Y);
    if (parts > 1) tc__relist_end(l, TC__COLUMNS_Z);
    tc__relist_end(l, TC__COLUMNS_I);
}

// Scratch of a row is the thread's own, or computed again.
static void tc__columns_place_rows(tc__columner *t) {
    const tc__group *g = t->v.l.from;
    for (size_t b = 0; b < g->buffer.count; b++) {
        if (!tc__device_is_row(g, (int64_t)b)) continue;
        if (tc__device_is_again(g, (int64_t)b))
            t->v.row[b] = TC__ROW_AGAIN;
        else if (t->v.l.to)
            t->v.l.to->buffer.at[b].place = TC__BUF_LOCAL;
    }
}

// The list of g as its plan has it; NULL = no memory.
static tc__group *tc__lower_columns(tc_ctx *c, const tc__group *g,
                                    const tc__device_plan *q) {
    tc__columner t;
    size_t n = g->body.node.count ? g->body.node.count : 1;
    memset(&t, 0, sizeof t);
    t.q = *q, t.v.open = tc__columns_open, t.v.apart = t.v.by_rows = 1;
    t.v.width = q->width, t.v.count = q->vectors, t.v.lanes_early = q->lanes_early;
    t.group = TC__NEW_ARRAY(c, uint32_t, n), t.kept = TC__NEW_ARRAY(c, uint8_t, n);
    if (tc__vectors_open(&t.v, c, g) && t.group && t.kept) {
        tc__columns_find_kept(&t);
        tc__columns_find_spread(&t);
        tc__columns_place_rows(&t);
        tc__relist_launch(&t.v.l, q->threads, q->narrow, 0, 0);
        tc__columns_loops(&t);
        tc__relist_end(&t.v.l, TC__END_BLOCK);
    } else {
        t.v.l.failed = 1;
    }
    tc__free(c, t.group, n * sizeof *t.group), tc__free(c, t.kept, n);
    return tc__vectors_done(&t.v, c);
}
