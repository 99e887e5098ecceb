// TENSOR graph -> kernels: which nodes are roots (have memory or are reduced), and which roots share a
// kernel. Everything that is no root is recomputed inside the kernels that use it.
//
//  1. roots: outputs, reductions, contractions, expensive nodes with several users, and what must lie
//     in memory first: operands of contractions, tables of gathers, images of stencils
//  2. one cluster per root; lowering it alone shows which roots it loads and at which index
//  3. merge clusters while a merge is legal: the spaces agree, every load between them is at the
//     point where the value is made (so it can stay in a register), and no cycle arises
// Merging saves the bytes of the loads that become registers; nothing legal is refused for cost except
// long rows on few rows, where phases would run on one thread.

enum {
    TC__TAPS = 3,          // this many index tuples of one node make a stencil
    TC__BODY_LIMIT = 600,  // nodes of one kernel
    TC__BUFFER_LIMIT = 64, // buffers of one kernel
    TC__FEW_ROWS = 8,      // with fewer rows than this, long rows are not fused over phases
    TC__LONG_ROW = 16384,
    TC__SMALL =
        65536 // elements; unrelated kernels of equal space up to this size are merged
};

// One load of a root by a cluster's root, found by lowering it alone.
typedef struct tc__use {
    uint32_t reader, root; // roots
    tc__ix index;          // in the reader's own variables
    int guarded;
} tc__use;

// That a cluster's root, lowered alone, loads a place: a tensor at an index.
typedef struct tc__read {
    uint32_t reader, place; // root; number of the place
} tc__read;

typedef struct tc__cluster {
    tc__space space;
    tc__group_kind kind;
    uint32_t size; // body nodes
    uint32_t buffers;
    int alive;
} tc__cluster;

typedef struct tc__schedule {
    tc_ctx *ctx;
    const tc__graph *g;
    const tc__layout *const *inputs;
    uint8_t *live;    // by node: needed by an output
    uint32_t *users;  // by node: distinct operand edges from live nodes
    uint32_t *cost;   // by node: cost of recomputing one element
    uint8_t *forced;  // by node
    int32_t *root_of; // by node
    TC__VEC(tc__root) root;
    TC__VEC(tc__cluster) cluster;
    TC__VEC(tc__use) use;
    TC__VEC(tc__read) read;
    tc__map places; // hash of a place -> its number
    uint32_t place_count;
    size_t words;                // of a row in the three bit matrices, by cluster; owned
    uint64_t *reach;             //   clusters that need it, at once or through others
    uint64_t *into;              //   clusters that it needs
    uint64_t *reads;             //   places that it loads
    TC__VEC(tc__group *) kernel; // the result, in execution order; owned by the caller then
    int fuse;                    // 0 = one kernel per root
} tc__schedule;

static int tc__is_kind(const tc__node *n, tc__kind k) { return tc__ops[n->op].kind == k; }

// ---- roots ----

// Nodes without elements are not computed, whoever wants them.
static void tc__mark_live(tc__schedule *s) {
    for (size_t i = s->g->node.count; i-- > 0;) {
        const tc__node *n = s->g->node.at[i];
        if (tc__has_no_elements(n)) s->live[i] = 0;
        if (!s->live[i]) continue;
        for (uint32_t k = 0; k < n->n_in; k++) {
            s->live[n->in[k]] = 1;
            s->users[n->in[k]]++;
        }
    }
}

static void tc__mark_cost(tc__schedule *s) {
    for (size_t i = 0; i < s->g->node.count; i++) {
        const tc__node *n = s->g->node.at[i];
        uint32_t sum = tc__ops[n->op].cost;
        int stops = tc__is_kind(n, TC__KIND_REDUCE) || tc__is_kind(n, TC__KIND_CONTRACT);
        for (uint32_t k = 0; k < n->n_in && !stops; k++) sum += s->cost[n->in[k]];
        s->cost[i] = stops || s->forced[i] ? 0 : sum > 1000000 ? 1000000 : sum;
    }
}

// The value behind movement and casts has to be in memory when it is computed at all.
static void tc__force_source(tc__schedule *s, uint32_t id) {
    const tc__node *n = s->g->node.at[id];
    while (tc__is_kind(n, TC__KIND_MOVE) || tc__is_kind(n, TC__KIND_CAST))
        n = tc__operand(s->g, n, 0);
    if (!tc__is_kind(n, TC__KIND_SOURCE) || n->op == TC_OP_RANDOM) s->forced[n->id] = 1;
}

static void tc__force_sources(tc__schedule *s) {
    for (size_t i = 0; i < s->g->node.count; i++) {
        const tc__node *n = s->g->node.at[i];
        if (!s->live[i]) continue;
        if (tc__is_kind(n, TC__KIND_CONTRACT)) {
            tc__force_source(s, n->in[0]);
            tc__force_source(s, n->in[1]);
        }
        if (tc__is_kind(n, TC__KIND_GATHER)) tc__force_source(s, n->in[0]);
    }
}

// Does a reshape do more than add or drop dimensions of size 1?
static int tc__regroups(const tc__graph *g, const tc__node *n) {
    const tc__node *a = n->op == TC_OP_RESHAPE ? tc__operand(g, n, 0) : NULL;
    int i = 0, k = 0;
    while (a) {
        while (i < n->rank && tc__ix_equals(n->dims[i], 1)) i++;
        while (k < a->rank && tc__ix_equals(a->dims[k], 1)) k++;
        if (i == n->rank || k == a->rank) return i < n->rank || k < a->rank;
        if (n->dims[i++] != a->dims[k++]) return 1;
    }
    return 0;
}

// What a movement op adds to the index: a reshape of a moved view nests it one level deeper
// and doubles it, a pad or cat puts one more predicate on every load below.
static uint32_t tc__twist(const tc__graph *g, const tc__node *n) {
    if (n->op == TC_OP_PAD || n->op == TC_OP_CAT) return 1;
    return tc__regroups(g, n) ? 2 : 0;
}

enum { TC__TWIST_MOST = 8 };

// Past TC__TWIST_MOST the value is put in memory. Counts in s->cost, which is made later.
static void tc__force_twisted(tc__schedule *s) {
    for (size_t i = 0; i < s->g->node.count; i++) {
        const tc__node *n = s->g->node.at[i];
        uint32_t most = 0;
        if (s->forced[i]) continue;
        for (uint32_t k = 0; k < n->n_in; k++)
            if (s->cost[n->in[k]] > most) most = s->cost[n->in[k]];
        s->cost[i] = most + tc__twist(s->g, n);
        if (s->cost[i] <= TC__TWIST_MOST) continue;
        s->forced[i] = 1, s->cost[i] = 0;
    }
}

static int tc__add_root(tc__schedule *s, uint32_t id, int output) {
    tc__root r;
    if (s->root_of[id] != TC__NONE) return 1;
    memset(&r, 0, sizeof r);
    r.node = id, r.output = (uint8_t)output, r.forced = s->forced[id];
    r.group = (uint32_t)s->root.count;
    s->root_of[id] = (int32_t)s->root.count;
    return TC__PUSH(s->ctx, s->root, r);
}

static int tc__find_roots(tc__schedule *s, const uint8_t *output) {
    for (size_t i = 0; i < s->g->node.count; i++) s->root_of[i] = TC__NONE;
    for (uint32_t i = 0; i < s->g->node.count; i++) {
        const tc__node *n = s->g->node.at[i];
        if (!s->live[i]) continue;
        int whole = tc__is_kind(n, TC__KIND_REDUCE) || tc__is_kind(n, TC__KIND_CONTRACT);
        int dear = (tc__is_alu(n) || n->op == TC_OP_RANDOM) && s->users[i] > 1 &&
                   s->cost[i] > TC__CHEAP;
        if ((whole || dear || s->forced[i] || output[i]) && !tc__add_root(s, i, output[i]))
            return 0;
    }
    return 1;
}

// ---- spaces ----

static void tc__space_add(tc__space *s, tc__ixpool *p, tc__ix size, int reduced) {
    if (tc__ix_equals(size, 1)) return;
    s->dims[s->rank] = size;
    s->var[s->rank] = tc__ix_var(p, TC__DIM0 + s->rank, size);
    if (reduced) s->reduced |= 1u << s->rank;
    s->rank++;
}

static void tc__space_of(const tc__schedule *s, const tc__node *n, tc__space *out) {
    const tc__node *a = tc__is_kind(n, TC__KIND_REDUCE) ? tc__operand(s->g, n, 0) : n;
    memset(out, 0, sizeof *out);
    for (int i = 0; i < a->rank; i++)
        tc__space_add(out, s->g->ix, a->dims[i], a != n && (n->attr[0] >> i & 1));
}

typedef enum tc__fit { TC__FIT_NOT, TC__FIT_FULL, TC__FIT_ROW } tc__fit;

// Has a tensor of these sizes one element per point of the space (per row of it, if `skip` are the
// reduced dimensions)? `flat` gets the row-major position of that element. Only the number of elements
// is compared: that a load is at this very position is checked where it matters, so a reshape between
// two nodes does not keep them apart.
static int tc__fits(tc__ixpool *p, const tc__space *s, uint32_t skip, int rank,
                    const tc__ix *dims, tc__ix *flat) {
    tc__ix have = tc__ix_const(1), want = tc__ix_const(1), e = tc__ix_const(0);
    for (int i = 0; i < rank; i++) have = tc__ix_mul(p, have, dims[i]);
    for (int d = 0; d < s->rank; d++) {
        if (skip >> d & 1) continue;
        want = tc__ix_mul(p, want, s->dims[d]);
        e = tc__ix_add(p, tc__ix_mul(p, e, s->dims[d]), s->var[d]);
    }
    *flat = e;
    return have == want;
}

static tc__fit tc__space_fit(tc__ixpool *p, const tc__space *s, uint32_t reduced, int rank,
                             const tc__ix *dims, tc__ix *flat) {
    if (tc__fits(p, s, 0, rank, dims, flat)) return TC__FIT_FULL;
    if (reduced && tc__fits(p, s, reduced, rank, dims, flat)) return TC__FIT_ROW;
    return TC__FIT_NOT;
}

// ---- lowering one cluster ----

static void tc__group_free(tc_ctx *c, tc__group *k) {
    if (!k) return;
    tc__graph_close(&k->body);
    TC__VEC_FREE(c, k->buffer);
    TC__VEC_FREE(c, k->covers);
    tc__free(c, k, sizeof *k);
}

static int tc__weave_open(tc__weave *w, const tc__schedule *s, uint32_t group,
                          const tc__space *space) {
    memset(w, 0, sizeof *w);
    w->ctx = s->ctx, w->g = s->g, w->ix = s->g->ix, w->root_of = s->root_of,
    w->roots = s->root.at;
    w->group = group, w->space = *space, w->side = TC__AT_COL;
    tc__map_init(&w->seen_ids, s->ctx);
    w->k = TC__NEW(s->ctx, tc__group);
    w->accumulated = TC__NEW_ARRAY(s->ctx, uint32_t, s->root.count);
    if (!w->k || !w->accumulated) return 0;
    w->k->inputs = s->inputs;
    return tc__graph_open(&w->k->body, s->ctx, s->g->ix);
}

// Frees the weave; its group is handed over, or freed when `failed`.
static tc__group *tc__weave_close(tc__weave *w, const tc__schedule *s, int failed) {
    TC__VEC_FREE(w->ctx, w->seen);
    tc__map_free(&w->seen_ids);
    tc__free(w->ctx, w->accumulated,
             (s->root.count ? s->root.count : 1) * sizeof *w->accumulated);
    if (failed) tc__group_free(w->ctx, w->k);
    return failed ? NULL : w->k;
}

// Operands of a contraction: left at (rows, k), right at (batch, k, columns).
static void tc__lower_contraction(tc__weave *w, const tc__node *n) {
    const tc__node *a = tc__operand(w->g, n, 0), *b = tc__operand(w->g, n, 1);
    tc__ix index[TC_MAX_RANK], l[TC_MAX_RANK], r[TC_MAX_RANK];
    int rank = n->rank;
    tc__ix depth = a->dims[rank - 1];
    tc__ix k =
        tc__ix_equals(depth, 1) ? tc__ix_const(0) : tc__ix_var(w->ix, TC__DEPTH, depth);
    tc__own_index(w, n->rank, n->dims, 0, index);
    memcpy(l, index, sizeof l), memcpy(r, index, sizeof r);
    l[rank - 1] = k, r[rank - 2] = k;
    w->side = TC__AT_LEFT;
    w->k->left = tc__lower_at(w, a, l);
    w->side = TC__AT_RIGHT;
    w->k->right = tc__lower_at(w, b, r);
    w->side = TC__AT_COL;
    w->k->depth = depth;
    w->k->batch = tc__ix_const(1);
    for (int i = 0; i < rank - 2; i++)
        w->k->batch = tc__ix_mul(w->ix, w->k->batch, n->dims[i]);
}

// The GROUP node of a root's value in the cluster being woven.
static uint32_t tc__lower_own(tc__weave *w, const tc__node *n) {
    tc__ix index[TC_MAX_RANK], flat;
    tc__fit fit =
        tc__space_fit(w->ix, &w->space, w->space.reduced, n->rank, n->dims, &flat);
    if (tc__is_kind(n, TC__KIND_REDUCE)) fit = TC__FIT_ROW;
    tc__own_index(w, n->rank, n->dims, fit == TC__FIT_ROW ? w->space.reduced : 0, index);
    if (tc__is_kind(n, TC__KIND_CONTRACT)) tc__lower_contraction(w, n);
    return tc__lower_at(w, n, index);
}

static int tc__note_read(tc__schedule *s, uint32_t reader, const tc__kbuf *b,
                         tc__ix index) {
    uint64_t place, hash = tc__hash_mix(tc__hash_mix(b->source, b->place), (uint64_t)index);
    tc__read r;
    if (!tc__map_get(&s->places, hash, &place)) {
        place = s->place_count++;
        if (!tc__map_set(&s->places, hash, place)) return 0;
    }
    r.reader = reader, r.place = (uint32_t)place;
    return TC__PUSH(s->ctx, s->read, r);
}

static int tc__note_uses(tc__schedule *s, uint32_t reader, const tc__weave *w) {
    for (size_t i = 0; i < w->k->body.node.count; i++) {
        const tc__node *n = w->k->body.node.at[i];
        tc__use u;
        if (n->op != TC_OP_LOAD) continue;
        const tc__kbuf *b = &w->k->buffer.at[n->attr[0]];
        if (!tc__note_read(s, reader, b, n->attr[1])) return 0;
        if (b->place != TC__BUF_NODE) continue;
        u.reader = reader;
        u.root = (uint32_t)s->root_of[b->source];
        u.index = n->attr[1];
        u.guarded = n->n_attr > TC__LOAD_FIXED || n->level == TC__AT_LEFT ||
                    n->level == TC__AT_RIGHT;
        if (!TC__PUSH(s->ctx, s->use, u)) return 0;
    }
    return 1;
}

// A node met at many index tuples, and dear: the image of a stencil. 0 = none.
static uint32_t tc__find_stencil(const tc__schedule *s, const tc__weave *w) {
    uint32_t best = 0;
    for (size_t i = 0; i < w->seen.count; i++) {
        const tc__node *n = s->g->node.at[w->seen.at[i].node];
        uint32_t taps = 0;
        int moves = tc__is_kind(n, TC__KIND_MOVE) && n->op != TC_OP_PAD;
        if (n->id <= best || moves || s->root_of[n->id] != TC__NONE) continue;
        if (tc__is_kind(n, TC__KIND_SOURCE) && n->op != TC_OP_RANDOM) continue;
        for (size_t k = 0; k < w->seen.count; k++) taps += w->seen.at[k].node == n->id;
        if (taps >= TC__TAPS && taps * s->cost[n->id] > 4 * TC__CHEAP) best = n->id;
    }
    return best;
}

// Lowers root r alone. *stencil != 0: a node to force first.
static int tc__analyse(tc__schedule *s, uint32_t r, uint32_t *stencil) {
    tc__weave w;
    tc__cluster c;
    const tc__node *n = s->g->node.at[s->root.at[r].node];
    memset(&c, 0, sizeof c);
    tc__space_of(s, n, &c.space);
    c.alive = 1;
    c.kind =
        c.space.reduced || tc__is_kind(n, TC__KIND_REDUCE) ? TC__REDUCTION : TC__POINTWISE;
    if (tc__is_kind(n, TC__KIND_CONTRACT)) c.kind = TC__CONTRACTION;
    int ok = tc__weave_open(&w, s, r, &c.space);
    if (ok) {
        tc__lower_own(&w, n);
        ok = !w.failed && !s->g->ix->failed;
    }
    if (ok) *stencil = tc__find_stencil(s, &w);
    if (ok && !*stencil) {
        c.size = (uint32_t)w.k->body.node.count,
        c.buffers = (uint32_t)w.k->buffer.count + 1;
        ok = tc__note_uses(s, r, &w) && TC__PUSH(s->ctx, s->cluster, c);
    }
    tc__weave_close(&w, s, 1);
    return ok;
}

static int tc__analyse_all(tc__schedule *s, const uint8_t *output) {
    for (;;) {
        uint32_t stencil = 0;
        s->root.count = s->cluster.count = s->use.count = s->read.count = 0;
        tc__mark_cost(s);
        if (!tc__find_roots(s, output)) return 0;
        for (uint32_t r = 0; r < s->root.count && !stencil; r++)
            if (!tc__analyse(s, r, &stencil)) return 0;
        if (!stencil) return 1;
        s->forced[stencil] = 1;
    }
}

// ---- merging ----

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

// Every load between the two clusters is at the point of the joint space where the value is made.
static int tc__loads_agree(const tc__schedule *s, uint32_t a, uint32_t b,
                           const tc__space *joint) {
    tc__ixpool *p = s->g->ix;
    for (size_t i = 0; i < s->use.count; i++) {
        const tc__use *u = &s->use.at[i];
        uint32_t reader = s->root.at[u->reader].group, from = s->root.at[u->root].group;
        if (!(reader == b && from == a) && !(reader == a && from == b)) continue;
        const tc__node *n = s->g->node.at[s->root.at[u->root].node];
        tc__space own;
        tc__ix flat;
        tc__space_of(s, s->g->node.at[s->root.at[u->reader].node], &own);
        if (u->guarded || !tc__expected_flat(p, &own, joint, n, &flat) || u->index != flat)
            return 0;
    }
    return 1;
}

// ---- who needs whom ----

static uint64_t *tc__bit_row(const tc__schedule *s, uint64_t *matrix, size_t row) {
    return matrix + row * s->words;
}

static int tc__bit_get(const uint64_t *row, size_t i) {
    return (int)(row[i / 64] >> i % 64 & 1);
}

static void tc__bit_set(uint64_t *row, size_t i) { row[i / 64] |= (uint64_t)1 << i % 64; }

static void tc__bit_clear(uint64_t *row, size_t i) {
    row[i / 64] &= ~((uint64_t)1 << i % 64);
}

static void tc__bits_add(const tc__schedule *s, uint64_t *to, const uint64_t *from) {
    for (size_t i = 0; i < s->words; i++) to[i] |= from[i];
}

static int tc__bits_meet(const tc__schedule *s, const uint64_t *a, const uint64_t *b) {
    for (size_t i = 0; i < s->words; i++)
        if (a[i] & b[i]) return 1;
    return 0;
}

// One cluster per root so far. Uses are in order of their readers, and a root is loaded only
// by later ones, so its own row is complete when it is added to another.
static int tc__relate(tc__schedule *s) {
    size_t n = s->cluster.count;
    s->words = (n > s->place_count ? n : s->place_count) / 64 + 1;
    s->reach = TC__NEW_ARRAY(s->ctx, uint64_t, n * s->words);
    s->into = TC__NEW_ARRAY(s->ctx, uint64_t, n * s->words);
    s->reads = TC__NEW_ARRAY(s->ctx, uint64_t, n * s->words);
    if (!s->reach || !s->into || !s->reads) return 0;
    for (size_t i = 0; i < s->use.count; i++) {
        uint32_t reader = s->use.at[i].reader, root = s->use.at[i].root;
        tc__bit_set(tc__bit_row(s, s->into, reader), root);
        tc__bits_add(s, tc__bit_row(s, s->into, reader), tc__bit_row(s, s->into, root));
    }
    for (size_t i = 0; i < s->read.count; i++)
        tc__bit_set(tc__bit_row(s, s->reads, s->read.at[i].reader), s->read.at[i].place);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++)
            if (tc__bit_get(tc__bit_row(s, s->into, i), k))
                tc__bit_set(tc__bit_row(s, s->reach, k), i);
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

static void tc__relate_both(tc__schedule *s, uint64_t *matrix, const uint64_t *back,
                            uint32_t a, uint32_t b) {
    const uint64_t *row = tc__bit_row(s, matrix, a);
    for (size_t i = 0; i < s->cluster.count; i++) {
        if (!tc__bit_get(back, i)) continue;
        uint64_t *other = tc__bit_row(s, matrix, i);
        tc__bits_add(s, other, row);
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

static void tc__merge_into(tc__schedule *s, uint32_t a, uint32_t b,
                           const tc__space *joint) {
    tc__cluster *x = &s->cluster.at[a], *y = &s->cluster.at[b];
    for (size_t i = 0; i < s->root.count; i++)
        if (s->root.at[i].group == b) s->root.at[i].group = a;
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
    if (x->size + y->size > TC__BODY_LIMIT) return "the kernel would be too long";
    if (x->buffers + y->buffers > TC__BUFFER_LIMIT) return "too many buffers together";
    if (tc__would_cycle(s, a, b)) return "each would wait for the other";
    if (!tc__joint_space(s, x, y, joint)) return "their iteration spaces do not fit";
    if (tc__related(s, a, b) && !tc__loads_agree(s, a, b, joint))
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

// ---- finishing groups ----

// How well loads and stores move along the columns if `columns` are the column dimensions: the cost
// of one element in eighths of a contiguous access.
static int64_t tc__split_cost(tc__weave *w, uint32_t columns) {
    int64_t cost = 0;
    tc__ixpool *p = w->ix;
    uint32_t all = w->space.rank ? (uint32_t)(((uint64_t)1 << w->space.rank) - 1) : 0;
    int64_t cols = tc__ix_hi(p, tc__space_size(p, &w->space, columns & all));
    for (size_t i = 0; i < w->k->body.node.count; i++) {
        const tc__node *n = w->k->body.node.at[i];
        int64_t each = 2;
        if (n->op == TC_OP_LOAD || n->op == TC_OP_STORE || n->op == TC_OP_INDEX) {
            tc__ix e = tc__to_rows_cols(p, &w->space, columns,
                                        n->attr[n->op == TC_OP_INDEX ? 0 : 1]);
            tc__ixrun r = tc__ix_run(p, e, TC__COL);
            int dense = r.ok && (tc__ix_equals(r.stride, 1) || tc__ix_equals(r.stride, 0));
            int runs = r.run == INT64_MAX || (r.run % 8 == 0);
            if (!(dense && runs) || tc__ix_has_val(p, e)) each = 24;
            // One stride everywhere is a row to be turned: nothing to divide, tiles on a GPU.
            if (!dense && r.ok && r.run == INT64_MAX && !tc__ix_has_val(p, e)) each = 16;
        }
        cost += each;
    }
    return cost * ((cols + 7) / 8 * 8 + 8) / (cols > 0 ? cols : 1);
}

// POINTWISE: the trailing dimensions that make the columns.
static uint32_t tc__choose_columns(tc__weave *w) {
    int rank = w->space.rank;
    uint32_t best = rank ? 1u << (rank - 1) : 0,
             all = rank ? (uint32_t)(((uint64_t)1 << rank) - 1) : 0;
    int64_t best_cost = INT64_MAX;
    for (int first = 0; first < rank; first++) {
        uint32_t columns = all & ~((1u << first) - 1);
        int64_t cost = tc__split_cost(w, columns);
        if (cost < best_cost) best = columns, best_cost = cost;
    }
    return best;
}

static void tc__weave_store(tc__weave *w, const tc__node *n, uint32_t value) {
    tc__ix flat = tc__ix_const(0);
    int64_t attr[2];
    if (w->failed || w->ix->failed || w->k->body.node.count <= value) {
        w->failed = 1;
        return;
    }
    tc__fit fit =
        tc__space_fit(w->ix, &w->space, w->space.reduced, n->rank, n->dims, &flat);
    if (tc__is_kind(n, TC__KIND_REDUCE)) {
        fit = TC__FIT_ROW;
        tc__fits(w->ix, &w->space, w->space.reduced, n->rank, n->dims, &flat);
    }
    if (fit == TC__FIT_NOT) w->failed = 1;
    attr[0] = tc__weave_buffer(w, TC__BUF_NODE, n->id, n->dtype, tc__node_numel(w->g, n));
    attr[1] = flat;
    if (w->failed) return;
    w->k->buffer.at[attr[0]].written = 1;
    tc__weave_node(w, TC_OP_STORE, n->dtype, &value, 1, attr, 2);
}

// Body of one cluster in terms of dimension variables.
static int tc__weave_cluster(tc__weave *w, tc__schedule *s, uint32_t group) {
    for (size_t i = 0; i < s->root.count && !w->failed; i++) {
        if (s->root.at[i].group != group) continue;
        const tc__node *n = s->g->node.at[s->root.at[i].node];
        uint32_t v = tc__lower_own(w, n);
        if (s->root.at[i].output || s->root.at[i].stored) tc__weave_store(w, n, v);
        if (!TC__PUSH(s->ctx, w->k->covers, n->id)) w->failed = 1;
    }
    return !w->failed && !w->ix->failed;
}

static tc__group *tc__make_group(tc__schedule *s, uint32_t group) {
    tc__weave w;
    const tc__cluster *c = &s->cluster.at[group];
    if (!tc__weave_open(&w, s, group, &c->space)) return tc__weave_close(&w, s, 1);
    w.k->kind = c->kind;
    if (!tc__weave_cluster(&w, s, group)) return tc__weave_close(&w, s, 1);
    uint32_t all = c->space.rank ? (uint32_t)(((uint64_t)1 << c->space.rank) - 1) : 0,
             columns;
    columns = c->space.reduced;
    if (c->kind == TC__POINTWISE) columns = tc__choose_columns(&w);
    if (c->kind == TC__CONTRACTION) {
        // The last dimension of the product; when it is 1 there is no column dimension.
        columns = 0;
        for (size_t i = 0; i < s->root.count; i++) {
            const tc__node *n = s->g->node.at[s->root.at[i].node];
            if (s->root.at[i].group == group && tc__is_kind(n, TC__KIND_CONTRACT))
                columns =
                    tc__ix_equals(n->dims[n->rank - 1], 1) ? 0 : 1u << (c->space.rank - 1);
        }
    }
    w.k->rows = tc__space_size(w.ix, &c->space, all & ~columns);
    w.k->cols = tc__space_size(w.ix, &c->space, columns);
    int ok = tc__checked(s->ctx, &w.k->body, TC__GROUP) && tc__group_finish(&w, columns) &&
             tc__checked(s->ctx, &w.k->body, TC__LOOP);
    return tc__weave_close(&w, s, !ok);
}

static void tc__mark_stored(tc__schedule *s) {
    for (size_t i = 0; i < s->use.count; i++) {
        tc__root *p = &s->root.at[s->use.at[i].root];
        if (p->group != s->root.at[s->use.at[i].reader].group) p->stored = 1;
    }
}

// A cluster is ready when every cluster it loads from is done.
static int tc__cluster_ready(const tc__schedule *s, uint32_t group, const uint8_t *done) {
    for (size_t i = 0; i < s->use.count; i++) {
        uint32_t from = s->root.at[s->use.at[i].root].group;
        if (s->root.at[s->use.at[i].reader].group == group && from != group && !done[from])
            return 0;
    }
    return 1;
}

static int tc__emit_groups(tc__schedule *s) {
    uint8_t *done = TC__NEW_ARRAY(s->ctx, uint8_t, s->cluster.count);
    size_t left = 0;
    int ok = done != NULL;
    for (size_t i = 0; i < s->cluster.count; i++) left += s->cluster.at[i].alive != 0;
    while (ok && left) {
        size_t before = left;
        for (uint32_t i = 0; ok && i < s->cluster.count; i++) {
            if (!s->cluster.at[i].alive || done[i] || !tc__cluster_ready(s, i, done))
                continue;
            tc__group *k = tc__make_group(s, i);
            ok = k && TC__PUSH(s->ctx, s->kernel, k);
            if (k && !ok) tc__group_free(s->ctx, k);
            done[i] = 1;
            left--;
        }
        if (left == before) ok = 0;
    }
    tc__free(s->ctx, done, s->cluster.count ? s->cluster.count : 1);
    return ok || tc__fail(s->ctx, TC_E_INTERNAL,
                          "schedule: the kernels of a graph could not be built");
}

static void tc__schedule_close(tc__schedule *s) {
    size_t n = s->g->node.count ? s->g->node.count : 1;
    tc__free(s->ctx, s->live, n);
    tc__free(s->ctx, s->forced, n);
    tc__free(s->ctx, s->users, n * sizeof *s->users);
    tc__free(s->ctx, s->cost, n * sizeof *s->cost);
    tc__free(s->ctx, s->root_of, n * sizeof *s->root_of);
    tc__relate_close(s);
    TC__VEC_FREE(s->ctx, s->root);
    TC__VEC_FREE(s->ctx, s->cluster);
    TC__VEC_FREE(s->ctx, s->use);
    TC__VEC_FREE(s->ctx, s->read);
    tc__map_free(&s->places);
    for (size_t i = 0; i < s->kernel.count; i++) tc__group_free(s->ctx, s->kernel.at[i]);
    TC__VEC_FREE(s->ctx, s->kernel);
}

// Fills s->kernel with the GROUPs that compute the nodes marked in `output`; 0 = reported.
static int tc__schedule_run(tc__schedule *s, tc_ctx *c, const tc__graph *g,
                            const uint8_t *output, const tc__layout *const *inputs,
                            int fuse) {
    size_t n = g->node.count;
    memset(s, 0, sizeof *s);
    s->ctx = c, s->g = g, s->inputs = inputs, s->fuse = fuse;
    tc__map_init(&s->places, c);
    s->live = TC__NEW_ARRAY(c, uint8_t, n), s->forced = TC__NEW_ARRAY(c, uint8_t, n);
    s->users = TC__NEW_ARRAY(c, uint32_t, n), s->cost = TC__NEW_ARRAY(c, uint32_t, n);
    s->root_of = TC__NEW_ARRAY(c, int32_t, n);
    if (!s->live || !s->forced || !s->users || !s->cost || !s->root_of) return 0;
    if (n) memcpy(s->live, output, n);
    tc__mark_live(s);
    tc__force_sources(s);
    tc__force_twisted(s);
    if (!tc__analyse_all(s, output) || !tc__relate(s)) return 0;
    while (fuse && tc__merge_chains(s)) {
    }
    while (fuse && (tc__merge_siblings(s) || tc__merge_chains(s))) {
    }
    tc__mark_stored(s);
    tc__log_apart(s);
    return tc__emit_groups(s);
}
