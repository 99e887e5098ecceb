// The C compiler: runs it (exec/cc_learn.c finds it). Input: complete translation units that
// include nothing. Output: the bytes of shared objects, or 0 and the compiler's own words in
// cc->why.
//
// Not done: a cc1 started ahead of time that waits on its input. It hides about 8 ms of
// cc1's own start, but only for the first build after each pause, and leaves a child
// process in every host (which its wait(), its SIGCHLD handler and its debugger see). The
// first calls run interpreted anyway, and a kernel in the disk cache needs no compiler at
// all.

#if TC__JIT

// ---- building

typedef enum tc__cc_result {
    TC__CC_GOOD,
    TC__CC_ODD,   // the learnt lines may be at fault
    TC__CC_FAILED // the driver would fail too, or did
} tc__cc_result;

// Some units in work at once.
typedef struct tc__cc_job {
    tc__cc *cc;
    tc__arena arena;
    tc__work work;
    tc__words environment;
    tc__cc_result result[TC__CC_WIDTH_MAX];
    tc__text why[TC__CC_WIDTH_MAX]; // what failed for a unit the last time it was tried
    tc__proc proc[2 * TC__CC_WIDTH_MAX];
    int unit[2 * TC__CC_WIDTH_MAX]; // of proc
    int procs;
} tc__cc_job;

// The path of a unit's file.
static char *tc__job_file(tc__cc_job *j, int unit, const char *extension) {
    tc__words w = tc__words_new(&j->arena);
    char name[32];
    (void)snprintf(name, sizeof name, "/k%d%s", unit, extension);
    tc__words_join(&w, j->work.path, name);
    return w.count ? w.at[0] : j->work.path;
}

// Nobody wants what the compiler makes any more.
static int tc__cc_unwanted(const tc__cc *cc) {
    return cc->cancel && tc__atomic_load32(cc->cancel);
}

// Starts a program on a unit, its place holders filled in.
static void tc__job_start(tc__cc_job *j, int unit, const tc__words *line, int in, int out) {
    tc__proc *p = &j->proc[j->procs];
    tc__words w = tc__words_new(&j->arena);
    int i;
    if (tc__cc_unwanted(j->cc)) {
        j->result[unit] = TC__CC_FAILED, j->cc->cancelled = 1;
        return;
    }
    memset(p, 0, sizeof *p);
    for (i = 0; i < line->count; i++) {
        const char *word = line->at[i];
        if (!strcmp(word, TC__CC_SOURCE)) word = tc__job_file(j, unit, ".c");
        if (!strcmp(word, TC__CC_OBJECT)) word = tc__job_file(j, unit, ".o");
        if (!strcmp(word, TC__CC_OUTPUT)) word = tc__job_file(j, unit, ".so");
        tc__words_add(&w, word);
    }
    p->argv = w.at, p->memory = j->cc->options.memory;
    p->seconds = tc__cc_cpu_seconds(j->cc), p->folder = tc__work_inside(&j->work);
    p->in = in;
    p->out = out;
    j->unit[j->procs++] = unit;
    int whole = line->count && !line->failed && !w.failed; // else memory ended
    if (whole && tc__proc_start(j->cc->ctx, p, j->environment.at)) return;
    int error = whole ? errno : ENOMEM;
    j->result[unit] = TC__CC_ODD;
    j->cc->passes |= tc__is_passing(error);
    tc__put(&j->why[unit], "%s: %s\n", whole ? w.at[0] : "compiler", strerror(error));
}

// What a process that ended means for its unit. With an unknown exit status only the driver
// can be trusted: it removes what is not whole.
static tc__cc_result tc__job_judge(const tc__proc *p, int is_driver) {
    if (p->timed_out || p->cancelled) return TC__CC_FAILED;
    if (!p->exit_code) return TC__CC_GOOD;
    if (is_driver && p->started && p->exit_code < 0 && !p->killed_by) return TC__CC_GOOD;
    return TC__CC_ODD;
}

// Waits for everything started; keeps what the failed ones printed.
static void tc__job_wait(tc__cc_job *j, int is_driver) {
    int i, ended = 0;
    tc__procs_wait(j->proc, j->procs, j->cc->options.limit_ms, j->cc->cancel);
    for (i = 0; i < j->procs; i++) {
        tc__proc *p = &j->proc[i];
        tc__text *why = &j->why[j->unit[i]];
        tc__cc_result r = tc__job_judge(p, is_driver);
        const char *name = tc__base_name(p->argv ? p->argv[0] : "");
        if (r > j->result[j->unit[i]]) j->result[j->unit[i]] = r;
        if (r != TC__CC_GOOD) j->cc->passes |= tc__cc_failure_passes(p);
        j->cc->cancelled |= p->cancelled;
        ended |= p->timed_out || p->cancelled;
        if (r != TC__CC_GOOD && p->started) tc__put_raw(why, p->text.at, p->text.size);
        if (p->timed_out || p->cancelled) {
            tc__cc_put_ended(j->cc, why, name, p);
        } else if (p->killed_by) {
            tc__put(why, "%s: killed by signal %d\n", name, p->killed_by);
        }
        tc__text_free(&p->text);
    }
    if (ended) tc__kill_marked(j->cc->ctx, j->work.mark);
    j->procs = 0;
}

// cc1 piped into as, then ld; or clang -cc1, then ld.
static void tc__job_direct(tc__cc_job *j, int units) {
    const tc__words *step = j->cc->step;
    int u, ends[2];
    for (u = 0; u < units; u++) {
        ends[0] = ends[1] = 0;
        if (j->result[u] != TC__CC_GOOD) continue; // it has no source
        if (step[TC__CC_ASSEMBLE].count && !tc__pipe(ends)) {
            j->result[u] = TC__CC_ODD;
            continue;
        }
        tc__job_start(j, u, &step[TC__CC_COMPILE], 0, ends[1]);
        if (step[TC__CC_ASSEMBLE].count) {
            tc__job_start(j, u, &step[TC__CC_ASSEMBLE], ends[0], 0);
            tc__close(ends[0]);
            tc__close(ends[1]);
        }
    }
    tc__job_wait(j, 0);
    for (u = 0; u < units; u++) {
        if (j->result[u] == TC__CC_GOOD) tc__job_start(j, u, &step[TC__CC_LINK], 0, 0);
    }
    tc__job_wait(j, 0);
}

static void tc__job_driver(tc__cc_job *j, int unit) {
    tc__words w = tc__cc_driver(j->cc, &j->arena);
    tc__words_add(&w, "-o");
    tc__words_add(&w, TC__CC_OUTPUT);
    tc__words_add(&w, TC__CC_SOURCE);
    j->result[unit] = TC__CC_GOOD;
    tc__text_clear(&j->why[unit]); // it will say that again, if it is so
    tc__job_start(j, unit, &w, 0, 0);
    j->cc->driver_builds++;
}

// Is this a whole shared object of our kind? The table of sections stands at the end of the
// file, so one that was cut short fails here.
static int tc__cc_is_object(const tc__blob *b) {
    uint64_t sections;
    uint16_t size, count;
    if (b->size < 64) return 0;
    if (!memcmp(b->at, "\xcf\xfa\xed\xfe", 4)) return 1; // Mach-O
    if (memcmp(b->at, "\177ELF", 4)) return 0;
    if (b->at[4] != (sizeof(void *) == 8 ? 2 : 1)) return 0;
    if (sizeof(void *) != 8) return 1;
    memcpy(&sections, b->at + 40, 8);
    memcpy(&size, b->at + 58, 2);
    memcpy(&count, b->at + 60, 2);
    return sections <= b->size && b->size - sections >= (uint64_t)size * count;
}

// The bytes of a file that was written here, by nobody else.
static int tc__work_read(tc__cc_job *j, const char *name, tc__blob *so) {
    int fd = tc__file_open(j->work.dir, name), ok;
    memset(so, 0, sizeof *so);
    if (fd < 0) return 0;
    ok = tc__is_mine(fd, TC__MINE_ONLY) &&
         tc__file_read_fd(j->cc->ctx, fd, TC__CC_OBJECT_MAX, so);
    tc__close(fd);
    return ok;
}

static void tc__job_read(tc__cc_job *j, int unit, tc__blob *so) {
    const char *name = tc__base_name(tc__job_file(j, unit, ".so"));
    if (j->result[unit] != TC__CC_GOOD) return;
    if (tc__work_read(j, name, so)) {
        if (tc__cc_is_object(so)) return;
        tc__blob_free(j->cc->ctx, so);
    }
    j->result[unit] = TC__CC_ODD;
    tc__put(&j->why[unit], "the compiler made no shared object\n");
}

// A host that ignores SIGCHLD never learns how a process ended.
static int tc__cc_sees_exits(void) {
    struct sigaction now;
    if (sigaction(SIGCHLD, NULL, &now)) return 1;
    return !((now.sa_flags & SA_NOCLDWAIT) || now.sa_handler == SIG_IGN);
}

// The words about units that have no code are the compiler's.
static void tc__job_tell(tc__cc_job *j, int units, const tc__blob *so) {
    for (int u = 0; u < units; u++) {
        tc__text *why = &j->why[u];
        if (!so[u].at && why->size) tc__put_raw(&j->cc->why, why->at, why->size);
        tc__text_clear(why);
    }
}

// Builds some units, directly if possible. A unit that this fails for gets the driver; if
// the driver can do it, the learnt lines were wrong, and are not used again.
static void tc__job_run(tc__cc_job *j, const char *const *sources, const size_t *sizes,
                        int units, tc__blob *so) {
    tc__cc *cc = j->cc;
    int u, odd = 0, direct = cc->state == TC__CC_DIRECT && tc__cc_sees_exits();
    for (u = 0; u < units; u++) {
        const char *name = tc__base_name(tc__job_file(j, u, ".c"));
        j->result[u] = TC__CC_ODD;
        if (!tc__file_write(j->work.dir, name, sources[u], sizes[u])) {
            j->result[u] = TC__CC_FAILED;
            tc__cc_unwritten(cc, &j->why[u]);
        } else if (direct) {
            j->result[u] = TC__CC_GOOD;
        }
    }
    if (direct) tc__job_direct(j, units);
    for (u = 0; u < units; u++) tc__job_read(j, u, &so[u]);
    for (u = 0; u < units; u++) {
        if (j->result[u] == TC__CC_ODD) tc__job_driver(j, u), odd |= 1 << u;
    }
    tc__job_wait(j, 1);
    for (u = 0; u < units; u++) {
        if (!(odd >> u & 1)) continue;
        tc__job_read(j, u, &so[u]);
        if (direct && j->result[u] == TC__CC_GOOD) tc__cc_distrust(cc);
    }
    tc__job_tell(j, units, so);
}

// As many units at a time as there are CPUs for.
static void tc__job_all(tc__cc_job *j, const char *const *sources, const size_t *sizes,
                        int count, tc__blob *so) {
    int i, n, width = tc__cpu_count();
    if (width > TC__CC_WIDTH_MAX) width = TC__CC_WIDTH_MAX;
    if (!tc__cc_work_open(j->cc, &j->work)) {
        tc__work_trouble(j->cc);
        return;
    }
    tc__words_environment(&j->environment, j->work.path, j->work.mark);
    for (i = 0; i < count && !j->cc->cancelled; i += n) {
        n = count - i < width ? count - i : width;
        tc__job_run(j, sources + i, sizes + i, n, so + i);
        (void)tc__dir_each(j->work.dir, tc__work_visit, NULL);
    }
    tc__work_close(&j->work);
}

// ---- what others call

// Builds one shared object from each source; so[i].at is NULL where that failed, and
// cc->why tells why, cc->passes whether another try, later, makes sense, cc->cancelled that nobody waits
// for them. 1 = all were built.
// The caller frees the blobs. No error is set: the caller knows whether it can go on without.
TC__UNUSED static int tc__cc_build_all(tc__cc *cc, const char *const *sources,
                                       const size_t *sizes, int count, tc__blob *so) {
    uint64_t start = tc__now_ns();
    int i, built = 0;
    tc__cc_job *j;
    memset(so, 0, (size_t)count * sizeof *so);
    if (!tc__cc_ready(cc)) return 0;
    tc__text_clear(&cc->why);
    cc->passes = cc->cancelled = 0;
    j = TC__NEW(cc->ctx, tc__cc_job);
    if (!j) return cc->passes = 1, 0;
    tc__calm calm = tc__calm_begin();
    j->cc = cc;
    tc__arena_init(&j->arena, cc->ctx);
    j->environment = tc__words_new(&j->arena);
    for (i = 0; i < TC__CC_WIDTH_MAX; i++) tc__text_init(&j->why[i], cc->ctx);
    tc__job_all(j, sources, sizes, count, so);
    for (i = 0; i < TC__CC_WIDTH_MAX; i++) tc__text_free(&j->why[i]);
    tc__arena_free(&j->arena);
    tc__free(cc->ctx, j, sizeof *j);
    tc__calm_end(calm);
    for (i = 0; i < count; i++) built += so[i].at != NULL;
    cc->builds += (uint64_t)count;
    cc->build_ns += tc__now_ns() - start;
    if (built < count) tc__log_text(cc->ctx, TC__LOG_PERF, cc->why.at);
    return built == count;
}

TC__UNUSED static int tc__cc_build(tc__cc *cc, const char *source, size_t size,
                                   tc__blob *so) {
    return tc__cc_build_all(cc, &source, &size, 1, so);
}

// All that the compiler's output depends on beside the source, for the keys of caches; NULL
// if there is no working compiler. Valid until close.
TC__UNUSED static const char *tc__cc_identity(tc__cc *cc) {
    return tc__cc_ready(cc) ? cc->identity.at : NULL;
}

TC__UNUSED static void tc__cc_close(tc__cc *cc) {
    tc_ctx *c = cc ? cc->ctx : NULL;
    if (!cc) return;
    tc__text_free(&cc->identity);
    tc__text_free(&cc->why);
    tc__arena_free(&cc->arena);
    tc__free(c, cc, sizeof *cc);
}

// options NULL = all zero; its strings must live as long as the result. cache NULL = learn
// in every process. Starts nothing yet. NULL = no memory, reported.
TC__UNUSED static tc__cc *tc__cc_open(tc_ctx *c, const tc__cc_options *options,
                                      tc__cache *cache) {
    tc__cc *cc = TC__NEW(c, tc__cc);
    if (!cc) return NULL;
    cc->ctx = c;
    cc->cache = cache;
    tc__arena_init(&cc->arena, c);
    tc__text_init(&cc->identity, c);
    tc__text_init(&cc->why, c);
    if (options) cc->options = *options;
    if (!cc->options.limit_ms) cc->options.limit_ms = TC__CC_LIMIT_MS;
    if (tc__is_privileged()) {
        cc->state = TC__CC_BROKEN;
        tc__put(&cc->why, "a program with raised privileges runs no compiler");
    } else {
        tc__cc_choose(cc);
    }
    return cc;
}

#else // no compiler: the same interface, nothing is ever built

typedef struct tc__cc {
    tc_ctx *ctx;
    tc__text why;
    int passes;
    uint64_t builds, driver_builds, build_ns;
} tc__cc;

TC__UNUSED static int tc__cc_build_all(tc__cc *cc, const char *const *sources,
                                       const size_t *sizes, int count, tc__blob *so) {
    (void)cc, (void)sources, (void)sizes;
    memset(so, 0, (size_t)count * sizeof *so);
    return 0;
}

TC__UNUSED static int tc__cc_build(tc__cc *cc, const char *source, size_t size,
                                   tc__blob *so) {
    return tc__cc_build_all(cc, &source, &size, 1, so);
}

TC__UNUSED static const char *tc__cc_identity(tc__cc *cc) {
    (void)cc;
    return NULL;
}

TC__UNUSED static void tc__cc_close(tc__cc *cc) {
    if (!cc) return;
    tc__text_free(&cc->why);
    tc__free(cc->ctx, cc, sizeof *cc);
}

TC__UNUSED static tc__cc *tc__cc_open(tc_ctx *c, const tc__cc_options *options,
                                      tc__cache *cache) {
    tc__cc *cc = TC__NEW(c, tc__cc);
    (void)options, (void)cache;
    if (!cc) return NULL;
    cc->ctx = c;
    tc__text_init(&cc->why, c);
    tc__put(&cc->why, "this build cannot start or load programs");
    return cc;
}

#endif // TC__JIT
