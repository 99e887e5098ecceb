// Families: a context whose tensors other threads read, each through a context of its own.
// A child sees the parent's tensors that were alive when it was opened, under their own handles: it
// keeps a table of them with storage that only points at the parent's memory, which is held until the
// child is closed. So nothing of the parent is looked at, let alone locked, while children run.
//
// A handle of the parent leads to the parent, also in code that runs for a child (a body with weights
// in *user). What a thread has open decides, else with whom it works: tc__ctx_here finds the child.

// Storage of the parent that a child holds; given back when the child is closed.
struct tc__held {
    struct tc__held *next;
    size_t count;
    tc__storage *at[1]; // count of them
};

struct tc__family {
    tc__mutex lock;
    tc_ctx *parent;
    int closing; // the parent was closed, and waits for its children
    tc_ctx *child[TC__CTX_SLOTS];
    tc__held *returned; // of closed children; the parent lets go of it
};

static size_t tc__held_size(size_t count) {
    return sizeof(tc__held) + count * sizeof(tc__storage *);
}

// The parent's family, made if need be; NULL = reported.
static tc__family *tc__family_of(tc_ctx *parent) {
    tc__values *v = tc__values_of(parent);
    const tc_allocator *hook = &tc__core_of(parent)->hook;
    if (v->family) return v->family;
    tc__family *f = (tc__family *)tc__hook_realloc(hook, NULL, 0, sizeof(tc__family));
    if (!f) return tc__fail(parent, TC_E_NOMEM, "tc_open_shared"), (tc__family *)NULL;
    memset(f, 0, sizeof *f);
    f->parent = parent;
    tc__mutex_init(&f->lock);
    v->family = f;
    return f;
}

static void tc__family_free(tc_ctx *parent) {
    tc__values *v = tc__values_of(parent);
    tc_allocator hook = tc__core_of(parent)->hook;
    if (!v->family) return;
    tc__mutex_free(&v->family->lock);
    tc__hook_realloc(&hook, v->family, sizeof *v->family, 0);
    v->family = NULL;
}

// On the parent's side: lets go of what closed children held.
static void tc__family_settle(tc_ctx *parent) {
    tc__family *f = tc__values_of(parent)->family;
    if (!f) return;
    tc__mutex_lock(&f->lock);
    tc__held *h = f->returned, *next;
    f->returned = NULL;
    tc__mutex_unlock(&f->lock);
    for (; h; h = next) {
        next = h->next;
        for (size_t i = 0; i < h->count; i++) tc__storage_unref(parent, h->at[i]);
        tc__hook_realloc(&tc__core_of(parent)->hook, h, tc__held_size(h->count), 0);
    }
}

// ---- the child's table ----

// Storage of the child that points at the parent's; 0 = out of memory.
static tc__storage *tc__import_storage(tc_ctx *c, tc__held *held, tc__map *seen,
                                       tc__storage *from) {
    uint64_t known;
    if (tc__map_get(seen, (uint64_t)(uintptr_t)from, &known))
        return (tc__storage *)(uintptr_t)known;
    tc__storage *s = tc__storage_wrap(c, from->data, from->bytes);
    if (!s || !tc__map_set(seen, (uint64_t)(uintptr_t)from, (uint64_t)(uintptr_t)s))
        return tc__free(c, s, sizeof *s), (tc__storage *)NULL;
    s->owner = TC__SHARED, s->constant = from->constant, s->refs = 0;
    from->refs++;
    held->at[held->count++] = from;
    return s;
}

// What is on a device stays the parent's: that is for one thread. The child knows of it, to say so.
static int tc__import(tc_ctx *c, tc_ctx *parent, tc__held *held, tc__map *seen, uint64_t id,
                      const tc__tensor *from) {
    const tc__layout *l = tc__layout_at(parent, from->layout);
    if (l->device) return tc__map_set(&tc__values_of(c)->import, id, 0);
    uint32_t layout = tc__layout_intern(c, l->dtype, l->rank, l->dims, l->strides);
    tc__tensor *t = layout ? TC__NEW(c, tc__tensor) : NULL;
    tc__storage *s = t ? tc__import_storage(c, held, seen, from->storage) : NULL;
    if (!s) return tc__free(c, t, sizeof *t), 0;
    t->epoch = from->epoch, t->layout = layout, t->storage = s, t->offset = from->offset;
    t->file = from->file, t->line = from->line;
    s->refs++;
    if (tc__map_set(&tc__values_of(c)->import, id, (uint64_t)(uintptr_t)t)) return 1;
    tc__storage_unref(c, s);
    tc__free(c, t, sizeof *t);
    return 0;
}

// Whether `h` is a tensor of the parent's that is on a device.
static int tc__import_is_on_device(tc_ctx *c, tc_tensor h) {
    uint64_t found;
    return tc__map_get(&tc__values_of(c)->import, h.id, &found) && !found;
}

// The child's storage that points at the parent's `from`; NULL = it does not hold that.
static tc__storage *tc__import_held(tc_ctx *c, const tc__storage *from) {
    const tc__map *m = &tc__values_of(c)->import;
    for (size_t i = 0; i < m->capacity; i++) {
        const tc__tensor *t = m->at[i].key ? (tc__tensor *)(uintptr_t)m->at[i].value : NULL;
        if (t && t->storage->data == from->data && t->storage->bytes == from->bytes)
            return t->storage;
    }
    return NULL;
}

// A view that the parent has made since, of what the child holds. The parent is looked at only by the thread
// that works with it, too.
static tc__tensor *tc__import_view(tc_ctx *c, tc_tensor h) {
    tc_ctx *parent = tc__values_of(c)->parent;
    unsigned slot = (unsigned)(h.id >> 56);
    if (!parent || tc__values_of(parent)->slot_of_ctx != slot) return NULL;
    if (!tc__ctx_is_used(slot, tc__thread_self())) return NULL;
    const tc__tensor *from = tc__slot_find(parent, h);
    const tc__layout *l = from ? tc__layout_at(parent, from->layout) : NULL;
    tc__storage *s = l && !l->device ? tc__import_held(c, from->storage) : NULL;
    if (!s) return NULL;
    uint32_t layout = tc__layout_intern(c, l->dtype, l->rank, l->dims, l->strides);
    tc__tensor *t = layout ? TC__NEW(c, tc__tensor) : NULL;
    if (!t) return NULL;
    t->epoch = from->epoch, t->layout = layout, t->storage = s, t->offset = from->offset;
    t->file = from->file, t->line = from->line, s->refs++;
    if (tc__map_set(&tc__values_of(c)->import, h.id, (uint64_t)(uintptr_t)t)) return t;
    tc__storage_unref(c, s);
    return tc__free(c, t, sizeof *t), (tc__tensor *)NULL;
}

// The parent's tensor `h` as the child has it, NULL if it has none of this handle.
static tc__tensor *tc__import_find(tc_ctx *c, tc_tensor h) {
    uint64_t found;
    if (!tc__map_get(&tc__values_of(c)->import, h.id, &found)) return tc__import_view(c, h);
    return (tc__tensor *)(uintptr_t)found;
}

static void tc__imports_free(tc_ctx *c) {
    tc__map *m = &tc__values_of(c)->import;
    for (size_t i = 0; i < m->capacity; i++) {
        tc__tensor *t = m->at[i].key ? (tc__tensor *)(uintptr_t)m->at[i].value : NULL;
        if (!t) continue;
        tc__storage_unref(c, t->storage);
        tc__free(c, t, sizeof *t);
    }
    tc__map_free(m);
}

// ---- membership ----

// Child c sees the live tensors of the parent that are the caller's. 0 = reported.
static int tc__family_join(tc_ctx *c, tc_ctx *parent) {
    tc__values *v = tc__values_of(c), *from = tc__values_of(parent);
    tc__family *f = from->family;
    size_t room = from->slot.count;
    tc__held *held = (tc__held *)tc__hook_realloc(&tc__core_of(parent)->hook, NULL, 0,
                                                  tc__held_size(room));
    tc__map seen;
    int ok = held != NULL;
    if (!ok) return tc__fail(parent, TC_E_NOMEM, "tc_open_shared");
    held->count = 0, held->next = NULL;
    tc__map_init(&seen, c);
    for (uint32_t i = 0; ok && i < from->slot.count; i++) {
        const tc__tensor *t = from->slot.at[i];
        if (t->epoch && t->scope != TC__OF_REGION)
            ok = tc__import(c, parent, held, &seen, t->id, t);
    }
    tc__map_free(&seen);
    // The block is given back at its full size.
    for (size_t i = held->count; i < room; i++) held->at[i] = NULL;
    held->count = room;
    v->held = held, v->parent = parent;
    tc__mutex_lock(&f->lock);
    f->child[v->slot_of_ctx] = c;
    tc__mutex_unlock(&f->lock);
    (void)tc__atomic_add32(&from->children, 1);
    return ok;
}

// The child is closed. Gives the parent if it was waiting for this one to be closed too.
static tc_ctx *tc__family_leave(tc_ctx *c) {
    tc__values *v = tc__values_of(c);
    tc_ctx *parent = v->parent;
    if (!parent) return NULL;
    tc__family *f = tc__values_of(parent)->family;
    tc__mutex_lock(&f->lock);
    f->child[v->slot_of_ctx] = NULL;
    v->held->next = f->returned, f->returned = v->held;
    int last = tc__atomic_add32(&tc__values_of(parent)->children, (uint32_t)-1) == 1;
    last = last && f->closing;
    tc__mutex_unlock(&f->lock);
    return last ? parent : NULL;
}

// Whether the parent has to wait for its children; the last of them closes it then.
static int tc__family_waits(tc_ctx *parent) {
    tc__values *v = tc__values_of(parent);
    if (!v->family) return 0;
    tc__mutex_lock(&v->family->lock);
    int waits = tc__atomic_load32(&v->children) != 0;
    v->family->closing = waits;
    tc__mutex_unlock(&v->family->lock);
    return waits;
}

// The context in which code about a tensor of `c` runs on this thread: a child of it that has something open
// here; c, if this thread has opened that and no other has worked with it since; else the child that this thread
// has worked with, or c.
static tc_ctx *tc__ctx_here(tc_ctx *c) {
    tc__family *f = tc__values_of(c)->family;
    uint64_t me = tc__thread_self();
    tc_ctx *open = NULL, *used = NULL;
    tc__mutex_lock(&f->lock);
    unsigned own = tc__values_of(c)->slot_of_ctx;
    int mine = !f->closing && tc__ctx_is_opened(own, me) && tc__ctx_is_used(own, me);
    for (unsigned i = 1; i < TC__CTX_SLOTS && !open; i++) {
        if (!f->child[i]) continue;
        if (tc__atomic_load64(&tc__values_of(f->child[i])->here) == me) open = f->child[i];
        if (!used && !mine && tc__ctx_is_used(i, me)) used = f->child[i];
    }
    tc__mutex_unlock(&f->lock);
    return open ? open : used ? used : c;
}

// This thread runs code for child c, until *c->here gets back what was there.
static uint64_t tc__here_enter(tc_ctx *c) {
    tc__values *v = tc__values_of(c);
    if (!v->parent) return 0;
    uint64_t before = tc__atomic_load64(&v->here);
    tc__atomic_store64(&v->here, tc__thread_self());
    return before;
}

static void tc__here_leave(tc_ctx *c, uint64_t before) {
    tc__values *v = tc__values_of(c);
    if (v->parent) tc__atomic_store64(&v->here, before);
}
