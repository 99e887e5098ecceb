// Walks over index expressions: their value, what they name, other expressions in place of atoms, and
// how they move along a loop. Input: expressions of a pool; what a walk makes is in normal form again.

typedef struct tc__ixenv {
    const int64_t *sym; // by slot
    int64_t var[TC__AXES];
    const int64_t *const *val; // by node id, may be NULL
    int64_t lane;              // which element of val
} tc__ixenv;

static int64_t tc__ix_eval(const tc__ixpool *p, tc__ix e, const tc__ixenv *v) {
    if (tc__ix_is_const(e)) return tc__ix_value(e);
    const tc__ixnode *n = tc__ix_node(p, e);
    switch (n->kind) {
    case TC__IX_SYM: return v->sym[n->a];
    case TC__IX_VAR: return v->var[n->a];
    case TC__IX_VAL: return v->val[n->a][v->lane];
    case TC__IX_DIV:
        return tc__ix_floor_div(tc__ix_eval(p, n->a, v), tc__ix_eval(p, n->b, v));
    case TC__IX_MOD: {
        int64_t d = tc__ix_eval(p, n->b, v), x = tc__ix_eval(p, n->a, v);
        return x - tc__ix_floor_div(x, d) * d;
    }
    case TC__IX_MIN: {
        int64_t x = tc__ix_eval(p, n->a, v), y = tc__ix_eval(p, n->b, v);
        return x < y ? x : y;
    }
    case TC__IX_POLY: break;
    }
    int64_t sum = n->base;
    for (uint32_t i = 0; i < n->count; i++) {
        const tc__ixterm *t = &p->term.at[n->first + i];
        int64_t x = t->coef;
        for (int k = 0; k < TC__IX_ATOMS && t->atom[k]; k++)
            x *= tc__ix_eval(p, t->atom[k], v);
        sum += x;
    }
    return sum;
}

// e with atom `from` replaced by `to`, simplified again.
static tc__ix tc__ix_subst(tc__ixpool *p, tc__ix e, tc__ix from, tc__ix to) {
    if (e == from) return to;
    if (tc__ix_is_const(e)) return e;
    tc__ixnode n = *tc__ix_node(p, e);
    tc__ix a, b, sum;
    switch (n.kind) {
    case TC__IX_SYM:
    case TC__IX_VAR:
    case TC__IX_VAL: return e;
    case TC__IX_DIV:
    case TC__IX_MOD:
    case TC__IX_MIN:
        a = tc__ix_subst(p, n.a, from, to), b = tc__ix_subst(p, n.b, from, to);
        if (n.kind == TC__IX_DIV) return tc__ix_div(p, a, b);
        if (n.kind == TC__IX_MOD) return tc__ix_mod(p, a, b);
        return tc__ix_min(p, a, b);
    case TC__IX_POLY: break;
    }
    sum = tc__ix_const(n.base);
    for (uint32_t i = 0; i < n.count; i++) {
        tc__ixterm t = p->term.at[n.first + i];
        tc__ix prod = tc__ix_const(t.coef);
        for (int k = 0; k < TC__IX_ATOMS && t.atom[k]; k++)
            prod = tc__ix_mul(p, prod, tc__ix_subst(p, t.atom[k], from, to));
        sum = tc__ix_add(p, sum, prod);
    }
    return sum;
}

// ---- symbols ----

typedef struct tc__ixsyms {
    uint32_t count;
    int lost; // 1 = there are more than `at` holds
    tc__ix at[16];
} tc__ixsyms;

static void tc__ix_find_syms(const tc__ixpool *p, tc__ix e, tc__ixsyms *out) {
    if (tc__ix_is_const(e)) return;
    const tc__ixnode *n = tc__ix_node(p, e);
    if (n->kind == TC__IX_VAR || n->kind == TC__IX_VAL) return;
    if (n->kind == TC__IX_SYM) {
        for (uint32_t i = 0; i < out->count; i++)
            if (out->at[i] == e) return;
        if (out->count == TC__COUNT(out->at))
            out->lost = 1;
        else
            out->at[out->count++] = e;
        return;
    }
    if (n->kind != TC__IX_POLY) {
        tc__ix_find_syms(p, n->a, out);
        tc__ix_find_syms(p, n->b, out);
        return;
    }
    for (uint32_t i = 0; i < n->count; i++)
        for (int k = 0; k < TC__IX_ATOMS && p->term.at[n->first + i].atom[k]; k++)
            tc__ix_find_syms(p, p->term.at[n->first + i].atom[k], out);
}

// The symbols of e, each once; `fresh` empties the list first.
static void tc__ix_syms(const tc__ixpool *p, tc__ix e, tc__ixsyms *out, int fresh) {
    if (fresh) out->count = 0, out->lost = 0;
    tc__ix_find_syms(p, e, out);
}

static int tc__ix_names(const tc__ixpool *p, tc__ix e, tc__ix sym) {
    tc__ixsyms s;
    tc__ix_syms(p, e, &s, 1);
    for (uint32_t i = 0; i < s.count; i++)
        if (s.at[i] == sym) return 1;
    return s.lost;
}

// a == b as sym = expr: a symbol that stands alone in one term. 0 = there is none.
static int tc__ix_solve(tc__ixpool *p, tc__ix a, tc__ix b, tc__ix *sym, tc__ix *expr) {
    tc__ix d = tc__ix_sub(p, a, b);
    if (tc__ix_is_const(d)) return 0;
    tc__ixnode n = *tc__ix_node(p, d);
    if (n.kind == TC__IX_SYM) {
        *sym = d, *expr = tc__ix_const(0);
        return 1;
    }
    if (n.kind != TC__IX_POLY) return 0;
    for (uint32_t i = 0; i < n.count; i++) {
        tc__ixterm t = p->term.at[n.first + i];
        if (t.atom[1] || tc__ix_node(p, t.atom[0])->kind != TC__IX_SYM) continue;
        tc__ix alone = tc__ix_mul(p, tc__ix_const(t.coef), t.atom[0]);
        tc__ix rest = tc__ix_sub(p, alone, d);
        int64_t size = t.coef < 0 ? -t.coef : t.coef;
        if (tc__ix_names(p, rest, t.atom[0])) continue;
        if (size != 1 && !tc__ix_is_const(rest)) continue;
        if (t.coef < 0) rest = tc__ix_mul(p, rest, tc__ix_const(-1));
        if (tc__ix_is_const(rest) && tc__ix_value(rest) % size) continue;
        *sym = t.atom[0],
        *expr = size == 1 ? rest : tc__ix_const(tc__ix_value(rest) / size);
        return 1;
    }
    return 0;
}

// What symbols become: sym[i] for that of slot i; or, if sym is NULL, `to` for that of `slot`, and others stay.
typedef struct tc__ixput {
    const tc__ix *sym;
    int64_t slot;
    tc__ix to;
} tc__ixput;

// e of pool `from` in pool p, which is the same if something stays. Variables and values do.
static tc__ix tc__ix_put(tc__ixpool *p, const tc__ixpool *from, tc__ix e,
                         const tc__ixput *q) {
    if (tc__ix_is_const(e)) return e;
    tc__ixnode n = *tc__ix_node(from, e);
    if (n.kind == TC__IX_SYM) return q->sym ? q->sym[n.a] : n.a == q->slot ? q->to : e;
    if (n.kind == TC__IX_VAR || n.kind == TC__IX_VAL) return e;
    if (n.kind != TC__IX_POLY) {
        tc__ix a = tc__ix_put(p, from, n.a, q), b = tc__ix_put(p, from, n.b, q);
        if (n.kind == TC__IX_DIV) return tc__ix_div(p, a, b);
        if (n.kind == TC__IX_MOD) return tc__ix_mod(p, a, b);
        return tc__ix_min(p, a, b);
    }
    tc__ix sum = tc__ix_const(n.base);
    for (uint32_t i = 0; i < n.count; i++) {
        tc__ixterm t = from->term.at[n.first + i];
        tc__ix product = tc__ix_const(t.coef);
        for (int k = 0; k < TC__IX_ATOMS && t.atom[k]; k++)
            product = tc__ix_mul(p, product, tc__ix_put(p, from, t.atom[k], q));
        sum = tc__ix_add(p, sum, product);
    }
    return sum;
}

// e of pool `from` in pool p, its symbol of slot i replaced by sym[i]. No variables, no values.
static tc__ix tc__ix_copy(tc__ixpool *p, const tc__ixpool *from, tc__ix e,
                          const tc__ix *sym) {
    tc__ixput q;
    q.sym = sym, q.slot = 0, q.to = 0;
    return tc__ix_put(p, from, e, &q);
}

// e with `to` for the symbol of a slot.
static tc__ix tc__ix_with(tc__ixpool *p, tc__ix e, int64_t slot, tc__ix to) {
    tc__ixput q;
    q.sym = NULL, q.slot = slot, q.to = to;
    return tc__ix_put(p, p, e, &q);
}

// Whether e names the symbol of a slot.
static int tc__ix_has_sym(const tc__ixpool *p, tc__ix e, int64_t slot) {
    if (tc__ix_is_const(e)) return 0;
    const tc__ixnode *n = tc__ix_node(p, e);
    if (n->kind == TC__IX_SYM) return n->a == slot;
    if (n->kind == TC__IX_VAR || n->kind == TC__IX_VAL) return 0;
    if (n->kind != TC__IX_POLY)
        return tc__ix_has_sym(p, n->a, slot) || tc__ix_has_sym(p, n->b, slot);
    for (uint32_t i = 0; i < n->count; i++) {
        const tc__ixterm *t = &p->term.at[n->first + i];
        for (int k = 0; k < TC__IX_ATOMS && t->atom[k]; k++)
            if (tc__ix_has_sym(p, t->atom[k], slot)) return 1;
    }
    return 0;
}

// Whether e names the variable of `axis`.
static int tc__ix_uses(const tc__ixpool *p, tc__ix e, tc__axis axis) {
    return (int)(tc__ix_names_of(p, e) >> axis & 1);
}

typedef struct tc__ixvals {
    tc__ix *at;
    uint32_t count, capacity;
} tc__ixvals;

static void tc__ix_find_vals(const tc__ixpool *p, tc__ix e, tc__ixvals *out) {
    if (!(tc__ix_names_of(p, e) & TC__IX_NAMES_VAL)) return;
    const tc__ixnode *n = tc__ix_node(p, e);
    if (n->kind == TC__IX_VAL && out->count < out->capacity) {
        for (uint32_t i = 0; i < out->count; i++)
            if (out->at[i] == e) return;
        out->at[out->count++] = e;
    }
    if (n->kind == TC__IX_VAL) return;
    if (n->kind != TC__IX_POLY) {
        tc__ix_find_vals(p, n->a, out);
        tc__ix_find_vals(p, n->b, out);
        return;
    }
    for (uint32_t i = 0; i < n->count; i++) {
        const tc__ixterm *t = &p->term.at[n->first + i];
        for (int k = 0; k < TC__IX_ATOMS && t->atom[k]; k++)
            tc__ix_find_vals(p, t->atom[k], out);
    }
}

// The distinct loaded values of e; at most `capacity`.
static uint32_t tc__ix_vals(const tc__ixpool *p, tc__ix e, tc__ix *at, uint32_t capacity) {
    tc__ixvals v;
    v.at = at, v.count = 0, v.capacity = capacity;
    tc__ix_find_vals(p, e, &v);
    return v.count;
}

// Calls visit(user, node id) for every loaded value named by e.
static void tc__ix_each_val(const tc__ixpool *p, tc__ix e, void (*visit)(void *, uint32_t),
                            void *user) {
    tc__ix v[16];
    uint32_t n = tc__ix_vals(p, e, v, 16);
    for (uint32_t i = 0; i < n; i++) visit(user, (uint32_t)tc__ix_node(p, v[i])->a);
}

static int tc__ix_has_val(const tc__ixpool *p, tc__ix e) {
    return (tc__ix_names_of(p, e) & TC__IX_NAMES_VAL) != 0;
}

static int64_t tc__ix_gcd(int64_t a, int64_t b) {
    while (b) {
        int64_t t = a % b;
        a = b;
        b = t;
    }
    return a < 0 ? -a : a;
}

// What e has beside terms: the number that it adds to all of them.
static int64_t tc__ix_constant_part(const tc__ixpool *p, tc__ix e) {
    if (tc__ix_is_const(e)) return tc__ix_value(e);
    const tc__ixnode *n = tc__ix_node(p, e);
    return n->kind == TC__IX_POLY ? n->base : 0;
}

// A divisor that every value of e surely has (0 for e = 0), variables and symbols being arbitrary.
static int64_t tc__ix_divisor(const tc__ixpool *p, tc__ix e) {
    if (tc__ix_is_const(e)) return tc__ix_value(e) < 0 ? -tc__ix_value(e) : tc__ix_value(e);
    const tc__ixnode *n = tc__ix_node(p, e);
    if (n->kind == TC__IX_MOD)
        return tc__ix_gcd(tc__ix_divisor(p, n->a), tc__ix_divisor(p, n->b));
    if (n->kind != TC__IX_POLY) return 1;
    int64_t g = n->base;
    for (uint32_t i = 0; i < n->count; i++) {
        const tc__ixterm *t = &p->term.at[n->first + i];
        int64_t all = t->coef;
        for (int k = 0; k < TC__IX_ATOMS && t->atom[k]; k++) {
            int64_t d = tc__ix_divisor(p, t->atom[k]);
            if (d > 0 && all <= INT64_MAX / d && all >= -INT64_MAX / d) all *= d;
        }
        g = tc__ix_gcd(g, all);
    }
    return g < 0 ? -g : g;
}

// The variable of `axis` inside e, 0 if there is none.
static tc__ix tc__ix_find_var(const tc__ixpool *p, tc__ix e, tc__axis axis) {
    if (!tc__ix_uses(p, e, axis)) return 0;
    const tc__ixnode *n = tc__ix_node(p, e);
    if (n->kind == TC__IX_VAR) return e;
    if (n->kind != TC__IX_POLY) {
        tc__ix v = tc__ix_find_var(p, n->a, axis);
        return v ? v : tc__ix_find_var(p, n->b, axis);
    }
    for (uint32_t i = 0; i < n->count; i++) {
        const tc__ixterm *t = &p->term.at[n->first + i];
        for (int k = 0; k < TC__IX_ATOMS && t->atom[k]; k++) {
            tc__ix v = tc__ix_find_var(p, t->atom[k], axis);
            if (v) return v;
        }
    }
    return 0;
}

// How e moves with the variable `var` inside a run: e(var + j) = e(var) + j * stride for
// 0 <= j < run - var % run. run is INT64_MAX where that holds everywhere.
typedef struct tc__ixrun {
    int ok;
    int64_t run;
    tc__ix stride;
} tc__ixrun;

// Whether that holds all through aligned blocks of `width`.
static int tc__ixrun_spans(const tc__ixrun *r, int64_t width) {
    return r->ok && (r->run == INT64_MAX || r->run % width == 0);
}

static tc__ixrun tc__ix_run(tc__ixpool *p, tc__ix e, tc__axis axis);

static tc__ixrun tc__ix_run_atom(tc__ixpool *p, tc__ix atom, tc__axis axis) {
    tc__ixrun none, r;
    none.ok = 0, none.run = 1, none.stride = 0;
    r.ok = 1, r.run = INT64_MAX, r.stride = tc__ix_const(0);
    tc__ixnode n = *tc__ix_node(p, atom);
    if (n.kind == TC__IX_VAR) {
        r.stride = tc__ix_const(n.a == (int64_t)axis);
        return r;
    }
    if (n.kind == TC__IX_SYM || n.kind == TC__IX_VAL || !tc__ix_uses(p, atom, axis))
        return r;
    if (n.kind != TC__IX_DIV && n.kind != TC__IX_MOD) return none;
    // x / d and x % d with x = var + (multiple of d): constant or moving by 1 inside runs of d.
    tc__ixrun in = tc__ix_run(p, n.a, axis);
    if (!in.ok || !tc__ix_is_const(n.b) || !tc__ix_is_const(in.stride)) return none;
    int64_t d = tc__ix_value(n.b), s = tc__ix_value(in.stride);
    if (s == 0) return in;
    if (s < 0 || d % s != 0) return none;
    r.run = tc__ix_gcd(in.run == INT64_MAX ? 0 : in.run, d / s);
    // Where the run starts, at a multiple of it, x is a multiple of g; so it reaches the next
    // multiple of d only at its end, if it is not longer than g / s.
    tc__ix var = tc__ix_find_var(p, n.a, axis);
    for (int64_t run = 0; run != r.run;) {
        run = r.run;
        tc__ix start = tc__ix_mul(p, tc__ix_const(run), var);
        int64_t g = tc__ix_gcd(d, tc__ix_divisor(p, tc__ix_subst(p, n.a, var, start)));
        if (g % s != 0) return none;
        r.run = tc__ix_gcd(run, g / s);
    }
    r.stride = tc__ix_const(n.kind == TC__IX_MOD ? s : 0);
    return r;
}

static tc__ixrun tc__ix_run(tc__ixpool *p, tc__ix e, tc__axis axis) {
    tc__ixrun r;
    r.ok = 1, r.run = INT64_MAX, r.stride = tc__ix_const(0);
    if (tc__ix_is_const(e)) return r;
    tc__ixnode n = *tc__ix_node(p, e);
    if (n.kind != TC__IX_POLY) return tc__ix_run_atom(p, e, axis);
    for (uint32_t i = 0; i < n.count; i++) {
        tc__ixterm t = p->term.at[n.first + i];
        int moving = 0;
        tc__ix step = tc__ix_const(t.coef);
        for (int k = 0; k < TC__IX_ATOMS && t.atom[k]; k++) {
            tc__ixrun a = tc__ix_run_atom(p, t.atom[k], axis);
            int still = tc__ix_equals(a.stride, 0);
            if (!a.ok || (moving && !still)) {
                r.ok = 0;
                return r;
            }
            moving |= !still;
            step = tc__ix_mul(p, step, still ? t.atom[k] : a.stride);
            if (a.run != INT64_MAX)
                r.run = r.run == INT64_MAX ? a.run : tc__ix_gcd(r.run, a.run);
        }
        if (moving) r.stride = tc__ix_add(p, r.stride, step);
    }
    return r;
}

// Whether e is `more` after so many of the axis, wherever those begin.
static int tc__ix_repeats(tc__ixpool *p, tc__ix e, tc__axis axis, int64_t by,
                          int64_t more) {
    tc__ix v = tc__ix_find_var(p, e, axis);
    if (!v || tc__ix_has_val(p, e)) return 0;
    tc__ix from = tc__ix_mul(p, v, tc__ix_const(by)),
           on = tc__ix_mul(p, v, tc__ix_const(more));
    for (int64_t i = 0; i < by; i++) {
        tc__ix at = tc__ix_subst(p, e, v, tc__ix_add(p, from, tc__ix_const(i)));
        if (tc__ix_uses(p, tc__ix_sub(p, at, on), axis)) return 0;
    }
    return 1;
}

// After how many of the axis, 2 or 3, e is one more: so many rows that are woven. 0 = it is not so.
static int tc__ix_woven(tc__ixpool *p, tc__ix e, tc__axis axis) {
    for (int by = 2; by <= 3; by++)
        if (tc__ix_repeats(p, e, axis, by, 1)) return by;
    return 0;
}
