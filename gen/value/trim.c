// Memory whose owner has ended: what other tensors show of it stays, the rest is given back. So tc_free(z) frees z, also
// where somebody has read tc_item(tc_slice(z, ...)), which leaves a view that nobody can free: the view keeps its
// elements, in memory of their own. Views that share elements go on sharing them.
//
// Only memory that is known by tensors alone can move: not what a visit, a program, another context or the user's own
// pointer (tc_data) holds. What a visit holds is looked at again when tensors end later.

// tc_data has given a pointer into the memory of t, which is right for as long as t lives.
static void tc__tensor_lend(tc_ctx *c, tc_tensor t) {
    tc__tensor *m = tc__slot_find(c, t);
    if (!m) m = tc__known_find(c, t.id);
    if (m) m->lent = 1;
}

// What a tensor shows of a storage, in bytes.
typedef struct tc__shown {
    tc__tensor *t;
    int64_t low, high;
} tc__shown;

typedef TC__VEC(tc__shown) tc__all_shown;

static int tc__shown_order(const void *a, const void *b) {
    int64_t x = ((const tc__shown *)a)->low, y = ((const tc__shown *)b)->low;
    return x < y ? -1 : x > y;
}

// The tensors of a storage, by where they begin, rounded so that elements stay aligned as they are. 0 = a pointer of the
// user's shows it too, or there is no memory for the list.
static int tc__storage_shown(tc_ctx *c, const tc__storage *s, tc__all_shown *out) {
    tc__values *v = tc__values_of(c);
    for (size_t i = 0; i < v->slot.count; i++) {
        tc__shown e;
        e.t = v->slot.at[i];
        if (!e.t->epoch || e.t->storage != s) continue;
        const tc__layout *l = tc__layout_at(c, e.t->layout);
        int64_t bytes = (int64_t)tc__dtype(l->dtype)->bytes;
        e.low = (e.t->offset + l->low) * bytes,
        e.high = (e.t->offset + l->high + 1) * bytes;
        if (!l->numel) e.high = e.low;
        e.low -= e.low % TC__STORAGE_ALIGN;
        if (e.t->lent || !TC__PUSH(c, *out, e)) return 0;
    }
    qsort(out->at, out->count, sizeof *out->at, tc__shown_order);
    return 1;
}

// How many from tensor i on share elements, each with one before it, and the end of what they show.
static size_t tc__shown_together(const tc__all_shown *all, size_t i, int64_t *end) {
    size_t n = 1;
    *end = all->at[i].high;
    for (; i + n < all->count && all->at[i + n].low < *end; n++)
        if (all->at[i + n].high > *end) *end = all->at[i + n].high;
    return n;
}

static size_t tc__shown_bytes(const tc__all_shown *all) {
    size_t sum = 0;
    int64_t end;
    for (size_t i = 0, n; i < all->count; i += n) {
        n = tc__shown_together(all, i, &end);
        sum += (size_t)(end - all->at[i].low) + TC__SLAB_SLACK;
    }
    return sum;
}

// The tensors [i, i + n) of a storage, which show it from the first one's beginning to `end`, get memory of their own.
static int tc__shown_move(tc_ctx *c, const tc__shown *e, size_t n, int64_t end) {
    tc__storage *from = e->t->storage, *to;
    size_t size = (size_t)(end - e->low) + TC__SLAB_SLACK,
           there = from->bytes - (size_t)e->low;
    to = tc__storage_new(c, size);
    if (!to) return 0;
    memcpy(to->data, (char *)from->data + e->low, there < size ? there : size);
    to->version = from->version, to->watched = from->watched, to->refused = from->refused;
    to->refs = (uint32_t)n;
    for (size_t i = 0; i < n; i++) {
        tc__tensor *t = e[i].t;
        int64_t bytes = (int64_t)tc__dtype(tc__layout_at(c, t->layout)->dtype)->bytes;
        t->storage = to, t->offset -= e->low / bytes;
        tc__storage_unref(c, from);
    }
    return 1;
}

// Gives back what no tensor shows of a storage, if that is more than half of it. 0 = somebody else holds it: later. Without
// memory to move to all stays.
static int tc__storage_trim(tc_ctx *c, tc__storage *s) {
    tc__error_mark before = tc__error_now(c);
    tc__all_shown all;
    int done = 1;
    int64_t end;
    memset(&all, 0, sizeof all);
    s->loose = 0;
    if (tc__storage_shown(c, s, &all) && tc__shown_bytes(&all) <= s->bytes / 2) {
        done = all.count == s->refs;
        s->loose = !done;
        for (size_t i = 0, n; done && i < all.count; i += n) {
            n = tc__shown_together(&all, i, &end);
            if (!tc__shown_move(c, &all.at[i], n, end)) break;
        }
    }
    TC__VEC_FREE(c, all);
    tc__error_restore(c, before);
    return done;
}

// At the end of a call that ends tensors: nothing else has addresses or offsets at hand. What is held elsewhere
// is looked for again when an eighth of the tensors have ended, so that the looking costs little for each.
static void tc__values_trim(tc_ctx *c) {
    tc__values *v = tc__values_of(c);
    if (!v->loose || v->deaths - v->trimmed_at < v->trim_after) return;
    if (v->parent || v->children || tc__core_of(c)->frozen) return;
    v->loose = 0, v->trimmed_at = v->deaths, v->trim_after = 0;
    for (size_t i = 0; i < v->slot.count; i++) {
        const tc__tensor *t = v->slot.at[i];
        if (t->epoch && t->storage->loose && !tc__storage_trim(c, t->storage)) v->loose = 1;
    }
    if (v->loose) v->trim_after = (uint32_t)(v->slot.count / 8);
}
