// How a LOOP list maps to CUDA threads. Input: a group at LOOP. Output: a tc__cuda_plan, made
// from the list alone, and the questions that the dialect asks of single loads and stores.
//
//   flat   pointwise: threads walk rows x columns / V in a grid stride
//   rows   a warp or a block for each row, threads walk its columns; sums by shuffles, then
//          shared. Where a thread has few columns they stay in its registers: the row is
//          read once. Longer rows, and rows of unknown length, are read in every phase
//   lanes  the vector runs along the rows: a thread for each row, columns in series
//   tile   pointwise with loads dense along the rows: 32 x 32 tiles turned in shared memory
//   product  contractions, as print_cuda_product.c has it
//
// V is the number of elements in one 16-byte access of the widest dtype.

typedef enum tc__cuda_form {
    TC__CUDA_FLAT,
    TC__CUDA_ROWS,
    TC__CUDA_LANES,
    TC__CUDA_TILE,
    TC__CUDA_PRODUCT
} tc__cuda_form;

enum {
    TC__CUDA_THREADS = 256,
    TC__CUDA_MOST = 1024,
    TC__CUDA_TILE_SIZE = 32,
    TC__CUDA_WARPS = 4,     // rows of a block with a warp for each row
    TC__CUDA_WARP_MOST = 8, // 16-byte accesses of a row by one thread of such a warp
    TC__CUDA_MANY = 4,      // and of a thread where a block shares a row
    TC__CUDA_HELD = 64      // elements that a thread holds in registers
};

// What a launch needs to know: threads of a block, and blocks that have work.
typedef struct tc__cuda_plan {
    tc__cuda_form form;
    int threads, width; // width: V
    int sharing;        // ROWS: threads that share a row
    int steps; // ROWS: accesses of a thread that cover its row, 0 = unknown or many
    tc__ix blocks;
    tc__ix shared; // bytes of a block
    int resident;  // blocks of a multiprocessor that registers must suffice for, 0 = any
} tc__cuda_plan;

static int tc__cuda_is_memory(const tc__node *n) {
    return n->op == TC_OP_LOAD || n->op == TC_OP_STORE;
}

// A load that a tile turns: dense along the rows and not along the columns.
static int tc__cuda_is_turned(const tc__group *g, const tc__node *n) {
    if (n->op != TC_OP_LOAD || n->n_attr > TC__LOAD_FIXED || n->level != TC__AT_COL)
        return 0;
    if (g->buffer.at[n->attr[0]].place == TC__BUF_ROW ||
        tc__ix_has_val(g->body.ix, n->attr[1]))
        return 0;
    tc__ixrun run = tc__ix_run(g->body.ix, n->attr[1], TC__ROW);
    return run.ok && run.run == INT64_MAX && tc__ix_equals(run.stride, 1) &&
           tc__access_along(g, n->attr[1], TC__COL, 1) == TC__PER_LANE;
}

// Whether V elements of the access that are adjacent along the axis are adjacent and aligned.
static int tc__cuda_is_wide_along(const tc__group *g, const tc__node *n, int width,
                                  tc__axis axis) {
    tc__ixpool *x = g->body.ix;
    tc__ix e = n->attr[1], v = tc__ix_find_var(x, e, axis);
    if (width == 1 || n->level == TC__AT_ROW ||
        (n->op == TC_OP_LOAD && n->n_attr > TC__LOAD_FIXED))
        return 0;
    if ((uint32_t)width * tc__dtypes[g->buffer.at[n->attr[0]].dtype].bytes > 16) return 0;
    if (tc__access_along(g, e, axis, width) != TC__CONTIGUOUS) return 0;
    if (v) e = tc__ix_subst(x, e, v, tc__ix_mul(x, v, tc__ix_const(width)));
    return tc__ix_divisor(x, e) % width == 0;
}

static int tc__cuda_is_wide(const tc__group *g, const tc__node *n, int width) {
    return tc__cuda_is_wide_along(g, n, width, TC__COL);
}

// Elements of a 16-byte access of the widest dtype of the columns' loads and stores; 1 where
// columns do not divide into them.
static int tc__cuda_width(const tc__group *g) {
    uint32_t most = 1;
    int wide = 0;
    for (size_t i = 0; i < g->body.node.count; i++) {
        const tc__node *n = g->body.node.at[i];
        if (!tc__cuda_is_memory(n) || n->level != TC__AT_COL) continue;
        uint32_t bytes = tc__dtypes[g->buffer.at[n->attr[0]].dtype].bytes;
        if (bytes > most) most = bytes;
    }
    int width = most < 4 ? 4 : (int)(16 / most);
    for (size_t i = 0; i < g->body.node.count; i++) {
        const tc__node *n = g->body.node.at[i];
        wide |= tc__cuda_is_memory(n) && tc__cuda_is_wide(g, n, width);
    }
    return wide && tc__ix_divisor(g->body.ix, g->cols) % width == 0 ? width : 1;
}

// A tile is filled by 16-byte accesses if all its turned loads can be.
static int tc__cuda_tile_width(const tc__group *g) {
    int width = tc__cuda_width(g);
    if (tc__ix_divisor(g->body.ix, g->rows) % width) return 1;
    for (size_t i = 0; i < g->body.node.count; i++) {
        const tc__node *n = g->body.node.at[i];
        if (tc__cuda_is_turned(g, n) && !tc__cuda_is_wide_along(g, n, width, TC__ROW))
            return 1;
    }
    return width;
}

// ---- columns held in registers ----

// Buffer b is the scratch of a row whose every access is at the thread's own column.
static int tc__cuda_is_own_row(const tc__group *g, int64_t b) {
    if (g->buffer.at[b].place != TC__BUF_ROW) return 0;
    for (size_t i = 0; i < g->body.node.count; i++) {
        const tc__node *n = g->body.node.at[i];
        if (!tc__cuda_is_memory(n) || n->attr[0] != b) continue;
        if (n->level != TC__AT_COL || n->n_attr > TC__LOAD_FIXED ||
            n->attr[1] != tc__ix_var(g->body.ix, TC__COL, g->cols))
            return 0;
    }
    return 1;
}

static int tc__cuda_same_load(const tc__node *n, const tc__node *m) {
    return m->op == TC_OP_LOAD && m->attr[0] == n->attr[0] && m->attr[1] == n->attr[1] &&
           m->n_attr == TC__LOAD_FIXED && m->level == TC__AT_COL;
}

// The first load of what n loads, if n or a later phase loads it again and nothing writes it
// in between: its id, else -1.
static int64_t tc__cuda_first_load(const tc__group *g, const tc__node *n) {
    int64_t first = -1;
    int count = 0;
    if (n->op != TC_OP_LOAD || n->n_attr > TC__LOAD_FIXED || n->level != TC__AT_COL)
        return -1;
    if (g->buffer.at[n->attr[0]].written || g->buffer.at[n->attr[0]].place == TC__BUF_ROW)
        return -1;
    for (size_t i = 0; i < g->body.node.count; i++) {
        if (!tc__cuda_same_load(n, g->body.node.at[i])) continue;
        if (first < 0) first = (int64_t)i;
        count++;
    }
    return count > 1 ? first : -1;
}

// Elements of each column that stay in registers: own rows, and loads of several phases.
static int tc__cuda_held(const tc__group *g) {
    int held = 0;
    for (size_t i = 0; i < g->buffer.count; i++) held += tc__cuda_is_own_row(g, (int64_t)i);
    for (size_t i = 0; i < g->body.node.count; i++)
        held += tc__cuda_first_load(g, g->body.node.at[i]) == (int64_t)i;
    return held;
}

static int tc__cuda_has_shared_row(const tc__group *g) {
    for (size_t i = 0; i < g->buffer.count; i++)
        if (g->buffer.at[i].place == TC__BUF_ROW && !tc__cuda_is_own_row(g, (int64_t)i))
            return 1;
    return 0;
}

// Threads for rows of a known length: a warp as long as it can hold the row.
static void tc__cuda_share(const tc__group *g, tc__cuda_plan *q, int64_t accesses) {
    int warp = accesses <= 32 * TC__CUDA_WARP_MOST && !tc__cuda_has_shared_row(g);
    int64_t threads = warp ? 32 : tc__padded((accesses - 1) / TC__CUDA_MANY + 1, 32);
    if (threads > TC__CUDA_MOST) threads = TC__CUDA_MOST;
    q->sharing = (int)threads;
    q->threads = warp ? 32 * TC__CUDA_WARPS : (int)threads;
    int64_t steps = (accesses - 1) / threads + 1, held = tc__cuda_held(g);
    if (held && held * steps * q->width <= TC__CUDA_HELD) q->steps = (int)steps;
}

static tc__ix tc__cuda_blocks(const tc__group *g, const tc__cuda_plan *q) {
    tc__ixpool *x = g->body.ix;
    tc__ix columns = tc__ix_ceil_div(x, g->cols, tc__ix_const(q->width)),
           threads = tc__ix_const(q->threads), tile = tc__ix_const(TC__CUDA_TILE_SIZE);
    if (q->form == TC__CUDA_FLAT)
        return tc__ix_ceil_div(x, tc__ix_mul(x, g->rows, columns), threads);
    if (q->form == TC__CUDA_LANES) return tc__ix_ceil_div(x, g->rows, threads);
    if (q->form == TC__CUDA_ROWS)
        return tc__ix_ceil_div(x, g->rows, tc__ix_const(q->threads / q->sharing));
    return tc__ix_mul(x, tc__ix_ceil_div(x, g->rows, tile),
                      tc__ix_ceil_div(x, g->cols, tile));
}

// Shared memory is for rows that threads do not hold.
static tc__ix tc__cuda_shared(const tc__group *g, const tc__cuda_plan *q) {
    for (size_t i = 0; i < g->buffer.count && q->form == TC__CUDA_ROWS; i++)
        if (g->buffer.at[i].place == TC__BUF_ROW &&
            !(q->steps && tc__cuda_is_own_row(g, (int64_t)i)))
            return g->scratch;
    return tc__ix_const(0);
}

static tc__cuda_plan tc__cuda_plan_product(const tc__product *product) {
    tc__cuda_plan q;
    memset(&q, 0, sizeof q);
    q.form = TC__CUDA_PRODUCT;
    q.threads = product->threads;
    q.blocks = product->blocks, q.shared = product->shared;
    if (product->tile) q.resident = product->tile->resident;
    return q;
}

static tc__cuda_plan tc__cuda_plan_of(const tc__group *g) {
    tc__cuda_plan q;
    int turned = 0;
    if (g->kind == TC__CONTRACTION) {
        tc__product product = tc__product_plan(g);
        if (product.form != TC__PRODUCT_LOOP) return tc__cuda_plan_product(&product);
    }
    for (size_t i = 0; i < g->body.node.count; i++)
        turned |= tc__cuda_is_turned(g, g->body.node.at[i]);
    q.form = g->kind == TC__POINTWISE ? (turned ? TC__CUDA_TILE : TC__CUDA_FLAT)
             : g->vector == TC__ROW   ? TC__CUDA_LANES
                                      : TC__CUDA_ROWS;
    q.width = q.form == TC__CUDA_LANES  ? 1
              : q.form == TC__CUDA_TILE ? tc__cuda_tile_width(g)
                                        : tc__cuda_width(g);
    q.threads = q.sharing = TC__CUDA_THREADS, q.steps = q.resident = 0;
    tc__ix accesses = tc__ix_ceil_div(g->body.ix, g->cols, tc__ix_const(q.width));
    if (q.form == TC__CUDA_ROWS && tc__ix_is_const(accesses) && tc__ix_value(accesses) > 0)
        tc__cuda_share(g, &q, tc__ix_value(accesses));
    q.blocks = tc__cuda_blocks(g, &q);
    q.shared = tc__cuda_shared(g, &q);
    return q;
}

// ---- for who launches ----

typedef struct tc__cuda_symbols {
    const tc__group *g;
    int count; // one more than the highest slot
    int lost;
} tc__cuda_symbols;

static void tc__cuda_symbols_of(tc__cuda_symbols *s, tc__ix e) {
    tc__ixsyms found;
    tc__ix_syms(s->g->body.ix, e, &found, 1);
    s->lost |= found.lost;
    for (uint32_t i = 0; i < found.count; i++) {
        int64_t slot = tc__ix_node(s->g->body.ix, found.at[i])->a;
        if (slot >= s->count) s->count = (int)slot + 1;
    }
}

// Run-time sizes that a kernel is told: all symbols up to the last that it names.
static int tc__cuda_sizes(const tc__group *g) {
    tc__cuda_symbols s;
    s.g = g, s.count = 0, s.lost = 0;
    tc__cuda_symbols_of(&s, g->rows);
    tc__cuda_symbols_of(&s, g->cols);
    if (g->kind == TC__CONTRACTION) tc__cuda_symbols_of(&s, g->depth);
    if (g->kind == TC__CONTRACTION) tc__cuda_symbols_of(&s, g->batch);
    for (size_t i = 0; i < g->buffer.count; i++)
        tc__cuda_symbols_of(&s, g->buffer.at[i].numel);
    for (size_t id = 0; id < g->body.node.count; id++) {
        const tc__node *n = g->body.node.at[id];
        for (uint32_t i = 0; i < n->n_attr; i++)
            if (tc__attr_is_ix(n, i)) tc__cuda_symbols_of(&s, n->attr[i]);
    }
    return s.lost ? 64 : s.count;
}

static int tc__cuda_grids(tc_ctx *c, const tc__group *g, tc__grids *out) {
    (void)c;
    memset(out, 0, sizeof *out);
    out->workspace = out->zeroed = tc__ix_const(0);
    out->sizes = tc__cuda_sizes(g);
    if (g->kind == TC__OPAQUE) return tc__opaque_grids(g, out);
    tc__cuda_plan q = tc__cuda_plan_of(g);
    out->count = 1;
    out->at[0].threads = q.threads, out->at[0].blocks = q.blocks;
    out->at[0].shared = q.shared;
    return 1;
}
