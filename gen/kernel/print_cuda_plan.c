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
//   product  contractions, as print_cuda_product.c has it
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
    TC__CUDA_FLIGHT = 64,   // bytes of each input that a thread loads before it uses one
    TC__CUDA_VECTORS = 8,   // U at most,
    TC__CUDA_FLAT_VECTORS =
        1, //   and of flat: a copy of 256 MiB runs at 4.12 TB/s, with 4 at 3.86
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

// What a launch needs to know: threads of a block, and blocks that have work.
typedef struct tc__cuda_plan {
    tc__cuda_form form;
    tc__axis axis;      // the vector runs along it
    int threads, width; // width: V
    int vectors;        // U; ROWS in registers: accesses of a thread that make its row
    int narrow;         // indices are int
    int lanes_early;    // loads of single elements are issued early, too
    int tail;           // one row, and its columns are not a multiple of V
    int sharing;        // ROWS: threads that share a row; COLUMNS: threads side by side
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

// Whether V elements of the access that are adjacent along the axis are adjacent and aligned.
static int tc__cuda_is_wide(const tc__group *g, const tc__node *n, int width,
                            tc__axis axis) {
    tc__ixpool *x = g->body.ix;
    if (width == 1 || !tc__cuda_is_memory(n)) return 0;
    if (axis == TC__COL && n->level == TC__AT_ROW) return 0;
    if (n->op == TC_OP_LOAD && !tc__cuda_words_still(g, n, TC__LOAD_FIXED, axis, width))
        return 0;
    tc__ix e = n->attr[1], v = tc__ix_find_var(x, e, axis);
    if (tc__cuda_access(g, e, axis, width) != TC__CONTIGUOUS) return 0;
    if (v) e = tc__ix_subst(x, e, v, tc__ix_mul(x, v, tc__ix_const(width)));
    return tc__ix_divisor(x, e) % width == 0;
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

// ---- loads that are issued before anything is computed ----

// A load of memory that no value of the columns leads to.
static int tc__cuda_may_be_early(const tc__group *g, const tc__cuda_plan *q,
                                 const tc__node *n) {
    if (n->op != TC_OP_LOAD) return 0;
    int row = tc__cuda_is_row(g, n->attr[0]), written = g->buffer.at[n->attr[0]].written;
    int kept = row && q->kept; // by an earlier launch
    if (!kept && (row || (written && !tc__cuda_is_made(g, n)))) return 0;
    if (n->level == TC__AT_ROW &&
        !(q->form == TC__CUDA_FLAT && tc__cuda_mentions(g, n, TC__ROW)))
        return 0;
    for (uint32_t i = 1; i < n->n_attr; i++)
        if (tc__attr_is_ix(n, i) && tc__ix_has_val(g->body.ix, n->attr[i])) return 0;
    return 1;
}

// One access of a thread for the whole vector.
static int tc__cuda_is_one(const tc__group *g, const tc__cuda_plan *q, const tc__node *n) {
    return q->width == 1 || tc__cuda_is_wide(g, n, q->width, q->axis) ||
           tc__cuda_is_still(g, n, q->axis, q->width);
}

static int tc__cuda_is_early(const tc__group *g, const tc__cuda_plan *q,
                             const tc__node *n) {
    return q->form != TC__CUDA_TILE && tc__cuda_may_be_early(g, q, n) &&
           (q->lanes_early || tc__cuda_is_one(g, q, n));
}

// Registers that the load needs for a vector.
static int64_t tc__cuda_words(const tc__group *g, const tc__cuda_plan *q,
                              const tc__node *n) {
    int still = q->width > 1 && tc__cuda_is_still(g, n, q->axis, q->width);
    int64_t bytes = (still ? 1 : q->width) * (int64_t)tc__cuda_bytes(g, n);
    return (bytes + 3) / 4;
}

static int tc__cuda_same_load(const tc__node *n, const tc__node *m) {
    return m->op == TC_OP_LOAD && m->attr[0] == n->attr[0] && m->attr[1] == n->attr[1] &&
           m->n_attr == TC__LOAD_FIXED && m->level == TC__AT_COL;
}

static void tc__cuda_choose_lanes_early(const tc__group *g, tc__cuda_plan *q) {
    int64_t words = 0;
    for (size_t i = 0; i < g->body.node.count; i++) {
        const tc__node *n = g->body.node.at[i];
        if (!tc__cuda_may_be_early(g, q, n)) continue;
        int single = q->width > 1
                         ? !tc__cuda_is_one(g, q, n)
                         : n->n_attr > TC__LOAD_FIXED ||
                               tc__cuda_access(g, n->attr[1], q->axis, 1) == TC__PER_LANE;
        if (single) words += tc__cuda_words(g, q, n);
    }
    q->lanes_early = words <= TC__CUDA_EARLY_LANES;
}

// U: enough bytes in flight, but not more registers, text or blocks than there are.
static int tc__cuda_vectors(const tc__group *g, const tc__cuda_plan *q) {
    int64_t words = 0, bytes = 0, cost = 0, each;
    for (size_t i = 0; i < g->body.node.count; i++) {
        const tc__node *n = g->body.node.at[i];
        cost += tc__ops[n->op].cost;
        if (tc__cuda_is_memory(n) && n->level == TC__AT_COL &&
            (each = q->width * (int64_t)tc__cuda_bytes(g, n)) > bytes)
            bytes = each;
        if (tc__cuda_is_early(g, q, n)) words += tc__cuda_words(g, q, n);
    }
    int count = bytes ? (int)(TC__CUDA_FLIGHT / bytes) : 1;
    if (count > TC__CUDA_VECTORS) count = TC__CUDA_VECTORS;
    while (count > 1 &&
           (count * words > TC__CUDA_EARLY || count * q->width * cost > TC__CUDA_TEXT))
        count /= 2;
    return count < 1 ? 1 : count;
}

// ---- rows: what is held ----

// Buffer b is the scratch of a row whose every access is at the thread's own column.
static int tc__cuda_is_own_row(const tc__group *g, int64_t b) {
    if (!tc__cuda_is_row(g, b)) return 0;
    for (size_t i = 0; i < g->body.node.count; i++) {
        const tc__node *n = g->body.node.at[i];
        if (!tc__cuda_is_memory(n) || n->attr[0] != b) continue;
        if (n->level != TC__AT_COL || (n->op == TC_OP_LOAD && n->n_attr > TC__LOAD_FIXED) ||
            n->attr[1] != tc__ix_var(g->body.ix, TC__COL, g->cols))
            return 0;
    }
    return 1;
}

// The first load of what n loads, if n or a later phase loads it again and nothing writes it
// in between: its id, else -1.
static int64_t tc__cuda_first_load(const tc__group *g, const tc__node *n) {
    int64_t first = -1;
    int count = 0;
    if (n->op != TC_OP_LOAD || n->n_attr > TC__LOAD_FIXED || n->level != TC__AT_COL)
        return -1;
    if (g->buffer.at[n->attr[0]].written || tc__cuda_is_row(g, n->attr[0])) return -1;
    for (size_t i = 0; i < g->body.node.count; i++) {
        if (!tc__cuda_same_load(n, g->body.node.at[i])) continue;
        if (first < 0) first = (int64_t)i;
        count++;
    }
    return count > 1 ? first : -1;
}

// A load of the row that later phases find where the first one put it.
static int64_t tc__cuda_held_load(const tc__group *g, const tc__cuda_plan *q,
                                  const tc__node *n) {
    if (q->hold == TC__CUDA_AGAIN || !tc__cuda_may_be_early(g, q, n)) return -1;
    if (q->width > 1 && tc__cuda_is_still(g, n, q->axis, q->width)) return -1;
    return tc__cuda_first_load(g, n);
}

// The STORE that fills own row b.
static const tc__node *tc__cuda_fills(const tc__group *g, int64_t b) {
    for (size_t i = 0; i < g->body.node.count; i++) {
        const tc__node *n = g->body.node.at[i];
        if (n->op == TC_OP_STORE && n->attr[0] == b) return n;
    }
    return NULL;
}

// Marks in need[] what column value n is made of, down to rows. 0 = it cannot be made again.
// need[] has a place for each node, in order, so that a later one is never needed by an earlier.
static int tc__cuda_need(const tc__group *g, const tc__node *n, uint8_t *need) {
    need[n->id] = 1;
    for (uint32_t i = n->id + 1; i-- > 0;) {
        const tc__node *m = g->body.node.at[i];
        if (!need[i] || m->level != TC__AT_COL) continue;
        if (m->op == TC_OP_LOAD &&
            (tc__cuda_is_row(g, m->attr[0]) || g->buffer.at[m->attr[0]].written))
            return 0;
        if (m->op == TC_OP_CHECK || m->op == TC_OP_ACC) return 0;
        for (uint32_t k = 0; k < m->n_in; k++) need[m->in[k]] = 1;
        for (uint32_t k = 0; k < m->n_attr; k++)
            if (tc__attr_is_ix(m, k) && tc__ix_has_val(g->body.ix, m->attr[k])) return 0;
    }
    return 1;
}

enum { TC__CUDA_NODES = 4096 }; // of a list that is looked at for what can be made again

// Whether own row b can be computed again instead of being held.
static int tc__cuda_is_again(const tc__group *g, int64_t b) {
    uint8_t need[TC__CUDA_NODES];
    const tc__node *fill = tc__cuda_is_own_row(g, b) ? tc__cuda_fills(g, b) : NULL;
    if (!fill || g->body.node.count > TC__CUDA_NODES) return 0;
    memset(need, 0, sizeof need);
    return tc__cuda_need(g, g->body.node.at[fill->in[0]], need);
}

// The scratch of a row that no thread has for itself, nor computes again.
static int tc__cuda_is_scratch(const tc__group *g, const tc__cuda_plan *q, int64_t b) {
    if (!tc__cuda_is_row(g, b) || q->kept) return 0;
    if (q->hold == TC__CUDA_REGISTERS) return !tc__cuda_is_own_row(g, b);
    return !tc__cuda_is_again(g, b);
}

static int tc__cuda_has_shared_row(const tc__group *g) {
    for (size_t i = 0; i < g->buffer.count; i++)
        if (tc__cuda_is_row(g, (int64_t)i) && !tc__cuda_is_own_row(g, (int64_t)i)) return 1;
    return 0;
}

static int tc__cuda_all_again(const tc__group *g) {
    for (size_t i = 0; i < g->buffer.count; i++)
        if (tc__cuda_is_row(g, (int64_t)i) && !tc__cuda_is_again(g, (int64_t)i)) return 0;
    return 1;
}

// Cost of all that is done at a column.
static int64_t tc__cuda_column_cost(const tc__group *g) {
    int64_t cost = 0;
    for (size_t i = 0; i < g->body.node.count; i++)
        if (g->body.node.at[i]->level == TC__AT_COL)
            cost += tc__ops[g->body.node.at[i]->op].cost;
    return cost;
}

// Whether phases that are launches find rows in memory: where they cannot be computed again, or that
// costs more than to write and read them.
static int tc__cuda_keeps_rows(const tc__group *g) {
    int rows = 0;
    for (size_t i = 0; i < g->buffer.count; i++) rows |= tc__cuda_is_row(g, (int64_t)i);
    return rows && (!tc__cuda_all_again(g) || tc__cuda_column_cost(g) > TC__CUDA_DEAR);
}

// Bytes of each column that are held; `rows` counts own rows too.
static int64_t tc__cuda_held(const tc__group *g, const tc__cuda_plan *q, int rows) {
    int64_t held = 0;
    for (size_t i = 0; i < g->buffer.count; i++)
        if (rows && tc__cuda_is_own_row(g, (int64_t)i))
            held += tc__dtypes[g->buffer.at[i].dtype].bytes;
    for (size_t i = 0; i < g->body.node.count; i++) {
        const tc__node *n = g->body.node.at[i];
        if (tc__cuda_held_load(g, q, n) == (int64_t)i) held += tc__cuda_bytes(g, n);
    }
    return held;
}

// Registers that the loads of the worst phase need, beside what is held.
static int64_t tc__cuda_phase_words(const tc__group *g, const tc__cuda_plan *q) {
    int64_t words = 0, most = 0;
    for (size_t i = 0; i < g->body.node.count; i++) {
        const tc__node *n = g->body.node.at[i];
        if (n->op == TC_OP_END) words = 0;
        if (tc__cuda_is_early(g, q, n) && tc__cuda_held_load(g, q, n) < 0)
            words += tc__cuda_words(g, q, n);
        if (words > most) most = words;
    }
    return most;
}

// ---- rows: threads, parts ----

static int tc__cuda_power_of_two(int64_t n) {
    int v = 1;
    while (v < n) v *= 2;
    return v;
}

// Threads for rows of a known length: a warp or less as long as it can hold the row.
static void tc__cuda_share(const tc__group *g, tc__cuda_plan *q, int64_t columns) {
    int64_t accesses = (columns - 1) / q->width + 1;
    int warp = columns <= 32 * TC__CUDA_WARP_ELEMENTS && !tc__cuda_has_shared_row(g);
    int64_t threads =
        warp ? 32 : tc__padded((columns - 1) / TC__CUDA_BLOCK_ELEMENTS + 1, 32);
    if (warp && accesses < 32) threads = tc__cuda_power_of_two(accesses);
    if (threads > TC__CUDA_ROW_THREADS) threads = TC__CUDA_ROW_THREADS;
    int64_t steps = (accesses - 1) / threads + 1;
    q->hold = TC__CUDA_REGISTERS;
    int64_t words = tc__cuda_held(g, q, 1) * steps * q->width / 4;
    q->sharing = (int)threads;
    q->threads = warp ? TC__CUDA_WARP_BLOCK : (int)threads;
    q->vectors = (int)steps;
    if (words + tc__cuda_phase_words(g, q) * steps <=
        (warp ? TC__CUDA_WARP_HELD : TC__CUDA_BLOCK_HELD))
        return;
    q->vectors = tc__cuda_vectors(g, q);
    q->hold = TC__CUDA_SHARED;
    int64_t bytes = tc__cuda_held(g, q, 0) * tc__padded(columns, 64);
    if (!warp) {
        q->threads =
            bytes > TC__CUDA_LONG_BYTES ? TC__CUDA_LONG_THREADS : TC__CUDA_ROW_THREADS;
        q->sharing = q->threads;
    }
    if (!bytes || bytes > TC__CUDA_ROW_BYTES || q->threads != q->sharing)
        q->hold = TC__CUDA_AGAIN;
}

// Phases that have columns.
static int tc__cuda_loops(const tc__group *g) {
    int count = 0;
    for (size_t i = 0; i < g->body.node.count; i++) {
        const tc__node *n = g->body.node.at[i];
        count += n->op == TC_OP_FOR && n->attr[0] == TC__COL;
    }
    return count;
}

// Nothing but rows is left to do behind the last loop over columns: it ends in reductions.
static int tc__cuda_ends_in_sums(const tc__group *g) {
    for (size_t i = g->body.node.count; i-- > 0;) {
        if (g->body.node.at[i]->op == TC_OP_COMBINE) return 1;
        if (g->body.node.at[i]->op == TC_OP_FOR) return 0;
    }
    return 0;
}

// Parts for `blocks` blocks, `most` in all, whose columns can be shared out by `least`.
static int tc__cuda_parts(int64_t blocks, int64_t columns, int64_t most, int64_t least) {
    int64_t parts = (most + blocks - 1) / blocks;
    if (parts > columns / least) parts = columns / least;
    return blocks >= TC__CUDA_FEW || parts < 2 ? 1 : (int)parts;
}

// Tickets of `tickets` groups of blocks, then the partial results of `results` rows.
static void tc__cuda_lay_out(const tc__group *g, tc__cuda_plan *q, int64_t tickets,
                             int64_t results) {
    int64_t values = 0;
    for (size_t i = 0; i < g->body.node.count; i++)
        values += g->body.node.at[i]->op == TC_OP_NEW;
    q->zeroed = tc__padded(4 * tickets, 256);
    q->partial = values * 16 * results * q->parts; // 16: value and place
    q->workspace = q->zeroed + q->partial;
}

// Bytes of the workspace before kept row b; before the number of buffers: all.
static int64_t tc__cuda_kept_at(const tc__group *g, const tc__cuda_plan *q, int64_t b) {
    int64_t at = tc__padded(q->zeroed + q->partial, 256);
    int64_t elements = tc__ix_value(g->rows) * tc__ix_value(g->cols);
    for (int64_t i = 0; i < b; i++)
        if (tc__cuda_is_row(g, i))
            at += tc__padded(elements * (int64_t)tc__dtypes[g->buffer.at[i].dtype].bytes,
                             256);
    return at;
}

// Few long rows are cut into parts. 1 = so it is.
static int tc__cuda_cut(const tc__group *g, tc__cuda_plan *q) {
    tc__ixpool *x = g->body.ix;
    int loops = tc__cuda_loops(g);
    if (!tc__ix_is_const(g->rows) || tc__ix_value(g->rows) < 1) return 0;
    if (loops > TC__GRIDS || (loops < 2 && !tc__cuda_all_again(g))) return 0;
    int64_t rows = tc__ix_value(g->rows), columns = tc__ix_hi(x, g->cols);
    if (!tc__ix_is_const(g->cols) && (rows > 1 || loops > 1)) return 0;
    int dear = loops > 1 && tc__cuda_column_cost(g) > TC__CUDA_DEAR;
    int64_t least = dear ? TC__CUDA_DEAR_PART : loops > 1 ? TC__CUDA_PHASED : TC__CUDA_PART;
    if (loops > 1 && columns < TC__CUDA_PHASED_COST / (tc__cuda_column_cost(g) + 1))
        return 0;
    q->parts =
        tc__cuda_parts(rows, columns, dear ? TC__CUDA_DEAR_PARTS : TC__CUDA_PARTS, least);
    if (q->parts < 2) return 0;
    q->kept = loops > 1 && tc__cuda_keeps_rows(g);
    q->sharing = q->threads = TC__CUDA_THREADS;
    q->launches = loops;
    q->chunk = tc__ix_mul(
        x, tc__ix_ceil_div(x, g->cols, tc__ix_const((int64_t)q->parts * q->width)),
        tc__ix_const(q->width));
    tc__cuda_lay_out(g, q, rows, rows);
    if (q->kept) q->workspace = tc__cuda_kept_at(g, q, (int64_t)g->buffer.count);
    return 1;
}

// Bytes of shared memory for what is held of a row, or of a part of it.
static int64_t tc__cuda_kept_bytes(const tc__group *g, const tc__cuda_plan *q) {
    tc__ix columns = q->cluster ? q->chunk : g->cols;
    return tc__cuda_held(g, q, 0) * tc__padded(tc__ix_value(columns), 64);
}

// Nothing that a column stores is read by another thread.
static int tc__cuda_is_apart(const tc__group *g) {
    for (size_t i = 0; i < g->body.node.count; i++) {
        const tc__node *n = g->body.node.at[i];
        if (n->op == TC_OP_LOAD && g->buffer.at[n->attr[0]].written &&
            !tc__cuda_is_row(g, n->attr[0]))
            return 0;
    }
    return tc__cuda_all_again(g);
}

// The row in parts for so many blocks of a cluster.
static void tc__cuda_deal(const tc__group *g, tc__cuda_plan *q, int blocks) {
    tc__ixpool *x = g->body.ix;
    q->cluster = q->parts = blocks;
    q->chunk =
        tc__ix_mul(x, tc__ix_ceil_div(x, g->cols, tc__ix_const((int64_t)blocks * q->width)),
                   tc__ix_const(q->width));
}

// Rows that no block has room for, held by as few blocks as can work two on a multiprocessor; the
// largest clusters have more. 1 = so it is. Where rows are few, more parts than that are needed.
static int tc__cuda_cluster(const tc__group *g, tc__cuda_plan *q) {
    tc__cuda_plan p = *q;
    int64_t most = (int64_t)g->cluster;
    int64_t room = g->room && g->room < TC__CUDA_ROW_BYTES ? (int64_t)g->room
                                                           : (int64_t)TC__CUDA_ROW_BYTES;
    p.hold = TC__CUDA_SHARED;
    p.sharing = p.threads = TC__CUDA_LONG_THREADS;
    if (most < 2 || !tc__cuda_is_apart(g) || tc__cuda_kept_bytes(g, &p) <= room) return 0;
    for (int blocks = 2; blocks <= most; blocks *= 2) {
        tc__cuda_deal(g, &p, blocks);
        if (tc__cuda_kept_bytes(g, &p) <= TC__CUDA_CLUSTER_BYTES) break;
    }
    if (tc__cuda_kept_bytes(g, &p) > room) return 0;
    if (tc__ix_is_const(g->rows) && tc__ix_value(g->rows) * p.parts < TC__CUDA_SMS)
        return 0;
    *q = p;
    return 1;
}

static void tc__cuda_plan_rows(const tc__group *g, tc__cuda_plan *q) {
    int known = tc__ix_is_const(g->cols) && tc__ix_value(g->cols) > 0;
    q->hold = TC__CUDA_AGAIN;
    q->vectors = tc__cuda_vectors(g, q);
    int plain = g->kind != TC__CONTRACTION;
    if (plain && known && !q->tail && tc__cuda_cluster(g, q)) return;
    if (plain && tc__cuda_cut(g, q)) return;
    if (known && !q->tail) tc__cuda_share(g, q, tc__ix_value(g->cols));
}

// ---- columns ----

// Side by side a warp, one below the other as many threads as there are columns for; where there
// are few columns, all of a block side by side.
static void tc__cuda_plan_columns(const tc__group *g, tc__cuda_plan *q) {
    tc__ixpool *x = g->body.ix;
    int64_t columns = tc__ix_hi(x, g->cols);
    q->sharing = columns < 64 || !tc__cuda_all_again(g) ? TC__CUDA_THREADS : 32;
    if (!tc__cuda_all_again(g)) q->width = 1; // scratch of a thread has no vectors
    q->vectors = tc__cuda_vectors(g, q);
    if (!tc__ix_is_const(g->rows) || q->sharing != 32 || tc__cuda_loops(g) != 1 ||
        !tc__cuda_ends_in_sums(g) || !tc__ix_is_const(g->cols))
        return;
    int64_t rows = tc__ix_value(g->rows), across = 32 * q->width;
    int64_t blocks = (rows + across - 1) / across, below = q->threads / 32;
    q->parts = tc__cuda_parts(blocks, columns, TC__CUDA_PARTS, below * 8);
    q->chunk = tc__ix_ceil_div(x, g->cols, tc__ix_const(q->parts));
    if (q->parts > 1) tc__cuda_lay_out(g, q, blocks, blocks * across);
}

// Shared memory of a block of columns: what all its threads have, twice where it is cut.
static int64_t tc__cuda_columns_shared(const tc__group *g, int width) {
    int64_t bytes = 0;
    for (size_t i = 0; i < g->body.node.count; i++) {
        const tc__node *n = g->body.node.at[i];
        if (n->op != TC_OP_NEW) continue;
        int arg = n->attr[1] == TC_OP_ARGMAX || n->attr[1] == TC_OP_ARGMIN;
        bytes += (tc__dtypes[n->dtype].bytes > 4 ? 8 : 4) + (arg ? 8 : 0);
    }
    return 2 * bytes * TC__CUDA_THREADS * width;
}

// ---- the plan ----

static tc__ix tc__cuda_blocks(const tc__group *g, const tc__cuda_plan *q) {
    tc__ixpool *x = g->body.ix;
    tc__ix tile = tc__ix_const(TC__CUDA_TILE_SIZE), parts = tc__ix_const(q->parts);
    tc__ix columns = tc__ix_ceil_div(x, g->cols, tc__ix_const(q->width));
    if (q->form == TC__CUDA_FLAT)
        return tc__ix_ceil_div(x, tc__ix_mul(x, g->rows, columns),
                               tc__ix_const((int64_t)q->threads * q->vectors));
    if (q->form == TC__CUDA_COLUMNS)
        return tc__ix_mul(
            x, tc__ix_ceil_div(x, g->rows, tc__ix_const((int64_t)q->sharing * q->width)),
            parts);
    if (q->form == TC__CUDA_ROWS)
        return tc__ix_mul(
            x, tc__ix_ceil_div(x, g->rows, tc__ix_const(q->threads / q->sharing)), parts);
    return tc__ix_mul(x, tc__ix_ceil_div(x, g->rows, tile),
                      tc__ix_ceil_div(x, g->cols, tile));
}

// Bytes of the scratch of rows; what is held of the inputs stands behind it.
static tc__ix tc__cuda_scratch(const tc__group *g, const tc__cuda_plan *q) {
    for (size_t i = 0; i < g->buffer.count; i++)
        if (tc__cuda_is_scratch(g, q, (int64_t)i)) return g->scratch;
    return tc__ix_const(0);
}

static tc__ix tc__cuda_shared(const tc__group *g, const tc__cuda_plan *q) {
    tc__ixpool *x = g->body.ix;
    if (q->form != TC__CUDA_ROWS) return tc__ix_const(0);
    tc__ix bytes = tc__cuda_scratch(g, q);
    if (q->hold != TC__CUDA_SHARED) return bytes;
    return tc__ix_add(x, bytes, tc__ix_const(tc__cuda_kept_bytes(g, q)));
}

// By value of the knobs; 0 = as it is decided here.
static const int tc__cuda_flat_vectors[] = {0, 1, 2, 4};
static const int tc__cuda_flat_threads[] = {0, 128, 256, 512, 1024};

// U of a flat kernel: less where it would leave multiprocessors without blocks.
static void tc__cuda_plan_flat(const tc__group *g, tc__cuda_plan *q) {
    tc__ixpool *x = g->body.ix;
    tc__ix count = tc__ix_mul(x, g->rows, tc__ix_div(x, g->cols, tc__ix_const(q->width)));
    q->vectors = tc__cuda_vectors(g, q);
    int most = g->list ? TC__CUDA_LIST_VECTORS : TC__CUDA_FLAT_VECTORS;
    if (q->vectors > most) q->vectors = most;
    while (tc__ix_is_const(count) && q->vectors > 1 &&
           tc__ix_value(count) / (q->threads * q->vectors) < TC__CUDA_SMS * TC__CUDA_WAVE)
        q->vectors /= 2;
    int vectors = tc__cuda_flat_vectors[g->tuning.knob[TC__KNOB_VECTORS]];
    int threads = tc__cuda_flat_threads[g->tuning.knob[TC__KNOB_BLOCK_THREADS]];
    if (vectors) q->vectors = vectors;
    if (threads) q->threads = q->sharing = threads;
}

// Columns of the epilogue are read and written as those of other kernels.
static tc__cuda_plan tc__cuda_plan_product(const tc__group *g, const tc__product *product) {
    tc__cuda_plan q;
    memset(&q, 0, sizeof q);
    q.form = TC__CUDA_PRODUCT, q.axis = TC__COL;
    q.threads = q.sharing = product->threads;
    q.vectors = q.parts = q.launches = 1;
    q.narrow = tc__cuda_is_narrow(g) &&
               tc__cuda_reach(g->body.ix, g->depth) < INT32_MAX - (1 << 20);
    q.width = product->form == TC__PRODUCT_TILES ? tc__cuda_width(g, TC__COL) : 1;
    q.blocks = product->blocks, q.shared = product->shared;
    q.resident = product->resident;
    q.zeroed = tc__slice_zeroed(product), q.partial = tc__slice_sums(product);
    q.workspace = q.zeroed + q.partial;
    return q;
}

// Loads that are turned, as long as their tiles fit into what a block has without asking.
static int tc__cuda_is_tile(const tc__group *g) {
    size_t bytes = 0;
    for (size_t i = 0; i < g->body.node.count; i++)
        if (tc__cuda_is_turned(g, g->body.node.at[i]))
            bytes += (size_t)TC__CUDA_TILE_SIZE * (TC__CUDA_TILE_SIZE + 1) *
                     tc__dtypes[g->body.node.at[i]->dtype].bytes;
    return g->kind == TC__POINTWISE && bytes > 0 && bytes <= TC__CUDA_STATIC;
}

// Whether a thread can have what columns keep of a row for itself.
static int tc__cuda_fits_columns(const tc__group *g, const tc__cuda_plan *q) {
    for (size_t i = 0; i < g->buffer.count; i++) {
        tc__ix n = g->buffer.at[i].numel;
        if (tc__cuda_is_scratch(g, q, (int64_t)i) &&
            !(tc__ix_is_const(n) && tc__ix_value(n) <= TC__CUDA_PRIVATE))
            return 0;
    }
    return 1;
}

static tc__cuda_plan tc__cuda_plan_of(const tc__group *g) {
    tc__cuda_plan q;
    memset(&q, 0, sizeof q);
    if (g->kind == TC__CONTRACTION) {
        tc__product product = tc__product_plan(g);
        if (product.form != TC__PRODUCT_LOOP) return tc__cuda_plan_product(g, &product);
    }
    int columns = g->vector == TC__ROW && tc__cuda_fits_columns(g, &q);
    q.form = tc__cuda_is_tile(g)        ? TC__CUDA_TILE
             : g->kind == TC__POINTWISE ? TC__CUDA_FLAT
             : columns                  ? TC__CUDA_COLUMNS
                                        : TC__CUDA_ROWS;
    q.axis = q.form == TC__CUDA_COLUMNS ? TC__ROW : TC__COL;
    q.threads = q.sharing = TC__CUDA_THREADS;
    q.vectors = q.parts = q.launches = 1;
    q.narrow = tc__cuda_is_narrow(g);
    q.width = q.form == TC__CUDA_TILE ? tc__cuda_tile_width(g) : tc__cuda_width(g, q.axis);
    while (q.form == TC__CUDA_COLUMNS && q.width > 1 &&
           tc__cuda_columns_shared(g, q.width) > TC__CUDA_STATIC)
        q.width /= 2;
    q.tail = q.axis == TC__COL && tc__ix_divisor(g->body.ix, g->cols) % q.width;
    tc__cuda_choose_lanes_early(g, &q);
    if (q.form == TC__CUDA_FLAT) tc__cuda_plan_flat(g, &q);
    if (q.form == TC__CUDA_ROWS) tc__cuda_plan_rows(g, &q);
    if (q.form == TC__CUDA_COLUMNS) tc__cuda_plan_columns(g, &q);
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
    if (g->list) return 0; // its row tells the one that there is
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
    out->workspace = tc__ix_const(q.workspace), out->zeroed = tc__ix_const(q.zeroed);
    out->count = q.launches;
    for (int i = 0; i < q.launches; i++) {
        out->at[i].threads = q.threads, out->at[i].blocks = q.blocks;
        out->at[i].shared = q.shared, out->at[i].early = 1;
        out->at[i].cluster = q.cluster;
        out->at[i].waves = q.form == TC__CUDA_ROWS ? TC__CUDA_ROW_WAVES : 0;
    }
    return 1;
}
