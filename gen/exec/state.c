// The context: everything above the recorder that outlives a program.

typedef struct tc__eager tc__eager;
typedef struct tc__kernels tc__kernels;
typedef struct tc__profile tc__profile;

// Of tc_stats, what counts regions: a composite op outside them is none.
typedef struct tc__tally {
    uint64_t visits, records, programs, program_hits, record_ns;
} tc__tally;

// What parts below the context give it to own: files, sets of parameters. It stands first in them.
typedef struct tc__resource {
    tc_ctx *ctx;
    void (*end)(struct tc__resource *o); // frees it
    struct tc__resource *next, **at;     // what points at it
} tc__resource;

struct tc_ctx {
    tc__recorder recorder; // must be first
    tc_stats stats;
    tc__device here; // the host, as device 0
    tc__pool *pool;  // NULL until a program wants threads
    uint64_t turns;  // launches of kernels so far
    int threads;
    tc_stance stance;
    tc_options defaults; // of regions: from the environment, and tc_config.backend
    TC__VEC(struct tc__backend *) backends;  // registered; owned
    TC__VEC(const tc__language *) languages; // of headers beside this one
    const char *default_backend;             // what defaults.backend is; owned, NULL = none
    int no_fusion;
    uint32_t passes_off;     // bit i: pass i of tc__passes is off
    tc__kernels *kernels;    // compiled code; exec/kernels.c
    tc__emit target;         //   and what it is compiled for
    tc__resource *resource;  // the last one first
    uint64_t grads_switched; // calls of tc_requires_grad that changed something
    tc_fn *fn;               // functions; owned
    uint64_t fn_serial;      //   made so far
    tc__map eager_ids;       // hash of a call -> tc__eager
    size_t eager_held;       //   and the bytes that those took
    size_t programs_held,
        programs_limit; // bytes of all programs of steps; 0 = the usual limit
    uint32_t programs_live;
    int programs_warned;
    size_t recordings_limit; // bytes of all recordings; 0 = the usual limit
    int recordings_warned, regions_warned;
    uint64_t programs_serial;   // programs made so far
    tc__region *alone;          // of composite ops outside regions; owned
    tc__tally alone_tally;      //   before the one that runs
    tc__visit eager_visit;      // stands in for a region while one op runs
    uint64_t here_before;       // the outermost region began: tc__here_enter,
    tc__lexical lexical_before; //   and what the code around it says
    tc_status around;           //   and of the unit around it: tc__unit_begin
    int bodies, hosting;        // bodies of functions that run now; functions of host calls
    tc__theirs theirs;          //   and of the outermost of them
    uintptr_t stack_first;      //   where the stack was there,
    uintptr_t stack_least;      //   and from where down it is full; 0 = not asked yet
    int abandoned; // a thread has ended in a call: what that held is never freed
    int too_deep;  // so many were too many: all calls fail until the outermost returns
    int dry;       // programs are made, and do not run: tc_precompile
    int lazy;      // tc_lazy: a region is open whenever no other is
    tc__site lazy_site;
    uint32_t log_mask;      // while frozen: channels that were on
    tc__text report;        // of tc_explain
    tc__profile *profile;   // the last one, owned; NULL = there was none
    tc__profile *profiling; //   and if it goes on, else NULL
    tc__storage *seen;      // what was last read of a device; owned, NULL = nothing
    TC__VEC(struct tc__program *)
    unchecked;            // ran on a device; nobody looked at their flags
    uint64_t begun, busy; // at the begin of the open region: the clock, tc__busy_ns
};

static void tc__resource_add(tc_ctx *c, tc__resource *o, void (*end)(tc__resource *)) {
    o->ctx = c, o->end = end;
    o->next = c->resource, o->at = &c->resource;
    if (o->next) o->next->at = &o->next;
    c->resource = o;
}

static void tc__resource_remove(tc__resource *o) {
    *o->at = o->next;
    if (o->next) o->next->at = o->at;
}

// Inside a region, or a body.
static int tc__region_is_open(const tc_ctx *c) {
    const tc__recorder *r = &c->recorder;
    return r->visit || r->skipped || r->disabled || c->bodies;
}

// Whether a call that is for outside regions and bodies is there, and of the thread that has the context: TC_OK,
// or the error.
static tc_status tc__outside(tc_ctx *c, const char *who) {
    if (!tc__is_ours(c, who)) return tc__not_ours(c);
    const tc__recorder *r = &c->recorder;
    const tc__visit *v = r->visit ? r->visit : r->suspended;
    char inside[TC__INSIDE_TEXT];
    if (!tc__region_is_open(c)) return TC_OK;
    if (!v || v->region->function || c->lazy)
        tc__fail(c, TC_E_STATE, "%s: a region is open; call it outside", who);
    else
        tc__fail(c, TC_E_STATE,
                 "%s: a region is open, \"%s\" begun at %s:%d; call it outside%s", who,
                 v->region->name, v->begin.file ? v->begin.file : "?", v->begin.line,
                 tc__inside_text(c, inside));
    return TC_E_STATE;
}

// Bodies and host calls inside each other, each with a part of the caller's stack: as many as leave the innermost what
// the library takes there, or half of a small stack. Who has taken little is not asked: the system reads a file for
// the first thread's.
enum { TC__DEPTH_MOST = 64, TC__STACK_LITTLE = 16 << 10, TC__STACK_NEEDED = 64 << 10 };

// Whether the stack has no room for code of the user's that is called here.
static int tc__stack_is_full(tc_ctx *c) {
    uintptr_t here = TC__STACK_HERE(), low = 0, high = 0;
    if (!c->bodies && !c->hosting) c->stack_first = here, c->stack_least = 0;
    if (here >= c->stack_first || c->stack_first - here < TC__STACK_LITTLE) return 0;
    if (!c->stack_least) {
        int known = tc__stack_bounds(here, &low, &high);
        int is_small = known && high - low < 2 * TC__STACK_NEEDED;
        c->stack_least = 1;
        if (known)
            c->stack_least = is_small ? low + (high - low) / 2 : low + TC__STACK_NEEDED;
    }
    return here < c->stack_least;
}

// Code of the user's is about to be called, which may call more of it: `kind` "function", its name.
// 0 = reported; else tc__depth_leave follows. Past the limit every call fails until the outermost is
// done: a body that calls itself twice would go on for 2^64 calls.
static int tc__depth_enter(tc_ctx *c, int *count, const char *kind, const char *name) {
    if (tc__stack_is_full(c) || c->bodies + c->hosting >= TC__DEPTH_MOST)
        c->too_deep = c->bodies + c->hosting;
    if (!c->too_deep) {
        if (!c->bodies && !c->hosting) c->theirs = tc__theirs_begin(c);
        return ++*count;
    }
    return tc__fail(
        c, TC_E_STATE,
        "%s%s%s%s: calls of bodies and host functions are nested %d deep, which is %s; "
        "does one call itself without end?",
        kind, *name ? " \"" : "", name, *name ? "\"" : "", c->too_deep,
        c->too_deep < TC__DEPTH_MOST ? "all that the stack has room for" : "the limit");
}

static void tc__depth_leave(tc_ctx *c, int *count) {
    --*count;
    if (c->bodies || c->hosting) return;
    c->too_deep = 0;
    tc__theirs_end(c, c->theirs);
}

static int tc__threads(const tc_ctx *c) { return c->threads; }

// Regions and functions are recorded, for gradients and writes in place, and run op by op.
TC__ALWAYS_INLINE int tc__is_forced(const tc_ctx *c) {
    return c->stance == TC_STANCE_FORCE_EAGER;
}

// The worker threads, made if need be; NULL = reported.
static tc__pool *tc__pool_need(tc_ctx *c) {
    if (!c->pool) c->pool = tc__pool_open(c, c->threads);
    return c->pool;
}

// The same for kernels: NULL = they run on the caller's thread, which is no error.
static tc__pool *tc__pool_of(tc_ctx *c) {
    if (TC__LIKELY(c->pool != NULL)) return c->pool;
    tc__error_mark before = tc__error_now(c);
    (void)tc__pool_need(c);
    tc__error_restore(c, before);
    return c->pool;
}

// Time spent in all stages but recording, so far.
static uint64_t tc__busy_ns(const tc_ctx *c) {
    const tc_stats *s = &c->stats;
    return s->pass_ns + s->emit_ns + s->cc_ns + s->load_ns + s->autotune_ns + s->run_ns;
}

static void tc__note_run(tc_ctx *c, uint64_t kernels, uint64_t ns) {
    c->stats.kernel_runs += kernels;
    c->stats.run_ns += ns;
}

// Whether a body, which errors of `who` have as `called`, has set out[i] to a tensor that there is; 0 = reported.
static int tc__body_gave(tc_ctx *c, const char *who, const char *called, int i, tc_tensor t,
                         tc__meta *m) {
    char text[160];
    if (!t.id)
        return tc__fail(c, TC_E_NULL, "%s: %s did not set out[%d] (did a call in it fail?)",
                        who, called, i);
    snprintf(text, sizeof text, "%s: out[%d] of %s", who, i, called);
    return tc__meta_of(c, text, t, m);
}

// ---- errors and statistics ----

TCDEF void tc_error_clear(tc_ctx *c) {
    if (!c) return;
    tc__error_clear(c);
    if (!c->bodies && !tc__is_stranger(c))
        tc__core_of(c)->unit_item = TC_OK; // a call has the status of all that its body did
    tc__core_of(c)->refused = 0;
}

TCDEF tc_stats tc_stats_get(const tc_ctx *c) {
    tc_stats s;
    memset(&s, 0, sizeof s);
    if (!c) return s;
    s = c->stats;
    s.bytes = tc__core_const(c)->bytes, s.peak_bytes = tc__core_const(c)->peak_bytes;
    s.allocations = tc__core_const(c)->allocations;
    return s;
}
