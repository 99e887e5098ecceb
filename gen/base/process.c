// The operating system, continued: loads code, starts programs, waits for them and ends them. What is
// loaded is the bytes that are given, never a file found by its name; what is started inherits
// nothing, is bounded in time and memory, and is found again even where it has left its process group.

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

// Bits of a number as the spelling of a path: "./" for each 1 and "/" for each 0.
static char *tc__put_spelling(char *o, uint64_t bits) {
    for (; bits; bits >>= 1) {
        if (bits & 1u) *o++ = '.';
        *o++ = '/';
    }
    *o++ = '/', *o = 0;
    return o;
}

enum { TC__SPELLING = 384 };

// glibc knows a library by the spelling of its path before it looks at the file, and would
// hand out the old library for a descriptor number used again. So the path spells a counter
// and its address: the same file, never the text of another one that is loaded. Whether that is
// so is asked as well, for there may be several of us in a process.
static void tc__unique_path(char out[TC__SPELLING], uint64_t *serial, int fd) {
    void *known;
    do {
        char *o = out + sprintf(out, "/proc/self/fd/");
        o = tc__put_spelling(o, (uint64_t)(uintptr_t)serial);
        o = tc__put_spelling(o, ++*serial);
        (void)sprintf(o, "%d", fd);
        known = dlopen(out, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
        if (known) (void)dlclose(known);
    } while (known);
}

// What is loaded is the open file, not one of its name.
static void *tc__dl_load_open(uint64_t *serial, int fd) {
    char path[TC__SPELLING];
    tc__unique_path(path, serial, fd);
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

// Without memfd: a private file that is gone again when this returns. Without /proc it has to be
// loaded by its name, where nobody else can rename it.
static void *tc__dl_load_file(uint64_t *serial, const uint8_t *at, size_t size) {
    const char *root;
    char path[PATH_MAX], name[64];
    void *handle = NULL;
    int parent = tc__temporary_open(&root), fd;
    do { // a process of that number that was killed may have left one: the next name
        (void)snprintf(name, sizeof name, ".tcompile.%ld.%llx.%llx.so", (long)getpid(),
                       (unsigned long long)(uintptr_t)serial,
                       (unsigned long long)++*serial);
        fd = parent < 0 ? -1
                        : openat(parent, name,
                                 O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    } while (fd < 0 && parent >= 0 && errno == EEXIST);
    if (fd >= 0 && tc__write_all(fd, at, size)) {
        int n = snprintf(path, sizeof path, "%s/%s", root, name);
        handle = tc__dl_load_open(serial, fd);
        if (!handle && access("/proc/self/fd", X_OK) && n > 0 && (size_t)n < sizeof path)
            handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    if (fd >= 0) (void)unlinkat(parent, name, 0);
    tc__close(fd);
    tc__close(parent);
    return handle;
}

// Loads exactly these bytes as a shared library. `serial` counts the caller's loads. NULL:
// dlerror() tells why.
static void *tc__dl_load(const char *label, uint64_t *serial, const uint8_t *at,
                         size_t size) {
    tc__calm calm = tc__calm_begin();
    void *handle = NULL;
    int fd = tc__memory_file(label, at, size);
    if (fd >= 0) handle = tc__dl_load_open(serial, fd);
    tc__close(fd);
    if (!handle) handle = tc__dl_load_file(serial, at, size);
    tc__calm_end(calm);
    return handle;
}

static tc__dl_function tc__dl_symbol(void *handle, const char *name) {
    void *p = dlsym(handle, name);
    tc__dl_function f;
    memcpy(&f, &p, sizeof f); // C has no cast between the two
    return f;
}

// ---- programs

#    define TC__PROC_MAX     16      // processes waited for at once
#    define TC__PROC_TEXT    262144u // bytes of output kept
#    define TC__PROC_MEMORY  (8ull << 30)
#    define TC__PROC_SECONDS 600u

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
    char **argv;      // in: NULL-ended, [0] an absolute path; the caller's
    int in, out;      // in: descriptors for stdin and stdout; 0 = /dev/null, the kept text
    int folder;       // in: descriptor of the directory it starts in; 0 = ours
    size_t memory;    // in: bytes of address space it may have; 0 = TC__PROC_MEMORY
    unsigned seconds; // in: of the CPU that it may take; 0 = TC__PROC_SECONDS
    tc__text text;    // out: the first 256 KB of stdout (if kept) and stderr
    int exit_code;    // out: 0 to 255; -1 killed, or unknown: the host reaps children
    int killed_by;    // out: signal number or 0
    int timed_out;    // out: it was ended, as its time was over,
    int cancelled;    //   or as nobody waits for it any more: it has not failed
    int started, running;
    int capture, watch; // pipe to read; descriptor that tells the exit, or -1
    pid_t pid;
} tc__proc;

// Has a process start in an open directory. Not every libc can: NULL.
typedef int (*tc__spawn_enter)(posix_spawn_file_actions_t *files, int folder);

static tc__spawn_enter tc__spawn_enter_find(void) {
    static const char *const names[] = {"posix_spawn_file_actions_addfchdir",
                                        "posix_spawn_file_actions_addfchdir_np"};
    tc__spawn_enter f = NULL;
    for (size_t i = 0; i < TC__COUNT(names) && !f; i++) {
        void *p = dlsym(RTLD_DEFAULT, names[i]);
        memcpy(&f, &p, sizeof f);
    }
    return f;
}

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
    error = p->folder ? tc__spawn_enter_find()(&files, p->folder) : 0;
    if (!error)
        error = p->in
                    ? posix_spawn_file_actions_adddup2(&files, p->in, 0)
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

// A spawned process cannot be given limits at its birth; it gets them a moment later. That of its
// time ends one that burns on when nobody waits for it any more: the host was killed.
static void tc__proc_limit(const tc__proc *p) {
#    if TC__LINUX
    struct rlimit memory, core, cpu;
    memory.rlim_cur = memory.rlim_max = p->memory ? p->memory : TC__PROC_MEMORY;
    core.rlim_cur = core.rlim_max = 0;
    cpu.rlim_cur = cpu.rlim_max = p->seconds ? p->seconds : TC__PROC_SECONDS;
    (void)prlimit(p->pid, RLIMIT_AS, &memory, NULL);
    (void)prlimit(p->pid, RLIMIT_CORE, &core, NULL);
    (void)prlimit(p->pid, RLIMIT_CPU, &cpu, NULL);
#    else
    (void)p;
#    endif
}

// Starts a program; tc__procs_wait must follow. 0: errno tells why; waiting does nothing.
// p->text is the caller's to free in either case.
static int tc__proc_start(tc_ctx *c, tc__proc *p, char **environment) {
    int ends[2], error;
    tc__text_init(&p->text, c);
    p->exit_code = -1;
    p->killed_by = p->timed_out = p->cancelled = p->started = p->running = 0;
    p->capture = p->watch = -1;
    if (!tc__pipe(ends)) return 0;
    error = tc__proc_spawn(p, ends[1], environment);
    tc__close(ends[1]);
    if (error) return tc__close(ends[0]), errno = error, 0;
    tc__proc_limit(p);
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

// A process that runs too long, and its group. It may have gone to another group itself.
static void tc__proc_kill(const tc__proc *p) {
    (void)kill(-p->pid, SIGKILL);
#    if TC__LINUX && defined(SYS_pidfd_send_signal)
    if (p->watch >= 0) (void)syscall(SYS_pidfd_send_signal, p->watch, SIGKILL, NULL, 0);
#    endif
    if (p->watch < 0) (void)kill(p->pid, SIGKILL);
}

#    if TC__LINUX && defined(SYS_pidfd_open) && defined(SYS_pidfd_send_signal)
typedef struct tc__hunt {
    const char *mark;
    char *text; // room for an environment
    int found;
} tc__hunt;

enum { TC__HUNT_TEXT = 65536, TC__HUNT_ROUNDS = 16 };

// Whether the process of a folder of /proc was started with the mark in its environment.
static int tc__is_marked(const tc__hunt *h, int folder) {
    int fd = openat(folder, "environ", O_RDONLY | O_CLOEXEC);
    size_t size = strlen(h->mark), done = 0;
    ssize_t n = 1;
    while (fd >= 0 && n > 0 && done < TC__HUNT_TEXT) {
        n = read(fd, h->text + done, TC__HUNT_TEXT - done);
        if (n > 0) done += (size_t)n;
    }
    tc__close(fd);
    for (size_t i = 0; i + size < done; i += strnlen(h->text + i, done - i) + 1)
        if (!memcmp(h->text + i, h->mark, size + 1)) return 1;
    return 0;
}

// The descriptor is of the process that was looked at, whatever becomes of its number.
static void tc__hunt_visit(void *arg, int proc, const char *name) {
    tc__hunt *h = (tc__hunt *)arg;
    long pid = name[0] >= '1' && name[0] <= '9' ? strtol(name, NULL, 10) : 0;
    int fd = pid > 0 && pid != (long)getpid() ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
    int folder = fd < 0 ? -1 : openat(proc, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder >= 0 && tc__is_marked(h, folder))
        h->found += !syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0);
    tc__close(folder);
    tc__close(fd);
}

// Ends every process that was started with this word ("NAME=value") in its environment, and all
// that those started: what has left its process group and its session is found so, too.
TC__UNUSED static void tc__kill_marked(tc_ctx *c, const char *mark) {
    int kept = errno, proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    tc__hunt h;
    h.mark = mark, h.found = 1;
    h.text = proc < 0 ? NULL : (char *)tc__alloc(c, TC__HUNT_TEXT);
    for (int i = 0; h.text && h.found && i < TC__HUNT_ROUNDS; i++) {
        h.found = 0;
        (void)tc__dir_each(proc, tc__hunt_visit, &h);
        if (h.found) (void)poll(NULL, 0, 1); // they go, and are looked for again
    }
    tc__free(c, h.text, TC__HUNT_TEXT);
    tc__close(proc);
    errno = kept;
}
#    else
TC__UNUSED static void tc__kill_marked(tc_ctx *c, const char *mark) { (void)c, (void)mark; }
#    endif

// Waits for all of them, at most limit_ms and until *cancel; then kills their process groups.
static void tc__procs_wait(tc__proc *p, int count, int limit_ms,
                           const volatile uint32_t *cancel) {
    enum { GLANCE_MS = 20 }; // between two looks at *cancel
    uint64_t now = tc__now_ns(), end = now + (uint64_t)limit_ms * 1000000u;
    int i, left_ms, running = 1, unwanted = 0;
    while (running) {
        running = 0;
        for (i = 0; i < count; i++) {
            if (p[i].running) tc__proc_read(&p[i]);
            if (p[i].running) tc__proc_reap(&p[i]);
            running += p[i].running;
        }
        now = tc__now_ns();
        if (cancel && tc__atomic_load32(cancel)) end = now, unwanted = 1;
        for (i = 0; i < count && now >= end; i++) {
            if (!p[i].running || p[i].timed_out || p[i].cancelled) continue;
            p[i].timed_out = !unwanted, p[i].cancelled = unwanted;
            tc__proc_kill(&p[i]);
        }
        left_ms = now >= end ? 10 : (int)((end - now) / 1000000u) + 1;
        if (cancel && left_ms > GLANCE_MS) left_ms = GLANCE_MS;
        if (running) tc__procs_poll(p, count, left_ms);
    }
}

#endif // TC__JIT
