// Compiled code of a device: from the texts of kernels to what is launched, through the process, the
// disk and the compiler, in this order. Input: a job, which is texts only. Output: its kernels.
// A kernel is known by its whole text, so a change of anything that matters is another kernel.
// What compiler, loader and words are the device's stands in a table (tc__maker): the host's is
// exec/host_code.c, that of registered devices exec/device_code.c.
//
// One idea: a library is shared and locked; a desk (compiler and disk cache) belongs to one thread.
// So a job is done as well by the thread that wants it as by one in the background (exec/workshop.c).
//
// Equal kernels that are wanted at the same moment are compiled twice; the second is
// dropped.
//
// Loaded code is 2 mappings and 64 KB a module, and a process may have 65530 mappings: a kernel counts
// who uses it, and where nobody does it goes once 256 others were let go after it.

#if TC__JIT

// One kernel of this process.
typedef struct tc__compiled {
    uint8_t digest[32];      // of its text
    void *kernel[TC__GRIDS]; // of the device; the first NULL = interpret, do not try again
    tc__module *module;      // that has them, counted; NULL = interpret
    struct tc__library *library;
    int refused;                        // no compiler takes the text: it is broken
    uint32_t users;                     // orders and launches; 0 = it is idle,
    struct tc__compiled *older, *newer; //   among those that are, by when they became so
} tc__compiled;

enum { TC__IDLE_KERNELS = 256 }; // that stay

// What is known of a kernel by measuring: see exec/choice.c.
typedef struct tc__choice {
    uint8_t digest[32]; // of its key
    tc__chosen chosen;
} tc__choice;

// After a failure that may pass (no memory, no space, a compiler that hangs) the compiler is let
// alone for a while, which doubles until it works again: what waits for code runs interpreted.
typedef struct tc__rest {
    uint64_t until; // ns
    uint64_t pause; // the last one; 0 = the compiler worked
} tc__rest;

typedef struct tc__workshop tc__workshop; // exec/workshop.c

// Of the host there is one for a family of contexts, of other devices one for a context.
typedef struct tc__library {
    tc__core core; // must be first: its memory is its own, under the lock
    tc__mutex lock;
    uint32_t users; // contexts
    // Of the context that opened it; copied.
    const char *compiler, *cache_dir;
    int disk;
    unsigned cpu; // TC__CPU_ bits that texts may use
    int target;   // what they are made for (tc__emit); 0 = another device
    size_t compile_memory;
    int compile_ms, compile_threads;
    pid_t pid;          // of the process that may hold the lock
    tc__workshop *shop; // NULL = nothing was done in the background yet
    // Under the lock.
    int busy, torn; // it is held; what follows was, in the parent process, when that forked
    const tc_device *device; // whose code it has; NULL = the host
    tc__modules modules;
    tc__map known;                 // first 8 bytes of the digest -> tc__compiled, owned
    tc__compiled *oldest, *newest; // that are idle
    uint32_t idle;
    TC__VEC(tc__choice) choice;
    tc__map chosen; // first 8 bytes of the digest -> index in choice
    int warned;
    tc__rest rest;
} tc__library;

typedef struct tc__maker tc__maker;

typedef struct tc__desk {
    tc_ctx *ctx; // pays for it
    const volatile uint32_t
        *cancel; // not 0: its job is not wanted any more. NULL = it always is
    tc__library *library;
    const tc__maker *maker;
    tc__cc *cc; // of the host; NULL = not looked for yet
    tc__cache *cache;
} tc__desk;

enum {
    TC__UNIT_KERNELS = 6, // kernels of one translation unit of the host
    TC__UNIT_ROOM = 12,   //   and at most
    TC__JOB_SPANS = 16,
    TC__SYMBOL_DIGITS = 16
};

// A kernel on its way to code.
typedef struct tc__order {
    tc__text
        text; // with its symbol; empty until the compiler is needed: tc__order_is_plain
    char symbol[40];
    uint8_t digest[32]; // that it is named by and found by
    uint8_t like[32];   // equal in a trial where texts are: of kernels tuned otherwise
    const tc__group
        *group; // what is printed; not for who works on the job. NULL = another text
    const char *custom;          // a custom op: its name. NULL = a kernel
    int has_host;                //   and whether it has a function of the host, too
    int whole;                   // the text is a whole unit
    int alone;                   // its unit has no other kernel
    int weight;                  // else what it weighs there
    int lanes;                   // of its vectors; 0 = a custom op, another device
    int known;                   // 1 = the process had it
    int chosen;                  // of a trial: it is to be on disk
    int settled;                 // 1 = `code` is the answer
    int postponed;               //   for now: to be tried again
    int kernels;                 // of the text: symbol, symbol_1, ...
    uint32_t threads[TC__GRIDS]; // of a block of each
    tc__compiled *code;          // counted; NULL = interpret
} tc__order;

// A translation unit: its kernels are orders of the job.
typedef struct tc__unit {
    tc__text text;
    uint32_t order[TC__UNIT_ROOM], count;
} tc__unit;

// Kernels wanted together. Whoever works on it only reads texts, and writes what is marked "out".
typedef struct tc__job {
    tc_ctx *ctx; // that wants it, and owns its memory
    tc__library *library;
    const tc__maker *maker;
    int numerics;
    TC__VEC(tc__order) order; // out: settled, code
    TC__VEC(tc__unit) unit;
    TC__VEC(tc_device_text) made; // by unit; out: of a trial, its code
    int trial;                    // its kernels are candidates, of which few are kept
    int failed; // out: something that cannot be interpreted has no code, reported
    struct {
        uint64_t start, end;
        int is_compiler;
    } span[TC__JOB_SPANS]; // out: the first that the compiler or loading took
    uint32_t spans;
    uint64_t cc_ns, load_ns;                   // out
    uint64_t compiles, disk_hits, disk_misses; // out
    uint32_t postponed;                        // out: orders that are
    volatile uint32_t state;                   // of exec/workshop.c
    struct tc__job *next;
} tc__job;

// What makes code for a device, and what becomes of kernels without any.
struct tc__maker {
    const tc__dialect *(*dialect)(const tc__library *b);
    size_t most;    // units that build takes at once
    int interprets; // kernels without code are interpreted; else that is an error

    // Whether it can work. is_ready starts no program to find out.
    int (*ready)(tc__desk *k);
    int (*is_ready)(tc__desk *k);
    // What code is made by and for; the desk is ready.
    const char *(*identity)(tc__desk *k);

    // What times of kernels depend on, beside code.
    void (*machine)(const tc__desk *k, tc__text *out, int threads);

    // What an order is, beside its group: lanes, weight, who is alone.
    void (*describe)(tc_ctx *c, tc__order *o);
    uint32_t (*room)(const tc__job *j); // for weights of a unit
    // The head of a unit; 0 = reported.
    int (*prelude)(tc__job *j, const tc__unit *u, tc__text *out);

    // As build and drop of tc_device; where it gives TC_OK, some may have no code.
    tc_status (*build)(tc__desk *k, tc__job *j, tc_device_text *text, int n);
    void (*drop)(tc__desk *k, tc_device_text *text, int n);
    // Unit u has no code, where s is what build gave, TC_E_STATE = it is not ready; or it has code that
    // does not load.
    void (*unbuilt)(tc__desk *k, tc__job *j, tc__unit *u, tc_status s);
    void (*unloaded)(tc__desk *k, tc__job *j, tc__unit *u, tc_status s);
    // More code of a unit that is to be on disk, and by what it is made; NULL = none.
    const char *(*other)(const tc__desk *k, const tc_device_text *text, tc__blob *code);
};

// ---- life ----

static tc_ctx *tc__library_ctx(tc__library *b) { return (tc_ctx *)(void *)&b->core; }

static void tc__library_load_by(tc__library *b, const tc_device *d) {
    tc__loader *l = &b->modules.of;
    l->user = d->user, l->load = d->load, l->unload = d->unload, l->find = d->find;
}

static void tc__library_tables(tc__library *b) {
    b->oldest = b->newest = NULL, b->idle = 0;
    memset(&b->choice, 0, sizeof b->choice);
    tc__modules_init(&b->modules, tc__library_ctx(b));
    if (b->device) tc__library_load_by(b, b->device);
    tc__map_init(&b->known, tc__library_ctx(b));
    tc__map_init(&b->chosen, tc__library_ctx(b));
}

// A fork may have happened while another thread was at the tables: the child begins with new ones.
static void tc__library_lock(tc__library *b) {
    pid_t now = getpid();
    if (b->pid != now) {
        tc__mutex_init(&b->lock);
        if (b->busy) tc__library_tables(b), b->torn = 1;
        b->pid = now;
    }
    tc__mutex_lock(&b->lock);
    b->busy = 1;
}

static void tc__library_unlock(tc__library *b) {
    b->busy = 0;
    tc__mutex_unlock(&b->lock);
}

// ---- kernels of the process ----
// All under the lock, but for tc__compiled_use.

static uint64_t tc__digest_word(const uint8_t *digest) {
    uint64_t w;
    memcpy(&w, digest, sizeof w);
    return w;
}

static tc__compiled *tc__library_find(const tc__library *b, const uint8_t *digest) {
    uint64_t at;
    if (!tc__map_get(&b->known, tc__digest_word(digest), &at)) return NULL;
    tc__compiled *e = (tc__compiled *)(uintptr_t)at;
    return memcmp(e->digest, digest, 32) ? NULL : e;
}

// A kernel that has one user; NULL = no memory. module: NULL = it is interpreted.
static tc__compiled *tc__compiled_new(tc__library *b, const uint8_t *digest,
                                      void *const *kernel, tc__module *module) {
    uint64_t word = tc__digest_word(digest);
    if (tc__map_get(&b->known, word, NULL)) return NULL; // of another, as good as never
    tc__compiled *e = TC__NEW(tc__library_ctx(b), tc__compiled);
    if (!e) return NULL;
    if (!tc__map_set(&b->known, word, (uint64_t)(uintptr_t)e))
        return tc__free(tc__library_ctx(b), e, sizeof *e), (tc__compiled *)NULL;
    memcpy(e->digest, digest, 32);
    if (module) memcpy(e->kernel, kernel, sizeof e->kernel), module->users++;
    e->library = b, e->module = module, e->users = 1;
    return e;
}

static void tc__compiled_enter(tc__compiled *e) {
    tc__library *b = e->library;
    if (e->users++) return;
    *(e->older ? &e->older->newer : &b->oldest) = e->newer;
    *(e->newer ? &e->newer->older : &b->newest) = e->older;
    e->older = e->newer = NULL;
    b->idle--;
}

// An idle kernel goes, its module with the last one.
static void tc__compiled_free(tc__compiled *e) {
    tc__library *b = e->library;
    tc__compiled_enter(e); // so that it is not among the idle ones
    tc__map_remove(&b->known, tc__digest_word(e->digest));
    tc__module_release(&b->modules, e->module);
    tc__free(tc__library_ctx(b), e, sizeof *e);
}

static void tc__compiled_leave(tc__compiled *e) {
    tc__library *b = e->library;
    if (tc__library_find(b, e->digest) != e) return; // of tables that a fork tore
    if (--e->users) return;
    e->older = b->newest;
    *(b->newest ? &b->newest->newer : &b->oldest) = e;
    b->newest = e;
    if (++b->idle > TC__IDLE_KERNELS) tc__compiled_free(b->oldest);
}

// *at uses kernel e from now on, and what it used no more; NULL = none.
static void tc__compiled_use(tc__compiled **at, tc__compiled *e) {
    if (*at == e) return;
    tc__library *b = e ? e->library : (*at)->library;
    tc__library_lock(b);
    if (e) tc__compiled_enter(e);
    if (*at) tc__compiled_leave(*at);
    tc__library_unlock(b);
    *at = e;
}

// Kernel i of its text; NULL = interpret.
static void *tc__compiled_kernel(const tc__compiled *e, int i) {
    return e ? e->kernel[i] : NULL;
}

// That of the host.
static tc__kernel_fn tc__compiled_function(const tc__compiled *e) {
    void *kernel = tc__compiled_kernel(e, 0);
    tc__kernel_fn f;
    memcpy(&f, &kernel, sizeof f); // C has no cast between the two
    return f;
}

// ---- opening and closing ----

static void tc__library_free(tc__library *b) {
    tc_ctx *c = tc__library_ctx(b);
    tc_allocator hook = b->core.hook;
    while (b->oldest) tc__compiled_free(b->oldest);
    tc__modules_close(&b->modules);
    tc__map_free(&b->known);
    tc__map_free(&b->chosen);
    TC__VEC_FREE(c, b->choice);
    tc__string_free(c, b->compiler);
    tc__string_free(c, b->cache_dir);
    tc__mutex_free(&b->lock);
    TC_ASSERT(b->torn || b->core.bytes == 0);
    tc__hook_realloc(&hook, b, sizeof *b, 0);
}

// Without what a compiler of the host has to know. device: NULL = the host. NULL = reported.
static tc__library *tc__library_new(tc_ctx *c, const tc_device *device) {
    tc__core *core = tc__core_of(c);
    tc__library *b =
        (tc__library *)tc__hook_realloc(&core->hook, NULL, 0, sizeof(tc__library));
    if (!b) return tc__fail(c, TC_E_NOMEM, "the library of kernels"), (tc__library *)NULL;
    memset(b, 0, sizeof *b);
    tc__core_like(&b->core, c);
    tc__mutex_init(&b->lock);
    b->users = 1, b->device = device, b->pid = getpid();
    tc__library_tables(b);
    return b;
}

static tc__library *tc__library_open(tc_ctx *c, const tc_config *config, unsigned cpu) {
    tc__library *b = tc__library_new(c, NULL);
    if (!b) return NULL;
    b->disk = !config->no_disk_cache, b->cpu = cpu;
    b->compiler = tc__string_copy(tc__library_ctx(b), config->cc);
    b->cache_dir = tc__string_copy(tc__library_ctx(b), config->cache_dir);
    b->compile_ms = config->compile_ms, b->compile_threads = config->compile_threads;
    b->compile_memory = (size_t)config->compile_mb << 20;
    if (!b->compiler == !config->cc && !b->cache_dir == !config->cache_dir) return b;
    tc__library_free(b);
    return tc__fail(c, TC_E_NOMEM, "the library of kernels"), (tc__library *)NULL;
}

static void tc__desk_close(tc__desk *k) {
    if (k->cc) tc__cc_close(k->cc);
    if (k->cache) tc__cache_close(k->cache);
    k->cc = NULL, k->cache = NULL;
}

// ---- rests ----

enum { TC__REST_FACTOR = 4 }; // of the time that was lost, so at most a fifth of it is
#    define TC__REST_LEAST UINT64_C(1000000000)
#    define TC__REST_MOST  UINT64_C(3600000000000)

static int tc__library_rests(tc__library *b) {
    tc__library_lock(b);
    uint64_t until = b->rest.until;
    tc__library_unlock(b);
    return until && tc__now_ns() < until;
}

// The compiler worked, or failed for good; or it failed for what may pass, after `lost` ns.
// What may pass is no memory, space, descriptors or processes, or a compiler that hangs or
// was killed: it is asked again after a multiple of the time that was lost, twice that the
// next time, and no program asks meanwhile (TC__TIER_RESTING). All else, an error in the
// text above all, is settled once for the process.
static void tc__library_rest(tc__desk *k, int passes, uint64_t lost, const char *why) {
    tc__library *b = k->library;
    tc__library_lock(b);
    tc__rest *r = &b->rest;
    uint64_t pause = passes ? 2 * r->pause : 0;
    if (passes && pause < TC__REST_FACTOR * lost) pause = TC__REST_FACTOR * lost;
    if (passes && pause < TC__REST_LEAST) pause = TC__REST_LEAST;
    if (pause > TC__REST_MOST) pause = TC__REST_MOST;
    int first = passes && !r->pause;
    r->pause = pause, r->until = passes ? tc__now_ns() + pause : 0;
    tc__library_unlock(b);
    if (first)
        tc__warn(
            k->ctx,
            "the compiler cannot work now, and is asked again in %u s; kernels run in the "
            "interpreter until then, with the same results: %s",
            (unsigned)(pause / 1000000000u), why ? why : "?");
    else if (passes)
        tc__log(k->ctx, TC__LOG_PERF, "the compiler is asked again in %u s: %s",
                (unsigned)(pause / 1000000000u), why ? why : "?");
}

// ---- orders ----

static const char tc__order_stand_in[] = "tc_kernel_0000000000000000";

// The digest of what decides what the compiler makes of an order, but for the compiler: its text, printed for
// tc__order_stand_in, or its kernel as bytes.
static void tc__order_digest(const tc__order *o, int target, int numerics,
                             const tc__text *what, uint8_t *digest) {
    tc__blake2s_state s;
    int kind[4];
    kind[0] = target, kind[1] = o->lanes, kind[2] = numerics, kind[3] = what == &o->text;
    tc__blake2s_init(&s, NULL, 0);
    tc__blake2s_update(&s, kind, sizeof kind);
    tc__blake2s_update(&s, what->at, what->size);
    tc__blake2s_final(&s, digest);
}

// Names an order by `what` it is: tc__order_digest.
static void tc__order_name(tc__order *o, int target, int numerics, const tc__text *what) {
    const size_t stem = sizeof tc__order_stand_in - 1 - TC__SYMBOL_DIGITS;
    char hex[TC__SYMBOL_DIGITS + 1];
    tc__order_digest(o, target, numerics, what, o->digest);
    memcpy(o->like, o->digest, sizeof o->like);
    if (o->text.size && what != &o->text)
        tc__order_digest(o, target, numerics, &o->text, o->like);
    tc__hex(hex, o->digest, TC__SYMBOL_DIGITS / 2);
    memcpy(o->symbol, tc__order_stand_in, sizeof tc__order_stand_in);
    memcpy(o->symbol + stem, hex, TC__SYMBOL_DIGITS);
    for (char *at = o->text.at; (at = strstr(at, tc__order_stand_in)) != NULL;)
        memcpy(at, o->symbol, sizeof tc__order_stand_in - 1);
}

// 1 = somebody has settled it. Under the lock.
static int tc__order_find(tc__library *b, tc__order *o) {
    o->code = tc__library_find(b, o->digest);
    if (o->code) tc__compiled_enter(o->code), o->settled = 1;
    return o->settled;
}

// 1 = the process has this kernel, or knows that it is to be interpreted.
static int tc__order_known(tc__library *b, tc__order *o) {
    tc__library_lock(b);
    o->known = tc__order_find(b, o);
    tc__library_unlock(b);
    return o->known;
}

// There is no code for it, and may be later.
static void tc__order_postpone(tc__job *j, tc__order *o) {
    if (o->settled) return;
    o->settled = o->postponed = 1;
    j->postponed++;
}

// The kernels of an order are in the module, which stays for them: it is settled, unless there is no memory.
// Under the lock.
static tc_status tc__order_settle(tc__library *b, tc__order *o, tc__module *m) {
    char symbol[64];
    void *kernel[TC__GRIDS] = {0};
    tc_status s = TC_OK;
    for (int i = 0; i < o->kernels && !s; i++) {
        snprintf(symbol, sizeof symbol, i ? "%s_%d" : "%s", o->symbol, i);
        s = tc__module_find(&b->modules, m, symbol, o->threads[i], &kernel[i]);
    }
    if (s || tc__order_find(b, o)) return s; // or somebody else was faster
    o->code = tc__compiled_new(b, o->digest, kernel, m);
    o->settled = o->code != NULL;
    return o->code ? TC_OK : TC_E_NOMEM;
}

static int tc__order_print(const tc__job *j, tc__order *o, const char *symbol) {
    if (o->text.size) return 1;
    return tc__print_kernel(&o->text, o->group, j->maker->dialect(j->library), symbol) &&
           !o->text.failed;
}

// Whether an order is known by its kernel, of which a text is printed where the compiler is needed. Not where it is lowered
// for a device, or where a text looks at accesses.
static int tc__order_is_plain(const tc__order *o) {
    const tc__group *g = o->group;
    return !o->custom && !g->target.device && !g->target.checked &&
           g->shape.kind != TC__OPAQUE;
}

// The kernel of a group as an order; `grids` = NULL: it is called. 0 = reported.
static int tc__order_make(const tc__job *j, tc__order *o, const tc__group *g,
                          const tc__grids *grids) {
    tc__text bytes;
    memset(o, 0, sizeof *o);
    o->group = g, o->kernels = grids ? grids->count : 1, o->weight = 1;
    for (int i = 0; grids && i < grids->count; i++)
        o->threads[i] = (uint32_t)grids->at[i].threads;
    j->maker->describe(j->ctx, o);
    tc__text_init(&o->text, j->ctx), tc__text_init(&bytes, j->ctx);
    int plain = tc__order_is_plain(o);
    if (plain) tc__put_group_numbers(&bytes, g);
    int ok = (plain && !j->trial) || tc__order_print(j, o, tc__order_stand_in);
    ok = ok && !bytes.failed;
    if (ok) tc__order_name(o, j->library->target, j->numerics, plain ? &bytes : &o->text);
    tc__text_free(&bytes);
    return ok;
}

// The key of a kernel on disk: all that its code depends on. The text is in it by its digest, which is
// known, so that a warm start hashes each text once.
static int tc__order_key(const tc__desk *k, const tc__order *o, const char *identity,
                         tc__text *t, tc__cache_key *key) {
    tc__text_init(t, k->ctx);
    tc__put(t, "tcompile %s %016llx\n%s\nlanes %d\n", TC_VERSION,
            (unsigned long long)TC__BUILD_ID, identity, o->lanes);
    tc__put_raw(t, o->digest, sizeof o->digest);
    if (!t->failed) *key = tc__cache_key_of(t->at, t->size);
    return !t->failed;
}

static void tc__job_span(tc__job *j, uint64_t start, int is_compiler) {
    uint64_t end = tc__now_ns();
    *(is_compiler ? &j->cc_ns : &j->load_ns) += end - start;
    if (j->spans == TC__JOB_SPANS) return;
    j->span[j->spans].start = start, j->span[j->spans].end = end;
    j->span[j->spans++].is_compiler = is_compiler;
}

// ---- disk ----

// 1 = the kernel was on disk, made by and for this identity. The desk is ready.
static int tc__order_load(tc__desk *k, tc__job *j, tc__order *o, const char *identity) {
    tc__library *b = k->library;
    tc__error_mark before = tc__error_now(k->ctx);
    tc__cache_key key;
    tc__text text;
    if (!k->cache) return 0;
    uint64_t start = tc__now_ns();
    if (tc__order_key(k, o, identity, &text, &key)) {
        tc__library_lock(b);
        tc__module *m = tc__module_get(&b->modules, k->cache, o->symbol, &key);
        if (m) (void)tc__order_settle(b, o, m);
        tc__module_release(&b->modules, m);
        tc__library_unlock(b);
        j->disk_hits += (uint64_t)o->settled, j->disk_misses += !o->settled;
        tc__log(k->ctx, TC__LOG_CACHE, "%s: %s", o->symbol,
                o->settled ? "from disk" : "not on disk");
    }
    if (!o->settled) tc__error_restore(k->ctx, before);
    tc__text_free(&text);
    tc__job_span(j, start, 0);
    return o->settled;
}

// Puts code of a unit on disk, under the keys of its kernels; of a trial, of those that were chosen.
static void tc__unit_publish(tc__desk *k, tc__job *j, const tc__unit *u,
                             const char *identity, const void *code, size_t bytes) {
    tc__cache_key key[TC__UNIT_ROOM];
    tc__text text[TC__UNIT_ROOM];
    uint8_t digest[32];
    uint32_t n = 0;
    int ok = 1;
    if (!k->cache) return;
    tc__error_mark before = tc__error_now(k->ctx); // without memory it is not kept
    for (uint32_t i = 0; i < u->count; i++) {
        const tc__order *o = &j->order.at[u->order[i]];
        if (j->trial && !o->chosen) continue;
        ok &= tc__order_key(k, o, identity, &text[n], &key[n]);
        n++;
    }
    tc__blake2s(digest, NULL, 0, code, bytes);
    if (ok && n) tc__cache_put_all(k->cache, key, (int)n, digest, code, bytes);
    for (uint32_t i = 0; i < n; i++) tc__text_free(&text[i]);
    tc__error_restore(k->ctx, before);
}

static void tc__code_publish(tc__desk *k, tc__job *j, const tc__unit *u,
                             const tc_device_text *made) {
    tc__blob other;
    tc__unit_publish(k, j, u, k->maker->identity(k), made->code, made->bytes);
    const char *identity = k->maker->other(k, made, &other);
    if (identity) tc__unit_publish(k, j, u, identity, other.at, other.size);
}

// A trial is over: its kernels that were chosen go to disk.
TC__UNUSED static void tc__job_publish(tc__desk *k, tc__job *j) {
    for (size_t i = 0; i < j->made.count; i++)
        if (j->made.at[i].code) tc__code_publish(k, j, &j->unit.at[i], &j->made.at[i]);
    if (j->made.count) k->maker->drop(k, j->made.at, (int)j->made.count);
}

// ---- compiler ----

// A unit without code for what may pass: its kernels are tried again.
static void tc__unit_postpone(tc__job *j, const tc__unit *u) {
    for (uint32_t i = 0; i < u->count; i++)
        tc__order_postpone(j, &j->order.at[u->order[i]]);
}

typedef enum tc__blame { TC__TEXT_FINE, TC__TEXT_REFUSED } tc__blame;

// A unit without code for good: its kernels are interpreted.
static void tc__unit_settle(tc__library *b, tc__job *j, const tc__unit *u,
                            tc__blame blame) {
    tc__library_lock(b);
    for (uint32_t i = 0; i < u->count; i++) {
        tc__order *o = &j->order.at[u->order[i]];
        if (o->settled || tc__order_find(b, o)) continue;
        o->code = tc__compiled_new(b, o->digest, NULL, NULL);
        if (o->code) o->code->refused = blame == TC__TEXT_REFUSED;
        o->settled = 1;
    }
    tc__library_unlock(b);
}

// The code of a unit becomes kernels.
static void tc__unit_load(tc__desk *k, tc__job *j, tc__unit *u,
                          const tc_device_text *made) {
    tc__library *b = k->library;
    uint64_t start = tc__now_ns();
    tc__library_lock(b);
    tc__module *m = tc__module_load(&b->modules, made->name, made->code, made->bytes);
    tc_status s = m ? TC_OK : b->modules.status;
    for (uint32_t i = 0; m && i < u->count; i++) {
        tc_status found = tc__order_settle(b, &j->order.at[u->order[i]], m);
        if (found) s = found;
    }
    tc__module_release(&b->modules, m);
    tc__library_unlock(b);
    if (s)
        k->maker->unloaded(k, j, u, s);
    else if (!j->trial)
        tc__code_publish(k, j, u, made);
    tc__job_span(j, start, 0);
}

// Units [first, first + n) of the job.
static void tc__units_build(tc__desk *k, tc__job *j, size_t first, size_t n) {
    tc_device_text *made = &j->made.at[first];
    uint64_t start = tc__now_ns();
    tc_status s = k->maker->build(k, j, made, (int)n);
    tc__job_span(j, start, 1);
    if (!s) j->compiles += n;
    for (size_t i = 0; i < n; i++) {
        if (made[i].code)
            tc__unit_load(k, j, &j->unit.at[first + i], &made[i]);
        else
            k->maker->unbuilt(k, j, &j->unit.at[first + i], s);
    }
    if (!j->trial) k->maker->drop(k, made, (int)n);
}

// Compiles the units of the job.
static void tc__job_build(tc__desk *k, tc__job *j) {
    for (size_t i = 0, n; i < j->unit.count; i += n) {
        n = j->unit.count - i < k->maker->most ? j->unit.count - i : k->maker->most;
        if (k->maker->ready(k) && !tc__library_rests(k->library))
            tc__units_build(k, j, i, n);
        else
            for (size_t u = i; u < i + n; u++)
                k->maker->unbuilt(k, j, &j->unit.at[u], TC_E_STATE);
    }
}

static tc__job *tc__job_new(const tc__desk *k) {
    tc__job *j = TC__NEW(k->ctx, tc__job);
    if (j) j->ctx = k->ctx, j->library = k->library, j->maker = k->maker;
    return j;
}

static void tc__job_free(tc__job *j) {
    tc_ctx *c = j->ctx;
    for (size_t i = 0; i < j->order.count; i++) {
        tc__text_free(&j->order.at[i].text);
        tc__compiled_use(&j->order.at[i].code, NULL);
    }
    for (size_t i = 0; i < j->unit.count; i++) tc__text_free(&j->unit.at[i].text);
    TC__VEC_FREE(c, j->order);
    TC__VEC_FREE(c, j->unit);
    TC__VEC_FREE(c, j->made);
    tc__free(c, j, sizeof *j);
}

#else

typedef struct tc__compiled tc__compiled;

static void tc__compiled_use(tc__compiled **at, tc__compiled *e) { (void)at, (void)e; }

#endif // TC__JIT
