// A main for tests that need a CUDA driver: builds tools/cuda_fake.c with the C compiler at
// hand, before the tests, and removes it after them. After harness.h with TEST_NO_MAIN.
#ifndef CUDA_FAKE_USE_H
#define CUDA_FAKE_USE_H
#include "tools/cuda_fake.h"

#include <dlfcn.h>

static fake_control *fake;
static char fake_folder[] = "/tmp/tc-cuda-XXXXXX";

static int fake_build(const char *name, const char *flags) {
    char command[700];
    const char *cc = getenv("CC");
    snprintf(command, sizeof command,
             "%s -shared -fPIC -std=c99 -D_GNU_SOURCE -w -O1 -Igen -I. -Itests %s "
             "tests/tools/cuda_fake.c -o %s/%s",
             cc ? cc : "cc", flags, fake_folder, name);
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
    return 1;
}

int main(int count, char **args) {
    if (!mkdtemp(fake_folder)) return 2;
    if (!fake_build("new.so", "") || !fake_build("old.so", "-DFAKE_OLD"))
        fprintf(stderr, "tests/tools/cuda_fake.c does not compile\n");
    int status = test_main(count, args);
    test_folder_remove(fake_folder);
    return status;
}
#endif
