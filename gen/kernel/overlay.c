// Which results of a kernel may lie where an operand of it does, that nobody reads afterwards. Input: a LOOP list. Output:
// whether each element of the operand was read before the store there, whatever threads do what. The plan of memory
// (plan.c) then gives both one place: the gradient of GPT-2's logits takes theirs, 0.8 of 4.7 GB between kernels.
//
// An element may be read where the result is stored, at the same index, in the same loop: one thread does both. It may be
// read in an earlier loop over the row where a value of the whole row is made in between, as no thread has that before all
// have read: softmax. So may any other element of that row: the logit of a target.
//
// Of an opaque op that changes some elements of its first operand, adding or setting, each is read by who stores it: where both
// are one place nothing else is touched. The embedding's gradient, added to that of GPT-2's logits, is 8192 rows of 50304.
//
// A device's own list of a reduction (device/) may read again what the kernel's holds, in a later phase than it stores: then
// it decides, too.

enum { TC__OVERLAYS = 4 };

// What of a kernel may lie where something else of it does.
typedef struct tc__overlay_set {
    int count;
    uint8_t out[TC__OVERLAYS]; // buffers, and for each
    uint64_t in[TC__OVERLAYS]; //   those in whose memory it may be, a bit for each
} tc__overlay_set;

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

// The same of a scatter, if what it changes is not another operand as well.
static int tc__overlays_call(const tc__group *k, size_t out, size_t in) {
    const tc__node *call = k->body.node.at[0];
    const int64_t *b = call->attr + TC__CALL_BUFFERS;
    if (!tc__changes_some(call->attr[TC__CALL_OP]) || b[0] != (int64_t)out ||
        b[1] != (int64_t)in ||
        !tc__overlay_may_share(&k->buffer.at[out], &k->buffer.at[in]))
        return 0;
    for (int i = 2; i <= call->attr[TC__CALL_OPERANDS]; i++)
        if (b[i] >= 0 && k->buffer.at[b[i]].place == TC__BUF_NODE &&
            k->buffer.at[b[i]].source == k->buffer.at[in].source)
            return 0;
    return 1;
}

// Whether buffer `out` of kernel k may have the memory of buffer `in`, which ends with it.
static int tc__overlays(const tc__group *k, size_t out, size_t in) {
    tc__overlay o;
    if (k->shape.kind == TC__OPAQUE) return tc__overlays_call(k, out, in);
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

// ---- lists of devices ----

// Whether between nodes `from` and `to` of a list some value of a whole row is made.
static int tc__overlay_combines(const tc__group *list, size_t from, size_t to) {
    for (size_t i = from; i < to; i++)
        if (list->body.node.at[i]->op == TC_OP_COMBINE) return 1;
    return 0;
}

// Whether node n of a list reads memory of the graph's node `source`.
static int tc__overlay_reads(const tc__group *list, const tc__node *n, uint32_t source) {
    if (n->op != TC_OP_LOAD && n->op != TC_OP_COPY) return 0;
    const tc__kbuf *b =
        &list->buffer
             .at[n->op == TC_OP_LOAD ? n->attr[TC__LOAD_BUFFER] : n->attr[TC__COPY_FROM]];
    return b->place == TC__BUF_NODE && b->source == source;
}

// Whether a device's list of such a kernel reads nothing of `in` in a later phase than it has stored of `out`, and what
// is elsewhere in a row in an earlier one. In one phase threads read and store the same parts of a row.
static int tc__overlay_keeps(const tc__group *list, size_t out, size_t in) {
    const tc__node *first = NULL;
    for (size_t i = 0; i < list->body.node.count && !first; i++) {
        const tc__node *n = list->body.node.at[i];
        if (n->op == TC_OP_STORE && n->attr[TC__STORE_BUFFER] == (int64_t)out) first = n;
    }
    for (size_t i = 0; first && i < list->body.node.count; i++) {
        const tc__node *n = list->body.node.at[i];
        if (!tc__overlay_reads(list, n, list->buffer.at[in].source)) continue;
        int same =
            n->op == TC_OP_COPY || n->attr[TC__LOAD_INDEX] == first->attr[TC__STORE_INDEX];
        if (i > first->id && (!same || tc__overlay_combines(list, first->id, i))) return 0;
        if (i < first->id && !same && !tc__overlay_combines(list, i, first->id)) return 0;
    }
    return first != NULL;
}

static int tc__overlay_set_has(const tc__overlay_set *s, size_t out, size_t in) {
    for (int i = 0; i < s->count; i++)
        if (s->out[i] == out) return (int)(s->in[i] >> in & 1);
    return 0;
}

// What a device that does list for kernel k, or a call, which has none, may do so.
TC__UNUSED static void tc__overlay_find(const tc__group *k, const tc__group *list,
                                        tc__overlay_set *s) {
    size_t n = k->buffer.count < 64 ? k->buffer.count : 64;
    s->count = 0;
    for (size_t out = 0; out < n && s->count < TC__OVERLAYS; out++) {
        uint64_t over = 0;
        for (size_t in = 0; in < n; in++)
            if (tc__overlays(k, out, in) &&
                (k->shape.kind != TC__REDUCTION || tc__overlay_keeps(list, out, in)))
                over |= (uint64_t)1 << in;
        if (!over) continue;
        s->out[s->count] = (uint8_t)out, s->in[s->count++] = over;
    }
}
