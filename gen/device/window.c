// The list of a stencil: a thread reads what its U rows of V columns see of a window once, into registers.
//
//     for i in 0..68 bind=grid, j in 0..8 bind=grid, y in 0..4 bind=block, x in 0..64 bind=lane
//       if 16*i + 4*y < 1080, 256*j + 4*x < 2048
//         for q in 0..6 bind=unroll:  held0[6*q ..] = row 16*i + 4*y + q of the window, as few loads as bytes allow
//         for u in 0..4 bind=unroll
//           if 16*i + 4*y + u < 1080:  ... held0[6*(u + 1) + l + 2] ...

enum {
    TC__WINDOW_I = TC__VAR0 + 1,
    TC__WINDOW_J = TC__VAR0,
    TC__WINDOW_Y = TC__VAR0 + 2,
    TC__WINDOW_X = TC__VAR0 + 3,
    TC__WINDOW_Q = TC__VAR0 + 8
};

typedef struct tc__windower {
    tc__vectors v;
    tc__windows w;
    tc__ix row, column; // the first of the thread
    int ragged;         // some of its rows may be behind the end
} tc__windower;

// ---- reading windows ----

// Elements that one access reads from that of load n on, of those that are left in the row.
static int tc__window_access(const tc__windower *t, const tc__node *n, int left) {
    int width = t->w.width;
    while (width > 1 &&
           (width > left || !tc__device_is_wide(t->v.l.from, n, width, TC__COL)))
        width /= 2;
    return width;
}

// Column `column` of row q of window i, and those that its access brings: their number.
static int tc__window_read(tc__windower *t, int i, tc__ix q, int column) {
    const tc__group *g = t->v.l.from;
    const tc__neighbours *w = &t->w.window[i];
    int64_t words[TC__WINDOW_WORDS];
    int across = tc__window_across_of(&t->w, w);
    tc__ix down = tc__ix_add(t->v.ix, q, tc__ix_const(w->top));
    tc__node of = tc__window_node(g, w), n;
    n = tc__window_moved(g, &of, down, tc__ix_const(w->left + column), words);
    int width = tc__window_access(t, &n, across - column);
    tc__ix lane = tc__vector_lanes(&t->v, width);
    n = tc__window_moved(g, &of, down,
                         tc__ix_add(t->v.ix, lane, tc__ix_const(w->left + column)), words);
    tc__relist_copy(&t->v.l, &n);
    tc__relist_store(
        &t->v.l, &n, t->v.first_window + i,
        tc__vector_ix(&t->v, across, q, tc__ix_add(t->v.ix, lane, tc__ix_const(column))));
    tc__vector_lanes_end(&t->v, width);
    return width;
}

static void tc__window_read_all(tc__windower *t, int i) {
    const tc__group *g = t->v.l.from;
    const tc__neighbours *w = &t->w.window[i];
    tc__ix q = tc__relist_for(&t->v.l, (tc__axis)TC__WINDOW_Q, TC__BIND_UNROLL,
                              tc__ix_const(w->rows + t->w.rows - 1));
    tc__ix rows = tc__ix_add(t->v.ix, g->shape.rows, tc__ix_const(w->rows - 1));
    int opened =
        t->ragged && tc__relist_if(&t->v.l, tc__ix_add(t->v.ix, t->row, q), rows, 0, 0);
    tc__relist_axis(&t->v.l, TC__ROW, t->row);
    tc__relist_axis(&t->v.l, TC__COL, t->column);
    for (int column = 0; column < tc__window_across_of(&t->w, w);)
        column += tc__window_read(t, i, q, column);
    tc__relist_end_if(&t->v.l, opened);
    tc__relist_end(&t->v.l, TC__WINDOW_Q);
}

// ---- the list ----

static void tc__window_buffers(tc__windower *t) {
    const tc__group *g = t->v.l.from;
    t->v.first_window = (int64_t)t->v.l.to->buffer.count;
    for (int i = 0; i < t->w.count; i++) {
        const tc__neighbours *w = &t->w.window[i];
        int dtype = tc__buffer_of(g, g->body.node.at[w->load])->dtype;
        int rows = w->rows + t->w.rows - 1;
        tc__relist_buffer(&t->v.l, TC__BUF_REGISTER, dtype,
                          (int64_t)rows * tc__window_across_of(&t->w, w));
    }
}

static tc__ix tc__window_open_row(tc__vectors *f) {
    const tc__windower *t = (const tc__windower *)(void *)f;
    tc__ix row = tc__ix_add(f->ix, t->row, f->u);
    f->opened = t->ragged && tc__relist_if(&f->l, row, f->l.from->shape.rows, 0, 0);
    tc__relist_axis(&f->l, TC__ROW, row);
    return t->column;
}

static tc__ix tc__window_loop(tc__windower *t, int axis, tc__bind bind, tc__ix extent) {
    return tc__relist_for(&t->v.l, (tc__axis)axis, bind, extent);
}

static void tc__window_rows_body(tc__windower *t, int ragged) {
    t->ragged = ragged;
    memset(t->v.ahead, 0, t->v.l.from->body.node.count);
    for (int i = 0; i < t->w.count; i++) tc__window_read_all(t, i);
    tc__vectors_put(&t->v);
}

// Whether all that is loaded at columns is in windows: what is not may be where the kernel stores, and two threads that
// read, change and store an element do it twice.
static int tc__window_is_pure(const tc__windower *t) {
    const tc__group *g = t->v.l.from;
    for (uint32_t i = 0; i < g->body.node.count; i++) {
        const tc__node *n = g->body.node.at[i];
        if (n->op == TC_OP_LOAD && !tc__window_is_in(g, &t->w, n)) return 0;
    }
    return 1;
}

// Where the last threads would have fewer rows than others, they begin earlier, and what two threads store is equal:
// no row is in an `if`. A 7 x 7 stencil of 8192 x 8192 took 402 us of an H200 where each row was in one, and 290 where
// a thread asked once. Of run-time sizes there may be fewer rows than a thread has: those ask once.
static void tc__window_body(tc__windower *t) {
    const tc__group *g = t->v.l.from;
    tc__ixpool *x = t->v.ix;
    tc__ix all = g->shape.rows, own = tc__ix_const(t->w.rows), row = t->row;
    tc__ix last = tc__ix_add(x, row, tc__ix_const(t->w.rows - 1));
    int ragged = tc__ix_divisor(x, all) % t->w.rows != 0;
    int opened = tc__relist_if(&t->v.l, row, all, t->column, g->shape.cols);
    if (ragged && tc__window_is_pure(t) && tc__ix_is_const(all) &&
        tc__ix_value(all) >= t->w.rows) {
        t->row = tc__ix_min(x, row, tc__ix_sub(x, all, own));
        ragged = 0;
    }
    int asks = ragged && tc__relist_if(&t->v.l, last, all, 0, 0);
    tc__window_rows_body(t, 0);
    if (asks) tc__relist_put(&t->v.l, TC_OP_ELSE, TC_BOOL, NULL, 0);
    if (asks) tc__window_rows_body(t, 1);
    tc__relist_end_if(&t->v.l, asks);
    tc__relist_end_if(&t->v.l, opened);
}

// The list of g, whose windows are `w`; NULL = no memory.
static tc__group *tc__lower_windows(tc_ctx *c, const tc__group *g, const tc__windows *w) {
    tc__windower t;
    memset(&t, 0, sizeof t);
    t.w = *w, t.v.window = &t.w, t.v.open = tc__window_open_row;
    t.v.width = w->width, t.v.count = w->rows;
    if (tc__vectors_open(&t.v, c, g)) {
        tc__ixpool *x = t.v.ix;
        int below = w->threads / w->across;
        tc__window_buffers(&t);
        tc__relist_launch(&t.v.l, w->threads, t.v.narrow, 0, 0);
        tc__ix i = tc__window_loop(
            &t, TC__WINDOW_I, TC__BIND_GRID,
            tc__ix_ceil_div(x, g->shape.rows, tc__ix_const((int64_t)below * w->rows)));
        tc__ix j = tc__window_loop(
            &t, TC__WINDOW_J, TC__BIND_GRID,
            tc__ix_ceil_div(x, g->shape.cols, tc__ix_const((int64_t)w->across * w->width)));
        tc__ix y = tc__window_loop(&t, TC__WINDOW_Y, TC__BIND_BLOCK, tc__ix_const(below));
        tc__ix n =
            tc__window_loop(&t, TC__WINDOW_X, TC__BIND_LANE, tc__ix_const(w->across));
        t.row = tc__vector_ix(&t.v, (int64_t)below * w->rows, i,
                              tc__ix_mul(x, tc__ix_const(w->rows), y));
        t.column = tc__vector_ix(&t.v, (int64_t)w->across * w->width, j,
                                 tc__ix_mul(x, tc__ix_const(w->width), n));
        tc__window_body(&t);
        tc__relist_end(&t.v.l, TC__WINDOW_X), tc__relist_end(&t.v.l, TC__WINDOW_Y);
        tc__relist_end(&t.v.l, TC__WINDOW_J), tc__relist_end(&t.v.l, TC__WINDOW_I);
        tc__relist_end(&t.v.l, TC__END_BLOCK);
    }
    return tc__vectors_done(&t.v, c);
}
