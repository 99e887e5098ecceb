// A test program in one header: every test runs in a process of its own, so that a crash, a
// hang or a leak of one is one failure and nothing else.
//
//     #include "harness.h"
//     TEST(name) { CHECK(1 + 1 == 2); }
//
//     ./program [--list] [--no-fork] [part of a test's name...] [--other options]
//
// The last line is `N passed, N failed`, with `, N skipped` when something was skipped; the
// exit status is 0 when nothing failed. A test may run TEST_SECONDS (environment, else 180).
// gcc and clang; C99 and C++11. Define TEST_NO_MAIN to have a main of your own.
#ifndef TEST_HARNESS_H
#define TEST_HARNESS_H

#ifndef _GNU_SOURCE
#    define _GNU_SOURCE 1
#endif
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TEST_UNUSED     __attribute__((unused))
#define TEST_PRINTF(at) __attribute__((format(printf, at, at + 1)))

#ifdef __has_feature
#    if __has_feature(address_sanitizer) && !defined(__SANITIZE_ADDRESS__)
#        define __SANITIZE_ADDRESS__ 1
#    endif
#endif
#ifdef __SANITIZE_ADDRESS__
#    ifdef __cplusplus
extern "C"
#    endif
    int
    __lsan_do_recoverable_leak_check(void);
#endif

// Compiled kernels have no sanitizer in them: tests of many do fewer where the rest has.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { TEST_SANITIZED = 1 };
#else
enum { TEST_SANITIZED = 0 };
#endif

// Whether all is wanted: `./build.sh test all`, and what is asked for by name. Without, tests of many
// combinations compile some of them.
TEST_UNUSED static int test_all(void) { return getenv("TEST_ALL") != NULL; }

// Data of no pattern, another for each i and seed: 32 bits, and a number in [-1, 1).
TEST_UNUSED static unsigned test_word(unsigned i, unsigned seed) {
    unsigned x = (i + 1) * 2654435761u + seed * 40503u;
    x ^= x >> 15;
    x *= 2246822519u;
    return x ^ x >> 13;
}

TEST_UNUSED static double test_number(unsigned i, unsigned seed) {
    return (double)(int)test_word(i, seed) / 2147483648.0;
}

// How a test's process ends.
enum { TEST_PASSED = 0, TEST_FAILED = 1, TEST_SKIPPED = 77 };

// Failing checks printed per test; a loop over a million values must not fill the log.
enum { TEST_SHOWN = 20 };

typedef struct test_case {
    const char *name;
    void (*run)(void);
    struct test_case *next; // in the order of definition
} test_case;

// One program is one translation unit, so plain statics will do.
static test_case *test_first, *test_last;
static const char *test_name = "?"; // the running test
static int test_failures;           // failed checks of the running test
static int test_count;              // arguments of the program
static char **test_args;

TEST_UNUSED static void test_add(test_case *t) {
    if (test_last) test_last->next = t;
    if (!test_first) test_first = t;
    test_last = t;
}

#define TEST(name)                                                                         \
    static void test_run_##name(void);                                                     \
    static test_case test_case_##name = {#name, test_run_##name, NULL};                    \
    __attribute__((constructor)) static void test_add_##name(void) {                       \
        test_add(&test_case_##name);                                                       \
    }                                                                                      \
    static void test_run_##name(void)

// ---- checks ----------------------------------------------------------------
// All give 1 when they hold, and go on when they do not; REQUIRE leaves the function.
#define CHECK(...) test_check(!!(__VA_ARGS__), __FILE__, __LINE__, #__VA_ARGS__)
#define REQUIRE(...)                                                                       \
    do {                                                                                   \
        if (!CHECK(__VA_ARGS__)) return;                                                   \
    } while (0)
#define CHECK_EQ(a, b)                                                                     \
    test_check_eq((long long)(a), (long long)(b), __FILE__, __LINE__, #a " == " #b)
#define CHECK_NEAR(a, b, tolerance)                                                        \
    test_check_near((double)(a), (double)(b), (double)(tolerance), __FILE__, __LINE__,     \
                    #a " ~ " #b)
#define CHECK_STR(a, b) test_check_str((a), (b), __FILE__, __LINE__, #a " is " #b)
#define CHECK_BYTES(a, b, size)                                                            \
    test_check_bytes((a), (b), (size), __FILE__, __LINE__, #a " is " #b)
// A failure with a text of your own.
#define FAIL(...) test_fail(__FILE__, __LINE__, __VA_ARGS__)
// Ends the test as skipped.
#define SKIP(reason) test_skip(reason)

TEST_PRINTF(3) static int test_fail(const char *file, int line, const char *format, ...) {
    if (test_failures++ >= TEST_SHOWN) return 0;
    va_list list;
    va_start(list, format);
    printf("%s:%d: %s: ", file, line, test_name);
    vprintf(format, list);
    printf("\n");
    va_end(list);
    fflush(stdout);
    return 0;
}

TEST_UNUSED static int test_check(int holds, const char *file, int line, const char *text) {
    return holds ? 1 : test_fail(file, line, "CHECK(%s)", text);
}

TEST_UNUSED static int test_check_eq(long long a, long long b, const char *file, int line,
                                     const char *text) {
    return a == b ? 1 : test_fail(file, line, "%s: %lld, %lld", text, a, b);
}

// NaN is near NaN, and an infinity near itself.
TEST_UNUSED static int test_check_near(double a, double b, double tolerance,
                                       const char *file, int line, const char *text) {
    double distance = a > b ? a - b : b - a;
    if (distance <= tolerance || memcmp(&a, &b, sizeof a) == 0) return 1;
    if (a != a && b != b) return 1;
    return test_fail(file, line, "%s: %.17g, %.17g differ by %g > %g", text, a, b, distance,
                     tolerance);
}

TEST_UNUSED static int test_check_str(const char *a, const char *b, const char *file,
                                      int line, const char *text) {
    if (a == b || (a && b && strcmp(a, b) == 0)) return 1;
    return test_fail(file, line, "%s:\n  %s\n  %s", text, a ? a : "(null)",
                     b ? b : "(null)");
}

TEST_UNUSED static int test_check_bytes(const void *a, const void *b, size_t size,
                                        const char *file, int line, const char *text) {
    const unsigned char *p = (const unsigned char *)a, *q = (const unsigned char *)b;
    for (size_t i = 0; i < size; i++) {
        if (p[i] == q[i]) continue;
        return test_fail(file, line, "%s: byte %lu of %lu is %02x, not %02x", text,
                         (unsigned long)i, (unsigned long)size, p[i], q[i]);
    }
    return 1;
}

static int test_forks = 1;

TEST_UNUSED static void test_skip(const char *reason) {
    printf("skip  %s: %s\n", test_name, reason);
    fflush(stdout);
    // Without a process of its own the test just goes on to its end.
    if (test_forks) _exit(test_failures ? TEST_FAILED : TEST_SKIPPED);
}

// Was the option, such as "--update", given?
TEST_UNUSED static int test_option(const char *option) {
    for (int i = 1; i < test_count; i++) {
        if (strcmp(test_args[i], option) == 0) return 1;
    }
    return 0;
}

// ---- folders ---------------------------------------------------------------
// A new folder below /tmp, whose name replaces `path`: "/tmp/tc-what-XXXXXX". 0 = failed.
TEST_UNUSED static int test_folder_make(char *path) {
    return mkdtemp(path) || test_fail(__FILE__, __LINE__, "mkdtemp %s", path);
}

// Removes it with all it holds, whatever the permissions inside.
TEST_UNUSED static void test_folder_remove(const char *path) {
    char command[400];
    snprintf(command, sizeof command, "chmod -R u+rwx '%s'; rm -rf '%s'", path, path);
    if (system(command)) test_fail(__FILE__, __LINE__, "rm %s", path);
}

// ---- running ---------------------------------------------------------------
// The body of the child: never returns to the parent's loop.
static void test_child(const test_case *t) {
    setpgid(0, 0);
    test_failures = 0;
    t->run();
#ifdef TEST_HOOK_H
    if (!test_failures && test_blocks)
        test_fail(__FILE__, __LINE__, "%ld blocks of memory are left", test_blocks);
#endif
#ifdef __SANITIZE_ADDRESS__
    if (!test_failures && __lsan_do_recoverable_leak_check()) {
        test_fail(__FILE__, __LINE__, "memory leaked");
    }
#endif
    if (test_failures > TEST_SHOWN) {
        printf("%s: %d more failing checks\n", test_name, test_failures - TEST_SHOWN);
    }
    fflush(stdout);
    _exit(test_failures ? TEST_FAILED : TEST_PASSED);
}

static double test_clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// Waits for the child; after the limit its whole process group is killed.
static int test_wait(pid_t child, double limit) {
    double end = test_clock() + limit;
    long pause = 50 * 1000; // ns, doubled up to 4 ms
    int status = 0;
    while (waitpid(child, &status, WNOHANG) == 0) {
        struct timespec nap = {0, pause};
        nanosleep(&nap, NULL);
        if (pause < 4 * 1000 * 1000) pause *= 2;
        if (test_clock() < end) continue;
        kill(-child, SIGKILL);
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        printf("%s: still running after %g s\n", test_name, limit);
        return TEST_FAILED;
    }
    kill(-child, SIGKILL); // what the test left running
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    printf("%s: killed by signal %d (%s)\n", test_name, WTERMSIG(status),
           strsignal(WTERMSIG(status)));
    return TEST_FAILED;
}

static int test_run_one(const test_case *t, double limit) {
    test_name = t->name;
    fflush(stdout);
    fflush(stderr);
    if (!test_forks) {
        test_failures = 0;
        t->run();
        return test_failures ? TEST_FAILED : TEST_PASSED;
    }
    pid_t child = fork();
    if (child == 0) test_child(t);
    if (child < 0) {
        printf("%s: cannot fork\n", test_name);
        return TEST_FAILED;
    }
    return test_wait(child, limit);
}

// No name given means all; else any argument that is part of the test's name.
static int test_selected(const char *name) {
    int names = 0;
    for (int i = 1; i < test_count; i++) {
        if (test_args[i][0] == '-') continue;
        names++;
        if (strstr(name, test_args[i])) return 1;
    }
    return !names;
}

TEST_UNUSED static int test_main(int count, char **args) {
    const char *seconds = getenv("TEST_SECONDS");
    double limit = seconds ? atof(seconds) : 180;
    int passed = 0, failed = 0, skipped = 0;
    test_count = count;
    test_args = args;
    test_forks = !test_option("--no-fork");
    for (const test_case *t = test_first; t; t = t->next) {
        if (!test_selected(t->name)) continue;
        if (test_option("--list")) {
            printf("%s\n", t->name);
            continue;
        }
        int result = test_run_one(t, limit);
        if (result == TEST_PASSED) passed++;
        if (result == TEST_SKIPPED) skipped++;
        if (result == TEST_PASSED || result == TEST_SKIPPED) continue;
        failed++;
        printf("FAIL  %s\n", t->name);
    }
    printf("%d passed, %d failed", passed, failed);
    if (skipped) printf(", %d skipped", skipped);
    printf("\n");
    return failed != 0;
}

#ifndef TEST_NO_MAIN
int main(int count, char **args) { return test_main(count, args); }
#endif

#endif
