// The list of products whose left operand is made of other products (chain.c): the template `chain`.
//
//     template chain b9 block=j of 1024 x 64 x 1024 rows=128 cols=64 ...
//       hole left - r q async ..; hole right r c q ..      operands of the first product (left_next, right_next: of the second),
//       hole value r p k async ..                          and the right one of the last
//       hole columns r p                                   what scores of two columns from p on need, whatever the row is
//       hole score r p b12 of 2 into b13                   two columns from p on: sums of the first products become scores
//       hole share r b14                                   the row's maximum and sum become what its result is multiplied with
//       hole score_next, result_next                       of the chain beside it
//       hole result r p b15 of 8
//
// Of few rows the template is `decode`, which has of these holes left, right, value, score, share and result, of one column.

// The operand holes of a part read its own columns and k.
static void tc__chain_operand_hole(tc__producer *t, const tc__chain *q, int part,
                                   const tc__staged *s, tc__hole hole) {
    const tc__group *whole = t->l.from;
    tc__product_tile tile;
    memset(&tile, 0, sizeof tile);
    tile.way = TC__WAY_MMA;
    tile.rows = (uint16_t)q->rows_high, tile.cols = (uint16_t)q->step;
    if (hole == TC__HOLE_VALUE)
        tile.cols = (uint16_t)q->wide, tile.depth = (uint16_t)q->step;
    else
        tile.depth = (uint16_t)q->depth[part];
    t->q.tile = &tile, t->l.from = &q->part[part];
    tc__operand_hole(t, s, hole, s->along, s->width, q->dtype);
    t->q.tile = NULL, t->l.from = whole;
}

// What the value of node `id` is made of, in the order of the list; sums are what the hole was given.
static void tc__chain_nodes(tc__producer *t, const tc__chain *q, const tc__node *value,
                            const tc__node *const *sums, const tc__ix *place, int count,
                            int64_t given, tc__ix lane) {
    tc__relist *l = &t->l;
    size_t nodes = q->g->body.node.count;
    tc_ctx *c = q->g->body.ctx;
    uint8_t *marked = TC__NEW_ARRAY(c, uint8_t, nodes);
    if (!marked) l->failed = 1;
    if (marked) tc__chain_mark(q, value, sums, count, marked);
    for (uint32_t id = 0; marked && id < nodes; id++) {
        const tc__node *n = tc__chain_node(q, id);
        int sum = -1;
        if (!marked[id]) continue;
        for (int i = 0; i < count; i++)
            if (n == sums[i]) sum = i;
        if (sum >= 0 || t->held[id] >= 0) {
            tc__relist_load(l, n, sum < 0 ? t->held[id] : given,
                            sum < 0 ? lane : place[sum]);
            continue;
        }
        for (uint32_t k = 0; k < n->n_in; k++) // what a row was made of is there
            l->at[n->in[k]] = l->at[tc__chain_in(q, n, k)->id];
        tc__relist_copy(l, n);
    }
    tc__free(c, marked, nodes);
}

// Loads what scores need of their columns, once for all rows of a thread. 0 = there is nothing.
static int tc__chain_columns(tc__producer *t, const tc__chain *q) {
    if (q->stages) return q->columns;
    const tc__node *sums[TC__CHAIN_INNER];
    size_t nodes = q->g->body.node.count;
    uint8_t *marked = TC__NEW_ARRAY(q->g->body.ctx, uint8_t, nodes);
    int some = 0;
    if (!marked) return t->l.failed = 1, 0;
    for (int i = 0; i < q->inner; i++) sums[i] = tc__contract_of(&q->part[i]);
    tc__chain_mark(q, tc__chain_node(q, q->score), sums, q->inner, marked);
    for (uint32_t id = 0; id < nodes; id++) {
        const tc__node *n = tc__chain_node(q, id);
        if (!marked[id] || !tc__is_of_column(q, n)) continue;
        t->held[id] = tc__relist_buffer(&t->l, TC__BUF_REGISTER,
                                        tc__buffer_of(q->g, n)->dtype, tc__chain_scores(q));
        some = 1;
    }
    tc__free(q->g->body.ctx, marked, nodes);
    return some;
}

static void tc__columns_hole(tc__producer *t, const tc__chain *q) {
    tc__relist *l = &t->l;
    tc__hole_words w;
    int width = tc__chain_scores(q);
    memset(&w, 0, sizeof w);
    w.hole = TC__HOLE_COLUMNS, w.buffer = w.made = -1, w.width = width, w.along = TC__COL;
    if (q->stages)
        w.made = tc__relist_buffer(l, TC__BUF_GIVEN, TC_F32, (int64_t)width * q->columns);
    w.row = TC__ROW, w.line = tc__operand_variable(TC__COL, TC__COL, width), w.deep = -1;
    tc__ix first = tc__producer_var(t, w.line, q->part[0].shape.cols, width);
    tc__hole_open(l, &w);
    for (int i = 0; q->stages && i < q->columns; i++)
        tc__relist_copy_vector(l, q->column[i], w.made, tc__ix_const((int64_t)width * i),
                               TC__COL, first, width);
    for (uint32_t id = 0; id < t->rows; id++)
        if (t->held[id] >= 0)
            tc__relist_copy_vector(l, tc__chain_node(q, id), t->held[id], tc__ix_const(0),
                                   TC__COL, first, width);
    tc__hole_close(l);
}

// `next`: of the chain beside it.
static void tc__score_hole(tc__producer *t, const tc__chain *q, int next) {
    tc__relist *l = &t->l;
    tc__ixpool *x = l->from->body.ix;
    const tc__group *whole = l->from;
    tc__chain_made m = tc__chain_made_of(q, next);
    tc__ix place[TC__CHAIN_INNER + TC__CHAIN_WORDS];
    tc__hole_words w;
    int width = tc__chain_scores(q);
    memset(&w, 0, sizeof w);
    w.hole = next ? TC__HOLE_SCORE_NEXT : TC__HOLE_SCORE, w.width = width,
    w.along = TC__COL;
    w.buffer = tc__relist_buffer(l, TC__BUF_GIVEN, TC_F32, (int64_t)width * m.count);
    w.made = tc__relist_buffer(l, TC__BUF_GIVEN,
                               next || q->softmax >= 0 ? TC_F32 : q->dtype, width);
    w.row = TC__ROW, w.line = tc__operand_variable(TC__COL, TC__COL, width), w.deep = -1;
    tc__hole_open(l, &w);
    l->from = &q->part[0]; // columns are those of scores
    tc__ix lane = tc__hole_elements(t, width, TC__COL, w.line, q->part[0].shape.cols);
    l->from = whole;
    for (int i = 0; i < m.count; i++)
        place[i] = tc__ix_add(x, lane, tc__ix_const((int64_t)width * i));
    tc__chain_nodes(t, q, m.value, m.given, place, m.count, w.buffer, lane);
    tc__relist_store(l, m.value, w.made, lane);
    tc__hole_elements_end(t, width);
    tc__hole_close(l);
}

// Whether STORE n writes a value of rows.
static int tc__stores_row(const tc__node *n) {
    return n->op == TC_OP_STORE && n->level == TC__AT_ROW;
}

// Marks what the softmax part computes of rows: for its stores, and what their results are multiplied with.
static void tc__share_mark(const tc__chain *q, uint8_t *marked) {
    const tc__node *sums[2];
    sums[0] = q->most, sums[1] = q->sum;
    if (q->share) tc__chain_mark(q, q->share, sums, 2, marked);
    for (uint32_t id = q->begin[q->softmax]; id < q->begin[q->softmax + 1]; id++) {
        const tc__node *n = tc__chain_node(q, id);
        if (tc__stores_row(n))
            tc__chain_mark(q, tc__chain_node(q, n->in[0]), sums, 2, marked);
    }
}

static void tc__share_hole(tc__producer *t, const tc__chain *q) {
    tc__relist *l = &t->l;
    size_t nodes = q->g->body.node.count;
    uint8_t *marked = TC__NEW_ARRAY(q->g->body.ctx, uint8_t, nodes);
    tc__hole_words w;
    if (!marked) l->failed = 1;
    if (!marked) return;
    tc__share_mark(q, marked);
    memset(&w, 0, sizeof w);
    w.hole = TC__HOLE_SHARE, w.width = 1, w.along = TC__COL, w.made = -1;
    w.buffer = tc__relist_buffer(l, TC__BUF_GIVEN, TC_F32, 4);
    w.row = TC__ROW, w.line = w.deep = -1;
    tc__hole_open(l, &w);
    for (uint32_t id = q->begin[q->softmax]; id < q->begin[q->softmax + 1]; id++) {
        const tc__node *n = tc__chain_node(q, id);
        if (marked[id] && (n == q->most || n == q->sum))
            tc__relist_load(l, n, w.buffer, tc__ix_const(n == q->sum));
        else if (marked[id] || tc__stores_row(n))
            tc__relist_copy(l, n);
    }
    if (q->share) tc__relist_store(l, q->share, w.buffer, tc__ix_const(2));
    tc__hole_close(l);
    tc__free(q->g->body.ctx, marked, nodes);
}

static int tc__chain_streamed(const tc__chain *q) {
    return q->softmax < 0 ? 0 : q->divides ? 2 : q->share ? 1 : 3;
}

static void tc__chain_numbers_of(const tc__chain *q, int width, int columns, int64_t *n) {
    const tc__group *g = q->g;
    n[TC__CHAIN_ROWS] = q->rows_high, n[TC__CHAIN_COLS] = q->step;
    n[TC__CHAIN_WIDE] = q->wide;
    n[TC__CHAIN_DEPTH] = q->depth[0], n[TC__CHAIN_NEXT] = q->depth[1];
    n[TC__CHAIN_HIGH] = q->high, n[TC__CHAIN_THREADS] = 32 * q->high;
    n[TC__CHAIN_PACK] = 4, n[TC__CHAIN_WIDTH] = width;
    n[TC__CHAIN_SCORES] = tc__chain_scores(q);
    n[TC__CHAIN_BARE] = q->softmax >= 0 && q->bare;
    n[TC__CHAIN_STREAMED] = tc__chain_streamed(q);
    n[TC__CHAIN_HELD] = q->held, n[TC__CHAIN_COLUMNS] = columns;
    n[TC__CHAIN_BATCHES] = !tc__ix_equals(g->shape.batch, 1);
    if (q->stages && n[TC__CHAIN_BATCHES])
        n[TC__CHAIN_BATCHES] = tc__ix_value(g->shape.batch);
    n[TC__CHAIN_RAGGED_ROWS] = tc__template_leaves(g, q->m, q->rows_high);
    n[TC__CHAIN_RAGGED_COLS] = tc__template_leaves(g, tc__depth_of(g), q->step);
    n[TC__CHAIN_RAGGED_WIDE] = tc__ix_value(g->shape.cols) != q->wide;
    n[TC__CHAIN_RAGGED_NEXT] = 0;
    for (int i = 0; i < q->inner; i++) {
        int64_t k = tc__ix_value(tc__depth_of(&q->part[i]));
        n[i ? TC__CHAIN_RAGGED_NEXT : TC__CHAIN_RAGGED_DEPTH] = k == q->depth[i] ? 0 : k;
    }
    n[TC__CHAIN_BAND] = (q->band.low != INT64_MIN) + 2 * (q->band.up != INT64_MAX);
    n[TC__CHAIN_LOW] = q->band.low == INT64_MIN ? 0 : q->band.low;
    n[TC__CHAIN_UP] = q->band.up == INT64_MAX ? 0 : q->band.up;
    n[TC__CHAIN_STAGES] = q->stages, n[TC__CHAIN_AHEAD] = q->ahead;
    n[TC__CHAIN_SAME] = q->same;
    n[TC__CHAIN_SCALE] = q->scale, n[TC__CHAIN_PAIR] = q->pair;
}

// The result of the chain beside it.
static void tc__chain_result_next(tc__producer *t, const tc__chain *q, int width) {
    const tc__group *whole = t->l.from;
    uint32_t rows = t->rows;
    t->l.from = &q->beside, t->rows = q->rows_next;
    tc__result_hole(t, width, TC__HOLE_RESULT_NEXT, NULL);
    t->l.from = whole, t->rows = rows;
}

static void tc__put_chain(tc__producer *t, const tc__chain *q) {
    tc__relist *l = &t->l;
    const tc__group *g = l->from;
    int64_t attr[TC__LIST_WORDS];
    int width = tc__result_width(g), columns = tc__chain_columns(t, q);
    if (q->stages && width > TC__MAPPED_WIDTH) width = TC__MAPPED_WIDTH;
    if (q->pair && tc__result_width(&q->beside) < width)
        width = tc__result_width(&q->beside);
    attr[TC__TEMPLATE_NAME] = TC__TEMPLATE_CHAIN;
    attr[TC__TEMPLATE_TICKETS] = attr[TC__TEMPLATE_SUMS] = -1;
    attr[TC__TEMPLATE_SHARED] = tc__relist_buffer(l, TC__BUF_SHARED, TC_F32, q->bytes / 4);
    attr[TC__TEMPLATE_BLOCK] = t->j, attr[TC__TEMPLATE_ROWS] = q->m;
    attr[TC__TEMPLATE_COLS] = g->shape.cols, attr[TC__TEMPLATE_DEPTH] = tc__depth_of(g);
    tc__chain_numbers_of(q, width, columns, attr + TC__TEMPLATE_NUMBERS);
    tc__relist_put(l, TC_OP_TEMPLATE, TC_F32, attr,
                   TC__TEMPLATE_NUMBERS + (uint32_t)TC__CHAIN_NUMBERS);
    for (int i = 0; i < q->inner; i++) {
        tc__chain_operand_hole(t, q, i, &q->left[i],
                               i ? TC__HOLE_LEFT_NEXT : TC__HOLE_LEFT);
        tc__chain_operand_hole(t, q, i, &q->right[i],
                               i ? TC__HOLE_RIGHT_NEXT : TC__HOLE_RIGHT);
    }
    tc__chain_operand_hole(t, q, q->parts - 1, &q->value, TC__HOLE_VALUE);
    if (columns) tc__columns_hole(t, q);
    if (q->pair) tc__score_hole(t, q, 1);
    tc__score_hole(t, q, 0);
    if (q->softmax >= 0) tc__share_hole(t, q);
    tc__result_hole(t, width, TC__HOLE_RESULT, NULL);
    if (q->pair) tc__chain_result_next(t, q, width);
    tc__relist_end(l, TC__END_BLOCK);
}

// ---- few rows ----

static void tc__decode_numbers_of(const tc__chain *q, int64_t *n) {
    const tc__group *g = q->g;
    int low = q->band.low != INT64_MIN, up = q->band.up != INT64_MAX;
    n[TC__DECODE_ROWS] = q->few, n[TC__DECODE_WIDE] = tc__ix_value(g->shape.cols);
    n[TC__DECODE_DEPTH] = tc__ix_value(tc__depth_of(&q->part[0]));
    n[TC__DECODE_LANES] = q->lanes, n[TC__DECODE_EACH] = TC__DECODE_KEYS;
    n[TC__DECODE_THREADS] = TC__DECODE_GROUP;
    n[TC__DECODE_SLICES] = q->slices, n[TC__DECODE_CLUSTER] = q->cluster != 0;
    n[TC__DECODE_SINGLE] = q->single;
    n[TC__DECODE_STREAMED] = tc__chain_streamed(q), n[TC__DECODE_BARE] = q->bare;
    n[TC__DECODE_BATCHES] = !tc__ix_equals(g->shape.batch, 1);
    n[TC__DECODE_RAGGED_COLS] =
        low || up || tc__template_leaves(g, tc__depth_of(g), (int64_t)q->step * q->slices);
    n[TC__DECODE_BAND] = low + 2 * up;
    n[TC__DECODE_LOW] = low ? q->band.low : 0;
    n[TC__DECODE_UP] = up ? q->band.up + tc__ix_value(q->m) : 0;
}

static void tc__put_decode(tc__producer *t, const tc__chain *q) {
    tc__relist *l = &t->l;
    const tc__group *g = l->from;
    int64_t attr[TC__LIST_WORDS], blocks = tc__ix_value(q->blocks);
    attr[TC__TEMPLATE_NAME] = TC__TEMPLATE_DECODE;
    attr[TC__TEMPLATE_TICKETS] = attr[TC__TEMPLATE_SUMS] = -1;
    attr[TC__TEMPLATE_SHARED] = tc__relist_buffer(l, TC__BUF_SHARED, TC_F32, q->bytes / 4);
    if (q->slices > 1 && !q->cluster) {
        attr[TC__TEMPLATE_TICKETS] =
            tc__relist_buffer(l, TC__BUF_TICKET, TC_I32, blocks / q->slices);
        attr[TC__TEMPLATE_SUMS] = tc__relist_buffer(
            l, TC__BUF_WORK, TC_F32, blocks * tc__decode_room(q->few, q->lanes));
    }
    attr[TC__TEMPLATE_BLOCK] = t->j, attr[TC__TEMPLATE_ROWS] = q->m;
    attr[TC__TEMPLATE_COLS] = g->shape.cols, attr[TC__TEMPLATE_DEPTH] = tc__depth_of(g);
    tc__decode_numbers_of(q, attr + TC__TEMPLATE_NUMBERS);
    tc__relist_put(l, TC_OP_TEMPLATE, TC_F32, attr,
                   TC__TEMPLATE_NUMBERS + (uint32_t)TC__DECODE_NUMBERS);
    tc__chain_operand_hole(t, q, 0, &q->left[0], TC__HOLE_LEFT);
    tc__chain_operand_hole(t, q, 0, &q->right[0], TC__HOLE_RIGHT);
    tc__chain_operand_hole(t, q, q->parts - 1, &q->value, TC__HOLE_VALUE);
    tc__score_hole(t, q, 0);
    tc__share_hole(t, q);
    tc__result_hole(t, 1, TC__HOLE_RESULT, NULL);
    tc__relist_end(l, TC__END_BLOCK);
}

// ---- the list ----

static void tc__chain_launch(tc__producer *t, const tc__chain *q) {
    int resident = q->few ? q->resident : q->stages ? 1 : 2;
    tc__relist_launch(&t->l, t->q.threads, tc__product_is_narrow(t->l.from), resident,
                      q->few ? q->cluster : 0);
    t->j = tc__relist_for(&t->l, (tc__axis)TC__TEMPLATE_J, TC__BIND_GRID, q->blocks);
    tc__producer_threads(t);
    if (q->few)
        tc__put_decode(t, q);
    else
        tc__put_chain(t, q);
    tc__producer_threads_end(t);
    tc__relist_end(&t->l, TC__TEMPLATE_J), tc__relist_end(&t->l, TC__END_BLOCK);
}

// Its list; NULL = no memory.
static tc__group *tc__lower_chain(tc_ctx *c, const tc__group *g, const tc__chain *q) {
    tc__producer t;
    size_t nodes = g->body.node.count;
    memset(&t, 0, sizeof t);
    t.q.form = TC__PRODUCT_TILES, t.q.dtype = q->dtype, t.q.half = 1;
    t.q.threads = 32 * q->high + (q->stages ? TC__MAP_BRINGERS : 0), t.q.m = q->m;
    t.rows = q->rows[q->parts - 1];
    int ok = tc__relist_open(&t.l, c, g);
    t.held = TC__NEW_ARRAY(c, int64_t, nodes);
    if (!t.held) t.l.failed = 1;
    for (size_t i = 0; i < nodes && t.held; i++) t.held[i] = -1;
    if (ok && !t.l.failed) tc__chain_launch(&t, q);
    tc__free(c, t.held, nodes * sizeof *t.held);
    return tc__relist_close(&t.l, c);
}
