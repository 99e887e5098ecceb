// The operating system: clock, environment, CPU, floating-point control, files; processes and
// loading of code are base/process.c. Results are 1 or 0 (or a descriptor or -1) with errno left for the log;
// nothing here reports an error but lack of memory. After the prelude these are the only parts
// that know which system they run on. Rules kept everywhere: no shell, no fork(), every
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
#ifdef TC_NO_REPORT
#    define TC__TUNES 0
#else
#    define TC__TUNES 1
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

// ---- the stack

// About where the stack is now; also with ASan, whose locals may lie elsewhere. 0 = not known.
#if TC__GNUC
#    define TC__STACK_HERE() ((uintptr_t)__builtin_frame_address(0))
#else
#    define TC__STACK_HERE() ((uintptr_t)0)
#endif

// Sets the bounds of the calling thread's stack; 0 = not known, or `here` is on another one, as a coroutine's.
static int tc__stack_bounds(uintptr_t here, uintptr_t *low, uintptr_t *high) {
#if TC__LINUX && TC__THREADS
    pthread_attr_t attr;
    void *at = NULL;
    size_t bytes = 0;
    if (pthread_getattr_np(pthread_self(), &attr)) return 0;
    if (pthread_attr_getstack(&attr, &at, &bytes)) bytes = 0;
    (void)pthread_attr_destroy(&attr);
    *low = (uintptr_t)at, *high = *low + bytes;
#    ifndef __GLIBC__ // musl tells how far that of the first thread has grown
    struct rlimit r;
    if (getpid() == (pid_t)syscall(SYS_gettid)) {
        if (getrlimit(RLIMIT_STACK, &r) || r.rlim_cur >= *high) return 0;
        *low = *high - (uintptr_t)r.rlim_cur;
    }
#    endif
    return *low < here && here < *high;
#else
    (void)here, (void)low, (void)high;
    return 0;
#endif
}

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
TC__UNUSED static void tc__copy_streamed(void *to, const void *from, size_t bytes) {
    long long *d = (long long *)to;
    const long long *s = (const long long *)from;
    for (size_t i = 0; i < bytes / 8; i++) __builtin_ia32_movnti64(d + i, s[i]);
    __builtin_ia32_sfence();
}
#    else
TC__UNUSED static void tc__copy_streamed(void *to, const void *from, size_t bytes) {
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

// Lowers *bytes to the number in a file, if there is one: what holds a container's processes.
TC__UNUSED static void tc__limit_in_file(const char *path, uint64_t *bytes) {
    char text[32];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0) close(fd);
    if (n <= 0 || text[0] < '0' || text[0] > '9') return;
    text[n] = 0;
    uint64_t limit = strtoull(text, NULL, 10);
    if (limit && limit < *bytes) *bytes = limit;
}

// Bytes of memory that this process may have at most; 0 = unknown. The system gives out more, and ends processes when
// it is written.
TC__UNUSED static size_t tc__machine_memory(void) {
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    if (pages <= 0 || size <= 0) return 0;
    uint64_t bytes = (uint64_t)pages * (uint64_t)size;
#    if TC__LINUX
    tc__limit_in_file("/sys/fs/cgroup/memory.max", &bytes);
    tc__limit_in_file("/sys/fs/cgroup/memory/memory.limit_in_bytes", &bytes);
#    endif
    return bytes > SIZE_MAX ? SIZE_MAX : (size_t)bytes;
}
#endif

// A number of the calling thread; 0 where there are no threads to tell apart. On Linux it is the system's, which
// tells whether a thread lives. That takes 100 ns to ask, so a thread remembers it.
#if TC__THREADS && TC__LINUX
// A shared library would call a function to find it, 4 ns of an op's 7; in glibc a library that is opened late finds
// room for a few bytes beside those of the program.
#    if defined(__GLIBC__) && defined(__PIC__) && !defined(__PIE__)
__attribute__((tls_model("initial-exec")))
#    endif
static __thread uint64_t tc__thread_number; // 0 = not asked yet

static uint64_t tc__thread_self(void) {
    if (TC__UNLIKELY(!tc__thread_number)) tc__thread_number = (uint64_t)syscall(SYS_gettid);
    return tc__thread_number;
}

// Whether that is the calling thread, whose number tc__thread_self has given before; else it is none's.
TC__INLINE int tc__thread_is(uint64_t number) { return number == tc__thread_number; }

// Whether a thread that the system still has is at its end: it has for a while behind pthread_join.
static int tc__thread_is_exiting(uint64_t number) {
    enum { FIELDS_BEFORE = 6, EXITING = 4 }; // so many between name and flags; the bit
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/self/task/%llu/stat", (unsigned long long)number);
    tc__calm calm = tc__calm_begin();
    FILE *file = fopen(path, "r");
    size_t n = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file) fclose(file);
    tc__calm_end(calm);
    text[n] = 0;
    const char *at = strrchr(text, ')');
    for (int i = 0; at && i <= FIELDS_BEFORE; i++) at = strchr(at + 1, ' ');
    return at && (strtoul(at, NULL, 10) & EXITING);
}

static int tc__thread_lives(uint64_t number) {
    int before = errno;
    int exiting = tc__thread_is_exiting(number);
    int gone = syscall(SYS_tgkill, getpid(), (pid_t)number, 0) && errno == ESRCH;
    errno = before;
    return !exiting && !gone;
}
#else
static uint64_t tc__thread_self(void) {
#    if TC__THREADS
    return (uint64_t)(uintptr_t)pthread_self();
#    else
    return 0;
#    endif
}

TC__INLINE int tc__thread_is(uint64_t number) { return number == tc__thread_self(); }

static int tc__thread_lives(uint64_t number) { return number != 0; }
#endif

// A lock. Who holds one is not cancelled (pthread_cancel): nobody would open it again. Without
// threads there is nobody to keep out.
#if TC__THREADS
typedef struct tc__mutex {
    pthread_mutex_t lock;
    int cancel; // what the thread that holds it had set
} tc__mutex;

TC__UNUSED static void tc__mutex_init(tc__mutex *m) {
    (void)pthread_mutex_init(&m->lock, NULL);
}
TC__UNUSED static void tc__mutex_free(tc__mutex *m) {
    (void)pthread_mutex_destroy(&m->lock);
}

TC__UNUSED static void tc__mutex_lock(tc__mutex *m) {
    int cancel = tc__cancel_off();
    (void)pthread_mutex_lock(&m->lock);
    m->cancel = cancel;
}

TC__UNUSED static void tc__mutex_unlock(tc__mutex *m) {
    int cancel = m->cancel;
    (void)pthread_mutex_unlock(&m->lock);
    tc__cancel_as(cancel);
}
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

// What is over when something else gives back memory, space or descriptors: worth another try.
static const struct {
    int error;
    const char *text; // as programs say it with LC_ALL=C
} tc__passing[] = {{EAGAIN, "Resource temporarily unavailable"},
                   {ENOMEM, "Cannot allocate memory"},
                   {ENOMEM, "virtual memory exhausted"},
                   {ENOMEM, "out of memory"},
                   {ENOSPC, "No space left on device"},
                   {EDQUOT, "Disk quota exceeded"},
                   {EFBIG, "File too large"},           // RLIMIT_FSIZE
                   {EFBIG, "File size limit exceeded"}, // and as drivers tell of SIGXFSZ
                   {EMFILE, "Too many open files"},
                   {ENFILE, "Too many open files in system"}};

TC__UNUSED static int tc__is_passing(int error) {
    for (size_t i = 0; i < TC__COUNT(tc__passing); i++)
        if (error == tc__passing[i].error) return 1;
    return 0;
}

TC__UNUSED static int tc__is_passing_text(const char *text) {
    for (size_t i = 0; i < TC__COUNT(tc__passing); i++)
        if (strstr(text, tc__passing[i].text)) return 1;
    return 0;
}

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

// The directory for temporary files: TMPDIR, else /tmp. -1 where others may rename what is
// there: it is neither ours alone nor sticky (EPERM).
static int tc__temporary_open(const char **path) {
    const char *asked = tc__env("TMPDIR");
    struct stat s;
    int fd;
    *path = asked && asked[0] == '/' ? asked : "/tmp";
    fd = open(*path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return -1;
    if (!fstat(fd, &s) && (s.st_mode & S_ISVTX || tc__is_mine(fd, TC__MINE_ONLY)))
        return fd;
    tc__close(fd);
    return errno = EPERM, -1;
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
    tc__calm calm = tc__calm_begin();
    size_t done = 0;
    while (done < size) {
        ssize_t n = write(fd, at + done, size - done);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        done += (size_t)n;
    }
    tc__calm_end(calm);
    return done == size;
}

// Opens a plain file to read; never waits on a fifo, never follows a link.
static int tc__file_open(int dir, const char *name) {
    return openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
}

// The whole of an open plain file of at most `cap` bytes, which nobody changes meanwhile.
static int tc__file_read_fd(tc_ctx *c, int fd, size_t cap, tc__blob *out) {
    struct stat s, after;
    memset(out, 0, sizeof *out);
    if (fstat(fd, &s)) return 0;
    if (!S_ISREG(s.st_mode) || s.st_size < 0 || (uintmax_t)s.st_size > cap) {
        return errno = EFBIG, 0;
    }
    if (!tc__blob_init(c, out, (size_t)s.st_size)) return 0;
    if (tc__read_all(fd, out->at, out->size) && !fstat(fd, &after) &&
        after.st_size == s.st_size && after.st_mtime == s.st_mtime)
        return 1;
    tc__blob_free(c, out);
    return 0;
}

typedef enum tc__stream { TC__STREAM_READ, TC__STREAM_WRITE } tc__stream;

// A plain file for stdio, to read it or to write it anew; a device may be written. What waits for somebody
// at its other end, as a fifo does, is refused at once: EINVAL.
TC__UNUSED static FILE *tc__file_stream(const char *path, tc__stream way) {
    struct stat s;
    int writes = way == TC__STREAM_WRITE, plain;
    int fd =
        open(path, (writes ? O_WRONLY | O_CREAT : O_RDONLY) | O_CLOEXEC | O_NONBLOCK, 0666);
    FILE *f = NULL;
    if (fd < 0) {
        if (errno == ENXIO) errno = EINVAL; // nobody reads the fifo
        return NULL;
    }
    if (fstat(fd, &s)) s.st_mode = 0;
    plain = S_ISREG(s.st_mode);
    if (!plain && !(writes && (S_ISCHR(s.st_mode) || S_ISBLK(s.st_mode))))
        errno = EINVAL;
    else if (!plain ? !fcntl(fd, F_SETFL, 0) : !writes || !ftruncate(fd, 0))
        f = fdopen(fd, writes ? "wb" : "rb");
    if (!f) tc__close(fd);
    return f;
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

#else
typedef enum tc__stream { TC__STREAM_READ, TC__STREAM_WRITE } tc__stream;

TC__UNUSED static FILE *tc__file_stream(const char *path, tc__stream way) {
    return fopen(path, way == TC__STREAM_WRITE ? "wb" : "rb");
}

#endif // files

// ---- files that take the place of others, and files as memory

#if TC__POSIX
// A new file under the name `temp`, to take the place of `path` when it is whole. NULL: errno, which is EINVAL where
// something else than a plain file is there.
TC__UNUSED static FILE *tc__draft_open(const char *path, const char *temp) {
    struct stat s;
    if (!stat(path, &s) && !S_ISREG(s.st_mode)) return errno = EINVAL, (FILE *)NULL;
    int fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "wb");
    int kept = errno;
    if (fd >= 0 && !f) (void)close(fd), (void)unlink(temp), errno = kept;
    return f;
}

// It is on the disk and in its place in one step, or, where it is not whole, gone. 0: errno.
TC__UNUSED static int tc__draft_close(FILE *f, const char *path, const char *temp,
                                      int whole) {
    int ok = whole && !fflush(f) && !fsync(fileno(f)), kept = errno;
    if (fclose(f) && ok) ok = 0, kept = errno;
    if (ok && rename(temp, path)) ok = 0, kept = errno;
    if (!ok) (void)unlink(temp), errno = kept;
    return ok;
}

TC__UNUSED static uint64_t tc__process_number(void) { return (uint64_t)getpid(); }

// The first `size` bytes of a file as memory, which may be written: the file never has it. NULL = there is no such
// memory.
TC__UNUSED static void *tc__file_map(FILE *f, size_t size) {
    struct stat s;
    int flags = MAP_PRIVATE;
    if (fstat(fileno(f), &s) || (uintmax_t)s.st_size < size) return NULL;
#    ifdef MAP_NORESERVE
    flags |= MAP_NORESERVE;
#    endif
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, fileno(f), 0);
    return p == MAP_FAILED ? NULL : p;
}

static void tc__file_unmap(void *p, size_t size) { (void)munmap(p, size); }
#else
TC__UNUSED static FILE *tc__draft_open(const char *path, const char *temp) {
    (void)path;
    return fopen(temp, "wb");
}

TC__UNUSED static int tc__draft_close(FILE *f, const char *path, const char *temp,
                                      int whole) {
    int ok = !fclose(f) && whole;
    if (ok) (void)remove(path);
    ok = ok && !rename(temp, path);
    if (!ok) (void)remove(temp);
    return ok;
}

TC__UNUSED static uint64_t tc__process_number(void) { return 0; }

TC__UNUSED static void *tc__file_map(FILE *f, size_t size) {
    return (void)f, (void)size, (void *)NULL;
}

static void tc__file_unmap(void *p, size_t size) { (void)p, (void)size; }
#endif
