// Variances of few long rows in one pass over memory, on devices: their results need not have the bits of
// the host's.
//
//   s = sum x, v = sum (x - s/n)^2      the second can begin when the first is done: x is read twice
//
// The row is cut into chunks that a block holds. For each chunk of k elements, read once:
//
//   p = sum x, q = sum (x - p/k)^2      then s = sum p, v = sum (q + k (p/k - s/n)^2)
//
// which is what Chan, Golub and LeVeque (1983) give; nothing cancels, so it is as accurate as two passes.
// What is subtracted may be any multiple of s: the identity holds for every number. (The host keeps two
// passes: there a region and what is computed eagerly have the same bits.)

enum {
    TC__MOMENTS_CHUNK = 8192, // at most,
    TC__MOMENTS_LEAST =
        1024, //   and at least: of a length without such a divisor nothing is made
    TC__MOMENTS_FROM =
        65536,           // columns: a shorter row is held by its block and read once anyway
    TC__MOMENTS_ROWS = 4 // from here on the rows are shared out
};

// sum (x - m)^2, and the sum m is made of, by their nodes.
typedef struct tc__moments {
    const tc__node *sum, *deviations, *x; // s, v, and what both are of
    int64_t rows, columns, chunk;
} tc__moments;

// What n moves, or scales by a constant.
static const tc__node *tc__moments_unscaled(const tc__graph *g, const tc__node *n) {
    tc__value v;
    for (;;) {
        int moves = n->op == TC_OP_EXPAND || n->op == TC_OP_RESHAPE;
        int scales = (n->op == TC_OP_DIV || n->op == TC_OP_MUL) &&
                     tc__splat_value(g, tc__operand(g, n, 1), &v);
        if (!moves && !scales) return n;
        n = tc__operand(g, n, 0);
    }
}

static const tc__node *tc__moments_squared(const tc__graph *g, const tc__node *n) {
    int square = n->op == TC_OP_SQUARE || (n->op == TC_OP_MUL && n->in[0] == n->in[1]);
    const tc__node *d = square ? tc__operand(g, n, 0) : n;
    return d->op == TC_OP_SUB ? d : NULL;
}

// The largest divisor of a row's columns that is a chunk; 0 = there is none.
static int64_t tc__moments_chunk(int64_t columns) {
    int64_t chunk = TC__MOMENTS_CHUNK;
    if (columns < TC__MOMENTS_FROM) return 0;
    while (chunk >= TC__MOMENTS_LEAST && (columns % chunk || chunk % 4)) chunk--;
    return chunk < TC__MOMENTS_LEAST ? 0 : chunk;
}

static int tc__moments_fit(const tc__node *n, tc__moments *m) {
    if (!tc__split_sizes(n, m->x, &m->rows, &m->columns)) return 0;
    if (m->rows >= TC__MOMENTS_ROWS) return 0;
    m->chunk = tc__moments_chunk(m->columns);
    return m->chunk != 0;
}

// Whether n is v.
static int tc__moments_of(const tc__graph *g, const tc__node *n, tc__moments *m) {
    if (n->op != TC_OP_SUM || !tc__is_float(n->dtype)) return 0;
    if (g->devices && !n->device) return 0; // the host's bits are to be as ever
    const tc__node *a = tc__operand(g, n, 0), *d = tc__moments_squared(g, a);
    if (a->dtype != n->dtype || !d) return 0;
    m->deviations = n, m->x = tc__operand(g, d, 0);
    m->sum = tc__moments_unscaled(g, tc__operand(g, d, 1));
    const tc__node *s = m->sum;
    return s->op == TC_OP_SUM && s->dtype == n->dtype && s->in[0] == m->x->id &&
           s->attr[TC__REDUCE_DIMS] == n->attr[TC__REDUCE_DIMS] && tc__moments_fit(n, m);
}

static int tc__wants_moments(const tc__graph *g, const tc__node *n) {
    tc__moments m;
    return tc__moments_of(g, n, &m);
}

// ---- what they become ----

// x as [rows, chunks, k]; NULL = memory ended, here and below.
static tc__node *tc__moments_chunks(tc__graph *g, const tc__moments *m, tc__node *x) {
    tc__ix dims[3];
    dims[0] = tc__ix_const(m->rows), dims[1] = tc__ix_const(m->columns / m->chunk);
    dims[2] = tc__ix_const(m->chunk);
    return tc__make_reshape(g, x, 3, dims);
}

// a op b, b in the sizes of a.
static tc__node *tc__moments_alu(tc__graph *g, tc__op op, tc__node *a, tc__node *b) {
    tc__node *in[2];
    if (!a || !b) return NULL;
    in[0] = a, in[1] = tc__make_expand(g, b, a->rank, a->dims);
    return in[1] ? tc__make_alu(g, op, a->dtype, in, 2) : NULL;
}

static tc__node *tc__moments_scaled(tc__graph *g, tc__op op, tc__node *a, int64_t by) {
    tc__value v;
    v.f = (double)by;
    return a ? tc__moments_alu(g, op, a, tc__make_const(g, a->dtype, v)) : NULL;
}

static tc__node *tc__moments_square(tc__graph *g, tc__node *a) {
    return a ? tc__make_alu(g, TC_OP_SQUARE, a->dtype, &a, 1) : NULL;
}

static tc__node *tc__moments_total(tc__graph *g, tc__node *a, int dim) {
    return a ? tc__split_over(g, TC_OP_SUM, a->dtype, a, dim) : NULL;
}

// s of the chunks' sums.
static tc__node *tc__moments_sum(tc__graph *g, const tc__moments *m, const tc__node *n,
                                 tc__node *x) {
    tc__node *p = tc__moments_total(g, tc__moments_chunks(g, m, x), 2);
    p = tc__moments_total(g, p, 1);
    return p ? tc__make_reshape(g, p, n->rank, n->dims) : NULL;
}

// v; `shift` is what is subtracted from x, in whatever sizes it was expanded to.
static tc__node *tc__moments_deviations(tc__graph *g, const tc__moments *m,
                                        const tc__node *n, tc__node *x, tc__node *shift) {
    tc__ix dims[3];
    while (shift->op == TC_OP_EXPAND || shift->op == TC_OP_RESHAPE)
        shift = tc__operand(g, shift, 0);
    dims[0] = tc__ix_const(m->rows), dims[1] = dims[2] = tc__ix_const(1);
    shift = tc__make_reshape(g, shift, 3, dims);
    x = tc__moments_chunks(g, m, x);
    tc__node *mean = tc__moments_scaled(g, TC_OP_DIV, tc__moments_total(g, x, 2), m->chunk);
    tc__node *q = tc__moments_square(g, tc__moments_alu(g, TC_OP_SUB, x, mean));
    q = tc__moments_total(g, q, 2);
    tc__node *off = tc__moments_square(g, tc__moments_alu(g, TC_OP_SUB, mean, shift));
    off = tc__moments_scaled(g, TC_OP_MUL, off, m->chunk);
    q = tc__moments_total(g, tc__moments_alu(g, TC_OP_ADD, q, off), 1);
    return q ? tc__make_reshape(g, q, n->rank, n->dims) : NULL;
}

// Node i of the new graph; sums[i] = it is s of the v at sums[i] - 1.
static int tc__moments_copy(tc__rewrite *w, uint32_t i, const uint32_t *sums) {
    const tc__graph *from = w->from;
    const tc__node *old = from->node.at[i];
    uint32_t in[TC__MAX_OPERANDS];
    tc__node n = tc__rewrite_proto(w, old, in), *made = NULL;
    tc__moments m;
    if (tc__moments_of(from, old, &m)) {
        const tc__node *d = tc__moments_squared(w->to, tc__operand(w->to, &n, 0));
        made = d ? tc__moments_deviations(w->to, &m, &n, tc__operand(w->to, d, 0),
                                          tc__operand(w->to, d, 1))
                 : NULL;
    } else if (sums[i] && tc__moments_of(from, from->node.at[sums[i] - 1], &m)) {
        made = tc__moments_sum(w->to, &m, &n, tc__operand(w->to, &n, 0));
    } else {
        made = tc__node_cons(w->to, &n);
    }
    if (made) w->at[i] = w->output[i] = made->id;
    return made != NULL;
}

static int tc__pass_moments(tc__rewrite *w) {
    size_t n = w->from->node.count;
    uint32_t *sums = TC__NEW_ARRAY(w->ctx, uint32_t, n ? n : 1);
    int ok = sums != NULL;
    for (uint32_t i = 0; ok && i < n; i++) {
        tc__moments m;
        if (w->live[i] && tc__moments_of(w->from, w->from->node.at[i], &m))
            sums[m.sum->id] = i + 1;
    }
    for (uint32_t i = 0; ok && i < n; i++)
        if (w->live[i]) ok = tc__moments_copy(w, i, sums);
    tc__free(w->ctx, sums, (n ? n : 1) * sizeof *sums);
    return ok;
}
