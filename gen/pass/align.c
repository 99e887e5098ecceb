// Products of halves on devices, whose operands are inputs with rows that are no multiple of an access: a row is laid out with
// what is missing to whole lines of memory, once, before the product, so that accesses have 16 bytes, and a device can bring tiles
// by itself (device/map.c). What kernels make for each other is aligned as it is stored (kernel/pitch.c). Input: a TENSOR graph.
// Output: the same, with
//
//     %y = laid pad %x;  %z = slice %y            [m, k] of rows of k + 63 & ~63
//     matmul %z ...
//
// On an H200, against cuBLAS and against the kernel that brings such operands element by element, times faster: 333 x 517 x 1029
// 1.4 and 7.8, 4095 x 4097 x 4093 3.9 and 12.6, 127 x 127 x 65 1.1 and 1.8; 12 of 127 x 127 x 65 0.7 and 1.5. With a depth of 64
// one step is all there is, and the kernels before it take as long.

enum {
    TC__ALIGN_ACCESS = 16, // bytes
    TC__ALIGN_LINE = 128,  // bytes of which rows are a multiple then
    TC__ALIGN_FEW = 4,   // rows or columns of a product that reads its other operand once,
    TC__ALIGN_DEPTH = 64 //   and depth up to which laying out takes longer
};

static int tc__align_is_long(tc__ix size, int64_t least) {
    return tc__ix_is_const(size) && tc__ix_value(size) > least;
}

// Whether n is its operand's elements, moved, whose rows are as long and as they were.
static int tc__align_is_movement(const tc__graph *g, const tc__node *n) {
    if (n->op == TC_OP_PERMUTE) return 1;
    if (n->op != TC_OP_EXPAND && n->op != TC_OP_RESHAPE) return 0;
    const tc__node *a = tc__operand(g, n, 0);
    return n->rank && a->rank && n->dims[n->rank - 1] == a->dims[a->rank - 1];
}

// Whether n is a part of an input, or what that is in another dtype.
static int tc__align_is_input(const tc__graph *g, const tc__node *n) {
    while (n->op == TC_OP_CAST || n->op == TC_OP_SLICE || tc__align_is_movement(g, n))
        n = tc__operand(g, n, 0);
    return n->op == TC_OP_INPUT;
}

// What an operand is by movement.
static tc__node *tc__align_source(const tc__graph *g, tc__node *n) {
    while (tc__align_is_movement(g, n)) n = g->node.at[n->in[0]];
    return n;
}

// Whether the operand's rows are to be laid out.
static int tc__align_wants(const tc__graph *g, tc__node *n) {
    int64_t each = TC__ALIGN_ACCESS / (int64_t)tc__dtypes[n->dtype].bytes;
    n = tc__align_source(g, n);
    if (n->rank < 2 || !tc__align_is_input(g, n)) return 0;
    for (int i = 0; i < n->rank; i++)
        if (!tc__ix_is_const(n->dims[i])) return 0;
    return tc__ix_value(n->dims[n->rank - 1]) % each != 0;
}

static int tc__wants_align(const tc__graph *g, const tc__node *n) {
    if (n->op != TC_OP_MATMUL || n->loop || (g->devices && !n->device)) return 0;
    tc__node *a = g->node.at[n->in[0]], *b = g->node.at[n->in[1]];
    if (!tc__is_half(a->dtype) || a->dtype != b->dtype) return 0;
    if (!tc__align_is_long(n->dims[n->rank - 2], TC__ALIGN_FEW) ||
        !tc__align_is_long(n->dims[n->rank - 1], TC__ALIGN_FEW) ||
        !tc__align_is_long(a->dims[a->rank - 1], TC__ALIGN_DEPTH))
        return 0;
    return tc__align_wants(g, a) || tc__align_wants(g, b);
}

// a, whose rows lie in whole lines.
static tc__node *tc__align_laid(tc__graph *g, tc__node *a) {
    int last = a->rank - 1;
    int64_t n = tc__ix_value(a->dims[last]),
            line = TC__ALIGN_LINE / (int64_t)tc__dtypes[a->dtype].bytes;
    tc__ix size = a->dims[last], rest = tc__ix_const((n + line - 1) / line * line - n);
    a = tc__make_pad(g, a, last, tc__ix_const(0), rest, tc__ix_const(1), 0);
    a = a ? tc__make_alu(g, TC_OP_LAID, a->dtype, &a, 1) : NULL;
    return tc__make_slice(g, a, last, tc__ix_const(0), size, tc__ix_const(1));
}

// Operand n again, of laid out rows: the movement that it is stands behind. A cast is done where its result is laid out.
static tc__node *tc__align_operand(tc__graph *g, tc__node *n) {
    tc__node *moved[TC_MAX_RANK];
    int depth = 0;
    if (!tc__align_wants(g, n)) return n;
    while (tc__align_is_movement(g, n)) {
        if (depth == TC_MAX_RANK) return NULL;
        moved[depth++] = n, n = g->node.at[n->in[0]];
    }
    n = tc__align_laid(g, n);
    while (n && depth) {
        const tc__node *m = moved[--depth];
        n = m->op == TC_OP_PERMUTE  ? tc__make_permute(g, n, m->attr)
            : m->op == TC_OP_EXPAND ? tc__make_expand(g, n, m->rank, m->dims)
                                    : tc__make_reshape(g, n, m->rank, m->dims);
    }
    return n;
}

static tc__node *tc__rule_align(tc__graph *g, const tc__node *n) {
    uint32_t in[2];
    if (!tc__wants_align(g, n)) return NULL;
    for (uint32_t i = 0; i < 2; i++) {
        tc__node *a = tc__align_operand(g, g->node.at[n->in[i]]);
        if (!a) return NULL;
        in[i] = a->id;
    }
    return tc__make(g, TC_OP_MATMUL, n->dtype, n->rank, n->dims, in, 2, n->attr, n->n_attr);
}

static int tc__pass_align(tc__rewrite *w) { return tc__rewrite_each(w, tc__rule_align); }
