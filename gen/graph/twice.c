// What a call would write twice: of the tensors that it writes, two that show some of the same memory, by views of one
// buffer, by tc_wrap of the same bytes or as one handle. One step would leave what only one of them was to become.
//
// Input: a tc__target for each of them. Output: the first two that meet. Lists have thousands, and are looked at whenever
// a step is recorded: those that have their memory alone, as nearly all, are told by a hash of what owns it. Where the
// others' bytes from first to last meet, as those of columns of one matrix, they are sorted again, by where they lie in
// one period of the largest stride. So parts of one buffer cost n log n as well, and pairs are looked at where few are left.

enum { TC__TARGET_OF_ALL = -1, TC__TARGETS_FEW = 8, TC__TARGETS_DEEP = 2 * TC_MAX_RANK };

// A tensor that is written.
typedef struct tc__target {
    tc_tensor t;
    const char *name;  // what the call has it as: "parameter"; static
    int at;            // number in a list, or TC__TARGET_OF_ALL
    uint32_t number;   // of those before it
    uint64_t owner;    // of its memory: a storage or step, by its address, or its handle
    int alone;         // that memory is no other's
    uint64_t space;    // where bytes are counted: a device, by addresses, or an owner
    uint32_t layout;   // 0 = it is not known
    int64_t origin;    // where its owner's memory begins, in bytes,
    int64_t begin;     //   its element 0,
    int64_t low, high; //   its first byte, and the one behind its last,
    int64_t from, to;  //   and those in a period
} tc__target;

typedef struct tc__targets {
    tc_ctx *c;
    TC__VEC(tc__target) all;
    int meet;
    tc__target first, again; // two that do, `again` as far ahead as can be
} tc__targets;

// ---- where a tensor lies ----

// The open visit that t is a result of, which may be in memory behind a break; NULL = it is none.
static const tc__visit *tc__target_visit(tc_ctx *c, tc_tensor t) {
    const tc__visit *v = tc__is_visit(t) ? tc__visit_find(c, t) : NULL;
    int open = v && v->state == TC__VISIT_OPEN && tc__position(t) < v->path.count;
    return open ? v : NULL;
}

// The storage that t has or will have, what owns it, and its begin there in elements.
static const tc__storage *tc__target_storage(tc_ctx *c, tc_tensor t, uint64_t *owner,
                                             int64_t *begin) {
    const tc__visit *v = tc__target_visit(c, t);
    const tc__tensor *e = v ? NULL : tc__tensor_find(c, t);
    const tc__storage *in = e ? e->storage : NULL;
    *owner = t.id, *begin = e ? e->offset : 0;
    if (v) {
        uint32_t code = tc__memory_of(v, tc__position(t)), is = code & ~TC__EXTERNAL;
        if (code == is) return *owner = (uint64_t)(uintptr_t)v->path.at[is], in;
        in = v->external.at[is].storage, *begin = v->external.at[is].offset;
    }
    if (in) *owner = (uint64_t)(uintptr_t)in;
    return in;
}

// Adds a tensor that is alive. 0 = out of memory.
static int tc__targets_add(tc__targets *all, tc_tensor t, const char *name, int at) {
    tc__target s;
    memset(&s, 0, sizeof s);
    s.t = t, s.name = name, s.at = at, s.number = (uint32_t)all->all.count;
    const tc__storage *in = tc__target_storage(all->c, t, &s.owner, &s.begin);
    s.alone = !in || in->owner == TC__OWNED;
    return TC__PUSH(all->c, all->all, s);
}

// Its bytes; 0 = it has none.
static int tc__target_lay(tc_ctx *c, tc__target *s) {
    const tc__visit *v = tc__target_visit(c, s->t);
    const tc__storage *in = tc__target_storage(c, s->t, &s->owner, &s->begin);
    int64_t within = 0;
    s->layout =
        v ? tc__code_layout(c, v, tc__position(s->t), &within) : tc__layout_of(c, s->t);
    s->space = s->owner, s->high = 1;
    if (s->layout) {
        const tc__layout *l = tc__layout_at(c, s->layout);
        int64_t size = (int64_t)tc__dtype(l->dtype)->bytes;
        if (!l->numel) return 0;
        if (in) s->space = l->device, s->origin = (int64_t)(intptr_t)in->data;
        s->begin = s->origin + (s->begin + within) * size;
        s->low = s->begin + l->low * size, s->high = s->begin + (l->high + 1) * size;
    }
    s->from = s->low, s->to = s->high;
    return 1;
}

// ---- which of them meet ----

// Whether they have an element in common; 0 is sure.
static int tc__target_meets(tc_ctx *c, const tc__target *a, const tc__target *b) {
    if (a->space != b->space || a->high <= b->low || b->high <= a->low) return 0;
    if (!a->layout || !b->layout) return 1; // one handle
    const tc__layout *l = tc__layout_at(c, a->layout), *m = tc__layout_at(c, b->layout);
    int64_t size = (int64_t)tc__dtype(l->dtype)->bytes, apart = b->begin - a->begin;
    if (size != (int64_t)tc__dtype(m->dtype)->bytes || apart % size) return 1;
    return tc__layouts_meet(l, 0, m, apart / size);
}

static void tc__targets_note(tc__targets *all, const tc__target *a, const tc__target *b) {
    const tc__target *first = a->number < b->number ? a : b, *again = first == a ? b : a;
    if (all->meet &&
        (all->again.number < again->number ||
         (all->again.number == again->number && all->first.number <= first->number)))
        return;
    all->meet = 1, all->first = *first, all->again = *again;
}

// Of targets in order each with each, as far as their bytes meet.
static void tc__targets_pairs(tc__targets *all, const tc__target *s, size_t n) {
    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1; k < n && s[k].from < s[i].to; k++)
            if (tc__target_meets(all->c, &s[i], &s[k])) tc__targets_note(all, &s[i], &s[k]);
}

static int tc__target_order(const void *x, const void *y) {
    const tc__target *a = (const tc__target *)x, *b = (const tc__target *)y;
    if (a->space != b->space) return a->space < b->space ? -1 : 1;
    if (a->from != b->from) return a->from < b->from ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

// The largest stride of s below `below`, and the bytes from first to last that those below it reach.
static int64_t tc__target_stride(tc_ctx *c, const tc__target *s, int64_t below,
                                 int64_t *reach) {
    const tc__layout *l = s->layout ? tc__layout_at(c, s->layout) : NULL;
    int64_t size = l ? (int64_t)tc__dtype(l->dtype)->bytes : 1, most = 0;
    *reach = size;
    for (int d = 0; l && d < l->rank; d++) {
        int64_t stride = (l->strides[d] < 0 ? -l->strides[d] : l->strides[d]) * size;
        if (l->dims[d] <= 1 || stride >= below) continue;
        *reach += (l->dims[d] - 1) * stride;
        if (stride > most) most = stride;
    }
    return most;
}

// Where periods begin: where the memory does, so that no part of a matrix lies across the end of one, if it is one's.
static int64_t tc__targets_origin(const tc__target *s, size_t n) {
    for (size_t i = 1; i < n; i++)
        if (s[i].owner != s[0].owner) return s[0].from;
    return s[0].origin;
}

// Targets of one space by where they lie in a period, the largest of their strides below `below`, which this gives.
// 0 = nothing has changed: there is none, or one lies across its end.
static int64_t tc__targets_fold(tc_ctx *c, tc__target *s, size_t n, int64_t below) {
    int64_t period = 0, reach, first = below == INT64_MAX ? tc__targets_origin(s, n) : 0;
    for (size_t i = 0; i < n; i++) {
        int64_t stride = tc__target_stride(c, &s[i], below, &reach);
        if (stride > period) period = stride;
    }
    for (size_t i = 0; i < n && period; i++) {
        tc__target_stride(c, &s[i], period, &reach);
        if ((s[i].from - first) % period + reach > period) return 0;
    }
    for (size_t i = 0; i < n && period; i++) {
        tc__target_stride(c, &s[i], period, &reach);
        s[i].from = (s[i].from - first) % period, s[i].to = s[i].from + reach;
    }
    return period;
}

static void tc__targets_search(tc__targets *all, tc__target *s, size_t n, int64_t below,
                               int deep) {
    size_t end;
    qsort(s, n, sizeof *s, tc__target_order);
    for (size_t at = 0; at < n; at = end) {
        int64_t to = s[at].to, period = 0;
        for (end = at + 1; end < n && s[end].space == s[at].space && s[end].from < to;
             end++)
            if (s[end].to > to) to = s[end].to;
        if (end - at > TC__TARGETS_FEW && deep < TC__TARGETS_DEEP)
            period = tc__targets_fold(all->c, s + at, end - at, below);
        if (period)
            tc__targets_search(all, s + at, end - at, period, deep + 1);
        else
            tc__targets_pairs(all, s + at, end - at);
    }
}

// Finds those whose memory may be another one's, too. 0 = out of memory.
static int tc__targets_crowd(tc__targets *all) {
    size_t n = all->all.count, room = 2 * TC__TARGETS_FEW, at;
    tc__target *s = all->all.at;
    while (room < 2 * n) room *= 2;
    uint32_t *known = TC__NEW_ARRAY(all->c, uint32_t, room); // 1 + the last of an owner
    for (size_t i = 0; known && i < n; i++) {
        at = (size_t)tc__hash_mix(0, s[i].owner) & (room - 1);
        while (known[at] && s[known[at] - 1].owner != s[i].owner)
            at = (at + 1) & (room - 1);
        if (known[at]) s[i].alone = s[known[at] - 1].alone = 0;
        known[at] = (uint32_t)i + 1;
    }
    if (known) TC__FREE_ARRAY(all->c, known, room);
    return known != NULL;
}

// Finds out whether some of them meet. 0 = out of memory.
static int tc__targets_look(tc__targets *all) {
    tc__target *s = all->all.at;
    size_t n = 0;
    if (!tc__targets_crowd(all)) return 0;
    for (size_t i = 0; i < all->all.count; i++)
        if (!s[i].alone && tc__target_lay(all->c, &s[i])) s[n++] = s[i];
    if (n > 1) tc__targets_search(all, s, n, INT64_MAX, 0);
    return 1;
}
