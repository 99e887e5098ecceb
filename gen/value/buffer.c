// Tensors outside traces: layouts, storage, slots, scopes, handles.
// A layout (dtype, sizes, strides, device) is interned, so comparing two is comparing numbers. Storage is
// reference counted; a tensor is (layout, storage, offset) in a slot, named by a handle whose epoch
// must match the slot's, so a stale handle is found out and never followed.

typedef struct tc__layout {
    uint8_t dtype, rank, contiguous;
    uint8_t device; // number of it, 0 = the host: what differs in it is another layout
    int64_t dims[TC_MAX_RANK];
    int64_t strides[TC_MAX_RANK]; // in elements
    int64_t numel;
    int64_t low, high; // smallest and largest element offset reached; high < low if empty
} tc__layout;

typedef enum tc__owner {
    TC__OWNED,
    TC__WRAPPED,
    TC__SHARED, // the parent context's: read only
    TC__MAPPED  // a file's
} tc__owner;

typedef struct tc__family tc__family; // value/family.c
typedef struct tc__held tc__held;

// A file as memory, for as long as a storage or the file itself shows it.
typedef struct tc__mapping {
    void *at;
    size_t size;
    uint32_t refs;
} tc__mapping;

typedef struct tc__storage {
    void *data; // OWNED: by this struct; WRAPPED: by the user; SHARED: by the parent;
                //   MAPPED: by the tc__mapping `block`
    size_t bytes;
    const tc_device *device; // where data is an address; NULL = the host
    void *block;             // OWNED: what the device gave with it; MAPPED: see data
    const void *constant; // elements of a tc_const, which never change; else NULL. data, or
                          //   of a device a copy here, owned
    uint32_t refs;
    uint8_t owner;       // tc__owner
    uint8_t loose;       // a tensor that showed most of it has ended: see value/trim.c
    uint8_t watched;     // a late read may compute from what it holds: see exec/run.c
    uint32_t refused;    // number of a write in place that failed; see graph/refuse.c
    uint64_t version;    // counts writes (in-place ops, tc_touch)
    uint32_t bind_epoch; // visit that last used it, and
    uint32_t bind_index; //   the first of its externals there
} tc__storage;

// What the user said of a tensor's sizes.
typedef struct tc__marks {
    uint32_t dynamic, fixed; // bit i: dimension i
    int64_t min[TC_MAX_RANK], max[TC_MAX_RANK];
} tc__marks;

typedef struct tc__tensor {
    uint64_t id;          // the handle it is known by; one that was a result keeps that
    uint32_t epoch;       // 0 = free slot
    uint32_t layout;      // id, from 1
    tc__storage *storage; // counted
    int64_t offset;       // first element, in elements
    uint32_t scope; // depth of the scope that frees it; 0 = tc_free only; TC__OF_REGION
    struct tc__region *region;  // OF_REGION: whose it is,
    const struct tc__step *way; //   and the end of the path that it goes with
    uint32_t bind_epoch;        // visit that last used it as an external, and
    uint32_t bind_index;        //   its number there
    tc__marks *marks;           // owned; NULL = none
    uint64_t grad;     // its gradient, which ends with it: see tc_requires_grad; 0 = none
    uint8_t grad_lent; //   but is another's, which this stands for
    uint8_t lent;      // the user has a pointer to its elements
    uint8_t scaling; // of found_inf of a scaler: what was done with it, see graph/scaler.c
    uint8_t held;    // by a set of parameters, or as a gradient: nobody has forgotten it
    int line;
    const char *file; // where it was made, static text of the caller
    const char *name; // of a parameter, its set's; NULL = none
} tc__tensor;

#define TC__OF_REGION UINT32_MAX // in place of a scope: a region frees it

// What remains of a freed tensor, for the message about its dead handle.
typedef struct tc__obituary {
    uint64_t id;
    const char *how; // static text
    const char *file;
    int line;
} tc__obituary;

enum { TC__DEVICES_MOST = 256 }; // numbers of devices, the host's 0 among them
enum { TC__SLOT_BITS = 24, TC__OBITUARIES = 128 };
#define TC__VISIT_BIT                                                                      \
    ((uint32_t)1 << 23) // slot numbers with this bit are positions in a visit
#define TC__SLOT_MASK (((uint32_t)1 << 24) - 1)

typedef struct tc__values {
    tc__core core;        // must be first
    uint32_t slot_of_ctx; // this context's number in the live table, 1..255
    uint32_t epoch;       // last epoch given
    TC__VEC(tc__layout) layout;
    tc__map layout_ids;
    TC__VEC(uint32_t) layout_free; // numbers to be given again
    size_t layouts_many;           // in use: then exec/bound.c looks for those that are not
    TC__VEC(tc__tensor *) slot; // slot i; tensors are allocated one by one and never move
    TC__VEC(uint32_t) free_slot;
    TC__VEC(uint32_t) scoped; // slots made in open scopes, oldest first
    TC__VEC(size_t) scope;    // start of each open scope in `scoped`
    size_t scope_floor;       // of these are not to be ended by the body that runs
    tc__map known;            // id of a result that outlives its visit -> its slot
    tc__obituary obituary[TC__OBITUARIES]; // of the last ones
    uint32_t deaths;
    size_t unscoped; // live tensors outside scopes
    int warned_unscoped, warned_shared;
    int loose;                       // a storage is, and
    uint32_t trimmed_at, trim_after; //   is looked for when so many more tensors have ended
    size_t pile_bytes; // of the context's memory, where eager results are counted next
    volatile uint32_t children;  // contexts that read this one's tensors
    volatile uint32_t autocasts; // this one or a child has had a tc_autocast_begin
    tc__family *family;          // of the children; owned, NULL = there were none
    tc_ctx *parent;              // whose tensors this one reads; NULL = none
    tc__map import;              //   id there -> tc__tensor here, owned
    tc__held *held;              //   what of the parent is held for that
    volatile uint64_t here;      // child: thread that has a region or body open; 0 = none
    struct tc__customs *customs; // ops of the user's; of graph/custom.c, NULL = none
    TC__VEC(struct tc__device *) device; // number i + 1; owned by exec/device.c
    int source_device; // of what an eager call makes of nothing: that of its first operand,
    int default_device; //   this where it has none; and of regions without a tensor
    int source_is_like; // it is that of an operand, which in a region decides as well
} tc__values;

static tc__values *tc__values_of(tc_ctx *c) { return (tc__values *)(void *)c; }

enum { TC__YARDSTICKS = 5 }; // sizes: exec/profile.c

// What a context has of a registered device. exec/device.c opens and closes it.
typedef struct tc__device {
    tc_device own;                   // names and identity are ours
    int number;                      // in layouts; 0 = the host
    const struct tc__runner *runner; // how its kernels run: exec/runner.c
    void *desk;             // that makes its code, a tc__desk; NULL = nobody asked yet
    TC__VEC(void *) moment; // marks of its clock, for who times kernels; owned
    int measured;           // it was profiled, and
    uint64_t copy_ns[TC__YARDSTICKS]; // copies there take so long; 0 = unknown
} tc__device;

static tc__device *tc__device_at(tc_ctx *c, int number) {
    return number ? tc__values_of(c)->device.at[number - 1] : NULL;
}

static const char *tc__device_name(tc_ctx *c, int number) {
    return number ? tc__device_at(c, number)->own.name : "cpu";
}

static int tc__device_is_there(tc_ctx *c, int number) {
    return number >= 0 && (size_t)number <= tc__values_of(c)->device.count;
}

// The number of the device that has the first `size` letters for its name, -1 = there is none.
static int tc__device_named(tc_ctx *c, const char *name, size_t size) {
    int n = (int)tc__values_of(c)->device.count;
    for (; n >= 0; n--) {
        const char *own = tc__device_name(c, n);
        if (strlen(own) == size && !memcmp(own, name, size)) break;
    }
    return n;
}

// ---- layouts ----

static int64_t tc__numel(int rank, const int64_t *dims) {
    int64_t n = 1;
    for (int i = 0; i < rank; i++) n *= dims[i];
    return n;
}

static void tc__row_major(int rank, const int64_t *dims, int64_t *strides) {
    int64_t s = 1;
    for (int i = rank - 1; i >= 0; i--) {
        strides[i] = s;
        s *= dims[i] > 0 ? dims[i] : 1;
    }
}

// Checks sizes: none negative, and every element addressable.
static int tc__dims_check(tc_ctx *c, const char *who, int rank, const int64_t *dims) {
    size_t n = 16;
    if (rank < 0 || rank > TC_MAX_RANK)
        return tc__fail(c, TC_E_RANK, "%s: rank %d; 0..%d is possible", who, rank,
                        TC_MAX_RANK);
    for (int i = 0; i < rank; i++) {
        if (dims[i] < 0)
            return tc__fail(c, TC_E_SHAPE, "%s: size %lld of dimension %d is negative", who,
                            (long long)dims[i], i);
        if (!tc__mul_size(n, dims[i] ? (size_t)dims[i] : 1, &n) ||
            n > (size_t)INT64_MAX / 4)
            return tc__fail(c, TC_E_TOO_BIG, "%s: more elements than memory can address",
                            who);
    }
    return 1;
}

static void tc__layout_measure(tc__layout *l) {
    int64_t dense[TC_MAX_RANK];
    l->numel = tc__numel(l->rank, l->dims);
    tc__row_major(l->rank, l->dims, dense);
    l->contiguous = 1;
    l->low = 0, l->high = l->numel ? 0 : -1;
    for (int i = 0; i < l->rank && l->numel; i++) {
        int64_t reach = l->strides[i] * (l->dims[i] - 1);
        if (l->dims[i] != 1 && l->strides[i] != dense[i]) l->contiguous = 0;
        if (reach < 0)
            l->low += reach;
        else
            l->high += reach;
    }
}

// The id of a layout, 0 = reported. Strides of size-1 dimensions do not matter and are normalised.
static uint32_t tc__layout_on(tc_ctx *c, int device, int dtype, int rank,
                              const int64_t *dims, const int64_t *strides) {
    tc__values *v = tc__values_of(c);
    tc__layout l;
    uint64_t h, id;
    memset(&l, 0, sizeof l);
    l.dtype = (uint8_t)dtype, l.rank = (uint8_t)rank, l.device = (uint8_t)device;
    if (rank) memcpy(l.dims, dims, (size_t)rank * sizeof *dims);
    tc__row_major(rank, dims, l.strides);
    for (int i = 0; strides && i < rank; i++)
        if (dims[i] > 1) l.strides[i] = strides[i];
    tc__layout_measure(&l);
    if (l.contiguous) tc__row_major(rank, dims, l.strides);
    h = tc__hash64(&l, sizeof l, 0);
    for (; tc__map_get(&v->layout_ids, h, &id); h = tc__hash_mix(h, 1))
        if (!memcmp(&v->layout.at[id], &l, sizeof l)) return (uint32_t)id;
    if (v->layout_free.count) {
        id = v->layout_free.at[v->layout_free.count - 1];
        if (!tc__map_set(&v->layout_ids, h, id)) return 0;
        v->layout.at[id] = l, v->layout_free.count--;
        return (uint32_t)id;
    }
    id = v->layout.count;
    if (!TC__PUSH(c, v->layout, l) || !tc__map_set(&v->layout_ids, h, id)) return 0;
    return (uint32_t)id;
}

enum { TC__LAYOUTS_MANY = 4096 };

static int tc__layouts_are_many(tc_ctx *c) {
    const tc__values *v = tc__values_of(c);
    return v->layout.count - v->layout_free.count > v->layouts_many;
}

// Forgets layouts that nothing names: used[i] tells whether something does. Without memory for that all stay.
static void tc__layouts_keep(tc_ctx *c, const uint8_t *used) {
    tc__values *v = tc__values_of(c);
    tc__map ids;
    size_t n = 0;
    for (size_t i = 0; i < v->layout.count; i++) n += used[i];
    tc__map_init(&ids, c);
    v->layouts_many = 2 * n > TC__LAYOUTS_MANY ? 2 * n : (size_t)TC__LAYOUTS_MANY;
    if (!tc__map_reserve(&ids, n) || !TC__VEC_RESERVE(c, v->layout_free, v->layout.count)) {
        tc__map_free(&ids);
        return;
    }
    v->layout_free.count = 0;
    for (uint32_t i = (uint32_t)v->layout.count; i-- > 1;) {
        if (!used[i]) {
            v->layout_free.at[v->layout_free.count++] = i;
            continue;
        }
        uint64_t h = tc__hash64(&v->layout.at[i], sizeof(tc__layout), 0);
        while (tc__map_get(&ids, h, NULL)) h = tc__hash_mix(h, 1);
        (void)tc__map_set(&ids, h, i);
    }
    tc__map_free(&v->layout_ids);
    v->layout_ids = ids;
}

// The same, of memory of the host.
static uint32_t tc__layout_intern(tc_ctx *c, int dtype, int rank, const int64_t *dims,
                                  const int64_t *strides) {
    return tc__layout_on(c, 0, dtype, rank, dims, strides);
}

static const tc__layout *tc__layout_at(tc_ctx *c, uint32_t id) {
    return &tc__values_of(c)->layout.at[id];
}

// ---- storage ----

static tc__storage *tc__storage_wrap(tc_ctx *c, void *data, size_t bytes) {
    tc__storage *s = TC__NEW(c, tc__storage);
    if (!s) return NULL;
    s->data = data, s->bytes = bytes, s->refs = 1, s->owner = TC__WRAPPED;
    return s;
}

// Whether two storages have some memory in common: only what a user wrapped can be another one's, too.
static int tc__storages_meet(const tc__storage *a, const tc__storage *b) {
    uintptr_t x = (uintptr_t)a->data, y = (uintptr_t)b->data;
    return a != b && x < y + b->bytes && y < x + a->bytes;
}

// Tensor memory, see tc__alloc_aligned, on large pages where the system has them.
static void *tc__storage_memory(tc_ctx *c, size_t bytes) {
    void *data = tc__alloc_aligned(c, bytes);
    if (!data || bytes < TC__HUGE_PAGE) return data;
    uint8_t *first = tc__storage_begin((uint8_t *)data, bytes);
    tc__advise_huge(first, (size_t)((uint8_t *)data - first) + bytes);
    return data;
}

// New memory of `bytes`, 64-byte aligned, not zeroed.
static tc__storage *tc__storage_new(tc_ctx *c, size_t bytes) {
    void *data = tc__storage_memory(c, bytes ? bytes : 1);
    if (!data) return NULL;
    tc__storage *s = tc__storage_wrap(c, data, bytes);
    if (!s)
        tc__free_aligned(c, data, bytes ? bytes : 1);
    else
        s->owner = TC__OWNED;
    return s;
}

enum {
    TC__SLAB_SLACK = 64
}; // bytes of a result's storage: vectors may read one vector beyond

// Whether a tensor is known to be all of its storage.
static int tc__is_all_of(const tc__layout *l, const tc__storage *s) {
    size_t bytes = (size_t)l->numel * tc__dtype(l->dtype)->bytes;
    return bytes == s->bytes || bytes + TC__SLAB_SLACK == s->bytes;
}

// The device that has the storage; NULL = the host.
static tc__device *tc__device_of_storage(tc_ctx *c, const tc__storage *s) {
    const tc__values *v = tc__values_of(c);
    for (size_t i = 0; s->device && i < v->device.count; i++)
        if (&v->device.at[i]->own == s->device) return v->device.at[i];
    return NULL;
}

// The same on a device, NULL = the host.
static tc__storage *tc__storage_on(tc_ctx *c, tc__device *d, size_t bytes) {
    tc_device_memory m;
    if (!d) return tc__storage_new(c, bytes);
    tc_status s = d->own.take(d->own.user, bytes ? bytes : 1, &m);
    if (s)
        return tc__fail(c, s, "%zu bytes on %s: %s", bytes, d->own.name,
                        d->own.why(d->own.user)),
               (tc__storage *)NULL;
    tc__storage *to = tc__storage_wrap(c, m.address, bytes);
    if (!to) return d->own.give(d->own.user, m), (tc__storage *)NULL;
    to->owner = TC__OWNED, to->device = &d->own, to->block = m.block;
    return to;
}

static void tc__mapping_unref(tc_ctx *c, tc__mapping *m) {
    if (!m || --m->refs) return;
    tc__file_unmap(m->at, m->size);
    tc__free(c, m, sizeof *m);
}

static void tc__storage_free(tc_ctx *c, tc__storage *s) {
    tc_device_memory m;
    if (s->owner == TC__MAPPED) tc__mapping_unref(c, (tc__mapping *)s->block);
    m.address = s->data, m.block = s->block;
    if (s->owner == TC__OWNED && s->device)
        s->device->give(s->device->user, m);
    else if (s->owner == TC__OWNED)
        tc__free_aligned(c, s->data, s->bytes ? s->bytes : 1);
    if (s->device && s->constant && s->owner != TC__SHARED)
        tc__free_aligned(c, (void *)(uintptr_t)s->constant, s->bytes ? s->bytes : 1);
    tc__free(c, s, sizeof *s);
}

static void tc__storage_unref(tc_ctx *c, tc__storage *s) {
    if (s && !--s->refs) tc__storage_free(c, s);
}

// ---- slots and handles ----

static uint32_t tc__epoch_next(tc__values *v) {
    if (!++v->epoch) ++v->epoch; // 0 marks a free slot
    return v->epoch;
}

static tc_tensor tc__handle(const tc__values *v, uint32_t epoch, uint32_t slot) {
    tc_tensor t;
    t.id = ((uint64_t)v->slot_of_ctx << 56) | ((uint64_t)epoch << TC__SLOT_BITS) | slot;
    return t;
}

static uint32_t tc__handle_slot(tc_tensor t) { return (uint32_t)t.id & TC__SLOT_MASK; }
static uint32_t tc__handle_epoch(tc_tensor t) { return (uint32_t)(t.id >> TC__SLOT_BITS); }

static tc_tensor tc__null(void) {
    tc_tensor t;
    t.id = 0;
    return t;
}

// One more slot, free, with room to be freed again; 0 = reported.
static int tc__slot_add(tc_ctx *c) {
    tc__values *v = tc__values_of(c);
    if (v->slot.count >= TC__VISIT_BIT)
        return tc__fail(c, TC_E_TOO_BIG,
                        "8388608 live tensors; free some, or use tc_scope_begin/end");
    if (!TC__VEC_RESERVE(c, v->free_slot, v->slot.count + 1)) return 0;
    tc__tensor *t = TC__NEW(c, tc__tensor);
    if (!t || !TC__PUSH(c, v->slot, t)) {
        tc__free(c, t, sizeof *t);
        return 0;
    }
    return TC__PUSH(c, v->free_slot, (uint32_t)v->slot.count - 1);
}

// Whether n more tensors need no memory but that of their elements.
TC__INLINE int tc__slots_are_ready(const tc__values *v, uint32_t n) {
    return v->free_slot.count >= n &&
           (!v->scope.count || v->scoped.capacity - v->scoped.count >= n);
}

// Sees to it; 0 = reported.
static int tc__slots_prepare(tc_ctx *c, uint32_t n) {
    tc__values *v = tc__values_of(c);
    while (v->free_slot.count < n)
        if (!tc__slot_add(c)) return 0;
    return !v->scope.count || TC__VEC_RESERVE(c, v->scoped, v->scoped.count + n);
}

enum { TC__MANY_UNSCOPED = 4096 };

static void tc__warn_unscoped(tc_ctx *c, const tc__tensor *t) {
    tc__values *v = tc__values_of(c);
    if (v->warned_unscoped) return;
    v->warned_unscoped = 1;
    tc__warn(
        c,
        "4096 eager tensors are alive outside any scope (this one from %s:%d); wrap the body of "
        "loops in tc_scope_begin and tc_scope_return, tc_free results, or turn tc_lazy on",
        t->file ? t->file : "?", t->line);
}

enum {
    TC__PILE = 16,       // tensors of one place that are a pile
    TC__PILE_PLACES = 64 // sums in which the place that holds most is looked for
};

// What a tensor outside scopes holds: its part of memory that several show. 0 = nothing to be told of.
static size_t tc__pile_bytes(const tc__tensor *t) {
    if (!t->epoch || t->scope || t->held || t->storage->owner != TC__OWNED) return 0;
    return t->storage->bytes / t->storage->refs;
}

static size_t tc__pile_place(const tc__tensor *t) {
    uint64_t h = tc__hash_mix((uint64_t)(uintptr_t)t->file, (uint64_t)(uint32_t)t->line);
    return (size_t)(h % TC__PILE_PLACES);
}

static int tc__pile_same(const tc__tensor *a, const tc__tensor *b) {
    return a->line == b->line && a->file == b->file;
}

// A tensor of the place that holds most; NULL = nothing is held. Of the places that share a sum the one with
// more than half of it is found by votes, which are bytes: others cannot take all that it has.
static const tc__tensor *tc__pile_find(const tc__values *v) {
    size_t sum[TC__PILE_PLACES] = {0}, most = 0, votes = 0;
    const tc__tensor *of = NULL;
    for (size_t i = 0; i < v->slot.count; i++)
        sum[tc__pile_place(v->slot.at[i])] += tc__pile_bytes(v->slot.at[i]);
    for (size_t i = 1; i < TC__PILE_PLACES; i++)
        if (sum[i] > sum[most]) most = i;
    for (size_t i = 0; i < v->slot.count; i++) {
        const tc__tensor *t = v->slot.at[i];
        size_t bytes = tc__pile_bytes(t);
        if (!bytes || tc__pile_place(t) != most) continue;
        if (of && tc__pile_same(t, of))
            votes += bytes;
        else if (votes >= bytes)
            votes -= bytes;
        else
            of = t, votes = bytes - votes;
    }
    return of;
}

// Eager results that nobody frees: nothing tells them from those that somebody holds, so this is told where
// the context's memory reaches a size, and twice that, and so on.
static void tc__pile_check(tc_ctx *c) {
    tc__values *v = tc__values_of(c);
    const tc__tensor *of = tc__pile_find(v);
    size_t n = 0, bytes = 0, views = 0;
    for (size_t i = 0; of && i < v->slot.count; i++) {
        const tc__tensor *t = v->slot.at[i];
        if (!tc__pile_bytes(t) || !tc__pile_same(t, of)) continue;
        const tc__layout *l = &v->layout.at[t->layout];
        n++, bytes += tc__pile_bytes(t);
        views += 2 * (size_t)l->numel * tc__dtype(l->dtype)->bytes < t->storage->bytes;
    }
    while (v->pile_bytes <= tc__core_of(c)->bytes) v->pile_bytes *= 2;
    if (n < TC__PILE) return;
    tc__warn(
        c,
        "%zu eager results of %s:%d hold %zu MB outside any scope, of %zu MB in all%s; wrap "
        "the body of the loop in tc_scope_begin and tc_scope_return, or in a region, or turn "
        "tc_lazy on",
        n, of->file ? of->file : "?", of->line, bytes >> 20, tc__core_of(c)->bytes >> 20,
        views ? " (a view holds all of the memory that it shows a part of)" : "");
}

// A new tensor in the current scope. Takes over one reference of `s`, also when it fails.
static tc_tensor tc__tensor_new(tc_ctx *c, uint32_t layout, tc__storage *s, int64_t offset,
                                const char *file, int line) {
    tc__values *v = tc__values_of(c);
    if (!layout || !s || (!tc__slots_are_ready(v, 1) && !tc__slots_prepare(c, 1))) {
        tc__storage_unref(c, s);
        return tc__null();
    }
    uint32_t slot = v->free_slot.at[--v->free_slot.count];
    tc__tensor *t = v->slot.at[slot];
    t->epoch = tc__epoch_next(v);
    t->layout = layout, t->storage = s, t->offset = offset, t->file = file, t->line = line;
    t->bind_epoch = t->bind_index = 0, t->marks = NULL;
    t->grad = 0, t->grad_lent = 0, t->held = 0, t->lent = 0, t->name = NULL;
    t->scaling = 0;
    t->id = tc__handle(v, t->epoch, slot).id;
    t->scope = (uint32_t)v->scope.count;
    if (t->scope) {
        v->scoped.at[v->scoped.count++] = slot;
    } else {
        if (TC__UNLIKELY(++v->unscoped >= TC__MANY_UNSCOPED)) tc__warn_unscoped(c, t);
        if (TC__UNLIKELY(tc__core_of(c)->bytes >= v->pile_bytes)) tc__pile_check(c);
    }
    return tc__handle(v, t->epoch, slot);
}

// From now on `scope` frees the tensor, not the one that did; its slot is not among that one's yet.
static void tc__tensor_move(tc_ctx *c, tc__tensor *t, uint32_t scope) {
    tc__values *v = tc__values_of(c);
    v->unscoped += !scope, v->unscoped -= !t->scope;
    t->scope = scope;
}

// A result of a visit becomes a tensor of its own, under the handle it has; NULL = reported.
static tc__tensor *tc__known_add(tc_ctx *c, uint64_t id, const tc__tensor *from) {
    tc__values *v = tc__values_of(c);
    uint64_t slot;
    if (tc__map_get(&v->known, id, &slot)) return v->slot.at[slot];
    if (!tc__map_set(&v->known, id, 0)) return NULL;
    from->storage->refs++;
    tc_tensor own = tc__tensor_new(c, from->layout, from->storage, from->offset, from->file,
                                   from->line);
    if (!own.id) return tc__map_remove(&v->known, id), (tc__tensor *)NULL;
    slot = tc__handle_slot(own);
    (void)tc__map_set(&v->known, id, slot);
    tc__tensor *t = v->slot.at[slot];
    tc__tensor_move(c, t, 0);
    t->id = id, t->bind_epoch = from->bind_epoch, t->bind_index = from->bind_index;
    t->lent = 1; // maybe, while it was a result
    return t;
}

// Room for n of them; 0 = reported.
static int tc__known_prepare(tc_ctx *c, uint32_t n) {
    return tc__slots_prepare(c, n) && tc__map_reserve(&tc__values_of(c)->known, n);
}

static tc__tensor *tc__known_find(tc_ctx *c, uint64_t id) {
    tc__values *v = tc__values_of(c);
    uint64_t slot;
    if (!v->known.count || !tc__map_get(&v->known, id, &slot)) return NULL;
    return v->slot.at[slot];
}

// The live tensor of an eager handle, NULL if it is none (nothing is reported).
static tc__tensor *tc__slot_find(tc_ctx *c, tc_tensor h) {
    tc__values *v = tc__values_of(c);
    uint32_t slot = tc__handle_slot(h);
    if (slot >= v->slot.count || h.id >> 56 != v->slot_of_ctx) return NULL;
    tc__tensor *t = v->slot.at[slot];
    return t->epoch && t->epoch == tc__handle_epoch(h) ? t : NULL;
}

// What is remembered of handle `id`; NULL = nothing, or no more.
static const tc__obituary *tc__obituary_of(const tc__values *v, uint64_t id) {
    for (uint32_t i = 1; i <= TC__OBITUARIES; i++) {
        const tc__obituary *o = &v->obituary[(v->deaths - i) % TC__OBITUARIES];
        if (o->id == id) return o;
    }
    return NULL;
}

static void tc__obituary_write(tc__values *v, uint64_t id, const char *how,
                               const char *file, int line) {
    tc__obituary *o = &v->obituary[v->deaths++ % TC__OBITUARIES];
    o->id = id, o->how = how, o->file = file, o->line = line;
}

static void tc__slot_free(tc_ctx *c, uint32_t slot, const char *how, const char *file,
                          int line);

// The gradient of t ends; itself it has none.
static void tc__grad_free(tc_ctx *c, tc__tensor *t, const char *file, int line) {
    tc_tensor g;
    g.id = t->grad_lent ? 0 : t->grad;
    t->grad = 0;
    if (!g.id) return;
    if (tc__slot_find(c, g))
        tc__slot_free(c, tc__handle_slot(g), "freed with the tensor whose gradient it was",
                      file, line);
}

enum { TC__TRIM_LEAST = 1 << 20 }; // bytes: smaller memory stays as it is

// Marks memory that tensor t, which ends, has shown most of, while others still show it.
static void tc__storage_loosen(tc_ctx *c, const tc__tensor *t) {
    const tc__layout *l = tc__layout_at(c, t->layout);
    tc__storage *s = t->storage;
    if (s->refs < 2 || s->bytes < TC__TRIM_LEAST || s->owner != TC__OWNED) return;
    if (s->device || s->constant) return;
    if (2 * (size_t)l->numel * tc__dtype(l->dtype)->bytes < s->bytes) return;
    s->loose = 1, tc__values_of(c)->loose = 1;
}

static void tc__slot_free(tc_ctx *c, uint32_t slot, const char *how, const char *file,
                          int line) {
    tc__values *v = tc__values_of(c);
    tc__tensor *t = v->slot.at[slot];
    tc__grad_free(c, t, file, line);
    tc__obituary_write(v, t->id, how, file, line);
    if (t->id & TC__VISIT_BIT) tc__map_remove(&v->known, t->id);
    tc__storage_loosen(c, t);
    tc__storage_unref(c, t->storage);
    if (t->marks) tc__free(c, t->marks, sizeof *t->marks);
    if (!t->scope) v->unscoped--;
    t->epoch = 0, t->storage = NULL, t->marks = NULL;
    TC__PUSH(c, v->free_slot, slot);
}

static void tc__scope_close(tc_ctx *c, const char *file, int line) {
    tc__values *v = tc__values_of(c);
    size_t start = v->scope.at[--v->scope.count];
    uint32_t depth = (uint32_t)v->scope.count + 1;
    for (size_t i = v->scoped.count; i > start; i--) {
        uint32_t slot = v->scoped.at[i - 1];
        if (v->slot.at[slot]->epoch && v->slot.at[slot]->scope == depth)
            tc__slot_free(c, slot, "freed by the end of its scope", file, line);
    }
    v->scoped.count = start;
}

static void *tc__tensor_data(const tc__tensor *t, int dtype) {
    return (char *)t->storage->data + t->offset * (int64_t)tc__dtype(dtype)->bytes;
}

static int tc__values_open(tc_ctx *c) {
    tc__values *v = tc__values_of(c);
    tc__layout none;
    memset(&none, 0, sizeof none);
    tc__map_init(&v->layout_ids, c);
    tc__map_init(&v->import, c);
    tc__map_init(&v->known, c);
    v->pile_bytes = (size_t)1 << 30, v->layouts_many = TC__LAYOUTS_MANY;
    return TC__PUSH(c, v->layout, none);
}

static void tc__values_close(tc_ctx *c) {
    tc__values *v = tc__values_of(c);
    for (size_t i = 0; i < v->slot.count; i++)
        if (v->slot.at[i]->epoch) tc__slot_free(c, (uint32_t)i, "closed", NULL, 0);
    // Not before all have ended: one that ends looks for its gradient, in any slot.
    for (size_t i = 0; i < v->slot.count; i++)
        tc__free(c, v->slot.at[i], sizeof **v->slot.at);
    TC__VEC_FREE(c, v->slot);
    TC__VEC_FREE(c, v->free_slot);
    TC__VEC_FREE(c, v->scoped);
    TC__VEC_FREE(c, v->scope);
    TC__VEC_FREE(c, v->layout);
    TC__VEC_FREE(c, v->layout_free);
    tc__map_free(&v->layout_ids);
    tc__map_free(&v->known);
}
