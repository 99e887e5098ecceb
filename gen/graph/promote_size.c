// What the sizes of a new path are, where a known one has others: each is told by what the
// path has before it, else it is a symbol of its own. Input: a tc__promoter with both
// paths. Output: sizes of externals and words of steps, and what has to hold for that
// (tc__promoter.need). graph/promote.c makes the path.

// A size that is known at run time: in the known path, and in this visit.
typedef struct tc__seen {
    int64_t was, now;
} tc__seen;

typedef struct tc__promoter {
    tc_ctx *ctx;
    tc__visit *v;
    tc__ixpool *ix;
    int single;             // there is no known path: sizes that are wanted become symbols
    const int64_t *hint;    // the known path's sizes, by its symbols
    const tc__twin *twin;   // the known path stands behind this break; NULL = beside
    const int64_t *value;   // this visit's run-time values, by number as recorded
    TC__VEC(tc__ix) known;  // by symbol of the known path: what it is in the new one
    TC__VEC(tc__seen) seen; // by symbol of the new path
    TC__VEC(tc__ix) made;   // sizes of the new path's steps that are no symbols
    const tc__step
        *step; // whose words are promoted: its operands have sizes; NULL = none yet
    tc__relation need[TC__MAX_RELATIONS];
    uint32_t needs;
    const char *why; // static: what keeps sizes fixed; NULL = rules do
} tc__promoter;

// Largest size that a symbol stands for: products of three do not overflow.
#define TC__SIZE_LIMIT ((int64_t)1 << 40)

enum { TC__MADE_MOST = 64 }; // sizes of earlier steps that are remembered

// ---- explaining sizes ----

static tc__ix tc__symbol_new(tc__promoter *p, int64_t was, int64_t now, int64_t lo,
                             int64_t hi) {
    tc__seen s;
    tc__ix e = tc__ix_sym(p->ix, (int64_t)p->seen.count, lo, hi);
    if (p->seen.count == TC__MAX_SYMBOLS) return 0;
    s.was = was, s.now = now;
    if (!TC__PUSH(p->ctx, p->seen, s) || !tc__symbol_take(p->ctx, p->v, e, now)) return 0;
    return e;
}

// k such that a is k times b both then and now; 0 = there is none above 1. What did not change
// tells nothing.
static int64_t tc__factor_of(int64_t a_was, int64_t a_now, const tc__seen *b) {
    if (b->was == b->now || a_was == a_now) return 0;
    if (b->was <= 0 || b->now <= 0 || a_was % b->was || a_now % b->now) return 0;
    int64_t k = a_now / b->now;
    return k > 1 && a_was / b->was == k ? k : 0;
}

// The value of an expression of the new path in the known one.
static int64_t tc__size_before(const tc__promoter *p, tc__ix e) {
    int64_t sym[TC__MAX_SYMBOLS];
    tc__ixenv env;
    memset(&env, 0, sizeof env);
    for (size_t i = 0; i < p->seen.count; i++) sym[i] = p->seen.at[i].was;
    env.sym = sym;
    return tc__ix_eval(p->ix, e, &env);
}

// A size of the first operand, or a product of neighbours there; 0 = none is it then and now.
static tc__ix tc__size_of_operand(tc__promoter *p, int64_t was, int64_t now) {
    tc__meta m;
    if (!p->step || !p->step->n_in) return 0;
    tc__code_meta(p->ctx, p->v, p->step->in[0], &m);
    for (int i = 0; i < m.rank; i++) {
        tc__ix e = tc__ix_const(1);
        int64_t is = 1;
        for (int k = i; k < m.rank; k++) {
            int64_t size = tc__visit_eval(p->ctx, p->v, m.dims[k]);
            if (size <= 0 || size > now / is) break; // more than `now`
            is *= size, e = tc__ix_mul(p->ix, e, m.dims[k]);
            if (is == now && !tc__ix_is_const(e) && tc__size_before(p, e) == was) return e;
        }
    }
    return 0;
}

static int tc__sizes_note(tc__promoter *p, const tc__meta *m) {
    for (int i = 0; i < m->rank; i++) {
        tc__ix e = m->dims[i];
        size_t k = 0;
        if (tc__ix_is_const(e) || tc__ix_node(p->ix, e)->kind == TC__IX_SYM) continue;
        while (k < p->made.count && p->made.at[k] != e) k++;
        if (k < p->made.count || k == TC__MADE_MOST) continue;
        if (!TC__PUSH(p->ctx, p->made, e)) return 0;
    }
    return 1;
}

// A size of an earlier step; 0 = none is it then and now.
static tc__ix tc__size_made(tc__promoter *p, int64_t was, int64_t now) {
    for (size_t i = 0; i < p->made.count; i++) {
        tc__ix e = p->made.at[i];
        if (tc__visit_eval(p->ctx, p->v, e) == now && tc__size_before(p, e) == was)
            return e;
    }
    return 0;
}

// A size that was one thing and is another now, as an expression; 0 = none is found.
static tc__ix tc__size_explain(tc__promoter *p, int64_t was, int64_t now) {
    const tc__seen *s = p->seen.at;
    size_t n = p->seen.count;
    for (size_t i = 0; i < n; i++)
        if (s[i].was == was && s[i].now == now) return p->v->sym.at[i];
    tc__ix e = tc__size_of_operand(p, was, now);
    if (!e) e = tc__size_made(p, was, now);
    if (e) return e;
    for (size_t i = 0; i < n; i++) {
        int64_t k = tc__factor_of(was, now, &s[i]);
        if (k) return tc__ix_mul(p->ix, p->v->sym.at[i], tc__ix_const(k));
    }
    return 0;
}

// A quotient of a symbol: that symbol is a multiple of a new one, which is the size.
static tc__ix tc__size_divide(tc__promoter *p, int64_t was, int64_t now, int64_t lo) {
    tc__seen size;
    size.was = was, size.now = now;
    for (size_t i = 0; i < p->seen.count; i++) {
        int64_t k = tc__factor_of(p->seen.at[i].was, p->seen.at[i].now, &size);
        if (!k || p->needs == TC__MAX_RELATIONS) continue;
        tc__ix whole = p->v->sym.at[i],
               part = tc__symbol_new(p, was, now, lo, TC__SIZE_LIMIT);
        tc__relation r;
        r.kind = TC__EQUAL, r.a = whole;
        r.b = tc__ix_mul(p->ix, part, tc__ix_const(k));
        p->need[p->needs++] = r;
        return part;
    }
    return 0;
}

// A symbol plus a constant.
static tc__ix tc__size_shift(tc__promoter *p, int64_t was, int64_t now) {
    for (size_t i = 0; i < p->seen.count && was != now; i++)
        if (was - p->seen.at[i].was == now - p->seen.at[i].now)
            return tc__ix_add(p->ix, p->v->sym.at[i],
                              tc__ix_const(was - p->seen.at[i].was));
    return 0;
}

// The value of the known path's expression then, and the same in the new path's symbols.
static int64_t tc__size_was(tc__promoter *p, tc__ix e) {
    tc__ixenv env;
    memset(&env, 0, sizeof env);
    env.sym = p->hint;
    return tc__ix_eval(p->ix, e, &env);
}

static int tc__symbols_known(const tc__promoter *p, tc__ix e) {
    tc__ixsyms s;
    tc__ix_syms(p->ix, e, &s, 1);
    for (uint32_t i = 0; i < s.count; i++) {
        size_t slot = (size_t)tc__ix_node(p->ix, s.at[i])->a;
        if (slot >= p->known.count || !p->known.at[slot]) return 0;
    }
    return !s.lost;
}

// The symbol that the known path begins here, if it is one: noted as `e` of the new path.
static int tc__symbol_known(tc__promoter *p, tc__ix old, tc__ix e) {
    if (tc__ix_is_const(old)) return 1;
    const tc__ixnode *n = tc__ix_node(p->ix, old);
    if (n->kind != TC__IX_SYM || n->a != (int64_t)p->known.count) return 1;
    return TC__PUSH(p->ctx, p->known, e);
}

// The new path's expression where the known path has `old` and this visit `now`; `shift`: a sum
// with a constant is likely, as in a slice. 0 = out of memory.
static tc__ix tc__size_promote(tc__promoter *p, tc__ix old, int64_t now, int64_t lo,
                               int shift) {
    int64_t was = tc__size_was(p, old);
    tc__ix e = 0;
    if (tc__ix_is_const(old) && was == now) return old;
    if (!tc__ix_is_const(old) && tc__symbols_known(p, old)) {
        e = tc__ix_copy(p->ix, p->ix, old, p->known.at);
        if (tc__visit_eval(p->ctx, p->v, e) == now) return e;
    }
    if (was < lo || now < lo || now > TC__SIZE_LIMIT) return 0;
    e = tc__size_explain(p, was, now);
    if (!e) e = tc__size_divide(p, was, now, lo);
    if (!e && shift) e = tc__size_shift(p, was, now);
    if (!e) e = tc__symbol_new(p, was, now, lo, TC__SIZE_LIMIT);
    return e && tc__symbol_known(p, old, e) ? e : 0;
}

// ---- externals ----

static void tc__strides_dense(tc__promoter *p, tc__shape *s) {
    tc__ix e = tc__ix_const(1);
    for (int i = s->rank; i-- > 0;) {
        s->strides[i] = e;
        e = tc__ix_mul(p->ix, e, s->dims[i]);
    }
}

// Dimensions by stride, the smallest first.
static void tc__stride_order(const tc__layout *l, int *order) {
    for (int i = 0; i < l->rank; i++) {
        int k = i, d = l->rank - 1 - i;
        for (; k && l->strides[order[k - 1]] > l->strides[d]; k--) order[k] = order[k - 1];
        order[k] = d;
    }
}

// A stride is a constant, or a smaller one times the size there; 0 = neither.
static int tc__strides_promote(tc__promoter *p, const tc__shape *old, const tc__layout *now,
                               tc__shape *s) {
    int order[TC_MAX_RANK];
    tc__stride_order(now, order);
    for (int n = 0; n < s->rank; n++) {
        int i = order[n];
        int64_t was = tc__size_was(p, old->strides[i]), is = now->strides[i];
        tc__ix e = was == is && !p->single ? tc__ix_const(is) : 0;
        for (int m = 0; m < n && !e; m++) {
            int k = order[m];
            int64_t then = tc__size_was(p, old->strides[k]) * tc__size_was(p, old->dims[k]);
            if (then == was && now->strides[k] * now->dims[k] == is)
                e = tc__ix_mul(p->ix, s->strides[k], s->dims[k]);
        }
        if (!e && was == is) e = tc__ix_const(is);
        if (!e && is) return 0;
        s->strides[i] = e;
    }
    return 1;
}

static const tc__marks *tc__marks_of(tc_ctx *c, tc_tensor h) {
    const tc__tensor *t = tc__tensor_find(c, h);
    return t ? t->marks : NULL;
}

// Whether a size is to be known at run time only from the start.
static int tc__size_wanted(const tc__promoter *p, const tc__marks *m, int dim,
                           int64_t now) {
    if (p->v->region->fixed_sizes || (m && m->fixed >> dim & 1)) return 0;
    if (m && m->dynamic >> dim & 1) return now > 0;
    return p->v->region->options.dynamic == TC_DYNAMIC_ON && now > 1;
}

// The symbol of a size of this visit, 0 = none has it.
static tc__ix tc__size_equal(const tc__promoter *p, int64_t now) {
    for (size_t i = 0; i < p->seen.count && now > 1; i++)
        if (p->seen.at[i].was == now && p->seen.at[i].now == now) return p->v->sym.at[i];
    return 0;
}

static tc__ix tc__size_begin(tc__promoter *p, const tc__marks *m, int dim, int64_t now) {
    int marked = m && (m->dynamic >> dim & 1);
    int64_t lo = marked && m->min[dim] > 1 ? m->min[dim] : 1;
    int64_t hi = marked && m->max[dim] ? m->max[dim] : TC__SIZE_LIMIT;
    tc__ix e = marked && (m->min[dim] || m->max[dim]) ? 0 : tc__size_equal(p, now);
    return e ? e : tc__symbol_new(p, now, now, lo, hi);
}

// The binding of an external that was bound as `old`; 0 = not possible.
static int tc__bind_promote(tc__promoter *p, tc_tensor h, const tc__binding *old,
                            tc__binding *b) {
    const tc__layout *now = tc__layout_at(p->ctx, b->layout);
    const tc__marks *m = tc__marks_of(p->ctx, h);
    tc__shape was, *s = TC__ANEW(&p->v->branch->arena, tc__shape);
    int changes = 0;
    if (!s) return 0;
    tc__shape_of_layout(tc__layout_at(p->ctx, old->layout), &was);
    if (old->shape) was = *old->shape;
    *s = was;
    for (int d = 0; d < s->rank; d++) {
        int same = was.dims[d] == tc__ix_const(now->dims[d]);
        if (!same && m && m->fixed >> d & 1) return 0;
        if (same && tc__size_wanted(p, m, d, now->dims[d]))
            s->dims[d] = tc__size_begin(p, m, d, now->dims[d]);
        else
            s->dims[d] = tc__size_promote(p, was.dims[d], now->dims[d], 1, 0);
        if (!s->dims[d] && !(same && !now->dims[d])) return 0;
        changes |= !tc__ix_is_const(s->dims[d]);
    }
    if (s->contiguous)
        tc__strides_dense(p, s);
    else if (!tc__strides_promote(p, &was, now, s))
        return 0;
    if (changes) b->shape = s, b->layout = 0;
    return changes || !memcmp(&was, s, sizeof was);
}

// ---- one step ----

// Reshape: the one size that nothing explains is what the others leave of the elements.
static int tc__reshape_rest(tc__promoter *p, const tc__step *s, const int64_t *old,
                            int64_t *attr, uint32_t unexplained) {
    tc__meta m;
    tc__ix others = tc__ix_const(1), e;
    tc__code_meta(p->ctx, p->v, s->in[0], &m);
    for (uint32_t i = 0; i < s->n_attr; i++)
        if (i != unexplained) others = tc__ix_mul(p->ix, others, attr[i]);
    tc__ix have = tc__meta_numel(p->ix, &m);
    if (tc__ix_equals(others, 0)) return 0;
    e = tc__ix_div(p->ix, have, others);
    if (tc__ix_mul(p->ix, e, others) != have) return 0;
    attr[unexplained] = e;
    return tc__symbol_known(p, old[unexplained], e);
}

// Whether nothing but a fresh symbol would do for this size.
static int tc__size_is_odd(tc__promoter *p, tc__ix old, int64_t now) {
    int64_t was = tc__size_was(p, old);
    if (tc__ix_is_const(old) && was == now) return 0;
    if (!tc__ix_is_const(old) && tc__symbols_known(p, old)) {
        tc__ix e = tc__ix_copy(p->ix, p->ix, old, p->known.at);
        if (tc__visit_eval(p->ctx, p->v, e) == now) return 0;
    }
    return !tc__size_explain(p, was, now);
}

// Words of a first recording that are some symbol's size now, and what a reshape leaves then.
static void tc__attrs_begin(tc__promoter *p, const tc__step *s, const int64_t *old,
                            int64_t *attr) {
    tc__meta m;
    tc__ix want = tc__ix_const(1);
    uint32_t most = 0;
    for (uint32_t i = 0; i < s->n_attr; i++) {
        int sizes = s->op == TC_OP_RESHAPE || s->op == TC_OP_EXPAND;
        if (!sizes && !(s->op == TC_OP_SLICE && i == 2)) continue;
        int64_t now = tc__ix_value(attr[i]);
        tc__ix e = tc__size_equal(p, now);
        if (!e) e = tc__size_of_operand(p, now, now);
        if (!e && now > 1) e = tc__size_made(p, now, now);
        if (e) attr[i] = e;
        want = tc__ix_mul(p->ix, want, attr[i]);
        if (tc__ix_is_const(attr[i]) &&
            (!tc__ix_is_const(attr[most]) || attr[i] > attr[most]))
            most = i;
    }
    if (s->op != TC_OP_RESHAPE || !s->n_attr) return;
    tc__code_meta(p->ctx, p->v, s->in[0], &m);
    if (tc__meta_numel(p->ix, &m) != want) tc__reshape_rest(p, s, old, attr, most);
}

// The sizes among the words of a step; 0 = not possible.
static int tc__attrs_promote(tc__promoter *p, const tc__step *s, const int64_t *old,
                             int64_t *attr) {
    uint32_t odd = UINT32_MAX;
    if (p->single) {
        tc__attrs_begin(p, s, old, attr);
        return 1;
    }
    int whole = tc__is_composite((tc__op)s->op);
    int sum = s->op == TC_OP_SLICE || s->op == TC_OP_PAD || whole;
    for (uint32_t i = 0; i < s->n_attr && s->op == TC_OP_RESHAPE; i++)
        if (tc__size_is_odd(p, old[i], tc__ix_value(attr[i]))) odd = i;
    for (uint32_t i = 0; i < s->n_attr; i++) {
        if (i == odd || tc__slot_of((tc__op)s->op, s->n_attr, i) != TC__SLOT_SIZE) continue;
        int64_t now = tc__ix_value(attr[i]),
                lo = whole || s->op == TC_OP_PAD || (sum && i == 1) ? 0 : 1;
        if (tc__ix_is_const(old[i]) && old[i] == attr[i]) continue;
        attr[i] = tc__size_promote(p, old[i], now, lo, sum);
        if (!attr[i]) return 0;
    }
    if (odd == UINT32_MAX || tc__reshape_rest(p, s, old, attr, odd)) return 1;
    attr[odd] = tc__size_promote(p, old[odd], tc__ix_value(attr[odd]), 1, 0);
    return attr[odd] != 0;
}

enum {
    TC__PART_REACH = 512
}; // steps before a composite op that are looked at for its values

// The number of the run-time value that an earlier step had where `old` has word i, and that is `now`; -1 =
// none was.
static int64_t tc__arg_of_part(const tc__promoter *p, const tc__step *s,
                               const tc__step *old, uint32_t i, int64_t now) {
    const tc__step *o = old->parent;
    uint32_t was_arg = old->args >> i & 1;
    for (uint32_t n = 1; n <= s->position && n <= TC__PART_REACH && o; n++, o = o->parent) {
        const tc__step *t = p->v->path.at[s->position - n];
        if (o->op != t->op || o->n_attr != t->n_attr) continue;
        for (uint32_t k = 0; k < t->n_attr && t->args >> k; k++)
            if (t->args >> k & 1 && p->v->arg.at[t->attr[k]] == now &&
                (o->args >> k & 1) == was_arg && o->attr[k] == old->attr[i])
                return t->attr[k];
    }
    return -1;
}

enum { TC__EQUAL_DEEP = 3, TC__EQUAL_OPERANDS = 2 };

// Whether two operands are made alike of the same, in a few steps. What a write has changed between is not looked at.
static int tc__codes_are_alike(const tc__visit *v, uint32_t a, uint32_t b, int deep) {
    if (a == b) return 1;
    if ((a | b) & TC__EXTERNAL || !deep) return 0;
    const tc__step *s = v->path.at[a], *t = v->path.at[b];
    if (s->op != t->op || s->n_in != t->n_in || s->n_in > TC__EQUAL_OPERANDS ||
        s->n_attr != t->n_attr || s->args != t->args)
        return 0;
    if (s->n_attr && memcmp(s->attr, t->attr, s->n_attr * sizeof *s->attr)) return 0;
    for (uint32_t k = 0; k < s->n_in; k++)
        if (!tc__codes_are_alike(v, s->in[k], t->in[k], deep - 1)) return 0;
    return 1;
}

// The number of the run-time value of an earlier step that computes the same as s, as the mean does that a variance
// begins with: with one value for both they are one node still. -1 = none.
static int64_t tc__arg_of_equal(const tc__promoter *p, const tc__step *s,
                                const tc__step *old, uint32_t i, int64_t now) {
    const tc__step *o = old->parent;
    for (uint32_t n = 1; n <= s->position && n <= TC__PART_REACH && o; n++, o = o->parent) {
        const tc__step *t = p->v->path.at[s->position - n];
        if (o->op != t->op || t->op != s->op || t->n_in != s->n_in || !(t->args >> i & 1) ||
            t->n_attr != s->n_attr || s->n_in > TC__EQUAL_OPERANDS)
            continue;
        int alike = p->v->arg.at[t->attr[i]] == now && o->args == old->args &&
                    !memcmp(o->attr, old->attr, s->n_attr * sizeof *o->attr);
        for (uint32_t k = 0; k < s->n_in; k++)
            alike = alike && tc__codes_are_alike(p->v, s->in[k], t->in[k], TC__EQUAL_DEEP);
        if (alike) return t->attr[i];
    }
    return -1;
}

// Whether a first recording's value is how many elements a sum has of sizes that are known at run time only, or one less:
// what a mean or a variance divides by.
static int tc__is_count_of_sum(const tc__promoter *p, const tc__step *s, int64_t value) {
    tc__meta from, to;
    double count;
    if (!p->single || s->op != TC_OP_DIV || s->n_in != 1 || s->in[0] & TC__EXTERNAL)
        return 0;
    const tc__step *sum = p->v->path.at[s->in[0]];
    if (sum->op != TC_OP_SUM) return 0;
    tc__code_meta(p->ctx, p->v, sum->in[0], &from);
    tc__code_meta(p->ctx, p->v, s->in[0], &to);
    tc__ix all = tc__meta_numel(p->ix, &from), one = tc__meta_numel(p->ix, &to);
    tc__ix n = tc__ix_equals(one, 0) ? 0 : tc__ix_div(p->ix, all, one);
    if (!n || tc__ix_is_const(n)) return 0;
    memcpy(&count, &value, sizeof count);
    double is = (double)tc__visit_eval(p->ctx, p->v, n);
    return count == is || count == is - 1;
}

// A value that differs becomes the next run-time value of the path; that of a composite op is one of its
// parts', and that of a step that an earlier one equals is that one's.
static int tc__args_promote(tc__promoter *p, tc__step *s, const tc__step *was,
                            const tc__step *old, int64_t *attr) {
    for (uint32_t i = 0; i < s->n_attr && i < 32; i++) {
        tc__slot_kind kind = tc__slot_of((tc__op)s->op, s->n_attr, i);
        if (kind != TC__SLOT_SCALAR && kind != TC__SLOT_VALUE) continue;
        int is_arg = was->args >> i & 1, was_arg = old->args >> i & 1;
        int64_t now = is_arg ? p->value[was->attr[i]] : was->attr[i];
        int count = kind == TC__SLOT_SCALAR && tc__is_count_of_sum(p, s, now);
        if (!is_arg && !was_arg && old->attr[i] == now && !count) continue;
        int whole = tc__is_composite((tc__op)s->op);
        s->args |= 1u << i;
        attr[i] = whole ? tc__arg_of_part(p, s, old, i, now)
                        : tc__arg_of_equal(p, s, old, i, now);
        if (attr[i] >= 0 && whole) continue;
        if (attr[i] < 0) {
            attr[i] = (int64_t)p->v->arg.count;
            if (!TC__PUSH(p->ctx, p->v->arg, now)) return 0;
        }
        for (uint32_t k = 0; k < s->n_in && kind == TC__SLOT_SCALAR && !whole; k++) {
            tc__meta m;
            tc__code_meta(p->ctx, p->v, s->in[k], &m);
            if (!tc__is_float(m.dtype)) s->whole = tc__wholeness(now);
        }
        if (s->whole && s->whole != (was_arg ? old->whole : tc__wholeness(old->attr[i])))
            return 0;
    }
    return 1;
}
