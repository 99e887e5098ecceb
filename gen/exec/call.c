// Calls of functions, and the short cut that most of them take.
//
// The short cut serves the entry that was used last, where nothing but kernels has to run: every
// tensor is looked at once (alive? the layout it had? memory of its own?), addresses go straight to
// the kernels, results get handles. It changes nothing until it is sure; whatever it does not know
// is left to tc__fn_call. Budget: 400 instructions with eight inputs (bench/call.c).

// ---- what an entry needs for it ----

// Whether output `o` is a result with memory of its own, or written by a kernel where it belongs.
static int tc__quick_output(const tc__program *p, size_t i) {
    const tc__output *o = &p->output.at[i];
    if (o->position == UINT32_MAX) return o->direct;
    return !o->alias && !o->copy && o->first == i;
}

// The entry can be served: each tensor is on a storage of its own, and no constant.
static int tc__quick_given(const tc__entry *e) {
    for (size_t i = 0; i < e->given.count; i++) {
        const tc__given *g = &e->given.at[i];
        if (!g->layout || g->same != i || g->alias != i || g->constant) return 0;
    }
    return 1;
}

static int tc__quick_address_add(tc_ctx *c, tc__entry *e, const tc__program *p,
                                 const tc__address *a) {
    const tc__output *o = a->output ? &p->output.at[a->source] : NULL;
    uint32_t external = o ? o->external : a->source;
    tc__quick_address q;
    q.at = a->at, q.source = a->source, q.bytes = 0, q.begin = a->begin;
    if (o && !o->direct) return TC__PUSH(c, e->quick.out, q);
    if (external >= e->source.count) return 0;
    q.source = e->source.at[external];
    const tc__layout *l = tc__layout_at(c, e->given.at[q.source].layout);
    q.bytes = (uint32_t)tc__dtype(l->dtype)->bytes;
    if (o) q.begin += (size_t)o->offset * q.bytes;
    return TC__PUSH(c, e->quick.in, q);
}

// Prepares the entry, which has just run, for the short cut; or says that there is none.
static void tc__quick_prepare(tc_fn *f, tc__entry *e) {
    const tc__program *p = (const tc__program *)e->leaf->program;
    tc__quick *q = &e->quick;
    q->serial = 0, q->in.count = q->out.count = 0, q->writes = 0;
    if (!tc__quick_given(e) || tc__may_fail(p) || e->leaf->flags & TC__STEP_EXACT) return;
    if (p->tier != TC__TIER_FINAL || p->foreign || p->verify || p->still_of.count) return;
    for (size_t i = 0; i < e->result.count; i++)
        if (e->result.at[i] & TC__EXTERNAL) return;
    for (size_t i = 0; i < p->output.count; i++) {
        if (!tc__quick_output(p, i)) return;
        q->writes |= p->output.at[i].direct;
    }
    for (size_t i = 0; i < p->address.count; i++)
        if (!tc__quick_address_add(f->ctx, e, p, &p->address.at[i])) return;
    while (q->tensor.count < e->given.count)
        if (!TC__PUSH(f->ctx, q->tensor, NULL) || !TC__PUSH(f->ctx, q->id, 0)) return;
    q->plain = !p->size.count && !p->arg.count;
    for (size_t i = 0; i < e->range.count; i++) q->plain &= !e->range.at[i].bytes;
    q->serial = p->serial;
}

// ---- the short cut ----

// Signs n tensors: each alive, as the entry has it, on memory that no earlier one has. 0 = take
// the long way.
static int tc__quick_sign(tc_ctx *c, const tc_tensor *h, uint32_t n, const tc__given *g,
                          uint32_t epoch, tc__tensor **out) {
    const tc__values *v = tc__values_of(c);
    tc__tensor *const *slot = v->slot.at;
    uint64_t slots = v->slot.count, ctx = (uint64_t)v->slot_of_ctx << 32;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t id = h[i].id, at = id & TC__SLOT_MASK;
        tc__tensor *t = at < slots ? slot[at] : NULL;
        if (!t || (id >> TC__SLOT_BITS ^ ctx) != t->epoch) t = tc__tensor_find(c, h[i]);
        if (!t || t->layout != g[i].layout || t->grad != g[i].grad) return 0;
        tc__storage *s = t->storage;
        if (s->bind_epoch == epoch) return 0;
        s->bind_epoch = epoch;
        out[i] = t;
    }
    return 1;
}

// Memory that is written must be nobody else's: only what the user wrapped can be.
static int tc__quick_apart(const tc__entry *e, const tc__program *p) {
    tc__tensor *const *t = e->quick.tensor.at;
    int wrapped = 0;
    for (size_t i = 0; i < p->output.count; i++) {
        const tc__output *o = &p->output.at[i];
        int owner =
            o->direct ? t[e->source.at[o->external]]->storage->owner : (int)TC__OWNED;
        if (owner == TC__SHARED) return 0;
        wrapped |= owner == TC__WRAPPED;
    }
    for (size_t k = 0; k < e->source.count; k++) {
        const tc__storage *b = t[e->source.at[k]]->storage;
        if (!wrapped && b->owner != TC__WRAPPED) continue;
        for (size_t i = 0; i < p->output.count; i++) {
            const tc__output *o = &p->output.at[i];
            if (o->direct && tc__storages_meet(t[e->source.at[o->external]]->storage, b))
                return 0;
        }
    }
    return 1;
}

// Whether a late read of a region computes from what is to be written: see exec/run.c.
static int tc__quick_watched(const tc__entry *e, const tc__program *p) {
    tc__tensor *const *t = e->quick.tensor.at;
    int watched = 0;
    for (size_t i = 0; i < p->output.count; i++)
        if (p->output.at[i].direct)
            watched |= t[e->source.at[p->output.at[i].external]]->storage->watched;
    return watched;
}

static void tc__quick_written(const tc__entry *e, const tc__program *p) {
    tc__tensor *const *t = e->quick.tensor.at;
    for (size_t i = 0; i < p->output.count; i++)
        if (p->output.at[i].direct)
            t[e->source.at[p->output.at[i].external]]->storage->version++;
}

// Whether the call gives the tensors of the call before, and they live: then all that was found out
// of them holds, and the launches have their addresses.
TC__ALWAYS_INLINE int tc__quick_same(const tc__quick *q, uint32_t at, const tc_tensor *h,
                                     uint32_t n) {
    tc__tensor *const *t = q->tensor.at + at;
    const uint64_t *id = q->id.at + at;
    for (uint32_t i = 0; i < n; i++)
        if (h[i].id != id[i] || t[i]->epoch != (uint32_t)(id[i] >> TC__SLOT_BITS)) return 0;
    return 1;
}

// What tc__quick_same may know a tensor by: its slot stays. Results of regions, kept ones too, move and
// are freed, so they are looked up at every call.
static uint64_t tc__quick_id(tc_tensor t) { return tc__is_visit(t) ? UINT64_MAX : t.id; }

// Other tensors: signs them, and gives their addresses to the launches. 0 = the long way.
TC__NOINLINE static int tc__quick_bind(const tc__fcall *k, tc__entry *e, tc__program *p) {
    tc_ctx *c = k->f->ctx;
    tc__quick *q = &e->quick;
    uint32_t epoch = tc__epoch_next(tc__values_of(c)), n = k->n_in + k->n_to;
    uint32_t captured = (uint32_t)e->captured.count;
    tc__tensor **t = q->tensor.at;
    const tc__given *g = e->given.at;
    p->bound = NULL;
    if (!tc__quick_sign(c, k->in, k->n_in, g, epoch, t)) return 0;
    if (!tc__quick_sign(c, k->to, k->n_to, g + k->n_in, epoch, t + k->n_in)) return 0;
    if (!tc__quick_sign(c, e->captured.at, captured, g + n, epoch, t + n)) return 0;
    if (q->writes && !tc__quick_apart(e, p)) return 0;
    for (uint32_t i = 0; i < k->n_in; i++) q->id.at[i] = tc__quick_id(k->in[i]);
    for (uint32_t i = 0; i < k->n_to; i++) q->id.at[k->n_in + i] = tc__quick_id(k->to[i]);
    for (uint32_t i = 0; i < captured; i++)
        q->id.at[n + i] = tc__quick_id(e->captured.at[i]);
    for (size_t i = 0; i < q->in.count; i++) {
        const tc__quick_address *a = &q->in.at[i];
        const tc__tensor *of = t[a->source];
        *a->at = (char *)of->storage->data + of->offset * (int64_t)a->bytes + a->begin;
    }
    p->bound = e;
    return 1;
}

// What most entries do not have: bytes to compare, run-time sizes and values.
static int tc__quick_rest(tc_fn *f, const tc__entry *e, tc__program *p) {
    if (!tc__entry_ranges_hold(e)) return 0;
    if (!p->size.count && !p->arg.count) return 1;
    const tc__visit *v = tc__entry_visit(f, e);
    if (!tc__program_is_laid_out(p, v)) return 0;
    tc__program_args(p, v);
    return 1;
}

// To claim the context takes as long as a third of a short call: one does for what takes longer, where threads share a
// kernel, and for new memory (tc__output_storage).
TC__NOINLINE static void tc__quick_launch_all(tc_ctx *c, tc__launch *l) {
    tc__claim claim = tc__claim_take(c);
    tc__launch_all(c, l);
    tc__claim_end(c, claim);
}

// Storage for the outputs: one that a result before had, and that is free again.
TC__ALWAYS_INLINE int tc__quick_storages(tc__program *p, const tc__visit *v) {
    tc__output *o = p->output.at;
    for (size_t n = p->output.count; n--; o++) {
        tc__storage *s = o->kept[0];
        if (o->direct) continue;
        o->storage = s;
        if (TC__UNLIKELY(!s || s->refs != 1 || s->bytes < o->bytes))
            if (!tc__output_storage(p, v, o)) return 0;
    }
    return 1;
}

enum { TC__TIMED_RUNS = 64 }; // so many runs of a program are timed, then one in as many

// A run that is timed: under the profiler all are, and those of loops, whose turns are more than their kernels in a row.
TC__NOINLINE static void tc__quick_timed(tc__program *p, tc_fn *f, uint64_t run) {
    int all = p->ctx->profiling || p->graph.loop.count;
    uint64_t apart = run < TC__TIMED_RUNS || all ? 1 : TC__TIMED_RUNS;
    uint64_t start = tc__now_ns();
    f->visit.draw = tc__recorder_of(p->ctx)->draw;
    (void)tc__program_launch_all(p, &f->visit);
    uint64_t took = (tc__now_ns() - start) * apart;
    tc__note_span(p->ctx, TC__SPAN_RUN, start, f->region);
    p->timed_next = run + apart;
    p->run_ns += took;
    p->ctx->stats.run_ns += took;
}

// The kernels. The clock costs more than a small one, so later runs are timed by sample.
TC__ALWAYS_INLINE void tc__quick_launch(tc__program *p, tc_fn *f, uint32_t draws) {
    tc__recorder *r = tc__recorder_of(p->ctx);
    uint64_t run = p->runs++;
    tc__launch *l = p->launch.at;
    size_t n = p->launch.count;
    p->ctx->stats.kernel_runs += n;
    if (TC__UNLIKELY(run >= p->timed_next)) {
        tc__quick_timed(p, f, run);
        n = 0;
    }
    for (; n--; l++) {
        l->args.seed = r->seed, l->args.draw = r->draw;
        if (l->items > l->grain)
            tc__quick_launch_all(p->ctx, l);
        else if (l->items > 0)
            l->args.turn = ++p->ctx->turns, tc__launch_part(l, 0, l->items + l->behind, 0);
    }
    r->draw += draws;
}

// The same on a device, where it may fail: its status; there are no results then.
TC__NOINLINE static tc_status tc__quick_dispatch(const tc__fcall *k, tc__program *p,
                                                 uint32_t draws) {
    tc_ctx *c = p->ctx;
    tc__recorder *r = tc__recorder_of(c);
    uint64_t start = c->profiling ? tc__now_ns() : 0;
    tc__site_set(c, k->site);
    tc_status outer = tc__unit_begin(c);
    k->f->visit.draw = r->draw;
    p->runs++;
    c->stats.kernel_runs += tc__program_runs(p);
    int ok = tc__program_launch_all(p, &k->f->visit);
    if (!ok) tc__results_give(k->out, NULL, (int)k->n_out);
    if (ok) tc__note_span(c, TC__SPAN_RUN, start, k->f->region);
    if (ok) r->draw += draws;
    return tc__unit_end(c, outer, ok);
}

TC__ALWAYS_INLINE void tc__quick_results(const tc__fcall *k, const tc__entry *e,
                                         const tc__program *p) {
    for (uint32_t i = 0; i < k->n_out; i++) {
        const tc__output *o = &p->output.at[e->result.at[i]];
        o->storage->refs++;
        k->out[i] =
            tc__tensor_new(k->f->ctx, o->layout, o->storage, 0, k->site.file, k->site.line);
    }
}

// 1 = the call is done, *status is its status. 0 = nothing happened.
TC__ALWAYS_INLINE int tc__fn_quick(const tc__fcall *k, tc_status *status) {
    tc_fn *f = k->f;
    tc__entry *e = f->entry;
    tc_ctx *c = f->ctx;
    if (!e || !e->quick.serial || !e->leaf->program) return 0;
    if (e->quick.serial != ((const tc__program *)e->leaf->program)->serial) return 0;
    if (e->n_in != k->n_in || e->n_to != k->n_to || e->n_out != k->n_out) return 0;
    if (tc__fn_is_part(f) || tc__is_forced(c) || tc__core_of(c)->refused) return 0;
    if (tc__atomic_load64(&tc__core_of(c)->user))
        return 0; // the long way tells whose it is
    if (!tc__entry_lexical_holds(f, e)) return 0;
    tc__program *p = (tc__program *)e->leaf->program;
    const tc__quick *q = &e->quick;
    uint32_t n = k->n_in + k->n_to;
    int same = p->bound == e && tc__quick_same(q, 0, k->in, k->n_in) &&
               tc__quick_same(q, k->n_in, k->to, k->n_to) &&
               tc__quick_same(q, n, e->captured.at, (uint32_t)e->captured.count);
    if (!q->plain && !tc__quick_rest(f, e, p)) return 0;
    if (!same && !tc__quick_bind(k, e, p)) return 0;
    if (q->writes && tc__quick_watched(e, p)) return 0;
    if (!tc__slots_are_ready(tc__values_of(c), k->n_out)) return 0;
    if (!tc__quick_storages(p, &f->visit)) return 0;
    for (size_t i = 0; i < q->out.count; i++) {
        const tc__quick_address *a = &q->out.at[i];
        *a->at = (char *)p->output.at[a->source].storage->data + a->begin;
    }
    *status = p->dispatch ? tc__quick_dispatch(k, p, e->draws) : TC_OK;
    if (*status) return 1;
    if (!p->dispatch) tc__quick_launch(p, f, e->draws);
    c->stats.calls++, c->stats.skips++, c->stats.program_hits++, e->hits++;
    if (q->writes) tc__quick_written(e, p);
    tc__quick_results(k, e, p);
    return 1;
}

static tc_status tc__fn_enter(tc__fcall *k) {
    tc_status status;
    if (TC__UNLIKELY(tc__atomic_load32(&tc__values_of(k->f->ctx)->children))) {
        tc_status s = tc__fn_redirect(k);
        if (s) return tc__results_give(k->out, NULL, (int)k->n_out), s;
    }
    tc_fn *f = k->f;
    if (tc__fn_quick(k, &status)) return status;
    tc__hook_settle(f->ctx);
    uint64_t skips = f->ctx->stats.skips;
    status = tc__fn_call(k);
    tc__error_mark before = tc__error_now(f->ctx);
    if (!status && f->ctx->stats.skips > skips && f->entry) tc__quick_prepare(f, f->entry);
    tc__error_restore(f->ctx, before); // without memory there is no short cut, and no error
    return status;
}

// ---- public ----

// Left where an error about a null tensor is.
static tc_status tc__fail_no_function(const char *who, const char *file, int line) {
    tc_ctx *c = tc__ctx_at_hand();
    if (c && tc__is_others(c)) return tc__fail_stranger(c, who), TC_E_THREAD;
    return tc__fail_missing(who, "the function is NULL (did tc_compile fail?)", file, line);
}

TCDEF tc_status tc_call_at(tc_fn *f, const tc_tensor *in, int n_in, tc_tensor *out,
                           int n_out, const char *file, int line) {
    tc__fcall k;
    if (!f) {
        tc__results_give(out, NULL, n_out);
        return tc__fail_no_function("tc_call", file, line);
    }
    k.f = f, k.in = in, k.n_in = (uint32_t)n_in, k.out = out, k.n_out = (uint32_t)n_out;
    k.to = NULL, k.seen = NULL, k.n_to = 0, k.site.file = file, k.site.line = line;
    return tc__fn_enter(&k);
}

TCDEF tc_status tc_call_into_at(tc_fn *f, const tc_tensor *in, int n_in,
                                const tc_tensor *to, int n_to, const char *file, int line) {
    tc__fcall k;
    if (!f) return tc__fail_no_function("tc_call_into", file, line);
    k.f = f, k.in = in, k.n_in = (uint32_t)n_in, k.to = to, k.n_to = (uint32_t)n_to;
    k.out = NULL, k.seen = NULL, k.n_out = 0, k.site.file = file, k.site.line = line;
    return tc__fn_enter(&k);
}
