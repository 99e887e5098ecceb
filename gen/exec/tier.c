// When a program's kernels are compiled: at once, in the background, later, or never. Until then it
// runs interpreted, with the same results. What decides is the stance, the backend and the region's
// recompile_limit; a program that waits for its code asks for it at the begin of each run.
//
// Past the limit a path is interpreted, not made generic: the program for all sizes and
// values is there before, as the second size makes it. So what meets the limit is other
// structure, or sizes of a region that asked for TC_DYNAMIC_OFF.

// Graph breaks of the visit, behind each of which is a program; *site: where the last one is.
static int tc__visit_breaks(const tc__visit *v, tc__site *site) {
    int n = 0;
    memset(site, 0, sizeof *site);
    for (size_t i = 0; v && i < v->path.count; i++) {
        if (v->path.at[i]->op != TC_OP_BREAK) continue;
        *site = v->path.at[i]->site;
        n++;
    }
    return n;
}

static void tc__warn_limit(tc_ctx *c, const tc__region *r) {
    tc__site site;
    int limit = r->options.recompile_limit, breaks = tc__visit_breaks(r->visit[0], &site);
    tc__text t;
    tc__text_init(&t, c);
    tc__put(&t, "%s \"%s\" (%s:%d): recompile_limit of %d programs reached",
            tc__region_kind(r), r->name, r->begin.file ? r->begin.file : "?", r->begin.line,
            limit);
    if (2 * breaks > limit)
        tc__put(
            &t,
            " by the %d graph breaks of one visit, the last at %s:%d; what is new runs in the "
            "interpreter. A loop that reads values has the same programs for all its rounds "
            "where %s each",
            breaks, site.file ? site.file : "?", site.line,
            c->lazy ? "tc_eval ends" : "the region begins and ends in");
    else
        tc__put(&t, "; what is new runs in the interpreter. TC_LOGS=recompiles tells what "
                    "differs");
    if (!t.failed) tc__warn(c, "%s", t.at);
    tc__text_free(&t);
}

// Past its limit a region goes on in the interpreter; that is said once.
static int tc__may_compile(tc_ctx *c, tc__region *r) {
    if (r->programs++ < (uint32_t)r->options.recompile_limit) return 1;
    r->fixed_sizes = 0;
    if (r->programs == (uint32_t)r->options.recompile_limit + 1) tc__warn_limit(c, r);
    return 0;
}

static tc__autotune tc__program_autotune(const tc_ctx *c, const tc__program *p) {
    if (!p->tunes) return TC__AUTOTUNE_OFF;
    return c->stance == TC_STANCE_DEFAULT ? TC__AUTOTUNE_SEARCH : TC__AUTOTUNE_RECALL;
}

// 0 = its backend refused, reported. A registered one is asked at once, whatever the stance.
static int tc__program_start_compile(tc_ctx *c, tc__region *r, tc__program *p) {
    p->tier = TC__TIER_FINAL;
    int foreign = p->backend->own.run && !p->devices;
    if (!p->devices && !tc__may_compile(c, r)) return 1;
    if (foreign && p->graph.loop.count) {
        tc__warn(c,
                 "%s \"%s\" has loops or branches, of which graphs for backend \"%s\" tell "
                 "nothing; the interpreter runs it",
                 tc__region_kind(r), r->name, p->backend->name);
        return 1;
    }
    if (foreign && !tc__foreign_start(p, r)) return p->tier = TC__TIER_POSTPONED, 0;
    if (foreign) return 1;
    p->autotune = tc__program_autotune(c, p);
    if (c->stance != TC_STANCE_EAGER_THEN_COMPILE)
        (void)tc__program_compile(p, NULL, r->name, TC__COMPILE_ALL);
    else if (tc__program_compile_later(p, r->name))
        p->tier = TC__TIER_BUILDING;
    return 1;
}

// Compiles the user's ops of a program on devices. 1 = done, 0 = its launches are others, or not there, -1 =
// reported.
static int tc__program_customs(tc__program *p) {
    int same = p->dispatch != NULL;
    for (tc__dispatch *r = p->customs ? p->dispatch : NULL; r && same >= 0; r = r->next) {
        int one = tc__dispatch_customs(r);
        same = one < same ? one : same;
    }
    return same;
}

// The user's ops of a program on devices. Where some do not compile its launches are made anew, with
// the host's functions, and are to be laid out. 0 = reported.
static int tc__dispatch_start_customs(tc__program *p) {
    tc_device_mode mode = p->dispatch ? p->dispatch->mode : TC_DEVICE_CHOOSE;
    int same = tc__program_customs(p);
    if (same) return same > 0;
    tc__dispatches_free(p);
    p->laid_out = 0;
    if (!tc__dispatch_make(p)) return tc__dispatches_free(p), 0;
    for (tc__dispatch *r = p->dispatch; r; r = r->next) r->mode = mode;
    return 1;
}

// What a program has on devices gets its code; 0 = reported.
static int tc__dispatch_compile(tc__program *p, const char *name, tc__compile_what what) {
    for (tc__dispatch *r = p->dispatch; r; r = r->next)
        if (!r->ready && !tc__program_compile(p, r, name, what)) return 0;
    return 1;
}

// The code of a program on devices, before a run; 0 = reported.
static int tc__dispatch_settle(tc__program *p, const tc__region *r) {
    int ready = p->dispatch != NULL;
    for (const tc__dispatch *d = p->dispatch; d; d = d->next) ready &= d->ready;
    if (ready) return 1;
    p->ix.failed = 0; // of an earlier try, which memory ended
    return tc__dispatch_start_customs(p) &&
           tc__dispatch_compile(p, r ? r->name : "eager", TC__COMPILE_NEEDED);
}

// How the lists of a device are run.
static tc_device_mode tc__region_mode(const tc__region *r) {
    static const tc_device_mode modes[] = {TC_DEVICE_CHOOSE, TC_DEVICE_GRAPH,
                                           TC_DEVICE_GRAPH, TC_DEVICE_LAUNCHES};
    const tc__backend *b = (const tc__backend *)r->backend;
    if (!strcmp(b->name, "cudagraphs")) return TC_DEVICE_GRAPH;
    for (size_t i = 0; i < TC__COUNT(modes); i++)
        if (r->options.mode == tc__mode_names[i]) return modes[i];
    return TC_DEVICE_CHOOSE;
}

// A device has no interpreter: its programs are compiled at once, whatever the stance, the backend and
// the limit, which is told of all the same.
static int tc__dispatch_start(tc_ctx *c, tc__region *r, tc__program *p) {
    if (!p->forced) (void)tc__may_compile(c, r);
    for (tc__dispatch *d = p->dispatch; d; d = d->next) d->mode = tc__region_mode(r);
    p->autotune = tc__program_autotune(c, p);
    return tc__dispatch_start_customs(p) &&
           tc__dispatch_compile(p, r->name, TC__COMPILE_ALL);
}

// A program has been made. exact: it is for one set of sizes, which is not worth compiling. A registered backend
// has programs of the host alone. 0 = its backend refused, reported.
static int tc__program_start(tc_ctx *c, tc__region *r, tc__program *p, int exact) {
    int compiles = TC__JIT && !exact && p->backend->compile;
    p->tier = TC__TIER_FINAL;
    if (p->devices && !tc__dispatch_start(c, r, p)) return 0;
    if (p->devices ? !p->here : !compiles && !p->backend->own.run) return 1;
    int strict = compiles && p->numerics == TC_NUMERICS_STRICT;
    p->verify = strict && !p->devices ? r->options.verify : 0;
    if (p->devices && !compiles) return 1;
    if (c->stance != TC_STANCE_EAGER_ON_RECOMPILE)
        return tc__program_start_compile(c, r, p);
    p->tier = TC__TIER_POSTPONED;
    return 1;
}

// A program that waits is about to run: it takes its code if that is there. 0 = its backend refused,
// reported.
static int tc__program_settle(tc_ctx *c, tc__region *r, tc__program *p) {
    if (tc__core_of(c)->frozen) return 1;
    if (p->tier == TC__TIER_BUILDING) tc__program_arrive(p);
    if (p->tier == TC__TIER_FINAL)
        tc__log(c, TC__LOG_PERF,
                "%s \"%s\": compiled in the background, used from run %llu on",
                tc__region_kind(r), r->name, (unsigned long long)p->runs);
    int compiles =
        c->stance == TC_STANCE_DEFAULT || c->stance == TC_STANCE_EAGER_THEN_COMPILE;
    if (p->tier == TC__TIER_RESTING && compiles) tc__program_try_again(p, r->name);
    return p->tier != TC__TIER_POSTPONED || !compiles || tc__program_start_compile(c, r, p);
}
