// What a thread does at its vectors of columns: U vectors of V, wherever a form (flat.c, window.c, rows.c) has them.
//
//     for u in 0..2 bind=unroll:  held0[2*u + l] = in0[...]              loads that nothing is waited for
//     for u in 0..2 bind=unroll:  held1[8*u + l] = in1[768*index + c]    loads at indices that were loaded
//     for u in 0..2 bind=unroll:  what is computed of them, and stores
//
// Only so are the loads of all vectors in flight together: a store waits for what was loaded, and the next
// load for the store. Of one vector nothing is held: its loads stand before all else as it is.

// Sums down the columns are another loop's than those of a row.
typedef enum tc__vector_sums {
    TC__SUMS_ALL,
    TC__SUMS_OF_ROWS,
    TC__SUMS_DOWN // and nothing else
} tc__vector_sums;

typedef struct tc__vectors tc__vectors;
struct tc__vectors {
    tc__relist l;
    tc__ixpool *ix;
    int width, count; // V, U
    int narrow;
    tc__ix u;                       // the vector at hand
    tc__ix (*open)(tc__vectors *f); // opens its place: its first column
    int opened;                     //   in an IF
    const tc__windows *window;      // NULL = none
    int64_t first_window;           // buffer of the first
    int lanes_early;                // loads of single elements are held, too
    int led;                        //   and those that values of the row lead to
    int late;                       // those of what all rows read are not
    uint32_t begin, end;            // the nodes that are done, of a loop over columns
    int again,
        looped;     // several loops stand side by side, so each has a scope; it was opened
    int apart;      // values of rows are there: they are no nodes of a vector
    int by_rows;    // its elements are of V rows, in one column
    int64_t spread; // what is added to the numbers of their accumulators
    int kept;       // rows are in memory that an earlier launch has written
    tc__ix own,
        owned;    // rows that several make are tensors of those where own < owned, else 0,
    tc__ix owner; //   and of the block where this is 0
    tc__ix from;  // column that is the first of a part of the row
    tc__vector_sums
        sums; // which steps of accumulators are done, of those from `down` on and of the others
    uint32_t never; // 1 + the comparison that no column at hand meets, 0 = there is none
    int64_t down;
    void (*step)(tc__vectors *f, const tc__node *n, tc__ix lane); //   and makes those
    uint8_t *row;      // by buffer of a row: a tc__vector_row
    int64_t *row_held; //   and the buffer it is held in
    uint8_t *ahead;    // by node: a tc__vector_hold
    int64_t *held;     // by node: the buffer it is held in
    uint8_t *phase;    // by node: it is done for [begin, end)
    uint8_t *need;     // by node: it is done in the loop that is made
};

typedef enum tc__vector_row {
    TC__ROW_MEMORY,
    TC__ROW_AGAIN,    // its values are computed again
    TC__ROW_REGISTERS // the thread has its own elements of it
} tc__vector_row;

typedef enum tc__vector_hold {
    TC__HOLD_NOT,
    TC__HOLD_FIRST,  // no value leads to it
    TC__HOLD_THEN,   // a value that was loaded does
    TC__HOLD_BEFORE, // an earlier loop has loaded it,
    TC__HOLD_LATER,  //   or none has yet, but a loop that needs it will,
    TC__HOLD_ASKED,  //   or the row began with it, and it stays,
    TC__HOLD_SHARED, //   into shared memory, where column c is element c,
    TC__HOLD_ROWS    //   or has made it, of each row of the vector
} tc__vector_hold;

enum { TC__VECTOR_U = TC__VAR0 + 4, TC__VECTOR_L };

// `a*x + b`
static tc__ix tc__vector_ix(const tc__vectors *f, int64_t a, tc__ix x, tc__ix b) {
    return tc__ix_add(f->ix, tc__ix_mul(f->ix, tc__ix_const(a), x), b);
}

static tc__axis tc__vector_axis(const tc__vectors *f) {
    return f->by_rows ? TC__ROW : TC__COL;
}

// ---- what is held ----

static int tc__vector_windows(const tc__vectors *f, const tc__node *n) {
    return f->window && tc__window_is_in(f->l.from, f->window, n);
}

// Whether one access, or one element, is all that a vector loads.
static int tc__vector_is_one(const tc__vectors *f, const tc__node *n) {
    const tc__group *g = f->l.from;
    return f->width == 1 || tc__device_is_wide(g, n, f->width, tc__vector_axis(f)) ||
           tc__device_is_still(g, n, tc__vector_axis(f), f->width);
}

static tc__vector_hold tc__vector_hold_of(const tc__vectors *f, const tc__node *n) {
    const tc__group *g = f->l.from;
    if (n->op != TC_OP_LOAD || n->level != TC__AT_COL || tc__vector_windows(f, n))
        return TC__HOLD_NOT;
    const tc__kbuf *b = tc__buffer_of(g, n);
    int kept = f->kept && b->place == TC__BUF_ROW;
    if (!kept && (!tc__is_memory(b) || b->written)) return TC__HOLD_NOT;
    if (!f->lanes_early && !tc__vector_is_one(f, n)) return TC__HOLD_NOT;
    if (f->late && tc__device_all_rows_read(g, n)) return TC__HOLD_NOT;
    for (uint32_t i = 1; i < n->n_attr; i++)
        if (tc__attr_is_ix(n, i) && tc__device_is_led(g, f->led, n->attr[i]))
            return i == TC__LOAD_INDEX &&
                           tc__device_is_wide(g, n, f->width, tc__vector_axis(f))
                       ? TC__HOLD_THEN
                       : TC__HOLD_NOT;
    return TC__HOLD_FIRST;
}

// Elements that are held of a vector.
static int tc__vector_elements(const tc__vectors *f, const tc__node *n) {
    return tc__device_is_still(f->l.from, n, tc__vector_axis(f), f->width) ? 1 : f->width;
}

// Registers for load n of all vectors.
static void tc__vector_hold_in(tc__vectors *f, const tc__node *n, tc__vector_hold hold) {
    f->ahead[n->id] = (uint8_t)hold;
    f->held[n->id] =
        tc__relist_buffer(&f->l, TC__BUF_REGISTER, tc__buffer_of(f->l.from, n)->dtype,
                          (int64_t)f->count * tc__vector_elements(f, n));
}

// What is held of the nodes that are done and was not before.
static void tc__vectors_hold(tc__vectors *f) {
    const tc__group *g = f->l.from;
    for (size_t i = 0; i < f->end && f->count > 1; i++) {
        const tc__node *n = g->body.node.at[i];
        if (!f->phase[i] || f->ahead[i]) continue;
        tc__vector_hold hold = tc__vector_hold_of(f, n);
        if (hold) tc__vector_hold_in(f, n, hold);
    }
}

// ---- one vector ----

// Opens the loop over its elements: the variable, 0 where there is one.
static tc__ix tc__vector_lanes(tc__vectors *f, int width) {
    if (width == 1) return tc__ix_const(0);
    return tc__relist_for(&f->l, (tc__axis)TC__VECTOR_L, TC__BIND_VECTOR,
                          tc__ix_const(width));
}

static void tc__vector_lanes_end(tc__vectors *f, int width) {
    if (width > 1) tc__relist_end(&f->l, TC__VECTOR_L);
}

// A store of the row, by one of its threads.
static void tc__vector_store_row(tc__vectors *f, const tc__node *n) {
    int64_t attr[2];
    attr[TC__IF_PREDICATES] = tc__ix_var(f->ix, TC__COL, f->l.from->shape.cols);
    attr[TC__IF_PREDICATES + 1] = tc__ix_const(1);
    tc__relist_put(&f->l, TC_OP_IF, TC_BOOL, attr, 2);
    tc__relist_copy(&f->l, n);
    tc__relist_end(&f->l, TC__END_BLOCK);
}

// Opens what those alone store whose row it is; 0 = all do.
static int tc__vector_own(tc__vectors *f) {
    return f->owned && tc__relist_if(&f->l, f->own, f->owned, f->owner, tc__ix_const(1));
}

static void tc__vector_store_owned(tc__vectors *f, const tc__node *n) {
    int opened = tc__vector_own(f);
    tc__relist_copy(&f->l, n);
    tc__relist_end_if(&f->l, opened);
}

// What was read of the window that n is in.
static void tc__vector_load_window(tc__vectors *f, const tc__node *n, tc__ix lane) {
    int row, column;
    const tc__neighbours *w = tc__window_of(f->l.from, f->window, n, &row, &column);
    tc__ix line = tc__ix_add(f->ix, f->u, tc__ix_const(row));
    tc__ix at = tc__vector_ix(f, tc__window_across_of(f->window, w), line,
                              tc__ix_add(f->ix, lane, tc__ix_const(column)));
    tc__relist_load(&f->l, n, f->first_window + (w - f->window->window), at);
}

// Where the column at hand is in shared memory.
static tc__ix tc__vector_shared_at(const tc__vectors *f) {
    return tc__ix_sub(f->ix, tc__ix_var(f->ix, TC__COL, f->l.from->shape.cols), f->from);
}

// A load of what is held.
static void tc__vector_load_held(tc__vectors *f, const tc__node *n, tc__ix lane) {
    tc__ix at = f->ahead[n->id] == TC__HOLD_SHARED ? tc__vector_shared_at(f)
                : f->ahead[n->id] == TC__HOLD_ROWS ? lane
                : tc__vector_elements(f, n) == 1   ? f->u
                                                   : tc__vector_ix(f, f->width, f->u, lane);
    tc__relist_load(&f->l, n, f->held[n->id], at);
}

// What a node of an own row is where the row is in no memory. 0 = it is another node.
static int tc__vector_row_node(tc__vectors *f, const tc__node *n, tc__ix lane) {
    int64_t b = tc__device_is_memory(n) ? n->attr[TC__ACCESS_BUFFER] : -1;
    if (b < 0 || f->row[b] == TC__ROW_MEMORY) return 0;
    tc__ix at = tc__vector_ix(f, f->width, f->u, lane);
    if (f->row[b] == TC__ROW_AGAIN) {
        if (n->op == TC_OP_LOAD)
            f->l.at[n->id] = f->l.at[tc__device_fills(f->l.from, b)->in[0]];
    } else if (n->op == TC_OP_LOAD) {
        tc__relist_load(&f->l, n, f->row_held[b], at);
    } else {
        tc__relist_store(&f->l, f->l.from->body.node.at[n->in[0]], f->row_held[b], at);
    }
    return 1;
}

// What its element of an accumulator is, of V rows.
static void tc__vector_combine(tc__vectors *f, const tc__node *n) {
    tc__node m = *n;
    int64_t attr[TC__COMBINE_THREADS + 1];
    memcpy(attr, n->attr, TC__COMBINE_THREADS * sizeof *attr);
    attr[TC__COMBINE_THREADS] = 1, attr[TC__COMBINE_ACCUMULATOR] += f->spread;
    m.attr = attr, m.n_attr = TC__COMBINE_THREADS + 1;
    tc__relist_copy(&f->l, &m);
}

// What a node is where a comparison never holds: a choice by it is what it chooses then. 0 = it is another node.
static int tc__vector_never(tc__vectors *f, const tc__node *n) {
    if (!f->never) return 0;
    if (n->op == TC_OP_WHERE && n->in[0] == f->never - 1)
        return f->l.at[n->id] = f->l.at[n->in[2]], 1;
    return n->id == f->never - 1;
}

static void tc__vector_node(tc__vectors *f, const tc__node *n, tc__ix lane, int holds) {
    if (tc__opens(n) || n->op == TC_OP_END || tc__vector_row_node(f, n, lane)) return;
    if (tc__vector_never(f, n)) return;
    if (tc__vector_windows(f, n))
        tc__vector_load_window(f, n, lane);
    else if (f->ahead[n->id] && f->ahead[n->id] != holds)
        tc__vector_load_held(f, n, lane);
    else if (n->op == TC_OP_STORE && n->level == TC__AT_ROW && !f->by_rows)
        tc__vector_store_row(f, n);
    else if (n->op == TC_OP_STORE && f->owned && tc__is_memory(tc__buffer_of(f->l.from, n)))
        tc__vector_store_owned(f, n);
    else if (n->op == TC_OP_COMBINE)
        tc__vector_combine(f, n);
    else if (n->op == TC_OP_ACC && f->sums == TC__SUMS_DOWN)
        f->step(f, n, lane);
    else
        tc__relist_copy(&f->l, n);
}

// What `need` tells of the nodes of g, which are those of the kernel or what is left of them in a box. `holds`:
// such loads are stored to their registers.
static void tc__vector_nodes(tc__vectors *f, const tc__group *g, const uint8_t *need,
                             tc__ix column, int width, int holds) {
    tc__ix lane = tc__vector_lanes(f, width);
    tc__relist_axis(&f->l, tc__vector_axis(f), tc__ix_add(f->ix, column, lane));
    for (size_t id = 0; id < g->body.node.count; id++) {
        const tc__node *n = g->body.node.at[id];
        if (!need[id]) continue;
        tc__vector_node(f, n, lane, holds);
        if (holds && f->ahead[id] == holds)
            tc__relist_store(&f->l, n, f->held[id],
                             width == 1 ? f->u : tc__vector_ix(f, width, f->u, lane));
    }
    tc__vector_lanes_end(f, width);
}

// ---- all of a thread ----

static void tc__vector_need(void *user, uint32_t id) { ((uint8_t *)user)[id] = 1; }

// Marks in need[] what marked nodes are made of, down to what is held before `holds`, and to values of rows.
static void tc__vectors_close(const tc__vectors *f, int holds) {
    const tc__group *g = f->l.from;
    for (size_t id = f->end; id-- > 0;) {
        const tc__node *n = g->body.node.at[id];
        if (f->apart && n->level == TC__AT_ROW && !f->ahead[id]) f->need[id] = 0;
        if (!f->need[id] || (f->ahead[id] && f->ahead[id] != holds)) continue;
        if (n->op == TC_OP_LOAD && f->row[n->attr[TC__LOAD_BUFFER]] == TC__ROW_AGAIN) {
            f->need[tc__device_fills(g, n->attr[TC__LOAD_BUFFER])->in[0]] = 1;
            continue;
        }
        for (uint32_t i = 0; i < n->n_in; i++) f->need[n->in[i]] = 1;
        for (uint32_t i = 0; i < n->n_attr; i++)
            if (tc__attr_is_ix(n, i))
                tc__ix_each_val(f->ix, n->attr[i], tc__vector_need, f->need);
    }
}

// Loads of one kind that have `elements` of a vector: marks them, and what leads to them. 0 = there are none.
static int tc__vectors_mark(tc__vectors *f, int holds, int elements) {
    const tc__group *g = f->l.from;
    int some = 0;
    memset(f->need, 0, g->body.node.count);
    for (size_t id = 0; id < f->end; id++) {
        f->need[id] = f->phase[id] && f->ahead[id] == holds &&
                      tc__vector_elements(f, g->body.node.at[id]) == elements;
        some |= f->need[id];
    }
    if (some) tc__vectors_close(f, holds);
    return some;
}

// Opens a loop over all vectors: the first column of the one at hand.
static tc__ix tc__vectors_open_each(tc__vectors *f) {
    f->looped = f->count > 1 || f->again;
    f->u = f->looped ? tc__relist_for(&f->l, (tc__axis)TC__VECTOR_U, TC__BIND_UNROLL,
                                      tc__ix_const(f->count))
                     : tc__ix_const(0);
    return f->open(f);
}

static void tc__vectors_close_each(tc__vectors *f) {
    tc__relist_end_if(&f->l, f->opened);
    if (f->looped) tc__relist_end(&f->l, TC__VECTOR_U);
}

// Whether n compares the column with an integer of the row, *row, for nothing but choices.
static int tc__vector_is_one_hot(const tc__vectors *f, const tc__node *n, uint32_t *row) {
    const tc__group *g = f->l.from;
    if (n->op != TC_OP_EQ || n->level != TC__AT_COL) return 0;
    const tc__node *x = g->body.node.at[n->in[0]], *y = g->body.node.at[n->in[1]];
    const tc__node *column = x->op == TC_OP_INDEX ? x : y, *other = column == x ? y : x;
    if (column->op != TC_OP_INDEX || other->level != TC__AT_ROW ||
        (other->dtype != TC_I32 && other->dtype != TC_I64) ||
        column->attr[TC__INDEX_EXPR] != tc__ix_var(f->ix, TC__COL, g->shape.cols))
        return 0;
    for (size_t id = n->id + 1; id < f->end; id++) {
        const tc__node *m = g->body.node.at[id];
        for (uint32_t i = 0; f->need[id] && i < m->n_in; i++)
            if (m->in[i] == n->id && (m->op != TC_OP_WHERE || i)) return 0;
    }
    *row = other->id;
    return 1;
}

// The first of them, plus 1; 0 = there is none.
static uint32_t tc__vector_one_hot(const tc__vectors *f, uint32_t *row) {
    const tc__group *g = f->l.from;
    for (uint32_t id = f->begin; id < f->end && f->apart && !f->by_rows; id++)
        if (f->need[id] && tc__vector_is_one_hot(f, g->body.node.at[id], row))
            return id + 1;
    return 0;
}

// What only node id needs is needed by nobody.
static void tc__vectors_forgo(tc__vectors *f, uint32_t id) {
    const tc__node *n = f->l.from->body.node.at[id];
    for (uint32_t i = 0; i < n->n_in; i++) {
        int users = 0;
        for (uint32_t k = n->in[i] + 1; k < f->end; k++)
            for (uint32_t in = 0; f->need[k] && in < f->l.from->body.node.at[k]->n_in; in++)
                users += f->l.from->body.node.at[k]->in[in] == n->in[i];
        if (users == 1) f->need[n->in[i]] = 0;
    }
}

// What is done at the vector at hand. Where one column of a row is another than all others (the target of a cross entropy),
// all vectors but its own do without it: of 8192 x 50257 halves that is an eighth of all instructions.
static void tc__vectors_do(tc__vectors *f, tc__ix column, int holds, int width) {
    uint32_t row = 0;
    uint32_t hot = !holds && width > 1 ? tc__vector_one_hot(f, &row) : 0;
    tc__ix at = hot ? tc__ix_val(f->ix, f->l.at[row], f->l.from->shape.cols) : 0;
    int asks = hot && tc__relist_if(&f->l, tc__ix_sub(f->ix, at, column),
                                    tc__ix_const(width), 0, 0);
    if (asks) {
        tc__vector_nodes(f, f->l.from, f->need, column, width, holds);
        tc__relist_put(&f->l, TC_OP_ELSE, TC_BOOL, NULL, 0);
        tc__vectors_forgo(f, hot - 1);
        f->never = hot;
    }
    tc__vector_nodes(f, f->l.from, f->need, column, width, holds);
    f->never = 0;
    tc__relist_end_if(&f->l, asks);
}

static void tc__vectors_each(tc__vectors *f, int holds, int width) {
    tc__ix column = tc__vectors_open_each(f);
    tc__vectors_do(f, column, holds, width);
    tc__vectors_close_each(f);
}

// Whether a held load is a copy of whole vectors, which stay as they are in memory: halves are half as many registers so.
static int tc__vector_is_copy(const tc__vectors *f, const tc__node *n) {
    return n->n_attr == TC__LOAD_PREDICATES &&
           tc__device_is_wide(f->l.from, n, f->width, tc__vector_axis(f)) &&
           !tc__ix_has_val(f->ix, n->attr[TC__LOAD_INDEX]);
}

// Loads of whole vectors that nothing is waited for.
static void tc__vectors_copy(tc__vectors *f) {
    const tc__group *g = f->l.from;
    int some = 0;
    for (size_t id = 0; id < f->end; id++)
        some |= f->phase[id] && f->ahead[id] == TC__HOLD_FIRST &&
                tc__vector_is_copy(f, g->body.node.at[id]);
    if (!some) return;
    tc__ix column = tc__vectors_open_each(f);
    for (size_t id = 0; id < f->end; id++) {
        const tc__node *n = g->body.node.at[id];
        if (!f->phase[id] || f->ahead[id] != TC__HOLD_FIRST || !tc__vector_is_copy(f, n))
            continue;
        tc__relist_copy_vector(&f->l, n, f->held[id],
                               tc__vector_ix(f, f->width, f->u, tc__ix_const(0)),
                               tc__vector_axis(f), column, f->width);
        f->ahead[id] = TC__HOLD_BEFORE;
    }
    tc__vectors_close_each(f);
}

// Loads of one kind: of one element first, so that no vector loops over them.
static void tc__vectors_ahead(tc__vectors *f, int holds) {
    if (f->width > 1 && tc__vectors_mark(f, holds, 1)) tc__vectors_each(f, holds, 1);
    if (tc__vectors_mark(f, holds, f->width)) tc__vectors_each(f, holds, f->width);
}

// Whether a node is done for itself.
static int tc__vector_is_root(const tc__vectors *f, const tc__node *n) {
    int down = n->op == TC_OP_ACC && n->attr[TC__ACC_ACCUMULATOR] >= f->down;
    if (f->sums != TC__SUMS_ALL && (down || f->sums == TC__SUMS_DOWN))
        return down && f->sums == TC__SUMS_DOWN;
    if (n->op == TC_OP_STORE) return f->row[n->attr[TC__STORE_BUFFER]] != TC__ROW_AGAIN;
    return n->op == TC_OP_CHECK || n->op == TC_OP_ACC;
}

// Marks all that is done; what only loads that are held need is theirs.
static void tc__vectors_rest(tc__vectors *f) {
    const tc__group *g = f->l.from;
    memset(f->need, 0, g->body.node.count);
    for (size_t id = f->begin; id < f->end; id++)
        f->need[id] = (uint8_t)tc__vector_is_root(f, g->body.node.at[id]);
    tc__vectors_close(f, TC__HOLD_NOT);
}

// Whether there are loads to be held while others are under way.
static int tc__vectors_are_deep(tc__vectors *f) {
    tc__vectors_rest(f);
    for (uint32_t id = 0; id < f->end; id++)
        if (f->need[id] && !f->ahead[id] &&
            tc__vector_hold_of(f, f->l.from->body.node.at[id]) == TC__HOLD_FIRST)
            return 1;
    return 0;
}

static void tc__vectors_put(tc__vectors *f) {
    tc__vectors_rest(f);
    memcpy(f->phase, f->need, f->l.from->body.node.count);
    tc__vectors_hold(f);
    tc__vectors_copy(f);
    tc__vectors_ahead(f, TC__HOLD_FIRST);
    tc__vectors_ahead(f, TC__HOLD_THEN);
    tc__vectors_rest(f);
    tc__vectors_each(f, TC__HOLD_NOT, f->width);
}

// What is known by node and by buffer of l.from. 0 = no memory.
static int tc__vectors_begin(tc__vectors *f, tc_ctx *c) {
    const tc__group *g = f->l.from;
    size_t n = g->body.node.count, buffers = g->buffer.count;
    f->ix = g->body.ix, f->narrow = tc__device_is_narrow(g), f->from = tc__ix_const(0);
    f->end = (uint32_t)n;
    f->ahead = TC__NEW_ARRAY(c, uint8_t, n), f->need = TC__NEW_ARRAY(c, uint8_t, n);
    f->phase = TC__NEW_ARRAY(c, uint8_t, n), f->held = TC__NEW_ARRAY(c, int64_t, n);
    f->row = TC__NEW_ARRAY(c, uint8_t, buffers);
    f->row_held = TC__NEW_ARRAY(c, int64_t, buffers);
    int ok = f->ahead && f->need && f->phase && f->held && f->row && f->row_held;
    if (!ok) f->l.failed = 1;
    return ok;
}

static void tc__vectors_end(tc__vectors *f, tc_ctx *c) {
    size_t n = f->l.from->body.node.count, buffers = f->l.from->buffer.count;
    n = n ? n : 1, buffers = buffers ? buffers : 1;
    tc__free(c, f->ahead, n), tc__free(c, f->need, n), tc__free(c, f->phase, n);
    tc__free(c, f->held, n * sizeof *f->held);
    tc__free(c, f->row, buffers);
    tc__free(c, f->row_held, buffers * sizeof *f->row_held);
}

static int tc__vectors_open(tc__vectors *f, tc_ctx *c, const tc__group *g) {
    int ok = tc__relist_open(&f->l, c, g);
    return tc__vectors_begin(f, c) && ok;
}

static tc__group *tc__vectors_done(tc__vectors *f, tc_ctx *c) {
    tc__vectors_end(f, c);
    return tc__relist_close(&f->l, c);
}

// U: as many as have `flight` bytes under way, but not more registers or text than there is room for.
enum {
    TC__VECTOR_FLIGHT = 64, // bytes of each input that a thread loads before it uses one
    TC__VECTOR_MOST = 8,
    TC__VECTOR_HELD = 48,  // registers
    TC__VECTOR_TEXT = 4096 // cost of all elements of a thread, for the compiler's sake
};

static int tc__vectors_fit(const tc__group *g, int width) {
    tc__vectors f;
    int64_t words = 0, bytes = 1, cost = 0;
    memset(&f, 0, sizeof f);
    f.l.from = g, f.ix = g->body.ix, f.width = width;
    for (size_t i = 0; i < g->body.node.count; i++) {
        const tc__node *n = g->body.node.at[i];
        cost += tc__ops[n->op].cost;
        if (!tc__device_is_memory(n) || n->level != TC__AT_COL) continue;
        int64_t each = width * (int64_t)tc__device_bytes(g, n);
        if (each > bytes) bytes = each;
        if (tc__vector_hold_of(&f, n) == TC__HOLD_FIRST)
            words += (tc__vector_elements(&f, n) * (int64_t)tc__device_bytes(g, n) + 3) / 4;
    }
    int count = (int)(TC__VECTOR_FLIGHT / bytes);
    if (count > TC__VECTOR_MOST) count = TC__VECTOR_MOST;
    while (count > 1 &&
           (count * words > TC__VECTOR_HELD || count * width * cost > TC__VECTOR_TEXT))
        count /= 2;
    return count < 1 ? 1 : count;
}
