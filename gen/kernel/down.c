// Sums down the columns of what another kernel does row by row, as one kernel with it, where a device takes that. The
// gradient of a norm is two reductions: along each row for its operand, down the columns for its weight and bias; both
// read the same elements. Input: two kernels of a schedule, the rows of one the columns of the other. Output: one list,
// which device/down.c makes a launch of.
//
//     acc4 = new sum                            of each column, kept while rows go by
//     for r in 0..64  bind=worker
//       ..                                      the phases of a row
//       for c in 0..768  bind=vector
//         ..
//         acc4 sum= %60                         a step at row and column
//       end
//     end
//     for c in 0..768  bind=worker              what the other kernel does with its rows, which are columns here
//       %64 = combine acc4
//       store b5[c] %64
//     end
//
// What the sums read of the row's results is the value itself, and in no memory if nobody else reads it. The host runs the
// list as it is (down_host.c).

typedef struct tc__down {
    const tc__group *rows, *sums;
    uint32_t
        columns; // the last loop over columns of `rows`, where the steps stand; 0 = in one of their own
    uint32_t first, last; // the loop over columns of `sums`
    uint8_t *own;         // by buffer of `rows`: nobody but the sums reads it,
    uint8_t *wanted;      //   and they do
    int64_t *kept;        //   and the row that it is kept in
    tc__join j;
    uint32_t *at;    // by node of `rows`: the one that was made of it
    uint32_t since;  // nodes from here on may be used again,
    uint32_t around; //   and the loop over columns that is open
    uint8_t *need;   // by node of `sums`
} tc__down;

// ---- which kernels ----

static uint32_t tc__down_last_loop(const tc__group *k) {
    uint32_t last = 0;
    for (uint32_t id = 0; id < k->body.node.count; id++)
        if (k->body.node.at[id]->op == TC_OP_FOR &&
            k->body.node.at[id]->attr[TC__FOR_AXIS] == TC__COL)
            last = id;
    return last;
}

// e of the sums, whose rows are the columns of the others and columns their rows.
static tc__ix tc__down_ix(const tc__down *d, tc__ix e) {
    tc__ixpool *x = d->rows->body.ix;
    tc__ix r = tc__ix_find_var(x, e, TC__ROW), c = tc__ix_find_var(x, e, TC__COL);
    tc__ix aside = tc__ix_var(x, TC__DEPTH, d->rows->shape.cols);
    if (r) e = tc__ix_subst(x, e, r, aside);
    if (c) e = tc__ix_subst(x, e, c, tc__ix_var(x, TC__ROW, d->rows->shape.rows));
    if (r) e = tc__ix_subst(x, e, aside, tc__ix_var(x, TC__COL, d->rows->shape.cols));
    return e;
}

static int tc__down_has_vals(const tc__group *k, const tc__node *n) {
    for (uint32_t i = 0; i < n->n_attr; i++)
        if (tc__attr_is_ix(n, i) && tc__ix_has_val(k->body.ix, n->attr[i])) return 1;
    return 0;
}

// Whether k does nothing but sum its columns in one loop, and something with the sums.
static int tc__down_sums(const tc__group *k) {
    int loops = 0, sums = 0;
    if (k->shape.kind != TC__REDUCTION || k->shape.vector != TC__ROW || k->shape.prologue)
        return 0;
    for (size_t i = 0; i < k->buffer.count; i++)
        if (!tc__is_memory(&k->buffer.at[i])) return 0;
    for (size_t i = 0; i < k->body.node.count; i++) {
        const tc__node *n = k->body.node.at[i];
        loops += n->op == TC_OP_FOR && n->attr[TC__FOR_AXIS] == TC__COL;
        if (n->op == TC_OP_CHECK || tc__down_has_vals(k, n)) return 0;
        if (n->op != TC_OP_COMBINE) continue;
        sums++;
        if (n->attr[TC__COMBINE_MONOID] == TC_OP_ARGMAX ||
            n->attr[TC__COMBINE_MONOID] == TC_OP_ARGMIN)
            return 0;
    }
    return loops == 1 && sums;
}

// Whether k does something row by row, in the end in a loop over columns or not.
static int tc__down_rows(const tc__group *k) {
    return k->shape.kind == TC__REDUCTION && k->shape.vector == TC__COL &&
           !k->shape.prologue && !tc__down_begin(k) && tc__down_last_loop(k);
}

// The STORE that makes buffer b of the rows, where it is the only one; else NULL.
static const tc__node *tc__down_store(const tc__group *k, int64_t b) {
    const tc__node *store = NULL;
    for (size_t i = 0; i < k->body.node.count; i++) {
        const tc__node *n = k->body.node.at[i];
        if (!tc__accesses(n, b)) continue;
        if (n->op != TC_OP_STORE || store) return NULL;
        store = n;
    }
    return store;
}

// The value of the rows that load n of the sums is of, as the sums see it; NULL = it is memory's.
static const tc__node *tc__down_value(const tc__down *d, const tc__node *n) {
    int64_t b =
        n->op == TC_OP_LOAD ? tc__join_buffer(d->rows, tc__buffer_of(d->sums, n)) : -1;
    return b >= 0 && d->rows->buffer.at[b].written ? tc__down_store(d->rows, b) : NULL;
}

// Whether the sums can have the value instead: it is made at the same row, and column.
static int tc__down_reaches(const tc__down *d, const tc__node *n, const tc__node *store) {
    if (!store || n->n_attr > TC__LOAD_PREDICATES || n->level != TC__AT_COL ||
        tc__down_ix(d, n->attr[TC__LOAD_INDEX]) != store->attr[TC__STORE_INDEX])
        return 0;
    return 1;
}

// Whether the value is of another loop over columns than the steps: it is kept as a row.
static int tc__down_is_kept(const tc__down *d, const tc__node *store) {
    return store->level == TC__AT_COL && !(d->columns && store->id > d->columns);
}

// Whether both read the same element, so that one of them need not.
static int tc__down_shares(const tc__down *d, const tc__node *n) {
    int64_t b = tc__join_buffer(d->rows, tc__buffer_of(d->sums, n));
    tc__ix at = tc__down_ix(d, n->attr[TC__LOAD_INDEX]);
    for (size_t i = 0; i < d->rows->body.node.count && b >= 0; i++) {
        const tc__node *m = d->rows->body.node.at[i];
        if (m->level == TC__AT_COL && tc__accesses(m, b) && m->attr[TC__ACCESS_INDEX] == at)
            return 1;
    }
    return 0;
}

// Where the steps stand: in the last loop over columns, if nothing is combined behind it and it is not in boxes.
static void tc__down_choose_loop(tc__down *d) {
    const tc__group *k = d->rows;
    d->columns = tc__down_last_loop(k);
    for (uint32_t id = d->columns; id < k->body.node.count; id++)
        if (k->body.node.at[id]->op == TC_OP_COMBINE) d->columns = 0;
    if (d->columns && k->body.node.at[d->columns]->n_attr > TC__FOR_BOXES) d->columns = 0;
    d->first = tc__down_last_loop(d->sums), d->last = tc__loop_end(d->sums, d->first);
}

static int tc__down_fits(tc__down *d) {
    int shares = 0;
    if (!tc__down_rows(d->rows) || !tc__down_sums(d->sums)) return 0;
    if (d->rows->shape.cols != d->sums->shape.rows ||
        d->rows->shape.rows != d->sums->shape.cols)
        return 0;
    if (d->rows->target.device != d->sums->target.device ||
        d->rows->target.loop != d->sums->target.loop)
        return 0;
    tc__down_choose_loop(d);
    for (size_t i = 0; i < d->sums->body.node.count; i++) {
        const tc__node *n = d->sums->body.node.at[i];
        if (n->op != TC_OP_LOAD && n->op != TC_OP_STORE) continue;
        int64_t b = tc__join_buffer(d->rows, tc__buffer_of(d->sums, n));
        int made = b >= 0 && d->rows->buffer.at[b].written;
        if (n->op == TC_OP_STORE && b >= 0) return 0;
        if (made && !tc__down_reaches(d, n, tc__down_value(d, n))) return 0;
        shares |= n->op == TC_OP_LOAD && n->level == TC__AT_COL && tc__down_shares(d, n);
    }
    return shares;
}

// ---- the list of both ----

// The buffer of access n in the list of both: one for each of the rows, which may be scratch; of the sums, those are it too.
static int64_t tc__down_buffer(tc__down *d, const tc__node *n, int of_sums) {
    int64_t b = n->attr[TC__ACCESS_BUFFER];
    const tc__group *k = of_sums ? d->sums : d->rows;
    if (of_sums) return tc__join_add_buffer(&d->j, &k->buffer.at[b]);
    if (d->j.buffer[b] < 0) d->j.buffer[b] = tc__join_add_buffer(&d->j, &k->buffer.at[b]);
    return d->j.buffer[b];
}

// A STORE or LOAD of what is kept of the row for the steps, at the column at hand.
static void tc__down_row(tc__down *d, const tc__node *n, const tc__node *store) {
    tc__node m = *n;
    tc__kbuf row = *tc__buffer_of(d->rows, store);
    int64_t attr[TC__LOAD_PREDICATES], b = store->attr[TC__STORE_BUFFER];
    row.place = TC__BUF_ROW, row.numel = d->rows->shape.cols, row.written = 0;
    if (d->kept[b] < 0) {
        d->kept[b] = (int64_t)d->j.to->buffer.count;
        if (!TC__PUSH(d->j.ctx, d->j.to->buffer, row)) d->j.failed = 1;
    }
    attr[TC__ACCESS_BUFFER] = d->kept[b], attr[TC__LOAD_FILL] = 0;
    attr[TC__ACCESS_INDEX] = tc__ix_var(d->rows->body.ix, TC__COL, d->rows->shape.cols);
    uint32_t in = n->op == TC_OP_STORE ? d->j.at[n->in[0]] : 0;
    m.in = &in, m.attr = attr;
    m.n_attr = n->op == TC_OP_STORE ? TC__STORE_KIND : TC__LOAD_PREDICATES;
    tc__join_node(&d->j, &m, n->id);
}

// What the row, or what stands behind all rows, has of m, a node of the sums, already, or the columns around; 0 = nothing.
static uint32_t tc__down_same(const tc__down *d, const tc__node *m) {
    const tc__group *to = d->j.to;
    tc__node row = *m;
    if (!tc__is_alu(m) && m->op != TC_OP_LOAD && m->op != TC_OP_CONST) return 0;
    if (m->op == TC_OP_LOAD && to->buffer.at[m->attr[TC__LOAD_BUFFER]].written) return 0;
    for (uint32_t id = (uint32_t)to->body.node.count; id-- > d->since;) {
        const tc__node *n = to->body.node.at[id];
        if (n->level == TC__AT_COL && id < d->around) continue; // of a loop that is over
        row.level = n->level, row.phase = n->phase;             // whichever it was made in
        if (tc__nodes_same(n, &row)) return id;
    }
    return 0;
}

// Appends node n of either, with operands by j.at.
static void tc__down_append(tc__down *d, const tc__node *n, int swapped, int column) {
    tc__node m = *n;
    uint32_t in[3];
    int64_t attr[TC__NODE_WORDS];
    int access = n->op == TC_OP_LOAD || n->op == TC_OP_STORE;
    for (uint32_t i = 0; i < n->n_in; i++) in[i] = d->j.at[n->in[i]];
    for (uint32_t i = 0; i < n->n_attr; i++)
        attr[i] = !tc__attr_is_ix(n, i) ? n->attr[i]
                  : swapped             ? tc__down_ix(d, n->attr[i])
                                        : tc__join_ix(&d->j, n->attr[i]);
    m.in = in, m.attr = attr;
    if (column) m.level = TC__AT_COL;
    if (swapped) tc__join_number(&d->j, &m, attr);
    if (access) attr[TC__ACCESS_BUFFER] = tc__down_buffer(d, n, swapped);
    uint32_t same = column ? tc__down_same(d, &m) : 0;
    if (same)
        d->j.at[n->id] = same;
    else
        tc__join_node(&d->j, &m, n->id);
}

static void tc__down_need(tc__down *d, uint32_t begin, uint32_t end) {
    memset(d->need, 0, d->sums->body.node.count);
    for (uint32_t id = end; id-- > 0;) {
        const tc__node *n = d->sums->body.node.at[id];
        if (id >= begin) d->need[id] = 1;
        for (uint32_t k = 0; k < n->n_in && d->need[id]; k++) d->need[n->in[k]] = 1;
    }
}

// What the sums' nodes [begin, end) are, and what stands before their loop that they need.
static void tc__down_nodes(tc__down *d, uint32_t begin, uint32_t end) {
    tc__down_need(d, begin, end);
    for (uint32_t id = 0; id < end; id++) {
        const tc__node *n = d->sums->body.node.at[id], *store = tc__down_value(d, n);
        if (!d->need[id] || tc__opens(n) || n->op == TC_OP_END || n->op == TC_OP_NEW)
            continue;
        if (id < begin && id >= d->first) continue; // of the loop
        if (store && tc__down_is_kept(d, store))
            tc__down_row(d, n, store);
        else if (store)
            d->j.at[id] = d->at[store->in[0]];
        else
            tc__down_append(d, n, 1, 1);
    }
}

static void tc__down_for(tc__down *d, tc__bind bind) {
    tc__node n = *d->rows->body.node.at[tc__down_last_loop(d->rows)];
    int64_t attr[TC__FOR_BOXES];
    memcpy(attr, n.attr, sizeof attr);
    attr[TC__FOR_BIND] = bind, attr[TC__FOR_UNROLL] = 1, attr[TC__FOR_CHUNK] = 0;
    n.attr = attr, n.n_attr = TC__FOR_BOXES;
    if (!tc__node_append(&d->j.to->body, &n)) d->j.failed = 1;
}

static void tc__down_end(tc__down *d) {
    tc__node n;
    int64_t attr = TC__COL;
    memset(&n, 0, sizeof n);
    n.op = TC_OP_END, n.stage = TC__LOOP, n.dtype = TC_I64, n.attr = &attr, n.n_attr = 1;
    if (!tc__node_append(&d->j.to->body, &n)) d->j.failed = 1;
}

// The steps, where the loop that they stand in ends, or the row.
static void tc__down_steps(tc__down *d, uint32_t *rows_at, uint32_t *sums_at) {
    d->j.at = sums_at;
    d->around = d->columns ? rows_at[d->columns] : (uint32_t)d->j.to->body.node.count;
    if (!d->columns) tc__down_for(d, TC__BIND_VECTOR);
    tc__down_nodes(d, d->first + 1, d->last);
    if (!d->columns) tc__down_end(d);
    d->j.at = rows_at;
}

static void tc__down_all(tc__down *d, uint32_t *rows_at, uint32_t *sums_at) {
    const tc__group *rows = d->rows, *sums = d->sums;
    uint32_t steps =
        d->columns ? tc__loop_end(rows, d->columns) : (uint32_t)rows->body.node.count - 1;
    d->j.accumulators = tc__count_op(rows, TC_OP_NEW);
    d->since = 1;
    d->at = d->j.at = rows_at;
    for (uint32_t id = 0; id < sums->body.node.count; id++)
        if (sums->body.node.at[id]->op == TC_OP_NEW) {
            d->j.at = sums_at;
            tc__down_append(d, sums->body.node.at[id], 1, 0);
        }
    d->j.at = rows_at;
    for (uint32_t id = 0; id < rows->body.node.count; id++) {
        const tc__node *n = rows->body.node.at[id];
        if (id == steps) tc__down_steps(d, rows_at, sums_at);
        int wanted = n->op == TC_OP_STORE && d->wanted[n->attr[TC__STORE_BUFFER]];
        if (wanted && tc__down_is_kept(d, n)) tc__down_row(d, n, n);
        if (n->op == TC_OP_STORE && d->own[n->attr[TC__STORE_BUFFER]]) continue;
        tc__down_append(d, n, 0, 0);
    }
    d->j.at = sums_at;
    tc__down_for(d, TC__BIND_WORKER);
    d->around = d->since =
        (uint32_t)d->j.to->body.node.count; // what rows have made is over
    tc__down_nodes(d, d->last + 1, (uint32_t)sums->body.node.count - 1);
    tc__down_end(d);
}

// Both as one; NULL = out of memory, reported.
static tc__group *tc__down_make(tc_ctx *c, tc__down *d) {
    size_t rows = d->rows->body.node.count, sums = d->sums->body.node.count;
    uint32_t *rows_at = TC__NEW_ARRAY(c, uint32_t, rows);
    uint32_t *sums_at = TC__NEW_ARRAY(c, uint32_t, sums);
    tc__group *k = tc__group_empty(c, d->rows);
    d->need = TC__NEW_ARRAY(c, uint8_t, sums);
    d->kept = TC__NEW_ARRAY(c, int64_t, d->rows->buffer.count);
    d->j.buffer = TC__NEW_ARRAY(c, int64_t, d->rows->buffer.count);
    d->j.ctx = c, d->j.to = k;
    int ok = rows_at && sums_at && d->need && d->j.buffer && d->kept && k;
    for (size_t b = 0; ok && b < d->rows->buffer.count; b++)
        d->j.buffer[b] = d->kept[b] = -1;
    if (ok) tc__down_all(d, rows_at, sums_at);
    if (ok) tc__join_covers(&d->j, d->rows), tc__join_covers(&d->j, d->sums);
    ok = ok && !d->j.failed && tc__checked(c, &k->body, TC__LOOP);
    TC__FREE_ARRAY(c, rows_at, rows);
    TC__FREE_ARRAY(c, sums_at, sums);
    TC__FREE_ARRAY(c, d->need, sums);
    TC__FREE_ARRAY(c, d->j.buffer, d->rows->buffer.count);
    TC__FREE_ARRAY(c, d->kept, d->rows->buffer.count);
    if (!ok) tc__group_free(c, k);
    return ok ? k : NULL;
}

// ---- the schedule ----

static int tc__down_reads(const tc__group *k, const tc__kbuf *b) {
    int64_t at = tc__join_buffer(k, b);
    return at >= 0 && !k->buffer.at[at].written;
}

// Whether some kernel in (from, to) reads what k makes, or makes what k reads.
static int tc__down_meets(const tc__schedule *s, size_t from, size_t to, const tc__group *k,
                          int makes) {
    for (size_t i = from + 1; i < to; i++) {
        const tc__group *o = s->kernel.at[i];
        for (size_t b = 0; o && b < k->buffer.count; b++) {
            const tc__kbuf *mine = &k->buffer.at[b];
            int64_t at = tc__join_buffer(o, mine);
            if (at < 0 || mine->place != TC__BUF_NODE) continue;
            if (makes ? mine->written : o->buffer.at[at].written) return 1;
        }
    }
    return 0;
}

// Marks results of kernel `rows` that kernel `sums` reads, and those that nobody else does.
static void tc__down_own(const tc__schedule *s, size_t rows, size_t sums, uint8_t *wanted,
                         uint8_t *own) {
    const tc__group *k = s->kernel.at[rows];
    for (size_t b = 0; b < k->buffer.count; b++) {
        const tc__kbuf *mine = &k->buffer.at[b];
        wanted[b] = tc__is_join_result(mine) && tc__down_reads(s->kernel.at[sums], mine);
        own[b] = wanted[b] && !s->root.at[s->root_of[mine->source]].output;
        for (size_t i = 0; i < s->kernel.count && own[b]; i++)
            if (i != rows && i != sums && s->kernel.at[i])
                own[b] = !tc__down_reads(s->kernel.at[i], mine);
    }
}

// Where kernels at `a` and `b` may stand as one: at the first or the last of the two.
typedef struct tc__down_place {
    size_t first, last;
    int early;
} tc__down_place;

// 0 = at neither.
static int tc__down_has_place(const tc__schedule *s, size_t a, size_t b,
                              tc__down_place *p) {
    p->first = a < b ? a : b, p->last = a < b ? b : a;
    p->early = !tc__down_meets(s, p->first, p->last, s->kernel.at[p->last], 0);
    return p->early || !tc__down_meets(s, p->first, p->last, s->kernel.at[p->first], 1);
}

// k stands for both, or where it is not `made` nobody has it.
static void tc__down_put(tc__schedule *s, const tc__down_place *p, tc__group *k, int made) {
    tc__group **at = s->kernel.at;
    if (!made) {
        tc__group_free(s->ctx, k);
        return;
    }
    tc__group_free(s->ctx, at[p->first]), tc__group_free(s->ctx, at[p->last]);
    at[p->first] = p->early ? k : NULL, at[p->last] = p->early ? NULL : k;
}

// Kernels at `rows_at` and `sums_at` as one, where the first or the second of them was, if it fits and the language takes it;
// *made tells. 0 = reported.
static int tc__down_two(tc__schedule *s, const tc__dialect *l, size_t rows_at,
                        size_t sums_at, int *made) {
    tc__down d;
    tc__group *rows = s->kernel.at[rows_at], *sums = s->kernel.at[sums_at];
    tc__down_place place;
    memset(&d, 0, sizeof d);
    d.rows = rows, d.sums = sums, *made = 0;
    if (!tc__down_fits(&d)) return 1;
    if (!tc__down_has_place(s, rows_at, sums_at, &place)) return 1;
    d.own = TC__NEW_ARRAY(s->ctx, uint8_t, rows->buffer.count);
    d.wanted = TC__NEW_ARRAY(s->ctx, uint8_t, rows->buffer.count);
    if (d.own && d.wanted) tc__down_own(s, rows_at, sums_at, d.wanted, d.own);
    tc__group *k = d.own && d.wanted ? tc__down_make(s->ctx, &d) : NULL;
    TC__FREE_ARRAY(s->ctx, d.own, rows->buffer.count);
    TC__FREE_ARRAY(s->ctx, d.wanted, rows->buffer.count);
    if (!k) return 0;
    *made = l->takes_down(k);
    tc__log(s->ctx, TC__LOG_FUSION,
            *made ? "%%%u is summed down the columns where %%%u is made row by row"
                  : "%%%u is not summed where %%%u is made row by row: there are too few "
                    "rows, or too little room for the sums",
            (unsigned)sums->covers.at[0], (unsigned)rows->covers.at[0]);
    if (*made && !l->lower) tc__down_lay_out(k);
    tc__down_put(s, &place, k, *made);
    return 1;
}

// Each kernel of sums with the nearest before it that makes rows of the same elements, or else the nearest behind it: sums that need no
// result of the rows may stand first. 0 = reported.
static int tc__down_join(tc__schedule *s, const tc__dialect *l, int device) {
    int ok = 1, made;
    for (size_t at = 0; ok && at < s->kernel.count; at++) {
        made = !s->kernel.at[at] || s->kernel.at[at]->target.device != device;
        for (size_t rows = at; ok && rows-- > 0 && !made;)
            if (s->kernel.at[rows]) ok = tc__down_two(s, l, rows, at, &made);
        for (size_t rows = at + 1; ok && rows < s->kernel.count && !made; rows++)
            if (s->kernel.at[rows]) ok = tc__down_two(s, l, rows, at, &made);
    }
    return ok;
}
