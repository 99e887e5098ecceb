// A program on a device for the sizes of a run: its memory there, and the lists that the device runs, whose
// arguments are filled in anew by each run (exec/dispatch_run.c).
//
// How a kernel is launched is data beside its text (tc__grids): expressions of sizes, whose
// values are found here. Sizes are arguments, as they change grids as well.

// What the host does ends a part, and so do loops and the last launch.
static int tc__dispatch_split(tc__dispatch *r, tc__arena *a) {
    uint32_t n = 0, parts = 1;
    for (uint32_t i = 0; i < r->launches; i++) {
        const tc__dispatch_launch *l = &r->launch[i];
        parts += (uint32_t)tc__dispatch_turns(r, i) + (l->by == TC__BY_HOST);
        if (!l->by) n += l->pieces ? l->pieces : (uint32_t)l->grids.count;
    }
    r->part = TC__ANEW_ARRAY(a, tc__dispatch_part, parts);
    r->list = TC__ANEW_ARRAY(a, tc_device_launch, n + 1);
    if (r->part) r->parts = parts;
    return r->part && r->list;
}

enum { TC__FLAG_BYTES = TC__FLAG_WORDS * 8 };

// State on the device, and the flag.
static int tc__dispatch_memory(tc__dispatch *r, tc__arena *a, size_t args) {
    const tc_device *d = &r->device->own;
    void *flag = NULL;
    r->state_bytes = sizeof(tc__dispatch_state) + args * sizeof(tc__value);
    r->state_now = TC__ANEW_ARRAY(a, uint8_t, r->state_bytes);
    if (!r->state_now) return 0;
    tc_status s = d->take(d->user, r->state_bytes, &r->state);
    if (!s && r->checks) s = d->take_host(d->user, TC__FLAG_BYTES, &flag);
    r->flag = (int64_t *)flag;
    if (flag) memset(flag, 0, TC__FLAG_BYTES);
    return !s || tc__device_failed(r->ctx, &r->device->own, "memory of a program", s);
}

// All launches were added. direct: by node, the external in whose memory it is computed; of the arena.
// in_order: externals may share memory that kernels write.
static int tc__dispatch_close_list(tc__dispatch *r, tc__arena *a, size_t args,
                                   const uint32_t *direct, int in_order) {
    r->direct = direct, r->in_order = in_order;
    return tc__dispatch_lists(r, a) && tc__dispatch_split(r, a) &&
           tc__dispatch_memory(r, a, args);
}

static tc__dispatch *tc__dispatch_new(tc_ctx *c, tc__arena *a, tc__device *d, uint32_t n) {
    tc__dispatch *r = TC__ANEW(a, tc__dispatch);
    if (!r) return NULL;
    r->ctx = c, r->device = d, r->launches = n;
    r->launch = TC__ANEW_ARRAY(a, tc__dispatch_launch, n + 1);
    r->over = TC__ANEW_ARRAY(a, const tc__overlay_set *, n + 1);
    return r->launch && r->over ? r : NULL;
}

static void tc__dispatch_give(tc__dispatch *r, tc_device_memory *m) {
    if (m->address) r->device->own.give(r->device->own.user, *m);
    memset(m, 0, sizeof *m);
}

static void tc__dispatch_forget_plans(tc__dispatch *r) {
    const tc_device *d = &r->device->own;
    for (uint32_t i = 0; i < r->parts; i++) {
        if (r->part[i].plan) d->forget(d->user, r->part[i].plan);
        r->part[i].plan = NULL, r->part[i].ran = 0;
    }
}

static void tc__dispatch_drop_code(tc__dispatch *r) {
    tc__compiled_use(&r->spread, NULL);
    for (uint32_t i = 0; i < r->launches; i++) tc__compiled_use(&r->launch[i].code, NULL);
    for (size_t i = 0; r->form && i < r->lists.form.count; i++)
        tc__compiled_use(&r->form[i].code, NULL);
}

static void tc__dispatch_free(tc__dispatch *r) {
    if (!r) return;
    const tc_device *d = &r->device->own;
    tc__dispatch_forget_plans(r);
    tc__dispatch_drop_code(r);
    if (r->flag) (void)d->sync(d->user); // kernels may write it
    if (r->flag) d->give_host(d->user, r->flag, TC__FLAG_BYTES);
    tc__dispatch_give(r, &r->state);
    tc__dispatch_give(r, &r->work);
    TC__VEC_FREE(r->ctx, r->bounce); // empty between runs
    TC__VEC_FREE(r->ctx, r->after);
    TC__VEC_FREE(r->ctx, r->listed);
    if (r->listed_bytes) tc__free(r->ctx, r->listed_bytes, r->listed_room);
    if (r->order.ctx) tc__sequence_close(&r->order);
    tc__lists_close(&r->lists);
    tc__plan_close(r->ctx, &r->plan);
}

// ---- laying out: what depends on the sizes of a run ----

enum { TC__DEVICE_ALIGN = 256 };

static size_t tc__device_rounded(size_t n) {
    return (n + TC__DEVICE_ALIGN - 1) / TC__DEVICE_ALIGN * TC__DEVICE_ALIGN;
}

// That of pieces, from `at` on: bytes of it.
static size_t tc__dispatch_pieces_work(tc__dispatch *r, const tc__ixpool *x,
                                       const tc__ixenv *env, size_t at) {
    size_t total = 0;
    for (uint32_t i = 0; i < r->launches; i++)
        for (uint32_t k = 0; k < r->launch[i].pieces; k++) {
            tc__piece *p = &r->lists.piece.at[r->launch[i].piece + k];
            tc__ixenv one;
            int64_t count = tc__ix_eval(x, p->count, env);
            memset(&one, 0, sizeof one);
            one.sym = &count;
            p->work = at + total;
            total += tc__device_rounded(
                (size_t)tc__ix_eval(&r->lists.ix, r->form[p->form].grids.workspace, &one));
        }
    return total;
}

// The workspace of all launches, zero where kernels need that. What shares a place takes turns.
static int tc__dispatch_workspace(tc__dispatch *r, const tc__ixpool *x,
                                  const tc__ixenv *env) {
    const tc_device *d = &r->device->own;
    size_t total = 0;
    for (uint32_t i = 0; i < r->launches; i++) r->launch[i].work = 0; // bytes, at first
    for (uint32_t i = 0; i < r->launches; i++) {
        tc__dispatch_launch *l = &r->launch[i], *first = &r->launch[l->room];
        int whole = !l->by && !l->pieces;
        size_t bytes = whole ? (size_t)tc__ix_eval(x, l->grids.workspace, env) : 0;
        if (bytes > first->work) first->work = bytes;
    }
    for (uint32_t i = 0; i < r->launches; i++) {
        tc__dispatch_launch *l = &r->launch[i];
        size_t bytes = l->room == i ? tc__device_rounded(l->work) : 0;
        l->work = l->room == i ? total : r->launch[l->room].work;
        total += bytes;
    }
    total += tc__dispatch_pieces_work(r, x, env, total);
    if (total > r->work_bytes) {
        tc__dispatch_give(r, &r->work);
        r->work_bytes = 0;
        tc_status s = d->take(d->user, total, &r->work);
        if (s) return tc__device_failed(r->ctx, &r->device->own, "memory of a program", s);
        r->work_bytes = total;
    }
    tc_status s = total ? d->fill(d->user, r->work.address, 0, total) : TC_OK;
    return !s || tc__device_failed(r->ctx, &r->device->own, "memory of a program", s);
}

static uint32_t tc__dispatch_blocks(const tc__dispatch *r, const tc__grid *g,
                                    int64_t blocks) {
    int64_t most = g->waves ? (int64_t)g->waves * r->device->own.processors : INT32_MAX;
    if (blocks > most) blocks = most;
    if (blocks < 1) blocks = 1;
    if (g->cluster > 1)
        blocks = (blocks + g->cluster - 1) / g->cluster * (int64_t)g->cluster;
    return (uint32_t)blocks;
}

// The arguments of a launch for several tensors that do not change from run to run: sizes, and which
// blocks are whose. Gives the number of blocks.
static int64_t tc__dispatch_list_sizes(const tc__dispatch *r, const tc__dispatch_listed *d,
                                       const tc__ixpool *x, const tc__ixenv *env) {
    const tc__turn *s = &r->order.step.at[d->step];
    const tc__group *form = tc__turn_launch(r, s)->group;
    tc__list_argument a =
        tc__list_argument_of(d->argument, tc__list_width(form), (size_t)form->shape.list);
    tc__ix each = tc__turn_launch(r, s)->grids.at[0].blocks;
    int64_t blocks = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        const tc__item *n = &r->order.item.at[r->order.member.at[s->first + i]];
        tc__ixenv one;
        memset(&one, 0, sizeof one);
        a.count[i] = tc__ix_eval(x, r->lists.piece.at[n->piece].count, env);
        one.sym = &a.count[i];
        a.first[i] = (int32_t)blocks;
        blocks += tc__ix_eval(&r->lists.ix, each, &one);
    }
    *a.rows = (int32_t)s->count;
    return blocks;
}

// Launches for several tensors.
static int tc__dispatch_lists_lay_out(tc__dispatch *r, const tc__ixpool *x,
                                      const tc__ixenv *env) {
    size_t bytes = 0;
    for (size_t i = 0; i < r->listed.count; i++)
        bytes += tc__turn_launch(r, &r->order.step.at[r->listed.at[i].step])->bytes;
    if (r->listed_bytes) tc__free(r->ctx, r->listed_bytes, r->listed_room);
    r->listed_room = bytes + 8;
    r->listed_bytes = (uint8_t *)tc__alloc(r->ctx, r->listed_room);
    if (!r->listed_bytes) return 0;
    uint8_t *at = r->listed_bytes;
    for (size_t i = 0; i < r->listed.count; i++) {
        tc__dispatch_listed *d = &r->listed.at[i];
        const tc__dispatch_launch *l = tc__turn_launch(r, &r->order.step.at[d->step]);
        tc_device_launch *to = &r->list[d->at];
        const int *after = to->after;
        int n_after = to->n_after;
        d->argument = at, at += l->bytes;
        memset(to, 0, sizeof *to);
        to->after = after, to->n_after = n_after, to->kernel = l->kernel[0];
        to->blocks =
            tc__dispatch_blocks(r, &l->grids.at[0], tc__dispatch_list_sizes(r, d, x, env));
        to->threads = (uint32_t)l->grids.at[0].threads;
        to->early = (uint32_t)l->grids.at[0].early;
        to->argument = d->argument, to->offset = l->offset;
        to->n_argument = l->n_argument, to->argument_bytes = l->bytes;
    }
    return 1;
}

// Bytes of shared memory that a block of a launch takes at most.
static int64_t tc__dispatch_shared(const tc__dispatch_launch *l, const tc__ixpool *x,
                                   const tc__ixenv *env) {
    int64_t most = 0;
    for (int i = 0; i < l->grids.count; i++) {
        int64_t bytes = tc__ix_eval(x, l->grids.at[i].shared, env);
        if (bytes > most) most = bytes;
    }
    return most;
}

// The maps of a launch, by its arguments.
static void tc__dispatch_maps(tc__dispatch_launch *l) {
    for (int i = 0; i < l->grids.maps; i++) {
        tc_device_map *m = &l->map[i];
        uint32_t address = 0;
        *m = l->grids.map[i];
        while (l->memory[address] != m->address) address++;
        m->address = address;
        m->argument = l->n_argument - (uint32_t)(l->grids.maps - i);
    }
}

// Launch l as `list`, which has room for its kernels.
static int tc__dispatch_launch_lay_out(tc__dispatch *r, tc__dispatch_launch *l,
                                       tc_device_launch *list, const tc__ixpool *x,
                                       const tc__ixenv *env) {
    int64_t shared = tc__dispatch_shared(l, x, env);
    if (shared > (int64_t)r->device->own.shared_bytes)
        return tc__fail(r->ctx, TC_E_UNSUPPORTED,
                        "a kernel needs %lld bytes of shared memory, %s has %u for a block",
                        (long long)shared, r->device->own.name,
                        (unsigned)r->device->own.shared_bytes);
    tc__dispatch_maps(l);
    for (int i = 0; i < l->grids.count; i++) {
        const tc__grid *g = &l->grids.at[i];
        tc_device_launch *to = &list[i];
        to->kernel = l->kernel[i];
        to->blocks = tc__dispatch_blocks(r, g, tc__ix_eval(x, g->blocks, env));
        to->threads = (uint32_t)g->threads, to->cluster = (uint32_t)g->cluster;
        to->shared = (uint32_t)tc__ix_eval(x, g->shared, env);
        to->early = (uint32_t)g->early;
        to->argument = l->argument, to->offset = l->offset;
        to->n_argument = l->n_argument, to->argument_bytes = l->bytes;
        to->map = l->map, to->n_map = (uint32_t)l->grids.maps;
    }
    // Sizes stand behind the address of the state.
    int64_t *size = (int64_t *)(void *)(l->argument + l->sizes);
    for (int i = 0; i < l->grids.sizes; i++) size[i] = env->sym[i];
    if (l->group->target.checked) size[l->grids.sizes] = l->number;
    if (l->grids.beside) size[l->grids.sizes] = l->beside;
    return 1;
}

// ---- the list of a run ----

// Places in the list for step i, behind what has one. last[]: of each step, its last place.
static int tc__dispatch_step(tc__dispatch *r, uint32_t i, uint32_t *last) {
    const tc__turn *s = &r->order.step.at[i];
    const tc__dispatch_launch *l = tc__turn_launch(r, s);
    uint32_t at = r->list_count, base = r->part[s->part].begin;
    tc__dispatch_listed listed;
    listed.step = i, listed.at = at, listed.argument = NULL;
    for (uint32_t k = 0; k < s->count; k++) {
        const tc__item *n = &r->order.item.at[r->order.member.at[s->first + k]];
        if (n->piece == tc__nobody || n->piece == r->launch[n->launch].piece)
            r->launch[n->launch].first = at;
    }
    for (uint32_t k = 0; k < s->n_after; k++)
        if (!TC__PUSH(r->ctx, r->after,
                      (int)(last[r->order.after.at[s->after + k]] - base)))
            return 0;
    r->list[at].n_after = (int)s->n_after;
    for (int g = 1; g < l->grids.count; g++) { // the launches of one text
        if (!TC__PUSH(r->ctx, r->after, (int)(at - base) + g - 1)) return 0;
        r->list[at + (uint32_t)g].n_after = 1;
    }
    r->list_count = at + (uint32_t)l->grids.count;
    last[i] = r->list_count - 1;
    return tc__turn_item(r, s)->piece == tc__nobody || TC__PUSH(r->ctx, r->listed, listed);
}

// The list, in its order, and what each launch comes after.
static int tc__dispatch_sequence(tc__dispatch *r, const tc__plan *plan) {
    uint32_t i = 0, n;
    if (!tc__dispatch_arrange(r, plan)) return 0;
    n = (uint32_t)r->order.step.count;
    uint32_t *last = TC__NEW_ARRAY(r->ctx, uint32_t, n);
    r->after.count = r->listed.count = 0, r->list_count = 0;
    int ok = last != NULL;
    for (uint32_t p = 0; p < r->parts; p++) {
        r->part[p].begin = r->list_count;
        for (; ok && i < n && r->order.step.at[i].part == p; i++)
            ok = tc__dispatch_step(r, i, last);
        r->part[p].end = r->list_count;
    }
    const int *at = r->after.at;
    for (uint32_t k = 0; ok && k < r->list_count; at += r->list[k++].n_after)
        r->list[k].after = at;
    if (last) TC__FREE_ARRAY(r->ctx, last, n);
    return ok;
}

// The arena has room for the plan.
static int tc__dispatch_arena(tc__dispatch *r) {
    void *address = NULL;
    tc_status s = r->plan.bytes
                      ? r->device->own.arena(r->device->own.user, r->plan.bytes, &address)
                      : TC_OK;
    r->memory = (uint8_t *)address;
    return !s ||
           tc__device_failed(r->ctx, &r->device->own, "memory of intermediate results", s);
}

// Whether blocks have the shared memory that kernels need for these sizes.
static int tc__dispatch_fits(const tc__dispatch *r, const tc__ixpool *x,
                             const tc__ixenv *env) {
    for (uint32_t i = 0; i < r->launches; i++)
        if (!r->launch[i].by && tc__dispatch_shared(&r->launch[i], x, env) >
                                    (int64_t)r->device->own.shared_bytes)
            return 0;
    return 1;
}

// Everything that depends on sizes; 0 = reported.
static int tc__dispatch_lay_out(tc__dispatch *r, const tc__ixpool *x,
                                const tc__ixenv *env) {
    tc__dispatch_forget_plans(r); // what comes after what may change
    if (!tc__dispatch_workspace(r, x, env) || !tc__dispatch_sequence(r, &r->plan)) return 0;
    for (uint32_t i = 0; i < r->launches; i++) {
        tc__dispatch_launch *l = &r->launch[i];
        if (!l->by && !l->pieces &&
            !tc__dispatch_launch_lay_out(r, l, &r->list[l->first], x, env))
            return 0;
    }
    return tc__dispatch_lists_lay_out(r, x, env);
}

// ---- for who compiles and reports ----

// What is compiled for the program: its launches, then the kernels of lists. NULL = nothing is.
static tc__dispatch_launch *tc__dispatch_wanted(const tc__dispatch *r, uint32_t i) {
    tc__dispatch_launch *l = i < r->launches ? &r->launch[i] : &r->form[i - r->launches];
    return l->by || l->pieces || (i >= r->launches && !l->group->shape.list) ? NULL : l;
}

static uint32_t tc__dispatch_most(const tc__dispatch *r) {
    return r->launches + (uint32_t)r->lists.form.count;
}

// The list of tensors that is launched at this place; NULL = there is none.
static const tc__turn *tc__dispatch_list_at(const tc__dispatch *r, uint32_t at) {
    for (size_t i = 0; i < r->listed.count; i++)
        if (r->listed.at[i].at == at) return &r->order.step.at[r->listed.at[i].step];
    return NULL;
}

TC__UNUSED static uint32_t tc__dispatch_tensors_at(const tc__dispatch *r, uint32_t at) {
    const tc__turn *s = tc__dispatch_list_at(r, at);
    return s ? s->count : 0;
}

// The launch that the kernel at this place is for; of a list, that of its first tensor.
static uint32_t tc__dispatch_launch_at(const tc__dispatch *r, uint32_t at) {
    const tc__turn *s = tc__dispatch_list_at(r, at);
    if (s) return tc__turn_item(r, s)->launch;
    uint32_t i = 0;
    while (r->launch[i].by || r->launch[i].pieces || r->launch[i].first != at) i++;
    return i;
}

// And kernels of the program, by the place of their first pieces.
TC__UNUSED static uint32_t tc__dispatch_kernels_at(const tc__dispatch *r, uint32_t at) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->launches; i++)
        n += r->launch[i].pieces && r->launch[i].first == at;
    return n;
}
