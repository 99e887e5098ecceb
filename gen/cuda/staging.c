// Copies between the device and memory of the host that is not pinned, which is all that
// users have. They go through a ring of two pinned slots: while the device copies one, the
// host fills or empties the other. A slot takes many small copies before it is waited for.

#define TCU__SLOT_BYTES ((size_t)32 << 20)

enum { TCU__SLOTS = 2 };

typedef struct tcu__slot {
    unsigned char *memory; // pinned; NULL = not yet
    size_t used;           // bytes that copies may still read
    tcu__stream stream;    // of those copies
    tcu__event done;       // of all of them, once they are no more added to
} tcu__slot;

typedef struct tcu__staging {
    tcu__device *device;
    tcu__slot slot[TCU__SLOTS];
    int current;
} tcu__staging;

TCU__FN void tcu__staging_open(tcu__staging *s, tcu__device *d) {
    memset(s, 0, sizeof *s);
    s->device = d;
}

// Memory and event of a slot, on its first use.
TCU__FN int tcu__slot_make(tcu__device *d, tcu__slot *t) {
    void *memory = NULL;
    if (!t->done) t->done = tcu__event_take(d);
    if (!t->done) return 0;
    if (t->memory) return 1;
    if (!TCU__DO(d, "memory of the host for copies", cuMemHostAlloc, &memory,
                 TCU__SLOT_BYTES, 0))
        return 0;
    t->memory = (unsigned char *)memory;
    d->held.pinned += TCU__SLOT_BYTES;
    return 1;
}

// The slot after the current one, empty: what it held has been copied. The event of the
// slot that is left covers all its copies.
TCU__FN tcu__slot *tcu__slot_next(tcu__staging *s) {
    tcu__device *d = s->device;
    tcu__slot *left = &s->slot[s->current];
    tcu__slot *t = &s->slot[(s->current + 1) % TCU__SLOTS];
    if (left->used && !TCU__DO(d, "a copy", cuEventRecord, left->done, left->stream))
        return NULL;
    if (!tcu__slot_make(d, t)) return NULL;
    if (t->used && !tcu__event_wait(d, t->done)) return NULL;
    t->used = 0;
    s->current = (s->current + 1) % TCU__SLOTS;
    return t;
}

// A slot with room for n bytes of a copy on the stream.
TCU__FN tcu__slot *tcu__slot_for(tcu__staging *s, size_t n, tcu__stream stream) {
    tcu__slot *t = &s->slot[s->current];
    int fits = t->memory && n <= TCU__SLOT_BYTES - t->used;
    if (!fits || (t->used && t->stream != stream)) t = tcu__slot_next(s);
    if (t) t->stream = stream;
    return t;
}

// Copies to the device, in the order of the stream. When it returns the source may change:
// 1, or 0 = reported.
TCU__FN int tcu__copy_in(tcu__staging *s, tcu__address to, const void *from, size_t size,
                         tcu__stream stream) {
    const unsigned char *source = (const unsigned char *)from;
    for (size_t at = 0; at < size;) {
        size_t n = size - at < TCU__SLOT_BYTES ? size - at : TCU__SLOT_BYTES;
        tcu__slot *t = tcu__slot_for(s, n, stream);
        if (!t) return 0;
        unsigned char *pinned = t->memory + t->used;
        memcpy(pinned, source + at, n);
        // Whether it is copied or not, others stay off these bytes; slots stay aligned.
        t->used += (n + 63) / 64 * 64;
        if (!TCU__DO(s->device, "a copy to the device", cuMemcpyHtoDAsync_v2, to + at,
                     pinned, n, stream))
            return 0;
        at += n;
    }
    return 1;
}

// A piece on its way out.
typedef struct tcu__piece {
    tcu__slot *slot; // NULL = none
    unsigned char *to;
    size_t size;
} tcu__piece;

TCU__FN int tcu__piece_arrive(tcu__device *d, const tcu__piece *p) {
    if (!p->slot) return 1;
    if (!tcu__event_wait(d, p->slot->done)) return 0;
    memcpy(p->to, p->slot->memory, p->size);
    return 1;
}

// Copies from the device what the stream has computed by then. When it returns the bytes
// are there: 1, or 0 = reported.
TCU__FN int tcu__copy_out(tcu__staging *s, void *to, tcu__address from, size_t size,
                          tcu__stream stream) {
    tcu__device *d = s->device;
    tcu__piece last;
    memset(&last, 0, sizeof last);
    for (size_t at = 0; at < size;) {
        tcu__piece next;
        next.size = size - at < TCU__SLOT_BYTES ? size - at : TCU__SLOT_BYTES;
        next.to = (unsigned char *)to + at;
        next.slot = tcu__slot_next(s);
        if (!next.slot) return 0;
        next.slot->stream = stream;
        next.slot->used = TCU__SLOT_BYTES; // no copy is added to it
        if (!TCU__DO(d, "a copy from the device", cuMemcpyDtoHAsync_v2, next.slot->memory,
                     from + at, next.size, stream) ||
            !TCU__DO(d, "a copy from the device", cuEventRecord, next.slot->done, stream) ||
            !tcu__piece_arrive(d, &last))
            return 0;
        last = next;
        at += next.size;
    }
    return tcu__piece_arrive(d, &last);
}

// Copies on the device, in the order of the stream; the two do not overlap.
TCU__FN int tcu__copy_on(tcu__device *d, tcu__address to, tcu__address from, size_t size,
                         tcu__stream stream) {
    return !size ||
           TCU__DO(d, "a copy on the device", cuMemcpyDtoDAsync_v2, to, from, size, stream);
}

// Sets bytes, in the order of the stream.
TCU__FN int tcu__set_bytes(tcu__device *d, tcu__address to, unsigned char value,
                           size_t size, tcu__stream stream) {
    return !size || TCU__DO(d, "filling memory", cuMemsetD8Async, to, value, size, stream);
}

// Waits for copies that still read a slot, and frees the ring.
TCU__FN void tcu__staging_close(tcu__staging *s) {
    tcu__device *d = s->device;
    if (!d) return;
    for (int i = 0; i < TCU__SLOTS; i++) {
        tcu__slot *t = &s->slot[i];
        if (t->used) TCU__UNDO(d, cuStreamSynchronize, t->stream);
        tcu__event_give(d, t->done);
        if (!t->memory) continue;
        TCU__UNDO(d, cuMemFreeHost, t->memory);
        d->held.pinned -= TCU__SLOT_BYTES;
    }
    memset(s, 0, sizeof *s);
}
