// Convolutions of devices whose images have their channels last (pass/channels.c): what of an image a column and k read, for
// who brings tiles of it (device/map.c). And batches as columns: a product whose left operand is the same for all batches, and
// whose right one is windows of images, or columns that go on from batch to batch, has those of all batches side by side. So
// tiles do not end where an image does. Input: a LOOP list. Output: the same list; column c is c % cells of batch c / cells.

typedef struct tc__fold {
    tc__ixpool *x;
    tc__ix row, col;         // as they are,
    tc__ix row_was, col_was; //   and what they were, of these
} tc__fold;

static tc__ix tc__folded(const tc__fold *f, tc__ix e) {
    return tc__ix_subst(f->x, tc__ix_subst(f->x, e, f->col, f->col_was), f->row,
                        f->row_was);
}

// Whether node n's expressions have one column and one row variable, and stay the same for a row where n is.
static int tc__fold_suits(const tc__fold *f, const tc__node *n) {
    for (uint32_t i = 0; i < n->n_attr; i++) {
        if (!tc__attr_is_ix(n, i)) continue;
        tc__ix e = n->attr[i], r = tc__ix_find_var(f->x, e, TC__ROW),
               c = tc__ix_find_var(f->x, e, TC__COL);
        if ((r && r != f->row) || (c && c != f->col) || tc__ix_has_val(f->x, e)) return 0;
        if (n->level != TC__AT_ROW && n->level != TC__AT_LEFT) continue;
        if (n->op != TC_OP_FOR && tc__ix_uses(f->x, tc__folded(f, e), TC__COL)) return 0;
    }
    return n->op != TC_OP_FOR || n->n_attr == TC__FOR_BOXES;
}

// Whether columns of load n all lie equally far apart.
static int tc__fold_is_plain(tc__ixpool *x, const tc__node *n, tc__ix at) {
    tc__ixrun run = tc__ix_run(x, at, TC__COL);
    return n->n_attr == TC__LOAD_PREDICATES && run.ok && run.run == INT64_MAX;
}

// Whether columns of the right operand, one load, are no better off as they are.
static int tc__fold_pays(const tc__fold *f, const tc__group *k) {
    const tc__node *n = k->body.node.at[tc__right_of(k)];
    tc__ix at = n->attr[TC__LOAD_INDEX];
    return n->op == TC_OP_LOAD && tc__windowed_takes(n->dtype) &&
           (!tc__fold_is_plain(f->x, n, at) ||
            tc__fold_is_plain(f->x, n, tc__folded(f, at)));
}

static int tc__fold_of(const tc__group *k, tc__fold *f) {
    const tc__group_shape *s = &k->shape;
    tc__ixpool *x = k->body.ix;
    if (s->kind != TC__CONTRACTION || s->prologue || tc__count_op(k, TC_OP_CONTRACT) != 1)
        return 0;
    if (!tc__ix_is_const(s->batch) || !tc__ix_is_const(s->rows) ||
        !tc__ix_is_const(s->cols) || tc__ix_equals(s->batch, 1) ||
        k->body.node.at[tc__left_of(k)]->op != TC_OP_LOAD)
        return 0;
    tc__ix m = tc__ix_div(x, s->rows, s->batch);
    if (!tc__is_left_of_all(k, m)) return 0;
    f->x = x, f->row = tc__ix_var(x, TC__ROW, s->rows);
    f->col = tc__ix_var(x, TC__COL, s->cols);
    tc__ix r = tc__ix_var(x, TC__ROW, m),
           c = tc__ix_var(x, TC__COL, tc__ix_mul(x, s->cols, s->batch));
    f->col_was = tc__ix_mod(x, c, s->cols);
    f->row_was = tc__ix_add(x, r, tc__ix_mul(x, m, tc__ix_div(x, c, s->cols)));
    for (size_t i = 0; i < k->body.node.count; i++)
        if (!tc__fold_suits(f, k->body.node.at[i])) return 0;
    return tc__fold_pays(f, k);
}

static void tc__fold_batches(tc__group *k) {
    tc__fold f;
    tc__group_shape *s = &k->shape;
    if (!tc__fold_of(k, &f)) return;
    tc__ix rows = tc__ix_div(f.x, s->rows, s->batch),
           cols = tc__ix_mul(f.x, s->cols, s->batch);
    for (size_t i = 0; i < k->body.node.count; i++) {
        tc__node *n = k->body.node.at[i];
        for (uint32_t a = 0; a < n->n_attr; a++)
            if (tc__attr_is_ix(n, a)) n->attr[a] = tc__folded(&f, n->attr[a]);
        if (n->op != TC_OP_FOR) continue;
        if (n->attr[TC__FOR_AXIS] == TC__ROW) n->attr[TC__FOR_END] = rows;
        if (n->attr[TC__FOR_AXIS] == TC__COL) n->attr[TC__FOR_END] = cols;
    }
    s->rows = rows, s->cols = cols, s->batch = tc__ix_const(1);
}

// ---- windows of images whose channels are last ----

// Of product n, what its right operand [n, 1, k, cells] reads; 0 = no such windows.
static int tc__fold_windows_of(const tc__graph *g, const tc__node *n,
                               tc__group_windows *w) {
    int64_t high[2];
    memset(w, 0, sizeof *w);
    if (n->op != TC_OP_MATMUL) return 0;
    n = tc__operand(g, n, 1);
    if (n->op != TC_OP_RESHAPE || tc__operand(g, n, 0)->op != TC_OP_PERMUTE) return 0;
    n = tc__operand(g, tc__operand(g, n, 0), 0);
    for (int d = 0; d < 2; d++) w->size[d] = w->stride[d] = w->dilation[d] = 1;
    for (; n->op == TC_OP_WINDOW; n = tc__operand(g, n, 0)) {
        int64_t d = n->attr[TC__WINDOW_DIM] - 1;
        if (d < 0 || d > 1 || w->out[d] || !tc__ix_is_const(n->dims[d + 1]) ||
            !tc__windowed_words(n, (int)d, w->size, w->stride, w->dilation))
            return 0;
        w->out[d] = tc__ix_value(n->dims[d + 1]);
    }
    n = tc__windowed_border(g, n, 1, w->low, high);
    if (!n || n->op != TC_OP_LAID || n->rank != 4) return 0;
    for (int i = 0; i < 4; i++)
        if (!tc__ix_is_const(n->dims[i])) return 0;
    w->images = tc__ix_value(n->dims[0]), w->channels = tc__ix_value(n->dims[3]);
    for (int d = 0; d < 2; d++) {
        w->image[d] = tc__ix_value(n->dims[1 + d]);
        if (!w->out[d]) w->out[d] = w->image[d];
    }
    return 1;
}

// Place in the image along axis d, of column c and place k.
static tc__ix tc__fold_place(tc__ixpool *x, const tc__group_windows *w, int d, tc__ix c,
                             tc__ix k) {
    tc__ix channels = tc__ix_const(w->channels), wide = tc__ix_const(w->out[1]),
           row = tc__ix_const(w->size[1]);
    tc__ix tap = tc__ix_div(x, k, channels);
    tap = d ? tc__ix_mod(x, tap, row) : tc__ix_div(x, tap, row);
    c = d ? tc__ix_mod(x, c, wide)
          : tc__ix_mod(x, tc__ix_div(x, c, wide), tc__ix_const(w->out[0]));
    c = tc__ix_mul(x, c, tc__ix_const(w->stride[d]));
    tap = tc__ix_mul(x, tap, tc__ix_const(w->dilation[d]));
    return tc__ix_sub(x, tc__ix_add(x, c, tap), tc__ix_const(w->low[d]));
}

// Whether the right operand of k, whose columns are of all images, is one load of these windows.
static int tc__fold_reads_windows(const tc__group *k, const tc__group_windows *w) {
    tc__ixpool *x = k->body.ix;
    const tc__node *n = k->body.node.at[tc__right_of(k)];
    tc__ix at, c = tc__ix_var(x, TC__COL, k->shape.cols),
               d = tc__ix_var(x, TC__DEPTH, tc__depth_of(k)), place[2];
    if (w->turned) at = c, c = d, d = at;
    if (n->op != TC_OP_LOAD || !tc__is_memory(tc__buffer_of(k, n)) ||
        n->attr[TC__LOAD_FILL] || tc__buffer_of(k, n)->dtype != n->dtype)
        return 0;
    at = tc__ix_div(x, c, tc__ix_const(w->out[0] * w->out[1]));
    for (int i = 0; i < 2; i++) {
        place[i] = tc__fold_place(x, w, i, c, d);
        at = tc__ix_mad(x, place[i], at, w->image[i]);
    }
    at = tc__ix_mad(x, tc__ix_mod(x, d, tc__ix_const(w->channels)), at, w->channels);
    if (at != n->attr[TC__LOAD_INDEX] || tc__fold_is_plain(x, n, at)) return 0;
    for (uint32_t i = TC__LOAD_PREDICATES; i + 1 < n->n_attr; i += 2) {
        int axis = n->attr[i] == place[0] ? 0 : 1;
        if (n->attr[i] != place[axis] || !tc__ix_equals(n->attr[i + 1], w->image[axis]))
            return 0;
    }
    return 1;
}

// Sizes, where columns and k have all of them: places of all images, and taps of all channels.
static void tc__fold_windows(const tc__graph *g, tc__group *k) {
    tc__group_windows w;
    for (size_t i = 0; i < k->covers.count; i++) {
        if (k->shape.kind != TC__CONTRACTION || k->shape.prologue ||
            tc__count_op(k, TC_OP_CONTRACT) != 1)
            return;
        if (!tc__fold_windows_of(g, g->node.at[k->covers.at[i]], &w)) continue;
        int64_t places = w.images * w.out[0] * w.out[1],
                taps = w.size[0] * w.size[1] * w.channels;
        w.turned =
            tc__ix_equals(tc__depth_of(k), places) && tc__ix_equals(k->shape.cols, taps);
        int plain =
            tc__ix_equals(k->shape.cols, places) && tc__ix_equals(tc__depth_of(k), taps);
        if ((w.turned || plain) && tc__fold_reads_windows(k, &w)) k->shape.windows = w;
    }
}

// ---- operands that were rounded ----

// Whether operand n of a product is f32 that was laid out, which is rounded where products may be tf32 (pass/rounded.c).
static int tc__fold_is_laid(const tc__graph *g, const tc__node *n) {
    while (n->op == TC_OP_PERMUTE || n->op == TC_OP_RESHAPE) n = tc__operand(g, n, 0);
    return n->op == TC_OP_LAID && n->dtype == TC_F32;
}

static void tc__fold_rounded(const tc__graph *g, tc__group *k) {
    if (k->shape.kind != TC__CONTRACTION || !g->known.tf32 || k->shape.prologue ||
        tc__count_op(k, TC_OP_CONTRACT) != 1)
        return;
    for (size_t i = 0; i < k->covers.count; i++) {
        const tc__node *n = g->node.at[k->covers.at[i]];
        if (n->op == TC_OP_MATMUL && tc__fold_is_laid(g, tc__operand(g, n, 0)) &&
            tc__fold_is_laid(g, tc__operand(g, n, 1)))
            k->shape.rounded = 1;
    }
}

static void tc__schedule_fold(tc__schedule *s) {
    for (size_t i = 0; i < s->kernel.count; i++) {
        if (!s->kernel.at[i]->target.device) continue;
        tc__fold_batches(s->kernel.at[i]);
        tc__fold_windows(s->g, s->kernel.at[i]);
        tc__fold_rounded(s->g, s->kernel.at[i]);
    }
}
