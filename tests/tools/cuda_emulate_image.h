// What three sides of the emulator share: the code that nvrtc_fake.c makes of CUDA text (with
// cuda_emulate.h), the runtime that executes it (cuda_emulate.c), and the driver that launches
// it (cuda_fake.c). C and C++.
#ifndef CUDA_EMULATE_IMAGE_H
#define CUDA_EMULATE_IMAGE_H
#include <stddef.h>

// Raised when a struct of this file changes: images of another version are not loaded.
enum { EMU_VERSION = 2 };

enum { EMU_WARP = 32, EMU_THREADS = 1024, EMU_CLUSTER = 16, EMU_PARAMS = 4096 };

// Uninitialised memory is NaN in each type of float, -1 in each integer; what lies around
// allocations and shared variables is another pattern, so that writes to it show.
enum { EMU_POISON = 0xff, EMU_AROUND = 0xfe };

// What the driver says when a kernel fails.
enum {
    EMU_ADDRESS = 700, // memory that is not its own
    EMU_ENDLESS = 702,
    EMU_ALIGNMENT = 716,
    EMU_FAILED = 719 // all else: barriers, shuffles, values out of range
};

// A tensor map, as the fake driver makes it: halves or words in four dimensions, of which the first is contiguous; boxes of 64
// of it, zeros outside. Of windows, `step` is not 0: boxes of places.
typedef struct emu_map {
    unsigned long long magic;
    const unsigned char *at;
    long long size[4], stride[3]; // stride: bytes
    int box[4], low[2], high[2], step[2], bytes;
    int line; // bytes of a row of a box, whose chunks of 16 are exchanged by address
} emu_map;

#define EMU_MAP 0x6d61702d6f662d33ull

typedef struct emu_dim {
    unsigned x, y, z;
} emu_dim;

// A thread as its kernel sees it.
typedef struct emu_thread {
    emu_dim thread, block, threads, blocks; // threadIdx, blockIdx, blockDim, gridDim
    emu_dim in_cluster, cluster; // the block's place in its cluster, their number
    unsigned lane, rank, ranks;  // rank: of the block in the cluster
    unsigned char *dynamic;      // extern __shared__
} emu_thread;

// Called when all lanes of a group are there: mine[lane] of those present is what each
// deposits and where its result goes.
typedef void (*emu_finish)(void *const *mine, unsigned present);

// What kernels ask of the runtime. `line` is of the kernel's text.
typedef struct emu_calls {
    // Barrier `id` of `count` threads, 0 = all; the sum of `vote` over the threads.
    int (*barrier)(int id, int count, int wait, int vote, int line);
    // Waits for the lanes of `mask`, at the same line; the last one calls `finish`.
    void (*meet)(unsigned mask, void *mine, emu_finish finish, const char *what, int line);
    // Memory of a __shared__ variable; *slot is 0 before the first call.
    void *(*shared)(int *slot, size_t size, size_t align, const char *name);
    // Is it all in this block's shared memory? Else the kernel fails.
    void (*in_shared)(const void *at, size_t size, const char *what, int line);
    void *(*mapped)(const void *shared, unsigned rank,
                    int line); // of a block of the cluster
    void (*cluster_arrive)(int line);
    void (*cluster_wait)(int line);
    void (*yield)(int line); // the thread waits for what another will write
    // Copies happen when they are waited for, and not before.
    void (*copy)(void *to, const void *from, unsigned size, unsigned filled, int line);
    void (*copy_commit)(void);
    void (*copy_wait)(int groups); // that may stay open; -1 = none, those not committed too
    void (*fail)(int code, int line, const char *what, const void *at); // does not return
} emu_calls;

typedef struct emu_kernel {
    const char *name;
    void (*call)(void **params);
    unsigned threads; // of its launch bounds; 0 = none
    int params;
    const size_t *size; // of each
} emu_kernel;

// The one symbol of an image: "emu_image".
typedef struct emu_image {
    int version;
    int arch; // that it was compiled for: 90
    emu_thread **self;
    const emu_calls **calls;
    const emu_kernel *kernel;
    int kernels;
} emu_image;

typedef struct emu_launch {
    const emu_image *image;
    const emu_kernel *kernel;
    unsigned grid[3], block[3], cluster[3], shared; // cluster: 0 = none
    void **params;
    void (*describe)(const void *at, char *text,
                     size_t room); // an address of no block's own
} emu_launch;

#ifndef __cplusplus
// Runs a launch to its end. 0, or a code of the driver with a sentence in `why`.
int emu_run(const emu_launch *launch, char *why, size_t room);

// Loads the bytes of an image; NULL with a reason. emu_unload gives *library back.
const emu_image *emu_load(const void *bytes, void **library, char *why, size_t room);
void emu_unload(void *library);
#endif
#endif
