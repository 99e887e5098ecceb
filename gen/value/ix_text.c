// Text of index expressions: 768*r + c, (r/196)%32, min(s0, 8). Sums and products are put in an order of their
// own, which does not depend on when an expression was made.

static void tc__dump_ix(tc__text *t, const tc__ixpool *p, tc__ix e);

// What stands around an expression decides whether it needs brackets.
typedef enum tc__around {
    TC__AROUND_SUM,
    TC__AROUND_PRODUCT,
    TC__AROUND_QUOTIENT
} tc__around;

static void tc__dump_ix_in(tc__text *t, const tc__ixpool *p, tc__ix e, tc__around around) {
    int poly = !tc__ix_is_const(e) && tc__ix_node(p, e)->kind == TC__IX_POLY;
    int quotient = !tc__ix_is_const(e) && (tc__ix_node(p, e)->kind == TC__IX_DIV ||
                                           tc__ix_node(p, e)->kind == TC__IX_MOD);
    int negative = tc__ix_is_const(e) && tc__ix_value(e) < 0;
    int bare = around == TC__AROUND_SUM || !(poly || quotient || negative);
    if (!bare) tc__put(t, "(");
    tc__dump_ix(t, p, e);
    if (!bare) tc__put(t, ")");
}

// A term of a sum, a factor of a product or an operand of min, as text to be put in order.
typedef struct tc__dump_piece {
    int64_t coef;
    const char *at; // filled when all pieces are there
    size_t first, size;
} tc__dump_piece;

static int tc__dump_before(const tc__dump_piece *x, const tc__dump_piece *y) {
    uint64_t a = x->coef < 0 ? 0 - (uint64_t)x->coef : (uint64_t)x->coef;
    uint64_t b = y->coef < 0 ? 0 - (uint64_t)y->coef : (uint64_t)y->coef;
    if (a != b) return a > b;
    if (x->coef != y->coef) return x->coef > y->coef;
    if (x->size != y->size) return x->size > y->size;
    return memcmp(x->at, y->at, x->size) < 0;
}

static void tc__dump_sort(const tc__text *from, tc__dump_piece *x, int n) {
    for (int i = 0; i < n; i++) {
        tc__dump_piece v = x[i];
        int k = i;
        v.at = from->at + v.first;
        for (; k > 0 && tc__dump_before(&v, &x[k - 1]); k--) x[k] = x[k - 1];
        x[k] = v;
    }
}

static void tc__dump_joined(tc__text *t, const tc__ixpool *p, const tc__ix *e, int n,
                            const char *joint, tc__around around) {
    tc__dump_piece piece[TC__IX_ATOMS];
    tc__text parts;
    tc__text_init(&parts, t->ctx);
    for (int i = 0; i < n; i++) {
        piece[i].coef = 1, piece[i].first = parts.size;
        tc__dump_ix_in(&parts, p, e[i], around);
        piece[i].size = parts.size - piece[i].first;
    }
    if (!parts.failed) {
        tc__dump_sort(&parts, piece, n);
        for (int i = 0; i < n; i++) {
            if (i) tc__put(t, "%s", joint);
            tc__put_raw(t, piece[i].at, piece[i].size);
        }
    }
    tc__text_free(&parts);
}

static int tc__dump_atoms(const tc__ixterm *m) {
    int n = 0;
    while (n < TC__IX_ATOMS && m->atom[n]) n++;
    return n;
}

static void tc__dump_term(tc__text *t, const tc__dump_piece *x, int first) {
    uint64_t coef = x->coef < 0 ? 0 - (uint64_t)x->coef : (uint64_t)x->coef;
    if (first && x->coef < 0) tc__put(t, "-");
    if (!first) tc__put(t, x->coef < 0 ? " - " : " + ");
    if (coef != 1) tc__put(t, "%llu*", (unsigned long long)coef);
    tc__put_raw(t, x->at, x->size);
}

static void tc__dump_sum(tc__text *t, const tc__ixpool *p, const tc__ixnode *n) {
    tc__dump_piece piece[TC__IX_TERMS];
    tc__text parts;
    int count = (int)n->count;
    tc__text_init(&parts, t->ctx);
    for (int i = 0; i < count; i++) {
        const tc__ixterm *m = &p->term.at[n->first + (uint32_t)i];
        int atoms = tc__dump_atoms(m),
            alone = atoms == 1 && (m->coef == 1 || m->coef == -1);
        piece[i].coef = m->coef, piece[i].first = parts.size;
        tc__dump_joined(&parts, p, m->atom, atoms, "*",
                        alone ? TC__AROUND_SUM : TC__AROUND_PRODUCT);
        piece[i].size = parts.size - piece[i].first;
    }
    if (!parts.failed) {
        tc__dump_sort(&parts, piece, count);
        for (int i = 0; i < count; i++) tc__dump_term(t, &piece[i], i == 0);
        if (n->base)
            tc__put(t, n->base < 0 ? " - %llu" : " + %llu",
                    (unsigned long long)(n->base < 0 ? 0 - (uint64_t)n->base
                                                     : (uint64_t)n->base));
    }
    tc__text_free(&parts);
}

// "r", NULL = a dimension's.
static const char *tc__axis_name(int64_t axis) {
    static const char *const axes[TC__AXES] = {"r", "c", "k"};
    static const char *const loops[TC__VAR_END - TC__VAR0] = {"j", "i", "y", "x", "u", "l",
                                                              "t", "p", "q", "m", "n", "z"};
    if (axis < (int64_t)TC__AXES) return axes[axis];
    return axis < (int64_t)TC__VAR0 ? NULL : loops[axis - (int64_t)TC__VAR0];
}

static void tc__dump_var(tc__text *t, int64_t axis) {
    const char *name = tc__axis_name(axis);
    if (name)
        tc__put(t, "%s", name);
    else
        tc__put(t, "d%lld", (long long)(axis - (int64_t)TC__DIM0));
}

static void tc__dump_ix(tc__text *t, const tc__ixpool *p, tc__ix e) {
    if (tc__ix_is_const(e)) {
        tc__put(t, "%lld", (long long)tc__ix_value(e));
        return;
    }
    const tc__ixnode *n = tc__ix_node(p, e);
    tc__ix in[2];
    in[0] = n->a, in[1] = n->b;
    switch (n->kind) {
    case TC__IX_SYM: tc__put(t, "s%lld", (long long)n->a); return;
    case TC__IX_VAR: tc__dump_var(t, n->a); return;
    case TC__IX_VAL: tc__put(t, "%%%lld", (long long)n->a); return;
    case TC__IX_DIV:
    case TC__IX_MOD:
        tc__dump_ix_in(t, p, n->a, TC__AROUND_QUOTIENT);
        tc__put(t, n->kind == TC__IX_DIV ? "/" : "%%");
        tc__dump_ix_in(t, p, n->b, TC__AROUND_QUOTIENT);
        return;
    case TC__IX_MIN:
        tc__put(t, "min(");
        tc__dump_joined(t, p, in, 2, ", ", TC__AROUND_SUM);
        tc__put(t, ")");
        return;
    case TC__IX_POLY: break;
    }
    tc__dump_sum(t, p, n);
}
