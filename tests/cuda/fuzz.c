// The random programs of tests/fuzz on a CUDA device against the interpreter, whose results the device
// need not have to the bit: fuzz/near.h says what is near. On a GPU 2,000 programs by several processes,
// on the emulator a few. The options are those of tests/fuzz/fuzz.c.
#include "tcompile.h"

#include "tcompile_cuda.h"

#define TEST_NO_MAIN
#define DEVICE_NO_MAIN
#include "halves.h"
#include "harness.h"
#include "tools/cuda_device.h"

#define FUZZ_DEVICE
enum { ON_DEVICE_ONLY = 1 };

static tc_tensor there(tc_ctx *tc, tc_tensor t) {
    return tc && tc_registered_device(tc, DEVICE_NAME) ? tc_to(t, DEVICE_NAME) : t;
}

// What programs make of nothing is there too, so that they are on the device as a whole.
static int open_there(tc_ctx *tc) {
    return open_device(tc) && tc_set_default_device(tc, DEVICE_NAME) == TC_OK;
}

#include "fuzz/fuzz.c"

enum { GRAPHS = 2000, GRAPHS_EMULATED = 32, PROCESSES = 6 };

// Every PROCESSES'th program from number `first` on.
static int fuzz_part(const options *all, int first) {
    options o = *all;
    o.from += (uint64_t)first, o.step = PROCESSES;
    open_state();
    return fuzz(&o);
}

static int fuzz_parts(const options *o) {
    pid_t child[PROCESSES];
    int failed = 0;
    fflush(stdout);
    for (int i = 0; i < PROCESSES; i++)
        if ((child[i] = fork()) == 0) {
            int status = fuzz_part(o, i);
            fflush(stdout);
            _exit(status);
        }
    for (int i = 0; i < PROCESSES; i++) {
        int status = 1;
        waitpid(child[i], &status, 0);
        failed += status != 0;
    }
    printf("%d passed, %d failed\n", PROCESSES - failed, failed);
    return failed != 0;
}

// One program, alone and then with several sizes; in processes of their own, since a failing one is
// shrunk in others.
static int fuzz_one(uint64_t seed) {
    program p;
    int failed = 0;
    random_program(&p, seed);
    for (int family = 0; family < 2 && !failed; family++) {
        state->family = family;
        failed = fails(&p, USE_DEVICE | (family ? USE_FAMILY : 0)) != FINE;
    }
    if (failed) report(seed, WRONG);
    printf("%d passed, %d failed\n", !failed, failed);
    return failed;
}

int main(int count, char **args) {
    uint64_t one;
    options o = read_options(count, args, &one);
    if (!device_begin()) return 2;
    if (o.graphs == UINT64_MAX && count == 1)
        o.graphs = device_is_real ? GRAPHS : GRAPHS_EMULATED, o.seconds = 1e6;
    if (!one && device_is_real) {
        int status = fuzz_parts(&o);
        return device_end(), status;
    }
    open_state();
    int status = one ? fuzz_one(one) : fuzz(&o);
    device_end();
    return status;
}
