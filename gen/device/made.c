// Products that make the rows of their left operand themselves (join.c): a norm and the linear layer behind it in one
// kernel, where both are so short that their time is that of launches and latencies. How many threads make a row, as a
// kernel of rows has it (form.c), and whether it pays.

// The list that makes the rows, as a reduction.
static tc__group tc__prologue_of(const tc__group *g) {
    tc__group rows = *g;
    rows.shape.kind = TC__REDUCTION, rows.shape.cols = tc__depth_of(g),
    rows.shape.prologue = 0;
    rows.body.node.count = g->shape.prologue;
    return rows;
}

// A warp or less has a row; of a long one, the block.
static tc__device_plan tc__prologue_plan(const tc__group *rows,
                                         const tc__product *product) {
    tc__device_plan q;
    int64_t columns = tc__ix_value(rows->shape.cols);
    memset(&q, 0, sizeof q);
    q.form = TC__DEVICE_ROWS, q.axis = TC__COL;
    q.threads = q.sharing = product->threads;
    q.vectors = q.parts = q.launches = 1;
    q.width = tc__device_width(rows, TC__COL);
    while (columns % q.width) q.width /= 2;
    tc__device_choose_lanes_early(rows, &q);
    if (columns <= (product->made > 1 ? TC__ROWS_BY_WARP : TC__ROWS_ALONE)) {
        tc__device_share(rows, &q, columns);
        q.threads = product->threads;
        return q;
    }
    q.hold = TC__DEVICE_REGISTERS;
    q.vectors = (int)((columns / q.width - 1) / q.threads + 1);
    int64_t words = tc__device_held(rows, &q, 1) * q.width / 4;
    if ((words + tc__device_phase_words(rows, &q)) * q.vectors <= TC__DEVICE_BLOCK_HELD)
        return q;
    q.hold = TC__DEVICE_AGAIN, q.vectors = tc__device_vectors(rows, &q, TC__DEVICE_FLIGHT);
    return q;
}

// Whether what is done with the result reads the rows, too, as a tanh's derivative does: a hole for results knows none of them.
static int tc__result_reads_rows(const tc__group *g) {
    for (size_t i = g->shape.prologue; i < g->body.node.count; i++) {
        const tc__node *n = g->body.node.at[i];
        if (n->op == TC_OP_LOAD && n->level != TC__AT_LEFT &&
            tc__buffer_of(g, n)->place == TC__BUF_MADE)
            return 1;
    }
    return 0;
}

// Whether the rows can be made without memory beside their own.
static int tc__prologue_is_plain(const tc__group *g, const tc__product *product) {
    tc__group rows = tc__prologue_of(g);
    tc__device_plan q = tc__prologue_plan(&rows, product);
    if (tc__result_reads_rows(g)) return 0;
    if (q.sharing > 32 && product->made > 1) return 0;
    if (tc__device_has_shared_row(&rows)) return 0;
    for (size_t i = 0; i < rows.buffer.count; i++)
        if (tc__device_is_scratch(&rows, &q, (int64_t)i)) return 0;
    return 1;
}

// Whether a kernel with its rows is shorter than two: where each row is made once; else where all that
// a multiprocessor makes again, and multiplies without tiles, takes about as long as a launch.
static int tc__device_makes_rows(const tc__group *g) {
    if (!tc__ix_is_const(tc__depth_of(g))) return 0;
    tc__product q = tc__product_plan(g);
    if (tc__ix_value(q.shared) > TC__ROWS_BYTES || !tc__prologue_is_plain(g, &q)) return 0;
    if (q.wide == TC__ROW) return 1;
    if (!tc__ix_is_const(q.blocks)) return 0;
    int64_t each = (tc__ix_value(q.blocks) - 1) / TC__PRODUCT_SMS + 1;
    int64_t made = each * q.made * tc__ix_value(tc__depth_of(g));
    tc__product other = q;
    int tiles = !tc__choose_wide(g, &other);
    return made <= TC__ROWS_MADE && (!tiles || made * q.cover <= TC__ROWS_STEPS);
}
