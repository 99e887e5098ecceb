// The C compiler: found, and known well enough to name it in a cache key. Input: options, the
// environment. Output: a tc__cc with the lines that exec/cc.c runs, or without, and why.
//
// The driver (`cc`) is asked once, with -###, which programs it would run (cc1, as, ld),
// and these are run directly, cc1 piped into as. A small kernel takes 18 ms so, 23 through
// the driver, 30 with `cc -O2 -shared`; 33, 53, 63 with clang. The lines are kept in the
// disk cache. Whatever is odd about them, or about what they produce, means the plain
// driver from then on.

typedef struct tc__cc_options {
    const char *compiler; // NULL = CC, else the first of cc, gcc, clang
    const char *flags;    // further flags; NULL = "-w"
    unsigned cpu;         // TC__CPU_ bits that the text may use
    int limit_ms;         // for one step; 0 = 60 s
    size_t memory;        // bytes for one process; 0 = 4 GB
    int driver_only;      // do not learn the driver's lines
    int by_path;          // do as if no process could be started in an open directory
} tc__cc_options;

#if TC__JIT

#    define TC__CC_LIMIT_MS   60000 // for one step of the compiler
#    define TC__CC_WIDTH_MAX  4     // units in work at once, each at most two processes
#    define TC__CC_OBJECT_MAX ((size_t)512 << 20)

// Words of learnt lines that stand for file names. No driver prints them: "@" means a file
// of further arguments, which it has put in already.
#    define TC__CC_SOURCE "@source"
#    define TC__CC_OBJECT "@object"
#    define TC__CC_OUTPUT "@output"

// ---- the compiler

typedef enum tc__cc_kind { TC__CC_OTHER, TC__CC_GCC, TC__CC_CLANG } tc__cc_kind;

typedef enum tc__cc_state {
    TC__CC_NEW,    // nothing asked yet
    TC__CC_DIRECT, // the learnt lines are in use
    TC__CC_DRIVER, // the driver is
    TC__CC_BROKEN  // there is no compiler, or it does not even tell its version
} tc__cc_state;

// The steps of a build. Clang has no TC__CC_ASSEMBLE.
enum { TC__CC_COMPILE, TC__CC_ASSEMBLE, TC__CC_LINK, TC__CC_STEPS };

typedef struct tc__cc {
    tc_ctx *ctx;
    tc__cache *cache;                // the caller's; NULL = nothing is kept
    const volatile uint32_t *cancel; // not 0: what runs is ended. NULL = nobody may
    tc__arena arena;                 // every string and word below
    tc__cc_options options;
    tc__cc_state state;
    tc__cc_kind kind;
    tc__words command;            // the compiler and the words that came with its name
    tc__words step[TC__CC_STEPS]; // learnt lines
    const char *version;          // the line with its version
    tc__text identity;            // all that its output depends on
    tc__text why;                 // what the last failure printed
    int passes;    //   and whether it may be gone the next time: memory, space
    int cancelled; // the last build or question was: it tells nothing about compiler or text
    int swept;     // what killed processes left was looked for
    uint64_t builds, driver_builds; // units
    uint64_t build_ns;
} tc__cc;

// ---- finding it

// A program by its name in PATH, or by its path; "" if there is none.
static const char *tc__cc_find(tc__cc *cc, const char *name, const char *path) {
    tc__words at = tc__words_new(&cc->arena);
    size_t n;
    if (strchr(name, '/')) {
        char *full = realpath(name, NULL); // it may be relative; argv[0] may not
        const char *found = full && name[0] != '/' ? full : name;
        if (full && !access(found, X_OK)) tc__words_add(&at, found);
        free(full);
        return at.count ? at.at[0] : "";
    }
    for (; path && *path; path += n + (path[n] == ':')) {
        char full[PATH_MAX];
        struct stat s;
        n = strcspn(path, ":");
        if (path[0] != '/' || n + strlen(name) + 2 > sizeof full) continue;
        (void)snprintf(full, sizeof full, "%.*s/%s", (int)n, path, name);
        if (stat(full, &s) || !S_ISREG(s.st_mode) || access(full, X_OK)) continue;
        tc__words_add(&at, full);
        return at.count ? at.at[0] : "";
    }
    return "";
}

static void tc__cc_choose(tc__cc *cc) {
    static const char *const usual[] = {"cc", "gcc", "clang"};
    const char *asked = cc->options.compiler, *found = "";
    tc__words words = tc__words_new(&cc->arena);
    size_t i;
    int k;
    cc->command = words;
    if (!asked) asked = tc__env("CC");
    if (asked) tc__words_split(&words, asked, strlen(asked));
    if (words.count) found = tc__cc_find(cc, words.at[0], tc__env("PATH"));
    for (i = 0; i < TC__COUNT(usual) && !asked && !*found; i++) {
        found = tc__cc_find(cc, usual[i], tc__env("PATH"));
    }
    if (*found) tc__words_add(&cc->command, found);
    for (k = 1; *found && k < words.count; k++) tc__words_add(&cc->command, words.at[k]);
    if (*found && !cc->command.failed) return;
    cc->state = TC__CC_BROKEN;
    tc__put(&cc->why, "there is no \"%s\"; set CC, or install cc, gcc or clang",
            asked ? asked : "cc");
}

// tc__gcc_flags; clang's -O2 unrolls what is unrolled already.
static void tc__cc_flags(const tc__cc *cc, tc__words *w) {
    int wide = (cc->options.cpu & TC__CPU_AVX512F) != 0;
    const char *const by_kind[] = {"-O2", tc__gcc_flags[wide], "-O1 -fno-unroll-loops"};
    static const char common[] =
        "-fPIC -shared -nostdlib -fno-fast-math -ffp-contract=off -fwrapv "
        "-fno-strict-aliasing -fvisibility=hidden";
    // A small file of two segments: less to hash and to map at a warm start.
#    ifdef __ELF__
    static const char link[] =
        "-s -Wl,-z,noseparate-code,-z,norelro,--build-id=none,--hash-style=gnu";
#    else
    static const char link[] = "";
#    endif
    static const struct {
        unsigned bit;
        const char *flag;
    } cpu[] = {{TC__CPU_AVX2, "-mavx2"},
               {TC__CPU_FMA, "-mfma"},
               {TC__CPU_F16C, "-mf16c"},
               {TC__CPU_AVX512F, "-mavx512f -mavx512bw -mavx512dq -mavx512vl"}};
    const char *more = cc->options.flags ? cc->options.flags : "-w";
    size_t i;
    tc__words_split(w, by_kind[cc->kind], strlen(by_kind[cc->kind]));
    tc__words_split(w, common, strlen(common));
    tc__words_split(w, link, strlen(link));
    for (i = 0; i < TC__COUNT(cpu); i++) {
        if (cc->options.cpu & cpu[i].bit)
            tc__words_split(w, cpu[i].flag, strlen(cpu[i].flag));
    }
    tc__words_split(w, more, strlen(more));
}

// The whole command of the driver, up to the names of its files.
static tc__words tc__cc_driver(const tc__cc *cc, tc__arena *arena) {
    tc__words w = tc__words_new(arena);
    int i;
    for (i = 0; i < cc->command.count; i++) tc__words_add(&w, cc->command.at[i]);
    tc__cc_flags(cc, &w);
    return w;
}

// ---- learning

// Path, size and time of a program: one line of text that changes when it does.
static int tc__cc_put_file(tc__text *t, const char *path) {
    struct stat s;
    if (stat(path, &s)) return 0;
    tc__put(t, "file %s %llu %lld\n", path, (unsigned long long)s.st_size,
            (long long)s.st_mtime);
    return 1;
}

static const char *tc__base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static int tc__cc_work_open(tc__cc *cc, tc__work *work) {
    int how = cc->options.by_path ? TC__WORK_BY_PATH : 0;
    if (!cc->swept++) how |= TC__WORK_SWEEP;
    return tc__work_open(work, cc->ctx, cc->cache, how);
}

// No place to work, in words.
static void tc__work_trouble(tc__cc *cc) {
    int error = errno;
    cc->passes |= tc__is_passing(error);
    tc__put(&cc->why, "no directory for its files, set TMPDIR: %s\n",
            error == EPERM ? "others may rename there" : strerror(error));
}

// A file in the compiler's folder was not written, or not whole: no fault of the text, whatever errno
// is, so that another try makes sense.
static void tc__cc_unwritten(tc__cc *cc, tc__text *why) {
    int error = errno;
    cc->passes = 1;
    tc__put(why, "its source cannot be written: %s\n", strerror(error));
}

// Whether a process failed for what may be gone the next time. One that was cancelled has not failed.
static int tc__cc_failure_passes(const tc__proc *p) {
    if (p->cancelled) return 0;
    return p->timed_out || p->killed_by == SIGKILL || p->killed_by == SIGTERM ||
           p->killed_by == SIGXFSZ || (p->text.size && tc__is_passing_text(p->text.at));
}

// Whether its last failure tells nothing about compiler or text: it may be gone the next time, or it was cancelled.
static int tc__cc_undecided(const tc__cc *cc) { return cc->passes || cc->cancelled; }

// A process that we ended: why, and what it has left.
static void tc__cc_put_ended(const tc__cc *cc, tc__text *why, const char *name,
                             const tc__proc *p) {
    if (p->cancelled)
        tc__put(why, "%s: ended, as nobody wants what it makes any more\n", name);
    else
        tc__put(why, "%s: not done after %d ms\n", name, cc->options.limit_ms);
}

// Seconds of the CPU that a process may take: it may have threads.
static unsigned tc__cc_cpu_seconds(const tc__cc *cc) {
    return (unsigned)cc->options.limit_ms / 1000 * 4 + 10;
}

// Runs one program to its end and keeps what it prints in cc->why.
static int tc__cc_run(tc__cc *cc, char **argv, const tc__work *work, char **environment) {
    tc__proc p;
    int ok;
    memset(&p, 0, sizeof p);
    p.argv = argv, p.memory = cc->options.memory, p.seconds = tc__cc_cpu_seconds(cc);
    p.folder = tc__work_inside(work);
    ok = tc__proc_start(cc->ctx, &p, environment);
    if (!ok) cc->passes |= tc__is_passing(errno);
    if (!ok) tc__put(&p.text, "%s: %s", argv[0], strerror(errno));
    tc__procs_wait(&p, 1, cc->options.limit_ms, cc->cancel);
    int ended = p.timed_out || p.cancelled;
    if (ended) tc__kill_marked(cc->ctx, work->mark);
    tc__text_clear(&cc->why);
    tc__put_raw(&cc->why, p.text.at, p.text.size);
    if (ended) tc__cc_put_ended(cc, &cc->why, tc__base_name(argv[0]), &p);
    ok = ok && !ended && !p.killed_by && p.exit_code <= 0;
    cc->cancelled |= p.cancelled;
    if (!ok) cc->passes |= tc__cc_failure_passes(&p);
    tc__text_free(&p.text);
    return ok;
}

// The line that holds `word`, as a string of its own; NULL if none does.
static char *tc__cc_line(tc__cc *cc, const char *text, const char *word) {
    const char *at = strstr(text, word), *end;
    char *line;
    while (at && at > text && at[-1] != '\n') at--;
    if (!at) return NULL;
    end = at + strcspn(at, "\n");
    line = (char *)tc__arena_alloc(&cc->arena, (size_t)(end - at) + 1);
    if (line) memcpy(line, at, (size_t)(end - at));
    return line;
}

static int tc__ends_with(const char *s, const char *end) {
    size_t n = strlen(s), m = strlen(end);
    return n >= m && !strcmp(s + n - m, end);
}

// Which step a line of -### is; -1 = none of ours.
static int tc__cc_step_of(const tc__words *w) {
    const char *name = w->count ? tc__base_name(w->at[0]) : "";
    if (w->count > 1 && !strcmp(w->at[1], "-cc1")) return TC__CC_COMPILE;
    if (!strcmp(name, "cc1")) return TC__CC_COMPILE;
    if (!strcmp(name, "as") || tc__ends_with(name, "-as")) return TC__CC_ASSEMBLE;
    if (!strcmp(name, "collect2") || !strncmp(name, "ld", 2) ||
        tc__ends_with(name, "-ld")) {
        return TC__CC_LINK;
    }
    return -1;
}

// The program that a bare name, or collect2, leads to: first where the driver looks.
static const char *tc__cc_tool(tc__cc *cc, const char *name, const char *folders) {
    const char *found;
    if (!strcmp(tc__base_name(name), "collect2")) name = "ld";
    if (name[0] == '/') return name;
    found = tc__cc_find(cc, name, folders);
    return *found ? found : tc__cc_find(cc, name, tc__env("PATH"));
}

// Whether the directory stands inside a word: "-foo=./k.c".
static int tc__cc_names_work(const char *word, const tc__work *work) {
    size_t n = strlen(work->path);
    for (word = strchr(word, '='); word; word = strchr(word + 1, '='))
        if (!strncmp(word + 1, work->path, n) && word[1 + n] == '/') return 1;
    return 0;
}

// One learnt line, its file names made into place holders. 0 = something in it is not
// understood.
static int tc__cc_learn_step(tc__cc *cc, int step, const tc__words *from,
                             const tc__work *work, const char *folders) {
    static const char *const result[] = {TC__CC_OBJECT, TC__CC_OBJECT, TC__CC_OUTPUT};
    tc__words *w = &cc->step[step];
    int i, in = 0, is_piped = step == TC__CC_COMPILE && cc->kind == TC__CC_GCC;
    size_t n = strlen(work->path);
    *w = tc__words_new(&cc->arena);
    tc__words_add(w, tc__cc_tool(cc, from->at[0], folders));
    for (i = 1; i < from->count; i++) {
        const char *word = from->at[i], *next = i + 1 < from->count ? from->at[i + 1] : "";
        int ours = !strncmp(word, work->path, n) && word[n] == '/';
        if (!strcmp(word, "-plugin") || !strcmp(word, "-dumpdir")) {
            i++; // link-time optimisation; names of files that are not made
        } else if (!strncmp(word, "-plugin-opt=", 12) || !strcmp(word, "|")) {
            continue;
        } else if (strstr(word, "-compilation-dir=")) {
            continue; // of clang, for debuggers
        } else if (!strcmp(word, "-o")) {
            if (is_piped == !!strcmp(next, "-")) return 0;
            tc__words_add(w, word);
            tc__words_add(w, is_piped ? next : result[step]);
            i++;
        } else if (ours) {
            tc__words_add(w, step == TC__CC_COMPILE ? TC__CC_SOURCE : TC__CC_OBJECT);
            in++;
        } else if (!*word || strchr(word, '\n') || tc__cc_names_work(word, work)) {
            return 0;
        } else {
            tc__words_add(w, word);
        }
    }
    return !w->failed && w->count && *w->at[0] && in == (step != TC__CC_ASSEMBLE);
}

// Takes the lines of programs from what -### printed. 0 = not understood.
static int tc__cc_learn_steps(tc__cc *cc, const char *text, const tc__work *work) {
    const char *folders = tc__cc_line(cc, text, "COMPILER_PATH=");
    int seen[TC__CC_STEPS] = {0, 0, 0};
    size_t n;
    folders = folders ? folders + strlen("COMPILER_PATH=") : "";
    for (; *text; text += n + (text[n] == '\n')) {
        tc__words w = tc__words_new(&cc->arena);
        int step;
        n = strcspn(text, "\n");
        if (text[0] != ' ') continue;
        if (n > 3 && !strncmp(text, " (in-process)", n)) continue;
        tc__words_split(&w, text, n);
        step = tc__cc_step_of(&w);
        if (step < 0 || seen[step]++) return 0;
        if (!tc__cc_learn_step(cc, step, &w, work, folders)) return 0;
    }
    return seen[TC__CC_COMPILE] && seen[TC__CC_LINK] &&
           seen[TC__CC_ASSEMBLE] == (cc->kind == TC__CC_GCC);
}

// Asks the driver. The text of -### also tells which compiler it really is.
static int tc__cc_ask(tc__cc *cc, const tc__work *work, char **environment) {
    tc__words w = tc__cc_driver(cc, &cc->arena);
    const char *more[] = {"-pipe", "-###", "-o"};
    size_t i;
    for (i = 0; i < TC__COUNT(more); i++) tc__words_add(&w, more[i]);
    tc__words_join(&w, work->path, "/k.so");
    tc__words_join(&w, work->path, "/k.c");
    return !w.failed && tc__cc_run(cc, w.at, work, environment);
}

static tc__cc_kind tc__cc_kind_in(const char *text) {
    if (strstr(text, "clang version")) return TC__CC_CLANG;
    return strstr(text, "gcc version") ? TC__CC_GCC : TC__CC_OTHER;
}

// Fills kind, version, steps and state. The flags depend on the kind, so a wrong guess of
// it costs a second question.
static void tc__cc_learn(tc__cc *cc) {
    static const char *const marks[] = {"ersion", "gcc version", "clang version"};
    tc__words environment = tc__words_new(&cc->arena);
    tc__work work;
    tc__cc_kind guess;
    int ok = 0, turn;

    cc->state = TC__CC_BROKEN, cc->passes = cc->cancelled = 0;
    tc__text_clear(&cc->why);
    if (!tc__cc_work_open(cc, &work)) {
        tc__work_trouble(cc);
        return;
    }
    tc__words_environment(&environment, work.path, work.mark);
    int written = tc__file_write(work.dir, "k.c", "int k;\n", 7);
    if (!written) tc__cc_unwritten(cc, &cc->why);
    cc->kind = strstr(cc->command.at[0], "clang") ? TC__CC_CLANG : TC__CC_GCC;
    for (turn = 0; written && turn < 2; turn++) {
        ok = tc__cc_ask(cc, &work, environment.at);
        if (cc->cancelled) break;
        guess = cc->kind;
        cc->kind = tc__cc_kind_in(cc->why.at);
        if (cc->kind == guess || cc->kind == TC__CC_OTHER) break;
    }
    if (cc->cancelled) {
        cc->state = TC__CC_NEW;
    } else if (ok && cc->why.size) {
        cc->version = tc__cc_line(cc, cc->why.at, marks[cc->kind]);
        cc->state = TC__CC_DRIVER;
        if (cc->kind != TC__CC_OTHER && !cc->options.driver_only &&
            tc__cc_learn_steps(cc, cc->why.at, &work)) {
            cc->state = TC__CC_DIRECT;
        }
        if (!cc->version) cc->version = "unknown";
        tc__text_clear(&cc->why);
    } else if (!cc->why.size) {
        tc__put(&cc->why, "%s prints nothing about itself; is it a C compiler? set CC",
                cc->command.at[0]);
    }
    tc__work_close(&work);
}

// ---- what was learnt, as text; and the identity

// Whether the command says "for this CPU", in which the text of a flag means other code elsewhere.
static int tc__cc_is_native(const tc__cc *cc) {
    for (int i = 0; i < cc->command.count; i++)
        if (strstr(cc->command.at[i], "=native")) return 1;
    return cc->options.flags && strstr(cc->options.flags, "=native");
}

static void tc__cc_put_key(tc__cc *cc, tc__text *t) {
    const char *path = tc__env("PATH");
    tc__cc_kind kept = cc->kind;
    int kind, i;
    tc__put(t, "compiler lines 2\n");
    if (tc__cc_is_native(cc)) tc__cpu_put(t);
    (void)tc__cc_put_file(t, cc->command.at[0]);
    for (kind = TC__CC_OTHER; kind <= TC__CC_CLANG; kind++) {
        tc__words w;
        cc->kind = (tc__cc_kind)kind;
        w = tc__cc_driver(cc, &cc->arena);
        for (i = 0; i < w.count; i++) tc__put(t, "%s\n", w.at[i]);
    }
    cc->kind = kept;
    tc__put(t, "PATH=%s\n", path ? path : "");
}

// Lines: "kind N", "state N", "version TEXT", and for each step "step N", the words, a
// blank before each, and the file line of its program.
static void tc__cc_save(tc__cc *cc) {
    tc__text key, t;
    int i, k;
    if (!cc->cache || cc->options.driver_only) return;
    tc__text_init(&key, cc->ctx);
    tc__text_init(&t, cc->ctx);
    tc__cc_put_key(cc, &key);
    tc__put(&t, "kind %d\nstate %d\nversion %s\n", (int)cc->kind, (int)cc->state,
            cc->version);
    for (i = 0; i < TC__CC_STEPS; i++) {
        if (!cc->step[i].count) continue;
        tc__put(&t, "step %d\n", i);
        for (k = 0; k < cc->step[i].count; k++) tc__put(&t, " %s\n", cc->step[i].at[k]);
        (void)tc__cc_put_file(&t, cc->step[i].at[0]);
    }
    if (!key.failed && !t.failed) {
        (void)tc__cache_put(cc->cache, key.at, key.size, t.at, t.size);
    }
    tc__text_free(&key);
    tc__text_free(&t);
}

// One line of the above. A program must be the file that it was.
static int tc__cc_load_line(tc__cc *cc, char *line, tc__words **w) {
    tc__text now;
    int same;
    if (!strncmp(line, "kind ", 5)) return cc->kind = (tc__cc_kind)atoi(line + 5), 1;
    if (!strncmp(line, "state ", 6)) return cc->state = (tc__cc_state)atoi(line + 6), 1;
    if (!strncmp(line, "version ", 8)) return cc->version = line + 8, 1;
    if (!strncmp(line, "step ", 5) && line[5] >= '0' && line[5] < '0' + TC__CC_STEPS) {
        *w = &cc->step[line[5] - '0'];
        **w = tc__words_new(&cc->arena);
        return 1;
    }
    if (*w && line[0] == ' ') return tc__words_add(*w, line + 1), 1;
    if (!*w || !(*w)->count) return 0;
    tc__text_init(&now, cc->ctx);
    same = tc__cc_put_file(&now, (*w)->at[0]) && now.size &&
           !strncmp(now.at, line, now.size - 1) && !line[now.size - 1];
    tc__text_free(&now);
    return same;
}

static int tc__cc_load(tc__cc *cc) {
    tc__words *w = NULL;
    tc__blob found;
    tc__text key;
    char *text = NULL;
    int ok = 0;
    if (!cc->cache || cc->options.driver_only) return 0;
    tc__text_init(&key, cc->ctx);
    tc__cc_put_key(cc, &key);
    if (!key.failed && tc__cache_get(cc->cache, key.at, key.size, &found)) {
        text = (char *)tc__arena_alloc(&cc->arena, found.size + 1);
        if (text) memcpy(text, found.at, found.size);
        tc__blob_free(cc->ctx, &found);
    }
    tc__text_free(&key);
    for (ok = text != NULL; ok && *text;) {
        char *line = text;
        text += strcspn(text, "\n");
        if (*text) *text++ = 0;
        ok = tc__cc_load_line(cc, line, &w);
    }
    return ok && cc->version && cc->state != TC__CC_NEW;
}

static void tc__cc_identify(tc__cc *cc) {
    tc__words w = tc__cc_driver(cc, &cc->arena);
    int i;
    for (i = 0; i < w.count; i++) tc__put(&cc->identity, "%s\n", w.at[i]);
    (void)tc__cc_put_file(&cc->identity, cc->command.at[0]);
    if (cc->step[0].count) (void)tc__cc_put_file(&cc->identity, cc->step[0].at[0]);
    tc__put(&cc->identity, "%s\n", cc->version);
    if (!tc__cc_is_native(cc)) return;
    tc__cpu_put(&cc->identity); // and what the driver makes of it
    for (i = 0; i < cc->step[TC__CC_COMPILE].count; i++)
        tc__put(&cc->identity, "%s\n", cc->step[TC__CC_COMPILE].at[i]);
}

static void tc__cc_tell(tc__cc *cc) {
    tc__log(cc->ctx, TC__LOG_PERF, "compiler %s: %s", cc->command.at[0],
            cc->state == TC__CC_BROKEN   ? cc->why.at
            : cc->state == TC__CC_NEW    ? "cancelled before it was known"
            : cc->state == TC__CC_DIRECT ? "cc1, as and ld are run directly"
                                         : "the driver is run");
}

// Whether all is known that there is to know, here or on disk: no program is run.
static int tc__cc_is_known(tc__cc *cc) {
    if (cc->state != TC__CC_NEW) return cc->state != TC__CC_BROKEN;
    if (tc__cc_load(cc)) {
        tc__cc_identify(cc);
        tc__cc_tell(cc);
        return 1;
    }
    cc->state = TC__CC_NEW;
    memset(cc->step, 0, sizeof cc->step);
    return 0;
}

// Finds out all there is to know. At most one run of the driver per machine, not per
// process. Where that is cancelled all is as before, and is asked again by who wants it next.
static int tc__cc_ready(tc__cc *cc) {
    if (tc__cc_is_known(cc)) return 1;
    if (cc->state == TC__CC_BROKEN && !cc->passes) return 0;
    tc__calm calm = tc__calm_begin();
    tc__cc_learn(cc);
    int known = cc->state != TC__CC_BROKEN && cc->state != TC__CC_NEW;
    if (known) tc__cc_save(cc), tc__cc_identify(cc);
    tc__calm_end(calm);
    tc__cc_tell(cc);
    return known;
}

// The learnt lines made something that does not work: from now on the driver, also in later
// processes.
static void tc__cc_distrust(tc__cc *cc) {
    if (cc->state != TC__CC_DIRECT) return;
    cc->state = TC__CC_DRIVER;
    tc__log(cc->ctx, TC__LOG_PERF, "compiler %s: the driver is run from now on",
            cc->command.at[0]);
    tc__cc_save(cc);
}

#endif // TC__JIT
