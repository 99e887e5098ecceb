// The C compiler under every misfortune: missing, failing, hanging, lying, killed; a host
// that ignores SIGCHLD; learnt command lines that are wrong. Compilers that misbehave are
// shell scripts. With --bench it prints what a build costs against the plain driver.
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

#include "exec/modules.c"

#include "exec/work.c"

#include "exec/cc_learn.c"

#include "exec/cc.c"

struct tc_ctx {
    tc__core core;
};

// One test: a context, a folder of its own that is also TMPDIR, and a compiler.
typedef struct bed {
    struct tc_ctx context;
    tc_ctx *c;
    char folder[64];  // scripts and notes
    char work[80];    // TMPDIR: must be empty after each build
    char program[96]; // the script
    tc__cache *cache;
    tc__cc *cc;
    tc__cc_options options;
    char path[4096];
} bed;

static void open_bed(bed *b) {
    memset(b, 0, sizeof *b);
    b->c = &b->context;
    b->context.core.log_mask = getenv("LOUD") ? TC__LOG_ALL : 0;
    strcpy(b->folder, "/tmp/tcompile-test-XXXXXX");
    test_folder_make(b->folder);
    snprintf(b->work, sizeof b->work, "%s/work", b->folder);
    snprintf(b->program, sizeof b->program, "%s/cc", b->folder);
    mkdir(b->work, 0700);
    setenv("TMPDIR", b->work, 1);
    b->options.limit_ms = 20000;
}

static int is_empty(const char *folder) {
    DIR *d = opendir(folder);
    int n = 0;
    while (d && readdir(d)) n++;
    if (d) closedir(d);
    return n == 2;
}

static void close_bed(bed *b) {
    CHECK(is_empty(b->work));
    tc__cc_close(b->cc);
    tc__cache_close(b->cache);
    CHECK_EQ(b->context.core.bytes, 0);
    CHECK_EQ(b->context.core.error_item, 0);
    test_folder_remove(b->folder);
}

// The compiler becomes a shell script; "$real" is the true one, $dir the test's folder,
// $out what follows -o.
static void script(bed *b, const char *text) {
    const char *real = getenv("CC") ? getenv("CC") : "cc";
    FILE *f = fopen(b->program, "w");
    if (!f) return;
    fprintf(f, "#!/bin/sh\nreal='%s'\ndir='%s'\n", real, b->folder);
    fprintf(f, "prev=; for w; do [ \"$prev\" = -o ] && out=$w; prev=$w; done\n%s\n", text);
    fclose(f);
    chmod(b->program, 0755);
    b->options.compiler = b->program;
}

// Answers questions as the real compiler does; what follows is for builds only.
#define HONEST_ANSWERS "case \"$*\" in *-###*) exec $real \"$@\" ;; esac\n"

static const char source[] = "__attribute__((visibility(\"default\"))) int answer(int x);\n"
                             "int answer(int x) { return x + 42; }\n";

static int build(bed *b, tc__blob *so) {
    if (!b->cc) b->cc = tc__cc_open(b->c, &b->options, b->cache);
    return tc__cc_build(b->cc, source, strlen(source), so);
}

static tc__dl_function symbol_of(const tc__modules *s, const tc__module *m,
                                 const char *name) {
    void *kernel;
    tc__dl_function f;
    CHECK(!tc__module_find(s, m, name, 0, &kernel) == (kernel != NULL));
    memcpy(&f, &kernel, sizeof f);
    return f;
}

// Builds, loads and calls.
static int works(bed *b) {
    tc__modules modules;
    tc__module *m;
    tc__dl_function f;
    tc__blob so;
    int ok = 0;
    if (!build(b, &so)) return 0;
    tc__modules_init(&modules, b->c);
    m = tc__module_load(&modules, "unit", so.at, so.size);
    f = m ? symbol_of(&modules, m, "answer") : NULL;
    if (f) ok = ((int (*)(int))f)(1) == 43;
    tc__modules_close(&modules);
    tc__blob_free(b->c, &so);
    return ok;
}

static int fails(bed *b) {
    tc__blob so;
    int built = build(b, &so);
    CHECK(built || !so.at);
    tc__blob_free(b->c, &so);
    return !built;
}

TEST(builds) {
    bed b;
    open_bed(&b);
    CHECK(works(&b));
    CHECK(works(&b));
    CHECK_EQ(b.cc->state, TC__CC_DIRECT);
    CHECK_EQ(b.cc->driver_builds, 0);
    CHECK(strstr(tc__cc_identity(b.cc), "ersion"));
    close_bed(&b);
}

TEST(builds_with_each_known_compiler) {
    static const char *const names[] = {"gcc", "clang"};
    size_t i;
    for (i = 0; i < 2; i++) {
        bed b;
        open_bed(&b);
        b.options.compiler = names[i];
        b.cc = tc__cc_open(b.c, &b.options, NULL);
        if (tc__cc_identity(b.cc)) {
            CHECK(works(&b));
            CHECK_EQ(b.cc->state, TC__CC_DIRECT);
            CHECK_EQ(b.cc->driver_builds, 0);
        }
        close_bed(&b);
    }
}

TEST(cpu_flags) {
    static const char vectors[] =
        "typedef float v __attribute__((vector_size(32)));\n"
        "__attribute__((visibility(\"default\"))) v fma8(v a, v b, v c);\n"
        "v fma8(v a, v b, v c) { return __builtin_ia32_vfmaddps256(a, b, c); }\n";
    bed b;
    tc__blob so;
    open_bed(&b);
    b.options.cpu = TC__CPU_AVX2 | TC__CPU_FMA | TC__CPU_F16C;
    b.options.flags = "-Wall -Wextra -Werror";
    b.cc = tc__cc_open(b.c, &b.options, NULL);
    if (TC__X86) CHECK(tc__cc_build(b.cc, vectors, strlen(vectors), &so));
    if (TC__X86) tc__blob_free(b.c, &so);
    CHECK(works(&b));
    close_bed(&b);
}

TEST(many_units_at_once) {
    enum { UNITS = 9 };
    char text[UNITS][160];
    const char *sources[UNITS];
    size_t sizes[UNITS];
    tc__blob so[UNITS];
    tc__modules modules;
    bed b;
    int i;
    open_bed(&b);
    b.cc = tc__cc_open(b.c, NULL, NULL);
    tc__modules_init(&modules, b.c);
    for (i = 0; i < UNITS; i++) {
        snprintf(text[i], sizeof text[i],
                 "__attribute__((visibility(\"default\"))) int unit(void);\n"
                 "int unit(void) { return %d%s; }\n",
                 i, i == 5 ? " oops" : "");
        sources[i] = text[i];
        sizes[i] = strlen(text[i]);
    }
    CHECK(!tc__cc_build_all(b.cc, sources, sizes, UNITS, so));
    for (i = 0; i < UNITS; i++) {
        tc__module *m =
            so[i].at ? tc__module_load(&modules, "unit", so[i].at, so[i].size) : NULL;
        tc__dl_function f = m ? symbol_of(&modules, m, "unit") : NULL;
        CHECK(i == 5 ? !so[i].at : f && ((int (*)(void))f)() == i);
        tc__blob_free(b.c, &so[i]);
    }
    CHECK(strstr(b.cc->why.at, "oops"));
    CHECK_EQ(b.cc->state, TC__CC_DIRECT);
    tc__modules_close(&modules);
    close_bed(&b);
}

TEST(an_error_in_the_source) {
    static const char bad[] = "int f(void) { return undeclared; }\n";
    bed b;
    tc__blob so;
    open_bed(&b);
    b.cc = tc__cc_open(b.c, &b.options, NULL);
    CHECK(!tc__cc_build(b.cc, bad, strlen(bad), &so));
    CHECK(strstr(b.cc->why.at, "undeclared"));
    CHECK(works(&b));
    CHECK_EQ(b.cc->state, TC__CC_DIRECT);
    CHECK_EQ(b.cc->why.size, 0);
    close_bed(&b);
}

TEST(no_compiler) {
    static const char *const names[] = {"/nowhere/cc", "no-such-compiler", "/tmp", "'", ""};
    size_t i;
    for (i = 0; i < TC__COUNT(names); i++) {
        bed b;
        open_bed(&b);
        b.options.compiler = names[i];
        CHECK(fails(&b));
        CHECK(!tc__cc_identity(b.cc));
        close_bed(&b);
    }
}

TEST(none_in_path) {
    bed b;
    open_bed(&b);
    unsetenv("CC");
    setenv("PATH", b.folder, 1);
    CHECK(fails(&b));
    CHECK(strstr(b.cc->why.at, "there is no"));
    setenv("PATH", "/usr/local/bin:/usr/bin:/bin", 1);
    close_bed(&b);
}

TEST(not_executable) {
    bed b;
    open_bed(&b);
    script(&b, "exit 0");
    chmod(b.program, 0644);
    CHECK(fails(&b));
    close_bed(&b);
}

TEST(always_fails) {
    bed b;
    open_bed(&b);
    script(&b, "echo broken installation >&2; exit 1");
    CHECK(fails(&b));
    CHECK(strstr(b.cc->why.at, "broken installation"));
    CHECK(!tc__cc_identity(b.cc));
    close_bed(&b);
}

// Builds that go wrong; the driver's lines are not learnt, so the script is what runs.
TEST(fails_to_build) {
    static const char *const endings[] = {
        "echo no space left >&2; exit 1",
        "exit 0",                         // writes nothing
        ": >\"$out\"",                    // an empty file
        "echo 'not an object' >\"$out\"", // garbage
        "head -c 4096 /dev/urandom >\"$out\"",
        // cut short
        "$real \"$@\"; head -c 700 \"$out\" >\"$out.x\"; mv \"$out.x\" \"$out\"",
        "kill -9 $$",
        "kill -SEGV $$",
        "ln -s /bin/sh \"$out\"",
        "mkdir \"$out\"",
        "mkfifo \"$out\"",
    };
    size_t i;
    for (i = 0; i < TC__COUNT(endings); i++) {
        char text[400];
        bed b;
        open_bed(&b);
        b.options.driver_only = 1;
        snprintf(text, sizeof text, HONEST_ANSWERS "%s", endings[i]);
        script(&b, text);
        if (!CHECK(fails(&b))) printf("    with: %s\n", endings[i]);
        CHECK(b.cc->why.size > 0);
        CHECK(tc__cc_identity(b.cc));
        script(&b, "exec $real \"$@\""); // it is mended
        CHECK(works(&b));
        close_bed(&b);
    }
}

static int note(const bed *b, const char *name) {
    char path[120];
    FILE *f;
    int n = -1;
    snprintf(path, sizeof path, "%s/%s", b->folder, name);
    f = fopen(path, "r");
    if (f && fscanf(f, "%d", &n) != 1) n = -1;
    if (f) fclose(f);
    return n;
}

// A zombie is not alive: in a container nobody may collect it.
static int is_alive(int pid) {
    char path[40], state = 'Z';
    FILE *f;
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    f = fopen(path, "r");
    if (f && fscanf(f, "%*d (%*[^)]) %c", &state) != 1) state = 'Z';
    if (f) fclose(f);
    return f && state != 'Z';
}

TEST(hangs) {
    static const char *const scripts[] = {
        "sleep 50 & echo $! >$dir/pid; wait",
        HONEST_ANSWERS "sleep 50 & echo $! >$dir/pid; wait",
        HONEST_ANSWERS "trap '' TERM INT HUP; sleep 50 & echo $! >$dir/pid; wait; wait",
        HONEST_ANSWERS "exec >&- 2>&-; sleep 50 & echo $! >$dir/pid; wait",
    };
    size_t i;
    for (i = 0; i < TC__COUNT(scripts); i++) {
        bed b;
        uint64_t start;
        int pid, k;
        open_bed(&b);
        b.options.driver_only = 1;
        b.options.limit_ms = 400;
        script(&b, scripts[i]);
        start = tc__now_ns();
        CHECK(fails(&b));
        CHECK(tc__now_ns() - start < 5000000000u);
        if (i) CHECK(strstr(b.cc->why.at, "not done after 400 ms"));
        pid = note(&b, "pid");
        for (k = 0; k < 100 && is_alive(pid); k++) usleep(10000);
        CHECK(pid > 0 && !is_alive(pid)); // what it started is gone too
        close_bed(&b);
    }
}

static volatile uint32_t cancel;

// Nobody wants it any more as soon as the script is at work.
static void *cancel_when_begun(void *arg) {
    const bed *b = (const bed *)arg;
    for (int k = 0; k < 1000 && note(b, "pid") < 0; k++) usleep(5000);
    tc__atomic_store32(&cancel, 1);
    return NULL;
}

// It is ended like one that hangs, but is nobody's failure: what is asked next works.
TEST(is_cancelled) {
    static const char *const scripts[] = {
        // a question, the next question (its kind was guessed wrong), a build
        "sleep 50 & echo $! >$dir/pid; wait",
        "case \"$*\" in *no-unroll*) sleep 50 & echo $! >$dir/pid; wait ;; esac; "
        "echo clang version 99",
        HONEST_ANSWERS "sleep 50 & echo $! >$dir/pid; wait",
        HONEST_ANSWERS "trap '' TERM; sleep 50 & echo $! >$dir/pid; wait; wait",
    };
    for (size_t i = 0; i < TC__COUNT(scripts); i++) {
        bed b;
        pthread_t thread;
        open_bed(&b);
        b.options.driver_only = 1;
        script(&b, scripts[i]);
        b.cc = tc__cc_open(b.c, &b.options, NULL);
        b.cc->cancel = &cancel, cancel = 0;
        CHECK(!pthread_create(&thread, NULL, cancel_when_begun, &b));
        if (!CHECK(fails(&b))) printf("    with: %s\n", scripts[i]);
        pthread_join(thread, NULL);
        CHECK(b.cc->cancelled && !b.cc->passes);
        CHECK(b.cc->state == (i < 2 ? TC__CC_NEW : TC__CC_DRIVER));
        CHECK(strstr(b.cc->why.at, "nobody wants") && !strstr(b.cc->why.at, " ms"));
        int pid = note(&b, "pid");
        for (int k = 0; k < 100 && is_alive(pid); k++) usleep(10000);
        CHECK(pid > 0 && !is_alive(pid));
        CHECK(fails(&b) && b.cc->cancelled); // still not wanted: nothing is begun
        cancel = 0;
        script(&b, "exec $real \"$@\"");
        CHECK(works(&b) && !b.cc->cancelled);
        close_bed(&b);
    }
}

// Of units some are done already, and one does not compile: nobody looks why.
TEST(is_cancelled_among_others) {
    enum { UNITS = 9 };
    static const char *const units[] = {"int f(void) { return 1; }\n",
                                        "int f(void) { oops }\n",
                                        "// slow\nint f(void) { return 1; }\n"};
    const char *sources[UNITS];
    size_t sizes[UNITS];
    tc__blob so[UNITS];
    bed b;
    pthread_t thread;
    open_bed(&b);
    b.options.driver_only = 1;
    script(&b, HONEST_ANSWERS
           "for w; do case $w in *.c) source=$w ;; esac; done\n"
           "grep -q slow $source && { sleep 50 & echo $! >$dir/pid; wait; }\n"
           "exec $real \"$@\"");
    b.cc = tc__cc_open(b.c, &b.options, NULL);
    b.cc->cancel = &cancel, cancel = 0;
    for (int i = 0; i < UNITS; i++)
        sources[i] = units[i < 3 ? i : 0], sizes[i] = strlen(sources[i]);
    CHECK(!pthread_create(&thread, NULL, cancel_when_begun, &b));
    CHECK(!tc__cc_build_all(b.cc, sources, sizes, UNITS, so));
    pthread_join(thread, NULL);
    CHECK(b.cc->cancelled && !b.cc->passes);
    CHECK(!so[1].at && !so[2].at && !so[UNITS - 1].at);
    for (int i = 0; i < UNITS; i++) tc__blob_free(b.c, &so[i]);
    cancel = 0;
    CHECK(works(&b));
    close_bed(&b);
}

// What has left its process group and its session goes as well.
TEST(hangs_in_a_session_of_its_own) {
    static const char *const scripts[] = {
        "setsid sh -c 'echo $$ >'$dir/pid'; exec sleep 50' & wait; sleep 50",
        HONEST_ANSWERS "setsid sh -c 'echo $$ >'$dir/pid'; exec sleep 50' & wait; sleep 50",
        HONEST_ANSWERS
        "setsid sh -c 'echo $$ >'$dir/pid'; sh -c \"sleep 50; :\"' & sleep 50",
    };
    size_t i;
    if (system("setsid true 2>/dev/null")) SKIP("no setsid");
    for (i = 0; i < TC__COUNT(scripts); i++) {
        bed b;
        int pid, k;
        open_bed(&b);
        b.options.driver_only = 1;
        b.options.limit_ms = 1500;
        script(&b, scripts[i]);
        CHECK(fails(&b));
        CHECK(strstr(b.cc->why.at, "not done after 1500 ms"));
        CHECK(b.cc->passes);
        pid = note(&b, "pid");
        for (k = 0; k < 100 && is_alive(pid); k++) usleep(10000);
        CHECK(pid > 0 && !is_alive(pid));
        close_bed(&b);
    }
}

// The host is killed while a compiler hangs that has left its process group: at the next start its
// folder is swept, and what runs there ends.
TEST(host_is_killed) {
    bed b;
    int pid = -1, k, status;
    pid_t host;
    if (system("setsid true 2>/dev/null")) SKIP("no setsid");
    open_bed(&b);
    b.options.driver_only = 1;
    script(
        &b, HONEST_ANSWERS
        "echo $$ >$dir/first; setsid sh -c 'echo $$ >'$dir/pid'; exec sleep 50' & sleep 50");
    host = fork();
    if (!host) _exit(works(&b));
    for (k = 0; k < 1000 && (pid = note(&b, "pid")) < 0; k++) usleep(10000);
    kill(host, SIGKILL);
    CHECK_EQ(waitpid(host, &status, 0), host);
    CHECK(is_alive(pid) && !is_empty(b.work));
    script(&b, "exec $real \"$@\"");
    CHECK(works(&b));
    for (k = 0; k < 100 && is_alive(pid); k++) usleep(10000);
    CHECK(!is_alive(pid) && !is_alive(note(&b, "first")));
    close_bed(&b); // looks whether the folder is empty
}

// What another process works on is left alone.
TEST(a_folder_in_use_is_not_swept) {
    bed b, other;
    tc__work work;
    open_bed(&b);
    other = b;
    other.cc = tc__cc_open(b.c, &b.options, NULL);
    CHECK(tc__cc_work_open(other.cc, &work));
    CHECK(tc__file_write(work.dir, "mine", "x", 1));
    CHECK(works(&b));
    CHECK(!faccessat(work.dir, "mine", F_OK, 0));
    tc__work_close(&work);
    tc__cc_close(other.cc);
    close_bed(&b);
}

// While the compiler runs the folder is exchanged for one with another source and another object,
// by whoever may write in TMPDIR: neither is read.
TEST(the_work_folder_is_exchanged) {
    static const char exchange[] = HONEST_ANSWERS
        "for f in $(find $dir/work -name '*.work'); do\n"
        "  mv $f $f.moved; mkdir $f; cp $dir/evil.c $f/k0.c; cp $dir/evil.so $f/k0.so\n"
        "done\n"
        "$real \"$@\"; status=$?\n"
        "for f in $(find $dir/work -name '*.work'); do\n"
        "  [ -f $f/k0.so ] && cp $dir/evil.so $f/k0.so\n"
        "done\n"
        "exit $status";
    bed b;
    char line[400];
    int by_path;
    for (by_path = 0; by_path < 2; by_path++) {
        open_bed(&b);
        snprintf(
            line, sizeof line,
            "cd %s && echo '__attribute__((visibility(\"default\"))) int answer(int x) "
            "{ return 7 * x; }' >evil.c && cc -shared -fPIC -o evil.so evil.c",
            b.folder);
        CHECK(!system(line));
        b.options.driver_only = 1, b.options.by_path = by_path;
        script(&b, exchange);
        CHECK(works(&b)); // 1 + 42, not 7
        test_folder_remove(b.work), mkdir(b.work, 0700);
        close_bed(&b);
    }
}

// Where others may rename, nothing is put; the cache has room for it.
TEST(temporary_files_where_others_may_rename) {
    char path[100];
    bed b;
    open_bed(&b);
    chmod(b.work, 0777);
    CHECK(fails(&b));
    CHECK(strstr(b.cc->why.at, "others may rename there") && !b.cc->passes);
    tc__cc_close(b.cc);
    b.cc = NULL;
    snprintf(path, sizeof path, "%s/cache", b.folder);
    b.cache = tc__cache_open(b.c, path);
    CHECK(works(&b));
    CHECK(is_empty(b.work));
    tc__cc_close(b.cc);
    b.cc = NULL;
    chmod(b.work, 01777);
    CHECK(works(&b));
    close_bed(&b);
}

TEST(works_by_the_path_of_a_descriptor) {
    bed b;
    open_bed(&b);
    b.options.by_path = 1;
    CHECK(works(&b));
    CHECK_EQ(b.cc->state, TC__CC_DIRECT);
    CHECK_EQ(b.cc->driver_builds, 0);
    close_bed(&b);
}

// The process may write no file beyond some bytes: the build fails, or does not, and nobody dies.
TEST(limited_size_of_files) {
    static const rlim_t most[] = {0, 10, 100, 4096, 16384, 1 << 20};
    size_t i;
    for (i = 0; i < TC__COUNT(most); i++) {
        struct rlimit limit;
        bed b;
        open_bed(&b);
        getrlimit(RLIMIT_FSIZE, &limit);
        limit.rlim_cur = most[i];
        setrlimit(RLIMIT_FSIZE, &limit);
        (void)works(&b);
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_FSIZE, &limit);
        CHECK(works(&b));
        close_bed(&b);
    }
}

// The same path of /proc leads to other bytes each time: by turns two libraries of one descriptor.
TEST(loads_what_it_was_given) {
    char text[2][160];
    tc__blob so[2];
    bed b;
    int i;
    open_bed(&b);
    b.cc = tc__cc_open(b.c, &b.options, NULL);
    for (i = 0; i < 2; i++) {
        snprintf(text[i], sizeof text[i],
                 "__attribute__((visibility(\"default\"))) int unit(void);\n"
                 "int unit(void) { return %d; }\n",
                 i);
        CHECK(tc__cc_build(b.cc, text[i], strlen(text[i]), &so[i]));
    }
    for (i = 0; i < 40; i++) {
        uint64_t serial = (uint64_t)(i / 2 % 3); // counters of several that begin anew
        void *h = tc__dl_load("t", &serial, so[i & 1].at, so[i & 1].size);
        tc__dl_function f = h ? tc__dl_symbol(h, "unit") : NULL;
        CHECK(f && ((int (*)(void))f)() == (i & 1)); // all stay loaded
    }
    for (i = 0; i < 2; i++) tc__blob_free(b.c, &so[i]);
    close_bed(&b);
}

// Without memfd by a file that is gone again: of a new name, whatever a killed process left, and with the
// path of /proc that spells the counter, not the time.
TEST(loads_by_a_file) {
    uint64_t serial = 7;
    char left[200];
    tc__blob so;
    bed b;
    open_bed(&b);
    CHECK(build(&b, &so));
    snprintf(left, sizeof left, "%s/.tcompile.%ld.%llx.8.so", b.work, (long)getpid(),
             (unsigned long long)(uintptr_t)&serial);
    fclose(fopen(left, "w"));
    void *h = tc__dl_load_file(&serial, so.at, so.size);
    tc__dl_function f = h ? tc__dl_symbol(h, "answer") : NULL;
    CHECK(f && ((int (*)(int))f)(1) == 43);
    CHECK(serial >= 9);
    CHECK(!unlink(left) && is_empty(b.work));
    tc__blob_free(b.c, &so);
    close_bed(&b);
}

// "For this CPU" is other code on another CPU: its meaning is a part of the key.
TEST(native_is_expanded) {
    char command[64];
    bed b;
    int n;
    for (n = 0; n < 2; n++) {
        open_bed(&b);
        snprintf(command, sizeof command, "%s%s", TC__X86 ? "gcc -mtune=generic" : "gcc",
                 n ? TC__X86 ? " -march=native" : " -mcpu=native" : "");
        b.options.compiler = command;
        if (works(&b)) {
            const char *said = tc__cc_identity(b.cc);
            if (TC__X86) CHECK(!strstr(said, "cpuid 7 ") == !n);
            if (TC__X86) CHECK(!strstr(said, "\n-quiet\n") == !n); // words of cc1
            if (n && TC__X86 && tc__cpu_of(b.c) & TC__CPU_AVX2)
                CHECK(strstr(said, "\n-mavx2\n"));
        }
        close_bed(&b);
    }
}

// A grandchild keeps the pipe open; it must not be waited for.
TEST(leaves_a_process_behind) {
    bed b;
    uint64_t start;
    open_bed(&b);
    b.options.driver_only = 1;
    script(&b, HONEST_ANSWERS "sleep 50 & echo $! >$dir/pid; exec $real \"$@\"");
    start = tc__now_ns();
    CHECK(works(&b));
    CHECK(tc__now_ns() - start < 10000000000u);
    close_bed(&b);
}

TEST(floods_us_with_text) {
    bed b;
    open_bed(&b);
    b.options.driver_only = 1;
    script(&b, HONEST_ANSWERS "head -c 20000000 /dev/zero | tr '\\0' x >&2; exit 1");
    CHECK(fails(&b));
    CHECK(b.cc->why.size > 1000 && b.cc->why.size < TC__PROC_TEXT + 1000);
    close_bed(&b);
}

TEST(runs_without_the_hosts_environment) {
    bed b;
    open_bed(&b);
    setenv("LD_PRELOAD", "", 1);
    setenv("GCC_EXEC_PREFIX", "/nowhere/", 1);
    setenv("C_INCLUDE_PATH", "/nowhere", 1);
    setenv("CCACHE_DIR", "/tmp", 1);
    b.options.driver_only = 1;
    script(&b, "env >$dir/env; exec $real \"$@\"");
    CHECK(works(&b));
    {
        char path[120], text[8192];
        FILE *f;
        size_t n = 0;
        snprintf(path, sizeof path, "%s/env", b.folder);
        f = fopen(path, "r");
        if (f) n = fread(text, 1, sizeof text - 1, f), fclose(f);
        text[n] = 0;
        CHECK(strstr(text, "LC_ALL=C\n") && strstr(text, "PATH=") &&
              strstr(text, "CCACHE_DIR"));
        CHECK(!strstr(text, "LD_PRELOAD") && !strstr(text, "GCC_EXEC") &&
              !strstr(text, "C_INCLUDE"));
    }
    unsetenv("GCC_EXEC_PREFIX");
    close_bed(&b);
}

TEST(a_command_with_quotes) {
    char command[300], folder[80];
    bed b;
    open_bed(&b);
    snprintf(folder, sizeof folder, "%s/a folder", b.folder);
    mkdir(folder, 0700);
    snprintf(b.program, sizeof b.program, "%s/my cc", folder);
    script(&b, "for w; do [ \"$w\" = '-DX=a b$(\"`' ] && exec $real \"$@\"; done; exit 1");
    snprintf(command, sizeof command, " \t'%s/my cc'  -DX=\"a b$(\\\"\\`\" ", folder);
    b.options.compiler = command;
    CHECK(works(&b));
    close_bed(&b);
}

TEST(host_ignores_sigchld) {
    bed b;
    open_bed(&b);
    signal(SIGCHLD, SIG_IGN);
    CHECK(works(&b));
    CHECK(b.cc->driver_builds == 1 && b.cc->state == TC__CC_DIRECT);
    tc__cc_close(b.cc);
    b.cc = NULL;
    b.options.driver_only = 1;
    script(&b, HONEST_ANSWERS "exit 1");
    CHECK(fails(&b));
    signal(SIGCHLD, SIG_DFL);
    close_bed(&b);
}

static void reap_all(int number) {
    int kept = errno;
    (void)number;
    while (waitpid(-1, NULL, WNOHANG) > 0) {
    }
    errno = kept;
}

TEST(host_reaps_every_child) {
    bed b;
    int i;
    open_bed(&b);
    signal(SIGCHLD, reap_all);
    for (i = 0; i < 5; i++) CHECK(works(&b));
    signal(SIGCHLD, SIG_DFL);
    close_bed(&b);
}

TEST(host_without_standard_files) {
    bed b;
    int kept = dup(1);
    open_bed(&b);
    close(0);
    close(1);
    close(2);
    {
        int ok = works(&b);
        dup2(kept, 0), dup2(kept, 1), dup2(kept, 2);
        CHECK(ok);
    }
    close_bed(&b);
}

TEST(out_of_descriptors) {
    struct rlimit few, many;
    bed b;
    int n;
    open_bed(&b);
    CHECK(works(&b));
    getrlimit(RLIMIT_NOFILE, &many);
    few = many;
    for (n = 4; n < 14; n++) {
        few.rlim_cur = (rlim_t)n;
        setrlimit(RLIMIT_NOFILE, &few);
        (void)works(&b); // may fail; must not crash, leak or lose faith in the compiler
    }
    setrlimit(RLIMIT_NOFILE, &many);
    while (!is_empty(b.work) && n-- > 0) test_folder_remove(b.work), mkdir(b.work, 0700);
    CHECK(works(&b));
    close_bed(&b);
}

TEST(no_place_to_work) {
    bed b;
    open_bed(&b);
    chmod(b.work, 0500);
    if (geteuid()) CHECK(fails(&b));
    chmod(b.work, 0700);
    setenv("TMPDIR", "/nowhere/at/all", 1);
    tc__cc_close(b.cc);
    b.cc = NULL;
    CHECK(fails(&b));
    setenv("TMPDIR", "relative", 1);
    tc__cc_close(b.cc);
    b.cc = NULL;
    CHECK(works(&b)); // in /tmp
    close_bed(&b);
}

static void open_cache(bed *b) {
    char path[100];
    snprintf(path, sizeof path, "%s/cache", b->folder);
    tc__cache_close(b->cache);
    b->cache = tc__cache_open(b->c, path);
}

static int count_lines(const bed *b, const char *name) {
    char path[120];
    FILE *f;
    int n = 0, ch;
    snprintf(path, sizeof path, "%s/%s", b->folder, name);
    f = fopen(path, "r");
    while (f && (ch = fgetc(f)) != EOF) n += ch == '\n';
    if (f) fclose(f);
    return n;
}

// Two processes ask the driver once.
TEST(lines_are_kept_on_disk) {
    char identity[4096];
    bed b;
    int runs;
    open_bed(&b);
    open_cache(&b);
    script(&b, "echo x >>$dir/runs; exec $real \"$@\"");
    CHECK(works(&b));
    snprintf(identity, sizeof identity, "%s", tc__cc_identity(b.cc));
    runs = count_lines(&b, "runs");
    CHECK(runs == 1 || runs == 2); // 2 where "cc" is clang: its kind was guessed wrong
    tc__cc_close(b.cc);
    b.cc = NULL;
    open_cache(&b);
    CHECK(works(&b));
    CHECK_EQ(count_lines(&b, "runs"), runs);
    CHECK_STR(identity, tc__cc_identity(b.cc));
    tc__cc_close(b.cc);
    b.cc = NULL;
    script(&b, "echo x >>$dir/runs;  exec $real \"$@\""); // another compiler, by its size
    CHECK(works(&b));
    CHECK_EQ(count_lines(&b, "runs"), 2 * runs);
    CHECK(strcmp(identity, tc__cc_identity(b.cc)));
    close_bed(&b);
}

// The learnt lines name programs that do not do it; the driver does.
TEST(wrong_lines_lead_to_the_driver) {
    static const char *const tools[] = {
        "exit 1", "exit 0", "echo garbage", "kill -9 $$", "cat >/dev/null; echo; exit 0",
    };
    size_t i;
    for (i = 0; i < TC__COUNT(tools); i++) {
        char path[100];
        FILE *f;
        bed b;
        open_bed(&b);
        open_cache(&b);
        snprintf(path, sizeof path, "%s/ld", b.folder);
        f = fopen(path, "w");
        fprintf(f, "#!/bin/sh\n%s\n", tools[i]);
        fclose(f);
        chmod(path, 0755);
        script(&b,
               "case \"$*\" in *-###*) exec $real \"$@\" 2>&1 |"
               " sed \"s: [^ ]*/\\(collect2\\|ld\\)\\\"*\\( .*\\): $dir/ld\\2:\" >&2 ;;\n"
               "esac\nexec $real \"$@\"");
        CHECK(works(&b));
        CHECK_EQ(b.cc->state, TC__CC_DRIVER);
        CHECK_EQ(b.cc->driver_builds, 1);
        tc__cc_close(b.cc);
        b.cc = NULL;
        CHECK(works(&b));
        CHECK_EQ(b.cc->state, TC__CC_DRIVER); // remembered
        close_bed(&b);
    }
}

TEST(strange_answers) {
    static const char *const answers[] = {
        "echo gcc version 99 >&2",
        "echo gcc version 99 >&2; echo ' /bin/true' >&2",
        "echo gcc version 99 >&2; echo ' cc1 \"unfinished' >&2; printf ' as\\n ld\\n' >&2",
        "echo clang version 99 >&2; echo ' \"/usr/bin/ld\" \"-o\" \"x' >&2",
        "echo a compiler nobody knows >&2",
        "$real \"$@\"; exec $real \"$@\"",
        "head -c 100000 /dev/urandom >&2",
    };
    size_t i;
    for (i = 0; i < TC__COUNT(answers); i++) {
        char text[300];
        bed b;
        open_bed(&b);
        open_cache(&b);
        snprintf(text, sizeof text,
                 "case \"$*\" in *-###*) %s; exit 0 ;; esac\nexec $real \"$@\"",
                 answers[i]);
        script(&b, text);
        if (!CHECK(works(&b))) printf("    with: %s\n%s", answers[i], b.cc->why.at);
        CHECK_EQ(b.cc->state, TC__CC_DRIVER);
        close_bed(&b);
    }
}

// A reused descriptor number must not give the library loaded under it before.
TEST(loads_the_right_bytes) {
    tc__modules modules;
    bed b;
    int i, k;
    open_bed(&b);
    b.cc = tc__cc_open(b.c, NULL, NULL);
    tc__modules_init(&modules, b.c);
    for (i = 0; i < 6; i++) {
        char text[120];
        tc__module *m;
        tc__blob so;
        snprintf(text, sizeof text,
                 "__attribute__((visibility(\"default\"))) int n(void);\n"
                 "int n(void) { return %d; }\n",
                 i);
        if (!CHECK(tc__cc_build(b.cc, text, strlen(text), &so))) break;
        for (k = 0; k < 20; k++) {
            m = tc__module_load(&modules, "unit", so.at, so.size);
            if (!CHECK(m)) break;
            CHECK_EQ(((int (*)(void))symbol_of(&modules, m, "n"))(), i);
            CHECK(!symbol_of(&modules, m, "absent"));
            if (k % 2) tc__module_release(&modules, m);
        }
        CHECK(modules.all.count == (size_t)i + 1 && modules.all.at[i]->users == 10);
        tc__blob_free(b.c, &so);
    }
    CHECK(!tc__module_load(&modules, "unit", "garbage", 7));
    tc__modules_close(&modules);
    close_bed(&b);
}

// ---- cost

static const char kernel[] =
    "typedef float vf __attribute__((vector_size(32), aligned(4), may_alias));\n"
    "typedef int vi __attribute__((vector_size(32)));\n"
    "static inline vf splat(float x) { return (vf){x, x, x, x, x, x, x, x}; }\n"
    "static inline vf vexp(vf x) {\n"
    "    vf n = x * 1.44269504f + 12582912.0f, f, p; vi k;\n"
    "    k = (vi)n << 23; n = n - 12582912.0f; f = x - n * 0.693147182f;\n"
    "    p = splat(0.00833f); p = p * f + 0.0416667f; p = p * f + 0.1666667f;\n"
    "    p = p * f + 0.5f; p = p * f + 1.0f; p = p * f + 1.0f;\n"
    "    return (vf)((vi)p + k);\n"
    "}\n"
    "__attribute__((visibility(\"default\")))\n"
    "void gelu(float *o, const float *x, const float *a, float b, long n) {\n"
    "    for (long i = 0; i + 8 <= n; i += 8) {\n"
    "        vf v = *(const vf *)(x + i) * *(const vf *)(a + i) + b;\n"
    "        vf u = v * 0.7978845608f * (v * v * 0.044715f + 1.0f);\n"
    "        vf e = vexp(u * -2.0f);\n"
    "        *(vf *)(o + i) = v / (e + 1.0f);\n"
    "    }\n"
    "}\n";

static int by_value(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static uint64_t time_build(tc__cc *cc) {
    tc__blob so;
    uint64_t start = tc__now_ns();
    CHECK(tc__cc_build(cc, kernel, strlen(kernel), &so));
    start = tc__now_ns() - start;
    tc__blob_free(cc->ctx, &so);
    return start;
}

// `cc -O2 -shared` with nothing else around it.
static uint64_t time_plain(bed *b, const char *name) {
    char source_path[120], so_path[120];
    tc__proc p;
    char o2[] = "-O2", shared[] = "-shared", pic[] = "-fPIC", o[] = "-o", cpu[] = "-mavx2";
    char *argv[] = {NULL, o2, shared, pic, cpu, o, so_path, source_path, NULL};
    uint64_t start = tc__now_ns();
    FILE *f;
    snprintf(source_path, sizeof source_path, "%s/plain.c", b->folder);
    snprintf(so_path, sizeof so_path, "%s/plain.so", b->folder);
    f = fopen(source_path, "w");
    fputs(kernel, f);
    fclose(f);
    memset(&p, 0, sizeof p);
    argv[0] = strdup(tc__cc_find(b->cc, name, getenv("PATH")));
    p.argv = argv;
    CHECK(tc__proc_start(b->c, &p, environ));
    tc__procs_wait(&p, 1, 20000, NULL);
    CHECK_EQ(p.exit_code, 0);
    tc__text_free(&p.text);
    free(argv[0]);
    return tc__now_ns() - start;
}

TEST(bench) {
    static const char *const names[] = {"gcc", "clang"};
    enum { ROUNDS = 41 };
    uint64_t t[3][ROUNDS];
    int i, k, rounds = test_option("--bench") ? ROUNDS : 1;
    for (i = 0; i < 2; i++) {
        tc__cc *driver;
        bed b;
        open_bed(&b);
        b.options.compiler = names[i];
        b.options.cpu = TC__X86 ? TC__CPU_AVX2 : 0;
        b.cc = tc__cc_open(b.c, &b.options, NULL);
        b.options.driver_only = 1;
        driver = tc__cc_open(b.c, &b.options, NULL);
        if (tc__cc_identity(b.cc) && tc__cc_identity(driver)) {
            for (k = 0; k < rounds; k++) {
                t[0][k] = time_build(b.cc);
                t[1][k] = time_build(driver);
                t[2][k] = time_plain(&b, names[i]);
            }
            for (k = 0; k < 3; k++) qsort(t[k], (size_t)rounds, sizeof **t, by_value);
            if (rounds > 1) {
                printf(
                    "%s: direct %.1f ms, driver with our flags %.1f, cc -O2 -shared %.1f; "
                    "direct / plain %.2f\n",
                    names[i], 1e-6 * (double)t[0][rounds / 2],
                    1e-6 * (double)t[1][rounds / 2], 1e-6 * (double)t[2][rounds / 2],
                    (double)t[0][rounds / 2] / (double)t[2][rounds / 2]);
            }
        }
        tc__cc_close(driver);
        close_bed(&b);
    }
}
