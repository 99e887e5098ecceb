// The disk cache: what was put comes back, and nothing else ever does. Processes that race,
// hundreds of damaged entries, directories that must not be trusted, eviction, disk full.
#include "harness.h"

#include "api/config.h"

#include "out/status.inc"

#include "base/prelude.c"

#include "base/error.c"

#include "base/mem.c"

#include "base/text.c"

#include "base/hash.c"

#include "base/cpu.c"
#include "base/os.c"

#include "base/process.c"

#include "exec/cache.c"

struct tc_ctx {
    tc__core core;
};

static int lines;    // of log since open_bed
static int warnings; // among them
static char last[TC__LOG_LINE];

static void count_line(void *user, int level, const char *channel, const char *text) {
    (void)user;
    lines++, warnings += level > 0;
    snprintf(last, sizeof last, "%s", text);
    if (getenv("LOUD")) printf("%s: %s\n", channel, text);
}

typedef struct bed {
    struct tc_ctx context;
    tc_ctx *c;
    char folder[64];
    char root[80];
    tc__cache *cache;
} bed;

static void reopen(bed *b) {
    tc__cache_close(b->cache);
    b->cache = tc__cache_open(b->c, b->root);
}

static void open_bed(bed *b) {
    memset(b, 0, sizeof *b);
    b->c = &b->context;
    b->context.core.log_mask = TC__LOG_ALL;
    b->context.core.logger.log = count_line;
    lines = warnings = 0;
    strcpy(b->folder, "/tmp/tcompile-test-XXXXXX");
    test_folder_make(b->folder);
    snprintf(b->root, sizeof b->root, "%s/cache", b->folder);
    reopen(b);
}

static void close_bed(bed *b) {
    tc__cache_close(b->cache);
    CHECK_EQ(b->context.core.bytes, 0);
    CHECK_EQ(b->context.core.error_item, 0);
    test_folder_remove(b->folder);
}

static int put(bed *b, const char *key, const char *text) {
    return tc__cache_put(b->cache, key, strlen(key), text, strlen(text));
}

// -1 miss, 0 other bytes than expected, 1 hit.
static int get(bed *b, const char *key, const char *text) {
    tc__blob out;
    int same;
    if (!tc__cache_get(b->cache, key, strlen(key), &out)) return CHECK(!out.at) ? -1 : 0;
    same = out.size == strlen(text) && !memcmp(out.at, text, out.size);
    tc__blob_free(b->c, &out);
    return same;
}

static void entry_path(const bed *b, const char *key, char *path, size_t size) {
    char name[TC__ENTRY_NAME];
    tc__cache_key k = tc__cache_key_of(key, strlen(key));
    tc__entry_name(b->cache, name, &k);
    snprintf(path, size, "%s/v1/%s", b->root, name);
}

static int count_files(const bed *b) {
    char path[100];
    DIR *d;
    int n = 0;
    snprintf(path, sizeof path, "%s/v1", b->root);
    d = opendir(path);
    while (d && readdir(d)) n++;
    if (d) closedir(d);
    return n - 2;
}

TEST(hits_and_misses) {
    static char big[300000];
    bed b;
    open_bed(&b);
    memset(big, 'x', sizeof big - 1);
    CHECK_EQ(get(&b, "a", ""), -1);
    CHECK(put(&b, "a", "one") && get(&b, "a", "one") == 1);
    CHECK(put(&b, "a", "two") && get(&b, "a", "two") == 1);
    CHECK(put(&b, "", "no key") && get(&b, "", "no key") == 1);
    CHECK(put(&b, "empty", "") && get(&b, "empty", "") == 1);
    CHECK(put(&b, big, big) && get(&b, big, big) == 1);
    CHECK_EQ(get(&b, "A", ""), -1);
    reopen(&b);
    CHECK(get(&b, "a", "two") == 1 && get(&b, big, big) == 1);
    CHECK_EQ(b.cache->stats.hits, 2);
    CHECK_EQ(b.cache->stats.refused, 0);
    CHECK_EQ(count_files(&b), 4);
    CHECK_EQ(lines, 0);
    close_bed(&b);
}

TEST(one_object_under_many_keys) {
    const tc__cache_key keys[] = {tc__cache_key_of("k0", 2), tc__cache_key_of("k1", 2),
                                  tc__cache_key_of("k2", 2)};
    char path[160];
    uint8_t digest[2][32], object[32];
    tc__blob out;
    bed b;
    open_bed(&b);
    tc__blake2s(object, NULL, 0, "object", 6);
    CHECK(tc__cache_put_all(b.cache, keys, 3, object, "object", 6));
    CHECK_EQ(count_files(&b), 4);
    CHECK(get(&b, "k0", "object") == 1 && get(&b, "k2", "object") == 1);
    CHECK(tc__cache_find(b.cache, &keys[1], digest[0], &out) && !out.at);
    CHECK(tc__cache_put_all(b.cache, keys, 1, object, "object", 6));
    CHECK(tc__cache_find(b.cache, &keys[0], digest[1], &out) && out.size == 6);
    CHECK_BYTES(digest[0], digest[1], 32);
    tc__blob_free(b.c, &out);
    tc__object_key(path, digest[0]);
    {
        char key[72];
        memcpy(key, path, 71);
        key[71] = 0;
        CHECK(
            put(&b, key, "forged")); // a whole entry with other bytes than its digest says
        CHECK_EQ(get(&b, "k1", ""), -1);
        CHECK_EQ(get(&b, key, ""), -1); // and it is gone
    }
    CHECK_EQ(b.cache->stats.refused, 1);
    close_bed(&b);
}

// ---- damage

static uint8_t *slurp(const char *path, size_t *size) {
    static uint8_t bytes[1 << 16];
    FILE *f = fopen(path, "rb");
    *size = f ? fread(bytes, 1, sizeof bytes, f) : 0;
    if (f) fclose(f);
    return bytes;
}

static void spill(const char *path, const uint8_t *bytes, size_t size) {
    FILE *f = fopen(path, "wb");
    if (f) fwrite(bytes, 1, size, f), fclose(f);
}

TEST(damaged_entries) {
    enum { ROUNDS = 500 };
    static uint8_t whole[4096];
    char path[160], text[600];
    size_t size;
    bed b;
    int i;
    open_bed(&b);
    memset(text, 'd', sizeof text - 1);
    text[sizeof text - 1] = 0;
    CHECK(put(&b, "some key", text));
    entry_path(&b, "some key", path, sizeof path);
    memcpy(whole, slurp(path, &size), sizeof whole);
    srand(1);
    for (i = 0; i < ROUNDS; i++) {
        uint8_t bad[4096];
        size_t n = size, at = (size_t)rand() % size;
        memcpy(bad, whole, sizeof bad);
        if (i % 5 < 2) bad[at] = (uint8_t)(bad[at] ^ 1 << rand() % 8); // a bit
        if (i % 5 == 2) n = at;                                        // the end is missing
        if (i % 5 == 3) n = size + 1 + at; // something behind it
        if (i % 5 == 4) memset(bad + at / 2, rand(), 1 + at / 4), bad[at / 2] ^= 1;
        if (!memcmp(bad, whole, n) && n == size) continue;
        spill(path, bad, n);
        if (!CHECK_EQ(get(&b, "some key", ""), -1)) break;
        CHECK(access(path, F_OK)); // removed
    }
    CHECK_EQ(b.cache->stats.refused, i);
    CHECK_EQ(lines, i);
    CHECK_EQ(warnings, 1);
    for (i = 0; i < (int)size; i++) { // every byte counts
        whole[i] ^= 0x40;
        spill(path, whole, size);
        whole[i] ^= 0x40;
        CHECK_EQ(get(&b, "some key", ""), -1);
    }
    spill(path, whole, size);
    chmod(path, 0600);
    CHECK_EQ(get(&b, "some key", text), 1);
    close_bed(&b);
}

TEST(entries_of_others) {
    char a[160], z[160], other[200];
    bed b;
    size_t size;
    uint8_t *bytes;
    open_bed(&b);
    CHECK(put(&b, "a", "data a") && put(&b, "z", "data z"));
    entry_path(&b, "a", a, sizeof a);
    entry_path(&b, "z", z, sizeof z);
    snprintf(other, sizeof other, "%s/other", b.folder);
    CHECK(!rename(a, other) && !symlink(other, a) && get(&b, "a", "") == -1); // a symlink
    CHECK(access(a, F_OK) && !access(other, F_OK));
    CHECK(!link(other, a) && get(&b, "a", "") == -1);  // a hard link
    CHECK(!rename(z, a) && get(&b, "a", "") == -1);    // another key
    CHECK(!mkfifo(a, 0600) && get(&b, "a", "") == -1); // waits for nobody
    CHECK(put(&b, "a", "data a") && !chmod(a, 0622) && get(&b, "a", "") == -1);
    CHECK(!mkdir(a, 0700) && get(&b, "a", "") == -1 && !rmdir(a));
    CHECK(put(&b, "a", "data a"));
    bytes = slurp(a, &size);
    {
        // Made where there was another CPU; the digest is right.
        tc__entry_head head;
        const tc__cache_key key = tc__cache_key_of("a", 1);
        memcpy(&head, bytes, sizeof head);
        head.cpu = 0x80000000u;
        tc__entry_digest(b.cache, head.digest, &head, &key);
        memcpy(bytes, &head, sizeof head);
        spill(a, bytes, size);
        CHECK_EQ(get(&b, "a", ""), -1);
        // Its lengths overflow.
        head.cpu = 0;
        head.key_size = UINT64_MAX - 4;
        head.data_size = 11;
        tc__entry_digest(b.cache, head.digest, &head, &key);
        memcpy(bytes, &head, sizeof head);
        spill(a, bytes, size);
        CHECK_EQ(get(&b, "a", ""), -1);
    }
    if (!geteuid()) {
        CHECK(put(&b, "a", "data a") && !chown(a, 12345, 12345) && get(&b, "a", "") == -1);
    }
    close_bed(&b);
}

TEST(a_secret) {
    bed b;
    open_bed(&b);
    CHECK(put(&b, "a", "plain"));
    setenv("TC_CACHE_KEY", "a secret longer than the thirty-two bytes of a key", 1);
    reopen(&b);
    CHECK_EQ(get(&b, "a", ""), -1);
    CHECK(put(&b, "a", "keyed") && get(&b, "a", "keyed") == 1);
    chmod(b.root, 0770);
    reopen(&b);
    CHECK_EQ(get(&b, "a", "keyed"), 1);
    setenv("TC_CACHE_KEY", "another", 1);
    reopen(&b);
    CHECK_EQ(get(&b, "a", ""), -1);
    chmod(b.root, 0700);
    unsetenv("TC_CACHE_KEY");
    reopen(&b);
    CHECK_EQ(get(&b, "a", "plain"), 1); // neither has seen, nor removed, what is another's
    setenv("TC_CACHE_KEY", "a secret longer than the thirty-two bytes of a key", 1);
    reopen(&b);
    CHECK_EQ(get(&b, "a", "keyed"), 1);
    CHECK_EQ(b.cache->stats.refused, 0);
    CHECK_EQ(count_files(&b), 2);
    unsetenv("TC_CACHE_KEY");
    close_bed(&b);
}

// ---- directories

static int is_used(bed *b) {
    reopen(b);
    return b->cache->dir >= 0;
}

TEST(directories) {
    char path[200];
    bed b;
    open_bed(&b);
    CHECK(is_used(&b));
    chmod(b.root, 0777);
    CHECK(!is_used(&b));
    CHECK(!put(&b, "a", "x") && get(&b, "a", "") == -1);
    chmod(b.root, 0720);
    CHECK(!is_used(&b));
    chmod(b.root, 0700);
    CHECK(is_used(&b));
    snprintf(path, sizeof path, "%s/v1", b.root);
    chmod(path, 0707);
    CHECK(!is_used(&b));
    chmod(path, 0700);
    if (!geteuid()) {
        CHECK(!chown(b.root, 12345, 12345) && !is_used(&b) && !chown(b.root, 0, 0));
    }
    snprintf(path, sizeof path, "%s/link", b.folder);
    CHECK(!symlink(b.root, path));
    snprintf(b.root, sizeof b.root, "%s/link", b.folder);
    CHECK(!is_used(&b));
    strcpy(b.root, "/dev/null");
    CHECK(!is_used(&b));
    strcpy(b.root, "relative");
    CHECK(!is_used(&b) && access("relative", F_OK));
    snprintf(b.root, sizeof b.root, "%s/a/b/c", b.folder);
    CHECK(is_used(&b) && put(&b, "a", "x") && get(&b, "a", "x") == 1);
    close_bed(&b);
}

// Also for root, whom modes do not stop: the entries' directory is taken away.
TEST(lost_directory) {
    bed b;
    open_bed(&b);
    CHECK(put(&b, "a", "x"));
    test_folder_remove(b.root);
    lines = 0;
    CHECK(get(&b, "a", "") == -1 && !put(&b, "b", "x") && !put(&b, "c", "x"));
    CHECK_EQ(lines, 1); // the first failure says it all
    close_bed(&b);
}

TEST(read_only_directory) {
    char path[200];
    bed b;
    open_bed(&b);
    CHECK(put(&b, "a", "x"));
    if (!geteuid()) { // root becomes somebody else for the rest of this process
        snprintf(path, sizeof path, "chown -R 12345 '%s'", b.folder);
        if (system(path) || setgid(12345) || setuid(12345))
            SKIP("cannot become another user");
    }
    snprintf(path, sizeof path, "%s/v1", b.root);
    chmod(path, 0500);
    chmod(b.root, 0500);
    reopen(&b);
    CHECK_EQ(get(&b, "a", "x"), 1);
    lines = 0;
    CHECK(!put(&b, "b", "x") && !put(&b, "c", "x"));
    CHECK_EQ(lines, 1);
    close_bed(&b);
}

TEST(privileged_program) {
    bed b;
    open_bed(&b);
    CHECK(tc__env("PATH") != NULL);
    if (geteuid() || seteuid(12345)) SKIP("only root can show it");
    CHECK(tc__is_privileged() && !tc__env("PATH") && !is_used(&b));
    CHECK(!seteuid(0));
    close_bed(&b);
}

TEST(usual_places) {
    char path[200], home[100], temporary[100];
    bed b;
    struct stat s;
    tc__cache *h;
    open_bed(&b);
    snprintf(home, sizeof home, "%s/home", b.folder);
    snprintf(temporary, sizeof temporary, "%s/tmp", b.folder);
    mkdir(home, 0700);
    mkdir(temporary, 0700);
    unsetenv("TC_CACHE_DIR");
    setenv("XDG_CACHE_HOME", "relative", 1);
    setenv("HOME", home, 1);
    setenv("TMPDIR", temporary, 1);
    h = tc__cache_open(b.c, NULL);
    snprintf(path, sizeof path, "%s/.cache/tcompile/v1", home);
    CHECK(h->dir >= 0 && !stat(path, &s) && (s.st_mode & 0777) == 0700);
    tc__cache_close(h);
    snprintf(path, sizeof path, "%s/nobody", b.folder); // a home is not made
    setenv("HOME", path, 1);
    h = tc__cache_open(b.c, NULL);
    CHECK(h->dir >= 0 && access(path, F_OK));
    tc__cache_close(h);
    setenv("HOME", "/dev/null", 1);
    h = tc__cache_open(b.c, NULL);
    snprintf(path, sizeof path, "%s/tcompile-%lu/v1", temporary, (unsigned long)geteuid());
    CHECK(h->dir >= 0 && !stat(path, &s));
    tc__cache_close(h);
    chmod(temporary, 0777); // not sticky: anybody may put his own in place of ours
    h = tc__cache_open(b.c, NULL);
    CHECK(h->dir < 0);
    tc__cache_close(h);
    chmod(temporary, 01777);
    h = tc__cache_open(b.c, NULL);
    CHECK(h->dir >= 0);
    tc__cache_close(h);
    setenv("TC_CACHE_DIR", b.root, 1);
    h = tc__cache_open(b.c, NULL);
    CHECK(h->dir >= 0 && put(&b, "a", "x"));
    tc__cache_close(b.cache);
    b.cache = h;
    CHECK_EQ(get(&b, "a", "x"), 1);
    close_bed(&b);
}

// ---- eviction, limits

static void age(const bed *b, const char *key, int seconds) {
    char path[160];
    struct timespec t[2];
    entry_path(b, key, path, sizeof path);
    memset(t, 0, sizeof t);
    t[0].tv_sec = t[1].tv_sec = time(NULL) - seconds;
    utimensat(AT_FDCWD, path, t, 0);
}

TEST(eviction) {
    char key[16], path[200];
    bed b;
    int i, kept = 0;
    open_bed(&b);
    for (i = 0; i < 40; i++) {
        snprintf(key, sizeof key, "key %d", i);
        CHECK(put(&b, key, "some data"));
        age(&b, key, 100000 - 1000 * i);
    }
    snprintf(path, sizeof path, "%s/v1/.1.2.3.tmp", b.root);
    spill(path, (const uint8_t *)"x", 1);
    CHECK_EQ(get(&b, "key 0", "some data"), 1); // used just now
    b.cache->limit_entries = 16;
    CHECK(put(&b, "new", "some data"));
    CHECK(b.cache->entries <= 16 && b.cache->stats.evicted >= 25);
    CHECK(get(&b, "key 0", "some data") == 1 && get(&b, "new", "some data") == 1);
    for (i = 0; i < 40; i++) {
        snprintf(key, sizeof key, "key %d", i);
        kept += get(&b, key, "some data") == 1;
    }
    CHECK_EQ(get(&b, "key 39", "some data"), 1);
    CHECK_EQ(get(&b, "key 1", ""), -1);
    CHECK_EQ(kept + 1, b.cache->entries);
    CHECK(!access(path, F_OK)); // a young temporary file may be somebody's work
    b.cache->limit_bytes = 400;
    {
        struct timespec t[2];
        memset(t, 0, sizeof t);
        t[0].tv_sec = t[1].tv_sec = time(NULL) - 4000;
        utimensat(AT_FDCWD, path, t, 0);
    }
    CHECK(put(&b, "newer", "some data"));
    CHECK(b.cache->bytes <= 400);
    CHECK(access(path, F_OK));
    close_bed(&b);
}

TEST(disk_full) {
    struct rlimit small, kept;
    static char big[100000];
    bed b;
    open_bed(&b);
    memset(big, 'x', sizeof big - 1);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &kept);
    small = kept;
    small.rlim_cur = 4096;
    setrlimit(RLIMIT_FSIZE, &small);
    CHECK(!put(&b, "a", big) && lines == 1);
    CHECK_EQ(get(&b, "a", ""), -1);
    CHECK_EQ(count_files(&b), 0);
    CHECK(put(&b, "b", "small"));
    setrlimit(RLIMIT_FSIZE, &kept);
    CHECK(put(&b, "a", big) && get(&b, "a", big) == 1);
    close_bed(&b);
}

TEST(out_of_descriptors) {
    struct rlimit few, many;
    bed b;
    open_bed(&b);
    CHECK(put(&b, "a", "x"));
    getrlimit(RLIMIT_NOFILE, &many);
    few = many;
    few.rlim_cur = 3;
    setrlimit(RLIMIT_NOFILE, &few);
    CHECK(get(&b, "a", "") == -1 && !put(&b, "b", "x"));
    setrlimit(RLIMIT_NOFILE, &many);
    CHECK(get(&b, "a", "x") == 1 && put(&b, "b", "x"));
    CHECK_EQ(b.cache->stats.refused, 0);
    close_bed(&b);
}

static int granted; // requests until memory is out

static void *runs_out(void *user, void *p, size_t old, size_t bytes) {
    (void)user;
    return bytes && granted-- <= 0 ? NULL : checked_realloc(p, old, bytes);
}

// No fault of the entry, which stays, nor of the folder, which nobody else may write.
TEST(out_of_memory) {
    bed b;
    open_bed(&b);
    CHECK(put(&b, "a", "x"));
    b.context.core.hook.realloc = runs_out;
    for (int n = 0; n < 8; n++) {
        granted = n;
        if (get(&b, "a", "x") == 1) break;
        CHECK(n < 7);
    }
    granted = 1; // the cache itself
    reopen(&b);
    CHECK(b.cache && b.cache->dir < 0);
    CHECK(strstr(last, strerror(ENOMEM)));
    b.context.core.hook.realloc = NULL;
    b.context.core.error_item = 0;
    reopen(&b);
    CHECK_EQ(get(&b, "a", "x"), 1);
    CHECK_EQ(b.cache->stats.refused, 0);
    close_bed(&b);
}

// ---- races

// Writes and reads shared keys as fast as it can; a reader damages or evicts now and then.
static int race(bed *b, int me) {
    char key[16], text[3000];
    int i, k, wrong = 0;
    tc__blob out;
    reopen(b);
    b->cache->limit_entries = 24;
    srand((unsigned)me);
    for (i = 0; i < 400; i++) {
        k = rand() % 32;
        snprintf(key, sizeof key, "key %d", k);
        memset(text, 'a' + k % 26, sizeof text);
        if (i % 3 == 0)
            tc__cache_put(b->cache, key, strlen(key), text, 100 + 50 * (size_t)k);
        if (i % 101 == 100) {
            char path[160];
            entry_path(b, key, path, sizeof path);
            if (truncate(path, rand() % 200)) continue;
        }
        if (!tc__cache_get(b->cache, key, strlen(key), &out)) continue;
        wrong += out.size != 100 + 50 * (size_t)k || memcmp(out.at, text, out.size);
        tc__blob_free(b->c, &out);
    }
    return wrong;
}

TEST(sixteen_processes) {
    pid_t child[16];
    bed b;
    int i, status;
    open_bed(&b);
    for (i = 0; i < 16; i++) {
        child[i] = fork();
        if (!child[i]) _exit(race(&b, i) != 0);
    }
    for (i = 0; i < 16; i++) {
        CHECK(waitpid(child[i], &status, 0) == child[i] && status == 0);
    }
    reopen(&b);
    CHECK(put(&b, "key 1", "x") && get(&b, "key 1", "x") == 1);
    CHECK(count_files(&b) <= 24 + 17); // and no temporary files beyond that
    close_bed(&b);
}

TEST(cost) {
    enum { SIZE = 20000, ROUNDS = 200 };
    static char text[SIZE], key[3000];
    uint64_t t;
    bed b;
    int i;
    open_bed(&b);
    memset(text, 'x', sizeof text - 1);
    memset(key, 'k', sizeof key - 1);
    CHECK(put(&b, key, text));
    t = tc__now_ns();
    for (i = 0; i < ROUNDS; i++) CHECK_EQ(get(&b, key, text), 1);
    if (test_option("--bench")) {
        printf("a get of %d bytes: %.1f us\n", SIZE,
               1e-3 * (double)((tc__now_ns() - t) / ROUNDS));
    }
    close_bed(&b);
}
