// The list of a reduction whose rows are shared by the threads of a block, or fewer: they walk its columns, phase by
// phase, and each phase ends in sums that all of them get.
//
//     for r in 0..16384 bind=grid, x in 0..256 bind=block
//       acc0 = new max width=4
//       for u in 0..4 bind=unroll:  held0[4*u + l] = in0[4096*r + c]     c = 4*(x + 256*u) + l
//       for u in 0..4 bind=unroll:  acc0 max= held0[4*u + l]
//       %2 = combine acc0 threads=256
//       ...
//
// The row is read once: into registers where they suffice; into shared memory where it is long, or where its
// values are no thread's alone. What fits into neither is read, or computed, in every phase: by a serial loop, U vectors
// a turn.

enum {
    TC__ROWS_I = TC__VAR0 + 1,
    TC__ROWS_Y = TC__VAR0 + 2,
    TC__ROWS_X = TC__VAR0 + 3,
    TC__ROWS_S = TC__VAR0 + 7
};

typedef struct tc__rower {
    tc__vectors v;
    tc__device_plan q;
    tc__ix x;      // of the threads that share a row
    tc__ix s;      // turn of the serial loop
    tc__ix across; // vectors of a row
} tc__rower;

// ---- columns ----

// Columns of whole vectors.
static tc__ix tc__rows_whole(const tc__rower *t) {
    return tc__ix_mul(t->v.ix, tc__ix_const(t->v.width), t->across);
}

// Opens vector u of the turn at hand.
static tc__ix tc__rows_open(tc__vectors *v) {
    tc__rower *t = (tc__rower *)(void *)v;
    tc__relist *l = &v->l;
    tc__ix at = tc__vector_ix(v, v->count, t->s, v->u);
    tc__ix k = tc__vector_ix(v, t->q.sharing, at, t->x);
    tc__ix column = tc__vector_ix(v, v->width, k, tc__ix_const(0));
    v->opened = tc__relist_if(l, column, tc__rows_whole(t), 0, 0);
    return column;
}

// What is left of a single row behind its whole vectors: fewer elements than threads.
static void tc__rows_tail(tc__rower *t) {
    tc__vectors *v = &t->v;
    size_t nodes = v->l.from->body.node.count;
    tc__ix c = tc__ix_add(v->ix, tc__rows_whole(t), t->x);
    memset(v->ahead, 0, nodes);
    tc__vectors_rest(v);
    int opened = tc__relist_if(&v->l, c, v->l.from->shape.cols, 0, 0);
    tc__vector_nodes(v, v->l.from, v->need, c, 1, TC__HOLD_NOT);
    tc__relist_end_if(&v->l, opened);
}

// Turns of a serial loop of U vectors each.
static tc__ix tc__rows_turns(const tc__rower *t) {
    return tc__ix_ceil_div(t->v.ix, t->across,
                           tc__ix_const((int64_t)t->q.sharing * t->v.count));
}

static void tc__rows_serial(tc__rower *t, void (*body)(tc__rower *t)) {
    t->s =
        tc__relist_for(&t->v.l, (tc__axis)TC__ROWS_S, TC__BIND_SERIAL, tc__rows_turns(t));
    body(t);
    tc__relist_end(&t->v.l, TC__ROWS_S);
    t->s = tc__ix_const(0);
}

static void tc__rows_vectors(tc__rower *t) { tc__vectors_put(&t->v); }

// ---- rows in shared memory ----

// Whether load n is the one that puts its element into shared memory.
static int tc__rows_fills(const tc__rower *t, const tc__node *n) {
    return t->q.hold == TC__DEVICE_SHARED &&
           tc__device_held_load(t->v.l.from, &t->q, n) == (int64_t)n->id;
}

// A vector of it: by the engine for that, or by loads where it is too small or not one.
static void tc__rows_fill(tc__rower *t, const tc__node *n, tc__ix column) {
    tc__vectors *v = &t->v;
    uint32_t bytes = (uint32_t)v->width * tc__device_bytes(v->l.from, n);
    int whole = v->width > 1 && tc__device_is_wide(v->l.from, n, v->width, TC__COL);
    if (!whole || bytes < 4) {
        tc__ix lane = tc__vector_lanes(v, v->width);
        tc__relist_axis(&v->l, TC__COL, tc__ix_add(v->ix, column, lane));
        tc__relist_copy(&v->l, n);
        tc__relist_store(&v->l, n, v->held[n->id],
                         tc__ix_var(v->ix, TC__COL, v->l.from->shape.cols));
        tc__vector_lanes_end(v, v->width);
        return;
    }
    tc__relist_copy_vector(&v->l, n, v->held[n->id], column, TC__COL, column, v->width);
}

static void tc__rows_fill_all(tc__rower *t) {
    tc__vectors *v = &t->v;
    v->u = tc__ix_const(0);
    tc__ix column = tc__rows_open(v);
    for (uint32_t id = v->begin; id < v->end; id++)
        if (tc__rows_fills(t, v->l.from->body.node.at[id]))
            tc__rows_fill(t, v->l.from->body.node.at[id], column);
    tc__relist_end_if(&v->l, v->opened);
}

static int tc__rows_any_fills(const tc__rower *t) {
    for (uint32_t id = t->v.begin; id < t->v.end; id++)
        if (tc__rows_fills(t, t->v.l.from->body.node.at[id])) return 1;
    return 0;
}

// ---- phases ----

// The loop over columns of nodes [begin, end).
static void tc__rows_columns(tc__rower *t, uint32_t begin, uint32_t end) {
    tc__vectors *v = &t->v;
    int count = v->count;
    v->begin = begin, v->end = end;
    if (tc__rows_any_fills(t)) {
        v->count = 1;
        tc__rows_serial(t, tc__rows_fill_all);
        v->count = count;
        tc__relist_put(&v->l, TC_OP_WAIT, TC_I64, NULL, 0);
    }
    if (t->q.hold == TC__DEVICE_REGISTERS) {
        tc__rows_vectors(t);
    } else {
        // Where every access is looked at, loads wait for each other whatever their order.
        if (v->l.from->target.checked || !tc__vectors_are_deep(&t->v)) v->count = 1;
        tc__rows_serial(t, tc__rows_vectors);
        v->count = count;
    }
    if (t->q.tail) tc__rows_tail(t);
    // What was held for this loop alone is over; what later ones need was loaded now.
    for (uint32_t id = 0; id < end; id++) {
        const tc__node *n = v->l.from->body.node.at[id];
        if (!v->ahead[id] || v->ahead[id] == TC__HOLD_SHARED) continue;
        int later = t->q.hold == TC__DEVICE_REGISTERS &&
                    tc__device_held_load(v->l.from, &t->q, n) >= 0;
        v->ahead[id] = later ? TC__HOLD_BEFORE : TC__HOLD_NOT;
    }
}

// Whether what the loop [begin, end) stores is loaded behind it, by whichever thread.
static int tc__rows_is_read(const tc__rower *t, uint32_t begin, uint32_t end) {
    const tc__group *g = t->v.l.from;
    int stored = 0, loaded = 0;
    for (uint32_t id = begin; id < g->body.node.count; id++) {
        const tc__node *n = g->body.node.at[id];
        if (!tc__device_is_memory(n) || t->v.row[n->attr[TC__ACCESS_BUFFER]]) continue;
        int shared = tc__buffer_of(g, n)->written ||
                     tc__device_is_row(g, n->attr[TC__ACCESS_BUFFER]);
        if (id < end && n->op == TC_OP_STORE) stored = 1;
        if (id >= end && n->op == TC_OP_LOAD && shared) loaded = 1;
    }
    return stored && loaded && t->q.sharing > 1;
}

// A node of the row, which all its threads do; a store, one of them.
static void tc__rows_node(tc__rower *t, const tc__node *n) {
    tc__relist *l = &t->v.l;
    tc__node m = *n;
    int64_t attr[3];
    int one = n->op == TC_OP_STORE && t->q.sharing > 1;
    int opened = one && tc__relist_if(l, t->x, tc__ix_const(1), 0, 0);
    if (n->op == TC_OP_NEW || n->op == TC_OP_COMBINE) { // with one word more
        memcpy(attr, n->attr, n->n_attr * sizeof *attr);
        if (n->op == TC_OP_NEW) attr[TC__NEW_WIDTH] = t->v.width;
        if (n->op == TC_OP_COMBINE) attr[TC__COMBINE_THREADS] = t->q.sharing;
        m.attr = attr, m.n_attr = 3;
    }
    tc__relist_copy(l, &m);
    tc__relist_end_if(l, opened);
}

static void tc__rows_body(tc__rower *t) {
    const tc__group *g = t->v.l.from;
    for (uint32_t id = 0; id < g->body.node.count; id++) {
        const tc__node *n = g->body.node.at[id];
        if (n->op == TC_OP_END || (n->op == TC_OP_FOR && n->attr[TC__FOR_AXIS] == TC__ROW))
            continue;
        if (n->op != TC_OP_FOR) {
            tc__rows_node(t, n);
            continue;
        }
        uint32_t end = tc__loop_end(g, id);
        tc__rows_columns(t, id + 1, end);
        if (tc__rows_is_read(t, id + 1, end))
            tc__relist_barrier(&t->v.l, t->q.sharing <= 32);
        id = end;
    }
}

// ---- what is held ----

// Rows that are no tensors: where they are.
static void tc__rows_place_rows(tc__rower *t) {
    const tc__group *g = t->v.l.from;
    for (size_t b = 0; b < g->buffer.count; b++) {
        const tc__kbuf *row = &g->buffer.at[b];
        if (!tc__device_is_row(g, (int64_t)b)) continue;
        if (t->q.hold == TC__DEVICE_REGISTERS && tc__device_is_own_row(g, (int64_t)b)) {
            t->v.row[b] = TC__ROW_REGISTERS;
            t->v.row_held[b] = tc__relist_buffer(&t->v.l, TC__BUF_REGISTER, row->dtype,
                                                 (int64_t)t->v.count * t->v.width);
        } else if (t->q.hold != TC__DEVICE_REGISTERS &&
                   tc__device_is_again(g, (int64_t)b)) {
            t->v.row[b] = TC__ROW_AGAIN;
        } else if (t->v.l.to) {
            t->v.l.to->buffer.at[b].place = TC__BUF_SHARED;
        }
    }
}

// Loads that later phases find where the first has put them.
static void tc__rows_place_loads(tc__rower *t) {
    tc__vectors *v = &t->v;
    const tc__group *g = v->l.from;
    for (uint32_t id = 0; id < g->body.node.count; id++) {
        const tc__node *n = g->body.node.at[id];
        int64_t first = tc__device_held_load(g, &t->q, n);
        if (first < 0) continue;
        if (first < (int64_t)id) {
            v->ahead[id] =
                t->q.hold == TC__DEVICE_SHARED ? TC__HOLD_SHARED : TC__HOLD_BEFORE;
            v->held[id] = v->held[first];
        } else if (t->q.hold == TC__DEVICE_REGISTERS) {
            tc__vector_hold_in(v, n, TC__HOLD_FIRST);
        } else {
            v->ahead[id] = TC__HOLD_SHARED;
            v->held[id] =
                tc__relist_buffer(&v->l, TC__BUF_SHARED, tc__buffer_of(g, n)->dtype,
                                  tc__padded(tc__ix_value(g->shape.cols), 64));
        }
    }
}

// ---- the list ----

// Binds the row: rows that fewer than a block share stand one below the other.
static void tc__rows_place(tc__rower *t, tc__ix block, tc__ix y) {
    tc__relist *l = &t->v.l;
    int rows = t->q.threads / t->q.sharing;
    tc__ix r = tc__vector_ix(&t->v, rows, block, y);
    if (tc__ix_divisor(t->v.ix, l->from->shape.rows) % rows)
        tc__relist_leave(l, r, l->from->shape.rows);
    tc__relist_axis(l, TC__ROW, r);
}

static void tc__rows_loops(tc__rower *t) {
    tc__relist *l = &t->v.l;
    tc__ix all = l->from->shape.rows;
    int rows = t->q.threads / t->q.sharing, sharing = t->q.sharing;
    tc__ix y = tc__ix_const(0);
    tc__ix i = tc__relist_for(l, rows > 1 ? (tc__axis)TC__ROWS_I : TC__ROW, TC__BIND_GRID,
                              tc__ix_ceil_div(t->v.ix, all, tc__ix_const(rows)));
    if (rows > 1)
        y = tc__relist_for(l, (tc__axis)TC__ROWS_Y, TC__BIND_BLOCK, tc__ix_const(rows));
    t->x = tc__ix_const(0);
    if (sharing > 1)
        t->x = tc__relist_for(l, (tc__axis)TC__ROWS_X,
                              sharing > 32 ? TC__BIND_BLOCK : TC__BIND_LANE,
                              tc__ix_const(sharing));
    if (rows > 1) tc__rows_place(t, i, y);
    tc__rows_body(t);
    if (sharing > 1) tc__relist_end(l, TC__ROWS_X);
    if (rows > 1) tc__relist_end(l, TC__ROWS_Y);
    tc__relist_end(l, rows > 1 ? (int64_t)TC__ROWS_I : (int64_t)TC__ROW);
}

// The list of g as its plan has it; NULL = no memory.
static tc__group *tc__lower_rows(tc_ctx *c, const tc__group *g, const tc__device_plan *q) {
    tc__rower t;
    memset(&t, 0, sizeof t);
    t.q = *q, t.s = tc__ix_const(0);
    t.v.open = tc__rows_open, t.v.apart = 1, t.v.lanes_early = q->lanes_early;
    t.v.width = q->width, t.v.count = q->vectors;
    t.v.again = q->hold == TC__DEVICE_REGISTERS;
    if (tc__vectors_open(&t.v, c, g)) {
        t.across = tc__ix_div(t.v.ix, g->shape.cols, tc__ix_const(q->width));
        tc__rows_place_rows(&t);
        tc__rows_place_loads(&t);
        tc__relist_launch(&t.v.l, q->threads, q->narrow, q->cluster);
        tc__rows_loops(&t);
        tc__relist_end(&t.v.l, TC__END_BLOCK);
    }
    return tc__vectors_done(&t.v, c);
}
