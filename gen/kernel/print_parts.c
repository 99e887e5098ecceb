// Lists of several parts (part.c) in C. An item is a block of rows of one batch. Part after part goes over
// them: a contraction makes its tile first, as if it were alone, with panels of its own that a worker packs once for
// each batch; what a part makes for a later one is a row for each of the item's rows in scratch.

enum { TC__PARTS_SYMBOL = 80 };

// The block function of a part has a name of its own.
static void tc__part_symbol(const tc__contract *q, const char *symbol,
                            char out[TC__PARTS_SYMBOL]) {
    snprintf(out, TC__PARTS_SYMBOL, q->number ? "%s_part%d" : "%s", symbol, q->number);
}

// The functions of all contractions of the kernel, before it.
static void tc__print_contract_blocks(tc__printer *p, const char *symbol) {
    tc__group part[TC__LIST_PARTS];
    tc__contract q[TC__LIST_PARTS];
    const tc__group *whole = p->g;
    char own[TC__PARTS_SYMBOL];
    int n = tc__contract_plans(whole, q, part);
    for (int i = 0; i < n; i++) {
        p->g = q[i].g;
        tc__part_symbol(&q[i], symbol, own);
        if (q[i].turns)
            tc__print_turned_block(p, &q[i], own);
        else
            tc__print_contract_block(p, &q[i], own);
    }
    p->g = whole;
}

// What is of all parts, and the head of the loop over items.
static void tc__print_parts_head(tc__printer *p, const tc__contract *q, int n) {
    tc__let_ix(p, "row_blocks", q->row_blocks);
    tc__let_ix(p, "rows", q->m);
    int flipped = 0, tiles = 0;
    for (int i = 0; i < n; i++) flipped += q[i].flip, tiles += q[i].dot.tiles;
    if (flipped < n) tc__print_kept(p);
    tc__print_tiles_open(p, tiles);
    tc__line(p);
    tc__put(p->out, "for (tc_i64 item = lo; item < hi; item++)");
    tc__block_open(p);
    tc__line(p);
    tc__put(p->out, "const tc_i64 panels = item / row_blocks;  // batch\n");
    tc__line(p);
    tc__put(p->out, "const tc_i64 first = panels * rows;\n");
    tc__print_item_rows(p, q->grain);
}

static void tc__print_part_product(tc__printer *p, const tc__contract *q,
                                   const char *symbol) {
    char own[TC__PARTS_SYMBOL];
    tc__part_symbol(q, symbol, own);
    tc__line(p);
    tc__put(p->out, "const tc_i64 c0 = 0;\n");
    tc__let_ix(p, "c1", p->g->shape.cols);
    tc__print_areas(p, q);
    tc__print_tile(p, q, own);
}

// The kernel of a list of several parts.
static void tc__print_parts(tc__printer *p, const char *symbol) {
    tc__group part[TC__LIST_PARTS];
    tc__contract q[TC__LIST_PARTS];
    const tc__group *whole = p->g;
    int parts = tc__parts_of_list(whole, part), at = 0, tiles = 0;
    tc__print_parts_head(p, q, tc__contract_plans(whole, q, part));
    for (int i = 0; i < parts; i++) {
        p->g = &part[i];
        tc__line(p);
        tc__put(p->out, "{\n");
        p->indent++;
        if (part[i].shape.kind == TC__CONTRACTION) {
            tiles += q[at].dot.tiles;
            tc__print_part_product(p, &q[at++], symbol);
        }
        tc__print_item_loop(p);
        tc__block_close(p);
    }
    p->g = whole;
    tc__block_close(p);
    tc__print_tiles_close(p, tiles);
}

// ---- which joints pay ----
//
// Products with reductions between, as attention: nothing of the size of the scores is in memory. On a Zen 4, of the
// time of separate kernels: 8x12 heads of 128 rows 0.81, 12 of 1024 0.80, 4 of 1024 x 4096 0.87, 2 of 256 x
// 16384 0.80. What is refused was slower so: vectors of 8 for all parts where one of them takes no 16 (what has i64)
// 1.1 to 1.2, large weights that each worker packs (512x768x768 and a norm) 1.05.
//
// A size of run time without a bound is taken for a usual one: 8x12 heads of 128 rows 0.7, 12 of 512 0.7, 32 of 20 rows
// x 100 0.95, 128 of 4 x 2000 0.9; what loses is a single head of 65536 columns and more, 1.4. Who knows better tells
// tc_mark_dynamic.

enum {
    TC__JOINT_LONG = 1 << 14, // columns that are made at most
    TC__JOINT_PANELS =
        4
        << 20, // bytes of the right operand of a product of a batch at most: a worker packs it all,
    TC__JOINT_ALONE = 1 << 20,   //   and of one without batches
    TC__JOINT_ITEMS = 16,        // at least: blocks of columns are none
    TC__JOINT_UNKNOWN = 1 << 30, // no bound of a size of run time,
    TC__JOINT_USUAL = 1024       //   which then is this
};

// The most that e is, or what is usual where nothing is known.
static int64_t tc__joint_size(const tc__ixpool *x, tc__ix e) {
    int64_t most = tc__ix_hi(x, e);
    return tc__ix_is_const(e) || most < TC__JOINT_UNKNOWN ? most : (int64_t)TC__JOINT_USUAL;
}

// Whether the right operand of the product that g ends with is small enough.
static int tc__joint_packs(const tc__group *g) {
    tc__ixpool *x = g->body.ix;
    int64_t most = tc__ix_equals(g->shape.batch, 1) ? TC__JOINT_ALONE : TC__JOINT_PANELS;
    int64_t bytes = tc__dtypes[tc__contract_of(g)->dtype].bytes;
    bytes = tc__ix_times(tc__joint_size(x, g->shape.cols), bytes);
    return tc__ix_times(bytes, tc__joint_size(x, tc__depth_of(g))) <= most;
}

// Whether part g would alone have vectors of 16 elements.
static int tc__part_takes_16(const tc__group *g) {
    return !tc__is_flat_product(g) &&
           tc__nodes_take_16(g, g->shape.prologue, TC__EMIT_AVX512, NULL);
}

static int tc__joint_is_short(const tc__group *g) {
    for (size_t i = 0; i < g->buffer.count; i++)
        if (g->buffer.at[i].place == TC__BUF_MADE &&
            tc__joint_size(g->body.ix, g->buffer.at[i].numel) > TC__JOINT_LONG)
            return 0;
    return 1;
}

static int tc__joint_has_items(const tc__group *g) {
    tc__ixpool *x = g->body.ix;
    int64_t m = tc__ix_hi(x, tc__ix_div(x, g->shape.rows, g->shape.batch));
    return tc__ix_hi(x, g->shape.rows) / tc__contract_grain(g, m, 0) >= TC__JOINT_ITEMS;
}

// Whether the host has the kernel.
static tc__takes tc__c_takes_rows(const tc__group *g) {
    tc__group part[TC__LIST_PARTS];
    int n = tc__parts_of_list(g, part);
    if (part[0].shape.kind != TC__CONTRACTION || part[1].shape.kind != TC__REDUCTION)
        return TC__TAKES_NOT;
    for (int i = 0; i < n; i++) {
        if (tc__part_takes_16(&part[i]) != tc__part_takes_16(part)) return TC__TAKES_NOT;
        if (part[i].shape.kind == TC__CONTRACTION && !tc__joint_packs(&part[i]))
            return TC__TAKES_NOT;
    }
    int pays = tc__joint_is_short(g) && tc__joint_has_items(g) &&
               tc__count_op(g, TC_OP_NEW) <= TC__PRINT_ACCS;
    return pays ? TC__TAKES : TC__TAKES_NOT;
}
