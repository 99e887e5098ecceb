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

static void tc__print_words_nodes(tc__printer *p, const tc__contract *q,
                                  const uint8_t *mark, int tail) {
    tc__line(p);
    tc__put(p->out, q->slice ? "for (tc_i64 w = k0; w < k1; w++)"
                             : "for (tc_i64 w = 0; w < depth; w++)");
    if (tail)
        tc__put(p->out, " for (tc_i64 c = p; c < p + %d; c += %d)", q->width, p->unit);
    tc__block_open(p);
    tc__print_words_row(p, q, mark, tail);
    tc__block_close(p);
}

// Columns that have their words in memory are turned.
static void tc__print_word_columns(tc__printer *p, const tc__contract *q) {
    const tc__node *n = tc__body(p, (uint32_t)q->dot.columns - 1);
    tc__ixpool *x = p->g->body.ix;
    tc__ix k = tc__ix_find_var(x, n->attr[TC__LOAD_INDEX], TC__DEPTH);
    tc__line(p);
    tc__put(p->out, "const tc_u8 *x[%d];\n", q->width);
    tc__line(p);
    tc__put(p->out, "for (int j = 0; j < %d; j++)", q->width);
    tc__block_open(p);
    tc__line(p);
    tc__put(p->out, "const tc_i64 c = tc_min(p + j, c1 - 1);\n");
    tc__line(p);
    tc__put(p->out, "x[j] = (const tc_u8 *)(");
    tc__put_at(p, n->attr[TC__LOAD_BUFFER],
               k ? tc__ix_subst(x, n->attr[TC__LOAD_INDEX], k, tc__ix_const(0))
                 : n->attr[TC__LOAD_INDEX]);
    tc__put(p->out, ");\n");
    tc__block_close(p);
    tc__line(p);
    tc__put(p->out, "tc_words(x, %d, %s, ", q->width, q->slice ? "k0, k1" : "0, depth");
    tc__put_ix(p, tc__ix_mul(x, tc__depth_of(p->g), tc__ix_const(4 / q->dot.each)));
    tc__put(p->out, ", panel);\n");
}

// Panel by panel of the right operand.
static void tc__print_words(tc__printer *p, const tc__contract *q, const uint8_t *mark) {
    tc__ixpool *x = p->g->body.ix;
    int whole = tc__ix_divisor(x, p->g->shape.cols) % q->width == 0 &&
                tc__ix_divisor(x, q->wide) % q->width == 0;
    tc__line(p);
    tc__put(p->out, "for (tc_i64 p = c0; p < c1; p += %d)", q->width);
    tc__block_open(p);
    tc__print_panel(p, q, "");
    if (q->dot.columns) {
        tc__print_word_columns(p, q);
    } else {
        if (!whole) {
            tc__line(p);
            tc__put(p->out, "if (p + %d <= c1)", q->width);
            tc__block_open(p);
        }
        tc__print_words_nodes(p, q, mark, 0);
        if (!whole) {
            p->indent--;
            tc__line(p);
            tc__put(p->out, "} else {\n");
            p->indent++;
            tc__print_words_nodes(p, q, mark, 1);
            tc__block_close(p);
        }
    }
    if (q->dot.bias) {
        tc__line(p);
        tc__put(p->out, "tc_bias_i8(panel, %s, %d, bias + (p - c0), %s);\n",
                tc__contract_deep(q), q->width, q->slice ? "k0" : "0");
    }
    tc__block_close(p);
}

// The vector at k of a row of the left operand.
static void tc__print_left_words(tc__printer *p, const tc__contract *q,
                                 const uint8_t *mark) {
    uint32_t id = tc__left_of(p->g);
    tc__print_needed(p, mark, 0);
    tc__line(p);
    tc__put(p->out, q->dot.left == TC_BF16 ? "tc_st_bf16((tc_u16 *)left_r + k, "
                    : q->dot.each == 4     ? "tc_st_u8((tc_u8 *)left_r + k, "
                                           : "tc_st_u16((tc_u16 *)left_r + k, ");
    tc__put_value(p, id, 0);
    tc__put(p->out, q->dot.bias ? " ^ 128);\n" : ");\n");
}

// What stands behind a row's values meets zeros of the panels: an integer of no matter which bits, but no infinity.
static void tc__print_left_rest(tc__printer *p, const tc__contract *q) {
    if (q->dot.each == 1 || q->dot.left != TC_BF16) return;
    tc__line(p);
    tc__put(p->out, "for (tc_i64 k = ");
    tc__put_ix(p, tc__depth_of(p->g));
    tc__put(p->out, "; k < 2 * ");
    tc__put_atom(p, tc__round_up(p->g->body.ix, q->depth, q->lanes), 0);
    tc__put(p->out, "; k++) ((tc_u16 *)left_r)[k] = 0;\n");
}

// ---- tiles ----

// Which of the eight tiles has which operand: sums are 0 to 3.
static int tc__tile_left(int i) { return 4 + i; }
static int tc__tile_right(const tc__contract *q, int j) {
    return 4 + q->rows / TC__DOT_TILE + j % 2;
}

static void tc__print_tile_sums(tc__printer *p, const tc__contract *q, const char *what) {
    int across = q->width / TC__DOT_TILE, down = q->rows / TC__DOT_TILE;
    for (int t = 0; t < across * down; t++) {
        tc__line(p);
        tc__put(p->out, "%s(%d, tile + %d * step + %d, step);\n", what, t,
                t / across * TC__DOT_TILE, t % across * TC__DOT_TILE);
    }
}

// `static void NAME_block(left rows, their pitch, panel, ...)`: all counted in words.
static void tc__print_tiles_block(tc__printer *p, const tc__contract *q,
                                  const char *symbol) {
    int across = q->width / TC__DOT_TILE, down = q->rows / TC__DOT_TILE;
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
        tc__print_tile_sums(p, q, "TC_TILE_LOAD");
        p->indent--;
        tc__line(p);
        tc__put(p->out, "} else {\n");
        p->indent++;
    }
    for (int t = 0; t < across * down; t++) {
        tc__line(p);
        tc__put(p->out, "TC_TILE_ZERO(%d);\n", t);
    }
    if (q->slice) tc__block_close(p);
    tc__line(p);
    tc__put(p->out, "for (tc_i64 w = 0; w < depth; w += %d)", TC__DOT_TILE);
    tc__block_open(p);
    for (int i = 0; i < down; i++) {
        tc__line(p);
        tc__put(p->out, "TC_TILE_LOAD(%d, left + %d * pitch + w, pitch);\n",
                tc__tile_left(i), i * TC__DOT_TILE);
    }
    for (int j = 0; j < across; j++) {
        tc__line(p);
        tc__put(p->out, "TC_TILE_LOAD(%d, panel + w * %d + %d, %d);\n",
                tc__tile_right(q, j), q->width, j * TC__DOT_TILE, q->width);
        for (int i = 0; i < down; i++) {
            tc__line(p);
            char op[] = "tdpbssd";
            if (q->dot.left == TC_U8) op[4] = 'u';
            if (q->dot.right == TC_U8) op[5] = 'u';
            tc__put(p->out, "TC_TILE_DOT(%s, %d, %d, %d);\n",
                    q->dot.left == TC_BF16 ? "tdpbf16ps" : op, i * across + j,
                    tc__tile_left(i), tc__tile_right(q, j));
        }
    }
    tc__block_close(p);
    tc__print_tile_sums(p, q, "TC_TILE_STORE");
    tc__block_close(p);
    tc__put(p->out, "\n");
}

// Panels outside, so that one stays in L1 for all rows.
static void tc__print_tiles_blocks(tc__printer *p, const tc__contract *q,
                                   const char *symbol) {
    char operands[160];
    tc__line(p);
    tc__put(p->out, "for (tc_i64 p = c0; p < c1; p += %d)", q->width);
    tc__block_open(p);
    tc__print_panel(p, q, "const ");
    tc__line(p);
    tc__put(p->out, "for (tc_i64 i = 0; i < r1 - r0; i += %d)", q->rows);
    tc__block_open(p);
    snprintf(operands, sizeof operands, "left + i * depth%s, depth, panel, %s",
             q->slice ? " + k0" : "", tc__contract_deep(q));
    tc__print_block_call(p, q, symbol, operands, "i");
    tc__block_close(p);
    tc__block_close(p);
}
