// Contractions in the interpreter: a tile of rows x columns of the product, then the
// epilogue over its rows. Operands are whatever the LEFT and RIGHT nodes compute: they are
// evaluated in blocks and packed, left as [rows/4][k][4], right as [columns/16][k][16]. A
// right operand that lies in memory with columns side by side is used where it is. Every
// element is summed over k in order: blocks of k go on from the partial sums in the tile. A kernel of several
// parts takes a block of rows through all of them; what one has made for the next is a row for each of the block.

enum {
    TC__TILE_MAX_COLS = 256, // of one packed panel of the right operand
    TC__TILE_MAX_DEPTH = 256
};

typedef struct tc__tile {
    uint8_t *left, *right, *out;  // packed operands; partial sums
    int64_t width;                // bytes of an element
    int64_t row, rows, col, cols; // what the tile covers
    int64_t ldc;                  // elements from row to row of `out`
} tc__tile;

static int64_t tc__tile_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

static int64_t tc__tile_depth(const tc__interp *p) {
    return tc__lesser(p->block, TC__TILE_MAX_DEPTH);
}

// Columns of a tile: all of them where the epilogue has more than one pass over the row.
static int64_t tc__tile_cols(const tc__frame *f) {
    int64_t cols = tc__tile_up(tc__expr_at(f, &f->part->cols, 0), TC__TILE_COLS);
    if (f->p->acc.count || cols < TC__TILE_MAX_COLS) return cols;
    return TC__TILE_MAX_COLS;
}

// Places the parts of a tile at `at`, NULL = nowhere; returns their size.
static size_t tc__tile_open(const tc__frame *f, tc__tile *t, uint8_t *at) {
    int64_t depth = tc__tile_depth(f->p), left, right;
    t->width = tc__reg_width(f->part->dtype);
    t->ldc = tc__tile_cols(f);
    left = TC__TILE_MAX_ROWS * depth * t->width;
    right = TC__TILE_MAX_COLS * depth * t->width;
    if (at) t->left = at, t->right = at + left, t->out = at + left + right;
    return (size_t)(left + right + TC__TILE_MAX_ROWS * t->ldc * t->width);
}

// d[j * step] = x[j]
static void tc__tile_pack(const tc__tile *t, uint8_t *d, int64_t step, const tc__reg *x,
                          int64_t n) {
    if (step == 1 && x->mask)
        memcpy(d, x->at, (size_t)(n * t->width));
    else
        tc__copy_steps(d, step, x->at, x->mask ? 1 : 0, t->width, n);
}

static const tc__reg *tc__tile_values(tc__frame *f, const tc__section *s, uint32_t node,
                                      int64_t n) {
    f->axis = s->axis;
    f->n = n;
    tc__section_run(f, s);
    return &f->reg[node];
}

// Element (row, i) of the left operand is at [row / 4][i][row % 4].
static uint8_t *tc__tile_left_at(const tc__tile *t, int64_t row, int64_t depth) {
    return t->left +
           (row / TC__TILE_ROWS * depth * TC__TILE_ROWS + row % TC__TILE_ROWS) * t->width;
}

static void tc__tile_pack_left(tc__frame *f, const tc__tile *t, int64_t k, int64_t depth) {
    const tc__interp_part *p = f->part;
    int64_t rows = tc__tile_up(t->rows, TC__TILE_ROWS), group = TC__TILE_ROWS * t->width;
    if (rows > t->rows)
        memset(tc__tile_left_at(t, rows - TC__TILE_ROWS, depth), 0,
               (size_t)(depth * group));
    if (p->left.axis == TC__DEPTH) {
        for (int64_t r = 0; r < t->rows; r++) {
            tc__frame_row(f, t->row, r);
            f->var[TC__DEPTH] = k;
            tc__tile_pack(t, tc__tile_left_at(t, r, depth), TC__TILE_ROWS,
                          tc__tile_values(f, &p->left, p->left_node, depth), depth);
        }
        return;
    }
    for (int64_t i = 0; i < depth; i++) {
        f->var[TC__ROW] = t->row, f->var[TC__DEPTH] = k + i;
        tc__reg x = *tc__tile_values(f, &p->left, p->left_node, t->rows);
        for (int64_t r = 0; r < t->rows; r++) {
            tc__tile_pack(t, tc__tile_left_at(t, r, depth) + i * group, 1, &x, 1);
            x.at = (uint8_t *)x.at + (x.mask ? t->width : 0);
        }
    }
}

// Columns [c, c + cols) of the right operand; element (i, j) is at [j / 16][i][j % 16].
static void tc__tile_pack_right(tc__frame *f, const tc__tile *t, int64_t k, int64_t depth,
                                int64_t c, int64_t cols) {
    const tc__interp_part *p = f->part;
    int64_t panel = depth * TC__TILE_COLS * t->width, wide = TC__TILE_COLS * t->width;
    f->var[TC__ROW] = t->row;
    if (cols % TC__TILE_COLS)
        memset(t->right + cols / TC__TILE_COLS * panel, 0, (size_t)panel);
    if (p->right.axis == TC__DEPTH) {
        for (int64_t j = 0; j < cols; j++) {
            f->var[TC__DEPTH] = k, f->var[TC__COL] = c + j;
            tc__tile_pack(
                t, t->right + j / TC__TILE_COLS * panel + j % TC__TILE_COLS * t->width,
                TC__TILE_COLS, tc__tile_values(f, &p->right, p->right_node, depth), depth);
        }
        return;
    }
    for (int64_t i = 0; i < depth; i++) {
        f->var[TC__DEPTH] = k + i, f->var[TC__COL] = c;
        tc__reg x = *tc__tile_values(f, &p->right, p->right_node, cols);
        for (int64_t j = 0; j < cols; j += TC__TILE_COLS) {
            int64_t n = tc__lesser(cols - j, TC__TILE_COLS);
            tc__tile_pack(t, t->right + j / TC__TILE_COLS * panel + i * wide, 1, &x, n);
            x.at = (uint8_t *)x.at + (x.mask ? n * t->width : 0);
        }
    }
}

// The right operand at (k, c) in memory and the distance of its rows, or NULL: pack it.
static const uint8_t *tc__tile_direct(tc__frame *f, const tc__tile *t, int64_t k, int64_t c,
                                      int64_t *ldb) {
    const tc__path *path;
    if (f->part->right_path == UINT32_MAX) return NULL;
    path = &f->p->path.at[f->part->right_path];
    f->axis = TC__COL;
    f->var[TC__ROW] = t->row, f->var[TC__DEPTH] = k, f->var[TC__COL] = c;
    *ldb = tc__expr_at(f, &f->part->right_step, 0);
    return (const uint8_t *)f->base[path->buffer] +
           tc__expr_at(f, &path->index.at, 0) * t->width;
}

// The rows of the tile times 16 columns of right operand at b.
static void tc__tile_column(tc__frame *f, const tc__tile *t, int64_t col, const uint8_t *b,
                            int64_t ldb, int64_t k, int64_t depth) {
    tc__tile_fn step = f->isa->tile[tc__dtype(f->part->dtype)->reg];
    for (int64_t r = 0; r < t->rows; r += TC__TILE_ROWS) {
        step(t->out + (r * t->ldc + col) * t->width, t->ldc, tc__tile_left_at(t, r, depth),
             b, ldb, depth, k == 0);
    }
}

static void tc__tile_panel(tc__frame *f, const tc__tile *t, int64_t k, int64_t depth,
                           int64_t at, int64_t cols) {
    int64_t ldb = 0, whole = 0, panel = depth * TC__TILE_COLS * t->width;
    const uint8_t *b = tc__tile_direct(f, t, k, t->col + at, &ldb);
    if (b) whole = cols / TC__TILE_COLS * TC__TILE_COLS;
    for (int64_t j = 0; j < whole; j += TC__TILE_COLS)
        tc__tile_column(f, t, at + j, b + j * t->width, ldb, k, depth);
    if (whole == cols) return;
    tc__tile_pack_right(f, t, k, depth, t->col + at + whole, cols - whole);
    for (int64_t j = whole; j < cols; j += TC__TILE_COLS)
        tc__tile_column(f, t, at + j, t->right + (j - whole) / TC__TILE_COLS * panel,
                        TC__TILE_COLS, k, depth);
}

// The sums of the tile over all of k.
static void tc__tile_fill(tc__frame *f, const tc__tile *t) {
    int64_t all = tc__expr_at(f, &f->part->depth, 0), depth, cols;
    int64_t elements = TC__TILE_MAX_ROWS * t->ldc;
    if (!all) memset(t->out, 0, (size_t)(elements * t->width));
    for (int64_t k = 0; k < all; k += depth) {
        depth = tc__lesser(all - k, tc__tile_depth(f->p));
        tc__tile_pack_left(f, t, k, depth);
        for (int64_t at = 0; at < t->cols; at += cols) {
            cols = tc__lesser(t->cols - at, tc__lesser(TC__TILE_MAX_COLS, f->p->block));
            tc__tile_panel(f, t, k, depth, at, cols);
        }
    }
}

// The loop over rows of the part, on those of the tile: the epilogue, where there is a product.
static void tc__tile_rows(tc__frame *f, const tc__tile *t) {
    f->col_lo = t->col, f->col_hi = t->col + t->cols;
    for (int64_t r = 0; r < t->rows; r++) {
        f->axis = TC__COL;
        tc__frame_row(f, t->row, r);
        f->tile_row = f->part->product ? t->out + (r * t->ldc - t->col) * t->width : NULL;
        tc__section_run(f, &f->part->main);
    }
}

// The part at hand on columns [lo, hi) of the rows of the tile.
static void tc__contract_columns_of(tc__frame *f, tc__tile *t, int64_t lo, int64_t hi) {
    (void)tc__tile_open(f, t, f->tile_area);
    for (t->col = lo; t->col < hi; t->col += t->cols) {
        t->cols = tc__lesser(hi - t->col, t->ldc);
        tc__tile_fill(f, t);
        tc__tile_rows(f, t);
    }
}

// A part on the rows of the tile.
static void tc__contract_part(tc__frame *f, tc__tile *t, const tc__interp_part *part) {
    f->part = part;
    t->col = 0, t->cols = tc__expr_at(f, &part->cols, 0);
    if (part->product)
        tc__contract_columns_of(f, t, 0, t->cols);
    else
        tc__tile_rows(f, t);
}

// Rows [row, end) of one batch: of a kernel that is one part, its columns [lo, hi).
static void tc__contract_rows(tc__frame *f, int64_t row, int64_t end, int64_t lo,
                              int64_t hi) {
    tc__tile t;
    memset(&t, 0, sizeof t);
    for (t.row = row; t.row < end; t.row += t.rows) {
        t.rows = tc__lesser(end - t.row, TC__TILE_MAX_ROWS);
        if (f->p->part.count == 1) tc__contract_columns_of(f, &t, lo, hi);
        for (size_t i = 0; f->p->part.count > 1 && i < f->p->part.count; i++)
            tc__contract_part(f, &t, &f->p->part.at[i]);
    }
}

// Items: blocks of `grain` rows, of every block of columns, of every batch in turn. Neighbours are
// done together: packing the right operand pays for many rows.
static void tc__contract_run(tc__frame *f) {
    const tc__interp *p = f->p;
    int64_t batch = tc__expr_at(f, &p->batch, 0), rows = tc__expr_at(f, &p->rows, 0);
    int64_t cols = tc__expr_at(f, &f->part->cols, 0),
            wide = tc__expr_at(f, &f->part->wide, 0);
    int64_t grain = p->grain > 0 ? p->grain : 1, last;
    if (!rows || !batch || (!cols && p->part.count == 1)) return;
    int64_t each = rows / batch, per = (each + grain - 1) / grain;
    int64_t blocks = p->part.count > 1 ? 1 : (cols + wide - 1) / wide;
    for (int64_t i = f->lo; i < f->hi; i = last) {
        int64_t panel = i / per, first = panel / blocks * each, at = panel % blocks * wide;
        last = tc__lesser(f->hi, (panel + 1) * per);
        tc__contract_rows(f, first + i % per * grain,
                          first + tc__lesser(each, (i % per + last - i) * grain), at,
                          tc__lesser(cols, at + wide));
    }
}
