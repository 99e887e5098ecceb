// Memory: the one way to the allocator hook, an arena, and growable arrays.
// Callers remember sizes, so the hook hears the exact size of every block it gets back and
// core->bytes is exact. A failure is reported here (TC_E_NOMEM or TC_E_TOO_BIG): callers
// only test for NULL. Size 0 is served as 1 byte, so that NULL always means failure.

#define TC__STORAGE_ALIGN 64                        // cache line, and the widest vector
#define TC__HUGE_PAGE     ((size_t)2 * 1024 * 1024) // of the system, and the storage on it
#define TC__COLORED       ((size_t)64 * 1024)       // storage that large has a color:
#define TC__COLOR_PAGE    ((size_t)4096)            //   where in such a page it begins,
#define TC__COLOR_STEP    ((size_t)1536)            //   so far behind the one before,
#define TC__COLOR_COUNT   8                         //   of so many
#define TC__ARENA_ALIGN   16
#define TC__ARENA_FIRST   ((size_t)4096)        // first chunk; doubled for each next one
#define TC__ARENA_LARGEST ((size_t)1024 * 1024) //   up to here

// *out = a * b; 0 if that overflows, *out untouched.
static int tc__mul_size(size_t a, size_t b, size_t *out) {
    if (b && a > SIZE_MAX / b) return 0;
    *out = a * b;
    return 1;
}

// The hook without accounting or reports, for the memory of the context itself.
static void *tc__hook_realloc(const tc_allocator *hook, void *p, size_t old, size_t size) {
    if (hook->realloc) return hook->realloc(hook->user, p, old, size);
    return tc__default_realloc(p, old, size);
}

// The hook of a context.
static void *tc__core_realloc(tc__core *core, void *p, size_t old, size_t size) {
    if (!core->hook.realloc) return tc__default_realloc(p, old, size);
    int cancel = tc__hooking_begin(core);
    void *q = core->hook.realloc(core->hook.user, p, old, size);
    tc__hooking_end(core, cancel);
    return q;
}

// Whether so many bytes more are beyond the limit.
static int tc__is_too_much(const tc__core *core, size_t more) {
    return core->most && (core->bytes > core->most || more > core->most - core->bytes);
}

// NULL, and reported: the hook has none, or the machine would not have it when it is written.
static void *tc__out_of_memory(tc_ctx *c, size_t want) {
    tc__core *core = tc__core_of(c);
    const char *who = core->doing ? core->doing : "", *colon = core->doing ? ": " : "";
    if (tc__is_too_much(core, want))
        tc__fail(
            c, TC_E_NOMEM,
            "%s%sout of memory: %zu bytes wanted, %zu MB held of %zu MB, nine tenths of what "
            "this machine has; free tensors, or wrap loops in tc_scope_begin and "
            "tc_scope_return",
            who, colon, want, core->bytes >> 20, core->most >> 20);
    else
        tc__fail(c, TC_E_NOMEM,
                 "%s%sout of memory: %zu bytes wanted, %zu held; free tensors?", who, colon,
                 want, core->bytes);
    return NULL;
}

// Resizes; new bytes are not zeroed. NULL = reported, and p is still the caller's.
// p NULL allocates; old is then ignored.
static void *tc__realloc(tc_ctx *c, void *p, size_t old, size_t size) {
    tc__core *core = tc__core_of(c);
    size_t had = p ? old + !old : 0, want = size + !size;
    if (TC__UNLIKELY(core->frozen && core->unseen)) {
        tc__fail(c, TC_E_RECOMPILE,
                 "\"%s\" has no program for this, and the context is frozen; warm it up "
                 "before, or tc_thaw it",
                 core->unseen);
        return NULL;
    }
    if (TC__UNLIKELY(core->frozen)) {
        tc__fail(c, TC_E_STATE,
                 "the context is frozen, and %zu bytes are wanted; warm it up with as many "
                 "live results, or tc_thaw it",
                 want);
        return NULL;
    }
    if (TC__UNLIKELY(want > had && tc__is_too_much(core, want - had)))
        return tc__out_of_memory(c, want);
    void *q = tc__core_realloc(core, p, had, want);
    if (!q) return tc__out_of_memory(c, want);
    TC_ASSERT(core->bytes >= had);
    core->bytes += want - had;
    core->allocations++;
    if (core->bytes > core->peak_bytes) core->peak_bytes = core->bytes;
    return q;
}

// Zeroed block of size bytes; NULL = reported.
static void *tc__alloc(tc_ctx *c, size_t size) {
    void *p = tc__realloc(c, NULL, 0, size);
    return p ? memset(p, 0, size) : NULL;
}

// Zeroed block of count * item bytes, of one item for count 0; NULL = reported. Through
// TC__NEW_ARRAY.
static void *tc__alloc_array(tc_ctx *c, size_t count, size_t item) {
    size_t size;
    if (tc__mul_size(count + !count, item, &size)) return tc__alloc(c, size);
    tc__fail(c, TC_E_TOO_BIG, "%zu items of %zu bytes do not fit size_t", count, item);
    return NULL;
}

// Gives back a block; size as allocated. NULL does nothing. Arrays go through TC__FREE_ARRAY.
static void tc__free(tc_ctx *c, void *p, size_t size) {
    tc__core *core = tc__core_of(c);
    size_t had = size + !size;
    if (!p) return;
    TC_ASSERT(core->bytes >= had);
    core->bytes -= had;
    tc__core_realloc(core, p, had, 0);
}

// Gives back what tc__alloc_array gave for as many items.
TC__UNUSED static void tc__free_array(tc_ctx *c, void *p, size_t count, size_t item) {
    tc__free(c, p, (count + !count) * item);
}

#define TC__NEW(c, T)           ((T *)tc__alloc(c, sizeof(T)))
#define TC__NEW_ARRAY(c, T, n)  ((T *)tc__alloc_array(c, (size_t)(n), sizeof(T)))
#define TC__FREE_ARRAY(c, p, n) tc__free_array(c, p, (size_t)(n), sizeof *(p))

// Large storage starts at a page of 2 MB, so that the system can back all of it with such
// pages: a third of the time of a copy goes into misses of the page table otherwise.
static size_t tc__storage_align(size_t size) {
    return size < TC__COLORED     ? TC__STORAGE_ALIGN
           : size < TC__HUGE_PAGE ? TC__COLOR_PAGE
                                  : TC__HUGE_PAGE;
}

// Large storages begin at different places of a page of 4 KB, in turn, each far from the one before: CPUs look for what
// was just stored by the low 12 bits of an address, so that loads wait for stores to another tensor where these are equal.
// 3x3 of 1024 x 1024 with a border, whose result lies 0, 64, 128, 512, 2048 bytes behind it in that page, takes so 1.14,
// 1.37, 1.45, 1.04, 1.00 of its inside's time (Zen 5); what does not read its neighbours takes the same everywhere. So a
// result has none of the colors of what its program reads (core->taken), where there is another.
static size_t tc__storage_color(tc__core *core, size_t size) {
    size_t color = 0, each = TC__COLOR_PAGE / TC__COLOR_COUNT;
    int taken = size >= TC__COLORED;
    for (int i = 0; i < TC__COLOR_COUNT && taken; i++) {
        color = core->storages++ * TC__COLOR_STEP % TC__COLOR_PAGE;
        taken = core->taken >> color / each & 1;
    }
    return color;
}

// Bit of the color that begins at `data`, or a little behind it.
static uint32_t tc__color_bit(const void *data) {
    size_t each = TC__COLOR_PAGE / TC__COLOR_COUNT;
    return (uint32_t)1 << ((uintptr_t)data + each - 1) / each % TC__COLOR_COUNT;
}

// What the hook gives for it.
static size_t tc__storage_block(size_t size) {
    size_t color = size < TC__COLORED ? 0 : TC__COLOR_PAGE;
    return size + tc__storage_align(size) + TC__STORAGE_ALIGN + color;
}

// Below what begins where no color is stands the distance to the hook's block: a page of 2 MB that is written to before
// tc__advise_huge stays many small ones.
static uint8_t *tc__storage_begin(uint8_t *p, size_t size) {
    return size < TC__HUGE_PAGE ? p : p - (uintptr_t)p % TC__HUGE_PAGE;
}

// Tensor storage: 64-byte aligned, from 2 MB on in a page of 2 MB, at its color; not zeroed.
TC__UNUSED static void *tc__alloc_aligned(tc_ctx *c, size_t size) {
    uint8_t *p;
    size_t align = tc__storage_align(size), shift;
    if (size > SIZE_MAX - align - TC__STORAGE_ALIGN - TC__COLOR_PAGE) {
        tc__fail(c, TC_E_TOO_BIG, "storage of %zu bytes does not fit size_t", size);
        return NULL;
    }
    p = (uint8_t *)tc__realloc(c, NULL, 0, tc__storage_block(size));
    if (!p) return NULL;
    shift = (size_t)(0 - (uintptr_t)(p + TC__STORAGE_ALIGN)) % align + TC__STORAGE_ALIGN;
    shift += tc__storage_color(tc__core_of(c), size);
    p += shift;
    memcpy(tc__storage_begin(p, size) - sizeof shift, &shift, sizeof shift);
    return p;
}

TC__UNUSED static void tc__free_aligned(tc_ctx *c, void *p, size_t size) {
    uint8_t *at = (uint8_t *)p;
    size_t shift;
    if (!at) return;
    memcpy(&shift, tc__storage_begin(at, size) - sizeof shift, sizeof shift);
    tc__free(c, at - shift, tc__storage_block(size));
}

// ---- arena: many small blocks, freed together

typedef struct tc__chunk {
    struct tc__chunk *next; // filled after this one; owned by the arena
    size_t size;            // bytes of the whole block, this header included
} tc__chunk;

typedef struct tc__arena {
    tc_ctx *ctx;
    tc__chunk *first;   // all chunks, in the order they fill; NULL = none yet
    tc__chunk *current; // blocks are cut from this one; those after it are empty
    size_t used;        // bytes of current already given out, header included
    size_t least;       // of the first chunk; 0 = TC__ARENA_FIRST
} tc__arena;

static void tc__arena_init(tc__arena *a, tc_ctx *c) {
    memset(a, 0, sizeof(*a));
    a->ctx = c;
}

// Cuts size bytes from the current chunk, or NULL if they do not fit.
static void *tc__arena_cut(tc__arena *a, size_t size) {
    uint8_t *base = (uint8_t *)a->current;
    size_t pad, left;
    if (!base) return NULL;
    pad = (size_t)(0 - (uintptr_t)(base + a->used)) % TC__ARENA_ALIGN;
    left = a->current->size - a->used;
    if (left < pad || left - pad < size) return NULL;
    base += a->used + pad;
    a->used += pad + size;
    return memset(base, 0, size);
}

// Makes the chunk after the current one current: an empty one kept by reset if it is large
// enough, else a new one.
static int tc__arena_next(tc__arena *a, size_t size) {
    tc__chunk **link = a->current ? &a->current->next : &a->first, *chunk = *link;
    size_t want = a->current ? a->current->size
                  : a->least ? a->least / 2
                             : TC__ARENA_FIRST / 2;
    size_t need = size + sizeof(tc__chunk) + TC__ARENA_ALIGN;
    if (need < size)
        return tc__fail(a->ctx, TC_E_TOO_BIG, "%zu bytes do not fit size_t", size);
    if (!chunk || chunk->size < need) {
        want = want < TC__ARENA_LARGEST / 2 ? want * 2 : TC__ARENA_LARGEST;
        if (want < need) want = need;
        chunk = (tc__chunk *)tc__realloc(a->ctx, NULL, 0, want);
        if (!chunk) return 0;
        chunk->next = *link;
        chunk->size = want;
        *link = chunk;
    }
    a->current = chunk;
    a->used = sizeof(tc__chunk);
    return 1;
}

// Zeroed and 16-byte aligned, valid until reset or free; NULL = reported.
static void *tc__arena_alloc(tc__arena *a, size_t size) {
    void *p = tc__arena_cut(a, size);
    if (TC__LIKELY(p != NULL)) return p;
    return tc__arena_next(a, size) ? tc__arena_cut(a, size) : NULL;
}

// Zeroed block of count * item bytes; NULL = reported. Through TC__ANEW_ARRAY.
TC__UNUSED static void *tc__arena_array(tc__arena *a, size_t count, size_t item) {
    size_t size;
    if (tc__mul_size(count, item, &size)) return tc__arena_alloc(a, size);
    tc__fail(a->ctx, TC_E_TOO_BIG, "%zu items of %zu bytes do not fit size_t", count, item);
    return NULL;
}

#define TC__ANEW(a, T)          ((T *)tc__arena_alloc(a, sizeof(T)))
#define TC__ANEW_ARRAY(a, T, n) ((T *)tc__arena_array(a, (size_t)(n), sizeof(T)))

// Bytes of all its chunks.
TC__UNUSED static size_t tc__arena_bytes(const tc__arena *a) {
    size_t n = 0;
    for (const tc__chunk *k = a->first; k; k = k->next) n += k->size;
    return n;
}

// Ends the life of all blocks but keeps the chunks for the next round.
TC__UNUSED static void tc__arena_reset(tc__arena *a) {
    a->current = a->first;
    a->used = sizeof(tc__chunk);
}

// Gives everything back; the arena may be used again.
TC__UNUSED static void tc__arena_free(tc__arena *a) {
    while (a->first) {
        tc__chunk *next = a->first->next;
        tc__free(a->ctx, a->first, a->first->size);
        a->first = next;
    }
    tc__arena_init(a, a->ctx);
}

// ---- growable arrays: TC__VEC(int) v, zeroed; then v.at[i], v.count

#define TC__VEC(T)                                                                         \
    struct {                                                                               \
        T *at; /* owned; NULL while capacity is 0 */                                       \
        size_t count, capacity;                                                            \
    }

// Every TC__VEC has this shape. Its bytes are moved with memcpy, because a T * must not be
// accessed as a void *.
typedef TC__VEC(void) tc__vec_any;

// Makes room for `count` items in all; 0 = reported, the array unchanged.
TC__UNUSED static int tc__vec_reserve(tc_ctx *c, void *vec, size_t count, size_t item) {
    tc__vec_any v;
    size_t want, size;
    void *at;
    memcpy(&v, vec, sizeof(v));
    if (count <= v.capacity) return 1;
    want = v.capacity < 4 ? 8 : v.capacity + v.capacity / 2;
    if (want < count) want = count;
    if (!tc__mul_size(want, item, &size))
        return tc__fail(c, TC_E_TOO_BIG, "%zu items of %zu bytes do not fit", want, item);
    at = tc__realloc(c, v.at, v.capacity * item, size);
    if (!at) return 0;
    v.at = at;
    v.capacity = want;
    memcpy(vec, &v, sizeof(v));
    return 1;
}

TC__UNUSED static void tc__vec_free(tc_ctx *c, void *vec, size_t item) {
    tc__vec_any v;
    memcpy(&v, vec, sizeof(v));
    tc__free(c, v.at, v.capacity * item);
    memset(vec, 0, sizeof(v));
}

// v is the array itself, not a pointer to it. 1, or 0 = reported.
#define TC__VEC_RESERVE(c, v, n)                                                           \
    ((v).capacity >= (size_t)(n) || tc__vec_reserve(c, &(v), (size_t)(n), sizeof(*(v).at)))
#define TC__PUSH(c, v, value)                                                              \
    (TC__VEC_RESERVE(c, v, (v).count + 1) && ((v).at[(v).count++] = (value), 1))
#define TC__VEC_FREE(c, v) tc__vec_free(c, &(v), sizeof(*(v).at))
