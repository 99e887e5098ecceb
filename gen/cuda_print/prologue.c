// Products that make the rows of their left operand themselves (join.c): a norm and the linear layer
// behind it in one kernel, where both are so short that their time is that of launches and latencies.
//
// A block makes its rows in shared memory, by the text of the form "rows"; then each thread has sums
// as in "few". What needs no row is on its way before: the weights of a thread, as far as
// registers go, and what the epilogue reads.

// ---- the rows, as a kernel of their own would have them ----

// The list that makes the rows, as a reduction.
static tc__group tc__prologue_of(const tc__group *g) {
    tc__group rows = *g;
    rows.shape.kind = TC__REDUCTION, rows.shape.cols = tc__depth_of(g),
    rows.shape.prologue = 0;
    rows.body.node.count = g->shape.prologue;
    return rows;
}

// A warp or less has a row; of a long one, the block.
static tc__device_plan tc__prologue_plan(const tc__group *rows,
                                         const tc__product *product) {
    tc__device_plan q;
    int64_t columns = tc__ix_value(rows->shape.cols);
    memset(&q, 0, sizeof q);
    q.form = TC__DEVICE_ROWS, q.axis = TC__COL;
    q.threads = q.sharing = product->threads;
    q.vectors = q.parts = q.launches = 1;
    q.width = tc__device_width(rows, TC__COL);
    while (columns % q.width) q.width /= 2;
    tc__device_choose_lanes_early(rows, &q);
    if (columns <= (product->made > 1 ? TC__ROWS_BY_WARP : TC__ROWS_ALONE)) {
        tc__device_share(rows, &q, columns);
        q.threads = product->threads;
        return q;
    }
    q.hold = TC__DEVICE_REGISTERS;
    q.vectors = (int)((columns / q.width - 1) / q.threads + 1);
    int64_t words = tc__device_held(rows, &q, 1) * q.width / 4;
    if ((words + tc__device_phase_words(rows, &q)) * q.vectors <= TC__DEVICE_BLOCK_HELD)
        return q;
    q.hold = TC__DEVICE_AGAIN, q.vectors = tc__device_vectors(rows, &q, TC__DEVICE_FLIGHT);
    return q;
}

// Whether the rows can be made without memory beside their own.
static int tc__prologue_is_plain(const tc__group *g, const tc__product *product) {
    tc__group rows = tc__prologue_of(g);
    tc__device_plan q = tc__prologue_plan(&rows, product);
    if (q.sharing > 32 && product->made > 1) return 0;
    if (tc__device_has_shared_row(&rows)) return 0;
    for (size_t i = 0; i < rows.buffer.count; i++)
        if (tc__device_is_scratch(&rows, &q, (int64_t)i)) return 0;
    return 1;
}

// Whether a kernel with its rows is shorter than two: where each row is made once; else where all that
// a multiprocessor makes again, and multiplies without tiles, takes about as long as a launch.
static int tc__device_takes_rows(const tc__group *g) {
    if (!tc__ix_is_const(tc__depth_of(g))) return 0;
    tc__product q = tc__product_plan(g);
    if (tc__ix_value(q.shared) > TC__ROWS_BYTES || !tc__prologue_is_plain(g, &q)) return 0;
    if (q.wide == TC__ROW) return 1;
    if (!tc__ix_is_const(q.blocks)) return 0;
    int64_t each = (tc__ix_value(q.blocks) - 1) / TC__PRODUCT_SMS + 1;
    int64_t made = each * q.made * tc__ix_value(tc__depth_of(g));
    tc__product other = q;
    int tiles = !tc__choose_wide(g, &other);
    return made <= TC__ROWS_MADE && (!tiles || made * q.cover <= TC__ROWS_STEPS);
}

// ---- where the block stands ----

// Names that are defined at the head, in order, as far as what follows mentions them.
typedef struct tc__heads {
    tc__text line[8];
    const char *name[8];
    int count;
} tc__heads;

static void tc__head_add(tc__printer *p, tc__heads *h, const char *name) {
    tc__text *t = &h->line[h->count];
    h->name[h->count++] = name;
    tc__text_init(t, p->out->ctx);
    tc__put(t, "const %s %s = ", tc__cuda_index_type(p), name);
}

static void tc__head_ix(tc__printer *p, tc__heads *h, tc__ix e, int bare) {
    tc__text *out = p->out;
    p->out = &h->line[h->count - 1];
    if (bare)
        tc__put_ix(p, e);
    else
        tc__put_atom(p, e, 0);
    p->out = out;
}

static void tc__head_put(tc__heads *h, const char *text) {
    tc__put(&h->line[h->count - 1], "%s", text);
}

// Block i of so many: `blockIdx.x % all / by * size`, without what changes nothing.
static void tc__head_block(tc__printer *p, tc__heads *h, tc__ix all, int whole, tc__ix by,
                           int size) {
    char times[24];
    tc__head_put(h, tc__cuda_index_type(p)[0] == 'i' ? "(int)blockIdx.x"
                                                     : "(tc_i64)blockIdx.x");
    if (!whole) tc__head_put(h, " % "), tc__head_ix(p, h, all, 0);
    if (!tc__ix_equals(by, 1)) tc__head_put(h, " / "), tc__head_ix(p, h, by, 0);
    snprintf(times, sizeof times, " * %d", size);
    if (size > 1) tc__head_put(h, times);
}

static void tc__rows_heads(tc__printer *p, const tc__product *q, tc__heads *h) {
    tc__ixpool *x = p->g->body.ix;
    int batches = !tc__ix_equals(p->g->shape.batch, 1);
    tc__ix across = tc__rows_across(p->g, q), high = tc__rows_high(p->g, q),
           all = tc__ix_mul(x, across, high);
    h->count = 0;
    if (batches) {
        tc__head_add(p, h, "first");
        tc__head_block(p, h, all, 1, all, 1);
        tc__head_put(h, " * "), tc__head_ix(p, h, q->m, 0);
    }
    tc__head_add(p, h, "r0");
    if (batches) tc__head_put(h, "first");
    if (!tc__ix_equals(high, 1)) {
        if (batches) tc__head_put(h, " + ");
        tc__head_block(p, h, all, !batches, across, q->made);
    } else if (!batches) {
        tc__head_put(h, "0");
    }
    tc__head_add(p, h, "r1");
    if (batches) tc__head_put(h, "first + ");
    tc__head_ix(p, h, q->m, 0);
    tc__head_add(p, h, "c0");
    if (tc__ix_equals(across, 1))
        tc__head_put(h, "0");
    else
        tc__head_block(p, h, across, !batches && tc__ix_equals(high, 1), tc__ix_const(1),
                       q->cover);
    tc__head_add(p, h, "cols"), tc__head_ix(p, h, p->g->shape.cols, 1);
    tc__head_add(p, h, "depth"), tc__head_ix(p, h, tc__depth_of(p->g), 1);
}

// The lines that `body` mentions, or a later one that it does; then the body.
static void tc__put_heads(tc__printer *p, tc__heads *h, const tc__text *body) {
    int needed[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    for (int i = h->count; i-- > 0;) {
        needed[i] = tc__c_mentions(body, h->name[i]);
        for (int k = i + 1; k < h->count; k++)
            needed[i] |= needed[k] && tc__c_mentions(&h->line[k], h->name[i]);
    }
    for (int i = 0; i < h->count; i++) {
        if (needed[i]) tc__line(p);
        if (needed[i]) tc__put(p->out, "%s;\n", h->line[i].at);
        p->out->failed |= h->line[i].failed;
        tc__text_free(&h->line[i]);
    }
    tc__put_raw(p->out, body->at, body->size);
    p->out->failed |= body->failed;
}

// ---- making rows ----

// `float *const left0 = (float *)(rows + i * 256);`
static void tc__print_made_row(tc__printer *p, const tc__product *q, const char *row,
                               int writes) {
    int64_t b = tc__left_rows(p->g) - p->g->buffer.at;
    const char *type = tc__dtypes[p->g->buffer.at[b].dtype].memory,
               *keep = writes ? "" : "const ";
    tc__line(p);
    tc__put(p->out, "%s%s *const ", keep, type);
    tc__put_buffer(p, b);
    tc__put(p->out, " = (%s%s *)(rows", keep, type);
    if (strcmp(row, "0")) tc__put(p->out, " + %s * %lld", row, (long long)q->row);
    tc__put(p->out, ");\n");
}

// i, the row of a warp or a part of it, and x, the thread in the row.
static void tc__print_made_place(tc__printer *p, const tc__product *q, tc__blanks *b) {
    int rows = 32 / p->cuda->sharing;
    tc__blank_number(b, "share", p->cuda->sharing);
    if (q->made == 1) {
        tc__put_filled(p, b, "if (threadIdx.x < 32) {\n");
        p->indent++;
        if (p->cuda->sharing > 1)
            tc__put_filled(p, b, "const int x = threadIdx.x % @share;\n");
        return;
    }
    tc__blank_number(b, "made", q->made);
    tc__blank_number(b, "rows", rows);
    tc__blank_number(b, "pass", q->threads / p->cuda->sharing);
    tc__put_filled(
        p, b,
        rows > 1 ? "for (int i0 = threadIdx.x / 32 * @rows; i0 < @made; i0 += @pass) {\n"
                 : "for (int i = threadIdx.x / 32; i < @made; i += @pass) {\n");
    p->indent++;
    if (rows == 1)
        tc__put_filled(p, b, "const int x = threadIdx.x % 32;\n");
    else if (q->made % rows)
        tc__put_filled(
            p, b,
            "const int i = tc_min(i0 + (int)threadIdx.x % 32 / @share, @made - 1);\n");
    else
        tc__put_filled(p, b, "const int i = i0 + threadIdx.x % 32 / @share;\n");
    if (rows > 1 && p->cuda->sharing > 1)
        tc__put_filled(p, b, "const int x = threadIdx.x % @share;\n");
}

// Loads of all phases before the first, as far as registers go: nothing hides the latency of a later
// one.
static void tc__print_made_loads(tc__printer *p) {
    tc__cuda_loop_body body;
    int64_t words = 0;
    if (p->cuda->hold != TC__DEVICE_REGISTERS) return;
    if (!tc__cuda_body_open(p, &body, 0, (uint32_t)p->g->body.node.count)) return;
    for (uint32_t id = 0; id < body.end; id++)
        if (tc__cuda_issues_in(p, &body, tc__body(p, id)))
            words += tc__device_words(p->g, p->cuda, tc__body(p, id));
    if (words > 0 && words * p->cuda->vectors <= TC__DEVICE_WARP_HELD) {
        tc__cuda_place at = tc__cuda_register_place(p, p->g->shape.cols);
        tc__cuda_declare(p, &body, p->cuda->vectors);
        tc__cuda_unrolled(p, &body, &at, p->cuda->vectors, tc__cuda_issue_at);
        p->issued = 1;
    }
    tc__cuda_body_close(p, &body);
}

// All threads of a warp make a row, the last rows more than once: they exchange values.
static void tc__print_made(tc__printer *p, const tc__product *q, tc__blanks *b) {
    const tc__group *g = p->g;
    const tc__device_plan *before = p->cuda;
    tc__group rows = tc__prologue_of(g);
    tc__device_plan plan = tc__prologue_plan(&rows, q);
    int block = plan.sharing > 32, one = q->made == 1;
    plan.narrow = before->narrow;
    p->g = &rows, p->cuda = &plan;
    if (block) {
        tc__put_filled(p, b, "{\n");
        p->indent++;
        tc__put_filled(p, b, "const int x = threadIdx.x;\n");
    } else {
        tc__print_made_place(p, q, b);
    }
    if (tc__device_names_rows(&rows))
        tc__put_filled(p, b,
                       one ? "const @index r = r0;\n"
                       : tc__goes_into(p, q->m, q->made)
                           ? "const @index r = r0 + i;\n"
                           : "const @index r = tc_min(r0 + i, r1 - 1);\n");
    tc__print_made_row(p, q, one ? "0" : "i", 1);
    tc__cuda_keeps(p);
    p->owner = tc__ix_equals(tc__rows_across(g, q), 1) ? NULL : "c0 == 0";
    tc__print_made_loads(p);
    tc__print_range(p, 0, g->shape.prologue);
    p->owner = NULL, p->issued = 0;
    tc__block_close(p);
    p->g = g, p->cuda = before, p->axis = TC__COL;
}

// ---- multiplying ----

// The wide operand at step s, as pack `to`: at j of those that a thread has.
static void tc__print_wide(tc__printer *p, const tc__product *q, const tc__blanks *b,
                           const char *to) {
    const tc__staged *wide = tc__wide_operand(q);
    if (!q->dot) {
        tc__print_few_index(p, wide, b, "tc_min(@axis0 + x, @end - @width)");
        tc__print_operand_pack(p, wide, q->wide, wide->width, 0, to);
        return;
    }
    if (q->wide == TC__ROW) tc__print_made_row(p, q, q->parts > 1 ? "j" : "(group + j)", 0);
    tc__print_few_index(p, wide, b,
                        q->parts > 1 ? "tc_min(@axis0 + j, @end - 1)"
                                     : "tc_min(@axis0 + group + j, @end - 1)");
    tc__print_operand_pack(p, wide, TC__DEPTH, wide->width, 0, to);
}

// All that a thread has of the wide operand at k.
static void tc__print_wides(tc__printer *p, const tc__product *q, const tc__blanks *b) {
    if (!q->dot) {
        tc__print_wide(p, q, b, q->ahead ? "wide[s]" : "wide[0]");
        return;
    }
    tc__put_filled(p, b, "#pragma unroll\nfor (int j = 0; j < @each; j++) {\n");
    p->indent++;
    tc__print_wide(p, q, b, q->ahead ? "wide[s][j]" : "wide[0][j]");
    tc__block_close(p);
}

static const char *tc__rows_wide_text(const tc__product *q) {
    return q->dot ? "tc_pack<@type, @width> wide[@held][@each];\n"
                  : "tc_pack<@type, @width> wide[@held];\n";
}

static int tc__rows_ragged(const tc__printer *p, const tc__product *q) {
    int width = q->dot ? tc__wide_operand(q)->width : 1;
    return !tc__goes_into(p, tc__depth_of(p->g), (int64_t)q->sharing * width);
}

// The wide operand, before the rows are made.
static void tc__print_ahead(tc__printer *p, const tc__product *q, const tc__blanks *b) {
    tc__put_filled(p, b, tc__rows_wide_text(q));
    tc__put_filled(p, b,
                   "#pragma unroll\n"
                   "for (int s = 0; s < @steps; s++) {\n");
    p->indent++;
    tc__put_filled(p, b,
                   tc__rows_ragged(p, q)
                       ? "const @index k = tc_min(@deep + s * @step, depth - @deepest);\n"
                       : "const @index k = @deep + s * @step;\n");
    tc__print_wides(p, q, b);
    tc__block_close(p);
}

// A step of all sums.
static void tc__print_rows_step(tc__printer *p, const tc__product *q, const tc__blanks *b) {
    const tc__staged *few = tc__few_operand(q);
    int width = q->dot ? tc__wide_operand(q)->width : 1;
    tc__put_filled(p, b,
                   "#pragma unroll\n"
                   "for (int i = 0; i < @few; i++) {\n");
    p->indent++;
    tc__put_filled(p, b, "tc_pack<@type, @deepest> few;\n");
    if (q->wide == TC__COL) tc__print_made_row(p, q, q->made == 1 ? "0" : "i", 0);
    tc__print_few_index(p, few, b,
                        q->wide == TC__ROW                ? "i"
                        : tc__goes_into(p, q->m, q->made) ? "r0 + i"
                                                          : "tc_min(r0 + i, r1 - 1)");
    tc__print_operand_pack(p, few, TC__DEPTH, width, 0, "few");
    tc__put_filled(
        p, b,
        q->dot ? "#pragma unroll\n"
                 "for (int j = 0; j < @each * @width; j++)\n"
                 "    sum[i][j / @width] = tc_add_product_@class(few.at[j % @width], "
                 "wide[@at][j / @width].at[j % @width], sum[i][j / @width]);\n"
               : "#pragma unroll\n"
                 "for (int j = 0; j < @width; j++)\n"
                 "    sum[i].at[j] = tc_add_product_@class(few.at[0], wide[@at].at[j], "
                 "sum[i].at[j]);\n");
    tc__block_close(p);
}

static void tc__print_rows_sums(tc__printer *p, const tc__product *q, const tc__blanks *b) {
    int ragged = tc__rows_ragged(p, q);
    tc__put_filled(p, b,
                   q->dot ? "@type sum[@few][@each] = {};\n"
                          : "tc_pack<@type, @width> sum[@few] = {};\n");
    tc__put_filled(p, b, q->ahead ? "#pragma unroll\n" : "#pragma unroll @unroll\n");
    tc__put_filled(p, b,
                   "for (int s = 0; s < @steps; s++) {\n"
                   "    const @index k = @deep + s * @step;\n");
    p->indent++;
    if (ragged) tc__put_filled(p, b, "if (k >= depth) break;\n");
    if (!q->ahead) tc__put_filled(p, b, tc__rows_wide_text(q));
    if (!q->ahead) tc__print_wides(p, q, b);
    tc__print_rows_step(p, q, b);
    tc__block_close(p);
    if (q->dot)
        tc__print_dot_end(p, q, b);
    else
        tc__put_filled(p, b, tc__text_columns_end);
}

// ---- the result ----

// r and c of element `at`; clamped where it may be outside.
static void tc__print_rows_result_place(tc__printer *p, const tc__product *q,
                                        const tc__blanks *b, int clamped) {
    int wide = q->wide == TC__ROW, row = clamped && !tc__goes_into(p, q->m, q->made),
        col = clamped && !wide && !tc__goes_into(p, p->g->shape.cols, q->cover);
    if (tc__epilogue_uses(p->g, TC__ROW)) {
        tc__put_filled(p, b,
                       row ? "const @index r = tc_min(r0 + " : "const @index r = r0 + ");
        tc__put_filled_here(p, b, wide ? "at % @cover" : "at / @cover");
        tc__put(p->out, row ? ", r1 - 1);\n" : ";\n");
    }
    if (!tc__epilogue_uses(p->g, TC__COL)) return;
    if (wide)
        tc__put_filled(p, b, "const @index c = at / @cover;\n");
    else
        tc__put_filled(p, b,
                       col ? "const @index c = tc_min(c0 + at % @cover, cols - 1);\n"
                           : "const @index c = c0 + at % @cover;\n");
}

// `r0 + at / 16 < r1`, where element `at` may be outside.
static void tc__rows_inside(const tc__printer *p, const tc__product *q, char out[80]) {
    int wide = q->wide == TC__ROW, row = !tc__goes_into(p, q->m, q->made),
        col = !wide && !tc__goes_into(p, p->g->shape.cols, q->cover);
    char rows[32] = "", cols[32] = "";
    if (row) snprintf(rows, sizeof rows, "r0 + at %s %d < r1", wide ? "%" : "/", q->cover);
    if (col) snprintf(cols, sizeof cols, "c0 + at %% %d < cols", q->cover);
    snprintf(out, 80, "%s%s%s", rows, row && col ? " && " : "", cols);
}

// One element for each thread: what the epilogue reads is on its way before the rows are made.
static int tc__rows_one_each(const tc__product *q) {
    return q->few * q->cover <= q->threads;
}

static void tc__print_rows_early(tc__printer *p, const tc__product *q,
                                 const tc__blanks *b) {
    tc__cuda_loop_body body;
    if (!tc__epilogue_open(p, &body)) return;
    tc__put_filled(p, b,
                   q->few * q->cover == q->threads
                       ? "const int at = threadIdx.x;\n"
                       : "const int at = tc_min((int)threadIdx.x, @many - 1);\n");
    tc__print_rows_result_place(p, q, b, 1);
    tc__cuda_issue_all(p, &body, "", 1);
    tc__cuda_body_close(p, &body);
}

static void tc__print_rows_late(tc__printer *p, const tc__product *q, const tc__blanks *b) {
    tc__cuda_loop_body body;
    char inside[80];
    int one = tc__rows_one_each(q), some = q->few * q->cover != q->threads;
    if (!tc__epilogue_open(p, &body)) return;
    tc__rows_inside(p, q, inside);
    if (!one) {
        tc__put_filled(p, b, "for (int at = threadIdx.x; at < @many; at += @threads) {\n");
        p->indent++;
        if (*inside) {
            tc__line(p);
            tc__put(p->out, "if (!(%s)) continue;\n", inside);
        }
        tc__print_rows_result_place(p, q, b, 0);
        tc__cuda_issue_all(p, &body, "", 1);
    } else {
        tc__line(p);
        if (some) tc__put(p->out, "if (threadIdx.x < %d", q->few * q->cover);
        if (*inside) tc__put(p->out, "%s%s", some ? " && " : "if (", inside);
        tc__put(p->out, some || *inside ? ") {\n" : "{\n");
        p->indent++;
    }
    tc__cuda_compute(p, &body);
    tc__block_close(p);
    tc__cuda_body_close(p, &body);
}

// ---- the kernel ----

static void tc__rows_blanks(tc__printer *p, const tc__product *q, tc__blanks *b) {
    int width = q->dot ? tc__wide_operand(q)->width : 1;
    char deep[24];
    tc__few_blanks(p, q, b);
    snprintf(deep, sizeof deep, "%s", q->dot ? "lane" : "y");
    if (width > 1) snprintf(deep, sizeof deep, "lane * %d", width);
    tc__blank_text(b, "deep", deep);
    tc__blank_number(b, "deepest", width);
    tc__blank_number(b, "step", (int64_t)q->sharing * width);
    tc__blank_number(b, "steps", q->steps);
    tc__blank_number(b, "held", q->ahead ? q->steps : 1);
    tc__blank_text(b, "at", q->ahead ? "s" : "0");
    tc__blank_number(b, "tileat", q->made * q->row);
}

static void tc__print_rows_body(tc__printer *p, const tc__product *q, tc__blanks *b) {
    tc__put_filled(p, b,
                   "char *const rows = shared;\n"
                   "@type *const tile = (@type *)(shared + @tileat);\n");
    tc__put_filled(p, b,
                   !q->dot
                       ? "const int x = threadIdx.x % @lanes * @width, y = threadIdx.x / "
                         "@lanes;\n"
                   : q->parts > 1 ? "const int lane = threadIdx.x;\n"
                   : q->sharing == 32 && q->each == 1
                       ? "const int lane = threadIdx.x % 32, group = threadIdx.x / 32;\n"
                       : "const int lane = threadIdx.x % @sharing, group = threadIdx.x / "
                         "@sharing * @each;\n");
    if (q->ahead) tc__print_ahead(p, q, b);
    if (tc__rows_one_each(q)) tc__print_rows_early(p, q, b);
    tc__print_made(p, q, b);
    tc__put_filled(p, b, "__syncthreads();\n");
    tc__print_rows_sums(p, q, b);
    tc__put_filled(p, b, "__syncthreads();\n");
    tc__print_rows_late(p, q, b);
}

static void tc__print_rows(tc__printer *p, const tc__product *q) {
    tc__text body, *out = p->out;
    tc__heads heads;
    tc__blanks b;
    tc__rows_blanks(p, q, &b);
    tc__text_init(&body, out->ctx);
    p->out = &body;
    tc__print_rows_body(p, q, &b);
    p->out = out;
    tc__rows_heads(p, q, &heads);
    tc__put_heads(p, &heads, &body);
    tc__text_free(&body);
}

// The kernel's body; products that are summed in place have the other forms' loops.
static void tc__cuda_product(tc__printer *p) {
    tc__product q = tc__product_plan(p->g);
    if (q.form == TC__PRODUCT_ROWS)
        tc__print_rows(p, &q);
    else if (q.form == TC__PRODUCT_FEW)
        tc__print_few(p, &q);
    else
        tc__print_tiles(p, &q);
}
