// The first lines of tc_explain: what became of a context's regions and functions, for people who never
// saw the rest of it. Everything is read from the tries, whose leaves own the programs.

// ---- all that a region has ----

// Breaks and ends of a region's paths, and the programs among them.
typedef struct tc__overview {
    tc_ctx *ctx;
    TC__VEC(tc__step *)
    mark; // breaks and ends: with a program first, in the order of making
    uint32_t paths, breaks, programs, kernels, ops;
} tc__overview;

static void tc__overview_step(tc__overview *o, tc__step *s, int *ok) {
    const tc__program *p = (const tc__program *)s->program;
    o->ops += (uint32_t)tc__has_result((tc__op)s->op);
    o->paths += s->op == TC_OP_FINISH;
    o->breaks += s->op == TC_OP_BREAK;
    o->programs += p != NULL;
    o->kernels += p ? (uint32_t)p->launch.count : 0;
    if (s->op == TC_OP_FINISH || s->op == TC_OP_BREAK)
        *ok = *ok && TC__PUSH(o->ctx, o->mark, s);
}

static uint32_t tc__mark_order(const tc__step *s) {
    const tc__program *p = (const tc__program *)s->program;
    return p ? p->number : UINT32_MAX;
}

static int tc__overview_open(tc__overview *o, tc_ctx *c, const tc__region *r) {
    int ok = 1;
    memset(o, 0, sizeof *o);
    o->ctx = c;
    for (tc__step *s = r->root.next; s; s = tc__step_after(s)) tc__overview_step(o, s, &ok);
    for (size_t i = 1; i < o->mark.count; i++) {
        tc__step *s = o->mark.at[i];
        size_t k = i;
        for (; k && tc__mark_order(o->mark.at[k - 1]) > tc__mark_order(s); k--)
            o->mark.at[k] = o->mark.at[k - 1];
        o->mark.at[k] = s;
    }
    return ok;
}

static void tc__overview_close(tc__overview *o) { TC__VEC_FREE(o->ctx, o->mark); }

static tc_fn *tc__fn_of(const tc_ctx *c, const tc__region *r) {
    tc_fn *f = r->function ? c->fn : NULL;
    while (f && f->region != r) f = f->next;
    return f;
}

// ---- words ----

static void tc__put_us(tc__text *t, uint64_t ns) { tc__put_fixed(t, ns / 100, 1); }

static void tc__put_count(tc__text *t, uint64_t n, const char *what) {
    tc__put(t, "%llu %s%s", (unsigned long long)n, what, n == 1 ? "" : "s");
}

static void tc__put_ms(tc__text *t, uint64_t ns) {
    tc__put_fixed(t, ns / 100000, 1);
    tc__put(t, " ms");
}

static void tc__put_size(tc__text *t, uint64_t bytes) {
    int small = bytes < 1000000;
    tc__put_fixed(t, bytes / (small ? 100 : 100000), 1);
    tc__put(t, small ? " KB" : " MB");
}

// region "scores" (main.c:7)
static void tc__put_region(tc__text *t, const tc__region *r) {
    tc__put(t, "%s \"%s\" (", tc__region_kind(r), r->name);
    tc__put_site(t, r->begin);
    tc__put(t, ")");
}

// ---- the summary ----

enum { TC__SUMMARY_LINES = 4 }; // of a kind; how many more there are is told

typedef struct tc__summary {
    uint32_t regions, functions, visits;
    uint32_t paths, programs, kernels, ops;
    uint32_t breaks, changed,
        demoted; // breaks; regions of several paths; functions that run as regions
    const tc__region *restless; // whose visits hardly ever repeat; NULL = none
    const tc__region *over;     // that takes more than its memory_budget; NULL = none
    const tc__program *keeps;   //   in this program
} tc__summary;

// Percent that intermediates of p take of what they would without its memory_budget, where that is more than it asks for;
// else 0.
static int tc__program_over(const tc__program *p) {
    double share = p->without > 0 ? 100 * p->within / p->without : 0;
    return share > p->memory_budget ? (int)(share + 0.5) : 0;
}

static void tc__summary_add(tc__summary *s, const tc__region *r, const tc__overview *o,
                            const tc_fn *f) {
    s->functions += r->function != 0, s->regions += !r->function;
    s->visits += r->visits, s->paths += o->paths;
    s->programs += o->programs, s->kernels += o->kernels, s->ops += o->ops;
    s->breaks += o->breaks, s->changed += o->paths > 1, s->demoted += f && f->demoted;
    for (size_t i = 0; i < o->mark.count; i++) {
        const tc__program *p = (const tc__program *)o->mark.at[i]->program;
        if (p && tc__program_over(p)) s->over = r, s->keeps = p;
    }
    if (o->paths > 4 && o->paths > r->visits / 2) s->restless = r;
}

static int tc__is_break(const tc__step *s) { return s->op == TC_OP_BREAK; }

static void tc__summary_breaks(tc__text *t, const tc__region *r, const tc__overview *o,
                               uint32_t *told) {
    for (size_t i = 0; i < o->mark.count; i++) {
        const tc__step *s = o->mark.at[i];
        if (!tc__is_break(s) || (*told)++ >= TC__SUMMARY_LINES) continue;
        tc__put(t, "    graph break: ");
        tc__put_region(t, r);
        tc__put(t, " reads a value at ");
        tc__put_site(t, s->site);
        tc__put(t, s->program ? "; what it needs runs there, the rest later\n"
                              : "; it was in memory, nothing had to run\n");
    }
}

// The path of the youngest program, against what was known before.
static void tc__summary_paths(tc__text *t, tc__region *r, const tc__overview *o,
                              uint32_t *told) {
    tc__step *last = NULL;
    tc__visit v;
    for (size_t i = 0; i < o->mark.count; i++)
        if (!tc__is_break(o->mark.at[i]) && o->mark.at[i]->program) last = o->mark.at[i];
    if (!last || o->paths < 2 || (*told)++ >= TC__SUMMARY_LINES) return;
    if (!tc__path_open(t->ctx, &v, r, last)) return;
    int forced = ((const tc__program *)last->program)->forced;
    tc__put(t, forced ? "    run op by op: " : "    compiled again: ");
    tc__put_region(t, r);
    tc__put(t, " took %u ways; the last new one because ", (unsigned)o->paths);
    tc__put_miss(t, &v);
    tc__put(t, "\n");
    tc__path_close(t->ctx, &v);
}

static void tc__summary_demoted(tc__text *t, const tc__region *r, const tc_fn *f) {
    if (!f || !f->demoted) return;
    tc__put(t, "    not skipped: the body of ");
    tc__put_region(t, r);
    tc__put(t, " runs at every call: %s\n", f->demoted);
}

static void tc__summary_more(tc__text *t, uint32_t told, const char *what) {
    if (told > TC__SUMMARY_LINES)
        tc__put(t, "    and %u %s more, below\n", (unsigned)(told - TC__SUMMARY_LINES),
                what);
}

static void tc__summary_head(tc__text *t, const tc__summary *s) {
    const tc_stats *a = &t->ctx->stats;
    tc__put(t, "summary\n    ");
    tc__put_count(t, s->regions, "region");
    tc__put(t, " and ");
    tc__put_count(t, s->functions, "function");
    tc__put(t, ", recorded or followed ");
    tc__put_count(t, s->visits, "time");
    tc__put(t, ": ");
    tc__put_count(t, s->ops, "op");
    tc__put(t, " became ");
    tc__put_count(t, s->kernels, "fused kernel");
    tc__put(t, " in ");
    tc__put_count(t, s->programs, "program");
    tc__put(t, "\n    calls of functions: %llu, %llu of them without running the body\n",
            (unsigned long long)a->calls, (unsigned long long)a->skips);
}

// Memory and time, of eager ops too.
static void tc__summary_costs(tc__text *t) {
    const tc_stats now = tc_stats_get(t->ctx), *a = &now;
    uint64_t made = a->pass_ns + a->emit_ns + a->cc_ns + a->load_ns + a->autotune_ns;
    tc__put(t, "    memory: ");
    tc__put_size(t, a->bytes);
    tc__put(t, " now, ");
    tc__put_size(t, a->peak_bytes);
    tc__put(t, " at most; intermediates take ");
    tc__put_size(t, a->arena_bytes);
    tc__put(t, ", unshared it would be ");
    tc__put_size(t, a->unplanned_bytes);
    tc__put(t, "\n    time: ");
    tc__put_ms(t, made);
    tc__put(t, " to make programs, of which the compiler had ");
    tc__put_ms(t, a->cc_ns);
    tc__put(t, "; ");
    tc__put_ms(t, a->run_ns);
    tc__put(t, " to run them\n");
}

static void tc__summary_interpreted(tc__text *t, const tc_stats *a) {
    uint64_t without = a->fallbacks - a->refused;
    if (a->refused)
        tc__put(
            t,
            "    next: %llu kernels run in the interpreter, for the compiler refused "
            "their text; the log names them. A custom op's c_source is to be mended; any "
            "other is a fault of tcompile: please report it with TC_LOGS=output_unit\n",
            (unsigned long long)a->refused);
    if (without)
        tc__put(
            t,
            "    next: %llu kernels run in the interpreter, for there is no compiler that "
            "works; the log says why. Install one, or set CC\n",
            (unsigned long long)without);
}

// What to do about it, the most helpful first.
static void tc__summary_next(tc__text *t, const tc__summary *s) {
    const tc_stats *a = &t->ctx->stats;
    size_t before = t->size;
    tc__summary_interpreted(t, a);
    if (s->restless) {
        tc__put(t, "    next: visits of ");
        tc__put_region(t, s->restless);
        tc__put(t, " hardly ever repeat, and each new way is a program; TC_LOGS=recompiles "
                   "tells what differs from one to the next\n");
    }
    if (s->demoted)
        tc__put(t, "    next: let a body depend on its inputs and *user alone, and read no "
                   "values; then calls skip it\n");
    if (s->breaks)
        tc__put(t, "    next: read values behind tc_trace_end where you can; ops on both "
                   "sides of a break share no kernel. TC_FULLGRAPH=1 finds breaks\n");
    if (s->over) {
        tc__put(t, "    next: intermediates of ");
        tc__put_region(t, s->over);
        tc__put(
            t,
            " take %d %% of what they would without a budget, over memory_budget %d: %s. Smaller "
            "parts in tc_checkpoint keep less\n",
            tc__program_over(s->keeps), s->keeps->memory_budget,
            s->keeps->graph.loop.count ? "it does nothing where there are loops"
                                       : "less was not found");
    }
    if (t->size != before) return;
    if (a->cc_ns > a->run_ns)
        tc__put(
            t, "    next: nothing is in the way. Most time went to the compiler, once: the "
               "next start loads from disk; tc_precompile does it ahead of time\n");
    else
        tc__put(
            t, "    next: nothing is in the way. tc_profile_begin and tc_profile_text tell "
               "which kernel takes the time; mode \"max-autotune\" tries others\n");
}

enum { TC__SUMMARY_BREAKS, TC__SUMMARY_PATHS, TC__SUMMARY_PARTS };

// Lines of one kind of all regions; the first time all is counted.
static int tc__summary_walk(tc__text *t, tc__summary *s, int part) {
    static const char *const what[] = {"graph breaks", "regions"};
    uint32_t told = 0;
    for (tc__region *r = tc__recorder_of(t->ctx)->region; r; r = r->next) {
        tc__overview o;
        const tc_fn *f = tc__fn_of(t->ctx, r);
        int ok = tc__overview_open(&o, t->ctx, r);
        if (ok && part == TC__SUMMARY_PARTS) tc__summary_add(s, r, &o, f);
        if (ok && part == TC__SUMMARY_BREAKS) tc__summary_breaks(t, r, &o, &told);
        if (ok && part == TC__SUMMARY_PATHS) {
            tc__summary_paths(t, r, &o, &told);
            tc__summary_demoted(t, r, f);
        }
        tc__overview_close(&o);
        if (!ok) return 0;
    }
    if (part < TC__SUMMARY_PARTS) tc__summary_more(t, told, what[part]);
    return 1;
}

// Nothing where no region ran.
static void tc__explain_summary(tc__text *t) {
    tc__summary s;
    memset(&s, 0, sizeof s);
    if (!tc__summary_walk(t, &s, TC__SUMMARY_PARTS) || !(s.regions + s.functions)) return;
    tc__summary_head(t, &s);
    for (int part = 0; part < TC__SUMMARY_PARTS; part++)
        if (!tc__summary_walk(t, &s, part)) return;
    tc__summary_costs(t);
    tc__summary_next(t, &s);
    tc__put(t, "\n");
}
