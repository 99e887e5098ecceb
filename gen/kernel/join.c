// Rows that are made in the kernel of the products that read them: a norm before a linear layer, where
// a device's language wants it. Input: the kernels of a schedule. Output: fewer of them.
//
// A joined kernel is one LOOP list: the loop over rows of the producer, whose result goes to a
// buffer LEFT of one row instead of memory, then the product's operands and its loop over rows, which
// reads that buffer at k. So all that walks a list finds what both have; group.prologue says where
// the first ends. Rows are made again by every block of columns: the dialect knows when that is
// cheaper than a kernel and memory between (tc__dialect.takes_rows). Nothing on the host does.

enum {
    TC__JOIN_READERS = 3, // products that make the same rows, each for itself: q, k and v
    TC__JOIN_VALS = 16    // loaded values in one index
};

// ---- which kernels ----

// The only result of k: its buffer, -1 = there are others, or it is not one of columns.
static int64_t tc__join_result(const tc__group *k) {
    int64_t result = -1;
    for (size_t i = 0; i < k->buffer.count; i++) {
        if (!k->buffer.at[i].written || k->buffer.at[i].place != TC__BUF_NODE) continue;
        if (result >= 0) return -1;
        result = (int64_t)i;
    }
    return result;
}

// The index of row r that names `axis`: extent * r + axis.
static tc__ix tc__join_index(const tc__group *k, tc__axis axis, tc__ix extent) {
    tc__ixpool *x = k->body.ix;
    tc__ix at = tc__ix_var(x, axis, extent);
    if (tc__ix_equals(k->rows, 1)) return at;
    return tc__ix_add(x, at,
                      tc__ix_mul(x, extent, tc__ix_var(x, TC__ROW, k->rows)));
}

// Whether every access of buffer b is by `op`, at `level`, at element `index`; and there is one.
static int tc__join_accesses(const tc__group *k, int64_t b, tc__op op, tc__level level,
                             tc__ix index) {
    int count = 0;
    for (size_t i = 0; i < k->body.node.count; i++) {
        const tc__node *n = k->body.node.at[i];
        if ((n->op != TC_OP_LOAD && n->op != TC_OP_STORE) || n->attr[0] != b) continue;
        if (n->op != (uint16_t)op || n->level != (uint8_t)level || n->attr[1] != index ||
            (op == TC_OP_LOAD && n->n_attr > TC__LOAD_FIXED))
            return 0;
        count++;
    }
    return count > 0;
}

// Whether k makes rows that stand before nothing else: its result, and rows for itself.
static int tc__join_makes(const tc__schedule *s, const tc__group *k, int64_t b) {
    if (b < 0 || k->kind != TC__REDUCTION || k->vector != TC__COL) return 0;
    if (s->root.at[s->root_of[k->buffer.at[b].source]].output) return 0;
    return tc__join_accesses(k, b, TC_OP_STORE, TC__AT_COL,
                             tc__join_index(k, TC__COL, k->cols));
}

static int64_t tc__join_buffer(const tc__group *k, const tc__kbuf *b) {
    for (size_t i = 0; i < k->buffer.count; i++)
        if (k->buffer.at[i].place == b->place && k->buffer.at[i].source == b->source)
            return (int64_t)i;
    return -1;
}

// Whether buffer b of `rows` is the left operand of k, and nothing else there.
static int tc__join_fits(const tc__group *rows, const tc__kbuf *b, const tc__group *k) {
    int64_t at = tc__join_buffer(k, b);
    if (k->kind != TC__CONTRACTION || k->prologue || k->phases != 1) return 0;
    return rows->rows == k->rows && rows->cols == k->depth &&
           tc__join_accesses(k, at, TC_OP_LOAD, TC__AT_LEFT,
                             tc__join_index(k, TC__DEPTH, k->depth));
}

// ---- the list of both ----

typedef struct tc__join {
    tc_ctx *ctx;
    tc__group *to;
    const tc__kbuf *left; // of the producer
    int failed;
} tc__join;

static int64_t tc__join_add_buffer(tc__join *j, const tc__kbuf *b) {
    tc__kbuf own = *b;
    int made = b->place == j->left->place && b->source == j->left->source;
    if (made) own.place = TC__BUF_LEFT, own.numel = j->to->depth, own.written = 1;
    int64_t at = tc__join_buffer(j->to, &own);
    if (at >= 0) {
        j->to->buffer.at[at].written |= own.written;
        return at;
    }
    if (!TC__PUSH(j->ctx, j->to->buffer, own)) j->failed = 1;
    return (int64_t)j->to->buffer.count - 1;
}

// e with its values named by where they stand in the joined list. The last first, so that none is
// moved twice.
static tc__ix tc__join_ix(tc__ixpool *x, tc__ix e, uint32_t shift) {
    tc__ix vals[TC__JOIN_VALS];
    uint32_t n = tc__ix_vals(x, e, vals, TC__JOIN_VALS);
    while (n > 0 && shift) {
        uint32_t last = 0;
        for (uint32_t i = 1; i < n; i++)
            if (tc__ix_node(x, vals[i])->a > tc__ix_node(x, vals[last])->a) last = i;
        tc__ixnode v = *tc__ix_node(x, vals[last]);
        e = tc__ix_subst(x, e, vals[last],
                         tc__ix_val(x, (uint32_t)v.a + shift, tc__ix_const(v.hi + 1)));
        vals[last] = vals[--n];
    }
    return e;
}

// Appends the list of k, whose ids grow by `shift`. What is made, or read, of the row in LEFT is at its
// own column.
static void tc__join_append(tc__join *j, const tc__group *k, uint32_t shift) {
    tc__ixpool *x = k->body.ix;
    for (size_t id = 0; id < k->body.node.count && !j->failed; id++) {
        tc__node n = *k->body.node.at[id];
        uint32_t in[3];
        int64_t attr[32];
        for (uint32_t i = 0; i < n.n_in; i++) in[i] = n.in[i] + shift;
        for (uint32_t i = 0; i < n.n_attr; i++)
            attr[i] =
                tc__attr_is_ix(&n, i) ? tc__join_ix(x, n.attr[i], shift) : n.attr[i];
        if (n.op == TC_OP_LOAD || n.op == TC_OP_STORE) {
            attr[0] = tc__join_add_buffer(j, &k->buffer.at[n.attr[0]]);
            if (!j->failed && j->to->buffer.at[attr[0]].place == TC__BUF_LEFT)
                attr[1] = n.op == TC_OP_STORE ? tc__ix_var(x, TC__COL, k->cols)
                                              : tc__ix_var(x, TC__DEPTH, k->depth);
        }
        n.in = in, n.attr = attr;
        if (!tc__node_append(&j->to->body, &n)) j->failed = 1;
    }
    for (size_t i = 0; i < k->covers.count; i++)
        if (!TC__PUSH(j->ctx, j->to->covers, k->covers.at[i])) j->failed = 1;
}

// `product` with the rows that `rows` makes in its buffer `left`; NULL = out of memory, reported.
static tc__group *tc__join_groups(tc_ctx *c, const tc__group *rows, const tc__kbuf *left,
                                  const tc__group *product) {
    tc__join j;
    uint32_t shift = (uint32_t)rows->body.node.count;
    tc__group *k = TC__NEW(c, tc__group), empty;
    if (!k) return NULL;
    memset(&empty, 0, sizeof empty);
    *k = *product;
    k->body = empty.body;
    memset(&k->buffer, 0, sizeof k->buffer), memset(&k->covers, 0, sizeof k->covers);
    k->prologue = shift, k->left = product->left + shift, k->right = product->right + shift;
    j.ctx = c, j.to = k, j.left = left, j.failed = 0;
    if (tc__graph_open(&k->body, c, product->body.ix)) {
        tc__join_append(&j, rows, 0);
        tc__join_append(&j, product, shift);
        if (!j.failed && tc__checked(c, &k->body, TC__LOOP)) return k;
    }
    tc__group_free(c, k);
    return NULL;
}

// ---- the schedule ----

// The kernels that read what buffer `b` has, all of which may make it themselves: how many, 0 = some may
// not.
static uint32_t tc__join_readers(const tc__schedule *s, size_t from, const tc__kbuf *b,
                                 size_t at[TC__JOIN_READERS]) {
    uint32_t n = 0;
    for (size_t i = 0; i < s->kernel.count; i++) {
        const tc__group *k = s->kernel.at[i];
        if (!k || i == from || tc__join_buffer(k, b) < 0) continue;
        if (n == TC__JOIN_READERS || !tc__join_fits(s->kernel.at[from], b, k)) return 0;
        at[n++] = i;
    }
    return n;
}

// Kernel `from` becomes a part of its readers, if it may and all of them take it. 0 = reported.
static int tc__join_one(tc__schedule *s, const tc__dialect *d, size_t from) {
    tc__group *rows = s->kernel.at[from], *made[TC__JOIN_READERS];
    size_t at[TC__JOIN_READERS];
    int64_t b = tc__join_result(rows);
    if (!tc__join_makes(s, rows, b)) return 1;
    uint32_t n = tc__join_readers(s, from, &rows->buffer.at[b], at), count = 0;
    int take = n > 0, ok = 1;
    while (take && count < n) {
        made[count] =
            tc__join_groups(s->ctx, rows, &rows->buffer.at[b], s->kernel.at[at[count]]);
        ok = made[count] != NULL;
        take = ok && d->takes_rows(made[count]);
        count += (uint32_t)ok;
    }
    for (uint32_t i = 0; i < count; i++) {
        tc__group *old = take ? s->kernel.at[at[i]] : made[i];
        if (take) s->kernel.at[at[i]] = made[i];
        tc__group_free(s->ctx, old);
    }
    if (take) tc__group_free(s->ctx, rows), s->kernel.at[from] = NULL;
    return ok;
}

// Joins what the language of the schedule's device takes. 0 = reported.
static int tc__schedule_join(tc__schedule *s, const tc__dialect *d) {
    size_t kept = 0;
    int ok = 1;
    if (!d->takes_rows || !s->fuse) return 1;
    for (size_t i = 0; i < s->kernel.count && ok; i++) ok = tc__join_one(s, d, i);
    for (size_t i = 0; i < s->kernel.count; i++)
        if (s->kernel.at[i]) s->kernel.at[kept++] = s->kernel.at[i];
    s->kernel.count = kept;
    return ok;
}
