// Memory of the user's while a program is tuned: what kernels write in place is a copy, on its device, so that
// they can run as often as one likes. Input: a bound program. Output: the same, its launches on the copies.

#if TC__JIT

// What a kernel writes of the user's, and the copy that it writes meanwhile.
typedef struct tc__spare {
    const void *real; // its first element,
    int64_t low;      //   and what of it lies in front of that, in bytes
    tc__device *device;
    tc__storage *copy; // of all that it reaches; counted
    size_t bytes;
} tc__spare;

typedef struct tc__spares {
    tc_ctx *ctx;
    tc__program *p;
    const tc__visit *v;
    TC__VEC(tc__spare) spare;
} tc__spares;

static tc__spare *tc__spare_of(tc__spares *k, uint32_t external) {
    const void *real = tc__external_data(k->ctx, &k->v->external.at[external]);
    for (size_t i = 0; i < k->spare.count; i++)
        if (k->spare.at[i].real == real) return &k->spare.at[i];
    return NULL;
}

// Copies of what kernels write in place; 0 = out of memory.
static int tc__spares_open(tc__spares *k, tc__program *p, const tc__visit *v) {
    memset(k, 0, sizeof *k);
    k->ctx = p->ctx, k->p = p, k->v = v;
    for (size_t i = 0; i < k->p->output.count; i++) {
        const tc__output *o = &k->p->output.at[i];
        tc__spare s;
        if (!o->direct) continue;
        const tc__external *e = &k->v->external.at[o->external];
        const tc__layout l = *tc__layout_at(k->ctx, e->layout);
        int64_t each = (int64_t)tc__dtype(l.dtype)->bytes;
        s.bytes = (size_t)((l.high - l.low + 1) * each);
        s.real = tc__external_data(k->ctx, e), s.low = -l.low * each;
        s.device = tc__device_at(k->ctx, l.device);
        s.copy = tc__storage_on(k->ctx, s.device, s.bytes + TC__SLAB_SLACK);
        if (!s.copy) return 0;
        if (!TC__PUSH(k->ctx, k->spare, s)) return tc__storage_unref(k->ctx, s.copy), 0;
    }
    return 1;
}

static void tc__spares_close(tc__spares *k) {
    for (size_t i = 0; i < k->spare.count; i++)
        tc__storage_unref(k->ctx, k->spare.at[i].copy);
    TC__VEC_FREE(k->ctx, k->spare);
}

// The launches use the copies, as if they were the user's.
static void tc__spares_bind(tc__spares *k) {
    tc__program *p = k->p;
    for (size_t i = 0; i < p->address.count; i++) {
        const tc__address *a = &p->address.at[i];
        const tc__output *o = a->output ? &p->output.at[a->source] : NULL;
        if (o ? !o->direct : a->source >= p->externals) continue;
        tc__spare *s = tc__spare_of(k, o ? o->external : a->source);
        if (!s) continue;
        const tc__layout *l = o ? tc__layout_at(k->ctx, o->layout) : NULL;
        int64_t landing = o ? o->offset * (int64_t)tc__dtype(l->dtype)->bytes : 0;
        *a->at = (char *)s->copy->data + s->low + landing + a->begin;
    }
}

static int tc__spares_fill(tc__spares *k) {
    int ok = 1;
    for (size_t i = 0; ok && i < k->spare.count; i++) {
        const tc__spare *s = &k->spare.at[i];
        ok = tc__device_copy(k->ctx, s->device, "autotune", s->copy->data,
                             (const char *)s->real - s->low, s->bytes);
    }
    return ok;
}

#endif // TC__JIT
