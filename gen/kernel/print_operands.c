// Operands of a contraction in C: where they lie in a worker's scratch, which nodes make them, pointers to their rows and
// columns, panels and slices. print_matmul.c packs and multiplies them, print_dots.c words of narrow values.

// The class of what the block reads: words, or what it adds up.
static tc__class tc__operand_class(const tc__contract *q) {
    return q->dot.each > 1 ? TC__CLASS_i32 : q->cls;
}

// Of a load of halves or bytes.
static const char *tc__narrow_name(const tc__contract *q, int load) {
    int dtype = q->g->body.node.at[load - 1]->dtype;
    return dtype == TC_F16    ? "f16"
           : dtype == TC_BF16 ? "bf16"
           : dtype == TC_I8   ? "i8"
                              : "u8";
}

// What panels are made of, and how vectors of it are loaded and stored: halves that are streamed are widened in the block.
static const char *tc__panel_type(const tc__printer *p, const tc__contract *q) {
    return q->adjacent ? "tc_u16" : p->d->scalar[tc__operand_class(q)];
}

static const char *tc__panel_suffix(const tc__contract *q) {
    return q->adjacent ? tc__narrow_name(q, q->adjacent)
                       : tc__class_names[tc__operand_class(q)];
}

static int64_t tc__contract_stride(const tc__contract *q, uint32_t id, int evaluated) {
    if (evaluated) return q->left_rows ? tc__contract_left_pitch(q) : 1;
    return tc__ix_value(
        tc__ix_run(q->g->body.ix, q->g->body.node.at[id]->attr[TC__LOAD_INDEX], TC__DEPTH)
            .stride);
}

static int64_t tc__contract_walk_stride(const tc__contract *q) {
    if (q->flip) return tc__contract_stride(q, tc__right_of(q->g), 0);
    return tc__contract_stride(q, tc__left_of(q->g), q->left_nodes);
}

static void tc__let_scratch(tc__printer *p, const tc__contract *q, const char *name,
                            tc__ix at) {
    int values = !strcmp(name, "tile") || !strcmp(name, "flip") || !strcmp(name, "stage") ||
                 !strcmp(name, "chunk");
    const char *type = values                  ? p->d->scalar[q->cls]
                       : !strcmp(name, "pack") ? tc__panel_type(p, q)
                                               : p->d->scalar[tc__operand_class(q)];
    tc__line(p);
    tc__put(p->out, "%s *%s = (%s *)(void *)((char *)a->scratch[worker] + ", type, name,
            type);
    tc__put_ix(p, at);
    tc__put(p->out, ");\n");
}

static void tc__mark_val(void *user, uint32_t id) { ((uint8_t *)user)[id] = 1; }

// The nodes that node `id` needs, itself included, into mark. They stand before it.
static void tc__mark_needed(const tc__group *g, uint32_t id, uint8_t *mark) {
    mark[id] = 1;
    for (uint32_t at = id + 1; at-- > 0;) {
        const tc__node *n = g->body.node.at[at];
        for (uint32_t i = 0; mark[at] && i < n->n_in; i++) mark[n->in[i]] = 1;
        for (uint32_t i = 0; mark[at] && i < n->n_attr; i++)
            if (tc__attr_is_ix(n, i))
                tc__ix_each_val(g->body.ix, n->attr[i], tc__mark_val, mark);
    }
}

static void tc__print_needed(tc__printer *p, const uint8_t *mark, int row) {
    for (uint32_t id = 0; id < p->g->body.node.count; id++) {
        const tc__node *n = tc__body(p, id);
        if (mark[id] && (n->level == TC__AT_ROW) == row) tc__print_node(p, n);
    }
}

// Evaluates node `id` along `axis` at the present index, storing vector j behind `to`, as `suffix` says.
static void tc__print_operand(tc__printer *p, const char *suffix, uint32_t id,
                              const uint8_t *mark, const char *to) {
    tc__print_needed(p, mark, 0);
    for (int j = 0; j < p->copies; j++) {
        tc__line(p);
        tc__put(p->out, "tc_st_%s(%s + %d, ", suffix, to, j * p->unit);
        tc__put_value(p, id, j);
        tc__put(p->out, ");\n");
    }
}

// Row r of what earlier parts have made of the item's rows.
static void tc__put_made(tc__printer *p, int64_t b) {
    tc__put_buffer(p, b);
    tc__put(p->out, "_rows + (r - r0) * ");
    tc__put_atom(p, p->g->buffer.at[b].numel, 0);
}

// `float *made0 = made0_rows + (r - r0) * 1024;` for each that nodes [begin, end) access.
static void tc__print_made_rows(tc__printer *p, uint32_t begin, uint32_t end) {
    for (size_t b = 0; b < p->g->buffer.count; b++) {
        uint32_t id = begin;
        if (p->g->buffer.at[b].place != TC__BUF_MADE) continue;
        while (id < end && !tc__accesses(tc__body(p, id), (int64_t)b)) id++;
        if (id == end) continue;
        tc__line(p);
        tc__put(p->out, "%s *", tc__dtypes[p->g->buffer.at[b].dtype].memory);
        tc__put_buffer(p, (int64_t)b);
        tc__put(p->out, " = ");
        tc__put_made(p, (int64_t)b);
        tc__put(p->out, ";\n");
    }
}

// `const float *x[6]; for (j...) x[j] = in0 + ...;` of rows (left) or columns (right) from
// `from`.
static void tc__print_pointers(tc__printer *p, const tc__contract *q, int left, int count,
                               const char *from, const char *end) {
    const tc__node *n = tc__body(p, left ? tc__left_of(p->g) : tc__right_of(p->g));
    tc__ixpool *x = p->g->body.ix;
    tc__line(p);
    tc__put(p->out, "const %s *x[%d];\n", p->d->scalar[tc__operand_class(q)], count);
    tc__line(p);
    tc__put(p->out, "for (int j = 0; j < %d; j++)", count);
    tc__block_open(p);
    tc__line(p);
    tc__put(p->out, "const tc_i64 %s = tc_min(%s + j, %s - 1);\n", left ? "r" : "c", from,
            end);
    tc__line(p);
    tc__put(p->out, "x[j] = ");
    if (left && q->left_rows) {
        tc__put(p->out, "left + (r - r0)");
    } else if (left && q->left_nodes) {
        tc__put(p->out, "left + (r - r0) * ");
        tc__put_atom(p, tc__round_up(x, q->depth, q->lanes), 0);
    } else if (tc__buffer_of(p->g, n)->place == TC__BUF_MADE) {
        tc__put_made(p, n->attr[TC__LOAD_BUFFER]);
    } else {
        tc__ix k = tc__ix_find_var(x, n->attr[TC__LOAD_INDEX], TC__DEPTH);
        tc__put_at(p, n->attr[TC__LOAD_BUFFER],
                   k ? tc__ix_subst(x, n->attr[TC__LOAD_INDEX], k, tc__ix_const(0))
                     : n->attr[TC__LOAD_INDEX]);
        if (q->slice)
            tc__put(p->out, " + k0 * %lld", (long long)tc__contract_stride(q, n->id, 0));
    }
    if (q->slice && left && q->left_nodes && !q->left_rows) tc__put(p->out, " + k0");
    tc__put(p->out, ";\n");
    tc__block_close(p);
}

// How many k the panels at hand have.
static const char *tc__contract_deep(const tc__contract *q) {
    return q->slice ? "k1 - k0" : "depth";
}

// Opens the loop over the slices of the depth.
static void tc__print_slices(tc__printer *p) {
    tc__line(p);
    tc__put(p->out, "for (tc_i64 k0 = 0; k0 < depth; k0 += slice)");
    tc__block_open(p);
    tc__line(p);
    tc__put(p->out, "const tc_i64 k1 = tc_min(k0 + slice, depth);\n");
}

// The panel of the columns from p on.
static void tc__print_panel(tc__printer *p, const tc__contract *q, const char *lead) {
    tc__line(p);
    if (q->streams || q->late || q->tall) { // the only one
        tc__put(p->out, "%s%s *panel = pack", lead, tc__panel_type(p, q));
        if (q->streams) tc__put(p->out, " + k0 * %d", q->width);
        tc__put(p->out, ";\n");
        return;
    }
    tc__put(p->out, "%s%s *panel = pack + %s(p - c0) * %s;\n", lead,
            p->d->scalar[tc__operand_class(q)], q->slice ? "k0 * wide + " : "",
            q->slice ? "(k1 - k0)" : "depth");
}

static uint32_t tc__contract_rows_loop(const tc__printer *p) {
    uint32_t id = p->g->shape.prologue;
    while (id + 1 < p->g->body.node.count && tc__body(p, id)->op != TC_OP_FOR) id++;
    return id;
}

// The nodes that the left operand needs, of p->out's context; NULL = no memory.
static uint8_t *tc__mark_left(tc__printer *p) {
    uint8_t *mark = TC__NEW_ARRAY(p->out->ctx, uint8_t, p->g->body.node.count);
    if (mark)
        tc__mark_needed(p->g, tc__left_of(p->g), mark);
    else
        p->out->failed = 1;
    return mark;
}

// `if (packed[0] != panels) {`: what follows is packed once for the items of which `of` tells, and remembered so.
static void tc__pack_open(tc__printer *p, const tc__contract *q, const char *of) {
    tc__line(p);
    if (q->slots > 1)
        tc__put(p->out, "if (packed[slot] != %s)", of);
    else
        tc__put(p->out, "if (packed[%d] != %s)", q->number, of);
    tc__block_open(p);
}

static void tc__pack_close(tc__printer *p, const tc__contract *q, const char *of) {
    tc__line(p);
    if (q->slots > 1)
        tc__put(p->out, "packed[slot] = %s;\n", of);
    else
        tc__put(p->out, "packed[%d] = %s;\n", q->number, of);
    tc__block_close(p);
}

enum { TC__MASKED_NODES = 64 }; // of a list that is looked at

// The VALID node that selects the product where anything sees it; NULL = there is none.
static const tc__node *tc__mask_of_product(const tc__group *g) {
    uint8_t of[TC__MASKED_NODES]; // the product
    const tc__node *mask = NULL;
    if (g->body.node.count > TC__MASKED_NODES) return NULL;
    for (uint32_t id = 0; id < g->body.node.count; id++) {
        const tc__node *n = g->body.node.at[id];
        of[id] = n->op == TC_OP_CONTRACT && id >= g->shape.prologue;
        for (uint32_t i = 0; i < n->n_in; i++) {
            const tc__node *by = g->body.node.at[n->in[0]];
            if (!of[n->in[i]]) continue;
            if (n->op == TC_OP_WHERE && i == 1 && by->op == TC_OP_VALID &&
                (!mask || mask == by)) {
                mask = by;
                continue;
            }
            if (!tc__is_alu(n)) return NULL;
            of[id] = 1;
        }
    }
    return mask;
}

// What tells how many columns from c on row r sees before a mask hides the rest, as a causal one does: below 0, none.
static int tc__seen_columns(const tc__group *g, tc__ix *e) {
    tc__ixpool *x = g->body.ix;
    const tc__node *mask = tc__mask_of_product(g);
    for (uint32_t i = TC__VALID_PREDICATES; mask && i + 1 < mask->n_attr; i += 2) {
        tc__ix at = mask->attr[i], limit = mask->attr[i + 1];
        tc__ixrun run = tc__ix_run(x, at, TC__COL);
        int ends = run.ok && run.run == INT64_MAX && !tc__ix_has_val(x, at) &&
                   !tc__ix_has_val(x, limit);
        if (ends && tc__ix_equals(run.stride, -1)) return *e = at, 1;
        if (ends && tc__ix_equals(run.stride, 1) && !tc__ix_uses(x, limit, TC__COL))
            return *e = tc__ix_sub(x, tc__ix_sub(x, limit, tc__ix_const(1)), at), 1;
    }
    return 0;
}

// Opens the loop over panels, of those that one of the block's rows sees.
static void tc__print_panels_loop(tc__printer *p, const tc__contract *q) {
    tc__ix e;
    int masked = tc__seen_columns(p->g, &e);
    if (masked) {
        tc__line(p);
        tc__put(p->out, "tc_i64 seen = -1;\n");
        tc__line(p);
        tc__put(p->out, "for (int j = 0; j < %d; j++)", q->rows);
        tc__block_open(p);
        tc__line(p);
        tc__put(p->out, "const tc_i64 r = tc_min(i + j, r1 - 1), c = c0;\n");
        tc__line(p);
        tc__put(p->out, "seen = tc_max(seen, ");
        tc__put_ix(p, e);
        tc__put(p->out, ");\n");
        tc__block_close(p);
    }
    tc__line(p);
    tc__put(p->out, "for (tc_i64 p = c0; p < c1%s; p += %d)",
            masked ? " && p - c0 <= seen" : "", q->width);
    tc__block_open(p);
}

// Opens what evaluates a row of the left operand at k: the vectors of it that are whole, or behind them the last.
static void tc__print_left_step(tc__printer *p, tc__ix depth, int tail) {
    tc__line(p);
    tc__put(p->out, tail ? "if (k < " : "for (; k + %d <= ", p->unit);
    tc__put_ix(p, depth);
    tc__put(p->out, tail ? ")" : "; k += %d)", p->unit);
    tc__block_open(p);
    p->axis = TC__DEPTH, p->tail = tail;
    if (!tail) return;
    tc__line(p);
    tc__put(p->out, "const int n = (int)(");
    tc__put_ix(p, depth);
    tc__put(p->out, " - k);\n");
}

static void tc__print_left_close(tc__printer *p) {
    p->axis = TC__COL, p->tail = 0;
    tc__block_close(p);
}
