// Rows that products read are aligned: a tensor core's operand comes in accesses of 16 bytes, which a row of 50,257
// halves does not allow, as half of such rows begin at odd addresses. What kernels of one device store for each other,
// in memory that nobody else sees, may lie otherwise: each row is followed by what is missing to whole sectors, which
// nobody reads as a value.
//
// Input: kernels of LOOP lists. Output: indices of their loads and stores, f = row * columns + column, become
// row * pitch + column, and buffers have so many elements more. Without it the training step of GPT-2 124M (bf16, one H200)
// took 84 ms with its vocabulary of 50,257 and 66 ms with one of 50,304.
//
// Long rows of an odd number of columns that reductions read are so, too, whether or not a product does: softmax of logits
// takes vectors and a tail then (device/form.c), no single elements.

enum {
    TC__PITCH_BYTES = 64,
    TC__PITCH_LEAST = 64,   // columns that rows have at least,
    TC__PITCH_WALKED = 4096 //   and where nothing but reductions of rows gains by it
};

// Of node n in memory: columns of a row, and elements between rows; 0 = they stay as they are.
static int64_t tc__pitch_of(const tc__node *n, int64_t *columns) {
    int64_t bytes = tc__dtypes[n->dtype].bytes, each = TC__PITCH_BYTES / bytes;
    tc__ix last = n->rank > 1 ? n->dims[n->rank - 1] : 0;
    if (n->rank < 2 || !tc__ix_is_const(last) || !tc__is_float(n->dtype)) return 0;
    *columns = tc__ix_value(last);
    if (*columns < TC__PITCH_LEAST || *columns * bytes % 16 == 0) return 0;
    return (*columns + each - 1) / each * each;
}

static tc__ix tc__pitched(tc__ixpool *x, tc__ix e, int64_t columns, int64_t pitch) {
    tc__ix c = tc__ix_const(columns), row = tc__ix_div(x, e, c);
    return tc__ix_add(x, tc__ix_mul(x, row, tc__ix_const(pitch)), tc__ix_mod(x, e, c));
}

static int tc__has_buffer(const tc__group *k, uint32_t node) {
    for (size_t i = 0; i < k->buffer.count; i++)
        if (k->buffer.at[i].place == TC__BUF_NODE && k->buffer.at[i].source == node)
            return 1;
    return 0;
}

static int tc__is_access_of(const tc__group *k, const tc__node *n, uint32_t node) {
    if (n->op != TC_OP_LOAD && n->op != TC_OP_STORE) return 0;
    const tc__kbuf *b = tc__buffer_of(k, n);
    return b->place == TC__BUF_NODE && b->source == node;
}

// Whether kernel k reaches the rows of node as well where they are `pitch` apart: along each axis its elements lie as
// they did.
static int tc__pitch_suits(const tc__group *k, uint32_t node, int64_t columns,
                           int64_t pitch) {
    static const tc__axis axes[] = {TC__ROW, TC__COL, TC__DEPTH};
    for (size_t i = 0; i < k->body.node.count; i++) {
        const tc__node *n = k->body.node.at[i];
        if (!tc__is_access_of(k, n, node)) continue;
        tc__ix was = n->attr[TC__ACCESS_INDEX];
        tc__ix is = tc__pitched(k->body.ix, was, columns, pitch);
        for (size_t a = 0; a < sizeof axes / sizeof *axes; a++) {
            tc__access before = tc__access_along(k, was, axes[a], 1);
            if (before != TC__PER_LANE && before != tc__access_along(k, is, axes[a], 1))
                return 0;
            if (tc__ix_run(k->body.ix, was, axes[a]).run == INT64_MAX &&
                tc__ix_run(k->body.ix, is, axes[a]).run != INT64_MAX)
                return 0;
        }
    }
    return 1;
}

// Whether kernel k reads it as a product's operand.
static int tc__multiplies(const tc__group *k, uint32_t node) {
    for (size_t i = 0; k->shape.kind == TC__CONTRACTION && i < k->body.node.count; i++) {
        const tc__node *n = k->body.node.at[i];
        if (n->op == TC_OP_LOAD && tc__is_access_of(k, n, node) &&
            (n->level == TC__AT_LEFT || n->level == TC__AT_RIGHT))
            return 1;
    }
    return 0;
}

// Whether kernel k sums along rows that it reads there, so long and of an odd number of columns: device/form.c.
static int tc__walks(const tc__group *k, uint32_t node, int64_t columns) {
    if (k->shape.kind != TC__REDUCTION || k->shape.vector != TC__COL) return 0;
    if (columns < TC__PITCH_WALKED || columns % 2 == 0) return 0;
    if (!tc__ix_equals(k->shape.cols, columns)) return 0;
    for (size_t i = 0; i < k->body.node.count; i++) {
        const tc__node *n = k->body.node.at[i];
        if (n->op == TC_OP_LOAD && n->level == TC__AT_COL && tc__is_access_of(k, n, node))
            return 1;
    }
    return 0;
}

// Whether all kernels that have the node's memory are lists of one device, no loop is around them, some product reads
// it, or long rows of it are summed, and rows apart suit all.
static int tc__may_pitch(const tc__schedule *s, uint32_t node, int64_t columns,
                         int64_t pitch) {
    int device = 0, wanted = 0;
    for (size_t i = 0; i < s->kernel.count; i++) {
        const tc__group *k = s->kernel.at[i];
        if (!tc__has_buffer(k, node)) continue;
        if (!k->target.device || (device && device != k->target.device)) return 0;
        if (k->shape.kind == TC__OPAQUE || k->target.loop) return 0;
        if (!tc__pitch_suits(k, node, columns, pitch)) return 0;
        device = k->target.device;
        wanted |= tc__multiplies(k, node) || tc__walks(k, node, columns);
    }
    return wanted;
}

static void tc__pitch_node(tc__schedule *s, uint32_t node, int64_t columns, int64_t pitch) {
    for (size_t i = 0; i < s->kernel.count; i++) {
        tc__group *k = s->kernel.at[i];
        tc__ixpool *x = k->body.ix;
        for (size_t j = 0; j < k->body.node.count; j++) {
            tc__node *n = k->body.node.at[j];
            if (tc__is_access_of(k, n, node))
                n->attr[TC__ACCESS_INDEX] =
                    tc__pitched(x, n->attr[TC__ACCESS_INDEX], columns, pitch);
        }
        for (size_t j = 0; j < k->buffer.count; j++) {
            tc__kbuf *b = &k->buffer.at[j];
            if (b->place != TC__BUF_NODE || b->source != node) continue;
            tc__ix rows = tc__ix_div(x, b->numel, tc__ix_const(columns));
            b->numel = tc__ix_mul(x, rows, tc__ix_const(pitch)), b->pitch = pitch;
        }
    }
}

// Rows that were laid out (pass/align.c) have room behind their last element, too.
static void tc__pitch_laid(tc__schedule *s, const tc__node *n) {
    tc__ix last = n->rank > 1 ? n->dims[n->rank - 1] : 0;
    if (!tc__ix_is_const(last)) return;
    for (size_t i = 0; i < s->kernel.count; i++) {
        tc__group *k = s->kernel.at[i];
        for (size_t j = 0; j < k->buffer.count; j++) {
            tc__kbuf *b = &k->buffer.at[j];
            if (b->place == TC__BUF_NODE && b->source == n->id)
                b->pitch = tc__ix_value(last);
        }
    }
}

static void tc__schedule_pitch(tc__schedule *s) {
    for (size_t i = 0; i < s->root.count; i++) {
        const tc__node *n = s->g->node.at[s->root.at[i].node];
        int64_t columns, pitch = s->output[n->id] ? 0 : tc__pitch_of(n, &columns);
        if (pitch && tc__may_pitch(s, n->id, columns, pitch))
            tc__pitch_node(s, n->id, columns, pitch);
        if (n->op == TC_OP_LAID) tc__pitch_laid(s, n);
    }
}
