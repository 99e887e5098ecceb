// Products whose columns are windows of an image, in C: rows in panels, columns read where they are (contract.c).
// Memory of the worker, kept from item to item while the rows are the same: `pack`, the panels; `at`, what k adds
// to an element's place; `same`, k itself; `near0`, ..., what k adds to each predicate's number. Where windows are
// few it is kept while the batch is the same: the tables, and `edge`, the windows that a border cuts; panels are of a
// slice then.

static const tc__node *tc__windows_load(const tc__printer *p) {
    return tc__body(p, tc__right_of(p->g));
}

// Names of the tables, one behind the other.
static void tc__let_tables(tc__printer *p) {
    uint32_t tests = tc__windows_tests(tc__windows_load(p));
    const char *type = tc__table_type(p->g);
    tc__line(p);
    tc__put(p->out, "%s *at = (%s *)(void *)table%s;\n", type, type,
            tests ? ", *same = at + depth" : "");
    for (uint32_t i = 0; i < tests; i++) {
        tc__line(p);
        tc__put(p->out, "%s *near%u = same + %u * depth;\n", type, i, i + 1);
    }
}

// `at[k] = (tc_i32)(...);`
static void tc__print_table(tc__printer *p, const char *name, tc__ix e) {
    tc__line(p);
    tc__put(p->out, "%s[k] = (%s)(", name, tc__table_type(p->g));
    tc__put_ix(p, e);
    tc__put(p->out, ");\n");
}

static void tc__print_tables(tc__printer *p) {
    const tc__node *n = tc__windows_load(p);
    tc__ixpool *x = p->g->body.ix;
    char name[20];
    tc__line(p);
    tc__put(p->out, "for (tc_i64 k = 0; k < depth; k++)");
    tc__block_open(p);
    tc__print_table(p, "at", tc__of_depth(x, n->attr[TC__LOAD_INDEX]));
    if (tc__windows_tests(n)) {
        tc__line(p);
        tc__put(p->out, "same[k] = (%s)k;\n", tc__table_type(p->g));
    }
    for (uint32_t i = 0; i < tc__windows_tests(n); i++) {
        snprintf(name, sizeof name, "near%u", i);
        tc__print_table(p, name, tc__of_depth(x, tc__windows_test(n, i)));
    }
    tc__block_close(p);
}

// The panels of rows r0 to r1, of the k at hand.
static void tc__print_windows_panels(tc__printer *p, const tc__contract *q) {
    tc__line(p);
    tc__put(p->out, "for (tc_i64 i = r0; i < r1; i += %d)", q->width);
    tc__block_open(p);
    tc__print_pointers(p, q, 1, q->width, "i", "r1");
    tc__print_interleave(p, q, tc__contract_stride(q, tc__left_of(p->g), 0),
                         q->few ? "pack + (i - r0) * slice" : "pack + (i - r0) * depth");
    tc__block_close(p);
}

// Lines of the rows' slice behind the one at hand, of which each block asks for its share.
static void tc__print_windows_ahead(tc__printer *p, const tc__contract *q) {
    const tc__node *n = tc__body(p, tc__left_of(p->g));
    int line = 64 / (int)tc__dtypes[q->dtype].bytes;
    if (tc__contract_stride(q, n->id, 0) != 1) return;
    tc__line(p);
    tc__put(
        p->out,
        "const tc_i64 from = r0 + i + %d * p / (c1 - c0), end = r0 + i + %d * (p + %d) / "
        "(c1 - c0);\n",
        q->width, q->width, q->rows);
    tc__line(p);
    tc__put(p->out,
            "for (tc_i64 r = from; r < tc_min(end, r1); r++) for (tc_i64 k = k1; k < k1 + "
            "slice; k += %d)\n",
            line);
    tc__line(p);
    tc__put(p->out, "    __builtin_prefetch(");
    tc__put_at(p, n->attr[TC__LOAD_BUFFER], n->attr[TC__LOAD_INDEX]);
    tc__put(p->out, ", 0, 2);\n");
}

// Columns of weights come from memory: each block asks for its columns' slice behind the one at hand, or the first of
// the next item, a share for each panel.
static void tc__print_columns_ahead(tc__printer *p, const tc__contract *q) {
    tc__ixpool *x = p->g->body.ix;
    tc__ix at = tc__windows_load(p)->attr[TC__LOAD_INDEX];
    int line = 64 / (int)tc__dtypes[q->dtype].bytes;
    int64_t panels = tc__padded(q->grain, q->width) / q->width;
    long long share = (long long)tc__padded((q->slice + panels - 1) / panels, line);
    tc__line(p);
    tc__put(p->out,
            "const tc_i64 next = (k1 < depth ? k1 : (c1 - c0) * %lld) + i / %d * %lld;\n",
            (long long)tc__ix_value(tc__ix_run(x, at, TC__COL).stride), q->width, share);
    tc__line(p);
    tc__put(p->out, "for (int j = 0; j < %d; j++) for (tc_i64 k = 0; k < %lld; k += %d)\n",
            q->rows, share, line);
    tc__line(p);
    tc__put(p->out, "    __builtin_prefetch(window[p + j] + next + k, 0, 2);\n");
}

// The panels of all k, and the tables.
static void tc__print_windows_pack(tc__printer *p, const tc__contract *q) {
    tc__contract whole = *q; // of the depth
    whole.slice = 0;
    tc__pack_open(p, q, "block");
    if (!q->rows_lie) tc__print_windows_panels(p, &whole);
    tc__print_tables(p);
    tc__pack_close(p, q, "block");
}

// Few windows: items of a batch follow each other.
static void tc__print_few_windows_item(tc__printer *p) {
    tc__line(p);
    tc__put(p->out,
            "const tc_i64 batch = item / row_blocks, block = item %% row_blocks;\n");
}

// Items of the same rows follow each other, over all batches.
static void tc__print_many_windows_item(tc__printer *p) {
    tc__line(p);
    tc__put(p->out, "const tc_i64 batch = item / col_blocks %% ");
    tc__put_atom(p, p->g->shape.batch, 0);
    tc__put(p->out, ", block = item / col_blocks / ");
    tc__put_atom(p, p->g->shape.batch, 0);
    tc__put(p->out, ";\n");
}

static void tc__print_windows_item(tc__printer *p, const tc__contract *q) {
    if (q->few)
        tc__print_few_windows_item(p);
    else
        tc__print_many_windows_item(p);
    tc__line(p);
    tc__put(
        p->out,
        "const tc_i64 first = batch * rows, r0 = first + block * %lld, r1 = tc_min(r0 + "
        "%lld, first + rows);\n",
        (long long)q->grain, (long long)q->grain);
}

// Columns as places in rows of an image.
static tc__digits tc__windows_digits(tc__printer *p) {
    const tc__node *n = tc__windows_load(p);
    tc__ixpool *x = p->g->body.ix;
    tc__ix e[1 + TC__WINDOWS_TESTS];
    int count = 0;
    e[count++] = tc__without_depth(x, n->attr[TC__LOAD_INDEX]);
    for (uint32_t i = 0; i < tc__windows_tests(n); i++)
        e[count++] = tc__without_depth(x, tc__windows_test(n, i));
    return tc__digits_of(x, TC__COL, p->g->shape.cols, e, count);
}

// `const type name = e`, of the digits.
static void tc__let_of_column(tc__printer *p, const tc__digits *d, const char *name,
                              tc__ix e) {
    tc__ixpool *x = p->g->body.ix;
    tc__let_ix(p, name, tc__in_digits(d, tc__without_depth(x, e)));
}

// The type of what columns give predicate i's number, kept for those that a border cuts.
static const char *tc__numbers_type(const tc__printer *p, uint32_t i) {
    tc__ixpool *x = p->g->body.ix;
    tc__ix of = tc__without_depth(x, tc__windows_test(tc__windows_load(p), i));
    return tc__ix_is_i32(x, of) ? "tc_i32" : "tc_i64";
}

// What is kept of the item's columns. What the last block has too many of are its last.
static void tc__let_columns(tc__printer *p, const tc__contract *q) {
    const char *type = p->d->scalar[q->cls];
    long long room = (long long)tc__padded(q->wide_most, q->rows);
    uint32_t tests = tc__windows_tests(tc__windows_load(p));
    tc__line(p);
    tc__put(p->out, "const %s *window[%lld];\n", type, room);
    tc__line(p);
    tc__put(p->out, "%s *out[%lld];\n", type, room);
    for (uint32_t i = 0; i < tests; i++) {
        tc__line(p);
        tc__put(p->out, "%s numbers%u[%lld];\n", tc__numbers_type(p, i), i, room);
    }
    tc__line(p);
    tc__put(p->out, tests ? "tc_i64 inside = 0, border = c1 - c0;\n" : "tc_i64 p = 0;\n");
}

// For all columns of the item: where their windows are, and where their sums go. First those whose windows lie inside of
// the image, and how many these are. Before a border they fill blocks; the rest of them is copied as well.
static void tc__print_windows_columns(tc__printer *p, const tc__contract *q) {
    const tc__node *n = tc__windows_load(p);
    uint32_t tests = tc__windows_tests(n);
    tc__digits d = tc__windows_digits(p);
    char name[20];
    tc__let_columns(p, q);
    tc__print_digits_open(p, &d, "c0", "c1", ", r = r0");
    tc__line(p);
    tc__put(p->out, "(void)r;\n");
    for (uint32_t i = 0; i < tests; i++) {
        snprintf(name, sizeof name, "number%u", i);
        tc__let_of_column(p, &d, name, tc__windows_test(n, i));
    }
    tc__line(p);
    if (tests) tc__put(p->out, "const tc_i64 p = ");
    for (uint32_t i = 0; i < tests; i++) // for every k
        tc__put_inside(p, n, i, tc__of_depth(p->g->body.ix, tc__windows_test(n, i)));
    if (tests) {
        tc__put(p->out, " ? inside++ : --border;\n");
        tc__line(p);
    }
    tc__put(p->out, "window[p] = ");
    tc__put_buffer(p, n->attr[TC__LOAD_BUFFER]);
    tc__put(p->out, " + ");
    tc__ix at = tc__without_depth(p->g->body.ix, n->attr[TC__LOAD_INDEX]);
    tc__put_ix(p, tc__in_digits(&d, at));
    tc__put(p->out, ", out[p%s] = flip + (c - c0) * %d;\n", tests ? "" : "++", q->width);
    for (uint32_t i = 0; i < tests; i++) {
        tc__line(p);
        tc__put(p->out, "numbers%u[p] = (%s)number%u;\n", i, tc__numbers_type(p, i), i);
    }
    tc__print_digits_close(p, &d);
    if (!tests) return;
    tc__line(p);
    tc__put(p->out, "if (inside < c1 - c0) inside -= inside %% %d;\n", q->rows);
}

// A column's window with its border, k by k to `copy`: what a border cuts it cuts again `period` k later.
static void tc__print_windows_copy(tc__printer *p, const tc__contract *q) {
    const tc__node *n = tc__windows_load(p);
    uint32_t tests = tc__windows_tests(n);
    int sliced = q->slice && !q->few;
    const char *deep = q->few ? "depth" : "deep", *first = sliced ? "k0 + " : "";
    long long period = (long long)q->period;
    tc__line(p);
    tc__put(p->out, "for (tc_i64 t = 0; t < %lld && t < %s; t++)", period, deep);
    tc__block_open(p);
    tc__line(p);
    tc__put(p->out, "const int in = ");
    for (uint32_t i = 0; i < tests; i++) {
        tc__put(p->out, "%s(tc_u64)((tc_i64)numbers%u[p] + near%u[%st]) < (tc_u64)",
                i ? " && " : "", i, i, first);
        tc__put_atom(p, tc__windows_limit(n, i), 0);
    }
    tc__put(p->out, ";\n");
    tc__line(p);
    tc__put(p->out,
            "if (in) for (tc_i64 k = t; k < %s; k += %lld) copy[k] = cut[p][at[%sk]];\n",
            deep, period, first);
    tc__line(p);
    tc__put(p->out, "else for (tc_i64 k = t; k < %s; k += %lld) copy[k] = 0;\n", deep,
            period);
    tc__block_close(p);
}

// From one copy of a cut column to the next.
static const char *tc__windows_apart(const tc__contract *q) {
    return q->slice && !q->few ? "slice" : "depth";
}

// Columns that a border cuts are copied, one behind the other: of few windows all of each, else the slice at hand.
static void tc__print_windows_cut(tc__printer *p, const tc__contract *q) {
    if (!tc__windows_tests(tc__windows_load(p))) return;
    tc__line(p);
    tc__put(p->out, "for (tc_i64 p = inside; p < c1 - c0; p++)");
    tc__block_open(p);
    tc__line(p);
    tc__put(p->out, "%s *copy = edge + (p - inside) * %s;\n", p->d->scalar[q->cls],
            tc__windows_apart(q));
    tc__print_windows_copy(p, q);
    tc__block_close(p);
}

// Few windows: the tables, and those columns, once for a batch.
static void tc__print_windows_edges(tc__printer *p, const tc__contract *q) {
    tc__pack_open(p, q, "batch");
    tc__print_tables(p);
    tc__print_windows_cut(p, q);
    tc__pack_close(p, q, "batch");
}

// Columns are read where they are, or where they are copied to.
static void tc__print_windows_pointers(tc__printer *p, const tc__contract *q) {
    if (tc__windows_tests(tc__windows_load(p))) {
        tc__line(p);
        tc__put(p->out, "const %s *cut[%lld];\n", p->d->scalar[q->cls],
                (long long)q->wide_most);
        tc__line(p);
        tc__put(
            p->out,
            "for (tc_i64 p = inside; p < c1 - c0; p++) cut[p] = window[p], window[p] = edge + "
            "(p - inside) * %s;\n",
            tc__windows_apart(q));
    }
    tc__line(p);
    tc__put(
        p->out,
        "for (tc_i64 p = c1 - c0; p %% %d; p++) window[p] = window[p - 1], out[p] = out[p - "
        "1];\n",
        q->rows);
}

// The panel of the rows from r0 + i on, from the slice at hand on; the blocks of the first columns ask for the slice
// behind it, a share each.
static void tc__print_windows_lying(tc__printer *p, const tc__contract *q) {
    const tc__node *n = tc__body(p, tc__left_of(p->g));
    tc__ixpool *x = p->g->body.ix;
    const char *type = p->d->scalar[q->cls];
    tc__line(p);
    tc__put(p->out, "const tc_i64 r = r0 + i;\n");
    tc__line(p);
    tc__put(p->out, "const %s *panel = ", type);
    tc__put_at(p, n->attr[TC__LOAD_BUFFER], tc__without_depth(x, n->attr[TC__LOAD_INDEX]));
    tc__put(p->out, q->slice ? " + k0 * %d;\n" : ";\n", q->width);
    if (tc__contract_ahead(q)) tc__print_ahead(p, q, "p", "deep");
}

// Blocks of columns and rows of the item, each panel's sums behind the other's: panels outside, so that a panel's
// slice stays in the L1 for all columns.
static void tc__print_windows_blocks(tc__printer *p, const tc__contract *q,
                                     const char *symbol) {
    int tests = tc__windows_tests(tc__windows_load(p)) > 0;
    const char *first = q->slice ? " + k0" : "", *type = tc__table_type(p->g);
    if (q->slice) tc__print_slices(p);
    tc__line(p);
    tc__put(p->out, "const tc_i64 deep = %s;\n", tc__contract_deep(q));
    if (q->few && !q->rows_lie) tc__print_windows_panels(p, q);
    if (!q->few) tc__print_windows_cut(p, q);
    tc__line(p);
    tc__put(
        p->out,
        "for (tc_i64 i = 0; i < r1 - r0; i += %d) for (tc_i64 p = 0; p < c1 - c0; p += %d)",
        q->width, q->rows);
    tc__block_open(p);
    if (q->rows_lie)
        tc__print_windows_lying(p, q);
    else if (q->few)
        tc__print_windows_ahead(p, q);
    if (!q->few && q->slice && tc__is_plain(p->g, tc__right_of(p->g)))
        tc__print_columns_ahead(p, q);
    tc__line(p);
    if (tests)
        tc__put(p->out, "const %s *to = p < inside ? at%s : same%s;\n", type, first,
                q->few ? first : "");
    else
        tc__put(p->out, "const %s *to = at%s;\n", type, first);
    tc__line(p);
    tc__put(p->out, "%s_block(window + p, to, ", symbol);
    if (q->rows_lie)
        tc__put(p->out, tc__contract_ahead(q) ? "panel, ahead" : "panel");
    else
        tc__put(p->out, "pack + i * %s", q->few ? "slice" : "depth");
    if (q->slice && !q->few && !q->rows_lie) tc__put(p->out, " + k0 * %d", q->width);
    tc__put(p->out, ", deep, out + p, i * wide%s);\n", q->slice ? ", k0" : "");
    tc__block_close(p);
    if (q->slice) tc__block_close(p);
}

// The tile of an item: what the blocks give, turned.
static void tc__print_windows(tc__printer *p, const tc__contract *q, const char *symbol) {
    if (!q->few) tc__print_windows_pack(p, q);
    tc__print_windows_columns(p, q);
    tc__print_windows_pointers(p, q);
    if (q->few) tc__print_windows_edges(p, q);
    tc__print_windows_blocks(p, q, symbol);
    tc__line(p);
    tc__put(p->out, "for (tc_i64 i = 0; i < r1 - r0; i += %d)\n", q->width);
    tc__line(p);
    if (q->cls == TC__CLASS_f32) {
        tc__put(p->out,
                "    tc_flip_f32(flip + i * wide, %d, c1 - c0, tile + i * wide, wide);\n",
                q->width);
        return;
    }
    tc__put(p->out,
            "    for (tc_i64 j = 0; j < c1 - c0; j++) for (int l = 0; l < %d; l++)\n",
            q->width);
    tc__line(p);
    tc__put(p->out, "        tile[(i + l) * wide + j] = flip[i * wide + j * %d + l];\n",
            q->width);
}
