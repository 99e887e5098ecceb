// How the host goes through contractions: the block of sums in registers, whether operands are packed or read in
// place, what an item is, where its scratch lies. print_matmul.c writes it as text.
//
// A work item is a block of `grain` rows and a block of `wide` columns of one batch; items
// of the same columns follow each other, so a worker packs each panel once. A long depth is
// gone through in slices, whose panels stay in the L2: the tile is read again and added to, in
// the same order. Of the gradients of weights, 128 to 512 rows and columns
// with a depth of 2048, that takes 0.55 to 0.7 of the time (Zen 5).
// Of a longer depth, whose slices would not all stay there, an item has up to 256 rows (`tall`). Blocks read a panel's slice where it
// lies in memory (`lies`), or it is packed when they use it: 128 x 512 with a depth of 4096, turned, take 0.88 of the time.
// A loop keeps what its products packed of weights that no turn changes (`slots`, exec/kept.c).
// The other way round where few rows meet weights [k, columns] that do not stay in a cache: slices of a few k are
// read in place as they lie in memory, all columns of the item, and each adds to the tile, which stays. So are halves.
// And where the right operand is windows of an image, many columns of them (convolutions): nothing of it is packed.
// What an element's place adds for k is a table, what it adds for the column a pointer, so columns are read in place,
// a scalar at a time, and the rows, weights, are the panels: packed once by a worker, for all columns and batches.
// Columns near the image's border, where a predicate could fail, are copied first.
// With vectors of 16 a block is 6 columns and 4 vectors of rows, its panels' slice is in the L2, and an item has more
// columns where all panels are larger than that: 256 filters over 256x28x28 take 0.8 of the time that 8 x 2 with slices
// in the L1 take (Xeon).
// Of few columns (the last layers of a network, where weights are larger than images) an item has all, and some of
// the rows: it packs them slice by slice, once, while the slice behind it comes from memory, and a worker copies what
// the border cuts once for all its rows. 512 filters 3x3 over 512x7x7 take 0.8 of the multiplications that way that
// packing windows by vectors takes, which are 64 columns, not 49.
// So are weights [columns, k] of a linear layer read for 33 to 256 rows: packing them would cost a tenth of the
// multiplications, and wait for memory; here each block asks for its columns' next slice.
// Four rows and fewer of weights [columns, k], with vectors of 16 eight, turn them in registers (print_turned.c): nothing of
// them is packed. Up to 48 rows of halves and narrow integers pack a slice of a panel when all rows use it (`late`), so it stays
// in the L1; halves are widened in the block. With all slices of an item packed before, 16 rows of bf16 took 1.6 times as long,
// 32 of bytes 1.5 times (Zen 5).
// Narrow integers are multiplied several k at a time (dots.c): their depth is counted in words.
// Where nothing is computed of sums but where they go, whole blocks lie in the result at once, not in the tile.
// tc__contract_items says so to the group: it sets grain, items and scratch.

typedef enum tc__right {
    TC__RIGHT_NODES,    // evaluated by their nodes, a vector of columns at a time
    TC__RIGHT_COLUMNS,  // plain loads, k moves by a constant: pointers to columns
    TC__RIGHT_IN_PLACE, // plain loads of adjacent columns, used too rarely to pack
    TC__RIGHT_WINDOWS   // one load, whose place is a sum of what column and k say
} tc__right;

enum {
    TC__CONTRACT_GRAIN = 48,            // rows of an item
    TC__CONTRACT_TILES_GRAIN = 64,      //   whose sums are in AMX's tiles,
    TC__CONTRACT_TILES_TURN = 256,      //   of columns by at most so many rows,
    TC__CONTRACT_TILES_SLICE = 128,     //   in slices of so many words,
    TC__CONTRACT_TILES_WORDS = 1 << 18, //   of so many words,
    TC__CONTRACT_TILES_SUMS = 1 << 13,  //   and so many sums of an item
    TC__THIRDS_ROWS = 64,               // of f32 by tiles, rows at least,
    TC__THIRDS_DEEP = 128,              //   k
    TC__THIRDS_COLUMNS = 128,           //   and columns,
    TC__THIRDS_TALL = 384,              //   rows of an item,
    TC__THIRDS_WIDE = 512,              //   its columns at most,
    TC__THIRDS_NARROW = 64,             //   and at least,
    TC__THIRDS_SUMS = 1 << 18,          //   both, where rows are whole,
    TC__THIRDS_SLICE = 192,             //   k of a slice
    TC__THIRDS_STAY = 1 << 21,          //   words of panels that stay
    TC__CONTRACT_FLIP = 32,             // most rows of a flipped panel
    TC__CONTRACT_IN_PLACE = 12,         // up to here the right operand is not packed
    TC__CONTRACT_LATE_ROWS = 48,  // most rows of panels that are packed when they are used,
    TC__CONTRACT_LATE_ITEMS = 8,  //   items of a thread,
    TC__CONTRACT_LATE_SLICE = 64, //   in slices of so many words
    TC__CONTRACT_STAGE = 128,     // k of columns that are evaluated along it
    TC__CONTRACT_PANELS = 1 << 18, // bytes of packed panels of an item, about half an L2
    TC__CONTRACT_ALL_PANELS = 1 << 20, //   and of all slices, with vectors of 16
    TC__CONTRACT_STREAM = 32, // most rows of a product that streams the right operand,
    TC__CONTRACT_STREAM_BYTES = 1 << 19, //   which has at least so many bytes,
    TC__CONTRACT_STREAM_SLICE = 16,      //   its slice of the depth
    TC__CONTRACT_STREAM_WIDE = 2048,     //   and most columns of an item,
    TC__CONTRACT_STREAM_ITEMS = 2,       //   of which each thread has so many
    TC__CONTRACT_SLICE = 256,            // of a long depth,
    TC__CONTRACT_LONG = 640,             //   which is longer than that
    TC__CONTRACT_SLICE_ROWS = 96,        //   rows of an item then at most,
    TC__CONTRACT_SLICE_UNIT = 24,        //   whole blocks and vectors,
    TC__CONTRACT_SLICE_LEAST = 32,       //   and at least,
    TC__CONTRACT_SLICE_ITEMS = 4,        //   for so many items of the same columns
    TC__CONTRACT_TALL = 256,             //   most rows of a tall item,
    TC__CONTRACT_TALL_COLUMNS = 512,     //   its columns,
    TC__CONTRACT_TALL_WIDTH = 256,       //   where so many would be too many for an L2
    TC__CONTRACT_PAGE = 4096,            //   what sets of an L1 repeat after
    TC__CONTRACT_PANEL_ROWS =
        64,                // most rows of an item where the right operand lies in panels
    TC__CONTRACT_KEPT = 7, // panels that a loop keeps at most: marks of a worker,
    TC__CONTRACT_KEPT_BYTES = 1 << 20, //   and their bytes,
    TC__CONTRACT_ROWS = 4,             //   rows at least that a thread has of a product,
    TC__CONTRACT_ROWS_COLUMNS = 2048,  //   and columns at most, where items have them all
    TC__CONTRACT_ALONE = 1 << 18,      // multiplications that are worth a thread
    TC__CONTRACT_WINDOW_PANEL =
        20480, //   most bytes of a panel's slice, of an L1 that windows share,
    TC__CONTRACT_WINDOW_PANEL_WIDE = 1 << 16, //   half an L2's with vectors of 16,
    TC__CONTRACT_WINDOW_TILE = 1 << 13,       //   sums of an item,
    TC__CONTRACT_WINDOW_FAR = 1 << 15, //   and where its panels do not stay in an L2,
    TC__CONTRACT_WINDOW_ITEMS = 4,     //   of which each thread has so many,
    TC__CONTRACT_WINDOW_ROWS = 64,     //   and so many rows at most, where windows are few
    TC__CONTRACT_WINDOW_SHARE = 8, // columns for a row, from which on items have all rows
    TC__CONTRACT_MADE = 1 << 18,   // bytes of rows that its parts make for each other,
    TC__CONTRACT_MADE_ROWS = 12    //   but so many rows in any case
};

typedef struct tc__contract {
    const tc__group *g;
    int dtype;
    tc__class cls;
    int flip, left_nodes, phases;
    int turns; // columns that lie apart are turned in registers, two vectors of them
    int left_rows; // left_nodes, a vector of rows at a time: they lie beside each other, k far apart
    int apart;     // the right operand is packed by what column and k say
    int64_t slice; // of the depth; 0 = all of it at once
    int streams;   // slices of the right operand are read in place
    int adjacent;  // the LOAD of halves that are, and widened then, + 1
    const tc__node
        *direct; // the STORE of the sums, for blocks that lie in the result; else NULL
    int lanes;   // of a vector
    tc__right right;
    int rows, width;          // of the block in registers
    int64_t grain;            // rows of an item
    tc__ix wide, wide_padded; // columns of an item,
    int64_t wide_most;        //   of windows: at most
    tc__ix m, row_blocks, col_blocks, depth;
    tc__ix pack_at, left_at, tile_at, flip_at, bytes; // worker scratch, to its end
    tc__ix table_at, edge_at;                         //   of windows,
    int panel;        // columns of a panel that the right operand lies in; 0 = it does not
    int rows_lie;     // windows, whose rows lie in memory as panels
    int few;          // windows, of which an item has all: `slice` is packed at a time
    int64_t period;   // whose predicates are the same after so many k
    int number;       // of the part, where there are several; else 0
    tc__dot_plan dot; // of narrow values: what depth, slices and rows count is words then
    tc__ix bias_at;
    int split; // the LOAD of weights [columns, k] that have two k, or words of dots, in 32 bits, + 1
    int late;         // a slice of a panel is packed when it is used, for all rows
    int tall;         //   for the rows of an item, of which there are many,
    int lies;         //   or read there in memory
    int all_columns;  // an item has some rows, and each turn of a loop has its thread's
    int slots;        // blocks of panels that a loop keeps; 0 = one, of a launch
    tc__ix slot_size; //   elements of one
    int thirds_rows;  // of f32 by tiles, the left operand is evaluated by vectors of rows,
    int thirds_lies;  //   panels are read where they lie,
    int thirds_stay;  //   their words stay for the rows behind
    tc__ix chunk_at;  //   other pieces of operands in f32
    int staged; // the right operand is evaluated along k, for so many of them at a time
    tc__ix stage_at;
} tc__contract;

static tc__ix tc__round_up(tc__ixpool *x, tc__ix e, int64_t to) {
    return tc__ix_mul(x, tc__ix_ceil_div(x, e, tc__ix_const(to)), tc__ix_const(to));
}

static int64_t tc__padded(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

// What a knob makes of a number.
static int64_t tc__knob_size(const tc__group *g, tc__knob k, int64_t n) {
    int to = g->shape.tuning.knob[k];
    return to == TC__SIZE_HALF ? n / 2 : to == TC__SIZE_TWICE ? n * 2 : n;
}

static int tc__contract_is_wide(const tc__contract *q) {
    return q->cls == TC__CLASS_f64 || q->cls == TC__CLASS_i64;
}

// Whether a vector of 8-byte elements is as long as one of 4-byte ones: two registers but with AVX-512.
static int tc__contract_is_pair(const tc__contract *q) {
    return tc__contract_is_wide(q) && q->lanes >= (int)TC__VECTOR;
}

// Whether vectors have 16 elements, and 32 registers hold them.
static int tc__contract_has_32(const tc__contract *q) {
    return q->lanes > (int)TC__VECTOR && !tc__contract_is_pair(q);
}

// ---- windows ----

// Vectors of rows in a block: as few rows too many as there can be. Columns for the registers that are left.
static void tc__window_block(tc__contract *q, int64_t m, int most) {
    int has_32 = tc__contract_has_32(q), vectors = m <= q->lanes ? 1 : 2;
    for (int v = 3; v <= 4 && m > q->lanes; v++) {
        int64_t rows = tc__padded(m, v * q->lanes),
                best = tc__padded(m, vectors * q->lanes);
        if (rows < best || (has_32 && rows == best)) vectors = v;
    }
    q->width = vectors * q->lanes;
    q->rows = vectors == 1 ? most : (has_32 ? 2 * most : most) / vectors;
    if (!q->few) return;
    int64_t cols = tc__ix_value(q->g->shape.cols), best = q->rows;
    for (int64_t rows = best; rows >= q->rows - q->rows / 4; rows--)
        if (tc__padded(cols, rows) < tc__padded(cols, best)) best = rows;
    q->rows = (int)best;
}

// The same for few windows: the rows of an item, and a slice of the depth whose panels stay in the L1.
static void tc__few_windows_sizes(tc__contract *q, int64_t m) {
    int64_t bytes = (int64_t)tc__dtypes[q->dtype].bytes, depth = tc__ix_value(q->depth);
    int threads = q->g->target.threads < 2 ? 2 : q->g->target.threads;
    int64_t share = m / ((int64_t)threads * TC__CONTRACT_WINDOW_ITEMS);
    int64_t most = TC__CONTRACT_WINDOW_ROWS;
    if (most > share) most = share;
    q->grain = most < q->width ? q->width : most / q->width * q->width;
    if (q->grain > m) q->grain = m;
    int64_t panel = (tc__contract_has_32(q) + 1) * (int64_t)TC__CONTRACT_WINDOW_PANEL;
    int64_t slice = panel / (tc__padded(q->grain, q->width) * bytes);
    int64_t slices = (depth + slice - 1) / slice;
    q->slice = tc__padded((depth + slices - 1) / slices, 8);
    q->period = tc__windows_period(q->g);
    q->wide = q->g->shape.cols, q->wide_most = tc__ix_value(q->wide);
}

// Columns of which items begin at multiples: of whole blocks, and of vectors, as what reads beside the product takes them to.
static int64_t tc__contract_step(const tc__contract *q) {
    return q->rows / tc__ix_gcd(q->rows, q->lanes) * q->lanes;
}

// Columns of an item of windows, `most` or fewer, which are equal pieces where it is known how many there are.
static void tc__window_wide(tc__contract *q, int64_t most) {
    tc__ixpool *x = q->g->body.ix;
    tc__ix cols = q->g->shape.cols, all = cols;
    int threads = q->g->target.threads < 2 ? 2 : q->g->target.threads;
    int64_t items = (int64_t)threads * TC__CONTRACT_WINDOW_ITEMS;
    int64_t batches = tc__ix_lo(x, q->g->shape.batch);
    int64_t step = tc__contract_step(q);
    if (batches < INT32_MAX) all = tc__ix_mul(x, cols, tc__ix_const(batches));
    if (!tc__ix_is_const(cols)) {
        q->wide_most = most < step ? step : most / step * step;
        int64_t m = tc__ix_value(q->m), row_blocks = (m + q->grain - 1) / q->grain;
        all = tc__ix_mul(x, all, tc__ix_const(row_blocks));
        tc__ix blocks = tc__ix_div(x, all, tc__ix_const(items * step));
        tc__ix share = tc__ix_add(x, tc__ix_const(1), blocks);
        share = tc__ix_mul(x, share, tc__ix_const(step));
        q->wide = tc__ix_min(x, tc__ix_const(q->wide_most), share);
        return;
    }
    int64_t n = tc__ix_value(cols), share = tc__ix_value(all) / items;
    if (most > share) most = share;
    if (most < step) most = step;
    int64_t pieces = (n + most - 1) / most, wide = (n + pieces - 1) / pieces;
    wide = tc__padded(wide, step);
    q->wide_most = wide < n ? wide : n;
    q->wide = tc__ix_const(q->wide_most);
}

// Whether LOAD `id` reads panels: `width` elements along an axis beside each other, the next k's behind them.
static int tc__lies_in_panels(const tc__group *g, uint32_t id, tc__axis axis, int width) {
    tc__ix at = g->body.node.at[id]->attr[TC__LOAD_INDEX];
    return tc__ix_equals(tc__ix_run(g->body.ix, at, TC__DEPTH).stride, width) &&
           tc__access_along(g, at, axis, width) == TC__CONTIGUOUS;
}

// Whether rows of windows lie as panels would be packed.
static int tc__contract_rows_lie(const tc__contract *q) {
    const tc__group *g = q->g;
    if (q->right != TC__RIGHT_WINDOWS || tc__ix_value(q->m) % q->width) return 0;
    return tc__lies_in_panels(g, tc__left_of(g), TC__ROW, q->width);
}

// Rows of an item: each thread packs some, unless there are so many columns, which each item reads for its rows, that packing
// is nothing to that: 128 rows by 50304 columns of 768 take 0.94 of the time of two items of 64 rows. Where nobody packs them
// there are enough items for all.
static void tc__window_share(tc__contract *q, int64_t m) {
    int threads = q->g->target.threads < 2 ? 2 : q->g->target.threads;
    if (q->few || !tc__ix_is_const(q->g->shape.cols) || !tc__ix_is_const(q->g->shape.batch))
        return;
    int64_t cols = tc__ix_value(q->g->shape.cols), panels = (m + q->width - 1) / q->width,
            pieces = (cols + q->wide_most - 1) / q->wide_most,
            others = tc__ix_times(pieces, tc__ix_value(q->g->shape.batch)),
            items = 2 * (int64_t)threads * TC__CONTRACT_WINDOW_ITEMS,
            blocks = q->rows_lie && others ? (items + others - 1) / others : threads;
    if (!q->rows_lie && cols / TC__CONTRACT_WINDOW_SHARE > m) return;
    if (blocks > panels) blocks = panels;
    int64_t share = (panels + blocks - 1) / blocks * q->width;
    if (share < q->grain) q->grain = share;
}

// Slices of the depth, rows and columns of an item.
static void tc__window_sizes(tc__contract *q, int64_t m) {
    q->rows_lie = tc__contract_rows_lie(q);
    if (q->few) {
        tc__few_windows_sizes(q, m);
        return;
    }
    int64_t bytes = (int64_t)tc__dtypes[q->dtype].bytes, depth = tc__ix_value(q->depth);
    int64_t panel =
        tc__contract_has_32(q) ? TC__CONTRACT_WINDOW_PANEL_WIDE : TC__CONTRACT_WINDOW_PANEL;
    int64_t slice = panel / (q->width * bytes);
    int64_t slices = (depth + slice - 1) / slice;
    q->period = tc__windows_period(q->g);
    q->slice = slices > 1 ? (depth + slices - 1) / slices : 0;
    int64_t whole = q->period % 4 && tc__contract_has_32(q) ? 4 * q->period : q->period;
    if (q->period < depth) q->slice = tc__padded(q->slice, whole); // of steps, too
    if (q->period > q->slice && q->slice) q->period = q->slice;
    int64_t deep = q->slice ? q->slice : depth;
    int64_t panels = tc__knob_size(q->g, TC__KNOB_PANEL, TC__CONTRACT_PANELS);
    int64_t most = panels / bytes / deep / q->width * q->width;
    if (most < q->width) most = q->width;
    int64_t blocks = (m + most - 1) / most; // of equal size
    q->grain = tc__padded((m + blocks - 1) / blocks, q->width);
    if (q->grain > m) q->grain = m;
    int64_t tall = tc__padded(q->grain, q->width);
    int far = tc__contract_has_32(q) && tall * depth * bytes > TC__CONTRACT_ALL_PANELS;
    tc__window_wide(q, (far ? TC__CONTRACT_WINDOW_FAR : TC__CONTRACT_WINDOW_TILE) / tall);
}
