// 3x3 convolutions of f32 in fewer products, where TC_NUMERICS_FAST asks: Winograd's F(4x4, 3x3) (Lavin and Gray 2016). Input: a
// TENSOR graph. Output: the same where a product over windows of 3 x 3 that lie beside each other is
//
//     %x = laid pad permute image                 [n, h, w, c], in whole tiles
//     %v = unrolled B' windows(%x) B              [36, n * tiles, c]
//     %u = unrolled G weight G'                   [36, o, c]
//     %m = matmul %v permute %u                   [36, n * tiles, o]
//     %y = unrolled A' %m A                       [n, th, 4, tw, 4, o]
//
// 4 x 4 results of a channel are 36 products of 6 x 6 elements instead of 144. Vectors run along channels, which are last, so
// transforms read and write whole vectors; a point of their kernels makes a tile. What stands between two such convolutions is
// computed where the next one's image is laid out, so channels stay last there.

enum { TC__WINOGRAD_TAPS = 3, TC__WINOGRAD_OUT = 4, TC__WINOGRAD_TILE = 6 };

// By interpolation at 0, 1, -1, 2, -2 and infinity.
static const double tc__winograd_image[6][6] = {{4, 0, -5, 0, 1, 0},  {0, -4, -4, 1, 1, 0},
                                                {0, 4, -4, -1, 1, 0}, {0, -2, -1, 2, 1, 0},
                                                {0, 2, -1, -2, 1, 0}, {0, 4, 0, -5, 0, 1}};
static const double tc__winograd_weight[6][6] = {{1. / 4, 0, 0},
                                                 {-1. / 6, -1. / 6, -1. / 6},
                                                 {-1. / 6, 1. / 6, -1. / 6},
                                                 {1. / 24, 1. / 12, 1. / 6},
                                                 {1. / 24, -1. / 12, 1. / 6},
                                                 {0, 0, 1}};
static const double tc__winograd_result[4][6] = {
    {1, 1, 1, 1, 1, 0}, {0, 1, -1, 2, -2, 0}, {0, 1, 1, 4, 4, 0}, {0, 1, -1, 8, -8, 1}};

// ---- which convolutions ----

// What transforming an element of the weight takes, and one of an image or a result, in operations of a product: they wait
// for memory.
enum {
    TC__WINOGRAD_CHANNELS = 32, // at least,
    TC__WINOGRAD_VECTOR = 8,    //   and a multiple of that: else vectors reach over tiles
    TC__WINOGRAD_WEIGHT = 32,
    TC__WINOGRAD_ELEMENT = 64
};

static int64_t tc__winograd_tiles(tc__ix size) {
    return (tc__ix_value(size) + TC__WINOGRAD_OUT - 1) / TC__WINOGRAD_OUT;
}

// Whether it takes less time than windows do, of one image: so an image has the same results in any batch. Times faster on a Zen 5
// with one thread, channels by height and width: 64 56 x 56 2.5, 128 28 x 28 2.4, 256 28 x 28 2.1, 256 14 x 14 1.5, and of 32 images
// of 64 56 x 56, that go through memory, 1.5. 512 7 x 7 would be 0.45, as 36 factors stand for 9: it stays as it is.
static int tc__winograd_pays(const tc__windowed *w) {
    double c = (double)w->channels, o = (double)w->results,
           tiles = (double)tc__winograd_tiles(w->out[0]) *
                   (double)tc__winograd_tiles(w->out[1]),
           square = (double)(TC__WINOGRAD_TILE * TC__WINOGRAD_TILE),
           taps = (double)(TC__WINOGRAD_TAPS * TC__WINOGRAD_TAPS);
    double direct = 2 * taps * c * o * (double)tc__windowed_places(w),
           made = square * (2 * c * o * tiles + (double)TC__WINOGRAD_WEIGHT * c * o +
                            (double)TC__WINOGRAD_ELEMENT * (c + o) * tiles);
    return made < direct;
}

static int tc__winograd_of(const tc__graph *g, const tc__node *n, tc__windowed *w) {
    if (n->op != TC_OP_MATMUL || n->device || n->dtype != TC_F32 ||
        !tc__windowed_form(g, n, w) || w->groups != 1 || w->weight->dtype != TC_F32)
        return 0;
    for (int d = 0; d < 2; d++)
        if (w->size[d] != TC__WINOGRAD_TAPS || w->stride[d] != 1 || w->dilation[d] != 1 ||
            !tc__ix_is_const(w->out[d]) || !tc__ix_is_const(w->image->dims[2 + d]))
            return 0;
    return w->channels >= TC__WINOGRAD_CHANNELS && w->results >= TC__WINOGRAD_CHANNELS &&
           w->channels % TC__WINOGRAD_VECTOR == 0 &&
           w->results % TC__WINOGRAD_VECTOR == 0 && tc__winograd_pays(w);
}

static int tc__wants_winograd(const tc__graph *g, const tc__node *n) {
    tc__windowed w;
    return tc__winograd_of(g, n, &w);
}

// ---- what they become ----

// by * a, added to sum if there is one.
static tc__node *tc__winograd_term(tc__graph *g, tc__node *sum, tc__node *a, double by) {
    tc__node *in[3];
    if (!sum && by == 1) return a;
    in[0] = sum, in[1] = a;
    if (sum && by == 1) return tc__make_alu(g, TC_OP_ADD, a->dtype, in, 2);
    if (sum && by == -1) return tc__make_alu(g, TC_OP_SUB, a->dtype, in, 2);
    in[0] = a, in[1] = tc__make_number(g, a, by), in[2] = sum;
    return tc__make_alu(g, sum ? TC_OP_FMA : TC_OP_MUL, a->dtype, in, sum ? 3 : 2);
}

// Rows of `matrix` times the elements of a along dimension `dim`, as many as it has columns, which become as many as it has rows.
static tc__node *tc__winograd_along(tc__graph *g, tc__node *a, int64_t dim,
                                    const double (*matrix)[6], int rows) {
    tc__node *element[TC__WINOGRAD_TILE];
    uint32_t row[TC__WINOGRAD_TILE];
    tc__ix dims[TC_MAX_RANK];
    int columns = a ? (int)tc__ix_value(a->dims[dim]) : 0;
    for (int k = 0; k < columns; k++)
        if (!(element[k] = tc__windowed_slice(g, a, (int)dim, k, 1, 1))) return NULL;
    for (int i = 0; i < rows && a; i++) {
        tc__node *sum = NULL;
        for (int k = columns; k-- > 0;)
            if (matrix[i][k] != 0 &&
                !(sum = tc__winograd_term(g, sum, element[k], matrix[i][k])))
                return NULL;
        row[i] = sum->id;
    }
    if (!a) return NULL;
    memcpy(dims, a->dims, sizeof dims), dims[dim] = tc__ix_const(rows);
    return tc__make(g, TC_OP_CAT, a->dtype, a->rank, dims, row, (uint32_t)rows, &dim, 1);
}

// The same along two dimensions, in memory.
static tc__node *tc__winograd_square(tc__graph *g, tc__node *a, int first, int second,
                                     const double (*matrix)[6], int rows) {
    int64_t mask = (int64_t)1 << first | (int64_t)1 << second;
    a = tc__winograd_along(g, a, first, matrix, rows);
    a = tc__winograd_along(g, a, second, matrix, rows);
    return a ? tc__make1(g, TC_OP_UNROLLED, a, a->rank, a->dims, &mask, 1) : NULL;
}

// [36, n * tiles, c] of the image.
static tc__node *tc__winograd_tiled(tc__graph *g, const tc__windowed *w) {
    static const int64_t last[] = {0, 2, 3, 1}, tile[] = {4, 5, 0, 1, 2, 3};
    tc__windowed of = *w;
    tc__ix tiles = w->images, squares = tc__ix_const(TC__WINOGRAD_TILE * TC__WINOGRAD_TILE);
    tc__node *a = tc__windowed_permute(g, g->node.at[w->image->id], last);
    for (int d = 0; d < 2 && a; d++) {
        int64_t count = tc__winograd_tiles(w->out[d]);
        int64_t all =
            count * TC__WINOGRAD_OUT + TC__WINOGRAD_TILE - TC__WINOGRAD_OUT - w->low[d];
        a = tc__windowed_pad(g, a, 1 + d, w->low[d], all - tc__ix_value(a->dims[1 + d]), 1);
        of.out[d] = tc__ix_const(count), of.size[d] = TC__WINOGRAD_TILE;
        of.stride[d] = TC__WINOGRAD_OUT, tiles = tc__ix_mul(g->ix, tiles, of.out[d]);
    }
    a = tc__laid(g, a);
    a = tc__windowed_windows(g, &of, a, 0, 1);
    a = tc__windowed_windows(g, &of, a, 1, 2);
    a = tc__windowed_permute(g, a, tile);
    a = tc__winograd_square(g, a, 0, 1, tc__winograd_image, TC__WINOGRAD_TILE);
    tc__ix dims[] = {squares, tiles, tc__ix_const(w->channels)};
    return tc__make_reshape(g, a, 3, dims);
}

// [36, c, o] in panels of the columns, for a weight that is transformed once.
static tc__node *tc__winograd_panels(tc__graph *g, const tc__windowed *w, tc__node *a) {
    static const int64_t turn[] = {0, 2, 1, 3};
    int64_t panel = g->known.panel, squares = TC__WINOGRAD_TILE * TC__WINOGRAD_TILE,
            apart[] = {squares, w->channels, w->results / panel, panel},
            flat[] = {squares, w->channels, w->results};
    a = a ? tc__windowed_reshape(g, a, 4, apart) : NULL;
    a = tc__laid(g, tc__windowed_permute(g, a, turn));
    a = tc__windowed_permute(g, a, turn);
    return a ? tc__windowed_reshape(g, a, 3, flat) : NULL;
}

// [36, c, o] of the weight [1, 1, o, c * 9].
static tc__node *tc__winograd_factors(tc__graph *g, const tc__windowed *w) {
    static const int64_t taps[] = {0, 2, 3, 1}, turned[] = {1, 2, 0};
    int64_t size[] = {w->results, w->channels, TC__WINOGRAD_TAPS, TC__WINOGRAD_TAPS},
            flat[] = {w->results, TC__WINOGRAD_TILE * TC__WINOGRAD_TILE, w->channels};
    tc__node *a = g->node.at[w->weight->id];
    while (a->op == TC_OP_RESHAPE) a = tc__operand(g, a, 0);
    a = tc__windowed_reshape(g, tc__laid(g, a), 4, size);
    a = tc__windowed_permute(g, a, taps);
    a = tc__winograd_square(g, a, 1, 2, tc__winograd_weight, TC__WINOGRAD_TILE);
    a = tc__windowed_permute(g, a ? tc__windowed_reshape(g, a, 3, flat) : NULL, turned);
    return tc__laid_weight(g, w) ? tc__winograd_panels(g, w, a) : a;
}

// [n, 1, o, cells] of the products [36, n * tiles, o].
static tc__node *tc__winograd_results(tc__graph *g, const tc__windowed *w, tc__node *a) {
    static const int64_t tile[] = {2, 3, 0, 4, 1, 5}, first[] = {0, 3, 1, 2};
    tc__ix tile_of = tc__ix_const(TC__WINOGRAD_TILE), results = tc__ix_const(w->results),
           cells = tc__ix_mul(g->ix, w->out[0], w->out[1]);
    int64_t tiles[] = {tc__winograd_tiles(w->out[0]), tc__winograd_tiles(w->out[1])};
    tc__ix square[] = {
        tile_of, tile_of, w->images, tc__ix_const(tiles[0]), tc__ix_const(tiles[1]),
        results};
    tc__ix image[] = {w->images, tc__ix_const(tiles[0] * TC__WINOGRAD_OUT),
                      tc__ix_const(tiles[1] * TC__WINOGRAD_OUT), results};
    tc__ix all[] = {w->images, tc__ix_const(1), results, cells};
    a = tc__windowed_permute(g, tc__make_reshape(g, a, 6, square), tile);
    a = tc__winograd_square(g, a, 2, 4, tc__winograd_result, TC__WINOGRAD_OUT);
    a = tc__make_reshape(g, a, 4, image);
    for (int d = 0; d < 2; d++)
        a = tc__make_slice(g, a, 1 + d, tc__ix_const(0), w->out[d], tc__ix_const(1));
    return tc__make_reshape(g, tc__windowed_permute(g, a, first), 4, all);
}

static tc__node *tc__rule_winograd(tc__graph *g, const tc__node *n) {
    tc__windowed w;
    tc__ix dims[3];
    uint32_t in[2];
    if (!tc__winograd_of(g, n, &w)) return NULL;
    const tc__node *left = tc__winograd_tiled(g, &w), *right = tc__winograd_factors(g, &w);
    if (!left || !right) return NULL;
    memcpy(dims, left->dims, sizeof dims), dims[2] = right->dims[2];
    in[0] = left->id, in[1] = right->id;
    return tc__winograd_results(g, &w,
                                tc__make(g, TC_OP_MATMUL, TC_F32, 3, dims, in, 2, NULL, 0));
}

static int tc__pass_winograd(tc__rewrite *w) {
    return tc__rewrite_each(w, tc__rule_winograd);
}
