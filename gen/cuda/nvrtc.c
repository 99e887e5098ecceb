// NVRTC: CUDA C++ text to a CUBIN, and PTX beside it. It is loaded at the first compile
// (109 MB: 10 ms warm, 0.3 s cold) and needs no GPU. Programs are independent: several are
// compiled on several threads, with the same bytes as on one.
//
// Its trap: it looks for libnvrtc-builtins by bare name in the loader's path, not in its
// own folder, so a copy outside that path fails at every compile. The builtins of its
// folder are loaded before that, for everybody, and then found by that name.
//
// PTX lies beside each CUBIN in the cache, under a key that names no card: where nothing
// compiles, a newer card loads it, if the text is the one that it would have had (sizes of
// tiles depend on the shared memory of a block). The driver compiles it, so it comes after
// NVRTC, which has more threads. For that nothing is compiled for sm_90a, which would tie
// PTX to the card, but a text that says that it needs the instructions of one
// (tc_device_text.native): all golden kernels are the same machine code as for sm_90.
//
// ptxas has -O2: -O3 takes it three times as long for products and makes no row of the
// bench faster. Options that an older NVRTC does not know (--minimal, --no-source-include)
// are left out in a second try; they save time and change no code.

enum { TCU__ARCHS = 64, TCU__NVRTC_OPTIONS = 32 };
enum { TCU__NVRTC_INVALID_OPTION = 5 };

typedef struct tcu__nvrtc {
    tcu__nvrtc_calls call;
    void *library;  // NULL = not open
    void *builtins; // may be NULL: then they are in the loader's path, or compiles fail
    int major, minor;
    int arch[TCU__ARCHS], archs; // 75, 80, ... that it compiles for, rising
    int tried;                   // it is not looked for again
    char path[TCU__PATH];
    char why[TCU__TEXT]; // it could not be opened
} tcu__nvrtc;

// ---- finding it

// Where it lies when the loader does not know it: folders, as patterns, below a variable's
// value. The names of CUDA's own packages, and those of the packages for Python.
static const struct {
    const char *variable, *pattern;
} tcu__nvrtc_folders[] = {
    {"CUDA_HOME", "/lib64"},
    {"CUDA_PATH", "/lib64"},
    {NULL, "/usr/local/cuda/lib64"},
    {NULL, "/usr/local/cuda-1[23].*/lib64"},
    {NULL, "/usr/local/cuda-1[23].*/lib"},
    {"VIRTUAL_ENV", "/lib/python3*/site-packages/nvidia/cu13/lib"},
    {"VIRTUAL_ENV", "/lib/python3*/site-packages/nvidia/cuda_nvrtc/lib"},
    {"CONDA_PREFIX", "/lib"},
    {"CONDA_PREFIX", "/lib/python3*/site-packages/nvidia/cu13/lib"},
    {"CONDA_PREFIX", "/lib/python3*/site-packages/nvidia/cuda_nvrtc/lib"},
    {"HOME", "/.local/lib/python3*/site-packages/nvidia/cu13/lib"},
    {"HOME", "/.local/lib/python3*/site-packages/nvidia/cuda_nvrtc/lib"},
    {NULL, "/usr/local/lib/python3*/*-packages/nvidia/cu13/lib"},
    {NULL, "/usr/local/lib/python3*/*-packages/nvidia/cuda_nvrtc/lib"},
};

static const char *const tcu__nvrtc_names[] = {"libnvrtc.so.13", "libnvrtc.so.12",
                                               "libnvrtc.so"};

TCU__FN int tcu__nvrtc_try(tcu__nvrtc *n, const char *path) {
    tcu__print(n->path, sizeof n->path, "%s", path);
    n->library = tcu__library_open(path, 0);
    return n->library != NULL;
}

TCU__FN int tcu__nvrtc_try_folder(tcu__nvrtc *n, const char *folder) {
    char path[TCU__PATH];
    for (size_t i = 0; i < TCU__COUNT(tcu__nvrtc_names); i++) {
        tcu__print(path, sizeof path, "%.450s/%s", folder, tcu__nvrtc_names[i]);
        if (tcu__nvrtc_try(n, path)) return 1;
    }
    return 0;
}

// All folders that a pattern means, the last in the order of names first: newer versions.
TCU__FN int tcu__nvrtc_try_pattern(tcu__nvrtc *n, const char *pattern) {
    int found = 0;
#if TCU__POSIX
    glob_t match;
    if (glob(pattern, 0, NULL, &match)) return 0;
    for (size_t i = match.gl_pathc; i-- > 0 && !found;)
        found = tcu__nvrtc_try_folder(n, match.gl_pathv[i]);
    globfree(&match);
#else
    (void)n, (void)pattern;
#endif
    return found;
}

TCU__FN int tcu__nvrtc_find(tcu__nvrtc *n) {
    const char *given = tcu__env("TC_NVRTC_LIBRARY");
    char pattern[TCU__PATH];
    if (given) {
        if (tcu__nvrtc_try(n, given)) return 1;
        tcu__print(n->why, sizeof n->why,
                   "NVRTC, the compiler of CUDA: TC_NVRTC_LIBRARY=%.200s cannot be loaded "
                   "(%.200s); correct it, or unset it",
                   given, tcu__library_why());
        return 0;
    }
    for (size_t i = 0; i < TCU__COUNT(tcu__nvrtc_names); i++)
        if (tcu__nvrtc_try(n, tcu__nvrtc_names[i])) return 1;
    for (size_t i = 0; i < TCU__COUNT(tcu__nvrtc_folders); i++) {
        const char *name = tcu__nvrtc_folders[i].variable,
                   *base = name ? tcu__env(name) : "";
        if (!base) continue;
        tcu__print(pattern, sizeof pattern, "%.300s%s", base,
                   tcu__nvrtc_folders[i].pattern);
        if (tcu__nvrtc_try_pattern(n, pattern)) return 1;
    }
    tcu__print(
        n->why, sizeof n->why,
        "NVRTC, the compiler of CUDA, is not found: %s, %s and %s are neither in the "
        "loader's path nor below CUDA_HOME, /usr/local/cuda or a Python environment; "
        "install it (pip install nvidia-cuda-nvrtc), or set TC_NVRTC_LIBRARY to the file",
        tcu__nvrtc_names[0], tcu__nvrtc_names[1], tcu__nvrtc_names[2]);
    return 0;
}

// Loads the builtins that lie beside the library. That there are none is no error: a
// static build has them inside.
TCU__FN void tcu__nvrtc_builtins(tcu__nvrtc *n) {
    char path[TCU__PATH + 64];
    tcu__library_path(tcu__library_symbol(n->library, "nvrtcVersion"), n->path,
                      sizeof n->path);
    const char *slash = strrchr(n->path, '/');
    if (!slash) return;
    int folder = (int)(slash - n->path);
    tcu__print(path, sizeof path, "%.*s/libnvrtc-builtins.so.%d.%d", folder, n->path,
               n->major, n->minor);
    n->builtins = tcu__library_open(path, 1);
    if (n->builtins) return;
    tcu__print(path, sizeof path, "%.*s/libnvrtc-builtins.so", folder, n->path);
    n->builtins = tcu__library_open(path, 1);
}

TCU__FN int tcu__nvrtc_ask(tcu__nvrtc *n) {
    int count = 0;
    if (n->call.nvrtcVersion(&n->major, &n->minor)) return 0;
    if (n->call.nvrtcGetNumSupportedArchs(&count) || count < 1 || count > TCU__ARCHS)
        return 0;
    if (n->call.nvrtcGetSupportedArchs(n->arch)) return 0;
    n->archs = count;
    return 1;
}

TCU__FN void tcu__nvrtc_close(tcu__nvrtc *n) {
    tcu__library_close(n->library);
    tcu__library_close(n->builtins);
    memset(n, 0, sizeof *n);
}

// Opens NVRTC unless that was tried before: 1, or 0 with the reason, which is kept, in *t.
TCU__FN int tcu__nvrtc_open(tcu__nvrtc *n, tcu__trouble *t) {
    const char *missing = NULL;
    if (n->library) return 1;
    if (!n->tried && tcu__nvrtc_find(n)) {
        missing = tcu__symbols_find(n->library, tcu__nvrtc_symbols,
                                    TCU__COUNT(tcu__nvrtc_symbols), &n->call);
        if (!missing && tcu__nvrtc_ask(n)) {
            tcu__nvrtc_builtins(n);
            n->tried = 1;
            return 1;
        }
        tcu__print(n->why, sizeof n->why,
                   "NVRTC, the compiler of CUDA: %s lacks %s; CUDA 12 or newer is needed",
                   n->path, missing ? missing : "a version");
        tcu__library_close(n->library);
        n->library = NULL;
    }
    n->tried = 1;
    return tcu__fail(t, TC_E_COMPILER, "%s", n->why);
}

// ---- architectures

typedef struct tcu__arch {
    char name[16];   // "sm_90"; "compute_80" where NVRTC does not know the device yet
    char native[16]; // with the instructions that only the device has: "sm_90a"
    int cubin;       // 0: PTX, which the driver compiles for the device
} tcu__arch;

// Whether groups of four warps multiply what is in shared memory.
TCU__FN int tcu__has_wgmma(int major, int minor) { return major == 9 && minor == 0; }

// What to compile for, for compute capability major.minor: the device itself, else an older
// one of its generation, else PTX. Instructions that only the device has (9.0 and 10.x: the
// matrix units) would tie PTX to it. 0 = NVRTC no longer knows so old a device.
TCU__FN int tcu__arch_choose(const tcu__nvrtc *n, int major, int minor, tcu__arch *out,
                             tcu__trouble *t) {
    int want = major * 10 + minor, best = 0;
    int own = want == 90 || major == 10;
    for (int i = 0; i < n->archs; i++)
        if (n->arch[i] <= want && n->arch[i] > best) best = n->arch[i];
    if (!best)
        return tcu__fail(
            t, TC_E_VERSION,
            "the device has compute capability %d.%d, and NVRTC %d.%d compiles "
            "for %d.%d and newer; install an older NVRTC, and set "
            "TC_NVRTC_LIBRARY to it",
            major, minor, n->major, n->minor, n->arch[0] / 10, n->arch[0] % 10);
    out->cubin = best / 10 == major;
    tcu__print(out->name, sizeof out->name, "%s_%d", out->cubin ? "sm" : "compute", best);
    tcu__print(out->native, sizeof out->native, "%s%s", out->name,
               own && best == want ? "a" : "");
    return 1;
}

// ---- compiling

// One program: what to compile, and what became of it.
typedef struct tcu__job {
    const char *name, *source;  // shown in the log; its text
    const char *const *options; // beside ours
    int n_options;
    int native;      // 1: for the device alone
    int ok, no_room; // no_room: the host's memory ended
    char *cubin, *ptx,
        *log; // owned, with a 0 at the end; NULL = none. log: also of a success
    size_t cubin_size, ptx_size, log_size;
    char why[TCU__TEXT]; // not ok: one sentence, then the first lines of the log
} tcu__job;

// No lookup of included files, no standard headers, functions without a mark are of the
// device, no word about helpers that a kernel does not need. ptxas -O3 takes products three
// times as long and makes nothing faster (every row of bench cuda on an H200).
static const char *const tcu__nvrtc_usual[] = {"-std=c++17",  "-default-device",
                                               "-Xptxas=-O2", "-diag-suppress=177",
                                               "--minimal",   "--no-source-include"};
enum { TCU__NVRTC_NEW_OPTIONS = 2 }; // the last of them, which older ones do not know

TCU__FN void tcu__job_free(const tc_allocator *host, tcu__job *j) {
    TCU__FREE(host, j->cubin, j->cubin_size + 1);
    TCU__FREE(host, j->ptx, j->ptx_size + 1);
    TCU__FREE(host, j->log, j->log_size + 1);
    j->cubin = j->ptx = j->log = NULL;
    j->cubin_size = j->ptx_size = j->log_size = 0;
}

// One of the results, by its two functions: 0 = no memory; no result is no failure.
TCU__FN int tcu__job_result(const tc_allocator *host, tcu__nvrtc_program p,
                            int (*size_of)(tcu__nvrtc_program, size_t *),
                            int (*get)(tcu__nvrtc_program, char *), char **out,
                            size_t *size) {
    size_t n = 0;
    if (size_of(p, &n) || !n) return 1;
    char *text = TCU__NEW_ARRAY(host, char, n + 1);
    if (!text) return 0;
    if (get(p, text)) {
        TCU__FREE(host, text, n + 1);
        return 1;
    }
    *out = text;
    *size = n;
    return 1;
}

TCU__FN int tcu__job_run(const tcu__nvrtc *n, tcu__nvrtc_program p, const tcu__arch *arch,
                         const tcu__job *j, size_t usual) {
    const char *options[TCU__NVRTC_OPTIONS];
    char target[32];
    int count = 0;
    tcu__print(target, sizeof target, "-arch=%s", j->native ? arch->native : arch->name);
    options[count++] = target;
    for (size_t i = 0; i < usual; i++) options[count++] = tcu__nvrtc_usual[i];
    for (int i = 0; i < j->n_options; i++) options[count++] = j->options[i];
    return n->call.nvrtcCompileProgram(p, count, options);
}

TCU__FN void tcu__job_failed(const tcu__nvrtc *n, const tcu__arch *arch, int code,
                             tcu__job *j) {
    tcu__print(j->why, sizeof j->why,
               "NVRTC %d.%d does not compile %.100s for %s (code %d)", n->major, n->minor,
               j->name, j->native ? arch->native : arch->name, code);
    if (j->log) tcu__put(j->why, sizeof j->why, ":\n%s", j->log);
}

// Compiles one program. Any thread may; *n is only read.
TCU__FN void tcu__job_compile(const tcu__nvrtc *n, const tc_allocator *host,
                              const tcu__arch *arch, tcu__job *j) {
    const tcu__nvrtc_calls *call = &n->call;
    size_t usual = TCU__COUNT(tcu__nvrtc_usual);
    tcu__nvrtc_program p = NULL;
    j->ok = 0;
    if (j->n_options < 0 || (size_t)j->n_options + usual + 1 > TCU__NVRTC_OPTIONS) {
        tcu__print(j->why, sizeof j->why, "%.100s: %d options are too many", j->name,
                   j->n_options);
        return;
    }
    int code = call->nvrtcCreateProgram(&p, j->source, j->name, 0, NULL, NULL);
    if (!code) code = tcu__job_run(n, p, arch, j, usual);
    if (code == TCU__NVRTC_INVALID_OPTION)
        code = tcu__job_run(n, p, arch, j, usual - TCU__NVRTC_NEW_OPTIONS);
    int room = !p || tcu__job_result(host, p, call->nvrtcGetProgramLogSize,
                                     call->nvrtcGetProgramLog, &j->log, &j->log_size);
    if (!code) {
        room = room &&
               tcu__job_result(host, p, call->nvrtcGetPTXSize, call->nvrtcGetPTX, &j->ptx,
                               &j->ptx_size) &&
               (!arch->cubin ||
                tcu__job_result(host, p, call->nvrtcGetCUBINSize, call->nvrtcGetCUBIN,
                                &j->cubin, &j->cubin_size));
        j->ok = room && (arch->cubin ? j->cubin : j->ptx) != NULL;
    }
    if (p) call->nvrtcDestroyProgram(&p);
    j->no_room = !room;
    if (!room)
        tcu__print(j->why, sizeof j->why,
                   "out of memory of the host for the code of %.100s", j->name);
    else if (!j->ok)
        tcu__job_failed(n, arch, code, j);
}

// ---- several at once

typedef struct tcu__crew {
    const tcu__nvrtc *nvrtc;
    const tc_allocator *host;
    const tcu__arch *arch;
    tcu__job *job;
    int count;
    volatile int next; // job that nobody has begun
} tcu__crew;

TCU__FN void *tcu__crew_work(void *user) {
    tcu__crew *w = (tcu__crew *)user;
    for (;;) {
        int i = TCU__ADD(&w->next, 1);
        if (i >= w->count) return NULL;
        tcu__job_compile(w->nvrtc, w->host, w->arch, &w->job[i]);
    }
}

enum { TCU__CREW = 16 }; // threads at most, the caller's included

// Works with up to `threads` threads, the caller's one of them. Signals stay with the
// program's own threads.
TCU__FN void tcu__crew_all(tcu__crew *w, int threads) {
#if TCU__THREADS
    pthread_t other[TCU__CREW];
    sigset_t all, kept;
    int started = 0, cancel; // the others work on what is on this thread's stack
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    if (threads > w->count) threads = w->count;
    if (threads > TCU__CREW) threads = TCU__CREW;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &kept);
    while (started + 1 < threads &&
           !pthread_create(&other[started], NULL, tcu__crew_work, w))
        started++;
    pthread_sigmask(SIG_SETMASK, &kept, NULL);
    tcu__crew_work(w);
    while (started > 0) pthread_join(other[--started], NULL);
    pthread_setcancelstate(cancel, NULL);
#else
    (void)threads;
    tcu__crew_work(w);
#endif
}

// Compiles all jobs; opens NVRTC if need be. 1 = all are ok; 0: *t has the reason of the
// first that is not, the others are what they became. tcu__job_free each in any case.
TCU__FN int tcu__compile(tcu__nvrtc *n, const tc_allocator *host, const tcu__arch *arch,
                         tcu__job *job, int count, int threads, tcu__trouble *t) {
    tcu__crew w;
    if (!tcu__nvrtc_open(n, t)) return 0;
    memset(&w, 0, sizeof w);
    w.nvrtc = n;
    w.host = host;
    w.arch = arch;
    w.job = job;
    w.count = count;
    tcu__crew_all(&w, threads);
    for (int i = 0; i < count; i++)
        if (!job[i].ok)
            return tcu__fail(t, job[i].no_room ? TC_E_NOMEM : TC_E_COMPILER, "%s",
                             job[i].why);
    return 1;
}
