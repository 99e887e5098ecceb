// Arithmetic of index expressions (ix_pool.c): sums, products, quotients, each in normal form.
//
// Quotients and remainders have a normal form, too, for divisors that are sizes of run time as for numbers:
// what divides is taken out, a quotient of a quotient is one, and parts of a number that meet in a sum are joined
// (tc__ix_recombine). So the index of an element is the same whichever way its dimensions were split and merged.
// The divisors that are multiplied for that are sizes of one space, whose product is a size as well.
//
// What an operation gave is remembered by its operands: kernels of a model ask for the same
// ones over and over.

// ---- sums ----

static int tc__ix_term_order(const tc__ixterm *x, const tc__ixterm *y) {
    return memcmp(x->atom, y->atom, sizeof x->atom);
}

static void tc__ix_sum_term(tc__ixsum *s, const tc__ixterm *t, int64_t scale) {
    int i = 0;
    while (i < s->count && tc__ix_term_order(&s->term[i], t) < 0) i++;
    if (i < s->count && !tc__ix_term_order(&s->term[i], t)) {
        s->term[i].coef += t->coef * scale;
        if (s->term[i].coef) return;
        memmove(&s->term[i], &s->term[i + 1], (size_t)(--s->count - i) * sizeof *t);
        return;
    }
    if (s->count == TC__IX_TERMS) {
        s->overflow = 1;
        return;
    }
    memmove(&s->term[i + 1], &s->term[i], (size_t)(s->count++ - i) * sizeof *t);
    s->term[i] = *t;
    s->term[i].coef *= scale;
}

static void tc__ix_sum_add(const tc__ixpool *p, tc__ixsum *s, tc__ix e, int64_t scale) {
    if (!scale) return;
    if (tc__ix_is_const(e)) {
        s->base += tc__ix_value(e) * scale;
        return;
    }
    const tc__ixnode *n = tc__ix_node(p, e);
    if (n->kind != TC__IX_POLY) {
        tc__ixterm t;
        memset(&t, 0, sizeof t);
        t.coef = 1, t.atom[0] = e;
        tc__ix_sum_term(s, &t, scale);
        return;
    }
    s->base += n->base * scale;
    for (uint32_t i = 0; i < n->count; i++)
        tc__ix_sum_term(s, &p->term.at[n->first + i], scale);
}

static void tc__ix_term_bounds(const tc__ixpool *p, const tc__ixterm *t, int64_t *lo,
                               int64_t *hi) {
    int64_t l = 1, h = 1;
    for (int i = 0; i < TC__IX_ATOMS && t->atom[i]; i++) {
        int64_t x = tc__ix_lo(p, t->atom[i]), y = tc__ix_hi(p, t->atom[i]);
        int64_t q[4];
        q[0] = tc__ix_times(l, x), q[1] = tc__ix_times(l, y);
        q[2] = tc__ix_times(h, x), q[3] = tc__ix_times(h, y);
        l = h = q[0];
        for (int k = 1; k < 4; k++) l = q[k] < l ? q[k] : l, h = q[k] > h ? q[k] : h;
    }
    l = tc__ix_times(l, t->coef), h = tc__ix_times(h, t->coef);
    *lo = l < h ? l : h;
    *hi = l < h ? h : l;
}

static tc__ix tc__ix_mod(tc__ixpool *p, tc__ix a, tc__ix d);
static int tc__ix_merge_atoms(tc__ixterm *out, const tc__ixterm *x, const tc__ixterm *y);
static int tc__ix_multiply(tc__ixpool *p, tc__ix a, tc__ix b, tc__ix *product);

static void tc__ix_sum_open(tc__ixsum *s) { s->base = 0, s->count = 0, s->overflow = 0; }

// s + x * scale
static void tc__ix_sum_join(tc__ixsum *s, const tc__ixsum *x, int64_t scale) {
    s->base += x->base * scale;
    for (int i = 0; i < x->count; i++) tc__ix_sum_term(s, &x->term[i], scale);
}

// s + k * e; 0 = a product has too many atoms
static int tc__ix_sum_times(const tc__ixpool *p, tc__ixsum *s, const tc__ixterm *k,
                            tc__ix e) {
    tc__ixsum x;
    tc__ixterm t;
    tc__ix_sum_open(&x);
    tc__ix_sum_add(p, &x, e, 1);
    if (!k->atom[0]) s->base += k->coef * x.base;
    if (k->atom[0] && x.base) tc__ix_sum_term(s, k, x.base);
    for (int i = 0; i < x.count; i++) {
        if (!tc__ix_merge_atoms(&t, k, &x.term[i])) return 0;
        tc__ix_sum_term(s, &t, 1);
    }
    return !s->overflow;
}

// Whether every term of x is one of s: as often, or (some) at least as often.
static int tc__ix_sum_has(const tc__ixsum *s, const tc__ixsum *x, int some) {
    for (int i = 0, k = 0; i < x->count; i++) {
        while (k < s->count && tc__ix_term_order(&s->term[k], &x->term[i]) < 0) k++;
        if (k == s->count || tc__ix_term_order(&s->term[k], &x->term[i])) return 0;
        int64_t have = s->term[k].coef, want = x->term[i].coef;
        if (have != want && !(some && (want > 0 ? have > want : have < want))) return 0;
    }
    return 1;
}

// t without its atom at `at`.
static tc__ixterm tc__ix_without(const tc__ixterm *t, int at) {
    tc__ixterm k = *t;
    memmove(&k.atom[at], &k.atom[at + 1], (size_t)(TC__IX_ATOMS - 1 - at) * sizeof *k.atom);
    k.atom[TC__IX_ATOMS - 1] = 0;
    return k;
}

// Whether atom e is x / d, which of a quotient y / m is y / (m d).
static int tc__ix_is_quotient(tc__ixpool *p, tc__ix e, tc__ix x, tc__ix d) {
    if (tc__ix_is_const(e) || tc__ix_node(p, e)->kind != TC__IX_DIV) return 0;
    tc__ixnode q = *tc__ix_node(p, e);
    if (q.a == x && q.b == d) return 1;
    if (tc__ix_is_const(x) || tc__ix_node(p, x)->kind != TC__IX_DIV) return 0;
    tc__ixnode n = *tc__ix_node(p, x);
    tc__ix by;
    return n.a == q.a && tc__ix_multiply(p, n.b, d, &by) && by == q.b;
}

// What x % d and atom e are parts of, times k and k * d: d * (x / d) + x % d = x, and
// d * ((x / d) % b) + x % d = x % (d b). 0 = of nothing.
static int tc__ix_whole(tc__ixpool *p, tc__ix e, const tc__ixnode *mod, tc__ix *whole) {
    tc__ix by;
    if (tc__ix_is_quotient(p, e, mod->a, mod->b)) return *whole = mod->a, 1;
    tc__ixnode n = *tc__ix_node(p, e);
    if (n.kind != TC__IX_MOD || !tc__ix_is_quotient(p, n.a, mod->a, mod->b) ||
        !tc__ix_multiply(p, mod->b, n.b, &by))
        return 0;
    return *whole = tc__ix_mod(p, mod->a, by), 1;
}

// Joins atom `at` of term i, x % d, with what has atom e, if that are two parts of one number. 0 = they are not.
static int tc__ix_recombine_atoms(tc__ixpool *p, tc__ixsum *s, int i, int at, tc__ix e) {
    tc__ixterm rest = s->term[i], k = tc__ix_without(&rest, at), high, one;
    tc__ixnode mod = *tc__ix_node(p, rest.atom[at]);
    tc__ixsum part, all;
    tc__ix whole;
    if (!tc__ix_whole(p, e, &mod, &whole)) return 0;
    memset(&one, 0, sizeof one);
    one.coef = 1, one.atom[0] = e;
    tc__ix_sum_open(&part), tc__ix_sum_open(&all);
    if (!tc__ix_merge_atoms(&high, &k, &one) || !tc__ix_sum_times(p, &part, &high, mod.b) ||
        !tc__ix_sum_has(s, &part, 0) || !tc__ix_sum_times(p, &all, &k, whole))
        return 0;
    tc__ix_sum_join(s, &part, -1);
    tc__ix_sum_term(s, &rest, -1);
    tc__ix_sum_join(s, &all, 1);
    return 1;
}

// Whether an atom of kind DIV or MOD may be the higher part beside x % d.
static int tc__ix_may_join(const tc__ixpool *p, tc__ix e) {
    const tc__ixnode *n = tc__ix_node(p, e);
    if (n->kind == TC__IX_MOD && !tc__ix_is_const(n->a)) n = tc__ix_node(p, n->a);
    return n->kind == TC__IX_DIV;
}

// Joins two parts of one number in a sum; 0 = there are none.
static int tc__ix_recombine(tc__ixpool *p, tc__ixsum *s) {
    for (int i = 0; i < s->count; i++)
        for (int k = 0; k < TC__IX_ATOMS && s->term[i].atom[k]; k++) {
            if (tc__ix_node(p, s->term[i].atom[k])->kind != TC__IX_MOD) continue;
            for (int j = 0; j < s->count; j++)
                for (int l = 0; j != i && l < TC__IX_ATOMS && s->term[j].atom[l]; l++)
                    if (tc__ix_may_join(p, s->term[j].atom[l]) &&
                        tc__ix_recombine_atoms(p, s, i, k, s->term[j].atom[l]))
                        return 1;
        }
    return 0;
}

static tc__ix tc__ix_sum_end(tc__ixpool *p, tc__ixsum *s) {
    while (tc__ix_recombine(p, s)) {
    }
    if (s->overflow) p->failed = 1;
    if (!s->count) return tc__ix_const(s->base);
    if (s->count == 1 && !s->base && s->term[0].coef == 1 && !s->term[0].atom[1])
        return s->term[0].atom[0];
    tc__ixnode n;
    memset(&n, 0, sizeof n);
    n.kind = TC__IX_POLY, n.base = s->base, n.count = (uint32_t)s->count;
    n.lo = n.hi = s->base;
    for (int i = 0; i < s->count; i++) {
        int64_t lo, hi;
        tc__ix_term_bounds(p, &s->term[i], &lo, &hi);
        n.lo = tc__ix_clamp(n.lo + lo), n.hi = tc__ix_clamp(n.hi + hi);
    }
    return tc__ix_intern(p, n, s->term);
}

static tc__ix tc__ix_mad(tc__ixpool *p, tc__ix a, tc__ix b, int64_t scale) {
    tc__ixsum s;
    tc__ix_sum_open(&s);
    tc__ix_sum_add(p, &s, a, 1);
    tc__ix_sum_add(p, &s, b, scale);
    return tc__ix_sum_end(p, &s);
}

// a op b as the pool remembers it, else made.
static tc__ix tc__ix_of(tc__ixpool *p, tc__ixop op, tc__ix a, tc__ix b);

static tc__ix tc__ix_add(tc__ixpool *p, tc__ix a, tc__ix b) {
    if (tc__ix_is_const(a) && tc__ix_is_const(b)) return a + b;
    if (tc__ix_equals(a, 0)) return b;
    return tc__ix_equals(b, 0) ? a : tc__ix_of(p, TC__IX_ADD, a, b);
}

static tc__ix tc__ix_sub(tc__ixpool *p, tc__ix a, tc__ix b) {
    if (tc__ix_is_const(a) && tc__ix_is_const(b)) return a - b;
    return tc__ix_equals(b, 0) ? a : tc__ix_of(p, TC__IX_SUB, a, b);
}

// ---- products ----

static int tc__ix_merge_atoms(tc__ixterm *out, const tc__ixterm *x, const tc__ixterm *y) {
    int i = 0, j = 0;
    memset(out, 0, sizeof *out);
    out->coef = x->coef * y->coef;
    for (int k = 0; k < 2 * TC__IX_ATOMS; k++) {
        tc__ix u = i < TC__IX_ATOMS ? x->atom[i] : 0, v = j < TC__IX_ATOMS ? y->atom[j] : 0;
        if (!u && !v) return 1;
        if (k >= TC__IX_ATOMS) return 0;
        int left = u && (!v || u <= v);
        out->atom[k] = left ? u : v;
        i += left, j += !left;
    }
    return 1;
}

static tc__ix tc__ix_mul(tc__ixpool *p, tc__ix a, tc__ix b) {
    if (tc__ix_is_const(a) && tc__ix_is_const(b))
        return tc__ix_const(tc__ix_value(a) * tc__ix_value(b));
    if (tc__ix_equals(a, 1)) return b;
    return tc__ix_equals(b, 1) ? a : tc__ix_of(p, TC__IX_MUL, a, b);
}

static tc__ix tc__ix_product(tc__ixpool *p, tc__ix a, tc__ix b) {
    tc__ixsum x, s;
    tc__ixterm one;
    if (tc__ix_is_const(a)) return tc__ix_mad(p, tc__ix_const(0), b, tc__ix_value(a));
    if (tc__ix_is_const(b)) return tc__ix_mad(p, tc__ix_const(0), a, tc__ix_value(b));
    tc__ix_sum_open(&x), tc__ix_sum_open(&s);
    tc__ix_sum_add(p, &x, a, 1);
    memset(&one, 0, sizeof one);
    one.coef = x.base;
    if (x.base && !tc__ix_sum_times(p, &s, &one, b)) p->failed = 1;
    for (int i = 0; i < x.count; i++)
        if (!tc__ix_sum_times(p, &s, &x.term[i], b)) p->failed = 1;
    return tc__ix_sum_end(p, &s);
}

// Terms of e, and atoms of the longest one.
static void tc__ix_measure(const tc__ixpool *p, tc__ix e, int *terms, int *atoms) {
    *terms = 1, *atoms = !tc__ix_is_const(e);
    if (tc__ix_is_const(e) || tc__ix_node(p, e)->kind != TC__IX_POLY) return;
    const tc__ixnode *n = tc__ix_node(p, e);
    *terms = (int)n->count + 1;
    for (uint32_t i = 0; i < n->count; i++)
        for (int k = *atoms; k < TC__IX_ATOMS && p->term.at[n->first + i].atom[k]; k++)
            *atoms = k + 1;
}

// a * b, where that is not too large to be written; else 0, and nothing has failed.
static int tc__ix_try_mul(tc__ixpool *p, tc__ix a, tc__ix b, tc__ix *product) {
    int terms[2], atoms[2];
    tc__ix_measure(p, a, &terms[0], &atoms[0]), tc__ix_measure(p, b, &terms[1], &atoms[1]);
    if (atoms[0] + atoms[1] > TC__IX_ATOMS || terms[0] * terms[1] > TC__IX_TERMS) return 0;
    return *product = tc__ix_mul(p, a, b), 1;
}

// Whether the numbers in e are small enough to be multiplied.
static int tc__ix_is_factor(const tc__ixpool *p, tc__ix e) {
    int64_t most = tc__ix_is_const(e) ? tc__ix_value(e) : 1;
    const tc__ixnode *n = tc__ix_is_const(e) ? NULL : tc__ix_node(p, e);
    if (n && n->kind == TC__IX_POLY) most = n->base;
    if (most > TC__IX_FACTOR || most < -TC__IX_FACTOR) return 0;
    for (uint32_t i = 0; n && i < n->count; i++) {
        most = p->term.at[n->first + i].coef;
        if (most > TC__IX_FACTOR || most < -TC__IX_FACTOR) return 0;
    }
    return 1;
}

// a * b of divisors.
static int tc__ix_multiply(tc__ixpool *p, tc__ix a, tc__ix b, tc__ix *product) {
    return tc__ix_is_factor(p, a) && tc__ix_is_factor(p, b) &&
           tc__ix_try_mul(p, a, b, product);
}

// ---- quotients ----

static tc__ix tc__ix_div(tc__ixpool *p, tc__ix a, tc__ix d);

// Whether d is one of t's factors: t = d * q.
static int tc__ix_term_divides(const tc__ixterm *t, const tc__ixterm *d, tc__ixterm *q) {
    int k = 0;
    *q = *t;
    if (t->coef % d->coef) return 0;
    q->coef = t->coef / d->coef;
    for (int i = 0; i < TC__IX_ATOMS && d->atom[i]; i++) {
        while (k < TC__IX_ATOMS && q->atom[k] && q->atom[k] < d->atom[i]) k++;
        if (k == TC__IX_ATOMS || q->atom[k] != d->atom[i]) return 0;
        *q = tc__ix_without(q, k);
    }
    return 1;
}

static int tc__ix_max_expr(tc__ixpool *p, tc__ix e, tc__ix *out);
static tc__ix tc__ix_exact(tc__ixpool *p, tc__ix m, tc__ix d);

// Largest value of an atom as an expression: each variable at its extent - 1. 0 = cannot tell.
static int tc__ix_max_atom(tc__ixpool *p, tc__ix atom, tc__ix *out) {
    tc__ixnode n = *tc__ix_node(p, atom);
    *out = atom;
    if (n.lo < 0) return 0;
    if (n.kind == TC__IX_VAR || n.kind == TC__IX_MOD)
        *out = tc__ix_sub(p, n.b, tc__ix_const(1));
    if (n.kind != TC__IX_DIV) return 1;
    tc__ix one = tc__ix_const(1), top, all;
    if (!tc__ix_max_expr(p, n.a, &top)) return 0;
    all = tc__ix_exact(p, tc__ix_add(p, top, one), n.b);
    *out = all ? tc__ix_sub(p, all, one) : tc__ix_div(p, top, n.b);
    return 1;
}

// The same of a sum.
static int tc__ix_max_expr(tc__ixpool *p, tc__ix e, tc__ix *out) {
    tc__ix sum = tc__ix_const(0);
    tc__ixsum s;
    tc__ix_sum_open(&s);
    tc__ix_sum_add(p, &s, e, 1);
    for (int i = 0; i < s.count; i++) {
        if (s.term[i].coef < 0) return 0;
        tc__ix prod = tc__ix_const(s.term[i].coef), top;
        for (int k = 0; k < TC__IX_ATOMS && s.term[i].atom[k]; k++) {
            if (!tc__ix_max_atom(p, s.term[i].atom[k], &top) ||
                !tc__ix_try_mul(p, prod, top, &prod))
                return 0;
        }
        sum = tc__ix_add(p, sum, prod);
    }
    *out = tc__ix_add(p, sum, tc__ix_const(s.base));
    return 1;
}

// Whether bounds as numbers say less than an expression: of run-time rows of a fixed number of blocks, r / s0.
static int tc__ix_has_blocks(const tc__ixpool *p, tc__ix e) {
    if (tc__ix_is_const(e)) return 0;
    const tc__ixnode *n = tc__ix_node(p, e);
    return n->kind == TC__IX_DIV && !tc__ix_is_const(n->b);
}

// 0 <= e < d for every value of the variables.
static int tc__ix_within(tc__ixpool *p, tc__ix e, tc__ix d) {
    if (tc__ix_lo(p, e) < 0) return 0;
    if (tc__ix_hi(p, e) < tc__ix_lo(p, d)) return 1;
    tc__ix top;
    if (tc__ix_is_const(d) && !tc__ix_has_blocks(p, e)) return 0;
    if (!tc__ix_max_expr(p, e, &top)) return 0;
    return tc__ix_lo(p, tc__ix_sub(p, d, top)) >= 1;
}

// Whether e is known to be no place in a dimension of size d.
static int tc__ix_beyond(tc__ixpool *p, tc__ix e, tc__ix d) {
    tc__ix top;
    if (tc__ix_hi(p, e) < 0 || tc__ix_lo(p, tc__ix_sub(p, e, d)) >= 0) return 1;
    return tc__ix_max_expr(p, e, &top) && tc__ix_hi(p, top) < 0;
}

static tc__ix tc__ix_quotient_atom(tc__ixpool *p, tc__ix_kind kind, tc__ix a, tc__ix d) {
    tc__ixnode n;
    memset(&n, 0, sizeof n);
    n.kind = kind, n.a = a, n.b = d;
    int64_t lo = tc__ix_lo(p, a), hi = tc__ix_hi(p, a), dl = tc__ix_lo(p, d);
    if (dl < 1) dl = 1;
    if (kind == TC__IX_DIV) {
        n.lo = lo >= 0 ? lo / (tc__ix_hi(p, d) > 0 ? tc__ix_hi(p, d) : 1)
                       : tc__ix_floor_div(lo, dl);
        n.hi = tc__ix_floor_div(hi,
                                hi >= 0 ? dl : (tc__ix_hi(p, d) > 0 ? tc__ix_hi(p, d) : 1));
    } else {
        n.lo = 0;
        n.hi = tc__ix_hi(p, d) - 1;
        if (lo >= 0 && hi < n.hi) n.hi = hi;
    }
    return tc__ix_intern(p, n, NULL);
}

// Moves what is a multiple of number d from s to q.
static void tc__ix_split_number(tc__ixsum *s, int64_t d, tc__ixsum *q) {
    int kept = 0;
    for (int i = 0; i < s->count; i++) {
        tc__ixterm t = s->term[i];
        int exact = t.coef % d == 0;
        if (!exact) s->term[kept++] = t;
        t.coef /= d;
        if (exact) tc__ix_sum_term(q, &t, 1);
    }
    s->count = kept;
    q->base = tc__ix_floor_div(s->base, d);
    s->base -= q->base * d;
}

// The term of a polynomial with the most atoms.
static const tc__ixterm *tc__ix_lead(const tc__ixsum *s) {
    const tc__ixterm *lead = &s->term[0];
    for (int i = 1, k = 0; i < s->count; i++) {
        while (k < TC__IX_ATOMS && lead->atom[k]) k++;
        if (k < TC__IX_ATOMS && s->term[i].atom[k]) lead = &s->term[i];
    }
    return lead;
}

// Moves a term of the quotient by d, whose longest term is `lead`, from s to q. 0 = there is none.
static int tc__ix_split_term(const tc__ixpool *p, tc__ixsum *s, tc__ix d,
                             const tc__ixterm *lead, tc__ixsum *q) {
    for (int i = 0; i < s->count; i++) {
        tc__ixterm t;
        tc__ixsum part;
        tc__ix_sum_open(&part);
        if (!tc__ix_term_divides(&s->term[i], lead, &t) ||
            !tc__ix_sum_times(p, &part, &t, d) || !tc__ix_sum_has(s, &part, 1) ||
            (part.base && s->base < part.base))
            continue;
        tc__ix_sum_join(s, &part, -1);
        if (!t.atom[0]) q->base += t.coef;
        if (t.atom[0]) tc__ix_sum_term(q, &t, 1);
        return 1;
    }
    return 0;
}

// a = quotient * d + rest, where every term of the quotient is exact.
static void tc__ix_split(tc__ixpool *p, tc__ix a, tc__ix d, tc__ix *quotient,
                         tc__ix *rest) {
    tc__ixsum s, q;
    tc__ix_sum_open(&s), tc__ix_sum_open(&q);
    tc__ix_sum_add(p, &s, a, 1);
    if (tc__ix_is_const(d)) {
        tc__ix_split_number(&s, tc__ix_value(d), &q);
    } else {
        tc__ixsum by;
        tc__ix_sum_open(&by);
        tc__ix_sum_add(p, &by, d, 1);
        while (tc__ix_split_term(p, &s, d, tc__ix_lead(&by), &q)) {
        }
    }
    *quotient = tc__ix_sum_end(p, &q);
    *rest = tc__ix_sum_end(p, &s);
}

// m / d where d divides m; 0 = it does not, or they are no divisors.
static tc__ix tc__ix_exact(tc__ixpool *p, tc__ix m, tc__ix d) {
    tc__ix q, rest;
    if (tc__ix_lo(p, m) < 0 || (tc__ix_is_const(d) && tc__ix_value(d) < 1)) return 0;
    tc__ix_split(p, m, d, &q, &rest);
    return tc__ix_equals(rest, 0) ? q : 0;
}

// What the operands of atom e of this kind are; 0 = it is another.
static int tc__ix_is_kind(const tc__ixpool *p, tc__ix e, tc__ix_kind kind, tc__ix *x,
                          tc__ix *m) {
    if (tc__ix_is_const(e) || tc__ix_node(p, e)->kind != kind) return 0;
    return *x = tc__ix_node(p, e)->a, *m = tc__ix_node(p, e)->b, 1;
}

// (x / m) / d = x / (m d)
// (x % m) / d = (x / d) % (m / d)   where d divides m
static tc__ix tc__ix_div_atom(tc__ixpool *p, tc__ix a, tc__ix d) {
    tc__ix x, m, by;
    if (tc__ix_is_kind(p, a, TC__IX_DIV, &x, &m) && tc__ix_multiply(p, m, d, &by))
        return tc__ix_div(p, x, by);
    if (tc__ix_is_kind(p, a, TC__IX_MOD, &x, &m) && (by = tc__ix_exact(p, m, d)) != 0)
        return tc__ix_mod(p, tc__ix_div(p, x, d), by);
    return tc__ix_quotient_atom(p, TC__IX_DIV, a, d);
}

// (x % m) % d = x % d   where d divides m
static tc__ix tc__ix_mod_atom(tc__ixpool *p, tc__ix a, tc__ix d) {
    tc__ix x, m;
    if (tc__ix_is_kind(p, a, TC__IX_MOD, &x, &m) && tc__ix_exact(p, m, d))
        return tc__ix_mod(p, x, d);
    return tc__ix_quotient_atom(p, TC__IX_MOD, a, d);
}

static tc__ix tc__ix_div(tc__ixpool *p, tc__ix a, tc__ix d) {
    if (tc__ix_equals(d, 1)) return a;
    if (tc__ix_equals(d, 0)) return tc__ix_const(0); // an empty dimension: never evaluated
    if (tc__ix_is_const(a) && tc__ix_is_const(d))
        return tc__ix_const(tc__ix_floor_div(tc__ix_value(a), tc__ix_value(d)));
    return tc__ix_of(p, TC__IX_QUOTIENT, a, d);
}

static tc__ix tc__ix_mod(tc__ixpool *p, tc__ix a, tc__ix d) {
    if (tc__ix_equals(d, 1) || tc__ix_equals(d, 0)) return tc__ix_const(0);
    return tc__ix_of(p, TC__IX_REST, a, d);
}

// What atom v of a sum is multiplied with.
static tc__ix tc__ix_stride(tc__ixpool *p, const tc__ixsum *s, tc__ix v) {
    tc__ixsum by;
    tc__ix_sum_open(&by);
    for (int i = 0; i < s->count; i++) {
        tc__ixterm t = s->term[i];
        int at = 0;
        while (at < TC__IX_ATOMS && t.atom[at] != v) at++;
        if (at == TC__IX_ATOMS) continue;
        t = tc__ix_without(&t, at);
        if (t.atom[0]) tc__ix_sum_term(&by, &t, 1);
        if (!t.atom[0]) by.base += t.coef;
    }
    return tc__ix_sum_end(p, &by);
}

// A divisor g h, and what is divided by it: g x + b.
typedef struct tc__ixcommon {
    tc__ix g, h, x, b;
} tc__ixcommon;

// Whether a = g x + b with 0 <= b < g, where d = g h. g is what a variable in a is multiplied with, as in s0 r + c:
// rows of s0 columns, which planes of s0 s1 are made of.
static int tc__ix_common(tc__ixpool *p, tc__ix a, tc__ix d, tc__ixcommon *c) {
    tc__ixsum s;
    if (tc__ix_is_const(a) || tc__ix_node(p, a)->kind != TC__IX_POLY) return 0;
    tc__ix_sum_open(&s);
    tc__ix_sum_add(p, &s, a, 1);
    for (int i = 0; i < s.count; i++)
        for (int k = 0; k < TC__IX_ATOMS && s.term[i].atom[k]; k++) {
            if (!tc__ix_names_of(p, s.term[i].atom[k])) continue;
            c->g = tc__ix_stride(p, &s, s.term[i].atom[k]);
            if (tc__ix_lo(p, c->g) < 0 || tc__ix_equals(c->g, 1)) continue;
            c->h = tc__ix_exact(p, d, c->g);
            if (!c->h) continue;
            tc__ix_split(p, a, c->g, &c->x, &c->b);
            if (tc__ix_within(p, c->b, c->g)) return 1;
        }
    return 0;
}

// (g x + b) / (g h) = x / h   where 0 <= b < g
static tc__ix tc__ix_quotient(tc__ixpool *p, tc__ix a, tc__ix d) {
    tc__ix q, r;
    tc__ixcommon c;
    tc__ix_split(p, a, d, &q, &r);
    if (tc__ix_within(p, r, d)) return q;
    if (tc__ix_common(p, r, d, &c)) return tc__ix_add(p, q, tc__ix_div(p, c.x, c.h));
    return tc__ix_add(p, q, tc__ix_div_atom(p, r, d));
}

// (g x + b) % (g h) = g (x % h) + b   where 0 <= b < g
static tc__ix tc__ix_rest(tc__ixpool *p, tc__ix a, tc__ix d) {
    tc__ix q, r;
    tc__ixcommon c;
    tc__ix_split(p, a, d, &q, &r);
    if (tc__ix_within(p, r, d)) return r;
    if (tc__ix_common(p, r, d, &c))
        return tc__ix_add(p, tc__ix_mul(p, c.g, tc__ix_mod(p, c.x, c.h)), c.b);
    return tc__ix_mod_atom(p, r, d);
}

static tc__ix tc__ix_make(tc__ixpool *p, tc__ixop op, tc__ix a, tc__ix b) {
    switch (op) {
    case TC__IX_ADD: return tc__ix_mad(p, a, b, 1);
    case TC__IX_SUB: return tc__ix_mad(p, a, b, -1);
    case TC__IX_MUL: return tc__ix_product(p, a, b);
    case TC__IX_QUOTIENT: return tc__ix_quotient(p, a, b);
    case TC__IX_REST: return tc__ix_rest(p, a, b);
    case TC__IX_NO_OP: break;
    }
    return 0;
}

static tc__ix tc__ix_of(tc__ixpool *p, tc__ixop op, tc__ix a, tc__ix b) {
    uint64_t h = tc__hash_mix(tc__hash_mix((uint64_t)op, (uint64_t)a), (uint64_t)b);
    if (!p->made) p->made = TC__NEW_ARRAY(p->ctx, tc__ixmade, TC__IX_MADE);
    if (!p->made) return tc__ix_make(p, op, a, b);
    tc__ixmade *m = &p->made[h % TC__IX_MADE];
    if (m->op == op && m->a == a && m->b == b) return m->result;
    tc__ix e = tc__ix_make(p, op, a, b);
    m->op = op, m->a = a, m->b = b, m->result = e;
    return e;
}

static tc__ix tc__ix_min(tc__ixpool *p, tc__ix a, tc__ix b) {
    if (tc__ix_hi(p, a) <= tc__ix_lo(p, b)) return a;
    if (tc__ix_hi(p, b) <= tc__ix_lo(p, a)) return b;
    tc__ixnode n;
    memset(&n, 0, sizeof n);
    n.kind = TC__IX_MIN, n.a = a < b ? a : b, n.b = a < b ? b : a;
    n.lo = tc__ix_lo(p, a) < tc__ix_lo(p, b) ? tc__ix_lo(p, a) : tc__ix_lo(p, b);
    n.hi = tc__ix_hi(p, a) < tc__ix_hi(p, b) ? tc__ix_hi(p, a) : tc__ix_hi(p, b);
    return tc__ix_intern(p, n, NULL);
}

// ceil(a / d)
static tc__ix tc__ix_ceil_div(tc__ixpool *p, tc__ix a, tc__ix d) {
    return tc__ix_div(p, tc__ix_sub(p, tc__ix_add(p, a, d), tc__ix_const(1)), d);
}

// Whether all its values are i32.
static int tc__ix_is_i32(tc__ixpool *x, tc__ix e) {
    return tc__ix_lo(x, e) >= INT32_MIN && tc__ix_hi(x, e) <= INT32_MAX;
}
