// Windows: loads of a pointwise kernel that are one another moved by a few rows and columns, as those of
// a stencil are. A thread has U rows of V columns, and reads each element that they need once, into
// registers: `w3[u + 1][l + 2]`. Registers and not shared memory, whose reads are as many as those of L1
// were: a 7 x 7 stencil takes 280 us of an H200 so, 341 through shared memory, 530 with loads of L1.
// Input: a group at LOOP. Output: its windows, and how many rows and columns a thread has.
//
// All measured on an H200 with 8192 x 8192 f32, written by hand: relu 131 us; 3 x 3 136 so,
// 165 through shared memory, 187 with every load of its own. Only registers have more
// bandwidth than L1. A padded image is not made in memory for that (TC__FUSE_LOADS).

enum {
    TC__WINDOWS = 8,                            // of a kernel, at most
    TC__WINDOW_WORDS = TC__LOAD_PREDICATES + 8, // four predicates
    TC__WINDOW_REACH = 15, // rows or columns between two loads of a window, at most
    TC__WINDOW_HELD = 112, // elements that a thread has in registers
    TC__WINDOW_THREADS = 256,
    TC__WINDOW_ACROSS = 64, // of them side by side
    TC__WINDOW_BLOCKS = 4   // for each multiprocessor, before a thread has more rows
};

// Loads that are one another, moved. One of them stands for all, with the predicates that any of them
// has; the others are in so many rows and columns, the first of which are `top` and `left` of it.
typedef struct tc__neighbours {
    uint32_t load, words;
    int top, left, rows, columns, loads;
    int64_t word[TC__WINDOW_WORDS]; // attribute words of the one
} tc__neighbours;

typedef struct tc__windows {
    int count;
    int rows, width;     // U, V
    int threads, across; // of a block; of them side by side
    tc__neighbours window[TC__WINDOWS];
} tc__windows;

// ---- one load, moved ----

// Index expression e, so many rows and columns on.
static tc__ix tc__window_move(const tc__group *g, tc__ix e, tc__ix rows, tc__ix columns) {
    tc__ixpool *x = g->body.ix;
    tc__ix down = tc__ix_mul(x, tc__ix_run(x, e, TC__ROW).stride, rows);
    tc__ix right = tc__ix_mul(x, tc__ix_run(x, e, TC__COL).stride, columns);
    return tc__ix_add(x, e, tc__ix_add(x, down, right));
}

// Load n with its expressions moved; `words` is where they are.
static tc__node tc__window_moved(const tc__group *g, const tc__node *n, tc__ix rows,
                                 tc__ix columns, int64_t words[TC__WINDOW_WORDS]) {
    tc__node m = *n;
    for (uint32_t i = 0; i < n->n_attr; i++)
        words[i] = tc__attr_is_ix(n, i)
                       ? (int64_t)tc__window_move(g, (tc__ix)n->attr[i], rows, columns)
                       : n->attr[i];
    m.attr = words;
    return m;
}

// Whether load n has the predicate 0 <= e < limit, or it holds everywhere.
static int tc__window_holds(const tc__group *g, const tc__node *n, tc__ix e, tc__ix limit) {
    for (uint32_t i = TC__LOAD_PREDICATES; i < n->n_attr; i += 2)
        if (n->attr[i] == e && n->attr[i + 1] == limit) return 1;
    return tc__ix_within(g->body.ix, e, limit);
}

// Whether n reads what m does; of m's predicates it may lack those that hold wherever n is.
static int tc__window_same(const tc__group *g, const tc__node *m, const tc__node *n) {
    uint32_t shared = 0;
    if (n->attr[TC__LOAD_INDEX] != m->attr[TC__LOAD_INDEX]) return 0;
    if (n->n_attr > TC__LOAD_PREDICATES && n->attr[TC__LOAD_FILL] != m->attr[TC__LOAD_FILL])
        return 0;
    for (uint32_t i = TC__LOAD_PREDICATES; i < n->n_attr; i += 2)
        for (uint32_t k = TC__LOAD_PREDICATES; k < m->n_attr; k += 2)
            shared += n->attr[i] == m->attr[k] && n->attr[i + 1] == m->attr[k + 1];
    for (uint32_t k = TC__LOAD_PREDICATES; k < m->n_attr; k += 2)
        if (!tc__window_holds(g, n, m->attr[k], m->attr[k + 1])) return 0;
    return 2 * shared + TC__LOAD_PREDICATES == n->n_attr;
}

// Whether index e is that of m so many rows and columns on: as few columns as can be.
static int tc__window_apart(const tc__group *g, tc__ix m, tc__ix e, int *down, int *right) {
    tc__ixpool *x = g->body.ix;
    tc__ix pitch = tc__ix_run(x, m, TC__ROW).stride, apart = tc__ix_sub(x, e, m);
    int64_t least = TC__WINDOW_REACH + 1;
    for (int i = 0; least && i <= 2 * TC__WINDOW_REACH; i++) { // 0, 1, -1, 2, -2, ...
        int rows = i % 2 ? (i + 1) / 2 : -i / 2;
        tc__ix rest = tc__ix_sub(x, apart, tc__ix_mul(x, pitch, tc__ix_const(rows)));
        if (!tc__ix_is_const(rest)) continue;
        int64_t columns = tc__ix_value(rest), size = columns < 0 ? -columns : columns;
        if (size >= least) continue;
        least = size, *down = rows, *right = (int)columns;
    }
    return least <= TC__WINDOW_REACH;
}

// A load whose expressions move by fixed steps over U rows and V columns.
static int tc__window_takes(const tc__group *g, const tc__node *n, int rows, int width) {
    tc__ixpool *x = g->body.ix;
    for (uint32_t i = 1; i < n->n_attr; i++) {
        if (!tc__attr_is_ix(n, i)) continue;
        tc__ixrun down = tc__ix_run(x, n->attr[i], TC__ROW);
        tc__ixrun right = tc__ix_run(x, n->attr[i], TC__COL);
        if (!tc__ixrun_spans(&down, rows) || !tc__ixrun_spans(&right, width)) return 0;
        if (i == 1 && !tc__ix_equals(right.stride, 1)) return 0;
    }
    return 1;
}

static int tc__window_may_have(const tc__group *g, const tc__node *n) {
    if (n->op != TC_OP_LOAD || n->level != TC__AT_COL || n->n_attr > TC__WINDOW_WORDS)
        return 0;
    if (tc__device_is_row(g, n->attr[TC__LOAD_BUFFER]) || tc__buffer_of(g, n)->written)
        return 0;
    for (uint32_t i = 1; i < n->n_attr; i++)
        if (tc__attr_is_ix(n, i) && tc__ix_has_val(g->body.ix, n->attr[i])) return 0;
    return tc__window_takes(g, n, 1, 1);
}

// ---- the windows of a kernel ----

// The load that stands for all of a window, with the predicates that any of them has.
static tc__node tc__window_node(const tc__group *g, const tc__neighbours *w) {
    tc__node n = *g->body.node.at[w->load];
    n.attr = (int64_t *)(uintptr_t)w->word, n.n_attr = w->words;
    return n;
}

// Whether n is a load of window w, *down rows and *right columns from the one that stands for it.
static int tc__window_has(const tc__group *g, const tc__neighbours *w, const tc__node *n,
                          int *down, int *right) {
    int64_t words[TC__WINDOW_WORDS];
    tc__node m = tc__window_node(g, w);
    if (n->op != TC_OP_LOAD || n->attr[TC__LOAD_BUFFER] != m.attr[TC__LOAD_BUFFER] ||
        !tc__window_apart(g, m.attr[TC__LOAD_INDEX], n->attr[TC__LOAD_INDEX], down, right))
        return 0;
    m = tc__window_moved(g, &m, tc__ix_const(*down), tc__ix_const(*right), words);
    return tc__window_same(g, &m, n);
}

// The window that n is read from, and where in it; NULL = none.
static const tc__neighbours *tc__window_of(const tc__group *g, const tc__windows *q,
                                           const tc__node *n, int *row, int *column) {
    for (int i = 0; i < q->count; i++) {
        const tc__neighbours *w = &q->window[i];
        if (!tc__window_has(g, w, n, row, column)) continue;
        *row -= w->top, *column -= w->left;
        return w;
    }
    return NULL;
}

static int tc__window_is_in(const tc__group *g, const tc__windows *q, const tc__node *n) {
    int row, column;
    return tc__window_of(g, q, n, &row, &column) != NULL;
}

// Takes over the predicates of n, which is so far from the load that stands for window w.
static int tc__window_join(const tc__group *g, tc__neighbours *w, const tc__node *n,
                           int down, int right) {
    int64_t words[TC__WINDOW_WORDS];
    if (n->n_attr == TC__LOAD_PREDICATES) return 1;
    tc__node m = tc__window_moved(g, n, tc__ix_const(-down), tc__ix_const(-right), words);
    if (w->words > TC__LOAD_PREDICATES && w->word[TC__LOAD_FILL] != m.attr[TC__LOAD_FILL])
        return 0;
    w->word[TC__LOAD_FILL] = m.attr[TC__LOAD_FILL];
    for (uint32_t i = TC__LOAD_PREDICATES; i < m.n_attr; i += 2) {
        int has = 0;
        for (uint32_t k = TC__LOAD_PREDICATES; k < w->words; k += 2)
            has |= w->word[k] == m.attr[i] && w->word[k + 1] == m.attr[i + 1];
        if (has) continue;
        if (w->words + 2 > TC__WINDOW_WORDS) return 0;
        w->word[w->words++] = m.attr[i];
        w->word[w->words++] = m.attr[i + 1];
    }
    return 1;
}

static void tc__window_open(tc__windows *q, const tc__node *n) {
    if (q->count == TC__WINDOWS) return;
    tc__neighbours *w = &q->window[q->count++];
    memset(w, 0, sizeof *w);
    w->load = n->id, w->words = n->n_attr;
    memcpy(w->word, n->attr, n->n_attr * sizeof *n->attr);
}

// Puts load n into a window: of those that it is near, the first whose fill it has.
static void tc__window_note(const tc__group *g, tc__windows *q, const tc__node *n) {
    int down, right;
    for (int i = 0; i < q->count; i++) {
        tc__neighbours *w = &q->window[i];
        if (w->word[TC__LOAD_BUFFER] == n->attr[TC__LOAD_BUFFER] &&
            tc__window_apart(g, w->word[TC__LOAD_INDEX], n->attr[TC__LOAD_INDEX], &down,
                             &right) &&
            tc__window_join(g, w, n, down, right))
            return;
    }
    tc__window_open(q, n);
}

// The places of window w's loads: known when all predicates are.
static void tc__window_measure(const tc__group *g, tc__neighbours *w) {
    int down, right, bottom = INT_MIN, end = INT_MIN;
    w->top = w->left = INT_MAX, w->loads = 0;
    for (size_t i = 0; i < g->body.node.count; i++) {
        if (!tc__window_has(g, w, g->body.node.at[i], &down, &right)) continue;
        if (down < w->top) w->top = down;
        if (right < w->left) w->left = right;
        if (down > bottom) bottom = down;
        if (right > end) end = right;
        w->loads++;
    }
    w->rows = w->columns = 0;
    if (w->loads) w->rows = bottom - w->top + 1, w->columns = end - w->left + 1;
}

// Elements of a window for a thread with U rows of V columns.
static int tc__window_elements(const tc__neighbours *w, int rows, int width) {
    return (w->rows + rows - 1) * (w->columns + width - 1);
}

// Columns of window w that a thread has.
static int tc__window_across_of(const tc__windows *q, const tc__neighbours *w) {
    return w->columns + q->width - 1;
}

// Leaves those that save loads.
static void tc__window_choose(tc__windows *q, int rows) {
    int kept = 0;
    for (int i = 0; i < q->count; i++) {
        const tc__neighbours *w = &q->window[i];
        if (tc__window_elements(w, rows, q->width) < w->loads * rows * q->width)
            q->window[kept++] = *w;
    }
    q->count = kept;
}

static tc__ix tc__window_blocks(const tc__group *g, const tc__windows *q) {
    tc__ixpool *x = g->body.ix;
    tc__ix across = tc__ix_const((int64_t)q->across * q->width);
    tc__ix below = tc__ix_const((int64_t)(q->threads / q->across) * q->rows);
    return tc__ix_mul(x, tc__ix_ceil_div(x, g->shape.cols, across),
                      tc__ix_ceil_div(x, g->shape.rows, below));
}

// Threads side by side: as few as there are columns for, and more where rows are few.
static int tc__window_across(const tc__group *g, const tc__windows *q) {
    tc__ixpool *x = g->body.ix;
    int64_t columns = tc__ix_hi(x, g->shape.cols), rows = tc__ix_hi(x, g->shape.rows);
    int across = TC__WINDOW_ACROSS;
    while (across > 1 && across / 2 * (int64_t)q->width >= columns) across /= 2;
    while (across < q->threads && q->threads / across / 2 * (int64_t)q->rows >= rows)
        across *= 2;
    return across;
}

static int tc__window_fits(const tc__group *g, const tc__windows *q) {
    int elements = 0, taken = 1;
    for (int i = 0; i < q->count; i++) {
        elements += tc__window_elements(&q->window[i], q->rows, q->width);
        tc__node n = tc__window_node(g, &q->window[i]);
        taken &= tc__window_takes(g, &n, q->rows, q->width);
    }
    return taken && elements <= TC__WINDOW_HELD;
}

// Rows of a thread: the taller the windows, the more of them are shared.
static int tc__window_rows(const tc__windows *q) {
    int most = 1;
    for (int i = 0; i < q->count; i++)
        if (q->window[i].rows > most) most = q->window[i].rows;
    return most > 5 ? 8 : most > 1 ? 4 : 1;
}

// Fewer rows of a thread, else fewer columns. 0 = it has one element.
static int tc__window_shrink(tc__windows *q) {
    if (q->rows == 1 && q->width == 1) return 0;
    if (q->rows > 1)
        q->rows /= 2;
    else
        q->width /= 2;
    tc__window_choose(q, q->rows);
    return 1;
}

static int tc__window_has_blocks(const tc__group *g, tc__windows *q) {
    q->across = tc__window_across(g, q);
    tc__ix blocks = tc__window_blocks(g, q);
    return !tc__ix_is_const(blocks) ||
           tc__ix_value(blocks) >= TC__DEVICE_SMS * TC__WINDOW_BLOCKS;
}

// Whether a pointwise kernel has windows.
static int tc__windows_of(const tc__group *g, tc__windows *q) {
    memset(q, 0, sizeof *q);
    q->threads = TC__WINDOW_THREADS, q->width = tc__device_width(g, TC__COL);
    if (g->shape.list || tc__ix_divisor(g->body.ix, g->shape.cols) % q->width) return 0;
    for (uint32_t i = 0; i < g->body.node.count; i++)
        if (tc__window_may_have(g, g->body.node.at[i]))
            tc__window_note(g, q, g->body.node.at[i]);
    for (int i = 0; i < q->count; i++) tc__window_measure(g, &q->window[i]);
    q->rows = tc__window_rows(q);
    tc__window_choose(q, q->rows);
    while (q->count && !tc__window_fits(g, q))
        if (!tc__window_shrink(q)) return 0;
    while (q->count && q->rows > 1 && !tc__window_has_blocks(g, q)) tc__window_shrink(q);
    if (q->count) q->across = tc__window_across(g, q);
    return q->count;
}
