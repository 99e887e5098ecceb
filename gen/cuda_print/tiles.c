// Large products in CUDA: the form "tiles" of product.c as text.
//
// A ring of stages holds tiles of the operands. Step i multiplies stage i while stage
// i + stages - 1 is on its way. What is multiplied next is fetched to registers while the
// present is, also from the stage of the next step: so the one barrier of a step stands before
// its last piece, and a stage is written anew one step after it was read.
//
// Fetching ahead is 4.5 % of a bf16 product of 4096, and 26 registers; a fourth stage 3 %
// more; copies spread over the pieces, other orders of mma and a result in one part 2 % or
// less. mma.sync with nothing around it reaches 626 TFLOP/s, cuBLAS (wgmma) 694, this 430
// to 455, at the card's limit of power. Addresses of copies move by steps. NVRTC's code of
// the same text is slower than nvcc's (its addresses in shared memory have 64 bits):
// measure with NVRTC.
//
// Halves that are not copied (they are computed where they are loaded) take tiles of at
// most TC__PRODUCT_SUMS sums a thread: they wait in registers until their stage is free,
// and with 128 sums ptxas spilled 100 to 500 bytes. tests/cuda/tiles.c compiles each tile
// with each kind of operand for three architectures, and forbids a spill.

// A thread multiplies in one of four ways:
//   simt   one fused multiply-add a step, in the order of k
//   mma    halves, on tensor cores
//   split  f32 on tensor cores: an operand is the sum of its 11 leading bits and of the rest, and three
//          of the four products count. Tensor cores do not round sums to nearest, so those of a step
//          are added to the others outside: that is nearer to the sum than a chain of f32 is. What
//          is not finite then is computed again by such a chain, since inf - inf is no rest.
//   tf32   f32 on tensor cores by its 11 leading bits alone, where allow_tf32 is set: rounded on
//          their way to shared memory, then as mma

// ---- tiles: bringing operands ----

static const char *tc__operand_name(const tc__staged *s) {
    return s->level == TC__AT_LEFT ? "left" : "right";
}

// Elements of a tile along rows (left) or columns (right).
static int tc__staged_size(const tc__product *q, const tc__staged *s) {
    return s->level == TC__AT_LEFT ? q->tile->rows : q->tile->cols;
}

// Blanks of an operand: `line` and `deep` are the place of access e in the tile, which are
// `fast` and `slow` by what adjacent threads read.
static void tc__stage_blanks(const tc__product *q, const tc__staged *s, tc__blanks *b) {
    int size = tc__staged_size(q, s), deep = s->along == TC__DEPTH;
    int lanes = (deep ? q->tile->depth : size) / s->width;
    char slow[40], fast[40];
    snprintf(slow, sizeof slow, "e / %d", lanes);
    snprintf(fast, sizeof fast, s->width > 1 ? "e %% %d * %d" : "e %% %d", lanes, s->width);
    tc__blank_text(b, "name", tc__operand_name(s));
    tc__blank_text(b, "slow", slow);
    tc__blank_text(b, "fast", fast);
    tc__blank_text(b, "line", deep ? slow : fast);
    tc__blank_text(b, "deep", deep ? fast : slow);
    tc__blank_number(b, "width", s->width);
    tc__blank_number(b, "count", tc__stage_accesses(q, s));
    tc__blank_number(b, "stage", tc__stage_size(q, s->level));
    tc__blank_number(b, "pitch", tc__line_pitch(q, size));
    tc__blank_number(b, "swizzle", deep ? q->tile->depth : size);
}

// `r < r1 && k < depth`, as far as tiles are not whole; may be empty.
static void tc__stage_inside(const tc__printer *p, const tc__product *q,
                             const tc__staged *s, char out[40]) {
    int left = s->level == TC__AT_LEFT;
    int line = !tc__goes_into(p, left ? q->m : p->g->shape.cols, tc__staged_size(q, s)),
        deep = !tc__goes_into(p, tc__depth_of(p->g), q->tile->depth);
    snprintf(out, 40, "%s%s%s",
             !line  ? ""
             : left ? "r < r1"
                    : "c < cols",
             line && deep ? " && " : "", deep ? "k < depth" : "");
}

// r, c and k of access e, as far as they are named: by what the operand loads, and by the question
// whether that is inside.
static void tc__print_stage_place(tc__printer *p, const tc__staged *s, const tc__blanks *b,
                                  const char *k0, int loads, const char *inside) {
    int left = s->level == TC__AT_LEFT;
    if ((loads && tc__level_uses(p->g, s->level, TC__ROW)) || strstr(inside, "r1"))
        tc__put_filled(p, b,
                       left ? "const @index r = r0 + @line;\n" : "const @index r = r0;\n");
    if (!left &&
        ((loads && tc__level_uses(p->g, s->level, TC__COL)) || strstr(inside, "cols")))
        tc__put_filled(p, b, "const @index c = c0 + @line;\n");
    if (!(loads && tc__level_uses(p->g, s->level, TC__DEPTH)) && !strstr(inside, "depth"))
        return;
    tc__line(p);
    tc__put(p->out, "const %s k = %s", tc__cuda_index_type(p), k0);
    tc__put_filled_here(p, b, "@deep;\n");
}

// Lines, or places along k, between accesses of a thread.
static int tc__stage_jump(const tc__product *q, const tc__staged *s) {
    int deep = s->along == TC__DEPTH, size = deep ? q->tile->depth : tc__staged_size(q, s);
    return q->threads / (size / s->width);
}

// Elements of memory between neighbours along the axis, 0 = not the same everywhere in a tile.
static int64_t tc__copy_stride(const tc__printer *p, const tc__staged *s, tc__axis axis) {
    tc__ixpool *x = p->g->body.ix;
    tc__ixrun run = tc__ix_run(x, tc__body(p, s->id)->attr[TC__LOAD_INDEX], axis);
    tc__ix m = tc__ix_div(x, p->g->shape.rows, p->g->shape.batch); // a tile is in one batch
    if (!run.ok || !tc__ix_is_const(run.stride)) return 0;
    if (run.run != INT64_MAX && (axis != TC__ROW || !tc__ix_equals(m, run.run))) return 0;
    return tc__ix_value(run.stride);
}

// Whether a thread's accesses lie apart by numbers that are known: one address tells the others, and
// moves on from stage to stage.
static int tc__brings_by_steps(const tc__printer *p, const tc__product *q,
                               const tc__staged *s) {
    tc__axis line = s->level == TC__AT_LEFT ? TC__ROW : TC__COL;
    const tc__node *n = tc__body(p, s->id);
    if (p->g->target.checked || s->bring == TC__BRING_NOW)
        return 0; // checked: each is looked at
    if (s->bring == TC__BRING_ASYNC && tc__stage_jump(q, s) % 8) return 0;
    int plain = n->op == TC_OP_LOAD && n->n_attr == TC__LOAD_PREDICATES;
    if (!plain || tc__cuda_dtype(p, n) != n->dtype || n->dtype != q->dtype) return 0;
    if (!q->half && !tc__is_own_class(n->dtype)) return 0;
    return tc__copy_stride(p, s, TC__DEPTH) && tc__copy_stride(p, s, line);
}

// Where the thread's first access comes from, and where its copy goes to: chunks of a tile change
// places alike in every 8 lines.
static void tc__print_bring_first(tc__printer *p, const tc__product *q, const tc__staged *s,
                                  tc__blanks *b) {
    const tc__node *n = tc__body(p, s->id);
    int copies = s->bring == TC__BRING_ASYNC;
    if (!tc__brings_by_steps(p, q, s)) return;
    tc__stage_blanks(q, s, b);
    if (copies) tc__put_filled(p, b, "int @name_place;\n");
    tc__put_filled(p, b,
                   "const @element *@name_from;\n"
                   "{\n"
                   "    const int e = x;\n");
    p->indent++;
    tc__print_stage_place(p, s, b, q->slices > 1 ? "begin + " : "", 1, "");
    if (copies) tc__put_filled(p, b, "@name_place = tc_swizzle<@swizzle>(@slow, @fast);\n");
    tc__put_filled(p, b, "@name_from = &");
    tc__put_buffer(p, n->attr[TC__LOAD_BUFFER]);
    tc__put(p->out, "[");
    tc__put_ix(p, n->attr[TC__LOAD_INDEX]);
    tc__put(p->out, "];\n");
    tc__block_close(p);
}

// Blanks of access j: `far` from the first one in memory, `jump` in the tile; and of the next stage.
static void tc__step_blanks(tc__printer *p, const tc__product *q, const tc__staged *s,
                            tc__blanks *b) {
    int along = s->along == TC__DEPTH, jump = tc__stage_jump(q, s);
    int line = along ? q->tile->depth : tc__staged_size(q, s);
    tc__axis other = s->level == TC__AT_LEFT ? TC__ROW : TC__COL;
    int64_t deep = tc__copy_stride(p, s, TC__DEPTH);
    tc__blank_number(b, "jump", (int64_t)jump * line);
    char far[40];
    snprintf(far, sizeof far, p->narrow ? "%lld" : "(tc_i64)%lld",
             (long long)(jump * (along ? tc__copy_stride(p, s, other) : deep)));
    tc__blank_text(b, "far", far);
    tc__blank_number(b, "onward", deep * q->tile->depth);
}

static void tc__print_copy(tc__printer *p, const tc__product *q, const tc__staged *s,
                           tc__blanks *b, const char *inside) {
    const tc__node *n = tc__body(p, s->id);
    tc__blank_text(b, "if", *inside ? "_if" : "");
    if (tc__brings_by_steps(p, q, s)) {
        tc__put_filled(p, b,
                       "tc_copy_async16@if(&@name[to * @stage + @name_place + j * @jump], "
                       "@name_from + j * @far");
        tc__put(p->out, *inside ? ", %s);\n" : ");\n", inside);
        return;
    }
    tc__put_filled(p, b,
                   "tc_copy_async16@if(&@name[to * @stage + tc_swizzle<@swizzle>(@slow, "
                   "@fast)], ");
    // Only where it is read.
    int looks = *inside && tc__cuda_is_checked(p->g, n->attr[TC__LOAD_BUFFER]);
    if (looks) {
        tc__put(p->out, "!(%s) ? (const void *)", inside);
        tc__put_buffer(p, n->attr[TC__LOAD_BUFFER]);
        tc__put(p->out, "_memory : (const void *)");
    }
    tc__put(p->out, "&");
    tc__cuda_place_of(p, n->attr[TC__LOAD_BUFFER], n->attr[TC__LOAD_INDEX], "",
                      TC__PRODUCT_GROUP / (int)tc__device_bytes(p->g, n));
    tc__put(p->out, *inside ? ", %s);\n" : ");\n", inside);
}

// An access evaluated by the operand's nodes, where it is inside, as pack `to`.
static void tc__print_fetch(tc__printer *p, const tc__product *q, const tc__staged *s,
                            const char *inside, const char *to) {
    if (*inside) {
        tc__line(p);
        tc__put(p->out, "if (%s)", inside);
        tc__block_open(p);
    }
    tc__print_operand_pack(p, s, s->along, s->width, q->half, to);
    if (*inside) tc__block_close(p);
}

// Access j of an operand that comes in registers.
static void tc__print_later(tc__printer *p, const tc__product *q, const tc__staged *s,
                            const tc__blanks *b, const char *inside) {
    if (*inside) tc__put_filled(p, b, "@name_next[j] = {};\n");
    if (!tc__brings_by_steps(p, q, s)) {
        tc__print_fetch(p, q, s, inside,
                        s->level == TC__AT_LEFT ? "left_next[j]" : "right_next[j]");
        return;
    }
    tc__line(p);
    if (*inside) tc__put(p->out, "if (%s) ", inside);
    tc__put_filled_here(p, b,
                        "@name_next[j] = tc_load((const tc_pack<@element, @width> "
                        "*)(@name_from + j * @far));\n");
}

// Access j of one that is stored where it comes.
static void tc__print_now(tc__printer *p, const tc__product *q, const tc__staged *s,
                          tc__blanks *b, const char *inside) {
    int rounds = q->tile->way == TC__WAY_TF32;
    tc__blank_text(b, "value", rounds ? "tc_bits_tf32(next.at[0])" : "next.at[0]");
    tc__put_filled(p, b, "tc_pack<@element, @width> next = {};\n");
    tc__print_fetch(p, q, s, inside, "next");
    tc__put_filled(
        p, b,
        q->half ? "@name[to * @stage + tc_swizzle<@swizzle>(@slow, @fast)] = next.at[0];\n"
                : "@name[to * @stage + @deep * @pitch + @line] = @value;\n");
}

// The next stage of an operand: on its way to shared memory, or to registers.
static void tc__print_bring(tc__printer *p, const tc__product *q, const tc__staged *s,
                            tc__blanks *b) {
    char inside[40];
    int steps = tc__brings_by_steps(p, q, s);
    tc__stage_blanks(q, s, b);
    tc__stage_inside(p, q, s, inside);
    if (steps) tc__step_blanks(p, q, s, b);
    tc__put_filled(p, b,
                   s->bring == TC__BRING_NOW ? "#pragma unroll 4\n" : "#pragma unroll\n");
    tc__put_filled(p, b, "for (int j = 0; j < @count; j++) {\n");
    p->indent++;
    if (!steps || *inside) tc__put_filled(p, b, "const int e = x + j * @threads;\n");
    tc__print_stage_place(p, s, b, "k0 + ", !steps, inside);
    if (s->bring == TC__BRING_ASYNC)
        tc__print_copy(p, q, s, b, inside);
    else if (s->bring == TC__BRING_LATER)
        tc__print_later(p, q, s, b, inside);
    else
        tc__print_now(p, q, s, b, inside);
    tc__block_close(p);
    if (steps) tc__put_filled(p, b, "@name_from += @onward;\n");
}

// From registers to shared memory: whole accesses where the tile's lines run as they do.
static void tc__print_put(tc__printer *p, const tc__product *q, const tc__staged *s,
                          tc__blanks *b) {
    int pack = tc__product_pack(q), deep = s->along == TC__DEPTH;
    if (s->bring != TC__BRING_LATER) return;
    tc__stage_blanks(q, s, b);
    tc__put_filled(p, b,
                   "#pragma unroll\nfor (int j = 0; j < @count; j++) {\n"
                   "    const int e = x + j * @threads;\n");
    p->indent++;
    if (q->half) {
        tc__put_filled(p, b,
                       "*(tc_pack<tc_u16, @width> *)&@name[to * @stage + "
                       "tc_swizzle<@swizzle>(@slow, @fast)] = @name_next[j];\n");
    } else if (deep || s->width < pack) {
        for (int u = 0; u < s->width; u++) {
            tc__blank_number(b, "u", u);
            tc__put_filled(p, b,
                           deep ? "@name[to * @stage + (@deep + @u) * @pitch + @line] = "
                                  "@round@name_next[j].at[@u]@rounded;\n"
                                : "@name[to * @stage + @deep * @pitch + @line + @u] = "
                                  "@round@name_next[j].at[@u]@rounded;\n");
        }
    } else {
        for (int u = 0; u < s->width; u += pack) {
            tc__blank_number(b, "u", u);
            tc__put_filled(p, b,
                           "*(tc_pack<@stored, @pack> *)&@name[to * @stage + @deep * "
                           "@pitch + @line + @u] = {");
            for (int v = u; v < u + pack; v++) {
                tc__put(p->out, v > u ? ", " : "");
                tc__put_filled_here(p, b, "@round@name_next[j].at[");
                tc__put(p->out, "%d]", v);
                tc__put_filled_here(p, b, "@rounded");
            }
            tc__put(p->out, "};\n");
        }
    }
    tc__block_close(p);
}

// ---- tiles: multiplying ----

// A thread's sums are packs of rows and columns, 4 and 8 of them apart, so that a warp reads
// each operand in one go.
static const char tc__text_simt_sums[] =
    "const int row = warp / @across * @warprows + lane / 8 * @pack;\n"
    "const int col = warp % @across * @warpcols + lane % 8 * @pack;\n"
    "tc_pack<@type, @pack> sum[@rows][@colpacks] = {};\n";

static const char tc__text_simt_pieces[] =
    "tc_pack<@type, @pack> lefts[2][@rowpacks], rights[2][@colpacks];\n";

static const char tc__text_simt_fetch[] =
    "#pragma unroll\n"
    "for (int i = 0; i < @rowpacks; i++)\n"
    "    lefts[to][i] = *(const tc_pack<@type, @pack> *)&left[(at * @depth + d) * @leftpitch + "
    "row + i * @rowstep];\n"
    "#pragma unroll\n"
    "for (int j = 0; j < @colpacks; j++)\n"
    "    rights[to][j] = *(const tc_pack<@type, @pack> *)&right[(at * @depth + d) * "
    "@rightpitch + col + j * @colstep];\n";

// Columns to and fro: a register is used again where the next row begins.
static const char tc__text_simt[] =
    "#pragma unroll\n"
    "for (int i = 0; i < @rows; i++) {\n"
    "    #pragma unroll\n"
    "    for (int c = 0; c < @cols; c++) {\n"
    "        const int j = i % 2 ? @cols - 1 - c : c;\n"
    "        @type &s = sum[i][j / @pack].at[j % @pack];\n"
    "        s = tc_add_product_@class(lefts[now][i / @pack].at[i % @pack], rights[now][j / "
    "@pack].at[j % @pack], s);\n"
    "    }\n"
    "}\n";

static const char tc__text_simt_result[] =
    "#pragma unroll\n"
    "for (int i = 0; i < @rows; i++) {\n"
    "    #pragma unroll\n"
    "    for (int j = 0; j < @colpacks; j++)\n"
    "        *(tc_pack<@type, @pack> *)&tile[(lane / 8 * @pack + i / @pack * @rowstep + i % "
    "@pack) * @tilepitch + col + j * @colstep] = sum[i][j];\n"
    "}\n";

// Fragments of 16 x 16; the right operand's are two of 16 x 8. What runs along k in shared
// memory is read as it lies, the other turned.
static const char tc__text_mma_sums[] =
    "const int row = warp / @across * @warprows, col = warp % @across * @warpcols;\n"
    "const int leftlane = tc_swizzle<@leftswizzle>(@leftplace);\n"
    "const int rightlane = tc_swizzle<@rightswizzle>(@rightplace);\n"
    "float sum[@rows][@cols][4] = {};\n";

static const char tc__text_mma_pieces[] =
    "unsigned lefts[2][@rows][4], rights[2][@cols][2];\n";

// Places of a tile differ from the lane's first in bits that swizzling changes alike.
static const char tc__text_mma_fetch[] =
    "#pragma unroll\n"
    "for (int i = 0; i < @rows; i++)\n"
    "    tc_ldmatrix4@leftturn(lefts[to][i], &left[at * @leftstage + @leftstep]);\n"
    "#pragma unroll\n"
    "for (int j = 0; j < @cols; j += 2) {\n"
    "    unsigned two[4];\n"
    "    tc_ldmatrix4@rightturn(two, &right[at * @rightstage + @rightstep]);\n"
    "    rights[to][j][0] = two[0], rights[to][j][1] = two[1];\n"
    "    rights[to][j + 1][0] = two[2], rights[to][j + 1][1] = two[3];\n"
    "}\n";

static const char tc__text_mma[] =
    "#pragma unroll\n"
    "for (int i = 0; i < @rows; i++) {\n"
    "    #pragma unroll\n"
    "    for (int c = 0; c < @cols; c++) {\n"
    "        const int j = i % 2 ? @cols - 1 - c : c;\n"
    "        tc_mma_@operand(sum[i][j], lefts[now][i], rights[now][j]);\n"
    "    }\n"
    "}\n";

static const char tc__text_mma_result[] =
    "#pragma unroll\n"
    "for (int i = 0; i < @rows; i++) {\n"
    "    #pragma unroll\n"
    "    for (int j = 0; j < @cols; j++) {\n"
    "        float *const two = &tile[(lane / 4 + i * 16) * @tilepitch + col + j * 8 + lane % "
    "4 * 2];\n"
    "        *(tc_pack<float, 2> *)two = {sum[i][j][0], sum[i][j][1]};\n"
    "        *(tc_pack<float, 2> *)&two[8 * @tilepitch] = {sum[i][j][2], sum[i][j][3]};\n"
    "    }\n"
    "}\n";

static const char tc__text_words_sums[] =
    "const int row = warp / @across * @warprows, col = warp % @across * @warpcols;\n"
    "float sum[@rows][@cols][4] = {};\n";

static const char tc__text_split_pieces[] =
    "float lefts[2][@rows][4], rights[2][@cols][2], some[@rows][@cols][4];\n";

// Fragments of 16 x 8 and 8 x 8; a lane has elements of the rows or columns lane / 4 and 8 behind,
// at lane % 4 and 4 behind along k.
static const char tc__text_words_fetch[] =
    "#pragma unroll\n"
    "for (int i = 0; i < @rows; i++) {\n"
    "    const @stored *const p = &left[(at * @depth + d + lane % 4) * @leftpitch + row + i * 16 + "
    "lane / 4];\n"
    "    lefts[to][i][0] = p[0], lefts[to][i][1] = p[8];\n"
    "    lefts[to][i][2] = p[4 * @leftpitch], lefts[to][i][3] = p[4 * @leftpitch + 8];\n"
    "}\n"
    "#pragma unroll\n"
    "for (int j = 0; j < @cols; j++) {\n"
    "    const @stored *const p = &right[(at * @depth + d + lane % 4) * @rightpitch + col + j * 8 + "
    "lane / 4];\n"
    "    rights[to][j][0] = p[0], rights[to][j][1] = p[4 * @rightpitch];\n"
    "}\n";

static const char tc__text_split[] =
    "unsigned rightlead[@cols][2], rightrest[@cols][2];\n"
    "#pragma unroll\n"
    "for (int j = 0; j < @cols; j++) tc_split(rights[now][j], rightlead[j], rightrest[j]);\n"
    "#pragma unroll\n"
    "for (int i = 0; i < @rows; i++) {\n"
    "    unsigned lead[4], rest[4];\n"
    "    tc_split(lefts[now][i], lead, rest);\n"
    "    float (&s)[@cols][4] = some[i];\n"
    "    #pragma unroll\n"
    "    for (int j = 0; j < @cols; j++) {\n"
    "        if (d == 0) s[j][0] = s[j][1] = s[j][2] = s[j][3] = 0;\n"
    "        tc_mma_tf32(s[j], rest, rightlead[j]);\n"
    "    }\n"
    "    #pragma unroll\n"
    "    for (int j = 0; j < @cols; j++) tc_mma_tf32(s[j], lead, rightrest[j]);\n"
    "    #pragma unroll\n"
    "    for (int j = 0; j < @cols; j++) tc_mma_tf32(s[j], lead, rightlead[j]);\n"
    "    #pragma unroll\n"
    "    for (int u = 0; u < 4 * @cols; u++)\n"
    "        if (last) sum[i][u / 4][u % 4] += s[u / 4][u % 4];\n"
    "}\n";

static void tc__words_blanks(const tc__product *q, tc__blanks *b, int rows, int cols) {
    tc__blank_number(b, "piece", 8);
    tc__blank_text(b, "turn", "d / 8 % 2");
    tc__blank_number(b, "rows", rows / 16);
    tc__blank_number(b, "cols", cols / 8);
    tc__blank_number(b, "leftpitch", tc__line_pitch(q, q->tile->rows));
    tc__blank_number(b, "rightpitch", tc__line_pitch(q, q->tile->cols));
}

static void tc__mma_blanks(const tc__product *q, tc__blanks *b, int rows, int cols) {
    int left = q->left.along == TC__DEPTH, right = q->right.along == TC__DEPTH;
    tc__blank_number(b, "piece", 16);
    tc__blank_text(b, "turn", "d / 16 % 2");
    tc__blank_number(b, "rows", rows / 16);
    tc__blank_number(b, "cols", cols / 8);
    tc__blank_text(b, "leftturn", left ? "" : "_trans");
    tc__blank_text(b, "rightturn", right ? "" : "_trans");
    tc__blank_number(b, "leftswizzle", left ? q->tile->depth : q->tile->rows);
    tc__blank_number(b, "rightswizzle", right ? q->tile->depth : q->tile->cols);
    tc__blank_text(b, "leftplace",
                   left ? "row + lane % 16, lane / 16 * 8"
                        : "lane / 16 * 8 + lane % 8, row + lane / 8 % 2 * 8");
    tc__blank_text(b, "rightplace",
                   right ? "col + lane / 16 * 8 + lane % 8, lane / 8 % 2 * 8"
                         : "lane % 16, col + lane / 16 * 8");
    char step[64];
    snprintf(step, sizeof step,
             left ? "i * %d + (leftlane ^ d)" : "d * %d + (leftlane ^ i * 16)",
             left ? 16 * q->tile->depth : q->tile->rows);
    tc__blank_text(b, "leftstep", step);
    snprintf(step, sizeof step,
             right ? "j * %d + (rightlane ^ d)" : "d * %d + (rightlane ^ j * 8)",
             right ? 8 * q->tile->depth : q->tile->cols);
    tc__blank_text(b, "rightstep", step);
}

static void tc__simt_blanks(const tc__product *q, tc__blanks *b, int rows, int cols) {
    int pack = tc__product_pack(q);
    tc__blank_number(b, "piece", 1);
    tc__blank_text(b, "turn", "d % 2");
    tc__blank_number(b, "rows", rows / 4);
    tc__blank_number(b, "cols", cols / 8);
    tc__blank_number(b, "rowpacks", rows / 4 / pack);
    tc__blank_number(b, "colpacks", cols / 8 / pack);
    tc__blank_number(b, "rowstep", 4 * pack);
    tc__blank_number(b, "colstep", 8 * pack);
    tc__blank_number(b, "leftpitch", tc__line_pitch(q, q->tile->rows));
    tc__blank_number(b, "rightpitch", tc__line_pitch(q, q->tile->cols));
}

typedef struct tc__way_text {
    const char *sums, *pieces, *fetch, *multiply, *result;
    void (*blanks)(const tc__product *q, tc__blanks *b, int rows, int cols);
} tc__way_text;

static const tc__way_text *tc__way_of(const tc__product *q) {
    static const tc__way_text ways[] = {
        {tc__text_simt_sums, tc__text_simt_pieces, tc__text_simt_fetch, tc__text_simt,
         tc__text_simt_result, tc__simt_blanks},
        {tc__text_mma_sums, tc__text_mma_pieces, tc__text_mma_fetch, tc__text_mma,
         tc__text_mma_result, tc__mma_blanks},
        {tc__text_words_sums, tc__text_split_pieces, tc__text_words_fetch, tc__text_split,
         tc__text_mma_result, tc__words_blanks},
        {tc__text_words_sums, tc__text_mma_pieces, tc__text_words_fetch, tc__text_mma,
         tc__text_mma_result, tc__words_blanks},
    };
    return &ways[q->tile->way];
}

static void tc__tile_blanks(tc__printer *p, const tc__product *q, tc__blanks *b) {
    const tc__product_tile *t = q->tile;
    int rows = t->rows / t->high, cols = t->cols / t->across;
    int rounds = t->way == TC__WAY_TF32;
    b->count = 0;
    tc__blank_text(b, "index", tc__cuda_index_type(p));
    tc__blank_text(b, "type", tc__product_type(p, q));
    tc__blank_text(b, "class", tc__suffix(q->dtype));
    tc__blank_text(b, "operand", rounds ? "tf32" : tc__dtypes[q->dtype].name);
    tc__blank_text(b, "element", q->half ? "tc_u16" : tc__product_type(p, q));
    tc__blank_text(b, "stored",
                   q->half  ? "tc_u16"
                   : rounds ? "unsigned"
                            : tc__product_type(p, q));
    tc__blank_text(b, "round", rounds ? "tc_bits_tf32(" : "");
    tc__blank_text(b, "rounded", rounds ? ")" : "");
    tc__blank_number(b, "pack", tc__product_pack(q));
    tc__blank_number(b, "threads", q->threads);
    tc__blank_number(b, "depth", t->depth);
    tc__blank_number(b, "tilerows", t->rows);
    tc__blank_number(b, "tilecols", t->cols);
    tc__blank_number(b, "high", t->high);
    tc__blank_number(b, "across", t->across);
    tc__blank_number(b, "warprows", rows);
    tc__blank_number(b, "warpcols", cols);
    tc__blank_number(b, "tilepitch", t->cols + TC__PRODUCT_PAD);
    tc__blank_number(b, "stages", tc__product_stages(q));
    tc__blank_number(b, "ahead", tc__product_stages(q) - 1);
    tc__blank_number(b, "flying", tc__product_stages(q) - 2);
    char next[40] = "1 - at", place[40] = "1 - at";
    if (tc__product_stages(q) > 2) {
        snprintf(next, sizeof next, "at == %d ? 0 : at + 1", tc__product_stages(q) - 1);
        snprintf(place, sizeof place, "at ? at - 1 : %d", tc__product_stages(q) - 1);
    }
    tc__blank_text(b, "next", next);
    tc__blank_text(b, "free", place);
    tc__blank_number(b, "leftstage", tc__stage_size(q, TC__AT_LEFT));
    tc__blank_number(b, "rightstage", tc__stage_size(q, TC__AT_RIGHT));
    tc__slice_blanks(q, b);
    tc__way_of(q)->blanks(q, b, rows, cols);
}

// ---- tiles: the kernel ----

static void tc__let(tc__printer *p, const char *name, tc__ix e) {
    tc__line(p);
    tc__put(p->out, "const %s %s = ", tc__cuda_index_type(p), name);
    tc__put_ix(p, e);
    tc__put(p->out, ";\n");
}

// Rows r0.. of the block, below r1, in the batch that holds them: `blocks` are those of a
// batch, `row` the first in it. Only what is named.
static void tc__print_rows_of(tc__printer *p, const tc__product *q, tc__ix blocks,
                              const char *row, int needs_end) {
    int batches = !tc__ix_equals(p->g->shape.batch, 1);
    int split = q->form == TC__PRODUCT_TILES && q->tile->way == TC__WAY_SPLIT; // names all
    if (!needs_end && !split && !tc__level_uses(p->g, TC__AT_LEFT, TC__ROW) &&
        !tc__level_uses(p->g, TC__AT_RIGHT, TC__ROW) && !tc__epilogue_uses(p->g, TC__ROW))
        return;
    if (batches) {
        tc__line(p);
        tc__put(p->out, "const %s first = (%s)%s / ", tc__cuda_index_type(p),
                tc__cuda_index_type(p), tc__block_name(q));
        tc__put_atom(p, blocks, 0);
        if (!tc__ix_equals(q->m, 1)) tc__put(p->out, " * ");
        if (!tc__ix_equals(q->m, 1)) tc__put_atom(p, q->m, 0);
        tc__put(p->out, ";\n");
    }
    tc__line(p);
    tc__put(p->out, "const %s r0 = %s", tc__cuda_index_type(p), batches ? "first" : "");
    if (!batches || strcmp(row, "0")) tc__put(p->out, batches ? " + %s" : "%s", row);
    tc__put(p->out, ";\n");
    if (!needs_end) return;
    tc__line(p);
    tc__put(p->out, "const %s r1 = %s", tc__cuda_index_type(p), batches ? "first + " : "");
    tc__put_atom(p, q->m, 0);
    tc__put(p->out, ";\n");
}

static void tc__print_tile_place(tc__printer *p, const tc__product *q,
                                 const tc__blanks *b) {
    tc__print_slice_place(p, q, b);
    tc__ixpool *x = p->g->body.ix;
    tc__ix high = tc__tiles_high(p->g, q), across = tc__tiles_across(p->g, q),
           all = tc__ix_mul(x, high, across);
    tc__put_filled(p, b,
                   "const int x = threadIdx.x, warp = x / 32, lane = x % 32;\n"
                   "@index m, n;\n");
    tc__put_filled(p, b, "tc_place_tile<@index>(@block");
    if (!tc__ix_equals(p->g->shape.batch, 1)) {
        tc__put(p->out, " %% ");
        tc__put_atom(p, all, 0);
    }
    tc__put(p->out, ", ");
    tc__put_ix(p, high);
    tc__put(p->out, ", ");
    tc__put_ix(p, across);
    tc__put(p->out, ", m, n);\n");
    char row[40];
    snprintf(row, sizeof row, "m * %d", q->tile->rows);
    tc__print_rows_of(p, q, all, row, !tc__goes_into(p, q->m, q->tile->rows));
    int rest = !tc__goes_into(p, p->g->shape.cols, q->tile->cols);
    if (rest || q->tile->way == TC__WAY_SPLIT ||
        tc__level_uses(p->g, TC__AT_RIGHT, TC__COL) || tc__epilogue_uses(p->g, TC__COL))
        tc__put_filled(p, b, "const @index c0 = n * @tilecols;\n");
    if (rest) tc__let(p, "cols", p->g->shape.cols);
    tc__let(p, "depth", tc__depth_of(p->g));
    tc__print_slice(p, q, b);
}

static void tc__print_next(tc__printer *p, const tc__product *q, const tc__staged *s,
                           tc__blanks *b) {
    if (s->bring != TC__BRING_LATER) return;
    tc__stage_blanks(q, s, b);
    tc__put_filled(p, b, "tc_pack<@element, @width> @name_next[@count];\n");
}

// `bring` gives what step `step` multiplies on its way to stage `to`; what comes in registers is put
// there by `put`, also where nothing more came.
static void tc__print_bringing(tc__printer *p, const tc__product *q, tc__blanks *b,
                               int kept) {
    tc__print_next(p, q, &q->left, b);
    tc__print_next(p, q, &q->right, b);
    tc__print_bring_first(p, q, &q->left, b);
    tc__print_bring_first(p, q, &q->right, b);
    tc__put_filled(p, b,
                   "auto bring = [&](int step, int to) {\n"
                   "    const @index k0 = @from(@index)step * @depth;\n"
                   "    if (k0 < @until) {\n");
    p->indent += 2;
    tc__print_bring(p, q, &q->left, b);
    tc__print_bring(p, q, &q->right, b);
    tc__block_close(p);
    if (tc__has_async(q)) tc__put_filled(p, b, "tc_copy_commit();\n");
    p->indent--;
    tc__put_filled(p, b, "};\n");
    if (!kept) return;
    tc__put_filled(p, b, "auto put = [&](int to) {\n");
    p->indent++;
    tc__print_put(p, q, &q->left, b);
    tc__print_put(p, q, &q->right, b);
    p->indent--;
    tc__put_filled(p, b, "};\n");
}

// `fetch` gives pieces `to` what is at d of stage `at`.
static void tc__print_fetching(tc__printer *p, const tc__product *q, const tc__blanks *b) {
    tc__put_filled(p, b, tc__way_of(q)->pieces);
    tc__put_filled(p, b, "auto fetch = [&](int at, int d, int to) {\n");
    p->indent++;
    tc__put_filled(p, b, tc__way_of(q)->fetch);
    p->indent--;
    tc__put_filled(p, b, "};\n");
}

// The loop over k.
static void tc__print_steps(tc__printer *p, const tc__product *q, tc__blanks *b) {
    int async = tc__has_async(q),
        kept = q->left.bring == TC__BRING_LATER || q->right.bring == TC__BRING_LATER;
    tc__print_bringing(p, q, b, kept);
    tc__print_fetching(p, q, b);
    tc__put_filled(p, b,
                   "const int steps = (int)((@extent + (@depth - 1)) / @depth);\n"
                   "#pragma unroll 1\n"
                   "for (int step = 0; step < @ahead; step++) {\n"
                   "    bring(step, step);\n");
    if (kept) tc__put_filled(p, b, "    put(step);\n");
    tc__put_filled(p, b, "}\n");
    if (async) tc__put_filled(p, b, "tc_copy_wait<@flying>();\n");
    tc__put_filled(p, b,
                   "__syncthreads();\n"
                   "fetch(0, 0, 0);\n"
                   "int at = 0;  // the stage of this step; the one before it is free\n"
                   "#pragma unroll 1\n"
                   "for (int step = 0; step < steps; step++) {\n"
                   "    const int to = @free;\n"
                   "    #pragma unroll\n"
                   "    for (int d = 0; d < @depth; d += @piece) {\n"
                   "        const int now = @turn, last = d + @piece == @depth;\n"
                   "        if (last) {\n");
    if (kept) tc__put_filled(p, b, "            put(to);\n");
    if (async) tc__put_filled(p, b, "            tc_copy_wait<@flying>();\n");
    tc__put_filled(p, b,
                   "            __syncthreads();\n"
                   "            at = @next;\n"
                   "        }\n"
                   "        if (d == 0) bring(step + @ahead, to);\n"
                   "        fetch(at, last ? 0 : d + @piece, 1 - now);\n");
    p->indent += 2;
    tc__put_filled(p, b, tc__way_of(q)->multiply);
    tc__block_close(p);
    tc__block_close(p);
}

// `again` sums an element by a chain, from memory.
static void tc__print_again(tc__printer *p, const tc__product *q, const tc__blanks *b) {
    tc__put_filled(p, b, "auto again = [&](@index r, @index c) {\n");
    p->indent++;
    tc__put_filled(p, b, "float sum = 0;\n");
    tc__print_chain(p, q, "sum", 1);
    tc__put_filled(p, b, "return sum;\n");
    p->indent--;
    tc__put_filled(p, b, "};\n");
}

// r and c of element e, if they are named or asked for, and a block where it may be outside of the
// result.
static void tc__print_result_place(tc__printer *p, const tc__blanks *b, const char *row,
                                   const char *column, const char *inside, int both) {
    if (both || tc__epilogue_uses(p->g, TC__ROW) || strstr(inside, "r1"))
        tc__put_filled(p, b, row);
    if (both || tc__epilogue_uses(p->g, TC__COL) || strstr(inside, "cols"))
        tc__put_filled(p, b, column);
    if (!*inside) return;
    tc__line(p);
    tc__put(p->out, "if (%s)", inside);
    tc__block_open(p);
}

// The result by rows of warps: their sums to shared memory, from there to the epilogue.
static void tc__print_tile_result(tc__printer *p, const tc__product *q, tc__blanks *b) {
    int width = p->cuda->width, line = !tc__goes_into(p, q->m, q->tile->rows),
        cols = !tc__goes_into(p, p->g->shape.cols, q->tile->cols);
    char inside[40];
    snprintf(inside, sizeof inside, "%s%s%s", line ? "r < r1" : "",
             line && cols ? " && " : "", cols ? "c < cols" : "");
    tc__blank_number(b, "packs", q->tile->cols / width);
    tc__blank_number(b, "many", q->tile->rows / q->tile->high * q->tile->cols / width);
    tc__blank_number(b, "width", width);
    tc__put_filled(p, b,
                   "#pragma unroll 1\n"
                   "for (int part = 0; part < @high; part++) {\n"
                   "    __syncthreads();\n"
                   "    if (warp / @across == part) {\n");
    p->indent += 2;
    tc__put_filled(p, b, tc__way_of(q)->result);
    p->indent -= 2;
    tc__put_filled(
        p, b,
        "    }\n"
        "    __syncthreads();\n"
        "    #pragma unroll 1\n"
        "    for (int e = x; e < @many; e += @threads) {\n"
        "        const int at = e / @packs * @tilepitch + e % @packs * @width;\n");
    p->indent += 2;
    tc__print_result_place(p, b, "const @index r = r0 + part * @warprows + e / @packs;\n",
                           "const @index c = c0 + e % @packs * @width;\n", inside,
                           q->tile->way == TC__WAY_SPLIT);
    if (q->tile->way == TC__WAY_SPLIT)
        tc__put_filled(
            p, b,
            "#pragma unroll 1\n"
            "for (int l = 0; l < @width; l++)\n"
            "    if (!tc_is_finite(tile[at + l])) tile[at + l] = again(r, c + l);\n");
    tc__print_epilogue(p, q);
    for (int i = *inside ? 0 : 1; i < 3; i++) tc__block_close(p);
}

static void tc__print_tiles(tc__printer *p, const tc__product *q) {
    tc__blanks b;
    tc__tile_blanks(p, q, &b);
    tc__print_tile_place(p, q, &b);
    tc__put_filled(p, &b,
                   "@stored *const left = (@stored *)shared;\n"
                   "@stored *const right = left + @stages * @leftstage;\n"
                   "@type *const tile = (@type *)shared;  // when the operands are done\n");
    tc__put_filled(p, &b, tc__way_of(q)->sums);
    tc__print_steps(p, q, &b);
    tc__print_meeting(p, q, &b);
    if (q->tile->way == TC__WAY_SPLIT) tc__print_again(p, q, &b);
    tc__print_tile_result(p, q, &b);
}
