// The list of a product: a template, which is a text of the library (cuda/tiles.cuh, skinny.cuh), with what of it is the
// kernel's own in holes. product.c chooses its numbers; nothing behind the list asks for them again.
//
//     launch threads=256
//       for j in 0..512 bind=grid, t in 0..256 bind=block
//         template tiles b4 block=j of 4096 x 4096 x 1024 rows=128 cols=256 ...
//           hole left - r q async b5 of 8            eight elements along k, at row r and from column q on
//             copy 8 b5[0] <- b0[1024*r + q]
//           hole right r c q async b6 of 8
//             copy 8 b6[0] <- b1[1024*c + q]
//           hole result r p b7 of 8                  eight columns of row r, from p on
//             for l in 0..8 bind=vector
//               axis c = p + l
//               %4 = load b7[l];  ...;  store b3[4096*r + c] %10
//
// `j` counts blocks, and of them those with a slice of k beside each other. What a hole gives or gets is a buffer of its
// template; operands of halves come as bits where tensor cores take them.

enum {
    TC__TEMPLATE_J = TC__VAR0,
    TC__TEMPLATE_I = TC__VAR0 + 1, // of the rows that a block makes
    TC__TEMPLATE_Y = TC__VAR0 + 2, //   and the threads that do, each row by x
    TC__TEMPLATE_X = TC__VAR0 + 3,
    TC__TEMPLATE_T = TC__VAR0 + 6,
    TC__TEMPLATE_P = TC__VAR0 + 7, // the first of several lines,
    TC__TEMPLATE_Q = TC__VAR0 + 8  //   or along k
};

typedef struct tc__producer {
    tc__relist l;
    tc__product q;
    tc__ix j;
    uint32_t rows; // id of the loop over rows: operands stand before, the epilogue in it
    int64_t *held; // by node: register buffer of what is loaded ahead, -1 = it is not
    // Where rows are made: how, and the buffer they are in; `base` of it
    tc__group prologue;
    tc__device_plan plan;
    tc__ix x, y, *base;
    int64_t made, room; //   and rows that it has room for
} tc__producer;

// Elements that accesses of `width` meet: rows apart (kernel/pitch.c) have some behind their last.
static tc__ix tc__producer_extent(tc__ix extent, int width) {
    int64_t rest = tc__ix_is_const(extent) ? tc__ix_value(extent) % width : 0;
    return rest ? tc__ix_const(tc__ix_value(extent) + width - rest) : extent;
}

static tc__ix tc__producer_var(const tc__producer *t, int axis, tc__ix extent, int width) {
    tc__ixpool *x = t->l.from->body.ix;
    extent = tc__producer_extent(extent, width);
    return tc__ix_var(x, axis, tc__ix_sub(x, extent, tc__ix_const(width - 1)));
}

// ---- holes ----

typedef struct tc__hole_words {
    tc__hole hole;
    int64_t buffer, made; // -1 = none
    tc__bring bring;
    int width;
    tc__axis along;
    int row, line, deep; // axes of its place, -1 = it has none
    int64_t line_stride, deep_stride;
} tc__hole_words;

static void tc__hole_open(tc__relist *l, const tc__hole_words *w) {
    int64_t attr[TC__HOLE_MADE + 1];
    attr[TC__HOLE_HOLE] = w->hole, attr[TC__HOLE_BUFFER] = w->buffer;
    attr[TC__HOLE_BRING] = w->bring, attr[TC__HOLE_WIDTH] = w->width;
    attr[TC__HOLE_ALONG] = w->along, attr[TC__HOLE_ROW] = w->row;
    attr[TC__HOLE_LINE] = w->line, attr[TC__HOLE_DEEP] = w->deep;
    attr[TC__HOLE_LINE_STRIDE] = w->line_stride;
    attr[TC__HOLE_DEEP_STRIDE] = w->deep_stride, attr[TC__HOLE_MADE] = w->made;
    tc__relist_put(l, TC_OP_HOLE, TC_I64, attr, TC__HOLE_MADE + 1);
}

static void tc__hole_close(tc__relist *l) { tc__relist_end(l, TC__END_BLOCK); }

// Opens the loop over the elements of a hole, whose first is at the variable `first` of `axis`; a single one has the axis
// itself. Its element.
static tc__ix tc__hole_elements(tc__producer *t, int width, tc__axis axis, int first,
                                tc__ix extent) {
    tc__relist *l = &t->l;
    if (width == 1) return tc__ix_const(0);
    tc__ix lane =
        tc__relist_for(l, (tc__axis)TC__VECTOR_L, TC__BIND_VECTOR, tc__ix_const(width));
    tc__relist_bind(
        l, (int)axis,
        tc__ix_add(l->from->body.ix, tc__producer_var(t, first, extent, width), lane),
        tc__producer_extent(extent, width));
    return lane;
}

static void tc__hole_elements_end(tc__producer *t, int width) {
    if (width > 1) tc__relist_end(&t->l, TC__VECTOR_L);
}

// ---- rows that are made first ----

// Rows of turn t, by as many threads as make a row: the first column of the block says which block stores what of
// them is a tensor.
static void tc__rows_hole(tc__producer *t, tc_ctx *c) {
    tc__relist *l = &t->l;
    tc__ixpool *x = l->from->body.ix;
    tc__hole_words w;
    int64_t together = t->q.threads / t->plan.sharing,
            turns = (t->q.made + together - 1) / together;
    memset(&w, 0, sizeof w);
    w.made = -1, w.hole = TC__HOLE_ROWS, w.buffer = -1, w.width = 1, w.along = TC__COL;
    w.row = TC__TEMPLATE_T, w.line = TC__ROW, w.deep = TC__TEMPLATE_Q;
    tc__hole_open(l, &w);
    tc__ix turn = tc__ix_var(x, TC__TEMPLATE_T, tc__ix_const(turns)),
           i = tc__ix_add(x, tc__ix_mul(x, tc__ix_const(together), turn), t->y),
           first = tc__ix_var(x, TC__TEMPLATE_Q, l->from->shape.cols);
    if (tc__ix_equals(tc__rows_across(l->from, &t->q), 1)) first = tc__ix_const(0);
    tc__rows_make(l, c, &t->prologue, &t->plan, t->x, i, tc__ix_const(t->q.made),
                  tc__ix_const(t->room), first);
    tc__hole_close(l);
}

// The loops over threads: where rows are made, y over those that are made together.
static void tc__producer_threads(tc__producer *t) {
    tc__relist *l = &t->l;
    int64_t together = t->plan.sharing ? t->q.threads / t->plan.sharing : 1;
    if (!t->plan.sharing) {
        tc__relist_for(l, (tc__axis)TC__TEMPLATE_T, TC__BIND_BLOCK,
                       tc__ix_const(tc__product_threads(&t->q)));
        return;
    }
    if (together > 1)
        t->y = tc__relist_for(l, (tc__axis)TC__TEMPLATE_Y, TC__BIND_BLOCK,
                              tc__ix_const(together));
    if (t->plan.sharing > 1)
        t->x = tc__relist_for(l, (tc__axis)TC__TEMPLATE_X,
                              t->plan.sharing > 32 ? TC__BIND_BLOCK : TC__BIND_LANE,
                              tc__ix_const(t->plan.sharing));
}

static void tc__producer_threads_end(tc__producer *t) {
    if (!t->plan.sharing) {
        tc__relist_end(&t->l, TC__TEMPLATE_T);
        return;
    }
    if (t->plan.sharing > 1) tc__relist_end(&t->l, TC__TEMPLATE_X);
    if (t->q.threads > t->plan.sharing) tc__relist_end(&t->l, TC__TEMPLATE_Y);
}

// ---- operands ----

static tc__ix tc__operand_extent(const tc__group *g, tc__axis axis) {
    return axis == TC__ROW   ? g->shape.rows
           : axis == TC__COL ? g->shape.cols
                             : tc__depth_of(g);
}

// Whether an operand is what memory has, so that it is moved as it is: `bits` of halves, or what registers have.
static int tc__operand_is_copy(const tc__producer *t, const tc__staged *s, tc__axis axis,
                               int width, int dtype) {
    const tc__group *g = t->l.from;
    const tc__node *n = g->body.node.at[s->id];
    int windows = s->level == TC__AT_RIGHT && t->q.tile &&
                  t->q.tile->way == TC__WAY_MAPPED && g->shape.windows.channels;
    if (width > 1 && (windows || tc__operand_windows(g, &t->q, s->level))) return 1;
    if (n->op != TC_OP_LOAD || n->n_attr > TC__LOAD_PREDICATES || n->dtype != dtype ||
        tc__buffer_of(g, n)->dtype != dtype || tc__device_is_made(g, n))
        return 0;
    if (width == 1) return tc__is_half(dtype); // others are loads like all
    return tc__is_wide_load(g, n, width, axis);
}

// The variable of an axis in a hole whose `width` elements are along `along`.
static int tc__operand_variable(tc__axis axis, tc__axis along, int width) {
    if (axis != along || width == 1) return (int)axis;
    return axis == TC__DEPTH ? TC__TEMPLATE_Q : TC__TEMPLATE_P;
}

// Lines, or places along k, between accesses of a thread.
static int tc__stage_jump(const tc__product *q, const tc__staged *s) {
    int size = q->tile->way == TC__WAY_GROUPS ? (int)TC__PRODUCT_LINE
               : s->along == TC__DEPTH        ? q->tile->depth
               : s->level == TC__AT_LEFT      ? q->tile->rows
                                              : q->tile->cols;
    return q->threads / (size / s->width);
}

// Whether a thread's accesses lie apart by numbers that are known: one address tells the others, and moves on from stage
// to stage.
static int tc__brings_by_steps(const tc__group *g, const tc__product *q,
                               const tc__staged *s) {
    tc__axis line = s->level == TC__AT_LEFT ? TC__ROW : TC__COL;
    const tc__node *n = g->body.node.at[s->id];
    if (g->target.checked || s->bring == TC__BRING_NOW)
        return 0; // checked: each is looked at
    if (s->bring == TC__BRING_ASYNC && q->tile->way < TC__WAY_MAPPED &&
        tc__stage_jump(q, s) % 8)
        return 0;
    int plain = n->op == TC_OP_LOAD && n->n_attr == TC__LOAD_PREDICATES;
    if (!plain || tc__buffer_of(g, n)->dtype != n->dtype) return 0;
    int as_it_is = tc__is_fp8(q->dtype); // both are f8 then, of one dtype or two
    if (!as_it_is && n->dtype != q->dtype) return 0;
    if (!as_it_is && !q->half && !tc__is_own_class(n->dtype)) return 0;
    return tc__operand_stride(g, s, TC__DEPTH) && tc__operand_stride(g, s, line);
}

// What the operand's nodes make of element `lane` of its buffer.
static void tc__operand_nodes(tc__producer *t, const tc__staged *s, int64_t buffer,
                              tc__ix lane) {
    tc__relist *l = &t->l;
    for (uint32_t id = l->from->shape.prologue; id < t->rows; id++) {
        const tc__node *n = l->from->body.node.at[id];
        if (n->level != (uint8_t)s->level || n->op == TC_OP_END || tc__opens(n)) continue;
        if (t->held[id] < 0)
            tc__relist_copy(l, n);
        else
            tc__relist_load(l, n, t->held[id],
                            tc__ix_equals(l->to->buffer.at[t->held[id]].numel, 1)
                                ? tc__ix_const(0)
                                : lane);
    }
    tc__relist_store(l, l->from->body.node.at[s->id], buffer, lane);
}

// A hole of an operand, in elements of `dtype`.
static void tc__operand_hole(tc__producer *t, const tc__staged *s, tc__hole hole,
                             tc__axis along, int width, int dtype) {
    const tc__group *g = t->l.from;
    const tc__node *n = g->body.node.at[s->id];
    tc__axis line = s->level == TC__AT_LEFT ? TC__ROW : TC__COL;
    int one = hole == TC__HOLE_LEFT_ONE || hole == TC__HOLE_RIGHT_ONE;
    int staged = t->q.form == TC__PRODUCT_TILES && !one;
    tc__hole_words w;
    memset(&w, 0, sizeof w);
    w.made = -1, w.hole = hole, w.width = width, w.along = along;
    w.bring = staged ? s->bring : TC__BRING_VALUES;
    w.buffer = tc__relist_buffer(&t->l, TC__BUF_GIVEN, dtype, width);
    int made = s->level == TC__AT_LEFT && g->shape.prologue;
    w.row = made ? (int)TC__TEMPLATE_I : s->level == TC__AT_LEFT ? -1 : (int)TC__ROW;
    w.line = tc__operand_variable(line, along, width);
    w.deep = tc__operand_variable(TC__DEPTH, along, width);
    if (staged && tc__brings_by_steps(g, &t->q, s)) {
        w.line_stride = tc__operand_stride(g, s, line);
        w.deep_stride = tc__operand_stride(g, s, TC__DEPTH);
    }
    tc__hole_open(&t->l, &w);
    int first = tc__operand_variable(along, along, width);
    tc__ix extent = tc__operand_extent(g, along);
    if (tc__operand_is_copy(t, s, along, width, dtype)) {
        tc__relist_copy_vector(&t->l, n, w.buffer, tc__ix_const(0), along,
                               tc__producer_var(t, first, extent, width), width);
    } else {
        tc__ix lane = tc__hole_elements(t, width, along, first, extent);
        tc__operand_nodes(t, s, w.buffer, lane);
        tc__hole_elements_end(t, width);
    }
    tc__hole_close(&t->l);
}

// ---- what is the same for all of k ----

// Whether the operand's load n is so, and one access or one element of a vector.
static int tc__operand_is_ahead(const tc__group *g, const tc__staged *s, tc__axis axis,
                                const tc__node *n) {
    if (n->op != TC_OP_LOAD || n->level != (uint8_t)s->level ||
        n->n_attr != TC__LOAD_PREDICATES || tc__buffer_of(g, n)->written)
        return 0;
    if (tc__ix_uses(g->body.ix, n->attr[TC__LOAD_INDEX], TC__DEPTH) ||
        tc__ix_has_val(g->body.ix, n->attr[TC__LOAD_INDEX]))
        return 0;
    return s->width == 1 || tc__device_is_wide(g, n, s->width, axis) ||
           tc__device_is_still(g, n, axis, s->width);
}

// Loads it into registers before the loop over k: the hole `ahead`. 0 = there is nothing.
static int tc__operand_ahead(tc__producer *t, const tc__staged *s, tc__axis axis) {
    const tc__group *g = t->l.from;
    int some = 0;
    for (uint32_t id = 0; id < t->rows; id++) {
        const tc__node *n = g->body.node.at[id];
        if (!tc__operand_is_ahead(g, s, axis, n)) continue;
        int wide = tc__device_is_wide(g, n, s->width, axis);
        t->held[id] = tc__relist_buffer(&t->l, TC__BUF_REGISTER, tc__buffer_of(g, n)->dtype,
                                        wide ? s->width : 1);
        some = 1;
    }
    return some;
}

static void tc__ahead_hole(tc__producer *t, const tc__staged *s, tc__axis axis) {
    tc__relist *l = &t->l;
    tc__hole_words w;
    memset(&w, 0, sizeof w);
    w.made = -1, w.hole = TC__HOLE_AHEAD, w.buffer = -1, w.width = s->width, w.along = axis;
    w.row = s->level == TC__AT_LEFT ? -1 : (int)TC__ROW, w.deep = -1;
    w.line = tc__operand_variable(axis, axis, s->width);
    tc__hole_open(l, &w);
    for (uint32_t id = 0; id < t->rows; id++) {
        const tc__node *n = l->from->body.node.at[id];
        if (t->held[id] < 0) continue;
        int width = (int)tc__ix_value(l->to->buffer.at[t->held[id]].numel);
        tc__relist_copy_vector(
            l, n, t->held[id], tc__ix_const(0), axis,
            tc__producer_var(t, w.line, tc__operand_extent(l->from, axis), s->width),
            width);
    }
    tc__hole_close(l);
}

// ---- the result ----

// Loads of it that need no value: one access before rows are made.
static int tc__result_is_early(const tc__producer *t, const tc__node *n) {
    const tc__group *g = t->l.from;
    return n->id > t->rows && n->op == TC_OP_LOAD && n->n_attr == TC__LOAD_PREDICATES &&
           !tc__buffer_of(g, n)->written &&
           !tc__ix_has_val(g->body.ix, n->attr[TC__LOAD_INDEX]);
}

// 0 = there are none.
static int tc__result_early(tc__producer *t) {
    const tc__group *g = t->l.from;
    int some = 0;
    for (uint32_t id = t->rows; id < g->body.node.count; id++) {
        const tc__node *n = g->body.node.at[id];
        if (!tc__result_is_early(t, n)) continue;
        t->held[id] =
            tc__relist_buffer(&t->l, TC__BUF_REGISTER, tc__buffer_of(g, n)->dtype, 1);
        some = 1;
    }
    return some;
}

static void tc__early_hole(tc__producer *t) {
    tc__relist *l = &t->l;
    tc__ixpool *x = l->from->body.ix;
    tc__hole_words w;
    memset(&w, 0, sizeof w);
    w.made = -1, w.hole = TC__HOLE_EARLY, w.buffer = -1, w.width = 1, w.along = TC__COL;
    w.row = TC__ROW, w.line = TC__COL, w.deep = -1;
    tc__hole_open(l, &w);
    for (uint32_t id = t->rows; id < l->from->body.node.count; id++)
        if (t->held[id] >= 0)
            tc__relist_copy_vector(l, l->from->body.node.at[id], t->held[id],
                                   tc__ix_const(0), TC__COL,
                                   tc__ix_var(x, TC__COL, l->from->shape.cols), 1);
    tc__hole_close(l);
}

// Halves of two sums beside each other, which others finish.
static void tc__rounded_hole(tc__producer *t, const tc__relay *r) {
    tc__relist *l = &t->l;
    const tc__group *g = l->from;
    const tc__node *rounded = g->body.node.at[r->rounded];
    tc__hole_words w;
    memset(&w, 0, sizeof w);
    w.hole = TC__HOLE_ROUNDED, w.width = 2, w.along = TC__COL;
    w.buffer = tc__relist_buffer(l, TC__BUF_GIVEN, tc__register_dtype(t->q.dtype), w.width);
    w.made = tc__relist_buffer(l, TC__BUF_GIVEN, rounded->dtype, w.width);
    w.row = -1, w.line = tc__operand_variable(TC__COL, TC__COL, w.width), w.deep = -1;
    tc__hole_open(l, &w);
    tc__ix lane = tc__hole_elements(t, w.width, TC__COL, w.line, g->shape.cols);
    tc__relist_load(l, g->body.node.at[r->sums], w.buffer, lane);
    for (uint32_t id = r->sums + 1; id <= r->rounded; id++)
        if (r->made & tc__relay_bit(r, id)) tc__relist_copy(l, g->body.node.at[id]);
    tc__relist_store(l, rounded, w.made, lane);
    tc__hole_elements_end(t, w.width);
    tc__hole_close(l);
}

// The END of the product's columns.
static uint32_t tc__columns_end(const tc__group *g) {
    uint32_t id = tc__contract_of(g)->id;
    while (g->body.node.at[id]->op != TC_OP_END) id++;
    return id;
}

// Of sums, or of what is made of them first; NULL = nothing is.
static void tc__result_hole(tc__producer *t, int width, tc__hole hole, const tc__relay *r) {
    tc__relist *l = &t->l;
    const tc__group *g = l->from;
    const tc__node *given = r ? g->body.node.at[r->rounded] : tc__contract_of(g);
    tc__hole_words w;
    memset(&w, 0, sizeof w);
    w.made = -1, w.hole = hole, w.width = width, w.along = TC__COL;
    w.buffer = tc__relist_buffer(l, TC__BUF_GIVEN,
                                 r ? given->dtype : (uint8_t)tc__register_dtype(t->q.dtype),
                                 width);
    w.row = TC__ROW, w.line = tc__operand_variable(TC__COL, TC__COL, width), w.deep = -1;
    tc__hole_open(l, &w);
    tc__ix lane = tc__hole_elements(t, width, TC__COL, w.line, g->shape.cols);
    uint32_t rows = t->q.total ? tc__columns_end(g) : (uint32_t)g->body.node.count;
    for (uint32_t id = t->rows; id < rows; id++) {
        const tc__node *n = g->body.node.at[id];
        if (n == given)
            tc__relist_load(l, n, w.buffer, lane);
        else if (r && tc__relay_bit(r, id) & r->made & ~r->again)
            continue;
        else if (t->held[id] >= 0)
            tc__relist_load(l, n, t->held[id], tc__ix_const(0));
        else if (n->op != TC_OP_END && !tc__opens(n))
            tc__relist_copy(l, n);
    }
    tc__hole_elements_end(t, width);
    tc__hole_close(l);
}

// What is done with the sum of the left operand's row: what stands behind the columns.
static void tc__total_hole(tc__producer *t) {
    tc__relist *l = &t->l;
    const tc__group *g = l->from;
    const tc__node *total = tc__total_of(g);
    tc__hole_words w;
    memset(&w, 0, sizeof w);
    w.made = -1, w.hole = TC__HOLE_TOTAL, w.width = 1, w.along = TC__ROW;
    w.buffer = tc__relist_buffer(l, TC__BUF_GIVEN, TC_F32, 1);
    w.row = -1, w.line = TC__ROW, w.deep = -1;
    tc__hole_open(l, &w);
    for (uint32_t id = tc__columns_end(g); id < g->body.node.count; id++) {
        const tc__node *n = g->body.node.at[id];
        if (n == total)
            tc__relist_load(l, n, w.buffer, tc__ix_const(0));
        else if (n->op != TC_OP_END)
            tc__relist_copy(l, n);
    }
    tc__hole_close(l);
}

// ---- templates ----

static int tc__template_leaves(const tc__group *g, tc__ix extent, int64_t by) {
    return tc__ix_divisor(g->body.ix, extent) % by != 0;
}

// Whether some load of the result's hole has the row in its index.
static int tc__result_loads_by_row(const tc__group *g) {
    for (size_t i = tc__product_rows_loop(g); i < g->body.node.count; i++) {
        const tc__node *n = g->body.node.at[i];
        for (uint32_t k = 0; k < n->n_attr && n->op == TC_OP_LOAD; k++)
            if (tc__attr_is_ix(n, k) && (tc__ix_uses(g->body.ix, n->attr[k], TC__ROW) ||
                                         tc__ix_has_val(g->body.ix, n->attr[k])))
                return 1;
    }
    return 0;
}

static void tc__mapped_numbers_of(const tc__group *g, const tc__product *q, int64_t *n) {
    int64_t batches = tc__ix_value(g->shape.batch);
    n[TC__TILES_BATCHES] = batches > 1 ? batches : 0;
    n[TC__TILES_BY_ROW] = tc__result_loads_by_row(g);
    n[TC__TILES_TURNS] = q->lines ? q->tile->cols / q->lines : 1;
    n[TC__TILES_RELAY] = q->relay;
    // Accesses of operands do not end inside a tile: what is behind comes as zeros.
    if (q->tile->way == TC__WAY_MAPPED) n[TC__TILES_RAGGED_DEPTH] = 0;
}

static void tc__tiles_numbers_of(const tc__group *g, const tc__product *q, int width,
                                 int64_t *n) {
    const tc__product_tile *tile = q->tile;
    n[TC__TILES_WAY] = tile->way, n[TC__TILES_ROWS] = tile->rows;
    n[TC__TILES_COLS] = tile->cols, n[TC__TILES_DEPTH] = q->depth;
    n[TC__TILES_HIGH] = tile->high, n[TC__TILES_ACROSS] = tile->across;
    n[TC__TILES_STAGES] = q->stages, n[TC__TILES_THREADS] = q->threads;
    n[TC__TILES_PACK] = tc__product_pack(q), n[TC__TILES_WIDTH] = width;
    n[TC__TILES_SLICES] = q->slices, n[TC__TILES_LENGTH] = q->length;
    n[TC__TILES_GROUP] = TC__SLICE_GROUP;
    n[TC__TILES_BATCHES] = !tc__ix_equals(g->shape.batch, 1);
    n[TC__TILES_RAGGED_ROWS] = tc__template_leaves(g, q->m, tile->rows);
    n[TC__TILES_RAGGED_COLS] = tc__template_leaves(g, g->shape.cols, tile->cols);
    n[TC__TILES_RAGGED_DEPTH] = tc__template_leaves(g, tc__depth_of(g), q->depth);
    n[TC__TILES_LAST] = n[TC__TILES_TURNS] = 0, n[TC__TILES_CLUSTER] = q->cluster;
    n[TC__TILES_BY_ROW] = n[TC__TILES_RELAY] = 0, n[TC__TILES_TOTAL] = q->total;
    if (tile->way >= TC__WAY_MAPPED) tc__mapped_numbers_of(g, q, n);
    for (int side = 0; side < 2; side++) {
        const tc__staged *o = side ? &q->right : &q->left;
        if (o->along == TC__DEPTH && tc__template_leaves(g, tc__depth_of(g), o->width))
            n[TC__TILES_LAST] = tc__ix_value(tc__depth_of(g)) % o->width;
    }
}

static void tc__skinny_numbers_of(const tc__producer *t, int ahead, int early, int64_t *n) {
    const tc__group *g = t->l.from;
    const tc__product *q = &t->q;
    int width = tc__wide_operand(q)->width;
    int busy = q->few * width * (q->each ? q->each : 1);
    if (tc__wide_operand(q)->computed) busy *= 2; // what is loaded is not yet the operand
    if (tc__product_bytes(q) == 8) busy *= 2;
    n[TC__SKINNY_BY_ROWS] = q->wide == TC__ROW, n[TC__SKINNY_DOT] = q->dot;
    n[TC__SKINNY_FEW] = q->few, n[TC__SKINNY_SHARING] = q->sharing;
    n[TC__SKINNY_EACH] = q->each, n[TC__SKINNY_COVER] = q->cover;
    n[TC__SKINNY_UNROLLED] = busy >= 256 ? 1 : busy > 32 ? 2 : 4;
    n[TC__SKINNY_THREADS] = q->threads;
    n[TC__SKINNY_WIDTH] = width, n[TC__SKINNY_AHEAD] = ahead;
    n[TC__SKINNY_SLICES] = q->slices, n[TC__SKINNY_LENGTH] = q->length;
    n[TC__SKINNY_GROUP] = TC__SLICE_GROUP;
    n[TC__SKINNY_BATCHES] = !tc__ix_equals(g->shape.batch, 1);
    int by_rows = q->wide == TC__ROW;
    n[TC__SKINNY_RAGGED_ROWS] = tc__template_leaves(g, q->m, by_rows ? q->cover : q->few);
    n[TC__SKINNY_RAGGED_COLS] =
        tc__template_leaves(g, g->shape.cols, by_rows ? q->few : q->cover);
    n[TC__SKINNY_RAGGED_DEPTH] =
        q->slices > 1 && !tc__ix_equals(tc__depth_of(g), q->slices * q->length);
    n[TC__SKINNY_MAKING] = t->plan.sharing, n[TC__SKINNY_STEPS] = q->ahead ? q->steps : 0;
    n[TC__SKINNY_EARLY] = early;
}

// For sums of the left operand: those of a tile's rows, and a ticket for 64 of them, where tiles beside each other meet.
static void tc__total_buffers(tc__producer *t, int64_t *attr) {
    int64_t rows = t->q.shares * t->q.tile->rows;
    attr[TC__TEMPLATE_TICKETS] =
        tc__relist_buffer(&t->l, TC__BUF_TICKET, TC_I32, rows / TC__MAP_LINE);
    attr[TC__TEMPLATE_SUMS] = tc__relist_buffer(&t->l, TC__BUF_WORK, TC_F32, rows);
}

// Memory of the block; where blocks share sums, their tickets and those.
static void tc__template_buffers(tc__producer *t, int64_t *attr) {
    const tc__product *q = &t->q;
    int dtype = tc__register_dtype(q->dtype);
    attr[TC__TEMPLATE_TICKETS] = attr[TC__TEMPLATE_SUMS] = -1;
    int64_t bytes = tc__ix_value(q->shared) - (t->plan.sharing ? q->made * q->row : 0);
    attr[TC__TEMPLATE_SHARED] = tc__relist_buffer(&t->l, TC__BUF_SHARED, dtype,
                                                  bytes / (int64_t)tc__dtypes[dtype].bytes);
    if (q->total) tc__total_buffers(t, attr);
    if (q->slices == 1) return;
    attr[TC__TEMPLATE_TICKETS] =
        tc__relist_buffer(&t->l, TC__BUF_TICKET, TC_I32, q->shares * tc__slice_tickets(q));
    attr[TC__TEMPLATE_SUMS] = tc__relist_buffer(
        &t->l, TC__BUF_WORK, dtype, q->shares * q->slices * q->threads * q->sums);
}

// f8 is multiplied as it lies in memory, other operands as `dtype`.
static int tc__staged_dtype(const tc__producer *t, const tc__staged *s, int dtype) {
    return tc__is_fp8(t->q.dtype) ? t->l.from->body.node.at[s->id]->dtype : dtype;
}

static void tc__tiles_holes(tc__producer *t, int width) {
    const tc__product *q = &t->q;
    int dtype = q->half ? q->dtype : tc__register_dtype(q->dtype);
    int left = tc__staged_dtype(t, &q->left, dtype),
        right = tc__staged_dtype(t, &q->right, dtype);
    tc__operand_hole(t, &q->left, TC__HOLE_LEFT, q->left.along, q->left.width, left);
    tc__operand_hole(t, &q->right, TC__HOLE_RIGHT, q->right.along, q->right.width, right);
    if (q->tile->way == TC__WAY_SPLIT) {
        tc__operand_hole(t, &q->left, TC__HOLE_LEFT_ONE, TC__DEPTH, 1, dtype);
        tc__operand_hole(t, &q->right, TC__HOLE_RIGHT_ONE, TC__DEPTH, 1, dtype);
    }
    const tc__relay *halves = q->relay ? &q->halves : NULL;
    if (halves) tc__rounded_hole(t, halves);
    tc__result_hole(t, width, TC__HOLE_RESULT, halves);
    if (q->total) tc__total_hole(t);
}

// The wide operand is read by vectors; the other one as k goes.
static void tc__skinny_holes(tc__producer *t, tc_ctx *c, int ahead, int early) {
    const tc__product *q = &t->q;
    const tc__staged *wide = tc__wide_operand(q),
                     *few = wide == &q->left ? &q->right : &q->left;
    int dtype = tc__register_dtype(q->dtype);
    tc__axis along = q->dot ? TC__DEPTH : q->wide;
    tc__hole left = TC__HOLE_LEFT, right = TC__HOLE_RIGHT;
    if (ahead) tc__ahead_hole(t, wide, q->wide);
    if (early) tc__early_hole(t);
    if (t->plan.sharing) tc__rows_hole(t, c);
    tc__operand_hole(t, wide, wide == &q->left ? left : right, along, wide->width, dtype);
    tc__operand_hole(t, few, few == &q->left ? left : right, TC__DEPTH,
                     q->dot ? wide->width : 1, dtype);
    tc__result_hole(t, 1, TC__HOLE_RESULT, NULL);
}

static void tc__put_tiles(tc__producer *t, int64_t *attr) {
    int width = t->q.width;
    if (t->q.tile->way >= TC__WAY_MAPPED && width > TC__MAPPED_WIDTH)
        width = TC__MAPPED_WIDTH;
    attr[TC__TEMPLATE_NAME] = TC__TEMPLATE_TILES;
    tc__tiles_numbers_of(t->l.from, &t->q, width, attr + TC__TEMPLATE_NUMBERS);
    tc__relist_put(&t->l, TC_OP_TEMPLATE, tc__register_dtype(t->q.dtype), attr,
                   TC__TEMPLATE_NUMBERS + (uint32_t)TC__TILES_NUMBERS);
    tc__tiles_holes(t, width);
}

static void tc__put_skinny(tc__producer *t, tc_ctx *c, int64_t *attr) {
    const tc__product *q = &t->q;
    const tc__staged *wide = tc__wide_operand(q);
    int ahead = !t->plan.sharing && !q->dot && wide->computed &&
                tc__operand_ahead(t, wide, q->wide);
    int early = t->plan.sharing && q->few * q->cover <= q->threads && tc__result_early(t);
    attr[TC__TEMPLATE_NAME] = TC__TEMPLATE_SKINNY;
    tc__skinny_numbers_of(t, ahead, early, attr + TC__TEMPLATE_NUMBERS);
    tc__relist_put(&t->l, TC_OP_TEMPLATE, tc__register_dtype(q->dtype), attr,
                   TC__TEMPLATE_NUMBERS + (uint32_t)TC__SKINNY_NUMBERS);
    tc__skinny_holes(t, c, ahead, early);
}

static void tc__put_template(tc__producer *t, tc_ctx *c) {
    const tc__group *g = t->l.from;
    int64_t attr[TC__NODE_WORDS];
    attr[TC__TEMPLATE_BLOCK] = t->j, attr[TC__TEMPLATE_ROWS] = t->q.m;
    attr[TC__TEMPLATE_COLS] = g->shape.cols, attr[TC__TEMPLATE_DEPTH] = tc__depth_of(g);
    tc__template_buffers(t, attr);
    if (t->q.form == TC__PRODUCT_TILES)
        tc__put_tiles(t, attr);
    else
        tc__put_skinny(t, c, attr);
    tc__relist_end(&t->l, TC__END_BLOCK);
}

static int tc__product_is_narrow(const tc__group *g) {
    return tc__device_is_narrow(g) &&
           tc__device_reach(g->body.ix, tc__depth_of(g)) < INT32_MAX - (1 << 20);
}

// Rows that are made first have a buffer of the block.
static void tc__producer_makes(tc__producer *t) {
    const tc__group *g = t->l.from;
    t->prologue = tc__prologue_of(g), t->plan = tc__prologue_plan(&t->prologue, &t->q);
    t->made = tc__left_rows(g) - g->buffer.at;
    tc__kbuf *made = &t->l.to->buffer.at[t->made];
    made->place = TC__BUF_SHARED;
    int64_t pitch = t->q.row / (int64_t)tc__dtypes[made->dtype].bytes;
    t->room = tc__padded(t->q.made, t->plan.sharing < 32 ? 32 / t->plan.sharing : 1);
    made->numel = tc__ix_const(t->room * pitch);
    t->base[t->made] =
        tc__ix_mul(g->body.ix, tc__ix_const(pitch),
                   tc__ix_var(g->body.ix, TC__TEMPLATE_I, tc__ix_const(t->room)));
    t->l.base = t->base;
}

// The list of product g; NULL = no memory.
static tc__group *tc__lower_product(tc_ctx *c, const tc__group *g) {
    tc__producer t;
    size_t nodes = g->body.node.count, buffers = g->buffer.count;
    memset(&t, 0, sizeof t);
    TC_ASSERT(g->shape.prologue || tc__contract_phases(g) == 1);
    t.q = tc__product_plan(g), t.rows = tc__product_rows_loop(g);
    int ok = tc__relist_open(&t.l, c, g);
    t.held = TC__NEW_ARRAY(c, int64_t, nodes), t.base = TC__NEW_ARRAY(c, tc__ix, buffers);
    if (!t.held || !t.base) t.l.failed = 1;
    for (size_t i = 0; i < nodes && t.held; i++) t.held[i] = -1;
    if (ok && !t.l.failed) {
        if (g->shape.prologue) tc__producer_makes(&t);
        tc__relist_launch(&t.l, tc__product_threads(&t.q), tc__product_is_narrow(g),
                          t.q.resident, t.q.cluster > 1 ? t.q.cluster : 0);
        t.j = tc__relist_for(&t.l, (tc__axis)TC__TEMPLATE_J, TC__BIND_GRID, t.q.blocks);
        tc__producer_threads(&t);
        tc__put_template(&t, c);
        tc__producer_threads_end(&t);
        tc__relist_end(&t.l, TC__TEMPLATE_J), tc__relist_end(&t.l, TC__END_BLOCK);
    }
    t.l.base = NULL;
    tc__free(c, t.held, nodes * sizeof *t.held);
    tc__free(c, t.base, buffers * sizeof *t.base);
    return tc__relist_close(&t.l, c);
}
