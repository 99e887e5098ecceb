// The plan of products of f32 by AMX's tiles (print_thirds.c): which are, their items, what packs their operands, scratch.

// Whether f32 are multiplied by tiles: not what a loop keeps, nor parts, nor so few that making words takes longer.
// Nor windows, which would be put together one by one: 512 filters 3x3 over 512x7x7 take 1.1 times as long so; nor what lies apart
// along columns and k, as an image in steps: 256 filters 1x1 over 128x28x28, every other place, would take 2.2 times as long.
static int tc__contract_thirds(const tc__contract *q, int64_t m) {
    const tc__group *g = q->g;
    tc__ixpool *x = g->body.ix;
    if (!tc__may_tile(g) || q->dot.each > 1 || q->dot.left != TC_F32 ||
        q->dot.right != TC_F32 || q->dtype != TC_F32 || q->number || g->target.keeps ||
        g->target.checked)
        return 0;
    return m >= TC__THIRDS_ROWS && m < INT64_MAX && tc__ix_is_const(tc__depth_of(g)) &&
           tc__ix_lo(x, tc__depth_of(g)) >= TC__THIRDS_DEEP &&
           tc__ix_lo(x, g->shape.cols) >= TC__THIRDS_COLUMNS &&
           (!tc__has_windows(g, q->lanes) || tc__is_plain(g, tc__right_of(g))) &&
           (tc__contract_along(q, TC__AT_RIGHT, TC__COL) ||
            tc__contract_along(q, TC__AT_RIGHT, TC__DEPTH));
}

// Rows and columns of an item: where there would be fewer items than threads, columns are fewer, then rows. Gives
// the blocks of rows.
static int64_t tc__thirds_items(tc__contract *q, int64_t m) {
    const tc__group *g = q->g;
    int64_t cols = tc__ix_hi(g->body.ix, g->shape.cols), most = TC__THIRDS_TALL,
            wide = TC__THIRDS_WIDE, threads = g->target.threads;
    if (q->phases > 1) // rows are whole
        while (most > q->rows && most > TC__THIRDS_SUMS / cols) most /= 2;
    int64_t blocks = (m + most - 1) / most;
    if (tc__ix_is_const(g->shape.cols) && tc__ix_is_const(g->shape.batch)) {
        int64_t batch = tc__ix_value(g->shape.batch), others = tc__ix_times(blocks, batch),
                items = (threads * 2 + others - 1) / others, pieces = (cols - 1) / wide + 1;
        if (pieces < items) pieces = items;
        wide = tc__padded((cols + pieces - 1) / pieces, q->width);
        if (wide < TC__THIRDS_NARROW) wide = TC__THIRDS_NARROW;
        pieces = q->phases > 1 ? 1 : (cols - 1) / wide + 1;
        while (tc__ix_times(blocks * pieces, batch) < threads &&
               m / (blocks + 1) >= q->rows)
            blocks++;
    }
    q->grain = tc__padded((m + blocks - 1) / blocks, q->rows);
    if (q->grain > m) q->grain = m;
    q->wide = tc__ix_const(wide);
    if (q->phases > 1 || cols <= wide) q->wide = g->shape.cols;
    return blocks;
}

// Items, and what packs their operands.
static void tc__thirds_plan(tc__contract *q, int64_t m) {
    const tc__group *g = q->g;
    tc__ixpool *x = g->body.ix;
    q->dot.thirds = q->dot.tiles = 1, q->dot.each = 2;
    q->dot.left = q->dot.right = TC_BF16;
    q->right = TC__RIGHT_NODES, q->left_nodes = 1;
    q->rows = q->width = 2 * TC__DOT_TILE;
    int64_t depth = tc__ix_value(q->depth),
            slices = (depth + TC__THIRDS_SLICE - 1) / TC__THIRDS_SLICE;
    q->slice = tc__padded((depth + slices - 1) / slices, 2 * TC__DOT_TILE);
    int64_t blocks = tc__thirds_items(q, m);
    tc__contract_blocks(q);
    int64_t all =
        tc__ix_is_const(q->wide_padded) ? tc__ix_value(q->wide_padded) : INT32_MAX;
    all = tc__ix_times(all, tc__padded(depth, 2 * TC__DOT_TILE) / 2 * 3);
    q->thirds_stay = blocks > 1 && all <= TC__THIRDS_STAY;
    q->thirds_rows = tc__contract_left_rows(q, m) && q->lanes == TC__DOT_TILE;
    q->apart = tc__contract_is_apart(q);
    q->staged = tc__contract_is_staged(q);
    q->thirds_lies = tc__is_plain(g, tc__right_of(g)) &&
                     tc__is_adjacent(g, tc__right_of(g)) &&
                     tc__ix_divisor(x, g->shape.cols) % q->width == 0;
}

// Scratch from `at` on: words of a slice of the item's rows, and of a panel; sums, twice where some are not finite.
static void tc__thirds_scratch(tc__contract *q, tc__ix at) {
    tc__ixpool *x = q->g->body.ix;
    int64_t tall = tc__padded(q->grain, q->rows), words = q->slice / 2 * 3,
            slices = (tc__ix_value(q->depth) + q->slice - 1) / q->slice,
            chunk = TC__CONTRACT_STAGE * q->width;
    int64_t rows = TC__CONTRACT_STAGE * TC__DOT_TILE; // and their words
    rows += rows / 2 * 3;
    if (chunk < rows) chunk = rows;
    if (chunk < q->slice) chunk = q->slice;
    q->bytes = at;
    tc__ix panels = tc__ix_const(words * q->width);
    if (q->thirds_stay)
        panels = tc__ix_const(tc__ix_value(q->wide_padded) * words * slices);
    q->pack_at = tc__contract_area(q, panels);
    q->left_at = tc__contract_area(q, tc__ix_const(words * tall));
    q->chunk_at = tc__contract_area(q, tc__ix_const(chunk));
    if (q->staged)
        q->stage_at = tc__contract_area(q, tc__ix_const(q->width * TC__CONTRACT_STAGE));
    tc__ix sums = tc__ix_mul(x, q->wide_padded, tc__ix_const(tall));
    q->tile_at = tc__contract_area(q, sums);
    q->flip_at = tc__contract_area(q, sums);
}
