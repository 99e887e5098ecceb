// What a thread of a CUDA kernel has in registers or shared memory: loads that are issued before anything
// is computed, and the elements of a row that later phases need again. Questions of
// form.c and of those that make lists.
//
// What is held in shared memory has the bytes of memory: a row of 50304 bf16 leaves room
// for two blocks. Values made of it are computed again rather than held as f32.
//
// Rows made of kept rows have scratch in shared memory, where registers do not hold them
// and nothing computes them again (softmax of a softmax, a norm of gelu). It is one row for
// a block, so no warp has a row for itself then. Rows of known length that no block has
// room for are cut into parts whatever they cost, with rows in global memory. In a program
// of run-time sizes nothing is known of the length: one that meets a row that is too long
// is made again for the sizes at hand (tc__program_fits). tests/cuda/kept.c.

// ---- loads that are issued before anything is computed ----

typedef struct tc__device_led_by {
    const tc__group *g;
    int columns; // a value of the columns does
} tc__device_led_by;

static void tc__device_visit_led(void *user, uint32_t id) {
    tc__device_led_by *by = (tc__device_led_by *)user;
    by->columns |= by->g->body.node.at[id]->level != TC__AT_ROW;
}

// Whether values lead to e, and not such of the row alone, which are there before its columns are: an embedding's.
static int tc__device_is_led(const tc__group *g, int by_rows, tc__ix e) {
    tc__device_led_by by = {g, !by_rows};
    if (!tc__ix_has_val(g->body.ix, e)) return 0;
    tc__ix_each_val(g->body.ix, e, tc__device_visit_led, &by);
    return by.columns;
}

// A load of memory that no value of the columns leads to.
static int tc__device_may_be_early(const tc__group *g, const tc__device_plan *q,
                                   const tc__node *n) {
    if (n->op != TC_OP_LOAD) return 0;
    int row = tc__device_is_row(g, n->attr[TC__ACCESS_BUFFER]),
        written = tc__buffer_of(g, n)->written;
    int kept = row && q->kept; // by an earlier launch
    if (!kept && (row || (written && !tc__device_is_made(g, n)))) return 0;
    if (n->level == TC__AT_ROW) return 0;
    for (uint32_t i = 1; i < n->n_attr; i++)
        if (tc__attr_is_ix(n, i) && tc__device_is_led(g, q->led, n->attr[i])) return 0;
    return 1;
}

// One access of a thread for the whole vector.
static int tc__device_is_one(const tc__group *g, const tc__device_plan *q,
                             const tc__node *n) {
    return q->width == 1 || tc__device_is_wide(g, n, q->width, q->axis) ||
           tc__device_is_still(g, n, q->axis, q->width);
}

static int tc__device_is_early(const tc__group *g, const tc__device_plan *q,
                               const tc__node *n) {
    return tc__device_may_be_early(g, q, n) &&
           (q->lanes_early || tc__device_is_one(g, q, n));
}

// Registers that the load needs for a vector.
static int64_t tc__device_words(const tc__group *g, const tc__device_plan *q,
                                const tc__node *n) {
    int still = q->width > 1 && tc__device_is_still(g, n, q->axis, q->width);
    int64_t bytes = (still ? 1 : q->width) * (int64_t)tc__device_bytes(g, n);
    return (bytes + 3) / 4;
}

static int tc__device_same_load(const tc__node *n, const tc__node *m) {
    return m->op == TC_OP_LOAD &&
           m->attr[TC__ACCESS_BUFFER] == n->attr[TC__ACCESS_BUFFER] &&
           m->attr[TC__ACCESS_INDEX] == n->attr[TC__ACCESS_INDEX] &&
           m->n_attr == TC__LOAD_PREDICATES && m->level == TC__AT_COL;
}

static void tc__device_choose_lanes_early(const tc__group *g, tc__device_plan *q) {
    int64_t words = 0;
    for (size_t i = 0; i < g->body.node.count; i++) {
        const tc__node *n = g->body.node.at[i];
        if (!tc__device_may_be_early(g, q, n)) continue;
        int single = q->width > 1 ? !tc__device_is_one(g, q, n)
                                  : n->n_attr > TC__LOAD_PREDICATES ||
                                        tc__device_access(g, n->attr[TC__ACCESS_INDEX],
                                                          q->axis, 1) == TC__PER_LANE;
        if (single) words += tc__device_words(g, q, n);
    }
    q->lanes_early = words <= TC__DEVICE_EARLY_LANES;
}

// U: so many bytes in flight, but not more registers, text or blocks than there are.
static int tc__device_vectors(const tc__group *g, const tc__device_plan *q,
                              int64_t flight) {
    int64_t words = 0, bytes = 0, cost = 0, each;
    for (size_t i = 0; i < g->body.node.count; i++) {
        const tc__node *n = g->body.node.at[i];
        cost += tc__ops[n->op].cost;
        if (tc__device_is_memory(n) && n->level == TC__AT_COL &&
            (each = q->width * (int64_t)tc__device_bytes(g, n)) > bytes)
            bytes = each;
        if (tc__device_is_early(g, q, n)) words += tc__device_words(g, q, n);
    }
    int count = bytes ? (int)(flight / bytes) : 1;
    if (count > TC__DEVICE_VECTORS) count = TC__DEVICE_VECTORS;
    while (count > 1 &&
           (count * words > TC__DEVICE_EARLY || count * q->width * cost > TC__DEVICE_TEXT))
        count /= 2;
    return count < 1 ? 1 : count;
}

// ---- rows: what is held ----

// Buffer b is the scratch of a row whose every access is at the thread's own column.
static int tc__device_is_own_row(const tc__group *g, int64_t b) {
    if (!tc__device_is_row(g, b)) return 0;
    for (size_t i = 0; i < g->body.node.count; i++) {
        const tc__node *n = g->body.node.at[i];
        if (!tc__device_is_memory(n) || n->attr[TC__ACCESS_BUFFER] != b) continue;
        if (n->level != TC__AT_COL ||
            (n->op == TC_OP_LOAD && n->n_attr > TC__LOAD_PREDICATES) ||
            n->attr[TC__ACCESS_INDEX] != tc__ix_var(g->body.ix, TC__COL, g->shape.cols))
            return 0;
    }
    return 1;
}

// The first load of what n loads, if n or a later phase loads it again and nothing writes it
// in between: its id, else -1.
static int64_t tc__device_first_load(const tc__group *g, const tc__node *n) {
    int64_t first = -1;
    int count = 0;
    if (n->op != TC_OP_LOAD || n->n_attr > TC__LOAD_PREDICATES || n->level != TC__AT_COL)
        return -1;
    if (tc__buffer_of(g, n)->written || tc__device_is_row(g, n->attr[TC__ACCESS_BUFFER]))
        return -1;
    for (size_t i = 0; i < g->body.node.count; i++) {
        if (!tc__device_same_load(n, g->body.node.at[i])) continue;
        if (first < 0) first = (int64_t)i;
        count++;
    }
    return count > 1 ? first : -1;
}

// A load of the row that later phases find where the first one put it.
static int64_t tc__device_held_load(const tc__group *g, const tc__device_plan *q,
                                    const tc__node *n) {
    if (q->hold == TC__DEVICE_AGAIN || !tc__device_may_be_early(g, q, n)) return -1;
    if (q->hold == TC__DEVICE_SHARED && tc__ix_has_val(g->body.ix, n->attr[TC__LOAD_INDEX]))
        return -1; // what is copied there is asked for before values are known
    if (q->width > 1 && tc__device_is_still(g, n, q->axis, q->width)) return -1;
    return tc__device_first_load(g, n);
}

// The STORE that fills own row b.
static const tc__node *tc__device_fills(const tc__group *g, int64_t b) {
    for (size_t i = 0; i < g->body.node.count; i++) {
        const tc__node *n = g->body.node.at[i];
        if (n->op == TC_OP_STORE && n->attr[TC__STORE_BUFFER] == b) return n;
    }
    return NULL;
}

// Marks in need[] what column value n is made of, down to rows. 0 = it cannot be made again.
// need[] has a place for each node, in order, so that a later one is never needed by an earlier.
static int tc__device_needs(const tc__group *g, const tc__node *n, uint8_t *need) {
    need[n->id] = 1;
    for (uint32_t i = n->id + 1; i-- > 0;) {
        const tc__node *m = g->body.node.at[i];
        if (!need[i] || m->level != TC__AT_COL) continue;
        if (m->op == TC_OP_LOAD && (tc__device_is_row(g, m->attr[TC__ACCESS_BUFFER]) ||
                                    tc__buffer_of(g, m)->written))
            return 0;
        if (m->op == TC_OP_CHECK || m->op == TC_OP_ACC) return 0;
        for (uint32_t k = 0; k < m->n_in; k++) need[m->in[k]] = 1;
        for (uint32_t k = 0; k < m->n_attr; k++)
            if (tc__attr_is_ix(m, k) && tc__ix_has_val(g->body.ix, m->attr[k])) return 0;
    }
    return 1;
}

enum { TC__DEVICE_NODES = 4096 }; // of a list that is looked at for what can be made again

// Whether own row b can be computed again instead of being held.
static int tc__device_is_again(const tc__group *g, int64_t b) {
    uint8_t need[TC__DEVICE_NODES];
    const tc__node *fill = tc__device_is_own_row(g, b) ? tc__device_fills(g, b) : NULL;
    if (!fill || g->body.node.count > TC__DEVICE_NODES) return 0;
    memset(need, 0, sizeof need);
    return tc__device_needs(g, g->body.node.at[fill->in[0]], need);
}

// Whether that costs little.
static int tc__device_is_cheap(const tc__group *g, int64_t b) {
    uint8_t need[TC__DEVICE_NODES];
    int64_t cost = 0;
    if (!tc__device_is_again(g, b)) return 0;
    memset(need, 0, sizeof need);
    tc__device_needs(g, g->body.node.at[tc__device_fills(g, b)->in[0]], need);
    for (size_t i = 0; i < g->body.node.count; i++)
        if (need[i] && g->body.node.at[i]->level == TC__AT_COL)
            cost += tc__ops[g->body.node.at[i]->op].cost;
    return cost <= TC__DEVICE_CHEAP;
}

// The scratch of a row that no thread has for itself, nor computes again.
static int tc__device_is_scratch(const tc__group *g, const tc__device_plan *q, int64_t b) {
    if (!tc__device_is_row(g, b) || q->kept) return 0;
    if (q->hold == TC__DEVICE_REGISTERS) return !tc__device_is_own_row(g, b);
    return !tc__device_is_again(g, b);
}

static int tc__device_has_shared_row(const tc__group *g) {
    for (size_t i = 0; i < g->buffer.count; i++)
        if (tc__device_is_row(g, (int64_t)i) && !tc__device_is_own_row(g, (int64_t)i))
            return 1;
    return 0;
}

static int tc__device_all_again(const tc__group *g) {
    for (size_t i = 0; i < g->buffer.count; i++)
        if (tc__device_is_row(g, (int64_t)i) && !tc__device_is_again(g, (int64_t)i))
            return 0;
    return 1;
}

// Cost of all that is done at a column.
static int64_t tc__device_column_cost(const tc__group *g) {
    int64_t cost = 0;
    for (size_t i = 0; i < g->body.node.count; i++)
        if (g->body.node.at[i]->level == TC__AT_COL)
            cost += tc__ops[g->body.node.at[i]->op].cost;
    return cost;
}

// Whether phases that are launches find rows in memory: where they cannot be computed again, or that
// costs more than to write and read them.
static int tc__device_keeps_rows(const tc__group *g) {
    int rows = 0;
    for (size_t i = 0; i < g->buffer.count; i++) rows |= tc__device_is_row(g, (int64_t)i);
    return rows &&
           (!tc__device_all_again(g) || tc__device_column_cost(g) > TC__DEVICE_DEAR);
}

// Bytes of each column that are held; `rows` counts own rows too.
static int64_t tc__device_held(const tc__group *g, const tc__device_plan *q, int rows) {
    int64_t held = 0;
    for (size_t i = 0; i < g->buffer.count; i++)
        if (rows && tc__device_is_own_row(g, (int64_t)i))
            held += tc__dtypes[g->buffer.at[i].dtype].bytes;
    for (size_t i = 0; i < g->body.node.count; i++) {
        const tc__node *n = g->body.node.at[i];
        if (tc__device_held_load(g, q, n) == (int64_t)i) held += tc__device_bytes(g, n);
    }
    return held;
}

// Whether load n is of what all rows read: the first of them bring it into the cache.
static int tc__device_all_rows_read(const tc__group *g, const tc__node *n) {
    return !tc__ix_uses(g->body.ix, n->attr[TC__LOAD_INDEX], TC__ROW) &&
           !tc__ix_has_val(g->body.ix, n->attr[TC__LOAD_INDEX]);
}

// Registers that the loads of the worst phase need, beside what is held.
static int64_t tc__device_phase_words(const tc__group *g, const tc__device_plan *q) {
    int64_t words = 0, most = 0;
    for (size_t i = 0; i < g->body.node.count; i++) {
        const tc__node *n = g->body.node.at[i];
        if (n->op == TC_OP_END) words = 0;
        if (tc__device_is_early(g, q, n) && tc__device_held_load(g, q, n) < 0 &&
            !(q->late && tc__device_all_rows_read(g, n)))
            words += tc__device_words(g, q, n);
        if (words > most) most = words;
    }
    return most;
}
