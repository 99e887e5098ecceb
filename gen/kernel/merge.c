// Clusters that share a kernel. Two are merged while that is legal: the spaces agree, every load
// between them is at the point where the value is made (so it can stay in a register), and no cycle
// arises. Merging saves the bytes of the loads that become registers; nothing legal is refused for
// cost except long rows on few rows, where phases would run on one thread.

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
    tc__space_of(s, s->g->node.at[s->root.at[u->reader].node], &own);
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

// The row of `one` takes over `other` and its row.
static void tc__relate_to(const tc__schedule *s, uint64_t *matrix, uint32_t one,
                          uint32_t other) {
    tc__bit_set(tc__bit_row(s, matrix, one), other);
    tc__bits_add(s, tc__bit_row(s, matrix, one), tc__bit_row(s, matrix, other));
}

// One cluster per root so far. Uses are in order of their readers, and a root is loaded only by later
// ones: so rows are complete when they are added to others, in this order and in the reverse.
static int tc__relate(tc__schedule *s) {
    size_t n = s->cluster.count;
    s->words = (n > s->place_count ? n : s->place_count) / 64 + 1;
    s->reach = TC__NEW_ARRAY(s->ctx, uint64_t, n * s->words);
    s->into = TC__NEW_ARRAY(s->ctx, uint64_t, n * s->words);
    s->reads = TC__NEW_ARRAY(s->ctx, uint64_t, n * s->words);
    if (!s->reach || !s->into || !s->reads) return 0;
    for (size_t i = 0; i < s->use.count; i++)
        tc__relate_to(s, s->into, s->use.at[i].reader, s->use.at[i].root);
    for (size_t i = s->use.count; i-- > 0;)
        tc__relate_to(s, s->reach, s->use.at[i].root, s->use.at[i].reader);
    for (size_t i = 0; i < s->read.count; i++)
        tc__bit_set(tc__bit_row(s, s->reads, s->read.at[i].reader), s->read.at[i].place);
    return 1;
}

static void tc__relate_close(tc__schedule *s) {
    size_t n = s->cluster.count * s->words;
    n = (n ? n : 1) * sizeof(uint64_t);
    tc__free(s->ctx, s->reach, n);
    tc__free(s->ctx, s->into, n);
    tc__free(s->ctx, s->reads, n);
}

// Is a value of one loaded by the other, maybe through others?
static int tc__related(const tc__schedule *s, uint32_t a, uint32_t b) {
    return tc__bit_get(tc__bit_row(s, s->reach, a), b) ||
           tc__bit_get(tc__bit_row(s, s->reach, b), a);
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
    tc__bit_clear(row, a);
    tc__bit_clear(row, b);
}

// Who knew both has what they know already.
static void tc__relate_both(tc__schedule *s, uint64_t *matrix, const uint64_t *back,
                            uint32_t a, uint32_t b) {
    const uint64_t *row = tc__bit_row(s, matrix, a);
    for (size_t i = 0; tc__bit_next(back, s->cluster.count, &i); i++) {
        uint64_t *other = tc__bit_row(s, matrix, i);
        if (!tc__bit_get(other, a) || !tc__bit_get(other, b)) tc__bits_add(s, other, row);
        tc__bit_set(other, a);
        tc__bit_clear(other, b);
    }
}

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

static void tc__merge_into(tc__schedule *s, uint32_t a, uint32_t b,
                           const tc__space *joint) {
    tc__cluster *x = &s->cluster.at[a], *y = &s->cluster.at[b];
    tc__join_roots(s, a, b);
    x->space = *joint;
    x->size += y->size, x->buffers += y->buffers;
    if (x->kind == TC__POINTWISE) x->kind = y->kind;
    y->alive = 0;
    tc__bits_add(s, tc__bit_row(s, s->reads, a), tc__bit_row(s, s->reads, b));
    tc__relate_merge(s, s->reach, a, b);
    tc__relate_merge(s, s->into, a, b);
    tc__relate_both(s, s->reach, tc__bit_row(s, s->into, a), a, b);
    tc__relate_both(s, s->into, tc__bit_row(s, s->reach, a), a, b);
}

// Why consumer b stays apart from producer a (or a sibling), for people; NULL = nothing is against
// it, and *joint is the space of both.
static const char *tc__why_apart(const tc__schedule *s, uint32_t a, uint32_t b,
                                 tc__space *joint) {
    const tc__cluster *x = &s->cluster.at[a], *y = &s->cluster.at[b];
    if (!s->fuse) return "fusion is off";
    if (x->kind == TC__OPAQUE || y->kind == TC__OPAQUE)
        return "an opaque op is a kernel by itself";
    if (x->size + y->size > TC__BODY_LIMIT) return "the kernel would be too long";
    if (x->buffers + y->buffers > TC__BUFFER_LIMIT) return "too many buffers together";
    if (tc__would_cycle(s, a, b)) return "each would wait for the other";
    if (!tc__joint_space(s, x, y, joint)) return "their iteration spaces do not fit";
    if (tc__related(s, a, b) &&
        !(tc__loads_agree(s, a, b, joint) && tc__loads_agree(s, b, a, joint)))
        return "a value is read at another point than where it is made";
    if (tc__rows_too_few(s, y, joint)) return "a few long rows would run on one thread";
    return NULL;
}

// Merges consumer b into producer a (or two siblings) if that is legal.
static int tc__try_merge(tc__schedule *s, uint32_t a, uint32_t b) {
    tc__space joint;
    if (tc__why_apart(s, a, b, &joint)) return 0;
    tc__merge_into(s, a, b, &joint);
    return 1;
}

// On the log channel "fusion": the values that go through memory, each with the reason.
static void tc__log_apart(const tc__schedule *s) {
    for (size_t i = 0; i < s->use.count && tc__log_on(s->ctx, TC__LOG_FUSION); i++) {
        const tc__root *from = &s->root.at[s->use.at[i].root];
        const tc__root *to = &s->root.at[s->use.at[i].reader];
        tc__space joint;
        size_t before = 0;
        while (before < i && (s->use.at[before].root != s->use.at[i].root ||
                              s->use.at[before].reader != s->use.at[i].reader))
            before++;
        if (before < i || from->group == to->group) continue;
        const char *why = tc__why_apart(s, from->group, to->group, &joint);
        tc__log(s->ctx, TC__LOG_FUSION, "%%%u goes through memory to %%%u: %s",
                (unsigned)from->node, (unsigned)to->node, why ? why : "?");
    }
}

static int tc__merge_chains(tc__schedule *s) {
    int merged = 0;
    for (size_t i = 0; i < s->use.count; i++) {
        uint32_t a = s->root.at[s->use.at[i].root].group,
                 b = s->root.at[s->use.at[i].reader].group;
        if (a != b && tc__try_merge(s, a, b)) merged = 1;
    }
    return merged;
}

static int tc__read_alike(const tc__schedule *s, uint32_t a, uint32_t b) {
    return tc__bits_meet(s, tc__bit_row(s, s->reads, a), tc__bit_row(s, s->reads, b));
}

// Kernels side by side over one space: equal sizes, and either small or reading something at the
// same index.
static int tc__merge_siblings(tc__schedule *s) {
    int merged = 0;
    for (uint32_t a = 0; a < s->cluster.count; a++) {
        for (uint32_t b = a + 1; b < s->cluster.count && s->cluster.at[a].alive; b++) {
            const tc__cluster *x = &s->cluster.at[a], *y = &s->cluster.at[b];
            if (!y->alive || x->kind == TC__CONTRACTION || y->kind == TC__CONTRACTION)
                continue;
            if (!tc__same_dims(&x->space, &y->space)) continue;
            int small = tc__space_rows(s->g->ix, &x->space, 0) <= TC__SMALL;
            if ((small || tc__read_alike(s, a, b)) && tc__try_merge(s, a, b)) merged = 1;
        }
    }
    return merged;
}
