// Promotion: a path that repeats a known one with other sizes or values becomes one path for both.
//
// A visit that left the known paths has recorded steps of its own, with the sizes and values of that
// visit. When its segment ends, a known continuation of the same structure is looked for beside
// them. Where the two differ, the new steps get symbols: a size that an earlier symbol explains is
// that, one of the operand's sizes or a product of neighbours there, a size of an earlier step, a
// multiple of a symbol, or it plus a constant; else it is a symbol of its own. Then the shape
// rules run over the steps again, and what they have to assume becomes the conditions of the path
// (graph/infer.c). The known path stays, and is tried first.
//
// A wrong guess costs a program, never a result: at every visit an expression is compared
// with the call's size, but a symbol at its first place, which takes it. Symbols are
// numbered along the path, so a visit has a plain array of their values. A reshape of a
// view keeps free sizes where strides and sizes tell by their expressions that it is one, and where few conditions
// keep it a copy (graph/promote_reshape.c).
// Behind a graph break a new path is compared with what followed the break on the path it
// was made like (tc__twin). There are no variants for divisible sizes: kernels with
// run-time sizes take 0.8 to 1.0 of the time of fixed ones.

// ---- the same structure ----

static int tc__shapes_alike(tc_ctx *c, const tc__binding *a, const tc__binding *b) {
    tc__shape x, y;
    if (!a->shape) tc__shape_of_layout(tc__layout_at(c, a->layout), &x);
    if (!b->shape) tc__shape_of_layout(tc__layout_at(c, b->layout), &y);
    const tc__shape *s = a->shape ? a->shape : &x, *t = b->shape ? b->shape : &y;
    return s->dtype == t->dtype && s->rank == t->rank && s->contiguous == t->contiguous &&
           s->device == t->device && a->alias == b->alias;
}

static int tc__steps_alike(tc_ctx *c, const tc__step *a, const tc__step *b) {
    if (a->op != b->op || a->n_in != b->n_in || a->n_attr != b->n_attr) return 0;
    if (a->n_bind != b->n_bind || !a->view != !b->view) return 0;
    if (a->device != b->device) return 0;
    if (a->meta.dtype != b->meta.dtype || a->meta.rank != b->meta.rank) return 0;
    if (a->n_in && memcmp(a->in, b->in, a->n_in * sizeof *a->in)) return 0;
    for (uint32_t i = 0; i < a->n_attr; i++)
        if (tc__slot_of((tc__op)a->op, a->n_attr, i) == TC__SLOT_FIXED &&
            a->attr[i] != b->attr[i])
            return 0;
    for (uint32_t i = 0; i < a->n_bind; i++)
        if (!tc__shapes_alike(c, &a->bind[i], &b->bind[i])) return 0;
    return 1;
}

static int tc__steps_same_size(const tc__step *a, const tc__step *b) {
    for (uint32_t i = 0; i < a->n_attr; i++)
        if (tc__slot_of((tc__op)a->op, a->n_attr, i) == TC__SLOT_SIZE &&
            a->attr[i] != b->attr[i])
            return 0;
    for (uint32_t i = 0; i < a->n_bind; i++)
        if (a->bind[i].layout != b->bind[i].layout) return 0;
    return !memcmp(a->meta.dims, b->meta.dims, a->meta.rank * sizeof *a->meta.dims);
}

static int tc__step_is_like(tc_ctx *c, const tc__visit *v, const tc__step *s,
                            const tc__step *mine) {
    return s != mine && tc__steps_alike(c, s, mine) &&
           (!v->region->fixed_sizes || tc__steps_same_size(s, mine));
}

// The last step of a path among `s`, its siblings and what follows them that is like the visit's
// from `position` on, after so many others; NULL = none.
static tc__step *tc__path_alike(tc_ctx *c, const tc__visit *v, tc__step *s, size_t position,
                                int *others) {
    size_t first = position;
    for (tc__step *before = NULL;;) {
        while (s && !tc__step_is_like(c, v, s, v->path.at[position])) s = s->sibling;
        int last = position + 1 == v->path.count;
        if (s && last && !(*others)--) return s;
        if (!s && position == first) return NULL;
        if (s && last) { // another
            s = s->sibling;
        } else if (s) { // deeper
            before = s, s = s->next, position++;
        } else { // back
            s = before->sibling, before = before->parent, position--;
        }
    }
}

// The same among paths with run-time sizes first: they need the fewest new symbols.
static tc__step *tc__path_among(tc_ctx *c, const tc__visit *v, tc__step *first,
                                int *others) {
    for (tc__step *s = first; s; s = s->sibling) {
        tc__step *rest = s->sibling;
        s->sibling = NULL;
        tc__step *end = s->symbolic ? tc__path_alike(c, v, s, v->fresh, others) : NULL;
        s->sibling = rest;
        if (end) return end;
    }
    return tc__path_alike(c, v, first, v->fresh, others);
}

// The known path that the visit's new steps are like: beside them, or behind the twin of the graph
// break before them (*twin then). NULL = none.
static tc__step *tc__path_known(tc_ctx *c, const tc__visit *v, const tc__twin **twin,
                                int *others) {
    const tc__step *parent = v->path.at[v->fresh]->parent;
    tc__step *end = tc__path_among(c, v, parent->next, others);
    *twin = NULL;
    if (end || !parent->twin) return end;
    *twin = parent->twin;
    end = tc__path_among(c, v, parent->twin->step->next, others);
    // Recorded with the sizes that the break was: else those of the twin say nothing.
    size_t n = parent->twin->n_known;
    if (end && n && memcmp(end->hint, parent->twin->step->hint, n * sizeof *end->hint))
        return NULL;
    return end;
}

// ---- one step ----

// The rules of the op over the new sizes; 0 = they refuse them.
static int tc__step_rules(tc__promoter *p, tc__step *s, tc__infer *q) {
    tc__visit *v = p->v;
    tc__meta m[TC__MAX_OPERANDS];
    int64_t words[TC__MAX_OPERANDS];
    tc__call k;
    memset(q, 0, sizeof *q);
    if (tc__is_mark((tc__op)s->op, s->n_in)) return 1;
    memset(&k, 0, sizeof k);
    for (uint32_t i = 0; i < s->n_in; i++) tc__code_meta(p->ctx, v, s->in[i], &m[i]);
    for (uint32_t i = 0; i < s->n_attr; i++)
        words[i] = s->args >> i & 1 ? v->arg.at[s->attr[i]] : s->attr[i];
    k.op = (tc__op)s->op, k.n_in = s->n_in, k.n_attr = s->n_attr, k.attr = words;
    k.dtype = s->meta.dtype, k.rank = s->meta.rank;
    if (tc__ops[s->op].kind == TC__KIND_SOURCE) k.dims = s->meta.dims;
    v->pending = p->need, v->n_pending = p->needs;
    int ok = tc__call_rules(p->ctx, v, &k, m, q);
    v->pending = NULL, v->n_pending = 0;
    return ok && !q->exact && q->out.dtype == s->meta.dtype;
}

// Sizes of a source: zeros, arange, rand.
static int tc__source_promote(tc__promoter *p, tc__step *s, const tc__step *old) {
    if (tc__ops[s->op].kind != TC__KIND_SOURCE || s->op == TC_OP_FINISH) return 1;
    for (int d = 0; d < s->meta.rank; d++) {
        int64_t now = tc__visit_eval(p->ctx, p->v, s->meta.dims[d]);
        if (s->meta.dims[d] == old->meta.dims[d] && tc__ix_is_const(old->meta.dims[d])) {
            tc__ix e = p->single ? tc__size_equal(p, now) : 0;
            if (e) s->meta.dims[d] = e;
            continue;
        }
        s->meta.dims[d] = tc__size_promote(p, old->meta.dims[d], now, 1, 0);
        if (!s->meta.dims[d]) return 0;
    }
    return 1;
}

// The step is complete: it follows the one before it.
static int tc__step_finish(tc__promoter *p, tc__step *s, const tc__infer *q) {
    tc__visit *v = p->v;
    uint32_t n = p->needs + q->needs;
    tc__relation *guard = TC__ANEW_ARRAY(&v->branch->arena, tc__relation, n + 1);
    if (!guard) return 0;
    memcpy(guard, p->need, p->needs * sizeof *guard);
    memcpy(guard + p->needs, q->need, q->needs * sizeof *guard);
    s->guard = guard, s->n_guard = n, s->meta = q->out;
    s->symbolic = n || s->args || tc__any_symbol(s->meta.rank, s->meta.dims);
    for (uint32_t i = 0; i < s->n_bind; i++) s->symbolic |= s->bind[i].shape != NULL;
    s->form = tc__step_form(s);
    s->symbolic |= !s->form && s->op != TC_OP_COPY_;
    s->parent = v->at, s->kept = tc__step_kept(s);
    if (v->at != &v->region->root && s->position != v->fresh) v->at->next = s;
    v->path.at[s->position] = s, v->at = s;
    return tc__sizes_note(p, &s->meta);
}

// Replaces the step at `position` by one for both paths; 0 = not possible.
static int tc__step_promote(tc__promoter *p, uint32_t position, const tc__step *old) {
    tc__visit *v = p->v;
    tc__arena *a = &v->branch->arena;
    const tc__step *was = v->path.at[position];
    tc__step *s = TC__ANEW(a, tc__step);
    int64_t *attr = TC__ANEW_ARRAY(a, int64_t, was->n_attr + 1);
    tc__binding *bind = TC__ANEW_ARRAY(a, tc__binding, was->n_bind + 1);
    tc__infer q;
    if (!s || !attr || !bind) return 0;
    *s = *was;
    s->branch = v->branch;
    s->attr = attr, s->bind = bind, s->program = NULL, s->next = s->sibling = NULL;
    s->first_size = (uint32_t)v->size.count, s->first_arg = (uint32_t)v->arg.count;
    s->args = 0, s->whole = 0, s->fixed = NULL, p->needs = 0, p->step = NULL;
    if (was->n_attr) memcpy(attr, was->attr, was->n_attr * sizeof *attr);
    if (was->n_bind) memcpy(bind, was->bind, was->n_bind * sizeof *bind);
    for (uint32_t i = 0; i < s->n_bind; i++) {
        tc__external *e = &v->external.at[s->first_external + i];
        if (!tc__bind_promote(p, e->handle, &old->bind[i], &bind[i])) return 0;
        e->shape = bind[i].shape;
    }
    p->step = s;
    return tc__attrs_promote(p, s, old->attr, attr) &&
           tc__args_promote(p, s, was, old, attr) && tc__source_promote(p, s, old) &&
           tc__step_rules(p, s, &q) && tc__reshape_settle(p, s, &q.out) &&
           tc__step_finish(p, s, &q);
}

// ---- the path ----

// What a visit has, to put back when promotion is not possible.
typedef struct tc__visit_copy {
    tc__step **path; // from v->fresh on
    int64_t *arg;    // all of v->arg
    tc__step *at;
    size_t steps, sizes, args;
} tc__visit_copy;

static int tc__visit_save(tc_ctx *c, const tc__visit *v, tc__visit_copy *s) {
    memset(s, 0, sizeof *s);
    s->steps = v->path.count - v->fresh, s->args = v->arg.count, s->at = v->at;
    s->sizes = v->size.count;
    s->path = TC__NEW_ARRAY(c, tc__step *, s->steps);
    s->arg = TC__NEW_ARRAY(c, int64_t, s->args + 1);
    if (!s->path || !s->arg) return 0;
    memcpy(s->path, &v->path.at[v->fresh], s->steps * sizeof *s->path);
    if (s->args) memcpy(s->arg, v->arg.at, s->args * sizeof *s->arg);
    return 1;
}

static void tc__visit_restore(tc__visit *v, const tc__visit_copy *s) {
    memcpy(&v->path.at[v->fresh], s->path, s->steps * sizeof *s->path);
    tc__views_forget(v);
    v->size.count = s->sizes, v->arg.count = s->args, v->at = s->at;
    if (s->args) memcpy(v->arg.at, s->arg, s->args * sizeof *s->arg);
    for (size_t i = s->path[0]->first_external; i < v->external.count; i++)
        v->external.at[i].shape = NULL;
}

static void tc__visit_drop_copy(tc_ctx *c, tc__visit_copy *s) {
    if (s->path) tc__free(c, s->path, (s->steps ? s->steps : 1) * sizeof *s->path);
    if (s->arg) tc__free(c, s->arg, (s->args + 1) * sizeof *s->arg);
}

// The symbols of the steps before the fork, which both paths have.
static int tc__promote_prefix(tc__promoter *p, const tc__step *first) {
    tc__visit *v = p->v;
    const tc__twin *t = p->twin;
    for (uint32_t i = 0; i < first->first_size; i++) {
        tc__seen s;
        s.was = t ? t->was[i] : p->hint[i], s.now = v->size.at[i];
        if (!TC__PUSH(p->ctx, p->seen, s)) return 0;
        if (!t && !TC__PUSH(p->ctx, p->known, v->sym.at[i])) return 0;
    }
    for (uint32_t i = 0; t && i < t->n_known; i++)
        if (!TC__PUSH(p->ctx, p->known, t->known[i])) return 0;
    for (size_t i = 0; i < v->fresh; i++)
        if (!tc__sizes_note(p, &v->path.at[i]->meta)) return 0;
    tc__views_forget(v);
    v->size.count = first->first_size, v->arg.count = first->first_arg;
    v->at = first->parent;
    return 1;
}

// A break remembers the path that it is like.
static int tc__promote_twin(tc__promoter *p, tc__step *end, tc__step *old) {
    tc__arena *a = &p->v->branch->arena;
    size_t n = p->seen.count, known = p->known.count;
    if (end->op != TC_OP_BREAK || p->single) return 1;
    tc__twin *t = TC__ANEW(a, tc__twin);
    int64_t *was = TC__ANEW_ARRAY(a, int64_t, n + 1);
    tc__ix *is = TC__ANEW_ARRAY(a, tc__ix, known + 1);
    if (!t || !was || !is) return 0;
    for (size_t i = 0; i < n; i++) was[i] = p->seen.at[i].was;
    for (size_t i = 0; i < known; i++) is[i] = p->known.at[i];
    t->step = old, t->was = was, t->n_known = (uint32_t)known;
    t->known = is;
    end->twin = t;
    return 1;
}

static int tc__promote_steps(tc__promoter *p, tc__step *end) {
    tc__visit *v = p->v;
    size_t n = v->path.count - v->fresh;
    tc__step **old = TC__NEW_ARRAY(p->ctx, tc__step *, n);
    int ok = old != NULL;
    for (size_t i = n; ok && i-- > 0; end = end->parent) old[i] = end;
    ok = ok && tc__promote_prefix(p, v->path.at[v->fresh]);
    for (size_t i = 0; ok && i < n; i++)
        ok = tc__step_promote(p, v->fresh + (uint32_t)i, old[i]) && !p->ix->failed;
    p->ix->failed = 0; // expressions too large: the sizes stay as they are
    tc__free(p->ctx, old, n * sizeof *old);
    return ok;
}

// The new path takes the place of what was recorded, behind the paths that are known.
static int tc__promote_link(tc__promoter *p, const tc__visit_copy *was) {
    tc__visit *v = p->v;
    tc__step *first = v->path.at[v->fresh], **at = &first->parent->next;
    size_t n = v->size.count;
    int64_t *hint = TC__ANEW_ARRAY(&v->branch->arena, int64_t, n + 1);
    if (!hint) return 0;
    if (n) memcpy(hint, v->size.at, n * sizeof *hint);
    for (size_t i = v->fresh; i < v->path.count; i++) v->path.at[i]->hint = hint;
    while (*at)
        if (*at == was->path[0])
            *at = (*at)->sibling;
        else
            at = &(*at)->sibling;
    *at = first;
    return 1;
}

// Whether the visit recorded something that is to have run-time sizes from the start.
static int tc__sizes_wanted(const tc__promoter *p) {
    const tc__visit *v = p->v;
    if (v->region->fixed_sizes) return 0;
    for (size_t i = v->path.at[v->fresh]->first_external; i < v->external.count; i++) {
        const tc__layout *l = tc__layout_at(p->ctx, v->external.at[i].layout);
        const tc__marks *m = tc__marks_of(p->ctx, v->external.at[i].handle);
        for (int d = 0; d < l->rank; d++)
            if (tc__size_wanted(p, m, d, l->dims[d])) return 1;
    }
    return 0;
}

// The path stays as it was recorded, because of the step that was to be made last.
static void tc__fixed_note(tc__promoter *p, const tc__visit_copy *was) {
    const tc__visit *v = p->v;
    size_t at = v->at->parent ? v->at->position + 1u : v->fresh;
    if (at >= v->path.count) at = v->path.count - 1; // no memory behind the last one
    const tc__step *s = was->path[at < v->fresh ? 0 : at - v->fresh];
    tc__log(p->ctx, TC__LOG_PERF,
            "region \"%s\": sizes stay fixed because of the call at %s:%d", v->region->name,
            s->site.file ? s->site.file : "?", s->site.line);
    tc__fixed *f = was->path[0]->fixed ? NULL : TC__ANEW(&v->branch->arena, tc__fixed);
    if (!f) return;
    f->step = s, f->why = p->why;
    was->path[0]->fixed = f;
}

// Makes the steps since v->fresh and those up to `end` one path; 0 = not possible, nothing is changed.
static int tc__promote_to(tc__promoter *p, tc__step *end) {
    tc__visit *v = p->v;
    tc__visit_copy was;
    if (!tc__visit_save(p->ctx, v, &was)) return tc__visit_drop_copy(p->ctx, &was), 0;
    tc__error_mark held = tc__error_now(p->ctx);
    p->hint = end->hint, p->value = was.arg;
    int ok = tc__promote_steps(p, end) && tc__promote_link(p, &was) &&
             tc__promote_twin(p, v->at, end);
    if (!ok) {
        // Rules that refuse run-time sizes are no error: the path stays as it was recorded.
        tc__fixed_note(p, &was);
        tc__visit_restore(v, &was);
        tc__error_restore(p->ctx, held);
    }
    TC__VEC_FREE(p->ctx, p->known);
    TC__VEC_FREE(p->ctx, p->seen);
    TC__VEC_FREE(p->ctx, p->made);
    tc__visit_drop_copy(p->ctx, &was);
    return ok;
}

enum { TC__PROMOTE_TRIES = 6 }; // known paths that a new one is compared with

// Makes what the visit recorded since it left the known paths, and one of them, one path with
// run-time sizes and values, if they are alike. The visit is on that path then.
static void tc__visit_promote(tc_ctx *c, tc__visit *v) {
    int able = v->fresh != UINT32_MAX && v->region->options.dynamic != TC_DYNAMIC_OFF;
    for (int k = 0; able && k < TC__PROMOTE_TRIES; k++) {
        tc__promoter p;
        int others = k;
        memset(&p, 0, sizeof p);
        tc__step *end = tc__path_known(c, v, &p.twin, &others);
        p.ctx = c, p.v = v, p.ix = &tc__recorder_of(c)->ix, p.single = !end;
        if (!end && !k && tc__sizes_wanted(&p)) end = v->at;
        able = end && !tc__promote_to(&p, end) && !p.single;
    }
    v->fresh = UINT32_MAX;
}
