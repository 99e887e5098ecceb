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
//
// What vectors leave of a row is a tail, which its first threads do element by element behind each phase: of a single
// row, or of long ones that all begin at multiples of a vector.
//
// Few long rows are cut into parts, z, and each phase is a launch, which begins with what the parts of earlier ones have
// summed; the last block of a row goes on where nothing but sums is left. Rows are kept in the workspace between launches
// where computing them again costs more than memory does, or cannot be done. Rows that no block has room for are in
// the memory of a cluster's blocks, a part in each.

enum {
    TC__ROWS_SHARED = 232448, // bytes of shared memory of a multiprocessor,
    TC__ROWS_STATIC = 2048    //   and of a block beside the row
};

enum {
    TC__ROWS_I = TC__VAR0 + 1,
    TC__ROWS_Y = TC__VAR0 + 2,
    TC__ROWS_X = TC__VAR0 + 3,
    TC__ROWS_S = TC__VAR0 + 7,
    TC__ROWS_Q = TC__VAR0 + 8,
    TC__ROWS_M = TC__VAR0 + 9,
    TC__ROWS_Z = TC__VAR0 + 11
};

typedef struct tc__rower {
    tc__vectors v;
    tc__device_plan q;
    tc__ix z;      // part of the row
    tc__ix x;      // of the threads that share a row
    tc__ix s;      // turn of the serial loop
    tc__ix across; // vectors of a row
    int by_part;   // the first part alone stores what is the row's
    tc__ix i,
        made; // of the rows that a block makes for others: this one, and how many there are; 0 = it makes none
    int early;      // loads of all phases stand before the first
    tc__sums sums;  // of rows in parts: all that is summed, and where
    int64_t ticket; //   and where blocks are counted
    int cheap;      // rows that cost little are computed again
    // What is done with a row behind the loop over columns [begin, end); NULL = nothing.
    void (*behind)(struct tc__rower *t, uint32_t begin, uint32_t end);
    // Makes a value of the row that is there already; 0 = it is not. NULL = none is.
    int (*value)(struct tc__rower *t, const tc__node *n);
} tc__rower;

// ---- columns ----

// Columns of whole vectors.
static tc__ix tc__rows_whole(const tc__rower *t) {
    return tc__ix_mul(t->v.ix, tc__ix_const(t->v.width), t->across);
}

// Whether all parts of a row have as many columns, in whole vectors.
static int tc__rows_are_equal(const tc__rower *t) {
    tc__ix all = tc__ix_mul(t->v.ix, t->q.chunk, tc__ix_const(t->q.parts));
    return all == tc__rows_whole(t);
}

// Opens vector u of the turn at hand.
static tc__ix tc__rows_open(tc__vectors *v) {
    tc__rower *t = (tc__rower *)(void *)v;
    tc__relist *l = &v->l;
    tc__ix at = tc__vector_ix(v, v->count, t->s, v->u);
    tc__ix k = tc__vector_ix(v, t->q.sharing, at, t->x);
    tc__ix own = tc__vector_ix(v, v->width, k, tc__ix_const(0));
    tc__ix column = tc__ix_add(v->ix, v->from, own);
    v->opened = t->q.parts == 1 ? tc__relist_if(l, column, tc__rows_whole(t), 0, 0)
                : tc__rows_are_equal(t)
                    ? tc__relist_if(l, own, t->q.chunk, 0, 0)
                    : tc__relist_if(l, column, tc__rows_whole(t), own, t->q.chunk);
    return column;
}

// The columns of a row behind its whole vectors, fewer than threads, of the last part. Opens what those threads do.
static int tc__rows_open_tail(tc__rower *t, tc__ix *c) {
    tc__vectors *v = &t->v;
    *c = tc__ix_add(v->ix, tc__rows_whole(t), t->x);
    tc__ix behind = tc__ix_sub(v->ix, tc__ix_const(t->q.parts - 1), t->z);
    return tc__relist_if(&v->l, *c, v->l.from->shape.cols, behind, tc__ix_const(1));
}

// A load that is held for whole vectors in shared memory is for the tail in a register, the next buffer: nobody's but
// the thread's, so that no barrier is needed.
static void tc__rows_hold_tail(tc__rower *t, tc__vector_hold from, tc__vector_hold to,
                               int64_t next) {
    tc__vectors *v = &t->v;
    for (size_t id = 0; id < v->l.from->body.node.count; id++) {
        if (v->ahead[id] != (uint8_t)from) continue;
        v->ahead[id] = (uint8_t)to, v->held[id] += next;
    }
}

// What is done there, element by element.
static void tc__rows_tail(tc__rower *t) {
    tc__vectors *v = &t->v;
    size_t nodes = v->l.from->body.node.count;
    tc__ix c;
    for (size_t id = 0; id < nodes; id++)
        if (v->ahead[id] != TC__HOLD_SHARED) v->ahead[id] = TC__HOLD_NOT;
    tc__rows_hold_tail(t, TC__HOLD_SHARED, TC__HOLD_ROWS, 1);
    tc__vectors_rest(v);
    int opened = tc__rows_open_tail(t, &c);
    tc__vector_nodes(v, v->l.from, v->need, c, 1, TC__HOLD_NOT);
    tc__relist_end_if(&v->l, opened);
    tc__rows_hold_tail(t, TC__HOLD_ROWS, TC__HOLD_SHARED, -1);
}

// Turns of a serial loop of U vectors each.
static tc__ix tc__rows_turns(const tc__rower *t) {
    tc__ix vectors = t->across;
    if (t->q.parts > 1) vectors = tc__ix_div(t->v.ix, t->q.chunk, tc__ix_const(t->v.width));
    return tc__ix_ceil_div(t->v.ix, vectors,
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
        int opened = v->width == 1 && tc__relist_do(&v->l);
        tc__ix lane = tc__vector_lanes(v, v->width);
        tc__relist_axis(&v->l, TC__COL, tc__ix_add(v->ix, column, lane));
        tc__relist_copy(&v->l, n);
        tc__relist_store(&v->l, n, v->held[n->id], tc__vector_shared_at(v));
        tc__vector_lanes_end(v, v->width);
        tc__relist_end_if(&v->l, opened);
        return;
    }
    tc__relist_copy_vector(&v->l, n, v->held[n->id], tc__ix_sub(v->ix, column, v->from),
                           TC__COL, column, v->width);
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

static void tc__rows_fill_tail(tc__rower *t) {
    tc__vectors *v = &t->v;
    tc__ix column;
    int opened = tc__rows_open_tail(t, &column);
    tc__relist_axis(&v->l, TC__COL, column);
    for (uint32_t id = v->begin; id < v->end; id++) {
        const tc__node *n = v->l.from->body.node.at[id];
        if (!tc__rows_fills(t, n)) continue;
        tc__relist_copy(&v->l, n);
        tc__relist_store(&v->l, n, v->held[id] + 1, tc__ix_const(0));
    }
    tc__relist_end_if(&v->l, opened);
}

static int tc__rows_any_fills(const tc__rower *t) {
    for (uint32_t id = t->v.begin; id < t->v.end; id++)
        if (tc__rows_fills(t, t->v.l.from->body.node.at[id])) return 1;
    return 0;
}

// ---- phases ----

// All whole vectors of the columns.
static void tc__rows_whole_vectors(tc__rower *t) {
    tc__vectors *v = &t->v;
    int count = v->count;
    if (tc__rows_any_fills(t)) {
        v->count = 1;
        tc__rows_serial(t, tc__rows_fill_all);
        if (t->q.tail) tc__rows_fill_tail(t);
        v->count = count;
        tc__relist_put(&v->l, TC_OP_WAIT, TC_I64, NULL, 0);
    }
    if (t->q.hold == TC__DEVICE_REGISTERS) {
        tc__rows_vectors(t);
        return;
    }
    // Where every access is looked at, loads wait for each other whatever their order.
    if (v->l.from->target.checked || !tc__vectors_are_deep(v)) v->count = 1;
    tc__rows_serial(t, tc__rows_vectors);
    v->count = count;
}

// Rows that are computed again are not where they stand, nor are their loads. Of those that the loop needs and no loop has
// loaded, the first of each does.
static void tc__rows_choose_first(tc__rower *t) {
    tc__vectors *v = &t->v;
    for (uint32_t id = 0; id < v->end; id++) {
        if (!v->need[id] || v->ahead[id] != TC__HOLD_LATER) continue;
        for (uint32_t k = 0; k < v->l.from->body.node.count; k++)
            if (v->ahead[k] == TC__HOLD_LATER && v->held[k] == v->held[id])
                v->ahead[k] = TC__HOLD_BEFORE;
        v->ahead[id] = TC__HOLD_FIRST;
    }
}

// What an earlier loop has loaded is there, but nothing that was made of it.
static void tc__rows_forget(tc__rower *t) {
    tc__vectors *v = &t->v;
    for (uint32_t id = 0; id < v->end; id++) {
        int64_t b = v->held[id];
        uint32_t k = 0;
        if (!v->need[id] || v->ahead[id] != TC__HOLD_BEFORE) continue;
        while (k < id && !(v->need[k] && v->ahead[k] == TC__HOLD_BEFORE && v->held[k] == b))
            k++;
        const tc__kbuf *held = &v->l.to->buffer.at[b];
        int words = tc__ix_value(held->numel) * tc__dtypes[held->dtype].bytes % 4 == 0;
        if (k == id && words) tc__relist_put(&v->l, TC_OP_FORGET, TC_I64, &b, 1);
    }
}

// What all rows read is in the cache: each loop has it for itself.
static void tc__rows_drop(tc__rower *t) {
    tc__vectors *v = &t->v;
    for (uint32_t id = 0; id < v->l.from->body.node.count; id++) {
        const tc__node *n = v->l.from->body.node.at[id];
        int held = v->ahead[id] == TC__HOLD_FIRST || v->ahead[id] == TC__HOLD_BEFORE;
        if (held && tc__device_held_load(v->l.from, &t->q, n) >= 0 &&
            !tc__ix_uses(v->ix, n->attr[TC__LOAD_INDEX], TC__ROW))
            v->ahead[id] = TC__HOLD_LATER;
    }
}

// The loop over columns of nodes [begin, end).
static void tc__rows_columns(tc__rower *t, uint32_t begin, uint32_t end) {
    tc__vectors *v = &t->v;
    v->begin = begin, v->end = end;
    if (t->behind) {
        tc__vectors_rest(v);
        if (t->cheap) tc__rows_forget(t);
        tc__rows_choose_first(t);
    }
    // Of a tail alone there are none; of no column at all, they say what is summed.
    if (!tc__ix_equals(t->across, 0) || !t->q.tail) tc__rows_whole_vectors(t);
    if (t->q.tail) tc__rows_tail(t);
    if (t->behind) tc__rows_drop(t);
    // What was held for this loop alone is over; what later ones need was loaded now.
    for (uint32_t id = 0; id < end && !t->early; id++) {
        const tc__node *n = v->l.from->body.node.at[id];
        if (!v->ahead[id] || v->ahead[id] == TC__HOLD_SHARED ||
            v->ahead[id] == TC__HOLD_LATER || v->ahead[id] == TC__HOLD_ASKED)
            continue;
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
    int64_t attr[TC__COMBINE_THREADS + 2];
    tc__ix one = tc__ix_const(1);
    int store = n->op == TC_OP_STORE;
    if (t->value && t->value(t, n)) return;
    int opened = store && tc__relist_if(l, t->x, one, t->by_part ? t->z : 0, one);
    int owned = store && tc__vector_own(&t->v);
    if (n->op == TC_OP_NEW || n->op == TC_OP_COMBINE) { // with more words
        memcpy(attr, n->attr, n->n_attr * sizeof *attr);
        m.attr = attr, m.n_attr = 3;
    }
    if (n->op == TC_OP_NEW) attr[TC__NEW_WIDTH] = t->v.width;
    if (n->op == TC_OP_COMBINE) attr[TC__COMBINE_THREADS] = t->q.sharing;
    if (n->op == TC_OP_COMBINE && t->q.cluster)
        attr[TC__COMBINE_THREADS + 1] = t->q.cluster, m.n_attr = 4;
    tc__relist_copy(l, &m);
    tc__relist_end_if(l, owned), tc__relist_end_if(l, opened);
}

static void tc__rows_body(tc__rower *t) {
    const tc__group *g = t->v.l.from;
    uint32_t rows = 0; // what stands before the loop over them is not a row's
    while (g->body.node.at[rows]->op != TC_OP_FOR) rows++;
    for (uint32_t id = rows; id < g->body.node.count; id++) {
        const tc__node *n = g->body.node.at[id];
        if (n->op == TC_OP_END || (n->op == TC_OP_FOR && n->attr[TC__FOR_AXIS] == TC__ROW))
            continue;
        if (n->op != TC_OP_FOR) {
            tc__rows_node(t, n);
            continue;
        }
        uint32_t end = tc__loop_end(g, id);
        tc__rows_columns(t, id + 1, end);
        if (t->behind) t->behind(t, id + 1, end);
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
        if (t->cheap && tc__device_is_cheap(g, (int64_t)b)) {
            t->v.row[b] = TC__ROW_AGAIN; // sums down the columns have the registers
        } else if (t->q.hold == TC__DEVICE_REGISTERS &&
                   tc__device_is_own_row(g, (int64_t)b)) {
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
    tc__ix columns = t->q.cluster ? t->q.chunk : g->shape.cols;
    for (uint32_t id = 0; id < g->body.node.count; id++) {
        const tc__node *n = g->body.node.at[id];
        int64_t first = tc__device_held_load(g, &t->q, n);
        if (first < 0) continue;
        if (t->behind && first == (int64_t)id) tc__vector_hold_in(v, n, TC__HOLD_LATER);
        if (t->behind) {
            v->ahead[id] = TC__HOLD_LATER, v->held[id] = v->held[first];
            continue;
        }
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
                                  tc__padded(tc__ix_value(columns), 64));
            if (t->q.tail)
                tc__relist_buffer(&v->l, TC__BUF_REGISTER, tc__buffer_of(g, n)->dtype, 1);
        }
    }
}

// ---- rows in parts ----

// A block has a part of a row.
static void tc__rows_open_parts(tc__rower *t) {
    tc__relist *l = &t->v.l;
    tc__relist_for(l, TC__ROW, TC__BIND_GRID, l->from->shape.rows);
    t->z = tc__relist_for(l, (tc__axis)TC__ROWS_Z, TC__BIND_GRID, tc__ix_const(t->q.parts));
    t->x =
        tc__relist_for(l, (tc__axis)TC__ROWS_X, TC__BIND_BLOCK, tc__ix_const(t->q.sharing));
    t->v.from = tc__ix_mul(t->v.ix, t->q.chunk, t->z);
}

static void tc__rows_close_parts(tc__rower *t) {
    tc__relist_end(&t->v.l, TC__ROWS_X), tc__relist_end(&t->v.l, TC__ROWS_Z);
    tc__relist_end(&t->v.l, TC__ROW);
}

// What is summed, and where parts leave it: in the workspace, rows one below the other.
static void tc__rows_place_sums(tc__rower *t) {
    tc__relist *l = &t->v.l;
    const tc__group *g = l->from;
    tc__ix rows = g->shape.rows;
    for (size_t id = 0; id < g->body.node.count; id++)
        if (g->body.node.at[id]->op == TC_OP_COMBINE)
            t->sums.combine[t->sums.count++] = g->body.node.at[id];
    t->ticket = tc__relist_memory(l, TC__BUF_TICKET, TC_I32, rows);
    tc__sums_in(l, &t->sums, TC__BUF_WORK,
                tc__ix_mul(t->v.ix, rows, tc__ix_const(t->q.parts)));
}

// Rows that one launch leaves for the next.
static void tc__rows_place_kept(tc__rower *t) {
    const tc__group *g = t->v.l.from;
    tc__ix r = tc__ix_var(t->v.ix, TC__ROW, g->shape.rows);
    t->v.kept = 1;
    for (size_t b = 0; b < g->buffer.count && !t->v.l.failed; b++) {
        t->v.l.base[b] = tc__ix_const(0);
        if (!tc__device_is_row(g, (int64_t)b)) continue;
        t->v.row[b] = TC__ROW_MEMORY;
        t->v.l.base[b] = tc__ix_mul(t->v.ix, g->shape.cols, r);
        t->v.l.to->buffer.at[b].place = TC__BUF_WORK;
        t->v.l.to->buffer.at[b].numel = tc__ix_mul(t->v.ix, g->shape.cols, g->shape.rows);
    }
}

// The sums of COMBINEs [first, last) that need[] tells.
static tc__sums tc__rows_sums(const tc__rower *t, uint32_t first, uint32_t last,
                              const uint8_t *need) {
    tc__sums s;
    s.count = 0, s.behind = 0;
    for (int i = 0; i < t->sums.count; i++) {
        uint32_t id = t->sums.combine[i]->id;
        if (id < first || id >= last || !need[id]) continue;
        s.combine[s.count] = t->sums.combine[i];
        s.values[s.count] = t->sums.values[i], s.places[s.count] = t->sums.places[i];
        s.count++;
    }
    return s;
}

// What all parts have summed, in all threads.
static void tc__rows_gather(tc__rower *t, const tc__sums *s) {
    tc__vectors *v = &t->v;
    tc__relist *l = &v->l;
    tc__ix parts = tc__ix_const(t->q.parts);
    tc__ix r = tc__ix_var(v->ix, TC__ROW, l->from->shape.rows);
    tc__sums_new(l, s, v->width);
    tc__ix q = tc__relist_for(l, (tc__axis)TC__ROWS_Q, TC__BIND_SERIAL,
                              tc__ix_ceil_div(v->ix, parts, tc__ix_const(t->q.sharing)));
    tc__ix part = tc__vector_ix(v, t->q.sharing, q, t->x);
    int opened = tc__relist_if(l, part, parts, 0, 0);
    part = tc__relist_bind(l, TC__ROWS_M, part, parts);
    tc__sums_move(l, s, TC_OP_GET, tc__vector_ix(v, t->q.parts, r, part));
    tc__relist_end_if(l, opened);
    tc__relist_end(l, TC__ROWS_Q);
    for (int i = 0; i < s->count; i++) tc__rows_node(t, s->combine[i]);
}

// What the part at hand has summed, for the others.
static void tc__rows_leave(tc__rower *t, const tc__sums *s) {
    tc__vectors *v = &t->v;
    tc__ix r = tc__ix_var(v->ix, TC__ROW, v->l.from->shape.rows);
    for (int i = 0; i < s->count; i++) tc__rows_node(t, s->combine[i]);
    int opened = tc__relist_if(&v->l, t->x, tc__ix_const(1), 0, 0);
    tc__sums_move(&v->l, s, TC_OP_PUT, tc__vector_ix(v, t->q.parts, r, t->z));
    tc__relist_end_if(&v->l, opened);
}

// The loop over columns that node id stands before or in: 0, 1, ...
static int tc__rows_loop_of(const tc__group *g, uint32_t id) {
    int loop = 0;
    for (uint32_t i = 0; i < id; i++)
        loop += g->body.node.at[i]->op == TC_OP_END &&
                g->body.node.at[i]->attr[TC__END_AXIS] == TC__COL;
    return loop;
}

// The last launch of a kernel that ends in sums goes on behind its loop.
static int tc__rows_goes_on(const tc__rower *t, int launch) {
    return launch == t->q.launches - 1 && tc__device_ends_in_sums(t->v.l.from);
}

// Nodes that the launch is for: its loop, and the stores of rows before it.
static int tc__rows_is_root(const tc__rower *t, const tc__node *n, int loop, int launch) {
    if (n->level == TC__AT_COL || n->op == TC_OP_ACC) return loop == launch;
    if (n->op != TC_OP_STORE && n->op != TC_OP_CHECK) return 0;
    return loop == launch || (loop > launch && tc__rows_goes_on(t, launch));
}

// Marks in need[] what the launch needs of other loops' results and of rows.
static void tc__rows_need(const tc__rower *t, int launch, uint8_t *need) {
    const tc__group *g = t->v.l.from;
    uint32_t count = (uint32_t)g->body.node.count;
    memset(need, 0, count);
    for (uint32_t id = 0; id < count; id++) {
        const tc__node *n = g->body.node.at[id];
        if (tc__rows_is_root(t, n, tc__rows_loop_of(g, id), launch)) need[id] = 1;
        if (need[id] && n->op == TC_OP_LOAD &&
            t->v.row[n->attr[TC__LOAD_BUFFER]] == TC__ROW_AGAIN)
            tc__device_needs(
                g, g->body.node.at[tc__device_fills(g, n->attr[TC__LOAD_BUFFER])->in[0]],
                need);
    }
    for (uint32_t id = count; id-- > 0;) {
        const tc__node *n = g->body.node.at[id];
        if (!need[id] || n->op == TC_OP_FOR || n->op == TC_OP_END) continue;
        for (uint32_t k = 0; k < n->n_in; k++) need[n->in[k]] = 1;
        for (uint32_t k = 0; k < n->n_attr; k++)
            if (tc__attr_is_ix(n, k))
                tc__ix_each_val(g->body.ix, n->attr[k], tc__vector_need, need);
    }
}

// COMBINEs [first, last), behind loop `loop`: of what earlier launches have left, or of what this one has summed.
// 0 = the launch ends here.
static int tc__rows_cut_sums(tc__rower *t, uint32_t first, uint32_t last, int loop,
                             int launch, const uint8_t *need) {
    uint8_t *all = t->v.phase; // it is made anew for each loop
    memset(all, 1, t->v.l.from->body.node.count);
    tc__sums s = tc__rows_sums(t, first, last, loop < launch ? need : all);
    if (loop > launch) return 0;
    if (loop == launch) {
        tc__ix r = tc__ix_var(t->v.ix, TC__ROW, t->v.l.from->shape.rows);
        tc__rows_leave(t, &s);
        if (!tc__rows_goes_on(t, launch)) return 0;
        tc__relist_last(&t->v.l, t->ticket, r, t->q.parts);
        t->by_part = 0;
    }
    if (s.count) tc__rows_gather(t, &s);
    return 1;
}

static uint32_t tc__rows_run_end(const tc__group *g, uint32_t id) {
    while (id < g->body.node.count && g->body.node.at[id]->op == TC_OP_COMBINE) id++;
    return id;
}

// What launch `launch` does of a row's part.
static void tc__rows_cut_body(tc__rower *t, int launch, const uint8_t *need) {
    const tc__group *g = t->v.l.from;
    t->by_part = 1;
    for (uint32_t id = 0; id < g->body.node.count; id++) {
        const tc__node *n = g->body.node.at[id];
        int loop = tc__rows_loop_of(g, id);
        if (n->op == TC_OP_END || (n->op == TC_OP_FOR && n->attr[TC__FOR_AXIS] == TC__ROW))
            continue;
        if (n->op == TC_OP_FOR) {
            uint32_t end = tc__loop_end(g, id);
            if (loop == launch) tc__rows_columns(t, id + 1, end);
            id = end;
        } else if (n->op == TC_OP_COMBINE) {
            uint32_t last = tc__rows_run_end(g, id);
            if (!tc__rows_cut_sums(t, id, last, loop - 1, launch, need)) return;
            id = last - 1;
        } else if (loop > launch && t->by_part) {
            return;
        } else if (n->op == TC_OP_NEW
                       ? loop == launch
                       : need[id] && !(n->op == TC_OP_STORE && loop < launch)) {
            tc__rows_node(t, n);
        }
    }
}

static void tc__rows_cut(tc__rower *t, uint8_t *need) {
    tc__relist *l = &t->v.l;
    tc__rows_place_sums(t);
    if (t->q.kept) tc__rows_place_kept(t);
    for (int launch = 0; launch < t->q.launches; launch++) {
        tc__rows_need(t, launch, need);
        memset(t->v.ahead, 0, l->from->body.node.count);
        tc__relist_launch(l, t->q.threads, t->q.narrow, 0, 0);
        tc__rows_open_parts(t);
        tc__rows_cut_body(t, launch, need);
        tc__rows_close_parts(t);
        tc__relist_end(l, TC__END_BLOCK);
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

// Blocks that a multiprocessor is to have, where it has room for two rows: one waits for memory while the other computes. The
// compiler may spill a few registers for that: gradients of a cross entropy, 8192 x 50304 bf16, take 557 us of an H200 so,
// 655 by one block of 42 registers, and 570 by two of half the threads. 0 = nothing is known.
static int tc__rows_resident(const tc__rower *t) {
    const tc__device_plan *q = &t->q;
    int64_t bytes = q->hold == TC__DEVICE_SHARED && !q->cluster
                        ? tc__device_kept_bytes(t->v.l.from, q) + TC__ROWS_STATIC
                        : 0;
    return q->threads == TC__DEVICE_LONG_THREADS && bytes && 2 * bytes <= TC__ROWS_SHARED
               ? 2
               : 0;
}

static void tc__rows_whole_launch(tc__rower *t) {
    tc__relist_launch(&t->v.l, t->q.threads, t->q.narrow, tc__rows_resident(t),
                      t->q.cluster);
    if (t->q.cluster) {
        tc__rows_open_parts(t);
        t->by_part = 1;
        tc__rows_body(t);
        tc__rows_close_parts(t);
    } else {
        tc__rows_loops(t);
    }
    tc__relist_end(&t->v.l, TC__END_BLOCK);
}

static void tc__rows_in_parts(tc__rower *t, tc_ctx *c) {
    size_t nodes = t->v.l.from->body.node.count, buffers = t->v.l.from->buffer.count;
    uint8_t *need = TC__NEW_ARRAY(c, uint8_t, nodes);
    t->v.l.base = t->q.kept ? TC__NEW_ARRAY(c, tc__ix, buffers) : NULL;
    if (need && (t->v.l.base || !t->q.kept))
        tc__rows_cut(t, need);
    else
        t->v.l.failed = 1;
    tc__free(c, need, nodes);
    tc__free(c, t->v.l.base, t->q.kept ? buffers * sizeof *t->v.l.base : 0);
    t->v.l.base = NULL;
}

static void tc__rows_init(tc__rower *t, const tc__device_plan *q) {
    memset(t, 0, sizeof *t);
    t->q = *q, t->s = t->x = t->z = tc__ix_const(0);
    t->v.open = tc__rows_open, t->v.apart = 1, t->v.lanes_early = q->lanes_early;
    t->v.late = q->late, t->v.led = q->led;
    t->v.width = q->width, t->v.count = q->vectors;
    t->v.again = q->hold == TC__DEVICE_REGISTERS;
}

static void tc__rows_begin(tc__rower *t) {
    t->across = tc__ix_div(t->v.ix, t->v.l.from->shape.cols, tc__ix_const(t->q.width));
    tc__rows_place_rows(t);
    tc__rows_place_loads(t);
}

// The list of g as its plan has it; NULL = no memory.
static tc__group *tc__lower_rows(tc_ctx *c, const tc__group *g, const tc__device_plan *q) {
    tc__rower t;
    tc__rows_init(&t, q);
    if (tc__vectors_open(&t.v, c, g)) {
        tc__rows_begin(&t);
        if (q->launches > 1 || (q->parts > 1 && !q->cluster))
            tc__rows_in_parts(&t, c);
        else
            tc__rows_whole_launch(&t);
    }
    return tc__vectors_done(&t.v, c);
}
