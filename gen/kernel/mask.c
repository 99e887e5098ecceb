// Products of which a mask hides columns, as a causal one does: how many of a row are seen. Input: the list of a product.

enum { TC__MASKED_NODES = 64 }; // of a list that is looked at

// The VALID node that selects the product where anything sees it; NULL = there is none.
static const tc__node *tc__mask_of_product(const tc__group *g) {
    uint8_t of[TC__MASKED_NODES]; // the product
    const tc__node *mask = NULL;
    if (g->body.node.count > TC__MASKED_NODES) return NULL;
    for (uint32_t id = 0; id < g->body.node.count; id++) {
        const tc__node *n = g->body.node.at[id];
        of[id] = n->op == TC_OP_CONTRACT && id >= g->shape.prologue;
        for (uint32_t i = 0; i < n->n_in; i++) {
            const tc__node *by = g->body.node.at[n->in[0]];
            if (!of[n->in[i]]) continue;
            if (n->op == TC_OP_WHERE && i == 1 && by->op == TC_OP_VALID &&
                (!mask || mask == by)) {
                mask = by;
                continue;
            }
            if (!tc__is_alu(n)) return NULL;
            of[id] = 1;
        }
    }
    return mask;
}

// What tells how many columns from c on row r sees before a mask hides the rest, as a causal one does: below 0, none.
static int tc__seen_columns(const tc__group *g, tc__ix *e) {
    tc__ixpool *x = g->body.ix;
    const tc__node *mask = tc__mask_of_product(g);
    for (uint32_t i = TC__VALID_PREDICATES; mask && i + 1 < mask->n_attr; i += 2) {
        tc__ix at = mask->attr[i], limit = mask->attr[i + 1];
        tc__ixrun run = tc__ix_run(x, at, TC__COL);
        int ends = run.ok && run.run == INT64_MAX && !tc__ix_has_val(x, at) &&
                   !tc__ix_has_val(x, limit);
        if (ends && tc__ix_equals(run.stride, -1)) return *e = at, 1;
        if (ends && tc__ix_equals(run.stride, 1) && !tc__ix_uses(x, limit, TC__COL))
            return *e = tc__ix_sub(x, tc__ix_sub(x, limit, tc__ix_const(1)), at), 1;
    }
    return 0;
}
