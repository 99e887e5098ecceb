// What fails for want of something that may be there later: space, descriptors, a compiler that answers.
// Programs run interpreted meanwhile, with one line of log, nobody is asked all the time, and what
// was missing is made up for. Time does not pass here: a test ends a rest by itself.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

#include "harness.h"

#include "help.h"

#include <sys/resource.h>

enum { N = 64 };

static char folder[64];
static int warnings;

static void note(void *user, int level, const char *channel, const char *text) {
    (void)user;
    warnings += level > 0;
    if (getenv("LOUD")) printf("%s: %s\n", channel, text);
}

// A compiler whose lines are not understood, so that it is what builds: `text`, and then the real one.
static const char *script(const char *text) {
    static char path[100];
    snprintf(path, sizeof path, "%s/cc", folder);
    FILE *f = fopen(path, "w");
    if (!CHECK(f != NULL)) return path;
    fprintf(
        f,
        "#!/bin/sh\ndir='%s'\ncase \"$*\" in *-###*) echo gcc version 1; exit 0 ;; esac\n"
        "echo x >>$dir/asked\n%s\nexec gcc \"$@\"\n",
        folder, text);
    fclose(f);
    chmod(path, 0700);
    return path;
}

static int asked(void) {
    char path[100];
    int n = 0, ch;
    snprintf(path, sizeof path, "%s/asked", folder);
    FILE *f = fopen(path, "r");
    while (f && (ch = fgetc(f)) != EOF) n += ch == '\n';
    if (f) fclose(f);
    return n;
}

static void mend(void) {
    char path[100];
    snprintf(path, sizeof path, "%s/mended", folder);
    FILE *f = fopen(path, "w");
    if (CHECK(f != NULL)) fclose(f);
}

static tc_ctx *open_with(const char *cc, int ms) {
    tc_config config = tc_config_default();
    config.backend = "cpu", config.cc = cc, config.compile_ms = ms, config.threads = 1;
    config.no_disk_cache = 1, config.logger.log = note;
    warnings = 0;
    return tc_open(&config);
}

static void start(void) {
    if (system("gcc --version >/dev/null 2>&1")) SKIP("no gcc");
    strcpy(folder, "/tmp/tc-again-XXXXXX");
    test_folder_make(folder);
}

// Region `name`, with another kernel for each number.
static void visit(tc_ctx *tc, const char *name, int number) {
    tc_scope_begin(tc);
    tc_tensor x = line(tc, N, number, 1);
    tc_trace_begin_at(tc, name, NULL, "test.c", number);
    tc_tensor y = tc_add(x, x);
    for (int i = 0; i < number; i++) y = tc_add(y, x);
    END();
    CHECK_EQ(AT(y, 3), (number + 2) * (number + 3));
    tc_scope_end(tc);
}

static tc__rest *rest_of(tc_ctx *tc) { return &tc->kernels->library->rest; }

static void check_again(const char *trouble, int ms) {
    start();
    tc_ctx *tc = open_with(script(trouble), ms);
    visit(tc, "one", 1);
    CHECK_EQ(warnings, 1);
    CHECK_EQ(tc_stats_get(tc).fallbacks, 1);
    int before = asked();
    CHECK(before > 0);
    for (int i = 0; i < 3; i++) visit(tc, "one", 1), visit(tc, "two", 2);
    CHECK_EQ(asked(), before); // it is let alone
    CHECK_EQ(tc_stats_get(tc).fallbacks, 2);
    uint64_t pause = rest_of(tc)->pause;
    rest_of(tc)->until = 1;
    visit(tc, "one", 1);
    visit(tc, "two", 2);
    CHECK(asked() > before);
    CHECK(rest_of(tc)->pause >= 2 * pause && rest_of(tc)->until > 1);
    CHECK(warnings == 1 && tc_stats_get(tc).kernels_made == 0);
    mend();
    visit(tc, "two", 2);
    CHECK_EQ(tc_stats_get(tc).kernels_made, 0); // it rests
    rest_of(tc)->until = 1;
    visit(tc, "one", 1);
    visit(tc, "two", 2);
    visit(tc, "three", 3);
    CHECK_EQ(tc_stats_get(tc).kernels_made, 3);
    CHECK_EQ(tc_stats_get(tc).fallbacks, 0);
    CHECK(!rest_of(tc)->pause && warnings == 1);
    CHECK_STR(tc_error_text(tc), "");
    tc_close(tc);
    test_folder_remove(folder);
}

#define UNTIL_MENDED(text) "[ -f $dir/mended ] || { " text "; }"

TEST(a_compiler_that_hangs) { check_again(UNTIL_MENDED("sleep 50"), 1500); }

TEST(no_space) {
    check_again(UNTIL_MENDED("echo 'k0.s: No space left on device' >&2; exit 1"), 0);
}

TEST(no_memory) {
    check_again(UNTIL_MENDED("echo 'cc1: out of memory allocating 1 bytes' >&2; exit 1"),
                0);
}

// RLIMIT_FSIZE, as a driver tells of it and as it ends one.
TEST(a_file_that_may_not_grow) {
    check_again(UNTIL_MENDED("echo 'cc: fatal error: File size limit exceeded signal "
                             "terminated program cc1' >&2; exit 1"),
                0);
    check_again(UNTIL_MENDED("kill -XFSZ $$"), 0);
}

TEST(a_compiler_that_is_killed) { check_again(UNTIL_MENDED("kill -9 $$"), 0); }

// What the text is at fault for is not tried again.
TEST(a_lasting_failure) {
    start();
    tc_ctx *tc = open_with(script(UNTIL_MENDED("echo nonsense >&2; exit 1")), 0);
    visit(tc, "one", 1);
    int before = asked();
    mend();
    visit(tc, "one", 1);
    CHECK(asked() == before && !rest_of(tc)->until);
    CHECK(tc_stats_get(tc).fallbacks == 1 && warnings == 1);
    tc_close(tc);
    test_folder_remove(folder);
}

TEST(in_the_background) {
    start();
    tc_ctx *tc =
        open_with(script(UNTIL_MENDED("echo 'No space left on device' >&2; exit 1")), 0);
    tc_set_stance(tc, TC_STANCE_EAGER_THEN_COMPILE);
    visit(tc, "one", 1);
    tc_wait_compiled(tc);
    visit(tc, "one", 1);
    CHECK(tc_stats_get(tc).fallbacks == 1 && warnings == 1);
    mend();
    rest_of(tc)->until = 1;
    visit(tc, "one", 1);
    tc_wait_compiled(tc);
    visit(tc, "one", 1);
    CHECK(tc_stats_get(tc).fallbacks == 0 && tc_stats_get(tc).kernels_made == 1);
    tc_close(tc);
    test_folder_remove(folder);
}

TEST(no_descriptors) {
    struct rlimit limit;
    start();
    tc_ctx *tc = open_with("gcc", 0);
    getrlimit(RLIMIT_NOFILE, &limit);
    rlim_t most = limit.rlim_cur;
    limit.rlim_cur = 3;
    setrlimit(RLIMIT_NOFILE, &limit);
    visit(tc, "one", 1);
    limit.rlim_cur = most;
    setrlimit(RLIMIT_NOFILE, &limit);
    CHECK(tc_stats_get(tc).fallbacks == 1 && warnings == 1);
    rest_of(tc)->until = 1;
    visit(tc, "one", 1);
    CHECK(tc_stats_get(tc).fallbacks == 0 && tc_stats_get(tc).kernels_made == 1);
    tc_close(tc);
    test_folder_remove(folder);
}

// The compiler's text is not written, or not whole, under RLIMIT_FSIZE: no kernel is at fault.
TEST(no_file_may_grow) {
    static const rlim_t bytes[] = {0, 1, 4096, 8192};
    struct rlimit limit;
    start();
    getrlimit(RLIMIT_FSIZE, &limit);
    rlim_t most = limit.rlim_cur;
    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++) {
        tc_ctx *tc = open_with("gcc", 0);
        limit.rlim_cur = bytes[i];
        setrlimit(RLIMIT_FSIZE, &limit);
        for (int k = 0; k < 3; k++) visit(tc, "one", 1), visit(tc, "two", 2);
        CHECK(tc_stats_get(tc).fallbacks == 2 && warnings == 1);
        CHECK(rest_of(tc)->until > 1 && tc_stats_get(tc).refused == 0);
        limit.rlim_cur = most;
        setrlimit(RLIMIT_FSIZE, &limit);
        visit(tc, "one", 1);
        CHECK_EQ(tc_stats_get(tc).kernels_made, 0); // it rests
        rest_of(tc)->until = 1;
        visit(tc, "one", 1);
        visit(tc, "two", 2);
        CHECK(tc_stats_get(tc).fallbacks == 0 && tc_stats_get(tc).kernels_made == 2);
        CHECK_STR(tc_error_text(tc), "");
        tc_close(tc);
    }
    test_folder_remove(folder);
}

// fork fails, as where a user has all the processes that he may have: in vain for root.
TEST(no_processes) {
    struct rlimit limit;
    start();
    if (!geteuid()) CHECK(!chown(folder, 65533, 65533) && !setgid(65533) && !setuid(65533));
    tc_ctx *tc = open_with("gcc", 0);
    getrlimit(RLIMIT_NPROC, &limit);
    rlim_t most = limit.rlim_cur;
    limit.rlim_cur = 0;
    setrlimit(RLIMIT_NPROC, &limit);
    for (int i = 0; i < 3; i++) visit(tc, "one", 1);
    CHECK(tc_stats_get(tc).fallbacks == 1 && warnings == 1);
    limit.rlim_cur = most;
    setrlimit(RLIMIT_NPROC, &limit);
    visit(tc, "one", 1);
    CHECK_EQ(tc_stats_get(tc).kernels_made, 0); // it rests
    rest_of(tc)->until = 1;
    visit(tc, "one", 1);
    CHECK(tc_stats_get(tc).fallbacks == 0 && tc_stats_get(tc).kernels_made == 1);
    tc_close(tc);
    test_folder_remove(folder);
}

// A full disk of the cache.
TEST(a_full_cache) {
    start();
    tc_ctx *tc = open_with("gcc", 0);
    tc__cache *h = tc__cache_open(tc, folder);
    REQUIRE(h && tc__cache_put(h, "k", 1, "v", 1));
    errno = ENOSPC;
    tc__cache_unstored(h);
    CHECK(!tc__cache_put(h, "l", 1, "v", 1) && !h->read_only);
    h->full_until = 1;
    CHECK(tc__cache_put(h, "l", 1, "v", 1) && !h->full_until);
    tc__cache_close(h);
    tc_close(tc);
    test_folder_remove(folder);
}

// The folder of work folders goes with whoever is done, whenever others begin: here others do nothing else. It
// may be that of the cache, too, where there is no home.
TEST(a_folder_that_others_remove) {
    enum { OTHERS = 4 };
    char path[100];
    pid_t others[OTHERS];
    start();
    snprintf(path, sizeof path, "%s/tcompile-%lu", folder, (unsigned long)geteuid());
    setenv("TMPDIR", folder, 1);
    for (int i = 0; i < OTHERS; i++) {
        others[i] = fork();
        while (!others[i]) (void)rmdir(path);
    }
    tc_ctx *tc = open_with("gcc", 0);
    for (int i = 0; i < 300; i++) {
        tc__work w;
        CHECK(tc__work_open(&w, tc, NULL, 0) || FAIL("turn %d: %s", i, strerror(errno)));
        tc__work_close(&w);
    }
    for (int i = 0; i < 40; i++) {
        tc__cache h;
        memset(&h, 0, sizeof h);
        h.ctx = tc, h.dir = tc__cache_try_temporary(&h);
        CHECK(h.dir >= 0 || FAIL("cache %d: %s", i, strerror(errno)));
        (void)unlinkat(h.dir, "../v1", AT_REMOVEDIR); // and the folder goes again
        close(h.dir);
    }
    visit(tc, "one", 1);
    CHECK(tc_stats_get(tc).fallbacks == 0 && warnings == 0);
    tc_close(tc);
    for (int i = 0; i < OTHERS; i++) {
        kill(others[i], SIGKILL);
        (void)waitpid(others[i], NULL, 0);
    }
    unsetenv("TMPDIR");
    test_folder_remove(folder);
}
