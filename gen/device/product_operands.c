// What a product is to threads of a device, and its operands: how they lie, how many elements an access has, and whether the
// device can bring them by tensor maps (map.c): both of them, halves or f32 that was rounded to tf32 when it was laid out; or
// the left one alone, of f32 that is rounded on its way (cuda/held.cuh). Input: the host's list. Output: tc__staged, which
// product.c makes a plan of.

typedef enum tc__product_form {
    TC__PRODUCT_FEW,
    TC__PRODUCT_TILES,
    TC__PRODUCT_ROWS
} tc__product_form;

enum {
    TC__PRODUCT_SMS = 132,  // multiprocessors that want a tile each
    TC__PRODUCT_GROUP = 16, // bytes of one access
    TC__SPLIT_DEPTH = 128,  // from which on split f32 is at least as near as a chain of f32
    TC__PRODUCT_PAD = 8,    // elements behind a row of the result tile: no bank twice
    TC__PRODUCT_ALIGN = 1024, // of tiles that matrix units read
    TC__MAPPED_LIGHT =
        8, // what the result's ops cost where their text stands for each of a thread's elements
    TC__MAPPED_HIGH = 16,         // else a warp gives so many rows at a time,
    TC__MAPPED_ROOM = 227 * 1024, // bytes of a block where it is not known
    TC__MAPPED_LINES = 32,        //   of so many columns, or twice: cuda/mapped.cuh
    TC__MAPPED_WIDTH = 8,         // columns of a row that a thread has side by side
    TC__PRODUCT_MOVED = 128,      // bytes that L2 moves at once
    TC__PRODUCT_LINE = 64,        //   and elements of their rows in shared memory
    TC__PRODUCT_SUMS = 64, // of a thread that has halves of a stage in registers, too
    TC__FEW_THREADS = 256, // of a block
    TC__FEW_LINE = 128,    // bytes side by side that lanes along columns read
    TC__FEW_LANES = 2,     //   at least, where there is little else to do
    TC__FEW_BUSY = 8,      // warps of a multiprocessor that keep its memory busy
    TC__FEW_LONG = 1024,   // from so many accesses on a row of few ones is for a block
    TC__FEW_BLOCKS = 528,  // that keep its memory busy, lanes along columns
    TC__FEW_SHORT = 924,   //   with short slices, if else more than one
    TC__FEW_EVEN = 20,     //   of so many places are empty,
    TC__FEW_DOTS = 1056,   //   or along k (8192 x 8192: in two slices 41.8 us, whole 45.6)
    TC__FEW_DEEP = 512,    // accesses along k from which one row is multiplied
    TC__FEW_EACH = 4,      //   by so many columns at once
    TC__FEW_WIDTH = 16,    // elements of an access, where they are bytes
    TC__FEW_SUMS = 64,     // of a thread, lanes along columns
    TC__SLICE_STEPS = 8,   // of a block along k, at least, where it has a slice of it
    TC__SLICE_GROUP = 12,  // slices that meet in a round: two rounds for as many as SMS
    TC__HELD_DEPTH = 64,   // f32 as tf32: up to this depth
    TC__HELD_RESULTS = 1 << 22, // so few results leave matrix units idle
    TC__FEW_ROUND = 512, // what a round takes, estimated: as long as so many elements of k
    // ROWS: estimated so that what is done again takes less than a launch
    TC__ROWS_BYTES = 98304, // of shared memory, rows and sums: every card has so much
    TC__ROWS_MADE = 16384,  // elements that a multiprocessor makes, for all its blocks
    TC__ROWS_STEPS = 65536, // its multiply-adds, where tiles would have them otherwise
    TC__ROWS_BY_WARP =
        1024,             // columns of a row that a warp makes, where a block has several
    TC__ROWS_ALONE = 256, // and where it has one, which the block makes if it is longer
    TC__ROWS_AHEAD = 64   // registers for weights that are loaded before rows are made
};

// An operand on its way to where it is multiplied.
typedef struct tc__staged {
    tc__level level;
    uint32_t id;    // of its value
    tc__axis along; // adjacent threads read along it: DEPTH, or ROW (left), COL (right)
    int width;      // elements read at once
    tc__bring bring;
    int computed; // from more than one load, or by more than a cast
} tc__staged;

typedef struct tc__product {
    tc__product_form form;
    int dtype, half;          // half: on tensor cores
    int kind;                 // row of tc__product_kinds
    int threads;              // that multiply
    int resident;             // blocks of a multiprocessor, 0 = any number
    tc__ix m, blocks, shared; // rows of one batch, blocks with work, bytes of a block
    tc__staged left, right;
    const tc__product_tile *tile;
    // TILES, FEW
    int slices;     // of k: blocks that share their sums; 1 = none do
    int64_t length; // elements of k in a slice
    int room;       // operands may have rows apart (pitch.c): accesses pass their ends
    int sums;       // of a thread
    int64_t shares; // sets of blocks that share, 0 = known at run time only
    int width;      // elements of the result that its hole gets
    int lines; // columns that a warp gives of it at a time, through its own memory; 0 = from registers
    int cluster; // blocks that get the right operand together; 1 = each has its own
    int total;   // rows of the left operand are summed, too
    int relay;   // threads that finish results while others multiply, 0 = there are none
    tc__relay halves; // what they would get
    int depth;        // of k in a stage
    int stages;       // of the ring
    // FEW, ROWS
    tc__axis wide; // of the result, along the operand that is read once: ROW or COL
    int few;       // columns, or rows, beside it
    int dot;       // lanes along k
    int sharing;   // threads that share sums: along k, or slices of k
    int each;      // DOT: elements of the wide axis for each thread
    int cover;     // elements of the wide axis for a block
    int parts;     // sums that are added at the end
    // ROWS
    int made;    // rows of a block
    int64_t row; // bytes of one in shared memory
    int steps;   // of a thread along k
    int ahead;   // the wide operand is loaded before the rows are made
} tc__product;

static int tc__product_bytes(const tc__product *q) {
    return tc__is_fp8(q->dtype)                  ? 1
           : q->half                             ? 2
           : (int)tc__dtypes[q->dtype].bytes < 8 ? 4
                                                 : 8;
}

// Elements of one access of registers' type.
static int tc__product_pack(const tc__product *q) {
    return TC__PRODUCT_GROUP / (tc__class_of(q->dtype) == TC__CLASS_f64 ||
                                        tc__class_of(q->dtype) == TC__CLASS_i64
                                    ? 8
                                    : 4);
}

// ---- operands ----

static int tc__is_operand_load(const tc__node *n, tc__level level) {
    return n->op == TC_OP_LOAD && n->level == (uint8_t)level;
}

// Whether `width` elements adjacent along the axis are adjacent and aligned in memory.
static int tc__is_wide_load(const tc__group *g, const tc__node *n, int width,
                            tc__axis axis) {
    tc__ixpool *x = g->body.ix;
    tc__ix e = n->attr[TC__ACCESS_INDEX], v = tc__ix_find_var(x, e, axis);
    if (n->n_attr > TC__LOAD_PREDICATES || tc__buffer_of(g, n)->place == TC__BUF_ROW)
        return 0;
    if (tc__access_along(g, e, axis, width) != TC__CONTIGUOUS) return 0;
    if (v) e = tc__ix_subst(x, e, v, tc__ix_mul(x, v, tc__ix_const(width)));
    return tc__ix_divisor(x, e) % width == 0;
}

// Whether loads at the level are of `width` elements along the axis, or the same for all of them.
static int tc__operand_fits(const tc__group *g, tc__level level, tc__axis axis, int width) {
    int wide = 0;
    for (size_t i = 0; i < g->body.node.count; i++) {
        const tc__node *n = g->body.node.at[i];
        if (!tc__is_operand_load(n, level)) continue;
        int still =
            n->n_attr == TC__LOAD_PREDICATES &&
            tc__access_along(g, n->attr[TC__ACCESS_INDEX], axis, width) == TC__UNIFORM;
        if (!still && !tc__is_wide_load(g, n, width, axis)) return 0;
        wide |= !still;
    }
    return wide;
}

// Whether all loads at the level lie in rows along the axis behind which there is room for a whole access (pitch.c):
// what the last one brings too much is no value.
static int tc__operand_has_room(const tc__group *g, tc__level level, tc__axis axis,
                                tc__ix extent, int width) {
    tc__ixpool *x = g->body.ix;
    if (!tc__ix_is_const(extent)) return 0;
    int64_t end = (tc__ix_value(extent) + width - 1) / width * width;
    for (size_t i = 0; i < g->body.node.count; i++) {
        const tc__node *n = g->body.node.at[i];
        if (!tc__is_operand_load(n, level)) continue;
        tc__ix e = n->attr[TC__ACCESS_INDEX], v = tc__ix_find_var(x, e, axis);
        int64_t pitch = tc__buffer_of(g, n)->pitch;
        if (!v) continue; // the same for all
        if (pitch < end || tc__ix_divisor(x, tc__ix_sub(x, e, v)) % pitch) return 0;
    }
    return 1;
}

// Elements of a 16-byte access of the operand's narrowest load along the axis, where the others are
// several then; or of a wider one. At most `most`; 1 = one by one.
static int tc__operand_width(const tc__group *g, const tc__product *q, tc__level level,
                             tc__axis axis, tc__ix extent, int most) {
    uint32_t narrow = TC__PRODUCT_GROUP, wide = 2;
    for (size_t i = 0; i < g->body.node.count; i++) {
        const tc__node *n = g->body.node.at[i];
        if (!tc__is_operand_load(n, level)) continue;
        uint32_t bytes = tc__dtypes[tc__buffer_of(g, n)->dtype].bytes;
        if (bytes < narrow) narrow = bytes;
        if (bytes > wide) wide = bytes;
    }
    int width = (int)(TC__PRODUCT_GROUP / narrow);
    for (width = width < most ? width : most; width >= (int)(TC__PRODUCT_GROUP / wide);
         width /= 2)
        if ((tc__ix_divisor(g->body.ix, extent) % width == 0 ||
             (q->room && tc__operand_has_room(g, level, axis, extent, width))) &&
            tc__operand_fits(g, level, axis, width))
            return width;
    return 1;
}

static int tc__operand_is_dense(const tc__group *g, tc__level level, tc__axis axis) {
    for (size_t i = 0; i < g->body.node.count; i++) {
        const tc__node *n = g->body.node.at[i];
        if (tc__is_operand_load(n, level) &&
            tc__access_along(g, n->attr[TC__ACCESS_INDEX], axis, 1) == TC__CONTIGUOUS)
            return 1;
    }
    return 0;
}

// Of a right operand that is windows of images whose channels are last: how many of them, 16 bytes, are beside each other, or
// outside of the image. 0 = it is none.
static int tc__operand_windows(const tc__group *g, const tc__product *q, tc__level level) {
    int width = TC__PRODUCT_GROUP / tc__product_bytes(q);
    int64_t channels = g->shape.windows.channels;
    return level == TC__AT_RIGHT && channels && channels % width == 0 ? width : 0;
}

// The same of f32 for matrix units, where both operands were rounded to tf32 when they were laid out (pass/channels.c,
// pass/rounded.c).
static int tc__product_is_rounded(const tc__group *g, const tc__product *q) {
    const tc__group_windows *w = &g->shape.windows;
    return q->dtype == TC_F32 && g->target.tf32 &&
           (w->channels ? !w->turned : g->shape.rounded);
}

// How threads read an operand: along the axis where accesses are widest, `most` elements at once.
static tc__staged tc__stage_operand(const tc__group *g, const tc__product *q,
                                    tc__level level, int most) {
    tc__staged s;
    tc__axis other = level == TC__AT_LEFT ? TC__ROW : TC__COL;
    tc__ix extent = level == TC__AT_LEFT ? q->m : g->shape.cols;
    memset(&s, 0, sizeof s);
    s.level = level, s.id = level == TC__AT_LEFT ? tc__left_of(g) : tc__right_of(g);
    s.along = TC__DEPTH,
    s.width = tc__operand_width(g, q, level, TC__DEPTH, tc__depth_of(g), most);
    if (tc__operand_windows(g, q, level)) {
        s.width = tc__operand_windows(g, q, level);
        s.along = g->shape.windows.turned ? TC__COL : TC__DEPTH;
    }
    if (s.width == 1) {
        s.width = tc__operand_width(g, q, level, other, extent, most);
        int dense = !tc__operand_is_dense(g, level, TC__DEPTH) &&
                    tc__operand_is_dense(g, level, other);
        if (s.width > 1 || dense) s.along = other;
    }
    const tc__node *n = g->body.node.at[s.id];
    s.computed = n->op != TC_OP_LOAD &&
                 (n->op != TC_OP_CAST || g->body.node.at[n->in[0]]->op != TC_OP_LOAD);
    s.bring = s.width == 1 ? TC__BRING_NOW : TC__BRING_LATER;
    if (q->half && s.width == 8 && n->op == TC_OP_LOAD &&
        tc__buffer_of(g, n)->dtype == q->dtype)
        s.bring = TC__BRING_ASYNC;
    return s;
}

// Elements of memory between neighbours along the axis, 0 = not the same everywhere in a tile.
static int64_t tc__operand_stride(const tc__group *g, const tc__staged *s, tc__axis axis) {
    tc__ixpool *x = g->body.ix;
    tc__ixrun run = tc__ix_run(x, g->body.node.at[s->id]->attr[TC__LOAD_INDEX], axis);
    tc__ix m = tc__ix_div(x, g->shape.rows, g->shape.batch); // a tile is in one batch
    if (!run.ok || !tc__ix_is_const(run.stride)) return 0;
    if (run.run != INT64_MAX && (axis != TC__ROW || !tc__ix_equals(m, run.run))) return 0;
    return tc__ix_value(run.stride);
}

// Whether rows of an operand in memory begin inside of lines that L2 moves.
static int tc__operand_is_skew(const tc__group *g, const tc__product *q,
                               const tc__staged *s) {
    tc__axis line = s->level == TC__AT_LEFT ? TC__ROW : TC__COL;
    int64_t apart = tc__operand_stride(g, s, s->along == TC__DEPTH ? line : TC__DEPTH);
    return apart * tc__product_bytes(q) % TC__PRODUCT_MOVED != 0;
}

// An operand as maps are asked of it, of a product of m rows in each batch; tiles are the caller's to say.
static tc__mapped tc__mapped_operand(const tc__group *g, const tc__staged *s, tc__ix m,
                                     tc__ix batches) {
    int left = s->level == TC__AT_LEFT;
    tc__axis line = left ? TC__ROW : TC__COL;
    tc__mapped o;
    memset(&o, 0, sizeof o);
    o.at = g->body.node.at[s->id]->attr[TC__LOAD_INDEX];
    o.line = (int)line, o.deep = TC__DEPTH, o.row = left ? -1 : (int)TC__ROW;
    o.line_stride = tc__operand_stride(g, s, line);
    o.deep_stride = tc__operand_stride(g, s, TC__DEPTH);
    o.rows = tc__ix_value(m), o.depth = tc__ix_value(tc__depth_of(g));
    o.batches = tc__ix_value(batches);
    return o;
}

// Its map, if it lies as threads would read it.
static int tc__mapped_operand_map(const tc__group *g, const tc__staged *s,
                                  const tc__mapped *o, tc_device_map *map) {
    return (s->along == TC__DEPTH ? o->deep_stride : o->line_stride) == 1 &&
           tc__map_of(g->body.ix, o, map);
}

// Whether an operand, of which accesses have several elements, has a map of tiles.
static int tc__operand_has_map(const tc__group *g, const tc__product *q,
                               const tc__staged *s) {
    const tc__node *n = g->body.node.at[s->id];
    tc_device_map map;
    if (n->op != TC_OP_LOAD || n->n_attr != TC__LOAD_PREDICATES) return 0;
    tc__mapped o = tc__mapped_operand(g, s, q->m, g->shape.batch);
    o.lines = s->level == TC__AT_LEFT ? o.rows : tc__ix_value(g->shape.cols);
    o.tile = o.step = TC__MAP_LINE;
    o.dtype = tc__is_fp8(n->dtype) ? n->dtype : q->dtype; // of which operands may have two
    return tc__mapped_operand_map(g, s, &o, &map);
}

// Whether the device can bring an operand by itself, in tiles of 64 lines.
static int tc__operand_is_mapped(const tc__group *g, const tc__product *q,
                                 const tc__staged *s) {
    int left = s->level == TC__AT_LEFT;
    tc_device_map map;
    int rounded = tc__product_is_rounded(g, q);
    if (!left && g->shape.windows.channels &&
        (rounded || tc__operand_windows(g, q, s->level)))
        return tc__map_of_windows(&g->shape.windows, 1, q->dtype, &map);
    if (rounded ? s->along != TC__DEPTH : s->bring != TC__BRING_ASYNC) return 0;
    return tc__operand_has_map(g, q, s);
}

static int tc__product_may_be_mapped(const tc__group *g, const tc__product *q) {
    return g->target.matrix_warps && g->target.tensor_maps && !g->target.checked &&
           tc__ix_is_const(q->m) && tc__ix_is_const(g->shape.cols) &&
           tc__ix_is_const(g->shape.batch) && tc__ix_is_const(tc__depth_of(g));
}

static int tc__product_is_mapped(const tc__group *g, const tc__product *q) {
    return (q->half || tc__product_is_rounded(g, q)) && tc__product_may_be_mapped(g, q) &&
           tc__operand_is_mapped(g, q, &q->left) && tc__operand_is_mapped(g, q, &q->right);
}

// Whether a product is so short and small that matrix units are not worth their beginnings.
static int tc__product_is_short(const tc__group *g) {
    tc__ix results = tc__ix_mul(g->body.ix, g->shape.rows, g->shape.cols);
    return tc__ix_value(tc__depth_of(g)) <= TC__HELD_DEPTH &&
           tc__ix_value(results) < TC__HELD_RESULTS;
}

// Whether matrix units take f32 as tf32 of which the left operand comes by a map, and the right one through threads.
static int tc__product_is_held(const tc__group *g, const tc__product *q) {
    const tc__node *right = g->body.node.at[q->right.id];
    if (q->dtype != TC_F32 || !g->target.tf32 || !tc__product_may_be_mapped(g, q)) return 0;
    if (tc__product_is_short(g) || g->shape.windows.channels) return 0;
    if (q->left.width != 4 || q->right.computed || right->op != TC_OP_LOAD) return 0;
    if (tc__buffer_of(g, right)->dtype != TC_F32) return 0;
    if (q->right.width > 1 && q->right.along == TC__DEPTH &&
        tc__ix_value(tc__depth_of(g)) % 4)
        return 0;
    return tc__operand_has_map(g, q, &q->left);
}

// ---- f8 ----

// The LOAD of f8 that operand `id` is, cast to what is computed with; + 1, 0 = it is none.
static uint32_t tc__operand_f8(const tc__group *g, uint32_t id) {
    const tc__node *n = g->body.node.at[id];
    if (n->op != TC_OP_CAST) return 0;
    while (n->op == TC_OP_CAST && tc__is_float(n->dtype) && !tc__is_fp8(n->dtype))
        n = g->body.node.at[n->in[0]];
    int loads = n->op == TC_OP_LOAD && tc__is_fp8(n->dtype) &&
                tc__buffer_of(g, n)->dtype == n->dtype;
    return loads ? n->id + 1 : 0;
}

// Whether both operands are f8 that were cast, to be multiplied in f32 or halves: halves hold its numbers, so that is a product of
// halves.
static int tc__product_is_of_f8(const tc__group *g) {
    int dtype = g->body.node.at[tc__left_of(g)]->dtype;
    return !g->shape.prologue && (dtype == TC_F32 || tc__is_half(dtype)) &&
           tc__operand_f8(g, tc__left_of(g)) && tc__operand_f8(g, tc__right_of(g));
}

// How a map brings f8 operand s as it is, along k.
static int tc__stage_f8(const tc__group *g, const tc__product *q, tc__staged *s) {
    int width = TC__PRODUCT_GROUP;
    s->id = tc__operand_f8(g, s->id) - 1;
    s->along = TC__DEPTH, s->width = width, s->computed = 0, s->bring = TC__BRING_ASYNC;
    return tc__ix_divisor(g->body.ix, tc__depth_of(g)) % width == 0 &&
           tc__is_wide_load(g, g->body.node.at[s->id], width, TC__DEPTH) &&
           tc__operand_has_map(g, q, s);
}

// Makes the plan one for matrix units of f8, if both operands lie along k. Their sums have some 14 bits
// (product.c), so who wants those of f32 gets halves.
static int tc__product_takes_f8(const tc__group *g, tc__product *q) {
    tc__staged left = q->left, right = q->right;
    if (!g->target.fast || !tc__product_is_of_f8(g) || !tc__product_may_be_mapped(g, q) ||
        g->shape.windows.channels)
        return 0;
    if (!tc__stage_f8(g, q, &left) || !tc__stage_f8(g, q, &right)) return 0;
    q->left = left, q->right = right, q->half = 0;
    q->dtype = g->body.node.at[left.id]->dtype;
    return 1;
}

// ---- the result ----

// Whether the result's hole may get `width` columns of a row whose number no vector divides: all that it reads and writes
// there lies apart, with room behind the last (pitch.c), or is the same for all.
static int tc__result_has_room(const tc__group *g, int width) {
    int64_t end = (tc__ix_value(g->shape.cols) + width - 1) / width * width;
    if (!tc__device_all_wide(g, width)) return 0;
    for (size_t i = 0; i < g->body.node.count; i++) {
        const tc__node *n = g->body.node.at[i];
        if (tc__device_is_memory(n) && n->level == TC__AT_COL &&
            !tc__device_is_still(g, n, TC__COL, width) && tc__buffer_of(g, n)->pitch < end)
            return 0;
    }
    return 1;
}

static int tc__result_width(const tc__group *g) {
    int width = tc__device_width(g, TC__COL),
        most = TC__DEVICE_WIDEST / (int)tc__device_least_bytes(g);
    if (width > 1 || !tc__ix_is_const(g->shape.cols)) return width;
    return tc__result_has_room(g, most) ? most : width;
}
