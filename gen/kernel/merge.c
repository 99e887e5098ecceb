// Clusters that share a kernel. Two are merged while that is legal: the spaces agree, every load
// between them is at the point where the value is made (so it can stay in a register), and no cycle
// arises. Merging saves the bytes of the loads that become registers; nothing legal is refused for
// cost except long rows on few rows, where phases would run on one thread.
//
// There is no list of fusion patterns. Kernels that need nothing of each other are merged
// when they are small, or read something at the same index.

enum {
    TC__BODY_LIMIT = 600,  // nodes of one kernel
    TC__BUFFER_LIMIT = 64, // buffers of one kernel
    TC__FEW_ROWS = 8,      // with fewer rows than this, long rows are not fused over phases
    TC__LONG_ROW = 16384,
    TC__SMALL =
        65536 // elements; unrelated kernels of equal space up to this size are merged
};

// ---- joint spaces ----

static int64_t tc__space_rows(tc__ixpool *p, const tc__space *s, uint32_t columns) {
    int64_t n = 1;
    for (int i = 0; i < s->rank; i++)
        if (!(columns >> i & 1)) n = tc__ix_times(n, tc__ix_hi(p, s->dims[i]));
    return n;
}

static int tc__same_dims(const tc__space *a, const tc__space *b) {
    return a->rank == b->rank &&
           !memcmp(a->dims, b->dims, (size_t)a->rank * sizeof *a->dims);
}

// Is `b` the kept dimensions of `a`?
static int tc__is_row_space(tc__ixpool *p, const tc__space *a, const tc__space *b) {
    tc__ix flat;
    return a->reduced && !b->reduced && tc__fits(p, a, a->reduced, b->rank, b->dims, &flat);
}

static int tc__same_count(tc__ixpool *p, const tc__space *a, const tc__space *b) {
    tc__ix flat;
    return tc__fits(p, a, 0, b->rank, b->dims, &flat);
}

// Two reductions over equal columns: the same sizes and dimensions, or both over trailing dimensions
// of the same total.
static int tc__same_columns(tc__ixpool *p, const tc__space *a, const tc__space *b) {
    if (tc__same_dims(a, b)) return a->reduced == b->reduced;
    uint32_t x = a->reduced, y = b->reduced;
    int trailing = !(((x & (0u - x)) + x) & ((1u << a->rank) - 1)) &&
                   !(((y & (0u - y)) + y) & ((1u << b->rank) - 1));
    return trailing && tc__same_count(p, a, b) &&
           tc__space_size(p, a, x) == tc__space_size(p, b, y);
}

// The space both clusters would share; 0 = they cannot.
static int tc__joint_space(const tc__schedule *s, const tc__cluster *a,
                           const tc__cluster *b, tc__space *out) {
    tc__ixpool *p = s->g->ix;
    if (a->kind == TC__CONTRACTION || b->kind == TC__CONTRACTION) {
        *out = a->space;
        return b->kind == TC__POINTWISE && tc__same_count(p, &a->space, &b->space);
    }
    *out = a->space.reduced ? a->space : b->space;
    if (a->space.reduced && b->space.reduced)
        return tc__same_columns(p, &a->space, &b->space);
    if (tc__same_count(p, &a->space, &b->space)) return 1;
    return tc__is_row_space(p, &a->space, &b->space) ||
           tc__is_row_space(p, &b->space, &a->space);
}

// Where a reader of space `own` finds the element of root `n` that belongs to its point of the joint
// space, in the reader's variables. 0 = the joint space has no such point.
static int tc__expected_flat(tc__ixpool *p, const tc__space *own, const tc__space *joint,
                             const tc__node *n, tc__ix *flat) {
    tc__ix e, size = tc__space_size(p, joint, joint->reduced);
    if (tc__fits(p, own, 0, n->rank, n->dims, &e)) {
        *flat = e;
        return 1;
    }
    if (!joint->reduced || !tc__same_count(p, own, joint)) return 0;
    if (tc__same_dims(own, joint))
        return tc__fits(p, own, joint->reduced, n->rank, n->dims, flat);
    // Sizes differ: rows are the leading part only when the columns are trailing.
    if ((((joint->reduced & (0u - joint->reduced)) + joint->reduced) &
         ((1u << joint->rank) - 1)) != 0)
        return 0;
    *flat = tc__ix_div(p, e, size);
    return tc__dims_size(p, n->rank, n->dims) == tc__space_size(p, joint, ~joint->reduced);
}

// Use u is at the point of the joint space where the value is made.
static int tc__load_agrees(const tc__schedule *s, const tc__use *u,
                           const tc__space *joint) {
    const tc__node *n = s->g->node.at[s->root.at[u->root].node];
    tc__space own;
    tc__ix flat;
    if (u->guarded) return 0;
    tc__space_of(s, &s->root.at[u->reader], &own);
    return tc__expected_flat(s->g->ix, &own, joint, n, &flat) && u->index == flat;
}

// So is every load of `reader` from the cluster `from`.
static int tc__loads_agree(const tc__schedule *s, uint32_t reader, uint32_t from,
                           const tc__space *joint) {
    for (uint32_t r = s->cluster.at[reader].first; r != UINT32_MAX;
         r = s->root.at[r].next) {
        const tc__use *u = s->use.at + s->root.at[r].use;
        for (uint32_t i = 0; i < s->root.at[r].uses; i++)
            if (s->root.at[u[i].root].group == from && !tc__load_agrees(s, &u[i], joint))
                return 0;
    }
    return 1;
}

// ---- who needs whom ----

TC__ALWAYS_INLINE uint64_t *tc__bit_row(const tc__schedule *s, uint64_t *matrix,
                                        size_t row) {
    return matrix + row * s->words;
}

TC__ALWAYS_INLINE int tc__bit_get(const uint64_t *row, size_t i) {
    return (int)(row[i / 64] >> i % 64 & 1);
}

TC__ALWAYS_INLINE void tc__bit_set(uint64_t *row, size_t i) {
    row[i / 64] |= (uint64_t)1 << i % 64;
}

TC__ALWAYS_INLINE void tc__bit_clear(uint64_t *row, size_t i) {
    row[i / 64] &= ~((uint64_t)1 << i % 64);
}

// The first bit from *i on that is set, of `end`; 0 = there is none.
static int tc__bit_next(const uint64_t *row, size_t end, size_t *i) {
    while (*i < end && !(row[*i / 64] >> *i % 64 & 1))
        *i = row[*i / 64] >> *i % 64 ? *i + 1 : (*i / 64 + 1) * 64;
    return *i < end;
}

static void tc__bits_add(const tc__schedule *s, uint64_t *to, const uint64_t *from) {
    for (size_t i = 0; i < s->words; i++) to[i] |= from[i];
}

static int tc__bits_meet(const tc__schedule *s, const uint64_t *a, const uint64_t *b) {
    for (size_t i = 0; i < s->words; i++)
        if (a[i] & b[i]) return 1;
    return 0;
}

// ---- windows ----
// Who needs whom is a matrix, so a long program is merged in windows of TC__WINDOW_MOST roots: what a
// root costs does not grow with the program. As roots need earlier ones only, what stands between two
// of a window is in it, too. A window ends where the fewest values cross, in its second half.
//
// What a gradient wants of a product far ahead is made by the product's kernel only where both are in one window: so
// programs of some thousand ops, as a GPT's training step, have one.

enum {
    TC__WINDOW_MOST = 512,
    TC__WINDOW_ONE = 4096 // roots of a program that has one window
};

static size_t tc__window_most(const tc__schedule *s) {
    return s->root.count > TC__WINDOW_ONE ? TC__WINDOW_MOST : TC__WINDOW_ONE;
}

static uint32_t tc__in_window(const tc__schedule *s, uint32_t i) {
    return i - s->window[i];
}

// By root: values of earlier ones that it or a later one loads.
static void tc__count_crossing(const tc__schedule *s, uint32_t *crossing, uint32_t *last) {
    size_t n = s->root.count;
    for (uint32_t i = 0; i < n; i++) last[i] = i;
    for (size_t i = 0; i < s->use.count; i++)
        last[s->use.at[i].root] = s->use.at[i].reader; // in order
    for (uint32_t i = 0, open = 0; i < n; i++) {
        open -= crossing[i]; // those that end before
        crossing[i] = open;
        open += last[i] > i;
        if (last[i] > i && last[i] + 1 < n) crossing[last[i] + 1]++;
    }
}

static int tc__find_windows(tc__schedule *s) {
    size_t n = s->root.count, some = n ? n : 1, most = tc__window_most(s);
    s->window = TC__NEW_ARRAY(s->ctx, uint32_t, n);
    uint32_t *crossing = TC__NEW_ARRAY(s->ctx, uint32_t, n),
             *last = TC__NEW_ARRAY(s->ctx, uint32_t, n);
    int ok = s->window && crossing && last;
    if (ok) tc__count_crossing(s, crossing, last);
    for (uint32_t first = 0, end; ok && first < n; first = end) {
        end = (uint32_t)n;
        if (n - first > most) {
            end = first + (uint32_t)most;
            for (uint32_t i = end; i > first + most / 2; i--)
                if (crossing[i] < crossing[end]) end = i;
        }
        for (uint32_t i = first; i < end; i++) s->window[i] = first;
    }
    tc__free(s->ctx, crossing, some * sizeof *crossing);
    tc__free(s->ctx, last, some * sizeof *last);
    return ok;
}

static void tc__window_close(tc__schedule *s) {
    tc__free(s->ctx, s->window, (s->root.count ? s->root.count : 1) * sizeof *s->window);
    s->window = NULL;
}

// The places that clusters of a window load, numbered in it: at most `words` of them are told apart,
// which is all of them where a root loads few.
static int tc__relate_reads(tc__schedule *s) {
    size_t some = s->place_count ? s->place_count : 1;
    uint32_t *number = TC__NEW_ARRAY(s->ctx, uint32_t, s->place_count), count = 0;
    uint32_t *window = TC__NEW_ARRAY(s->ctx, uint32_t, s->place_count), now = 0;
    for (size_t i = 0; number && window && i < s->read.count; i++) {
        const tc__read *r = &s->read.at[i];
        uint32_t first = s->window[r->reader];
        if (first != now) now = first, count = 0;
        if (!number[r->place] || window[r->place] != first)
            number[r->place] = ++count, window[r->place] = first;
        uint32_t bit = number[r->place] - 1;
        if (bit < s->words * 64) tc__bit_set(tc__bit_row(s, s->reads, r->reader), bit);
    }
    int ok = number && window;
    tc__free(s->ctx, number, some * sizeof *number);
    tc__free(s->ctx, window, some * sizeof *window);
    return ok;
}

// The row of `one` takes over `other` and its row.
static void tc__relate_to(const tc__schedule *s, uint64_t *matrix, uint32_t one,
                          uint32_t other) {
    if (s->window[one] != s->window[other]) return;
    tc__bit_set(tc__bit_row(s, matrix, one), tc__in_window(s, other));
    tc__bits_add(s, tc__bit_row(s, matrix, one), tc__bit_row(s, matrix, other));
}

// One cluster per root so far. Uses are in order of their readers, and a root is loaded only by later
// ones: so rows are complete when they are added to others, in this order and in the reverse.
static int tc__relate(tc__schedule *s) {
    size_t n = s->cluster.count, window = tc__window_most(s),
           most = n < window ? n : window;
    size_t places = n <= window                 ? s->place_count
                    : s->place_count < 4 * most ? s->place_count
                                                : 4 * most;
    s->words = (most > places ? most : places) / 64 + 1;
    if (!s->window && !tc__find_windows(s)) return 0;
    s->reach = TC__NEW_ARRAY(s->ctx, uint64_t, n * s->words);
    s->into = TC__NEW_ARRAY(s->ctx, uint64_t, n * s->words);
    s->reads = TC__NEW_ARRAY(s->ctx, uint64_t, n * s->words);
    if (!s->reach || !s->into || !s->reads) return 0;
    for (size_t i = 0; i < s->use.count; i++)
        tc__relate_to(s, s->into, s->use.at[i].reader, s->use.at[i].root);
    for (size_t i = s->use.count; i-- > 0;)
        tc__relate_to(s, s->reach, s->use.at[i].root, s->use.at[i].reader);
    return tc__relate_reads(s);
}

static void tc__relate_close(tc__schedule *s) {
    size_t n = s->cluster.count * s->words;
    n = (n ? n : 1) * sizeof(uint64_t);
    tc__free(s->ctx, s->reach, n);
    tc__free(s->ctx, s->into, n);
    tc__free(s->ctx, s->reads, n);
    s->reach = s->into = s->reads = NULL;
}

// Is a value of one loaded by the other, maybe through others?
static int tc__related(const tc__schedule *s, uint32_t a, uint32_t b) {
    return tc__bit_get(tc__bit_row(s, s->reach, a), tc__in_window(s, b)) ||
           tc__bit_get(tc__bit_row(s, s->reach, b), tc__in_window(s, a));
}

// Does a third cluster stand between the two?
static int tc__would_cycle(const tc__schedule *s, uint32_t a, uint32_t b) {
    return tc__related(s, a, b) &&
           (tc__bits_meet(s, tc__bit_row(s, s->reach, a), tc__bit_row(s, s->into, b)) ||
            tc__bits_meet(s, tc__bit_row(s, s->reach, b), tc__bit_row(s, s->into, a)));
}

// In `matrix`, the row of a takes over b's; everyone who knew b knows a.
static void tc__relate_merge(const tc__schedule *s, uint64_t *matrix, uint32_t a,
                             uint32_t b) {
    uint64_t *row = tc__bit_row(s, matrix, a);
    tc__bits_add(s, row, tc__bit_row(s, matrix, b));
    tc__bit_clear(row, tc__in_window(s, a));
    tc__bit_clear(row, tc__in_window(s, b));
}

// Who knew both has what they know already.
static void tc__relate_both(tc__schedule *s, uint64_t *matrix, const uint64_t *back,
                            uint32_t a, uint32_t b) {
    const uint64_t *row = tc__bit_row(s, matrix, a);
    size_t x = tc__in_window(s, a), y = tc__in_window(s, b);
    for (size_t i = 0; tc__bit_next(back, s->words * 64, &i); i++) {
        uint64_t *other = tc__bit_row(s, matrix, s->window[a] + i);
        if (!tc__bit_get(other, x) || !tc__bit_get(other, y)) tc__bits_add(s, other, row);
        tc__bit_set(other, x);
        tc__bit_clear(other, y);
    }
}

// ---- how large they are together ----

// Of a kernel, at most.
typedef struct tc__size {
    uint32_t nodes, buffers;
} tc__size;

// Whether two roots are of one kernel that fits, so they are together in the end.
static int tc__in_one_part(const tc__schedule *s, uint32_t a, uint32_t b) {
    uint32_t part = s->part[s->root.at[a].node];
    return part && part == s->part[s->root.at[b].node];
}

static int tc__census_open(tc__schedule *s) {
    tc__census *c = &s->census;
    c->places = s->place_count, c->externals = 0;
    for (const tc__read *r = s->read.at, *end = r + s->read.count; r < end; r++)
        if (r->external && r->source >= c->externals) c->externals = r->source + 1;
    c->place = TC__NEW_ARRAY(s->ctx, uint64_t, c->places);
    c->external = TC__NEW_ARRAY(s->ctx, uint64_t, c->externals);
    c->op = TC__NEW_ARRAY(s->ctx, uint64_t, s->g->node.count);
    c->root = TC__NEW_ARRAY(s->ctx, uint64_t, s->root.count);
    c->inside = TC__NEW_ARRAY(s->ctx, uint32_t, s->root.count);
    for (const tc__use *u = s->use.at, *end = u + s->use.count; u < end; u++)
        if (!tc__in_one_part(s, u->reader, u->root)) s->root.at[u->root].readers++;
    return c->place && c->external && c->op && c->root && c->inside;
}

static void tc__census_close(tc__schedule *s) {
    tc__census *c = &s->census;
    size_t n = s->root.count ? s->root.count : 1;
    tc__free(s->ctx, c->place, (c->places ? c->places : 1) * sizeof *c->place);
    tc__free(s->ctx, c->external, (c->externals ? c->externals : 1) * sizeof *c->external);
    tc__free(s->ctx, c->op, (s->g->node.count ? s->g->node.count : 1) * sizeof *c->op);
    tc__free(s->ctx, c->root, n * sizeof *c->root);
    tc__free(s->ctx, c->inside, n * sizeof *c->inside);
    memset(c, 0, sizeof *c);
}

static int tc__census_meets(const tc__census *c, uint64_t *last) {
    int first = *last != c->number;
    *last = c->number;
    return first;
}

// The ops of root r, and what it loads from outside of clusters a and b, but what is counted already.
static void tc__count_root(tc__schedule *s, const tc__root *r, uint32_t a, uint32_t b,
                           tc__size *z) {
    tc__census *c = &s->census;
    for (uint32_t i = r->op; i < r->op + r->ops; i++)
        z->nodes += (uint32_t)tc__census_meets(c, &c->op[s->op.at[i]]);
    for (const tc__read *l = s->read.at + r->read, *end = l + r->reads; l < end; l++) {
        uint32_t group = l->external ? UINT32_MAX : s->root.at[l->source].group;
        if (!l->external && tc__in_one_part(s, l->reader, l->source)) continue;
        if (group != a && group != b) {
            uint64_t *from = l->external ? &c->external[l->source] : &c->root[l->source];
            z->nodes += (uint32_t)tc__census_meets(c, &c->place[l->place]);
            z->buffers += (uint32_t)tc__census_meets(c, from);
            continue;
        }
        if (tc__census_meets(c, &c->root[l->source])) c->inside[l->source] = 0;
        c->inside[l->source]++;
    }
}

// Of clusters a and b, or one, in one kernel: what one makes and the other reads is no load, what both load
// is one.
static tc__size tc__count_together(tc__schedule *s, uint32_t a, uint32_t b) {
    tc__census *c = &s->census;
    const uint32_t group[2] = {a, b};
    tc__size z = {0, 0};
    c->number++;
    for (int k = 0; k < 1 + (a != b); k++) {
        z.nodes += s->cluster.at[group[k]].taps;
        for (uint32_t i = s->cluster.at[group[k]].first; i != UINT32_MAX;
             i = s->root.at[i].next)
            tc__count_root(s, &s->root.at[i], a, b, &z);
    }
    for (int k = 0; k < 1 + (a != b); k++)
        for (uint32_t i = s->cluster.at[group[k]].first; i != UINT32_MAX;
             i = s->root.at[i].next) {
            const tc__root *r = &s->root.at[i];
            uint32_t inside = c->root[i] == c->number ? c->inside[i] : 0;
            z.buffers += r->output || inside < r->readers;
        }
    return z;
}

// ---- merging ----

// With few long rows, a reduction and what follows it along the row would run on one thread.
static int tc__rows_too_few(const tc__schedule *s, const tc__cluster *b,
                            const tc__space *joint) {
    if (!joint->reduced || !tc__same_count(s->g->ix, &b->space, joint)) return 0;
    int64_t rows = tc__space_rows(s->g->ix, joint, joint->reduced);
    int64_t all = tc__space_rows(s->g->ix, joint, 0);
    return rows < TC__FEW_ROWS && all > rows * TC__LONG_ROW;
}

// The roots of b are roots of a, whose list stays in order.
static void tc__join_roots(tc__schedule *s, uint32_t a, uint32_t b) {
    uint32_t *link = &s->cluster.at[a].first, from = s->cluster.at[b].first;
    while (from != UINT32_MAX) {
        while (*link < from) link = &s->root.at[*link].next;
        tc__root *r = &s->root.at[from];
        uint32_t next = r->next;
        r->group = a, r->next = *link;
        *link = from, from = next;
    }
}

static void tc__merge_into(tc__schedule *s, uint32_t a, uint32_t b, const tc__space *joint,
                           const tc__size *size) {
    tc__cluster *x = &s->cluster.at[a], *y = &s->cluster.at[b];
    tc__join_roots(s, a, b);
    x->space = *joint;
    if (x->again < y->again) x->again = y->again;
    if (x->behind < y->behind) x->behind = y->behind;
    if (x->block < y->block) x->block = y->block;
    if (!x->ahead || (y->ahead && y->ahead < x->ahead)) x->ahead = y->ahead;
    x->taps += y->taps, x->size = size->nodes, x->buffers = size->buffers;
    if (x->kind == TC__POINTWISE) x->kind = y->kind;
    y->alive = 0;
    tc__bits_add(s, tc__bit_row(s, s->reads, a), tc__bit_row(s, s->reads, b));
    tc__relate_merge(s, s->reach, a, b);
    tc__relate_merge(s, s->into, a, b);
    tc__relate_both(s, s->reach, tc__bit_row(s, s->into, a), a, b);
    tc__relate_both(s, s->into, tc__bit_row(s, s->reach, a), a, b);
}

// Whether a point of the cluster makes many elements of one result: nothing is left to share, and there are no registers for two.
static int tc__is_unrolled(const tc__schedule *s, const tc__cluster *c) {
    for (uint32_t r = c->first; r != UINT32_MAX; r = s->root.at[r].next)
        if (s->root.at[r].unrolled) return 1;
    return 0;
}

static const char tc__too_long[] = "the kernel would be too long";
static const char tc__too_many_buffers[] = "too many buffers together";

// Why consumer b stays apart from producer a (or a sibling), for people; NULL = nothing is against
// it, and *joint is the space of both.
static const char *tc__why_apart(tc__schedule *s, uint32_t a, uint32_t b, tc__space *joint,
                                 tc__size *size) {
    const tc__cluster *x = &s->cluster.at[a], *y = &s->cluster.at[b];
    if (s->apart) return "fusion is off";
    if (x->device != y->device) return "they are on two devices";
    if (x->loop != y->loop) return "they are done in different loops";
    if (s->window[a] != s->window[b]) return "a long program is fused in parts";
    if (x->part != y->part) return "a long kernel is cut where few bytes cross";
    if (x->kind == TC__OPAQUE || y->kind == TC__OPAQUE)
        return "an opaque op is a kernel by itself";
    if (tc__is_unrolled(s, x) && tc__is_unrolled(s, y))
        return "a point of each makes many elements";
    if (tc__is_before_again(s, x, y)) return "one is computed again, later";
    if (tc__would_cycle(s, a, b)) return "each would wait for the other";
    if (!tc__joint_space(s, x, y, joint)) return "their iteration spaces do not fit";
    if (tc__related(s, a, b) &&
        !(tc__loads_agree(s, a, b, joint) && tc__loads_agree(s, b, a, joint)))
        return "a value is read at another point than where it is made";
    if (tc__rows_too_few(s, y, joint)) return "a few long rows would run on one thread";
    size->nodes = x->size + y->size, size->buffers = x->buffers + y->buffers;
    if (s->unbounded) return NULL;
    if (size->nodes > TC__BODY_LIMIT || size->buffers > TC__BUFFER_LIMIT)
        *size = tc__count_together(s, a, b);
    if (size->nodes > TC__BODY_LIMIT) return tc__too_long;
    return size->buffers > TC__BUFFER_LIMIT ? tc__too_many_buffers : NULL;
}

// Merges consumer b into producer a (or two siblings) if that is legal.
static int tc__try_merge(tc__schedule *s, uint32_t a, uint32_t b) {
    tc__space joint;
    tc__size size;
    const char *why = tc__why_apart(s, a, b, &joint, &size);
    s->full |= why == tc__too_long || why == tc__too_many_buffers;
    if (why) return 0;
    tc__merge_into(s, a, b, &joint, &size);
    return 1;
}

// On the log channel "fusion": the values that go through memory, each with the reason.
static void tc__log_apart(tc__schedule *s) {
    for (size_t i = 0; i < s->use.count && tc__log_on(s->ctx, TC__LOG_FUSION); i++) {
        const tc__root *from = &s->root.at[s->use.at[i].root];
        const tc__root *to = &s->root.at[s->use.at[i].reader];
        tc__space joint;
        tc__size size;
        size_t before = 0;
        while (before < i && (s->use.at[before].root != s->use.at[i].root ||
                              s->use.at[before].reader != s->use.at[i].reader))
            before++;
        if (before < i || from->group == to->group) continue;
        const char *why = tc__why_apart(s, from->group, to->group, &joint, &size);
        tc__log(s->ctx, TC__LOG_FUSION, "%%%u goes through memory to %%%u: %s",
                (unsigned)from->node, (unsigned)to->node, why ? why : "?");
    }
}

static int tc__merge_chains(tc__schedule *s) {
    int merged = 0;
    for (size_t r = 0; r < s->root.count; r++) {
        const tc__root *reader = &s->root.at[r];
        for (uint32_t i = reader->use; i < reader->use + reader->uses; i++) {
            uint32_t a = s->root.at[s->use.at[i].root].group, b = reader->group;
            if (a != b && tc__try_merge(s, a, b)) merged = 1;
        }
    }
    return merged;
}

static int tc__read_alike(const tc__schedule *s, uint32_t a, uint32_t b) {
    return tc__bits_meet(s, tc__bit_row(s, s->reads, a), tc__bit_row(s, s->reads, b));
}

// Whether cluster b, of sums down columns, reads what a third cluster makes row by row that reads what a does: a device
// sums both there (kernel/down.c), which takes one kernel of sums.
static int tc__read_through(const tc__schedule *s, uint32_t a, uint32_t b) {
    const tc__cluster *x = &s->cluster.at[b];
    if (s->fuses[x->device] != TC__FUSE_LOADS || !x->space.reduced ||
        x->space.reduced >> (x->space.rank - 1) & 1)
        return 0;
    for (uint32_t r = x->first; r != UINT32_MAX; r = s->root.at[r].next) {
        const tc__use *u = s->use.at + s->root.at[r].use;
        for (uint32_t i = 0; i < s->root.at[r].uses; i++) {
            uint32_t from = s->root.at[u[i].root].group;
            const tc__space *rows = &s->cluster.at[from].space;
            if (s->window[from] == s->window[a] && from != a &&
                rows->reduced >> (rows->rank - 1) & 1 && tc__read_alike(s, a, from))
                return 1;
        }
    }
    return 0;
}

// Kernels side by side over one space: equal sizes, and either small or reading something at the
// same index; of derivatives where checkpoints are computed again only the latter, and of one.
static int tc__merge_siblings(tc__schedule *s) {
    int merged = 0;
    for (uint32_t a = 0; a < s->cluster.count; a++) {
        for (uint32_t b = a + 1; b < s->cluster.count && s->cluster.at[a].alive; b++) {
            if (s->window[b] != s->window[a]) break;
            const tc__cluster *x = &s->cluster.at[a], *y = &s->cluster.at[b];
            if (!y->alive || x->kind == TC__CONTRACTION || y->kind == TC__CONTRACTION)
                continue;
            if (!tc__same_dims(&x->space, &y->space) || tc__are_of_two_blocks(x, y))
                continue;
            int small = !tc__are_of_blocks(x, y) &&
                        tc__space_rows(s->g->ix, &x->space, 0) <= TC__SMALL;
            if ((small || tc__read_alike(s, a, b) || tc__read_through(s, a, b)) &&
                tc__try_merge(s, a, b))
                merged = 1;
        }
    }
    return merged;
}

static void tc__merge_all(tc__schedule *s) {
    while (tc__merge_chains(s)) {
    }
    while (tc__merge_siblings(s) || tc__merge_chains(s)) {
    }
}
