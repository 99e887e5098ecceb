// How a LOOP list maps to CUDA threads. Input: a group at LOOP. Output: a tc__cuda_plan, made
// from the list alone, and the questions that the dialect asks of single loads and stores.
//
//   flat     pointwise: a thread has U vectors of V columns, a block's width apart
//   rows     threads that share a row walk its columns; sums by shuffles, then shared memory. The row
//            is read once: into registers, or into shared memory where it is long. What fits
//            into neither is read in every phase
//   columns  the vector runs along the rows: a thread has V rows, the threads below it in the block
//            share the columns
//   tile     pointwise with loads dense along the rows: 32 x 32 tiles turned in shared memory
//   window   pointwise with loads of neighbours (window.c): a thread has V columns of U rows
//   product  contractions, as product.c has it
//
// A row that is too long for that is shared by the blocks of a cluster, where the device has them: each
// has a part of it in its memory, and writes what it has summed into that of the others.
//
// Few rows of many columns are cut into parts, one for each block. What the parts have is summed in
// their order, by the block that arrives last if nothing but rows is left to do, else by every
// block of a launch of its own.
//
// V is the number of elements in one 16-byte access of the narrowest dtype.

typedef enum tc__cuda_form {
    TC__CUDA_FLAT,
    TC__CUDA_ROWS,
    TC__CUDA_COLUMNS,
    TC__CUDA_TILE,
    TC__CUDA_WINDOW,
    TC__CUDA_PRODUCT
} tc__cuda_form;

// Where the elements of a row are that several phases need.
typedef enum tc__cuda_hold {
    TC__CUDA_AGAIN,     // read, or computed, again
    TC__CUDA_REGISTERS, // of the thread whose columns they are
    TC__CUDA_SHARED     // memory of the block
} tc__cuda_hold;

// What was chosen for a card with 132 multiprocessors and 4.8 TB/s (research: about 40 KB of loads
// in flight for each multiprocessor). Nothing else depends on the card.
enum {
    TC__CUDA_SMS = 132,
    TC__CUDA_THREADS = 256, // of a block where nothing else decides
    TC__CUDA_MOST = 1024,   // of any block
    TC__CUDA_FLIGHT = 64,   // bytes of each input that a thread loads before it uses one,
    TC__CUDA_COLUMN_FLIGHT =
        128, //   and of columns: sums of 65536 x 1024 take 65 us, with 64 they take 85
    TC__CUDA_SHORT =
        2, // accesses of a thread to a row that fewer than a warp share: softmax of 64
           //   columns takes 129 us, with one access 161
    TC__CUDA_VECTORS = 8, // U at most,
    TC__CUDA_FLAT_VECTORS =
        1, //   and of flat: a copy of 256 MiB runs at 4.12 TB/s, with 4 at 3.86
    TC__CUDA_GATHER_VECTORS =
        2, // and where rows are gathered: 65536 rows of 768 take 100 us, not 106
    TC__CUDA_PRIVATE = 256,    // elements of a row that one thread may keep
    TC__CUDA_EARLY = 48,       // registers for what is loaded early
    TC__CUDA_EARLY_LANES = 16, // of them for loads of single elements
    TC__CUDA_TEXT = 4096,      // cost of all elements of a thread, for the compiler's sake
    TC__CUDA_LIST_VECTORS = 1, //   and of flat for a list of tensors
    TC__CUDA_WAVE = 8,         // flat: blocks for each multiprocessor before U grows
    TC__CUDA_ROW_WAVES = 0,    // rows: blocks for each multiprocessor, 0 = one for each row
    TC__CUDA_TILE_SIZE = 32,   //
    TC__CUDA_WARP_BLOCK = 128, // threads of a block of rows that a warp or less shares
    TC__CUDA_WARP_ELEMENTS = 32,  // of a row, for a thread of such a warp
    TC__CUDA_BLOCK_ELEMENTS = 16, // of a row, for a thread of a block that shares it
    TC__CUDA_ROW_THREADS = 512,   // of a row in registers
    TC__CUDA_LONG_THREADS =
        1024, // of a row in shared memory, from LONG_BYTES on; below, half
    TC__CUDA_LONG_BYTES = 65536, //
    TC__CUDA_WARP_HELD = 64,     // registers for the elements of a row that a warp shares
    TC__CUDA_BLOCK_HELD = 40,    // and where a block does
    TC__CUDA_ROW_BYTES = 204800, // of shared memory for a row
    TC__CUDA_CLUSTER_BYTES =
        102400,              //   and of a block of a cluster, if there are enough blocks:
                             //   a multiprocessor has room for two
    TC__CUDA_STATIC = 40960, // of shared memory that is declared in the text
    TC__CUDA_FEW = 264,      // blocks; a launch of fewer is cut into parts
    TC__CUDA_PARTS = 528,    // blocks that it is cut into
    TC__CUDA_PART = 2048,    // columns of a part at least
    TC__CUDA_PHASED = 4096,  // and where each phase is a launch
    TC__CUDA_PHASED_COST = 1 << 20, // of a row, from which on that is worth the launches
    TC__CUDA_DEAR =
        64, // cost of a value that is kept in memory between launches, and from which
    TC__CUDA_DEAR_PARTS = 2112, //   columns are cut into so many blocks
    TC__CUDA_DEAR_PART = 1024   //   of so many columns at least
};

enum {
    TC__CUDA_WINDOWS = 8,                      // of a kernel, at most
    TC__CUDA_WINDOW_WORDS = TC__LOAD_FIXED + 8 // four predicates
};

// Loads that are one another, moved. One of them stands for all, with the predicates that any of them
// has; the others are in so many rows and columns, the first of which are `top` and `left` of it.
typedef struct tc__cuda_window {
    uint32_t load, words;
    int top, left, rows, columns, loads;
    int64_t word[TC__CUDA_WINDOW_WORDS]; // attribute words of the one
} tc__cuda_window;

// What a launch needs to know: threads of a block, and blocks that have work.
typedef struct tc__cuda_plan {
    tc__cuda_form form;
    tc__axis axis;      // the vector runs along it
    int threads, width; // width: V
    int vectors;        // U; ROWS in registers: accesses of a thread that make its row;
                        //   WINDOW: rows of a thread
    int narrow;         // indices are int
    int lanes_early;    // loads of single elements are issued early, too
    int tail;           // one row, and its columns are not a multiple of V
    int sharing; // ROWS: threads that share a row; COLUMNS, WINDOW: threads side by side
    tc__cuda_hold hold;
    int parts;    // of a row, or of the columns of a block
    int cluster;  // blocks that have the parts of a row in their memory, 0 = one has it all
    int launches; // 1, or one for each phase of columns
    int kept;     // rows are in the workspace between launches
    tc__ix chunk; // columns of a part
    tc__ix blocks;
    tc__ix shared; // bytes of a block
    int resident;  // blocks of a multiprocessor that registers must suffice for, 0 = any
    int64_t zeroed, partial; // bytes of the workspace: tickets, what parts have summed,
    int64_t workspace;       //   and with the rows that are kept
    int windows;
    tc__cuda_window window[TC__CUDA_WINDOWS];
} tc__cuda_plan;

static int tc__cuda_is_memory(const tc__node *n) {
    return n->op == TC_OP_LOAD || n->op == TC_OP_STORE;
}

static int tc__cuda_is_row(const tc__group *g, int64_t b) {
    return g->buffer.at[b].place == TC__BUF_ROW;
}

// Rows that the kernel makes of an operand: of the block, in shared memory.
static int tc__cuda_is_made(const tc__group *g, const tc__node *n) {
    return g->buffer.at[n->attr[0]].place == TC__BUF_LEFT;
}

static uint32_t tc__cuda_bytes(const tc__group *g, const tc__node *n) {
    return tc__dtypes[g->buffer.at[n->attr[0]].dtype].bytes;
}

static int tc__cuda_mentions(const tc__group *g, const tc__node *n, tc__axis axis) {
    for (uint32_t i = 0; i < n->n_attr; i++)
        if (tc__attr_is_ix(n, i) && tc__ix_uses(g->body.ix, n->attr[i], axis)) return 1;
    return 0;
}

static int tc__cuda_names_rows(const tc__group *g) {
    for (size_t id = 0; id < g->body.node.count; id++)
        if (tc__cuda_mentions(g, g->body.node.at[id], TC__ROW)) return 1;
    return 0;
}

// ---- what moves along the vector ----

typedef struct tc__cuda_scan {
    const tc__group *g;
    tc__axis axis;
    int width, differ;
} tc__cuda_scan;

static int tc__cuda_is_still(const tc__group *g, const tc__node *n, tc__axis axis,
                             int width);

static void tc__cuda_scan_val(void *user, uint32_t id) {
    tc__cuda_scan *s = (tc__cuda_scan *)user;
    s->differ |= !tc__cuda_is_still(s->g, s->g->body.node.at[id], s->axis, s->width);
}

// How e moves inside a vector of `width` along `axis`. Unlike tc__access_along it knows of values
// that are the same in the whole vector: the index of a row that is gathered.
static tc__access tc__cuda_access(const tc__group *g, tc__ix e, tc__axis axis, int width) {
    tc__cuda_scan s;
    s.g = g, s.axis = axis, s.width = width, s.differ = 0;
    tc__ix_each_val(g->body.ix, e, tc__cuda_scan_val, &s);
    tc__ixrun run = tc__ix_run(g->body.ix, e, axis);
    if (s.differ || !run.ok || (run.run != INT64_MAX && run.run % width))
        return TC__PER_LANE;
    if (tc__ix_equals(run.stride, 0)) return TC__UNIFORM;
    return tc__ix_equals(run.stride, 1) ? TC__CONTIGUOUS : TC__PER_LANE;
}

// Whether index words [first, n_attr) of n are the same in the whole vector.
static int tc__cuda_words_still(const tc__group *g, const tc__node *n, uint32_t first,
                                tc__axis axis, int width) {
    for (uint32_t i = first; i < n->n_attr; i++)
        if (tc__attr_is_ix(n, i) &&
            tc__cuda_access(g, n->attr[i], axis, width) != TC__UNIFORM)
            return 0;
    return 1;
}

// Whether n is the same in the whole vector. Arithmetic is not asked: it costs little per lane.
static int tc__cuda_is_still(const tc__group *g, const tc__node *n, tc__axis axis,
                             int width) {
    if (!tc__lanes_differ(n, axis)) return 1;
    if (axis == TC__ROW && n->level == TC__AT_ROW) return 0;
    if (n->op == TC_OP_CAST || n->op == TC_OP_CHECK)
        return tc__cuda_words_still(g, n, 0, axis, width) &&
               tc__cuda_is_still(g, g->body.node.at[n->in[0]], axis, width);
    if (n->op == TC_OP_LOAD)
        return !tc__cuda_is_row(g, n->attr[0]) &&
               tc__cuda_words_still(g, n, 1, axis, width);
    return (n->op == TC_OP_INDEX || n->op == TC_OP_VALID) &&
           tc__cuda_words_still(g, n, 0, axis, width);
}

// A load that a tile turns: dense along the rows and not along the columns.
static int tc__cuda_is_turned(const tc__group *g, const tc__node *n) {
    if (n->op != TC_OP_LOAD || n->n_attr > TC__LOAD_FIXED || n->level != TC__AT_COL)
        return 0;
    if (tc__cuda_is_row(g, n->attr[0]) || tc__ix_has_val(g->body.ix, n->attr[1])) return 0;
    tc__ixrun run = tc__ix_run(g->body.ix, n->attr[1], TC__ROW);
    return run.ok && run.run == INT64_MAX && tc__ix_equals(run.stride, 1) &&
           tc__access_along(g, n->attr[1], TC__COL, 1) == TC__PER_LANE;
}

// Whether e is a multiple of `width` at the first of so many adjacent elements.
static int tc__cuda_is_aligned(const tc__group *g, tc__ix e, int width, tc__axis axis) {
    tc__ixpool *x = g->body.ix;
    tc__ix v = tc__ix_find_var(x, e, axis);
    if (v) e = tc__ix_subst(x, e, v, tc__ix_mul(x, v, tc__ix_const(width)));
    return tc__ix_divisor(x, e) % width == 0;
}

// Whether all elements of a vector are below the limits of their load, or none is.
static int tc__cuda_bounds_still(const tc__group *g, const tc__node *n, int width,
                                 tc__axis axis) {
    for (uint32_t i = TC__LOAD_FIXED; i + 1 < n->n_attr; i += 2) {
        tc__access access = tc__cuda_access(g, n->attr[i], axis, width);
        if (tc__cuda_access(g, n->attr[i + 1], axis, width) != TC__UNIFORM) return 0;
        if (access == TC__UNIFORM) continue;
        if (access != TC__CONTIGUOUS || !tc__cuda_is_aligned(g, n->attr[i], width, axis) ||
            tc__ix_divisor(g->body.ix, n->attr[i + 1]) % width)
            return 0;
    }
    return 1;
}

// Whether V elements of the access that are adjacent along the axis are adjacent and aligned.
static int tc__cuda_is_wide(const tc__group *g, const tc__node *n, int width,
                            tc__axis axis) {
    if (width == 1 || !tc__cuda_is_memory(n)) return 0;
    if (axis == TC__COL && n->level == TC__AT_ROW) return 0;
    if (n->op == TC_OP_LOAD && !tc__cuda_bounds_still(g, n, width, axis)) return 0;
    return tc__cuda_access(g, n->attr[1], axis, width) == TC__CONTIGUOUS &&
           tc__cuda_is_aligned(g, n->attr[1], width, axis);
}

// Whether the vectors may have `width` elements along the axis, and some access gains by it.
static int tc__cuda_takes(const tc__group *g, tc__axis axis, int width) {
    int wide = 0;
    tc__ix extent = axis == TC__COL ? g->cols : g->rows;
    if (tc__ix_divisor(g->body.ix, extent) % width && !tc__ix_equals(g->rows, 1)) return 0;
    for (size_t i = 0; i < g->body.node.count; i++) {
        const tc__node *n = g->body.node.at[i];
        wide |= tc__cuda_is_memory(n) && !tc__cuda_is_row(g, n->attr[0]) &&
                tc__cuda_is_wide(g, n, width, axis);
    }
    return wide;
}

// Elements of a 16-byte access of the narrowest dtype; bytes count as halves where there is
// something wider. Fewer where the extent does not divide into them.
static int tc__cuda_width(const tc__group *g, tc__axis axis) {
    uint32_t least = 16, most = 1;
    for (size_t i = 0; i < g->body.node.count; i++) {
        const tc__node *n = g->body.node.at[i];
        if (!tc__cuda_is_memory(n) || n->level != TC__AT_COL) continue;
        if (tc__cuda_is_row(g, n->attr[0])) continue;
        uint32_t bytes = tc__cuda_bytes(g, n);
        if (bytes < least) least = bytes;
        if (bytes > most) most = bytes;
    }
    if (least == 1 && most > 1) least = 2;
    for (int width = (int)(16 / least); width > 1; width /= 2)
        if (tc__cuda_takes(g, axis, width)) return width;
    return 1;
}

// Tiles have accesses of 16 bytes of the widest dtype if all turned loads can be such.
static int tc__cuda_tile_width(const tc__group *g) {
    uint32_t most = 4;
    for (size_t i = 0; i < g->body.node.count; i++) {
        const tc__node *n = g->body.node.at[i];
        if (tc__cuda_is_memory(n) && tc__cuda_bytes(g, n) > most)
            most = tc__cuda_bytes(g, n);
    }
    int width = (int)(16 / most);
    if (tc__ix_divisor(g->body.ix, g->rows) % width ||
        tc__ix_divisor(g->body.ix, g->cols) % width || !tc__cuda_takes(g, TC__COL, width))
        return 1;
    for (size_t i = 0; i < g->body.node.count; i++) {
        const tc__node *n = g->body.node.at[i];
        if (tc__cuda_is_turned(g, n) && !tc__cuda_is_wide(g, n, width, TC__ROW)) return 1;
    }
    return width;
}

// ---- indices of 32 bits ----

// What no part of the sum e exceeds in size, whatever the order of adding.
static int64_t tc__cuda_reach(const tc__ixpool *x, tc__ix e) {
    int64_t lo = tc__ix_lo(x, e), hi = tc__ix_hi(x, e);
    int64_t most = hi > -lo ? hi : -lo;
    if (tc__ix_is_const(e)) return most;
    const tc__ixnode *n = tc__ix_node(x, e);
    if (n->kind == TC__IX_VAR || n->kind == TC__IX_SYM || n->kind == TC__IX_VAL)
        return most;
    if (n->kind != TC__IX_POLY) {
        int64_t a = tc__cuda_reach(x, n->a), b = tc__cuda_reach(x, n->b);
        return a > b ? a : b;
    }
    int64_t sum = n->base < 0 ? -n->base : n->base;
    for (uint32_t i = 0; i < n->count; i++) {
        const tc__ixterm *t = &x->term.at[n->first + i];
        int64_t part = t->coef < 0 ? -t->coef : t->coef;
        for (int k = 0; k < TC__IX_ATOMS && t->atom[k]; k++)
            part = tc__ix_times(part, tc__cuda_reach(x, t->atom[k]));
        sum = sum > INT64_MAX / 4 || part > INT64_MAX / 4 ? INT64_MAX / 2 : sum + part;
    }
    return sum;
}

// Whether all indices of the kernel are int: with room for what a block counts beyond its end.
static int tc__cuda_is_narrow(const tc__group *g) {
    tc__ixpool *x = g->body.ix;
    const int64_t limit = INT32_MAX - (1 << 20);
    if (tc__cuda_reach(x, tc__ix_mul(x, g->rows, g->cols)) > limit) return 0;
    if (tc__cuda_reach(x, g->rows) > limit || tc__cuda_reach(x, g->cols) > limit) return 0;
    for (size_t id = 0; id < g->body.node.count; id++) {
        const tc__node *n = g->body.node.at[id];
        for (uint32_t i = 0; i < n->n_attr; i++)
            if (tc__attr_is_ix(n, i) && tc__cuda_reach(x, n->attr[i]) > limit) return 0;
    }
    return 1;
}
