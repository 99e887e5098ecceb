// Products of few rows or columns in CUDA: the form "few" of product.c as text. The other
// operand is read once; sums are made by lanes along k, or by slices of k, and meet in shared memory,
// from where the epilogue takes them as it does those of tiles (matmul.c).

static void tc__few_blanks(tc__printer *p, const tc__product *q, tc__blanks *b) {
    int width = tc__wide_operand(q)->width, row = q->wide == TC__ROW;
    b->count = 0;
    tc__blank_text(b, "index", tc__cuda_index_type(p));
    tc__blank_text(b, "type", tc__product_type(p, q));
    tc__blank_text(b, "class", tc__suffix(q->dtype));
    tc__blank_text(b, "axis", row ? "r" : "c");
    tc__blank_text(b, "end", row ? "r1" : "cols");
    tc__blank_number(b, "width", width);
    tc__blank_number(b, "few", q->few);
    tc__blank_number(b, "each", q->each);
    tc__blank_number(b, "cover", q->cover);
    tc__blank_number(b, "sharing", q->sharing);
    tc__blank_number(b, "lanes", q->threads / q->sharing);
    tc__blank_number(b, "stride", q->sharing * width);
    tc__blank_number(b, "threads", q->threads);
    tc__blank_number(b, "many", q->few * q->cover);
    tc__blank_number(b, "fold", q->sharing > 32 ? 16 : q->sharing / 2);
    char start[40];
    snprintf(start, sizeof start, q->dot ? "%slane * %d" : "%sy",
             q->slices > 1 ? "begin + " : "", width);
    tc__blank_text(b, "start", start);
    tc__slice_blanks(q, b);
    int busy = q->few * width * (q->each ? q->each : 1);
    if (tc__wide_operand(q)->computed) busy *= 2; // what is loaded is not yet the operand
    tc__blank_number(b, "unroll", busy > 32 ? 2 : 4);
}

// Where the block stands: r0 and c0, and the end of the wide axis.
static void tc__print_few_place(tc__printer *p, const tc__product *q) {
    tc__ixpool *x = p->g->body.ix;
    tc__ix blocks = tc__ix_ceil_div(x, tc__wide_extent(p->g, q), tc__ix_const(q->cover));
    char at[120];
    tc__text text;
    int wide = q->wide == TC__ROW, batches = !tc__ix_equals(p->g->shape.batch, 1);
    tc__text_init(&text, p->out->ctx);
    tc__text *out = p->out;
    p->out = &text;
    tc__put(p->out, "(%s)%s", tc__cuda_index_type(p), tc__block_name(q));
    if (batches) {
        tc__put(p->out, " %% ");
        tc__put_atom(p, blocks, 0);
    }
    tc__put(p->out, " * %d", q->cover);
    p->out = out;
    snprintf(at, sizeof at, "%s", text.failed ? "" : text.at);
    out->failed |= text.failed || text.size >= sizeof at;
    tc__text_free(&text);
    tc__print_rows_of(p, q, blocks, wide ? at : "0", wide);
    if (wide) return;
    tc__line(p);
    tc__put(p->out, "const %s c0 = %s;\n", tc__cuda_index_type(p), at);
    tc__let(p, "cols", p->g->shape.cols);
}

// The operand that is beside the wide one.
static const tc__staged *tc__few_operand(const tc__product *q) {
    return q->wide == TC__COL ? &q->left : &q->right;
}

// r and c for the nodes of an operand, as far as they are named: `place` is on its own axis.
static void tc__print_few_index(tc__printer *p, const tc__staged *s, const tc__blanks *b,
                                const char *place) {
    int left = s->level == TC__AT_LEFT;
    if (tc__level_uses(p->g, s->level, TC__ROW)) {
        tc__line(p);
        tc__put(p->out, "const %s r = ", tc__cuda_index_type(p));
        tc__put_filled_here(p, b, left ? place : "r0");
        tc__put(p->out, ";\n");
    }
    if (left || !tc__level_uses(p->g, s->level, TC__COL)) return;
    tc__line(p);
    tc__put(p->out, "const %s c = ", tc__cuda_index_type(p));
    tc__put_filled_here(p, b, place);
    tc__put(p->out, ";\n");
}

// The sums of all lanes, in the tile.
static void tc__print_dot_end(tc__printer *p, const tc__product *q, const tc__blanks *b) {
    tc__put_filled(
        p, b,
        "#pragma unroll\n"
        "for (int i = 0; i < @few * @each; i++) {\n"
        "    @type v = sum[i / @each][i % @each];\n"
        "    for (int o = @fold; o; o /= 2) v = TC_ADD_@class(v, __shfl_xor_sync(~0u, v, o));\n");
    tc__put_filled(
        p, b,
        q->parts > 1
            ? "    if (lane % 32 == 0) tile[lane / 32 * @many + i / @each * @cover "
              "+ i % @each] = v;\n}\n"
            : "    if (lane == 0) tile[i / @each * @cover + group + i % @each] = "
              "v;\n}\n");
}

static void tc__print_dot(tc__printer *p, const tc__product *q, const tc__blanks *b) {
    const tc__staged *wide = tc__wide_operand(q), *few = tc__few_operand(q);
    tc__put_filled(p, b,
                   q->parts > 1 ? "const int lane = threadIdx.x;\n"
                                : "const int lane = threadIdx.x % @sharing, group = "
                                  "threadIdx.x / @sharing * @each;\n");
    tc__put_filled(p, b,
                   "@type sum[@few][@each] = {};\n"
                   "#pragma unroll @unroll\n"
                   "for (@index k = @start; k < @until; k += @stride) {\n"
                   "    tc_pack<@type, @width> few, wide[@each];\n"
                   "    #pragma unroll\n"
                   "    for (int j = 0; j < @each; j++) {\n");
    p->indent += 2;
    tc__print_few_index(p, wide, b,
                        q->parts > 1 ? "tc_min(@axis0 + j, @end - 1)"
                                     : "tc_min(@axis0 + group + j, @end - 1)");
    tc__print_operand_pack(p, wide, TC__DEPTH, wide->width, 0, "wide[j]");
    p->indent -= 1;
    tc__put_filled(p, b,
                   "}\n"
                   "#pragma unroll\n"
                   "for (int i = 0; i < @few; i++) {\n");
    p->indent += 1;
    tc__print_few_index(p, few, b, q->wide == TC__COL ? "r0 + i" : "i");
    tc__print_operand_pack(p, few, TC__DEPTH, wide->width, 0, "few");
    p->indent -= 2;
    tc__put_filled(
        p, b,
        "        #pragma unroll\n"
        "        for (int j = 0; j < @each * @width; j++)\n"
        "            sum[i][j / @width] = tc_add_product_@class(few.at[j % @width], wide[j / "
        "@width].at[j % @width], sum[i][j / @width]);\n"
        "    }\n"
        "}\n");
    tc__print_meeting(p, q, b);
    tc__print_dot_end(p, q, b);
}

static const char tc__text_columns_end[] =
    "#pragma unroll\n"
    "for (int i = 0; i < @few * @width; i++)\n"
    "    tile[(y * @few + i / @width) * @cover + x + i % @width] = sum[i / "
    "@width].at[i % @width];\n";

static void tc__print_columns(tc__printer *p, const tc__product *q, const tc__blanks *b) {
    const tc__staged *wide = tc__wide_operand(q), *few = tc__few_operand(q);
    const char *place = "tc_min(@axis0 + x, @end - @width)";
    tc__put_filled(
        p, b,
        "const int x = threadIdx.x % @lanes * @width, y = threadIdx.x / @lanes;\n"
        "tc_pack<@type, @width> sum[@few] = {};\n");
    if (wide->computed) {
        tc__print_few_index(p, wide, b, place);
        tc__print_operand_ahead(p, wide, q->wide);
    }
    tc__put_filled(p, b,
                   "#pragma unroll @unroll\n"
                   "for (@index k = @start; k < @until; k += @sharing) {\n"
                   "    tc_pack<@type, @width> wide;\n"
                   "    tc_pack<@type, 1> few;\n"
                   "    {\n");
    p->indent += 2;
    if (!wide->computed) tc__print_few_index(p, wide, b, place);
    p->issued = wide->computed;
    tc__print_operand_pack(p, wide, q->wide, wide->width, 0, "wide");
    p->issued = 0;
    p->indent -= 1;
    tc__put_filled(p, b,
                   "}\n"
                   "#pragma unroll\n"
                   "for (int i = 0; i < @few; i++) {\n");
    p->indent += 1;
    tc__print_few_index(p, few, b, q->wide == TC__COL ? "r0 + i" : "i");
    tc__print_operand_pack(p, few, TC__DEPTH, 1, 0, "few");
    p->indent -= 2;
    tc__put_filled(
        p, b,
        "        #pragma unroll\n"
        "        for (int j = 0; j < @width; j++)\n"
        "            sum[i].at[j] = tc_add_product_@class(few.at[0], wide.at[j], "
        "sum[i].at[j]);\n"
        "    }\n"
        "}\n");
    tc__print_meeting(p, q, b);
    tc__put_filled(p, b, tc__text_columns_end);
}

static void tc__print_few(tc__printer *p, const tc__product *q) {
    int wide = q->wide == TC__ROW;
    tc__blanks b;
    tc__few_blanks(p, q, &b);
    tc__print_slice_place(p, q, &b);
    tc__print_few_place(p, q);
    tc__let(p, "depth", tc__depth_of(p->g));
    tc__print_slice(p, q, &b);
    tc__put_filled(p, &b, "@type *const tile = (@type *)shared;\n");
    if (q->dot)
        tc__print_dot(p, q, &b);
    else
        tc__print_columns(p, q, &b);
    tc__put_filled(p, &b,
                   "__syncthreads();\n"
                   "for (int at = threadIdx.x; at < @many; at += @threads) {\n");
    p->indent++;
    tc__print_result_place(p, &b,
                           wide ? "const @index r = r0 + at % @cover;\n"
                                : "const @index r = r0 + at / @cover;\n",
                           wide ? "const @index c = at / @cover;\n"
                                : "const @index c = c0 + at % @cover;\n",
                           wide ? "r < r1" : "c < cols", 0);
    tc__print_epilogue(p, q);
    tc__block_close(p);
    tc__block_close(p);
}
