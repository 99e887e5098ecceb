// GROUP -> LOOP: the body of a group in execution order, with its loops bound for a CPU.
// Input: a weave whose nodes name dimension variables. Output: w->k->body as a LOOP list.
//
//  1. dimension variables become rows and columns
//  2. a column value that a later phase needs is computed again there when cheap, else kept in a row
//     buffer; so inside one phase everything is either a register, a row value or a load
//  3. nodes are put in order: phase by phase, row level before column level
//  4. loops are placed around the column levels, and the axis of the vector is chosen

enum {
    TC__VALS = 1 << 20,          // offset of value ids while nodes are renumbered
    TC__VECTOR = 8,              // elements of one vector, all ISAs and dtypes
    TC__LANES = 32,              // logical lanes of a reduction
    TC__CHUNK = TC__SPLIT_CHUNK, // elements of one chunk of a reduction: 8192
    TC__LATENCY_COST =
        24, // from here on the chain of one vector is too long for the CPU to overlap with
            // the next one: TC__OVERLAP vectors at a time (measured 5.2 -> 2.5 ns/element),
    TC__OVERLAP = 4,
    TC__WIDE =
        8, // unless there are as many chains side by side as this: tens of results that are loaded and stored
    // overlap by themselves, and compile in a quarter of the time (four chains of tanh: 4.9 -> 3.9)
    TC__LANE_BY_LANE =
        4, // more accesses without vectors: overlapped, they would be hundreds of loads
    TC__COL_FEW = 4096,   // from so many columns on they are work items where rows are few,
    TC__COL_GRAIN = 1024, //   of so many: two threads share 4096,
    TC__TURN_GRAIN =
        32, //   or their elements lie apart, so that the first cache holds their lines,
    TC__TURN_FEW = 16,      //   where few sets of it do,
    TC__TURN_ITEMS = 4,     //   of as many items at least
    TC__TURN_LINE = 64,     // bytes
    TC__TURN_PAGE = 4096,   // after so many it is the same set
    TC__NT_BYTES = 8 << 20, // outputs from here on are written past the caches
    TC__NT_LEAST = 1 << 20  // and from here on where measuring says so
};

typedef struct tc__finish {
    tc__weave *w;
    tc__ixpool *ix;
    uint32_t columns;         // dimensions that are columns
    tc__graph mid;            // nodes at their phases, in rows and columns
    tc__map made;             // (old id, phase) -> mid id
    uint32_t *cost;           // by old id: recomputing from loads and what is kept
    uint8_t *kept;            // by old id: it has a row buffer
    int val_is_column;        // scratch of tc__finish_level
    TC__VEC(uint64_t) wanted; // keys of `made` that are needed first, the last one first
    int waits;                // what is being finished needs the last one: see walk.c
    int failed;
} tc__finish;

static uint32_t tc__finish_node(tc__finish *f, uint32_t id, uint32_t phase);

static tc__node *tc__old(const tc__finish *f, uint32_t id) {
    return f->w->k->body.node.at[id];
}

// Whether a value is there for who computes something of it again: once for the row, or kept.
static int tc__finish_has(const tc__finish *f, uint32_t id) {
    const tc__node *n = tc__old(f, id);
    return n->level == TC__AT_ROW || n->op == TC_OP_ACC || f->kept[id];
}

// Costs of the nodes from `first` on.
static void tc__finish_costs(tc__finish *f, uint32_t first) {
    for (uint32_t i = first; i < f->w->k->body.node.count; i++) {
        const tc__node *n = tc__old(f, i);
        f->cost[i] = tc__ops[n->op].cost;
        for (uint32_t k = 0; k < n->n_in; k++)
            if (!tc__finish_has(f, n->in[k])) f->cost[i] += f->cost[n->in[k]];
    }
}

// ---- index expressions ----

typedef struct tc__renumber {
    tc__finish *f;
    uint32_t phase;
    uint32_t count, from[16];
    uint32_t to[16];
} tc__renumber;

static void tc__renumber_val(void *user, uint32_t id) {
    tc__renumber *r = (tc__renumber *)user;
    for (uint32_t i = 0; i < r->count; i++)
        if (r->from[i] == id) return;
    if (r->count == TC__COUNT(r->from)) {
        r->f->failed = 1;
        return;
    }
    r->from[r->count] = id;
    r->to[r->count++] = tc__finish_node(r->f, id, r->phase);
}

// e for a node at `phase`: in rows and columns, naming mid nodes (offset by TC__VALS).
static tc__ix tc__finish_ix(tc__finish *f, tc__ix e, uint32_t phase) {
    tc__renumber r;
    r.f = f, r.phase = phase, r.count = 0;
    tc__ix_each_val(f->ix, e, tc__renumber_val, &r);
    for (uint32_t i = 0; i < r.count && !f->waits; i++) {
        const tc__node *check = tc__old(f, r.from[i]);
        tc__ix limit = check->attr[TC__CHECK_LIMIT];
        e = tc__ix_subst(f->ix, e, tc__ix_val(f->ix, r.from[i], limit),
                         tc__ix_val(f->ix, r.to[i] + TC__VALS, limit));
    }
    return tc__to_rows_cols(f->ix, &f->w->space, f->columns, e);
}

// ---- phases ----

static uint32_t tc__finish_append(tc__finish *f, const tc__node *n) {
    tc__node *m = tc__node_cons(&f->mid, n);
    if (!m) f->failed = 1;
    return m ? m->id : 0;
}

static void tc__raise_to_val(void *user, uint32_t id) {
    tc__finish *f = *(tc__finish **)user;
    if (f->mid.node.at[id - TC__VALS]->level == TC__AT_COL) f->val_is_column = 1;
}

// Row or column level of a mid node: which dimensions are columns is known only now.
static tc__level tc__finish_level(tc__finish *f, const tc__node *m) {
    if (m->level == TC__AT_LEFT || m->level == TC__AT_RIGHT) return (tc__level)m->level;
    if (m->op == TC_OP_ACC || m->op == TC_OP_CONTRACT) return TC__AT_COL;
    f->val_is_column = 0;
    for (uint32_t i = 0; i < m->n_attr; i++) {
        if (!(tc__attr_is_ix(m, i))) continue;
        if (tc__ix_uses(f->ix, m->attr[i], TC__COL)) return TC__AT_COL;
        tc__ix_each_val(f->ix, m->attr[i], tc__raise_to_val, &f);
    }
    for (uint32_t i = 0; i < m->n_in; i++) {
        const tc__node *from = f->mid.node.at[m->in[i]];
        if (from->level == TC__AT_COL && from->op != TC_OP_ACC) return TC__AT_COL;
    }
    return f->val_is_column ? TC__AT_COL : TC__AT_ROW;
}

// A copy of old node `n` at `phase`.
static uint32_t tc__finish_copy(tc__finish *f, const tc__node *n, uint32_t phase) {
    tc__node m = *n;
    uint32_t in[3];
    int64_t attr[30];
    for (uint32_t i = 0; i < n->n_in; i++) in[i] = tc__finish_node(f, n->in[i], phase);
    for (uint32_t i = 0; i < n->n_attr; i++)
        attr[i] = tc__attr_is_ix(n, i) ? tc__finish_ix(f, n->attr[i], phase) : n->attr[i];
    m.in = in, m.attr = attr, m.phase = (uint16_t)phase;
    if (f->failed || f->waits) return 0;
    tc__pairs_flatten(f->ix, n, attr);
    m.level = (uint8_t)tc__finish_level(f, &m);
    return tc__finish_append(f, &m);
}

static uint32_t tc__row_access(tc__finish *f, tc__op op, const tc__node *n, uint32_t buffer,
                               uint32_t value, uint32_t phase) {
    tc__node m;
    int64_t attr[3];
    memset(&m, 0, sizeof m);
    attr[TC__ACCESS_BUFFER] = buffer;
    attr[TC__ACCESS_INDEX] = tc__ix_var(f->ix, TC__COL, f->w->k->shape.cols);
    attr[TC__LOAD_FILL] = 0;
    m.op = (uint16_t)op, m.stage = TC__GROUP, m.dtype = n->dtype;
    m.level = TC__AT_COL, m.phase = (uint16_t)phase;
    m.in = &value, m.n_in = op == TC_OP_STORE, m.attr = attr,
    m.n_attr = op == TC_OP_STORE ? TC__STORE_KIND : TC__LOAD_PREDICATES;
    return tc__finish_append(f, &m);
}

// Old column node `n` for a later phase, through a row buffer.
static uint32_t tc__finish_kept(tc__finish *f, const tc__node *n, uint32_t phase) {
    uint32_t b = tc__weave_buffer(f->w, TC__BUF_ROW, n->id, n->dtype, f->w->k->shape.cols);
    if (!f->kept[n->id]) {
        f->kept[n->id] = 1;
        tc__finish_costs(f, n->id + 1); // what is made of it is cheaper now
    }
    uint32_t value = tc__finish_node(f, n->id, n->phase);
    if (f->failed || f->waits) return 0;
    tc__row_access(f, TC_OP_STORE, n, b, value, n->phase);
    return tc__row_access(f, TC_OP_LOAD, n, b, 0, phase);
}

// The mid node of old node `id` as seen from `phase`, if it has been made; else it is wanted first.
static uint32_t tc__finish_node(tc__finish *f, uint32_t id, uint32_t phase) {
    const tc__node *n = tc__old(f, id);
    uint64_t key, found;
    if (f->failed || f->waits) return 0;
    if (n->level == TC__AT_ROW || n->op == TC_OP_ACC || n->phase > phase) phase = n->phase;
    key = (uint64_t)id << 16 | phase;
    if (tc__map_get(&f->made, key, &found)) return (uint32_t)found;
    f->waits = 1;
    if (!TC__PUSH(f->w->ctx, f->wanted, key)) f->failed = 1;
    return 0;
}

// Makes what is wanted last, unless it has to wait in turn.
static void tc__finish_last(tc__finish *f) {
    uint64_t key = f->wanted.at[f->wanted.count - 1];
    uint32_t id = (uint32_t)(key >> 16), phase = key & UINT16_MAX, made;
    const tc__node *n = tc__old(f, id);
    if (phase == n->phase || (f->cost[id] <= TC__CHEAP && !f->kept[id]))
        made = tc__finish_copy(f, n, phase);
    else
        made = tc__finish_kept(f, n, phase);
    if (f->failed || f->waits) return;
    f->wanted.count--;
    if (!tc__map_set(&f->made, key, made)) f->failed = 1;
}

// The same, and all that it needs.
static uint32_t tc__finish_value(tc__finish *f, uint32_t id, uint32_t phase) {
    (void)tc__finish_node(f, id, phase);
    while (f->wanted.count && !f->failed) {
        f->waits = 0;
        tc__finish_last(f);
    }
    return tc__finish_node(f, id, phase);
}

// Reductions go first, phase by phase: what they keep of a row, later phases need not keep again.
static void tc__finish_sums(tc__finish *f) {
    uint32_t count = (uint32_t)f->w->k->body.node.count, left = 0;
    for (uint32_t i = 0; i < count; i++) left += tc__old(f, i)->op == TC_OP_ACC;
    for (uint32_t phase = 0; left && !f->failed; phase++)
        for (uint32_t i = 0; i < count && left; i++) {
            const tc__node *n = tc__old(f, i);
            if (n->op != TC_OP_ACC || n->phase != phase) continue;
            tc__finish_value(f, i, phase);
            left--;
        }
}

static void tc__finish_sinks(tc__finish *f) {
    const tc__group *k = f->w->k;
    uint32_t count = (uint32_t)k->body.node.count;
    tc__finish_sums(f);
    for (uint32_t i = 0; i < count && !f->failed; i++) {
        const tc__node *n = tc__old(f, i);
        if (n->op == TC_OP_STORE) tc__finish_value(f, i, n->phase);
    }
    // A product is there, even where nothing of it is needed because it has no elements.
    if (k->shape.kind == TC__CONTRACTION) tc__finish_value(f, tc__contract_of(k)->id, 0);
}

// ---- the axis of the vector ----

// Loads and stores of column level whose index moves by 1 along `axis`; of a tensor that has no other axis, and so few
// elements, many are one.
static int tc__count_dense(tc__finish *f, tc__axis axis) {
    int dense = 0;
    tc__axis across = axis == TC__ROW ? TC__COL : TC__ROW;
    for (size_t i = 0; i < f->mid.node.count; i++) {
        const tc__node *n = f->mid.node.at[i];
        if ((n->op != TC_OP_LOAD && n->op != TC_OP_STORE) || n->level != TC__AT_COL)
            continue;
        if (tc__buffer_of(f->w->k, n)->place == TC__BUF_ROW) continue;
        tc__ixrun r = tc__ix_run(f->ix, n->attr[TC__ACCESS_INDEX], axis);
        tc__ixrun stays = tc__ix_run(f->ix, n->attr[TC__ACCESS_INDEX], across);
        int few = stays.ok && stays.run == INT64_MAX && tc__ix_equals(stays.stride, 0);
        if (tc__ixrun_spans(&r, TC__VECTOR) && tc__ix_equals(r.stride, 1))
            dense += few ? 1 : TC__LANES;
    }
    return dense;
}

static tc__axis tc__choose_vector(tc__finish *f) {
    const tc__group *k = f->w->k;
    if (k->shape.kind != TC__REDUCTION) return TC__COL;
    int64_t rows = tc__ix_hi(f->ix, k->shape.rows), cols = tc__ix_hi(f->ix, k->shape.cols);
    if (rows < TC__LANES) return TC__COL;
    if (cols < TC__LANES / 2) return TC__ROW;
    return tc__count_dense(f, TC__ROW) > tc__count_dense(f, TC__COL) ? TC__ROW : TC__COL;
}

// ---- the list ----

typedef struct tc__lister {
    tc__finish *f;
    tc__graph list;
    uint32_t *at;    // mid id -> list id
    uint32_t *chain; // by mid id: cost of the longest chain of its phase that ends with it
    uint32_t accumulators;
    int failed;
} tc__lister;

static tc__node *tc__list_statement(tc__lister *l, tc__op op, int dtype,
                                    const int64_t *attr, uint32_t n_attr) {
    tc__node n;
    int64_t words[TC__NODE_WORDS];
    memset(&n, 0, sizeof n);
    if (n_attr) memcpy(words, attr, n_attr * sizeof *attr);
    n.op = (uint16_t)op, n.stage = TC__LOOP, n.dtype = (uint8_t)dtype, n.attr = words,
    n.n_attr = n_attr;
    tc__node *m = tc__node_append(&l->list, &n);
    if (!m) l->failed = 1;
    return m;
}

static void tc__list_rows(tc__lister *l, tc__bind bind) {
    int64_t attr[6];
    attr[TC__FOR_AXIS] = TC__ROW, attr[TC__FOR_BIND] = bind, attr[TC__FOR_UNROLL] = 1,
    attr[TC__FOR_CHUNK] = 0;
    attr[TC__FOR_BEGIN] = tc__ix_const(0), attr[TC__FOR_END] = l->f->w->k->shape.rows;
    tc__list_statement(l, TC_OP_FOR, TC_I64, attr, TC__FOR_BOXES);
}

// The loop over the columns of a phase, with its boxes.
static void tc__list_columns(tc__lister *l, tc__bind bind, uint32_t phase, int64_t unroll,
                             int64_t chunk) {
    const tc__group *k = l->f->w->k;
    int64_t attr[TC__FOR_BOXES + TC__BOX_WORDS];
    uint32_t n = TC__FOR_BOXES;
    attr[TC__FOR_AXIS] = TC__COL, attr[TC__FOR_BIND] = bind, attr[TC__FOR_UNROLL] = unroll,
    attr[TC__FOR_CHUNK] = chunk;
    attr[TC__FOR_BEGIN] = tc__ix_const(0), attr[TC__FOR_END] = k->shape.cols;
    if (k->shape.vector == TC__COL && k->shape.kind != TC__CONTRACTION)
        n += tc__boxes_choose(l->f->ix, k->shape.rows, k->shape.cols, l->f->mid.node.at,
                              l->f->mid.node.count, phase, attr + n);
    tc__list_statement(l, TC_OP_FOR, TC_I64, attr, n);
}

static void tc__list_end(tc__lister *l, tc__axis axis) {
    int64_t attr = axis;
    tc__list_statement(l, TC_OP_END, TC_I64, &attr, 1);
}

// e with mid values replaced by list values.
static tc__ix tc__list_ix(tc__lister *l, tc__ix e) {
    tc__ixpool *p = l->f->ix;
    tc__ix vals[16];
    uint32_t n = tc__ix_vals(p, e, vals, 16);
    for (uint32_t i = 0; i < n; i++) {
        tc__ixnode v = *tc__ix_node(p, vals[i]);
        uint32_t id = (uint32_t)v.a - TC__VALS;
        e = tc__ix_subst(p, e, vals[i], tc__ix_val(p, l->at[id], tc__ix_const(v.hi + 1)));
    }
    return e;
}

static tc__store_kind tc__store_kind_of(const tc__lister *l, const tc__node *n) {
    const tc__weave *w = l->f->w;
    const tc__kbuf *b = tc__buffer_of(w->k, n);
    if (b->place != TC__BUF_NODE || n->level != TC__AT_COL) return TC__STORE_CACHED;
    const tc__root *r = &w->roots[w->root_of[b->source]];
    int64_t least = tc__ix_lo(w->ix, b->numel);
    if (!r->output || r->stored || w->k->shape.kind == TC__CONTRACTION)
        return TC__STORE_CACHED;
    if (b->dtype == TC_F32 && least >= TC__NT_BYTES / 4) return TC__STORE_STREAMS;
    return least >= TC__NT_LEAST / 4 ? TC__STORE_MAY_STREAM : TC__STORE_CACHED;
}

static void tc__list_node(tc__lister *l, uint32_t id) {
    const tc__node *n = l->f->mid.node.at[id];
    tc__node m = *n, *made;
    uint32_t in[3];
    int64_t attr[32];
    if (l->failed) return;
    for (uint32_t i = 0; i < n->n_in; i++) in[i] = l->at[n->in[i]];
    for (uint32_t i = 0; i < n->n_attr; i++)
        attr[i] = tc__attr_is_ix(n, i) ? tc__list_ix(l, n->attr[i]) : n->attr[i];
    m.stage = TC__LOOP, m.in = in, m.attr = attr;
    if (n->op == TC_OP_STORE) attr[m.n_attr++] = tc__store_kind_of(l, n);
    if (n->op == TC_OP_ACC) attr[m.n_attr++] = l->at[id];
    made = tc__node_append(&l->list, &m);
    if (!made)
        l->failed = 1;
    else if (n->op != TC_OP_ACC)
        l->at[id] = made->id;
}

static int tc__node_is_at(const tc__node *n, uint32_t phase, tc__level level) {
    return n->phase == phase && n->level == (uint8_t)level;
}

static void tc__list_level(tc__lister *l, uint32_t phase, tc__level level) {
    for (uint32_t i = 0; i < l->f->mid.node.count; i++)
        if (tc__node_is_at(l->f->mid.node.at[i], phase, level)) tc__list_node(l, i);
}

// NEW or COMBINE for every ACC of a phase; an ACC's `at` is its accumulator until COMBINE.
static void tc__list_accumulators(tc__lister *l, uint32_t phase, tc__op op) {
    for (uint32_t i = 0; i < l->f->mid.node.count; i++) {
        const tc__node *n = l->f->mid.node.at[i];
        int64_t attr[2];
        if (n->op != TC_OP_ACC || n->phase != phase || l->failed) continue;
        if (op == TC_OP_NEW) l->at[i] = l->accumulators++;
        attr[TC__NEW_ACCUMULATOR] = l->at[i],
        attr[TC__NEW_MONOID] = n->attr[TC__ACC_MONOID];
        int arg = n->attr[TC__ACC_MONOID] == TC_OP_ARGMAX ||
                  n->attr[TC__ACC_MONOID] == TC_OP_ARGMIN;
        int held = arg ? l->f->mid.node.at[n->in[0]]->dtype : n->dtype;
        tc__node *m = tc__list_statement(l, op, op == TC_OP_NEW ? held : n->dtype, attr, 2);
        if (!m || op == TC_OP_NEW) continue;
        m->level = TC__AT_ROW, m->phase = (uint16_t)(phase + 1);
        l->at[i] = m->id;
    }
}

// What the columns of a phase have.
typedef struct tc__phase_work {
    int64_t cost, chain; // of all nodes; of the longest chain
    int64_t lanes;       // accesses that are made lane by lane
    int has_acc, has_col;
} tc__phase_work;

// Whether vectors along `axis` are no runs of this access: each lane has an address, or is tested, by itself.
static int tc__goes_lane_by_lane(tc__ixpool *p, const tc__node *n, tc__axis axis) {
    if (n->op != TC_OP_LOAD && n->op != TC_OP_STORE && n->op != TC_OP_VALID) return 0;
    for (uint32_t i = 0; i < n->n_attr; i++) {
        if (!tc__attr_is_ix(n, i)) continue;
        if (tc__ix_has_val(p, n->attr[i])) return 1;
        tc__ixrun run = tc__ix_run(p, n->attr[i], axis);
        if (!tc__ixrun_spans(&run, TC__VECTOR)) return 1;
    }
    return 0;
}

static tc__phase_work tc__phase_work_of(const tc__lister *l, uint32_t phase) {
    tc__phase_work w = {0, 0, 0, 0, 0};
    for (uint32_t i = 0; i < l->f->mid.node.count; i++) {
        const tc__node *n = l->f->mid.node.at[i];
        uint32_t before = 0;
        if (!tc__node_is_at(n, phase, TC__AT_COL)) continue;
        for (uint32_t k = 0; k < n->n_in; k++)
            if (tc__node_is_at(l->f->mid.node.at[n->in[k]], phase, TC__AT_COL) &&
                l->chain[n->in[k]] > before)
                before = l->chain[n->in[k]];
        l->chain[i] = before + tc__ops[n->op].cost;
        if (l->chain[i] > w.chain) w.chain = l->chain[i];
        w.cost += tc__ops[n->op].cost;
        w.lanes += tc__goes_lane_by_lane(l->f->ix, n, l->f->w->k->shape.vector);
        w.has_acc |= n->op == TC_OP_ACC, w.has_col = 1;
    }
    return w;
}

// Vectors that a loop does at a time; of sums 0 = by a loop.
static int64_t tc__phase_unroll(const tc__phase_work *w) {
    int long_one = w->cost > TC__LATENCY_COST;
    if (w->lanes > TC__LANE_BY_LANE) return !w->has_acc;
    if (long_one && w->cost >= TC__WIDE * w->chain) return !w->has_acc;
    return w->has_acc || long_one ? TC__OVERLAP : 1;
}

static void tc__list_phase(tc__lister *l, uint32_t phase) {
    const tc__group *k = l->f->w->k;
    tc__phase_work work = tc__phase_work_of(l, phase);
    tc__list_level(l, phase, TC__AT_ROW);
    if (!work.has_col) return;
    int64_t chunk =
        work.has_acc && tc__ix_hi(l->f->ix, k->shape.cols) > TC__CHUNK ? TC__CHUNK : 0;
    tc__list_accumulators(l, phase, TC_OP_NEW);
    tc__bind bind = k->shape.vector == TC__ROW ? TC__BIND_SERIAL
                    : k->shape.split_columns   ? TC__BIND_WORKER
                                               : TC__BIND_VECTOR;
    tc__list_columns(l, bind, phase, tc__phase_unroll(&work), chunk);
    tc__list_level(l, phase, TC__AT_COL);
    tc__list_end(l, TC__COL);
    tc__list_accumulators(l, phase, TC_OP_COMBINE);
}

static uint32_t tc__last_phase(const tc__finish *f) {
    uint32_t last = 0;
    for (size_t i = 0; i < f->mid.node.count; i++)
        if (f->mid.node.at[i]->phase > last) last = f->mid.node.at[i]->phase;
    return last;
}

// Columns of a work item of a transposition, by a load whose columns lie on lines of their own, which the rows behind this one
// read on; 0 = it is none. A 4096 x 4096 of f32 takes 0.045 of the time of whole rows on a Zen 5, 3136 x 64 a quarter.
static int64_t tc__turn_grain(tc__ixpool *p, const tc__group *k, const tc__node *n) {
    if (n->op != TC_OP_LOAD || n->level != TC__AT_COL) return 0;
    int64_t bytes = (int64_t)tc__dtypes[tc__buffer_of(k, n)->dtype].bytes;
    tc__ixrun along = tc__ix_run(p, n->attr[TC__LOAD_INDEX], TC__COL),
              down = tc__ix_run(p, n->attr[TC__LOAD_INDEX], TC__ROW);
    if (!along.ok || along.run < TC__TURN_GRAIN || !tc__ix_is_const(along.stride) ||
        !down.ok || down.run < TC__TURN_LINE / bytes || !tc__ix_equals(down.stride, 1))
        return 0;
    bytes *= tc__ix_value(along.stride);
    if (bytes < TC__TURN_LINE) return 0;
    return tc__ix_gcd(bytes, TC__TURN_PAGE) > TC__TURN_PAGE / 4 ? TC__TURN_FEW
                                                                : TC__TURN_GRAIN;
}

// The same of a kernel: the least of its loads'.
static int64_t tc__turns(const tc__finish *f) {
    const tc__group *k = f->w->k;
    int64_t least = 0;
    if (k->shape.kind != TC__POINTWISE || k->shape.vector != TC__COL || k->target.device)
        return 0;
    for (size_t i = 0; i < f->mid.node.count; i++) {
        int64_t grain = tc__turn_grain(f->ix, k, f->mid.node.at[i]);
        if (grain && (!least || grain < least)) least = grain;
    }
    return tc__ix_lo(f->ix, k->shape.cols) >= TC__TURN_ITEMS * least ? least : 0;
}

// Work items: rows, blocks of 32 rows when the vector runs along them, blocks of columns when rows
// are few, or columns lie apart: the cache holds the lines of a block until its rows have read them.
static void tc__choose_items(tc__finish *f) {
    tc__group *k = f->w->k;
    int64_t rows = tc__ix_hi(f->ix, k->shape.rows), cols = tc__ix_hi(f->ix, k->shape.cols);
    k->shape.grain = 1;
    k->shape.items = k->shape.rows;
    int few = k->shape.kind == TC__POINTWISE && rows < 16 && cols >= TC__COL_FEW;
    int64_t turns = tc__turns(f);
    k->shape.split_columns = 0;
    if (few) k->shape.split_columns = TC__COLUMNS_SPLIT;
    if (turns) k->shape.split_columns = TC__COLUMNS_BY_ITEM;
    if (k->shape.vector == TC__ROW) {
        k->shape.items = tc__ix_ceil_div(f->ix, k->shape.rows, tc__ix_const(TC__LANES));
    } else if (k->shape.split_columns) {
        k->shape.grain = turns ? turns : (int64_t)TC__COL_GRAIN;
        k->shape.items =
            tc__ix_ceil_div(f->ix, k->shape.cols, tc__ix_const(k->shape.grain));
    }
}

static void tc__list_all(tc__lister *l) {
    tc__group *k = l->f->w->k;
    uint32_t last = tc__last_phase(l->f);
    if (k->shape.kind == TC__CONTRACTION) {
        tc__list_level(l, 0, TC__AT_LEFT);
        tc__list_level(l, 0, TC__AT_RIGHT);
    }
    tc__list_rows(l, k->shape.split_columns ? TC__BIND_SERIAL : TC__BIND_WORKER);
    for (uint32_t p = 0; p <= last; p++) tc__list_phase(l, p);
    tc__list_end(l, TC__ROW);
    k->shape.phases = (uint16_t)(last + 1);
}

static int tc__finish_list(tc__finish *f) {
    tc__lister l;
    tc_ctx *c = f->w->ctx;
    size_t n = f->mid.node.count;
    memset(&l, 0, sizeof l);
    l.f = f;
    l.at = TC__NEW_ARRAY(c, uint32_t, n), l.chain = TC__NEW_ARRAY(c, uint32_t, n);
    int ok = l.at && l.chain && tc__graph_open(&l.list, c, f->ix);
    if (ok) {
        f->w->k->shape.vector = tc__choose_vector(f);
        tc__choose_items(f);
        tc__list_all(&l);
        tc__graph_close(&f->w->k->body);
        f->w->k->body = l.list;
    }
    tc__free(c, l.at, (n ? n : 1) * sizeof *l.at);
    tc__free(c, l.chain, (n ? n : 1) * sizeof *l.chain);
    return ok && !l.failed;
}

// Worker scratch of the row buffers, in bytes from its start.
static void tc__place_rows(tc__group *k) {
    tc__ixpool *x = k->body.ix;
    tc__ix at = tc__ix_const(0);
    for (size_t i = 0; i < k->buffer.count; i++) {
        tc__kbuf *b = &k->buffer.at[i];
        if (b->place != TC__BUF_ROW) continue;
        int64_t width =
            tc__dtype(b->dtype)->bytes * (k->shape.vector == TC__ROW ? TC__LANES : 1);
        tc__ix bytes = tc__ix_mul(x, b->numel, tc__ix_const(width));
        b->offset = at;
        // Vector loads may touch one vector beyond; keep every buffer on its own cache lines.
        at =
            tc__ix_add(x, at,
                       tc__ix_mul(x, tc__ix_const(64),
                                  tc__ix_ceil_div(x, tc__ix_add(x, bytes, tc__ix_const(64)),
                                                  tc__ix_const(64))));
    }
    k->shape.scratch = at;
}

static int tc__group_finish(tc__weave *w, uint32_t columns) {
    tc__finish f;
    tc_ctx *c = w->ctx;
    size_t n = w->k->body.node.count;
    memset(&f, 0, sizeof f);
    f.w = w, f.ix = w->ix, f.columns = columns;
    f.cost = TC__NEW_ARRAY(c, uint32_t, n), f.kept = TC__NEW_ARRAY(c, uint8_t, n);
    tc__map_init(&f.made, c);
    int ok = f.cost && f.kept && tc__graph_open(&f.mid, c, w->ix);
    if (ok) {
        tc__finish_costs(&f, 0);
        tc__finish_sinks(&f);
        ok = !f.failed && !w->failed && tc__finish_list(&f) && !w->ix->failed;
    }
    if (ok) tc__place_rows(w->k);
    tc__graph_close(&f.mid);
    tc__map_free(&f.made);
    tc__free(c, f.cost, (n ? n : 1) * sizeof *f.cost);
    tc__free(c, f.kept, n ? n : 1);
    TC__VEC_FREE(c, f.wanted);
    return ok;
}
