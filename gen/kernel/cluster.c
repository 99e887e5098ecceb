// One cluster for each root (kernel/roots.c): lowered alone, it shows which roots it loads
// and at which index, and so which loads make a stencil, whose image becomes a root as
// well. Input: roots. Output: clusters with their spaces and reads, which kernel/merge.c
// joins.

// ---- folds ----
// What is put together of equal parts, concatenated or each padded and added up, is made in parts, if no kernel reads it that
// could be one with its own: a point of the kernel's space makes an element of each part, with a store for each. What parts
// have in common is read once, nothing asks which part an element is of, and what has the size of a part shares the kernel
// (tests/golden/rotary.tc; gradients of a recurrent network's gates, for a product: a step back of an LSTM has a kernel less).

enum {
    TC__FOLDS_MOST = 4,  // as many stores and expressions are in one kernel
    TC__FOLDS_RUN = 32,  // elements that lie together in a part: fewer are no vectors
    TC__FOLDS_LOOK = 16, // nodes that are looked at for a concatenation
};

// Elements of part n that lie together, at least.
static int64_t tc__fold_run(const tc__graph *g, const tc__node *n, int dim) {
    int64_t run = 1;
    for (int i = dim; i < n->rank; i++)
        run = tc__ix_times(run, tc__ix_lo(g->ix, n->dims[i]));
    return run;
}

static int tc__has_equal_parts(const tc__graph *g, const tc__node *n) {
    const tc__node *first = tc__operand(g, n, 0);
    if (n->n_in < 2 || n->n_in > TC__FOLDS_MOST) return 0;
    for (uint32_t i = 1; i < n->n_in; i++)
        if (tc__operand(g, n, i)->dims[n->attr[TC__CAT_DIM]] !=
            first->dims[n->attr[TC__CAT_DIM]])
            return 0;
    return tc__fold_run(g, first, (int)n->attr[TC__CAT_DIM]) >= TC__FOLDS_RUN;
}

// Whether pad n adds some number of parts to one that is as large: gradients of parts are added up so.
static int tc__is_equal_part(const tc__graph *g, const tc__node *n) {
    const tc__node *a = tc__operand(g, n, 0);
    int dim = (int)n->attr[TC__PAD_DIM];
    tc__ix own = a->dims[dim], all = n->dims[dim], low = n->attr[TC__PAD_LOW];
    int64_t run = tc__fold_run(g, a, dim);
    if (!tc__ix_is_const(own) || !tc__ix_is_const(all) || !tc__ix_is_const(low) ||
        !tc__ix_equals(n->attr[TC__PAD_DILATION], 1) || run < TC__FOLDS_RUN)
        return 0;
    int64_t size = tc__ix_value(own), parts = tc__ix_value(all) / size;
    return parts * size == tc__ix_value(all) && parts > 1 && parts <= TC__FOLDS_MOST &&
           tc__ix_value(low) % size == 0;
}

// The dimension along which n, a concatenation of equal parts or such a part in its place, is put together of parts, of a size.
static int tc__set_folds(const tc__graph *g, const tc__node *n, tc__root *r) {
    int cat = n->op == TC_OP_CAT && tc__has_equal_parts(g, n);
    if (!cat && !(n->op == TC_OP_PAD && tc__is_equal_part(g, n))) return 0;
    r->along = (uint8_t)n->attr[cat ? TC__CAT_DIM : TC__PAD_DIM];
    r->fold = tc__operand(g, n, 0)->dims[r->along];
    r->folds =
        (uint8_t)(cat ? n->n_in : tc__ix_value(n->dims[r->along]) / tc__ix_value(r->fold));
    return 1;
}

// The parts of the first node of parts that n is, or is made of element by element.
static void tc__find_parts(const tc__schedule *s, const tc__node *n, tc__root *r) {
    const tc__node *waiting[TC__FOLDS_LOOK] = {n};
    for (uint32_t at = 0, count = 1; at < count; at++) {
        const tc__node *a = waiting[at];
        if (tc__set_folds(s->g, a, r)) return;
        if (!tc__is_alu(a) && !tc__is_kind(a, TC__KIND_CAST) && a->op != TC_OP_DETACH)
            continue;
        for (uint32_t k = 0; k < a->n_in && count < TC__FOLDS_LOOK; k++)
            if (s->root_of[a->in[k]] == TC__NONE)
                waiting[count++] = tc__operand(s->g, a, k);
    }
}

// Whether no kernel that reads root r could be one with its own. A device's products may make their factors: not measured there.
static int tc__is_read_by_none(const tc__schedule *s, const tc__root *r) {
    if (r->output && !r->forced && !s->users[r->node]) return 1;
    return !s->mates[r->node] && !s->g->node.at[r->node]->device &&
           (r->output || r->forced);
}

static void tc__root_fold(const tc__schedule *s, tc__root *r) {
    const tc__node *n = s->g->node.at[r->node];
    r->folds = 0, r->unrolled = 0;
    if (n->op == TC_OP_UNROLLED) {
        r->unrolled = (uint32_t)n->attr[TC__UNROLLED_DIMS], r->folds = 1;
        for (int i = 0; i < n->rank; i++)
            if (r->unrolled >> i & 1)
                r->folds = (uint8_t)(r->folds * tc__ix_value(n->dims[i]));
        return;
    }
    if (!s->apart && tc__is_read_by_none(s, r)) tc__find_parts(s, n, r);
}

// The sizes of root r, or of a part of it.
static void tc__root_dims(const tc__graph *g, const tc__root *r, tc__ix *dims) {
    memcpy(dims, g->node.at[r->node]->dims, sizeof g->node.at[r->node]->dims);
    for (int i = 0; i < g->node.at[r->node]->rank; i++)
        if (r->unrolled >> i & 1) dims[i] = tc__ix_const(1);
    if (r->folds && !r->unrolled) dims[r->along] = r->fold;
}

// ---- spaces ----

static void tc__space_add(tc__space *s, tc__ixpool *p, tc__ix size, int reduced) {
    if (tc__ix_equals(size, 1)) return;
    s->dims[s->rank] = size;
    s->var[s->rank] = tc__ix_var(p, TC__DIM0 + s->rank, size);
    if (reduced) s->reduced |= 1u << s->rank;
    s->rank++;
}

static void tc__space_of(const tc__schedule *s, const tc__root *r, tc__space *out) {
    const tc__node *n = s->g->node.at[r->node];
    const tc__node *a = tc__is_kind(n, TC__KIND_REDUCE) ? tc__operand(s->g, n, 0) : n;
    tc__ix dims[TC_MAX_RANK];
    memset(out, 0, sizeof *out);
    tc__root_dims(s->g, r, dims);
    for (int i = 0; i < a->rank; i++)
        tc__space_add(out, s->g->ix, a == n ? dims[i] : a->dims[i],
                      a != n && (n->attr[TC__REDUCE_DIMS] >> i & 1));
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
    w->k->target.inputs = s->inputs;
    return tc__graph_open(&w->k->body, s->ctx, s->g->ix);
}

// Frees the weave; its group is handed over, or freed when `failed`.
static tc__group *tc__weave_close(tc__weave *w, const tc__schedule *s, int failed) {
    TC__VEC_FREE(w->ctx, w->seen);
    TC__VEC_FREE(w->ctx, w->wanted);
    tc__map_free(&w->seen_ids);
    tc__free(w->ctx, w->accumulated,
             (s->root.count ? s->root.count : 1) * sizeof *w->accumulated);
    if (failed) tc__group_free(w->ctx, w->k);
    return failed ? NULL : w->k;
}

// A contraction and its operands: left at (rows, k), right at (batch, k, columns). Where it has no elements, others do
// not name it.
static uint32_t tc__lower_contraction(tc__weave *w, const tc__node *n) {
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
    w->factor[0] = tc__lower_value(w, a, l);
    w->side = TC__AT_RIGHT;
    w->factor[1] = tc__lower_value(w, b, r);
    w->side = TC__AT_COL;
    w->depth = depth;
    w->k->shape.batch = tc__ix_const(1);
    for (int i = 0; i < rank - 2; i++)
        w->k->shape.batch = tc__ix_mul(w->ix, w->k->shape.batch, n->dims[i]);
    return tc__weave_node(w, TC_OP_CONTRACT, n->dtype, w->factor, 2, &w->depth, 1);
}

// Where root r, or this part of it, is made in the cluster being woven, and the element's position in
// memory.
static tc__fit tc__place_own(tc__weave *w, const tc__root *r, uint32_t part, tc__ix *index,
                             tc__ix *flat) {
    const tc__node *n = w->g->node.at[r->node];
    tc__ix dims[TC_MAX_RANK];
    uint32_t reduced = w->space.reduced;
    tc__root_dims(w->g, r, dims);
    tc__fit fit = tc__space_fit(w->ix, &w->space, reduced, n->rank, dims, flat);
    if (tc__is_kind(n, TC__KIND_REDUCE)) {
        fit = TC__FIT_ROW;
        tc__fits(w->ix, &w->space, reduced, n->rank, dims, flat);
    }
    tc__own_index(w, n->rank, dims, fit == TC__FIT_ROW ? reduced : 0, index);
    if (!r->folds) return fit;
    tc__ix before = tc__ix_mul(w->ix, tc__ix_const((int64_t)part), r->fold);
    if (!r->unrolled) index[r->along] = tc__ix_add(w->ix, index[r->along], before);
    for (int i = n->rank; i-- > 0;) {
        if (!(r->unrolled >> i & 1)) continue;
        int64_t size = tc__ix_value(n->dims[i]);
        index[i] = tc__ix_const(part % size), part /= (uint32_t)size;
    }
    *flat = tc__flat(w->ix, n->rank, n->dims, index);
    return fit;
}

static uint32_t tc__folds_of(const tc__root *r) { return r->folds ? r->folds : 1; }

// The GROUP node of a root's value, or part, in the cluster being woven.
static uint32_t tc__lower_own(tc__weave *w, const tc__root *r, uint32_t part) {
    const tc__node *n = w->g->node.at[r->node];
    tc__ix index[TC_MAX_RANK], flat;
    (void)tc__place_own(w, r, part, index, &flat);
    if (tc__is_kind(n, TC__KIND_CONTRACT)) return tc__lower_contraction(w, n);
    return tc__lower_value(w, n, index);
}

// That root `reader` loads the buffer of this source at this index.
static int tc__note_read(tc__schedule *s, uint32_t reader, const tc__outlined_load *l,
                         uint32_t source) {
    uint64_t place, hash = tc__hash_mix(tc__hash_mix(source, l->place), (uint64_t)l->index);
    tc__read r;
    if (!tc__map_get(&s->places, hash, &place)) {
        place = s->place_count++;
        if (!tc__map_set(&s->places, hash, place)) return 0;
    }
    r.reader = reader, r.place = (uint32_t)place;
    r.external = l->place == TC__BUF_INPUT;
    r.source = r.external ? source : (uint32_t)s->root_of[source];
    return TC__PUSH(s->ctx, s->read, r);
}

// What a root loads that has this outline.
static int tc__note_uses(tc__schedule *s, uint32_t reader, const tc__outline *own,
                         const tc__outlined_load *load, size_t loads) {
    for (const tc__outlined_load *l = load; l < load + loads; l++) {
        uint32_t source = tc__outlined_source(&s->outlines, own, l->node, l->place);
        tc__use u;
        if (!tc__note_read(s, reader, l, source)) return 0;
        if (l->place != TC__BUF_NODE) continue;
        u.reader = reader, u.root = (uint32_t)s->root_of[source];
        u.index = l->index, u.guarded = l->guarded;
        if (!TC__PUSH(s->ctx, s->use, u)) return 0;
    }
    return 1;
}

// The loads of a root that was lowered alone are kept with its outline.
static int tc__outline_loads(tc__outlines *o, const tc__outline *own, const tc__weave *w) {
    for (size_t i = 0; i < w->k->body.node.count; i++) {
        const tc__node *n = w->k->body.node.at[i];
        tc__outlined_load l;
        if (n->op != TC_OP_LOAD) continue;
        const tc__kbuf *b = tc__buffer_of(w->k, n);
        l.node = tc__outline_number(o, own, b), l.place = b->place;
        l.index = n->attr[TC__LOAD_INDEX];
        l.guarded = n->n_attr > TC__LOAD_PREDICATES || n->level == TC__AT_LEFT ||
                    n->level == TC__AT_RIGHT;
        if (!TC__PUSH(o->ctx, o->load, l)) return 0;
    }
    return 1;
}

// Of how many places at most a padded image is asked for, by all taps together: of 9 by 5x5, where rows are not that short.
// Means of 3x3 in a border that is reflected take, of the time of their inside, so and where the border is made in memory
// first: of 1024 x 1024 1.0 and 1.5, of 64 x 64 1.13 and 1.75, of 28 x 28 1.4 and 1.8, of 14 x 14 1.7 and 4.0; means of
// 5x5, of 256 x 256 1.07 and 1.28, of 48 x 48 1.2 and 1.45, of 28 x 28 1.9 and 1.4 (Zen 5). The compiler takes 0.2 s for
// 5x5, 0.07 for 3x3.
enum {
    TC__BORDER_PLACES = 225,
    TC__BORDER_FEW = 81,     //   of them, by 3x3, in rows of any length, else
    TC__BORDER_COLUMNS = 48, //   of as many columns at least,
    TC__BORDER_REACH = 3,    //   which are so many times as many as taps reach over
    TC__BORDER_TAPS = 49     // taps of an image of one place
};

// Of how many places n has what lies in memory, 1 but where tensors are joined; 0 = it is computed, or has too many.
static uint32_t tc__places_of(const tc__schedule *s, const tc__node *n) {
    const tc__node *open[TC__BORDER_PLACES];
    uint32_t places = 0, count = 1;
    open[0] = n;
    while (count) {
        n = open[--count];
        while (tc__is_kind(n, TC__KIND_MOVE) && s->root_of[n->id] == TC__NONE)
            n = tc__operand(s->g, n, 0);
        if (n->op == TC_OP_INPUT || s->root_of[n->id] != TC__NONE) {
            if (++places > TC__BORDER_PLACES) return 0;
            continue;
        }
        if (n->op != TC_OP_CAT || count + n->n_in > TC__BORDER_PLACES) return 0;
        for (uint32_t k = 0; k < n->n_in; k++) open[count++] = tc__operand(s->g, n, k);
    }
    return places;
}

// Of steps of two: with more taps or fewer columns, padding first is faster.
enum { TC__SECOND_TAPS = 9, TC__SECOND_COLUMNS = 7 };

// Whether the points of a vector lie beside each other in node n wherever it is met, or few times two apart; where n is
// joined of several, also in turn, or in one place, as what is reflected or repeated does.
static int tc__has_vectors(const tc__schedule *s, const tc__weave *w, const tc__node *n,
                           int joined) {
    int last = w->space.rank - 1, second = 0, taps = 0;
    if (!n->rank) return 1;
    for (size_t i = 0; i < w->seen.count && last >= 0; i++) {
        const tc__visited *v = &w->seen.at[i];
        if (v->node != n->id) continue;
        tc__axis axis = (tc__axis)(TC__DIM0 + last);
        tc__ixrun run = tc__ix_run(s->g->ix, v->index[n->rank - 1], axis);
        taps++, second |= run.ok && tc__ix_equals(run.stride, 2);
        if (!run.ok) return 0;
        if (joined && (tc__ix_equals(run.stride, 0) || tc__ix_equals(run.stride, -1)))
            continue;
        if (!second && !tc__ix_equals(run.stride, 1)) return 0;
    }
    if (!second) return 1;
    return n->dtype == TC_F32 && taps <= TC__SECOND_TAPS &&
           tc__ix_lo(s->g->ix, w->space.dims[last]) >= TC__SECOND_COLUMNS;
}

// Whether a padded image need not be made in memory: who reads it asks for its border. On a host that
// is a mask for each tap, lane by lane but for these dtypes and steps. 3x3 of maps of 14x14 takes
// 0.6 of the time so, of 4x4 to 1024x1024 0.5 to 0.85, with steps of 2 0.5 to 0.85.
static int tc__reads_borders(const tc__schedule *s, const tc__weave *w, const tc__node *n,
                             int joined) {
    tc__fuse fuse = tc__fuse_of(s, n);
    if (fuse != TC__FUSE_BORDERS) return fuse == TC__FUSE_LOADS;
    return (n->dtype == TC_F32 || n->dtype == TC_I32) && tc__has_vectors(s, w, n, joined);
}

// Over how many columns the taps of node n reach. The far end of a circle is beside its begin.
static int64_t tc__taps_reach(const tc__schedule *s, const tc__weave *w,
                              const tc__node *n) {
    int64_t low = INT64_MAX, high = INT64_MIN;
    int64_t size = tc__ix_lo(s->g->ix, n->dims[n->rank - 1]);
    for (size_t i = 0; i < w->seen.count; i++) {
        const tc__visited *v = &w->seen.at[i];
        if (v->node != n->id) continue;
        tc__ix apart =
            tc__ix_sub(s->g->ix, v->index[n->rank - 1], w->space.var[w->space.rank - 1]);
        if (!tc__ix_is_const(apart)) continue;
        int64_t far = tc__ix_value(apart);
        if (far > size / 2) far -= size;
        if (far < -size / 2) far += size;
        if (far < low) low = far;
        if (far > high) high = far;
    }
    return low < high ? high - low : 0;
}

// The same of an image that says where what is in memory lies, and where several tensors are, or parts of one, as in a border
// that is reflected. A host's compiler takes long for a mask of each of many taps.
static int tc__reads_places(const tc__schedule *s, const tc__weave *w, const tc__node *n,
                            uint32_t taps) {
    uint32_t places = tc__places_of(s, n);
    int last = w->space.rank - 1;
    if (!places || !tc__reads_borders(s, w, n, places > 1)) return 0;
    int loads = tc__fuse_of(s, n) == TC__FUSE_LOADS; // devices: not measured there
    if (places == 1) return loads || taps <= TC__BORDER_TAPS;
    if (loads || places * taps > TC__BORDER_PLACES || last < 0 || !n->rank) return 0;
    int64_t columns = tc__ix_lo(s->g->ix, w->space.dims[last]);
    return columns >= TC__BORDER_REACH * tc__taps_reach(s, w, n) &&
           (places * taps <= TC__BORDER_FEW || columns >= TC__BORDER_COLUMNS);
}

// A node met at many index tuples, and dear: the image of a stencil. 0 = none. Of what was seen from `from` on.
static uint32_t tc__find_stencil(const tc__schedule *s, const tc__weave *w, size_t from) {
    uint32_t best = 0;
    for (size_t i = from; i < w->seen.count; i++) {
        const tc__node *n = s->g->node.at[w->seen.at[i].node];
        uint32_t taps = 0;
        int moves = tc__is_kind(n, TC__KIND_MOVE) && n->op != TC_OP_PAD;
        if (n->id <= best || moves || s->root_of[n->id] != TC__NONE) continue;
        if (s->inside[n->id]) continue;
        if (tc__is_kind(n, TC__KIND_SOURCE) && n->op != TC_OP_RANDOM) continue;
        for (size_t k = from; k < w->seen.count; k++) taps += w->seen.at[k].node == n->id;
        if (taps < TC__TAPS || taps * s->cost[n->id] <= 4 * TC__CHEAP) continue;
        if (!tc__reads_places(s, w, n, taps)) best = n->id;
    }
    return best;
}

// Root r reads an external behind what is stored in it: there is no point at which both could be.
static int tc__note_behind(tc__schedule *s, uint32_t r, const tc__node *n) {
    tc__use u;
    u.reader = r, u.index = 0, u.guarded = 1;
    for (uint32_t i = 0; n->op == TC_OP_INPUT && i < n->n_in; i++) {
        if (s->root_of[n->in[i]] == TC__NONE) continue; // without elements
        u.root = (uint32_t)s->root_of[n->in[i]];
        if (!TC__PUSH(s->ctx, s->use, u)) return 0;
    }
    return 1;
}

// An opaque op is a cluster that stays alone: it loads whole buffers.
static int tc__analyse_opaque(tc__schedule *s, uint32_t r, const tc__node *n) {
    tc__cluster c;
    tc__use u;
    tc__value v;
    memset(&c, 0, sizeof c);
    tc__space_of(s, &s->root.at[r], &c.space);
    c.alive = 1, c.kind = TC__OPAQUE, c.first = r, c.size = 1, c.device = n->device;
    c.loop = n->loop;
    c.buffers = n->n_in + 1;
    tc__cluster_again(s, &c, n);
    u.reader = r, u.index = 0, u.guarded = 1;
    for (uint32_t i = 0; i < n->n_in; i++) {
        const tc__node *a = tc__opaque_operand(s->g, n, i);
        int32_t root = s->root_of[a->id];
        if (tc__opaque_is_filled(s->g, n, i, &v)) continue;
        if (root == TC__NONE && !tc__note_behind(s, r, a)) return 0;
        if (root == TC__NONE) continue; // an input, or without elements
        u.root = (uint32_t)root;
        if (!TC__PUSH(s->ctx, s->use, u)) return 0;
    }
    return TC__PUSH(s->ctx, s->cluster, c);
}

// The ops and constants of root r, by itself.
static int tc__note_ops(tc__schedule *s, uint32_t r, const tc__outline *own) {
    tc__root *root = &s->root.at[r];
    root->op = (uint32_t)s->op.count;
    for (size_t i = 0; i < own->nodes; i++) {
        uint32_t id = s->outlines.node.at[own->node + i];
        const tc__node *n = s->g->node.at[id];
        int loaded = id != root->node && s->root_of[id] != TC__NONE;
        int given = tc__is_kind(n, TC__KIND_SOURCE) && n->op != TC_OP_CONST;
        if (loaded || given || tc__is_kind(n, TC__KIND_MOVE)) continue;
        if (!TC__PUSH(s->ctx, s->op, id)) return 0;
    }
    root->ops = (uint32_t)s->op.count - root->op;
    return 1;
}

static uint32_t tc__body_ops(const tc__graph *body) {
    uint32_t ops = 0;
    for (size_t i = 0; i < body->node.count; i++) {
        ops += body->node.at[i]->op != TC_OP_LOAD;
    }
    return ops;
}

// Lowers root r alone; gives a node to force first. Parts have elements of their own: what each of them meets once is no image.
static uint32_t tc__lower_parts(const tc__schedule *s, tc__weave *w, const tc__root *r) {
    uint32_t best = 0, folds = tc__folds_of(r);
    size_t from = 0;
    for (uint32_t i = 0; i < folds; i++) {
        tc__lower_own(w, r, i);
        if (r->unrolled && i + 1 < folds) continue;
        uint32_t one = tc__find_stencil(s, w, from);
        if (one > best) best = one;
        from = w->seen.count;
    }
    return best;
}

// Lowers root r alone, in its space, and keeps its outline. NULL = failed, or *stencil != 0: a node to
// force first.
static const tc__outline *tc__analyse_first(tc__schedule *s, uint32_t r,
                                            const tc__space *space, tc__outline *own,
                                            uint32_t *stencil) {
    tc__weave w;
    tc__outlines *o = &s->outlines;
    const tc__outline *kept = NULL;
    int ok = tc__weave_open(&w, s, r, space);
    if (ok) {
        *stencil = tc__lower_parts(s, &w, &s->root.at[r]);
        ok = !w.failed && !s->g->ix->failed;
    }
    if (ok && !*stencil) {
        own->size = (uint32_t)w.k->body.node.count;
        own->ops = tc__body_ops(&w.k->body);
        own->buffers = (uint32_t)w.k->buffer.count + 1;
        if (tc__outline_loads(o, own, &w)) kept = tc__outline_keep(o, own);
    }
    tc__weave_close(&w, s, 1);
    return kept;
}

// What root r is and loads by itself. *stencil != 0: a node to force first.
static int tc__analyse(tc__schedule *s, uint32_t r, uint32_t *stencil) {
    tc__cluster c;
    tc__outlines *o = &s->outlines;
    const tc__node *n = s->g->node.at[s->root.at[r].node];
    if (tc__is_kind(n, TC__KIND_OPAQUE)) return tc__analyse_opaque(s, r, n);
    memset(&c, 0, sizeof c);
    tc__root_fold(s, &s->root.at[r]);
    tc__space_of(s, &s->root.at[r], &c.space);
    c.alive = 1, c.first = r, c.part = s->part[n->id], c.device = n->device;
    tc__cluster_again(s, &c, n);
    c.loop = n->loop;
    c.kind =
        c.space.reduced || tc__is_kind(n, TC__KIND_REDUCE) ? TC__REDUCTION : TC__POINTWISE;
    if (tc__is_kind(n, TC__KIND_CONTRACT)) c.kind = TC__CONTRACTION;
    tc__outline own = tc__outline_begin(o, s->root.at, r);
    tc__outline_word(o, TC__OUTLINE_ROOT | (uint64_t)s->root.at[r].folds << 8 |
                            (uint64_t)c.device << 16);
    tc__outline_node(o, &own, n);
    const tc__outline *same = tc__outline_end(o, &own), *of = same;
    if (o->failed || !tc__note_ops(s, r, &own)) return 0;
    if (!of) of = tc__analyse_first(s, r, &c.space, &own, stencil);
    if (!of) return tc__outline_drop(o, &own), *stencil != 0;
    c.size = of->size, c.buffers = of->buffers;
    c.taps = of->ops > s->root.at[r].ops ? of->ops - s->root.at[r].ops : 0;
    int ok = tc__note_uses(s, r, &own, o->load.at + of->load, of->loads);
    for (size_t i = 0; ok && i < own.nodes; i++)
        ok = tc__note_behind(s, r, s->g->node.at[o->node.at[own.node + i]]);
    if (same) tc__outline_drop(o, &own);
    return ok && TC__PUSH(s->ctx, s->cluster, c);
}

// Forgets the roots from node `first` on; gives how many are left.
static uint32_t tc__analyse_back(tc__schedule *s, uint32_t first) {
    size_t n = s->cluster.count < s->root.count ? s->cluster.count : s->root.count;
    while (n && s->root.at[n - 1].node >= first) n--;
    const tc__root *last = n ? &s->root.at[n - 1] : NULL;
    s->cluster.count = n;
    s->use.count = last ? last->use + last->uses : 0;
    s->read.count = last ? last->read + last->reads : 0;
    s->op.count = last ? last->op + last->ops : 0;
    return (uint32_t)n;
}

// The roots among nodes first to end, and what they load. A node that is forced is a root of its own: it and
// what follows are looked at again.
static int tc__analyse_part(tc__schedule *s, const uint8_t *output, uint32_t first,
                            size_t end) {
    for (;;) {
        uint32_t stencil = 0;
        if (!tc__find_roots(s, output, &first, end)) return 0;
        for (uint32_t r = tc__analyse_back(s, first); r < s->root.count && !stencil; r++) {
            tc__root *own = &s->root.at[r];
            own->use = (uint32_t)s->use.count, own->read = (uint32_t)s->read.count;
            if (!tc__analyse(s, r, &stencil)) return 0;
            own->uses = (uint32_t)s->use.count - own->use;
            own->reads = (uint32_t)s->read.count - own->read;
        }
        if (!stencil) return 1;
        s->forced[stencil] = 1;
        first = stencil;
    }
}

enum { TC__ANALYSED = 256 }; // nodes at once: so much is done again for each stencil

static int tc__analyse_all(tc__schedule *s, const uint8_t *output) {
    size_t n = s->g->node.count;
    s->cluster.count = s->root.count = 0;
    for (size_t i = 0; i < n; i++) s->root_of[i] = TC__NONE;
    for (size_t first = 0, end; first < n; first = end) {
        end = n - first > TC__ANALYSED ? first + TC__ANALYSED : n;
        if (!tc__analyse_part(s, output, (uint32_t)first, end)) return 0;
    }
    return 1;
}
