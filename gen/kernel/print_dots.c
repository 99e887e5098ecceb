// Words of narrow values in C (dots.c): how panels and rows are made of them, the block of AMX's tiles, and the loops around it.

// `s0_1 = tc_dot_i8(s0_1, x0, b1);`: the products of a word each; of bytes, those without a sign come first.
static void tc__put_dot(tc__printer *p, const tc__dot_plan *d, int i, int j) {
    int turn = d->each == 4 && d->right == TC_U8;
    const char *op = d->left == TC_BF16                   ? "dot_bf16"
                     : d->each == 4                       ? "dot_i8"
                     : p->g->shape.dots >= TC__DOTS_BYTES ? "dot_i16"
                                                          : "madd_i16";
    if (turn)
        tc__put(p->out, "s%d_%d = tc_%s(s%d_%d, b%d, x%d);\n", i, j, op, i, j, j, i);
    else
        tc__put(p->out, "s%d_%d = tc_%s(s%d_%d, x%d, b%d);\n", i, j, op, i, j, i, j);
}

// `for (tc_i64 k = w * 4; k < tc_min(w * 4 + 4, 766); k++) {`: the values of word w.
static void tc__print_word_open(tc__printer *p, const tc__contract *q) {
    int each = q->dot.each;
    tc__line(p);
    tc__put(p->out, "for (tc_i64 k = w * %d; k < tc_min(w * %d + %d, ", each, each, each);
    tc__put_ix(p, tc__depth_of(p->g));
    tc__put(p->out, "); k++)");
    tc__block_open(p);
}

// What row w of the panel at p gets; `tail`: the vector of its columns at c.
static void tc__print_words_row(tc__printer *p, const tc__contract *q, const uint8_t *mark,
                                int tail) {
    int each = q->dot.each;
    p->axis = TC__COL, p->tail = tail, p->copies = tail ? 1 : q->width / q->lanes;
    for (int j = 0; j < p->copies; j++) {
        tc__line(p);
        tc__put(p->out, "tc_vi w%d = TC_K_i32(0);\n", j);
    }
    tc__print_word_open(p, q);
    tc__line(p);
    if (tail)
        tc__put(p->out, "const int n = (int)tc_max(0, tc_min(c1 - c, %d));\n", p->unit);
    else
        tc__put(p->out, "const tc_i64 c = p;\n");
    tc__print_needed(p, mark, 0);
    for (int j = 0; j < p->copies; j++) {
        tc__line(p);
        tc__put(p->out, q->dot.left == TC_BF16 ? "w%d |= (TC_BITS_f32(" : "w%d |= (", j);
        tc__put_value(p, tc__right_of(p->g), j);
        if (q->dot.left == TC_BF16) tc__put(p->out, ") >> 16");
        tc__put(p->out, each == 4 ? " & 255) << (int)(k %% 4 * 8);\n"
                                  : " & 65535) << (int)(k %% 2 * 16);\n");
    }
    if (!tail) {
        tc__line(p);
        tc__put(p->out, "(void)c;\n");
    }
    tc__block_close(p);
    for (int j = 0; j < p->copies; j++) {
        tc__line(p);
        tc__put(p->out, "tc_st_i32(panel + %s * %d%s + %d, w%d);\n",
                q->slice ? "(w - k0)" : "w", q->width, tail ? " + (c - p)" : "",
                j * p->unit, j);
    }
    p->tail = 0, p->copies = 1;
}

// Where the words of a row or column begin in memory, of the LOAD that has them.
static void tc__put_words_at(tc__printer *p, int load) {
    const tc__node *n = tc__body(p, (uint32_t)load - 1);
    tc__ixpool *x = p->g->body.ix;
    tc__ix at = n->attr[TC__LOAD_INDEX], k = tc__ix_find_var(x, at, TC__DEPTH);
    tc__put(p->out, "(const tc_u8 *)(");
    if (tc__buffer_of(p->g, n)->place == TC__BUF_MADE) {
        tc__put_made(p, n->attr[TC__LOAD_BUFFER]);
        tc__put(p->out, ")");
        return;
    }
    tc__put_at(p, n->attr[TC__LOAD_BUFFER],
               k ? tc__ix_subst(x, at, k, tc__ix_const(0)) : at);
    tc__put(p->out, ")");
}

// How many bytes it has.
static void tc__put_bytes(tc__printer *p, int load) {
    int64_t each = tc__dtypes[tc__body(p, (uint32_t)load - 1)->dtype].bytes;
    tc__put_ix(p, tc__ix_mul(p->g->body.ix, tc__depth_of(p->g), tc__ix_const(each)));
}

// `const tc_u8 *x[64]; for (j...) x[j] = ...;`: where columns or rows begin whose words are in memory.
static void tc__print_word_pointers(tc__printer *p, int load, int count, const char *let,
                                    const char *name) {
    tc__line(p);
    tc__put(p->out, "const tc_u8 *%s[%d];\n", name, count);
    tc__line(p);
    tc__put(p->out, "for (int j = 0; j < %d; j++)", count);
    tc__block_open(p);
    tc__line(p);
    tc__put(p->out, "const tc_i64 %s;\n", let);
    tc__line(p);
    tc__put(p->out, "%s[j] = ", name);
    tc__put_words_at(p, load);
    tc__put(p->out, ";\n");
    tc__block_close(p);
}

// `count` columns from p on, or rows from i on, which have their words in memory, become a panel of these words.
static void tc__print_words_turned(tc__printer *p, const tc__contract *q, int load,
                                   int count, const char *let, const char *words) {
    tc__print_word_pointers(p, load, count, let, "x");
    tc__line(p);
    if (q->split)
        tc__put(p->out, "tc_split_%s(x, %d, %s, ", tc__narrow_name(q, load), count, words);
    else
        tc__put(p->out, "tc_words(x, %d, %s, ", count, words);
    tc__put_bytes(p, load);
    tc__put(p->out, ", panel);\n");
}

// What a panel has beside its words.
static void tc__print_panel_bias(tc__printer *p, const tc__contract *q) {
    if (!q->dot.bias) return;
    tc__line(p);
    tc__put(p->out, "tc_bias_i8(panel, %s, %d, bias + (p - c0), %s);\n",
            tc__contract_deep(q), q->width, q->slice && !q->late ? "k0" : "0");
}

// `left_r`, where row `at` of those in `left` begins: words one behind the other, or 16 in each tile of 16 rows.
static void tc__print_left_row(tc__printer *p, const tc__contract *q, const char *at,
                               const char *deep) {
    tc__line(p);
    if (q->dot.tiles) {
        tc__put(p->out, "tc_i32 *left_r = left + %s / 16 * 16 * %s + %s %% 16 * 16;\n", at,
                deep, at);
        return;
    }
    tc__put(p->out, "tc_i32 *left_r = left + %s * ", at);
    tc__put_atom(p, tc__round_up(p->g->body.ix, q->depth, q->lanes), 0);
    tc__put(p->out, ";\n");
}

// It gets words that lie in memory, of a row or column, those of a slice if there is one. `ahead`: bytes to what is asked for.
static void tc__print_left_copy(tc__printer *p, const tc__contract *q, int load, int sliced,
                                long long ahead) {
    tc__line(p);
    tc__put(p->out, "tc_words_row(left_r, %d, ", q->dot.tiles ? 256 : 16);
    tc__put_words_at(p, load);
    tc__put(p->out, sliced ? " + 4 * k0, " : ", ");
    tc__put_bytes(p, load);
    tc__put(p->out, "%s, %s, %s, %lld);\n", sliced ? " - 4 * k0" : "",
            sliced ? "k1 - k0" : "depth", q->dot.bias ? "(tc_i32)0x80808080" : "0", ahead);
}

// Element k of it, counted in elements.
static void tc__put_left_at(tc__printer *p, const tc__contract *q) {
    int chunk = TC__DOT_TILE * q->dot.each;
    tc__put(p->out, q->dot.each == 4 ? "(tc_u8 *)" : "(tc_u16 *)");
    if (q->dot.tiles)
        tc__put(p->out, "(left_r + k / %d * 256) + k %% %d", chunk, chunk);
    else
        tc__put(p->out, "left_r + k");
}

// What meets bytes that are pairs is dealt as these are.
static void tc__print_left_deal(tc__printer *p, const tc__contract *q) {
    if (q->dot.split) tc__line(p), tc__put(p->out, "tc_deal_pairs(left_r, depth);\n");
}

// Row r of the left operand, in words. What stands behind its values meets zeros of the panels: of an integer, no matter
// which bits, of bf16 no infinity.
static void tc__print_left_words(tc__printer *p, const tc__contract *q,
                                 const uint8_t *mark) {
    int bf16 = q->dot.left == TC_BF16;
    tc__ixpool *x = p->g->body.ix;
    tc__ix depth = tc__depth_of(p->g);
    tc__print_left_row(p, q, "(r - r0)", "depth");
    if (q->dot.rows) {
        tc__print_left_copy(p, q, q->dot.rows, 0, 0);
        tc__print_left_deal(p, q);
        return;
    }
    tc__print_made_rows(p, p->g->shape.prologue, tc__contract_rows_loop(p));
    tc__print_needed(p, mark, 1);
    tc__line(p);
    tc__put(p->out, "tc_i64 k = 0;\n");
    for (int tail = 0; tail < 1 + (tc__ix_divisor(x, depth) % p->unit != 0); tail++) {
        tc__print_left_step(p, depth, tail);
        tc__print_needed(p, mark, 0);
        tc__line(p);
        tc__put(p->out, bf16               ? "tc_st_bf16("
                        : q->dot.each == 4 ? "tc_st_u8("
                                           : "tc_st_u16(");
        tc__put_left_at(p, q);
        tc__put(p->out, ", ");
        tc__put_value(p, tc__left_of(p->g), 0);
        tc__put(p->out, q->dot.bias ? " ^ 128);\n" : ");\n");
        tc__print_left_close(p);
    }
    tc__print_left_deal(p, q);
    if (!bf16) return;
    tc__line(p);
    tc__put(p->out, "for (k = ");
    tc__put_ix(p, depth);
    tc__put(p->out, "; k < 2 * depth; k++) *(");
    tc__put_left_at(p, q);
    tc__put(p->out, ") = 0;\n");
}

// ---- tiles ----

// What a kernel with tiles begins and ends with.
static void tc__print_tiles_open(tc__printer *p, int tiles) {
    if (tiles) tc__line(p), tc__put(p->out, "tc_tiles_open();\n");
}

static void tc__print_tiles_close(tc__printer *p, int tiles) {
    if (tiles) tc__line(p), tc__put(p->out, "tc_tiles_close();\n");
}

// A block of tiles: sums are tiles 0 to 3, rows of the left of which behind them, then the right's.
typedef struct tc__tile_form {
    int down, across; // tiles
    char op[12];
} tc__tile_form;

static tc__tile_form tc__tile_form_of(const tc__contract *q) {
    tc__tile_form f;
    int rows = q->rows / TC__DOT_TILE, columns = q->width / TC__DOT_TILE;
    int left = q->dot.turned ? q->dot.right : q->dot.left,
        right = q->dot.turned ? q->dot.left : q->dot.right;
    f.down = q->dot.turned ? columns : rows, f.across = q->dot.turned ? rows : columns;
    snprintf(f.op, sizeof f.op, "tdpb%c%cd", left == TC_U8 ? 'u' : 's',
             right == TC_U8 ? 'u' : 's');
    if (left == TC_BF16) snprintf(f.op, sizeof f.op, "tdpbf16ps");
    return f;
}

static void tc__print_tile_sums(tc__printer *p, tc__tile_form f, const char *what) {
    for (int t = 0; t < f.across * f.down; t++) {
        tc__line(p);
        tc__put(p->out, "%s(%d, tile + %d * step + %d, step);\n", what, t,
                t / f.across * TC__DOT_TILE, t % f.across * TC__DOT_TILE);
    }
}

// 16 words of the depth.
static void tc__print_tile_step(tc__printer *p, tc__tile_form f) {
    for (int i = 0; i < f.down; i++) {
        tc__line(p);
        tc__put(p->out, "TC_TILE_LOAD(%d, left + ", 4 + i);
        if (i) tc__put(p->out, i > 1 ? "%d * pitch + " : "pitch + ", i);
        tc__put(p->out, "w * 16, 16);\n");
    }
    for (int j = 0; j < f.across; j++) {
        int right = 4 + f.down + j % 2, wide = f.across * TC__DOT_TILE;
        tc__line(p);
        tc__put(p->out, "TC_TILE_LOAD(%d, panel + w * %d + %d, %d);\n", right, wide,
                j * TC__DOT_TILE, wide);
        for (int i = 0; i < f.down; i++) {
            tc__line(p);
            tc__put(p->out, "TC_TILE_DOT(%s, %d, %d, %d);\n", f.op, i * f.across + j, 4 + i,
                    right);
        }
    }
}

// 32 k of a block of 2 x 2 tiles: each step loads one operand's third.
static void tc__print_thirds_step(tc__printer *p, tc__tile_form f) {
    static const int8_t of[][2] = {{2, 0}, {1, 0}, {1, 1}, {0, 1}, {0, 2}, {0, 0}};
    int wide = f.across * TC__DOT_TILE, left = -1, right = -1;
    for (size_t s = 0; s < TC__COUNT(of); s++) {
        for (int i = 0; of[s][0] != left && i < f.down; i++) {
            tc__line(p);
            tc__put(p->out, "TC_TILE_LOAD(%d, left + ", 4 + i);
            if (i) tc__put(p->out, "pitch + ");
            tc__put(p->out, "w * 16 + %d, 16);\n", of[s][0] * TC__DOT_TILE * TC__DOT_TILE);
        }
        for (int j = 0; of[s][1] != right && j < f.across; j++) {
            tc__line(p);
            tc__put(p->out, "TC_TILE_LOAD(%d, panel + w * %d + %d, %d);\n", 4 + f.down + j,
                    wide, (of[s][1] * wide + j) * TC__DOT_TILE, wide);
        }
        left = of[s][0], right = of[s][1];
        for (int t = 0; t < f.down * f.across; t++) {
            tc__line(p);
            tc__put(p->out, "TC_TILE_DOT(%s, %d, %d, %d);\n", f.op, t, 4 + t / f.across,
                    4 + f.down + t % f.across);
        }
    }
}

// `static void NAME_block(tiles of rows, from 16 rows to the next, panel, ...)`: all counted in words.
static void tc__print_tiles_block(tc__printer *p, const tc__contract *q,
                                  const char *symbol) {
    tc__tile_form f = tc__tile_form_of(q);
    tc__put(
        p->out,
        "static __attribute__((noinline)) void %s_block(const tc_i32 *left, tc_i64 pitch, "
        "const tc_i32 *panel,\n        tc_i64 depth, %s *tile, tc_i64 step%s)",
        symbol, p->d->scalar[q->cls], q->slice ? ", tc_i64 more" : "");
    tc__block_open(p);
    if (q->slice) {
        tc__line(p);
        tc__put(p->out, "if (more)");
        tc__block_open(p);
        tc__print_tile_sums(p, f, "TC_TILE_LOAD");
        p->indent--;
        tc__line(p);
        tc__put(p->out, "} else {\n");
        p->indent++;
    }
    for (int t = 0; t < f.across * f.down; t++) {
        tc__line(p);
        tc__put(p->out, "TC_TILE_ZERO(%d);\n", t);
    }
    if (q->slice) tc__block_close(p);
    tc__line(p);
    tc__put(p->out, "for (tc_i64 w = 0; w < depth; w += %d)",
            q->dot.thirds ? (int)TC__THIRDS_WORDS : (int)TC__DOT_TILE);
    tc__block_open(p);
    if (q->dot.thirds)
        tc__print_thirds_step(p, f);
    else
        tc__print_tile_step(p, f);
    tc__block_close(p);
    tc__print_tile_sums(p, f, "TC_TILE_STORE");
    tc__block_close(p);
    tc__put(p->out, "\n");
}

// Panels outside, so that one stays in L1 for all rows; inside where a mask hides some of them from rows.
static void tc__print_tiles_blocks(tc__printer *p, const tc__contract *q,
                                   const char *symbol) {
    char operands[160];
    tc__ix seen;
    int masked = tc__seen_columns(p->g, &seen);
    if (!masked) {
        tc__line(p);
        tc__put(p->out, "for (tc_i64 p = c0; p < c1; p += %d)", q->width);
        tc__block_open(p);
    }
    tc__line(p);
    tc__put(p->out, "for (tc_i64 i = r0; i < r1; i += %d)", q->rows);
    tc__block_open(p);
    if (masked) tc__print_panels_loop(p, q);
    tc__print_panel(p, q, "const ");
    snprintf(operands, sizeof operands, "left + (i - r0) * depth%s, 16 * depth, panel, %s",
             q->slice ? " + k0 * 16" : "", tc__contract_deep(q));
    tc__print_block_call(p, q, symbol, operands, "(i - r0)");
    tc__block_close(p);
    tc__block_close(p);
}

// Bytes from a block of columns to the next, which is asked for meanwhile; 0 = not known.
static long long tc__tiles_ahead(const tc__printer *p, const tc__contract *q) {
    const tc__node *n = tc__body(p, (uint32_t)q->dot.columns - 1);
    tc__ixrun run = tc__ix_run(p->g->body.ix, n->attr[TC__LOAD_INDEX], TC__COL);
    if (!run.ok || !tc__ix_is_const(run.stride)) return 0;
    return (long long)tc__ix_value(run.stride) * q->width * (4 / q->dot.each);
}

// A block of columns, in slices of the depth: words of both sides come from the L1 then, but for those of panels.
static void tc__print_tiles_slice(tc__printer *p, const tc__contract *q,
                                  const char *symbol) {
    tc__line(p);
    tc__put(p->out, "for (int j = 0; j < %d; j++)", q->width);
    tc__block_open(p);
    tc__line(p);
    tc__put(p->out, "const tc_i64 c = tc_min(p + j, c1 - 1), r = r0;\n");
    tc__line(p);
    tc__put(p->out, "(void)r;\n");
    tc__print_left_row(p, q, "j", q->slice ? "slice" : "depth");
    tc__print_left_copy(p, q, q->dot.columns, q->slice != 0, tc__tiles_ahead(p, q));
    tc__block_close(p);
    tc__line(p);
    tc__put(p->out, "for (tc_i64 i = 0; i < r1 - r0; i += %d)\n", q->rows);
    tc__line(p);
    if (q->slice)
        tc__put(
            p->out,
            "    %s_block(left, 16 * slice, pack + i * depth + k0 * %d, k1 - k0, flip + i * "
            "%d, %d, k0);\n",
            symbol, q->rows, q->width, q->rows);
    else
        tc__put(
            p->out,
            "    %s_block(left, 16 * depth, pack + i * depth, depth, flip + i * %d, %d);\n",
            symbol, q->width, q->rows);
}

// Tiles of columns by rows: the item's rows are the panels, packed once for all its columns, which are copied to `left` by two tiles.
static void tc__print_tiles_turned(tc__printer *p, const tc__contract *q,
                                   const char *symbol) {
    tc__pack_open(p, q, "panels / col_blocks");
    tc__line(p);
    tc__put(p->out, "for (tc_i64 i = r0; i < r1; i += %d)", q->rows);
    tc__block_open(p);
    tc__line(p);
    tc__put(p->out, "tc_i32 *panel = pack + (i - r0) * depth;\n");
    tc__print_words_turned(p, q, q->dot.rows, q->rows, "r = tc_min(i + j, r1 - 1)",
                           "0, depth");
    tc__block_close(p);
    tc__pack_close(p, q, "panels / col_blocks");
    tc__line(p);
    tc__put(p->out, "for (tc_i64 p = c0; p < c1; p += %d)", q->width);
    tc__block_open(p);
    if (q->slice) tc__print_slices(p);
    tc__print_tiles_slice(p, q, symbol);
    if (q->slice) tc__block_close(p);
    tc__line(p);
    tc__put(p->out, "for (tc_i64 i = 0; i < r1 - r0; i += %d)\n", q->rows);
    tc__line(p);
    tc__put(p->out, "    tc_flip_f32((const float *)(void *)(flip + i * %d), %d, %d,\n",
            q->width, q->rows, q->width);
    tc__line(p);
    tc__put(p->out, "        (float *)(void *)(tile + i * wide + (p - c0)), wide);\n");
    tc__block_close(p);
}
