// The form of a reduction and how much a thread has of it: threads, vectors, parts, blocks. Input: a group at LOOP.
// Output: its tc__device_plan, which rows.c and columns.c make the list of.
//
// What was chosen for the card is one table at the top of plan.c. tests/unit/device.c runs lists, tests/cuda/forms.c executes
// every form in the emulator, tests/cuda/texts.c compiles every op and dtype for three architectures,
// tests/cuda/nvrtc.c the texts of gen/cuda/*.cuh whole. A function with PTX needs a host version in
// tests/tools/cuda_emulate.h and a row in nvrtc_fake.c.

// ---- rows: threads, parts ----

// What decides in which order a row's columns are added, as a number: tc__dialect.order. In it are parts and threads that
// depend on how many rows there are; those of a form are read from there.
static int64_t tc__order_of(const tc__device_plan *q) {
    return (int64_t)q->parts << 32 | (int64_t)q->sharing << 8 | q->width;
}

static int tc__order_parts(int64_t order) { return (int)(order >> 32); }
static int tc__order_sharing(int64_t order) { return (int)(order >> 8 & 0xffffff); }

static int tc__device_power_of_two(int64_t n) {
    int v = 1;
    while (v < n) v *= 2;
    return v;
}

static int tc__device_any_scratch(const tc__group *g, const tc__device_plan *q) {
    for (size_t i = 0; i < g->buffer.count; i++)
        if (tc__device_is_scratch(g, q, (int64_t)i)) return 1;
    return 0;
}

// Threads of a row that fewer than a warp share. Where rows fill the card a thread has two accesses.
static int tc__device_short_threads(const tc__group *g, int64_t accesses) {
    int threads = tc__device_power_of_two(accesses);
    int fill = tc__ix_hi(g->body.ix, g->shape.rows) / TC__DEVICE_MOST >=
               2 * TC__DEVICE_SMS / threads;
    return threads > 1 && fill ? threads / TC__DEVICE_SHORT : threads;
}

// Rows of a known length, each by a warp or less, or by a block.
static void tc__device_share_by(const tc__group *g, tc__device_plan *q, int64_t columns,
                                int warp) {
    int64_t accesses = (columns - 1) / q->width + 1;
    int64_t threads =
        warp ? 32 : tc__padded((columns - 1) / TC__DEVICE_BLOCK_ELEMENTS + 1, 32);
    if (warp && accesses < 32)
        threads = g->shape.order ? tc__order_sharing(g->shape.order)
                                 : tc__device_short_threads(g, accesses);
    if (threads > TC__DEVICE_ROW_THREADS) threads = TC__DEVICE_ROW_THREADS;
    int64_t steps = (accesses - 1) / threads + 1;
    q->hold = TC__DEVICE_REGISTERS;
    int64_t words = tc__device_held(g, q, 1) * steps * q->width / 4;
    q->sharing = (int)threads;
    q->threads = warp ? TC__DEVICE_WARP_BLOCK : (int)threads;
    q->vectors = (int)steps;
    for (q->late = 0; q->late < 2 && !q->tail; q->late++)
        if (words + tc__device_phase_words(g, q) * steps <=
            (warp ? TC__DEVICE_WARP_HELD : TC__DEVICE_BLOCK_HELD))
            return;
    q->late = 0;
    q->vectors = tc__device_vectors(g, q, TC__DEVICE_FLIGHT);
    q->hold = TC__DEVICE_SHARED;
    int64_t bytes = tc__device_held(g, q, 0) * tc__padded(columns, 64);
    if (!warp) {
        q->threads = bytes > TC__DEVICE_LONG_BYTES ? TC__DEVICE_LONG_THREADS
                                                   : TC__DEVICE_ROW_THREADS;
        if (accesses < q->threads) q->threads = (int)tc__padded(accesses, 32);
        q->sharing = q->threads;
        while (q->vectors > 1 && (q->vectors - 1) * q->threads >= accesses) q->vectors--;
    }
    if (!bytes || bytes > TC__DEVICE_ROW_BYTES || q->threads != q->sharing)
        q->hold = TC__DEVICE_AGAIN;
}

// A warp has the row as long as it can hold it: scratch in shared memory is for one row of a block.
static void tc__device_share(const tc__group *g, tc__device_plan *q, int64_t columns) {
    int warp = columns <= 32 * TC__DEVICE_WARP_ELEMENTS && !tc__device_has_shared_row(g);
    if (warp) tc__device_share_by(g, q, columns, 1);
    if (!warp || (q->threads != q->sharing && tc__device_any_scratch(g, q)))
        tc__device_share_by(g, q, columns, 0);
}

// Phases that have columns.
static int tc__device_loops(const tc__group *g) {
    int count = 0;
    for (size_t i = 0; i < g->body.node.count; i++) {
        const tc__node *n = g->body.node.at[i];
        count += n->op == TC_OP_FOR && n->attr[TC__FOR_AXIS] == TC__COL;
    }
    return count;
}

// Nothing but rows is left to do behind the last loop over columns: it ends in reductions.
static int tc__device_ends_in_sums(const tc__group *g) {
    for (size_t i = g->body.node.count; i-- > 0;) {
        if (g->body.node.at[i]->op == TC_OP_COMBINE) return 1;
        if (g->body.node.at[i]->op == TC_OP_FOR) return 0;
    }
    return 0;
}

// Parts for `blocks` blocks, `most` in all, whose columns can be shared out by `least`: more than there is room for at once
// would wait for those.
static int tc__device_parts(int64_t blocks, int64_t columns, int64_t most, int64_t least) {
    int64_t parts = most / blocks;
    if (parts > columns / least) parts = columns / least;
    return blocks >= TC__DEVICE_FEW || parts < 2 ? 1 : (int)parts;
}

// Where row `b` of the scratch begins in shared memory: behind those before it that are no values of
// threads. (The host's places have room for each of its lanes, and for rows that are computed again.)
static tc__ix tc__device_scratch_at(const tc__group *g, const tc__device_plan *q,
                                    int64_t b) {
    tc__ixpool *x = g->body.ix;
    tc__ix at = tc__ix_const(0), line = tc__ix_const(64);
    for (int64_t i = 0; i < b; i++) {
        const tc__kbuf *row = &g->buffer.at[i];
        if (!tc__device_is_scratch(g, q, i)) continue;
        tc__ix bytes =
            tc__ix_mul(x, row->numel, tc__ix_const((int64_t)tc__dtypes[row->dtype].bytes));
        at = tc__ix_add(x, at, tc__ix_mul(x, line, tc__ix_ceil_div(x, bytes, line)));
    }
    return at;
}

// Bytes of the scratch of rows; what is held of the inputs stands behind it.
static tc__ix tc__device_scratch(const tc__group *g, const tc__device_plan *q) {
    return tc__device_scratch_at(g, q, (int64_t)g->buffer.count);
}

// Rows of scratch that no block has room for: in parts they are in global memory.
static int tc__device_is_too_long(const tc__group *g, const tc__device_plan *q) {
    tc__ix bytes = tc__device_scratch(g, q);
    return g->target.room && tc__ix_is_const(bytes) &&
           tc__ix_value(bytes) + tc__device_parts_most(g, TC__DEVICE_LONG_THREADS, 1) >
               (int64_t)g->target.room;
}

// Few long rows are cut into parts, and all that are too long. 1 = so it is.
static int tc__device_cut(const tc__group *g, tc__device_plan *q) {
    tc__ixpool *x = g->body.ix;
    int loops = tc__device_loops(g);
    int listed =
        g->shape.order != 0; // how many parts was found by the kernel that it is a form of
    if (!listed && (!tc__ix_is_const(g->shape.rows) || tc__ix_value(g->shape.rows) < 1))
        return 0;
    if (loops > TC__GRIDS || (loops < 2 && !tc__device_all_again(g))) return 0;
    int64_t rows = tc__ix_lo(x, g->shape.rows), columns = tc__ix_hi(x, g->shape.cols);
    if (!tc__ix_is_const(g->shape.cols) && (rows > 1 || loops > 1)) return 0;
    int dear = loops > 1 && tc__device_column_cost(g) > TC__DEVICE_DEAR;
    int must = tc__device_is_too_long(g, q);
    int64_t least = dear        ? TC__DEVICE_DEAR_PART
                    : loops > 1 ? TC__DEVICE_PHASED
                                : TC__DEVICE_PART;
    if (!must && loops < 2 && columns <= TC__DEVICE_WHOLE) return 0;
    if (!must && loops > 1 &&
        columns < TC__DEVICE_PHASED_COST / (tc__device_column_cost(g) + 1))
        return 0;
    q->parts = tc__device_parts(rows, columns,
                                dear ? TC__DEVICE_DEAR_PARTS : TC__DEVICE_PARTS, least);
    if (listed) q->parts = tc__order_parts(g->shape.order);
    if (must && q->parts < 2) q->parts = 2;
    if (q->parts < 2) return 0;
    q->kept = loops > 1 && tc__device_keeps_rows(g);
    q->sharing = q->threads = TC__DEVICE_BLOCK;
    q->launches = loops;
    q->chunk = tc__ix_mul(
        x, tc__ix_ceil_div(x, g->shape.cols, tc__ix_const((int64_t)q->parts * q->width)),
        tc__ix_const(q->width));
    // Where threads only sum, so many blocks have registers for twice as much: all of 154 MB takes an H200 40 us, not 42.5.
    int turn = TC__DEVICE_BLOCK * q->width * q->vectors;
    if (loops < 2 && columns / q->parts >= 2 * turn)
        q->vectors = tc__device_vectors(g, q, 2 * TC__DEVICE_FLIGHT);
    return 1;
}

// Bytes of shared memory for what is held of a row, or of a part of it.
static int64_t tc__device_kept_bytes(const tc__group *g, const tc__device_plan *q) {
    tc__ix columns = q->cluster ? q->chunk : g->shape.cols;
    return tc__device_held(g, q, 0) * tc__padded(tc__ix_value(columns), 64);
}

// Nothing that a column stores is read by another thread.
static int tc__device_is_apart(const tc__group *g) {
    for (size_t i = 0; i < g->body.node.count; i++) {
        const tc__node *n = g->body.node.at[i];
        if (n->op == TC_OP_LOAD && tc__buffer_of(g, n)->written &&
            !tc__device_is_row(g, n->attr[TC__LOAD_BUFFER]))
            return 0;
    }
    return tc__device_all_again(g);
}

// The row in parts for so many blocks of a cluster.
static void tc__device_deal(const tc__group *g, tc__device_plan *q, int blocks) {
    tc__ixpool *x = g->body.ix;
    q->cluster = q->parts = blocks;
    q->chunk = tc__ix_mul(
        x, tc__ix_ceil_div(x, g->shape.cols, tc__ix_const((int64_t)blocks * q->width)),
        tc__ix_const(q->width));
}

// Rows that no block has room for, held by as few blocks as can work two on a multiprocessor; the
// largest clusters have more. 1 = so it is. Where rows are few, more parts than that are needed.
static int tc__device_cluster(const tc__group *g, tc__device_plan *q) {
    tc__device_plan p = *q;
    int64_t most = (int64_t)g->target.cluster;
    int64_t room = g->target.room && g->target.room < TC__DEVICE_ROW_BYTES
                       ? (int64_t)g->target.room
                       : (int64_t)TC__DEVICE_ROW_BYTES;
    p.hold = TC__DEVICE_SHARED;
    p.sharing = p.threads = TC__DEVICE_LONG_THREADS;
    if (most < 2 || !tc__device_is_apart(g) || tc__device_kept_bytes(g, &p) <= room)
        return 0;
    for (int blocks = 2; blocks <= most; blocks *= 2) {
        tc__device_deal(g, &p, blocks);
        if (tc__device_kept_bytes(g, &p) <= TC__DEVICE_CLUSTER_BYTES) break;
    }
    if (tc__device_kept_bytes(g, &p) +
            tc__device_parts_most(g, TC__DEVICE_LONG_THREADS, p.cluster) >
        room)
        return 0;
    if (tc__ix_is_const(g->shape.rows) &&
        tc__ix_value(g->shape.rows) * p.parts < TC__DEVICE_SMS)
        return 0;
    *q = p;
    return 1;
}

static void tc__device_plan_rows(const tc__group *g, tc__device_plan *q) {
    int known = tc__ix_is_const(g->shape.cols) && tc__ix_value(g->shape.cols) > 0;
    q->hold = TC__DEVICE_AGAIN;
    q->vectors = tc__device_vectors(g, q, TC__DEVICE_FLIGHT);
    int plain = g->shape.kind != TC__CONTRACTION;
    if (plain && known && !q->tail && tc__device_cluster(g, q)) return;
    if (plain && tc__device_cut(g, q)) return;
    if (known && (!q->tail || !tc__ix_equals(g->shape.rows, 1)))
        tc__device_share(g, q, tc__ix_value(g->shape.cols));
}

// ---- columns ----

// Shared memory of a block of columns: what all its threads have, twice where it is cut.
static int64_t tc__device_columns_shared(const tc__group *g, int width, int threads) {
    int64_t bytes = 0;
    for (size_t i = 0; i < g->body.node.count; i++) {
        const tc__node *n = g->body.node.at[i];
        if (n->op != TC_OP_NEW) continue;
        int arg = n->attr[TC__NEW_MONOID] == TC_OP_ARGMAX ||
                  n->attr[TC__NEW_MONOID] == TC_OP_ARGMIN;
        bytes += tc__device_value_bytes(n->dtype) + (arg ? 8 : 0);
    }
    return 2 * bytes * threads * width;
}

// Blocks of columns that the registers of a multiprocessor have room for.
static int64_t tc__device_columns_resident(const tc__group *g, const tc__device_plan *q) {
    int64_t words = q->width + TC__DEVICE_COLUMN_WORDS;
    for (size_t i = 0; i < g->body.node.count; i++)
        if (tc__device_is_early(g, q, g->body.node.at[i]))
            words += q->vectors * tc__device_words(g, q, g->body.node.at[i]);
    return TC__DEVICE_WORDS / (q->threads * tc__padded(words, 8));
}

// Blocks that columns are cut into: no more than all multiprocessors have room for, where the last few would run alone.
static int64_t tc__device_columns_most(const tc__group *g, const tc__device_plan *q) {
    int64_t most = tc__device_columns_resident(g, q) * TC__DEVICE_SMS;
    if (most > TC__DEVICE_PARTS) most = TC__DEVICE_PARTS;
    return most < TC__DEVICE_SMS ? (int64_t)TC__DEVICE_SMS : most;
}

// Larger blocks have fewer parts to sum at the end, as long as one goes on while another does that: 8192 x 768 halves take an
// H200 13 us so, not 18; but one block to a multiprocessor 28 us, of two operands, where two take 26.
static void tc__device_columns_threads(const tc__group *g, tc__device_plan *q) {
    int threads = q->threads;
    q->threads = TC__DEVICE_ROW_THREADS;
    if (tc__device_columns_resident(g, q) < 2 ||
        tc__device_columns_shared(g, q->width, q->threads) > TC__DEVICE_STATIC)
        q->threads = threads;
}

// Side by side a warp, one below the other as many threads as there are columns for; where there
// are few columns, all of a block side by side.
static void tc__device_plan_columns(const tc__group *g, tc__device_plan *q) {
    tc__ixpool *x = g->body.ix;
    int64_t columns = tc__ix_hi(x, g->shape.cols);
    q->sharing = columns < 64 || !tc__device_all_again(g) ? TC__DEVICE_BLOCK : 32;
    if (!tc__device_all_again(g)) q->width = 1; // scratch of a thread has no vectors
    q->vectors = tc__device_vectors(g, q, TC__DEVICE_COLUMN_FLIGHT);
    if (!tc__ix_is_const(g->shape.rows) || q->sharing != 32 || tc__device_loops(g) != 1 ||
        !tc__device_ends_in_sums(g) || !tc__ix_is_const(g->shape.cols))
        return;
    if (columns >= TC__DEVICE_COLUMNS_LONG) tc__device_columns_threads(g, q);
    int64_t rows = tc__ix_value(g->shape.rows), across = 32 * q->width;
    int64_t blocks = (rows + across - 1) / across, below = q->threads / 32;
    q->parts = tc__device_parts(blocks, columns, tc__device_columns_most(g, q), below * 8);
    q->chunk = tc__ix_ceil_div(x, g->shape.cols, tc__ix_const(q->parts));
}

// ---- the plan ----

// Whether a thread can have what columns keep of a row for itself, and a block what its threads sum.
static int tc__device_fits_columns(const tc__group *g, const tc__device_plan *q) {
    for (size_t i = 0; i < g->buffer.count; i++) {
        tc__ix n = g->buffer.at[i].numel;
        if (tc__device_is_scratch(g, q, (int64_t)i) &&
            !(tc__ix_is_const(n) && tc__ix_value(n) <= TC__DEVICE_PRIVATE))
            return 0;
    }
    int64_t room = TC__DEVICE_ROW_BYTES;
    if (g->target.room) room = g->target.room;
    return tc__device_columns_shared(g, 1, TC__DEVICE_BLOCK) <= room;
}

// V of many long rows whose columns no vector divides, but which all begin at multiples of it, as those that lie apart do:
// their last columns are a tail. Shorter ones are in registers, and few ones are cut. 1 = there is none.
static int tc__device_ragged_width(const tc__group *g) {
    int many =
        tc__ix_is_const(g->shape.rows) && tc__ix_value(g->shape.rows) >= TC__DEVICE_FEW;
    int long_rows =
        tc__ix_is_const(g->shape.cols) && tc__ix_value(g->shape.cols) >= TC__PITCH_WALKED;
    int width = TC__DEVICE_WIDEST / (int)tc__device_least_bytes(g);
    if (g->shape.kind != TC__REDUCTION || !many || !long_rows) return 1;
    return tc__device_all_again(g) && tc__device_all_wide(g, width) ? width : 1;
}

static tc__device_plan tc__device_plan_of(const tc__group *g) {
    tc__device_plan q;
    memset(&q, 0, sizeof q);
    int columns = g->shape.vector == TC__ROW && tc__device_fits_columns(g, &q);
    q.form = columns ? TC__DEVICE_COLUMNS : TC__DEVICE_ROWS;
    q.axis = q.form == TC__DEVICE_COLUMNS ? TC__ROW : TC__COL;
    q.threads = q.sharing = TC__DEVICE_BLOCK;
    q.vectors = q.parts = q.launches = 1;
    q.narrow = tc__device_is_narrow(g);
    q.led = q.form == TC__DEVICE_ROWS;
    q.width = tc__device_width(g, q.axis);
    if (q.form == TC__DEVICE_ROWS && q.width == 1) q.width = tc__device_ragged_width(g);
    while (q.form == TC__DEVICE_COLUMNS && q.width > 1 &&
           tc__device_columns_shared(g, q.width, q.threads) > TC__DEVICE_STATIC)
        q.width /= 2;
    q.tail = q.axis == TC__COL && tc__ix_divisor(g->body.ix, g->shape.cols) % q.width;
    tc__device_choose_lanes_early(g, &q);
    if (q.form == TC__DEVICE_ROWS) tc__device_plan_rows(g, &q);
    if (q.form == TC__DEVICE_COLUMNS) tc__device_plan_columns(g, &q);
    return q;
}

// Of rows whose blocks need no memory but what the text declares, and are one launch.
static int64_t tc__device_order(const tc__group *g) {
    if (g->shape.kind != TC__REDUCTION || tc__down_begin(g)) return 0;
    tc__device_plan q = tc__device_plan_of(g);
    int plain = q.form == TC__DEVICE_ROWS && q.launches == 1 && !q.cluster &&
                q.hold != TC__DEVICE_SHARED && !tc__device_any_scratch(g, &q);
    return plain ? tc__order_of(&q) : 0;
}
