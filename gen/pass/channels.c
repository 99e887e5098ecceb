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

// Whether the windows are the image, whose places lie as tiles want them.
static int tc__channels_are_plain(const tc__windowed *w) {
    int plain = w->out[0] * w->out[1] % TC__CHANNELS_PACK == 0;
    for (int d = 0; d < 2; d++)
        plain = plain && w->size[d] == 1 && w->stride[d] == 1 && !w->low[d] && !w->high[d];
    return plain;
}

static int tc__channels_of(const tc__graph *g, const tc__node *n, tc__windowed *w) {
    return tc__windowed_of(g, n, w) && !tc__channels_are_plain(w) &&
           w->results >= TC__CHANNELS_LEAST &&
           w->images * w->out[0] * w->out[1] >= TC__CHANNELS_PLACES;
}

static int tc__wants_channels(const tc__graph *g, const tc__node *n) {
    tc__windowed w;
    return tc__channels_of(g, n, &w);
}

// ---- what they become ----

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

// Whether a window's row of all channels stands in one line.
static int tc__channels_are_few(const tc__windowed *w) {
    return w->size[1] > 1 && w->channels * w->size[1] <= TC__CHANNELS_LINE;
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
        a = tc__windowed_permute(g, tc__windowed_windows(g, w, a, 1, 3), row);
        a = tc__channels_laid(g, a ? tc__windowed_reshape(g, a, 4, size) : NULL);
    } else {
        a = tc__channels_laid(g, tc__windowed_permute(g, a, last));
    }
    a = tc__channels_pad(g, a, 1, w->low[0], w->high[0]);
    if (!few) a = tc__channels_pad(g, a, 2, w->low[1], w->high[1]);
    a = tc__windowed_windows(g, w, a, 0, 1);
    if (!few) a = tc__windowed_windows(g, w, a, 1, 2);
    return tc__windowed_permute(g, a, few ? column : windows);
}

// [1, 1, o, k] of the weight's [1, 1, o, c * kh * kw].
static tc__node *tc__channels_rows(tc__graph *g, const tc__windowed *w, tc__node *a) {
    static const int64_t last[] = {0, 2, 3, 1};
    int64_t size[] = {w->results, w->channels, w->size[0], w->size[1]},
            row[] = {w->results, w->size[0], w->size[1] * w->channels};
    a = tc__windowed_permute(g, tc__windowed_reshape(g, a, 4, size), last);
    if (tc__channels_are_few(w)) a = a ? tc__windowed_reshape(g, a, 3, row) : NULL;
    a = tc__channels_laid(g, a);
    if (!a) return NULL;
    int64_t all[] = {1, 1, w->results, tc__ix_value(tc__node_numel(g, a)) / w->results};
    return tc__windowed_reshape(g, a, 4, all);
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
    right = tc__windowed_reshape(g, right, 4, size);
    memcpy(dims, left->dims, sizeof dims), dims[0] = tc__ix_const(w.images);
    left = tc__make_expand(g, left, 4, dims);
    if (!left || !right) return NULL;
    in[0] = left->id, in[1] = right->id;
    return tc__make(g, TC_OP_MATMUL, n->dtype, n->rank, n->dims, in, 2, NULL, 0);
}

static int tc__pass_channels(tc__rewrite *w) {
    return tc__rewrite_each(w, tc__rule_channels);
}
