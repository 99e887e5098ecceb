// Memory of the user's that kernels of a device cannot take as it is. They read and write 16 bytes at
// once from addresses that are multiples of them, and a view may begin at any element: it is copied to
// memory that does for the time of a run. What is written of a part of it goes back by a kernel of its own, which
// leaves what lies between; that kernel also stores what no kernel could store at the place of a view.
//
// A number of the host goes along: a tensor without dimensions decides no device and fits
// any, with the layout it has in guards; a program on a device copies it at each run, so it
// is never written there.

// So has a number of the host that is computed with there (tc__is_number).

// ---- aligned inputs ----

// What the addresses of an input reach, in bytes from its first element.
typedef struct tc__extent {
    int64_t low, high;
    int adjacent; // some elements are neighbours, so that several may be read at once
} tc__extent;

static tc__extent tc__extent_of(const tc__program *p, uint32_t source) {
    tc__extent r;
    tc__ixenv env;
    const tc__shape *s = p->inputs[source];
    memset(&r, 0, sizeof r), memset(&env, 0, sizeof env);
    env.sym = p->size.at;
    for (int i = 0; i < s->rank; i++) {
        int64_t stride = tc__ix_eval(&p->ix, s->strides[i], &env);
        int64_t last = tc__ix_eval(&p->ix, s->dims[i], &env) - 1;
        if (last < 0) return memset(&r, 0, sizeof r), r; // there is nothing to read
        if (last > 0 && stride == 1) r.adjacent = 1;
        if (last > 0 && stride < 0) r.low += last * stride;
        if (last > 0 && stride > 0) r.high += last * stride;
    }
    int64_t bytes = (int64_t)tc__dtype(s->dtype)->bytes;
    r.low *= bytes, r.high = (r.high + 1) * bytes;
    return r;
}

// The external that an address is of, UINT32_MAX = memory of the program's, which is aligned.
static uint32_t tc__address_external(const tc__program *p, const tc__address *a) {
    uint32_t source = a->source;
    if (a->output)
        source =
            p->output.at[a->source].direct ? p->output.at[a->source].external : UINT32_MAX;
    return source < p->externals ? source : UINT32_MAX;
}

// Bytes that a part of an external lies behind its first element.
static int64_t tc__address_part(const tc__program *p, const tc__address *a) {
    const tc__output *o = a->output ? &p->output.at[a->source] : NULL;
    if (!o || !o->direct) return 0;
    return o->offset * (int64_t)tc__dtype(p->inputs[o->external]->dtype)->bytes;
}

// Whether all that it is of is written, as it lies: then nothing has to be there before.
static int tc__address_is_written(const tc__program *p, const tc__address *a) {
    return a->output && !tc__output_is_part(p, &p->output.at[a->source]);
}

// Whether it is a number of the host, which has to be copied to the device.
static int tc__address_is_number(const tc__program *p, const tc__address *a) {
    uint32_t external = tc__address_external(p, a);
    return external != UINT32_MAX && !p->inputs[external]->device;
}

static int tc__bounce_failed(tc__dispatch *m, tc_status s) {
    return !s ||
           tc__device_failed(m->ctx, &m->device->own, "a view that is not aligned", s);
}

// Takes memory for what address i is of, and copies what kernels read of it.
static int tc__bounce_add(tc__program *p, tc__dispatch *m, uint32_t i,
                          const tc__extent *r) {
    const tc_device *d = &m->device->own;
    tc__bounce b;
    size_t before = tc__device_rounded((size_t)-r->low);
    memset(&b, 0, sizeof b);
    if (!TC__VEC_RESERVE(p->ctx, m->bounce, m->bounce.count + 1)) return 0;
    const tc__address *a = &p->address.at[i];
    int number = tc__address_is_number(p, a);
    b.address = i, b.bytes = (size_t)(r->high - r->low), b.low = r->low;
    b.from = (char *)*a->at - tc__address_part(p, a);
    tc_status s = d->take(d->user, before + (size_t)r->high, &b.memory);
    if (s) return tc__bounce_failed(m, s);
    b.to = (char *)b.memory.address + before;
    m->bounce.at[m->bounce.count++] = b;
    if (tc__address_is_written(p, a)) return 1;
    s = number ? d->copy_in(d->user, b.to, b.from, b.bytes)
               : d->copy_on(d->user, b.to + b.low, b.from + b.low, b.bytes);
    return tc__bounce_failed(m, s);
}

// The place that address i has for this run: of an earlier address, if that is of the same.
static int tc__bounce_find(tc__program *p, const tc__dispatch *m, uint32_t i,
                           uint32_t external) {
    const tc__address *a = &p->address.at[i];
    for (size_t k = 0; k < m->bounce.count; k++) {
        const tc__bounce *b = &m->bounce.at[k];
        const tc__address *o = &p->address.at[b->address];
        if (tc__address_is_written(p, o) == tc__address_is_written(p, a) &&
            tc__address_external(p, o) == external)
            return *a->at = b->to + tc__address_part(p, a), 1;
    }
    return 0;
}

// Before launches of device m are filled in: their addresses are such that kernels can take them. 0 = reported.
static int tc__bounce_in(tc__program *p, tc__dispatch *m) {
    for (uint32_t i = 0; i < p->address.count; i++) {
        const tc__address *a = &p->address.at[i];
        if (a->on != m) continue;
        int number = m->numbers && tc__address_is_number(p, a);
        uintptr_t from = (uintptr_t)*a->at - (uintptr_t)tc__address_part(p, a);
        if (!number && from % TC__DEVICE_ACCESS == 0) continue;
        uint32_t external = tc__address_external(p, a);
        if (external == UINT32_MAX || tc__bounce_find(p, m, i, external)) continue;
        tc__extent r = tc__extent_of(p, external);
        if (!r.adjacent && !number) continue;
        if (!tc__bounce_add(p, m, i, &r)) return 0;
        *a->at = m->bounce.at[m->bounce.count - 1].to + tc__address_part(p, a);
    }
    return 1;
}

// The launches have their arguments: the program has the addresses that it was given.
static void tc__bounce_restore(tc__program *p, const tc__dispatch *m) {
    for (uint32_t i = 0; m->bounce.count && i < p->address.count; i++) {
        const tc__address *a = &p->address.at[i];
        int64_t part = tc__address_part(p, a);
        for (size_t k = 0; k < m->bounce.count; k++)
            if (a->on == m && (char *)*a->at - part == m->bounce.at[k].to)
                *a->at = m->bounce.at[k].from + part;
    }
}

// The launches of a device have all that they need of this run.
static int tc__dispatch_begin(tc__program *p, tc__dispatch *r, const tc__visit *v) {
    int ok = tc__dispatch_tell(r, tc__visit_seed(p->ctx, v), v->draw, p->arg_now.at) &&
             tc__bounce_in(p, r);
    if (ok) tc__dispatch_fill_all(r);
    tc__bounce_restore(p, r);
    return ok;
}

// ---- strided results ----

enum {
    TC__SPREAD_KERNELS = 4,
    TC__SPREAD_THREADS = 256,
    TC__SPREAD_WAVES = 16 // blocks of a multiprocessor
};

typedef struct tc__spread_args {
    void *to;
    const void *from;
    int64_t count, rank, dims[TC_MAX_RANK];
    int64_t to_strides[TC_MAX_RANK], from_strides[TC_MAX_RANK];
} tc__spread_args;

#if TC__JIT

// The kernels of a text, by size of an element.
static const int tc__spread_sizes[TC__SPREAD_KERNELS] = {1, 2, 4, 8};

// The order of a text that is not printed from a group.
static int tc__spread_order(tc__job *j, const tc__prelude_text *text) {
    tc__order o;
    memset(&o, 0, sizeof o);
    o.whole = o.alone = 1, o.kernels = TC__SPREAD_KERNELS;
    for (int i = 0; i < TC__SPREAD_KERNELS; i++) o.threads[i] = TC__SPREAD_THREADS;
    tc__text_init(&o.text, j->ctx);
    tc__put_prelude_text(&o.text, text);
    if (o.text.failed) return tc__text_free(&o.text), 0;
    tc__order_name(&o, 0, 0, &o.text);
    if (!TC__PUSH(j->ctx, j->order, o)) return tc__text_free(&o.text), 0;
    (void)tc__order_known(j->library, &j->order.at[0]);
    return 1;
}

// Gets the kernels from process, disk or compiler; 0 = reported.
static int tc__spread_compile(tc__dispatch *r) {
    const tc__language *language = r->device->own.language;
    if (r->spread) return 1;
    tc__desk *k = tc__device_desk(r->ctx, r->device);
    tc__job *j = k ? tc__job_new(k) : NULL;
    int ok = j && tc__spread_order(j, &language->spread) &&
             (j->order.at[0].known || tc__job_complete(j, k, 1, "strided views"));
    if (ok) tc__compiled_use(&r->spread, j->order.at[0].code);
    if (j) tc__job_free(j);
    return ok;
}

// The kernel for elements of so many bytes; NULL = reported.
static void *tc__spread_kernel(tc__dispatch *r, size_t bytes) {
    int size = 0;
    while (size < TC__SPREAD_KERNELS - 1 && (size_t)tc__spread_sizes[size] != bytes) size++;
    return tc__spread_compile(r) ? r->spread->kernel[size] : NULL;
}

#else

static void *tc__spread_kernel(tc__dispatch *r, size_t bytes) {
    (void)bytes;
    return tc__fail(r->ctx, TC_E_UNSUPPORTED, "this build compiles nothing"), (void *)NULL;
}

#endif

// to, strided by l = from, by those strides.
static int tc__dispatch_move(tc__program *p, const tc__layout *l, void *to,
                             const void *from, const int64_t *strides) {
    tc__dispatch *r = tc__program_on(p, l->device);
    const tc_device *d = &r->device->own;
    const uint32_t offset = 0;
    tc__spread_args a;
    tc_device_launch launch;
    void *plan = NULL;
    memset(&a, 0, sizeof a), memset(&launch, 0, sizeof launch);
    a.to = to, a.from = from, a.count = l->numel, a.rank = l->rank;
    memcpy(a.dims, l->dims, sizeof a.dims);
    memcpy(a.to_strides, l->strides, sizeof a.to_strides);
    memcpy(a.from_strides, strides, sizeof a.from_strides);
    int64_t blocks = (l->numel - 1) / TC__SPREAD_THREADS + 1;
    int64_t most = (int64_t)r->device->own.processors * TC__SPREAD_WAVES;
    launch.kernel = tc__spread_kernel(r, tc__dtype(l->dtype)->bytes);
    if (!launch.kernel) return 0;
    launch.blocks = (uint32_t)(blocks < most ? blocks : most);
    launch.threads = TC__SPREAD_THREADS;
    launch.argument = &a, launch.argument_bytes = sizeof a;
    launch.offset = &offset, launch.n_argument = 1;
    tc_status s = d->run(d->user, &plan, &launch, 1, TC_DEVICE_LAUNCHES, 1);
    if (plan) d->forget(d->user, plan);
    return !s || tc__device_failed(r->ctx, &r->device->own, "a write to a strided view", s);
}

static int tc__dispatch_spread(tc__program *p, const tc__layout *l, void *to,
                               const void *from) {
    int64_t strides[TC_MAX_RANK] = {0};
    tc__row_major(l->rank, l->dims, strides);
    return tc__dispatch_move(p, l, to, from, strides);
}

// ---- behind the launches ----

// What they wrote of parts of an external goes there.
static int tc__bounce_parts(tc__program *p, const tc__dispatch *m, const tc__bounce *b) {
    uint32_t external = tc__address_external(p, &p->address.at[b->address]);
    int ok = 1;
    for (size_t i = 0; ok && i < p->output.count; i++) {
        const tc__output *o = &p->output.at[i];
        if (!o->direct || o->external != external || !tc__output_is_part(p, o)) continue;
        const tc__layout *l = tc__layout_at(p->ctx, o->layout);
        int64_t at = o->offset * (int64_t)tc__dtype(l->dtype)->bytes;
        if (l->numel && l->device == m->device->number)
            ok = tc__dispatch_move(p, l, b->from + at, b->to + at, l->strides);
    }
    return ok;
}

// What they wrote goes where it belongs; memory goes back, which the order of the device's work allows. 0 = reported.
static int tc__bounce_out(tc__program *p, tc__dispatch *m, int ok) {
    const tc_device *d = &m->device->own;
    while (m->bounce.count) {
        tc__bounce *b = &m->bounce.at[--m->bounce.count];
        if (ok && tc__address_is_written(p, &p->address.at[b->address]))
            ok = tc__bounce_failed(m, d->copy_on(d->user, b->from, b->to, b->bytes));
        else if (ok)
            ok = tc__bounce_parts(p, m, b);
        tc__dispatch_give(m, &b->memory);
    }
    return ok;
}

static const tc__runner tc__dispatch_runner = {
    200000,
    7,
    tc__dispatch_kernel,
    tc__dispatch_tune,
    tc__dispatch_use,
    tc__dispatch_vary,
    tc__dispatch_spread,
};
