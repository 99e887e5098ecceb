// Kernels of a device under the profiler: each is run by itself between two marks of the device, and the
// program waits for the last mark, so that times are known when the run is over. Input: a program whose
// launches are filled in. Nothing of this is on the way of a context without a profile, or of a device
// that gives no time.
//
// n kernels have n + 1 marks, so nothing lies between two of them; by the last the device's
// clock is laid on the host's.

static int tc__device_has_time(const tc_device *d) {
    return d->mark && d->elapsed && d->unmark;
}

// Room for the marks of a program; 0 = there is no memory for them, and it runs as ever.
static int tc__profile_room(tc__dispatch *r) {
    tc__error_mark held = tc__error_now(r->ctx);
    while (r->moment.count <= r->list_count)
        if (!TC__PUSH(r->ctx, r->moment, NULL)) return tc__error_restore(r->ctx, held), 0;
    return 1;
}

// Whether the program's kernels are timed now.
static int tc__profiles_device(tc__dispatch *r) {
    const tc__profile *f = r->ctx->profiling;
    return f && f->thread == tc__thread_self() && tc__device_has_time(&r->device->own) &&
           tc__profile_room(r);
}

// ---- the yardstick: a copy on the device ----

enum {
    TC__DEVICE_COPY = 64 << 20, // bytes
    TC__DEVICE_COPIES = 10
};

// Nanoseconds of the fastest copy; 0 = it cannot be told.
static uint64_t tc__device_copy_time(const tc_device *d, void *to, const void *from,
                                     void *moment[2]) {
    uint64_t best = 0, ns = 0;
    tc_status s = TC_OK;
    for (int i = 0; i < TC__DEVICE_COPIES && !s; i++) {
        s = d->mark(d->user, &moment[0]);
        if (!s) s = d->copy_on(d->user, to, from, TC__DEVICE_COPY);
        if (!s) s = d->mark(d->user, &moment[1]);
        if (!s) s = d->elapsed(d->user, moment[0], moment[1], &ns);
        if (!s && (!best || ns < best)) best = ns;
    }
    return best;
}

// Bytes per second that a copy reads and writes together; 0 = no memory to find out.
static uint64_t tc__device_speed(const tc_device *d) {
    tc_device_memory from, to;
    void *moment[2] = {NULL, NULL};
    uint64_t ns = 0;
    memset(&from, 0, sizeof from), memset(&to, 0, sizeof to);
    if (!d->take(d->user, TC__DEVICE_COPY, &from) &&
        !d->take(d->user, TC__DEVICE_COPY, &to))
        ns = tc__device_copy_time(d, to.address, from.address, moment);
    if (to.address) d->give(d->user, to);
    if (from.address) d->give(d->user, from);
    for (int i = 0; i < 2; i++)
        if (moment[i]) d->unmark(d->user, moment[i]);
    return ns ? (uint64_t)(2.0 * (double)TC__DEVICE_COPY / (double)ns * 1e9) : 0;
}

// When a device is profiled for the first time.
static void tc__device_yardstick(tc__device *d) {
    if (d->measured) return;
    d->measured = 1;
    d->peak = tc__device_speed(&d->own);
}

// ---- a part of a program ----

static int tc__profile_mark(tc__dispatch *r, uint32_t i) {
    const tc_device *d = &r->device->own;
    tc_status s = d->mark(d->user, &r->moment.at[i]);
    return !s || tc__device_failed(r->ctx, &r->device->own, "the profiler", s);
}

static int tc__profile_between(tc__dispatch *r, uint32_t from, uint32_t to, uint64_t *ns) {
    const tc_device *d = &r->device->own;
    tc_status s = d->elapsed(d->user, r->moment.at[from], r->moment.at[to], ns);
    return !s || tc__device_failed(r->ctx, &r->device->own, "the profiler", s);
}

// Places of the list that are the launches of one kernel.
static uint32_t tc__profile_count(const tc__dispatch_launch *l) {
    return l->pieces ? 1 : (uint32_t)l->grids.count;
}

// The launches of one kernel, in order, by themselves.
static int tc__profile_kernel_run(tc__dispatch *r, uint32_t at, uint32_t count) {
    const tc_device *d = &r->device->own;
    tc_device_launch list[TC__GRIDS];
    int after[TC__GRIDS];
    void *plan = NULL;
    for (uint32_t i = 0; i < count; i++) {
        list[i] = r->list[at + i];
        after[i] = (int)i - 1;
        list[i].after = &after[i], list[i].n_after = i > 0;
    }
    tc_status s = d->run(d->user, &plan, list, (int)count, TC_DEVICE_LAUNCHES, 1);
    if (plan) d->forget(d->user, plan);
    return !s || tc__device_failed(r->ctx, &r->device->own, "kernels", s);
}

// The kernel at this place took so long; one of a list of tensors is told as that of the first.
static void tc__profile_note(tc__profile *f, tc__program *p, const tc__dispatch *r,
                             uint32_t at, const tc__region *region, uint64_t start,
                             uint64_t ns) {
    uint32_t i = tc__dispatch_launch_at(r, at);
    const tc__launch *l = &p->launch.at[i];
    tc__event e;
    if (!tc__profile_row_is_known(f, p, i, region)) {
        f->dropped++;
        return;
    }
    memset(&e, 0, sizeof e);
    e.kind = TC__SPAN_KERNEL, e.compiled = 1;
    e.thread = (uint16_t)(TC__DEVICES + r->device->number);
    e.bytes = tc__launch_bytes(p, l), e.items = r->list[at].blocks;
    e.start = start, e.ns = ns;
    tc__profile_kernel(f, l, &e);
}

// Runs the copy that launch i is, waits for it, and notes it by the host's clock. 0 = reported.
static int tc__profile_copy(tc__program *p, const tc__region *region, uint32_t i,
                            int (*copy)(tc__program *p, uint32_t i)) {
    tc__profile *f = p->ctx->profiling;
    const tc__launch *l = &p->launch.at[i];
    const tc__device *to = tc__device_at(p->ctx, l->group->target.device);
    tc__event e;
    memset(&e, 0, sizeof e);
    e.start = tc__now_ns();
    int ok = copy(p, i);
    tc_status s = ok && to ? to->own.sync(to->own.user) : TC_OK;
    if (s) ok = tc__device_failed(p->ctx, &to->own, "a copy between devices", s);
    e.kind = TC__SPAN_KERNEL, e.compiled = 1, e.items = 1;
    e.ns = tc__now_ns() - e.start, e.bytes = tc__launch_bytes(p, l);
    e.thread = (uint16_t)(to ? TC__DEVICES + to->number : 0);
    int known = ok && tc__profile_row_is_known(f, p, i, region);
    if (known) tc__profile_kernel(f, l, &e);
    f->dropped += ok && !known;
    return ok;
}

// Runs a part of the program, kernel by kernel, and notes them. The device's clock is laid on the host's
// where the host sees the last kernel end. 0 = reported.
static int tc__profile_part(tc__program *p, tc__dispatch *r, const tc__region *region,
                            const tc__dispatch_part *part) {
    tc__profile *f = p->ctx->profiling;
    uint32_t n = 0, done = 0;
    uint64_t ns = 0;
    if (part->begin == part->end) return 1;
    tc__device_yardstick(r->device);
    if (!tc__profile_mark(r, 0)) return 0;
    for (uint32_t at = part->begin, count; at < part->end; at += count) {
        count = tc__profile_count(&r->launch[tc__dispatch_launch_at(r, at)]);
        if (!tc__profile_kernel_run(r, at, count) || !tc__profile_mark(r, ++n)) return 0;
    }
    if (!tc__profile_between(r, 0, n, &ns)) return 0;
    uint64_t begin = tc__now_ns() - ns;
    if (begin < f->begun) begin = f->begun;
    for (uint32_t at = part->begin; at < part->end;
         at += tc__profile_count(&r->launch[tc__dispatch_launch_at(r, at)])) {
        if (!tc__profile_between(r, done, done + 1, &ns)) return 0;
        tc__profile_note(f, p, r, at, region, begin, ns);
        begin += ns, done++;
    }
    return 1;
}
