// Long reductions of few rows in two steps, so that every thread has work: first each chunk of
// 8192 elements, then the results of the chunks.
//
// That is what one kernel does for a row, chunk after chunk (gen/README.md, reductions), so the
// bits are the same; and the first step has a row for every chunk, which is what threads share.
// The last chunk is filled up with what changes nothing: a lane of the tree that holds the
// identity is left as it is by combining. Only a source is: another value would be stored for
// the sake of it, which costs more than the threads gain (measured 3.2 -> 8.6 ms). argmax and
// argmin take the best chunk and then the place in it.
// Measured, 2 threads, 16M elements: sum 2.06 -> 0.74 ms, sum of exp 3.28 -> 1.61 ms.

enum {
    TC__SPLIT_CHUNK = 8192,
    TC__SPLIT_FROM = 8,    // chunks; below, a second kernel costs more than it gains
    TC__SPLIT_FILLED = 64, // chunks, where the last one must be filled up
    TC__SPLIT_TO = 8192,   // chunks; above, their results would be cut into chunks in turn
    TC__SPLIT_ROWS = 4     // from here on the rows are shared out
};

// What a reduction adds without a change, as the fill of a pad of dtype.
static int64_t tc__split_identity(int op, int dtype) {
    tc__value v = tc__identity(tc__ops[op].monoid, dtype);
    int64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

// Rows and columns of a reduction whose dimensions are known and whose reduced ones are the
// last. 0 = it is another.
static int tc__split_sizes(const tc__node *n, const tc__node *a, int64_t *rows,
                           int64_t *columns) {
    int inside = 0;
    *rows = *columns = 1;
    for (int d = 0; d < a->rank; d++) {
        int reduced = (int)(n->attr[TC__REDUCE_DIMS] >> d & 1);
        if (!tc__ix_is_const(a->dims[d])) return 0;
        int64_t size = tc__ix_value(a->dims[d]);
        if (size == 1) continue;
        if (inside && !reduced) return 0;
        inside |= reduced;
        if (size < 1 || size > INT64_MAX / 2 / (reduced ? *columns : *rows)) return 0;
        *(reduced ? columns : rows) *= size;
    }
    return inside;
}

// The op that gives the value which argmax or argmin gives the place of; others give one.
static int tc__split_best(int op) {
    if (op == TC_OP_ARGMAX) return TC_OP_AMAX;
    return op == TC_OP_ARGMIN ? TC_OP_AMIN : op;
}

// The chunks of a reduction that is to be split; 0 = it is not, or n is none.
static int64_t tc__split_count(const tc__graph *g, const tc__node *n, int64_t *rows,
                               int64_t *columns) {
    if (tc__ops[n->op].kind != TC__KIND_REDUCE) return 0;
    const tc__node *a = g->node.at[n->in[0]];
    if (!tc__split_sizes(n, a, rows, columns)) return 0;
    int64_t chunks = (*columns + TC__SPLIT_CHUNK - 1) / TC__SPLIT_CHUNK;
    if (*rows >= TC__SPLIT_ROWS || chunks < TC__SPLIT_FROM || chunks > TC__SPLIT_TO)
        return 0;
    int filled = *columns % TC__SPLIT_CHUNK != 0;
    if (filled && (chunks < TC__SPLIT_FILLED || tc__ops[a->op].kind != TC__KIND_SOURCE))
        return 0;
    return chunks;
}

// x as [rows, chunks, 8192], its end filled up; NULL = it is not to be split.
static tc__node *tc__split_chunks(tc__graph *g, const tc__node *n) {
    tc__ix dims[3];
    int64_t rows, columns, chunks = tc__split_count(g, n, &rows, &columns);
    if (!chunks) return NULL;
    tc__node *a = g->node.at[n->in[0]];
    int dtype = a->dtype;
    dims[0] = tc__ix_const(rows), dims[1] = tc__ix_const(columns);
    a = tc__make_reshape(g, a, 2, dims);
    a = tc__make_pad(g, a, 1, tc__ix_const(0),
                     tc__ix_const(chunks * TC__SPLIT_CHUNK - columns), tc__ix_const(1),
                     tc__split_identity(tc__split_best(n->op), dtype));
    dims[1] = tc__ix_const(chunks), dims[2] = tc__ix_const(TC__SPLIT_CHUNK);
    return a ? tc__make_reshape(g, a, 3, dims) : NULL;
}

// a reduced over dimension `dim` of its three.
static tc__node *tc__split_over(tc__graph *g, int op, int dtype, tc__node *a, int dim) {
    tc__ix dims[3];
    int64_t mask = (int64_t)1 << dim;
    if (!a) return NULL;
    memcpy(dims, a->dims, sizeof dims);
    dims[dim] = tc__ix_const(1);
    return tc__make1_as(g, (tc__op)op, dtype, a, 3, dims, &mask, 1);
}

// The first best element of the first best chunk: 8192 * chunk + (its place in it).
static tc__node *tc__split_arg(tc__graph *g, const tc__node *n, tc__node *a) {
    int64_t chunks_dim = 1;
    tc__value size;
    uint32_t ids[2];
    tc__node *in[2];
    tc__node *place = tc__split_over(g, n->op, n->dtype, a, 2);
    tc__node *top = tc__split_over(g, tc__split_best(n->op), a->dtype, a, 2);
    tc__node *chunk = tc__split_over(g, n->op, n->dtype, top, 1);
    if (!place || !chunk) return NULL;
    ids[0] = place->id, ids[1] = chunk->id;
    in[1] = tc__make(g, TC_OP_GATHER, n->dtype, 3, chunk->dims, ids, 2, &chunks_dim, 1);
    size.i = TC__SPLIT_CHUNK;
    in[0] = tc__make_expand(g, tc__make_const(g, n->dtype, size), 3, chunk->dims);
    if (!in[0] || !in[1]) return NULL;
    tc__node *scaled[2];
    scaled[0] = chunk, scaled[1] = in[0];
    in[0] = tc__make_alu(g, TC_OP_MUL, n->dtype, scaled, 2);
    return in[0] ? tc__make_alu(g, TC_OP_ADD, n->dtype, in, 2) : NULL;
}

// reduce(x[rows, columns]) -> reduce(reduce(x[rows, chunks, 8192]))
static tc__node *tc__rule_split(tc__graph *g, const tc__node *n) {
    tc__node *a = tc__split_chunks(g, n);
    if (!a) return NULL;
    if (tc__split_best(n->op) != n->op)
        a = tc__split_arg(g, n, a);
    else
        a = tc__split_over(g, n->op, n->dtype, tc__split_over(g, n->op, n->dtype, a, 2), 1);
    return a ? tc__make_reshape(g, a, n->rank, n->dims) : NULL;
}
