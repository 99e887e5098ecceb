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
    const char *called; // what errors have the body as
    int first;          // results of out[] before the user's
    const tc_tensor *init, *xs;
    int n_carry, n_xs, n_ys;
    int64_t turns;
    int times, go, count; // 1 + the carry that is that of the loop: see LOOP of ops.def
    tc_tensor *last, *ys;
    tc_tensor in[2 * TC__LOOP_MOST], out[2 * TC__LOOP_MOST]; // of the body
} tc__scanning;

// ---- what is given ----

static const char tc__scan_no_rows[] =
    "there are no xs; it needs rows of something, which tc_arange numbers";

static int tc__scan_counts(const tc__scanning *s) {
    const char *who = s->f.who;
    tc_ctx *c = s->f.c;
    if (!s->body) return tc__fail(c, TC_E_NULL, "%s: the body is null", who);
    if (s->n_xs < 1 || !s->xs)
        return tc__fail(c, TC_E_ARG, "%s: %s", who, tc__scan_no_rows);
    if (s->n_carry < 0 || s->n_carry > TC__LOOP_MOST || s->n_xs > TC__LOOP_MOST ||
        s->n_ys < 0 || s->n_ys > TC__LOOP_MOST)
        return tc__fail(c, TC_E_ARG, "%s: %d carries, %d xs, %d ys; 0 to %d are possible",
                        who, s->n_carry, s->n_xs, s->n_ys, TC__LOOP_MOST);
    if ((s->n_carry && (!s->init || !s->last)) || (s->n_ys && !s->ys))
        return tc__fail(c, TC_E_NULL, "%s: %s is null", who,
                        s->n_ys && !s->ys ? "ys"
                        : s->init         ? "last"
                                          : "init");
    if (tc__tensors_meet(s->last, s->n_carry, s->ys, s->n_ys))
        return tc__fail(
            c, TC_E_ARG,
            "%s: last and ys are the same memory; either may be that of init or "
            "xs, but each result needs a place of its own",
            who);
    return s->n_carry + s->n_ys ||
           tc__fail(c, TC_E_ARG, "%s: it has neither carries nor ys", who);
}

static int tc__scan_given(tc__scanning *s) {
    tc__meta m;
    char name[40];
    if (!tc__scan_counts(s)) return 0;
    for (int i = 0; i < s->n_carry; i++) {
        snprintf(name, sizeof name, "init[%d]", i);
        if (!tc__operand_need(&s->f, name, s->init[i], &m)) return 0;
    }
    for (int i = 0; i < s->n_xs; i++) {
        snprintf(name, sizeof name, "xs[%d]", i);
        if (!tc__operand_need(&s->f, name, s->xs[i], &m)) return 0;
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
    char x[160], y[160];
    if (!tc__body_gave(s->f.c, s->f.who, s->called, i - s->first, s->out[i], &m)) return 0;
    if (i >= s->n_carry) return 1;
    if (!tc__meta_get(&s->f, s->init[i], &want)) return 0;
    if (tc__meta_alike(&m, &want)) return 1;
    int same = m.rank == want.rank && !memcmp(m.dims, want.dims, m.rank * sizeof *m.dims);
    return tc__fail(s->f.c, same ? TC_E_DTYPE : TC_E_SHAPE,
                    "%s: out[%d] of %s is %s%s, carry %d was %s%s; a carry stays as it was",
                    s->f.who, i, s->called, tc__dtype(m.dtype)->name, tc__dims_text(&m, x),
                    i, tc__dtype(want.dtype)->name, tc__dims_text(&want, y));
}

// ---- calling a body ----

// A body or a test, which leaves all as it was. What fails there bears its own name. 0 = reported.
static int tc__body_run(const tc__api *f, tc_body body, const char *called,
                        const tc_tensor *in, tc_tensor *out, void *user) {
    tc_ctx *c = f->c;
    tc__recorder *r = tc__recorder_of(c);
    const char *loop = r->loop, *loop_body = r->loop_body, *doing = r->values.core.doing;
    tc__site site;
    site.file = f->file, site.line = f->line;
    tc__nesting was = tc__nesting_enter(c, f->who, "", "loop or branch whose body");
    was.called = called;
    r->loop = f->who, r->loop_body = called, r->values.core.doing = NULL;
    body(c, in, out, user);
    r->values.core.doing = doing;
    (void)tc__nesting_leave(c, site, &was);
    r->loop = loop, r->loop_body = loop_body;
    return !tc__core_of(c)->unit_item;
}

// The same, inside of other code of the user's. 0 = reported.
static int tc__body_call(const tc__api *f, tc_body body, const char *called,
                         const tc_tensor *in, tc_tensor *out, void *user) {
    tc_ctx *c = f->c;
    if (!tc__depth_enter(c, &c->bodies, f->who, "")) return 0;
    int ok = tc__body_run(f, body, called, in, out, user);
    tc__depth_leave(c, &c->bodies);
    return ok;
}

// Calls the body on s->in.
static int tc__scan_turn(tc__scanning *s) {
    int ok = 1;
    for (int i = 0; i < s->n_carry + s->n_ys; i++) s->out[i] = tc__null();
    if (!tc__body_call(&s->f, s->body, s->called, s->in, s->out, s->user)) return 0;
    for (int i = 0; i < s->n_carry + s->n_ys && ok; i++) ok = tc__scan_out(s, i);
    return ok;
}

// ---- in a region ----

static int tc__loop_mark(const tc__scanning *s, tc__op op, const tc_tensor *in,
                         uint32_t n_in, const int64_t *word, uint32_t words) {
    tc__call k;
    memset(&k, 0, sizeof k);
    k.op = op, k.in = in, k.n_in = n_in, k.attr = word, k.n_attr = words;
    k.site.file = s->f.file, k.site.line = s->f.line;
    return tc__visit_step(s->f.c, tc__recorder_of(s->f.c)->visit, &k) != NULL;
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

// Whether a loop may begin here; 0 = reported.
static int tc__loop_may_begin(const tc__scanning *s) {
    const tc__visit *v = tc__recorder_of(s->f.c)->visit;
    int checkpoints = 0;
    for (size_t i = 0; i < v->path.count; i++)
        if (v->path.at[i]->op == TC_OP_CHECKPOINT)
            checkpoints += v->path.at[i]->attr[TC__CHECKPOINT_ON] ? 1 : -1;
    if (checkpoints)
        return tc__fail(s->f.c, TC_E_UNSUPPORTED,
                        "%s: not in the body of tc_checkpoint; what a loop computes is "
                        "computed again anyway, and its carries are kept",
                        s->f.who);
    return 1;
}

static int tc__scan_recorded(tc__scanning *s) {
    tc__visit *v = tc__recorder_of(s->f.c)->visit;
    tc_tensor next[TC__LOOP_MOST];
    int64_t loop = v->loops++, outer = v->at->loop, word[4];
    if (!tc__loop_may_begin(s)) return 0;
    word[TC__LOOP_LOOP] = loop, word[TC__LOOP_TIMES] = s->times;
    word[TC__LOOP_GO] = s->go, word[TC__LOOP_COUNT] = s->count;
    if (!tc__loop_mark(s, TC_OP_LOOP, s->xs, 1, word, 4)) return 0;
    int ok = tc__loop_record(s, loop, next);
    ok = tc__loop_mark(s, TC_OP_END_LOOP, NULL, 0, &outer, 1) && ok;
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

// Copies of the carries: a body may write them in place.
static int tc__scan_carries(tc__scanning *s, const tc_tensor *carry) {
    int ok = 1;
    for (int i = 0; i < s->n_carry && ok; i++) {
        s->in[i] = tc_clone_at(carry[i], s->f.file, s->f.line);
        ok = s->in[i].id != 0;
    }
    return ok;
}

// Copies of row t of all xs; behind the last one zeros.
static int tc__scan_rows(tc__scanning *s, int64_t t) {
    for (int i = 0; i < s->n_xs; i++) {
        tc__meta m;
        tc_tensor *x = &s->in[s->n_carry + i];
        if (t < s->turns) {
            *x = tc_select_at(s->xs[i], 0, t, s->f.file, s->f.line);
            if (x->id) *x = tc_clone_at(*x, s->f.file, s->f.line);
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
        ok = tc__scan_carries(s, s->last) && tc__scan_rows(s, t) && tc__scan_turn(s);
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
    tc_tensor all[2 * TC__LOOP_MOST], *last = s->last, *ys = s->ys;
    tc_ctx *c = s->f.c;
    tc_status outer = tc__unit_begin(c);
    int ok = tc__scan_given(s);
    memset(all, 0, sizeof all);
    if (ok) s->last = all, s->ys = all + s->n_carry;
    ok = ok && (tc__is_recording(c) ? tc__scan_recorded(s) : tc__scan_eager(s));
    tc_status status = tc__unit_end(c, outer, ok);
    tc__results_give(last, status ? NULL : s->last, s->n_carry);
    tc__results_give(ys, status ? NULL : s->ys, s->n_ys);
    tc__leave_many(&s->f, all, status ? 0 : s->n_carry + s->n_ys);
    return status;
}

TCDEF tc_status tc_scan_at(tc_body body, void *user, const tc_tensor *init, int n_carry,
                           const tc_tensor *xs, int n_xs, tc_tensor *last, tc_tensor *ys,
                           int n_ys, const char *file, int line) {
    tc__scanning s;
    tc_tensor of = n_xs > 0 && xs ? xs[0] : n_carry > 0 && init ? init[0] : tc__null();
    memset(&s, 0, sizeof s);
    s.body = body, s.user = user, s.init = init, s.xs = xs, s.called = "the body";
    s.n_carry = n_carry, s.n_xs = n_xs, s.n_ys = n_ys, s.last = last, s.ys = ys;
    int none = (n_xs < 1 || !xs) && (n_carry < 1 || !init);
    if (none || !tc__begin(&s.f, "tc_scan", of, file, line)) {
        tc__results_give(last, NULL, n_carry), tc__results_give(ys, NULL, n_ys);
        return none ? tc__fail_at_hand(TC_E_ARG, "tc_scan", tc__scan_no_rows, file, line)
                    : tc__api_refused(&s.f, of);
    }
    return tc__scan_run(&s);
}

// ---- branches: loops of one turn or none ----

static const char *const tc__branch_called[2] = {"no (pred is false)",
                                                 "yes (pred is true)"};

typedef struct tc__branching {
    tc__scanning s;  // about the predicate
    tc_body body[2]; // if it is false, if it is true
    void *user;
    const tc_tensor *in;
    int n_in, n_out;
    tc_tensor *out;
} tc__branching;

typedef struct tc__branch_turn {
    const tc__branching *b;
    tc_body body;
} tc__branch_turn;

// A turn of a branch: in[0] is how often it is done, out[0] that again. What it is about comes as rows, behind the number
// of the turn: so nothing made of it can be made before, for the branch that is not done.
static void tc__branch_body(tc_ctx *c, const tc_tensor *in, tc_tensor *out, void *user) {
    const tc__branch_turn *t = (const tc__branch_turn *)user;
    out[0] = in[0];
    t->body(c, in + 2, out + 1, t->b->user);
}

static int tc__branch_given(const tc__branching *b) {
    const tc__api *f = &b->s.f;
    tc__meta m;
    char name[40], x[160];
    if (!b->body[0] || !b->body[1])
        return tc__fail(f->c, TC_E_NULL, "%s: %s is null", f->who,
                        tc__branch_called[!!b->body[0]]);
    if (b->n_in < 0 || b->n_in >= TC__LOOP_MOST || b->n_out < 1 ||
        b->n_out >= TC__LOOP_MOST)
        return tc__fail(f->c, TC_E_ARG,
                        "%s: n_in is %d, n_out %d; 1 to %d results are possible", f->who,
                        b->n_in, b->n_out, TC__LOOP_MOST - 1);
    if ((b->n_in && !b->in) || !b->out)
        return tc__fail(f->c, TC_E_NULL, "%s: %s is null", f->who, b->out ? "in" : "out");
    if (tc__is_float(f->x.dtype) || tc__meta_elements(&f->x) != 1)
        return tc__fail(f->c, TC_E_DTYPE,
                        "%s: the predicate is %s%s; one bool or integer is needed", f->who,
                        tc__dtype(f->x.dtype)->name, tc__dims_text(&f->x, x));
    for (int i = 0; i < b->n_in; i++) {
        snprintf(name, sizeof name, "in[%d]", i);
        if (!tc__operand_need(f, name, b->in[i], &m)) return 0;
    }
    return 1;
}

// Without the first dimension: of a row.
static void tc__meta_select(tc__meta *m) {
    memmove(m->dims, m->dims + 1, (size_t)--m->rank * sizeof *m->dims);
}

// What the branches made, which has to be alike.
static int tc__branch_alike(const tc__branching *b, const tc_tensor *no,
                            const tc_tensor *yes) {
    const tc__api *f = &b->s.f;
    tc__meta m, n;
    char x[160], y[160];
    for (int i = 0; i < b->n_out; i++) {
        if (!tc__meta_get(f, no[i], &m) || !tc__meta_get(f, yes[i], &n)) return 0;
        if (tc__meta_alike(&m, &n)) continue;
        tc__meta_select(&m), tc__meta_select(&n);
        return tc__fail(f->c, TC_E_SHAPE,
                        "%s: out[%d] of %s is %s%s, of %s %s%s; both must have the same "
                        "sizes and dtype",
                        f->who, i, tc__branch_called[1], tc__dtype(n.dtype)->name,
                        tc__dims_text(&n, x), tc__branch_called[0],
                        tc__dtype(m.dtype)->name, tc__dims_text(&m, y));
    }
    return 1;
}

// One branch as a loop over one row, which is done if `times` is 1; rows[i] [1, ..] = its results.
static int tc__branch_record(tc__branching *b, int yes, tc_tensor times, tc_tensor *rows) {
    tc__scanning *s = &b->s;
    tc__branch_turn turn;
    tc_dims one;
    tc_tensor last, xs[TC__LOOP_MOST];
    memset(&one, 0, sizeof one);
    one.rank = 1, one.size[0] = 1;
    xs[0] = tc__iota(&s->f, &one, 0);
    for (int i = 0; i < b->n_in; i++) {
        xs[i + 1] = tc_unsqueeze_at(b->in[i], 0, s->f.file, s->f.line);
        if (!xs[i + 1].id) return 0;
    }
    turn.b = b, turn.body = b->body[yes];
    s->body = tc__branch_body, s->user = &turn, s->init = &times, s->xs = xs;
    s->called = tc__branch_called[yes], s->first = 1;
    s->n_carry = 1, s->n_xs = 1 + b->n_in, s->n_ys = b->n_out, s->times = 1, s->turns = 1;
    s->last = &last, s->ys = rows;
    return xs[0].id && times.id && tc__scan_recorded(s);
}

static int tc__branch_recorded(tc__branching *b, tc_tensor pred) {
    tc_tensor row[2][TC__LOOP_MOST], times[2];
    const char *file = b->s.f.file;
    int line = b->s.f.line;
    pred = tc_ne_s_at(tc_reshape_at(pred, tc_dims_of(0, NULL), file, line), 0, file, line);
    times[1] = tc_cast_at(pred, TC_I64, file, line);
    times[0] = tc_cast_at(tc_logical_not_at(pred, file, line), TC_I64, file, line);
    for (int yes = 0; yes < 2; yes++)
        if (!tc__branch_record(b, yes, times[yes], row[yes])) return 0;
    if (!tc__branch_alike(b, row[0], row[1])) return 0;
    for (int i = 0; i < b->n_out; i++) {
        tc_tensor yes = tc_select_at(row[1][i], 0, 0, file, line);
        tc_tensor no = tc_select_at(row[0][i], 0, 0, file, line);
        b->out[i] = tc_where_at(pred, yes, no, file, line);
        if (!b->out[i].id) return 0;
    }
    return 1;
}

// Outside: the one that is to be.
static int tc__branch_eager(tc__branching *b, tc_tensor pred) {
    int64_t word = 0;
    tc_tensor out[TC__LOOP_MOST];
    if (tc_read_at(tc_cast_at(pred, TC_I64, b->s.f.file, b->s.f.line), &word, sizeof word,
                   b->s.f.file, b->s.f.line))
        return 0;
    memset(out, 0, sizeof out);
    const char *called = tc__branch_called[word != 0];
    if (!tc__body_call(&b->s.f, b->body[word != 0], called, b->in, out, b->user)) return 0;
    for (int i = 0; i < b->n_out; i++) {
        tc__meta m;
        if (!tc__body_gave(b->s.f.c, b->s.f.who, called, i, out[i], &m)) return 0;
        b->out[i] = tc_clone_at(out[i], b->s.f.file, b->s.f.line);
        if (!b->out[i].id) return 0;
    }
    return 1;
}

TCDEF tc_status tc_cond_at(tc_tensor pred, tc_body yes, tc_body no, void *user,
                           const tc_tensor *in, int n_in, tc_tensor *out, int n_out,
                           const char *file, int line) {
    tc__branching b;
    memset(&b, 0, sizeof b);
    b.body[0] = no, b.body[1] = yes, b.user = user;
    b.in = in, b.n_in = n_in, b.out = out, b.n_out = n_out;
    if (!tc__begin(&b.s.f, "tc_cond", pred, file, line))
        return tc__results_give(out, NULL, n_out), tc__api_refused(&b.s.f, pred);
    tc_ctx *c = b.s.f.c;
    tc_status outer = tc__unit_begin(c);
    int ok = tc__branch_given(&b) && (tc__is_recording(c) ? tc__branch_recorded(&b, pred)
                                                          : tc__branch_eager(&b, pred));
    tc_status status = tc__unit_end(c, outer, ok);
    if (status) tc__results_give(out, NULL, n_out);
    tc__leave_many(&b.s.f, out, status ? 0 : n_out);
    return status;
}

// ---- loops that ask ----

typedef struct tc__asking {
    tc__scanning s; // about the first carry
    tc_body test, body;
    void *user;
    int n;
} tc__asking;

// What `test` has said, as a bool of rank 0; null = reported.
static tc_tensor tc__while_answer(const tc__asking *w, tc_tensor go) {
    const tc__api *f = &w->s.f;
    tc__meta m;
    char x[160];
    if (!tc__body_gave(f->c, f->who, "the test", 0, go, &m)) return tc__null();
    if (tc__is_float(m.dtype) || tc__meta_elements(&m) != 1) {
        tc__fail(f->c, TC_E_DTYPE,
                 "%s: out[0] of the test is %s%s; one bool or integer is needed", f->who,
                 tc__dtype(m.dtype)->name, tc__dims_text(&m, x));
        return tc__null();
    }
    go = tc_reshape_at(go, tc_dims_of(0, NULL), f->file, f->line);
    return m.dtype == TC_BOOL ? go : tc_ne_s_at(go, 0, f->file, f->line);
}

// What `test` says of the carries in[].
static tc_tensor tc__while_test(const tc__asking *w, const tc_tensor *in) {
    tc_tensor go = tc__null();
    if (!tc__body_call(&w->s.f, w->test, "the test", in, &go, w->user)) return tc__null();
    return tc__while_answer(w, go);
}

// in[] are the carries, whether the loop goes on, how many turns there were, and the number of this one.
static void tc__while_body(tc_ctx *c, const tc_tensor *in, tc_tensor *out, void *user) {
    const tc__asking *w = (const tc__asking *)user;
    const char *file = w->s.f.file;
    int line = w->s.f.line;
    tc__meta m;
    out[w->n] = tc__null();
    int ok = tc__body_run(&w->s.f, w->body, w->s.called, in, out, w->user);
    for (int i = 0; i < w->n && ok; i++)
        ok = tc__body_gave(c, w->s.f.who, w->s.called, i, out[i], &m);
    ok = ok && tc__body_run(&w->s.f, w->test, "the test", out, &out[w->n], w->user);
    if (ok) out[w->n] = tc__while_answer(w, out[w->n]);
    out[w->n + 1] = tc_add_s_at(in[w->n + 1], 1, file, line);
}

static int tc__while_recorded(tc__asking *w, const tc_tensor *init, tc_tensor *out) {
    tc__scanning *s = &w->s;
    tc_tensor all[TC__LOOP_MOST], last[TC__LOOP_MOST], xs;
    tc_dims d;
    memset(&d, 0, sizeof d);
    d.rank = 1, d.size[0] = s->turns;
    memcpy(all, init, (size_t)w->n * sizeof *init);
    all[w->n] = tc__while_test(w, init);
    if (!all[w->n].id) return 0;
    all[w->n + 1] = tc__scalar(&s->f, 0, TC_I64);
    xs = tc__iota(&s->f, &d, 0);
    s->body = tc__while_body, s->user = w, s->init = all, s->xs = &xs, s->last = last;
    s->n_carry = w->n + 2, s->n_xs = 1, s->go = w->n + 1, s->count = w->n + 2;
    if (!xs.id || !all[w->n + 1].id || !tc__scan_recorded(s)) return 0;
    memcpy(out, last, (size_t)w->n * sizeof *out);
    return 1;
}

// Whether the loop goes on with these carries; -1 = reported.
static int tc__while_asks(const tc__asking *w, const tc_tensor *in) {
    uint8_t more = 0;
    tc_tensor go = tc__while_test(w, in);
    if (!go.id || tc_read_at(go, &more, sizeof more, w->s.f.file, w->s.f.line)) return -1;
    return more != 0;
}

static int tc__while_eager(tc__asking *w, const tc_tensor *init, tc_tensor *out) {
    tc__scanning *s = &w->s;
    int more = 1;
    s->body = w->body, s->user = w->user, s->init = init, s->n_carry = w->n;
    memcpy(out, init, (size_t)w->n * sizeof *out);
    for (int64_t t = 0; t < s->turns && more > 0; t++) {
        more = tc__while_asks(w, out);
        if (more <= 0) break;
        if (!tc__scan_carries(s, out) || !tc__scan_turn(s)) return 0;
        memcpy(out, s->out, (size_t)w->n * sizeof *out);
    }
    for (int i = 0; i < w->n && more >= 0; i++)
        out[i] = tc_clone_at(out[i], s->f.file, s->f.line);
    return more >= 0;
}

static int tc__while_given(const tc__asking *w, const tc_tensor *init,
                           const tc_tensor *out) {
    const tc__api *f = &w->s.f;
    tc__meta m;
    char name[40];
    if (!w->test || !w->body || !init || !out)
        return tc__fail(f->c, TC_E_NULL, "%s: %s is null", f->who,
                        !w->test   ? "the test"
                        : !w->body ? "the body"
                        : init     ? "out"
                                   : "init");
    if (w->n < 1 || w->n > TC__LOOP_MOST - 2 || w->s.turns < 0)
        return tc__fail(f->c, TC_E_ARG,
                        "%s: n is %d and most %lld; 1 to %d carries are possible, and 0 or "
                        "more turns",
                        f->who, w->n, (long long)w->s.turns, TC__LOOP_MOST - 2);
    for (int i = 0; i < w->n; i++) {
        snprintf(name, sizeof name, "init[%d]", i);
        if (!tc__operand_need(f, name, init[i], &m)) return 0;
    }
    return 1;
}

// A call that leads to no context, as it has no carries.
static tc_status tc__while_of_nothing(int n, const char *file, int line) {
    char text[80];
    if (n > 0) return tc__fail_missing("tc_while", "init is null", file, line);
    snprintf(text, sizeof text, "n is %d; 1 to %d carries are possible", n,
             TC__LOOP_MOST - 2);
    return tc__fail_at_hand(TC_E_ARG, "tc_while", text, file, line);
}

TCDEF tc_status tc_while_at(tc_body test, tc_body body, void *user, const tc_tensor *init,
                            int n, int64_t most, tc_tensor *out, const char *file,
                            int line) {
    tc__asking w;
    tc_tensor of = n > 0 && init ? init[0] : tc__null();
    memset(&w, 0, sizeof w);
    w.test = test, w.body = body, w.user = user, w.n = n, w.s.turns = most;
    w.s.called = "the body";
    if (n < 1 || !init)
        return tc__results_give(out, NULL, n), tc__while_of_nothing(n, file, line);
    if (!tc__begin(&w.s.f, "tc_while", of, file, line))
        return tc__results_give(out, NULL, n), tc__api_refused(&w.s.f, of);
    tc_ctx *c = w.s.f.c;
    tc_status outer = tc__unit_begin(c);
    int ok = tc__while_given(&w, init, out);
    tc_tensor last[TC__LOOP_MOST];
    ok = ok && (tc__is_recording(c) ? tc__while_recorded(&w, init, last)
                                    : tc__while_eager(&w, init, last));
    tc_status status = tc__unit_end(c, outer, ok);
    tc__results_give(out, status ? NULL : last, n);
    tc__leave_many(&w.s.f, out, status ? 0 : n);
    return status;
}
