// Products whose columns are windows of an image, in C: rows in panels, columns read where they are (contract.c).
// Memory of the worker, kept from item to item while the rows are the same: `pack`, the panels; `at`, what k adds
// to an element's place; `same`, k itself; `near0`, ..., what k adds to each predicate's number.

static const tc__node *tc__windows_load(const tc__printer *p) {
    return tc__body(p, tc__right_of(p->g));
}

static uint32_t tc__windows_tests(const tc__node *n) {
    return (n->n_attr - TC__LOAD_PREDICATES) / 2;
}

static tc__ix tc__windows_test(const tc__node *n, uint32_t i) {
    return n->attr[TC__LOAD_PREDICATES + 2 * i];
}

static tc__ix tc__windows_limit(const tc__node *n, uint32_t i) {
    return n->attr[TC__LOAD_PREDICATES + 2 * i + 1];
}

// Names of the tables, one behind the other.
static void tc__let_tables(tc__printer *p) {
    uint32_t tests = tc__windows_tests(tc__windows_load(p));
    tc__line(p);
    tc__put(p->out, "tc_i32 *at = (tc_i32 *)(void *)table, *same = at + depth;\n");
    for (uint32_t i = 0; i < tests; i++) {
        tc__line(p);
        tc__put(p->out, "tc_i32 *near%u = same + %u * depth;\n", i, i + 1);
    }
}

// `at[k] = (tc_i32)(...);`
static void tc__print_table(tc__printer *p, const char *name, tc__ix e) {
    tc__line(p);
    tc__put(p->out, "%s[k] = (tc_i32)(", name);
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
    tc__line(p);
    tc__put(p->out, "same[k] = (tc_i32)k;\n");
    for (uint32_t i = 0; i < tc__windows_tests(n); i++) {
        snprintf(name, sizeof name, "near%u", i);
        tc__print_table(p, name, tc__of_depth(x, tc__windows_test(n, i)));
    }
    tc__block_close(p);
}

// The panels of rows r0 to r1, k by k, and the tables.
static void tc__print_windows_pack(tc__printer *p, const tc__contract *q) {
    tc__contract whole = *q; // of the depth
    whole.slice = 0;
    tc__line(p);
    tc__put(p->out, "if (");
    tc__put_packed(p, q);
    tc__put(p->out, " != block)");
    tc__block_open(p);
    tc__line(p);
    tc__put(p->out, "for (tc_i64 i = r0; i < r1; i += %d)", q->width);
    tc__block_open(p);
    tc__print_pointers(p, &whole, 1, q->width, "i", "r1");
    tc__print_interleave(p, &whole, tc__contract_stride(q, tc__left_of(p->g), 0),
                         "pack + (i - r0) * depth");
    tc__block_close(p);
    tc__print_tables(p);
    tc__line(p);
    tc__put_packed(p, q);
    tc__put(p->out, " = block;\n");
    tc__block_close(p);
}

// Items of the same rows follow each other, over all batches.
static void tc__print_windows_item(tc__printer *p, const tc__contract *q) {
    tc__line(p);
    tc__put(p->out, "const tc_i64 batch = item / col_blocks %% ");
    tc__put_atom(p, p->g->shape.batch, 0);
    tc__put(p->out, ", block = item / col_blocks / ");
    tc__put_atom(p, p->g->shape.batch, 0);
    tc__put(p->out, ";\n");
    tc__line(p);
    tc__put(
        p->out,
        "const tc_i64 first = batch * rows, r0 = first + block * %lld, r1 = tc_min(r0 + "
        "%lld, first + rows);\n",
        (long long)q->grain, (long long)q->grain);
}

// `for (int j = 0; j < 6; j++) { const tc_i64 c = ...;`
static void tc__windows_each(tc__printer *p, const tc__contract *q) {
    tc__line(p);
    tc__put(p->out, "for (int j = 0; j < %d; j++)", q->rows);
    tc__block_open(p);
    tc__line(p);
    tc__put(p->out, "const tc_i64 c = tc_min(p + j, c1 - 1), r = r0;\n");
    tc__line(p);
    tc__put(p->out, "(void)r;\n");
}

// What the column at hand gives predicate i's number.
static void tc__put_near(tc__printer *p, const tc__node *n, uint32_t i) {
    tc__put_ix(p, tc__without_depth(p->g->body.ix, tc__windows_test(n, i)));
}

// Pointers to the columns from p on, and whether all of their windows lie inside.
static void tc__print_windows_pointers(tc__printer *p, const tc__contract *q) {
    const tc__node *n = tc__windows_load(p);
    tc__ixpool *x = p->g->body.ix;
    tc__line(p);
    tc__put(p->out, "const %s *x[%d];\n", p->d->scalar[q->cls], q->rows);
    tc__line(p);
    tc__put(p->out, "const tc_i32 *to = at%s;\n", q->slice ? " + k0" : "");
    if (tc__windows_tests(n)) {
        tc__line(p);
        tc__put(p->out, "int whole[%d], inside = 1;\n", q->rows);
    }
    tc__windows_each(p, q);
    tc__line(p);
    tc__put(p->out, "x[j] = ");
    tc__put_buffer(p, n->attr[TC__LOAD_BUFFER]);
    tc__put(p->out, " + ");
    tc__put_ix(p, tc__without_depth(x, n->attr[TC__LOAD_INDEX]));
    tc__put(p->out, ";\n");
    for (uint32_t i = 0; i < tc__windows_tests(n); i++) {
        tc__ix of = tc__of_depth(x, tc__windows_test(n, i));
        tc__line(p);
        tc__put(p->out, i ? "whole[j] &= " : "whole[j] = ");
        tc__put_near(p, n, i);
        tc__put(p->out, " + %lld >= 0 && ", (long long)tc__ix_lo(x, of));
        tc__put_near(p, n, i);
        tc__put(p->out, " + %lld < ", (long long)tc__ix_hi(x, of));
        tc__put_ix(p, tc__windows_limit(n, i));
        tc__put(p->out, ";\n");
    }
    if (tc__windows_tests(n)) {
        tc__line(p);
        tc__put(p->out, "inside &= whole[j];\n");
    }
    tc__block_close(p);
}

// Copies of columns of a block some of which a border cuts.
static void tc__print_windows_edge(tc__printer *p, const tc__contract *q) {
    const tc__node *n = tc__windows_load(p);
    uint32_t tests = tc__windows_tests(n);
    if (!tests) return;
    tc__line(p);
    tc__put(p->out, "if (!inside)");
    tc__block_open(p);
    tc__windows_each(p, q);
    tc__line(p);
    tc__put(p->out, "%s *copy = edge + j * %s;\n", p->d->scalar[q->cls],
            q->slice ? "slice" : "depth");
    for (uint32_t i = 0; i < tests; i++) {
        tc__line(p);
        tc__put(p->out, "const tc_i64 c%u_ = ", i);
        tc__put_near(p, n, i);
        tc__put(p->out, ", limit%u = ", i);
        tc__put_ix(p, tc__windows_limit(n, i));
        tc__put(p->out, ";\n");
    }
    tc__line(p);
    tc__put(p->out,
            "if (whole[j]) for (tc_i64 k = 0; k < %s; k++) copy[k] = x[j][to[k]];\n",
            tc__contract_deep(q));
    tc__line(p);
    tc__put(p->out,
            "else for (tc_i64 k = 0; k < %s; k++) copy[k] = ", tc__contract_deep(q));
    for (uint32_t i = 0; i < tests; i++)
        tc__put(p->out, "%s(tc_u64)(c%u_ + near%u[k%s]) < (tc_u64)limit%u", i ? " && " : "",
                i, i, q->slice ? " + k0" : "", i);
    tc__put(p->out, " ? x[j][to[k]] : 0;\n");
    tc__line(p);
    tc__put(p->out, "x[j] = copy;\n");
    tc__block_close(p);
    tc__line(p);
    tc__put(p->out, "to = same;\n");
    tc__block_close(p);
}

// Blocks of columns and rows of the item, each panel's sums behind the other's; then they are turned.
static void tc__print_windows(tc__printer *p, const tc__contract *q, const char *symbol) {
    if (q->slice) tc__print_slices(p);
    tc__line(p);
    tc__put(p->out, "for (tc_i64 p = c0; p < c1; p += %d)", q->rows);
    tc__block_open(p);
    tc__print_windows_pointers(p, q);
    tc__print_windows_edge(p, q);
    tc__line(p);
    tc__put(p->out, "for (tc_i64 i = 0; i < r1 - r0; i += %d)\n", q->width);
    tc__line(p);
    tc__put(p->out, "    %s_block(x, to, pack + i * depth", symbol);
    if (q->slice) tc__put(p->out, " + k0 * %d", q->width);
    tc__put(p->out, ", %s, flip + i * wide + (p - c0) * %d%s);\n", tc__contract_deep(q),
            q->width, q->slice ? ", k0" : "");
    tc__block_close(p);
    if (q->slice) tc__block_close(p);
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
