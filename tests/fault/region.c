// What a program sees when compiler or disk fail: regions still give the interpreter's bits,
// with one line of log; entries that were damaged are built anew; many processes share a folder.
// The parts alone are tested in cache.c and compiler.c.
#include "tcompile.h"

#include "harness.h"

#include <dirent.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <math.h>

enum { N = 3000, COUNT = 4 * N };

static char folder[64];
static int lines;               // of log that are warnings
static char last_warning[2000]; // the last of them
static int troubles;            // and those of channel "cache" that tell of something wrong

static void count_line(void *user, int level, const char *channel, const char *text) {
    (void)user;
    lines += level > 0;
    if (level > 0) snprintf(last_warning, sizeof last_warning, "%s", text);
    troubles += strstr(text, "; not used") || strstr(text, "; removed") ||
                strstr(text, "not stored");
    if (getenv("LOUD")) printf("%s: %s\n", channel, text);
}

static void make_folder(void) {
    strcpy(folder, "/tmp/tc-fault-XXXXXX");
    test_folder_make(folder);
}

static const char *in_folder(const char *name) {
    static char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

// The region's result: 1 = it worked.
static int run(tc_ctx *tc, float scale, float *out) {
    static float x[COUNT];
    for (int i = 0; i < COUNT; i++) x[i] = (float)(i % 97) * 0.125f - 6;
    tc_scope_begin(tc);
    tc_tensor t = tc_from_data(tc, x, TC_DIMS(4, N), TC_F32);
    tc_trace_begin(tc, "fault");
    tc_tensor y = tc_softmax(tc_mul_s(tc_exp(t), scale), -1);
    int ok = tc_trace_end(tc) == TC_OK && tc_read(y, out, COUNT * sizeof *out) == TC_OK;
    tc_scope_end(tc);
    return ok;
}

static tc_ctx *open_with(const char *cc, const char *cache) {
    tc_config config = tc_config_default();
    config.backend = "cpu", config.cc = cc, config.cache_dir = cache, config.threads = 2;
    config.logger.log = count_line, config.logs = "cache";
    lines = troubles = 0;
    return tc_open(&config);
}

static const float *expected(float scale) {
    static float want[COUNT];
    tc_config config = tc_config_default();
    config.backend = "aot_eager", config.threads = 1;
    tc_ctx *tc = tc_open(&config);
    CHECK(run(tc, scale, want));
    tc_close(tc);
    return want;
}

// Runs the region twice in a context of its own; its statistics.
static tc_stats check_run(const char *cc, const char *cache) {
    static float got[COUNT];
    tc_ctx *tc = open_with(cc, cache);
    for (int i = 0; i < 2; i++) {
        memset(got, 0, sizeof got);
        CHECK(run(tc, 0.5f, got));
        CHECK_BYTES(got, expected(0.5f), sizeof got);
    }
    CHECK_STR(tc_error_text(tc), "");
    tc_stats s = tc_stats_get(tc);
    tc_close(tc);
    return s;
}

static int have_cc(void) { return system("cc --version >/dev/null 2>&1") == 0; }

// ---- the compiler ----

static const char *script(const char *text) {
    static char path[200];
    snprintf(path, sizeof path, "%s/cc", folder);
    FILE *f = fopen(path, "w");
    if (CHECK(f != NULL)) fprintf(f, "#!/bin/sh\n%s\n", text), fclose(f);
    chmod(path, 0700);
    return path;
}

static void check_fallback(const char *cc) {
    char cache[200];
    strcpy(cache, in_folder("cache"));
    tc_stats s = check_run(cc, cache);
    CHECK(s.fallbacks > 0);
    CHECK_EQ(s.disk_hits, 0);
    CHECK(lines == 1 || FAIL("%d lines of log with cc = %s", lines, cc));
}

TEST(no_compiler) {
    make_folder();
    check_fallback("/nowhere/cc");
    check_fallback("no-such-compiler");
    test_folder_remove(folder);
}

TEST(a_compiler_that_fails) {
    make_folder();
    check_fallback(script("echo broken >&2; exit 1"));
    check_fallback(script("kill -SEGV $$"));
    test_folder_remove(folder);
}

// Answers as the real one does, and then writes something else than an object.
#define OUTPUT "while [ $# -gt 1 ]; do [ \"$1\" = -o ] && out=$2; shift; done\n"

TEST(a_compiler_that_writes_garbage) {
    if (!have_cc()) SKIP("no cc");
    make_folder();
    check_fallback(script("head -c 4000 /dev/urandom >&2; exit 0"));
    check_fallback(script(OUTPUT "[ -n \"$out\" ] && echo garbage >\"$out\"; exit 0"));
    test_folder_remove(folder);
}

// The real compiler, but for texts with a line of this; it tells no lines of its own, so that it is always called.
#define REFUSES(what)                                                                      \
    SEES(what)                                                                             \
    "echo 'k0.c: In function' >&2; echo 'k0.c:9:1: error: no such word' >&2\n"             \
    "echo 'k0.c:10:1: error: nor this' >&2; exit 1"
#define CRASHES(what)                                                                      \
    SEES(what)                                                                             \
    "echo 'k0.c:9:1: internal compiler error: Segmentation fault' >&2; exit 4"
#define SEES(what)                                                                         \
    "case \"$*\" in *-###*) cc \"$@\" 2>&1 | grep -v '^ ' >&2; exit 0 ;; esac\n"           \
    "for w; do case \"$w\" in *.c) grep -q '" what "' \"$w\" && refused=1 ;; esac; done\n" \
    "[ \"$refused\" ] || exec cc \"$@\"\n"

static int refusals, mends; // lines of log that are a fault of tcompile's, of the user's

static void keep_refusal(void *user, int level, const char *channel, const char *text) {
    count_line(user, level, channel, text);
    refusals += strstr(text, "a fault of tcompile") != NULL;
    mends += strstr(text, "does not compile") != NULL;
}

static tc_ctx *open_refused(const char *cc) {
    tc_config config = tc_config_default();
    config.backend = "cpu", config.cc = cc, config.no_disk_cache = 1, config.threads = 1;
    config.logger.log = keep_refusal;
    lines = refusals = mends = 0, last_warning[0] = 0;
    return tc_open(&config);
}

static void check_tan_and_triple(tc_ctx *tc, const char *name) {
    tc_tensor x = tc_ones(tc, TC_DIMS(40), TC_F32), w = tc_ones(tc, TC_DIMS(7, 9), TC_F32);
    CHECK_EQ(tc_trace_begin(tc, name), TC_OK);
    tc_tensor a = tc_tan(x), b = tc_mul_s(w, 3);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    CHECK(fabs(tc_get(a, TC_DIMS(1)) - tan(1)) < 1e-6);
    CHECK(tc_get(b, TC_DIMS(1, 1)) == 3);
}

// One kernel's text is broken: the other of its unit is compiled, and what is told is that text's fault.
TEST(a_text_that_the_compiler_refuses) {
    if (!have_cc()) SKIP("no cc");
    make_folder();
    tc_ctx *tc = open_refused(script(REFUSES("= tan ")));
    check_tan_and_triple(tc, "refused");
    tc_stats s = tc_stats_get(tc);
    CHECK(s.fallbacks == 1 && s.refused == 1 && s.kernels_made == 1);
    check_tan_and_triple(tc, "again"); // the text is known
    CHECK(lines == 1 && refusals == 1);
    CHECK(strstr(last_warning, "kernel tc_kernel_") &&
          strstr(last_warning, "TC_LOGS=output_unit"));
    CHECK(strstr(last_warning, "k0.c:9:1: error: no such word"));
    CHECK(!strstr(last_warning, "k0.c: In function") && !strstr(last_warning, "nor this"));
    const char *told = tc_explain(tc);
    CHECK(strstr(told,
                 "2 kernels run in the interpreter, for the compiler refused their text"));
    CHECK(!strstr(told, "no compiler"));
    tc_close(tc);
    test_folder_remove(folder);
}

// The same of a compiler that crashes over it: not the text's fault.
TEST(a_text_that_the_compiler_crashes_over) {
    if (!have_cc()) SKIP("no cc");
    make_folder();
    tc_ctx *tc = open_refused(script(CRASHES("= tan ")));
    check_tan_and_triple(tc, "crashed");
    tc_stats s = tc_stats_get(tc);
    CHECK(s.fallbacks == 1 && s.kernels_made == 1);
    CHECK(lines == 1 && refusals == 0);
    CHECK(strstr(last_warning, "crashed over the text of kernel tc_kernel_"));
    CHECK(strstr(last_warning, "internal compiler error: Segmentation fault"));
    tc_close(tc);
    test_folder_remove(folder);
}

static tc_status doubles(void *user, const tc_buffer *in, int n_in, const tc_buffer *out) {
    (void)user, (void)n_in;
    for (int i = 0; i < 8; i++) ((float *)out->data)[i] = 2 * ((float *)in[0].data)[i];
    return TC_OK;
}

static int times_in(const char *text, const char *word) {
    int n = 0;
    for (const char *at = text; (at = strstr(at, word)) != NULL; at++) n++;
    return n;
}

// Text of the user's: the compiler's words are given once, and no compiler is missing.
TEST(a_c_source_that_the_compiler_refuses) {
    if (!have_cc()) SKIP("no cc");
    make_folder();
    tc_ctx *tc = open_refused("cc");
    tc_custom_op op;
    memset(&op, 0, sizeof op);
    op.name = "doubles", op.run = doubles;
    op.c_source =
        "tc_status doubles(void *u, const tc_buffer *in, int n, const tc_buffer *o) "
        "{ return no_such_word; }";
    int id = tc_register_op(tc, &op);
    tc_tensor x = tc_ones(tc, TC_DIMS(8), TC_F32), w = tc_ones(tc, TC_DIMS(7, 9), TC_F32);
    CHECK_EQ(tc_trace_begin(tc, "mine"), TC_OK);
    tc_tensor y = tc_custom(tc, id, &x, 1), b = tc_mul_s(w, 3);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    CHECK(tc_get(y, TC_DIMS(7)) == 2 && tc_get(b, TC_DIMS(1, 1)) == 3);
    CHECK(lines == 1 && mends == 1 && refusals == 0);
    CHECK_EQ(times_in(last_warning, "error:"), 1);
    CHECK_EQ(tc_stats_get(tc).refused, 1);
    const char *told = tc_explain(tc);
    CHECK(strstr(told, "A custom op's c_source is to be mended"));
    CHECK(!strstr(told, "no compiler"));
    tc_close(tc);
    test_folder_remove(folder);
}

// ---- the folder of the cache ----

TEST(a_folder_that_cannot_be_made) {
    if (!have_cc()) SKIP("no cc");
    make_folder();
    tc_stats s = check_run("cc", "/dev/null/cache");
    CHECK_EQ(s.fallbacks, 0); // built all the same
    CHECK(s.compiles > 0);
    CHECK(lines == 1 && troubles == 1);
    CHECK(strstr(last_warning,
                 "/dev/null/cache, which was asked for, is not fit: Not a directory"));
    test_folder_remove(folder);
}

TEST(a_folder_that_is_missing_is_made) {
    char cache[200];
    if (!have_cc()) SKIP("no cc");
    make_folder();
    strcpy(cache, in_folder("a/b/c"));
    tc_stats s = check_run("cc", cache);
    CHECK(s.compiles > 0 && s.disk_hits == 0);
    s = check_run("cc", cache);
    CHECK(s.compiles == 0 && s.disk_hits > 0);
    CHECK(lines == 0 && troubles == 0);
    test_folder_remove(folder);
}

TEST(a_read_only_folder_is_read) {
    char line[300], cache[200];
    if (!have_cc()) SKIP("no cc");
    make_folder();
    strcpy(cache, in_folder("cache"));
    if (!geteuid()) { // root becomes somebody else for the rest of this process
        snprintf(line, sizeof line, "chown -R 12345 '%s'", folder);
        if (system(line) || setgid(12345) || setuid(12345))
            SKIP("cannot become another user");
    }
    check_run("cc", cache);
    snprintf(line, sizeof line, "chmod -R a-w '%s'", cache);
    CHECK(system(line) == 0);
    tc_stats s = check_run("cc", cache);
    CHECK(s.disk_hits > 0 && s.compiles == 0 && s.fallbacks == 0);
    test_folder_remove(folder);
}

// ---- damage ----

// Damages every file below path, each in another way; how many there were.
static int damage(const char *path, unsigned round) {
    char below[500];
    int n = 0;
    DIR *d = opendir(path);
    for (struct dirent *e; d && (e = readdir(d)) != NULL;) {
        struct stat s;
        if (e->d_name[0] == '.') continue;
        snprintf(below, sizeof below, "%s/%s", path, e->d_name);
        if (lstat(below, &s)) continue;
        if (S_ISDIR(s.st_mode)) {
            n += damage(below, round);
            continue;
        }
        FILE *f = fopen(below, "r+b");
        if (!f) continue;
        long at =
            (long)((round * 7919u + (unsigned)n * 104729u) % (unsigned)(s.st_size + 1));
        fseek(f, at, SEEK_SET);
        int byte = fgetc(f);
        fseek(f, at, SEEK_SET);
        if (byte != EOF) fputc(byte ^ (1 << round % 8), f);
        if (byte == EOF) fputs("more", f);
        fclose(f);
        if (round % 3 == 2 && truncate(below, at)) continue;
        n++;
    }
    if (d) closedir(d);
    return n;
}

TEST(damaged_entries_are_built_anew) {
    char cache[200];
    if (!have_cc()) SKIP("no cc");
    make_folder();
    strcpy(cache, in_folder("cache"));
    check_run("cc", cache);
    for (unsigned round = 0; round < 8; round++) {
        CHECK(damage(cache, round) >= 2);
        tc_stats s = check_run("cc", cache);
        CHECK_EQ(s.fallbacks, 0);
        CHECK(s.compiles > 0 && troubles > 0 && lines == 1);
        s = check_run("cc", cache);
        CHECK(s.compiles == 0 && s.disk_hits > 0 && lines == 0 && troubles == 0);
    }
    test_folder_remove(folder);
}

// ---- many processes ----

static int many_visits(const char *cache) {
    static float got[COUNT];
    int wrong = 0;
    tc_ctx *tc = open_with("cc", cache);
    for (int i = 0; i < 3; i++) {
        float scale = 0.5f * (float)(1 + i); // from the second on known at run time only
        wrong += !run(tc, scale, got);
        wrong += memcmp(got, expected(scale), sizeof got) != 0;
    }
    wrong += tc_stats_get(tc).fallbacks != 0;
    tc_close(tc);
    return wrong;
}

TEST(sixteen_processes_on_one_folder) {
    char cache[200];
    pid_t child[16];
    int status;
    if (!have_cc()) SKIP("no cc");
    make_folder();
    strcpy(cache, in_folder("cache"));
    for (int i = 0; i < 16; i++) {
        child[i] = fork();
        if (!child[i]) _exit(many_visits(cache) != 0);
    }
    for (int i = 0; i < 16; i++)
        CHECK(waitpid(child[i], &status, 0) == child[i] && status == 0);
    tc_stats s = check_run("cc", cache);
    CHECK(s.compiles == 0 && s.disk_hits > 0);
    test_folder_remove(folder);
}

// ---- limits of the process, and threads that are cancelled ----

// No file may be written, not even one of memory: the interpreter gives the results.
// Beyond 0 bytes it is the kernel's text that does not fit: no fault of it, and nothing to report.
static void check_no_file_may_grow(const char *cc, rlim_t bytes) {
    struct rlimit limit;
    char cache[200];
    make_folder();
    strcpy(cache, in_folder("cache"));
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
    tc_stats s = check_run(cc, cache);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_FSIZE, &limit);
    CHECK(s.fallbacks > 0 && s.refused == 0);
    CHECK(lines == 1 && strstr(last_warning, "the compiler cannot work now") &&
          strstr(last_warning, "cannot be written: File too large") &&
          !strstr(last_warning, "No such file"));
    test_folder_remove(folder);
}

TEST(no_file_may_grow) {
    static const rlim_t bytes[] = {0, 1, 4096, 16384};
    if (!have_cc()) SKIP("no cc");
    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++)
        check_no_file_may_grow("cc", bytes[i]);
}

TEST(no_file_may_grow_for_clang) {
    if (system("clang --version >/dev/null 2>&1")) SKIP("no clang");
    check_no_file_may_grow("clang", 0); // which wants a file even to tell what it would run
    check_no_file_may_grow("clang", 4096);
}

static void *compile_there(void *child) {
    static float got[COUNT];
    int old;
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &old);
    (void)run((tc_ctx *)child, 0.5f, got);
    for (;;) pause();
    return NULL;
}

static double tanh_of(tc_ctx *tc) {
    double x = 0;
    tc_scope_begin(tc);
    tc_tensor t = tc_full(tc, TC_DIMS(N), 0.25, TC_F32);
    tc_trace_begin(tc, "tanh");
    tc_tensor y = tc_tanh(t);
    if (!tc_trace_end(tc)) x = tc_item(tc_select(y, 0, 5));
    tc_scope_end(tc);
    return x;
}

// Is cancelled at the first place where that may be: where its kernel is looked for on disk.
static void *load_there(void *child) {
    static float got[COUNT];
    (void)run((tc_ctx *)child, 0.5f, got);
    pthread_cancel(pthread_self());
    (void)tanh_of((tc_ctx *)child);
    pthread_testcancel();
    return NULL;
}

TEST(a_thread_cancelled_at_the_disk_stops_nobody) {
    char cache[200];
    pthread_t thread;
    void *end;
    if (!have_cc()) SKIP("no cc");
    make_folder();
    strcpy(cache, in_folder("cache"));
    tc_ctx *tc = open_with("cc", cache);
    CHECK_NEAR(tanh_of(tc), tanh(0.25), 1e-6);
    tc_close(tc);
    tc = open_with("cc", cache);
    tc_ctx *child = tc_open_shared(tc);
    CHECK(!pthread_create(&thread, NULL, load_there, child));
    CHECK(!pthread_join(thread, &end) && end == PTHREAD_CANCELED);
    CHECK_NEAR(tanh_of(tc), tanh(0.25), 1e-6);
    CHECK(tc_stats_get(tc).fallbacks == 0 && tc_stats_get(tc).compiles == 0);
    tc_close(child);
    tc_close(tc);
    test_folder_remove(folder);
}

// A thread is cancelled while it compiles, at any moment: what it was at is done, and the others of
// its family neither wait for ever nor lack anything.
TEST(a_cancelled_thread_stops_nobody) {
    static float got[COUNT];
    char cache[200];
    if (!have_cc()) SKIP("no cc");
    make_folder();
    strcpy(cache, in_folder("cache"));
    for (int i = 0; i < 24; i++) {
        pthread_t thread;
        void *end;
        tc_ctx *tc = open_with("cc", i & 1 ? cache : "/dev/null");
        tc_ctx *child = tc_open_shared(tc);
        CHECK(!pthread_create(&thread, NULL, compile_there, child));
        usleep((useconds_t)(i * i) * 150);
        CHECK(!pthread_cancel(thread));
        CHECK(run(tc, 0.5f, got));
        CHECK_BYTES(got, expected(0.5f), sizeof got);
        CHECK(!pthread_join(thread, &end) && end == PTHREAD_CANCELED);
        tc_close(child);
        CHECK_EQ(tc_stats_get(tc).fallbacks, 0);
        tc_close(tc);
    }
    test_folder_remove(folder);
}
