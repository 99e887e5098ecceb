// Long reductions of few rows in two steps, so that every thread has work: first each chunk of
// 8192 elements, then the results of the chunks.
//
// That is what one kernel does for a row, chunk after chunk (gen/README.md, reductions), so the
// bits are the same; and the first step has a row for every chunk, which is what threads share.
// The last chunk is filled up with what changes nothing: a lane of the tree that holds the
// identity is left as it is by combining. Only a source is: another value would be stored for
// the sake of it, which costs more than the threads gain (measured 3.2 -> 8.6 ms). argmax and
// argmin keep an index with the value and stay one kernel.
// Measured, 2 threads, 16M elements: sum 2.06 -> 0.74 ms, sum of exp 3.28 -> 1.61 ms.

enum {
    TC__SPLIT_CHUNK = 8192,
    TC__SPLIT_FROM = 8,    // chunks; below, a second kernel costs more than it gains
    TC__SPLIT_FILLED = 64, // chunks, where the last one must be filled up
    TC__SPLIT_TO = 8192,   // chunks; above, their results would be cut into chunks in turn
    TC__SPLIT_ROWS = 4     // from here on the rows are shared out
};

static double tc__split_infinity(void) {
    union {
        uint64_t bits;
        double value;
    } u;
    u.bits = UINT64_C(0x7ff0000000000000);
    return u.value;
}

// What a reduction adds without a change, as the fill of a pad of dtype.
static int64_t tc__split_identity(int op, int dtype) {
    static const int64_t least[TC_DTYPE_COUNT] = {0, 0, INT32_MIN, INT64_MIN, 0, 0};
    static const int64_t most[TC_DTYPE_COUNT] = {1, 255, INT32_MAX, INT64_MAX, 0, 0};
    tc__value v;
    v.i = op == TC_OP_AMAX                        ? least[dtype]
          : op == TC_OP_AMIN                      ? most[dtype]
          : (op == TC_OP_PROD || op == TC_OP_ALL) ? 1
                                                  : 0;
    if (dtype == TC_F32 || dtype == TC_F64)
        v.f = op == TC_OP_AMAX   ? -tc__split_infinity()
              : op == TC_OP_AMIN ? tc__split_infinity()
              : op == TC_OP_PROD ? 1.0
                                 : 0.0;
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
        int reduced = (int)(n->attr[0] >> d & 1);
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

// reduce(x[rows, columns]) -> reduce(reduce(x[rows, chunks, 8192]))
static tc__node *tc__rule_split(tc__graph *g, const tc__node *n) {
    int64_t rows, columns, last = 4, chunks_dim = 2;
    if (tc__ops[n->op].kind != TC__KIND_REDUCE || n->op == TC_OP_ARGMAX ||
        n->op == TC_OP_ARGMIN)
        return NULL;
    tc__node *a = g->node.at[n->in[0]];
    if (!tc__split_sizes(n, a, &rows, &columns)) return NULL;
    int64_t chunks = (columns + TC__SPLIT_CHUNK - 1) / TC__SPLIT_CHUNK;
    if (rows >= TC__SPLIT_ROWS || chunks < TC__SPLIT_FROM || chunks > TC__SPLIT_TO)
        return NULL;
    int filled = columns % TC__SPLIT_CHUNK != 0;
    if (filled && (chunks < TC__SPLIT_FILLED || tc__ops[a->op].kind != TC__KIND_SOURCE))
        return NULL;
    tc__ix dims[3];
    dims[0] = tc__ix_const(rows), dims[1] = tc__ix_const(columns);
    a = tc__make_reshape(g, a, 2, dims);
    a = tc__make_pad(g, a, 1, tc__ix_const(0),
                     tc__ix_const(chunks * TC__SPLIT_CHUNK - columns), tc__ix_const(1),
                     tc__split_identity(n->op, n->dtype));
    dims[1] = tc__ix_const(chunks), dims[2] = tc__ix_const(TC__SPLIT_CHUNK);
    a = a ? tc__make_reshape(g, a, 3, dims) : NULL;
    dims[2] = tc__ix_const(1);
    a = tc__make1_as(g, (tc__op)n->op, n->dtype, a, 3, dims, &last, 1);
    dims[1] = tc__ix_const(1);
    a = tc__make1_as(g, (tc__op)n->op, n->dtype, a, 3, dims, &chunks_dim, 1);
    return a ? tc__make_reshape(g, a, n->rank, n->dims) : NULL;
}
