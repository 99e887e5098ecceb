// Where kernels would be too long for a compiler. As roots are merged in order, chains recorded side by
// side would be cut apart, and each step of one be stored for the other. So what would be one kernel is put
// in an order and cut where the fewest bytes cross, which of an unrolled loop are the values that one
// iteration hands to the next. Values that cross become roots, and roots of different parts stay apart.
// Three orders are tried: of recording; each node behind what it needs, and that behind nothing else;
// by depth, in which chains of one loop go side by side however they were recorded.
//
// Mandelbrot's 50 steps are two kernels that store x, y and the count once; filled in
// order, kernels stored the squares of each step: 0.6 to 1.2 of the time of C with vectors,
// not 3.5 to 7.6 (`bench mandelbrot`). Limits from 150 to 2400 nodes are as fast; the
// compiler wants short ones.

// A part ends in the second half of so many ops; what it loads comes on top.
enum { TC__PART_MOST = TC__BODY_LIMIT * 5 / 6 };

typedef enum tc__cut_order {
    TC__CUT_RECORDED,
    TC__CUT_BEHIND,
    TC__CUT_DEPTH,
    TC__CUT_ORDERS
} tc__cut_order;

// What would be one kernel, and where it is cut.
typedef struct tc__cut {
    tc__schedule *s;
    uint32_t group;
    TC__VEC(uint32_t) node;    // of the kernel, in the order that is tried
    TC__VEC(uint32_t) waiting; // scratch of walks
    uint32_t *place;           // by node: in `node`, plus one; 0 = not of this kernel
    uint32_t *last;            // by node: the place of the last that needs it in memory
    uint32_t *depth;           // by node: of ops below it
    uint8_t *again;            // by node: computed from what is in memory, and cheap
    TC__VEC(uint32_t) end;     // of the parts: places of the first node behind
    double bytes;              // that cross
} tc__cut;

static int tc__cut_open(tc__cut *t, tc__schedule *s) {
    size_t n = s->g->node.count;
    memset(t, 0, sizeof *t);
    t->s = s;
    t->place = TC__NEW_ARRAY(s->ctx, uint32_t, n);
    t->last = TC__NEW_ARRAY(s->ctx, uint32_t, n);
    t->depth = TC__NEW_ARRAY(s->ctx, uint32_t, n);
    t->again = TC__NEW_ARRAY(s->ctx, uint8_t, n);
    return t->place && t->last && t->depth && t->again;
}

static void tc__cut_close(tc__cut *t) {
    tc_ctx *c = t->s->ctx;
    size_t n = t->s->g->node.count ? t->s->g->node.count : 1;
    TC__VEC_FREE(c, t->node);
    TC__VEC_FREE(c, t->waiting);
    TC__VEC_FREE(c, t->end);
    tc__free(c, t->place, n * sizeof *t->place);
    tc__free(c, t->last, n * sizeof *t->last);
    tc__free(c, t->depth, n * sizeof *t->depth);
    tc__free(c, t->again, n);
}

// ---- the nodes of a kernel, in an order ----

static int tc__cut_is_loaded(const tc__cut *t, const tc__node *n) {
    int32_t root = t->s->root_of[n->id];
    if (root != TC__NONE) return t->s->root.at[root].group != t->group;
    return tc__is_kind(n, TC__KIND_SOURCE);
}

// Whether it is an op of the kernel's text: what movement is costs nothing.
static int tc__cut_is_op(const tc__cut *t, uint32_t id) {
    return !tc__is_kind(t->s->g->node.at[id], TC__KIND_MOVE);
}

// The nodes behind all that they need, from the last root on. 0 = out of memory.
static int tc__cut_walk(tc__cut *t) {
    tc__schedule *s = t->s;
    for (size_t i = 0; i < t->node.count; i++) t->place[t->node.at[i]] = 0;
    t->node.count = 0;
    for (size_t r = s->root.count; r-- > 0;) {
        if (s->root.at[r].group != t->group) continue;
        if (!TC__PUSH(s->ctx, t->waiting, s->root.at[r].node)) return 0;
        while (t->waiting.count) {
            const tc__node *n = s->g->node.at[t->waiting.at[t->waiting.count - 1]];
            size_t before = t->waiting.count;
            for (uint32_t k = n->n_in; k-- > 0 && !t->place[n->id];) {
                const tc__node *a = tc__operand(s->g, n, k);
                if (t->place[a->id] || tc__cut_is_loaded(t, a)) continue;
                if (!TC__PUSH(s->ctx, t->waiting, a->id)) return 0;
            }
            if (t->waiting.count > before) continue;
            t->waiting.count--;
            if (t->place[n->id]) continue;
            if (!TC__PUSH(s->ctx, t->node, n->id)) return 0;
            t->place[n->id] = (uint32_t)t->node.count;
        }
    }
    return 1;
}

static int tc__compare_words(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

// Sorts the nodes by depth, or not, and by number.
static int tc__cut_sort(tc__cut *t, int by_depth) {
    size_t n = t->node.count;
    uint64_t *key = TC__NEW_ARRAY(t->s->ctx, uint64_t, n);
    if (!key) return 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t id = t->node.at[i];
        key[i] = (by_depth ? (uint64_t)t->depth[id] << 32 : 0) | id;
    }
    qsort(key, n, sizeof *key, tc__compare_words);
    for (size_t i = 0; i < n; i++) {
        t->node.at[i] = (uint32_t)key[i];
        t->place[t->node.at[i]] = (uint32_t)i + 1;
    }
    tc__free(t->s->ctx, key, (n ? n : 1) * sizeof *key);
    return 1;
}

// What depends on nothing but memory, and is cheap, is computed again wherever it is needed.
static void tc__cut_measure(tc__cut *t) {
    const tc__schedule *s = t->s;
    for (size_t i = 0; i < t->node.count; i++) {
        const tc__node *n = s->g->node.at[t->node.at[i]];
        uint32_t depth = 0;
        uint8_t again = s->cost[n->id] <= TC__CHEAP && s->root_of[n->id] == TC__NONE;
        for (uint32_t k = 0; k < n->n_in; k++) {
            const tc__node *a = tc__operand(s->g, n, k);
            if (!t->place[a->id]) continue;
            if (t->depth[a->id] > depth) depth = t->depth[a->id];
            again &= t->again[a->id];
        }
        t->depth[n->id] = depth + (uint32_t)tc__cut_is_op(t, n->id);
        t->again[n->id] = again;
    }
}

// ---- where it is cut ----

// Who needs a value through movement and casts needs what they are made of.
static void tc__cut_lives(tc__cut *t) {
    const tc__schedule *s = t->s;
    for (size_t i = 0; i < t->node.count; i++) t->last[t->node.at[i]] = (uint32_t)i + 1;
    for (size_t i = t->node.count; i-- > 0;) {
        const tc__node *n = s->g->node.at[t->node.at[i]];
        int moves = tc__is_kind(n, TC__KIND_MOVE) || tc__is_kind(n, TC__KIND_CAST);
        uint32_t at = moves ? t->last[n->id] : (uint32_t)i + 1;
        for (uint32_t k = 0; k < n->n_in; k++) {
            const tc__node *a = tc__operand(s->g, n, k);
            if (t->place[a->id] && t->last[a->id] < at) t->last[a->id] = at;
        }
    }
}

// Whether a value is stored if there is a cut between it and its last reader.
static int tc__cut_stores(const tc__cut *t, uint32_t id) {
    const tc__node *n = t->s->g->node.at[id];
    return !t->again[id] && !tc__is_kind(n, TC__KIND_MOVE) &&
           !tc__is_kind(n, TC__KIND_CAST);
}

// By place: bytes that cross a cut in front of it.
static double *tc__cut_crossing(tc__cut *t) {
    const tc__graph *g = t->s->g;
    size_t n = t->node.count;
    double *crossing = TC__NEW_ARRAY(t->s->ctx, double, n + 2);
    for (size_t i = 0; crossing && i < n; i++) {
        uint32_t id = t->node.at[i];
        if (!tc__cut_stores(t, id) || t->last[id] == i + 1) continue;
        double bytes = tc__bytes_most(g, g->node.at[id]);
        crossing[i + 1] += bytes, crossing[t->last[id]] -= bytes;
    }
    for (size_t i = 1; crossing && i < n + 2; i++) crossing[i] += crossing[i - 1];
    return crossing;
}

// Cuts the nodes in the order that they are in. 0 = out of memory.
static int tc__cut_in_order(tc__cut *t) {
    size_t n = t->node.count;
    tc__cut_lives(t);
    double *crossing = tc__cut_crossing(t);
    int ok = crossing != NULL;
    t->end.count = 0, t->bytes = 0;
    for (size_t first = 0, end = 0; ok && end < n; first = end) {
        uint32_t ops = 0;
        size_t i = first;
        for (end = n; i < n && ops <= TC__PART_MOST; i++) {
            ops += (uint32_t)tc__cut_is_op(t, t->node.at[i]);
            if (ops <= TC__PART_MOST / 2) continue;
            if (end == n || crossing[i + 1] <= crossing[end]) end = i + 1;
        }
        if (i == n && ops <= TC__PART_MOST) end = n;
        if (end < n) t->bytes += crossing[end];
        ok = TC__PUSH(t->s->ctx, t->end, (uint32_t)end);
    }
    tc__free(t->s->ctx, crossing, (n + 2) * sizeof *crossing);
    return ok;
}

static int tc__cut_try(tc__cut *t, tc__cut_order order) {
    if (order == TC__CUT_BEHIND && !tc__cut_walk(t)) return 0;
    if (order != TC__CUT_BEHIND && !tc__cut_sort(t, order == TC__CUT_DEPTH)) return 0;
    return tc__cut_in_order(t);
}

// Values that cross a cut are roots, and each root knows its part.
static void tc__cut_apply(tc__cut *t) {
    tc__schedule *s = t->s;
    size_t part = 0;
    for (size_t i = 0; i < t->node.count; i++) {
        uint32_t id = t->node.at[i];
        if (i == t->end.at[part]) part++;
        s->part[id] = s->parts + (uint32_t)part + 1;
        if (tc__cut_stores(t, id) && t->last[id] > t->end.at[part]) s->forced[id] = 1;
    }
    s->parts += (uint32_t)t->end.count;
}

// Cuts the kernel that cluster `group` would be. 0 = out of memory.
static int tc__cut_kernel(tc__cut *t, uint32_t group) {
    tc__cut_order best = TC__CUT_RECORDED;
    double least = 0;
    t->group = group;
    if (!tc__cut_walk(t)) return 0;
    tc__cut_measure(t);
    for (int o = 0; o < TC__CUT_ORDERS; o++) {
        if (!tc__cut_try(t, (tc__cut_order)o)) return 0;
        if (!o || t->bytes < least) best = (tc__cut_order)o, least = t->bytes;
    }
    if (!tc__cut_try(t, best)) return 0;
    tc__cut_apply(t);
    return 1;
}

// The roots of a kernel that fits stay together.
static void tc__cut_nothing(tc__schedule *s, uint32_t group) {
    s->parts++;
    for (uint32_t i = s->cluster.at[group].first; i != UINT32_MAX; i = s->root.at[i].next)
        s->part[s->root.at[i].node] = s->parts;
}

// Looks for what would be one kernel if there were no limits, and cuts what is above them. 0 = out of
// memory.
static int tc__cut_kernels(tc__schedule *s) {
    tc__cut t;
    int ok = tc__cut_open(&t, s);
    for (uint32_t i = 0; ok && i < s->cluster.count; i++) {
        const tc__cluster *c = &s->cluster.at[i];
        if (!c->alive || c->kind == TC__OPAQUE) continue;
        tc__size z = tc__count_together(s, i, i);
        if (z.nodes > TC__BODY_LIMIT || z.buffers > TC__BUFFER_LIMIT)
            ok = tc__cut_kernel(&t, i);
        else
            tc__cut_nothing(s, i);
    }
    tc__cut_close(&t);
    return ok;
}

// ---- merging ----

// Bytes of what crosses from kernel to kernel, < 0 = out of memory.
static double tc__bytes_between(const tc__schedule *s) {
    size_t n = s->root.count;
    uint8_t *met = TC__NEW_ARRAY(s->ctx, uint8_t, n);
    double bytes = met ? 0 : -1;
    for (size_t i = 0; met && i < s->use.count; i++) {
        const tc__use *u = &s->use.at[i];
        const tc__root *from = &s->root.at[u->root];
        if (from->group == s->root.at[u->reader].group || met[u->root]) continue;
        met[u->root] = 1;
        bytes += tc__bytes_most(s->g, s->g->node.at[from->node]);
    }
    tc__free(s->ctx, met, n ? n : 1);
    return bytes;
}

// Forgets what was merged, and merges what the roots are now. 0 = out of memory.
static int tc__merge_anew(tc__schedule *s, const uint8_t *output) {
    tc__relate_close(s);
    tc__census_close(s);
    tc__window_close(s);
    if (!tc__analyse_all(s, output) || !tc__relate(s) || !tc__census_open(s)) return 0;
    tc__merge_all(s);
    return 1;
}

// Cuts kernels that would be too long, where that stores less than filling them in order does; `forced` is
// room for s->forced. 0 = out of memory.
static int tc__merge_cut(tc__schedule *s, const uint8_t *output, uint8_t *forced) {
    size_t n = s->g->node.count;
    double plain = tc__bytes_between(s);
    memcpy(forced, s->forced, n);
    s->unbounded = 1;
    int ok = tc__merge_anew(s, output);
    s->unbounded = 0;
    if (!ok || !tc__cut_kernels(s) || !tc__merge_anew(s, output)) return 0;
    double cut = tc__bytes_between(s);
    if (plain < 0 || cut < 0 || cut < plain) return plain >= 0 && cut >= 0;
    memcpy(s->forced, forced, n);
    memset(s->part, 0, n * sizeof *s->part);
    return tc__merge_anew(s, output);
}

// 0 = out of memory.
static int tc__merge_roots(tc__schedule *s, const uint8_t *output) {
    size_t n = s->g->node.count;
    if (!tc__census_open(s)) return 0;
    tc__merge_all(s);
    if (!s->full) return 1;
    uint8_t *forced = TC__NEW_ARRAY(s->ctx, uint8_t, n);
    int ok = forced && tc__merge_cut(s, output, forced);
    tc__free(s->ctx, forced, n ? n : 1);
    return ok;
}
