// The TEMPLATEs of a device's list on the host: a part of device_run.h. A tile of both operands is asked of its holes,
// multiplied in the order of k, and given to the hole of the result. In what order a text of the library reads, and
// with how many threads, is its own: tests/cuda run those.
#ifndef DEVICE_TEMPLATE_H
#define DEVICE_TEMPLATE_H

// What a block does of a product: rows and columns of the result, and its slice of k.
typedef struct run_tile {
    int64_t rows, cols, slices, length;           // of a tile; what of k a block has
    int64_t batch;                                // its first row,
    int64_t row, row_end, col, col_end, k, k_end; //   the tile's, and what there is
    int64_t block, slice;
} run_tile;

static run_tile run_tile_of(device_run *d, const tc__node *n) {
    const int64_t *number = n->attr + TC__TEMPLATE_NUMBERS;
    int tiles = n->attr[TC__TEMPLATE_NAME] == TC__TEMPLATE_TILES;
    int64_t cover = number[TC__SKINNY_COVER], few = number[TC__SKINNY_FEW];
    int by_rows = !tiles && number[TC__SKINNY_BY_ROWS];
    int64_t block = run_ix(d, n->attr[TC__TEMPLATE_BLOCK]),
            m = run_ix(d, n->attr[TC__TEMPLATE_ROWS]),
            cols = run_ix(d, n->attr[TC__TEMPLATE_COLS]),
            depth = run_ix(d, n->attr[TC__TEMPLATE_DEPTH]);
    run_tile t;
    t.rows = tiles ? number[TC__TILES_ROWS] : by_rows ? cover : few;
    t.cols = tiles ? number[TC__TILES_COLS] : by_rows ? few : cover;
    t.slices = number[tiles ? (int)TC__TILES_SLICES : (int)TC__SKINNY_SLICES];
    t.length = number[tiles ? (int)TC__TILES_LENGTH : (int)TC__SKINNY_LENGTH];
    t.slice = block % t.slices, t.block = block /= t.slices;
    int64_t high = (m + t.rows - 1) / t.rows, across = (cols + t.cols - 1) / t.cols;
    t.batch = block / (high * across) * m, block %= high * across;
    t.row = t.batch + block / across * t.rows, t.row_end = t.batch + m;
    t.col = block % across * t.cols, t.col_end = cols;
    if (t.row_end > t.row + t.rows) t.row_end = t.row + t.rows;
    if (t.col_end > t.col + t.cols) t.col_end = t.col + t.cols;
    t.k = t.slices > 1 ? t.slice * t.length : 0, t.k_end = depth;
    if (t.slices > 1 && t.k + t.length < depth) t.k_end = t.k + t.length;
    return t;
}

static const tc__node *run_hole(const device_run *d, const tc__node *n, tc__hole hole) {
    uint32_t end = tc__loop_end(d->k, n->id);
    for (uint32_t id = n->id + 1; id < end; id++) {
        const tc__node *h = d->k->body.node.at[id];
        if (h->op == TC_OP_HOLE && h->attr[TC__HOLE_HOLE] == (int64_t)hole) return h;
    }
    return NULL;
}

static void run_hole_at(device_run *d, const tc__node *hole, int64_t row, int64_t line,
                        int64_t deep) {
    const int64_t at[] = {row, line, deep};
    for (int i = 0; i < 3; i++)
        if (hole->attr[TC__HOLE_ROW + i] >= 0) d->var[hole->attr[TC__HOLE_ROW + i]] = at[i];
    run_statements(d, hole->id + 1, tc__loop_end(d->k, hole->id));
}

static int run_all(device_run *d, uint32_t begin, uint32_t end);

// The rows of the left operand that a block makes, in turns, by all its threads.
static void run_rows(device_run *d, const run_tile *t, const tc__node *n) {
    const tc__node *hole = run_hole(d, n, TC__HOLE_ROWS);
    if (!hole) return;
    int64_t making = n->attr[TC__TEMPLATE_NUMBERS + TC__SKINNY_MAKING],
            together = d->threads / making;
    for (int64_t turn = 0; turn * together < t->rows; turn++) {
        for (int i = 0; i < d->threads; i++) {
            int64_t r = t->row + turn * together + i / making;
            run_be(d, i);
            d->var[hole->attr[TC__HOLE_ROW]] = turn;
            d->var[hole->attr[TC__HOLE_LINE]] = r < t->row_end ? r : t->row_end - 1;
            d->var[hole->attr[TC__HOLE_DEEP]] = t->col;
        }
        run_all(d, hole->id + 1, tc__loop_end(d->k, hole->id));
    }
    run_be(d, 0);
}

// Elements of an operand or the result are numbers that a double holds.
static double run_given(const device_run *d, int64_t buffer, int64_t i) {
    const void *at = d->memory[buffer];
    switch (d->k->buffer.at[buffer].dtype) {
    case TC_F32: return (double)((const float *)at)[i];
    case TC_F64: return ((const double *)at)[i];
    case TC_I32: return (double)((const int32_t *)at)[i];
    case TC_I64: return (double)((const int64_t *)at)[i];
    default: FAIL("a dtype that this does not run"); exit(1);
    }
}

static void run_give(const device_run *d, int64_t buffer, int64_t i, double v) {
    void *at = d->memory[buffer];
    switch (d->k->buffer.at[buffer].dtype) {
    case TC_F32: ((float *)at)[i] = (float)v; return;
    case TC_F64: ((double *)at)[i] = v; return;
    case TC_I32: ((int32_t *)at)[i] = (int32_t)v; return;
    default: ((int64_t *)at)[i] = (int64_t)v;
    }
}

// Where accesses are said to lie apart by strides they do.
static void run_check_strides(device_run *d, const tc__node *hole, int64_t lines,
                              int64_t depth, int64_t *first) {
    const int64_t *a = hole->attr;
    if (!a[TC__HOLE_DEEP_STRIDE]) return;
    int64_t at = run_ix(d, d->k->body.node.at[hole->id + 1]->attr[TC__COPY_SOURCE]);
    if (!lines && !depth) *first = at;
    CHECK_EQ(at,
             *first + lines * a[TC__HOLE_LINE_STRIDE] + depth * a[TC__HOLE_DEEP_STRIDE]);
}

// An operand's lines from..to of the tile, [to - from][k_end - k]; owned by the caller.
static double *run_operand(device_run *d, const run_tile *t, const tc__node *n,
                           tc__hole which, int64_t from, int64_t to) {
    const tc__node *hole = run_hole(d, n, which), *ahead = run_hole(d, n, TC__HOLE_AHEAD),
                   *one = run_hole(d, n,
                                   which == TC__HOLE_LEFT ? TC__HOLE_LEFT_ONE
                                                          : TC__HOLE_RIGHT_ONE);
    int64_t depth = t->k_end - t->k, width = hole->attr[TC__HOLE_WIDTH], start = 0;
    int deep = hole->attr[TC__HOLE_ALONG] == (int64_t)TC__DEPTH;
    int64_t lines = deep ? 1 : width, places = deep ? width : 1;
    double *all = (double *)calloc((size_t)((to - from) * depth) + 1, sizeof *all);
    for (int64_t l = from; l < to; l += lines) {
        if (ahead)
            run_hole_at(d, ahead, t->row, l,
                        0); // of the wide operand; the other does not ask for it
        for (int64_t k = t->k; k < t->k_end; k += places) {
            // The left operand is told which of the block's rows.
            run_hole_at(d, hole, which == TC__HOLE_LEFT ? l - from : t->row, l, k);
            run_check_strides(d, hole, l - from, k - t->k, &start);
            for (int64_t i = 0; i < width; i++) {
                int64_t line = l + (deep ? 0 : i), place = k + (deep ? i : 0);
                CHECK(line < to && place < t->k_end); // whole accesses
                all[(line - from) * depth + place - t->k] =
                    run_given(d, hole->attr[TC__HOLE_BUFFER], i);
                if (!one) continue;
                run_hole_at(d, one, line, line, place);
                CHECK(run_given(d, one->attr[TC__HOLE_BUFFER], 0) ==
                      all[(line - from) * depth + place - t->k]);
            }
        }
    }
    return all;
}

// Sums of the tile over the block's slice of k, by rows of `cols`.
static double *run_products(device_run *d, const run_tile *t, const tc__node *n) {
    int64_t depth = t->k_end - t->k;
    double *left = run_operand(d, t, n, TC__HOLE_LEFT, t->row, t->row_end),
           *right = run_operand(d, t, n, TC__HOLE_RIGHT, t->col, t->col_end),
           *sum = (double *)calloc((size_t)(t->rows * t->cols), sizeof *sum);
    for (int64_t r = 0; r < t->row_end - t->row; r++)
        for (int64_t c = 0; c < t->col_end - t->col; c++)
            for (int64_t k = 0; k < depth; k++)
                sum[r * t->cols + c] += left[r * depth + k] * right[c * depth + k];
    free(left), free(right);
    return sum;
}

// Leaves the sums to the last of the blocks that share them: 1 = that is this one, which has all then.
static int run_meet(device_run *d, const run_tile *t, const tc__node *n, double *sum) {
    int64_t many = t->rows * t->cols, sums = n->attr[TC__TEMPLATE_SUMS];
    uint32_t *ticket =
        (uint32_t *)d->memory[n->attr[TC__TEMPLATE_TICKETS]] + t->block * (t->slices + 1);
    for (int64_t i = 0; i < many; i++)
        run_give(d, sums, (t->block * t->slices + t->slice) * many + i, sum[i]);
    if (++*ticket < t->slices) return 0;
    *ticket = 0;
    memset(sum, 0, (size_t)many * sizeof *sum);
    for (int64_t s = 0; s < t->slices; s++)
        for (int64_t i = 0; i < many; i++)
            sum[i] += run_given(d, sums, (t->block * t->slices + s) * many + i);
    return 1;
}

// TEMPLATE n, by thread 0 for all of the block but the rows that it makes.
static void run_template(device_run *d, const tc__node *n) {
    run_tile t = run_tile_of(d, n);
    const tc__node *result = run_hole(d, n, TC__HOLE_RESULT);
    int64_t width = result->attr[TC__HOLE_WIDTH];
    const tc__node *early = run_hole(d, n, TC__HOLE_EARLY);
    run_rows(d, &t, n);
    double *sum = run_products(d, &t, n);
    if (t.slices == 1 || run_meet(d, &t, n, sum))
        for (int64_t r = t.row; r < t.row_end; r++)
            for (int64_t c = t.col; c < t.col_end; c += width) {
                for (int64_t i = 0; i < width; i++)
                    run_give(d, result->attr[TC__HOLE_BUFFER], i,
                             sum[(r - t.row) * t.cols + c - t.col + i]);
                if (early) run_hole_at(d, early, r, c, 0);
                run_hole_at(d, result, r, c, 0);
            }
    free(sum);
}

#endif
