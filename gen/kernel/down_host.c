// Sums down the columns on the host (down.c). A column is a reduction of its rows, and has the order of all of them
// (gen/README.md): row r is of logical lane r % 32, and 8192 rows are a chunk. So a work item is a lane of a chunk: its rows
// go by one after the other, and what they sum of each column is kept in memory of the item. Items behind those of the rows
// are columns, which the launch begins when all rows are done: they combine the lanes of each chunk, and then the chunks.
//
//     items 0..31       rows 0, 32, 64, ..; 1, 33, 65, ..; ..      of the first chunk
//     items 32..63      the same of the second one
//     items 64..64      1024 columns each
//
// Nothing of it depends on the number of threads, and bits are those of two kernels. Rows that lie beside each other are of
// different items: who has several items takes the next row of each in turn, as many as the first cache holds the sums of.
//
// Of the processor time of two kernels a layer norm and all its gradients take 0.6 for 4096 x 768, 0.4 for 4096 x 4096, for
// 64 x 768 as much (Zen 5, one thread; bench/peers, layernorm_grad).

enum {
    TC__DOWN_ROWS = 64, // from here on: what lanes keep is half of what is read, and less
    TC__DOWN_BYTES = 4 << 20,  // of the sums of a chunk, at most
    TC__DOWN_CACHE = 16 << 10, // of the sums of items whose rows go by together
    TC__DOWN_LONG = 2 << 10,   // bytes of a row that is long enough to wait for it
    TC__DOWN_FAR = 4 << 20     // bytes of rows that are in no cache of a core
};

// The items that are columns; those that are rows are shape.items.
static tc__ix tc__down_column_items(const tc__group *k) {
    return tc__ix_ceil_div(k->body.ix, k->shape.cols, tc__ix_const(TC__COL_GRAIN));
}

// Elements of all items' sums of one accumulator.
static tc__ix tc__down_numel(const tc__group *k) {
    return tc__ix_mul(k->body.ix, k->shape.items, tc__down_stride(k));
}

// Bytes of all sums of a launch.
static tc__ix tc__down_bytes(const tc__group *k) {
    int64_t width = tc__down_width(k, (uint32_t)k->body.node.count);
    return tc__ix_mul(k->body.ix, tc__down_numel(k), tc__ix_const(width));
}

// Items whose rows go by together, a power of two.
static int64_t tc__down_together(const tc__group *k) {
    int64_t bytes = tc__ix_times(tc__ix_hi(k->body.ix, tc__down_stride(k)),
                                 tc__down_width(k, (uint32_t)k->body.node.count));
    int64_t n = TC__LANES;
    while (n > 1 && tc__ix_times(n, bytes) > TC__DOWN_CACHE) n /= 2;
    return n;
}

// Whether rows end within lines of the cache, so that their stores wait for memory, and what is stored of sums waits behind
// them: where rows are short, and known to lie in memory. 20000 x 100 take 1.6 times as long so, 20000 x 128 0.7.
static int tc__down_waits(const tc__group *k) {
    tc__ixpool *x = k->body.ix;
    int64_t columns = tc__ix_hi(x, k->shape.cols), width = tc__down_width(k, 1);
    if (tc__ix_divisor(x, k->shape.cols) * width % TC__TURN_LINE == 0) return 0;
    int64_t bytes = tc__ix_times(columns, width);
    return bytes < TC__DOWN_LONG && tc__ix_is_const(k->shape.rows) &&
           tc__ix_times(bytes, tc__ix_hi(x, k->shape.rows)) > TC__DOWN_FAR;
}

// Whether the host has it: takes_down of tc__dialect.
static int tc__c_takes_down(const tc__group *k) {
    tc__ixpool *x = k->body.ix;
    int64_t width = tc__down_width(k, (uint32_t)k->body.node.count);
    int64_t columns = tc__ix_hi(x, tc__down_stride(k));
    if (tc__count_op(k, TC_OP_NEW) > TC__PRINT_ACCS) return 0;
    if (tc__ix_hi(x, k->shape.rows) < TC__DOWN_ROWS) return 0;
    return tc__ix_times(columns, TC__LANES * width) <= TC__DOWN_BYTES && !tc__down_waits(k);
}

// A list that it has: its items, and the scratch of its rows.
static void tc__down_lay_out(tc__group *k) {
    tc__ixpool *x = k->body.ix;
    k->shape.items = tc__ix_mul(x, tc__ix_const(TC__LANES),
                                tc__ix_ceil_div(x, k->shape.rows, tc__ix_const(TC__CHUNK)));
    k->shape.grain = TC__COL_GRAIN;
    tc__place_rows(k);
}
