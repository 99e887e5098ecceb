// Panels that are read where they lie in memory, and what blocks ask for of the next one while they multiply: a panel of a
// constant weight comes once, one line after the other, as fast as memory gives it. 512 filters 3x3 over 512x7x7 take 0.7 of
// the time that packing takes; asked for in bursts, before a block, they take 0.8.

// How many k a step of the block's loop has: what counts k takes the ports of multiplications where vectors have 64
// bytes. 6 x 4 vectors, four k a step, do 146 GFLOP/s on a Xeon where 8 x 2, one k, do 118, and 6 x 4, one k, 132; 12 x 2 and
// 14 x 2 have more loads, 130 and 126.
static int tc__contract_unroll(const tc__contract *q) {
    return q->lanes > (int)TC__VECTOR && !q->streams ? 4 : 1;
}

// Elements of a line of a cache.
static int tc__contract_line(const tc__contract *q) {
    return 64 / (int)tc__dtypes[q->dtype].bytes;
}

// Lines that a step asks for of the next slice of rows that lie as panels: all blocks of columns together have it there. 0 = none.
static int tc__contract_ahead(const tc__contract *q) {
    int steps = tc__contract_unroll(q), lines = steps * q->width / tc__contract_line(q);
    int64_t rows = q->panel ? q->grain : q->wide_most,
            blocks = (rows + q->rows - 1) / q->rows;
    return (q->rows_lie || (q->panel && q->lies)) && q->slice >= steps && steps > 1
               ? (int)((lines + blocks - 1) / blocks)
               : 0;
}

// The panel of the columns from p on, of a slice, in memory.
static void tc__print_lying_panel(tc__printer *p, const tc__contract *q) {
    const tc__node *n = tc__body(p, tc__right_of(p->g));
    tc__ixpool *x = p->g->body.ix;
    tc__ix k = tc__ix_find_var(x, n->attr[TC__LOAD_INDEX], TC__DEPTH);
    tc__line(p);
    tc__put(p->out, "const tc_i64 c = p, r = r0;\n");
    tc__line(p);
    tc__put(p->out, "(void)r;\n");
    tc__line(p);
    tc__put(p->out, "const %s *panel = ", tc__panel_type(p, q));
    tc__put_at(p, n->attr[TC__LOAD_BUFFER],
               k ? tc__ix_subst(x, n->attr[TC__LOAD_INDEX], k, tc__ix_const(0))
                 : n->attr[TC__LOAD_INDEX]);
    if (q->slice)
        tc__put(p->out, " + k0 * %lld", (long long)tc__contract_stride(q, n->id, 0));
    tc__put(p->out, ";\n");
}

// What a block asks for while it multiplies: of what stands behind the panel by `behind` k the share of block `at`, which the
// first blocks have.
static void tc__print_ahead(tc__printer *p, const tc__contract *q, const char *at,
                            const char *behind) {
    int lines = tc__contract_ahead(q), steps = tc__contract_unroll(q);
    long long share = (long long)(q->slice / steps * lines * tc__contract_line(q)),
              all = (long long)q->slice * q->width;
    tc__line(p);
    tc__put(p->out,
            "const %s *ahead = %s < %lld ? panel + %s * %d + %s / %d * %lld : panel;\n",
            p->d->scalar[q->cls], at, (all + share - 1) / share * q->rows, behind, q->width,
            at, q->rows, share);
}
