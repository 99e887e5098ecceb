// Kernels that become one because the rows of one are read, row by row, by the next, where a language wants
// that: a norm before a linear layer; the scores of attention, their softmax, and the product with the values.
// Input: the kernels of a schedule. Output: fewer of them.
//
// A joined kernel is one LOOP list of several parts (part.c): the list of the producer, whose result goes to a buffer
// MADE of one row instead of memory, then that of the reader, which reads that buffer at its k or column. So all
// that walks a list finds what both have; group.prologue says where the last part begins. Which joints pay knows
// the dialect (tc__dialect.takes_rows): on a device rows are made again by every block of columns of a product;
// the host takes what would go through memory between products.
//
// Merging (merge.c) gives rows and reductions one space; contractions have others, so their lists are joined.

enum {
    TC__JOIN_READERS = 3, // products that make the same rows, each for itself: q, k and v
    TC__JOIN_VALS = 16    // loaded values in one index
};

// ---- which kernels ----

// The index of row r that names `axis`: extent * r + axis.
static tc__ix tc__join_index(const tc__group *k, tc__axis axis, tc__ix extent) {
    tc__ixpool *x = k->body.ix;
    tc__ix at = tc__ix_var(x, (int)axis, extent);
    if (tc__ix_equals(k->shape.rows, 1)) return at;
    return tc__ix_add(x, at, tc__ix_mul(x, extent, tc__ix_var(x, TC__ROW, k->shape.rows)));
}

// Whether every access of buffer b is by `op`, at `level`, at element `index`; and there is one.
static int tc__join_accesses(const tc__group *k, int64_t b, tc__op op, tc__level level,
                             tc__ix index) {
    int count = 0;
    for (size_t i = 0; i < k->body.node.count; i++) {
        const tc__node *n = k->body.node.at[i];
        if (!tc__accesses(n, b)) continue;
        if (n->op != (uint16_t)op || n->level != (uint8_t)level ||
            n->attr[TC__ACCESS_INDEX] != index ||
            (op == TC_OP_LOAD && n->n_attr > TC__LOAD_PREDICATES))
            return 0;
        count++;
    }
    return count > 0;
}

static int tc__is_join_result(const tc__kbuf *b) {
    return b->written && b->place == TC__BUF_NODE;
}

// Whether k is a list over rows whose columns are vectors.
static int tc__join_has_rows(const tc__group *k) {
    return (k->shape.kind == TC__REDUCTION || k->shape.kind == TC__CONTRACTION) &&
           k->shape.vector == TC__COL;
}

// Whether result b of k is rows that it makes column by column.
static int tc__join_makes(const tc__group *k, int64_t b) {
    return tc__join_has_rows(k) && tc__is_join_result(&k->buffer.at[b]) &&
           tc__join_accesses(k, b, TC_OP_STORE, TC__AT_COL,
                             tc__join_index(k, TC__COL, k->shape.cols));
}

static int64_t tc__join_buffer(const tc__group *k, const tc__kbuf *b) {
    for (size_t i = 0; i < k->buffer.count; i++)
        if (k->buffer.at[i].place == b->place && k->buffer.at[i].source == b->source)
            return (int64_t)i;
    return -1;
}

// Whether k reads buffer `at`, rows of `length`, as those of its left operand, or of its columns, and only so.
static int tc__join_reads(const tc__group *k, int64_t at, tc__ix length) {
    if (k->shape.kind == TC__CONTRACTION && tc__depth_of(k) == length &&
        tc__join_accesses(k, at, TC_OP_LOAD, TC__AT_LEFT,
                          tc__join_index(k, TC__DEPTH, length)))
        return 1;
    return k->shape.cols == length && tc__join_accesses(k, at, TC_OP_LOAD, TC__AT_COL,
                                                        tc__join_index(k, TC__COL, length));
}

// Whether both have the same rows and, of batches, the same blocks of them.
static int tc__join_aligns(const tc__group *rows, const tc__group *k) {
    int both = k->shape.kind == TC__CONTRACTION && tc__count_contractions(rows);
    return rows->shape.rows == k->shape.rows &&
           (!both || rows->shape.batch == k->shape.batch);
}

// Whether buffer b of `rows` is read row by row by k, in a kernel of at most so many contractions. Nothing else
// of `rows` may be read there: another block may write it.
static int tc__join_fits(const tc__group *rows, const tc__kbuf *b, const tc__group *k,
                         int contractions) {
    int made = tc__count_contractions(rows), product = k->shape.kind == TC__CONTRACTION;
    if (!tc__join_has_rows(k) || k->shape.prologue || made + product > contractions)
        return 0;
    if (product ? k->shape.phases != 1 : !made || contractions < 2) return 0;
    for (size_t i = 0; i < rows->buffer.count; i++) {
        const tc__kbuf *o = &rows->buffer.at[i];
        if (o != b && tc__is_join_result(o) && tc__join_buffer(k, o) >= 0) return 0;
    }
    return tc__join_aligns(rows, k) &&
           tc__join_reads(k, tc__join_buffer(k, b), rows->shape.cols);
}

// ---- the list of both ----

typedef struct tc__join {
    tc_ctx *ctx;
    tc__group *to;
    const tc__kbuf *made; // of the producer; NULL = neither list reads of the other
    tc__ix cols;          // of its rows
    int kept;             // it is in memory, too
    uint32_t *at;         // of the list that is appended: old id -> new id,
    int64_t *buffer;      //   and old buffer -> new one
    int64_t accumulators; // of what is there before
    int failed;
} tc__join;

static int tc__join_is_made(const tc__join *j, const tc__kbuf *b) {
    return j->made && b->place == j->made->place && b->source == j->made->source;
}

// Where buffer b is in the joined list. Scratch of a row is of one list: it has a number of its own.
static int64_t tc__join_add_buffer(tc__join *j, const tc__kbuf *b) {
    tc__kbuf own = *b;
    int64_t at = tc__join_buffer(j->to, &own);
    while (b->place == TC__BUF_ROW && at >= 0) {
        own.source++;
        at = tc__join_buffer(j->to, &own);
    }
    if (at >= 0) {
        j->to->buffer.at[at].written |= b->written;
        return at;
    }
    if (!TC__PUSH(j->ctx, j->to->buffer, own)) j->failed = 1;
    return (int64_t)j->to->buffer.count - 1;
}

static int64_t tc__join_add_made(tc__join *j) {
    tc__kbuf own = *j->made;
    own.place = TC__BUF_MADE, own.numel = j->cols;
    return tc__join_add_buffer(j, &own);
}

// e with its values named by where they stand in the joined list: later than before, so the last is
// the first, and none is moved twice.
static tc__ix tc__join_ix(const tc__join *j, tc__ix e) {
    tc__ixpool *x = j->to->body.ix;
    tc__ix vals[TC__JOIN_VALS];
    uint32_t n = tc__ix_vals(x, e, vals, TC__JOIN_VALS);
    while (n > 0) {
        uint32_t last = 0;
        for (uint32_t i = 1; i < n; i++)
            if (tc__ix_node(x, vals[i])->a > tc__ix_node(x, vals[last])->a) last = i;
        tc__ixnode v = *tc__ix_node(x, vals[last]);
        e = tc__ix_subst(x, e, vals[last],
                         tc__ix_val(x, j->at[v.a], tc__ix_const(v.hi + 1)));
        vals[last] = vals[--n];
    }
    return e;
}

static void tc__join_node(tc__join *j, const tc__node *n, uint32_t from) {
    const tc__node *made = j->failed ? NULL : tc__node_append(&j->to->body, n);
    if (!made) j->failed = 1;
    if (made) j->at[from] = made->id;
}

// The accumulators of the joined list have numbers of their own.
static void tc__join_number(const tc__join *j, const tc__node *n, int64_t *attr) {
    if (n->op == TC_OP_NEW) attr[TC__NEW_ACCUMULATOR] += j->accumulators;
    if (n->op == TC_OP_ACC) attr[TC__ACC_ACCUMULATOR] += j->accumulators;
    if (n->op == TC_OP_COMBINE) attr[TC__COMBINE_ACCUMULATOR] += j->accumulators;
}

// An access to the row that is made: at its own column or k, and of a result that is kept to memory, too.
static void tc__join_made(tc__join *j, const tc__group *k, tc__node *n, int64_t *attr,
                          uint32_t id) {
    int left = n->level == TC__AT_LEFT, store = n->op == TC_OP_STORE;
    if (store && j->kept) {
        attr[TC__ACCESS_BUFFER] = tc__join_add_buffer(j, j->made);
        tc__join_node(j, n, id);
    }
    if (store) attr[TC__STORE_KIND] = TC__STORE_CACHED;
    attr[TC__ACCESS_BUFFER] = tc__join_add_made(j);
    attr[TC__ACCESS_INDEX] = left ? tc__ix_var(k->body.ix, TC__DEPTH, tc__depth_of(k))
                                  : tc__ix_var(k->body.ix, TC__COL, k->shape.cols);
}

// Appends node `id` of k.
static void tc__join_append_node(tc__join *j, const tc__group *k, uint32_t id) {
    tc__node n = *k->body.node.at[id];
    uint32_t in[3];
    int64_t attr[32];
    for (uint32_t i = 0; i < n.n_in; i++) in[i] = j->at[n.in[i]];
    for (uint32_t i = 0; i < n.n_attr; i++)
        attr[i] = tc__attr_is_ix(&n, i) ? tc__join_ix(j, n.attr[i]) : n.attr[i];
    n.in = in, n.attr = attr;
    tc__join_number(j, &n, attr);
    if (n.op == TC_OP_LOAD || n.op == TC_OP_STORE) {
        int64_t b = attr[TC__ACCESS_BUFFER];
        attr[TC__ACCESS_BUFFER] = j->buffer[b];
        if (tc__join_is_made(j, &k->buffer.at[b])) tc__join_made(j, k, &n, attr, id);
    }
    tc__join_node(j, &n, id);
}

// What k covers, the joined list does.
static void tc__join_covers(tc__join *j, const tc__group *k) {
    for (size_t i = 0; i < k->covers.count; i++)
        if (!TC__PUSH(j->ctx, j->to->covers, k->covers.at[i])) j->failed = 1;
}

// Appends what k computes. The maps are there.
static void tc__join_append_all(tc__join *j, const tc__group *k) {
    j->accumulators = (int64_t)tc__count_op(j->to, TC_OP_NEW);
    for (size_t i = 0; i < k->buffer.count; i++) {
        const tc__kbuf *b = &k->buffer.at[i];
        j->buffer[i] = tc__join_is_made(j, b) ? -1 : tc__join_add_buffer(j, b);
    }
    for (uint32_t id = 0; id < k->body.node.count && !j->failed; id++)
        tc__join_append_node(j, k, id);
    tc__join_covers(j, k);
}

// Appends the list of k. 0 = out of memory.
static int tc__join_append(tc__join *j, const tc__group *k) {
    size_t nodes = k->body.node.count + 1, buffers = k->buffer.count + 1;
    j->at = TC__NEW_ARRAY(j->ctx, uint32_t, nodes);
    j->buffer = TC__NEW_ARRAY(j->ctx, int64_t, buffers);
    int ok = j->at && j->buffer;
    if (ok) tc__join_append_all(j, k);
    TC__FREE_ARRAY(j->ctx, j->at, nodes);
    TC__FREE_ARRAY(j->ctx, j->buffer, buffers);
    return ok && !j->failed;
}

// `reader` with the rows that `rows` makes in its buffer `made`; NULL = out of memory, reported.
static tc__group *tc__join_groups(tc_ctx *c, const tc__group *rows, const tc__kbuf *made,
                                  int kept, const tc__group *reader) {
    tc__join j;
    tc__group *k = tc__group_empty(c, reader);
    if (!k) return NULL;
    memset(&j, 0, sizeof j);
    j.ctx = c, j.to = k, j.made = made, j.cols = rows->shape.cols, j.kept = kept;
    int ok = tc__join_append(&j, rows);
    k->shape.prologue = (uint32_t)k->body.node.count;
    if (reader->shape.kind != TC__CONTRACTION) k->shape.batch = rows->shape.batch;
    if (ok && tc__join_append(&j, reader) && tc__parts_checked(c, k)) return k;
    tc__group_free(c, k);
    return NULL;
}

// ---- the schedule ----

// A producer, its rows, and the products that make them now.
typedef struct tc__joint {
    size_t from, last;    // the last kernel that reads a result of it
    const tc__kbuf *rows; // of the producer
    int kept;             // they are in memory, too
    uint32_t count;
    size_t at[TC__JOIN_READERS];
    tc__group *made[TC__JOIN_READERS];
} tc__joint;

static int tc__join_reads_any(const tc__group *rows, const tc__group *k) {
    for (size_t i = 0; i < rows->buffer.count; i++)
        if (tc__is_join_result(&rows->buffer.at[i]) &&
            tc__join_buffer(k, &rows->buffer.at[i]) >= 0)
            return 1;
    return 0;
}

static int tc__join_has_others(const tc__group *rows, const tc__kbuf *b) {
    for (size_t i = 0; i < rows->buffer.count; i++)
        if (&rows->buffer.at[i] != b && tc__is_join_result(&rows->buffer.at[i])) return 1;
    return 0;
}

// The last kernel that reads each node of the graph, by node; NULL = out of memory. Of what a kernel reads
// that has been joined with a later one, the producers were looked at before.
static size_t *tc__join_last_readers(const tc__schedule *s) {
    size_t *last = TC__NEW_ARRAY(s->ctx, size_t, s->g->node.count + 1);
    for (size_t i = 0; last && i < s->kernel.count; i++) {
        const tc__group *k = s->kernel.at[i];
        for (size_t b = 0; b < k->buffer.count; b++)
            if (k->buffer.at[b].place == TC__BUF_NODE) last[k->buffer.at[b].source] = i;
    }
    return last;
}

static int tc__join_is_again(const tc__schedule *s, const tc__group *k) {
    for (size_t i = 0; k && i < k->buffer.count; i++)
        if (tc__is_join_result(&k->buffer.at[i]) &&
            s->again[k->buffer.at[i].source] >= TC__AGAIN_FIRST)
            return 1;
    return 0;
}

// Whether a checkpoint is computed again between both, so that the first would keep what it reads beside the values of
// that. Kernels before it end first, whatever a joint would save.
static int tc__join_keeps(const tc__schedule *s, size_t from, size_t to) {
    if (tc__join_is_again(s, s->kernel.at[from])) return 0;
    for (size_t i = from + 1; i < to; i++)
        if (tc__join_is_again(s, s->kernel.at[i])) return 1;
    return 0;
}

// Who makes the rows: every reader, where all are products and nothing else is made; else the first one,
// which writes what the others read. A product is not made twice.
static void tc__join_find(const tc__schedule *s, const tc__dialect *d, tc__joint *j) {
    const tc__group *rows = s->kernel.at[j->from];
    int output = s->root.at[s->root_of[j->rows->source]].output;
    int each =
        !output && !tc__join_has_others(rows, j->rows) && !tc__count_contractions(rows);
    uint32_t readers = 0;
    j->count = 0, j->kept = output;
    for (size_t i = j->from + 1; i <= j->last; i++) {
        const tc__group *k = s->kernel.at[i];
        if (!k || !tc__join_reads_any(rows, k)) continue;
        int fits = tc__join_fits(rows, j->rows, k, d->contractions);
        if (!readers++ && !fits) return;
        each &= fits && readers <= TC__JOIN_READERS;
        if (readers > 1) j->kept |= tc__join_buffer(k, j->rows) >= 0;
        if (each || readers == 1) j->at[j->count++] = i;
    }
    if (each) j->kept = 0;
    if (!each && j->count) j->count = 1;
}

static void tc__join_log(const tc__schedule *s, const tc__joint *j, int take) {
    unsigned node = (unsigned)j->rows->source;
    if (!j->count) return;
    tc__log(s->ctx, TC__LOG_FUSION,
            take ? "%%%u is made, row by row, in %u kernel%s that read%s it"
                 : "%%%u is not made in the %u kernel%s that read%s it: that would cost "
                   "more than a kernel and memory between",
            node, (unsigned)j->count, j->count == 1 ? "" : "s", j->count == 1 ? "s" : "");
}

static int tc__join_one(tc__schedule *s, const tc__dialect *d, const size_t *last,
                        size_t from);

// k stands where its last part was, and where its first was nothing does; it stays if what reads it takes it. 0 = reported.
static int tc__join_tried(tc__schedule *s, const tc__dialect *d, const size_t *last,
                          const tc__joint *j, tc__group *k) {
    size_t at = j->at[0];
    tc__group *rows = s->kernel.at[j->from], *reader = s->kernel.at[at];
    s->kernel.at[j->from] = NULL, s->kernel.at[at] = k;
    int ok = tc__join_one(s, d, last, at), taken = s->kernel.at[at] != k;
    if (!taken) s->kernel.at[j->from] = rows, s->kernel.at[at] = reader;
    tc__group_free(s->ctx, taken ? rows : k);
    if (taken) tc__group_free(s->ctx, reader);
    return ok;
}

// The producer becomes a part of its readers, if the language takes them all. 0 = reported.
static int tc__join_readers(tc__schedule *s, const tc__dialect *d, const size_t *last,
                            tc__joint *j) {
    tc__group *rows = s->kernel.at[j->from];
    uint32_t made = 0;
    tc__takes takes = j->count ? TC__TAKES : TC__TAKES_NOT;
    int ok = 1;
    for (uint32_t i = 0; i < j->count; i++)
        if (s->kernel.at[j->at[i]]->target.loop != rows->target.loop ||
            tc__join_keeps(s, j->from, j->at[i]))
            takes = TC__TAKES_NOT;
    while (takes == TC__TAKES && made < j->count) {
        tc__group *k =
            tc__join_groups(s->ctx, rows, j->rows, j->kept, s->kernel.at[j->at[made]]);
        ok = k != NULL;
        takes = ok ? d->takes_rows(k) : TC__TAKES_NOT;
        if (ok) j->made[made++] = k;
    }
    if (takes == TC__TAKES_WITH_READER && j->count == 1)
        return tc__join_tried(s, d, last, j, j->made[0]);
    int take = takes == TC__TAKES;
    tc__join_log(s, j, take);
    for (uint32_t i = 0; i < made; i++) {
        tc__group *old = take ? s->kernel.at[j->at[i]] : j->made[i];
        if (take) s->kernel.at[j->at[i]] = j->made[i];
        tc__group_free(s->ctx, old);
    }
    if (take) tc__group_free(s->ctx, rows), s->kernel.at[j->from] = NULL;
    return ok;
}

// Joins kernel `from` with its readers by one of its results. 0 = reported.
static int tc__join_one(tc__schedule *s, const tc__dialect *d, const size_t *last,
                        size_t from) {
    const tc__group *k = s->kernel.at[from];
    tc__joint j;
    int ok = 1;
    memset(&j, 0, sizeof j);
    j.from = from;
    for (size_t b = 0; b < k->buffer.count; b++)
        if (tc__is_join_result(&k->buffer.at[b]) && last[k->buffer.at[b].source] > j.last)
            j.last = last[k->buffer.at[b].source];
    for (size_t b = 0; ok && s->kernel.at[from] && b < s->kernel.at[from]->buffer.count;
         b++) {
        if (!tc__join_makes(s->kernel.at[from], (int64_t)b)) continue;
        j.rows = &s->kernel.at[from]->buffer.at[b];
        tc__join_find(s, d, &j);
        ok = tc__join_readers(s, d, last, &j);
    }
    return ok;
}

// Kernels with the rows that they read, where the language of a device takes them. What is a part now is NULL in the
// schedule. 0 = reported.
static int tc__join_rows(tc__schedule *s, const tc__dialect *d, int device) {
    int ok = 1;
    if (!d->takes_rows) return 1;
    size_t *last = tc__join_last_readers(s);
    if (!last) return 0;
    for (size_t i = 0; i < s->kernel.count && ok; i++)
        if (s->kernel.at[i] && s->kernel.at[i]->target.device == device)
            ok = tc__join_one(s, d, last, i);
    TC__FREE_ARRAY(s->ctx, last, s->g->node.count + 1);
    return ok;
}
