// Products of a few rows with weights [columns, k], in C. Vectors run along columns, which lie far apart, so words of
// 32 bits of as many columns as a vector has lanes are turned in registers: 8 x 8, or 16 x 16 with AVX-512, whole cache
// lines then. A word is one k of f32, two of halves, which are widened behind that, or what the dots of dots.c take, or two pairs of these. What
// turning costs is less than what a thread waits for memory. Nothing is packed.
//
// A sum waits for the one before it, four cycles, so two vectors of columns are gone through together where nothing else is
// there to do meanwhile: with vectors of 8, and with two rows and fewer of halves. A cache line of a column is used up before
// those of the others are needed, since columns that are 4096 bytes apart share few lines of the L1.
//
// One row and 4096 x 4096 weights of f32, vectors of 8, take 0.5 to 0.68 of the time of one scalar a step on a Xeon with 2
// threads, 1.1 to 1.2 of what a sum of the same bytes takes, and four rows 0.63 to 0.85; one row and 768 x 768 on a Zen 3 0.5.
// The last columns of an item are gone through twice where they are no multiple of a block's.

enum {
    TC__TURNED_LINE = 16,   // words of a column at a time: a cache line
    TC__TURNED_AHEAD = 512, // bytes
    TC__TURNED_SIGN = 128   // what bytes with a sign get added: dots.c
};

// How weights lie.
typedef struct tc__turned {
    const tc__contract *q;
    const tc__node *load;
    long long apart;    // bytes from a column to the next
    int k_bytes, words; // bytes of a k, or word of dots; how many of them 4 bytes have
} tc__turned;

static tc__turned tc__turned_of(const tc__contract *q) {
    tc__turned t;
    t.q = q, t.load = q->g->body.node.at[tc__turned_load(q->g) - 1];
    t.k_bytes = q->dot.split      ? 2
                : q->dot.each > 1 ? 4
                                  : (int)tc__dtypes[t.load->dtype].bytes;
    t.words = 4 / t.k_bytes;
    tc__ix at = t.load->attr[TC__LOAD_INDEX];
    t.apart = (long long)tc__ix_value(tc__ix_run(q->g->body.ix, at, TC__COL).stride) *
              (long long)tc__dtypes[t.load->dtype].bytes;
    return t;
}

// `const tc_vf b0 = tc_low_bf16(WORD);`: the k-th of vector `group` of columns that a word has.
static void tc__turned_column(tc__printer *p, const tc__turned *t, int group, int k,
                              const char *word) {
    tc__line(p);
    if (t->words == 2)
        tc__put(p->out, "const %s b%d = tc_%s_%s((tc_vi)%s);\n",
                p->d->reg[tc__operand_class(t->q)], group, k ? "high" : "low",
                tc__narrow_name(t->q, tc__turned_load(t->q->g)), word);
    else
        tc__put(p->out, "const %s b%d = (%s)%s;\n", p->d->reg[tc__operand_class(t->q)],
                group, p->d->reg[tc__operand_class(t->q)], word);
}

// `s0_1 = TC_FMA_f32(tc_splat_f32(row0[k + 3]), b1, s0_1);` for all rows.
static void tc__turned_steps(tc__printer *p, const tc__turned *t, int group, int k,
                             const char *at) {
    const tc__contract *q = t->q;
    const char *cls = tc__class_names[tc__operand_class(q)];
    long long stride = (long long)tc__contract_stride(q, tc__left_of(p->g), q->left_nodes);
    for (int i = 0; i < q->rows; i++) {
        tc__line(p);
        tc__put(p->out, "const %s x%d = tc_splat_%s(row%d[",
                p->d->reg[tc__operand_class(q)], i, cls, i);
        if (stride != 1) tc__put(p->out, "%lld * (", stride);
        tc__put(p->out, k ? "%s + %d" : "%s", at, k);
        tc__put(p->out, "%s]);\n", stride != 1 ? ")" : "");
        tc__line(p);
        if (q->dot.each > 1)
            tc__put_dot(p, &q->dot, i, group);
        else
            tc__put(p->out, "s%d_%d = TC_FMA_f32(x%d, b%d, s%d_%d);\n", i, group, i, group,
                    i, group);
    }
    if (!q->dot.bias) return;
    tc__line(p);
    tc__put(p->out, "z%d = tc_dot_i8(z%d, TC_K_i32((tc_i32)0x80808080), b%d);\n", group,
            group, group);
}

// A line of the columns of vector `group`.
static void tc__turned_line(tc__printer *p, const tc__turned *t, int group) {
    char word[20];
    // gcc would load what meets all k of the line first, and keep it in memory.
    int crowded =
        p->unit > (int)TC__VECTOR && (t->q->dot.each > 1 || t->q->width > p->unit);
    long long first = (long long)group * p->unit * t->apart;
    for (int at = 0; at < TC__TURNED_LINE; at += p->unit) {
        tc__line(p);
        tc__put(p->out, "t = tc_turn_words(w + k * %d + %lld, %lld);\n", t->k_bytes,
                first + 4 * at, t->apart);
        for (int i = 0; i < p->unit; i++)
            for (int half = 0; half < t->words; half++) {
                tc__line(p);
                tc__put(p->out, "{\n");
                p->indent++;
                snprintf(word, sizeof word, "t.r%d", i);
                tc__turned_column(p, t, group, half, word);
                tc__turned_steps(p, t, group, (at + i) * t->words + half, "k");
                tc__block_close(p);
                // Loads of what comes next behind it: there is no register for that yet.
                int last = i + 1 == p->unit && half + 1 == t->words;
                if (!last && !crowded) continue;
                tc__line(p);
                tc__put(p->out, "__asm__(\"\" ::: \"memory\");\n");
            }
    }
}

// Lines that come from memory meanwhile: one of each column, behind the last those of the next columns. One row takes
// 0.84-0.87 of the time so on a Xeon, and the same on a Zen 3.
static void tc__turned_ahead(tc__printer *p, const tc__turned *t) {
    tc__line(p);
    tc__put(
        p->out,
        "const tc_u8 *ahead = w + k * %d + (k * %d + %d < bytes ? %d : %d - bytes + %lld);\n",
        t->k_bytes, t->k_bytes, TC__TURNED_AHEAD, TC__TURNED_AHEAD, TC__TURNED_AHEAD,
        t->q->width * t->apart);
    tc__line(p);
    tc__put(p->out,
            "for (int j = 0; j < %d; j++) __builtin_prefetch(ahead + j * %lld, 0, 2);\n",
            t->q->width, t->apart);
}

// What columns have beyond whole lines.
static void tc__turned_rest(tc__printer *p, const tc__turned *t, int group) {
    tc__line(p);
    tc__put(p->out, "tc_turn_rest(w + k * %d + %lld, %lld, bytes - k * %d, t);\n",
            t->k_bytes, (long long)group * p->unit * t->apart, t->apart, t->k_bytes);
    tc__line(p);
    tc__put(p->out, "for (tc_i64 i = k; i < depth; i += %d)", t->words);
    tc__block_open(p);
    for (int half = 0; half < t->words; half++) {
        tc__line(p);
        if (half) {
            tc__put(p->out, "if (i + 1 == depth) break;\n");
            tc__line(p);
        }
        tc__put(p->out, "{\n");
        p->indent++;
        tc__turned_column(p, t, group, half, t->words == 2 ? "t[(i - k) / 2]" : "t[i - k]");
        tc__turned_steps(p, t, group, half, "i");
        tc__block_close(p);
    }
    tc__block_close(p);
}

// Whether there is such a rest.
static int tc__turned_has_rest(const tc__turned *t) {
    return tc__ix_divisor(t->q->g->body.ix, t->q->depth) * t->k_bytes %
               (4 * TC__TURNED_LINE) !=
           0;
}

static void tc__turned_sums(tc__printer *p, const tc__turned *t, int store) {
    const tc__contract *q = t->q;
    const char *cls = tc__class_names[q->cls], *reg = p->d->reg[q->cls];
    for (int j = 0; j < q->width / p->unit; j++) {
        for (int i = 0; i < q->rows; i++) {
            tc__line(p);
            if (store)
                tc__put(p->out, "tc_st_%s(tile + %d * step + %d, s%d_%d%s", cls, i,
                        j * p->unit, i, j, q->dot.bias ? " - z" : ");\n");
            else
                tc__put(p->out, "%s s%d_%d = TC_K_%s(0);\n", reg, i, j, cls);
            if (store && q->dot.bias) tc__put(p->out, "%d);\n", j);
        }
        if (store || !q->dot.bias) continue;
        tc__line(p);
        tc__put(p->out, "tc_vi z%d = TC_K_i32(0); // %d times the columns' sums\n", j,
                TC__TURNED_SIGN);
    }
}

// Printed before the kernel: sums of all rows and of a block of columns, which begin at w.
static void tc__print_turned_block(tc__printer *p, const tc__contract *q,
                                   const char *symbol) {
    tc__turned t = tc__turned_of(q);
    int groups = q->width / p->unit, step = TC__TURNED_LINE * t.words;
    const char *type = p->d->scalar[tc__operand_class(q)];
    tc__put(p->out,
            "static __attribute__((noinline)) void %s_block(const %s *const *row, const "
            "tc_u8 *w,\n        tc_i64 bytes, tc_i64 depth, %s *tile, tc_i64 step)",
            symbol, type, p->d->scalar[q->cls]);
    tc__block_open(p);
    for (int i = 0; i < q->rows; i++) {
        tc__line(p);
        tc__put(p->out, "const %s *row%d = row[%d];\n", type, i, i);
    }
    tc__turned_sums(p, &t, 0);
    tc__line(p);
    tc__put(p->out, "tc_i64 k = 0;\n");
    tc__line(p);
    tc__put(p->out, "for (; (k + %d) * %d <= bytes; k += %d)", step, t.k_bytes, step);
    tc__block_open(p);
    tc__line(p);
    tc__put(p->out, "tc_turned t;\n");
    tc__turned_ahead(p, &t);
    for (int group = 0; group < groups; group++) tc__turned_line(p, &t, group);
    tc__block_close(p);
    if (tc__turned_has_rest(&t) || q->dot.each > 1) {
        tc__line(p);
        tc__put(p->out, "if (k < depth)");
        tc__block_open(p);
        tc__line(p);
        tc__put(p->out, "tc_vi t[%d];\n", TC__TURNED_LINE);
        for (int group = 0; group < groups; group++) tc__turned_rest(p, &t, group);
        tc__block_close(p);
    } else {
        tc__line(p);
        tc__put(p->out, "(void)depth;\n");
    }
    tc__turned_sums(p, &t, 1);
    tc__block_close(p);
    tc__put(p->out, "\n");
}

// The tile of an item's columns.
static void tc__print_turned(tc__printer *p, const tc__contract *q, const char *symbol) {
    tc__turned t = tc__turned_of(q);
    tc__ixpool *x = p->g->body.ix;
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
    tc__put(p->out, "%s_block(x, (const tc_u8 *)(", symbol);
    tc__put_at(p, t.load->attr[TC__LOAD_BUFFER],
               tc__without_depth(x, t.load->attr[TC__LOAD_INDEX]));
    tc__put(p->out, "), ");
    tc__put_ix(p, tc__ix_mul(x, tc__depth_of(p->g),
                             tc__ix_const(tc__dtypes[t.load->dtype].bytes)));
    tc__put(p->out, ", depth, tile + (c - c0), wide);\n");
    tc__block_close(p);
}
