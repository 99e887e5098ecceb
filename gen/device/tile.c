// The list of a pointwise kernel with loads that are dense along the rows: a block turns tiles of 32 x 32
// elements in its memory, so that what it reads and what it writes both move along lines.
//
//     for j in 0..64 bind=grid, i in 0..64 bind=grid, y in 0..8 bind=block, x in 0..32 bind=lane
//       for u in 0..4 bind=unroll:  r = 32*j + 8*u + y, c = 32*i + x;  held[u] = in1[2048*r + c]
//       for u in 0..4 bind=unroll:  r = 32*j + x, c = 32*i + 8*u + y;  shared[33*(8*u + y) + x] = in[r + 2048*c]
//       barrier block
//       for u in 0..4 bind=unroll:  r = 32*j + 8*u + y, c = 32*i + x;  out[2048*r + c] = shared[33*x + 8*u + y] + held[u]
//
// Where all turned loads take accesses of V elements, x counts these, and a loop over l is the vector. What is
// read along the columns is asked for before the barrier: else memory idles while the threads meet (8192 x 8192
// with another matrix added: 0.94 of torch's speed so). Large matrices have tiles of 64 x 64.

enum {
    TC__TILE_SMALL = 32,
    TC__TILE_LARGE = 64,
    TC__TILE_FROM =
        1 << 20, // elements from which on tiles are large: enough for all multiprocessors
    TC__TILE_THREADS = 256,
    TC__TILE_BYTES = 40960, // of all tiles: a block has so much without asking
    TC__TILE_HELD = 2       // loads ahead of the barrier, each in 4 or 16 registers
};

enum { // the loops
    TC__TILE_J = TC__VAR0,
    TC__TILE_I,
    TC__TILE_Y,
    TC__TILE_X,
    TC__TILE_U,
    TC__TILE_L
};

// A load that a tile turns: dense along the rows, of which a batch has so many, and not along the columns.
static int tc__device_is_turned(const tc__group *g, const tc__node *n) {
    if (n->op != TC_OP_LOAD || n->n_attr > TC__LOAD_PREDICATES || n->level != TC__AT_COL)
        return 0;
    if (tc__device_is_row(g, n->attr[TC__LOAD_BUFFER]) ||
        tc__ix_has_val(g->body.ix, n->attr[TC__LOAD_INDEX]))
        return 0;
    tc__ixrun run = tc__ix_run(g->body.ix, n->attr[TC__LOAD_INDEX], TC__ROW);
    return run.ok && run.run >= TC__TILE_SMALL && tc__ix_equals(run.stride, 1) &&
           tc__access_along(g, n->attr[TC__LOAD_INDEX], TC__COL, 1) == TC__PER_LANE;
}

// Tiles have accesses of 16 bytes of the widest dtype if all turned loads can be such.
static int tc__device_tile_width(const tc__group *g) {
    uint32_t most = 4;
    for (size_t i = 0; i < g->body.node.count; i++) {
        const tc__node *n = g->body.node.at[i];
        if (tc__device_is_memory(n) && tc__device_bytes(g, n) > most)
            most = tc__device_bytes(g, n);
    }
    int width = (int)(16 / most);
    if (tc__ix_divisor(g->body.ix, g->shape.rows) % width ||
        tc__ix_divisor(g->body.ix, g->shape.cols) % width ||
        !tc__device_takes(g, TC__COL, width))
        return 1;
    for (size_t i = 0; i < g->body.node.count; i++) {
        const tc__node *n = g->body.node.at[i];
        if (tc__device_is_turned(g, n) && !tc__device_is_wide(g, n, width, TC__ROW))
            return 1;
    }
    return width;
}

// Elements of a tile of `size` lines: no two of them begin in one bank.
static int64_t tc__tile_numel(int64_t size) { return size * (size + 1); }

// Bytes of the tiles of all loads that are turned.
static int64_t tc__device_tile_bytes(const tc__group *g, int64_t size) {
    int64_t bytes = 0;
    for (size_t i = 0; i < g->body.node.count; i++)
        if (tc__device_is_turned(g, g->body.node.at[i]))
            bytes += tc__tile_numel(size) * tc__dtypes[g->body.node.at[i]->dtype].bytes;
    return bytes;
}

// Loads that are turned, as long as their tiles fit.
static int tc__device_is_tile(const tc__group *g) {
    int64_t bytes = tc__device_tile_bytes(g, TC__TILE_SMALL);
    return g->shape.kind == TC__POINTWISE && bytes > 0 && bytes <= TC__TILE_BYTES;
}

static int64_t tc__device_tile_size(const tc__group *g) {
    const tc__ixpool *x = g->body.ix;
    int64_t elements =
        tc__ix_times(tc__ix_lo(x, g->shape.rows), tc__ix_lo(x, g->shape.cols));
    int fits = tc__device_tile_bytes(g, TC__TILE_LARGE) <= TC__TILE_BYTES;
    return fits && elements >= TC__TILE_FROM ? TC__TILE_LARGE : TC__TILE_SMALL;
}

// A load of adjacent elements of an input that no fact keeps from standing before the barrier.
static int tc__device_is_held_ahead(const tc__group *g, const tc__node *n) {
    if (n->op != TC_OP_LOAD || n->level != TC__AT_COL || tc__device_is_turned(g, n))
        return 0;
    const tc__kbuf *b = tc__buffer_of(g, n);
    return tc__is_memory(b) && !b->written && n->n_attr <= TC__LOAD_PREDICATES &&
           !tc__ix_has_val(g->body.ix, n->attr[TC__LOAD_INDEX]) &&
           tc__access_along(g, n->attr[TC__LOAD_INDEX], TC__COL, 1) == TC__CONTIGUOUS;
}

typedef struct tc__tiler {
    tc__relist l;
    tc__ixpool *ix;
    int64_t size;        // lines of a tile, and elements of a line
    int64_t width, down; // elements of an access; lines that the block has at once
    tc__ix j, i, y, x, u;
    int opened; // an IF around a line of rows
} tc__tiler;

// a * x + b
static tc__ix tc__tile_ix(const tc__tiler *t, int64_t a, tc__ix x, tc__ix b) {
    return tc__ix_add(t->ix, tc__ix_mul(t->ix, tc__ix_const(a), x), b);
}

// The variable of the vector, 0 where an access has one element.
static tc__ix tc__tile_vector_open(tc__tiler *t) {
    if (t->width == 1) return tc__ix_const(0);
    return tc__relist_for(&t->l, (tc__axis)TC__TILE_L, TC__BIND_VECTOR,
                          tc__ix_const(t->width));
}

static void tc__tile_vector_close(tc__tiler *t) {
    if (t->width > 1) tc__relist_end(&t->l, TC__TILE_L);
}

// The first loads that are held ahead: a kernel of many has enough to wait for.
static int tc__tile_holds(const tc__group *g, const tc__node *load) {
    int before = 0;
    if (!tc__device_is_held_ahead(g, load)) return 0;
    for (uint32_t id = 0; id < load->id; id++)
        before += tc__device_is_held_ahead(g, g->body.node.at[id]);
    return before < TC__TILE_HELD;
}

static int tc__tile_keeps(const tc__group *g, const tc__node *n) {
    return tc__device_is_turned(g, n) || tc__tile_holds(g, n);
}

// The buffer of a load that is turned or held: in their order, behind those of the kernel.
static int64_t tc__tile_of(const tc__tiler *t, const tc__node *load) {
    int64_t b = (int64_t)t->l.from->buffer.count;
    for (uint32_t id = 0; id < load->id; id++)
        b += tc__tile_keeps(t->l.from, t->l.from->body.node.at[id]);
    return b;
}

// Halves and f8 are held as the f32 that they are in registers.
static void tc__tile_buffer(tc__tiler *t, const tc__node *load) {
    const tc__group *g = t->l.from;
    int dtype = tc__buffer_of(g, load)->dtype;
    if (tc__device_is_turned(g, load))
        tc__relist_buffer(&t->l, TC__BUF_SHARED, dtype, tc__tile_numel(t->size));
    else
        tc__relist_buffer(&t->l, TC__BUF_REGISTER, tc__is_rounded(dtype) ? TC_F32 : dtype,
                          t->size * t->size / TC__TILE_THREADS);
}

// What is read along the rows, line by line of columns.
static void tc__tile_read(tc__tiler *t, tc__ix line) {
    const tc__group *g = t->l.from;
    tc__ix first = tc__tile_ix(t, t->width, t->x, tc__ix_const(0));
    tc__ix row = tc__tile_ix(t, t->size, t->j, first);
    tc__ix column = tc__tile_ix(t, t->size, t->i, line);
    int opened = tc__relist_if(&t->l, row, g->shape.rows, column, g->shape.cols);
    tc__relist_axis(&t->l, TC__COL, column);
    tc__ix l = tc__tile_vector_open(t);
    tc__relist_axis(&t->l, TC__ROW, tc__ix_add(t->ix, row, l));
    tc__ix at = tc__tile_ix(t, t->size + 1, line, tc__ix_add(t->ix, first, l));
    for (size_t id = 0; id < g->body.node.count; id++) {
        const tc__node *n = g->body.node.at[id];
        if (!tc__device_is_turned(g, n)) continue;
        tc__relist_copy(&t->l, n);
        tc__relist_store(&t->l, n, tc__tile_of(t, n), at);
    }
    tc__tile_vector_close(t);
    tc__relist_end_if(&t->l, opened);
}

// A store of the row, by one of its threads.
static void tc__tile_store_row(tc__tiler *t, const tc__node *n) {
    int64_t attr[2];
    attr[TC__IF_PREDICATES] = tc__ix_var(t->ix, TC__COL, t->l.from->shape.cols);
    attr[TC__IF_PREDICATES + 1] = tc__ix_const(1);
    tc__relist_put(&t->l, TC_OP_IF, TC_BOOL, attr, 2);
    tc__relist_copy(&t->l, n);
    tc__relist_end(&t->l, TC__END_BLOCK);
}

static void tc__tile_node(tc__tiler *t, const tc__node *n, tc__ix at, tc__ix held) {
    if (tc__opens(n) || n->op == TC_OP_END) return;
    if (tc__tile_keeps(t->l.from, n))
        tc__relist_load(&t->l, n, tc__tile_of(t, n),
                        tc__device_is_turned(t->l.from, n) ? at : held);
    else if (n->op == TC_OP_STORE && n->level == TC__AT_ROW)
        tc__tile_store_row(t, n);
    else
        tc__relist_copy(&t->l, n);
}

// Opens a line of rows: the variable of its vector.
static tc__ix tc__tile_row_open(tc__tiler *t, tc__ix line) {
    tc__ix first = tc__tile_ix(t, t->width, t->x, tc__ix_const(0));
    tc__ix row = tc__tile_ix(t, t->size, t->j, line);
    tc__ix column = tc__tile_ix(t, t->size, t->i, first);
    t->opened =
        tc__relist_if(&t->l, row, t->l.from->shape.rows, column, t->l.from->shape.cols);
    tc__relist_axis(&t->l, TC__ROW, row);
    tc__ix l = tc__tile_vector_open(t);
    tc__relist_axis(&t->l, TC__COL, tc__ix_add(t->ix, column, l));
    return l;
}

static void tc__tile_row_close(tc__tiler *t) {
    tc__tile_vector_close(t);
    tc__relist_end_if(&t->l, t->opened);
}

// What is held ahead, line by line of rows.
static void tc__tile_hold(tc__tiler *t, tc__ix line) {
    const tc__group *g = t->l.from;
    tc__ix held = tc__tile_ix(t, t->width, t->u, tc__tile_row_open(t, line));
    for (size_t id = 0; id < g->body.node.count; id++) {
        const tc__node *n = g->body.node.at[id];
        if (!tc__tile_holds(g, n)) continue;
        tc__relist_copy(&t->l, n);
        tc__relist_store(&t->l, n, tc__tile_of(t, n), held);
    }
    tc__tile_row_close(t);
}

// The kernel, line by line of rows.
static void tc__tile_compute(tc__tiler *t, tc__ix line) {
    const tc__group *g = t->l.from;
    tc__ix l = tc__tile_row_open(t, line);
    tc__ix held = tc__tile_ix(t, t->width, t->u, l);
    tc__ix across = tc__tile_ix(t, t->width, t->x, l);
    tc__ix at = tc__tile_ix(t, t->size + 1, across, line);
    for (size_t id = 0; id < g->body.node.count; id++)
        tc__tile_node(t, g->body.node.at[id], at, held);
    tc__tile_row_close(t);
}

// All lines of a tile; a pass of the block has `down` of them.
static void tc__tile_lines(tc__tiler *t, void (*one)(tc__tiler *t, tc__ix line)) {
    int64_t passes = t->size / t->down;
    t->u =
        tc__relist_for(&t->l, (tc__axis)TC__TILE_U, TC__BIND_UNROLL, tc__ix_const(passes));
    one(t, tc__tile_ix(t, t->down, t->u, t->y));
    tc__relist_end(&t->l, TC__TILE_U);
}

static tc__ix tc__tile_loop(tc__tiler *t, int axis, tc__bind bind, tc__ix extent) {
    return tc__relist_for(&t->l, (tc__axis)axis, bind, extent);
}

// Its buffers; whether there are loads to be held.
static int tc__tile_buffers(tc__tiler *t) {
    const tc__group *g = t->l.from;
    int held = 0;
    for (size_t i = 0; i < g->body.node.count; i++) {
        const tc__node *n = g->body.node.at[i];
        if (tc__tile_keeps(g, n)) tc__tile_buffer(t, n);
        held |= tc__tile_holds(g, n);
    }
    return held;
}

// The list of g, which tc__device_is_tile takes; NULL = no memory.
static tc__group *tc__lower_tile(tc_ctx *c, const tc__group *g) {
    tc__tiler t;
    memset(&t, 0, sizeof t);
    t.ix = g->body.ix, t.width = tc__device_tile_width(g), t.size = tc__device_tile_size(g);
    t.down = TC__TILE_THREADS * t.width / t.size;
    tc__ix size = tc__ix_const(t.size);
    if (tc__relist_open(&t.l, c, g)) {
        int held = tc__tile_buffers(&t);
        tc__relist_launch(&t.l, TC__TILE_THREADS, tc__device_is_narrow(g), 0, 0);
        t.j = tc__tile_loop(&t, TC__TILE_J, TC__BIND_GRID,
                            tc__ix_ceil_div(t.ix, g->shape.rows, size));
        t.i = tc__tile_loop(&t, TC__TILE_I, TC__BIND_GRID,
                            tc__ix_ceil_div(t.ix, g->shape.cols, size));
        t.y = tc__tile_loop(&t, TC__TILE_Y, TC__BIND_BLOCK, tc__ix_const(t.down));
        t.x = tc__tile_loop(&t, TC__TILE_X, TC__BIND_LANE, tc__ix_const(t.size / t.width));
        if (held) tc__tile_lines(&t, tc__tile_hold);
        tc__tile_lines(&t, tc__tile_read);
        tc__relist_barrier(&t.l, 0);
        tc__tile_lines(&t, tc__tile_compute);
        tc__relist_end(&t.l, TC__TILE_X), tc__relist_end(&t.l, TC__TILE_Y);
        tc__relist_end(&t.l, TC__TILE_I), tc__relist_end(&t.l, TC__TILE_J);
        tc__relist_end(&t.l, TC__END_BLOCK);
    }
    return tc__relist_close(&t.l, c);
}
