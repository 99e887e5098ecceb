// gen/cuda/nvrtc.c: the kernels of tests/golden through NVRTC as the runtime calls it, on
// one thread and on several, errors, where the library is looked for, and which
// architecture is chosen. What needs NVRTC is skipped where it is not installed.
#define TCOMPILE_IMPLEMENTATION
#define TCOMPILE_CUDA_IMPLEMENTATION
#include "tcompile_cuda.in.h"

#include "harness.h"
#include "tools/nvrtc.h"

static const char *const golden[] = {"pointwise", "softmax", "symbolic", "transpose"};
enum { GOLDEN = 4 };

static size_t host_bytes;

static void *counted(void *user, void *p, size_t old, size_t size) {
    (void)user;
    void *q = size ? realloc(p, size) : (free(p), (void *)NULL);
    __atomic_fetch_add(&host_bytes, size - (p ? old : 0), __ATOMIC_RELAXED);
    return q;
}

static const tc_allocator hook = {counted, NULL};
static tcu__nvrtc compiler;
static tcu__trouble trouble;

// An open compiler, or the test is skipped.
static int have_nvrtc(void) {
    if (!tcu__nvrtc_open(&compiler, &trouble)) SKIP(trouble.text);
    return compiler.library != NULL;
}

static tcu__arch arch_of(const char *name, int cubin) {
    tcu__arch a;
    memset(&a, 0, sizeof a);
    snprintf(a.name, sizeof a.name, "%s", name);
    snprintf(a.native, sizeof a.native, "%s", name);
    a.cubin = cubin;
    return a;
}

static const char *const strict[] = {"-fmad=false"};

// Jobs for all golden kernels; their texts are of malloc.
static void golden_jobs(tcu__job *job) {
    char path[300];
    memset(job, 0, GOLDEN * sizeof *job);
    for (int i = 0; i < GOLDEN; i++) {
        snprintf(path, sizeof path, "tests/golden/%s.cu", golden[i]);
        job[i].name = golden[i];
        job[i].source = nvrtc_read(path);
        job[i].options = strict;
        job[i].n_options = 1;
        CHECK(job[i].source != NULL);
    }
}

static void free_jobs(tcu__job *job, int count) {
    for (int i = 0; i < count; i++) {
        tcu__job_free(&hook, &job[i]);
        free((void *)(uintptr_t)job[i].source);
    }
    CHECK_EQ(host_bytes, 0);
}

static void check_golden(const char *name) {
    tcu__arch arch = arch_of(name, 1);
    tcu__job job[GOLDEN];
    golden_jobs(job);
    CHECK(tcu__compile(&compiler, &hook, &arch, job, GOLDEN, 2, &trouble) ||
          FAIL("%s", trouble.text));
    for (int i = 0; i < GOLDEN; i++) {
        REQUIRE(job[i].ok && job[i].cubin && job[i].ptx);
        CHECK_BYTES(job[i].cubin, "\177ELF", 4);
        CHECK(strstr(job[i].ptx, name) != NULL); // .target
        CHECK_EQ(strlen(job[i].ptx) + 1, job[i].ptx_size);
        CHECK(!job[i].log || !strstr(job[i].log, "warning") || FAIL("%s", job[i].log));
    }
    free_jobs(job, GOLDEN);
}

TEST(golden_sm_80) {
    if (have_nvrtc()) check_golden("sm_80");
}
TEST(golden_sm_89) {
    if (have_nvrtc()) check_golden("sm_89");
}
TEST(golden_sm_90a) {
    if (have_nvrtc()) check_golden("sm_90a");
}

TEST(threads_give_the_same) {
    tcu__arch arch = arch_of("sm_90a", 1);
    tcu__job one[GOLDEN], four[GOLDEN];
    if (!have_nvrtc()) return;
    golden_jobs(one);
    golden_jobs(four);
    REQUIRE(tcu__compile(&compiler, &hook, &arch, one, GOLDEN, 1, &trouble));
    REQUIRE(tcu__compile(&compiler, &hook, &arch, four, GOLDEN, 4, &trouble));
    for (int i = 0; i < GOLDEN; i++) {
        REQUIRE(one[i].cubin_size == four[i].cubin_size);
        CHECK_BYTES(one[i].cubin, four[i].cubin, one[i].cubin_size);
    }
    for (int i = 0; i < GOLDEN; i++) {
        tcu__job_free(&hook, &one[i]);
        free((void *)(uintptr_t)one[i].source);
    }
    free_jobs(four, GOLDEN);
}

static tcu__job job_of(const char *name, const char *source) {
    tcu__job j;
    memset(&j, 0, sizeof j);
    j.name = name;
    j.source = source;
    return j;
}

// One of several fails: the others are made, and the reason has the compiler's words.
TEST(error_has_the_log) {
    tcu__arch arch = arch_of("sm_80", 1);
    tcu__job job[3];
    if (!have_nvrtc()) return;
    job[0] = job_of("good", "extern \"C\" __global__ void good(float *x) { *x = 1.0f; }");
    job[1] =
        job_of("bad.cu", "extern \"C\" __global__ void bad(float *x) { *x = missing; }");
    job[2] = job[0];
    CHECK(!tcu__compile(&compiler, &hook, &arch, job, 3, 3, &trouble));
    CHECK_EQ(trouble.status, TC_E_COMPILER);
    CHECK(strstr(trouble.text, "does not compile bad.cu for sm_80") != NULL);
    CHECK(strstr(trouble.text, "\"missing\" is undefined") != NULL);
    CHECK(job[0].ok && !job[1].ok && job[2].ok);
    CHECK(!job[1].cubin && job[1].log && strstr(job[1].log, "bad.cu(1)"));
    for (int i = 0; i < 3; i++) tcu__job_free(&hook, &job[i]);
    CHECK_EQ(host_bytes, 0);
}

TEST(options_are_checked) {
    const char *option[] = {"--no-such-option"}, *many[40];
    tcu__arch arch = arch_of("sm_80", 1);
    tcu__job job = job_of("good", "__global__ void good(float *x) { *x = 1.0f; }");
    if (!have_nvrtc()) return;
    job.options = option;
    job.n_options = 1;
    CHECK(!tcu__compile(&compiler, &hook, &arch, &job, 1, 1, &trouble));
    CHECK(strstr(job.why, "no-such-option") || FAIL("%s", job.why));
    tcu__job_free(&hook, &job);
    for (int i = 0; i < 40; i++) many[i] = "-lineinfo";
    job.options = many;
    job.n_options = 40;
    CHECK(!tcu__compile(&compiler, &hook, &arch, &job, 1, 1, &trouble));
    CHECK(strstr(job.why, "40 options are too many") || FAIL("%s", job.why));
    CHECK_EQ(host_bytes, 0);
}

// For a device that NVRTC does not know there is PTX only.
TEST(ptx_alone) {
    tcu__arch arch = arch_of("compute_80", 0);
    tcu__job job =
        job_of("good", "extern \"C\" __global__ void good(float *x) { *x = 1; }");
    if (!have_nvrtc()) return;
    CHECK(tcu__compile(&compiler, &hook, &arch, &job, 1, 1, &trouble));
    CHECK(!job.cubin && job.ptx && strstr(job.ptx, ".target sm_80"));
    tcu__job_free(&hook, &job);
    CHECK_EQ(host_bytes, 0);
}

// ---- architectures

TEST(arch) {
    static const struct {
        int major, minor, cubin;
        const char *name; // NULL: refused
        int native;       // it has instructions of its own
    } row[] = {
        {7, 5, 1, "sm_75", 0},   {8, 0, 1, "sm_80", 0},   {8, 6, 1, "sm_86", 0},
        {8, 9, 1, "sm_89", 0},   {9, 0, 1, "sm_90", 1},   {10, 0, 1, "sm_100", 1},
        {10, 3, 1, "sm_103", 1}, {10, 1, 1, "sm_100", 0}, {12, 0, 1, "sm_120", 0},
        {12, 1, 1, "sm_121", 0}, {11, 0, 1, "sm_110", 0}, {13, 0, 0, "compute_121", 0},
        {8, 2, 1, "sm_80", 0},   {7, 0, 0, NULL, 0},      {6, 1, 0, NULL, 0}};
    static const int known[] = {75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121};
    tcu__nvrtc n;
    memset(&n, 0, sizeof n);
    memcpy(n.arch, known, sizeof known);
    n.archs = (int)(sizeof known / sizeof *known);
    n.major = 13;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        tcu__arch a;
        memset(&trouble, 0, sizeof trouble);
        int ok = tcu__arch_choose(&n, row[i].major, row[i].minor, &a, &trouble);
        CHECK_EQ(ok, row[i].name != NULL);
        if (!row[i].name) CHECK(strstr(trouble.text, "compiles for 7.5 and newer") != NULL);
        if (!ok || !row[i].name) continue;
        CHECK_STR(a.name, row[i].name);
        size_t same = strlen(a.name);
        CHECK(!strncmp(a.native, a.name, same));
        CHECK_STR(a.native + same, row[i].native ? "a" : "");
        CHECK_EQ(a.cubin, row[i].cubin);
    }
}

// NVRTC compiles what is chosen for each device it knows.
TEST(arch_compiles) {
    if (!have_nvrtc()) return;
    for (int i = 0; i < 2 * compiler.archs; i++) {
        tcu__arch a;
        tcu__job job =
            job_of("good", "extern \"C\" __global__ void good(float *x) { *x = 1; }");
        int version = compiler.arch[i / 2];
        job.native = i % 2;
        REQUIRE(tcu__arch_choose(&compiler, version / 10, version % 10, &a, &trouble));
        CHECK(a.cubin);
        CHECK(tcu__compile(&compiler, &hook, &a, &job, 1, 1, &trouble) ||
              FAIL("%s: %s", a.name, trouble.text));
        CHECK(job.ptx && strstr(job.ptx, job.native ? a.native + 3 : a.name + 3));
        tcu__job_free(&hook, &job);
    }
}

// ---- where it is

TEST(missing) {
    setenv("TC_NVRTC_LIBRARY", "/nonexistent/libnvrtc.so", 1);
    CHECK(!tcu__nvrtc_open(&compiler, &trouble));
    CHECK(
        strstr(trouble.text, "TC_NVRTC_LIBRARY=/nonexistent/libnvrtc.so cannot be loaded"));
    CHECK_EQ(trouble.status, TC_E_COMPILER);
    // The reason is kept; nothing is looked for again.
    setenv("TC_NVRTC_LIBRARY", "libm.so.6", 1);
    tcu__trouble_clear(&trouble);
    tcu__job job = job_of("good", "");
    tcu__arch arch = arch_of("sm_80", 1);
    CHECK(!tcu__compile(&compiler, &hook, &arch, &job, 1, 1, &trouble));
    CHECK(strstr(trouble.text, "/nonexistent/") != NULL);
    tcu__nvrtc_close(&compiler);
    tcu__trouble_clear(&trouble);
    CHECK(!tcu__nvrtc_open(&compiler, &trouble));
    CHECK(strstr(trouble.text, "libm.so.6 lacks nvrtcVersion") || FAIL("%s", trouble.text));
    tcu__nvrtc_close(&compiler);
}

// A copy elsewhere, named by the variable: its own builtins are loaded with it.
TEST(named_copy) {
    char folder[] = "/tmp/tc-nvrtc-XXXXXX", command[2000], path[400];
    if (!have_nvrtc()) return;
    const char *slash = strrchr(compiler.path, '/');
    REQUIRE(slash && test_folder_make(folder));
    snprintf(command, sizeof command, "ln -s %.*s/libnvrtc* %s",
             (int)(slash - compiler.path), compiler.path, folder);
    CHECK_EQ(system(command), 0);
    tcu__nvrtc_close(&compiler);
    const char *name = "libnvrtc.so.13";
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (access(path, F_OK)) snprintf(path, sizeof path, "%s/libnvrtc.so", folder);
    setenv("TC_NVRTC_LIBRARY", path, 1);
    CHECK(tcu__nvrtc_open(&compiler, &trouble));
    CHECK(compiler.builtins != NULL);
    test_folder_remove(folder);
}

// A loader without its cache knows the default folders only. This one runs in such a
// process, by the next test; elsewhere it is one more compile.
TEST(one_compile) {
    tcu__arch arch = arch_of("sm_80", 1);
    tcu__job job =
        job_of("good", "extern \"C\" __global__ void good(float *x) { *x = 1; }");
    if (!have_nvrtc()) return;
    CHECK(tcu__compile(&compiler, &hook, &arch, &job, 1, 1, &trouble) ||
          FAIL("%s", trouble.text));
    printf("by %s\n", compiler.path);
    tcu__job_free(&hook, &job);
}

TEST(without_loader_cache) {
    static const char loader[] = "/lib64/ld-linux-x86-64.so.2";
    char self[300] = "", command[800], line[400], all[4000] = "";
#ifdef __SANITIZE_ADDRESS__
    SKIP("sanitizers do not start by the loader's name");
#endif
    if (!have_nvrtc()) return;
    ssize_t size = readlink("/proc/self/exe", self, sizeof self - 1);
    if (size < 0 || access(loader, X_OK)) SKIP("no loader to ask");
    if (access("/usr/local/cuda/lib64", F_OK)) SKIP("no toolkit in its usual place");
    snprintf(command, sizeof command, "%s --inhibit-cache %s one_compile 2>&1", loader,
             self);
    FILE *f = popen(command, "r");
    REQUIRE(f != NULL);
    while (fgets(line, sizeof line, f)) tcu__put(all, sizeof all, "%s", line);
    CHECK_EQ(pclose(f), 0);
    CHECK(strstr(all, "1 passed, 0 failed") || FAIL("%s", all));
    CHECK(strstr(all, "by /") || FAIL("%s", all));
}
