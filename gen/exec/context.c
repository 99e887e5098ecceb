// Contexts and the public calls that are no ops: regions, reading, errors, statistics.

static tc_ctx *tc__open_failed(tc_ctx *c, const tc_allocator *hook) {
    tc__hook_realloc(hook, c, sizeof *c, 0);
    return NULL;
}

TCDEF tc_config tc_config_default(void) {
    tc_config config;
    memset(&config, 0, sizeof config);
    return config;
}

TCDEF const char *tc_version(void) { return TC_VERSION; }

// The name is the context's own from now on; 0 = out of memory.
static int tc__default_backend(tc_ctx *c, const char *name) {
    c->defaults.backend = c->default_backend = tc__string_copy(c, name);
    return !name || c->default_backend;
}

// Caps what the context uses of its CPU: the interpreter, what kernels are printed for, and the flags they
// are compiled with.
static void tc__limit_isa(tc_ctx *c, const char *isa) {
    static const unsigned most[] = {UINT_MAX, TC__CPU_WIDE | TC__CPU_AVX512F,
                                    TC__CPU_WIDE | TC__CPU_NEON, 0}; // of TC__ISAS
    int i = isa ? tc__word_in(TC__ISAS, isa, strlen(isa)) : 0;
    if (i < 0)
        tc__warn(c, "isa \"%.40s\" is ignored; its values: " TC__ISAS, isa);
    else
        tc__cpu_limit(c, most[i]);
}

// Whether the compiler left our arithmetic as it is written; else no result would be right.
static int tc__arithmetic_is_ours(tc_ctx *c) {
    tc__fp_state host = tc__fp_enter();
    const char *fault = tc__float_fault();
    if (!fault) fault = tc__isa_best(tc__cpu_of(c))->fault();
    tc__fp_leave(host);
    if (!fault) return 1;
    tc__warn(
        c,
        "tc_open: the implementation was compiled with %s, which changes results. Fix: "
        "compile the file with TCOMPILE_IMPLEMENTATION without it",
        fault);
    return 0;
}

static int tc__configure(tc_ctx *c, const tc_config *config) {
    c->threads = config->threads > 0 ? config->threads : tc__cpu_count();
    if (c->threads > TC__POOL_MAX) c->threads = TC__POOL_MAX;
    if (!TC__THREADS) c->threads = 1;
    tc__limit_isa(c, config->isa);
    if (!tc__arithmetic_is_ours(c)) return 0;
    c->defaults.backend = config->backend;
    tc__options_environment(c, &c->defaults, 1);
    const char *mode = c->defaults.mode;
    if (!TC__TUNES && mode && strstr(mode, "autotune")) {
        tc__warn(c, "TC_MODE=\"%s\" is ignored: it is left out by TC_NO_REPORT", mode);
        c->defaults.mode = NULL;
    }
    c->no_fusion = config->no_fusion, c->stance = config->stance;
    if (config->memory_mb > 0) {
        c->recordings_limit = ((size_t)config->memory_mb << 20) / 3;
        c->programs_limit = 2 * c->recordings_limit;
    }
    c->passes_off = tc__passes_parse(c, config->passes_off);
    if (config->logs) tc__log_parse(c, config->logs);
    return tc__default_backend(c, c->defaults.backend);
}

static const tc__hooks tc__exec_hooks = {
    tc__hook_eager, tc__hook_demand,   tc__hook_forget, tc__hook_together,
    tc__hook_apart, tc__hook_gradient, tc__hook_settle, tc__hook_abandon,
    tc_to_at,       tc__hook_evaluate};

// A context with nothing in it but what others need to know of it; NULL = reported nowhere.
static tc_ctx *tc__context_new(const tc_allocator *hook, const tc_logger *logger) {
    tc_ctx *c = (tc_ctx *)tc__hook_realloc(hook, NULL, 0, sizeof *c);
    if (!c) return NULL;
    memset(c, 0, sizeof *c);
    tc__core_of(c)->hook = *hook, tc__core_of(c)->logger = *logger;
    int slot = tc__ctx_register(c, tc__thread_self(), tc__now_ns());
    if (!slot) return tc__open_failed(c, hook);
    tc__recorder *r = &c->recorder;
    r->values.slot_of_ctx = (uint32_t)slot;
    // Contexts that reuse a slot start elsewhere, so that old handles stay dead.
    r->values.epoch = (uint32_t)(tc__now_ns() >> 10) & 0x3fffffff;
    r->hooks = &tc__exec_hooks;
    tc__host_open(c);
    r->seed = 0x853c49e6748fea9bu;
    tc__ix_open(&r->ix, c);
    tc__map_init(&r->visits, c);
    tc__map_init(&r->region_ids, c);
    tc__map_init(&c->eager_ids, c);
    tc__text_init(&c->report, c);
    return c;
}

TCDEF tc_ctx *tc_open(const tc_config *config) {
    tc_config all = config ? *config : tc_config_default();
    tc_ctx *c = tc__context_new(&all.allocator, &all.logger);
    if (!c) return NULL;
    if (!all.allocator.realloc) // of a hook's memory its owner knows more
        tc__core_of(c)->most = tc__machine_memory() / 10 * 9;
    (void)tc__options_check(c, "tc_open", &all, 0);
    tc__options_environment(c, &all, 0);
    if (tc__configure(c, &all) && tc__values_open(c) && tc__kernels_open(c, &all)) return c;
    tc_close(c);
    return NULL;
}

// Shows child c the live tensors of its parent; 0 = out of memory.
static int tc__share(tc_ctx *c, tc_ctx *parent) { return tc__family_join(c, parent); }

TCDEF tc_ctx *tc_open_shared(tc_ctx *parent) {
    if (!parent) return tc__fail_no_context("tc_open_shared", NULL, 0), (tc_ctx *)NULL;
    const tc__core *from = tc__core_of(parent);
    if (tc__values_of(parent)->parent) {
        tc__fail(parent, TC_E_STATE,
                 "tc_open_shared: this context is a shared one itself; share its parent");
        return NULL;
    }
    uint64_t user = tc__ctx_user(tc__values_of(parent)->slot_of_ctx);
    if (!tc__is_ours(parent, "tc_open_shared") || !tc__family_of(parent)) return NULL;
    tc__ctx_used(tc__values_of(parent)->slot_of_ctx, user); // it stays that thread's
    tc__family_settle(parent);
    tc_ctx *c = tc__context_new(&from->hook, &from->logger);
    if (!c) {
        tc__fail(parent, TC_E_NOMEM, "tc_open_shared: no memory, or 255 contexts are open");
        return NULL;
    }
    tc__core_like(tc__core_of(c), parent);
    if (from->frozen) tc__core_of(c)->log_mask = parent->log_mask;
    c->threads = 1;
    c->stance = parent->stance, c->defaults = parent->defaults;
    c->recorder.evaluates = parent->recorder.evaluates;
    c->recordings_limit = parent->recordings_limit;
    c->programs_limit = parent->programs_limit;
    c->no_fusion = parent->no_fusion, c->passes_off = parent->passes_off;
    if (tc__default_backend(c, parent->default_backend) && tc__backends_share(c, parent) &&
        tc__values_open(c) && tc__customs_share(c, parent) &&
        tc__kernels_share(c, parent) && tc__share(c, parent))
        return c;
    tc__fail(parent, tc_error(c) ? tc_error(c) : TC_E_NOMEM, "tc_open_shared: %s",
             *tc_error_text(c) ? tc_error_text(c) : "out of memory");
    tc_close(c);
    return NULL;
}

static void tc__close_eager(tc_ctx *c) {
    tc__visit *v = &c->eager_visit;
    tc__alone_forget(c);
    tc__eager_forget(c);
    tc__unbind_to(c, v, 0);
    TC__VEC_FREE(c, v->path);
    TC__VEC_FREE(c, v->external);
    TC__VEC_FREE(c, v->result);
    TC__VEC_FREE(c, v->result_of);
}

static void tc__close_now(tc_ctx *c) {
    tc__recorder *r = &c->recorder;
    tc_allocator hook = tc__core_of(c)->hook;
    r->visit = r->suspended = NULL; // a region that is still open ends with its results
    while (c->resource) c->resource->end(c->resource);
    while (c->fn) tc_fn_free(c->fn);
    while (r->region) {
        tc__region *next = r->region->next;
        tc__region_free(c, r->region);
        r->region = next;
    }
    tc__close_eager(c);
    tc__map_free(&r->visits);
    tc__map_free(&r->region_ids);
    tc__profile_free(c);
    tc__marks_free(c, &c->here);
    if (c->pool) tc__pool_close(c->pool);
    tc__kernels_close(c);
    tc__imports_free(c);
    tc__family_settle(c);
    tc__family_free(c);
    tc__customs_close(c);
    TC__VEC_FREE(c, c->unchecked);
    tc__storage_unref(c, c->seen);
    tc__values_close(c);
    tc__devices_close(c);
    tc__ix_close(&r->ix);
    tc__text_free(&c->report);
    tc__backends_free(c);
    tc__string_free(c, c->default_backend);
    tc__ctx_unregister((int)r->values.slot_of_ctx);
    TC_ASSERT(tc__core_of(c)->bytes == 0 || c->abandoned);
    tc__hook_realloc(&hook, c, sizeof *c, 0);
}

TCDEF void tc_close(tc_ctx *c) {
    if (!c || !tc__is_ours(c, "tc_close")) return;
    if (c->bodies || c->hosting) {
        tc__fail(c, TC_E_STATE, "tc_close: called by a body or a host call");
        return;
    }
    const tc__visit *v = c->recorder.visit;
    char inside[TC__INSIDE_TEXT];
    if (v && !c->lazy)
        tc__warn(c, "tc_close: region \"%s\" begun at %s:%d is still open%s",
                 v->region->name, v->begin.file ? v->begin.file : "?", v->begin.line,
                 tc__inside_text(c, inside));
    if (tc__family_waits(c)) return;
    tc_ctx *waits = tc__family_leave(c);
    tc__close_now(c);
    if (waits) tc__close_now(waits);
}

// ---- regions ----

static int tc__same_region(const tc__region *r, const char *name, tc__site s) {
    return r->begin.line == s.line && r->begin.file == s.file && !strcmp(r->name, name);
}

// A region was ended, or did not open.
static void tc__here_ended(tc_ctx *c) {
    if (!tc__begins_outermost(&c->recorder)) return;
    c->recorder.lexical = c->lexical_before;
    tc__here_leave(c, c->here_before);
}

// Nothing is recorded: the code runs eagerly, up to its end, which gives the status of what went wrong again.
static tc_status tc__begin_failed(tc_ctx *c) {
    c->recorder.skipped++;
    tc_status item = tc__core_of(c)->unit_item;
    return item ? item : TC_E_INTERNAL;
}

// The status of the outermost region, ok if its end was: what went wrong since its begin.
static tc_status tc__unit_of_region(tc_ctx *c, int ok) {
    return tc__unit_end(c, c->around, ok && !tc__core_of(c)->unit_item);
}

static int tc__same_place(tc__site a, tc__site b) {
    return a.line == b.line && a.file == b.file;
}

// The region inside the open one that this place has begun and not ended, from a stack as deep as now or
// deeper: a loop or a return left it, if the compiler has not made that of a function that calls itself. NULL =
// none, or the place begins regions for others.
static const tc__inner *tc__inner_left(const tc__recorder *r, const char *name,
                                       tc__site site, uintptr_t stack) {
    const tc__inner *left = NULL;
    if (tc__same_place(r->visit->begin, site)) return NULL;
    for (int i = 0; i < r->depth && i < TC__INNER_TOLD; i++) {
        const tc__inner *in = &r->inner[i];
        if (!tc__same_place(in->begin, site)) continue;
        if (strncmp(in->name, name, sizeof in->name - 1)) return NULL;
        if (in->stack <= stack) left = in;
    }
    return left;
}

// A region that is begun inside the open one: what tc__depth_behind asks of it.
static void tc__inner_begin(tc_ctx *c, const char *name, tc__site site) {
    tc__recorder *r = &c->recorder;
    tc__region *g = r->visit->region;
    uintptr_t stack = (uintptr_t)&site;
    const tc__inner *left = tc__inner_left(r, name, site, stack);
    if (left && !g->told_again++)
        tc__warn(c,
                 "region \"%s\" is begun again at %s:%d inside \"%s\", and its "
                 "tc_trace_end was not called; did a continue, break or return leave it?",
                 left->name, site.file ? site.file : "?", site.line, g->name);
    tc__visit_is_long(c, r->visit);
    r->inside = site;
    if (r->depth++ >= TC__INNER_TOLD) return;
    tc__inner *in = &r->inner[r->depth - 1];
    in->begin = site, in->stack = stack;
    snprintf(in->name, sizeof in->name, "%s", name);
}

// The region is open around a body or the like, whose it is not. r NULL = it runs op by op.
static tc_status tc__fail_in_body(tc_ctx *c, const char *who, const tc__region *r) {
    const char *mark = r ? "\"" : "", *name = r ? r->name : "";
    tc__fail(c, TC_E_REGION,
             "%s: %s%s%s%s is open around the %s this is; end it behind that", who,
             r ? "region " : "a region", mark, name, mark, c->recorder.floor.whose);
    return TC_E_REGION;
}

static tc_status tc__region_begin(tc_ctx *c, const char *name, const tc_options *options,
                                  tc__site site) {
    tc__recorder *r = &c->recorder;
    int again = r->visit && tc__same_region(r->visit->region, name, site);
    if (again && tc__is_in_body(r))
        return tc__fail_in_body(c, "tc_trace_begin", r->visit->region);
    if (again) tc__visit_abandon(c, r->visit, "was begun again before its tc_trace_end");
    if (tc__begins_outermost(r)) {
        c->here_before = tc__here_enter(c), c->lexical_before = c->recorder.lexical;
        if (!c->bodies) tc__core_of(c)->units = 0; // of what was left without its end
        c->around = tc__unit_begin(c);
    }
    if (r->visit || r->skipped || r->disabled || c->defaults.disable ||
        (options && options->disable == 1)) {
        if (r->visit)
            tc__inner_begin(c, name, site);
        else
            r->skipped++;
        return TC_OK;
    }
    tc__hook_settle(c);
    tc__region *g = tc__region_find(c, name, site, 0);
    if (!g || !tc__region_options(c, g, "tc_trace_begin", options))
        return tc__begin_failed(c);
    c->begun = tc__now_ns(), c->busy = tc__busy_ns(c);
    return tc__visit_begin(c, g, site) ? TC_OK : tc__begin_failed(c);
}

TCDEF tc_status tc_trace_begin_at(tc_ctx *c, const char *name, const tc_options *options,
                                  const char *file, int line) {
    tc__site site;
    if (!c) return tc__fail_no_context("tc_trace_begin", file, line);
    site.file = file, site.line = line;
    tc__site_set(c, site);
    tc__claim claim = tc__claim_ours(c, "tc_trace_begin");
    if (!claim) return tc__not_ours(c);
    tc__open_is_mine(&c->recorder);
    tc_status status = tc__region_begin(c, name ? name : "region", options, site);
    tc__claim_end(c, claim);
    return status;
}

static void tc__visit_end(tc_ctx *c) {
    c->recorder.visit = NULL;
    tc__here_ended(c);
}

// Regions that the caller has begun and not ended: not a function's own, not tc_lazy's, none around a body.
static int tc__begun(const tc_ctx *c) {
    const tc__recorder *r = &c->recorder;
    if (tc__is_in_body(r)) return r->depth - r->floor.depth;
    if (r->visit) return r->depth + !(r->visit->region->function || c->lazy);
    return r->skipped - (r->floor.whose ? r->floor.skipped : c->lazy && !r->suspended);
}

// There is no region that the caller could end.
static tc_status tc__fail_end(tc_ctx *c) {
    static const char who[] = "tc_trace_end";
    const tc__recorder *r = &c->recorder;
    const tc__floor *around = &r->floor;
    const tc__visit *v = around->visit ? around->visit : r->suspended;
    const tc__region *of = v ? v->region : NULL;
    int theirs = of ? !of->function && !c->lazy : around->skipped > (c->lazy != 0);
    if (r->disabled > around->disabled)
        tc__fail(c, TC_E_REGION, "%s between tc_disable_begin and its end", who);
    else if (around->whose && theirs)
        return tc__fail_in_body(c, who, of);
    else
        tc__fail(c, TC_E_REGION, "%s without a tc_trace_begin", who);
    return TC_E_REGION;
}

// Ends the open region, or the innermost of those that are a part of it.
static tc_status tc__region_end(tc_ctx *c) {
    tc__recorder *r = &c->recorder;
    tc__visit *v = r->visit;
    if (!v) {
        r->skipped--;
        tc__here_ended(c);
        return tc__begins_outermost(r) ? tc__unit_of_region(c, 1) : TC_OK;
    }
    if (r->depth) {
        r->depth--;
        return TC_OK;
    }
    if (v->broken) {
        v->state = TC__VISIT_FAILED;
        tc__refuse_writes(c, v);
        tc__unbind_to(c, v, 0);
        tc__visit_end(c);
        (void)tc__unit_of_region(c, 0);
        return TC_E_FULLGRAPH;
    }
    if (v->path.count > v->region->longest) v->region->longest = (uint32_t)v->path.count;
    int ok = tc__visit_finish(c, v, NULL, 0);
    v->state = ok ? TC__VISIT_DONE : TC__VISIT_FAILED;
    if (!ok) tc__refuse_writes(c, v);
    tc__visit_end(c);
    return tc__unit_of_region(c, ok);
}

static int tc__same_file(tc__site a, tc__site b) {
    return a.file && b.file && !strcmp(a.file, b.file);
}

// The line of a begin that an end at this place may belong to; 0 = it stands elsewhere.
static int tc__line_before(tc__site begin, tc__site end) {
    return tc__same_file(begin, end) && begin.line <= end.line ? begin.line : 0;
}

// Whether this is the end that earlier visits of the open region came to, and no other's.
static int tc__is_known_end(const tc__visit *v, tc__site end, tc__site innermost) {
    tc__site known = v->region->end;
    int alike = tc__same_file(v->begin, innermost) && v->begin.line == innermost.line;
    return tc__same_file(known, end) && known.line == end.line && !alike;
}

// How many regions inside the open one stay open behind an end at this place, -1 = nor does that one: fewer
// than depth - 1 where it is not the end of the innermost one, which was left by a return or break. An end
// belongs to the begin nearest before it; in one function only an earlier visit tells them apart.
static int tc__depth_behind(const tc_ctx *c, tc__site end) {
    const tc__recorder *r = &c->recorder;
    const tc__visit *v = r->visit;
    int behind = r->depth - 1, body = tc__is_in_body(r);
    int least = body ? r->floor.depth : 0;
    if (!v || !r->depth || r->depth > TC__INNER_TOLD) return behind;
    tc__site innermost = r->inner[behind].begin;
    int nearest = tc__line_before(innermost, end);
    for (int i = behind - 1; i >= least; i--) {
        int line = tc__line_before(r->inner[i].begin, end);
        if (line > nearest) nearest = line, behind = i;
    }
    if (v->region->function || c->lazy || body) return behind;
    if (tc__line_before(v->begin, end) > nearest) return -1;
    return tc__is_known_end(v, end, innermost) ? -1 : behind;
}

// Ends regions that were left without their end inside the one that ends here. Nothing is lost: what they
// recorded is a part of that one.
static void tc__end_left(tc_ctx *c, tc__site end) {
    tc__recorder *r = &c->recorder;
    int behind = tc__depth_behind(c, end);
    if (behind >= r->depth - 1) return;
    const tc__inner *left = &r->inner[behind + 1], *of = &r->inner[behind < 0 ? 0 : behind];
    tc__site_set(c, end);
    tc__fail(
        c, TC_E_REGION,
        "region \"%s\", begun at %s:%d, was left without its tc_trace_end; it ended at the "
        "end of \"%s\", and nothing is lost",
        left->name, left->begin.file, left->begin.line,
        behind < 0 ? r->visit->region->name : of->name);
    r->depth = behind + 1;
}

TCDEF tc_status tc_trace_end_at(tc_ctx *c, const char *file, int line) {
    tc__site end;
    if (!c) return tc__fail_no_context("tc_trace_end", file, line);
    end.file = file, end.line = line;
    if (!tc__is_ours(c, "tc_trace_end")) return tc__not_ours(c);
    if (tc__begun(c) <= 0) return tc__fail_end(c);
    int inner = c->recorder.depth;
    tc__end_left(c, end);
    if (c->recorder.visit && !inner) c->recorder.visit->region->end = end;
    int left = c->recorder.depth < inner;
    tc_status s = tc__region_end(c);
    return left && !s ? TC_E_REGION : s;
}

TCDEF tc_stance tc_set_stance(tc_ctx *c, tc_stance stance) {
    if (!c) return tc__fail_no_context("tc_set_stance", NULL, 0), TC_STANCE_DEFAULT;
    tc_stance before = c->stance;
    if (tc__outside(c, "tc_set_stance")) return before;
    if ((int)stance < 0 || stance > TC_STANCE_EAGER_THEN_COMPILE)
        tc__fail(c, TC_E_ARG, "tc_set_stance: %d is no stance", (int)stance);
    else
        c->stance = stance;
    return before;
}

TCDEF tc_status tc_wait_compiled(tc_ctx *c) {
    if (!c) return tc__fail_no_context("tc_wait_compiled", NULL, 0);
    if (!tc__is_ours(c, "tc_wait_compiled")) return tc__not_ours(c);
    tc__kernels_wait(c);
    return TC_OK;
}

TCDEF tc_status tc_reset(tc_ctx *c) {
    if (!c) return tc__fail_no_context("tc_reset", NULL, 0);
    tc__recorder *r = &c->recorder;
    tc_status refused = tc__outside(c, "tc_reset");
    if (refused) return refused;
    tc_status outer = tc__unit_begin(c);
    for (tc_fn *f = c->fn; f; f = f->next)
        if (!tc__fn_reset(f)) return tc__unit_end(c, outer, 0);
    (void)tc__unit_end(c, outer, 1);
    for (tc__region *g = r->region, *next; g; g = next) {
        next = g->next;
        if (g->function) continue;
        g->end_of_results = "which ended with a tc_reset of its region, begun";
        tc__region_unlink(g);
        tc__region_free(c, g);
    }
    c->recorder.values.trim_after = 0, tc__values_trim(c);
    return TC_OK;
}

// A result of the open region is kept by a step, so that it is an output; a body keeps nothing else.
TCDEF tc_tensor tc_keep_at(tc_tensor t, const char *file, int line) {
    tc_ctx *c = tc__ctx_of(t);
    tc__site site;
    if (!c && t.id) tc__fail_lost("tc_keep", t, file, line);
    if (!c) return t;
    const tc__recorder *r = &c->recorder;
    tc__visit *v = r->visit ? r->visit : r->suspended;
    site.file = file, site.line = line;
    if (!tc__is_ours(c, "tc_keep")) return tc__null();
    if (v && t.id >> TC__SLOT_BITS == v->key)
        return tc__region_mark(c, v, TC_OP_KEEP, &t, 1, site) ? t : tc__null();
    if (v && v->region->function) return t;
    tc__site_set(c, site);
    tc_status outer = tc__unit_begin(c);
    tc__tensor *m = tc__tensor_need(c, "tc_keep", t);
    return tc__unit_end(c, outer, m && tc__keep_now(c, t, m)) ? tc__null() : t;
}

// ---- reading ----

// The same for a tensor on a device: a copy, which the context holds until the next one.
static int tc__device_view(tc_ctx *c, const char *who, const tc__tensor *m,
                           const void **data, const tc__layout **layout, int64_t *offset) {
    const tc__layout l = *tc__layout_at(c, m->layout);
    tc__tensor from = *m;
    tc__storage_unref(c, c->seen);
    c->seen = tc__storage_new(c, (size_t)l.numel * tc__dtype(l.dtype)->bytes);
    if (!c->seen || !tc__device_read(c, who, &from, c->seen->data)) return 0;
    *data = c->seen->data, *offset = 0;
    *layout = tc__layout_at(c, tc__layout_intern(c, l.dtype, l.rank, l.dims, NULL));
    return 1;
}

// m becomes its element `index`; 0 = reported.
static int tc__element_of(tc_ctx *c, const char *who, tc__tensor *m, const tc_dims *index) {
    const tc__layout l = *tc__layout_at(c, m->layout);
    char text[160];
    tc__meta sizes;
    tc__meta_of_layout(&l, &sizes);
    if (index->rank != l.rank)
        return tc__fail(c, TC_E_RANK,
                        "%s: %d indices for sizes %s, which has %d dimensions", who,
                        index->rank, tc__dims_text(&sizes, text), l.rank);
    for (int k = 0; k < l.rank; k++) {
        int64_t i = index->size[k], n = l.dims[k];
        if (i < -n || i >= n)
            return tc__fail(c, TC_E_INDEX,
                            "%s: index %lld is out of range for dimension %d of sizes %s",
                            who, (long long)i, k, tc__dims_text(&sizes, text));
        m->offset += (i < 0 ? i + n : i) * l.strides[k];
    }
    m->layout = tc__layout_on(c, l.device, l.dtype, 0, NULL, NULL);
    return m->layout != 0;
}

// Elements of t in memory, computing what is needed; TC_OK or the error. index: of one, NULL = all.
static tc_status tc__host_view(tc_ctx *c, const char *who, tc_tensor t,
                               const tc_dims *index, const void **data,
                               const tc__layout **layout, int64_t *offset) {
    tc__tensor at;
    tc__site site;
    site.file = tc__core_of(c)->site_file, site.line = tc__core_of(c)->site_line;
    if (!tc__is_ours(c, who)) return tc__not_ours(c);
    tc_status outer = tc__unit_begin(c);
    int seen = tc__region_value(c, who, &t, site);
    tc__tensor *m = seen ? tc__tensor_need(c, who, t) : NULL;
    int ok = m && tc__is_told(c, who, t);
    if (ok) at = *m;
    if (ok && index) ok = tc__element_of(c, who, &at, index);
    tc_status status = tc__unit_end(c, outer, ok);
    if (!ok) return status;
    m = &at;
    *data = m->storage->data, *layout = tc__layout_at(c, m->layout), *offset = m->offset;
    if (!m->storage->device) return TC_OK;
    outer = tc__unit_begin(c);
    return tc__unit_end(c, outer, tc__device_view(c, who, m, data, layout, offset));
}

// The context of t, which `who` reads; NULL = none, reported, with the status of that.
static tc_ctx *tc__enter(const char *who, tc_tensor t, const char *file, int line,
                         tc_status *status) {
    tc_ctx *c = tc__ctx_of(t);
    tc__site site;
    site.file = file, site.line = line;
    *status = c ? TC_OK : tc__fail_lost(who, t, file, line);
    if (c) tc__site_set(c, site);
    return c;
}

TCDEF tc_status tc_read_at(tc_tensor t, void *dst, size_t bytes, const char *file,
                           int line) {
    const void *data;
    const tc__layout *l;
    int64_t offset;
    tc_status s;
    tc_ctx *c = tc__enter("read", t, file, line, &s);
    if (!c) return s;
    s = tc__host_view(c, "read", t, NULL, &data, &l, &offset);
    if (s) return s;
    size_t want = (size_t)l->numel * tc__dtype(l->dtype)->bytes;
    if (!dst && want) {
        tc__fail(c, TC_E_NULL,
                 "read: the destination is null; %lld elements of %s need %zu bytes",
                 (long long)l->numel, tc__dtype(l->dtype)->name, want);
        return TC_E_NULL;
    }
    if (bytes != want) {
        tc__fail(c, TC_E_ARG,
                 "read: the destination has %zu bytes, %lld elements of %s need %zu", bytes,
                 (long long)l->numel, tc__dtype(l->dtype)->name, want);
        return TC_E_ARG;
    }
    if (tc__copy_meets(l, data, offset, dst, bytes)) {
        tc__fail(c, TC_E_ALIAS,
                 "read: the destination is memory that the tensor itself shows; read into "
                 "other memory, or tc_copy_ a tc_clone");
        return TC_E_ALIAS;
    }
    tc__copy_from_strided(l, data, offset, dst);
    return TC_OK;
}

// Element `index` of t, NULL = the one that it has; 0 = reported.
static int tc__one_element(const char *who, tc_tensor t, const tc_dims *index,
                           const char *file, int line, tc__value *v, int *dtype) {
    const void *data;
    const tc__layout *l;
    int64_t offset;
    tc_status s;
    tc_ctx *c = tc__enter(who, t, file, line, &s);
    char text[160];
    tc__meta m;
    if (!c || tc__host_view(c, who, t, index, &data, &l, &offset)) return 0;
    tc__meta_of_layout(l, &m);
    if (l->numel != 1)
        return tc__fail(
            c, TC_E_SHAPE,
            "item: the tensor has sizes %s, one element is needed; tc_get reads one of many",
            tc__dims_text(&m, text));
    *v = tc__value_load(data, offset, l->dtype);
    *dtype = l->dtype;
    return 1;
}

TCDEF double tc_item_at(tc_tensor t, const char *file, int line) {
    tc__value v;
    int dtype;
    if (!tc__one_element("item", t, NULL, file, line, &v, &dtype)) return 0;
    return tc__is_float(dtype) ? v.f : (double)v.i;
}

TCDEF int64_t tc_item_i64_at(tc_tensor t, const char *file, int line) {
    tc__value v;
    int dtype;
    if (!tc__one_element("item", t, NULL, file, line, &v, &dtype)) return 0;
    return tc__is_float(dtype) ? tc__double_to_i64(v.f) : v.i;
}

TCDEF double tc_get_at(tc_tensor t, tc_dims index, const char *file, int line) {
    tc__value v;
    int dtype;
    if (!tc__one_element("get", t, &index, file, line, &v, &dtype)) return 0;
    return tc__is_float(dtype) ? v.f : (double)v.i;
}

TCDEF tc_status tc_print_at(tc_tensor t, const char *file, int line) {
    const void *data;
    const tc__layout *l;
    int64_t offset;
    tc_status s;
    tc_ctx *c = tc__enter("print", t, file, line, &s);
    tc__text text;
    if (!c) return s;
    s = tc__host_view(c, "print", t, NULL, &data, &l, &offset);
    if (s) return s;
    tc_status outer = tc__unit_begin(c);
    tc__text_init(&text, c);
    int ok = tc__show(&text, data, l, offset);
    tc__calm calm = tc__calm_begin();
    if (ok) fputs(text.at, stdout);
    tc__calm_end(calm);
    tc__text_free(&text);
    return tc__unit_end(c, outer, ok);
}

TCDEF const void *tc_data_at(tc_tensor t, const char *file, int line) {
    const void *data;
    const tc__layout *l;
    int64_t offset;
    tc_status s;
    tc_ctx *c = tc__enter("data", t, file, line, &s);
    if (!c || tc__host_view(c, "data", t, NULL, &data, &l, &offset)) return NULL;
    if (c->seen && data == c->seen->data) {
        tc__fail(c, TC_E_DEVICE,
                 "data: the tensor is on %s; tc_to(t, \"cpu\") first, or tc_read it",
                 tc_device_of(t));
        return NULL;
    }
    tc__tensor_lend(c, t);
    if (l->contiguous)
        return (const char *)data + offset * (int64_t)tc__dtype(l->dtype)->bytes;
    tc__fail(c, TC_E_ARG, "data: the tensor is a strided view; tc_contiguous it first");
    return NULL;
}
