// The host as a device: memory is its own, kernels run on the pool, and the clock is the system's. Nothing
// here fails but for memory, and all is done when a function returns.
//
// A launch of the list has the tc__launch for its arguments.

// ---- running ----

static void tc__watched_part(void *arg, int64_t lo, int64_t hi, int worker) {
    tc__watched *w = (tc__watched *)arg;
    w->start[worker] = tc__now_ns();
    tc__launch_part(w->arg, lo, hi, worker);
    w->end[worker] = tc__now_ns();
}

// The profiler wants to know what each worker did.
static void tc__host_watched(tc_ctx *c, tc__launch *l) {
    tc__watched *w = &c->profiling->watched;
    w->workers = c->profiling->threads, w->arg = l;
    memset(w->start, 0, (size_t)w->workers * sizeof *w->start);
    w->begun = tc__now_ns();
    tc__launch_share(c, l, tc__watched_part, w);
}

static tc_status tc__host_launch(void *user, void **plan, const tc_device_launch *list,
                                 int n, tc_device_mode mode, int changed) {
    tc_ctx *c = (tc_ctx *)user;
    (void)plan, (void)mode, (void)changed;
    for (int i = 0; i < n; i++) {
        tc__launch l = *(const tc__launch *)list[i].argument;
        memcpy(&l.run, &list[i].kernel, sizeof l.run); // C has no cast between the two
        if (c->profiling && c->profiling->watched.on)
            tc__host_watched(c, &l);
        else
            tc__launch_all(c, &l);
    }
    return TC_OK;
}

static void tc__host_forget(void *user, void *plan) { (void)user, (void)plan; }

// The launch as a list of one.
static void tc__host_list(const tc__launch *l, tc__kernel_run *k) {
    k->items = l->items, k->count = l->items > 0, k->plan = NULL;
    memset(&k->list[0], 0, sizeof k->list[0]);
    memcpy(&k->list[0].kernel, &l->run, sizeof l->run);
    k->list[0].argument = l, k->list[0].argument_bytes = sizeof *l;
}

static uint32_t tc__host_kernel(const tc__program *p, const tc__act *a, uint32_t at,
                                tc__kernel_run *k) {
    if (at) return 0;
    k->launch = a->at, k->tensors = NULL;
    tc__host_list(&p->launch.at[a->at], k);
    return 1;
}

// ---- memory and time ----

static tc_status tc__host_copy(void *user, void *to, const void *from, size_t bytes) {
    (void)user;
    memcpy(to, from, bytes);
    return TC_OK;
}

enum { TC__COPY_CHUNK = 1 << 20 }; // bytes, a work item

typedef struct tc__copier {
    uint8_t *to;
    const uint8_t *from;
    size_t bytes;
} tc__copier;

static void tc__copy_part(void *arg, int64_t lo, int64_t hi, int worker) {
    const tc__copier *k = (const tc__copier *)arg;
    size_t at = (size_t)lo * TC__COPY_CHUNK, end = (size_t)hi * TC__COPY_CHUNK;
    (void)worker;
    if (end > k->bytes) end = k->bytes;
    tc__copy_streamed(k->to + at, k->from + at, end - at);
}

// By all threads, past the caches.
static tc_status tc__host_copy_on(void *user, void *to, const void *from, size_t bytes) {
    int64_t chunks = (int64_t)((bytes + TC__COPY_CHUNK - 1) / TC__COPY_CHUNK);
    tc__copier k;
    k.to = (uint8_t *)to, k.from = (const uint8_t *)from, k.bytes = bytes;
    tc__pool_run(tc__pool_of((tc_ctx *)user), tc__copy_part, &k, chunks, 1);
    return TC_OK;
}

static tc_status tc__host_fill(void *user, void *to, uint8_t value, size_t bytes) {
    (void)user;
    memset(to, value, bytes);
    return TC_OK;
}

static tc_status tc__host_sync(void *user) { return (void)user, TC_OK; }

static tc_status tc__host_mark(void *user, void **moment) {
    uint64_t *at = (uint64_t *)*moment;
    if (!at) *moment = at = TC__NEW((tc_ctx *)user, uint64_t);
    if (at) *at = tc__now_ns();
    return at ? TC_OK : TC_E_NOMEM;
}

static tc_status tc__host_elapsed(void *user, void *from, void *to, uint64_t *ns) {
    (void)user;
    *ns = *(const uint64_t *)to - *(const uint64_t *)from;
    return TC_OK;
}

static void tc__host_unmark(void *user, void *moment) {
    tc__free((tc_ctx *)user, moment, sizeof(uint64_t));
}

// ---- tuning ----

static int tc__host_tune(tc__program *p, tc__launch *l, const tc__tuning *t) {
    tc__tuning before = l->group->shape.tuning;
    tc__group_tune(l->group, p->ctx->target, t);
    p->laid_out = 0;
    if (!tc__has_blocks(l->group)) return 1;
    tc__interp *interp = tc__interp_prepare(p->ctx, l->group); // items are others
    if (!interp) return tc__group_tune(l->group, p->ctx->target, &before), 0;
    tc__interp_free(l->interp);
    l->interp = interp;
    return 1;
}

static void tc__host_use(tc__program *p, tc__launch *l, const tc__variant *w,
                         tc__compiled *code) {
    tc__kernel_fn run;
    (void)p;
    memcpy(&run, &w->run.list[0].kernel, sizeof run);
    tc__compiled_use(&l->code, code);
    tc__launch_take(l, run);
}

// Threads that take part.
static int64_t tc__host_workers(const tc__program *p, const tc__launch *l) {
    int64_t n = l->grain > 0 ? (l->items - 1) / l->grain + 1 : l->items;
    int64_t most = tc__threads(p->ctx);
    return n < most ? n : most;
}

static int tc__host_vary(tc__program *p, uint32_t i, tc__variant *w) {
    const tc__tuning tuning = w->group.shape.tuning;
    tc__launch *l = &w->own.here;
    tc__ixenv env;
    memset(&env, 0, sizeof env);
    env.sym = p->size.at;
    *l = p->launch.at[i], l->group = &w->group;
    l->args.scratch = p->scratch_at, l->args.packed = p->packed, l->keeps = 0;
    tc__group_tune(&w->group, p->ctx->target, &tuning);
    tc__launch_lay_out(p, l, &env);
    size_t need = (size_t)tc__ix_eval(&p->ix, w->group.shape.scratch, &env);
    tc__host_list(l, &w->run);
    w->share = (uint64_t)tc__host_workers(p, l);
    return !p->ix.failed && tc__program_scratch(p, tc__scratch_room(need), 0);
}

static int tc__host_spread(tc__program *p, const tc__layout *l, void *to,
                           const void *from) {
    (void)p;
    tc__copy_to_strided(l, to, from);
    return 1;
}

static const tc__runner tc__host_runner = {
    50000, 25, tc__host_kernel, tc__host_tune, tc__host_use, tc__host_vary, tc__host_spread,
};

// Device 0 of the context.
static void tc__host_open(tc_ctx *c) {
    tc_device *d = &c->here.own;
    d->name = "cpu", d->user = c;
    d->copy_in = d->copy_out = tc__host_copy, d->copy_on = tc__host_copy_on,
    d->fill = tc__host_fill;
    d->sync = tc__host_sync, d->run = tc__host_launch, d->forget = tc__host_forget;
    d->mark = tc__host_mark, d->elapsed = tc__host_elapsed, d->unmark = tc__host_unmark;
    c->here.runner = &tc__host_runner;
}
