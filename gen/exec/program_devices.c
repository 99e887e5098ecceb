// A program's launches, each on its device, and what a run does, act by act: exec/run.c goes through them.

// Whether launch i has to do with a device.
static int tc__launch_meets(const tc__program *p, size_t i, int device) {
    const tc__group *k = p->launch.at[i].group;
    return k->target.device == device ||
           (tc__is_copy(k) && tc__copy_source(&p->graph, k) == device);
}

static int tc__program_meets(const tc__program *p, int device) {
    for (size_t i = 0; i < p->launch.count; i++)
        if (tc__launch_meets(p, i, device)) return 1;
    return 0;
}

// How many devices it is on, and launches that are the host's own.
static void tc__program_counts(tc__program *p) {
    int devices = p->graph.devices ? (int)tc__values_of(p->ctx)->device.count : 0;
    p->devices = p->here = 0;
    for (int d = 1; d <= devices; d++) p->devices += tc__program_meets(p, d);
    for (size_t i = 0; i < p->launch.count; i++)
        p->here +=
            !tc__is_copy(p->launch.at[i].group) && !p->launch.at[i].group->target.device;
}

// Whether all of it is on one device, or on the host: kernels there are ordered by the memory that they use.
static int tc__program_is_at_one(const tc__program *p) {
    for (size_t i = 0; i < p->launch.count; i++)
        if (tc__is_copy(p->launch.at[i].group)) return 0;
    return !tc__program_is_across(p);
}

// Launch i of the program, as device r sees it.
static int tc__dispatch_launch_make(tc__program *p, tc__dispatch *r, uint32_t i) {
    const tc__launch *l = &p->launch.at[i];
    if (!tc__launch_meets(p, i, r->device->number))
        return tc__dispatch_skip(r, i, l->group, TC__BY_ANOTHER), 1;
    if (tc__is_copy(l->group)) return tc__dispatch_skip(r, i, l->group, TC__BY_HOST), 1;
    return tc__dispatch_add(r, &p->arena, i, l->group, l->buf, l->opaque != NULL);
}

// The launches of a device. direct: by node, the external in whose memory it is.
static tc__dispatch *tc__dispatch_of(tc__program *p, int device, const uint32_t *direct) {
    uint32_t n = (uint32_t)p->launch.count;
    tc__dispatch *r = tc__dispatch_new(p->ctx, &p->arena, tc__device_at(p->ctx, device), n);
    int ok = r != NULL;
    if (r) r->placed = p->graph.place.count ? p->placed : UINT32_MAX;
    for (uint32_t i = 0; ok && i < p->externals; i++) r->numbers |= !p->inputs[i]->device;
    for (uint32_t i = 0; ok && i < n; i++) ok = tc__dispatch_launch_make(p, r, i);
    for (uint32_t i = 0; ok && i < n && p->tunes; i++)
        r->over[i] = NULL; // of lists that tuning may choose nothing is known
    if (ok && tc__dispatch_close_list(r, &p->arena, p->arg.count, direct, p->overlaps))
        return r;
    tc__dispatch_free(r);
    return NULL;
}

static void tc__act_add(tc__program *p, tc__act_kind kind, tc__dispatch *on, uint32_t at) {
    tc__act *a = &p->act[p->acts++];
    a->kind = kind, a->on = on, a->at = at;
}

// The list of r that is open ends here.
static void tc__dispatch_cut(tc__dispatch *r) { r->now++, r->given = 0; }

// Ends loops that are open and not around what follows, which is in loop `in`, and begins those that are.
static void tc__program_loop_acts(tc__program *p, uint32_t *open, uint32_t in) {
    const tc__rounds *all = p->graph.loop.at;
    uint32_t around[TC__LOOPS_DEEP], n = 0;
    if (*open == in) return;
    for (tc__dispatch *r = p->dispatch; r; r = r->next) tc__dispatch_cut(r);
    for (; *open && !tc__loop_has(&p->graph, *open, in); *open = all[*open - 1].outer) {
        p->loops.run[*open - 1].end = p->acts;
        tc__act_add(p, TC__ACT_AGAIN, NULL, *open - 1);
    }
    for (; in != *open; in = all[in - 1].outer) around[n++] = in;
    while (n) {
        *open = around[--n];
        p->loops.run[*open - 1].begin = p->acts;
        tc__act_add(p, TC__ACT_LOOP, NULL, *open - 1);
    }
}

// What a run does for launch i.
static void tc__program_act(tc__program *p, uint32_t i) {
    tc__dispatch *r = tc__launch_on(p, i);
    if (tc__is_copy(p->launch.at[i].group)) {
        for (r = p->dispatch; r; r = r->next)
            if (tc__launch_meets(p, i, r->device->number)) tc__dispatch_cut(r);
        tc__act_add(p, TC__ACT_COPY, NULL, i);
    } else if (!r) {
        tc__act_add(p, TC__ACT_LAUNCH, NULL, i);
    } else if (r->launch[i].by == TC__BY_HOST) {
        tc__dispatch_cut(r);
        tc__act_add(p, TC__ACT_VISIT, r, i);
    } else if (!r->given) {
        r->given = 1;
        tc__act_add(p, TC__ACT_PART, r, r->now);
    }
}

// What a run does, act by act. 0 = out of memory.
static int tc__program_list_acts(tc__program *p) {
    uint32_t n = (uint32_t)p->launch.count;
    uint32_t open = 0, most = n + 2 * (uint32_t)p->graph.loop.count + 1;
    p->act = TC__ANEW_ARRAY(&p->arena, tc__act, most), p->acts = 0;
    for (uint32_t i = 0; p->act && i < n; i++) {
        tc__program_loop_acts(p, &open, p->launch.at[i].group->target.loop);
        tc__program_act(p, i);
    }
    if (p->act) tc__program_loop_acts(p, &open, 0);
    return p->act != NULL;
}

// Its launches become launches of their devices.
static int tc__dispatch_make(tc__program *p) {
    uint32_t *direct = TC__ANEW_ARRAY(&p->arena, uint32_t, p->graph.node.count + 1);
    tc__dispatch **at = &p->dispatch;
    if (!direct) return 0;
    memset(direct, 0xff, p->graph.node.count * sizeof *direct);
    for (size_t i = 0; i < p->output.count; i++)
        if (p->output.at[i].direct) direct[p->output.at[i].node] = p->output.at[i].external;
    for (int d = 1; d <= (int)tc__values_of(p->ctx)->device.count; d++) {
        if (!tc__program_meets(p, d)) continue;
        *at = tc__dispatch_of(p, d, direct);
        if (!*at) return 0;
        at = &(*at)->next;
    }
    return tc__program_list_acts(p);
}

// What a run of the program launches, there and here; lists count once.
static uint32_t tc__program_runs(const tc__program *p) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->acts; i++)
        n += p->act[i].kind < TC__ACT_LOOP && p->act[i].kind != TC__ACT_PART;
    for (const tc__dispatch *r = p->dispatch; r; r = r->next)
        n += (uint32_t)r->order.step.count;
    return n;
}
