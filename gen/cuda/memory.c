// Memory for tensors: blocks of size classes, kept when they are given back and used again
// for the same stream. In the order of one stream the next user of a block runs after the
// last, so nothing has to be waited for. When the device is full, all that is kept goes
// back to the driver, and the call is made once more.

#define TCU__SMALL_STEP ((size_t)512)
#define TCU__LARGE_STEP ((size_t)2 << 20)
#define TCU__SMALL_MOST ((size_t)1 << 20)

enum { TCU__CHAINS = 128 }; // of cached blocks, by class and stream

typedef struct tcu__block {
    struct tcu__block *next, *before; // in its chain, or of all that are in use
    tcu__address address;
    size_t size; // of its class
    tcu__stream stream;
} tcu__block;

typedef struct tcu__pool {
    tcu__device *device;
    tcu__block *cached[TCU__CHAINS];
    tcu__block *live;
} tcu__pool;

// Everything that is held, for errors and reports.
typedef struct tcu__memory {
    size_t live, cached, peak; // tensors: in use, kept for the next, most in use so far
    size_t arena, pinned;      // of plans, on the device; for copies, on the host
    size_t unused, total;      // of the device, all processes
} tcu__memory;

// What the device holds; 0 = reported.
TCU__FN int tcu__memory_ask(tcu__device *d, tcu__memory *m) {
    m->live = d->held.live;
    m->cached = d->held.cached;
    m->peak = d->held.peak;
    m->arena = d->held.arena;
    m->pinned = d->held.pinned;
    m->unused = m->total = 0;
    return TCU__DO(d, "the memory in use", cuMemGetInfo_v2, &m->unused, &m->total);
}

TCU__FN void tcu__memory_put(const tcu__memory *m, char *text, size_t room) {
    tcu__size_text a, b, c;
    tcu__put(text, room, "tensors hold %s (at most %s so far) and %s are kept for the next",
             tcu__bytes(m->live, &a), tcu__bytes(m->peak, &b), tcu__bytes(m->cached, &c));
    tcu__put(text, room, ", plans hold %s", tcu__bytes(m->arena, &a));
    if (m->pinned)
        tcu__put(text, room, ", copies %s of the host", tcu__bytes(m->pinned, &a));
    if (m->total)
        tcu__put(text, room, ", %s of the device's %s are free", tcu__bytes(m->unused, &a),
                 tcu__bytes(m->total, &b));
}

// The error for a device that is full. Its own question for the memory may fail: then that
// part is left out.
TCU__FN int tcu__memory_full(tcu__device *d, size_t size, const char *what) {
    tcu__memory m;
    tcu__size_text a;
    char text[TCU__TEXT] = "";
    memset(&m, 0, sizeof m);
    tcu__trouble_clear(&d->trouble);
    tcu__memory_ask(d, &m);
    tcu__trouble_clear(&d->trouble);
    tcu__memory_put(&m, text, sizeof text);
    d->trouble.code = TCU__E_NOMEM;
    return tcu__fail(
        &d->trouble, TC_E_NOMEM,
        "device %d is full: %s wanted for %s; %s. Free tensors, or use smaller "
        "sizes",
        d->ordinal, tcu__bytes(size, &a), what, text);
}

// After a call that failed: 1 = the device was full, something was given back, and the call
// may be made again, its failure forgotten.
TCU__FN int tcu__relieved(tcu__device *d) {
    if (d->trouble.code != TCU__E_NOMEM || d->trouble.dead || !d->relieve) return 0;
    tcu__trouble kept = d->trouble;
    tcu__trouble_clear(&d->trouble);
    if (d->relieve(d->relieve_user) && !d->trouble.dead) return 1;
    d->trouble.status = kept.status;
    d->trouble.code = kept.code;
    memcpy(d->trouble.text, kept.text, sizeof kept.text);
    return 0;
}

// Memory of the driver, once more after relief; 0 = reported. Nothing may be in trouble
// yet.
TCU__FN int tcu__memory_get(tcu__device *d, size_t size, const char *what,
                            tcu__address *address) {
    if (TCU__DO(d, what, cuMemAlloc_v2, address, size)) return 1;
    if (tcu__relieved(d) && TCU__DO(d, what, cuMemAlloc_v2, address, size)) return 1;
    if (d->trouble.code != TCU__E_NOMEM || d->trouble.dead) return 0;
    return tcu__memory_full(d, size, what);
}

// ---- the pool

// Bytes of the class that a size falls into; 0 = too large for a size_t.
TCU__FN size_t tcu__class_of(size_t size) {
    size_t step = size <= TCU__SMALL_MOST ? TCU__SMALL_STEP : TCU__LARGE_STEP;
    if (size > SIZE_MAX - step) return 0;
    return size ? (size + step - 1) / step * step : step;
}

TCU__FN tcu__block **tcu__chain_of(tcu__pool *p, size_t size, tcu__stream stream) {
    uint64_t h = (size / TCU__SMALL_STEP + (uintptr_t)stream) * 0x9e3779b97f4a7c15u;
    return &p->cached[(h >> 32) % TCU__CHAINS];
}

TCU__FN void tcu__block_link(tcu__block **head, tcu__block *b) {
    b->before = NULL;
    b->next = *head;
    if (*head) (*head)->before = b;
    *head = b;
}

TCU__FN void tcu__block_unlink(tcu__block **head, tcu__block *b) {
    if (b->before)
        b->before->next = b->next;
    else
        *head = b->next;
    if (b->next) b->next->before = b->before;
}

// Gives all cached blocks back to the driver, which waits for what still uses them: bytes.
TCU__FN size_t tcu__pool_trim(tcu__pool *p) {
    tcu__device *d = p->device;
    size_t had = d->held.cached;
    for (size_t i = 0; i < TCU__CHAINS; i++) {
        while (p->cached[i]) {
            tcu__block *b = p->cached[i];
            p->cached[i] = b->next;
            TCU__UNDO(d, cuMemFree_v2, b->address);
            TCU__FREE(&d->host, b, 1);
        }
    }
    d->held.cached = 0;
    return had;
}

TCU__FN size_t tcu__pool_relieve(void *user) { return tcu__pool_trim((tcu__pool *)user); }

TCU__FN void tcu__pool_open(tcu__pool *p, tcu__device *d) {
    memset(p, 0, sizeof *p);
    p->device = d;
    d->relieve = tcu__pool_relieve;
    d->relieve_user = p;
}

TCU__FN tcu__block *tcu__pool_cached(tcu__pool *p, size_t size, tcu__stream stream) {
    tcu__block **head = tcu__chain_of(p, size, stream);
    for (tcu__block *b = *head; b; b = b->next) {
        if (b->size != size || b->stream != stream) continue;
        tcu__block_unlink(head, b);
        p->device->held.cached -= size;
        return b;
    }
    return NULL;
}

TCU__FN tcu__block *tcu__pool_new(tcu__pool *p, size_t size, tcu__stream stream) {
    tcu__device *d = p->device;
    tcu__block *b = TCU__NEW(&d->host, tcu__block);
    if (!b) {
        tcu__no_memory(&d->trouble, "a tensor's block");
        return NULL;
    }
    b->size = size;
    b->stream = stream;
    if (tcu__memory_get(d, size, "a tensor", &b->address)) return b;
    TCU__FREE(&d->host, b, 1);
    return NULL;
}

// A block of at least `size` bytes for work on the stream; its address is a multiple of
// 256. What it held before is still in it. NULL = reported.
TCU__FN tcu__block *tcu__pool_take(tcu__pool *p, size_t size, tcu__stream stream) {
    tcu__device *d = p->device;
    size_t want = tcu__class_of(size);
    if (!want) {
        tcu__fail(&d->trouble, TC_E_TOO_BIG, "a tensor of %zu bytes does not fit size_t",
                  size);
        return NULL;
    }
    tcu__block *b = tcu__pool_cached(p, want, stream);
    if (!b) b = tcu__pool_new(p, want, stream);
    if (!b) return NULL;
    tcu__block_link(&p->live, b);
    d->held.live += want;
    if (d->held.live > d->held.peak) d->held.peak = d->held.live;
    return b;
}

// Gives a block back: for the next user on its stream. Work of other streams on it must
// have been waited for, or ordered before its stream (tcu__stream_after).
TCU__FN void tcu__pool_give(tcu__pool *p, tcu__block *b) {
    if (!b) return;
    tcu__block_unlink(&p->live, b);
    p->device->held.live -= b->size;
    p->device->held.cached += b->size;
    tcu__block_link(tcu__chain_of(p, b->size, b->stream), b);
}

// Frees all blocks, those in use too.
TCU__FN void tcu__pool_close(tcu__pool *p) {
    if (!p->device) return;
    while (p->live) tcu__pool_give(p, p->live);
    tcu__pool_trim(p);
    p->device->relieve = NULL;
    memset(p, 0, sizeof *p);
}
