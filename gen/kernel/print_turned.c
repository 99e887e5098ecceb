// Products of a few rows with weights [columns, k], in C. Vectors run along columns, which lie far apart, so elements
// k to k + 7 of eight columns are turned in registers; what that costs is less than what a thread waits for memory.
// Two times eight columns are gone through together: a sum waits for the one before it, four cycles, and a thread
// reads 16 of its columns' elements meanwhile. A cache line of a column is used up before those of the other eight are
// needed, since columns that are 4096 bytes apart share few lines of the L1.
//
// One row and 4096 x 4096 weights take 0.5 to 0.68 of the time of one scalar a step on a Xeon with 2 threads, 1.1 to 1.2 of
// what a sum of the same bytes takes, and four rows 0.63 to 0.85; one row and 768 x 768 on a Zen 3 0.5.
// Halves are widened first. Nothing is packed. The last columns of an item are gone through twice where they are no multiple of 16.

// `s0_1 = TC_FMA_f32(tc_splat_f32(row0[(k + 3) * 2]), t.r3, s0_1);` for all rows.
static void tc__turned_steps(tc__printer *p, const tc__contract *q, int half, int k,
                             const char *column) {
    long long stride = (long long)tc__contract_stride(q, tc__left_of(p->g), q->left_nodes);
    for (int i = 0; i < q->rows; i++) {
        tc__line(p);
        tc__put(p->out, "s%d_%d = TC_FMA_f32(tc_splat_f32(row%d[", i, half, i);
        if (stride != 1) tc__put(p->out, "%lld * (", stride);
        tc__put(p->out, k ? "k + %d" : "k", k);
        tc__put(p->out, "%s]), %s, s%d_%d);\n", stride != 1 ? ")" : "", column, i, half);
    }
}

// Of weights.
static const tc__dtype_info *tc__turned_info(const tc__printer *p) {
    return &tc__dtypes[tc__body(p, tc__right_of(p->g))->dtype];
}

static const char *tc__turned_suffix(const tc__printer *p) {
    int dtype = tc__body(p, tc__right_of(p->g))->dtype;
    return dtype == TC_F16 ? "f16" : dtype == TC_BF16 ? "bf16" : "f32";
}

// k to k + 15 of the eight columns of a half.
static void tc__turned_half(tc__printer *p, const tc__contract *q, int half,
                            long long apart) {
    char column[20];
    for (int at = 0; at < 2 * p->unit; at += p->unit) {
        tc__line(p);
        tc__put(p->out, "t = tc_turn_%s(w + k + %lld, %lld);\n", tc__turned_suffix(p),
                half * p->unit * apart + at, apart);
        for (int i = 0; i < p->unit; i++) {
            snprintf(column, sizeof column, "t.r%d", i);
            tc__turned_steps(p, q, half, at + i, column);
        }
        // Loads of the next columns behind it, for whose elements there is no register yet.
        tc__line(p);
        tc__put(p->out, "__asm__(\"\" ::: \"memory\");\n");
    }
}

enum { TC__TURNED_AHEAD = 128 }; // k

// Lines that come from memory meanwhile: a line of each column, behind the last those of the next 16 columns. One row
// takes 0.84-0.87 of the time so on a Xeon, and the same on a Zen 3.
static void tc__turned_ahead(tc__printer *p, const tc__contract *q, long long apart) {
    tc__line(p);
    tc__put(p->out,
            "const %s *ahead = w + (k + %d < depth ? k + %d : k + %d - depth + %lld);\n",
            tc__turned_info(p)->memory, TC__TURNED_AHEAD, TC__TURNED_AHEAD,
            TC__TURNED_AHEAD, q->width * apart);
    tc__line(p);
    tc__put(p->out,
            "for (int j = 0; j < %d; j++) __builtin_prefetch(ahead + j * %lld, 0, 2);\n",
            q->width, apart);
}

// What the depth has beyond a multiple of 16, an element of each column at a time.
static void tc__turned_rest(tc__printer *p, const tc__contract *q, int half,
                            long long apart) {
    char column[20];
    tc__line(p);
    tc__put(p->out, "const %s w%d[] = {", tc__turned_info(p)->memory, half);
    for (int i = 0; i < p->unit; i++)
        tc__put(p->out, "%sw[k + %lld]", i ? ", " : "", (half * p->unit + i) * apart);
    tc__put(p->out, "};\n");
    tc__line(p);
    tc__put(p->out, "const tc_vf b%d = tc_ld_%s(w%d);\n", half, tc__turned_suffix(p), half);
    snprintf(column, sizeof column, "b%d", half);
    tc__turned_steps(p, q, half, 0, column);
}

static long long tc__turned_apart(const tc__printer *p) {
    tc__ix at = tc__body(p, tc__right_of(p->g))->attr[TC__LOAD_INDEX];
    return (long long)tc__ix_value(tc__ix_run(p->g->body.ix, at, TC__COL).stride);
}

// Printed before the kernel: sums of all rows and of the 16 columns from w on.
static void tc__print_turned_block(tc__printer *p, const tc__contract *q,
                                   const char *symbol) {
    long long apart = tc__turned_apart(p);
    tc__put(p->out,
            "static __attribute__((noinline)) void %s_block(const float *const *row, const "
            "%s *w,\n        tc_i64 depth, float *tile, tc_i64 step)",
            symbol, tc__turned_info(p)->memory);
    tc__block_open(p);
    for (int i = 0; i < q->rows; i++) {
        tc__line(p);
        tc__put(p->out, "const float *row%d = row[%d];\n", i, i);
    }
    for (int i = 0; i < q->rows; i++) tc__contract_sums(p, q, i, TC__SUM_NEW);
    tc__line(p);
    tc__put(p->out, "tc_i64 k = 0;\n");
    tc__line(p);
    tc__put(p->out, "for (; k + %d <= depth; k += %d)", 2 * p->unit, 2 * p->unit);
    tc__block_open(p);
    tc__line(p);
    tc__put(p->out, "tc_octs t;\n");
    tc__turned_ahead(p, q, apart);
    for (int half = 0; half < 2; half++) tc__turned_half(p, q, half, apart);
    tc__block_close(p);
    tc__line(p);
    tc__put(p->out, "for (; k < depth; k++)");
    tc__block_open(p);
    for (int half = 0; half < 2; half++) tc__turned_rest(p, q, half, apart);
    tc__block_close(p);
    for (int i = 0; i < q->rows; i++) tc__contract_sums(p, q, i, TC__SUM_STORE);
    tc__block_close(p);
    tc__put(p->out, "\n");
}

// The tile of an item's columns.
static void tc__print_turned(tc__printer *p, const tc__contract *q, const char *symbol) {
    const tc__node *n = tc__body(p, tc__right_of(p->g));
    if (q->left_nodes) tc__print_left(p, q);
    tc__print_pointers(p, q, 1, q->rows, "r0", "r1");
    tc__line(p);
    tc__put(p->out, "for (tc_i64 p = c0; p < c1; p += %d)", q->width);
    tc__block_open(p);
    tc__line(p);
    tc__put(p->out, "const tc_i64 c = tc_min(p, c1 - %d), r = r0;\n", q->width);
    tc__line(p);
    tc__put(p->out, "(void)r;\n");
    tc__line(p);
    tc__put(p->out, "%s_block(x, ", symbol);
    tc__put_at(p, n->attr[TC__LOAD_BUFFER],
               tc__without_depth(p->g->body.ix, n->attr[TC__LOAD_INDEX]));
    tc__put(p->out, ", depth, tile + (c - c0), wide);\n");
    tc__block_close(p);
}
