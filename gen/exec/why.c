// Why the programs that there are did not fit a path, in words: the log channel recompiles, and the summary of
// tc_explain. Input: the path and its siblings. Output: text.
//
// One idea: a path is told from the known one that goes on longest like it. Where that comes to an end, or only
// sizes and values differ, is the reason.

// Whether the words of an op do not tell its sizes and dtype: dumps have them at the end of the line.
static int tc__type_is_untold(const tc__step *s) {
    int op = s->op;
    return tc__ops[op].kind == TC__KIND_SOURCE || op == TC_OP_RESHAPE ||
           op == TC_OP_EXPAND || op == TC_OP_CAST;
}

static void tc__put_strides(tc__text *t, const tc__binding *b) {
    tc__shape l;
    if (b->shape)
        l = *b->shape;
    else
        tc__shape_of_layout(tc__layout_at(t->ctx, b->layout), &l);
    if (l.contiguous) return;
    tc__put(t, " by ");
    tc__dump_dims(t, &tc__recorder_of(t->ctx)->ix, l.rank, l.strides);
}

static void tc__put_alternative(tc__text *t, const tc__step *s) {
    const tc__ixpool *p = &tc__recorder_of(t->ctx)->ix;
    tc__dump_step(t, p, s);
    if (tc__type_is_untold(s)) {
        tc__put(t, " %s", tc__dtype(s->meta.dtype)->name);
        tc__dump_dims(t, p, s->meta.rank, s->meta.dims);
    }
    for (uint32_t i = 0; i < s->n_bind; i++) {
        tc__dump_binding(t, p, s, i);
        tc__put_strides(t, &s->bind[i]);
    }
}

// What a step asks of sizes, where its words do not tell it from another.
static void tc__put_conditions(tc__text *t, const tc__step *s) {
    for (uint32_t i = 0; i < s->n_guard; i++) {
        tc__put(t, i ? ", " : " while ");
        tc__put_relation(t, &s->guard[i]);
    }
    if (!s->n_guard) tc__put(t, " for these sizes");
}

static void tc__put_shows(tc__text *t, const tc__step *s) {
    tc__put(t, s->view ? ", a view" : ", a copy");
}

// "mul x0 arg0 (a.c:20), was mul x0 2 (a.c:20)"
static void tc__put_alternatives(tc__text *t, const tc__step *is, const tc__step *was) {
    tc__text a, b;
    tc__text_init(&a, t->ctx), tc__text_init(&b, t->ctx);
    tc__put_alternative(&a, is), tc__put_alternative(&b, was);
    if (is->op == was->op && !is->view != !was->view)
        tc__put_shows(&a, is), tc__put_shows(&b, was);
    if (a.at && b.at && !strcmp(a.at, b.at))
        tc__put_conditions(&a, is), tc__put_conditions(&b, was);
    tc__put(&a, " ("), tc__put_site(&a, is->site), tc__put(&a, "), was ");
    tc__put(&b, " ("), tc__put_site(&b, was->site), tc__put(&b, ")");
    if (a.at && b.at) tc__put(t, "%s%s", a.at, b.at);
    tc__text_free(&a), tc__text_free(&b);
}

static int tc__same_words(const tc__step *a, const tc__step *b) {
    return a->op == b->op && a->args == b->args && a->n_attr == b->n_attr &&
           a->n_bind == b->n_bind &&
           (!a->n_attr || !memcmp(a->attr, b->attr, a->n_attr * sizeof *a->attr));
}

static tc__shape tc__bound_shape(tc_ctx *c, const tc__binding *b) {
    tc__shape s;
    if (b->shape) return *b->shape;
    tc__shape_of_layout(tc__layout_at(c, b->layout), &s);
    return s;
}

// "s0 (now 9)": a size of the path, and what it was when that was made.
static void tc__put_size_now(tc__text *t, const tc__step *s, tc__ix e) {
    const tc__ixpool *p = &tc__recorder_of(t->ctx)->ix;
    tc__ixenv env;
    memset(&env, 0, sizeof env);
    env.sym = s->hint;
    tc__dump_ix(t, p, e);
    if (!tc__ix_is_const(e) && s->hint)
        tc__put(t, " (now %lld)", (long long)tc__ix_eval(p, e, &env));
}

// "size 0 of x0 is s0 (now 9), was 8 (mul, a.c:20)" of steps that differ in nothing but sizes of what they take
// from outside; 0 = they do not, nothing is put.
static int tc__put_other_sizes(tc__text *t, const tc__step *is, const tc__step *was) {
    const tc__ixpool *p = &tc__recorder_of(t->ctx)->ix;
    int told = 0;
    if (!tc__same_words(is, was)) return 0;
    for (uint32_t i = 0; i < is->n_bind; i++) {
        tc__shape a = tc__bound_shape(t->ctx, &is->bind[i]);
        tc__shape b = tc__bound_shape(t->ctx, &was->bind[i]);
        for (int d = 0; d < a.rank; d++) {
            if (a.dims[d] == b.dims[d]) continue;
            tc__put(t, "%ssize %d of x%u is ", told++ ? ", " : "", d,
                    (unsigned)(is->first_external + i));
            tc__put_size_now(t, is, a.dims[d]);
            tc__put(t, ", was ");
            tc__dump_ix(t, p, b.dims[d]);
        }
    }
    if (!told) return 0;
    tc__put(t, " (%s, ", tc__step_name(is));
    tc__put_site(t, is->site);
    tc__put(t, ")");
    return 1;
}

// Of the steps beside path.at[first], the one that is like it and goes on longest like the path; NULL = none is. *apart
// is where that one goes another way; NULL = nowhere.
static const tc__step *tc__path_nearest(tc_ctx *c, const tc__visit *v, uint32_t first,
                                        const tc__step **apart) {
    const tc__step *s = v->path.at[first]->parent->next;
    const tc__step *before = NULL, *begin = NULL, *nearest = NULL;
    size_t at = first;
    for (*apart = NULL;;) {
        for (; s && !tc__step_is_like(c, v, s, v->path.at[at]); s = s->sibling)
            if (at > first && (!*apart || at > (*apart)->position))
                *apart = s, nearest = begin;
        if (!s && at == first) return nearest;
        if (s && at == first) begin = s;
        if (s && at + 1 == v->path.count) return *apart = NULL, begin;
        if (s) // deeper
            before = s, s = s->next, at++;
        else // back
            s = before->sibling, before = before->parent, at--;
    }
}

// What keeps the sizes of the path.
static void tc__put_sizes_stay(tc__text *t, const tc__step *fork) {
    const tc__fixed *f = fork->fixed;
    if (!f) return;
    tc__put(t, "; sizes stay fixed because of %s at ", tc__step_name(f->step));
    tc__put_site(t, f->step->site);
    tc__put(t, ", %s", f->why ? f->why : "which does not take them at run time");
}

// The first step beside `fork` that was recorded, one of compiled visits if there is any.
static const tc__step *tc__step_beside(const tc__step *fork) {
    const tc__step *was = NULL;
    for (const tc__step *s = fork->parent->next; s; s = s->sibling)
        if (s != fork && (!was || was->op == TC_OP_FORCE_EAGER)) was = s;
    return was;
}

// The stance alone is another: 0 = it is not, nothing is put.
static int tc__put_other_stance(tc__text *t, const tc__step *is, const tc__step *was) {
    if (is->op != TC_OP_FORCE_EAGER && was->op != TC_OP_FORCE_EAGER) return 0;
    tc__put(t, "it is the first visit %s TC_STANCE_FORCE_EAGER",
            is->op == TC_OP_FORCE_EAGER ? "under" : "outside of");
    return 1;
}

// A new path leaves the known ones at its last step that has a sibling: below that all is new.
static void tc__put_miss(tc__text *t, const tc__visit *v) {
    const tc__step *fork = NULL, *apart;
    for (size_t i = 0; i < v->path.count; i++)
        if (v->path.at[i]->parent->next->sibling) fork = v->path.at[i];
    size_t n = v->path.count;
    if (!fork) {
        const tc__step *last = NULL; // break, ahead of the segment that ends the path
        for (size_t i = 0; i + 1 < n; i++)
            if (v->path.at[i]->op == TC_OP_BREAK) last = v->path.at[i];
        tc__put(t, "nothing was recorded ");
        if (last) tc__put(t, "behind the graph break at "), tc__put_site(t, last->site);
        tc__put(t, last ? " before" : "before");
        return;
    }
    const tc__step *was = tc__path_nearest(t->ctx, v, fork->position, &apart);
    const tc__step *is = apart ? v->path.at[apart->position] : fork;
    if (apart || !was || !tc__put_other_sizes(t, is, was)) {
        if (!was) was = tc__step_beside(fork);
        if (!apart && tc__put_other_stance(t, is, was)) return;
        tc__put(t, "step %u is ", (unsigned)is->position);
        tc__put_alternatives(t, is, apart ? apart : was);
    }
    tc__put_sizes_stay(t, fork);
}
