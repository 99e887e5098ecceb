// What late reads compute from. Input: a visit, and what its program writes. Output: copies of that, which the visit has in place.
// A result that no program stored is computed when it is read, from the externals of its visit. The first
// visits of a path learn which those are, so they must find what they had: memory that a program writes
// is copied before, and what the user wrapped, who may write it at any time, as the visit ends.

static int tc__program_writes(const tc__program *p) {
    for (size_t i = 0; i < p->output.count; i++)
        if (p->output.at[i].position == UINT32_MAX) return 1;
    return 0;
}

// Bytes of copies, at most: of a storage that the user wrapped, and of all that a visit has of what is written. A model's
// weights and what an optimiser keeps would take their memory twice: of such a visit nothing is kept, and who reads late
// is told to keep what he reads.
enum { TC__UNDO_WRAPPED = 64 << 20, TC__UNDO_WRITTEN = 256 << 20 };

// What the externals of a visit show of one storage, copied.
typedef struct tc__undo {
    tc__storage *copy; // NULL = there is none
    size_t begin;      // of it in the storage, in bytes
    int failed;        // there is none since the device failed, reported
} tc__undo;

// The bytes of storage `s` that visit v reaches, whole cache lines of them but at the end.
static void tc__undo_reach(tc_ctx *c, const tc__visit *v, const tc__storage *s,
                           size_t *begin, size_t *end) {
    *begin = s->bytes, *end = 0;
    for (size_t i = 0; i < v->external.count; i++) {
        const tc__external *e = &v->external.at[i];
        const tc__layout *l = tc__layout_at(c, e->layout);
        int64_t bytes = (int64_t)tc__dtype(l->dtype)->bytes;
        if (e->storage != s || !l->numel) continue;
        size_t low = (size_t)((e->offset + l->low) * bytes) / 64 * 64;
        size_t high = (size_t)((e->offset + l->high + 1) * bytes);
        if (low < *begin) *begin = low;
        if (high > *end) *end = high;
    }
}

// A copy of what visit v reaches of storage `s`; none where it would be more than `most`, or without memory, which is no
// error.
static tc__undo tc__undo_copy(tc_ctx *c, const tc__visit *v, const tc__storage *s,
                              size_t most) {
    tc__undo u;
    size_t end;
    u.copy = NULL, u.failed = 0;
    tc__undo_reach(c, v, s, &u.begin, &end);
    if (s->constant || u.begin >= end || end - u.begin > most) return u;
    tc__error_mark before = tc__error_now(c);
    tc_status outer = tc__unit_begin(c);
    u.copy = tc__storage_on(c, tc__device_of_storage(c, s), end - u.begin);
    int full = tc__unit_end(c, outer, u.copy != NULL) == TC_E_NOMEM;
    if (full) tc__error_restore(c, before);
    if (full || (u.copy && tc__device_copy(c, tc__device_of_storage(c, s),
                                           "a copy of what is written", u.copy->data,
                                           (const char *)s->data + u.begin, u.copy->bytes)))
        return u;
    tc__storage_unref(c, u.copy);
    u.copy = NULL, u.failed = 1;
    return u;
}

// Visit v, which is over or has run, computes from the copy, and gives up the storage.
static void tc__undo_use(tc_ctx *c, tc__visit *v, tc__storage *s, tc__undo u) {
    for (size_t i = 0; u.copy && i < v->external.count; i++) {
        tc__external *e = &v->external.at[i];
        size_t bytes = tc__dtype(tc__layout_at(c, e->layout)->dtype)->bytes;
        if (e->storage != s) continue;
        e->storage = u.copy, e->version = u.copy->version, u.copy->refs++;
        e->offset -= (int64_t)(u.begin / bytes);
        tc__storage_unref(c, s);
    }
    tc__storage_unref(c, u.copy);
}

// Before storage `s` is written: visits that are over keep what it holds. 0 = reported.
static int tc__undo_write(tc_ctx *c, tc__storage *s) {
    int ok = 1;
    for (tc__region *r = tc__recorder_of(c)->region; r; r = r->next)
        for (int i = 0; i < TC__VISITS && r->visit[i]; i++) {
            tc__visit *v = r->visit[i];
            if (!v->young || v->state != TC__VISIT_DONE) continue;
            tc__undo u = tc__undo_copy(c, v, s, TC__UNDO_WRITTEN - v->copied);
            v->copied += u.copy ? u.copy->bytes : 0;
            tc__undo_use(c, v, s, u);
            ok &= !u.failed;
        }
    s->watched = !ok;
    return ok;
}

static int tc__undo_writes(const tc__program *p, const tc__visit *v) {
    for (size_t i = 0; i < p->output.count; i++) {
        const tc__output *o = &p->output.at[i];
        if (o->position != UINT32_MAX) continue;
        tc__storage *s = v->external.at[o->external].storage;
        if (TC__UNLIKELY(s->watched) && !tc__undo_write(p->ctx, s)) return 0;
    }
    return 1;
}

// ---- of a visit that runs ----

// Whether a late read needs a copy of external i, which is the first on its storage: the program writes the
// storage, or the user wrapped it.
static int tc__is_undone(const tc__visit *v, const tc__program *p, size_t i) {
    if (v->external.at[i].storage->owner == TC__WRAPPED) return 1;
    for (size_t k = 0; k < p->output.count; k++)
        if (p->output.at[k].position == UINT32_MAX &&
            v->external.at[p->output.at[k].external].alias == i)
            return 1;
    return 0;
}

// Bytes of the written storages that copies would be made of.
static size_t tc__undo_bytes(tc_ctx *c, const tc__visit *v, const tc__program *p) {
    size_t all = 0;
    for (size_t i = 0; i < v->external.count; i++) {
        const tc__external *e = &v->external.at[i];
        size_t begin, end;
        if (e->alias != i || e->storage->owner == TC__WRAPPED || !tc__is_undone(v, p, i))
            continue;
        tc__undo_reach(c, v, e->storage, &begin, &end);
        all += end > begin ? end - begin : 0;
    }
    return all;
}

// Copies for late reads of the young visit, by external, before its program runs; NULL = there are none.
static tc__undo *tc__undo_save(tc_ctx *c, tc__visit *v, const tc__program *p) {
    size_t n = v->external.count, bytes = tc__undo_bytes(c, v, p);
    size_t most = bytes <= TC__UNDO_WRITTEN ? bytes : 0;
    int any = tc__program_writes(p);
    for (size_t i = 0; i < n; i++) any |= v->external.at[i].storage->owner == TC__WRAPPED;
    tc__error_mark before = tc__error_now(c);
    tc__undo *u = any ? TC__NEW_ARRAY(c, tc__undo, n) : NULL;
    if (!u) tc__error_restore(c, before);
    for (size_t i = 0; u && i < n; i++) {
        const tc__external *e = &v->external.at[i];
        int wrapped = e->storage->owner == TC__WRAPPED;
        if (e->alias == i && tc__is_undone(v, p, i))
            u[i] =
                tc__undo_copy(c, v, e->storage, wrapped ? (size_t)TC__UNDO_WRAPPED : most);
    }
    v->copied = bytes <= TC__UNDO_WRITTEN ? bytes : (size_t)TC__UNDO_WRITTEN;
    return u;
}

// The visit has run: it computes from the copies, and what has none is watched.
static void tc__undo_settle(tc_ctx *c, tc__visit *v, tc__undo *u) {
    size_t n = v->external.count;
    for (size_t i = 0; i < n; i++)
        if (u && u[i].copy)
            tc__undo_use(c, v, v->external.at[i].storage, u[i]);
        else
            v->external.at[i].storage->watched = 1;
    if (u) TC__FREE_ARRAY(c, u, n);
}
