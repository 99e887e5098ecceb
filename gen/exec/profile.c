// Kernels under the profiler: each is run by itself between two marks of its device, as a row of the table and
// as an event, and so is the part of each worker. Input: what a program is about to give a device (an act). What the
// device launches for a list of tensors is a kernel.
// Nothing of this is on the way of a context without a profile, or of a device that gives no time.
//
// The program waits for the last mark, so that times are known when the run is over; by it the device's clock is
// laid on the host's.
//
// Without a profile a run has one branch more, a short-cut call none: that looks for a profile at
// the runs that it times anyway, and tc_profile_begin makes the next run one of those.

enum { TC__PROFILE_ROWS = 4096 }; // kernels beyond share one

// ---- the yardstick: copies on the device ----

enum {
    TC__YARDSTICK = 64 << 20, // bytes
    TC__YARDSTICK_COPIES = 10 // of each size
};

// Bytes of the copies. Short ones take what a launch takes, which a kernel of as many bytes cannot undercut.
static const uint32_t tc__yardsticks[TC__YARDSTICKS] = {64 << 10, 1 << 20, 4 << 20,
                                                        16 << 20, TC__YARDSTICK};

// What a copy takes that reads and writes so many bytes together, in nanoseconds; 0 = unknown.
static double tc__copy_time(const tc__device *d, int64_t bytes) {
    double n = 0.5 * (double)bytes, most = TC__YARDSTICK, before, next;
    const uint64_t *ns = d->copy_ns;
    int i = 1;
    if (n >= most || !ns[0]) return (double)ns[TC__YARDSTICKS - 1] * n / most;
    while (n > tc__yardsticks[i]) i++;
    before = tc__yardsticks[i - 1], next = tc__yardsticks[i];
    double part = n < before ? 0 : (n - before) / (next - before);
    return (double)ns[i - 1] * (1 - part) + (double)ns[i] * part;
}

// Copies of all sizes but the first `least` between marks, the largest first: while those run, the others are given, so
// that no time of the host is in theirs. Each is of what was not touched for the longest time, which no cache has. The
// first goes back, so that `from` is memory. Gives how many marks there are.
static uint32_t tc__yardstick_run(tc_ctx *c, tc__device *d, int least, char *to,
                                  char *from) {
    const tc_device *own = &d->own;
    int ok = !own->copy_on(own->user, from, to, TC__YARDSTICK) && tc__mark(c, d, 0);
    uint32_t n = (uint32_t)ok;
    size_t at = 0;
    for (int i = TC__YARDSTICKS * TC__YARDSTICK_COPIES - 1;
         ok && i >= least * TC__YARDSTICK_COPIES; i--) {
        size_t bytes = tc__yardsticks[i / TC__YARDSTICK_COPIES];
        ok = !own->copy_on(own->user, to + at, from + at, bytes) && tc__mark(c, d, n);
        n += (uint32_t)ok, at = (at + bytes) % TC__YARDSTICK;
    }
    return n;
}

// The fastest of each size. The host has the largest alone: it launches nothing, and has a thread for each MB.
static void tc__yardstick_times(tc_ctx *c, tc__device *d, char *to, char *from) {
    if (!tc__marks_room(c, d, TC__YARDSTICKS * TC__YARDSTICK_COPIES + 1)) return;
    uint32_t n = tc__yardstick_run(c, d, d->number ? 0 : TC__YARDSTICKS - 1, to, from);
    for (uint32_t i = 1; i < n; i++) {
        uint64_t ns,
            *best = &d->copy_ns[TC__YARDSTICKS - 1 - (i - 1) / TC__YARDSTICK_COPIES];
        if (!tc__between(c, d, i - 1, i, &ns)) break;
        if (!*best || ns < *best) *best = ns;
    }
}

// When a device is profiled for the first time. It has the marks of one kernel then, for when there is no memory.
static void tc__device_yardstick(tc_ctx *c, tc__device *d) {
    tc__error_mark held = tc__error_now(c);
    if (d->measured) return;
    d->measured = 1;
    tc__device *on = tc__device_at(c, d->number);
    tc__storage *from = tc__storage_on(c, on, TC__YARDSTICK);
    tc__storage *to = from ? tc__storage_on(c, on, TC__YARDSTICK) : NULL;
    if (to) tc__yardstick_times(c, d, (char *)to->data, (char *)from->data);
    tc__marks_leave(d, 2);
    tc__storage_unref(c, to);
    tc__storage_unref(c, from);
    tc__error_restore(c, held);
}

// ---- kernels: their bytes, names and rows ----

// Whether buffer `out` took the memory of buffer `in`, which ended with the kernel.
static int tc__is_in_place(const tc__program *p, const tc__group *g, int64_t out,
                           int64_t in) {
    const tc__plan *plan =
        g->target.device ? &tc__program_on(p, g->target.device)->plan : &p->plan;
    const tc__kbuf *to = &g->buffer.at[out], *from = &g->buffer.at[in];
    if (to->place != TC__BUF_NODE || from->place != TC__BUF_NODE) return 0;
    const tc__slab *s = tc__plan_find(plan, to->source),
                   *t = tc__plan_find(plan, from->source);
    return s && t && tc__plan_under(plan, s) == tc__plan_under(plan, t);
}

// Elements of what a scatter changes where it lies: as many as it has to put there; INT64_MAX = it copies all.
static int64_t tc__changed_elements(const tc__program *p, const tc__group *g, uint32_t i,
                                    const tc__ixenv *env) {
    const tc__node *call = g->body.node.at[0];
    const int64_t *b = call->attr + TC__CALL_BUFFERS;
    int64_t from = b[call->attr[TC__CALL_OPERANDS]];
    if (!tc__changes_some(call->attr[TC__CALL_OP]) || from < 0 || b[1] < 0 ||
        (b[0] != (int64_t)i && b[1] != (int64_t)i) || !tc__is_in_place(p, g, b[0], b[1]))
        return INT64_MAX;
    return tc__ix_eval(g->body.ix, g->buffer.at[from].numel, env);
}

// Whether a node before n reads, or writes, the same elements.
static int tc__is_named_before(const tc__group *g, const tc__node *n) {
    for (uint32_t id = 0; id < n->id; id++) {
        const tc__node *m = g->body.node.at[id];
        if (m->op == n->op && m->attr[TC__ACCESS_BUFFER] == n->attr[TC__ACCESS_BUFFER] &&
            m->attr[TC__ACCESS_INDEX] == n->attr[TC__ACCESS_INDEX])
            return 1;
    }
    return 0;
}

// Elements of buffer i that the kernel names by values, as an embedding's rows; INT64_MAX = it names others, too.
static int64_t tc__named_elements(const tc__group *g, uint32_t i, const tc__ixenv *env) {
    int64_t all = 0, some = 0;
    for (uint32_t id = 0; id < g->body.node.count; id++) {
        const tc__node *n = g->body.node.at[id];
        if ((n->op != TC_OP_LOAD && n->op != TC_OP_STORE) ||
            n->attr[TC__ACCESS_BUFFER] != (int64_t)i)
            continue;
        if (!tc__ix_has_val(g->body.ix, n->attr[TC__ACCESS_INDEX]) ||
            (n->level != TC__AT_COL && n->level != TC__AT_ROW))
            return INT64_MAX;
        int64_t named = tc__ix_eval(g->body.ix, g->shape.rows, env);
        tc__ix along = id < g->shape.prologue ? tc__depth_of(g) : g->shape.cols;
        if (n->level == TC__AT_COL)
            named = tc__ix_times(named, tc__ix_eval(g->body.ix, along, env));
        some = 1;
        if (!tc__is_named_before(g, n)) all = all < INT64_MAX - named ? all + named : named;
    }
    return some ? all : INT64_MAX;
}

// Bytes of a buffer that a kernel reads or writes, for the sizes of this run.
static int64_t tc__buffer_bytes(const tc__program *p, const tc__group *g, uint32_t i) {
    const tc__kbuf *b = &g->buffer.at[i];
    tc__ixenv env;
    if (!tc__is_memory(b)) return 0;
    memset(&env, 0, sizeof env);
    env.sym = p->size.at;
    int64_t numel = tc__ix_eval(g->body.ix, b->numel, &env),
            some = g->shape.kind == TC__OPAQUE ? tc__changed_elements(p, g, i, &env)
                                               : tc__named_elements(g, i, &env);
    return tc__ix_times(some < numel ? some : numel, (int64_t)tc__dtype(b->dtype)->bytes);
}

// Those of a tensor of a list.
static int64_t tc__piece_bytes(const tc__program *p, const tc__dispatch *r,
                               const tc__piece *piece) {
    int64_t bytes = 0;
    for (size_t i = 0; i < r->lists.form.at[piece->form]->buffer.count; i++)
        if (!(piece->buffer[i] & tc__piece_number))
            bytes += tc__buffer_bytes(p, r->launch[piece->launch].group, piece->buffer[i]);
    return bytes;
}

// Of all buffers that a kernel reads and writes, each once.
static int64_t tc__kernel_bytes(const tc__program *p, const tc__kernel_run *k) {
    const tc__group *g = p->launch.at[k->launch].group;
    const tc__turn *s = k->tensors;
    int64_t bytes = 0;
    for (uint32_t i = 0; !s && i < g->buffer.count; i++) bytes += tc__buffer_bytes(p, g, i);
    if (!s) return bytes;
    const tc__dispatch *r = tc__program_on(p, g->target.device);
    for (uint32_t i = 0; i < s->count; i++) {
        const tc__item *n = &r->order.item.at[r->order.member.at[s->first + i]];
        bytes += tc__piece_bytes(p, r, &r->lists.piece.at[n->piece]);
    }
    return bytes;
}

static void tc__put_run_name(tc__text *t, const tc__program *p, const tc__kernel_run *k) {
    const tc__group *g = p->launch.at[k->launch].group;
    if (k->tensors) {
        tc__put(t, "list of %u: ", (unsigned)k->tensors->count);
        g = tc__turn_launch(tc__program_on(p, g->target.device), k->tensors)->group;
    }
    tc__put_kernel_name(t, g, k->launch);
}

// What tells a region or function from others of its name.
static uint64_t tc__profile_owner(const tc__region *r) {
    if (!r) return 0;
    uint64_t h = tc__hash_mix((uint64_t)(uintptr_t)r->begin.file, (uint64_t)r->begin.line);
    return tc__hash_mix(h, (uint64_t)r->function);
}

// The name of its rows: its own; where another one has that, with its place, and of a function its number.
// UINT32_MAX = no memory.
static uint32_t tc__profile_where(tc__profile *f, const tc__region *r, uint64_t owner) {
    uint32_t at = tc__profile_name(f, r ? r->name : "eager"), taken = 0;
    for (size_t i = 0; i < f->row.count; i++)
        taken |= f->row.at[i].where == at && f->row.at[i].owner != owner;
    if (!taken || !r) return at;
    tc__text t;
    tc__text_init(&t, f->ctx);
    tc__put(&t, "%s (%s:%d", r->name, r->begin.file ? r->begin.file : "?", r->begin.line);
    tc__put(&t, r->function ? ", function %d)" : ")", r->function);
    at = t.failed ? UINT32_MAX : tc__profile_name(f, t.at);
    tc__text_free(&t);
    return at;
}

// The row of these names, made if there is none, with a copy of the kernel's; UINT32_MAX = no memory for it. A program
// that is made again goes on in its row.
static uint32_t tc__profile_row_named(tc__profile *f, const tc__profile_row *named) {
    uint32_t n = (uint32_t)f->row.count;
    for (uint32_t i = 0; i < n; i++) {
        const tc__profile_row *r = &f->row.at[i];
        if (r->where == named->where && r->owner == named->owner &&
            r->program == named->program && !strcmp(r->kernel, named->kernel))
            return i;
    }
    size_t size = strlen(named->kernel) + 1;
    char *copy = (char *)tc__arena_alloc(&f->arena, size);
    if (!copy || !TC__PUSH(f->ctx, f->row, *named)) return UINT32_MAX;
    memcpy(copy, named->kernel, size);
    f->row.at[n].kernel = copy;
    return n;
}

static uint32_t tc__profile_row_of(tc__profile *f, const tc__program *p,
                                   const tc__kernel_run *k, const tc__region *r) {
    tc__profile_row row;
    tc__text name;
    memset(&row, 0, sizeof row);
    tc__text_init(&name, f->ctx);
    int full = f->row.count + 1 >= TC__PROFILE_ROWS;
    row.owner = full ? 0 : tc__profile_owner(r);
    row.where = full ? tc__profile_name(f, "others") : tc__profile_where(f, r, row.owner);
    row.program = full ? 0 : p->number;
    if (full)
        tc__put(&name, "all_the_others");
    else
        tc__put_run_name(&name, p, k);
    row.kernel = name.at;
    uint32_t at = row.where == UINT32_MAX || name.failed ? UINT32_MAX
                                                         : tc__profile_row_named(f, &row);
    tc__text_free(&name);
    return at;
}

// The row of a kernel: a launch remembers its own. UINT32_MAX = no memory for it.
static uint32_t tc__profile_row_find(tc__profile *f, tc__program *p,
                                     const tc__kernel_run *k, const tc__region *r) {
    tc__launch *l = &p->launch.at[k->launch];
    if (!k->tensors && l->profile == f->number) return l->row;
    tc__error_mark held = tc__error_now(f->ctx);
    uint32_t row = tc__profile_row_of(f, p, k, r);
    if (row == UINT32_MAX)
        tc__error_restore(f->ctx, held);
    else if (!k->tensors)
        l->profile = f->number, l->row = row;
    return row;
}

// Kernel k of the program ran on device d, as the event tells: in its row.
static void tc__profile_kernel(tc__profile *f, tc__program *p, const tc__kernel_run *k,
                               const tc__device *d, const tc__region *region,
                               tc__event *e) {
    e->of = tc__profile_row_find(f, p, k, region);
    if (e->of == UINT32_MAX) {
        f->dropped++;
        return;
    }
    tc__profile_row *row = &f->row.at[e->of];
    e->kind = TC__SPAN_KERNEL, e->bytes = tc__kernel_bytes(p, k);
    e->thread = (uint16_t)(d->number ? TC__DEVICES + d->number : 0);
    row->calls++, row->compiled += e->compiled, row->ns += e->ns;
    row->bytes += (uint64_t)e->bytes, row->device = d->number;
    row->copy_ns += tc__copy_time(d, e->bytes);
    tc__profile_event(f, e);
    for (int w = 1; w < f->watched.workers; w++) {
        if (!f->watched.start[w]) continue;
        tc__event part = *e;
        part.kind = TC__SPAN_PART, part.thread = (uint16_t)w, part.bytes = part.items = 0;
        part.start = e->start + (f->watched.start[w] - f->watched.begun);
        part.ns = f->watched.end[w] - f->watched.start[w];
        tc__profile_event(f, &part);
    }
}

// Runs the copy that launch i is, waits for it, and notes it by the host's clock. 0 = reported.
static int tc__profile_copy(tc__program *p, const tc__region *region, uint32_t i,
                            int (*copy)(tc__program *p, uint32_t i)) {
    const tc__device *to = tc__launch_device(p, &p->launch.at[i]);
    tc__kernel_run k;
    tc__event e;
    memset(&e, 0, sizeof e), memset(&k, 0, sizeof k);
    e.compiled = 1, e.items = 1, e.start = tc__now_ns(), k.launch = i;
    int ok = copy(p, i);
    tc_status s = ok ? to->own.sync(to->own.user) : TC_OK;
    if (s) ok = tc__device_failed(p->ctx, &to->own, "a copy between devices", s);
    e.ns = tc__now_ns() - e.start;
    if (ok) tc__profile_kernel(p->ctx->profiling, p, &k, to, region, &e);
    return ok;
}

// ---- acts ----

static uint32_t tc__act_kernels(const tc__program *p, const tc__act *a) {
    const tc__runner *r = tc__act_device(p, a)->runner;
    tc__kernel_run k;
    uint32_t n = 0;
    for (uint32_t at = 0; (at = r->kernel(p, a, at, &k)) != 0;) n++;
    return n;
}

// Whether the kernels of the act are timed now, for which their device is made ready.
static int tc__profiles(const tc__program *p, const tc__act *a) {
    const tc__profile *f = p->ctx->profiling;
    if (TC__LIKELY(!f)) return 0;
    tc__device *d = tc__act_device(p, a);
    if (!tc__device_has_time(&d->own)) return 0;
    tc__device_yardstick(p->ctx, d);
    return tc__marks_room(p->ctx, d, tc__act_kernels(p, a) + 1);
}

// Gives the device a copy, during which the host gives it the first kernels, so that no time of the host is in theirs. What is
// copied is the caller's to free; NULL = none, the host needs none, or there is no memory.
static tc__storage *tc__profile_busy(tc_ctx *c, tc__device *d) {
    tc__error_mark held = tc__error_now(c);
    tc__storage *s = d->number ? tc__storage_on(c, d, TC__YARDSTICK) : NULL;
    if (s)
        d->own.copy_on(d->own.user, s->data, (char *)s->data + TC__YARDSTICK / 2,
                       TC__YARDSTICK / 2);
    tc__error_restore(c, held);
    return s;
}

// Runs the kernels of the act between marks; gives how many there are in *n. 0 = reported.
static int tc__profile_run(tc__program *p, tc__device *d, const tc__act *a, uint32_t *n) {
    tc__watched *w = &p->ctx->profiling->watched;
    tc__kernel_run k;
    int ok = tc__mark(p->ctx, d, 0);
    w->workers = 0, w->on = 1, *n = 0;
    for (uint32_t at = 0; ok && (at = d->runner->kernel(p, a, at, &k)) != 0;) {
        ok = tc__kernel_go(p->ctx, d, &k) && tc__mark(p->ctx, d, ++*n);
        tc__kernel_forget(d, &k);
    }
    w->on = 0;
    return ok;
}

// Runs an act, kernel by kernel, and notes them. 0 = reported.
static int tc__profile_act(tc__program *p, const tc__region *region, const tc__act *a) {
    tc__profile *f = p->ctx->profiling;
    tc__device *d = tc__act_device(p, a);
    tc__kernel_run k;
    tc__event e;
    uint32_t n = 0;
    uint64_t all = 0;
    tc__storage *busy = tc__profile_busy(p->ctx, d);
    int ok = tc__profile_run(p, d, a, &n) && tc__between(p->ctx, d, 0, n, &all);
    tc__storage_unref(p->ctx, busy);
    if (!ok) return 0;
    memset(&e, 0, sizeof e);
    e.start = tc__now_ns() - all;
    if (e.start < f->begun) e.start = f->begun;
    n = 0;
    for (uint32_t at = 0; (at = d->runner->kernel(p, a, at, &k)) != 0; n++) {
        if (!tc__between(p->ctx, d, n, n + 1, &e.ns)) return 0;
        e.compiled = k.list[0].kernel != NULL, e.items = k.items;
        tc__profile_kernel(f, p, &k, d, region, &e);
        e.start += e.ns;
    }
    return 1;
}
