// The operating system: clock, environment, CPU, floating-point control, files, processes,
// loading of code. Results are 1 or 0 (or a descriptor or -1) with errno left for the log;
// nothing here reports an error but lack of memory. After the prelude this is the only part
// that knows which system it runs on. Rules kept everywhere: no shell, no fork(), every
// descriptor closes on exec, names are opened relative to a directory descriptor and never
// through a symlink, and a privileged program sees an empty environment.

#if TC__POSIX && !defined(TC_NO_JIT)
#    define TC__JIT 1
#else
#    define TC__JIT 0
#endif
#if TC__POSIX && !defined(TC_NO_DISK_CACHE)
#    define TC__DISK_CACHE 1
#else
#    define TC__DISK_CACHE 0
#endif

// ---- clock and environment

#if TC__POSIX
// Nanoseconds from some start; never goes back.
TC__UNUSED static uint64_t tc__now_ns(void) {
    struct timespec t;
    if (clock_gettime(CLOCK_MONOTONIC, &t)) return 0;
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

// 1 in a setuid, setgid or otherwise privileged program.
static int tc__is_privileged(void) {
#    if TC__LINUX
    if (getauxval(AT_SECURE)) return 1;
#    endif
    return getuid() != geteuid() || getgid() != getegid();
}
#else
TC__UNUSED static uint64_t tc__now_ns(void) {
    return (uint64_t)((double)clock() * (1e9 / CLOCKS_PER_SEC));
}

static int tc__is_privileged(void) { return 0; }
#endif

// Whether somebody looks at stderr.
TC__UNUSED static int tc__is_watched(void) {
#if TC__POSIX
    return isatty(2);
#else
    return 0;
#endif
}

// The value of an environment variable; NULL when unset, empty, or not to be trusted.
TC__UNUSED static const char *tc__env(const char *name) {
    const char *s;
    if (tc__is_privileged()) return NULL;
    s = getenv(name);
    return s && *s ? s : NULL;
}

// ---- floating-point control

typedef uint64_t tc__fp_state;

// Round to nearest, no flush to zero, no traps: the numerics contract. Returns what the
// host had; almost always it had just that, and the costly write is skipped (the pair: 6
// ns). Sticky flags are left to gather, as after any libm call.
#if TC__X86 && defined(__SSE__)
#    define TC__FP_CONTROL                                                                 \
        0xffc0u // flush to zero, rounding, trap masks, denormals are zero
#    define TC__FP_DEFAULT 0x1f80u // every trap masked, all else 0

TC__ALWAYS_INLINE tc__fp_state tc__fp_enter(void) {
    uint32_t host = __builtin_ia32_stmxcsr();
    if (TC__UNLIKELY((host & TC__FP_CONTROL) != TC__FP_DEFAULT)) {
        __builtin_ia32_ldmxcsr(TC__FP_DEFAULT);
    }
    return host;
}

TC__ALWAYS_INLINE void tc__fp_leave(tc__fp_state host) {
    if (TC__LIKELY((host & TC__FP_CONTROL) == TC__FP_DEFAULT)) return;
    __builtin_ia32_ldmxcsr((uint32_t)host);
}
#elif TC__ARM64 && TC__GNUC
TC__ALWAYS_INLINE tc__fp_state tc__fp_enter(void) {
    uint64_t host, standard = 0;
    __asm__ volatile("mrs %0, fpcr" : "=r"(host));
    if (TC__UNLIKELY(host)) __asm__ volatile("msr fpcr, %0" : : "r"(standard));
    return host;
}

TC__ALWAYS_INLINE void tc__fp_leave(tc__fp_state host) {
    if (TC__UNLIKELY(host)) __asm__ volatile("msr fpcr, %0" : : "r"(host));
}
#else
TC__ALWAYS_INLINE tc__fp_state tc__fp_enter(void) { return 0; }

TC__ALWAYS_INLINE void tc__fp_leave(tc__fp_state host) { (void)host; }
#endif

// ---- CPU

enum {
    TC__CPU_AVX2 = 1,
    TC__CPU_FMA = 2,
    TC__CPU_F16C = 4,
    TC__CPU_AVX512F = 8, // with BW, DQ and VL
    TC__CPU_NEON = 16,
    TC__CPU_ASKED = 32, // in tc__core
    TC__CPU_WIDE =
        TC__CPU_AVX2 | TC__CPU_FMA | TC__CPU_F16C // what eight lanes are written for
};

#if TC__X86 && TC__GNUC
typedef struct tc__cpuid {
    uint32_t a, b, c, d;
} tc__cpuid;

static tc__cpuid tc__cpuid_of(uint32_t leaf) {
    tc__cpuid r;
    __asm__ volatile("cpuid"
                     : "=a"(r.a), "=b"(r.b), "=c"(r.c), "=d"(r.d)
                     : "a"(leaf), "c"(0));
    return r;
}

// Which vector registers the system saves at a task switch (the XCR0 register).
static uint32_t tc__cpu_saved_state(void) {
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    (void)high;
    return low;
}

TC__UNUSED static unsigned tc__cpu_features(void) {
    const uint32_t avx512 = 1u << 16 | 1u << 17 | 1u << 30 | 1u << 31; // F, DQ, BW, VL
    tc__cpuid one = tc__cpuid_of(1), seven;
    unsigned found = 0;
    uint32_t saved;
    if (tc__cpuid_of(0).a < 7 || !(one.c >> 27 & 1u)) return 0; // no leaf 7 or no OSXSAVE
    seven = tc__cpuid_of(7);
    saved = tc__cpu_saved_state();
    if ((saved & 6u) != 6u) return 0; // xmm, ymm
    if (seven.b >> 5 & 1u) found |= TC__CPU_AVX2;
    if (one.c >> 12 & 1u) found |= TC__CPU_FMA;
    if (one.c >> 29 & 1u) found |= TC__CPU_F16C;
    if ((saved & 0xe0u) == 0xe0u && (seven.b & avx512) == avx512) found |= TC__CPU_AVX512F;
    return found;
}
#elif TC__ARM64
TC__UNUSED static unsigned tc__cpu_features(void) {
    return TC__CPU_NEON; // part of the architecture
}
#else
TC__UNUSED static unsigned tc__cpu_features(void) { return 0; }
#endif

// The same, asked once per context: a virtual machine takes 20 us to answer.
static unsigned tc__cpu_of(tc_ctx *c) {
    tc__core *core = tc__core_of(c);
    if (!core->cpu) core->cpu = tc__cpu_features() | TC__CPU_ASKED;
    return core->cpu & ~(unsigned)TC__CPU_ASKED;
}

// Which CPU it is, beyond what it can do: family, model and stepping; 0 = not told.
#if TC__X86 && TC__GNUC
TC__UNUSED static uint32_t tc__cpu_model(void) { return tc__cpuid_of(1).a; }
#else
TC__UNUSED static uint32_t tc__cpu_model(void) { return 0; }
#endif

// ---- pages

// Asks for 2 MB pages behind the whole pages of [p, p + bytes); p is a multiple of 2 MB. A
// system that has none, or gives none, changes nothing.
#if TC__LINUX && defined(MADV_HUGEPAGE)
TC__UNUSED static void tc__advise_huge(void *p, size_t bytes) {
    int before = errno;
    if (madvise(p, bytes / TC__HUGE_PAGE * TC__HUGE_PAGE, MADV_HUGEPAGE)) errno = before;
}
#else
TC__UNUSED static void tc__advise_huge(void *p, size_t bytes) { (void)p, (void)bytes; }
#endif

#if TC__POSIX
// Copies whole 64-byte lines past the caches, where there is a way: what a kernel with streamed stores
// can reach.
#    if TC__GNUC && TC__X86
static void tc__copy_streamed(void *to, const void *from, size_t bytes) {
    long long *d = (long long *)to;
    const long long *s = (const long long *)from;
    for (size_t i = 0; i < bytes / 8; i++) __builtin_ia32_movnti64(d + i, s[i]);
    __builtin_ia32_sfence();
}
#    else
static void tc__copy_streamed(void *to, const void *from, size_t bytes) {
    memcpy(to, from, bytes);
}
#    endif

// CPUs this process may use, at least 1.
TC__UNUSED static int tc__cpu_count(void) {
    long n;
#    if TC__LINUX
    cpu_set_t mask;
    if (!sched_getaffinity(0, sizeof mask, &mask)) return CPU_COUNT(&mask);
#    endif
    n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 1 ? (int)n : 1;
}
#endif

// A number of the calling thread; 0 where there are no threads to tell apart.
static uint64_t tc__thread_self(void) {
#if TC__THREADS
    return (uint64_t)(uintptr_t)pthread_self();
#else
    return 0;
#endif
}

// A lock. Without threads there is nobody to keep out.
#if TC__THREADS
typedef pthread_mutex_t tc__mutex;
TC__UNUSED static void tc__mutex_init(tc__mutex *m) { (void)pthread_mutex_init(m, NULL); }
TC__UNUSED static void tc__mutex_free(tc__mutex *m) { (void)pthread_mutex_destroy(m); }
TC__UNUSED static void tc__mutex_lock(tc__mutex *m) { (void)pthread_mutex_lock(m); }
TC__UNUSED static void tc__mutex_unlock(tc__mutex *m) { (void)pthread_mutex_unlock(m); }
#else
typedef int tc__mutex;
TC__UNUSED static void tc__mutex_init(tc__mutex *m) { *m = 0; }
TC__UNUSED static void tc__mutex_free(tc__mutex *m) { *m = 0; }
TC__UNUSED static void tc__mutex_lock(tc__mutex *m) { *m = 1; }
TC__UNUSED static void tc__mutex_unlock(tc__mutex *m) { *m = 0; }
#endif

#if TC__THREADS

// The CPU this thread runs on, or -1.
static int tc__cpu_current(void) {
#    if TC__LINUX
    return sched_getcpu();
#    else
    return -1;
#    endif
}

// Keeps a thread off one CPU when this process may use others. It is kept off one instead
// of pinned to one, so that the workers of several pools do not pile up on the same CPU.
static void tc__cpu_avoid(pthread_t thread, int cpu) {
#    if TC__LINUX
    cpu_set_t mask;
    if (cpu < 0 || cpu >= CPU_SETSIZE) return;
    if (sched_getaffinity(0, sizeof mask, &mask)) return;
    CPU_CLR((unsigned)cpu, &mask);
    if (CPU_COUNT(&mask)) (void)pthread_setaffinity_np(thread, sizeof mask, &mask);
#    else
    (void)thread, (void)cpu;
#    endif
}

// A word that reads 1 in this process and 0 in a child forked from it: one load in place of
// the 50 ns of getpid(). NULL where the system has no such memory.
#    define TC__FORK_MARK_SIZE 4096u

static volatile uint32_t *tc__fork_mark_open(void) {
#    if TC__LINUX && defined(MADV_WIPEONFORK)
    void *p = mmap(NULL, TC__FORK_MARK_SIZE, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) return NULL;
    if (!madvise(p, TC__FORK_MARK_SIZE, MADV_WIPEONFORK)) {
        *(volatile uint32_t *)p = 1;
        return (volatile uint32_t *)p;
    }
    (void)munmap(p, TC__FORK_MARK_SIZE);
#    endif
    return NULL;
}

static void tc__fork_mark_close(volatile uint32_t *mark) {
    if (mark) (void)munmap((void *)(uintptr_t)mark, TC__FORK_MARK_SIZE);
}

#endif // TC__THREADS

// ---- files

// Bytes owned by a context. One NUL stands behind them, so text can be parsed in place.
typedef struct tc__blob {
    uint8_t *at;
    size_t size;
} tc__blob;

TC__UNUSED static int tc__blob_init(tc_ctx *c, tc__blob *b, size_t size) {
    b->at = size < SIZE_MAX ? (uint8_t *)tc__alloc(c, size + 1) : NULL;
    b->size = b->at ? size : 0;
    if (!b->at) errno = ENOMEM;
    return b->at != NULL;
}

TC__UNUSED static void tc__blob_free(tc_ctx *c, tc__blob *b) {
    if (b->at) tc__free(c, b->at, b->size + 1);
    b->at = NULL;
    b->size = 0;
}

#if TC__JIT || TC__DISK_CACHE

// Closes and keeps errno.
static void tc__close(int fd) {
    int kept = errno;
    if (fd >= 0) (void)close(fd);
    errno = kept;
}

// The directory `name` under the directory `parent`, made (for us alone) if absent.
static int tc__dir_open_at(int parent, const char *name) {
    (void)mkdirat(parent, name, 0700); // if that failed, and matters, so does openat
    return openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

// The same for an absolute path; absent parents are made too. Only the last name is refused
// when it is a symlink: a home directory often stands behind one.
TC__UNUSED static int tc__dir_open(const char *path) {
    char part[PATH_MAX];
    size_t i, n = strlen(path);
    while (n > 1 && path[n - 1] == '/') n--;
    if (path[0] != '/' || n >= sizeof part) return errno = EINVAL, -1;
    for (i = 1; i < n; i++) {
        if (path[i] != '/') continue;
        memcpy(part, path, i);
        part[i] = 0;
        (void)mkdir(part, 0700);
    }
    memcpy(part, path, n);
    part[n] = 0;
    return tc__dir_open_at(AT_FDCWD, part);
}

enum { TC__MINE_ONLY = 0, TC__GROUP_MAY_WRITE = 1 };

// 1 if the open file or directory belongs to us (or may be a group's) and others cannot
// write it.
TC__UNUSED static int tc__is_mine(int fd, int group_may_write) {
    struct stat s;
    unsigned others = group_may_write ? 02u : 022u;
    if (fstat(fd, &s)) return 0;
    if (s.st_uid != geteuid() && !group_may_write) return 0;
    return !((unsigned)s.st_mode & others);
}

static int tc__read_all(int fd, uint8_t *at, size_t size) {
    size_t done = 0;
    while (done < size) {
        ssize_t n = pread(fd, at + done, size - done, (off_t)done);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return 0;
        done += (size_t)n;
    }
    return 1;
}

static int tc__write_all(int fd, const uint8_t *at, size_t size) {
    size_t done = 0;
    while (done < size) {
        ssize_t n = write(fd, at + done, size - done);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return 0;
        done += (size_t)n;
    }
    return 1;
}

// Opens a plain file to read; never waits on a fifo, never follows a link.
static int tc__file_open(int dir, const char *name) {
    return openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
}

// The whole of an open plain file of at most `cap` bytes.
static int tc__file_read_fd(tc_ctx *c, int fd, size_t cap, tc__blob *out) {
    struct stat s;
    memset(out, 0, sizeof *out);
    if (fstat(fd, &s)) return 0;
    if (!S_ISREG(s.st_mode) || s.st_size < 0 || (uintmax_t)s.st_size > cap) {
        return errno = EFBIG, 0;
    }
    if (!tc__blob_init(c, out, (size_t)s.st_size)) return 0;
    if (tc__read_all(fd, out->at, out->size)) return 1;
    tc__blob_free(c, out);
    return 0;
}

TC__UNUSED static int tc__file_read(tc_ctx *c, int dir, const char *name, size_t cap,
                                    tc__blob *out) {
    int fd = tc__file_open(dir, name), ok;
    memset(out, 0, sizeof *out);
    if (fd < 0) return 0;
    ok = tc__file_read_fd(c, fd, cap, out);
    tc__close(fd);
    return ok;
}

// A new file; an existing one of that name is an error.
static int tc__file_write(int dir, const char *name, const void *at, size_t size) {
    int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    int ok;
    if (fd < 0) return 0;
    ok = tc__write_all(fd, (const uint8_t *)at, size);
    if (close(fd)) ok = 0;
    if (!ok) (void)unlinkat(dir, name, 0);
    return ok;
}

// Puts a complete file in the place of `name`, in one step for every reader. `serial`
// differs between the calls of one process. No fsync: whoever reads it checks a digest.
TC__UNUSED static int tc__file_replace(int dir, const char *name, const void *at,
                                       size_t size, uint64_t serial) {
    char temp[80];
    (void)snprintf(temp, sizeof temp, ".%ld.%llx.%llx.tmp", (long)getpid(),
                   (unsigned long long)serial, (unsigned long long)tc__now_ns());
    if (!tc__file_write(dir, temp, at, size)) return 0;
    if (!renameat(dir, temp, dir, name)) return 1;
    (void)unlinkat(dir, temp, 0);
    return 0;
}

// Calls visit(arg, dir, name) for every name in a directory but "." and "..".
static int tc__dir_each(int dir, void (*visit)(void *arg, int dir, const char *name),
                        void *arg) {
    int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    struct dirent *e;
    if (!d) return tc__close(fd), 0;
    while ((e = readdir(d)) != NULL) {
        if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..")) continue;
        visit(arg, dir, e->d_name);
    }
    (void)closedir(d);
    return 1;
}

#endif // files

// ---- loading code

#if TC__JIT

typedef void (*tc__dl_function)(void);

// An open descriptor that only we can change and that holds the bytes.
static int tc__memory_file(const char *label, const uint8_t *at, size_t size) {
#    if TC__LINUX && defined(SYS_memfd_create)
    enum { CLOEXEC = 1, SEALING = 2, EXEC = 16 };
    const int seals = 1 | 2 | 4 | 8; // no more seals, no shrinking, growing or writing
    long fd = syscall(SYS_memfd_create, label, CLOEXEC | SEALING | EXEC);
    if (fd < 0) fd = syscall(SYS_memfd_create, label, CLOEXEC | SEALING); // old Linux
    if (fd < 0) return -1;
    if (tc__write_all((int)fd, at, size)) {
        (void)fcntl((int)fd, 1024 + 9, seals); // F_ADD_SEALS; the digest has been checked
        return (int)fd;
    }
    tc__close((int)fd);
#    else
    (void)label, (void)at, (void)size;
#    endif
    return -1;
}

// glibc knows a library by the spelling of its path before it looks at the file, and would
// hand out the old library for a descriptor number used again. So the path spells the
// clock, a "./" for each 1 and a "/" for each 0: the same file, never the same text.
static void tc__unique_path(char *out, int fd) {
    uint64_t bits = tc__now_ns();
    char *o = out + sprintf(out, "/proc/self/fd/");
    for (; bits; bits >>= 1) {
        if (bits & 1u) *o++ = '.';
        *o++ = '/';
    }
    (void)sprintf(o, "%d", fd);
}

// Without memfd or /proc: a private file that is gone again when this returns.
static void *tc__dl_load_file(const uint8_t *at, size_t size) {
    const char *root = tc__env("TMPDIR");
    char path[PATH_MAX];
    void *handle = NULL;
    int fd, n = snprintf(path, sizeof path, "%s/tcompile-XXXXXX", root ? root : "/tmp");
    if (n <= 0 || (size_t)n >= sizeof path || path[0] != '/') return NULL;
    fd = mkstemp(path);
    if (fd < 0) return NULL;
    if (tc__write_all(fd, at, size)) handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    tc__close(fd);
    (void)unlink(path);
    return handle;
}

// Loads exactly these bytes as a shared library. NULL: dlerror() tells why.
static void *tc__dl_load(const char *label, const uint8_t *at, size_t size) {
    char path[192];
    void *handle = NULL;
    int fd = tc__memory_file(label, at, size);
    if (fd >= 0) {
        tc__unique_path(path, fd);
        handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        tc__close(fd);
    }
    return handle ? handle : tc__dl_load_file(at, size);
}

static tc__dl_function tc__dl_symbol(void *handle, const char *name) {
    void *p = dlsym(handle, name);
    tc__dl_function f;
    memcpy(&f, &p, sizeof f); // C has no cast between the two
    return f;
}

// ---- programs

#    define TC__PROC_MAX    16      // processes waited for at once
#    define TC__PROC_TEXT   262144u // bytes of output kept
#    define TC__PROC_MEMORY (8ull << 30)

// A pipe whose ends are above 2 and close on exec, so 0 can mean "none" everywhere.
static int tc__pipe(int ends[2]) {
    int low[2], i;
    if (pipe(low)) return 0;
    for (i = 0; i < 2; i++) {
        ends[i] = fcntl(low[i], F_DUPFD_CLOEXEC, 3);
        tc__close(low[i]);
    }
    if (ends[0] >= 0 && ends[1] >= 0) return 1;
    tc__close(ends[0]);
    tc__close(ends[1]);
    return 0;
}

typedef struct tc__proc {
    char **argv;   // in: NULL-ended, [0] an absolute path; the caller's
    int in, out;   // in: descriptors for stdin and stdout; 0 = /dev/null, the kept text
    size_t memory; // in: bytes of address space it may have; 0 = TC__PROC_MEMORY
    tc__text text; // out: the first 256 KB of stdout (if kept) and stderr
    int exit_code; // out: 0 to 255; -1 killed, or unknown: the host reaps children
    int killed_by; // out: signal number or 0
    int timed_out; // out
    int started, running;
    int capture, watch; // pipe to read; descriptor that tells the exit, or -1
    pid_t pid;
} tc__proc;

// Default signals, a process group of its own, nothing inherited but stdin, stdout, stderr.
static int tc__proc_spawn(tc__proc *p, int text, char **environment) {
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t all, none;
    int error;
    const short flags =
        POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK;
    if (posix_spawnattr_init(&how)) return ENOMEM;
    if (posix_spawn_file_actions_init(&files)) return posix_spawnattr_destroy(&how), ENOMEM;
    (void)sigfillset(&all);
    (void)sigemptyset(&none);
    (void)posix_spawnattr_setsigdefault(&how, &all);
    (void)posix_spawnattr_setsigmask(&how, &none);
    (void)posix_spawnattr_setpgroup(&how, 0);
    (void)posix_spawnattr_setflags(&how, flags);
    error = p->in ? posix_spawn_file_actions_adddup2(&files, p->in, 0)
                  : posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    if (!error) error = posix_spawn_file_actions_adddup2(&files, p->out ? p->out : text, 1);
    if (!error) error = posix_spawn_file_actions_adddup2(&files, text, 2);
#    if defined(__GLIBC__) && defined(__GLIBC_PREREQ)
#        if __GLIBC_PREREQ(2, 34)
    if (!error) error = posix_spawn_file_actions_addclosefrom_np(&files, 3);
#        endif
#    endif
    if (!error) {
        error = posix_spawn(&p->pid, p->argv[0], &files, &how, p->argv, environment);
    }
    (void)posix_spawn_file_actions_destroy(&files);
    (void)posix_spawnattr_destroy(&how);
    return error;
}

// A spawned process cannot be given limits at its birth; it gets them a moment later.
static void tc__proc_limit(pid_t pid, size_t bytes) {
#    if TC__LINUX
    struct rlimit memory, core;
    memory.rlim_cur = memory.rlim_max = bytes ? bytes : TC__PROC_MEMORY;
    core.rlim_cur = core.rlim_max = 0;
    (void)prlimit(pid, RLIMIT_AS, &memory, NULL);
    (void)prlimit(pid, RLIMIT_CORE, &core, NULL);
#    else
    (void)pid, (void)bytes;
#    endif
}

// Starts a program; tc__procs_wait must follow. 0: errno tells why; waiting does nothing.
// p->text is the caller's to free in either case.
static int tc__proc_start(tc_ctx *c, tc__proc *p, char **environment) {
    int ends[2], error;
    tc__text_init(&p->text, c);
    p->exit_code = -1;
    p->killed_by = p->timed_out = p->started = p->running = 0;
    p->capture = p->watch = -1;
    if (!tc__pipe(ends)) return 0;
    error = tc__proc_spawn(p, ends[1], environment);
    tc__close(ends[1]);
    if (error) return tc__close(ends[0]), errno = error, 0;
    tc__proc_limit(p->pid, p->memory);
    (void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
    p->capture = ends[0];
    p->started = p->running = 1;
#    if TC__LINUX && defined(SYS_pidfd_open)
    p->watch = (int)syscall(SYS_pidfd_open, p->pid, 0);
#    endif
    return 1;
}

// Reads what is there, a bounded amount so that a flood does not hide the time limit.
static void tc__proc_read(tc__proc *p) {
    char buffer[4096];
    int i;
    for (i = 0; i < 64 && p->capture >= 0; i++) {
        ssize_t n = read(p->capture, buffer, sizeof buffer);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && errno == EAGAIN) return;
        if (n <= 0) {
            tc__close(p->capture);
            p->capture = -1;
            return;
        }
        if (p->text.size + (size_t)n <= TC__PROC_TEXT) {
            tc__put_raw(&p->text, buffer, (size_t)n);
        }
    }
}

// Takes the exit status once the process is gone. Processes it left behind die with it.
// A host that ignores SIGCHLD, or reaps every child, takes the status from us (ECHILD).
static void tc__proc_reap(tc__proc *p) {
    siginfo_t info;
    int status = 0;
    pid_t got;
    memset(&info, 0, sizeof info);
    if (!waitid(P_PID, (id_t)p->pid, &info, WEXITED | WNOHANG | WNOWAIT)) {
        if (!info.si_pid) return; // still running
        (void)kill(-p->pid, SIGKILL);
    }
    while ((got = waitpid(p->pid, &status, 0)) < 0 && errno == EINTR) {
    }
    p->running = 0;
    if (got == p->pid && WIFEXITED(status)) p->exit_code = WEXITSTATUS(status);
    if (got == p->pid && WIFSIGNALED(status)) p->killed_by = WTERMSIG(status);
    tc__proc_read(p);
    tc__close(p->capture);
    tc__close(p->watch);
    p->capture = p->watch = -1;
}

// Sleeps until some process wrote or ended; without a watch descriptor a short while.
static void tc__procs_poll(tc__proc *p, int count, int wait_ms) {
    struct pollfd fds[2 * TC__PROC_MAX];
    nfds_t n = 0;
    int i;
    for (i = 0; i < count; i++) {
        if (!p[i].running) continue;
        if (p[i].watch < 0) wait_ms = wait_ms < 2 ? wait_ms : 2;
        if (p[i].watch >= 0) fds[n].fd = p[i].watch, fds[n++].events = POLLIN;
        if (p[i].capture >= 0) fds[n].fd = p[i].capture, fds[n++].events = POLLIN;
    }
    (void)poll(fds, n, wait_ms);
}

// Waits for all of them, at most limit_ms and until *cancel; then kills their process groups.
static void tc__procs_wait(tc__proc *p, int count, int limit_ms,
                           const volatile uint32_t *cancel) {
    enum { GLANCE_MS = 20 }; // between two looks at *cancel
    uint64_t now = tc__now_ns(), end = now + (uint64_t)limit_ms * 1000000u;
    int i, left_ms, running = 1;
    while (running) {
        running = 0;
        for (i = 0; i < count; i++) {
            if (p[i].running) tc__proc_read(&p[i]);
            if (p[i].running) tc__proc_reap(&p[i]);
            running += p[i].running;
        }
        now = tc__now_ns();
        if (cancel && tc__atomic_load32(cancel)) end = now;
        for (i = 0; i < count && now >= end; i++) {
            if (!p[i].running || p[i].timed_out) continue;
            p[i].timed_out = 1;
            (void)kill(-p[i].pid, SIGKILL);
        }
        left_ms = now >= end ? 10 : (int)((end - now) / 1000000u) + 1;
        if (cancel && left_ms > GLANCE_MS) left_ms = GLANCE_MS;
        if (running) tc__procs_poll(p, count, left_ms);
    }
}

#endif // TC__JIT
