// Products whose left operand is made of other products, for all of a row: attention, and its gradients. Input: a LOOP list of
// several parts (kernel/part.c). Output: what chain_plan.c makes a plan of, for the text cuda/chain.cuh; or that the
// list is none of those.
//
//     product, softmax, product          the scores are streamed: a block of columns after the other, with the maximum so far
//     product, product                   a gradient of the values: shares are computed again
//     product, product, product          those of queries and keys: the first two make the left operand of the last
//
// The first of few rows has a text of its own: decode.c. All operands are halves as memory has them. Between the products are
// element-wise ops, with what they load for the row, the column or both; where they say that only some columns of a row count,
// as a causal mask does, the others are not looked at.

enum {
    TC__CHAIN_INNER = 2,     // products before the last, at most
    TC__CHAIN_STEP = 64,     // columns of a step
    TC__CHAIN_WARPS = 4,     // of a block
    TC__CHAIN_FEW = 16,      // rows of a batch, below which tiles are mostly empty
    TC__CHAIN_LONGEST = 256, // k of the first products, and columns of the last
    TC__CHAIN_SUMS = 128,    // of a thread whose warp has 32 rows, at most
    TC__CHAIN_LEFTS = 32,    // words of left operands that a thread holds
    TC__CHAIN_FOLLOWED = 24, // nodes that are followed for one question,
    TC__CHAIN_NEAR = 8,      //   and for one that is asked of each
    // where the device brings operands:
    TC__CHAIN_SHORT = 64,      // rows of a batch, below which its tiles are mostly empty
    TC__CHAIN_TALL = 2048,     //   and above which a block has three groups of 64
    TC__CHAIN_MAPPED = 128,    // k of the first products, and columns of the last
    TC__CHAIN_STAGES_MOST = 4, // of the ring
    TC__CHAIN_STATIC = 1024,   // bytes that a text may declare beside them
    TC__CHAIN_WORDS = 4,       // that scores of a column need, in shared memory
    TC__CHAIN_FEW_STEPS =
        16 // of a block of rows: to wait for left tiles takes a part of them
};

// Columns c of row r that count: r + low <= c <= r + up.
typedef struct tc__band {
    int64_t low, up; // INT64_MIN, INT64_MAX = all
} tc__band;

typedef struct tc__chain {
    const tc__group *g;
    tc__group part[TC__LIST_PARTS]; // that begin at 0: prologue is not theirs
    uint32_t begin[TC__LIST_PARTS],
        rows[TC__LIST_PARTS]; // nodes: the first, and the loop over rows
    int parts, inner;
    int softmax; // the part that is one, -1 = none is
    int dtype;
    uint32_t
        score; // the node whose value the last product's left operand is, or the logit of
    const tc__node *
        share; // softmax: what its sums are multiplied with, of values of the row; NULL = 1
    int divides; //   or divided by
    int bare;    // a row of -inf alone has no number for a maximum: it is NaN
    const tc__node *most, *sum; // and the COMBINEs
    tc__staged left[TC__CHAIN_INNER], right[TC__CHAIN_INNER], value;
    tc__band band;
    int64_t depth[TC__CHAIN_INNER], wide; // as tiles have them
    int high, rows_high;                  // warps that multiply, and rows of a block
    int step;                             // columns
    int held;
    int stages; // of the ring that the device fills by maps; 0 = threads do,
    int ahead;  //   with so many left tiles,
    int same;   //   and values are the first right operand,
    const tc__node
        *column[TC__CHAIN_WORDS]; //   and loads that are of a column alone come with it
    int columns;
    // Of a pair, the chain beside it: its last part, its scores, which are the numbers `like` of this one, and its values.
    int pair;
    tc__group beside;
    const tc__node *score_next, *sum_next, *like;
    uint32_t rows_next;
    uint32_t scale; // scores are sums times this, a float's bits; 0 = they are not
    tc__ix m, blocks;
    int64_t bytes;
    // Of few rows (decode.c): those of a block, 0 = they are not; lanes that share a key, and blocks that share keys.
    int few, lanes, slices, cluster, single, resident;
} tc__chain;

static const tc__node *tc__chain_node(const tc__chain *q, uint32_t id) {
    return q->g->body.node.at[id];
}

// ---- operands ----

// An operand that is copied as it is, 16 bytes along `axis` at once. 0 = it is not.
static int tc__chain_operand(const tc__chain *q, const tc__group *part, tc__level level,
                             tc__axis axis, tc__staged *s) {
    uint32_t id = level == TC__AT_LEFT ? tc__left_of(part) : tc__right_of(part);
    const tc__node *n = tc__chain_node(q, id);
    tc__ix extent = axis == TC__COL ? part->shape.cols : tc__depth_of(part);
    memset(s, 0, sizeof *s);
    s->level = level, s->id = id, s->along = axis, s->width = 8, s->bring = TC__BRING_ASYNC;
    return n->op == TC_OP_LOAD && n->level == (uint8_t)level && n->dtype == q->dtype &&
           n->n_attr == TC__LOAD_PREDICATES && tc__is_memory(tc__buffer_of(q->g, n)) &&
           tc__buffer_of(q->g, n)->dtype == q->dtype &&
           tc__ix_divisor(q->g->body.ix, extent) % 8 == 0 &&
           tc__is_wide_load(part, n, 8, axis);
}

// k or columns of a tile: whole pieces of 16, in lines that swizzling knows. 0 = too many.
static int64_t tc__chain_line(tc__ix extent) {
    if (!tc__ix_is_const(extent)) return 0;
    int64_t n = tc__ix_value(extent), line = 16;
    while (line < n) line += line < 64 ? line : 64;
    return n > 0 && line <= TC__CHAIN_LONGEST ? line : 0;
}

static int tc__chain_operands(tc__chain *q) {
    const tc__group *last = &q->part[q->parts - 1];
    const tc__node *left = tc__chain_node(q, tc__left_of(last));
    for (int i = 0; i < q->inner; i++) {
        q->depth[i] = tc__chain_line(tc__depth_of(&q->part[i]));
        if (!q->depth[i] ||
            !tc__chain_operand(q, &q->part[i], TC__AT_LEFT, TC__DEPTH, &q->left[i]) ||
            !tc__chain_operand(q, &q->part[i], TC__AT_RIGHT, TC__DEPTH, &q->right[i]))
            return 0;
    }
    q->wide = tc__chain_line(last->shape.cols);
    return q->wide && left->op == TC_OP_LOAD && tc__device_is_made(q->g, left) &&
           tc__buffer_of(q->g, left)->dtype == q->dtype &&
           (tc__chain_operand(q, last, TC__AT_RIGHT, TC__COL, &q->value) ||
            tc__chain_operand(q, last, TC__AT_RIGHT, TC__DEPTH, &q->value));
}

// ---- what stands between ----

// The STORE that fills made row b.
static const tc__node *tc__chain_store(const tc__chain *q, int64_t b) {
    for (size_t i = 0; i < q->g->body.node.count; i++) {
        const tc__node *n = tc__chain_node(q, (uint32_t)i);
        if (n->op == TC_OP_STORE && n->attr[TC__STORE_BUFFER] == b) return n;
    }
    return NULL;
}

static int tc__chain_holds(const tc__chain *q, const tc__node *where);

// The value that n is, of a row that an earlier part has made or this one has kept; where the text looks after the
// band, of a choice that the band makes what stands in it.
static const tc__node *tc__chain_value(const tc__chain *q, const tc__node *n) {
    for (;;) {
        if (q->stages && n->op == TC_OP_WHERE && tc__chain_holds(q, n)) {
            n = tc__chain_node(q, n->in[1]);
            continue;
        }
        if (n->op != TC_OP_LOAD || tc__is_memory(tc__buffer_of(q->g, n)) ||
            n->level != TC__AT_COL)
            return n;
        const tc__node *store = tc__chain_store(q, n->attr[TC__LOAD_BUFFER]);
        if (!store) return n;
        n = tc__chain_node(q, store->in[0]);
    }
}

static const tc__node *tc__chain_in(const tc__chain *q, const tc__node *n, uint32_t i) {
    return tc__chain_value(q, tc__chain_node(q, n->in[i]));
}

// Whether n can stand in a hole: it needs nothing of other columns, and no list of predicates.
static int tc__chain_is_plain(const tc__chain *q, const tc__node *n) {
    if (n->op == TC_OP_LOAD)
        return tc__is_memory(tc__buffer_of(q->g, n)) && n->n_attr == TC__LOAD_PREDICATES &&
               !tc__buffer_of(q->g, n)->written &&
               !tc__ix_has_val(q->g->body.ix, n->attr[TC__LOAD_INDEX]);
    if (n->op == TC_OP_INDEX || n->op == TC_OP_VALID) {
        for (uint32_t i = 0; i < n->n_attr; i++)
            if (tc__ix_has_val(q->g->body.ix, n->attr[i])) return 0;
        return 1;
    }
    return tc__is_alu(n) || n->op == TC_OP_CONST || n->op == TC_OP_ARG;
}

// Marks what n is made of; 0 = not all of it can stand in a hole. `sums` may: values that a hole is given.
static int tc__chain_mark(const tc__chain *q, const tc__node *n,
                          const tc__node *const *sums, int count, uint8_t *marked) {
    n = tc__chain_value(q, n);
    if (marked[n->id]) return 1;
    marked[n->id] = 1;
    for (int i = 0; i < count; i++)
        if (n == sums[i]) return 1;
    if (!tc__chain_is_plain(q, n)) return 0;
    for (uint32_t k = 0; k < n->n_in; k++)
        if (!tc__chain_mark(q, tc__chain_node(q, n->in[k]), sums, count, marked)) return 0;
    return 1;
}

// Whether all that n is made of can stand in its hole.
static int tc__chain_fits(const tc__chain *q, const tc__node *n,
                          const tc__node *const *sums, int count) {
    tc_ctx *c = q->g->body.ctx;
    uint8_t *marked = TC__NEW_ARRAY(c, uint8_t, q->g->body.node.count);
    int ok = marked && tc__chain_mark(q, n, sums, count, marked);
    tc__free(c, marked, q->g->body.node.count);
    return ok;
}

static int tc__chain_scores_fit(const tc__chain *q) {
    const tc__node *sums[TC__CHAIN_INNER];
    for (int i = 0; i < q->inner; i++) sums[i] = tc__contract_of(&q->part[i]);
    return tc__chain_fits(q, tc__chain_node(q, q->score), sums, q->inner);
}

// Whether what a part but the last writes to memory are values of rows, of a softmax.
static int tc__chain_writes_rows(const tc__chain *q) {
    for (uint32_t id = q->begin[0]; id < q->begin[q->parts - 1]; id++) {
        const tc__node *n = tc__chain_node(q, id);
        int inner = q->softmax < 0 || id < q->begin[q->softmax];
        if (n->op == TC_OP_STORE && tc__is_memory(tc__buffer_of(q->g, n)) &&
            (inner || n->level != TC__AT_ROW))
            return 0;
        if (n->op == TC_OP_CHECK || n->op == TC_OP_RANDOM) return 0;
    }
    return 1;
}

// ---- softmax ----

// The COMBINE of this monoid that row value n is, also where it is kept from what no sum of a softmax is: the least number
// or less of a maximum, 1 of a sum.
static const tc__node *tc__chain_combine(const tc__chain *q, const tc__node *n,
                                         tc__op monoid) {
    if (n->op == TC_OP_MAXIMUM && monoid == TC_OP_MAXIMUM) {
        const tc__node *least = tc__chain_node(q, n->in[1]);
        if (least->op != TC_OP_CONST || tc__const_value(least).f > -3e38) return NULL;
        n = tc__chain_node(q, n->in[0]);
    }
    return n->op == TC_OP_COMBINE && n->attr[TC__COMBINE_MONOID] == (int64_t)monoid ? n
                                                                                    : NULL;
}

// The exponential that n is: of its operand without a maximum.
static const tc__node *tc__chain_exponential(tc__chain *q, const tc__node *n) {
    n = tc__chain_value(q, n);
    if (n->op != TC_OP_EXP) return NULL;
    const tc__node *d = tc__chain_in(q, n, 0);
    return d->op == TC_OP_SUB ? d : NULL;
}

// Whether row value n is made of the two COMBINEs alone.
static int tc__chain_is_of_sums(const tc__chain *q, const tc__node *n) {
    const tc__node *sums[2];
    sums[0] = q->most, sums[1] = q->sum;
    return n->level == TC__AT_ROW && tc__chain_fits(q, n, sums, 2);
}

// Sets what the softmax part is: its logits, and what divides their exponentials.
static int tc__chain_softmax(tc__chain *q, const tc__node *stored) {
    const tc__group *g = q->g;
    const tc__node *n = stored;
    while (n->op == TC_OP_CAST && tc__is_float(n->dtype)) n = tc__chain_in(q, n, 0);
    const tc__node *e = n;
    if (n->op == TC_OP_MUL || n->op == TC_OP_DIV) {
        int first = tc__chain_exponential(q, tc__chain_node(q, n->in[0])) != NULL;
        if (!first && n->op == TC_OP_DIV) return 0;
        e = tc__chain_node(q, n->in[first ? 0 : 1]);
        q->share = tc__chain_node(q, n->in[first ? 1 : 0]), q->divides = n->op == TC_OP_DIV;
    }
    const tc__node *d = tc__chain_exponential(q, e);
    if (!d) return 0;
    q->bare = tc__chain_node(q, d->in[1])->op == TC_OP_COMBINE;
    q->most = tc__chain_combine(q, tc__chain_node(q, d->in[1]), TC_OP_MAXIMUM);
    if (!q->most) return 0;
    const tc__node *top = tc__acc_of(g, q->most->attr[TC__COMBINE_ACCUMULATOR]);
    q->score = top->in[0];
    if (!tc__same_value(g, d->in[0], q->score, TC__CHAIN_FOLLOWED)) return 0;
    for (uint32_t id = q->begin[q->softmax]; id < q->begin[q->softmax + 1]; id++) {
        const tc__node *acc = tc__chain_node(q, id);
        if (acc->op != TC_OP_COMBINE || acc == q->most) continue;
        if (q->sum || acc->attr[TC__COMBINE_MONOID] != TC_OP_ADD) return 0;
        q->sum = acc;
    }
    if (!q->sum) return 0;
    const tc__node *step = tc__acc_of(g, q->sum->attr[TC__COMBINE_ACCUMULATOR]);
    const tc__node *summed = tc__chain_value(q, tc__chain_node(q, step->in[0]));
    const tc__node *same = tc__chain_value(q, e);
    return (summed == same ||
            tc__same_value(g, summed->id, same->id, TC__CHAIN_FOLLOWED)) &&
           (!q->share || tc__chain_is_of_sums(q, q->share));
}

// Whether all that the part computes of rows and writes is made of its two sums.
static int tc__chain_rows_fit(const tc__chain *q) {
    for (uint32_t id = q->begin[q->softmax]; id < q->begin[q->softmax + 1]; id++) {
        const tc__node *n = tc__chain_node(q, id);
        if (n->op == TC_OP_STORE && n->level == TC__AT_ROW &&
            !tc__chain_is_of_sums(q, tc__chain_node(q, n->in[0])))
            return 0;
    }
    return 1;
}

// ---- columns that count ----

static const tc__band tc__band_all = {INT64_MIN, INT64_MAX}, tc__band_none = {1, 0};

static int tc__band_is_all(tc__band b) { return b.low == INT64_MIN && b.up == INT64_MAX; }

static tc__band tc__band_both(tc__band a, tc__band b) {
    tc__band both = a;
    if (b.low > both.low) both.low = b.low;
    if (b.up < both.up) both.up = b.up;
    return both;
}

// A whole number that depends on the place alone, as an index; 0 = n is none.
static tc__ix tc__chain_place(const tc__chain *q, const tc__node *n) {
    tc__ixpool *x = q->g->body.ix;
    n = tc__chain_value(q, n);
    if (n->dtype != TC_I64 && n->dtype != TC_I32) return 0; // smaller ones wrap
    if (n->op == TC_OP_INDEX) return n->attr[TC__INDEX_EXPR];
    if (n->op == TC_OP_CONST) return tc__ix_const(tc__const_value(n).i);
    if (n->op == TC_OP_CAST) return tc__chain_place(q, tc__chain_node(q, n->in[0]));
    if (n->op != TC_OP_ADD && n->op != TC_OP_SUB) return 0;
    tc__ix a = tc__chain_place(q, tc__chain_node(q, n->in[0])),
           b = tc__chain_place(q, tc__chain_node(q, n->in[1]));
    if (!a || !b) return 0;
    return n->op == TC_OP_ADD ? tc__ix_add(x, a, b) : tc__ix_sub(x, a, b);
}

// Where 0 <= e.
static tc__band tc__chain_from(const tc__chain *q, tc__ix e) {
    tc__ixpool *x = q->g->body.ix;
    tc__band band = tc__band_all;
    tc__ix col = tc__ix_var(x, TC__COL, q->part[0].shape.cols),
           row = tc__ix_var(x, TC__ROW, q->g->shape.rows);
    if (!tc__ix_equals(q->g->shape.batch, 1)) row = tc__ix_mod(x, row, q->m);
    tc__ix across = tc__ix_sub(x, col, row);
    tc__ix up = tc__ix_add(x, e, across), low = tc__ix_sub(x, e, across);
    if (tc__ix_is_const(up))
        band.up = tc__ix_value(up);
    else if (tc__ix_is_const(low))
        band.low = -tc__ix_value(low);
    return band;
}

// Where 0 <= e < limit of all pairs.
static tc__band tc__chain_within(const tc__chain *q, const tc__node *n) {
    tc__ixpool *x = q->g->body.ix;
    tc__band band = tc__band_all;
    for (uint32_t i = 0; i + 1 < n->n_attr; i += 2) {
        tc__ix below =
            tc__ix_sub(x, tc__ix_sub(x, n->attr[i + 1], tc__ix_const(1)), n->attr[i]);
        band = tc__band_both(band, tc__chain_from(q, n->attr[i]));
        band = tc__band_both(band, tc__chain_from(q, below));
    }
    return band;
}

// Where condition n holds.
static tc__band tc__chain_where(const tc__chain *q, const tc__node *n) {
    tc__ixpool *x = q->g->body.ix;
    n = tc__chain_value(q, n);
    if (n->op == TC_OP_VALID) return tc__chain_within(q, n);
    if (n->op == TC_OP_LOGICAL_AND || n->op == TC_OP_BITWISE_AND)
        return tc__band_both(tc__chain_where(q, tc__chain_node(q, n->in[0])),
                             tc__chain_where(q, tc__chain_node(q, n->in[1])));
    int less = n->op == TC_OP_LT || n->op == TC_OP_LE,
        strict = n->op == TC_OP_LT || n->op == TC_OP_GT;
    if (!less && n->op != TC_OP_GT && n->op != TC_OP_GE) return tc__band_all;
    tc__ix a = tc__chain_place(q, tc__chain_node(q, n->in[less ? 0 : 1])),
           b = tc__chain_place(q, tc__chain_node(q, n->in[less ? 1 : 0]));
    if (!a || !b) return tc__band_all;
    return tc__chain_from(q, tc__ix_sub(x, tc__ix_sub(x, b, a), tc__ix_const(strict)));
}

// Whether condition n is that of the band that tc__chain_where tells, and nothing more.
static int tc__chain_is_band(const tc__chain *q, const tc__node *n) {
    n = tc__chain_value(q, n);
    if (n->op == TC_OP_LOGICAL_AND || n->op == TC_OP_BITWISE_AND)
        return tc__chain_is_band(q, tc__chain_node(q, n->in[0])) &&
               tc__chain_is_band(q, tc__chain_node(q, n->in[1]));
    if (n->op == TC_OP_VALID) {
        tc__ixpool *x = q->g->body.ix;
        for (uint32_t i = 0; i + 1 < n->n_attr; i += 2) {
            tc__ix below =
                tc__ix_sub(x, tc__ix_sub(x, n->attr[i + 1], tc__ix_const(1)), n->attr[i]);
            if (tc__band_is_all(tc__chain_from(q, n->attr[i])) ||
                tc__band_is_all(tc__chain_from(q, below)))
                return 0;
        }
        return 1;
    }
    return !tc__band_is_all(tc__chain_where(q, n));
}

// Whether the condition of `where` is true of all columns that count.
static int tc__chain_holds(const tc__chain *q, const tc__node *where) {
    tc__ixpool *x = q->g->body.ix;
    const tc__node *condition = tc__chain_node(q, where->in[0]);
    if (!tc__chain_is_band(q, condition)) return 0;
    tc__band b = tc__chain_where(q, condition);
    int64_t low = 1 - tc__ix_hi(x, q->m), up = tc__ix_hi(x, tc__depth_of(q->g)) - 1;
    if (q->band.low > low) low = q->band.low;
    if (q->band.up < up) up = q->band.up;
    return b.low <= low && b.up >= up;
}

// Outside of which n is 0, or (least) -inf.
static tc__band tc__chain_band(const tc__chain *q, const tc__node *n, int least,
                               int depth) {
    n = tc__chain_value(q, n);
    if (!depth--) return tc__band_all;
#define TC__BAND(i, least) tc__chain_band(q, tc__chain_node(q, n->in[i]), least, depth)
    if (n->op == TC_OP_WHERE) {
        tc__band other = TC__BAND(2, least);
        if (other.low <= other.up) return tc__band_all;
        return tc__band_both(tc__chain_where(q, tc__chain_node(q, n->in[0])),
                             TC__BAND(1, least));
    }
    if (n->op == TC_OP_CONST) {
        double v = tc__const_value(n).f;
        return v == (least ? -tc__infinity() : 0) ? tc__band_none : tc__band_all;
    }
    if (n->op == TC_OP_CAST && tc__is_float(n->dtype)) return TC__BAND(0, least);
    if (least) return n->op == TC_OP_SUB ? TC__BAND(0, 1) : tc__band_all;
    if (n->op == TC_OP_EXP || n->op == TC_OP_EXP2) return TC__BAND(0, 1);
    if (n->op == TC_OP_NEG || n->op == TC_OP_DIV) return TC__BAND(0, 0);
    if (n->op == TC_OP_MUL) return tc__band_both(TC__BAND(0, 0), TC__BAND(1, 0));
#undef TC__BAND
    return tc__band_all;
}
