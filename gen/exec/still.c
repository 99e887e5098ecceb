// Kernels whose operands are constants (tc_const), or made by such kernels, run once for the sizes at hand: weights that are laid
// out anew or transformed (pass/winograd.c), numbers that follow from parameters. What they store stays where it is in the
// program's memory, and nothing else is laid there. On the host, outside of loops; what is a result has new memory in each run,
// so its kernel runs again.

// Whether kernel l reads what may change, with `still` by node and external. A kernel has no loads beside its buffers.
static int tc__launch_changes(const tc__program *p, const tc__visit *v, const tc__launch *l,
                              const uint8_t *still) {
    const tc__group *g = l->group;
    if (!l->interp || g->target.device || l->opaque || l->custom) return 1;
    for (size_t i = 0; i < g->body.node.count; i++) {
        tc__op op = (tc__op)g->body.node.at[i]->op;
        if (op == TC_OP_RANDOM || op == TC_OP_CHECK) return 1;
        if (op == TC_OP_ARG && !l->constants) return 1;
    }
    for (size_t i = 0; i < g->buffer.count; i++) {
        const tc__kbuf *b = &g->buffer.at[i];
        int own = b->place == TC__BUF_NODE && b->written;
        if (b->place == TC__BUF_NODE && !own && !still[b->source]) return 1;
        if (b->place != TC__BUF_INPUT) continue;
        if (b->written || b->source >= p->externals) return 1;
        if (!v->external.at[b->source].constant) return 1;
    }
    return 0;
}

// Whether a kernel writes what is no result and nobody else writes.
static int tc__launch_stays(const tc__launch *l, const uint8_t *result) {
    const tc__group *g = l->group;
    int some = 0;
    for (size_t i = 0; i < g->buffer.count; i++) {
        const tc__kbuf *b = &g->buffer.at[i];
        if (b->place != TC__BUF_NODE || !b->written) continue;
        if (result[b->source]) return 0;
        some = 1;
    }
    return some;
}

// Whether a program of graph g has such kernels: those of eager ops keep no memory, and a backend of the user's has none of
// ours.
static int tc__may_stay(const tc__program *p, const tc__visit *v, const tc__graph *g) {
    const tc__region *r = p->ctx->alone;
    while (r && r != v->region) r = r->next;
    return !r && p->backend && !p->backend->own.run && !g->devices && !g->loop.count;
}

// Kernel l stays: so do its nodes, and the constants that it reads are marked.
static void tc__launch_mark(tc__program *p, const tc__launch *l, uint8_t *read) {
    for (size_t k = 0; k < l->group->buffer.count; k++) {
        const tc__kbuf *b = &l->group->buffer.at[k];
        if (b->place == TC__BUF_NODE) p->still[b->source] = 1;
        if (b->place == TC__BUF_INPUT) read[b->source] = 1;
    }
}

// Finds them. 0 = out of memory.
static int tc__program_still(tc__program *p, const tc__visit *v) {
    size_t n = p->graph.node.count;
    if (p->devices || !tc__may_stay(p, v, &p->graph)) return 1;
    uint8_t *result = TC__NEW_ARRAY(p->ctx, uint8_t, n),
            *read = TC__NEW_ARRAY(p->ctx, uint8_t, p->externals + 1);
    p->still = TC__ANEW_ARRAY(&p->arena, uint8_t, n);
    int ok = result && read && p->still;
    for (size_t i = 0; ok && i < p->output.count; i++)
        if (!p->output.at[i].alias) result[p->output.at[i].node] = 1;
    for (size_t i = 0; ok && i < p->launch.count; i++) {
        tc__launch *l = &p->launch.at[i];
        l->still = !tc__launch_changes(p, v, l, p->still) && tc__launch_stays(l, result);
        if (l->still) tc__launch_mark(p, l, read);
    }
    for (uint32_t i = 0; ok && i < p->externals; i++) {
        tc__constant_now now = {i, 0};
        if (read[i]) ok = TC__PUSH(p->ctx, p->still_of, now);
    }
    if (result) TC__FREE_ARRAY(p->ctx, result, n);
    if (read) TC__FREE_ARRAY(p->ctx, read, p->externals + 1);
    return ok;
}

// The memory of what stays is new, or is to be compared: all kernels run again.
static void tc__program_move_still(tc__program *p) {
    for (size_t i = 0; p->still && i < p->launch.count; i++) p->launch.at[i].there = 0;
}

// Before a run: another visit may have other constants there.
static void tc__program_meet_constants(tc__program *p, const tc__visit *v) {
    int moved = 0;
    for (size_t i = 0; i < p->still_of.count; i++) {
        tc__constant_now *now = &p->still_of.at[i];
        uint64_t id = v->external.at[now->external].constant;
        moved |= !id || now->id != id, now->id = id;
    }
    if (moved) tc__program_move_still(p);
}
