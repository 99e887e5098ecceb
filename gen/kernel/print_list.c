// The walker over a LOOP list: what every dialect prints of it in the same way. Rows of the
// dialect are called in the order of the list; names of buffers, pointers to rows and
// accumulators are chosen here, and the comment at the head of a kernel is its list. Entry:
// tc__print_kernel.

// ---- the list ----

static const tc__print_row *tc__print_row_of(const tc__dialect *d, int op) {
    for (const tc__print_row *row = d->row; row->print; row++)
        if ((int)row->op == op) return row;
    return NULL;
}

static void tc__print_node(tc__printer *p, const tc__node *n) {
    const tc__print_row *row = tc__print_row_of(p->d, n->op);
    if (n->op == TC_OP_CONST || n->op == TC_OP_ARG) return;
    if (p->need && !p->need[n->id]) return;
    if (!row && n->op != TC_OP_CAST && !*tc__op_expr(p, n->op)) {
        p->out->failed = 1;
        tc__fail(p->out->ctx, TC_E_UNSUPPORTED, "%s kernels have no text for %s yet",
                 p->d->name, tc__op_name((tc__op)n->op));
        return;
    }
    tc__print_fn print = row                   ? row->print
                         : n->op == TC_OP_CAST ? tc__print_cast
                                               : tc__print_alu;
    int copies = row && row->each == TC__ONCE ? 1 : tc__copies_of(p, n), shift = p->shift;
    for (int i = 0; i < copies; i++) {
        p->shift = shift + i * p->unit;
        print(p, n, i);
    }
    p->shift = shift;
}

// `r >= 1 && r < s0 - 1`: the range may be empty, or less.
static void tc__put_fact(tc__printer *p, tc__ix e, tc__ix limit) {
    tc__put_ix(p, e);
    tc__put(p->out, " >= 0 && ");
    tc__put_ix(p, e);
    tc__put(p->out, " < ");
    tc__put_ix(p, limit);
}

// The END of the FOR at `id`.
static uint32_t tc__loop_end(const tc__group *g, uint32_t id) {
    int depth = 0;
    for (; id < g->body.node.count; id++) {
        int op = g->body.node.at[id]->op;
        depth += tc__opens(g->body.node.at[id]);
        depth -= op == TC_OP_END;
        if (!depth) return id;
    }
    return id;
}

// Prints nodes [begin, end).
static void tc__print_range(tc__printer *p, uint32_t begin, uint32_t end) {
    for (uint32_t id = begin; id < end; id++) {
        const tc__node *n = tc__body(p, id);
        if (n->op == TC_OP_FOR) {
            uint32_t last = tc__loop_end(p->g, id);
            p->d->loop(p, n, id + 1, last);
            id = last;
            continue;
        }
        tc__print_node(p, n);
    }
}

// ---- row pointers ----

// Whether every atom of the term can be computed at the head of the loop over `axis`.
static int tc__term_is_outer(const tc__printer *p, const tc__ixterm *t, tc__axis axis) {
    for (int k = 0; k < TC__IX_ATOMS && t->atom[k]; k++) {
        for (int other = 0; other < TC__AXES; other++)
            if (other != (int)axis &&
                tc__ix_uses(p->g->body.ix, t->atom[k], (tc__axis)other))
                return 0;
        if (tc__ix_has_val(p->g->body.ix, t->atom[k])) return 0;
    }
    return 1;
}

// The part of e that names only `axis` and symbols; 0 if that does not name `axis`.
static tc__ix tc__row_part(const tc__printer *p, tc__ix e, tc__axis axis) {
    tc__ixpool *x = p->g->body.ix;
    tc__ixsum all, part;
    all.base = part.base = 0, all.count = part.count = 0, all.overflow = part.overflow = 0;
    tc__ix_sum_add(x, &all, e, 1);
    for (int i = 0; i < all.count; i++)
        if (tc__term_is_outer(p, &all.term[i], axis))
            tc__ix_sum_term(&part, &all.term[i], 1);
    tc__ix sum = tc__ix_sum_end(x, &part);
    return tc__ix_uses(x, sum, axis) ? sum : 0;
}

static tc__row_pointer *tc__find_pointer(tc__printer *p, int64_t buffer, tc__ix part) {
    for (int i = 0; i < p->pointers; i++)
        if (p->pointer[i].buffer == buffer && p->pointer[i].part == part)
            return &p->pointer[i];
    return NULL;
}

// Remembers a pointer for the access n if its index has a part to move out of the inner
// loops.
static tc__row_pointer *tc__add_pointer(tc__printer *p, const tc__node *n, tc__axis axis) {
    tc__ix stride = tc__ix_const(0),
           part = tc__row_part(p, n->attr[TC__ACCESS_INDEX], axis);
    if (!part || p->pointers == TC__PRINT_POINTERS || part == n->attr[TC__ACCESS_INDEX])
        return NULL;
    if (tc__is_lane_row(p->g, n, p->axis) ||
        tc__find_pointer(p, n->attr[TC__ACCESS_BUFFER], part))
        return NULL;
    if (axis == p->axis) {
        int steps = tc__ix_steps(p->g, part, axis, p->unit, &stride);
        tc__ixrun run = tc__ix_run(p->g->body.ix, part, axis);
        if (!steps || run.run != INT64_MAX || !tc__ix_is_const(stride)) return NULL;
    }
    tc__row_pointer *q = &p->pointer[p->pointers++];
    q->buffer = n->attr[TC__ACCESS_BUFFER], q->part = part, q->serial = 0,
    q->stride = tc__ix_value(stride);
    for (tc__row_pointer *o = p->pointer; o < q; o++) q->serial += o->buffer == q->buffer;
    return q;
}

// ---- buffers ----

// in0, out0, row0, tile0: numbered by kind, in the order of the group.
static void tc__buffer_name(const tc__printer *p, int64_t i, char out[24]) {
    static const char *const names[] = {"in",   "in",  "row",  "tile",   "made", "shared",
                                        "held", "row", "work", "ticket", "given"};
    const char *name = NULL;
    int serial = 0;
    for (int64_t j = i; j >= 0; j--) {
        const tc__kbuf *b = &p->g->buffer.at[j];
        const char *kind = tc__is_memory(b) && b->written ? "out" : names[b->place];
        if (!name)
            name = kind;
        else
            serial += !strcmp(kind, name);
    }
    snprintf(out, 24, "%s%d", name, serial);
}

static void tc__put_buffer(tc__printer *p, int64_t i) {
    char name[24];
    tc__buffer_name(p, i, name);
    tc__put(p->out, "%s", name);
}

// `in0 + 128 * r`
static void tc__put_at(tc__printer *p, int64_t buffer, tc__ix e) {
    tc__put_buffer(p, buffer);
    tc__put(p->out, " + ");
    tc__put_ix(p, e);
}

static void tc__put_pointer_name(tc__printer *p, const tc__row_pointer *q) {
    tc__put_buffer(p, q->buffer);
    tc__put(p->out, "_r");
    if (q->serial) tc__put(p->out, "%d", q->serial);
}

// ---- accumulators ----

static int tc__is_arg(const tc__acc *a) {
    return a->monoid == TC_OP_ARGMAX || a->monoid == TC_OP_ARGMIN;
}

// max0, sum1, ...
static void tc__put_acc(tc__printer *p, int64_t i) {
    static const struct {
        tc__op op;
        const char *name;
    } names[] = {{TC_OP_ADD, "sum"},        {TC_OP_MUL, "prod"},
                 {TC_OP_MAXIMUM, "max"},    {TC_OP_MINIMUM, "min"},
                 {TC_OP_LOGICAL_OR, "any"}, {TC_OP_LOGICAL_AND, "every"},
                 {TC_OP_ARGMAX, "best"},    {TC_OP_ARGMIN, "best"}};
    const char *name = "acc";
    for (size_t k = 0; k < TC__COUNT(names); k++)
        if (names[k].op == p->acc[i].monoid) name = names[k].name;
    tc__put(p->out, "%s%lld", name, (long long)i);
}

static int tc__power_of_two_above(int64_t n) {
    int v = 1;
    while (v < n) v *= 2;
    return v;
}

// Few columns use few of the 32 lanes: combining an untouched lane changes nothing.
static int tc__lanes_in_use(const tc__group *g, const tc__node *loop) {
    tc__ix n = tc__ix_sub(g->body.ix, loop->attr[TC__FOR_END], loop->attr[TC__FOR_BEGIN]);
    if (!tc__ix_is_const(n) || tc__ix_value(n) > TC__LANES) return TC__LANES;
    return tc__power_of_two_above(tc__ix_value(n));
}

// Whether a loop over columns that has accumulators keeps their 32 lanes in named vectors.
static int tc__sums_are_named(const tc__group *g, const tc__node *loop) {
    int knob = g->shape.tuning.knob[TC__KNOB_SUMS];
    return knob ? knob == TC__SUMS_NAMED : loop->attr[TC__FOR_UNROLL] >= 4;
}

// An accumulator may be for nothing but what was PUT of others.
static void tc__find_moved(tc__printer *p, const tc__node *n) {
    tc__acc *a = &p->acc[n->attr[TC__PUT_ACCUMULATOR]];
    if (a->used) return;
    a->used = 1, a->monoid = (tc__op)n->attr[TC__PUT_MONOID];
    a->dtype = p->g->buffer.at[n->attr[TC__PUT_BUFFER]].dtype;
}

// Of a list with sums down the columns, which are made before its rows (down.c): what stands outside of all loops.
static void tc__find_down(tc__printer *p, const tc__node *n) {
    if (n->op == TC_OP_NEW && n->attr[TC__NEW_ACCUMULATOR] < TC__PRINT_ACCS)
        p->acc[n->attr[TC__NEW_ACCUMULATOR]].form = TC__ACC_DOWN;
    if (n->op == TC_OP_FOR && n->attr[TC__FOR_AXIS] == TC__COL) p->down = n->id;
}

// Finds every accumulator and the loop that steps it. 0 = reported.
static int tc__find_accs(tc__printer *p) {
    const tc__node *stack[TC__PRINT_DEPTH];
    int depth = 0;
    for (uint32_t id = 0; id < p->g->body.node.count; id++) {
        const tc__node *n = tc__body(p, id);
        if (n->op == TC_OP_END) depth--;
        if (!depth && !p->d->threads) tc__find_down(p, n);
        if (n->op == TC_OP_GET) tc__find_moved(p, n);
        if (tc__opens(n) && depth == TC__PRINT_DEPTH)
            return tc__fail(p->out->ctx, TC_E_TOO_BIG, "kernel: more than %d nested loops",
                            depth);
        if (tc__opens(n)) stack[depth++] = n;
        if (n->op != TC_OP_ACC) continue;
        if (n->attr[TC__ACC_ACCUMULATOR] >= TC__PRINT_ACCS || !depth)
            return tc__fail(p->out->ctx, TC_E_TOO_BIG,
                            "kernel: accumulator %lld (limit %d)",
                            (long long)n->attr[TC__ACC_ACCUMULATOR], TC__PRINT_ACCS);
        tc__acc *a = &p->acc[n->attr[TC__ACC_ACCUMULATOR]];
        a->used = 1, a->monoid = (tc__op)n->attr[TC__ACC_MONOID],
        a->dtype = tc__body(p, n->in[0])->dtype;
        if (p->d->threads) continue; // of one thread: no lanes to be laid out
        if (a->form == TC__ACC_DOWN) continue;
        a->loop = stack[depth - 1];
        a->form = tc__sums_are_named(p->g, a->loop) ? TC__ACC_NAMED : TC__ACC_ARRAY;
        if (p->g->shape.vector == TC__ROW) a->form = TC__ACC_LANES;
        a->lanes = tc__lanes_in_use(p->g, a->loop);
    }
    return 1;
}

// ---- head comment ----

static void tc__put_dump_buffer(tc__text *t, const void *user, int64_t b) {
    char name[24];
    tc__buffer_name((const tc__printer *)user, b, name);
    tc__put(t, "%s", name);
}

// Not from where: equal kernels of two programs have equal text, and are compiled once.
static void tc__put_dump_buffers(tc__printer *p) {
    for (size_t i = 0; i < p->g->buffer.count; i++) {
        const tc__kbuf *b = &p->g->buffer.at[i];
        tc__put(p->out, "//   ");
        tc__put_buffer(p, (int64_t)i);
        tc__put(p->out, "  %s[", tc__dtypes[b->dtype].name);
        tc__put_ix(p, b->numel);
        tc__put(p->out, "]\n");
    }
}

static void tc__put_head(tc__printer *p, const tc__group *why, const char *symbol) {
    const tc__group *g = p->g;
    tc__dump d;
    tc__put(p->out, "\n// %s: ", symbol);
    tc__report_why(p->out, why);
    tc__put(p->out, "\n// rows ");
    tc__put_ix(p, g->shape.rows);
    tc__put(p->out, ", columns ");
    tc__put_ix(p, g->shape.cols);
    if (g->shape.kind == TC__CONTRACTION) {
        tc__put(p->out, ", depth ");
        tc__put_ix(p, tc__depth_of(why));
    }
    tc__put(p->out, "; vector along %s\n", tc__axis_name(g->shape.vector));
    if (g->shape.list)
        tc__put(p->out, "// of each tensor of a list, up to %d\n", g->shape.list);
    tc__put_dump_buffers(p);
    memset(&d, 0, sizeof d);
    d.t = p->out, d.g = &g->body, d.buffer = tc__put_dump_buffer, d.user = p;
    for (size_t i = 0; i < g->body.node.count; i++) {
        tc__put(p->out, "//   ");
        tc__dump_node(&d, g->body.node.at[i]);
    }
}

// ---- entry ----

static void tc__printer_open(tc__printer *p, tc__text *out, const tc__group *g,
                             const tc__dialect *d) {
    memset(p, 0, sizeof *p);
    p->out = out, p->g = g, p->d = d;
    p->axis = g->shape.vector, p->copies = 1, p->outer = -1;
    p->unit = d->unit ? d->unit : tc__group_lanes(g);
}

// `why`: the group that the list was lowered from, or is.
static int tc__print_list(tc__text *out, const tc__group *g, const tc__group *why,
                          const tc__dialect *d, const char *symbol) {
    tc__printer p;
    tc__printer_open(&p, out, g, d);
    if (!tc__find_accs(&p)) return 0;
    tc__count_functions(&p);
    tc__put_head(&p, why, symbol);
    d->kernel(&p, symbol);
    return !out->failed && !g->body.ix->failed;
}

// The same, of the list that devices have of it.
static int tc__print_lowered(tc__text *out, const tc__group *g, const tc__dialect *d,
                             const char *symbol) {
    tc__group *list = d->lower(out->ctx, g);
    int ok = list && tc__print_list(out, list, g, d, symbol);
    tc__group_free(out->ctx, list);
    return ok;
}

// Appends the kernel of group g (LOOP stage) as a function `symbol`. 1, or 0 = reported.
static int tc__print_kernel(tc__text *out, const tc__group *g, const tc__dialect *d,
                            const char *symbol) {
    if (g->shape.kind == TC__OPAQUE && !d->has_opaque(out->ctx, g))
        return tc__fail(out->ctx, TC_E_UNSUPPORTED, "%s kernels have no text of %s",
                        d->name, tc__call_name(out->ctx, g->body.node.at[0]));
    tc__fp_state host = tc__fp_enter(); // numbers of the text
    int ok = g->shape.kind == TC__OPAQUE ? d->opaque(out, g, d, symbol)
             : d->lower                  ? tc__print_lowered(out, g, d, symbol)
                                         : tc__print_list(out, g, g, d, symbol);
    tc__fp_leave(host);
    return ok;
}
