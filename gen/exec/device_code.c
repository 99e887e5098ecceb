// Devices as makers of code (tc__maker of exec/library.c): their compilers, modules. There is no interpreter
// to fall back to: what does not compile is an error.
//
// So programs are compiled at once whatever the stance, those of eager ops too (then they
// are on disk).

#if TC__JIT

static int tc__device_is_ready(tc__desk *k) { return (void)k, 1; }

static const char *tc__device_identity(tc__desk *k) { return k->library->device->identity; }

static void tc__device_machine(const tc__desk *k, tc__text *out, int threads) {
    (void)threads;
    tc__put(out, "%u processors", (unsigned)k->library->device->processors);
}

static const tc__dialect *tc__device_dialect(const tc__library *b) {
    return b->device->language->dialect;
}

// ---- units ----

// A product takes the compiler long, and a user's op may not compile: they are alone.
static void tc__device_describe(tc_ctx *c, tc__order *o) {
    (void)c;
    o->alone = o->group->shape.kind == TC__CONTRACTION || tc__is_custom(o->group);
}

// As many units as there are processors to compile them, of at most a dozen kernels. A compile of its own
// costs as much as half a dozen small kernels more.
static uint32_t tc__device_room(const tc__job *j) {
    int threads = tc__threads(j->ctx) > 0 ? tc__threads(j->ctx) : 1, open = 0;
    for (size_t i = 0; i < j->order.count; i++)
        open += !j->order.at[i].settled && !j->order.at[i].alone;
    int room = (open + threads - 1) / threads;
    return (uint32_t)(room < TC__UNIT_ROOM ? room : (int)TC__UNIT_ROOM);
}

static int tc__device_prelude(tc__job *j, const tc__unit *u, tc__text *out) {
    const tc__group *groups[TC__UNIT_ROOM];
    for (uint32_t i = 0; i < u->count; i++) groups[i] = j->order.at[u->order[i]].group;
    return j->library->device->language->prelude(out, groups, (int)u->count);
}

static tc_status tc__device_build(tc__desk *k, tc__job *j, tc_device_text *text, int n) {
    const tc_device *d = k->library->device;
    (void)j;
    return d->build(d->user, text, n);
}

static void tc__device_drop(tc__desk *k, tc_device_text *text, int n) {
    const tc_device *d = k->library->device;
    d->drop(d->user, text, n);
}

// Portable code, for all devices of its kind.
static const char *tc__device_other(const tc__desk *k, const tc_device_text *text,
                                    tc__blob *code) {
    code->at = (uint8_t *)text->portable, code->size = text->portable_bytes;
    return text->portable ? k->library->device->portable : NULL;
}

// ---- trouble ----

static void tc__device_unloaded(tc__desk *k, tc__job *j, tc__unit *u, tc_status s) {
    (void)u;
    j->failed = 1;
    (void)tc__device_failed(k->ctx, k->library->device, "code", s);
}

// The kernels of a unit as portable code that a device of the kind has left; 0 = some is not there.
static int tc__unit_load_portable(tc__desk *k, tc__job *j, const tc__unit *u) {
    const char *identity = k->library->device->portable;
    int all = identity != NULL;
    for (uint32_t i = 0; all && i < u->count; i++) {
        tc__order *o = &j->order.at[u->order[i]];
        all = tc__order_load(k, j, o, identity);
        if (all) tc__log(k->ctx, TC__LOG_CACHE, "%s: made on another device", o->symbol);
    }
    return all;
}

static void tc__device_unbuilt(tc__desk *k, tc__job *j, tc__unit *u, tc_status s) {
    tc__error_mark before = tc__error_now(k->ctx);
    (void)tc__device_failed(k->ctx, k->library->device, "kernels could not be compiled", s);
    if (tc__unit_load_portable(k, j, u))
        tc__error_restore(k->ctx, before);
    else
        j->failed = 1;
}

static const tc__maker tc__device_maker = {
    tc__device_dialect,
    SIZE_MAX,
    0,
    tc__device_is_ready,
    tc__device_is_ready,
    tc__device_identity,
    tc__device_machine,
    tc__device_describe,
    tc__device_room,
    tc__device_prelude,
    tc__device_build,
    tc__device_drop,
    tc__device_unbuilt,
    tc__device_unloaded,
    tc__device_other,
};

// ---- its library ----

// What is wanted of device d: with the cache of the host's desk, and nothing to be closed. 0 = reported.
static int tc__device_desk(tc__desk *k, tc_ctx *c, tc__device *d) {
    tc__desk *host = &c->kernels->desk;
    if (!d->library) d->library = tc__library_new(c, &d->own);
    if (host->library->disk && !host->cache)
        host->cache = tc__cache_open(c, host->library->cache_dir);
    memset(k, 0, sizeof *k);
    k->ctx = c, k->library = (tc__library *)d->library, k->cache = host->cache;
    k->maker = &tc__device_maker;
    return d->library != NULL;
}

static void tc__device_code_free(tc__device *d) {
    if (d->library) tc__library_release((tc__library *)d->library);
    d->library = NULL;
}

// Gives the orders of a job their code, from process, disk or compiler; 0 = reported.
static int tc__job_complete(tc__job *j, tc__desk *k, size_t kernels, const char *name) {
    int ok = 1;
    if (tc__job_look_up(j, k, kernels, name, k->maker->ready)) {
        ok = tc__job_units(j);
        if (ok) tc__job_build(k, j);
    }
    if (ok) tc__job_count(j);
    return ok && !j->failed;
}

// ---- ops of the user's ----

// The code of a user's op, before that of others: 1 = it is there, 0 = it does not compile, -1 =
// reported.
static int tc__dispatch_custom_try(tc__dispatch *r, tc__dispatch_launch *l) {
    tc__desk k;
    tc_ctx *c = r->ctx;
    tc__error_mark before = tc__error_now(c);
    tc_status outer = tc__unit_begin(c);
    tc__job *j = tc__device_desk(&k, c, r->device) ? tc__job_new(&k) : NULL;
    int ok = j && tc__job_order(j, l->group, &l->grids, &l->order) &&
             tc__job_complete(j, &k, 1, "custom op");
    if (j) tc__job_free(j);
    tc_status status = tc__unit_end(c, outer, ok);
    if (ok || status == TC_E_NOMEM) return ok ? 1 : -1;
    tc__error_restore(c, before);
    return 0;
}

// Its cuda_source does not compile: the host computes it from now on, in all programs. 0 = out of memory.
static int tc__dispatch_custom_failed(tc__dispatch *r, tc__custom *o) {
    const tc_device *d = &r->device->own;
    const char *why = d->why(d->user);
    o->trouble = tc__string_copy(r->ctx, why && *why ? why : "the compiler says nothing");
    if (o->trouble && (o->op.run || o->op.c_source))
        tc__warn(r->ctx,
                 "custom op \"%s\": its cuda_source does not compile for %s, so the host "
                 "computes it, with copies there and back: %s",
                 o->op.name, d->name, o->trouble);
    return o->trouble != NULL;
}

// Compiles the user's ops. 1 = done, 0 = some are the host's from now on: the program's launches are
// others, -1 = reported.
static int tc__dispatch_customs(tc__dispatch *r) {
    int same = 1;
    for (uint32_t i = 0; i < r->launches; i++) {
        tc__dispatch_launch *l = &r->launch[i];
        if (l->host || !tc__is_custom(l->group)) continue;
        int64_t number = l->group->body.node.at[0]->attr[TC__CALL_WORD];
        tc__custom *o = tc__values_of(r->ctx)->customs->at.at[number];
        int code = o->trouble ? 0 : tc__dispatch_custom_try(r, l);
        if (code < 0 || (!code && !o->trouble && !tc__dispatch_custom_failed(r, o)))
            return -1;
        same &= code;
    }
    return same;
}

// The program's kernels as a job: its launches, and those of lists of tensors. 0 = reported.
static int tc__dispatch_order(tc__dispatch *r, tc__job *j, const tc__graph *graph) {
    uint64_t start = tc__now_ns();
    uint32_t shown = 0;
    int ok = 1;
    for (uint32_t i = 0; ok && i < tc__dispatch_most(r); i++) {
        tc__dispatch_launch *l = tc__dispatch_wanted(r, i);
        if (l) ok = tc__job_order(j, l->group, &l->grids, &l->order);
    }
    r->ctx->stats.emit_ns += tc__now_ns() - start;
    for (uint32_t i = 0; ok && i < tc__dispatch_most(r); i++) {
        const tc__dispatch_launch *l = tc__dispatch_wanted(r, i);
        if (l && tc__log_on(j->ctx, TC__LOG_OUTPUT_CODE))
            tc__job_show(j, graph, l->group, i, l->order, &shown);
    }
    return ok;
}

static void tc__dispatch_take(tc__dispatch *r, const tc__job *j) {
    tc__dispatch_forget_plans(r); // of other kernels
    for (uint32_t i = 0; i < tc__dispatch_most(r); i++) {
        tc__dispatch_launch *l = tc__dispatch_wanted(r, i);
        if (!l) continue;
        tc__compiled_use(&l->code, j->order.at[l->order].code);
        memcpy(l->kernel, l->code->kernel, sizeof l->kernel);
        for (int g = 0; i < r->launches && g < l->grids.count; g++)
            r->list[l->first + (uint32_t)g].kernel = l->kernel[g];
    }
    for (size_t i = 0; i < r->listed.count; i++)
        r->list[r->listed.at[i].at].kernel =
            tc__turn_launch(r, &r->order.step.at[r->listed.at[i].step])->kernel[0];
}

// Before a program is compiled: what is known of its kernels by measuring is taken. 0 = reported.
static int tc__device_recall(tc__program *p) {
    tc__desk k;
    if (!tc__device_desk(&k, p->ctx, p->dispatch->device)) return 0;
    tc__program_recall(p, &k, k.maker->ready);
    return 1;
}

// Gives the program's launches their code. 0 = reported.
static int tc__dispatch_compile(tc__dispatch *r, const char *name, const tc__graph *graph) {
    tc__desk k;
    tc__job *j = tc__device_desk(&k, r->ctx, r->device) ? tc__job_new(&k) : NULL;
    r->ready =
        j && tc__dispatch_order(r, j, graph) && tc__job_complete(j, &k, r->launches, name);
    if (r->ready) tc__dispatch_take(r, j);
    if (j) tc__job_free(j);
    return r->ready;
}

#else

static void tc__device_code_free(tc__device *d) { (void)d; }

static int tc__dispatch_customs(tc__dispatch *r) { return (void)r, 1; }

static int tc__device_recall(tc__program *p) { return (void)p, 1; }

static int tc__dispatch_compile(tc__dispatch *r, const char *name, const tc__graph *graph) {
    (void)name, (void)graph;
    return tc__fail(r->ctx, TC_E_UNSUPPORTED, "this build compiles nothing");
}

#endif
