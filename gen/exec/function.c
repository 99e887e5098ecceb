// Functions: a body recorded as a region, and skipped while an entry (exec/entry.c) holds: then the
// program runs and the body does not. Anything else runs the body as a visit of the function's region,
// where known code is found by following; so an entry is only ever a short cut.

// ---- running the body ----

// Inputs are the caller's, a call that skips the body would not free them: 0 = the body did, reported.
static int tc__fn_inputs_live(const tc__fcall *k) {
    tc_ctx *c = k->f->ctx;
    const tc_tensor *in = k->seen ? k->seen : k->in;
    for (uint32_t i = 0; i < k->n_in; i++)
        if (in[i].id >> 56 == tc__values_of(c)->slot_of_ctx && !tc__is_visit(in[i]) &&
            !tc__slot_find(c, in[i]))
            return tc__fail(c, TC_E_DEAD,
                            "function \"%s\": its body has freed in[%u], which is its "
                            "caller's; free it after the call",
                            k->f->region->name, (unsigned)i);
    return 1;
}

static tc_tensor tc__fn_to(const tc__fcall *k, uint32_t i) {
    return k->seen ? k->seen[k->n_in + i] : k->to[i];
}

// The storage that result t of the body shows without having computed it; NULL = none.
static const tc__storage *tc__fn_shown(tc_ctx *c, tc_tensor t) {
    const tc__visit *v = tc__recorder_of(c)->visit;
    while (v && tc__is_visit(t) && t.id >> TC__SLOT_BITS == v->key) {
        const tc__step *s = v->path.at[tc__position(t)];
        if (!s->view) return NULL;
        if (s->in[0] & TC__EXTERNAL)
            t = v->external.at[s->in[0] & ~TC__EXTERNAL].handle;
        else
            t.id = v->first | s->in[0];
    }
    const tc__tensor *shown = tc__tensor_find(c, t);
    return shown ? shown->storage : NULL;
}

// Whether result i has sizes for its destination; 0 = reported.
static int tc__fn_fits(const tc__fcall *k, uint32_t i, tc_tensor out) {
    tc_ctx *c = k->f->ctx;
    const char *name = k->f->region->name;
    char has[160], wants[160];
    tc__meta from, to;
    if (!tc__meta_of(c, name, out, &from) || !tc__meta_of(c, name, tc__fn_to(k, i), &to))
        return 0;
    if (tc__broadcasts_to(&from, &to)) return 1;
    return tc__fail(
        c, TC_E_BROADCAST,
        "function \"%s\": out[%u] has sizes %s, which do not broadcast to those "
        "of to[%u], %s",
        name, (unsigned)i, tc__dims_text(&from, has), (unsigned)i,
        tc__dims_text(&to, wants));
}

// Results into destinations, as if all at once: one that shows what an earlier one writes is copied first.
static int tc__fn_give(const tc__fcall *k, tc_tensor *out) {
    tc_ctx *c = k->f->ctx;
    for (uint32_t i = 0; i < k->n_to; i++)
        if (!tc__fn_fits(k, i, out[i])) return 0;
    for (uint32_t i = 1; i < k->n_to; i++) {
        const tc__storage *shown = tc__fn_shown(c, out[i]);
        uint32_t j = 0;
        while (shown && j < i && tc__fn_shown(c, tc__fn_to(k, j)) != shown) j++;
        if (shown && j < i) out[i] = tc_clone_at(out[i], k->site.file, k->site.line);
        if (!out[i].id) return 0;
    }
    for (uint32_t i = 0; i < k->n_to; i++)
        if (!tc_copy__at(tc__fn_to(k, i), out[i], k->site.file, k->site.line).id) return 0;
    return 1;
}

static int tc__fn_body(const tc__fcall *k, tc_tensor *out) {
    tc_fn *f = k->f;
    tc__meta m;
    char who[100];
    uint32_t n = k->n_out + k->n_to;
    for (uint32_t i = 0; i < n; i++) out[i] = tc__null();
    if (!tc__depth_enter(f->ctx, &f->ctx->bodies, "function", f->region->name)) return 0;
    tc__nesting was =
        tc__nesting_enter(f->ctx, "function ", f->region->name, "function whose body");
    was.at->body = 1;
    f->running++;
    f->body(f->ctx, k->seen ? k->seen : k->in, out, f->user);
    f->running--;
    tc__depth_leave(f->ctx, &f->ctx->bodies);
    (void)tc__nesting_leave(f->ctx, k->site, &was);
    if (tc__core_of(f->ctx)->unit_item || !tc__fn_inputs_live(k)) return 0;
    tc__site_set(f->ctx, k->site);
    snprintf(who, sizeof who, "function \"%.80s\"", f->region->name);
    for (uint32_t i = 0; i < n; i++)
        if (!tc__body_gave(f->ctx, who, "its body", (int)i, out[i], &m)) return 0;
    return tc__fn_give(k, out);
}

// ---- what the body sees ----
// A recording must tell an input from a tensor that the body captures, also where the call gave the
// very same one: the next call may give another. So the body sees inputs and destinations under
// handles of their own, and what it uses under another handle it has captured.

static void tc__fn_unsee(const tc__fcall *k, const tc_tensor *seen, uint32_t n) {
    tc_ctx *c = k->f->ctx;
    for (uint32_t i = 0; i < n;
         i++) // one that was given twice, or that the body freed, is gone
        if (tc__slot_find(c, seen[i]))
            tc__slot_free(c, tc__handle_slot(seen[i]), "freed by the end of the call",
                          k->site.file, k->site.line);
}

// Another handle of h, for the time of a call; null = reported.
static tc_tensor tc__fn_see(tc_ctx *c, const char *who, tc_tensor h) {
    tc__tensor *t = tc__tensor_need(c, who, h);
    tc__marks *marks = t && t->marks ? TC__NEW(c, tc__marks) : NULL;
    if (!t || (t->marks && !marks)) return tc__null();
    if (marks) *marks = *t->marks;
    t->storage->refs++;
    tc_tensor seen = tc__tensor_new(c, t->layout, t->storage, t->offset, t->file, t->line);
    tc__tensor *own = seen.id ? tc__slot_find(c, seen) : NULL;
    if (own)
        own->marks = marks, own->grad = t->grad, own->grad_lent = 1;
    else if (marks)
        tc__free(c, marks, sizeof *marks);
    return seen;
}

// 0 = reported.
static int tc__fn_see_all(const tc__fcall *k, tc_tensor *seen) {
    uint32_t n = k->n_in + k->n_to;
    for (uint32_t i = 0; i < n; i++) {
        tc_tensor h = i < k->n_in ? k->in[i] : k->to[i - k->n_in];
        uint32_t same = k->f->given.at[i].same;
        seen[i] = tc__null();
        if (!h.id) continue;
        seen[i] = same < i ? seen[same] : tc__fn_see(k->f->ctx, k->f->region->name, h);
        if (seen[i].id) continue;
        tc__fn_unsee(k, seen, i);
        return 0;
    }
    return 1;
}

// Results of a visit or of eager ops become tensors of the caller's; 0 = none did, reported.
static int tc__fn_hand_out(const tc__fcall *k, const tc_tensor *from) {
    tc_ctx *c = k->f->ctx;
    for (uint32_t i = 0; i < k->n_out; i++) {
        tc__tensor *t = tc__tensor_need(c, k->f->region->name, from[i]);
        tc__storage *s = t ? t->storage : NULL;
        if (s) s->refs++;
        k->out[i] =
            s ? tc__tensor_new(c, t->layout, s, t->offset, k->site.file, k->site.line)
              : tc__null();
        if (k->out[i].id) continue;
        while (i--) {
            tc__slot_free(c, tc__handle_slot(k->out[i]), "lost", k->site.file,
                          k->site.line);
            k->out[i] = tc__null();
        }
        return 0;
    }
    return 1;
}

// Whether each call runs the body: no entry serves one, and none is made.
static int tc__fn_always_runs(const tc_fn *f) {
    return f->demoted || tc__is_forced(f->ctx);
}

static const tc__step *tc__path_has(const tc__visit *v, tc__op op) {
    for (size_t i = 0; i < v->path.count; i++)
        if (v->path.at[i]->op == op) return v->path.at[i];
    return NULL;
}

// The body has recorded what entry `e` says: the same path over the same tensors.
static int tc__entry_confirms(const tc__fcall *k, const tc__entry *e, const tc__visit *v) {
    uint32_t n = k->n_in + k->n_to;
    uint32_t hidden = tc__entry_shares(e);
    if (v->at != e->leaf || v->external.count != e->source.count + hidden) return 0;
    for (uint32_t i = 0; i < e->source.count; i++) {
        uint32_t s = e->source.at[i];
        tc_tensor h = s >= n ? e->captured.at[s - n] : k->seen[s];
        if (h.id != v->external.at[i].handle.id) return 0;
    }
    return 1;
}

// The visit is done: remember what it assumed, or why the body cannot be skipped.
static void tc__fn_learn(const tc__fcall *k, tc__visit *v, tc__entry *found) {
    tc_fn *f = k->f;
    const tc__step *s;
    if (tc__fn_always_runs(f)) return;
    if ((s = tc__path_has(v, TC_OP_BREAK)) != NULL) {
        tc__fn_demote(f, "it reads a value (tc_item, tc_read, tc_print), or calls the host",
                      s->site);
    } else if (v->left) {
        tc__fn_demote(f, "some of it runs eagerly (tc_disable_begin)", v->begin);
    } else if ((s = tc__path_has(v, TC_OP_KEEP)) != NULL) {
        tc__fn_demote(f, "it keeps a result beside out[]", s->site);
    } else if (!found) {
        tc__error_mark before = tc__error_now(f->ctx);
        tc__entry *e = tc__entry_new(k, v);
        if (!e) { // a short cut less
            tc__error_restore(f->ctx, before);
            return;
        }
        e->next = f->entry, f->entry = e;
        tc__entries_trim(f);
        tc__log_entry_guards(k, e);
    } else if (tc__entry_confirms(k, found, v)) {
        found->checked = 1;
    } else {
        tc__fn_demote(
            f,
            "the same inputs gave another recording: it depends on something that "
            "is no input; name it with tc_guard_bytes, or put it in *user",
            k->site);
    }
}

// Results from the body's visit; `out` has room for all of them.
static int tc__fn_visit(const tc__fcall *k, tc__entry *found, tc_tensor *out) {
    tc_fn *f = k->f;
    tc_ctx *c = f->ctx;
    tc__recorder *r = tc__recorder_of(c);
    c->begun = tc__now_ns(), c->busy = tc__busy_ns(c);
    if (!tc__visit_begin(c, f->region, k->site)) return 0;
    tc__visit *v = r->visit;
    tc__snapshots_clear(f);
    uint64_t programs = c->stats.programs, here = tc__here_enter(c);
    int ok = tc__snapshot_add(f, f->user, f->user_bytes) && tc__fn_body(k, out);
    int whole = r->visit == v; // else it was abandoned
    ok = ok && whole && !v->broken && tc__slots_prepare(c, k->n_out) &&
         tc__visit_finish(c, v, out, k->n_out);
    if (whole) v->state = ok ? TC__VISIT_DONE : TC__VISIT_FAILED;
    if (whole && !ok) tc__refuse_writes(c, v);
    r->visit = NULL, r->depth = 0;
    tc__here_leave(c, here);
    if (!tc__is_forced(c)) f->miss.compiled = c->stats.programs != programs;
    if (ok) tc__fn_learn(k, v, found);
    ok = ok && tc__fn_hand_out(k, out);
    tc__visit_clear(c, v, "which ended with the call of a function", k->site);
    tc__snapshots_clear(f);
    return ok;
}

// ---- calls ----

static int tc__fn_external(tc_fn *f, uint32_t i, tc__visit *v) {
    const tc__tensor *t = f->tensor.at[i];
    tc__external e;
    memset(&e, 0, sizeof e);
    e.storage = t->storage, e.layout = t->layout, e.offset = t->offset;
    e.constant = f->given.at[i].constant;
    return TC__PUSH(f->ctx, v->external, e);
}

// The hidden external of the SHARE step that stands n steps before the end.
static int tc__fn_share(tc_fn *f, const tc__entry *e, uint32_t n, tc__visit *v) {
    const tc__step *s = e->leaf;
    while (n--) s = s->parent;
    tc__external hidden = tc__share_external(v, s->attr);
    return TC__PUSH(f->ctx, v->external, hidden);
}

static int tc__fn_result(const tc__fcall *k, const tc__entry *e, const tc__program *p,
                         uint32_t i) {
    tc_fn *f = k->f;
    uint32_t at = e->result.at[i];
    const tc__output *o = at & TC__EXTERNAL ? NULL : &p->output.at[at];
    uint32_t from = !o ? at & ~TC__EXTERNAL : o->alias ? o->external : UINT32_MAX;
    const tc__external *x = from == UINT32_MAX ? NULL : &f->visit.external.at[from];
    tc__storage *s = x ? x->storage : o->storage;
    s->refs++;
    k->out[i] =
        tc__tensor_new(f->ctx, o ? o->layout : x->layout, s,
                       x ? x->offset + (o ? o->offset : 0) : 0, k->site.file, k->site.line);
    return k->out[i].id != 0;
}

// The sizes and values of a call that skips the body are those of the entry.
static tc__visit *tc__entry_visit(tc_fn *f, const tc__entry *e) {
    tc__visit *v = &f->visit;
    v->size.at = e->size.at, v->size.count = e->size.count;
    v->arg.at = e->arg.at, v->arg.count = e->arg.count;
    return v;
}

// The steps of a recording, for a program that is laid out for other sizes.
static int tc__fn_path(tc_fn *f, tc__step *leaf) {
    tc__visit *v = &f->visit;
    while (v->path.count <= leaf->position)
        if (!TC__PUSH(f->ctx, v->path, NULL)) return 0;
    for (tc__step *s = leaf; s->parent; s = s->parent) v->path.at[s->position] = s;
    return 1;
}

// Runs the program of an entry that holds.
static int tc__fn_skip(const tc__fcall *k, tc__entry *e) {
    tc_fn *f = k->f;
    tc__visit *v = &f->visit;
    tc__program *p = (tc__program *)e->leaf->program;
    tc__recorder *r = tc__recorder_of(f->ctx);
    v->external.count = 0;
    v->draw = r->draw, r->draw += e->draws;
    for (size_t i = 0; i < e->source.count; i++)
        if (!tc__fn_external(f, e->source.at[i], v)) return 0;
    for (uint32_t n = tc__entry_shares(e); n; n--)
        if (!tc__fn_share(f, e, n, v)) return 0;
    if (!tc__program_is_laid_out(p, v) && !tc__fn_path(f, e->leaf)) return 0;
    if (!tc__slots_prepare(f->ctx, k->n_out)) return 0; // before anything is written
    f->ctx->stats.skips++, f->ctx->stats.program_hits++, e->hits++;
    if (!tc__program_run(p, v)) return 0;
    for (uint32_t i = 0; i < k->n_out; i++)
        if (!tc__fn_result(k, e, p, i)) return 0;
    return 1;
}

// The function whose body is recorded now, NULL = none.
static tc_fn *tc__fn_recorded(tc_ctx *c) {
    const tc__visit *v = tc__recorder_of(c)->visit;
    tc_fn *f = v && v->region->function ? c->fn : NULL;
    while (f && f->region != v->region) f = f->next;
    return f;
}

// A part of the open region, or eager: the body runs as any code does. What it depends on, a body
// around it depends on too.
static int tc__fn_inline(const tc__fcall *k, tc_tensor *out) {
    tc__api f;
    tc_ctx *c = k->f->ctx;
    tc_fn *outer = tc__fn_recorded(c);
    if (outer && k->f->user_bytes && !tc__snapshot_add(outer, k->f->user, k->f->user_bytes))
        return 0;
    if (!tc__api_open(&f, c, k->f->region->name, k->site.file, k->site.line)) return 0;
    int recording = tc__is_recording(c);
    tc__api_scope(&f);
    uint64_t here = tc__here_enter(c);
    int ok = tc__fn_body(k, out);
    tc__here_leave(c, here);
    if (recording) {
        if (ok && k->n_out) memcpy(k->out, out, k->n_out * sizeof *out);
        return ok;
    }
    ok = ok && tc__fn_hand_out(k, out);
    tc__leave_many(&f, k->out, ok ? (int)k->n_out : 0);
    return ok;
}

static int tc__fn_bring(const tc__fcall *k, const tc_tensor *t, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        if (t[i].id && !tc__tensor_need(k->f->ctx, k->f->region->name, t[i])) return 0;
    return 1;
}

// A visit of its own. A body that no call can skip sees what it was given.
static int tc__fn_apart(const tc__fcall *k, tc__entry *found, tc_tensor *out) {
    tc_tensor few[TC__FEW];
    tc__fcall own = *k;
    uint32_t n = k->n_in + k->n_to;
    if (tc__fn_always_runs(k->f)) return tc__fn_visit(k, found, out);
    tc_tensor *seen = tc__tensors_new(k->f->ctx, few, n);
    int ok = seen && tc__fn_see_all(k, seen);
    own.seen = seen;
    if (ok) {
        ok = tc__fn_visit(&own, found, out);
        tc__fn_unsee(k, seen, n);
    }
    tc__tensors_free(k->f->ctx, seen, few, n);
    return ok;
}

// A call that no entry serves yet.
static int tc__fn_slow(const tc__fcall *k, tc__entry *found, int isolated) {
    tc_tensor few[TC__FEW];
    tc_ctx *c = k->f->ctx;
    uint32_t n = k->n_out + k->n_to;
    tc_tensor *out = tc__tensors_new(c, few, n);
    if (!out) return 0;
    int ok = isolated ? tc__fn_apart(k, found, out) : tc__fn_inline(k, out);
    tc__tensors_free(c, out, few, n);
    return ok;
}

TC__ALWAYS_INLINE int tc__fn_is_part(const tc_fn *f) {
    const tc__recorder *r = &f->ctx->recorder;
    return r->visit || (r->skipped | r->disabled | f->options.disable) ||
           f->ctx->defaults.disable;
}

static int tc__fn_run(const tc__fcall *k) {
    tc_fn *f = k->f;
    f->ctx->stats.calls++;
    if (tc__fn_is_part(f)) return tc__fn_slow(k, NULL, 0);
    uint32_t n = k->n_in + k->n_to;
    if (f->tensor.count < n && !tc__fn_room(f, n)) return 0;
    if (!tc__fn_sign_all(k, NULL, 0)) {
        // Something is not in memory: a forgotten result of a region, or dead.
        if (!tc__fn_bring(k, k->in, k->n_in) || !tc__fn_bring(k, k->to, k->n_to)) return 0;
        if (!tc__fn_sign_all(k, NULL, 0)) return 0;
    }
    tc__entry *e = tc__fn_always_runs(f) ? NULL : tc__entry_find(k);
    // Behind a write that failed, the ops of the body tell whether they depend on it.
    int skips = e && e->checked && !tc__core_of(f->ctx)->refused;
    if (skips && tc__step_is_ready(tc__entry_visit(f, e), e->leaf))
        return tc__fn_skip(k, e);
    if (!tc__is_forced(f->ctx)) {
        tc__miss_find(k, e);
        tc__log_miss(f);
    }
    tc__core *core = tc__core_of(f->ctx);
    const char *was = core->unseen;
    core->unseen = e || f->demoted ? was : f->name;
    int ok = tc__fn_slow(k, e, 1);
    core->unseen = was;
    return ok;
}

static int tc__fn_check(const tc__fcall *k) {
    const char *name = k->f->region->name;
    tc_ctx *c = k->f->ctx;
    if (k->n_in > TC__FN_TENSORS || k->n_out > TC__FN_TENSORS || k->n_to > TC__FN_TENSORS)
        return tc__fail(c, TC_E_ARG,
                        "function \"%s\": %d inputs and %d results; 0..%d each", name,
                        (int)k->n_in, (int)(k->n_out + k->n_to), TC__FN_TENSORS);
    if ((k->n_in && !k->in) || (k->n_out && !k->out) || (k->n_to && !k->to))
        return tc__fail(c, TC_E_NULL, "function \"%s\": a null array of tensors", name);
    for (uint32_t i = 0; i < k->n_to; i++)
        if (!k->to[i].id) return tc__fail_null(c, name);
    return 1;
}

static tc_status tc__fn_claimed(const tc__fcall *k) {
    tc_ctx *c = k->f->ctx;
    tc_status outer = tc__unit_begin(c);
    int ok = tc__fn_check(k);
    int ran = ok && tc__fn_run(k);
    for (uint32_t i = 0; ok && !ran && i < k->n_to; i++) tc__refuse(c, k->to[i]);
    tc_status status = tc__unit_end(c, outer, ran);
    tc__site_set(c, k->site);
    if (status && !tc_error(c))
        tc__fail(c, status,
                 "function \"%s\": its body got %s from a call and cleared it; what a body "
                 "does must not fail. %s",
                 k->f->name, tc__error_name(status), tc__error_doc(status));
    return status;
}

static tc_status tc__fn_call(const tc__fcall *k) {
    tc_ctx *c = k->f->ctx;
    tc__site_set(c, k->site);
    tc__claim claim = tc__claim_ours(c, k->f->region->name);
    tc_status status = claim ? tc__fn_claimed(k) : tc__not_ours(c);
    if (claim) tc__claim_end(c, claim);
    if (status && k->n_out <= TC__FN_TENSORS) tc__results_give(k->out, NULL, (int)k->n_out);
    return status;
}

// ---- making ----

static void tc__fn_forget_region(tc_fn *f) {
    tc__region_unlink(f->region);
    tc__region_free(f->ctx, f->region);
}

TCDEF tc_fn *tc_compile_at(tc_ctx *tc, tc_body body, void *user, size_t user_bytes,
                           const tc_options *options, const char *name, const char *file,
                           int line) {
    tc__site site;
    if (!tc) return tc__fail_no_context("tc_compile", file, line), (tc_fn *)NULL;
    site.file = file, site.line = line;
    tc__site_set(tc, site);
    if (!tc__is_ours(tc, "tc_compile")) return NULL;
    if (!body || (user_bytes && !user)) {
        tc__fail(tc, TC_E_NULL, "tc_compile: %s is null", body ? "user" : "the body");
        return NULL;
    }
    tc_fn *f = TC__NEW(tc, tc_fn);
    if (!f) return NULL;
    f->ctx = tc;
    f->name = tc__string_copy(tc, name ? name : "function");
    f->region = f->name ? tc__region_new(tc, f->name, site, 0) : NULL;
    if (!f->region || !tc__region_options(tc, f->region, "tc_compile", options)) {
        if (f->region) tc__fn_forget_region(f);
        tc__string_free(tc, f->name);
        tc__free(tc, f, sizeof *f);
        return NULL;
    }
    f->options = f->region->options;
    f->site = site;
    f->body = body, f->user = user, f->user_bytes = user_bytes;
    f->region->function = (int)tc->fn_serial + 1;
    f->visit.region = f->region;
    tc__text_init(&f->text, tc);
    f->next = tc->fn, tc->fn = f, f->serial = tc->fn_serial++;
    return f;
}

// Bytes that may be gone, of a function that is freed, say: entries of others that compare them go too.
static void tc__fns_forget_bytes(tc_ctx *c, const void *gone) {
    for (tc_fn *f = c->fn; f; f = f->next) {
        tc__entry **at = &f->entry;
        for (tc__entry *e; (e = *at) != NULL;) {
            size_t i = 1; // range 0 is its own
            while (i < e->range.count && e->range.at[i].at != gone) i++;
            if (i >= e->range.count) {
                at = &e->next;
                continue;
            }
            *at = e->next;
            tc__entry_free(c, e);
        }
    }
}

static tc_fn *tc__fn_in(tc_ctx *tc, const tc_fn *f) {
    tc_fn *own = tc->fn;
    if (f->ctx == tc) return (tc_fn *)(uintptr_t)f;
    while (own && (own->origin != f || own->origin_serial != f->serial)) own = own->next;
    if (own) return own;
    if (tc__values_of(tc)->parent != f->ctx) {
        tc__fail(
            tc, TC_E_FOREIGN,
            "tc_fn_in: function \"%s\" belongs to a context that this one was not opened "
            "from with tc_open_shared",
            f->name);
        return NULL;
    }
    own = tc_compile_at(tc, f->body, f->user, f->user_bytes, &f->options, f->name,
                        f->site.file, f->site.line);
    if (own) own->origin = f, own->origin_serial = f->serial;
    return own;
}

TCDEF tc_fn *tc_fn_in(tc_ctx *tc, const tc_fn *f) {
    static const char who[] = "tc_fn_in";
    if (!tc) return tc__fail_no_context(who, NULL, 0), (tc_fn *)NULL;
    if (!tc__is_ours(tc, who)) return NULL;
    if (f) return tc__fn_in(tc, f);
    tc__fail(tc, TC_E_NULL, "%s: the function is NULL (did tc_compile fail?)", who);
    return NULL;
}

// Leads a call to the instance of its function that it is about: of the context of its tensors, or of
// the child that runs on this thread.
static tc_status tc__fn_redirect(tc__fcall *k) {
    tc_ctx *c = tc__ctx_here(k->f->ctx), *of = NULL;
    if (k->in && k->n_in <= TC__FN_TENSORS) of = tc__ctx_of_all(k->in, k->n_in);
    if (tc__is_rather(c, k->f->ctx, of)) c = of;
    tc_status outer = tc__unit_begin(c);
    tc_fn *own = tc__fn_in(c, k->f);
    if (own) k->f = own;
    return tc__unit_end(c, outer, own != NULL);
}

// A new region, with nothing recorded; 0 = out of memory, nothing is changed.
static int tc__fn_reset(tc_fn *f) {
    tc__region *old = f->region;
    tc__region *fresh = tc__region_new(f->ctx, old->name, old->begin, 0);
    if (!fresh) return 0;
    fresh->function = old->function;
    fresh->options = old->options, fresh->backend = old->backend;
    fresh->fixed_sizes = tc__region_is_foreign(fresh);
    tc__entries_free(f);
    tc__fn_forget_region(f);
    f->region = f->visit.region = fresh, f->demoted = NULL;
    memset(&f->miss, 0, sizeof f->miss);
    return 1;
}

TCDEF void tc_fn_free(tc_fn *f) {
    if (!f) return;
    tc_ctx *c = f->ctx;
    tc_fn **at = &c->fn;
    if (!tc__is_ours(c, "tc_fn_free")) return;
    if (f->running) {
        tc__fail(c, TC_E_STATE, "tc_fn_free: the body of \"%s\" runs; free it afterwards",
                 f->region->name);
        return;
    }
    if (f->user_bytes) tc__fns_forget_bytes(c, f->user);
    while (*at != f) at = &(*at)->next;
    *at = f->next;
    tc__entries_free(f);
    tc__snapshots_clear(f);
    tc__fn_forget_region(f);
    TC__VEC_FREE(c, f->given);
    TC__VEC_FREE(c, f->tensor);
    TC__VEC_FREE(c, f->range);
    TC__VEC_FREE(c, f->visit.external);
    TC__VEC_FREE(c, f->visit.path);
    tc__text_free(&f->text);
    tc__string_free(c, f->name);
    tc__free(c, f, sizeof *f);
}

// ---- asking ----

// For calls that only look: where another thread asks, the body that is recorded learns nothing.
static void tc__guard_seen(tc_ctx *c, const void *at, size_t bytes) {
    tc_fn *f = tc__is_stranger(c) ? NULL : tc__fn_recorded(c);
    if (f) tc__snapshot_add(f, at, bytes);
}

TCDEF void tc_guard_bytes(tc_ctx *tc, const void *at, size_t bytes) {
    if (!tc) tc__fail_no_context("tc_guard_bytes", NULL, 0);
    tc_fn *f = tc && tc__is_ours(tc, "tc_guard_bytes") ? tc__fn_recorded(tc) : NULL;
    if (f && bytes && !at)
        tc__fail(tc, TC_E_NULL, "tc_guard_bytes: %zu bytes at NULL", bytes);
    else if (f && bytes)
        tc__snapshot_add(f, at, bytes);
}

TCDEF int tc_is_compiling(const tc_ctx *tc) { return tc && tc->recorder.visit != NULL; }

TCDEF tc_miss tc_last_miss(const tc_fn *f) {
    tc_miss none;
    memset(&none, 0, sizeof none);
    none.arg = none.dim = -1;
    return f && f->miss.kind ? f->miss : none;
}

TCDEF const char *tc_miss_text(tc_fn *f) {
    if (!f || !tc__is_ours(f->ctx, "tc_miss_text")) return "";
    tc_miss m = tc_last_miss(f);
    tc__text_clear(&f->text);
    tc__put_miss_reason(&f->text, &m);
    if (m.kind) tc__put(&f->text, "; called at %s:%d", m.file ? m.file : "?", m.line);
    return f->text.failed ? "" : f->text.at;
}

TCDEF const char *tc_fn_demoted(const tc_fn *f) { return f ? f->demoted : NULL; }
