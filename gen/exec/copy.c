// Copies of whole tensors: on a device, from one device to another, and on the host between strided and row-major.

// ---- devices ----

// Copies memory of device d, NULL = the host; 0 = the device fails, reported.
static int tc__device_copy(tc_ctx *c, const tc__device *d, const char *what, void *to,
                           const void *from, size_t bytes) {
    tc_status s = TC_OK;
    if (!d)
        memcpy(to, from, bytes);
    else
        s = d->own.copy_on(d->own.user, to, from, bytes);
    return !s || tc__device_failed(c, &d->own, what, s);
}

// A copy from one device to another, NULL = the host, by way of the host where they do not reach each other. To the
// host it is there when this returns, from the host that may change. 0 = reported.
static int tc__copy_across(tc_ctx *c, const char *what, const tc__device *to_device,
                           void *to, const tc__device *from_device, const void *from,
                           size_t bytes) {
    const tc_device *t = to_device ? &to_device->own : NULL;
    const tc_device *f = from_device ? &from_device->own : NULL;
    if (!bytes) return 1;
    if (!t || !f) {
        tc_status s = t ? t->copy_in(t->user, to, from, bytes)
                        : f->copy_out(f->user, to, from, bytes);
        return !s || tc__device_failed(c, t ? t : f, what, s);
    }
    if (t->copy_from && !t->copy_from(t->user, to, f, from, bytes)) return 1;
    void *here = tc__alloc_aligned(c, bytes);
    int ok = here && tc__copy_across(c, what, NULL, here, from_device, from, bytes) &&
             tc__copy_across(c, what, to_device, to, NULL, here, bytes);
    if (here) tc__free_aligned(c, here, bytes);
    return ok;
}

// ---- strided copies ----

// A dimension that is walked: its size, and bytes from one element to the next on both sides.
typedef struct tc__stride {
    int64_t size, to, from;
} tc__stride;

// n elements of a constant size, which the compiler moves without a call.
#define TC__COPY_STEPS(size)                                                               \
    for (int64_t i = 0; i < n; i++) memcpy(to + i * d->to, from + i * d->from, size)

static void tc__copy_run(const tc__stride *d, char *to, const char *from, int64_t bytes) {
    int64_t n = d->size;
    if (d->to == bytes && d->from == bytes) {
        memcpy(to, from, (size_t)(n * bytes));
        return;
    }
    if (bytes == 1) TC__COPY_STEPS(1);
    if (bytes == 2) TC__COPY_STEPS(2);
    if (bytes == 4) TC__COPY_STEPS(4);
    if (bytes == 8) TC__COPY_STEPS(8);
}

#undef TC__COPY_STEPS

// The dimensions of l, strided on one side and row-major on the other, in as few as there can be.
static int tc__copy_dims(const tc__layout *l, int to_strided, tc__stride *out) {
    int64_t bytes = (int64_t)tc__dtype(l->dtype)->bytes, dense = l->numel * bytes;
    int n = 0;
    out[0].size = 1, out[0].to = out[0].from = bytes;
    for (int d = 0; d < l->rank; d++) {
        tc__stride s;
        dense /= l->dims[d];
        s.size = l->dims[d];
        s.to = to_strided ? l->strides[d] * bytes : dense;
        s.from = to_strided ? dense : l->strides[d] * bytes;
        if (s.size == 1) continue;
        if (n && out[n - 1].to == s.to * s.size && out[n - 1].from == s.from * s.size)
            s.size *= out[--n].size;
        out[n++] = s;
    }
    return n ? n : 1;
}

// Copies the elements of l from one side to the other, in row-major order.
static void tc__copy_elements(const tc__layout *l, int to_strided, char *to,
                              const char *from) {
    tc__stride dim[TC_MAX_RANK + 1];
    int64_t at[TC_MAX_RANK + 1] = {0}, bytes = (int64_t)tc__dtype(l->dtype)->bytes;
    if (!l->numel) return; // there may be no memory at all
    int last = tc__copy_dims(l, to_strided, dim) - 1, d = last;
    while (d >= 0) {
        tc__copy_run(&dim[last], to, from, bytes);
        for (d = last - 1; d >= 0; d--) {
            to += dim[d].to, from += dim[d].from;
            if (++at[d] < dim[d].size) break;
            to -= dim[d].size * dim[d].to, from -= dim[d].size * dim[d].from, at[d] = 0;
        }
    }
}

// dst (strided by l) = src (dense)
static void tc__copy_to_strided(const tc__layout *l, void *dst, const void *src) {
    tc__copy_elements(l, 1, (char *)dst, (const char *)src);
}

// Whether bytes at `to` are some of the memory of the elements of l: not where they are those, in that order, already.
static int tc__copy_meets(const tc__layout *l, const void *data, int64_t offset,
                          const void *to, size_t bytes) {
    int64_t each = (int64_t)tc__dtype(l->dtype)->bytes;
    uintptr_t at = (uintptr_t)to,
              low = (uintptr_t)((const char *)data + (offset + l->low) * each);
    uintptr_t end = low + (uintptr_t)((l->high - l->low + 1) * each);
    if (!bytes || (l->contiguous && at == low)) return 0;
    return at < end && low < at + bytes;
}

// Row-major elements of a strided view to dst.
static void tc__copy_from_strided(const tc__layout *l, const void *data, int64_t offset,
                                  void *dst) {
    if (!l->numel) return;
    int64_t bytes = (int64_t)tc__dtype(l->dtype)->bytes;
    const char *from = (const char *)data + offset * bytes;
    if (l->contiguous && dst == (const void *)from) return; // they are there
    tc__copy_elements(l, 0, (char *)dst, from);
}
