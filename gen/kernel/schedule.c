// Clusters -> kernels: each cluster is lowered as a whole, its dimensions become rows and columns, and
// kernels are put in an order in which every value is made before it is read.

enum { TC__MANY_COLUMNS = 1 << 20 }; // as good as endless; a run-time size may be

// Whether a load reads so many elements behind another of its buffer, as those of a stencil do.
static int tc__has_neighbours(const tc__weave *w) {
    for (size_t i = 0; i < w->k->body.node.count; i++) {
        const tc__node *n = w->k->body.node.at[i];
        for (size_t j = 0; j < i && n->op == TC_OP_LOAD; j++) {
            const tc__node *m = w->k->body.node.at[j];
            if (m->op != TC_OP_LOAD || m->attr[TC__LOAD_BUFFER] != n->attr[TC__LOAD_BUFFER])
                continue;
            tc__ix apart =
                tc__ix_sub(w->ix, n->attr[TC__LOAD_INDEX], m->attr[TC__LOAD_INDEX]);
            if (tc__ix_is_const(apart) && !tc__ix_equals(apart, 0)) return 1;
            break;
        }
    }
    return 0;
}

// Whether an expression of node n, or a bound of it, has to be put together from the columns.
static int tc__splits_columns(tc__weave *w, const tc__node *n, uint32_t columns) {
    for (uint32_t i = 0; i < n->n_attr; i++) {
        if (!tc__attr_is_ix(n, i)) continue;
        tc__ix e = tc__to_rows_cols(w->ix, &w->space, columns, n->attr[i]);
        if (tc__ix_run(w->ix, e, TC__COL).run != INT64_MAX) return 1;
    }
    return 0;
}

// A pointwise body, and what each of its values depends on.
typedef struct tc__motion {
    tc__weave *w;
    uint32_t *depends; // by body node: its dimensions, as bits of names: tc__ix_names_of
    uint32_t names;    // scratch of tc__val_names
    int neighbours, host;
} tc__motion;

// What accesses cost that are not of neighbours: 2 is one that is. A vector of the host whose lanes lie apart
// is put together of scalars, every second one of two loads, and what is woven of two rows or three of a load of each.
// On a device rows are turned by tiles, and divisions are cheap.
enum {
    TC__MOVE_STEP = 16,
    TC__MOVE_SECOND = 6,
    TC__MOVE_WOVEN = 6,
    TC__MOVE_WOVEN_COLUMNS = 16, // of which there are so many
    TC__MOVE_APART = 24,
    TC__MOVE_TERM = 12,
    TC__MOVE_DIVIDED = 240
};

static void tc__motion_val(void *user, uint32_t id) {
    tc__motion *m = (tc__motion *)user;
    m->names |= m->depends[id];
}

// What the loaded values that e names depend on: the index of a gathered row names no column.
static uint32_t tc__val_names(tc__motion *m, tc__ix e) {
    m->names = 0;
    tc__ix_each_val(m->w->ix, e, tc__motion_val, m);
    return m->names;
}

static int tc__motion_open(tc__motion *m, tc__weave *w, int host) {
    const tc__graph *body = &w->k->body;
    m->w = w, m->names = 0, m->neighbours = tc__has_neighbours(w), m->host = host;
    m->depends = TC__NEW_ARRAY(w->ctx, uint32_t, body->node.count);
    for (uint32_t id = 0; m->depends && id < body->node.count; id++) {
        const tc__node *n = body->node.at[id];
        for (uint32_t i = 0; i < n->n_in; i++) m->depends[id] |= m->depends[n->in[i]];
        for (uint32_t i = 0; i < n->n_attr; i++)
            if (tc__attr_is_ix(n, i))
                m->depends[id] |=
                    tc__ix_names_of(w->ix, n->attr[i]) | tc__val_names(m, n->attr[i]);
    }
    return m->depends != NULL;
}

// Whether columns in e are divided by what is known at run time only.
static int tc__divides_columns(const tc__ixpool *p, tc__ix e) {
    if (!tc__ix_uses(p, e, TC__COL)) return 0;
    const tc__ixnode *n = tc__ix_node(p, e);
    if (n->kind == TC__IX_DIV || n->kind == TC__IX_MOD)
        return !tc__ix_is_const(n->b) || tc__divides_columns(p, n->a);
    for (uint32_t i = 0; n->kind == TC__IX_POLY && i < n->count; i++)
        for (int k = 0; k < TC__IX_ATOMS; k++)
            if (tc__divides_columns(p, p->term.at[n->first + i].atom[k])) return 1;
    return 0;
}

// Of an index that is put together of divided columns, a lane at a time: 3x3 maxima of every second element
// of maps of 55 x 55 took 30 times as long so as along their rows. Transposed 28x28 of run-time sizes took
// eight times as long.
static int64_t tc__divided_cost(const tc__ixpool *p, tc__ix e) {
    const tc__ixnode *n = tc__ix_node(p, e);
    int64_t terms = n->kind == TC__IX_POLY ? (int64_t)n->count : 1;
    return TC__MOVE_STEP + TC__MOVE_TERM * terms +
           (tc__divides_columns(p, e) ? TC__MOVE_DIVIDED : 0);
}

// Whether a load or store at e, which rows and columns make of `index`, moves along the columns with one
// stride, and a value in its index moves with the rows only.
static int64_t tc__access_cost(tc__motion *m, uint32_t columns, tc__ix index) {
    tc__ixpool *p = m->w->ix;
    tc__ix e = tc__to_rows_cols(p, &m->w->space, columns, index);
    tc__ixrun r = tc__ix_run(p, e, TC__COL);
    int dense = r.ok && (tc__ix_equals(r.stride, 1) || tc__ix_equals(r.stride, 0));
    if (tc__val_names(m, index) >> TC__DIM0 & columns) return TC__MOVE_APART;
    if (dense && tc__ixrun_spans(&r, TC__VECTOR)) return 2;
    if (m->host && tc__ix_woven(p, e, TC__COL) &&
        tc__ix_hi(p, tc__space_size(p, &m->w->space, columns)) >= TC__MOVE_WOVEN_COLUMNS)
        return TC__MOVE_WOVEN;
    if (dense || !r.ok || r.run != INT64_MAX)
        return m->host ? tc__divided_cost(p, e) : (int)TC__MOVE_APART;
    return m->host && tc__ix_equals(r.stride, 2) ? TC__MOVE_SECOND : TC__MOVE_STEP;
}

// Whether a predicate of node n has to be asked of single elements: it is no range of columns, and does
// not stay as it is over whole vectors, nor tell which of two rows that the host weaves is meant.
static int tc__tests_elements(const tc__motion *m, const tc__node *n, uint32_t columns) {
    tc__weave *w = m->w;
    for (uint32_t i = tc__pairs_at(n); tc__has_pairs(n) && i < n->n_attr; i += 2) {
        tc__interval edge;
        tc__ix e = tc__to_rows_cols(w->ix, &w->space, columns, n->attr[i]);
        tc__ixrun run = tc__ix_run(w->ix, e, TC__COL);
        if (tc__ix_has_val(w->ix, e) || tc__ixrun_spans(&run, TC__VECTOR)) continue;
        if (m->host && tc__ix_repeats(w->ix, e, TC__COL, 2, 0)) continue;
        if (!tc__edge_of(w->ix, e, n->attr[i + 1], &edge)) return 1;
    }
    return 0;
}

// How well loads and stores move along the columns if `columns` are the column dimensions: the cost
// of one element in eighths of a contiguous access. Neighbours are found along rows and columns, if
// columns are not several dimensions.
// Short rows are better than divided columns, as lanes whose index is divided cost a
// division each: max-pooling of 14x14 to 55x55 by 2 takes 0.03 to 0.12 of that time, a
// transposed 12x12 0.3.
static int64_t tc__split_cost(tc__motion *m, uint32_t columns) {
    const tc__weave *w = m->w;
    int64_t cost = 0;
    uint32_t all = w->space.rank ? (uint32_t)(((uint64_t)1 << w->space.rank) - 1) : 0;
    int64_t cols = tc__ix_hi(w->ix, tc__space_size(w->ix, &w->space, columns & all));
    if (cols > TC__MANY_COLUMNS) cols = TC__MANY_COLUMNS;
    for (size_t i = 0; i < w->k->body.node.count; i++) {
        const tc__node *n = w->k->body.node.at[i];
        int64_t each = 2;
        if (n->op == TC_OP_LOAD || n->op == TC_OP_STORE || n->op == TC_OP_INDEX) {
            each = tc__access_cost(m, columns, tc__index_of(n));
            if (each == 2 && m->neighbours && tc__splits_columns(m->w, n, columns))
                each = 4;
        }
        if (tc__tests_elements(m, n, columns)) each = 24;
        cost += each;
    }
    return cost * ((cols + 7) / 8 * 8 + 8) / (cols > 0 ? cols : 1);
}

// POINTWISE: the trailing dimensions that make the columns. 0 = out of memory.
static int tc__choose_columns(tc__weave *w, int host, uint32_t *best) {
    tc__motion m;
    int rank = w->space.rank, ok = tc__motion_open(&m, w, host);
    uint32_t all = rank ? (uint32_t)(((uint64_t)1 << rank) - 1) : 0;
    int64_t best_cost = INT64_MAX;
    *best = rank ? 1u << (rank - 1) : 0;
    for (int first = 0; ok && first < rank; first++) {
        uint32_t columns = all & ~((1u << first) - 1);
        int64_t cost = tc__split_cost(&m, columns);
        if (cost < best_cost) *best = columns, best_cost = cost;
    }
    tc__free(w->ctx, m.depends,
             (w->k->body.node.count ? w->k->body.node.count : 1) * sizeof *m.depends);
    return ok;
}

static void tc__weave_store(tc__weave *w, const tc__root *r, uint32_t part,
                            uint32_t value) {
    const tc__node *n = w->g->node.at[r->node];
    tc__ix flat = tc__ix_const(0), index[TC_MAX_RANK];
    int64_t attr[2];
    if (w->failed || w->ix->failed || w->k->body.node.count <= value) {
        w->failed = 1;
        return;
    }
    if (tc__place_own(w, r, part, index, &flat) == TC__FIT_NOT) w->failed = 1;
    attr[TC__STORE_BUFFER] =
        tc__weave_buffer(w, TC__BUF_NODE, n->id, n->dtype, tc__node_numel(w->g, n));
    attr[TC__STORE_INDEX] = flat;
    if (w->failed) return;
    w->k->buffer.at[attr[TC__STORE_BUFFER]].written = 1;
    tc__weave_node(w, TC_OP_STORE, n->dtype, &value, 1, attr, 2);
}

// Body of one cluster in terms of dimension variables.
static int tc__weave_cluster(tc__weave *w, tc__schedule *s, uint32_t group) {
    const tc__root *r;
    for (uint32_t i = s->cluster.at[group].first; i != UINT32_MAX && !w->failed;
         i = r->next) {
        r = &s->root.at[i];
        for (uint32_t part = 0; part < tc__folds_of(r); part++) {
            uint32_t v = tc__lower_own(w, r, part);
            if (r->output || r->stored) tc__weave_store(w, r, part, v);
        }
    }
    return !w->failed && !w->ix->failed;
}

// The buffer of operand i of an opaque op, -1 = it has no elements, -2 = all are *fill.
static int64_t tc__opaque_buffer(tc__weave *w, const tc__schedule *s, const tc__node *n,
                                 uint32_t i, int64_t *fill) {
    const tc__node *a = tc__opaque_operand(s->g, n, i);
    tc__value v;
    tc__ix numel = tc__node_numel(w->g, a);
    if (tc__has_no_elements(a)) return -1;
    if (tc__opaque_is_filled(s->g, n, i, &v))
        return tc__value_store(fill, 0, a->dtype, v), TC__CALL_FILLED;
    if (s->root_of[a->id] == TC__NONE)
        return tc__weave_buffer(w, TC__BUF_INPUT, (uint32_t)a->attr[TC__INPUT_EXTERNAL],
                                a->dtype, numel);
    return tc__weave_buffer(w, TC__BUF_NODE, a->id, a->dtype, numel);
}

// The words of a CALL of n. 0 = out of memory.
static int tc__opaque_words(tc__weave *w, const tc__schedule *s, const tc__node *n,
                            int64_t attr[TC__CALL_MOST], uint32_t *count) {
    uint32_t at = TC__CALL_BUFFERS;
    attr[TC__CALL_OP] = n->op, attr[TC__CALL_OPERANDS] = n->n_in;
    attr[TC__CALL_FILL] = 0;
    attr[TC__CALL_WORD] = n->n_attr ? *n->attr : n->n_in > 1 ? (int64_t)n->in[1] : 0;
    attr[at++] =
        tc__weave_buffer(w, TC__BUF_NODE, n->id, n->dtype, tc__node_numel(s->g, n));
    for (uint32_t i = 0; i < n->n_in; i++)
        attr[at++] = tc__opaque_buffer(w, s, n, i, &attr[TC__CALL_FILL]);
    for (uint32_t i = 0; i <= n->n_in; i++) {
        const tc__node *a = i ? tc__operand(s->g, n, i - 1) : n;
        attr[at++] = a->rank;
        for (int d = 0; d < a->rank; d++) attr[at++] = a->dims[d];
    }
    *count = at;
    if (!w->failed) w->k->buffer.at[attr[TC__CALL_BUFFERS]].written = 1;
    return !w->failed;
}

// CALL of an opaque op over its buffers. There are no loops to bind: its rows are the work items, and
// the user's functions get all of them at once.
static tc__group *tc__make_opaque(tc__schedule *s, const tc__node *n) {
    tc__weave w;
    tc__node call;
    int64_t attr[TC__CALL_MOST];
    uint32_t none = 0;
    int r = s->root_of[n->id], whole = n->op == TC_OP_CUSTOM || n->op == TC_OP_TO;
    if (!tc__weave_open(&w, s, s->root.at[r].group,
                        &s->cluster.at[s->root.at[r].group].space))
        return tc__weave_close(&w, s, 1);
    tc__group *k = w.k;
    k->shape.kind = TC__OPAQUE, k->shape.phases = 1, k->shape.grain = 1,
    k->shape.vector = TC__COL;
    k->shape.rows = tc__ix_const(1);
    k->shape.cols = whole ? tc__node_numel(s->g, n) : n->dims[n->rank - 1];
    for (int i = 0; !whole && i < n->rank - 1; i++)
        k->shape.rows = tc__ix_mul(w.ix, k->shape.rows, n->dims[i]);
    k->shape.items = k->shape.rows;
    memset(&call, 0, sizeof call);
    call.op = TC_OP_CALL, call.stage = TC__LOOP, call.dtype = n->dtype, call.in = &none;
    call.attr = attr;
    int ok = tc__opaque_words(&w, s, n, attr, &call.n_attr) &&
             tc__node_append(&k->body, &call) && tc__checked(s->ctx, &k->body, TC__LOOP);
    return tc__weave_close(&w, s, !ok);
}

// The opaque op that a cluster is.
static const tc__node *tc__opaque_node(const tc__schedule *s, uint32_t group) {
    return s->g->node.at[s->root.at[s->cluster.at[group].first].node];
}

// A cluster unlike those before.
static tc__group *tc__make_first(tc__schedule *s, uint32_t group) {
    tc__weave w;
    const tc__cluster *c = &s->cluster.at[group];
    if (!tc__weave_open(&w, s, group, &c->space)) return tc__weave_close(&w, s, 1);
    w.k->shape.kind = c->kind, w.k->target.device = c->device;
    if (!tc__weave_cluster(&w, s, group)) return tc__weave_close(&w, s, 1);
    uint32_t all = c->space.rank ? (uint32_t)(((uint64_t)1 << c->space.rank) - 1) : 0,
             columns;
    columns = c->space.reduced;
    if (c->kind == TC__POINTWISE &&
        !tc__choose_columns(&w, s->fuses[c->device] != TC__FUSE_LOADS, &columns))
        return tc__weave_close(&w, s, 1);
    if (c->kind == TC__CONTRACTION) {
        // The last dimension of the product; when it is 1 there is no column dimension.
        columns = 0;
        for (uint32_t i = c->first; i != UINT32_MAX; i = s->root.at[i].next) {
            const tc__node *n = s->g->node.at[s->root.at[i].node];
            if (tc__is_kind(n, TC__KIND_CONTRACT))
                columns =
                    tc__ix_equals(n->dims[n->rank - 1], 1) ? 0 : 1u << (c->space.rank - 1);
        }
    }
    w.k->shape.rows = tc__space_size(w.ix, &c->space, all & ~columns);
    w.k->shape.cols = tc__space_size(w.ix, &c->space, columns);
    int ok = tc__checked(s->ctx, &w.k->body, TC__GROUP) && tc__group_finish(&w, columns) &&
             tc__checked(s->ctx, &w.k->body, TC__LOOP);
    return tc__weave_close(&w, s, !ok);
}

static void tc__outline_cluster(tc__schedule *s, const tc__outline *own,
                                const tc__cluster *c) {
    tc__outlines *o = &s->outlines;
    tc__outline_word(o, TC__OUTLINE_ROOT | (uint64_t)c->kind << 8 |
                            (uint64_t)c->space.rank << 16 |
                            (uint64_t)c->space.reduced << 32);
    tc__outline_word(o, (uint64_t)c->device);
    for (int i = 0; i < c->space.rank; i++) tc__outline_word(o, (uint64_t)c->space.dims[i]);
    for (uint32_t i = c->first; i != UINT32_MAX; i = s->root.at[i].next) {
        const tc__root *r = &s->root.at[i];
        tc__outline_word(o, TC__OUTLINE_ROOT | (uint64_t)r->output << 8 |
                                (uint64_t)r->stored << 16 | (uint64_t)r->folds << 24);
        tc__outline_word(o, (uint64_t)tc__is_of_turn(s->g, r->node));
        tc__outline_node(o, own, s->g->node.at[r->node]);
    }
}

// A cluster of ops that are lowered, anew or as another was.
static tc__group *tc__make_lowered(tc__schedule *s, uint32_t group) {
    const tc__cluster *c = &s->cluster.at[group];
    tc__outlines *o = &s->outlines;
    tc__outline own = tc__outline_begin(o, s->root.at, group);
    tc__outline_cluster(s, &own, c);
    const tc__outline *same = tc__outline_end(o, &own);
    tc__group *k = o->failed ? NULL
                   : same    ? tc__group_like(o, &own, same, s->kernel.at[same->kernel])
                             : tc__make_first(s, group);
    own.kernel = s->kernel.count;
    if (same) tc__outline_drop(o, &own);
    if (k && !same && !tc__outline_keep(o, &own)) tc__group_free(s->ctx, k), k = NULL;
    return k;
}

static tc__group *tc__make_group(tc__schedule *s, uint32_t group) {
    const tc__cluster *c = &s->cluster.at[group];
    tc__group *k = c->kind == TC__OPAQUE ? tc__make_opaque(s, tc__opaque_node(s, group))
                                         : tc__make_lowered(s, group);
    int ok = k != NULL;
    if (k) k->target.device = c->device, k->target.loop = c->loop;
    for (uint32_t i = c->first; ok && i != UINT32_MAX; i = s->root.at[i].next)
        ok = TC__PUSH(s->ctx, k->covers, s->root.at[i].node);
    if (!ok) tc__group_free(s->ctx, k);
    return ok ? k : NULL;
}

static void tc__mark_stored(tc__schedule *s) {
    for (size_t i = 0; i < s->use.count; i++) {
        tc__root *p = &s->root.at[s->use.at[i].root];
        if (p->group != s->root.at[s->use.at[i].reader].group) p->stored = 1;
    }
}

// A cluster is ready when every cluster it loads from is done.
static int tc__cluster_ready(const tc__schedule *s, uint32_t group, const uint8_t *done) {
    for (uint32_t r = s->cluster.at[group].first; r != UINT32_MAX; r = s->root.at[r].next) {
        const tc__use *u = s->use.at + s->root.at[r].use;
        for (uint32_t i = 0; i < s->root.at[r].uses; i++) {
            uint32_t from = s->root.at[u[i].root].group;
            if (from != group && !done[from]) return 0;
        }
    }
    return 1;
}

// Whether all that is in `loop` is ready but for what else is in it.
static int tc__loop_ready(const tc__schedule *s, uint32_t loop, uint8_t *done) {
    int ready = 1;
    for (uint32_t i = 0; i < s->cluster.count; i++)
        if (s->cluster.at[i].alive && tc__loop_has(s->g, loop, s->cluster.at[i].loop))
            done[i] |= 2;
    for (uint32_t i = 0; i < s->cluster.count && ready; i++)
        if (done[i] & 2) ready = tc__cluster_ready(s, i, done);
    for (uint32_t i = 0; i < s->cluster.count; i++) done[i] &= 1;
    return ready;
}

// The loop around `in` that is right inside loop `open`.
static uint32_t tc__loop_inside(const tc__schedule *s, uint32_t in, uint32_t open) {
    while (s->g->loop.at[in - 1].outer != open) in = s->g->loop.at[in - 1].outer;
    return in;
}

static int tc__order_inside(tc__schedule *s, uint32_t loop, uint8_t *done, uint32_t *order,
                            size_t *n);

// Cluster `i`, or the loop right inside `open` that it is in; whether it is in the order now.
static int tc__order_one(tc__schedule *s, uint32_t i, uint32_t open, uint8_t *done,
                         uint32_t *order, size_t *n) {
    uint32_t in = s->cluster.at[i].loop;
    if (in != open) {
        in = tc__loop_inside(s, in, open);
        return tc__loop_ready(s, in, done) && tc__order_inside(s, in, done, order, n);
    }
    if (!tc__cluster_ready(s, i, done)) return 0;
    order[(*n)++] = i;
    return done[i] = 1;
}

// The kernels of a loop stand together: all that they need of others is done before. Loops are few deep. 0 = there
// is no such order.
static int tc__order_inside(tc__schedule *s, uint32_t loop, uint8_t *done, uint32_t *order,
                            size_t *n) {
    int made = 1, left = 1;
    while (left && made) {
        made = left = 0;
        for (uint32_t i = 0; i < s->cluster.count; i++) {
            if (!s->cluster.at[i].alive || done[i] ||
                !tc__loop_has(s->g, loop, s->cluster.at[i].loop))
                continue;
            int one = tc__order_one(s, i, loop, done, order, n);
            left |= !one, made |= one;
        }
    }
    return !left;
}

// The clusters that are left, each behind those it loads from. 0 = out of memory, or there is no such order.
static int tc__order_clusters(tc__schedule *s, uint32_t *order, size_t *n) {
    uint8_t *done = TC__NEW_ARRAY(s->ctx, uint8_t, s->cluster.count);
    int ok = done && tc__order_inside(s, 0, done, order, n);
    tc__free(s->ctx, done, s->cluster.count ? s->cluster.count : 1);
    return ok;
}

static int tc__emit_groups(tc__schedule *s) {
    size_t n = 0, some = s->cluster.count ? s->cluster.count : 1;
    uint32_t *order = TC__NEW_ARRAY(s->ctx, uint32_t, some);
    int ok = order && tc__order_clusters(s, order, &n) && tc__order_again(s, order, n);
    for (size_t i = 0; ok && i < n; i++) {
        tc__group *k = tc__make_group(s, order[i]);
        ok = k && TC__PUSH(s->ctx, s->kernel, k);
        if (k && !ok) tc__group_free(s->ctx, k);
    }
    if (order) TC__FREE_ARRAY(s->ctx, order, some);
    return ok || tc__fail(s->ctx, TC_E_INTERNAL,
                          "schedule: the kernels of a graph could not be built");
}

static void tc__schedule_close(tc__schedule *s) {
    size_t n = s->g->node.count ? s->g->node.count : 1;
    tc__free(s->ctx, s->live, n);
    tc__free(s->ctx, s->output, n);
    tc__free(s->ctx, s->forced, n);
    tc__free(s->ctx, s->inside, n);
    tc__free(s->ctx, s->product, n);
    tc__free(s->ctx, s->again, n * sizeof *s->again);
    tc__free(s->ctx, s->behind, n * sizeof *s->behind);
    tc__free(s->ctx, s->redraw, n);
    tc__free(s->ctx, s->way, n);
    tc__free(s->ctx, s->made_of, n * sizeof *s->made_of);
    tc__free(s->ctx, s->users, n * sizeof *s->users);
    tc__free(s->ctx, s->cost, n * sizeof *s->cost);
    tc__free(s->ctx, s->length, n * sizeof *s->length);
    tc__free(s->ctx, s->loads, n * sizeof *s->loads);
    tc__free(s->ctx, s->whole, n * sizeof *s->whole);
    tc__free(s->ctx, s->mates, n);
    tc__free(s->ctx, s->root_of, n * sizeof *s->root_of);
    tc__relate_close(s);
    tc__census_close(s);
    tc__window_close(s);
    tc__free(s->ctx, s->part, n * sizeof *s->part);
    TC__VEC_FREE(s->ctx, s->root);
    TC__VEC_FREE(s->ctx, s->cluster);
    TC__VEC_FREE(s->ctx, s->use);
    TC__VEC_FREE(s->ctx, s->read);
    TC__VEC_FREE(s->ctx, s->op);
    tc__map_free(&s->places);
    tc__outlines_close(&s->outlines);
    for (size_t i = 0; i < s->kernel.count; i++) tc__group_free(s->ctx, s->kernel.at[i]);
    TC__VEC_FREE(s->ctx, s->kernel);
}

// Fills s->kernel with the GROUPs that compute the nodes marked in `output`; `fuses` by device. 0 = reported.
static int tc__schedule_run_on(tc__schedule *s, tc_ctx *c, const tc__graph *g,
                               const uint8_t *output, const tc__shape *const *inputs,
                               const uint8_t *fuses) {
    size_t n = g->node.count;
    memset(s, 0, sizeof *s);
    s->ctx = c, s->g = g, s->inputs = inputs, s->apart = fuses[0] == TC__FUSE_NOTHING;
    memcpy(s->fuses, fuses, sizeof s->fuses);
    tc__map_init(&s->places, c);
    s->live = TC__NEW_ARRAY(c, uint8_t, n), s->forced = TC__NEW_ARRAY(c, uint8_t, n);
    s->product = TC__NEW_ARRAY(c, uint8_t, n), s->part = TC__NEW_ARRAY(c, uint32_t, n);
    s->users = TC__NEW_ARRAY(c, uint32_t, n), s->cost = TC__NEW_ARRAY(c, uint32_t, n);
    s->root_of = TC__NEW_ARRAY(c, int32_t, n), s->length = TC__NEW_ARRAY(c, uint32_t, n);
    s->again = TC__NEW_ARRAY(c, uint32_t, n), s->redraw = TC__NEW_ARRAY(c, uint8_t, n);
    s->way = TC__NEW_ARRAY(c, uint8_t, n), s->made_of = TC__NEW_ARRAY(c, uint32_t, n);
    s->inside = TC__NEW_ARRAY(c, uint8_t, n), s->loads = TC__NEW_ARRAY(c, tc__loads, n),
    s->whole = TC__NEW_ARRAY(c, uint8_t, n), s->behind = TC__NEW_ARRAY(c, uint32_t, n);
    s->mates = TC__NEW_ARRAY(c, uint8_t, n), s->output = TC__NEW_ARRAY(c, uint8_t, n);
    if (!s->inside || !s->loads || !s->whole || !s->mates || !s->output || !s->way ||
        !s->made_of || !s->again || !s->behind || !s->redraw)
        return 0;
    if (!s->live || !s->forced || !s->product || !s->users || !s->cost || !s->root_of ||
        !s->length || !s->part)
        return 0;
    if (!tc__outlines_open(&s->outlines, c, g, inputs, s->root_of, s->cost)) return 0;
    if (n) memcpy(s->live, output, n), memcpy(s->output, output, n);
    tc__mark_live(s, output);
    if (!tc__again_all(c, g, s->again)) return 0;
    tc__behind_all(s);
    tc__force_sources(s, output);
    tc__force_twisted(s);
    if (!s->apart) tc__follow_products(s, output), tc__force_padded(s), tc__force_spread(s);
    if (!s->apart) tc__force_of_rows(s);
    tc__mark_inside(s, output);
    if (!tc__analyse_all(s, output) || !tc__relate(s)) return 0;
    if (!s->apart && !tc__merge_roots(s, output)) return 0;
    if (!s->apart && !tc__redraw_roots(s, output)) return 0;
    tc__mark_stored(s);
    tc__log_apart(s);
    return tc__emit_groups(s);
}

// The same where all devices fuse alike.
TC__UNUSED static int tc__schedule_run(tc__schedule *s, tc_ctx *c, const tc__graph *g,
                                       const uint8_t *output,
                                       const tc__shape *const *inputs, tc__fuse fuse) {
    uint8_t fuses[TC__DEVICES_MOST];
    memset(fuses, (int)fuse, sizeof fuses);
    return tc__schedule_run_on(s, c, g, output, inputs, fuses);
}
