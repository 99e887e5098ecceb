// A main for tests that need a CUDA driver: builds tools/cuda_fake.c with the C compiler at
// hand, before the tests, and removes it after them. After harness.h with TEST_NO_MAIN.
//
//     fake_use("new.so")   a driver that notes launches and executes nothing, but
//     use_emulator()       with NVRTC's fake, which makes code that it does execute
//
// With FAKE_NO_MAIN the main is somebody else's: tools/cuda_device.h has one.
#ifndef CUDA_FAKE_USE_H
#define CUDA_FAKE_USE_H
#include "tools/cuda_fake.h"

#include <dlfcn.h>

static fake_control *fake;
static char fake_folder[] = "/tmp/tc-cuda-XXXXXX";

// Builds a library of `sources`, unless it is there, or where TEST_FAKES says that all tests have it.
static int fake_build(const char *name, const char *flags, const char *sources) {
    char command[1200];
    const char *cc = getenv("CC");
    snprintf(
        command, sizeof command,
        "test -s %s/%s || cp \"${TEST_FAKES:-/nowhere}/%s\" %s/ 2>/dev/null || { %s -shared -fPIC -std=c99 -D_GNU_SOURCE -w -O1 -Igen -I. "
        "-Itests %s %s -o %s/part -ldl && mv %s/part %s/%s; }",
        fake_folder, name, name, fake_folder, cc ? cc : "cc", flags, sources, fake_folder,
        fake_folder, fake_folder, name);
    return system(command) == 0;
}

// Loads a fake into this test's process, for TC_CUDA_LIBRARY too: "new.so", or "old.so",
// which has nothing that is optional. 1, or a failed check.
static int fake_use(const char *name) {
    char path[300];
    fake_state_fn state;
    snprintf(path, sizeof path, "%s/%s", fake_folder, name);
    setenv("TC_CUDA_LIBRARY", path, 1);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *symbol = library ? dlsym(library, "fake_state") : NULL;
    if (!symbol) return FAIL("no fake driver: %s", dlerror());
    memcpy(&state, &symbol, sizeof symbol);
    fake = state();
    fake->poison = 4096; // most tests execute nothing
    return 1;
}

// A driver that executes kernels (TC_CUDA_LIBRARY) and the compiler for it
// (TC_NVRTC_LIBRARY). 1, or a failed check; the test is skipped where there is no C++ compiler.
TEST_UNUSED static int use_emulator(void) {
    char path[300], folder[300], flags[400];
    if (system("command -v ${CXX:-c++} >/dev/null || command -v g++ >/dev/null || "
               "command -v clang++ >/dev/null"))
        SKIP("no C++ compiler, which executes CUDA kernels here");
    if (!getcwd(folder, sizeof folder)) return FAIL("no working folder");
    snprintf(flags, sizeof flags, "-DEMULATE_FOLDER='\"%s/tests/tools\"'", folder);
    if (!fake_build("nvrtc.so", flags, "tests/tools/nvrtc_fake.c"))
        return FAIL("tests/tools/nvrtc_fake.c does not compile");
    snprintf(path, sizeof path, "%s/nvrtc.so", fake_folder);
    setenv("TC_NVRTC_LIBRARY", path, 1);
    if (!fake_use("new.so")) return 0;
    fake->poison = (size_t)64 << 20;
    return 1;
}

static const char fake_sources[] = "tests/tools/cuda_fake.c tests/tools/cuda_emulate.c";

#ifndef FAKE_NO_MAIN
int main(int count, char **args) {
    if (!mkdtemp(fake_folder)) return 2;
    if (!fake_build("new.so", "", fake_sources) ||
        !fake_build("old.so", "-DFAKE_OLD", fake_sources))
        fprintf(stderr, "tests/tools/cuda_fake.c does not compile\n");
    int status = test_main(count, args);
    test_folder_remove(fake_folder);
    return status;
}
#endif
#endif
