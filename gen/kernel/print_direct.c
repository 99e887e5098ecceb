// Products of whose sums nothing else is made: whole blocks of an item are written where the result lies, what is left at its
// right and lower edge goes by the tile. Through the tile, 96 products of 128x128x64 took 1.05 of the time.

static long long tc__direct_step(const tc__contract *q) {
    tc__ixrun down = tc__ix_run(q->g->body.ix, q->direct->attr[TC__STORE_INDEX], TC__ROW);
    return (long long)tc__ix_value(down.stride);
}

// Whether all columns of all items, or all rows, are those of whole blocks.
static int tc__direct_columns(const tc__contract *q) {
    tc__ixpool *x = q->g->body.ix;
    return tc__ix_divisor(x, q->g->shape.cols) % q->width == 0 &&
           tc__ix_divisor(x, q->wide) % q->width == 0;
}

static int tc__direct_rows(const tc__contract *q) {
    return tc__ix_divisor(q->g->body.ix, q->m) % q->rows == 0 && q->grain % q->rows == 0;
}

// `float *to`: the item's first element of the result.
static void tc__print_direct_base(tc__printer *p, const tc__contract *q) {
    tc__ixpool *x = q->g->body.ix;
    tc__ix at = q->direct->attr[TC__STORE_INDEX], r = tc__ix_find_var(x, at, TC__ROW),
           c = tc__ix_find_var(x, at, TC__COL);
    if (c) at = tc__ix_subst(x, at, c, tc__ix_const(0));
    tc__line(p);
    tc__put(p->out, "%s *to = ", p->d->scalar[q->cls]);
    tc__put_buffer(p, q->direct->attr[TC__STORE_BUFFER]);
    tc__put(p->out, " + c0;\n");
    tc__line(p);
    tc__put(p->out, "{\n"), p->indent++;
    if (r) tc__line(p), tc__put(p->out, "const tc_i64 r = r0;\n");
    tc__line(p);
    tc__put(p->out, "to += ");
    tc__put_ix(p, at);
    tc__put(p->out, ";\n");
    tc__block_close(p);
}

// From which column on row r of the tile is not in the result yet.
static void tc__print_direct_left(tc__printer *p, const tc__contract *q) {
    int columns = tc__direct_columns(q);
    tc__line(p);
    tc__put(p->out, "const tc_i64 left = ");
    if (!tc__direct_rows(q))
        tc__put(p->out, "r >= r0 + (r1 - r0) / %d * %d ? c0 : ", q->rows, q->rows);
    if (columns)
        tc__put(p->out, "c1;\n");
    else
        tc__put(p->out, "c0 + (c1 - c0) / %d * %d;\n", q->width, q->width);
}

// `NAME_block(...)` for the block at row `i` of the item, an expression, and the columns from p on: into the result
// where it is whole.
static void tc__print_block_call(tc__printer *p, const tc__contract *q, const char *symbol,
                                 const char *operands, const char *i) {
    const char *more = q->dot.bias
                           ? q->slice ? ", bias + (p - c0), k0" : ", bias + (p - c0)"
                       : q->slice ? ", k0"
                                  : "";
    int columns = q->direct && tc__direct_columns(q),
        rows = q->direct && tc__direct_rows(q);
    int either = q->direct && !(rows && columns);
    if (either) {
        tc__line(p);
        tc__put(p->out, "if (");
        if (!columns) tc__put(p->out, "p + %d <= c1%s", q->width, rows ? "" : " && ");
        if (!rows) tc__put(p->out, "%s + %d <= r1 - r0", i, q->rows);
        tc__put(p->out, ")\n"), p->indent++;
    }
    if (q->direct) {
        long long step = tc__direct_step(q);
        tc__line(p);
        tc__put(p->out, "%s_block(%s, to + %s * %lld + (p - c0), %lld%s);\n", symbol,
                operands, i, step, step, more);
    }
    if (either) p->indent--, tc__line(p), tc__put(p->out, "else\n"), p->indent++;
    if (either || !q->direct) {
        tc__line(p);
        tc__put(p->out, "%s_block(%s, tile + %s * wide + (p - c0), wide%s);\n", symbol,
                operands, i, more);
    }
    if (either) p->indent--;
}
