// The kernel of a contraction in C: its areas of scratch, the loop over items, the tile of each, and the epilogue
// that reads the tile row by row. What makes the tile is in print_matmul.c and print_windows.c.

// Its sizes and scratch, by their names.
static void tc__print_areas(tc__printer *p, const tc__contract *q) {
    tc__let_ix(p, "depth", q->depth);
    tc__let_ix(p, "wide", q->wide_padded);
    if (!q->turns && !q->lies && !q->rows_lie)
        tc__let_scratch(p, q, q->slots > 1 ? "kept" : "pack", q->pack_at);
    tc__let_scratch(p, q, "tile", q->tile_at);
    if (q->slice) tc__let_ix(p, "slice", tc__ix_const(q->slice));
    if (q->left_nodes) tc__let_scratch(p, q, "left", q->left_at);
    if (q->staged) tc__let_scratch(p, q, "stage", q->stage_at);
    if (q->dot.thirds) tc__let_scratch(p, q, "chunk", q->chunk_at);
    if (q->dot.bias && !q->turns) tc__let_scratch(p, q, "bias", q->bias_at);
    if (q->flip || q->dot.turned || q->dot.thirds || q->right == TC__RIGHT_WINDOWS)
        tc__let_scratch(p, q, "flip", q->flip_at);
    if (q->right != TC__RIGHT_WINDOWS) return;
    tc__let_scratch(p, q, "table", q->table_at);
    tc__let_scratch(p, q, "edge", q->edge_at);
    tc__let_tables(p);
}

// Which panels the worker's scratch has from pieces before: none, in the first of a launch.
static void tc__print_kept(tc__printer *p) {
    tc__line(p);
    tc__put(p->out, "tc_i64 *const packed = tc_packed(a, worker);\n");
}

// The rows of an item, from that of its batch on.
static void tc__print_item_rows(tc__printer *p, int64_t grain) {
    tc__line(p);
    tc__put(p->out,
            "const tc_i64 r0 = first + item %% row_blocks * %lld, r1 = tc_min(r0 + %lld, "
            "first + rows);\n",
            (long long)grain, (long long)grain);
}

// Items of the same columns follow each other.
static void tc__print_panels_item(tc__printer *p, const tc__contract *q) {
    tc__line(p);
    tc__put(p->out,
            "const tc_i64 panels = item / row_blocks;  // batch and block of columns\n");
    tc__line(p);
    tc__put(p->out, "const tc_i64 first = panels / col_blocks * rows;\n");
    tc__print_item_rows(p, q->grain);
}

static void tc__print_item_head(tc__printer *p, const tc__contract *q) {
    tc__let_ix(p, "row_blocks", q->row_blocks);
    tc__let_ix(p, "col_blocks", q->col_blocks);
    tc__let_ix(p, "rows", q->m);
    tc__print_areas(p, q);
    if (!q->flip && !q->turns && !q->late && !q->tall && !q->lies &&
        (!q->dot.thirds || q->thirds_stay))
        tc__print_kept(p); // flipped panels are of the item
    tc__print_tiles_open(p, q->dot.tiles);
    tc__line(p);
    tc__put(p->out, "for (tc_i64 item = lo; item < hi; item++)");
    tc__block_open(p);
    if (q->right == TC__RIGHT_WINDOWS)
        tc__print_windows_item(p, q);
    else
        tc__print_panels_item(p, q);
    tc__line(p);
    tc__put(p->out, "const tc_i64 c0 = %s %% col_blocks * ",
            q->right == TC__RIGHT_WINDOWS ? "item" : "panels");
    tc__put_atom(p, q->wide, 0);
    tc__put(p->out, ", c1 = tc_min(c0 + ");
    tc__put_atom(p, q->wide, 0);
    tc__put(p->out, ", ");
    tc__put_ix(p, p->g->shape.cols);
    tc__put(p->out, ");\n");
    if (q->slots < 2) return;
    tc__line(p);
    tc__put(p->out, "const tc_i64 slot = panels %% %d;\n", q->slots);
    tc__line(p);
    tc__put(p->out, "%s *pack = kept + slot * ", p->d->scalar[tc__operand_class(q)]);
    tc__put_atom(p, q->slot_size, 0);
    tc__put(p->out, ";\n");
}

// The tile of an item's rows and columns.
static void tc__print_tile(tc__printer *p, const tc__contract *q, const char *symbol) {
    if (q->right == TC__RIGHT_WINDOWS) {
        tc__print_windows(p, q, symbol);
        return;
    }
    if (q->turns) {
        tc__print_turned(p, q, symbol);
        return;
    }
    if (q->dot.thirds) {
        tc__print_thirds(p, q, symbol);
        return;
    }
    if (q->dot.turned) {
        tc__print_tiles_turned(p, q, symbol);
        return;
    }
    if (q->direct) tc__print_direct_base(p, q);
    if (!q->flip && !q->late && !q->tall && !q->lies) tc__print_packed(p, q);
    if (q->left_nodes && !q->left_rows) tc__print_left(p, q);
    if (q->late) {
        tc__print_late(p, q, symbol);
        return;
    }
    if (q->slice) tc__print_slices(p);
    if (q->left_rows) tc__print_left_rows(p, q);
    if (q->flip)
        tc__print_flipped(p, q, symbol);
    else
        tc__print_blocks(p, q, symbol);
    if (q->slice) tc__block_close(p);
}

// The loop over an item's rows. Of a product whose whole blocks lie in the result, the columns behind those.
static void tc__print_item_loop(tc__printer *p) {
    uint32_t loop = tc__contract_rows_loop(p);
    p->d->loop(p, tc__body(p, loop), loop + 1, tc__loop_end(p->g, loop));
}

static void tc__print_contract(tc__printer *p, const char *symbol) {
    tc__contract q = tc__contract_plan(p->g);
    tc__print_item_head(p, &q);
    tc__print_tile(p, &q, symbol);
    p->parts = !tc__ix_equals(q.col_blocks, 1);
    p->part_step = tc__ix_is_const(q.wide) ? tc__ix_value(q.wide) : 1;
    if (q.direct) p->parts = 1, p->part_step = q.width, p->direct = &q;
    if (!q.direct || !tc__direct_rows(&q) || !tc__direct_columns(&q))
        tc__print_item_loop(p);
    p->parts = 0, p->direct = NULL;
    tc__block_close(p);
    tc__print_tiles_close(p, q.dot.tiles);
}
