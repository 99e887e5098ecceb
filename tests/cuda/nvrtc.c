// The CUDA files of tests/golden compile with NVRTC for every architecture that kernels are
// made for: no error, no warning, nothing spilled. Skipped where NVRTC is not installed.
#include "harness.h"
#include "tools/nvrtc.h"

#include <dirent.h>

enum { MOST_FILES = 64 };

static int by_name(const void *a, const void *b) {
    return strcmp((const char *)a, (const char *)b);
}

// Paths of tests/golden/*.cu in order: how many.
static int golden_files(char path[MOST_FILES][300]) {
    DIR *folder = opendir("tests/golden");
    int count = 0;
    for (struct dirent *e; folder && (e = readdir(folder)) != NULL;) {
        size_t n = strlen(e->d_name);
        if (n < 3 || strcmp(e->d_name + n - 3, ".cu") || count == MOST_FILES) continue;
        snprintf(path[count++], 300, "tests/golden/%s", e->d_name);
    }
    if (folder) closedir(folder);
    qsort(path, (size_t)count, 300, by_name);
    return count;
}

static void check_file(const char *path, const char *arch) {
    nvrtc_result r;
    char *source = nvrtc_read(path);
    REQUIRE(source != NULL);
    int ok = nvrtc_compile(source, arch, &r);
    const char *fault = !ok                           ? "does not compile"
                        : strstr(r.log, "warning")    ? "has a warning"
                        : strstr(r.log, "serialized") ? "has matrix units wait"
                        : nvrtc_spills(&r)            ? "spills"
                        : nvrtc_reads_early(&r)       ? "reads ahead of its wait"
                        : r.cubin_size == 0           ? "gives no code"
                                                      : NULL;
    CHECK(!fault || FAIL("%s %s for %s:\n%s", path, fault, arch, r.log));
    nvrtc_free(&r);
    free(source);
}

// Clusters, and matrix units that read shared memory, are of compute capability 9.0; for others no such kernel is made.
static int is_for_hopper(const char *path) {
    char *source = nvrtc_read(path);
    int found = source && (strstr(source, "tc_cluster_") ||
                           strstr(source, "cluster.arrive") || strstr(source, "wgmma."));
    free(source);
    return found;
}

// No text asks which of 8.0 and 8.9 it is for, so every file is compiled for one of them, in turn, and for 9.0.
enum { EVEN = 1, ODD = 2 };

static void check_all(const char *arch, int which) {
    static char path[MOST_FILES][300];
    const char *why = nvrtc_open();
    if (why) SKIP(why);
    int count = golden_files(path);
    CHECK(count >= 4); // pointwise, row softmax, its symbolic form, tiled transpose
    for (int i = 0; i < count; i++)
        if ((which & (i % 2 ? ODD : EVEN)) &&
            (!strcmp(arch, "sm_90a") || !is_for_hopper(path[i])))
            check_file(path[i], arch);
}

// ---- gen/cuda/*.cuh, as they are

// Files in the order in which kernels have them, as one text.
static char *read_library(const char *const *name, size_t count) {
    static const char begin[] = "#pragma nv_diag_suppress 177 // what nobody calls\n";
    char path[100], *all = strdup(begin);
    size_t used = strlen(begin);
    for (size_t i = 0; i < count; i++) {
        snprintf(path, sizeof path, "gen/cuda/%s.cuh", name[i]);
        char *one = nvrtc_read(path);
        if (!one) return FAIL("cannot read %s", path), free(all), (char *)NULL;
        all = (char *)realloc(all, used + strlen(one) + 1);
        strcpy(all + used, one);
        used += strlen(one);
        free(one);
    }
    return all;
}

static void check_library(const char *const *name, size_t count, const char *arch) {
    nvrtc_result r;
    char *source = read_library(name, count);
    REQUIRE(source != NULL);
    int ok = nvrtc_compile(source, arch, &r);
    CHECK((ok && !strstr(r.log, "warning")) || FAIL("%s ...: %s\n%s", *name, arch, r.log));
    nvrtc_free(&r);
    free(source);
}

// Whole, whatever kernels use of it; a file that is new has to be named here.
TEST(library) {
    static const char *const head[] = {
        "types", "check",        "memory", "shared", "halves",  "index", "math",    "trig",
        "fast",  "list",         "random", "divide", "product", "tiles", "mapped",  "held",
        "chain", "mapped_chain", "decode", "skinny", "scan",    "sort",  "scatter", "runs"};
    static const char *const spread[] = {"spread"};
    static const char *const archs[] = {"sm_80", "sm_89", "sm_90a"};
    size_t count = sizeof head / sizeof *head, files = 0;
    const char *why = nvrtc_open();
    DIR *folder = opendir("gen/cuda");
    for (struct dirent *e; folder && (e = readdir(folder)) != NULL;)
        files +=
            strlen(e->d_name) > 4 && !strcmp(e->d_name + strlen(e->d_name) - 4, ".cuh");
    if (folder) closedir(folder);
    CHECK_EQ(files, count + 2); // spread, and custom, which tests/cuda/texts.c compiles
    if (why) SKIP(why);
    for (size_t i = 0; i < 3; i++) {
        check_library(head, count, archs[i]);
        check_library(spread, 1, archs[i]);
    }
}

TEST(sm_80) { check_all("sm_80", EVEN); }
TEST(sm_89) { check_all("sm_89", ODD); }
TEST(sm_90a) { check_all("sm_90a", EVEN | ODD); }

// What tells a spill from none, on the lines that ptxas writes.
TEST(spills_are_seen) {
    nvrtc_result r = {NULL, NULL, NULL, 0};
    char none[] = " 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads",
         some[] = " 16 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads",
         ten[] = " 0 bytes stack frame, 40 bytes spill stores, 40 bytes spill loads",
         silent[] = "";
    r.log = none;
    CHECK(!nvrtc_spills(&r));
    r.log = some;
    CHECK(nvrtc_spills(&r));
    r.log = ten;
    CHECK(nvrtc_spills(&r));
    r.log = silent;
    CHECK(!nvrtc_spills(&r));
}

// The test would notice a file that does not compile.
TEST(errors_are_seen) {
    nvrtc_result r;
    const char *why = nvrtc_open();
    if (why) SKIP(why);
    CHECK(!nvrtc_compile("__global__ void k(float *x) { *x = undeclared; }", "sm_80", &r));
    CHECK(strstr(r.log, "undeclared") != NULL);
    nvrtc_free(&r);
}

// What tells a load that may be moved ahead of the wait.
TEST(early_reads_are_seen) {
    nvrtc_result r = {NULL, NULL, NULL, 0};
    char none
        [] = ".entry a( ld.global.nc.f32 .entry b( griddepcontrol.wait; ld.global.f32",
    some[] =
        ".entry a( griddepcontrol.wait; .entry b( griddepcontrol.wait; ld.global.nc.f32";
    r.ptx = none;
    CHECK(!nvrtc_reads_early(&r));
    r.ptx = some;
    CHECK(nvrtc_reads_early(&r));
}
