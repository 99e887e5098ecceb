// Parts: a LOOP list is one or several, one after the other over the same rows. So it may hold several
// contractions, each with columns and a k of its own. Attention is three parts:
//
//     %0 = load b0[64*r + k]                   left    operands stand before the loop of their contraction
//     %1 = load b1[65536*(r/1024) + 64*c + k]  right
//     for r in 0..12288  bind=worker                   scores
//       for c in 0..1024
//         %5 = contract %0 %1 depth=64
//         store b2[c] %5                               b2 and b3 are rows that are MADE for a later part
//     for r in 0..12288  bind=worker                   softmax: reductions over the columns of b2
//       ..
//         store b3[c] %19
//     %22 = load b3[k]                         left    the columns of the first are the k of the second
//     %23 = load b4[65536*(r/1024) + 64*k + c] right
//     for r in 0..12288  bind=worker
//       for c in 0..64
//         %26 = contract %22 %23 depth=1024
//         store b5[64*r + c] %26
//
// A part is what stands before a loop over rows, and that loop. It reads of earlier parts what they made of its
// own row, at its own column or k: nothing else leads from one to another. So who runs a list takes a block
// of rows at a time, part after part, and what is between them stays in the caches. Extents of columns are in
// FOR, those of k in CONTRACT; a group's shape is that of its last part, but for rows and batch, which all have. Of lists
// beside each other (beside.c) the earlier one ends with a part whose result no later one reads.
// join.c makes such lists of kernels, where a language wants them. Whether two are equal is asked of nodes, buffers
// and shape, as of every list.

enum { TC__LIST_PARTS = 5 };

// Where the part ends that begins at node `begin`: behind the END of its rows.
static uint32_t tc__part_end(const tc__group *k, uint32_t begin) {
    uint32_t id = begin;
    for (; id < k->body.node.count; id++) {
        const tc__node *n = k->body.node.at[id];
        if (n->op == TC_OP_END && n->attr[TC__END_AXIS] == TC__ROW) return id + 1;
    }
    return id;
}

// Whether part [begin, end) of k has a node of this op.
static const tc__node *tc__part_find(const tc__group *k, uint32_t begin, uint32_t end,
                                     tc__op op) {
    for (uint32_t id = begin; id < end; id++)
        if (k->body.node.at[id]->op == (uint16_t)op) return k->body.node.at[id];
    return NULL;
}

static const tc__node *tc__part_columns(const tc__group *k, uint32_t begin, uint32_t end) {
    for (uint32_t id = begin; id < end; id++) {
        const tc__node *n = k->body.node.at[id];
        if (n->op == TC_OP_FOR && n->attr[TC__FOR_AXIS] == TC__COL) return n;
    }
    return NULL;
}

// The part that begins at node `begin` as a group that ends with it: nodes before it are those of earlier parts.
// It borrows from k and is not freed.
static tc__group tc__part_at(const tc__group *k, uint32_t begin) {
    tc__group part = *k;
    uint32_t end = tc__part_end(k, begin);
    part.shape.prologue = begin;
    if (end == k->body.node.count) return part;
    const tc__node *columns = tc__part_columns(k, begin, end);
    part.body.node.count = end;
    part.shape.kind =
        tc__part_find(k, begin, end, TC_OP_CONTRACT) ? TC__CONTRACTION : TC__REDUCTION;
    if (columns) part.shape.cols = columns->attr[TC__FOR_END];
    return part;
}

// Whether it has several.
static int tc__has_parts(const tc__group *k) {
    for (size_t i = 0; i < k->buffer.count; i++)
        if (k->buffer.at[i].place == TC__BUF_MADE) return 1;
    return 0;
}

// Whether its items are blocks of rows of a batch.
static int tc__has_blocks(const tc__group *k) {
    return k->shape.kind == TC__CONTRACTION || tc__has_parts(k);
}

// All parts of k, in order, at most TC__LIST_PARTS; how many.
static int tc__parts_of_list(const tc__group *k, tc__group part[TC__LIST_PARTS]) {
    int n = 0;
    for (uint32_t at = 0; at < k->body.node.count && n < TC__LIST_PARTS; n++) {
        part[n] = tc__part_at(k, at);
        at = (uint32_t)part[n].body.node.count;
    }
    return n;
}

static int tc__count_contractions(const tc__group *k) {
    tc__group part[TC__LIST_PARTS];
    int n = tc__parts_of_list(k, part), all = 0;
    for (int i = 0; i < n; i++) all += part[i].shape.kind == TC__CONTRACTION;
    return all;
}
