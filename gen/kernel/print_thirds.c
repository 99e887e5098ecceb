// Products of f32 by AMX's tiles of bf16, for TC_NUMERICS_FAST: a value is the sum of three bf16, its thirds, exactly. Of their nine
// products the three smallest are left out, 2^-23 of the largest at most, so a sum of six is as near as a chain of fma is, in less
// than half of its time. A tile has 32 k of one third, and the other two follow it, in panels and in rows of the left operand alike.
// Numbers below 2^-110 have fewer bits, as tiles take subnormal ones for 0.
//
// An item goes slice by slice: its rows of the left operand become words, and each panel, which all rows use at once.
// What packs values for other products makes the pieces that become words, unless they are read where they lie.
//
// Infinity times a third that is 0 is NaN. So if not all sums of an item are finite it is made again, one k after the other,
// and what is not finite is taken from there.

// `for (tc_i64 k0 = s0; k0 < s1; k0 += 128) {`: pieces of a slice.
static void tc__print_thirds_pieces(tc__printer *p) {
    tc__line(p);
    tc__put(p->out, "for (tc_i64 k0 = s0; k0 < s1; k0 += %d)", TC__CONTRACT_STAGE);
    tc__block_open(p);
    tc__line(p);
    tc__put(p->out, "const tc_i64 k1 = tc_min(k0 + %d, s1);\n", TC__CONTRACT_STAGE);
}

// Row r of the left operand: as it lies in memory, or evaluated.
static void tc__print_thirds_row(tc__printer *p, const tc__contract *q,
                                 const uint8_t *mark) {
    uint32_t left = tc__left_of(p->g);
    int lies = tc__is_plain(p->g, left) && tc__contract_stride(q, left, 0) == 1;
    int rest = tc__ix_divisor(p->g->body.ix, q->depth) % p->unit || q->slice % p->unit;
    tc__print_made_rows(p, p->g->shape.prologue, tc__contract_rows_loop(p));
    if (!lies) {
        tc__print_needed(p, mark, 1);
        tc__line(p);
        tc__put(p->out, "tc_i64 k = s0;\n");
        for (int tail = 0; tail < 1 + rest; tail++) {
            tc__line(p);
            tc__put(p->out, tail ? "if (k < s1)" : "for (; k + %d <= s1; k += %d)", p->unit,
                    p->unit);
            tc__block_open(p);
            p->axis = TC__DEPTH, p->tail = tail;
            if (tail) tc__line(p), tc__put(p->out, "const int n = (int)(s1 - k);\n");
            tc__print_operand(p, "f32", left, mark, "chunk + (k - s0)");
            tc__print_left_close(p);
        }
    }
    tc__line(p);
    tc__put(p->out, "tc_thirds_row(");
    if (lies)
        tc__put(p->out, "(const float *)(const void *)"),
            tc__put_words_at(p, (int)left + 1);
    else
        tc__put(p->out, "chunk");
    tc__put(p->out,
            "%s, s1 - s0, %s, left + (r - r0) / 16 * 16 * deep + (r - r0) %% 16 * 16);\n",
            lies ? " + s0" : "", lies ? "slice" : "0");
}

// Rows r to r + 15, which lie beside each other.
static void tc__print_thirds_rows(tc__printer *p, const uint8_t *mark) {
    tc__print_thirds_pieces(p);
    tc__line(p);
    tc__put(p->out, "for (tc_i64 k = k0; k < k1; k++)");
    tc__block_open(p);
    p->axis = TC__ROW;
    tc__print_needed(p, mark, 1);
    tc__print_operand(p, "f32", tc__left_of(p->g), mark, "chunk + (k - k0) * 16");
    p->axis = TC__COL;
    tc__block_close(p);
    tc__line(p);
    tc__put(p->out,
            "tc_thirds_rows(chunk, k1 - k0, (tc_i32 *)(void *)(chunk + %d), left + (r - "
            "r0) * deep + (k0 - s0) / 32 * %d);\n",
            TC__DOT_TILE * TC__CONTRACT_STAGE, TC__THIRDS_WORDS * TC__DOT_TILE);
    tc__block_close(p);
}

// Rows r0 to r1 of the left operand, of a slice.
static void tc__print_thirds_left(tc__printer *p, const tc__contract *q) {
    uint8_t *mark = tc__mark_left(p);
    if (!mark) return;
    tc__line(p);
    tc__put(p->out, "for (tc_i64 r = r0; r < r1; r += %d)",
            q->thirds_rows ? TC__DOT_TILE : 1);
    tc__block_open(p);
    if (q->thirds_rows)
        tc__print_thirds_rows(p, mark);
    else
        tc__print_thirds_row(p, q, mark);
    tc__block_close(p);
    tc__free(p->out->ctx, mark, p->g->body.node.count * sizeof *mark);
}

// What packs a piece of a panel, in f32.
static tc__contract tc__thirds_piece(const tc__contract *q) {
    tc__contract piece = *q;
    uint32_t right = tc__right_of(q->g);
    memset(&piece.dot, 0, sizeof piece.dot);
    piece.dot.each = 1, piece.slice = TC__CONTRACT_STAGE;
    if (tc__is_plain(q->g, right) && !tc__is_adjacent(q->g, right))
        piece.right = TC__RIGHT_COLUMNS;
    return piece;
}

// The panel of the columns from p on, of a slice.
static void tc__print_thirds_panel(tc__printer *p, const tc__contract *q) {
    tc__contract piece = tc__thirds_piece(q);
    uint32_t right = tc__right_of(p->g);
    uint8_t *mark = TC__NEW_ARRAY(p->out->ctx, uint8_t, p->g->body.node.count);
    if (!mark) {
        p->out->failed = 1;
        return;
    }
    tc__mark_needed(p->g, right, mark);
    tc__line(p);
    tc__put(p->out, "const tc_i64 c = p, r = r0;\n");
    tc__line(p);
    tc__put(p->out, "(void)c, (void)r;\n");
    if (q->thirds_lies) {
        const tc__node *n = tc__body(p, right);
        long long pitch = (long long)tc__contract_stride(q, right, 0);
        tc__line(p);
        tc__put(p->out, "tc_thirds_panel((const float *)(const void *)");
        tc__put_words_at(p, (int)n->id + 1);
        tc__put(p->out, " + s0 * %lld, %lld, %d, s1 - s0, words);\n", pitch, pitch,
                q->width);
    } else {
        tc__print_needed(p, mark, 1);
        tc__print_thirds_pieces(p);
        tc__line(p);
        tc__put(p->out, "float *panel = chunk;\n");
        tc__print_pack_panel(p, &piece, mark);
        tc__line(p);
        tc__put(p->out,
                "tc_thirds_panel(chunk, %d, %d, k1 - k0, words + (k0 - s0) / 32 * %d);\n",
                q->width, q->width, TC__THIRDS_WORDS * q->width);
        tc__block_close(p);
    }
    tc__free(p->out->ctx, mark, p->g->body.node.count * sizeof *mark);
}

// `tc_thirds_plain` has the arguments of the block.
static void tc__print_thirds_blocks(tc__printer *p, const char *symbol) {
    tc__line(p);
    tc__put(p->out,
            "void (*const block)(const tc_i32 *, tc_i64, const tc_i32 *, tc_i64, float *, "
            "tc_i64, tc_i64) = again ? tc_thirds_plain : %s_block;\n",
            symbol);
    tc__line(p);
    tc__put(p->out, "for (tc_i64 i = 0; i < r1 - r0; i += 32)\n");
    tc__line(p);
    tc__put(p->out,
            "    block(left + i * deep, 16 * deep, words, deep, sums + i * wide + (p "
            "- c0), wide, s0);\n");
}

static void tc__print_thirds(tc__printer *p, const tc__contract *q, const char *symbol) {
    tc__line(p);
    tc__put(p->out, "for (int again = 0; again < 2; again++)");
    tc__block_open(p);
    tc__line(p);
    tc__put(p->out, "float *sums = again ? flip : tile;\n");
    tc__line(p);
    tc__put(p->out, "for (tc_i64 s0 = 0; s0 < depth; s0 += slice)");
    tc__block_open(p);
    tc__line(p);
    tc__put(p->out, "const tc_i64 s1 = tc_min(s0 + slice, depth), deep = (s1 - s0 + 31) / "
                    "32 * 48; // words\n");
    tc__print_thirds_left(p, q);
    tc__line(p);
    tc__put(p->out, "for (tc_i64 p = c0; p < c1; p += %d)", q->width);
    tc__block_open(p);
    tc__line(p);
    tc__put(p->out, q->thirds_stay
                        ? "tc_i32 *words = pack + s0 / 32 * 48 * wide + (p - c0) * deep;\n"
                        : "tc_i32 *words = pack;\n");
    if (q->thirds_stay) {
        tc__line(p);
        tc__put(p->out, "if (packed[0] != panels)");
        tc__block_open(p);
    }
    tc__print_thirds_panel(p, q);
    if (q->thirds_stay) tc__block_close(p);
    tc__print_thirds_blocks(p, symbol);
    tc__block_close(p);
    tc__block_close(p);
    if (q->thirds_stay) tc__line(p), tc__put(p->out, "packed[0] = panels;\n");
    tc__line(p);
    tc__put(p->out, "if (again)\n");
    tc__line(p);
    tc__put(p->out, "    tc_thirds_pick(tile, flip, wide, r1 - r0, c1 - c0);\n");
    tc__line(p);
    tc__put(p->out, "else if (tc_thirds_finite(tile, wide, r1 - r0, c1 - c0))\n");
    tc__line(p);
    tc__put(p->out, "    break;\n");
    tc__block_close(p);
}
