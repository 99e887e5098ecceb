// What products read on the host is laid out for them (kernel/contract.c). Input: a TENSOR graph. Output: the same where
//
//     %m = matmul %weight %windows          [1, 1, o, k] times windows of pad %image
//
// has windows of %i = laid pad %image, so that no border cuts them, and where the weight is a constant (tc_const), o whole panels,
// it reads by movement
//
//     %p = laid permute reshape %weight     [o / panel, k, panel], the rows' panels, which runs once (exec/still.c)
//
// So does %m = matmul %x %weight of a constant [k, n], n whole panels, of which it has columns.

enum {
    TC__LAID_RESULTS = 16,     // rows of products over windows at least
    TC__LAID_PLACES = 32,      //   and columns
    TC__LAID_DEEP = 16,        // k of products by constants at least,
    TC__LAID_ROWS = 33,        //   rows,
    TC__LAID_ROWS_TURNED = 16, // of weights [n, k],
    TC__LAID_NEAR =
        1 << 20, //   which stay in a cache: 16 rows of 4096 x 4096 lose a third,
    TC__LAID_ROWS_MOST = 512, //   and at most
    TC__LAID_COPY = 2 // elements that are copied in whole rows while one of a window is
};

static const int64_t tc__laid_turn[] = {0, 2, 1};

// Whether n is by movement an input that stays.
static int tc__is_constant(const tc__graph *g, const tc__node *n) {
    while (n->op == TC_OP_RESHAPE || n->op == TC_OP_PERMUTE || n->op == TC_OP_SLICE)
        n = tc__operand(g, n, 0);
    return n->op == TC_OP_INPUT && n->attr[TC__INPUT_EXTERNAL] >= 0 &&
           n->attr[TC__INPUT_EXTERNAL] < (int64_t)g->known.externals &&
           g->known.constant[n->attr[TC__INPUT_EXTERNAL]];
}

static int tc__laid_weight(const tc__graph *g, const tc__windowed *w) {
    int64_t panel = g->known.panel;
    return panel && w->results % panel == 0 && tc__is_constant(g, w->weight);
}

// Places along axis d whose windows lie inside of the image.
static int64_t tc__laid_inside(const tc__windowed *w, int d) {
    int64_t room = tc__ix_value(w->image->dims[2 + d]) - 1 + w->low[d] -
                   (w->size[d] - 1) * w->dilation[d],
            first = (w->low[d] + w->stride[d] - 1) / w->stride[d],
            end = room < 0 ? 0 : room / w->stride[d] + 1, most = tc__ix_value(w->out[d]);
    if (end > most) end = most;
    return end > first ? end - first : 0;
}

// Whether the image with its border takes less time than the windows that it cuts, which would be copied element by element.
static int tc__laid_image(const tc__windowed *w) {
    int64_t taps = w->size[0] * w->size[1], elements = 1,
            cut = tc__windowed_places(w) - tc__laid_inside(w, 0) * tc__laid_inside(w, 1);
    for (int d = 0; d < 2; d++)
        elements *= tc__ix_value(w->image->dims[2 + d]) + w->low[d] + w->high[d];
    return cut * taps > elements / TC__LAID_COPY;
}

static int tc__laid_form(const tc__graph *g, const tc__node *n, tc__windowed *w) {
    if (n->op != TC_OP_MATMUL || n->device || n->dtype != TC_F32 ||
        !tc__windowed_form(g, n, w) || w->weight->dtype != TC_F32 || w->groups != 1 ||
        !tc__windowed_is_known(w))
        return 0;
    return w->results >= TC__LAID_RESULTS && tc__windowed_places(w) >= TC__LAID_PLACES &&
           (tc__laid_weight(g, w) || tc__laid_image(w));
}

// Whether a product of m rows takes less time with b in panels: few rows stream it, or turn it in registers, as it is; of
// many packing it is little; and AMX's tiles have words of their own.
static int tc__laid_pays(const tc__graph *g, const tc__node *b, tc__ix m) {
    int64_t all = tc__ix_times(tc__ix_value(b->dims[b->rank - 2]),
                               tc__ix_value(b->dims[b->rank - 1]));
    int turned = b->op == TC_OP_PERMUTE && all <= TC__LAID_NEAR;
    int64_t least = turned ? TC__LAID_ROWS_TURNED : TC__LAID_ROWS,
            most = g->known.tiles ? g->known.tiles - 1 : TC__LAID_ROWS_MOST;
    return tc__ix_is_const(m) && tc__ix_value(m) >= least && tc__ix_value(m) <= most;
}

// The constant [.., k, n] that a product's right operand is, for all batches, n whole panels; NULL = it is none.
static const tc__node *tc__laid_right(const tc__graph *g, const tc__node *n) {
    if (n->op != TC_OP_MATMUL || n->device || n->dtype != TC_F32 || n->loop) return NULL;
    const tc__node *b = tc__operand(g, n, 1);
    int64_t panel = g->known.panel;
    while (b->op == TC_OP_EXPAND) b = tc__operand(g, b, 0);
    int rank = b->rank;
    if (!panel || b->dtype != TC_F32 || rank < 2 || !tc__is_constant(g, b)) return NULL;
    for (int i = 0; i < rank; i++)
        if (!tc__ix_is_const(b->dims[i]) || (i < rank - 2 && !tc__ix_equals(b->dims[i], 1)))
            return NULL;
    int64_t k = tc__ix_value(b->dims[rank - 2]), columns = tc__ix_value(b->dims[rank - 1]);
    return k >= TC__LAID_DEEP && columns && columns % panel == 0 &&
                   tc__laid_pays(g, b, n->dims[n->rank - 2])
               ? b
               : NULL;
}

static int tc__wants_laid(const tc__graph *g, const tc__node *n) {
    tc__windowed w;
    return tc__laid_form(g, n, &w) || tc__laid_right(g, n);
}

static tc__node *tc__laid(tc__graph *g, tc__node *a) {
    return a ? tc__make_alu(g, TC_OP_LAID, a->dtype, &a, 1) : NULL;
}

// [1, 1, o, k] of the panels.
static tc__node *tc__laid_panels(tc__graph *g, const tc__windowed *w) {
    const tc__node *of = w->weight;
    int64_t panel = g->known.panel;
    tc__ix dims[] = {tc__ix_const(w->results / panel), tc__ix_const(panel), of->dims[3]};
    tc__node *a = tc__make_reshape(g, g->node.at[of->id], 3, dims);
    a = tc__laid(g, tc__windowed_permute(g, a, tc__laid_turn));
    a = tc__windowed_permute(g, a, tc__laid_turn);
    return a ? tc__make_reshape(g, a, 4, of->dims) : NULL;
}

// The image with its border.
static tc__node *tc__laid_border(tc__graph *g, tc__windowed *w) {
    tc__node *a = g->node.at[w->image->id];
    for (int d = 0; d < 2 && a; d++) {
        a = tc__windowed_pad(g, a, 2 + d, w->low[d], w->high[d], 1);
        w->low[d] = w->high[d] = 0;
    }
    return tc__laid(g, a);
}

// A product whose right operand lies in panels.
static tc__node *tc__laid_product(tc__graph *g, const tc__node *n, const tc__node *b) {
    static const int64_t turn[] = {1, 0, 2};
    const tc__node *right = tc__operand(g, n, 1);
    tc__ix panel = tc__ix_const(g->known.panel), k = b->dims[b->rank - 2],
           dims[] = {k, tc__ix_div(g->ix, b->dims[b->rank - 1], panel), panel};
    tc__node *a = tc__make_reshape(g, g->node.at[b->id], 3, dims);
    a = tc__laid(g, tc__windowed_permute(g, a, turn));
    a = tc__windowed_permute(g, a, turn);
    a = a ? tc__make_reshape(g, a, b->rank, b->dims) : NULL;
    if (a && right->op == TC_OP_EXPAND) a = tc__make_expand(g, a, right->rank, right->dims);
    if (!a) return NULL;
    uint32_t in[] = {n->in[0], a->id};
    return tc__make(g, TC_OP_MATMUL, n->dtype, n->rank, n->dims, in, 2, NULL, 0);
}

static tc__node *tc__rule_laid(tc__graph *g, const tc__node *n) {
    tc__windowed w;
    const tc__node *b = tc__laid_right(g, n);
    if (b) return tc__laid_product(g, n, b);
    if (!tc__laid_form(g, n, &w)) return NULL;
    tc__node *weight =
                 tc__laid_weight(g, &w) ? tc__laid_panels(g, &w) : g->node.at[w.weight->id],
             *image = tc__laid_image(&w) ? tc__laid_border(g, &w) : g->node.at[w.image->id];
    return weight && image ? tc__windowed_product(g, &w, weight, image) : NULL;
}

static int tc__pass_laid(tc__rewrite *w) { return tc__rewrite_each(w, tc__rule_laid); }
