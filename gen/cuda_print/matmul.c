// Contractions in CUDA: the plan of product.c as text. What does not depend on the
// kernel's nodes stands below as text with blanks (@name), which are filled with numbers and
// names of the plan; operands and the epilogue are printed by the walker between.
//
// All forms end alike: sums lie in shared memory, and the rest of the LOOP list, which reads
// them as CONTRACT, is printed once in a loop over them. So the epilogue costs little to
// compile, and its loads and stores are of 16 bytes, whoever made the sums.
//
enum { TC__BLANKS = 96 };

typedef struct tc__blank {
    const char *name;
    size_t size; // of the name
    char text[64];
} tc__blank;

typedef struct tc__blanks {
    tc__blank at[TC__BLANKS];
    int count;
} tc__blanks;

static void tc__blank_text(tc__blanks *b, const char *name, const char *text) {
    int i = 0;
    while (i < b->count && strcmp(b->at[i].name, name)) i++;
    if (i == TC__BLANKS) return; // found by the first test that prints such a kernel
    if (i == b->count) b->count++;
    b->at[i].name = name, b->at[i].size = strlen(name);
    snprintf(b->at[i].text, sizeof b->at[i].text, "%s", text);
}

static void tc__blank_number(tc__blanks *b, const char *name, int64_t v) {
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)v);
    tc__blank_text(b, name, text);
}

static size_t tc__blank_word(const char *s) {
    size_t n = 0;
    while (s[n] >= 'a' && s[n] <= 'z') n++;
    return n;
}

// Fills the blank that s begins with, gives what follows.
static const char *tc__put_blank(tc__printer *p, const tc__blanks *b, const char *s) {
    size_t n = tc__blank_word(s);
    for (int i = 0; i < b->count; i++) {
        if (b->at[i].size != n || memcmp(b->at[i].name, s, n)) continue;
        tc__put_raw(p->out, b->at[i].text, strlen(b->at[i].text));
        return s + n;
    }
    p->out->failed = 1;
    return s + n;
}

// Puts `text` with its blanks filled, where the line is.
static void tc__put_filled_here(tc__printer *p, const tc__blanks *b, const char *text) {
    while (*text) {
        size_t n = strcspn(text, "@");
        tc__put_raw(p->out, text, n);
        text += n;
        if (*text) text = tc__put_blank(p, b, text + 1);
    }
}

// Puts `lines` with their blanks filled, each at the present indent.
static void tc__put_filled(tc__printer *p, const tc__blanks *b, const char *lines) {
    int fresh = 1;
    while (*lines) {
        size_t n = strcspn(lines, "@\n");
        if (fresh && *lines != '\n') tc__line(p);
        fresh = lines[n] == '\n';
        tc__put_raw(p->out, lines, n + (size_t)fresh);
        lines += n + (size_t)fresh;
        if (*lines == '@' && !fresh) lines = tc__put_blank(p, b, lines + 1);
    }
}

// ---- what all forms have ----

static const char *tc__product_type(const tc__printer *p, const tc__product *q) {
    return p->d->reg[tc__class_of(q->dtype)];
}

// Whether an index of the nodes at `level` names the axis.
static int tc__level_uses(const tc__group *g, tc__level level, tc__axis axis) {
    for (size_t id = g->shape.prologue; id < g->body.node.count; id++) {
        const tc__node *n = g->body.node.at[id];
        if (n->level != (uint8_t)level || n->op == TC_OP_FOR) continue;
        for (uint32_t i = 0; i < n->n_attr; i++)
            if (tc__attr_is_ix(n, i) && tc__ix_uses(g->body.ix, n->attr[i], axis)) return 1;
    }
    return 0;
}

static int tc__epilogue_uses(const tc__group *g, tc__axis axis) {
    return tc__level_uses(g, TC__AT_COL, axis) || tc__level_uses(g, TC__AT_ROW, axis);
}

// Whether tiles of `by` leave no rest.
static int tc__goes_into(const tc__printer *p, tc__ix extent, int64_t by) {
    return tc__ix_divisor(p->g->body.ix, extent) % by == 0;
}

// ---- slices of k ----

// What says which of the blocks with work of their own this is.
static const char *tc__block_name(const tc__product *q) {
    return q->slices > 1 ? "block" : "blockIdx.x";
}

static void tc__slice_blanks(const tc__product *q, tc__blanks *b) {
    int cut = q->slices > 1;
    tc__blank_text(b, "block", tc__block_name(q));
    tc__blank_text(b, "from", cut ? "begin + " : "");
    tc__blank_text(b, "until", cut ? "end" : "depth");
    tc__blank_text(b, "extent", cut ? "end - begin" : "depth");
    if (!cut) return;
    int together = 64 / q->sums;
    tc__blank_number(b, "slices", q->slices);
    tc__blank_number(b, "length", q->length);
    tc__blank_number(b, "group", TC__SLICE_GROUP);
    tc__blank_number(b, "tickets", tc__slice_tickets(q));
    tc__blank_number(b, "zeroed", tc__slice_zeroed(q));
    tc__blank_number(b, "sums", q->sums);
    tc__blank_number(b, "together", together < 1 ? 1 : together > 4 ? 4 : together);
}

static void tc__print_slice_place(tc__printer *p, const tc__product *q,
                                  const tc__blanks *b) {
    if (q->slices == 1) return;
    tc__put_filled(
        p, b, "const int block = blockIdx.x / @slices, slice = blockIdx.x % @slices;\n");
}

// What of k is the block's.
static void tc__print_slice(tc__printer *p, const tc__product *q, const tc__blanks *b) {
    if (q->slices == 1) return;
    tc__put_filled(p, b,
                   "const @index begin = slice * @length, end = tc_min(begin + @length, "
                   "depth);\n");
}

static const char tc__text_meeting[] =
    "// Blocks that share sums meet in groups of neighbours: the last of a group adds what all have, in\n"
    "// their order. Then those of the groups meet, and one goes on.\n"
    "@type *const own = (@type *)sum;\n"
    "@type *const work_sums = (@type *)(work + @zeroed) + (tc_i64)block * @slices * @sums * "
    "@threads + threadIdx.x;\n"
    "#pragma unroll 1\n"
    "for (int apart = 1; apart < @slices; apart *= @group) {\n"
    "    const int first = slice / (apart * @group) * (apart * @group);\n"
    "    const int count = tc_min((@slices - 1 - first) / apart + 1, @group);\n"
    "    @type *const mine = work_sums + slice / apart * apart * @sums * @threads;\n"
    "    #pragma unroll\n"
    "    for (int u = 0; u < @sums; u++) mine[u * @threads] = own[u];\n"
    "    if (!tc_arrives_last((unsigned *)work + block * @tickets + first + (apart > 1), "
    "count)) return;\n"
    "    #pragma unroll\n"
    "    for (int u = 0; u < @sums; u++) own[u] = tc_peek(&work_sums[(first * @sums + u) * "
    "@threads]);\n"
    "    #pragma unroll @together\n"
    "    for (int i = 1; i < count; i++) {\n"
    "        const @type *const other = work_sums + (first + i * apart) * @sums * @threads;\n"
    "        #pragma unroll\n"
    "        for (int u = 0; u < @sums; u++) own[u] = TC_ADD_@class(own[u], tc_peek(&other[u * "
    "@threads]));\n"
    "    }\n"
    "}\n";

// The threads' sums become those over all of k, in the block that goes on.
static void tc__print_meeting(tc__printer *p, const tc__product *q, const tc__blanks *b) {
    if (q->slices > 1) tc__put_filled(p, b, tc__text_meeting);
}

// ---- the value of CONTRACT ----

// Added up from the parts of the threads that shared it.
static void tc__print_parts_value(tc__printer *p, const tc__product *q, const tc__node *n) {
    tc__line(p);
    tc__put(p->out, "%s t%u = tile[at];\n", tc__product_type(p, q), n->id);
    tc__line(p);
    tc__put(p->out,
            "for (int i = 1; i < %d; i++) t%u = TC_ADD_%s(t%u, tile[at + i * %d]);\n",
            q->parts, n->id, tc__suffix(q->dtype), n->id, q->few * q->cover);
}

// Adds the products of the element r, c to `sum`, in the order of k. stops: at a NaN.
static void tc__print_chain(tc__printer *p, const tc__product *q, const char *sum,
                            int stops) {
    const struct tc__device_plan *cuda = p->cuda;
    tc__line(p);
    tc__put(p->out, "for (%s k = 0; k < ", tc__cuda_index_type(p));
    tc__put_ix(p, tc__depth_of(p->g));
    tc__put(p->out, "; k++)");
    tc__block_open(p);
    p->cuda = NULL; // no vectors
    for (uint32_t id = 0; id < tc__contract_rows_loop(p); id++)
        tc__print_node(p, tc__body(p, id));
    p->cuda = cuda;
    tc__line(p);
    tc__put(p->out, "%s = tc_add_product_%s(", sum, tc__suffix(q->dtype));
    tc__put_value(p, tc__left_of(p->g), 0);
    tc__put(p->out, ", ");
    tc__put_value(p, tc__right_of(p->g), 0);
    tc__put(p->out, ", %s);\n", sum);
    if (stops) tc__line(p);
    if (stops) tc__put(p->out, "if (%s != %s) break;\n", sum, sum);
    tc__block_close(p);
}

// Summed here, element by element.
static void tc__print_loop_value(tc__printer *p, const tc__product *q, const tc__node *n) {
    char sum[24];
    snprintf(sum, sizeof sum, "t%u", n->id);
    tc__line(p);
    tc__put(p->out, "%s %s = 0;\n", tc__product_type(p, q), sum);
    tc__print_chain(p, q, sum, 0);
}

static void tc__cuda_contract(tc__printer *p, const tc__node *n, int copy) {
    tc__product q = tc__product_plan(p->g);
    (void)copy;
    if (q.form == TC__PRODUCT_LOOP) {
        tc__print_loop_value(p, &q, n);
    } else if (q.parts > 1) {
        tc__print_parts_value(p, &q, n);
    } else {
        tc__put_let(p, n, 0);
        tc__put(p->out, tc__cuda_width_of(p) > 1 ? "sums.at[l];\n" : "tile[at];\n");
    }
}

// ---- nodes of a level ----

// Marks what the body has at `level`.
static int tc__level_open(tc__printer *p, tc__cuda_loop_body *body, tc__level level) {
    if (!tc__cuda_body_open(p, body, 0, (uint32_t)p->g->body.node.count)) return 0;
    for (uint32_t id = 0; id < body->end; id++)
        body->set[id] = tc__body(p, id)->level == (uint8_t)level;
    return 1;
}

static int tc__is_of_all_depth(const tc__printer *p, const tc__node *n) {
    return n->n_attr == TC__LOAD_PREDICATES &&
           !tc__ix_uses(p->g->body.ix, n->attr[TC__LOAD_INDEX], TC__DEPTH);
}

// Whether an operand is a load of whole vectors that needs no conversion.
static int tc__is_plain_vector(const tc__printer *p, const tc__node *n, int bits) {
    return n->op == TC_OP_LOAD && tc__cuda_wide(p, n) && tc__cuda_dtype(p, n) == n->dtype &&
           (bits || tc__is_own_class(n->dtype));
}

// The node whose value an operand has before it is rounded to half `n`: its bits are taken at once.
static uint32_t tc__unrounded(const tc__printer *p, const tc__node *n) {
    int casts =
        n->op == TC_OP_CAST && tc__class_of(tc__body(p, n->in[0])->dtype) == TC__CLASS_f32;
    return casts ? n->in[0] : n->id;
}

// Loads in front of what is computed for each element.
static void tc__print_operand_loads(tc__printer *p, const tc__cuda_loop_body *body) {
    for (uint32_t id = 0; id < body->end; id++) {
        const tc__node *n = tc__body(p, id);
        if (tc__cuda_issues_in(p, body, n) && !(p->issued && tc__is_of_all_depth(p, n)))
            tc__cuda_issue(p, n, "", 1);
    }
}

// Loads of an operand that are the same at every k, in front of a loop over k.
static void tc__print_operand_ahead(tc__printer *p, const tc__staged *s, tc__axis axis) {
    const struct tc__device_plan *before = p->cuda;
    tc__device_plan q = *before;
    tc__cuda_loop_body body;
    if (!tc__level_open(p, &body, s->level)) return;
    q.axis = axis, q.width = s->width;
    p->cuda = &q, p->axis = axis;
    for (uint32_t id = 0; id < body.end; id++) {
        const tc__node *n = tc__body(p, id);
        if (tc__cuda_issues_in(p, &body, n) && tc__is_of_all_depth(p, n))
            tc__cuda_issue(p, n, "", 1);
    }
    p->cuda = before, p->axis = TC__COL;
    tc__cuda_body_close(p, &body);
}

// An operand's values at r, c, k, and `width` - 1 behind it along the axis, as the elements of
// pack `to`: as registers hold them, or the bits of halves.
static void tc__print_operand_pack(tc__printer *p, const tc__staged *s, tc__axis axis,
                                   int width, int bits, const char *to) {
    const struct tc__device_plan *before = p->cuda;
    const tc__node *n = tc__body(p, s->id);
    const char *half = tc__dtypes[n->dtype].name;
    tc__device_plan q = *before;
    tc__cuda_loop_body body;
    uint32_t value = bits ? tc__unrounded(p, n) : s->id;
    int pairs = bits && width > 1;
    if (!tc__level_open(p, &body, s->level)) return;
    if (value != s->id) body.set[s->id] = 0;
    q.axis = axis, q.width = width;
    p->cuda = &q, p->axis = axis;
    if (tc__is_plain_vector(p, n, bits)) {
        tc__line(p);
        tc__put(p->out, "%s = %s", to, tc__cuda_load_word(p, n));
        tc__cuda_address(p, n);
        tc__put(p->out, ");\n");
    } else {
        tc__print_operand_loads(p, &body);
        if (width > 1) tc__cuda_print_still(p, &body);
        if (pairs) tc__line(p);
        if (pairs) tc__put(p->out, "tc_pack<float, %d> all;\n", width);
        if (width > 1) tc__cuda_unroll(p, "l", width);
        p->lane = width > 1;
        for (uint32_t id = 0; id < body.end; id++)
            if (body.set[id] && !(width > 1 && tc__cuda_still(p, tc__body(p, id))))
                tc__print_node(p, tc__body(p, id));
        tc__line(p);
        tc__put(p->out, width > 1 ? "%s.at[l] = " : "%s.at[0] = ", pairs ? "all" : to);
        if (bits && !pairs) tc__put(p->out, "tc_bits_%s(", half);
        tc__put_value(p, value, 0);
        tc__put(p->out, bits && !pairs ? ");\n" : ";\n");
        p->lane = 0;
        if (width > 1) tc__block_close(p);
        if (pairs) tc__line(p);
        if (pairs) tc__put(p->out, "%s = tc_halves_%s(all);\n", to, half);
    }
    p->cuda = before, p->axis = TC__COL;
    tc__cuda_body_close(p, &body);
}

// The sums of a vector, from tile[at] on.
static void tc__print_sums(tc__printer *p, const tc__product *q) {
    int width = p->cuda->width, pack = tc__product_pack(q);
    const char *type = tc__product_type(p, q);
    if (width < pack) pack = width;
    tc__line(p);
    tc__put(p->out, "tc_pack<%s, %d> sums;\n", type, width);
    tc__line(p);
    tc__put(p->out, "#pragma unroll\n");
    tc__line(p);
    tc__put(p->out,
            "for (int l = 0; l < %d; l += %d) *(tc_pack<%s, %d> *)&sums.at[l] = *(const "
            "tc_pack<%s, %d> *)&tile[at + l];\n",
            width, pack, type, pack, type, pack);
}

// What is left of the list, marked. 0 = no memory, reported.
static int tc__epilogue_open(tc__printer *p, tc__cuda_loop_body *body) {
    uint32_t rows = tc__contract_rows_loop(p);
    if (!tc__cuda_body_open(p, body, 0, (uint32_t)p->g->body.node.count)) return 0;
    for (uint32_t id = 0; id < body->end; id++) {
        int op = tc__body(p, id)->op;
        if (id < rows || op == TC_OP_FOR || op == TC_OP_END) body->set[id] = 0;
    }
    return 1;
}

// The rest of the list at r and c.
static void tc__print_epilogue(tc__printer *p, const tc__product *q) {
    tc__cuda_loop_body body;
    if (!tc__epilogue_open(p, &body)) return;
    tc__cuda_issue_all(p, &body, "", 1);
    if (tc__cuda_width_of(p) > 1) tc__print_sums(p, q);
    tc__cuda_compute(p, &body);
    tc__cuda_body_close(p, &body);
}
