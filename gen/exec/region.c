// What happens at the ends of segments and regions: choose outputs, make or find the program, run it,
// and hand results to handles. These are the recorder's hooks.

// ---- results ----

// Result `position` of the visit is now at (layout, storage, offset); takes over no reference.
static tc__tensor *tc__visit_result(tc_ctx *c, tc__visit *v, uint32_t position,
                                    uint32_t layout, tc__storage *s, int64_t offset) {
    tc__tensor t;
    memset(&t, 0, sizeof t);
    while (v->result_of.count <= position)
        if (!TC__PUSH(c, v->result_of, 0)) return NULL;
    t.epoch = v->epoch, t.layout = layout, t.storage = s, t.offset = offset;
    t.file = v->path.at[position]->site.file, t.line = v->path.at[position]->site.line;
    if (!TC__PUSH(c, v->result, t)) return NULL;
    s->refs++;
    v->result_of.at[position] = (uint32_t)v->result.count;
    return &v->result.at[v->result.count - 1];
}

// Room for the results of a run of p, before it writes anything. 0 = out of memory.
static int tc__visit_results_prepare(tc_ctx *c, tc__visit *v, const tc__program *p) {
    for (size_t i = 0; i < p->output.count; i++)
        while (p->output.at[i].position != UINT32_MAX &&
               v->result_of.count <= p->output.at[i].position)
            if (!TC__PUSH(c, v->result_of, 0)) return 0;
    return TC__VEC_RESERVE(c, v->result, v->result.count + p->output.count);
}

static int tc__visit_results(tc_ctx *c, tc__visit *v, const tc__program *p) {
    for (size_t i = 0; i < p->output.count; i++) {
        const tc__output *o = &p->output.at[i];
        const tc__external *e = o->alias ? &v->external.at[o->external] : NULL;
        if (o->position == UINT32_MAX) continue;
        if (o->position < v->result_of.count && v->result_of.at[o->position]) continue;
        if (!tc__visit_result(c, v, o->position, o->layout, o->storage,
                              e ? e->offset + o->offset : 0))
            return 0;
    }
    return 1;
}

// Runs the program; its outputs become results of the visit. 0 = reported.
static int tc__program_results(tc_ctx *c, tc__visit *v, tc__program *p) {
    if (!tc__visit_results_prepare(c, v, p) || !tc__program_run(p, v) ||
        !tc__visit_results(c, v, p))
        return 0;
    tc__refusals_settle(c, v);
    return 1;
}

// ---- programs of steps ----

enum { TC__RECOMPILE_LIMIT = 16, TC__AUTOTUNE_SECONDS = 10 };

// What the caller of a region or function asked for; NULL = defaults, which a context keeps, so they are found once: a
// quarter of the instructions of a visit of two ops. 0 = reported.
static int tc__region_options(tc_ctx *c, tc__region *r, const char *who,
                              const tc_options *o) {
    if (!o && r->by_default) return 1;
    tc_options all = o ? *o : tc_options_default();
    if (o && !tc__options_check(c, who, &all, 1)) return 0;
    const char *const *mode = tc__mode_names;
    tc__options_inherit(&all, &c->defaults);
    if (all.recompile_limit <= 0) all.recompile_limit = TC__RECOMPILE_LIMIT;
    if (all.autotune_seconds <= 0) all.autotune_seconds = TC__AUTOTUNE_SECONDS;
    if (!all.backend) all.backend = tc__backend_default->name;
    if (!all.mode) all.mode = tc__mode_names[0];
    const tc__backend *b = tc__backend_find(c, all.backend, strlen(all.backend));
    if (!b) return tc__fail_backend(c, who, all.backend, strlen(all.backend));
    if (!tc__backend_has_device(c, who, b)) return 0;
    int known = tc__word_in(TC__MODES, all.mode, strlen(all.mode));
    if (known < 0)
        return tc__fail(c, TC_E_ARG, "%s: there is no mode \"%.60s\"; there are %s", who,
                        all.mode, TC__MODES);
    if (!TC__TUNES && known >= TC__MODE_MAX_AUTOTUNE)
        return tc__fail(
            c, TC_E_UNSUPPORTED,
            "%s: mode \"%s\": it is left out by TC_NO_REPORT; compile without that", who,
            mode[known]);
    all.backend = b->name, all.mode = mode[known];
    r->options = all, r->backend = b, r->fixed_sizes = tc__region_is_foreign(r);
    r->by_default = !o;
    return 1;
}

static tc__step *tc__region_mark(tc_ctx *c, tc__visit *v, tc__op op, const tc_tensor *in,
                                 uint32_t n_in, tc__site site) {
    tc__call k;
    memset(&k, 0, sizeof k);
    k.op = op, k.in = in, k.n_in = n_in, k.site = site;
    if (op != TC_OP_KEEP && !tc__visit_share(c, v, site)) return NULL;
    return tc__visit_step(c, v, &k);
}

// Opens a visit of r, which TC_STANCE_FORCE_EAGER gives a way of its own. 0 = reported, none is open.
static int tc__visit_begin(tc_ctx *c, tc__region *r, tc__site begin) {
    if (!tc__visit_open(c, r, begin)) return 0;
    tc__visit *v = c->recorder.visit;
    if (!tc__is_forced(c) || tc__region_mark(c, v, TC_OP_FORCE_EAGER, NULL, 0, begin))
        return 1;
    v->state = TC__VISIT_FAILED, c->recorder.visit = NULL;
    return 0;
}

typedef enum tc__cause { TC__NEW_PATH, TC__NEW_OUTPUTS } tc__cause;

static void tc__log_recompile(tc_ctx *c, const tc__visit *v, const tc__program *p,
                              const tc__step *s, tc__cause why) {
    tc__text t;
    if (!tc__log_on(c, TC__LOG_RECOMPILES)) return;
    tc__text_init(&t, c);
    tc__put(&t, "%s \"%s\" (%s:%d): program for %u steps, %u kernels, %u us: ",
            tc__region_kind(v->region), v->region->name,
            v->begin.file ? v->begin.file : "?", v->begin.line, (unsigned)s->position,
            (unsigned)p->launch.count, (unsigned)(tc__made_ns(p) / 1000));
    if (why == TC__NEW_PATH)
        tc__put_miss(&t, v);
    else
        tc__put(&t, "results that were read later, or behind a break, are stored now");
    if (!t.failed) tc__log_text(c, TC__LOG_RECOMPILES, t.at);
    tc__text_free(&t);
}

static void tc__log_times(tc_ctx *c, const tc__visit *v, const tc__program *p) {
    const tc_stats *a = &p->after, *b = &p->before;
    tc__log(
        c, TC__LOG_PERF,
        "%s \"%s\", program %u: made in %u us: passes %u, text %u, compiler %u, load %u",
        tc__region_kind(v->region), v->region->name, (unsigned)p->number,
        (unsigned)(tc__made_ns(p) / 1000), (unsigned)((a->pass_ns - b->pass_ns) / 1000),
        (unsigned)((a->emit_ns - b->emit_ns) / 1000),
        (unsigned)((a->cc_ns - b->cc_ns) / 1000),
        (unsigned)((a->load_ns - b->load_ns) / 1000));
}

// Whether the results of earlier segments that a program reads are in memory: what a graph break
// stores may differ from size to size.
static int tc__program_is_fed(const tc__program *p, const tc__visit *v) {
    for (size_t i = 0; i < p->address.count; i++) {
        const tc__address *a = &p->address.at[i];
        if (a->output || a->source < p->externals) continue;
        uint32_t at = a->source - p->externals;
        if (at >= v->result_of.count || !v->result_of.at[at]) return 0;
    }
    for (size_t i = 0; i < p->assumed.count; i++)
        if (p->assumed.at[i] >= v->result_of.count || !v->result_of.at[p->assumed.at[i]])
            return 0;
    return 1;
}

// Whether the step has a program that stores what it should, for the sizes of this visit.
static int tc__step_is_ready(const tc__visit *v, const tc__step *s) {
    const tc__program *p = (const tc__program *)s->program;
    if (!p || s->generation != v->region->generation) return 0;
    if (!p->forced && p->backend != v->region->backend) return 0;
    if (p->numerics != (int)v->region->options.numerics) return 0;
    if (p->round_each_op != v->region->options.round_each_op) return 0;
    if (p->memory_budget != v->region->options.memory_budget) return 0;
    if (p->allow_tf32 != v->region->options.allow_tf32) return 0;
    if (v->segment && !tc__program_is_fed(p, v)) return 0;
    return p->exact ? tc__program_is_laid_out(p, v) : tc__program_fits(p, v);
}

static int tc__fail_recompile(tc_ctx *c, const tc__visit *v) {
    if (tc__core_of(c)->frozen)
        return tc__fail(
            c, TC_E_RECOMPILE,
            "\"%s\" (%s:%d) has no program for this, and the context is frozen; "
            "warm it up before, or tc_thaw it",
            v->region->name, v->begin.file ? v->begin.file : "?", v->begin.line);
    return tc__fail(c, TC_E_RECOMPILE,
                    "\"%s\" (%s:%d) has no program for this, and the stance is "
                    "fail_on_recompile; warm it up before, or change the stance",
                    v->region->name, v->begin.file ? v->begin.file : "?", v->begin.line);
}

// The step's program for these positions, made again when flags changed; NULL = reported.
static tc__program *tc__step_program(tc_ctx *c, tc__visit *v, tc__step *s,
                                     const uint32_t *position, size_t n) {
    tc__effects effects = s->op == TC_OP_FINISH ? TC__WRITE_BACK : TC__NO_EFFECTS;
    tc__program *p = (tc__program *)s->program;
    tc__cause why = p ? TC__NEW_OUTPUTS : TC__NEW_PATH;
    int foreign = tc__region_is_foreign(v->region);
    int exact = foreign || s->flags & TC__STEP_EXACT;
    if (tc__step_is_ready(v, s)) {
        c->stats.program_hits++;
        return p;
    }
    if (c->stance == TC_STANCE_FAIL_ON_RECOMPILE || tc__core_of(c)->frozen) {
        tc__fail_recompile(c, v);
        return NULL;
    }
    uint32_t number = p ? p->number : v->region->made++;
    tc__program_drop(p);
    s->program = NULL;
    tc__programs_trim(c, v->region);
    tc__recordings_trim(c, v);
    size_t bytes = tc__core_of(c)->bytes;
    uint32_t charged = v->region->programs;
    p = tc__program_make(c, v, s->position, position, n, effects, &exact);
    if (exact && !foreign) s->flags |= TC__STEP_EXACT;
    if (!p) return NULL;
    p->number = number;
    if (!tc__program_start(c, v->region, p, exact)) {
        tc__program_drop(p);
        return NULL;
    }
    s->program = p, s->generation = v->region->generation;
    p->charged = v->region->programs - charged;
    bytes =
        tc__core_of(c)->bytes - bytes - p->memory_bytes; // intermediates are not counted
    tc__program_hold(p, bytes > SIZE_MAX / 2 ? 0 : bytes);
    c->stats.programs++;
    p->after = c->stats;
    tc__log_recompile(c, v, p, s, why);
    tc__log_times(c, v, p);
    tc__log_path_guards(c, v, p);
    return p;
}

// Marks results that steps after the break at `at` use, so that the next visit stores them there.
static void tc__mark_crossing(tc__visit *v, uint32_t at) {
    for (uint32_t i = at + 1; i < v->path.count; i++) {
        const tc__step *s = v->path.at[i];
        if (tc__is_composite((tc__op)s->op)) continue;
        for (uint32_t k = 0; k < s->n_in; k++) {
            uint32_t code = tc__memory_of(v, s->in[k]);
            if (code & TC__EXTERNAL || code >= at) continue;
            tc__step *from = v->path.at[code];
            if (from->flags & TC__STEP_CROSSES) continue;
            from->flags |= TC__STEP_CROSSES;
            v->region->generation++;
        }
    }
}

static int tc__run_step(tc_ctx *c, tc__visit *v, tc__step *s, const uint32_t *position,
                        size_t n) {
    tc__program *p = tc__step_program(c, v, s, position, n);
    return p && tc__program_results(c, v, p);
}

static int tc__is_operand(const tc__step *s, uint32_t code) {
    for (uint32_t k = 0; k < s->n_in; k++)
        if (s->in[k] == code) return 1;
    return 0;
}

// Whether the program of break `at` stores result i: it is read there, a later segment uses
// it, or it is small and computed on the way.
static int tc__segment_stores(const tc__reach *r, uint32_t i, const tc__step *at) {
    const tc__step *s = r->v->path.at[i];
    if (i < r->v->result_of.count && r->v->result_of.at[i]) return 0;
    if (tc__is_operand(at, i) || s->flags & TC__STEP_CROSSES) return 1;
    return r->used[i] && !s->loop && tc__has_result((tc__op)s->op) &&
           tc__is_small_result(s);
}

// The positions that the program of break `s` stores. NULL = out of memory.
static uint32_t *tc__segment_positions(tc_ctx *c, tc__visit *v, const tc__step *s,
                                       size_t *n) {
    tc__reach r;
    uint32_t *at = TC__NEW_ARRAY(c, uint32_t, s->position);
    if (!at) return NULL;
    if (!tc__reach_of(&r, c, v, s->in, s->n_in, s->position)) {
        TC__FREE_ARRAY(c, at, s->position);
        return NULL;
    }
    for (uint32_t i = 0; i < s->position; i++)
        if (tc__segment_stores(&r, i, s)) at[(*n)++] = i;
    tc__reach_close(&r, c);
    return at;
}

// Whether all operands of a break are in memory.
static int tc__segment_is_fed(const tc__visit *v, const tc__step *s) {
    for (uint32_t k = 0; k < s->n_in; k++)
        if (!(s->in[k] & TC__EXTERNAL) &&
            (s->in[k] >= v->result_of.count || !v->result_of.at[s->in[k]]))
            return 0;
    return 1;
}

enum { TC__LONG_TIMES = 16, TC__LONG_STEPS = 256 };

// An open region that has grown far beyond those visits of it that ended: it was left without its end, as it
// seems. Told once.
static void tc__visit_is_long(tc_ctx *c, const tc__visit *v) {
    tc__region *r = v->region;
    size_t usual = r->longest;
    if (r->function || c->lazy || !usual || r->told_long) return;
    if (v->path.count < TC__LONG_TIMES * usual + TC__LONG_STEPS) return;
    r->told_long = 1;
    tc__warn(
        c,
        "region \"%s\" begun at %s:%d is open for %zu steps, and ended behind %zu before; "
        "did a break or return leave it without its tc_trace_end?",
        r->name, v->begin.file ? v->begin.file : "?", v->begin.line, v->path.count, usual);
}

// A graph break. Everything recorded so far stays; the operands of `s` get data.
static int tc__segment(tc_ctx *c, tc__visit *v, tc__step *s) {
    size_t n = 0;
    tc__visit_promote(c, v);
    s = v->at;
    uint32_t *at = NULL;
    c->stats.graph_breaks++;
    tc__visit_is_long(c, v);
    tc__log(c, TC__LOG_GRAPH_BREAKS, "%s \"%s\": value read at %s:%d; %u steps run here",
            tc__region_kind(v->region), v->region->name, s->site.file ? s->site.file : "?",
            s->site.line, (unsigned)s->position);
    v->segment = s->position + 1;
    if (tc__segment_is_fed(v, s)) return 1;
    if (!tc__step_is_ready(v, s)) {
        at = tc__segment_positions(c, v, s, &n);
        if (!at) return 0;
    }
    int ok = tc__run_step(c, v, s, at, n);
    if (at) TC__FREE_ARRAY(c, at, s->position);
    return ok;
}

// A tensor on memory that the open region has written in place: its value now is that of a view recorded
// here, not what its memory still holds.
static tc_tensor tc__written_external(tc_ctx *c, tc_tensor t, tc__site site) {
    tc__visit *v = c->recorder.visit;
    const tc__tensor *m = v && v->writes ? tc__tensor_find(c, t) : NULL;
    int64_t dims[TC_MAX_RANK];
    tc__meta meta;
    if (!m || m->storage->bind_epoch != v->epoch || t.id >> TC__SLOT_BITS == v->key)
        return t;
    tc__meta_of_layout(tc__layout_at(c, m->layout), &meta);
    for (int i = 0; i < meta.rank; i++) dims[i] = meta.dims[i];
    return tc__op_n(TC_OP_RESHAPE, &t, 1, dims, meta.rank, site.file, site.line);
}

static int tc__fail_dry(tc_ctx *c, const char *who) {
    return tc__fail(c, TC_E_STATE,
                    "%s: the body reads a value, which tc_precompile has not; call it once "
                    "instead",
                    who);
}

// A graph break in the open region, after which the tensors are readable. 0 = reported.
static int tc__break_on(tc_ctx *c, const char *who, const tc_tensor *t, uint32_t n,
                        tc__site site) {
    tc__visit *v = c->recorder.visit;
    if (v->at->loop)
        return tc__fail(c, TC_E_UNSUPPORTED,
                        "%s: in %s of %s no value is read: it is recorded once, for all "
                        "turns, before there are values; compute with the tensor itself "
                        "(tc_where, tc_cond), or read it before the loop",
                        who, c->recorder.loop_body, c->recorder.loop);
    if (c->dry) return tc__fail_dry(c, who);
    int forbidden = v->region->options.fullgraph && !tc__is_forced(c);
    v->broken |= forbidden;
    if (forbidden)
        return tc__fail(c, TC_E_FULLGRAPH,
                        "%s: reads a value inside %s \"%s\", which asked for fullgraph; "
                        "move the read behind %s",
                        who, tc__region_kind(v->region), v->region->name,
                        v->region->function ? "the call" : "tc_trace_end");
    tc__step *s = tc__region_mark(c, v, TC_OP_BREAK, t, n, site);
    return s && tc__segment(c, v, s);
}

// The same where it takes one: for a result of the open region that is not in memory. A body must
// not be skipped either when what it reads comes from outside; one with tc_disable_begin never is.
static int tc__break_for(tc_ctx *c, const char *who, tc_tensor t, tc__site site) {
    tc__visit *v = c->recorder.visit;
    if (!v) return 1;
    int ours = t.id >> TC__SLOT_BITS == v->key;
    int skips = v->region->function && (v != c->recorder.suspended || c->dry);
    if (ours ? tc__tensor_find(c, t) != NULL : !skips) return 1;
    return tc__break_on(c, who, &t, 1, site);
}

// What code that reads t gets: *t, or what in the open region, or the one that tc_disable_begin
// suspended, stands for it; in memory if that is where it can be. 0 = reported.
static int tc__region_value(tc_ctx *c, const char *who, tc_tensor *t, tc__site site) {
    tc__recorder *r = tc__recorder_of(c);
    tc__visit *open = r->visit;
    if (!open) r->visit = r->suspended;
    *t = tc__written_external(c, *t, site);
    int ok = tc__break_for(c, who, *t, site);
    r->visit = open;
    return ok;
}

static int tc__any_break(const tc__visit *v) {
    for (size_t i = 0; i < v->path.count; i++)
        if (v->path.at[i]->op == TC_OP_BREAK) return 1;
    return 0;
}

// The first runs of a program are young: what is read late of them is computed from what
// inputs held, of which copies are kept where they are written or wrapped (tc__undo_save).
// Who reads late has the result as an external from then on, and the next visit sees by its
// step that it is wanted. So a loop over its own results has one path, and one program that
// is made twice.
enum { TC__YOUNG_RUNS = 4 }; // a loop may use a state at some visits only

// A run of the program whose results are the visit's, and may be read late. 0 = reported.
static int tc__visit_run(tc_ctx *c, tc__visit *v, tc__program *p) {
    v->seed = c->recorder.seed;
    v->young = !v->region->function && !c->dry && !tc__core_of(c)->frozen &&
               p->runs < TC__YOUNG_RUNS;
    if (!v->young) return tc__program_results(c, v, p);
    tc__undo *u = tc__undo_save(c, v, p);
    int ok = 1;
    for (size_t i = 0; u && i < v->external.count; i++) ok &= !u[i].failed;
    ok = ok && tc__program_results(c, v, p);
    tc__undo_settle(c, v, u);
    return ok;
}

// What a graph break copied of memory that was to be written is a view of that memory from now on.
static void tc__visit_forget_copies(tc__visit *v) {
    for (uint32_t i = 0; v->writes && v->segment && i < v->result_of.count; i++) {
        uint32_t code = v->result_of.at[i] ? tc__memory_of(v, i) : 0;
        if (!(code & TC__EXTERNAL)) continue;
        const tc__storage *s = v->result.at[v->result_of.at[i] - 1].storage;
        if (s != v->external.at[code & ~TC__EXTERNAL].storage) v->result_of.at[i] = 0;
    }
}

// The end of a region, or of a body with its results.
static int tc__visit_finish(tc_ctx *c, tc__visit *v, const tc_tensor *out, uint32_t n_out) {
    size_t n = 0, known = 0;
    tc__step *leaf = tc__region_mark(c, v, TC_OP_FINISH, out, n_out, v->begin);
    if (!leaf) return 0;
    tc__visit_promote(c, v);
    tc__visit_forget_copies(v);
    leaf = v->at;
    int fresh = !tc__step_is_ready(v, leaf);
    uint32_t *at = fresh ? tc__output_positions(c, v, leaf, &n, &known) : NULL;
    if (fresh && !at) return 0;
    c->stats.records += leaf->program == NULL;
    int ready = tc__keeps_prepare(c, v) && tc__visit_succeed(c, v);
    tc__program *p = ready ? tc__step_program(c, v, leaf, at, n) : NULL;
    int ok = p && (!fresh || TC__VEC_RESERVE(c, p->assumed, known));
    if (p && !ok) tc__program_drop(p), leaf->program = NULL;
    for (size_t i = 0; ok && fresh && i < known; i++)
        ok = TC__PUSH(c, p->assumed, at[n + i]);
    ok = ok && tc__visit_run(c, v, p) && tc__keeps_hand_over(c, v);
    if (at) TC__FREE_ARRAY(c, at, leaf->position);
    if (fresh && tc__any_break(v))
        for (uint32_t i = 0; i < v->path.count; i++)
            if (v->path.at[i]->op == TC_OP_BREAK && v->path.at[i]->program)
                tc__mark_crossing(v, i);
    if (v->at->branch) v->at->branch->used = ++c->recorder.clock;
    c->stats.visits++;
    c->stats.record_ns += tc__now_ns() - c->begun - (tc__busy_ns(c) - c->busy);
    tc__note_span(c, TC__SPAN_RECORD, c->begun, v->region);
    return ok;
}

// Result `position` where it shows memory that the caller has: that is where it lies, whatever is written
// there since. NULL = it shows none, or memory is out.
static tc__tensor *tc__demand_view(tc_ctx *c, tc__visit *v, uint32_t position) {
    uint32_t code = position;
    int64_t offset;
    while (!(code & TC__EXTERNAL) && v->path.at[code]->view) code = v->path.at[code]->in[0];
    if (!(code & TC__EXTERNAL)) return NULL;
    const tc__external *e = &v->external.at[code & ~TC__EXTERNAL];
    const tc__tensor *base = tc__tensor_find(c, e->handle);
    if (!base || base->layout != e->layout) return NULL;
    uint32_t layout = tc__code_layout(c, v, position, &offset);
    v->path.at[position]->flags |= TC__STEP_WANTED;
    v->region->generation++;
    return layout ? tc__visit_result(c, v, position, layout, base->storage,
                                     base->offset + offset)
                  : NULL;
}

// Hook: a result that no program stored is read after its visit.
static tc__tensor *tc__hook_demand(tc_ctx *c, tc__visit *v, uint32_t position) {
    const tc__step *s = v->path.at[position];
    tc__reach r;
    tc__tensor *view = tc__demand_view(c, v, position);
    if (view) return view;
    if (v->let_go) {
        tc__fail(
            c, TC_E_TOUCHED,
            "a result of region \"%s\" (recorded at %s:%d) was not stored, and inputs of "
            "that visit were freed since; tc_keep it",
            v->region->name, s->site.file ? s->site.file : "?", s->site.line);
        return NULL;
    }
    if (!tc__reach_of(&r, c, v, &position, 1, (uint32_t)v->path.count)) return NULL;
    int touched = 0;
    for (uint32_t i = 0; i < v->external.count; i++) {
        const tc__external *e = &v->external.at[i];
        touched |= *tc__reach_at(&r, TC__EXTERNAL | i) &&
                   tc__layout_at(c, e->layout)->numel && // of no elements none has changed
                   e->version != e->storage->version;
    }
    tc__reach_close(&r, c);
    if (touched) {
        tc__fail(c, TC_E_TOUCHED,
                 "a result of region \"%s\" (recorded at %s:%d) was not kept, and the "
                 "region's inputs have changed since; tc_keep it inside the region",
                 v->region->name, s->site.file ? s->site.file : "?", s->site.line);
        return NULL;
    }
    tc__log(c, TC__LOG_PERF,
            "%s \"%s\": result of %s:%d was not stored; computed again, and stored from "
            "the next visit on",
            tc__region_kind(v->region), v->region->name, s->site.file ? s->site.file : "?",
            s->site.line);
    v->path.at[position]->flags |= TC__STEP_WANTED;
    v->region->generation++;
    int exact = 0;
    tc__program *p = tc__program_make(c, v, (uint32_t)v->path.count, &position, 1,
                                      TC__NO_EFFECTS, &exact);
    int ok = p && tc__program_results(c, v, p);
    tc__program_drop(p);
    return ok ? &v->result.at[v->result_of.at[position] - 1] : NULL;
}

static void tc__forget_steps(tc__step *s) {
    for (; s; s = tc__step_after(s)) {
        tc__program_drop((tc__program *)s->program);
        s->program = NULL;
    }
}

static void tc__hook_forget(tc_ctx *c, tc__region *r) {
    (void)c;
    tc__forget_steps(r->root.next);
}
