// How a chain of products (chain.c) is run, and whether a list is one. Input: what chain.c has found. Output: tiles, stages,
// what comes with columns; where the device brings operands, two chains beside each other as one.
//
// A pair is a list of two chains over the same rows (kernel/beside.c), the gradients of values and of keys:
//
//     product, product                   p of s = k q^T;                    p do
//     product, product, product          s again, dp = v do^T, ds of p, dp; ds q
//
// The second one's numbers `like` are the first one's scores: so s is multiplied once, and what the first chain multiplies with
// its scores is the second right operand, which is there.

// ---- sizes ----

static int64_t tc__chain_bytes(const tc__chain *q) {
    int64_t depth = q->depth[0] + q->depth[1];
    int64_t ring = 2 * (q->rows_high * depth + 2 * TC__CHAIN_STEP * (depth + q->wide));
    int64_t part = 4 * (int64_t)q->high * 16 * (q->wide + TC__PRODUCT_PAD);
    return ring > part ? ring : part;
}

// Rows of a warp are 32 where it has the registers for their sums: so each fragment of what all share serves twice.
static void tc__chain_sizes(tc__chain *q) {
    tc__ixpool *x = q->g->body.ix;
    int64_t sums = (q->inner * TC__CHAIN_STEP + q->wide) / 2; // with 16 rows
    int64_t lefts = (q->depth[0] + q->depth[1]) / 4;
    q->high = TC__CHAIN_WARPS, q->step = TC__CHAIN_STEP;
    int tall = 2 * sums <= TC__CHAIN_SUMS && tc__ix_hi(x, q->m) > 16 * q->high;
    q->rows_high = 16 * q->high * (tall ? 2 : 1);
    q->held = lefts * (tall ? 2 : 1) <= TC__CHAIN_LEFTS;
    q->bytes = tc__chain_bytes(q);
}

// ---- operands that the device brings ----

// The map of an operand of a part, of `lines` of each batch, in tiles of `tile` lines or `step` of k; 0 = there is none.
static int tc__chain_map(const tc__chain *q, int part, const tc__staged *s, int64_t lines,
                         int64_t tile, tc_device_map *map) {
    const tc__group *g = &q->part[part];
    tc__mapped o = tc__mapped_operand(g, s, q->m, q->g->shape.batch);
    o.lines = lines, o.tile = tile, o.step = q->step, o.dtype = q->dtype;
    int ok = tc__mapped_operand_map(g, s, &o, map);
    map->address = (uint32_t)tc__chain_node(q, s->id)->attr[TC__LOAD_BUFFER];
    return ok;
}

// Whether it can bring all of them; sets whether values are what it has brought before.
static int tc__chain_maps(tc__chain *q) {
    int64_t keys = tc__ix_value(tc__depth_of(q->g)), m = tc__ix_value(q->m);
    tc_device_map right[TC__CHAIN_INNER], left, value;
    for (int i = 0; i < q->inner; i++)
        if (!tc__chain_map(q, i, &q->left[i], m, q->rows_high, &left) ||
            !tc__chain_map(q, i, &q->right[i], keys, q->step, &right[i]))
            return 0;
    if (!tc__chain_map(q, q->parts - 1, &q->value, tc__ix_value(q->g->shape.cols), 0,
                       &value))
        return 0;
    q->same = q->softmax < 0 && q->wide == q->depth[0] &&
              !memcmp(&right[0], &value, sizeof value);
    return 1;
}

// Bytes of a block: left tiles of `rows` in all, `stages` of the others with `columns` words of each column, and semaphores.
static int64_t tc__mapped_chain_bytes(int64_t rows, int64_t cols, int64_t depth,
                                      int64_t wide, int64_t stages, int64_t columns) {
    return TC__PRODUCT_ALIGN + 2 * (rows * depth + stages * cols * (depth + wide)) +
           8 * (4 + 4 * stages) + 4 * stages * cols * columns;
}

static int64_t tc__chain_mapped_line(int64_t n) {
    return (n + TC__MAP_LINE - 1) / TC__MAP_LINE * TC__MAP_LINE;
}

// Tiles for matrix units: three groups of warps where sums leave them registers, else two; and as many columns of a step.
static void tc__chain_mapped_sizes(tc__chain *q) {
    int twice = q->depth[1] != 0;
    for (int i = 0; i < q->inner; i++) q->depth[i] = tc__chain_mapped_line(q->depth[i]);
    q->wide = tc__chain_mapped_line(q->wide);
    int narrow = q->wide == TC__MAP_LINE && q->depth[0] == TC__MAP_LINE;
    q->high = narrow && !q->pair && tc__ix_value(q->m) > TC__CHAIN_TALL ? 12 : 8;
    q->rows_high = 16 * q->high, q->step = twice ? 64 : 128;
}

// As many stages as a block has the memory for, at most, and left tiles of the next rows where steps are few; 0 = not two.
static int tc__chain_stages(tc__chain *q) {
    int64_t depth = q->depth[0] + q->depth[1], wide = q->same ? 0 : q->wide;
    int64_t keys = tc__ix_value(tc__depth_of(q->g));
    q->ahead = keys <= TC__CHAIN_FEW_STEPS * (int64_t)q->step ? 2 : 1;
    for (; q->ahead; q->ahead--)
        for (int stages = TC__CHAIN_STAGES_MOST; stages > 1; stages--) {
            q->bytes = tc__mapped_chain_bytes((int64_t)q->rows_high * q->ahead, q->step,
                                              depth, wide, stages, q->columns);
            if (!q->g->target.room ||
                q->bytes + TC__CHAIN_STATIC <= (int64_t)q->g->target.room)
                return stages;
        }
    return 0;
}

// ---- what scores are made of ----

// A value that a hole makes of what it is given: sums, then what is there of columns.
typedef struct tc__chain_made {
    const tc__node *value, *given[TC__CHAIN_INNER + TC__CHAIN_WORDS];
    int sums, count;
} tc__chain_made;

// Scores of q; `next`: of the chain beside it.
static tc__chain_made tc__chain_made_of(const tc__chain *q, int next) {
    tc__chain_made m;
    memset(&m, 0, sizeof m);
    m.value = tc__chain_value(q, next ? q->score_next : tc__chain_node(q, q->score));
    for (int i = 0; i < (next ? 1 : q->inner); i++)
        m.given[m.sums++] = tc__contract_of(&q->part[i]);
    if (next) m.given[0] = q->sum_next;
    if (!next && q->pair) m.given[0] = q->like;
    m.count = m.sums;
    for (int i = 0; i < q->columns; i++) m.given[m.count++] = q->column[i];
    return m;
}

// Columns that its hole gets at once: two, where a lane has both or none.
static int tc__chain_scores(const tc__chain *q) {
    if (q->few) return 1;
    return tc__ix_divisor(q->g->body.ix, q->part[0].shape.cols) % 2 ? 1 : 2;
}

// Whether LOAD n is the same for all rows of a batch, and one access for the columns of a score.
static int tc__is_of_column(const tc__chain *q, const tc__node *n) {
    tc__ixpool *x = q->g->body.ix;
    int width = tc__chain_scores(q);
    if (n->op != TC_OP_LOAD || n->level != TC__AT_COL ||
        !tc__is_memory(tc__buffer_of(q->g, n)))
        return 0;
    tc__ixrun run = tc__ix_run(x, n->attr[TC__LOAD_INDEX], TC__ROW);
    int still = run.ok && tc__ix_equals(run.stride, 0) &&
                (run.run == INT64_MAX || tc__ix_equals(q->m, run.run));
    return still && (width == 1 || tc__device_is_wide(&q->part[0], n, width, TC__COL));
}

// Finds the loads that are of a column alone: as many as are there for a whole access.
static void tc__chain_find_columns(tc__chain *q) {
    tc_ctx *c = q->g->body.ctx;
    size_t nodes = q->g->body.node.count;
    uint8_t *marked = TC__NEW_ARRAY(c, uint8_t, nodes);
    for (int next = 0; marked && next <= q->pair; next++) {
        tc__chain_made m = tc__chain_made_of(q, next);
        tc__chain_mark(q, m.value, m.given, m.sums, marked);
    }
    for (uint32_t id = 0; marked && id < nodes && !q->scale; id++) {
        const tc__node *n = tc__chain_node(q, id);
        if (marked[id] && tc__is_of_column(q, n) && n->dtype == TC_F32 &&
            q->columns < TC__CHAIN_WORDS)
            q->column[q->columns++] = n;
    }
    if (q->columns == 3) q->columns = 2;
    tc__free(c, marked, nodes);
}

// ---- pairs ----

// Whether two values of the list are the same, also where parts make them for themselves.
static int tc__chain_same(const tc__chain *q, const tc__node *a, const tc__node *b,
                          int depth) {
    a = tc__chain_value(q, a), b = tc__chain_value(q, b);
    if (a == b) return 1;
    if (!depth || a->op != b->op || a->dtype != b->dtype || a->n_in != b->n_in) return 0;
    if (a->op == TC_OP_COMBINE || a->op == TC_OP_RANDOM || a->n_attr != b->n_attr) return 0;
    if (a->n_attr && memcmp(a->attr, b->attr, a->n_attr * sizeof *a->attr)) return 0;
    for (uint32_t i = 0; i < a->n_in; i++)
        if (!tc__chain_same(q, tc__chain_node(q, a->in[i]), tc__chain_node(q, b->in[i]),
                            depth - 1))
            return 0;
    return 1;
}

// What of that n is made of is the same as p; NULL = nothing is.
static const tc__node *tc__chain_like(const tc__chain *q, const tc__node *n,
                                      const tc__node *p, int depth) {
    const tc__node *found = NULL;
    n = tc__chain_value(q, n);
    if (tc__chain_same(q, n, p, TC__CHAIN_FOLLOWED)) return n;
    if (!depth || !tc__is_alu(n)) return NULL;
    for (uint32_t i = 0; i < n->n_in && !found; i++)
        found = tc__chain_like(q, tc__chain_node(q, n->in[i]), p, depth - 1);
    return found;
}

static int tc__chain_of(const tc__group *g, tc__chain *q);

// Whether the list before q is a chain that can be beside it; sets what of it q has to know.
static int tc__chain_pairs(tc__chain *q) {
    tc__chain b;
    tc__chain_made m;
    tc_device_map right, value;
    if (q->softmax >= 0 || q->inner != 2 || !q->same || !tc__chain_of(&q->beside, &b))
        return 0;
    const tc__node *stored = tc__chain_node(q, b.score);
    if (b.softmax >= 0 || b.inner != 1 || b.pair || !b.stages || b.dtype != q->dtype ||
        b.band.low != q->band.low || b.band.up != q->band.up || b.wide != q->depth[1] ||
        stored->op != TC_OP_CAST)
        return 0;
    b.step = q->step;
    int64_t keys = tc__ix_value(tc__depth_of(q->g));
    if (!tc__chain_map(q, 1, &q->right[1], keys, q->step, &right) ||
        !tc__chain_map(&b, 1, &b.value, tc__ix_value(q->beside.shape.cols), 0, &value) ||
        memcmp(&right, &value, sizeof value))
        return 0;
    q->score_next = tc__chain_in(q, stored, 0), q->sum_next = tc__contract_of(&b.part[0]);
    q->rows_next = b.rows[1];
    q->like = tc__chain_like(q, tc__chain_node(q, q->score), q->score_next, TC__CHAIN_NEAR);
    if (!q->like || q->score_next->dtype != TC_F32 ||
        !tc__chain_same(q, tc__contract_of(&q->part[0]), q->sum_next, 2))
        return 0;
    m = tc__chain_made_of(q, 0);
    return tc__chain_fits(q, m.value, m.given, m.sums);
}

// The factor of sums that scores are; 0 = they are something else.
static uint32_t tc__chain_scale(const tc__chain *q) {
    const tc__node *n = tc__chain_value(q, tc__chain_node(q, q->score)), *by, *sum;
    if (q->softmax < 0 || n->op != TC_OP_MUL || n->dtype != TC_F32) return 0;
    int first = tc__chain_in(q, n, 0)->op == TC_OP_CONST;
    by = tc__chain_in(q, n, first ? 0 : 1), sum = tc__chain_in(q, n, first ? 1 : 0);
    while (sum->op == TC_OP_CAST && tc__is_float(sum->dtype)) sum = tc__chain_in(q, sum, 0);
    if (sum != tc__contract_of(&q->part[0]) || by->op != TC_OP_CONST) return 0;
    float f = (float)tc__const_value(by).f;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return f > 0 && f < 1e30f ? bits : 0;
}

// Whether its products are for matrix units, of operands that the device brings: then its sizes are set.
static int tc__chain_is_mapped(tc__chain *q) {
    const tc__group *g = q->g;
    tc__chain mapped = *q;
    if (!g->target.matrix_warps || !g->target.tensor_maps || g->target.checked ||
        !tc__ix_is_const(q->m) || !tc__ix_is_const(g->shape.batch) ||
        !tc__ix_is_const(tc__depth_of(g)) || tc__ix_value(q->m) <= TC__CHAIN_SHORT ||
        q->value.along != TC__COL)
        return 0;
    tc__chain_mapped_sizes(&mapped);
    if (mapped.wide > TC__CHAIN_MAPPED || mapped.depth[0] > TC__CHAIN_MAPPED ||
        mapped.depth[1] > TC__CHAIN_MAPPED || !tc__chain_maps(&mapped))
        return 0;
    mapped.stages = TC__CHAIN_STAGES_MOST; // values are those inside the band
    if (mapped.pair && !tc__chain_pairs(&mapped)) return 0;
    mapped.scale = tc__chain_scale(&mapped);
    tc__chain_find_columns(&mapped);
    mapped.stages = tc__chain_stages(&mapped);
    if (!mapped.stages) return 0;
    *q = mapped;
    return 1;
}

// ---- the whole ----

// Whether part i makes rows for a later one.
static int tc__chain_leads(const tc__chain *q, int i) {
    const tc__group *g = q->g;
    for (uint32_t id = q->part[i].shape.prologue; id < q->part[i].body.node.count; id++) {
        const tc__node *n = g->body.node.at[id];
        if (n->op == TC_OP_STORE && tc__buffer_of(g, n)->place == TC__BUF_MADE) return 1;
    }
    return 0;
}

static void tc__chain_parts(tc__chain *q) {
    int from;
    q->parts = tc__parts_of_list(q->g, q->part), q->softmax = -1;
    for (from = q->parts - 1; from > 0 && tc__chain_leads(q, from - 1);) from--;
    if (from > 0) q->pair = 1, q->beside = q->part[from - 1];
    q->parts -= from;
    for (int i = 0; i < q->parts; i++) q->part[i] = q->part[from + i];
    for (int i = 0; i < q->parts; i++) {
        uint32_t id = q->begin[i] = q->part[i].shape.prologue;
        while (tc__chain_node(q, id)->op != TC_OP_FOR) id++;
        q->rows[i] = id, q->part[i].shape.prologue = 0;
    }
    q->inner = q->parts - 1;
    if (q->parts > 2 && q->part[1].shape.kind == TC__REDUCTION)
        q->softmax = 1, q->inner = 1;
}

static int tc__chain_has_kinds(const tc__chain *q) {
    if (q->parts < 2 || q->parts > 3 || q->inner > TC__CHAIN_INNER) return 0;
    for (int i = 0; i < q->parts; i++)
        if (i != q->softmax && q->part[i].shape.kind != TC__CONTRACTION) return 0;
    return 1;
}

// Whether list g is such a product; 0 = it is not.
static int tc__chain_of(const tc__group *g, tc__chain *q) {
    memset(q, 0, sizeof *q);
    q->g = g;
    if (!g->shape.prologue || g->shape.kind != TC__CONTRACTION ||
        tc__count_contractions(g) < 2)
        return 0;
    tc__chain_parts(q);
    if (!tc__chain_has_kinds(q)) return 0;
    q->dtype = tc__chain_node(q, tc__left_of(g))->dtype;
    q->m = tc__ix_div(g->body.ix, g->shape.rows, g->shape.batch);
    if (!tc__is_half(q->dtype) || !tc__chain_operands(q)) return 0;
    const tc__node *store =
        tc__chain_store(q, tc__chain_node(q, tc__left_of(g))->attr[TC__LOAD_BUFFER]);
    const tc__node *stored = tc__chain_node(q, store->in[0]);
    q->score = stored->id;
    if (q->softmax >= 0 ? !tc__chain_softmax(q, stored) || !tc__chain_rows_fit(q)
                        : stored->dtype != q->dtype)
        return 0;
    if (!tc__chain_scores_fit(q) || !tc__chain_writes_rows(q)) return 0;
    q->band =
        tc__chain_band(q, tc__chain_node(q, q->score), q->softmax >= 0, TC__CHAIN_FOLLOWED);
    if (q->band.low <= 1 - tc__ix_hi(g->body.ix, q->m)) q->band.low = INT64_MIN;
    if (q->band.up >= tc__ix_hi(g->body.ix, tc__depth_of(g)) - 1) q->band.up = INT64_MAX;
    if (tc__decode_of(q)) return !g->target.room || q->bytes <= (int64_t)g->target.room;
    if (!tc__chain_is_mapped(q)) {
        if (q->pair) return 0;
        tc__chain_sizes(q);
    }
    q->blocks = tc__ix_mul(g->body.ix, g->shape.batch,
                           tc__ix_ceil_div(g->body.ix, q->m, tc__ix_const(q->rows_high)));
    return !g->target.room || q->bytes <= (int64_t)g->target.room;
}

// Whether a kernel of it is shorter than its products by themselves: rows fill its tiles.
static int tc__chain_pays(const tc__chain *q) {
    return q->few || tc__ix_hi(q->g->body.ix, q->m) > TC__CHAIN_FEW;
}

// Whether list g may be the beginning of one, which what reads its rows ends.
static int tc__chain_begins(const tc__group *g) {
    tc__chain q;
    memset(&q, 0, sizeof q);
    q.g = g;
    if (!g->shape.prologue || tc__parts_of_list(g, q.part) != 2) return 0;
    const tc__node *first = tc__contract_of(&q.part[0]);
    if (q.part[0].shape.kind != TC__CONTRACTION ||
        !tc__is_half(g->body.node.at[first->in[0]]->dtype))
        return 0;
    return q.part[1].shape.kind == TC__REDUCTION ||
           !tc__device_is_made(g, g->body.node.at[tc__left_of(g)]);
}
