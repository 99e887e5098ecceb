// The public calls for loops. Input: a body, what it begins with, and rows. Output: in a region LOOP, the steps of one
// turn, END_LOOP, and what is left of it (CARRIED, STACKED); outside the body's calls, one turn after the other.
//
// A body is recorded once, in line: its steps are followed, guarded and given run-time sizes like all others. That
// they belong together tells tc__step.loop alone. graph/build.c makes nodes of one turn, graph/derive_loop.c a second
// loop that goes back, pass/loops.c memory, exec/loops.c runs it.

enum { TC__LOOP_MOST = 64 }; // carries, rows, results

typedef struct tc__scanning {
    tc__api f; // about xs[0]
    tc_body body;
    void *user;
    const tc_tensor *init, *xs;
    int n_carry, n_xs, n_ys;
    int64_t turns;
    tc_tensor *last, *ys;
    tc_tensor in[2 * TC__LOOP_MOST], out[2 * TC__LOOP_MOST]; // of the body
} tc__scanning;

// ---- what is given ----

static int tc__scan_counts(const tc__scanning *s) {
    const char *who = s->f.who;
    tc_ctx *c = s->f.c;
    if (!s->body) return tc__fail(c, TC_E_NULL, "%s: the body is null", who);
    if (s->n_xs < 1 || !s->xs)
        return tc__fail(c, TC_E_ARG,
                        "%s: there are no xs; it needs rows of something, which tc_arange "
                        "numbers",
                        who);
    if (s->n_carry < 0 || s->n_carry > TC__LOOP_MOST || s->n_xs > TC__LOOP_MOST ||
        s->n_ys < 0 || s->n_ys > TC__LOOP_MOST)
        return tc__fail(c, TC_E_ARG, "%s: %d carries, %d xs, %d ys; 0 to %d are possible",
                        who, s->n_carry, s->n_xs, s->n_ys, TC__LOOP_MOST);
    if ((s->n_carry && (!s->init || !s->last)) || (s->n_ys && !s->ys))
        return tc__fail(c, TC_E_NULL, "%s: %s is null", who,
                        s->n_ys && !s->ys ? "ys"
                        : s->init         ? "last"
                                          : "init");
    return s->n_carry + s->n_ys ||
           tc__fail(c, TC_E_ARG, "%s: it has neither carries nor ys", who);
}

static int tc__scan_given(tc__scanning *s) {
    tc__meta m;
    char name[24];
    if (!tc__scan_counts(s)) return 0;
    for (int i = 0; i < s->n_carry; i++) {
        snprintf(name, sizeof name, "init[%d]", i);
        if (!tc__operand_given(&s->f, name, s->init[i]) ||
            !tc__meta_get(&s->f, s->init[i], &m))
            return 0;
    }
    for (int i = 0; i < s->n_xs; i++) {
        snprintf(name, sizeof name, "xs[%d]", i);
        if (!tc__operand_given(&s->f, name, s->xs[i]) ||
            !tc__meta_get(&s->f, s->xs[i], &m))
            return 0;
        if (!m.rank)
            return tc__fail(s->f.c, TC_E_RANK, "%s: %s is a number and has no rows",
                            s->f.who, name);
        if (i && tc__meta_size(&m, 0) != s->turns)
            return tc__fail(s->f.c, TC_E_SHAPE, "%s: xs[0] has %lld rows, %s %lld",
                            s->f.who, (long long)s->turns, name,
                            (long long)tc__meta_size(&m, 0));
        s->turns = tc__meta_size(&m, 0);
    }
    return 1;
}

// ---- one turn ----

// Whether out[i] of the body is what it has to be.
static int tc__scan_out(tc__scanning *s, int i) {
    tc__meta m, want;
    char name[24], x[160], y[160];
    snprintf(name, sizeof name, "out[%d] of the body", i);
    if (!tc__operand_given(&s->f, name, s->out[i]) || !tc__meta_get(&s->f, s->out[i], &m))
        return 0;
    if (i >= s->n_carry) return 1;
    if (!tc__meta_get(&s->f, s->init[i], &want)) return 0;
    int same = m.rank == want.rank;
    for (int d = 0; d < m.rank && same; d++) same = m.dims[d] == want.dims[d];
    if (same && m.dtype == want.dtype) return 1;
    return tc__fail(s->f.c, same ? TC_E_DTYPE : TC_E_SHAPE,
                    "%s: %s is %s%s, carry %d was %s%s; a carry stays as it was", s->f.who,
                    name, tc__dtype(m.dtype)->name, tc__dims_text(&m, x), i,
                    tc__dtype(want.dtype)->name, tc__dims_text(&want, y));
}

// Calls the body on s->in. What fails there bears its own name.
static int tc__scan_turn(tc__scanning *s) {
    tc__core *core = tc__core_of(s->f.c);
    const char *doing = core->doing;
    int ok = 1;
    for (int i = 0; i < s->n_carry + s->n_ys; i++) s->out[i] = tc__null();
    core->doing = NULL;
    s->body(s->f.c, s->in, s->out, s->user);
    core->doing = doing;
    if (core->unit_item) return 0;
    for (int i = 0; i < s->n_carry + s->n_ys && ok; i++) ok = tc__scan_out(s, i);
    return ok;
}

// ---- in a region ----

static int tc__loop_mark(const tc__scanning *s, tc__op op, const tc_tensor *in, uint32_t n_in,
                         int64_t word) {
    tc__call k;
    memset(&k, 0, sizeof k);
    k.op = op, k.in = in, k.n_in = n_in, k.attr = &word, k.n_attr = 1;
    k.site.file = s->f.file, k.site.line = s->f.line;
    return tc__visit_step(s->f.c, tc__recorder_of(s->f.c)->visit, &k) != NULL;
}

// What of a step may not be in a body that begins at position `begin`; NULL = it may.
static const char *tc__loop_refuses(const tc__visit *v, const tc__step *s, uint32_t begin) {
    uint32_t to = s->op == TC_OP_COPY_ ? tc__memory_of(v, s->in[0]) : begin;
    if (to & TC__EXTERNAL || to < begin)
        return "writes in place what is from outside of it; make that a carry";
    if (s->op == TC_OP_RANDOM)
        return "draws random numbers; draw them before the loop, and give them as rows";
    if (s->op == TC_OP_KEEP) return "keeps a tensor; give it as a result";
    return s->op == TC_OP_BREAK ? "reads a value" : NULL;
}

static int tc__loop_allowed(const tc__scanning *s, uint32_t begin) {
    const tc__visit *v = tc__recorder_of(s->f.c)->visit;
    for (size_t i = begin; i < v->path.count; i++) {
        const tc__step *step = v->path.at[i];
        const char *why = tc__loop_refuses(v, step, begin);
        if (!why) continue;
        tc__site_set(s->f.c, step->site);
        return tc__fail(s->f.c, TC_E_UNSUPPORTED, "%s: the body %s", s->f.who, why);
    }
    return 1;
}

// The steps of one turn; next[i] = NEXT of carry i.
static int tc__loop_record(tc__scanning *s, int64_t loop, tc_tensor *next) {
    tc_tensor pair[2];
    int64_t word[2];
    int ok = 1;
    word[TC__CARRY_LOOP] = loop;
    for (int i = 0; i < s->n_carry && ok; i++) {
        word[TC__CARRY_NUMBER] = i;
        s->in[i] = tc__prim(&s->f, TC_OP_CARRY, s->init[i], word, 2);
        ok = s->in[i].id != 0;
    }
    for (int i = 0; i < s->n_xs && ok; i++) {
        s->in[s->n_carry + i] = tc__prim(&s->f, TC_OP_EACH, s->xs[i], &loop, 1);
        ok = s->in[s->n_carry + i].id != 0;
    }
    ok = ok && tc__scan_turn(s);
    for (int i = 0; i < s->n_carry && ok; i++) {
        word[TC__NEXT_NUMBER] = i;
        pair[0] = s->in[i], pair[1] = s->out[i];
        next[i] = tc__prim_n(&s->f, TC_OP_NEXT, pair, 2, word, 2);
        ok = next[i].id != 0;
    }
    return ok;
}

// What is left behind the loop.
static int tc__loop_results(tc__scanning *s, int64_t loop, const tc_tensor *next) {
    tc_tensor pair[2];
    int64_t word[2];
    int ok = 1;
    word[TC__CARRIED_LOOP] = loop;
    for (int i = 0; i < s->n_carry && ok; i++) {
        word[TC__CARRIED_NUMBER] = i;
        s->last[i] = tc__prim(&s->f, TC_OP_CARRIED, next[i], word, 2);
        ok = s->last[i].id != 0;
    }
    for (int i = 0; i < s->n_ys && ok; i++) {
        pair[0] = s->out[s->n_carry + i], pair[1] = s->xs[0];
        s->ys[i] = tc__prim_n(&s->f, TC_OP_STACKED, pair, 2, &loop, 1);
        ok = s->ys[i].id != 0;
    }
    return ok;
}

static int tc__scan_recorded(tc__scanning *s) {
    tc__visit *v = tc__recorder_of(s->f.c)->visit;
    tc_tensor next[TC__LOOP_MOST];
    int64_t loop = v->loops++, outer = v->at->loop;
    uint32_t begin = (uint32_t)v->path.count;
    if (!tc__loop_mark(s, TC_OP_LOOP, s->xs, 1, loop)) return 0;
    int ok = tc__loop_record(s, loop, next) && tc__loop_allowed(s, begin);
    ok = tc__loop_mark(s, TC_OP_END_LOOP, NULL, 0, outer) && ok;
    return ok && tc__loop_results(s, loop, next);
}

// ---- outside ----

// Puts what the body made for row t into ys.
static int tc__scan_put(tc__scanning *s, int64_t t) {
    tc__meta m;
    const char *file = s->f.file;
    int line = s->f.line;
    for (int i = 0; i < s->n_ys; i++) {
        tc_tensor y = s->out[s->n_carry + i];
        if (!s->ys[i].id) {
            tc_dims d;
            if (!tc__meta_get(&s->f, y, &m)) return 0;
            if (m.rank == TC_MAX_RANK)
                return tc__fail(s->f.c, TC_E_RANK,
                                "%s: rows of %d dimensions make %d, %d are possible",
                                s->f.who, m.rank, m.rank + 1, TC_MAX_RANK);
            d = tc__meta_dims(&m);
            tc__dims_insert(&d, 0, s->turns);
            s->ys[i] = tc_zeros_at(s->f.c, d, (tc_dtype)m.dtype, file, line);
        }
        if (t == s->turns) continue;
        tc_tensor row = tc_select_at(s->ys[i], 0, t, file, line);
        if (!row.id || !tc_copy__at(row, y, file, line).id) return 0;
    }
    return 1;
}

// Row t of all xs; behind the last one zeros.
static int tc__scan_rows(tc__scanning *s, int64_t t) {
    for (int i = 0; i < s->n_xs; i++) {
        tc__meta m;
        tc_tensor *x = &s->in[s->n_carry + i];
        if (t < s->turns) {
            *x = tc_select_at(s->xs[i], 0, t, s->f.file, s->f.line);
        } else {
            if (!tc__meta_get(&s->f, s->xs[i], &m)) return 0;
            tc_dims d = tc__meta_dims(&m);
            memmove(d.size, d.size + 1, (size_t)--d.rank * sizeof *d.size);
            *x = tc_zeros_at(s->f.c, d, (tc_dtype)m.dtype, s->f.file, s->f.line);
        }
        if (!x->id) return 0;
    }
    return 1;
}

// The body is called for each row; without rows once, so that there are ys.
static int tc__scan_eager(tc__scanning *s) {
    int ok = 1;
    for (int i = 0; i < s->n_carry; i++) s->last[i] = s->init[i];
    for (int64_t t = 0; ok && (t < s->turns || (!t && s->n_ys)); t++) {
        tc_scope_begin(s->f.c);
        memcpy(s->in, s->last, (size_t)s->n_carry * sizeof *s->in);
        ok = tc__scan_rows(s, t) && tc__scan_turn(s);
        for (int i = 0; i < s->n_carry && ok && t < s->turns; i++) s->last[i] = s->out[i];
        // Rows go where they are of the scope around.
        tc_tensor keep[2 * TC__LOOP_MOST];
        memcpy(keep, s->out, sizeof keep);
        tc__scope_end(s->f.c, keep, ok ? s->n_carry + s->n_ys : 0, s->f.file, s->f.line);
        ok = ok && tc__scan_put(s, t);
    }
    // A carry that nobody changed is still the caller's tensor.
    for (int i = 0; i < s->n_carry && ok; i++) {
        s->last[i] = tc_clone_at(s->last[i], s->f.file, s->f.line);
        ok = s->last[i].id != 0;
    }
    return ok;
}

static tc_status tc__scan_run(tc__scanning *s) {
    tc_tensor all[2 * TC__LOOP_MOST];
    tc_ctx *c = s->f.c;
    for (int i = 0; i < s->n_carry && s->last; i++) s->last[i] = tc__null();
    for (int i = 0; i < s->n_ys && s->ys; i++) s->ys[i] = tc__null();
    tc_status outer = tc__unit_begin(c);
    int ok = tc__scan_given(s) &&
             (tc__is_recording(c) ? tc__scan_recorded(s) : tc__scan_eager(s));
    tc_status status = tc__unit_end(c, outer, ok);
    for (int i = 0; i < s->n_carry && s->last; i++) {
        if (status) s->last[i] = tc__null();
        all[i] = s->last[i];
    }
    for (int i = 0; i < s->n_ys && s->ys; i++) {
        if (status) s->ys[i] = tc__null();
        all[s->n_carry + i] = s->ys[i];
    }
    tc__leave_many(&s->f, all, status ? 0 : s->n_carry + s->n_ys);
    return status;
}

TCDEF tc_status tc_scan_at(tc_body body, void *user, const tc_tensor *init, int n_carry,
                           const tc_tensor *xs, int n_xs, tc_tensor *last, tc_tensor *ys,
                           int n_ys, const char *file, int line) {
    tc__scanning s;
    tc_tensor of = n_xs > 0 && xs ? xs[0] : n_carry > 0 && init ? init[0] : tc__null();
    memset(&s, 0, sizeof s);
    s.body = body, s.user = user, s.init = init, s.xs = xs;
    s.n_carry = n_carry, s.n_xs = n_xs, s.n_ys = n_ys, s.last = last, s.ys = ys;
    if (!tc__begin(&s.f, "tc_scan", of, file, line)) return tc__api_refused(&s.f, of);
    return tc__scan_run(&s);
}
