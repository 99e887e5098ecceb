// The plan of a contraction (contract.c): its block in registers, how its weights are read, its items and their scratch.

// Blocks that measuring may choose instead: rows, and vectors of columns.
static const struct {
    const char *name;
    uint8_t rows, vectors;
} tc__tiles[] = {{"2x4", 2, 4},   {"3x2", 3, 2},   {"3x4", 3, 4},  {"4x3", 4, 3},
                 {"6x2", 6, 2},   {"6x4", 6, 4},   {"8x2", 8, 2},  {"8x3", 8, 3},
                 {"12x1", 12, 1}, {"12x2", 12, 2}, {"14x2", 14, 2}};

// Whether two vectors of columns that are turned are gone through together, though they have 16 lanes each: sums of a row
// would wait for each other.
static int tc__turns_halves(const tc__contract *q, int64_t cols) {
    const tc__node *n = q->g->body.node.at[tc__turned_load(q->g) - 1];
    return tc__is_half(n->dtype) && q->dot.each == 1 && q->grain <= 2 &&
           cols >= 2 * q->lanes;
}

// A block as it was chosen. A flipped one has rows of the panel for columns, which are given.
static void tc__contract_tile(tc__contract *q, int tile) {
    q->rows = tc__tiles[tile].rows;
    if (q->flip) return;
    if (q->grain < q->rows && q->right != TC__RIGHT_WINDOWS) q->rows = (int)q->grain;
    q->width = tc__tiles[tile].vectors * q->lanes;
}

// Four tiles of sums, of 16 by 16.
static void tc__tiles_block(tc__contract *q) {
    if (q->dot.turned) {
        q->width = 2 * TC__DOT_TILE,
        q->rows = q->grain > TC__DOT_TILE ? q->width : TC__DOT_TILE;
        return;
    }
    q->rows = q->grain > TC__DOT_TILE ? 2 * TC__DOT_TILE : TC__DOT_TILE;
    q->width = 4 * TC__DOT_TILE * TC__DOT_TILE / q->rows;
}

// What so many columns take by blocks of v vectors, where a row is multiplied by `most` at a time. Of 32 registers fewer vectors have
// more loads for each multiplication.
static int64_t tc__columns_cost(const tc__contract *q, int64_t cols, int v) {
    static const int each[] = {0, 0, 125, 108, 100};
    return tc__padded(cols, v * q->lanes) * (tc__contract_has_32(q) ? each[v] : 1);
}

// Columns of the panels that the right operand of m rows lies in (pass/laid.c; or its rows are one), as many as a block has; 0 = it
// lies otherwise, or few rows stream it.
static int tc__contract_panel(const tc__contract *q, int64_t m) {
    const tc__group *g = q->g;
    int panel = tc__contract_has_32(q) ? 4 * q->lanes : 2 * q->lanes;
    if (q->cls != TC__CLASS_f32 || q->dot.each > 1 || q->number || g->target.keeps ||
        !tc__is_plain(g, tc__right_of(g)) || tc__has_windows(g, q->lanes) ||
        !tc__ix_is_const(g->shape.cols) || !tc__ix_is_const(q->depth))
        return 0;
    if (m <= TC__CONTRACT_STREAM && tc__is_adjacent(g, tc__right_of(g))) return 0;
    int lies = tc__ix_value(g->shape.cols) % panel == 0 &&
               tc__lies_in_panels(g, tc__right_of(g), TC__COL, panel);
    return lies ? panel : 0;
}

// An item's rows, and slices: panels outside, rows inside, so that the next panel comes while rows use the one before.
static void tc__contract_panel_sizes(tc__contract *q, int64_t m) {
    if (q->phases > 1) return;
    if (!q->slice) q->slice = tc__ix_value(q->depth);
    if (q->tall || m < 1 || m == INT64_MAX) return;
    int64_t blocks = (m - 1) / TC__CONTRACT_PANEL_ROWS + 1;
    q->grain = (m - 1) / blocks + 1;
}

// Sums in registers: 12 vectors, 6 where each takes two registers, 24 of 32 registers.
static void tc__contract_block(tc__contract *q) {
    int wide = tc__contract_is_wide(q), most = tc__contract_is_pair(q) ? 6 : 12;
    int64_t cols = tc__ix_is_const(q->g->shape.cols) ? tc__ix_value(q->g->shape.cols) : 0;
    int tile = q->g->shape.tuning.knob[TC__KNOB_TILE];
    if (q->dot.tiles) {
        tc__tiles_block(q);
        return;
    }
    if (q->flip) q->width = (int)tc__padded(q->grain, q->lanes);
    if (q->turns) {
        int two = q->lanes == (int)TC__VECTOR || tc__turns_halves(q, cols);
        q->rows = (int)q->grain, q->width = two ? 2 * q->lanes : q->lanes;
        return;
    }
    if (tile) {
        tc__contract_tile(q, tile - 1);
        return;
    }
    if (q->right == TC__RIGHT_WINDOWS) {
        tc__window_block(q, tc__ix_value(q->m), most);
        return;
    }
    if (q->flip) {
        if (tc__contract_has_32(q)) most *= 2;
        q->rows = most / (q->width / q->lanes);
        if (q->rows > 8) q->rows = 8;
        if (q->rows < 2) q->rows = 2;
        return;
    }
    if (q->streams && tc__contract_has_32(q)) {
        int64_t blocks = (q->grain + 7) / 8;
        q->rows = (int)((q->grain + blocks - 1) / blocks);
        q->width = (q->rows < 4 ? 4 : q->rows < 6 ? 3 : 2) * q->lanes;
        return;
    }
    if (tc__contract_has_32(q)) most *= 2;
    q->rows = wide ? 3 : 6;
    for (int rows = q->rows;
         rows >= 4 - wide && (q->panel || q->grain < TC__CONTRACT_GRAIN); rows--)
        if (tc__padded(q->grain, rows) < tc__padded(q->grain, q->rows)) q->rows = rows;
    if (q->grain < q->rows) q->rows = (int)q->grain;
    int most_vectors = most / q->rows > 4 ? 4 : most / q->rows, vectors = most_vectors;
    for (int v = most_vectors; v >= 2 && cols; v--)
        if (tc__columns_cost(q, cols, v) < tc__columns_cost(q, cols, vectors)) vectors = v;
    if (q->rows == 6 && most == 12 && cols && // 4 x 3 are as many, of 17 columns 24, not 32
        tc__padded(cols, 3 * q->lanes) < tc__padded(cols, vectors * q->lanes))
        q->rows = 4, vectors = 3;
    q->width = q->panel ? q->panel : vectors * q->lanes;
}

// Columns of an item where each thread has `most` of them.
static int64_t tc__contract_share(const tc__contract *q, int most) {
    int threads = q->g->target.threads < 2 ? 2 : q->g->target.threads;
    int64_t items = threads * most, cols = tc__ix_lo(q->g->body.ix, q->g->shape.cols);
    int64_t wide = tc__padded((cols + items - 1) / items, q->width);
    return wide < TC__CONTRACT_STREAM_WIDE ? wide : (int64_t)TC__CONTRACT_STREAM_WIDE;
}

static void tc__contract_blocks(tc__contract *q) {
    tc__ixpool *x = q->g->body.ix;
    int across = q->flip || q->right == TC__RIGHT_WINDOWS;
    tc__ix wide = q->right == TC__RIGHT_WINDOWS ? tc__ix_const(q->wide_most) : q->wide;
    q->wide_padded = tc__round_up(x, wide, across ? q->lanes * q->rows : q->width);
    q->row_blocks = tc__ix_ceil_div(x, q->m, tc__ix_const(q->grain));
    q->col_blocks = q->wide == q->g->shape.cols
                        ? tc__ix_const(1)
                        : tc__ix_ceil_div(x, q->g->shape.cols, q->wide);
}

// Columns of an item, at most `wide`, of a small product, which would be one item: each thread has some of them.
static int64_t tc__contract_alone(const tc__contract *q, int64_t wide) {
    const tc__group *g = q->g;
    if (!tc__ix_is_const(g->shape.rows) || !tc__ix_is_const(g->shape.batch) ||
        !tc__ix_is_const(q->depth))
        return wide;
    int64_t cols = tc__ix_value(g->shape.cols), m = tc__ix_value(q->m),
            all = tc__ix_times(tc__ix_times(m, cols), tc__ix_value(q->depth));
    int64_t rows = (m + q->grain - 1) / q->grain * tc__ix_value(g->shape.batch);
    int64_t threads = rows ? (g->target.threads + rows - 1) / rows : 1;
    if (threads > all / TC__CONTRACT_ALONE) threads = all / TC__CONTRACT_ALONE;
    if (threads < 2 || (cols - 1) / wide + 1 >= threads) return wide;
    int64_t step = q->flip ? tc__contract_step(q) : q->width,
            share = tc__padded((cols + threads - 1) / threads, step);
    return share < wide ? share : wide;
}

// Whether a loop may keep what the product packs, as far as that is known before its blocks are.
static int tc__contract_may_keep(const tc__contract *q) {
    int packs = q->right == TC__RIGHT_NODES || q->right == TC__RIGHT_COLUMNS;
    return q->g->target.keeps && packs && !q->number && q->phases == 1 &&
           q->dot.each == 1 && !q->late && !q->tall && !q->turns &&
           tc__ix_equals(q->g->shape.batch, 1);
}

// Rows of an item that has all columns, of m rows; 0 = items share columns, too. So it is where a loop keeps the panels, and all
// of them fit into half an L2: what is made of rows before and behind the product is shared out by rows as well, so a turn finds
// in its thread's caches what the turn before left there. Steps of an LSTM, 32 rows x 128, 2 threads, take 0.83 of the time, the
// products of it 0.65 (Sapphire Rapids).
static int64_t tc__contract_all_columns(const tc__contract *q, int64_t m) {
    const tc__group *g = q->g;
    int64_t threads = g->target.threads;
    if (!tc__contract_may_keep(q) || q->flip || q->slice || threads < 2 || m == INT64_MAX ||
        m < threads * TC__CONTRACT_ROWS || !tc__ix_is_const(q->depth) ||
        !tc__ix_is_const(g->shape.cols))
        return 0;
    int64_t cols = tc__padded(tc__ix_value(g->shape.cols), 4 * q->lanes),
            bytes = tc__ix_times(tc__ix_times(cols, tc__ix_value(q->depth)),
                                 tc__dtypes[q->dtype].bytes),
            most = tc__contract_has_32(q) ? TC__CONTRACT_KEPT_BYTES : TC__CONTRACT_PANELS;
    if (bytes > most || cols > TC__CONTRACT_ROWS_COLUMNS) return 0;
    int64_t share = (m - 1) / threads + 1, items = (share - 1) / q->grain + 1;
    return tc__padded((share - 1) / items + 1, TC__CONTRACT_ROWS);
}

static void tc__contract_columns(tc__contract *q) {
    tc__ixpool *x = q->g->body.ix;
    int64_t bytes = tc__dtypes[q->dtype].bytes < 4 ? 4 : tc__dtypes[q->dtype].bytes;
    int64_t depth = tc__ix_is_const(q->depth) ? tc__ix_value(q->depth) : 256;
    int64_t unit = 6 * q->lanes;         // a multiple of 1, 2 and 3 vectors
    int has_32 = tc__contract_has_32(q); // and an L2 of 1 MB and more
    int64_t most = has_32 && !q->slice ? 2 * TC__CONTRACT_PANELS : TC__CONTRACT_PANELS;
    int64_t panels = tc__knob_size(q->g, TC__KNOB_PANEL, most);
    if (q->width == 4 * q->lanes) unit = q->width;
    if (q->slice && !q->streams && has_32) { // each item goes through all slices
        int64_t all = tc__knob_size(q->g, TC__KNOB_PANEL, TC__CONTRACT_ALL_PANELS);
        int64_t share = all / depth * q->slice;
        if (panels > share) panels = share;
    }
    if (q->slice) depth = q->slice, unit = q->width;
    int64_t wide = panels / (bytes * (depth ? depth : 1)) / unit * unit;
    if (wide < 2 * unit) wide = 2 * unit;
    if (q->streams)
        wide = tc__contract_share(
            q, TC__CONTRACT_STREAM_ITEMS); // the longer its rows are, the faster they come
    if (q->turns || q->late) {             // each item makes the left operand
        int64_t share = tc__contract_share(q, TC__CONTRACT_LATE_ITEMS);
        if (share > wide) wide = share;
    }
    if (q->tall) {
        int64_t m = tc__ix_value(q->m), blocks = (m + q->grain - 1) / q->grain;
        int64_t share = blocks * tc__contract_share(q, 1);
        wide =
            share < TC__CONTRACT_TALL_COLUMNS ? share : (int64_t)TC__CONTRACT_TALL_COLUMNS;
    }
    if (q->dot.turned) {
        wide = TC__CONTRACT_TILES_SUMS / tc__padded(q->grain, q->rows);
        wide = wide < 2 * q->width ? 2 * q->width : wide / q->width * q->width;
    }
    if (tc__ix_is_const(q->g->shape.cols)) { // blocks of equal size
        int64_t cols = tc__ix_value(q->g->shape.cols), blocks = (cols - 1) / wide + 1;
        if (cols > 0) wide = tc__padded((cols - 1) / blocks + 1, q->width);
        while (q->turns && cols % wide && cols % wide < q->width) wide += q->width;
        if (!q->streams && !q->dot.turned && !q->turns && q->phases == 1 && !q->number)
            wide = tc__contract_alone(q, wide);
    }
    q->wide = tc__ix_const(q->flip ? tc__padded(wide, tc__contract_step(q)) : wide);
    if (q->all_columns || q->phases > 1 ||
        tc__ix_hi(x, q->g->shape.cols) <= tc__ix_value(q->wide))
        q->wide = q->g->shape.cols;
}

static tc__ix tc__contract_area(tc__contract *q, tc__ix elements) {
    tc__ixpool *x = q->g->body.ix;
    int64_t bytes = tc__dtypes[q->dtype].bytes < 4 ? 4 : tc__dtypes[q->dtype].bytes;
    tc__ix at = q->bytes, size = tc__ix_mul(x, elements, tc__ix_const(bytes));
    q->bytes =
        tc__ix_add(x, at, tc__round_up(x, tc__ix_add(x, size, tc__ix_const(64)), 64));
    return at;
}

// Bytes of buffer b of an item in worker scratch: a row, or one for each of its rows.
static tc__ix tc__contract_buffer(const tc__group *g, const tc__kbuf *b, int64_t grain) {
    tc__ixpool *x = g->body.ix;
    int64_t bytes = tc__dtypes[b->dtype].bytes;
    if (b->place == TC__BUF_MADE) bytes *= grain;
    if (b->place != TC__BUF_ROW && b->place != TC__BUF_MADE) return tc__ix_const(0);
    return tc__round_up(
        x, tc__ix_add(x, tc__ix_mul(x, b->numel, tc__ix_const(bytes)), tc__ix_const(64)),
        64);
}

// Where buffer i is there: behind those before it.
static tc__ix tc__contract_buffer_at(const tc__group *g, size_t i, int64_t grain) {
    tc__ix at = tc__ix_const(0);
    for (size_t j = 0; j < i; j++)
        at = tc__ix_add(g->body.ix, at, tc__contract_buffer(g, &g->buffer.at[j], grain));
    return at;
}

// From one k to the next of a left operand that is evaluated by vectors of rows: an odd number of them, so that the k of one row
// lie in all sets of an L1.
static int64_t tc__contract_left_pitch(const tc__contract *q) {
    int64_t vectors = (q->grain + q->lanes - 1) / q->lanes;
    return (vectors | 1) * q->lanes;
}

// How many blocks of columns a worker keeps the panels of, while a loop goes on.
static int tc__contract_slots(const tc__contract *q, tc__ix bytes) {
    if (!tc__contract_may_keep(q) || !tc__ix_is_const(bytes) ||
        !tc__ix_is_const(q->col_blocks))
        return 0;
    int64_t most = TC__CONTRACT_KEPT_BYTES / tc__ix_value(bytes),
            blocks = tc__ix_value(q->col_blocks);
    if (most > TC__CONTRACT_KEPT) most = TC__CONTRACT_KEPT;
    return (int)(blocks < most ? blocks : most);
}

// Scratch of the product from `at` on.
static void tc__contract_scratch(tc__contract *q, tc__ix at) {
    tc__ixpool *x = q->g->body.ix;
    tc__ix deep = tc__round_up(x, q->depth, q->lanes);
    q->bytes = at;
    int windows = q->right == TC__RIGHT_WINDOWS;
    int64_t tall = tc__padded(q->grain, windows ? q->width : q->flip ? q->lanes : q->rows);
    // Panel is packed: the rows, or what columns are left over, or what is used at once.
    int one = q->flip || q->streams || q->late || q->tall;
    tc__ix panels = q->turns || q->rows_lie || q->lies ? tc__ix_const(0)
                    : windows || q->dot.turned         ? tc__ix_const(tall)
                    : one                              ? tc__ix_const(q->width)
                                                       : q->wide_padded;
    tc__ix packed = q->few || q->late || q->tall ? tc__ix_const(q->slice) : deep;
    panels = tc__ix_mul(x, packed, panels);
    q->slots = tc__contract_slots(q, tc__ix_mul(x, panels, tc__ix_const(4)));
    q->slot_size = panels;
    if (q->slots > 1) panels = tc__ix_mul(x, panels, tc__ix_const(q->slots));
    q->pack_at = tc__contract_area(q, panels);
    int64_t lefts = q->dot.turned  ? q->width
                    : q->dot.tiles ? tall
                    : q->left_rows ? tc__contract_left_pitch(q)
                                   : q->grain;
    tc__ix left = q->left_rows && q->slice ? tc__ix_const(q->slice) : deep;
    q->left_at =
        tc__contract_area(q, q->left_nodes ? tc__ix_mul(x, left, tc__ix_const(lefts)) : 0);
    if (q->staged)
        q->stage_at = tc__contract_area(q, tc__ix_const(q->width * TC__CONTRACT_STAGE));
    if (q->dot.bias && !q->turns) q->bias_at = tc__contract_area(q, q->wide_padded);
    q->tile_at = tc__contract_area(q, tc__ix_mul(x, q->wide_padded, tc__ix_const(tall)));
    q->flip_at = tc__contract_area(
        q, windows         ? tc__ix_mul(x, q->wide_padded, tc__ix_const(tall))
           : q->dot.turned ? tc__ix_const(q->width * tall)
           : q->flip       ? tc__ix_mul(x, q->wide_padded, tc__ix_const(q->width))
                           : 0);
    if (!windows) return;
    const tc__node *right = q->g->body.node.at[tc__right_of(q->g)];
    int64_t tables = 2 + (right->n_attr - TC__LOAD_PREDICATES) / 2;
    int64_t words = tables * (tc__is_depth_narrow(x, right->attr[TC__LOAD_INDEX]) ? 1 : 2);
    q->table_at = tc__contract_area(q, tc__ix_mul(x, deep, tc__ix_const(words)));
    tc__ix copy = q->slice && !q->few ? tc__ix_const(q->slice) : deep;
    q->edge_at = tc__contract_area(
        q, tables > 2 ? tc__ix_mul(x, copy, tc__ix_const(q->wide_most)) : tc__ix_const(0));
}

// Rows of an item of rows of m.
static int64_t tc__contract_grain(const tc__group *g, int64_t m, int tiles) {
    int64_t grain = tiles ? TC__CONTRACT_TILES_GRAIN : TC__CONTRACT_GRAIN;
    int64_t most = tc__knob_size(g, TC__KNOB_BLOCK, grain), made = 0;
    for (size_t i = 0; i < g->buffer.count; i++) {
        const tc__kbuf *b = &g->buffer.at[i];
        if (b->place == TC__BUF_MADE)
            made = tc__ix_clamp(made + tc__ix_times(tc__ix_hi(g->body.ix, b->numel),
                                                    tc__dtypes[b->dtype].bytes));
    }
    while (most > TC__CONTRACT_MADE_ROWS && made > TC__CONTRACT_MADE / most) most /= 2;
    return m < 1 ? 1 : m < most ? m : most;
}

// Rows of an item whose depth is gone through in slices: as many as packing for them is little, but not so many that
// there are too few items for threads.
static int64_t tc__contract_slice_grain(const tc__contract *q, int64_t m) {
    const tc__group *g = q->g;
    int64_t grain = q->dot.tiles ? TC__CONTRACT_TILES_GRAIN : TC__CONTRACT_GRAIN;
    if (tc__contract_has_32(q)) return tc__knob_size(g, TC__KNOB_BLOCK, grain);
    int64_t most = tc__knob_size(g, TC__KNOB_BLOCK, TC__CONTRACT_SLICE_ROWS);
    int64_t items = (m + most - 1) / most;
    if (items < TC__CONTRACT_SLICE_ITEMS) items = TC__CONTRACT_SLICE_ITEMS;
    int64_t rows = (m + items - 1) / items;
    if (rows <= TC__CONTRACT_SLICE_LEAST) return TC__CONTRACT_SLICE_LEAST;
    return tc__padded(rows, TC__CONTRACT_SLICE_UNIT);
}

// Whether tiles have the right operand's columns for rows: those stand in memory as tiles want them, and what is turned
// instead is the left operand, and the results.
static int tc__tiles_turn(const tc__contract *q) {
    if (!q->dot.tiles || !q->dot.columns || !q->dot.rows || q->phases > 1) return 0;
    if (!tc__ix_is_const(q->m) || !tc__ix_is_const(q->depth) ||
        !tc__ix_is_const(q->g->shape.cols))
        return 0;
    int64_t m = tc__ix_value(q->m), words = tc__ix_value(q->depth);
    return m <= TC__CONTRACT_TILES_TURN && m * words <= TC__CONTRACT_TILES_WORDS;
}

// Whether blocks can read all of the right operand as it lies in memory, by whole vectors of columns. Where its rows are a
// multiple of a page apart they would share few sets of the caches: 2048 x 2048 x 2048 takes 1.15 times as long so.
static int tc__contract_may_lie(const tc__contract *q) {
    const tc__group *g = q->g;
    uint32_t right = tc__right_of(g);
    if (!tc__is_plain(g, right) || !tc__is_adjacent(g, right)) return 0;
    tc__ix at = g->body.node.at[right]->attr[TC__LOAD_INDEX];
    int64_t row = tc__ix_value(tc__ix_run(g->body.ix, at, TC__DEPTH).stride);
    return row * tc__dtypes[q->dtype].bytes % TC__CONTRACT_PAGE &&
           tc__ix_value(g->shape.cols) % (4 * q->lanes) == 0;
}

// Whether an item of m rows has many of them, and reads a panel's slice in memory, or packs it when it is used, into a cache: all
// slices of an item would not stay in an L2.
static int tc__contract_is_tall(const tc__contract *q, int64_t m) {
    if (!q->slice || !tc__contract_has_32(q) || q->dot.each > 1 || q->late || q->turns ||
        q->number || !tc__ix_is_const(q->g->shape.cols) || tc__has_windows(q->g, q->lanes))
        return 0;
    int64_t bytes = (int64_t)tc__dtypes[q->dtype].bytes * tc__ix_value(q->depth),
            panels = tc__knob_size(q->g, TC__KNOB_PANEL, TC__CONTRACT_ALL_PANELS);
    return bytes * TC__CONTRACT_TALL_WIDTH > panels && m > TC__CONTRACT_GRAIN &&
           m < INT64_MAX && (m <= TC__CONTRACT_TALL || tc__contract_may_lie(q));
}

// Rows of an item then. Where threads would have no columns they share rows.
static int64_t tc__contract_tall_grain(const tc__contract *q, int64_t m) {
    int64_t panels = (tc__ix_value(q->g->shape.cols) - 1) / (4 * q->lanes) + 1,
            most = tc__knob_size(q->g, TC__KNOB_BLOCK, TC__CONTRACT_TALL),
            blocks = (m + most - 1) / most;
    while (blocks * panels < q->g->target.threads && m / (blocks + 1) >= q->lanes) blocks++;
    return tc__padded((m + blocks - 1) / blocks, q->lanes);
}

// The slice of the depth of a product of m rows; 0 = its panels hold all of it.
static int64_t tc__contract_slice(const tc__contract *q, int64_t m) {
    int64_t depth = tc__ix_is_const(q->depth) ? tc__ix_value(q->depth) : 0;
    int wide = tc__contract_is_wide(q);
    int few = m <= TC__CONTRACT_FLIP && tc__is_plain(q->g, tc__right_of(q->g));
    int64_t most = q->dot.turned ? TC__CONTRACT_TILES_SLICE : TC__CONTRACT_LONG >> wide;
    if (depth <= most || few || q->phases > 1) return 0;
    int64_t slice = q->dot.turned ? most : TC__CONTRACT_SLICE >> wide,
            slices = (depth + slice - 1) / slice;
    return tc__padded((depth + slices - 1) / slices, // of equal size
                      q->dot.tiles ? (int)TC__DOT_TILE : (int)TC__VECTOR);
}

// Whether a product of m rows streams its right operand, whose columns are adjacent.
static int tc__contract_streams(const tc__contract *q, int64_t m) {
    const tc__group *g = q->g;
    if (!tc__ix_is_const(q->depth) || !tc__ix_is_const(g->shape.cols)) return 0;
    int64_t bytes =
        tc__ix_times(tc__ix_times(tc__ix_value(q->depth), tc__ix_value(g->shape.cols)),
                     tc__dtypes[q->dtype].bytes);
    return m <= TC__CONTRACT_STREAM && q->phases == 1 && bytes >= TC__CONTRACT_STREAM_BYTES;
}

// The LOAD of halves that a product of m rows streams, + 1. One k after the other is as fast as pairs are, which would have to
// be put together.
static int tc__contract_adjacent(const tc__contract *q, int64_t m) {
    int load = q->cls == TC__CLASS_f32 && !q->dot.tiles ? tc__adjacent_halves(q->g) : 0;
    int64_t most = q->dot.each > 1 ? TC__CONTRACT_STREAM / 2 : TC__CONTRACT_STREAM;
    return !q->turns && m <= most && tc__contract_streams(q, m) ? load : 0;
}

// Whether a product of m rows turns its right operand.
static int tc__contract_turns(const tc__contract *q, int64_t m) {
    int load = tc__turned_load(q->g),
        most = tc__contract_has_32(q) ? (int)TC__TURNED_ROWS_16 : (int)TC__TURNED_ROWS;
    if (!load || m > most || q->dot.tiles) return 0;
    int dtype = q->g->body.node.at[load - 1]->dtype;
    if (q->dot.each > 1) return q->dot.columns == load || q->dot.split == load;
    return q->cls == TC__CLASS_f32 && (dtype == TC_F32 || tc__is_half(dtype));
}

// The LOAD of halves that the right operand is, [columns, k] and widened, or of bytes that are pairs, + 1; 0 = it is none.
static int tc__contract_split(const tc__contract *q) {
    if (q->dot.each > 1) return q->dot.split;
    int load = q->turns || q->cls != TC__CLASS_f32 ? 0 : tc__lying_load(q->g);
    return load && tc__is_half(q->g->body.node.at[load - 1]->dtype) ? load : 0;
}

// Whether panels of a product of m rows are packed slice by slice when they are used: an item has all rows, and memory is read
// once, while what was read before is multiplied.
static int tc__contract_is_late(const tc__contract *q, int64_t m) {
    int lies = q->split || (q->dot.each > 1 && q->dot.columns && !q->dot.tiles);
    return lies && !q->turns && m <= TC__CONTRACT_LATE_ROWS && q->phases == 1;
}

// How an operand's loads, of this level, lie along an axis: whether a vector of each is one access.
static int tc__contract_along(const tc__contract *q, int level, tc__axis axis) {
    const tc__group *g = q->g;
    for (size_t i = 0; i < g->body.node.count; i++) {
        const tc__node *n = g->body.node.at[i];
        if (n->op != TC_OP_LOAD || n->level != level) continue;
        if (tc__access_along(g, n->attr[TC__LOAD_INDEX], axis, q->lanes) == TC__PER_LANE)
            return 0;
    }
    return 1;
}

// Whether the left operand is evaluated and packed by vectors of rows: several panels read it, and k is far apart. Windows and weights
// that are turned in registers read it where it is.
static int tc__contract_left_rows(const tc__contract *q, int64_t m) {
    int words = q->dot.each > 1 && !q->dot.thirds;
    if (q->right == TC__RIGHT_WINDOWS || q->turns || q->late || words) return 0;
    int aligned = m != INT64_MAX && m % q->lanes == 0 && q->grain % q->lanes == 0;
    int several = tc__ix_is_const(q->wide) && tc__ix_value(q->wide) > q->width;
    return aligned && several && !q->flip && q->phases == 1 &&
           !tc__contract_along(q, TC__AT_LEFT, TC__DEPTH) &&
           tc__contract_along(q, TC__AT_LEFT, TC__ROW);
}

// Whether panels, or the pieces that become words, are of values.
static int tc__contract_packs_values(const tc__contract *q) {
    return q->dot.each == 1 || q->dot.thirds;
}

// Whether the right operand's vectors of columns would be put together, or tested, lane by lane, where column and k
// are known apart: a panel's columns are found once for all k then.
static int tc__contract_is_apart(const tc__contract *q) {
    const tc__group *g = q->g;
    uint32_t id = tc__right_of(g);
    const tc__node *n = g->body.node.at[id];
    return q->right == TC__RIGHT_NODES && tc__contract_packs_values(q) &&
           tc__is_apart(g, id) && !g->target.checked &&
           (tc__access_along(g, n->attr[TC__LOAD_INDEX], TC__COL, q->lanes) ==
                TC__PER_LANE ||
            tc__pred_along(g, n, TC__COL, q->lanes) == 2);
}

// Whether it is evaluated by vectors of k, column by column, and turned: weights [columns, k] of halves, or that are scaled. By
// vectors of columns each lane would be loaded alone.
static int tc__contract_is_staged(const tc__contract *q) {
    return q->right == TC__RIGHT_NODES && tc__contract_packs_values(q) && !q->apart &&
           !q->split && (q->cls == TC__CLASS_f32 || q->cls == TC__CLASS_i32) &&
           !tc__contract_along(q, TC__AT_RIGHT, TC__COL) &&
           tc__contract_along(q, TC__AT_RIGHT, TC__DEPTH);
}

// Whether blocks of a tall item do read it there. Its lines are asked for together, and lie in an L2 behind a panel's first block:
// packing takes longer.
static int tc__contract_lies(const tc__contract *q) {
    if (q->panel) return q->panel == q->width;
    return q->tall && q->right == TC__RIGHT_NODES && tc__contract_may_lie(q) &&
           tc__ix_value(q->g->shape.cols) % q->width == 0 && tc__ix_is_const(q->wide) &&
           tc__ix_value(q->wide) % q->width == 0;
}

// The STORE of a product of which nothing else is made and whose rows lie beside each other; else NULL.
static const tc__node *tc__contract_direct(const tc__contract *q, int64_t m) {
    const tc__group *g = q->g;
    const tc__node *store = NULL;
    int moved =
        q->flip || q->turns || q->dot.turned || q->streams || q->right == TC__RIGHT_WINDOWS;
    if (moved || q->phases > 1 || g->target.checked) return NULL;
    for (uint32_t id = g->shape.prologue; id < g->body.node.count; id++) {
        const tc__node *n = g->body.node.at[id];
        if (n->level == TC__AT_LEFT || n->level == TC__AT_RIGHT ||
            n->op == TC_OP_CONTRACT || n->op == TC_OP_FOR || n->op == TC_OP_END)
            continue;
        if (n->op != TC_OP_STORE || store) return NULL;
        store = n;
    }
    if (!store || g->body.node.at[store->in[0]]->op != TC_OP_CONTRACT) return NULL;
    const tc__kbuf *to = &g->buffer.at[store->attr[TC__STORE_BUFFER]];
    tc__ix at = store->attr[TC__STORE_INDEX];
    tc__ixrun along = tc__ix_run(g->body.ix, at, TC__COL),
              down = tc__ix_run(g->body.ix, at, TC__ROW);
    int within = down.run == INT64_MAX || (m < INT64_MAX && m && down.run % m == 0);
    if (!tc__is_memory(to) || to->dtype != q->dtype || !tc__is_own_class(q->dtype) ||
        tc__ix_has_val(g->body.ix, at) || !along.ok || along.run < INT64_MAX ||
        !tc__ix_equals(along.stride, 1) || !down.ok || !within ||
        !tc__ix_is_const(down.stride))
        return NULL;
    return store;
}
