// Which results of a kernel may lie where an operand of it does, that nobody reads afterwards. Input: a LOOP list. Output:
// whether each element of the operand was read before the store there, whatever threads do what. The plan of memory
// (plan.c) then gives both one place: the gradient of GPT-2's logits takes theirs, 0.8 of 4.7 GB between kernels.
//
// An element may be read where the result is stored, at the same index, in the same loop: one thread does both. It may be
// read in an earlier loop over the row where a value of the whole row is made in between, as no thread has that before all
// have read: softmax. So may any other element of that row: the logit of a target.

typedef struct tc__overlay {
    const tc__group *k;
    const tc__node *store; // of the result, the only one
} tc__overlay;

static int tc__overlay_may_share(const tc__kbuf *a, const tc__kbuf *b) {
    return a->place == TC__BUF_NODE && b->place == TC__BUF_NODE && a->source != b->source &&
           tc__dtypes[a->dtype].bytes == tc__dtypes[b->dtype].bytes &&
           a->numel == b->numel && a->pitch == b->pitch && !a->is_part && !b->is_part &&
           !a->in_turns && !b->in_turns && !a->begin && !b->begin;
}

// Whether index e is in the row of the store, which lies as columns do.
static int tc__overlay_in_row(const tc__overlay *o, tc__ix e) {
    tc__ixpool *x = o->k->body.ix;
    tc__ix at = o->store->attr[TC__STORE_INDEX], c = tc__ix_find_var(x, at, TC__COL);
    if (!c || !tc__ix_is_const(o->k->shape.cols)) return 0;
    tc__ix row = tc__ix_sub(x, at, c), in = tc__ix_sub(x, e, row);
    return !tc__ix_find_var(x, row, TC__COL) && tc__ix_lo(x, in) >= 0 &&
           tc__ix_hi(x, in) < tc__ix_value(o->k->shape.cols);
}

// Whether node n, a load of `in`, is done by all before the store.
static int tc__overlay_is_read(const tc__overlay *o, const tc__node *n) {
    int same_loop = 1, whole = 0,
        same = n->attr[TC__LOAD_INDEX] == o->store->attr[TC__STORE_INDEX];
    for (uint32_t i = n->id + 1; i < o->store->id; i++) {
        tc__op op = (tc__op)o->k->body.node.at[i]->op;
        whole |= op == TC_OP_COMBINE;
        same_loop &= op != TC_OP_FOR && op != TC_OP_END;
    }
    if (n->id > o->store->id) return 0;
    return (same && same_loop) ||
           (whole && (same || tc__overlay_in_row(o, n->attr[TC__LOAD_INDEX])));
}

// Whether buffer `out` of kernel k may have the memory of buffer `in`, which ends with it.
static int tc__overlays(const tc__group *k, size_t out, size_t in) {
    tc__overlay o;
    memset(&o, 0, sizeof o);
    o.k = k;
    int apart = k->shape.kind == TC__REDUCTION && k->shape.split_columns;
    if (k->shape.kind > TC__REDUCTION || k->shape.prologue || apart ||
        !tc__overlay_may_share(&k->buffer.at[out], &k->buffer.at[in]) ||
        !k->buffer.at[out].written || k->buffer.at[in].written)
        return 0;
    for (size_t i = 0; i < k->body.node.count; i++) {
        const tc__node *n = k->body.node.at[i];
        if (n->op != TC_OP_STORE || n->attr[TC__STORE_BUFFER] != (int64_t)out) continue;
        if (o.store) return 0;
        o.store = n;
    }
    for (size_t i = 0; o.store && i < k->body.node.count; i++) {
        const tc__node *n = k->body.node.at[i];
        const tc__kbuf *b = n->op == TC_OP_LOAD ? tc__buffer_of(k, n) : NULL;
        if (b && b->place == TC__BUF_NODE && b->source == k->buffer.at[in].source &&
            !tc__overlay_is_read(&o, n))
            return 0;
    }
    return o.store != NULL;
}
