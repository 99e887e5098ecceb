// Inputs of a program that are cast, such as weights under autocast: on a device their kernels stand before all others, where
// they meet in one launch (list.c). Input: the kernels of a schedule. Output: the same in another order.
//
// GPT-2 casts 49 weights, of which 48 are so small that a launch is most of their time. Their casts are there longer, which
// costs no memory where there are gradients: those need them again, and all are there between the two. Without, it is
// that of the casts, as it is with PyTorch's cache of them.
//
// What adds up the rows of a long reduction, and whatever small is made of that, stands where it is needed first: the long ones
// of many tensors, as those of a norm of all gradients, meet before it. What it reads is small, too, so that costs no memory.

enum {
    TC__AHEAD_LEAST = 4
}; // casts between two dtypes that are worth it: see TC__LIST_LEAST

// What kernel k casts, as dtypes from and to; 0 = it is no such kernel.
static int tc__ahead_casts(const tc__graph *g, const tc__group *k, int device) {
    int from = 0, to = 0;
    if (k->target.device != device || k->target.loop || k->target.guarded ||
        k->shape.kind != TC__POINTWISE || !tc__ix_equals(k->shape.rows, 1) ||
        k->buffer.count != 2)
        return 0;
    for (size_t i = 0; i < k->body.node.count; i++) {
        int op = k->body.node.at[i]->op;
        if (op != TC_OP_LOAD && op != TC_OP_CAST && op != TC_OP_STORE && op != TC_OP_FOR &&
            op != TC_OP_END)
            return 0;
    }
    for (size_t i = 0; i < 2; i++) {
        const tc__kbuf *b = &k->buffer.at[i];
        int placed = g->place.count && b->source >= g->placed; // of a loop
        if (b->place == TC__BUF_INPUT && !b->written && !placed) from = 1 + b->dtype;
        if (b->place == TC__BUF_NODE && b->written) to = 1 + b->dtype;
    }
    return from && to ? from << 8 | to : 0;
}

// Whether enough kernels cast as kernel i does.
static int tc__ahead_moves(const tc__schedule *s, size_t i, int device) {
    int casts = tc__ahead_casts(s->g, s->kernel.at[i], device), alike = 0;
    for (size_t k = 0; casts && k < s->kernel.count && alike < TC__AHEAD_LEAST; k++)
        alike += tc__ahead_casts(s->g, s->kernel.at[k], device) == casts;
    return alike == TC__AHEAD_LEAST;
}

// Moves those of a device to the front, in their order. 0 = out of memory.
static int tc__ahead_move(tc__schedule *s, int device) {
    size_t n = s->kernel.count, count = 0;
    tc__group **to = TC__NEW_ARRAY(s->ctx, tc__group *, n);
    if (!to) return 0;
    for (int moves = 1; moves >= 0; moves--)
        for (size_t i = 0; i < n; i++)
            if (tc__ahead_moves(s, i, device) == moves) to[count++] = s->kernel.at[i];
    if (n) memcpy(s->kernel.at, to, n * sizeof(tc__group *));
    TC__FREE_ARRAY(s->ctx, to, n);
    return 1;
}

// ---- what adds up rows ----

enum { TC__BEHIND_MOST = 8192 }; // elements of what is small

// Whether kernel k has a single row, and reads nothing but small results of other kernels.
static int tc__behind_is_small(const tc__group *k, int device) {
    int kind = k->shape.kind == TC__REDUCTION || k->shape.kind == TC__POINTWISE;
    if (!kind || k->target.device != device || k->target.loop || k->target.guarded ||
        !tc__ix_equals(k->shape.rows, 1))
        return 0;
    for (size_t i = 0; i < k->buffer.count; i++) {
        const tc__kbuf *b = &k->buffer.at[i];
        if (b->place != TC__BUF_NODE || !tc__ix_is_const(b->numel) ||
            tc__ix_value(b->numel) > TC__BEHIND_MOST)
            return 0;
    }
    return 1;
}

// Whether enough kernels add up rows.
static int tc__behind_pays(const tc__schedule *s, int device) {
    int sums = 0;
    for (size_t i = 0; i < s->kernel.count; i++) {
        const tc__group *k = s->kernel.at[i];
        sums += k->shape.kind == TC__REDUCTION && tc__behind_is_small(k, device);
    }
    return sums >= TC__AHEAD_LEAST;
}

// Before which kernel each stands: itself, or the first that reads it. first[] is by node the first kernel that does, of
// those that were seen.
static void tc__behind_find(const tc__schedule *s, int device, uint32_t *first,
                            uint32_t *to) {
    uint32_t turns =
        UINT32_MAX; // the first kernel of the loop at hand: what it needs stands before that
    for (size_t i = 0; i < s->g->node.count; i++) first[i] = UINT32_MAX;
    for (uint32_t i = (uint32_t)s->kernel.count; i-- > 0;) {
        const tc__group *k = s->kernel.at[i];
        uint32_t at = UINT32_MAX;
        int small = tc__behind_is_small(k, device);
        for (size_t b = 0; b < k->buffer.count && small; b++)
            if (k->buffer.at[b].written && first[k->buffer.at[b].source] < at)
                at = first[k->buffer.at[b].source];
        to[i] = at == UINT32_MAX ? i : at;
        at = to[i];
        if (!k->target.loop) turns = UINT32_MAX;
        if (k->target.loop && turns == UINT32_MAX)
            for (turns = i; turns && s->kernel.at[turns - 1]->target.loop;) turns--;
        if (k->target.loop) at = turns;
        for (size_t b = 0; b < k->buffer.count; b++) {
            const tc__kbuf *read = &k->buffer.at[b];
            if (read->place == TC__BUF_NODE && at < first[read->source])
                first[read->source] = at;
        }
    }
}

// Kernels by `to`: those that stand before kernel i, in their order, then it. next[] links them, from head[i] on.
static void tc__behind_put(tc__schedule *s, const uint32_t *to, uint32_t *head,
                           uint32_t *next, tc__group **out) {
    uint32_t n = (uint32_t)s->kernel.count, count = 0;
    for (uint32_t i = 0; i < n; i++) head[i] = UINT32_MAX;
    for (uint32_t i = n; i-- > 0;)
        if (to[i] != i) next[i] = head[to[i]], head[to[i]] = i;
    for (uint32_t i = 0; i < n; i++) {
        if (to[i] != i) continue;
        for (uint32_t k = head[i]; k != UINT32_MAX; k = next[k])
            out[count++] = s->kernel.at[k];
        out[count++] = s->kernel.at[i];
    }
    memcpy(s->kernel.at, out, n * sizeof *out);
}

// Moves those of a device to where they are needed. 0 = out of memory.
static int tc__behind_move(tc__schedule *s, int device) {
    size_t n = s->kernel.count, nodes = s->g->node.count;
    if (!tc__behind_pays(s, device)) return 1;
    uint32_t *at = TC__NEW_ARRAY(s->ctx, uint32_t, 3 * n + nodes);
    tc__group **out = TC__NEW_ARRAY(s->ctx, tc__group *, n);
    if (at && out) {
        tc__behind_find(s, device, at + 3 * n, at);
        tc__behind_put(s, at, at + n, at + 2 * n, out);
    }
    int ok = at && out;
    if (at) TC__FREE_ARRAY(s->ctx, at, 3 * n + nodes);
    if (out) TC__FREE_ARRAY(s->ctx, out, n);
    return ok;
}
