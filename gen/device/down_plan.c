// Rows whose columns are summed as well, on devices: how they are dealt to threads, warps and blocks, and what a row begins
// with. Questions of down.c, and of the scheduler (tc__dialect.takes_down).

enum {
    TC__DOWN_SMS = 132,     // blocks are a multiple of it
    TC__DOWN_THREADS = 512, // of a row at most
    TC__DOWN_WARPED = 256,  // of a block whose warps have a row each
    TC__DOWN_ELEMENTS = 16, // of a row for a thread at most,
    TC__DOWN_ALONE =
        3, //   and vectors where a warp has a row alone, and waits for no other
    TC__DOWN_REGISTERS = 48, // of a thread for them, where a multiprocessor is to have
    TC__DOWN_FULL = 768,     //   so many threads;
    TC__DOWN_HALF = 512,     //   with up to twice as many registers, these
    TC__DOWN_KEPT = 184,     // registers for all of a row, and what its warp sums
    TC__DOWN_BESIDE = 60,    //   and beside them
    TC__DOWN_SUMS = 8,
    TC__DOWN_BANKS = 128, // bytes of shared memory that all banks have
    TC__DOWN_ASKED = 8,   // loads that a row begins with, at most,
    TC__DOWN_VALUES = 4   //   and values of it
};

// How rows are dealt to threads and blocks.
typedef struct tc__down_plan {
    tc__device_plan q;
    int blocks, resident;
    int ahead; // loads of the next row are under way while one is done
    int kept; // registers for all that is read of a row, and what is summed; 0 = that is in shared memory
} tc__down_plan;

// The list without what is done behind all rows.
static tc__group tc__down_part(const tc__group *g) {
    tc__group rows = *g;
    rows.body.node.count = tc__down_begin(g);
    return rows;
}

// ---- the plan ----

static int64_t tc__down_count(const tc__group *g) {
    int64_t n = 0;
    while (g->body.node.at[n]->op == TC_OP_NEW) n++;
    return n;
}

// Threads that share a row where each has `vectors` vectors.
static void tc__down_deal_row(tc__device_plan *q, int64_t columns, int vectors) {
    int64_t accesses = columns / q->width;
    int64_t threads = tc__padded((accesses - 1) / vectors + 1, 32);
    q->vectors = (int)((accesses - 1) / threads + 1);
    q->sharing = (int)threads;
    q->threads = threads > 32 ? (int)threads : TC__DOWN_WARPED;
}

// Of an element of all rows that are dear, which a thread has for itself,
static int64_t tc__down_dear_bytes(const tc__group *rows) {
    int64_t bytes = 0;
    for (size_t b = 0; b < rows->buffer.count; b++)
        if (tc__device_is_own_row(rows, (int64_t)b) &&
            !tc__device_is_cheap(rows, (int64_t)b))
            bytes += tc__device_value_bytes(rows->buffer.at[b].dtype);
    return bytes;
}

//   and with what is held of inputs.
static int64_t tc__down_element(const tc__group *rows, const tc__device_plan *q) {
    return tc__device_held(rows, q, 0) + tc__down_dear_bytes(rows);
}

// Whether one loop alone loads it.
static int tc__down_is_single(const tc__group *g, const tc__device_plan *q,
                              const tc__node *n) {
    return tc__device_may_be_early(g, q, n) && n->n_attr == TC__LOAD_PREDICATES &&
           tc__device_first_load(g, n) < 0;
}

// The loads that a row begins with: of whole vectors that its loops share, or of all whole vectors.
static int tc__down_asks(const tc__group *g, const tc__down_plan *p, uint32_t *asked) {
    const tc__device_plan *q = &p->q;
    int count = 0;
    for (uint32_t id = 0; id < g->body.node.count && count < TC__DOWN_ASKED; id++) {
        const tc__node *n = g->body.node.at[id];
        if ((tc__device_held_load(g, q, n) == (int64_t)id ||
             (p->kept && tc__down_is_single(g, q, n))) &&
            tc__ix_uses(g->body.ix, n->attr[TC__LOAD_INDEX], TC__ROW) &&
            tc__device_is_wide(g, n, q->width, TC__COL))
            asked[count++] = id;
    }
    return count;
}

// Values of a row that are loaded, of whole words: those that it begins with, too.
static int tc__down_asks_values(const tc__group *g, uint32_t *asked) {
    int count = 0;
    for (uint32_t id = 0; id < g->body.node.count && count < TC__DOWN_VALUES; id++) {
        const tc__node *n = g->body.node.at[id];
        if (n->op != TC_OP_LOAD || n->level != TC__AT_ROW ||
            n->n_attr > TC__LOAD_PREDICATES || !tc__is_memory(tc__buffer_of(g, n)) ||
            tc__buffer_of(g, n)->written || tc__device_bytes(g, n) < 4)
            continue;
        if (tc__ix_uses(g->body.ix, n->attr[TC__LOAD_INDEX], TC__ROW) &&
            !tc__ix_has_val(g->body.ix, n->attr[TC__LOAD_INDEX]))
            asked[count++] = id;
    }
    return count;
}

// Bytes of what a row begins with, of a column; 0 = none, or not what is copied to shared memory.
static int64_t tc__down_next_bytes(const tc__group *rows, const tc__down_plan *p) {
    const tc__device_plan *q = &p->q;
    uint32_t asked[TC__DOWN_ASKED];
    int64_t bytes = 0;
    for (int k = tc__down_asks(rows, p, asked); k-- > 0;) {
        int64_t each = tc__device_bytes(rows, rows->body.node.at[asked[k]]);
        if (each * q->width < 4 || (each * q->width > 16 && each * q->width % 16)) return 0;
        bytes += each;
    }
    return bytes;
}

// What threads sum lies in shared memory one after the other. Where a thread has more than an access of 16 bytes, those of
// neighbours would meet in banks: behind 128 bytes so many are left out. (A layer norm of 4096 columns with its gradients
// takes 0.87 of the time so on an H200.)
static int64_t tc__down_gap_from(int64_t width, int64_t bytes) { // threads; 0 = no gaps
    return width * bytes > TC__DEVICE_ACCESS ? TC__DOWN_BANKS / (width * bytes) : 0;
}

static tc__ix tc__down_own_at(const tc__vectors *v, int64_t bytes, tc__ix thread,
                              tc__ix lane) {
    int64_t gap = TC__DEVICE_ACCESS / bytes, every = tc__down_gap_from(v->width, bytes);
    tc__ix at = tc__vector_ix(v, v->width, thread, lane);
    if (!every) return at;
    tc__ix line = tc__ix_div(v->ix, thread, tc__ix_const(every));
    return tc__ix_add(v->ix, at, tc__ix_mul(v->ix, line, tc__ix_const(gap)));
}

// Elements of that for all threads of a block.
static int64_t tc__down_own_numel(const tc__device_plan *q, int64_t bytes) {
    int64_t every = tc__down_gap_from(q->width, bytes), n = (int64_t)q->threads * q->width;
    return every ? n + (q->threads - 1) / every * (TC__DEVICE_ACCESS / bytes) : n;
}

// Blocks that a multiprocessor has.
static int tc__down_resident(const tc__down_plan *p, int full, int64_t shared) {
    int64_t n = (full ? TC__DOWN_FULL : TC__DOWN_HALF) / p->q.threads;
    if (p->kept) {
        int64_t words = tc__padded(p->kept + TC__DOWN_BESIDE, 8);
        n = TC__DEVICE_WORDS / (p->q.threads * words);
        if (n > TC__DOWN_FULL / p->q.threads) n = TC__DOWN_FULL / p->q.threads;
    }
    if (n > TC__DEVICE_ROW_BYTES / shared) n = TC__DEVICE_ROW_BYTES / shared;
    return n < 1 ? 1 : (int)n;
}

// Bytes of shared memory for what the threads of a block sum, and where it meets.
static int64_t tc__down_shared(const tc__group *g, const tc__device_plan *q) {
    int64_t bytes = 0;
    for (int64_t i = 0; i < tc__down_count(g); i++) {
        int64_t each = tc__device_value_bytes(g->body.node.at[i]->dtype);
        bytes += each * (q->vectors * tc__down_own_numel(q, each) + q->threads);
    }
    return bytes;
}

// A grid that is filled once, each block with as many rows as the others. 0 = a block has no room.
static int tc__down_deal(const tc__group *rows, tc__down_plan *p, int full) {
    int64_t each = p->q.threads / p->q.sharing, blocks;
    int64_t elements = (int64_t)p->q.threads * p->q.vectors * p->q.width;
    int64_t shared = tc__down_shared(rows, &p->q);
    int64_t room = TC__DEVICE_ROW_BYTES;
    if (rows->target.room && room > (int64_t)rows->target.room) room = rows->target.room;
    int64_t next = elements * tc__down_next_bytes(rows, p);
    if (p->kept) next += 8 * TC__DOWN_VALUES * p->q.threads;
    p->resident = tc__down_resident(p, full, shared);
    p->ahead = next && shared + next <= room &&
               (p->q.sharing > 32 || p->kept ||
                tc__down_resident(p, full, shared + next) == p->resident);
    if (p->ahead) shared += next, p->resident = tc__down_resident(p, full, shared);
    blocks = (tc__ix_hi(rows->body.ix, rows->shape.rows) - 1) / each + 1;
    if (blocks > TC__DOWN_SMS * p->resident) blocks = TC__DOWN_SMS * p->resident;
    p->blocks = blocks < 1 ? 1 : (int)blocks;
    return shared <= room;
}

// V: of a thread's loads of that many bytes, and whole vectors of a row that has some for each lane.
static void tc__down_choose_width(const tc__group *rows, tc__device_plan *q,
                                  int64_t columns, int widest) {
    q->width = tc__device_width(rows, TC__COL);
    if (widest && q->width > TC__DEVICE_ACCESS / widest)
        q->width = TC__DEVICE_ACCESS / widest;
    while (columns % q->width || (q->width > 1 && columns / q->width < 32)) q->width /= 2;
    tc__device_choose_lanes_early(rows, q);
}

static int tc__down_accumulates(const tc__group *g, const tc__device_plan *q) {
    return tc__count_op(g, TC_OP_NEW) + tc__down_count(g) * (q->vectors + 1) <=
           TC__PRINT_ACCS;
}

// Bytes of registers for an element where all that is read of it is there at once, and what is summed.
static int64_t tc__down_kept_element(const tc__group *rows) {
    int64_t bytes = tc__down_dear_bytes(rows);
    for (size_t i = 0; i < rows->body.node.count; i++) {
        const tc__node *n = rows->body.node.at[i];
        int again = tc__device_first_load(rows, n) >= 0 &&
                    tc__device_first_load(rows, n) != (int64_t)i;
        if (n->op == TC_OP_LOAD && n->level == TC__AT_COL && !again &&
            !tc__device_is_row(rows, n->attr[TC__LOAD_BUFFER]))
            bytes += tc__device_bytes(rows, n);
    }
    for (int64_t i = 0; i < tc__down_count(rows); i++)
        bytes += tc__device_value_bytes(rows->body.node.at[i]->dtype);
    return bytes;
}

// A row for a warp, all of which is in registers, with what is summed: the next row is under way, whole, while one is done.
// Lanes side by side load 16 bytes each of the widest tensor: from more, neighbours would have parts of the same sectors.
static int tc__down_plan_kept(const tc__group *g, const tc__group *rows, tc__down_plan *p,
                              int64_t columns) {
    tc__device_plan *q = &p->q;
    int widest = 1;
    for (size_t i = 0; i < rows->body.node.count; i++) {
        const tc__node *n = rows->body.node.at[i];
        if (tc__device_is_memory(n) && n->level == TC__AT_COL &&
            (int)tc__device_bytes(rows, n) > widest)
            widest = (int)tc__device_bytes(rows, n);
    }
    tc__down_choose_width(rows, q, columns, widest);
    tc__down_deal_row(q, columns, (int)((columns / q->width - 1) / 32 + 1));
    p->kept = (int)(q->vectors * q->width * tc__down_kept_element(rows) / 4);
    return q->sharing == 32 && p->kept > 0 && p->kept <= TC__DOWN_KEPT &&
           tc__down_accumulates(g, q) && tc__down_next_bytes(rows, p) &&
           tc__down_deal(rows, p, 0) && p->ahead;
}

// What is summed is in shared memory: a row is a warp's or a block's.
static int tc__down_plan_shared(const tc__group *g, const tc__group *rows, tc__down_plan *p,
                                int64_t columns) {
    tc__device_plan *q = &p->q;
    tc__down_choose_width(rows, q, columns, 0);
    int64_t bytes = tc__down_element(rows, q);
    int vectors = TC__DOWN_ELEMENTS / q->width;
    while (vectors > 1 && vectors * q->width * bytes > 4 * TC__DOWN_REGISTERS) vectors /= 2;
    int alone = (int)((columns / q->width - 1) / 32 +
                      1); // vectors of a lane whose warp has the row alone
    if (alone <= TC__DOWN_ALONE && alone * q->width * bytes <= 8 * TC__DOWN_REGISTERS &&
        alone > vectors)
        vectors = alone;
    tc__down_deal_row(q, columns, vectors < 1 ? 1 : vectors);
    int64_t registers = q->vectors * q->width * bytes / 4;
    p->kept = 0;
    return registers <= 2 * TC__DOWN_REGISTERS && q->sharing <= TC__DOWN_THREADS &&
           tc__down_accumulates(g, q) &&
           tc__down_deal(rows, p, registers <= TC__DOWN_REGISTERS);
}

// How the rows of g are dealt; 0 = registers do not suffice, or rows are too long or of unknown length.
static int tc__down_plan_of(const tc__group *g, tc__down_plan *p) {
    tc__group rows = tc__down_part(g);
    tc__device_plan *q = &p->q;
    memset(p, 0, sizeof *p);
    if (!tc__ix_is_const(g->shape.cols) || tc__ix_value(g->shape.cols) < 1) return 0;
    if (tc__ix_hi(g->body.ix, g->shape.rows) < 1 || tc__device_has_shared_row(&rows))
        return 0;
    if (tc__down_count(g) > TC__DOWN_SUMS) return 0;
    int64_t columns = tc__ix_value(g->shape.cols);
    q->form = TC__DEVICE_ROWS, q->axis = TC__COL, q->hold = TC__DEVICE_REGISTERS;
    q->parts = q->launches = 1, q->narrow = tc__device_is_narrow(g);
    return tc__down_plan_kept(g, &rows, p, columns) ||
           tc__down_plan_shared(g, &rows, p, columns);
}

// What a device takes of sums down the columns: takes_down of tc__dialect.
static int tc__device_takes_down(const tc__group *g) {
    tc__down_plan p;
    if (g->shape.kind == TC__CONTRACTION) return tc__product_takes_total(g);
    return tc__down_plan_of(g, &p);
}
