// Attention of few rows (chain.c), as a step of decoding has: how lanes and blocks share keys, for the text cuda/decode.cuh. Input:
// what chain.c has found. Output: its plan.
//
// A block has all rows of a batch, and those of more batches that look at the same keys (heads of q in groups): keys and values
// are read once. As many blocks share keys as a device has room for at once: then all that it reads is on its way from the
// beginning. Those of a cluster join what they have in the memory of the first; where a device has none, or heads are so few that
// more blocks are needed than one has, through memory, by a ticket.
//
// On an H200, against two kernels (scores; softmax and values): 32 batches of 8 heads with 4096 keys of 128 take 125 us, not 136, a
// LLaMA-shaped step of 8 layers 917 us, not 940. By tickets alone it is 918 to 930.
//
// Keys may be counted at run time; batches are known, as tickets and what blocks leave for each other have room of a known size.
// The text is not that of chain.cuh for fewer rows: of 64 rows of its tiles one would have work, and what it reads would go through
// shared memory, where a lane can multiply what it has loaded. The list is the same, but for the template's name and numbers.

enum {
    TC__DECODE_MOST = 4,    // rows of a block
    TC__DECODE_GROUP = 256, // threads of it,
    TC__DECODE_KEYS =
        4, //   and keys, then values, that each loads at a time, 16 bytes of them
    TC__DECODE_CLUSTERED = 8,   // blocks of a cluster at most
    TC__DECODE_SHARED = 64,     // blocks at most that share keys,
    TC__DECODE_SHARED_LONG = 16 //   and where nobody knows how many there are
};

// Whether scores need more than sums: what lies at their place, or where that is.
static int tc__decode_asks(const tc__chain *q) {
    tc_ctx *c = q->g->body.ctx;
    size_t nodes = q->g->body.node.count;
    uint8_t *marked = TC__NEW_ARRAY(c, uint8_t, nodes);
    const tc__node *sum = tc__contract_of(&q->part[0]);
    int asks = 0;
    if (marked) tc__chain_mark(q, tc__chain_node(q, q->score), &sum, 1, marked);
    for (uint32_t id = 0; marked && id < nodes; id++) {
        int op = tc__chain_node(q, id)->op;
        asks |= marked[id] && (op == TC_OP_LOAD || op == TC_OP_INDEX || op == TC_OP_VALID);
    }
    tc__free(c, marked, nodes);
    return asks;
}

// Blocks of a multiprocessor that there are registers for.
static int tc__decode_resident(const tc__chain *q) {
    return q->few > 1 ? 2 : tc__decode_asks(q) ? 3 : 4;
}

// Batches side by side, from the first on, that an operand is the same for.
static int64_t tc__decode_alike(const tc__chain *q, const tc__staged *s, int64_t m,
                                int64_t batches) {
    tc__ixrun run =
        tc__ix_run(q->g->body.ix, tc__chain_node(q, s->id)->attr[TC__LOAD_INDEX], TC__ROW);
    if (!run.ok || !tc__ix_equals(run.stride, 0)) return 1;
    return run.run == INT64_MAX ? batches : run.run % m == 0 ? run.run / m : 1;
}

// Rows of a block.
static int tc__decode_rows(const tc__chain *q) {
    int64_t m = tc__ix_value(q->m), batches = tc__ix_value(q->g->shape.batch);
    int64_t keys = tc__decode_alike(q, &q->right[0], m, batches),
            values = tc__decode_alike(q, &q->value, m, batches);
    int64_t heads = TC__DECODE_MOST / m;
    while (keys % heads || values % heads || batches % heads) heads--;
    return (int)(m * heads);
}

// Keys that a block has at a time.
static int64_t tc__decode_step(const tc__chain *q) {
    return (int64_t)(TC__DECODE_GROUP / q->lanes) * TC__DECODE_KEYS;
}

// Whether the blocks that share keys are clusters: of so many there is work for all multiprocessors.
static int tc__decode_clusters(const tc__chain *q, int64_t blocks) {
    return q->g->target.cluster >= TC__DECODE_CLUSTERED &&
           2 * blocks * TC__DECODE_CLUSTERED >= 3 * TC__PRODUCT_SMS;
}

static int tc__decode_slices(const tc__chain *q, int64_t blocks) {
    int known = tc__ix_is_const(tc__depth_of(q->g));
    int64_t limit = tc__decode_clusters(q, blocks) ? (int64_t)TC__DECODE_CLUSTERED
                    : known                        ? (int64_t)TC__DECODE_SHARED
                                                   : (int64_t)TC__DECODE_SHARED_LONG;
    int64_t most = TC__PRODUCT_SMS * q->resident / blocks;
    if (most > limit) most = limit;
    if (most < 1) most = 1;
    if (!known) return (int)most;
    int64_t steps = (tc__ix_value(tc__depth_of(q->g)) - 1) / tc__decode_step(q) + 1;
    int64_t turns = (steps - 1) / most + 1; // of each block
    return (int)((steps - 1) / turns + 1);
}

// Floats of a block, or of a part of one, for sums of its rows.
static int64_t tc__decode_room(int64_t rows, int64_t lanes) {
    return rows * (8 * lanes + 4); // result, maximum and sum; whole accesses
}

// Each warp has a part, and those of a cluster's blocks are in the first one.
static int64_t tc__decode_bytes(int64_t rows, int64_t lanes, int64_t threads,
                                int64_t cluster) {
    return 4 * (threads / 32 + cluster) * tc__decode_room(rows, lanes);
}

// Sets how q is run if its rows are few. 0 = they are not.
static int tc__decode_of(tc__chain *q) {
    int64_t deep;
    if (q->softmax < 0 || q->inner != 1 || q->pair || q->value.along != TC__COL) return 0;
    if (!tc__ix_is_const(q->m) || !tc__ix_is_const(q->g->shape.batch)) return 0;
    if (tc__ix_value(q->m) > TC__DECODE_MOST || tc__ix_value(q->g->shape.rows) < 1)
        return 0;
    if (tc__ix_is_const(tc__depth_of(q->g)) && tc__ix_value(tc__depth_of(q->g)) < 1)
        return 0;
    deep = tc__ix_value(tc__depth_of(&q->part[0]));
    if (tc__ix_value(q->g->shape.cols) > deep) deep = tc__ix_value(q->g->shape.cols);
    for (q->lanes = 1; 8 * q->lanes < deep;) q->lanes *= 2;
    q->few = tc__decode_rows(q), q->resident = tc__decode_resident(q);
    int64_t blocks = tc__ix_value(q->g->shape.rows) / q->few;
    q->slices = tc__decode_slices(q, blocks);
    q->single = tc__ix_is_const(tc__depth_of(q->g)) &&
                q->slices * tc__decode_step(q) >= tc__ix_value(tc__depth_of(q->g));
    q->high = TC__DECODE_GROUP / 32, q->rows_high = q->few;
    q->step = (int)tc__decode_step(q);
    q->cluster = tc__decode_clusters(q, blocks) && q->slices > 1 ? q->slices : 0;
    q->bytes = tc__decode_bytes(q->few, q->lanes, TC__DECODE_GROUP, q->cluster);
    q->blocks = tc__ix_const(blocks * q->slices);
    return 1;
}
