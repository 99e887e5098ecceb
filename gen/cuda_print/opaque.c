// The text of an opaque op for CUDA: a kernel for each step of its plan. A kernel names sizes, says how
// an element becomes a key and where results go, and calls a function of cuda/scan.cuh, sort.cuh, scatter.cuh or runs.cuh.

// The type in which elements of a dtype are moved and added: integers wrap.
static const char *tc__opaque_type(int dtype) {
    static const char *const words[] = {"", "tc_u8", "tc_u16", "",      "unsigned",
                                        "", "",      "",       "tc_u64"};
    if (dtype == TC_F32 || dtype == TC_F64) return tc__dtypes[dtype].memory;
    return words[tc__dtypes[dtype].bytes];
}

static const char *tc__key_type(const tc__opaque_plan *q) {
    return q->wide ? "tc_u64" : "unsigned";
}

static int tc__is_scatter(const tc__opaque_plan *q) { return tc__changes_some(q->op); }

// "in0": of the result, i = 0, or of operand i - 1.
static void tc__put_call_buffer(tc__printer *p, const tc__opaque_plan *q, uint32_t i) {
    tc__put_buffer(p, tc__call_buffer(q->call, i));
}

// `(const tc_u64 *)in0`
static void tc__put_elements(tc__printer *p, const tc__opaque_plan *q, uint32_t i) {
    tc__put(p->out, "(%s%s *)", i ? "const " : "", tc__opaque_type(q->dtype));
    tc__put_call_buffer(p, q, i);
}

// ---- rows of index and src, and of the tensor ----

// Where there is such a row: pairs (e, limit), e < limit.
typedef struct tc__row_limits {
    int count;
    tc__ix pair[2 * TC_MAX_RANK];
} tc__row_limits;

// The row of what has sizes `to` of that of what has sizes `from`; `to` is as large or smaller where
// `inside` is to be told.
static tc__ix tc__row_between(tc__ixpool *x, const tc__opaque_plan *q, uint32_t from,
                              uint32_t to, tc__row_limits *inside) {
    tc__ix left = tc__ix_var(x, TC__ROW, tc__call_rows(x, q->call, from));
    tc__ix at = tc__ix_const(0), step = tc__ix_const(1);
    for (int d = tc__call_rank(q->call, from) - 2; d >= 0; d--) {
        tc__ix n = tc__call_size(q->call, from, d), m = tc__call_size(q->call, to, d);
        tc__ix i = d ? tc__ix_mod(x, left, n) : left;
        if (inside && n != m) {
            inside->pair[inside->count++] = i;
            inside->pair[inside->count++] = m;
        }
        at = tc__ix_add(x, at, tc__ix_mul(x, i, step));
        step = tc__ix_mul(x, step, m), left = tc__ix_div(x, left, n);
    }
    return at;
}

// `part(r)`: the row of index and src for row r of the result, -1 = there is none. `whole(r)`: back.
static void tc__put_part(tc__printer *p, const tc__opaque_plan *q, int back) {
    tc__row_limits inside;
    inside.count = 0;
    tc__ix e = tc__row_between(p->g->body.ix, q, back ? 3 : 0, back ? 0 : 3,
                               back ? NULL : &inside);
    tc__line(p);
    tc__put(p->out, "const auto %s = [=](tc_i64 r) -> tc_i64 { return ",
            back ? "whole" : "part");
    for (int i = 0; i < inside.count; i += 2) {
        tc__put(p->out, i ? " && " : "");
        tc__put_ix(p, inside.pair[i]);
        tc__put(p->out, " < ");
        tc__put_ix(p, inside.pair[i + 1]);
    }
    if (inside.count) tc__put(p->out, " ? ");
    tc__put_ix(p, e);
    tc__put(p->out, inside.count ? " : -1; };\n" : "; };\n");
}

// ---- what is sorted ----

static int tc__sorts_by_digits(const tc__opaque_plan *q) {
    return q->digits && !tc__ix_equals(q->grids.zeroed, 0);
}

// `const auto key = ...;` of an element, or of an index: that itself.
static void tc__put_key(tc__printer *p, const tc__opaque_plan *q) {
    tc__line(p);
    tc__put(p->out, "const auto key = [=](tc_i64 r, tc_i64 i) { return ");
    if (tc__is_scatter(q)) {
        tc__put(p->out, "(unsigned)tc_check(a.state, ");
        tc__put_call_buffer(p, q, 2);
        tc__put(p->out, "[r * m + i], n, %lld); };\n",
                (long long)q->call->attr[TC__CALL_WORD]);
        return;
    }
    const char *turn = q->call->attr[TC__CALL_WORD] ? "~" : "";
    tc__put(p->out, "%stc_key_%s(", turn, tc__dtypes[q->dtype].name);
    tc__put_call_buffer(p, q, 1);
    tc__put(p->out, "[r * n + i]); };\n");
}

// `const auto put = ...;`: pairs in order become places, of which TOPK wants the first; those of
// indices remain.
static void tc__put_put(tc__printer *p, const tc__opaque_plan *q) {
    int top = q->op == TC_OP_TOPK;
    tc__line(p);
    tc__put(p->out, "const auto put = [=](tc_i64 r, tc_i64 i, tc_pair<%s> v) { ",
            tc__key_type(q));
    if (tc__is_scatter(q)) {
        tc__put(p->out, "pairs[r * m + i] = v; };\n");
        return;
    }
    tc__put(p->out, top ? "if (i < k) " : "");
    tc__put_call_buffer(p, q, 0);
    tc__put(p->out, "[r * %s + i] = v.at; };\n", top ? "k" : "n");
}

// `const tc_sorter<unsigned, 4> s(work, 8, n);`, the workspace of a sort by digits.
static void tc__put_sorter(tc__printer *p, const tc__opaque_plan *q) {
    tc__line(p);
    tc__put(p->out, "const tc_sorter<%s, %d> s(work, ", tc__key_type(q), q->digits);
    tc__put_ix(p, q->sorts);
    tc__put(p->out, ", %s);\n", tc__is_scatter(q) ? "m" : "n");
}

// Of a scatter: where the sorted pairs are.
static void tc__put_pairs(tc__printer *p, const tc__opaque_plan *q) {
    if (!tc__is_scatter(q)) return;
    tc__line(p);
    tc__put(p->out, "tc_pair<unsigned> *const pairs = ");
    if (tc__sorts_by_digits(q))
        tc__put(p->out, "s.pair[%d];\n", (q->digits - 1) % 2);
    else
        tc__put(p->out, "(tc_pair<unsigned> *)work;\n");
}

// Bits of a key; of an index those of its digits.
static int tc__key_bits(const tc__opaque_plan *q) {
    return tc__is_scatter(q) ? 8 * q->digits : q->wide ? 64 : 32;
}

// Rows that fit in a block are sorted there.
static void tc__put_sort_rows(tc__printer *p, const tc__opaque_plan *q, int threads) {
    tc__put_pairs(p, q);
    tc__put_put(p, q);
    tc__line(p);
    if (q->most <= TC__SORT_FEW)
        tc__put(p->out, "tc_sort_few<%s, %d>(", tc__key_type(q), q->most);
    else
        tc__put(p->out, "tc_sort_rows<%s, %d, %d, %d, %d>(", tc__key_type(q), threads,
                q->items, q->bits, tc__key_bits(q));
    tc__put_ix(p, q->sorts);
    tc__put(p->out, ", %s, key, put);\n", tc__is_scatter(q) ? "m" : "n");
}

// ---- steps ----

static void tc__put_scan(tc__printer *p, const tc__opaque_plan *q, int i) {
    static const char *const names[] = {"lines", "rows", "tiles"};
    const char *type = tc__opaque_type(q->dtype);
    tc__line(p);
    tc__put(p->out, "tc_scan_%s<tc_%s<%s>, %s, %d>(", names[q->step[i]],
            q->op == TC_OP_CUMSUM ? "sums" : "products", type, type, q->width);
    tc__put_elements(p, q, 1);
    tc__put(p->out, ", ");
    tc__put_elements(p, q, 0);
    tc__put(p->out, ", rows, n%s);\n", q->step[i] == TC__SCAN_TILES ? ", work" : "");
}

static void tc__put_sort_block(tc__printer *p, const tc__opaque_plan *q, int i) {
    tc__put_key(p, q);
    tc__put_sort_rows(p, q, q->grids.at[i].threads);
}

static void tc__put_sort_count(tc__printer *p, const tc__opaque_plan *q, int i) {
    tc__put_sorter(p, q);
    tc__put_key(p, q);
    if (q->mixed) {
        tc__line(p);
        tc__put(p->out, "if (s.in_block())");
        tc__block_open(p);
        tc__put_sort_rows(p, q, q->grids.at[i].threads);
        tc__line(p);
        tc__put(p->out, "return;\n");
        tc__block_close(p);
    }
    tc__line(p);
    tc__put(p->out, "tc_sort_count(s, key);\n");
}

static void tc__put_sort_pass(tc__printer *p, const tc__opaque_plan *q, int i) {
    tc__put_sorter(p, q);
    if (q->step[i] == TC__SORT_FIRST) tc__put_key(p, q);
    if (q->step[i] == TC__SORT_LAST) tc__put_put(p, q);
    tc__line(p);
    if (q->mixed) tc__put(p->out, "if (!s.in_block()) ");
    if (q->step[i] == TC__SORT_FIRST) tc__put(p->out, "tc_sort_first(s, key);\n");
    if (q->step[i] == TC__SORT_NEXT) tc__put(p->out, "tc_sort_next<%d>(s);\n", q->pass[i]);
    if (q->step[i] == TC__SORT_LAST) tc__put(p->out, "tc_sort_last(s, put);\n");
}

static void tc__put_top_rows(tc__printer *p, const tc__opaque_plan *q, int i) {
    (void)i;
    tc__put_key(p, q);
    tc__put_put(p, q);
    tc__line(p);
    tc__put(p->out, "tc_top_rows<%s, ", tc__key_type(q));
    tc__put_ix(p, q->k);
    tc__put(p->out, ">(rows, n, key, put);\n");
}

static void tc__put_scatter_mark(tc__printer *p, const tc__opaque_plan *q, int i) {
    (void)i;
    tc__put_key(p, q);
    tc__put_part(p, q, 1);
    tc__line(p);
    tc__put(p->out, "tc_scatter_mark(");
    tc__put_ix(p, q->lines);
    tc__put(p->out, ", n, m, key, whole, (unsigned *)work);\n");
}

// What both ends of scatters are told: `rows, n, m, in0, in2, part, `.
static void tc__put_scatter_operands(tc__printer *p, const tc__opaque_plan *q) {
    tc__put(p->out, "(rows, n, m, ");
    tc__put_elements(p, q, 1);
    tc__put(p->out, ", ");
    tc__put_elements(p, q, 3);
    tc__put(p->out, ", part, ");
}

static void tc__put_scatter_take(tc__printer *p, const tc__opaque_plan *q, int i) {
    (void)i;
    tc__put_part(p, q, 0);
    tc__line(p);
    tc__put(p->out, "tc_scatter_take");
    tc__put_scatter_operands(p, q);
    tc__put(p->out, "(unsigned *)work, ");
    tc__put_elements(p, q, 0);
    tc__put(p->out, ");\n");
}

static void tc__put_scatter_sum(tc__printer *p, const tc__opaque_plan *q, int i) {
    const char *type = tc__opaque_type(q->dtype);
    (void)i;
    if (tc__sorts_by_digits(q)) tc__put_sorter(p, q);
    tc__put_pairs(p, q);
    tc__put_part(p, q, 0);
    tc__line(p);
    tc__put(p->out, "tc_scatter_sum<%s, %s, %d>", type,
            tc__dtypes[q->dtype].bytes < 4 ? "unsigned" : type,
            q->op == TC_OP_INDEX_ADD ? TC__SUM_ROWS : 1);
    tc__put_scatter_operands(p, q);
    tc__put(p->out, "pairs, ");
    tc__put_elements(p, q, 0);
    tc__put(p->out, ");\n");
}

// `tc_copy(...)` of the tensor that is added to, unless it is in place; or `tc_fill(...)`.
static void tc__put_opaque_copy(tc__printer *p, const tc__opaque_plan *q, int i) {
    (void)i;
    if (q->filled) {
        tc__line(p);
        tc__put(p->out, "tc_fill(");
        tc__put_elements(p, q, 0);
        tc__put(p->out, ", 0x%llxu, rows * n);\n",
                (unsigned long long)q->call->attr[TC__CALL_FILL]);
        return;
    }
    tc__line(p);
    if (q->grids.over.count) {
        tc__put(p->out, "if (");
        tc__put_elements(p, q, 1);
        tc__put(p->out, " != ");
        tc__put_elements(p, q, 0);
        tc__put(p->out, ") ");
    }
    tc__put(p->out, "tc_copy(");
    tc__put_elements(p, q, 1);
    tc__put(p->out, ", ");
    tc__put_elements(p, q, 0);
    tc__put(p->out, ", rows * n);\n");
}

static void tc__put_rank_indices(tc__printer *p, const tc__opaque_plan *q, int i) {
    if (!i) tc__put_opaque_copy(p, q, i);
    tc__line(p);
    tc__put(p->out,
            "const auto checked = [=](tc_i64 v) { return (int)tc_check(a.state, v, "
            "n, %lld); };\n",
            (long long)q->call->attr[TC__CALL_WORD]);
    tc__put_pairs(p, q);
    tc__line(p);
    tc__put(p->out, "tc_rank_indices<%d>(m, n, %d, ", q->each, q->window);
    tc__put_call_buffer(p, q, 2);
    tc__put(p->out, ", checked, (unsigned *)shared, pairs);\n");
}

static void tc__put_add_runs(tc__printer *p, const tc__opaque_plan *q, int i) {
    const char *type = tc__opaque_type(q->dtype);
    (void)i;
    if (tc__sorts_by_digits(q)) tc__put_sorter(p, q);
    tc__put_pairs(p, q);
    tc__line(p);
    tc__put(p->out, "tc_add_runs<%s, %s, %d, %d, %d, %d, %lld, %s>(rows, m, ", type,
            tc__dtypes[q->dtype].bytes < 4 ? "unsigned" : type, q->width, q->across,
            q->piece, TC__RUN_SPAN, (long long)tc__run_ring(q),
            q->filled ? "false" : "true");
    tc__put_elements(p, q, 3);
    tc__put(p->out, ", pairs, ");
    tc__put_elements(p, q, 0);
    tc__put(p->out, ", shared, 0x%llxu);\n",
            (unsigned long long)q->call->attr[TC__CALL_FILL]);
}

static void tc__put_opaque_clear(tc__printer *p, const tc__opaque_plan *q, int i) {
    (void)i;
    tc__line(p);
    tc__put(p->out, "tc_clear((tc_u64 *)work, ");
    tc__put_ix(p, tc__ix_ceil_div(p->g->body.ix, q->grids.zeroed, tc__ix_const(8)));
    tc__put(p->out, ");\n");
}

// By tc__opaque_step.
static void (*const tc__opaque_steps[])(tc__printer *p, const tc__opaque_plan *q, int i) = {
    tc__put_scan,         tc__put_scan,         tc__put_scan,         tc__put_sort_block,
    tc__put_sort_count,   tc__put_sort_pass,    tc__put_sort_pass,    tc__put_sort_pass,
    tc__put_top_rows,     tc__put_scatter_mark, tc__put_scatter_take, tc__put_scatter_sum,
    tc__put_rank_indices, tc__put_add_runs,     tc__put_opaque_copy,  tc__put_opaque_clear,
    tc__put_custom_call,  tc__put_custom_bools,
};

// ---- kernels ----

// Sizes that the body names, and run-time sizes that those or the body name.
static void tc__put_opaque_names(tc__printer *p, const tc__opaque_plan *q,
                                 const tc__text *body) {
    const struct {
        const char *name;
        tc__ix e;
    } sizes[] = {{"rows", q->rows}, {"n", q->n}, {"k", q->k}, {"m", q->m}};
    tc__text lines, *out = p->out;
    char name[24];
    tc__text_init(&lines, out->ctx);
    p->out = &lines;
    for (size_t i = 0; i < TC__COUNT(sizes); i++) {
        if (!tc__c_mentions(body, sizes[i].name)) continue;
        tc__line(p);
        tc__put(p->out, "const tc_i64 %s = ", sizes[i].name);
        tc__put_ix(p, sizes[i].e);
        tc__put(p->out, ";\n");
    }
    p->out = out;
    for (int slot = 0; slot < 64; slot++) {
        snprintf(name, sizeof name, "s%d", slot);
        if (!tc__c_mentions(body, name) && !tc__c_mentions(&lines, name)) continue;
        tc__line(p);
        tc__put(out, "const tc_i64 %s = a.size[%d];\n", name, slot);
    }
    tc__put_raw(out, lines.at, lines.size);
    out->failed |= lines.failed;
    tc__text_free(&lines);
}

static void tc__put_opaque_kernel(tc__printer *p, const tc__opaque_plan *q, int i,
                                  const char *symbol) {
    tc__text body, *out = p->out;
    int sizes = tc__cuda_sizes(p->g);
    tc__text_init(&body, out->ctx);
    p->out = &body, p->indent = 1;
    tc__opaque_steps[q->step[i]](p, q, i);
    p->out = out, p->indent = 0;
    tc__put(out, "\nextern \"C\" __global__ void __launch_bounds__(%d, %d)\n%s",
            q->grids.at[i].threads, tc__opaque_resident(q, i), symbol);
    if (i) tc__put(out, "_%d", i);
    tc__put(out, "(");
    for (size_t b = 0; b < p->g->buffer.count; b++) {
        const tc__kbuf *k = &p->g->buffer.at[b];
        tc__put(out, "%s%s *%s", k->written ? "" : "const ", tc__dtypes[k->dtype].memory,
                q->grids.over.count ? "" : "__restrict__ "); // two may be one place
        tc__put_buffer(p, (int64_t)b);
        tc__put(out, ", ");
    }
    if (!tc__ix_equals(q->grids.workspace, 0)) tc__put(out, "unsigned char *work, ");
    tc__put(out, "const tc_kargs<%d> a)", sizes ? sizes : 1);
    tc__block_open(p);
    if (!tc__ix_equals(q->grids.at[i].shared, 0)) {
        tc__line(p);
        tc__put(out, "extern __shared__ __align__(16) char shared[];\n");
    }
    if (q->grids.at[i].early || (i + 1 < q->count && q->grids.at[i + 1].early)) {
        tc__line(p);
        tc__cuda_reads(p);
        tc__put(out, "tc_begin();\n");
    }
    tc__put_opaque_names(p, q, &body);
    tc__put_raw(out, body.at, body.size);
    tc__block_close(p);
    out->failed |= body.failed;
    tc__text_free(&body);
}

// Appends the kernels of an opaque op: `symbol`, `symbol_1`, ... 1, or 0 = reported.
static int tc__print_cuda_opaque(tc__text *out, const tc__group *g, const tc__dialect *d,
                                 const char *symbol) {
    tc__printer p;
    tc__opaque_plan q = tc__opaque_plan_of(g);
    tc__printer_open(&p, out, g, d);
    int custom = tc__is_custom(g);
    if (custom) tc__put_cuda_custom_head(&p);
    tc__put(out, "\n// %s: %s%s%s, %d launch%s\n// rows ", symbol,
            custom ? "custom op " : "", tc__call_name(out->ctx, q.call),
            custom ? "" : " along rows", q.count, q.count == 1 ? "" : "es");
    tc__put_ix(&p, g->shape.rows);
    tc__put(out, ", columns ");
    tc__put_ix(&p, g->shape.cols);
    tc__put(out, "\n");
    tc__put_dump_buffers(&p);
    for (int i = 0; i < q.count; i++) tc__put_opaque_kernel(&p, &q, i, symbol);
    if (custom) tc__put_cuda_custom_source(&p);
    return !out->failed && !g->body.ix->failed;
}
