// Convolutions as products over windows, in the form that graph/product.c gives them: [1, 1, o, c * kh * kw] times
// [n, 1, c * kh * kw, oh * ow]. Found for derivatives, and for layouts (pass/channels.c), and made.

enum {
    TC__WINDOWED_LEAST = 16, // results for each place that are a product with tiles,
    TC__WINDOWED_HOST = 8    //   and with vectors
};

// A product over windows: sizes and borders by height and width.
typedef struct tc__windowed {
    const tc__node *weight, *image; // [1, 1, o, c * kh * kw], [n, c, h, w]
    tc__ix images, out[2];          // may be known at run time only
    int64_t channels, results;
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

// The image that a right operand [n, 1, k, cells] has windows of; NULL = it has none.
static const tc__node *tc__windowed_image(const tc__graph *g, const tc__node *n,
                                          tc__windowed *w) {
    static const int64_t order[] = {0, 1, 4, 5, 2, 3};
    if (n->op != TC_OP_RESHAPE || !tc__ix_equals(n->dims[1], 1)) return NULL;
    n = tc__operand(g, n, 0);
    if (n->op != TC_OP_PERMUTE || n->rank != 6 || !tc__ix_is_const(n->dims[1])) return NULL;
    for (int i = 0; i < 6; i++)
        if (n->attr[i] != order[i]) return NULL;
    w->images = n->dims[0], w->channels = tc__ix_value(n->dims[1]);
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
        !tc__windowed_has_sizes(w->weight))
        return 0;
    w->results = tc__ix_value(w->weight->dims[2]);
    return 1;
}

// The same on a device, all sizes known, for tensor cores.
static int tc__windowed_of(const tc__graph *g, const tc__node *n, tc__windowed *w) {
    return !(g->devices && !n->device) && tc__windowed_form(g, n, w) &&
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

// A border of less than nothing is cut off, and is nothing then.
static tc__node *tc__windowed_cut(tc__graph *g, tc__node *a, int dim, int64_t *low,
                                  int64_t *high) {
    int64_t before = *low < 0 ? -*low : 0, behind = *high < 0 ? -*high : 0;
    if (!a) return NULL;
    *low += before, *high += behind;
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

// weight[1, 1, o, k] times windows of image[n, c, h, w]: [n, 1, o, cells], of the weight's dtype.
static tc__node *tc__windowed_product(tc__graph *g, const tc__windowed *w, tc__node *weight,
                                      tc__node *image) {
    static const int64_t order[] = {0, 1, 4, 5, 2, 3};
    tc__ix k = tc__ix_const(w->channels * w->size[0] * w->size[1]), one = tc__ix_const(1),
           cells = tc__ix_mul(g->ix, w->out[0], w->out[1]);
    tc__ix rows[] = {w->images, one, tc__ix_const(w->results), k},
           columns[] = {w->images, one, k, cells};
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
