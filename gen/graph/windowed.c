// Convolutions as products over windows, in the form that graph/convolution.c gives them: [1, g, o, c * kh * kw] times
// [n, g, c * kh * kw, oh * ow]. Found for derivatives, and for layouts (pass/channels.c), and made.

enum {
    TC__WINDOWED_LEAST = 16, // results for each place that are a product with tiles,
    TC__WINDOWED_HOST = 8,   //   and with vectors;
    TC__WINDOWED_MORE = 4    // results of each channel that fewer may have
};

// A product over windows: sizes and borders by height and width.
typedef struct tc__windowed {
    const tc__node *weight, *image; // [1, g, o, c * kh * kw], [n, g * c, h, w]
    tc__ix images, out[2];          // may be known at run time only
    int64_t groups, channels, results;
    int64_t size[2], stride[2], dilation[2], low[2], high[2];
} tc__windowed;

// The image in a border of zeros, by its dimensions `first` and the next; NULL = it has another.
static const tc__node *tc__windowed_border(const tc__graph *g, const tc__node *n, int first,
                                           int64_t low[2], int64_t high[2]) {
    low[0] = low[1] = high[0] = high[1] = 0;
    while (n->op == TC_OP_PAD && tc__ix_equals(n->attr[TC__PAD_DILATION], 1)) {
        int64_t d = n->attr[TC__PAD_DIM] - first;
        tc__ix before = n->attr[TC__PAD_LOW], behind = n->attr[TC__PAD_HIGH];
        int fits = d >= 0 && d < 2 && tc__ix_is_const(before) && tc__ix_is_const(behind) &&
                   !n->attr[TC__PAD_FILL];
        if (!fits || tc__ix_value(before) < 0 || tc__ix_value(behind) < 0) return NULL;
        if (low[d] || high[d]) return NULL;
        low[d] = tc__ix_value(before), high[d] = tc__ix_value(behind);
        n = tc__operand(g, n, 0);
    }
    return n;
}

// What WINDOW says of axis d; 0 = it is not known.
static int tc__windowed_words(const tc__node *n, int d, int64_t size[2], int64_t stride[2],
                              int64_t dilation[2]) {
    if (!tc__ix_is_const(n->attr[TC__WINDOW_STRIDE]) ||
        !tc__ix_is_const(n->attr[TC__WINDOW_SIZE]) ||
        !tc__ix_is_const(n->attr[TC__WINDOW_DILATION]))
        return 0;
    size[d] = tc__ix_value(n->attr[TC__WINDOW_SIZE]);
    stride[d] = tc__ix_value(n->attr[TC__WINDOW_STRIDE]);
    dilation[d] = tc__ix_value(n->attr[TC__WINDOW_DILATION]);
    return 1;
}

static const tc__node *tc__windowed_window(const tc__graph *g, const tc__node *n, int d,
                                           tc__windowed *w) {
    if (n->op != TC_OP_WINDOW || n->attr[TC__WINDOW_DIM] != 2 + d) return NULL;
    return tc__windowed_words(n, d, w->size, w->stride, w->dilation) ? tc__operand(g, n, 0)
                                                                     : NULL;
}

static int tc__windowed_has_sizes(const tc__node *n) {
    for (int i = 0; i < n->rank; i++)
        if (!tc__ix_is_const(n->dims[i])) return 0;
    return 1;
}

// The image that a right operand [n, g, k, cells] has windows of; NULL = it has none.
static const tc__node *tc__windowed_image(const tc__graph *g, const tc__node *n,
                                          tc__windowed *w) {
    static const int64_t order[] = {0, 1, 4, 5, 2, 3};
    if (n->op != TC_OP_RESHAPE || !tc__ix_is_const(n->dims[1])) return NULL;
    w->groups = tc__ix_value(n->dims[1]), n = tc__operand(g, n, 0);
    if (n->op != TC_OP_PERMUTE || n->rank != 6 || !tc__ix_is_const(n->dims[1])) return NULL;
    for (int i = 0; i < 6; i++)
        if (n->attr[i] != order[i]) return NULL;
    w->images = n->dims[0], w->channels = tc__ix_value(n->dims[1]);
    if (!w->groups || w->channels % w->groups) return NULL;
    w->channels /= w->groups;
    w->out[0] = n->dims[4], w->out[1] = n->dims[5];
    n = tc__windowed_window(g, tc__operand(g, n, 0), 1, w);
    n = n ? tc__windowed_window(g, n, 0, w) : NULL;
    n = n ? tc__windowed_border(g, n, 2, w->low, w->high) : NULL;
    return n && n->rank == 4 ? n : NULL;
}

// Whether all sizes are known.
static int tc__windowed_is_known(const tc__windowed *w) {
    return tc__ix_is_const(w->images) && tc__ix_is_const(w->out[0]) &&
           tc__ix_is_const(w->out[1]) && tc__windowed_has_sizes(w->image);
}

// Places of an image.
static int64_t tc__windowed_places(const tc__windowed *w) {
    return tc__ix_value(w->out[0]) * tc__ix_value(w->out[1]);
}

// Whether tensor cores of a device take factors of this dtype: as they are, rounded, or as parts of them.
static int tc__windowed_takes(int dtype) { return tc__is_half(dtype) || dtype == TC_F32; }

// Whether n is a product over windows, of a weight whose sizes are known.
static int tc__windowed_form(const tc__graph *g, const tc__node *n, tc__windowed *w) {
    memset(w, 0, sizeof *w);
    if (n->op != TC_OP_MATMUL || n->rank != 4 || n->loop) return 0;
    w->weight = tc__operand(g, n, 0);
    if (w->weight->dtype != tc__operand(g, n, 1)->dtype) return 0;
    if (w->weight->op == TC_OP_EXPAND) w->weight = tc__operand(g, w->weight, 0);
    w->image = tc__windowed_image(g, tc__operand(g, n, 1), w);
    if (!w->image || w->weight->rank != 4 || !tc__ix_equals(w->weight->dims[0], 1) ||
        !tc__ix_equals(w->weight->dims[1], w->groups) || !tc__windowed_has_sizes(w->weight))
        return 0;
    w->results = tc__ix_value(w->weight->dims[2]);
    return 1;
}

// The same on a device, all sizes known, for tensor cores.
static int tc__windowed_of(const tc__graph *g, const tc__node *n, tc__windowed *w) {
    return !(g->devices && !n->device) && tc__windowed_form(g, n, w) && w->groups == 1 &&
           tc__windowed_is_known(w) && tc__windowed_takes(w->weight->dtype);
}

// ---- making some ----

static tc__node *tc__windowed_reshape(tc__graph *g, tc__node *a, int rank,
                                      const int64_t *size) {
    tc__ix dims[TC_MAX_RANK];
    for (int i = 0; i < rank; i++) dims[i] = tc__ix_const(size[i]);
    return tc__make_reshape(g, a, rank, dims);
}

static tc__node *tc__windowed_permute(tc__graph *g, tc__node *a, const int64_t *order) {
    return a ? tc__make_permute(g, a, order) : NULL;
}

static tc__node *tc__windowed_pad(tc__graph *g, tc__node *a, int dim, int64_t low,
                                  int64_t high, int64_t dilation) {
    return tc__make_pad(g, a, dim, tc__ix_const(low), tc__ix_const(high),
                        tc__ix_const(dilation), 0);
}

static tc__node *tc__windowed_slice(tc__graph *g, tc__node *a, int dim, int64_t start,
                                    int64_t count, int64_t step) {
    return tc__make_slice(g, a, dim, tc__ix_const(start), tc__ix_const(count),
                          tc__ix_const(step));
}

// A border of less than nothing is cut off.
static tc__node *tc__windowed_cut(tc__graph *g, tc__node *a, int dim, int64_t low,
                                  int64_t high) {
    int64_t before = low < 0 ? -low : 0, behind = high < 0 ? -high : 0;
    if (!a) return NULL;
    tc__ix left = tc__ix_sub(g->ix, a->dims[dim], tc__ix_const(before + behind));
    return tc__make_slice(g, a, dim, tc__ix_const(before), left, tc__ix_const(1));
}

// Windows of dimension `dim` of a, along axis d.
static tc__node *tc__windowed_windows(tc__graph *g, const tc__windowed *w, tc__node *a,
                                      int d, int dim) {
    tc__ix dims[TC_MAX_RANK];
    int64_t attr[4];
    if (!a) return NULL;
    memcpy(dims, a->dims, sizeof dims);
    dims[dim] = w->out[d], dims[a->rank] = tc__ix_const(w->size[d]);
    attr[TC__WINDOW_DIM] = dim, attr[TC__WINDOW_SIZE] = tc__ix_const(w->size[d]);
    attr[TC__WINDOW_STRIDE] = tc__ix_const(w->stride[d]);
    attr[TC__WINDOW_DILATION] = tc__ix_const(w->dilation[d]);
    return tc__make1(g, TC_OP_WINDOW, a, a->rank + 1, dims, attr, 4);
}

// weight[1, g, o, k] times windows of image[n, g * c, h, w]: [n, g, o, cells], of the weight's dtype.
static tc__node *tc__windowed_product(tc__graph *g, const tc__windowed *w, tc__node *weight,
                                      tc__node *image) {
    static const int64_t order[] = {0, 1, 4, 5, 2, 3};
    tc__ix k = tc__ix_const(w->channels * w->size[0] * w->size[1]),
           groups = tc__ix_const(w->groups),
           cells = tc__ix_mul(g->ix, w->out[0], w->out[1]);
    tc__ix rows[] = {w->images, groups, tc__ix_const(w->results), k},
           columns[] = {w->images, groups, k, cells};
    uint32_t in[2];
    for (int d = 0; d < 2; d++)
        image = image ? tc__windowed_pad(g, image, 2 + d, w->low[d], w->high[d], 1) : NULL;
    image = tc__windowed_windows(g, w, image, 0, 2);
    image = tc__windowed_windows(g, w, image, 1, 3);
    image = tc__windowed_permute(g, image, order);
    image = image ? tc__make_reshape(g, image, 4, columns) : NULL;
    weight = weight ? tc__make_expand(g, weight, 4, rows) : NULL;
    if (!image || !weight) return NULL;
    rows[3] = cells, in[0] = weight->id, in[1] = image->id;
    return tc__make(g, TC_OP_MATMUL, weight->dtype, 4, rows, in, 2, NULL, 0);
}

// ---- what an image counts ----
//
// A convolution of what each window counts, with the weight turned round, where windows are one element apart; else one for
// each phase (graph/woven.c).

typedef struct tc__windowed_back {
    tc__windowed of;
    tc__woven_axis axis[2];
    tc__ix places[2];                // of each phase
    int64_t rows;                    // of most products, of many elements
    int64_t from[2], to[2], taps[2]; // phases that are made
    tc__node *weight, *counts;       // [1, g, o, k], [n, g * o, oh, ow]
} tc__windowed_back;

// Axis i. Of windows that are one element apart the plan is the same for any number of them; of others that is known at run time
// only, and where a phase meets nothing, all places are made. What stands in a sum, and in which order, is the same.
static int tc__windowed_axis(const tc__graph *g, tc__windowed_back *b, int i, int woven) {
    tc__ixpool *x = g->ix;
    tc__woven_axis *a = &b->axis[i];
    tc__ix n = b->of.out[i], out = b->of.image->dims[2 + i], more = tc__ix_sub(x, out, n);
    int known = tc__ix_is_const(out) && tc__ix_is_const(n),
        even = tc__ix_is_const(more) && a->stride == 1;
    a->n = 2, a->out = INT32_MAX;
    tc__woven_plan(a, woven), b->rows *= a->longer;
    if (known || even) {
        a->n = tc__ix_lo(x, n);
        if (!known && a->n < 1) a->n = 1;
        a->out = a->n + tc__ix_value(more);
        if (known && (a->n < 1 || a->out < 1)) return 0;
        if (a->out > 0) tc__woven_plan(a, woven && known);
        b->places[i] = known ? tc__ix_const(a->places) : out;
        if (a->out > 0 && tc__woven_meets(a)) return 1;
    }
    if (!woven) return 0;
    a->n = 1, tc__woven_whole(a);
    tc__ix elements =
        tc__ix_mul(x, tc__ix_sub(x, n, tc__ix_const(1)), tc__ix_const(a->spread));
    b->places[i] = tc__ix_add(x, elements, tc__ix_const(a->places));
    return 1;
}

// Whether that can be made; `woven`: by phases, not with zeros between what windows count.
static int tc__windowed_plan(const tc__graph *g, tc__windowed_back *b,
                             const tc__windowed *w, int woven) {
    b->of = *w, b->rows = w->channels;
    for (int i = 0; i < 2; i++) {
        tc__woven_axis *a = &b->axis[i];
        a->kernel = w->size[i], a->stride = w->stride[i];
        a->dilation = w->dilation[i], a->low = w->low[i];
        if (!tc__windowed_axis(g, b, i, woven)) return 0;
    }
    return 1;
}

// [1, g, c * phases, o * taps] of the weight, the last taps first.
static tc__node *tc__windowed_rows(tc__graph *g, const tc__windowed_back *b) {
    const tc__windowed *w = &b->of;
    int64_t whole[] = {w->groups, w->results, w->channels, w->size[0], w->size[1]};
    int64_t size[TC_MAX_RANK], order[TC_MAX_RANK], rows = w->channels, k = w->results;
    int rank = 3, tap[2];
    tc__node *a = tc__windowed_reshape(g, b->weight, 5, whole);
    memcpy(size, whole, sizeof whole);
    for (int i = 0; i < 2; i++) {
        int64_t phases = b->to[i] - b->from[i], all = b->axis[i].phases;
        int64_t taps = (b->taps[i] - 1) * all + phases;
        a = tc__windowed_slice(g, a, 3 + i, b->from[i], taps, 1);
        a = a ? tc__windowed_pad(g, a, 3 + i, 0, all - phases, 1) : NULL;
        size[rank] = b->taps[i], tap[i] = rank++;
        if (all > 1) size[rank++] = all;
        rows *= phases, k *= b->taps[i];
    }
    a = a ? tc__windowed_reshape(g, a, rank, size) : NULL;
    order[0] = 0, order[1] = 2, order[rank - 3] = 1;
    order[rank - 2] = tap[0], order[rank - 1] = tap[1];
    for (int i = 0, at = 2; i < 2; i++) {
        if (b->axis[i].phases > 1) {
            a = tc__windowed_slice(g, a, tap[i] + 1, 0, b->to[i] - b->from[i], 1);
            order[at++] = tap[i] + 1;
        }
        if (b->taps[i] > 1)
            a = tc__windowed_slice(g, a, tap[i], b->taps[i] - 1, b->taps[i], -1);
    }
    int64_t row[] = {1, w->groups, rows, k};
    a = tc__windowed_permute(g, a, order);
    return a ? tc__windowed_reshape(g, a, 4, row) : NULL;
}

// [ph, pw, n, c, qh, qw] of the phases.
static tc__node *tc__windowed_phases(tc__graph *g, const tc__windowed_back *b) {
    static const int64_t order[] = {2, 3, 0, 1, 4, 5};
    const tc__windowed *w = &b->of;
    tc__ix part[] = {w->images, tc__ix_const(w->groups * w->channels), 0, 0, 0, 0};
    tc__windowed phase = *w;
    tc__node *a = b->counts;
    phase.channels = w->results, phase.results = w->channels;
    for (int i = 0; i < 2; i++) {
        int64_t low, high;
        (void)tc__woven_border(&b->axis[i], b->taps[i], &low, &high);
        a = a ? tc__windowed_pad(g, a, 2 + i, 0, 0, b->axis[i].spread) : NULL;
        a = tc__windowed_cut(g, a, 2 + i, low, high);
        phase.low[i] = low < 0 ? 0 : low, phase.high[i] = high < 0 ? 0 : high;
        phase.size[i] = b->taps[i], phase.stride[i] = 1;
        phase.dilation[i] = b->axis[i].gap;
        part[2 + i] = tc__ix_const(b->to[i] - b->from[i]);
        phase.results *= b->to[i] - b->from[i];
        part[4 + i] = phase.out[i] = b->places[i];
    }
    a = tc__windowed_product(g, &phase, tc__windowed_rows(g, b), a);
    return tc__windowed_permute(g, a ? tc__make_reshape(g, a, 6, part) : NULL, order);
}

// b behind a along dimension `dim`.
static tc__node *tc__windowed_cat(tc__graph *g, tc__node *a, tc__node *b, int64_t dim) {
    tc__ix dims[TC_MAX_RANK];
    uint32_t in[2];
    if (!a || !b) return NULL;
    memcpy(dims, a->dims, sizeof dims);
    dims[dim] = tc__ix_add(g->ix, dims[dim], b->dims[dim]);
    in[0] = a->id, in[1] = b->id;
    return tc__make(g, TC_OP_CAT, a->dtype, a->rank, dims, in, 2, &dim, 1);
}

// All phases from axis i on, behind each other: the first, and the rest.
static tc__node *tc__windowed_all(tc__graph *g, tc__windowed_back *b, int i) {
    const tc__woven_axis *a = &b->axis[i];
    tc__node *part[2];
    int parts = 0;
    if (i == 2) return tc__windowed_phases(g, b);
    for (int j = 0; j < 2; j++) {
        b->taps[i] = tc__woven_part(a, j, &b->from[i], &b->to[i]);
        if (b->taps[i] && !(part[parts++] = tc__windowed_all(g, b, i + 1))) return NULL;
    }
    if (parts == 2) return tc__windowed_cat(g, part[0], part[1], i);
    return tc__windowed_pad(g, part[0], i, 0, a->taps > 1 ? 0 : a->phases - a->longer, 1);
}

// Of what is woven along axis i, the image.
static tc__node *tc__windowed_asked(tc__graph *g, const tc__windowed_back *b, tc__node *a,
                                    int i) {
    const tc__woven_axis *x = &b->axis[i];
    tc__ix out = b->of.image->dims[2 + i];
    if (x->whole) {
        a = tc__windowed_pad(g, a, 2 + i, 0, x->behind, 1);
        return tc__make_slice(g, a, 2 + i, tc__ix_const(x->skip), out, tc__ix_const(1));
    }
    if (!tc__ix_is_const(out)) return a; // all of it
    int64_t reach = x->before + (x->length - 1) * x->apart + 1;
    a = tc__windowed_slice(g, a, 2 + i, x->skip, x->length, 1);
    return a ? tc__windowed_pad(g, a, 2 + i, x->before, x->out - reach, x->apart) : NULL;
}

// What the image [n, g * c, h, w] counts, of what windows count, [n, g, o, cells].
static tc__node *tc__windowed_image_of(tc__graph *g, tc__windowed_back *b, tc__node *a) {
    static const int64_t order[] = {2, 3, 4, 0, 5, 1};
    const tc__windowed *w = &b->of;
    tc__ix counts[] = {w->images, tc__ix_const(w->groups * w->results), w->out[0],
                       w->out[1]},
           size[] = {w->images, tc__ix_const(w->groups * w->channels), 0, 0};
    b->weight = g->node.at[w->weight->id];
    b->counts = a ? tc__make_reshape(g, a, 4, counts) : NULL;
    a = tc__windowed_permute(g, tc__windowed_all(g, b, 0), order);
    for (int i = 0; i < 2; i++)
        size[2 + i] = tc__ix_mul(g->ix, b->places[i], tc__ix_const(b->axis[i].phases));
    a = a ? tc__make_reshape(g, a, 4, size) : NULL;
    for (int i = 0; i < 2 && a; i++) a = tc__windowed_asked(g, b, a, i);
    return a;
}
