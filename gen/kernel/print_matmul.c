// Contractions in C: a template with holes. The product of a block of rows and a block of
// columns is made by a small function that keeps rows x width sums in registers and adds k
// in order, one fma a step; its result lies in a tile, where the epilogue (the rest of the
// LOOP list) reads it row by row while it is warm.
//
//   pack    the right operand, k-major in panels of `width` columns: the nodes of level
//           RIGHT are evaluated there, so casts, predicates and any index cost nothing later
//   left    rows of the left operand in place when k moves by a constant, else evaluated
//   flip    few rows and weights stored [columns, k]: the panel holds the rows, columns are
//           read in place, the tile is transposed at the end; fma(a, b, c) = fma(b, a, c)
//
// A work item is a block of `grain` rows and a block of `wide` columns of one batch; items
// of the same columns follow each other, so a worker packs each panel once.
// tc__contract_items says so to the group: it sets grain, items and scratch.

typedef enum tc__right {
    TC__RIGHT_NODES,   // evaluated by their nodes, a vector of columns at a time
    TC__RIGHT_COLUMNS, // plain loads, k moves by a constant: pointers to columns
    TC__RIGHT_IN_PLACE // plain loads of adjacent columns, used too rarely to pack
} tc__right;

enum {
    TC__CONTRACT_GRAIN = 48,       // rows of an item
    TC__CONTRACT_FLIP = 32,        // most rows of a flipped panel
    TC__CONTRACT_IN_PLACE = 12,    // up to here the right operand is not packed
    TC__CONTRACT_PANELS = 1 << 18, // bytes of packed panels of an item, about half an L2
    TC__CONTRACT_MADE =
        1 << 18, // bytes of rows that its parts make for each other, the same,
    TC__CONTRACT_MADE_ROWS = 12 //   but for so many of them
};

typedef struct tc__contract {
    const tc__group *g;
    int dtype;
    tc__class cls;
    int flip, left_nodes, phases;
    int lanes; // of a vector
    tc__right right;
    int rows, width;          // of the block in registers
    int64_t grain;            // rows of an item
    tc__ix wide, wide_padded; // columns of an item
    tc__ix m, row_blocks, col_blocks, depth;
    tc__ix pack_at, left_at, tile_at, flip_at, bytes; // worker scratch, to its end
    int number; // of the part, where there are several; else 0
} tc__contract;

static tc__ix tc__round_up(tc__ixpool *x, tc__ix e, int64_t to) {
    return tc__ix_mul(x, tc__ix_ceil_div(x, e, tc__ix_const(to)), tc__ix_const(to));
}

// Whether node `id` is a load of the product's own type that can be read through a pointer
// moving by a constant along k.
static int tc__is_plain(const tc__contract *q, uint32_t id) {
    const tc__node *n = q->g->body.node.at[id];
    if (n->op != TC_OP_LOAD || n->n_attr > TC__LOAD_PREDICATES || n->dtype != q->dtype)
        return 0;
    if (!tc__is_own_class(n->dtype) ||
        tc__ix_has_val(q->g->body.ix, n->attr[TC__LOAD_INDEX]))
        return 0;
    tc__ixrun run = tc__ix_run(q->g->body.ix, n->attr[TC__LOAD_INDEX], TC__DEPTH);
    return run.ok && run.run == INT64_MAX && tc__ix_is_const(run.stride);
}

static int tc__is_adjacent(const tc__contract *q, uint32_t id) {
    tc__ixrun run =
        tc__ix_run(q->g->body.ix, q->g->body.node.at[id]->attr[TC__LOAD_INDEX], TC__COL);
    return run.ok && run.run == INT64_MAX && tc__ix_equals(run.stride, 1);
}

static int64_t tc__padded(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

// Blocks that measuring may choose instead: rows, and vectors of columns.
static const struct {
    const char *name;
    uint8_t rows, vectors;
} tc__tiles[] = {{"2x4", 2, 4},   {"3x2", 3, 2},   {"3x4", 3, 4},  {"4x3", 4, 3},
                 {"6x2", 6, 2},   {"6x4", 6, 4},   {"8x2", 8, 2},  {"8x3", 8, 3},
                 {"12x1", 12, 1}, {"12x2", 12, 2}, {"14x2", 14, 2}};

// A block as it was chosen. A flipped one has rows of the panel for columns, which are given.
static void tc__contract_tile(tc__contract *q, int tile) {
    q->rows = tc__tiles[tile].rows;
    if (q->flip) return;
    if (q->grain < q->rows) q->rows = (int)q->grain;
    q->width = tc__tiles[tile].vectors * q->lanes;
}

// What a knob makes of a number.
static int64_t tc__knob_size(const tc__group *g, tc__knob k, int64_t n) {
    int to = g->shape.tuning.knob[k];
    return to == TC__SIZE_HALF ? n / 2 : to == TC__SIZE_TWICE ? n * 2 : n;
}

// Sums in registers: 12 vectors, 6 where an element has 8 bytes and takes two registers.
static void tc__contract_block(tc__contract *q) {
    int pair = q->cls == TC__CLASS_f64 || q->cls == TC__CLASS_i64, most = pair ? 6 : 12;
    int64_t cols = tc__ix_is_const(q->g->shape.cols) ? tc__ix_value(q->g->shape.cols) : 0;
    int tile = q->g->shape.tuning.knob[TC__KNOB_TILE];
    if (q->flip) q->width = (int)tc__padded(q->grain, q->lanes);
    if (tile) {
        tc__contract_tile(q, tile - 1);
        return;
    }
    if (q->flip) {
        q->rows = most / (q->width / q->lanes);
        if (q->rows > 8) q->rows = 8;
        if (q->rows < 2) q->rows = 2;
        return;
    }
    q->rows = pair ? 3 : 6;
    for (int rows = q->rows; rows >= 4 - pair && q->grain < TC__CONTRACT_GRAIN; rows--)
        if (tc__padded(q->grain, rows) < tc__padded(q->grain, q->rows)) q->rows = rows;
    if (q->grain < q->rows) q->rows = (int)q->grain;
    int most_vectors = most / q->rows > 4 ? 4 : most / q->rows, vectors = most_vectors;
    for (int v = most_vectors; v >= 2 && cols; v--)
        if (tc__padded(cols, v * q->lanes) < tc__padded(cols, vectors * q->lanes))
            vectors = v;
    q->width = vectors * q->lanes;
}

static void tc__contract_columns(tc__contract *q) {
    tc__ixpool *x = q->g->body.ix;
    int64_t bytes = tc__dtypes[q->dtype].bytes < 4 ? 4 : tc__dtypes[q->dtype].bytes;
    int64_t depth = tc__ix_is_const(q->depth) ? tc__ix_value(q->depth) : 256;
    int64_t unit = 6 * q->lanes; // a multiple of 1, 2 and 3 vectors
    int64_t panels = tc__knob_size(q->g, TC__KNOB_PANEL, TC__CONTRACT_PANELS);
    if (q->g->shape.tuning.knob[TC__KNOB_TILE] && q->width == 4 * q->lanes) unit *= 2;
    int64_t wide = panels / (bytes * (depth ? depth : 1)) / unit * unit;
    if (wide < 2 * unit) wide = 2 * unit;
    q->wide = tc__ix_const(wide);
    if (q->flip) q->wide = tc__ix_const(tc__padded(wide, q->rows));
    if (q->phases > 1 || tc__ix_hi(x, q->g->shape.cols) <= tc__ix_value(q->wide))
        q->wide = q->g->shape.cols;
    q->wide_padded = tc__round_up(x, q->wide, q->flip ? q->lanes * q->rows : q->width);
    q->col_blocks = q->wide == q->g->shape.cols
                        ? tc__ix_const(1)
                        : tc__ix_ceil_div(x, q->g->shape.cols, q->wide);
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

// Scratch of the product from `at` on.
static void tc__contract_scratch(tc__contract *q, tc__ix at) {
    tc__ixpool *x = q->g->body.ix;
    tc__ix deep = tc__round_up(x, q->depth, q->lanes);
    q->bytes = at;
    int64_t tall = tc__padded(q->grain, q->flip ? q->lanes : q->rows);
    q->pack_at = tc__contract_area(
        q, tc__ix_mul(x, deep, q->flip ? tc__ix_const(q->width) : q->wide_padded));
    q->left_at = tc__contract_area(
        q, q->left_nodes ? tc__ix_mul(x, deep, tc__ix_const(q->grain)) : 0);
    q->tile_at = tc__contract_area(q, tc__ix_mul(x, q->wide_padded, tc__ix_const(tall)));
    q->flip_at = tc__contract_area(
        q, q->flip ? tc__ix_mul(x, q->wide_padded, tc__ix_const(q->width)) : 0);
}

static int tc__contract_phases(const tc__group *g) {
    if (tc__has_parts(g)) return 2;
    for (size_t i = 0; i < g->body.node.count; i++)
        if (g->body.node.at[i]->op == TC_OP_ACC || g->body.node.at[i]->op == TC_OP_COMBINE)
            return 2;
    for (size_t i = 0; i < g->buffer.count; i++)
        if (g->buffer.at[i].place == TC__BUF_ROW) return 2;
    return 1;
}

// Rows of an item of rows of m.
static int64_t tc__contract_grain(const tc__group *g, int64_t m) {
    int64_t most = tc__knob_size(g, TC__KNOB_BLOCK, TC__CONTRACT_GRAIN), made = 0;
    for (size_t i = 0; i < g->buffer.count; i++) {
        const tc__kbuf *b = &g->buffer.at[i];
        if (b->place == TC__BUF_MADE)
            made = tc__ix_clamp(made + tc__ix_times(tc__ix_hi(g->body.ix, b->numel),
                                                    tc__dtypes[b->dtype].bytes));
    }
    while (most > TC__CONTRACT_MADE_ROWS && made > TC__CONTRACT_MADE / most) most /= 2;
    return m < 1 ? 1 : m < most ? m : most;
}

// The product that list g ends with, its scratch from `at` on.
static tc__contract tc__contract_plan_at(const tc__group *g, tc__ix at) {
    tc__contract q;
    tc__ixpool *x = g->body.ix;
    memset(&q, 0, sizeof q);
    q.g = g, q.lanes = tc__group_lanes(g), q.depth = tc__depth_of(g),
    q.dtype = g->body.node.at[tc__left_of(g)]->dtype;
    q.cls = tc__class_of(q.dtype);
    q.m = tc__ix_div(x, g->shape.rows, g->shape.batch);
    q.phases = tc__contract_phases(g);
    int64_t m = tc__ix_is_const(q.m) ? tc__ix_value(q.m) : INT64_MAX;
    q.grain = tc__contract_grain(g, m);
    q.left_nodes = !tc__is_plain(&q, tc__left_of(g));
    if (tc__is_plain(&q, tc__right_of(g))) {
        int adjacent = tc__is_adjacent(&q, tc__right_of(g));
        q.flip = !adjacent && m <= TC__CONTRACT_FLIP;
        if (!adjacent)
            q.right = TC__RIGHT_COLUMNS;
        else if (m <= TC__CONTRACT_IN_PLACE)
            q.right = TC__RIGHT_IN_PLACE;
    }
    q.row_blocks = tc__ix_ceil_div(x, q.m, tc__ix_const(q.grain));
    tc__contract_block(&q);
    tc__contract_columns(&q);
    tc__contract_scratch(&q, at ? at : tc__contract_buffer_at(g, g->buffer.count, q.grain));
    return q;
}

static tc__contract tc__contract_plan(const tc__group *g) {
    return tc__contract_plan_at(g, 0);
}

// The contractions of a list, in order; how many.
static int tc__contract_plans(const tc__group *g, tc__contract q[TC__LIST_PARTS],
                              tc__group part[TC__LIST_PARTS]) {
    int parts = tc__parts_of_list(g, part), n = 0;
    for (int i = 0; i < parts; i++) {
        if (part[i].shape.kind != TC__CONTRACTION) continue;
        q[n] = tc__contract_plan_at(&part[i], n ? q[n - 1].bytes : 0);
        q[n++].number = parts > 1 ? i + 1 : 0;
    }
    return n;
}

// Sets what the printed kernel of contractions wants: rows of an item, items, worker
// scratch.
static void tc__contract_items(tc__group *g) {
    tc__group part[TC__LIST_PARTS];
    tc__contract all[TC__LIST_PARTS], q;
    q = all[tc__contract_plans(g, all, part) - 1];
    for (size_t i = 0; i < g->buffer.count; i++)
        if (!tc__is_memory(&g->buffer.at[i]))
            g->buffer.at[i].offset = tc__contract_buffer_at(g, i, q.grain);
    g->shape.grain = q.grain, g->shape.wide = q.number ? 0 : q.wide;
    g->shape.items = tc__ix_mul(g->body.ix, g->shape.batch,
                                tc__ix_mul(g->body.ix, q.row_blocks, q.col_blocks));
    g->shape.scratch = q.bytes;
}

// ---- the block in registers ----

// One line for each sum of row i, of the block's text.
typedef enum tc__sum_line { TC__SUM_NEW, TC__SUM_ADD, TC__SUM_STORE } tc__sum_line;

static void tc__contract_sums(tc__printer *p, const tc__contract *q, int i,
                              tc__sum_line what) {
    const char *cls = tc__class_names[q->cls], *reg = p->d->reg[q->cls];
    for (int j = 0; j < q->width / q->lanes; j++) {
        tc__line(p);
        if (what == TC__SUM_NEW)
            tc__put(p->out, "%s s%d_%d = TC_K_%s(0);\n", reg, i, j, cls);
        else if (what == TC__SUM_STORE)
            tc__put(p->out, "tc_st_%s(tile + %d * step + %d, s%d_%d);\n", cls, i,
                    j * p->unit, i, j);
        else if (q->cls == TC__CLASS_f32)
            tc__put(p->out, "s%d_%d = TC_FMA_f32(x%d, b%d, s%d_%d);\n", i, j, i, j, i, j);
        else
            tc__put(p->out, "s%d_%d = TC_ADD_%s(s%d_%d, TC_MUL_%s(x%d, b%d));\n", i, j, cls,
                    i, j, cls, i, j);
    }
}

static int64_t tc__contract_stride(const tc__contract *q, uint32_t id, int evaluated) {
    if (evaluated) return 1;
    return tc__ix_value(
        tc__ix_run(q->g->body.ix, q->g->body.node.at[id]->attr[TC__LOAD_INDEX], TC__DEPTH)
            .stride);
}

static int64_t tc__contract_walk_stride(const tc__contract *q) {
    if (q->flip) return tc__contract_stride(q, tc__right_of(q->g), 0);
    return tc__contract_stride(q, tc__left_of(q->g), q->left_nodes);
}

// Printed before the kernel: `static void NAME_block(rows, panel, width of its rows, ...)`.
static void tc__print_contract_block(tc__printer *p, const tc__contract *q,
                                     const char *symbol) {
    const char *cls = tc__class_names[q->cls], *reg = p->d->reg[q->cls],
               *type = p->d->scalar[q->cls];
    long long stride = (long long)tc__contract_walk_stride(q);
    tc__put(p->out,
            "static __attribute__((noinline)) void %s_block(const %s *const *row, const %s "
            "*panel,\n"
            "        tc_i64 next, tc_i64 depth, %s *tile, tc_i64 step)",
            symbol, type, type, type);
    tc__block_open(p);
    for (int i = 0; i < q->rows; i++) {
        tc__line(p);
        tc__put(p->out, "const %s *row%d = row[%d];\n", type, i, i);
    }
    for (int i = 0; i < q->rows; i++) tc__contract_sums(p, q, i, TC__SUM_NEW);
    tc__line(p);
    tc__put(p->out, "for (tc_i64 k = 0; k < depth; k++)");
    tc__block_open(p);
    for (int j = 0; j < q->width / q->lanes; j++) {
        tc__line(p);
        tc__put(p->out, "const %s b%d = tc_ld_%s(panel + %d);\n", reg, j, cls, j * p->unit);
    }
    for (int i = 0; i < q->rows; i++) {
        tc__line(p);
        tc__put(p->out, "const %s x%d = tc_splat_%s(row%d[", reg, i, cls, i);
        tc__put(p->out, stride == 1 ? "k]);\n" : "k * %lld]);\n", stride);
        tc__contract_sums(p, q, i, TC__SUM_ADD); // at once: one register for all x
    }
    tc__line(p);
    tc__put(p->out, "panel += next;\n");
    tc__block_close(p);
    for (int i = 0; i < q->rows; i++) tc__contract_sums(p, q, i, TC__SUM_STORE);
    tc__block_close(p);
    tc__put(p->out, "\n");
}

// ---- the kernel around it ----

static void tc__let_ix(tc__printer *p, const char *name, tc__ix e) {
    tc__line(p);
    tc__put(p->out, "const tc_i64 %s = ", name);
    tc__put_ix(p, e);
    tc__put(p->out, ";\n");
}

static void tc__let_scratch(tc__printer *p, const tc__contract *q, const char *name,
                            tc__ix at) {
    const char *type = p->d->scalar[q->cls];
    tc__line(p);
    tc__put(p->out, "%s *%s = (%s *)(void *)((char *)a->scratch[worker] + ", type, name,
            type);
    tc__put_ix(p, at);
    tc__put(p->out, ");\n");
}

static void tc__mark_val(void *user, uint32_t id) { ((uint8_t *)user)[id] = 1; }

// The nodes that node `id` needs, itself included, into mark. They stand before it.
static void tc__mark_needed(const tc__group *g, uint32_t id, uint8_t *mark) {
    mark[id] = 1;
    for (uint32_t at = id + 1; at-- > 0;) {
        const tc__node *n = g->body.node.at[at];
        for (uint32_t i = 0; mark[at] && i < n->n_in; i++) mark[n->in[i]] = 1;
        for (uint32_t i = 0; mark[at] && i < n->n_attr; i++)
            if (tc__attr_is_ix(n, i))
                tc__ix_each_val(g->body.ix, n->attr[i], tc__mark_val, mark);
    }
}

static void tc__print_needed(tc__printer *p, const uint8_t *mark, int row) {
    for (uint32_t id = 0; id < p->g->body.node.count; id++) {
        const tc__node *n = tc__body(p, id);
        if (mark[id] && (n->level == TC__AT_ROW) == row) tc__print_node(p, n);
    }
}

// Evaluates node `id` along `axis` at the present index, storing vector j behind `to`.
static void tc__print_operand(tc__printer *p, const tc__contract *q, uint32_t id,
                              const uint8_t *mark, const char *to) {
    tc__print_needed(p, mark, 0);
    for (int j = 0; j < p->copies; j++) {
        tc__line(p);
        tc__put(p->out, "tc_st_%s(%s + %d, ", tc__class_names[q->cls], to, j * p->unit);
        tc__put_value(p, id, j);
        tc__put(p->out, ");\n");
    }
}

// Row r of what earlier parts have made of the item's rows.
static void tc__put_made(tc__printer *p, int64_t b) {
    tc__put_buffer(p, b);
    tc__put(p->out, "_rows + (r - r0) * ");
    tc__put_atom(p, p->g->buffer.at[b].numel, 0);
}

// `float *made0 = made0_rows + (r - r0) * 1024;` for each that nodes [begin, end) access.
static void tc__print_made_rows(tc__printer *p, uint32_t begin, uint32_t end) {
    for (size_t b = 0; b < p->g->buffer.count; b++) {
        uint32_t id = begin;
        if (p->g->buffer.at[b].place != TC__BUF_MADE) continue;
        while (id < end && !tc__accesses(tc__body(p, id), (int64_t)b)) id++;
        if (id == end) continue;
        tc__line(p);
        tc__put(p->out, "%s *", tc__dtypes[p->g->buffer.at[b].dtype].memory);
        tc__put_buffer(p, (int64_t)b);
        tc__put(p->out, " = ");
        tc__put_made(p, (int64_t)b);
        tc__put(p->out, ";\n");
    }
}

// `const float *x[6]; for (j...) x[j] = in0 + ...;` of rows (left) or columns (right) from
// `from`.
static void tc__print_pointers(tc__printer *p, const tc__contract *q, int left, int count,
                               const char *from, const char *end) {
    const tc__node *n = tc__body(p, left ? tc__left_of(p->g) : tc__right_of(p->g));
    tc__ixpool *x = p->g->body.ix;
    tc__line(p);
    tc__put(p->out, "const %s *x[%d];\n", p->d->scalar[q->cls], count);
    tc__line(p);
    tc__put(p->out, "for (int j = 0; j < %d; j++)", count);
    tc__block_open(p);
    tc__line(p);
    tc__put(p->out, "const tc_i64 %s = tc_min(%s + j, %s - 1);\n", left ? "r" : "c", from,
            end);
    tc__line(p);
    tc__put(p->out, "x[j] = ");
    if (left && q->left_nodes) {
        tc__put(p->out, "left + (r - r0) * ");
        tc__put_atom(p, tc__round_up(x, q->depth, q->lanes), 0);
    } else if (tc__buffer_of(p->g, n)->place == TC__BUF_MADE) {
        tc__put_made(p, n->attr[TC__LOAD_BUFFER]);
    } else {
        tc__ix k = tc__ix_find_var(x, n->attr[TC__LOAD_INDEX], TC__DEPTH);
        tc__put_buffer(p, n->attr[TC__LOAD_BUFFER]);
        tc__put(p->out, " + ");
        tc__put_ix(p, k ? tc__ix_subst(x, n->attr[TC__LOAD_INDEX], k, tc__ix_const(0))
                        : n->attr[TC__LOAD_INDEX]);
    }
    tc__put(p->out, ";\n");
    tc__block_close(p);
}

// Panel `to` [depth][width] from the pointers x.
static void tc__print_interleave(tc__printer *p, const tc__contract *q, int64_t stride,
                                 const char *to) {
    if (q->cls == TC__CLASS_f32 && stride == 1) {
        tc__line(p);
        tc__put(p->out, "tc_interleave_f32(x, %d, depth, %s);\n", q->width, to);
        return;
    }
    tc__line(p);
    tc__put(p->out, "for (tc_i64 k = 0; k < depth; k++) for (int j = 0; j < %d; j++)\n",
            q->width);
    tc__line(p);
    tc__put(p->out, "    %s[k * %d + j] = x[j][k * %lld];\n", to, q->width,
            (long long)stride);
}

static void tc__print_panel_nodes(tc__printer *p, const tc__contract *q,
                                  const uint8_t *mark, int tail) {
    tc__line(p);
    tc__put(p->out, "for (tc_i64 k = 0; k < depth; k++)");
    if (tail)
        tc__put(p->out, " for (tc_i64 c = p; c < p + %d; c += %d)", q->width, p->unit);
    tc__block_open(p);
    tc__line(p);
    if (tail)
        tc__put(p->out, "const int n = (int)tc_max(0, tc_min(c1 - c, %d));\n", p->unit);
    else
        tc__put(p->out, "const tc_i64 c = p;\n");
    p->axis = TC__COL, p->tail = tail, p->copies = tail ? 1 : q->width / q->lanes;
    char to[60];
    snprintf(to, sizeof to, tail ? "panel + k * %d + (c - p)" : "panel + k * %d", q->width);
    tc__print_operand(p, q, tc__right_of(p->g), mark, to);
    if (!tail) {
        tc__line(p);
        tc__put(p->out, "(void)c;\n");
    }
    p->tail = 0, p->copies = 1;
    tc__block_close(p);
}

// Panel by panel of the right operand.
static void tc__print_pack(tc__printer *p, const tc__contract *q, const uint8_t *mark) {
    tc__ixpool *x = p->g->body.ix;
    int whole = tc__ix_divisor(x, p->g->shape.cols) % q->width == 0 &&
                tc__ix_divisor(x, q->wide) % q->width == 0;
    int in_place = q->right == TC__RIGHT_IN_PLACE;
    if (in_place && whole) return;
    tc__line(p);
    tc__put(p->out, "for (tc_i64 p = ");
    if (in_place)
        tc__put(p->out, "c0 + (c1 - c0) / %d * %d", q->width, q->width);
    else
        tc__put(p->out, "c0");
    tc__put(p->out, "; p < c1; p += %d)", q->width);
    tc__block_open(p);
    tc__line(p);
    tc__put(p->out, "%s *panel = pack + (p - c0) * depth;\n", p->d->scalar[q->cls]);
    if (q->right == TC__RIGHT_COLUMNS) {
        tc__print_pointers(p, q, 0, q->width, "p", "c1");
        tc__print_interleave(p, q, tc__contract_stride(q, tc__right_of(p->g), 0), "panel");
    } else if (whole) {
        tc__print_panel_nodes(p, q, mark, 0);
    } else {
        if (!in_place) {
            tc__line(p);
            tc__put(p->out, "if (p + %d <= c1)", q->width);
            tc__block_open(p);
            tc__print_panel_nodes(p, q, mark, 0);
            tc__line(p);
            tc__put(p->out, "continue;\n");
            tc__block_close(p);
        }
        tc__print_panel_nodes(p, q, mark, 1);
    }
    tc__block_close(p);
}

// Which panels are packed.
static void tc__put_packed(tc__printer *p, const tc__contract *q) {
    tc__put(p->out, q->number ? "packed%d" : "packed", q->number);
}

static void tc__print_pack_once(tc__printer *p, const tc__contract *q) {
    tc_ctx *c = p->out->ctx;
    size_t count = p->g->body.node.count;
    uint8_t *mark = TC__NEW_ARRAY(c, uint8_t, count);
    if (!mark) {
        p->out->failed = 1;
        return;
    }
    tc__mark_needed(p->g, tc__right_of(p->g), mark);
    tc__line(p);
    tc__put(p->out, "if (");
    tc__put_packed(p, q);
    tc__put(p->out, " != panels)");
    tc__block_open(p);
    tc__line(p);
    tc__put(p->out, "const tc_i64 r = r0;\n");
    tc__line(p);
    tc__put(p->out, "(void)r;\n");
    tc__print_needed(p, mark, 1);
    tc__print_pack(p, q, mark);
    tc__line(p);
    tc__put_packed(p, q);
    tc__put(p->out, " = panels;\n");
    tc__block_close(p);
    tc__free(c, mark, count * sizeof *mark);
}

static uint32_t tc__contract_rows_loop(const tc__printer *p) {
    uint32_t id = p->g->shape.prologue;
    while (id + 1 < p->g->body.node.count && tc__body(p, id)->op != TC_OP_FOR) id++;
    return id;
}

// Rows r0 to r1 of the left operand, evaluated by their nodes.
static void tc__print_left(tc__printer *p, const tc__contract *q) {
    tc_ctx *c = p->out->ctx;
    size_t count = p->g->body.node.count;
    uint8_t *mark = TC__NEW_ARRAY(c, uint8_t, count);
    char to[80];
    if (!mark) {
        p->out->failed = 1;
        return;
    }
    tc__mark_needed(p->g, tc__left_of(p->g), mark);
    tc__line(p);
    tc__put(p->out, "for (tc_i64 r = r0; r < r1; r++)");
    tc__block_open(p);
    tc__line(p);
    tc__put(p->out, "%s *left_r = left + (r - r0) * ", p->d->scalar[q->cls]);
    tc__put_atom(p, tc__round_up(p->g->body.ix, q->depth, q->lanes), 0);
    tc__put(p->out, ";\n");
    tc__print_made_rows(p, p->g->shape.prologue, tc__contract_rows_loop(p));
    tc__print_needed(p, mark, 1);
    tc__line(p);
    tc__put(p->out, "for (tc_i64 k = 0; k < depth; k += %d)", p->unit);
    tc__block_open(p);
    tc__line(p);
    tc__put(p->out, "const int n = (int)tc_min(depth - k, %d);\n", p->unit);
    p->axis = TC__DEPTH, p->tail = 1;
    snprintf(to, sizeof to, "left_r + k");
    tc__print_operand(p, q, tc__left_of(p->g), mark, to);
    p->axis = TC__COL, p->tail = 0;
    tc__block_close(p);
    tc__block_close(p);
    tc__free(c, mark, count * sizeof *mark);
}

// Blocks of the tile: rows outside, so that their part of the left operand stays in L1.
static void tc__print_blocks(tc__printer *p, const tc__contract *q, const char *symbol) {
    const tc__node *n = tc__body(p, tc__right_of(p->g));
    tc__ixpool *x = p->g->body.ix;
    tc__line(p);
    tc__put(p->out, "for (tc_i64 i = r0; i < r1; i += %d)", q->rows);
    tc__block_open(p);
    tc__print_pointers(p, q, 1, q->rows, "i", "r1");
    tc__line(p);
    tc__put(p->out, "for (tc_i64 p = c0; p < c1; p += %d)", q->width);
    tc__block_open(p);
    tc__line(p);
    tc__put(p->out, "const %s *panel = pack + (p - c0) * depth;\n", p->d->scalar[q->cls]);
    tc__line(p);
    tc__put(p->out, "tc_i64 next = %d;\n", q->width);
    if (q->right == TC__RIGHT_IN_PLACE) {
        tc__ix k = tc__ix_find_var(x, n->attr[TC__LOAD_INDEX], TC__DEPTH);
        tc__line(p);
        tc__put(p->out, "if (p + %d <= c1)", q->width);
        tc__block_open(p);
        tc__line(p);
        tc__put(p->out, "const tc_i64 c = p, r = r0;\n");
        tc__line(p);
        tc__put(p->out, "(void)r;\n");
        tc__line(p);
        tc__put(p->out, "panel = ");
        tc__put_buffer(p, n->attr[TC__LOAD_BUFFER]);
        tc__put(p->out, " + ");
        tc__put_ix(p, k ? tc__ix_subst(x, n->attr[TC__LOAD_INDEX], k, tc__ix_const(0))
                        : n->attr[TC__LOAD_INDEX]);
        tc__put(p->out, ";\n");
        tc__line(p);
        tc__put(p->out, "next = ");
        tc__put_ix(p, tc__ix_run(x, n->attr[TC__LOAD_INDEX], TC__DEPTH).stride);
        tc__put(p->out, ";\n");
        tc__block_close(p);
    }
    tc__line(p);
    tc__put(p->out,
            "%s_block(x, panel, next, depth, tile + (i - r0) * wide + (p - c0), wide);\n",
            symbol);
    tc__block_close(p);
    tc__block_close(p);
}

// The same with rows and columns exchanged, then the tile is turned back.
static void tc__print_flipped(tc__printer *p, const tc__contract *q, const char *symbol) {
    int64_t stride = tc__contract_stride(q, tc__left_of(p->g), q->left_nodes);
    tc__line(p);
    tc__put(p->out, "{\n");
    p->indent++;
    tc__print_pointers(p, q, 1, q->width, "r0", "r1");
    tc__print_interleave(p, q, stride, "pack");
    tc__block_close(p);
    tc__line(p);
    tc__put(p->out, "for (tc_i64 p = c0; p < c1; p += %d)", q->rows);
    tc__block_open(p);
    tc__line(p);
    tc__put(p->out, "const tc_i64 r = r0;\n");
    tc__line(p);
    tc__put(p->out, "(void)r;\n");
    tc__print_pointers(p, q, 0, q->rows, "p", "c1");
    tc__line(p);
    tc__put(p->out, "%s_block(x, pack, %d, depth, flip + (p - c0) * %d, %d);\n", symbol,
            q->width, q->width, q->width);
    tc__block_close(p);
    tc__line(p);
    if (q->cls == TC__CLASS_f32) {
        tc__put(p->out, "tc_flip_f32(flip, %d, c1 - c0, tile, wide);\n", q->width);
        return;
    }
    tc__put(p->out,
            "for (tc_i64 i = 0; i < r1 - r0; i++) for (tc_i64 j = 0; j < c1 - c0; j++)\n");
    tc__line(p);
    tc__put(p->out, "    tile[i * wide + j] = flip[j * %d + i];\n", q->width);
}

// Its sizes and scratch, by their names.
static void tc__print_areas(tc__printer *p, const tc__contract *q) {
    tc__let_ix(p, "depth", q->depth);
    tc__let_ix(p, "wide", q->wide_padded);
    tc__let_scratch(p, q, "pack", q->pack_at);
    tc__let_scratch(p, q, "tile", q->tile_at);
    if (q->left_nodes) tc__let_scratch(p, q, "left", q->left_at);
    if (q->flip) tc__let_scratch(p, q, "flip", q->flip_at);
}

// Nothing is packed as yet: where panels are flipped, they are of the item.
static void tc__print_unpacked(tc__printer *p, const tc__contract *q) {
    if (q->flip) return;
    tc__line(p);
    tc__put(p->out, "tc_i64 ");
    tc__put_packed(p, q);
    tc__put(p->out, " = -1;\n");
}

// The rows of an item, from that of its batch on.
static void tc__print_item_rows(tc__printer *p, int64_t grain) {
    tc__line(p);
    tc__put(p->out,
            "const tc_i64 r0 = first + item %% row_blocks * %lld, r1 = tc_min(r0 + %lld, "
            "first + rows);\n",
            (long long)grain, (long long)grain);
}

static void tc__print_item_head(tc__printer *p, const tc__contract *q) {
    tc__let_ix(p, "row_blocks", q->row_blocks);
    tc__let_ix(p, "col_blocks", q->col_blocks);
    tc__let_ix(p, "rows", q->m);
    tc__print_areas(p, q);
    tc__print_unpacked(p, q);
    tc__line(p);
    tc__put(p->out, "for (tc_i64 item = lo; item < hi; item++)");
    tc__block_open(p);
    tc__line(p);
    tc__put(p->out,
            "const tc_i64 panels = item / row_blocks;  // batch and block of columns\n");
    tc__line(p);
    tc__put(p->out, "const tc_i64 first = panels / col_blocks * rows;\n");
    tc__print_item_rows(p, q->grain);
    tc__line(p);
    tc__put(p->out, "const tc_i64 c0 = panels %% col_blocks * ");
    tc__put_atom(p, q->wide, 0);
    tc__put(p->out, ", c1 = tc_min(c0 + ");
    tc__put_atom(p, q->wide, 0);
    tc__put(p->out, ", ");
    tc__put_ix(p, p->g->shape.cols);
    tc__put(p->out, ");\n");
}

// The tile of an item's rows and columns.
static void tc__print_tile(tc__printer *p, const tc__contract *q, const char *symbol) {
    if (!q->flip) tc__print_pack_once(p, q);
    if (q->left_nodes) tc__print_left(p, q);
    if (q->flip)
        tc__print_flipped(p, q, symbol);
    else
        tc__print_blocks(p, q, symbol);
}

// The loop over an item's rows.
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
    tc__print_item_loop(p);
    p->parts = 0;
    tc__block_close(p);
}
