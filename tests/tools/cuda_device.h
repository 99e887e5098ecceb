// A CUDA device for tests: a GPU where there are one, its driver and NVRTC; else the emulator.
// After tcompile_cuda.h and harness.h with TEST_NO_MAIN. TC_CUDA_LIBRARY in the environment,
// whatever it says, asks for the emulator.
//
//     if (!open_device(tc)) return;    // then tc_to(t, DEVICE_NAME) works
//     ...
//     tc_close(tc);
//     check_device_closed();           // the emulator has everything back
//
// It has a main; with DEVICE_NO_MAIN the program has one, which calls device_begin and device_end.
#ifndef CUDA_DEVICE_H
#define CUDA_DEVICE_H
#define FAKE_NO_MAIN
#include "tools/cuda_fake_use.h"

#define DEVICE_NAME "cuda:0"

static int device_is_real; // a GPU

// In a process of its own: the driver does not work in the children of one that used it.
static int device_probe(void) {
    static char text[4096];
    int status = 0;
    if (getenv("TC_CUDA_LIBRARY")) return 0;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        _exit(tc_cuda_available(NULL, 0) && tc_cuda_report(0, text, sizeof text) &&
              strstr(text, "compiler NVRTC"));
    if (child < 0 || waitpid(child, &status, 0) != child) return 0;
    return WIFEXITED(status) && WEXITSTATUS(status) == 1;
}

// Before the tests, in the process that forks them. 0 = there is neither.
static int device_begin(void) {
    if (!mkdtemp(fake_folder)) return 0;
    device_is_real = device_probe();
    printf("device: %s\n", device_is_real ? "a GPU" : "emulated");
    fflush(stdout);
    return device_is_real || fake_build("new.so", "", fake_sources);
}

static void device_end(void) { test_folder_remove(fake_folder); }

// The libraries of this process. 1, or a failed check.
TEST_UNUSED static int device_use(void) { return device_is_real || fake || use_emulator(); }

TEST_UNUSED static int open_device(tc_ctx *tc) {
    if (!tc || !device_use()) return FAIL("no context, or no device for it");
    return tc_cuda_open(tc, 0) == TC_OK || FAIL("tc_cuda_open: %s", tc_error_text(tc));
}

// What the emulator knows of handles and memory: when all contexts are closed.
TEST_UNUSED static void check_device_closed(void) {
    if (!fake) return;
    for (int i = 0; i < FAKE_KINDS; i++)
        if (fake->live[i]) FAIL("%d objects of kind %d are left", fake->live[i], i);
    CHECK_EQ(fake->used, 0);
    CHECK(!fake->misuse || FAIL("misused: %s", fake->misused));
    CHECK(!fake->fault || FAIL("a kernel failed: %s", fake->fault_text));
}

#ifndef DEVICE_NO_MAIN
int main(int count, char **args) {
    if (!device_begin()) fprintf(stderr, "tests/tools/cuda_fake.c does not compile\n");
    int status = test_main(count, args);
    device_end();
    return status;
}
#endif
#endif
