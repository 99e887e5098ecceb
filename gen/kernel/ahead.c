// Inputs of a program that are cast, such as weights under autocast: on a device their kernels stand before all others, where
// they meet in one launch (list.c). Input: the kernels of a schedule. Output: the same in another order.
//
// GPT-2 casts 49 weights, of which 48 are so small that a launch is most of their time. Their casts are there longer, which
// costs no memory where there are gradients: those need them again, and all are there between the two. Without, it is
// that of the casts, as it is with PyTorch's cache of them.

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
