// Equal kernels. Input: kernels (LOOP). Output: whether two of one pool of expressions are the same, and what a kernel is as
// bytes, which are equal for equal kernels of any two programs: with them code is found, on disk as well, of which no text has to be
// printed. Both leave out what is no part of a text: where buffers are.

static int tc__nodes_same(const tc__node *a, const tc__node *b) {
    return a->op == b->op && a->dtype == b->dtype && a->level == b->level &&
           a->phase == b->phase && a->n_in == b->n_in && a->n_attr == b->n_attr &&
           (!a->n_in || !memcmp(a->in, b->in, a->n_in * sizeof *a->in)) &&
           (!a->n_attr || !memcmp(a->attr, b->attr, a->n_attr * sizeof *a->attr));
}

static int tc__buffers_same(const tc__kbuf *a, const tc__kbuf *b) {
    return (a->place == b->place || (tc__is_memory(a) && tc__is_memory(b))) &&
           a->dtype == b->dtype && a->written == b->written && a->in_turns == b->in_turns &&
           a->is_part == b->is_part && a->numel == b->numel && a->offset == b->offset;
}

// Whether two kernels with one pool of expressions are the same but for where their buffers are: then
// so is their text, which need not be printed to see it. The layers of a model are such kernels. Texts
// that look at accesses tell how far a view reaches, which is not a part of the kernel.
static int tc__groups_same(const tc__group *a, const tc__group *b) {
    if (a->body.ix != b->body.ix || a->shape.kind == TC__OPAQUE ||
        memcmp(&a->shape, &b->shape, sizeof a->shape) || a->target.checked ||
        b->target.checked || a->target.tf32 != b->target.tf32 ||
        a->target.guarded != b->target.guarded || a->target.keeps != b->target.keeps ||
        a->body.node.count != b->body.node.count || a->buffer.count != b->buffer.count)
        return 0;
    for (size_t i = 0; i < a->body.node.count; i++)
        if (!tc__nodes_same(a->body.node.at[i], b->body.node.at[i])) return 0;
    for (size_t i = 0; i < a->buffer.count; i++)
        if (!tc__buffers_same(&a->buffer.at[i], &b->buffer.at[i])) return 0;
    return 1;
}

// ---- as bytes: what a compiler's work is found by ----

#if TC__JIT

// Seven bits a byte; small numbers of either sign are short.
static void tc__put_number(tc__text *t, int64_t v) {
    uint64_t u = (uint64_t)v << 1 ^ (v < 0 ? ~(uint64_t)0 : 0);
    unsigned char at[10];
    size_t n = 0;
    for (; u >= 128; u >>= 7) at[n++] = (unsigned char)(u | 128);
    at[n++] = (unsigned char)u;
    tc__put_raw(t, at, n);
}

static void tc__put_numbers(tc__text *t, const int64_t *v, size_t n) {
    for (size_t i = 0; i < n; i++) tc__put_number(t, v[i]);
}

// An expression without its number in the pool.
static void tc__put_ix_numbers(tc__text *t, const tc__ixpool *p, tc__ix e) {
    const tc__ixnode *n = tc__ix_is_const(e) ? NULL : tc__ix_node(p, e);
    tc__put_number(t, n ? 2 * (int64_t)n->kind + 1 : e);
    if (!n) return;
    tc__put_number(t, n->lo), tc__put_number(t, n->hi);
    switch (n->kind) {
    case TC__IX_SYM:
    case TC__IX_VAR:
    case TC__IX_VAL: tc__put_number(t, n->a); break;
    case TC__IX_DIV:
    case TC__IX_MOD:
    case TC__IX_MIN: tc__put_ix_numbers(t, p, n->a), tc__put_ix_numbers(t, p, n->b); break;
    case TC__IX_POLY:
        tc__put_number(t, n->base), tc__put_number(t, n->count);
        for (uint32_t i = 0; i < n->count; i++) {
            const tc__ixterm *term = &p->term.at[n->first + i];
            tc__put_number(t, term->coef);
            for (int k = 0; k < TC__IX_ATOMS; k++) tc__put_ix_numbers(t, p, term->atom[k]);
        }
    }
}

static void tc__put_node_numbers(tc__text *t, const tc__ixpool *p, const tc__node *n) {
    tc__put_number(t, n->op), tc__put_number(t, n->dtype);
    tc__put_number(t, n->level), tc__put_number(t, n->phase);
    tc__put_number(t, n->n_in), tc__put_number(t, n->n_attr);
    for (uint32_t i = 0; i < n->n_in; i++) tc__put_number(t, n->in[i]);
    for (uint32_t i = 0; i < n->n_attr; i++)
        if (tc__attr_is_ix(n, i))
            tc__put_ix_numbers(t, p, n->attr[i]);
        else
            tc__put_number(t, n->attr[i]);
}

// All of tc__group_shape, but for the knob that is the launch's: kernels that differ in it alone have one code.
static void tc__put_shape_numbers(tc__text *t, const tc__ixpool *p,
                                  const tc__group_shape *s) {
    const tc__ix size[] = {s->rows, s->cols, s->batch, s->items, s->wide, s->scratch};
    const int64_t word[] = {s->grain,         s->kind,  s->vector, s->prologue, s->phases,
                            s->split_columns, s->lanes, s->list,   s->rounded,  s->order};
    tc__tuning tuning = s->tuning;
    tuning.knob[TC__KNOB_THREADS] = 0;
    for (size_t i = 0; i < TC__COUNT(size); i++) tc__put_ix_numbers(t, p, size[i]);
    tc__put_numbers(t, word, TC__COUNT(word));
    tc__put_raw(t, &tuning, sizeof tuning);
    tc__put_raw(t, &s->windows, sizeof s->windows);
}

// What tc__groups_same compares.
static void tc__put_group_numbers(tc__text *t, const tc__group *g) {
    const tc__ixpool *p = g->body.ix;
    tc__put_shape_numbers(t, p, &g->shape);
    tc__put_number(t, g->target.tf32), tc__put_number(t, g->target.guarded);
    tc__put_number(t, g->target.keeps);
    tc__put_number(t, (int64_t)g->buffer.count);
    for (size_t i = 0; i < g->buffer.count; i++) {
        const tc__kbuf *b = &g->buffer.at[i];
        tc__put_number(t, tc__is_memory(b) ? (int64_t)TC__BUF_INPUT : (int64_t)b->place);
        tc__put_number(t, b->dtype), tc__put_number(t, b->written);
        tc__put_number(t, b->in_turns), tc__put_number(t, b->is_part);
        tc__put_ix_numbers(t, p, b->numel), tc__put_ix_numbers(t, p, b->offset);
    }
    for (size_t i = 0; i < g->body.node.count; i++)
        tc__put_node_numbers(t, p, g->body.node.at[i]);
}

#endif // TC__JIT
