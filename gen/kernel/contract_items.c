// The plan of a product as a whole (contract.c, contract_plan.c, thirds.c), and of the products of a kernel.

// The product that list g ends with, its scratch from `at` on; its number among a kernel's parts, 0 = it is the only one.
static tc__contract tc__contract_plan_at(const tc__group *g, tc__ix at, int number) {
    tc__contract q;
    tc__ixpool *x = g->body.ix;
    memset(&q, 0, sizeof q);
    q.number = number, q.g = g, q.lanes = tc__group_lanes(g), q.depth = tc__depth_of(g),
    q.dtype = tc__product_dtype(g);
    q.cls = tc__class_of(q.dtype);
    q.m = tc__ix_div(x, g->shape.rows, g->shape.batch);
    q.phases = tc__contract_phases(g);
    int64_t m = tc__ix_is_const(q.m) ? tc__ix_value(q.m) : INT64_MAX;
    q.dot = tc__dot_of(g);
    if (tc__contract_thirds(&q, m)) {
        tc__thirds_plan(&q, m);
        tc__thirds_scratch(&q,
                           at ? at : tc__contract_buffer_at(g, g->buffer.count, q.grain));
        return q;
    }
    q.turns = tc__contract_turns(&q, m);
    q.adjacent = tc__contract_adjacent(&q, m);
    if (q.adjacent) memset(&q.dot, 0, sizeof q.dot), q.dot.each = 1;
    if (q.dot.each > 1) q.depth = tc__ix_ceil_div(x, q.depth, tc__ix_const(q.dot.each));
    if (q.dot.tiles) q.depth = tc__round_up(x, q.depth, TC__DOT_TILE);
    q.dot.turned = tc__tiles_turn(&q);
    q.split = tc__contract_split(&q);
    q.late = tc__contract_is_late(&q, m);
    if (q.dot.split) q.depth = tc__round_up(x, q.depth, 2);
    q.slice = q.turns  ? 0
              : q.late ? TC__CONTRACT_LATE_SLICE << (q.split != 0)
                       : tc__contract_slice(&q, m);
    q.tall = tc__contract_is_tall(&q, m);
    q.panel = tc__contract_panel(&q, m);
    q.grain = q.tall    ? tc__contract_tall_grain(&q, m)
              : q.slice ? tc__contract_slice_grain(&q, m)
                        : tc__contract_grain(g, m, number ? tc__may_tile(g) : q.dot.tiles);
    if (q.dot.turned || q.turns || q.late || q.grain > m) q.grain = m;
    if (q.panel) tc__contract_panel_sizes(&q, m);
    q.left_nodes = !tc__is_plain(g, tc__left_of(g));
    if (tc__has_windows(g, q.lanes)) {
        q.right = TC__RIGHT_WINDOWS, q.few = !tc__has_many_windows(g);
    } else if (q.panel) {
        q.right = TC__RIGHT_NODES;
    } else if (q.turns) {
        q.right = TC__RIGHT_COLUMNS;
    } else if (q.adjacent) {
        q.right = TC__RIGHT_IN_PLACE, q.slice = TC__CONTRACT_STREAM_SLICE, q.streams = 1;
    } else if (tc__is_plain(g, tc__right_of(g))) {
        int adjacent = tc__is_adjacent(g, tc__right_of(g)),
            vectors = tc__contract_along(&q, TC__AT_RIGHT, TC__COL);
        q.flip = !adjacent && !vectors && m <= TC__CONTRACT_FLIP && !g->target.keeps;
        if (!adjacent)
            q.right = vectors ? TC__RIGHT_NODES : TC__RIGHT_COLUMNS;
        else if ((q.streams = tc__contract_streams(&q, m)) != 0)
            q.right = TC__RIGHT_IN_PLACE, q.slice = TC__CONTRACT_STREAM_SLICE;
        else if (m <= TC__CONTRACT_IN_PLACE)
            q.right = TC__RIGHT_IN_PLACE;
    }
    int64_t rows = tc__contract_all_columns(&q, m);
    if (rows) q.grain = rows, q.all_columns = 1;
    tc__contract_block(&q);
    if (q.right == TC__RIGHT_WINDOWS)
        tc__window_sizes(&q, m), tc__window_share(&q, m);
    else
        tc__contract_columns(&q);
    tc__contract_blocks(&q);
    q.lies = tc__contract_lies(&q);
    q.left_rows = tc__contract_left_rows(&q, m);
    q.apart = tc__contract_is_apart(&q);
    q.staged = tc__contract_is_staged(&q);
    q.left_nodes |= q.left_rows;
    if (!number) q.direct = tc__contract_direct(&q, m);
    tc__contract_scratch(&q, at ? at : tc__contract_buffer_at(g, g->buffer.count, q.grain));
    return q;
}

static tc__contract tc__contract_plan(const tc__group *g) {
    return tc__contract_plan_at(g, 0, 0);
}

// The contractions of a list, in order; how many.
static int tc__contract_plans(const tc__group *g, tc__contract q[TC__LIST_PARTS],
                              tc__group part[TC__LIST_PARTS]) {
    int parts = tc__parts_of_list(g, part), n = 0;
    for (int i = 0; i < parts; i++) {
        if (part[i].shape.kind != TC__CONTRACTION) continue;
        q[n] =
            tc__contract_plan_at(&part[i], n ? q[n - 1].bytes : 0, parts > 1 ? i + 1 : 0);
        n++;
    }
    return n;
}

// Sets what the printed kernel of contractions wants: rows of an item, items, worker scratch. One that packs rows of its left
// operand keeps nothing from turn to turn: they are others then.
static void tc__contract_items(tc__group *g) {
    tc__group part[TC__LIST_PARTS];
    tc__contract all[TC__LIST_PARTS], q;
    q = all[tc__contract_plans(g, all, part) - 1];
    if (g->target.keeps && (q.right == TC__RIGHT_WINDOWS || q.dot.turned)) {
        g->target.keeps = 0;
        q = all[tc__contract_plans(g, all, part) - 1];
    }
    for (size_t i = 0; i < g->buffer.count; i++)
        if (!tc__is_memory(&g->buffer.at[i]))
            g->buffer.at[i].offset = tc__contract_buffer_at(g, i, q.grain);
    g->shape.grain = q.grain, g->shape.wide = q.number ? 0 : q.wide;
    g->shape.items = tc__ix_mul(g->body.ix, g->shape.batch,
                                tc__ix_mul(g->body.ix, q.row_blocks, q.col_blocks));
    g->shape.scratch = q.bytes;
}
