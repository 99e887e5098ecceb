// What products of a loop pack once for all its turns. Input: launches in loops. Output: scratch and marks of their own for
// those whose right operand, as weights are, is the same in all turns: nobody else writes there between two turns, and the
// launch has one number until its loop begins again, so a thread finds the panels that it packed before (print_contract.c).
// With the scratch that all share, as the tuner gives it, the same text packs in each launch.

// Whether what expression e tells is the same in all turns of a loop, as tc__node.loop.
static int tc__ix_is_kept(const tc__graph *g, tc__ix e, uint32_t loop) {
    uint32_t named = tc__loop_named(g, e);
    return !named || !tc__loop_has(g, loop, named);
}

// Whether a product reads its right operand as it lies in memory that no turn of its loop writes.
static int tc__group_may_keep(const tc__graph *g, const tc__group *k) {
    uint32_t made = 0, loop = k->target.loop;
    if (!loop || k->shape.kind != TC__CONTRACTION || k->shape.prologue || k->target.device)
        return 0;
    const tc__node *n = k->body.node.at[tc__right_of(k)];
    if (n->op != TC_OP_LOAD || !tc__is_plain(k, n->id)) return 0;
    const tc__kbuf *b = &k->buffer.at[n->attr[TC__LOAD_BUFFER]];
    if (b->place == TC__BUF_INPUT && b->source >= g->placed && g->place.count)
        made = g->node.at[g->place.at[b->source - g->placed].node]->loop;
    else if (b->place == TC__BUF_NODE)
        made = g->node.at[b->source]->loop;
    else if (b->place != TC__BUF_INPUT)
        return 0;
    return !tc__loop_has(g, loop, made) && tc__ix_is_kept(g, n->attr[TC__LOAD_INDEX], loop);
}

// Scratch for the sizes of a run, one block for all; it only grows. 0 = no memory, reported.
static int tc__program_keep(tc__program *p, const tc__ixenv *env) {
    size_t threads = (size_t)tc__threads(p->ctx), total = 0, at = 0;
    for (size_t i = 0; i < p->launch.count; i++) {
        const tc__launch *l = &p->launch.at[i];
        if (l->interp && l->group->target.keeps)
            total += threads * tc__scratch_room(tc__launch_scratch(p, l, env));
    }
    if (total > p->kept_bytes) {
        uint8_t *more = (uint8_t *)tc__alloc_aligned(p->ctx, total);
        if (!more) return 0;
        if (p->kept) tc__free_aligned(p->ctx, p->kept, p->kept_bytes);
        p->kept = more, p->kept_bytes = total;
    }
    for (size_t i = 0; total && i < p->launch.count; i++) {
        tc__launch *l = &p->launch.at[i];
        if (!l->interp || !l->group->target.keeps) continue;
        if (!l->kept) l->kept = TC__ANEW_ARRAY(&p->arena, void *, threads);
        if (!l->marks) l->marks = TC__ANEW_ARRAY(&p->arena, int64_t, threads * TC__PACKED);
        if (!l->kept || !l->marks) return 0;
        size_t room = tc__scratch_room(tc__launch_scratch(p, l, env));
        for (size_t w = 0; w < threads; w++, at += room) l->kept[w] = p->kept + at;
        l->args.scratch = l->kept, l->args.packed = l->marks, l->keeps = 1;
    }
    return 1;
}

// A loop begins: what its launches packed before is none of it.
static void tc__loop_forget(tc__program *p, uint32_t loop) {
    const tc__looping *r = &p->loops.run[loop];
    for (uint32_t i = r->begin; i < r->end; i++) {
        tc__launch *l = &p->launch.at[p->act[i].at];
        if (p->act[i].kind == TC__ACT_LAUNCH && l->keeps) l->args.turn = ++p->ctx->turns;
    }
}
