// The control of cuda_fake.c, a CUDA driver over memory of the host: what tests tell it and
// what it tells them. fake_state() in the library gives the one there is.
#ifndef CUDA_FAKE_H
#define CUDA_FAKE_H
#include <stddef.h>

// What can be alive.
typedef enum fake_kind {
    FAKE_CONTEXT,
    FAKE_STREAM,
    FAKE_EVENT,
    FAKE_MEMORY,
    FAKE_PINNED,
    FAKE_RANGE,
    FAKE_PHYSICAL,
    FAKE_MAPPING,
    FAKE_LIBRARY,
    FAKE_MODULE,
    FAKE_GRAPH,
    FAKE_EXEC,
    FAKE_KINDS
} fake_kind;

enum { FAKE_DEVICES = 4 };
enum { FAKE_CALLS = 20000, FAKE_LAUNCHES = 250, FAKE_PARAMS = 32764, FAKE_ARGS = 256 };

typedef struct fake_launch {
    char name[64];
    unsigned grid[3], block[3], cluster[3], shared;
    int programmatic;
    unsigned char params[FAKE_PARAMS] __attribute__((aligned(16)));
    size_t size;
    const void *kernel; // the driver's own
} fake_launch;

typedef struct fake_control {
    // told by the test
    int version, devices, init_code;
    int major, minor, virtual_memory;
    size_t memory; // bytes of the device
    size_t poison; // of new memory, so many bytes are NaN
    int busy;      // so many times an event says that it is not ready
    int fail_at;   // number of the call that fails, from 1; 0 = none
    int fail_code;
    const char *fail_name; // all calls of that name fail; NULL = none
    // Of the device's clock: what each operation of a stream takes, and each thread of a kernel, each byte of a copy more.
    double op_ns, thread_ns, byte_ns;
    int sticky;     // from there on all calls fail, and objects die with the context
    int set_params; // code of cuGraphExecKernelNodeSetParams
    int links;      // 1 = the devices reach each other's memory
    int last_first; // of a graph's kernels that could run, the one added last does

    // told to the test
    int calls;
    const char *name[FAKE_CALLS]; // of each call, in order
    size_t detail[FAKE_CALLS];    // its size, count or attribute
    int live[FAKE_KINDS];
    size_t used; // bytes of the device
    int misuse;  // handles that are not, double frees, launches without a context
    char misused[200];
    int launches; // of kernels, those in graphs too, when they are given to a stream
    int executed; // by the emulator
    int peer_copies;
    int fault; // code of a kernel that failed; 0 = none
    char fault_text[700];
    fake_launch launch[FAKE_LAUNCHES];
    void *(*foreign)(void); // makes a context of somebody else current, and gives it
} fake_control;

typedef fake_control *(*fake_state_fn)(void);
#endif
