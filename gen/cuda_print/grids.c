// How the texts of CUDA kernels are launched, and what they are told of sizes.

typedef struct tc__cuda_symbols {
    const tc__group *g;
    int count; // one more than the highest slot
    int lost;
} tc__cuda_symbols;

static void tc__cuda_symbols_of(tc__cuda_symbols *s, tc__ix e) {
    tc__ixsyms found;
    tc__ix_syms(s->g->body.ix, e, &found, 1);
    s->lost |= found.lost;
    for (uint32_t i = 0; i < found.count; i++) {
        int64_t slot = tc__ix_node(s->g->body.ix, found.at[i])->a;
        if (slot >= s->count) s->count = (int)slot + 1;
    }
}

// Run-time sizes that a kernel is told: all symbols up to the last that it names.
static int tc__cuda_sizes(const tc__group *g) {
    tc__cuda_symbols s;
    s.g = g, s.count = 0, s.lost = 0;
    if (g->shape.list) return 0; // its row tells the one that there is
    tc__cuda_symbols_of(&s, g->shape.rows);
    tc__cuda_symbols_of(&s, g->shape.cols);
    if (g->shape.kind == TC__CONTRACTION) tc__cuda_symbols_of(&s, g->shape.batch);
    for (size_t i = 0; i < g->buffer.count; i++)
        tc__cuda_symbols_of(&s, g->buffer.at[i].numel);
    for (size_t id = 0; id < g->body.node.count; id++) {
        const tc__node *n = g->body.node.at[id];
        for (uint32_t i = 0; i < n->n_attr; i++)
            if (tc__attr_is_ix(n, i)) tc__cuda_symbols_of(&s, n->attr[i]);
    }
    return s.lost ? 64 : s.count;
}

// Those of the list that devices have of g.
static int tc__cuda_list_grids(tc_ctx *c, const tc__group *g, tc__grids *out) {
    tc__group *list = tc__lower_device(c, g);
    if (list) tc__device_grids(list, out), tc__overlay_find(g, list, &out->over);
    tc__group_free(c, list);
    return list != NULL;
}

static int tc__cuda_grids(tc_ctx *c, const tc__group *g, tc__grids *out) {
    memset(out, 0, sizeof *out);
    out->workspace = out->zeroed = tc__ix_const(0);
    out->sizes = tc__cuda_sizes(g);
    if (g->shape.kind == TC__OPAQUE) return tc__opaque_grids(g, out);
    return tc__cuda_list_grids(c, g, out);
}
