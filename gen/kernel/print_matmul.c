// Contractions in C: a template with holes. The product of a block of rows and a block of
// columns is made by a small function that keeps rows x width sums in registers and adds k
// in order, one fma a step; its result lies in a tile, where the epilogue (the rest of the
// LOOP list) reads it row by row while it is warm.
//
//   pack    the right operand, k-major in panels of `width` columns: the nodes of level
//           RIGHT are evaluated there, so casts, predicates and any index cost nothing later
//   left    rows of the left operand in place when k moves by a constant, else evaluated; where
//           k is far apart and several panels read them, evaluated by vectors of rows, k-major
//   slice   a long depth goes slice by slice, each adding to the tile
//   tall    many rows use a panel's slice at once: it is read in memory, or packed there and then
//   direct  where the epilogue is a store and nothing else, whole blocks lie in the result
//   flip    few rows and weights stored [columns, k]: the panel holds the rows, columns are
//           read in place, the tile is transposed at the end; fma(a, b, c) = fma(b, a, c)
//
// Blocks, items and scratch are chosen in contract.c.

// ---- the block in registers ----

// One line for each sum of row i, of the block's text.
typedef enum tc__sum_line { TC__SUM_NEW, TC__SUM_ADD, TC__SUM_STORE } tc__sum_line;

static void tc__contract_sums(tc__printer *p, const tc__contract *q, int i,
                              tc__sum_line what) {
    const char *cls = tc__class_names[q->cls], *reg = p->d->reg[q->cls];
    char at[60];
    if (q->right == TC__RIGHT_WINDOWS)
        snprintf(at, sizeof at, "out[%d] + behind", i);
    else
        snprintf(at, sizeof at, "tile + %d * step", i);
    for (int j = 0; j < q->width / q->lanes; j++) {
        tc__line(p);
        if (what == TC__SUM_NEW && q->late && q->dot.bias) // of a slice
            tc__put(p->out, "%s s%d_%d = (more ? tc_ld_%s(%s + %d) : TC_K_%s(0)) + ", reg,
                    i, j, cls, at, j * p->unit, cls);
        else if (what == TC__SUM_NEW && q->slice)
            tc__put(p->out, "%s s%d_%d = more ? tc_ld_%s(%s + %d) : ", reg, i, j, cls, at,
                    j * p->unit);
        else if (what == TC__SUM_NEW)
            tc__put(p->out, "%s s%d_%d = ", reg, i, j);
        if (what == TC__SUM_NEW && q->dot.bias)
            tc__put(p->out, "tc_ld_%s(bias + %d);\n", cls, j * p->unit);
        else if (what == TC__SUM_NEW)
            tc__put(p->out, "TC_K_%s(0);\n", cls);
        else if (what == TC__SUM_STORE)
            tc__put(p->out, "tc_st_%s(%s + %d, s%d_%d);\n", cls, at, j * p->unit, i, j);
        else if (q->dot.each > 1)
            tc__put_dot(p, &q->dot, i, j);
        else if (q->cls == TC__CLASS_f32)
            tc__put(p->out, "s%d_%d = TC_FMA_f32(x%d, b%d, s%d_%d);\n", i, j, i, j, i, j);
        else
            tc__put(p->out, "s%d_%d = TC_ADD_%s(s%d_%d, TC_MUL_%s(x%d, b%d));\n", i, j, cls,
                    i, j, cls, i, j);
    }
}

// Whether no register is left for an x of each row. gcc, which orders instructions before it gives out 32 registers,
// would load all of them first, and keep sums in memory.
static int tc__contract_is_crowded(const tc__contract *q) {
    int vectors = q->width / q->lanes;
    return q->lanes > (int)TC__VECTOR && q->rows * vectors + vectors + q->rows > 30;
}

// Whether that leaves some over.
static int tc__contract_has_rest(const tc__contract *q) {
    int steps = tc__contract_unroll(q);
    return tc__ix_divisor(q->g->body.ix, q->depth) % steps || q->slice % steps;
}

// One k: that behind the step's first by `more`.
static void tc__print_block_k(tc__printer *p, const tc__contract *q, int more) {
    tc__class in = tc__operand_class(q);
    const char *cls = tc__class_names[in], *reg = p->d->reg[in];
    int windows = q->right == TC__RIGHT_WINDOWS;
    long long to = windows ? 0 : (long long)tc__contract_walk_stride(q) * more;
    for (int j = 0; j < q->width / q->lanes; j++) {
        tc__line(p);
        tc__put(p->out, "const %s b%d = tc_ld_%s(panel + ", reg, j, tc__panel_suffix(q));
        if (more) tc__put(p->out, "%d * next + ", more);
        tc__put(p->out, "%d);\n", j * p->unit);
    }
    if (windows) {
        tc__line(p);
        tc__put(p->out,
                more ? "const tc_i64 at = to[k + %d];\n" : "const tc_i64 at = to[k];\n",
                more);
    }
    for (int i = 0; i < q->rows; i++) {
        tc__line(p);
        tc__put(p->out, "const %s x%d = tc_splat_%s(row%d[at", reg, i, cls, i);
        if (to) tc__put(p->out, " + %lld", to);
        tc__put(p->out, "]);\n");
        tc__contract_sums(p, q, i, TC__SUM_ADD); // at once: one register for all x
        if (!tc__contract_is_crowded(q)) continue;
        tc__line(p);
        tc__put(p->out, "__asm__(\"\" ::: \"memory\");\n");
    }
}

// From k on, `steps` of them a turn.
static void tc__print_block_turns(tc__printer *p, const tc__contract *q, int steps) {
    tc__line(p);
    if (steps > 1)
        tc__put(p->out, "for (; k + %d <= depth; k += %d)", steps, steps);
    else
        tc__put(p->out, "for (; k < depth; k++)");
    tc__block_open(p);
    if (q->right != TC__RIGHT_WINDOWS) {
        long long stride = (long long)tc__contract_walk_stride(q);
        tc__line(p);
        tc__put(p->out, stride == 1 ? "tc_i64 at = k;\n" : "tc_i64 at = k * %lld;\n",
                stride);
        // One index for all rows, of which the compiler would make a pointer each to add to.
        tc__line(p);
        tc__put(p->out, "__asm__(\"\" : \"+r\"(at));\n");
    }
    for (int i = 0; i < steps; i++) {
        if (steps > 1) tc__line(p), tc__put(p->out, "{\n"), p->indent++;
        tc__print_block_k(p, q, i);
        if (steps == 1) continue;
        if (!tc__contract_is_crowded(q)) { // one k's loads at a time
            tc__line(p);
            tc__put(p->out, "__asm__(\"\" ::: \"memory\");\n");
        }
        tc__block_close(p);
    }
    tc__line(p);
    tc__put(p->out, steps > 1 ? "panel += %d * next;\n" : "panel += next;\n", steps);
    for (int i = 0; i < tc__contract_ahead(q) && steps > 1; i++) {
        tc__line(p);
        tc__put(p->out, "__builtin_prefetch(ahead, 0, 2), ahead += %d;\n",
                tc__contract_line(q));
    }
    tc__block_close(p);
}

// Words of halves, of which each has two k, or of bytes, which have two pairs; `rest`: the last, of one.
static void tc__print_split_step(tc__printer *p, const tc__contract *q, int rest) {
    const char *half = tc__narrow_name(q, q->split);
    const char *cls = tc__class_names[tc__operand_class(q)],
               *reg = p->d->reg[tc__operand_class(q)];
    int vectors = q->width / q->lanes;
    long long stride = (long long)tc__contract_walk_stride(q);
    tc__line(p);
    tc__put(p->out, rest ? "if (k < depth)" : "for (; k + 2 <= depth; k += 2)");
    tc__block_open(p);
    tc__line(p);
    tc__put(p->out, stride == 1 ? "tc_i64 at = k;\n" : "tc_i64 at = k * %lld;\n", stride);
    tc__line(p);
    tc__put(p->out, "__asm__(\"\" : \"+r\"(at));\n");
    for (int j = 0; j < vectors; j++) {
        tc__line(p);
        tc__put(p->out,
                "const tc_vi w%d = tc_ld_i32((const tc_i32 *)(const void *)panel + %d);\n",
                j, j * p->unit);
    }
    for (int k = 0; k < 2 - rest; k++) {
        tc__line(p);
        tc__put(p->out, "{\n");
        p->indent++;
        for (int j = 0; j < vectors; j++) {
            tc__line(p);
            tc__put(p->out, "const %s b%d = tc_%s_%s(w%d);\n", reg, j, k ? "high" : "low",
                    half, j);
        }
        for (int i = 0; i < q->rows; i++) {
            tc__line(p);
            tc__put(p->out, "const %s x%d = tc_splat_%s(row%d[at + %lld]);\n", reg, i, cls,
                    i, k * stride);
            tc__contract_sums(p, q, i, TC__SUM_ADD);
        }
        tc__line(p);
        tc__put(p->out, "__asm__(\"\" ::: \"memory\");\n");
        tc__block_close(p);
    }
    tc__line(p);
    tc__put(p->out, "panel += next;\n");
    tc__block_close(p);
}

static void tc__print_block_loop(tc__printer *p, const tc__contract *q) {
    int steps = tc__contract_unroll(q);
    tc__line(p);
    tc__put(p->out, "tc_i64 k = 0;\n");
    if (q->late && q->split) {
        tc__print_split_step(p, q, 0);
        if (tc__ix_divisor(q->g->body.ix, q->depth) % 2) tc__print_split_step(p, q, 1);
        return;
    }
    if (steps > 1) tc__print_block_turns(p, q, steps);
    if (steps == 1 || tc__contract_has_rest(q)) tc__print_block_turns(p, q, 1);
}

// What else the block is given.
static const char *tc__block_rest(const tc__contract *q) {
    if (q->dot.bias)
        return q->slice ? ", const tc_i32 *bias, tc_i64 more" : ", const tc_i32 *bias";
    return q->slice ? ", tc_i64 more" : "";
}

// Printed before the kernel: `static void NAME_block(rows, panel, width of its rows, ...)`.
static void tc__print_contract_block(tc__printer *p, const tc__contract *q,
                                     const char *symbol) {
    const char *type = p->d->scalar[tc__operand_class(q)];
    int windows = q->right == TC__RIGHT_WINDOWS;
    char to[30] = "", ahead[40] = "";
    if (tc__contract_ahead(q)) snprintf(ahead, sizeof ahead, "const %s *ahead, ", type);
    if (q->dot.tiles) {
        tc__print_tiles_block(p, q, symbol);
        return;
    }
    if (windows) snprintf(to, sizeof to, "const %s *to, ", tc__table_type(q->g));
    tc__put(
        p->out,
        "static __attribute__((noinline)) void %s_block(const %s *const *row, %sconst %s "
        "*panel,\n"
        "        %stc_i64 depth, %s *%s%s)",
        symbol, type, to, tc__panel_type(p, q),
        q->right == TC__RIGHT_IN_PLACE ? "tc_i64 next, " : ahead, p->d->scalar[q->cls],
        windows ? "const *out, tc_i64 behind" : "tile, tc_i64 step", tc__block_rest(q));
    tc__block_open(p);
    if (q->right != TC__RIGHT_IN_PLACE) {
        tc__line(p);
        tc__put(p->out, "enum { next = %lld };\n",
                q->lies ? (long long)tc__contract_stride(q, tc__right_of(q->g), 0)
                        : (long long)q->width);
    }
    for (int i = 0; i < q->rows; i++) {
        tc__line(p);
        tc__put(p->out, "const %s *row%d = row[%d];\n", type, i, i);
    }
    for (int i = 0; i < q->rows; i++) tc__contract_sums(p, q, i, TC__SUM_NEW);
    tc__print_block_loop(p, q);
    for (int i = 0; i < q->rows; i++) tc__contract_sums(p, q, i, TC__SUM_STORE);
    tc__block_close(p);
    tc__put(p->out, "\n");
}

// ---- the kernel around it ----

// Panel `to` [depth][width] from the pointers x.
static void tc__print_interleave(tc__printer *p, const tc__contract *q, int64_t stride,
                                 const char *to) {
    if (q->cls == TC__CLASS_f32 && stride == 1) {
        tc__line(p);
        tc__put(p->out, "tc_interleave_f32(x, %d, %s, %s);\n", q->width,
                tc__contract_deep(q), to);
        return;
    }
    tc__line(p);
    tc__put(p->out, "for (tc_i64 k = 0; k < %s; k++) for (int j = 0; j < %d; j++)\n",
            tc__contract_deep(q), q->width);
    tc__line(p);
    tc__put(p->out, "    *(%s + k * %d + j) = x[j][k * %lld];\n", to, q->width,
            (long long)stride);
}

// What row k of the panel at p gets; `tail`: the vector of its columns at c.
static void tc__print_panel_row(tc__printer *p, const tc__contract *q, const uint8_t *mark,
                                int tail) {
    char to[60];
    tc__line(p);
    if (tail)
        tc__put(p->out, "const int n = (int)tc_max(0, tc_min(c1 - c, %d));\n", p->unit);
    else
        tc__put(p->out, "const tc_i64 c = p;\n");
    p->axis = TC__COL, p->tail = tail, p->copies = tail ? 1 : q->width / q->lanes;
    snprintf(to, sizeof to, "panel + %s * %d%s", q->slice ? "(k - k0)" : "k", q->width,
             tail ? " + (c - p)" : "");
    tc__print_operand(p, tc__panel_suffix(q), tc__right_of(p->g), mark, to);
    if (!tail) {
        tc__line(p);
        tc__put(p->out, "(void)c;\n");
    }
    p->tail = 0, p->copies = 1;
}

static void tc__print_panel_nodes(tc__printer *p, const tc__contract *q,
                                  const uint8_t *mark, int tail) {
    const char *k = q->dot.each > 1 ? "w" : "k";
    tc__line(p);
    tc__put(p->out, "for (tc_i64 %s = %s; %s < %s; %s++)", k, q->slice ? "k0" : "0", k,
            q->slice ? "k1" : "depth", k);
    if (tail)
        tc__put(p->out, " for (tc_i64 c = p; c < p + %d; c += %d)", q->width, p->unit);
    tc__block_open(p);
    if (q->dot.each > 1)
        tc__print_words_row(p, q, mark, tail);
    else
        tc__print_panel_row(p, q, mark, tail);
    tc__block_close(p);
}

// Values of column c, from `from` on, at the vectors of k that are whole, or the last.
static void tc__print_stage_loop(tc__printer *p, const tc__contract *q, const uint8_t *mark,
                                 int tail) {
    tc__line(p);
    tc__put(p->out, tail ? "if (k < to)" : "for (; k + %d <= to; k += %d)", p->unit,
            p->unit);
    tc__block_open(p);
    if (tail) tc__line(p), tc__put(p->out, "const int n = (int)(to - k);\n");
    p->axis = TC__DEPTH, p->tail = tail;
    tc__print_operand(p, tc__class_names[q->cls], tc__right_of(p->g), mark,
                      "at + (k - from)");
    p->axis = TC__COL, p->tail = 0;
    tc__block_close(p);
}

// Columns are evaluated along k, and turned.
static void tc__print_panel_staged(tc__printer *p, const tc__contract *q,
                                   const uint8_t *mark) {
    const char *first = q->slice ? "k0" : "0";
    tc__line(p);
    tc__put(p->out, "for (tc_i64 from = %s; from < %s; from += %d)", first,
            q->slice ? "k1" : "depth", TC__CONTRACT_STAGE);
    tc__block_open(p);
    tc__line(p);
    tc__put(p->out, "const tc_i64 to = tc_min(from + %d, %s);\n", TC__CONTRACT_STAGE,
            q->slice ? "k1" : "depth");
    tc__line(p);
    tc__put(p->out, "const float *x[%d];\n", q->width);
    tc__line(p);
    tc__put(p->out, "for (int j = 0; j < %d; j++)", q->width);
    tc__block_open(p);
    tc__line(p);
    tc__put(p->out, "const tc_i64 c = tc_min(p + j, c1 - 1);\n");
    tc__line(p);
    tc__put(p->out, "%s *at = stage + j * %d;\n", p->d->scalar[q->cls], TC__CONTRACT_STAGE);
    tc__line(p);
    tc__put(p->out, "tc_i64 k = from;\n");
    tc__print_stage_loop(p, q, mark, 0);
    if (tc__ix_divisor(p->g->body.ix, q->depth) % p->unit || q->slice % p->unit)
        tc__print_stage_loop(p, q, mark, 1);
    tc__line(p);
    tc__put(p->out, "x[j] = (const float *)(const void *)at;\n");
    tc__block_close(p);
    tc__line(p);
    tc__put(
        p->out,
        "tc_interleave_f32(x, %d, to - from, (float *)(void *)(panel + (from - %s) * %d));\n",
        q->width, first, q->width);
    tc__block_close(p);
}

// Row by row of a slice, as it lies in memory: each panel gets its part.
static void tc__print_pack_rows(tc__printer *p, const tc__contract *q,
                                const uint8_t *mark) {
    tc__line(p);
    tc__put(p->out, "for (tc_i64 k = k0; k < k1; k++) for (tc_i64 p = c0; p < c1; p += %d)",
            q->width);
    tc__block_open(p);
    tc__print_panel(p, q, "");
    tc__print_panel_row(p, q, mark, 0);
    tc__block_close(p);
}

// Whether all panels of an item have as many columns.
static int tc__panels_are_whole(const tc__contract *q) {
    tc__ixpool *x = q->g->body.ix;
    return tc__ix_divisor(x, q->g->shape.cols) % q->width == 0 &&
           tc__ix_divisor(x, q->wide) % q->width == 0;
}

// Evaluated by vectors of columns; the last panel may have fewer.
static void tc__print_panel_columns(tc__printer *p, const tc__contract *q,
                                    const uint8_t *mark) {
    int whole = tc__panels_are_whole(q);
    if (!whole && q->right != TC__RIGHT_IN_PLACE) {
        tc__line(p);
        tc__put(p->out, "if (p + %d <= c1)", q->width);
        tc__block_open(p);
        tc__print_panel_nodes(p, q, mark, 0);
        p->indent--;
        tc__line(p);
        tc__put(p->out, "} else {\n");
        p->indent++;
        tc__print_panel_nodes(p, q, mark, 1);
        tc__block_close(p);
        return;
    }
    tc__print_panel_nodes(p, q, mark, !whole);
}

// The panel of the columns from p on.
static void tc__print_pack_panel(tc__printer *p, const tc__contract *q,
                                 const uint8_t *mark) {
    if (q->right == TC__RIGHT_COLUMNS) {
        tc__print_pointers(p, q, 0, q->width, "p", "c1");
        tc__print_interleave(p, q, tc__contract_stride(q, tc__right_of(p->g), 0), "panel");
    } else if (q->split || q->dot.columns) {
        tc__print_words_turned(p, q, q->split ? q->split : q->dot.columns, q->width,
                               "c = tc_min(p + j, c1 - 1)",
                               q->slice ? "k0, k1" : "0, depth");
    } else if (q->staged) {
        tc__print_panel_staged(p, q, mark);
    } else if (q->apart) {
        tc__print_panel_apart(p, q);
    } else {
        tc__print_panel_columns(p, q, mark);
    }
    tc__print_panel_bias(p, q);
}

// Panel by panel of the right operand.
static void tc__print_pack(tc__printer *p, const tc__contract *q, const uint8_t *mark) {
    int whole = tc__panels_are_whole(q), in_place = q->right == TC__RIGHT_IN_PLACE;
    if (in_place && whole) return;
    if (q->slice && whole && q->right == TC__RIGHT_NODES && !q->apart && !q->staged &&
        !q->split && q->dot.each == 1) {
        tc__print_pack_rows(p, q, mark);
        return;
    }
    tc__line(p);
    tc__put(p->out, "for (tc_i64 p = ");
    if (in_place)
        tc__put(p->out, "c0 + (c1 - c0) / %d * %d", q->width, q->width);
    else
        tc__put(p->out, "c0");
    tc__put(p->out, "; p < c1; p += %d)", q->width);
    tc__block_open(p);
    tc__print_panel(p, q, "");
    tc__print_pack_panel(p, q, mark);
    tc__block_close(p);
}

// What is packed for an item, once for all those of its columns; of a tall one the panel at hand, and its slice.
static void tc__print_packed(tc__printer *p, const tc__contract *q) {
    tc_ctx *c = p->out->ctx;
    size_t count = p->g->body.node.count;
    uint8_t *mark = TC__NEW_ARRAY(c, uint8_t, count);
    if (!mark) {
        p->out->failed = 1;
        return;
    }
    tc__mark_needed(p->g, tc__right_of(p->g), mark);
    if (q->tall)
        tc__line(p), tc__put(p->out, "{\n"), p->indent++;
    else
        tc__pack_open(p, q, "panels");
    tc__line(p);
    tc__put(p->out, "const tc_i64 r = r0;\n");
    tc__line(p);
    tc__put(p->out, "(void)r;\n");
    tc__print_needed(p, mark, 1);
    if (q->tall) {
        tc__print_pack_panel(p, q, mark);
        tc__block_close(p);
    } else {
        if (q->slice) tc__print_slices(p);
        tc__print_pack(p, q, mark);
        if (q->slice) tc__block_close(p);
        tc__pack_close(p, q, "panels");
    }
    tc__free(c, mark, count * sizeof *mark);
}

// Rows r0 to r1 of the left operand, evaluated by their nodes.
static void tc__print_left(tc__printer *p, const tc__contract *q) {
    uint8_t *mark = tc__mark_left(p);
    tc__ixpool *x = p->g->body.ix;
    char to[80];
    if (!mark) return;
    tc__line(p);
    tc__put(p->out, "for (tc_i64 r = r0; r < r1; r++)");
    tc__block_open(p);
    if (q->dot.each > 1) tc__print_left_words(p, q, mark);
    if (q->dot.each == 1) {
        tc__line(p);
        tc__put(p->out, "%s *left_r = left + (r - r0) * ", p->d->scalar[q->cls]);
        tc__put_atom(p, tc__round_up(p->g->body.ix, q->depth, q->lanes), 0);
        tc__put(p->out, ";\n");
        tc__print_made_rows(p, p->g->shape.prologue, tc__contract_rows_loop(p));
        tc__print_needed(p, mark, 1);
        snprintf(to, sizeof to, "left_r + k");
        tc__line(p);
        tc__put(p->out, "tc_i64 k = 0;\n");
        for (int tail = 0; tail < 1 + (tc__ix_divisor(x, q->depth) % p->unit != 0);
             tail++) {
            tc__print_left_step(p, q->depth, tail);
            tc__print_operand(p, tc__class_names[q->cls], tc__left_of(p->g), mark, to);
            tc__print_left_close(p);
        }
    }
    tc__block_close(p);
    tc__free(p->out->ctx, mark, p->g->body.node.count * sizeof *mark);
}

// The same by vectors of rows, for the k at hand: row r of each stands `grain` behind that of the k before.
static void tc__print_left_rows(tc__printer *p, const tc__contract *q) {
    uint8_t *mark = tc__mark_left(p);
    char to[80];
    if (!mark) return;
    tc__line(p);
    tc__put(p->out, q->slice ? "for (tc_i64 k = k0; k < k1; k++)"
                             : "for (tc_i64 k = 0; k < depth; k++)");
    tc__put(p->out, " for (tc_i64 r = r0; r < r1; r += %d)", p->unit);
    tc__block_open(p);
    p->axis = TC__ROW;
    snprintf(to, sizeof to, "left + %s * %lld + (r - r0)", q->slice ? "(k - k0)" : "k",
             (long long)tc__contract_left_pitch(q));
    tc__print_needed(p, mark, 1);
    tc__print_operand(p, tc__class_names[q->cls], tc__left_of(p->g), mark, to);
    p->axis = TC__COL;
    tc__block_close(p);
    tc__free(p->out->ctx, mark, p->g->body.node.count * sizeof *mark);
}

// Blocks of a slice of the depth: panels outside, so that a panel's slice stays in L1 for all rows.
static void tc__print_slice_blocks(tc__printer *p, const tc__contract *q,
                                   const char *symbol) {
    tc__print_pointers(p, q, 1, (int)tc__padded(q->grain, q->rows), "r0", "r1");
    tc__line(p);
    tc__put(p->out, "for (tc_i64 p = c0; p < c1; p += %d)", q->width);
    tc__block_open(p);
    if (q->lies)
        tc__print_lying_panel(p, q);
    else
        tc__print_panel(p, q, q->tall ? "" : "const ");
    if (q->tall && !q->lies) tc__print_packed(p, q);
    tc__line(p);
    tc__put(p->out, "for (tc_i64 i = 0; i < r1 - r0; i += %d)", q->rows);
    tc__block_open(p);
    if (tc__contract_ahead(q)) {
        tc__print_ahead(p, q, "i", "depth");
        tc__print_block_call(p, q, symbol, "x + i, panel, ahead, k1 - k0", "i");
    } else {
        tc__print_block_call(p, q, symbol, "x + i, panel, k1 - k0", "i");
    }
    tc__block_close(p);
    tc__block_close(p);
}

// The slice behind that at hand, or the first of the next columns: of each block of rows a share, as memory gives lines one
// after the other. All at once, while a slice is packed, 16 rows of bf16 take 1.25 times as long (Zen 5).
static void tc__print_late_ahead(tc__printer *p, const tc__contract *q) {
    int blocks = (int)(tc__padded(q->grain, q->rows) / q->rows),
        columns = (q->width + blocks - 1) / blocks;
    tc__line(p);
    tc__put(p->out,
            "for (tc_i64 j = i / %d * %d; j < tc_min((i / %d + 1) * %d, %d); j++)\n",
            q->rows, columns, q->rows, columns, q->width);
    tc__line(p);
    tc__put(
        p->out,
        "    for (int b = 0; b < %d; b += 64) __builtin_prefetch(y[j] + ahead + b, 0, 2);\n",
        4 * TC__CONTRACT_LATE_SLICE);
}

// Panel by panel, slice by slice: what is packed is multiplied at once, by all rows.
static void tc__print_late(tc__printer *p, const tc__contract *q, const char *symbol) {
    int load = q->split ? q->split : q->dot.columns, bytes = q->split ? 2 : 4;
    const tc__node *n = tc__body(p, (uint32_t)load - 1);
    tc__ixrun across = tc__ix_run(p->g->body.ix, n->attr[TC__LOAD_INDEX], TC__COL);
    tc__line(p);
    tc__put(p->out, "for (tc_i64 p = c0; p < c1; p += %d)", q->width);
    tc__block_open(p);
    tc__line(p);
    tc__put(p->out, "const tc_i64 r = r0;\n");
    tc__line(p);
    tc__put(p->out, "(void)r;\n");
    tc__print_word_pointers(p, load, q->width, "c = tc_min(p + j, c1 - 1)", "y");
    tc__print_slices(p);
    tc__print_panel(p, q, "");
    tc__line(p);
    tc__put(p->out, "const tc_i64 ahead = k1 < depth ? k1 * %d : %lld;\n", bytes,
            (long long)tc__ix_value(across.stride) * q->width *
                (long long)tc__dtypes[n->dtype].bytes);
    tc__line(p);
    tc__put(p->out,
            q->split ? "tc_words(y, %d, k0 / 2, (k1 + 1) / 2, "
                     : "tc_words(y, %d, k0, k1, ",
            q->width);
    tc__put_bytes(p, load);
    tc__put(p->out, ", (tc_i32 *)(void *)panel);\n");
    tc__print_panel_bias(p, q);
    tc__print_pointers(p, q, 1, (int)tc__padded(q->grain, q->rows), "r0", "r1");
    tc__line(p);
    tc__put(p->out, "for (tc_i64 i = 0; i < r1 - r0; i += %d)", q->rows);
    tc__block_open(p);
    tc__print_late_ahead(p, q);
    tc__print_block_call(p, q, symbol, "x + i, panel, k1 - k0", "i");
    tc__block_close(p);
    tc__block_close(p);
    tc__block_close(p);
}

// Of weights that are streamed, the next slice: each of its rows is in another page, where processors begin to guess
// anew. One row takes 0.88 of the time so on a Xeon, and 1.4 times as long on a Zen 3 (AVX2).
static void tc__print_stream_ahead(tc__printer *p, const tc__contract *q) {
    int line = 64 / (q->adjacent ? 2 : (int)tc__dtypes[q->dtype].bytes);
    tc__line(p);
    tc__put(p->out, "if (i == r0) for (tc_i64 k = slice; k < 2 * slice; k++)");
    tc__block_open(p);
    for (int j = 0; j < q->width; j += line) {
        tc__line(p);
        tc__put(p->out, "__builtin_prefetch(panel + k * next + %d, 0, 2);\n", j);
    }
    tc__block_close(p);
}

// Blocks of the tile: rows outside, so that their part of the left operand stays in L1.
static void tc__print_blocks(tc__printer *p, const tc__contract *q, const char *symbol) {
    const tc__node *n =
        tc__body(p, q->adjacent ? (uint32_t)q->adjacent - 1 : tc__right_of(p->g));
    tc__ixpool *x = p->g->body.ix;
    char operands[60];
    if (q->dot.tiles) {
        tc__print_tiles_blocks(p, q, symbol);
        return;
    }
    if (q->slice && q->right != TC__RIGHT_IN_PLACE) {
        tc__print_slice_blocks(p, q, symbol);
        return;
    }
    tc__line(p);
    tc__put(p->out, "for (tc_i64 i = r0; i < r1; i += %d)", q->rows);
    tc__block_open(p);
    tc__print_pointers(p, q, 1, q->rows, "i", "r1");
    tc__print_panels_loop(p, q);
    if (q->lies)
        tc__print_lying_panel(p, q);
    else
        tc__print_panel(p, q, "const ");
    if (q->right == TC__RIGHT_IN_PLACE) {
        tc__line(p);
        tc__put(p->out, "tc_i64 next = %d;\n", q->width);
        tc__ix k = tc__ix_find_var(x, n->attr[TC__LOAD_INDEX], TC__DEPTH);
        tc__line(p);
        tc__put(p->out, "if (p + %d <= c1)", q->width);
        tc__block_open(p);
        tc__line(p);
        tc__put(p->out, "const tc_i64 c = p, r = r0;\n");
        tc__line(p);
        tc__put(p->out, "(void)r;\n");
        tc__line(p);
        tc__put(p->out, "panel = ");
        tc__put_at(p, n->attr[TC__LOAD_BUFFER],
                   k ? tc__ix_subst(x, n->attr[TC__LOAD_INDEX], k, tc__ix_const(0))
                     : n->attr[TC__LOAD_INDEX]);
        if (q->streams)
            tc__put(p->out, " + k0 * %lld", (long long)tc__contract_stride(q, n->id, 0));
        tc__put(p->out, ";\n");
        tc__line(p);
        tc__put(p->out, "next = ");
        tc__put_ix(p, tc__ix_run(x, n->attr[TC__LOAD_INDEX], TC__DEPTH).stride);
        tc__put(p->out, ";\n");
        if (q->streams && q->lanes > (int)TC__VECTOR) tc__print_stream_ahead(p, q);
        tc__block_close(p);
    }
    snprintf(operands, sizeof operands, "x, panel%s, %s",
             q->right == TC__RIGHT_IN_PLACE ? ", next" : "", tc__contract_deep(q));
    tc__print_block_call(p, q, symbol, operands, "(i - r0)");
    tc__block_close(p);
    tc__block_close(p);
}

// The same with rows and columns exchanged, then the tile is turned back.
static void tc__print_flipped(tc__printer *p, const tc__contract *q, const char *symbol) {
    int64_t stride = tc__contract_stride(q, tc__left_of(p->g), q->left_nodes);
    tc__line(p);
    tc__put(p->out, "{\n");
    p->indent++;
    tc__print_pointers(p, q, 1, q->width, "r0", "r1");
    tc__print_interleave(p, q, stride, "pack");
    tc__block_close(p);
    tc__line(p);
    tc__put(p->out, "for (tc_i64 p = c0; p < c1; p += %d)", q->rows);
    tc__block_open(p);
    tc__line(p);
    tc__put(p->out, "const tc_i64 r = r0;\n");
    tc__line(p);
    tc__put(p->out, "(void)r;\n");
    tc__print_pointers(p, q, 0, q->rows, "p", "c1");
    tc__line(p);
    tc__put(p->out, "%s_block(x, pack, depth, flip + (p - c0) * %d, %d);\n", symbol,
            q->width, q->width);
    tc__block_close(p);
    tc__line(p);
    if (q->cls == TC__CLASS_f32) {
        tc__put(p->out, "tc_flip_f32(flip, %d, c1 - c0, tile, wide);\n", q->width);
        return;
    }
    tc__put(p->out,
            "for (tc_i64 i = 0; i < r1 - r0; i++) for (tc_i64 j = 0; j < c1 - c0; j++)\n");
    tc__line(p);
    tc__put(p->out, "    tile[i * wide + j] = flip[j * %d + i];\n", q->width);
}
