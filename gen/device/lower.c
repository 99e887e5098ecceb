// LOOP, for a device: the host's list as one of launches.

static int tc__device_turns(const tc__group *g) {
    return !g->shape.list && tc__device_is_tile(g);
}

static tc__group *tc__lower_pointwise(tc_ctx *c, const tc__group *g) {
    tc__windows w;
    if (tc__device_turns(g)) return tc__lower_tile(c, g);
    if (tc__windows_of(g, &w)) return tc__lower_windows(c, g, &w);
    return tc__lower_flat(c, g);
}

static tc__group *tc__lower_sums(tc_ctx *c, const tc__group *g) {
    if (tc__down_begin(g)) return tc__lower_down(c, g);
    tc__device_plan q = tc__device_plan_of(g);
    return q.form == TC__DEVICE_COLUMNS ? tc__lower_columns(c, g, &q)
                                        : tc__lower_rows(c, g, &q);
}

static tc__group *tc__lower_chained(tc_ctx *c, const tc__group *g) {
    tc__chain chain;
    return tc__chain_of(g, &chain) ? tc__lower_chain(c, g, &chain)
                                   : tc__lower_product(c, g);
}

// What a device takes of rows that a kernel makes for another: takes_rows of tc__dialect.
static tc__takes tc__device_takes_rows(const tc__group *g) {
    tc__chain chain;
    if (tc__chain_of(g, &chain) && tc__chain_pays(&chain)) return TC__TAKES;
    if (tc__count_contractions(g) < 2 && g->shape.kind == TC__CONTRACTION)
        return tc__device_makes_rows(g) ? TC__TAKES : TC__TAKES_NOT;
    return tc__chain_begins(g) ? TC__TAKES_WITH_READER : TC__TAKES_NOT;
}

// Whether two lists over the same rows are one chain: takes_beside of tc__dialect.
static int tc__device_takes_beside(const tc__group *g) {
    tc__chain chain;
    return tc__chain_of(g, &chain) && chain.pair;
}

// Whether value v of a knob differs from the rules, and may be better.
static int tc__device_knob_fits(const tc__group *g, int knob, int v) {
    tc__windows w;
    if (g->shape.kind == TC__CONTRACTION)
        return tc__count_contractions(g) == 1 &&
               ((knob == TC__KNOB_PRODUCT_TILE && tc__product_tile_fits(g, v)) ||
                (knob == TC__KNOB_RELAY && tc__product_relay_fits(g, v)));
    return g->shape.kind == TC__POINTWISE && !tc__device_turns(g) &&
           !tc__windows_of(g, &w) && tc__flat_knob_fits(g, knob, v);
}

// The list of a kernel; NULL = reported.
static tc__group *tc__lower_device(tc_ctx *c, const tc__group *g) {
    tc__group *k = g->shape.kind == TC__POINTWISE     ? tc__lower_pointwise(c, g)
                   : g->shape.kind == TC__CONTRACTION ? tc__lower_chained(c, g)
                                                      : tc__lower_sums(c, g);
    if (!k || !TC__DEBUG || (tc__verify(c, &k->body, TC__LOOP) && tc__verify_device(c, k)))
        return k;
    tc__group_free(c, k);
    return NULL;
}

// Blocks of a product whose operands the device brings go from tile to tile; its launch has the maps as arguments.
static void tc__device_maps(const tc__group *k, const tc__node *n, tc__grids *out) {
    uint32_t end = tc__loop_end(k, n->id);
    for (uint32_t id = n->id + 1; id < end; id = tc__loop_end(k, id) + 1)
        if (tc__hole_is_mapped(n, k->body.node.at[id]))
            (void)tc__template_map(k, n, k->body.node.at[id], &out->map[out->maps++]);
}

// Whether a list's launch can begin beside the one before it: its template waits before it writes (cuda/skinny.cuh).
static int tc__device_is_beside(const tc__group *k) {
    int skinny = 0, other = 0;
    for (size_t i = 0; i < k->body.node.count; i++) {
        const tc__node *n = k->body.node.at[i];
        int is_template = n->op == TC_OP_TEMPLATE;
        skinny += is_template && n->attr[TC__TEMPLATE_NAME] == TC__TEMPLATE_SKINNY;
        other += is_template || n->op == TC_OP_LAUNCH || n->op == TC_OP_CHECK;
    }
    return skinny == 1 && other == 2 && !k->shape.list && !k->target.guarded &&
           !k->target.checked && !k->target.loop && k->buffer.count <= 64;
}

// The buffers that are read before the template takes results.
static uint64_t tc__device_read_first(const tc__group *k) {
    uint64_t first = 0;
    uint32_t result = 0; // the end of that hole
    for (uint32_t id = 0; id < k->body.node.count; id++) {
        const tc__node *n = k->body.node.at[id];
        if (n->op == TC_OP_HOLE && n->attr[TC__HOLE_HOLE] == TC__HOLE_RESULT)
            result = tc__loop_end(k, id);
        if (id < result) continue;
        if (n->op == TC_OP_LOAD) first |= (uint64_t)1 << n->attr[TC__LOAD_BUFFER];
        if (n->op == TC_OP_COPY) first |= (uint64_t)1 << n->attr[TC__COPY_FROM];
    }
    return first;
}

// How the launches of a list are made: blocks are the extents of its grid loops.
static void tc__device_grids(const tc__group *k, tc__grids *out) {
    tc__ixpool *x = k->body.ix;
    int resident = 0;
    out->workspace = tc__device_work_at(k, k->buffer.count);
    out->zeroed = tc__device_zeroed(k);
    out->beside = tc__device_is_beside(k);
    if (out->beside) out->first = tc__device_read_first(k);
    for (size_t i = 0; i < k->body.node.count; i++) {
        const tc__node *n = k->body.node.at[i];
        tc__grid *grid = &out->at[out->count ? out->count - 1 : 0];
        if (n->op == TC_OP_LAUNCH) {
            grid = &out->at[out->count++], resident = (int)n->attr[TC__LAUNCH_RESIDENT];
            grid->threads = (int)n->attr[TC__LAUNCH_THREADS], grid->early = 1;
            grid->blocks = tc__ix_const(1);
            grid->cluster =
                n->n_attr > TC__LAUNCH_CLUSTER ? (int)n->attr[TC__LAUNCH_CLUSTER] : 0;
            grid->shared = tc__ix_const(0);
            if (tc__device_is_dynamic(k))
                grid->shared = tc__ix_add(x, tc__device_shared_at(k, k->buffer.count),
                                          tc__ix_const(tc__device_parts_bytes(
                                              k, n->id, (uint32_t)k->body.node.count)));
        }
        if (n->op == TC_OP_FOR && n->attr[TC__FOR_BIND] == TC__BIND_GRID)
            grid->blocks = tc__ix_mul(x, grid->blocks, n->attr[TC__FOR_END]);
        if (tc__template_is_mapped(n)) grid->waves = resident, tc__device_maps(k, n, out);
    }
}
