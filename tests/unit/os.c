// The system layer: environment, CPU, floating-point control, files, processes.
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

struct tc_ctx {
    tc__core core;
};

static char folder[64];

static void visit_remove(void *arg, int dir, const char *name) {
    (void)arg;
    if (unlinkat(dir, name, 0)) unlinkat(dir, name, AT_REMOVEDIR);
}

static int open_folder(void) {
    strcpy(folder, "/tmp/tcompile-test-XXXXXX");
    if (!mkdtemp(folder)) FAIL("mkdtemp");
    return open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void close_folder(int dir) {
    CHECK(tc__dir_each(dir, visit_remove, NULL));
    close(dir);
    CHECK(!rmdir(folder));
}

static tc_ctx *open_context(struct tc_ctx *c) {
    memset(c, 0, sizeof *c);
    return c;
}

TEST(clock) {
    uint64_t a = tc__now_ns(), b;
    usleep(2000);
    b = tc__now_ns();
    CHECK(b - a >= 2000000 && b - a < 2000000000u);
}

TEST(environment) {
    setenv("TC_TEST_A", "x", 1);
    setenv("TC_TEST_B", "", 1);
    CHECK_STR(tc__env("TC_TEST_A"), "x");
    CHECK(!tc__env("TC_TEST_B"));
    CHECK(!tc__env("TC_TEST_C"));
    CHECK(!tc__is_privileged());
}

TEST(cpu) {
    unsigned f = tc__cpu_features();
    CHECK(tc__cpu_count() >= 1 && tc__cpu_count() <= sysconf(_SC_NPROCESSORS_CONF));
    CHECK(tc__cpu_current() < 100000);
#if TC__X86
    CHECK_EQ(!!(f & TC__CPU_AVX2), !!__builtin_cpu_supports("avx2"));
    CHECK_EQ(!!(f & TC__CPU_FMA), !!__builtin_cpu_supports("fma"));
    CHECK_EQ(!!(f & TC__CPU_AVX512F),
             __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                 __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"));
    CHECK(!(f & TC__CPU_NEON));
#elif TC__ARM64
    CHECK_EQ(f, TC__CPU_NEON);
#endif
}

TEST(cpu_avoided) {
    cpu_set_t before, after;
    int cpu = tc__cpu_current();
    sched_getaffinity(0, sizeof before, &before);
    tc__cpu_avoid(pthread_self(), cpu);
    tc__cpu_avoid(pthread_self(), -1);
    sched_getaffinity(0, sizeof after, &after);
    if (CPU_COUNT(&before) > 1) CHECK(!CPU_ISSET((unsigned)cpu, &after));
    if (CPU_COUNT(&before) > 1) CHECK_EQ(CPU_COUNT(&after), CPU_COUNT(&before) - 1);
    for (cpu = 0; cpu < 64; cpu++) tc__cpu_avoid(pthread_self(), cpu);
    sched_getaffinity(0, sizeof after, &after);
    CHECK(CPU_COUNT(&after) >= 1); // the last CPU stays
}

TEST(fork_mark) {
    volatile uint32_t *mark = tc__fork_mark_open();
    int status = 1;
    pid_t pid;
    if (!mark) SKIP("this system has no such memory");
    CHECK_EQ(*mark, 1);
    pid = fork();
    if (!pid) _exit(*mark != 0);
    waitpid(pid, &status, 0);
    CHECK_EQ(status, 0);
    CHECK_EQ(*mark, 1);
    tc__fork_mark_close(mark);
    tc__fork_mark_close(NULL);
}

TEST(floating_point_control) {
#if TC__X86
    static const unsigned hosts[] = {0x1f80, 0x9fc0, 0x7f80, 0x1f00};
    size_t i;
    for (i = 0; i < 4; i++) {
        tc__fp_state kept;
        volatile float tiny = 1e-38f, half = 0.5f, one = 1.0f, zero = 0.0f, r;
        __builtin_ia32_ldmxcsr(hosts[i]);
        kept = tc__fp_enter();
        CHECK_EQ(__builtin_ia32_stmxcsr() & 0xffc0u, 0x1f80);
        r = tiny * half;
        CHECK(r > 0);                           // not flushed
        if (hosts[i] == 0x1f00) r = one / zero; // does not trap
        tc__fp_leave(kept);
        CHECK_EQ(__builtin_ia32_stmxcsr() & 0xffc0u, hosts[i] & 0xffc0u);
        __builtin_ia32_ldmxcsr(0x1f80);
    }
#endif
    if (test_option("--bench")) {
        uint64_t t = tc__now_ns();
        int k;
        for (k = 0; k < 10000000; k++) {
            tc__fp_state kept = tc__fp_enter();
            __asm__ volatile("" ::: "memory");
            tc__fp_leave(kept);
        }
        printf("fp enter and leave: %.2f ns\n", (double)(tc__now_ns() - t) / 1e7);
    }
}

TEST(files) {
    struct tc_ctx context, *c = open_context(&context);
    char big[10000];
    int dir = open_folder(), i;
    tc__blob b;
    memset(big, 'x', sizeof big);
    CHECK(!tc__file_read(c, dir, "absent", 100, &b) && errno == ENOENT && !b.at);
    CHECK(tc__file_write(dir, "a", "hello", 5));
    CHECK(!tc__file_write(dir, "a", "other", 5) && errno == EEXIST);
    CHECK(tc__file_read(c, dir, "a", 5, &b) && b.size == 5 &&
          !strcmp((char *)b.at, "hello"));
    tc__blob_free(c, &b);
    CHECK(!tc__file_read(c, dir, "a", 4, &b) && errno == EFBIG);
    for (i = 0; i < 10; i++) CHECK(tc__file_replace(dir, "a", big, sizeof big, 1));
    CHECK(tc__file_read(c, dir, "a", 1 << 20, &b) && b.size == sizeof big);
    CHECK_BYTES(b.at, big, sizeof big);
    tc__blob_free(c, &b);
    CHECK(tc__file_write(dir, "empty", "", 0));
    CHECK(tc__file_read(c, dir, "empty", 0, &b) && b.size == 0 && b.at[0] == 0);
    tc__blob_free(c, &b);
    CHECK(!symlinkat("a", dir, "link") && !tc__file_read(c, dir, "link", 1 << 20, &b));
    CHECK(!mkfifoat(dir, "fifo", 0600) && !tc__file_read(c, dir, "fifo", 1 << 20, &b));
    CHECK(!mkdirat(dir, "folder", 0700) && !tc__file_read(c, dir, "folder", 1 << 20, &b));
    CHECK(!tc__file_replace(dir, "folder", big, 1, 2)); // and the temporary is gone:
    close_folder(dir);
    CHECK_EQ(context.core.bytes, 0);
}

TEST(directories) {
    char path[200];
    int dir = open_folder(), fd, umasked = (int)umask(0);
    struct stat s;
    snprintf(path, sizeof path, "%s/a/b/c//", folder);
    fd = tc__dir_open(path);
    CHECK(fd > 2 && !fstat(fd, &s) && (s.st_mode & 0777) == 0700);
    CHECK(tc__is_mine(fd, TC__MINE_ONLY));
    fchmod(fd, 0770);
    CHECK(!tc__is_mine(fd, TC__MINE_ONLY) && tc__is_mine(fd, TC__GROUP_MAY_WRITE));
    fchmod(fd, 0702);
    CHECK(!tc__is_mine(fd, TC__MINE_ONLY) && !tc__is_mine(fd, TC__GROUP_MAY_WRITE));
    close(fd);
    CHECK(!symlinkat("a", dir, "link"));
    CHECK(tc__dir_open_at(dir, "link") < 0);
    snprintf(path, sizeof path, "%s/link/", folder);
    CHECK(tc__dir_open(path) < 0);
    snprintf(path, sizeof path, "%s/link/b", folder); // a parent may be one
    fd = tc__dir_open(path);
    CHECK(fd > 2);
    close(fd);
    CHECK(tc__dir_open("relative") < 0 && tc__dir_open("") < 0);
    CHECK(tc__dir_open("/dev/null") < 0 && tc__dir_open("/dev/null/x") < 0);
    umask((mode_t)umasked);
    snprintf(path, sizeof path, "%s/a/b/c", folder);
    rmdir(path), path[strlen(path) - 2] = 0, rmdir(path);
    close_folder(dir);
}

static int run(tc_ctx *c, tc__proc *p, const char *command, int limit_ms) {
    char sh[] = "/bin/sh", option[] = "-c", text[400];
    char *argv[] = {sh, option, text, NULL};
    char *environment[] = {NULL};
    snprintf(text, sizeof text, "%s", command);
    p->argv = argv;
    if (!tc__proc_start(c, p, environment)) return 0;
    tc__procs_wait(p, 1, limit_ms, NULL);
    p->argv = NULL;
    return 1;
}

TEST(processes) {
    struct tc_ctx context, *c = open_context(&context);
    tc__proc p;
    memset(&p, 0, sizeof p);
    CHECK(run(c, &p, "echo out; echo err >&2; cat; exit 7", 5000));
    CHECK(p.exit_code == 7 && !p.killed_by && !p.timed_out);
    CHECK_STR(p.text.at, "out\nerr\n");
    tc__text_free(&p.text);
    CHECK(run(c, &p, "kill -SEGV $$", 5000) && p.killed_by == SIGSEGV && p.exit_code == -1);
    tc__text_free(&p.text);
    CHECK(run(c, &p, "exec sleep 20", 50) && p.timed_out && p.killed_by == SIGKILL);
    tc__text_free(&p.text);
    CHECK(run(c, &p, "sleep 20 & exit 3", 5000) && p.exit_code == 3 && !p.timed_out);
    tc__text_free(&p.text);
    signal(SIGPIPE, SIG_IGN);
    CHECK(run(c, &p, "kill -PIPE $$; exit 1", 5000) && p.killed_by == SIGPIPE);
    tc__text_free(&p.text);
    CHECK(run(c, &p, "ls /proc/self/fd | wc -l", 5000));
    CHECK(atoi(p.text.at) <= 4); // stdin, stdout, stderr, and that of ls
    tc__text_free(&p.text);
    signal(SIGCHLD, SIG_IGN);
    CHECK(run(c, &p, "echo x; exit 5", 5000) && p.exit_code == -1 && !p.killed_by);
    CHECK_STR(p.text.at, "x\n");
    tc__text_free(&p.text);
    signal(SIGCHLD, SIG_DFL);
    CHECK_EQ(context.core.bytes, 0);
}

TEST(process_that_is_not_there) {
    struct tc_ctx context, *c = open_context(&context);
    char name[] = "/nowhere/program";
    char *argv[] = {name, NULL}, *environment[] = {NULL};
    tc__proc p;
    memset(&p, 0, sizeof p);
    p.argv = argv;
    CHECK(!tc__proc_start(c, &p, environment) && errno == ENOENT);
    tc__procs_wait(&p, 1, 1000, NULL);
    CHECK(p.exit_code == -1 && !p.started);
    tc__text_free(&p.text);
}

TEST(processes_joined_by_a_pipe) {
    struct tc_ctx context, *c = open_context(&context);
    char sh[] = "/bin/sh", option[] = "-c";
    char first[] = "head -c 3000000 /dev/zero; echo done >&2", second[] = "wc -c";
    char *argv[2][4] = {{sh, option, first, NULL}, {sh, option, second, NULL}};
    char *environment[] = {NULL};
    int ends[2];
    tc__proc p[2];
    memset(p, 0, sizeof p);
    CHECK(tc__pipe(ends));
    p[0].argv = argv[0];
    p[0].out = ends[1];
    p[1].argv = argv[1];
    p[1].in = ends[0];
    CHECK(tc__proc_start(c, &p[0], environment) && tc__proc_start(c, &p[1], environment));
    close(ends[0]);
    close(ends[1]);
    tc__procs_wait(p, 2, 5000, NULL);
    CHECK(!p[0].exit_code && !p[1].exit_code);
    CHECK_STR(p[0].text.at, "done\n");
    CHECK_EQ(atoi(p[1].text.at), 3000000);
    tc__text_free(&p[0].text);
    tc__text_free(&p[1].text);
}

TEST(memory_is_limited) {
    struct tc_ctx context, *c = open_context(&context);
    tc__proc p;
    memset(&p, 0, sizeof p);
    CHECK(run(c, &p, "sleep 0.2; ulimit -v; ulimit -c", 5000));
    CHECK_STR(p.text.at, "8388608\n0\n");
    tc__text_free(&p.text);
}

TEST(loading_nonsense) {
    uint8_t bytes[4096];
    uint64_t serial = 0;
    memset(bytes, 0, sizeof bytes);
    CHECK(!tc__dl_load("nonsense", &serial, bytes, sizeof bytes));
    CHECK(dlerror() != NULL);
    memcpy(bytes, "\177ELF\2\1\1", 7);
    CHECK(!tc__dl_load("nonsense", &serial, bytes, sizeof bytes));
    CHECK(!tc__dl_load("nonsense", &serial, bytes, 0));
}
