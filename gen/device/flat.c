// The list of a pointwise kernel: a thread has U vectors of V columns, a block's width apart.
//
//     for j in 0..48 bind=grid, t in 0..256 bind=block
//       if 256*j + t < 12288
//         axis i = 256*j + t                      of all vectors, row by row
//         axis r = i / 192, x = i % 192           its row, and its place there
//         for l in 0..4 bind=vector:  axis c = 4*x + l;  ...
//
// A single row may have a tail, which its first threads do element by element. Of a list of tensors j counts the
// blocks of one of them. Where the host's loop has boxes (kernel/border.c), a vector asks once whether it is in one:
// what is done there has fewer predicates.

enum {
    TC__FLAT_J = TC__VAR0,
    TC__FLAT_I = TC__VAR0 + 1,
    TC__FLAT_X = TC__VAR0 + 3,
    TC__FLAT_T = TC__VAR0 + 6
};

enum {
    TC__FLAT_THREADS = 256,
    TC__FLAT_GATHER =
        2, // U where rows are gathered: 65536 rows of 768 take 100 us, not 106. Else
           //   1: a copy of 256 MiB runs at 4.12 TB/s, with 4 at 3.86
    TC__FLAT_WAVE = 8 // blocks for each multiprocessor before U grows
};

// By value of the knobs; 0 = as it is decided here.
static const int tc__flat_knob_vectors[] = {0, 1, 2, 4};
static const int tc__flat_knob_threads[] = {0, 128, 256, 512, 1024};

typedef struct tc__flattener {
    tc__vectors v;
    int threads, tail;
    tc__ix across, all; // vectors of a row; of the kernel
    tc__ix j, t;
    tc__ix place, row, x; // of the vector at hand
} tc__flattener;

// ---- the choice ----

// Whether rows are gathered: a load waits for its index, so a thread has more than one under way.
static int tc__flat_gathers(const tc__group *g) {
    for (size_t i = 0; i < g->body.node.count; i++) {
        const tc__node *n = g->body.node.at[i];
        if (n->op == TC_OP_LOAD && n->level == TC__AT_COL &&
            tc__ix_has_val(g->body.ix, n->attr[TC__LOAD_INDEX]))
            return 1;
    }
    return 0;
}

// U: less where it would leave multiprocessors without blocks.
static void tc__flat_choose(const tc__group *g, tc__flattener *f) {
    int vectors = tc__flat_knob_vectors[g->shape.tuning.knob[TC__KNOB_VECTORS]];
    int threads = tc__flat_knob_threads[g->shape.tuning.knob[TC__KNOB_BLOCK_THREADS]];
    f->threads = TC__FLAT_THREADS, f->v.count = 1;
    if (!g->shape.list && tc__flat_gathers(g)) f->v.count = TC__FLAT_GATHER;
    if (f->v.count > tc__vectors_fit(g, f->v.width)) f->v.count = 1;
    while (tc__ix_is_const(f->all) && f->v.count > 1 &&
           tc__ix_value(f->all) / (f->threads * f->v.count) <
               TC__DEVICE_SMS * TC__FLAT_WAVE)
        f->v.count /= 2;
    if (vectors) f->v.count = vectors;
    if (threads) f->threads = threads;
}

// How a pointwise kernel is shared out.
static void tc__flat_plan(const tc__group *g, tc__flattener *f) {
    tc__ixpool *x = g->body.ix;
    memset(f, 0, sizeof *f);
    f->v.width = tc__device_width(g, TC__COL);
    tc__ix width = tc__ix_const(f->v.width);
    f->tail = tc__ix_divisor(x, g->shape.cols) % f->v.width != 0;
    f->across = tc__ix_div(x, g->shape.cols, width);
    f->all = tc__ix_mul(x, g->shape.rows, f->across);
    tc__flat_choose(g, f);
}

static tc__ix tc__flat_blocks(const tc__group *g, const tc__flattener *f) {
    tc__ixpool *x = g->body.ix;
    tc__ix across = tc__ix_ceil_div(x, g->shape.cols, tc__ix_const(f->v.width));
    return tc__ix_ceil_div(x, tc__ix_mul(x, g->shape.rows, across),
                           tc__ix_const((int64_t)f->threads * f->v.count));
}

// Whether value v of a knob differs from what is decided here, and may be better.
static int tc__flat_knob_fits(const tc__group *g, int knob, int v) {
    tc__flattener f;
    tc__flat_plan(g, &f);
    int64_t blocks = tc__ix_hi(g->body.ix, tc__flat_blocks(g, &f));
    if (knob == TC__KNOB_BLOCK_THREADS)
        return tc__flat_knob_threads[v] != f.threads && blocks > 1;
    if (knob != TC__KNOB_VECTORS) return 0;
    int vectors = tc__flat_knob_vectors[v];
    return vectors != f.v.count && vectors <= tc__vectors_fit(g, f.v.width) &&
           blocks / vectors * f.v.count >= TC__DEVICE_SMS;
}

// ---- places ----

// Opens vector u of the thread; a row with a tail asks for its last element.
static tc__ix tc__flat_open(tc__vectors *v) {
    tc__flattener *f = (tc__flattener *)(void *)v;
    tc__relist *l = &v->l;
    tc__ix t = tc__ix_const(f->threads);
    tc__ix i = tc__ix_add(v->ix, tc__ix_mul(v->ix, t, v->u), f->place);
    tc__ix cols = l->from->shape.cols;
    tc__ix last = tc__vector_ix(v, v->width, i, tc__ix_const(v->width - 1));
    v->opened = tc__relist_if(l, f->tail ? last : i, f->tail ? cols : f->all, 0, 0);
    i = tc__relist_bind(l, TC__FLAT_I, i, f->tail ? cols : f->all);
    f->row = tc__relist_bind(l, TC__ROW,
                             f->tail ? tc__ix_const(0) : tc__ix_div(v->ix, i, f->across),
                             l->from->shape.rows);
    int one = f->tail || tc__ix_equals(l->from->shape.rows, 1);
    f->x = one ? i
               : tc__relist_bind(l, TC__FLAT_X, tc__ix_mod(v->ix, i, f->across), f->across);
    return tc__vector_ix(v, v->width, f->x, tc__ix_const(0));
}

// What is left of a row behind its whole vectors, by the first threads.
static void tc__flat_tail(tc__flattener *f) {
    tc__vectors *v = &f->v;
    tc__ix cols = v->l.from->shape.cols;
    tc__ix c = tc__vector_ix(v, v->width, f->across, f->place);
    memset(v->ahead, 0, v->l.from->body.node.count);
    tc__vectors_rest(v);
    int opened = tc__relist_if(&v->l, c, cols, 0, 0);
    tc__relist_bind(&v->l, TC__ROW, tc__ix_const(0), v->l.from->shape.rows);
    tc__vector_nodes(v, v->l.from, v->need, c, 1, TC__HOLD_NOT);
    tc__relist_end_if(&v->l, opened);
}

// ---- boxes ----

// e at the vector's first column.
static tc__ix tc__flat_at(const tc__flattener *f, tc__ix e, tc__ix column) {
    tc__ix c = tc__ix_find_var(f->v.ix, e, TC__COL);
    return c ? tc__ix_subst(f->v.ix, e, c, column) : e;
}

// `if` the whole vector is in the box.
static void tc__flat_if_in(tc__flattener *f, const tc__kbox *box, tc__ix column) {
    int64_t attr[TC__BOX_WORDS];
    uint32_t n = 0;
    for (uint32_t i = 0; i < box->count; i += 2) {
        tc__ix e = tc__flat_at(f, box->pair[i], column), limit = box->pair[i + 1];
        if (e != box->pair[i])
            limit = tc__ix_sub(f->v.ix, limit, tc__ix_const(f->v.width - 1));
        n = tc__relist_fact(&f->v.l, attr, n, e, limit);
    }
    tc__relist_put(&f->v.l, TC_OP_IF, TC_BOOL, attr, n);
}

static void tc__flat_boxed(tc__flattener *f, const tc__kbox *box, tc__ix column) {
    const tc__group *g = f->v.l.from;
    tc__boxed boxed;
    if (tc__boxed_open(g->body.ctx, g, box, 0, (uint32_t)g->body.node.count, &boxed))
        tc__vector_nodes(&f->v, &boxed.g, boxed.need, column, f->v.width, TC__HOLD_NOT);
    else
        f->v.l.failed = 1;
    tc__boxed_close(g->body.ctx, &boxed);
}

static const tc__node *tc__flat_loop(const tc__group *g) {
    for (size_t i = 0; i < g->body.node.count; i++)
        if (g->body.node.at[i]->op == TC_OP_FOR &&
            g->body.node.at[i]->attr[TC__FOR_AXIS] == TC__COL)
            return g->body.node.at[i];
    return NULL;
}

// A vector that may be in a box: in the first that has it, else as everywhere. 0 = there are no boxes.
static int tc__flat_boxes(tc__flattener *f) {
    const tc__node *loop = tc__flat_loop(f->v.l.from);
    tc__kbox box;
    uint32_t count = 0;
    if (f->v.count > 1 || !loop || !tc__box_at(loop, 0, &box)) return 0;
    f->v.u = tc__ix_const(0);
    tc__ix column = tc__flat_open(&f->v);
    for (; tc__box_at(loop, count, &box); count++) {
        tc__flat_if_in(f, &box, column);
        tc__flat_boxed(f, &box, column);
        tc__relist_put(&f->v.l, TC_OP_ELSE, TC_BOOL, NULL, 0);
    }
    tc__vectors_rest(&f->v);
    tc__vector_nodes(&f->v, f->v.l.from, f->v.need, column, f->v.width, TC__HOLD_NOT);
    for (; count; count--) tc__relist_end(&f->v.l, TC__END_BLOCK);
    tc__relist_end_if(&f->v.l, f->v.opened);
    return 1;
}

// ---- the list ----

// The list of pointwise kernel g; NULL = no memory.
static tc__group *tc__lower_flat(tc_ctx *c, const tc__group *g) {
    tc__flattener f;
    tc__flat_plan(g, &f);
    f.v.open = tc__flat_open;
    if (tc__vectors_open(&f.v, c, g)) {
        tc__relist_launch(&f.v.l, f.threads, f.v.narrow, 0, 0);
        f.j = tc__relist_for(&f.v.l, (tc__axis)TC__FLAT_J, TC__BIND_GRID,
                             tc__flat_blocks(g, &f));
        f.t = tc__relist_for(&f.v.l, (tc__axis)TC__FLAT_T, TC__BIND_BLOCK,
                             tc__ix_const(f.threads));
        f.place = tc__vector_ix(&f.v, (int64_t)f.threads * f.v.count, f.j, f.t);
        if (!tc__flat_boxes(&f)) tc__vectors_put(&f.v);
        if (f.tail) tc__flat_tail(&f);
        tc__relist_end(&f.v.l, TC__FLAT_T), tc__relist_end(&f.v.l, TC__FLAT_J);
        tc__relist_end(&f.v.l, TC__END_BLOCK);
    }
    return tc__vectors_done(&f.v, c);
}
