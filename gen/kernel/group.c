// GROUP and LOOP: one kernel, before and after its loops are bound.
// The same struct carries both: `node` holds GROUP nodes until lower.c replaces it by a LOOP list.
//
// GROUP is an iteration space of two flat axes, rows r < R and columns c < C (of a
// reduction, the reduced index, row-major over the reduced dimensions; a contraction has k
// < K beside), buffers, and nodes, each with a phase and a level: row, once per row, before
// or behind the columns of its phase; col, at every column; left and right, operands of a
// contraction at (r, k) and (r, c, k). An ACC is a reduction of col values of its phase,
// and a row value of the next one.
//
// There is no order between rows. A phase is complete for a row before the next begins:
// that is the only order inside a kernel, and all that whoever runs it must provide (a GPU:
// a barrier of the threads that share the row). Its loads may read what an earlier phase of
// the row stored.
//
// LOOP is a linear list of the same nodes, with loops around them. What devices add to it
// is planned in gen/PLAN.md.

// Where a buffer's memory comes from; one per LOAD/STORE attribute `buffer`.
typedef enum tc__place {
    TC__BUF_INPUT,  // an external tensor: source = external index
    TC__BUF_NODE,   // a stored TENSOR node: source = node id (planned arena, or an output)
    TC__BUF_ROW,    // scratch of one row, private to a worker
    TC__BUF_TILE,   // result tile of a contraction, private to a worker
    TC__BUF_MADE,   // a row that a part of the list makes for a later one: part.c
    TC__BUF_SHARED, // memory of a block of threads, in the list of a device
    TC__BUF_REGISTER, // a thread's own, there too: all its indices are known
    TC__BUF_LOCAL,    //   or not
    TC__BUF_WORK,     // of all blocks, there too: what one launch leaves for the next
    TC__BUF_TICKET,   //   and where blocks are counted, zero before and after
    TC__BUF_GIVEN     // what the hole of a template gives or is given
} tc__place;

typedef struct tc__kbuf {
    tc__place place;
    uint32_t source;
    uint8_t dtype;
    uint8_t written;
    uint8_t in_turns; // a row that a turn stores: at a multiple of numel
    uint8_t is_part;  // of a tensor, stored at its place: begins at any element
    tc__ix numel;     // elements; ROW: of one row
    int64_t pitch;    // elements between its rows, 0 = none are aligned: pitch.c
    int64_t begin;    // element that index 0 is: tc__group_from_begin. 0 but on the host
    tc__ix offset;    // ROW, TILE: bytes into the worker's scratch (a constant or symbolic)
} tc__kbuf;

// Whether it is a tensor's memory; the others are scratch of a kernel.
static int tc__is_memory(const tc__kbuf *b) {
    return b->place == TC__BUF_INPUT || b->place == TC__BUF_NODE;
}

typedef enum tc__group_kind {
    TC__POINTWISE,
    TC__REDUCTION,
    TC__CONTRACTION,
    TC__OPAQUE // a function over whole buffers: its body is one CALL
} tc__group_kind;

// What of a kernel can be chosen by measuring, because no bit of its results depends on it. 0 = as the
// rules have it, which stand where they are followed; the others are in the table of tune.c.
typedef enum tc__knob {
    TC__KNOB_LANES,    // elements of a vector: tc__choose_lanes
    TC__KNOB_STEPS,    // of loops over columns without an accumulator: tc__loop_step
    TC__KNOB_SUMS,     // where loops keep accumulators: tc__sums_are_named
    TC__KNOB_STORES,   // of results, past the caches or not: tc__c_streams
    TC__KNOB_PREFETCH, // of the next row: tc__prefetches
    TC__KNOB_TILE,     // of a product, in registers: tc__contract_block
    TC__KNOB_PANEL,    // columns of a product that are packed at once: tc__contract_columns
    TC__KNOB_BLOCK,    // rows of an item of a product: tc__contract_grain
    TC__KNOB_THREADS,  // that share it: tc__launch_lay_out
    // On a device:
    TC__KNOB_VECTORS,       // of a thread: tc__cuda_plan_flat
    TC__KNOB_BLOCK_THREADS, //   and threads of a block: the same
    TC__KNOB_PRODUCT_TILE,  // of a block: tc__choose_product_tile
    TC__KNOB_RELAY,         // whether others finish its results: tc__plan_relay
    TC__KNOBS
} tc__knob;

enum { TC__STEPS_VECTOR = 1, TC__STEPS_LANES, TC__STEPS_TWICE };
enum { TC__SUMS_IN_MEMORY = 1, TC__SUMS_NAMED };
enum { TC__STORES_CACHED = 1, TC__STORES_STREAMED };
enum { TC__PREFETCH_OFF = 1, TC__PREFETCH_ON };
enum { TC__SIZE_HALF = 1, TC__SIZE_TWICE };
enum { TC__THREADS_ONE = 1, TC__THREADS_HALF, TC__THREADS_ALL };
enum { TC__RELAY_OFF = 1, TC__RELAY_ON };

// A shape, which has a tuning, is without padding: TC__KNOBS or more.
enum { TC__KNOB_ROOM = 20 };

TC__STATIC_ASSERT(knobs_have_room, TC__KNOBS <= (int)TC__KNOB_ROOM);

typedef struct tc__tuning {
    uint8_t knob[TC__KNOB_ROOM];
} tc__tuning;

// Of a convolution on a device, whose right operand is windows of images [n, h, w, c]: column (n, oh, ow) and k (kh, kw, c) read
// (n, oh * stride + kh * dilation - low, ..., c), or zero. By height and width. Turned, of the gradient of its weight: column
// (kh, kw, c), and k (n, oh, ow).
typedef struct tc__group_windows {
    int64_t images, channels, turned; // channels = 0: it has none
    int64_t image[2], out[2], size[2], stride[2], dilation[2], low[2];
} tc__group_windows;

// How columns that are items lie in a worker's loop.
typedef enum tc__columns {
    TC__COLUMNS_SPLIT = 1, // rows are a serial loop over the columns of all its items,
    TC__COLUMNS_BY_ITEM    //   or over those of each
} tc__columns;

// What a kernel is beside its nodes: plain data without padding, so equal ones are found by memcmp.
typedef struct tc__group_shape {
    tc__ix rows, cols; // extents of the axes r and c
    tc__ix batch;      // CONTRACTION: r = b * (rows / batch) + m
    tc__ix items;      // LOOP: parallel work items
    int64_t grain;     // LOOP: rows or columns per item
    tc__ix wide;       // LOOP, CONTRACTION: columns per item; 0 = all
    tc__ix scratch;    // LOOP: bytes of worker scratch for row buffers
    int64_t
        order; // LOOP, of a reduction that is for a list: how it adds, tc__dialect.order
    tc__group_kind kind;
    tc__axis vector; // LOOP: which axis the vector runs along
    uint32_t
        prologue;    // LOOP: nodes before it are parts that make rows for the last: part.c
    uint32_t phases; // number of column phases
    int split_columns; // LOOP: tc__columns; 0 = items are rows
    int8_t lanes;      // LOOP: elements of one vector in compiled code: 8, 16; 0 = 8
    int8_t dots;       // LOOP: what multiplies narrow values: tc__dots
    int16_t rounded;   // CONTRACTION, LOOP: both operands are f32 that was rounded to tf32
    int list; // LOOP: tensors that a launch of it is for at most: list.c; 0 = its own
    tc__tuning tuning;         // LOOP
    tc__group_windows windows; // CONTRACTION, LOOP: kernel/fold.c
} tc__group_shape;
TC__STATIC_ASSERT(group_shape_has_no_padding,
                  sizeof(tc__group_shape) == 8 * sizeof(int64_t) + 7 * sizeof(int) +
                                                 sizeof(tc__tuning) +
                                                 sizeof(tc__group_windows));

// LOOP: what runs it.
typedef struct tc__group_target {
    int device;                          // number of it; 0 = the host
    uint32_t loop;                       // of the program, as tc__node.loop
    const struct tc__language *language; // of the device, NULL = the host
    const tc__shape *const
        *inputs;           // layouts of the externals, NULL = dense; of the session
    uint32_t room;         // bytes of shared memory that a block has; 0 = any
    uint32_t cluster;      // blocks that can share theirs; 0 = none
    uint32_t matrix_warps; // that multiply tiles in shared memory together; 0 = none do
    uint32_t tensor_maps;  // 1: it brings tiles to shared memory by itself
    int threads;           // of the host that may share its items; 0 = unknown
    int keeps;   // its product's right operand is the same in all turns of its loop
    int checked; // its text looks at every access to a tensor
    int tf32;    // its products may take f32 as tf32: tc_options.allow_tf32
    int fast;    // tc_options.numerics: products of bf16 may be summed in pairs
    int guarded; // it does nothing where a kernel before it met a wrong index: exec/outputs.c
} tc__group_target;

typedef struct tc__group {
    tc__group_shape shape;
    tc__group_target target;
    tc__graph body; // GROUP (then LOOP) nodes
    TC__VEC(tc__kbuf) buffer;
    TC__VEC(uint32_t) covers; // TENSOR nodes computed here, for dumps
} tc__group;

static void tc__group_free(tc_ctx *c, tc__group *k) {
    if (!k) return;
    tc__graph_close(&k->body);
    TC__VEC_FREE(c, k->buffer);
    TC__VEC_FREE(c, k->covers);
    tc__free(c, k, sizeof *k);
}

// A kernel with the numbers of `from`, and as yet without body, buffers and covers. NULL = no memory.
static tc__group *tc__group_empty(tc_ctx *c, const tc__group *from) {
    tc__group *k = TC__NEW(c, tc__group);
    if (!k) return NULL;
    *k = *from;
    memset(&k->buffer, 0, sizeof k->buffer), memset(&k->covers, 0, sizeof k->covers);
    if (tc__graph_open(&k->body, c, from->body.ix)) return k;
    tc__free(c, k, sizeof *k);
    return NULL;
}

// Predicates of LOAD and VALID are pairs (e, limit): 0 <= e < limit. A STORE stores in[0], CHECK checks
// in[0], an i64 value. ARGMAX and ARGMIN accumulate in[0] with the column index and give i64.

// The buffer of a LOAD or STORE.
static const tc__kbuf *tc__buffer_of(const tc__group *k, const tc__node *n) {
    return &k->buffer.at[n->attr[TC__ACCESS_BUFFER]];
}

static int tc__accesses(const tc__node *n, int64_t buffer) {
    return (n->op == TC_OP_LOAD || n->op == TC_OP_STORE) &&
           n->attr[TC__ACCESS_BUFFER] == buffer;
}

// Where the index of a LOAD, STORE or INDEX stands, and what it is.
static uint32_t tc__index_word(const tc__node *n) {
    if (n->op == TC_OP_INDEX) return TC__INDEX_EXPR;
    return TC__ACCESS_INDEX;
}

static tc__ix tc__index_of(const tc__node *n) { return n->attr[tc__index_word(n)]; }

enum { TC__CHEAP = 4 }; // up to this cost a value is computed again rather than stored

// Predicates 0 <= e < limit that the index tuple met on its way down (PAD, CAT), as LOAD attribute
// pairs. Every load below them carries them: it must not touch memory where they fail.
typedef struct tc__bounds {
    uint32_t count;
    tc__ix pair[24];
} tc__bounds;

// How a LOAD or STORE of a LOOP moves with the vector's variable.
typedef enum tc__access { TC__UNIFORM, TC__CONTIGUOUS, TC__PER_LANE } tc__access;

// ---- contractions ----

// The CONTRACT of a CONTRACTION.
static const tc__node *tc__contract_of(const tc__group *k) {
    size_t i = k->body.node.count;
    while (i > 0 && k->body.node.at[i - 1]->op != TC_OP_CONTRACT) i--;
    TC_ASSERT(i > 0);
    return k->body.node.at[i - 1];
}

// Its operands, and the extent of k.
static uint32_t tc__left_of(const tc__group *k) { return tc__contract_of(k)->in[0]; }
static uint32_t tc__right_of(const tc__group *k) { return tc__contract_of(k)->in[1]; }
static tc__ix tc__depth_of(const tc__group *k) {
    return tc__contract_of(k)->attr[TC__CONTRACT_DEPTH];
}

// The LEFT_SUM of its left operand; NULL = it has none.
static const tc__node *tc__total_of(const tc__group *k) {
    size_t i = k->body.node.count;
    while (i > 0 && k->body.node.at[i - 1]->op != TC_OP_LEFT_SUM) i--;
    return i ? k->body.node.at[i - 1] : NULL;
}

// ---- sums down the columns: down.c, down_host.c ----

enum { TC__SUM_LANES = 32 }; // logical lanes of a reduction

// The loop over columns that a list of rows ends in, whose columns it sums, too; 0 = it is another.
static uint32_t tc__down_begin(const tc__group *k) {
    uint32_t id = (uint32_t)k->body.node.count, open = 0;
    if (!id || k->shape.kind != TC__REDUCTION) return 0;
    const tc__node *end = k->body.node.at[id - 1];
    if (end->op != TC_OP_END || end->attr[TC__END_AXIS] != TC__COL) return 0;
    do {
        id--;
        open += k->body.node.at[id]->op == TC_OP_END;
        open -= (uint32_t)tc__opens(k->body.node.at[id]);
    } while (open);
    return id;
}

// Elements of a host's work item's sums of one accumulator. There is always something between two of them, else equal columns of
// 32 items would meet in the first cache.
static tc__ix tc__down_stride(const tc__group *k) {
    tc__ixpool *x = k->body.ix;
    tc__ix lines = tc__ix_div(x, k->shape.cols, tc__ix_const(TC__SUM_LANES));
    return tc__ix_mul(x, tc__ix_const(TC__SUM_LANES),
                      tc__ix_add(x, lines, tc__ix_const(1)));
}

// Bytes of an element of each accumulator that is summed down the columns, of those before node `end` together.
static int64_t tc__down_width(const tc__group *k, uint32_t end) {
    int64_t bytes = 0;
    for (uint32_t id = 0; id < end && k->body.node.at[id]->op == TC_OP_NEW; id++)
        bytes += tc__dtypes[k->body.node.at[id]->dtype].bytes > 4 ? 8 : 4;
    return bytes;
}

// ---- what a kernel is, in words ----

// Whether the kernel is an op of the user's.
static int tc__is_custom(const tc__group *k) {
    return k->shape.kind == TC__OPAQUE &&
           k->body.node.at[0]->attr[TC__CALL_OP] == TC_OP_CUSTOM;
}

// Whether it is none, but a copy from one device to another.
static int tc__is_copy(const tc__group *k) {
    return k->shape.kind == TC__OPAQUE && k->body.node.at[0]->attr[TC__CALL_OP] == TC_OP_TO;
}

static uint32_t tc__count_op(const tc__group *k, tc__op op) {
    uint32_t n = 0;
    for (size_t i = 0; i < k->body.node.count; i++)
        n += k->body.node.at[i]->op == (uint16_t)op;
    return n;
}

static uint32_t tc__count_alu(const tc__group *k) {
    uint32_t n = 0;
    for (size_t i = 0; i < k->body.node.count; i++)
        n += (uint32_t)tc__is_alu(k->body.node.at[i]);
    return n;
}

static void tc__report_count(tc__text *t, uint32_t n, const char *what) {
    tc__put(t, "%u %s%s", (unsigned)n, what, n == 1 ? "" : "s");
}

// Results in memory; rows and tiles are a worker's own.
static uint32_t tc__count_results(const tc__group *k) {
    uint32_t n = 0;
    for (size_t i = 0; i < k->buffer.count; i++)
        n += k->buffer.at[i].written && k->buffer.at[i].place == TC__BUF_NODE;
    return n;
}

// What stands between or before the products of a list of several parts.
static void tc__report_parts(tc__text *t, const tc__group *k) {
    uint32_t products = tc__count_op(k, TC_OP_CONTRACT);
    tc__put(t, ", ");
    tc__report_count(t, tc__count_op(k, TC_OP_NEW), "reduction");
    if (k->shape.kind == TC__CONTRACTION && products == 1)
        tc__put(t, " of rows before it around one product, ");
    else
        tc__put(t, products == 1 ? " behind one product" : " around %u products",
                (unsigned)products);
    if (k->shape.kind != TC__CONTRACTION || products > 1)
        tc__put(t, " over the same rows, ");
}

// One line: the reason why these nodes share a kernel.
static void tc__report_why(tc__text *t, const tc__group *k) {
    static const char *const where[] = {" over one space", " over the same rows",
                                        " around one product"};
    if (tc__is_copy(k)) {
        tc__put(t, "a copy of a whole buffer on another device");
        return;
    }
    if (k->shape.kind == TC__OPAQUE) {
        tc__put(t, "the function of %s over whole buffers, 1 result",
                tc__is_custom(k) ? "a custom op" : "an opaque op");
        return;
    }
    tc__report_count(t, tc__count_alu(k), "element-wise op");
    if (k->shape.kind == TC__REDUCTION && !k->shape.prologue) {
        tc__put(t, ", ");
        tc__report_count(t, tc__count_op(k, TC_OP_NEW), "reduction");
        tc__put(t, " in ");
        tc__report_count(t, k->shape.phases, "phase");
    }
    if (k->shape.prologue)
        tc__report_parts(t, k);
    else
        tc__put(t, "%s%s, ", where[k->shape.kind],
                tc__total_of(k) ? ", sums of its left operand" : "");
    tc__report_count(t, tc__count_results(k), "result");
}
