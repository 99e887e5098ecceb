// Whether a reshape on a path with run-time sizes is a view or a copy, for all of them. Input: the step and the
// layout that its operand shows, as expressions. Output: the answer, and what has to hold for it
// (tc__promoter.need).
//
// One idea: a copy is one for one reason, a border between two runs of memory that lies inside of a size of the
// result; so few conditions keep it a copy. A view has to be one everywhere, and expressions tell it.

// Whether a reshape only adds and drops sizes of 1.
static int tc__reshape_is_same(const tc__meta *a, const tc__meta *b) {
    int i = 0, k = 0;
    for (;; i++, k++) {
        while (i < a->rank && tc__ix_equals(a->dims[i], 1)) i++;
        while (k < b->rank && tc__ix_equals(b->dims[k], 1)) k++;
        if (i == a->rank || k == b->rank) return i == a->rank && k == b->rank;
        if (a->dims[i] != b->dims[k]) return 0;
    }
}

// Sizes that are 1 in this visit are 1 on the path; 0 = too many conditions.
static int tc__ones_stay(tc__promoter *p, const tc__meta *m) {
    for (int i = 0; i < m->rank; i++) {
        if (tc__ix_is_const(m->dims[i]) || tc__visit_eval(p->ctx, p->v, m->dims[i]) != 1)
            continue;
        if (p->needs == TC__MAX_RELATIONS) return 0;
        tc__relation *r = &p->need[p->needs++];
        r->kind = TC__EQUAL, r->a = m->dims[i], r->b = tc__ix_const(1);
    }
    return 1;
}

// The same sizes, told by what the conditions say.
static tc__meta tc__meta_under(const tc__promoter *p, const tc__ix *equal,
                               const tc__meta *m) {
    tc__meta n = *m;
    for (int i = 0; i < n.rank; i++)
        n.dims[i] = tc__ix_copy(p->ix, p->ix, n.dims[i], equal);
    return n;
}

// ---- whether a reshape is a view for all sizes ----

static int tc__size_divides(tc__promoter *p, tc__ix a, tc__ix by, tc__ix *q) {
    *q = a == by ? tc__ix_const(1) : tc__ix_div(p->ix, a, by);
    return tc__ix_mul(p->ix, *q, by) == a;
}

// tc__reshape_strides for sizes that are expressions: joins and cuts hold for all of their values.
static int tc__reshape_always(tc__promoter *p, const tc__shape *l, const tc__meta *to,
                              tc__ix *out) {
    tc__ix stride = tc__ix_const(1), left = stride, q;
    int i = l->rank - 1;
    for (int d = to->rank - 1; d >= 0; d--) {
        out[d] = tc__ix_const(0);
        if (tc__ix_equals(to->dims[d], 1)) continue;
        while (tc__ix_equals(left, 1) && i >= 0) {
            if (!tc__ix_equals(l->dims[i], 1)) stride = l->strides[i], left = l->dims[i];
            i--;
        }
        for (; !tc__size_divides(p, left, to->dims[d], &q) && i >= 0; i--) {
            if (tc__ix_equals(l->dims[i], 1)) continue;
            if (l->strides[i] != tc__ix_mul(p->ix, stride, left)) return 0;
            left = tc__ix_mul(p->ix, left, l->dims[i]);
        }
        if (!tc__size_divides(p, left, to->dims[d], &q)) return 0;
        out[d] = stride, left = q;
        stride = tc__ix_mul(p->ix, stride, to->dims[d]);
    }
    return tc__ix_equals(left, 1);
}

// The shape of what a view step shows of `l`, in its place; 0 = not a view for all sizes.
static int tc__view_always(tc__promoter *p, const tc__step *s, const tc__meta *to,
                           tc__shape *l) {
    tc__ix strides[TC_MAX_RANK];
    int lead = to->rank - l->rank;
    int dense = l->contiguous && s->op == TC_OP_RESHAPE;
    if (s->op == TC_OP_RESHAPE && !dense && !tc__reshape_always(p, l, to, strides))
        return 0;
    for (int i = 0; i < to->rank && s->op != TC_OP_RESHAPE; i++) {
        int from = s->op == TC_OP_PERMUTE ? (int)s->attr[i] : i - lead;
        int still = from < 0 || (s->op == TC_OP_EXPAND && tc__ix_equals(l->dims[from], 1));
        strides[i] = still ? tc__ix_const(0) : l->strides[from];
        if (s->op == TC_OP_SLICE && i == s->attr[TC__SLICE_DIM])
            strides[i] = tc__ix_mul(p->ix, strides[i], s->attr[TC__SLICE_STEP]);
    }
    l->rank = to->rank, l->contiguous = (uint8_t)dense;
    memcpy(l->dims, to->dims, (size_t)to->rank * sizeof *strides);
    if (dense)
        tc__strides_dense(p, l);
    else
        memcpy(l->strides, strides, (size_t)to->rank * sizeof *strides);
    return 1;
}

// Memory that is not a view: an external, or what a step computes.
static void tc__base_shape(tc__promoter *p, uint32_t code, const tc__ix *equal,
                           tc__shape *l) {
    const tc__visit *v = p->v;
    memset(l, 0, sizeof *l);
    if (code & TC__EXTERNAL) {
        const tc__external *e = &v->external.at[code & ~TC__EXTERNAL];
        tc__shape_of_layout(tc__layout_at(p->ctx, e->layout), l);
        if (e->shape) *l = *e->shape;
    } else {
        const tc__meta *m = &v->path.at[code]->meta;
        l->rank = m->rank, l->contiguous = 1;
        memcpy(l->dims, m->dims, sizeof l->dims);
    }
    for (int i = 0; i < l->rank; i++) {
        l->dims[i] = tc__ix_copy(p->ix, p->ix, l->dims[i], equal);
        if (!l->contiguous) l->strides[i] = tc__ix_copy(p->ix, p->ix, l->strides[i], equal);
    }
    if (l->contiguous) tc__strides_dense(p, l);
}

// The layout of what operand `code` of a reshape shows, under the conditions `equal`; 0 = out of memory.
static int tc__shown_shape(tc__promoter *p, uint32_t code, const tc__ix *equal,
                           tc__shape *l) {
    const tc__visit *v = p->v;
    TC__VEC(uint32_t) view; // from the operand on, the last one first
    int ok = 1;
    memset(&view, 0, sizeof view);
    for (; ok && !(code & TC__EXTERNAL) && v->path.at[code]->view;
         code = v->path.at[code]->in[0])
        ok = TC__PUSH(p->ctx, view, code);
    tc__base_shape(p, code, equal, l);
    while (ok && view.count) {
        const tc__step *step = v->path.at[view.at[--view.count]];
        tc__meta m = tc__meta_under(p, equal, &step->meta);
        ok = tc__view_always(p, step, &m, l);
    }
    TC__VEC_FREE(p->ctx, view);
    return ok;
}

// ---- whether a reshape is a copy for all sizes ----

// Notes the relation where it does not always hold; 0 = it does not hold in this visit.
static int tc__border_need(tc__promoter *p, tc__relation_kind kind, tc__ix a, tc__ix b) {
    int known = tc__relation_known(p->ix, kind, a, b);
    if (known > 0) return 1;
    if (!known || p->needs == TC__MAX_RELATIONS) return 0;
    if (!tc__relation_holds(kind, tc__visit_eval(p->ctx, p->v, a),
                            tc__visit_eval(p->ctx, p->v, b)))
        return 0;
    tc__relation *r = &p->need[p->needs++];
    r->kind = kind, r->a = a, r->b = b;
    return 1;
}

// What has to hold for so many elements to end inside of one of the sizes `to`.
static int tc__border_is_inside(tc__promoter *p, const tc__meta *to, tc__ix elements) {
    tc__ix one = tc__ix_const(1), behind = one;
    int64_t border = tc__visit_eval(p->ctx, p->v, elements);
    for (int d = to->rank - 1; d >= 0; d--) {
        tc__ix with = tc__ix_mul(p->ix, behind, to->dims[d]);
        if (tc__visit_eval(p->ctx, p->v, with) > border)
            return tc__border_need(p, TC__NOT_LESS, elements,
                                   tc__ix_add(p->ix, behind, one)) &&
                   tc__border_need(p, TC__NOT_LESS, with, tc__ix_add(p->ix, elements, one));
        behind = with;
    }
    return 0;
}

// What has to hold for a border between size i of l and the next one behind it that is not 1.
static int tc__border_is_there(tc__promoter *p, const tc__shape *l, int i,
                               const tc__meta *to) {
    tc__ix one = tc__ix_const(1), elements = one;
    int k = i + 1;
    for (; k < l->rank && tc__visit_eval(p->ctx, p->v, l->dims[k]) == 1; k++)
        if (!tc__border_need(p, TC__EQUAL, l->dims[k], one)) return 0;
    if (k == l->rank || !tc__border_need(p, TC__DIFFER, l->dims[i], one) ||
        !tc__border_need(p, TC__DIFFER, l->dims[k], one))
        return 0;
    tc__ix run = tc__ix_mul(p->ix, l->strides[k], l->dims[k]);
    if (!tc__border_need(p, TC__DIFFER, l->strides[i], run)) return 0;
    for (; k < l->rank; k++) elements = tc__ix_mul(p->ix, elements, l->dims[k]);
    return tc__border_is_inside(p, to, elements);
}

static int tc__is_empty(const tc__meta *m) {
    for (int i = 0; i < m->rank; i++)
        if (tc__ix_equals(m->dims[i], 0)) return 1;
    return 0;
}

// Whether the reshape of `l` to the sizes `to` is a copy in this visit, and asks of the sizes what makes it
// one: of the borders that do, the one that asks least.
static int tc__copy_always(tc__promoter *p, const tc__shape *l, const tc__meta *to) {
    tc__relation least[TC__MAX_RELATIONS];
    uint32_t before = p->needs, n = UINT32_MAX;
    for (int i = 0; i + 1 < l->rank; i++) {
        int there = tc__border_is_there(p, l, i, to);
        uint32_t asks = p->needs - before;
        p->needs = before;
        if (!there || asks >= n) continue;
        n = asks;
        memcpy(least, &p->need[before], n * sizeof *least);
    }
    if (n == UINT32_MAX) return 0;
    memcpy(&p->need[before], least, n * sizeof *least);
    p->needs += n;
    return 1;
}

// A strided tensor that is reshaped is a view for some sizes and a copy for others. That can be seen: by
// a write to either, also one behind a graph break or after the region. So it is one of the two for all sizes of
// the path: a view where the expressions tell so, of sizes that differ from 1 where these do; a copy
// under conditions. Else sizes stay what they are.
static int tc__reshape_settle(tc__promoter *p, const tc__step *s, const tc__meta *to) {
    const tc__visit *v = p->v;
    tc__ix equal[TC__MAX_SYMBOLS];
    tc__shape l;
    if (s->op != TC_OP_RESHAPE || !v->size.count) return 1;
    uint32_t from = s->in[0];
    tc__meta m;
    tc__code_meta(p->ctx, v, from, &m);
    if (tc__reshape_is_same(&m, to)) return 1;
    if (from & TC__EXTERNAL) {
        const tc__external *e = &v->external.at[from & ~TC__EXTERNAL];
        if (tc__layout_at(p->ctx, e->layout)->contiguous) return 1;
    } else if (!v->path.at[from]->view) {
        return 1;
    }
    if (s->view && (!tc__ones_stay(p, &m) || !tc__ones_stay(p, to))) return 0;
    memcpy(equal, v->sym.at, v->size.count * sizeof *equal);
    tc__equate_all(p->ix, p->need, p->needs, equal, (uint32_t)v->size.count);
    m = tc__meta_under(p, equal, &m);
    tc__meta n = tc__meta_under(p, equal, to);
    if (!tc__shown_shape(p, from, equal, &l)) return 0;
    int ok = !s->view ? tc__is_empty(&n) || tc__copy_always(p, &l, &n)
                      : tc__reshape_is_same(&m, &n) || tc__view_always(p, s, &n, &l);
    if (!ok)
        p->why = "a reshape that shows memory for some of them, and copies it for others";
    return ok;
}
