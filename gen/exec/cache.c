// The disk cache: bytes under a key of any length. Input: the whole key text; output: bytes
// that were put under just that key, or a miss. Nothing else can happen: an entry that is
// torn, damaged, foreign or made for another CPU is removed and counts as a miss, and
// whatever fails on the way is one log line. One file is one entry, written whole under
// another name and renamed, never changed in place. Its name is the hash of its key, keyed
// with the secret of TC_CACHE_KEY: who has none, or another, never sees it. The key stands in it and is compared, a digest of the data stands in its head, and a second
// one covers head and key: a warm start hashes every byte once, and a kernel's key not
// again. What was checked is what the caller gets: the file is read once, into memory. The
// directory is held by a
// descriptor, belongs to us alone and is never looked up again. There are no locks: the
// worst a race can do is to make two processes compile the same kernel.
//
// Ten kernels are there in less than 1 ms (`bench cold`), of which BLAKE2s is a tenth.
// Kernels of one unit are small entries that lead to one object, which is linked without
// what a loader does not read: 1.5 KB around the code, not 13.

#define TC__CACHE_ENTRY_MAX ((size_t)256 << 20)  // bytes of one entry
#define TC__CACHE_BYTES     ((uint64_t)1 << 30)  // default limit of all entries
#define TC__CACHE_ENTRIES   10000u               // default limit of their number
#define TC__CACHE_TOUCH_S   3600                 // how exact "least recently used" is
#define TC__CACHE_SCAN      256u                 // puts between two looks at the directory
#define TC__CACHE_FULL_NS   UINT64_C(1000000000) // before the first new try on a full disk

typedef struct tc__cache_stats {
    uint64_t hits, misses; // every get is one of them
    uint64_t refused;      // entries found unfit; their gets are misses too
    uint64_t stored, unstored;
    uint64_t evicted;
} tc__cache_stats;

typedef struct tc__cache {
    tc_ctx *ctx;
    int dir;              // -1 = nothing on disk
    int read_only;        // set by the first failure that will come again
    uint64_t full_until;  // ns: no space; another try then. 0 = there is
    uint64_t full_pause;  // ns, doubled each time
    uint64_t limit_bytes; // may be changed after open
    uint64_t limit_entries;
    uint64_t bytes, entries; // as far as known: exact at the last scan
    uint64_t serial;         // puts so far
    uint8_t secret[32];      // hash of TC_CACHE_KEY. Digests are keyed with it, and a
    size_t secret_size;      //   directory shared with a group is accepted; 0 = none
    int warned;              // 1 = the user was told of trouble
    int unfit; // errno of the last directory that is not used; 0 = others may write there
    tc__cache_stats stats;
} tc__cache;

// A key and its digest, which is taken once.
typedef struct tc__cache_key {
    const void *at; // the caller's
    size_t size;
    uint8_t digest[32];
} tc__cache_key;

TC__UNUSED static tc__cache_key tc__cache_key_of(const void *at, size_t size) {
    tc__cache_key k;
    k.at = at, k.size = size;
    tc__blake2s(k.digest, NULL, 0, at, size);
    return k;
}

#if TC__DISK_CACHE

// What a file begins with; the key and the data follow. Numbers are this machine's own: a
// file of another kind of machine has another `mark`.
typedef struct tc__entry_head {
    char magic[8];
    uint32_t mark; // byte order, pointer size
    uint32_t cpu;  // TC__CPU_ bits that its maker could use
    uint64_t kind;
    uint64_t key_size, data_size;
    uint8_t content[32]; // digest of the bytes that were put
    uint8_t digest[32];  // over this head, with zeros here, and the digest of the key
} tc__entry_head;

enum {
    TC__ENTRY_DATA = 1, // the bytes that were put follow
    TC__ENTRY_ALIAS = 2 // they stand in the object entry of their digest
};

#    define TC__ENTRY_MAGIC "tcompil2"
#    define TC__ENTRY_MARK  (0x01020300u + (uint32_t)sizeof(void *))
#    define TC__ENTRY_NAME  72 // 64 hex digits, ".tcb", NUL

static void tc__entry_name(const tc__cache *h, char *out, const tc__cache_key *key) {
    uint8_t name[32];
    memcpy(name, key->digest, sizeof name);
    if (h->secret_size)
        tc__blake2s(name, h->secret, h->secret_size, key->digest, sizeof key->digest);
    tc__hex(out, name, 32);
    memcpy(out + 64, ".tcb", 5);
}

static void tc__entry_digest(const tc__cache *h, uint8_t out[32],
                             const tc__entry_head *entry, const tc__cache_key *key) {
    tc__blake2s_state s;
    tc__entry_head head = *entry;
    memset(head.digest, 0, sizeof head.digest);
    tc__blake2s_init(&s, h->secret, h->secret_size);
    tc__blake2s_update(&s, &head, sizeof head);
    tc__blake2s_update(&s, key->digest, sizeof key->digest);
    tc__blake2s_final(&s, out);
}

// What is wrong with the bytes that an entry holds or leads to; NULL = nothing.
static const char *tc__entry_data_wrong(const tc__entry_head *head, const uint8_t *data) {
    uint8_t digest[32];
    if (head->kind == TC__ENTRY_ALIAS) return head->data_size ? "malformed" : NULL;
    if (head->kind != TC__ENTRY_DATA) return "of an unknown kind";
    tc__blake2s(digest, NULL, 0, data, (size_t)head->data_size);
    return memcmp(digest, head->content, sizeof digest) ? "damaged" : NULL;
}

// NULL if the bytes of a file are a whole entry for this key, else what is wrong.
static const char *tc__entry_wrong(const tc__cache *h, const tc__blob *file,
                                   const tc__cache_key *key) {
    tc__entry_head head;
    uint8_t digest[32];
    size_t rest = file->size - sizeof head;
    if (file->size < sizeof head) return "too short";
    memcpy(&head, file->at, sizeof head);
    if (memcmp(head.magic, TC__ENTRY_MAGIC, sizeof head.magic)) return "not an entry";
    if (head.mark != TC__ENTRY_MARK) return "of another kind of machine";
    if (head.key_size > rest || head.data_size != rest - head.key_size) return "cut short";
    if (head.cpu & ~(uint32_t)tc__cpu_of(h->ctx)) return "for a CPU with other features";
    if (head.key_size != key->size || memcmp(file->at + sizeof head, key->at, key->size)) {
        return "of another key";
    }
    tc__entry_digest(h, digest, &head, key);
    if (memcmp(digest, head.digest, sizeof digest)) return "damaged";
    return tc__entry_data_wrong(&head, file->at + sizeof head + key->size);
}

// Something is wrong with the disk, which costs time and nothing else: the first time is a
// warning, what follows goes to the channel.
TC__PRINTF(2, 3) static void tc__cache_trouble(tc__cache *h, const char *fmt, ...) {
    char text[TC__LOG_LINE];
    va_list args;
    va_start(args, fmt);
    tc__format_line(text, sizeof text, fmt, args);
    va_end(args);
    if (h->warned++)
        tc__log(h->ctx, TC__LOG_CACHE, "%s", text);
    else
        tc__warn(h->ctx, "disk cache: %s (said once; TC_LOGS=cache says all)", text);
}

// ---- the directory

static int tc__cache_accepts(tc__cache *h, int fd, const char *path) {
    int group = h->secret_size ? TC__GROUP_MAY_WRITE : TC__MINE_ONLY;
    h->unfit = fd < 0 ? errno : 0;
    if (fd < 0) {
        tc__log(h->ctx, TC__LOG_CACHE, "%s: %s; not used", path, strerror(errno));
        return 0;
    }
    if (tc__is_mine(fd, group)) return 1;
    tc__log(h->ctx, TC__LOG_CACHE, "%s: others may write there; not used", path);
    return 0;
}

// The directory of entries below a root; -1 if the root is not fit. Takes over `root`.
static int tc__cache_enter(tc__cache *h, int root, const char *path) {
    int dir = -1;
    if (tc__cache_accepts(h, root, path)) {
        dir = tc__dir_open_at(root, "v1");
        if (!tc__cache_accepts(h, dir, path)) tc__close(dir), dir = -1;
    }
    tc__close(root);
    return dir;
}

static int tc__cache_try(tc__cache *h, const char *base, const char *below) {
    tc__text path;
    int dir = -1;
    tc__text_init(&path, h->ctx);
    if (base) tc__put(&path, "%s%s", base, below);
    if (path.failed) h->unfit = ENOMEM;
    if (base && !path.failed) dir = tc__cache_enter(h, tc__dir_open(path.at), path.at);
    tc__text_free(&path);
    return dir;
}

// The last resort, a directory with our number in a place that others use too.
static int tc__cache_try_temporary(tc__cache *h) {
    const char *base;
    char name[40];
    int parent = tc__temporary_open(&base), dir = -1;
    if (parent < 0) {
        tc__log(h->ctx, TC__LOG_CACHE, "%s: %s; not used", base,
                errno == EPERM ? "others may rename there" : strerror(errno));
        return -1;
    }
    (void)snprintf(name, sizeof name, "tcompile-%lu", (unsigned long)geteuid());
    // ENOENT: while it was empty, a process that was done with its work folder there has removed it.
    for (int turn = 0; turn < 2048 && dir < 0; turn++) {
        errno = 0;
        dir = tc__cache_enter(h, tc__dir_open_at(parent, name), base);
        if (errno != ENOENT) break;
    }
    tc__close(parent);
    return dir;
}

// A directory that was asked for is taken or there is none; the usual ones are tried in
// turn.
static int tc__cache_root(tc__cache *h, const char *asked) {
    const char *home = tc__env("HOME");
    int dir;
    if (tc__is_privileged()) return -1;
    if (!asked) asked = tc__env("TC_CACHE_DIR");
    if (asked) return tc__cache_try(h, asked, "");
    dir = tc__cache_try(h, tc__env("XDG_CACHE_HOME"), "/tcompile");
    // A home that is not there is meant: it is nobody's, and not ours to make.
    if (dir < 0 && home && !access(home, F_OK))
        dir = tc__cache_try(h, home, "/.cache/tcompile");
    return dir < 0 ? tc__cache_try_temporary(h) : dir;
}

// ---- eviction

typedef struct tc__cache_file {
    char name[TC__ENTRY_NAME];
    uint64_t size;
    int64_t used; // seconds
} tc__cache_file;

typedef struct tc__cache_scan {
    tc__cache *cache;
    TC__VEC(tc__cache_file) files;
    int64_t now;
} tc__cache_scan;

// Notes an entry; removes a temporary file whose writer must have died.
static void tc__cache_visit(void *arg, int dir, const char *name) {
    tc__cache_scan *scan = (tc__cache_scan *)arg;
    tc__cache_file f;
    struct stat s;
    size_t n = strlen(name);
    if (n < 4 || fstatat(dir, name, &s, AT_SYMLINK_NOFOLLOW)) return;
    if (name[0] == '.' && !strcmp(name + n - 4, ".tmp")) {
        if (scan->now - (int64_t)s.st_mtime > 3600) (void)unlinkat(dir, name, 0);
        return;
    }
    if (n >= sizeof f.name || strcmp(name + n - 4, ".tcb")) return;
    memcpy(f.name, name, n + 1);
    f.size = (uint64_t)s.st_size;
    f.used = (int64_t)s.st_mtime;
    (void)TC__PUSH(scan->cache->ctx, scan->files, f);
}

static int tc__cache_older(const void *a, const void *b) {
    int64_t x = ((const tc__cache_file *)a)->used, y = ((const tc__cache_file *)b)->used;
    return x < y ? -1 : x > y;
}

// Counts what is there. Over a limit, the entries used longest ago go until 1/8 is free.
static void tc__cache_trim(tc__cache *h) {
    tc__cache_scan scan;
    size_t i;
    memset(&scan, 0, sizeof scan);
    scan.cache = h;
    scan.now = (int64_t)time(NULL);
    (void)tc__dir_each(h->dir, tc__cache_visit, &scan);
    h->entries = scan.files.count;
    for (h->bytes = 0, i = 0; i < scan.files.count; i++) h->bytes += scan.files.at[i].size;
    if (h->bytes > h->limit_bytes || h->entries > h->limit_entries) {
        qsort(scan.files.at, scan.files.count, sizeof *scan.files.at, tc__cache_older);
        for (i = 0; i < scan.files.count; i++) {
            if (h->bytes <= h->limit_bytes / 8 * 7 &&
                h->entries <= h->limit_entries / 8 * 7)
                break;
            (void)unlinkat(h->dir, scan.files.at[i].name, 0);
            h->bytes -= scan.files.at[i].size;
            h->entries--;
            h->stats.evicted++;
        }
        tc__log(h->ctx, TC__LOG_CACHE, "evicted %u old entries", (unsigned)i);
    }
    TC__VEC_FREE(h->ctx, scan.files);
}

// ---- entries

static int tc__cache_refuse(tc__cache *h, const char *name, const char *why) {
    h->stats.refused++;
    tc__cache_trouble(h, "entry %.12s is %s; removed", name, why);
    (void)unlinkat(h->dir, name, 0);
    return 0;
}

// The mtime of an entry is its last use, about.
static void tc__cache_touch(int fd, const struct stat *s) {
    if ((int64_t)time(NULL) - (int64_t)s->st_mtime > TC__CACHE_TOUCH_S)
        (void)futimens(fd, NULL);
}

// Of an entry that may be good: memory is out, a server is away.
static const char tc__unread[] = "cannot be read now";

// What is wrong with an open entry; NULL = nothing, *file has its bytes.
static const char *tc__cache_examine(tc__cache *h, int fd, const tc__cache_key *key,
                                     tc__blob *file) {
    struct stat s;
    const char *wrong;
    if (fstat(fd, &s) || !S_ISREG(s.st_mode)) return "not a plain file";
    if (s.st_nlink != 1) return "linked elsewhere";
    if (!tc__is_mine(fd, h->secret_size != 0)) return "not ours alone";
    if ((uintmax_t)s.st_size > TC__CACHE_ENTRY_MAX) return "too large";
    if (!tc__file_read_fd(h->ctx, fd, TC__CACHE_ENTRY_MAX, file)) return tc__unread;
    wrong = tc__entry_wrong(h, file, key);
    if (wrong) tc__blob_free(h->ctx, file);
    if (!wrong) tc__cache_touch(fd, &s);
    return wrong;
}

// A checked entry as bytes of its file; 0 = miss.
static int tc__cache_read(tc__cache *h, const tc__cache_key *key, tc__blob *file) {
    char name[TC__ENTRY_NAME];
    const char *wrong;
    int fd;
    memset(file, 0, sizeof *file);
    if (h->dir < 0) return 0;
    tc__entry_name(h, name, key);
    fd = tc__file_open(h->dir, name);
    if (fd < 0 && errno == ENOENT) return 0;
    if (fd < 0 && errno == ELOOP) return tc__cache_refuse(h, name, "a symlink");
    if (fd < 0) { // too many open files, a server that is away: the entry may be good
        tc__cache_trouble(h, "entry %.12s: %s", name, strerror(errno));
        return 0;
    }
    wrong = tc__cache_examine(h, fd, key, file);
    tc__close(fd);
    if (wrong != tc__unread) return wrong ? tc__cache_refuse(h, name, wrong) : 1;
    tc__cache_trouble(h, "entry %.12s %s", name, wrong);
    return 0;
}

static void tc__object_key(char out[72], const uint8_t digest[32]) {
    memcpy(out, "object ", 7);
    tc__hex(out + 7, digest, 32);
}

// First half of a get: the digest of the bytes under a key, and, where they are in this
// very entry, the bytes. out->at is NULL where tc__cache_object is still to be asked;
// whoever has bytes of that digest in use already can spare that.
static int tc__cache_find(tc__cache *h, const tc__cache_key *key, uint8_t digest[32],
                          tc__blob *out) {
    tc__entry_head head;
    tc__blob file;
    int ok = 1;
    memset(out, 0, sizeof *out);
    if (!tc__cache_read(h, key, &file)) return 0;
    memcpy(&head, file.at, sizeof head);
    memcpy(digest, head.content, sizeof head.content);
    if (head.kind == TC__ENTRY_DATA) {
        ok = tc__blob_init(h->ctx, out, (size_t)head.data_size);
        if (ok) memcpy(out->at, file.at + sizeof head + key->size, out->size);
    }
    tc__blob_free(h->ctx, &file);
    return ok;
}

// The bytes with this digest. An entry with others under that key is somebody's doing.
static int tc__cache_object(tc__cache *h, const uint8_t digest[32], tc__blob *out) {
    char text[72], name[TC__ENTRY_NAME];
    uint8_t found[32];
    tc__cache_key key;
    tc__object_key(text, digest);
    key = tc__cache_key_of(text, 71);
    if (!tc__cache_find(h, &key, found, out)) return 0;
    if (out->at && !memcmp(found, digest, sizeof found)) return 1;
    tc__blob_free(h->ctx, out);
    tc__entry_name(h, name, &key);
    return tc__cache_refuse(h, name, "not what its name says");
}

static int tc__cache_count(tc__cache *h, int hit) {
    if (hit) h->stats.hits++;
    if (!hit) h->stats.misses++;
    return hit;
}

// A failure that will come again (a read-only disk) ends the writing; a full disk is let alone for
// a while, which doubles.
static int tc__cache_unstored(tc__cache *h) {
    int error = errno, full = error == ENOSPC || error == EDQUOT;
    int lasting = error == EROFS || error == EACCES || error == EPERM || error == ENOENT;
    h->stats.unstored++;
    h->read_only |= lasting;
    if (full) h->full_pause = h->full_pause ? 2 * h->full_pause : TC__CACHE_FULL_NS;
    if (full) h->full_until = tc__now_ns() + h->full_pause;
    tc__cache_trouble(h, "an entry was not stored: %s%s", strerror(error),
                      lasting ? "; no more are tried"
                      : full  ? "; tried again later"
                              : "");
    return 0;
}

// data NULL = an alias: the bytes are in the object entry of that digest.
static int tc__cache_write(tc__cache *h, const uint8_t content[32],
                           const tc__cache_key *key, const void *data, size_t size) {
    char name[TC__ENTRY_NAME];
    tc__entry_head head;
    tc__blob file;
    int ok;
    if (h->dir < 0 || h->read_only) return 0;
    if (h->full_until && tc__now_ns() < h->full_until) return h->stats.unstored++, 0;
    memset(&head, 0, sizeof head);
    if (key->size > TC__CACHE_ENTRY_MAX / 2 || size > TC__CACHE_ENTRY_MAX / 2) return 0;
    if (!tc__blob_init(h->ctx, &file, sizeof head + key->size + size)) return 0;
    memcpy(head.magic, TC__ENTRY_MAGIC, sizeof head.magic);
    head.mark = TC__ENTRY_MARK;
    head.cpu = (uint32_t)tc__cpu_of(h->ctx);
    head.kind = data ? TC__ENTRY_DATA : TC__ENTRY_ALIAS;
    memcpy(head.content, content, sizeof head.content);
    head.key_size = key->size;
    head.data_size = size;
    tc__entry_digest(h, head.digest, &head, key);
    memcpy(file.at, &head, sizeof head);
    memcpy(file.at + sizeof head, key->at, key->size);
    if (data) memcpy(file.at + sizeof head + key->size, data, size);
    tc__entry_name(h, name, key);
    ok = tc__file_replace(h->dir, name, file.at, file.size, h->serial++);
    if (!ok) (void)tc__cache_unstored(h);
    if (ok) h->stats.stored++, h->entries++, h->bytes += file.size;
    if (ok) h->full_until = h->full_pause = 0;
    tc__blob_free(h->ctx, &file);
    if (h->serial % TC__CACHE_SCAN == 1 || h->bytes > h->limit_bytes ||
        h->entries > h->limit_entries) {
        tc__cache_trim(h);
    }
    return ok;
}

// ---- what others call

// The bytes put under this key, for the caller to free; 0 = miss.
TC__UNUSED static int tc__cache_get(tc__cache *h, const void *key, size_t key_size,
                                    tc__blob *out) {
    tc__cache_key k = tc__cache_key_of(key, key_size);
    uint8_t digest[32];
    int hit = tc__cache_find(h, &k, digest, out);
    if (hit && !out->at) hit = tc__cache_object(h, digest, out);
    return tc__cache_count(h, hit);
}

// 1 if it is stored now. 0 is no error: the next process does the work again.
TC__UNUSED static int tc__cache_put(tc__cache *h, const void *key, size_t key_size,
                                    const void *data, size_t size) {
    tc__cache_key k = tc__cache_key_of(key, key_size);
    uint8_t digest[32];
    tc__blake2s(digest, NULL, 0, data, size);
    return tc__cache_write(h, digest, &k, size ? data : "", size);
}

// The same bytes, whose digest is known, under several keys, stored once: an object named
// by its digest, and small entries that lead to it.
TC__UNUSED static int tc__cache_put_all(tc__cache *h, const tc__cache_key *keys, int count,
                                        const uint8_t digest[32], const void *data,
                                        size_t size) {
    char text[72];
    tc__cache_key object;
    int i, ok;
    if (count == 1) return tc__cache_write(h, digest, &keys[0], data, size);
    tc__object_key(text, digest);
    object = tc__cache_key_of(text, 71);
    ok = tc__cache_write(h, digest, &object, data, size);
    for (i = 0; i < count && ok; i++) ok = tc__cache_write(h, digest, &keys[i], NULL, 0);
    return ok;
}

// The directory of the entries, opened once more; -1 = there is none. h may be NULL.
TC__UNUSED static int tc__cache_folder(const tc__cache *h) {
    return h && h->dir >= 0 ? fcntl(h->dir, F_DUPFD_CLOEXEC, 3) : -1;
}

TC__UNUSED static void tc__cache_close(tc__cache *h) {
    if (!h) return;
    tc__close(h->dir);
    tc__free(h->ctx, h, sizeof *h);
}

static void tc__cache_unfit(tc__cache *h, const char *asked) {
    static const char cost[] = "every process compiles its kernels";
    if (asked && !tc__is_privileged())
        tc__cache_trouble(h, "%.200s, which was asked for, is not fit: %s; %s", asked,
                          h->unfit ? strerror(h->unfit) : "others may write there", cost);
    else
        tc__cache_trouble(h, "no directory is fit; %s", cost);
}

// dir NULL = TC_CACHE_DIR or the usual places. Always gives a cache; with nowhere to put
// entries it misses. NULL = no memory, reported.
TC__UNUSED static tc__cache *tc__cache_open(tc_ctx *c, const char *dir) {
    tc__cache *h = TC__NEW(c, tc__cache);
    const char *secret = tc__env("TC_CACHE_KEY");
    if (!h) return NULL;
    h->ctx = c;
    h->limit_bytes = TC__CACHE_BYTES;
    h->limit_entries = TC__CACHE_ENTRIES;
    if (secret) {
        h->secret_size = sizeof h->secret;
        tc__blake2s(h->secret, NULL, 0, secret, strlen(secret));
    }
    h->dir = tc__cache_root(h, dir);
    if (h->dir < 0) tc__cache_unfit(h, dir ? dir : tc__env("TC_CACHE_DIR"));
    return h;
}

#else // no disk cache: the same interface, always a miss

TC__UNUSED static int tc__cache_object(tc__cache *h, const uint8_t digest[32],
                                       tc__blob *out) {
    (void)h, (void)digest;
    memset(out, 0, sizeof *out);
    return 0;
}

TC__UNUSED static int tc__cache_find(tc__cache *h, const tc__cache_key *key,
                                     uint8_t digest[32], tc__blob *out) {
    (void)key;
    return tc__cache_object(h, digest, out);
}

TC__UNUSED static int tc__cache_count(tc__cache *h, int hit) {
    h->stats.misses++;
    return hit;
}

TC__UNUSED static int tc__cache_get(tc__cache *h, const void *key, size_t key_size,
                                    tc__blob *out) {
    (void)key, (void)key_size;
    return tc__cache_count(h, tc__cache_object(h, NULL, out));
}

TC__UNUSED static int tc__cache_put(tc__cache *h, const void *key, size_t key_size,
                                    const void *data, size_t size) {
    (void)h, (void)key, (void)key_size, (void)data, (void)size;
    return 0;
}

TC__UNUSED static int tc__cache_put_all(tc__cache *h, const tc__cache_key *keys, int count,
                                        const uint8_t digest[32], const void *data,
                                        size_t size) {
    (void)h, (void)keys, (void)count, (void)digest, (void)data, (void)size;
    return 0;
}

TC__UNUSED static int tc__cache_folder(const tc__cache *h) {
    (void)h;
    return -1;
}

TC__UNUSED static void tc__cache_close(tc__cache *h) {
    if (h) tc__free(h->ctx, h, sizeof *h);
}

TC__UNUSED static tc__cache *tc__cache_open(tc_ctx *c, const char *dir) {
    tc__cache *h = TC__NEW(c, tc__cache);
    (void)dir;
    if (!h) return NULL;
    h->ctx = c;
    h->dir = -1;
    return h;
}

#endif // TC__DISK_CACHE
