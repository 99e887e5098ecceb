// Convolutions of halves and f32 on devices: operands are laid out with their channels last, once, before the product. Input: a TENSOR
// graph. Output: the same where each product over windows of an image has a depth of (kh, kw, c), not (c, kh, kw), so that k runs
// along memory, and a device can bring whole tiles of windows by itself (device/map.c); sums are in another order.
//
//     %x = permute image, pad channels;  %y = laid %x          [n, h, w, c]
//     %k = permute weight, pad channels; %l = laid %k          [o, kh, kw, c]
//     matmul %l windows(pad %y)
//
// What makes the image is computed by the kernel that lays it out. Channels are padded to whole lines of a tile, of f32 that is
// not rounded to whole accesses of threads. Few channels
// have those of a window's row beside them instead: 3 of 7 are 21 then, of one line, and the window is a column.

enum {
    TC__CHANNELS_LINE = 128,  // bytes of which channels are a multiple,
    TC__CHANNELS_ACCESS = 16, //   of what threads bring
    TC__CHANNELS_PACK = 8,    // halves of one access; f32 is held to it, too
    TC__CHANNELS_PLACES = 64  //   and places, of all images
};

// Whether the windows are the image, whose places lie as tiles want them.
static int tc__channels_are_plain(const tc__windowed *w) {
    int plain = tc__windowed_places(w) % TC__CHANNELS_PACK == 0;
    for (int d = 0; d < 2; d++)
        plain = plain && w->size[d] == 1 && w->stride[d] == 1 && !w->low[d] && !w->high[d];
    return plain;
}

static int tc__channels_of(const tc__graph *g, const tc__node *n, tc__windowed *w) {
    return tc__windowed_of(g, n, w) && !tc__channels_are_plain(w) &&
           w->results >= TC__WINDOWED_LEAST &&
           tc__ix_value(w->images) * tc__windowed_places(w) >= TC__CHANNELS_PLACES;
}

// What a weight counts: a sum over images of gradients [n, 1, o, cells] times windows [n, 1, cells, k].
static int tc__channels_weight_of(const tc__graph *g, const tc__node *n, tc__windowed *w) {
    static const int64_t turned[] = {0, 1, 3, 2};
    memset(w, 0, sizeof *w);
    if (n->op != TC_OP_SUM || n->rank != 4 || n->loop || n->dtype != TC_F32 ||
        n->attr[TC__REDUCE_DIMS] != 1 || (g->devices && !n->device))
        return 0;
    n = tc__operand(g, n, 0);
    if (n->op == TC_OP_CAST) n = tc__operand(g, n, 0);
    if (n->op != TC_OP_MATMUL || !tc__windowed_takes(tc__operand(g, n, 0)->dtype)) return 0;
    const tc__node *columns = tc__operand(g, n, 1);
    w->weight = tc__operand(g, n, 0);
    if (columns->op != TC_OP_PERMUTE || columns->dtype != w->weight->dtype) return 0;
    for (int i = 0; i < 4; i++)
        if (columns->attr[i] != turned[i]) return 0;
    w->image = tc__windowed_image(g, tc__operand(g, columns, 0), w);
    if (!w->image || !tc__windowed_is_known(w) || !tc__ix_is_const(n->dims[2])) return 0;
    w->results = tc__ix_value(n->dims[2]);
    return w->results >= TC__WINDOWED_LEAST &&
           w->channels * w->size[1] >= TC__WINDOWED_LEAST && w->size[0] * w->size[1] > 1;
}

static int tc__wants_channels(const tc__graph *g, const tc__node *n) {
    tc__windowed w;
    return tc__channels_of(g, n, &w) || tc__channels_weight_of(g, n, &w);
}

// ---- what they become ----

static tc__node *tc__channels_pad(tc__graph *g, tc__node *a, int dim, int64_t low,
                                  int64_t high) {
    return a && (low | high) ? tc__windowed_pad(g, a, dim, low, high, 1) : a;
}

// Channels of a line.
static int64_t tc__channels_line(int dtype) {
    return TC__CHANNELS_LINE / (int64_t)tc__dtypes[dtype].bytes;
}

static tc__node *tc__channels_alu(tc__graph *g, tc__op op, tc__node *a, tc__node *b,
                                  tc__node *c) {
    tc__node *in[3];
    in[0] = a, in[1] = b, in[2] = c;
    if (!a || !b) return NULL;
    int dtype =
        tc__ops[op].kind == TC__KIND_BINARY && op == TC_OP_LT ? (int)TC_BOOL : b->dtype;
    return tc__make_alu(g, op, dtype, in, c ? 3 : 2);
}

// f32 that may be tf32, rounded to 11 bits, which tensor cores take of it: they would cut the others off. t = 8193 a,
// t - (t - a), where that is finite.
static tc__node *tc__channels_rounded(tc__graph *g, tc__node *a) {
    if (!a || a->dtype != TC_F32 || !g->known.tf32) return a;
    tc__node *far = tc__channels_alu(g, TC_OP_MUL, a, tc__make_number(g, a, 8193), NULL);
    tc__node *rest = tc__channels_alu(g, TC_OP_SUB, far, a, NULL);
    tc__node *lead = tc__channels_alu(g, TC_OP_SUB, far, rest, NULL);
    tc__node *size = tc__make_alu(g, TC_OP_ABS, a->dtype, &a, 1);
    tc__node *some = tc__channels_alu(g, TC_OP_LT, size, tc__make_number(g, a, 1e34), NULL);
    return tc__channels_alu(g, TC_OP_WHERE, some, lead, a);
}

// a[..., c] with whole lines or accesses of c, in memory of its own; half lines where `half` says so.
static tc__node *tc__channels_laid(tc__graph *g, tc__node *a, int half) {
    a = tc__channels_rounded(g, a);
    if (!a) return NULL;
    int64_t c = tc__ix_value(a->dims[a->rank - 1]),
            line = tc__channels_line(a->dtype) / (1 + half);
    if (a->dtype == TC_F32 && !g->known.tf32) line = TC__CHANNELS_ACCESS / 4;
    a = tc__channels_pad(g, a, a->rank - 1, 0, (c + line - 1) / line * line - c);
    return a ? tc__make_alu(g, TC_OP_LAID, a->dtype, &a, 1) : NULL;
}

// Whether a window's row of all channels stands in one line.
static int tc__channels_are_few(const tc__windowed *w) {
    return w->size[1] > 1 &&
           w->channels * w->size[1] <= tc__channels_line(w->weight->dtype);
}

// Taps of a window's row with the zeros that stand behind them.
static int64_t tc__channels_taps(const tc__windowed *w) {
    int64_t taps =
        (w->size[1] + TC__CHANNELS_PACK - 1) / TC__CHANNELS_PACK * TC__CHANNELS_PACK;
    return w->channels * taps <= tc__channels_line(w->weight->dtype) ? taps : w->size[1];
}

// Whether those of all channels have half a line.
static int tc__channels_are_half(const tc__windowed *w) {
    return tc__channels_are_few(w) &&
           2 * w->channels * tc__channels_taps(w) <= tc__channels_line(w->weight->dtype);
}

// [n, oh, ow, c, kh, kw] of image a, or [n, oh, ow, c * taps, kh] where a row of a window stands in a line.
static tc__node *tc__channels_columns(tc__graph *g, const tc__windowed *w, tc__node *a,
                                      int half) {
    static const int64_t last[] = {0, 2, 3, 1}, row[] = {0, 2, 3, 1, 4};
    int few = tc__channels_are_few(w);
    int64_t taps = tc__channels_taps(w);
    int64_t size[] = {tc__ix_value(w->images), tc__ix_value(a->dims[2]),
                      tc__ix_value(w->out[1]), w->channels * taps};
    if (few) {
        a = tc__channels_pad(g, a, 3, w->low[1], w->high[1]);
        a = tc__channels_pad(g, tc__windowed_windows(g, w, a, 1, 3), 4, 0,
                             taps - w->size[1]);
        a = tc__windowed_permute(g, a, row);
        a = tc__channels_laid(g, a ? tc__windowed_reshape(g, a, 4, size) : NULL, half);
    } else {
        a = tc__channels_laid(g, tc__windowed_permute(g, a, last), 0);
    }
    a = tc__channels_pad(g, a, 1, w->low[0], w->high[0]);
    if (!few) a = tc__channels_pad(g, a, 2, w->low[1], w->high[1]);
    a = tc__windowed_windows(g, w, a, 0, 1);
    return few ? a : tc__windowed_windows(g, w, a, 1, 2);
}

// [1, 1, o, k] of the weight's [1, 1, o, c * kh * kw].
static tc__node *tc__channels_rows(tc__graph *g, const tc__windowed *w, tc__node *a) {
    static const int64_t last[] = {0, 2, 3, 1}, tap[] = {0, 2, 1, 3};
    int few = tc__channels_are_few(w);
    int64_t taps = tc__channels_taps(w);
    int64_t size[] = {w->results, w->channels, w->size[0], w->size[1]},
            row[] = {w->results, w->size[0], w->channels * taps};
    int whole = w->channels % tc__channels_line(a->dtype) == 0 && tc__is_half(a->dtype);
    if (w->size[0] * w->size[1] == 1 && whole) return a; // its rows are what they would be
    a = tc__windowed_permute(g, tc__windowed_reshape(g, a, 4, size), few ? tap : last);
    if (few) {
        a = tc__channels_pad(g, a, 3, 0, taps - w->size[1]);
        a = a ? tc__windowed_reshape(g, a, 3, row) : NULL;
    }
    a = tc__channels_laid(g, a, tc__channels_are_half(w));
    if (!a) return NULL;
    int64_t all[] = {1, 1, w->results, tc__ix_value(tc__node_numel(g, a)) / w->results};
    return tc__windowed_reshape(g, a, 4, all);
}

static tc__node *tc__channels_product(tc__graph *g, const tc__windowed *w) {
    static const int64_t windows[] = {0, 4, 5, 3, 1, 2}, column[] = {0, 4, 3, 1, 2};
    tc__ix dims[4];
    uint32_t in[2];
    tc__node *left = tc__channels_rows(g, w, g->node.at[w->weight->id]),
             *right = tc__channels_columns(g, w, g->node.at[w->image->id],
                                           tc__channels_are_half(w));
    right = tc__windowed_permute(g, right, tc__channels_are_few(w) ? column : windows);
    if (!left || !right) return NULL;
    int64_t size[] = {tc__ix_value(w->images), 1, tc__ix_value(left->dims[3]),
                      tc__windowed_places(w)};
    right = tc__windowed_reshape(g, right, 4, size);
    memcpy(dims, left->dims, sizeof dims), dims[0] = w->images;
    left = tc__make_expand(g, left, 4, dims);
    if (!left || !right) return NULL;
    dims[3] = right->dims[3], in[0] = left->id, in[1] = right->id;
    return tc__make(g, TC_OP_MATMUL, TC_F32, 4, dims, in, 2, NULL, 0);
}

// [1, 1, o, places] of gradients a[n, 1, o, cells], which are laid out as an image is.
static tc__node *tc__channels_gradients(tc__graph *g, const tc__windowed *w, tc__node *a) {
    static const int64_t last[] = {0, 2, 3, 1}, turned[] = {0, 1, 3, 2};
    int64_t size[] = {tc__ix_value(w->images), w->results, tc__ix_value(w->out[0]),
                      tc__ix_value(w->out[1])};
    a = tc__channels_laid(
        g, tc__windowed_permute(g, tc__windowed_reshape(g, a, 4, size), last), 0);
    if (!a) return NULL;
    int64_t all[] = {1, 1, tc__ix_value(w->images) * tc__windowed_places(w),
                     tc__ix_value(a->dims[3])};
    return tc__windowed_permute(g, tc__windowed_reshape(g, a, 4, all), turned);
}

// [1, 1, o, c * kh * kw] of a product's [1, 1, o, kh * kw * c], or [1, 1, o, kh * c * taps], whose o and c were padded.
static tc__node *tc__channels_first(tc__graph *g, const tc__windowed *w, tc__node *a) {
    static const int64_t order[] = {0, 3, 1, 2}, within[] = {0, 2, 1, 3};
    int few = tc__channels_are_few(w);
    int64_t taps = w->size[0] * (few ? 1 : w->size[1]), line = w->channels;
    if (few) line *= tc__channels_taps(w);
    if (!a) return NULL;
    int64_t size[] = {tc__ix_value(a->dims[2]), taps, tc__ix_value(a->dims[3]) / taps},
            tap[] = {w->results, w->size[0], w->size[1], w->channels},
            own[] = {w->results, w->size[0], w->channels, tc__channels_taps(w)},
            row[] = {1, 1, w->results, w->channels * w->size[0] * w->size[1]};
    a = tc__windowed_reshape(g, a, 3, size);
    a = tc__make_slice(g, a, 0, tc__ix_const(0), tc__ix_const(w->results), tc__ix_const(1));
    a = tc__make_slice(g, a, 2, tc__ix_const(0), tc__ix_const(line), tc__ix_const(1));
    a = a ? tc__windowed_reshape(g, a, 4, few ? own : tap) : NULL;
    if (few && a)
        a = tc__make_slice(g, a, 3, tc__ix_const(0), tc__ix_const(w->size[1]),
                           tc__ix_const(1));
    a = a ? tc__windowed_permute(g, a, few ? within : order) : NULL;
    return a ? tc__windowed_reshape(g, a, 4, row) : NULL;
}

// One product over the places of all images.
static tc__node *tc__channels_weight(tc__graph *g, const tc__windowed *w) {
    static const int64_t windows[] = {0, 1, 2, 4, 5, 3}, column[] = {0, 1, 2, 4, 3};
    tc__ix dims[4];
    uint32_t in[2];
    tc__node *left = tc__channels_gradients(g, w, g->node.at[w->weight->id]),
             *right = tc__channels_columns(g, w, g->node.at[w->image->id], 0);
    right = tc__windowed_permute(g, right, tc__channels_are_few(w) ? column : windows);
    if (!left || !right) return NULL;
    int64_t places = tc__ix_value(left->dims[3]);
    int64_t size[] = {1, 1, places, tc__ix_value(tc__node_numel(g, right)) / places};
    right = tc__windowed_reshape(g, right, 4, size);
    if (!right) return NULL;
    memcpy(dims, left->dims, sizeof dims), dims[3] = right->dims[3];
    in[0] = left->id, in[1] = right->id;
    return tc__channels_first(g, w,
                              tc__make(g, TC_OP_MATMUL, TC_F32, 4, dims, in, 2, NULL, 0));
}

static tc__node *tc__rule_channels(tc__graph *g, const tc__node *n) {
    tc__windowed w;
    if (tc__channels_weight_of(g, n, &w)) return tc__channels_weight(g, &w);
    if (!tc__channels_of(g, n, &w)) return NULL;
    return tc__make_cast(g, tc__channels_product(g, &w), n->dtype);
}

static int tc__pass_channels(tc__rewrite *w) {
    return tc__rewrite_each(w, tc__rule_channels);
}
