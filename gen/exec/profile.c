// Kernels under the profiler: each launch is timed, as a row of the table and as an event, and so is
// the part of each worker. Input: a program that is about to run. Nothing of this is on the way of a
// context without a profile.
//
// Without one a run has one branch more, a short-cut call none: that looks for a profile at
// the runs that it times anyway, and tc_profile_begin makes the next run one of those.

enum { TC__PROFILE_ROWS = 4096 }; // kernels beyond share one

// Bytes of the buffers that a launch reads and writes, each once, for the sizes of this run.
static int64_t tc__launch_bytes(const tc__program *p, const tc__launch *l) {
    int64_t bytes = 0;
    tc__ixenv env;
    memset(&env, 0, sizeof env);
    env.sym = p->size.at;
    for (size_t i = 0; i < l->group->buffer.count; i++) {
        const tc__kbuf *b = &l->group->buffer.at[i];
        if (!tc__is_memory(b)) continue;
        bytes += tc__ix_times(tc__ix_eval(l->group->body.ix, b->numel, &env),
                              (int64_t)tc__dtype(b->dtype)->bytes);
    }
    return bytes;
}

// The name of kernel `i` of a program, in the arena of the profile; NULL = out of memory.
static const char *tc__profile_kernel_name(tc__profile *f, const tc__group *k, uint32_t i) {
    tc__text t;
    tc__text_init(&t, f->ctx);
    tc__put_kernel_name(&t, k, i);
    char *copy = t.failed ? NULL : (char *)tc__arena_alloc(&f->arena, t.size + 1);
    if (copy) memcpy(copy, t.at, t.size + 1);
    tc__text_free(&t);
    return copy;
}

// The row of these names, made if there is none; UINT32_MAX = no memory for it. A program that is
// made again goes on in its row.
static uint32_t tc__profile_row_named(tc__profile *f, const tc__profile_row *named) {
    uint32_t n = (uint32_t)f->row.count;
    for (uint32_t i = 0; i < n; i++) {
        const tc__profile_row *r = &f->row.at[i];
        if (r->where == named->where && r->program == named->program &&
            !strcmp(r->kernel, named->kernel))
            return i;
    }
    return TC__PUSH(f->ctx, f->row, *named) ? n : UINT32_MAX;
}

static uint32_t tc__profile_row_of(tc__profile *f, const tc__program *p, uint32_t i,
                                   const tc__region *r) {
    tc__profile_row row;
    memset(&row, 0, sizeof row);
    int full = f->row.count + 1 >= TC__PROFILE_ROWS;
    row.where = tc__profile_name(f, full ? "others" : r ? r->name : "eager");
    row.program = full ? 0 : p->number;
    row.kernel =
        full ? "all_the_others" : tc__profile_kernel_name(f, p->launch.at[i].group, i);
    if (row.where == UINT32_MAX || !row.kernel) return UINT32_MAX;
    return tc__profile_row_named(f, &row);
}

// Whether kernel `i` of the program has a row, which is found if need be; 0 = no memory for it.
static int tc__profile_row_is_known(tc__profile *f, tc__program *p, uint32_t i,
                                    const tc__region *r) {
    tc__launch *l = &p->launch.at[i];
    if (l->profile == f->number) return 1;
    tc__error_mark held = tc__error_now(f->ctx);
    uint32_t row = tc__profile_row_of(f, p, i, r);
    if (row == UINT32_MAX) {
        tc__error_restore(f->ctx, held);
        return 0;
    }
    l->profile = f->number, l->row = row;
    return 1;
}

static void tc__watched_part(void *arg, int64_t lo, int64_t hi, int worker) {
    tc__watched *w = (tc__watched *)arg;
    w->start[worker] = tc__now_ns();
    w->fn(w->arg, lo, hi, worker);
    w->end[worker] = tc__now_ns();
}

// The kernel of l took e->ns, in its row.
static void tc__profile_kernel(tc__profile *f, const tc__launch *l, tc__event *e) {
    tc__profile_row *row = &f->row.at[e->of = l->row];
    row->calls++, row->compiled += e->compiled, row->ns += e->ns;
    row->bytes += (uint64_t)e->bytes;
    row->device = e->thread < TC__DEVICES ? 0 : e->thread - TC__DEVICES;
    tc__profile_event(f, e);
}

// Runs kernel `i` of the program by `fn` and notes it.
static void tc__profile_launch(tc__profile *f, tc__program *p, uint32_t i,
                               const tc__region *r, tc__pool_fn fn) {
    tc__watched *w = &f->watched;
    tc__launch *l = &p->launch.at[i];
    int known = tc__profile_row_is_known(f, p, i, r);
    tc__event e;
    memset(&e, 0, sizeof e);
    memset(w->start, 0, (size_t)f->threads * sizeof *w->start);
    w->fn = fn, w->arg = l;
    e.kind = TC__SPAN_KERNEL, e.compiled = l->run != NULL;
    e.bytes = tc__launch_bytes(p, l), e.items = l->items;
    e.start = tc__now_ns();
    tc__pool_run(tc__pool_of(p->ctx), tc__watched_part, w, l->items, l->grain);
    e.ns = tc__now_ns() - e.start;
    if (!known) {
        f->dropped++;
        return;
    }
    tc__profile_kernel(f, l, &e);
    for (int k = 1; k < f->threads; k++) {
        if (!w->start[k]) continue;
        e.kind = TC__SPAN_PART, e.thread = (uint16_t)k, e.bytes = e.items = 0;
        e.start = w->start[k], e.ns = w->end[k] - w->start[k];
        tc__profile_event(f, &e);
    }
}
