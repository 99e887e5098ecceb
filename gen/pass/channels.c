// Convolutions of halves on devices: operands are laid out with their channels last, once, before the product. Input: a TENSOR
// graph. Output: the same where each product over windows of an image has a depth of (kh, kw, c), not (c, kh, kw), so that k runs
// along memory, and a device can bring whole tiles of windows by itself (device/map.c); sums are in another order.
//
//     %x = permute image, pad channels;  %y = laid %x          [n, h, w, c]
//     %k = permute weight, pad channels; %l = laid %k          [o, kh, kw, c]
//     matmul %l windows(pad %y)
//
// What makes the image is computed by the kernel that lays it out. Channels are padded to whole lines of a tile. Few channels
// have those of a window's row beside them instead: 3 of 7 are 21 then, of one line, and the window is a column.

enum {
    TC__CHANNELS_LINE = 64,  // of which channels are a multiple
    TC__CHANNELS_PACK = 8,   // halves of one access
    TC__CHANNELS_LEAST = 16, // results for each place: fewer have no tile
    TC__CHANNELS_PLACES = 64 //   and places, of all images
};

// A product over windows: sizes and borders by height and width.
typedef struct tc__windowed {
    const tc__node *weight, *image; // [1, 1, o, c * kh * kw], [n, c, h, w]
    int64_t images, channels, results;
    int64_t size[2], stride[2], dilation[2], out[2], low[2], high[2];
} tc__windowed;

// The border of n, from dimension 2 or 3 on; what is inside.
static const tc__node *tc__channels_border(const tc__graph *g, const tc__node *n,
                                           tc__windowed *w) {
    while (n->op == TC_OP_PAD) {
        int64_t d = n->attr[TC__PAD_DIM] - 2;
        tc__ix low = n->attr[TC__PAD_LOW], high = n->attr[TC__PAD_HIGH];
        int fits = d >= 0 && d < 2 && tc__ix_is_const(low) && tc__ix_is_const(high) &&
                   tc__ix_equals(n->attr[TC__PAD_DILATION], 1) && !n->attr[TC__PAD_FILL];
        if (!fits || tc__ix_value(low) < 0 || tc__ix_value(high) < 0) return NULL;
        if (w->low[d] || w->high[d]) return NULL;
        w->low[d] = tc__ix_value(low), w->high[d] = tc__ix_value(high);
        n = tc__operand(g, n, 0);
    }
    return n;
}

static const tc__node *tc__channels_window(const tc__graph *g, const tc__node *n, int d,
                                           tc__windowed *w) {
    if (n->op != TC_OP_WINDOW || n->attr[TC__WINDOW_DIM] != 2 + d) return NULL;
    if (!tc__ix_is_const(n->attr[TC__WINDOW_STRIDE]) ||
        !tc__ix_is_const(n->attr[TC__WINDOW_SIZE]) ||
        !tc__ix_is_const(n->attr[TC__WINDOW_DILATION]))
        return NULL;
    w->size[d] = tc__ix_value(n->attr[TC__WINDOW_SIZE]);
    w->stride[d] = tc__ix_value(n->attr[TC__WINDOW_STRIDE]);
    w->dilation[d] = tc__ix_value(n->attr[TC__WINDOW_DILATION]);
    return tc__operand(g, n, 0);
}

static int tc__channels_has_sizes(const tc__node *n) {
    for (int i = 0; i < n->rank; i++)
        if (!tc__ix_is_const(n->dims[i])) return 0;
    return 1;
}

// The image that a right operand [n, 1, k, cells] has windows of; NULL = it has none.
static const tc__node *tc__channels_image(const tc__graph *g, const tc__node *n,
                                          tc__windowed *w) {
    static const int64_t order[] = {0, 1, 4, 5, 2, 3};
    if (n->op != TC_OP_RESHAPE || !tc__ix_equals(n->dims[1], 1)) return NULL;
    n = tc__operand(g, n, 0);
    if (n->op != TC_OP_PERMUTE || n->rank != 6 || !tc__channels_has_sizes(n)) return NULL;
    for (int i = 0; i < 6; i++)
        if (n->attr[i] != order[i]) return NULL;
    w->images = tc__ix_value(n->dims[0]), w->channels = tc__ix_value(n->dims[1]);
    w->out[0] = tc__ix_value(n->dims[4]), w->out[1] = tc__ix_value(n->dims[5]);
    n = tc__channels_window(g, tc__operand(g, n, 0), 1, w);
    n = n ? tc__channels_window(g, n, 0, w) : NULL;
    n = n ? tc__channels_border(g, n, w) : NULL;
    return n && n->rank == 4 && tc__channels_has_sizes(n) ? n : NULL;
}

// Whether the windows are the image, whose places lie as tiles want them.
static int tc__channels_are_plain(const tc__windowed *w) {
    int plain = w->out[0] * w->out[1] % TC__CHANNELS_PACK == 0;
    for (int d = 0; d < 2; d++)
        plain = plain && w->size[d] == 1 && w->stride[d] == 1 && !w->low[d] && !w->high[d];
    return plain;
}

static int tc__channels_of(const tc__graph *g, const tc__node *n, tc__windowed *w) {
    memset(w, 0, sizeof *w);
    if (n->op != TC_OP_MATMUL || n->rank != 4 || (g->devices && !n->device)) return 0;
    w->weight = tc__operand(g, n, 0);
    if (!tc__is_half(w->weight->dtype) || w->weight->dtype != tc__operand(g, n, 1)->dtype)
        return 0;
    if (w->weight->op == TC_OP_EXPAND) w->weight = tc__operand(g, w->weight, 0);
    w->image = tc__channels_image(g, tc__operand(g, n, 1), w);
    if (!w->image || w->weight->rank != 4 || !tc__ix_equals(w->weight->dims[0], 1) ||
        !tc__channels_has_sizes(w->weight))
        return 0;
    w->results = tc__ix_value(w->weight->dims[2]);
    return !tc__channels_are_plain(w) && w->results >= TC__CHANNELS_LEAST &&
           w->images * w->out[0] * w->out[1] >= TC__CHANNELS_PLACES;
}

static int tc__wants_channels(const tc__graph *g, const tc__node *n) {
    tc__windowed w;
    return tc__channels_of(g, n, &w);
}

// ---- what they become ----

static tc__node *tc__channels_reshape(tc__graph *g, tc__node *a, int rank,
                                      const int64_t *size) {
    tc__ix dims[TC_MAX_RANK];
    for (int i = 0; i < rank; i++) dims[i] = tc__ix_const(size[i]);
    return tc__make_reshape(g, a, rank, dims);
}

static tc__node *tc__channels_pad(tc__graph *g, tc__node *a, int dim, int64_t low,
                                  int64_t high) {
    if (!a || !(low | high)) return a;
    return tc__make_pad(g, a, dim, tc__ix_const(low), tc__ix_const(high), tc__ix_const(1),
                        0);
}

// a[..., c] with whole lines of c, in memory of its own.
static tc__node *tc__channels_laid(tc__graph *g, tc__node *a) {
    if (!a) return NULL;
    int64_t c = tc__ix_value(a->dims[a->rank - 1]);
    a = tc__channels_pad(
        g, a, a->rank - 1, 0,
        (c + TC__CHANNELS_LINE - 1) / TC__CHANNELS_LINE * TC__CHANNELS_LINE - c);
    return a ? tc__make_alu(g, TC_OP_LAID, a->dtype, &a, 1) : NULL;
}

// Windows along axis d of what has height in dimension 1, and width behind it.
static tc__node *tc__channels_windows(tc__graph *g, const tc__windowed *w, tc__node *a,
                                      int d, int dim) {
    tc__ix dims[TC_MAX_RANK];
    int64_t attr[4];
    if (!a) return NULL;
    memcpy(dims, a->dims, sizeof dims);
    dims[dim] = tc__ix_const(w->out[d]), dims[a->rank] = tc__ix_const(w->size[d]);
    attr[TC__WINDOW_DIM] = dim, attr[TC__WINDOW_SIZE] = tc__ix_const(w->size[d]);
    attr[TC__WINDOW_STRIDE] = tc__ix_const(w->stride[d]);
    attr[TC__WINDOW_DILATION] = tc__ix_const(w->dilation[d]);
    return tc__make1(g, TC_OP_WINDOW, a, a->rank + 1, dims, attr, 4);
}

// Whether a window's row of all channels stands in one line.
static int tc__channels_are_few(const tc__windowed *w) {
    return w->size[1] > 1 && w->channels * w->size[1] <= TC__CHANNELS_LINE;
}

static tc__node *tc__channels_permute(tc__graph *g, tc__node *a, const int64_t *order) {
    return a ? tc__make_permute(g, a, order) : NULL;
}

// [n, kh, kw, c, oh, ow] of image a, or [n, kh, kw * c, oh, ow] where a row of a window stands in a line.
static tc__node *tc__channels_columns(tc__graph *g, const tc__windowed *w, tc__node *a) {
    static const int64_t last[] = {0, 2, 3, 1}, row[] = {0, 2, 3, 4, 1},
                         windows[] = {0, 4, 5, 3, 1, 2}, column[] = {0, 4, 3, 1, 2};
    int few = tc__channels_are_few(w);
    int64_t size[] = {w->images, tc__ix_value(a->dims[2]), w->out[1],
                      w->size[1] * w->channels};
    if (few) {
        a = tc__channels_pad(g, a, 3, w->low[1], w->high[1]);
        a = tc__channels_permute(g, tc__channels_windows(g, w, a, 1, 3), row);
        a = tc__channels_laid(g, a ? tc__channels_reshape(g, a, 4, size) : NULL);
    } else {
        a = tc__channels_laid(g, tc__channels_permute(g, a, last));
    }
    a = tc__channels_pad(g, a, 1, w->low[0], w->high[0]);
    if (!few) a = tc__channels_pad(g, a, 2, w->low[1], w->high[1]);
    a = tc__channels_windows(g, w, a, 0, 1);
    if (!few) a = tc__channels_windows(g, w, a, 1, 2);
    return tc__channels_permute(g, a, few ? column : windows);
}

// [1, 1, o, k] of the weight's [1, 1, o, c * kh * kw].
static tc__node *tc__channels_rows(tc__graph *g, const tc__windowed *w, tc__node *a) {
    static const int64_t last[] = {0, 2, 3, 1};
    int64_t size[] = {w->results, w->channels, w->size[0], w->size[1]},
            row[] = {w->results, w->size[0], w->size[1] * w->channels};
    a = tc__channels_permute(g, tc__channels_reshape(g, a, 4, size), last);
    if (tc__channels_are_few(w)) a = a ? tc__channels_reshape(g, a, 3, row) : NULL;
    a = tc__channels_laid(g, a);
    if (!a) return NULL;
    int64_t all[] = {1, 1, w->results, tc__ix_value(tc__node_numel(g, a)) / w->results};
    return tc__channels_reshape(g, a, 4, all);
}

static tc__node *tc__rule_channels(tc__graph *g, const tc__node *n) {
    tc__windowed w;
    tc__ix dims[4];
    uint32_t in[2];
    if (!tc__channels_of(g, n, &w)) return NULL;
    tc__node *left = tc__channels_rows(g, &w, g->node.at[w.weight->id]),
             *right = tc__channels_columns(g, &w, g->node.at[w.image->id]);
    if (!left || !right) return NULL;
    int64_t size[] = {w.images, 1, tc__ix_value(left->dims[3]), w.out[0] * w.out[1]};
    right = tc__channels_reshape(g, right, 4, size);
    memcpy(dims, left->dims, sizeof dims), dims[0] = tc__ix_const(w.images);
    left = tc__make_expand(g, left, 4, dims);
    if (!left || !right) return NULL;
    in[0] = left->id, in[1] = right->id;
    return tc__make(g, TC_OP_MATMUL, n->dtype, n->rank, n->dims, in, 2, NULL, 0);
}

static int tc__pass_channels(tc__rewrite *w) {
    return tc__rewrite_each(w, tc__rule_channels);
}
