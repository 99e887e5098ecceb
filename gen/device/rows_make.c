// Rows of a kernel that does more with them: template.c has a block make its rows of a product so, in shared memory.

// Nothing hides the latency of what a later phase loads: it stands before the first, as far as registers go.
static void tc__rows_early(tc__rower *t) {
    tc__vectors *v = &t->v;
    const tc__group *g = v->l.from;
    int64_t words = 0;
    memset(v->phase, 0, g->body.node.count);
    for (uint32_t id = 0; id < v->end; id++) {
        const tc__node *n = g->body.node.at[id];
        v->phase[id] = v->ahead[id] == TC__HOLD_FIRST ||
                       (!v->ahead[id] && tc__vector_hold_of(v, n) == TC__HOLD_FIRST);
        if (v->phase[id]) words += tc__device_words(g, &t->q, n);
    }
    t->early = words > 0 && words * v->count <= TC__DEVICE_WARP_HELD;
    if (!t->early) return;
    for (uint32_t id = 0; id < v->end; id++)
        if (v->phase[id] && !v->ahead[id])
            tc__vector_hold_in(v, g->body.node.at[id], TC__HOLD_FIRST);
    tc__vectors_copy(v);
    tc__vectors_ahead(v, TC__HOLD_FIRST);
    for (uint32_t id = 0; id < v->end; id++)
        if (v->ahead[id] == TC__HOLD_FIRST) v->ahead[id] = TC__HOLD_BEFORE;
}

// Makes row `i` of the block for what follows in list l, by threads x, at the row at hand of the kernel `rows`. Rows from
// `made` on are no one's: they fill a warp, and are made as others are, up to `room`. Where `owner` is 0, tensors are
// stored, too.
static void tc__rows_make(tc__relist *l, tc_ctx *c, const tc__group *rows,
                          const tc__device_plan *q, tc__ix x, tc__ix i, tc__ix made,
                          tc__ix room, tc__ix owner) {
    const tc__group *from = l->from;
    tc__rower t;
    tc__rows_init(&t, q);
    t.v.l = *l, t.v.l.from = rows, t.x = x;
    if (tc__vectors_begin(&t.v, c)) {
        int opened = tc__relist_if(&t.v.l, i, room, 0, 0);
        tc__relist_bind(&t.v.l, TC__ROWS_I, i, room);
        t.v.owner = owner, t.v.own = i, t.v.owned = made, t.v.again = 1;
        tc__rows_begin(&t);
        if (q->hold == TC__DEVICE_REGISTERS) tc__rows_early(&t);
        tc__rows_body(&t);
        tc__relist_end_if(&t.v.l, opened);
    }
    tc__vectors_end(&t.v, c);
    *l = t.v.l, l->from = from;
}
