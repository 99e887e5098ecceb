// C dialect, loops: how far a step goes, where it begins and ends, what is asked for early. Its entry points
// are tc__c_span and what prints a body: whole (tc__c_body), or one vector of which n lanes count (tc__c_counted).

// ---- loops ----

// Columns of a row whose successor is asked for early: a few cache lines, and what stays in
// half of an L2 beside the present one. Layer norm of 4096 columns: 5.5 -> 3.95 ms.
enum { TC__PREFETCH_FROM = 256, TC__PREFETCH_TO = 1 << 15 };

// Where a loop runs: numbers where they are known, else names made by tc__c_span.
typedef struct tc__c_range {
    int known;
    int64_t begin, end, full; // full: the end of whole steps
    uint32_t id;              // of the FOR: end7, full7
    int tail;                 // 0: every step is whole
    int step;
} tc__c_range;

static int tc__c_loop_has_acc(const tc__printer *p, const tc__node *loop, int arg,
                              int chunked) {
    for (int i = 0; i < TC__PRINT_ACCS; i++) {
        const tc__acc *a = &p->acc[i];
        if (!a->used || a->loop != loop) continue;
        if ((arg || !tc__is_arg(a)) && (!chunked || tc__c_is_chunked(a))) return 1;
    }
    return 0;
}

// Vectors that go through a function by one call: each step of it waits for the one before, and what is done
// meanwhile is another vector's. Of two a chain of six functions takes 1.75 times as long (Zen 5).
enum {
    TC__CALLED_VECTORS = 8,
    // What values of a loop have together at most: where vectors do not fit registers they are in memory.
    TC__CALLED_ELEMENTS = 8192
};

// Whether a function is called in the loop for values that differ between lanes.
static int tc__c_loop_calls(const tc__printer *p, const tc__node *loop) {
    if (!p->calls || loop->attr[TC__FOR_AXIS] != (int64_t)p->axis) return 0;
    for (uint32_t id = loop->id + 1; id < tc__loop_end(p->g, loop->id); id++) {
        const tc__node *n = tc__body(p, id);
        if (tc__is_function(n) && tc__lanes_differ(n, p->axis)) return 1;
    }
    return 0;
}

// Elements of a step of a loop that calls functions: the number that takes the least time, where k vectors together take
// that of k + 2, and what is left over goes one by one; 0 = there are too many values. A size that is known at run time only is
// taken for a short one.
static int tc__called_step(const tc__printer *p, const tc__node *loop) {
    tc__ixpool *x = p->g->body.ix;
    tc__ix count = tc__ix_sub(x, loop->attr[TC__FOR_END], loop->attr[TC__FOR_BEGIN]);
    int64_t of = tc__ix_is_const(count) ? tc__ix_value(count) : 2 * TC__LANES;
    int64_t least = INT64_MAX, unit = p->unit;
    int64_t nodes = tc__loop_end(p->g, loop->id) - loop->id;
    int best = 0;
    if (loop->attr[TC__FOR_BIND] == TC__BIND_WORKER) of = p->g->shape.grain;
    for (int step = (int)TC__LANES; step <= TC__CALLED_VECTORS * unit; step += TC__LANES) {
        if (step * nodes > TC__CALLED_ELEMENTS) break;
        int64_t left = of % step, cost = of / step * (step / unit + 2) + left / unit * 3;
        if (cost < least) least = cost, best = step;
    }
    return best;
}

// Elements that one step of a loop along the vector takes.
static int tc__loop_step(const tc__printer *p, const tc__node *n) {
    const tc__tuning *tuned = &p->g->shape.tuning;
    int knob = tuned->knob[TC__KNOB_STEPS];
    int sums = tc__c_loop_has_acc(p, n, 1, 0), called = 0;
    tc__kbox box;
    if (n->attr[TC__FOR_AXIS] == TC__ROW) return tc__row_step(p->g);
    if (!(sums ? tuned->knob[TC__KNOB_SUMS] : knob) && tc__c_loop_calls(p, n) &&
        !tc__box_at(n, 0, &box))
        called = tc__called_step(p, n);
    if (called) return called;
    if (sums) return tc__sums_are_named(p->g, n) ? (int)TC__LANES : p->unit;
    if (knob == TC__STEPS_VECTOR) return p->unit;
    if (knob == TC__STEPS_TWICE) return 2 * TC__LANES;
    if (knob == TC__STEPS_LANES || n->attr[TC__FOR_UNROLL] >= 4) return TC__LANES;
    return p->unit < (int)TC__VECTOR ? (int)TC__VECTOR : p->unit; // two of four
}

static int tc__c_has_tail(const tc__printer *p, const tc__node *n, int step) {
    tc__ixpool *x = p->g->body.ix;
    tc__ix count = tc__ix_sub(x, n->attr[TC__FOR_END], n->attr[TC__FOR_BEGIN]);
    if (n->attr[TC__FOR_BIND] == TC__BIND_WORKER && p->axis == TC__COL &&
        p->g->shape.grain % step)
        return 1;
    if (p->parts && p->part_step % step) return 1;
    if (p->axis == TC__ROW && step > (int)TC__LANES) return 1; // items are 32 of them
    return tc__ix_divisor(x, count) % step != 0;
}

static void tc__c_bound(tc__printer *p, const tc__c_range *r, const char *name,
                        int64_t value) {
    if (r->known)
        tc__put(p->out, "%lld", (long long)value);
    else
        tc__put(p->out, "%s%u", name, r->id);
}

// `const tc_i64 begin7 = ..., end7 = ..., full7 = ...;` where they are not plain numbers.
static tc__c_range tc__c_span(tc__printer *p, const tc__node *n, int chunked) {
    tc__c_range r;
    memset(&r, 0, sizeof r);
    int worker = n->attr[TC__FOR_BIND] == TC__BIND_WORKER,
        items = p->g->shape.split_columns == TC__COLUMNS_BY_ITEM;
    long long grain =
        p->axis == TC__ROW ? (long long)TC__LANES : (long long)p->g->shape.grain;
    r.id = n->id, r.step = tc__loop_step(p, n), r.tail = tc__c_has_tail(p, n, r.step);
    if (!worker && !chunked && !p->parts && tc__ix_is_const(n->attr[TC__FOR_BEGIN]) &&
        tc__ix_is_const(n->attr[TC__FOR_END])) {
        r.known = 1, r.begin = tc__ix_value(n->attr[TC__FOR_BEGIN]),
        r.end = tc__ix_value(n->attr[TC__FOR_END]);
        r.full = r.end > r.begin ? r.end - (r.end - r.begin) % r.step : r.begin;
        return r;
    }
    tc__line(p);
    tc__put(p->out, "const %s begin%u = ", p->d->index, r.id);
    if (worker && p->down)
        tc__put(p->out, "(tc_max(lo, row_items) - row_items) * %lld", grain);
    else if (worker)
        tc__put(p->out, items ? "item * %lld" : "lo * %lld", grain);
    else if (chunked)
        tc__put(p->out, "chunk");
    else if (p->parts)
        tc__put(p->out, p->direct ? "left" : "c0");
    else
        tc__put_ix(p, n->attr[TC__FOR_BEGIN]);
    tc__put(p->out, ", end%u = ", r.id);
    if (worker && p->down)
        tc__put(p->out, "tc_min((hi - row_items) * %lld, ", grain);
    else if (worker)
        tc__put(p->out, items ? "tc_min((item + 1) * %lld, " : "tc_min(hi * %lld, ", grain);
    if (chunked) tc__put(p->out, "tc_min(chunk + 8192, ");
    if (p->parts)
        tc__put(p->out, "c1");
    else
        tc__put_ix(p, n->attr[TC__FOR_END]);
    tc__put(p->out, worker || chunked ? ");\n" : ";\n");
    if (!r.tail) return r;
    tc__line(p);
    tc__put(
        p->out,
        "const %s full%u = end%u > begin%u ? end%u - (end%u - begin%u) %% %d : begin%u;\n",
        p->d->index, r.id, r.id, r.id, r.id, r.id, r.id, r.step, r.id);
    return r;
}

// Row pointers for the accesses inside the loops nested in [begin, end).
static void tc__c_pointers(tc__printer *p, uint32_t begin, uint32_t end, tc__axis axis) {
    int depth = 0;
    for (uint32_t id = begin; id < end; id++) {
        const tc__node *n = tc__body(p, id);
        depth += (n->op == TC_OP_FOR) - (n->op == TC_OP_END);
        if (!depth || (n->op != TC_OP_LOAD && n->op != TC_OP_STORE)) continue;
        tc__row_pointer *q = tc__add_pointer(p, n, axis);
        if (!q) continue;
        const tc__kbuf *b = &p->g->buffer.at[q->buffer];
        tc__line(p);
        tc__put(p->out, "%s%s *", b->written || b->place == TC__BUF_ROW ? "" : "const ",
                tc__dtypes[b->dtype].memory);
        tc__put_pointer_name(p, q);
        tc__put(p->out, " = ");
        tc__put_at(p, q->buffer, q->part);
        tc__put(p->out, ";\n");
    }
}

static void tc__c_body(tc__printer *p, const tc__node *n, uint32_t begin, uint32_t end) {
    int outer = p->outer, pointers = p->pointers;
    if (n->attr[TC__FOR_AXIS] == TC__ROW && p->g->shape.kind == TC__CONTRACTION) {
        tc__class cls = tc__class_of(tc__body(p, tc__left_of(p->g))->dtype);
        tc__line(p);
        tc__put(p->out, "const %s *prod_r = tile + (r - r0) * wide - c0;\n",
                p->d->scalar[cls]);
        if (p->direct) tc__print_direct_left(p, p->direct);
    }
    if (n->attr[TC__FOR_AXIS] == TC__ROW) {
        p->outer = TC__ROW;
        tc__print_made_rows(p, begin, end);
        tc__c_pointers(p, begin, end, TC__ROW);
    }
    tc__print_range(p, begin, end);
    p->outer = outer, p->pointers = pointers;
}

static void tc__c_head(tc__printer *p, const char *v, const tc__c_range *r, int from,
                       int step) {
    tc__line(p);
    tc__put(p->out, "for (%s %s = ", p->d->index, v);
    tc__c_bound(p, r, from ? "full" : "begin", from ? r->full : r->begin);
    tc__put(p->out, "; %s < ", v);
    if (!from && r->tail)
        tc__c_bound(p, r, "full", r->full);
    else
        tc__c_bound(p, r, "end", r->end);
    tc__put(p->out, "; %s += %d)", v, step);
    tc__block_open(p);
}

// One vector, of which n lanes count.
static void tc__c_counted(tc__printer *p, const tc__node *n, const tc__c_range *r,
                          uint32_t begin, uint32_t end) {
    const char *v = tc__axis_name(n->attr[TC__FOR_AXIS]);
    tc__line(p);
    tc__put(p->out, "const int n = (int)tc_min(");
    tc__c_bound(p, r, "end", r->end);
    tc__put(p->out, " - %s, %d);\n", v, p->unit);
    if (p->axis == TC__COL && tc__c_loop_has_acc(p, n, 1, 0)) {
        tc__line(p);
        tc__put(p->out, "const tc_vi inside = tc_lanes(n);\n");
    }
    if (p->axis == TC__COL && r->step > p->unit && tc__c_loop_has_acc(p, n, 0, 0) &&
        tc__sums_are_named(p->g, n)) {
        tc__line(p);
        tc__put(p->out, "const int part = (int)(c / %d %% %d);\n", p->unit,
                TC__LANES / p->unit);
    }
    p->tail = 1;
    tc__c_body(p, n, begin, end);
    p->tail = 0;
}

// What is left after the whole steps, one vector at a time.
static void tc__c_tail(tc__printer *p, const tc__node *n, const tc__c_range *r,
                       uint32_t begin, uint32_t end) {
    tc__c_head(p, tc__axis_name(n->attr[TC__FOR_AXIS]), r, 1, p->unit);
    tc__c_counted(p, n, r, begin, end);
    tc__block_close(p);
}

// ---- the next row ----

// The FOR over columns of a row that is first (or last) in the body; NULL = none.
static const tc__node *tc__c_column_loop(const tc__group *g, int last) {
    const tc__node *found = NULL;
    for (size_t i = 0; i < g->body.node.count; i++) {
        const tc__node *n = g->body.node.at[i];
        if (n->op == TC_OP_FOR && n->attr[TC__FOR_AXIS] == TC__COL &&
            n->attr[TC__FOR_BIND] != TC__BIND_WORKER && (last || !found))
            found = n;
    }
    return found;
}

// Rows that several phases go over are in the caches but for the first phase, which waits
// for memory while the last one leaves it idle: so that one asks for the next row.
static int tc__may_prefetch(const tc__group *g) {
    return g->shape.kind == TC__REDUCTION && g->shape.vector == TC__COL &&
           tc__c_column_loop(g, 0) != tc__c_column_loop(g, 1);
}

static int tc__prefetches(const tc__group *g) {
    int knob = g->shape.tuning.knob[TC__KNOB_PREFETCH];
    int64_t columns = tc__ix_hi(g->body.ix, g->shape.cols);
    if (knob || !tc__may_prefetch(g)) return knob == TC__PREFETCH_ON && tc__may_prefetch(g);
    return columns >= TC__PREFETCH_FROM && columns <= TC__PREFETCH_TO;
}

// The distance to the same column of the next row, 0 = n is no stream of whole rows.
static int64_t tc__c_row_stride(const tc__printer *p, const tc__node *n) {
    const tc__kbuf *b = tc__buffer_of(p->g, n);
    if (!tc__is_memory(b) || b->written) return 0;
    if (n->n_attr > TC__LOAD_PREDICATES ||
        tc__ix_has_val(p->g->body.ix, n->attr[TC__LOAD_INDEX]))
        return 0;
    if (tc__access_along(p->g, n->attr[TC__LOAD_INDEX], TC__COL, p->unit) != TC__CONTIGUOUS)
        return 0;
    tc__ixrun run = tc__ix_run(p->g->body.ix, n->attr[TC__LOAD_INDEX], TC__ROW);
    int plain = run.ok && run.run == INT64_MAX && tc__ix_is_const(run.stride);
    int64_t rows = p->down && tc__down_together(p->g) == 1 ? (int64_t)TC__LANES : 1;
    return plain ? rows * tc__ix_value(run.stride) : 0;
}

// `__builtin_prefetch(in0_r + c + 4096, 0, 2);` for each cache line of a step.
static void tc__c_prefetch(tc__printer *p, const tc__node *loop) {
    int last = p->outer == TC__ROW && loop == tc__c_column_loop(p->g, 1);
    if (!last || !tc__prefetches(p->g)) return;
    uint32_t begin = tc__c_column_loop(p->g, 0)->id;
    for (uint32_t id = begin; id < tc__loop_end(p->g, begin); id++) {
        const tc__node *n = tc__body(p, id);
        int64_t stride = n->op == TC_OP_LOAD ? tc__c_row_stride(p, n) : 0;
        if (!stride) continue;
        int line = 64 / (int)tc__dtypes[tc__buffer_of(p->g, n)->dtype].bytes;
        for (int shift = 0; shift < p->copies * p->unit; shift += line) {
            p->shift = shift;
            tc__line(p);
            tc__put(p->out, "__builtin_prefetch(");
            tc__c_address(p, n, 0);
            tc__put(p->out, " + %lld, 0, 2);\n", (long long)stride);
        }
        p->shift = 0;
    }
}
