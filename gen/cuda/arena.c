// The arena: memory for the intermediate results of plans, which run one after the other
// and share it: as much as the largest of them wants. It grows and never moves, because recorded graphs hold its addresses: a
// range of addresses as large as the device's memory is reserved once, and physical memory
// is mapped at its end. A device without virtual memory gets a new, larger chunk instead,
// and the chunks before stay for the graphs that know them.

#define TCU__ARENA_STEP ((size_t)2 << 20)

typedef struct tcu__chunk {
    tcu__address base;
    size_t size;
    tcu__physical physical; // 0 = from cuMemAlloc
} tcu__chunk;

typedef struct tcu__arena {
    tcu__device *device;
    tcu__address base; // of the range; 0 = none yet, or no virtual memory
    size_t reserved, mapped, granularity;
    tcu__chunk *chunk; // owned, in the order they were made
    size_t count, capacity;
} tcu__arena;

TCU__FN void tcu__arena_open(tcu__arena *a, tcu__device *d) {
    memset(a, 0, sizeof *a);
    a->device = d;
}

TCU__FN tcu__memory_kind tcu__arena_kind(const tcu__device *d) {
    tcu__memory_kind kind;
    memset(&kind, 0, sizeof kind);
    kind.type = TCU__MEMORY_PINNED;
    kind.location.type = TCU__ON_DEVICE;
    kind.location.id = d->handle;
    return kind;
}

TCU__FN int tcu__arena_virtual(const tcu__device *d) {
    const tcu__driver_calls *v = &d->driver.call;
    return d->facts.virtual_memory && v->cuMemGetAllocationGranularity &&
           v->cuMemAddressReserve && v->cuMemAddressFree && v->cuMemCreate &&
           v->cuMemRelease && v->cuMemMap && v->cuMemUnmap && v->cuMemSetAccess;
}

TCU__FN size_t tcu__rounded(size_t size, size_t step) {
    return (size + step - 1) / step * step;
}

// Reserves the range, once.
TCU__FN int tcu__arena_range(tcu__arena *a) {
    tcu__device *d = a->device;
    tcu__memory_kind kind = tcu__arena_kind(d);
    size_t step = 0;
    if (a->base) return 1;
    if (!TCU__DO(d, "the arena", cuMemGetAllocationGranularity, &step, &kind,
                 TCU__GRANULARITY_MINIMUM))
        return 0;
    a->granularity = tcu__rounded(TCU__ARENA_STEP, step ? step : 1);
    size_t size = tcu__rounded(d->facts.memory, a->granularity);
    if (!TCU__DO(d, "the arena's addresses", cuMemAddressReserve, &a->base, size, 0, 0, 0))
        return 0;
    a->reserved = size;
    return 1;
}

// Physical memory of the driver, once more after relief; 0 = reported.
TCU__FN int tcu__arena_physical(tcu__device *d, size_t size, tcu__physical *p) {
    tcu__memory_kind kind = tcu__arena_kind(d);
    if (TCU__DO(d, "the arena", cuMemCreate, p, size, &kind, 0)) return 1;
    if (tcu__relieved(d) && TCU__DO(d, "the arena", cuMemCreate, p, size, &kind, 0))
        return 1;
    if (d->trouble.code != TCU__E_NOMEM || d->trouble.dead) return 0;
    return tcu__memory_full(d, size, "the intermediate results of a plan");
}

// Maps c->size bytes at c->base; on failure nothing of it stays.
TCU__FN int tcu__arena_map(tcu__device *d, tcu__chunk *c) {
    tcu__access access;
    memset(&access, 0, sizeof access);
    access.location.type = TCU__ON_DEVICE;
    access.location.id = d->handle;
    access.flags = TCU__READ_WRITE;
    if (!tcu__arena_physical(d, c->size, &c->physical)) return 0;
    if (TCU__DO(d, "the arena", cuMemMap, c->base, c->size, 0, c->physical, 0)) {
        if (TCU__DO(d, "the arena", cuMemSetAccess, c->base, c->size, &access, 1)) return 1;
        TCU__UNDO(d, cuMemUnmap, c->base, c->size);
    }
    TCU__UNDO(d, cuMemRelease, c->physical);
    return 0;
}

TCU__FN int tcu__arena_room(tcu__arena *a) {
    tcu__device *d = a->device;
    tcu__chunk *at =
        (tcu__chunk *)tcu__grown(&d->host, a->chunk, a->count, &a->capacity, sizeof *at);
    if (!at) return tcu__no_memory(&d->trouble, "the arena");
    a->chunk = at;
    return 1;
}

// Extends the mapped part to `size` bytes.
TCU__FN int tcu__arena_extend(tcu__arena *a, size_t size) {
    tcu__device *d = a->device;
    tcu__chunk c;
    if (!tcu__arena_range(a)) return 0;
    if (size <= a->mapped) return 1;
    if (size > a->reserved)
        return tcu__memory_full(d, size, "the intermediate results of a plan");
    c.base = a->base + a->mapped;
    c.size = tcu__rounded(size - a->mapped, a->granularity);
    if (!tcu__arena_room(a) || !tcu__arena_map(d, &c)) return 0;
    a->chunk[a->count++] = c;
    a->mapped += c.size;
    d->held.arena += c.size;
    return 1;
}

// Without virtual memory: the last chunk if it is large enough, else a new one of at least
// twice its size, so that all of them together are less than twice the last.
TCU__FN int tcu__arena_another(tcu__arena *a, size_t size) {
    tcu__device *d = a->device;
    tcu__chunk c;
    if (a->count && a->chunk[a->count - 1].size >= size) return 1;
    if (a->mapped > size / 2) size = a->mapped * 2;
    c.size = tcu__rounded(size, TCU__ARENA_STEP);
    c.physical = 0;
    if (!tcu__arena_room(a) ||
        !tcu__memory_get(d, c.size, "the intermediate results of a plan", &c.base))
        return 0;
    a->chunk[a->count++] = c;
    a->mapped = c.size;
    d->held.arena += c.size;
    return 1;
}

// The base of an arena of at least `size` bytes: 1, or 0 = reported, and what was there is
// as before. Bases that were given earlier stay valid until tcu__arena_close.
TCU__FN int tcu__arena_reserve(tcu__arena *a, size_t size, tcu__address *base) {
    tcu__device *d = a->device;
    if (!size) size = 1;
    if (size > SIZE_MAX / 4)
        return tcu__memory_full(d, size, "the intermediate results of a plan");
    if (tcu__arena_virtual(d)) {
        if (!tcu__arena_extend(a, size)) return 0;
        *base = a->base;
        return 1;
    }
    if (!tcu__arena_another(a, size)) return 0;
    *base = a->chunk[a->count - 1].base;
    return 1;
}

// Frees all; nothing may still run on it.
TCU__FN void tcu__arena_close(tcu__arena *a) {
    tcu__device *d = a->device;
    if (!d) return;
    for (size_t i = a->count; i-- > 0;) {
        const tcu__chunk *c = &a->chunk[i];
        if (c->physical) {
            TCU__UNDO(d, cuMemUnmap, c->base, c->size);
            TCU__UNDO(d, cuMemRelease, c->physical);
        } else {
            TCU__UNDO(d, cuMemFree_v2, c->base);
        }
        d->held.arena -= c->size;
    }
    if (a->base) TCU__UNDO(d, cuMemAddressFree, a->base, a->reserved);
    TCU__FREE(&d->host, a->chunk, a->capacity);
    memset(a, 0, sizeof *a);
}
