// tc_disable, tc_lazy and tc_eval, tc_training, tc_precompile, tc_freeze.
//
// tc_lazy is a region that is always open, tc_eval its end and its next begin: the same
// trie, the same programs. tc_precompile is two calls with inputs that have no memory,
// where nothing runs. tc_freeze refuses memory at the one place that gives it (base/mem.c),
// and keeps the workers awake.

static void tc__here_is(tc_ctx *c, const char *file, int line) {
    tc__site s;
    s.file = file, s.line = line;
    tc__site_set(c, s);
}

// ---- eager code in a region ----

TCDEF tc_status tc_disable_begin_at(tc_ctx *c, const char *file, int line) {
    if (!c) return tc__fail_no_context("tc_disable_begin", file, line);
    tc__recorder *r = &c->recorder;
    tc__here_is(c, file, line);
    if (!tc__is_ours(c, "tc_disable_begin")) return tc__not_ours(c);
    r->disabled++, tc__open_is_mine(r);
    if (!r->visit) return TC_OK;
    r->visit->left = 1;
    r->suspended = r->visit, r->visit = NULL;
    return TC_OK;
}

TCDEF tc_status tc_disable_end_at(tc_ctx *c, const char *file, int line) {
    if (!c) return tc__fail_no_context("tc_disable_end", file, line);
    tc__recorder *r = &c->recorder;
    tc__here_is(c, file, line);
    if (!tc__is_ours(c, "tc_disable_end")) return tc__not_ours(c);
    if (r->disabled <= r->floor.disabled) {
        if (r->disabled)
            tc__fail(
                c, TC_E_STATE,
                "tc_disable_end: its tc_disable_begin is around the %s this is; end it "
                "behind that",
                r->floor.whose);
        else
            tc__fail(c, TC_E_STATE, "tc_disable_end without a tc_disable_begin");
        return TC_E_STATE;
    }
    if (--r->disabled) return TC_OK;
    r->visit = r->suspended, r->suspended = NULL;
    if (r->visit) tc__visit_remember(c, r->visit);
    return TC_OK;
}

// ---- training ----

// What is called afterwards is recorded otherwise, and an entry of a function is made for one of both; the body
// that would set it is not run by every call.
TCDEF tc_status tc_training_at(tc_ctx *tc, int on, const char *file, int line) {
    if (!tc) return tc__fail_no_context("tc_training", file, line);
    tc__here_is(tc, file, line);
    if (!tc__is_ours(tc, "tc_training")) return tc__not_ours(tc);
    if (on != 0 && on != 1) {
        tc__fail(tc, TC_E_ARG, "tc_training: on is %d; 1 or 0 is needed", on);
        return TC_E_ARG;
    }
    if (tc->bodies) {
        tc__fail(tc, TC_E_STATE,
                 "tc_training: called by a function's body, which calls may skip; set it "
                 "before tc_call");
        return TC_E_STATE;
    }
    if (tc->recorder.evaluates == on) tc__fns_look_again(tc);
    tc->recorder.evaluates = !on;
    return TC_OK;
}

TCDEF int tc_is_training(const tc_ctx *tc) { return tc && !tc->recorder.evaluates; }

// ---- laziness ----

// Whether the region that is open is tc_lazy's, with nothing begun inside it.
static int tc__lazy_is_open(const tc_ctx *c) {
    const tc__recorder *r = &c->recorder;
    return c->lazy && !r->depth && !r->disabled && !r->floor.whose &&
           !(r->visit && r->visit->region->function);
}

// Of a list of n that a call was given: TC_OK, or the error.
static tc_status tc__list_check(tc_ctx *c, const char *who, const void *list, int n) {
    if (n >= 0 && (list || !n)) return TC_OK;
    if (n < 0)
        tc__fail(c, TC_E_ARG, "%s: a list of %d", who, n);
    else
        tc__fail(c, TC_E_NULL, "%s: the list of %d is NULL", who, n);
    return n < 0 ? TC_E_ARG : TC_E_NULL;
}

// TC_OK, or the error.
static tc_status tc__lazy_check(tc_ctx *c, const char *who) {
    if (!c->lazy || !tc__lazy_is_open(c)) return tc__outside(c, who);
    return tc__is_ours(c, who) ? TC_OK : tc__not_ours(c);
}

static tc_status tc__lazy_begin(tc_ctx *c) {
    return tc_trace_begin_at(c, "lazy", NULL, c->lazy_site.file, c->lazy_site.line);
}

// Runs what is recorded.
static tc_status tc__lazy_end(tc_ctx *c) {
    return c->recorder.visit || c->recorder.skipped ? tc__region_end(c) : TC_OK;
}

TCDEF tc_status tc_lazy_at(tc_ctx *c, int on, const char *file, int line) {
    if (!c) return tc__fail_no_context("tc_lazy", file, line);
    tc__here_is(c, file, line);
    if (on != 0 && on != 1) {
        tc__fail(c, TC_E_ARG, "tc_lazy: on is %d; 1 or 0 is needed", on);
        return TC_E_ARG;
    }
    tc_status s = tc__lazy_check(c, "tc_lazy");
    if (!s && c->recorder.floor.whose) // of an eager host call
        s = TC_E_STATE,
        tc__fail(c, s, "tc_lazy: call it behind the %s this is", c->recorder.floor.whose);
    if (s || !on == !c->lazy) return s;
    c->lazy_site.file = file, c->lazy_site.line = line;
    s = on ? tc__lazy_begin(c) : tc__lazy_end(c);
    c->lazy = on != 0;
    return s;
}

// t becomes the caller's. What was recorded since the last tc_eval is there after this one, what was
// recorded before that is there now.
static int tc__eval_one(tc_ctx *c, tc_tensor t, const char *file, int line) {
    const tc__visit *v = c->recorder.visit;
    if (!t.id) return tc__fail_null(c, "tc_eval");
    if (v && t.id >> TC__SLOT_BITS == v->key) return tc_keep_at(t, file, line).id != 0;
    const tc__tensor *m = tc__tensor_need(c, "tc_eval", t);
    if (!m) return 0;
    return !c->lazy || tc__keep_now(c, t, tc__tensor_find(c, t));
}

static int tc__eval_list(tc_ctx *c, const tc_tensor *list, int n, const char *file,
                         int line) {
    for (int i = 0; i < n; i++)
        if (!tc__eval_one(c, list[i], file, line)) return 0;
    return 1;
}

TCDEF tc_status tc_eval_at(tc_ctx *c, const tc_tensor *list, int n, const char *file,
                           int line) {
    if (!c) return tc__fail_no_context("tc_eval", file, line);
    tc__here_is(c, file, line);
    tc_status refused = tc__list_check(c, "tc_eval", list, n);
    if (!refused) refused = tc__lazy_check(c, "tc_eval");
    if (refused) return refused;
    tc_status outer = tc__unit_begin(c);
    int ok = tc__eval_list(c, list, n, file, line);
    tc_status status = tc__unit_end(c, outer, ok);
    if (!c->lazy) return status;
    tc__lexical says = *tc__lexical_now(c); // which goes on around it
    tc_status ran = tc__lazy_end(c), begun = tc__lazy_begin(c);
    *tc__lexical_now(c) = says;
    return status ? status : ran ? ran : begun;
}

// ---- programs ahead of time ----

static int tc__precompile_input(tc_ctx *c, const tc_spec *s, tc_tensor *t) {
    tc__site site;
    site.file = tc__core_of(c)->site_file, site.line = tc__core_of(c)->site_line;
    *t = tc__null();
    if (!tc__dtype_valid((int)s->dtype))
        return tc__fail(c, TC_E_ARG, "tc_precompile: %d is no dtype", (int)s->dtype);
    if (!tc__dims_check(c, "tc_precompile", s->rank, s->dims)) return 0;
    tc__device *d = tc__device_at(c, tc__values_of(c)->default_device);
    uint32_t layout =
        tc__layout_on(c, d ? d->number : 0, (int)s->dtype, s->rank, s->dims, NULL);
    // Nothing runs, so nothing is read or written: the memory need not be there.
    tc__storage *m = layout ? tc__storage_wrap(c, NULL, 0) : NULL;
    if (m && d) m->device = &d->own;
    if (m) *t = tc__tensor_new(c, layout, m, 0, site.file, site.line);
    return t->id != 0;
}

// A body may have freed it, as tc_free or the end of a scope does.
static void tc__precompile_free(tc_ctx *c, tc_tensor t, const char *file, int line) {
    if (tc__tensor_find(c, t))
        tc__slot_free(c, tc__handle_slot(t), "of tc_precompile", file, line);
}

static int tc__precompile_calls(tc_fn *f, const tc_tensor *in, int n_in, tc_tensor *out,
                                int n_out, const char *file, int line) {
    tc_ctx *c = f->ctx;
    uint64_t draw = c->recorder.draw;
    tc_status s = TC_OK;
    tc__fcall k;
    memset(&k, 0, sizeof k);
    k.f = f, k.in = in, k.n_in = (uint32_t)n_in, k.out = out, k.n_out = (uint32_t)n_out;
    k.site.file = file, k.site.line = line;
    c->dry = 1;
    for (int i = 0; !s && i < 2; i++) {
        s = tc__fn_call(&k); // the short cut of tc_call would run the kernels
        for (int o = 0; !s && o < n_out; o++) tc__precompile_free(c, out[o], file, line);
    }
    c->dry = 0, c->recorder.draw = draw;
    return s == TC_OK;
}

TCDEF tc_status tc_precompile_at(tc_fn *f, const tc_spec *in, int n_in, int n_out,
                                 const char *file, int line) {
    if (!f) return tc__fail_no_function("tc_precompile", file, line);
    tc_ctx *c = f->ctx;
    tc__here_is(c, file, line);
    tc_status refused = tc__outside(c, "tc_precompile");
    if (!refused) refused = tc__list_check(c, "tc_precompile", in, n_in);
    if (!refused) refused = tc__list_check(c, "tc_precompile", f, n_out);
    if (refused) return refused;
    tc_status outer = tc__unit_begin(c);
    size_t room = (size_t)n_in + (size_t)n_out;
    tc_tensor *t = TC__NEW_ARRAY(c, tc_tensor, room);
    int made = 0, ok = t != NULL;
    for (; ok && made < n_in; made += ok) ok = tc__precompile_input(c, &in[made], &t[made]);
    int eager = tc__fn_is_part(f) || tc__is_forced(c); // there is nothing to compile
    ok = ok && (eager || tc__precompile_calls(f, t, n_in, t + n_in, n_out, file, line));
    while (made--) tc__precompile_free(c, t[made], file, line);
    if (t) TC__FREE_ARRAY(c, t, room);
    return tc__unit_end(c, outer, ok);
}

// ---- frozen ----

TCDEF tc_status tc_freeze(tc_ctx *c) {
    if (!c) return tc__fail_no_context("tc_freeze", NULL, 0);
    tc__core *core = tc__core_of(c);
    tc_status refused = tc__outside(c, "tc_freeze");
    if (refused || core->frozen) return refused;
    if (c->threads > 1 && !tc__pool_need(c)) return TC_E_NOMEM;
    if (c->pool) tc__pool_stay_awake(c->pool, 1);
    c->log_mask = core->log_mask, core->log_mask = 0;
    core->frozen = 1;
    return TC_OK;
}

TCDEF tc_status tc_thaw(tc_ctx *c) {
    if (!c) return tc__fail_no_context("tc_thaw", NULL, 0);
    tc__core *core = tc__core_of(c);
    if (!tc__is_ours(c, "tc_thaw")) return tc__not_ours(c);
    if (!core->frozen) return TC_OK;
    core->frozen = 0, core->log_mask = c->log_mask;
    if (c->pool) tc__pool_stay_awake(c->pool, 0);
    return TC_OK;
}
