// Large products of f32 on devices that may take them as tf32: tensor cores cut off what they do not use of an operand, and
// want it along k. Both operands are rounded and laid out so once, before the product, and the device brings tiles by itself
// (device/map.c). Input: a TENSOR graph. Output: the same, with
//
//     %x = laid rounded %a;  %y = laid rounded permute %b        [m, k] and [n, k]
//     matmul %x permute %y
//
// in place of matmul %a %b. What makes an operand is computed by the kernel that lays it out. Smaller products are rounded on
// their way to the tensor cores (cuda/held.cuh), which is slower, but has nothing before it. On an H200 4096 x 4096 x 4096 takes
// 426 us so, 555 the other way; 8192 x 8192 x 8192 3.2 ms and 4.5; 2048 x 2048 x 2048 80 and 78; cuBLAS, which cuts bits off,
// 351 for the first.

enum {
    TC__ROUNDED_SIDES = 640, // rows times columns by their sum that are worth it at least,
    TC__ROUNDED_LONG = 4,    //   where neither is longer by more,
    TC__ROUNDED_DEPTH = 512  //   and k
};

static int64_t tc__rounded_size(const tc__node *n, int back) {
    tc__ix d = n->rank >= back ? n->dims[n->rank - back] : 0;
    return n->rank >= back && tc__ix_is_const(d) ? tc__ix_value(d) : 0;
}

// Whether all of an operand are its own: what is expanded would be laid out once for each.
static int tc__rounded_takes(const tc__graph *g, const tc__node *a) {
    const tc__node *from = a;
    while (from->op == TC_OP_PERMUTE || from->op == TC_OP_RESHAPE)
        from = tc__operand(g, from, 0);
    return a->dtype == TC_F32 && from->op != TC_OP_EXPAND && from->op != TC_OP_LAID;
}

static int tc__wants_rounded(const tc__graph *g, const tc__node *n) {
    if (n->op != TC_OP_MATMUL || !g->known.tf32 || n->loop || !n->device ||
        n->dtype != TC_F32)
        return 0;
    const tc__node *a = tc__operand(g, n, 0), *b = tc__operand(g, n, 1);
    int64_t rows = tc__rounded_size(n, 2), cols = tc__rounded_size(n, 1),
            k = tc__rounded_size(a, 1);
    if (rows > TC__ROUNDED_LONG * cols || cols > TC__ROUNDED_LONG * rows) return 0;
    return k >= TC__ROUNDED_DEPTH && k % 4 == 0 && rows && cols &&
           (double)rows * (double)cols >=
               (double)TC__ROUNDED_SIDES * (double)(rows + cols) &&
           tc__rounded_takes(g, a) && tc__rounded_takes(g, b);
}

// b with its last two dimensions turned.
static tc__node *tc__rounded_turned(tc__graph *g, tc__node *b) {
    int64_t order[TC_MAX_RANK];
    if (!b) return NULL;
    for (int i = 0; i < b->rank; i++) order[i] = i;
    order[b->rank - 2] = b->rank - 1, order[b->rank - 1] = b->rank - 2;
    return tc__make_permute(g, b, order);
}

static tc__node *tc__rounded_laid(tc__graph *g, tc__node *a) {
    a = tc__channels_rounded(g, a);
    return a ? tc__make_alu(g, TC_OP_LAID, a->dtype, &a, 1) : NULL;
}

static tc__node *tc__rule_rounded(tc__graph *g, const tc__node *n) {
    uint32_t in[2];
    if (!tc__wants_rounded(g, n)) return NULL;
    tc__node *a = tc__rounded_laid(g, g->node.at[n->in[0]]);
    tc__node *b = tc__rounded_laid(g, tc__rounded_turned(g, g->node.at[n->in[1]]));
    b = tc__rounded_turned(g, b);
    if (!a || !b) return NULL;
    in[0] = a->id, in[1] = b->id;
    return tc__make(g, TC_OP_MATMUL, n->dtype, n->rank, n->dims, in, 2, n->attr, n->n_attr);
}

static int tc__pass_rounded(tc__rewrite *w) {
    return tc__rewrite_each(w, tc__rule_rounded);
}
