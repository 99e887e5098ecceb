// Compiling in the background: results before, meanwhile and after; what goes wrong there; and
// endings while it is at work. Values come from plain C.
#include "tcompile.h"

#include "harness.h"

#include <math.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 1000 };

static int warnings;

static void note(void *user, int level, const char *channel, const char *text) {
    (void)user, (void)channel, (void)text;
    if (level == 1) __atomic_fetch_add(&warnings, 1, __ATOMIC_SEQ_CST);
}

static tc_ctx *open_with(const char *cc, const char *cache) {
    tc_config config = tc_config_default();
    config.cc = cc, config.threads = 1;
    config.cache_dir = cache, config.no_disk_cache = !cache;
    config.logger.log = note;
    tc_ctx *tc = tc_open(&config);
    if (tc) tc_set_stance(tc, TC_STANCE_EAGER_THEN_COMPILE);
    return tc;
}

static tc_tensor ramp(tc_ctx *tc, int n, double from) {
    tc_tensor t = tc_arange(tc, 0, n, 1, TC_F32);
    return tc_add_s(t, from);
}

// x * by + 1, and the number is a part of the code
static void affine(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc;
    out[0] = tc_add_s(tc_mul_s(tc_abs(in[0]), *(const double *)user), 1);
}

static double value(tc_tensor t, int i) {
    float x[N];
    if (tc_read(t, x, sizeof x)) return NAN;
    return (double)x[i];
}

static void check_call(tc_ctx *tc, tc_fn *f, double from, double by) {
    tc_tensor x = ramp(tc, N, from), y;
    REQUIRE(tc_call(f, &x, 1, &y, 1) == TC_OK);
    for (int i = 0; i < N; i += 111) CHECK_EQ(value(y, i), (i + from) * by + 1);
    tc_free(x);
    tc_free(y);
}

// A folder, and a program in it that does nothing but sleep.
typedef struct sleeper {
    char folder[64], path[80];
} sleeper;

static void sleeper_open(sleeper *s) {
    strcpy(s->folder, "/tmp/tiers-XXXXXX");
    REQUIRE(mkdtemp(s->folder));
    snprintf(s->path, sizeof s->path, "%s/cc", s->folder);
    FILE *f = fopen(s->path, "w");
    REQUIRE(f);
    fprintf(f, "#!/bin/sh\nexec sleep 1000\n");
    fclose(f);
    REQUIRE(!chmod(s->path, 0755));
}

static void sleeper_close(const sleeper *s) {
    unlink(s->path);
    rmdir(s->folder);
}

TEST(code_arrives_between_two_calls) {
    double by = 3;
    tc_ctx *tc = open_with(NULL, NULL);
    tc_fn *f = tc_compile(tc, affine, &by, sizeof by, NULL);
    check_call(tc, f, 5, 3);
    CHECK_EQ(tc_stats_get(tc).programs, 1);
    CHECK_EQ(tc_wait_compiled(tc), TC_OK);
    CHECK_EQ(tc_stats_get(tc).compiles, 0); // not taken yet
    for (int k = 0; k < 6; k++) check_call(tc, f, k, 3);
    tc_stats s = tc_stats_get(tc);
    CHECK_EQ(s.compiles, 1);
    CHECK_EQ(s.kernels_made, 1);
    CHECK_EQ(s.fallbacks, 0);
    CHECK_EQ(s.programs, 1);
    CHECK_EQ(s.skips, 5);
    tc_close(tc);
}

TEST(regions_too) {
    tc_ctx *tc = open_with(NULL, NULL);
    tc_tensor y;
    for (int k = 0; k < 4; k++) {
        tc_tensor x = ramp(tc, N, k);
        tc_trace_begin(tc, "tiers");
        y = tc_sqrt(tc_add_s(tc_square(x), 2));
        REQUIRE(tc_trace_end(tc) == TC_OK);
        CHECK(fabs(value(y, 9) - sqrt((k + 9.) * (k + 9.) + 2)) < 1e-5);
        tc_wait_compiled(tc);
    }
    CHECK_EQ(tc_stats_get(tc).kernels_made, 1);
    CHECK(strstr(tc_explain(tc), "runs compiled"));
    tc_close(tc);
}

TEST(the_same_bits_in_both_tiers) {
    double by = 0.1;
    float before[N], after[N];
    tc_ctx *tc = open_with(NULL, NULL);
    tc_fn *f = tc_compile(tc, affine, &by, sizeof by, NULL);
    tc_tensor x = tc_randn(tc, TC_DIMS(N), TC_F32), y;
    REQUIRE(tc_call(f, &x, 1, &y, 1) == TC_OK);
    tc_read(y, before, sizeof before);
    tc_wait_compiled(tc);
    REQUIRE(tc_call(f, &x, 1, &y, 1) == TC_OK);
    tc_read(y, after, sizeof after);
    CHECK_EQ(tc_stats_get(tc).kernels_made, 1);
    CHECK(!memcmp(before, after, sizeof before));
    tc_close(tc);
}

TEST(many_functions_at_once) {
    enum { MANY = 12 };
    double by[MANY];
    tc_fn *f[MANY];
    tc_ctx *tc = open_with(NULL, NULL);
    for (int i = 0; i < MANY; i++) {
        by[i] = i + 2;
        f[i] = tc_compile(tc, affine, &by[i], sizeof by[i], NULL);
    }
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < MANY; i++) check_call(tc, f[i], k, by[i]);
    tc_wait_compiled(tc);
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < MANY; i++) check_call(tc, f[i], k, by[i]);
    CHECK_EQ(tc_stats_get(tc).kernels_made, MANY);
    tc_close(tc);
}

TEST(what_is_on_disk_is_used_at_once) {
    char folder[] = "/tmp/tiers-XXXXXX", command[80];
    REQUIRE(mkdtemp(folder));
    double by = 7;
    for (int k = 0; k < 2; k++) {
        tc_ctx *tc = open_with(NULL, folder);
        tc_fn *f = tc_compile(tc, affine, &by, sizeof by, NULL);
        check_call(tc, f, 1, 7);
        CHECK_EQ(tc_stats_get(tc).disk_hits, k);
        tc_wait_compiled(tc);
        check_call(tc, f, 1, 7);
        CHECK_EQ(tc_stats_get(tc).compiles, !k);
        CHECK_EQ(tc_stats_get(tc).kernels_made, 1);
        tc_close(tc);
    }
    snprintf(command, sizeof command, "rm -r %s", folder);
    CHECK(!system(command));
}

TEST(endings_while_it_is_at_work) {
    sleeper s;
    double by = 3;
    sleeper_open(&s);
    for (int how = 0; how < 4; how++) {
        tc_ctx *tc = open_with(s.path, NULL);
        tc_fn *f = tc_compile(tc, affine, &by, sizeof by, NULL);
        tc_fn *g = tc_compile(tc, affine, &by, sizeof by, NULL);
        check_call(tc, f, 1, 3);
        check_call(tc, g, 2, 3);
        by = how + 4;
        check_call(tc, f, 3, by); // one more program
        if (how == 1) tc_fn_free(f);
        if (how == 2) CHECK_EQ(tc_reset(tc), TC_OK);
        if (how == 3) tc_fn_free(g), tc_fn_free(f);
        tc_close(tc); // does not wait for the sleepers
        by = 3;
    }
    sleeper_close(&s);
}

// A compiler that waits at one moment of its work until it is let go on.
typedef enum moment { AT_QUESTION, AT_BUILD, AT_PROBE, MOMENTS } moment;

typedef struct waiter {
    char folder[64], path[80], gate[80], begun[80];
} waiter;

// What it prints about itself has no lines to learn, so it is run for each build. At AT_PROBE it takes no kernel while it waits:
// tc__host_works asks it.
static void waiter_open(waiter *s, moment when) {
    const char *real = getenv("CC") ? getenv("CC") : "cc";
    strcpy(s->folder, "/tmp/tiers-XXXXXX");
    REQUIRE(mkdtemp(s->folder));
    snprintf(s->path, sizeof s->path, "%s/cc", s->folder);
    snprintf(s->gate, sizeof s->gate, "%s/gate", s->folder);
    snprintf(s->begun, sizeof s->begun, "%s/begun", s->folder);
    FILE *gate = fopen(s->gate, "w"), *f = fopen(s->path, "w");
    REQUIRE(gate && f);
    fclose(gate);
    fprintf(f, "#!/bin/sh\nat=%d\ncase \"$*\" in *-###*) at=%d ;; esac\n", AT_BUILD,
            AT_QUESTION);
    fprintf(f, "for w; do case $w in *.c) source=$w ;; esac; done\n");
    fprintf(f, "grep -q tc_probe \"$source\" && at=%d\n", AT_PROBE);
    fprintf(f, "if [ -e %s ] && [ $at = %d ]; then\n", s->gate, when);
    fprintf(f, "    : >%s; while [ -e %s ]; do sleep 0.01; done\nfi\n", s->begun, s->gate);
    fprintf(f, "if [ $at = %d ]; then echo gcc version 99; exit 0; fi\n", AT_QUESTION);
    if (when == AT_PROBE) fprintf(f, "[ -e %s ] && { echo not now; exit 1; }\n", s->gate);
    fprintf(f, "exec %s \"$@\"\n", real);
    fclose(f);
    REQUIRE(!chmod(s->path, 0755));
}

static int waiter_waits(const waiter *s) {
    for (int k = 0; k < 5000 && access(s->begun, F_OK); k++) usleep(2000);
    return !access(s->begun, F_OK);
}

static void waiter_close(const waiter *s) {
    unlink(s->gate), unlink(s->begun), unlink(s->path);
    CHECK(!rmdir(s->folder));
}

static void twice(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_mul_s(in[0], 2);
}

static void check_twice(tc_ctx *tc, tc_fn *f) {
    tc_tensor x = ramp(tc, N, 1), y;
    REQUIRE(tc_call(f, &x, 1, &y, 1) == TC_OK);
    for (int i = 0; i < N; i += 111) CHECK_EQ(value(y, i), 2 * (i + 1.));
    tc_free(x);
    tc_free(y);
}

// A round of a region one of whose results is read late: the next round makes its program again, and drops the first.
static void read_late(tc_ctx *tc) {
    tc_tensor x = ramp(tc, N, 1), y, z;
    tc_trace_begin(tc, "late");
    y = tc_sqrt(x), z = tc_neg(y);
    REQUIRE(tc_trace_end(tc) == TC_OK);
    CHECK_EQ(value(y, 3), 2);
    CHECK_EQ(value(z, 3), -2);
    tc_free(y), tc_free(z), tc_free(x);
}

enum { BY_FREE, BY_RESET, BY_CLOSE, BY_LATE_READ, WAYS };

// A compile that nobody wants any more is nobody's failure: no warning, no pause, and what others wait for is
// compiled, be it another kernel or the same.
static void check_cancelled(moment when, int way) {
    waiter s;
    waiter_open(&s, when);
    warnings = 0;
    tc_config config = tc_config_default();
    config.cc = s.path, config.threads = 1, config.no_disk_cache = 1;
    config.compile_threads = 1, config.logger.log = note;
    tc_ctx *tc = tc_open(&config), *other = tc_open_shared(tc);
    REQUIRE(tc && other);
    tc_set_stance(tc, TC_STANCE_EAGER_THEN_COMPILE);
    tc_set_stance(other, TC_STANCE_EAGER_THEN_COMPILE);
    double by = 3;
    tc_fn *f = tc_compile(other, affine, &by, sizeof by, NULL);
    tc_fn *g = tc_compile(tc, affine, &by, sizeof by, NULL);
    tc_fn *h = tc_compile(tc, twice, NULL, 0, NULL);
    if (way == BY_LATE_READ)
        read_late(other);
    else
        check_call(other, f, 1, 3);
    CHECK(waiter_waits(&s));
    check_call(tc, g, 2, 3);
    check_twice(tc, h);
    if (way == BY_FREE) tc_fn_free(f);
    if (way == BY_RESET) CHECK_EQ(tc_reset(other), TC_OK);
    if (way == BY_CLOSE) tc_close(other);
    if (way == BY_LATE_READ) read_late(other);
    unlink(s.gate);
    CHECK_EQ(tc_wait_compiled(tc), TC_OK);
    check_call(tc, g, 5, 3);
    check_twice(tc, h);
    CHECK(tc_stats_get(tc).compiles >= 2); // and what was done before it was cancelled
    CHECK(tc_stats_get(tc).kernels_made >= 2);
    CHECK_EQ(tc_stats_get(tc).fallbacks, 0);
    CHECK_EQ(warnings, 0);
    if (way != BY_CLOSE) tc_close(other);
    tc_close(tc);
    waiter_close(&s);
}

TEST(a_cancelled_compile_is_no_failure) {
    for (int when = 0; when < MOMENTS; when++)
        for (int way = 0; way < WAYS; way++) {
            int before = test_failures;
            check_cancelled((moment)when, way);
            if (test_failures != before) printf("    at moment %d, by way %d\n", when, way);
        }
}

// A compiler that refuses a kernel, and is killed when it is asked whether it works at all, as memory ends: nothing is
// settled by that, and when it works again the kernel is compiled.
TEST(a_question_that_fails_settles_nothing) {
    waiter s;
    waiter_open(&s, AT_PROBE);
    FILE *f = fopen(s.path, "w");
    REQUIRE(f);
    fprintf(f, "#!/bin/sh\ncase \"$*\" in *-###*) echo gcc version 99; exit 0 ;; esac\n");
    fprintf(f, "for w; do case $w in *.c) source=$w ;; esac; done\n");
    fprintf(f, "[ -e %s ] && grep -q tc_probe \"$source\" && kill -9 $$\n", s.gate);
    fprintf(f, "[ -e %s ] && { echo not now; exit 1; }\n", s.gate);
    fprintf(f, "exec %s \"$@\"\n", getenv("CC") ? getenv("CC") : "cc");
    fclose(f);
    tc_ctx *tc = open_with(s.path, NULL);
    tc_set_stance(tc, TC_STANCE_DEFAULT);
    tc_fn *twice_of = tc_compile(tc, twice, NULL, 0, NULL);
    check_twice(tc, twice_of);
    CHECK_EQ(tc_stats_get(tc).fallbacks, 1);
    CHECK_EQ(warnings, 1); // that it is asked again
    unlink(s.gate);
    for (int k = 0; k < 600 && !tc_stats_get(tc).kernels_made; k++) {
        check_twice(tc, twice_of);
        usleep(100000);
    }
    CHECK_EQ(tc_stats_get(tc).kernels_made, 1);
    CHECK_EQ(warnings, 1);
    tc_close(tc);
    waiter_close(&s);
}

TEST(a_compiler_that_hangs_is_ended) {
    sleeper s;
    double by = 3;
    sleeper_open(&s);
    tc_config config = tc_config_default();
    config.cc = s.path, config.no_disk_cache = 1, config.compile_ms = 50;
    config.logger.log = note;
    tc_ctx *tc = tc_open(&config);
    tc_set_stance(tc, TC_STANCE_EAGER_THEN_COMPILE);
    tc_fn *f = tc_compile(tc, affine, &by, sizeof by, NULL);
    check_call(tc, f, 1, 3);
    tc_wait_compiled(tc);
    check_call(tc, f, 2, 3);
    CHECK_EQ(tc_stats_get(tc).kernels_made, 0);
    CHECK_EQ(tc_stats_get(tc).fallbacks, 1);
    CHECK_EQ(warnings, 1);
    tc_close(tc);
    sleeper_close(&s);
}

TEST(a_compiler_without_memory_fails) {
    double by = 3;
    tc_config config = tc_config_default();
    config.no_disk_cache = 1, config.compile_mb = 1;
    config.logger.log = note;
    tc_ctx *tc = tc_open(&config);
    tc_fn *f = tc_compile(tc, affine, &by, sizeof by, NULL);
    check_call(tc, f, 1, 3);
    check_call(tc, f, 2, 3);
    CHECK_EQ(tc_stats_get(tc).kernels_made, 0);
    CHECK_EQ(warnings, 1);
    tc_close(tc);
}

// In a child there is no background: calls go on there, old kernels and new ones.
static void forked(int while_it_works) {
    double by = 3, other = 4;
    tc_ctx *tc = open_with(NULL, NULL);
    tc_fn *f = tc_compile(tc, affine, &by, sizeof by, NULL);
    check_call(tc, f, 1, 3);
    if (!while_it_works) tc_wait_compiled(tc);
    pid_t child = fork();
    if (!child) {
        int before = test_failures;
        for (int k = 0; k < 4; k++) check_call(tc, f, k, 3);
        tc_fn *g = tc_compile(tc, affine, &other, sizeof other, NULL);
        uint64_t made = tc_stats_get(tc).kernels_made;
        for (int k = 0; k < 4; k++) check_call(tc, g, k, 4);
        CHECK_EQ(tc_stats_get(tc).kernels_made, made + 1);
        tc_close(tc);
        _exit(test_failures != before);
    }
    int status = -1;
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
    check_call(tc, f, 2, 3);
    tc_close(tc);
}

TEST(a_forked_child_compiles_for_itself) { forked(0); }

TEST(a_child_forked_while_the_background_works) {
    if (TEST_SANITIZED)
        SKIP(
            "gcc's sanitizers leave their allocator's locks as they are in a child: one that "
            "the background holds at the fork is held there for good");
    forked(1);
}

// Warm-up in one stance, service in another.
TEST(stances_in_turn) {
    double by = 3;
    tc_ctx *tc = open_with(NULL, NULL);
    tc_fn *f = tc_compile(tc, affine, &by, sizeof by, NULL);
    tc_set_stance(tc, TC_STANCE_EAGER_ON_RECOMPILE);
    for (int k = 0; k < 4; k++) check_call(tc, f, k, 3);
    CHECK_EQ(tc_stats_get(tc).kernels_made, 0);
    tc_set_stance(
        tc,
        TC_STANCE_DEFAULT); // what was put off is made up for, also where bodies are skipped
    for (int k = 0; k < 4; k++) check_call(tc, f, k, 3);
    CHECK_EQ(tc_stats_get(tc).kernels_made, 1);
    by = 4;
    tc_set_stance(tc, TC_STANCE_EAGER_THEN_COMPILE);
    check_call(tc, f, 1, 4);
    tc_set_stance(tc, TC_STANCE_FAIL_ON_RECOMPILE);
    tc_wait_compiled(tc);
    for (int k = 0; k < 4; k++) check_call(tc, f, k, 4);
    CHECK_EQ(tc_stats_get(tc).kernels_made, 2);
    tc_close(tc);
}
