// Compiled code of a family of contexts: from the texts of kernels to functions, through the process,
// the disk and the compiler, in this order. Input: a job, which is texts only. Output: its functions.
// A kernel is known by its whole text, so a change of anything that matters is another kernel.
// Whatever fails, the kernel has no function, is interpreted, and one line is logged.
//
// One idea: a library is shared and locked; a desk (compiler and disk cache) belongs to one thread.
// So a job is done as well by the thread that wants it as by one in the background (exec/workshop.c).

#if TC__JIT

// One kernel of this process.
typedef struct tc__compiled {
    uint8_t digest[32];  // of its text
    tc__dl_function run; // NULL = interpret, do not try again
} tc__compiled;

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

typedef struct tc__library {
    tc__core core; // must be first: its memory is its own, under the lock
    tc__mutex lock;
    uint32_t users; // contexts
    // Of the context that opened it; copied.
    const char *compiler, *cache_dir;
    int disk;
    unsigned cpu; // TC__CPU_ bits that texts may use
    size_t compile_memory;
    int compile_ms, compile_threads;
    pid_t pid;          // of the process that may hold the lock
    tc__workshop *shop; // NULL = nothing was done in the background yet
    // Under the lock.
    int busy, torn; // it is held; what follows was, in the parent process, when that forked
    tc__modules modules;
    tc__map known; // first 8 bytes of the digest -> index in compiled
    TC__VEC(tc__compiled) compiled;
    TC__VEC(tc__choice) choice;
    tc__map chosen; // first 8 bytes of the digest -> index in choice
    int warned;
    tc__rest rest;
} tc__library;

typedef struct tc__desk {
    tc_ctx *ctx; // pays for it
    const volatile uint32_t
        *cancel; // not 0: its job is not wanted any more. NULL = it always is
    tc__library *library;
    tc__cc *cc; // NULL = not looked for yet
    tc__cache *cache;
} tc__desk;

enum {
    TC__UNIT_KERNELS = 6, // kernels of one translation unit
    TC__UNIT_MOST = 16,   // units given to the compiler at once
    TC__JOB_SPANS = 16,
    TC__SYMBOL_DIGITS = 16
};

// A kernel on its way to a function.
typedef struct tc__order {
    tc__text text; // with its symbol
    char symbol[40];
    uint8_t digest[32];     // of the text before it had its symbol
    const tc__group *group; // what is printed; not for who works on the job
    const char *custom;  // a custom op: its name; the text is a whole unit. NULL = a kernel
    int has_host;        //   and whether it has a function of the host, too
    int lanes;           // of its vectors; 0 = a custom op
    int known;           // 1 = the process had it
    int chosen;          // of a trial: it is to be on disk
    int settled;         // 1 = `run` is the answer
    int postponed;       //   for now: to be tried again
    tc__dl_function run; // NULL = interpret
} tc__order;

// A translation unit: its kernels are orders of the job.
typedef struct tc__unit {
    tc__text text;
    uint32_t order[TC__UNIT_KERNELS], count;
    tc__blob so; // out: of a trial, else it is on disk
} tc__unit;

// Kernels wanted together. Whoever works on it only reads texts, and writes what is marked "out".
typedef struct tc__job {
    tc_ctx *ctx; // that wants it, and owns its memory
    tc__library *library;
    int numerics;
    TC__VEC(tc__order) order; // out: settled, run
    TC__VEC(tc__unit) unit;   // out: so
    int trial;                // its kernels are candidates, of which few are kept
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

// ---- life ----

static tc_ctx *tc__library_ctx(tc__library *b) { return (tc_ctx *)(void *)&b->core; }

static void tc__library_tables(tc__library *b) {
    memset(&b->compiled, 0, sizeof b->compiled);
    memset(&b->choice, 0, sizeof b->choice);
    tc__modules_init(&b->modules, tc__library_ctx(b));
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

static void tc__library_free(tc__library *b) {
    tc_ctx *c = tc__library_ctx(b);
    tc_allocator hook = b->core.hook;
    tc__modules_close(&b->modules);
    tc__map_free(&b->known);
    TC__VEC_FREE(c, b->compiled);
    tc__map_free(&b->chosen);
    TC__VEC_FREE(c, b->choice);
    tc__string_free(c, b->compiler);
    tc__string_free(c, b->cache_dir);
    tc__mutex_free(&b->lock);
    TC_ASSERT(b->torn || b->core.bytes == 0);
    tc__hook_realloc(&hook, b, sizeof *b, 0);
}

static tc__library *tc__library_open(tc_ctx *c, const tc_config *config, unsigned cpu) {
    tc__core *core = tc__core_of(c);
    tc__library *b =
        (tc__library *)tc__hook_realloc(&core->hook, NULL, 0, sizeof(tc__library));
    if (!b) return tc__fail(c, TC_E_NOMEM, "the library of kernels"), (tc__library *)NULL;
    memset(b, 0, sizeof *b);
    tc__core_like(&b->core, c);
    tc__mutex_init(&b->lock);
    b->users = 1, b->disk = !config->no_disk_cache, b->cpu = cpu;
    b->compiler = tc__string_copy(tc__library_ctx(b), config->cc);
    b->cache_dir = tc__string_copy(tc__library_ctx(b), config->cache_dir);
    b->pid = getpid();
    b->compile_ms = config->compile_ms, b->compile_threads = config->compile_threads;
    b->compile_memory = (size_t)config->compile_mb << 20;
    tc__library_tables(b);
    if (!b->compiler == !config->cc && !b->cache_dir == !config->cache_dir) return b;
    tc__library_free(b);
    return tc__fail(c, TC_E_NOMEM, "the library of kernels"), (tc__library *)NULL;
}

static void tc__desk_open(tc__desk *k, tc_ctx *c, tc__library *b) {
    memset(k, 0, sizeof *k);
    k->ctx = c, k->library = b;
}

static void tc__desk_close(tc__desk *k) {
    if (k->cc) tc__cc_close(k->cc);
    if (k->cache) tc__cache_close(k->cache);
    k->cc = NULL, k->cache = NULL;
}

static int tc__desk_find(tc__desk *k) {
    tc__cc_options o;
    if (k->cc) return 1;
    memset(&o, 0, sizeof o);
    o.compiler = k->library->compiler, o.cpu = k->library->cpu;
    o.limit_ms = k->library->compile_ms, o.memory = k->library->compile_memory;
    if (k->library->disk && !k->cache)
        k->cache = tc__cache_open(k->ctx, k->library->cache_dir);
    k->cc = tc__cc_open(k->ctx, &o, k->cache);
    if (k->cc) k->cc->cancel = k->cancel;
    return k->cc != NULL;
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

// Finds compiler and cache; 0 = no compiler at all, or none for now.
static int tc__desk_ready(tc__desk *k) {
    if (!tc__desk_find(k)) return 0;
    if (tc__cc_is_known(k->cc)) return 1;
    if (tc__library_rests(k->library)) return 0;
    uint64_t start = tc__now_ns();
    if (tc__cc_identity(k->cc)) return 1;
    if (k->cc->passes) tc__library_rest(k, 1, tc__now_ns() - start, k->cc->why.at);
    return 0;
}

// The same, but never starts a program: 0 also where the compiler would have to be asked.
static int tc__desk_is_ready(tc__desk *k) {
    return tc__desk_find(k) && tc__cc_is_known(k->cc);
}

static void tc__library_warn(tc__desk *k, const char *what, const char *why) {
    tc__library_lock(k->library);
    int before = k->library->warned++;
    tc__library_unlock(k->library);
    if (before) return;
    tc__warn(k->ctx, "%s; kernels run in the interpreter, with the same results: %s", what,
             why ? why : "?");
}

// ---- orders ----

static const char tc__order_stand_in[] = "tc_kernel_0000000000000000";

// The text has been printed for tc__order_stand_in: names it by its digest, which is over all that
// decides what the compiler makes of it, but for the compiler.
static void tc__order_name(tc__order *o, int target, int numerics) {
    const size_t stem = sizeof tc__order_stand_in - 1 - TC__SYMBOL_DIGITS;
    char hex[TC__SYMBOL_DIGITS + 1];
    tc__blake2s_state s;
    int kind[3];
    kind[0] = target, kind[1] = o->lanes, kind[2] = numerics;
    tc__blake2s_init(&s, NULL, 0);
    tc__blake2s_update(&s, kind, sizeof kind);
    tc__blake2s_update(&s, o->text.at, o->text.size);
    tc__blake2s_final(&s, o->digest);
    tc__hex(hex, o->digest, TC__SYMBOL_DIGITS / 2);
    memcpy(o->symbol, tc__order_stand_in, sizeof tc__order_stand_in);
    memcpy(o->symbol + stem, hex, TC__SYMBOL_DIGITS);
    for (char *at = o->text.at; (at = strstr(at, tc__order_stand_in)) != NULL;)
        memcpy(at, o->symbol, sizeof tc__order_stand_in - 1);
}

static uint64_t tc__digest_word(const uint8_t *digest) {
    uint64_t w;
    memcpy(&w, digest, sizeof w);
    return w;
}

static tc__compiled *tc__library_find(tc__library *b, const uint8_t *digest) {
    uint64_t i;
    if (!tc__map_get(&b->known, tc__digest_word(digest), &i)) return NULL;
    return memcmp(b->compiled.at[i].digest, digest, 32) ? NULL : &b->compiled.at[i];
}

// 1 = the process has this kernel, or knows that it is to be interpreted.
static int tc__order_known(tc__library *b, tc__order *o) {
    tc__library_lock(b);
    const tc__compiled *e = tc__library_find(b, o->digest);
    if (e) o->run = e->run, o->settled = o->known = 1;
    tc__library_unlock(b);
    return o->settled;
}

// There is no code for it, and may be later.
static void tc__order_postpone(tc__job *j, tc__order *o) {
    if (o->settled) return;
    o->run = NULL, o->settled = o->postponed = 1;
    j->postponed++;
}

// Under the lock.
static void tc__order_settle(tc__library *b, tc__order *o, tc__dl_function run) {
    tc__compiled e;
    o->run = run, o->settled = 1;
    if (tc__library_find(b, o->digest)) return; // somebody else was faster
    memcpy(e.digest, o->digest, 32);
    e.run = run;
    if (TC__PUSH(tc__library_ctx(b), b->compiled, e))
        tc__map_set(&b->known, tc__digest_word(o->digest), b->compiled.count - 1);
}

// The key of a kernel on disk: all that its code depends on. Its digest takes that of the text, which
// is known, so that a warm start hashes each text once.
static int tc__order_key(const tc__desk *k, const tc__order *o, tc__text *t,
                         tc__cache_key *key) {
    tc__blake2s_state s;
    tc__text_init(t, k->ctx);
    tc__put(t, "tcompile %s %016llx\n%s\nlanes %d\n", TC_VERSION,
            (unsigned long long)TC__BUILD_ID, tc__cc_identity(k->cc), o->lanes);
    tc__blake2s_init(&s, NULL, 0);
    tc__blake2s_update(&s, t->at, t->size);
    tc__blake2s_update(&s, o->digest, sizeof o->digest);
    tc__blake2s_final(&s, key->digest);
    tc__put_raw(t, o->text.at, o->text.size);
    key->at = t->at, key->size = t->size;
    return !t->failed;
}

static void tc__job_span(tc__job *j, uint64_t start, int is_compiler) {
    uint64_t end = tc__now_ns();
    *(is_compiler ? &j->cc_ns : &j->load_ns) += end - start;
    if (j->spans == TC__JOB_SPANS) return;
    j->span[j->spans].start = start, j->span[j->spans].end = end;
    j->span[j->spans++].is_compiler = is_compiler;
}

static tc__dl_function tc__code_of(const tc__module *m, const char *symbol) {
    return m ? tc__module_symbol(m, symbol) : NULL;
}

// ---- disk ----

// 1 = the kernel was on disk. The desk is ready.
static int tc__order_load(tc__desk *k, tc__job *j, tc__order *o) {
    tc__library *b = k->library;
    tc__cache_key key;
    tc__text text;
    if (!k->cache) return 0;
    uint64_t start = tc__now_ns();
    if (tc__order_key(k, o, &text, &key)) {
        tc__library_lock(b);
        tc__dl_function run =
            tc__code_of(tc__module_get(&b->modules, k->cache, &key), o->symbol);
        if (run) tc__order_settle(b, o, run);
        tc__library_unlock(b);
        j->disk_hits += run != NULL, j->disk_misses += run == NULL;
        tc__log(k->ctx, TC__LOG_CACHE, "%s: %s", o->symbol,
                run ? "from disk" : "not on disk");
    }
    tc__text_free(&text);
    tc__job_span(j, start, 0);
    return o->settled;
}

// Puts the object of a unit on disk, under the keys of its kernels; of a trial, of those that were chosen.
static void tc__unit_publish(tc__desk *k, tc__job *j, const tc__unit *u,
                             const tc__blob *so) {
    tc__cache_key key[TC__UNIT_KERNELS];
    tc__text text[TC__UNIT_KERNELS];
    uint8_t digest[32];
    uint32_t n = 0;
    int ok = 1;
    if (!k->cache) return;
    for (uint32_t i = 0; i < u->count; i++) {
        const tc__order *o = &j->order.at[u->order[i]];
        if (j->trial && !o->chosen) continue;
        ok &= tc__order_key(k, o, &text[n], &key[n]);
        n++;
    }
    tc__blake2s(digest, NULL, 0, so->at, so->size);
    if (ok && n) tc__cache_put_all(k->cache, key, (int)n, digest, so->at, so->size);
    for (uint32_t i = 0; i < n; i++) tc__text_free(&text[i]);
}

// The kernels of a trial that were chosen go to disk.
static void tc__job_publish(tc__desk *k, tc__job *j) {
    for (size_t i = 0; i < j->unit.count; i++)
        if (j->unit.at[i].so.at) tc__unit_publish(k, j, &j->unit.at[i], &j->unit.at[i].so);
}

// ---- compiler ----

// Text of the user's that is no kernel. Without run it will be an error where it is needed.
static void tc__custom_warn(tc__desk *k, const tc__order *o, int compiled) {
    tc__warn(k->ctx, "custom op \"%s\": its c_source %s%s\n%s", o->custom,
             compiled ? "does not load; does it call something outside itself?"
                      : "does not compile",
             o->has_host ? "; run is called instead" : "", compiled ? "" : k->cc->why.at);
}

// A unit without code for what may pass: its kernels are tried again.
static void tc__unit_postpone(tc__job *j, const tc__unit *u) {
    for (uint32_t i = 0; i < u->count; i++)
        tc__order_postpone(j, &j->order.at[u->order[i]]);
}

// The object of one unit becomes code; kernels that are not in it are interpreted.
static void tc__unit_load(tc__desk *k, tc__job *j, tc__unit *u, tc__blob *so) {
    tc__library *b = k->library;
    uint64_t start = tc__now_ns();
    tc__library_lock(b);
    tc__module *m = so->size ? tc__module_load(&b->modules, so->at, so->size) : NULL;
    int whole = m != NULL, passes = so->size && !m && b->modules.passes;
    for (uint32_t i = 0; i < u->count && !passes; i++) {
        tc__order *o = &j->order.at[u->order[i]];
        tc__dl_function run = tc__code_of(m, o->symbol);
        whole &= run != NULL;
        tc__order_settle(b, o, run);
    }
    tc__library_unlock(b);
    if (passes) {
        tc__unit_postpone(j, u);
        tc__library_rest(k, 1, tc__now_ns() - start, "compiled kernels cannot be loaded");
        return;
    }
    if (whole && !j->trial) tc__unit_publish(k, j, u, so);
    const tc__order *first = &j->order.at[u->order[0]];
    if (j->trial) {
        if (whole) u->so = *so, memset(so, 0, sizeof *so);
        if (!whole) tc__log(k->ctx, TC__LOG_AUTOTUNE, "candidates that do not compile");
    } else if (first->custom && !whole) {
        tc__custom_warn(k, first, so->size != 0);
    } else if (!whole) {
        tc__library_warn(
            k, so->size ? "compiled kernels could not be loaded" : "the compiler failed",
            so->size ? NULL : k->cc->why.at);
        if (so->size) tc__cc_distrust(k->cc);
    }
    tc__job_span(j, start, 0);
}

static void tc__units_build(tc__desk *k, tc__job *j, tc__unit *u, size_t n) {
    tc__blob so[TC__UNIT_MOST];
    const char *source[TC__UNIT_MOST];
    size_t size[TC__UNIT_MOST];
    memset(so, 0, sizeof so);
    for (size_t i = 0; i < n; i++) source[i] = u[i].text.at, size[i] = u[i].text.size;
    uint64_t start = tc__now_ns();
    int built = tc__cc_build_all(k->cc, source, size, (int)n, so);
    tc__job_span(j, start, 1);
    j->compiles += n;
    int wanted = !k->cancel || !tc__atomic_load32(k->cancel), passes = k->cc->passes;
    if (!built && passes && wanted)
        tc__library_rest(k, 1, tc__now_ns() - start, k->cc->why.at);
    if (built) tc__library_rest(k, 0, 0, NULL);
    for (size_t i = 0; i < n; i++) {
        if (!so[i].at && passes)
            tc__unit_postpone(j, &u[i]);
        else if (wanted || so[i].at)
            tc__unit_load(k, j, &u[i], &so[i]);
        tc__blob_free(k->ctx, &so[i]);
    }
}

// Compiles the units of the job. Orders that get no code are to be interpreted.
static void tc__job_build(tc__desk *k, tc__job *j) {
    int ready = tc__desk_ready(k);
    if (!ready && k->cc && !k->cc->passes && !tc__library_rests(k->library)) {
        tc__library_warn(k, "no compiler can be used", k->cc->why.at);
        return;
    }
    for (size_t i = 0, n; i < j->unit.count; i += n) {
        if (!ready || tc__library_rests(k->library)) {
            tc__unit_postpone(j, &j->unit.at[i]), n = 1;
            continue;
        }
        n = j->unit.count - i < TC__UNIT_MOST ? j->unit.count - i : (size_t)TC__UNIT_MOST;
        tc__units_build(k, j, &j->unit.at[i], n);
    }
}

static tc__job *tc__job_new(tc_ctx *c, tc__library *b) {
    tc__job *j = TC__NEW(c, tc__job);
    if (j) j->ctx = c, j->library = b;
    return j;
}

static void tc__job_free(tc__job *j) {
    tc_ctx *c = j->ctx;
    for (size_t i = 0; i < j->order.count; i++) tc__text_free(&j->order.at[i].text);
    for (size_t i = 0; i < j->unit.count; i++) {
        tc__text_free(&j->unit.at[i].text);
        tc__blob_free(c, &j->unit.at[i].so);
    }
    TC__VEC_FREE(c, j->order);
    TC__VEC_FREE(c, j->unit);
    tc__free(c, j, sizeof *j);
}

#endif // TC__JIT
