// Lists for devices: a host's LOOP list written anew, with launches whose loops are bound to blocks and
// threads. What a form is made of is put together by these; nothing behind a list asks for its form.

// ---- memory of blocks ----

enum {
    TC__SHARED_STATIC = 40960
}; // bytes that a text may declare: a block has so much without asking

// Where shared buffer `b` begins, in bytes; of the number of buffers: all of them.
static tc__ix tc__device_shared_at(const tc__group *k, size_t b) {
    tc__ixpool *x = k->body.ix;
    tc__ix at = tc__ix_const(0), line = tc__ix_const(64);
    for (size_t i = 0; i < b; i++) {
        const tc__kbuf *n = &k->buffer.at[i];
        if (n->place != TC__BUF_SHARED) continue;
        tc__ix bytes =
            tc__ix_mul(x, n->numel, tc__ix_const((int64_t)tc__dtypes[n->dtype].bytes));
        at = tc__ix_add(x, at, tc__ix_mul(x, line, tc__ix_ceil_div(x, bytes, line)));
    }
    return at;
}

// Whether it is asked for at the launch. So is that of tiles: the compiler puts places that it knows into each access,
// and ptxas orders those of a large f32 product worse then (2 to 5 % of an H200).
static int tc__device_is_dynamic(const tc__group *k) {
    for (size_t i = 0; i < k->body.node.count; i++) {
        const tc__node *n = k->body.node.at[i];
        if (n->op == TC_OP_TEMPLATE && n->attr[TC__TEMPLATE_NAME] != TC__TEMPLATE_SKINNY)
            return 1;
    }
    return tc__ix_hi(k->body.ix, tc__device_shared_at(k, k->buffer.count)) >
           TC__SHARED_STATIC;
}

// Whether the accumulator of COMBINE n was combined before, in its launch.
static int tc__device_combined_again(const tc__group *k, const tc__node *n) {
    for (uint32_t id = n->id; id-- > 0 && k->body.node.at[id]->op != TC_OP_LAUNCH;) {
        const tc__node *m = k->body.node.at[id];
        if (m->op == TC_OP_COMBINE &&
            m->attr[TC__COMBINE_ACCUMULATOR] == n->attr[TC__COMBINE_ACCUMULATOR])
            return 1;
    }
    return 0;
}

// Bytes of registers for a value.
static int64_t tc__device_value_bytes(int dtype) {
    return tc__dtypes[dtype].bytes > 4 ? 8 : 4;
}

// Bytes of what a COMBINE has of all warps that share a row: values, and from `places` on the places of those that it looks for.
static int64_t tc__device_part_bytes(const tc__group *k, const tc__node *launch,
                                     const tc__node *n, int64_t *places) {
    int64_t monoid = n->attr[TC__COMBINE_MONOID], line = 16;
    int64_t threads = n->n_attr > TC__COMBINE_THREADS ? n->attr[TC__COMBINE_THREADS] : 0;
    int64_t slots = threads / 32, each = 4, place = launch->attr[TC__LAUNCH_NARROW] ? 4 : 8;
    if (threads <= 32 || tc__device_combined_again(k, n)) return 0;
    if (launch->n_attr > TC__LAUNCH_CLUSTER && launch->attr[TC__LAUNCH_CLUSTER])
        slots *= launch->attr[TC__LAUNCH_CLUSTER];
    for (size_t i = launch->id; i < n->id; i++) {
        const tc__node *m = k->body.node.at[i];
        if (m->op == TC_OP_NEW &&
            m->attr[TC__NEW_ACCUMULATOR] == n->attr[TC__COMBINE_ACCUMULATOR])
            each = tc__device_value_bytes(m->dtype);
    }
    *places = (slots * each + line - 1) / line * line;
    if (monoid != TC_OP_ARGMAX && monoid != TC_OP_ARGMIN) return *places;
    return *places + (slots * place + line - 1) / line * line;
}

// The most that those of a list may be which is made of g, of blocks of so many threads in clusters of so many blocks.
static int64_t tc__device_parts_most(const tc__group *g, int threads, int blocks) {
    return (int64_t)tc__count_op(g, TC_OP_COMBINE) * (threads / 32) * blocks * 16;
}

// Bytes of the parts of the launch before node `end`: they stand behind the buffers where these are asked for. A kernel that
// is launched with shared memory declares none: those that have both are up to 1.07 times as slow (copies of 40 KB at a time
// by cp.async, a norm's gradient; H200), whatever the places.
static int64_t tc__device_parts_bytes(const tc__group *k, uint32_t launch, uint32_t end) {
    int64_t bytes = 0, places;
    for (uint32_t id = launch + 1; id < end; id++) {
        const tc__node *n = k->body.node.at[id];
        if (n->op == TC_OP_LAUNCH) break;
        if (n->op == TC_OP_COMBINE)
            bytes += tc__device_part_bytes(k, k->body.node.at[launch], n, &places);
    }
    return bytes;
}

// ---- memory between launches ----

// Bytes of a buffer of tickets or work.
static tc__ix tc__device_work_bytes(const tc__group *k, const tc__kbuf *b) {
    tc__ixpool *x = k->body.ix;
    tc__ix line = tc__ix_const(256);
    tc__ix bytes =
        tc__ix_mul(x, b->numel, tc__ix_const((int64_t)tc__dtypes[b->dtype].bytes));
    return tc__ix_mul(x, line, tc__ix_ceil_div(x, bytes, line));
}

// Where buffer `b` of tickets or work begins in the workspace, in bytes; of the number of buffers: all of them.
// Tickets stand before all else.
static tc__ix tc__device_work_at(const tc__group *k, size_t b) {
    int tickets = b < k->buffer.count && k->buffer.at[b].place == TC__BUF_TICKET;
    tc__ix at = tc__ix_const(0);
    for (size_t i = 0; i < k->buffer.count; i++) {
        const tc__kbuf *n = &k->buffer.at[i];
        int ticket = n->place == TC__BUF_TICKET;
        if (!ticket && n->place != TC__BUF_WORK) continue;
        if (i < b ? ticket || !tickets : ticket && !tickets)
            at = tc__ix_add(k->body.ix, at, tc__device_work_bytes(k, n));
    }
    return at;
}

// Bytes of it that are zero before a launch and behind it.
static tc__ix tc__device_zeroed(const tc__group *k) {
    tc__ix bytes = tc__ix_const(0);
    for (size_t i = 0; i < k->buffer.count; i++)
        if (k->buffer.at[i].place == TC__BUF_TICKET)
            bytes =
                tc__ix_add(k->body.ix, bytes, tc__device_work_bytes(k, &k->buffer.at[i]));
    return bytes;
}

// ---- a list that is made ----

// A list that is being made of another.
typedef struct tc__relist {
    const tc__group *from;
    tc__group *to;
    uint32_t *at; // by node of `from`: that of `to` with its value
    tc__ix *base; // by buffer of `from`: what is added to its indices, NULL = nothing
    int given;    // constants and run-time values are there
    int failed;
} tc__relist;

static int tc__relist_open(tc__relist *l, tc_ctx *c, const tc__group *from) {
    memset(l, 0, sizeof *l);
    l->from = from, l->to = tc__group_empty(c, from);
    l->at = TC__NEW_ARRAY(c, uint32_t, from->body.node.count);
    l->failed = !l->to || !l->at;
    for (size_t i = 0; i < from->buffer.count && !l->failed; i++)
        l->failed = !TC__PUSH(c, l->to->buffer, from->buffer.at[i]);
    return !l->failed;
}

// What was made; NULL = no memory.
static tc__group *tc__relist_close(tc__relist *l, tc_ctx *c) {
    size_t n = l->from->body.node.count;
    tc__free(c, l->at, (n ? n : 1) * sizeof *l->at);
    if (!l->failed && !l->from->body.ix->failed) return l->to;
    tc__group_free(c, l->to);
    return NULL;
}

enum { TC__LIST_WORDS = 40 }; // of a statement: TEMPLATE has the most

TC__STATIC_ASSERT(templates_have_words,
                  TC__TEMPLATE_NUMBERS + TC__CHAIN_NUMBERS <= TC__LIST_WORDS);

static tc__node *tc__relist_put(tc__relist *l, tc__op op, int dtype, const int64_t *attr,
                                uint32_t n_attr) {
    tc__node n;
    int64_t words[TC__LIST_WORDS];
    memset(&n, 0, sizeof n);
    if (n_attr) memcpy(words, attr, n_attr * sizeof *attr);
    n.op = (uint16_t)op, n.stage = TC__LOOP, n.dtype = (uint8_t)dtype;
    n.attr = words, n.n_attr = n_attr;
    tc__node *made = l->failed ? NULL : tc__node_append(&l->to->body, &n);
    if (!made) l->failed = 1;
    return made;
}

// ---- statements ----

// Opens a loop over [0, extent): its variable.
static tc__ix tc__relist_for(tc__relist *l, tc__axis axis, tc__bind bind, tc__ix extent) {
    int64_t attr[TC__FOR_BOXES];
    attr[TC__FOR_AXIS] = axis, attr[TC__FOR_BIND] = bind;
    attr[TC__FOR_UNROLL] = 1, attr[TC__FOR_CHUNK] = 0;
    attr[TC__FOR_BEGIN] = tc__ix_const(0), attr[TC__FOR_END] = extent;
    tc__relist_put(l, TC_OP_FOR, TC_I64, attr, TC__FOR_BOXES);
    return tc__ix_var(l->from->body.ix, (int)axis, extent);
}

// Puts 0 <= e < limit behind `n` words of predicates, unless it always holds.
static uint32_t tc__relist_fact(const tc__relist *l, int64_t *attr, uint32_t n, tc__ix e,
                                tc__ix limit) {
    const tc__ixpool *x = l->from->body.ix;
    if (tc__ix_lo(x, e) >= 0 && tc__ix_hi(x, e) < tc__ix_lo(x, limit)) return n;
    attr[n] = e, attr[n + 1] = limit;
    return n + 2;
}

// Opens what is done where d is below its limit, and e below its own; limit 0 = of one alone. 0 = that is
// everywhere: nothing is opened.
static int tc__relist_if(tc__relist *l, tc__ix d, tc__ix below, tc__ix e, tc__ix limit) {
    int64_t attr[4];
    uint32_t n = tc__relist_fact(l, attr, 0, d, below);
    if (limit) n = tc__relist_fact(l, attr, n, e, limit);
    if (n) tc__relist_put(l, TC_OP_IF, TC_BOOL, attr, n);
    return n > 0;
}

// Opens a scope: what is bound there is bound for nothing else.
static int tc__relist_do(tc__relist *l) {
    tc__relist_put(l, TC_OP_IF, TC_BOOL, NULL, 0);
    return 1;
}

static void tc__relist_end(tc__relist *l, int64_t what) {
    tc__relist_put(l, TC_OP_END, TC_I64, &what, 1);
}

static void tc__relist_end_if(tc__relist *l, int opened) {
    if (opened) tc__relist_end(l, TC__END_BLOCK);
}

// The variable of an axis, below `extent`.
static tc__ix tc__relist_bind(tc__relist *l, int axis, tc__ix value, tc__ix extent) {
    int64_t attr[3];
    attr[TC__AXIS_AXIS] = axis, attr[TC__AXIS_VALUE] = value;
    attr[TC__AXIS_EXTENT] = extent;
    tc__relist_put(l, TC_OP_AXIS, TC_I64, attr, 3);
    return tc__ix_var(l->from->body.ix, axis, extent);
}

// That of an axis of the host's list.
static void tc__relist_axis(tc__relist *l, tc__axis axis, tc__ix value) {
    tc__relist_bind(l, (int)axis, value,
                    axis == TC__ROW ? l->from->shape.rows : l->from->shape.cols);
}

// Of the threads of a block, or of a warp.
static void tc__relist_barrier(tc__relist *l, int warp) {
    int64_t attr = 1;
    tc__relist_put(l, TC_OP_BARRIER, TC_I64, &attr, warp ? 1 : 0);
}

// Threads where e is not below its limit are done.
static void tc__relist_leave(tc__relist *l, tc__ix e, tc__ix limit) {
    int64_t attr[2];
    attr[TC__LEAVE_PREDICATES] = e, attr[TC__LEAVE_PREDICATES + 1] = limit;
    tc__relist_put(l, TC_OP_LEAVE, TC_BOOL, attr, 2);
}

// ---- values ----

// e with values of the host's list replaced by those that were made of them.
static tc__ix tc__relist_ix(const tc__relist *l, tc__ix e) {
    tc__ixpool *x = l->from->body.ix;
    tc__ix val[16];
    for (uint32_t i = 0, n = tc__ix_vals(x, e, val, 16); i < n; i++) {
        tc__ixnode v = *tc__ix_node(x, val[i]);
        // Marked, so that none is taken for one of those that are still to be replaced.
        e = tc__ix_subst(x, e, val[i],
                         tc__ix_val(x, l->at[v.a] + TC__VALS, tc__ix_const(v.hi + 1)));
    }
    for (uint32_t i = 0, n = tc__ix_vals(x, e, val, 16); i < n; i++) {
        tc__ixnode v = *tc__ix_node(x, val[i]);
        e = tc__ix_subst(x, e, val[i],
                         tc__ix_val(x, (uint32_t)v.a - TC__VALS, tc__ix_const(v.hi + 1)));
    }
    return e;
}

// Constants and run-time values stand before all launches.
static int tc__relist_is_given(const tc__relist *l, uint32_t id) {
    int op = l->from->body.node.at[id]->op;
    return op == TC_OP_CONST || op == TC_OP_ARG;
}

// Node n of the host's list, at the same place of its axes.
static void tc__relist_copy(tc__relist *l, const tc__node *n) {
    tc__node m = *n;
    uint32_t in[3];
    int64_t attr[TC__NODE_WORDS];
    if (l->failed || (l->given && tc__relist_is_given(l, n->id))) return;
    for (uint32_t i = 0; i < n->n_in; i++) in[i] = l->at[n->in[i]];
    for (uint32_t i = 0; i < n->n_attr; i++)
        attr[i] = tc__attr_is_ix(n, i) ? tc__relist_ix(l, n->attr[i]) : n->attr[i];
    if (l->base && tc__device_is_memory(n))
        attr[TC__ACCESS_INDEX] = tc__ix_add(l->from->body.ix, attr[TC__ACCESS_INDEX],
                                            l->base[n->attr[TC__ACCESS_BUFFER]]);
    m.in = in, m.attr = attr;
    tc__node *made = tc__node_append(&l->to->body, &m);
    if (!made) l->failed = 1;
    if (made) l->at[n->id] = made->id;
}

// Opens a launch; what is given stands before the first. Registers suffice for `resident` blocks of a multiprocessor, 0 =
// for any number.
static void tc__relist_launch(tc__relist *l, int threads, int narrow, int resident,
                              int cluster) {
    int64_t attr[4];
    for (uint32_t id = 0; id < l->from->body.node.count; id++)
        if (tc__relist_is_given(l, id)) tc__relist_copy(l, l->from->body.node.at[id]);
    l->given = 1;
    attr[TC__LAUNCH_THREADS] = threads, attr[TC__LAUNCH_NARROW] = narrow;
    attr[TC__LAUNCH_RESIDENT] = resident, attr[TC__LAUNCH_CLUSTER] = cluster;
    tc__relist_put(l, TC_OP_LAUNCH, TC_I64, attr, cluster ? 4 : 3);
}

// Element e of a buffer as the value of the host's node n.
static void tc__relist_load(tc__relist *l, const tc__node *n, int64_t buffer, tc__ix e) {
    int64_t attr[TC__LOAD_PREDICATES];
    attr[TC__LOAD_BUFFER] = buffer, attr[TC__LOAD_INDEX] = e, attr[TC__LOAD_FILL] = 0;
    tc__node *made = tc__relist_put(l, TC_OP_LOAD, n->dtype, attr, TC__LOAD_PREDICATES);
    if (made) made->level = n->level, l->at[n->id] = made->id;
}

// Begins to copy `width` elements from where n loads at the first of `axis` to element `at` of a buffer.
static void tc__relist_copy_vector(tc__relist *l, const tc__node *n, int64_t buffer,
                                   tc__ix at, tc__axis axis, tc__ix first, int width) {
    tc__ixpool *x = l->from->body.ix;
    int64_t attr[TC__NODE_WORDS];
    tc__ix var = tc__ix_find_var(x, n->attr[TC__LOAD_INDEX], axis);
    uint32_t words = TC__COPY_PREDICATES;
    attr[TC__COPY_BUFFER] = buffer, attr[TC__COPY_INDEX] = at;
    attr[TC__COPY_FROM] = n->attr[TC__LOAD_BUFFER];
    attr[TC__COPY_SOURCE] = n->attr[TC__LOAD_INDEX];
    if (var) attr[TC__COPY_SOURCE] = tc__ix_subst(x, n->attr[TC__LOAD_INDEX], var, first);
    if (l->base)
        attr[TC__COPY_SOURCE] =
            tc__ix_add(x, attr[TC__COPY_SOURCE], l->base[n->attr[TC__LOAD_BUFFER]]);
    attr[TC__COPY_ELEMENTS] = width;
    for (uint32_t i = TC__LOAD_PREDICATES; i < n->n_attr; i++) {
        var = tc__ix_find_var(x, n->attr[i], axis);
        attr[words++] = var ? tc__ix_subst(x, n->attr[i], var, first) : n->attr[i];
    }
    tc__relist_put(l, TC_OP_COPY, TC_I64, attr, words);
}

static void tc__relist_store(tc__relist *l, const tc__node *n, int64_t buffer, tc__ix e) {
    tc__node m;
    int64_t attr[2];
    memset(&m, 0, sizeof m);
    attr[TC__STORE_BUFFER] = buffer, attr[TC__STORE_INDEX] = e;
    m.op = TC_OP_STORE, m.stage = TC__LOOP, m.dtype = n->dtype, m.level = n->level;
    m.in = &l->at[n->id], m.n_in = 1, m.attr = attr, m.n_attr = 2;
    if (!l->failed && !tc__node_append(&l->to->body, &m)) l->failed = 1;
}

// `numel` elements of the workspace, of a block or of a thread: their buffer.
static int64_t tc__relist_memory(tc__relist *l, tc__place place, int dtype, tc__ix numel) {
    tc__kbuf b;
    memset(&b, 0, sizeof b);
    b.place = place, b.dtype = (uint8_t)dtype, b.written = 1;
    b.numel = numel;
    if (!l->failed && !TC__PUSH(l->from->body.ctx, l->to->buffer, b)) l->failed = 1;
    return (int64_t)l->to->buffer.count - 1;
}

static int64_t tc__relist_buffer(tc__relist *l, tc__place place, int dtype, int64_t numel) {
    return tc__relist_memory(l, place, dtype, tc__ix_const(numel));
}

// ---- sums ----

// COMBINEs of one phase, which exchange their sums together, and a pair of buffers for each: of values, and of
// places where it looks for one (-1 = it does not).
typedef struct tc__sums {
    const tc__node *combine[TC__PRINT_ACCS];
    int count;
    int64_t values[TC__PRINT_ACCS], places[TC__PRINT_ACCS];
    int64_t behind; // added to the numbers of their accumulators
} tc__sums;

static int tc__finds_places(const tc__node *combine) {
    return combine->attr[TC__COMBINE_MONOID] == TC_OP_ARGMAX ||
           combine->attr[TC__COMBINE_MONOID] == TC_OP_ARGMIN;
}

// The dtype of memory that holds what registers have of it.
static int tc__register_dtype(int dtype) {
    switch (tc__class_of(dtype)) {
    case TC__CLASS_f32: return TC_F32;
    case TC__CLASS_f64: return TC_F64;
    case TC__CLASS_i32: return TC_I32;
    default: return TC_I64;
    }
}

// That of an accumulator.
static int tc__sums_dtype(const tc__relist *l, const tc__node *combine) {
    const tc__node *step = tc__acc_of(l->from, combine->attr[TC__COMBINE_ACCUMULATOR]);
    return tc__register_dtype(l->from->body.node.at[step->in[0]]->dtype);
}

// Buffers of `numel` values.
static void tc__sums_in(tc__relist *l, tc__sums *s, tc__place place, tc__ix numel) {
    for (int i = 0; i < s->count; i++) {
        s->values[i] = tc__relist_memory(l, place, tc__sums_dtype(l, s->combine[i]), numel);
        s->places[i] = -1;
        if (tc__finds_places(s->combine[i]))
            s->places[i] = tc__relist_memory(l, place, TC_I64, numel);
    }
}

// PUTs them to element e, or GETs them from there.
static void tc__sums_move(tc__relist *l, const tc__sums *s, tc__op op, tc__ix e) {
    for (int i = 0; i < s->count; i++) {
        int64_t attr[5];
        attr[TC__PUT_BUFFER] = s->values[i], attr[TC__PUT_INDEX] = e;
        attr[TC__PUT_ACCUMULATOR] =
            s->combine[i]->attr[TC__COMBINE_ACCUMULATOR] + s->behind;
        attr[TC__PUT_MONOID] = s->combine[i]->attr[TC__COMBINE_MONOID];
        attr[TC__PUT_PLACES] = s->places[i];
        tc__relist_put(l, op, TC_I64, attr, s->places[i] < 0 ? 4 : 5);
    }
}

// Their accumulators hold nothing.
static void tc__sums_new(tc__relist *l, const tc__sums *s, int width) {
    for (int i = 0; i < s->count; i++) {
        const tc__node *n = s->combine[i];
        int64_t attr[3];
        attr[TC__NEW_ACCUMULATOR] = n->attr[TC__COMBINE_ACCUMULATOR] + s->behind;
        attr[TC__NEW_MONOID] = n->attr[TC__COMBINE_MONOID];
        attr[TC__NEW_WIDTH] = width;
        tc__relist_put(l, TC_OP_NEW, tc__sums_dtype(l, n), attr, 3);
    }
}

// Goes on where the block is the last of `count` at ticket e.
static void tc__relist_last(tc__relist *l, int64_t tickets, tc__ix e, int64_t count) {
    int64_t attr[3];
    attr[TC__LAST_BUFFER] = tickets, attr[TC__LAST_INDEX] = e;
    attr[TC__LAST_COUNT] = count;
    tc__relist_put(l, TC_OP_LAST, TC_I64, attr, 3);
}
