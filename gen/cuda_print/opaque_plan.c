// How an opaque op maps to CUDA launches. Input: an OPAQUE group, whose CALL has buffers and sizes.
// Output: a tc__opaque_plan, a list of steps, each a launch of the kernel's text.
//
//   scans      a warp or a block for each row; few long rows: a block for each tile of them, which
//              waits for what the tiles before it came to
//   sorts      pairs of key and place: a block for each row that fits in shared memory, else by
//              digits, lowest first, each digit a pass over all pairs
//   topk       the last key by its digits, highest first, then few are sorted; or sorts
//   scatter    each place notes the last that goes there, then takes it
//   additions  indices are sorted, then each place adds what goes there in order; whole rows by few
//              indices: those are counted, each row is brought once, and its columns are dealt to blocks
//   the user's the function of its cuda_source, by as many threads as the result has elements
//
// The functions behind the steps are in cuda/{scan,sort,scatter,runs}.cuh. Nothing depends on which thread is first.
//
// A workspace is left as it was found, by a launch of its own: an epoch in each word would
// save that launch, and make the workspace's contents depend on earlier runs.

typedef enum tc__opaque_step {
    TC__SCAN_LINES,
    TC__SCAN_ROWS,
    TC__SCAN_TILES,
    TC__SORT_ROWS,
    TC__SORT_COUNT,
    TC__SORT_FIRST,
    TC__SORT_NEXT,
    TC__SORT_LAST,
    TC__TOP_ROWS,
    TC__SCATTER_MARK,
    TC__SCATTER_TAKE,
    TC__SCATTER_SUM,
    TC__RANK_INDICES,
    TC__ADD_RUNS,
    TC__OPAQUE_COPY,
    TC__OPAQUE_CLEAR,
    TC__CUSTOM_CALL,
    TC__CUSTOM_BOOLS
} tc__opaque_step;

enum {
    TC__OPAQUE_THREADS = 256, // of most steps; what cuda/*.cuh count on
    TC__OPAQUE_RESIDENT = 2,  // blocks of a multiprocessor that registers must suffice for
    TC__OPAQUE_BUSY = 264,    // rows that keep a GPU busy: two for each multiprocessor
    TC__LINE_STEPS = 8,       // of a warp along a row
    TC__TILE_ACCESSES = 1024, // of a tile of a scan
    TC__TILES_LEAST = 8,      // of a row that is worth waiting for
    TC__TILE_GROUP = 32,
    TC__OPAQUE_HEAD = 64,  // bytes: tickets
    TC__SORT_TILE = 32768, // bytes of pairs that a block sorts
    TC__SORT_FEW = 32,     // keys that a network sorts faster
    TC__TOP_THREADS = 512,
    TC__SORT_WAVES = 4,   // blocks of a multiprocessor that count
    TC__TOP_MOST = 16384, // bytes of the first k pairs
    TC__TOP_LONG = 65536, // elements of rows of which there should be more than these:
    TC__TOP_FEW = 16,
    TC__SUM_ROWS = 8, // that a thread adds to for one index
    TC__RANK_THREADS = 1024,
    TC__RANK_OWN = 64,     // indices that a block places
    TC__RANK_MOST = 16,    // indices of a thread that it counts,
    TC__RANK_WINDOWS = 8,  //   in as many turns
    TC__RANK_FILL = 128,   // blocks at least: they may have a tensor to copy or fill
    TC__RANK_FIXED = 8192, // bytes of shared memory that are not counts
    TC__RUN_THREADS = 96,
    TC__RUN_SPAN = 768,  // indices whose runs a block adds,
    TC__RUN_BYTES = 128, //   and bytes of their rows; half, where memory is short
    TC__CUSTOM_WAVES = 8 // blocks of a multiprocessor that a user's op has at most
};

typedef struct tc__opaque_plan {
    const tc__node *call;
    tc__op op;
    int dtype; // of what is scanned, sorted, or written
    tc__ix rows,
        n;    // of the result, ROW_ADD: its columns and rows; of sorts, n of the operand
    tc__ix k; // TOPK: elements of a row of the result
    tc__ix lines,
        m;      // scatters: of index and src. The user's: lines = elements of the result
    int width;  // scans, sums of rows: elements of an access, of a lane
    int piece;  // ADD_RUNS: bytes that are brought at once,
    int across; //   and columns of a block
    int window; // RANK_INDICES: indices that are counted at once,
    int each;   //   and those of a thread
    int digits; // sorts: of a key
    int tile;   // sorts: pairs of a block
    int most;   // SORT_ROWS: pairs of a row at most,
    int items;  //   those of a thread,
    int bits;   //   and bits of a digit
    int wide;   // keys are of 64 bits
    int filled; // ROW_ADD: what is added to is one number
    int mixed;  // rows may turn out to fit into a block
    tc__ix sorts, keys; // rows that are sorted, and their length
    int count;
    tc__opaque_step step[TC__GRIDS];
    int pass[TC__GRIDS]; // SORT_NEXT
    tc__grids grids;
} tc__opaque_plan;

// ---- what a CALL says ----

// The buffer of the result, i = 0, or of operand i - 1; -1 = it has no elements.
static int64_t tc__call_buffer(const tc__node *call, uint32_t i) {
    return call->attr[TC__CALL_BUFFERS + i];
}

static int tc__call_rank(const tc__node *call, uint32_t i) {
    return (int)call->attr[tc__call_rank_at(call, i)];
}

// Size d of it.
static tc__ix tc__call_size(const tc__node *call, uint32_t i, int d) {
    return call->attr[tc__call_rank_at(call, i) + 1 + (uint32_t)d];
}

static tc__ix tc__call_width(const tc__node *call, uint32_t i) {
    return tc__call_size(call, i, tc__call_rank(call, i) - 1);
}

static tc__ix tc__call_rows(tc__ixpool *x, const tc__node *call, uint32_t i) {
    tc__ix rows = tc__ix_const(1);
    for (int d = 0; d < tc__call_rank(call, i) - 1; d++)
        rows = tc__ix_mul(x, rows, tc__call_size(call, i, d));
    return rows;
}

// ---- steps ----

static tc__grid *tc__opaque_add(tc__opaque_plan *q, tc__opaque_step step, int threads,
                                tc__ix blocks) {
    tc__grid *g = &q->grids.at[q->count];
    q->step[q->count++] = step;
    g->threads = threads, g->blocks = blocks, g->waves = 0, g->shared = tc__ix_const(0);
    g->cluster = g->early = 0;
    return g;
}

// A thread for each of `count` elements.
static void tc__opaque_add_flat(tc__ixpool *x, tc__opaque_plan *q, tc__opaque_step step,
                                tc__ix count) {
    tc__ix threads = tc__ix_const(TC__OPAQUE_THREADS);
    tc__opaque_add(q, step, TC__OPAQUE_THREADS, tc__ix_ceil_div(x, count, threads));
}

static tc__ix tc__ix_scaled(tc__ixpool *x, tc__ix e, int64_t by) {
    return tc__ix_mul(x, e, tc__ix_const(by));
}

static void tc__opaque_add_clear(tc__ixpool *x, tc__opaque_plan *q) {
    tc__ix words = tc__ix_ceil_div(x, q->grids.zeroed, tc__ix_const(8));
    tc__opaque_add_flat(x, q, TC__OPAQUE_CLEAR, words);
    q->grids.at[q->count - 1].waves = TC__SORT_WAVES;
}

// ---- scans ----

static int tc__is_less(tc__ix e, int64_t than) {
    return tc__ix_is_const(e) && tc__ix_value(e) < than;
}

static tc__opaque_step tc__choose_scan(const tc__ixpool *x, const tc__opaque_plan *q) {
    int64_t most = tc__ix_hi(x, q->n);
    int busy = tc__ix_is_const(q->rows) && !tc__is_less(q->rows, TC__OPAQUE_BUSY);
    if (most <= 32 * q->width * TC__LINE_STEPS) return TC__SCAN_LINES;
    if (busy || most < (int64_t)TC__TILES_LEAST * TC__TILE_ACCESSES * q->width)
        return TC__SCAN_ROWS;
    return TC__SCAN_TILES;
}

// Marks: of each tile, and two of each group of tiles.
static tc__ix tc__scan_state(tc__ixpool *x, const tc__opaque_plan *q, tc__ix tiles) {
    tc__ix groups = tc__ix_ceil_div(x, tiles, tc__ix_const(TC__TILE_GROUP));
    tc__ix marks = tc__ix_mad(x, tiles, groups, 2);
    tc__ix bytes = tc__ix_scaled(x, tc__ix_mul(x, q->rows, marks),
                                 2 * (int64_t)tc__dtypes[q->dtype].bytes);
    return tc__ix_add(x, bytes, tc__ix_const(TC__OPAQUE_HEAD));
}

static void tc__plan_prefixes(tc__ixpool *x, tc__opaque_plan *q) {
    int width = 16 / (int)tc__dtypes[q->dtype].bytes;
    q->width = tc__ix_divisor(x, q->n) % width ? 1 : width;
    tc__opaque_step step = tc__choose_scan(x, q);
    int64_t tile = (int64_t)TC__TILE_ACCESSES * q->width;
    tc__ix tiles = tc__ix_ceil_div(x, q->n, tc__ix_const(tile)), blocks = q->rows;
    if (step == TC__SCAN_LINES)
        blocks = tc__ix_ceil_div(x, q->rows, tc__ix_const(TC__OPAQUE_THREADS / 32));
    if (step == TC__SCAN_TILES) blocks = tc__ix_mul(x, q->rows, tiles);
    tc__opaque_add(q, step, TC__OPAQUE_THREADS, blocks);
    if (step != TC__SCAN_TILES) return;
    q->grids.workspace = q->grids.zeroed = tc__scan_state(x, q, tiles);
    tc__opaque_add_clear(x, q);
}

// ---- sorts ----

static int64_t tc__pair_bytes(const tc__opaque_plan *q) { return q->wide ? 16 : 8; }

// What a block of so many threads does with rows of `most` keys. Short rows have few keys of each value: less
// to count.
static void tc__plan_sort_block(tc__opaque_plan *q, int threads) {
    q->items = (q->most + threads - 1) / threads;
    q->bits = q->most <= 128 ? 6 : 8;
}

// All in one block.
static void tc__plan_sort_rows(const tc__ixpool *x, tc__opaque_plan *q) {
    int threads = 32;
    q->most = (int)tc__ix_hi(x, q->keys);
    if (q->most < 1) q->most = 1;
    while (threads < TC__OPAQUE_THREADS && q->most > threads * (threads < 64 ? 4 : 8))
        threads *= 2;
    tc__plan_sort_block(q, threads);
    tc__opaque_add(q, TC__SORT_ROWS, threads, q->sorts);
}

// The workspace of tc_sorter: tickets, counts of digits, marks of tiles, two places for pairs.
static void tc__plan_sorter(tc__ixpool *x, tc__opaque_plan *q, tc__ix tiles) {
    int64_t row = TC__OPAQUE_THREADS * 4 * (int64_t)q->digits; // counts
    tc__ix head = tc__ix_scaled(x, tc__ix_mul(x, q->sorts, tiles), TC__OPAQUE_THREADS * 8);
    head = tc__ix_add(x, head, tc__ix_scaled(x, q->sorts, row));
    head = tc__ix_add(x, head, tc__ix_const(TC__OPAQUE_HEAD));
    q->grids.zeroed = head;
    tc__ix pairs = tc__ix_mul(x, q->sorts, q->keys);
    q->grids.workspace =
        tc__ix_add(x, head, tc__ix_scaled(x, pairs, 2 * tc__pair_bytes(q)));
}

// last: what the last pass is, SORT_LAST gives pairs away.
static void tc__plan_sort_digits(tc__ixpool *x, tc__opaque_plan *q, tc__opaque_step last) {
    tc__ix tiles = tc__ix_ceil_div(x, q->keys, tc__ix_const(q->tile));
    tc__ix blocks = tc__ix_mul(x, q->sorts, tiles);
    q->mixed = !tc__ix_is_const(q->keys), q->most = q->tile;
    tc__plan_sort_block(q, TC__OPAQUE_THREADS);
    tc__plan_sorter(x, q, tiles);
    tc__opaque_add(q, TC__SORT_COUNT, TC__OPAQUE_THREADS, blocks)->waves = TC__SORT_WAVES;
    for (int d = 0; d < q->digits; d++) {
        q->pass[q->count] = d;
        tc__opaque_add(q,
                       !d                  ? TC__SORT_FIRST
                       : d < q->digits - 1 ? TC__SORT_NEXT
                                           : last,
                       TC__OPAQUE_THREADS, blocks);
    }
}

static void tc__plan_argsort(tc__ixpool *x, tc__opaque_plan *q) {
    int64_t most = tc__ix_hi(x, q->n), k = tc__ix_is_const(q->k) ? tc__ix_value(q->k) : 0;
    q->wide = tc__dtypes[q->dtype].bytes == 8;
    q->digits = q->wide ? 8 : 4;
    q->tile = (int)(TC__SORT_TILE / tc__pair_bytes(q));
    q->sorts = q->rows, q->keys = q->n;
    int few = most > TC__TOP_LONG && tc__is_less(q->rows, TC__TOP_FEW);
    if (most <= q->tile)
        tc__plan_sort_rows(x, q);
    else if (q->op == TC_OP_TOPK && k * tc__pair_bytes(q) <= TC__TOP_MOST && !few)
        tc__opaque_add(q, TC__TOP_ROWS, TC__TOP_THREADS, q->rows);
    else {
        tc__plan_sort_digits(x, q, TC__SORT_LAST);
        tc__opaque_add_clear(x, q);
    }
}

// ---- scatters ----

static void tc__plan_scatter(tc__ixpool *x, tc__opaque_plan *q) {
    tc__ix places = tc__ix_mul(x, q->rows, q->n);
    q->grids.workspace = q->grids.zeroed = tc__ix_scaled(x, places, 4);
    tc__opaque_add_flat(x, q, TC__SCATTER_MARK, tc__ix_mul(x, q->lines, q->m));
    tc__opaque_add_flat(x, q, TC__SCATTER_TAKE, places);
}

// Digits of an index below n; two at least, since the first pass and the last are different.
static int tc__index_digits(tc__ix n) {
    int digits = 2;
    if (!tc__ix_is_const(n)) return 4;
    while (digits < 4 && (tc__ix_value(n) - 1) >> 8 * digits) digits++;
    return digits;
}

// Bytes of a tc_run_ring.
static int64_t tc__run_ring_of(int64_t row) {
    return 3 * (128 * (2 * row + 4) + 32) + 8 * 128 * 8;
}

static int64_t tc__run_ring(const tc__opaque_plan *q) {
    return tc__run_ring_of((int64_t)q->across * tc__dtypes[q->dtype].bytes);
}

// Of whole rows a block has as many columns as make a line of memory: a row that many go to is added by many blocks.
static void tc__plan_add_runs(tc__ixpool *x, tc__opaque_plan *q, int64_t room) {
    int bytes = (int)tc__dtypes[q->dtype].bytes,
        line = tc__run_ring_of(TC__RUN_BYTES) <= room ? TC__RUN_BYTES : TC__RUN_BYTES / 2;
    int64_t row = tc__ix_divisor(x, q->rows) * bytes;
    q->piece = row % 16 == 0 ? 16 : row % 8 == 0 ? 8 : row % 4 == 0 ? 4 : bytes;
    q->width = bytes < 4 && q->piece >= 4 ? 4 / bytes : 1;
    q->across = line / bytes < 32 * q->width ? line / bytes : 32 * q->width;
    tc__ix parts = tc__ix_ceil_div(x, q->rows, tc__ix_const(q->across)),
           spans = tc__ix_ceil_div(x, q->m, tc__ix_const(TC__RUN_SPAN));
    tc__opaque_add(q, TC__ADD_RUNS, TC__RUN_THREADS, tc__ix_mul(x, parts, spans))->shared =
        tc__ix_const(tc__run_ring(q));
}

// Indices that are counted at once.
static int64_t tc__rank_window(int64_t room) { return (room - TC__RANK_FIXED) / 4 * 2; }

// Whether nothing has to be copied before rows are added, or ranking does that.
static int tc__adds_in_place(const tc__opaque_plan *q) {
    return q->filled || q->grids.over.count;
}

// Few indices, whose order is counted by many blocks in one launch: 8192 of 50257 in 6 us, where four launches that sort
// digits take 25 (H200).
static int tc__are_ranked(const tc__ixpool *x, const tc__opaque_plan *q, int64_t room) {
    return tc__ix_hi(x, q->m) <= TC__RANK_THREADS * TC__RANK_MOST &&
           tc__ix_hi(x, q->n) <= TC__RANK_WINDOWS * tc__rank_window(room);
}

static void tc__plan_rank(tc__ixpool *x, tc__opaque_plan *q, int64_t room) {
    int64_t most = tc__ix_hi(x, q->m), window = tc__rank_window(room);
    if (tc__ix_hi(x, q->n) < window) window = (tc__ix_hi(x, q->n) + 1) / 2 * 2;
    q->each = (int)((most + TC__RANK_THREADS - 1) / TC__RANK_THREADS);
    q->window = (int)window;
    tc__ix blocks = tc__ix_ceil_div(x, q->m, tc__ix_const(TC__RANK_OWN));
    if (!tc__ix_is_const(blocks))
        blocks = tc__ix_const((most + TC__RANK_OWN - 1) / TC__RANK_OWN);
    if (tc__adds_in_place(q) && tc__is_less(blocks, TC__RANK_FILL))
        blocks = tc__ix_const(TC__RANK_FILL);
    tc__opaque_add(q, TC__RANK_INDICES, TC__RANK_THREADS, blocks)->shared =
        tc__ix_const(2 * window);
    q->grids.workspace = tc__ix_scaled(x, q->m, tc__pair_bytes(q));
}

static void tc__plan_sort_indices(tc__ixpool *x, tc__opaque_plan *q) {
    q->digits = tc__index_digits(q->n);
    q->tile = (int)(TC__SORT_TILE / tc__pair_bytes(q));
    if (tc__ix_hi(x, q->m) > q->tile) {
        tc__plan_sort_digits(x, q, TC__SORT_NEXT);
        return;
    }
    tc__plan_sort_rows(x, q);
    q->grids.workspace = tc__ix_scaled(x, tc__ix_mul(x, q->sorts, q->m), tc__pair_bytes(q));
}

// Of whole rows only those are written that an index names: the others are there before, as what may be in place mostly is,
// or filled by the blocks that rank: 61 us of an embedding's gradient of 154 MB, where others beside them that fill took 75
// (H200; 128 blocks of each, two a multiprocessor).
static void tc__plan_row_add(tc__ixpool *x, tc__opaque_plan *q, int64_t room) {
    q->sorts = tc__ix_const(1), q->keys = q->m;
    int ranked = tc__are_ranked(x, q, room);
    if (!ranked || !tc__adds_in_place(q))
        tc__opaque_add_flat(x, q, TC__OPAQUE_COPY, tc__ix_mul(x, q->rows, q->n));
    if (ranked)
        tc__plan_rank(x, q, room);
    else
        tc__plan_sort_indices(x, q);
    tc__plan_add_runs(x, q, room);
    // What ranks lets it begin early, what sorts does not.
    q->grids.at[q->count - 1].early = ranked;
    if (!tc__ix_equals(q->grids.zeroed, 0)) tc__opaque_add_clear(x, q);
}

// The pairs of sorted indices are in the workspace: of SORT_ROWS at its beginning.
static void tc__plan_scatter_sum(tc__ixpool *x, tc__opaque_plan *q) {
    int shared = q->op != TC_OP_SCATTER_ADD;
    tc__ix rows = q->rows;
    q->sorts = shared ? tc__ix_const(1) : q->lines, q->keys = q->m;
    if (q->op == TC_OP_INDEX_ADD)
        rows = tc__ix_ceil_div(x, rows, tc__ix_const(TC__SUM_ROWS));
    tc__plan_sort_indices(x, q);
    tc__opaque_add_flat(x, q, TC__SCATTER_SUM, tc__ix_mul(x, rows, q->n));
    if (!tc__ix_equals(q->grids.zeroed, 0)) tc__opaque_add_clear(x, q);
}

// ---- the user's ----

static int tc__custom_dtype(const tc__group *g, const tc__node *call, uint32_t i) {
    int64_t b = tc__call_buffer(call, i);
    return b < 0 ? call->dtype : g->buffer.at[b].dtype;
}

static void tc__plan_custom(tc__ixpool *x, const tc__group *g, tc__opaque_plan *q) {
    q->n = q->k = q->m = q->rows, q->lines = tc__ix_const(1);
    for (int d = 0; d < tc__call_rank(q->call, 0); d++)
        q->lines = tc__ix_mul(x, q->lines, tc__call_size(q->call, 0, d));
    tc__opaque_add_flat(x, q, TC__CUSTOM_CALL, q->lines);
    q->grids.at[0].waves = TC__CUSTOM_WAVES;
    if (tc__custom_dtype(g, q->call, 0) == TC_BOOL)
        tc__opaque_add_flat(x, q, TC__CUSTOM_BOOLS, q->lines);
}

static tc__opaque_plan tc__opaque_plan_of(const tc__group *g) {
    tc__ixpool *x = g->body.ix;
    tc__opaque_plan q;
    memset(&q, 0, sizeof q);
    q.call = g->body.node.at[0], q.op = (tc__op)q.call->attr[TC__CALL_OP];
    q.rows = g->shape.rows;
    q.grids.workspace = q.grids.zeroed = tc__ix_const(0);
    tc__overlay_find(g, NULL, &q.grids.over);
    if (tc__is_custom(g)) return tc__plan_custom(x, g, &q), q;
    q.k = tc__call_width(q.call, 0);
    q.n = tc__call_width(q.call, 1);
    int64_t from = tc__call_buffer(q.call, 1);
    q.dtype = g->buffer.at[from < 0 ? tc__call_buffer(q.call, 0) : from].dtype;
    if (q.op == TC_OP_CUMSUM || q.op == TC_OP_CUMPROD) tc__plan_prefixes(x, &q);
    if (q.op == TC_OP_ARGSORT || q.op == TC_OP_TOPK) tc__plan_argsort(x, &q);
    if (q.call->attr[TC__CALL_OPERANDS] < 3) return q;
    q.filled = from == TC__CALL_FILLED;
    q.lines = tc__call_rows(x, q.call, 3), q.m = tc__call_width(q.call, 3);
    if (q.op == TC_OP_ROW_ADD) {
        q.m = q.lines, q.lines = tc__ix_const(1);
        q.n = tc__call_size(q.call, 0, 0), q.rows = tc__call_size(q.call, 0, 1);
    }
    if (tc__call_buffer(q.call, 2) < 0 || tc__call_buffer(q.call, 3) < 0)
        tc__opaque_add_flat(x, &q, TC__OPAQUE_COPY, tc__ix_mul(x, q.rows, q.n));
    else if (q.op == TC_OP_SCATTER)
        tc__plan_scatter(x, &q);
    else if (q.op == TC_OP_ROW_ADD)
        tc__plan_row_add(x, &q,
                         g->target.room ? (int64_t)g->target.room
                                        : (int64_t)TC__DEVICE_ROW_BYTES);
    else
        tc__plan_scatter_sum(x, &q);
    return q;
}

// Blocks of a multiprocessor that the registers of step i must suffice for: of sorted rows as many as have 64
// a thread, and 128 where keys are of 64 bits; no GPU has less than 16.
static int tc__opaque_resident(const tc__opaque_plan *q, int i) {
    int blocks = (q->wide ? 512 : 1024) / q->grids.at[i].threads;
    if (q->step[i] == TC__RANK_INDICES) return 1;
    if (q->step[i] != TC__SORT_ROWS) return TC__OPAQUE_RESIDENT;
    return blocks < 16 ? blocks : 16;
}

static int tc__opaque_grids(const tc__group *g, tc__grids *out) {
    tc__opaque_plan q = tc__opaque_plan_of(g);
    int sizes = out->sizes;
    *out = q.grids;
    out->sizes = sizes, out->count = q.count;
    return !g->body.ix->failed;
}

// Places in a row are of 32 bits, but for scans; rows of run-time length that are longer stop the kernel.
static int tc__has_cuda_opaque(tc_ctx *c, const tc__group *g) {
    const tc__node *call = g->body.node.at[0];
    if (tc__is_custom(g)) {
        const tc__custom *o = tc__custom_of_group(c, g);
        return o && o->op.cuda_source && !o->trouble;
    }
    for (uint32_t i = 0; i <= call->attr[TC__CALL_OPERANDS]; i++) {
        tc__ix n = tc__call_width(call, i);
        if (tc__ix_is_const(n) && tc__ix_value(n) > UINT32_MAX) return 0;
    }
    return 1;
}
