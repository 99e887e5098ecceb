// Borders: what pads and concatenations test at every element is known for most of a range. A box is a
// part of a loop over columns in which facts hold: pairs (e, limit), 0 <= e < limit, as predicates are;
// the first is its range of columns, the others name rows. What the facts decide is not tested there,
// and what they rule out not computed. Columns of no box are border, which is done with all tests.
//
//     for c in 0..1024  bind=vector inside 1..1023 if r - 1 < 1022
//
// Lowering chooses the boxes (tc__boxes_choose) and puts them behind the other words of the FOR, for
// each the count of its pairs and the pairs; bodies have no copies. Printers print the body once more for each box, as tc__boxed_open has it. The
// interpreter knows only borders, so that it checks every box.
//
// A box is a fact about the loop, not another body: what it decides is proven from it
// (tc__box_decides), and ids are those of the list. On a device a thread asks once whether
// its vector is in a box (the form flat). Steps stay where they were, in order, so sums
// have the same lanes. Boxes are large parts of a range, a tenth each at least; rows that
// are shorter than the vectors of a box have boxes of whole rows, around the loop.
//
// Facts of a vector's place before, in or behind the columns of a box decide much of what is left of the
// border, where it chooses among elements (tc__c_sides). Where it is known how many columns there are, rows go in pieces:
// before, in and behind the columns of the box, at places that are numbers, so that masks are constants (tc__c_pieces).
//
// Measured: a heat step of 1024 x 1024 in a pad takes 0.9 times its inside alone, 3.9 with
// all tests everywhere; in a cat with its edges 0.9, and 13. Four
// neighbours in 64 maps of 128 x 128 with a border that is reflected, repeated or circular: 1.05 to 1.15, and 4 to
// 13 where the far edges' elements are asked for, too (tc__lower_cat), and those of the near one lane by lane.

enum {
    TC__BOX_WORDS = 26, // of all boxes: a FOR has at most 32
    TC__BOX_AXES = 4,   // what predicates name, the columns first
    TC__BOX_EDGES = 16, // of an axis, where predicates begin or end to hold
    TC__BOX_PARTS = 8,  // of an axis, that may be a side of a box
    TC__BOX_COLUMNS =
        64,            // a range of fewer is not cut: most of its vectors would be border
    TC__BOX_SHORT = 4, // a loop over fewer columns has no boxes
    TC__BOX_SMALL =
        512, //   nor one over fewer elements, whose compiler takes longer than all its calls
    TC__BOX_MOST = 16,   // boxes looked at
    TC__EDGE_SIZE = 1024 // what a run-time size is guessed to be
};

static const double tc__box_least = 1.0 / 10; // of the whole: so much of it is worth a body
static const double tc__boxes_least = 0.5;    // all boxes together

typedef struct tc__kbox {
    const int64_t *pair;
    uint32_t count; // words of pairs
} tc__kbox;

// Box i of a FOR; 0 = it has no such box.
static int tc__box_at(const tc__node *loop, uint32_t i, tc__kbox *out) {
    uint32_t at = TC__FOR_BOXES;
    for (; at < loop->n_attr; at += 1 + out->count) {
        out->count = 2 * (uint32_t)tc__ix_value(loop->attr[at]);
        out->pair = &loop->attr[at + 1];
        if (!i--) return 1;
    }
    return 0;
}

// First column of a box, and the one behind its last.
static tc__ix tc__box_begin(tc__ixpool *p, const tc__kbox *box) {
    tc__ix c = tc__ix_find_var(p, box->pair[0], TC__COL);
    return tc__ix_sub(p, c, box->pair[0]);
}

static tc__ix tc__box_end(tc__ixpool *p, const tc__kbox *box) {
    return tc__ix_add(p, tc__box_begin(p, box), box->pair[1]);
}

// Whether all boxes of a FOR are of whole rows: none cuts the columns.
static int tc__boxes_are_rows(tc__ixpool *p, const tc__node *loop) {
    tc__kbox box;
    for (uint32_t i = 0; tc__box_at(loop, i, &box); i++)
        if (tc__box_begin(p, &box) != loop->attr[TC__FOR_BEGIN] || box.count == 2 ||
            tc__box_end(p, &box) != loop->attr[TC__FOR_END])
            return 0;
    return 1;
}

// ---- predicates as ranges ----

// low <= along < high: what 0 <= e < limit says of the columns, or of an expression of rows.
typedef struct tc__interval {
    tc__ix along, low, high;
} tc__interval;

// e = the part that names variables + what is left.
static tc__ix tc__edge_along(tc__ixpool *p, tc__ix e, tc__ix *rest) {
    tc__ixsum all, part;
    memset(&all, 0, sizeof all), memset(&part, 0, sizeof part);
    tc__ix_sum_add(p, &all, e, 1);
    for (int i = 0; i < all.count; i++) {
        uint32_t names = 0;
        for (int k = 0; k < TC__IX_ATOMS && all.term[i].atom[k]; k++)
            names |= tc__ix_names_of(p, all.term[i].atom[k]);
        if (names) tc__ix_sum_term(&part, &all.term[i], 1);
    }
    tc__ix along = tc__ix_sum_end(p, &part);
    *rest = tc__ix_sub(p, e, along);
    return along;
}

// The range of -along.
static tc__interval tc__edge_turned(tc__ixpool *p, const tc__interval *d) {
    tc__ix one = tc__ix_const(1);
    tc__interval t;
    t.along = tc__ix_sub(p, tc__ix_const(0), d->along);
    t.low = tc__ix_sub(p, one, d->high), t.high = tc__ix_sub(p, one, d->low);
    return t;
}

// Of scale * c: the columns c.
static void tc__edge_unscale(tc__ixpool *p, int64_t scale, tc__interval *d) {
    tc__ix size = tc__ix_const(scale < 0 ? -scale : scale);
    if (scale < 0) *d = tc__edge_turned(p, d);
    d->low = tc__ix_ceil_div(p, d->low, size), d->high = tc__ix_ceil_div(p, d->high, size);
}

// Of an expression of columns: scale * c, or c / size. 0 = another.
static int tc__edge_columns(tc__ixpool *p, tc__interval *d) {
    tc__ix c = tc__ix_find_var(p, d->along, TC__COL);
    tc__ixnode n = *tc__ix_node(p, d->along);
    tc__ixrun run = tc__ix_run(p, d->along, TC__COL);
    if (n.kind == TC__IX_DIV && n.a == c && tc__ix_lo(p, n.b) > 0) {
        d->low = tc__ix_mul(p, d->low, n.b), d->high = tc__ix_mul(p, d->high, n.b);
    } else {
        if (!run.ok || run.run != INT64_MAX || !tc__ix_is_const(run.stride)) return 0;
        tc__edge_unscale(p, tc__ix_value(run.stride), d);
    }
    d->along = c;
    return 1;
}

// The range of a predicate; 0 = it is none, or one of both rows and columns.
static int tc__edge_of(tc__ixpool *p, tc__ix e, tc__ix limit, tc__interval *out) {
    tc__ix rest;
    out->along = tc__edge_along(p, e, &rest);
    uint32_t names = tc__ix_names_of(p, out->along);
    if (tc__ix_names_of(p, limit)) return 0;
    out->low = tc__ix_sub(p, tc__ix_const(0), rest), out->high = tc__ix_sub(p, limit, rest);
    if (names == (uint32_t)1 << TC__COL) return tc__edge_columns(p, out);
    if (names != (uint32_t)1 << TC__ROW) return 0;
    if (tc__ix_hi(p, out->along) <= 0) *out = tc__edge_turned(p, out); // -r as r
    return 1;
}

// -1, 0 or 1 as a is before, at or behind b; 2 = who knows. The first and the last may be at b, too.
static int tc__edge_order(tc__ixpool *p, tc__ix a, tc__ix b) {
    tc__ix d = tc__ix_sub(p, a, b);
    if (tc__ix_equals(d, 0)) return 0;
    if (tc__ix_hi(p, d) <= 0) return -1;
    return tc__ix_lo(p, d) >= 0 ? 1 : 2;
}

// ---- what facts decide ----

typedef enum tc__verdict { TC__UNKNOWN, TC__HOLDS, TC__FAILS } tc__verdict;

// Whether range e is all inside of the fact's complement, or holds all of the fact.
static tc__verdict tc__edge_decides(tc__ixpool *p, const tc__interval *fact,
                                    const tc__interval *e) {
    if (fact->along != e->along) return TC__UNKNOWN;
    if (tc__edge_order(p, e->low, fact->low) <= 0 &&
        tc__edge_order(p, fact->high, e->high) <= 0)
        return TC__HOLDS;
    if (tc__edge_order(p, e->high, fact->low) <= 0 ||
        tc__edge_order(p, fact->high, e->low) <= 0)
        return TC__FAILS;
    return TC__UNKNOWN;
}

static tc__verdict tc__box_decides(tc__ixpool *p, const tc__kbox *box, tc__ix e,
                                   tc__ix limit) {
    tc__interval edge, fact;
    if (!tc__edge_of(p, e, limit, &edge)) return TC__UNKNOWN;
    for (uint32_t i = 0; i < box->count; i += 2) {
        if (!tc__edge_of(p, box->pair[i], box->pair[i + 1], &fact)) continue;
        tc__verdict v = tc__edge_decides(p, &fact, &edge);
        if (v != TC__UNKNOWN) return v;
    }
    return TC__UNKNOWN;
}

// Of a LOAD or VALID: where its predicates begin.
static uint32_t tc__pairs_at(const tc__node *n) {
    return n->op == TC_OP_LOAD ? (uint32_t)TC__LOAD_PREDICATES : 0;
}

static int tc__has_pairs(const tc__node *n) {
    return n->op == TC_OP_VALID || (n->op == TC_OP_LOAD && n->n_attr > TC__LOAD_PREDICATES);
}

// Pairs of node n that ask rows of a flat index, 0 <= c/28 - 2 < 24, ask that index instead, 0 <= c - 56 < 672: vectors
// know where that holds. 5x1 sums of 28 x 28 in a circular border took 9 times the time of their inside, and take 1.5.
static void tc__pairs_flatten(tc__ixpool *p, const tc__node *n, int64_t *words) {
    for (uint32_t i = tc__pairs_at(n); tc__has_pairs(n) && i < n->n_attr; i += 2) {
        tc__ix rest, along = tc__edge_along(p, words[i], &rest);
        tc__ixnode of = *tc__ix_node(p, along);
        if (of.kind != TC__IX_DIV || !tc__ix_uses(p, along, TC__COL)) continue;
        if (!tc__ix_is_const(of.b) || tc__ix_lo(p, of.b) <= 0 || tc__ix_lo(p, of.a) < 0)
            continue;
        words[i] = tc__ix_add(p, of.a, tc__ix_mul(p, rest, of.b));
        words[i + 1] = tc__ix_mul(p, words[i + 1], of.b);
    }
}

enum { TC__NODE_WORDS = 32 }; // of a LOAD or VALID

// LOAD or VALID n with the predicates that are left in a box, in `words`. 0 = one of them fails.
static int tc__box_pairs(tc__ixpool *p, const tc__kbox *box, const tc__node *n, tc__node *m,
                         int64_t words[TC__NODE_WORDS]) {
    uint32_t first = tc__pairs_at(n);
    if (n->n_attr > TC__NODE_WORDS) return 1;
    m->attr = words, m->n_attr = first;
    if (n->n_attr) memcpy(words, n->attr, n->n_attr * sizeof *words);
    for (uint32_t i = first; i < n->n_attr; i += 2) {
        tc__verdict v = tc__box_decides(p, box, n->attr[i], n->attr[i + 1]);
        if (v == TC__FAILS) return 0;
        if (v == TC__HOLDS) continue;
        words[m->n_attr++] = n->attr[i];
        words[m->n_attr++] = n->attr[i + 1];
    }
    return 1;
}

// ---- a kernel in a box ----

// The same nodes at the same places, but that predicates are gone that hold; what fails is a constant;
// and users of a selection that is known use what it selects. What nobody needs any more is not marked.
typedef struct tc__boxed {
    tc__group g; // shares all with the kernel but its body
    uint8_t *need;
    uint32_t *is; // by node: the one that has its value
} tc__boxed;

static void tc__boxed_const(tc__node *m, int64_t words[TC__NODE_WORDS], int64_t bits) {
    m->op = TC_OP_CONST, m->level = TC__AT_ROW;
    m->n_in = 0, m->attr = words, m->n_attr = 1;
    words[TC__CONST_BITS] = bits;
}

// Whether node id of the boxed body is a VALID that is known.
static tc__verdict tc__boxed_valid(const tc__boxed *b, uint32_t id) {
    const tc__node *n = b->g.body.node.at[id];
    if (n->op == TC_OP_CONST && n->dtype == TC_BOOL)
        return n->attr[TC__CONST_BITS] ? TC__HOLDS : TC__FAILS;
    return TC__UNKNOWN;
}

static int tc__boxed_node(tc__boxed *b, const tc__kbox *box, const tc__node *n) {
    int64_t words[TC__NODE_WORDS];
    uint32_t in[3];
    tc__node m = *n;
    b->is[n->id] = n->id;
    for (uint32_t i = 0; i < n->n_in; i++) in[i] = b->is[n->in[i]];
    m.in = in;
    if (tc__has_pairs(n) && !tc__box_pairs(b->g.body.ix, box, n, &m, words))
        tc__boxed_const(&m, words, n->op == TC_OP_LOAD ? n->attr[TC__LOAD_FILL] : 0);
    else if (n->op == TC_OP_VALID && !m.n_attr)
        tc__boxed_const(&m, words, 1);
    tc__verdict v = n->op == TC_OP_WHERE ? tc__boxed_valid(b, in[0]) : TC__UNKNOWN;
    if (v != TC__UNKNOWN) b->is[n->id] = in[v == TC__HOLDS ? 1 : 2];
    return tc__node_append(&b->g.body, &m) != NULL;
}

static void tc__boxed_need_val(void *user, uint32_t id) { ((uint8_t *)user)[id] = 1; }

// Marks what nodes [begin, end) compute. Indices are checked wherever they are.
static void tc__boxed_mark(tc__boxed *b, uint32_t begin, uint32_t end) {
    for (uint32_t id = end; id-- > begin;) {
        const tc__node *n = b->g.body.node.at[id];
        if (n->op == TC_OP_STORE || n->op == TC_OP_ACC || n->op == TC_OP_CHECK)
            b->need[id] = 1;
        if (!b->need[id]) continue;
        for (uint32_t i = 0; i < n->n_in; i++) b->need[n->in[i]] = 1;
        for (uint32_t i = 0; i < n->n_attr; i++)
            if (tc__attr_is_ix(n, i))
                tc__ix_each_val(b->g.body.ix, n->attr[i], tc__boxed_need_val, b->need);
    }
}

static void tc__boxed_close(tc_ctx *c, tc__boxed *b) {
    size_t n = b->g.body.node.count;
    tc__graph_close(&b->g.body);
    tc__free(c, b->need, (n ? n : 1) * sizeof *b->need);
    tc__free(c, b->is, (n ? n : 1) * sizeof *b->is);
}

// Kernel g, of which nodes [begin, end) are printed, in a box. 0 = out of memory.
static int tc__boxed_open(tc_ctx *c, const tc__group *g, const tc__kbox *box,
                          uint32_t begin, uint32_t end, tc__boxed *b) {
    size_t n = g->body.node.count;
    memset(b, 0, sizeof *b);
    b->g = *g;
    b->need = TC__NEW_ARRAY(c, uint8_t, n), b->is = TC__NEW_ARRAY(c, uint32_t, n);
    int ok = tc__graph_open(&b->g.body, c, g->body.ix) && b->need && b->is;
    for (size_t id = 0; ok && id < n; id++)
        ok = tc__boxed_node(b, box, g->body.node.at[id]);
    if (ok) tc__boxed_mark(b, begin, end);
    return ok;
}

// ---- the choice ----

typedef struct tc__edge_part {
    tc__ix begin, end;
    double share; // of the axis
} tc__edge_part;

// What predicates name: the columns, or an expression of rows; with the places where any of them begins
// or ends to hold.
typedef struct tc__edge_axis {
    tc__ix along, begin, end;
    uint32_t count;
    tc__ix low[TC__BOX_EDGES], high[TC__BOX_EDGES]; // of each predicate
    uint32_t parts;                                 // the longest first; 0 = it is not cut
    tc__edge_part part[TC__BOX_PARTS];
} tc__edge_axis;

typedef struct tc__edges {
    tc__ixpool *ix;
    uint32_t axes;
    tc__edge_axis axis[TC__BOX_AXES];
} tc__edges;

// The axis of an expression, made if there is room; NULL = none.
static tc__edge_axis *tc__edge_axis_of(tc__edges *s, tc__ix along) {
    tc__ixpool *p = s->ix;
    for (uint32_t i = 0; i < s->axes; i++)
        if (s->axis[i].along == along) return &s->axis[i];
    if (s->axes == TC__BOX_AXES) return NULL;
    tc__edge_axis *a = &s->axis[s->axes++];
    memset(a, 0, sizeof *a);
    tc__ix one = tc__ix_const(1), r = tc__ix_find_var(p, along, TC__ROW), last;
    if (tc__ix_run(p, along, TC__ROW).run == INT64_MAX)
        last = tc__ix_subst(p, along, r, tc__ix_sub(p, tc__ix_node(p, r)->b, one));
    else if (tc__ix_node(p, along)->kind == TC__IX_MOD)
        last = tc__ix_sub(p, tc__ix_node(p, along)->b, one);
    else
        last = tc__ix_const(tc__ix_hi(p, along));
    a->along = along, a->begin = tc__ix_const(tc__ix_lo(p, along));
    a->end = tc__ix_add(p, last, one);
    return a;
}

// Puts a predicate on its axis.
static void tc__edges_add(tc__edges *s, tc__ix e, tc__ix limit) {
    tc__interval d;
    if (!tc__edge_of(s->ix, e, limit, &d)) return;
    tc__edge_axis *a = tc__edge_axis_of(s, d.along);
    for (uint32_t i = 0; a && i < a->count; i++)
        if (a->low[i] == d.low && a->high[i] == d.high) return;
    if (!a || a->count == TC__BOX_EDGES) return;
    a->low[a->count] = d.low, a->high[a->count++] = d.high;
}

// What e may well be: run-time sizes are TC__EDGE_SIZE where they can. Boxes are chosen by it, but what
// holds in them is proven.
static double tc__edge_guess(const tc__ixpool *p, tc__ix e) {
    if (tc__ix_is_const(e)) return (double)tc__ix_value(e);
    const tc__ixnode *n = tc__ix_node(p, e);
    double sum = (double)n->base;
    if (n->kind != TC__IX_POLY) {
        if (n->lo > TC__EDGE_SIZE) return (double)n->lo;
        return n->hi < TC__EDGE_SIZE ? (double)n->hi : (double)TC__EDGE_SIZE;
    }
    for (uint32_t i = 0; i < n->count; i++) {
        const tc__ixterm *t = &p->term.at[n->first + i];
        double product = (double)t->coef;
        for (int k = 0; k < TC__IX_ATOMS && t->atom[k]; k++)
            product *= tc__edge_guess(p, t->atom[k]);
        sum += product;
    }
    return sum;
}

static double tc__edge_size(tc__ixpool *p, tc__ix begin, tc__ix end) {
    return tc__edge_guess(p, tc__ix_sub(p, end, begin));
}

// Puts edge e in order between those of `at`, if it is inside of the axis.
static void tc__edge_sort(tc__ixpool *p, tc__ix *at, uint32_t *count, tc__ix e) {
    uint32_t i = 0;
    for (; i < *count; i++) {
        double apart = tc__edge_size(p, at[i], e);
        if (at[i] == e) return;
        if (apart < 0) break;
    }
    if (!i || i == *count) return;
    memmove(at + i + 1, at + i, (*count - i) * sizeof *at);
    at[i] = e, ++*count;
}

// Takes [begin, end) as a part of the axis, if it is long enough.
static void tc__edge_part_add(tc__edges *s, tc__edge_axis *a, tc__ix begin, tc__ix end) {
    double size = tc__edge_size(s->ix, begin, end),
           all = tc__edge_size(s->ix, a->begin, a->end);
    double share = size / all;
    if (all <= 0 || share < tc__box_least) return;
    if (a == &s->axis[0] && size < (double)TC__BOX_COLUMNS) return;
    uint32_t i = a->parts < TC__BOX_PARTS ? a->parts++ : a->parts - 1;
    if (i + 1 == TC__BOX_PARTS && a->part[i].share >= share) return;
    for (; i && a->part[i - 1].share < share; i--) a->part[i] = a->part[i - 1];
    a->part[i].begin = begin, a->part[i].end = end, a->part[i].share = share;
}

// Cuts an axis at all edges.
static void tc__edge_cut(tc__edges *s, tc__edge_axis *a) {
    tc__ix at[2 * TC__BOX_EDGES + 2];
    uint32_t count = 2;
    at[0] = a->begin, at[1] = a->end;
    for (uint32_t i = 0; i < a->count; i++) {
        tc__edge_sort(s->ix, at, &count, a->low[i]);
        tc__edge_sort(s->ix, at, &count, a->high[i]);
    }
    for (uint32_t i = 0; count > 2 && i + 1 < count; i++)
        tc__edge_part_add(s, a, at[i], at[i + 1]);
}

// A choice of one part for each axis that has any.
typedef struct tc__box_choice {
    uint32_t part[TC__BOX_AXES];
    double share;
} tc__box_choice;

static int tc__box_next(const tc__edges *s, tc__box_choice *c) {
    for (uint32_t i = 0; i < s->axes; i++) {
        if (++c->part[i] < s->axis[i].parts) return 1;
        c->part[i] = 0;
    }
    return 0;
}

// The words of a box; returns their number.
static uint32_t tc__box_put(tc__edges *s, const tc__box_choice *c, int64_t *words) {
    tc__ixpool *p = s->ix;
    uint32_t n = 1;
    for (uint32_t i = 0; i < s->axes; i++) {
        const tc__edge_axis *a = &s->axis[i];
        tc__ix begin = a->parts ? a->part[c->part[i]].begin : a->begin;
        tc__ix end = a->parts ? a->part[c->part[i]].end : a->end;
        if (i && (!a->parts || (begin == a->begin && end == a->end))) continue;
        words[n++] = tc__ix_sub(p, a->along, begin);
        words[n++] = tc__ix_sub(p, end, begin);
    }
    words[0] = tc__ix_const((n - 1) / 2);
    return n;
}

// The largest boxes, in order, as words of a FOR: how many words. 0 = no box is worth it.
static uint32_t tc__boxes_pick(tc__edges *s, int64_t words[TC__BOX_WORDS]) {
    tc__box_choice at, made[TC__BOX_MOST];
    uint32_t count = 0, n = 0;
    double all = 0;
    memset(&at, 0, sizeof at);
    do {
        at.share = 1;
        for (uint32_t i = 0; i < s->axes; i++)
            if (s->axis[i].parts) at.share *= s->axis[i].part[at.part[i]].share;
        if (at.share < tc__box_least || count == TC__BOX_MOST) continue;
        uint32_t i = count++;
        for (; i && made[i - 1].share < at.share; i--) made[i] = made[i - 1];
        made[i] = at;
    } while (tc__box_next(s, &at));
    for (uint32_t i = 0; i < count && n + 1 + 2 * s->axes <= TC__BOX_WORDS; i++) {
        all += made[i].share;
        n += tc__box_put(s, &made[i], words + n);
    }
    return all >= tc__boxes_least ? n : 0;
}

// Boxes for the loop over `columns` with these nodes' predicates, as words of the FOR: how many words.
static uint32_t tc__boxes_choose(tc__ixpool *p, tc__ix rows, tc__ix columns,
                                 tc__node *const *node, size_t count, uint32_t phase,
                                 int64_t words[TC__BOX_WORDS]) {
    tc__edges s;
    uint32_t cut = 0;
    int64_t high = tc__ix_hi(p, columns);
    if (high < TC__BOX_SHORT) return 0;
    if (high < TC__BOX_SMALL && tc__ix_hi(p, rows) < TC__BOX_SMALL / high) return 0;
    memset(&s, 0, sizeof s);
    s.ix = p, s.axes = 1;
    s.axis[0].along = tc__ix_var(p, TC__COL, columns);
    s.axis[0].begin = tc__ix_const(0), s.axis[0].end = columns;
    for (size_t i = 0; i < count; i++) {
        const tc__node *n = node[i];
        if (n->phase != phase || !tc__has_pairs(n)) continue;
        for (uint32_t k = tc__pairs_at(n); k < n->n_attr; k += 2)
            tc__edges_add(&s, n->attr[k], n->attr[k + 1]);
    }
    for (uint32_t i = 0; i < s.axes; i++)
        if (s.axis[i].count) tc__edge_cut(&s, &s.axis[i]), cut += s.axis[i].parts;
    return cut && !p->failed ? tc__boxes_pick(&s, words) : 0;
}
