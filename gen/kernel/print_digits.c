// Loops in C over an axis by its digits, and panels of a product that are made so: of a right operand whose place and
// predicates are sums of what the column and what k say (windows.c), the column's part is found once for a panel, and k's
// once for all its columns. So gradients of a convolution's weight pack windows, whose places are k.

static void tc__let_ix(tc__printer *p, const char *name, tc__ix e) {
    tc__line(p);
    tc__put(p->out, "const tc_i64 %s = ", name);
    tc__put_ix(p, e);
    tc__put(p->out, ";\n");
}

// `for (tc_i64 c = c0, y = c / 56, x = c % 56; c < c1; c++) {`; `beside` stands behind what it begins with.
static void tc__print_digits_open(tc__printer *p, const tc__digits *d, const char *from,
                                  const char *to, const char *beside) {
    const char *name = tc__axis_name(tc__ix_node(d->x, d->axis)->a);
    tc__line(p);
    tc__put(p->out, "for (tc_i64 %s = %s", name, from);
    for (int i = 0; i < d->count && d->count > 1; i++) {
        tc__ix at = tc__ix_div(d->x, d->axis, d->stride[i]);
        if (i) at = tc__ix_mod(d->x, at, tc__digits_size(d, i));
        tc__put(p->out, ", ");
        tc__put_ix(p, d->digit[i]);
        tc__put(p->out, " = ");
        tc__put_ix(p, at);
    }
    tc__put(p->out, "%s; %s < %s; %s++)", beside, name, to, name);
    tc__block_open(p);
}

// `if (++x == 56) x = 0, y++;`
static void tc__print_digits_close(tc__printer *p, const tc__digits *d) {
    for (int i = d->count - 1; i > 0; i--) {
        tc__line(p);
        tc__put(p->out, i == d->count - 1 ? "if (++" : "if (");
        tc__put_ix(p, d->digit[i]);
        tc__put(p->out, " == ");
        tc__put_ix(p, tc__digits_size(d, i));
        tc__put(p->out, ") ");
        tc__put_ix(p, d->digit[i]);
        tc__put(p->out, " = 0, ");
        tc__put_ix(p, d->digit[i - 1]);
        tc__put(p->out, "++;\n");
    }
    tc__block_close(p);
}

// The panel's columns: where each is for k = 0, and its part of each predicate's number.
static void tc__let_panel_columns(tc__printer *p, const tc__contract *q,
                                  const tc__node *n) {
    tc__ixpool *x = p->g->body.ix;
    tc__line(p);
    tc__put(p->out, "const %s *column[%d];\n", p->d->scalar[q->cls], q->width);
    for (uint32_t i = 0; i < tc__windows_tests(n); i++) {
        tc__line(p);
        tc__put(p->out, "tc_i64 near%u[%d];\n", i, q->width);
    }
    tc__line(p);
    tc__put(p->out, "for (int j = 0; j < %d; j++)", q->width);
    tc__block_open(p);
    tc__line(p);
    tc__put(p->out, "const tc_i64 c = tc_min(p + j, c1 - 1);\n");
    tc__line(p);
    tc__put(p->out, "column[j] = ");
    tc__put_at(p, n->attr[TC__LOAD_BUFFER], tc__without_depth(x, n->attr[TC__LOAD_INDEX]));
    tc__put(p->out, ";\n");
    for (uint32_t i = 0; i < tc__windows_tests(n); i++) {
        tc__line(p);
        tc__put(p->out, "near%u[j] = ", i);
        tc__put_ix(p, tc__without_depth(x, tc__windows_test(n, i)));
        tc__put(p->out, ";\n");
    }
    tc__block_close(p);
}

// `number0 + 0 >= 0 && number0 + 2 < 56`: nothing that is added, `more`, takes predicate i's number out of its range.
static void tc__put_inside(tc__printer *p, const tc__node *n, uint32_t i, tc__ix more) {
    tc__ixpool *x = p->g->body.ix;
    tc__put(p->out, "%snumber%u + %lld >= 0 && number%u + %lld < ", i ? " && " : "", i,
            (long long)tc__ix_lo(x, more), i, (long long)tc__ix_hi(x, more));
    tc__put_atom(p, tc__windows_limit(n, i), 0);
}

// `(tc_u64)(number0 + near0[j]) < (tc_u64)56`
static void tc__put_inside_column(tc__printer *p, const tc__node *n) {
    for (uint32_t i = 0; i < tc__windows_tests(n); i++) {
        tc__put(p->out, "%s(tc_u64)(number%u + near%u[j]) < (tc_u64)", i ? " && " : "", i,
                i);
        tc__put_atom(p, tc__windows_limit(n, i), 0);
    }
}

// Panel [depth][width] of the columns from p on.
static void tc__print_panel_apart(tc__printer *p, const tc__contract *q) {
    const tc__node *n = tc__body(p, tc__right_of(p->g));
    tc__ixpool *x = p->g->body.ix;
    tc__ix e[1 + TC__WINDOWS_TESTS];
    uint32_t tests = tc__windows_tests(n);
    int known = 1;
    char name[20];
    e[0] = tc__of_depth(x, n->attr[TC__LOAD_INDEX]);
    for (uint32_t i = 0; i < tests; i++) {
        tc__ix of = tc__without_depth(x, tc__windows_test(n, i));
        known &= tc__ix_is_i32(x, of);
        e[1 + i] = tc__of_depth(x, tc__windows_test(n, i));
    }
    tc__digits d = tc__digits_of(x, TC__DEPTH, q->depth, e, 1 + (int)tests);
    tc__let_panel_columns(p, q, n);
    tc__line(p);
    tc__put(p->out, "%s *row = panel;\n", tc__panel_type(p, q));
    tc__print_digits_open(p, &d, q->slice ? "k0" : "0", q->slice ? "k1" : "depth", "");
    tc__let_ix(p, "at", tc__in_digits(&d, e[0]));
    for (uint32_t i = 0; i < tests; i++) {
        snprintf(name, sizeof name, "number%u", i);
        tc__let_ix(p, name, tc__in_digits(&d, e[1 + i]));
    }
    tc__line(p);
    if (tests && known) {
        tc__put(p->out, "if (");
        for (uint32_t i = 0; i < tests; i++) // for every column
            tc__put_inside(p, n, i, tc__without_depth(x, tc__windows_test(n, i)));
        tc__put(p->out, ") ");
    }
    if (!tests || known)
        tc__put(p->out, "for (int j = 0; j < %d; j++) row[j] = column[j][at];\n", q->width);
    if (tests && known) tc__line(p), tc__put(p->out, "else ");
    if (tests) {
        tc__put(p->out, "for (int j = 0; j < %d; j++) row[j] = ", q->width);
        tc__put_inside_column(p, n);
        tc__put(p->out, " ? column[j][at] : 0;\n");
    }
    tc__line(p);
    tc__put(p->out, "row += %d;\n", q->width);
    tc__print_digits_close(p, &d);
}
