// What programs of ours are started with: their words, their environment, and a directory to work in.
//
// What is loaded has no name: the compiler starts inside a directory that is held by a
// descriptor, and works with names relative to it; what it wrote is read through that
// descriptor, and loaded from memory. So whoever may rename in TMPDIR exchanges nothing.
// The directory is locked: one without a lock was left by a process that was killed, and
// goes at the next build with every process that has its name in its environment, whatever
// group or session that is in.

#if TC__JIT

// ---- argv arrays

// A NULL-ended argv or environment. The strings belong to the arena.
typedef struct tc__words {
    tc__arena *arena;
    char **at;
    int count, capacity;
    int failed; // out of memory, already reported
} tc__words;

static tc__words tc__words_new(tc__arena *arena) {
    tc__words w = {NULL, NULL, 0, 0, 0};
    w.arena = arena;
    return w;
}

// Appends `a` followed by `b` as one word.
static void tc__words_join(tc__words *w, const char *a, const char *b) {
    size_t na = strlen(a), nb = strlen(b);
    char *text = (char *)tc__arena_alloc(w->arena, na + nb + 1);
    if (w->count + 2 > w->capacity) {
        int capacity = w->capacity ? 2 * w->capacity : 32;
        char **at = TC__ANEW_ARRAY(w->arena, char *, (size_t)capacity);
        if (at && w->count) memcpy(at, w->at, (size_t)w->count * sizeof *at);
        if (at) w->at = at, w->capacity = capacity;
    }
    if (!text || w->count + 2 > w->capacity) {
        w->failed = 1;
        return;
    }
    memcpy(text, a, na);
    memcpy(text + na, b, nb);
    text[na + nb] = 0;
    w->at[w->count++] = text;
    w->at[w->count] = NULL;
}

static void tc__words_add(tc__words *w, const char *word) { tc__words_join(w, word, ""); }

// What a compiler may see of our environment; temporary files go to where it works. `mark` is a
// word by which all that it starts is known.
static void tc__words_environment(tc__words *w, const char *work, const char *mark) {
    static const char *const kept[] = {
        "PATH=", "HOME=", "LD_LIBRARY_PATH=", "SDKROOT=", "CCACHE_", "DEVELOPER_DIR="};
    char **e;
    size_t i;
    tc__words_add(w, "LC_ALL=C");
    tc__words_add(w, "LANG=C");
    tc__words_join(w, "TMPDIR=", work);
    tc__words_add(w, mark);
    for (e = environ; e && *e && !tc__is_privileged(); e++) {
        for (i = 0; i < TC__COUNT(kept); i++) {
            if (!strncmp(*e, kept[i], strlen(kept[i]))) tc__words_add(w, *e);
        }
    }
}

// Splits at blanks. Quotes and backslashes work as in a shell; nothing is expanded.
static void tc__words_split(tc__words *w, const char *s, size_t n) {
    char *word = (char *)tc__arena_alloc(w->arena, n + 1);
    size_t i = 0, size;
    if (!word) w->failed = 1;
    while (word) {
        char quote = 0;
        while (i < n && (s[i] == ' ' || s[i] == '\t')) i++;
        if (i == n) return;
        for (size = 0; i < n && (quote || (s[i] != ' ' && s[i] != '\t')); i++) {
            if (s[i] == quote)
                quote = 0;
            else if (!quote && (s[i] == '"' || s[i] == '\''))
                quote = s[i];
            else if (s[i] == '\\' && quote != '\'' && i + 1 < n)
                word[size++] = s[++i];
            else
                word[size++] = s[i];
        }
        word[size] = 0;
        tc__words_add(w, word);
    }
}

// ---- the work directory

// Where the compiler works: private, with short file names, gone after each build. It is held by
// a descriptor and the compiler starts inside, so no name is looked up that another user could
// have exchanged. It is locked while it is ours: one that is not was left by a process that was
// killed, and goes at the next start with all that was started there and still runs.
typedef struct tc__work {
    int parent, dir;
    char name[64]; // in parent
    char mark[80]; // a word of the environment of what runs there
    char path[48]; // of dir, for what runs there
} tc__work;

#    define TC__WORK_END  ".work"
#    define TC__WORK_MARK "TCOMPILE_WORK="

static void tc__work_visit(void *arg, int dir, const char *name) {
    (void)arg;
    if (unlinkat(dir, name, 0)) (void)unlinkat(dir, name, AT_REMOVEDIR);
}

static void tc__work_mark(char mark[80], const char *name) {
    (void)snprintf(mark, 80, "%s%s", TC__WORK_MARK, name);
}

// Whether an open directory is still the one of that name, which may have been swept.
static int tc__work_is_there(int parent, const char *name, int dir) {
    struct stat a, b;
    return !fstat(dir, &a) && !fstatat(parent, name, &b, AT_SYMLINK_NOFOLLOW) &&
           a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

// Removes a directory whose lock can be had: nobody works there.
static void tc__work_sweep(void *arg, int parent, const char *name) {
    tc_ctx *c = (tc_ctx *)arg;
    size_t n = strlen(name), end = sizeof TC__WORK_END - 1;
    char mark[80];
    int dir;
    if (n < end || n >= 64 || strcmp(name + n - end, TC__WORK_END)) return;
    dir = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (dir >= 0 && tc__is_mine(dir, TC__MINE_ONLY) && !flock(dir, LOCK_EX | LOCK_NB) &&
        tc__work_is_there(parent, name, dir)) {
        tc__work_mark(mark, name);
        tc__kill_marked(c, mark);
        (void)tc__dir_each(dir, tc__work_visit, NULL);
        (void)unlinkat(parent, name, AT_REMOVEDIR);
        tc__log(c, TC__LOG_CACHE, "%s: left by a process that was killed; removed", name);
    }
    tc__close(dir);
}

// Makes, opens and locks a directory of a new name. A file system without locks will do: there
// nothing is swept. 0 = errno tells why; EAGAIN: somebody swept it, another name may work.
static int tc__work_make(tc__work *w, int turn) {
    int low;
    (void)snprintf(w->name, sizeof w->name, "%lx.%x.%llx%s", (long)getpid(), (unsigned)turn,
                   (unsigned long long)(tc__now_ns() ^ (uint64_t)(uintptr_t)w),
                   TC__WORK_END);
    tc__work_mark(w->mark, w->name);
    if (mkdirat(w->parent, w->name, 0700)) return 0;
    low = openat(w->parent, w->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    w->dir =
        low < 0 ? -1 : fcntl(low, F_DUPFD_CLOEXEC, 3); // 0 to 2 may be free: see tc__pipe
    tc__close(low);
    if (w->dir < 0) return (void)unlinkat(w->parent, w->name, AT_REMOVEDIR), 0;
    int taken = flock(w->dir, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK;
    if (!taken && tc__is_mine(w->dir, TC__MINE_ONLY) &&
        tc__work_is_there(w->parent, w->name, w->dir))
        return 1;
    tc__close(w->dir);
    w->dir = -1;
    return errno = EAGAIN, 0;
}

static void tc__work_folder(char name[40]) {
    (void)snprintf(name, 40, "tcompile-%lu", (unsigned long)geteuid());
}

// The directory of work directories: ours, among the temporary files, else in the cache.
static int tc__work_parent(const tc__cache *cache) {
    const char *path;
    char name[40];
    int temporary = tc__temporary_open(&path), error = errno, dir = -1;
    tc__work_folder(name);
    if (temporary >= 0) dir = tc__dir_open_at(temporary, name);
    if (dir < 0 && temporary >= 0) error = errno;
    tc__close(temporary);
    if (dir >= 0 && tc__is_mine(dir, TC__MINE_ONLY)) return dir;
    if (dir >= 0) error = EPERM;
    tc__close(dir);
    dir = tc__cache_folder(cache);
    return dir < 0 ? (errno = error, -1) : dir;
}

enum {
    TC__WORK_SWEEP = 1,  // looks for what killed processes left first
    TC__WORK_BY_PATH = 2 // does as if no process could be started in an open directory
};

// Makes one in a parent of another name, which then takes that of the parent. One that is not empty nobody removes, so others may
// remove that name as often as they like. 0 = errno tells why; EAGAIN: there is a parent with something in it.
static int tc__work_bring(tc__work *w, int turn) {
    const char *path;
    char name[40], own[80];
    int temporary = tc__temporary_open(&path), done, error;
    if (temporary < 0) return errno = EAGAIN, 0; // it was that of the cache
    tc__work_folder(name);
    (void)snprintf(own, sizeof own, "%s.%lx.%llx", name, (long)getpid(),
                   (unsigned long long)(tc__now_ns() ^ (uint64_t)(uintptr_t)w));
    w->parent = tc__dir_open_at(temporary, own);
    done =
        w->parent >= 0 && tc__is_mine(w->parent, TC__MINE_ONLY) && tc__work_make(w, turn);
    if (done && renameat(temporary, own, temporary, name)) {
        error = errno == ENOTEMPTY || errno == EEXIST ? EAGAIN : errno;
        (void)unlinkat(w->parent, w->name, AT_REMOVEDIR);
        tc__close(w->dir), w->dir = -1, done = 0, errno = error;
    }
    error = errno;
    if (!done) {
        (void)unlinkat(temporary, own, AT_REMOVEDIR);
        tc__close(w->parent), w->parent = -1;
    }
    tc__close(temporary);
    return errno = error, done;
}

// 0 = there is no place; errno tells why.
static int tc__work_open(tc__work *w, tc_ctx *c, const tc__cache *cache, int how) {
    enum { TURNS = 256 };
    int inside = !(how & TC__WORK_BY_PATH) && tc__spawn_enter_find();
    memset(w, 0, sizeof *w);
    w->parent = w->dir = -1, errno = EAGAIN;
    for (int turn = 0; turn < TURNS; turn++) {
        // ENOENT: another process, which was done, has just removed the parent.
        w->parent = tc__work_parent(cache);
        if (w->parent >= 0) {
            if (how & TC__WORK_SWEEP) (void)tc__dir_each(w->parent, tc__work_sweep, c);
            if (tc__work_make(w, turn)) break;
            tc__close(w->parent), w->parent = -1;
        }
        if (errno == ENOENT && tc__work_bring(w, turn)) break;
        if (errno != EAGAIN && errno != ENOENT) return 0;
    }
    // Where nothing starts in an open directory, that is reached through our descriptor.
    if (inside) strcpy(w->path, ".");
    if (!inside)
        (void)snprintf(w->path, sizeof w->path, "/proc/%ld/fd/%d", (long)getpid(), w->dir);
    return w->dir >= 0;
}

static void tc__work_close(tc__work *w) {
    const char *path;
    char name[40];
    int temporary;
    if (w->dir < 0) return;
    (void)tc__dir_each(w->dir, tc__work_visit, NULL);
    (void)unlinkat(w->parent, w->name, AT_REMOVEDIR);
    tc__close(w->dir);
    tc__close(w->parent);
    tc__work_folder(name);
    temporary = tc__temporary_open(&path);
    if (temporary >= 0) (void)unlinkat(temporary, name, AT_REMOVEDIR); // if it is empty
    tc__close(temporary);
}

// The descriptor for tc__proc.folder.
static int tc__work_inside(const tc__work *w) { return w->path[0] == '.' ? w->dir : 0; }

#endif // TC__JIT
