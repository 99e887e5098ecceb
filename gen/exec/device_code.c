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

#endif // TC__JIT
