// Sums down the columns of what a product reads as its left operand, in the product, where a device takes that: the gradient of
// a bias beside that of the weight. Input: two kernels of a schedule. Output: the product's list, with those sums of its rows.
//
//     %0 = load b0[3072*k + r]            left      as both read it
//     %1 = load b1[768*k + c]             right
//     for r in 0..3072  bind=worker
//       for c in 0..768
//         %4 = contract %0 %1 depth=8192
//         store b2[768*r + c] %4
//       end
//       %7 = left_sum %0 depth=8192       the other kernel's sums, by row here,
//       store b3[r] %7                    and what it does with them
//     end

typedef struct tc__down_total {
    const tc__group *product, *sums;
    const tc__node *left; // of the product
    tc__join j;
} tc__down_total;

// e of the sums, whose columns are the product's k.
static tc__ix tc__total_ix(const tc__down_total *d, tc__ix e) {
    tc__ixpool *x = d->product->body.ix;
    tc__ix c = tc__ix_find_var(x, e, TC__COL);
    return c ? tc__ix_subst(x, e, c, tc__ix_var(x, TC__DEPTH, d->sums->shape.cols)) : e;
}

// Whether n of the sums is the product's left operand.
static int tc__total_is_left(const tc__down_total *d, const tc__node *n) {
    const tc__kbuf *mine = tc__buffer_of(d->product, d->left),
                   *b = tc__buffer_of(d->sums, n);
    return n->n_attr == TC__LOAD_PREDICATES && n->dtype == d->left->dtype &&
           b->place == mine->place && b->source == mine->source &&
           tc__total_ix(d, n->attr[TC__LOAD_INDEX]) == d->left->attr[TC__LOAD_INDEX];
}

// Whether the sums are those of the left operand, and nothing else is in their loop.
static int tc__total_sums(const tc__down_total *d) {
    const tc__group *k = d->sums;
    if (!tc__down_sums(k) || tc__count_op(k, TC_OP_NEW) != 1) return 0;
    for (size_t i = 0; i < k->body.node.count; i++) {
        const tc__node *n = k->body.node.at[i];
        if (n->op == TC_OP_LOAD && n->level == TC__AT_COL && !tc__total_is_left(d, n))
            return 0;
        if (n->op == TC_OP_ACC && (n->attr[TC__ACC_MONOID] != TC_OP_ADD || n->n_attr > 2))
            return 0;
        if (n->level != TC__AT_COL || n->op == TC_OP_LOAD || n->op == TC_OP_FOR ||
            n->op == TC_OP_END || n->op == TC_OP_ACC)
            continue;
        if (n->op != TC_OP_CAST || n->dtype != TC_F32) return 0;
    }
    return 1;
}

static int tc__total_fits(tc__down_total *d) {
    const tc__group *p = d->product, *k = d->sums;
    if (p->shape.kind != TC__CONTRACTION || p->shape.prologue || !p->body.node.count)
        return 0;
    if (!tc__ix_equals(p->shape.batch, 1) || tc__count_op(p, TC_OP_LEFT_SUM)) return 0;
    if (p->target.device != k->target.device || p->target.loop != k->target.loop) return 0;
    if (p->shape.rows != k->shape.rows || tc__depth_of(p) != k->shape.cols) return 0;
    d->left = p->body.node.at[tc__left_of(p)];
    return d->left->op == TC_OP_LOAD && d->left->n_attr == TC__LOAD_PREDICATES &&
           tc__is_half(d->left->dtype) && tc__total_sums(d);
}

// ---- the list of both ----

// What the sums are, at the end of a row.
static void tc__total_put(tc__down_total *d, uint32_t left, const tc__node *combine) {
    tc__node n = *combine;
    int64_t depth = d->sums->shape.cols;
    n.op = TC_OP_LEFT_SUM, n.n_in = 1, n.in = &left, n.n_attr = 1, n.attr = &depth;
    tc__join_node(&d->j, &n, combine->id);
}

// What the sums' kernel does by row, in which the steps of its loop are the sum alone.
static void tc__total_rows(tc__down_total *d, uint32_t left) {
    for (uint32_t id = 0; id < d->sums->body.node.count; id++) {
        const tc__node *n = d->sums->body.node.at[id];
        if (n->op == TC_OP_COMBINE)
            tc__total_put(d, left, n);
        else if (n->level == TC__AT_ROW && !tc__opens(n) && n->op != TC_OP_END &&
                 n->op != TC_OP_NEW && n->op != TC_OP_ACC)
            tc__join_append_node(&d->j, d->sums, id);
    }
}

static void tc__total_of_buffers(tc__down_total *d, const tc__group *k, int64_t *buffer) {
    d->j.buffer = buffer;
    for (size_t i = 0; i < k->buffer.count; i++)
        buffer[i] = tc__join_add_buffer(&d->j, &k->buffer.at[i]);
}

// The product's list, with what the sums have before its last END.
static void tc__total_all(tc__down_total *d, uint32_t *at, int64_t *buffer) {
    const tc__group *p = d->product, *k = d->sums;
    uint32_t last = (uint32_t)p->body.node.count - 1;
    d->j.at = at;
    tc__total_of_buffers(d, p, buffer);
    for (uint32_t id = 0; id < last; id++) tc__join_append_node(&d->j, p, id);
    d->j.at = at + last + 1;
    tc__total_of_buffers(d, k, buffer + p->buffer.count);
    tc__total_rows(d, at[d->left->id]);
    d->j.at = at, d->j.buffer = buffer;
    tc__join_append_node(&d->j, p, last);
    tc__join_covers(&d->j, p), tc__join_covers(&d->j, k);
}

// Both as one; NULL = out of memory, reported.
static tc__group *tc__total_make(tc_ctx *c, tc__down_total *d) {
    size_t nodes = d->product->body.node.count + d->sums->body.node.count,
           buffers = d->product->buffer.count + d->sums->buffer.count;
    uint32_t *at = TC__NEW_ARRAY(c, uint32_t, nodes);
    int64_t *buffer = TC__NEW_ARRAY(c, int64_t, buffers);
    tc__group *k = tc__group_empty(c, d->product);
    d->j.ctx = c, d->j.to = k;
    int ok = at && buffer && k;
    if (ok) tc__total_all(d, at, buffer);
    ok = ok && !d->j.failed && tc__checked(c, &k->body, TC__LOOP);
    TC__FREE_ARRAY(c, at, nodes);
    TC__FREE_ARRAY(c, buffer, buffers);
    if (!ok) tc__group_free(c, k);
    return ok ? k : NULL;
}

// ---- the schedule ----

// The kernel of sums at `sums` in the product at `product`, where the later of them stands, or the earlier; *made tells. 0 =
// reported.
static int tc__total_two(tc__schedule *s, const tc__dialect *l, size_t product, size_t sums,
                         int *made) {
    tc__down_total d;
    tc__down_place place;
    memset(&d, 0, sizeof d);
    d.product = s->kernel.at[product], d.sums = s->kernel.at[sums], *made = 0;
    if (!tc__total_fits(&d) || !tc__down_has_place(s, product, sums, &place)) return 1;
    tc__group *k = tc__total_make(s->ctx, &d);
    if (!k) return 0;
    *made = l->takes_down(k);
    tc__log(s->ctx, TC__LOG_FUSION,
            *made
                ? "%%%u is summed in the product %%%u, which reads the same"
                : "%%%u is not summed in the product %%%u, which reads the same: that has "
                  "no threads for it",
            (unsigned)d.sums->covers.at[0], (unsigned)d.product->covers.at[0]);
    tc__down_put(s, &place, k, *made);
    return 1;
}

// Each kernel of sums with the nearest product behind or before it. 0 = reported.
static int tc__total_join(tc__schedule *s, const tc__dialect *l, int device) {
    int ok = 1, made;
    for (size_t at = 0; ok && at < s->kernel.count; at++) {
        tc__group *k = s->kernel.at[at];
        made = !k || k->target.device != device || !tc__down_sums(k);
        for (size_t far = 1; ok && far < s->kernel.count && !made; far++) {
            size_t product[] = {at + far, at - far};
            for (int i = 0; ok && i < 2 && !made; i++)
                if (product[i] < s->kernel.count && s->kernel.at[product[i]])
                    ok = tc__total_two(s, l, product[i], at, &made);
        }
    }
    return ok;
}

// ---- all that joins kernels ----

// Joins what the language of a device takes, of the kernels there. 0 = reported.
static int tc__schedule_join_on(tc__schedule *s, const tc__dialect *d, int device) {
    size_t kept = 0;
    if (s->apart || !tc__join_rows(s, d, device)) return s->apart;
    if (d->takes_beside && !tc__beside_join(s, d, device)) return 0;
    if (d->lower && !tc__assemble(s, device)) return 0;
    if (d->takes_down && !tc__down_join(s, d, device)) return 0;
    if (d->takes_down && d->lower && !tc__total_join(s, d, device)) return 0;
    for (size_t i = 0; i < s->kernel.count; i++)
        if (s->kernel.at[i]) s->kernel.at[kept++] = s->kernel.at[i];
    s->kernel.count = kept;
    return !device || (tc__ahead_move(s, device) && tc__behind_move(s, device));
}

// The same of a graph that is on no device.
TC__UNUSED static int tc__schedule_join(tc__schedule *s, const tc__dialect *d) {
    return tc__schedule_join_on(s, d, 0);
}
