// tcompile_cuda.h - the CUDA device of tcompile.h - v0.1.0 - MIT or public domain
// Generated from gen/ by ./build.sh gen; edit there.
//
// Kernels that tcompile.h makes, compiled by NVRTC and run on NVIDIA's GPUs. The driver and NVRTC are
// loaded when they are first needed; nothing of CUDA has to be installed to compile or to start a
// program that has this. Licence at the end of the file.
//
// QUICK START
//     Beside tcompile.h, in one .c (or .cc) file, before other includes:
//         #define TCOMPILE_CUDA_IMPLEMENTATION
//         #include "tcompile_cuda.h"
//     It may be the file that has TCOMPILE_IMPLEMENTATION, or another. Link with -lpthread -ldl.
//
//     ```c
//     if (tc_cuda_open(tc, 0)) puts(tc_error_text(tc));  // why there is none; the CPU goes on
//     tc_tensor x = tc_to(tc_randn(tc, TC_DIMS(4096, 4096), TC_F32), "cuda:0");
//     tc_tensor y = tc_softmax(x, -1);                   // runs where x is: one kernel
//     tc_print(y);                                       // waits, copies, prints
//     ```
//
//     Regions, functions and eager ops run where their tensors are; all of one are on one device.
//     tc_to moves, tc_sync waits, tc_read and tc_item wait and copy. See tcompile.h, "Devices".
//     tc_set_default_device(tc, "cuda:0") has all that is made of nothing made there; a custom op runs
//     there by its cuda_source.
//
// MODES
//     In mode "default" a program of two kernels or more is a CUDA graph from its third run on, if
//     launching them takes the host a 64th of the device's time or more, as its second run told; in
//     "reduce-overhead", and with the backend "cudagraphs", any is from its second; in
//     "max-autotune-no-cudagraphs" none is. Both of "max-autotune" measure kernels at a program's first
//     run. Inputs may be other tensors each time: changed addresses are set in the graph, nothing is
//     copied to a fixed place, results are never overwritten.
//
// NEEDS
//     A driver for CUDA 12.0 or newer to run, NVRTC 12 or newer to compile.
//
// OPTIONS, each a macro before the include that has the implementation
//     TCOMPILE_STATIC      public functions are static to that file
//     TC_NO_THREADS        programs are compiled one after the other
//
// ENVIRONMENT (ignored in setuid programs)
//     TC_CUDA_LIBRARY      the driver's file, instead of libcuda.so.1
//     TC_NVRTC_LIBRARY     NVRTC's file, instead of libnvrtc.so.13, .12 in the loader's path, below
//                          CUDA_HOME, CUDA_PATH, /usr/local/cuda or a Python environment
//     CUDA_VISIBLE_DEVICES the driver's own: which devices there are
//     TC_CUDA_SYNC=1       waits after each kernel, so that its error has its name; no graphs
//     TC_CUDA_CHECK=1      kernels look at every access to a tensor: one outside of it is not made, and
//                          tc_sync, tc_read and tc_to tell the kernel, the tensor and the element
//     TC_CUDA_LINEINFO=1   code knows the lines of its text, for profilers

#if defined(TCOMPILE_CUDA_IMPLEMENTATION) && !defined(_GNU_SOURCE) && !defined(_MSC_VER)
#  define _GNU_SOURCE 1
#endif

#ifndef TCOMPILE_CUDA_H
#define TCOMPILE_CUDA_H

#include "tcompile.h"

// ---- gen/api/cuda.h -----------------------------------------------------
// CUDA devices: is there one, and which. Nothing is linked and nothing needs to be
// installed: a program that has this runs on machines without a GPU too, and is told why
// there is none.
//
// All of these may be called at any time, from any thread, also without a context. They
// load the driver, but make no context on the device: another program does not notice.

// Whether there is a device to use: 1, or 0 and one sentence in `why` (what was looked for,
// where, what to do), cut to `room` bytes; 1 empties it. why may be NULL; 640 bytes are
// enough.
TCDEF int tc_cuda_available(char *why, size_t room);

// The number of devices, 0 where tc_cuda_available says no.
TCDEF int tc_cuda_device_count(void);

// The name of device `ordinal`, from 0, cut to `room` bytes: 1, or 0 and an empty name
// where there is no such device.
TCDEF int tc_cuda_device_name(int ordinal, char *name, size_t room);

// What is known about device `ordinal` and what code for it is made with, in lines for
// people, cut to `room` bytes; 4096 are enough. It loads NVRTC, the compiler. 1, or 0 =
// there is no such device, and the text says why.
TCDEF int tc_cuda_report(int ordinal, char *text, size_t room);

// ---- a device for a context

// Registers device `ordinal`, from 0, as "cuda:0"...: from then on tc_to(t, "cuda:0") moves tensors
// there, and what is computed with them runs there. Once is enough; later calls give TC_OK. Where it
// cannot be used: TC_E_BACKEND, TC_E_VERSION, TC_E_ARG (no such ordinal), with the reason in
// tc_error_text, and the context goes on with the host.
TCDEF tc_status tc_cuda_open(tc_ctx *tc, int ordinal);

// The CUstream (cudaStream_t) that all work of the context on the device is given to, for programs that
// use CUDA themselves: record an event there, or wait for one. NULL = the device is not open.
TCDEF void *tc_cuda_stream(const tc_ctx *tc, int ordinal);

// A tensor over device memory of the caller's: see tc_wrap_device.
TCDEF tc_tensor tc_wrap_cuda(tc_ctx *tc, int ordinal, void *address, tc_dims dims, tc_dtype dtype);

// What the context holds of the device's memory, one line for people, cut to `room` bytes; 512 are
// enough. 1, or 0 = the device is not open, or does not answer.
TCDEF int tc_cuda_memory(const tc_ctx *tc, int ordinal, char *text, size_t room);

#endif  // TCOMPILE_CUDA_H

#if defined(TCOMPILE_CUDA_IMPLEMENTATION) && !defined(TCOMPILE_CUDA_IMPLEMENTED)
#define TCOMPILE_CUDA_IMPLEMENTED

// ---- gen/cuda/prelude.c -------------------------------------------------
// What depends on the compiler or the system, and memory of the host. Later parts test
//   TCU__POSIX     dlopen, processes
//   TCU__THREADS   pthreads; 0 under TC_NO_THREADS
// Nothing here is shared with the implementation of tcompile.h, which may be elsewhere.

#if !defined(_GNU_SOURCE) && !defined(_MSC_VER)
#    define _GNU_SOURCE 1
#endif

#if defined(__unix__) || defined(__APPLE__)
#    define TCU__POSIX 1
#else
#    define TCU__POSIX 0
#endif
#if defined(TC_NO_THREADS) || !TCU__POSIX || !defined(__GNUC__)
#    define TCU__THREADS 0
#else
#    define TCU__THREADS 1
#endif

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if TCU__POSIX
#    include <dlfcn.h>
#    include <glob.h>
#    include <sys/types.h>
#    include <unistd.h>
#endif
#if TCU__THREADS
#    include <pthread.h>
#    include <signal.h>
#endif

#if defined(__GLIBC__) && !defined(__USE_GNU)
#    error                                                                                 \
        "A libc header was included before the implementation of tcompile_cuda.h, without \
_GNU_SOURCE. Fix: include tcompile_cuda.h first in the one .c file that defines \
TCOMPILE_CUDA_IMPLEMENTATION, or compile that file with -D_GNU_SOURCE."
#endif

// All functions of the parts are TCU__FN: what the header has for its caller, the backend,
// is more than one program needs.
#if defined(__GNUC__)
#    define TCU__UNUSED         __attribute__((unused))
#    define TCU__FN             __attribute__((unused)) static
#    define TCU__PRINTF(at, to) __attribute__((format(printf, at, to)))
#    define TCU__LOAD(p)        __atomic_load_n(p, __ATOMIC_ACQUIRE)
#    define TCU__STORE(p, v)    __atomic_store_n(p, v, __ATOMIC_RELEASE)
#    define TCU__ADD(p, v)      __atomic_fetch_add(p, v, __ATOMIC_ACQ_REL)
#else
#    define TCU__UNUSED
#    define TCU__FN static
#    define TCU__PRINTF(at, to)
#    define TCU__LOAD(p)     (*(p))
#    define TCU__STORE(p, v) ((void)(*(p) = (v)))
#    define TCU__ADD(p, v)   ((*(p) += (v)) - (v))
#endif

#define TCU__COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define TCU__STATIC_ASSERT(name, cond)                                                     \
    typedef char tcu__assert_##name[(cond) ? 1 : -1] TCU__UNUSED

enum { TCU__PATH = 512 }; // of a library, with its end

// ---- host memory: all of it comes from the hook, which hears every size again

TCU__FN void *tcu__realloc(const tc_allocator *hook, void *p, size_t old, size_t size) {
    if (hook->realloc) return hook->realloc(hook->user, p, old, size);
#ifdef TC_REALLOC
    return TC_REALLOC(p, old, size);
#else
    if (size) return realloc(p, size);
    free(p);
    return NULL;
#endif
}

// Bytes of an array, 1 for none: the hook's size 0 means to free.
TCU__FN size_t tcu__array_size(size_t count, size_t item) {
    return count && item ? count * item : 1;
}

// Zeroed; NULL = no memory.
TCU__FN void *tcu__alloc(const tc_allocator *hook, size_t count, size_t item) {
    size_t size = tcu__array_size(count, item);
    if (item && count > SIZE_MAX / item) return NULL;
    void *p = tcu__realloc(hook, NULL, 0, size);
    return p ? memset(p, 0, size) : NULL;
}

TCU__FN void tcu__free(const tc_allocator *hook, void *p, size_t count, size_t item) {
    if (p) tcu__realloc(hook, p, tcu__array_size(count, item), 0);
}

#define TCU__NEW(hook, T)          ((T *)tcu__alloc(hook, 1, sizeof(T)))
#define TCU__NEW_ARRAY(hook, T, n) ((T *)tcu__alloc(hook, (size_t)(n), sizeof(T)))
#define TCU__FREE(hook, p, n)      tcu__free(hook, p, (size_t)(n), sizeof *(p))

// Room for one more in *at, a block of *capacity items; NULL = no memory, nothing changed.
TCU__FN void *tcu__grown(const tc_allocator *hook, void *at, size_t count, size_t *capacity,
                         size_t item) {
    size_t want = *capacity ? *capacity * 2 : 8;
    if (count < *capacity) return at;
    void *p = tcu__realloc(hook, at, *capacity * item, want * item);
    if (p) *capacity = want;
    return p;
}

// ---- text

// A text of `room` bytes, cut where it does not fit. Used for snprintf, about which
// compilers warn wherever they believe that something may be cut.
TCU__PRINTF(3, 4)
TCU__FN void tcu__print(char *text, size_t room, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(text, room, format, list);
    va_end(list);
}

// Appends to a text of `room` bytes what fits, cut with "..."; the end is always kept.
TCU__PRINTF(3, 4)
TCU__FN void tcu__put(char *text, size_t room, const char *format, ...) {
    size_t used = strlen(text);
    va_list list;
    if (used + 1 >= room) return;
    va_start(list, format);
    int n = vsnprintf(text + used, room - used, format, list);
    va_end(list);
    if (n >= 0 && (size_t)n >= room - used && room > 4) memcpy(text + room - 4, "...", 4);
}

// "512 B", "32.0 MiB", into a buffer of the caller.
typedef struct tcu__size_text {
    char text[32];
} tcu__size_text;

TCU__FN const char *tcu__bytes(size_t n, tcu__size_text *out) {
    static const char *const unit[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double value = (double)n;
    size_t u = 0;
    for (; value >= 1024 && u + 1 < TCU__COUNT(unit); u++) value /= 1024;
    tcu__print(out->text, sizeof out->text, u ? "%.1f %s" : "%.0f %s", value, unit[u]);
    return out->text;
}

// ---- system

// The value of an environment variable; NULL when unset, empty, or not to be trusted.
TCU__FN const char *tcu__env(const char *name) {
#if TCU__POSIX
    if (getuid() != geteuid() || getgid() != getegid()) return NULL;
#endif
    const char *s = getenv(name);
    return s && *s ? s : NULL;
}

TCU__FN long tcu__process(void) {
#if TCU__POSIX
    return (long)getpid();
#else
    return 1;
#endif
}

// Nanoseconds from some start.
TCU__FN uint64_t tcu__now(void) {
#if TCU__POSIX
    struct timespec t;
    if (clock_gettime(CLOCK_MONOTONIC, &t)) return 0;
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
#else
    return (uint64_t)((double)clock() * (1e9 / CLOCKS_PER_SEC));
#endif
}
// ---- gen/cuda/types.c ---------------------------------------------------
// The driver's types as its libraries have them: no header of NVIDIA's is needed. Sizes and
// offsets are of the 64-bit ABI, the same since CUDA 12.0; tests/cuda/abi.c compares all of
// it with cuda.h where that is installed.

typedef int tcu__code;                    // CUresult; 0 is success
typedef int tcu__ordinal;                 // CUdevice
typedef unsigned long long tcu__address;  // CUdeviceptr
typedef unsigned long long tcu__physical; // CUmemGenericAllocationHandle

typedef struct tcu__context_ *tcu__context;
typedef struct tcu__stream_ *tcu__stream;
typedef struct tcu__event_ *tcu__event;
typedef struct tcu__code_library_ *tcu__code_library;
typedef struct tcu__code_kernel_ *tcu__code_kernel;
typedef struct tcu__code_module_ *tcu__code_module;
typedef struct tcu__function_ *tcu__function;
typedef struct tcu__graph_ *tcu__graph;
typedef struct tcu__graph_node_ *tcu__graph_node;
typedef struct tcu__graph_exec_ *tcu__graph_exec;
typedef struct tcu__nvrtc_program_ *tcu__nvrtc_program;

// Enumerations of the driver: what we name of them.
typedef enum tcu__device_attribute {
    TCU__THREADS_PER_BLOCK = 1,
    TCU__MULTIPROCESSORS = 16,
    TCU__L2_BYTES = 38,
    TCU__THREADS_PER_SM = 39,
    TCU__MAJOR = 75,
    TCU__MINOR = 76,
    TCU__SHARED_PER_SM = 81,
    TCU__SHARED_PER_BLOCK = 97, // with opt-in
    TCU__VIRTUAL_MEMORY = 102,
    TCU__CLUSTERS = 120,
    TCU__TENSOR_MAPS = 127
} tcu__device_attribute;

typedef enum tcu__function_attribute {
    TCU__FN_THREADS = 0,
    TCU__FN_SHARED = 1,
    TCU__FN_LOCAL = 3,
    TCU__FN_REGISTERS = 4,
    TCU__FN_DYNAMIC_SHARED = 8,
    TCU__FN_LARGE_CLUSTER = 14 // sizes above the portable 8
} tcu__function_attribute;

typedef enum tcu__launch_attribute_id {
    TCU__LAUNCH_CLUSTER = 4,
    TCU__LAUNCH_PROGRAMMATIC = 6
} tcu__launch_attribute_id;

typedef enum tcu__jit_option {
    TCU__JIT_ERROR_LOG = 5,
    TCU__JIT_ERROR_LOG_BYTES = 6
} tcu__jit_option;
typedef enum tcu__library_option { TCU__LIBRARY_OPTION_NONE = 0 } tcu__library_option;
typedef enum tcu__granularity { TCU__GRANULARITY_MINIMUM = 0 } tcu__granularity;

enum {
    TCU__STREAM_NON_BLOCKING = 1, // cuStreamCreate: not ordered with the legacy stream
    TCU__EVENT_BLOCKING = 1,      // cuEventCreate: cuEventSynchronize sleeps
    TCU__EVENT_NO_TIMING = 2,
    TCU__MEMORY_PINNED = 1, // CUmemAllocationType
    TCU__ON_DEVICE = 1,     // CUmemLocationType
    TCU__READ_WRITE = 3,    // CUmemAccess_flags
    TCU__EDGE_PROGRAMMATIC = 1
};

typedef struct tcu__location {
    int type, id;
} tcu__location;

typedef struct tcu__memory_kind { // CUmemAllocationProp
    int type, handle_types;
    tcu__location location;
    void *windows;
    unsigned char flags[8];
} tcu__memory_kind;

typedef struct tcu__access { // CUmemAccessDesc
    tcu__location location;
    int flags;
} tcu__access;

typedef union tcu__launch_value { // CUlaunchAttributeValue
    unsigned char pad[64];
    unsigned cluster[3];
    int programmatic;
    void *align;
} tcu__launch_value;

typedef struct tcu__launch_attribute {
    tcu__launch_attribute_id id;
    char pad[4];
    tcu__launch_value value;
} tcu__launch_attribute;

typedef struct tcu__launch_config {
    unsigned grid[3], block[3], shared;
    tcu__stream stream;
    tcu__launch_attribute *attributes;
    unsigned count;
} tcu__launch_config;

typedef struct tcu__node_params { // CUDA_KERNEL_NODE_PARAMS_v2
    tcu__function function;
    unsigned grid[3], block[3], shared;
    void **parameters, **extra;
    tcu__code_kernel kernel; // counts where function is NULL
    tcu__context context;    // NULL = the current one
} tcu__node_params;

typedef struct tcu__edge { // CUgraphEdgeData
    unsigned char from_port, to_port, type, reserved[5];
} tcu__edge;

#define TCU__AT(T, field, offset, size)                                                    \
    TCU__STATIC_ASSERT(T##_##field,                                                        \
                       sizeof(void *) != 8 ||                                              \
                           (offsetof(T, field) == offset && sizeof(T) == size))
TCU__AT(tcu__memory_kind, flags, 24, 32);
TCU__AT(tcu__access, flags, 8, 12);
TCU__AT(tcu__launch_attribute, value, 8, 72);
TCU__AT(tcu__launch_config, shared, 24, 56);
TCU__AT(tcu__launch_config, stream, 32, 56);
TCU__AT(tcu__launch_config, count, 48, 56);
TCU__AT(tcu__node_params, parameters, 40, 72);
TCU__AT(tcu__node_params, context, 64, 72);
TCU__AT(tcu__edge, type, 2, 8);

// A row of the tables of entry points: where in the struct of pointers it goes.
typedef enum tcu__need { TCU__OPTIONAL, TCU__REQUIRED } tcu__need;

typedef struct tcu__symbol {
    const char *name;
    size_t offset;
    tcu__need need;
} tcu__symbol;
// ---- gen/out/cuda_driver.inc --------------------------------------------
// Generated from gen/tables/cuda_driver.def by gen/gen_tables.c.
typedef struct tcu__driver_calls {
    tcu__code (*cuDriverGetVersion)(int *version);
    tcu__code (*cuInit)(unsigned flags);
    tcu__code (*cuGetErrorName)(tcu__code code, const char **text);
    tcu__code (*cuGetErrorString)(tcu__code code, const char **text);
    tcu__code (*cuDeviceGetCount)(int *count);
    tcu__code (*cuDeviceGet)(tcu__ordinal *device, int ordinal);
    tcu__code (*cuDeviceGetName)(char *name, int room, tcu__ordinal device);
    tcu__code (*cuDeviceGetAttribute)(int *value, tcu__device_attribute what, tcu__ordinal device);
    tcu__code (*cuDeviceTotalMem_v2)(size_t *bytes, tcu__ordinal device);
    tcu__code (*cuDevicePrimaryCtxRetain)(tcu__context *context, tcu__ordinal device);
    tcu__code (*cuDevicePrimaryCtxRelease_v2)(tcu__ordinal device);
    tcu__code (*cuCtxGetCurrent)(tcu__context *context);
    tcu__code (*cuCtxSetCurrent)(tcu__context context);
    tcu__code (*cuStreamCreateWithPriority)(tcu__stream *stream, unsigned flags, int priority);
    tcu__code (*cuStreamDestroy_v2)(tcu__stream stream);
    tcu__code (*cuStreamSynchronize)(tcu__stream stream);
    tcu__code (*cuStreamWaitEvent)(tcu__stream stream, tcu__event event, unsigned flags);
    tcu__code (*cuEventCreate)(tcu__event *event, unsigned flags);
    tcu__code (*cuEventDestroy_v2)(tcu__event event);
    tcu__code (*cuEventRecord)(tcu__event event, tcu__stream stream);
    tcu__code (*cuEventQuery)(tcu__event event);
    tcu__code (*cuEventElapsedTime)(float *milliseconds, tcu__event from, tcu__event to);
    tcu__code (*cuEventSynchronize)(tcu__event event);
    tcu__code (*cuMemGetInfo_v2)(size_t *unused, size_t *total);
    tcu__code (*cuMemAlloc_v2)(tcu__address *address, size_t size);
    tcu__code (*cuMemFree_v2)(tcu__address address);
    tcu__code (*cuMemHostAlloc)(void **memory, size_t size, unsigned flags);
    tcu__code (*cuMemFreeHost)(void *memory);
    tcu__code (*cuMemcpyHtoDAsync_v2)(tcu__address to, const void *from, size_t size, tcu__stream stream);
    tcu__code (*cuMemcpyDtoHAsync_v2)(void *to, tcu__address from, size_t size, tcu__stream stream);
    tcu__code (*cuMemcpyDtoDAsync_v2)(tcu__address to, tcu__address from, size_t size, tcu__stream stream);
    tcu__code (*cuMemsetD8Async)(tcu__address to, unsigned char value, size_t count, tcu__stream stream);
    tcu__code (*cuDeviceCanAccessPeer)(int *can, tcu__ordinal device, tcu__ordinal other);
    tcu__code (*cuCtxEnablePeerAccess)(tcu__context other, unsigned flags);
    tcu__code (*cuMemcpyPeerAsync)(tcu__address to, tcu__context to_context, tcu__address from, tcu__context from_context, size_t size, tcu__stream stream);
    tcu__code (*cuMemGetAllocationGranularity)(size_t *bytes, const tcu__memory_kind *kind, tcu__granularity which);
    tcu__code (*cuMemAddressReserve)(tcu__address *base, size_t size, size_t align, tcu__address hint, unsigned long long flags);
    tcu__code (*cuMemAddressFree)(tcu__address base, size_t size);
    tcu__code (*cuMemCreate)(tcu__physical *memory, size_t size, const tcu__memory_kind *kind, unsigned long long flags);
    tcu__code (*cuMemRelease)(tcu__physical memory);
    tcu__code (*cuMemMap)(tcu__address at, size_t size, size_t offset, tcu__physical memory, unsigned long long flags);
    tcu__code (*cuMemUnmap)(tcu__address at, size_t size);
    tcu__code (*cuMemSetAccess)(tcu__address at, size_t size, const tcu__access *access, size_t count);
    tcu__code (*cuLibraryLoadData)(tcu__code_library *library, const void *image, tcu__jit_option *jit, void **jit_values, unsigned jit_count, tcu__library_option *options, void **values, unsigned count);
    tcu__code (*cuLibraryUnload)(tcu__code_library library);
    tcu__code (*cuLibraryGetKernel)(tcu__code_kernel *kernel, tcu__code_library library, const char *name);
    tcu__code (*cuKernelGetFunction)(tcu__function *function, tcu__code_kernel kernel);
    tcu__code (*cuModuleLoadDataEx)(tcu__code_module *module, const void *image, unsigned count, tcu__jit_option *options, void **values);
    tcu__code (*cuModuleGetFunction)(tcu__function *function, tcu__code_module module, const char *name);
    tcu__code (*cuModuleUnload)(tcu__code_module module);
    tcu__code (*cuFuncGetAttribute)(int *value, tcu__function_attribute what, tcu__function function);
    tcu__code (*cuFuncSetAttribute)(tcu__function function, tcu__function_attribute what, int value);
    tcu__code (*cuFuncLoad)(tcu__function function);
    tcu__code (*cuLaunchKernel)(tcu__function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared, tcu__stream stream, void **parameters, void **extra);
    tcu__code (*cuLaunchKernelEx)(const tcu__launch_config *config, tcu__function function, void **parameters, void **extra);
    tcu__code (*cuGraphCreate)(tcu__graph *graph, unsigned flags);
    tcu__code (*cuGraphDestroy)(tcu__graph graph);
    tcu__code (*cuGraphAddKernelNode_v2)(tcu__graph_node *node, tcu__graph graph, const tcu__graph_node *after, size_t count, const tcu__node_params *params);
    tcu__code (*cuGraphAddDependencies_v2)(tcu__graph graph, const tcu__graph_node *from, const tcu__graph_node *to, const tcu__edge *edges, size_t count);
    tcu__code (*cuGraphKernelNodeSetAttribute)(tcu__graph_node node, tcu__launch_attribute_id what, const tcu__launch_value *value);
    tcu__code (*cuGraphInstantiateWithFlags)(tcu__graph_exec *exec, tcu__graph graph, unsigned long long flags);
    tcu__code (*cuGraphUpload)(tcu__graph_exec exec, tcu__stream stream);
    tcu__code (*cuGraphLaunch)(tcu__graph_exec exec, tcu__stream stream);
    tcu__code (*cuGraphExecKernelNodeSetParams_v2)(tcu__graph_exec exec, tcu__graph_node node, const tcu__node_params *params);
    tcu__code (*cuGraphExecDestroy)(tcu__graph_exec exec);
} tcu__driver_calls;

static const tcu__symbol tcu__driver_symbols[] = {
    {"cuDriverGetVersion", offsetof(tcu__driver_calls, cuDriverGetVersion), TCU__REQUIRED},
    {"cuInit", offsetof(tcu__driver_calls, cuInit), TCU__REQUIRED},
    {"cuGetErrorName", offsetof(tcu__driver_calls, cuGetErrorName), TCU__REQUIRED},
    {"cuGetErrorString", offsetof(tcu__driver_calls, cuGetErrorString), TCU__REQUIRED},
    {"cuDeviceGetCount", offsetof(tcu__driver_calls, cuDeviceGetCount), TCU__REQUIRED},
    {"cuDeviceGet", offsetof(tcu__driver_calls, cuDeviceGet), TCU__REQUIRED},
    {"cuDeviceGetName", offsetof(tcu__driver_calls, cuDeviceGetName), TCU__REQUIRED},
    {"cuDeviceGetAttribute", offsetof(tcu__driver_calls, cuDeviceGetAttribute), TCU__REQUIRED},
    {"cuDeviceTotalMem_v2", offsetof(tcu__driver_calls, cuDeviceTotalMem_v2), TCU__REQUIRED},
    {"cuDevicePrimaryCtxRetain", offsetof(tcu__driver_calls, cuDevicePrimaryCtxRetain), TCU__REQUIRED},
    {"cuDevicePrimaryCtxRelease_v2", offsetof(tcu__driver_calls, cuDevicePrimaryCtxRelease_v2), TCU__REQUIRED},
    {"cuCtxGetCurrent", offsetof(tcu__driver_calls, cuCtxGetCurrent), TCU__REQUIRED},
    {"cuCtxSetCurrent", offsetof(tcu__driver_calls, cuCtxSetCurrent), TCU__REQUIRED},
    {"cuStreamCreateWithPriority", offsetof(tcu__driver_calls, cuStreamCreateWithPriority), TCU__REQUIRED},
    {"cuStreamDestroy_v2", offsetof(tcu__driver_calls, cuStreamDestroy_v2), TCU__REQUIRED},
    {"cuStreamSynchronize", offsetof(tcu__driver_calls, cuStreamSynchronize), TCU__REQUIRED},
    {"cuStreamWaitEvent", offsetof(tcu__driver_calls, cuStreamWaitEvent), TCU__REQUIRED},
    {"cuEventCreate", offsetof(tcu__driver_calls, cuEventCreate), TCU__REQUIRED},
    {"cuEventDestroy_v2", offsetof(tcu__driver_calls, cuEventDestroy_v2), TCU__REQUIRED},
    {"cuEventRecord", offsetof(tcu__driver_calls, cuEventRecord), TCU__REQUIRED},
    {"cuEventQuery", offsetof(tcu__driver_calls, cuEventQuery), TCU__REQUIRED},
    {"cuEventElapsedTime", offsetof(tcu__driver_calls, cuEventElapsedTime), TCU__REQUIRED},
    {"cuEventSynchronize", offsetof(tcu__driver_calls, cuEventSynchronize), TCU__REQUIRED},
    {"cuMemGetInfo_v2", offsetof(tcu__driver_calls, cuMemGetInfo_v2), TCU__REQUIRED},
    {"cuMemAlloc_v2", offsetof(tcu__driver_calls, cuMemAlloc_v2), TCU__REQUIRED},
    {"cuMemFree_v2", offsetof(tcu__driver_calls, cuMemFree_v2), TCU__REQUIRED},
    {"cuMemHostAlloc", offsetof(tcu__driver_calls, cuMemHostAlloc), TCU__REQUIRED},
    {"cuMemFreeHost", offsetof(tcu__driver_calls, cuMemFreeHost), TCU__REQUIRED},
    {"cuMemcpyHtoDAsync_v2", offsetof(tcu__driver_calls, cuMemcpyHtoDAsync_v2), TCU__REQUIRED},
    {"cuMemcpyDtoHAsync_v2", offsetof(tcu__driver_calls, cuMemcpyDtoHAsync_v2), TCU__REQUIRED},
    {"cuMemcpyDtoDAsync_v2", offsetof(tcu__driver_calls, cuMemcpyDtoDAsync_v2), TCU__REQUIRED},
    {"cuMemsetD8Async", offsetof(tcu__driver_calls, cuMemsetD8Async), TCU__REQUIRED},
    {"cuDeviceCanAccessPeer", offsetof(tcu__driver_calls, cuDeviceCanAccessPeer), TCU__OPTIONAL},
    {"cuCtxEnablePeerAccess", offsetof(tcu__driver_calls, cuCtxEnablePeerAccess), TCU__OPTIONAL},
    {"cuMemcpyPeerAsync", offsetof(tcu__driver_calls, cuMemcpyPeerAsync), TCU__OPTIONAL},
    {"cuMemGetAllocationGranularity", offsetof(tcu__driver_calls, cuMemGetAllocationGranularity), TCU__OPTIONAL},
    {"cuMemAddressReserve", offsetof(tcu__driver_calls, cuMemAddressReserve), TCU__OPTIONAL},
    {"cuMemAddressFree", offsetof(tcu__driver_calls, cuMemAddressFree), TCU__OPTIONAL},
    {"cuMemCreate", offsetof(tcu__driver_calls, cuMemCreate), TCU__OPTIONAL},
    {"cuMemRelease", offsetof(tcu__driver_calls, cuMemRelease), TCU__OPTIONAL},
    {"cuMemMap", offsetof(tcu__driver_calls, cuMemMap), TCU__OPTIONAL},
    {"cuMemUnmap", offsetof(tcu__driver_calls, cuMemUnmap), TCU__OPTIONAL},
    {"cuMemSetAccess", offsetof(tcu__driver_calls, cuMemSetAccess), TCU__OPTIONAL},
    {"cuLibraryLoadData", offsetof(tcu__driver_calls, cuLibraryLoadData), TCU__OPTIONAL},
    {"cuLibraryUnload", offsetof(tcu__driver_calls, cuLibraryUnload), TCU__OPTIONAL},
    {"cuLibraryGetKernel", offsetof(tcu__driver_calls, cuLibraryGetKernel), TCU__OPTIONAL},
    {"cuKernelGetFunction", offsetof(tcu__driver_calls, cuKernelGetFunction), TCU__OPTIONAL},
    {"cuModuleLoadDataEx", offsetof(tcu__driver_calls, cuModuleLoadDataEx), TCU__REQUIRED},
    {"cuModuleGetFunction", offsetof(tcu__driver_calls, cuModuleGetFunction), TCU__REQUIRED},
    {"cuModuleUnload", offsetof(tcu__driver_calls, cuModuleUnload), TCU__REQUIRED},
    {"cuFuncGetAttribute", offsetof(tcu__driver_calls, cuFuncGetAttribute), TCU__REQUIRED},
    {"cuFuncSetAttribute", offsetof(tcu__driver_calls, cuFuncSetAttribute), TCU__REQUIRED},
    {"cuFuncLoad", offsetof(tcu__driver_calls, cuFuncLoad), TCU__OPTIONAL},
    {"cuLaunchKernel", offsetof(tcu__driver_calls, cuLaunchKernel), TCU__REQUIRED},
    {"cuLaunchKernelEx", offsetof(tcu__driver_calls, cuLaunchKernelEx), TCU__OPTIONAL},
    {"cuGraphCreate", offsetof(tcu__driver_calls, cuGraphCreate), TCU__REQUIRED},
    {"cuGraphDestroy", offsetof(tcu__driver_calls, cuGraphDestroy), TCU__REQUIRED},
    {"cuGraphAddKernelNode_v2", offsetof(tcu__driver_calls, cuGraphAddKernelNode_v2), TCU__REQUIRED},
    {"cuGraphAddDependencies_v2", offsetof(tcu__driver_calls, cuGraphAddDependencies_v2), TCU__OPTIONAL},
    {"cuGraphKernelNodeSetAttribute", offsetof(tcu__driver_calls, cuGraphKernelNodeSetAttribute), TCU__REQUIRED},
    {"cuGraphInstantiateWithFlags", offsetof(tcu__driver_calls, cuGraphInstantiateWithFlags), TCU__REQUIRED},
    {"cuGraphUpload", offsetof(tcu__driver_calls, cuGraphUpload), TCU__REQUIRED},
    {"cuGraphLaunch", offsetof(tcu__driver_calls, cuGraphLaunch), TCU__REQUIRED},
    {"cuGraphExecKernelNodeSetParams_v2", offsetof(tcu__driver_calls, cuGraphExecKernelNodeSetParams_v2), TCU__REQUIRED},
    {"cuGraphExecDestroy", offsetof(tcu__driver_calls, cuGraphExecDestroy), TCU__REQUIRED},
};
// ---- gen/out/cuda_nvrtc.inc ---------------------------------------------
// Generated from gen/tables/cuda_driver.def by gen/gen_tables.c.
typedef struct tcu__nvrtc_calls {
    int (*nvrtcVersion)(int *major, int *minor);
    int (*nvrtcGetNumSupportedArchs)(int *count);
    int (*nvrtcGetSupportedArchs)(int *archs);
    int (*nvrtcCreateProgram)(tcu__nvrtc_program *program, const char *source, const char *name, int headers, const char *const *header, const char *const *header_name);
    int (*nvrtcCompileProgram)(tcu__nvrtc_program program, int count, const char *const *options);
    int (*nvrtcGetProgramLogSize)(tcu__nvrtc_program program, size_t *size);
    int (*nvrtcGetProgramLog)(tcu__nvrtc_program program, char *log);
    int (*nvrtcGetCUBINSize)(tcu__nvrtc_program program, size_t *size);
    int (*nvrtcGetCUBIN)(tcu__nvrtc_program program, char *cubin);
    int (*nvrtcGetPTXSize)(tcu__nvrtc_program program, size_t *size);
    int (*nvrtcGetPTX)(tcu__nvrtc_program program, char *ptx);
    int (*nvrtcDestroyProgram)(tcu__nvrtc_program *program);
} tcu__nvrtc_calls;

static const tcu__symbol tcu__nvrtc_symbols[] = {
    {"nvrtcVersion", offsetof(tcu__nvrtc_calls, nvrtcVersion), TCU__REQUIRED},
    {"nvrtcGetNumSupportedArchs", offsetof(tcu__nvrtc_calls, nvrtcGetNumSupportedArchs), TCU__REQUIRED},
    {"nvrtcGetSupportedArchs", offsetof(tcu__nvrtc_calls, nvrtcGetSupportedArchs), TCU__REQUIRED},
    {"nvrtcCreateProgram", offsetof(tcu__nvrtc_calls, nvrtcCreateProgram), TCU__REQUIRED},
    {"nvrtcCompileProgram", offsetof(tcu__nvrtc_calls, nvrtcCompileProgram), TCU__REQUIRED},
    {"nvrtcGetProgramLogSize", offsetof(tcu__nvrtc_calls, nvrtcGetProgramLogSize), TCU__REQUIRED},
    {"nvrtcGetProgramLog", offsetof(tcu__nvrtc_calls, nvrtcGetProgramLog), TCU__REQUIRED},
    {"nvrtcGetCUBINSize", offsetof(tcu__nvrtc_calls, nvrtcGetCUBINSize), TCU__REQUIRED},
    {"nvrtcGetCUBIN", offsetof(tcu__nvrtc_calls, nvrtcGetCUBIN), TCU__REQUIRED},
    {"nvrtcGetPTXSize", offsetof(tcu__nvrtc_calls, nvrtcGetPTXSize), TCU__REQUIRED},
    {"nvrtcGetPTX", offsetof(tcu__nvrtc_calls, nvrtcGetPTX), TCU__REQUIRED},
    {"nvrtcDestroyProgram", offsetof(tcu__nvrtc_calls, nvrtcDestroyProgram), TCU__REQUIRED},
};

// ---- gen/cuda/error.c ---------------------------------------------------
// Errors of a device. Every call of the driver goes through TCU__CALL, which asks first
// whether the device still works and notes what failed: the call, its code, what it was
// for, what to do. The first failure stays until it is cleared. After some codes nothing
// works in this process any more (a kernel wrote where it may not): then the device is
// dead, and every later call is refused with the text of the error that killed it.

enum { TCU__TEXT = 640 };

typedef struct tcu__trouble {
    tc_status status; // of the first failure; TC_OK = none
    tcu__code code;   // the driver's, 0 = the failure is not a call of the driver
    tcu__code dead;   // what made the device unusable, 0 = it works
    char text[TCU__TEXT];
    char death[TCU__TEXT]; // the text of `dead`
} tcu__trouble;

enum {
    TCU__E_INVALID = 1,
    TCU__E_NOMEM = 2,
    TCU__E_STUB = 34,
    TCU__E_NO_DEVICE = 100,
    TCU__E_NOT_READY = 600,
    TCU__E_UNSUPPORTED = 801,
    TCU__E_GRAPH_UPDATE = 910
};

typedef enum tcu__severity { TCU__PASSING, TCU__DEADLY } tcu__severity;

// Codes about which there is more to say than the driver does.
static const struct {
    tcu__code code;
    tcu__severity severity;
    tc_status status;
    const char *advice;
} tcu__codes[] = {
    {2, TCU__PASSING, TC_E_NOMEM, "free tensors, or use smaller sizes"},
    {3, TCU__PASSING, TC_E_BACKEND,
     "a child of fork cannot use its parent's CUDA: exec, or fork before CUDA is "
     "used"},
    {4, TCU__DEADLY, TC_E_BACKEND,
     "the process is shutting down: close contexts before main returns"},
    {34, TCU__PASSING, TC_E_BACKEND,
     "this is the toolkit's stub, not a driver: take its folder out of "
     "LD_LIBRARY_PATH, or install a driver"},
    {36, TCU__PASSING, TC_E_VERSION, "update the driver"},
    {46, TCU__PASSING, TC_E_BACKEND, "another process has the device for itself"},
    {100, TCU__PASSING, TC_E_BACKEND,
     "no GPU is visible: see nvidia-smi and CUDA_VISIBLE_DEVICES"},
    {101, TCU__PASSING, TC_E_BACKEND, "there is no such device: see CUDA_VISIBLE_DEVICES"},
    {200, TCU__PASSING, TC_E_BACKEND, "the code is damaged: clear the cache"},
    {209, TCU__PASSING, TC_E_BACKEND, "the code was made for another GPU: clear the cache"},
    {214, TCU__DEADLY, TC_E_BACKEND, "the device's memory failed: reset or replace it"},
    {218, TCU__PASSING, TC_E_BACKEND, "the driver refuses the PTX; its log is below"},
    {220, TCU__DEADLY, TC_E_BACKEND, "a link between devices failed: see nvidia-smi"},
    {221, TCU__PASSING, TC_E_BACKEND,
     "the driver has no compiler for PTX: install libnvidia-ptxjitcompiler"},
    {222, TCU__PASSING, TC_E_VERSION,
     "the driver is older than the NVRTC that made the PTX: update it, or install an "
     "older NVRTC"},
    {226, TCU__DEADLY, TC_E_BACKEND, "the device's memory failed: restart the program"},
    {700, TCU__DEADLY, TC_E_BACKEND, "a kernel used memory that is not its own"},
    {701, TCU__PASSING, TC_E_BACKEND,
     "the kernel needs more registers or shared memory than there are"},
    {702, TCU__DEADLY, TC_E_BACKEND,
     "a kernel ran too long on a device that has a display"},
    {709, TCU__DEADLY, TC_E_BACKEND, "somebody in the process reset the device"},
    {710, TCU__DEADLY, TC_E_BACKEND, "a kernel's assertion failed"},
    {714, TCU__DEADLY, TC_E_BACKEND, "a kernel's stack is damaged"},
    {715, TCU__DEADLY, TC_E_BACKEND,
     "a kernel has an instruction that the device does not know"},
    {716, TCU__DEADLY, TC_E_BACKEND, "a kernel's access is not aligned"},
    {717, TCU__DEADLY, TC_E_BACKEND, "a kernel used an address of the wrong kind"},
    {718, TCU__DEADLY, TC_E_BACKEND, "a kernel jumped to nowhere"},
    {719, TCU__DEADLY, TC_E_BACKEND, "a kernel failed"},
    {721, TCU__DEADLY, TC_E_BACKEND, "a kernel kept tensor memory"},
    {802, TCU__PASSING, TC_E_BACKEND,
     "the system's GPUs are not ready: is the fabric manager running?"},
    {803, TCU__PASSING, TC_E_VERSION,
     "kernel module and driver library differ: reboot, or load the new module"},
    {804, TCU__PASSING, TC_E_VERSION,
     "the compatibility package is not for this GPU: take it out of LD_LIBRARY_PATH"},
};

// The row of a code; the count of rows = there is none.
TCU__FN size_t tcu__code_row(tcu__code code) {
    size_t i = 0;
    while (i < TCU__COUNT(tcu__codes) && tcu__codes[i].code != code) i++;
    return i;
}

TCU__FN void tcu__trouble_clear(tcu__trouble *t) {
    t->status = TC_OK;
    t->code = 0;
    t->text[0] = 0;
}

// Notes a failure, unless one is noted. Always 0, for `return tcu__fail(...)`.
TCU__PRINTF(3, 4)
TCU__FN int tcu__fail(tcu__trouble *t, tc_status status, const char *format, ...) {
    va_list list;
    if (t->status != TC_OK) return 0;
    t->status = status;
    va_start(list, format);
    vsnprintf(t->text, sizeof t->text, format, list);
    va_end(list);
    return 0;
}

// No memory of the host.
TCU__FN int tcu__no_memory(tcu__trouble *t, const char *what) {
    return tcu__fail(t, TC_E_NOMEM, "out of memory of the host for %s", what);
}

// "cuMemAlloc_v2, for a tensor: CUDA_ERROR_OUT_OF_MEMORY (2): out of memory; free tensors"
TCU__FN void tcu__describe(const tcu__driver_calls *call, tcu__code code, const char *name,
                           const char *what, char *text, size_t room) {
    const char *id = NULL, *meaning = NULL;
    size_t row = tcu__code_row(code);
    // A stub does not even know its own code.
    if (call->cuGetErrorName(code, &id) || !id) id = "error";
    if (call->cuGetErrorString(code, &meaning)) meaning = NULL;
    tcu__print(text, room, "%s, for %s: %s (%d)", name, what, id, code);
    if (meaning) tcu__put(text, room, ": %s", meaning);
    if (row < TCU__COUNT(tcu__codes)) {
        tcu__put(text, room, "; %s", tcu__codes[row].advice);
    }
}

// After a deadly code the device is refused from now on.
TCU__FN void tcu__note(const tcu__driver_calls *call, tcu__trouble *t, tcu__code code,
                       const char *name, const char *what) {
    size_t row = tcu__code_row(code);
    if (t->dead || row == TCU__COUNT(tcu__codes)) return;
    if (tcu__codes[row].severity != TCU__DEADLY) return;
    t->dead = code;
    tcu__describe(call, code, name, what, t->death, sizeof t->death);
}

// 0 = the device is dead, and the refusal is noted.
TCU__FN int tcu__alive(tcu__trouble *t, const char *what) {
    if (!t->dead) return 1;
    return tcu__fail(t, TC_E_BACKEND,
                     "%s: refused, since an earlier error made the device unusable until "
                     "the program is restarted: %.440s",
                     what, t->death);
}

// Whether the call succeeded; else the failure is noted.
TCU__FN int tcu__judge(const tcu__driver_calls *call, tcu__trouble *t, tcu__code code,
                       const char *name, const char *what) {
    char text[TCU__TEXT];
    if (!code) return 1;
    size_t row = tcu__code_row(code);
    tcu__note(call, t, code, name, what);
    if (t->status != TC_OK) return 0;
    tcu__describe(call, code, name, what, text, sizeof text);
    t->code = code;
    return tcu__fail(t,
                     row < TCU__COUNT(tcu__codes) ? tcu__codes[row].status : TC_E_BACKEND,
                     "%s", text);
}

// One call of the driver: 1, or 0 with its failure in *trouble. `what` is a text that ends
// the sentence "cuX, for ...".
#define TCU__CALL(calls, trouble, what, name, ...)                                         \
    (tcu__alive(trouble, what) &&                                                          \
     tcu__judge(calls, trouble, (calls)->name(__VA_ARGS__), #name, what))
// ---- gen/cuda/library.c -------------------------------------------------
// The driver's library: found, loaded, its entry points looked up. Nothing is linked, so a
// program runs without CUDA too; what is missing becomes one sentence that says what was
// looked for, where, and what to do. TC_CUDA_LIBRARY names another file.

enum { TCU__OLDEST_DRIVER = 12000 }; // CUDA 12.0: graph nodes with kernels, cluster launch

typedef struct tcu__driver {
    tcu__driver_calls call;
    void *library; // NULL = not open
    int version;   // 13000: CUDA 13.0
    int devices;
    char path[TCU__PATH]; // as it was found
} tcu__driver;

// The only writable global of this header: the process that initialised CUDA. The driver
// does not work in a child of that process, and calling it there may hang.
static volatile long tcu__owner;

#if TCU__POSIX
// Never unloaded: the driver and NVRTC have threads and exit handlers of their own.
TCU__FN void *tcu__library_open(const char *path, int for_all) {
    return dlopen(path, RTLD_NOW | RTLD_NODELETE | (for_all ? RTLD_GLOBAL : RTLD_LOCAL));
}

TCU__FN void tcu__library_close(void *library) {
    if (library) dlclose(library);
}

TCU__FN void *tcu__library_symbol(void *library, const char *name) {
    return dlsym(library, name);
}

TCU__FN const char *tcu__library_why(void) {
    const char *s = dlerror();
    return s ? s : "no reason given";
}

// The file that a symbol came from, "" where nobody knows.
TCU__FN void tcu__library_path(void *symbol, char *path, size_t room) {
    Dl_info info;
    path[0] = 0;
    if (dladdr(symbol, &info) && info.dli_fname)
        tcu__print(path, room, "%s", info.dli_fname);
}
#else
TCU__FN void *tcu__library_open(const char *path, int for_all) {
    (void)path, (void)for_all;
    return NULL;
}
TCU__FN void tcu__library_close(void *library) { (void)library; }
TCU__FN void *tcu__library_symbol(void *library, const char *name) {
    (void)library, (void)name;
    return NULL;
}
TCU__FN const char *tcu__library_why(void) { return "no dlopen on this system yet"; }
TCU__FN void tcu__library_path(void *symbol, char *path, size_t room) {
    (void)symbol, (void)room;
    path[0] = 0;
}
#endif

// Fills a struct of pointers. NULL, or the first required name that is not there.
TCU__FN const char *tcu__symbols_find(void *library, const tcu__symbol *row, size_t count,
                                      void *calls) {
    for (size_t i = 0; i < count; i++) {
        void *symbol = tcu__library_symbol(library, row[i].name);
        if (!symbol && row[i].need == TCU__REQUIRED) return row[i].name;
        memcpy((char *)calls + row[i].offset, &symbol, sizeof symbol);
    }
    return NULL;
}

TCU__FN void tcu__driver_close(tcu__driver *v) {
    tcu__library_close(v->library);
    memset(v, 0, sizeof *v);
}

TCU__FN int tcu__driver_load(tcu__driver *v, tcu__trouble *t) {
    static const char *const usual[] = {"libcuda.so.1", "libcuda.so",
                                        "/usr/lib/wsl/lib/libcuda.so.1"};
    const char *given = tcu__env("TC_CUDA_LIBRARY");
    size_t count = given ? 1 : TCU__COUNT(usual);
    char first[200] = "";
    for (size_t i = 0; i < count && !v->library; i++) {
        tcu__print(v->path, sizeof v->path, "%s", given ? given : usual[i]);
        v->library = tcu__library_open(v->path, 0);
        if (!v->library && !i) tcu__print(first, sizeof first, "%s", tcu__library_why());
    }
    if (v->library) return 1;
    if (given)
        return tcu__fail(
            t, TC_E_BACKEND,
            "no CUDA driver: TC_CUDA_LIBRARY=%.200s cannot be loaded (%s); correct "
            "it, or unset it",
            given, first);
    return tcu__fail(
        t, TC_E_BACKEND,
        "no CUDA driver: libcuda.so.1 is not in the loader's path (%s); install "
        "NVIDIA's driver, or set TC_CUDA_LIBRARY to the file",
        first);
}

TCU__FN int tcu__driver_symbols_find(tcu__driver *v, tcu__trouble *t) {
    const char *missing = tcu__symbols_find(v->library, tcu__driver_symbols,
                                            TCU__COUNT(tcu__driver_symbols), &v->call);
    void *symbol = tcu__library_symbol(v->library, "cuInit");
    if (missing)
        return tcu__fail(
            t, TC_E_VERSION,
            "the CUDA driver %s has no %s: it is older than CUDA 12.0; update it", v->path,
            missing);
    tcu__library_path(symbol, v->path, sizeof v->path);
    return 1;
}

// Once per process: cuInit. A driver says no here when it is a stub or sees no device.
TCU__FN int tcu__driver_init(tcu__driver *v, tcu__trouble *t) {
    long owner = TCU__LOAD(&tcu__owner), self = tcu__process();
    if (owner && owner != self)
        return tcu__fail(
            t, TC_E_BACKEND,
            "CUDA was initialised before this process was forked, and does not "
            "work in the child; exec a program, or fork before CUDA is used");
    if (!TCU__CALL(&v->call, t, "the start of CUDA", cuDriverGetVersion, &v->version) ||
        (v->version >= TCU__OLDEST_DRIVER &&
         !TCU__CALL(&v->call, t, "the start of CUDA", cuInit, 0)))
        return 0;
    if (v->version < TCU__OLDEST_DRIVER)
        return tcu__fail(
            t, TC_E_VERSION,
            "the CUDA driver %s supports CUDA %d.%d, and 12.0 is needed; update it",
            v->path, v->version / 1000, v->version % 1000 / 10);
    TCU__STORE(&tcu__owner, self);
    if (!TCU__CALL(&v->call, t, "the number of devices", cuDeviceGetCount, &v->devices))
        return 0;
    return v->devices > 0 ||
           tcu__fail(t, TC_E_BACKEND,
                     "the CUDA driver %s works, but sees no device; see nvidia-smi and "
                     "CUDA_VISIBLE_DEVICES",
                     v->path);
}

// Loads and initialises the driver: 1, or 0 with the reason in *t and nothing left open.
TCU__FN int tcu__driver_open(tcu__driver *v, tcu__trouble *t) {
    memset(v, 0, sizeof *v);
    if (tcu__driver_load(v, t) && tcu__driver_symbols_find(v, t) && tcu__driver_init(v, t))
        return 1;
    tcu__driver_close(v);
    return 0;
}
// ---- gen/cuda/device.c --------------------------------------------------
// A device that is in use: the driver, the primary context, facts, streams, events, and the
// sums of memory that other parts hold. The primary context is the one that every library
// in the process shares; it is never reset.
//
// Whoever uses a device says tcu__enter, works, and says tcu__leave, on one thread at a
// time. All functions of the parts below expect to be called in between.

enum { TCU__COPY_IN, TCU__COPY_OUT, TCU__COPY_WAYS };
enum { TCU__PEERS = 64 };      // devices that are known to reach each other, or not
enum { TCU__SPIN_NS = 20000 }; // asking an event costs less than sleeping, for so long

// Whether a device reaches another's memory: see cuda/peer.c.
typedef enum tcu__peer { TCU__PEER_UNASKED, TCU__PEER_YES, TCU__PEER_NO } tcu__peer;

typedef struct tcu__facts {
    int threads_block, sms, l2_bytes, threads_sm, major, minor, shared_sm, shared_block;
    int virtual_memory, clusters, tensor_maps;
    size_t memory;
    char name[128];
} tcu__facts;

typedef struct tcu__device {
    tc_allocator host;
    tcu__driver driver;
    tcu__trouble trouble;
    int ordinal;
    long process; // that opened it
    int orphan;   // this is a child of that process
    tcu__ordinal handle;
    tcu__context context;
    tcu__context outside; // what was current before tcu__enter
    int inside;           // tcu__enter without tcu__leave
    int careful;          // wait for every kernel, so that its error has its name
    tcu__facts facts;
    tcu__peer peer[TCU__PEERS]; // by ordinal
    tcu__stream compute;
    tcu__stream copy[TCU__COPY_WAYS]; // made on first use
    struct {
        tcu__event *at; // owned; not in use
        size_t count, capacity;
    } events;
    struct { // bytes, kept by the parts that hold them
        size_t live, cached, peak, arena, pinned;
    } held;
    // Gives back what nobody uses, when memory runs out: the bytes. NULL = nothing to give.
    size_t (*relieve)(void *user);
    void *relieve_user;
} tcu__device;

// One call for a device: 1, or 0 with the failure in its trouble.
#define TCU__DO(d, what, name, ...)                                                        \
    TCU__CALL(&(d)->driver.call, &(d)->trouble, what, name, __VA_ARGS__)

// Gives something back. A failure changes nothing for the caller, but may be the first sign
// of a dead device. In a child of the process that has the device nothing is called.
#define TCU__UNDO(d, name, ...)                                                            \
    tcu__note(&(d)->driver.call, &(d)->trouble,                                            \
              (d)->orphan ? 0 : (d)->driver.call.name(__VA_ARGS__), #name, "giving back")

// ---- in and out

// Makes the device's context current: 1, or 0 = refused. The driver is asked what is
// current each time (it is a load for it): other libraries change that too, on any thread.
TCU__FN int tcu__enter(tcu__device *d) {
    tcu__context now = NULL;
    if (d->inside) return ++d->inside;
    if (d->process != tcu__process())
        return tcu__fail(
            &d->trouble, TC_E_BACKEND,
            "device %d was opened before this process was forked, and does not "
            "work in the child; exec a program, or fork before CUDA is used",
            d->ordinal);
    if (!TCU__DO(d, "entering the device", cuCtxGetCurrent, &now)) return 0;
    if (now != d->context &&
        !TCU__DO(d, "entering the device", cuCtxSetCurrent, d->context))
        return 0;
    d->outside = now;
    return d->inside = 1;
}

// The thread has again what it had, be it nothing: others in the process look at it too.
TCU__FN void tcu__leave(tcu__device *d) {
    if (--d->inside || d->outside == d->context) return;
    TCU__UNDO(d, cuCtxSetCurrent, d->outside);
}

// Enters to give things back, dead or not.
TCU__FN void tcu__enter_to_close(tcu__device *d) {
    if (d->inside || !d->context) return;
    d->inside = 1;
    TCU__UNDO(d, cuCtxGetCurrent, &d->outside);
    if (d->outside != d->context) TCU__UNDO(d, cuCtxSetCurrent, d->context);
}

// ---- facts

typedef struct tcu__fact {
    tcu__device_attribute what;
    tcu__need need; // OPTIONAL: 0 where the driver does not know the question
    size_t offset;
} tcu__fact;

#define TCU__FACT(what, need, field)                                                       \
    { what, need, offsetof(tcu__facts, field) }
static const tcu__fact tcu__fact_rows[] = {
    TCU__FACT(TCU__MAJOR, TCU__REQUIRED, major),
    TCU__FACT(TCU__MINOR, TCU__REQUIRED, minor),
    TCU__FACT(TCU__MULTIPROCESSORS, TCU__REQUIRED, sms),
    TCU__FACT(TCU__L2_BYTES, TCU__REQUIRED, l2_bytes),
    TCU__FACT(TCU__THREADS_PER_BLOCK, TCU__REQUIRED, threads_block),
    TCU__FACT(TCU__THREADS_PER_SM, TCU__REQUIRED, threads_sm),
    TCU__FACT(TCU__SHARED_PER_SM, TCU__REQUIRED, shared_sm),
    TCU__FACT(TCU__SHARED_PER_BLOCK, TCU__REQUIRED, shared_block),
    TCU__FACT(TCU__VIRTUAL_MEMORY, TCU__OPTIONAL, virtual_memory),
    TCU__FACT(TCU__CLUSTERS, TCU__OPTIONAL, clusters),
    TCU__FACT(TCU__TENSOR_MAPS, TCU__OPTIONAL, tensor_maps),
};

// Asks one attribute; a question that an older driver does not know is answered by 0.
TCU__FN int tcu__fact_ask(const tcu__driver *v, tcu__trouble *t, tcu__ordinal device,
                          const tcu__fact *f, tcu__facts *facts) {
    int value = 0;
    if (!tcu__alive(t, "an attribute of the device")) return 0;
    tcu__code code = v->call.cuDeviceGetAttribute(&value, f->what, device);
    if (f->need == TCU__OPTIONAL && code == TCU__E_INVALID) code = value = 0;
    if (!tcu__judge(&v->call, t, code, "cuDeviceGetAttribute",
                    "an attribute of the device"))
        return 0;
    memcpy((char *)facts + f->offset, &value, sizeof value);
    return 1;
}

// What is to know of a device without its context: 1, or 0 with the reason in *t.
TCU__FN int tcu__facts_ask(const tcu__driver *v, tcu__trouble *t, int ordinal,
                           tcu__ordinal *device, tcu__facts *f) {
    memset(f, 0, sizeof *f);
    if (ordinal < 0 || ordinal >= v->devices)
        return tcu__fail(t, TC_E_ARG, "device %d: there %s %d, numbered from 0", ordinal,
                         v->devices == 1 ? "is" : "are", v->devices);
    if (!TCU__CALL(&v->call, t, "the device", cuDeviceGet, device, ordinal) ||
        !TCU__CALL(&v->call, t, "the device's name", cuDeviceGetName, f->name,
                   (int)sizeof f->name, *device) ||
        !TCU__CALL(&v->call, t, "the device's memory", cuDeviceTotalMem_v2, &f->memory,
                   *device))
        return 0;
    f->name[sizeof f->name - 1] = 0;
    for (size_t i = 0; i < TCU__COUNT(tcu__fact_rows); i++) {
        if (!tcu__fact_ask(v, t, *device, &tcu__fact_rows[i], f)) return 0;
    }
    return 1;
}

// ---- open and close

// Gives everything back. What other parts hold must be gone; the device is zeroed but for
// its trouble.
TCU__FN void tcu__device_close(tcu__device *d) {
    if (d->context) {
        tcu__enter_to_close(d);
        for (size_t i = 0; i < d->events.count; i++)
            TCU__UNDO(d, cuEventDestroy_v2, d->events.at[i]);
        for (int i = 0; i < TCU__COPY_WAYS; i++) {
            if (d->copy[i]) TCU__UNDO(d, cuStreamDestroy_v2, d->copy[i]);
        }
        if (d->compute) TCU__UNDO(d, cuStreamDestroy_v2, d->compute);
        d->inside = 1;
        tcu__leave(d);
        TCU__UNDO(d, cuDevicePrimaryCtxRelease_v2, d->handle);
    }
    TCU__FREE(&d->host, d->events.at, d->events.capacity);
    tcu__driver_close(&d->driver);
    tcu__trouble kept = d->trouble;
    memset(d, 0, sizeof *d);
    d->trouble = kept;
}

// Opens device `ordinal`, and enters it: 1, or 0 with the reason in d->trouble and nothing
// left open. *d need not be initialised.
TCU__FN int tcu__device_open(tcu__device *d, const tc_allocator *host, int ordinal) {
    memset(d, 0, sizeof *d);
    if (host) d->host = *host;
    d->ordinal = ordinal;
    d->process = tcu__process();
    if (tcu__driver_open(&d->driver, &d->trouble) &&
        tcu__facts_ask(&d->driver, &d->trouble, ordinal, &d->handle, &d->facts) &&
        TCU__DO(d, "the device's context", cuDevicePrimaryCtxRetain, &d->context,
                d->handle) &&
        tcu__enter(d) &&
        TCU__DO(d, "the compute stream", cuStreamCreateWithPriority, &d->compute,
                TCU__STREAM_NON_BLOCKING, 0))
        return 1;
    tcu__device_close(d);
    return 0;
}

// The stream for copies one way; NULL = reported.
TCU__FN tcu__stream tcu__copy_stream(tcu__device *d, int way) {
    if (d->copy[way]) return d->copy[way];
    tcu__stream s = NULL;
    if (!TCU__DO(d, "a copy stream", cuStreamCreateWithPriority, &s,
                 TCU__STREAM_NON_BLOCKING, 0))
        return NULL;
    return d->copy[way] = s;
}

// ---- events

// An event without times, from the pool; NULL = reported.
TCU__FN tcu__event tcu__event_take(tcu__device *d) {
    tcu__event e = NULL;
    if (d->events.count) return d->events.at[--d->events.count];
    if (!TCU__DO(d, "an event", cuEventCreate, &e,
                 TCU__EVENT_NO_TIMING | TCU__EVENT_BLOCKING))
        return NULL;
    return e;
}

TCU__FN void tcu__event_give(tcu__device *d, tcu__event e) {
    if (!e) return;
    tcu__event *at = (tcu__event *)tcu__grown(&d->host, d->events.at, d->events.count,
                                              &d->events.capacity, sizeof *at);
    if (!at) {
        TCU__UNDO(d, cuEventDestroy_v2, e);
        return;
    }
    d->events.at = at;
    at[d->events.count++] = e;
}

// An event that knows when it happened; NULL = reported.
TCU__FN tcu__event tcu__moment_take(tcu__device *d) {
    tcu__event e = NULL;
    return TCU__DO(d, "an event", cuEventCreate, &e, TCU__EVENT_BLOCKING) ? e : NULL;
}

// Waits for what was recorded: asks for a while, then sleeps.
TCU__FN int tcu__event_wait(tcu__device *d, tcu__event e) {
    uint64_t end = tcu__now() + TCU__SPIN_NS;
    if (!tcu__alive(&d->trouble, "waiting for the device")) return 0;
    do {
        tcu__code code = d->driver.call.cuEventQuery(e);
        if (code != TCU__E_NOT_READY)
            return tcu__judge(&d->driver.call, &d->trouble, code, "cuEventQuery",
                              "waiting for the device");
    } while (tcu__now() < end);
    return TCU__DO(d, "waiting for the device", cuEventSynchronize, e);
}

// Waits for both, and gives what lies between them.
TCU__FN int tcu__moments_apart(tcu__device *d, tcu__event from, tcu__event to,
                               uint64_t *ns) {
    float ms = 0;
    *ns = 0;
    if (!tcu__event_wait(d, from) || !tcu__event_wait(d, to) ||
        !TCU__DO(d, "times of the device", cuEventElapsedTime, &ms, from, to))
        return 0;
    if (ms > 0) *ns = (uint64_t)((double)ms * 1e6 + 0.5);
    return 1;
}

// Waits until the stream has done all it was given.
TCU__FN int tcu__stream_wait(tcu__device *d, tcu__stream s) {
    tcu__event e = tcu__event_take(d);
    int ok = e && TCU__DO(d, "waiting for the device", cuEventRecord, e, s) &&
             tcu__event_wait(d, e);
    tcu__event_give(d, e);
    return ok;
}

// What `later` is given from now on begins after what `first` was given.
TCU__FN int tcu__stream_after(tcu__device *d, tcu__stream later, tcu__stream first) {
    tcu__event e = tcu__event_take(d);
    int ok = e && TCU__DO(d, "the order of streams", cuEventRecord, e, first) &&
             TCU__DO(d, "the order of streams", cuStreamWaitEvent, later, e, 0);
    tcu__event_give(d, e);
    return ok;
}
// ---- gen/cuda/memory.c --------------------------------------------------
// Memory for tensors: blocks of size classes, kept when they are given back and used again
// for the same stream. In the order of one stream the next user of a block runs after the
// last, so nothing has to be waited for. When the device is full, all that is kept goes
// back to the driver, and the call is made once more.

#define TCU__SMALL_STEP ((size_t)512)
#define TCU__LARGE_STEP ((size_t)2 << 20)
#define TCU__SMALL_MOST ((size_t)1 << 20)

enum { TCU__CHAINS = 128 }; // of cached blocks, by class and stream

typedef struct tcu__block {
    struct tcu__block *next, *before; // in its chain, or of all that are in use
    tcu__address address;
    size_t size; // of its class
    tcu__stream stream;
} tcu__block;

typedef struct tcu__pool {
    tcu__device *device;
    tcu__block *cached[TCU__CHAINS];
    tcu__block *live;
} tcu__pool;

// Everything that is held, for errors and reports.
typedef struct tcu__memory {
    size_t live, cached, peak; // tensors: in use, kept for the next, most in use so far
    size_t arena, pinned;      // of plans, on the device; for copies, on the host
    size_t unused, total;      // of the device, all processes
} tcu__memory;

// What the device holds; 0 = reported.
TCU__FN int tcu__memory_ask(tcu__device *d, tcu__memory *m) {
    m->live = d->held.live;
    m->cached = d->held.cached;
    m->peak = d->held.peak;
    m->arena = d->held.arena;
    m->pinned = d->held.pinned;
    m->unused = m->total = 0;
    return TCU__DO(d, "the memory in use", cuMemGetInfo_v2, &m->unused, &m->total);
}

TCU__FN void tcu__memory_put(const tcu__memory *m, char *text, size_t room) {
    tcu__size_text a, b, c;
    tcu__put(text, room, "tensors hold %s (at most %s so far) and %s are kept for the next",
             tcu__bytes(m->live, &a), tcu__bytes(m->peak, &b), tcu__bytes(m->cached, &c));
    tcu__put(text, room, ", plans hold %s", tcu__bytes(m->arena, &a));
    if (m->pinned)
        tcu__put(text, room, ", copies %s of the host", tcu__bytes(m->pinned, &a));
    if (m->total)
        tcu__put(text, room, ", %s of the device's %s are free", tcu__bytes(m->unused, &a),
                 tcu__bytes(m->total, &b));
}

// The error for a device that is full. Its own question for the memory may fail: then that
// part is left out.
TCU__FN int tcu__memory_full(tcu__device *d, size_t size, const char *what) {
    tcu__memory m;
    tcu__size_text a;
    char text[TCU__TEXT] = "";
    memset(&m, 0, sizeof m);
    tcu__trouble_clear(&d->trouble);
    tcu__memory_ask(d, &m);
    tcu__trouble_clear(&d->trouble);
    tcu__memory_put(&m, text, sizeof text);
    d->trouble.code = TCU__E_NOMEM;
    return tcu__fail(
        &d->trouble, TC_E_NOMEM,
        "device %d is full: %s wanted for %s; %s. Free tensors, or use smaller "
        "sizes",
        d->ordinal, tcu__bytes(size, &a), what, text);
}

// After a call that failed: 1 = the device was full, something was given back, and the call
// may be made again, its failure forgotten.
TCU__FN int tcu__relieved(tcu__device *d) {
    if (d->trouble.code != TCU__E_NOMEM || d->trouble.dead || !d->relieve) return 0;
    tcu__trouble kept = d->trouble;
    tcu__trouble_clear(&d->trouble);
    if (d->relieve(d->relieve_user) && !d->trouble.dead) return 1;
    d->trouble.status = kept.status;
    d->trouble.code = kept.code;
    memcpy(d->trouble.text, kept.text, sizeof kept.text);
    return 0;
}

// Memory of the driver, once more after relief; 0 = reported. Nothing may be in trouble
// yet.
TCU__FN int tcu__memory_get(tcu__device *d, size_t size, const char *what,
                            tcu__address *address) {
    if (TCU__DO(d, what, cuMemAlloc_v2, address, size)) return 1;
    if (tcu__relieved(d) && TCU__DO(d, what, cuMemAlloc_v2, address, size)) return 1;
    if (d->trouble.code != TCU__E_NOMEM || d->trouble.dead) return 0;
    return tcu__memory_full(d, size, what);
}

// ---- the pool

// Bytes of the class that a size falls into; 0 = too large for a size_t.
TCU__FN size_t tcu__class_of(size_t size) {
    size_t step = size <= TCU__SMALL_MOST ? TCU__SMALL_STEP : TCU__LARGE_STEP;
    if (size > SIZE_MAX - step) return 0;
    return size ? (size + step - 1) / step * step : step;
}

TCU__FN tcu__block **tcu__chain_of(tcu__pool *p, size_t size, tcu__stream stream) {
    uint64_t h = (size / TCU__SMALL_STEP + (uintptr_t)stream) * 0x9e3779b97f4a7c15u;
    return &p->cached[(h >> 32) % TCU__CHAINS];
}

TCU__FN void tcu__block_link(tcu__block **head, tcu__block *b) {
    b->before = NULL;
    b->next = *head;
    if (*head) (*head)->before = b;
    *head = b;
}

TCU__FN void tcu__block_unlink(tcu__block **head, tcu__block *b) {
    if (b->before)
        b->before->next = b->next;
    else
        *head = b->next;
    if (b->next) b->next->before = b->before;
}

// Gives all cached blocks back to the driver, which waits for what still uses them: bytes.
TCU__FN size_t tcu__pool_trim(tcu__pool *p) {
    tcu__device *d = p->device;
    size_t had = d->held.cached;
    for (size_t i = 0; i < TCU__CHAINS; i++) {
        while (p->cached[i]) {
            tcu__block *b = p->cached[i];
            p->cached[i] = b->next;
            TCU__UNDO(d, cuMemFree_v2, b->address);
            TCU__FREE(&d->host, b, 1);
        }
    }
    d->held.cached = 0;
    return had;
}

TCU__FN size_t tcu__pool_relieve(void *user) { return tcu__pool_trim((tcu__pool *)user); }

TCU__FN void tcu__pool_open(tcu__pool *p, tcu__device *d) {
    memset(p, 0, sizeof *p);
    p->device = d;
    d->relieve = tcu__pool_relieve;
    d->relieve_user = p;
}

TCU__FN tcu__block *tcu__pool_cached(tcu__pool *p, size_t size, tcu__stream stream) {
    tcu__block **head = tcu__chain_of(p, size, stream);
    for (tcu__block *b = *head; b; b = b->next) {
        if (b->size != size || b->stream != stream) continue;
        tcu__block_unlink(head, b);
        p->device->held.cached -= size;
        return b;
    }
    return NULL;
}

TCU__FN tcu__block *tcu__pool_new(tcu__pool *p, size_t size, tcu__stream stream) {
    tcu__device *d = p->device;
    tcu__block *b = TCU__NEW(&d->host, tcu__block);
    if (!b) {
        tcu__no_memory(&d->trouble, "a tensor's block");
        return NULL;
    }
    b->size = size;
    b->stream = stream;
    if (tcu__memory_get(d, size, "a tensor", &b->address)) return b;
    TCU__FREE(&d->host, b, 1);
    return NULL;
}

// A block of at least `size` bytes for work on the stream; its address is a multiple of
// 256. What it held before is still in it. NULL = reported.
TCU__FN tcu__block *tcu__pool_take(tcu__pool *p, size_t size, tcu__stream stream) {
    tcu__device *d = p->device;
    size_t want = tcu__class_of(size);
    if (!want) {
        tcu__fail(&d->trouble, TC_E_TOO_BIG, "a tensor of %zu bytes does not fit size_t",
                  size);
        return NULL;
    }
    tcu__block *b = tcu__pool_cached(p, want, stream);
    if (!b) b = tcu__pool_new(p, want, stream);
    if (!b) return NULL;
    tcu__block_link(&p->live, b);
    d->held.live += want;
    if (d->held.live > d->held.peak) d->held.peak = d->held.live;
    return b;
}

// Gives a block back: for the next user on its stream. Work of other streams on it must
// have been waited for, or ordered before its stream (tcu__stream_after).
TCU__FN void tcu__pool_give(tcu__pool *p, tcu__block *b) {
    if (!b) return;
    tcu__block_unlink(&p->live, b);
    p->device->held.live -= b->size;
    p->device->held.cached += b->size;
    tcu__block_link(tcu__chain_of(p, b->size, b->stream), b);
}

// Frees all blocks, those in use too.
TCU__FN void tcu__pool_close(tcu__pool *p) {
    if (!p->device) return;
    while (p->live) tcu__pool_give(p, p->live);
    tcu__pool_trim(p);
    p->device->relieve = NULL;
    memset(p, 0, sizeof *p);
}
// ---- gen/cuda/arena.c ---------------------------------------------------
// The arena: memory for the intermediate results of plans, which run one after the other
// and share it. It grows and never moves, because recorded graphs hold its addresses: a
// range of addresses as large as the device's memory is reserved once, and physical memory
// is mapped at its end. A device without virtual memory gets a new, larger chunk instead,
// and the chunks before stay for the graphs that know them.

#define TCU__ARENA_STEP ((size_t)2 << 20)

typedef struct tcu__chunk {
    tcu__address base;
    size_t size;
    tcu__physical physical; // 0 = from cuMemAlloc
} tcu__chunk;

typedef struct tcu__arena {
    tcu__device *device;
    tcu__address base; // of the range; 0 = none yet, or no virtual memory
    size_t reserved, mapped, granularity;
    tcu__chunk *chunk; // owned, in the order they were made
    size_t count, capacity;
} tcu__arena;

TCU__FN void tcu__arena_open(tcu__arena *a, tcu__device *d) {
    memset(a, 0, sizeof *a);
    a->device = d;
}

TCU__FN tcu__memory_kind tcu__arena_kind(const tcu__device *d) {
    tcu__memory_kind kind;
    memset(&kind, 0, sizeof kind);
    kind.type = TCU__MEMORY_PINNED;
    kind.location.type = TCU__ON_DEVICE;
    kind.location.id = d->handle;
    return kind;
}

TCU__FN int tcu__arena_virtual(const tcu__device *d) {
    const tcu__driver_calls *v = &d->driver.call;
    return d->facts.virtual_memory && v->cuMemGetAllocationGranularity &&
           v->cuMemAddressReserve && v->cuMemAddressFree && v->cuMemCreate &&
           v->cuMemRelease && v->cuMemMap && v->cuMemUnmap && v->cuMemSetAccess;
}

TCU__FN size_t tcu__rounded(size_t size, size_t step) {
    return (size + step - 1) / step * step;
}

// Reserves the range, once.
TCU__FN int tcu__arena_range(tcu__arena *a) {
    tcu__device *d = a->device;
    tcu__memory_kind kind = tcu__arena_kind(d);
    size_t step = 0;
    if (a->base) return 1;
    if (!TCU__DO(d, "the arena", cuMemGetAllocationGranularity, &step, &kind,
                 TCU__GRANULARITY_MINIMUM))
        return 0;
    a->granularity = tcu__rounded(TCU__ARENA_STEP, step ? step : 1);
    size_t size = tcu__rounded(d->facts.memory, a->granularity);
    if (!TCU__DO(d, "the arena's addresses", cuMemAddressReserve, &a->base, size, 0, 0, 0))
        return 0;
    a->reserved = size;
    return 1;
}

// Physical memory of the driver, once more after relief; 0 = reported.
TCU__FN int tcu__arena_physical(tcu__device *d, size_t size, tcu__physical *p) {
    tcu__memory_kind kind = tcu__arena_kind(d);
    if (TCU__DO(d, "the arena", cuMemCreate, p, size, &kind, 0)) return 1;
    if (tcu__relieved(d) && TCU__DO(d, "the arena", cuMemCreate, p, size, &kind, 0))
        return 1;
    if (d->trouble.code != TCU__E_NOMEM || d->trouble.dead) return 0;
    return tcu__memory_full(d, size, "the intermediate results of a plan");
}

// Maps c->size bytes at c->base; on failure nothing of it stays.
TCU__FN int tcu__arena_map(tcu__device *d, tcu__chunk *c) {
    tcu__access access;
    memset(&access, 0, sizeof access);
    access.location.type = TCU__ON_DEVICE;
    access.location.id = d->handle;
    access.flags = TCU__READ_WRITE;
    if (!tcu__arena_physical(d, c->size, &c->physical)) return 0;
    if (TCU__DO(d, "the arena", cuMemMap, c->base, c->size, 0, c->physical, 0)) {
        if (TCU__DO(d, "the arena", cuMemSetAccess, c->base, c->size, &access, 1)) return 1;
        TCU__UNDO(d, cuMemUnmap, c->base, c->size);
    }
    TCU__UNDO(d, cuMemRelease, c->physical);
    return 0;
}

TCU__FN int tcu__arena_room(tcu__arena *a) {
    tcu__device *d = a->device;
    tcu__chunk *at =
        (tcu__chunk *)tcu__grown(&d->host, a->chunk, a->count, &a->capacity, sizeof *at);
    if (!at) return tcu__no_memory(&d->trouble, "the arena");
    a->chunk = at;
    return 1;
}

// Extends the mapped part to `size` bytes.
TCU__FN int tcu__arena_extend(tcu__arena *a, size_t size) {
    tcu__device *d = a->device;
    tcu__chunk c;
    if (!tcu__arena_range(a)) return 0;
    if (size <= a->mapped) return 1;
    if (size > a->reserved)
        return tcu__memory_full(d, size, "the intermediate results of a plan");
    c.base = a->base + a->mapped;
    c.size = tcu__rounded(size - a->mapped, a->granularity);
    if (!tcu__arena_room(a) || !tcu__arena_map(d, &c)) return 0;
    a->chunk[a->count++] = c;
    a->mapped += c.size;
    d->held.arena += c.size;
    return 1;
}

// Without virtual memory: the last chunk if it is large enough, else a new one of at least
// twice its size, so that all of them together are less than twice the last.
TCU__FN int tcu__arena_another(tcu__arena *a, size_t size) {
    tcu__device *d = a->device;
    tcu__chunk c;
    if (a->count && a->chunk[a->count - 1].size >= size) return 1;
    if (a->mapped > size / 2) size = a->mapped * 2;
    c.size = tcu__rounded(size, TCU__ARENA_STEP);
    c.physical = 0;
    if (!tcu__arena_room(a) ||
        !tcu__memory_get(d, c.size, "the intermediate results of a plan", &c.base))
        return 0;
    a->chunk[a->count++] = c;
    a->mapped = c.size;
    d->held.arena += c.size;
    return 1;
}

// The base of an arena of at least `size` bytes: 1, or 0 = reported, and what was there is
// as before. Bases that were given earlier stay valid until tcu__arena_close.
TCU__FN int tcu__arena_reserve(tcu__arena *a, size_t size, tcu__address *base) {
    tcu__device *d = a->device;
    if (!size) size = 1;
    if (size > SIZE_MAX / 4)
        return tcu__memory_full(d, size, "the intermediate results of a plan");
    if (tcu__arena_virtual(d)) {
        if (!tcu__arena_extend(a, size)) return 0;
        *base = a->base;
        return 1;
    }
    if (!tcu__arena_another(a, size)) return 0;
    *base = a->chunk[a->count - 1].base;
    return 1;
}

// Frees all; nothing may still run on it.
TCU__FN void tcu__arena_close(tcu__arena *a) {
    tcu__device *d = a->device;
    if (!d) return;
    for (size_t i = a->count; i-- > 0;) {
        const tcu__chunk *c = &a->chunk[i];
        if (c->physical) {
            TCU__UNDO(d, cuMemUnmap, c->base, c->size);
            TCU__UNDO(d, cuMemRelease, c->physical);
        } else {
            TCU__UNDO(d, cuMemFree_v2, c->base);
        }
        d->held.arena -= c->size;
    }
    if (a->base) TCU__UNDO(d, cuMemAddressFree, a->base, a->reserved);
    TCU__FREE(&d->host, a->chunk, a->capacity);
    memset(a, 0, sizeof *a);
}
// ---- gen/cuda/staging.c -------------------------------------------------
// Copies between the device and memory of the host that is not pinned, which is all that
// users have. They go through a ring of two pinned slots: while the device copies one, the
// host fills or empties the other. A slot takes many small copies before it is waited for.

#define TCU__SLOT_BYTES ((size_t)32 << 20)

enum { TCU__SLOTS = 2 };

typedef struct tcu__slot {
    unsigned char *memory; // pinned; NULL = not yet
    size_t used;           // bytes that copies may still read
    tcu__stream stream;    // of those copies
    tcu__event done;       // of all of them, once they are no more added to
} tcu__slot;

typedef struct tcu__staging {
    tcu__device *device;
    tcu__slot slot[TCU__SLOTS];
    int current;
} tcu__staging;

TCU__FN void tcu__staging_open(tcu__staging *s, tcu__device *d) {
    memset(s, 0, sizeof *s);
    s->device = d;
}

// Memory and event of a slot, on its first use.
TCU__FN int tcu__slot_make(tcu__device *d, tcu__slot *t) {
    void *memory = NULL;
    if (!t->done) t->done = tcu__event_take(d);
    if (!t->done) return 0;
    if (t->memory) return 1;
    if (!TCU__DO(d, "memory of the host for copies", cuMemHostAlloc, &memory,
                 TCU__SLOT_BYTES, 0))
        return 0;
    t->memory = (unsigned char *)memory;
    d->held.pinned += TCU__SLOT_BYTES;
    return 1;
}

// The slot after the current one, empty: what it held has been copied. The event of the
// slot that is left covers all its copies.
TCU__FN tcu__slot *tcu__slot_next(tcu__staging *s) {
    tcu__device *d = s->device;
    tcu__slot *left = &s->slot[s->current];
    tcu__slot *t = &s->slot[(s->current + 1) % TCU__SLOTS];
    if (left->used && !TCU__DO(d, "a copy", cuEventRecord, left->done, left->stream))
        return NULL;
    if (!tcu__slot_make(d, t)) return NULL;
    if (t->used && !tcu__event_wait(d, t->done)) return NULL;
    t->used = 0;
    s->current = (s->current + 1) % TCU__SLOTS;
    return t;
}

// A slot with room for n bytes of a copy on the stream.
TCU__FN tcu__slot *tcu__slot_for(tcu__staging *s, size_t n, tcu__stream stream) {
    tcu__slot *t = &s->slot[s->current];
    int fits = t->memory && n <= TCU__SLOT_BYTES - t->used;
    if (!fits || (t->used && t->stream != stream)) t = tcu__slot_next(s);
    if (t) t->stream = stream;
    return t;
}

// Copies to the device, in the order of the stream. When it returns the source may change:
// 1, or 0 = reported.
TCU__FN int tcu__copy_in(tcu__staging *s, tcu__address to, const void *from, size_t size,
                         tcu__stream stream) {
    const unsigned char *source = (const unsigned char *)from;
    for (size_t at = 0; at < size;) {
        size_t n = size - at < TCU__SLOT_BYTES ? size - at : TCU__SLOT_BYTES;
        tcu__slot *t = tcu__slot_for(s, n, stream);
        if (!t) return 0;
        unsigned char *pinned = t->memory + t->used;
        memcpy(pinned, source + at, n);
        // Whether it is copied or not, others stay off these bytes; slots stay aligned.
        t->used += (n + 63) / 64 * 64;
        if (!TCU__DO(s->device, "a copy to the device", cuMemcpyHtoDAsync_v2, to + at,
                     pinned, n, stream))
            return 0;
        at += n;
    }
    return 1;
}

// A piece on its way out.
typedef struct tcu__piece {
    tcu__slot *slot; // NULL = none
    unsigned char *to;
    size_t size;
} tcu__piece;

TCU__FN int tcu__piece_arrive(tcu__device *d, const tcu__piece *p) {
    if (!p->slot) return 1;
    if (!tcu__event_wait(d, p->slot->done)) return 0;
    memcpy(p->to, p->slot->memory, p->size);
    return 1;
}

// Copies from the device what the stream has computed by then. When it returns the bytes
// are there: 1, or 0 = reported.
TCU__FN int tcu__copy_out(tcu__staging *s, void *to, tcu__address from, size_t size,
                          tcu__stream stream) {
    tcu__device *d = s->device;
    tcu__piece last;
    memset(&last, 0, sizeof last);
    for (size_t at = 0; at < size;) {
        tcu__piece next;
        next.size = size - at < TCU__SLOT_BYTES ? size - at : TCU__SLOT_BYTES;
        next.to = (unsigned char *)to + at;
        next.slot = tcu__slot_next(s);
        if (!next.slot) return 0;
        next.slot->stream = stream;
        next.slot->used = TCU__SLOT_BYTES; // no copy is added to it
        if (!TCU__DO(d, "a copy from the device", cuMemcpyDtoHAsync_v2, next.slot->memory,
                     from + at, next.size, stream) ||
            !TCU__DO(d, "a copy from the device", cuEventRecord, next.slot->done, stream) ||
            !tcu__piece_arrive(d, &last))
            return 0;
        last = next;
        at += next.size;
    }
    return tcu__piece_arrive(d, &last);
}

// Copies on the device, in the order of the stream; the two do not overlap.
TCU__FN int tcu__copy_on(tcu__device *d, tcu__address to, tcu__address from, size_t size,
                         tcu__stream stream) {
    return !size ||
           TCU__DO(d, "a copy on the device", cuMemcpyDtoDAsync_v2, to, from, size, stream);
}

// Sets bytes, in the order of the stream.
TCU__FN int tcu__set_bytes(tcu__device *d, tcu__address to, unsigned char value,
                           size_t size, tcu__stream stream) {
    return !size || TCU__DO(d, "filling memory", cuMemsetD8Async, to, value, size, stream);
}

// Waits for copies that still read a slot, and frees the ring.
TCU__FN void tcu__staging_close(tcu__staging *s) {
    tcu__device *d = s->device;
    if (!d) return;
    for (int i = 0; i < TCU__SLOTS; i++) {
        tcu__slot *t = &s->slot[i];
        if (t->used) TCU__UNDO(d, cuStreamSynchronize, t->stream);
        tcu__event_give(d, t->done);
        if (!t->memory) continue;
        TCU__UNDO(d, cuMemFreeHost, t->memory);
        d->held.pinned -= TCU__SLOT_BYTES;
    }
    memset(s, 0, sizeof *s);
}
// ---- gen/cuda/peer.c ----------------------------------------------------
// Copies from one device of the process to another, over the links between them where the driver says that
// there are any. The copy is work of the device that gets the elements: it begins behind what the other one
// was given so far, and what that is given later begins behind the copy. So nobody waits on the host.

enum {
    TCU__E_PEER_IS_ON = 704
}; // the access was switched on before, by us or by somebody else

// Asks the driver, and has it switch on what it takes. Failures are no trouble: there is no link then.
TCU__FN tcu__peer tcu__peer_ask(tcu__device *d, const tcu__device *from) {
    const tcu__driver_calls *call = &d->driver.call;
    int can = 0;
    if (!call->cuDeviceCanAccessPeer || !call->cuCtxEnablePeerAccess ||
        !call->cuMemcpyPeerAsync)
        return TCU__PEER_NO;
    if (call->cuDeviceCanAccessPeer(&can, d->handle, from->handle) || !can)
        return TCU__PEER_NO;
    tcu__code code = call->cuCtxEnablePeerAccess(from->context, 0);
    return code && code != TCU__E_PEER_IS_ON ? TCU__PEER_NO : TCU__PEER_YES;
}

// Whether d reaches the memory of `from`; d is entered.
TCU__FN int tcu__peer_reaches(tcu__device *d, const tcu__device *from) {
    if (from->ordinal < 0 || from->ordinal >= TCU__PEERS || from == d) return 0;
    if (!d->peer[from->ordinal]) d->peer[from->ordinal] = tcu__peer_ask(d, from);
    return d->peer[from->ordinal] == TCU__PEER_YES;
}

// What d's stream is given from now on begins behind what the other's was given, whichever way: events belong
// to the context of the stream that they are recorded in.
TCU__FN int tcu__peer_after(tcu__device *later, tcu__device *first) {
    int ok = 0;
    if (!tcu__enter(first)) return 0;
    tcu__event e = tcu__event_take(first);
    ok = e && TCU__DO(first, "the order of devices", cuEventRecord, e, first->compute) &&
         TCU__CALL(&first->driver.call, &first->trouble, "the order of devices",
                   cuStreamWaitEvent, later->compute, e, 0);
    tcu__event_give(first, e);
    tcu__leave(first);
    return ok;
}

// `from_address` of device `from` to `to` of d, which is entered; 0 = it is to go another way, or failed.
TCU__FN int tcu__peer_copy(tcu__device *d, tcu__address to, tcu__device *from,
                           tcu__address from_address, size_t size) {
    if (!size) return 1;
    return tcu__peer_after(d, from) &&
           TCU__DO(d, "a copy between devices", cuMemcpyPeerAsync, to, d->context,
                   from_address, from->context, size, d->compute) &&
           tcu__peer_after(from, d);
}
// ---- gen/cuda/nvrtc.c ---------------------------------------------------
// NVRTC: CUDA C++ text to a CUBIN, and PTX beside it. It is loaded at the first compile
// (109 MB: 10 ms warm, 0.3 s cold) and needs no GPU. Programs are independent: several are
// compiled on several threads, with the same bytes as on one.
//
// Its trap: it looks for libnvrtc-builtins by bare name in the loader's path, not in its
// own folder, so a copy outside that path fails at every compile. The builtins of its
// folder are loaded before that, for everybody, and then found by that name.

enum { TCU__ARCHS = 64, TCU__NVRTC_OPTIONS = 32 };
enum { TCU__NVRTC_INVALID_OPTION = 5 };

typedef struct tcu__nvrtc {
    tcu__nvrtc_calls call;
    void *library;  // NULL = not open
    void *builtins; // may be NULL: then they are in the loader's path, or compiles fail
    int major, minor;
    int arch[TCU__ARCHS], archs; // 75, 80, ... that it compiles for, rising
    int tried;                   // it is not looked for again
    char path[TCU__PATH];
    char why[TCU__TEXT]; // it could not be opened
} tcu__nvrtc;

// ---- finding it

// Where it lies when the loader does not know it: folders, as patterns, below a variable's
// value. The names of CUDA's own packages, and those of the packages for Python.
static const struct {
    const char *variable, *pattern;
} tcu__nvrtc_folders[] = {
    {"CUDA_HOME", "/lib64"},
    {"CUDA_PATH", "/lib64"},
    {NULL, "/usr/local/cuda/lib64"},
    {NULL, "/usr/local/cuda-1[23].*/lib64"},
    {NULL, "/usr/local/cuda-1[23].*/lib"},
    {"VIRTUAL_ENV", "/lib/python3*/site-packages/nvidia/cu13/lib"},
    {"VIRTUAL_ENV", "/lib/python3*/site-packages/nvidia/cuda_nvrtc/lib"},
    {"CONDA_PREFIX", "/lib"},
    {"CONDA_PREFIX", "/lib/python3*/site-packages/nvidia/cu13/lib"},
    {"CONDA_PREFIX", "/lib/python3*/site-packages/nvidia/cuda_nvrtc/lib"},
    {"HOME", "/.local/lib/python3*/site-packages/nvidia/cu13/lib"},
    {"HOME", "/.local/lib/python3*/site-packages/nvidia/cuda_nvrtc/lib"},
    {NULL, "/usr/local/lib/python3*/*-packages/nvidia/cu13/lib"},
    {NULL, "/usr/local/lib/python3*/*-packages/nvidia/cuda_nvrtc/lib"},
};

static const char *const tcu__nvrtc_names[] = {"libnvrtc.so.13", "libnvrtc.so.12",
                                               "libnvrtc.so"};

TCU__FN int tcu__nvrtc_try(tcu__nvrtc *n, const char *path) {
    tcu__print(n->path, sizeof n->path, "%s", path);
    n->library = tcu__library_open(path, 0);
    return n->library != NULL;
}

TCU__FN int tcu__nvrtc_try_folder(tcu__nvrtc *n, const char *folder) {
    char path[TCU__PATH];
    for (size_t i = 0; i < TCU__COUNT(tcu__nvrtc_names); i++) {
        tcu__print(path, sizeof path, "%.450s/%s", folder, tcu__nvrtc_names[i]);
        if (tcu__nvrtc_try(n, path)) return 1;
    }
    return 0;
}

// All folders that a pattern means, the last in the order of names first: newer versions.
TCU__FN int tcu__nvrtc_try_pattern(tcu__nvrtc *n, const char *pattern) {
    int found = 0;
#if TCU__POSIX
    glob_t match;
    if (glob(pattern, 0, NULL, &match)) return 0;
    for (size_t i = match.gl_pathc; i-- > 0 && !found;)
        found = tcu__nvrtc_try_folder(n, match.gl_pathv[i]);
    globfree(&match);
#else
    (void)n, (void)pattern;
#endif
    return found;
}

TCU__FN int tcu__nvrtc_find(tcu__nvrtc *n) {
    const char *given = tcu__env("TC_NVRTC_LIBRARY");
    char pattern[TCU__PATH];
    if (given) {
        if (tcu__nvrtc_try(n, given)) return 1;
        tcu__print(n->why, sizeof n->why,
                   "NVRTC, the compiler of CUDA: TC_NVRTC_LIBRARY=%.200s cannot be loaded "
                   "(%.200s); correct it, or unset it",
                   given, tcu__library_why());
        return 0;
    }
    for (size_t i = 0; i < TCU__COUNT(tcu__nvrtc_names); i++)
        if (tcu__nvrtc_try(n, tcu__nvrtc_names[i])) return 1;
    for (size_t i = 0; i < TCU__COUNT(tcu__nvrtc_folders); i++) {
        const char *name = tcu__nvrtc_folders[i].variable,
                   *base = name ? tcu__env(name) : "";
        if (!base) continue;
        tcu__print(pattern, sizeof pattern, "%.300s%s", base,
                   tcu__nvrtc_folders[i].pattern);
        if (tcu__nvrtc_try_pattern(n, pattern)) return 1;
    }
    tcu__print(
        n->why, sizeof n->why,
        "NVRTC, the compiler of CUDA, is not found: %s, %s and %s are neither in the "
        "loader's path nor below CUDA_HOME, /usr/local/cuda or a Python environment; "
        "install it (pip install nvidia-cuda-nvrtc), or set TC_NVRTC_LIBRARY to the file",
        tcu__nvrtc_names[0], tcu__nvrtc_names[1], tcu__nvrtc_names[2]);
    return 0;
}

// Loads the builtins that lie beside the library. That there are none is no error: a
// static build has them inside.
TCU__FN void tcu__nvrtc_builtins(tcu__nvrtc *n) {
    char path[TCU__PATH + 64];
    tcu__library_path(tcu__library_symbol(n->library, "nvrtcVersion"), n->path,
                      sizeof n->path);
    const char *slash = strrchr(n->path, '/');
    if (!slash) return;
    int folder = (int)(slash - n->path);
    tcu__print(path, sizeof path, "%.*s/libnvrtc-builtins.so.%d.%d", folder, n->path,
               n->major, n->minor);
    n->builtins = tcu__library_open(path, 1);
    if (n->builtins) return;
    tcu__print(path, sizeof path, "%.*s/libnvrtc-builtins.so", folder, n->path);
    n->builtins = tcu__library_open(path, 1);
}

TCU__FN int tcu__nvrtc_ask(tcu__nvrtc *n) {
    int count = 0;
    if (n->call.nvrtcVersion(&n->major, &n->minor)) return 0;
    if (n->call.nvrtcGetNumSupportedArchs(&count) || count < 1 || count > TCU__ARCHS)
        return 0;
    if (n->call.nvrtcGetSupportedArchs(n->arch)) return 0;
    n->archs = count;
    return 1;
}

TCU__FN void tcu__nvrtc_close(tcu__nvrtc *n) {
    tcu__library_close(n->library);
    tcu__library_close(n->builtins);
    memset(n, 0, sizeof *n);
}

// Opens NVRTC unless that was tried before: 1, or 0 with the reason, which is kept, in *t.
TCU__FN int tcu__nvrtc_open(tcu__nvrtc *n, tcu__trouble *t) {
    const char *missing = NULL;
    if (n->library) return 1;
    if (!n->tried && tcu__nvrtc_find(n)) {
        missing = tcu__symbols_find(n->library, tcu__nvrtc_symbols,
                                    TCU__COUNT(tcu__nvrtc_symbols), &n->call);
        if (!missing && tcu__nvrtc_ask(n)) {
            tcu__nvrtc_builtins(n);
            n->tried = 1;
            return 1;
        }
        tcu__print(n->why, sizeof n->why,
                   "NVRTC, the compiler of CUDA: %s lacks %s; CUDA 12 or newer is needed",
                   n->path, missing ? missing : "a version");
        tcu__library_close(n->library);
        n->library = NULL;
    }
    n->tried = 1;
    return tcu__fail(t, TC_E_COMPILER, "%s", n->why);
}

// ---- architectures

typedef struct tcu__arch {
    char name[16];   // "sm_90"; "compute_80" where NVRTC does not know the device yet
    char native[16]; // with the instructions that only the device has: "sm_90a"
    int cubin;       // 0: PTX, which the driver compiles for the device
} tcu__arch;

// What to compile for, for compute capability major.minor: the device itself, else an older
// one of its generation, else PTX. Instructions that only the device has (9.0 and 10.x: the
// matrix units) would tie PTX to it. 0 = NVRTC no longer knows so old a device.
TCU__FN int tcu__arch_choose(const tcu__nvrtc *n, int major, int minor, tcu__arch *out,
                             tcu__trouble *t) {
    int want = major * 10 + minor, best = 0;
    int own = want == 90 || major == 10;
    for (int i = 0; i < n->archs; i++)
        if (n->arch[i] <= want && n->arch[i] > best) best = n->arch[i];
    if (!best)
        return tcu__fail(
            t, TC_E_VERSION,
            "the device has compute capability %d.%d, and NVRTC %d.%d compiles "
            "for %d.%d and newer; install an older NVRTC, and set "
            "TC_NVRTC_LIBRARY to it",
            major, minor, n->major, n->minor, n->arch[0] / 10, n->arch[0] % 10);
    out->cubin = best / 10 == major;
    tcu__print(out->name, sizeof out->name, "%s_%d", out->cubin ? "sm" : "compute", best);
    tcu__print(out->native, sizeof out->native, "%s%s", out->name,
               own && best == want ? "a" : "");
    return 1;
}

// ---- compiling

// One program: what to compile, and what became of it.
typedef struct tcu__job {
    const char *name, *source;  // shown in the log; its text
    const char *const *options; // beside ours
    int n_options;
    int native;      // 1: for the device alone
    int ok, no_room; // no_room: the host's memory ended
    char *cubin, *ptx,
        *log; // owned, with a 0 at the end; NULL = none. log: also of a success
    size_t cubin_size, ptx_size, log_size;
    char why[TCU__TEXT]; // not ok: one sentence, then the first lines of the log
} tcu__job;

// No lookup of included files, no standard headers, functions without a mark are of the
// device, no word about helpers that a kernel does not need. ptxas -O3 takes products three
// times as long and makes nothing faster (every row of bench cuda on an H200).
static const char *const tcu__nvrtc_usual[] = {"-std=c++17",  "-default-device",
                                               "-Xptxas=-O2", "-diag-suppress=177",
                                               "--minimal",   "--no-source-include"};
enum { TCU__NVRTC_NEW_OPTIONS = 2 }; // the last of them, which older ones do not know

TCU__FN void tcu__job_free(const tc_allocator *host, tcu__job *j) {
    TCU__FREE(host, j->cubin, j->cubin_size + 1);
    TCU__FREE(host, j->ptx, j->ptx_size + 1);
    TCU__FREE(host, j->log, j->log_size + 1);
    j->cubin = j->ptx = j->log = NULL;
    j->cubin_size = j->ptx_size = j->log_size = 0;
}

// One of the results, by its two functions: 0 = no memory; no result is no failure.
TCU__FN int tcu__job_result(const tc_allocator *host, tcu__nvrtc_program p,
                            int (*size_of)(tcu__nvrtc_program, size_t *),
                            int (*get)(tcu__nvrtc_program, char *), char **out,
                            size_t *size) {
    size_t n = 0;
    if (size_of(p, &n) || !n) return 1;
    char *text = TCU__NEW_ARRAY(host, char, n + 1);
    if (!text) return 0;
    if (get(p, text)) {
        TCU__FREE(host, text, n + 1);
        return 1;
    }
    *out = text;
    *size = n;
    return 1;
}

TCU__FN int tcu__job_run(const tcu__nvrtc *n, tcu__nvrtc_program p, const tcu__arch *arch,
                         const tcu__job *j, size_t usual) {
    const char *options[TCU__NVRTC_OPTIONS];
    char target[32];
    int count = 0;
    tcu__print(target, sizeof target, "-arch=%s", j->native ? arch->native : arch->name);
    options[count++] = target;
    for (size_t i = 0; i < usual; i++) options[count++] = tcu__nvrtc_usual[i];
    for (int i = 0; i < j->n_options; i++) options[count++] = j->options[i];
    return n->call.nvrtcCompileProgram(p, count, options);
}

TCU__FN void tcu__job_failed(const tcu__nvrtc *n, const tcu__arch *arch, int code,
                             tcu__job *j) {
    tcu__print(j->why, sizeof j->why,
               "NVRTC %d.%d does not compile %.100s for %s (code %d)", n->major, n->minor,
               j->name, j->native ? arch->native : arch->name, code);
    if (j->log) tcu__put(j->why, sizeof j->why, ":\n%s", j->log);
}

// Compiles one program. Any thread may; *n is only read.
TCU__FN void tcu__job_compile(const tcu__nvrtc *n, const tc_allocator *host,
                              const tcu__arch *arch, tcu__job *j) {
    const tcu__nvrtc_calls *call = &n->call;
    size_t usual = TCU__COUNT(tcu__nvrtc_usual);
    tcu__nvrtc_program p = NULL;
    j->ok = 0;
    if (j->n_options < 0 || (size_t)j->n_options + usual + 1 > TCU__NVRTC_OPTIONS) {
        tcu__print(j->why, sizeof j->why, "%.100s: %d options are too many", j->name,
                   j->n_options);
        return;
    }
    int code = call->nvrtcCreateProgram(&p, j->source, j->name, 0, NULL, NULL);
    if (!code) code = tcu__job_run(n, p, arch, j, usual);
    if (code == TCU__NVRTC_INVALID_OPTION)
        code = tcu__job_run(n, p, arch, j, usual - TCU__NVRTC_NEW_OPTIONS);
    int room = !p || tcu__job_result(host, p, call->nvrtcGetProgramLogSize,
                                     call->nvrtcGetProgramLog, &j->log, &j->log_size);
    if (!code) {
        room = room &&
               tcu__job_result(host, p, call->nvrtcGetPTXSize, call->nvrtcGetPTX, &j->ptx,
                               &j->ptx_size) &&
               (!arch->cubin ||
                tcu__job_result(host, p, call->nvrtcGetCUBINSize, call->nvrtcGetCUBIN,
                                &j->cubin, &j->cubin_size));
        j->ok = room && (arch->cubin ? j->cubin : j->ptx) != NULL;
    }
    if (p) call->nvrtcDestroyProgram(&p);
    j->no_room = !room;
    if (!room)
        tcu__print(j->why, sizeof j->why,
                   "out of memory of the host for the code of %.100s", j->name);
    else if (!j->ok)
        tcu__job_failed(n, arch, code, j);
}

// ---- several at once

typedef struct tcu__crew {
    const tcu__nvrtc *nvrtc;
    const tc_allocator *host;
    const tcu__arch *arch;
    tcu__job *job;
    int count;
    volatile int next; // job that nobody has begun
} tcu__crew;

TCU__FN void *tcu__crew_work(void *user) {
    tcu__crew *w = (tcu__crew *)user;
    for (;;) {
        int i = TCU__ADD(&w->next, 1);
        if (i >= w->count) return NULL;
        tcu__job_compile(w->nvrtc, w->host, w->arch, &w->job[i]);
    }
}

enum { TCU__CREW = 16 }; // threads at most, the caller's included

// Works with up to `threads` threads, the caller's one of them. Signals stay with the
// program's own threads.
TCU__FN void tcu__crew_all(tcu__crew *w, int threads) {
#if TCU__THREADS
    pthread_t other[TCU__CREW];
    sigset_t all, kept;
    int started = 0, cancel; // the others work on what is on this thread's stack
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    if (threads > w->count) threads = w->count;
    if (threads > TCU__CREW) threads = TCU__CREW;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &kept);
    while (started + 1 < threads &&
           !pthread_create(&other[started], NULL, tcu__crew_work, w))
        started++;
    pthread_sigmask(SIG_SETMASK, &kept, NULL);
    tcu__crew_work(w);
    while (started > 0) pthread_join(other[--started], NULL);
    pthread_setcancelstate(cancel, NULL);
#else
    (void)threads;
    tcu__crew_work(w);
#endif
}

// Compiles all jobs; opens NVRTC if need be. 1 = all are ok; 0: *t has the reason of the
// first that is not, the others are what they became. tcu__job_free each in any case.
TCU__FN int tcu__compile(tcu__nvrtc *n, const tc_allocator *host, const tcu__arch *arch,
                         tcu__job *job, int count, int threads, tcu__trouble *t) {
    tcu__crew w;
    if (!tcu__nvrtc_open(n, t)) return 0;
    memset(&w, 0, sizeof w);
    w.nvrtc = n;
    w.host = host;
    w.arch = arch;
    w.job = job;
    w.count = count;
    tcu__crew_all(&w, threads);
    for (int i = 0; i < count; i++)
        if (!job[i].ok)
            return tcu__fail(t, job[i].no_room ? TC_E_NOMEM : TC_E_COMPILER, "%s",
                             job[i].why);
    return 1;
}
// ---- gen/cuda/module.c --------------------------------------------------
// Code on the device: a CUBIN (or PTX) is loaded, its kernels are looked up and made ready,
// and launched. A kernel is loaded whole at once, so that no launch does it later.

enum { TCU__MOST_ARGS = 256, TCU__JIT_LOG = 2048, TCU__PORTABLE_CLUSTER = 8 };
enum { TCU__NAME = 160 }; // of a kernel, with its end

typedef struct tcu__module {
    tcu__code_library library; // one of the two
    tcu__code_module module;
} tcu__module;

typedef struct tcu__kernel {
    tcu__function function;
    int registers, spilled, shared, threads; // spilled: bytes of local memory per thread;
                                             // shared: static; threads: of a block, at most
    char name[TCU__NAME];
} tcu__kernel;

// How a kernel is launched.
typedef struct tcu__launch_shape {
    unsigned grid[3], block[3];
    unsigned cluster[3]; // blocks; 0 = none
    unsigned shared;     // dynamic
    int programmatic;    // may begin while the kernel before it ends: it waits by itself
} tcu__launch_shape;

// The arguments of a kernel: one block of bytes, and where each begins.
typedef struct tcu__args {
    const unsigned char *at;
    const uint32_t *offset; // of each, rising
    int count;
    size_t size; // of the block
} tcu__args;

// ---- loading

// What the driver's compiler says, behind the error that is noted.
TCU__FN void tcu__module_log(tcu__device *d, const char *log) {
    if (log[0] && d->trouble.code)
        tcu__put(d->trouble.text, sizeof d->trouble.text, "\n%s", log);
}

// Loads an image, whose name is for errors: 1, or 0 = reported.
TCU__FN int tcu__module_load(tcu__device *d, tcu__module *m, const void *image,
                             const char *name) {
    tcu__jit_option option[] = {TCU__JIT_ERROR_LOG, TCU__JIT_ERROR_LOG_BYTES};
    char log[TCU__JIT_LOG] = "";
    void *value[2];
    int ok;
    memset(m, 0, sizeof *m);
    value[0] = log;
    value[1] = (void *)(uintptr_t)sizeof log;
    const tcu__driver_calls *v = &d->driver.call;
    if (v->cuLibraryLoadData && v->cuLibraryUnload && v->cuLibraryGetKernel &&
        v->cuKernelGetFunction)
        ok = TCU__DO(d, name, cuLibraryLoadData, &m->library, image, option, value, 2, NULL,
                     NULL, 0);
    else
        ok = TCU__DO(d, name, cuModuleLoadDataEx, &m->module, image, 2, option, value);
    if (!ok) tcu__module_log(d, log);
    return ok;
}

TCU__FN void tcu__module_unload(tcu__device *d, tcu__module *m) {
    if (m->library) TCU__UNDO(d, cuLibraryUnload, m->library);
    if (m->module) TCU__UNDO(d, cuModuleUnload, m->module);
    memset(m, 0, sizeof *m);
}

TCU__FN int tcu__kernel_find(tcu__device *d, const tcu__module *m, tcu__kernel *k) {
    tcu__code_kernel code = NULL;
    if (!m->library)
        return TCU__DO(d, k->name, cuModuleGetFunction, &k->function, m->module, k->name);
    return TCU__DO(d, k->name, cuLibraryGetKernel, &code, m->library, k->name) &&
           TCU__DO(d, k->name, cuKernelGetFunction, &k->function, code);
}

TCU__FN int tcu__kernel_ask(tcu__device *d, tcu__kernel *k) {
    tcu__function f = k->function;
    return TCU__DO(d, k->name, cuFuncGetAttribute, &k->registers, TCU__FN_REGISTERS, f) &&
           TCU__DO(d, k->name, cuFuncGetAttribute, &k->spilled, TCU__FN_LOCAL, f) &&
           TCU__DO(d, k->name, cuFuncGetAttribute, &k->shared, TCU__FN_SHARED, f) &&
           TCU__DO(d, k->name, cuFuncGetAttribute, &k->threads, TCU__FN_THREADS, f);
}

// Does the device have what the kernel needs in that shape? The driver says only "invalid".
TCU__FN int tcu__kernel_fits(tcu__device *d, const tcu__kernel *k,
                             const tcu__launch_shape *s) {
    size_t shared = (size_t)k->shared + s->shared, room = (size_t)d->facts.shared_block;
    size_t threads = (size_t)s->block[0] * s->block[1] * s->block[2];
    if (shared > room)
        return tcu__fail(
            &d->trouble, TC_E_UNSUPPORTED,
            "kernel %s needs %zu bytes of shared memory, device %d has %zu for a "
            "block",
            k->name, shared, d->ordinal, room);
    if (threads > (size_t)k->threads)
        return tcu__fail(
            &d->trouble, TC_E_UNSUPPORTED,
            "kernel %s has blocks of %zu threads, and with %d registers a block "
            "may have %d",
            k->name, threads, k->registers, k->threads);
    return 1;
}

// Finds a kernel and makes it ready to be launched in that shape, or a smaller one: 1, or 0
// = reported. *k holds until the module is unloaded.
TCU__FN int tcu__kernel_get(tcu__device *d, const tcu__module *m, const char *name,
                            const tcu__launch_shape *most, tcu__kernel *k) {
    unsigned cluster = most->cluster[0] * most->cluster[1] * most->cluster[2];
    memset(k, 0, sizeof *k);
    if (strlen(name) >= sizeof k->name)
        return tcu__fail(&d->trouble, TC_E_TOO_BIG, "the name of kernel %.80s is too long",
                         name);
    memcpy(k->name, name, strlen(name));
    if (!tcu__kernel_find(d, m, k)) return 0;
    if (d->driver.call.cuFuncLoad && !TCU__DO(d, name, cuFuncLoad, k->function)) return 0;
    if (!tcu__kernel_ask(d, k) || !tcu__kernel_fits(d, k, most)) return 0;
    if (most->shared && !TCU__DO(d, name, cuFuncSetAttribute, k->function,
                                 TCU__FN_DYNAMIC_SHARED, (int)most->shared))
        return 0;
    return cluster <= TCU__PORTABLE_CLUSTER ||
           TCU__DO(d, name, cuFuncSetAttribute, k->function, TCU__FN_LARGE_CLUSTER, 1);
}

// ---- launching

// The pointers to arguments that the driver wants.
typedef struct tcu__arg_list {
    void *at[TCU__MOST_ARGS];
} tcu__arg_list;

TCU__FN int tcu__args_list(tcu__device *d, const tcu__kernel *k, const tcu__args *a,
                           tcu__arg_list *list) {
    if (a->count > TCU__MOST_ARGS)
        return tcu__fail(&d->trouble, TC_E_TOO_BIG,
                         "kernel %s has %d arguments (at most %d)", k->name, a->count,
                         TCU__MOST_ARGS);
    for (int i = 0; i < a->count; i++)
        list->at[i] = (void *)((uintptr_t)a->at + a->offset[i]); // only read by the driver
    return 1;
}

// Does the launch need more than cuLaunchKernel knows? Programmatic starts are left out
// where the driver has none of it: the kernel just starts later.
TCU__FN int tcu__launch_is_plain(const tcu__device *d, const tcu__launch_shape *s) {
    return !s->cluster[0] && (!s->programmatic || !d->driver.call.cuLaunchKernelEx);
}

TCU__FN unsigned tcu__launch_attributes(const tcu__launch_shape *s,
                                        tcu__launch_attribute out[2]) {
    unsigned n = 0;
    memset(out, 0, 2 * sizeof *out);
    if (s->cluster[0]) {
        out[n].id = TCU__LAUNCH_CLUSTER;
        memcpy(out[n++].value.cluster, s->cluster, sizeof s->cluster);
    }
    if (s->programmatic) {
        out[n].id = TCU__LAUNCH_PROGRAMMATIC;
        out[n++].value.programmatic = 1;
    }
    return n;
}

TCU__FN int tcu__launch_more(tcu__device *d, const tcu__kernel *k,
                             const tcu__launch_shape *s, tcu__arg_list *list,
                             tcu__stream stream) {
    tcu__launch_attribute attribute[2];
    tcu__launch_config c;
    if (!d->driver.call.cuLaunchKernelEx)
        return tcu__fail(
            &d->trouble, TC_E_VERSION,
            "kernel %s is launched in clusters, which the driver does not know; "
            "update it",
            k->name);
    memset(&c, 0, sizeof c);
    memcpy(c.grid, s->grid, sizeof c.grid);
    memcpy(c.block, s->block, sizeof c.block);
    c.shared = s->shared;
    c.stream = stream;
    c.attributes = attribute;
    c.count = tcu__launch_attributes(s, attribute);
    return TCU__DO(d, k->name, cuLaunchKernelEx, &c, k->function, list->at, NULL);
}

// Launches a kernel behind what the stream has: 1, or 0 = reported. What fails while it
// runs is reported by a later call, unless the device is careful. The arguments are copied.
TCU__FN int tcu__launch(tcu__device *d, const tcu__kernel *k, const tcu__launch_shape *s,
                        const tcu__args *a, tcu__stream stream) {
    tcu__arg_list list;
    int ok = tcu__args_list(d, k, a, &list);
    if (ok && !tcu__launch_is_plain(d, s))
        ok = tcu__launch_more(d, k, s, &list, stream);
    else if (ok)
        ok = TCU__DO(d, k->name, cuLaunchKernel, k->function, s->grid[0], s->grid[1],
                     s->grid[2], s->block[0], s->block[1], s->block[2], s->shared, stream,
                     list.at, NULL);
    if (!ok || !d->careful) return ok;
    return TCU__DO(d, k->name, cuStreamSynchronize, stream);
}
// ---- gen/cuda/graph.c ---------------------------------------------------
// Launches of a plan as one CUDA graph. It is built from the list of kernels, not captured:
// so nodes are known by number, and independent kernels may run side by side. Arguments are
// copied when a node is made, so a call with other arguments changes those nodes, and those
// only; nothing is ever copied to a fixed place. A few graphs are kept per plan, by the
// addresses of its inputs and outputs: loops alternate between a few buffers.

enum { TCU__GRAPHS = 4, TCU__GRAPH_NODES = 4096 };

// One kernel of a plan. `after` are positions before its own.
typedef struct tcu__node {
    const tcu__kernel *kernel;
    tcu__launch_shape shape;
    tcu__args args;
    const int *after;
    int n_after;
} tcu__node;

// What a node of a graph was made or last changed for.
typedef struct tcu__node_state {
    tcu__graph_node handle;
    tcu__function function;
    tcu__launch_shape shape;
    size_t at, size; // of its arguments in `bytes`
} tcu__node_state;

typedef struct tcu__recorded {
    tcu__graph graph;
    tcu__graph_exec exec; // NULL = the entry is empty
    tcu__node_state *node;
    unsigned char *bytes;
    uint64_t *key;
    size_t n_bytes;
    int count, n_key;
    uint64_t used; // the clock at its last launch
} tcu__recorded;

typedef struct tcu__graphs {
    tcu__device *device;
    tcu__recorded entry[TCU__GRAPHS];
    tcu__recorded *last; // what ran last; NULL = something has changed since
    uint64_t clock;
    uint64_t built, changed; // graphs made, nodes changed: for reports
} tcu__graphs;

TCU__FN void tcu__graphs_open(tcu__graphs *g, tcu__device *d) {
    memset(g, 0, sizeof *g);
    g->device = d;
}

// Whether a plan of so many kernels may be a graph; else they are launched one by one.
TCU__FN int tcu__graph_fits(int count) { return count > 0 && count <= TCU__GRAPH_NODES; }

// Runs of it that were launched end by themselves.
TCU__FN void tcu__recorded_drop(tcu__device *d, tcu__recorded *r) {
    if (r->exec) TCU__UNDO(d, cuGraphExecDestroy, r->exec);
    if (r->graph) TCU__UNDO(d, cuGraphDestroy, r->graph);
    TCU__FREE(&d->host, r->node, r->count);
    TCU__FREE(&d->host, r->bytes, r->n_bytes);
    TCU__FREE(&d->host, r->key, r->n_key);
    memset(r, 0, sizeof *r);
}

// Forgets all graphs: before kernels are unloaded, or when the plan's kernels or their
// dependencies change.
TCU__FN void tcu__graphs_close(tcu__graphs *g) {
    if (!g->device) return;
    for (int i = 0; i < TCU__GRAPHS; i++) tcu__recorded_drop(g->device, &g->entry[i]);
}

// ---- making one

TCU__FN tcu__node_params tcu__node_params_of(const tcu__node *n, tcu__arg_list *list) {
    tcu__node_params p;
    memset(&p, 0, sizeof p);
    p.function = n->kernel->function;
    memcpy(p.grid, n->shape.grid, sizeof p.grid);
    memcpy(p.block, n->shape.block, sizeof p.block);
    p.shared = n->shape.shared;
    p.parameters = list->at;
    return p;
}

TCU__FN void tcu__node_remember(tcu__recorded *r, int i, const tcu__node *n) {
    tcu__node_state *s = &r->node[i];
    s->function = n->kernel->function;
    s->shape = n->shape;
    if (s->size) memcpy(r->bytes + s->at, n->args.at, s->size);
}

// Edges that let a node begin while those before it end.
TCU__FN int tcu__node_edges(tcu__device *d, tcu__recorded *r, const tcu__node *n, int i) {
    tcu__edge edge;
    memset(&edge, 0, sizeof edge);
    edge.from_port = edge.type = TCU__EDGE_PROGRAMMATIC;
    for (int k = 0; k < n->n_after; k++) {
        if (!TCU__DO(d, n->kernel->name, cuGraphAddDependencies_v2, r->graph,
                     &r->node[n->after[k]].handle, &r->node[i].handle, &edge, 1))
            return 0;
    }
    return 1;
}

// Adds node i; `before` has room for the handles of all nodes.
TCU__FN int tcu__node_add(tcu__device *d, tcu__recorded *r, const tcu__node *n, int i,
                          tcu__graph_node *before) {
    int early = n->shape.programmatic && d->driver.call.cuGraphAddDependencies_v2;
    tcu__launch_value cluster;
    tcu__arg_list list;
    if (!tcu__args_list(d, n->kernel, &n->args, &list)) return 0;
    tcu__node_params p = tcu__node_params_of(n, &list);
    for (int k = 0; k < n->n_after; k++) before[k] = r->node[n->after[k]].handle;
    if (!TCU__DO(d, n->kernel->name, cuGraphAddKernelNode_v2, &r->node[i].handle, r->graph,
                 before, early ? 0 : (size_t)n->n_after, &p))
        return 0;
    if (early && !tcu__node_edges(d, r, n, i)) return 0;
    if (!n->shape.cluster[0]) return 1;
    memset(&cluster, 0, sizeof cluster);
    memcpy(cluster.cluster, n->shape.cluster, sizeof n->shape.cluster);
    return TCU__DO(d, n->kernel->name, cuGraphKernelNodeSetAttribute, r->node[i].handle,
                   TCU__LAUNCH_CLUSTER, &cluster);
}

// Whether nodes come after earlier ones only; else it is our bug.
TCU__FN int tcu__nodes_are_ordered(tcu__device *d, const tcu__node *node, int count) {
    for (int i = 0; i < count; i++) {
        int ok = node[i].n_after <= i;
        for (int k = 0; ok && k < node[i].n_after; k++)
            ok = node[i].after[k] >= 0 && node[i].after[k] < i;
        if (!ok)
            return tcu__fail(
                &d->trouble, TC_E_INTERNAL,
                "a graph: kernel %d, %s, does not come after earlier ones only", i,
                node[i].kernel->name);
    }
    return 1;
}

// Host memory of an entry, and where the arguments of each node lie in it.
TCU__FN int tcu__recorded_make(tcu__device *d, tcu__recorded *r, const tcu__node *node,
                               int count, int n_key) {
    size_t bytes = 0;
    for (int i = 0; i < count; i++) bytes += node[i].args.size;
    r->node = TCU__NEW_ARRAY(&d->host, tcu__node_state, count);
    r->bytes = TCU__NEW_ARRAY(&d->host, unsigned char, bytes);
    r->key = TCU__NEW_ARRAY(&d->host, uint64_t, n_key);
    r->count = count;
    r->n_bytes = bytes;
    r->n_key = n_key;
    if (!r->node || !r->bytes || !r->key) return tcu__no_memory(&d->trouble, "a graph");
    bytes = 0;
    for (int i = 0; i < count; i++) {
        r->node[i].at = bytes;
        r->node[i].size = node[i].args.size;
        bytes += node[i].args.size;
        tcu__node_remember(r, i, &node[i]);
    }
    return 1;
}

TCU__FN int tcu__recorded_fill(tcu__device *d, tcu__recorded *r, const tcu__node *node,
                               tcu__stream stream) {
    tcu__graph_node *before = TCU__NEW_ARRAY(&d->host, tcu__graph_node, r->count);
    int ok = before || tcu__no_memory(&d->trouble, "a graph");
    ok = ok && TCU__DO(d, "a graph", cuGraphCreate, &r->graph, 0);
    for (int i = 0; ok && i < r->count; i++) ok = tcu__node_add(d, r, &node[i], i, before);
    TCU__FREE(&d->host, before, r->count);
    return ok &&
           TCU__DO(d, "a graph", cuGraphInstantiateWithFlags, &r->exec, r->graph, 0) &&
           TCU__DO(d, "a graph", cuGraphUpload, r->exec, stream);
}

// An entry that was empty; stays so on failure.
TCU__FN int tcu__recorded_build(tcu__graphs *g, tcu__recorded *r, const tcu__node *node,
                                int count, const uint64_t *key, int n_key,
                                tcu__stream stream) {
    tcu__device *d = g->device;
    if (tcu__nodes_are_ordered(d, node, count) &&
        tcu__recorded_make(d, r, node, count, n_key) &&
        tcu__recorded_fill(d, r, node, stream)) {
        if (n_key) memcpy(r->key, key, (size_t)n_key * sizeof *key);
        g->built++;
        return 1;
    }
    tcu__recorded_drop(d, r);
    return 0;
}

// ---- changing one

typedef enum tcu__change { TCU__SAME, TCU__CHANGED, TCU__ANOTHER } tcu__change;

// What became of a node since it was made: other arguments or sizes can be set; what the
// driver cannot set, or sets wrong (clusters), takes another graph.
TCU__FN tcu__change tcu__node_change(const tcu__recorded *r, int i, const tcu__node *n) {
    const tcu__node_state *s = &r->node[i];
    if (s->size != n->args.size || s->shape.programmatic != n->shape.programmatic ||
        memcmp(s->shape.cluster, n->shape.cluster, sizeof s->shape.cluster))
        return TCU__ANOTHER;
    if (s->function != n->kernel->function || s->shape.shared != n->shape.shared ||
        memcmp(s->shape.grid, n->shape.grid, sizeof s->shape.grid) ||
        memcmp(s->shape.block, n->shape.block, sizeof s->shape.block))
        return TCU__CHANGED;
    return s->size && memcmp(r->bytes + s->at, n->args.at, s->size) ? TCU__CHANGED
                                                                    : TCU__SAME;
}

TCU__FN int tcu__node_set(tcu__device *d, tcu__recorded *r, int i, const tcu__node *n) {
    tcu__arg_list list;
    if (!tcu__args_list(d, n->kernel, &n->args, &list)) return 0;
    tcu__node_params p = tcu__node_params_of(n, &list);
    if (!TCU__DO(d, n->kernel->name, cuGraphExecKernelNodeSetParams_v2, r->exec,
                 r->node[i].handle, &p))
        return 0;
    tcu__node_remember(r, i, n);
    return 1;
}

// Makes an entry the launches in `node`, if setting nodes can do that. TCU__ANOTHER: build
// it anew, or *failed.
TCU__FN tcu__change tcu__recorded_change(tcu__graphs *g, tcu__recorded *r,
                                         const tcu__node *node, int count, int *failed) {
    tcu__device *d = g->device;
    tcu__change change = r->count == count ? TCU__SAME : TCU__ANOTHER;
    for (int i = 0; i < count && change != TCU__ANOTHER; i++) {
        tcu__change one = tcu__node_change(r, i, &node[i]);
        if (one == TCU__ANOTHER) return TCU__ANOTHER;
        if (one == TCU__SAME) continue;
        if (!tcu__node_set(d, r, i, &node[i])) {
            tcu__code code = d->trouble.code;
            *failed = d->trouble.dead ||
                      (code != TCU__E_GRAPH_UPDATE && code != TCU__E_UNSUPPORTED);
            if (!*failed) tcu__trouble_clear(&d->trouble);
            return TCU__ANOTHER;
        }
        g->changed++;
        change = TCU__CHANGED;
    }
    return change;
}

// ---- running

TCU__FN int tcu__recorded_has(const tcu__recorded *r, const uint64_t *key, int n_key) {
    return r->exec && r->n_key == n_key &&
           (!n_key || !memcmp(r->key, key, (size_t)n_key * sizeof *key));
}

// The entry for a key: its own, an empty one, or the one not used for longest.
TCU__FN tcu__recorded *tcu__graphs_entry(tcu__graphs *g, const uint64_t *key, int n_key) {
    tcu__recorded *oldest = &g->entry[0];
    for (int i = 0; i < TCU__GRAPHS; i++)
        if (tcu__recorded_has(&g->entry[i], key, n_key)) return &g->entry[i];
    for (int i = 0; i < TCU__GRAPHS; i++) {
        tcu__recorded *r = &g->entry[i];
        if (!r->exec) return r;
        if (r->used < oldest->used) oldest = r;
    }
    return oldest;
}

// The same without a graph: one after the other, in their order.
TCU__FN int tcu__nodes_run(tcu__device *d, const tcu__node *node, int count,
                           tcu__stream stream) {
    for (int i = 0; i < count; i++)
        if (!tcu__launch(d, node[i].kernel, &node[i].shape, &node[i].args, stream))
            return 0;
    return 1;
}

// The graph that ran last, once more. 1, or 0 = reported.
TCU__FN int tcu__graphs_again(tcu__graphs *g, tcu__stream stream) {
    g->last->used = ++g->clock;
    return TCU__DO(g->device, "a graph", cuGraphLaunch, g->last->exec, stream);
}

// Launches the kernels as a graph; `key` are the addresses of inputs and outputs, by which
// graphs are kept. The kernels and what they come after must be the same in every call, up
// to tcu__graphs_close; sizes and arguments may differ. 1, or 0 = reported, nothing ran.
TCU__FN int tcu__graphs_run(tcu__graphs *g, const tcu__node *node, int count,
                            const uint64_t *key, int n_key, tcu__stream stream) {
    tcu__device *d = g->device;
    int failed = 0;
    g->last = NULL;
    if (d->careful) return tcu__nodes_run(d, node, count, stream);
    if (!tcu__graph_fits(count))
        return tcu__fail(&d->trouble, TC_E_TOO_BIG, "a graph of %d kernels (1 to %d)",
                         count, TCU__GRAPH_NODES);
    tcu__recorded *r = tcu__graphs_entry(g, key, n_key);
    if (r->exec && (r->n_key != n_key ||
                    tcu__recorded_change(g, r, node, count, &failed) == TCU__ANOTHER))
        tcu__recorded_drop(d, r);
    if (failed) return 0;
    if (!r->exec && !tcu__recorded_build(g, r, node, count, key, n_key, stream)) return 0;
    if (n_key) memcpy(r->key, key, (size_t)n_key * sizeof *key);
    g->last = r;
    return tcu__graphs_again(g, stream);
}
// ---- gen/cuda/share.c ---------------------------------------------------
// Whether a list of launches is worth a graph: it is where launching them takes the host a share of the
// time that the device needs. Both are measured once, at the second run of the list, when nothing is
// loaded any more; a later run that finds the device done looks at the times, and nobody waits.

// A graph of one kernel would lose: launched, it begins while the run before it ends (7.0 us of device and
// host; 8.4 as a graph).
enum {
    TCU__SHARE_LEAST = 2, // kernels
    TCU__SHARE_OF = 64,   // a graph where launching takes the host at least a 64th
    TCU__SHARE_RUN = 1    // runs before the one that is measured
};

typedef enum tcu__share_state {
    TCU__SHARE_OPEN,  // not measured
    TCU__SHARE_ASKED, // measured, but the device was not done
    TCU__SHARE_GRAPH,
    TCU__SHARE_LAUNCHES
} tcu__share_state;

typedef struct tcu__share {
    tcu__share_state state;
    tcu__event from, to; // ASKED; owned
    uint64_t host_ns, device_ns;
} tcu__share;

TCU__FN void tcu__share_close(tcu__device *d, tcu__share *s) {
    if (s->from) TCU__UNDO(d, cuEventDestroy_v2, s->from);
    if (s->to) TCU__UNDO(d, cuEventDestroy_v2, s->to);
    s->from = s->to = NULL;
}

// One by one, measured.
TCU__FN int tcu__share_measure(tcu__device *d, tcu__share *s, const tcu__node *node,
                               int count, tcu__stream stream) {
    if (!(s->from = tcu__moment_take(d)) || !(s->to = tcu__moment_take(d)) ||
        !TCU__DO(d, "times of the device", cuEventRecord, s->from, stream))
        return tcu__share_close(d, s), 0;
    uint64_t start = tcu__now();
    int ok = tcu__nodes_run(d, node, count, stream);
    s->host_ns = tcu__now() - start;
    ok = ok && TCU__DO(d, "times of the device", cuEventRecord, s->to, stream);
    if (!ok) return tcu__share_close(d, s), 0;
    s->state = TCU__SHARE_ASKED;
    return 1;
}

// Looks at the times, if the device is done. 0 = it failed.
TCU__FN int tcu__share_settle(tcu__device *d, tcu__share *s) {
    if (s->state != TCU__SHARE_ASKED) return 1;
    if (!tcu__alive(&d->trouble, "times of the device")) return 0;
    tcu__code code = d->driver.call.cuEventQuery(s->to);
    if (code == TCU__E_NOT_READY) return 1;
    int ok = tcu__judge(&d->driver.call, &d->trouble, code, "cuEventQuery",
                        "times of the device") &&
             tcu__moments_apart(d, s->from, s->to, &s->device_ns);
    if (ok)
        s->state = s->host_ns * TCU__SHARE_OF >= s->device_ns ? TCU__SHARE_GRAPH
                                                              : TCU__SHARE_LAUNCHES;
    tcu__share_close(d, s);
    if (!ok) s->state = TCU__SHARE_OPEN;
    return ok;
}
// ---- gen/cuda/runtime.c -------------------------------------------------
// All of a device in use together, in the order of opening, and what the header offers: is
// there a device, and which.

typedef struct tcu__runtime {
    tcu__device device;
    tcu__pool pool;
    tcu__arena arena;
    tcu__staging staging;
    tcu__nvrtc nvrtc; // opened at the first compile
} tcu__runtime;

// Gives everything back: what plans recorded and loaded must be gone. Works in a child of
// the process too, where only memory of the host is given back. *r keeps its trouble.
TCU__FN void tcu__runtime_close(tcu__runtime *r) {
    tcu__device *d = &r->device;
    d->orphan = d->process != tcu__process();
    tcu__enter_to_close(d);
    if (d->compute) TCU__UNDO(d, cuStreamSynchronize, d->compute);
    for (int i = 0; i < TCU__COPY_WAYS; i++) {
        if (d->copy[i]) TCU__UNDO(d, cuStreamSynchronize, d->copy[i]);
    }
    tcu__staging_close(&r->staging);
    tcu__arena_close(&r->arena);
    tcu__pool_close(&r->pool);
    tcu__nvrtc_close(&r->nvrtc);
    tcu__device_close(d);
}

// Opens device `ordinal`: 1, or 0 with the reason in r->device.trouble and nothing open.
// The device is not entered. *r must stay where it is.
TCU__FN int tcu__runtime_open(tcu__runtime *r, const tc_allocator *host, int ordinal) {
    memset(r, 0, sizeof *r);
    if (!tcu__device_open(&r->device, host, ordinal)) return 0;
    tcu__leave(&r->device);
    tcu__pool_open(&r->pool, &r->device);
    tcu__arena_open(&r->arena, &r->device);
    tcu__staging_open(&r->staging, &r->device);
    return 1;
}

// ---- public

TCDEF int tc_cuda_available(char *why, size_t room) {
    tcu__driver v;
    tcu__trouble t;
    memset(&t, 0, sizeof t);
    int ok = tcu__driver_open(&v, &t);
    if (ok) tcu__driver_close(&v);
    if (why && room) tcu__print(why, room, "%s", t.text);
    return ok;
}

TCDEF int tc_cuda_device_count(void) {
    tcu__driver v;
    tcu__trouble t;
    memset(&t, 0, sizeof t);
    if (!tcu__driver_open(&v, &t)) return 0;
    int count = v.devices;
    tcu__driver_close(&v);
    return count;
}

// Driver and facts of a device for a moment; 0 = the reason is in *t.
TCU__FN int tcu__look(int ordinal, tcu__driver *kept, tcu__facts *f, tcu__trouble *t) {
    tcu__ordinal device = 0;
    tcu__driver v;
    memset(t, 0, sizeof *t);
    if (!tcu__driver_open(&v, t)) return 0;
    int ok = tcu__facts_ask(&v, t, ordinal, &device, f);
    *kept = v;
    kept->library = NULL; // only its version and path are looked at
    tcu__driver_close(&v);
    return ok;
}

TCDEF int tc_cuda_device_name(int ordinal, char *name, size_t room) {
    tcu__driver v;
    tcu__facts f;
    tcu__trouble t;
    int ok = tcu__look(ordinal, &v, &f, &t);
    if (name && room) tcu__print(name, room, "%s", ok ? f.name : "");
    return ok;
}

TCU__FN void tcu__report_device(const tcu__driver *v, const tcu__facts *f, char *text,
                                size_t room) {
    tcu__size_text a, b, c;
    tcu__put(text, room, "driver   CUDA %d.%d, %s\n", v->version / 1000,
             v->version % 1000 / 10, v->path);
    tcu__put(text, room, "device   %s, compute capability %d.%d, %d multiprocessors\n",
             f->name, f->major, f->minor, f->sms);
    tcu__put(text, room, "memory   %s, L2 %s, shared %s per block\n",
             tcu__bytes(f->memory, &a), tcu__bytes((size_t)f->l2_bytes, &b),
             tcu__bytes((size_t)f->shared_block, &c));
    tcu__put(text, room, "has      virtual memory: %s, clusters: %s, tensor maps: %s\n",
             f->virtual_memory ? "yes" : "no", f->clusters ? "yes" : "no",
             f->tensor_maps ? "yes" : "no");
}

TCU__FN void tcu__report_nvrtc(const tcu__facts *f, char *text, size_t room) {
    tcu__nvrtc n;
    tcu__trouble t;
    tcu__arch arch;
    memset(&n, 0, sizeof n);
    memset(&t, 0, sizeof t);
    if (!tcu__nvrtc_open(&n, &t)) {
        tcu__put(text, room, "compiler none: %s\n", t.text);
        return;
    }
    tcu__put(text, room, "compiler NVRTC %d.%d, %s", n.major, n.minor, n.path);
    if (!f)
        tcu__put(text, room, "\n");
    else if (tcu__arch_choose(&n, f->major, f->minor, &arch, &t))
        tcu__put(text, room, ", for %s\n", arch.name);
    else
        tcu__put(text, room, ": %s\n", t.text);
    tcu__nvrtc_close(&n);
}

TCDEF int tc_cuda_report(int ordinal, char *text, size_t room) {
    tcu__driver v;
    tcu__facts f;
    tcu__trouble t;
    int ok = tcu__look(ordinal, &v, &f, &t);
    if (!text || !room) return ok;
    text[0] = 0;
    if (ok)
        tcu__report_device(&v, &f, text, room);
    else
        tcu__put(text, room, "device   none: %s\n", t.text);
    tcu__report_nvrtc(ok ? &f : NULL, text, room);
    return ok;
}
// ---- gen/cuda/seam.c ----------------------------------------------------
// The device as tcompile.h has it: the functions of tc_device over a runtime. Each enters the
// device, works and leaves; a failure leaves its text for why(), and the trouble is cleared, so
// that only a dead device stays refused.

typedef struct tcu__loaded {
    struct tcu__loaded *next;
    tcu__module module;
    struct tcu__found *found; // kernels that were asked for; owned
} tcu__loaded;

typedef struct tcu__found {
    struct tcu__found *next;
    tcu__kernel kernel;
    unsigned shared; // dynamic bytes that it was made ready for
} tcu__found;

typedef struct tcu__seam {
    tcu__runtime runtime; // must stay where it is
    tcu__arch arch;       // once NVRTC was opened
    tcu__loaded *loaded;  // owned
    char name[24], identity[96], portable[96];
    char why[TCU__TEXT];
} tcu__seam;

// What the device has of one list of launches.
typedef struct tcu__plan {
    tcu__graphs graphs;
    tcu__node *node; // owned
    int count;
    uint64_t runs;
    tcu__share share; // what tells whether it is to be a graph
} tcu__plan;

// Bytes of arguments of a kernel, from this version of the driver on and before. NVRTC has it too.
enum {
    TCU__MANY_ARGUMENTS = 12010,
    TCU__ARGUMENT_BYTES = 32764,
    TCU__ARGUMENT_BYTES_BEFORE = 4096
};

TCU__FN tcu__seam *tcu__seam_of(void *user) { return (tcu__seam *)user; }

TCU__FN int tcu__seam_begin(tcu__seam *s) {
    s->why[0] = 0;
    return tcu__enter(&s->runtime.device);
}

// The status of what was done since tcu__seam_begin, which gave `entered`.
TCU__FN tc_status tcu__seam_end(tcu__seam *s, int entered, int ok) {
    tcu__device *d = &s->runtime.device;
    tc_status status = TC_OK;
    if (entered) tcu__leave(d);
    if (entered && ok) return TC_OK;
    status = d->trouble.status ? d->trouble.status : TC_E_BACKEND;
    tcu__print(s->why, sizeof s->why, "%s", d->trouble.text);
    tcu__trouble_clear(&d->trouble);
    return status;
}

// `work` is a call that gives 1 or 0 and may use `d` and `r`.
#define TCU__SEAM(user, work)                                                              \
    do {                                                                                   \
        tcu__seam *s = tcu__seam_of(user);                                                 \
        tcu__runtime *r = &s->runtime;                                                     \
        tcu__device *d = &r->device;                                                       \
        int entered = tcu__seam_begin(s);                                                  \
        (void)d;                                                                           \
        return tcu__seam_end(s, entered, entered && (work));                               \
    } while (0)

// Enters to give things back, from a dead device too; in a child of the process the driver is left
// alone. What goes wrong there is nobody's failure, but a device that died stays dead.
TCU__FN int tcu__seam_undo_begin(tcu__seam *s) {
    tcu__device *d = &s->runtime.device;
    if (d->inside) return ++d->inside;
    d->orphan = d->process != tcu__process();
    if (!d->orphan) tcu__enter_to_close(d);
    return d->inside;
}

TCU__FN void tcu__seam_undo_end(tcu__seam *s, int inside) {
    if (inside) tcu__leave(&s->runtime.device);
    tcu__trouble_clear(&s->runtime.device.trouble);
}

TCU__FN const char *tcu__seam_why(void *user) { return tcu__seam_of(user)->why; }

TCU__FN tcu__address tcu__address_of(const void *p) { return (tcu__address)(uintptr_t)p; }

// ---- memory

TCU__FN int tcu__seam_block(tcu__runtime *r, size_t bytes, tc_device_memory *out) {
    tcu__block *b = tcu__pool_take(&r->pool, bytes, r->device.compute);
    if (!b) return 0;
    out->address = (void *)(uintptr_t)b->address;
    out->block = b;
    return 1;
}

TCU__FN tc_status tcu__seam_take(void *user, size_t bytes, tc_device_memory *out) {
    TCU__SEAM(user, tcu__seam_block(r, bytes, out));
}

// Work on the block is done in the order of the stream, and so is what the next one does.
TCU__FN void tcu__seam_give(void *user, tc_device_memory m) {
    tcu__seam *s = tcu__seam_of(user);
    if (m.block) tcu__pool_give(&s->runtime.pool, (tcu__block *)m.block);
}

TCU__FN int tcu__seam_arena_base(tcu__runtime *r, size_t bytes, void **address) {
    tcu__address base = 0;
    if (!tcu__arena_reserve(&r->arena, bytes, &base)) return 0;
    *address = (void *)(uintptr_t)base;
    return 1;
}

TCU__FN tc_status tcu__seam_arena(void *user, size_t bytes, void **address) {
    TCU__SEAM(user, tcu__seam_arena_base(r, bytes, address));
}

// With one space of addresses for host and device, which all 64-bit systems have, pinned
// memory is where kernels see it.
TCU__FN tc_status tcu__seam_take_host(void *user, size_t bytes, void **address) {
    TCU__SEAM(user, TCU__DO(d, "memory of the host that kernels write", cuMemHostAlloc,
                            address, bytes, 0));
}

TCU__FN void tcu__seam_give_host(void *user, void *address, size_t bytes) {
    tcu__seam *s = tcu__seam_of(user);
    tcu__device *d = &s->runtime.device;
    int inside = tcu__seam_undo_begin(s);
    (void)bytes;
    TCU__UNDO(d, cuMemFreeHost, address);
    tcu__seam_undo_end(s, inside);
}

TCU__FN tc_status tcu__seam_copy_in(void *user, void *to, const void *from, size_t bytes) {
    TCU__SEAM(user,
              tcu__copy_in(&r->staging, tcu__address_of(to), from, bytes, d->compute));
}

TCU__FN tc_status tcu__seam_copy_out(void *user, void *to, const void *from, size_t bytes) {
    TCU__SEAM(user,
              tcu__copy_out(&r->staging, to, tcu__address_of(from), bytes, d->compute));
}

TCU__FN tc_status tcu__seam_copy_on(void *user, void *to, const void *from, size_t bytes) {
    TCU__SEAM(user, tcu__copy_on(d, tcu__address_of(to), tcu__address_of(from), bytes,
                                 d->compute));
}

TCU__FN void tcu__seam_close(void *user);

// Over a link, if `from` is a device of ours and there is one; whatever else is the matter, the host can copy.
TCU__FN tc_status tcu__seam_copy_from(void *user, void *to, const tc_device *from,
                                      const void *source, size_t bytes) {
    tcu__seam *s = tcu__seam_of(user);
    if (from->close != tcu__seam_close) return TC_E_UNSUPPORTED;
    tcu__device *d = &s->runtime.device, *other = &tcu__seam_of(from->user)->runtime.device;
    int entered = tcu__seam_begin(s);
    int reaches = entered && tcu__peer_reaches(d, other);
    int ok = reaches &&
             tcu__peer_copy(d, tcu__address_of(to), other, tcu__address_of(source), bytes);
    tcu__trouble_clear(&other->trouble);
    tc_status status = tcu__seam_end(s, entered, ok);
    return entered && !reaches ? TC_E_UNSUPPORTED : status;
}

TCU__FN tc_status tcu__seam_fill(void *user, void *to, uint8_t value, size_t bytes) {
    TCU__SEAM(user, tcu__set_bytes(d, tcu__address_of(to), value, bytes, d->compute));
}

TCU__FN tc_status tcu__seam_sync(void *user) {
    TCU__SEAM(user, tcu__stream_wait(d, d->compute));
}

// ---- code

static const char *const tcu__seam_options[] = {"-fmad=false", "-lineinfo"};

TCU__FN int tcu__seam_options_used(void) { return tcu__env("TC_CUDA_LINEINFO") ? 2 : 1; }

TCU__FN int tcu__processors(void) {
#if TCU__POSIX
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (int)n : 1;
#else
    return 1;
#endif
}

// The results go to the texts, which own them from now on.
TCU__FN void tcu__seam_results(const tc_allocator *host, const tcu__arch *arch,
                               tcu__job *job, tc_device_text *text, int n) {
    for (int i = 0; i < n; i++) {
        tcu__job *j = &job[i];
        if (!arch->cubin) {
            text[i].code = j->ptx, text[i].bytes = j->ptx_size;
            j->ptx = NULL;
        } else {
            text[i].code = j->cubin, text[i].bytes = j->cubin_size;
            j->cubin = NULL;
        }
        if (!j->native) {
            text[i].portable = j->ptx, text[i].portable_bytes = j->ptx_size;
            j->ptx = NULL;
        }
        tcu__job_free(host, j);
    }
}

TCU__FN int tcu__seam_compile(tcu__seam *s, tc_device_text *text, int n) {
    tcu__runtime *r = &s->runtime;
    tcu__device *d = &r->device;
    tcu__job *job = TCU__NEW_ARRAY(&d->host, tcu__job, n);
    if (!job) return tcu__no_memory(&d->trouble, "compiling");
    for (int i = 0; i < n; i++) {
        job[i].name = text[i].name, job[i].source = text[i].text;
        job[i].native = text[i].native;
        job[i].options = tcu__seam_options, job[i].n_options = tcu__seam_options_used();
    }
    int ok =
        tcu__nvrtc_open(&r->nvrtc, &d->trouble) &&
        tcu__arch_choose(&r->nvrtc, d->facts.major, d->facts.minor, &s->arch,
                         &d->trouble) &&
        tcu__compile(&r->nvrtc, &d->host, &s->arch, job, n, tcu__processors(), &d->trouble);
    if (ok) tcu__seam_results(&d->host, &s->arch, job, text, n);
    for (int i = 0; i < n; i++) tcu__job_free(&d->host, &job[i]);
    TCU__FREE(&d->host, job, n);
    return ok;
}

TCU__FN tc_status tcu__seam_build(void *user, tc_device_text *text, int n) {
    TCU__SEAM(user, r != NULL && tcu__seam_compile(s, text, n));
}

TCU__FN void tcu__seam_drop(void *user, tc_device_text *text, int n) {
    const tc_allocator *host = &tcu__seam_of(user)->runtime.device.host;
    for (int i = 0; i < n; i++) {
        TCU__FREE(host, (char *)text[i].code, text[i].bytes + 1);
        TCU__FREE(host, (char *)text[i].portable, text[i].portable_bytes + 1);
        text[i].code = text[i].portable = NULL;
    }
}

TCU__FN int tcu__seam_load_code(tcu__seam *s, const char *name, const void *code,
                                void **module) {
    tcu__device *d = &s->runtime.device;
    tcu__loaded *m = TCU__NEW(&d->host, tcu__loaded);
    if (!m) return tcu__no_memory(&d->trouble, "code");
    if (!tcu__module_load(d, &m->module, code, name)) {
        TCU__FREE(&d->host, m, 1);
        return 0;
    }
    m->next = s->loaded, s->loaded = m;
    *module = m;
    return 1;
}

TCU__FN tc_status tcu__seam_load(void *user, const char *name, const void *code,
                                 size_t bytes, void **module) {
    (void)bytes;
    TCU__SEAM(user, r != NULL && tcu__seam_load_code(s, name, code, module));
}

TCU__FN void tcu__loaded_free(tcu__seam *s, tcu__loaded *m) {
    tcu__device *d = &s->runtime.device;
    for (tcu__found *f = m->found, *next; f; f = next) {
        next = f->next;
        TCU__FREE(&d->host, f, 1);
    }
    tcu__module_unload(d, &m->module);
    TCU__FREE(&d->host, m, 1);
}

TCU__FN void tcu__seam_unload(void *user, void *module) {
    tcu__seam *s = tcu__seam_of(user);
    tcu__loaded **at = &s->loaded, *m = (tcu__loaded *)module;
    while (*at != m) at = &(*at)->next;
    *at = m->next;
    int inside = tcu__seam_undo_begin(s);
    tcu__loaded_free(s, m);
    tcu__seam_undo_end(s, inside);
}

TCU__FN int tcu__seam_find_kernel(tcu__seam *s, void *module, const char *symbol,
                                  uint32_t threads, void **kernel) {
    tcu__device *d = &s->runtime.device;
    tcu__loaded *m = (tcu__loaded *)module;
    tcu__found *f = TCU__NEW(&d->host, tcu__found);
    tcu__launch_shape shape;
    if (!f) return tcu__no_memory(&d->trouble, "a kernel");
    memset(&shape, 0, sizeof shape);
    shape.block[0] = threads;
    shape.block[1] = shape.block[2] = 1;
    if (!tcu__kernel_get(d, &m->module, symbol, &shape, &f->kernel)) {
        TCU__FREE(&d->host, f, 1);
        return 0;
    }
    f->next = m->found, m->found = f;
    *kernel = f;
    return 1;
}

TCU__FN tc_status tcu__seam_find(void *user, void *module, const char *symbol,
                                 uint32_t threads, void **kernel) {
    TCU__SEAM(user, r != NULL && tcu__seam_find_kernel(s, module, symbol, threads, kernel));
}

TCU__FN void tcu__seam_describe(void *user, void *kernel, char *text, size_t room) {
    const tcu__kernel *k = &((tcu__found *)kernel)->kernel;
    (void)user;
    tcu__print(text, room, "%d registers, %d bytes spilled, %d bytes of shared memory",
               k->registers, k->spilled, k->shared);
}

// ---- running

TCU__FN void tcu__plan_free(tcu__seam *s, tcu__plan *p) {
    const tc_allocator *host = &s->runtime.device.host;
    tcu__graphs_close(&p->graphs);
    tcu__share_close(&s->runtime.device, &p->share);
    TCU__FREE(host, p->node, p->count);
    TCU__FREE(host, p, 1);
}

TCU__FN void tcu__seam_forget(void *user, void *plan) {
    tcu__seam *s = tcu__seam_of(user);
    int inside = tcu__seam_undo_begin(s);
    tcu__plan_free(s, (tcu__plan *)plan);
    tcu__seam_undo_end(s, inside);
}

TCU__FN tcu__plan *tcu__plan_need(tcu__seam *s, void **plan, int n) {
    tcu__device *d = &s->runtime.device;
    if (*plan) return (tcu__plan *)*plan;
    tcu__plan *p = TCU__NEW(&d->host, tcu__plan);
    if (p) p->node = TCU__NEW_ARRAY(&d->host, tcu__node, n);
    if (!p || !p->node) {
        if (p) TCU__FREE(&d->host, p, 1);
        tcu__no_memory(&d->trouble, "a list of kernels");
        return NULL;
    }
    p->count = n;
    tcu__graphs_open(&p->graphs, d);
    *plan = p;
    return p;
}

// More shared memory than a kernel was made ready for.
TCU__FN int tcu__found_shared(tcu__device *d, tcu__found *f, unsigned shared) {
    tcu__launch_shape shape;
    if (shared <= f->shared) return 1;
    memset(&shape, 0, sizeof shape);
    shape.shared = shared;
    shape.block[0] = shape.block[1] = shape.block[2] = 1;
    if (!tcu__kernel_fits(d, &f->kernel, &shape) ||
        !TCU__DO(d, f->kernel.name, cuFuncSetAttribute, f->kernel.function,
                 TCU__FN_DYNAMIC_SHARED, (int)shared))
        return 0;
    f->shared = shared;
    return 1;
}

// A kernel may begin while the one before it on the stream ends, whose ever that is, if it waits
// by itself.
TCU__FN int tcu__begins_early(const tcu__device *d, const tc_device_launch *l) {
    return l->early && d->facts.major >= 9;
}

TCU__FN int tcu__plan_node(tcu__device *d, tcu__node *to, const tc_device_launch *l) {
    tcu__found *f = (tcu__found *)l->kernel;
    memset(to, 0, sizeof *to);
    to->kernel = &f->kernel;
    to->shape.grid[0] = l->blocks, to->shape.grid[1] = to->shape.grid[2] = 1;
    to->shape.block[0] = l->threads, to->shape.block[1] = to->shape.block[2] = 1;
    to->shape.shared = l->shared;
    to->shape.programmatic = tcu__begins_early(d, l);
    if (l->cluster > 1) {
        to->shape.cluster[0] = l->cluster;
        to->shape.cluster[1] = to->shape.cluster[2] = 1;
    }
    to->args.at = (const unsigned char *)l->argument, to->args.offset = l->offset;
    to->args.count = (int)l->n_argument, to->args.size = l->argument_bytes;
    to->after = l->after, to->n_after = l->n_after;
    return tcu__found_shared(d, f, l->shared);
}

// One word of all arguments: tells which of the graphs that are kept has them.
TCU__FN uint64_t tcu__plan_key(const tcu__plan *p) {
    uint64_t key = 0x9e3779b97f4a7c15u;
    for (int i = 0; i < p->count; i++) {
        const tcu__args *a = &p->node[i].args;
        for (size_t at = 0; at + 8 <= a->size; at += 8) {
            uint64_t word;
            memcpy(&word, a->at + at, sizeof word);
            key = (key ^ word) * 0xff51afd7ed558ccdu;
            key ^= key >> 29;
        }
    }
    return key;
}

TCU__FN int tcu__plan_is_graph(const tcu__plan *p, tc_device_mode mode) {
    if (!tcu__graph_fits(p->count) || mode == TC_DEVICE_LAUNCHES) return 0;
    return mode == TC_DEVICE_GRAPH ? p->runs > 0 : p->share.state == TCU__SHARE_GRAPH;
}

// Whether this run is the one that tells.
TCU__FN int tcu__plan_measures(const tcu__plan *p, tc_device_mode mode) {
    return mode == TC_DEVICE_CHOOSE && p->share.state == TCU__SHARE_OPEN &&
           p->count >= TCU__SHARE_LEAST && tcu__graph_fits(p->count) &&
           p->runs >= TCU__SHARE_RUN;
}

TCU__FN int tcu__seam_run_list(tcu__seam *s, void **plan, const tc_device_launch *list,
                               int n, tc_device_mode mode, int changed) {
    tcu__device *d = &s->runtime.device;
    tcu__plan *p = tcu__plan_need(s, plan, n);
    if (!p) return 0;
    changed |= !p->runs;
    if (changed) p->graphs.last = NULL;
    for (int i = 0; changed && i < n; i++)
        if (!tcu__plan_node(d, &p->node[i], &list[i])) return 0;
    if (!tcu__share_settle(d, &p->share)) return 0;
    int graph = tcu__plan_is_graph(p, mode), measures = tcu__plan_measures(p, mode);
    p->runs++;
    if (measures) return tcu__share_measure(d, &p->share, p->node, n, d->compute);
    if (graph && p->graphs.last) return tcu__graphs_again(&p->graphs, d->compute);
    if (graph) {
        uint64_t key = tcu__plan_key(p);
        return tcu__graphs_run(&p->graphs, p->node, n, &key, 1, d->compute);
    }
    return tcu__nodes_run(d, p->node, n, d->compute);
}

TCU__FN tc_status tcu__seam_run(void *user, void **plan, const tc_device_launch *list,
                                int n, tc_device_mode mode, int changed) {
    TCU__SEAM(user, r != NULL && tcu__seam_run_list(s, plan, list, n, mode, changed));
}

// "a graph, as launching takes 20 us of 60 us; 1 of at most 4 executables, 1 built, 0 nodes set anew"
TCU__FN void tcu__seam_tell(void *user, void *plan, char *text, size_t room) {
    static const char *const states[] = {"launched one by one so far",
                                         "launched one by one, as it was measured just now",
                                         "a graph", "launched one by one"};
    const tcu__plan *p = (const tcu__plan *)plan;
    const tcu__share *s = &p->share;
    char why[100] = "";
    int kept = 0;
    (void)user;
    for (int i = 0; i < TCU__GRAPHS; i++) kept += p->graphs.entry[i].exec != NULL;
    if (s->state >= TCU__SHARE_GRAPH)
        tcu__print(why, sizeof why, ", as launching takes the host %.1f us of %.1f us",
                   (double)s->host_ns * 1e-3, (double)s->device_ns * 1e-3);
    tcu__print(text, room, "%s%s", kept ? states[TCU__SHARE_GRAPH] : states[s->state], why);
    size_t n = strlen(text);
    if (p->graphs.built && n < room)
        tcu__print(text + n, room - n,
                   "; %d of at most %d executables, %llu built, %llu nodes set anew", kept,
                   (int)TCU__GRAPHS, (unsigned long long)p->graphs.built,
                   (unsigned long long)p->graphs.changed);
}

// ---- time

TCU__FN int tcu__seam_mark_now(tcu__device *d, void **moment) {
    tcu__event e = *moment ? (tcu__event)*moment : tcu__moment_take(d);
    *moment = e;
    return e && TCU__DO(d, "times of the device", cuEventRecord, e, d->compute);
}

TCU__FN tc_status tcu__seam_mark(void *user, void **moment) {
    TCU__SEAM(user, tcu__seam_mark_now(d, moment));
}

TCU__FN tc_status tcu__seam_elapsed(void *user, void *from, void *to, uint64_t *ns) {
    TCU__SEAM(user, tcu__moments_apart(d, (tcu__event)from, (tcu__event)to, ns));
}

TCU__FN void tcu__seam_unmark(void *user, void *moment) {
    tcu__seam *s = tcu__seam_of(user);
    tcu__device *d = &s->runtime.device;
    int inside = tcu__seam_undo_begin(s);
    TCU__UNDO(d, cuEventDestroy_v2, (tcu__event)moment);
    tcu__seam_undo_end(s, inside);
}

// ---- life

TCU__FN void tcu__seam_close(void *user) {
    tcu__seam *s = tcu__seam_of(user);
    tc_allocator host = s->runtime.device.host;
    while (s->loaded) tcu__seam_unload(s, s->loaded);
    tcu__runtime_close(&s->runtime);
    TCU__FREE(&host, s, 1);
}

TCU__FN void tcu__seam_fill_in(tcu__seam *s, tc_device *d) {
    const tcu__facts *f = &s->runtime.device.facts;
    memset(d, 0, sizeof *d);
    d->name = s->name, d->language = "cuda";
    d->identity = s->identity, d->portable = s->portable;
    d->checked = tcu__env("TC_CUDA_CHECK") != NULL;
    d->processors = (uint32_t)f->sms, d->shared_bytes = (uint32_t)f->shared_block;
    d->cluster_blocks = f->clusters ? TCU__PORTABLE_CLUSTER : 0;
    d->argument_bytes = s->runtime.device.driver.version >= TCU__MANY_ARGUMENTS
                            ? TCU__ARGUMENT_BYTES
                            : TCU__ARGUMENT_BYTES_BEFORE;
    d->user = s;
    d->close = tcu__seam_close, d->why = tcu__seam_why;
    d->take = tcu__seam_take, d->give = tcu__seam_give, d->arena = tcu__seam_arena;
    d->take_host = tcu__seam_take_host, d->give_host = tcu__seam_give_host;
    d->copy_in = tcu__seam_copy_in, d->copy_out = tcu__seam_copy_out;
    d->copy_on = tcu__seam_copy_on, d->copy_from = tcu__seam_copy_from,
    d->fill = tcu__seam_fill, d->sync = tcu__seam_sync;
    d->build = tcu__seam_build, d->drop = tcu__seam_drop;
    d->load = tcu__seam_load, d->unload = tcu__seam_unload, d->find = tcu__seam_find;
    d->describe = tcu__seam_describe;
    d->run = tcu__seam_run, d->forget = tcu__seam_forget;
    d->tell = tcu__seam_tell;
    d->mark = tcu__seam_mark, d->elapsed = tcu__seam_elapsed, d->unmark = tcu__seam_unmark;
}

// Code is for a compute capability, PTX for that one and newer ones, which the driver knows by itself; which
// NVRTC made it does not matter.
TCU__FN void tcu__seam_names(tcu__seam *s, int ordinal) {
    const tcu__facts *f = &s->runtime.device.facts;
    char options[32];
    tcu__print(s->name, sizeof s->name, "cuda:%d", ordinal);
    tcu__print(options, sizeof options, "%s%s", tcu__seam_options[0],
               tcu__seam_options_used() > 1 ? " -lineinfo" : "");
    tcu__print(s->identity, sizeof s->identity, "cuda %d.%d %s", f->major, f->minor,
               options);
    tcu__print(s->portable, sizeof s->portable, "cuda ptx %s", options);
    s->runtime.device.careful = tcu__env("TC_CUDA_SYNC") != NULL;
}

// ---- public

TCDEF tc_status tc_cuda_open(tc_ctx *tc, int ordinal) {
    tc_device device;
    char name[24];
    if (!tc) return TC_E_NULL;
    tcu__print(name, sizeof name, "cuda:%d", ordinal);
    if (tc_registered_device(tc, name)) return TC_OK;
    tc_allocator host = tc_allocator_of(tc);
    tcu__seam *s = TCU__NEW(&host, tcu__seam);
    if (!s) return tc_fail(tc, TC_E_NOMEM, "tc_cuda_open: no memory");
    if (!tcu__runtime_open(&s->runtime, &host, ordinal)) {
        tc_status status = s->runtime.device.trouble.status;
        char why[TCU__TEXT + 32];
        tcu__print(why, sizeof why, "tc_cuda_open: %s", s->runtime.device.trouble.text);
        TCU__FREE(&host, s, 1);
        return tc_fail(tc, status ? status : TC_E_BACKEND, why);
    }
    tcu__seam_names(s, ordinal);
    tcu__seam_fill_in(s, &device);
    tc_status status = tc_register_device(tc, &device);
    if (status) tcu__seam_close(s);
    return status;
}

TCU__FN tcu__seam *tcu__seam_in(const tc_ctx *tc, int ordinal) {
    char name[24];
    tcu__print(name, sizeof name, "cuda:%d", ordinal);
    const tc_device *d = tc_registered_device(tc, name);
    return d && d->close == tcu__seam_close ? tcu__seam_of(d->user) : NULL;
}

TCDEF void *tc_cuda_stream(const tc_ctx *tc, int ordinal) {
    tcu__seam *s = tcu__seam_in(tc, ordinal);
    return s ? (void *)s->runtime.device.compute : NULL;
}

TCDEF tc_tensor tc_wrap_cuda(tc_ctx *tc, int ordinal, void *address, tc_dims dims,
                             tc_dtype dtype) {
    char name[24];
    tcu__print(name, sizeof name, "cuda:%d", ordinal);
    return tc_wrap_device_at(tc, name, address, dims, dtype, NULL, 0);
}

TCDEF int tc_cuda_memory(const tc_ctx *tc, int ordinal, char *text, size_t room) {
    tcu__seam *s = tcu__seam_in(tc, ordinal);
    tcu__memory m;
    if (text && room) text[0] = 0;
    if (!s || !text || !room) return 0;
    int entered = tcu__seam_begin(s);
    int ok = entered && tcu__memory_ask(&s->runtime.device, &m);
    if (ok) tcu__memory_put(&m, text, room);
    return tcu__seam_end(s, entered, ok) == TC_OK;
}

#endif  // TCOMPILE_CUDA_IMPLEMENTATION

// LICENCE: choose one.
//
// A. MIT. Copyright (c) 2026 the tcompile authors.
// Permission is hereby granted, free of charge, to any person obtaining a copy of this software and
// associated documentation files (the "Software"), to deal in the Software without restriction,
// including without limitation the rights to use, copy, modify, merge, publish, distribute,
// sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is
// furnished to do so, subject to the following conditions: The above copyright notice and this
// permission notice shall be included in all copies or substantial portions of the Software.
// THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT
// NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND
// NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM,
// DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT
// OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
//
// B. Public domain (www.unlicense.org). This is free and unencumbered software released into the
// public domain. Anyone is free to copy, modify, publish, use, compile, sell, or distribute this
// software, either in source code form or as a compiled binary, for any purpose, commercial or
// non-commercial, and by any means. In jurisdictions that recognize copyright laws, the authors
// dedicate any and all copyright interest in the software to the public domain. THE SOFTWARE IS
// PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, AS ABOVE.
