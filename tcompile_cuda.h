// tcompile_cuda.h - the CUDA device of tcompile.h - v0.1.0 - MIT or public domain
// Generated from gen/ by ./build.sh gen; edit there.
//
// Kernels that tcompile.h makes, compiled by NVRTC and run on NVIDIA's GPUs. The driver and NVRTC are
// loaded when they are first needed; nothing of CUDA has to be installed to compile or to start a
// program that has this. Licence at the end of the file.
//
// QUICK START
//     Beside tcompile.h, in the one .c (or .cc) file that has its implementation, tcompile.c:
//         #define TCOMPILE_IMPLEMENTATION
//         #define TCOMPILE_CUDA_IMPLEMENTATION
//         #include "tcompile_cuda.h"
//     It includes tcompile.h. Elsewhere the header is included and that is all; link with -lpthread -ldl.
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
//     TC_CUDA_GRAPH_BRANCHES=1   kernels of a program that do not depend on each other run side by side.
//                          Processes that share a GPU did not end so with a driver of 2025
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
// enough. Plans are programs: they share what is between their kernels, which is as much as the largest wants. 1, or 0 = the device is not open, or does not answer.
TCDEF int tc_cuda_memory(const tc_ctx *tc, int ordinal, char *text, size_t room);

#endif  // TCOMPILE_CUDA_H

#if defined(TCOMPILE_CUDA_IMPLEMENTATION) && !defined(TCOMPILE_CUDA_IMPLEMENTED)
#define TCOMPILE_CUDA_IMPLEMENTED

#ifndef TC__COUNT
#  error "tcompile_cuda.h stands on the inside of tcompile.h. Fix: define TCOMPILE_IMPLEMENTATION and \
TCOMPILE_CUDA_IMPLEMENTATION in the same file, before its includes."
#else

// ---- gen/out/cuda_ops.inc
static const char*const tc__cuda_expr[TC_OP_COUNT]={
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
"TC_F(larger)(a, b)",
"TC_F(smaller)(a, b)",
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
NULL,
};
// ---- gen/out/text_cuda_types.inc
static const char*const tc__text_cuda_types[]={
"#define TC_FN [[maybe_unused]] static __device__ __forceinline__",
"#define TC_N(name) tc_##name",
"typedef unsigned char tc_u8;",
"typedef signed char tc_i8;",
"typedef short tc_i16;",
"typedef unsigned short tc_u16;",
"typedef int tc_i32;",
"typedef long long tc_i64;",
"typedef unsigned long long tc_u64;",
"union tc_scalar {",
"    double f;",
"    tc_i64 i;",
"};",
"struct tc_state {",
"    tc_i64 *flag;",
"    tc_u64 seed, draw;",
"    tc_u64 failed;",
"};",
"template <int N> struct tc_kargs {",
"    tc_state *state;",
"    tc_i64 size[N];",
"    __device__ __forceinline__ const tc_scalar &arg(int i) const { return ((const tc_scalar *)(state + 1))[i]; }",
"};",
"template <class T, int V> struct __align__(sizeof(T) * V < 16 \? sizeof(T) * V : 16) tc_pack {",
"    T at[V];",
"};",
};
// ---- gen/out/text_cuda_memory.inc
static const char*const tc__text_cuda_memory[]={
"// fn: reads",
"TC_FN void TC_N(reads)(const void *p) { asm volatile(\"\" ::\"l\"(p) : \"memory\"); }",
"// fn: begin",
"TC_FN void TC_N(begin)() {",
"#if __CUDA_ARCH__ >= 900",
"    asm volatile(\"griddepcontrol.launch_dependents;\");",
"    asm volatile(\"griddepcontrol.wait;\" ::: \"memory\");",
"#endif",
"}",
"// fn: begin_beside",
"TC_FN void TC_N(begin_beside)(tc_i64 beside) {",
"#if __CUDA_ARCH__ >= 900",
"    if (beside == 1) asm volatile(\"griddepcontrol.wait;\" ::: \"memory\");",
"    asm volatile(\"griddepcontrol.launch_dependents;\");",
"    if (beside == 0) asm volatile(\"griddepcontrol.wait;\" ::: \"memory\");",
"    if (beside == 2) asm volatile(\"fence.acq_rel.gpu;\" ::: \"memory\");",
"#endif",
"}",
"// fn: follow",
"TC_FN void TC_N(follow)(tc_i64 beside) {",
"#if __CUDA_ARCH__ >= 900",
"    if (beside == 2) asm volatile(\"griddepcontrol.wait;\" ::: \"memory\");",
"#endif",
"}",
"// fn: words",
"template <class P> union TC_N(words) {",
"    P v;",
"    unsigned w[sizeof(P) < 4 \? 1 : sizeof(P) / 4];",
"    __device__ __forceinline__ TC_N(words)() {}",
"    __device__ __forceinline__ TC_N(words)(const P &p) : v(p) {}",
"};",
"// fn: load_words",
"template <class P> TC_FN TC_N(words)<P> TC_N(load_words)(const P *p) {",
"    TC_N(words)<P> u;",
"    const unsigned *q = (const unsigned *)p;",
"    #pragma unroll",
"    for (int i = 0; i < (int)sizeof(P) / 16; i++)",
"        asm volatile(\"ld.global.v4.b32 {%0, %1, %2, %3}, [%4];\"",
"            : \"=r\"(u.w[4 * i]), \"=r\"(u.w[4 * i + 1]), \"=r\"(u.w[4 * i + 2]), \"=r\"(u.w[4 * i + 3])",
"            : \"l\"(q + 4 * i));",
"    if (sizeof(P) == 8) asm volatile(\"ld.global.v2.b32 {%0, %1}, [%2];\" : \"=r\"(u.w[0]), \"=r\"(u.w[sizeof(P) / 8]) : \"l\"(q));",
"    if (sizeof(P) == 4) asm volatile(\"ld.global.b32 %0, [%1];\" : \"=r\"(u.w[0]) : \"l\"(q));",
"    if (sizeof(P) < 4) u.v = *p;",
"    return u;",
"}",
"// fn: load",
"template <class P> TC_FN P TC_N(load)(const P *p) {",
"    return TC_N(load_words)(p).v;",
"}",
"// fn: load_words_once",
"template <class P> TC_FN TC_N(words)<P> TC_N(load_words_once)(const P *p) {",
"#if __CUDA_ARCH__ >= 800",
"    if (sizeof(P) % 16 == 0) {",
"        TC_N(words)<P> u;",
"        const unsigned *q = (const unsigned *)p;",
"        unsigned long long first;",
"        asm(\"createpolicy.fractional.L2::evict_first.b64 %0;\" : \"=l\"(first));",
"        #pragma unroll",
"        for (int i = 0; i < (int)sizeof(P) / 16; i++)",
"            asm volatile(\"ld.global.L2::cache_hint.v4.b32 {%0, %1, %2, %3}, [%4], %5;\"",
"                : \"=r\"(u.w[4 * i]), \"=r\"(u.w[4 * i + 1]), \"=r\"(u.w[4 * i + 2]), \"=r\"(u.w[4 * i + 3])",
"                : \"l\"(q + 4 * i), \"l\"(first));",
"        return u;",
"    }",
"#endif",
"    return TC_N(load_words)(p);",
"}",
"// fn: load_once",
"template <class P> TC_FN P TC_N(load_once)(const P *p) {",
"    return TC_N(load_words_once)(p).v;",
"}",
"// fn: store",
"template <class P> TC_FN void TC_N(store)(P *p, const P &v) {",
"    TC_N(words)<P> u;",
"    unsigned *q = (unsigned *)p;",
"    u.v = v;",
"    #pragma unroll",
"    for (int i = 0; i < (int)sizeof(P) / 16; i++)",
"        asm volatile(\"st.global.v4.b32 [%0], {%1, %2, %3, %4};\" ::\"l\"(q + 4 * i),",
"                     \"r\"(u.w[4 * i]), \"r\"(u.w[4 * i + 1]), \"r\"(u.w[4 * i + 2]), \"r\"(u.w[4 * i + 3])",
"                     : \"memory\");",
"    if (sizeof(P) == 8) asm volatile(\"st.global.v2.b32 [%0], {%1, %2};\" ::\"l\"(q), \"r\"(u.w[0]), \"r\"(u.w[sizeof(P) / 8]) : \"memory\");",
"    if (sizeof(P) < 8) *p = v;",
"}",
"// fn: forget",
"template <class T, int N> TC_FN void TC_N(forget)(T (&held)[N]) {",
"    unsigned *w = (unsigned *)held;",
"    #pragma unroll",
"    for (int i = 0; i < (int)(sizeof(T) * N / 4); i++) asm volatile(\"\" : \"+r\"(w[i]));",
"}",
"// fn: kept",
"template <int N> struct TC_N(kept) {",
"    unsigned w[N / 2];",
"    __device__ __forceinline__ tc_u16 operator[](int i) const { return (tc_u16)(w[i / 2] >> 16 * (i % 2)); }",
"    template <class P> __device__ __forceinline__ void set(int i, const TC_N(words)<P> &u) {",
"        #pragma unroll",
"        for (int k = 0; k < (int)sizeof(P) / 4; k++) w[i / 2 + k] = u.w[k];",
"    }",
"};",
"// fn: splat",
"template <class T, int V> TC_FN tc_pack<T, V> TC_N(splat)(T x) {",
"    tc_pack<T, V> v;",
"    for (int l = 0; l < V; l++) v.at[l] = x;",
"    return v;",
"}",
"// fn: unpack",
"template <class T, int V> TC_FN void TC_N(unpack)(T *to, const tc_pack<T, V> &v) {",
"    #pragma unroll",
"    for (int l = 0; l < V; l++) to[l] = v.at[l];",
"}",
};
// ---- gen/out/text_cuda_shared.inc
static const char*const tc__text_cuda_shared[]={
"// fn: copy_async16",
"TC_FN void TC_N(copy_async16)(void *to, const void *from) {",
"    asm volatile(\"cp.async.cg.shared.global [%0], [%1], 16;\" ::\"r\"((unsigned)__cvta_generic_to_shared(to)), \"l\"(from) : \"memory\");",
"}",
"// fn: copy_async8",
"TC_FN void TC_N(copy_async8)(void *to, const void *from) {",
"    asm volatile(\"cp.async.ca.shared.global [%0], [%1], 8;\" ::\"r\"((unsigned)__cvta_generic_to_shared(to)), \"l\"(from) : \"memory\");",
"}",
"// fn: copy_async4",
"TC_FN void TC_N(copy_async4)(void *to, const void *from) {",
"    asm volatile(\"cp.async.ca.shared.global [%0], [%1], 4;\" ::\"r\"((unsigned)__cvta_generic_to_shared(to)), \"l\"(from) : \"memory\");",
"}",
"// fn: copy_async",
"template <class P> TC_FN void TC_N(copy_async)(P *to, const P *from) {",
"    for (int i = 0; i < (int)sizeof(P) / 16; i++)",
"        TC_N(copy_async16)((char *)to + 16 * i, (const char *)from + 16 * i);",
"    if (sizeof(P) == 8) TC_N(copy_async8)(to, from);",
"    if (sizeof(P) == 4) TC_N(copy_async4)(to, from);",
"}",
"// fn: copy_wait_all",
"TC_FN void TC_N(copy_wait_all)() { asm volatile(\"cp.async.wait_all;\" ::: \"memory\"); }",
"// fn: cluster_arrive",
"TC_FN void TC_N(cluster_arrive)() { asm volatile(\"barrier.cluster.arrive.release;\" ::: \"memory\"); }",
"// fn: cluster_begun",
"TC_FN void TC_N(cluster_begun)() { asm volatile(\"barrier.cluster.arrive.relaxed;\" ::: \"memory\"); }",
"// fn: cluster_wait",
"TC_FN void TC_N(cluster_wait)() { asm volatile(\"barrier.cluster.wait.acquire;\" ::: \"memory\"); }",
"// fn: cluster_store",
"template <class T> TC_FN void TC_N(cluster_store)(T *p, unsigned rank, T v) {",
"    tc_u64 there;",
"    asm volatile(\"mapa.u64 %0, %1, %2;\" : \"=l\"(there) : \"l\"(p), \"r\"(rank));",
"    *(T *)there = v;",
"}",
"// fn: peek",
"template <class T> TC_FN T TC_N(peek)(const T *p) {",
"    return *(const volatile T *)p;",
"}",
"// fn: begun",
"TC_FN void TC_N(begun)(unsigned *ticket) {",
"    if (threadIdx.x == 0) atomicAdd(ticket, 1u);",
"}",
"// fn: met",
"struct TC_N(met) {",
"    int turn;",
"    unsigned blocks, before;",
"};",
"// fn: meets",
"TC_FN TC_N(met) TC_N(meets)(unsigned *ticket, unsigned blocks, int *own) {",
"    unsigned begun = 0, before = 0;",
"    if (threadIdx.x == 0) begun = *(volatile unsigned *)ticket;",
"    __threadfence();",
"    __syncthreads();",
"    if (threadIdx.x == 0) {",
"        const int stays = begun == blocks;",
"        unsigned come = atomicAdd(ticket + 1, stays \? 1u : 65537u);",
"        own[0] = stays \? (int)((come & 65535) - (come >> 16)) : -1;",
"        for (come++; stays && (come & 65535) != blocks;) come = *(volatile unsigned *)(ticket + 1);",
"        own[1] = (int)(blocks - (come >> 16));",
"        if (stays) before = atomicAdd(ticket + 2, 1u);",
"    }",
"    __syncthreads();",
"    __threadfence();",
"    return {own[0], (unsigned)own[1], before};",
"}",
"// fn: parts",
"TC_FN void TC_N(parts)(unsigned *ticket, const TC_N(met) &met) {",
"    if (threadIdx.x != 0 || met.before != met.blocks - 1) return;",
"    for (int i = 0; i < 3; i++) ticket[i] = 0;",
"}",
"// fn: bar_sync",
"TC_FN void TC_N(bar_sync)(int id, int threads) { asm volatile(\"bar.sync %0, %1;\" :: \"r\"(id), \"r\"(threads) : \"memory\"); }",
"// fn: bar_any",
"TC_FN int TC_N(bar_any)(int id, int threads, int says) {",
"    int any;",
"    asm volatile(\"{ .reg .pred p, q; setp.ne.s32 p, %3, 0; bar.red.or.pred q, %1, %2, p; selp.s32 %0, 1, 0, q; }\"",
"        : \"=r\"(any) : \"r\"(id), \"r\"(threads), \"r\"(says) : \"memory\");",
"    return any;",
"}",
"// fn: warp_arrives_last",
"TC_FN bool TC_N(warp_arrives_last)(unsigned *ticket, unsigned n) {",
"    unsigned before = 0;",
"    __threadfence();",
"    __syncwarp();",
"    if (threadIdx.x % 32 == 0) before = atomicAdd(ticket, 1u);",
"    before = __shfl_sync(~0u, before, 0);",
"    if (before + 1 < n) return false;",
"    __threadfence();",
"    if (threadIdx.x % 32 == 0) *ticket = 0;",
"    return true;",
"}",
"// fn: arrives_last",
"template <int N = 0> TC_FN int TC_N(arrives_last)(unsigned *ticket, unsigned n) {",
"    int last = 0;",
"    __threadfence();",
"    if constexpr (N > 0) TC_N(bar_sync)(1, N);",
"    else __syncthreads();",
"    if (threadIdx.x == 0) last = atomicAdd(ticket, 1u) == n - 1;",
"    if constexpr (N > 0) last = TC_N(bar_any)(1, N, last);",
"    else last = __syncthreads_or(last);",
"    if (last && threadIdx.x == 0) *ticket = 0;",
"    __threadfence();",
"    return last;",
"}",
};
// ---- gen/out/text_cuda_halves.inc
static const char*const tc__text_cuda_halves[]={
"// fn: of_f16",
"TC_FN float TC_N(of_f16)(tc_u16 b) {",
"    float f;",
"    asm(\"cvt.f32.f16 %0, %1;\" : \"=f\"(f) : \"h\"(b));",
"    return f;",
"}",
"// fn: bits_f16",
"TC_FN tc_u16 TC_N(bits_f16)(float f) {",
"    tc_u16 b;",
"    asm(\"cvt.rn.f16.f32 %0, %1;\" : \"=h\"(b) : \"f\"(f));",
"    return b;",
"}",
"// fn: of_bf16",
"TC_FN float TC_N(of_bf16)(tc_u16 b) { return __uint_as_float((unsigned)b << 16); }",
"// fn: add_f16",
"TC_FN void TC_N(add_f16)(float &a, float &b, unsigned w) { a += TC_N(of_f16)((tc_u16)w), b += TC_N(of_f16)((tc_u16)(w >> 16)); }",
"// fn: add_bf16",
"TC_FN void TC_N(add_bf16)(float &a, float &b, unsigned w) { a += __uint_as_float(w << 16), b += __uint_as_float(w & 0xffff0000u); }",
"// fn: pack_f16",
"TC_FN unsigned TC_N(pack_f16)(float a, float b) {",
"    unsigned w;",
"    asm(\"cvt.rn.f16x2.f32 %0, %1, %2;\" : \"=r\"(w) : \"f\"(b), \"f\"(a));",
"    return w;",
"}",
"// fn: pack_bf16",
"TC_FN unsigned TC_N(pack_bf16)(float a, float b) {",
"    unsigned w;",
"    asm(\"cvt.rn.bf16x2.f32 %0, %1, %2;\" : \"=r\"(w) : \"f\"(b), \"f\"(a));",
"    return w;",
"}",
"// fn: bits_bf16",
"TC_FN tc_u16 TC_N(bits_bf16)(float f) { return (tc_u16)TC_N(pack_bf16)(f, 0.0f); }",
"// fn: halves_f16",
"template <int V> TC_FN tc_pack<tc_u16, V> TC_N(halves_f16)(const tc_pack<float, V> &x) {",
"    TC_N(words)<tc_pack<tc_u16, V>> u;",
"    for (int l = 0; l < V / 2; l++) u.w[l] = TC_N(pack_f16)(x.at[2 * l], x.at[2 * l + 1]);",
"    return u.v;",
"}",
"// fn: halves_bf16",
"template <int V> TC_FN tc_pack<tc_u16, V> TC_N(halves_bf16)(const tc_pack<float, V> &x) {",
"    TC_N(words)<tc_pack<tc_u16, V>> u;",
"    for (int l = 0; l < V / 2; l++) u.w[l] = TC_N(pack_bf16)(x.at[2 * l], x.at[2 * l + 1]);",
"    return u.v;",
"}",
"// fn: cast_f32_f16",
"TC_FN float TC_N(cast_f32_f16)(float x) { return TC_N(of_f16)(TC_N(bits_f16)(x)); }",
"// fn: cast_f64_f16",
"TC_FN float TC_N(cast_f64_f16)(double x) { return TC_N(of_f16)(TC_N(bits_f16)((float)x)); }",
"// fn: cast_i32_f16",
"TC_FN float TC_N(cast_i32_f16)(int x) { return TC_N(of_f16)(TC_N(bits_f16)((float)x)); }",
"// fn: cast_i64_f16",
"TC_FN float TC_N(cast_i64_f16)(tc_i64 x) { return TC_N(of_f16)(TC_N(bits_f16)((float)x)); }",
"// fn: cast_f32_bf16",
"TC_FN float TC_N(cast_f32_bf16)(float x) { return __uint_as_float(TC_N(pack_bf16)(0.0f, x)); }",
"// fn: cast_f64_bf16",
"TC_FN float TC_N(cast_f64_bf16)(double x) { return TC_N(cast_f32_bf16)((float)x); }",
"// fn: cast_i32_bf16",
"TC_FN float TC_N(cast_i32_bf16)(int x) { return TC_N(cast_f32_bf16)((float)x); }",
"// fn: cast_i64_bf16",
"TC_FN float TC_N(cast_i64_bf16)(tc_i64 x) { return TC_N(cast_f32_bf16)((float)x); }",
"// fn: bits_small",
"template <int DROP, unsigned BIAS> TC_FN unsigned TC_N(bits_small)(float x, float unit) {",
"    const unsigned a = __float_as_uint(x) & 0x7fffffffu, odd = a >> DROP & 1u;",
"    const unsigned few = __float_as_uint(__uint_as_float(a) + unit) - __float_as_uint(unit);",
"    return a < BIAS + 0x800000u \? few : (a - BIAS + ((1u << (DROP - 1)) - 1) + odd) >> DROP;",
"}",
"// fn: near_f8e4m3",
"TC_FN tc_u8 TC_N(near_f8e4m3)(float x) {",
"    const unsigned y = TC_N(bits_small)<20, 0x3c000000u>(x, 16384.0f);",
"    return (tc_u8)((__float_as_uint(x) >> 24 & 0x80u) | (x != x \? 0x7fu : y < 0x7eu \? y : 0x7eu));",
"}",
"// fn: near_f8e5m2",
"TC_FN tc_u8 TC_N(near_f8e5m2)(float x) {",
"    const unsigned y = TC_N(bits_small)<21, 0x38000000u>(x, 128.0f);",
"    return (tc_u8)((__float_as_uint(x) >> 24 & 0x80u) | (x != x \? 0x7fu : y < 0x7cu \? y : 0x7cu));",
"}",
"// fn: cvt_f8e4m3",
"TC_FN tc_u16 TC_N(cvt_f8e4m3)(float a, float b) {",
"    tc_u16 w;",
"    asm(\"cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;\" : \"=h\"(w) : \"f\"(b), \"f\"(a));",
"    return w;",
"}",
"// fn: cvt_f8e5m2",
"TC_FN tc_u16 TC_N(cvt_f8e5m2)(float a, float b) {",
"    tc_u16 w;",
"    asm(\"cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;\" : \"=h\"(w) : \"f\"(b), \"f\"(a));",
"    return w;",
"}",
"// fn: wide_f8e4m3",
"TC_FN unsigned TC_N(wide_f8e4m3)(tc_u16 two) {",
"    unsigned w;",
"    asm(\"cvt.rn.f16x2.e4m3x2 %0, %1;\" : \"=r\"(w) : \"h\"(two));",
"    return w;",
"}",
"// fn: pack_f8e4m3",
"TC_FN tc_u16 TC_N(pack_f8e4m3)(float a, float b) {",
"#if __CUDA_ARCH__ >= 890",
"    return TC_N(cvt_f8e4m3)(a, b);",
"#else",
"    return (tc_u16)(TC_N(near_f8e4m3)(a) | TC_N(near_f8e4m3)(b) << 8);",
"#endif",
"}",
"// fn: pack_f8e5m2",
"TC_FN tc_u16 TC_N(pack_f8e5m2)(float a, float b) {",
"#if __CUDA_ARCH__ >= 890",
"    const unsigned w = TC_N(cvt_f8e5m2)(a, b), low = fabsf(a) >= 61440.0f, high = fabsf(b) >= 61440.0f;",
"    return (tc_u16)(w + low + (high << 8));",
"#else",
"    return (tc_u16)(TC_N(near_f8e5m2)(a) | TC_N(near_f8e5m2)(b) << 8);",
"#endif",
"}",
"// fn: of_f8e4m3",
"TC_FN float TC_N(of_f8e4m3)(tc_u8 b) {",
"#if __CUDA_ARCH__ >= 890",
"    return TC_N(of_f16)((tc_u16)TC_N(wide_f8e4m3)(b));",
"#else",
"    const float x = TC_N(of_f16)((tc_u16)((b & 0x80) << 8 | (b & 0x7f) << 7)) * 256.0f;",
"    return (b & 0x7f) == 0x7f \? __uint_as_float(0x7fffffffu) : x;",
"#endif",
"}",
"// fn: of_f8e5m2",
"TC_FN float TC_N(of_f8e5m2)(tc_u8 b) { return TC_N(of_f16)((tc_u16)(b << 8)); }",
"// fn: bits_f8e4m3",
"TC_FN tc_u8 TC_N(bits_f8e4m3)(float x) { return (tc_u8)TC_N(pack_f8e4m3)(x, 0.0f); }",
"// fn: bytes_f8e4m3",
"template <int V> TC_FN tc_pack<tc_u8, V> TC_N(bytes_f8e4m3)(const tc_pack<float, V> &x) {",
"    TC_N(words)<tc_pack<tc_u8, V>> u;",
"    if constexpr (V % 4) {",
"        for (int l = 0; l < V; l++) u.v.at[l] = TC_N(bits_f8e4m3)(x.at[l]);",
"    } else {",
"        for (int l = 0; l < V; l += 4)",
"            u.w[l / 4] = TC_N(pack_f8e4m3)(x.at[l], x.at[l + 1]) | (unsigned)TC_N(pack_f8e4m3)(x.at[l + 2], x.at[l + 3]) << 16;",
"    }",
"    return u.v;",
"}",
"// fn: bits_f8e5m2",
"TC_FN tc_u8 TC_N(bits_f8e5m2)(float x) { return (tc_u8)TC_N(pack_f8e5m2)(x, 0.0f); }",
"// fn: bytes_f8e5m2",
"template <int V> TC_FN tc_pack<tc_u8, V> TC_N(bytes_f8e5m2)(const tc_pack<float, V> &x) {",
"    TC_N(words)<tc_pack<tc_u8, V>> u;",
"    if constexpr (V % 4) {",
"        for (int l = 0; l < V; l++) u.v.at[l] = TC_N(bits_f8e5m2)(x.at[l]);",
"    } else {",
"        for (int l = 0; l < V; l += 4)",
"            u.w[l / 4] = TC_N(pack_f8e5m2)(x.at[l], x.at[l + 1]) | (unsigned)TC_N(pack_f8e5m2)(x.at[l + 2], x.at[l + 3]) << 16;",
"    }",
"    return u.v;",
"}",
"// fn: cast_f32_f8e4m3",
"TC_FN float TC_N(cast_f32_f8e4m3)(float x) { return TC_N(of_f8e4m3)(TC_N(bits_f8e4m3)(x)); }",
"// fn: cast_f64_f8e4m3",
"TC_FN float TC_N(cast_f64_f8e4m3)(double x) { return TC_N(of_f8e4m3)(TC_N(bits_f8e4m3)((float)x)); }",
"// fn: cast_i32_f8e4m3",
"TC_FN float TC_N(cast_i32_f8e4m3)(int x) { return TC_N(of_f8e4m3)(TC_N(bits_f8e4m3)((float)x)); }",
"// fn: cast_i64_f8e4m3",
"TC_FN float TC_N(cast_i64_f8e4m3)(tc_i64 x) { return TC_N(of_f8e4m3)(TC_N(bits_f8e4m3)((float)x)); }",
"// fn: cast_f32_f8e5m2",
"TC_FN float TC_N(cast_f32_f8e5m2)(float x) { return TC_N(of_f8e5m2)(TC_N(bits_f8e5m2)(x)); }",
"// fn: cast_f64_f8e5m2",
"TC_FN float TC_N(cast_f64_f8e5m2)(double x) { return TC_N(of_f8e5m2)(TC_N(bits_f8e5m2)((float)x)); }",
"// fn: cast_i32_f8e5m2",
"TC_FN float TC_N(cast_i32_f8e5m2)(int x) { return TC_N(of_f8e5m2)(TC_N(bits_f8e5m2)((float)x)); }",
"// fn: cast_i64_f8e5m2",
"TC_FN float TC_N(cast_i64_f8e5m2)(tc_i64 x) { return TC_N(of_f8e5m2)(TC_N(bits_f8e5m2)((float)x)); }",
};
// ---- gen/out/text_cuda_index.inc
static const char*const tc__text_cuda_index[]={
"// fn: floor_div",
"template <class A, class B> TC_FN auto TC_N(floor_div)(A a, B b) -> decltype(a + b) {",
"    return a / b - (a % b < 0);",
"}",
"// fn: floor_mod",
"template <class A, class B> TC_FN auto TC_N(floor_mod)(A a, B b) -> decltype(a + b) {",
"    return a % b < 0 \? a % b + b : a % b;",
"}",
"// fn: min",
"template <class A, class B> TC_FN auto TC_N(min)(A a, B b) -> decltype(a + b) {",
"    return a < b \? a : b;",
"}",
"// fn: max",
"template <class A, class B> TC_FN auto TC_N(max)(A a, B b) -> decltype(a + b) {",
"    return a > b \? a : b;",
"}",
"// fn: check",
"TC_FN tc_i64 TC_N(check)(tc_state *a, tc_i64 v, tc_i64 limit, tc_i64 site) {",
"    const tc_i64 w = v < 0 \? (tc_i64)((tc_u64)v + (tc_u64)limit) : v;",
"    if ((tc_u64)w < (tc_u64)limit) return w;",
"    a->flag[1] = v;",
"    a->flag[2] = limit;",
"    a->flag[0] = site + 1;",
"    a->failed = 1;",
"    return w < 0 || limit <= 0 \? 0 : limit - 1;",
"}",
};
// ---- gen/out/text_cuda_math.inc
static const char*const tc__text_cuda_math[]={
"// fn: larger_f32",
"TC_FN float TC_N(larger_f32)(float x, float y) {",
"    float z;",
"    asm(\"max.NaN.f32 %0, %1, %2;\" : \"=f\"(z) : \"f\"(x), \"f\"(y));",
"    return z;",
"}",
"// fn: larger_f64",
"TC_FN double TC_N(larger_f64)(double x, double y) { return x != x \? x : x > y \? x : y; }",
"// fn: larger_i32",
"TC_FN int TC_N(larger_i32)(int x, int y) { return x > y \? x : y; }",
"// fn: larger_i64",
"TC_FN tc_i64 TC_N(larger_i64)(tc_i64 x, tc_i64 y) { return x > y \? x : y; }",
"// fn: smaller_f32",
"TC_FN float TC_N(smaller_f32)(float x, float y) {",
"    float z;",
"    asm(\"min.NaN.f32 %0, %1, %2;\" : \"=f\"(z) : \"f\"(x), \"f\"(y));",
"    return z;",
"}",
"// fn: smaller_f64",
"TC_FN double TC_N(smaller_f64)(double x, double y) { return x != x \? x : x < y \? x : y; }",
"// fn: smaller_i32",
"TC_FN int TC_N(smaller_i32)(int x, int y) { return x < y \? x : y; }",
"// fn: smaller_i64",
"TC_FN tc_i64 TC_N(smaller_i64)(tc_i64 x, tc_i64 y) { return x < y \? x : y; }",
"// fn: gelu_of",
"template <class T> TC_FN T TC_N(gelu_of)(T x, T y) {",
"    const T c = (T)-0.70710678118654752, z = x * c;",
"    const T lost = fma(x, c, -z) + x * (T)(-0.70710678118654752 - (double)c);",
"    return x * (T)0.5 * (z > (T)1 && y != (T)0 \? fma(y, (T)-2 * z * lost, y) : y);",
"}",
"// fn: rcp_flush",
"TC_FN float TC_N(rcp_flush)(float x) {",
"    float y;",
"    asm(\"rcp.approx.ftz.f32 %0, %1;\" : \"=f\"(y) : \"f\"(x));",
"    return y;",
"}",
"// fn: ex2",
"TC_FN float TC_N(ex2)(float x) {",
"    float y;",
"    asm(\"ex2.approx.ftz.f32 %0, %1;\" : \"=f\"(y) : \"f\"(x));",
"    return y;",
"}",
"// fn: lg2",
"TC_FN float TC_N(lg2)(float x) {",
"    float y;",
"    asm(\"lg2.approx.f32 %0, %1;\" : \"=f\"(y) : \"f\"(x));",
"    return y;",
"}",
"// fn: exp_shifted",
"TC_FN float TC_N(exp_shifted)(float x) {",
"    const float y = TC_N(larger_f32)(x, -104.0f), t = y * 1.44269502f, e = TC_N(ex2)(t);",
"    return fmaf(e, fmaf(t, 1.90465421e-09f, fmaf(t, -0.693147182f, y)), e);",
"}",
"// fn: log_of",
"TC_FN float TC_N(log_of)(float x) {",
"    const int b = __float_as_int(x), n = (b - 0x3f2aaaab) & (int)0xff800000;",
"    const float f = __int_as_float(b - n) - 1.0f;",
"    float q = 0.138212666f;",
"    q = fmaf(q, f, -0.151228189f);",
"    q = fmaf(q, f, 0.140420899f);",
"    q = fmaf(q, f, -0.164722338f);",
"    q = fmaf(q, f, 0.200079337f);",
"    q = fmaf(q, f, -0.250042409f);",
"    q = fmaf(q, f, 0.333332658f);",
"    q = fmaf(q, f, -0.5f);",
"    return fmaf((float)n, 8.26295832e-08f, fmaf(q, f * f, f));",
"}",
"// fn: log_special",
"static __device__ __noinline__ float TC_N(log_special)(float x) {",
"    return TC_N(lg2)(x) * 0.693147182f;",
"}",
"// fn: log_f32",
"TC_FN float TC_N(log_f32)(float x) {",
"    const float y = TC_N(log_of)(x);",
"    return (unsigned)__float_as_int(x) - 0x00800000u < 0x7f000000u \? y : TC_N(log_special)(x);",
"}",
"// fn: log_normal",
"TC_FN float TC_N(log_normal)(float x) {",
"    const float y = TC_N(log_of)(x);",
"    return __float_as_int(x) < 0x7f800000 \? y : x;",
"}",
"// fn: sigmoid_f32",
"TC_FN float TC_N(sigmoid_f32)(float x) {",
"    const float y = TC_N(smaller_f32)(TC_N(larger_f32)(-x, -104.0f), 88.7f), t = y * 1.44269502f;",
"    const float e = TC_N(ex2)(t);",
"    return TC_N(rcp_flush)(1.0f + fmaf(e, fmaf(t, 1.90465421e-09f, fmaf(t, -0.693147182f, y)), e));",
"}",
"// fn: tanh_added",
"TC_FN float TC_N(tanh_added)(float x) {",
"    return fmaf(-2.0f, TC_N(rcp_flush)(TC_N(ex2)(x * 2.88539004f) + 1.0f), 1.0f);",
"}",
"// fn: tanh_f32",
"TC_FN float TC_N(tanh_f32)(float x) {",
"    const float a = fabsf(x), s = x * x;",
"    const float big = fmaf(-2.0f, TC_N(rcp_flush)(TC_N(ex2)(a * 2.88539004f) + 1.0f), 1.0f);",
"    float p = fmaf(-0.00589514058f, s, 0.0207959563f);",
"    p = fmaf(p, s, -0.0537838265f);",
"    p = fmaf(p, s, 0.133319244f);",
"    p = fmaf(p, s, -0.333332986f);",
"    return a < 0.6f \? fmaf(p * s, x, x) : copysignf(big, x);",
"}",
"// fn: silu_f32",
"TC_FN float TC_N(silu_f32)(float x) {",
"    const float e = expf(-fabsf(x)), y = x * TC_N(rcp_flush)(1.0f + e);",
"    return x < 0 \? y * e : y;",
"}",
"// fn: gelu_tanh_f32",
"TC_FN float TC_N(gelu_tanh_f32)(float x) {",
"    const float u = x * fmaf(0.0713548163f, x * x, 1.59576912f), e = expf(-fabsf(u));",
"    const float y = x * TC_N(rcp_flush)(1.0f + e);",
"    return u < 0 \? y * e : y;",
"}",
"// fn: power",
"template <class T, class U> TC_FN T TC_N(power)(T a, T n) {",
"    if (n < 0) return a == 1 \? 1 : a == -1 \? (n & 1 \? -1 : 1) : 0;",
"    U y = 1, base = (U)a;",
"    #pragma unroll 1",
"    for (U e = (U)n; e; e >>= 1) {",
"        if (e & 1) y *= base;",
"        base *= base;",
"    }",
"    return (T)y;",
"}",
"// fn: floor_quotient",
"template <class T, class U> TC_FN T TC_N(floor_quotient)(T x, T y) {",
"    if (y == 0) return 0;",
"    if (y == -1) return (T)((U)0 - (U)x);",
"    const T q = x / y, m = x % y;",
"    return m != 0 && (m < 0) != (y < 0) \? q - 1 : q;",
"}",
};
// ---- gen/out/text_cuda_trig.inc
static const char*const tc__text_cuda_trig[]={
"// fn: trig_big",
"static __device__ __noinline__ tc_u64 TC_N(trig_big)(float x) {",
"    static const __device__ unsigned two_over_pi[8] = {0,           0xa2f9836eu, 0x4e441529u, 0xfc2757d1u,",
"                                                       0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu};",
"    if (!(x < __int_as_float(0x7f800000))) return 0x7fffffff;",
"    const unsigned b = __float_as_uint(x), bit = ((b >> 23) & 255) - 120, word = bit / 32, shift = bit % 32;",
"    const tc_u64 m = (b & 0x7fffffu) | 0x800000u;",
"    unsigned w[3];",
"    #pragma unroll",
"    for (int i = 0; i < 3; i++) {",
"        const tc_u64 two = (tc_u64)two_over_pi[word + i] << 32 | two_over_pi[word + i + 1];",
"        w[i] = (unsigned)((two << shift) >> 32);",
"    }",
"    const tc_u64 p = ((m * w[0]) << 32) + m * w[1] + ((m * w[2]) >> 32);",
"    const tc_u64 q = (p + 0x2000000000000000ull) >> 62;",
"    const double d = (double)(tc_i64)(p - (q << 62)) * 3.4061215800865545e-19;",
"    return q << 32 | __float_as_uint((float)d);",
"}",
"// fn: trig_reduce",
"TC_FN int TC_N(trig_reduce)(float x, float &r) {",
"    const float a = fabsf(x), t = fmaf(a, 0.636619747f, 12582912.0f), n = t - 12582912.0f;",
"    r = fmaf(n, -1.57079637f, a);",
"    r = fmaf(n, 4.37113883e-08f, r);",
"    r = fmaf(n, 1.71512451e-15f, r);",
"    if (a > 1e5f) {",
"        const tc_u64 big = TC_N(trig_big)(a);",
"        r = __uint_as_float((unsigned)big);",
"        return (int)(big >> 32);",
"    }",
"    return __float_as_int(t);",
"}",
"// fn: sin_poly_f32",
"TC_FN float TC_N(sin_poly_f32)(float r) {",
"    const float z = r * r;",
"    float p = fmaf(2.83250984e-06f, z, -0.000198530644f);",
"    p = fmaf(p, z, 0.0083333794f);",
"    p = fmaf(p, z, -0.166666672f);",
"    return fmaf(r * z, p, r);",
"}",
"// fn: cos_poly_f32",
"TC_FN float TC_N(cos_poly_f32)(float r) {",
"    const float z = r * r;",
"    float p = fmaf(2.44323219e-05f, z, -0.00138873095f);",
"    p = fmaf(p, z, 0.0416666456f);",
"    return fmaf(z * z, p, fmaf(z, -0.5f, 1.0f));",
"}",
"// fn: sin_far",
"static __device__ __noinline__ float TC_N(sin_far)(float x) {",
"    float r;",
"    const int q = TC_N(trig_reduce)(x, r);",
"    const float y = q & 1 \? TC_N(cos_poly_f32)(r) : TC_N(sin_poly_f32)(r);",
"    return __int_as_float(__float_as_int(y) ^ ((q << 30 ^ __float_as_int(x)) & (int)0x80000000));",
"}",
"// fn: cos_far",
"static __device__ __noinline__ float TC_N(cos_far)(float x) {",
"    float r;",
"    const int q = TC_N(trig_reduce)(x, r);",
"    const float y = q & 1 \? TC_N(sin_poly_f32)(r) : TC_N(cos_poly_f32)(r);",
"    return __int_as_float(__float_as_int(y) ^ (((q + 1) << 30) & (int)0x80000000));",
"}",
"// fn: turn_f32",
"TC_FN float TC_N(turn_f32)(float x, float n, int q) {",
"    const float r = fmaf(n, 3.43024902e-15f, fmaf(n, 8.74227766e-08f, fmaf(n, -3.14159274f, x)));",
"    const float z = r * r;",
"    float p = fmaf(-2.55029100e-08f, z, 2.76270566e-06f);",
"    p = fmaf(p, z, -0.000198430935f);",
"    p = fmaf(p, z, 0.00833335053f);",
"    p = fmaf(p, z, -0.166666672f);",
"    return __int_as_float(__float_as_int(fmaf(r * z, p, r)) ^ (q << 31));",
"}",
"// fn: sin_f32",
"TC_FN float TC_N(sin_f32)(float x) {",
"    const float t = fmaf(x, 0.318309873f, 12582912.0f);",
"    const float y = TC_N(turn_f32)(x, t - 12582912.0f, __float_as_int(t));",
"    return fabsf(x) <= 1e5f \? y : TC_N(sin_far)(x);",
"}",
"// fn: cos_f32",
"TC_FN float TC_N(cos_f32)(float x) {",
"    const float t = fmaf(x, 0.318309873f, -0.5f) + 12582912.0f;",
"    const float y = TC_N(turn_f32)(x, t - 12582912.0f + 0.5f, __float_as_int(t) + 1);",
"    return fabsf(x) <= 1e5f \? y : TC_N(cos_far)(x);",
"}",
"// fn: tan_f32",
"TC_FN float TC_N(tan_f32)(float x) {",
"    float r;",
"    const int q = TC_N(trig_reduce)(x, r);",
"    const float s = TC_N(sin_poly_f32)(r), c = TC_N(cos_poly_f32)(r);",
"    return copysignf(1.0f, x) * (q & 1 \? -c / s : s / c);",
"}",
};
// ---- gen/out/text_cuda_fast.inc
static const char*const tc__text_cuda_fast[]={
"// fn: exp_half",
"TC_FN float TC_N(exp_half)(float x) { return TC_N(ex2)(x * 1.44269502f); }",
"// fn: exp2_half",
"TC_FN float TC_N(exp2_half)(float x) { return TC_N(ex2)(x); }",
"// fn: log_half",
"TC_FN float TC_N(log_half)(float x) {",
"    const float d = x - 1.0f;",
"    return fabsf(d) < 0.0078125f \? d * fmaf(d, fmaf(d, 0.333333343f, -0.5f), 1.0f) : TC_N(lg2)(x) * 0.693147182f;",
"}",
"// fn: log2_half",
"TC_FN float TC_N(log2_half)(float x) {",
"    const float d = x - 1.0f;",
"    return fabsf(d) < 0.0078125f \? d * fmaf(d, fmaf(d, 0.480898350f, -0.721347511f), 1.44269502f) : TC_N(lg2)(x);",
"}",
"// fn: turn_half",
"TC_FN float TC_N(turn_half)(float r, int q) {",
"    const float z = r * r;",
"    float p = fmaf(-0.000185009f, z, 0.00831199f);",
"    p = fmaf(p, z, -0.166655f);",
"    return __int_as_float(__float_as_int(fmaf(r * z, p, r)) ^ (q << 31));",
"}",
"// fn: sin_half",
"TC_FN float TC_N(sin_half)(float x) {",
"    if (fabsf(x) > 1e5f) return TC_N(sin_far)(x);",
"    const float t = fmaf(x, 0.318309873f, 12582912.0f), n = t - 12582912.0f;",
"    return TC_N(turn_half)(fmaf(n, 8.74227766e-08f, fmaf(n, -3.14159274f, x)), __float_as_int(t));",
"}",
"// fn: cos_half",
"TC_FN float TC_N(cos_half)(float x) {",
"    if (fabsf(x) > 1e5f) return TC_N(cos_far)(x);",
"    const float t = fmaf(x, 0.318309873f, 0.5f) + 12582912.0f, n = t - 12582912.0f - 0.5f;",
"    return TC_N(turn_half)(fmaf(n, 8.74227766e-08f, fmaf(n, -3.14159274f, x)), __float_as_int(t));",
"}",
"// fn: tanh_half",
"TC_FN float TC_N(tanh_half)(float x) {",
"    const float y = fmaf(-2.0f, TC_N(rcp_flush)(TC_N(ex2)(x * 2.88539004f) + 1.0f), 1.0f);",
"    return fabsf(x) < 0.0625f \? x * fmaf(x * x, -0.333333343f, 1.0f) : y;",
"}",
"// fn: tanh_bf16",
"TC_FN float TC_N(tanh_bf16)(float x) {",
"    float y;",
"    asm(\"tanh.approx.f32 %0, %1;\" : \"=f\"(y) : \"f\"(x));",
"    return y;",
"}",
"// fn: quarters_half",
"TC_FN float TC_N(quarters_half)(float x) { return TC_N(rcp_flush)(0.25f + TC_N(ex2)(fmaf(x, -1.44269502f, -2.0f))); }",
"// fn: sigmoid_half",
"TC_FN float TC_N(sigmoid_half)(float x) { return 0.25f * TC_N(quarters_half)(x); }",
"// fn: silu_half",
"TC_FN float TC_N(silu_half)(float x) { return 0.25f * x * TC_N(quarters_half)(x); }",
"// fn: gelu_tanh_half",
"TC_FN float TC_N(gelu_tanh_half)(float x) {",
"    return 0.25f * x * TC_N(quarters_half)(x * (x * x * 0.0713548163f + 1.59576912f));",
"}",
"// fn: tail_half",
"TC_FN float TC_N(tail_half)(float a) {",
"    const float t = TC_N(rcp_flush)(fmaf(0.375f, a, 1.0f)), e = TC_N(ex2)(fmaf(a * a, -0.721347511f, 24.0f));",
"    float p = fmaf(-0.0906434163f, t, 0.200283006f);",
"    p = fmaf(p, t, 0.0835630223f);",
"    p = fmaf(p, t, 0.157734305f);",
"    p = fmaf(p, t, 0.14906099f);",
"    return e * (p * t);",
"}",
"// fn: gelu_half",
"TC_FN float TC_N(gelu_half)(float x) {",
"    const float c = TC_N(tail_half)(fabsf(x)) * 0x1p-24f;",
"    return x * (x < 0 \? c : 1.0f - c);",
"}",
"// fn: erf_half",
"TC_FN float TC_N(erf_half)(float x) {",
"    const float z = x * x, near = fmaf(z, fmaf(z, 0.112837918f, -0.376126389f), 1.12837917f);",
"    const float far = fmaf(TC_N(tail_half)(fabsf(x) * 1.41421354f), -0x1p-23f, 1.0f);",
"    return fabsf(x) < 0.34375f \? x * near : copysignf(far, x);",
"}",
"// fn: div_half",
"TC_FN float TC_N(div_half)(float a, float b) {",
"    float y;",
"    asm(\"div.full.f32 %0, %1, %2;\" : \"=f\"(y) : \"f\"(a), \"f\"(b));",
"    return y;",
"}",
"// fn: rcp_half",
"TC_FN float TC_N(rcp_half)(float x) {",
"    float y;",
"    asm(\"rcp.approx.f32 %0, %1;\" : \"=f\"(y) : \"f\"(x));",
"    return y;",
"}",
"// fn: sqrt_half",
"TC_FN float TC_N(sqrt_half)(float x) {",
"    float y;",
"    asm(\"sqrt.approx.f32 %0, %1;\" : \"=f\"(y) : \"f\"(x));",
"    return y;",
"}",
"// fn: rsqrt_half",
"TC_FN float TC_N(rsqrt_half)(float x) {",
"    float y;",
"    asm(\"rsqrt.approx.f32 %0, %1;\" : \"=f\"(y) : \"f\"(x));",
"    return y;",
"}",
};
// ---- gen/out/text_cuda_random.inc
static const char*const tc__text_cuda_random[]={
"// fn: draw",
"struct TC_N(draw) {",
"    unsigned w[4];",
"};",
"// fn: philox",
"TC_FN TC_N(draw) TC_N(philox)(tc_i64 i, tc_u64 draw, tc_u64 seed) {",
"    unsigned a = (unsigned)i, b = (unsigned)((tc_u64)i >> 32), c = (unsigned)draw, d = (unsigned)(draw >> 32);",
"    unsigned k0 = (unsigned)seed, k1 = (unsigned)(seed >> 32);",
"    #pragma unroll",
"    for (int n = 0; n < 10; n++) {",
"        const unsigned h0 = __umulhi(a, 0xd2511f53u), h1 = __umulhi(c, 0xcd9e8d57u);",
"        const unsigned l0 = a * 0xd2511f53u, l1 = c * 0xcd9e8d57u;",
"        a = h1 ^ b ^ k0;",
"        b = l1;",
"        c = h0 ^ d ^ k1;",
"        d = l0;",
"        k0 += 0x9e3779b9u;",
"        k1 += 0xbb67ae85u;",
"    }",
"    return {{a, b, c, d}};",
"}",
"// fn: drawn",
"template <int N> TC_FN TC_N(draw) TC_N(drawn)(tc_i64 i, int l, tc_u64 draw, tc_u64 seed) {",
"    const TC_N(draw) x = TC_N(philox)(i / (4 / N) + l / (4 / N), draw, seed);",
"    const unsigned *w = x.w;",
"    if (N == 1) return {{l & 2 \? l & 1 \? w[3] : w[2] : l & 1 \? w[1] : w[0], 0, 0, 0}};",
"    if (N == 2) return {{l & 1 \? w[2] : w[0], l & 1 \? w[3] : w[1], 0, 0}};",
"    return x;",
"}",
"// fn: uniform_f32",
"TC_FN float TC_N(uniform_f32)(const TC_N(draw) &x) { return (float)(x.w[0] >> 8) * 5.96046448e-08f; }",
"// fn: normal_f32",
"TC_FN float TC_N(normal_f32)(const TC_N(draw) &x) {",
"    const float u = ((float)(x.w[0] >> 8) + 1.0f) * 5.96046448e-08f;",
"    const float v = (float)(x.w[1] >> 8) * 2.38418579e-07f, t = v + 12582912.0f;",
"    const float r = (v - (t - 12582912.0f)) * 1.57079637f;",
"    const int q = __float_as_int(t);",
"    const float y = q & 1 \? TC_N(sin_poly_f32)(r) : TC_N(cos_poly_f32)(r);",
"    return sqrtf(logf(u) * -2.0f) * __int_as_float(__float_as_int(y) ^ (((q + 1) & 2) << 30));",
"}",
"// fn: uniform_f64",
"TC_FN double TC_N(uniform_f64)(const TC_N(draw) &x) {",
"    return ((double)(x.w[0] >> 5) * 67108864.0 + (double)(x.w[1] >> 6)) * 1.1102230246251565e-16;",
"}",
"// fn: normal_f64",
"TC_FN double TC_N(normal_f64)(const TC_N(draw) &x) {",
"    const double u = TC_N(uniform_f64)(x) + 1.1102230246251565e-16;",
"    const double v = ((double)(x.w[2] >> 5) * 67108864.0 + (double)(x.w[3] >> 6)) * 1.1102230246251565e-16;",
"    return sqrt(log(u) * -2.0) * cospi(2.0 * v);",
"}",
};
// ---- gen/out/text_cuda_divide.inc
static const char*const tc__text_cuda_divide[]={
"// fn: floor_divide_f32",
"TC_FN float TC_N(floor_divide_f32)(float x, float y) {",
"    const float m = fmodf(x, y);",
"    const float q = (x - m) / y - (float)(m != 0 && (m < 0) != (y < 0));",
"    const float f = floorf(q);",
"    if (y == 0) return x / y;",
"    if (q == 0) return copysignf(0.0f, x / y);",
"    return f + (float)(q - f > 0.5f);",
"}",
"// fn: floor_divide_f64",
"TC_FN double TC_N(floor_divide_f64)(double x, double y) {",
"    const double m = fmod(x, y);",
"    const double q = (x - m) / y - (double)(m != 0 && (m < 0) != (y < 0));",
"    const double f = floor(q);",
"    if (y == 0) return x / y;",
"    if (q == 0) return copysign(0.0, x / y);",
"    return f + (double)(q - f > 0.5);",
"}",
};
// ---- gen/out/text_cuda_product.inc
static const char*const tc__text_cuda_product[]={
"// fn: add_product_f32",
"TC_FN float TC_N(add_product_f32)(float a, float b, float c) { return fmaf(a, b, c); }",
"// fn: add_product_f64",
"TC_FN double TC_N(add_product_f64)(double a, double b, double c) { return fma(a, b, c); }",
"// fn: add_product_i32",
"TC_FN int TC_N(add_product_i32)(int a, int b, int c) { return (int)((unsigned)a * (unsigned)b + (unsigned)c); }",
"// fn: add_product_i64",
"TC_FN tc_i64 TC_N(add_product_i64)(tc_i64 a, tc_i64 b, tc_i64 c) { return (tc_i64)((tc_u64)a * (tc_u64)b + (tc_u64)c); }",
"// fn: copy_async16_of",
"TC_FN void TC_N(copy_async16_of)(void *shared, const void *global, int bytes) {",
"    asm volatile(\"cp.async.cg.shared.global [%0], [%1], 16, %2;\"",
"                 :: \"r\"((unsigned)__cvta_generic_to_shared(shared)), \"l\"(global), \"r\"(bytes) : \"memory\");",
"}",
"// fn: copy_commit",
"TC_FN void TC_N(copy_commit)() { asm volatile(\"cp.async.commit_group;\" ::: \"memory\"); }",
"// fn: copy_wait",
"template <int N> TC_FN void TC_N(copy_wait)() {",
"    asm volatile(\"cp.async.wait_group %0;\" :: \"n\"(N) : \"memory\");",
"}",
"// fn: ldmatrix4",
"TC_FN void TC_N(ldmatrix4)(unsigned (&r)[4], const void *row) {",
"    asm volatile(\"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\"",
"                 : \"=r\"(r[0]), \"=r\"(r[1]), \"=r\"(r[2]), \"=r\"(r[3])",
"                 : \"r\"((unsigned)__cvta_generic_to_shared(row)) : \"memory\");",
"}",
"// fn: ldmatrix4_trans",
"TC_FN void TC_N(ldmatrix4_trans)(unsigned (&r)[4], const void *row) {",
"    asm volatile(\"ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];\"",
"                 : \"=r\"(r[0]), \"=r\"(r[1]), \"=r\"(r[2]), \"=r\"(r[3])",
"                 : \"r\"((unsigned)__cvta_generic_to_shared(row)) : \"memory\");",
"}",
"// fn: mma_f16",
"TC_FN void TC_N(mma_f16)(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {",
"    asm(\"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\"",
"                 : \"+f\"(d[0]), \"+f\"(d[1]), \"+f\"(d[2]), \"+f\"(d[3])",
"                 : \"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3]), \"r\"(b[0]), \"r\"(b[1]));",
"}",
"// fn: mma_bf16",
"TC_FN void TC_N(mma_bf16)(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {",
"    asm(\"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\"",
"                 : \"+f\"(d[0]), \"+f\"(d[1]), \"+f\"(d[2]), \"+f\"(d[3])",
"                 : \"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3]), \"r\"(b[0]), \"r\"(b[1]));",
"}",
"// fn: mma_tf32",
"TC_FN void TC_N(mma_tf32)(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {",
"    asm(\"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\"",
"                 : \"+f\"(d[0]), \"+f\"(d[1]), \"+f\"(d[2]), \"+f\"(d[3])",
"                 : \"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3]), \"r\"(b[0]), \"r\"(b[1]));",
"}",
"// fn: proxy_fence",
"TC_FN void TC_N(proxy_fence)() { asm volatile(\"fence.proxy.async.shared::cta;\" ::: \"memory\"); }",
"// fn: align_shared",
"template <int N> TC_FN char *TC_N(align_shared)(char *p) {",
"    return p + (0u - (unsigned)__cvta_generic_to_shared(p)) % N;",
"}",
"// fn: matrix_place",
"template <int K = 64, int LINE = 128> TC_FN tc_u64 TC_N(matrix_place)(const void *tile) {",
"    const tc_u64 block = 8 * LINE / 16, lines = K * 128 / 16, swizzled = (tc_u64)(LINE == 128 \? 1 : 2) << 62;",
"    return ((unsigned)__cvta_generic_to_shared(tile) & 0x3ffff) / 16 | lines << 16 | block << 32 | swizzled;",
"}",
"// fn: matrix_begin",
"TC_FN void TC_N(matrix_begin)() { asm volatile(\"wgmma.fence.sync.aligned;\" ::: \"memory\"); }",
"// fn: matrix_commit",
"TC_FN void TC_N(matrix_commit)() { asm volatile(\"wgmma.commit_group.sync.aligned;\" ::: \"memory\"); }",
"// fn: matrix_wait",
"template <int N> TC_FN void TC_N(matrix_wait)() {",
"    asm volatile(\"wgmma.wait_group.sync.aligned %0;\" :: \"n\"(N) : \"memory\");",
"}",
"// fn: matrix_keep",
"template <int N> TC_FN void TC_N(matrix_keep)(float (&d)[N]) {",
"    #pragma unroll",
"    for (int i = 0; i < N; i++) asm volatile(\"\" : \"+f\"(d[i]) :: \"memory\");",
"}",
"// fn: wgmma",
"#define TC_WGMMA_8(i) \"+f\"(d[i]), \"+f\"(d[i + 1]), \"+f\"(d[i + 2]), \"+f\"(d[i + 3]), \"+f\"(d[i + 4]), \"+f\"(d[i + 5]), \"+f\"(d[i + 6]), \"+f\"(d[i + 7])",
"#define TC_WGMMA_32(i) TC_WGMMA_8(i), TC_WGMMA_8(i + 8), TC_WGMMA_8(i + 16), TC_WGMMA_8(i + 24)",
"#define TC_WGMMA_NAMES_64 \"%2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33\"",
"#define TC_WGMMA_16(i) TC_WGMMA_8(i), TC_WGMMA_8(i + 8)",
"#define TC_WGMMA_NAMES_96 TC_WGMMA_NAMES_64 \", %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49\"",
"#define TC_WGMMA_NAMES_128 TC_WGMMA_NAMES_64 \", %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, %65\"",
"#define TC_WGMMA_NAMES_192 TC_WGMMA_NAMES_128 \", %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, %96, %97\"",
"#define TC_WGMMA_NAMES_256 TC_WGMMA_NAMES_192 \", %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127, %128, %129\"",
"#define TC_WGMMA_BEGIN(keep) \"{ .reg .pred p; setp.ne.b32 p, \" keep \", 0; wgmma.mma_async.sync.aligned.m64n\"",
"template <int UNITS, int N, int TA, int TB> TC_FN void TC_N(wgmma)(float (&d)[N / 2], tc_u64 a, tc_u64 b, int keep) {",
"    if constexpr (UNITS == 1 && N == 64)",
"        asm volatile(TC_WGMMA_BEGIN(\"%36\") \"64k16.f32.bf16.bf16 {\" TC_WGMMA_NAMES_64 \"}, %0, %1, p, 1, 1, %34, %35; }\"",
"                     : \"+l\"(a), \"+l\"(b), TC_WGMMA_32(0) : \"n\"(TA), \"n\"(TB), \"r\"(keep));",
"    if constexpr (UNITS == 1 && N == 96)",
"        asm volatile(TC_WGMMA_BEGIN(\"%52\") \"96k16.f32.bf16.bf16 {\" TC_WGMMA_NAMES_96 \"}, %0, %1, p, 1, 1, %50, %51; }\"",
"                     : \"+l\"(a), \"+l\"(b), TC_WGMMA_32(0), TC_WGMMA_16(32) : \"n\"(TA), \"n\"(TB), \"r\"(keep));",
"    if constexpr (UNITS == 1 && N == 128)",
"        asm volatile(TC_WGMMA_BEGIN(\"%68\") \"128k16.f32.bf16.bf16 {\" TC_WGMMA_NAMES_128 \"}, %0, %1, p, 1, 1, %66, %67; }\"",
"                     : \"+l\"(a), \"+l\"(b), TC_WGMMA_32(0), TC_WGMMA_32(32) : \"n\"(TA), \"n\"(TB), \"r\"(keep));",
"    if constexpr (UNITS == 1 && N == 192)",
"        asm volatile(TC_WGMMA_BEGIN(\"%100\") \"192k16.f32.bf16.bf16 {\" TC_WGMMA_NAMES_192 \"}, %0, %1, p, 1, 1, %98, %99; }\"",
"                     : \"+l\"(a), \"+l\"(b), TC_WGMMA_32(0), TC_WGMMA_32(32), TC_WGMMA_32(64) : \"n\"(TA), \"n\"(TB), \"r\"(keep));",
"    if constexpr (UNITS == 1 && N == 256)",
"        asm volatile(TC_WGMMA_BEGIN(\"%132\") \"256k16.f32.bf16.bf16 {\" TC_WGMMA_NAMES_256 \"}, %0, %1, p, 1, 1, %130, %131; }\"",
"                     : \"+l\"(a), \"+l\"(b), TC_WGMMA_32(0), TC_WGMMA_32(32), TC_WGMMA_32(64), TC_WGMMA_32(96) : \"n\"(TA), \"n\"(TB), \"r\"(keep));",
"    if constexpr (UNITS == 0 && N == 64)",
"        asm volatile(TC_WGMMA_BEGIN(\"%36\") \"64k16.f32.f16.f16 {\" TC_WGMMA_NAMES_64 \"}, %0, %1, p, 1, 1, %34, %35; }\"",
"                     : \"+l\"(a), \"+l\"(b), TC_WGMMA_32(0) : \"n\"(TA), \"n\"(TB), \"r\"(keep));",
"    if constexpr (UNITS == 0 && N == 96)",
"        asm volatile(TC_WGMMA_BEGIN(\"%52\") \"96k16.f32.f16.f16 {\" TC_WGMMA_NAMES_96 \"}, %0, %1, p, 1, 1, %50, %51; }\"",
"                     : \"+l\"(a), \"+l\"(b), TC_WGMMA_32(0), TC_WGMMA_16(32) : \"n\"(TA), \"n\"(TB), \"r\"(keep));",
"    if constexpr (UNITS == 0 && N == 128)",
"        asm volatile(TC_WGMMA_BEGIN(\"%68\") \"128k16.f32.f16.f16 {\" TC_WGMMA_NAMES_128 \"}, %0, %1, p, 1, 1, %66, %67; }\"",
"                     : \"+l\"(a), \"+l\"(b), TC_WGMMA_32(0), TC_WGMMA_32(32) : \"n\"(TA), \"n\"(TB), \"r\"(keep));",
"    if constexpr (UNITS == 0 && N == 192)",
"        asm volatile(TC_WGMMA_BEGIN(\"%100\") \"192k16.f32.f16.f16 {\" TC_WGMMA_NAMES_192 \"}, %0, %1, p, 1, 1, %98, %99; }\"",
"                     : \"+l\"(a), \"+l\"(b), TC_WGMMA_32(0), TC_WGMMA_32(32), TC_WGMMA_32(64) : \"n\"(TA), \"n\"(TB), \"r\"(keep));",
"    if constexpr (UNITS == 0 && N == 256)",
"        asm volatile(TC_WGMMA_BEGIN(\"%132\") \"256k16.f32.f16.f16 {\" TC_WGMMA_NAMES_256 \"}, %0, %1, p, 1, 1, %130, %131; }\"",
"                     : \"+l\"(a), \"+l\"(b), TC_WGMMA_32(0), TC_WGMMA_32(32), TC_WGMMA_32(64), TC_WGMMA_32(96) : \"n\"(TA), \"n\"(TB), \"r\"(keep));",
"    if constexpr (UNITS == 2 && N == 64)",
"        asm volatile(TC_WGMMA_BEGIN(\"%34\") \"64k8.f32.tf32.tf32 {\" TC_WGMMA_NAMES_64 \"}, %0, %1, p, 1, 1; }\"",
"                     : \"+l\"(a), \"+l\"(b), TC_WGMMA_32(0) : \"r\"(keep));",
"    if constexpr (UNITS == 2 && N == 96)",
"        asm volatile(TC_WGMMA_BEGIN(\"%50\") \"96k8.f32.tf32.tf32 {\" TC_WGMMA_NAMES_96 \"}, %0, %1, p, 1, 1; }\"",
"                     : \"+l\"(a), \"+l\"(b), TC_WGMMA_32(0), TC_WGMMA_16(32) : \"r\"(keep));",
"    if constexpr (UNITS == 2 && N == 128)",
"        asm volatile(TC_WGMMA_BEGIN(\"%66\") \"128k8.f32.tf32.tf32 {\" TC_WGMMA_NAMES_128 \"}, %0, %1, p, 1, 1; }\"",
"                     : \"+l\"(a), \"+l\"(b), TC_WGMMA_32(0), TC_WGMMA_32(32) : \"r\"(keep));",
"    if constexpr (UNITS == 2 && N == 192)",
"        asm volatile(TC_WGMMA_BEGIN(\"%98\") \"192k8.f32.tf32.tf32 {\" TC_WGMMA_NAMES_192 \"}, %0, %1, p, 1, 1; }\"",
"                     : \"+l\"(a), \"+l\"(b), TC_WGMMA_32(0), TC_WGMMA_32(32), TC_WGMMA_32(64) : \"r\"(keep));",
"    if constexpr (UNITS == 2 && N == 256)",
"        asm volatile(TC_WGMMA_BEGIN(\"%130\") \"256k8.f32.tf32.tf32 {\" TC_WGMMA_NAMES_256 \"}, %0, %1, p, 1, 1; }\"",
"                     : \"+l\"(a), \"+l\"(b), TC_WGMMA_32(0), TC_WGMMA_32(32), TC_WGMMA_32(64), TC_WGMMA_32(96) : \"r\"(keep));",
"}",
"// fn: wgmma_f8",
"template <int UNITS, int N> TC_FN void TC_N(wgmma_f8)(float (&d)[N / 2], tc_u64 a, tc_u64 b, int keep) {",
"    if constexpr (UNITS == 3 && N == 64)",
"        asm volatile(TC_WGMMA_BEGIN(\"%34\") \"64k32.f32.e4m3.e4m3 {\" TC_WGMMA_NAMES_64 \"}, %0, %1, p, 1, 1; }\"",
"                     : \"+l\"(a), \"+l\"(b), TC_WGMMA_32(0) : \"r\"(keep));",
"    if constexpr (UNITS == 3 && N == 96)",
"        asm volatile(TC_WGMMA_BEGIN(\"%50\") \"96k32.f32.e4m3.e4m3 {\" TC_WGMMA_NAMES_96 \"}, %0, %1, p, 1, 1; }\"",
"                     : \"+l\"(a), \"+l\"(b), TC_WGMMA_32(0), TC_WGMMA_16(32) : \"r\"(keep));",
"    if constexpr (UNITS == 3 && N == 128)",
"        asm volatile(TC_WGMMA_BEGIN(\"%66\") \"128k32.f32.e4m3.e4m3 {\" TC_WGMMA_NAMES_128 \"}, %0, %1, p, 1, 1; }\"",
"                     : \"+l\"(a), \"+l\"(b), TC_WGMMA_32(0), TC_WGMMA_32(32) : \"r\"(keep));",
"    if constexpr (UNITS == 4 && N == 64)",
"        asm volatile(TC_WGMMA_BEGIN(\"%34\") \"64k32.f32.e5m2.e4m3 {\" TC_WGMMA_NAMES_64 \"}, %0, %1, p, 1, 1; }\"",
"                     : \"+l\"(a), \"+l\"(b), TC_WGMMA_32(0) : \"r\"(keep));",
"    if constexpr (UNITS == 4 && N == 96)",
"        asm volatile(TC_WGMMA_BEGIN(\"%50\") \"96k32.f32.e5m2.e4m3 {\" TC_WGMMA_NAMES_96 \"}, %0, %1, p, 1, 1; }\"",
"                     : \"+l\"(a), \"+l\"(b), TC_WGMMA_32(0), TC_WGMMA_16(32) : \"r\"(keep));",
"    if constexpr (UNITS == 4 && N == 128)",
"        asm volatile(TC_WGMMA_BEGIN(\"%66\") \"128k32.f32.e5m2.e4m3 {\" TC_WGMMA_NAMES_128 \"}, %0, %1, p, 1, 1; }\"",
"                     : \"+l\"(a), \"+l\"(b), TC_WGMMA_32(0), TC_WGMMA_32(32) : \"r\"(keep));",
"    if constexpr (UNITS == 5 && N == 64)",
"        asm volatile(TC_WGMMA_BEGIN(\"%34\") \"64k32.f32.e4m3.e5m2 {\" TC_WGMMA_NAMES_64 \"}, %0, %1, p, 1, 1; }\"",
"                     : \"+l\"(a), \"+l\"(b), TC_WGMMA_32(0) : \"r\"(keep));",
"    if constexpr (UNITS == 5 && N == 96)",
"        asm volatile(TC_WGMMA_BEGIN(\"%50\") \"96k32.f32.e4m3.e5m2 {\" TC_WGMMA_NAMES_96 \"}, %0, %1, p, 1, 1; }\"",
"                     : \"+l\"(a), \"+l\"(b), TC_WGMMA_32(0), TC_WGMMA_16(32) : \"r\"(keep));",
"    if constexpr (UNITS == 5 && N == 128)",
"        asm volatile(TC_WGMMA_BEGIN(\"%66\") \"128k32.f32.e4m3.e5m2 {\" TC_WGMMA_NAMES_128 \"}, %0, %1, p, 1, 1; }\"",
"                     : \"+l\"(a), \"+l\"(b), TC_WGMMA_32(0), TC_WGMMA_32(32) : \"r\"(keep));",
"    if constexpr (UNITS == 6 && N == 64)",
"        asm volatile(TC_WGMMA_BEGIN(\"%34\") \"64k32.f32.e5m2.e5m2 {\" TC_WGMMA_NAMES_64 \"}, %0, %1, p, 1, 1; }\"",
"                     : \"+l\"(a), \"+l\"(b), TC_WGMMA_32(0) : \"r\"(keep));",
"    if constexpr (UNITS == 6 && N == 96)",
"        asm volatile(TC_WGMMA_BEGIN(\"%50\") \"96k32.f32.e5m2.e5m2 {\" TC_WGMMA_NAMES_96 \"}, %0, %1, p, 1, 1; }\"",
"                     : \"+l\"(a), \"+l\"(b), TC_WGMMA_32(0), TC_WGMMA_16(32) : \"r\"(keep));",
"    if constexpr (UNITS == 6 && N == 128)",
"        asm volatile(TC_WGMMA_BEGIN(\"%66\") \"128k32.f32.e5m2.e5m2 {\" TC_WGMMA_NAMES_128 \"}, %0, %1, p, 1, 1; }\"",
"                     : \"+l\"(a), \"+l\"(b), TC_WGMMA_32(0), TC_WGMMA_32(32) : \"r\"(keep));",
"}",
"// fn: wgmma_held",
"#define TC_WGMMA_HELD \"{ .reg .pred p; setp.ne.b32 p, %1, 0; wgmma.mma_async.sync.aligned.m64n\"",
"template <int UNITS, int N> TC_FN void TC_N(wgmma_held)(float (&d)[N / 2], const unsigned (&a)[4], tc_u64 b) {",
"    int keep = 1;",
"    if constexpr (UNITS == 1 && N == 64)",
"        asm volatile(TC_WGMMA_HELD \"64k16.f32.bf16.bf16 {\" TC_WGMMA_NAMES_64 \"}, {%34, %35, %36, %37}, %0, p, 1, 1, 1; }\"",
"                     : \"+l\"(b), \"+r\"(keep), TC_WGMMA_32(0) : \"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3]));",
"    if constexpr (UNITS == 1 && N == 128)",
"        asm volatile(TC_WGMMA_HELD \"128k16.f32.bf16.bf16 {\" TC_WGMMA_NAMES_128 \"}, {%66, %67, %68, %69}, %0, p, 1, 1, 1; }\"",
"                     : \"+l\"(b), \"+r\"(keep), TC_WGMMA_32(0), TC_WGMMA_32(32) : \"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3]));",
"    if constexpr (UNITS == 0 && N == 64)",
"        asm volatile(TC_WGMMA_HELD \"64k16.f32.f16.f16 {\" TC_WGMMA_NAMES_64 \"}, {%34, %35, %36, %37}, %0, p, 1, 1, 1; }\"",
"                     : \"+l\"(b), \"+r\"(keep), TC_WGMMA_32(0) : \"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3]));",
"    if constexpr (UNITS == 0 && N == 128)",
"        asm volatile(TC_WGMMA_HELD \"128k16.f32.f16.f16 {\" TC_WGMMA_NAMES_128 \"}, {%66, %67, %68, %69}, %0, p, 1, 1, 1; }\"",
"                     : \"+l\"(b), \"+r\"(keep), TC_WGMMA_32(0), TC_WGMMA_32(32) : \"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3]));",
"}",
"// fn: bits_tf32",
"TC_FN unsigned TC_N(bits_tf32)(float f) {",
"    unsigned b;",
"    asm(\"cvt.rna.tf32.f32 %0, %1;\" : \"=r\"(b) : \"f\"(f));",
"    return b;",
"}",
"// fn: split",
"template <int N> TC_FN void TC_N(split)(const float (&x)[N], unsigned (&lead)[N], unsigned (&rest)[N]) {",
"    #pragma unroll",
"    for (int i = 0; i < N; i++) {",
"        const float far = x[i] * 8193.0f;",
"        const float y = i % 2 \? far - (far - x[i]) : __uint_as_float((__float_as_uint(x[i]) + 0x1000u) & 0xffffe000u);",
"        lead[i] = __float_as_uint(y);",
"        rest[i] = __float_as_uint(x[i] - y);",
"    }",
"}",
"// fn: is_finite",
"TC_FN int TC_N(is_finite)(float x) { return (__float_as_uint(x) & 0x7f800000u) != 0x7f800000u; }",
"// fn: place_tile",
"template <class I> TC_FN void TC_N(place_tile)(I t, I high, I across, I &m, I &n, I rows = 8) {",
"    const I strip = t / (rows * across) * rows, left = high - strip, tall = left < rows \? left : rows;",
"    m = strip + t % (rows * across) % tall;",
"    n = t % (rows * across) / tall;",
"}",
"// fn: swizzle",
"template <int L> TC_FN int TC_N(swizzle)(int row, int column) {",
"    const int rows = L < 64 \? 64 / L : 1, chunks = L < 64 \? L / 8 : 8;",
"    return row * L + ((column / 8 ^ row / rows % chunks) * 8 + column % 8);",
"}",
};
// ---- gen/out/text_cuda_tiles.inc
static const char*const tc__text_cuda_tiles[]={
"// fn: plus",
"template <class T> TC_FN T TC_N(plus)(T a, T b) {",
"    if constexpr ((T)0.5 != (T)0) return a + b;",
"    else return (T)((tc_u64)a + (tc_u64)b);",
"}",
"// fn: add_product",
"template <class T> TC_FN T TC_N(add_product)(T a, T b, T c) {",
"    if constexpr ((T)0.5 == (T)0) return (T)((tc_u64)a * (tc_u64)b + (tc_u64)c);",
"    else if constexpr (sizeof(T) == 4) return fmaf(a, b, c);",
"    else return fma(a, b, c);",
"}",
"// fn: as_stored",
"template <class P> TC_FN typename P::stored TC_N(as_stored)(typename P::element v) {",
"    if constexpr (P::way == 3) return TC_N(bits_tf32)(v);",
"    else return v;",
"}",
"// fn: pitch",
"template <class P> __device__ constexpr int TC_N(pitch)(int lines) {",
"    return P::way == 1 || P::way == 4 \? lines : lines + (P::way == 0 \? (int)P::pack : 8);",
"}",
"// fn: word_line",
"template <class S, int ALIGN> TC_FN int TC_N(word_line)(int first, int more, int k) {",
"    if constexpr (!S::deep || S::stepped) return first + more;",
"    else if constexpr (ALIGN % 32 == 0) return first + (more ^ (k >> 2 & 3) * 8);",
"    else return (first + more) ^ (k >> 2 & 3) * 8;",
"}",
"// fn: cut",
"template <class E, int N> TC_FN void TC_N(cut)(tc_pack<E, N> &some, int n) {",
"    #pragma unroll",
"    for (int u = 0; u < N; u++)",
"        if (u >= n) some.at[u] = 0;",
"}",
"// fn: stage_places",
"template <class P, class S, int LINES> struct TC_N(stage_places) {",
"    enum : int {",
"        grouped = P::way == 4,",
"        along = grouped \? 64 : S::deep \? P::depth : LINES,",
"        lanes = along / S::width,",
"        jump = P::threads / lanes",
"    };",
"    TC_FN int line(int e) {",
"        if constexpr (grouped && !S::deep) return e / (lanes * P::depth) * along + e % lanes * S::width;",
"        else return S::deep \? e / lanes : e % lanes * S::width;",
"    }",
"    TC_FN int deep(int e) {",
"        if constexpr (grouped && !S::deep) return e / lanes % P::depth;",
"        else return S::deep \? e % lanes * S::width : e / lanes;",
"    }",
"    template <class I> TC_FN I far(int j) {",
"        if constexpr (grouped && !S::deep)",
"            return (I)(j * jump % P::depth) * (I)S::deep_stride + (I)(j * jump / P::depth * along) * (I)S::line_stride;",
"        else return (I)j * ((I)jump * (I)(S::deep \? S::line_stride : S::deep_stride));",
"    }",
"    TC_FN int swizzled(int e) {",
"        return TC_N(swizzle)<along>(e / lanes, e % lanes * S::width);",
"    }",
"};",
"// fn: stage",
"enum : int { TC_BRING_VALUES, TC_BRING_LATER, TC_BRING_NOW, TC_BRING_ASYNC };",
"template <class P, class S, int LINES, bool RAGGED, class I> struct TC_N(stage) {",
"    typedef TC_N(stage_places)<P, S, LINES> F;",
"    typedef typename P::element E;",
"    typedef typename P::stored M;",
"    enum : int {",
"        count = LINES * P::depth / S::width / P::threads,",
"        halves = P::way == 1 || P::way == 4, pitch = TC_N(pitch)<P>(LINES),",
"        size = P::depth * pitch,",
"        always = !RAGGED && !P::ragged_depth, last = S::deep \? (int)P::last % (int)S::width : 0",
"    };",
"    M *ring;",
"    const E *from;",
"    int place;",
"    typedef tc_pack<E, S::width> packs[count];",
"    template <class H> __device__ __forceinline__ void first(I row, I lines, I k, H hole) {",
"        if constexpr (S::stepped) {",
"            const int e = threadIdx.x;",
"            if constexpr (S::bring == TC_BRING_ASYNC) place = F::swizzled(e);",
"            from = hole(row, lines + F::line(e), k + F::deep(e), true);",
"        }",
"    }",
"    template <class H> __device__ __forceinline__ void copy(int j, int to, I row, I l, I k, int inside, H hole) {",
"        const int e = threadIdx.x + j * P::threads;",
"        M *at;",
"        const E *source;",
"        if constexpr (S::stepped) {",
"            at = &ring[to * size + place + j * (int)F::jump * (int)F::along];",
"            source = from + F::template far<I>(j);",
"        } else {",
"            at = &ring[to * size + F::swizzled(e)];",
"            source = hole(row, l, k, inside != 0);",
"            if (!source) inside = 0;",
"        }",
"        if constexpr (always && S::stepped) TC_N(copy_async16)(at, source);",
"        else TC_N(copy_async16_of)(at, source, inside * (int)sizeof(E));",
"    }",
"    template <class H> __device__ __forceinline__ void later(packs &next, int j, I row, I l, I k, int inside, H hole) {",
"        if constexpr (!always) next[j] = {};",
"        if (!inside) return;",
"        if constexpr (S::stepped) next[j] = TC_N(load)((const tc_pack<E, S::width> *)(from + F::template far<I>(j)));",
"        else hole(row, l, k, next[j].at);",
"        if constexpr (last) TC_N(cut)(next[j], inside);",
"    }",
"    template <class H> __device__ __forceinline__ void now(int j, int to, I row, I l, I k, int inside, H hole) {",
"        const int e = threadIdx.x + j * P::threads;",
"        tc_pack<E, S::width> one = {};",
"        if (inside) hole(row, l, k, one.at);",
"        if constexpr (halves) ring[to * size + F::swizzled(e)] = one.at[0];",
"        else ring[to * size + place_of(F::deep(e), F::line(e))] = TC_N(as_stored)<P>(one.at[0]);",
"    }",
"    __device__ __forceinline__ int place_of(int k, int line) const {",
"        if constexpr (P::way == 0) return k * pitch + line;",
"        else return k * pitch + TC_N(word_line)<S, 1>(line, 0, k);",
"    }",
"    template <class H> __device__ __forceinline__ void bring(packs &next, int to, I row, I first, I end, I k0, I depth, H hole) {",
"        #pragma unroll (S::bring == TC_BRING_NOW \? 4 : (int)count)",
"        for (int j = 0; j < count; j++) {",
"            const int e = threadIdx.x + j * P::threads;",
"            const I l = first + F::line(e), k = k0 + F::deep(e);",
"            const bool some = (!RAGGED || l < end) && (!P::ragged_depth || k < depth);",
"            const int inside = !some \? 0 : last && depth - k < S::width \? (int)last : (int)S::width;",
"            if constexpr (S::bring == TC_BRING_ASYNC) copy(j, to, row, l, k, inside, hole);",
"            else if constexpr (S::bring == TC_BRING_LATER) later(next, j, row, l, k, inside, hole);",
"            else now(j, to, row, l, k, inside, hole);",
"        }",
"        if constexpr (S::stepped) from += (I)S::deep_stride * (I)P::depth;",
"    }",
"    __device__ __forceinline__ void put(const packs &next, int to) {",
"        if constexpr (S::bring == TC_BRING_LATER) {",
"            #pragma unroll",
"            for (int j = 0; j < count; j++) {",
"                const int e = threadIdx.x + j * P::threads;",
"                if constexpr (halves) {",
"                    *(tc_pack<M, S::width> *)&ring[to * size + F::swizzled(e)] = next[j];",
"                } else if constexpr (S::deep || S::width < P::pack) {",
"                    #pragma unroll",
"                    for (int u = 0; u < S::width; u++)",
"                        ring[to * size + place_of(F::deep(e) + (S::deep \? u : 0), F::line(e) + (S::deep \? 0 : u))] =",
"                            TC_N(as_stored)<P>(next[j].at[u]);",
"                } else {",
"                    #pragma unroll",
"                    for (int u = 0; u < S::width; u += P::pack) {",
"                        tc_pack<M, P::pack> some;",
"                        #pragma unroll",
"                        for (int v = 0; v < P::pack; v++) some.at[v] = TC_N(as_stored)<P>(next[j].at[u + v]);",
"                        *(tc_pack<M, P::pack> *)&ring[to * size + place_of(F::deep(e), F::line(e) + u)] = some;",
"                    }",
"                }",
"            }",
"        }",
"    }",
"};",
"// fn: tile_march",
"template <class P> struct TC_N(tile_march) {",
"    enum : int { waits = P::stages - 2 };",
"    TC_FN char *memory(char *shared) { return shared; }",
"    template <class W, class Give>",
"    static __device__ __forceinline__ void results(const W &way, const typename W::sum_type &sum, typename P::sum *tile, Give give) {",
"        const int warp = threadIdx.x / 32, packs = P::cols / P::width;",
"        #pragma unroll 1",
"        for (int part = 0; part < P::high; part++) {",
"            __syncthreads();",
"            if (warp / P::across == part) way.result(sum, tile);",
"            __syncthreads();",
"            #pragma unroll 1",
"            for (int e = threadIdx.x; e < W::warprows * packs; e += P::threads)",
"                give(&tile[e / packs * W::pitch + e % packs * P::width], part * W::warprows + e / packs, e % packs * P::width);",
"        }",
"    }",
"};",
"// fn: tile_simt",
"template <class P, class L, class R> struct TC_N(tile_simt) {",
"    typedef typename P::sum T;",
"    typedef tc_pack<T, P::pack> pack;",
"    enum : int {",
"        warprows = P::rows / P::high, warpcols = P::cols / P::across, rows = warprows / 4, cols = warpcols / 8,",
"        rowpacks = rows / P::pack, colpacks = cols / P::pack, rowstep = 4 * P::pack, colstep = 8 * P::pack,",
"        pitch = P::cols + 8, piece = 1, sums = rows * cols,",
"        leftpitch = TC_N(pitch)<P>(P::rows), rightpitch = TC_N(pitch)<P>(P::cols)",
"    };",
"    typedef TC_N(tile_march)<P> march;",
"    typedef pack sum_type[rows][colpacks], left_type[2][rowpacks], right_type[2][colpacks];",
"    typedef char step_type[1];",
"    int row, col;",
"    __device__ __forceinline__ void begin(sum_type &sum) {",
"        const int x = threadIdx.x, warp = x / 32, lane = x % 32;",
"        row = warp / P::across * warprows + lane / 8 * P::pack;",
"        col = warp % P::across * warpcols + lane % 8 * P::pack;",
"        #pragma unroll",
"        for (int i = 0; i < sums; i++) ((T *)sum)[i] = 0;",
"    }",
"    __device__ __forceinline__ void fetch(left_type &lefts, right_type &rights, const T *left, const T *right, int at, int d, int to) const {",
"        #pragma unroll",
"        for (int i = 0; i < rowpacks; i++)",
"            lefts[to][i] = *(const pack *)&left[(at * P::depth + d) * leftpitch + row + i * rowstep];",
"        #pragma unroll",
"        for (int j = 0; j < colpacks; j++)",
"            rights[to][j] = *(const pack *)&right[(at * P::depth + d) * rightpitch + col + j * colstep];",
"    }",
"    __device__ __forceinline__ void multiply(sum_type &sum, const left_type &lefts, const right_type &rights, step_type &, int d, int now, bool last) const {",
"        #pragma unroll",
"        for (int i = 0; i < rows; i++) {",
"            #pragma unroll",
"            for (int c = 0; c < cols; c++) {",
"                const int j = i % 2 \? cols - 1 - c : c;",
"                T &s = sum[i][j / P::pack].at[j % P::pack];",
"                s = TC_N(add_product)(lefts[now][i / P::pack].at[i % P::pack], rights[now][j / P::pack].at[j % P::pack], s);",
"            }",
"        }",
"    }",
"    __device__ __forceinline__ void result(const sum_type &sum, T *tile) const {",
"        const int x = threadIdx.x, lane = x % 32;",
"        #pragma unroll",
"        for (int i = 0; i < rows; i++) {",
"            #pragma unroll",
"            for (int j = 0; j < colpacks; j++)",
"                *(pack *)&tile[(lane / 8 * P::pack + i / P::pack * rowstep + i % P::pack) * pitch + col + j * colstep] = sum[i][j];",
"        }",
"    }",
"};",
"// fn: tile_fragments",
"template <class P> struct TC_N(tile_fragments) {",
"    enum : int {",
"        warprows = P::rows / P::high, warpcols = P::cols / P::across, rows = warprows / 16, cols = warpcols / 8,",
"        pitch = P::cols + 8, sums = rows * cols * 4",
"    };",
"    typedef TC_N(tile_march)<P> march;",
"    typedef float sum_type[rows][cols][4];",
"    int row, col;",
"    __device__ __forceinline__ void begin(sum_type &sum) {",
"        const int x = threadIdx.x, warp = x / 32;",
"        row = warp / P::across * warprows, col = warp % P::across * warpcols;",
"        #pragma unroll",
"        for (int i = 0; i < sums; i++) sum[i / 4 / cols][i / 4 % cols][i % 4] = 0;",
"    }",
"    __device__ __forceinline__ void result(const sum_type &sum, float *tile) const {",
"        const int x = threadIdx.x, lane = x % 32;",
"        #pragma unroll",
"        for (int i = 0; i < rows; i++) {",
"            #pragma unroll",
"            for (int j = 0; j < cols; j++) {",
"                float *const two = &tile[(lane / 4 + i * 16) * pitch + col + j * 8 + lane % 4 * 2];",
"                *(tc_pack<float, 2> *)two = {sum[i][j][0], sum[i][j][1]};",
"                *(tc_pack<float, 2> *)&two[8 * pitch] = {sum[i][j][2], sum[i][j][3]};",
"            }",
"        }",
"    }",
"};",
"// fn: tile_halves",
"template <class P, class L, class R> struct TC_N(tile_halves) : TC_N(tile_fragments)<P> {",
"    typedef TC_N(tile_fragments)<P> F;",
"    enum : int { rows = F::rows, cols = F::cols, piece = 16, leftline = L::deep \? P::depth : P::rows, rightline = R::deep \? P::depth : P::cols };",
"    typedef typename F::sum_type sum_type;",
"    typedef unsigned left_type[2][rows][4], right_type[2][cols][2];",
"    typedef char step_type[1];",
"    int leftlane, rightlane;",
"    __device__ __forceinline__ void begin(sum_type &sum) {",
"        const int x = threadIdx.x, lane = x % 32;",
"        F::begin(sum);",
"        leftlane = L::deep \? TC_N(swizzle)<leftline>(F::row + lane % 16, lane / 16 * 8)",
"                           : TC_N(swizzle)<leftline>(lane / 16 * 8 + lane % 8, F::row + lane / 8 % 2 * 8);",
"        rightlane = R::deep \? TC_N(swizzle)<rightline>(F::col + lane / 16 * 8 + lane % 8, lane / 8 % 2 * 8)",
"                            : TC_N(swizzle)<rightline>(lane % 16, F::col + lane / 16 * 8);",
"    }",
"    __device__ __forceinline__ void fetch(left_type &lefts, right_type &rights, const tc_u16 *left, const tc_u16 *right, int at, int d, int to) const {",
"        #pragma unroll",
"        for (int i = 0; i < rows; i++) {",
"            const int stage = at * (P::depth * P::rows);",
"            if constexpr (L::deep) TC_N(ldmatrix4)(lefts[to][i], &left[stage + i * (16 * P::depth) + (leftlane ^ d)]);",
"            else TC_N(ldmatrix4_trans)(lefts[to][i], &left[stage + d * P::rows + (leftlane ^ i * 16)]);",
"        }",
"        #pragma unroll",
"        for (int j = 0; j < cols; j += 2) {",
"            const int stage = at * (P::depth * P::cols);",
"            unsigned two[4];",
"            if constexpr (R::deep) TC_N(ldmatrix4)(two, &right[stage + j * (8 * P::depth) + (rightlane ^ d)]);",
"            else TC_N(ldmatrix4_trans)(two, &right[stage + d * P::cols + (rightlane ^ j * 8)]);",
"            rights[to][j][0] = two[0], rights[to][j][1] = two[1];",
"            rights[to][j + 1][0] = two[2], rights[to][j + 1][1] = two[3];",
"        }",
"    }",
"    __device__ __forceinline__ void multiply(sum_type &sum, const left_type &lefts, const right_type &rights, step_type &, int d, int now, bool last) const {",
"        #pragma unroll",
"        for (int i = 0; i < rows; i++) {",
"            #pragma unroll",
"            for (int c = 0; c < cols; c++) {",
"                const int j = i % 2 \? cols - 1 - c : c;",
"                P::mma(sum[i][j], lefts[now][i], rights[now][j]);",
"            }",
"        }",
"    }",
"};",
"// fn: group_march",
"template <class P> struct TC_N(group_march) {",
"    enum : int { ahead = P::stages - 2, waits = ahead - 1 };",
"    TC_FN char *memory(char *shared) { return TC_N(align_shared)<1024>(shared); }",
"    template <class W, class Lefts, class Rights, class Bring, class Put, class Wait>",
"    static __device__ __forceinline__ void add(W &way, typename W::sum_type &sum, const Lefts &lefts, const Rights &rights, int steps, Bring bring, Put put, Wait wait) {",
"        #pragma unroll 1",
"        for (int step = 0; step < ahead; step++) bring(step, step), put(step);",
"        int at = 0;",
"        #pragma unroll 1",
"        for (int step = 0; step < steps; step++) {",
"            const int to = at + ahead < P::stages \? at + ahead : at - 2;",
"            wait();",
"            TC_N(proxy_fence)();",
"            __syncthreads();",
"            way.multiply(sum, lefts.ring + at * lefts.size, rights.ring + at * rights.size);",
"            bring(step + ahead, to);",
"            TC_N(matrix_wait)<1>();",
"            put(to);",
"            at = at == P::stages - 1 \? 0 : at + 1;",
"        }",
"        TC_N(matrix_wait)<0>();",
"    }",
"    template <class W, class Give>",
"    static __device__ __forceinline__ void results(const W &way, const typename W::sum_type &sum, typename P::sum *tile, Give give) {",
"        const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, packs = P::cols / P::width;",
"        typename P::sum *const mine = tile + warp * (16 * W::pitch);",
"        __syncthreads();",
"        #pragma unroll",
"        for (int i = 0; i < W::rows; i++) {",
"            const int row = (warp / 4 * W::rows + i) * 64 + warp % 4 * 16;",
"            if (i) __syncwarp();",
"            way.result(sum[i], mine);",
"            __syncwarp();",
"            #pragma unroll 4",
"            for (int e = lane; e < 16 * packs; e += 32)",
"                give(&mine[e / packs * W::pitch + e % packs * P::width], row + e / packs, e % packs * P::width);",
"        }",
"    }",
"};",
"// fn: tile_groups",
"template <class P, class L, class R> struct TC_N(tile_groups) {",
"    enum : int { rows = P::rows / (16 * P::high), pitch = P::cols + 8, sums = rows * P::cols / 2, size = 64 * P::depth };",
"    typedef TC_N(group_march)<P> march;",
"    typedef float sum_type[rows][P::cols / 2];",
"    __device__ __forceinline__ void begin(sum_type &sum) {",
"        #pragma unroll",
"        for (int i = 0; i < sums; i++) sum[i / (P::cols / 2)][i % (P::cols / 2)] = 0;",
"    }",
"    __device__ __forceinline__ void multiply(sum_type &sum, const tc_u16 *left, const tc_u16 *right) const {",
"        const int first = threadIdx.x / 128 * rows;",
"        const tc_u64 b = TC_N(matrix_place)(right);",
"        TC_N(matrix_begin)();",
"        #pragma unroll",
"        for (int d = 0; d < P::depth / 16; d++) {",
"            #pragma unroll",
"            for (int i = 0; i < rows; i++) {",
"                const tc_u64 a = TC_N(matrix_place)(left + (first + i) * size);",
"                TC_N(wgmma)<(int)P::units, (int)P::cols, !L::deep, !R::deep>(sum[i], a + d * (L::deep \? 2 : 128), b + d * (R::deep \? 2 : 128), 1);",
"            }",
"        }",
"        TC_N(matrix_commit)();",
"    }",
"    __device__ __forceinline__ void result(const float (&sum)[P::cols / 2], float *tile) const {",
"        const int lane = threadIdx.x % 32;",
"        #pragma unroll",
"        for (int j = 0; j < P::cols / 8; j++) {",
"            float *const two = &tile[lane / 4 * pitch + j * 8 + lane % 4 * 2];",
"            *(tc_pack<float, 2> *)two = {sum[j * 4], sum[j * 4 + 1]};",
"            *(tc_pack<float, 2> *)&two[8 * pitch] = {sum[j * 4 + 2], sum[j * 4 + 3]};",
"        }",
"    }",
"};",
"// fn: tile_words",
"template <class P, class L, class R> struct TC_N(tile_words) : TC_N(tile_fragments)<P> {",
"    typedef TC_N(tile_fragments)<P> F;",
"    typedef typename P::stored M;",
"    enum : int { rows = F::rows, cols = F::cols, piece = 8, leftpitch = TC_N(pitch)<P>(P::rows), rightpitch = TC_N(pitch)<P>(P::cols) };",
"    typedef M left_type[2][rows][4], right_type[2][cols][2];",
"    __device__ __forceinline__ void fetch(left_type &lefts, right_type &rights, const M *left, const M *right, int at, int d, int to) const {",
"        const int x = threadIdx.x, lane = x % 32, k = lane % 4, row = F::row + lane / 4, col = F::col + lane / 4;",
"        #pragma unroll",
"        for (int i = 0; i < rows; i++) {",
"            #pragma unroll",
"            for (int u = 0; u < 4; u++) {",
"                const int deep = d + u / 2 * 4, line = TC_N(word_line)<L, F::warprows>(row, i * 16 + u % 2 * 8, deep);",
"                lefts[to][i][u] = left[(at * P::depth + deep + k) * leftpitch + line];",
"            }",
"        }",
"        #pragma unroll",
"        for (int j = 0; j < cols; j++) {",
"            #pragma unroll",
"            for (int u = 0; u < 2; u++) {",
"                const int deep = d + u * 4, line = TC_N(word_line)<R, F::warpcols>(col, j * 8, deep);",
"                rights[to][j][u] = right[(at * P::depth + deep + k) * rightpitch + line];",
"            }",
"        }",
"    }",
"};",
"// fn: tile_tf32",
"template <class P, class L, class R> struct TC_N(tile_tf32) : TC_N(tile_words)<P, L, R> {",
"    typedef TC_N(tile_words)<P, L, R> F;",
"    typedef typename F::sum_type sum_type;",
"    typedef typename F::left_type left_type;",
"    typedef typename F::right_type right_type;",
"    typedef char step_type[1];",
"    __device__ __forceinline__ void multiply(sum_type &sum, const left_type &lefts, const right_type &rights, step_type &, int d, int now, bool last) const {",
"        #pragma unroll",
"        for (int i = 0; i < F::rows; i++) {",
"            #pragma unroll",
"            for (int c = 0; c < F::cols; c++) {",
"                const int j = i % 2 \? F::cols - 1 - c : c;",
"                TC_N(mma_tf32)(sum[i][j], lefts[now][i], rights[now][j]);",
"            }",
"        }",
"    }",
"};",
"// fn: tile_split",
"template <class P, class L, class R> struct TC_N(tile_split) : TC_N(tile_words)<P, L, R> {",
"    typedef TC_N(tile_words)<P, L, R> F;",
"    enum : int { rows = F::rows, cols = F::cols };",
"    typedef typename F::sum_type sum_type;",
"    typedef typename F::left_type left_type;",
"    typedef typename F::right_type right_type;",
"    typedef sum_type step_type;",
"    __device__ __forceinline__ void multiply(sum_type &sum, const left_type &lefts, const right_type &rights, step_type &some, int d, int now, bool last) const {",
"        unsigned rightlead[cols][2], rightrest[cols][2];",
"        #pragma unroll",
"        for (int j = 0; j < cols; j++) TC_N(split)(rights[now][j], rightlead[j], rightrest[j]);",
"        #pragma unroll",
"        for (int i = 0; i < rows; i++) {",
"            unsigned lead[4], rest[4];",
"            TC_N(split)(lefts[now][i], lead, rest);",
"            float (&s)[cols][4] = some[i];",
"            #pragma unroll",
"            for (int j = 0; j < cols; j++) {",
"                if (d == 0) s[j][0] = s[j][1] = s[j][2] = s[j][3] = 0;",
"                TC_N(mma_tf32)(s[j], rest, rightlead[j]);",
"            }",
"            #pragma unroll",
"            for (int j = 0; j < cols; j++) TC_N(mma_tf32)(s[j], lead, rightrest[j]);",
"            #pragma unroll",
"            for (int j = 0; j < cols; j++) TC_N(mma_tf32)(s[j], lead, rightlead[j]);",
"            #pragma unroll",
"            for (int u = 0; u < 4 * cols; u++)",
"                if (last) sum[i][u / 4][u % 4] += s[u / 4][u % 4];",
"        }",
"    }",
"};",
"// fn: meet",
"template <class P, int SUMS, int THREADS = 0, class T> TC_FN bool TC_N(meet)(T *own, unsigned *tickets, T *work, tc_i64 block, int slice) {",
"    const int together = 64 / SUMS < 1 \? 1 : 64 / SUMS > 4 \? 4 : 64 / SUMS;",
"    T *const sums = work + block * P::slices * SUMS * P::threads + threadIdx.x;",
"    #pragma unroll 1",
"    for (int apart = 1; apart < P::slices; apart *= P::group) {",
"        const int first = slice / (apart * P::group) * (apart * P::group);",
"        const int left = (P::slices - 1 - first) / apart + 1, count = left < P::group \? left : P::group;",
"        T *const mine = sums + slice / apart * apart * SUMS * P::threads;",
"        #pragma unroll",
"        for (int u = 0; u < SUMS; u++) mine[u * P::threads] = own[u];",
"        if (!TC_N(arrives_last)<THREADS>(tickets + block * (P::slices + 1) + first + (apart > 1), count)) return false;",
"        #pragma unroll",
"        for (int u = 0; u < SUMS; u++) own[u] = TC_N(peek)(&sums[(first * SUMS + u) * P::threads]);",
"        #pragma unroll (together)",
"        for (int i = 1; i < count; i++) {",
"            const T *const other = sums + (first + i * apart) * SUMS * P::threads;",
"            #pragma unroll",
"            for (int u = 0; u < SUMS; u++) own[u] = TC_N(plus)(own[u], TC_N(peek)(&other[u * P::threads]));",
"        }",
"    }",
"    return true;",
"}",
"// fn: sum_again",
"template <class P, class I, class Left, class Right>",
"TC_FN void TC_N(sum_again)(typename P::sum *sums, I r, I c, I depth, Left left_one, Right right_one) {",
"    #pragma unroll 1",
"    for (int l = 0; l < P::width; l++) {",
"        if (TC_N(is_finite)(sums[l])) continue;",
"        typename P::sum sum = 0, a[1], b[1];",
"        for (I k = 0; k < depth && sum == sum; k++) {",
"            left_one(r, r, k, a), right_one(r, c + l, k, b);",
"            sum = TC_N(add_product)(a[0], b[0], sum);",
"        }",
"        sums[l] = sum;",
"    }",
"}",
"// fn: tiles",
"template <template <class, class, class> class Way, class P, class L, class R, class I, class Left, class Right, class LeftOne, class RightOne, class Result>",
"TC_FN void TC_N(tiles)(char *shared, unsigned *tickets, typename P::sum *work, I j, I m, I n, I depth, Left left_hole, Right right_hole,",
"                       LeftOne left_one, RightOne right_one, Result result) {",
"    typedef typename P::sum T;",
"    typedef typename P::stored M;",
"    typedef Way<P, L, R> W;",
"    const int slice = P::slices > 1 \? (int)((unsigned)j % (unsigned)P::slices) : 0;",
"    const I block = P::slices > 1 \? (I)((unsigned)j / (unsigned)P::slices) : j;",
"    const I high = (m + (P::rows - 1)) / P::rows, across = (n + (P::cols - 1)) / P::cols;",
"    I down, along;",
"    TC_N(place_tile)<I>(P::batches \? block % (high * across) : block, high, across, down, along);",
"    const I first = P::batches \? block / (high * across) * m : 0;",
"    const I r0 = first + down * P::rows, r1 = first + m, c0 = along * P::cols;",
"    const I begin = P::slices > 1 \? (I)slice * P::length : 0;",
"    const I end = P::slices > 1 && begin + P::length < depth \? begin + P::length : depth;",
"    typedef TC_N(stage)<P, L, P::rows, (bool)P::ragged_rows, I> Lefts;",
"    typedef TC_N(stage)<P, R, P::cols, (bool)P::ragged_cols, I> Rights;",
"    Lefts lefts;",
"    Rights rights;",
"    W way;",
"    typename Lefts::packs leftnext;",
"    typename Rights::packs rightnext;",
"    typename W::sum_type sum;",
"    shared = W::march::memory(shared);",
"    T *const tile = (T *)shared;",
"    lefts.ring = (M *)shared, rights.ring = (M *)shared + P::stages * lefts.size;",
"    way.begin(sum);",
"    lefts.first(r0, r0, begin, left_hole);",
"    rights.first(r0, c0, begin, right_hole);",
"    const int steps = (int)((end - begin + (P::depth - 1)) / P::depth);",
"    auto bring = [&](int step, int to) {",
"        if (step < steps) {",
"            const I k0 = begin + (I)step * P::depth;",
"            lefts.bring(leftnext, to, r0, r0, r1, k0, depth, left_hole);",
"            rights.bring(rightnext, to, r0, c0, n, k0, depth, right_hole);",
"        }",
"        if constexpr (L::bring == TC_BRING_ASYNC || R::bring == TC_BRING_ASYNC) TC_N(copy_commit)();",
"    };",
"    auto put = [&](int to) { lefts.put(leftnext, to), rights.put(rightnext, to); };",
"    auto wait = [&] {",
"        if constexpr (L::bring == TC_BRING_ASYNC || R::bring == TC_BRING_ASYNC) TC_N(copy_wait)<W::march::waits>();",
"    };",
"    if constexpr (P::way == 4) {",
"        W::march::add(way, sum, lefts, rights, steps, bring, put, wait);",
"    } else {",
"        typename W::step_type step_sum;",
"        typename W::left_type left;",
"        typename W::right_type right;",
"        #pragma unroll 1",
"        for (int step = 0; step < P::stages - 1; step++) bring(step, step), put(step);",
"        wait();",
"        __syncthreads();",
"        way.fetch(left, right, lefts.ring, rights.ring, 0, 0, 0);",
"        int at = 0;",
"        #pragma unroll 1",
"        for (int step = 0; step < steps; step++) {",
"            const int to = P::stages == 2 \? 1 - at : at \? at - 1 : P::stages - 1;",
"            #pragma unroll",
"            for (int d = 0; d < P::depth; d += W::piece) {",
"                const int now = d / W::piece % 2;",
"                const bool last = d + W::piece == P::depth;",
"                if (last) {",
"                    put(to);",
"                    wait();",
"                    __syncthreads();",
"                    at = P::stages == 2 \? 1 - at : at == P::stages - 1 \? 0 : at + 1;",
"                }",
"                if (d == 0) bring(step + P::stages - 1, to);",
"                way.fetch(left, right, lefts.ring, rights.ring, at, last \? 0 : d + W::piece, 1 - now);",
"                way.multiply(sum, left, right, step_sum, d, now, last);",
"            }",
"        }",
"    }",
"    if constexpr (P::slices > 1)",
"        if (!TC_N(meet)<P, W::sums>((T *)sum, tickets, work, block, slice)) return;",
"    W::march::results(way, sum, tile, [&](const T *sums, int row, int col) {",
"        const I r = r0 + row, c = c0 + col;",
"        const int access = P::width < P::pack \? P::width : P::pack;",
"        tc_pack<T, P::width> all;",
"        if ((P::ragged_rows && r >= r1) || (P::ragged_cols && c >= n)) return;",
"        #pragma unroll",
"        for (int l = 0; l < P::width; l += access) *(tc_pack<T, access> *)&all.at[l] = *(const tc_pack<T, access> *)&sums[l];",
"        if constexpr (P::way == 2) TC_N(sum_again)<P>(all.at, r, c, depth, left_one, right_one);",
"        result(r, c, all.at);",
"    });",
"}",
};
// ---- gen/out/text_cuda_mapped.inc
static const char*const tc__text_cuda_mapped[]={
"// fn: map",
"struct __align__(64) TC_N(map) {",
"    tc_u64 word[16];",
"};",
"// fn: semaphore_set",
"TC_FN void TC_N(semaphore_set)(tc_u64 *s, int count) {",
"    asm volatile(\"mbarrier.init.shared::cta.b64 [%0], %1;\" :: \"r\"((unsigned)__cvta_generic_to_shared(s)), \"r\"(count) : \"memory\");",
"}",
"// fn: semaphores_are_set",
"TC_FN void TC_N(semaphores_are_set)() { asm volatile(\"fence.mbarrier_init.release.cluster;\" ::: \"memory\"); }",
"// fn: semaphore_expect",
"TC_FN void TC_N(semaphore_expect)(tc_u64 *s, int bytes) {",
"    asm volatile(\"mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;\" :: \"r\"((unsigned)__cvta_generic_to_shared(s)), \"r\"(bytes) : \"memory\");",
"}",
"// fn: semaphore_arrive",
"TC_FN void TC_N(semaphore_arrive)(tc_u64 *s) {",
"    asm volatile(\"mbarrier.arrive.shared::cta.b64 _, [%0];\" :: \"r\"((unsigned)__cvta_generic_to_shared(s)) : \"memory\");",
"}",
"// fn: semaphore_arrive_of",
"TC_FN void TC_N(semaphore_arrive_of)(tc_u64 *s, int rank) {",
"    asm volatile(\"{ .reg .b32 there; mapa.shared::cluster.u32 there, %0, %1; mbarrier.arrive.shared::cluster.b64 _, [there]; }\"",
"                 :: \"r\"((unsigned)__cvta_generic_to_shared(s)), \"r\"(rank) : \"memory\");",
"}",
"// fn: semaphore_wait",
"TC_FN void TC_N(semaphore_wait)(tc_u64 *s, int parity) {",
"    asm volatile(\"{ .reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @p bra done; bra again; done: }\"",
"                 :: \"r\"((unsigned)__cvta_generic_to_shared(s)), \"r\"(parity) : \"memory\");",
"}",
"// fn: map_load",
"TC_FN void TC_N(map_load)(void *to, const TC_N(map) *map, int x, int y, int inner, int outer, tc_u64 *s) {",
"    asm volatile(\"cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5}], [%6];\"",
"                 :: \"r\"((unsigned)__cvta_generic_to_shared(to)), \"l\"(map), \"r\"(x), \"r\"(y), \"r\"(inner), \"r\"(outer), \"r\"((unsigned)__cvta_generic_to_shared(s))",
"                 : \"memory\");",
"}",
"// fn: map_load_to",
"TC_FN void TC_N(map_load_to)(int blocks, void *to, const TC_N(map) *map, int x, int y, int inner, int outer, tc_u64 *s) {",
"    asm volatile(\"cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%2, %3, %4, %5}], [%6], %7;\"",
"                 :: \"r\"((unsigned)__cvta_generic_to_shared(to)), \"l\"(map), \"r\"(x), \"r\"(y), \"r\"(inner), \"r\"(outer), \"r\"((unsigned)__cvta_generic_to_shared(s)),",
"                    \"h\"((unsigned short)blocks)",
"                 : \"memory\");",
"}",
"// fn: window_load",
"TC_FN void TC_N(window_load)(void *to, const TC_N(map) *map, int c, int x, int y, int n, int beside, int below, tc_u64 *s) {",
"    asm volatile(\"cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5}], [%6], {%7, %8};\"",
"                 :: \"r\"((unsigned)__cvta_generic_to_shared(to)), \"l\"(map), \"r\"(c), \"r\"(x), \"r\"(y), \"r\"(n),",
"                    \"r\"((unsigned)__cvta_generic_to_shared(s)), \"h\"((unsigned short)beside), \"h\"((unsigned short)below)",
"                 : \"memory\");",
"}",
"// fn: map_load_batch",
"template <class S, int BLOCKS = 1> TC_FN void TC_N(map_load_batch)(void *to, const TC_N(map) *map, int x, int y, int z, tc_u64 *s) {",
"    const int own = z / S::share, inner = S::outer > 1 \? own % S::inner : S::inner > 1 \? own : 0, outer = S::outer > 1 \? own / S::inner : 0;",
"    if constexpr (BLOCKS > 1) TC_N(map_load_to)((1 << BLOCKS) - 1, to, map, x, y, inner, outer, s);",
"    else TC_N(map_load)(to, map, x, y, inner, outer, s);",
"}",
"// fn: registers_give",
"template <int N> TC_FN void TC_N(registers_give)() { asm volatile(\"setmaxnreg.dec.sync.aligned.u32 %0;\" :: \"n\"(N)); }",
"// fn: registers_take",
"template <int N> TC_FN void TC_N(registers_take)() { asm volatile(\"setmaxnreg.inc.sync.aligned.u32 %0;\" :: \"n\"(N)); }",
"// fn: window_bring",
"template <class S> TC_FN void TC_N(window_bring)(char *to, const TC_N(map) &map, int deep, int place, tc_u64 *s) {",
"    const int tap = deep / S::channels, beside = tap % S::taps * S::apart_x, below = tap / S::taps * S::apart_y;",
"    const int y = place / S::wide % S::tall * S::jump_y - S::low_y, x = place % S::wide * S::jump_x - S::low_x;",
"    TC_N(window_load)(to, &map, deep % S::channels, x, y, place / (S::wide * S::tall), beside, below, s);",
"}",
"// fn: map_bring",
"template <class S, int LINES, int WIDE = 64, int BLOCKS = 1> TC_FN void TC_N(map_bring)(char *to, const TC_N(map) &map, int line, int k, int z, tc_u64 *s) {",
"    if constexpr (S::windows && S::deep) {",
"        TC_N(window_bring)<S>(to, map, k, line, s);",
"    } else if constexpr (S::windows) {",
"        #pragma unroll",
"        for (int l = 0; l < LINES; l += 64) TC_N(window_bring)<S>(to + l * 128, map, line + l, k, s);",
"    } else if constexpr (S::deep) {",
"        TC_N(map_load_batch)<S, BLOCKS>(to, &map, k, line, z, s);",
"    } else {",
"        #pragma unroll",
"        for (int l = 0; l < LINES; l += WIDE) TC_N(map_load_batch)<S, BLOCKS>(to + l * 128, &map, line + l, k, z, s);",
"    }",
"}",
"// fn: turn_fours",
"TC_FN void TC_N(turn_fours)(float (&x)[8]) {",
"    #pragma unroll",
"    for (int o = 1; o < 4; o *= 2) {",
"        const bool upper = threadIdx.x & o;",
"        #pragma unroll",
"        for (int i = 0; i < 8; i++) {",
"            if (i / 2 & o) continue;",
"            float &low = x[i], &high = x[i + 2 * o];",
"            const float got = __shfl_xor_sync(~0u, upper \? low : high, o);",
"            if (upper) low = got;",
"            else high = got;",
"        }",
"    }",
"}",
"// fn: nothing",
"struct TC_N(nothing) {",
"};",
"// fn: fours",
"TC_FN tc_pack<float, 8> TC_N(fours)(const float *four, int below) {",
"    tc_pack<float, 8> x;",
"    #pragma unroll",
"    for (int q = 0; q < 8; q++) x.at[q] = below \? four[q / 2 * 4 + q % 2 + 2] : four[q / 2 * 4 + q % 2];",
"    TC_N(turn_fours)(x.at);",
"    return x;",
"}",
"// fn: give_fours",
"template <int COLS, int WIDTH, class Load, class Give> TC_FN void TC_N(give_fours)(const float *sum, int row, Load load, Give hole) {",
"    enum : int { pieces = 8 / WIDTH, each = 2 * pieces, early = WIDTH == 8 \? 32 : 0 };",
"    typedef decltype(load(0, 0)) Loaded;",
"    const int lane = threadIdx.x % 32, r = row + lane / 4, c = lane % 4 * 8;",
"    Loaded loaded[1 + early / 32][each];",
"    #pragma unroll",
"    for (int k = -early; k < COLS; k += 32) {",
"        if (k + early < COLS) {",
"            #pragma unroll",
"            for (int e = 0; e < each; e++) loaded[(k + early) / 32 % (1 + early / 32)][e] = load(r + e / pieces * 8, c + k + early + e % pieces * WIDTH);",
"        }",
"        if (k < 0) continue;",
"        #pragma unroll",
"        for (int below = 0; below < 2; below++) {",
"            const tc_pack<float, 8> x = TC_N(fours)(sum + k / 2, below);",
"            #pragma unroll",
"            for (int l = 0; l < pieces; l++)",
"                hole(x.at + l * WIDTH, r + below * 8, c + k + l * WIDTH, loaded[k / 32 % (1 + early / 32)][below * pieces + l]);",
"        }",
"    }",
"}",
"// fn: line_place",
"template <int WIDE> TC_FN int TC_N(line_place)(int row, int col) { return row * WIDE + (col / 4 ^ row % 4 * 2 ^ col / 32) * 4 + col % 4; }",
"// fn: put_lines",
"template <int WIDE> TC_FN void TC_N(put_lines)(const float *sum, float *lines) {",
"    const int lane = threadIdx.x % 32, row = lane / 4, col = lane % 4 * 2;",
"    #pragma unroll",
"    for (int k = 0; k < WIDE / 2; k += 2)",
"        *(tc_pack<float, 2> *)&lines[TC_N(line_place)<WIDE>(row + k % 4 * 4, col + k / 4 * 8)] = {sum[k], sum[k + 1]};",
"}",
"// fn: give_lines",
"template <class P, class Load, class Give> TC_FN void TC_N(give_lines)(const float *sum, float *lines, int row, Load load, Give hole) {",
"    enum : int { wide = P::cols / P::turns, lanes = wide / P::width, fours = P::width < 4 \? (int)P::width : 4, step = 32 / lanes };",
"    enum : int { most = !P::by_row \? 1 : 16 / step < 4 \? 16 / step : 4 };",
"    typedef decltype(load(0, 0)) Loaded;",
"    const int lane = threadIdx.x % 32, own = lane / lanes, col = lane % lanes * P::width;",
"    #pragma unroll 1",
"    for (int turn = 0; turn < P::turns; turn++) {",
"        Loaded loaded[most];",
"        #pragma unroll",
"        for (int i = 0; i < most; i++) loaded[i] = load(row + own + i * step, turn * wide + col);",
"        __syncwarp();",
"        #pragma unroll",
"        for (int t = 0; t < P::turns; t++)",
"            if (t == turn) TC_N(put_lines)<wide>(sum + t * (wide / 2), lines);",
"        __syncwarp();",
"        #pragma unroll (4 / fours)",
"        for (int r = own; r < 16; r += step) {",
"            tc_pack<float, (int)P::width> x;",
"            #pragma unroll",
"            for (int l = 0; l < P::width; l += fours)",
"                *(tc_pack<float, fours> *)&x.at[l] = *(const tc_pack<float, fours> *)&lines[TC_N(line_place)<wide>(r, col + l)];",
"            const Loaded now = loaded[0];",
"            #pragma unroll",
"            for (int i = 0; i + 1 < most; i++) loaded[i] = loaded[i + 1];",
"            if (P::by_row && most * step < 16) loaded[most - 1] = load(row + (r + most * step < 16 \? r + most * step : own), turn * wide + col);",
"            hole(x.at, row + r, turn * wide + col, now);",
"        }",
"    }",
"}",
"// fn: mapped_tile",
"template <class P, class I> struct TC_N(mapped_tile) {",
"    I batch, row, col, block;",
"    int slice, begin, steps;",
"    enum : int { tall = P::rows * P::cluster };",
"    __device__ __forceinline__ TC_N(mapped_tile)(I t, I m, I n, I depth) {",
"        const I high = (m + (tall - 1)) / tall, across = (n + (P::cols - 1)) / P::cols;",
"        slice = P::slices > 1 \? (int)(t % P::slices) : 0;",
"        block = P::slices > 1 \? t / P::slices : t;",
"        batch = P::batches \? block / (high * across) : 0;",
"        const I fits = (I)(1 << 23) / ((I)(tall * sizeof(typename P::element))) / depth, strip = fits < 8 \? 8 : fits < high \? fits : high;",
"        TC_N(place_tile)<I>(P::batches \? block % (high * across) : block, high, across, row, col, strip);",
"        row *= tall, col *= P::cols;",
"        if constexpr (P::cluster > 1) row += rank() * P::rows, block = block * P::cluster + rank();",
"        begin = P::slices > 1 \? slice * P::length : 0;",
"        const int left = (int)depth - begin;",
"        steps = ((P::slices > 1 && left > P::length \? P::length : left) + (P::depth - 1)) / P::depth;",
"    }",
"    static __device__ __forceinline__ I count(I m, I n) {",
"        return (m + (tall - 1)) / tall * ((n + (P::cols - 1)) / P::cols) * (P::batches \? P::batches : 1) * P::slices;",
"    }",
"    static __device__ __forceinline__ I rank() { return (I)(blockIdx.x % P::cluster); }",
"    static __device__ __forceinline__ I first(I j) { return P::cluster > 1 \? j / P::cluster : j; }",
"    static __device__ __forceinline__ I jump() { return (I)(P::cluster > 1 \? gridDim.x / P::cluster : gridDim.x); }",
"};",
"// fn: mapped_ring",
"template <class P> struct TC_N(mapped_ring) {",
"    enum : int { line = P::depth * sizeof(typename P::element), left = P::rows * line, right = P::cols * line, size = left + right };",
"    char *memory;",
"    tc_u64 *full, *empty;",
"    int at, parity;",
"    __device__ __forceinline__ TC_N(mapped_ring)(char *shared) {",
"        memory = TC_N(align_shared)<1024>(shared);",
"        full = (tc_u64 *)(memory + P::stages * size), empty = full + P::stages;",
"        at = parity = 0;",
"    }",
"    __device__ __forceinline__ void begin(int arrivals = 1) {",
"        if (threadIdx.x == 0) {",
"            #pragma unroll",
"            for (int i = 0; i < P::stages; i++) TC_N(semaphore_set)(full + i, arrivals), TC_N(semaphore_set)(empty + i, P::threads / 32 * P::cluster + 2 * P::total);",
"            TC_N(semaphores_are_set)();",
"        }",
"        if constexpr (P::cluster > 1) meet();",
"        else __syncthreads();",
"    }",
"    __device__ __forceinline__ float *lines() { return (float *)(empty + P::stages); }",
"    static __device__ __forceinline__ void meet() { TC_N(cluster_arrive)(), TC_N(cluster_wait)(); }",
"    __device__ __forceinline__ void free(int stage) {",
"        const int lane = threadIdx.x % 32;",
"        __syncwarp();",
"        if constexpr (P::cluster > 1) {",
"            if (lane < P::cluster) TC_N(semaphore_arrive_of)(empty + stage, lane);",
"        } else {",
"            if (lane == 0) TC_N(semaphore_arrive)(empty + stage);",
"        }",
"    }",
"    __device__ __forceinline__ void next() {",
"        if (++at == P::stages) at = 0, parity ^= 1;",
"    }",
"};",
"// fn: mapped_sums",
"template <class P, class L, class R> struct TC_N(mapped_sums) {",
"    enum : int { parts = P::rows / (16 * P::high), count = P::cols / 2 };",
"    float sum[parts][count];",
"    static __device__ __forceinline__ int row_of(int row) { return row; }",
"    template <class Ring, class Meanwhile> __device__ __forceinline__ void add(Ring &ring, int steps, Meanwhile meanwhile) {",
"        const int first = threadIdx.x / 128 * parts;",
"        int before = 0;",
"        #pragma unroll 1",
"        for (int step = 0; step < steps; step++) {",
"            TC_N(semaphore_wait)(ring.full + ring.at, ring.parity);",
"            const tc_u64 a = TC_N(matrix_place)<64, (int)Ring::line>(ring.memory + ring.at * Ring::size + first * (64 * Ring::line)),",
"                         b = TC_N(matrix_place)<64, (int)Ring::line>(ring.memory + ring.at * Ring::size + Ring::left);",
"            TC_N(matrix_begin)();",
"            #pragma unroll",
"            for (int d = 0; d < Ring::line / 32; d++) {",
"                #pragma unroll",
"                for (int i = 0; i < parts; i++)",
"                    TC_N(wgmma)<(int)P::units, (int)P::cols, !L::deep, !R::deep>(",
"                        sum[i], a + i * (64 * Ring::line / 16) + d * (L::deep \? 2 : 128), b + d * (R::deep \? 2 : 128), step | d);",
"            }",
"            TC_N(matrix_commit)();",
"            if (step) {",
"                TC_N(matrix_wait)<1>();",
"                ring.free(before);",
"            }",
"            before = ring.at;",
"            ring.next();",
"        }",
"        meanwhile();",
"        TC_N(matrix_wait)<0>();",
"        ring.free(before);",
"    }",
"    template <class Load, class Give> __device__ __forceinline__ void results(float *lines, Load load, Give hole) {",
"        const int warp = threadIdx.x / 32, row = warp / 4 * (64 * parts) + warp % 4 * 16;",
"        #pragma unroll",
"        for (int i = 0; i < parts; i++) {",
"            if constexpr (P::turns > 1) TC_N(give_lines)<P>(sum[i], lines + warp * (16 * P::cols / P::turns), row + i * 64, load, hole);",
"            else TC_N(give_fours)<(int)P::cols, (int)P::width>(sum[i], row + i * 64, load, hole);",
"        }",
"    }",
"};",
"// fn: relay",
"template <class P> struct TC_N(relay) {",
"    enum : int { warps = P::threads / 32, rows = P::rows / P::high, size = rows * P::cols, others = P::relay / 32 };",
"    tc_u16 *memory;",
"    tc_u64 *made, *taken;",
"    int warp, parity;",
"    __device__ __forceinline__ TC_N(relay)(float *shared) {",
"        made = (tc_u64 *)shared, taken = made + warps, memory = (tc_u16 *)(taken + warps);",
"        warp = threadIdx.x / 32, parity = 0;",
"    }",
"    static __device__ __forceinline__ void begin(float *shared) {",
"        #pragma unroll",
"        for (int i = 0; i < 2 * warps; i++) TC_N(semaphore_set)((tc_u64 *)shared + i, i < warps \? 1 : others);",
"    }",
"    static __device__ __forceinline__ int place(int row, int eight) { return row * P::cols + (eight & ~7) * 8 + ((eight ^ row) & 7) * 8; }",
"    static __device__ __forceinline__ int row_of(int r) { return r; }",
"    static __device__ __forceinline__ void pass(tc_u64 *to) {",
"        __syncwarp();",
"        if (threadIdx.x % 32 == 0) TC_N(semaphore_arrive)(to);",
"    }",
"    static __device__ __forceinline__ int column(int col, int cols, int eight) {",
"        const int c = col + eight * 8 + threadIdx.x % 4 * 2;",
"        return P::ragged_cols && c >= cols \? 0 : c;",
"    }",
"    template <class Loaded> struct some {",
"        enum : int { early = P::cols / 8 * sizeof(Loaded) <= 64 \? P::cols / 8 : sizeof(Loaded) <= 64 \? 64 / sizeof(Loaded) : 1 };",
"    };",
"    template <int EARLY, class Loaded, class Load> static __device__ __forceinline__ void ask(Loaded (&loaded)[EARLY], int col, int cols, Load load) {",
"        #pragma unroll",
"        for (int k = 0; k < EARLY; k++) loaded[k] = load(0, column(col, cols, k));",
"    }",
"    template <int COUNT, int EARLY, class Loaded, class Load, class Rounded>",
"    __device__ __forceinline__ void put(float (&sum)[rows / 16][COUNT], Loaded (&loaded)[EARLY], int col, int cols, Load load, Rounded rounded) {",
"        const int lane = threadIdx.x % 32;",
"        TC_N(semaphore_wait)(taken + warp, parity ^ 1);",
"        #pragma unroll",
"        for (int k = 0; k < P::cols / 8; k++) {",
"            const int c = column(col, cols, k);",
"            #pragma unroll",
"            for (int i = 0; i < rows / 8; i++) {",
"                TC_N(words)<tc_pack<tc_u16, 2>> two;",
"                rounded(0, c, &sum[i / 2][k * 4 + i % 2 * 2], two.v.at, loaded[k % EARLY]);",
"                *(unsigned *)&memory[warp * size + place(i * 8 + lane / 4, k) + lane % 4 * 2] = two.w[0];",
"            }",
"            if (k + EARLY < P::cols / 8) loaded[k % EARLY] = load(0, column(col, cols, k + EARLY));",
"        }",
"        pass(made + warp);",
"        parity ^= 1;",
"    }",
"    template <class Load, class Give> __device__ __forceinline__ void results(bool last, Load load, Give hole) {",
"        enum : int { wide = P::cols / P::turns, lanes = wide / 8, step = 32 / lanes, each = 16 / step, most = P::by_row \? (int)each : 1 };",
"        typedef decltype(load(0, 0)) Loaded;",
"        enum : int { units = rows / 16 * P::turns, all = warps * units, ahead = P::by_row && most * sizeof(Loaded) <= 128 \? 2 : 1 };",
"        const int lane = threadIdx.x % 32, sharing = last \? others + warps : (int)others;",
"        Loaded loaded[ahead][most];",
"        auto row_at = [&](int unit, int i) { return unit / units / 4 * (4 * rows) + unit / units % 4 * 16 + unit % units / P::turns * 64 + i * step + lane / lanes; };",
"        auto col_at = [&](int unit) { return unit % P::turns * wide + lane % lanes * 8; };",
"        auto ask = [&](int e, int unit) {",
"            #pragma unroll",
"            for (int i = 0; i < most; i++) loaded[e][i] = load(row_at(unit, i), col_at(unit));",
"        };",
"        bool asked = !P::by_row;",
"        #pragma unroll 1",
"        for (int first = warp < warps \? warp + others : warp - warps; first < all; first += asked \? ahead * sharing : 0, asked = true) {",
"            #pragma unroll",
"            for (int e = 0; e < ahead; e++) {",
"                const int unit = first + e * sharing, then = asked \? unit + ahead * sharing : unit;",
"                if (asked && unit < all) {",
"                    const int from = unit / units, col = col_at(unit);",
"                    if (!P::by_row) ask(e, unit);",
"                    TC_N(semaphore_wait)(made + from, parity);",
"                    #pragma unroll",
"                    for (int i = 0; i < each; i++) {",
"                        const int r = unit % units / P::turns * 16 + i * step + lane / lanes;",
"                        const tc_pack<tc_u16, 8> x = *(const tc_pack<tc_u16, 8> *)&memory[from * size + place(r, col / 8)];",
"                        hole(x.at, row_at(unit, i), col, loaded[e][P::by_row \? i : 0]);",
"                    }",
"                    if (!last && (unit + sharing) / units != from) pass(taken + from);",
"                }",
"                if (P::by_row && then < all) ask(e, then);",
"            }",
"        }",
"        parity ^= 1;",
"    }",
"};",
"// fn: mapped_results",
"template <class P, class Given, class I, class From, class How, class Ahead, class Result>",
"TC_FN void TC_N(mapped_results)(const TC_N(mapped_tile)<P, I> &tile, From &from, How how, I m, I n, Ahead ahead, Result result) {",
"    const I first = tile.batch * m;",
"    auto load = [&](int row, int col) {",
"        const I r = tile.row + From::row_of(row), c = tile.col + col;",
"        return ahead(first + (P::ragged_rows && r >= m \? m - 1 : r), P::ragged_cols && c >= n \? 0 : c);",
"    };",
"    from.results(how, load, [&](const Given *some, int row, int col, const decltype(load(0, 0)) &loaded) {",
"        const I r = tile.row + From::row_of(row), c = tile.col + col;",
"        if ((P::ragged_rows && r >= m) || (P::ragged_cols && c >= n)) return;",
"        result(first + r, c, some, loaded);",
"    });",
"}",
"// fn: mapped_sums_f8",
"template <class P, class L, class R> struct TC_N(mapped_sums_f8) : TC_N(mapped_sums)<P, L, R> {",
"    typedef TC_N(mapped_sums)<P, L, R> Base;",
"    enum : int { most = P::threads == 128 && P::cols == 128 \? 64 : 128 };",
"    enum : int { wide = P::cols > most \? P::cols / 2 : (int)P::cols, pieces = P::cols / wide };",
"    template <class Ring, class Meanwhile> __device__ __forceinline__ void add(Ring &ring, int steps, Meanwhile) {",
"        const int first = threadIdx.x / 128 * Base::parts;",
"        #pragma unroll",
"        for (int i = 0; i < Base::parts * Base::count; i++) this->sum[i / Base::count][i % Base::count] = 0;",
"        #pragma unroll 1",
"        for (int step = 0; step < steps; step++) {",
"            TC_N(semaphore_wait)(ring.full + ring.at, ring.parity);",
"            const tc_u64 a = TC_N(matrix_place)(ring.memory + ring.at * Ring::size + first * (64 * Ring::line)),",
"                         b = TC_N(matrix_place)(ring.memory + ring.at * Ring::size + Ring::left);",
"            #pragma unroll",
"            for (int i = 0; i < Base::parts * pieces; i++) {",
"                float some[wide / 2];",
"                TC_N(matrix_begin)();",
"                #pragma unroll",
"                for (int d = 0; d < Ring::line / 32; d++)",
"                    TC_N(wgmma_f8)<(int)P::units, wide>(some, a + i / pieces * (64 * Ring::line / 16) + d * 2, b + i % pieces * (wide * Ring::line / 16) + d * 2, d);",
"                TC_N(matrix_commit)();",
"                TC_N(matrix_wait)<0>();",
"                TC_N(matrix_keep)<wide / 2>(some);",
"                #pragma unroll",
"                for (int q = 0; q < wide / 2; q++) this->sum[i / pieces][i % pieces * (wide / 2) + q] += some[q];",
"            }",
"            ring.free(ring.at);",
"            ring.next();",
"        }",
"    }",
"};",
"// fn: total_meets",
"template <class P, class I, class Give> TC_FN void TC_N(total_meets)(float (&sum)[8], unsigned *tickets, float *work, I ticket, int mine, int across, Give give) {",
"    const int lane = threadIdx.x % 32;",
"    #pragma unroll",
"    for (int q = 0; q < 8; q++) sum[q] += __shfl_xor_sync(~0u, sum[q], 16);",
"    #pragma unroll",
"    for (int q = 0; q < 8; q++) sum[q] += __shfl_xor_sync(~0u, sum[q], 8);",
"    #pragma unroll",
"    for (int q = 0; q < 8; q++)",
"        if (q / 2 == lane / 8) work[mine * P::rows + lane % 8 * 8 + q] = sum[q];",
"    if (!TC_N(warp_arrives_last)(tickets + ticket, across)) return;",
"    #pragma unroll",
"    for (int l = lane; l < 64; l += 32) {",
"        float all = 0;",
"        for (int c = 0; c < across; c++) all += TC_N(peek)(&work[c * P::rows + l]);",
"        give(l, &all);",
"    }",
"}",
"// fn: mapped_total",
"template <class P, class Ring, class I, class Total> TC_FN void TC_N(mapped_total)(Ring &ring, unsigned *tickets, float *work, I t, I m, I n, I depth, Total total) {",
"    typedef TC_N(mapped_tile)<P, I> Tile;",
"    enum : int { parts = (P::rows + 64) / 128 };",
"    const int lane = threadIdx.x % 32, first = threadIdx.x / 32 - P::threads / 32 - 1, eight = lane % 8, own = lane / 8;",
"    const int across = (int)((n + (P::cols - 1)) / P::cols);",
"    #pragma unroll 1",
"    for (t = Tile::first(t); t < Tile::count(m, n); t += Tile::jump()) {",
"        const Tile tile(t, m, n, depth);",
"        const int mine = (int)tile.col / P::cols;",
"        float sum[parts][8] = {};",
"        #pragma unroll 1",
"        for (int step = 0; step < tile.steps; step++, ring.next()) {",
"            TC_N(semaphore_wait)(ring.full + ring.at, ring.parity);",
"            if (step % across == mine) {",
"                #pragma unroll",
"                for (int i = 0; i < parts; i++) {",
"                    if ((first + 2 * i) * 64 >= P::rows) break;",
"                    const char *const lines = ring.memory + ring.at * Ring::size + (first + 2 * i) * (64 * Ring::line) + own * 128;",
"                    #pragma unroll",
"                    for (int k = 0; k < P::depth; k += 4) {",
"                        const tc_pack<unsigned, 4> x = *(const tc_pack<unsigned, 4> *)&lines[k * 128 + (eight ^ own ^ (k & 4)) * 16];",
"                        #pragma unroll",
"                        for (int q = 0; q < 4; q++) P::add(sum[i][2 * q], sum[i][2 * q + 1], x.at[q]);",
"                    }",
"                }",
"            }",
"            ring.free(ring.at);",
"        }",
"        #pragma unroll",
"        for (int i = 0; i < parts; i++) {",
"            const int line = (first + 2 * i) * 64;",
"            if (line >= P::rows) break;",
"            TC_N(total_meets)<P>(sum[i], tickets, work + tile.row * across + line, tile.row / 64 + first + 2 * i, mine, across, [&](int l, const float *all) {",
"                if (!P::ragged_rows || tile.row + line + l < m) total(0, tile.row + line + l, all);",
"            });",
"        }",
"    }",
"}",
"// fn: mapped_multiply",
"template <class P, class Sums, class Ring, class I, class Meanwhile, class Give>",
"TC_FN void TC_N(mapped_multiply)(Ring &ring, unsigned *tickets, float *work, I t, I m, I n, I depth, Meanwhile meanwhile, Give give) {",
"    typedef TC_N(mapped_tile)<P, I> Tile;",
"    Sums sums;",
"    #pragma unroll 1",
"    for (t = Tile::first(t); t < Tile::count(m, n); t += Tile::jump()) {",
"        const Tile tile(t, m, n, depth);",
"        sums.add(ring, tile.steps, [&]() { meanwhile(tile); });",
"        if constexpr (P::slices > 1)",
"            if (!TC_N(meet)<P, Sums::parts * Sums::count, (int)P::threads>((float *)sums.sum, tickets, work, tile.block, tile.slice)) continue;",
"        give(tile, sums);",
"    }",
"}",
"// fn: mapped",
"template <template <class, class, class> class Multiplied, class P, class L, class R, class I, class Before, class Rounded, class Ahead, class Result, class Total>",
"TC_FN void TC_N(mapped)(char *shared, unsigned *tickets, float *work, I j, I m, I n, I depth, const TC_N(map) &left, const TC_N(map) &right, Before before, Rounded rounded, Ahead ahead, Result result, Total total) {",
"    typedef TC_N(mapped_tile)<P, I> Tile;",
"    typedef TC_N(mapped_ring)<P> Ring;",
"    typedef Multiplied<P, L, R> Sums;",
"    const int part = (R::deep \? P::cols : P::depth) / P::cluster;",
"    Ring ring(shared);",
"    if constexpr (P::relay)",
"        if (threadIdx.x == 0) TC_N(relay)<P>::begin(ring.lines());",
"    ring.begin();",
"    const I tiles = Tile::count(m, n), jump = Tile::jump();",
"    if constexpr (P::threads == 256)",
"        if ((int)threadIdx.x >= P::threads) TC_N(registers_give)<P::total \? 56 : !P::relay \? 40 : P::by_row \? 120 : 104>();",
"    if ((int)threadIdx.x >= P::threads + P::relay) {",
"        const int warp = threadIdx.x / 32 - (P::threads + P::relay) / 32;",
"        if constexpr (P::total)",
"            if (warp == 1 || warp == 2) TC_N(mapped_total)<P>(ring, tickets, work, j, m, n, depth, total);",
"        if ((int)threadIdx.x != P::threads + P::relay) return;",
"        ring.parity = 1;",
"        #pragma unroll 1",
"        for (I t = Tile::first(j); t < tiles; t += jump) {",
"            const Tile tile(t, m, n, depth);",
"            #pragma unroll 1",
"            for (int step = 0; step < tile.steps; step++, ring.next()) {",
"                const int k = tile.begin + step * P::depth;",
"                char *const to = ring.memory + ring.at * Ring::size;",
"                TC_N(semaphore_wait)(ring.empty + ring.at, ring.parity);",
"                TC_N(semaphore_expect)(ring.full + ring.at, Ring::size);",
"                TC_N(map_bring)<L, (int)P::rows>(to, left, (int)tile.row, k, (int)tile.batch, ring.full + ring.at);",
"                const int own = (int)Tile::rank() * part;",
"                TC_N(map_bring)<R, (int)P::cols, 64, (int)P::cluster>(to + Ring::left + own * (R::deep \? (int)Ring::line : 128), right, (int)tile.col + (R::deep \? own : 0), k + (R::deep \? 0 : own), (int)tile.batch, ring.full + ring.at);",
"            }",
"        }",
"        if constexpr (P::cluster > 1) ring.meet();",
"        return;",
"    }",
"    if constexpr (P::relay) {",
"        TC_N(relay)<P> relay(ring.lines());",
"        if ((int)threadIdx.x >= P::threads) {",
"            #pragma unroll 1",
"            for (I t = Tile::first(j); t < tiles; t += jump) TC_N(mapped_results)<P, tc_u16>(Tile(t, m, n, depth), relay, t + jump >= tiles, m, n, ahead, result);",
"            return;",
"        }",
"        TC_N(registers_take)<P::by_row \? 192 : 200>();",
"        typedef decltype(before(0, 0)) Loaded;",
"        Loaded loaded[TC_N(relay)<P>::template some<Loaded>::early];",
"        TC_N(mapped_multiply)<P, Sums>(ring, tickets, work, j, m, n, depth, [&](const Tile &tile) { relay.ask(loaded, (int)tile.col, (int)n, before); },",
"            [&](const Tile &tile, Sums &sums) { relay.put(sums.sum, loaded, (int)tile.col, (int)n, before, rounded); });",
"        if (Tile::first(j) >= tiles) return;",
"        const I end = Tile::first(j) + (tiles - 1 - Tile::first(j)) / jump * jump;",
"        relay.parity ^= 1;",
"        TC_N(mapped_results)<P, tc_u16>(Tile(end, m, n, depth), relay, true, m, n, ahead, result);",
"    } else {",
"        if constexpr (P::threads == 256) TC_N(registers_take)<P::total \? 224 : 232>();",
"        TC_N(mapped_multiply)<P, Sums>(ring, tickets, work, j, m, n, depth, [](const Tile &) {}, [&](const Tile &tile, Sums &sums) {",
"            TC_N(mapped_results)<P, float>(tile, sums, ring.lines(), m, n, ahead, result);",
"        });",
"    }",
"    if constexpr (P::cluster > 1) ring.meet();",
"}",
};
// ---- gen/out/text_cuda_held.inc
static const char*const tc__text_cuda_held[]={
"// fn: wgmma_words",
"#define TC_WGMMA_WORDS \"{ .reg .pred p; setp.ne.b32 p, %1, 0; wgmma.mma_async.sync.aligned.m64n\"",
"template <int N> TC_FN void TC_N(wgmma_words)(float (&d)[N / 2], const unsigned (&a)[4], tc_u64 b, int keep) {",
"    if constexpr (N == 64)",
"        asm volatile(TC_WGMMA_WORDS \"64k8.f32.tf32.tf32 {\" TC_WGMMA_NAMES_64 \"}, {%34, %35, %36, %37}, %0, p, 1, 1; }\"",
"                     : \"+l\"(b), \"+r\"(keep), TC_WGMMA_32(0) : \"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3]));",
"    if constexpr (N == 128)",
"        asm volatile(TC_WGMMA_WORDS \"128k8.f32.tf32.tf32 {\" TC_WGMMA_NAMES_128 \"}, {%66, %67, %68, %69}, %0, p, 1, 1; }\"",
"                     : \"+l\"(b), \"+r\"(keep), TC_WGMMA_32(0), TC_WGMMA_32(32) : \"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3]));",
"    if constexpr (N == 256)",
"        asm volatile(TC_WGMMA_WORDS \"256k8.f32.tf32.tf32 {\" TC_WGMMA_NAMES_256 \"}, {%130, %131, %132, %133}, %0, p, 1, 1; }\"",
"                     : \"+l\"(b), \"+r\"(keep), TC_WGMMA_32(0), TC_WGMMA_32(32), TC_WGMMA_32(64), TC_WGMMA_32(96)",
"                     : \"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3]));",
"}",
"// fn: held_right",
"template <class P, class R> struct TC_N(held_right) {",
"    enum : int { count = P::cols * P::depth / 512 };",
"    tc_pack<float, 4> some[count];",
"    static __device__ __forceinline__ int line(int j) {",
"        const int t = threadIdx.x % 128, lane = t % 32, block = t / 32 + j / 4 * 4;",
"        if constexpr (R::deep) return t / 8 + j * 16;",
"        else return block % (P::cols / 32) * 32 + (lane % 2 + lane / 8 * 2) * 4;",
"    }",
"    static __device__ __forceinline__ int deep(int j) {",
"        const int t = threadIdx.x % 128, lane = t % 32, block = t / 32 + j / 4 * 4;",
"        if constexpr (R::deep) return t % 8 * 4;",
"        else return block / (P::cols / 32) * 16 + lane / 2 % 4 * 4 + j % 4;",
"    }",
"    template <class Tile, class I, class Hole> __device__ __forceinline__ void load(const Tile &tile, int step, I m, I n, I depth, Hole hole) {",
"        const I first = tile.batch * m, k0 = tile.begin + step * P::depth;",
"        const float *from = nullptr;",
"        if constexpr (R::stepped) from = hole(first, tile.col + line(0), k0 + deep(0), true);",
"        #pragma unroll",
"        for (int j = 0; j < count; j++) {",
"            const I l = tile.col + line(j), k = k0 + deep(j);",
"            const bool inside = (!P::ragged_cols || l < n) && (!P::ragged_depth || k < depth);",
"            if constexpr (P::ragged_cols || P::ragged_depth) some[j] = {};",
"            if constexpr (R::width == 1) {",
"                #pragma unroll",
"                for (int u = 0; u < 4; u++) {",
"                    const I own = R::deep \? l : l + u, at = R::deep \? k + u : k;",
"                    if ((!P::ragged_cols || own < n) && (!P::ragged_depth || at < depth)) hole(first, own, at, &some[j].at[u]);",
"                }",
"            } else if constexpr (R::stepped) {",
"                const I far = (I)(line(j) - line(0)) * (I)R::line_stride + (I)(deep(j) - deep(0)) * (I)R::deep_stride;",
"                if (inside) some[j] = TC_N(load)((const tc_pack<float, 4> *)(from + far));",
"            } else if (inside) {",
"                hole(first, l, k, some[j].at);",
"            }",
"        }",
"    }",
"    static __device__ __forceinline__ void put_four(char *to, int line, int k, float a, float b, float c, float d) {",
"        const tc_pack<unsigned, 4> four = {TC_N(bits_tf32)(a), TC_N(bits_tf32)(b), TC_N(bits_tf32)(c), TC_N(bits_tf32)(d)};",
"        *(tc_pack<unsigned, 4> *)(to + line * 128 + (k / 4 ^ line % 8) * 16) = four;",
"    }",
"    __device__ __forceinline__ void put(char *to) const {",
"        if constexpr (R::deep) {",
"            #pragma unroll",
"            for (int j = 0; j < count; j++) put_four(to, line(j), deep(j), some[j].at[0], some[j].at[1], some[j].at[2], some[j].at[3]);",
"        } else {",
"            #pragma unroll",
"            for (int j = 0; j < count; j += 4) {",
"                #pragma unroll",
"                for (int l = 0; l < 4; l++)",
"                    put_four(to, line(j) + l, deep(j), some[j].at[l], some[j + 1].at[l], some[j + 2].at[l], some[j + 3].at[l]);",
"            }",
"        }",
"    }",
"};",
"// fn: held_bring",
"template <class P, class L, class R, class I, class Ring, class Right>",
"TC_FN void TC_N(held_bring)(Ring &ring, I t, I m, I n, I depth, const TC_N(map) &left, Right right) {",
"    typedef TC_N(mapped_tile)<P, I> Tile;",
"    typedef TC_N(held_right)<P, R> Rights;",
"    const I tiles = Tile::count(m, n), jump = (I)gridDim.x;",
"    if (t >= tiles) return;",
"    Tile tile(t, m, n, depth);",
"    int step = 0;",
"    Rights odd, even;",
"    ring.parity = 1;",
"    auto bring = [&](Rights &now, Rights &next) {",
"        char *const to = ring.memory + ring.at * Ring::size;",
"        tc_u64 *const full = ring.full + ring.at;",
"        const int row = (int)tile.row, k = tile.begin + step * P::depth, batch = (int)tile.batch;",
"        if (++step == tile.steps) {",
"            step = 0, t += jump;",
"            if (t < tiles) tile = Tile(t, m, n, depth);",
"        }",
"        if (t < tiles) next.load(tile, step, m, n, depth, right);",
"        TC_N(semaphore_wait)(ring.empty + ring.at, ring.parity);",
"        if ((int)threadIdx.x == P::threads) {",
"            TC_N(semaphore_expect)(full, Ring::left);",
"            TC_N(map_bring)<L, (int)P::rows, 32>(to, left, row, k, batch, full);",
"        }",
"        now.put(to + Ring::left);",
"        TC_N(proxy_fence)();",
"        __syncwarp();",
"        if (threadIdx.x % 32 == 0) TC_N(semaphore_arrive)(full);",
"        ring.next();",
"        return t < tiles;",
"    };",
"    even.load(tile, step, m, n, depth, right);",
"    #pragma unroll 1",
"    while (bring(even, odd) && bring(odd, even)) {",
"    }",
"}",
"// fn: held_sums",
"template <class P, class L, class R> struct TC_N(held_sums) : TC_N(mapped_sums)<P, L, R> {",
"    typedef TC_N(mapped_sums)<P, L, R> F;",
"    enum : int { parts = F::parts, pieces = P::depth / 8 };",
"    unsigned piece[pieces][parts][4];",
"    __device__ __forceinline__ void fetch(const char *left, int p) {",
"        const int warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32, x = lane / 4, y = lane % 4;",
"        left += threadIdx.x / 128 * parts * (64 * 128);",
"        #pragma unroll",
"        for (int i = 0; i < parts * 4; i++) {",
"            const int behind = i % 2, k = p * 8 + y + i / 2 % 2 * 4;",
"            int at;",
"            if constexpr (L::deep) at = (warp * 16 + x + behind * 8) * 128 + (k / 4 ^ x) * 16 + y * 4;",
"            else at = warp / 2 * 4096 + k * 128 + ((warp % 2 * 2 + x / 4 * 4 + behind) ^ k % 8) * 16 + x % 4 * 4;",
"            piece[p][i / 4][i % 4] = TC_N(bits_tf32)(*(const float *)(left + i / 4 * (64 * 128) + at));",
"        }",
"    }",
"    static __device__ __forceinline__ int row_of(int row) {",
"        if constexpr (L::deep) return row;",
"        else return (row & ~28) | (row & 4) << 2 | (row & 8) >> 1 | (row & 16) >> 1;",
"    }",
"    template <class Ring, class Meanwhile> __device__ __forceinline__ void add(Ring &ring, int steps, Meanwhile) {",
"        int before = 0;",
"        #pragma unroll 1",
"        for (int step = 0; step < steps; step++) {",
"            TC_N(semaphore_wait)(ring.full + ring.at, ring.parity);",
"            const char *const left = ring.memory + ring.at * Ring::size;",
"            const tc_u64 b = TC_N(matrix_place)(left + Ring::left);",
"            TC_N(matrix_wait)<0>();",
"            __syncwarp();",
"            if (step && threadIdx.x % 32 == 0) TC_N(semaphore_arrive)(ring.empty + before);",
"            #pragma unroll",
"            for (int p = 0; p < pieces; p++) fetch(left, p);",
"            TC_N(matrix_begin)();",
"            #pragma unroll",
"            for (int p = 0; p < pieces; p++) {",
"                #pragma unroll",
"                for (int i = 0; i < parts; i++) TC_N(wgmma_words)<(int)P::cols>(F::sum[i], piece[p][i], b + p * 2, step | p);",
"            }",
"            TC_N(matrix_commit)();",
"            before = ring.at;",
"            ring.next();",
"        }",
"        TC_N(matrix_wait)<0>();",
"        __syncwarp();",
"        if (threadIdx.x % 32 == 0) TC_N(semaphore_arrive)(ring.empty + before);",
"    }",
"};",
"// fn: held",
"template <class P, class L, class R, class I, class Right, class Ahead, class Result>",
"TC_FN void TC_N(held)(char *shared, unsigned *tickets, float *work, I j, I m, I n, I depth, const TC_N(map) &left, Right right, Ahead ahead, Result result) {",
"    typedef TC_N(mapped_ring)<P> Ring;",
"    Ring ring(shared);",
"    ring.begin(1 + 4);",
"    if ((int)threadIdx.x >= P::threads) {",
"        if constexpr (P::threads == 256) TC_N(registers_give)<104>();",
"        TC_N(held_bring)<P, L, R, I>(ring, j, m, n, depth, left, right);",
"        return;",
"    }",
"    if constexpr (P::threads == 256) TC_N(registers_take)<200>();",
"    typedef TC_N(held_sums)<P, L, R> Sums;",
"    typedef TC_N(mapped_tile)<P, I> Tile;",
"    TC_N(mapped_multiply)<P, Sums>(ring, tickets, work, j, m, n, depth, [](const Tile &) {}, [&](const Tile &tile, Sums &sums) {",
"        TC_N(mapped_results)<P, float>(tile, sums, ring.lines(), m, n, ahead, result);",
"    });",
"}",
};
// ---- gen/out/text_cuda_chain.inc
static const char*const tc__text_cuda_chain[]={
"// fn: chain_stage",
"template <class P, int DEPTH, int RAGGED> struct TC_N(chain_stage) : P {",
"    enum : int { way = 1, depth = DEPTH, ragged_depth = RAGGED, last = 0 };",
"};",
"// fn: tile_place",
"TC_FN int TC_N(tile_place)(int first, int far) { return (first ^ far % 64) + far / 64 * 64; }",
"// fn: fetch_left",
"template <int DEPTH, int ROWS> TC_FN void TC_N(fetch_left)(unsigned (&a)[ROWS][4], const tc_u16 *tile, int first, int d) {",
"    #pragma unroll",
"    for (int i = 0; i < ROWS; i++) TC_N(ldmatrix4)(a[i], &tile[i * (16 * DEPTH) + TC_N(tile_place)(first, d)]);",
"}",
"// fn: fetch_right",
"template <int DEEP, int LINE> TC_FN void TC_N(fetch_right)(unsigned (&b)[4], const tc_u16 *tile, int first, int j, int d) {",
"    if constexpr (DEEP) TC_N(ldmatrix4)(b, &tile[j * (8 * LINE) + TC_N(tile_place)(first, d)]);",
"    else TC_N(ldmatrix4_trans)(b, &tile[d * LINE + TC_N(tile_place)(first, j * 8)]);",
"}",
"// fn: right_place",
"template <int DEEP, int LINE> TC_FN int TC_N(right_place)() {",
"    const int lane = threadIdx.x % 32;",
"    return DEEP \? TC_N(swizzle)<LINE>(lane / 16 * 8 + lane % 8, lane / 8 % 2 * 8) : TC_N(swizzle)<LINE>(lane % 16, lane / 16 * 8);",
"}",
"// fn: chain_inner",
"template <class P, int DEPTH> struct TC_N(chain_inner) {",
"    enum : int { rows = P::rows / (16 * P::high), cols = P::cols / 8, pieces = (DEPTH + 15) / 16, held = P::held };",
"    unsigned left[held \? pieces : 1][rows][4];",
"    const tc_u16 *tile;",
"    int leftlane, rightlane;",
"    __device__ __forceinline__ void begin(const tc_u16 *lefts) {",
"        const int x = threadIdx.x, lane = x % 32;",
"        tile = lefts + x / 32 * (16 * rows) * DEPTH;",
"        leftlane = TC_N(swizzle)<DEPTH>(lane % 16, lane / 16 * 8);",
"        rightlane = TC_N(right_place)<1, DEPTH>();",
"        if constexpr (held) {",
"            #pragma unroll",
"            for (int p = 0; p < pieces; p++) TC_N(fetch_left)<DEPTH>(left[p], tile, leftlane, p * 16);",
"        }",
"    }",
"    __device__ __forceinline__ void multiply(float (&s)[rows][cols][4], const tc_u16 *right) {",
"        #pragma unroll",
"        for (int i = 0; i < rows * cols * 4; i++) s[i / 4 / cols][i / 4 % cols][i % 4] = 0;",
"        #pragma unroll",
"        for (int p = 0; p < pieces; p++) {",
"            unsigned (&a)[rows][4] = left[held \? p : 0];",
"            if constexpr (!held) TC_N(fetch_left)<DEPTH>(a, tile, leftlane, p * 16);",
"            #pragma unroll",
"            for (int j = 0; j < cols; j += 2) {",
"                unsigned two[4];",
"                TC_N(fetch_right)<1, DEPTH>(two, right, rightlane, j, p * 16);",
"                const unsigned one[2] = {two[0], two[1]}, other[2] = {two[2], two[3]};",
"                #pragma unroll",
"                for (int i = 0; i < rows; i++) P::mma(s[i][j], a[i], one), P::mma(s[i][j + 1], a[i], other);",
"            }",
"        }",
"    }",
"};",
"// fn: row_most",
"TC_FN float TC_N(row_most)(float x) {",
"    x = fmaxf(x, __shfl_xor_sync(~0u, x, 1));",
"    return fmaxf(x, __shfl_xor_sync(~0u, x, 2));",
"}",
"// fn: row_sum",
"TC_FN float TC_N(row_sum)(float x) {",
"    x += __shfl_xor_sync(~0u, x, 1);",
"    return x + __shfl_xor_sync(~0u, x, 2);",
"}",
"// fn: chain_sums",
"template <class P> struct TC_N(chain_sums) {",
"    enum : int { rows = P::rows / (16 * P::high), cols = P::cols / 8, wide = P::wide / 8, two = P::next != 0 };",
"    typedef float scores[rows][cols][4], results[rows][wide][4], sides[rows][2];",
"    typedef float others[two \? rows : 1][two \? cols : 1][4];",
"    typedef unsigned halves[rows][cols][2];",
"    TC_FN float none() { return P::streamed \? -__int_as_float(0x7f800000) : 0.0f; }",
"};",
"// fn: chain_columns",
"template <class P, class I> TC_FN void TC_N(chain_columns)(I down, I keys, I &begin, I &end) {",
"    begin = 0, end = keys;",
"    if constexpr ((P::band & 1) != 0) {",
"        const I least = down + P::low;",
"        if (least > 0) begin = least / P::cols * P::cols;",
"    }",
"    if constexpr ((P::band & 2) != 0) {",
"        const I most = down + (P::rows + P::up);",
"        if (most < end) end = most;",
"    }",
"}",
"// fn: chain_scores",
"template <class P, class I, class Columns, class Score>",
"TC_FN void TC_N(chain_scores)(typename TC_N(chain_sums)<P>::scores &s, const typename TC_N(chain_sums)<P>::others &t, typename TC_N(chain_sums)<P>::halves &e, I own, I r1, I c0, I keys, Columns columns, Score score) {",
"    typedef TC_N(chain_sums)<P> S;",
"    const int lane = threadIdx.x % 32;",
"    #pragma unroll",
"    for (int q = 0; q < 2 * S::cols; q += P::scores) {",
"        const int j = q / 2, u = q % 2;",
"        const I c = c0 + (j * 8 + lane % 4 * 2 + u);",
"        const bool inside = !P::ragged_cols || c < keys;",
"        if constexpr (P::columns)",
"            if (inside) columns(r1 - 1, c);",
"        #pragma unroll",
"        for (int h = 0; h < 2 * S::rows; h++) {",
"            const I r = own + h * 8, at_row = P::ragged_rows && r >= r1 \? r1 - 1 : r;",
"            float *const sum = &s[h / 2][j][h % 2 * 2 + u];",
"            tc_pack<float, 2 * P::scores> sums;",
"            tc_pack<typename P::made, P::scores> made;",
"            #pragma unroll",
"            for (int l = 0; l < P::scores; l++) {",
"                sums.at[l] = sum[l];",
"                if constexpr (S::two) sums.at[P::scores + l] = t[h / 2][j][h % 2 * 2 + u + l];",
"            }",
"            if (inside) score(at_row, c, sums.at, made.at);",
"            #pragma unroll",
"            for (int l = 0; l < P::scores; l++) {",
"                if constexpr (P::streamed) {",
"                    sum[l] = inside \? made.at[l] : S::none();",
"                } else {",
"                    const unsigned word = inside \? (unsigned)made.at[l] : 0u;",
"                    e[h / 2][j][h % 2] = u + l \? e[h / 2][j][h % 2] | word << 16 : word;",
"                }",
"            }",
"        }",
"    }",
"}",
"// fn: chain_stream",
"template <class P>",
"TC_FN void TC_N(chain_stream)(const typename TC_N(chain_sums)<P>::scores &s, typename TC_N(chain_sums)<P>::halves &e, typename TC_N(chain_sums)<P>::results &o, typename TC_N(chain_sums)<P>::sides &most, typename TC_N(chain_sums)<P>::sides &all) {",
"    typedef TC_N(chain_sums)<P> S;",
"    #pragma unroll",
"    for (int h = 0; h < 2 * S::rows; h++) {",
"        const int i = h / 2, k = h % 2;",
"        float top = most[i][k];",
"        #pragma unroll",
"        for (int u = 0; u < 2 * S::cols; u++) top = fmaxf(top, s[i][u / 2][k * 2 + u % 2]);",
"        top = TC_N(row_most)(top);",
"        const float from = top == S::none() \? 0.0f : top, f = TC_N(ex2)((most[i][k] - from) * 1.44269502f);",
"        float sum = all[i][k] * f;",
"        most[i][k] = top;",
"        #pragma unroll",
"        for (int j = 0; j < S::cols; j++) {",
"            const float a = TC_N(ex2)((s[i][j][k * 2] - from) * 1.44269502f), b = TC_N(ex2)((s[i][j][k * 2 + 1] - from) * 1.44269502f);",
"            sum += a, sum += b;",
"            e[i][j][k] = P::pack_two(a, b);",
"        }",
"        all[i][k] = sum;",
"        #pragma unroll",
"        for (int j = 0; j < S::wide; j++) o[i][j][k * 2] *= f, o[i][j][k * 2 + 1] *= f;",
"    }",
"}",
"// fn: chain_values",
"template <class P, class V>",
"TC_FN void TC_N(chain_values)(typename TC_N(chain_sums)<P>::results &o, const typename TC_N(chain_sums)<P>::halves &e, const tc_u16 *tile, int place) {",
"    typedef TC_N(chain_sums)<P> S;",
"    #pragma unroll",
"    for (int d = 0; d < S::cols; d += 2) {",
"        #pragma unroll",
"        for (int j = 0; j < S::wide; j += 2) {",
"            unsigned two[4];",
"            TC_N(fetch_right)<V::deep, V::deep \? (int)P::cols : (int)P::wide>(two, tile, place, j, d * 8);",
"            const unsigned one[2] = {two[0], two[1]}, other[2] = {two[2], two[3]};",
"            #pragma unroll",
"            for (int i = 0; i < S::rows; i++) {",
"                const unsigned a[4] = {e[i][d][0], e[i][d][1], e[i][d + 1][0], e[i][d + 1][1]};",
"                P::mma(o[i][j], a, one), P::mma(o[i][j + 1], a, other);",
"            }",
"        }",
"    }",
"}",
"// fn: chain_share",
"template <class P, class I, class Share>",
"TC_FN void TC_N(chain_share)(typename TC_N(chain_sums)<P>::results &o, const typename TC_N(chain_sums)<P>::sides &most, const typename TC_N(chain_sums)<P>::sides &all, I own, I r1, Share share) {",
"    typedef TC_N(chain_sums)<P> S;",
"    const int lane = threadIdx.x % 32;",
"    #pragma unroll",
"    for (int h = 0; h < 2 * S::rows; h++) {",
"        const int i = h / 2, k = h % 2;",
"        const I r = own + h * 8;",
"        tc_pack<float, 4> of = {most[i][k], TC_N(row_sum)(all[i][k]), 0, 0};",
"        if (lane % 4 == 0 && (!P::ragged_rows || r < r1)) share(r, 0, of.at);",
"        float f = __shfl_sync(~0u, of.at[2], lane / 4 * 4);",
"        if constexpr (P::streamed == 2) f = 1.0f / f;",
"        if constexpr (P::streamed == 3) f = 1.0f;",
"        if constexpr (P::bare != 0) f = most[i][k] == S::none() \? __int_as_float(0x7fffffff) : f;",
"        #pragma unroll",
"        for (int j = 0; j < S::wide; j++) o[i][j][k * 2] *= f, o[i][j][k * 2 + 1] *= f;",
"    }",
"}",
"// fn: chain_results",
"template <class P, class I, class Result>",
"TC_FN void TC_N(chain_results)(const typename TC_N(chain_sums)<P>::results &o, float *tile, I r0, I r1, I n, Result result) {",
"    typedef TC_N(chain_sums)<P> S;",
"    enum : int { pitch = P::wide + 8, packs = P::wide / P::width, access = P::width < P::pack \? (int)P::width : (int)P::pack };",
"    const int lane = threadIdx.x % 32;",
"    #pragma unroll",
"    for (int i = 0; i < S::rows; i++) {",
"        if (i) __syncwarp();",
"        #pragma unroll",
"        for (int j = 0; j < S::wide; j++) {",
"            float *const at = &tile[lane / 4 * pitch + j * 8 + lane % 4 * 2];",
"            *(tc_pack<float, 2> *)at = {o[i][j][0], o[i][j][1]};",
"            *(tc_pack<float, 2> *)&at[8 * pitch] = {o[i][j][2], o[i][j][3]};",
"        }",
"        __syncwarp();",
"        #pragma unroll 4",
"        for (int q = lane; q < 16 * packs; q += 32) {",
"            const I r = r0 + (i * 16 + q / packs), c = q % packs * P::width;",
"            tc_pack<float, P::width> sums;",
"            if ((P::ragged_rows && r >= r1) || (P::ragged_wide && c >= n)) continue;",
"            #pragma unroll",
"            for (int l = 0; l < P::width; l += access)",
"                *(tc_pack<float, access> *)&sums.at[l] = *(const tc_pack<float, access> *)&tile[q / packs * pitch + c + l];",
"            result(r, c, sums.at);",
"        }",
"    }",
"}",
"// fn: chain_tiles",
"template <class P, class A, class B, class AN, class BN, class V, class I> struct TC_N(chain_tiles) {",
"    typedef TC_N(chain_stage)<P, P::depth, P::ragged_depth> P0;",
"    typedef TC_N(chain_stage)<P, P::next \? (int)P::next : 16, P::ragged_next> P1;",
"    typedef TC_N(chain_stage)<P, P::cols, P::ragged_cols> PV;",
"    enum : int { two = P::next != 0 };",
"    TC_N(stage)<P0, A, P::rows, (bool)P::ragged_rows, I> left;",
"    TC_N(stage)<P0, B, P::cols, (bool)P::ragged_cols, I> right;",
"    TC_N(stage)<P1, AN, P::rows, (bool)P::ragged_rows, I> left_next;",
"    TC_N(stage)<P1, BN, P::cols, (bool)P::ragged_cols, I> right_next;",
"    TC_N(stage)<PV, V, P::wide, (bool)P::ragged_wide, I> value;",
"    I r0, r1, n, keys;",
"    __device__ __forceinline__ void place(tc_u16 *ring) {",
"        left.ring = ring, ring += left.size;",
"        if constexpr (two) left_next.ring = ring, ring += left_next.size;",
"        right.ring = ring, ring += 2 * right.size;",
"        if constexpr (two) right_next.ring = ring, ring += 2 * right_next.size;",
"        value.ring = ring;",
"    }",
"    template <class S, class H> __device__ __forceinline__ void bring(S &s, int to, I line, I end, I k, I depth, H hole) {",
"        typename S::packs none;",
"        s.bring(none, to, r0, line, end, k, depth, hole);",
"    }",
"    template <class H, class HN> __device__ __forceinline__ void lefts(H hole, HN next) {",
"        left.first(r0, r0, 0, hole);",
"        bring(left, 0, r0, r1, 0, P::ragged_depth, hole);",
"        if constexpr (two) {",
"            left_next.first(r0, r0, 0, next);",
"            bring(left_next, 0, r0, r1, 0, P::ragged_next, next);",
"        }",
"    }",
"    template <class H, class HN, class HV> __device__ __forceinline__ void rights(int to, I c, H hole, HN next, HV values) {",
"        right.first(r0, c, 0, hole);",
"        bring(right, to, c, keys, 0, P::ragged_depth, hole);",
"        if constexpr (two) {",
"            right_next.first(r0, c, 0, next);",
"            bring(right_next, to, c, keys, 0, P::ragged_next, next);",
"        }",
"        bring(value, to, 0, n, c, keys, values);",
"    }",
"};",
"// fn: chain",
"template <class P, class A, class B, class AN, class BN, class V, class I, class Left, class Right, class LeftNext, class RightNext, class Value, class Columns, class Score, class Share, class Result>",
"TC_FN void TC_N(chain)(char *shared, unsigned *, typename P::sum *, I j, I m, I n, I keys, Left left, Right right,",
"                       LeftNext left_next, RightNext right_next, Value value, Columns columns, Score score, Share share, Result result) {",
"    typedef TC_N(chain_tiles)<P, A, B, AN, BN, V, I> T;",
"    typedef TC_N(chain_sums)<P> S;",
"    T t;",
"    TC_N(chain_inner)<P, T::P0::depth> inner;",
"    TC_N(chain_inner)<P, T::P1::depth> inner_next;",
"    const I high = (m + (P::rows - 1)) / P::rows, batch = P::batches \? j / high : 0, first = batch * m;",
"    const I down = (P::band & 2 \? high - 1 - (j - batch * high) : j - batch * high) * P::rows;",
"    I begin, end;",
"    TC_N(chain_columns)<P>(down, keys, begin, end);",
"    const int steps = end > begin \? (int)((end - begin + (P::cols - 1)) / P::cols) : 0;",
"    t.place((tc_u16 *)shared);",
"    t.r0 = first + down, t.r1 = first + m, t.n = n, t.keys = keys;",
"    t.lefts(left, left_next);",
"    t.value.first(t.r0, 0, begin, value);",
"    if (steps) t.rights(0, begin, right, right_next, value);",
"    TC_N(copy_commit)();",
"    TC_N(copy_wait)<0>();",
"    __syncthreads();",
"    inner.begin(t.left.ring);",
"    if constexpr (T::two) inner_next.begin(t.left_next.ring);",
"    const int place = TC_N(right_place)<V::deep, V::deep \? (int)P::cols : (int)P::wide>();",
"    const I mine = t.r0 + threadIdx.x / 32 * (16 * S::rows), own = mine + threadIdx.x % 32 / 4;",
"    typename S::results o;",
"    typename S::sides most, all;",
"    #pragma unroll",
"    for (int i = 0; i < S::rows * S::wide * 4; i++) o[i / 4 / S::wide][i / 4 % S::wide][i % 4] = 0;",
"    #pragma unroll",
"    for (int i = 0; i < S::rows * 2; i++) most[i / 2][i % 2] = S::none(), all[i / 2][i % 2] = 0;",
"    #pragma unroll 1",
"    for (int step = 0; step < steps; step++) {",
"        const int at = step % 2;",
"        const I c0 = begin + (I)step * P::cols;",
"        typename S::scores s;",
"        typename S::others other;",
"        typename S::halves e;",
"        if (step + 1 < steps) t.rights(1 - at, c0 + P::cols, right, right_next, value);",
"        TC_N(copy_commit)();",
"        inner.multiply(s, t.right.ring + at * t.right.size);",
"        if constexpr (T::two) inner_next.multiply(other, t.right_next.ring + at * t.right_next.size);",
"        TC_N(chain_scores)<P>(s, other, e, own, t.r1, c0, keys, columns, score);",
"        if constexpr (P::streamed) TC_N(chain_stream)<P>(s, e, o, most, all);",
"        TC_N(chain_values)<P, V>(o, e, t.value.ring + at * t.value.size, place);",
"        TC_N(copy_wait)<0>();",
"        __syncthreads();",
"    }",
"    if constexpr (P::streamed) TC_N(chain_share)<P>(o, most, all, own, t.r1, share);",
"    TC_N(chain_results)<P>(o, (float *)shared + threadIdx.x / 32 * (16 * (P::wide + 8)), mine, t.r1, n, result);",
"}",
};
// ---- gen/out/text_cuda_mapped_chain.inc
static const char*const tc__text_cuda_mapped_chain[]={
"// fn: chain_block",
"template <class P, class I> struct TC_N(chain_block) {",
"    I batch, down, begin;",
"    int steps;",
"    __device__ __forceinline__ TC_N(chain_block)(I t, I m, I keys) {",
"        const I high = (m + (P::rows - 1)) / P::rows, batches = P::batches \? P::batches : 1, beside = together(keys);",
"        const I first = t / (beside * high) * beside, heads = batches - first < beside \? batches - first : beside;",
"        const I at = (t - first * high) / heads;",
"        I end;",
"        batch = first + (t - first * high) % heads;",
"        down = (P::band & 2 \? high - 1 - at : at) * P::rows;",
"        TC_N(chain_columns)<P>(down, keys, begin, end);",
"        steps = end > begin \? (int)((end - begin + (P::cols - 1)) / P::cols) : 0;",
"    }",
"    static __device__ __forceinline__ I together(I keys) {",
"        const I batches = P::batches \? P::batches : 1, fits = (I)((1 << 25) / ((P::depth + P::wide) * 2)) / keys;",
"        return !P::band || fits < 1 \? 1 : fits < batches \? fits : batches;",
"    }",
"    static __device__ __forceinline__ I count(I m) {",
"        return (m + (P::rows - 1)) / P::rows * (P::batches \? P::batches : 1);",
"    }",
"};",
"// fn: chain_walk",
"template <class P, class I> struct TC_N(chain_walk) {",
"    I t, round;",
"    __device__ __forceinline__ TC_N(chain_walk)(I j) { t = j, round = 0; }",
"    __device__ __forceinline__ void next(I j, I keys) {",
"        const bool back = P::band && TC_N(chain_block)<P, I>::together(keys) == (P::batches \? P::batches : 1);",
"        round++;",
"        t = round * (I)gridDim.x + (back && round % 2 \? (I)gridDim.x - 1 - j : j);",
"    }",
"};",
"// fn: chain_turn",
"template <int STAGES> struct TC_N(chain_turn) {",
"    int at, parity;",
"    __device__ __forceinline__ void next() {",
"        if (++at == STAGES) at = 0, parity ^= 1;",
"    }",
"};",
"// fn: chain_memory",
"template <class P> struct TC_N(chain_memory) {",
"    enum : int {",
"        left = P::rows * P::depth * 2, lefts = left + P::rows * P::next * 2,",
"        right = P::cols * P::depth * 2, rights = right + P::cols * P::next * 2,",
"        stage = rights + (P::same \? 0 : P::cols * P::wide * 2)",
"    };",
"    char *at;",
"    tc_u64 *left_full, *left_empty, *full, *empty, *value_full, *value_empty;",
"    float *column;",
"    __device__ __forceinline__ TC_N(chain_memory)(char *shared) {",
"        at = TC_N(align_shared)<1024>(shared);",
"        left_full = (tc_u64 *)(at + P::ahead * lefts + P::stages * stage), left_empty = left_full + P::ahead;",
"        full = left_full + 2 * P::ahead, empty = full + P::stages, value_full = empty + P::stages, value_empty = value_full + P::stages;",
"        column = (float *)(value_empty + P::stages);",
"    }",
"    __device__ __forceinline__ void begin() {",
"        const int warps = P::threads / 32;",
"        if (threadIdx.x == 0) {",
"            #pragma unroll",
"            for (int i = 0; i < P::ahead; i++) TC_N(semaphore_set)(left_full + i, 1), TC_N(semaphore_set)(left_empty + i, warps);",
"            #pragma unroll",
"            for (int i = 0; i < P::stages; i++) {",
"                TC_N(semaphore_set)(full + i, P::columns \? 33 : 1), TC_N(semaphore_set)(empty + i, P::columns \? P::threads : warps);",
"                TC_N(semaphore_set)(value_full + i, 1), TC_N(semaphore_set)(value_empty + i, warps);",
"            }",
"            TC_N(semaphores_are_set)();",
"        }",
"        __syncthreads();",
"    }",
"    static __device__ __forceinline__ bool tells_step() { return P::columns || threadIdx.x % 32 == 0; }",
"    __device__ __forceinline__ char *left_at(int i) { return at + i * lefts; }",
"    __device__ __forceinline__ char *right_at(int i) { return at + P::ahead * lefts + i * stage; }",
"    __device__ __forceinline__ char *value_at(int i) { return right_at(i) + (P::same \? 0 : (int)rights); }",
"    __device__ __forceinline__ float *column_at(int i) { return column + i * (P::cols * P::columns); }",
"};",
"// fn: chain_bring",
"template <class S, int LINES, int DEPTH> TC_FN void TC_N(chain_bring)(char *to, const TC_N(map) &map, int line, int z, tc_u64 *s) {",
"    #pragma unroll",
"    for (int k = 0; k < DEPTH; k += 64) TC_N(map_load_batch)<S>(to + k * (LINES * 2), &map, k, line, z, s);",
"}",
"// fn: chain_product",
"template <class P, int DEPTH> TC_FN void TC_N(chain_product)(float (&s)[P::cols / 2], const char *left, const char *right) {",
"    const tc_u64 a = TC_N(matrix_place)(left), b = TC_N(matrix_place)(right);",
"    #pragma unroll",
"    for (int d = 0; d < DEPTH / 16; d++)",
"        TC_N(wgmma)<(int)P::units, (int)P::cols, 0, 0>(s, a + (d / 4 * (P::rows * 8) + d % 4 * 2), b + (d / 4 * (P::cols * 8) + d % 4 * 2), d);",
"}",
"// fn: chain_counts",
"template <class P, class I> TC_FN bool TC_N(chain_counts)(I row, I c, I keys) {",
"    const bool inside = !P::ragged_cols || c < keys;",
"    const bool low = !(P::band & 1) || c >= row + P::low, up = !(P::band & 2) || c <= row + P::up;",
"    return inside && low && up;",
"}",
"// fn: chain_edge",
"template <class P, class I> TC_FN bool TC_N(chain_edge)(I row, I c, I keys) {",
"    const bool low = (P::band & 1) && c < row + (15 + P::low), up = (P::band & 2) && c + (P::cols - 1) > row + P::up;",
"    return (P::ragged_cols && c + P::cols > keys) || low || up;",
"}",
"// fn: chain_group",
"template <class P> struct TC_N(chain_group) {",
"    enum : int { count = P::cols / 2, wide = P::wide / 2, beside = P::pair \? P::next / 2 : 1 };",
"    float sum[wide], sum_next[beside], score[count], other[P::next \? (int)count : 1], most[2], all[2];",
"    unsigned made[P::cols / 16][4], coming[P::streamed || P::pair \? 1 : P::cols / 16][4], made_next[P::pair \? P::cols / 16 : 1][4];",
"    __device__ __forceinline__ void clear() {",
"        #pragma unroll",
"        for (int i = 0; i < wide; i++) sum[i] = 0;",
"        #pragma unroll",
"        for (int i = 0; i < beside; i++) sum_next[i] = 0;",
"        #pragma unroll",
"        for (int k = 0; k < 2; k++) most[k] = -__int_as_float(0x7f800000), all[k] = 0;",
"    }",
"    __device__ __forceinline__ void take(unsigned none) {",
"        const unsigned zero = __float_as_uint(sum[0]) & none;",
"        #pragma unroll",
"        for (int i = 0; i < count; i += 2) {",
"            unsigned &word = made[i / 8][i / 4 % 2 * 2 + i / 2 % 2];",
"            if constexpr (P::streamed) word = P::pack_two(score[i], score[i + 1]);",
"            else word = coming[i / 8][i / 4 % 2 * 2 + i / 2 % 2] | zero;",
"        }",
"    }",
"    __device__ __forceinline__ void scale_by(const float (&f)[2]) {",
"        #pragma unroll",
"        for (int i = 0; i < wide; i++) sum[i] *= f[i / 2 % 2];",
"    }",
"};",
"// fn: chain_add",
"template <class P, int WIDE> TC_FN void TC_N(chain_add)(float (&sum)[WIDE / 2], const unsigned (&made)[P::cols / 16][4], const char *value) {",
"    const tc_u64 b = TC_N(matrix_place)<(int)P::cols>(value);",
"    #pragma unroll",
"    for (int d = 0; d < P::cols / 16; d++) TC_N(wgmma_held)<(int)P::units, WIDE>(sum, made[d], b + d * 128);",
"}",
"// fn: chain_ask",
"template <class P, int SUMS, class T, class I, class Score>",
"TC_FN void TC_N(chain_ask)(TC_N(chain_group)<P> &g, unsigned (*halves)[4], const float *column, I first, I row, I m, I c0, I keys, Score hole) {",
"    const int lane = threadIdx.x % 32;",
"    #pragma unroll",
"    for (int q = 0; q < P::cols / 4; q += P::scores) {",
"        const int j = q / 2, u = q % 2, at = j * 8 + lane % 4 * 2 + u;",
"        const bool inside = !P::ragged_cols || c0 + at < keys;",
"        float sums[P::scores * (SUMS + P::columns)];",
"        if constexpr (P::columns != 0) {",
"            typedef tc_pack<float, P::scores * (P::columns \? P::columns : 1)> words;",
"            const words some = *(const words *)(column + at * P::columns);",
"            #pragma unroll",
"            for (int l = 0; l < P::scores * P::columns; l++) sums[P::scores * SUMS + l] = some.at[l];",
"        }",
"        #pragma unroll",
"        for (int h = 0; h < 2; h++) {",
"            const I own = row + (lane / 4 + h * 8), r = first + (P::ragged_rows && own >= m \? m - 1 : own);",
"            const int i = j * 4 + h * 2 + u;",
"            tc_pack<T, P::scores> one;",
"            #pragma unroll",
"            for (int l = 0; l < P::scores; l++) {",
"                sums[l] = g.score[i + l];",
"                if constexpr (SUMS == 2) sums[P::scores + l] = g.other[i + l];",
"            }",
"            if (inside) hole(r, c0 + at, sums, one.at);",
"            if constexpr (sizeof(T) == 4) {",
"                #pragma unroll",
"                for (int l = 0; l < P::scores; l++) g.score[i + l] = one.at[l];",
"            } else {",
"                unsigned &word = halves[j / 2][j % 2 * 2 + h];",
"                if constexpr (P::scores == 2) word = *(const unsigned *)one.at;",
"                else word = u \? word | (unsigned)one.at[0] << 16 : (unsigned)one.at[0];",
"            }",
"        }",
"    }",
"}",
"// fn: chain_leave_out",
"template <class P, class I> TC_FN void TC_N(chain_leave_out)(TC_N(chain_group)<P> &g, unsigned (*halves)[4], float none, I row, I c0, I keys) {",
"    const int lane = threadIdx.x % 32;",
"    #pragma unroll",
"    for (int i = 0; i < P::cols / 2; i++) {",
"        const I c = c0 + (i / 4 * 8 + lane % 4 * 2 + i % 2);",
"        if (TC_N(chain_counts)<P>(row + (lane / 4 + i / 2 % 2 * 8), c, keys)) continue;",
"        if (halves) halves[i / 8][i / 4 % 2 * 2 + i / 2 % 2] &= i % 2 \? 0xffffu : 0xffff0000u;",
"        else g.score[i] = none;",
"    }",
"}",
"// fn: chain_soften",
"template <class P> TC_FN void TC_N(chain_soften)(TC_N(chain_group)<P> &g, float (&f)[2]) {",
"    const float none = -__int_as_float(0x7f800000), scale = P::scale \? __int_as_float(P::scale) : 1.0f, binary = scale * 1.44269502f;",
"    #pragma unroll",
"    for (int k = 0; k < 2; k++) {",
"        float top[2] = {none, none}, part[2] = {0, 0};",
"        #pragma unroll",
"        for (int i = k * 2; i < P::cols / 2; i += 4) top[0] = fmaxf(top[0], g.score[i]), top[1] = fmaxf(top[1], g.score[i + 1]);",
"        const float now = fmaxf(g.most[k], TC_N(row_most)(fmaxf(top[0], top[1])) * scale), from = now == none \? 0.0f : now;",
"        const float base = from * 1.44269502f;",
"        f[k] = TC_N(ex2)((g.most[k] - from) * 1.44269502f);",
"        g.most[k] = now;",
"        #pragma unroll",
"        for (int i = k * 2; i < P::cols / 2; i += 4) {",
"            #pragma unroll",
"            for (int u = 0; u < 2; u++) g.score[i + u] = TC_N(ex2)(fmaf(g.score[i + u], binary, -base)), part[u] += g.score[i + u];",
"        }",
"        g.all[k] = g.all[k] * f[k] + (part[0] + part[1]);",
"    }",
"}",
"// fn: chain_whole",
"template <class P, class I, class Share> TC_FN void TC_N(chain_whole)(TC_N(chain_group)<P> &g, I first, I row, I m, Share hole) {",
"    const int lane = threadIdx.x % 32;",
"    float f[2];",
"    #pragma unroll",
"    for (int k = 0; k < 2; k++) {",
"        const I own = row + (lane / 4 + k * 8);",
"        tc_pack<float, 4> of = {g.most[k], TC_N(row_sum)(g.all[k]), 0, 0};",
"        if (g.most[k] != -__int_as_float(0x7f800000) && of.at[1] < 1) of.at[1] = 1;",
"        if (lane % 4 == 0 && (!P::ragged_rows || own < m)) hole(first + own, 0, of.at);",
"        f[k] = __shfl_sync(~0u, of.at[2], lane / 4 * 4);",
"        if constexpr (P::streamed == 2) f[k] = 1.0f / f[k];",
"        if constexpr (P::streamed == 3) f[k] = 1.0f;",
"        if constexpr (P::bare != 0) f[k] = g.most[k] == -__int_as_float(0x7f800000) \? __int_as_float(0x7fffffff) : f[k];",
"    }",
"    g.scale_by(f);",
"}",
"// fn: chain_begin",
"template <class P> TC_FN void TC_N(chain_begin)(TC_N(chain_group)<P> &g, TC_N(chain_memory)<P> &memory, const TC_N(chain_turn)<P::stages> &turn, const char *left) {",
"    typedef TC_N(chain_memory)<P> M;",
"    TC_N(semaphore_wait)(memory.full + turn.at, turn.parity);",
"    TC_N(matrix_begin)();",
"    TC_N(chain_product)<P, (int)P::depth>(g.score, left, memory.right_at(turn.at));",
"    if constexpr (P::next != 0) TC_N(chain_product)<P, (int)P::next>(g.other, left + (int)M::left, memory.right_at(turn.at) + (int)M::right);",
"    TC_N(matrix_commit)();",
"}",
"// fn: chain_end",
"template <class P> TC_FN void TC_N(chain_end)(TC_N(chain_group)<P> &g, TC_N(chain_memory)<P> &memory, const TC_N(chain_turn)<P::stages> &turn) {",
"    if constexpr (!P::same) TC_N(semaphore_wait)(memory.value_full + turn.at, turn.parity);",
"    TC_N(matrix_begin)();",
"    TC_N(chain_add)<P, (int)P::wide>(g.sum, g.made, memory.value_at(turn.at));",
"    TC_N(matrix_commit)();",
"}",
"// fn: chain_made",
"template <class P, class I, class Score>",
"TC_FN void TC_N(chain_made)(TC_N(chain_group)<P> &g, TC_N(chain_memory)<P> &memory, int at, int own, const TC_N(chain_block)<P, I> &b, int step, I m, I keys, float (&f)[2], Score score) {",
"    const bool tells = threadIdx.x % 32 == 0;",
"    const I row = b.down + (I)(threadIdx.x / 32 * 16), c0 = b.begin + (I)step * P::cols;",
"    TC_N(matrix_keep)(g.score), TC_N(matrix_keep)(g.other);",
"    if (tells && !P::same && !P::columns) TC_N(semaphore_arrive)(memory.empty + at);",
"    if (tells && step + 1 == b.steps) TC_N(semaphore_arrive)(memory.left_empty + own);",
"    if constexpr (P::streamed && !P::scale) TC_N(chain_ask)<P, 1, float>(g, nullptr, memory.column_at(at), b.batch * m, row, m, c0, keys, score);",
"    if constexpr (!P::streamed) TC_N(chain_ask)<P, P::next \? 2 : 1, typename P::element>(g, g.coming, memory.column_at(at), b.batch * m, row, m, c0, keys, score);",
"    if (TC_N(chain_edge)<P>(row, c0, keys)) TC_N(chain_leave_out)<P>(g, P::streamed \? nullptr : g.coming, -__int_as_float(0x7f800000), row, c0, keys);",
"    if (!P::same && P::columns) TC_N(semaphore_arrive)(memory.empty + at);",
"    if constexpr (P::streamed) TC_N(chain_soften)<P>(g, f);",
"}",
"// fn: chain_flow",
"template <class P, class I, class Score>",
"TC_FN void TC_N(chain_flow)(TC_N(chain_group)<P> &g, TC_N(chain_memory)<P> &memory, TC_N(chain_turn)<P::stages> &turn, int own, const TC_N(chain_block)<P, I> &b, I m, I keys, Score score) {",
"    const bool tells = P::same \? memory.tells_step() : threadIdx.x % 32 == 0;",
"    const char *const left = memory.left_at(own) + threadIdx.x / 128 * 8192;",
"    tc_u64 *const free = P::same \? memory.empty : memory.value_empty;",
"    TC_N(chain_turn)<P::stages> last = turn;",
"    const unsigned none = threadIdx.z;",
"    float f[2];",
"    if (!b.steps) return;",
"    TC_N(chain_begin)(g, memory, turn, left);",
"    TC_N(matrix_wait)<0>();",
"    TC_N(chain_made)(g, memory, turn.at, own, b, 0, m, keys, f, score);",
"    g.take(none);",
"    turn.next();",
"    #pragma unroll 1",
"    for (int step = 1; step < b.steps; step++, turn.next(), last.next()) {",
"        TC_N(chain_begin)(g, memory, turn, left);",
"        TC_N(chain_end)(g, memory, last);",
"        TC_N(matrix_wait)<1>();",
"        TC_N(chain_made)(g, memory, turn.at, own, b, step, m, keys, f, score);",
"        TC_N(matrix_wait)<0>();",
"        TC_N(matrix_keep)(g.sum);",
"        if (tells) TC_N(semaphore_arrive)(free + last.at);",
"        if constexpr (P::streamed) g.scale_by(f);",
"        g.take(none);",
"    }",
"    TC_N(chain_end)(g, memory, last);",
"    TC_N(matrix_wait)<0>();",
"    TC_N(matrix_keep)(g.sum);",
"    if (tells) TC_N(semaphore_arrive)(free + last.at);",
"}",
"// fn: chain_pair",
"template <class P, class I, class Next, class Score>",
"TC_FN void TC_N(chain_pair)(TC_N(chain_group)<P> &g, TC_N(chain_memory)<P> &memory, TC_N(chain_turn)<P::stages> &turn, int own, const TC_N(chain_block)<P, I> &b, I m, I keys, Next next, Score score) {",
"    typedef TC_N(chain_memory)<P> M;",
"    const bool tells = threadIdx.x % 32 == 0;",
"    const char *const left = memory.left_at(own) + threadIdx.x / 128 * 8192;",
"    const I row = b.down + (I)(threadIdx.x / 32 * 16);",
"    tc_u64 *before = nullptr;",
"    #pragma unroll 1",
"    for (int step = 0; step < b.steps; step++, turn.next()) {",
"        const char *const right = memory.right_at(turn.at);",
"        const float *const column = memory.column_at(turn.at);",
"        const I c0 = b.begin + (I)step * P::cols;",
"        const bool edge = TC_N(chain_edge)<P>(row, c0, keys);",
"        TC_N(semaphore_wait)(memory.full + turn.at, turn.parity);",
"        TC_N(matrix_begin)();",
"        TC_N(chain_product)<P, (int)P::depth>(g.score, left, right);",
"        TC_N(matrix_commit)();",
"        TC_N(matrix_wait)<1>();",
"        TC_N(matrix_keep)(g.sum), TC_N(matrix_keep)(g.sum_next);",
"        if (memory.tells_step() && before) TC_N(semaphore_arrive)(before);",
"        before = memory.empty + turn.at;",
"        TC_N(matrix_begin)();",
"        TC_N(chain_product)<P, (int)P::next>(g.other, left + (int)M::left, right + (int)M::right);",
"        TC_N(matrix_commit)();",
"        TC_N(matrix_wait)<1>();",
"        TC_N(matrix_keep)(g.score);",
"        TC_N(chain_ask)<P, 1, float>(g, nullptr, column, b.batch * m, row, m, c0, keys, next);",
"        if (edge) TC_N(chain_leave_out)<P>(g, nullptr, 0.0f, row, c0, keys);",
"        #pragma unroll",
"        for (int i = 0; i < P::cols / 2; i += 2) g.made_next[i / 8][i / 4 % 2 * 2 + i / 2 % 2] = P::pack_two(g.score[i], g.score[i + 1]);",
"        TC_N(matrix_begin)();",
"        TC_N(chain_add)<P, (int)P::next>(g.sum_next, g.made_next, right + (int)M::right);",
"        TC_N(matrix_commit)();",
"        TC_N(matrix_wait)<1>();",
"        TC_N(matrix_keep)(g.other);",
"        if (tells && step + 1 == b.steps) TC_N(semaphore_arrive)(memory.left_empty + own);",
"        TC_N(chain_ask)<P, 2, typename P::element>(g, g.made, column, b.batch * m, row, m, c0, keys, score);",
"        if (edge) TC_N(chain_leave_out)<P>(g, g.made, 0.0f, row, c0, keys);",
"        TC_N(matrix_begin)();",
"        TC_N(chain_add)<P, (int)P::wide>(g.sum, g.made, right);",
"        TC_N(matrix_commit)();",
"    }",
"    TC_N(matrix_wait)<0>();",
"    TC_N(matrix_keep)(g.sum), TC_N(matrix_keep)(g.sum_next);",
"    if (memory.tells_step() && before) TC_N(semaphore_arrive)(before);",
"}",
"// fn: chain_bring_columns",
"template <class P, class I, class Columns> TC_FN void TC_N(chain_bring_columns)(TC_N(chain_memory)<P> &memory, I j, I m, I keys, Columns columns) {",
"    typedef TC_N(chain_block)<P, I> Block;",
"    TC_N(chain_turn)<P::stages> turn = {0, 1};",
"    #pragma unroll 1",
"    for (TC_N(chain_walk)<P, I> w(j); w.t < Block::count(m); w.next(j, keys)) {",
"        const Block b(w.t, m, keys);",
"        #pragma unroll 1",
"        for (int step = 0; step < b.steps; step++, turn.next()) {",
"            TC_N(semaphore_wait)(memory.empty + turn.at, turn.parity);",
"            #pragma unroll",
"            for (int i = 0; i < P::cols; i += 32 * P::scores) {",
"                const int at = i + threadIdx.x % 32 * P::scores;",
"                const I c = b.begin + (I)step * P::cols + at;",
"                if (!P::ragged_cols || c < keys) columns(b.batch * m, c, memory.column_at(turn.at) + at * P::columns);",
"            }",
"            TC_N(semaphore_arrive)(memory.full + turn.at);",
"        }",
"    }",
"}",
"// fn: chain_bring_all",
"template <class P, class A, class B, class AN, class BN, class V, class I>",
"TC_FN void TC_N(chain_bring_all)(TC_N(chain_memory)<P> &memory, I j, I m, I keys, const TC_N(map) &left, const TC_N(map) &right, const TC_N(map) &left_next, const TC_N(map) &right_next, const TC_N(map) &value) {",
"    typedef TC_N(chain_memory)<P> M;",
"    typedef TC_N(chain_block)<P, I> Block;",
"    TC_N(chain_turn)<P::stages> turn = {0, 1};",
"    TC_N(chain_turn)<P::ahead> own = {0, 1};",
"    #pragma unroll 1",
"    for (TC_N(chain_walk)<P, I> w(j); w.t < Block::count(m); w.next(j, keys), own.next()) {",
"        const Block b(w.t, m, keys);",
"        const int z = (int)b.batch;",
"        char *const mine = memory.left_at(own.at);",
"        TC_N(semaphore_wait)(memory.left_empty + own.at, own.parity);",
"        TC_N(semaphore_expect)(memory.left_full + own.at, M::lefts);",
"        TC_N(chain_bring)<A, (int)P::rows, (int)P::depth>(mine, left, (int)b.down, z, memory.left_full + own.at);",
"        if constexpr (P::next != 0) TC_N(chain_bring)<AN, (int)P::rows, (int)P::next>(mine + M::left, left_next, (int)b.down, z, memory.left_full + own.at);",
"        #pragma unroll 1",
"        for (int step = 0; step < b.steps; step++, turn.next()) {",
"            const int c = (int)b.begin + step * P::cols;",
"            char *const to = memory.right_at(turn.at);",
"            TC_N(semaphore_wait)(memory.empty + turn.at, turn.parity);",
"            TC_N(semaphore_expect)(memory.full + turn.at, M::rights);",
"            TC_N(chain_bring)<B, (int)P::cols, (int)P::depth>(to, right, c, z, memory.full + turn.at);",
"            if constexpr (P::next != 0) TC_N(chain_bring)<BN, (int)P::cols, (int)P::next>(to + M::right, right_next, c, z, memory.full + turn.at);",
"            if constexpr (!P::same) {",
"                TC_N(semaphore_wait)(memory.value_empty + turn.at, turn.parity);",
"                TC_N(semaphore_expect)(memory.value_full + turn.at, M::stage - M::rights);",
"                TC_N(chain_bring)<V, (int)P::cols, (int)P::wide>(memory.value_at(turn.at), value, c, z, memory.value_full + turn.at);",
"            }",
"        }",
"    }",
"}",
"// fn: chain_give",
"template <class P, int WIDE, int RAGGED, class I, class Result> TC_FN void TC_N(chain_give)(float (&sum)[WIDE / 2], I first, I row, I m, I wide, Result result) {",
"    TC_N(give_fours)<WIDE, (int)P::width>(sum, row, [](I, I) { return TC_N(nothing){}; }, [&](const float *some, I r, I c, TC_N(nothing)) {",
"        if ((P::ragged_rows && r >= m) || (RAGGED && c >= wide)) return;",
"        result(first + r, c, some);",
"    });",
"}",
"// fn: mapped_chain",
"template <class P, class A, class B, class AN, class BN, class V, class I, class Columns, class Next, class Score, class Share, class Result, class ResultNext>",
"TC_FN void TC_N(mapped_chain)(char *shared, I j, I m, I n, I keys, const TC_N(map) &left, const TC_N(map) &right, const TC_N(map) &left_next, const TC_N(map) &right_next, const TC_N(map) &value, Columns columns, Next score_next, Score score, Share share, Result result, ResultNext result_next) {",
"    typedef TC_N(chain_block)<P, I> Block;",
"    TC_N(chain_memory)<P> memory(shared);",
"    memory.begin();",
"    if ((int)threadIdx.x >= P::threads) {",
"        TC_N(registers_give)<P::threads == 256 \? 24 : 32>();",
"        if ((int)threadIdx.x == P::threads)",
"            TC_N(chain_bring_all)<P, A, B, AN, BN, V, I>(memory, j, m, keys, left, right, left_next, right_next, value);",
"        if constexpr (P::columns != 0)",
"            if ((int)threadIdx.x / 32 == P::threads / 32 + 1) TC_N(chain_bring_columns)<P>(memory, j, m, keys, columns);",
"        return;",
"    }",
"    TC_N(registers_take)<P::threads == 256 \? 240 : 160>();",
"    TC_N(chain_group)<P> g;",
"    TC_N(chain_turn)<P::stages> turn = {0, 0};",
"    TC_N(chain_turn)<P::ahead> own = {0, 0};",
"    #pragma unroll 1",
"    for (TC_N(chain_walk)<P, I> w(j); w.t < Block::count(m); w.next(j, keys), own.next()) {",
"        const Block b(w.t, m, keys);",
"        const I first = b.batch * m, row = b.down + threadIdx.x / 32 * 16;",
"        g.clear();",
"        TC_N(semaphore_wait)(memory.left_full + own.at, own.parity);",
"        if constexpr (P::pair != 0) TC_N(chain_pair)<P>(g, memory, turn, own.at, b, m, keys, score_next, score);",
"        else TC_N(chain_flow)<P>(g, memory, turn, own.at, b, m, keys, score);",
"        if (threadIdx.x % 32 == 0 && !b.steps) TC_N(semaphore_arrive)(memory.left_empty + own.at);",
"        if constexpr (P::streamed != 0) TC_N(chain_whole)(g, first, row, m, share);",
"        TC_N(chain_give)<P, (int)P::wide, (int)P::ragged_wide>(g.sum, first, row, m, n, result);",
"        if constexpr (P::pair != 0) TC_N(chain_give)<P, (int)P::next, (int)P::ragged_next>(g.sum_next, first, row, m, (I)P::ragged_next, result_next);",
"    }",
"}",
};
// ---- gen/out/text_cuda_decode.inc
static const char*const tc__text_cuda_decode[]={
"// fn: decode_sums",
"template <class P> struct TC_N(decode_sums) {",
"    enum : int { groups = P::threads / P::lanes, deep = P::lanes * 8, warps = P::threads / 32, room = P::rows * (deep + 4) };",
"    float most[P::rows], all[P::rows], o[P::rows][8];",
"    TC_FN float none() { return -__int_as_float(0x7f800000); }",
"    TC_FN float less(float from, float to) { return TC_N(ex2)((from - (to == none() \? 0.0f : to)) * 1.44269502f); }",
"};",
"// fn: decode_keys",
"template <class P> struct TC_N(decode_keys) {",
"    typedef tc_pack<tc_u16, 8> eight;",
"    TC_N(words)<eight> w[P::each];",
"    template <class I, class H> __device__ __forceinline__ void bring(I c0, I end, H hole) {",
"        #pragma unroll",
"        for (int u = 0; u < P::each; u++) {",
"            const I c = c0 + (u * TC_N(decode_sums)<P>::groups + (int)threadIdx.x / P::lanes);",
"            w[u] = TC_N(load_words)((const eight *)hole(P::ragged_cols && c >= end \? end - 1 : c));",
"        }",
"    }",
"    __device__ __forceinline__ float at(int u, int e) const {",
"        return P::of((tc_u16)(e % 2 \? w[u].w[e / 2] >> 16 : w[u].w[e / 2]));",
"    }",
"};",
"// fn: decode_scores",
"template <class P, class I, class Score>",
"TC_FN void TC_N(decode_scores)(float (&s)[P::rows][P::each], const TC_N(decode_keys)<P> &key, const float (&q)[P::rows][8], I r0, I c0, I end, Score score) {",
"    typedef TC_N(decode_sums)<P> S;",
"    const bool deep = P::depth == S::deep || (int)threadIdx.x % P::lanes * 8 < P::depth;",
"    #pragma unroll",
"    for (int u = 0; u < P::each; u++) {",
"        #pragma unroll",
"        for (int i = 0; i < P::rows; i++) {",
"            float sum = 0;",
"            #pragma unroll",
"            for (int e = 0; e < 8; e++) sum = fmaf(q[i][e], key.at(u, e), sum);",
"            s[i][u] = deep \? sum : 0;",
"        }",
"    }",
"    #pragma unroll",
"    for (int o = P::lanes / 2; o; o /= 2) {",
"        #pragma unroll",
"        for (int k = 0; k < P::rows * P::each; k++)",
"            s[k / P::each][k % P::each] += __shfl_xor_sync(~0u, s[k / P::each][k % P::each], o);",
"    }",
"    #pragma unroll",
"    for (int k = 0; k < P::rows * P::each; k++) {",
"        const int i = k / P::each, u = k % P::each;",
"        const I c = c0 + (u * S::groups + (int)threadIdx.x / P::lanes);",
"        float sum[1] = {s[i][u]};",
"        float made[1] = {S::none()};",
"        if (!P::ragged_cols || c < end) score(r0 + i, c, sum, made);",
"        s[i][u] = made[0];",
"    }",
"}",
"// fn: decode_add",
"template <class P, class I> TC_FN void TC_N(decode_add)(TC_N(decode_sums)<P> &t, float (&s)[P::rows][P::each], const TC_N(decode_keys)<P> &value, I c0, I end) {",
"    typedef TC_N(decode_sums)<P> S;",
"    #pragma unroll",
"    for (int i = 0; i < P::rows; i++) {",
"        float top = t.most[i];",
"        #pragma unroll",
"        for (int u = 0; u < P::each; u++) top = fmaxf(top, s[i][u]);",
"        const float f = S::less(t.most[i], top);",
"        t.most[i] = top, t.all[i] *= f;",
"        #pragma unroll",
"        for (int e = 0; e < 8; e++) t.o[i][e] *= f;",
"        #pragma unroll",
"        for (int u = 0; u < P::each; u++) s[i][u] = S::less(s[i][u], top), t.all[i] += s[i][u];",
"    }",
"    #pragma unroll",
"    for (int u = 0; u < P::each; u++) {",
"        const bool inside = !P::ragged_cols || c0 + (u * S::groups + (int)threadIdx.x / P::lanes) < end;",
"        #pragma unroll",
"        for (int e = 0; e < 8; e++) {",
"            const float v = inside \? value.at(u, e) : 0;",
"            #pragma unroll",
"            for (int i = 0; i < P::rows; i++) t.o[i][e] = fmaf(s[i][u], v, t.o[i][e]);",
"        }",
"    }",
"}",
"// fn: decode_read",
"template <class P, class I, class Left, class Right, class Value, class Score>",
"TC_FN void TC_N(decode_read)(TC_N(decode_sums)<P> &t, I r0, I begin, I end, Left left, Right right, Value value, Score score) {",
"    typedef TC_N(decode_sums)<P> S;",
"    typedef TC_N(decode_keys)<P> K;",
"    const int lane = (int)threadIdx.x % P::lanes * 8;",
"    const int deep = P::depth == S::deep || lane < P::depth \? lane : 0, wide = P::wide == S::deep || lane < P::wide \? lane : 0;",
"    auto key_at = [&](I c) { return right(r0, c, (I)deep, true); };",
"    auto value_at = [&](I c) { return value(r0, (I)wide, c, true); };",
"    K key, v;",
"    float q[P::rows][8];",
"    key.bring(begin, end, key_at);",
"    v.bring(begin, end, value_at);",
"    #pragma unroll",
"    for (int i = 0; i < P::rows; i++) {",
"        const tc_pack<tc_u16, 8> some = *(const tc_pack<tc_u16, 8> *)left((I)0, r0 + i, (I)deep, true);",
"        #pragma unroll",
"        for (int e = 0; e < 8; e++) q[i][e] = P::of(some.at[e]);",
"    }",
"    #pragma unroll 1",
"    for (I c0 = begin;;) {",
"        float s[P::rows][P::each];",
"        const I next = c0 + S::groups * P::each;",
"        const bool more = !P::single && next < end;",
"        TC_N(decode_scores)<P>(s, key, q, r0, c0, end, score);",
"        if (more) key.bring(next, end, key_at);",
"        TC_N(decode_add)<P>(t, s, v, c0, end);",
"        if (!more) return;",
"        v.bring(next, end, value_at);",
"        c0 = next;",
"    }",
"}",
"// fn: decode_warp",
"template <class P> TC_FN void TC_N(decode_warp)(TC_N(decode_sums)<P> &t) {",
"    #pragma unroll",
"    for (int o = P::lanes; o < 32; o *= 2) {",
"        #pragma unroll",
"        for (int i = 0; i < P::rows; i++) {",
"            const float most = __shfl_xor_sync(~0u, t.most[i], o), all = __shfl_xor_sync(~0u, t.all[i], o), top = fmaxf(t.most[i], most);",
"            const float f = t.less(t.most[i], top), g = t.less(most, top);",
"            t.most[i] = top, t.all[i] = fmaf(t.all[i], f, all * g);",
"            #pragma unroll",
"            for (int e = 0; e < 8; e++) t.o[i][e] = fmaf(t.o[i][e], f, __shfl_xor_sync(~0u, t.o[i][e], o) * g);",
"        }",
"    }",
"}",
"// fn: decode_have",
"struct TC_N(decode_have) {",
"    float most, all, o;",
"};",
"// fn: decode_join",
"template <class P, int N, class Read> TC_FN TC_N(decode_have) TC_N(decode_join)(int i, int d, Read read) {",
"    typedef TC_N(decode_sums)<P> S;",
"    enum : int { together = N < 16 \? N : 16 };",
"    TC_N(decode_have) have = {S::none(), 0, 0};",
"    #pragma unroll 1",
"    for (int n = 0; n < N; n += together) {",
"        float most[together], all[together], o[together], top = have.most;",
"        #pragma unroll",
"        for (int k = 0; k < together; k++) {",
"            const int part = N % together == 0 || n + k < N \? n + k : N - 1;",
"            most[k] = read(part, P::rows * S::deep + i * 2), all[k] = read(part, P::rows * S::deep + i * 2 + 1);",
"            o[k] = read(part, i * S::deep + d);",
"        }",
"        #pragma unroll",
"        for (int k = 0; k < together; k++) top = fmaxf(top, most[k]);",
"        const float f = S::less(have.most, top);",
"        have.most = top, have.all *= f, have.o *= f;",
"        #pragma unroll",
"        for (int k = 0; k < together; k++) {",
"            const float g = S::less(most[k], top);",
"            if (N % together != 0 && n + k >= N) continue;",
"            have.all = fmaf(all[k], g, have.all), have.o = fmaf(o[k], g, have.o);",
"        }",
"    }",
"    return have;",
"}",
"// fn: decode_last",
"TC_FN int TC_N(decode_last)(unsigned *ticket, unsigned n) {",
"    int last = 0;",
"    __syncthreads();",
"    if (threadIdx.x == 0) {",
"        __threadfence();",
"        last = atomicAdd(ticket, 1u) == n - 1;",
"        if (last) *ticket = 0;",
"        __threadfence();",
"    }",
"    return __syncthreads_or(last);",
"}",
"// fn: decode_meet",
"template <class P, int EACH> TC_FN bool TC_N(decode_meet)(TC_N(decode_have) (&have)[EACH], float *near, unsigned *ticket, float *work, int slice) {",
"    typedef TC_N(decode_sums)<P> S;",
"    enum : int { places = P::rows * S::deep };",
"    float *const all = P::cluster \? near : work;",
"    auto put = [&](int place, float v) {",
"        if constexpr (P::cluster) TC_N(cluster_store)(&all[slice * S::room + place], 0, v);",
"        else all[slice * S::room + place] = v;",
"    };",
"    if constexpr (P::cluster) TC_N(cluster_wait)();",
"    #pragma unroll",
"    for (int k = 0; k < EACH; k++) {",
"        const int at = threadIdx.x + k * P::threads, i = at / S::deep;",
"        if (at >= places) continue;",
"        put(at, have[k].o);",
"        if (at % S::deep == 0) put(places + i * 2, have[k].most), put(places + i * 2 + 1, have[k].all);",
"    }",
"    if constexpr (P::cluster) {",
"        TC_N(cluster_arrive)(), TC_N(cluster_wait)();",
"        if (slice) return false;",
"    } else if (!TC_N(decode_last)(ticket, P::slices)) {",
"        return false;",
"    }",
"    #pragma unroll",
"    for (int k = 0; k < EACH; k++) {",
"        const int at = threadIdx.x + k * P::threads;",
"        if (at < places) have[k] = TC_N(decode_join)<P, (int)P::slices>(at / S::deep, at % S::deep, [&](int part, int place) {",
"            if constexpr (P::cluster) return all[part * S::room + place];",
"            else return TC_N(peek)(&all[part * S::room + place]);",
"        });",
"    }",
"    return true;",
"}",
"// fn: decode_give",
"template <class P, int EACH, class I, class Share, class Result>",
"TC_FN void TC_N(decode_give)(const TC_N(decode_have) (&have)[EACH], float *factor, I r0, I n, Share share, Result result) {",
"    typedef TC_N(decode_sums)<P> S;",
"    __syncthreads();",
"    #pragma unroll",
"    for (int k = 0; k < EACH; k++) {",
"        const int at = threadIdx.x + k * P::threads, i = at / S::deep;",
"        if (i >= P::rows || at % S::deep) continue;",
"        float of[4] = {have[k].most, have[k].all, 0, 0};",
"        share(r0 + i, 0, of);",
"        float f = of[2];",
"        if constexpr (P::streamed == 2) f = 1.0f / f;",
"        if constexpr (P::streamed == 3) f = 1.0f;",
"        if constexpr (P::bare != 0) f = of[0] == S::none() \? __int_as_float(0x7fffffff) : f;",
"        factor[i] = f;",
"    }",
"    __syncthreads();",
"    #pragma unroll",
"    for (int k = 0; k < EACH; k++) {",
"        const int at = threadIdx.x + k * P::threads, i = at / S::deep;",
"        const float sums[1] = {have[k].o * (i < P::rows \? factor[i] : 0)};",
"        if (i < P::rows && at % S::deep < n) result(r0 + i, (I)(at % S::deep), sums);",
"    }",
"}",
"// fn: decode",
"template <class P, class I, class Left, class Right, class Value, class Score, class Share, class Result>",
"TC_FN void TC_N(decode)(char *shared, unsigned *tickets, float *work, I j, I, I n, I keys, Left left, Right right, Value value, Score score, Share share, Result result) {",
"    typedef TC_N(decode_sums)<P> S;",
"    enum : int { places = P::rows * S::deep, each = (places + P::threads - 1) / P::threads };",
"    const int slice = P::slices > 1 \? (int)((unsigned)j % (unsigned)P::slices) : 0, lane = (int)threadIdx.x % 32;",
"    const I block = P::slices > 1 \? (I)((unsigned)j / (unsigned)P::slices) : j, r0 = block * P::rows;",
"    I begin = P::band & 1 && P::low > 0 \? (I)P::low : 0, end = P::band & 2 && P::up < keys \? (I)P::up : keys;",
"    if constexpr (P::slices > 1) {",
"        const I length = end > begin \? (end - begin + (P::slices * S::groups - 1)) / (P::slices * S::groups) * S::groups : 0;",
"        begin += slice * length;",
"        if (begin + length < end) end = begin + length;",
"    }",
"    if constexpr (P::cluster) TC_N(cluster_begun)();",
"    S t;",
"    #pragma unroll",
"    for (int i = 0; i < P::rows; i++) {",
"        t.most[i] = S::none(), t.all[i] = 0;",
"        #pragma unroll",
"        for (int e = 0; e < 8; e++) t.o[i][e] = 0;",
"    }",
"    if (begin < end) TC_N(decode_read)<P>(t, r0, begin, end, left, right, value, score);",
"    TC_N(decode_warp)<P>(t);",
"    float *const parts = (float *)shared, *const mine = parts + threadIdx.x / 32 * S::room;",
"    #pragma unroll",
"    for (int i = 0; i < P::rows; i++) {",
"        if (lane >= P::lanes) continue;",
"        #pragma unroll",
"        for (int e = 0; e < 8; e += 4) *(tc_pack<float, 4> *)&mine[i * S::deep + lane * 8 + e] = {t.o[i][e], t.o[i][e + 1], t.o[i][e + 2], t.o[i][e + 3]};",
"        if (lane == 0) mine[places + i * 2] = t.most[i], mine[places + i * 2 + 1] = t.all[i];",
"    }",
"    __syncthreads();",
"    TC_N(decode_have) have[each];",
"    #pragma unroll",
"    for (int k = 0; k < each; k++) {",
"        const int at = threadIdx.x + k * P::threads;",
"        if (at < places) have[k] = TC_N(decode_join)<P, (int)S::warps>(at / S::deep, at % S::deep, [&](int part, int place) { return parts[part * S::room + place]; });",
"    }",
"    if constexpr (P::slices > 1) {",
"        if (!TC_N(decode_meet)<P, each>(have, parts + S::warps * S::room, tickets + block, work + (tc_i64)block * (P::slices * S::room), slice)) return;",
"    }",
"    TC_N(decode_give)<P, each>(have, parts, r0, n, share, result);",
"}",
};
// ---- gen/out/text_cuda_skinny.inc
static const char*const tc__text_cuda_skinny[]={
"// fn: skinny_block",
"template <class P, class I> struct TC_N(skinny_block) {",
"    typedef typename P::sum T;",
"    enum : int {",
"        lanes = P::threads / P::sharing,",
"        high = P::by_rows \? P::cover : P::few,",
"        broad = P::by_rows \? P::few : P::cover,",
"        many = P::few * P::cover,",
"        parts = P::dot \? (P::sharing > 32 \? P::sharing / 32 : 1) : P::threads / 32,",
"        each = P::dot \? P::each : P::width,",
"        packs = P::dot \? P::each : 1,",
"        deep = P::dot \? P::width : 1,",
"        stride = P::sharing * deep,",
"        sums = P::few * each",
"    };",
"    typedef tc_pack<T, P::width> wide_packs[packs];",
"    typedef T all_sums[P::few][each];",
"    int slice, x, y, lane, group, own;",
"    I block, r0, r1, c0, n, begin, end;",
"    __device__ __forceinline__ void first(I j, I m, I cols, I depth) {",
"        const I down = (m + (high - 1)) / high, across = (cols + (broad - 1)) / broad;",
"        slice = P::slices > 1 \? (int)((unsigned)j % (unsigned)P::slices) : 0;",
"        block = P::slices > 1 \? (I)((unsigned)j / (unsigned)P::slices) : j;",
"        const I place = P::batches \? block % (down * across) : block, batch = P::batches \? block / (down * across) * m : 0;",
"        r0 = batch + place / across * high, r1 = batch + m, c0 = place % across * broad, n = cols;",
"        begin = P::slices > 1 \? (I)slice * P::length : 0;",
"        end = P::slices > 1 && (!P::ragged_depth || begin + P::length < depth) \? begin + P::length : depth;",
"        x = threadIdx.x % lanes * P::width, y = threadIdx.x / lanes;",
"        lane = threadIdx.x % P::sharing, group = threadIdx.x / P::sharing * P::each;",
"        own = P::dot \? lane * P::width : y;",
"    }",
"    __device__ __forceinline__ I row(I r, int width) const { return P::ragged_rows && r > r1 - width \? r1 - width : r; }",
"    __device__ __forceinline__ I column(I c, int width) const { return P::ragged_cols && c > n - width \? n - width : c; }",
"    template <class H> __device__ __forceinline__ void wides(I k, wide_packs &wide, H hole) const {",
"        #pragma unroll",
"        for (int u = 0; u < packs; u++) {",
"            const int line = P::dot \? group + u : x, width = P::dot \? 1 : P::width;",
"            if constexpr (P::by_rows) hole((I)line, row(r0 + line, width), k, wide[u].at);",
"            else hole(r0, column(c0 + line, width), k, wide[u].at);",
"        }",
"    }",
"    template <class H> __device__ __forceinline__ void step(all_sums &sum, I k, const wide_packs &wide, H hole) const {",
"        #pragma unroll",
"        for (int i = 0; i < P::few; i++) {",
"            tc_pack<T, deep> few;",
"            if constexpr (P::by_rows) hole(r0, (I)i, k, few.at);",
"            else hole((I)i, row(r0 + i, 1), k, few.at);",
"            #pragma unroll",
"            for (int u = 0; u < each * deep; u++)",
"                sum[i][u / deep] = TC_N(add_product)(few.at[u % deep], wide[P::dot \? u / deep : 0].at[P::dot \? u % deep : u], sum[i][u / deep]);",
"        }",
"    }",
"    __device__ __forceinline__ void put(const all_sums &sum, T *tile) const {",
"        #pragma unroll",
"        for (int i = 0; i < sums; i++) {",
"            T v = sum[i / each][i % each];",
"            if constexpr (!P::dot) {",
"                for (int o = 16; o >= lanes; o /= 2) v = TC_N(plus)(v, __shfl_xor_sync(~0u, v, o));",
"                if ((int)threadIdx.x % 32 < lanes) tile[(threadIdx.x / 32 * P::few + i / each) * P::cover + x + i % each] = v;",
"            } else {",
"                for (int o = P::sharing > 32 \? 16 : P::sharing / 2; o; o /= 2) v = TC_N(plus)(v, __shfl_xor_sync(~0u, v, o));",
"                if (lane % 32 == 0) tile[lane / 32 * many + i / each * P::cover + group + i % each] = v;",
"            }",
"        }",
"    }",
"    __device__ __forceinline__ I row_of(int at) const { return r0 + (P::by_rows \? at % P::cover : at / P::cover); }",
"    __device__ __forceinline__ I column_of(int at) const { return P::by_rows \? (I)(at / P::cover) : c0 + at % P::cover; }",
"};",
"// fn: make_rows",
"template <class P, class I, class Block, class Rows> TC_FN void TC_N(make_rows)(const Block &b, Rows rows) {",
"    const int together = P::threads / P::making, turns = (b.high + together - 1) / together;",
"    #pragma unroll 1",
"    for (int t = 0; t < turns; t++) {",
"        const I r = b.r0 + t * together + threadIdx.x / P::making;",
"        rows((I)t, r < b.r1 \? r : b.r1 - 1, b.c0);",
"    }",
"    __syncthreads();",
"}",
"// fn: skinny",
"template <class P, class I, class Rows, class Wide, class Few, class Ahead, class Early, class Result>",
"TC_FN void TC_N(skinny)(char *shared, unsigned *tickets, typename P::sum *work, I j, I m, I n, I depth, Rows rows, Wide wide_hole, Few few_hole,",
"                        Ahead ahead, Early early, Result result, tc_i64 beside) {",
"    typedef typename P::sum T;",
"    typedef TC_N(skinny_block)<P, I> B;",
"    T *const tile = (T *)shared;",
"    typename B::wide_packs held[P::steps > 0 \? P::steps : 1];",
"    typename B::all_sums sum;",
"    B b;",
"    b.first(j, m, n, depth);",
"    #pragma unroll",
"    for (int i = 0; i < B::sums; i++) sum[i / B::each][i % B::each] = 0;",
"    if constexpr (P::steps > 0) {",
"        #pragma unroll",
"        for (int s = 0; s < P::steps; s++) {",
"            const I k = b.own + s * B::stride;",
"            b.wides(k < depth - B::deep \? k : depth - B::deep, held[s], wide_hole);",
"        }",
"    }",
"    if constexpr (P::early) {",
"        const int at = threadIdx.x < B::many \? threadIdx.x : B::many - 1;",
"        early(b.row(b.row_of(at), 1), b.column(b.column_of(at), 1));",
"    }",
"    if constexpr (P::making > 0) TC_N(make_rows)<P, I>(b, rows);",
"    if constexpr (P::steps > 0) {",
"        #pragma unroll",
"        for (int s = 0; s < P::steps; s++) {",
"            const I k = b.own + s * B::stride;",
"            if (k < depth) b.step(sum, k, held[s], few_hole);",
"        }",
"    } else {",
"        if constexpr (P::ahead && P::by_rows) ahead(b.r0, b.row(b.r0 + b.x, P::width));",
"        if constexpr (P::ahead && !P::by_rows) ahead(b.r0, b.column(b.c0 + b.x, P::width));",
"        #pragma unroll (P::unrolled)",
"        for (I k = b.begin + b.own; k < b.end; k += B::stride) {",
"            b.wides(k, held[0], wide_hole);",
"            b.step(sum, k, held[0], few_hole);",
"        }",
"    }",
"    TC_N(follow)(beside);",
"    if constexpr (P::slices > 1)",
"        if (!TC_N(meet)<P, B::sums>(&sum[0][0], tickets, work, b.block, b.slice)) return;",
"    b.put(sum, tile);",
"    __syncthreads();",
"    for (int at = threadIdx.x; at < B::many; at += P::threads) {",
"        const I r = b.row_of(at), c = b.column_of(at);",
"        if ((P::ragged_rows && r >= b.r1) || (P::ragged_cols && c >= n)) continue;",
"        T all[1] = {tile[at]};",
"        for (int i = 1; i < B::parts; i++) all[0] = TC_N(plus)(all[0], tile[at + i * B::many]);",
"        result(r, c, all);",
"    }",
"}",
};
// ---- gen/out/text_cuda_scan.inc
static const char*const tc__text_cuda_scan[]={
"// fn: sums",
"template <class T> struct TC_N(sums) {",
"    TC_FN T none() { return 0; }",
"    TC_FN T with(T a, T b) { return a + b; }",
"};",
"// fn: products",
"template <class T> struct TC_N(products) {",
"    TC_FN T none() { return 1; }",
"    TC_FN T with(T a, T b) { return a * b; }",
"};",
"// fn: scan_warp",
"template <class F, class T> TC_FN T TC_N(scan_warp)(T x) {",
"    const int lane = threadIdx.x % 32;",
"    for (int o = 1; o < 32; o *= 2) {",
"        const T y = __shfl_up_sync(~0u, x, o);",
"        if (lane >= o) x = F::with(y, x);",
"    }",
"    return x;",
"}",
"// fn: scan_load",
"template <class F, class T, int V>",
"TC_FN tc_pack<T, V> TC_N(scan_load)(const T *x, tc_i64 c, tc_i64 n) {",
"    tc_pack<T, V> v;",
"    for (int j = 0; j < V; j++) v.at[j] = F::none();",
"    if (c < n) v = *(const tc_pack<T, V> *)&x[c];",
"    return v;",
"}",
"// fn: scan_store",
"template <class F, class T, int V>",
"TC_FN void TC_N(scan_store)(T *y, tc_i64 c, tc_i64 n, T before, tc_pack<T, V> v) {",
"    for (int j = 0; j < V; j++) v.at[j] = F::with(before, v.at[j]);",
"    if (c < n) *(tc_pack<T, V> *)&y[c] = v;",
"}",
"// fn: scan_lines",
"template <class F, class T, int V>",
"TC_FN void TC_N(scan_lines)(const T *x, T *y, tc_i64 rows, tc_i64 n) {",
"    const int lane = threadIdx.x % 32;",
"    for (tc_i64 r = (tc_i64)blockIdx.x * 8 + threadIdx.x / 32; r < rows;",
"         r += (tc_i64)gridDim.x * 8) {",
"        T carry = F::none();",
"        for (tc_i64 begin = 0; begin < n; begin += 32 * V) {",
"            const tc_i64 c = begin + lane * V;",
"            tc_pack<T, V> v = TC_N(scan_load)<F, T, V>(x + r * n, c, n);",
"            for (int j = 1; j < V; j++) v.at[j] = F::with(v.at[j - 1], v.at[j]);",
"            const T upto = TC_N(scan_warp)<F>(v.at[V - 1]);",
"            const T left = __shfl_up_sync(~0u, upto, 1);",
"            TC_N(scan_store)<F, T, V>(y + r * n, c, n,",
"                                     lane \? F::with(carry, left) : carry, v);",
"            carry = F::with(carry, __shfl_sync(~0u, upto, 31));",
"        }",
"    }",
"}",
"// fn: scan_tile",
"template <class F, class T, int V>",
"TC_FN T TC_N(scan_tile)(tc_pack<T, V> (&v)[4], T *part) {",
"    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;",
"    T upto[4];",
"    for (int k = 0; k < 4; k++) {",
"        for (int j = 1; j < V; j++)",
"            v[k].at[j] = F::with(v[k].at[j - 1], v[k].at[j]);",
"        upto[k] = TC_N(scan_warp)<F>(v[k].at[V - 1]);",
"        if (lane == 31) part[k * 8 + warp] = upto[k];",
"    }",
"    __syncthreads();",
"    if (warp == 0) part[lane] = TC_N(scan_warp)<F>(part[lane]);",
"    __syncthreads();",
"    for (int k = 0; k < 4; k++) {",
"        const T left = __shfl_up_sync(~0u, upto[k], 1);",
"        T before = F::none();",
"        if (k * 8 + warp) before = part[k * 8 + warp - 1];",
"        if (lane) before = F::with(before, left);",
"        for (int j = 0; j < V; j++) v[k].at[j] = F::with(before, v[k].at[j]);",
"    }",
"    return part[31];",
"}",
"// fn: scan_rows",
"template <class F, class T, int V>",
"TC_FN void TC_N(scan_rows)(const T *x, T *y, tc_i64 rows, tc_i64 n) {",
"    __shared__ T part[2 * 32];",
"    tc_pack<T, V> v[4], next[4];",
"    int turn = 0;",
"    for (tc_i64 r = blockIdx.x; r < rows; r += gridDim.x) {",
"        T carry = F::none();",
"        tc_i64 c = threadIdx.x * V;",
"        for (int k = 0; k < 4; k++)",
"            next[k] = TC_N(scan_load)<F, T, V>(x + r * n, c + k * 256 * V, n);",
"        for (tc_i64 begin = 0; begin < n; begin += 1024 * V) {",
"            for (int k = 0; k < 4; k++) {",
"                v[k] = next[k];",
"                next[k] =",
"                    TC_N(scan_load)<F, T, V>(x + r * n, c + (k * 256 + 1024) * V, n);",
"            }",
"            const T all = TC_N(scan_tile)<F, T, V>(v, part + turn * 32);",
"            for (int k = 0; k < 4; k++)",
"                TC_N(scan_store)<F, T, V>(y + r * n, c + k * 256 * V, n, carry,",
"                                         v[k]);",
"            carry = F::with(carry, all);",
"            c += 1024 * V;",
"            turn ^= 1;",
"        }",
"    }",
"}",
"// fn: word_of",
"template <class T> struct TC_N(word_of) {",
"    TC_FN tc_u64 bits(T x) { return (tc_u64)x; }",
"    TC_FN T value(tc_u64 w) { return (T)w; }",
"};",
"// fn: word_of",
"template <> struct TC_N(word_of)<float> {",
"    TC_FN tc_u64 bits(float x) { return __float_as_uint(x); }",
"    TC_FN float value(tc_u64 w) { return __uint_as_float((unsigned)w); }",
"};",
"// fn: word_of",
"template <> struct TC_N(word_of)<double> {",
"    TC_FN tc_u64 bits(double x) { return (tc_u64)__double_as_longlong(x); }",
"    TC_FN double value(tc_u64 w) { return __longlong_as_double((tc_i64)w); }",
"};",
"// fn: slot",
"template <class T> struct TC_N(slot) {",
"    volatile tc_u64 word[sizeof(T) / 4];",
"    __device__ __forceinline__ void put(T v) {",
"        const tc_u64 bits = TC_N(word_of)<T>::bits(v);",
"        for (int i = 0; i < (int)sizeof(T) / 4; i++)",
"            word[i] = 1ull << 32 | (bits >> 32 * i & 0xffffffff);",
"    }",
"    __device__ __forceinline__ bool get(T &v) {",
"        tc_u64 bits = 0;",
"        tc_u64 there = 1;",
"        for (int i = 0; i < (int)sizeof(T) / 4; i++) {",
"            const tc_u64 w = word[i];",
"            there &= w >> 32;",
"            bits |= (w & 0xffffffff) << 32 * i;",
"        }",
"        if (there) v = TC_N(word_of)<T>::value(bits);",
"        return there;",
"    }",
"};",
"// fn: look_back",
"template <class F, class T>",
"TC_FN T TC_N(look_back)(TC_N(slot)<T> *slot, tc_i64 tiles, tc_i64 t, T all) {",
"    const int lane = threadIdx.x % 32, i = (int)(t % 32);",
"    const tc_i64 g = t / 32, groups = (tiles + 31) / 32;",
"    TC_N(slot)<T> *own = slot, *whole = slot + tiles, *before = whole + groups;",
"    T x = F::none(), sum = F::none();",
"    if (lane == 0) own[t].put(all);",
"    for (bool there = false; !__all_sync(~0u, there);)",
"        there = lane >= i || own[g * 32 + lane].get(x);",
"    if (lane == i) x = all;",
"    x = TC_N(scan_warp)<F>(x);",
"    if (lane == 31 && i == 31) whole[g].put(x);",
"    const T near = __shfl_sync(~0u, x, i \? i - 1 : 0);",
"    int from = -1;",
"    while (g > 0 && from < 0) {",
"        const tc_i64 q = g - 1 - lane;",
"        const int here = q >= 0 && whole[q].get(x),",
"                  first = here && (q == 0 || before[q].get(sum));",
"        const unsigned missing = __ballot_sync(~0u, !here),",
"                       found = __ballot_sync(~0u, first);",
"        const int nearest = __ffs(found) - 1;",
"        if (found && !(missing & ((2u << nearest) - 1))) from = nearest;",
"    }",
"    if (g > 0) sum = __shfl_sync(~0u, sum, from);",
"    for (int l = from; l >= 0; l--) sum = F::with(sum, __shfl_sync(~0u, x, l));",
"    if (lane == 0 && i == 0 && g > 0) before[g].put(sum);",
"    return i \? F::with(sum, near) : sum;",
"}",
"// fn: scan_tiles",
"template <class F, class T, int V>",
"TC_FN void TC_N(scan_tiles)(const T *x, T *y, tc_i64 rows, tc_i64 n,",
"                           unsigned char *work) {",
"    __shared__ T part[32], before;",
"    __shared__ unsigned ticket;",
"    const tc_i64 tiles = (n + 1024 * V - 1) / (1024 * V),",
"                 slots = tiles + (tiles + 31) / 32 * 2;",
"    if (threadIdx.x == 0)",
"        ticket = tiles > 1 \? atomicAdd((unsigned *)work, 1u) : blockIdx.x;",
"    __syncthreads();",
"    if (ticket >= rows * tiles) return;",
"    const tc_i64 r = ticket / tiles, t = ticket % tiles,",
"                 c = (t * 1024 + threadIdx.x) * V;",
"    TC_N(slot)<T> *slot = (TC_N(slot)<T> *)(work + 64) + r * slots;",
"    tc_pack<T, V> v[4];",
"    for (int k = 0; k < 4; k++)",
"        v[k] = TC_N(scan_load)<F, T, V>(x + r * n, c + k * 256 * V, n);",
"    const T all = TC_N(scan_tile)<F, T, V>(v, part);",
"    if (threadIdx.x < 32) {",
"        const T sum =",
"            tiles > 1 \? TC_N(look_back)<F, T>(slot, tiles, t, all) : F::none();",
"        if (threadIdx.x == 0) before = sum;",
"    }",
"    __syncthreads();",
"    for (int k = 0; k < 4; k++)",
"        TC_N(scan_store)<F, T, V>(y + r * n, c + k * 256 * V, n, before, v[k]);",
"}",
"// fn: clear",
"TC_FN void TC_N(clear)(tc_u64 *work, tc_i64 n) {",
"    for (tc_i64 i = (tc_i64)blockIdx.x * 256 + threadIdx.x; i < n;",
"         i += (tc_i64)gridDim.x * 256)",
"        work[i] = 0;",
"}",
};
// ---- gen/out/text_cuda_sort.inc
static const char*const tc__text_cuda_sort[]={
"// fn: key_i32",
"TC_FN unsigned TC_N(key_i32)(int x) { return (unsigned)x ^ 0x80000000u; }",
"// fn: key_i64",
"TC_FN tc_u64 TC_N(key_i64)(tc_i64 x) { return (tc_u64)x ^ 0x8000000000000000ull; }",
"// fn: key_f32",
"TC_FN unsigned TC_N(key_f32)(float x) {",
"    const unsigned b = x == 0 \? 0 : __float_as_uint(x);",
"    if (x != x) return 0xffffffffu;",
"    return b >> 31 \? ~b : b | 0x80000000u;",
"}",
"// fn: key_f64",
"TC_FN tc_u64 TC_N(key_f64)(double x) {",
"    const tc_u64 b = x == 0 \? 0 : (tc_u64)__double_as_longlong(x);",
"    if (x != x) return 0xffffffffffffffffull;",
"    return b >> 63 \? ~b : b | 0x8000000000000000ull;",
"}",
"// fn: pair",
"template <class K> struct __align__(2 * sizeof(K)) TC_N(pair) {",
"    K key;",
"    unsigned at;",
"};",
"// fn: is_behind",
"template <class K>",
"TC_FN bool TC_N(is_behind)(const TC_N(pair)<K> &a, const TC_N(pair)<K> &b) {",
"    return a.key > b.key || (a.key == b.key && a.at > b.at);",
"}",
"// fn: sort_pairs",
"template <class K> TC_FN void TC_N(sort_pairs)(TC_N(pair)<K> *v, int n) {",
"    int last = n;",
"    for (int run = 2; run < 2 * n; run *= 2) {",
"        for (int span = run; span > 1; span /= 2) {",
"            const int half = span / 2, work = (n + span - 1) / span * half;",
"            if (span > 64 || last > 64)",
"                __syncthreads();",
"            else",
"                __syncwarp();",
"            last = span;",
"            for (int i = threadIdx.x; i < work; i += blockDim.x) {",
"                const int low = i / half * span + i % half;",
"                const int high =",
"                    span < run \? low + half : low + span - 1 - i % half * 2;",
"                if (high >= n || !TC_N(is_behind)(v[low], v[high])) continue;",
"                const TC_N(pair)<K> was = v[low];",
"                v[low] = v[high];",
"                v[high] = was;",
"            }",
"        }",
"    }",
"    __syncthreads();",
"}",
"// fn: sort_few",
"template <class K, int MOST, class F, class G>",
"TC_FN void TC_N(sort_few)(tc_i64 rows, tc_i64 n, F key, G put) {",
"    __shared__ TC_N(pair)<K> v[MOST];",
"    for (tc_i64 r = blockIdx.x; r < rows; r += gridDim.x) {",
"        for (int i = threadIdx.x; i < n; i += blockDim.x)",
"            v[i] = {key(r, i), (unsigned)i};",
"        __syncthreads();",
"        TC_N(sort_pairs)(v, (int)n);",
"        for (int i = threadIdx.x; i < n; i += blockDim.x) put(r, i, v[i]);",
"        __syncthreads();",
"    }",
"}",
"// fn: scan_block",
"template <int T> TC_FN unsigned TC_N(scan_block)(unsigned x) {",
"    __shared__ unsigned part[T / 32];",
"    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;",
"    unsigned sum = x;",
"    for (int o = 1; o < 32; o *= 2) {",
"        const unsigned y = __shfl_up_sync(~0u, sum, o);",
"        if (lane >= o) sum += y;",
"    }",
"    __syncthreads();",
"    if (lane == 31) part[warp] = sum;",
"    __syncthreads();",
"    for (int w = 0; w < warp; w++) sum += part[w];",
"    return sum - x;",
"}",
"// fn: sort_tile",
"template <class K, int T, int ITEMS, int BITS> struct TC_N(sort_tile) {",
"    enum { WARPS = T / 32, VALUES = 1 << BITS, EACH = VALUES > T \? VALUES / T : 1 };",
"    TC_N(pair)<K> sorted[T * ITEMS];",
"    unsigned short before[WARPS * VALUES];",
"    unsigned short start[VALUES];",
"    static __device__ __forceinline__ int place(int k) {",
"        return (threadIdx.x / 32 * ITEMS + k) * 32 + threadIdx.x % 32;",
"    }",
"    static __device__ __forceinline__ bool is(int k, int n) {",
"        return n == T * ITEMS || place(k) < n;",
"    }",
"    static __device__ __forceinline__ int value(K key, int shift, bool is) {",
"        return is \? (int)(key >> shift) & (VALUES - 1) : VALUES;",
"    }",
"};",
"// fn: sort_ranks",
"template <class K, int T, int ITEMS, int BITS>",
"TC_FN void TC_N(sort_ranks)(TC_N(sort_tile)<K, T, ITEMS, BITS> &s,",
"                            const TC_N(pair)<K> (&mine)[ITEMS], unsigned (&rank)[ITEMS],",
"                            int shift, int n) {",
"    enum { VALUES = TC_N(sort_tile)<K, T, ITEMS, BITS>::VALUES };",
"    unsigned short *before = s.before + threadIdx.x / 32 * VALUES;",
"    for (int i = threadIdx.x; i < T / 32 * VALUES / 2; i += T) ((unsigned *)s.before)[i] = 0;",
"#pragma unroll",
"    for (int k = 0; k < ITEMS; k++) {",
"        const bool is = s.is(k, n);",
"        const unsigned same =",
"            __match_any_sync(~0u, s.value(mine[k].key, shift, is));",
"        rank[k] = __popc(same & ((1u << threadIdx.x % 32) - 1)) | __popc(same) << 16;",
"    }",
"    __syncthreads();",
"#pragma unroll",
"    for (int k = 0; k < ITEMS; k++) {",
"        const bool is = s.is(k, n);",
"        const int value = s.value(mine[k].key, shift, true);",
"        const unsigned left = rank[k] & 0xffff, same = rank[k] >> 16;",
"        rank[k] = is \? left + before[value] : 0;",
"        __syncwarp();",
"        if (is && !left) before[value] = (unsigned short)(rank[k] + same);",
"        __syncwarp();",
"    }",
"    __syncthreads();",
"}",
"// fn: sort_starts",
"template <class K, int T, int ITEMS, int BITS>",
"TC_FN void TC_N(sort_starts)(TC_N(sort_tile)<K, T, ITEMS, BITS> &s) {",
"    enum {",
"        VALUES = TC_N(sort_tile)<K, T, ITEMS, BITS>::VALUES,",
"        EACH = TC_N(sort_tile)<K, T, ITEMS, BITS>::EACH",
"    };",
"    const int first = threadIdx.x * EACH;",
"    unsigned all = 0, start[EACH];",
"#pragma unroll",
"    for (int e = 0; e < EACH; e++) {",
"        start[e] = all;",
"        if (first + e >= VALUES) break;",
"        unsigned before = 0;",
"        for (int w = 0; w < T / 32; w++) {",
"            const unsigned here = s.before[w * VALUES + first + e];",
"            s.before[w * VALUES + first + e] = (unsigned short)before;",
"            before += here;",
"        }",
"        all += before;",
"    }",
"    const unsigned place = TC_N(scan_block)<T>(all);",
"#pragma unroll",
"    for (int e = 0; e < EACH; e++)",
"        if (first + e < VALUES) s.start[first + e] = (unsigned short)(place + start[e]);",
"    __syncthreads();",
"}",
"// fn: sort_rows",
"template <class K, int T, int ITEMS, int BITS, int KEY, class F, class G>",
"TC_FN void TC_N(sort_rows)(tc_i64 rows, tc_i64 n, F key, G put) {",
"    __shared__ TC_N(sort_tile)<K, T, ITEMS, BITS> s;",
"    TC_N(pair)<K> mine[ITEMS];",
"    unsigned rank[ITEMS];",
"    for (tc_i64 r = blockIdx.x; r < rows; r += gridDim.x) {",
"#pragma unroll",
"        for (int k = 0; k < ITEMS; k++) {",
"            const int i = s.place(k);",
"            if (s.is(k, (int)n)) mine[k] = {key(r, i), (unsigned)i};",
"        }",
"#pragma unroll 1",
"        for (int shift = 0; shift < KEY; shift += BITS) {",
"            TC_N(sort_ranks)(s, mine, rank, shift, (int)n);",
"            TC_N(sort_starts)(s);",
"#pragma unroll",
"            for (int k = 0; k < ITEMS; k++) {",
"                if (!s.is(k, (int)n)) continue;",
"                const int value = s.value(mine[k].key, shift, true),",
"                          warp = threadIdx.x / 32;",
"                s.sorted[s.start[value] + s.before[warp * s.VALUES + value] + rank[k]] =",
"                    mine[k];",
"            }",
"            __syncthreads();",
"            if (shift + BITS >= KEY) break;",
"#pragma unroll",
"            for (int k = 0; k < ITEMS; k++)",
"                if (s.is(k, (int)n)) mine[k] = s.sorted[s.place(k)];",
"        }",
"        for (int i = threadIdx.x; i < n; i += T) put(r, i, s.sorted[i]);",
"    }",
"}",
"// fn: sorter",
"template <class K, int D> struct TC_N(sorter) {",
"    enum { TILE = sizeof(K) == 4 \? 4096 : 2048 };",
"    tc_i64 rows, n, tiles;",
"    unsigned *ticket;",
"    unsigned *count;",
"    volatile tc_u64 *state;",
"    TC_N(pair)<K> *pair[2];",
"    __device__ __forceinline__ TC_N(sorter)(unsigned char *work, tc_i64 rows,",
"                                           tc_i64 n)",
"        : rows(rows), n(n), tiles((n + TILE - 1) / TILE) {",
"        ticket = (unsigned *)work;",
"        count = ticket + 16;",
"        state = (tc_u64 *)(count + rows * D * 256);",
"        pair[0] = (TC_N(pair)<K> *)(state + rows * tiles * 256);",
"        pair[1] = pair[0] + rows * n;",
"    }",
"    __device__ __forceinline__ bool in_block() const { return n <= TILE; }",
"};",
"// fn: sort_count",
"template <class K, int D, class F>",
"TC_FN void TC_N(sort_count)(const TC_N(sorter)<K, D> &s, F key) {",
"    __shared__ unsigned here[D * 256];",
"    const tc_i64 all = s.rows * s.tiles, begin = all * blockIdx.x / gridDim.x,",
"                 end = all * (blockIdx.x + 1) / gridDim.x;",
"    if (s.n >> 32) __trap();",
"    for (int i = threadIdx.x; i < D * 256; i += 256) here[i] = 0;",
"    __syncthreads();",
"    for (tc_i64 tile = begin; tile < end; tile++) {",
"        const tc_i64 r = tile / s.tiles, first = tile % s.tiles * s.TILE;",
"        const int n = (int)(s.n - first < s.TILE \? s.n - first : s.TILE);",
"#pragma unroll 4",
"        for (int i = threadIdx.x; i < n; i += 256) {",
"            const K k = key(r, first + i);",
"            for (int d = 0; d < D; d++)",
"                atomicAdd(&here[d * 256 + (k >> 8 * d & 255)], 1u);",
"        }",
"        if (tile + 1 < end && (tile + 1) % s.tiles) continue;",
"        __syncthreads();",
"        for (int i = threadIdx.x; i < D * 256; i += 256) {",
"            if (here[i]) atomicAdd(&s.count[r * D * 256 + i], here[i]);",
"            here[i] = 0;",
"        }",
"        __syncthreads();",
"    }",
"}",
"// fn: sort_pass",
"template <int PASS, class K, int D, class F, class G>",
"TC_FN void TC_N(sort_pass)(const TC_N(sorter)<K, D> &s, F get, G put) {",
"    enum { ITEMS = TC_N(sorter)<K, D>::TILE / 256 };",
"    __shared__ TC_N(pair)<K> sorted[ITEMS * 256];",
"    __shared__ unsigned before[8 * 256];",
"    __shared__ unsigned start[256];",
"    __shared__ tc_i64 to[256];",
"    __shared__ unsigned ticket;",
"    const int x = threadIdx.x, lane = x % 32, warp = x / 32;",
"    for (int i = x; i < 8 * 256; i += 256) before[i] = 0;",
"    if (x == 0) ticket = atomicAdd(&s.ticket[PASS], 1u);",
"    __syncthreads();",
"    if (ticket >= s.rows * s.tiles) return;",
"    const tc_i64 r = ticket / s.tiles, t = ticket % s.tiles, first = t * s.TILE;",
"    const int n = (int)(s.n - first < s.TILE \? s.n - first : s.TILE);",
"    TC_N(pair)<K> mine[ITEMS];",
"    unsigned rank[ITEMS];",
"#pragma unroll",
"    for (int k = 0; k < ITEMS; k++) {",
"        const int i = (warp * ITEMS + k) * 32 + lane;",
"        if (i < n) mine[k] = get(r, first + i);",
"    }",
"#pragma unroll",
"    for (int k = 0; k < ITEMS; k++) {",
"        const int i = (warp * ITEMS + k) * 32 + lane;",
"        const unsigned value =",
"            i < n \? (unsigned)(mine[k].key >> 8 * PASS) & 255 : 256;",
"        const unsigned same = __match_any_sync(~0u, value),",
"                       left = same & ((1u << lane) - 1);",
"        rank[k] = __popc(left) + (i < n \? before[warp * 256 + value] : 0);",
"        __syncwarp();",
"        if (i < n && !left) before[warp * 256 + value] += __popc(same);",
"        __syncwarp();",
"    }",
"    __syncthreads();",
"    unsigned all = 0;",
"    for (int w = 0; w < 8; w++) {",
"        const unsigned here = before[w * 256 + x];",
"        before[w * 256 + x] = all;",
"        all += here;",
"    }",
"    volatile tc_u64 *state = s.state + (tc_i64)ticket * 256 + x;",
"    const tc_u64 in_tile = (tc_u64)(2 * PASS + 1) << 48,",
"                 up_to = (tc_u64)(2 * PASS + 2) << 48;",
"    *state = (t \? in_tile : up_to) | all;",
"    const unsigned place = TC_N(scan_block)<256>(all),",
"                   in_row = TC_N(scan_block)<256>(s.count[(r * D + PASS) * 256 + x]);",
"    tc_u64 earlier = 0;",
"    for (tc_i64 q = 1; q <= t;) {",
"        const tc_u64 word = *(state - q * 256);",
"        if (word < in_tile) continue;",
"        earlier += word & 0xffffffffffffull;",
"        if (word >= up_to) break;",
"        q++;",
"    }",
"    if (t) *state = up_to | (earlier + all);",
"    start[x] = place;",
"    to[x] = (tc_i64)(in_row + earlier) - place;",
"    __syncthreads();",
"#pragma unroll",
"    for (int k = 0; k < ITEMS; k++) {",
"        const int i = (warp * ITEMS + k) * 32 + lane;",
"        if (i >= n) continue;",
"        const int value = (int)(mine[k].key >> 8 * PASS) & 255;",
"        sorted[start[value] + before[warp * 256 + value] + rank[k]] = mine[k];",
"    }",
"    __syncthreads();",
"#pragma unroll 4",
"    for (int i = x; i < n; i += 256) {",
"        const TC_N(pair)<K> v = sorted[i];",
"        put(r, to[(int)(v.key >> 8 * PASS) & 255] + i, v);",
"    }",
"}",
"// fn: sort_first",
"template <class K, int D, class F>",
"TC_FN void TC_N(sort_first)(const TC_N(sorter)<K, D> &s, F key) {",
"    TC_N(sort_pass)<0>(",
"        s,",
"        [&](tc_i64 r, tc_i64 i) {",
"            return TC_N(pair)<K>{key(r, i), (unsigned)i};",
"        },",
"        [&](tc_i64 r, tc_i64 i, TC_N(pair)<K> v) { s.pair[0][r * s.n + i] = v; });",
"}",
"// fn: sort_next",
"template <int PASS, class K, int D>",
"TC_FN void TC_N(sort_next)(const TC_N(sorter)<K, D> &s) {",
"    TC_N(sort_pass)<PASS>(",
"        s, [&](tc_i64 r, tc_i64 i) { return s.pair[(PASS + 1) % 2][r * s.n + i]; },",
"        [&](tc_i64 r, tc_i64 i, TC_N(pair)<K> v) {",
"            s.pair[PASS % 2][r * s.n + i] = v;",
"        });",
"}",
"// fn: sort_last",
"template <class K, int D, class G>",
"TC_FN void TC_N(sort_last)(const TC_N(sorter)<K, D> &s, G put) {",
"    TC_N(sort_pass)<D - 1>(",
"        s, [&](tc_i64 r, tc_i64 i) { return s.pair[D % 2][r * s.n + i]; }, put);",
"}",
"// fn: top_rows",
"template <class K, int k, class F, class G>",
"TC_FN void TC_N(top_rows)(tc_i64 rows, tc_i64 n, F key, G put) {",
"    __shared__ TC_N(pair)<K> v[k];",
"    __shared__ unsigned count[256], part[32], taken, digit, less;",
"    const int x = threadIdx.x, lane = x % 32, warp = x / 32;",
"    if (n >> 32) __trap();",
"    for (tc_i64 r = blockIdx.x; r < rows; r += gridDim.x) {",
"        K last = 0;",
"        unsigned below = 0;",
"        for (int shift = 8 * (int)sizeof(K) - 8; shift >= 0; shift -= 8) {",
"            for (int i = x; i < 256; i += blockDim.x) count[i] = 0;",
"            __syncthreads();",
"#pragma unroll 4",
"            for (tc_i64 i = x; i < n; i += blockDim.x) {",
"                const K rest = (key(r, i) ^ last) >> shift;",
"                if (rest < 256) atomicAdd(&count[rest], 1u);",
"            }",
"            __syncthreads();",
"            if (warp == 0) {",
"                unsigned own = 0;",
"                for (int j = 0; j < 8; j++) own += count[lane * 8 + j];",
"                unsigned upto = below + TC_N(scan_warp)<TC_N(sums)<unsigned>>(own);",
"                const unsigned enough = __ballot_sync(~0u, upto >= (unsigned)k);",
"                if (lane == __ffs(enough) - 1) {",
"                    unsigned j = lane * 8;",
"                    for (upto -= own; upto + count[j] < (unsigned)k; j++)",
"                        upto += count[j];",
"                    digit = j, less = upto;",
"                }",
"            }",
"            __syncthreads();",
"            last |= (K)digit << shift, below = less;",
"        }",
"        if (x == 0) taken = 0;",
"        __syncthreads();",
"        unsigned seen =",
"            below;",
"        for (tc_i64 begin = 0; begin < n; begin += blockDim.x) {",
"            const tc_i64 i = begin + x;",
"            const K y = i < n \? key(r, i) : 0;",
"            const int equal = i < n && y == last;",
"            if (i < n && y < last) v[atomicAdd(&taken, 1u)] = {y, (unsigned)i};",
"            if (seen >= (unsigned)k || !__syncthreads_or(equal)) continue;",
"            const unsigned lanes = __ballot_sync(~0u, equal);",
"            if (lane == 0) part[warp] = __popc(lanes);",
"            __syncthreads();",
"            unsigned all = 0;",
"            for (int w = 0; w < (int)blockDim.x / 32; w++) {",
"                if (w == warp && equal &&",
"                    seen + all + __popc(lanes & ((1u << lane) - 1)) < (unsigned)k)",
"                    v[seen + all + __popc(lanes & ((1u << lane) - 1))] = {",
"                        y, (unsigned)i};",
"                all += part[w];",
"            }",
"            seen += all;",
"        }",
"        __syncthreads();",
"        TC_N(sort_pairs)(v, k);",
"        for (int i = x; i < k; i += blockDim.x) put(r, i, v[i]);",
"        __syncthreads();",
"    }",
"}",
};
// ---- gen/out/text_cuda_scatter.inc
static const char*const tc__text_cuda_scatter[]={
"// fn: scatter_mark",
"template <class F, class G>",
"TC_FN void TC_N(scatter_mark)(tc_i64 rows, tc_i64 n, tc_i64 m, F index, G whole,",
"                             unsigned *last) {",
"    if (m >> 32) __trap();",
"    for (tc_i64 i = (tc_i64)blockIdx.x * 256 + threadIdx.x; i < rows * m;",
"         i += (tc_i64)gridDim.x * 256) {",
"        const tc_i64 r = i / m, j = i % m;",
"        atomicMax(&last[whole(r) * n + index(r, j)], (unsigned)(j + 1));",
"    }",
"}",
"// fn: scatter_take",
"template <class T, class F>",
"TC_FN void TC_N(scatter_take)(tc_i64 rows, tc_i64 n, tc_i64 m, const T *x,",
"                             const T *src, F part, unsigned *last, T *y) {",
"    for (tc_i64 i = (tc_i64)blockIdx.x * 256 + threadIdx.x; i < rows * n;",
"         i += (tc_i64)gridDim.x * 256) {",
"        const unsigned j = last[i];",
"        if (j) last[i] = 0;",
"        y[i] = j \? src[part(i / n) * m + j - 1] : x[i];",
"    }",
"}",
"// fn: copy",
"template <class T> TC_FN void TC_N(copy)(const T *x, T *y, tc_i64 n) {",
"    for (tc_i64 i = (tc_i64)blockIdx.x * blockDim.x + threadIdx.x; i < n;",
"         i += (tc_i64)gridDim.x * blockDim.x)",
"        y[i] = x[i];",
"}",
"// fn: of_word",
"template <class T> TC_FN T TC_N(of_word)(tc_u64 bits) {",
"    const union {",
"        tc_u64 bits;",
"        T element;",
"    } word = {bits};",
"    return word.element;",
"}",
"// fn: fill",
"template <class T> TC_FN void TC_N(fill)(T *y, tc_u64 bits, tc_i64 n) {",
"    enum : int { V = 16 / (int)sizeof(T) };",
"    const T one = TC_N(of_word)<T>(bits);",
"    tc_pack<T, V> all;",
"    for (int l = 0; l < V; l++) all.at[l] = one;",
"    const tc_i64 first = (tc_i64)blockIdx.x * blockDim.x + threadIdx.x, step = (tc_i64)gridDim.x * blockDim.x;",
"    for (tc_i64 i = first; i < n / V; i += step) *(tc_pack<T, V> *)&y[i * V] = all;",
"    for (tc_i64 i = n / V * V + first; i < n; i += step) y[i] = one;",
"}",
"// fn: first_from",
"TC_FN tc_i64 TC_N(first_from)(const TC_N(pair)<unsigned> *v, tc_i64 begin, tc_i64 n,",
"                             tc_i64 key) {",
"    while (begin < n) {",
"        const tc_i64 half = begin + (n - begin) / 2;",
"        if (v[half].key < key)",
"            begin = half + 1;",
"        else",
"            n = half;",
"    }",
"    return begin;",
"}",
"// fn: scatter_sum",
"template <class T, class S, int EACH, class F>",
"TC_FN void TC_N(scatter_sum)(tc_i64 rows, tc_i64 n, tc_i64 m, const T *x,",
"                            const T *src, F part, const TC_N(pair)<unsigned> *pairs,",
"                            T *y) {",
"    const int lane = threadIdx.x % 32;",
"    const tc_i64 all = (rows + EACH - 1) / EACH * n;",
"    for (tc_i64 begin = (tc_i64)blockIdx.x * 256 + threadIdx.x - lane; begin < all;",
"         begin += (tc_i64)gridDim.x * 256) {",
"        const tc_i64 i = begin + lane, r0 = i / n * EACH, c = i % n;",
"        const tc_i64 line = EACH > 1 || i >= all \? 0 : part(r0);",
"        const TC_N(pair)<unsigned> *run = pairs + (line > 0 \? line * m : 0);",
"        const tc_i64 size = i < all && line >= 0 \? m : 0,",
"                     first = TC_N(first_from)(run, 0, size, c);",
"        const tc_i64 end = TC_N(first_from)(",
"            run, first, first < size && run[first].key == c \? size : first, c + 1);",
"#pragma unroll 1",
"        for (int e = 0; e < EACH; e++) {",
"            const tc_i64 r = r0 + e;",
"            const bool in = i < all && r < rows;",
"            const T *from = src + (in && end > first \? part(r) * m : 0);",
"            S sum = in \? x[r * n + c] : 0;",
"            tc_i64 p = first;",
"#pragma unroll 1",
"            for (; in && p < end && p < first + 32; p++)",
"                sum = sum + from[run[p].at];",
"            for (unsigned left = __ballot_sync(~0u, in && p < end); left;",
"                 left &= left - 1) {",
"                const int l = __ffs(left) - 1;",
"                const tc_i64 stop = __shfl_sync(~0u, end, l);",
"                const T *its = (const T *)__shfl_sync(~0u, (tc_u64)from, l);",
"                const TC_N(pair)<unsigned> *their =",
"                    (const TC_N(pair)<unsigned> *)__shfl_sync(~0u, (tc_u64)run, l);",
"                S whole = __shfl_sync(~0u, sum, l);",
"#pragma unroll 1",
"                for (tc_i64 q = __shfl_sync(~0u, p, l); q < stop; q += 32) {",
"                    const S v = q + lane < stop \? its[their[q + lane].at] : 0;",
"                    for (int o = 0; o < 32 && q + o < stop; o++)",
"                        whole = whole + __shfl_sync(~0u, v, o);",
"                }",
"                if (lane == l) sum = whole;",
"            }",
"            if (in) y[r * n + c] = (T)sum;",
"        }",
"    }",
"}",
};
// ---- gen/out/text_cuda_runs.inc
static const char*const tc__text_cuda_runs[]={
"// fn: count_indices",
"template <int THREADS, int EACH>",
"TC_FN void TC_N(count_indices)(unsigned *count, const int (&k)[EACH], int base, unsigned size, int first, int behind) {",
"#pragma unroll",
"    for (int u = 0; u < EACH; u++) {",
"        const unsigned w = (unsigned)(k[u] - base);",
"        if (w < size && (threadIdx.x + u * THREADS >= (unsigned)first) == (unsigned)behind)",
"            atomicAdd(&count[w / 2], 1u << w % 2 * 16);",
"    }",
"}",
"// fn: count_of",
"TC_FN unsigned TC_N(count_of)(unsigned two) { return (two & 65535) + (two >> 16); }",
"// fn: rank_indices",
"template <int EACH, class I, class F>",
"TC_FN void TC_N(rank_indices)(tc_i64 m, tc_i64 n, int window, const I *index, F checked, unsigned *count,",
"                             TC_N(pair)<unsigned> *pairs) {",
"    enum : int { THREADS = 1024, OWN = 64, LANES = THREADS / OWN };",
"    __shared__ unsigned before[THREADS + 1];",
"    __shared__ int owned[OWN];",
"    const int x = threadIdx.x, first = blockIdx.x * OWN, place = x / LANES, lane = x % LANES;",
"    if (first >= m) return;",
"    int k[EACH];",
"    I asked[EACH];",
"#pragma unroll",
"    for (int u = 0; u < EACH; u++) asked[u] = x + u * THREADS < m \? index[x + u * THREADS] : 0;",
"#pragma unroll",
"    for (int u = 0; u < EACH; u++) {",
"        const int i = x + u * THREADS;",
"        k[u] = i < m \? checked(asked[u]) : -1;",
"        if (i >= first && i < first + OWN) owned[i - first] = k[u];",
"    }",
"    __syncthreads();",
"    const int own = owned[place];",
"    unsigned rank = 0, below = 0;",
"#pragma unroll",
"    for (int j = lane; j < OWN; j += LANES) rank += j < place && owned[j] == own;",
"#pragma unroll 1",
"    for (int base = 0; base < n; base += window) {",
"        const unsigned size = (unsigned)(n - base < window \? n - base : window), at = (unsigned)(own - base);",
"        const int words = (int)(size + 1) / 2, each = (words + THREADS - 1) / THREADS | 1;",
"        __syncthreads();",
"        for (int i = x; i < words; i += THREADS) count[i] = 0;",
"        __syncthreads();",
"        TC_N(count_indices)<THREADS>(count, k, base, size, first, 0);",
"        __syncthreads();",
"        if (lane == 0 && at < size) rank += count[at / 2] >> at % 2 * 16 & 65535;",
"        __syncthreads();",
"        TC_N(count_indices)<THREADS>(count, k, base, size, first, 1);",
"        __syncthreads();",
"        unsigned sum = 0;",
"#pragma unroll 8",
"        for (int i = x * each; i < (x + 1) * each; i++) sum += i < words \? TC_N(count_of)(count[i]) : 0;",
"        const unsigned scanned = TC_N(scan_block)<THREADS>(sum);",
"        before[x] = scanned;",
"        if (x == THREADS - 1) before[THREADS] = scanned + sum;",
"        __syncthreads();",
"        const int word = at < size \? (int)at / 2 : 0, thread = word / each;",
"        if (lane == 0 && at < size) rank += below + before[thread] + (at % 2 \? count[word] & 65535 : 0);",
"        for (int i = thread * each + lane; i < word; i += LANES) rank += TC_N(count_of)(count[i]);",
"        below += before[THREADS];",
"    }",
"    for (int o = LANES / 2; o; o /= 2) rank += __shfl_xor_sync(~0u, rank, o);",
"    if (lane == 0 && own >= 0) pairs[rank] = {(unsigned)own, (unsigned)(first + place)};",
"}",
"// fn: run_ring",
"template <class T, int COLUMNS> struct TC_N(run_ring) {",
"    enum : int { DEEP = 3, ROWS = 128, LOOKS = 8, AHEAD = 3, THREADS = 96 };",
"    struct __align__(16) chunk {",
"        T row[ROWS][COLUMNS], old[ROWS][COLUMNS];",
"        unsigned key[ROWS];",
"        unsigned owned[ROWS / 32], heads[ROWS / 32];",
"    };",
"    chunk at[DEEP];",
"    TC_N(pair)<unsigned> look[LOOKS * ROWS];",
"};",
"// fn: copy_piece",
"template <class T, int BYTES> TC_FN void TC_N(copy_piece)(T *to, const T *from) {",
"    if (BYTES < 4) *to = *from;",
"    else TC_N(copy_async)((tc_pack<T, BYTES / (int)sizeof(T)> *)to, (const tc_pack<T, BYTES / (int)sizeof(T)> *)from);",
"}",
"// fn: bring_rows",
"template <class T, int COLUMNS, int PIECE>",
"TC_FN void TC_N(bring_rows)(T (*to)[COLUMNS], unsigned row, unsigned wanted, const T *from, tc_i64 bytes) {",
"    enum : int { LANES = COLUMNS * (int)sizeof(T) / PIECE, ROWS = 32 / LANES, STEPS = 32 / ROWS };",
"    const int its = threadIdx.x % 32 / LANES, piece = threadIdx.x % LANES * (PIECE / (int)sizeof(T));",
"    unsigned at[STEPS];",
"#pragma unroll",
"    for (int k = 0; k < STEPS; k++) at[k] = __shfl_sync(~0u, row, k * ROWS + its);",
"#pragma unroll",
"    for (int k = 0; k < STEPS; k++)",
"        if (wanted >> (k * ROWS + its) & 1)",
"            TC_N(copy_piece)<T, PIECE>(&to[k * ROWS + its][piece], (const T *)((const char *)(from + piece) + at[k] * bytes));",
"}",
"// fn: looked",
"template <class R> TC_FN TC_N(pair)<unsigned> &TC_N(looked)(R &ring, int place, int begin) {",
"    return ring.look[(place - begin) % (R::LOOKS * R::ROWS)];",
"}",
"// fn: look_ahead",
"template <class R> TC_FN void TC_N(look_ahead)(R &ring, const TC_N(pair)<unsigned> *pairs, int chunk, int begin, int n) {",
"#pragma unroll",
"    for (int u = 0; u < R::ROWS / 2; u += 32) {",
"        const int place = chunk + threadIdx.x / 32 * (R::ROWS / 2) + u + threadIdx.x % 32;",
"        TC_N(pair)<unsigned> &to = TC_N(looked)(ring, place, begin);",
"        if (place < n) TC_N(copy_async8)(&to, &pairs[place]);",
"        else to = {~0u, 0};",
"    }",
"}",
"// fn: bring_runs",
"template <class T, int COLUMNS, int PIECE, bool OLD>",
"TC_FN void TC_N(bring_runs)(TC_N(run_ring)<T, COLUMNS> &ring, tc_i64 bytes, tc_i64 left, int n, int begin, int end,",
"                           unsigned prior, unsigned last, const T *src, const TC_N(pair)<unsigned> *pairs, const T *y) {",
"    typedef TC_N(run_ring)<T, COLUMNS> R;",
"    enum : int { HALF = R::ROWS / 2, LANES = COLUMNS * (int)sizeof(T) / PIECE };",
"    const int lane = threadIdx.x % 32, half = threadIdx.x / 32 * HALF;",
"    const bool in = threadIdx.x % LANES * (PIECE / (int)sizeof(T)) < left;",
"    int p = begin;",
"    bool more = true;",
"    const auto ask = [&](int slot) {",
"        auto &to = ring.at[slot];",
"        TC_N(pair)<unsigned> own[HALF / 32];",
"        unsigned owned[HALF / 32], heads[HALF / 32];",
"#pragma unroll",
"        for (int u = 0; u < HALF / 32; u++) {",
"            const int place = p + half + 32 * u + lane;",
"            own[u] = TC_N(looked)(ring, place, begin);",
"            const unsigned before = place > begin \? TC_N(looked)(ring, place - 1, begin).key : prior;",
"            const bool is = more && place < n && own[u].key != prior && (place < end || own[u].key == last);",
"            owned[u] = __ballot_sync(~0u, is), heads[u] = __ballot_sync(~0u, is && before != own[u].key);",
"            to.key[half + 32 * u + lane] = own[u].key;",
"            if (lane == 0) to.owned[half / 32 + u] = owned[u], to.heads[half / 32 + u] = heads[u];",
"        }",
"        TC_N(look_ahead)(ring, pairs, p + R::AHEAD * R::ROWS, begin, n);",
"        p += R::ROWS;",
"        more = more && p < n && (p < end || TC_N(looked)(ring, p, begin).key == last);",
"#pragma unroll",
"        for (int u = 0; u < HALF / 32; u++) {",
"            TC_N(bring_rows)<T, COLUMNS, PIECE>(to.row + half + 32 * u, own[u].at, in \? owned[u] : 0, src, bytes);",
"            if (OLD && heads[u]) TC_N(bring_rows)<T, COLUMNS, PIECE>(to.old + half + 32 * u, own[u].key, in \? heads[u] : 0, y, bytes);",
"        }",
"        TC_N(copy_commit)();",
"        return (owned[0] | owned[HALF / 32 - 1]) != 0;",
"    };",
"    TC_N(copy_wait)<0>();",
"    TC_N(bar_any)(1, R::THREADS, 1);",
"    int before = ask(0), slot = 1, on;",
"#pragma unroll 1",
"    do {",
"        const int next = ask(slot);",
"        TC_N(copy_wait)<1>();",
"        on = TC_N(bar_any)(1, R::THREADS, before || next || more);",
"        before = next, slot = slot + 1 < R::DEEP \? slot + 1 : 0;",
"    } while (on);",
"    TC_N(copy_wait)<0>();",
"}",
"// fn: add_run_rows",
"template <class S, int V, class T, int COLUMNS> TC_FN void TC_N(add_run_rows)(S (&sum)[V], const T (*row)[COLUMNS], int mine) {",
"    typedef tc_pack<T, V> pack;",
"#pragma unroll",
"    for (int h = 0; h < 32; h += 16) {",
"        pack v[16];",
"#pragma unroll",
"        for (int l = 0; l < 16; l++) v[l] = *(const pack *)&row[h + l][mine];",
"#pragma unroll",
"        for (int l = 0; l < 16; l++)",
"            for (int e = 0; e < V; e++) sum[e] = sum[e] + v[l].at[e];",
"    }",
"}",
"// fn: add_runs",
"template <class T, class S, int V, int COLUMNS, int PIECE, int SPAN, int BYTES, bool OLD>",
"TC_FN void TC_N(add_runs)(tc_i64 columns, tc_i64 m, const T *src, const TC_N(pair)<unsigned> *pairs, T *y, void *shared,",
"                          tc_u64 bits) {",
"    typedef tc_pack<T, V> pack;",
"    typedef TC_N(run_ring)<T, COLUMNS> R;",
"    static_assert(sizeof(R) == BYTES, \"what the launch asks for\");",
"    R &ring = *(R *)shared;",
"    const int lane = threadIdx.x % 32, n = (int)m, parts = (int)((columns + COLUMNS - 1) / COLUMNS);",
"    const int begin = blockIdx.x / parts * SPAN, end = begin + SPAN < n \? begin + SPAN : n;",
"    const tc_i64 column = (tc_i64)(blockIdx.x % parts) * COLUMNS;",
"    if (m > 0x7fff0000) __trap();",
"    if (begin >= n) return;",
"    for (int k = 0; k < R::AHEAD && threadIdx.x < 64; k++)",
"        TC_N(look_ahead)(ring, pairs, begin + k * R::ROWS, begin, n);",
"    TC_N(copy_commit)();",
"    const unsigned prior = begin \? pairs[begin - 1].key : ~0u, last = pairs[end - 1].key;",
"    if (prior == last) {",
"        TC_N(copy_wait)<0>();",
"        return;",
"    }",
"    if (threadIdx.x < 64) {",
"        TC_N(bring_runs)<T, COLUMNS, PIECE, OLD>(ring, columns * (tc_i64)sizeof(T), columns - column, n, begin, end, prior, last,",
"                                            src + column, pairs, y + column);",
"        return;",
"    }",
"    const bool in = lane * V < COLUMNS && column + lane * V < columns;",
"    const int mine = lane * V < COLUMNS \? lane * V : 0;",
"    const T none = TC_N(of_word)<T>(bits);",
"    S sum[V] = {};",
"    T *const own = y + column + mine, *to = own;",
"    bool goes = false;",
"    const auto leave = [&]() {",
"        pack v;",
"        for (int e = 0; e < V; e++) v.at[e] = (T)sum[e];",
"        *(pack *)to = v;",
"    };",
"    TC_N(bar_any)(1, R::THREADS, 1);",
"#pragma unroll 1",
"    for (int slot = 0; TC_N(bar_any)(1, R::THREADS, 0); slot = slot + 1 < R::DEEP \? slot + 1 : 0) {",
"        const auto &chunk = ring.at[slot];",
"#pragma unroll 1",
"        for (int w = 0; w < R::ROWS / 32; w++) {",
"            const unsigned owned = chunk.owned[w], heads = chunk.heads[w];",
"            if (owned == ~0u && !heads) {",
"                TC_N(add_run_rows)<S, V>(sum, chunk.row + 32 * w, mine);",
"                continue;",
"            }",
"#pragma unroll",
"            for (int h = 0; h < 32; h += 8) {",
"                if (!(owned >> h & 255)) continue;",
"                pack v[8], o[8];",
"                unsigned key[8];",
"#pragma unroll",
"                for (int l = 0; l < 8; l++) {",
"                    const int row = 32 * w + h + l;",
"                    v[l] = *(const pack *)&chunk.row[row][mine];",
"                    if (OLD) o[l] = *(const pack *)&chunk.old[row][mine];",
"                    key[l] = chunk.key[row];",
"                }",
"#pragma unroll",
"                for (int l = 0; l < 8; l++) {",
"                    const bool starts = heads >> (h + l) & 1, is = owned >> (h + l) & 1;",
"                    if (starts && goes) leave();",
"                    goes = starts \? in : goes, to = starts \? own + (tc_i64)key[l] * columns : to;",
"                    for (int e = 0; e < V; e++) {",
"                        const S from = starts \? (S)(OLD \? o[l].at[e] : none) : sum[e], next = from + v[l].at[e];",
"                        sum[e] = is \? next : from;",
"                    }",
"                }",
"            }",
"        }",
"    }",
"    if (goes) leave();",
"}",
};
// ---- gen/out/text_cuda_check.inc
static const char*const tc__text_cuda_check[]={
"// fn: checked",
"static __device__ __align__(16) tc_u64 tc_nothing[16], tc_nowhere[16];",
"template <class T> struct TC_N(checked) {",
"    T *memory;",
"    tc_i64 low, high;",
"    int buffer, write;",
"    tc_i64 launch;",
"    const tc_state *state;",
"    __device__ __forceinline__ T *at(tc_i64 i, int n) const {",
"        if (low <= i && i + n <= high) return memory + i;",
"        if (!atomicCAS((tc_u64 *)state->flag + 4, (tc_u64)0, (tc_u64)buffer)) {",
"            state->flag[5] = i < low \? i : i + n - 1;",
"            state->flag[6] = launch;",
"            state->flag[7] = write;",
"        }",
"        return (T *)aside(memory);",
"    }",
"    static __device__ __forceinline__ const void *aside(const void *) { return tc_nothing; }",
"    static __device__ __forceinline__ void *aside(void *) { return tc_nowhere; }",
"    template <class I> __device__ __forceinline__ T &operator[](I i) const { return *at(i, 1); }",
"};",
};
// ---- gen/out/text_cuda_list.inc
static const char*const tc__text_cuda_list[]={
"// fn: list",
"template <int W, int N> struct tc_list {",
"    void *at[N][W];",
"    tc_i64 count[N];",
"    int first[N], rows;",
"};",
"// fn: list_row",
"template <int TOP, int W, int N> TC_FN int TC_N(list_row)(const tc_list<W, N> &list) {",
"    int row = 0;",
"    #pragma unroll",
"    for (int step = TOP; step; step /= 2)",
"        if (row + step < list.rows && list.first[row + step] <= (int)blockIdx.x) row += step;",
"    return row;",
"}",
};
// ---- gen/out/text_cuda_spread.inc
static const char*const tc__text_cuda_spread[]={
"struct tc_spread {",
"    void *to;",
"    const void *from;",
"    long long count, rank, dims[8], to_strides[8], from_strides[8];",
"};",
"template <class T> static __device__ __forceinline__ void tc_spread_all(const tc_spread &a) {",
"    const long long step = (long long)gridDim.x * 256;",
"    for (long long i = (long long)blockIdx.x * 256 + threadIdx.x; i < a.count; i += step) {",
"        long long left = i, to = 0, from = 0;",
"        for (int d = (int)a.rank - 1; d >= 0; d--) {",
"            const long long at = left % a.dims[d];",
"            to += at * a.to_strides[d], from += at * a.from_strides[d];",
"            left /= a.dims[d];",
"        }",
"        ((T *)a.to)[to] = ((const T *)a.from)[from];",
"    }",
"}",
"extern \"C\" __global__ void __launch_bounds__(256)",
"tc_kernel_0000000000000000(const tc_spread a) { tc_spread_all<unsigned char>(a); }",
"extern \"C\" __global__ void __launch_bounds__(256)",
"tc_kernel_0000000000000000_1(const tc_spread a) { tc_spread_all<unsigned short>(a); }",
"extern \"C\" __global__ void __launch_bounds__(256)",
"tc_kernel_0000000000000000_2(const tc_spread a) { tc_spread_all<unsigned>(a); }",
"extern \"C\" __global__ void __launch_bounds__(256)",
"tc_kernel_0000000000000000_3(const tc_spread a) { tc_spread_all<unsigned long long>(a); }",
};
// ---- gen/out/text_cuda_custom.inc
static const char*const tc__text_cuda_custom[]={
"typedef signed char int8_t;",
"typedef short int16_t;",
"typedef int int32_t;",
"typedef long long int64_t;",
"typedef unsigned char uint8_t;",
"typedef unsigned short uint16_t;",
"typedef unsigned int uint32_t;",
"typedef unsigned long long uint64_t;",
"enum { TC_MAX_RANK = 8 };",
"struct tc_spec {",
"    tc_dtype dtype;",
"    int rank;",
"    int64_t dims[TC_MAX_RANK];",
"};",
"struct tc_buffer {",
"    void *data;",
"    tc_spec spec;",
"};",
"__device__ __forceinline__ int64_t tc_elements(const tc_buffer *b) {",
"    int64_t n = 1;",
"#pragma unroll",
"    for (int d = 0; d < TC_MAX_RANK; d++)",
"        if (d < b->spec.rank) n *= b->spec.dims[d];",
"    return n;",
"}",
};

// ---- gen/base/once_begin.c
#if TC__GNUC &&!defined(__clang__)&&defined(__OPTIMIZE__)&&!defined(__OPTIMIZE_SIZE__)
#define TC__ONCE_CODE
#pragma GCC push_options
#pragma GCC optimize("Og")
#endif
// ---- gen/device/along.c
enum{
TC__DEVICE_SMS=132,
TC__DEVICE_WIDEST=16
};
static int tc__device_is_memory(const tc__node*n){
return n->op==TC_OP_LOAD||n->op==TC_OP_STORE;
}
static int tc__device_is_row(const tc__group*g,int64_t b){
return g->buffer.at[b].place==TC__BUF_ROW;
}
static int tc__device_is_made(const tc__group*g,const tc__node*n){
return tc__buffer_of(g,n)->place==TC__BUF_MADE;
}
static uint32_t tc__device_bytes(const tc__group*g,const tc__node*n){
return tc__dtypes[tc__buffer_of(g,n)->dtype].bytes;
}
typedef struct tc__device_scan{
const tc__group*g;
tc__axis axis;
int width,differ;
}tc__device_scan;
static int tc__device_is_still(const tc__group*g,const tc__node*n,tc__axis axis,
int width);
static void tc__device_scan_val(void*user,uint32_t id){
tc__device_scan*s=(tc__device_scan*)user;
s->differ|=!tc__device_is_still(s->g,s->g->body.node.at[id],s->axis,s->width);
}
static tc__access tc__device_access(const tc__group*g,tc__ix e,tc__axis axis,
int width){
tc__device_scan s;
s.g=g,s.axis=axis,s.width=width,s.differ=0;
tc__ix_each_val(g->body.ix,e,tc__device_scan_val,&s);
tc__ixrun run=tc__ix_run(g->body.ix,e,axis);
if(s.differ||!tc__ixrun_spans(&run,width))return TC__PER_LANE;
if(tc__ix_equals(run.stride,0))return TC__UNIFORM;
return tc__ix_equals(run.stride,1)?TC__CONTIGUOUS:TC__PER_LANE;
}
static int tc__device_words_still(const tc__group*g,const tc__node*n,uint32_t first,
tc__axis axis,int width){
for(uint32_t i=first;i<n->n_attr;i++)
if(tc__attr_is_ix(n,i)&&
tc__device_access(g,n->attr[i],axis,width)!=TC__UNIFORM)
return 0;
return 1;
}
static int tc__device_is_still(const tc__group*g,const tc__node*n,tc__axis axis,
int width){
if(!tc__lanes_differ(n,axis))return 1;
if(axis==TC__ROW&&n->level==TC__AT_ROW)return 0;
if(n->op==TC_OP_CAST||n->op==TC_OP_CHECK)
return tc__device_words_still(g,n,0,axis,width)&&
tc__device_is_still(g,g->body.node.at[n->in[0]],axis,width);
if(n->op==TC_OP_LOAD)
return!tc__device_is_row(g,n->attr[TC__ACCESS_BUFFER])&&
tc__device_words_still(g,n,1,axis,width);
return(n->op==TC_OP_INDEX||n->op==TC_OP_VALID)&&
tc__device_words_still(g,n,0,axis,width);
}
static int tc__device_is_aligned(const tc__group*g,tc__ix e,int width,tc__axis axis){
tc__ixpool*x=g->body.ix;
tc__ix v=tc__ix_find_var(x,e,axis);
if(v)e=tc__ix_subst(x,e,v,tc__ix_mul(x,v,tc__ix_const(width)));
return tc__ix_divisor(x,e)%width==0;
}
static int tc__device_bounds_still(const tc__group*g,const tc__node*n,int width,
tc__axis axis){
for(uint32_t i=TC__LOAD_PREDICATES;i+1<n->n_attr;i+=2){
tc__access access=tc__device_access(g,n->attr[i],axis,width);
if(tc__device_access(g,n->attr[i+1],axis,width)!=TC__UNIFORM)return 0;
if(access==TC__UNIFORM)continue;
if(access!=TC__CONTIGUOUS||
!tc__device_is_aligned(g,n->attr[i],width,axis)||
tc__ix_divisor(g->body.ix,n->attr[i+1])%width)
return 0;
}
return 1;
}
static int tc__device_begins_at_multiple(const tc__group*g,const tc__node*n,int width){
const tc__kbuf*b=tc__buffer_of(g,n);
if(b->is_part)return width==1;
return!b->in_turns||tc__ix_divisor(g->body.ix,b->numel)%width==0;
}
static int tc__device_is_wide(const tc__group*g,const tc__node*n,int width,
tc__axis axis){
if(width==1||!tc__device_is_memory(n))return 0;
if(!tc__device_begins_at_multiple(g,n,width))return 0;
if(axis==TC__COL&&n->level==TC__AT_ROW)return 0;
if(n->op==TC_OP_LOAD&&!tc__device_bounds_still(g,n,width,axis))return 0;
return tc__device_access(g,n->attr[TC__ACCESS_INDEX],axis,width)==TC__CONTIGUOUS&&
tc__device_is_aligned(g,n->attr[TC__ACCESS_INDEX],width,axis);
}
static int tc__device_takes(const tc__group*g,tc__axis axis,int width){
int wide=0;
tc__ix extent=axis==TC__COL?g->shape.cols:g->shape.rows;
if(tc__ix_divisor(g->body.ix,extent)%width&&!tc__ix_equals(g->shape.rows,1))
return 0;
for(size_t i=0;i<g->body.node.count;i++){
const tc__node*n=g->body.node.at[i];
wide|=tc__device_is_memory(n)&&
!tc__device_is_row(g,n->attr[TC__ACCESS_BUFFER])&&
tc__device_is_wide(g,n,width,axis);
}
return wide;
}
static uint32_t tc__device_least_bytes(const tc__group*g){
uint32_t least=TC__DEVICE_WIDEST,most=1;
for(size_t i=0;i<g->body.node.count;i++){
const tc__node*n=g->body.node.at[i];
if(!tc__device_is_memory(n)||n->level!=TC__AT_COL)continue;
if(tc__device_is_row(g,n->attr[TC__ACCESS_BUFFER]))continue;
uint32_t bytes=tc__device_bytes(g,n);
if(bytes<least)least=bytes;
if(bytes>most)most=bytes;
}
return least==1&&most>1?2:least;
}
enum{
TC__DEVICE_APART=4,
TC__DEVICE_SHORT_BYTES=4
};
static int tc__device_loads_apart(const tc__group*g,tc__axis axis){
int apart=0;
for(size_t i=0;i<g->body.node.count;i++){
const tc__node*n=g->body.node.at[i];
tc__ix stride;
apart+=n->op==TC_OP_LOAD&&n->level==TC__AT_COL&&tc__device_is_memory(n)&&
tc__ix_steps(g,n->attr[TC__LOAD_INDEX],axis,2,&stride)&&
tc__ix_is_const(stride)&&tc__ix_value(stride)>1;
}
return apart;
}
static int tc__device_stores_words(const tc__group*g){
if(g->shape.kind!=TC__REDUCTION)return 0;
for(size_t i=0;i<g->body.node.count;i++){
const tc__node*n=g->body.node.at[i];
if(n->op==TC_OP_STORE&&n->level==TC__AT_COL&&
!tc__device_is_row(g,n->attr[TC__STORE_BUFFER])&&tc__device_bytes(g,n)>=4)
return 1;
}
return 0;
}
static int tc__device_width(const tc__group*g,tc__axis axis){
int least=(int)tc__device_least_bytes(g),width=TC__DEVICE_WIDEST/least;
if(tc__device_stores_words(g)&&axis==TC__COL&&least<TC__DEVICE_SHORT_BYTES)
width=TC__DEVICE_WIDEST/TC__DEVICE_SHORT_BYTES;
if(tc__device_loads_apart(g,axis)>=TC__DEVICE_APART)
width=least<TC__DEVICE_SHORT_BYTES?TC__DEVICE_SHORT_BYTES/least:1;
for(;width>1;width/=2)
if(tc__device_takes(g,axis,width))return width;
return 1;
}
static int64_t tc__device_largest(const tc__ixpool*x,tc__ix e){
int64_t lo=tc__ix_lo(x,e),hi=tc__ix_hi(x,e);
return hi>-lo?hi:-lo;
}
static int64_t tc__device_reach(const tc__ixpool*x,tc__ix e){
int64_t most=tc__device_largest(x,e);
if(tc__ix_is_const(e))return most;
const tc__ixnode*n=tc__ix_node(x,e);
if(n->kind==TC__IX_VAR||n->kind==TC__IX_SYM||n->kind==TC__IX_VAL)
return most;
if(n->kind!=TC__IX_POLY){
int64_t a=tc__device_reach(x,n->a),b=tc__device_reach(x,n->b);
return a>b?a:b;
}
int64_t sum=n->base<0?-n->base:n->base,inner=0;
for(uint32_t i=0;i<n->count;i++){
const tc__ixterm*t=&x->term.at[n->first+i];
int64_t part=t->coef<0?-t->coef:t->coef;
for(int k=0;k<TC__IX_ATOMS&&t->atom[k];k++){
int64_t reach=tc__device_reach(x,t->atom[k]);
part=tc__ix_times(part,tc__device_largest(x,t->atom[k]));
if(reach>inner)inner=reach;
}
sum=sum>INT64_MAX/4||part>INT64_MAX/4?INT64_MAX/2:sum+part;
}
return sum>inner?sum:inner;
}
static int tc__device_is_narrow(const tc__group*g){
tc__ixpool*x=g->body.ix;
const int64_t limit=INT32_MAX-(1<<20);
if(tc__device_reach(x,tc__ix_mul(x,g->shape.rows,g->shape.cols))>limit)return 0;
if(tc__device_reach(x,g->shape.rows)>limit||
tc__device_reach(x,g->shape.cols)>limit)
return 0;
for(size_t id=0;id<g->body.node.count;id++){
const tc__node*n=g->body.node.at[id];
for(uint32_t i=0;i<n->n_attr;i++)
if(tc__attr_is_ix(n,i)&&tc__device_reach(x,n->attr[i])>limit)return 0;
}
return 1;
}
static int tc__device_all_wide(const tc__group*g,int width){
for(size_t i=0;i<g->body.node.count;i++){
const tc__node*n=g->body.node.at[i];
if(!tc__device_is_memory(n)||n->level!=TC__AT_COL)continue;
if(tc__device_is_row(g,n->attr[TC__ACCESS_BUFFER]))continue;
if(!tc__device_is_wide(g,n,width,TC__COL)&&
!tc__device_is_still(g,n,TC__COL,width))
return 0;
}
return 1;
}
static int tc__device_meetings(const tc__group*k,uint32_t begin,uint32_t end){
int count=0,before=0;
for(uint32_t id=begin;id<end;id++){
const tc__node*n=k->body.node.at[id];
int meets=n->op==TC_OP_COMBINE&&n->n_attr>TC__COMBINE_THREADS&&
n->attr[TC__COMBINE_THREADS]>32;
count+=meets&&!before;
before=meets;
}
return count;
}
// ---- gen/device/list.c
enum{
TC__SHARED_STATIC=40960
};
static tc__ix tc__device_shared_at(const tc__group*k,size_t b){
tc__ixpool*x=k->body.ix;
tc__ix at=tc__ix_const(0),line=tc__ix_const(64);
for(size_t i=0;i<b;i++){
const tc__kbuf*n=&k->buffer.at[i];
if(n->place!=TC__BUF_SHARED)continue;
tc__ix bytes=
tc__ix_mul(x,n->numel,tc__ix_const((int64_t)tc__dtypes[n->dtype].bytes));
at=tc__ix_add(x,at,tc__ix_mul(x,line,tc__ix_ceil_div(x,bytes,line)));
}
return at;
}
static int tc__device_is_dynamic(const tc__group*k){
for(size_t i=0;i<k->body.node.count;i++){
const tc__node*n=k->body.node.at[i];
if(n->op==TC_OP_TEMPLATE&&n->attr[TC__TEMPLATE_NAME]!=TC__TEMPLATE_SKINNY)
return 1;
}
return tc__ix_hi(k->body.ix,tc__device_shared_at(k,k->buffer.count))>
TC__SHARED_STATIC;
}
static int tc__device_combined_again(const tc__group*k,const tc__node*n){
for(uint32_t id=n->id;id-- >0&&k->body.node.at[id]->op!=TC_OP_LAUNCH;){
const tc__node*m=k->body.node.at[id];
if(m->op==TC_OP_COMBINE&&
m->attr[TC__COMBINE_ACCUMULATOR]==n->attr[TC__COMBINE_ACCUMULATOR])
return 1;
}
return 0;
}
static int64_t tc__device_value_bytes(int dtype){
return tc__dtypes[dtype].bytes>4?8:4;
}
static int64_t tc__device_part_bytes(const tc__group*k,const tc__node*launch,
const tc__node*n,int64_t*places){
int64_t monoid=n->attr[TC__COMBINE_MONOID],line=16;
int64_t threads=n->n_attr>TC__COMBINE_THREADS?n->attr[TC__COMBINE_THREADS]:0;
int64_t slots=threads/32,each=4,place=launch->attr[TC__LAUNCH_NARROW]?4:8;
if(threads<=32||tc__device_combined_again(k,n))return 0;
if(launch->n_attr>TC__LAUNCH_CLUSTER&&launch->attr[TC__LAUNCH_CLUSTER])
slots*=launch->attr[TC__LAUNCH_CLUSTER];
for(size_t i=launch->id;i<n->id;i++){
const tc__node*m=k->body.node.at[i];
if(m->op==TC_OP_NEW&&
m->attr[TC__NEW_ACCUMULATOR]==n->attr[TC__COMBINE_ACCUMULATOR])
each=tc__device_value_bytes(m->dtype);
}
*places=(slots*each+line-1)/line*line;
if(monoid!=TC_OP_ARGMAX&&monoid!=TC_OP_ARGMIN)return*places;
return*places+(slots*place+line-1)/line*line;
}
static int64_t tc__device_parts_most(const tc__group*g,int threads,int blocks){
return(int64_t)tc__count_op(g,TC_OP_COMBINE)*(threads/32)*blocks*16;
}
static int64_t tc__device_parts_bytes(const tc__group*k,uint32_t launch,uint32_t end){
int64_t bytes=0,places;
for(uint32_t id=launch+1;id<end;id++){
const tc__node*n=k->body.node.at[id];
if(n->op==TC_OP_LAUNCH)break;
if(n->op==TC_OP_COMBINE)
bytes+=tc__device_part_bytes(k,k->body.node.at[launch],n,&places);
}
return bytes;
}
static tc__ix tc__device_work_bytes(const tc__group*k,const tc__kbuf*b){
tc__ixpool*x=k->body.ix;
tc__ix line=tc__ix_const(256);
tc__ix bytes=
tc__ix_mul(x,b->numel,tc__ix_const((int64_t)tc__dtypes[b->dtype].bytes));
return tc__ix_mul(x,line,tc__ix_ceil_div(x,bytes,line));
}
static tc__ix tc__device_work_at(const tc__group*k,size_t b){
int tickets=b<k->buffer.count&&k->buffer.at[b].place==TC__BUF_TICKET;
tc__ix at=tc__ix_const(0);
for(size_t i=0;i<k->buffer.count;i++){
const tc__kbuf*n=&k->buffer.at[i];
int ticket=n->place==TC__BUF_TICKET;
if(!ticket&&n->place!=TC__BUF_WORK)continue;
if(i<b?ticket||!tickets:ticket&&!tickets)
at=tc__ix_add(k->body.ix,at,tc__device_work_bytes(k,n));
}
return at;
}
static tc__ix tc__device_zeroed(const tc__group*k){
tc__ix bytes=tc__ix_const(0);
for(size_t i=0;i<k->buffer.count;i++)
if(k->buffer.at[i].place==TC__BUF_TICKET)
bytes=
tc__ix_add(k->body.ix,bytes,tc__device_work_bytes(k,&k->buffer.at[i]));
return bytes;
}
typedef struct tc__relist{
const tc__group*from;
tc__group*to;
uint32_t*at;
tc__ix*base;
int given;
int failed;
}tc__relist;
static int tc__relist_open(tc__relist*l,tc_ctx*c,const tc__group*from){
memset(l,0,sizeof*l);
l->from=from,l->to=tc__group_empty(c,from);
l->at=TC__NEW_ARRAY(c,uint32_t,from->body.node.count);
l->failed=!l->to||!l->at;
for(size_t i=0;i<from->buffer.count&&!l->failed;i++)
l->failed=!TC__PUSH(c,l->to->buffer,from->buffer.at[i]);
return!l->failed;
}
static tc__group*tc__relist_close(tc__relist*l,tc_ctx*c){
size_t n=l->from->body.node.count;
tc__free(c,l->at,(n?n:1)*sizeof*l->at);
if(!l->failed&&!l->from->body.ix->failed)return l->to;
tc__group_free(c,l->to);
return NULL;
}
enum{TC__LIST_WORDS=40};
TC__STATIC_ASSERT(templates_have_words,
TC__TEMPLATE_NUMBERS+TC__CHAIN_NUMBERS<=TC__LIST_WORDS);
static tc__node*tc__relist_put(tc__relist*l,tc__op op,int dtype,const int64_t*attr,
uint32_t n_attr){
tc__node n;
int64_t words[TC__LIST_WORDS];
memset(&n,0,sizeof n);
if(n_attr)memcpy(words,attr,n_attr*sizeof*attr);
n.op=(uint16_t)op,n.stage=TC__LOOP,n.dtype=(uint8_t)dtype;
n.attr=words,n.n_attr=n_attr;
tc__node*made=l->failed?NULL:tc__node_append(&l->to->body,&n);
if(!made)l->failed=1;
return made;
}
static tc__ix tc__relist_for(tc__relist*l,tc__axis axis,tc__bind bind,tc__ix extent){
int64_t attr[TC__FOR_BOXES];
attr[TC__FOR_AXIS]=axis,attr[TC__FOR_BIND]=bind;
attr[TC__FOR_UNROLL]=1,attr[TC__FOR_CHUNK]=0;
attr[TC__FOR_BEGIN]=tc__ix_const(0),attr[TC__FOR_END]=extent;
tc__relist_put(l,TC_OP_FOR,TC_I64,attr,TC__FOR_BOXES);
return tc__ix_var(l->from->body.ix,(int)axis,extent);
}
static uint32_t tc__relist_fact(const tc__relist*l,int64_t*attr,uint32_t n,tc__ix e,
tc__ix limit){
const tc__ixpool*x=l->from->body.ix;
if(tc__ix_lo(x,e)>=0&&tc__ix_hi(x,e)<tc__ix_lo(x,limit))return n;
attr[n]=e,attr[n+1]=limit;
return n+2;
}
static int tc__relist_if(tc__relist*l,tc__ix d,tc__ix below,tc__ix e,tc__ix limit){
int64_t attr[4];
uint32_t n=tc__relist_fact(l,attr,0,d,below);
if(limit)n=tc__relist_fact(l,attr,n,e,limit);
if(n)tc__relist_put(l,TC_OP_IF,TC_BOOL,attr,n);
return n>0;
}
static int tc__relist_do(tc__relist*l){
tc__relist_put(l,TC_OP_IF,TC_BOOL,NULL,0);
return 1;
}
static void tc__relist_end(tc__relist*l,int64_t what){
tc__relist_put(l,TC_OP_END,TC_I64,&what,1);
}
static void tc__relist_end_if(tc__relist*l,int opened){
if(opened)tc__relist_end(l,TC__END_BLOCK);
}
static tc__ix tc__relist_bind(tc__relist*l,int axis,tc__ix value,tc__ix extent){
int64_t attr[3];
attr[TC__AXIS_AXIS]=axis,attr[TC__AXIS_VALUE]=value;
attr[TC__AXIS_EXTENT]=extent;
tc__relist_put(l,TC_OP_AXIS,TC_I64,attr,3);
return tc__ix_var(l->from->body.ix,axis,extent);
}
static void tc__relist_axis(tc__relist*l,tc__axis axis,tc__ix value){
tc__relist_bind(l,(int)axis,value,
axis==TC__ROW?l->from->shape.rows:l->from->shape.cols);
}
static void tc__relist_barrier(tc__relist*l,int warp){
int64_t attr=1;
tc__relist_put(l,TC_OP_BARRIER,TC_I64,&attr,warp?1:0);
}
static void tc__relist_leave(tc__relist*l,tc__ix e,tc__ix limit){
int64_t attr[2];
attr[TC__LEAVE_PREDICATES]=e,attr[TC__LEAVE_PREDICATES+1]=limit;
tc__relist_put(l,TC_OP_LEAVE,TC_BOOL,attr,2);
}
static tc__ix tc__relist_ix(const tc__relist*l,tc__ix e){
tc__ixpool*x=l->from->body.ix;
tc__ix val[16];
for(uint32_t i=0,n=tc__ix_vals(x,e,val,16);i<n;i++){
tc__ixnode v=*tc__ix_node(x,val[i]);
e=tc__ix_subst(x,e,val[i],
tc__ix_val(x,l->at[v.a]+TC__VALS,tc__ix_const(v.hi+1)));
}
for(uint32_t i=0,n=tc__ix_vals(x,e,val,16);i<n;i++){
tc__ixnode v=*tc__ix_node(x,val[i]);
e=tc__ix_subst(x,e,val[i],
tc__ix_val(x,(uint32_t)v.a-TC__VALS,tc__ix_const(v.hi+1)));
}
return e;
}
static int tc__relist_is_given(const tc__relist*l,uint32_t id){
int op=l->from->body.node.at[id]->op;
return op==TC_OP_CONST||op==TC_OP_ARG;
}
static void tc__relist_copy(tc__relist*l,const tc__node*n){
tc__node m=*n;
uint32_t in[3];
int64_t attr[TC__NODE_WORDS];
if(l->failed||(l->given&&tc__relist_is_given(l,n->id)))return;
for(uint32_t i=0;i<n->n_in;i++)in[i]=l->at[n->in[i]];
for(uint32_t i=0;i<n->n_attr;i++)
attr[i]=tc__attr_is_ix(n,i)?tc__relist_ix(l,n->attr[i]):n->attr[i];
if(l->base&&tc__device_is_memory(n))
attr[TC__ACCESS_INDEX]=tc__ix_add(l->from->body.ix,attr[TC__ACCESS_INDEX],
l->base[n->attr[TC__ACCESS_BUFFER]]);
m.in=in,m.attr=attr;
tc__node*made=tc__node_append(&l->to->body,&m);
if(!made)l->failed=1;
if(made)l->at[n->id]=made->id;
}
static void tc__relist_launch(tc__relist*l,int threads,int narrow,int resident,
int cluster){
int64_t attr[4];
for(uint32_t id=0;id<l->from->body.node.count;id++)
if(tc__relist_is_given(l,id))tc__relist_copy(l,l->from->body.node.at[id]);
l->given=1;
attr[TC__LAUNCH_THREADS]=threads,attr[TC__LAUNCH_NARROW]=narrow;
attr[TC__LAUNCH_RESIDENT]=resident,attr[TC__LAUNCH_CLUSTER]=cluster;
tc__relist_put(l,TC_OP_LAUNCH,TC_I64,attr,cluster?4:3);
}
static void tc__relist_load(tc__relist*l,const tc__node*n,int64_t buffer,tc__ix e){
int64_t attr[TC__LOAD_PREDICATES];
attr[TC__LOAD_BUFFER]=buffer,attr[TC__LOAD_INDEX]=e,attr[TC__LOAD_FILL]=0;
tc__node*made=tc__relist_put(l,TC_OP_LOAD,n->dtype,attr,TC__LOAD_PREDICATES);
if(made)made->level=n->level,l->at[n->id]=made->id;
}
static void tc__relist_copy_vector(tc__relist*l,const tc__node*n,int64_t buffer,
tc__ix at,tc__axis axis,tc__ix first,int width){
tc__ixpool*x=l->from->body.ix;
int64_t attr[TC__NODE_WORDS];
tc__ix var=tc__ix_find_var(x,n->attr[TC__LOAD_INDEX],axis);
uint32_t words=TC__COPY_PREDICATES;
attr[TC__COPY_BUFFER]=buffer,attr[TC__COPY_INDEX]=at;
attr[TC__COPY_FROM]=n->attr[TC__LOAD_BUFFER];
attr[TC__COPY_SOURCE]=n->attr[TC__LOAD_INDEX];
if(var)attr[TC__COPY_SOURCE]=tc__ix_subst(x,n->attr[TC__LOAD_INDEX],var,first);
if(l->base)
attr[TC__COPY_SOURCE]=
tc__ix_add(x,attr[TC__COPY_SOURCE],l->base[n->attr[TC__LOAD_BUFFER]]);
attr[TC__COPY_ELEMENTS]=width;
for(uint32_t i=TC__LOAD_PREDICATES;i<n->n_attr;i++){
var=tc__ix_find_var(x,n->attr[i],axis);
attr[words++]=var?tc__ix_subst(x,n->attr[i],var,first):n->attr[i];
}
tc__relist_put(l,TC_OP_COPY,TC_I64,attr,words);
}
static void tc__relist_store(tc__relist*l,const tc__node*n,int64_t buffer,tc__ix e){
tc__node m;
int64_t attr[2];
memset(&m,0,sizeof m);
attr[TC__STORE_BUFFER]=buffer,attr[TC__STORE_INDEX]=e;
m.op=TC_OP_STORE,m.stage=TC__LOOP,m.dtype=n->dtype,m.level=n->level;
m.in=&l->at[n->id],m.n_in=1,m.attr=attr,m.n_attr=2;
if(!l->failed&&!tc__node_append(&l->to->body,&m))l->failed=1;
}
static int64_t tc__relist_memory(tc__relist*l,tc__place place,int dtype,tc__ix numel){
tc__kbuf b;
memset(&b,0,sizeof b);
b.place=place,b.dtype=(uint8_t)dtype,b.written=1;
b.numel=numel;
if(!l->failed&&!TC__PUSH(l->from->body.ctx,l->to->buffer,b))l->failed=1;
return(int64_t)l->to->buffer.count-1;
}
static int64_t tc__relist_buffer(tc__relist*l,tc__place place,int dtype,int64_t numel){
return tc__relist_memory(l,place,dtype,tc__ix_const(numel));
}
typedef struct tc__sums{
const tc__node*combine[TC__PRINT_ACCS];
int count;
int64_t values[TC__PRINT_ACCS],places[TC__PRINT_ACCS];
int64_t behind;
}tc__sums;
static int tc__finds_places(const tc__node*combine){
return combine->attr[TC__COMBINE_MONOID]==TC_OP_ARGMAX||
combine->attr[TC__COMBINE_MONOID]==TC_OP_ARGMIN;
}
static int tc__register_dtype(int dtype){
switch(tc__class_of(dtype)){
case TC__CLASS_f32:return TC_F32;
case TC__CLASS_f64:return TC_F64;
case TC__CLASS_i32:return TC_I32;
default:return TC_I64;
}
}
static int tc__sums_dtype(const tc__relist*l,const tc__node*combine){
const tc__node*step=tc__acc_of(l->from,combine->attr[TC__COMBINE_ACCUMULATOR]);
return tc__register_dtype(l->from->body.node.at[step->in[0]]->dtype);
}
static void tc__sums_in(tc__relist*l,tc__sums*s,tc__place place,tc__ix numel){
for(int i=0;i<s->count;i++){
s->values[i]=tc__relist_memory(l,place,tc__sums_dtype(l,s->combine[i]),numel);
s->places[i]=-1;
if(tc__finds_places(s->combine[i]))
s->places[i]=tc__relist_memory(l,place,TC_I64,numel);
}
}
static void tc__sums_move(tc__relist*l,const tc__sums*s,tc__op op,tc__ix e){
for(int i=0;i<s->count;i++){
int64_t attr[5];
attr[TC__PUT_BUFFER]=s->values[i],attr[TC__PUT_INDEX]=e;
attr[TC__PUT_ACCUMULATOR]=
s->combine[i]->attr[TC__COMBINE_ACCUMULATOR]+s->behind;
attr[TC__PUT_MONOID]=s->combine[i]->attr[TC__COMBINE_MONOID];
attr[TC__PUT_PLACES]=s->places[i];
tc__relist_put(l,op,TC_I64,attr,s->places[i]<0?4:5);
}
}
static void tc__sums_new(tc__relist*l,const tc__sums*s,int width){
for(int i=0;i<s->count;i++){
const tc__node*n=s->combine[i];
int64_t attr[3];
attr[TC__NEW_ACCUMULATOR]=n->attr[TC__COMBINE_ACCUMULATOR]+s->behind;
attr[TC__NEW_MONOID]=n->attr[TC__COMBINE_MONOID];
attr[TC__NEW_WIDTH]=width;
tc__relist_put(l,TC_OP_NEW,tc__sums_dtype(l,n),attr,3);
}
}
static void tc__relist_last(tc__relist*l,int64_t tickets,tc__ix e,int64_t count){
int64_t attr[3];
attr[TC__LAST_BUFFER]=tickets,attr[TC__LAST_INDEX]=e;
attr[TC__LAST_COUNT]=count;
tc__relist_put(l,TC_OP_LAST,TC_I64,attr,3);
}
// ---- gen/device/map.c
enum{
TC__MAP_LINE=64,
TC__MAP_ALIGN=16,
TC__MAP_BATCHES=4096,
TC__MAP_BRINGERS=
128
};
typedef struct tc__mapped{
tc__ix at;
int line,deep,
row;
int64_t line_stride,deep_stride;
int64_t lines,depth,rows,batches;
int64_t tile,step;
int64_t whole;
int dtype;
}tc__mapped;
static int64_t tc__map_line(int dtype){
return 2*TC__MAP_LINE/(int64_t)tc__dtypes[dtype].bytes;
}
static int64_t tc__mapped_element(tc__ixpool*x,const tc__mapped*o,int64_t batch){
const int axis[]={o->line,o->deep,o->row};
tc__ix e=o->at;
for(int i=0;i<3;i++){
tc__ix v=axis[i]<0?0:tc__ix_find_var(x,e,(tc__axis)axis[i]);
int tells=axis[i]==(o->row>=0?o->row:o->line);
if(v)e=tc__ix_subst(x,e,v,tc__ix_const(tells?batch*o->rows:0));
}
return tc__ix_is_const(e)?tc__ix_value(e):-1;
}
typedef struct tc__mapped_batches{
int64_t share,inner,outer,stride[2];
}tc__mapped_batches;
static int64_t tc__mapped_run(tc__ixpool*x,const tc__mapped*o,int64_t step,
int64_t stride){
int64_t first=tc__mapped_element(x,o,0),n=1;
while(n*step<o->batches&&
tc__mapped_element(x,o,n*step)==first+n*stride)
n++;
return n;
}
static int tc__mapped_batches_of(tc__ixpool*x,const tc__mapped*o,
tc__mapped_batches*b){
int64_t first=tc__mapped_element(x,o,0);
memset(b,0,sizeof*b);
if(first<0||o->batches>TC__MAP_BATCHES)return 0;
b->share=tc__mapped_run(x,o,1,0),b->inner=b->outer=1;
if(b->share<o->batches){
b->stride[0]=tc__mapped_element(x,o,b->share)-first;
b->inner=tc__mapped_run(x,o,b->share,b->stride[0]);
}
int64_t beside=b->share*b->inner;
b->outer=o->batches/beside;
if(b->outer>1)b->stride[1]=tc__mapped_element(x,o,beside)-first;
for(int64_t z=0;z<o->batches;z++){
int64_t own=z/b->share;
if(tc__mapped_element(x,o,z)!=
first+own%b->inner*b->stride[0]+own/b->inner*b->stride[1])
return 0;
}
return beside*b->outer==o->batches;
}
static int tc__map_fits(const tc_device_map*m){
const int64_t sizes=(int64_t)1<<31,strides=(int64_t)1<<38;
const int64_t align=TC__MAP_ALIGN/(int64_t)tc__dtypes[m->dtype].bytes;
int ok=m->offset>=0&&m->offset%align==0;
for(int i=0;i<4;i++)ok=ok&&m->size[i]>0&&m->size[i]<sizes;
for(int i=0;i<3;i++)
ok=ok&&m->stride[i]>0&&m->stride[i]<strides&&m->stride[i]%align==0;
return ok;
}
static int tc__map_of(tc__ixpool*x,const tc__mapped*o,tc_device_map*m){
int deep=o->deep_stride==1;
memset(m,0,sizeof*m);
if(o->deep_stride<=0||o->line_stride<=0||(!deep&&o->line_stride!=1))
return 0;
tc__mapped_batches b;
if(!tc__mapped_batches_of(x,o,&b))return 0;
m->dtype=o->dtype,m->offset=tc__mapped_element(x,o,0);
m->size[0]=deep?o->depth:o->lines,m->size[1]=deep?o->lines:o->depth;
m->size[2]=b.inner,m->size[3]=b.outer;
m->stride[0]=deep?o->line_stride:o->deep_stride;
m->stride[1]=b.inner>1?b.stride[0]:m->stride[0]*m->size[1];
m->stride[2]=b.outer>1?b.stride[1]:m->stride[1]*m->size[2];
int half=deep&&o->whole&&o->whole<tc__map_line(o->dtype);
m->box[0]=(uint32_t)(half?o->whole:tc__map_line(o->dtype));
m->box[1]=(uint32_t)(deep?o->tile:o->step);
m->box[2]=m->box[3]=1;
return tc__map_fits(m);
}
enum{
TC__MAP_CORNER=127,
TC__MAP_REACH=
127
};
static int tc__windows_are_half(const tc__group_windows*w,int dtype){
return w->channels&&!w->turned&&w->channels%tc__map_line(dtype)!=0;
}
static int tc__map_of_windows(const tc__group_windows*w,int64_t places,int dtype,
tc_device_map*m){
int64_t stride=w->channels,
line=tc__map_line(dtype)/(1+tc__windows_are_half(w,dtype));
memset(m,0,sizeof*m);
if(!w->channels||w->channels%line||places>256)return 0;
m->dtype=dtype,m->size[0]=w->channels,m->size[3]=w->images;
m->box[0]=(uint32_t)line,m->box[1]=(uint32_t)places,m->box[2]=1;
for(int i=0;i<2;i++){
int64_t reach=(w->size[1-i]-1)*w->dilation[1-i];
int64_t end=(w->out[1-i]-1)*w->stride[1-i]-w->low[1-i];
m->size[1+i]=w->image[1-i],m->stride[i]=stride;
stride*=w->image[1-i];
m->low[i]=(int)-w->low[1-i],m->high[i]=(int)(end+1-w->image[1-i]);
m->step[i]=(uint32_t)w->stride[1-i];
if(reach>TC__MAP_REACH||w->low[1-i]>TC__MAP_CORNER||
w->stride[1-i]>8||m->high[i]>TC__MAP_CORNER||
m->high[i]<-TC__MAP_CORNER)
return 0;
}
m->stride[2]=stride;
for(int i=0;i<4;i++)
if(m->size[i]<=0||m->size[i]>=(int64_t)1<<31)return 0;
return 1;
}
static int tc__template_is_mapped(const tc__node*n){
const int64_t*number=n->attr+TC__TEMPLATE_NUMBERS;
if(n->op!=TC_OP_TEMPLATE)return 0;
if(n->attr[TC__TEMPLATE_NAME]==TC__TEMPLATE_CHAIN)
return number[TC__CHAIN_STAGES]!=0;
return n->attr[TC__TEMPLATE_NAME]==TC__TEMPLATE_TILES&&
number[TC__TILES_WAY]>=(int64_t)TC__WAY_MAPPED;
}
static int64_t tc__template_batches(const tc__node*n){
int64_t batches=
n->attr[TC__TEMPLATE_NUMBERS+(n->attr[TC__TEMPLATE_NAME]==TC__TEMPLATE_CHAIN
?(int)TC__CHAIN_BATCHES
:(int)TC__TILES_BATCHES)];
return batches?batches:1;
}
static int tc__hole_is_mapped(const tc__node*n,const tc__node*hole){
if(hole->op!=TC_OP_HOLE||hole->attr[TC__HOLE_BRING]==TC__BRING_VALUES)return 0;
if(n->attr[TC__TEMPLATE_NAME]==TC__TEMPLATE_TILES)
return hole->attr[TC__HOLE_BRING]==TC__BRING_ASYNC;
return hole->attr[TC__HOLE_HOLE]!=TC__HOLE_VALUE||
!n->attr[TC__TEMPLATE_NUMBERS+TC__CHAIN_SAME];
}
static void tc__mapped_tiles(const tc__node*n,int64_t hole,tc__mapped*o){
const int64_t*number=n->attr+TC__TEMPLATE_NUMBERS;
int left=hole==TC__HOLE_LEFT;
o->rows=tc__ix_value(n->attr[TC__TEMPLATE_ROWS]);
o->lines=left?o->rows:tc__ix_value(n->attr[TC__TEMPLATE_COLS]);
o->depth=tc__ix_value(n->attr[TC__TEMPLATE_DEPTH]);
o->tile=number[left?TC__TILES_ROWS:TC__TILES_COLS],
o->step=o->whole=number[TC__TILES_DEPTH];
if(!left)o->tile/=number[TC__TILES_CLUSTER],o->step/=number[TC__TILES_CLUSTER];
}
static void tc__mapped_chain(const tc__node*n,int64_t hole,tc__mapped*o){
const int64_t*number=n->attr+TC__TEMPLATE_NUMBERS;
int left=hole==TC__HOLE_LEFT||hole==TC__HOLE_LEFT_NEXT,
next=hole==TC__HOLE_LEFT_NEXT||hole==TC__HOLE_RIGHT_NEXT;
int64_t keys=tc__ix_value(n->attr[TC__TEMPLATE_DEPTH]);
int64_t ragged=number[next?TC__CHAIN_RAGGED_NEXT:TC__CHAIN_RAGGED_DEPTH];
o->rows=tc__ix_value(n->attr[TC__TEMPLATE_ROWS]);
o->lines=left?o->rows:keys;
o->depth=ragged?ragged:number[next?TC__CHAIN_NEXT:TC__CHAIN_DEPTH];
o->tile=number[left?TC__CHAIN_ROWS:TC__CHAIN_COLS];
o->step=number[TC__CHAIN_COLS];
if(hole!=TC__HOLE_VALUE)return;
o->lines=tc__ix_value(n->attr[TC__TEMPLATE_COLS]),o->depth=keys;
}
static int tc__template_map(const tc__group*k,const tc__node*n,const tc__node*hole,
tc_device_map*m){
const int64_t*a=hole->attr,*number=n->attr+TC__TEMPLATE_NUMBERS;
const tc__node*copy=k->body.node.at[hole->id+1];
tc__mapped o;
memset(&o,0,sizeof o);
if(copy->op==TC_OP_COPY&&k->shape.windows.channels&&
a[TC__HOLE_HOLE]!=TC__HOLE_LEFT){
int64_t from=copy->attr[TC__COPY_FROM];
int64_t places=number[k->shape.windows.turned?TC__TILES_DEPTH:TC__TILES_COLS];
int ok=tc__map_of_windows(&k->shape.windows,places,k->buffer.at[from].dtype,m);
m->address=(uint32_t)from;
return ok;
}
if(copy->op!=TC_OP_COPY||!tc__ix_is_const(n->attr[TC__TEMPLATE_ROWS])||
!tc__ix_is_const(n->attr[TC__TEMPLATE_COLS])||
!tc__ix_is_const(n->attr[TC__TEMPLATE_DEPTH]))
return 0;
o.at=copy->attr[TC__COPY_SOURCE];
o.line=(int)a[TC__HOLE_LINE],o.deep=(int)a[TC__HOLE_DEEP];
o.row=(int)a[TC__HOLE_ROW];
o.line_stride=a[TC__HOLE_LINE_STRIDE],o.deep_stride=a[TC__HOLE_DEEP_STRIDE];
if(n->attr[TC__TEMPLATE_NAME]==TC__TEMPLATE_CHAIN)
tc__mapped_chain(n,a[TC__HOLE_HOLE],&o);
else
tc__mapped_tiles(n,a[TC__HOLE_HOLE],&o);
o.batches=tc__template_batches(n);
o.dtype=k->buffer.at[copy->attr[TC__COPY_FROM]].dtype;
if(!tc__map_of(k->body.ix,&o,m))return 0;
m->address=(uint32_t)copy->attr[TC__COPY_FROM];
return 1;
}
// ---- gen/device/product_tiles.c
enum{TC__FEW_MOST=16};
typedef struct tc__product_tile{
uint16_t rows,cols,depth;
uint8_t high,across;
uint8_t stages;
uint8_t resident;
uint8_t speed;
uint8_t way;
uint16_t ends;
}tc__product_tile;
static const tc__product_tile tc__product_tiles_4[]={
{128,128,8,4,2,2,2,100,TC__WAY_SIMT,0},
{64,64,16,2,2,2,4,80,TC__WAY_SIMT,0},
{32,32,32,2,1,2,4,55,TC__WAY_SIMT,0},
{128,128,16,2,4,2,1,120,TC__WAY_SPLIT,0},
{64,256,16,1,8,2,1,110,TC__WAY_SPLIT,0},
};
static const tc__product_tile tc__product_tiles_8[]={
{64,64,16,2,2,2,2,100,TC__WAY_SIMT,0},
{32,32,16,2,2,2,4,70,TC__WAY_SIMT,0},
};
static const tc__product_tile tc__product_tiles_half[]={
{128,256,64,2,4,4,1,110,TC__WAY_MMA,0},
{128,128,32,2,2,4,2,90,TC__WAY_MMA,0},
{128,128,32,2,4,4,1,85,TC__WAY_MMA,0},
{128,256,32,2,4,4,1,100,TC__WAY_MMA,0},
{64,128,32,2,2,4,2,75,TC__WAY_MMA,0},
{64,64,32,2,2,4,3,60,TC__WAY_MMA,0},
};
static const tc__product_tile tc__product_tiles_groups[]={
{128,256,64,8,1,4,1,100,TC__WAY_GROUPS,480},
{128,128,64,8,1,4,1,82,TC__WAY_GROUPS,210},
{256,192,64,8,1,4,1,106,TC__WAY_GROUPS,490},
{256,128,64,8,1,4,1,99,TC__WAY_GROUPS,450},
{128,192,64,8,1,5,1,91,TC__WAY_GROUPS,400},
{128,128,64,8,1,3,2,56,TC__WAY_GROUPS,60},
{128,64,64,8,1,4,2,51,TC__WAY_GROUPS,350},
{64,128,64,4,1,4,2,62,TC__WAY_GROUPS,210},
{64,64,64,4,1,4,3,45,TC__WAY_GROUPS,180},
};
static const tc__product_tile tc__product_tiles_mapped[]={
{128,256,64,8,1,4,1,100,TC__WAY_MAPPED,130},
{128,128,64,8,1,6,1,92,TC__WAY_MAPPED,120},
{128,192,64,8,1,5,1,97,TC__WAY_MAPPED,120},
{256,128,64,8,1,4,1,98,TC__WAY_MAPPED,134},
{128,64,64,8,1,8,1,60,TC__WAY_MAPPED,120},
{64,256,64,4,1,5,1,70,TC__WAY_MAPPED,120},
{256,192,64,8,1,4,1,99,TC__WAY_MAPPED,130},
{64,128,64,4,1,4,2,65,TC__WAY_MAPPED,120},
{64,64,64,4,1,6,2,45,TC__WAY_MAPPED,120},
{128,96,64,8,1,7,1,80,TC__WAY_MAPPED,
120},
};
static const tc__product_tile tc__product_tiles_mapped_tf32[]={
{128,256,32,8,1,4,1,100,TC__WAY_MAPPED,65},
{128,128,32,8,1,6,1,92,TC__WAY_MAPPED,60},
{128,192,32,8,1,5,1,97,TC__WAY_MAPPED,60},
{256,128,32,8,1,4,1,98,TC__WAY_MAPPED,67},
{128,64,32,8,1,8,1,60,TC__WAY_MAPPED,60},
{64,256,32,4,1,5,1,70,TC__WAY_MAPPED,60},
{256,192,32,8,1,4,1,99,TC__WAY_MAPPED,65},
{64,128,32,4,1,4,2,65,TC__WAY_MAPPED,60},
{64,64,32,4,1,6,2,45,TC__WAY_MAPPED,60},
{128,96,32,8,1,7,1,80,TC__WAY_MAPPED,60},
};
static const tc__product_tile tc__product_tiles_mapped_f8[]={
{128,256,128,8,1,4,1,100,TC__WAY_MAPPED,260},
{128,128,128,8,1,6,1,92,TC__WAY_MAPPED,240},
{128,192,128,8,1,5,1,97,TC__WAY_MAPPED,240},
{256,128,128,8,1,4,1,98,TC__WAY_MAPPED,268},
{128,64,128,8,1,8,1,60,TC__WAY_MAPPED,240},
{64,256,128,4,1,5,1,70,TC__WAY_MAPPED,240},
{64,128,128,4,1,4,2,65,TC__WAY_MAPPED,240},
{64,64,128,4,1,6,2,45,TC__WAY_MAPPED,240},
{128,96,128,8,1,7,1,80,TC__WAY_MAPPED,240},
};
static const tc__product_tile tc__product_tiles_held[]={
{256,128,32,8,1,4,1,100,TC__WAY_HELD,65},
{128,128,32,8,1,6,1,71,TC__WAY_HELD,60},
{256,64,32,8,1,5,1,65,TC__WAY_HELD,60},
{128,64,32,8,1,8,1,50,TC__WAY_HELD,60},
{64,64,32,4,1,6,2,28,TC__WAY_HELD,60},
};
static const tc__product_tile tc__product_tiles_tf32[]={
{128,256,16,2,4,2,1,110,TC__WAY_TF32,0},
{64,64,16,2,2,2,3,60,TC__WAY_TF32,0},
{128,128,16,2,4,2,1,90,TC__WAY_TF32,0},
{32,32,16,2,1,2,4,35,TC__WAY_TF32,0},
{64,256,16,1,8,2,1,90,TC__WAY_TF32,0},
};
static const struct{
const tc__product_tile*tile;
uint8_t count;
uint8_t few;
uint16_t round;
}tc__product_kinds[]={
{tc__product_tiles_4,(uint8_t)TC__COUNT(tc__product_tiles_4),TC__FEW_MOST,128},
{tc__product_tiles_8,(uint8_t)TC__COUNT(tc__product_tiles_8),8,128},
{tc__product_tiles_half,(uint8_t)TC__COUNT(tc__product_tiles_half),4,512},
{tc__product_tiles_tf32,(uint8_t)TC__COUNT(tc__product_tiles_tf32),TC__FEW_MOST,256},
{tc__product_tiles_groups,(uint8_t)TC__COUNT(tc__product_tiles_groups),4,512},
{tc__product_tiles_mapped,(uint8_t)TC__COUNT(tc__product_tiles_mapped),4,512},
{tc__product_tiles_mapped_tf32,(uint8_t)TC__COUNT(tc__product_tiles_mapped_tf32),
TC__FEW_MOST,256},
{tc__product_tiles_held,(uint8_t)TC__COUNT(tc__product_tiles_held),TC__FEW_MOST,256},
{tc__product_tiles_mapped_f8,(uint8_t)TC__COUNT(tc__product_tiles_mapped_f8),4,1024},
};
// ---- gen/device/product_relay.c
enum{
TC__RELAY_NODES=64,
TC__RELAY_THREADS=
TC__MAP_BRINGERS-32,
TC__RELAY_OF=256,
TC__RELAY_STAGES=3,
TC__RELAY_ENDS=40,
TC__RELAY_MOVES=6,
TC__RELAY_LOAD=8,
TC__RELAY_CHEAP=2,
TC__RELAY_PACE=22
};
typedef struct tc__relay{
uint32_t sums,
rounded;
uint64_t made;
uint64_t again;
}tc__relay;
static uint64_t tc__relay_bit(const tc__relay*r,uint32_t id){
return id>=r->sums&&id-r->sums<(uint32_t)TC__RELAY_NODES
?(uint64_t)1<<(id-r->sums)
:0;
}
static int tc__relay_is_of_column(const tc__group*g,const tc__node*n){
if(n->op==TC_OP_LOAD)
return n->n_attr==TC__LOAD_PREDICATES&&!tc__buffer_of(g,n)->written&&
!tc__ix_uses(g->body.ix,n->attr[TC__LOAD_INDEX],TC__ROW)&&
!tc__ix_has_val(g->body.ix,n->attr[TC__LOAD_INDEX]);
return n->op==TC_OP_CONST||n->op==TC_OP_ARG||n->op==TC_OP_CAST||
tc__is_alu(n);
}
static uint64_t tc__relay_operands(const tc__relay*r,const tc__node*n){
uint64_t bits=0;
for(uint32_t i=0;i<n->n_in;i++)bits|=tc__relay_bit(r,n->in[i]);
return bits;
}
static uint64_t tc__relay_made(const tc__group*g,const tc__relay*r,uint32_t id){
uint64_t made=tc__relay_bit(r,id);
for(uint32_t k=id;k>r->sums;k--){
const tc__node*n=g->body.node.at[k];
if(!(made&tc__relay_bit(r,k)))continue;
if(!tc__relay_is_of_column(g,n))return 0;
for(uint32_t i=0;i<n->n_in;i++)
if(!tc__relay_bit(r,n->in[i]))return 0;
made|=tc__relay_operands(r,n);
}
return made;
}
static uint64_t tc__relay_again(const tc__group*g,const tc__relay*r,uint64_t rounded){
uint64_t again=0;
for(uint32_t id=(uint32_t)g->body.node.count;--id>r->sums;){
uint64_t own=tc__relay_bit(r,id);
if(!(own&r->made)||(own&again&~rounded))
again|=tc__relay_operands(r,g->body.node.at[id])&r->made;
}
return again;
}
static const tc__node*tc__relay_reader(const tc__group*g,const tc__relay*r){
const tc__node*reader=NULL;
for(uint32_t id=r->rounded+1;id<g->body.node.count;id++)
for(uint32_t i=0;i<g->body.node.at[id]->n_in;i++){
if(g->body.node.at[id]->in[i]!=r->rounded)continue;
if(reader&&reader->id!=id)return NULL;
reader=g->body.node.at[id];
}
return reader;
}
static tc__relay tc__relay_of_halves(const tc__group*g,tc__relay r){
const tc__node*n;
r.rounded=r.sums,r.made=1;
while((n=tc__relay_reader(g,&r))!=NULL){
uint64_t made=
tc__is_alu(n)&&tc__is_half(n->dtype)&&tc__ops[n->op].cost<=TC__RELAY_CHEAP
?tc__relay_made(g,&r,n->id)
:0;
if(!made)break;
r.rounded=n->id,r.made=made;
r.again=tc__relay_again(g,&r,tc__relay_bit(&r,n->id));
}
return r;
}
static tc__relay tc__relay_of(const tc__group*g){
tc__relay r;
memset(&r,0,sizeof r);
r.sums=tc__contract_of(g)->id;
if(tc__is_half(tc__contract_of(g)->dtype))return tc__relay_of_halves(g,r);
uint64_t uses=1;
for(uint32_t id=r.sums+1;
id<g->body.node.count&&id-r.sums<(uint32_t)TC__RELAY_NODES;id++){
const tc__node*n=g->body.node.at[id];
if(!(tc__relay_operands(&r,n)&uses))continue;
uint64_t own=tc__relay_bit(&r,id);
uses|=own;
if(n->op!=TC_OP_CAST||!tc__is_half(n->dtype))continue;
r.made=tc__relay_made(g,&r,id),r.again=tc__relay_again(g,&r,own);
if(r.made&&!(r.again&uses&~own)){
r.rounded=id;
return r;
}
}
return r;
}
static int tc__relay_is_exact(const tc__group*g,const tc__relay*r){
if(!tc__is_half(tc__contract_of(g)->dtype))return 1;
for(uint32_t id=r->rounded+1;id<g->body.node.count;id++)
for(uint32_t i=0;i<g->body.node.at[id]->n_in;i++)
if(g->body.node.at[id]->in[i]==r->rounded&&
g->body.node.at[id]->op!=TC_OP_STORE)
return 0;
return 1;
}
static uint32_t tc__product_rows_loop(const tc__group*g){
uint32_t id=g->shape.prologue;
while(g->body.node.at[id]->op!=TC_OP_FOR)id++;
return id;
}
static int64_t tc__relay_rest(const tc__group*g,const tc__relay*r){
int64_t cost=TC__RELAY_MOVES;
for(uint32_t id=tc__product_rows_loop(g);id<g->body.node.count;id++){
const tc__node*n=g->body.node.at[id];
if(tc__relay_bit(r,id)&r->made)continue;
if(n->level==TC__AT_COL&&tc__is_alu(n))cost+=tc__ops[n->op].cost;
if(n->op==TC_OP_LOAD&&!tc__relay_is_of_column(g,n))cost+=TC__RELAY_LOAD;
}
return cost;
}
static int tc__relay_bytes(int64_t rows,int64_t cols,int64_t warps){
return(int)(2*rows*cols+16*warps);
}
// ---- gen/device/product_operands.c
typedef enum tc__product_form{
TC__PRODUCT_FEW,
TC__PRODUCT_TILES,
TC__PRODUCT_ROWS
}tc__product_form;
enum{
TC__PRODUCT_SMS=132,
TC__PRODUCT_GROUP=16,
TC__SPLIT_DEPTH=128,
TC__PRODUCT_PAD=8,
TC__PRODUCT_ALIGN=1024,
TC__MAPPED_LIGHT=
8,
TC__MAPPED_HIGH=16,
TC__MAPPED_ROOM=227*1024,
TC__MAPPED_LINES=32,
TC__MAPPED_WIDTH=8,
TC__PRODUCT_MOVED=128,
TC__PRODUCT_LINE=64,
TC__PRODUCT_SUMS=64,
TC__FEW_THREADS=256,
TC__FEW_LINE=128,
TC__FEW_LANES=2,
TC__FEW_BUSY=8,
TC__FEW_LONG=1024,
TC__FEW_BLOCKS=528,
TC__FEW_SHORT=924,
TC__FEW_EVEN=20,
TC__FEW_DOTS=1056,
TC__FEW_DEEP=512,
TC__FEW_EACH=4,
TC__FEW_WIDTH=16,
TC__FEW_SUMS=64,
TC__SLICE_STEPS=8,
TC__SLICE_GROUP=12,
TC__HELD_DEPTH=64,
TC__HELD_RESULTS=1<<22,
TC__FEW_ROUND=512,
TC__ROWS_BYTES=98304,
TC__ROWS_MADE=16384,
TC__ROWS_STEPS=65536,
TC__ROWS_BY_WARP=
1024,
TC__ROWS_ALONE=256,
TC__ROWS_AHEAD=64
};
typedef struct tc__staged{
tc__level level;
uint32_t id;
tc__axis along;
int width;
tc__bring bring;
int computed;
}tc__staged;
typedef struct tc__product{
tc__product_form form;
int dtype,half;
int kind;
int threads;
int resident;
tc__ix m,blocks,shared;
tc__staged left,right;
const tc__product_tile*tile;
int slices;
int64_t length;
int room;
int sums;
int64_t shares;
int width;
int lines;
int cluster;
int total;
int relay;
tc__relay halves;
int depth;
int stages;
tc__axis wide;
int few;
int dot;
int sharing;
int each;
int cover;
int parts;
int made;
int64_t row;
int steps;
int ahead;
}tc__product;
static int tc__product_bytes(const tc__product*q){
return tc__is_fp8(q->dtype)?1
:q->half?2
:(int)tc__dtypes[q->dtype].bytes<8?4
:8;
}
static int tc__product_pack(const tc__product*q){
return TC__PRODUCT_GROUP/(tc__class_of(q->dtype)==TC__CLASS_f64||
tc__class_of(q->dtype)==TC__CLASS_i64
?8
:4);
}
static int tc__is_operand_load(const tc__node*n,tc__level level){
return n->op==TC_OP_LOAD&&n->level==(uint8_t)level;
}
static int tc__is_wide_load(const tc__group*g,const tc__node*n,int width,
tc__axis axis){
tc__ixpool*x=g->body.ix;
tc__ix e=n->attr[TC__ACCESS_INDEX],v=tc__ix_find_var(x,e,axis);
if(n->n_attr>TC__LOAD_PREDICATES||tc__buffer_of(g,n)->place==TC__BUF_ROW)
return 0;
if(tc__access_along(g,e,axis,width)!=TC__CONTIGUOUS)return 0;
if(v)e=tc__ix_subst(x,e,v,tc__ix_mul(x,v,tc__ix_const(width)));
return tc__ix_divisor(x,e)%width==0;
}
static int tc__operand_fits(const tc__group*g,tc__level level,tc__axis axis,int width){
int wide=0;
for(size_t i=0;i<g->body.node.count;i++){
const tc__node*n=g->body.node.at[i];
if(!tc__is_operand_load(n,level))continue;
int still=
n->n_attr==TC__LOAD_PREDICATES&&
tc__access_along(g,n->attr[TC__ACCESS_INDEX],axis,width)==TC__UNIFORM;
if(!still&&!tc__is_wide_load(g,n,width,axis))return 0;
wide|=!still;
}
return wide;
}
static int tc__operand_has_room(const tc__group*g,tc__level level,tc__axis axis,
tc__ix extent,int width){
tc__ixpool*x=g->body.ix;
if(!tc__ix_is_const(extent))return 0;
int64_t end=(tc__ix_value(extent)+width-1)/width*width;
for(size_t i=0;i<g->body.node.count;i++){
const tc__node*n=g->body.node.at[i];
if(!tc__is_operand_load(n,level))continue;
tc__ix e=n->attr[TC__ACCESS_INDEX],v=tc__ix_find_var(x,e,axis);
int64_t pitch=tc__buffer_of(g,n)->pitch;
if(!v)continue;
if(pitch<end||tc__ix_divisor(x,tc__ix_sub(x,e,v))%pitch)return 0;
}
return 1;
}
static int tc__operand_width(const tc__group*g,const tc__product*q,tc__level level,
tc__axis axis,tc__ix extent,int most){
uint32_t narrow=TC__PRODUCT_GROUP,wide=2;
for(size_t i=0;i<g->body.node.count;i++){
const tc__node*n=g->body.node.at[i];
if(!tc__is_operand_load(n,level))continue;
uint32_t bytes=tc__dtypes[tc__buffer_of(g,n)->dtype].bytes;
if(bytes<narrow)narrow=bytes;
if(bytes>wide)wide=bytes;
}
int width=(int)(TC__PRODUCT_GROUP/narrow);
for(width=width<most?width:most;width>=(int)(TC__PRODUCT_GROUP/wide);
width/=2)
if((tc__ix_divisor(g->body.ix,extent)%width==0||
(q->room&&tc__operand_has_room(g,level,axis,extent,width)))&&
tc__operand_fits(g,level,axis,width))
return width;
return 1;
}
static int tc__operand_is_dense(const tc__group*g,tc__level level,tc__axis axis){
for(size_t i=0;i<g->body.node.count;i++){
const tc__node*n=g->body.node.at[i];
if(tc__is_operand_load(n,level)&&
tc__access_along(g,n->attr[TC__ACCESS_INDEX],axis,1)==TC__CONTIGUOUS)
return 1;
}
return 0;
}
static int tc__operand_windows(const tc__group*g,const tc__product*q,tc__level level){
int width=TC__PRODUCT_GROUP/tc__product_bytes(q);
int64_t channels=g->shape.windows.channels;
return level==TC__AT_RIGHT&&channels&&channels%width==0?width:0;
}
static int tc__product_is_rounded(const tc__group*g,const tc__product*q){
const tc__group_windows*w=&g->shape.windows;
return q->dtype==TC_F32&&g->target.tf32&&
(w->channels?!w->turned:g->shape.rounded);
}
static tc__staged tc__stage_operand(const tc__group*g,const tc__product*q,
tc__level level,int most){
tc__staged s;
tc__axis other=level==TC__AT_LEFT?TC__ROW:TC__COL;
tc__ix extent=level==TC__AT_LEFT?q->m:g->shape.cols;
memset(&s,0,sizeof s);
s.level=level,s.id=level==TC__AT_LEFT?tc__left_of(g):tc__right_of(g);
s.along=TC__DEPTH,
s.width=tc__operand_width(g,q,level,TC__DEPTH,tc__depth_of(g),most);
if(tc__operand_windows(g,q,level)){
s.width=tc__operand_windows(g,q,level);
s.along=g->shape.windows.turned?TC__COL:TC__DEPTH;
}
if(s.width==1){
s.width=tc__operand_width(g,q,level,other,extent,most);
int dense=!tc__operand_is_dense(g,level,TC__DEPTH)&&
tc__operand_is_dense(g,level,other);
if(s.width>1||dense)s.along=other;
}
const tc__node*n=g->body.node.at[s.id];
s.computed=n->op!=TC_OP_LOAD&&
(n->op!=TC_OP_CAST||g->body.node.at[n->in[0]]->op!=TC_OP_LOAD);
s.bring=s.width==1?TC__BRING_NOW:TC__BRING_LATER;
if(q->half&&s.width==8&&n->op==TC_OP_LOAD&&
tc__buffer_of(g,n)->dtype==q->dtype)
s.bring=TC__BRING_ASYNC;
return s;
}
static int64_t tc__operand_stride(const tc__group*g,const tc__staged*s,tc__axis axis){
tc__ixpool*x=g->body.ix;
tc__ixrun run=tc__ix_run(x,g->body.node.at[s->id]->attr[TC__LOAD_INDEX],axis);
tc__ix m=tc__ix_div(x,g->shape.rows,g->shape.batch);
if(!run.ok||!tc__ix_is_const(run.stride))return 0;
if(run.run!=INT64_MAX&&(axis!=TC__ROW||!tc__ix_equals(m,run.run)))return 0;
return tc__ix_value(run.stride);
}
static int tc__operand_is_skew(const tc__group*g,const tc__product*q,
const tc__staged*s){
tc__axis line=s->level==TC__AT_LEFT?TC__ROW:TC__COL;
int64_t apart=tc__operand_stride(g,s,s->along==TC__DEPTH?line:TC__DEPTH);
return apart*tc__product_bytes(q)%TC__PRODUCT_MOVED!=0;
}
static tc__mapped tc__mapped_operand(const tc__group*g,const tc__staged*s,tc__ix m,
tc__ix batches){
int left=s->level==TC__AT_LEFT;
tc__axis line=left?TC__ROW:TC__COL;
tc__mapped o;
memset(&o,0,sizeof o);
o.at=g->body.node.at[s->id]->attr[TC__LOAD_INDEX];
o.line=(int)line,o.deep=TC__DEPTH,o.row=left?-1:(int)TC__ROW;
o.line_stride=tc__operand_stride(g,s,line);
o.deep_stride=tc__operand_stride(g,s,TC__DEPTH);
o.rows=tc__ix_value(m),o.depth=tc__ix_value(tc__depth_of(g));
o.batches=tc__ix_value(batches);
return o;
}
static int tc__mapped_operand_map(const tc__group*g,const tc__staged*s,
const tc__mapped*o,tc_device_map*map){
return(s->along==TC__DEPTH?o->deep_stride:o->line_stride)==1&&
tc__map_of(g->body.ix,o,map);
}
static int tc__operand_has_map(const tc__group*g,const tc__product*q,
const tc__staged*s){
const tc__node*n=g->body.node.at[s->id];
tc_device_map map;
if(n->op!=TC_OP_LOAD||n->n_attr!=TC__LOAD_PREDICATES)return 0;
tc__mapped o=tc__mapped_operand(g,s,q->m,g->shape.batch);
o.lines=s->level==TC__AT_LEFT?o.rows:tc__ix_value(g->shape.cols);
o.tile=o.step=TC__MAP_LINE;
o.dtype=tc__is_fp8(n->dtype)?n->dtype:q->dtype;
return tc__mapped_operand_map(g,s,&o,&map);
}
static int tc__operand_is_mapped(const tc__group*g,const tc__product*q,
const tc__staged*s){
int left=s->level==TC__AT_LEFT;
tc_device_map map;
int rounded=tc__product_is_rounded(g,q);
if(!left&&g->shape.windows.channels&&
(rounded||tc__operand_windows(g,q,s->level)))
return tc__map_of_windows(&g->shape.windows,1,q->dtype,&map);
if(rounded?s->along!=TC__DEPTH:s->bring!=TC__BRING_ASYNC)return 0;
return tc__operand_has_map(g,q,s);
}
static int tc__product_may_be_mapped(const tc__group*g,const tc__product*q){
return g->target.matrix_warps&&g->target.tensor_maps&&!g->target.checked&&
tc__ix_is_const(q->m)&&tc__ix_is_const(g->shape.cols)&&
tc__ix_is_const(g->shape.batch)&&tc__ix_is_const(tc__depth_of(g));
}
static int tc__product_is_mapped(const tc__group*g,const tc__product*q){
return(q->half||tc__product_is_rounded(g,q))&&tc__product_may_be_mapped(g,q)&&
tc__operand_is_mapped(g,q,&q->left)&&tc__operand_is_mapped(g,q,&q->right);
}
static int tc__product_is_short(const tc__group*g){
tc__ix results=tc__ix_mul(g->body.ix,g->shape.rows,g->shape.cols);
return tc__ix_value(tc__depth_of(g))<=TC__HELD_DEPTH&&
tc__ix_value(results)<TC__HELD_RESULTS;
}
static int tc__product_is_held(const tc__group*g,const tc__product*q){
const tc__node*right=g->body.node.at[q->right.id];
if(q->dtype!=TC_F32||!g->target.tf32||!tc__product_may_be_mapped(g,q))return 0;
if(tc__product_is_short(g)||g->shape.windows.channels)return 0;
if(q->left.width!=4||q->right.computed||right->op!=TC_OP_LOAD)return 0;
if(tc__buffer_of(g,right)->dtype!=TC_F32)return 0;
if(q->right.width>1&&q->right.along==TC__DEPTH&&
tc__ix_value(tc__depth_of(g))%4)
return 0;
return tc__operand_has_map(g,q,&q->left);
}
static uint32_t tc__operand_f8(const tc__group*g,uint32_t id){
const tc__node*n=g->body.node.at[id];
if(n->op!=TC_OP_CAST)return 0;
while(n->op==TC_OP_CAST&&tc__is_float(n->dtype)&&!tc__is_fp8(n->dtype))
n=g->body.node.at[n->in[0]];
int loads=n->op==TC_OP_LOAD&&tc__is_fp8(n->dtype)&&
tc__buffer_of(g,n)->dtype==n->dtype;
return loads?n->id+1:0;
}
static int tc__product_is_of_f8(const tc__group*g){
int dtype=g->body.node.at[tc__left_of(g)]->dtype;
return!g->shape.prologue&&(dtype==TC_F32||tc__is_half(dtype))&&
tc__operand_f8(g,tc__left_of(g))&&tc__operand_f8(g,tc__right_of(g));
}
static int tc__stage_f8(const tc__group*g,const tc__product*q,tc__staged*s){
int width=TC__PRODUCT_GROUP;
s->id=tc__operand_f8(g,s->id)-1;
s->along=TC__DEPTH,s->width=width,s->computed=0,s->bring=TC__BRING_ASYNC;
return tc__ix_divisor(g->body.ix,tc__depth_of(g))%width==0&&
tc__is_wide_load(g,g->body.node.at[s->id],width,TC__DEPTH)&&
tc__operand_has_map(g,q,s);
}
static int tc__product_takes_f8(const tc__group*g,tc__product*q){
tc__staged left=q->left,right=q->right;
if(!g->target.fast||!tc__product_is_of_f8(g)||!tc__product_may_be_mapped(g,q)||
g->shape.windows.channels)
return 0;
if(!tc__stage_f8(g,q,&left)||!tc__stage_f8(g,q,&right))return 0;
q->left=left,q->right=right,q->half=0;
q->dtype=g->body.node.at[left.id]->dtype;
return 1;
}
static int tc__result_has_room(const tc__group*g,int width){
int64_t end=(tc__ix_value(g->shape.cols)+width-1)/width*width;
if(!tc__device_all_wide(g,width))return 0;
for(size_t i=0;i<g->body.node.count;i++){
const tc__node*n=g->body.node.at[i];
if(tc__device_is_memory(n)&&n->level==TC__AT_COL&&
!tc__device_is_still(g,n,TC__COL,width)&&tc__buffer_of(g,n)->pitch<end)
return 0;
}
return 1;
}
static int tc__result_width(const tc__group*g){
int width=tc__device_width(g,TC__COL),
most=TC__DEVICE_WIDEST/(int)tc__device_least_bytes(g);
if(width>1||!tc__ix_is_const(g->shape.cols))return width;
return tc__result_has_room(g,most)?most:width;
}
// ---- gen/device/product.c
TC__STATIC_ASSERT(slices_meet_in_two_rounds,
TC__SLICE_GROUP*TC__SLICE_GROUP>=TC__PRODUCT_SMS);
static int64_t tc__slice_length(int64_t k,int step,int slices){
int64_t steps=(k-1)/step+1;
return((steps-1)/slices+1)*step;
}
static int64_t tc__slices_cost(const tc__group*g,int step,int round,int slices){
if(!tc__ix_is_const(tc__depth_of(g))||tc__ix_value(tc__depth_of(g))<1)return 1;
int64_t cost=tc__slice_length(tc__ix_value(tc__depth_of(g)),step,slices);
for(int apart=1;apart<slices;apart*=TC__SLICE_GROUP)cost+=round;
return cost;
}
static int tc__choose_slices(const tc__group*g,int64_t blocks,int64_t want,int step,
int round){
int best=1;
if(g->shape.tuning.knob[TC__KNOB_PRODUCT_TILE])
return 1;
if(!tc__ix_is_const(tc__depth_of(g))||blocks<1||2*blocks>want)return 1;
int64_t most=tc__ix_value(tc__depth_of(g))/(step*TC__SLICE_STEPS);
if(most>TC__PRODUCT_SMS)most=TC__PRODUCT_SMS;
for(int i=2;i<=most&&i*blocks<=want;i++)
if(tc__slices_cost(g,step,round,i)<tc__slices_cost(g,step,round,best))
best=i;
return best;
}
static void tc__cut_depth(const tc__group*g,tc__product*q,int step,int slices){
q->slices=slices;
if(q->slices==1)return;
int64_t k=tc__ix_value(tc__depth_of(g));
q->length=tc__slice_length(k,step,q->slices);
q->slices=(int)((k-1)/q->length+1);
q->blocks=tc__ix_const(q->shares*q->slices);
}
static int64_t tc__slice_tickets(const tc__product*q){return q->slices+1;}
static int tc__is_easy(const tc__product*q,const tc__staged*s){
int easy=s->bring==TC__BRING_ASYNC||(!q->half&&s->bring==TC__BRING_LATER);
return easy&&!s->computed;
}
static int tc__are_easy(const tc__product*q){
return tc__is_easy(q,&q->left)&&tc__is_easy(q,&q->right);
}
static int tc__tiles_resident(const tc__group*g,const tc__product*q){
int casts=g->body.node.at[q->left.id]->op==TC_OP_CAST||
g->body.node.at[q->right.id]->op==TC_OP_CAST;
return tc__are_easy(q)&&!(casts&&q->tile->way==TC__WAY_SIMT)?q->tile->resident
:1;
}
static int tc__tile_slices(const tc__group*g,const tc__product*q,
const tc__product_tile*t,int64_t blocks){
if(!tc__are_easy(q)&&t->rows*t->cols>128*128)return 1;
return tc__choose_slices(g,blocks,TC__PRODUCT_SMS,t->depth,
tc__product_kinds[q->kind].round);
}
static int tc__tile_spare(int way,int stages,int64_t warps,int64_t lines){
if(way>=TC__WAY_MAPPED)
return TC__PRODUCT_ALIGN+2*8*stages+
(int)(warps*TC__MAPPED_HIGH*4*lines);
return way==TC__WAY_GROUPS?TC__PRODUCT_ALIGN:0;
}
static int tc__relay_stages(const tc__group*g,const tc__product*q,
const tc__product_tile*t){
int64_t room=g->target.room?(int64_t)g->target.room:(int64_t)TC__MAPPED_ROOM,
stage=tc__product_bytes(q)*t->depth*(t->rows+t->cols);
room-=tc__relay_bytes(t->rows,t->cols,t->high*t->across);
int stages=t->stages;
while(stages&&stages*stage+tc__tile_spare(t->way,stages,0,0)>room)stages--;
return stages;
}
static int tc__tile_can_relay(const tc__group*g,const tc__product*q,
const tc__product_tile*t){
return t->way==TC__WAY_MAPPED&&q->half&&
32*t->high*t->across==TC__RELAY_OF&&t->cols%TC__MAP_LINE==0&&
q->width>=TC__MAPPED_WIDTH&&tc__relay_stages(g,q,t)>=TC__RELAY_STAGES&&
q->halves.rounded;
}
static int tc__tile_relays(const tc__group*g,const tc__product*q,
const tc__product_tile*t,int64_t blocks){
if(blocks<=TC__PRODUCT_SMS||!tc__tile_can_relay(g,q,t))return 0;
return tc__relay_rest(g,&q->halves)*TC__RELAY_PACE<=
tc__ix_lo(g->body.ix,tc__depth_of(g));
}
static double tc__tile_cost(const tc__group*g,const tc__product*q,
const tc__product_tile*t){
int64_t m=tc__ix_value(q->m),n=tc__ix_value(g->shape.cols),
blocks=tc__ix_value(g->shape.batch)*((m-1)/t->rows+1)*
((n-1)/t->cols+1);
int round=tc__product_kinds[q->kind].round,slices=tc__tile_slices(g,q,t,blocks);
int64_t waves=(blocks*slices-1)/TC__PRODUCT_SMS+1;
int ends=tc__tile_relays(g,q,t,blocks)?(int)TC__RELAY_ENDS:t->ends;
return(double)(waves*t->rows*t->cols)*
(double)(tc__slices_cost(g,t->depth,round,slices)+ends)/t->speed;
}
static int tc__tile_has_registers(const tc__product*q,const tc__product_tile*t){
int wait=q->left.bring==TC__BRING_LATER||q->right.bring==TC__BRING_LATER;
int sums=t->rows*t->cols/(32*t->high*t->across);
return!q->half||!wait||sums<=TC__PRODUCT_SUMS;
}
static int tc__result_is_long(const tc__group*g){
uint32_t cost=0;
for(size_t i=0;i<g->body.node.count;i++)
if(g->body.node.at[i]->level==TC__AT_COL&&tc__is_alu(g->body.node.at[i]))
cost+=tc__ops[g->body.node.at[i]->op].cost;
return cost>TC__MAPPED_LIGHT;
}
static int tc__tile_part(int way,int64_t rows,int64_t high){
if(way>=TC__WAY_MAPPED)return 0;
return(int)(way==TC__WAY_GROUPS?16*high:rows/high);
}
static int tc__tile_bytes(const tc__product*q,const tc__product_tile*t,int lines){
return t->stages*tc__product_bytes(q)*t->depth*(t->rows+t->cols)+
tc__tile_spare(t->way,2*t->stages,t->high*t->across,lines);
}
static int tc__product_lines(const tc__group*g,const tc__product*q,
const tc__product_tile*t){
int64_t room=g->target.room?(int64_t)g->target.room:(int64_t)TC__MAPPED_ROOM;
if(t->way<TC__WAY_MAPPED||(q->width>1&&!tc__result_is_long(g)))return 0;
int most=t->way==TC__WAY_HELD?1:2;
for(int lines=most*TC__MAPPED_LINES;lines;lines-=TC__MAPPED_LINES){
int turns=t->cols>lines&&t->cols%lines==0;
int one=q->width==1&&lines==TC__MAPPED_LINES;
if(one||(q->width>1&&turns&&tc__tile_bytes(q,t,lines)<=room))
return lines;
}
return 0;
}
static int tc__tile_has_room(const tc__group*g,const tc__product*q,
const tc__product_tile*t){
if(t->way==TC__WAY_SPLIT&&
(q->dtype!=TC_F32||tc__ix_lo(g->body.ix,tc__depth_of(g))<TC__SPLIT_DEPTH))
return 0;
if(g->target.checked&&t->rows*t->cols>128*128)
return 0;
if(q->total&&t->way!=TC__WAY_MAPPED)return 0;
if(!tc__tile_has_registers(q,t))return 0;
if(t->way==TC__WAY_MAPPED&&t->cols%TC__MAP_LINE&&q->right.along!=TC__DEPTH)
return 0;
int bytes=tc__tile_bytes(q,t,tc__product_lines(g,q,t));
return!g->target.room||(uint32_t)bytes<=g->target.room;
}
static const tc__product_tile*tc__choose_product_tile(const tc__group*g,
const tc__product*q){
const tc__product_tile*tile=tc__product_kinds[q->kind].tile,*best=&tile[1];
int knob=
g->shape.tuning.knob[TC__KNOB_PRODUCT_TILE];
if(knob)return&tile[knob-1];
if(!tc__tile_has_registers(q,best))best++;
if(!tc__ix_is_const(q->m)||!tc__ix_is_const(g->shape.cols)||
!tc__ix_is_const(g->shape.batch))
return best;
for(int i=0;i<tc__product_kinds[q->kind].count;i++)
if(tc__tile_has_room(g,q,&tile[i])&&
tc__tile_cost(g,q,&tile[i])<tc__tile_cost(g,q,best))
best=&tile[i];
return best;
}
static tc__ix tc__tiles_high(const tc__group*g,const tc__product*q){
return tc__ix_ceil_div(g->body.ix,q->m,tc__ix_const(q->tile->rows));
}
static tc__ix tc__tiles_across(const tc__group*g,const tc__product*q){
return tc__ix_ceil_div(g->body.ix,g->shape.cols,tc__ix_const(q->tile->cols));
}
static int tc__line_pitch(const tc__product*q,int size){
if(q->half||q->tile->way>=TC__WAY_MAPPED)return size;
return size+(q->tile->way==TC__WAY_SIMT?tc__product_pack(q):TC__PRODUCT_PAD);
}
static int tc__stage_size(const tc__product*q,tc__level level){
int size=level==TC__AT_LEFT?q->tile->rows:q->tile->cols;
return q->depth*tc__line_pitch(q,size);
}
static int tc__has_async(const tc__product*q){
return q->left.bring==TC__BRING_ASYNC||q->right.bring==TC__BRING_ASYNC;
}
static int tc__product_stages(const tc__product*q){
if(tc__has_async(q))return q->tile->stages;
return q->tile->way==TC__WAY_GROUPS?3:2;
}
static void tc__plan_relay(const tc__group*g,tc__product*q){
int knob=g->shape.tuning.knob[TC__KNOB_RELAY];
q->lines=tc__product_lines(g,q,q->tile),q->stages=tc__product_stages(q);
if(knob?knob==TC__RELAY_OFF||!tc__tile_can_relay(g,q,q->tile)
:!tc__tile_relays(g,q,q->tile,q->shares))
return;
int parts=q->tile->rows/(16*q->tile->high),lines=TC__MAP_LINE;
while(parts*q->tile->cols/lines<TC__RELAY_THREADS/32)lines/=2;
q->relay=TC__RELAY_THREADS,q->lines=lines;
q->stages=tc__relay_stages(g,q,q->tile);
}
static int tc__tiles_shared(const tc__product*q){
int ring=q->stages*tc__product_bytes(q)*
(tc__stage_size(q,TC__AT_LEFT)+tc__stage_size(q,TC__AT_RIGHT));
int part=tc__tile_part(q->tile->way,q->tile->rows,q->tile->high)*
(q->tile->cols+TC__PRODUCT_PAD)*
(TC__PRODUCT_GROUP/tc__product_pack(q));
if(q->relay)
return ring+tc__tile_spare(q->tile->way,q->stages,0,0)+
tc__relay_bytes(q->tile->rows,q->tile->cols,q->threads/32);
return(ring>part?ring:part)+
tc__tile_spare(q->tile->way,q->stages,q->threads/32,q->lines);
}
static int tc__stage_accesses(const tc__product*q,const tc__staged*s){
int size=s->level==TC__AT_LEFT?q->tile->rows:q->tile->cols;
return size*q->depth/s->width/q->threads;
}
static void tc__fit_stage(const tc__product*q,tc__staged*s){
while(s->width>1&&!tc__stage_accesses(q,s))s->width/=2;
if(s->width==1)s->bring=TC__BRING_NOW;
}
static int tc__product_threads(const tc__product*q){
int mapped=q->form==TC__PRODUCT_TILES&&q->tile&&q->tile->way>=TC__WAY_MAPPED;
return q->threads+(mapped?TC__MAP_BRINGERS:0);
}
static int tc__tiles_cluster(const tc__group*g,const tc__product*q){
if(q->tile->way!=TC__WAY_MAPPED||g->target.cluster<2||q->total)return 1;
if(g->shape.windows.channels||tc__ix_value(tc__tiles_high(g,q))%2)return 1;
return tc__operand_is_skew(g,q,&q->left)||tc__operand_is_skew(g,q,&q->right)?2
:1;
}
static void tc__plan_tiles(const tc__group*g,tc__product*q){
tc__ixpool*x=g->body.ix;
q->form=TC__PRODUCT_TILES;
q->tile=tc__choose_product_tile(g,q);
q->depth=q->tile->depth;
q->threads=32*q->tile->high*q->tile->across;
tc__fit_stage(q,&q->left);
tc__fit_stage(q,&q->right);
q->resident=tc__tiles_resident(g,q);
q->blocks=tc__ix_mul(x,g->shape.batch,
tc__ix_mul(x,tc__tiles_high(g,q),tc__tiles_across(g,q)));
q->shares=tc__ix_is_const(q->blocks)?tc__ix_value(q->blocks):0;
tc__plan_relay(g,q);
if(q->tile->way==TC__WAY_MAPPED&&tc__windows_are_half(&g->shape.windows,q->dtype))
q->depth/=2,q->stages*=2;
q->shared=tc__ix_const(tc__tiles_shared(q));
q->sums=q->tile->rows*q->tile->cols/q->threads;
q->cluster=tc__tiles_cluster(g,q);
tc__cut_depth(g,q,q->tile->depth,tc__tile_slices(g,q,q->tile,q->shares));
}
static int tc__choose_wide(const tc__group*g,tc__product*q){
int64_t most=tc__product_kinds[q->kind].few;
int64_t m=tc__ix_is_const(q->m)?tc__ix_value(q->m):INT64_MAX,
n=tc__ix_is_const(g->shape.cols)?tc__ix_value(g->shape.cols):INT64_MAX;
if(m>most&&n>most)return 0;
q->wide=m<=n?TC__COL:TC__ROW;
q->few=(int)(m<=n?m:n);
return 1;
}
static const tc__staged*tc__wide_operand(const tc__product*q){
return q->wide==TC__COL?&q->right:&q->left;
}
static tc__ix tc__wide_extent(const tc__group*g,const tc__product*q){
return q->wide==TC__COL?g->shape.cols:q->m;
}
static void tc__share_deep(tc__product*q,int64_t accesses,int64_t sums,int64_t want){
q->each=TC__FEW_EACH,q->sharing=32;
while(q->sharing<q->threads&&4*q->sharing<=accesses&&
2*q->sharing*sums<=want*q->each*q->threads)
q->sharing*=2;
while(q->each>1&&2*q->sharing*sums<=want*q->each*q->threads)
q->each/=2;
}
static void tc__share_dot(const tc__group*g,tc__product*q){
int64_t accesses=tc__ix_hi(g->body.ix,tc__depth_of(g))/tc__wide_operand(q)->width;
tc__ix all=tc__ix_mul(g->body.ix,g->shape.batch,tc__wide_extent(g,q));
int64_t sums=tc__ix_hi(g->body.ix,all),busy=TC__PRODUCT_SMS*TC__FEW_BUSY;
int rows=q->form==TC__PRODUCT_ROWS;
int one=rows?q->wide==TC__COL&&tc__ix_equals(q->m,1):q->few==1;
int deep=one&&tc__ix_is_const(all)&&tc__ix_is_const(tc__depth_of(g))&&
accesses>=TC__FEW_DEEP&&sums<4*busy;
q->each=sums>=4*busy?2:1;
q->sharing=32;
if(accesses<=16)q->sharing=accesses<=8?8:16;
if(sums<=busy/2&&accesses>=TC__FEW_LONG)q->sharing=q->threads;
if(deep)tc__share_deep(q,accesses,sums,rows?TC__FEW_DOTS/2:TC__FEW_DOTS);
q->parts=q->sharing>32?q->sharing/32:1;
q->cover=q->threads/q->sharing*q->each;
}
static void tc__share_columns(const tc__group*g,tc__product*q){
tc__staged*wide=q->wide==TC__COL?&q->right:&q->left;
while(q->form==TC__PRODUCT_FEW&&wide->width*q->few>TC__FEW_SUMS)
wide->width/=2;
int width=wide->width;
int lanes=width>1?TC__FEW_LINE/TC__PRODUCT_GROUP:32;
tc__ix all=tc__ix_mul(g->body.ix,tc__ix_mul(g->body.ix,g->shape.batch,q->m),
tc__wide_extent(g,q));
int64_t sums=tc__ix_hi(g->body.ix,all);
while(q->form==TC__PRODUCT_ROWS&&q->wide==TC__COL&&lanes>TC__FEW_LANES&&
lanes<=8&&sums<=(int64_t)lanes*width*TC__PRODUCT_SMS)
lanes/=2;
q->cover=lanes*width;
q->sharing=q->threads/lanes,q->parts=q->threads/32;
}
static int tc__few_slices(const tc__group*g,const tc__product*q,int step){
int want=q->dot?TC__FEW_DOTS:TC__FEW_BLOCKS,
slices=tc__choose_slices(g,q->shares,want,step,TC__FEW_ROUND);
int even=slices*q->shares*TC__FEW_EVEN>=(int64_t)want*(TC__FEW_EVEN-1);
if(even||q->dot||q->few>1||!q->half||tc__wide_operand(q)->computed)
return slices;
return tc__choose_slices(g,q->shares,TC__FEW_SHORT,step,TC__FEW_ROUND);
}
static void tc__plan_few(const tc__group*g,tc__product*q){
tc__ixpool*x=g->body.ix;
q->form=TC__PRODUCT_FEW;
q->threads=TC__FEW_THREADS;
q->dot=tc__wide_operand(q)->along==TC__DEPTH;
if(q->dot)
tc__share_dot(g,q);
else
tc__share_columns(g,q);
int bytes=TC__PRODUCT_GROUP/tc__product_pack(q);
q->shared=tc__ix_const(q->parts*q->few*q->cover*bytes);
q->blocks=
tc__ix_mul(x,g->shape.batch,
tc__ix_ceil_div(x,tc__wide_extent(g,q),tc__ix_const(q->cover)));
int width=tc__wide_operand(q)->width;
q->sums=q->few*(q->dot?q->each:width);
q->shares=tc__ix_is_const(q->blocks)?tc__ix_value(q->blocks):0;
int step=q->sharing*(q->dot?width:1);
tc__cut_depth(g,q,step,tc__few_slices(g,q,step));
}
static const tc__kbuf*tc__left_rows(const tc__group*g){
size_t i=0;
while(g->buffer.at[i].place!=TC__BUF_MADE)i++;
return&g->buffer.at[i];
}
static tc__ix tc__rows_high(const tc__group*g,const tc__product*q){
return tc__ix_ceil_div(g->body.ix,q->m,tc__ix_const(q->made));
}
static tc__ix tc__rows_across(const tc__group*g,const tc__product*q){
if(q->wide==TC__ROW)return tc__ix_const(1);
return tc__ix_ceil_div(g->body.ix,g->shape.cols,tc__ix_const(q->cover));
}
static tc__ix tc__rows_blocks(const tc__group*g,const tc__product*q){
tc__ixpool*x=g->body.ix;
return tc__ix_mul(x,g->shape.batch,
tc__ix_mul(x,tc__rows_high(g,q),tc__rows_across(g,q)));
}
static void tc__choose_made(const tc__group*g,tc__product*q){
int64_t m=tc__ix_hi(g->body.ix,q->m),most=TC__FEW_MOST;
if(m<most)most=m;
q->made=1;
while(q->made<most&&tc__ix_hi(g->body.ix,tc__rows_blocks(g,q))>TC__PRODUCT_SMS)
q->made=q->made*2<most?q->made*2:(int)most;
q->few=q->made;
}
static int64_t tc__held_registers(const tc__group*g,const tc__product*q){
const tc__node*n=g->body.node.at[tc__wide_operand(q)->id];
int words=n->op==TC_OP_LOAD&&tc__is_half(n->dtype)?2:1;
return(int64_t)q->steps*(q->dot?q->each:1)*tc__wide_operand(q)->width/words;
}
static void tc__plan_made(const tc__group*g,tc__product*q){
int64_t k=tc__ix_value(tc__depth_of(g)),
bytes=TC__PRODUCT_GROUP/tc__product_pack(q);
int few=tc__choose_wide(g,q)&&q->wide==TC__ROW;
q->form=TC__PRODUCT_ROWS,q->wide=few?TC__ROW:TC__COL;
q->threads=TC__FEW_THREADS;
q->dot=tc__wide_operand(q)->along==TC__DEPTH;
if(q->dot)
tc__share_dot(g,q);
else
tc__share_columns(g,q);
if(few)
q->made=q->cover;
else
tc__choose_made(g,q);
int64_t stride=(int64_t)q->sharing*(q->dot?tc__wide_operand(q)->width:1);
q->steps=(int)((k-1)/stride+1);
q->ahead=!few&&tc__held_registers(g,q)<=TC__ROWS_AHEAD;
q->row=tc__padded(k*tc__dtypes[tc__left_rows(g)->dtype].bytes,TC__PRODUCT_GROUP);
q->shared=tc__ix_const(q->made*q->row+q->parts*q->few*q->cover*bytes);
q->blocks=tc__rows_blocks(g,q);
}
static tc__product tc__product_plan_with(const tc__group*g,int total){
tc__product q;
memset(&q,0,sizeof q);
q.total=total;
q.dtype=g->body.node.at[tc__left_of(g)]->dtype;
if(q.dtype==TC_F32&&tc__product_is_of_f8(g))q.dtype=TC_F16;
q.half=tc__is_half(q.dtype);
q.kind=q.half&&g->target.matrix_warps?4
:q.half?2
:tc__product_bytes(&q)==8?1
:g->target.tf32&&q.dtype==TC_F32?3
:0;
q.slices=q.cluster=1;
q.m=tc__ix_div(g->body.ix,g->shape.rows,g->shape.batch);
int few=!g->shape.prologue&&tc__choose_wide(g,&q),most=few?TC__FEW_WIDTH:8;
q.room=!few&&!g->shape.prologue;
q.left=tc__stage_operand(g,&q,TC__AT_LEFT,most);
q.right=tc__stage_operand(g,&q,TC__AT_RIGHT,most);
if(g->shape.prologue)
tc__plan_made(g,&q);
else if(few)
tc__plan_few(g,&q);
else{
if(tc__product_takes_f8(g,&q)){
q.kind=8;
}else if(tc__product_is_mapped(g,&q)){
q.kind=q.half?5:6;
q.left.bring=q.right.bring=TC__BRING_ASYNC;
if(!total)q.halves=tc__relay_of(g);
if(!q.half)q.right.along=TC__DEPTH,q.right.width=4;
}else if(tc__product_is_held(g,&q)){
q.kind=7,q.left.bring=TC__BRING_ASYNC;
}
q.width=tc__result_width(g);
tc__plan_tiles(g,&q);
}
return q;
}
static tc__product tc__product_plan(const tc__group*g){
return tc__product_plan_with(g,tc__total_of(g)!=NULL);
}
static int tc__product_takes_total(const tc__group*g){
tc__product q=tc__product_plan_with(g,1),plain=tc__product_plan_with(g,0);
return q.form==TC__PRODUCT_TILES&&q.tile->way==TC__WAY_MAPPED&&q.half&&
q.left.along==TC__ROW&&q.slices==1&&!g->shape.windows.channels&&
plain.tile==q.tile&&plain.slices==1&&plain.cluster==1&&!plain.relay;
}
static int tc__product_relay_fits(const tc__group*g,int v){
tc__product q=tc__product_plan(g);
if(q.form!=TC__PRODUCT_TILES||q.slices>1)return 0;
if(!tc__relay_is_exact(g,&q.halves))return 0;
return v==TC__RELAY_OFF?q.relay!=0
:!q.relay&&tc__tile_can_relay(g,&q,q.tile);
}
static int tc__product_tile_fits(const tc__group*g,int v){
tc__product q=tc__product_plan(g);
if(q.form!=TC__PRODUCT_TILES||v>tc__product_kinds[q.kind].count)return 0;
if(q.slices>1)return 0;
const tc__product_tile*tile=&tc__product_kinds[q.kind].tile[v-1];
if(tile==q.tile||tile->way!=q.tile->way||!tc__tile_has_room(g,&q,tile))
return 0;
tc__group other=*g;
other.shape.tuning.knob[TC__KNOB_PRODUCT_TILE]=(uint8_t)v;
return tc__relay_is_exact(g,&q.halves)||tc__product_plan(&other).relay==q.relay;
}
// ---- gen/device/plan.c
typedef enum tc__device_form{TC__DEVICE_ROWS,TC__DEVICE_COLUMNS}tc__device_form;
typedef enum tc__device_hold{
TC__DEVICE_AGAIN,
TC__DEVICE_REGISTERS,
TC__DEVICE_SHARED
}tc__device_hold;
enum{
TC__DEVICE_BLOCK=256,
TC__DEVICE_MOST=1024,
TC__DEVICE_FLIGHT=64,
TC__DEVICE_COLUMN_FLIGHT=
128,
TC__DEVICE_SHORT=
2,
TC__DEVICE_VECTORS=8,
TC__DEVICE_PRIVATE=256,
TC__DEVICE_EARLY=48,
TC__DEVICE_EARLY_LANES=16,
TC__DEVICE_TEXT=4096,
TC__DEVICE_WARP_BLOCK=128,
TC__DEVICE_WARP_ELEMENTS=32,
TC__DEVICE_BLOCK_ELEMENTS=16,
TC__DEVICE_ROW_THREADS=512,
TC__DEVICE_LONG_THREADS=
1024,
TC__DEVICE_LONG_BYTES=65536,
TC__DEVICE_WARP_HELD=64,
TC__DEVICE_BLOCK_HELD=40,
TC__DEVICE_ROW_BYTES=204800,
TC__DEVICE_CLUSTER_BYTES=
102400,
TC__DEVICE_STATIC=40960,
TC__DEVICE_FEW=264,
TC__DEVICE_PARTS=528,
TC__DEVICE_MEETING=3,
TC__DEVICE_WORDS=65536,
TC__DEVICE_COLUMN_WORDS=
20,
TC__DEVICE_COLUMNS_LONG=1024,
TC__DEVICE_PART=2048,
TC__DEVICE_WHOLE=8192,
TC__DEVICE_PHASED=4096,
TC__DEVICE_PHASED_COST=1<<20,
TC__DEVICE_DEAR=
64,
TC__DEVICE_CHEAP=
4,
TC__DEVICE_DEAR_PARTS=2112,
TC__DEVICE_DEAR_PART=1024
};
typedef struct tc__device_plan{
tc__device_form form;
tc__axis axis;
int threads,width;
int vectors;
int narrow;
int lanes_early;
int led;
int tail;
int sharing;
tc__device_hold hold;
int late;
int parts;
int cluster;
int launches;
int kept;
tc__ix chunk;
}tc__device_plan;
// ---- gen/device/hold.c
typedef struct tc__device_led_by{
const tc__group*g;
int columns;
}tc__device_led_by;
static void tc__device_visit_led(void*user,uint32_t id){
tc__device_led_by*by=(tc__device_led_by*)user;
by->columns|=by->g->body.node.at[id]->level!=TC__AT_ROW;
}
static int tc__device_is_led(const tc__group*g,int by_rows,tc__ix e){
tc__device_led_by by={g,!by_rows};
if(!tc__ix_has_val(g->body.ix,e))return 0;
tc__ix_each_val(g->body.ix,e,tc__device_visit_led,&by);
return by.columns;
}
static int tc__device_may_be_early(const tc__group*g,const tc__device_plan*q,
const tc__node*n){
if(n->op!=TC_OP_LOAD)return 0;
int row=tc__device_is_row(g,n->attr[TC__ACCESS_BUFFER]),
written=tc__buffer_of(g,n)->written;
int kept=row&&q->kept;
if(!kept&&(row||(written&&!tc__device_is_made(g,n))))return 0;
if(n->level==TC__AT_ROW)return 0;
for(uint32_t i=1;i<n->n_attr;i++)
if(tc__attr_is_ix(n,i)&&tc__device_is_led(g,q->led,n->attr[i]))return 0;
return 1;
}
static int tc__device_is_one(const tc__group*g,const tc__device_plan*q,
const tc__node*n){
return q->width==1||tc__device_is_wide(g,n,q->width,q->axis)||
tc__device_is_still(g,n,q->axis,q->width);
}
static int tc__device_is_early(const tc__group*g,const tc__device_plan*q,
const tc__node*n){
return tc__device_may_be_early(g,q,n)&&
(q->lanes_early||tc__device_is_one(g,q,n));
}
static int64_t tc__device_words(const tc__group*g,const tc__device_plan*q,
const tc__node*n){
int still=q->width>1&&tc__device_is_still(g,n,q->axis,q->width);
int64_t bytes=(still?1:q->width)*(int64_t)tc__device_bytes(g,n);
return(bytes+3)/4;
}
static int tc__device_same_load(const tc__node*n,const tc__node*m){
return m->op==TC_OP_LOAD&&
m->attr[TC__ACCESS_BUFFER]==n->attr[TC__ACCESS_BUFFER]&&
m->attr[TC__ACCESS_INDEX]==n->attr[TC__ACCESS_INDEX]&&
m->n_attr==TC__LOAD_PREDICATES&&m->level==TC__AT_COL;
}
static void tc__device_choose_lanes_early(const tc__group*g,tc__device_plan*q){
int64_t words=0;
for(size_t i=0;i<g->body.node.count;i++){
const tc__node*n=g->body.node.at[i];
if(!tc__device_may_be_early(g,q,n))continue;
int single=q->width>1?!tc__device_is_one(g,q,n)
:n->n_attr>TC__LOAD_PREDICATES||
tc__device_access(g,n->attr[TC__ACCESS_INDEX],
q->axis,1)==TC__PER_LANE;
if(single)words+=tc__device_words(g,q,n);
}
q->lanes_early=words<=TC__DEVICE_EARLY_LANES;
}
static int tc__device_vectors(const tc__group*g,const tc__device_plan*q,
int64_t flight){
int64_t words=0,bytes=0,cost=0,each;
for(size_t i=0;i<g->body.node.count;i++){
const tc__node*n=g->body.node.at[i];
cost+=tc__ops[n->op].cost;
if(tc__device_is_memory(n)&&n->level==TC__AT_COL&&
(each=q->width*(int64_t)tc__device_bytes(g,n))>bytes)
bytes=each;
if(tc__device_is_early(g,q,n))words+=tc__device_words(g,q,n);
}
int count=bytes?(int)(flight/bytes):1;
if(count>TC__DEVICE_VECTORS)count=TC__DEVICE_VECTORS;
while(count>1&&
(count*words>TC__DEVICE_EARLY||count*q->width*cost>TC__DEVICE_TEXT))
count/=2;
return count<1?1:count;
}
static int tc__device_is_own_row(const tc__group*g,int64_t b){
if(!tc__device_is_row(g,b))return 0;
for(size_t i=0;i<g->body.node.count;i++){
const tc__node*n=g->body.node.at[i];
if(!tc__device_is_memory(n)||n->attr[TC__ACCESS_BUFFER]!=b)continue;
if(n->level!=TC__AT_COL||
(n->op==TC_OP_LOAD&&n->n_attr>TC__LOAD_PREDICATES)||
n->attr[TC__ACCESS_INDEX]!=tc__ix_var(g->body.ix,TC__COL,g->shape.cols))
return 0;
}
return 1;
}
static int64_t tc__device_first_load(const tc__group*g,const tc__node*n){
int64_t first=-1;
int count=0;
if(n->op!=TC_OP_LOAD||n->n_attr>TC__LOAD_PREDICATES||n->level!=TC__AT_COL)
return-1;
if(tc__buffer_of(g,n)->written||tc__device_is_row(g,n->attr[TC__ACCESS_BUFFER]))
return-1;
for(size_t i=0;i<g->body.node.count;i++){
if(!tc__device_same_load(n,g->body.node.at[i]))continue;
if(first<0)first=(int64_t)i;
count++;
}
return count>1?first:-1;
}
static int64_t tc__device_held_load(const tc__group*g,const tc__device_plan*q,
const tc__node*n){
if(q->hold==TC__DEVICE_AGAIN||!tc__device_may_be_early(g,q,n))return-1;
if(q->hold==TC__DEVICE_SHARED&&tc__ix_has_val(g->body.ix,n->attr[TC__LOAD_INDEX]))
return-1;
if(q->width>1&&tc__device_is_still(g,n,q->axis,q->width))return-1;
return tc__device_first_load(g,n);
}
static const tc__node*tc__device_fills(const tc__group*g,int64_t b){
for(size_t i=0;i<g->body.node.count;i++){
const tc__node*n=g->body.node.at[i];
if(n->op==TC_OP_STORE&&n->attr[TC__STORE_BUFFER]==b)return n;
}
return NULL;
}
static int tc__device_needs(const tc__group*g,const tc__node*n,uint8_t*need){
need[n->id]=1;
for(uint32_t i=n->id+1;i-- >0;){
const tc__node*m=g->body.node.at[i];
if(!need[i]||m->level!=TC__AT_COL)continue;
if(m->op==TC_OP_LOAD&&(tc__device_is_row(g,m->attr[TC__ACCESS_BUFFER])||
tc__buffer_of(g,m)->written))
return 0;
if(m->op==TC_OP_CHECK||m->op==TC_OP_ACC)return 0;
for(uint32_t k=0;k<m->n_in;k++)need[m->in[k]]=1;
for(uint32_t k=0;k<m->n_attr;k++)
if(tc__attr_is_ix(m,k)&&tc__ix_has_val(g->body.ix,m->attr[k]))return 0;
}
return 1;
}
enum{TC__DEVICE_NODES=4096};
static int tc__device_is_again(const tc__group*g,int64_t b){
uint8_t need[TC__DEVICE_NODES];
const tc__node*fill=tc__device_is_own_row(g,b)?tc__device_fills(g,b):NULL;
if(!fill||g->body.node.count>TC__DEVICE_NODES)return 0;
memset(need,0,sizeof need);
return tc__device_needs(g,g->body.node.at[fill->in[0]],need);
}
static int tc__device_is_cheap(const tc__group*g,int64_t b){
uint8_t need[TC__DEVICE_NODES];
int64_t cost=0;
if(!tc__device_is_again(g,b))return 0;
memset(need,0,sizeof need);
tc__device_needs(g,g->body.node.at[tc__device_fills(g,b)->in[0]],need);
for(size_t i=0;i<g->body.node.count;i++)
if(need[i]&&g->body.node.at[i]->level==TC__AT_COL)
cost+=tc__ops[g->body.node.at[i]->op].cost;
return cost<=TC__DEVICE_CHEAP;
}
static int tc__device_is_scratch(const tc__group*g,const tc__device_plan*q,int64_t b){
if(!tc__device_is_row(g,b)||q->kept)return 0;
if(q->hold==TC__DEVICE_REGISTERS)return!tc__device_is_own_row(g,b);
return!tc__device_is_again(g,b);
}
static int tc__device_has_shared_row(const tc__group*g){
for(size_t i=0;i<g->buffer.count;i++)
if(tc__device_is_row(g,(int64_t)i)&&!tc__device_is_own_row(g,(int64_t)i))
return 1;
return 0;
}
static int tc__device_all_again(const tc__group*g){
for(size_t i=0;i<g->buffer.count;i++)
if(tc__device_is_row(g,(int64_t)i)&&!tc__device_is_again(g,(int64_t)i))
return 0;
return 1;
}
static int64_t tc__device_column_cost(const tc__group*g){
int64_t cost=0;
for(size_t i=0;i<g->body.node.count;i++)
if(g->body.node.at[i]->level==TC__AT_COL)
cost+=tc__ops[g->body.node.at[i]->op].cost;
return cost;
}
static int tc__device_keeps_rows(const tc__group*g){
int rows=0;
for(size_t i=0;i<g->buffer.count;i++)rows|=tc__device_is_row(g,(int64_t)i);
return rows&&
(!tc__device_all_again(g)||tc__device_column_cost(g)>TC__DEVICE_DEAR);
}
static int64_t tc__device_held(const tc__group*g,const tc__device_plan*q,int rows){
int64_t held=0;
for(size_t i=0;i<g->buffer.count;i++)
if(rows&&tc__device_is_own_row(g,(int64_t)i))
held+=tc__dtypes[g->buffer.at[i].dtype].bytes;
for(size_t i=0;i<g->body.node.count;i++){
const tc__node*n=g->body.node.at[i];
if(tc__device_held_load(g,q,n)==(int64_t)i)held+=tc__device_bytes(g,n);
}
return held;
}
static int tc__device_all_rows_read(const tc__group*g,const tc__node*n){
return!tc__ix_uses(g->body.ix,n->attr[TC__LOAD_INDEX],TC__ROW)&&
!tc__ix_has_val(g->body.ix,n->attr[TC__LOAD_INDEX]);
}
static int64_t tc__device_phase_words(const tc__group*g,const tc__device_plan*q){
int64_t words=0,most=0;
for(size_t i=0;i<g->body.node.count;i++){
const tc__node*n=g->body.node.at[i];
if(n->op==TC_OP_END)words=0;
if(tc__device_is_early(g,q,n)&&tc__device_held_load(g,q,n)<0&&
!(q->late&&tc__device_all_rows_read(g,n)))
words+=tc__device_words(g,q,n);
if(words>most)most=words;
}
return most;
}
// ---- gen/device/form.c
static int64_t tc__order_of(const tc__device_plan*q){
return(int64_t)q->parts<<32|(int64_t)q->sharing<<8|q->width;
}
static int tc__order_parts(int64_t order){return(int)(order>>32);}
static int tc__order_sharing(int64_t order){return(int)(order>>8&0xffffff);}
static int tc__device_power_of_two(int64_t n){
int v=1;
while(v<n)v*=2;
return v;
}
static int tc__device_any_scratch(const tc__group*g,const tc__device_plan*q){
for(size_t i=0;i<g->buffer.count;i++)
if(tc__device_is_scratch(g,q,(int64_t)i))return 1;
return 0;
}
static int tc__device_short_threads(const tc__group*g,int64_t accesses){
int threads=tc__device_power_of_two(accesses);
int fill=tc__ix_hi(g->body.ix,g->shape.rows)/TC__DEVICE_MOST>=
2*TC__DEVICE_SMS/threads;
return threads>1&&fill?threads/TC__DEVICE_SHORT:threads;
}
static void tc__device_share_by(const tc__group*g,tc__device_plan*q,int64_t columns,
int warp){
int64_t accesses=(columns-1)/q->width+1;
int64_t threads=
warp?32:tc__padded((columns-1)/TC__DEVICE_BLOCK_ELEMENTS+1,32);
if(warp&&accesses<32)
threads=g->shape.order?tc__order_sharing(g->shape.order)
:tc__device_short_threads(g,accesses);
if(threads>TC__DEVICE_ROW_THREADS)threads=TC__DEVICE_ROW_THREADS;
int64_t steps=(accesses-1)/threads+1;
q->hold=TC__DEVICE_REGISTERS;
int64_t words=tc__device_held(g,q,1)*steps*q->width/4;
q->sharing=(int)threads;
q->threads=warp?TC__DEVICE_WARP_BLOCK:(int)threads;
q->vectors=(int)steps;
for(q->late=0;q->late<2&&!q->tail;q->late++)
if(words+tc__device_phase_words(g,q)*steps<=
(warp?TC__DEVICE_WARP_HELD:TC__DEVICE_BLOCK_HELD))
return;
q->late=0;
q->vectors=tc__device_vectors(g,q,TC__DEVICE_FLIGHT);
q->hold=TC__DEVICE_SHARED;
int64_t bytes=tc__device_held(g,q,0)*tc__padded(columns,64);
if(!warp){
q->threads=bytes>TC__DEVICE_LONG_BYTES?TC__DEVICE_LONG_THREADS
:TC__DEVICE_ROW_THREADS;
if(accesses<q->threads)q->threads=(int)tc__padded(accesses,32);
q->sharing=q->threads;
while(q->vectors>1&&(q->vectors-1)*q->threads>=accesses)q->vectors--;
}
if(!bytes||bytes>TC__DEVICE_ROW_BYTES||q->threads!=q->sharing)
q->hold=TC__DEVICE_AGAIN;
}
static void tc__device_share(const tc__group*g,tc__device_plan*q,int64_t columns){
int warp=columns<=32*TC__DEVICE_WARP_ELEMENTS&&!tc__device_has_shared_row(g);
if(warp)tc__device_share_by(g,q,columns,1);
if(!warp||(q->threads!=q->sharing&&tc__device_any_scratch(g,q)))
tc__device_share_by(g,q,columns,0);
}
static int tc__device_loops(const tc__group*g){
int count=0;
for(size_t i=0;i<g->body.node.count;i++){
const tc__node*n=g->body.node.at[i];
count+=n->op==TC_OP_FOR&&n->attr[TC__FOR_AXIS]==TC__COL;
}
return count;
}
static int tc__device_ends_in_sums(const tc__group*g){
for(size_t i=g->body.node.count;i-- >0;){
if(g->body.node.at[i]->op==TC_OP_COMBINE)return 1;
if(g->body.node.at[i]->op==TC_OP_FOR)return 0;
}
return 0;
}
static int tc__device_parts(int64_t blocks,int64_t columns,int64_t most,int64_t least){
int64_t parts=most/blocks;
if(parts>columns/least)parts=columns/least;
return blocks>=TC__DEVICE_FEW||parts<2?1:(int)parts;
}
static tc__ix tc__device_scratch_at(const tc__group*g,const tc__device_plan*q,
int64_t b){
tc__ixpool*x=g->body.ix;
tc__ix at=tc__ix_const(0),line=tc__ix_const(64);
for(int64_t i=0;i<b;i++){
const tc__kbuf*row=&g->buffer.at[i];
if(!tc__device_is_scratch(g,q,i))continue;
tc__ix bytes=
tc__ix_mul(x,row->numel,tc__ix_const((int64_t)tc__dtypes[row->dtype].bytes));
at=tc__ix_add(x,at,tc__ix_mul(x,line,tc__ix_ceil_div(x,bytes,line)));
}
return at;
}
static tc__ix tc__device_scratch(const tc__group*g,const tc__device_plan*q){
return tc__device_scratch_at(g,q,(int64_t)g->buffer.count);
}
static int tc__device_is_too_long(const tc__group*g,const tc__device_plan*q){
tc__ix bytes=tc__device_scratch(g,q);
return g->target.room&&tc__ix_is_const(bytes)&&
tc__ix_value(bytes)+tc__device_parts_most(g,TC__DEVICE_LONG_THREADS,1)>
(int64_t)g->target.room;
}
static int tc__device_cut(const tc__group*g,tc__device_plan*q){
tc__ixpool*x=g->body.ix;
int loops=tc__device_loops(g);
int listed=
g->shape.order!=0;
if(!listed&&(!tc__ix_is_const(g->shape.rows)||tc__ix_value(g->shape.rows)<1))
return 0;
if(loops>TC__GRIDS||(loops<2&&!tc__device_all_again(g)))return 0;
int64_t rows=tc__ix_lo(x,g->shape.rows),columns=tc__ix_hi(x,g->shape.cols);
if(!tc__ix_is_const(g->shape.cols)&&(rows>1||loops>1))return 0;
int dear=loops>1&&tc__device_column_cost(g)>TC__DEVICE_DEAR;
int must=tc__device_is_too_long(g,q);
int64_t least=dear?TC__DEVICE_DEAR_PART
:loops>1?TC__DEVICE_PHASED
:TC__DEVICE_PART;
if(!must&&loops<2&&columns<=TC__DEVICE_WHOLE)return 0;
if(!must&&loops>1&&
columns<TC__DEVICE_PHASED_COST/(tc__device_column_cost(g)+1))
return 0;
q->parts=tc__device_parts(rows,columns,
dear?TC__DEVICE_DEAR_PARTS:TC__DEVICE_PARTS,least);
if(listed)q->parts=tc__order_parts(g->shape.order);
if(must&&q->parts<2)q->parts=2;
if(q->parts<2)return 0;
q->kept=loops>1&&tc__device_keeps_rows(g);
q->sharing=q->threads=TC__DEVICE_BLOCK;
q->launches=loops;
q->chunk=tc__ix_mul(
x,tc__ix_ceil_div(x,g->shape.cols,tc__ix_const((int64_t)q->parts*q->width)),
tc__ix_const(q->width));
int turn=TC__DEVICE_BLOCK*q->width*q->vectors;
if(loops<2&&columns/q->parts>=2*turn)
q->vectors=tc__device_vectors(g,q,2*TC__DEVICE_FLIGHT);
return 1;
}
static int64_t tc__device_kept_bytes(const tc__group*g,const tc__device_plan*q){
tc__ix columns=q->cluster?q->chunk:g->shape.cols;
return tc__device_held(g,q,0)*tc__padded(tc__ix_value(columns),64);
}
static int tc__device_is_apart(const tc__group*g){
for(size_t i=0;i<g->body.node.count;i++){
const tc__node*n=g->body.node.at[i];
if(n->op==TC_OP_LOAD&&tc__buffer_of(g,n)->written&&
!tc__device_is_row(g,n->attr[TC__LOAD_BUFFER]))
return 0;
}
return tc__device_all_again(g);
}
static void tc__device_deal(const tc__group*g,tc__device_plan*q,int blocks){
tc__ixpool*x=g->body.ix;
q->cluster=q->parts=blocks;
q->chunk=tc__ix_mul(
x,tc__ix_ceil_div(x,g->shape.cols,tc__ix_const((int64_t)blocks*q->width)),
tc__ix_const(q->width));
}
static int tc__device_cluster(const tc__group*g,tc__device_plan*q){
tc__device_plan p=*q;
int64_t most=(int64_t)g->target.cluster;
int64_t room=g->target.room&&g->target.room<TC__DEVICE_ROW_BYTES
?(int64_t)g->target.room
:(int64_t)TC__DEVICE_ROW_BYTES;
p.hold=TC__DEVICE_SHARED;
p.sharing=p.threads=TC__DEVICE_LONG_THREADS;
if(most<2||!tc__device_is_apart(g)||tc__device_kept_bytes(g,&p)<=room)
return 0;
for(int blocks=2;blocks<=most;blocks*=2){
tc__device_deal(g,&p,blocks);
if(tc__device_kept_bytes(g,&p)<=TC__DEVICE_CLUSTER_BYTES)break;
}
if(tc__device_kept_bytes(g,&p)+
tc__device_parts_most(g,TC__DEVICE_LONG_THREADS,p.cluster)>
room)
return 0;
if(tc__ix_is_const(g->shape.rows)&&
tc__ix_value(g->shape.rows)*p.parts<TC__DEVICE_SMS)
return 0;
*q=p;
return 1;
}
static void tc__device_plan_rows(const tc__group*g,tc__device_plan*q){
int known=tc__ix_is_const(g->shape.cols)&&tc__ix_value(g->shape.cols)>0;
q->hold=TC__DEVICE_AGAIN;
q->vectors=tc__device_vectors(g,q,TC__DEVICE_FLIGHT);
int plain=g->shape.kind!=TC__CONTRACTION;
if(plain&&known&&!q->tail&&tc__device_cluster(g,q))return;
if(plain&&tc__device_cut(g,q))return;
if(known&&(!q->tail||!tc__ix_equals(g->shape.rows,1)))
tc__device_share(g,q,tc__ix_value(g->shape.cols));
}
static int64_t tc__device_columns_shared(const tc__group*g,int width,int threads){
int64_t bytes=0;
for(size_t i=0;i<g->body.node.count;i++){
const tc__node*n=g->body.node.at[i];
if(n->op!=TC_OP_NEW)continue;
int arg=n->attr[TC__NEW_MONOID]==TC_OP_ARGMAX||
n->attr[TC__NEW_MONOID]==TC_OP_ARGMIN;
bytes+=tc__device_value_bytes(n->dtype)+(arg?8:0);
}
return 2*bytes*threads*width;
}
static int64_t tc__device_columns_resident(const tc__group*g,const tc__device_plan*q){
int64_t words=q->width+TC__DEVICE_COLUMN_WORDS;
for(size_t i=0;i<g->body.node.count;i++)
if(tc__device_is_early(g,q,g->body.node.at[i]))
words+=q->vectors*tc__device_words(g,q,g->body.node.at[i]);
return TC__DEVICE_WORDS/(q->threads*tc__padded(words,8));
}
static int64_t tc__device_columns_most(const tc__group*g,const tc__device_plan*q){
int64_t most=tc__device_columns_resident(g,q)*TC__DEVICE_SMS;
if(most>TC__DEVICE_PARTS)most=TC__DEVICE_PARTS;
return most<TC__DEVICE_SMS?(int64_t)TC__DEVICE_SMS:most;
}
static void tc__device_columns_threads(const tc__group*g,tc__device_plan*q){
int threads=q->threads;
q->threads=TC__DEVICE_ROW_THREADS;
if(tc__device_columns_resident(g,q)<2||
tc__device_columns_shared(g,q->width,q->threads)>TC__DEVICE_STATIC)
q->threads=threads;
}
static void tc__device_plan_columns(const tc__group*g,tc__device_plan*q){
tc__ixpool*x=g->body.ix;
int64_t columns=tc__ix_hi(x,g->shape.cols);
q->sharing=columns<64||!tc__device_all_again(g)?TC__DEVICE_BLOCK:32;
if(!tc__device_all_again(g))q->width=1;
q->vectors=tc__device_vectors(g,q,TC__DEVICE_COLUMN_FLIGHT);
if(!tc__ix_is_const(g->shape.rows)||q->sharing!=32||tc__device_loops(g)!=1||
!tc__device_ends_in_sums(g)||!tc__ix_is_const(g->shape.cols))
return;
if(columns>=TC__DEVICE_COLUMNS_LONG)tc__device_columns_threads(g,q);
int64_t rows=tc__ix_value(g->shape.rows),across=32*q->width;
int64_t blocks=(rows+across-1)/across,below=q->threads/32;
q->parts=tc__device_parts(blocks,columns,tc__device_columns_most(g,q),below*8);
q->chunk=tc__ix_ceil_div(x,g->shape.cols,tc__ix_const(q->parts));
}
static int tc__device_fits_columns(const tc__group*g,const tc__device_plan*q){
for(size_t i=0;i<g->buffer.count;i++){
tc__ix n=g->buffer.at[i].numel;
if(tc__device_is_scratch(g,q,(int64_t)i)&&
!(tc__ix_is_const(n)&&tc__ix_value(n)<=TC__DEVICE_PRIVATE))
return 0;
}
int64_t room=TC__DEVICE_ROW_BYTES;
if(g->target.room)room=g->target.room;
return tc__device_columns_shared(g,1,TC__DEVICE_BLOCK)<=room;
}
static int tc__device_ragged_width(const tc__group*g){
int many=
tc__ix_is_const(g->shape.rows)&&tc__ix_value(g->shape.rows)>=TC__DEVICE_FEW;
int long_rows=
tc__ix_is_const(g->shape.cols)&&tc__ix_value(g->shape.cols)>=TC__PITCH_WALKED;
int width=TC__DEVICE_WIDEST/(int)tc__device_least_bytes(g);
if(g->shape.kind!=TC__REDUCTION||!many||!long_rows)return 1;
return tc__device_all_again(g)&&tc__device_all_wide(g,width)?width:1;
}
static tc__device_plan tc__device_plan_of(const tc__group*g){
tc__device_plan q;
memset(&q,0,sizeof q);
int columns=g->shape.vector==TC__ROW&&tc__device_fits_columns(g,&q);
q.form=columns?TC__DEVICE_COLUMNS:TC__DEVICE_ROWS;
q.axis=q.form==TC__DEVICE_COLUMNS?TC__ROW:TC__COL;
q.threads=q.sharing=TC__DEVICE_BLOCK;
q.vectors=q.parts=q.launches=1;
q.narrow=tc__device_is_narrow(g);
q.led=q.form==TC__DEVICE_ROWS;
q.width=tc__device_width(g,q.axis);
if(q.form==TC__DEVICE_ROWS&&q.width==1)q.width=tc__device_ragged_width(g);
while(q.form==TC__DEVICE_COLUMNS&&q.width>1&&
tc__device_columns_shared(g,q.width,q.threads)>TC__DEVICE_STATIC)
q.width/=2;
q.tail=q.axis==TC__COL&&tc__ix_divisor(g->body.ix,g->shape.cols)%q.width;
tc__device_choose_lanes_early(g,&q);
if(q.form==TC__DEVICE_ROWS)tc__device_plan_rows(g,&q);
if(q.form==TC__DEVICE_COLUMNS)tc__device_plan_columns(g,&q);
return q;
}
static int64_t tc__device_order(const tc__group*g){
if(g->shape.kind!=TC__REDUCTION||tc__down_begin(g))return 0;
tc__device_plan q=tc__device_plan_of(g);
int plain=q.form==TC__DEVICE_ROWS&&q.launches==1&&!q.cluster&&
q.hold!=TC__DEVICE_SHARED&&!tc__device_any_scratch(g,&q);
return plain?tc__order_of(&q):0;
}
// ---- gen/device/made.c
static tc__group tc__prologue_of(const tc__group*g){
tc__group rows=*g;
rows.shape.kind=TC__REDUCTION,rows.shape.cols=tc__depth_of(g),
rows.shape.prologue=0;
rows.body.node.count=g->shape.prologue;
return rows;
}
static tc__device_plan tc__prologue_plan(const tc__group*rows,
const tc__product*product){
tc__device_plan q;
int64_t columns=tc__ix_value(rows->shape.cols);
memset(&q,0,sizeof q);
q.form=TC__DEVICE_ROWS,q.axis=TC__COL;
q.threads=q.sharing=product->threads;
q.vectors=q.parts=q.launches=1;
q.width=tc__device_width(rows,TC__COL);
while(columns%q.width)q.width/=2;
tc__device_choose_lanes_early(rows,&q);
if(columns<=(product->made>1?TC__ROWS_BY_WARP:TC__ROWS_ALONE)){
tc__device_share(rows,&q,columns);
q.threads=product->threads;
return q;
}
q.hold=TC__DEVICE_REGISTERS;
q.vectors=(int)((columns/q.width-1)/q.threads+1);
int64_t words=tc__device_held(rows,&q,1)*q.width/4;
if((words+tc__device_phase_words(rows,&q))*q.vectors<=TC__DEVICE_BLOCK_HELD)
return q;
q.hold=TC__DEVICE_AGAIN,q.vectors=tc__device_vectors(rows,&q,TC__DEVICE_FLIGHT);
return q;
}
static int tc__result_reads_rows(const tc__group*g){
for(size_t i=g->shape.prologue;i<g->body.node.count;i++){
const tc__node*n=g->body.node.at[i];
if(n->op==TC_OP_LOAD&&n->level!=TC__AT_LEFT&&
tc__buffer_of(g,n)->place==TC__BUF_MADE)
return 1;
}
return 0;
}
static int tc__prologue_is_plain(const tc__group*g,const tc__product*product){
tc__group rows=tc__prologue_of(g);
tc__device_plan q=tc__prologue_plan(&rows,product);
if(tc__result_reads_rows(g))return 0;
if(q.sharing>32&&product->made>1)return 0;
if(tc__device_has_shared_row(&rows))return 0;
for(size_t i=0;i<rows.buffer.count;i++)
if(tc__device_is_scratch(&rows,&q,(int64_t)i))return 0;
return 1;
}
static int tc__device_makes_rows(const tc__group*g){
if(!tc__ix_is_const(tc__depth_of(g)))return 0;
tc__product q=tc__product_plan(g);
if(tc__ix_value(q.shared)>TC__ROWS_BYTES||!tc__prologue_is_plain(g,&q))return 0;
if(q.wide==TC__ROW)return 1;
if(!tc__ix_is_const(q.blocks))return 0;
int64_t each=(tc__ix_value(q.blocks)-1)/TC__PRODUCT_SMS+1;
int64_t made=each*q.made*tc__ix_value(tc__depth_of(g));
tc__product other=q;
int tiles=!tc__choose_wide(g,&other);
return made<=TC__ROWS_MADE&&(!tiles||made*q.cover<=TC__ROWS_STEPS);
}
// ---- gen/device/chain.c
enum{
TC__CHAIN_INNER=2,
TC__CHAIN_STEP=64,
TC__CHAIN_WARPS=4,
TC__CHAIN_FEW=16,
TC__CHAIN_LONGEST=256,
TC__CHAIN_SUMS=128,
TC__CHAIN_LEFTS=32,
TC__CHAIN_FOLLOWED=24,
TC__CHAIN_NEAR=8,
TC__CHAIN_SHORT=64,
TC__CHAIN_TALL=2048,
TC__CHAIN_MAPPED=128,
TC__CHAIN_STAGES_MOST=4,
TC__CHAIN_STATIC=1024,
TC__CHAIN_WORDS=4,
TC__CHAIN_FEW_STEPS=
16
};
typedef struct tc__band{
int64_t low,up;
}tc__band;
typedef struct tc__chain{
const tc__group*g;
tc__group part[TC__LIST_PARTS];
uint32_t begin[TC__LIST_PARTS],
rows[TC__LIST_PARTS];
int parts,inner;
int softmax;
int dtype;
uint32_t
score;
const tc__node*
share;
int divides;
int bare;
const tc__node*most,*sum;
tc__staged left[TC__CHAIN_INNER],right[TC__CHAIN_INNER],value;
tc__band band;
int64_t depth[TC__CHAIN_INNER],wide;
int high,rows_high;
int step;
int held;
int stages;
int ahead;
int same;
const tc__node
*column[TC__CHAIN_WORDS];
int columns;
int pair;
tc__group beside;
const tc__node*score_next,*sum_next,*like;
uint32_t rows_next;
uint32_t scale;
tc__ix m,blocks;
int64_t bytes;
int few,lanes,slices,cluster,single,resident;
}tc__chain;
static const tc__node*tc__chain_node(const tc__chain*q,uint32_t id){
return q->g->body.node.at[id];
}
static int tc__chain_operand(const tc__chain*q,const tc__group*part,tc__level level,
tc__axis axis,tc__staged*s){
uint32_t id=level==TC__AT_LEFT?tc__left_of(part):tc__right_of(part);
const tc__node*n=tc__chain_node(q,id);
tc__ix extent=axis==TC__COL?part->shape.cols:tc__depth_of(part);
memset(s,0,sizeof*s);
s->level=level,s->id=id,s->along=axis,s->width=8,s->bring=TC__BRING_ASYNC;
return n->op==TC_OP_LOAD&&n->level==(uint8_t)level&&n->dtype==q->dtype&&
n->n_attr==TC__LOAD_PREDICATES&&tc__is_memory(tc__buffer_of(q->g,n))&&
tc__buffer_of(q->g,n)->dtype==q->dtype&&
tc__ix_divisor(q->g->body.ix,extent)%8==0&&
tc__is_wide_load(part,n,8,axis);
}
static int64_t tc__chain_line(tc__ix extent){
if(!tc__ix_is_const(extent))return 0;
int64_t n=tc__ix_value(extent),line=16;
while(line<n)line+=line<64?line:64;
return n>0&&line<=TC__CHAIN_LONGEST?line:0;
}
static int tc__chain_operands(tc__chain*q){
const tc__group*last=&q->part[q->parts-1];
const tc__node*left=tc__chain_node(q,tc__left_of(last));
for(int i=0;i<q->inner;i++){
q->depth[i]=tc__chain_line(tc__depth_of(&q->part[i]));
if(!q->depth[i]||
!tc__chain_operand(q,&q->part[i],TC__AT_LEFT,TC__DEPTH,&q->left[i])||
!tc__chain_operand(q,&q->part[i],TC__AT_RIGHT,TC__DEPTH,&q->right[i]))
return 0;
}
q->wide=tc__chain_line(last->shape.cols);
return q->wide&&left->op==TC_OP_LOAD&&tc__device_is_made(q->g,left)&&
tc__buffer_of(q->g,left)->dtype==q->dtype&&
(tc__chain_operand(q,last,TC__AT_RIGHT,TC__COL,&q->value)||
tc__chain_operand(q,last,TC__AT_RIGHT,TC__DEPTH,&q->value));
}
static const tc__node*tc__chain_store(const tc__chain*q,int64_t b){
for(size_t i=0;i<q->g->body.node.count;i++){
const tc__node*n=tc__chain_node(q,(uint32_t)i);
if(n->op==TC_OP_STORE&&n->attr[TC__STORE_BUFFER]==b)return n;
}
return NULL;
}
static int tc__chain_holds(const tc__chain*q,const tc__node*where);
static const tc__node*tc__chain_value(const tc__chain*q,const tc__node*n){
for(;;){
if(q->stages&&n->op==TC_OP_WHERE&&tc__chain_holds(q,n)){
n=tc__chain_node(q,n->in[1]);
continue;
}
if(n->op!=TC_OP_LOAD||tc__is_memory(tc__buffer_of(q->g,n))||
n->level!=TC__AT_COL)
return n;
const tc__node*store=tc__chain_store(q,n->attr[TC__LOAD_BUFFER]);
if(!store)return n;
n=tc__chain_node(q,store->in[0]);
}
}
static const tc__node*tc__chain_in(const tc__chain*q,const tc__node*n,uint32_t i){
return tc__chain_value(q,tc__chain_node(q,n->in[i]));
}
static int tc__chain_is_plain(const tc__chain*q,const tc__node*n){
if(n->op==TC_OP_LOAD)
return tc__is_memory(tc__buffer_of(q->g,n))&&n->n_attr==TC__LOAD_PREDICATES&&
!tc__buffer_of(q->g,n)->written&&
!tc__ix_has_val(q->g->body.ix,n->attr[TC__LOAD_INDEX]);
if(n->op==TC_OP_INDEX||n->op==TC_OP_VALID){
for(uint32_t i=0;i<n->n_attr;i++)
if(tc__ix_has_val(q->g->body.ix,n->attr[i]))return 0;
return 1;
}
return tc__is_alu(n)||n->op==TC_OP_CONST||n->op==TC_OP_ARG;
}
static int tc__chain_mark(const tc__chain*q,const tc__node*n,
const tc__node*const*sums,int count,uint8_t*marked){
n=tc__chain_value(q,n);
if(marked[n->id])return 1;
marked[n->id]=1;
for(int i=0;i<count;i++)
if(n==sums[i])return 1;
if(!tc__chain_is_plain(q,n))return 0;
for(uint32_t k=0;k<n->n_in;k++)
if(!tc__chain_mark(q,tc__chain_node(q,n->in[k]),sums,count,marked))return 0;
return 1;
}
static int tc__chain_fits(const tc__chain*q,const tc__node*n,
const tc__node*const*sums,int count){
tc_ctx*c=q->g->body.ctx;
uint8_t*marked=TC__NEW_ARRAY(c,uint8_t,q->g->body.node.count);
int ok=marked&&tc__chain_mark(q,n,sums,count,marked);
tc__free(c,marked,q->g->body.node.count);
return ok;
}
static int tc__chain_scores_fit(const tc__chain*q){
const tc__node*sums[TC__CHAIN_INNER];
for(int i=0;i<q->inner;i++)sums[i]=tc__contract_of(&q->part[i]);
return tc__chain_fits(q,tc__chain_node(q,q->score),sums,q->inner);
}
static int tc__chain_writes_rows(const tc__chain*q){
for(uint32_t id=q->begin[0];id<q->begin[q->parts-1];id++){
const tc__node*n=tc__chain_node(q,id);
int inner=q->softmax<0||id<q->begin[q->softmax];
if(n->op==TC_OP_STORE&&tc__is_memory(tc__buffer_of(q->g,n))&&
(inner||n->level!=TC__AT_ROW))
return 0;
if(n->op==TC_OP_CHECK||n->op==TC_OP_RANDOM)return 0;
}
return 1;
}
static const tc__node*tc__chain_combine(const tc__chain*q,const tc__node*n,
tc__op monoid){
if(n->op==TC_OP_MAXIMUM&&monoid==TC_OP_MAXIMUM){
const tc__node*least=tc__chain_node(q,n->in[1]);
if(least->op!=TC_OP_CONST||tc__const_value(least).f>-3e38)return NULL;
n=tc__chain_node(q,n->in[0]);
}
return n->op==TC_OP_COMBINE&&n->attr[TC__COMBINE_MONOID]==(int64_t)monoid?n
:NULL;
}
static const tc__node*tc__chain_exponential(tc__chain*q,const tc__node*n){
n=tc__chain_value(q,n);
if(n->op!=TC_OP_EXP)return NULL;
const tc__node*d=tc__chain_in(q,n,0);
return d->op==TC_OP_SUB?d:NULL;
}
static int tc__chain_is_of_sums(const tc__chain*q,const tc__node*n){
const tc__node*sums[2];
sums[0]=q->most,sums[1]=q->sum;
return n->level==TC__AT_ROW&&tc__chain_fits(q,n,sums,2);
}
static int tc__chain_softmax(tc__chain*q,const tc__node*stored){
const tc__group*g=q->g;
const tc__node*n=stored;
while(n->op==TC_OP_CAST&&tc__is_float(n->dtype))n=tc__chain_in(q,n,0);
const tc__node*e=n;
if(n->op==TC_OP_MUL||n->op==TC_OP_DIV){
int first=tc__chain_exponential(q,tc__chain_node(q,n->in[0]))!=NULL;
if(!first&&n->op==TC_OP_DIV)return 0;
e=tc__chain_node(q,n->in[first?0:1]);
q->share=tc__chain_node(q,n->in[first?1:0]),q->divides=n->op==TC_OP_DIV;
}
const tc__node*d=tc__chain_exponential(q,e);
if(!d)return 0;
q->bare=tc__chain_node(q,d->in[1])->op==TC_OP_COMBINE;
q->most=tc__chain_combine(q,tc__chain_node(q,d->in[1]),TC_OP_MAXIMUM);
if(!q->most)return 0;
const tc__node*top=tc__acc_of(g,q->most->attr[TC__COMBINE_ACCUMULATOR]);
q->score=top->in[0];
if(!tc__same_value(g,d->in[0],q->score,TC__CHAIN_FOLLOWED))return 0;
for(uint32_t id=q->begin[q->softmax];id<q->begin[q->softmax+1];id++){
const tc__node*acc=tc__chain_node(q,id);
if(acc->op!=TC_OP_COMBINE||acc==q->most)continue;
if(q->sum||acc->attr[TC__COMBINE_MONOID]!=TC_OP_ADD)return 0;
q->sum=acc;
}
if(!q->sum)return 0;
const tc__node*step=tc__acc_of(g,q->sum->attr[TC__COMBINE_ACCUMULATOR]);
const tc__node*summed=tc__chain_value(q,tc__chain_node(q,step->in[0]));
const tc__node*same=tc__chain_value(q,e);
return(summed==same||
tc__same_value(g,summed->id,same->id,TC__CHAIN_FOLLOWED))&&
(!q->share||tc__chain_is_of_sums(q,q->share));
}
static int tc__chain_rows_fit(const tc__chain*q){
for(uint32_t id=q->begin[q->softmax];id<q->begin[q->softmax+1];id++){
const tc__node*n=tc__chain_node(q,id);
if(n->op==TC_OP_STORE&&n->level==TC__AT_ROW&&
!tc__chain_is_of_sums(q,tc__chain_node(q,n->in[0])))
return 0;
}
return 1;
}
static const tc__band tc__band_all={INT64_MIN,INT64_MAX},tc__band_none={1,0};
static int tc__band_is_all(tc__band b){return b.low==INT64_MIN&&b.up==INT64_MAX;}
static tc__band tc__band_both(tc__band a,tc__band b){
tc__band both=a;
if(b.low>both.low)both.low=b.low;
if(b.up<both.up)both.up=b.up;
return both;
}
static tc__ix tc__chain_place(const tc__chain*q,const tc__node*n){
tc__ixpool*x=q->g->body.ix;
n=tc__chain_value(q,n);
if(n->dtype!=TC_I64&&n->dtype!=TC_I32)return 0;
if(n->op==TC_OP_INDEX)return n->attr[TC__INDEX_EXPR];
if(n->op==TC_OP_CONST)return tc__ix_const(tc__const_value(n).i);
if(n->op==TC_OP_CAST)return tc__chain_place(q,tc__chain_node(q,n->in[0]));
if(n->op!=TC_OP_ADD&&n->op!=TC_OP_SUB)return 0;
tc__ix a=tc__chain_place(q,tc__chain_node(q,n->in[0])),
b=tc__chain_place(q,tc__chain_node(q,n->in[1]));
if(!a||!b)return 0;
return n->op==TC_OP_ADD?tc__ix_add(x,a,b):tc__ix_sub(x,a,b);
}
static tc__band tc__chain_from(const tc__chain*q,tc__ix e){
tc__ixpool*x=q->g->body.ix;
tc__band band=tc__band_all;
tc__ix col=tc__ix_var(x,TC__COL,q->part[0].shape.cols),
row=tc__ix_var(x,TC__ROW,q->g->shape.rows);
if(!tc__ix_equals(q->g->shape.batch,1))row=tc__ix_mod(x,row,q->m);
tc__ix across=tc__ix_sub(x,col,row);
tc__ix up=tc__ix_add(x,e,across),low=tc__ix_sub(x,e,across);
if(tc__ix_is_const(up))
band.up=tc__ix_value(up);
else if(tc__ix_is_const(low))
band.low=-tc__ix_value(low);
return band;
}
static tc__band tc__chain_within(const tc__chain*q,const tc__node*n){
tc__ixpool*x=q->g->body.ix;
tc__band band=tc__band_all;
for(uint32_t i=0;i+1<n->n_attr;i+=2){
tc__ix below=
tc__ix_sub(x,tc__ix_sub(x,n->attr[i+1],tc__ix_const(1)),n->attr[i]);
band=tc__band_both(band,tc__chain_from(q,n->attr[i]));
band=tc__band_both(band,tc__chain_from(q,below));
}
return band;
}
static tc__band tc__chain_where(const tc__chain*q,const tc__node*n){
tc__ixpool*x=q->g->body.ix;
n=tc__chain_value(q,n);
if(n->op==TC_OP_VALID)return tc__chain_within(q,n);
if(n->op==TC_OP_LOGICAL_AND||n->op==TC_OP_BITWISE_AND)
return tc__band_both(tc__chain_where(q,tc__chain_node(q,n->in[0])),
tc__chain_where(q,tc__chain_node(q,n->in[1])));
int less=n->op==TC_OP_LT||n->op==TC_OP_LE,
strict=n->op==TC_OP_LT||n->op==TC_OP_GT;
if(!less&&n->op!=TC_OP_GT&&n->op!=TC_OP_GE)return tc__band_all;
tc__ix a=tc__chain_place(q,tc__chain_node(q,n->in[less?0:1])),
b=tc__chain_place(q,tc__chain_node(q,n->in[less?1:0]));
if(!a||!b)return tc__band_all;
return tc__chain_from(q,tc__ix_sub(x,tc__ix_sub(x,b,a),tc__ix_const(strict)));
}
static int tc__chain_is_band(const tc__chain*q,const tc__node*n){
n=tc__chain_value(q,n);
if(n->op==TC_OP_LOGICAL_AND||n->op==TC_OP_BITWISE_AND)
return tc__chain_is_band(q,tc__chain_node(q,n->in[0]))&&
tc__chain_is_band(q,tc__chain_node(q,n->in[1]));
if(n->op==TC_OP_VALID){
tc__ixpool*x=q->g->body.ix;
for(uint32_t i=0;i+1<n->n_attr;i+=2){
tc__ix below=
tc__ix_sub(x,tc__ix_sub(x,n->attr[i+1],tc__ix_const(1)),n->attr[i]);
if(tc__band_is_all(tc__chain_from(q,n->attr[i]))||
tc__band_is_all(tc__chain_from(q,below)))
return 0;
}
return 1;
}
return!tc__band_is_all(tc__chain_where(q,n));
}
static int tc__chain_holds(const tc__chain*q,const tc__node*where){
tc__ixpool*x=q->g->body.ix;
const tc__node*condition=tc__chain_node(q,where->in[0]);
if(!tc__chain_is_band(q,condition))return 0;
tc__band b=tc__chain_where(q,condition);
int64_t low=1-tc__ix_hi(x,q->m),up=tc__ix_hi(x,tc__depth_of(q->g))-1;
if(q->band.low>low)low=q->band.low;
if(q->band.up<up)up=q->band.up;
return b.low<=low&&b.up>=up;
}
static tc__band tc__chain_band(const tc__chain*q,const tc__node*n,int least,
int depth){
n=tc__chain_value(q,n);
if(!depth--)return tc__band_all;
#define TC__BAND(i,least)tc__chain_band(q,tc__chain_node(q,n->in[i]),least,depth)
if(n->op==TC_OP_WHERE){
tc__band other=TC__BAND(2,least);
if(other.low<=other.up)return tc__band_all;
return tc__band_both(tc__chain_where(q,tc__chain_node(q,n->in[0])),
TC__BAND(1,least));
}
if(n->op==TC_OP_CONST){
double v=tc__const_value(n).f;
return v==(least?-tc__infinity():0)?tc__band_none:tc__band_all;
}
if(n->op==TC_OP_CAST&&tc__is_float(n->dtype))return TC__BAND(0,least);
if(least)return n->op==TC_OP_SUB?TC__BAND(0,1):tc__band_all;
if(n->op==TC_OP_EXP||n->op==TC_OP_EXP2)return TC__BAND(0,1);
if(n->op==TC_OP_NEG||n->op==TC_OP_DIV)return TC__BAND(0,0);
if(n->op==TC_OP_MUL)return tc__band_both(TC__BAND(0,0),TC__BAND(1,0));
#undef TC__BAND
return tc__band_all;
}
// ---- gen/device/decode.c
enum{
TC__DECODE_MOST=4,
TC__DECODE_GROUP=256,
TC__DECODE_KEYS=
4,
TC__DECODE_CLUSTERED=8,
TC__DECODE_SHARED=64,
TC__DECODE_SHARED_LONG=16
};
static int tc__decode_asks(const tc__chain*q){
tc_ctx*c=q->g->body.ctx;
size_t nodes=q->g->body.node.count;
uint8_t*marked=TC__NEW_ARRAY(c,uint8_t,nodes);
const tc__node*sum=tc__contract_of(&q->part[0]);
int asks=0;
if(marked)tc__chain_mark(q,tc__chain_node(q,q->score),&sum,1,marked);
for(uint32_t id=0;marked&&id<nodes;id++){
int op=tc__chain_node(q,id)->op;
asks|=marked[id]&&(op==TC_OP_LOAD||op==TC_OP_INDEX||op==TC_OP_VALID);
}
tc__free(c,marked,nodes);
return asks;
}
static int tc__decode_resident(const tc__chain*q){
return q->few>1?2:tc__decode_asks(q)?3:4;
}
static int64_t tc__decode_alike(const tc__chain*q,const tc__staged*s,int64_t m,
int64_t batches){
tc__ixrun run=
tc__ix_run(q->g->body.ix,tc__chain_node(q,s->id)->attr[TC__LOAD_INDEX],TC__ROW);
if(!run.ok||!tc__ix_equals(run.stride,0))return 1;
return run.run==INT64_MAX?batches:run.run%m==0?run.run/m:1;
}
static int tc__decode_rows(const tc__chain*q){
int64_t m=tc__ix_value(q->m),batches=tc__ix_value(q->g->shape.batch);
int64_t keys=tc__decode_alike(q,&q->right[0],m,batches),
values=tc__decode_alike(q,&q->value,m,batches);
int64_t heads=TC__DECODE_MOST/m;
while(keys%heads||values%heads||batches%heads)heads--;
return(int)(m*heads);
}
static int64_t tc__decode_step(const tc__chain*q){
return(int64_t)(TC__DECODE_GROUP/q->lanes)*TC__DECODE_KEYS;
}
static int tc__decode_clusters(const tc__chain*q,int64_t blocks){
return q->g->target.cluster>=TC__DECODE_CLUSTERED&&
2*blocks*TC__DECODE_CLUSTERED>=3*TC__PRODUCT_SMS;
}
static int tc__decode_slices(const tc__chain*q,int64_t blocks){
int known=tc__ix_is_const(tc__depth_of(q->g));
int64_t limit=tc__decode_clusters(q,blocks)?(int64_t)TC__DECODE_CLUSTERED
:known?(int64_t)TC__DECODE_SHARED
:(int64_t)TC__DECODE_SHARED_LONG;
int64_t most=TC__PRODUCT_SMS*q->resident/blocks;
if(most>limit)most=limit;
if(most<1)most=1;
if(!known)return(int)most;
int64_t steps=(tc__ix_value(tc__depth_of(q->g))-1)/tc__decode_step(q)+1;
int64_t turns=(steps-1)/most+1;
return(int)((steps-1)/turns+1);
}
static int64_t tc__decode_room(int64_t rows,int64_t lanes){
return rows*(8*lanes+4);
}
static int64_t tc__decode_bytes(int64_t rows,int64_t lanes,int64_t threads,
int64_t cluster){
return 4*(threads/32+cluster)*tc__decode_room(rows,lanes);
}
static int tc__decode_of(tc__chain*q){
int64_t deep;
if(q->softmax<0||q->inner!=1||q->pair||q->value.along!=TC__COL)return 0;
if(!tc__ix_is_const(q->m)||!tc__ix_is_const(q->g->shape.batch))return 0;
if(tc__ix_value(q->m)>TC__DECODE_MOST||tc__ix_value(q->g->shape.rows)<1)
return 0;
if(tc__ix_is_const(tc__depth_of(q->g))&&tc__ix_value(tc__depth_of(q->g))<1)
return 0;
deep=tc__ix_value(tc__depth_of(&q->part[0]));
if(tc__ix_value(q->g->shape.cols)>deep)deep=tc__ix_value(q->g->shape.cols);
for(q->lanes=1;8*q->lanes<deep;)q->lanes*=2;
q->few=tc__decode_rows(q),q->resident=tc__decode_resident(q);
int64_t blocks=tc__ix_value(q->g->shape.rows)/q->few;
q->slices=tc__decode_slices(q,blocks);
q->single=tc__ix_is_const(tc__depth_of(q->g))&&
q->slices*tc__decode_step(q)>=tc__ix_value(tc__depth_of(q->g));
q->high=TC__DECODE_GROUP/32,q->rows_high=q->few;
q->step=(int)tc__decode_step(q);
q->cluster=tc__decode_clusters(q,blocks)&&q->slices>1?q->slices:0;
q->bytes=tc__decode_bytes(q->few,q->lanes,TC__DECODE_GROUP,q->cluster);
q->blocks=tc__ix_const(blocks*q->slices);
return 1;
}
// ---- gen/device/chain_plan.c
static int64_t tc__chain_bytes(const tc__chain*q){
int64_t depth=q->depth[0]+q->depth[1];
int64_t ring=2*(q->rows_high*depth+2*TC__CHAIN_STEP*(depth+q->wide));
int64_t part=4*(int64_t)q->high*16*(q->wide+TC__PRODUCT_PAD);
return ring>part?ring:part;
}
static void tc__chain_sizes(tc__chain*q){
tc__ixpool*x=q->g->body.ix;
int64_t sums=(q->inner*TC__CHAIN_STEP+q->wide)/2;
int64_t lefts=(q->depth[0]+q->depth[1])/4;
q->high=TC__CHAIN_WARPS,q->step=TC__CHAIN_STEP;
int tall=2*sums<=TC__CHAIN_SUMS&&tc__ix_hi(x,q->m)>16*q->high;
q->rows_high=16*q->high*(tall?2:1);
q->held=lefts*(tall?2:1)<=TC__CHAIN_LEFTS;
q->bytes=tc__chain_bytes(q);
}
static int tc__chain_map(const tc__chain*q,int part,const tc__staged*s,int64_t lines,
int64_t tile,tc_device_map*map){
const tc__group*g=&q->part[part];
tc__mapped o=tc__mapped_operand(g,s,q->m,q->g->shape.batch);
o.lines=lines,o.tile=tile,o.step=q->step,o.dtype=q->dtype;
int ok=tc__mapped_operand_map(g,s,&o,map);
map->address=(uint32_t)tc__chain_node(q,s->id)->attr[TC__LOAD_BUFFER];
return ok;
}
static int tc__chain_maps(tc__chain*q){
int64_t keys=tc__ix_value(tc__depth_of(q->g)),m=tc__ix_value(q->m);
tc_device_map right[TC__CHAIN_INNER],left,value;
for(int i=0;i<q->inner;i++)
if(!tc__chain_map(q,i,&q->left[i],m,q->rows_high,&left)||
!tc__chain_map(q,i,&q->right[i],keys,q->step,&right[i]))
return 0;
if(!tc__chain_map(q,q->parts-1,&q->value,tc__ix_value(q->g->shape.cols),0,
&value))
return 0;
q->same=q->softmax<0&&q->wide==q->depth[0]&&
!memcmp(&right[0],&value,sizeof value);
return 1;
}
static int64_t tc__mapped_chain_bytes(int64_t rows,int64_t cols,int64_t depth,
int64_t wide,int64_t stages,int64_t columns){
return TC__PRODUCT_ALIGN+2*(rows*depth+stages*cols*(depth+wide))+
8*(4+4*stages)+4*stages*cols*columns;
}
static int64_t tc__chain_mapped_line(int64_t n){
return(n+TC__MAP_LINE-1)/TC__MAP_LINE*TC__MAP_LINE;
}
static void tc__chain_mapped_sizes(tc__chain*q){
int twice=q->depth[1]!=0;
for(int i=0;i<q->inner;i++)q->depth[i]=tc__chain_mapped_line(q->depth[i]);
q->wide=tc__chain_mapped_line(q->wide);
int narrow=q->wide==TC__MAP_LINE&&q->depth[0]==TC__MAP_LINE;
q->high=narrow&&!q->pair&&tc__ix_value(q->m)>TC__CHAIN_TALL?12:8;
q->rows_high=16*q->high,q->step=twice?64:128;
}
static int tc__chain_stages(tc__chain*q){
int64_t depth=q->depth[0]+q->depth[1],wide=q->same?0:q->wide;
int64_t keys=tc__ix_value(tc__depth_of(q->g));
q->ahead=keys<=TC__CHAIN_FEW_STEPS*(int64_t)q->step?2:1;
for(;q->ahead;q->ahead--)
for(int stages=TC__CHAIN_STAGES_MOST;stages>1;stages--){
q->bytes=tc__mapped_chain_bytes((int64_t)q->rows_high*q->ahead,q->step,
depth,wide,stages,q->columns);
if(!q->g->target.room||
q->bytes+TC__CHAIN_STATIC<=(int64_t)q->g->target.room)
return stages;
}
return 0;
}
typedef struct tc__chain_made{
const tc__node*value,*given[TC__CHAIN_INNER+TC__CHAIN_WORDS];
int sums,count;
}tc__chain_made;
static tc__chain_made tc__chain_made_of(const tc__chain*q,int next){
tc__chain_made m;
memset(&m,0,sizeof m);
m.value=tc__chain_value(q,next?q->score_next:tc__chain_node(q,q->score));
for(int i=0;i<(next?1:q->inner);i++)
m.given[m.sums++]=tc__contract_of(&q->part[i]);
if(next)m.given[0]=q->sum_next;
if(!next&&q->pair)m.given[0]=q->like;
m.count=m.sums;
for(int i=0;i<q->columns;i++)m.given[m.count++]=q->column[i];
return m;
}
static int tc__chain_scores(const tc__chain*q){
if(q->few)return 1;
return tc__ix_divisor(q->g->body.ix,q->part[0].shape.cols)%2?1:2;
}
static int tc__is_of_column(const tc__chain*q,const tc__node*n){
tc__ixpool*x=q->g->body.ix;
int width=tc__chain_scores(q);
if(n->op!=TC_OP_LOAD||n->level!=TC__AT_COL||
!tc__is_memory(tc__buffer_of(q->g,n)))
return 0;
tc__ixrun run=tc__ix_run(x,n->attr[TC__LOAD_INDEX],TC__ROW);
int still=run.ok&&tc__ix_equals(run.stride,0)&&
(run.run==INT64_MAX||tc__ix_equals(q->m,run.run));
return still&&(width==1||tc__device_is_wide(&q->part[0],n,width,TC__COL));
}
static void tc__chain_find_columns(tc__chain*q){
tc_ctx*c=q->g->body.ctx;
size_t nodes=q->g->body.node.count;
uint8_t*marked=TC__NEW_ARRAY(c,uint8_t,nodes);
for(int next=0;marked&&next<=q->pair;next++){
tc__chain_made m=tc__chain_made_of(q,next);
tc__chain_mark(q,m.value,m.given,m.sums,marked);
}
for(uint32_t id=0;marked&&id<nodes&&!q->scale;id++){
const tc__node*n=tc__chain_node(q,id);
if(marked[id]&&tc__is_of_column(q,n)&&n->dtype==TC_F32&&
q->columns<TC__CHAIN_WORDS)
q->column[q->columns++]=n;
}
if(q->columns==3)q->columns=2;
tc__free(c,marked,nodes);
}
static int tc__chain_same(const tc__chain*q,const tc__node*a,const tc__node*b,
int depth){
a=tc__chain_value(q,a),b=tc__chain_value(q,b);
if(a==b)return 1;
if(!depth||a->op!=b->op||a->dtype!=b->dtype||a->n_in!=b->n_in)return 0;
if(a->op==TC_OP_COMBINE||a->op==TC_OP_RANDOM||a->n_attr!=b->n_attr)return 0;
if(a->n_attr&&memcmp(a->attr,b->attr,a->n_attr*sizeof*a->attr))return 0;
for(uint32_t i=0;i<a->n_in;i++)
if(!tc__chain_same(q,tc__chain_node(q,a->in[i]),tc__chain_node(q,b->in[i]),
depth-1))
return 0;
return 1;
}
static const tc__node*tc__chain_like(const tc__chain*q,const tc__node*n,
const tc__node*p,int depth){
const tc__node*found=NULL;
n=tc__chain_value(q,n);
if(tc__chain_same(q,n,p,TC__CHAIN_FOLLOWED))return n;
if(!depth||!tc__is_alu(n))return NULL;
for(uint32_t i=0;i<n->n_in&&!found;i++)
found=tc__chain_like(q,tc__chain_node(q,n->in[i]),p,depth-1);
return found;
}
static int tc__chain_of(const tc__group*g,tc__chain*q);
static int tc__chain_pairs(tc__chain*q){
tc__chain b;
tc__chain_made m;
tc_device_map right,value;
if(q->softmax>=0||q->inner!=2||!q->same||!tc__chain_of(&q->beside,&b))
return 0;
const tc__node*stored=tc__chain_node(q,b.score);
if(b.softmax>=0||b.inner!=1||b.pair||!b.stages||b.dtype!=q->dtype||
b.band.low!=q->band.low||b.band.up!=q->band.up||b.wide!=q->depth[1]||
stored->op!=TC_OP_CAST)
return 0;
b.step=q->step;
int64_t keys=tc__ix_value(tc__depth_of(q->g));
if(!tc__chain_map(q,1,&q->right[1],keys,q->step,&right)||
!tc__chain_map(&b,1,&b.value,tc__ix_value(q->beside.shape.cols),0,&value)||
memcmp(&right,&value,sizeof value))
return 0;
q->score_next=tc__chain_in(q,stored,0),q->sum_next=tc__contract_of(&b.part[0]);
q->rows_next=b.rows[1];
q->like=tc__chain_like(q,tc__chain_node(q,q->score),q->score_next,TC__CHAIN_NEAR);
if(!q->like||q->score_next->dtype!=TC_F32||
!tc__chain_same(q,tc__contract_of(&q->part[0]),q->sum_next,2))
return 0;
m=tc__chain_made_of(q,0);
return tc__chain_fits(q,m.value,m.given,m.sums);
}
static uint32_t tc__chain_scale(const tc__chain*q){
const tc__node*n=tc__chain_value(q,tc__chain_node(q,q->score)),*by,*sum;
if(q->softmax<0||n->op!=TC_OP_MUL||n->dtype!=TC_F32)return 0;
int first=tc__chain_in(q,n,0)->op==TC_OP_CONST;
by=tc__chain_in(q,n,first?0:1),sum=tc__chain_in(q,n,first?1:0);
while(sum->op==TC_OP_CAST&&tc__is_float(sum->dtype))sum=tc__chain_in(q,sum,0);
if(sum!=tc__contract_of(&q->part[0])||by->op!=TC_OP_CONST)return 0;
float f=(float)tc__const_value(by).f;
uint32_t bits;
memcpy(&bits,&f,sizeof bits);
return f>0&&f<1e30f?bits:0;
}
static int tc__chain_is_mapped(tc__chain*q){
const tc__group*g=q->g;
tc__chain mapped=*q;
if(!g->target.matrix_warps||!g->target.tensor_maps||g->target.checked||
!tc__ix_is_const(q->m)||!tc__ix_is_const(g->shape.batch)||
!tc__ix_is_const(tc__depth_of(g))||tc__ix_value(q->m)<=TC__CHAIN_SHORT||
q->value.along!=TC__COL)
return 0;
tc__chain_mapped_sizes(&mapped);
if(mapped.wide>TC__CHAIN_MAPPED||mapped.depth[0]>TC__CHAIN_MAPPED||
mapped.depth[1]>TC__CHAIN_MAPPED||!tc__chain_maps(&mapped))
return 0;
mapped.stages=TC__CHAIN_STAGES_MOST;
if(mapped.pair&&!tc__chain_pairs(&mapped))return 0;
mapped.scale=tc__chain_scale(&mapped);
tc__chain_find_columns(&mapped);
mapped.stages=tc__chain_stages(&mapped);
if(!mapped.stages)return 0;
*q=mapped;
return 1;
}
static int tc__chain_leads(const tc__chain*q,int i){
const tc__group*g=q->g;
for(uint32_t id=q->part[i].shape.prologue;id<q->part[i].body.node.count;id++){
const tc__node*n=g->body.node.at[id];
if(n->op==TC_OP_STORE&&tc__buffer_of(g,n)->place==TC__BUF_MADE)return 1;
}
return 0;
}
static void tc__chain_parts(tc__chain*q){
int from;
q->parts=tc__parts_of_list(q->g,q->part),q->softmax=-1;
for(from=q->parts-1;from>0&&tc__chain_leads(q,from-1);)from--;
if(from>0)q->pair=1,q->beside=q->part[from-1];
q->parts-=from;
for(int i=0;i<q->parts;i++)q->part[i]=q->part[from+i];
for(int i=0;i<q->parts;i++){
uint32_t id=q->begin[i]=q->part[i].shape.prologue;
while(tc__chain_node(q,id)->op!=TC_OP_FOR)id++;
q->rows[i]=id,q->part[i].shape.prologue=0;
}
q->inner=q->parts-1;
if(q->parts>2&&q->part[1].shape.kind==TC__REDUCTION)
q->softmax=1,q->inner=1;
}
static int tc__chain_has_kinds(const tc__chain*q){
if(q->parts<2||q->parts>3||q->inner>TC__CHAIN_INNER)return 0;
for(int i=0;i<q->parts;i++)
if(i!=q->softmax&&q->part[i].shape.kind!=TC__CONTRACTION)return 0;
return 1;
}
static int tc__chain_of(const tc__group*g,tc__chain*q){
memset(q,0,sizeof*q);
q->g=g;
if(!g->shape.prologue||g->shape.kind!=TC__CONTRACTION||
tc__count_contractions(g)<2)
return 0;
tc__chain_parts(q);
if(!tc__chain_has_kinds(q))return 0;
q->dtype=tc__chain_node(q,tc__left_of(g))->dtype;
q->m=tc__ix_div(g->body.ix,g->shape.rows,g->shape.batch);
if(!tc__is_half(q->dtype)||!tc__chain_operands(q))return 0;
const tc__node*store=
tc__chain_store(q,tc__chain_node(q,tc__left_of(g))->attr[TC__LOAD_BUFFER]);
const tc__node*stored=tc__chain_node(q,store->in[0]);
q->score=stored->id;
if(q->softmax>=0?!tc__chain_softmax(q,stored)||!tc__chain_rows_fit(q)
:stored->dtype!=q->dtype)
return 0;
if(!tc__chain_scores_fit(q)||!tc__chain_writes_rows(q))return 0;
q->band=
tc__chain_band(q,tc__chain_node(q,q->score),q->softmax>=0,TC__CHAIN_FOLLOWED);
if(q->band.low<=1-tc__ix_hi(g->body.ix,q->m))q->band.low=INT64_MIN;
if(q->band.up>=tc__ix_hi(g->body.ix,tc__depth_of(g))-1)q->band.up=INT64_MAX;
if(tc__decode_of(q))return!g->target.room||q->bytes<=(int64_t)g->target.room;
if(!tc__chain_is_mapped(q)){
if(q->pair)return 0;
tc__chain_sizes(q);
}
q->blocks=tc__ix_mul(g->body.ix,g->shape.batch,
tc__ix_ceil_div(g->body.ix,q->m,tc__ix_const(q->rows_high)));
return!g->target.room||q->bytes<=(int64_t)g->target.room;
}
static int tc__chain_pays(const tc__chain*q){
return q->few||tc__ix_hi(q->g->body.ix,q->m)>TC__CHAIN_FEW;
}
static int tc__chain_begins(const tc__group*g){
tc__chain q;
memset(&q,0,sizeof q);
q.g=g;
if(!g->shape.prologue||tc__parts_of_list(g,q.part)!=2)return 0;
const tc__node*first=tc__contract_of(&q.part[0]);
if(q.part[0].shape.kind!=TC__CONTRACTION||
!tc__is_half(g->body.node.at[first->in[0]]->dtype))
return 0;
return q.part[1].shape.kind==TC__REDUCTION||
!tc__device_is_made(g,g->body.node.at[tc__left_of(g)]);
}
// ---- gen/device/windows.c
enum{
TC__WINDOWS=8,
TC__WINDOW_WORDS=TC__LOAD_PREDICATES+8,
TC__WINDOW_REACH=15,
TC__WINDOW_HELD=112,
TC__WINDOW_THREADS=256,
TC__WINDOW_ACROSS=64,
TC__WINDOW_BLOCKS=4
};
typedef struct tc__neighbours{
uint32_t load,words;
int top,left,rows,columns,loads;
int64_t word[TC__WINDOW_WORDS];
}tc__neighbours;
typedef struct tc__windows{
int count;
int rows,width;
int threads,across;
tc__neighbours window[TC__WINDOWS];
}tc__windows;
static tc__ix tc__window_move(const tc__group*g,tc__ix e,tc__ix rows,tc__ix columns){
tc__ixpool*x=g->body.ix;
tc__ix down=tc__ix_mul(x,tc__ix_run(x,e,TC__ROW).stride,rows);
tc__ix right=tc__ix_mul(x,tc__ix_run(x,e,TC__COL).stride,columns);
return tc__ix_add(x,e,tc__ix_add(x,down,right));
}
static tc__node tc__window_moved(const tc__group*g,const tc__node*n,tc__ix rows,
tc__ix columns,int64_t words[TC__WINDOW_WORDS]){
tc__node m=*n;
for(uint32_t i=0;i<n->n_attr;i++)
words[i]=tc__attr_is_ix(n,i)
?(int64_t)tc__window_move(g,(tc__ix)n->attr[i],rows,columns)
:n->attr[i];
m.attr=words;
return m;
}
static int tc__window_holds(const tc__group*g,const tc__node*n,tc__ix e,tc__ix limit){
for(uint32_t i=TC__LOAD_PREDICATES;i<n->n_attr;i+=2)
if(n->attr[i]==e&&n->attr[i+1]==limit)return 1;
return tc__ix_within(g->body.ix,e,limit);
}
static int tc__window_same(const tc__group*g,const tc__node*m,const tc__node*n){
uint32_t shared=0;
if(n->attr[TC__LOAD_INDEX]!=m->attr[TC__LOAD_INDEX])return 0;
if(n->n_attr>TC__LOAD_PREDICATES&&n->attr[TC__LOAD_FILL]!=m->attr[TC__LOAD_FILL])
return 0;
for(uint32_t i=TC__LOAD_PREDICATES;i<n->n_attr;i+=2)
for(uint32_t k=TC__LOAD_PREDICATES;k<m->n_attr;k+=2)
shared+=n->attr[i]==m->attr[k]&&n->attr[i+1]==m->attr[k+1];
for(uint32_t k=TC__LOAD_PREDICATES;k<m->n_attr;k+=2)
if(!tc__window_holds(g,n,m->attr[k],m->attr[k+1]))return 0;
return 2*shared+TC__LOAD_PREDICATES==n->n_attr;
}
static int tc__window_apart(const tc__group*g,tc__ix m,tc__ix e,int*down,int*right){
tc__ixpool*x=g->body.ix;
tc__ix pitch=tc__ix_run(x,m,TC__ROW).stride,apart=tc__ix_sub(x,e,m);
int64_t least=TC__WINDOW_REACH+1;
for(int i=0;least&&i<=2*TC__WINDOW_REACH;i++){
int rows=i%2?(i+1)/2:-i/2;
tc__ix rest=tc__ix_sub(x,apart,tc__ix_mul(x,pitch,tc__ix_const(rows)));
if(!tc__ix_is_const(rest))continue;
int64_t columns=tc__ix_value(rest),size=columns<0?-columns:columns;
if(size>=least)continue;
least=size,*down=rows,*right=(int)columns;
}
return least<=TC__WINDOW_REACH;
}
static int tc__window_takes(const tc__group*g,const tc__node*n,int rows,int width){
tc__ixpool*x=g->body.ix;
for(uint32_t i=1;i<n->n_attr;i++){
if(!tc__attr_is_ix(n,i))continue;
tc__ixrun down=tc__ix_run(x,n->attr[i],TC__ROW);
tc__ixrun right=tc__ix_run(x,n->attr[i],TC__COL);
if(!tc__ixrun_spans(&down,rows)||!tc__ixrun_spans(&right,width))return 0;
if(i==1&&!tc__ix_equals(right.stride,1))return 0;
}
return 1;
}
static int tc__window_may_have(const tc__group*g,const tc__node*n){
if(n->op!=TC_OP_LOAD||n->level!=TC__AT_COL||n->n_attr>TC__WINDOW_WORDS)
return 0;
if(tc__device_is_row(g,n->attr[TC__LOAD_BUFFER])||tc__buffer_of(g,n)->written)
return 0;
for(uint32_t i=1;i<n->n_attr;i++)
if(tc__attr_is_ix(n,i)&&tc__ix_has_val(g->body.ix,n->attr[i]))return 0;
return tc__window_takes(g,n,1,1);
}
static tc__node tc__window_node(const tc__group*g,const tc__neighbours*w){
tc__node n=*g->body.node.at[w->load];
n.attr=(int64_t*)(uintptr_t)w->word,n.n_attr=w->words;
return n;
}
static int tc__window_has(const tc__group*g,const tc__neighbours*w,const tc__node*n,
int*down,int*right){
int64_t words[TC__WINDOW_WORDS];
tc__node m=tc__window_node(g,w);
if(n->op!=TC_OP_LOAD||n->attr[TC__LOAD_BUFFER]!=m.attr[TC__LOAD_BUFFER]||
!tc__window_apart(g,m.attr[TC__LOAD_INDEX],n->attr[TC__LOAD_INDEX],down,right))
return 0;
m=tc__window_moved(g,&m,tc__ix_const(*down),tc__ix_const(*right),words);
return tc__window_same(g,&m,n);
}
static const tc__neighbours*tc__window_of(const tc__group*g,const tc__windows*q,
const tc__node*n,int*row,int*column){
for(int i=0;i<q->count;i++){
const tc__neighbours*w=&q->window[i];
if(!tc__window_has(g,w,n,row,column))continue;
*row-=w->top,*column-=w->left;
return w;
}
return NULL;
}
static int tc__window_is_in(const tc__group*g,const tc__windows*q,const tc__node*n){
int row,column;
return tc__window_of(g,q,n,&row,&column)!=NULL;
}
static int tc__window_join(const tc__group*g,tc__neighbours*w,const tc__node*n,
int down,int right){
int64_t words[TC__WINDOW_WORDS];
if(n->n_attr==TC__LOAD_PREDICATES)return 1;
tc__node m=tc__window_moved(g,n,tc__ix_const(-down),tc__ix_const(-right),words);
if(w->words>TC__LOAD_PREDICATES&&w->word[TC__LOAD_FILL]!=m.attr[TC__LOAD_FILL])
return 0;
w->word[TC__LOAD_FILL]=m.attr[TC__LOAD_FILL];
for(uint32_t i=TC__LOAD_PREDICATES;i<m.n_attr;i+=2){
int has=0;
for(uint32_t k=TC__LOAD_PREDICATES;k<w->words;k+=2)
has|=w->word[k]==m.attr[i]&&w->word[k+1]==m.attr[i+1];
if(has)continue;
if(w->words+2>TC__WINDOW_WORDS)return 0;
w->word[w->words++]=m.attr[i];
w->word[w->words++]=m.attr[i+1];
}
return 1;
}
static void tc__window_open(tc__windows*q,const tc__node*n){
if(q->count==TC__WINDOWS)return;
tc__neighbours*w=&q->window[q->count++];
memset(w,0,sizeof*w);
w->load=n->id,w->words=n->n_attr;
memcpy(w->word,n->attr,n->n_attr*sizeof*n->attr);
}
static void tc__window_note(const tc__group*g,tc__windows*q,const tc__node*n){
int down,right;
for(int i=0;i<q->count;i++){
tc__neighbours*w=&q->window[i];
if(w->word[TC__LOAD_BUFFER]==n->attr[TC__LOAD_BUFFER]&&
tc__window_apart(g,w->word[TC__LOAD_INDEX],n->attr[TC__LOAD_INDEX],&down,
&right)&&
tc__window_join(g,w,n,down,right))
return;
}
tc__window_open(q,n);
}
static void tc__window_measure(const tc__group*g,tc__neighbours*w){
int down,right,bottom=INT_MIN,end=INT_MIN;
w->top=w->left=INT_MAX,w->loads=0;
for(size_t i=0;i<g->body.node.count;i++){
if(!tc__window_has(g,w,g->body.node.at[i],&down,&right))continue;
if(down<w->top)w->top=down;
if(right<w->left)w->left=right;
if(down>bottom)bottom=down;
if(right>end)end=right;
w->loads++;
}
w->rows=w->columns=0;
if(w->loads)w->rows=bottom-w->top+1,w->columns=end-w->left+1;
}
static int tc__window_elements(const tc__neighbours*w,int rows,int width){
return(w->rows+rows-1)*(w->columns+width-1);
}
static int tc__window_across_of(const tc__windows*q,const tc__neighbours*w){
return w->columns+q->width-1;
}
static void tc__window_choose(tc__windows*q,int rows){
int kept=0;
for(int i=0;i<q->count;i++){
const tc__neighbours*w=&q->window[i];
if(tc__window_elements(w,rows,q->width)<w->loads*rows*q->width)
q->window[kept++]=*w;
}
q->count=kept;
}
static tc__ix tc__window_blocks(const tc__group*g,const tc__windows*q){
tc__ixpool*x=g->body.ix;
tc__ix across=tc__ix_const((int64_t)q->across*q->width);
tc__ix below=tc__ix_const((int64_t)(q->threads/q->across)*q->rows);
return tc__ix_mul(x,tc__ix_ceil_div(x,g->shape.cols,across),
tc__ix_ceil_div(x,g->shape.rows,below));
}
static int tc__window_across(const tc__group*g,const tc__windows*q){
tc__ixpool*x=g->body.ix;
int64_t columns=tc__ix_hi(x,g->shape.cols),rows=tc__ix_hi(x,g->shape.rows);
int across=TC__WINDOW_ACROSS;
while(across>1&&across/2*(int64_t)q->width>=columns)across/=2;
while(across<q->threads&&q->threads/across/2*(int64_t)q->rows>=rows)
across*=2;
return across;
}
static int tc__window_fits(const tc__group*g,const tc__windows*q){
int elements=0,taken=1;
for(int i=0;i<q->count;i++){
elements+=tc__window_elements(&q->window[i],q->rows,q->width);
tc__node n=tc__window_node(g,&q->window[i]);
taken&=tc__window_takes(g,&n,q->rows,q->width);
}
return taken&&elements<=TC__WINDOW_HELD;
}
static int tc__window_rows(const tc__windows*q){
int most=1;
for(int i=0;i<q->count;i++)
if(q->window[i].rows>most)most=q->window[i].rows;
return most>5?8:most>1?4:1;
}
static int tc__window_shrink(tc__windows*q){
if(q->rows==1&&q->width==1)return 0;
if(q->rows>1)
q->rows/=2;
else
q->width/=2;
tc__window_choose(q,q->rows);
return 1;
}
static int tc__window_has_blocks(const tc__group*g,tc__windows*q){
q->across=tc__window_across(g,q);
tc__ix blocks=tc__window_blocks(g,q);
return!tc__ix_is_const(blocks)||
tc__ix_value(blocks)>=TC__DEVICE_SMS*TC__WINDOW_BLOCKS;
}
static int tc__windows_of(const tc__group*g,tc__windows*q){
memset(q,0,sizeof*q);
q->threads=TC__WINDOW_THREADS,q->width=tc__device_width(g,TC__COL);
if(g->shape.list||tc__ix_divisor(g->body.ix,g->shape.cols)%q->width)return 0;
for(uint32_t i=0;i<g->body.node.count;i++)
if(tc__window_may_have(g,g->body.node.at[i]))
tc__window_note(g,q,g->body.node.at[i]);
for(int i=0;i<q->count;i++)tc__window_measure(g,&q->window[i]);
q->rows=tc__window_rows(q);
tc__window_choose(q,q->rows);
while(q->count&&!tc__window_fits(g,q))
if(!tc__window_shrink(q))return 0;
while(q->count&&q->rows>1&&!tc__window_has_blocks(g,q))tc__window_shrink(q);
if(q->count)q->across=tc__window_across(g,q);
return q->count;
}
// ---- gen/device/vectors.c
typedef enum tc__vector_sums{
TC__SUMS_ALL,
TC__SUMS_OF_ROWS,
TC__SUMS_DOWN
}tc__vector_sums;
typedef struct tc__vectors tc__vectors;
struct tc__vectors{
tc__relist l;
tc__ixpool*ix;
int width,count;
int narrow;
tc__ix u;
tc__ix(*open)(tc__vectors*f);
int opened;
const tc__windows*window;
int64_t first_window;
int lanes_early;
int led;
int late;
uint32_t begin,end;
int again,
looped;
int apart;
int by_rows;
int64_t spread;
int kept;
tc__ix own,
owned;
tc__ix owner;
tc__ix from;
tc__vector_sums
sums;
uint32_t never;
int64_t down;
void(*step)(tc__vectors*f,const tc__node*n,tc__ix lane);
uint8_t*row;
int64_t*row_held;
uint8_t*ahead;
int64_t*held;
uint8_t*phase;
uint8_t*need;
};
typedef enum tc__vector_row{
TC__ROW_MEMORY,
TC__ROW_AGAIN,
TC__ROW_REGISTERS
}tc__vector_row;
typedef enum tc__vector_hold{
TC__HOLD_NOT,
TC__HOLD_FIRST,
TC__HOLD_THEN,
TC__HOLD_BEFORE,
TC__HOLD_LATER,
TC__HOLD_ASKED,
TC__HOLD_SHARED,
TC__HOLD_ROWS
}tc__vector_hold;
enum{TC__VECTOR_U=TC__VAR0+4,TC__VECTOR_L};
static tc__ix tc__vector_ix(const tc__vectors*f,int64_t a,tc__ix x,tc__ix b){
return tc__ix_add(f->ix,tc__ix_mul(f->ix,tc__ix_const(a),x),b);
}
static tc__axis tc__vector_axis(const tc__vectors*f){
return f->by_rows?TC__ROW:TC__COL;
}
static int tc__vector_windows(const tc__vectors*f,const tc__node*n){
return f->window&&tc__window_is_in(f->l.from,f->window,n);
}
static int tc__vector_is_one(const tc__vectors*f,const tc__node*n){
const tc__group*g=f->l.from;
return f->width==1||tc__device_is_wide(g,n,f->width,tc__vector_axis(f))||
tc__device_is_still(g,n,tc__vector_axis(f),f->width);
}
static tc__vector_hold tc__vector_hold_of(const tc__vectors*f,const tc__node*n){
const tc__group*g=f->l.from;
if(n->op!=TC_OP_LOAD||n->level!=TC__AT_COL||tc__vector_windows(f,n))
return TC__HOLD_NOT;
const tc__kbuf*b=tc__buffer_of(g,n);
int kept=f->kept&&b->place==TC__BUF_ROW;
if(!kept&&(!tc__is_memory(b)||b->written))return TC__HOLD_NOT;
if(!f->lanes_early&&!tc__vector_is_one(f,n))return TC__HOLD_NOT;
if(f->late&&tc__device_all_rows_read(g,n))return TC__HOLD_NOT;
for(uint32_t i=1;i<n->n_attr;i++)
if(tc__attr_is_ix(n,i)&&tc__device_is_led(g,f->led,n->attr[i]))
return i==TC__LOAD_INDEX&&
tc__device_is_wide(g,n,f->width,tc__vector_axis(f))
?TC__HOLD_THEN
:TC__HOLD_NOT;
return TC__HOLD_FIRST;
}
static int tc__vector_elements(const tc__vectors*f,const tc__node*n){
return tc__device_is_still(f->l.from,n,tc__vector_axis(f),f->width)?1:f->width;
}
static void tc__vector_hold_in(tc__vectors*f,const tc__node*n,tc__vector_hold hold){
f->ahead[n->id]=(uint8_t)hold;
f->held[n->id]=
tc__relist_buffer(&f->l,TC__BUF_REGISTER,tc__buffer_of(f->l.from,n)->dtype,
(int64_t)f->count*tc__vector_elements(f,n));
}
static void tc__vectors_hold(tc__vectors*f){
const tc__group*g=f->l.from;
for(size_t i=0;i<f->end&&f->count>1;i++){
const tc__node*n=g->body.node.at[i];
if(!f->phase[i]||f->ahead[i])continue;
tc__vector_hold hold=tc__vector_hold_of(f,n);
if(hold)tc__vector_hold_in(f,n,hold);
}
}
static tc__ix tc__vector_lanes(tc__vectors*f,int width){
if(width==1)return tc__ix_const(0);
return tc__relist_for(&f->l,(tc__axis)TC__VECTOR_L,TC__BIND_VECTOR,
tc__ix_const(width));
}
static void tc__vector_lanes_end(tc__vectors*f,int width){
if(width>1)tc__relist_end(&f->l,TC__VECTOR_L);
}
static void tc__vector_store_row(tc__vectors*f,const tc__node*n){
int64_t attr[2];
attr[TC__IF_PREDICATES]=tc__ix_var(f->ix,TC__COL,f->l.from->shape.cols);
attr[TC__IF_PREDICATES+1]=tc__ix_const(1);
tc__relist_put(&f->l,TC_OP_IF,TC_BOOL,attr,2);
tc__relist_copy(&f->l,n);
tc__relist_end(&f->l,TC__END_BLOCK);
}
static int tc__vector_own(tc__vectors*f){
return f->owned&&tc__relist_if(&f->l,f->own,f->owned,f->owner,tc__ix_const(1));
}
static void tc__vector_store_owned(tc__vectors*f,const tc__node*n){
int opened=tc__vector_own(f);
tc__relist_copy(&f->l,n);
tc__relist_end_if(&f->l,opened);
}
static void tc__vector_load_window(tc__vectors*f,const tc__node*n,tc__ix lane){
int row,column;
const tc__neighbours*w=tc__window_of(f->l.from,f->window,n,&row,&column);
tc__ix line=tc__ix_add(f->ix,f->u,tc__ix_const(row));
tc__ix at=tc__vector_ix(f,tc__window_across_of(f->window,w),line,
tc__ix_add(f->ix,lane,tc__ix_const(column)));
tc__relist_load(&f->l,n,f->first_window+(w-f->window->window),at);
}
static tc__ix tc__vector_shared_at(const tc__vectors*f){
return tc__ix_sub(f->ix,tc__ix_var(f->ix,TC__COL,f->l.from->shape.cols),f->from);
}
static void tc__vector_load_held(tc__vectors*f,const tc__node*n,tc__ix lane){
tc__ix at=f->ahead[n->id]==TC__HOLD_SHARED?tc__vector_shared_at(f)
:f->ahead[n->id]==TC__HOLD_ROWS?lane
:tc__vector_elements(f,n)==1?f->u
:tc__vector_ix(f,f->width,f->u,lane);
tc__relist_load(&f->l,n,f->held[n->id],at);
}
static int tc__vector_row_node(tc__vectors*f,const tc__node*n,tc__ix lane){
int64_t b=tc__device_is_memory(n)?n->attr[TC__ACCESS_BUFFER]:-1;
if(b<0||f->row[b]==TC__ROW_MEMORY)return 0;
tc__ix at=tc__vector_ix(f,f->width,f->u,lane);
if(f->row[b]==TC__ROW_AGAIN){
if(n->op==TC_OP_LOAD)
f->l.at[n->id]=f->l.at[tc__device_fills(f->l.from,b)->in[0]];
}else if(n->op==TC_OP_LOAD){
tc__relist_load(&f->l,n,f->row_held[b],at);
}else{
tc__relist_store(&f->l,f->l.from->body.node.at[n->in[0]],f->row_held[b],at);
}
return 1;
}
static void tc__vector_combine(tc__vectors*f,const tc__node*n){
tc__node m=*n;
int64_t attr[TC__COMBINE_THREADS+1];
memcpy(attr,n->attr,TC__COMBINE_THREADS*sizeof*attr);
attr[TC__COMBINE_THREADS]=1,attr[TC__COMBINE_ACCUMULATOR]+=f->spread;
m.attr=attr,m.n_attr=TC__COMBINE_THREADS+1;
tc__relist_copy(&f->l,&m);
}
static int tc__vector_never(tc__vectors*f,const tc__node*n){
if(!f->never)return 0;
if(n->op==TC_OP_WHERE&&n->in[0]==f->never-1)
return f->l.at[n->id]=f->l.at[n->in[2]],1;
return n->id==f->never-1;
}
static void tc__vector_node(tc__vectors*f,const tc__node*n,tc__ix lane,int holds){
if(tc__opens(n)||n->op==TC_OP_END||tc__vector_row_node(f,n,lane))return;
if(tc__vector_never(f,n))return;
if(tc__vector_windows(f,n))
tc__vector_load_window(f,n,lane);
else if(f->ahead[n->id]&&f->ahead[n->id]!=holds)
tc__vector_load_held(f,n,lane);
else if(n->op==TC_OP_STORE&&n->level==TC__AT_ROW&&!f->by_rows)
tc__vector_store_row(f,n);
else if(n->op==TC_OP_STORE&&f->owned&&tc__is_memory(tc__buffer_of(f->l.from,n)))
tc__vector_store_owned(f,n);
else if(n->op==TC_OP_COMBINE)
tc__vector_combine(f,n);
else if(n->op==TC_OP_ACC&&f->sums==TC__SUMS_DOWN)
f->step(f,n,lane);
else
tc__relist_copy(&f->l,n);
}
static void tc__vector_nodes(tc__vectors*f,const tc__group*g,const uint8_t*need,
tc__ix column,int width,int holds){
tc__ix lane=tc__vector_lanes(f,width);
tc__relist_axis(&f->l,tc__vector_axis(f),tc__ix_add(f->ix,column,lane));
for(size_t id=0;id<g->body.node.count;id++){
const tc__node*n=g->body.node.at[id];
if(!need[id])continue;
tc__vector_node(f,n,lane,holds);
if(holds&&f->ahead[id]==holds)
tc__relist_store(&f->l,n,f->held[id],
width==1?f->u:tc__vector_ix(f,width,f->u,lane));
}
tc__vector_lanes_end(f,width);
}
static void tc__vector_need(void*user,uint32_t id){((uint8_t*)user)[id]=1;}
static void tc__vectors_close(const tc__vectors*f,int holds){
const tc__group*g=f->l.from;
for(size_t id=f->end;id-- >0;){
const tc__node*n=g->body.node.at[id];
if(f->apart&&n->level==TC__AT_ROW&&!f->ahead[id])f->need[id]=0;
if(!f->need[id]||(f->ahead[id]&&f->ahead[id]!=holds))continue;
if(n->op==TC_OP_LOAD&&f->row[n->attr[TC__LOAD_BUFFER]]==TC__ROW_AGAIN){
f->need[tc__device_fills(g,n->attr[TC__LOAD_BUFFER])->in[0]]=1;
continue;
}
for(uint32_t i=0;i<n->n_in;i++)f->need[n->in[i]]=1;
for(uint32_t i=0;i<n->n_attr;i++)
if(tc__attr_is_ix(n,i))
tc__ix_each_val(f->ix,n->attr[i],tc__vector_need,f->need);
}
}
static int tc__vectors_mark(tc__vectors*f,int holds,int elements){
const tc__group*g=f->l.from;
int some=0;
memset(f->need,0,g->body.node.count);
for(size_t id=0;id<f->end;id++){
f->need[id]=f->phase[id]&&f->ahead[id]==holds&&
tc__vector_elements(f,g->body.node.at[id])==elements;
some|=f->need[id];
}
if(some)tc__vectors_close(f,holds);
return some;
}
static tc__ix tc__vectors_open_each(tc__vectors*f){
f->looped=f->count>1||f->again;
f->u=f->looped?tc__relist_for(&f->l,(tc__axis)TC__VECTOR_U,TC__BIND_UNROLL,
tc__ix_const(f->count))
:tc__ix_const(0);
return f->open(f);
}
static void tc__vectors_close_each(tc__vectors*f){
tc__relist_end_if(&f->l,f->opened);
if(f->looped)tc__relist_end(&f->l,TC__VECTOR_U);
}
static int tc__vector_is_one_hot(const tc__vectors*f,const tc__node*n,uint32_t*row){
const tc__group*g=f->l.from;
if(n->op!=TC_OP_EQ||n->level!=TC__AT_COL)return 0;
const tc__node*x=g->body.node.at[n->in[0]],*y=g->body.node.at[n->in[1]];
const tc__node*column=x->op==TC_OP_INDEX?x:y,*other=column==x?y:x;
if(column->op!=TC_OP_INDEX||other->level!=TC__AT_ROW||
(other->dtype!=TC_I32&&other->dtype!=TC_I64)||
column->attr[TC__INDEX_EXPR]!=tc__ix_var(f->ix,TC__COL,g->shape.cols))
return 0;
for(size_t id=n->id+1;id<f->end;id++){
const tc__node*m=g->body.node.at[id];
for(uint32_t i=0;f->need[id]&&i<m->n_in;i++)
if(m->in[i]==n->id&&(m->op!=TC_OP_WHERE||i))return 0;
}
*row=other->id;
return 1;
}
static uint32_t tc__vector_one_hot(const tc__vectors*f,uint32_t*row){
const tc__group*g=f->l.from;
for(uint32_t id=f->begin;id<f->end&&f->apart&&!f->by_rows;id++)
if(f->need[id]&&tc__vector_is_one_hot(f,g->body.node.at[id],row))
return id+1;
return 0;
}
static void tc__vectors_forgo(tc__vectors*f,uint32_t id){
const tc__node*n=f->l.from->body.node.at[id];
for(uint32_t i=0;i<n->n_in;i++){
int users=0;
for(uint32_t k=n->in[i]+1;k<f->end;k++)
for(uint32_t in=0;f->need[k]&&in<f->l.from->body.node.at[k]->n_in;in++)
users+=f->l.from->body.node.at[k]->in[in]==n->in[i];
if(users==1)f->need[n->in[i]]=0;
}
}
static void tc__vectors_do(tc__vectors*f,tc__ix column,int holds,int width){
uint32_t row=0;
uint32_t hot=!holds&&width>1?tc__vector_one_hot(f,&row):0;
tc__ix at=hot?tc__ix_val(f->ix,f->l.at[row],f->l.from->shape.cols):0;
int asks=hot&&tc__relist_if(&f->l,tc__ix_sub(f->ix,at,column),
tc__ix_const(width),0,0);
if(asks){
tc__vector_nodes(f,f->l.from,f->need,column,width,holds);
tc__relist_put(&f->l,TC_OP_ELSE,TC_BOOL,NULL,0);
tc__vectors_forgo(f,hot-1);
f->never=hot;
}
tc__vector_nodes(f,f->l.from,f->need,column,width,holds);
f->never=0;
tc__relist_end_if(&f->l,asks);
}
static void tc__vectors_each(tc__vectors*f,int holds,int width){
tc__ix column=tc__vectors_open_each(f);
tc__vectors_do(f,column,holds,width);
tc__vectors_close_each(f);
}
static int tc__vector_is_copy(const tc__vectors*f,const tc__node*n){
return n->n_attr==TC__LOAD_PREDICATES&&
tc__device_is_wide(f->l.from,n,f->width,tc__vector_axis(f))&&
!tc__ix_has_val(f->ix,n->attr[TC__LOAD_INDEX]);
}
static void tc__vectors_copy(tc__vectors*f){
const tc__group*g=f->l.from;
int some=0;
for(size_t id=0;id<f->end;id++)
some|=f->phase[id]&&f->ahead[id]==TC__HOLD_FIRST&&
tc__vector_is_copy(f,g->body.node.at[id]);
if(!some)return;
tc__ix column=tc__vectors_open_each(f);
for(size_t id=0;id<f->end;id++){
const tc__node*n=g->body.node.at[id];
if(!f->phase[id]||f->ahead[id]!=TC__HOLD_FIRST||!tc__vector_is_copy(f,n))
continue;
tc__relist_copy_vector(&f->l,n,f->held[id],
tc__vector_ix(f,f->width,f->u,tc__ix_const(0)),
tc__vector_axis(f),column,f->width);
f->ahead[id]=TC__HOLD_BEFORE;
}
tc__vectors_close_each(f);
}
static void tc__vectors_ahead(tc__vectors*f,int holds){
if(f->width>1&&tc__vectors_mark(f,holds,1))tc__vectors_each(f,holds,1);
if(tc__vectors_mark(f,holds,f->width))tc__vectors_each(f,holds,f->width);
}
static int tc__vector_is_root(const tc__vectors*f,const tc__node*n){
int down=n->op==TC_OP_ACC&&n->attr[TC__ACC_ACCUMULATOR]>=f->down;
if(f->sums!=TC__SUMS_ALL&&(down||f->sums==TC__SUMS_DOWN))
return down&&f->sums==TC__SUMS_DOWN;
if(n->op==TC_OP_STORE)return f->row[n->attr[TC__STORE_BUFFER]]!=TC__ROW_AGAIN;
return n->op==TC_OP_CHECK||n->op==TC_OP_ACC;
}
static void tc__vectors_rest(tc__vectors*f){
const tc__group*g=f->l.from;
memset(f->need,0,g->body.node.count);
for(size_t id=f->begin;id<f->end;id++)
f->need[id]=(uint8_t)tc__vector_is_root(f,g->body.node.at[id]);
tc__vectors_close(f,TC__HOLD_NOT);
}
static int tc__vectors_are_deep(tc__vectors*f){
tc__vectors_rest(f);
for(uint32_t id=0;id<f->end;id++)
if(f->need[id]&&!f->ahead[id]&&
tc__vector_hold_of(f,f->l.from->body.node.at[id])==TC__HOLD_FIRST)
return 1;
return 0;
}
static void tc__vectors_put(tc__vectors*f){
tc__vectors_rest(f);
memcpy(f->phase,f->need,f->l.from->body.node.count);
tc__vectors_hold(f);
tc__vectors_copy(f);
tc__vectors_ahead(f,TC__HOLD_FIRST);
tc__vectors_ahead(f,TC__HOLD_THEN);
tc__vectors_rest(f);
tc__vectors_each(f,TC__HOLD_NOT,f->width);
}
static int tc__vectors_begin(tc__vectors*f,tc_ctx*c){
const tc__group*g=f->l.from;
size_t n=g->body.node.count,buffers=g->buffer.count;
f->ix=g->body.ix,f->narrow=tc__device_is_narrow(g),f->from=tc__ix_const(0);
f->end=(uint32_t)n;
f->ahead=TC__NEW_ARRAY(c,uint8_t,n),f->need=TC__NEW_ARRAY(c,uint8_t,n);
f->phase=TC__NEW_ARRAY(c,uint8_t,n),f->held=TC__NEW_ARRAY(c,int64_t,n);
f->row=TC__NEW_ARRAY(c,uint8_t,buffers);
f->row_held=TC__NEW_ARRAY(c,int64_t,buffers);
int ok=f->ahead&&f->need&&f->phase&&f->held&&f->row&&f->row_held;
if(!ok)f->l.failed=1;
return ok;
}
static void tc__vectors_end(tc__vectors*f,tc_ctx*c){
size_t n=f->l.from->body.node.count,buffers=f->l.from->buffer.count;
n=n?n:1,buffers=buffers?buffers:1;
tc__free(c,f->ahead,n),tc__free(c,f->need,n),tc__free(c,f->phase,n);
tc__free(c,f->held,n*sizeof*f->held);
tc__free(c,f->row,buffers);
tc__free(c,f->row_held,buffers*sizeof*f->row_held);
}
static int tc__vectors_open(tc__vectors*f,tc_ctx*c,const tc__group*g){
int ok=tc__relist_open(&f->l,c,g);
return tc__vectors_begin(f,c)&&ok;
}
static tc__group*tc__vectors_done(tc__vectors*f,tc_ctx*c){
tc__vectors_end(f,c);
return tc__relist_close(&f->l,c);
}
enum{
TC__VECTOR_FLIGHT=64,
TC__VECTOR_MOST=8,
TC__VECTOR_HELD=48,
TC__VECTOR_TEXT=4096
};
static int tc__vectors_fit(const tc__group*g,int width){
tc__vectors f;
int64_t words=0,bytes=1,cost=0;
memset(&f,0,sizeof f);
f.l.from=g,f.ix=g->body.ix,f.width=width;
for(size_t i=0;i<g->body.node.count;i++){
const tc__node*n=g->body.node.at[i];
cost+=tc__ops[n->op].cost;
if(!tc__device_is_memory(n)||n->level!=TC__AT_COL)continue;
int64_t each=width*(int64_t)tc__device_bytes(g,n);
if(each>bytes)bytes=each;
if(tc__vector_hold_of(&f,n)==TC__HOLD_FIRST)
words+=(tc__vector_elements(&f,n)*(int64_t)tc__device_bytes(g,n)+3)/4;
}
int count=(int)(TC__VECTOR_FLIGHT/bytes);
if(count>TC__VECTOR_MOST)count=TC__VECTOR_MOST;
while(count>1&&
(count*words>TC__VECTOR_HELD||count*width*cost>TC__VECTOR_TEXT))
count/=2;
return count<1?1:count;
}
// ---- gen/device/flat.c
enum{
TC__FLAT_J=TC__VAR0,
TC__FLAT_I=TC__VAR0+1,
TC__FLAT_X=TC__VAR0+3,
TC__FLAT_T=TC__VAR0+6
};
enum{
TC__FLAT_THREADS=256,
TC__FLAT_GATHER=
2,
TC__FLAT_WAVE=8
};
static const int tc__flat_knob_vectors[]={0,1,2,4};
static const int tc__flat_knob_threads[]={0,128,256,512,1024};
typedef struct tc__flattener{
tc__vectors v;
int threads,tail;
tc__ix across,all;
tc__ix j,t;
tc__ix place,row,x;
}tc__flattener;
static int tc__flat_gathers(const tc__group*g){
for(size_t i=0;i<g->body.node.count;i++){
const tc__node*n=g->body.node.at[i];
if(n->op==TC_OP_LOAD&&n->level==TC__AT_COL&&
tc__ix_has_val(g->body.ix,n->attr[TC__LOAD_INDEX]))
return 1;
}
return 0;
}
static void tc__flat_choose(const tc__group*g,tc__flattener*f){
int vectors=tc__flat_knob_vectors[g->shape.tuning.knob[TC__KNOB_VECTORS]];
int threads=tc__flat_knob_threads[g->shape.tuning.knob[TC__KNOB_BLOCK_THREADS]];
f->threads=TC__FLAT_THREADS,f->v.count=1;
if(!g->shape.list&&tc__flat_gathers(g))f->v.count=TC__FLAT_GATHER;
if(f->v.count>tc__vectors_fit(g,f->v.width))f->v.count=1;
while(tc__ix_is_const(f->all)&&f->v.count>1&&
tc__ix_value(f->all)/(f->threads*f->v.count)<
TC__DEVICE_SMS*TC__FLAT_WAVE)
f->v.count/=2;
if(vectors)f->v.count=vectors;
if(threads)f->threads=threads;
}
static void tc__flat_plan(const tc__group*g,tc__flattener*f){
tc__ixpool*x=g->body.ix;
memset(f,0,sizeof*f);
f->v.width=tc__device_width(g,TC__COL);
tc__ix width=tc__ix_const(f->v.width);
f->tail=tc__ix_divisor(x,g->shape.cols)%f->v.width!=0;
f->across=tc__ix_div(x,g->shape.cols,width);
f->all=tc__ix_mul(x,g->shape.rows,f->across);
tc__flat_choose(g,f);
}
static tc__ix tc__flat_blocks(const tc__group*g,const tc__flattener*f){
tc__ixpool*x=g->body.ix;
tc__ix across=tc__ix_ceil_div(x,g->shape.cols,tc__ix_const(f->v.width));
return tc__ix_ceil_div(x,tc__ix_mul(x,g->shape.rows,across),
tc__ix_const((int64_t)f->threads*f->v.count));
}
static int tc__flat_knob_fits(const tc__group*g,int knob,int v){
tc__flattener f;
tc__flat_plan(g,&f);
int64_t blocks=tc__ix_hi(g->body.ix,tc__flat_blocks(g,&f));
if(knob==TC__KNOB_BLOCK_THREADS)
return tc__flat_knob_threads[v]!=f.threads&&blocks>1;
if(knob!=TC__KNOB_VECTORS)return 0;
int vectors=tc__flat_knob_vectors[v];
return vectors!=f.v.count&&vectors<=tc__vectors_fit(g,f.v.width)&&
blocks/vectors*f.v.count>=TC__DEVICE_SMS;
}
static tc__ix tc__flat_open(tc__vectors*v){
tc__flattener*f=(tc__flattener*)(void*)v;
tc__relist*l=&v->l;
tc__ix t=tc__ix_const(f->threads);
tc__ix i=tc__ix_add(v->ix,tc__ix_mul(v->ix,t,v->u),f->place);
tc__ix cols=l->from->shape.cols;
tc__ix last=tc__vector_ix(v,v->width,i,tc__ix_const(v->width-1));
v->opened=tc__relist_if(l,f->tail?last:i,f->tail?cols:f->all,0,0);
i=tc__relist_bind(l,TC__FLAT_I,i,f->tail?cols:f->all);
f->row=tc__relist_bind(l,TC__ROW,
f->tail?tc__ix_const(0):tc__ix_div(v->ix,i,f->across),
l->from->shape.rows);
int one=f->tail||tc__ix_equals(l->from->shape.rows,1);
f->x=one?i
:tc__relist_bind(l,TC__FLAT_X,tc__ix_mod(v->ix,i,f->across),f->across);
return tc__vector_ix(v,v->width,f->x,tc__ix_const(0));
}
static void tc__flat_tail(tc__flattener*f){
tc__vectors*v=&f->v;
tc__ix cols=v->l.from->shape.cols;
tc__ix c=tc__vector_ix(v,v->width,f->across,f->place);
memset(v->ahead,0,v->l.from->body.node.count);
tc__vectors_rest(v);
int opened=tc__relist_if(&v->l,c,cols,0,0);
tc__relist_bind(&v->l,TC__ROW,tc__ix_const(0),v->l.from->shape.rows);
tc__vector_nodes(v,v->l.from,v->need,c,1,TC__HOLD_NOT);
tc__relist_end_if(&v->l,opened);
}
static tc__ix tc__flat_at(const tc__flattener*f,tc__ix e,tc__ix column){
tc__ix c=tc__ix_find_var(f->v.ix,e,TC__COL);
return c?tc__ix_subst(f->v.ix,e,c,column):e;
}
static void tc__flat_if_in(tc__flattener*f,const tc__kbox*box,tc__ix column){
int64_t attr[TC__BOX_WORDS];
uint32_t n=0;
for(uint32_t i=0;i<box->count;i+=2){
tc__ix e=tc__flat_at(f,box->pair[i],column),limit=box->pair[i+1];
if(e!=box->pair[i])
limit=tc__ix_sub(f->v.ix,limit,tc__ix_const(f->v.width-1));
n=tc__relist_fact(&f->v.l,attr,n,e,limit);
}
tc__relist_put(&f->v.l,TC_OP_IF,TC_BOOL,attr,n);
}
static void tc__flat_boxed(tc__flattener*f,const tc__kbox*box,tc__ix column){
const tc__group*g=f->v.l.from;
tc__boxed boxed;
if(tc__boxed_open(g->body.ctx,g,box,0,(uint32_t)g->body.node.count,&boxed))
tc__vector_nodes(&f->v,&boxed.g,boxed.need,column,f->v.width,TC__HOLD_NOT);
else
f->v.l.failed=1;
tc__boxed_close(g->body.ctx,&boxed);
}
static const tc__node*tc__flat_loop(const tc__group*g){
for(size_t i=0;i<g->body.node.count;i++)
if(g->body.node.at[i]->op==TC_OP_FOR&&
g->body.node.at[i]->attr[TC__FOR_AXIS]==TC__COL)
return g->body.node.at[i];
return NULL;
}
static int tc__flat_boxes(tc__flattener*f){
const tc__node*loop=tc__flat_loop(f->v.l.from);
tc__kbox box;
uint32_t count=0;
if(f->v.count>1||!loop||!tc__box_at(loop,0,&box))return 0;
f->v.u=tc__ix_const(0);
tc__ix column=tc__flat_open(&f->v);
for(;tc__box_at(loop,count,&box);count++){
tc__flat_if_in(f,&box,column);
tc__flat_boxed(f,&box,column);
tc__relist_put(&f->v.l,TC_OP_ELSE,TC_BOOL,NULL,0);
}
tc__vectors_rest(&f->v);
tc__vector_nodes(&f->v,f->v.l.from,f->v.need,column,f->v.width,TC__HOLD_NOT);
for(;count;count--)tc__relist_end(&f->v.l,TC__END_BLOCK);
tc__relist_end_if(&f->v.l,f->v.opened);
return 1;
}
static tc__group*tc__lower_flat(tc_ctx*c,const tc__group*g){
tc__flattener f;
tc__flat_plan(g,&f);
f.v.open=tc__flat_open;
if(tc__vectors_open(&f.v,c,g)){
tc__relist_launch(&f.v.l,f.threads,f.v.narrow,0,0);
f.j=tc__relist_for(&f.v.l,(tc__axis)TC__FLAT_J,TC__BIND_GRID,
tc__flat_blocks(g,&f));
f.t=tc__relist_for(&f.v.l,(tc__axis)TC__FLAT_T,TC__BIND_BLOCK,
tc__ix_const(f.threads));
f.place=tc__vector_ix(&f.v,(int64_t)f.threads*f.v.count,f.j,f.t);
if(!tc__flat_boxes(&f))tc__vectors_put(&f.v);
if(f.tail)tc__flat_tail(&f);
tc__relist_end(&f.v.l,TC__FLAT_T),tc__relist_end(&f.v.l,TC__FLAT_J);
tc__relist_end(&f.v.l,TC__END_BLOCK);
}
return tc__vectors_done(&f.v,c);
}
// ---- gen/device/window.c
enum{
TC__WINDOW_I=TC__VAR0+1,
TC__WINDOW_J=TC__VAR0,
TC__WINDOW_Y=TC__VAR0+2,
TC__WINDOW_X=TC__VAR0+3,
TC__WINDOW_Q=TC__VAR0+8
};
typedef struct tc__windower{
tc__vectors v;
tc__windows w;
tc__ix row,column;
int ragged;
}tc__windower;
static int tc__window_access(const tc__windower*t,const tc__node*n,int left){
int width=t->w.width;
while(width>1&&
(width>left||!tc__device_is_wide(t->v.l.from,n,width,TC__COL)))
width/=2;
return width;
}
static int tc__window_read(tc__windower*t,int i,tc__ix q,int column){
const tc__group*g=t->v.l.from;
const tc__neighbours*w=&t->w.window[i];
int64_t words[TC__WINDOW_WORDS];
int across=tc__window_across_of(&t->w,w);
tc__ix down=tc__ix_add(t->v.ix,q,tc__ix_const(w->top));
tc__node of=tc__window_node(g,w),n;
n=tc__window_moved(g,&of,down,tc__ix_const(w->left+column),words);
int width=tc__window_access(t,&n,across-column);
tc__ix lane=tc__vector_lanes(&t->v,width);
n=tc__window_moved(g,&of,down,
tc__ix_add(t->v.ix,lane,tc__ix_const(w->left+column)),words);
tc__relist_copy(&t->v.l,&n);
tc__relist_store(
&t->v.l,&n,t->v.first_window+i,
tc__vector_ix(&t->v,across,q,tc__ix_add(t->v.ix,lane,tc__ix_const(column))));
tc__vector_lanes_end(&t->v,width);
return width;
}
static void tc__window_read_all(tc__windower*t,int i){
const tc__group*g=t->v.l.from;
const tc__neighbours*w=&t->w.window[i];
tc__ix q=tc__relist_for(&t->v.l,(tc__axis)TC__WINDOW_Q,TC__BIND_UNROLL,
tc__ix_const(w->rows+t->w.rows-1));
tc__ix rows=tc__ix_add(t->v.ix,g->shape.rows,tc__ix_const(w->rows-1));
int opened=
t->ragged&&tc__relist_if(&t->v.l,tc__ix_add(t->v.ix,t->row,q),rows,0,0);
tc__relist_axis(&t->v.l,TC__ROW,t->row);
tc__relist_axis(&t->v.l,TC__COL,t->column);
for(int column=0;column<tc__window_across_of(&t->w,w);)
column+=tc__window_read(t,i,q,column);
tc__relist_end_if(&t->v.l,opened);
tc__relist_end(&t->v.l,TC__WINDOW_Q);
}
static void tc__window_buffers(tc__windower*t){
const tc__group*g=t->v.l.from;
t->v.first_window=(int64_t)t->v.l.to->buffer.count;
for(int i=0;i<t->w.count;i++){
const tc__neighbours*w=&t->w.window[i];
int dtype=tc__buffer_of(g,g->body.node.at[w->load])->dtype;
int rows=w->rows+t->w.rows-1;
tc__relist_buffer(&t->v.l,TC__BUF_REGISTER,dtype,
(int64_t)rows*tc__window_across_of(&t->w,w));
}
}
static tc__ix tc__window_open_row(tc__vectors*f){
const tc__windower*t=(const tc__windower*)(void*)f;
tc__ix row=tc__ix_add(f->ix,t->row,f->u);
f->opened=t->ragged&&tc__relist_if(&f->l,row,f->l.from->shape.rows,0,0);
tc__relist_axis(&f->l,TC__ROW,row);
return t->column;
}
static tc__ix tc__window_loop(tc__windower*t,int axis,tc__bind bind,tc__ix extent){
return tc__relist_for(&t->v.l,(tc__axis)axis,bind,extent);
}
static void tc__window_rows_body(tc__windower*t,int ragged){
t->ragged=ragged;
memset(t->v.ahead,0,t->v.l.from->body.node.count);
for(int i=0;i<t->w.count;i++)tc__window_read_all(t,i);
tc__vectors_put(&t->v);
}
static int tc__window_is_pure(const tc__windower*t){
const tc__group*g=t->v.l.from;
for(uint32_t i=0;i<g->body.node.count;i++){
const tc__node*n=g->body.node.at[i];
if(n->op==TC_OP_LOAD&&!tc__window_is_in(g,&t->w,n))return 0;
}
return 1;
}
static void tc__window_body(tc__windower*t){
const tc__group*g=t->v.l.from;
tc__ixpool*x=t->v.ix;
tc__ix all=g->shape.rows,own=tc__ix_const(t->w.rows),row=t->row;
tc__ix last=tc__ix_add(x,row,tc__ix_const(t->w.rows-1));
int ragged=tc__ix_divisor(x,all)%t->w.rows!=0;
int opened=tc__relist_if(&t->v.l,row,all,t->column,g->shape.cols);
if(ragged&&tc__window_is_pure(t)&&tc__ix_is_const(all)&&
tc__ix_value(all)>=t->w.rows){
t->row=tc__ix_min(x,row,tc__ix_sub(x,all,own));
ragged=0;
}
int asks=ragged&&tc__relist_if(&t->v.l,last,all,0,0);
tc__window_rows_body(t,0);
if(asks)tc__relist_put(&t->v.l,TC_OP_ELSE,TC_BOOL,NULL,0);
if(asks)tc__window_rows_body(t,1);
tc__relist_end_if(&t->v.l,asks);
tc__relist_end_if(&t->v.l,opened);
}
static tc__group*tc__lower_windows(tc_ctx*c,const tc__group*g,const tc__windows*w){
tc__windower t;
memset(&t,0,sizeof t);
t.w=*w,t.v.window=&t.w,t.v.open=tc__window_open_row;
t.v.width=w->width,t.v.count=w->rows;
if(tc__vectors_open(&t.v,c,g)){
tc__ixpool*x=t.v.ix;
int below=w->threads/w->across;
tc__window_buffers(&t);
tc__relist_launch(&t.v.l,w->threads,t.v.narrow,0,0);
tc__ix i=tc__window_loop(
&t,TC__WINDOW_I,TC__BIND_GRID,
tc__ix_ceil_div(x,g->shape.rows,tc__ix_const((int64_t)below*w->rows)));
tc__ix j=tc__window_loop(
&t,TC__WINDOW_J,TC__BIND_GRID,
tc__ix_ceil_div(x,g->shape.cols,tc__ix_const((int64_t)w->across*w->width)));
tc__ix y=tc__window_loop(&t,TC__WINDOW_Y,TC__BIND_BLOCK,tc__ix_const(below));
tc__ix n=
tc__window_loop(&t,TC__WINDOW_X,TC__BIND_LANE,tc__ix_const(w->across));
t.row=tc__vector_ix(&t.v,(int64_t)below*w->rows,i,
tc__ix_mul(x,tc__ix_const(w->rows),y));
t.column=tc__vector_ix(&t.v,(int64_t)w->across*w->width,j,
tc__ix_mul(x,tc__ix_const(w->width),n));
tc__window_body(&t);
tc__relist_end(&t.v.l,TC__WINDOW_X),tc__relist_end(&t.v.l,TC__WINDOW_Y);
tc__relist_end(&t.v.l,TC__WINDOW_J),tc__relist_end(&t.v.l,TC__WINDOW_I);
tc__relist_end(&t.v.l,TC__END_BLOCK);
}
return tc__vectors_done(&t.v,c);
}
// ---- gen/device/tile.c
enum{
TC__TILE_SMALL=32,
TC__TILE_LARGE=64,
TC__TILE_FROM=
1<<20,
TC__TILE_THREADS=256,
TC__TILE_BYTES=40960,
TC__TILE_HELD=2
};
enum{
TC__TILE_J=TC__VAR0,
TC__TILE_I,
TC__TILE_Y,
TC__TILE_X,
TC__TILE_U,
TC__TILE_L
};
static int tc__device_is_turned(const tc__group*g,const tc__node*n){
if(n->op!=TC_OP_LOAD||n->n_attr>TC__LOAD_PREDICATES||n->level!=TC__AT_COL)
return 0;
if(tc__device_is_row(g,n->attr[TC__LOAD_BUFFER])||
tc__ix_has_val(g->body.ix,n->attr[TC__LOAD_INDEX]))
return 0;
tc__ixrun run=tc__ix_run(g->body.ix,n->attr[TC__LOAD_INDEX],TC__ROW);
return run.ok&&run.run>=TC__TILE_SMALL&&tc__ix_equals(run.stride,1)&&
tc__access_along(g,n->attr[TC__LOAD_INDEX],TC__COL,1)==TC__PER_LANE;
}
static int tc__device_tile_width(const tc__group*g){
uint32_t most=4;
for(size_t i=0;i<g->body.node.count;i++){
const tc__node*n=g->body.node.at[i];
if(tc__device_is_memory(n)&&tc__device_bytes(g,n)>most)
most=tc__device_bytes(g,n);
}
int width=(int)(16/most);
if(tc__ix_divisor(g->body.ix,g->shape.rows)%width||
tc__ix_divisor(g->body.ix,g->shape.cols)%width||
!tc__device_takes(g,TC__COL,width))
return 1;
for(size_t i=0;i<g->body.node.count;i++){
const tc__node*n=g->body.node.at[i];
if(tc__device_is_turned(g,n)&&!tc__device_is_wide(g,n,width,TC__ROW))
return 1;
}
return width;
}
static int64_t tc__tile_numel(int64_t size){return size*(size+1);}
static int64_t tc__device_tile_bytes(const tc__group*g,int64_t size){
int64_t bytes=0;
for(size_t i=0;i<g->body.node.count;i++)
if(tc__device_is_turned(g,g->body.node.at[i]))
bytes+=tc__tile_numel(size)*tc__dtypes[g->body.node.at[i]->dtype].bytes;
return bytes;
}
static int tc__device_is_tile(const tc__group*g){
int64_t bytes=tc__device_tile_bytes(g,TC__TILE_SMALL);
return g->shape.kind==TC__POINTWISE&&bytes>0&&bytes<=TC__TILE_BYTES;
}
static int64_t tc__device_tile_size(const tc__group*g){
const tc__ixpool*x=g->body.ix;
int64_t elements=
tc__ix_times(tc__ix_lo(x,g->shape.rows),tc__ix_lo(x,g->shape.cols));
int fits=tc__device_tile_bytes(g,TC__TILE_LARGE)<=TC__TILE_BYTES;
return fits&&elements>=TC__TILE_FROM?TC__TILE_LARGE:TC__TILE_SMALL;
}
static int tc__device_is_held_ahead(const tc__group*g,const tc__node*n){
if(n->op!=TC_OP_LOAD||n->level!=TC__AT_COL||tc__device_is_turned(g,n))
return 0;
const tc__kbuf*b=tc__buffer_of(g,n);
return tc__is_memory(b)&&!b->written&&n->n_attr<=TC__LOAD_PREDICATES&&
!tc__ix_has_val(g->body.ix,n->attr[TC__LOAD_INDEX])&&
tc__access_along(g,n->attr[TC__LOAD_INDEX],TC__COL,1)==TC__CONTIGUOUS;
}
typedef struct tc__tiler{
tc__relist l;
tc__ixpool*ix;
int64_t size;
int64_t width,down;
tc__ix j,i,y,x,u;
int opened;
}tc__tiler;
static tc__ix tc__tile_ix(const tc__tiler*t,int64_t a,tc__ix x,tc__ix b){
return tc__ix_add(t->ix,tc__ix_mul(t->ix,tc__ix_const(a),x),b);
}
static tc__ix tc__tile_vector_open(tc__tiler*t){
if(t->width==1)return tc__ix_const(0);
return tc__relist_for(&t->l,(tc__axis)TC__TILE_L,TC__BIND_VECTOR,
tc__ix_const(t->width));
}
static void tc__tile_vector_close(tc__tiler*t){
if(t->width>1)tc__relist_end(&t->l,TC__TILE_L);
}
static int tc__tile_holds(const tc__group*g,const tc__node*load){
int before=0;
if(!tc__device_is_held_ahead(g,load))return 0;
for(uint32_t id=0;id<load->id;id++)
before+=tc__device_is_held_ahead(g,g->body.node.at[id]);
return before<TC__TILE_HELD;
}
static int tc__tile_keeps(const tc__group*g,const tc__node*n){
return tc__device_is_turned(g,n)||tc__tile_holds(g,n);
}
static int64_t tc__tile_of(const tc__tiler*t,const tc__node*load){
int64_t b=(int64_t)t->l.from->buffer.count;
for(uint32_t id=0;id<load->id;id++)
b+=tc__tile_keeps(t->l.from,t->l.from->body.node.at[id]);
return b;
}
static void tc__tile_buffer(tc__tiler*t,const tc__node*load){
const tc__group*g=t->l.from;
int dtype=tc__buffer_of(g,load)->dtype;
if(tc__device_is_turned(g,load))
tc__relist_buffer(&t->l,TC__BUF_SHARED,dtype,tc__tile_numel(t->size));
else
tc__relist_buffer(&t->l,TC__BUF_REGISTER,tc__is_rounded(dtype)?TC_F32:dtype,
t->size*t->size/TC__TILE_THREADS);
}
static void tc__tile_read(tc__tiler*t,tc__ix line){
const tc__group*g=t->l.from;
tc__ix first=tc__tile_ix(t,t->width,t->x,tc__ix_const(0));
tc__ix row=tc__tile_ix(t,t->size,t->j,first);
tc__ix column=tc__tile_ix(t,t->size,t->i,line);
int opened=tc__relist_if(&t->l,row,g->shape.rows,column,g->shape.cols);
tc__relist_axis(&t->l,TC__COL,column);
tc__ix l=tc__tile_vector_open(t);
tc__relist_axis(&t->l,TC__ROW,tc__ix_add(t->ix,row,l));
tc__ix at=tc__tile_ix(t,t->size+1,line,tc__ix_add(t->ix,first,l));
for(size_t id=0;id<g->body.node.count;id++){
const tc__node*n=g->body.node.at[id];
if(!tc__device_is_turned(g,n))continue;
tc__relist_copy(&t->l,n);
tc__relist_store(&t->l,n,tc__tile_of(t,n),at);
}
tc__tile_vector_close(t);
tc__relist_end_if(&t->l,opened);
}
static void tc__tile_store_row(tc__tiler*t,const tc__node*n){
int64_t attr[2];
attr[TC__IF_PREDICATES]=tc__ix_var(t->ix,TC__COL,t->l.from->shape.cols);
attr[TC__IF_PREDICATES+1]=tc__ix_const(1);
tc__relist_put(&t->l,TC_OP_IF,TC_BOOL,attr,2);
tc__relist_copy(&t->l,n);
tc__relist_end(&t->l,TC__END_BLOCK);
}
static void tc__tile_node(tc__tiler*t,const tc__node*n,tc__ix at,tc__ix held){
if(tc__opens(n)||n->op==TC_OP_END)return;
if(tc__tile_keeps(t->l.from,n))
tc__relist_load(&t->l,n,tc__tile_of(t,n),
tc__device_is_turned(t->l.from,n)?at:held);
else if(n->op==TC_OP_STORE&&n->level==TC__AT_ROW)
tc__tile_store_row(t,n);
else
tc__relist_copy(&t->l,n);
}
static tc__ix tc__tile_row_open(tc__tiler*t,tc__ix line){
tc__ix first=tc__tile_ix(t,t->width,t->x,tc__ix_const(0));
tc__ix row=tc__tile_ix(t,t->size,t->j,line);
tc__ix column=tc__tile_ix(t,t->size,t->i,first);
t->opened=
tc__relist_if(&t->l,row,t->l.from->shape.rows,column,t->l.from->shape.cols);
tc__relist_axis(&t->l,TC__ROW,row);
tc__ix l=tc__tile_vector_open(t);
tc__relist_axis(&t->l,TC__COL,tc__ix_add(t->ix,column,l));
return l;
}
static void tc__tile_row_close(tc__tiler*t){
tc__tile_vector_close(t);
tc__relist_end_if(&t->l,t->opened);
}
static void tc__tile_hold(tc__tiler*t,tc__ix line){
const tc__group*g=t->l.from;
tc__ix held=tc__tile_ix(t,t->width,t->u,tc__tile_row_open(t,line));
for(size_t id=0;id<g->body.node.count;id++){
const tc__node*n=g->body.node.at[id];
if(!tc__tile_holds(g,n))continue;
tc__relist_copy(&t->l,n);
tc__relist_store(&t->l,n,tc__tile_of(t,n),held);
}
tc__tile_row_close(t);
}
static void tc__tile_compute(tc__tiler*t,tc__ix line){
const tc__group*g=t->l.from;
tc__ix l=tc__tile_row_open(t,line);
tc__ix held=tc__tile_ix(t,t->width,t->u,l);
tc__ix across=tc__tile_ix(t,t->width,t->x,l);
tc__ix at=tc__tile_ix(t,t->size+1,across,line);
for(size_t id=0;id<g->body.node.count;id++)
tc__tile_node(t,g->body.node.at[id],at,held);
tc__tile_row_close(t);
}
static void tc__tile_lines(tc__tiler*t,void(*one)(tc__tiler*t,tc__ix line)){
int64_t passes=t->size/t->down;
t->u=
tc__relist_for(&t->l,(tc__axis)TC__TILE_U,TC__BIND_UNROLL,tc__ix_const(passes));
one(t,tc__tile_ix(t,t->down,t->u,t->y));
tc__relist_end(&t->l,TC__TILE_U);
}
static tc__ix tc__tile_loop(tc__tiler*t,int axis,tc__bind bind,tc__ix extent){
return tc__relist_for(&t->l,(tc__axis)axis,bind,extent);
}
static int tc__tile_buffers(tc__tiler*t){
const tc__group*g=t->l.from;
int held=0;
for(size_t i=0;i<g->body.node.count;i++){
const tc__node*n=g->body.node.at[i];
if(tc__tile_keeps(g,n))tc__tile_buffer(t,n);
held|=tc__tile_holds(g,n);
}
return held;
}
static tc__group*tc__lower_tile(tc_ctx*c,const tc__group*g){
tc__tiler t;
memset(&t,0,sizeof t);
t.ix=g->body.ix,t.width=tc__device_tile_width(g),t.size=tc__device_tile_size(g);
t.down=TC__TILE_THREADS*t.width/t.size;
tc__ix size=tc__ix_const(t.size);
if(tc__relist_open(&t.l,c,g)){
int held=tc__tile_buffers(&t);
tc__relist_launch(&t.l,TC__TILE_THREADS,tc__device_is_narrow(g),0,0);
t.j=tc__tile_loop(&t,TC__TILE_J,TC__BIND_GRID,
tc__ix_ceil_div(t.ix,g->shape.rows,size));
t.i=tc__tile_loop(&t,TC__TILE_I,TC__BIND_GRID,
tc__ix_ceil_div(t.ix,g->shape.cols,size));
t.y=tc__tile_loop(&t,TC__TILE_Y,TC__BIND_BLOCK,tc__ix_const(t.down));
t.x=tc__tile_loop(&t,TC__TILE_X,TC__BIND_LANE,tc__ix_const(t.size/t.width));
if(held)tc__tile_lines(&t,tc__tile_hold);
tc__tile_lines(&t,tc__tile_read);
tc__relist_barrier(&t.l,0);
tc__tile_lines(&t,tc__tile_compute);
tc__relist_end(&t.l,TC__TILE_X),tc__relist_end(&t.l,TC__TILE_Y);
tc__relist_end(&t.l,TC__TILE_I),tc__relist_end(&t.l,TC__TILE_J);
tc__relist_end(&t.l,TC__END_BLOCK);
}
return tc__relist_close(&t.l,c);
}
// ---- gen/device/rows.c
enum{
TC__ROWS_SHARED=232448,
TC__ROWS_STATIC=2048
};
enum{
TC__ROWS_I=TC__VAR0+1,
TC__ROWS_Y=TC__VAR0+2,
TC__ROWS_X=TC__VAR0+3,
TC__ROWS_S=TC__VAR0+7,
TC__ROWS_Q=TC__VAR0+8,
TC__ROWS_M=TC__VAR0+9,
TC__ROWS_Z=TC__VAR0+11
};
typedef struct tc__rower{
tc__vectors v;
tc__device_plan q;
tc__ix z;
tc__ix x;
tc__ix s;
tc__ix across;
int by_part;
tc__ix i,
made;
int early;
tc__sums sums;
int64_t ticket;
int cheap;
void(*behind)(struct tc__rower*t,uint32_t begin,uint32_t end);
int(*value)(struct tc__rower*t,const tc__node*n);
}tc__rower;
static tc__ix tc__rows_whole(const tc__rower*t){
return tc__ix_mul(t->v.ix,tc__ix_const(t->v.width),t->across);
}
static int tc__rows_are_equal(const tc__rower*t){
tc__ix all=tc__ix_mul(t->v.ix,t->q.chunk,tc__ix_const(t->q.parts));
return all==tc__rows_whole(t);
}
static tc__ix tc__rows_open(tc__vectors*v){
tc__rower*t=(tc__rower*)(void*)v;
tc__relist*l=&v->l;
tc__ix at=tc__vector_ix(v,v->count,t->s,v->u);
tc__ix k=tc__vector_ix(v,t->q.sharing,at,t->x);
tc__ix own=tc__vector_ix(v,v->width,k,tc__ix_const(0));
tc__ix column=tc__ix_add(v->ix,v->from,own);
v->opened=t->q.parts==1?tc__relist_if(l,column,tc__rows_whole(t),0,0)
:tc__rows_are_equal(t)
?tc__relist_if(l,own,t->q.chunk,0,0)
:tc__relist_if(l,column,tc__rows_whole(t),own,t->q.chunk);
return column;
}
static int tc__rows_open_tail(tc__rower*t,tc__ix*c){
tc__vectors*v=&t->v;
*c=tc__ix_add(v->ix,tc__rows_whole(t),t->x);
tc__ix behind=tc__ix_sub(v->ix,tc__ix_const(t->q.parts-1),t->z);
return tc__relist_if(&v->l,*c,v->l.from->shape.cols,behind,tc__ix_const(1));
}
static void tc__rows_hold_tail(tc__rower*t,tc__vector_hold from,tc__vector_hold to,
int64_t next){
tc__vectors*v=&t->v;
for(size_t id=0;id<v->l.from->body.node.count;id++){
if(v->ahead[id]!=(uint8_t)from)continue;
v->ahead[id]=(uint8_t)to,v->held[id]+=next;
}
}
static void tc__rows_tail(tc__rower*t){
tc__vectors*v=&t->v;
size_t nodes=v->l.from->body.node.count;
tc__ix c;
for(size_t id=0;id<nodes;id++)
if(v->ahead[id]!=TC__HOLD_SHARED)v->ahead[id]=TC__HOLD_NOT;
tc__rows_hold_tail(t,TC__HOLD_SHARED,TC__HOLD_ROWS,1);
tc__vectors_rest(v);
int opened=tc__rows_open_tail(t,&c);
tc__vector_nodes(v,v->l.from,v->need,c,1,TC__HOLD_NOT);
tc__relist_end_if(&v->l,opened);
tc__rows_hold_tail(t,TC__HOLD_ROWS,TC__HOLD_SHARED,-1);
}
static tc__ix tc__rows_turns(const tc__rower*t){
tc__ix vectors=t->across;
if(t->q.parts>1)vectors=tc__ix_div(t->v.ix,t->q.chunk,tc__ix_const(t->v.width));
return tc__ix_ceil_div(t->v.ix,vectors,
tc__ix_const((int64_t)t->q.sharing*t->v.count));
}
static void tc__rows_serial(tc__rower*t,void(*body)(tc__rower*t)){
t->s=
tc__relist_for(&t->v.l,(tc__axis)TC__ROWS_S,TC__BIND_SERIAL,tc__rows_turns(t));
body(t);
tc__relist_end(&t->v.l,TC__ROWS_S);
t->s=tc__ix_const(0);
}
static void tc__rows_vectors(tc__rower*t){tc__vectors_put(&t->v);}
static int tc__rows_fills(const tc__rower*t,const tc__node*n){
return t->q.hold==TC__DEVICE_SHARED&&
tc__device_held_load(t->v.l.from,&t->q,n)==(int64_t)n->id;
}
static void tc__rows_fill(tc__rower*t,const tc__node*n,tc__ix column){
tc__vectors*v=&t->v;
uint32_t bytes=(uint32_t)v->width*tc__device_bytes(v->l.from,n);
int whole=v->width>1&&tc__device_is_wide(v->l.from,n,v->width,TC__COL);
if(!whole||bytes<4){
int opened=v->width==1&&tc__relist_do(&v->l);
tc__ix lane=tc__vector_lanes(v,v->width);
tc__relist_axis(&v->l,TC__COL,tc__ix_add(v->ix,column,lane));
tc__relist_copy(&v->l,n);
tc__relist_store(&v->l,n,v->held[n->id],tc__vector_shared_at(v));
tc__vector_lanes_end(v,v->width);
tc__relist_end_if(&v->l,opened);
return;
}
tc__relist_copy_vector(&v->l,n,v->held[n->id],tc__ix_sub(v->ix,column,v->from),
TC__COL,column,v->width);
}
static void tc__rows_fill_all(tc__rower*t){
tc__vectors*v=&t->v;
v->u=tc__ix_const(0);
tc__ix column=tc__rows_open(v);
for(uint32_t id=v->begin;id<v->end;id++)
if(tc__rows_fills(t,v->l.from->body.node.at[id]))
tc__rows_fill(t,v->l.from->body.node.at[id],column);
tc__relist_end_if(&v->l,v->opened);
}
static void tc__rows_fill_tail(tc__rower*t){
tc__vectors*v=&t->v;
tc__ix column;
int opened=tc__rows_open_tail(t,&column);
tc__relist_axis(&v->l,TC__COL,column);
for(uint32_t id=v->begin;id<v->end;id++){
const tc__node*n=v->l.from->body.node.at[id];
if(!tc__rows_fills(t,n))continue;
tc__relist_copy(&v->l,n);
tc__relist_store(&v->l,n,v->held[id]+1,tc__ix_const(0));
}
tc__relist_end_if(&v->l,opened);
}
static int tc__rows_any_fills(const tc__rower*t){
for(uint32_t id=t->v.begin;id<t->v.end;id++)
if(tc__rows_fills(t,t->v.l.from->body.node.at[id]))return 1;
return 0;
}
static void tc__rows_whole_vectors(tc__rower*t){
tc__vectors*v=&t->v;
int count=v->count;
if(tc__rows_any_fills(t)){
v->count=1;
tc__rows_serial(t,tc__rows_fill_all);
if(t->q.tail)tc__rows_fill_tail(t);
v->count=count;
tc__relist_put(&v->l,TC_OP_WAIT,TC_I64,NULL,0);
}
if(t->q.hold==TC__DEVICE_REGISTERS){
tc__rows_vectors(t);
return;
}
if(v->l.from->target.checked||!tc__vectors_are_deep(v))v->count=1;
tc__rows_serial(t,tc__rows_vectors);
v->count=count;
}
static void tc__rows_choose_first(tc__rower*t){
tc__vectors*v=&t->v;
for(uint32_t id=0;id<v->end;id++){
if(!v->need[id]||v->ahead[id]!=TC__HOLD_LATER)continue;
for(uint32_t k=0;k<v->l.from->body.node.count;k++)
if(v->ahead[k]==TC__HOLD_LATER&&v->held[k]==v->held[id])
v->ahead[k]=TC__HOLD_BEFORE;
v->ahead[id]=TC__HOLD_FIRST;
}
}
static void tc__rows_forget(tc__rower*t){
tc__vectors*v=&t->v;
for(uint32_t id=0;id<v->end;id++){
int64_t b=v->held[id];
uint32_t k=0;
if(!v->need[id]||v->ahead[id]!=TC__HOLD_BEFORE)continue;
while(k<id&&!(v->need[k]&&v->ahead[k]==TC__HOLD_BEFORE&&v->held[k]==b))
k++;
const tc__kbuf*held=&v->l.to->buffer.at[b];
int words=tc__ix_value(held->numel)*tc__dtypes[held->dtype].bytes%4==0;
if(k==id&&words)tc__relist_put(&v->l,TC_OP_FORGET,TC_I64,&b,1);
}
}
static void tc__rows_drop(tc__rower*t){
tc__vectors*v=&t->v;
for(uint32_t id=0;id<v->l.from->body.node.count;id++){
const tc__node*n=v->l.from->body.node.at[id];
int held=v->ahead[id]==TC__HOLD_FIRST||v->ahead[id]==TC__HOLD_BEFORE;
if(held&&tc__device_held_load(v->l.from,&t->q,n)>=0&&
!tc__ix_uses(v->ix,n->attr[TC__LOAD_INDEX],TC__ROW))
v->ahead[id]=TC__HOLD_LATER;
}
}
static void tc__rows_columns(tc__rower*t,uint32_t begin,uint32_t end){
tc__vectors*v=&t->v;
v->begin=begin,v->end=end;
if(t->behind){
tc__vectors_rest(v);
if(t->cheap)tc__rows_forget(t);
tc__rows_choose_first(t);
}
if(!tc__ix_equals(t->across,0)||!t->q.tail)tc__rows_whole_vectors(t);
if(t->q.tail)tc__rows_tail(t);
if(t->behind)tc__rows_drop(t);
for(uint32_t id=0;id<end&&!t->early;id++){
const tc__node*n=v->l.from->body.node.at[id];
if(!v->ahead[id]||v->ahead[id]==TC__HOLD_SHARED||
v->ahead[id]==TC__HOLD_LATER||v->ahead[id]==TC__HOLD_ASKED)
continue;
int later=t->q.hold==TC__DEVICE_REGISTERS&&
tc__device_held_load(v->l.from,&t->q,n)>=0;
v->ahead[id]=later?TC__HOLD_BEFORE:TC__HOLD_NOT;
}
}
static int tc__rows_is_read(const tc__rower*t,uint32_t begin,uint32_t end){
const tc__group*g=t->v.l.from;
int stored=0,loaded=0;
for(uint32_t id=begin;id<g->body.node.count;id++){
const tc__node*n=g->body.node.at[id];
if(!tc__device_is_memory(n)||t->v.row[n->attr[TC__ACCESS_BUFFER]])continue;
int shared=tc__buffer_of(g,n)->written||
tc__device_is_row(g,n->attr[TC__ACCESS_BUFFER]);
if(id<end&&n->op==TC_OP_STORE)stored=1;
if(id>=end&&n->op==TC_OP_LOAD&&shared)loaded=1;
}
return stored&&loaded&&t->q.sharing>1;
}
static void tc__rows_node(tc__rower*t,const tc__node*n){
tc__relist*l=&t->v.l;
tc__node m=*n;
int64_t attr[TC__COMBINE_THREADS+2];
tc__ix one=tc__ix_const(1);
int store=n->op==TC_OP_STORE;
if(t->value&&t->value(t,n))return;
int opened=store&&tc__relist_if(l,t->x,one,t->by_part?t->z:0,one);
int owned=store&&tc__vector_own(&t->v);
if(n->op==TC_OP_NEW||n->op==TC_OP_COMBINE){
memcpy(attr,n->attr,n->n_attr*sizeof*attr);
m.attr=attr,m.n_attr=3;
}
if(n->op==TC_OP_NEW)attr[TC__NEW_WIDTH]=t->v.width;
if(n->op==TC_OP_COMBINE)attr[TC__COMBINE_THREADS]=t->q.sharing;
if(n->op==TC_OP_COMBINE&&t->q.cluster)
attr[TC__COMBINE_THREADS+1]=t->q.cluster,m.n_attr=4;
tc__relist_copy(l,&m);
tc__relist_end_if(l,owned),tc__relist_end_if(l,opened);
}
static void tc__rows_body(tc__rower*t){
const tc__group*g=t->v.l.from;
uint32_t rows=0;
while(g->body.node.at[rows]->op!=TC_OP_FOR)rows++;
for(uint32_t id=rows;id<g->body.node.count;id++){
const tc__node*n=g->body.node.at[id];
if(n->op==TC_OP_END||(n->op==TC_OP_FOR&&n->attr[TC__FOR_AXIS]==TC__ROW))
continue;
if(n->op!=TC_OP_FOR){
tc__rows_node(t,n);
continue;
}
uint32_t end=tc__loop_end(g,id);
tc__rows_columns(t,id+1,end);
if(t->behind)t->behind(t,id+1,end);
if(tc__rows_is_read(t,id+1,end))
tc__relist_barrier(&t->v.l,t->q.sharing<=32);
id=end;
}
}
static void tc__rows_place_rows(tc__rower*t){
const tc__group*g=t->v.l.from;
for(size_t b=0;b<g->buffer.count;b++){
const tc__kbuf*row=&g->buffer.at[b];
if(!tc__device_is_row(g,(int64_t)b))continue;
if(t->cheap&&tc__device_is_cheap(g,(int64_t)b)){
t->v.row[b]=TC__ROW_AGAIN;
}else if(t->q.hold==TC__DEVICE_REGISTERS&&
tc__device_is_own_row(g,(int64_t)b)){
t->v.row[b]=TC__ROW_REGISTERS;
t->v.row_held[b]=tc__relist_buffer(&t->v.l,TC__BUF_REGISTER,row->dtype,
(int64_t)t->v.count*t->v.width);
}else if(t->q.hold!=TC__DEVICE_REGISTERS&&
tc__device_is_again(g,(int64_t)b)){
t->v.row[b]=TC__ROW_AGAIN;
}else if(t->v.l.to){
t->v.l.to->buffer.at[b].place=TC__BUF_SHARED;
}
}
}
static void tc__rows_place_loads(tc__rower*t){
tc__vectors*v=&t->v;
const tc__group*g=v->l.from;
tc__ix columns=t->q.cluster?t->q.chunk:g->shape.cols;
for(uint32_t id=0;id<g->body.node.count;id++){
const tc__node*n=g->body.node.at[id];
int64_t first=tc__device_held_load(g,&t->q,n);
if(first<0)continue;
if(t->behind&&first==(int64_t)id)tc__vector_hold_in(v,n,TC__HOLD_LATER);
if(t->behind){
v->ahead[id]=TC__HOLD_LATER,v->held[id]=v->held[first];
continue;
}
if(first<(int64_t)id){
v->ahead[id]=
t->q.hold==TC__DEVICE_SHARED?TC__HOLD_SHARED:TC__HOLD_BEFORE;
v->held[id]=v->held[first];
}else if(t->q.hold==TC__DEVICE_REGISTERS){
tc__vector_hold_in(v,n,TC__HOLD_FIRST);
}else{
v->ahead[id]=TC__HOLD_SHARED;
v->held[id]=
tc__relist_buffer(&v->l,TC__BUF_SHARED,tc__buffer_of(g,n)->dtype,
tc__padded(tc__ix_value(columns),64));
if(t->q.tail)
tc__relist_buffer(&v->l,TC__BUF_REGISTER,tc__buffer_of(g,n)->dtype,1);
}
}
}
static void tc__rows_open_parts(tc__rower*t){
tc__relist*l=&t->v.l;
tc__relist_for(l,TC__ROW,TC__BIND_GRID,l->from->shape.rows);
t->z=tc__relist_for(l,(tc__axis)TC__ROWS_Z,TC__BIND_GRID,tc__ix_const(t->q.parts));
t->x=
tc__relist_for(l,(tc__axis)TC__ROWS_X,TC__BIND_BLOCK,tc__ix_const(t->q.sharing));
t->v.from=tc__ix_mul(t->v.ix,t->q.chunk,t->z);
}
static void tc__rows_close_parts(tc__rower*t){
tc__relist_end(&t->v.l,TC__ROWS_X),tc__relist_end(&t->v.l,TC__ROWS_Z);
tc__relist_end(&t->v.l,TC__ROW);
}
static void tc__rows_place_sums(tc__rower*t){
tc__relist*l=&t->v.l;
const tc__group*g=l->from;
tc__ix rows=g->shape.rows;
for(size_t id=0;id<g->body.node.count;id++)
if(g->body.node.at[id]->op==TC_OP_COMBINE)
t->sums.combine[t->sums.count++]=g->body.node.at[id];
t->ticket=tc__relist_memory(l,TC__BUF_TICKET,TC_I32,rows);
tc__sums_in(l,&t->sums,TC__BUF_WORK,
tc__ix_mul(t->v.ix,rows,tc__ix_const(t->q.parts)));
}
static void tc__rows_place_kept(tc__rower*t){
const tc__group*g=t->v.l.from;
tc__ix r=tc__ix_var(t->v.ix,TC__ROW,g->shape.rows);
t->v.kept=1;
for(size_t b=0;b<g->buffer.count&&!t->v.l.failed;b++){
t->v.l.base[b]=tc__ix_const(0);
if(!tc__device_is_row(g,(int64_t)b))continue;
t->v.row[b]=TC__ROW_MEMORY;
t->v.l.base[b]=tc__ix_mul(t->v.ix,g->shape.cols,r);
t->v.l.to->buffer.at[b].place=TC__BUF_WORK;
t->v.l.to->buffer.at[b].numel=tc__ix_mul(t->v.ix,g->shape.cols,g->shape.rows);
}
}
static tc__sums tc__rows_sums(const tc__rower*t,uint32_t first,uint32_t last,
const uint8_t*need){
tc__sums s;
s.count=0,s.behind=0;
for(int i=0;i<t->sums.count;i++){
uint32_t id=t->sums.combine[i]->id;
if(id<first||id>=last||!need[id])continue;
s.combine[s.count]=t->sums.combine[i];
s.values[s.count]=t->sums.values[i],s.places[s.count]=t->sums.places[i];
s.count++;
}
return s;
}
static void tc__rows_gather(tc__rower*t,const tc__sums*s){
tc__vectors*v=&t->v;
tc__relist*l=&v->l;
tc__ix parts=tc__ix_const(t->q.parts);
tc__ix r=tc__ix_var(v->ix,TC__ROW,l->from->shape.rows);
tc__sums_new(l,s,v->width);
tc__ix q=tc__relist_for(l,(tc__axis)TC__ROWS_Q,TC__BIND_SERIAL,
tc__ix_ceil_div(v->ix,parts,tc__ix_const(t->q.sharing)));
tc__ix part=tc__vector_ix(v,t->q.sharing,q,t->x);
int opened=tc__relist_if(l,part,parts,0,0);
part=tc__relist_bind(l,TC__ROWS_M,part,parts);
tc__sums_move(l,s,TC_OP_GET,tc__vector_ix(v,t->q.parts,r,part));
tc__relist_end_if(l,opened);
tc__relist_end(l,TC__ROWS_Q);
for(int i=0;i<s->count;i++)tc__rows_node(t,s->combine[i]);
}
static void tc__rows_leave(tc__rower*t,const tc__sums*s){
tc__vectors*v=&t->v;
tc__ix r=tc__ix_var(v->ix,TC__ROW,v->l.from->shape.rows);
for(int i=0;i<s->count;i++)tc__rows_node(t,s->combine[i]);
int opened=tc__relist_if(&v->l,t->x,tc__ix_const(1),0,0);
tc__sums_move(&v->l,s,TC_OP_PUT,tc__vector_ix(v,t->q.parts,r,t->z));
tc__relist_end_if(&v->l,opened);
}
static int tc__rows_loop_of(const tc__group*g,uint32_t id){
int loop=0;
for(uint32_t i=0;i<id;i++)
loop+=g->body.node.at[i]->op==TC_OP_END&&
g->body.node.at[i]->attr[TC__END_AXIS]==TC__COL;
return loop;
}
static int tc__rows_goes_on(const tc__rower*t,int launch){
return launch==t->q.launches-1&&tc__device_ends_in_sums(t->v.l.from);
}
static int tc__rows_is_root(const tc__rower*t,const tc__node*n,int loop,int launch){
if(n->level==TC__AT_COL||n->op==TC_OP_ACC)return loop==launch;
if(n->op!=TC_OP_STORE&&n->op!=TC_OP_CHECK)return 0;
return loop==launch||(loop>launch&&tc__rows_goes_on(t,launch));
}
static void tc__rows_need(const tc__rower*t,int launch,uint8_t*need){
const tc__group*g=t->v.l.from;
uint32_t count=(uint32_t)g->body.node.count;
memset(need,0,count);
for(uint32_t id=0;id<count;id++){
const tc__node*n=g->body.node.at[id];
if(tc__rows_is_root(t,n,tc__rows_loop_of(g,id),launch))need[id]=1;
if(need[id]&&n->op==TC_OP_LOAD&&
t->v.row[n->attr[TC__LOAD_BUFFER]]==TC__ROW_AGAIN)
tc__device_needs(
g,g->body.node.at[tc__device_fills(g,n->attr[TC__LOAD_BUFFER])->in[0]],
need);
}
for(uint32_t id=count;id-- >0;){
const tc__node*n=g->body.node.at[id];
if(!need[id]||n->op==TC_OP_FOR||n->op==TC_OP_END)continue;
for(uint32_t k=0;k<n->n_in;k++)need[n->in[k]]=1;
for(uint32_t k=0;k<n->n_attr;k++)
if(tc__attr_is_ix(n,k))
tc__ix_each_val(g->body.ix,n->attr[k],tc__vector_need,need);
}
}
static int tc__rows_cut_sums(tc__rower*t,uint32_t first,uint32_t last,int loop,
int launch,const uint8_t*need){
uint8_t*all=t->v.phase;
memset(all,1,t->v.l.from->body.node.count);
tc__sums s=tc__rows_sums(t,first,last,loop<launch?need:all);
if(loop>launch)return 0;
if(loop==launch){
tc__ix r=tc__ix_var(t->v.ix,TC__ROW,t->v.l.from->shape.rows);
tc__rows_leave(t,&s);
if(!tc__rows_goes_on(t,launch))return 0;
tc__relist_last(&t->v.l,t->ticket,r,t->q.parts);
t->by_part=0;
}
if(s.count)tc__rows_gather(t,&s);
return 1;
}
static uint32_t tc__rows_run_end(const tc__group*g,uint32_t id){
while(id<g->body.node.count&&g->body.node.at[id]->op==TC_OP_COMBINE)id++;
return id;
}
static void tc__rows_cut_body(tc__rower*t,int launch,const uint8_t*need){
const tc__group*g=t->v.l.from;
t->by_part=1;
for(uint32_t id=0;id<g->body.node.count;id++){
const tc__node*n=g->body.node.at[id];
int loop=tc__rows_loop_of(g,id);
if(n->op==TC_OP_END||(n->op==TC_OP_FOR&&n->attr[TC__FOR_AXIS]==TC__ROW))
continue;
if(n->op==TC_OP_FOR){
uint32_t end=tc__loop_end(g,id);
if(loop==launch)tc__rows_columns(t,id+1,end);
id=end;
}else if(n->op==TC_OP_COMBINE){
uint32_t last=tc__rows_run_end(g,id);
if(!tc__rows_cut_sums(t,id,last,loop-1,launch,need))return;
id=last-1;
}else if(loop>launch&&t->by_part){
return;
}else if(n->op==TC_OP_NEW
?loop==launch
:need[id]&&!(n->op==TC_OP_STORE&&loop<launch)){
tc__rows_node(t,n);
}
}
}
static void tc__rows_cut(tc__rower*t,uint8_t*need){
tc__relist*l=&t->v.l;
tc__rows_place_sums(t);
if(t->q.kept)tc__rows_place_kept(t);
for(int launch=0;launch<t->q.launches;launch++){
tc__rows_need(t,launch,need);
memset(t->v.ahead,0,l->from->body.node.count);
tc__relist_launch(l,t->q.threads,t->q.narrow,0,0);
tc__rows_open_parts(t);
tc__rows_cut_body(t,launch,need);
tc__rows_close_parts(t);
tc__relist_end(l,TC__END_BLOCK);
}
}
static void tc__rows_place(tc__rower*t,tc__ix block,tc__ix y){
tc__relist*l=&t->v.l;
int rows=t->q.threads/t->q.sharing;
tc__ix r=tc__vector_ix(&t->v,rows,block,y);
if(tc__ix_divisor(t->v.ix,l->from->shape.rows)%rows)
tc__relist_leave(l,r,l->from->shape.rows);
tc__relist_axis(l,TC__ROW,r);
}
static void tc__rows_loops(tc__rower*t){
tc__relist*l=&t->v.l;
tc__ix all=l->from->shape.rows;
int rows=t->q.threads/t->q.sharing,sharing=t->q.sharing;
tc__ix y=tc__ix_const(0);
tc__ix i=tc__relist_for(l,rows>1?(tc__axis)TC__ROWS_I:TC__ROW,TC__BIND_GRID,
tc__ix_ceil_div(t->v.ix,all,tc__ix_const(rows)));
if(rows>1)
y=tc__relist_for(l,(tc__axis)TC__ROWS_Y,TC__BIND_BLOCK,tc__ix_const(rows));
t->x=tc__ix_const(0);
if(sharing>1)
t->x=tc__relist_for(l,(tc__axis)TC__ROWS_X,
sharing>32?TC__BIND_BLOCK:TC__BIND_LANE,
tc__ix_const(sharing));
if(rows>1)tc__rows_place(t,i,y);
tc__rows_body(t);
if(sharing>1)tc__relist_end(l,TC__ROWS_X);
if(rows>1)tc__relist_end(l,TC__ROWS_Y);
tc__relist_end(l,rows>1?(int64_t)TC__ROWS_I:(int64_t)TC__ROW);
}
static int tc__rows_resident(const tc__rower*t){
const tc__device_plan*q=&t->q;
int64_t bytes=q->hold==TC__DEVICE_SHARED&&!q->cluster
?tc__device_kept_bytes(t->v.l.from,q)+TC__ROWS_STATIC
:0;
return q->threads==TC__DEVICE_LONG_THREADS&&bytes&&2*bytes<=TC__ROWS_SHARED
?2
:0;
}
static void tc__rows_whole_launch(tc__rower*t){
tc__relist_launch(&t->v.l,t->q.threads,t->q.narrow,tc__rows_resident(t),
t->q.cluster);
if(t->q.cluster){
tc__rows_open_parts(t);
t->by_part=1;
tc__rows_body(t);
tc__rows_close_parts(t);
}else{
tc__rows_loops(t);
}
tc__relist_end(&t->v.l,TC__END_BLOCK);
}
static void tc__rows_in_parts(tc__rower*t,tc_ctx*c){
size_t nodes=t->v.l.from->body.node.count,buffers=t->v.l.from->buffer.count;
uint8_t*need=TC__NEW_ARRAY(c,uint8_t,nodes);
t->v.l.base=t->q.kept?TC__NEW_ARRAY(c,tc__ix,buffers):NULL;
if(need&&(t->v.l.base||!t->q.kept))
tc__rows_cut(t,need);
else
t->v.l.failed=1;
tc__free(c,need,nodes);
tc__free(c,t->v.l.base,t->q.kept?buffers*sizeof*t->v.l.base:0);
t->v.l.base=NULL;
}
static void tc__rows_init(tc__rower*t,const tc__device_plan*q){
memset(t,0,sizeof*t);
t->q=*q,t->s=t->x=t->z=tc__ix_const(0);
t->v.open=tc__rows_open,t->v.apart=1,t->v.lanes_early=q->lanes_early;
t->v.late=q->late,t->v.led=q->led;
t->v.width=q->width,t->v.count=q->vectors;
t->v.again=q->hold==TC__DEVICE_REGISTERS;
}
static void tc__rows_begin(tc__rower*t){
t->across=tc__ix_div(t->v.ix,t->v.l.from->shape.cols,tc__ix_const(t->q.width));
tc__rows_place_rows(t);
tc__rows_place_loads(t);
}
static tc__group*tc__lower_rows(tc_ctx*c,const tc__group*g,const tc__device_plan*q){
tc__rower t;
tc__rows_init(&t,q);
if(tc__vectors_open(&t.v,c,g)){
tc__rows_begin(&t);
if(q->launches>1||(q->parts>1&&!q->cluster))
tc__rows_in_parts(&t,c);
else
tc__rows_whole_launch(&t);
}
return tc__vectors_done(&t.v,c);
}
// ---- gen/device/rows_make.c
static void tc__rows_early(tc__rower*t){
tc__vectors*v=&t->v;
const tc__group*g=v->l.from;
int64_t words=0;
memset(v->phase,0,g->body.node.count);
for(uint32_t id=0;id<v->end;id++){
const tc__node*n=g->body.node.at[id];
v->phase[id]=v->ahead[id]==TC__HOLD_FIRST||
(!v->ahead[id]&&tc__vector_hold_of(v,n)==TC__HOLD_FIRST);
if(v->phase[id])words+=tc__device_words(g,&t->q,n);
}
t->early=words>0&&words*v->count<=TC__DEVICE_WARP_HELD;
if(!t->early)return;
for(uint32_t id=0;id<v->end;id++)
if(v->phase[id]&&!v->ahead[id])
tc__vector_hold_in(v,g->body.node.at[id],TC__HOLD_FIRST);
tc__vectors_copy(v);
tc__vectors_ahead(v,TC__HOLD_FIRST);
for(uint32_t id=0;id<v->end;id++)
if(v->ahead[id]==TC__HOLD_FIRST)v->ahead[id]=TC__HOLD_BEFORE;
}
static void tc__rows_make(tc__relist*l,tc_ctx*c,const tc__group*rows,
const tc__device_plan*q,tc__ix x,tc__ix i,tc__ix made,
tc__ix room,tc__ix owner){
const tc__group*from=l->from;
tc__rower t;
tc__rows_init(&t,q);
t.v.l=*l,t.v.l.from=rows,t.x=x;
if(tc__vectors_begin(&t.v,c)){
int opened=tc__relist_if(&t.v.l,i,room,0,0);
tc__relist_bind(&t.v.l,TC__ROWS_I,i,room);
t.v.owner=owner,t.v.own=i,t.v.owned=made,t.v.again=1;
tc__rows_begin(&t);
if(q->hold==TC__DEVICE_REGISTERS)tc__rows_early(&t);
tc__rows_body(&t);
tc__relist_end_if(&t.v.l,opened);
}
tc__vectors_end(&t.v,c);
*l=t.v.l,l->from=from;
}
// ---- gen/device/columns.c
enum{
TC__COLUMNS_I=TC__VAR0+1,
TC__COLUMNS_Y=TC__VAR0+2,
TC__COLUMNS_X=TC__VAR0+3,
TC__COLUMNS_P=TC__VAR0+7,
TC__COLUMNS_Q=TC__VAR0+8,
TC__COLUMNS_M=TC__VAR0+9,
TC__COLUMNS_N=TC__VAR0+10,
TC__COLUMNS_Z=TC__VAR0+11,
TC__COLUMNS_AT_ONCE=64
};
typedef struct tc__columner{
tc__vectors v;
tc__device_plan q;
tc__ix i,z,y,x;
tc__ix p;
tc__ix row;
int64_t rows;
uint32_t*group;
uint8_t*kept;
int spreads;
int64_t sums;
}tc__columner;
static int tc__columns_below(const tc__columner*t){return t->q.threads/t->q.sharing;}
static int64_t tc__columns_across(const tc__columner*t){
return(int64_t)t->q.sharing*t->q.width;
}
static int tc__columns_few(const tc__columner*t){
return t->q.width>tc__columns_below(t)?t->q.width/tc__columns_below(t):1;
}
static tc__ix tc__columns_thread(const tc__columner*t){
return tc__vector_ix(&t->v,t->q.sharing,t->y,t->x);
}
static void tc__columns_deal(tc__columner*t,int spread){
tc__vectors*v=&t->v;
tc__ix first=tc__ix_mul(v->ix,tc__ix_const(tc__columns_across(t)),t->i);
v->width=spread?tc__columns_few(t):t->q.width;
v->spread=spread?t->sums:0;
t->row=tc__vector_ix(v,v->width,spread?tc__columns_thread(t):t->x,first);
}
static int tc__columns_if(tc__columner*t,int first){
tc__ix one=tc__ix_const(1);
int64_t few=tc__columns_across(t)/t->v.width;
if(t->v.spread&&few<t->q.threads)
return tc__relist_if(&t->v.l,tc__columns_thread(t),tc__ix_const(few),t->row,
t->v.l.from->shape.rows);
first=first&&!t->v.spread&&tc__columns_below(t)>1;
return first?tc__relist_if(&t->v.l,t->y,one,t->row,t->v.l.from->shape.rows)
:tc__relist_if(&t->v.l,t->row,t->v.l.from->shape.rows,0,0);
}
static int tc__columns_if_rows(tc__columner*t,int first){
return tc__columns_if(t,first)||(t->v.width==1&&tc__relist_do(&t->v.l));
}
static tc__ix tc__columns_extent(const tc__columner*t){
return t->q.parts>1?t->q.chunk:t->v.l.from->shape.cols;
}
static tc__ix tc__columns_open(tc__vectors*v){
tc__columner*t=(tc__columner*)(void*)v;
tc__ix cols=v->l.from->shape.cols;
tc__ix at=tc__vector_ix(v,v->count,t->p,v->u);
tc__ix own=tc__vector_ix(v,tc__columns_below(t),at,t->y),c=own;
int64_t chunk=t->q.parts>1?tc__ix_value(t->q.chunk):0;
if(chunk)c=tc__vector_ix(v,chunk,t->z,own);
v->opened=!chunk?tc__relist_if(&v->l,c,cols,0,0)
:chunk*t->q.parts==tc__ix_value(cols)
?tc__relist_if(&v->l,own,t->q.chunk,0,0)
:tc__relist_if(&v->l,c,cols,own,t->q.chunk);
tc__relist_axis(&v->l,TC__COL,c);
return t->row;
}
static void tc__columns_even(tc__columner*t){
tc__ix extent=tc__columns_extent(t);
int64_t below=tc__columns_below(t);
if(!tc__ix_is_const(extent)||tc__ix_value(extent)<1)return;
int64_t each=(tc__ix_value(extent)+below-1)/below;
int64_t turns=(each+t->v.count-1)/t->v.count;
t->v.count=(int)((each+turns-1)/turns);
}
static void tc__columns_loop(tc__columner*t,uint32_t begin,uint32_t end){
tc__vectors*v=&t->v;
int count=v->count,opened=tc__columns_if(t,0);
v->begin=begin,v->end=end;
if(v->l.from->target.checked||!tc__vectors_are_deep(v))v->count=1;
tc__columns_even(t);
t->p=tc__relist_for(
&v->l,(tc__axis)TC__COLUMNS_P,TC__BIND_SERIAL,
tc__ix_ceil_div(v->ix,tc__columns_extent(t),
tc__ix_const((int64_t)tc__columns_below(t)*v->count)));
tc__vectors_put(v);
tc__relist_end(&v->l,TC__COLUMNS_P);
tc__relist_end_if(&v->l,opened);
t->p=tc__ix_const(0),v->count=count;
for(uint32_t id=0;id<end;id++)
if(v->ahead[id]!=TC__HOLD_ROWS)v->ahead[id]=TC__HOLD_NOT;
}
static void tc__columns_move(tc__columner*t,const tc__sums*s,tc__op op,tc__ix at){
tc__vectors*v=&t->v;
tc__ix lane=tc__vector_lanes(v,v->width);
tc__sums_move(&v->l,s,op,tc__ix_add(v->ix,at,lane));
tc__vector_lanes_end(v,v->width);
}
static void tc__columns_share(tc__columner*t,tc__sums*s){
tc__vectors*v=&t->v;
int below=tc__columns_below(t),opened=0;
int64_t across=tc__columns_across(t);
tc__ix at=tc__vector_ix(v,v->width,t->x,tc__ix_const(0));
if(below==1)return;
tc__sums_in(&v->l,s,TC__BUF_SHARED,tc__ix_const(below*across));
tc__columns_move(t,s,TC_OP_PUT,tc__vector_ix(v,across,t->y,at));
tc__relist_barrier(&v->l,0);
if(t->spreads)tc__columns_deal(t,1);
s->behind=v->spread;
tc__sums_new(&v->l,s,v->width);
if(v->spread){
opened=tc__columns_if(t,0);
at=tc__vector_ix(v,v->width,tc__columns_thread(t),tc__ix_const(0));
}
tc__ix n=tc__relist_for(&v->l,(tc__axis)TC__COLUMNS_N,TC__BIND_UNROLL,
tc__ix_const(below));
tc__columns_move(t,s,TC_OP_GET,tc__vector_ix(v,across,n,at));
tc__relist_end(&v->l,TC__COLUMNS_N);
tc__relist_end_if(&v->l,opened);
}
static void tc__columns_parts(tc__columner*t,tc__sums*s,int below,tc__ix first){
tc__vectors*v=&t->v;
tc__relist*l=&v->l;
tc__ix parts=tc__ix_const(t->q.parts);
tc__ix turns=tc__ix_ceil_div(v->ix,parts,tc__ix_const(below));
tc__bind bind=below==1?TC__BIND_UNROLL:TC__BIND_SERIAL;
tc__ix q=tc__relist_for(l,(tc__axis)TC__COLUMNS_Q,bind,turns);
tc__ix part=tc__vector_ix(v,below,q,first);
int opened=tc__relist_if(l,part,parts,0,0);
part=tc__relist_bind(l,TC__COLUMNS_M,part,parts);
tc__columns_move(t,s,TC_OP_GET,tc__vector_ix(v,t->rows,part,t->row));
tc__relist_end_if(l,opened);
tc__relist_end(l,TC__COLUMNS_Q);
}
static void tc__columns_meet(tc__columner*t,tc__sums*s){
tc__vectors*v=&t->v;
tc__relist*l=&v->l;
int64_t blocks=t->rows/tc__columns_across(t);
int64_t ticket=tc__relist_buffer(l,TC__BUF_TICKET,TC_I32,blocks);
tc__sums_in(l,s,TC__BUF_WORK,tc__ix_const(t->rows*t->q.parts));
int opened=tc__columns_if(t,1);
tc__columns_move(t,s,TC_OP_PUT,tc__vector_ix(v,t->rows,t->z,t->row));
tc__relist_end_if(l,opened);
tc__relist_last(l,ticket,t->i,t->q.parts);
if(v->spread&&t->q.parts<=TC__COLUMNS_AT_ONCE){
tc__sums_new(l,s,v->width);
opened=tc__columns_if(t,0);
tc__columns_parts(t,s,1,tc__ix_const(0));
tc__relist_end_if(l,opened);
return;
}
if(v->spread)tc__columns_deal(t,0),s->behind=0;
tc__sums_new(l,s,v->width);
tc__columns_parts(t,s,tc__columns_below(t),t->y);
tc__columns_share(t,s);
}
static void tc__columns_sums(tc__columner*t,uint32_t begin,uint32_t end){
tc__sums s;
s.count=0,s.behind=0;
for(uint32_t id=begin;id<end;id++)
if(t->v.l.from->body.node.at[id]->op==TC_OP_COMBINE)
s.combine[s.count++]=t->v.l.from->body.node.at[id];
if(!s.count)return;
tc__columns_share(t,&s);
if(t->q.parts>1)tc__columns_meet(t,&s);
}
static void tc__columns_mark_kept(void*user,uint32_t id){
tc__columner*t=(tc__columner*)user;
const tc__node*m=t->v.l.from->body.node.at[id];
if(m->level!=TC__AT_ROW||tc__relist_is_given(&t->v.l,id))return;
if(t->group[id]!=t->group[t->v.begin])t->kept[id]=1;
}
static void tc__columns_find_kept(tc__columner*t){
const tc__group*g=t->v.l.from;
uint32_t group=0,loop=0;
for(uint32_t id=0;id<g->body.node.count;id++){
const tc__node*n=g->body.node.at[id];
int columns=n->op==TC_OP_FOR&&n->attr[TC__FOR_AXIS]==TC__COL;
if(columns)loop=tc__loop_end(g,id),group++;
t->group[id]=group;
group+=id==loop&&loop;
t->v.begin=id;
for(uint32_t k=0;k<n->n_in;k++)tc__columns_mark_kept(t,n->in[k]);
for(uint32_t k=0;k<n->n_attr;k++)
if(tc__attr_is_ix(n,k))
tc__ix_each_val(t->v.ix,n->attr[k],tc__columns_mark_kept,t);
}
}
static void tc__columns_find_spread(tc__columner*t){
const tc__group*g=t->v.l.from;
t->sums=tc__count_op(g,TC_OP_NEW);
t->spreads=tc__device_loops(g)==1&&tc__columns_below(t)>1&&
2*t->sums<=TC__PRINT_ACCS;
for(uint32_t id=0;id<g->body.node.count;id++)
if(t->kept[id]||
(tc__device_is_memory(g->body.node.at[id])&&
tc__device_is_row(g,g->body.node.at[id]->attr[TC__ACCESS_BUFFER])))
t->spreads=0;
}
static void tc__columns_keep(tc__columner*t,uint32_t begin,uint32_t end){
tc__vectors*v=&t->v;
const tc__group*g=v->l.from;
int some=0;
memset(v->need,0,g->body.node.count);
for(uint32_t id=begin;id<end;id++){
const tc__node*n=g->body.node.at[id];
v->need[id]=t->kept[id]||n->op==TC_OP_CHECK;
some|=v->need[id];
if(!t->kept[id])continue;
v->ahead[id]=TC__HOLD_FIRST;
v->held[id]=tc__relist_buffer(&v->l,TC__BUF_REGISTER,n->dtype,v->width);
}
if(!some)return;
int opened=tc__columns_if_rows(t,0);
v->end=end,v->apart=0;
tc__vectors_close(v,TC__HOLD_FIRST);
tc__vector_nodes(v,g,v->need,t->row,v->width,TC__HOLD_FIRST);
v->apart=1;
tc__relist_end_if(&v->l,opened);
for(uint32_t id=begin;id<end;id++)
if(t->kept[id])v->ahead[id]=TC__HOLD_ROWS;
}
static void tc__columns_store(tc__columner*t,uint32_t begin,uint32_t end){
tc__vectors*v=&t->v;
const tc__group*g=v->l.from;
int some=0;
memset(v->need,0,g->body.node.count);
for(uint32_t id=begin;id<end;id++)
some|=v->need[id]=g->body.node.at[id]->op==TC_OP_STORE;
if(!some)return;
int opened=tc__columns_if_rows(t,1);
v->end=end,v->apart=0;
tc__vectors_close(v,TC__HOLD_NOT);
tc__vector_nodes(v,g,v->need,t->row,v->width,TC__HOLD_NOT);
v->apart=1;
tc__relist_end_if(&v->l,opened);
}
static void tc__columns_rows(tc__columner*t,uint32_t begin,uint32_t end){
const tc__group*g=t->v.l.from;
t->v.u=tc__ix_const(0);
tc__columns_sums(t,begin,end);
tc__columns_keep(t,begin,end);
tc__columns_store(t,begin,end);
for(uint32_t id=begin;id<end;id++){
tc__node m=*g->body.node.at[id];
int64_t attr[3];
if(m.op!=TC_OP_NEW)continue;
memcpy(attr,m.attr,TC__NEW_WIDTH*sizeof*attr);
attr[TC__NEW_WIDTH]=t->v.width;
m.attr=attr,m.n_attr=3;
tc__relist_copy(&t->v.l,&m);
}
}
static void tc__columns_body(tc__columner*t){
const tc__group*g=t->v.l.from;
uint32_t count=(uint32_t)g->body.node.count,begin=0;
for(uint32_t id=0;id<count;id++){
const tc__node*n=g->body.node.at[id];
if(n->op!=TC_OP_FOR||n->attr[TC__FOR_AXIS]!=TC__COL)continue;
uint32_t end=tc__loop_end(g,id);
tc__columns_rows(t,begin,id);
tc__columns_loop(t,id+1,end);
id=end,begin=end+1;
}
tc__columns_rows(t,begin,count);
}
static void tc__columns_loops(tc__columner*t){
tc__vectors*v=&t->v;
tc__relist*l=&v->l;
int below=tc__columns_below(t),parts=t->q.parts;
tc__ix across=tc__ix_const(tc__columns_across(t));
tc__ix blocks=tc__ix_ceil_div(v->ix,l->from->shape.rows,across);
t->rows=parts>1?tc__ix_value(blocks)*tc__ix_value(across):0;
t->i=tc__relist_for(l,(tc__axis)TC__COLUMNS_I,TC__BIND_GRID,blocks);
t->z=t->y=t->p=tc__ix_const(0);
if(parts>1)
t->z=
tc__relist_for(l,(tc__axis)TC__COLUMNS_Z,TC__BIND_GRID,tc__ix_const(parts));
if(below>1)
t->y=
tc__relist_for(l,(tc__axis)TC__COLUMNS_Y,TC__BIND_BLOCK,tc__ix_const(below));
t->x=tc__relist_for(l,(tc__axis)TC__COLUMNS_X,TC__BIND_BLOCK,
tc__ix_const(t->q.sharing));
tc__columns_deal(t,0);
tc__columns_body(t);
tc__relist_end(l,TC__COLUMNS_X);
if(below>1)tc__relist_end(l,TC__COLUMNS_Y);
if(parts>1)tc__relist_end(l,TC__COLUMNS_Z);
tc__relist_end(l,TC__COLUMNS_I);
}
static void tc__columns_place_rows(tc__columner*t){
const tc__group*g=t->v.l.from;
for(size_t b=0;b<g->buffer.count;b++){
if(!tc__device_is_row(g,(int64_t)b))continue;
if(tc__device_is_again(g,(int64_t)b))
t->v.row[b]=TC__ROW_AGAIN;
else if(t->v.l.to)
t->v.l.to->buffer.at[b].place=TC__BUF_LOCAL;
}
}
static tc__group*tc__lower_columns(tc_ctx*c,const tc__group*g,
const tc__device_plan*q){
tc__columner t;
size_t n=g->body.node.count?g->body.node.count:1;
memset(&t,0,sizeof t);
t.q=*q,t.v.open=tc__columns_open,t.v.apart=t.v.by_rows=1;
t.v.width=q->width,t.v.count=q->vectors,t.v.lanes_early=q->lanes_early;
t.group=TC__NEW_ARRAY(c,uint32_t,n),t.kept=TC__NEW_ARRAY(c,uint8_t,n);
if(tc__vectors_open(&t.v,c,g)&&t.group&&t.kept){
tc__columns_find_kept(&t);
tc__columns_find_spread(&t);
tc__columns_place_rows(&t);
tc__relist_launch(&t.v.l,q->threads,q->narrow,0,0);
tc__columns_loops(&t);
tc__relist_end(&t.v.l,TC__END_BLOCK);
}else{
t.v.l.failed=1;
}
tc__free(c,t.group,n*sizeof*t.group),tc__free(c,t.kept,n);
return tc__vectors_done(&t.v,c);
}
// ---- gen/device/down_plan.c
enum{
TC__DOWN_SMS=132,
TC__DOWN_THREADS=512,
TC__DOWN_WARPED=256,
TC__DOWN_ELEMENTS=16,
TC__DOWN_ALONE=
3,
TC__DOWN_REGISTERS=48,
TC__DOWN_FULL=768,
TC__DOWN_HALF=512,
TC__DOWN_KEPT=184,
TC__DOWN_BESIDE=60,
TC__DOWN_SUMS=8,
TC__DOWN_BANKS=128,
TC__DOWN_ASKED=8,
TC__DOWN_VALUES=4
};
typedef struct tc__down_plan{
tc__device_plan q;
int blocks,resident;
int ahead;
int kept;
}tc__down_plan;
static tc__group tc__down_part(const tc__group*g){
tc__group rows=*g;
rows.body.node.count=tc__down_begin(g);
return rows;
}
static int64_t tc__down_count(const tc__group*g){
int64_t n=0;
while(g->body.node.at[n]->op==TC_OP_NEW)n++;
return n;
}
static void tc__down_deal_row(tc__device_plan*q,int64_t columns,int vectors){
int64_t accesses=columns/q->width;
int64_t threads=tc__padded((accesses-1)/vectors+1,32);
q->vectors=(int)((accesses-1)/threads+1);
q->sharing=(int)threads;
q->threads=threads>32?(int)threads:TC__DOWN_WARPED;
}
static int64_t tc__down_dear_bytes(const tc__group*rows){
int64_t bytes=0;
for(size_t b=0;b<rows->buffer.count;b++)
if(tc__device_is_own_row(rows,(int64_t)b)&&
!tc__device_is_cheap(rows,(int64_t)b))
bytes+=tc__device_value_bytes(rows->buffer.at[b].dtype);
return bytes;
}
static int64_t tc__down_element(const tc__group*rows,const tc__device_plan*q){
return tc__device_held(rows,q,0)+tc__down_dear_bytes(rows);
}
static int tc__down_is_single(const tc__group*g,const tc__device_plan*q,
const tc__node*n){
return tc__device_may_be_early(g,q,n)&&n->n_attr==TC__LOAD_PREDICATES&&
tc__device_first_load(g,n)<0;
}
static int tc__down_asks(const tc__group*g,const tc__down_plan*p,uint32_t*asked){
const tc__device_plan*q=&p->q;
int count=0;
for(uint32_t id=0;id<g->body.node.count&&count<TC__DOWN_ASKED;id++){
const tc__node*n=g->body.node.at[id];
if((tc__device_held_load(g,q,n)==(int64_t)id||
(p->kept&&tc__down_is_single(g,q,n)))&&
tc__ix_uses(g->body.ix,n->attr[TC__LOAD_INDEX],TC__ROW)&&
tc__device_is_wide(g,n,q->width,TC__COL))
asked[count++]=id;
}
return count;
}
static int tc__down_asks_values(const tc__group*g,uint32_t*asked){
int count=0;
for(uint32_t id=0;id<g->body.node.count&&count<TC__DOWN_VALUES;id++){
const tc__node*n=g->body.node.at[id];
if(n->op!=TC_OP_LOAD||n->level!=TC__AT_ROW||
n->n_attr>TC__LOAD_PREDICATES||!tc__is_memory(tc__buffer_of(g,n))||
tc__buffer_of(g,n)->written||tc__device_bytes(g,n)<4)
continue;
if(tc__ix_uses(g->body.ix,n->attr[TC__LOAD_INDEX],TC__ROW)&&
!tc__ix_has_val(g->body.ix,n->attr[TC__LOAD_INDEX]))
asked[count++]=id;
}
return count;
}
static int64_t tc__down_next_bytes(const tc__group*rows,const tc__down_plan*p){
const tc__device_plan*q=&p->q;
uint32_t asked[TC__DOWN_ASKED];
int64_t bytes=0;
for(int k=tc__down_asks(rows,p,asked);k-- >0;){
int64_t each=tc__device_bytes(rows,rows->body.node.at[asked[k]]);
if(each*q->width<4||(each*q->width>16&&each*q->width%16))return 0;
bytes+=each;
}
return bytes;
}
static int64_t tc__down_gap_from(int64_t width,int64_t bytes){
return width*bytes>TC__DEVICE_ACCESS?TC__DOWN_BANKS/(width*bytes):0;
}
static tc__ix tc__down_own_at(const tc__vectors*v,int64_t bytes,tc__ix thread,
tc__ix lane){
int64_t gap=TC__DEVICE_ACCESS/bytes,every=tc__down_gap_from(v->width,bytes);
tc__ix at=tc__vector_ix(v,v->width,thread,lane);
if(!every)return at;
tc__ix line=tc__ix_div(v->ix,thread,tc__ix_const(every));
return tc__ix_add(v->ix,at,tc__ix_mul(v->ix,line,tc__ix_const(gap)));
}
static int64_t tc__down_own_numel(const tc__device_plan*q,int64_t bytes){
int64_t every=tc__down_gap_from(q->width,bytes),n=(int64_t)q->threads*q->width;
return every?n+(q->threads-1)/every*(TC__DEVICE_ACCESS/bytes):n;
}
static int tc__down_resident(const tc__down_plan*p,int full,int64_t shared){
int64_t n=(full?TC__DOWN_FULL:TC__DOWN_HALF)/p->q.threads;
if(p->kept){
int64_t words=tc__padded(p->kept+TC__DOWN_BESIDE,8);
n=TC__DEVICE_WORDS/(p->q.threads*words);
if(n>TC__DOWN_FULL/p->q.threads)n=TC__DOWN_FULL/p->q.threads;
}
if(n>TC__DEVICE_ROW_BYTES/shared)n=TC__DEVICE_ROW_BYTES/shared;
return n<1?1:(int)n;
}
static int64_t tc__down_shared(const tc__group*g,const tc__device_plan*q){
int64_t bytes=0;
for(int64_t i=0;i<tc__down_count(g);i++){
int64_t each=tc__device_value_bytes(g->body.node.at[i]->dtype);
bytes+=each*(q->vectors*tc__down_own_numel(q,each)+q->threads);
}
return bytes;
}
static int tc__down_deal(const tc__group*rows,tc__down_plan*p,int full){
int64_t each=p->q.threads/p->q.sharing,blocks;
int64_t elements=(int64_t)p->q.threads*p->q.vectors*p->q.width;
int64_t shared=tc__down_shared(rows,&p->q);
int64_t room=TC__DEVICE_ROW_BYTES;
if(rows->target.room&&room>(int64_t)rows->target.room)room=rows->target.room;
int64_t next=elements*tc__down_next_bytes(rows,p);
if(p->kept)next+=8*TC__DOWN_VALUES*p->q.threads;
p->resident=tc__down_resident(p,full,shared);
p->ahead=next&&shared+next<=room&&
(p->q.sharing>32||p->kept||
tc__down_resident(p,full,shared+next)==p->resident);
if(p->ahead)shared+=next,p->resident=tc__down_resident(p,full,shared);
blocks=(tc__ix_hi(rows->body.ix,rows->shape.rows)-1)/each+1;
if(blocks>TC__DOWN_SMS*p->resident)blocks=TC__DOWN_SMS*p->resident;
p->blocks=blocks<1?1:(int)blocks;
return shared<=room;
}
static void tc__down_choose_width(const tc__group*rows,tc__device_plan*q,
int64_t columns,int widest){
q->width=tc__device_width(rows,TC__COL);
if(widest&&q->width>TC__DEVICE_ACCESS/widest)
q->width=TC__DEVICE_ACCESS/widest;
while(columns%q->width||(q->width>1&&columns/q->width<32))q->width/=2;
tc__device_choose_lanes_early(rows,q);
}
static int tc__down_accumulates(const tc__group*g,const tc__device_plan*q){
return tc__count_op(g,TC_OP_NEW)+tc__down_count(g)*(q->vectors+1)<=
TC__PRINT_ACCS;
}
static int64_t tc__down_kept_element(const tc__group*rows){
int64_t bytes=tc__down_dear_bytes(rows);
for(size_t i=0;i<rows->body.node.count;i++){
const tc__node*n=rows->body.node.at[i];
int again=tc__device_first_load(rows,n)>=0&&
tc__device_first_load(rows,n)!=(int64_t)i;
if(n->op==TC_OP_LOAD&&n->level==TC__AT_COL&&!again&&
!tc__device_is_row(rows,n->attr[TC__LOAD_BUFFER]))
bytes+=tc__device_bytes(rows,n);
}
for(int64_t i=0;i<tc__down_count(rows);i++)
bytes+=tc__device_value_bytes(rows->body.node.at[i]->dtype);
return bytes;
}
static int tc__down_plan_kept(const tc__group*g,const tc__group*rows,tc__down_plan*p,
int64_t columns){
tc__device_plan*q=&p->q;
int widest=1;
for(size_t i=0;i<rows->body.node.count;i++){
const tc__node*n=rows->body.node.at[i];
if(tc__device_is_memory(n)&&n->level==TC__AT_COL&&
(int)tc__device_bytes(rows,n)>widest)
widest=(int)tc__device_bytes(rows,n);
}
tc__down_choose_width(rows,q,columns,widest);
tc__down_deal_row(q,columns,(int)((columns/q->width-1)/32+1));
p->kept=(int)(q->vectors*q->width*tc__down_kept_element(rows)/4);
return q->sharing==32&&p->kept>0&&p->kept<=TC__DOWN_KEPT&&
tc__down_accumulates(g,q)&&tc__down_next_bytes(rows,p)&&
tc__down_deal(rows,p,0)&&p->ahead;
}
static int tc__down_plan_shared(const tc__group*g,const tc__group*rows,tc__down_plan*p,
int64_t columns){
tc__device_plan*q=&p->q;
tc__down_choose_width(rows,q,columns,0);
int64_t bytes=tc__down_element(rows,q);
int vectors=TC__DOWN_ELEMENTS/q->width;
while(vectors>1&&vectors*q->width*bytes>4*TC__DOWN_REGISTERS)vectors/=2;
int alone=(int)((columns/q->width-1)/32+
1);
if(alone<=TC__DOWN_ALONE&&alone*q->width*bytes<=8*TC__DOWN_REGISTERS&&
alone>vectors)
vectors=alone;
tc__down_deal_row(q,columns,vectors<1?1:vectors);
int64_t registers=q->vectors*q->width*bytes/4;
p->kept=0;
return registers<=2*TC__DOWN_REGISTERS&&q->sharing<=TC__DOWN_THREADS&&
tc__down_accumulates(g,q)&&
tc__down_deal(rows,p,registers<=TC__DOWN_REGISTERS);
}
static int tc__down_plan_of(const tc__group*g,tc__down_plan*p){
tc__group rows=tc__down_part(g);
tc__device_plan*q=&p->q;
memset(p,0,sizeof*p);
if(!tc__ix_is_const(g->shape.cols)||tc__ix_value(g->shape.cols)<1)return 0;
if(tc__ix_hi(g->body.ix,g->shape.rows)<1||tc__device_has_shared_row(&rows))
return 0;
if(tc__down_count(g)>TC__DOWN_SUMS)return 0;
int64_t columns=tc__ix_value(g->shape.cols);
q->form=TC__DEVICE_ROWS,q->axis=TC__COL,q->hold=TC__DEVICE_REGISTERS;
q->parts=q->launches=1,q->narrow=tc__device_is_narrow(g);
return tc__down_plan_kept(g,&rows,p,columns)||
tc__down_plan_shared(g,&rows,p,columns);
}
static int tc__device_takes_down(const tc__group*g){
tc__down_plan p;
if(g->shape.kind==TC__CONTRACTION)return tc__product_takes_total(g);
return tc__down_plan_of(g,&p);
}
// ---- gen/device/down.c
enum{
TC__DOWN_J=TC__VAR0,
TC__DOWN_P=TC__VAR0+7,
TC__DOWN_N=TC__VAR0+10,
TC__DOWN_LANES=8,
TC__DOWN_BATCH=12
};
typedef struct tc__downer{
tc__rower r;
const tc__group*all;
tc__down_plan plan;
tc__ix i,y,x;
int64_t u;
int64_t own;
int64_t sums,accumulators;
const tc__node*combine[TC__DOWN_SUMS];
int64_t ticket,work[TC__DOWN_SUMS],meeting[TC__DOWN_SUMS];
uint32_t asked[TC__DOWN_ASKED];
int64_t next[TC__DOWN_ASKED];
int n_asked;
uint32_t value[TC__DOWN_VALUES];
int64_t next_value[TC__DOWN_VALUES],held_value[TC__DOWN_VALUES];
int n_values;
}tc__downer;
static int64_t tc__down_number(const tc__downer*d,int64_t k,int64_t u){
return d->accumulators+k*(d->plan.q.vectors+1)+u;
}
static int tc__down_dtype(const tc__downer*d,int64_t k){
return tc__sums_dtype(&d->r.v.l,d->combine[k]);
}
static void tc__down_new(tc__downer*d,int64_t k,int64_t u,int width){
int64_t attr[3];
attr[TC__NEW_ACCUMULATOR]=tc__down_number(d,k,u);
attr[TC__NEW_MONOID]=d->combine[k]->attr[TC__COMBINE_MONOID];
attr[TC__NEW_WIDTH]=width;
tc__relist_put(&d->r.v.l,TC_OP_NEW,tc__down_dtype(d,k),attr,3);
}
static void tc__down_move(tc__downer*d,tc__op op,int64_t k,int64_t u,int64_t buffer,
tc__ix e){
int64_t attr[4];
attr[TC__PUT_BUFFER]=buffer,attr[TC__PUT_INDEX]=e;
attr[TC__PUT_ACCUMULATOR]=tc__down_number(d,k,u);
attr[TC__PUT_MONOID]=d->combine[k]->attr[TC__COMBINE_MONOID];
tc__relist_put(&d->r.v.l,op,TC_I64,attr,4);
}
static void tc__down_new_all(tc__downer*d){
for(int64_t k=0;k<d->sums;k++)
for(int u=0;u<d->plan.q.vectors;u++)tc__down_new(d,k,u,d->plan.q.width);
}
static void tc__down_buffers(tc__downer*d,int64_t*buffer,tc__place place,
int64_t numel){
for(int64_t k=0;k<d->sums;k++)
buffer[k]=tc__relist_buffer(&d->r.v.l,place,tc__down_dtype(d,k),numel);
}
static void tc__down_put_part(tc__downer*d){
tc__vectors*v=&d->r.v;
int64_t columns=tc__ix_value(v->l.from->shape.cols);
for(int u=0;u<d->plan.q.vectors;u++){
v->u=tc__ix_const(u);
tc__ix column=tc__rows_open(v);
tc__ix at=tc__ix_add(v->ix,column,tc__vector_lanes(v,v->width));
at=tc__vector_ix(v,columns,d->i,at);
for(int64_t k=0;k<d->sums;k++)
tc__down_move(d,TC_OP_PUT,k,u,d->work[k],at);
tc__vector_lanes_end(v,v->width);
tc__relist_end_if(&v->l,v->opened);
}
}
static tc__ix tc__down_thread(const tc__downer*d){
return tc__vector_ix(&d->r.v,d->plan.q.sharing,d->y,d->x);
}
static int64_t tc__down_slot(const tc__downer*d,int64_t k,int64_t u){
return d->own+k*d->plan.q.vectors+u;
}
static void tc__down_move_own(tc__downer*d,tc__op op){
tc__vectors*v=&d->r.v;
for(int64_t k=0;k<d->sums;k++)
for(int u=0;u<d->plan.q.vectors;u++){
tc__ix lane=tc__vector_lanes(v,v->width);
int64_t bytes=tc__dtypes[tc__down_dtype(d,k)].bytes;
tc__down_move(d,op,k,u,tc__down_slot(d,k,u),
tc__down_own_at(v,bytes,tc__down_thread(d),lane));
tc__vector_lanes_end(v,v->width);
}
}
static void tc__down_open(tc__downer*d){
tc__relist*l=&d->r.v.l;
d->own=(int64_t)l->to->buffer.count;
for(int64_t k=0;k<d->sums;k++)
for(int u=0;u<d->plan.q.vectors;u++)
tc__relist_buffer(
l,TC__BUF_SHARED,tc__down_dtype(d,k),
tc__down_own_numel(&d->plan.q,tc__dtypes[tc__down_dtype(d,k)].bytes));
tc__down_new_all(d);
if(!d->plan.kept)tc__down_move_own(d,TC_OP_PUT);
}
static int tc__down_few(const tc__downer*d){
int each=d->plan.q.threads/d->plan.q.sharing;
return d->r.v.width>each?d->r.v.width/each:1;
}
static tc__ix tc__down_collected(const tc__downer*d,int64_t k,tc__ix n,tc__ix lane){
const tc__vectors*v=&d->r.v;
int few=tc__down_few(d);
tc__ix lanes=tc__ix_const(v->width/few),thread=tc__down_thread(d);
tc__ix owner=tc__vector_ix(v,32,n,tc__ix_div(v->ix,thread,lanes));
tc__ix first=tc__ix_mod(v->ix,thread,lanes);
return tc__down_own_at(v,tc__dtypes[tc__down_dtype(d,k)].bytes,owner,
tc__vector_ix(v,few,first,lane));
}
static void tc__down_collect_sums(tc__downer*d){
tc__vectors*v=&d->r.v;
int few=tc__down_few(d);
tc__ix n=tc__relist_for(&v->l,(tc__axis)TC__DOWN_N,TC__BIND_UNROLL,
tc__ix_const(d->plan.q.threads/d->plan.q.sharing));
for(int64_t k=0;k<d->sums;k++)
for(int u=0;u<d->plan.q.vectors;u++){
tc__ix lane=tc__vector_lanes(v,few);
tc__down_move(d,TC_OP_GET,k,u,tc__down_slot(d,k,u),
tc__down_collected(d,k,n,lane));
tc__vector_lanes_end(v,few);
}
tc__relist_end(&v->l,TC__DOWN_N);
}
static void tc__down_collect_warps(tc__downer*d){
tc__vectors*v=&d->r.v;
tc__relist*l=&v->l;
int few=tc__down_few(d);
int64_t columns=tc__ix_value(l->from->shape.cols),vector=(int64_t)32*v->width;
tc__ix thread=tc__down_thread(d),busy=tc__ix_const(vector/few);
if(d->plan.kept)tc__down_move_own(d,TC_OP_PUT);
tc__relist_barrier(l,0);
for(int64_t k=0;k<d->sums;k++)
for(int u=0;u<d->plan.q.vectors;u++)tc__down_new(d,k,u,few);
int opened=vector/few<d->plan.q.threads&&tc__relist_if(l,thread,busy,0,0);
tc__down_collect_sums(d);
for(int u=0;u<d->plan.q.vectors;u++){
tc__ix column=tc__vector_ix(v,few,thread,tc__ix_const(vector*u));
int inside=tc__relist_if(l,column,l->from->shape.cols,0,0);
tc__ix lane=tc__vector_lanes(v,few);
tc__ix at=tc__vector_ix(v,columns,d->i,tc__ix_add(v->ix,column,lane));
for(int64_t k=0;k<d->sums;k++)
tc__down_move(d,TC_OP_PUT,k,u,d->work[k],at);
tc__vector_lanes_end(v,few);
tc__relist_end_if(l,inside);
}
tc__relist_end_if(l,opened);
}
static void tc__down_collect(tc__downer*d){
if(d->plan.q.threads>d->plan.q.sharing){
tc__down_collect_warps(d);
return;
}
tc__down_new_all(d);
tc__down_move_own(d,TC_OP_GET);
tc__down_put_part(d);
}
static void tc__down_step_kept(tc__downer*d,const tc__node*n){
tc__node m=*n;
int64_t attr[TC__NODE_WORDS];
memcpy(attr,n->attr,n->n_attr*sizeof*attr);
attr[TC__ACC_ACCUMULATOR]=
tc__down_number(d,n->attr[TC__ACC_ACCUMULATOR]-d->accumulators,d->u);
m.attr=attr;
tc__relist_copy(&d->r.v.l,&m);
}
static void tc__down_step(tc__vectors*v,const tc__node*n,tc__ix lane){
tc__downer*d=(tc__downer*)(void*)v;
tc__relist*l=&v->l;
if(d->plan.kept){
tc__down_step_kept(d,n);
return;
}
int64_t buffer=tc__down_slot(d,n->attr[TC__ACC_ACCUMULATOR]-d->accumulators,d->u);
int64_t bytes=tc__dtypes[l->to->buffer.at[buffer].dtype].bytes;
tc__ix at=tc__down_own_at(v,bytes,tc__down_thread(d),lane);
tc__node m=*n;
uint32_t in[2];
tc__relist_load(l,n,buffer,at);
in[0]=l->at[n->id],in[1]=l->at[n->in[0]];
m.op=(uint16_t)n->attr[TC__ACC_MONOID],m.in=in,m.n_in=2,m.n_attr=0;
tc__node*made=l->failed?NULL:tc__node_append(&l->to->body,&m);
if(!made)l->failed=1;
if(made)l->at[n->id]=made->id;
tc__relist_store(l,n,buffer,at);
}
static void tc__down_load(tc__vectors*v){
for(uint32_t id=0;id<v->end;id++)
if(v->ahead[id]==TC__HOLD_LATER)v->ahead[id]=TC__HOLD_NOT;
}
static void tc__down_behind(tc__rower*t,uint32_t begin,uint32_t end){
tc__downer*d=(tc__downer*)(void*)t;
tc__vectors*v=&t->v;
int some=0;
v->begin=begin,v->end=end,v->sums=TC__SUMS_DOWN;
tc__vectors_rest(v);
for(uint32_t id=begin;id<end;id++)
some|=v->need[id]&&v->l.from->body.node.at[id]->op==TC_OP_ACC;
if(some)tc__down_load(v);
for(int u=0;u<v->count&&some;u++){
v->u=tc__ix_const(u),d->u=u;
tc__ix column=v->open(v);
int opened=!v->opened&&v->width==1&&tc__relist_do(&v->l);
tc__vector_nodes(v,v->l.from,v->need,column,v->width,TC__HOLD_NOT);
tc__relist_end_if(&v->l,opened||v->opened);
}
v->u=tc__ix_const(0),v->sums=TC__SUMS_OF_ROWS;
}
static tc__ix tc__down_row_at(const tc__downer*d,tc__ix turn){
const tc__vectors*v=&d->r.v;
int64_t each=d->plan.q.threads/d->plan.q.sharing;
tc__ix block=tc__vector_ix(v,d->plan.blocks,turn,d->i);
return tc__vector_ix(v,each,block,d->y);
}
static tc__ix tc__down_each(tc__downer*d){
tc__vectors*v=&d->r.v;
v->u=tc__ix_const(0);
if(v->count>1)
v->u=tc__relist_for(&v->l,(tc__axis)TC__VECTOR_U,TC__BIND_UNROLL,
tc__ix_const(v->count));
return tc__rows_open(v);
}
static void tc__down_each_end(tc__downer*d){
tc__vectors*v=&d->r.v;
tc__relist_end_if(&v->l,v->opened);
if(v->count>1)tc__relist_end(&v->l,TC__VECTOR_U);
}
static tc__ix tc__down_next_at(tc__downer*d){
tc__vectors*v=&d->r.v;
tc__ix own=tc__vector_ix(v,d->plan.q.threads,v->u,tc__down_thread(d));
return tc__ix_mul(v->ix,tc__ix_const(v->width),own);
}
static void tc__down_ask(tc__downer*d,tc__ix row){
tc__vectors*v=&d->r.v;
const tc__group*g=v->l.from;
int opened=tc__relist_if(&v->l,row,g->shape.rows,0,0)||tc__relist_do(&v->l);
tc__relist_axis(&v->l,TC__ROW,row);
tc__ix column=tc__down_each(d),at=tc__down_next_at(d);
if(!d->plan.ahead)at=tc__ix_mul(v->ix,tc__ix_const(v->width),v->u);
for(int k=0;k<d->n_asked;k++)
tc__relist_copy_vector(&v->l,g->body.node.at[d->asked[k]],
d->plan.ahead?d->next[k]:v->held[d->asked[k]],at,
TC__COL,column,v->width);
tc__down_each_end(d);
for(int k=0;k<d->n_values;k++)
tc__relist_copy_vector(&v->l,g->body.node.at[d->value[k]],d->next_value[k],
tc__down_thread(d),TC__COL,tc__ix_const(0),1);
tc__relist_end_if(&v->l,opened);
}
static void tc__down_take(tc__downer*d){
tc__vectors*v=&d->r.v;
int64_t attr[TC__COPY_PREDICATES];
tc__relist_put(&v->l,TC_OP_WAIT,TC_I64,NULL,0);
attr[TC__COPY_INDEX]=tc__ix_const(0),attr[TC__COPY_SOURCE]=tc__down_thread(d);
attr[TC__COPY_ELEMENTS]=1;
for(int k=0;k<d->n_values;k++){
attr[TC__COPY_BUFFER]=d->held_value[k],attr[TC__COPY_FROM]=d->next_value[k];
tc__relist_put(&v->l,TC_OP_COPY,TC_I64,attr,TC__COPY_PREDICATES);
}
tc__down_each(d);
attr[TC__COPY_INDEX]=tc__ix_mul(v->ix,tc__ix_const(v->width),v->u);
attr[TC__COPY_SOURCE]=tc__down_next_at(d),attr[TC__COPY_ELEMENTS]=v->width;
for(int k=0;k<d->n_asked;k++){
attr[TC__COPY_BUFFER]=v->held[d->asked[k]],attr[TC__COPY_FROM]=d->next[k];
tc__relist_put(&v->l,TC_OP_COPY,TC_I64,attr,TC__COPY_PREDICATES);
}
tc__down_each_end(d);
}
static void tc__down_hold(tc__downer*d){
tc__vectors*v=&d->r.v;
const tc__group*g=v->l.from;
for(uint32_t id=0;id<g->body.node.count;id++)
for(int k=0;k<d->n_asked;k++)
if(id==d->asked[k]||
tc__device_held_load(g,&d->plan.q,g->body.node.at[id])==
(int64_t)d->asked[k])
v->ahead[id]=d->plan.kept?TC__HOLD_ASKED:TC__HOLD_BEFORE;
}
static int tc__down_row_value(tc__rower*t,const tc__node*n){
tc__downer*d=(tc__downer*)(void*)t;
for(int k=0;k<d->n_values;k++)
if(d->value[k]==n->id)
return tc__relist_load(&t->v.l,n,d->held_value[k],tc__ix_const(0)),1;
return 0;
}
static void tc__down_open_asked(tc__downer*d,tc__ix turns){
tc__relist*l=&d->r.v.l;
const tc__group*g=l->from;
const tc__device_plan*q=&d->plan.q;
d->n_asked=tc__down_asks(g,&d->plan,d->asked);
if(tc__ix_equals(turns,1))d->plan.ahead=0;
for(int k=0;k<d->n_asked;k++){
const tc__node*n=g->body.node.at[d->asked[k]];
if(tc__down_is_single(g,q,n))tc__vector_hold_in(&d->r.v,n,TC__HOLD_ASKED);
if(d->plan.ahead)
d->next[k]=tc__relist_buffer(l,TC__BUF_SHARED,tc__buffer_of(g,n)->dtype,
(int64_t)q->threads*q->vectors*q->width);
}
if(!d->plan.ahead||!d->plan.kept)return;
d->n_values=tc__down_asks_values(g,d->value);
for(int k=0;k<d->n_values;k++){
int dtype=tc__buffer_of(g,g->body.node.at[d->value[k]])->dtype;
d->next_value[k]=tc__relist_buffer(l,TC__BUF_SHARED,dtype,q->threads);
d->held_value[k]=tc__relist_buffer(l,TC__BUF_REGISTER,dtype,1);
}
}
static void tc__down_rows_all(tc__downer*d){
tc__vectors*v=&d->r.v;
tc__relist*l=&v->l;
int64_t each=d->plan.q.threads/d->plan.q.sharing;
tc__ix one=tc__ix_const(1);
tc__ix turns=
tc__ix_ceil_div(v->ix,l->from->shape.rows,tc__ix_const(d->plan.blocks*each));
tc__down_open_asked(d,turns);
if(d->plan.ahead)tc__down_ask(d,tc__down_row_at(d,tc__ix_const(0)));
tc__ix p=tc__relist_for(l,(tc__axis)TC__DOWN_P,TC__BIND_SERIAL,turns);
tc__ix r=tc__down_row_at(d,p);
uint32_t begin=(uint32_t)l->to->body.node.count;
int opened=tc__relist_if(l,r,l->from->shape.rows,0,0);
if(d->plan.ahead)tc__down_take(d);
tc__down_ask(d,d->plan.ahead?tc__down_row_at(d,tc__ix_add(v->ix,p,one)):r);
tc__down_hold(d);
tc__relist_axis(l,TC__ROW,r);
tc__rows_body(&d->r);
tc__relist_end_if(l,opened);
uint32_t end=(uint32_t)l->to->body.node.count;
if(d->plan.q.sharing>32&&tc__device_meetings(l->to,begin,end)<2)
tc__relist_barrier(l,0);
tc__relist_end(l,TC__DOWN_P);
}
static void tc__down_leave(tc__downer*d){
int64_t attr[3];
attr[TC__MEET_BUFFER]=d->ticket,attr[TC__MEET_COUNT]=d->plan.blocks;
attr[TC__MEET_OWN]=tc__relist_buffer(&d->r.v.l,TC__BUF_SHARED,TC_I32,2);
tc__relist_put(&d->r.v.l,TC_OP_MEET,TC_I64,attr,3);
}
static int64_t tc__down_divisor(int64_t n,int64_t most){
while(n%most)most--;
return most;
}
static void tc__down_gather(tc__downer*d,tc__ix warp,int64_t below,tc__ix c){
tc__vectors*v=&d->r.v;
tc__relist*l=&v->l;
int64_t columns=tc__ix_value(l->from->shape.cols),turns=d->plan.blocks/below;
int64_t most=TC__DOWN_BATCH;
int64_t batch=tc__down_divisor(turns,turns<most?turns:most);
tc__ix q=tc__relist_for(l,(tc__axis)TC__ROWS_Q,TC__BIND_SERIAL,
tc__ix_const(turns/batch));
tc__ix n=
tc__relist_for(l,(tc__axis)TC__DOWN_N,TC__BIND_UNROLL,tc__ix_const(batch));
tc__ix part=tc__vector_ix(v,below,tc__vector_ix(v,batch,q,n),warp);
part=tc__relist_bind(l,TC__ROWS_M,part,tc__ix_const(d->plan.blocks));
for(int64_t k=0;k<d->sums;k++)
tc__down_move(d,TC_OP_GET,k,d->plan.q.vectors,d->work[k],
tc__vector_ix(v,columns,part,c));
tc__relist_end(l,TC__DOWN_N),tc__relist_end(l,TC__ROWS_Q);
}
static void tc__down_finish(tc__downer*d){
tc__relist*l=&d->r.v.l;
const tc__group*all=d->all;
for(uint32_t id=tc__down_begin(all)+1;id+1<all->body.node.count;id++){
tc__node n=*all->body.node.at[id];
int64_t attr[TC__COMBINE_THREADS+1];
if(n.op==TC_OP_COMBINE){
int64_t k=n.attr[TC__COMBINE_ACCUMULATOR]-d->accumulators;
memcpy(attr,n.attr,TC__COMBINE_THREADS*sizeof*attr);
attr[TC__COMBINE_ACCUMULATOR]=tc__down_number(d,k,d->plan.q.vectors);
attr[TC__COMBINE_THREADS]=1;
n.attr=attr,n.n_attr=TC__COMBINE_THREADS+1;
}
tc__relist_copy(l,&n);
}
}
static void tc__down_meet(tc__downer*d){
tc__vectors*v=&d->r.v;
tc__relist*l=&v->l;
int64_t u=d->plan.q.vectors;
tc__ix all=l->from->shape.cols,lanes=tc__ix_const(TC__DOWN_LANES);
int64_t below=tc__down_divisor(d->plan.blocks,d->plan.q.threads/TC__DOWN_LANES);
tc__ix thread=tc__down_thread(d);
tc__ix first=tc__ix_div(v->ix,thread,lanes),
lane=tc__ix_mod(v->ix,thread,lanes);
tc__down_buffers(d,d->meeting,TC__BUF_SHARED,d->plan.q.threads);
tc__ix j=tc__relist_for(l,(tc__axis)TC__DOWN_J,TC__BIND_TAKEN,
tc__ix_ceil_div(v->ix,all,lanes));
tc__ix c=tc__vector_ix(v,TC__DOWN_LANES,j,lane);
for(int64_t k=0;k<d->sums;k++)tc__down_new(d,k,u,1);
int opened=tc__relist_if(l,first,tc__ix_const(below),c,all);
if(!opened)opened=tc__relist_do(l);
tc__relist_axis(l,TC__COL,c);
tc__down_gather(d,first,below,tc__ix_var(v->ix,TC__COL,all));
tc__relist_end_if(l,opened);
for(int64_t k=0;k<d->sums;k++)
tc__down_move(d,TC_OP_PUT,k,u,d->meeting[k],thread);
tc__relist_barrier(l,0);
opened=tc__relist_if(l,first,tc__ix_const(1),c,all);
for(int64_t k=0;k<d->sums;k++)tc__down_new(d,k,u,1);
tc__ix n=
tc__relist_for(l,(tc__axis)TC__DOWN_N,TC__BIND_UNROLL,tc__ix_const(below));
for(int64_t k=0;k<d->sums;k++)
tc__down_move(d,TC_OP_GET,k,u,d->meeting[k],
tc__vector_ix(v,TC__DOWN_LANES,n,lane));
tc__relist_end(l,TC__DOWN_N);
tc__relist_axis(l,TC__COL,c);
tc__down_finish(d);
tc__relist_end_if(l,opened);
tc__relist_end(l,TC__DOWN_J);
}
static void tc__down_loops(tc__downer*d){
tc__relist*l=&d->r.v.l;
int sharing=d->plan.q.sharing,each=d->plan.q.threads/sharing;
int64_t columns=tc__ix_value(l->from->shape.cols);
d->y=tc__ix_const(0);
d->i=tc__relist_for(l,(tc__axis)TC__ROWS_I,TC__BIND_GRID,
tc__ix_const(d->plan.blocks));
if(each>1)
d->y=tc__relist_for(l,(tc__axis)TC__ROWS_Y,TC__BIND_BLOCK,tc__ix_const(each));
d->r.x=d->x=tc__relist_for(l,(tc__axis)TC__ROWS_X,
sharing>32?TC__BIND_BLOCK:TC__BIND_LANE,
tc__ix_const(sharing));
d->ticket=tc__relist_buffer(l,TC__BUF_TICKET,TC_I32,TC__DEVICE_MEETING);
tc__relist_put(l,TC_OP_BEGUN,TC_I64,&d->ticket,1);
tc__down_buffers(d,d->work,TC__BUF_WORK,d->plan.blocks*columns);
tc__down_open(d);
tc__down_rows_all(d);
tc__down_collect(d);
tc__down_leave(d);
tc__down_meet(d);
tc__relist_end(l,TC__ROWS_X);
if(each>1)tc__relist_end(l,TC__ROWS_Y);
tc__relist_end(l,TC__ROWS_I);
}
static void tc__down_find_sums(tc__downer*d){
const tc__group*g=d->all;
d->accumulators=g->body.node.at[0]->attr[TC__NEW_ACCUMULATOR];
for(uint32_t id=tc__down_begin(g);id<g->body.node.count;id++){
const tc__node*n=g->body.node.at[id];
if(n->op!=TC_OP_COMBINE)continue;
d->combine[n->attr[TC__COMBINE_ACCUMULATOR]-d->accumulators]=n;
d->sums++;
}
}
static tc__group*tc__lower_down(tc_ctx*c,const tc__group*g){
tc__group rows=tc__down_part(g);
tc__downer*d=TC__NEW(c,tc__downer);
tc__group*k=NULL;
if(!d||!tc__down_plan_of(g,&d->plan)){
tc__free(c,d,sizeof*d);
return NULL;
}
tc__rows_init(&d->r,&d->plan.q);
d->all=g;
tc__down_find_sums(d);
d->r.v.sums=TC__SUMS_OF_ROWS,d->r.v.down=d->accumulators;
d->r.behind=tc__down_behind,d->r.value=tc__down_row_value,d->r.cheap=1,
d->r.v.step=tc__down_step;
if(tc__relist_open(&d->r.v.l,c,g)&&tc__vectors_begin(&d->r.v,c)){
tc__relist_launch(&d->r.v.l,d->plan.q.threads,d->plan.q.narrow,d->plan.resident,
0);
d->r.v.l.from=&rows;
tc__rows_begin(&d->r);
tc__down_loops(d);
d->r.v.l.from=g;
tc__relist_end(&d->r.v.l,TC__END_BLOCK);
}else{
d->r.v.l.failed=1;
}
k=tc__vectors_done(&d->r.v,c);
tc__free(c,d,sizeof*d);
return k;
}
// ---- gen/device/template.c
enum{
TC__TEMPLATE_J=TC__VAR0,
TC__TEMPLATE_I=TC__VAR0+1,
TC__TEMPLATE_Y=TC__VAR0+2,
TC__TEMPLATE_X=TC__VAR0+3,
TC__TEMPLATE_T=TC__VAR0+6,
TC__TEMPLATE_P=TC__VAR0+7,
TC__TEMPLATE_Q=TC__VAR0+8
};
typedef struct tc__producer{
tc__relist l;
tc__product q;
tc__ix j;
uint32_t rows;
int64_t*held;
tc__group prologue;
tc__device_plan plan;
tc__ix x,y,*base;
int64_t made,room;
}tc__producer;
static tc__ix tc__producer_extent(tc__ix extent,int width){
int64_t rest=tc__ix_is_const(extent)?tc__ix_value(extent)%width:0;
return rest?tc__ix_const(tc__ix_value(extent)+width-rest):extent;
}
static tc__ix tc__producer_var(const tc__producer*t,int axis,tc__ix extent,int width){
tc__ixpool*x=t->l.from->body.ix;
extent=tc__producer_extent(extent,width);
return tc__ix_var(x,axis,tc__ix_sub(x,extent,tc__ix_const(width-1)));
}
typedef struct tc__hole_words{
tc__hole hole;
int64_t buffer,made;
tc__bring bring;
int width;
tc__axis along;
int row,line,deep;
int64_t line_stride,deep_stride;
}tc__hole_words;
static void tc__hole_open(tc__relist*l,const tc__hole_words*w){
int64_t attr[TC__HOLE_MADE+1];
attr[TC__HOLE_HOLE]=w->hole,attr[TC__HOLE_BUFFER]=w->buffer;
attr[TC__HOLE_BRING]=w->bring,attr[TC__HOLE_WIDTH]=w->width;
attr[TC__HOLE_ALONG]=w->along,attr[TC__HOLE_ROW]=w->row;
attr[TC__HOLE_LINE]=w->line,attr[TC__HOLE_DEEP]=w->deep;
attr[TC__HOLE_LINE_STRIDE]=w->line_stride;
attr[TC__HOLE_DEEP_STRIDE]=w->deep_stride,attr[TC__HOLE_MADE]=w->made;
tc__relist_put(l,TC_OP_HOLE,TC_I64,attr,TC__HOLE_MADE+1);
}
static void tc__hole_close(tc__relist*l){tc__relist_end(l,TC__END_BLOCK);}
static tc__ix tc__hole_elements(tc__producer*t,int width,tc__axis axis,int first,
tc__ix extent){
tc__relist*l=&t->l;
if(width==1)return tc__ix_const(0);
tc__ix lane=
tc__relist_for(l,(tc__axis)TC__VECTOR_L,TC__BIND_VECTOR,tc__ix_const(width));
tc__relist_bind(
l,(int)axis,
tc__ix_add(l->from->body.ix,tc__producer_var(t,first,extent,width),lane),
tc__producer_extent(extent,width));
return lane;
}
static void tc__hole_elements_end(tc__producer*t,int width){
if(width>1)tc__relist_end(&t->l,TC__VECTOR_L);
}
static void tc__rows_hole(tc__producer*t,tc_ctx*c){
tc__relist*l=&t->l;
tc__ixpool*x=l->from->body.ix;
tc__hole_words w;
int64_t together=t->q.threads/t->plan.sharing,
turns=(t->q.made+together-1)/together;
memset(&w,0,sizeof w);
w.made=-1,w.hole=TC__HOLE_ROWS,w.buffer=-1,w.width=1,w.along=TC__COL;
w.row=TC__TEMPLATE_T,w.line=TC__ROW,w.deep=TC__TEMPLATE_Q;
tc__hole_open(l,&w);
tc__ix turn=tc__ix_var(x,TC__TEMPLATE_T,tc__ix_const(turns)),
i=tc__ix_add(x,tc__ix_mul(x,tc__ix_const(together),turn),t->y),
first=tc__ix_var(x,TC__TEMPLATE_Q,l->from->shape.cols);
if(tc__ix_equals(tc__rows_across(l->from,&t->q),1))first=tc__ix_const(0);
tc__rows_make(l,c,&t->prologue,&t->plan,t->x,i,tc__ix_const(t->q.made),
tc__ix_const(t->room),first);
tc__hole_close(l);
}
static void tc__producer_threads(tc__producer*t){
tc__relist*l=&t->l;
int64_t together=t->plan.sharing?t->q.threads/t->plan.sharing:1;
if(!t->plan.sharing){
tc__relist_for(l,(tc__axis)TC__TEMPLATE_T,TC__BIND_BLOCK,
tc__ix_const(tc__product_threads(&t->q)));
return;
}
if(together>1)
t->y=tc__relist_for(l,(tc__axis)TC__TEMPLATE_Y,TC__BIND_BLOCK,
tc__ix_const(together));
if(t->plan.sharing>1)
t->x=tc__relist_for(l,(tc__axis)TC__TEMPLATE_X,
t->plan.sharing>32?TC__BIND_BLOCK:TC__BIND_LANE,
tc__ix_const(t->plan.sharing));
}
static void tc__producer_threads_end(tc__producer*t){
if(!t->plan.sharing){
tc__relist_end(&t->l,TC__TEMPLATE_T);
return;
}
if(t->plan.sharing>1)tc__relist_end(&t->l,TC__TEMPLATE_X);
if(t->q.threads>t->plan.sharing)tc__relist_end(&t->l,TC__TEMPLATE_Y);
}
static tc__ix tc__operand_extent(const tc__group*g,tc__axis axis){
return axis==TC__ROW?g->shape.rows
:axis==TC__COL?g->shape.cols
:tc__depth_of(g);
}
static int tc__operand_is_copy(const tc__producer*t,const tc__staged*s,tc__axis axis,
int width,int dtype){
const tc__group*g=t->l.from;
const tc__node*n=g->body.node.at[s->id];
int windows=s->level==TC__AT_RIGHT&&t->q.tile&&
t->q.tile->way==TC__WAY_MAPPED&&g->shape.windows.channels;
if(width>1&&(windows||tc__operand_windows(g,&t->q,s->level)))return 1;
if(n->op!=TC_OP_LOAD||n->n_attr>TC__LOAD_PREDICATES||n->dtype!=dtype||
tc__buffer_of(g,n)->dtype!=dtype||tc__device_is_made(g,n))
return 0;
if(width==1)return tc__is_half(dtype);
return tc__is_wide_load(g,n,width,axis);
}
static int tc__operand_variable(tc__axis axis,tc__axis along,int width){
if(axis!=along||width==1)return(int)axis;
return axis==TC__DEPTH?TC__TEMPLATE_Q:TC__TEMPLATE_P;
}
static int tc__stage_jump(const tc__product*q,const tc__staged*s){
int size=q->tile->way==TC__WAY_GROUPS?(int)TC__PRODUCT_LINE
:s->along==TC__DEPTH?q->tile->depth
:s->level==TC__AT_LEFT?q->tile->rows
:q->tile->cols;
return q->threads/(size/s->width);
}
static int tc__brings_by_steps(const tc__group*g,const tc__product*q,
const tc__staged*s){
tc__axis line=s->level==TC__AT_LEFT?TC__ROW:TC__COL;
const tc__node*n=g->body.node.at[s->id];
if(g->target.checked||s->bring==TC__BRING_NOW)
return 0;
if(s->bring==TC__BRING_ASYNC&&q->tile->way<TC__WAY_MAPPED&&
tc__stage_jump(q,s)%8)
return 0;
int plain=n->op==TC_OP_LOAD&&n->n_attr==TC__LOAD_PREDICATES;
if(!plain||tc__buffer_of(g,n)->dtype!=n->dtype)return 0;
int as_it_is=tc__is_fp8(q->dtype);
if(!as_it_is&&n->dtype!=q->dtype)return 0;
if(!as_it_is&&!q->half&&!tc__is_own_class(n->dtype))return 0;
return tc__operand_stride(g,s,TC__DEPTH)&&tc__operand_stride(g,s,line);
}
static void tc__operand_nodes(tc__producer*t,const tc__staged*s,int64_t buffer,
tc__ix lane){
tc__relist*l=&t->l;
for(uint32_t id=l->from->shape.prologue;id<t->rows;id++){
const tc__node*n=l->from->body.node.at[id];
if(n->level!=(uint8_t)s->level||n->op==TC_OP_END||tc__opens(n))continue;
if(t->held[id]<0)
tc__relist_copy(l,n);
else
tc__relist_load(l,n,t->held[id],
tc__ix_equals(l->to->buffer.at[t->held[id]].numel,1)
?tc__ix_const(0)
:lane);
}
tc__relist_store(l,l->from->body.node.at[s->id],buffer,lane);
}
static void tc__operand_hole(tc__producer*t,const tc__staged*s,tc__hole hole,
tc__axis along,int width,int dtype){
const tc__group*g=t->l.from;
const tc__node*n=g->body.node.at[s->id];
tc__axis line=s->level==TC__AT_LEFT?TC__ROW:TC__COL;
int one=hole==TC__HOLE_LEFT_ONE||hole==TC__HOLE_RIGHT_ONE;
int staged=t->q.form==TC__PRODUCT_TILES&&!one;
tc__hole_words w;
memset(&w,0,sizeof w);
w.made=-1,w.hole=hole,w.width=width,w.along=along;
w.bring=staged?s->bring:TC__BRING_VALUES;
w.buffer=tc__relist_buffer(&t->l,TC__BUF_GIVEN,dtype,width);
int made=s->level==TC__AT_LEFT&&g->shape.prologue;
w.row=made?(int)TC__TEMPLATE_I:s->level==TC__AT_LEFT?-1:(int)TC__ROW;
w.line=tc__operand_variable(line,along,width);
w.deep=tc__operand_variable(TC__DEPTH,along,width);
if(staged&&tc__brings_by_steps(g,&t->q,s)){
w.line_stride=tc__operand_stride(g,s,line);
w.deep_stride=tc__operand_stride(g,s,TC__DEPTH);
}
tc__hole_open(&t->l,&w);
int first=tc__operand_variable(along,along,width);
tc__ix extent=tc__operand_extent(g,along);
if(tc__operand_is_copy(t,s,along,width,dtype)){
tc__relist_copy_vector(&t->l,n,w.buffer,tc__ix_const(0),along,
tc__producer_var(t,first,extent,width),width);
}else{
tc__ix lane=tc__hole_elements(t,width,along,first,extent);
tc__operand_nodes(t,s,w.buffer,lane);
tc__hole_elements_end(t,width);
}
tc__hole_close(&t->l);
}
static int tc__operand_is_ahead(const tc__group*g,const tc__staged*s,tc__axis axis,
const tc__node*n){
if(n->op!=TC_OP_LOAD||n->level!=(uint8_t)s->level||
n->n_attr!=TC__LOAD_PREDICATES||tc__buffer_of(g,n)->written)
return 0;
if(tc__ix_uses(g->body.ix,n->attr[TC__LOAD_INDEX],TC__DEPTH)||
tc__ix_has_val(g->body.ix,n->attr[TC__LOAD_INDEX]))
return 0;
return s->width==1||tc__device_is_wide(g,n,s->width,axis)||
tc__device_is_still(g,n,axis,s->width);
}
static int tc__operand_ahead(tc__producer*t,const tc__staged*s,tc__axis axis){
const tc__group*g=t->l.from;
int some=0;
for(uint32_t id=0;id<t->rows;id++){
const tc__node*n=g->body.node.at[id];
if(!tc__operand_is_ahead(g,s,axis,n))continue;
int wide=tc__device_is_wide(g,n,s->width,axis);
t->held[id]=tc__relist_buffer(&t->l,TC__BUF_REGISTER,tc__buffer_of(g,n)->dtype,
wide?s->width:1);
some=1;
}
return some;
}
static void tc__ahead_hole(tc__producer*t,const tc__staged*s,tc__axis axis){
tc__relist*l=&t->l;
tc__hole_words w;
memset(&w,0,sizeof w);
w.made=-1,w.hole=TC__HOLE_AHEAD,w.buffer=-1,w.width=s->width,w.along=axis;
w.row=s->level==TC__AT_LEFT?-1:(int)TC__ROW,w.deep=-1;
w.line=tc__operand_variable(axis,axis,s->width);
tc__hole_open(l,&w);
for(uint32_t id=0;id<t->rows;id++){
const tc__node*n=l->from->body.node.at[id];
if(t->held[id]<0)continue;
int width=(int)tc__ix_value(l->to->buffer.at[t->held[id]].numel);
tc__relist_copy_vector(
l,n,t->held[id],tc__ix_const(0),axis,
tc__producer_var(t,w.line,tc__operand_extent(l->from,axis),s->width),
width);
}
tc__hole_close(l);
}
static int tc__result_is_early(const tc__producer*t,const tc__node*n){
const tc__group*g=t->l.from;
return n->id>t->rows&&n->op==TC_OP_LOAD&&n->n_attr==TC__LOAD_PREDICATES&&
!tc__buffer_of(g,n)->written&&
!tc__ix_has_val(g->body.ix,n->attr[TC__LOAD_INDEX]);
}
static int tc__result_early(tc__producer*t){
const tc__group*g=t->l.from;
int some=0;
for(uint32_t id=t->rows;id<g->body.node.count;id++){
const tc__node*n=g->body.node.at[id];
if(!tc__result_is_early(t,n))continue;
t->held[id]=
tc__relist_buffer(&t->l,TC__BUF_REGISTER,tc__buffer_of(g,n)->dtype,1);
some=1;
}
return some;
}
static void tc__early_hole(tc__producer*t){
tc__relist*l=&t->l;
tc__ixpool*x=l->from->body.ix;
tc__hole_words w;
memset(&w,0,sizeof w);
w.made=-1,w.hole=TC__HOLE_EARLY,w.buffer=-1,w.width=1,w.along=TC__COL;
w.row=TC__ROW,w.line=TC__COL,w.deep=-1;
tc__hole_open(l,&w);
for(uint32_t id=t->rows;id<l->from->body.node.count;id++)
if(t->held[id]>=0)
tc__relist_copy_vector(l,l->from->body.node.at[id],t->held[id],
tc__ix_const(0),TC__COL,
tc__ix_var(x,TC__COL,l->from->shape.cols),1);
tc__hole_close(l);
}
static void tc__rounded_hole(tc__producer*t,const tc__relay*r){
tc__relist*l=&t->l;
const tc__group*g=l->from;
const tc__node*rounded=g->body.node.at[r->rounded];
tc__hole_words w;
memset(&w,0,sizeof w);
w.hole=TC__HOLE_ROUNDED,w.width=2,w.along=TC__COL;
w.buffer=tc__relist_buffer(l,TC__BUF_GIVEN,tc__register_dtype(t->q.dtype),w.width);
w.made=tc__relist_buffer(l,TC__BUF_GIVEN,rounded->dtype,w.width);
w.row=-1,w.line=tc__operand_variable(TC__COL,TC__COL,w.width),w.deep=-1;
tc__hole_open(l,&w);
tc__ix lane=tc__hole_elements(t,w.width,TC__COL,w.line,g->shape.cols);
tc__relist_load(l,g->body.node.at[r->sums],w.buffer,lane);
for(uint32_t id=r->sums+1;id<=r->rounded;id++)
if(r->made&tc__relay_bit(r,id))tc__relist_copy(l,g->body.node.at[id]);
tc__relist_store(l,rounded,w.made,lane);
tc__hole_elements_end(t,w.width);
tc__hole_close(l);
}
static uint32_t tc__columns_end(const tc__group*g){
uint32_t id=tc__contract_of(g)->id;
while(g->body.node.at[id]->op!=TC_OP_END)id++;
return id;
}
static void tc__result_hole(tc__producer*t,int width,tc__hole hole,const tc__relay*r){
tc__relist*l=&t->l;
const tc__group*g=l->from;
const tc__node*given=r?g->body.node.at[r->rounded]:tc__contract_of(g);
tc__hole_words w;
memset(&w,0,sizeof w);
w.made=-1,w.hole=hole,w.width=width,w.along=TC__COL;
w.buffer=tc__relist_buffer(l,TC__BUF_GIVEN,
r?given->dtype:(uint8_t)tc__register_dtype(t->q.dtype),
width);
w.row=TC__ROW,w.line=tc__operand_variable(TC__COL,TC__COL,width),w.deep=-1;
tc__hole_open(l,&w);
tc__ix lane=tc__hole_elements(t,width,TC__COL,w.line,g->shape.cols);
uint32_t rows=t->q.total?tc__columns_end(g):(uint32_t)g->body.node.count;
for(uint32_t id=t->rows;id<rows;id++){
const tc__node*n=g->body.node.at[id];
if(n==given)
tc__relist_load(l,n,w.buffer,lane);
else if(r&&tc__relay_bit(r,id)&r->made&~r->again)
continue;
else if(t->held[id]>=0)
tc__relist_load(l,n,t->held[id],tc__ix_const(0));
else if(n->op!=TC_OP_END&&!tc__opens(n))
tc__relist_copy(l,n);
}
tc__hole_elements_end(t,width);
tc__hole_close(l);
}
static void tc__total_hole(tc__producer*t){
tc__relist*l=&t->l;
const tc__group*g=l->from;
const tc__node*total=tc__total_of(g);
tc__hole_words w;
memset(&w,0,sizeof w);
w.made=-1,w.hole=TC__HOLE_TOTAL,w.width=1,w.along=TC__ROW;
w.buffer=tc__relist_buffer(l,TC__BUF_GIVEN,TC_F32,1);
w.row=-1,w.line=TC__ROW,w.deep=-1;
tc__hole_open(l,&w);
for(uint32_t id=tc__columns_end(g);id<g->body.node.count;id++){
const tc__node*n=g->body.node.at[id];
if(n==total)
tc__relist_load(l,n,w.buffer,tc__ix_const(0));
else if(n->op!=TC_OP_END)
tc__relist_copy(l,n);
}
tc__hole_close(l);
}
static int tc__template_leaves(const tc__group*g,tc__ix extent,int64_t by){
return tc__ix_divisor(g->body.ix,extent)%by!=0;
}
static int tc__result_loads_by_row(const tc__group*g){
for(size_t i=tc__product_rows_loop(g);i<g->body.node.count;i++){
const tc__node*n=g->body.node.at[i];
for(uint32_t k=0;k<n->n_attr&&n->op==TC_OP_LOAD;k++)
if(tc__attr_is_ix(n,k)&&(tc__ix_uses(g->body.ix,n->attr[k],TC__ROW)||
tc__ix_has_val(g->body.ix,n->attr[k])))
return 1;
}
return 0;
}
static void tc__mapped_numbers_of(const tc__group*g,const tc__product*q,int64_t*n){
int64_t batches=tc__ix_value(g->shape.batch);
n[TC__TILES_BATCHES]=batches>1?batches:0;
n[TC__TILES_BY_ROW]=tc__result_loads_by_row(g);
n[TC__TILES_TURNS]=q->lines?q->tile->cols/q->lines:1;
n[TC__TILES_RELAY]=q->relay;
if(q->tile->way==TC__WAY_MAPPED)n[TC__TILES_RAGGED_DEPTH]=0;
}
static void tc__tiles_numbers_of(const tc__group*g,const tc__product*q,int width,
int64_t*n){
const tc__product_tile*tile=q->tile;
n[TC__TILES_WAY]=tile->way,n[TC__TILES_ROWS]=tile->rows;
n[TC__TILES_COLS]=tile->cols,n[TC__TILES_DEPTH]=q->depth;
n[TC__TILES_HIGH]=tile->high,n[TC__TILES_ACROSS]=tile->across;
n[TC__TILES_STAGES]=q->stages,n[TC__TILES_THREADS]=q->threads;
n[TC__TILES_PACK]=tc__product_pack(q),n[TC__TILES_WIDTH]=width;
n[TC__TILES_SLICES]=q->slices,n[TC__TILES_LENGTH]=q->length;
n[TC__TILES_GROUP]=TC__SLICE_GROUP;
n[TC__TILES_BATCHES]=!tc__ix_equals(g->shape.batch,1);
n[TC__TILES_RAGGED_ROWS]=tc__template_leaves(g,q->m,tile->rows);
n[TC__TILES_RAGGED_COLS]=tc__template_leaves(g,g->shape.cols,tile->cols);
n[TC__TILES_RAGGED_DEPTH]=tc__template_leaves(g,tc__depth_of(g),q->depth);
n[TC__TILES_LAST]=n[TC__TILES_TURNS]=0,n[TC__TILES_CLUSTER]=q->cluster;
n[TC__TILES_BY_ROW]=n[TC__TILES_RELAY]=0,n[TC__TILES_TOTAL]=q->total;
if(tile->way>=TC__WAY_MAPPED)tc__mapped_numbers_of(g,q,n);
for(int side=0;side<2;side++){
const tc__staged*o=side?&q->right:&q->left;
if(o->along==TC__DEPTH&&tc__template_leaves(g,tc__depth_of(g),o->width))
n[TC__TILES_LAST]=tc__ix_value(tc__depth_of(g))%o->width;
}
}
static void tc__skinny_numbers_of(const tc__producer*t,int ahead,int early,int64_t*n){
const tc__group*g=t->l.from;
const tc__product*q=&t->q;
int width=tc__wide_operand(q)->width;
int busy=q->few*width*(q->each?q->each:1);
if(tc__wide_operand(q)->computed)busy*=2;
if(tc__product_bytes(q)==8)busy*=2;
n[TC__SKINNY_BY_ROWS]=q->wide==TC__ROW,n[TC__SKINNY_DOT]=q->dot;
n[TC__SKINNY_FEW]=q->few,n[TC__SKINNY_SHARING]=q->sharing;
n[TC__SKINNY_EACH]=q->each,n[TC__SKINNY_COVER]=q->cover;
n[TC__SKINNY_UNROLLED]=busy>=256?1:busy>32?2:4;
n[TC__SKINNY_THREADS]=q->threads;
n[TC__SKINNY_WIDTH]=width,n[TC__SKINNY_AHEAD]=ahead;
n[TC__SKINNY_SLICES]=q->slices,n[TC__SKINNY_LENGTH]=q->length;
n[TC__SKINNY_GROUP]=TC__SLICE_GROUP;
n[TC__SKINNY_BATCHES]=!tc__ix_equals(g->shape.batch,1);
int by_rows=q->wide==TC__ROW;
n[TC__SKINNY_RAGGED_ROWS]=tc__template_leaves(g,q->m,by_rows?q->cover:q->few);
n[TC__SKINNY_RAGGED_COLS]=
tc__template_leaves(g,g->shape.cols,by_rows?q->few:q->cover);
n[TC__SKINNY_RAGGED_DEPTH]=
q->slices>1&&!tc__ix_equals(tc__depth_of(g),q->slices*q->length);
n[TC__SKINNY_MAKING]=t->plan.sharing,n[TC__SKINNY_STEPS]=q->ahead?q->steps:0;
n[TC__SKINNY_EARLY]=early;
}
static void tc__total_buffers(tc__producer*t,int64_t*attr){
int64_t rows=t->q.shares*t->q.tile->rows;
attr[TC__TEMPLATE_TICKETS]=
tc__relist_buffer(&t->l,TC__BUF_TICKET,TC_I32,rows/TC__MAP_LINE);
attr[TC__TEMPLATE_SUMS]=tc__relist_buffer(&t->l,TC__BUF_WORK,TC_F32,rows);
}
static void tc__template_buffers(tc__producer*t,int64_t*attr){
const tc__product*q=&t->q;
int dtype=tc__register_dtype(q->dtype);
attr[TC__TEMPLATE_TICKETS]=attr[TC__TEMPLATE_SUMS]=-1;
int64_t bytes=tc__ix_value(q->shared)-(t->plan.sharing?q->made*q->row:0);
attr[TC__TEMPLATE_SHARED]=tc__relist_buffer(&t->l,TC__BUF_SHARED,dtype,
bytes/(int64_t)tc__dtypes[dtype].bytes);
if(q->total)tc__total_buffers(t,attr);
if(q->slices==1)return;
attr[TC__TEMPLATE_TICKETS]=
tc__relist_buffer(&t->l,TC__BUF_TICKET,TC_I32,q->shares*tc__slice_tickets(q));
attr[TC__TEMPLATE_SUMS]=tc__relist_buffer(
&t->l,TC__BUF_WORK,dtype,q->shares*q->slices*q->threads*q->sums);
}
static int tc__staged_dtype(const tc__producer*t,const tc__staged*s,int dtype){
return tc__is_fp8(t->q.dtype)?t->l.from->body.node.at[s->id]->dtype:dtype;
}
static void tc__tiles_holes(tc__producer*t,int width){
const tc__product*q=&t->q;
int dtype=q->half?q->dtype:tc__register_dtype(q->dtype);
int left=tc__staged_dtype(t,&q->left,dtype),
right=tc__staged_dtype(t,&q->right,dtype);
tc__operand_hole(t,&q->left,TC__HOLE_LEFT,q->left.along,q->left.width,left);
tc__operand_hole(t,&q->right,TC__HOLE_RIGHT,q->right.along,q->right.width,right);
if(q->tile->way==TC__WAY_SPLIT){
tc__operand_hole(t,&q->left,TC__HOLE_LEFT_ONE,TC__DEPTH,1,dtype);
tc__operand_hole(t,&q->right,TC__HOLE_RIGHT_ONE,TC__DEPTH,1,dtype);
}
const tc__relay*halves=q->relay?&q->halves:NULL;
if(halves)tc__rounded_hole(t,halves);
tc__result_hole(t,width,TC__HOLE_RESULT,halves);
if(q->total)tc__total_hole(t);
}
static void tc__skinny_holes(tc__producer*t,tc_ctx*c,int ahead,int early){
const tc__product*q=&t->q;
const tc__staged*wide=tc__wide_operand(q),
*few=wide==&q->left?&q->right:&q->left;
int dtype=tc__register_dtype(q->dtype);
tc__axis along=q->dot?TC__DEPTH:q->wide;
tc__hole left=TC__HOLE_LEFT,right=TC__HOLE_RIGHT;
if(ahead)tc__ahead_hole(t,wide,q->wide);
if(early)tc__early_hole(t);
if(t->plan.sharing)tc__rows_hole(t,c);
tc__operand_hole(t,wide,wide==&q->left?left:right,along,wide->width,dtype);
tc__operand_hole(t,few,few==&q->left?left:right,TC__DEPTH,
q->dot?wide->width:1,dtype);
tc__result_hole(t,1,TC__HOLE_RESULT,NULL);
}
static void tc__put_tiles(tc__producer*t,int64_t*attr){
int width=t->q.width;
if(t->q.tile->way>=TC__WAY_MAPPED&&width>TC__MAPPED_WIDTH)
width=TC__MAPPED_WIDTH;
attr[TC__TEMPLATE_NAME]=TC__TEMPLATE_TILES;
tc__tiles_numbers_of(t->l.from,&t->q,width,attr+TC__TEMPLATE_NUMBERS);
tc__relist_put(&t->l,TC_OP_TEMPLATE,tc__register_dtype(t->q.dtype),attr,
TC__TEMPLATE_NUMBERS+(uint32_t)TC__TILES_NUMBERS);
tc__tiles_holes(t,width);
}
static void tc__put_skinny(tc__producer*t,tc_ctx*c,int64_t*attr){
const tc__product*q=&t->q;
const tc__staged*wide=tc__wide_operand(q);
int ahead=!t->plan.sharing&&!q->dot&&wide->computed&&
tc__operand_ahead(t,wide,q->wide);
int early=t->plan.sharing&&q->few*q->cover<=q->threads&&tc__result_early(t);
attr[TC__TEMPLATE_NAME]=TC__TEMPLATE_SKINNY;
tc__skinny_numbers_of(t,ahead,early,attr+TC__TEMPLATE_NUMBERS);
tc__relist_put(&t->l,TC_OP_TEMPLATE,tc__register_dtype(q->dtype),attr,
TC__TEMPLATE_NUMBERS+(uint32_t)TC__SKINNY_NUMBERS);
tc__skinny_holes(t,c,ahead,early);
}
static void tc__put_template(tc__producer*t,tc_ctx*c){
const tc__group*g=t->l.from;
int64_t attr[TC__NODE_WORDS];
attr[TC__TEMPLATE_BLOCK]=t->j,attr[TC__TEMPLATE_ROWS]=t->q.m;
attr[TC__TEMPLATE_COLS]=g->shape.cols,attr[TC__TEMPLATE_DEPTH]=tc__depth_of(g);
tc__template_buffers(t,attr);
if(t->q.form==TC__PRODUCT_TILES)
tc__put_tiles(t,attr);
else
tc__put_skinny(t,c,attr);
tc__relist_end(&t->l,TC__END_BLOCK);
}
static int tc__product_is_narrow(const tc__group*g){
return tc__device_is_narrow(g)&&
tc__device_reach(g->body.ix,tc__depth_of(g))<INT32_MAX-(1<<20);
}
static void tc__producer_makes(tc__producer*t){
const tc__group*g=t->l.from;
t->prologue=tc__prologue_of(g),t->plan=tc__prologue_plan(&t->prologue,&t->q);
t->made=tc__left_rows(g)-g->buffer.at;
tc__kbuf*made=&t->l.to->buffer.at[t->made];
made->place=TC__BUF_SHARED;
int64_t pitch=t->q.row/(int64_t)tc__dtypes[made->dtype].bytes;
t->room=tc__padded(t->q.made,t->plan.sharing<32?32/t->plan.sharing:1);
made->numel=tc__ix_const(t->room*pitch);
t->base[t->made]=
tc__ix_mul(g->body.ix,tc__ix_const(pitch),
tc__ix_var(g->body.ix,TC__TEMPLATE_I,tc__ix_const(t->room)));
t->l.base=t->base;
}
static tc__group*tc__lower_product(tc_ctx*c,const tc__group*g){
tc__producer t;
size_t nodes=g->body.node.count,buffers=g->buffer.count;
memset(&t,0,sizeof t);
TC_ASSERT(g->shape.prologue||tc__contract_phases(g)==1);
t.q=tc__product_plan(g),t.rows=tc__product_rows_loop(g);
int ok=tc__relist_open(&t.l,c,g);
t.held=TC__NEW_ARRAY(c,int64_t,nodes),t.base=TC__NEW_ARRAY(c,tc__ix,buffers);
if(!t.held||!t.base)t.l.failed=1;
for(size_t i=0;i<nodes&&t.held;i++)t.held[i]=-1;
if(ok&&!t.l.failed){
if(g->shape.prologue)tc__producer_makes(&t);
tc__relist_launch(&t.l,tc__product_threads(&t.q),tc__product_is_narrow(g),
t.q.resident,t.q.cluster>1?t.q.cluster:0);
t.j=tc__relist_for(&t.l,(tc__axis)TC__TEMPLATE_J,TC__BIND_GRID,t.q.blocks);
tc__producer_threads(&t);
tc__put_template(&t,c);
tc__producer_threads_end(&t);
tc__relist_end(&t.l,TC__TEMPLATE_J),tc__relist_end(&t.l,TC__END_BLOCK);
}
t.l.base=NULL;
tc__free(c,t.held,nodes*sizeof*t.held);
tc__free(c,t.base,buffers*sizeof*t.base);
return tc__relist_close(&t.l,c);
}
// ---- gen/device/chain_list.c
static void tc__chain_operand_hole(tc__producer*t,const tc__chain*q,int part,
const tc__staged*s,tc__hole hole){
const tc__group*whole=t->l.from;
tc__product_tile tile;
memset(&tile,0,sizeof tile);
tile.way=TC__WAY_MMA;
tile.rows=(uint16_t)q->rows_high,tile.cols=(uint16_t)q->step;
if(hole==TC__HOLE_VALUE)
tile.cols=(uint16_t)q->wide,tile.depth=(uint16_t)q->step;
else
tile.depth=(uint16_t)q->depth[part];
t->q.tile=&tile,t->l.from=&q->part[part];
tc__operand_hole(t,s,hole,s->along,s->width,q->dtype);
t->q.tile=NULL,t->l.from=whole;
}
static void tc__chain_nodes(tc__producer*t,const tc__chain*q,const tc__node*value,
const tc__node*const*sums,const tc__ix*place,int count,
int64_t given,tc__ix lane){
tc__relist*l=&t->l;
size_t nodes=q->g->body.node.count;
tc_ctx*c=q->g->body.ctx;
uint8_t*marked=TC__NEW_ARRAY(c,uint8_t,nodes);
if(!marked)l->failed=1;
if(marked)tc__chain_mark(q,value,sums,count,marked);
for(uint32_t id=0;marked&&id<nodes;id++){
const tc__node*n=tc__chain_node(q,id);
int sum=-1;
if(!marked[id])continue;
for(int i=0;i<count;i++)
if(n==sums[i])sum=i;
if(sum>=0||t->held[id]>=0){
tc__relist_load(l,n,sum<0?t->held[id]:given,
sum<0?lane:place[sum]);
continue;
}
for(uint32_t k=0;k<n->n_in;k++)
l->at[n->in[k]]=l->at[tc__chain_in(q,n,k)->id];
tc__relist_copy(l,n);
}
tc__free(c,marked,nodes);
}
static int tc__chain_columns(tc__producer*t,const tc__chain*q){
if(q->stages)return q->columns;
const tc__node*sums[TC__CHAIN_INNER];
size_t nodes=q->g->body.node.count;
uint8_t*marked=TC__NEW_ARRAY(q->g->body.ctx,uint8_t,nodes);
int some=0;
if(!marked)return t->l.failed=1,0;
for(int i=0;i<q->inner;i++)sums[i]=tc__contract_of(&q->part[i]);
tc__chain_mark(q,tc__chain_node(q,q->score),sums,q->inner,marked);
for(uint32_t id=0;id<nodes;id++){
const tc__node*n=tc__chain_node(q,id);
if(!marked[id]||!tc__is_of_column(q,n))continue;
t->held[id]=tc__relist_buffer(&t->l,TC__BUF_REGISTER,
tc__buffer_of(q->g,n)->dtype,tc__chain_scores(q));
some=1;
}
tc__free(q->g->body.ctx,marked,nodes);
return some;
}
static void tc__columns_hole(tc__producer*t,const tc__chain*q){
tc__relist*l=&t->l;
tc__hole_words w;
int width=tc__chain_scores(q);
memset(&w,0,sizeof w);
w.hole=TC__HOLE_COLUMNS,w.buffer=w.made=-1,w.width=width,w.along=TC__COL;
if(q->stages)
w.made=tc__relist_buffer(l,TC__BUF_GIVEN,TC_F32,(int64_t)width*q->columns);
w.row=TC__ROW,w.line=tc__operand_variable(TC__COL,TC__COL,width),w.deep=-1;
tc__ix first=tc__producer_var(t,w.line,q->part[0].shape.cols,width);
tc__hole_open(l,&w);
for(int i=0;q->stages&&i<q->columns;i++)
tc__relist_copy_vector(l,q->column[i],w.made,tc__ix_const((int64_t)width*i),
TC__COL,first,width);
for(uint32_t id=0;id<t->rows;id++)
if(t->held[id]>=0)
tc__relist_copy_vector(l,tc__chain_node(q,id),t->held[id],tc__ix_const(0),
TC__COL,first,width);
tc__hole_close(l);
}
static void tc__score_hole(tc__producer*t,const tc__chain*q,int next){
tc__relist*l=&t->l;
tc__ixpool*x=l->from->body.ix;
const tc__group*whole=l->from;
tc__chain_made m=tc__chain_made_of(q,next);
tc__ix place[TC__CHAIN_INNER+TC__CHAIN_WORDS];
tc__hole_words w;
int width=tc__chain_scores(q);
memset(&w,0,sizeof w);
w.hole=next?TC__HOLE_SCORE_NEXT:TC__HOLE_SCORE,w.width=width,
w.along=TC__COL;
w.buffer=tc__relist_buffer(l,TC__BUF_GIVEN,TC_F32,(int64_t)width*m.count);
w.made=tc__relist_buffer(l,TC__BUF_GIVEN,
next||q->softmax>=0?TC_F32:q->dtype,width);
w.row=TC__ROW,w.line=tc__operand_variable(TC__COL,TC__COL,width),w.deep=-1;
tc__hole_open(l,&w);
l->from=&q->part[0];
tc__ix lane=tc__hole_elements(t,width,TC__COL,w.line,q->part[0].shape.cols);
l->from=whole;
for(int i=0;i<m.count;i++)
place[i]=tc__ix_add(x,lane,tc__ix_const((int64_t)width*i));
tc__chain_nodes(t,q,m.value,m.given,place,m.count,w.buffer,lane);
tc__relist_store(l,m.value,w.made,lane);
tc__hole_elements_end(t,width);
tc__hole_close(l);
}
static int tc__stores_row(const tc__node*n){
return n->op==TC_OP_STORE&&n->level==TC__AT_ROW;
}
static void tc__share_mark(const tc__chain*q,uint8_t*marked){
const tc__node*sums[2];
sums[0]=q->most,sums[1]=q->sum;
if(q->share)tc__chain_mark(q,q->share,sums,2,marked);
for(uint32_t id=q->begin[q->softmax];id<q->begin[q->softmax+1];id++){
const tc__node*n=tc__chain_node(q,id);
if(tc__stores_row(n))
tc__chain_mark(q,tc__chain_node(q,n->in[0]),sums,2,marked);
}
}
static void tc__share_hole(tc__producer*t,const tc__chain*q){
tc__relist*l=&t->l;
size_t nodes=q->g->body.node.count;
uint8_t*marked=TC__NEW_ARRAY(q->g->body.ctx,uint8_t,nodes);
tc__hole_words w;
if(!marked)l->failed=1;
if(!marked)return;
tc__share_mark(q,marked);
memset(&w,0,sizeof w);
w.hole=TC__HOLE_SHARE,w.width=1,w.along=TC__COL,w.made=-1;
w.buffer=tc__relist_buffer(l,TC__BUF_GIVEN,TC_F32,4);
w.row=TC__ROW,w.line=w.deep=-1;
tc__hole_open(l,&w);
for(uint32_t id=q->begin[q->softmax];id<q->begin[q->softmax+1];id++){
const tc__node*n=tc__chain_node(q,id);
if(marked[id]&&(n==q->most||n==q->sum))
tc__relist_load(l,n,w.buffer,tc__ix_const(n==q->sum));
else if(marked[id]||tc__stores_row(n))
tc__relist_copy(l,n);
}
if(q->share)tc__relist_store(l,q->share,w.buffer,tc__ix_const(2));
tc__hole_close(l);
tc__free(q->g->body.ctx,marked,nodes);
}
static int tc__chain_streamed(const tc__chain*q){
return q->softmax<0?0:q->divides?2:q->share?1:3;
}
static void tc__chain_numbers_of(const tc__chain*q,int width,int columns,int64_t*n){
const tc__group*g=q->g;
n[TC__CHAIN_ROWS]=q->rows_high,n[TC__CHAIN_COLS]=q->step;
n[TC__CHAIN_WIDE]=q->wide;
n[TC__CHAIN_DEPTH]=q->depth[0],n[TC__CHAIN_NEXT]=q->depth[1];
n[TC__CHAIN_HIGH]=q->high,n[TC__CHAIN_THREADS]=32*q->high;
n[TC__CHAIN_PACK]=4,n[TC__CHAIN_WIDTH]=width;
n[TC__CHAIN_SCORES]=tc__chain_scores(q);
n[TC__CHAIN_BARE]=q->softmax>=0&&q->bare;
n[TC__CHAIN_STREAMED]=tc__chain_streamed(q);
n[TC__CHAIN_HELD]=q->held,n[TC__CHAIN_COLUMNS]=columns;
n[TC__CHAIN_BATCHES]=!tc__ix_equals(g->shape.batch,1);
if(q->stages&&n[TC__CHAIN_BATCHES])
n[TC__CHAIN_BATCHES]=tc__ix_value(g->shape.batch);
n[TC__CHAIN_RAGGED_ROWS]=tc__template_leaves(g,q->m,q->rows_high);
n[TC__CHAIN_RAGGED_COLS]=tc__template_leaves(g,tc__depth_of(g),q->step);
n[TC__CHAIN_RAGGED_WIDE]=tc__ix_value(g->shape.cols)!=q->wide;
n[TC__CHAIN_RAGGED_NEXT]=0;
for(int i=0;i<q->inner;i++){
int64_t k=tc__ix_value(tc__depth_of(&q->part[i]));
n[i?TC__CHAIN_RAGGED_NEXT:TC__CHAIN_RAGGED_DEPTH]=k==q->depth[i]?0:k;
}
n[TC__CHAIN_BAND]=(q->band.low!=INT64_MIN)+2*(q->band.up!=INT64_MAX);
n[TC__CHAIN_LOW]=q->band.low==INT64_MIN?0:q->band.low;
n[TC__CHAIN_UP]=q->band.up==INT64_MAX?0:q->band.up;
n[TC__CHAIN_STAGES]=q->stages,n[TC__CHAIN_AHEAD]=q->ahead;
n[TC__CHAIN_SAME]=q->same;
n[TC__CHAIN_SCALE]=q->scale,n[TC__CHAIN_PAIR]=q->pair;
}
static void tc__chain_result_next(tc__producer*t,const tc__chain*q,int width){
const tc__group*whole=t->l.from;
uint32_t rows=t->rows;
t->l.from=&q->beside,t->rows=q->rows_next;
tc__result_hole(t,width,TC__HOLE_RESULT_NEXT,NULL);
t->l.from=whole,t->rows=rows;
}
static void tc__put_chain(tc__producer*t,const tc__chain*q){
tc__relist*l=&t->l;
const tc__group*g=l->from;
int64_t attr[TC__LIST_WORDS];
int width=tc__result_width(g),columns=tc__chain_columns(t,q);
if(q->stages&&width>TC__MAPPED_WIDTH)width=TC__MAPPED_WIDTH;
if(q->pair&&tc__result_width(&q->beside)<width)
width=tc__result_width(&q->beside);
attr[TC__TEMPLATE_NAME]=TC__TEMPLATE_CHAIN;
attr[TC__TEMPLATE_TICKETS]=attr[TC__TEMPLATE_SUMS]=-1;
attr[TC__TEMPLATE_SHARED]=tc__relist_buffer(l,TC__BUF_SHARED,TC_F32,q->bytes/4);
attr[TC__TEMPLATE_BLOCK]=t->j,attr[TC__TEMPLATE_ROWS]=q->m;
attr[TC__TEMPLATE_COLS]=g->shape.cols,attr[TC__TEMPLATE_DEPTH]=tc__depth_of(g);
tc__chain_numbers_of(q,width,columns,attr+TC__TEMPLATE_NUMBERS);
tc__relist_put(l,TC_OP_TEMPLATE,TC_F32,attr,
TC__TEMPLATE_NUMBERS+(uint32_t)TC__CHAIN_NUMBERS);
for(int i=0;i<q->inner;i++){
tc__chain_operand_hole(t,q,i,&q->left[i],
i?TC__HOLE_LEFT_NEXT:TC__HOLE_LEFT);
tc__chain_operand_hole(t,q,i,&q->right[i],
i?TC__HOLE_RIGHT_NEXT:TC__HOLE_RIGHT);
}
tc__chain_operand_hole(t,q,q->parts-1,&q->value,TC__HOLE_VALUE);
if(columns)tc__columns_hole(t,q);
if(q->pair)tc__score_hole(t,q,1);
tc__score_hole(t,q,0);
if(q->softmax>=0)tc__share_hole(t,q);
tc__result_hole(t,width,TC__HOLE_RESULT,NULL);
if(q->pair)tc__chain_result_next(t,q,width);
tc__relist_end(l,TC__END_BLOCK);
}
static void tc__decode_numbers_of(const tc__chain*q,int64_t*n){
const tc__group*g=q->g;
int low=q->band.low!=INT64_MIN,up=q->band.up!=INT64_MAX;
n[TC__DECODE_ROWS]=q->few,n[TC__DECODE_WIDE]=tc__ix_value(g->shape.cols);
n[TC__DECODE_DEPTH]=tc__ix_value(tc__depth_of(&q->part[0]));
n[TC__DECODE_LANES]=q->lanes,n[TC__DECODE_EACH]=TC__DECODE_KEYS;
n[TC__DECODE_THREADS]=TC__DECODE_GROUP;
n[TC__DECODE_SLICES]=q->slices,n[TC__DECODE_CLUSTER]=q->cluster!=0;
n[TC__DECODE_SINGLE]=q->single;
n[TC__DECODE_STREAMED]=tc__chain_streamed(q),n[TC__DECODE_BARE]=q->bare;
n[TC__DECODE_BATCHES]=!tc__ix_equals(g->shape.batch,1);
n[TC__DECODE_RAGGED_COLS]=
low||up||tc__template_leaves(g,tc__depth_of(g),(int64_t)q->step*q->slices);
n[TC__DECODE_BAND]=low+2*up;
n[TC__DECODE_LOW]=low?q->band.low:0;
n[TC__DECODE_UP]=up?q->band.up+tc__ix_value(q->m):0;
}
static void tc__put_decode(tc__producer*t,const tc__chain*q){
tc__relist*l=&t->l;
const tc__group*g=l->from;
int64_t attr[TC__LIST_WORDS],blocks=tc__ix_value(q->blocks);
attr[TC__TEMPLATE_NAME]=TC__TEMPLATE_DECODE;
attr[TC__TEMPLATE_TICKETS]=attr[TC__TEMPLATE_SUMS]=-1;
attr[TC__TEMPLATE_SHARED]=tc__relist_buffer(l,TC__BUF_SHARED,TC_F32,q->bytes/4);
if(q->slices>1&&!q->cluster){
attr[TC__TEMPLATE_TICKETS]=
tc__relist_buffer(l,TC__BUF_TICKET,TC_I32,blocks/q->slices);
attr[TC__TEMPLATE_SUMS]=tc__relist_buffer(
l,TC__BUF_WORK,TC_F32,blocks*tc__decode_room(q->few,q->lanes));
}
attr[TC__TEMPLATE_BLOCK]=t->j,attr[TC__TEMPLATE_ROWS]=q->m;
attr[TC__TEMPLATE_COLS]=g->shape.cols,attr[TC__TEMPLATE_DEPTH]=tc__depth_of(g);
tc__decode_numbers_of(q,attr+TC__TEMPLATE_NUMBERS);
tc__relist_put(l,TC_OP_TEMPLATE,TC_F32,attr,
TC__TEMPLATE_NUMBERS+(uint32_t)TC__DECODE_NUMBERS);
tc__chain_operand_hole(t,q,0,&q->left[0],TC__HOLE_LEFT);
tc__chain_operand_hole(t,q,0,&q->right[0],TC__HOLE_RIGHT);
tc__chain_operand_hole(t,q,q->parts-1,&q->value,TC__HOLE_VALUE);
tc__score_hole(t,q,0);
tc__share_hole(t,q);
tc__result_hole(t,1,TC__HOLE_RESULT,NULL);
tc__relist_end(l,TC__END_BLOCK);
}
static void tc__chain_launch(tc__producer*t,const tc__chain*q){
int resident=q->few?q->resident:q->stages?1:2;
tc__relist_launch(&t->l,t->q.threads,tc__product_is_narrow(t->l.from),resident,
q->few?q->cluster:0);
t->j=tc__relist_for(&t->l,(tc__axis)TC__TEMPLATE_J,TC__BIND_GRID,q->blocks);
tc__producer_threads(t);
if(q->few)
tc__put_decode(t,q);
else
tc__put_chain(t,q);
tc__producer_threads_end(t);
tc__relist_end(&t->l,TC__TEMPLATE_J),tc__relist_end(&t->l,TC__END_BLOCK);
}
static tc__group*tc__lower_chain(tc_ctx*c,const tc__group*g,const tc__chain*q){
tc__producer t;
size_t nodes=g->body.node.count;
memset(&t,0,sizeof t);
t.q.form=TC__PRODUCT_TILES,t.q.dtype=q->dtype,t.q.half=1;
t.q.threads=32*q->high+(q->stages?TC__MAP_BRINGERS:0),t.q.m=q->m;
t.rows=q->rows[q->parts-1];
int ok=tc__relist_open(&t.l,c,g);
t.held=TC__NEW_ARRAY(c,int64_t,nodes);
if(!t.held)t.l.failed=1;
for(size_t i=0;i<nodes&&t.held;i++)t.held[i]=-1;
if(ok&&!t.l.failed)tc__chain_launch(&t,q);
tc__free(c,t.held,nodes*sizeof*t.held);
return tc__relist_close(&t.l,c);
}
// ---- gen/device/verify_threads.c
enum{
TC__DEVICE_ACCESSES=256,
TC__DEVICE_THREADS=1024,
TC__DEVICE_LEFT=4,
TC__DEVICE_BOUNDS=4,
TC__DEVICE_COPIED=1,
TC__DEVICE_PUT=2
};
typedef struct tc__shared_access{
const tc__node*node;
int64_t buffer;
int reads;
tc__ix at;
int barriers;
tc__ix below[TC__DEVICE_BOUNDS];
int bounds;
int own;
}tc__shared_access;
typedef struct tc__device_verifier{
tc__verifier v;
const tc__group*k;
tc__ixpool*ix;
const tc__node*open[TC__VERIFY_DEPTH];
int before[TC__VERIFY_DEPTH];
uint32_t depth;
tc__ix axis[TC__VAR_END];
int64_t threads;
tc__ix blocks;
int barriers,count;
const tc__node*left[TC__DEVICE_LEFT];
int n_left,warps;
uint8_t*under_way;
tc__shared_access access[TC__DEVICE_ACCESSES];
}tc__device_verifier;
static int tc__device_binds_threads(const tc__node*n){
return n->op==TC_OP_FOR&&(n->attr[TC__FOR_BIND]==TC__BIND_BLOCK||
n->attr[TC__FOR_BIND]==TC__BIND_LANE);
}
static int tc__device_is_outer(const tc__node*n){
return n->op==TC_OP_LAUNCH||tc__device_binds_threads(n)||
(n->op==TC_OP_FOR&&n->attr[TC__FOR_BIND]==TC__BIND_GRID);
}
static int tc__device_is_of_all(const tc__node*n){
return tc__device_is_outer(n)||n->op==TC_OP_TEMPLATE||
(n->op==TC_OP_HOLE&&n->attr[TC__HOLE_HOLE]==TC__HOLE_ROWS);
}
static void tc__device_arrives(tc__device_verifier*d,int what){
for(size_t i=0;i<d->k->buffer.count;i++)d->under_way[i]&=(uint8_t)~what;
}
static tc__ix tc__device_expand(const tc__device_verifier*d,tc__ix e){
for(int a=0;a<(int)TC__VAR_END;a++){
tc__ix var=d->axis[a]?tc__ix_find_var(d->ix,e,(tc__axis)a):0;
if(var)e=tc__ix_subst(d->ix,e,var,d->axis[a]);
}
return e;
}
static int tc__device_verify_for(tc__device_verifier*d,const tc__node*n){
const tc__node*around=d->depth?d->open[d->depth-1]:NULL;
int64_t bind=n->attr[TC__FOR_BIND];
if(bind==TC__BIND_WORKER)return tc__verify_fail(&d->v,"a device has no workers");
if(tc__device_is_outer(n)&&!(around&&tc__device_is_outer(around)))
return tc__verify_fail(&d->v,"a loop over blocks or threads inside of another");
int fixed=bind!=TC__BIND_GRID&&bind!=TC__BIND_SERIAL;
if(fixed&&!tc__ix_is_const(n->attr[TC__FOR_END]))
return tc__verify_fail(&d->v,"its extent is known at run time only");
if(tc__device_binds_threads(n))d->threads*=tc__ix_value(n->attr[TC__FOR_END]);
if(bind==TC__BIND_GRID)
d->blocks=tc__ix_mul(d->ix,d->blocks,n->attr[TC__FOR_END]);
return 1;
}
static tc__ix tc__device_most(tc__ixpool*x,tc__ix e){
tc__ixsum s;
memset(&s,0,sizeof s);
tc__ix_sum_add(x,&s,e,1);
tc__ix most=tc__ix_const(s.base),one=tc__ix_const(1);
for(int i=0;i<s.count;i++){
tc__ixnode n=*tc__ix_node(x,s.term[i].atom[0]);
if(s.term[i].atom[1]||n.kind!=TC__IX_VAR||s.term[i].coef<0)return 0;
tc__ix last=tc__ix_sub(x,n.b,one);
most=tc__ix_add(x,most,tc__ix_mul(x,tc__ix_const(s.term[i].coef),last));
}
return most;
}
static int tc__device_is_below(tc__ixpool*x,tc__ix e,tc__ix limit){
if(tc__ix_hi(x,e)<tc__ix_lo(x,limit))return 1;
if(tc__ix_is_const(e))return 0;
tc__ixnode n=*tc__ix_node(x,e);
if(n.kind==TC__IX_MOD&&n.b==limit)return 1;
if(n.kind==TC__IX_DIV)return tc__device_is_below(x,n.a,tc__ix_mul(x,limit,n.b));
tc__ix most=tc__device_most(x,e);
return most&&tc__ix_lo(x,tc__ix_sub(x,limit,most))>=1;
}
static int tc__device_stays(const tc__ixpool*x,tc__ix p,tc__ix d,tc__ix limit){
if(tc__ix_hi(x,d)<=0)return 1;
int64_t step=tc__ix_gcd(tc__ix_divisor(x,p),tc__ix_divisor(x,limit));
return tc__ix_lo(x,d)>=0&&(tc__ix_equals(d,0)||tc__ix_hi(x,d)<step);
}
static int tc__device_adds_up(const tc__ixpool*x,tc__ix p,tc__ix below,tc__ix d,
tc__ix limit){
int64_t step=tc__ix_gcd(tc__ix_divisor(x,p),tc__ix_divisor(x,below));
if(!tc__ix_is_const(below)||!tc__ix_is_const(limit)||
tc__ix_hi(x,d)>tc__ix_value(limit))
return 0;
return tc__ix_value(below)-step+tc__ix_hi(x,d)<tc__ix_value(limit);
}
static int tc__device_at_most(tc__ixpool*x,tc__ix a,tc__ix b){
if(a==b||tc__ix_lo(x,tc__ix_sub(x,b,a))>=0)return 1;
tc__ixsum s;
memset(&s,0,sizeof s);
tc__ix_sum_add(x,&s,a,1);
if(s.base||s.count!=1||s.term[0].atom[1])return 0;
const tc__ixnode*n=tc__ix_node(x,s.term[0].atom[0]);
return n->kind==TC__IX_DIV&&n->a==b&&tc__ix_equals(n->b,s.term[0].coef);
}
static int tc__device_holds(const tc__device_verifier*d,const tc__node*n,tc__ix e,
tc__ix limit){
for(uint32_t k=0;k<n->n_attr;k+=2){
tc__ix p=tc__device_expand(d,n->attr[k]),below=n->attr[k+1];
tc__ix more=tc__ix_sub(d->ix,e,p);
if(tc__device_at_most(d->ix,below,limit)&&
tc__device_stays(d->ix,p,more,below))
return 1;
if(tc__device_adds_up(d->ix,p,below,more,limit))return 1;
}
return 0;
}
static int tc__device_is_held(const tc__device_verifier*d,tc__ix e,tc__ix limit){
for(uint32_t i=0;i<d->depth;i++)
if(d->open[i]->op==TC_OP_IF&&tc__device_holds(d,d->open[i],e,limit))
return 1;
for(int i=0;i<d->n_left;i++)
if(tc__device_holds(d,d->left[i],e,limit))return 1;
return 0;
}
static int tc__device_verify_leave(tc__device_verifier*d,const tc__node*n){
if(!tc__device_is_outer(d->open[d->depth-1])||d->n_left==TC__DEVICE_LEFT)
return tc__verify_fail(&d->v,"threads leave a launch where all of them are");
d->left[d->n_left++]=n;
return 1;
}
static int tc__device_verify_axis(tc__device_verifier*d,const tc__node*n){
tc__ix value=n->attr[TC__AXIS_VALUE],extent=n->attr[TC__AXIS_EXTENT];
tc__ix e=tc__device_expand(d,value);
if(tc__ix_lo(d->ix,value)<0)return tc__verify_fail(&d->v,"it may be negative");
if(!tc__device_is_below(d->ix,value,extent)&&
!tc__device_is_below(d->ix,e,extent)&&!tc__device_is_held(d,e,extent))
return tc__verify_fail(&d->v,"it may reach its extent");
d->axis[n->attr[TC__AXIS_AXIS]]=e;
return 1;
}
static int tc__device_turns_together(const tc__node*n){
return n->op==TC_OP_FOR&&(n->attr[TC__FOR_BIND]==TC__BIND_SERIAL||
n->attr[TC__FOR_BIND]==TC__BIND_TAKEN);
}
static int tc__device_verify_barrier(tc__device_verifier*d){
for(uint32_t i=0;i<d->depth;i++)
if(!tc__device_is_outer(d->open[i])&&!tc__device_turns_together(d->open[i]))
return tc__verify_fail(&d->v,"not all threads come here together");
if(d->n_left&&!d->v.node->n_attr)
return tc__verify_fail(&d->v,"threads of the block have left");
d->barriers+=!d->v.node->n_attr;
return 1;
}
static int tc__device_is_thread(const tc__device_verifier*d,int64_t axis){
for(size_t i=0;i<d->k->body.node.count;i++){
const tc__node*n=d->k->body.node.at[i];
if(tc__device_binds_threads(n)&&n->attr[TC__FOR_AXIS]==axis)
return tc__ix_value(n->attr[TC__FOR_END])>1;
}
return 0;
}
static int tc__device_counts_shares(const tc__device_verifier*d,int64_t axis,
int64_t share){
int64_t inside=1;
int found=0;
for(size_t i=0;i<d->k->body.node.count;i++){
const tc__node*n=d->k->body.node.at[i];
if(!tc__device_binds_threads(n))continue;
if(found)inside*=tc__ix_value(n->attr[TC__FOR_END]);
found|=n->attr[TC__FOR_AXIS]==axis;
}
return found&&inside==share;
}
static int tc__device_is_of_warps(const tc__device_verifier*d,const tc__node*n,
int64_t share){
int64_t together=share<32?32/share:1;
for(uint32_t k=0;k<n->n_attr;k+=2){
tc__ixsum s;
memset(&s,0,sizeof s);
tc__ix_sum_add(d->ix,&s,tc__device_expand(d,n->attr[k]),1);
int whole=
tc__ix_is_const(n->attr[k+1])&&!(tc__ix_value(n->attr[k+1])%together);
if((together>1&&!whole)||s.base%together)return 0;
for(int i=0;i<s.count;i++){
const tc__ixnode*v=tc__ix_node(d->ix,s.term[i].atom[0]);
int plain=v->kind==TC__IX_VAR&&!s.term[i].atom[1];
int shares=
plain&&s.term[i].coef==1&&tc__device_counts_shares(d,v->a,share);
int still=
plain&&s.term[i].coef%together==0&&!tc__device_is_thread(d,v->a);
if(!shares&&!still)return 0;
}
}
return 1;
}
static int tc__device_is_of_block(const tc__device_verifier*d,const tc__node*n){
for(uint32_t k=0;k<n->n_attr;k++)
for(int64_t a=TC__VAR0;a<(int64_t)TC__VAR_END;a++)
if(tc__device_is_thread(d,a)&&
tc__ix_uses(d->ix,tc__device_expand(d,n->attr[k]),(tc__axis)a))
return 0;
return n->op==TC_OP_IF;
}
static int tc__device_verify_combine(tc__device_verifier*d){
const tc__node*n=d->v.node;
if(n->n_attr>TC__COMBINE_THREADS&&n->attr[TC__COMBINE_THREADS]==1)return 1;
for(uint32_t i=0;i<d->depth;i++)
if(!tc__device_is_of_all(d->open[i])&&!tc__device_turns_together(d->open[i])&&
!tc__device_is_of_block(d,d->open[i])&&
!(d->open[i]->op==TC_OP_IF&&n->n_attr>TC__COMBINE_THREADS&&
n->attr[TC__COMBINE_THREADS]<=32&&
tc__device_is_of_warps(d,d->open[i],n->attr[TC__COMBINE_THREADS])))
return tc__verify_fail(&d->v,"not all threads come here together");
if(n->n_attr<=TC__COMBINE_THREADS||n->attr[TC__COMBINE_THREADS]<1)
return tc__verify_fail(&d->v,"it says of no threads");
if(n->attr[TC__COMBINE_THREADS]>32&&
(d->n_left||n->attr[TC__COMBINE_THREADS]!=d->threads))
return tc__verify_fail(&d->v,"it is not of all threads of the block");
return 1;
}
static int tc__device_verify_meet(tc__device_verifier*d){
const tc__node*n=d->v.node;
const tc__kbuf*b=&d->k->buffer.at[n->attr[TC__BEGUN_BUFFER]];
if(!tc__device_is_outer(d->open[d->depth-1])||d->n_left)
return tc__verify_fail(&d->v,"not all threads come here together");
if(b->place!=TC__BUF_TICKET||!tc__ix_equals(b->numel,TC__DEVICE_MEETING))
return tc__verify_fail(&d->v,"there is no such ticket");
if(n->op==TC_OP_BEGUN)return 1;
b=&d->k->buffer.at[n->attr[TC__MEET_OWN]];
if(b->place!=TC__BUF_SHARED||b->dtype!=TC_I32||!tc__ix_equals(b->numel,2))
return tc__verify_fail(&d->v,"the block has no two numbers of its own");
if(!tc__ix_equals(d->blocks,n->attr[TC__MEET_COUNT]))
return tc__verify_fail(&d->v,"it is not of all blocks");
tc__device_arrives(d,TC__DEVICE_PUT);
d->barriers++;
return 1;
}
static int tc__device_verify_last(tc__device_verifier*d){
const tc__node*n=d->v.node;
const tc__kbuf*b=&d->k->buffer.at[n->attr[TC__LAST_BUFFER]];
tc__ix e=tc__device_expand(d,n->attr[TC__LAST_INDEX]);
if(!tc__device_is_outer(d->open[d->depth-1])||d->n_left)
return tc__verify_fail(&d->v,"not all threads come here together");
if(b->place!=TC__BUF_TICKET||tc__ix_lo(d->ix,e)<0||
!tc__device_is_below(d->ix,e,b->numel))
return tc__verify_fail(&d->v,"there is no such ticket");
tc__device_arrives(d,TC__DEVICE_PUT);
d->barriers++;
return 1;
}
// ---- gen/device/verify_template.c
static const tc__node*tc__device_open(const tc__device_verifier*d,tc__op op){
for(uint32_t i=d->depth;i-- >0;)
if(d->open[i]->op==op)return d->open[i];
return NULL;
}
static int tc__device_verify_given(const tc__device_verifier*d,const tc__node*n){
const tc__node*hole=tc__device_open(d,TC_OP_HOLE);
return(hole&&(hole->attr[TC__HOLE_BUFFER]==n->attr[TC__ACCESS_BUFFER]||
hole->attr[TC__HOLE_MADE]==n->attr[TC__ACCESS_BUFFER]))||
tc__verify_fail(&d->v,"it is of another hole");
}
static int64_t tc__device_tiles_bytes(const int64_t*n,int64_t element,int64_t sum){
int64_t way=n[TC__TILES_WAY],pad=TC__PRODUCT_PAD;
if(way==(int64_t)TC__WAY_MMA||way>=(int64_t)TC__WAY_GROUPS)pad=0;
if(way==(int64_t)TC__WAY_SIMT)pad=n[TC__TILES_PACK];
int64_t lines=n[TC__TILES_ROWS]+n[TC__TILES_COLS]+2*pad;
int64_t ring=n[TC__TILES_STAGES]*n[TC__TILES_DEPTH]*lines*element;
int64_t part=tc__tile_part((int)way,n[TC__TILES_ROWS],n[TC__TILES_HIGH])*
(n[TC__TILES_COLS]+TC__PRODUCT_PAD)*sum;
int64_t turns=n[TC__TILES_TURNS],given=turns>1?n[TC__TILES_COLS]/turns:0;
int64_t warps=n[TC__TILES_THREADS]/32;
if(n[TC__TILES_RELAY])
return ring+tc__tile_spare((int)way,(int)n[TC__TILES_STAGES],0,0)+
tc__relay_bytes(n[TC__TILES_ROWS],n[TC__TILES_COLS],warps);
return(ring>part?ring:part)+
tc__tile_spare((int)way,(int)n[TC__TILES_STAGES],warps,given);
}
static int64_t tc__device_skinny_bytes(const int64_t*n,int64_t sum){
int64_t parts=
(n[TC__SKINNY_DOT]?n[TC__SKINNY_SHARING]:n[TC__SKINNY_THREADS])/32;
if(!parts)parts=1;
return parts*n[TC__SKINNY_FEW]*n[TC__SKINNY_COVER]*sum;
}
static int64_t tc__device_chain_bytes(const int64_t*n){
int64_t depth=n[TC__CHAIN_DEPTH]+n[TC__CHAIN_NEXT],wide=n[TC__CHAIN_WIDE];
if(n[TC__CHAIN_STAGES])
return tc__mapped_chain_bytes(
n[TC__CHAIN_ROWS]*n[TC__CHAIN_AHEAD],n[TC__CHAIN_COLS],depth,
n[TC__CHAIN_SAME]?0:wide,n[TC__CHAIN_STAGES],n[TC__CHAIN_COLUMNS]);
int64_t ring=2*(n[TC__CHAIN_ROWS]*depth+2*n[TC__CHAIN_COLS]*(depth+wide)),
part=4*n[TC__CHAIN_HIGH]*16*(wide+TC__PRODUCT_PAD);
return ring>part?ring:part;
}
typedef struct tc__template_facts{
int64_t bytes,sums,threads,slices;
int64_t rows,cols,batches;
int64_t cluster;
int near;
int total;
int64_t left,
tickets;
}tc__template_facts;
static tc__template_facts tc__device_template_facts(const tc__node*n,int64_t element){
const int64_t*number=n->attr+TC__TEMPLATE_NUMBERS;
int64_t sum=(int64_t)tc__dtypes[n->dtype].bytes;
tc__template_facts f;
f.cluster=1,f.near=f.total=0,f.left=f.tickets=0;
if(n->attr[TC__TEMPLATE_NAME]==TC__TEMPLATE_TILES){
f.bytes=tc__device_tiles_bytes(number,element,sum);
f.threads=number[TC__TILES_THREADS],f.slices=number[TC__TILES_SLICES];
f.sums=number[TC__TILES_ROWS]*number[TC__TILES_COLS]/f.threads;
f.rows=number[TC__TILES_ROWS],f.cols=number[TC__TILES_COLS];
f.total=number[TC__TILES_TOTAL]!=0;
if(f.total)f.left=f.rows,f.tickets=f.rows/TC__MAP_LINE;
f.batches=number[TC__TILES_BATCHES],f.cluster=number[TC__TILES_CLUSTER];
}else if(n->attr[TC__TEMPLATE_NAME]==TC__TEMPLATE_CHAIN){
f.bytes=tc__device_chain_bytes(number);
f.threads=number[TC__CHAIN_THREADS],f.slices=1,f.sums=0;
f.rows=number[TC__CHAIN_ROWS],f.cols=number[TC__CHAIN_WIDE];
f.batches=number[TC__CHAIN_BATCHES];
}else if(n->attr[TC__TEMPLATE_NAME]==TC__TEMPLATE_DECODE){
int64_t rows=number[TC__DECODE_ROWS],lanes=number[TC__DECODE_LANES];
f.threads=number[TC__DECODE_THREADS],f.slices=number[TC__DECODE_SLICES];
f.bytes=tc__decode_bytes(rows,lanes,f.threads,
number[TC__DECODE_CLUSTER]?f.slices:0);
f.near=number[TC__DECODE_CLUSTER]!=0;
f.sums=0,f.left=tc__decode_room(rows,lanes),f.tickets=1;
f.rows=rows,f.cols=8*lanes,f.batches=number[TC__DECODE_BATCHES];
}else{
f.bytes=tc__device_skinny_bytes(number,sum);
f.threads=number[TC__SKINNY_THREADS],f.slices=number[TC__SKINNY_SLICES];
f.sums=number[TC__SKINNY_FEW]*
number[number[TC__SKINNY_DOT]?TC__SKINNY_EACH:TC__SKINNY_WIDTH];
int by_rows=number[TC__SKINNY_BY_ROWS]!=0;
f.rows=number[by_rows?TC__SKINNY_COVER:TC__SKINNY_FEW];
f.cols=number[by_rows?TC__SKINNY_FEW:TC__SKINNY_COVER];
f.batches=number[TC__SKINNY_BATCHES];
}
return f;
}
static uint32_t tc__device_holes(const tc__device_verifier*d,const tc__node*n){
uint32_t holes=0,end=tc__loop_end(d->k,n->id);
for(uint32_t id=n->id+1;id<end;id=tc__loop_end(d->k,id)+1){
const tc__node*hole=d->k->body.node.at[id];
if(hole->op!=TC_OP_HOLE||hole->attr[TC__HOLE_HOLE]<0||
hole->attr[TC__HOLE_HOLE]>(int64_t)TC__HOLE_TOTAL||
holes>>hole->attr[TC__HOLE_HOLE]&1)
return 0;
holes|=(uint32_t)1<<hole->attr[TC__HOLE_HOLE];
}
return holes;
}
static const tc__node*tc__device_hole(const tc__device_verifier*d,const tc__node*n,
tc__hole hole){
uint32_t id=n->id+1;
while(d->k->body.node.at[id]->attr[TC__HOLE_HOLE]!=(int64_t)hole)
id=tc__loop_end(d->k,id)+1;
return d->k->body.node.at[id];
}
static uint32_t tc__device_holes_due(const tc__node*n){
const int64_t*number=n->attr+TC__TEMPLATE_NUMBERS;
uint32_t due=1<<TC__HOLE_LEFT|1<<TC__HOLE_RIGHT|1<<TC__HOLE_RESULT;
int tiles=n->attr[TC__TEMPLATE_NAME]==TC__TEMPLATE_TILES;
if(n->attr[TC__TEMPLATE_NAME]==TC__TEMPLATE_CHAIN){
due|=1<<TC__HOLE_VALUE|1<<TC__HOLE_SCORE;
if(number[TC__CHAIN_NEXT])
due|=1<<TC__HOLE_LEFT_NEXT|1<<TC__HOLE_RIGHT_NEXT;
if(number[TC__CHAIN_COLUMNS])due|=1<<TC__HOLE_COLUMNS;
if(number[TC__CHAIN_STREAMED])due|=1<<TC__HOLE_SHARE;
if(number[TC__CHAIN_PAIR])
due|=1<<TC__HOLE_SCORE_NEXT|1<<TC__HOLE_RESULT_NEXT;
return due;
}
if(n->attr[TC__TEMPLATE_NAME]==TC__TEMPLATE_DECODE)
return due|1<<TC__HOLE_VALUE|1<<TC__HOLE_SCORE|1<<TC__HOLE_SHARE;
if(tiles&&number[TC__TILES_RELAY])due|=1<<TC__HOLE_ROUNDED;
if(tiles&&number[TC__TILES_TOTAL])due|=1<<TC__HOLE_TOTAL;
if(tiles&&number[TC__TILES_WAY]==(int64_t)TC__WAY_SPLIT)
due|=1<<TC__HOLE_LEFT_ONE|1<<TC__HOLE_RIGHT_ONE;
if(!tiles&&number[TC__SKINNY_AHEAD])due|=1<<TC__HOLE_AHEAD;
if(!tiles&&number[TC__SKINNY_EARLY])due|=1<<TC__HOLE_EARLY;
if(!tiles&&number[TC__SKINNY_MAKING])due|=1<<TC__HOLE_ROWS;
return due;
}
static int tc__device_covers(const tc__device_verifier*d,const tc__node*n,
const tc__template_facts*f){
tc__ix rows=n->attr[TC__TEMPLATE_ROWS],cols=n->attr[TC__TEMPLATE_COLS];
if(!tc__ix_is_const(rows)||!tc__ix_is_const(cols)||!tc__ix_is_const(d->blocks))
return 1;
int64_t high=(tc__ix_value(rows)-1)/f->rows+1,blocks=tc__ix_value(d->blocks),
product=high*((tc__ix_value(cols)-1)/f->cols+1)*f->slices;
if(f->cluster<1||high%f->cluster)return 0;
return product>0&&blocks%product==0&&(f->batches||blocks==product);
}
static int tc__device_has_slices(const tc__device_verifier*d,const tc__node*n,
const tc__template_facts*f){
int64_t tickets=n->attr[TC__TEMPLATE_TICKETS],sums=n->attr[TC__TEMPLATE_SUMS];
if((f->slices==1&&!f->total)||f->near)return 1;
if(f->slices>1&&f->total)return 0;
if(tickets<0||sums<0||!tc__ix_is_const(d->blocks))return 0;
int64_t shares=tc__ix_value(d->blocks)/f->slices;
const tc__kbuf*t=&d->k->buffer.at[tickets],*w=&d->k->buffer.at[sums];
return t->place==TC__BUF_TICKET&&w->place==TC__BUF_WORK&&
tc__ix_lo(d->ix,t->numel)>=
shares*(f->tickets?f->tickets:f->slices+1)&&
tc__ix_lo(d->ix,w->numel)>=
shares*f->slices*(f->left?f->left:f->threads*f->sums);
}
static int tc__device_is_template(const tc__node*n){
int64_t name=n->attr[TC__TEMPLATE_NAME];
return name>=0&&name<(int64_t)TC__TEMPLATES&&
n->n_attr==TC__TEMPLATE_NUMBERS+tc__template_words[name].count;
}
static int tc__device_has_maps(const tc__device_verifier*d,const tc__node*n){
uint32_t end=tc__loop_end(d->k,n->id);
for(uint32_t id=n->id+1;id<end;id=tc__loop_end(d->k,id)+1){
const tc__node*hole=d->k->body.node.at[id];
tc_device_map m;
if(tc__hole_is_mapped(n,hole)&&!tc__template_map(d->k,n,hole,&m))return 0;
}
return 1;
}
static int tc__device_verify_template(const tc__device_verifier*d){
const tc__node*n=d->v.node;
if(!tc__device_is_template(n))return tc__verify_fail(&d->v,"no such template");
uint32_t holes=tc__device_holes(d,n);
if(!tc__device_is_outer(d->open[d->depth-2])||d->n_left)
return tc__verify_fail(&d->v,"not all threads come here together");
if(!holes||holes!=tc__device_holes_due(n))
return tc__verify_fail(&d->v,"its holes are not those of %s",
tc__template_names[n->attr[TC__TEMPLATE_NAME]]);
const tc__node*left=tc__device_hole(d,n,TC__HOLE_LEFT);
const tc__kbuf*given=&d->k->buffer.at[left->attr[TC__HOLE_BUFFER]],
*shared=&d->k->buffer.at[n->attr[TC__TEMPLATE_SHARED]];
tc__template_facts f=
tc__device_template_facts(n,(int64_t)tc__dtypes[given->dtype].bytes);
if(f.threads+(tc__template_is_mapped(n)?TC__MAP_BRINGERS:0)!=d->threads)
return tc__verify_fail(&d->v,"it is for %lld threads",(long long)f.threads);
if(shared->place!=TC__BUF_SHARED||
tc__ix_lo(d->ix,shared->numel)*(int64_t)tc__dtypes[shared->dtype].bytes<
f.bytes)
return tc__verify_fail(&d->v,"it needs %lld bytes of a block",(long long)f.bytes);
if(!tc__device_covers(d,n,&f))
return tc__verify_fail(&d->v,"its blocks are not those of the result");
if(tc__template_is_mapped(n)&&!tc__device_has_maps(d,n))
return tc__verify_fail(&d->v,"there is no map of an operand");
return tc__device_has_slices(d,n,&f)||
tc__verify_fail(&d->v,"blocks cannot leave their sums");
}
static int tc__device_is_stepped(const tc__device_verifier*d,const tc__node*n,
int64_t axis,int64_t stride){
const tc__node*around=tc__device_open(d,TC_OP_TEMPLATE);
tc__ixrun run=tc__ix_run(d->ix,d->k->body.node.at[n->id+1]->attr[TC__COPY_SOURCE],
(tc__axis)axis);
return run.ok&&tc__ix_equals(run.stride,stride)&&
(run.run==INT64_MAX||
tc__ix_equals(around->attr[TC__TEMPLATE_ROWS],run.run));
}
static int tc__device_verify_hole(tc__device_verifier*d){
const tc__node*n=d->v.node;
for(int i=TC__HOLE_ROW;i<=(int)TC__HOLE_DEEP;i++)
if(n->attr[i]>=0)d->axis[n->attr[i]]=0;
uint32_t end=tc__loop_end(d->k,n->id);
int address=
n->attr[TC__HOLE_BRING]==TC__BRING_ASYNC||n->attr[TC__HOLE_DEEP_STRIDE];
if(d->open[d->depth-2]->op!=TC_OP_TEMPLATE)
return tc__verify_fail(&d->v,"no template is around");
if(address&&(end!=n->id+2||d->k->body.node.at[n->id+1]->op!=TC_OP_COPY))
return tc__verify_fail(&d->v,"it gives an address of more than a copy");
if(n->attr[TC__HOLE_DEEP_STRIDE]&&
!(tc__device_is_stepped(d,n,n->attr[TC__HOLE_LINE],
n->attr[TC__HOLE_LINE_STRIDE])&&
tc__device_is_stepped(d,n,n->attr[TC__HOLE_DEEP],
n->attr[TC__HOLE_DEEP_STRIDE])))
return tc__verify_fail(&d->v,"its accesses do not lie so far apart");
for(uint32_t id=n->id;id<end;id++){
const tc__node*m=d->k->body.node.at[id];
if(n->attr[TC__HOLE_HOLE]<(int64_t)TC__HOLE_ROWS&&m->op==TC_OP_STORE&&
tc__is_memory(tc__buffer_of(d->k,m)))
return tc__verify_fail(&d->v,"an operand is stored to memory");
}
return 1;
}
// ---- gen/device/verify.c
static int tc__device_is_unrolled(const tc__device_verifier*d,tc__ix e){
for(uint32_t i=0;i<d->depth;i++){
const tc__node*n=d->open[i];
if(n->op!=TC_OP_FOR||n->attr[TC__FOR_BIND]==TC__BIND_UNROLL||
n->attr[TC__FOR_BIND]==TC__BIND_VECTOR)
continue;
if(tc__ix_uses(d->ix,e,(tc__axis)n->attr[TC__FOR_AXIS]))return 0;
}
return!tc__ix_has_val(d->ix,e);
}
static uint32_t tc__device_zeros(tc__ixpool*x,tc__ix e){
tc__ixsum s;
uint32_t zero=0;
memset(&s,0,sizeof s);
tc__ix_sum_add(x,&s,e,1);
for(int i=0;i<s.count;i++){
const tc__ixnode*n=tc__ix_node(x,s.term[i].atom[0]);
if(s.term[i].atom[1]||n->kind!=TC__IX_VAR||s.term[i].coef<0)return 0;
zero|=(uint32_t)1<<n->a;
}
return s.base?0:zero;
}
static uint32_t tc__device_pinned(const tc__device_verifier*d){
uint32_t zero=0;
for(uint32_t i=0;i<d->depth;i++){
const tc__node*n=d->open[i];
for(uint32_t k=0;n->op==TC_OP_IF&&k<n->n_attr;k+=2)
if(tc__ix_equals(n->attr[k+1],1))
zero|=tc__device_zeros(d->ix,tc__device_expand(d,n->attr[k]));
}
return zero;
}
static void tc__device_gaps(const tc__device_verifier*d,tc__ixsum*s,tc__ix*gaps,
int64_t*wider){
*gaps=tc__ix_const(0);
for(int i=0;i<s->count;i++){
const tc__ixterm t=s->term[i];
const tc__ixnode n=*tc__ix_node(d->ix,t.atom[0]);
int of=0;
if(t.atom[1]||t.coef<0||n.kind!=TC__IX_DIV||tc__ix_is_const(n.a)||
tc__ix_node(d->ix,n.a)->kind!=TC__IX_VAR)
continue;
while(of<s->count&&
(s->term[of].atom[0]!=n.a||s->term[of].atom[1]||s->term[of].coef<=0))
of++;
if(of==s->count)continue;
*gaps=
tc__ix_add(d->ix,*gaps,tc__ix_mul(d->ix,tc__ix_const(t.coef),t.atom[0]));
wider[tc__ix_node(d->ix,n.a)->a]+=t.coef*n.hi;
s->term[i--]=s->term[--s->count];
}
}
static int tc__device_is_own(const tc__device_verifier*d,tc__ix e){
tc__ixsum s;
int64_t below=0;
uint32_t named=tc__device_pinned(d);
int64_t wider[TC__VAR_END]={0};
tc__ix part=tc__ix_const(0),gaps;
memset(&s,0,sizeof s);
tc__ix_sum_add(d->ix,&s,e,1);
tc__device_gaps(d,&s,&gaps,wider);
for(int left=s.count;left;left--){
int least=0;
for(int i=1;i<s.count;i++)
if(s.term[i].coef&&
(!s.term[least].coef||s.term[i].coef<s.term[least].coef))
least=i;
const tc__ixterm t=s.term[least];
const tc__ixnode n=*tc__ix_node(d->ix,t.atom[0]);
s.term[least].coef=0;
if(t.atom[1]||n.kind!=TC__IX_VAR)return 0;
if(t.coef<0)return 0;
if(!n.hi)continue;
if(t.coef<=below&&!tc__device_is_held(d,part,tc__ix_const(t.coef)))return 0;
if(t.coef<=below)below=t.coef-1;
below+=t.coef*n.hi+wider[n.a],named|=(uint32_t)1<<n.a;
part=tc__ix_add(d->ix,part,tc__ix_mul(d->ix,tc__ix_const(t.coef),t.atom[0]));
}
for(int64_t a=TC__VAR0;a<(int64_t)TC__VAR_END;a++)
if(tc__device_is_thread(d,a)&&!(named>>a&1))return 0;
return 1;
}
static void tc__device_bounds(const tc__device_verifier*d,tc__shared_access*a){
a->bounds=0;
for(uint32_t i=0;i<d->depth;i++){
const tc__node*n=d->open[i];
for(uint32_t k=0;n->op==TC_OP_IF&&k<n->n_attr;k+=2)
if(a->bounds<TC__DEVICE_BOUNDS&&
tc__device_holds(d,n,a->at,n->attr[k+1]))
a->below[a->bounds++]=n->attr[k+1];
}
}
static int tc__device_is_before(const tc__device_verifier*d,const tc__shared_access*a,
const tc__shared_access*b){
for(int i=0;i<a->bounds;i++)
if(tc__ix_lo(d->ix,tc__ix_sub(d->ix,b->at,a->below[i]))>=0)return 1;
return 0;
}
static int tc__device_reads(const tc__node*n){
return n->op==TC_OP_LOAD||n->op==TC_OP_GET;
}
static int tc__device_verify_place(tc__device_verifier*d,const tc__node*n,
int64_t buffer,tc__ix index,int reads){
const tc__kbuf*b=&d->k->buffer.at[buffer];
if(reads&&d->under_way[buffer]&TC__DEVICE_COPIED)
return tc__verify_fail(&d->v,"nobody waited for what is copied there");
if(tc__is_memory(b))return 1;
int64_t more=n->op==TC_OP_COPY?n->attr[TC__COPY_ELEMENTS]-1:0;
tc__ix own=tc__ix_add(d->ix,index,tc__ix_const(more));
tc__ix e=tc__device_expand(d,own);
int inside=tc__device_is_below(d->ix,own,b->numel)||
tc__device_is_below(d->ix,e,b->numel)||
tc__device_is_held(d,e,b->numel);
if((tc__ix_lo(d->ix,own)<more&&tc__ix_lo(d->ix,e)<more)||!inside)
return tc__verify_fail(&d->v,"its index leaves the %s",
b->place==TC__BUF_SHARED?"shared memory"
:b->place==TC__BUF_WORK?"workspace"
:"registers");
if(b->place==TC__BUF_GIVEN)return tc__device_verify_given(d,n);
if(b->place==TC__BUF_WORK||b->place==TC__BUF_LOCAL)return 1;
if(b->place==TC__BUF_REGISTER)
return tc__device_is_unrolled(d,e)||
tc__verify_fail(&d->v,"a register has no address");
if(d->count==TC__DEVICE_ACCESSES)
return tc__verify_fail(&d->v,"too many accesses to shared memory");
tc__shared_access*a=&d->access[d->count++];
a->node=n,a->buffer=buffer,a->reads=reads;
a->at=tc__ix_sub(d->ix,e,tc__ix_const(more)),a->barriers=d->barriers;
a->own=tc__device_is_own(d,a->at);
tc__device_bounds(d,a);
return 1;
}
static int tc__device_verify_access(tc__device_verifier*d,const tc__node*n){
int64_t buffer=n->attr[TC__ACCESS_BUFFER];
const tc__kbuf*b=&d->k->buffer.at[buffer];
uint8_t*way=&d->under_way[buffer];
if(n->op==TC_OP_COPY&&n->n_attr>TC__COPY_PREDICATES&&b->place!=TC__BUF_GIVEN)
return tc__verify_fail(&d->v,"only a hole's copy has predicates");
if(n->op==TC_OP_COPY&&
!tc__device_verify_place(d,n,n->attr[TC__COPY_FROM],n->attr[TC__COPY_SOURCE],1))
return 0;
if(n->op==TC_OP_COPY&&b->place==TC__BUF_SHARED)*way|=TC__DEVICE_COPIED;
if(n->op==TC_OP_PUT&&b->place==TC__BUF_WORK)*way|=TC__DEVICE_PUT;
if(n->op==TC_OP_GET&&*way&TC__DEVICE_PUT)
return tc__verify_fail(&d->v,"other blocks may not have written it yet");
return tc__device_verify_place(d,n,buffer,n->attr[TC__ACCESS_INDEX],
tc__device_reads(n));
}
static int tc__device_verify_move(tc__device_verifier*d,const tc__node*n){
const tc__kbuf*b=&d->k->buffer.at[n->attr[TC__PUT_BUFFER]];
if(n->n_attr>TC__PUT_PLACES){
const tc__kbuf*places=&d->k->buffer.at[n->attr[TC__PUT_PLACES]];
if(places->place!=b->place||places->numel!=b->numel)
return tc__verify_fail(&d->v,"values and places differ in number");
}
return tc__device_verify_access(d,n);
}
static int64_t tc__device_dealt(const tc__device_verifier*d,tc__ix e,tc__ix*gaps){
tc__ixsum s;
int64_t a=0,low=0,wider[TC__VAR_END]={0};
memset(&s,0,sizeof s);
tc__ix_sum_add(d->ix,&s,e,1);
tc__device_gaps(d,&s,gaps,wider);
for(int i=0;i<s.count;i++){
const tc__ixnode*n=tc__ix_node(d->ix,s.term[i].atom[0]);
if(n->kind!=TC__IX_VAR||s.term[i].atom[1]||!tc__device_is_thread(d,n->a)||
n->hi+1!=d->threads)
continue;
a=s.term[i].coef;
wider[n->a]=0;
}
int64_t period=tc__ix_equals(*gaps,0)?a*d->threads:INT64_MAX;
for(int i=0;i<s.count&&a>0;i++){
const tc__ixnode*n=tc__ix_node(d->ix,s.term[i].atom[0]);
if(s.term[i].coef==a||s.term[i].coef%period==0)continue;
if(s.term[i].coef<0||s.term[i].atom[1])return 0;
if(n->kind==TC__IX_VAR&&wider[n->a])return 0;
low+=s.term[i].coef*n->hi;
}
int inside=a>0&&s.base>=0&&low+s.base%period<a;
return inside?a:0;
}
static int tc__device_verify_shared(tc__device_verifier*d){
for(int i=0;i<d->count;i++)
for(int k=0;k<=i;k++){
const tc__shared_access*a=&d->access[i],*b=&d->access[k];
int writes=!a->reads||!b->reads;
if(!writes||a->barriers!=b->barriers||a->buffer!=b->buffer)continue;
d->v.node=a->node;
int own=a->at==b->at&&a->own&&b->own;
tc__ix gaps,others;
int64_t dealt=tc__device_dealt(d,a->at,&gaps);
if(dealt!=tc__device_dealt(d,b->at,&others)||gaps!=others)dealt=0;
if(!own&&!dealt&&!tc__device_is_before(d,a,b)&&
!tc__device_is_before(d,b,a))
return tc__verify_fail(&d->v,"another thread may meet it: %%%u",
(unsigned)b->node->id);
}
return 1;
}
static int tc__device_verify_turn(tc__device_verifier*d,const tc__node*loop){
const tc__node*last=d->k->body.node.at[d->v.node->id-1];
int apart=d->barriers>d->before[d->depth];
int combined=tc__device_meetings(d->k,loop->id,d->v.node->id);
int met=apart||combined;
d->barriers=d->before[d->depth];
if(!met||(!apart&&combined>1)||loop->attr[TC__FOR_BIND]==TC__BIND_TAKEN||
(last->op==TC_OP_BARRIER&&!last->n_attr))
return 1;
return tc__verify_fail(&d->v,"threads may be in two turns of the loop");
}
static int tc__device_verify_end(tc__device_verifier*d){
const tc__node*n=d->open[--d->depth];
if(tc__device_turns_together(n)&&!tc__device_verify_turn(d,n))return 0;
d->barriers+=n->op==TC_OP_HOLE&&n->attr[TC__HOLE_HOLE]==TC__HOLE_ROWS;
if(n->op!=TC_OP_LAUNCH)return 1;
int ok=d->threads==n->attr[TC__LAUNCH_THREADS]&&d->threads<=TC__DEVICE_THREADS;
if(!ok)
return tc__verify_fail(&d->v,"its loops have %lld threads",(long long)d->threads);
return tc__device_verify_shared(d);
}
static int tc__device_verify_node(tc__device_verifier*d,const tc__node*n){
d->v.node=n;
if(n->op==TC_OP_LAUNCH)
d->threads=1,d->blocks=tc__ix_const(1),d->barriers=d->count=d->n_left=0;
if(n->op==TC_OP_LAUNCH)tc__device_arrives(d,TC__DEVICE_COPIED|TC__DEVICE_PUT);
if(!d->depth&&n->op!=TC_OP_LAUNCH&&n->op!=TC_OP_CONST&&n->op!=TC_OP_ARG)
return tc__verify_fail(&d->v,"it is in no launch");
if(n->op==TC_OP_FOR&&!tc__device_verify_for(d,n))return 0;
if(tc__opens(n))d->before[d->depth]=d->barriers,d->open[d->depth++]=n;
switch(n->op){
case TC_OP_AXIS:return tc__device_verify_axis(d,n);
case TC_OP_BARRIER:return tc__device_verify_barrier(d);
case TC_OP_ELSE:d->open[d->depth-1]=n;return 1;
case TC_OP_LEAVE:return tc__device_verify_leave(d,n);
case TC_OP_WAIT:tc__device_arrives(d,TC__DEVICE_COPIED);return 1;
case TC_OP_COMBINE:return tc__device_verify_combine(d);
case TC_OP_LAST:return tc__device_verify_last(d);
case TC_OP_BEGUN:
case TC_OP_MEET:return tc__device_verify_meet(d);
case TC_OP_TEMPLATE:return tc__device_verify_template(d);
case TC_OP_HOLE:return tc__device_verify_hole(d);
case TC_OP_PUT:
case TC_OP_GET:return tc__device_verify_move(d,n);
case TC_OP_COPY:
case TC_OP_LOAD:
case TC_OP_STORE:return tc__device_verify_access(d,n);
case TC_OP_END:return tc__device_verify_end(d);
default:return 1;
}
}
static int tc__verify_device(tc_ctx*c,const tc__group*k){
tc__device_verifier*d=TC__NEW(c,tc__device_verifier);
uint8_t*under_way=TC__NEW_ARRAY(c,uint8_t,k->buffer.count);
int ok=d&&under_way;
if(ok)
d->v.ctx=c,d->v.g=&k->body,d->k=k,d->ix=k->body.ix,
d->under_way=under_way;
for(size_t i=0;ok&&i<k->body.node.count;i++)
ok=tc__device_verify_node(d,k->body.node.at[i]);
TC__FREE_ARRAY(c,under_way,k->buffer.count);
tc__free(c,d,sizeof*d);
return ok;
}
// ---- gen/device/lower.c
static int tc__device_turns(const tc__group*g){
return!g->shape.list&&tc__device_is_tile(g);
}
static tc__group*tc__lower_pointwise(tc_ctx*c,const tc__group*g){
tc__windows w;
if(tc__device_turns(g))return tc__lower_tile(c,g);
if(tc__windows_of(g,&w))return tc__lower_windows(c,g,&w);
return tc__lower_flat(c,g);
}
static tc__group*tc__lower_sums(tc_ctx*c,const tc__group*g){
if(tc__down_begin(g))return tc__lower_down(c,g);
tc__device_plan q=tc__device_plan_of(g);
return q.form==TC__DEVICE_COLUMNS?tc__lower_columns(c,g,&q)
:tc__lower_rows(c,g,&q);
}
static tc__group*tc__lower_chained(tc_ctx*c,const tc__group*g){
tc__chain chain;
return tc__chain_of(g,&chain)?tc__lower_chain(c,g,&chain)
:tc__lower_product(c,g);
}
static tc__takes tc__device_takes_rows(const tc__group*g){
tc__chain chain;
if(tc__chain_of(g,&chain)&&tc__chain_pays(&chain))return TC__TAKES;
if(tc__count_contractions(g)<2&&g->shape.kind==TC__CONTRACTION)
return tc__device_makes_rows(g)?TC__TAKES:TC__TAKES_NOT;
return tc__chain_begins(g)?TC__TAKES_WITH_READER:TC__TAKES_NOT;
}
static int tc__device_takes_beside(const tc__group*g){
tc__chain chain;
return tc__chain_of(g,&chain)&&chain.pair;
}
static int tc__device_knob_fits(const tc__group*g,int knob,int v){
tc__windows w;
if(g->shape.kind==TC__CONTRACTION)
return tc__count_contractions(g)==1&&
((knob==TC__KNOB_PRODUCT_TILE&&tc__product_tile_fits(g,v))||
(knob==TC__KNOB_RELAY&&tc__product_relay_fits(g,v)));
return g->shape.kind==TC__POINTWISE&&!tc__device_turns(g)&&
!tc__windows_of(g,&w)&&tc__flat_knob_fits(g,knob,v);
}
static tc__group*tc__lower_device(tc_ctx*c,const tc__group*g){
tc__group*k=g->shape.kind==TC__POINTWISE?tc__lower_pointwise(c,g)
:g->shape.kind==TC__CONTRACTION?tc__lower_chained(c,g)
:tc__lower_sums(c,g);
if(!k||!TC__DEBUG||(tc__verify(c,&k->body,TC__LOOP)&&tc__verify_device(c,k)))
return k;
tc__group_free(c,k);
return NULL;
}
static void tc__device_maps(const tc__group*k,const tc__node*n,tc__grids*out){
uint32_t end=tc__loop_end(k,n->id);
for(uint32_t id=n->id+1;id<end;id=tc__loop_end(k,id)+1)
if(tc__hole_is_mapped(n,k->body.node.at[id]))
(void)tc__template_map(k,n,k->body.node.at[id],&out->map[out->maps++]);
}
static int tc__device_is_beside(const tc__group*k){
int skinny=0,other=0;
for(size_t i=0;i<k->body.node.count;i++){
const tc__node*n=k->body.node.at[i];
int is_template=n->op==TC_OP_TEMPLATE;
skinny+=is_template&&n->attr[TC__TEMPLATE_NAME]==TC__TEMPLATE_SKINNY;
other+=is_template||n->op==TC_OP_LAUNCH||n->op==TC_OP_CHECK;
}
return skinny==1&&other==2&&!k->shape.list&&!k->target.guarded&&
!k->target.checked&&!k->target.loop&&k->buffer.count<=64;
}
static uint64_t tc__device_read_first(const tc__group*k){
uint64_t first=0;
uint32_t result=0;
for(uint32_t id=0;id<k->body.node.count;id++){
const tc__node*n=k->body.node.at[id];
if(n->op==TC_OP_HOLE&&n->attr[TC__HOLE_HOLE]==TC__HOLE_RESULT)
result=tc__loop_end(k,id);
if(id<result)continue;
if(n->op==TC_OP_LOAD)first|=(uint64_t)1<<n->attr[TC__LOAD_BUFFER];
if(n->op==TC_OP_COPY)first|=(uint64_t)1<<n->attr[TC__COPY_FROM];
}
return first;
}
static void tc__device_grids(const tc__group*k,tc__grids*out){
tc__ixpool*x=k->body.ix;
int resident=0;
out->workspace=tc__device_work_at(k,k->buffer.count);
out->zeroed=tc__device_zeroed(k);
out->beside=tc__device_is_beside(k);
if(out->beside)out->first=tc__device_read_first(k);
for(size_t i=0;i<k->body.node.count;i++){
const tc__node*n=k->body.node.at[i];
tc__grid*grid=&out->at[out->count?out->count-1:0];
if(n->op==TC_OP_LAUNCH){
grid=&out->at[out->count++],resident=(int)n->attr[TC__LAUNCH_RESIDENT];
grid->threads=(int)n->attr[TC__LAUNCH_THREADS],grid->early=1;
grid->blocks=tc__ix_const(1);
grid->cluster=
n->n_attr>TC__LAUNCH_CLUSTER?(int)n->attr[TC__LAUNCH_CLUSTER]:0;
grid->shared=tc__ix_const(0);
if(tc__device_is_dynamic(k))
grid->shared=tc__ix_add(x,tc__device_shared_at(k,k->buffer.count),
tc__ix_const(tc__device_parts_bytes(
k,n->id,(uint32_t)k->body.node.count)));
}
if(n->op==TC_OP_FOR&&n->attr[TC__FOR_BIND]==TC__BIND_GRID)
grid->blocks=tc__ix_mul(x,grid->blocks,n->attr[TC__FOR_END]);
if(tc__template_is_mapped(n))grid->waves=resident,tc__device_maps(k,n,out);
}
}
// ---- gen/cuda_print/opaque_plan.c
typedef enum tc__opaque_step{
TC__SCAN_LINES,
TC__SCAN_ROWS,
TC__SCAN_TILES,
TC__SORT_ROWS,
TC__SORT_COUNT,
TC__SORT_FIRST,
TC__SORT_NEXT,
TC__SORT_LAST,
TC__TOP_ROWS,
TC__SCATTER_MARK,
TC__SCATTER_TAKE,
TC__SCATTER_SUM,
TC__RANK_INDICES,
TC__ADD_RUNS,
TC__OPAQUE_COPY,
TC__OPAQUE_CLEAR,
TC__CUSTOM_CALL,
TC__CUSTOM_BOOLS
}tc__opaque_step;
enum{
TC__OPAQUE_THREADS=256,
TC__OPAQUE_RESIDENT=2,
TC__OPAQUE_BUSY=264,
TC__LINE_STEPS=8,
TC__TILE_ACCESSES=1024,
TC__TILES_LEAST=8,
TC__TILE_GROUP=32,
TC__OPAQUE_HEAD=64,
TC__SORT_TILE=32768,
TC__SORT_FEW=32,
TC__TOP_THREADS=512,
TC__SORT_WAVES=4,
TC__TOP_MOST=16384,
TC__TOP_LONG=65536,
TC__TOP_FEW=16,
TC__SUM_ROWS=8,
TC__RANK_THREADS=1024,
TC__RANK_OWN=64,
TC__RANK_MOST=16,
TC__RANK_WINDOWS=8,
TC__RANK_FILL=128,
TC__RANK_FIXED=8192,
TC__RUN_THREADS=96,
TC__RUN_SPAN=768,
TC__RUN_BYTES=128,
TC__CUSTOM_WAVES=8
};
typedef struct tc__opaque_plan{
const tc__node*call;
tc__op op;
int dtype;
tc__ix rows,
n;
tc__ix k;
tc__ix lines,
m;
int width;
int piece;
int across;
int window;
int each;
int digits;
int tile;
int most;
int items;
int bits;
int wide;
int filled;
int mixed;
tc__ix sorts,keys;
int count;
tc__opaque_step step[TC__GRIDS];
int pass[TC__GRIDS];
tc__grids grids;
}tc__opaque_plan;
static int64_t tc__call_buffer(const tc__node*call,uint32_t i){
return call->attr[TC__CALL_BUFFERS+i];
}
static int tc__call_rank(const tc__node*call,uint32_t i){
return(int)call->attr[tc__call_rank_at(call,i)];
}
static tc__ix tc__call_size(const tc__node*call,uint32_t i,int d){
return call->attr[tc__call_rank_at(call,i)+1+(uint32_t)d];
}
static tc__ix tc__call_width(const tc__node*call,uint32_t i){
return tc__call_size(call,i,tc__call_rank(call,i)-1);
}
static tc__ix tc__call_rows(tc__ixpool*x,const tc__node*call,uint32_t i){
tc__ix rows=tc__ix_const(1);
for(int d=0;d<tc__call_rank(call,i)-1;d++)
rows=tc__ix_mul(x,rows,tc__call_size(call,i,d));
return rows;
}
static tc__grid*tc__opaque_add(tc__opaque_plan*q,tc__opaque_step step,int threads,
tc__ix blocks){
tc__grid*g=&q->grids.at[q->count];
q->step[q->count++]=step;
g->threads=threads,g->blocks=blocks,g->waves=0,g->shared=tc__ix_const(0);
g->cluster=g->early=0;
return g;
}
static void tc__opaque_add_flat(tc__ixpool*x,tc__opaque_plan*q,tc__opaque_step step,
tc__ix count){
tc__ix threads=tc__ix_const(TC__OPAQUE_THREADS);
tc__opaque_add(q,step,TC__OPAQUE_THREADS,tc__ix_ceil_div(x,count,threads));
}
static tc__ix tc__ix_scaled(tc__ixpool*x,tc__ix e,int64_t by){
return tc__ix_mul(x,e,tc__ix_const(by));
}
static void tc__opaque_add_clear(tc__ixpool*x,tc__opaque_plan*q){
tc__ix words=tc__ix_ceil_div(x,q->grids.zeroed,tc__ix_const(8));
tc__opaque_add_flat(x,q,TC__OPAQUE_CLEAR,words);
q->grids.at[q->count-1].waves=TC__SORT_WAVES;
}
static int tc__is_less(tc__ix e,int64_t than){
return tc__ix_is_const(e)&&tc__ix_value(e)<than;
}
static tc__opaque_step tc__choose_scan(const tc__ixpool*x,const tc__opaque_plan*q){
int64_t most=tc__ix_hi(x,q->n);
int busy=tc__ix_is_const(q->rows)&&!tc__is_less(q->rows,TC__OPAQUE_BUSY);
if(most<=32*q->width*TC__LINE_STEPS)return TC__SCAN_LINES;
if(busy||most<(int64_t)TC__TILES_LEAST*TC__TILE_ACCESSES*q->width)
return TC__SCAN_ROWS;
return TC__SCAN_TILES;
}
static tc__ix tc__scan_state(tc__ixpool*x,const tc__opaque_plan*q,tc__ix tiles){
tc__ix groups=tc__ix_ceil_div(x,tiles,tc__ix_const(TC__TILE_GROUP));
tc__ix marks=tc__ix_mad(x,tiles,groups,2);
tc__ix bytes=tc__ix_scaled(x,tc__ix_mul(x,q->rows,marks),
2*(int64_t)tc__dtypes[q->dtype].bytes);
return tc__ix_add(x,bytes,tc__ix_const(TC__OPAQUE_HEAD));
}
static void tc__plan_prefixes(tc__ixpool*x,tc__opaque_plan*q){
int width=16/(int)tc__dtypes[q->dtype].bytes;
q->width=tc__ix_divisor(x,q->n)%width?1:width;
tc__opaque_step step=tc__choose_scan(x,q);
int64_t tile=(int64_t)TC__TILE_ACCESSES*q->width;
tc__ix tiles=tc__ix_ceil_div(x,q->n,tc__ix_const(tile)),blocks=q->rows;
if(step==TC__SCAN_LINES)
blocks=tc__ix_ceil_div(x,q->rows,tc__ix_const(TC__OPAQUE_THREADS/32));
if(step==TC__SCAN_TILES)blocks=tc__ix_mul(x,q->rows,tiles);
tc__opaque_add(q,step,TC__OPAQUE_THREADS,blocks);
if(step!=TC__SCAN_TILES)return;
q->grids.workspace=q->grids.zeroed=tc__scan_state(x,q,tiles);
tc__opaque_add_clear(x,q);
}
static int64_t tc__pair_bytes(const tc__opaque_plan*q){return q->wide?16:8;}
static void tc__plan_sort_block(tc__opaque_plan*q,int threads){
q->items=(q->most+threads-1)/threads;
q->bits=q->most<=128?6:8;
}
static void tc__plan_sort_rows(const tc__ixpool*x,tc__opaque_plan*q){
int threads=32;
q->most=(int)tc__ix_hi(x,q->keys);
if(q->most<1)q->most=1;
while(threads<TC__OPAQUE_THREADS&&q->most>threads*(threads<64?4:8))
threads*=2;
tc__plan_sort_block(q,threads);
tc__opaque_add(q,TC__SORT_ROWS,threads,q->sorts);
}
static void tc__plan_sorter(tc__ixpool*x,tc__opaque_plan*q,tc__ix tiles){
int64_t row=TC__OPAQUE_THREADS*4*(int64_t)q->digits;
tc__ix head=tc__ix_scaled(x,tc__ix_mul(x,q->sorts,tiles),TC__OPAQUE_THREADS*8);
head=tc__ix_add(x,head,tc__ix_scaled(x,q->sorts,row));
head=tc__ix_add(x,head,tc__ix_const(TC__OPAQUE_HEAD));
q->grids.zeroed=head;
tc__ix pairs=tc__ix_mul(x,q->sorts,q->keys);
q->grids.workspace=
tc__ix_add(x,head,tc__ix_scaled(x,pairs,2*tc__pair_bytes(q)));
}
static void tc__plan_sort_digits(tc__ixpool*x,tc__opaque_plan*q,tc__opaque_step last){
tc__ix tiles=tc__ix_ceil_div(x,q->keys,tc__ix_const(q->tile));
tc__ix blocks=tc__ix_mul(x,q->sorts,tiles);
q->mixed=!tc__ix_is_const(q->keys),q->most=q->tile;
tc__plan_sort_block(q,TC__OPAQUE_THREADS);
tc__plan_sorter(x,q,tiles);
tc__opaque_add(q,TC__SORT_COUNT,TC__OPAQUE_THREADS,blocks)->waves=TC__SORT_WAVES;
for(int d=0;d<q->digits;d++){
q->pass[q->count]=d;
tc__opaque_add(q,
!d?TC__SORT_FIRST
:d<q->digits-1?TC__SORT_NEXT
:last,
TC__OPAQUE_THREADS,blocks);
}
}
static void tc__plan_argsort(tc__ixpool*x,tc__opaque_plan*q){
int64_t most=tc__ix_hi(x,q->n),k=tc__ix_is_const(q->k)?tc__ix_value(q->k):0;
q->wide=tc__dtypes[q->dtype].bytes==8;
q->digits=q->wide?8:4;
q->tile=(int)(TC__SORT_TILE/tc__pair_bytes(q));
q->sorts=q->rows,q->keys=q->n;
int few=most>TC__TOP_LONG&&tc__is_less(q->rows,TC__TOP_FEW);
if(most<=q->tile)
tc__plan_sort_rows(x,q);
else if(q->op==TC_OP_TOPK&&k*tc__pair_bytes(q)<=TC__TOP_MOST&&!few)
tc__opaque_add(q,TC__TOP_ROWS,TC__TOP_THREADS,q->rows);
else{
tc__plan_sort_digits(x,q,TC__SORT_LAST);
tc__opaque_add_clear(x,q);
}
}
static void tc__plan_scatter(tc__ixpool*x,tc__opaque_plan*q){
tc__ix places=tc__ix_mul(x,q->rows,q->n);
q->grids.workspace=q->grids.zeroed=tc__ix_scaled(x,places,4);
tc__opaque_add_flat(x,q,TC__SCATTER_MARK,tc__ix_mul(x,q->lines,q->m));
tc__opaque_add_flat(x,q,TC__SCATTER_TAKE,places);
}
static int tc__index_digits(tc__ix n){
int digits=2;
if(!tc__ix_is_const(n))return 4;
while(digits<4&&(tc__ix_value(n)-1)>>8*digits)digits++;
return digits;
}
static int64_t tc__run_ring_of(int64_t row){
return 3*(128*(2*row+4)+32)+8*128*8;
}
static int64_t tc__run_ring(const tc__opaque_plan*q){
return tc__run_ring_of((int64_t)q->across*tc__dtypes[q->dtype].bytes);
}
static void tc__plan_add_runs(tc__ixpool*x,tc__opaque_plan*q,int64_t room){
int bytes=(int)tc__dtypes[q->dtype].bytes,
line=tc__run_ring_of(TC__RUN_BYTES)<=room?TC__RUN_BYTES:TC__RUN_BYTES/2;
int64_t row=tc__ix_divisor(x,q->rows)*bytes;
q->piece=row%16==0?16:row%8==0?8:row%4==0?4:bytes;
q->width=bytes<4&&q->piece>=4?4/bytes:1;
q->across=line/bytes<32*q->width?line/bytes:32*q->width;
tc__ix parts=tc__ix_ceil_div(x,q->rows,tc__ix_const(q->across)),
spans=tc__ix_ceil_div(x,q->m,tc__ix_const(TC__RUN_SPAN));
tc__opaque_add(q,TC__ADD_RUNS,TC__RUN_THREADS,tc__ix_mul(x,parts,spans))->shared=
tc__ix_const(tc__run_ring(q));
}
static int64_t tc__rank_window(int64_t room){return(room-TC__RANK_FIXED)/4*2;}
static int tc__adds_in_place(const tc__opaque_plan*q){
return q->filled||q->grids.over.count;
}
static int tc__are_ranked(const tc__ixpool*x,const tc__opaque_plan*q,int64_t room){
return tc__ix_hi(x,q->m)<=TC__RANK_THREADS*TC__RANK_MOST&&
tc__ix_hi(x,q->n)<=TC__RANK_WINDOWS*tc__rank_window(room);
}
static void tc__plan_rank(tc__ixpool*x,tc__opaque_plan*q,int64_t room){
int64_t most=tc__ix_hi(x,q->m),window=tc__rank_window(room);
if(tc__ix_hi(x,q->n)<window)window=(tc__ix_hi(x,q->n)+1)/2*2;
q->each=(int)((most+TC__RANK_THREADS-1)/TC__RANK_THREADS);
q->window=(int)window;
tc__ix blocks=tc__ix_ceil_div(x,q->m,tc__ix_const(TC__RANK_OWN));
if(!tc__ix_is_const(blocks))
blocks=tc__ix_const((most+TC__RANK_OWN-1)/TC__RANK_OWN);
if(tc__adds_in_place(q)&&tc__is_less(blocks,TC__RANK_FILL))
blocks=tc__ix_const(TC__RANK_FILL);
tc__opaque_add(q,TC__RANK_INDICES,TC__RANK_THREADS,blocks)->shared=
tc__ix_const(2*window);
q->grids.workspace=tc__ix_scaled(x,q->m,tc__pair_bytes(q));
}
static void tc__plan_sort_indices(tc__ixpool*x,tc__opaque_plan*q){
q->digits=tc__index_digits(q->n);
q->tile=(int)(TC__SORT_TILE/tc__pair_bytes(q));
if(tc__ix_hi(x,q->m)>q->tile){
tc__plan_sort_digits(x,q,TC__SORT_NEXT);
return;
}
tc__plan_sort_rows(x,q);
q->grids.workspace=tc__ix_scaled(x,tc__ix_mul(x,q->sorts,q->m),tc__pair_bytes(q));
}
static void tc__plan_row_add(tc__ixpool*x,tc__opaque_plan*q,int64_t room){
q->sorts=tc__ix_const(1),q->keys=q->m;
int ranked=tc__are_ranked(x,q,room);
if(!ranked||!tc__adds_in_place(q))
tc__opaque_add_flat(x,q,TC__OPAQUE_COPY,tc__ix_mul(x,q->rows,q->n));
if(ranked)
tc__plan_rank(x,q,room);
else
tc__plan_sort_indices(x,q);
tc__plan_add_runs(x,q,room);
q->grids.at[q->count-1].early=ranked;
if(!tc__ix_equals(q->grids.zeroed,0))tc__opaque_add_clear(x,q);
}
static void tc__plan_scatter_sum(tc__ixpool*x,tc__opaque_plan*q){
int shared=q->op!=TC_OP_SCATTER_ADD;
tc__ix rows=q->rows;
q->sorts=shared?tc__ix_const(1):q->lines,q->keys=q->m;
if(q->op==TC_OP_INDEX_ADD)
rows=tc__ix_ceil_div(x,rows,tc__ix_const(TC__SUM_ROWS));
tc__plan_sort_indices(x,q);
tc__opaque_add_flat(x,q,TC__SCATTER_SUM,tc__ix_mul(x,rows,q->n));
if(!tc__ix_equals(q->grids.zeroed,0))tc__opaque_add_clear(x,q);
}
static int tc__custom_dtype(const tc__group*g,const tc__node*call,uint32_t i){
int64_t b=tc__call_buffer(call,i);
return b<0?call->dtype:g->buffer.at[b].dtype;
}
static void tc__plan_custom(tc__ixpool*x,const tc__group*g,tc__opaque_plan*q){
q->n=q->k=q->m=q->rows,q->lines=tc__ix_const(1);
for(int d=0;d<tc__call_rank(q->call,0);d++)
q->lines=tc__ix_mul(x,q->lines,tc__call_size(q->call,0,d));
tc__opaque_add_flat(x,q,TC__CUSTOM_CALL,q->lines);
q->grids.at[0].waves=TC__CUSTOM_WAVES;
if(tc__custom_dtype(g,q->call,0)==TC_BOOL)
tc__opaque_add_flat(x,q,TC__CUSTOM_BOOLS,q->lines);
}
static tc__opaque_plan tc__opaque_plan_of(const tc__group*g){
tc__ixpool*x=g->body.ix;
tc__opaque_plan q;
memset(&q,0,sizeof q);
q.call=g->body.node.at[0],q.op=(tc__op)q.call->attr[TC__CALL_OP];
q.rows=g->shape.rows;
q.grids.workspace=q.grids.zeroed=tc__ix_const(0);
tc__overlay_find(g,NULL,&q.grids.over);
if(tc__is_custom(g))return tc__plan_custom(x,g,&q),q;
q.k=tc__call_width(q.call,0);
q.n=tc__call_width(q.call,1);
int64_t from=tc__call_buffer(q.call,1);
q.dtype=g->buffer.at[from<0?tc__call_buffer(q.call,0):from].dtype;
if(q.op==TC_OP_CUMSUM||q.op==TC_OP_CUMPROD)tc__plan_prefixes(x,&q);
if(q.op==TC_OP_ARGSORT||q.op==TC_OP_TOPK)tc__plan_argsort(x,&q);
if(q.call->attr[TC__CALL_OPERANDS]<3)return q;
q.filled=from==TC__CALL_FILLED;
q.lines=tc__call_rows(x,q.call,3),q.m=tc__call_width(q.call,3);
if(q.op==TC_OP_ROW_ADD){
q.m=q.lines,q.lines=tc__ix_const(1);
q.n=tc__call_size(q.call,0,0),q.rows=tc__call_size(q.call,0,1);
}
if(tc__call_buffer(q.call,2)<0||tc__call_buffer(q.call,3)<0)
tc__opaque_add_flat(x,&q,TC__OPAQUE_COPY,tc__ix_mul(x,q.rows,q.n));
else if(q.op==TC_OP_SCATTER)
tc__plan_scatter(x,&q);
else if(q.op==TC_OP_ROW_ADD)
tc__plan_row_add(x,&q,
g->target.room?(int64_t)g->target.room
:(int64_t)TC__DEVICE_ROW_BYTES);
else
tc__plan_scatter_sum(x,&q);
return q;
}
static int tc__opaque_resident(const tc__opaque_plan*q,int i){
int blocks=(q->wide?512:1024)/q->grids.at[i].threads;
if(q->step[i]==TC__RANK_INDICES)return 1;
if(q->step[i]!=TC__SORT_ROWS)return TC__OPAQUE_RESIDENT;
return blocks<16?blocks:16;
}
static int tc__opaque_grids(const tc__group*g,tc__grids*out){
tc__opaque_plan q=tc__opaque_plan_of(g);
int sizes=out->sizes;
*out=q.grids;
out->sizes=sizes,out->count=q.count;
return!g->body.ix->failed;
}
static int tc__has_cuda_opaque(tc_ctx*c,const tc__group*g){
const tc__node*call=g->body.node.at[0];
if(tc__is_custom(g)){
const tc__custom*o=tc__custom_of_group(c,g);
return o&&o->op.cuda_source&&!o->trouble;
}
for(uint32_t i=0;i<=call->attr[TC__CALL_OPERANDS];i++){
tc__ix n=tc__call_width(call,i);
if(tc__ix_is_const(n)&&tc__ix_value(n)>UINT32_MAX)return 0;
}
return 1;
}
// ---- gen/cuda_print/grids.c
typedef struct tc__cuda_symbols{
const tc__group*g;
int count;
int lost;
}tc__cuda_symbols;
static void tc__cuda_symbols_of(tc__cuda_symbols*s,tc__ix e){
tc__ixsyms found;
tc__ix_syms(s->g->body.ix,e,&found,1);
s->lost|=found.lost;
for(uint32_t i=0;i<found.count;i++){
int64_t slot=tc__ix_node(s->g->body.ix,found.at[i])->a;
if(slot>=s->count)s->count=(int)slot+1;
}
}
static int tc__cuda_sizes(const tc__group*g){
tc__cuda_symbols s;
s.g=g,s.count=0,s.lost=0;
if(g->shape.list)return 0;
tc__cuda_symbols_of(&s,g->shape.rows);
tc__cuda_symbols_of(&s,g->shape.cols);
if(g->shape.kind==TC__CONTRACTION)tc__cuda_symbols_of(&s,g->shape.batch);
for(size_t i=0;i<g->buffer.count;i++)
tc__cuda_symbols_of(&s,g->buffer.at[i].numel);
for(size_t id=0;id<g->body.node.count;id++){
const tc__node*n=g->body.node.at[id];
for(uint32_t i=0;i<n->n_attr;i++)
if(tc__attr_is_ix(n,i))tc__cuda_symbols_of(&s,n->attr[i]);
}
return s.lost?64:s.count;
}
static int tc__cuda_list_grids(tc_ctx*c,const tc__group*g,tc__grids*out){
tc__group*list=tc__lower_device(c,g);
if(list)tc__device_grids(list,out),tc__overlay_find(g,list,&out->over);
tc__group_free(c,list);
return list!=NULL;
}
static int tc__cuda_grids(tc_ctx*c,const tc__group*g,tc__grids*out){
memset(out,0,sizeof*out);
out->workspace=out->zeroed=tc__ix_const(0);
out->sizes=tc__cuda_sizes(g);
if(g->shape.kind==TC__OPAQUE)return tc__opaque_grids(g,out);
return tc__cuda_list_grids(c,g,out);
}
// ---- gen/cuda_print/fast.c
static const struct{
tc__op op;
const char*f16,*bf16;
int passes;
}tc__cuda_half_functions[]={{TC_OP_EXP,"exp_half","exp_half",1},
{TC_OP_EXP2,"exp2_half","exp2_half",1},
{TC_OP_LOG,"log_half","log_half",0},
{TC_OP_LOG2,"log2_half","log2_half",0},
{TC_OP_SIN,"sin_half","sin_half",0},
{TC_OP_COS,"cos_half","cos_half",0},
{TC_OP_TANH,"tanh_half","tanh_bf16",0},
{TC_OP_SIGMOID,"sigmoid_half","sigmoid_half",1},
{TC_OP_SILU,"silu_half","silu_half",1},
{TC_OP_ERF,"erf_half","erf_half",1},
{TC_OP_GELU,"gelu_half","gelu_half",1},
{TC_OP_GELU_TANH,"gelu_tanh_half","gelu_tanh_half",0},
{TC_OP_DIV,"div_half","div_half",0},
{TC_OP_RECIPROCAL,"rcp_half","rcp_half",0},
{TC_OP_SQRT,"sqrt_half","sqrt_half",0},
{TC_OP_RSQRT,"rsqrt_half","rsqrt_half",0}};
enum{TC__FACT_DEPTH=12};
static const double TC__FACT_NONE=-1.7976931348623157e308,
TC__FACT_NORMAL=1.1754943508222875e-38;
static const tc__node*tc__fact_node(const tc__group*g,uint32_t id){
return g->body.node.at[id];
}
static double tc__fact_least(const tc__group*g,uint32_t id,int depth);
static double tc__fact_least_of_memory(const tc__group*g,const tc__node*n,int depth){
const tc__node*fill=tc__is_memory(tc__buffer_of(g,n))
?NULL
:tc__device_fills(g,n->attr[TC__LOAD_BUFFER]);
return fill?tc__fact_least(g,fill->in[0],depth):TC__FACT_NONE;
}
static double tc__fact_least_of_sum(const tc__group*g,const tc__node*n,int depth){
const tc__node*step=tc__acc_of(g,n->attr[TC__COMBINE_ACCUMULATOR]);
int sum=n->attr[TC__COMBINE_MONOID]==TC_OP_ADD,
most=n->attr[TC__COMBINE_MONOID]==TC_OP_MAXIMUM;
if(!step||(!sum&&!most))return TC__FACT_NONE;
double least=tc__fact_least(g,step->in[0],depth);
return sum&&least>0?0:least;
}
static double tc__fact_least_of_two(const tc__group*g,const tc__node*n,int depth){
double a=tc__fact_least(g,n->in[0],depth),b=tc__fact_least(g,n->in[1],depth);
if(n->op==TC_OP_ADD)return a+b;
if(n->op==TC_OP_MAXIMUM)return a>b?a:b;
if(n->op==TC_OP_MUL&&n->in[0]==n->in[1])return 0;
return a>=0&&b>=0?0:TC__FACT_NONE;
}
static double tc__fact_least_of_one(const tc__group*g,const tc__node*n,int depth){
double a=tc__fact_least(g,n->in[0],depth);
return n->op==TC_OP_CAST?a:a>=0?0:TC__FACT_NONE;
}
static double tc__fact_least_of_const(const tc__group*g,const tc__node*n,int depth){
(void)g,(void)depth;
return tc__const_value(n).f;
}
static double tc__fact_least_is_zero(const tc__group*g,const tc__node*n,int depth){
(void)g,(void)n,(void)depth;
return 0;
}
static const struct{
tc__op op;
double(*least)(const tc__group*g,const tc__node*n,int depth);
}tc__fact_bounds[]={
{TC_OP_CONST,tc__fact_least_of_const},{TC_OP_EXP,tc__fact_least_is_zero},
{TC_OP_EXP2,tc__fact_least_is_zero},{TC_OP_SIGMOID,tc__fact_least_is_zero},
{TC_OP_SQRT,tc__fact_least_is_zero},{TC_OP_ABS,tc__fact_least_is_zero},
{TC_OP_RECIPROCAL,tc__fact_least_of_one},{TC_OP_CAST,tc__fact_least_of_one},
{TC_OP_ADD,tc__fact_least_of_two},{TC_OP_MUL,tc__fact_least_of_two},
{TC_OP_DIV,tc__fact_least_of_two},{TC_OP_MAXIMUM,tc__fact_least_of_two},
{TC_OP_LOAD,tc__fact_least_of_memory},{TC_OP_COMBINE,tc__fact_least_of_sum}};
static double tc__fact_least(const tc__group*g,uint32_t id,int depth){
const tc__node*n=tc__fact_node(g,id);
if(!depth--||!tc__is_float(n->dtype))return TC__FACT_NONE;
for(size_t i=0;i<TC__COUNT(tc__fact_bounds);i++)
if((int)tc__fact_bounds[i].op==n->op)
return tc__fact_bounds[i].least(g,n,depth);
return TC__FACT_NONE;
}
static const tc__node*tc__fact_held(const tc__group*g,uint32_t id){
const tc__node*n=tc__fact_node(g,id);
if(n->op!=TC_OP_LOAD||tc__is_memory(tc__buffer_of(g,n)))return n;
const tc__node*fill=tc__device_fills(g,n->attr[TC__LOAD_BUFFER]);
if(!fill||fill->attr[TC__STORE_INDEX]!=n->attr[TC__LOAD_INDEX])return n;
return tc__fact_node(g,fill->in[0]);
}
static const tc__node*tc__fact_copy(const tc__group*g,int64_t buffer){
for(size_t i=0;i<g->body.node.count;i++){
const tc__node*n=g->body.node.at[i];
if(n->op==TC_OP_COPY&&n->attr[TC__COPY_BUFFER]==buffer)return n;
}
return NULL;
}
static int tc__fact_same_copy(const tc__group*g,const tc__node*x,const tc__node*y){
tc__ixpool*ix=g->body.ix;
if(x->op!=TC_OP_LOAD||y->op!=TC_OP_LOAD)return 0;
const tc__node*a=tc__fact_copy(g,x->attr[TC__LOAD_BUFFER]),
*b=tc__fact_copy(g,y->attr[TC__LOAD_BUFFER]);
return a&&b&&a->attr[TC__COPY_FROM]==b->attr[TC__COPY_FROM]&&
a->attr[TC__COPY_SOURCE]==b->attr[TC__COPY_SOURCE]&&
tc__ix_sub(ix,x->attr[TC__LOAD_INDEX],a->attr[TC__COPY_INDEX])==
tc__ix_sub(ix,y->attr[TC__LOAD_INDEX],b->attr[TC__COPY_INDEX]);
}
static int tc__fact_same(const tc__group*g,uint32_t a,uint32_t b,int depth){
const tc__node*x=tc__fact_held(g,a),*y=tc__fact_held(g,b);
if(x==y||tc__fact_same_copy(g,x,y))return 1;
if(!depth--||x->op!=y->op||x->dtype!=y->dtype||x->n_in!=y->n_in||
x->n_attr!=y->n_attr)
return 0;
if(!tc__is_alu(x)&&x->op!=TC_OP_LOAD&&x->op!=TC_OP_CAST&&
x->op!=TC_OP_CONST&&x->op!=TC_OP_VALID&&x->op!=TC_OP_INDEX)
return 0;
for(uint32_t i=0;i<x->n_attr;i++)
if(x->attr[i]!=y->attr[i])return 0;
for(uint32_t i=0;i<x->n_in;i++)
if(!tc__fact_same(g,x->in[i],y->in[i],depth))return 0;
return 1;
}
static int tc__fact_is_shifted(const tc__group*g,const tc__node*n){
if(n->op!=TC_OP_SUB)return 0;
const tc__node*m=tc__fact_held(g,n->in[1]);
if(m->op!=TC_OP_COMBINE||m->attr[TC__COMBINE_MONOID]!=TC_OP_MAXIMUM)return 0;
const tc__node*step=tc__acc_of(g,m->attr[TC__COMBINE_ACCUMULATOR]);
return step&&tc__fact_same(g,n->in[0],step->in[0],TC__FACT_DEPTH);
}
static int tc__fact_is_unsigned(const tc__group*g,uint32_t id,int depth){
const tc__node*n=tc__fact_node(g,id);
if(!depth--||n->dtype!=TC_F32)return 0;
if(n->op==TC_OP_EXP||n->op==TC_OP_EXP2||n->op==TC_OP_ABS)return 1;
if(n->op==TC_OP_CONST)return tc__const_value(n).i>=0;
if(n->op==TC_OP_COMBINE){
const tc__node*step=tc__acc_of(g,n->attr[TC__COMBINE_ACCUMULATOR]);
return step&&n->attr[TC__COMBINE_MONOID]==TC_OP_ADD&&
tc__fact_is_unsigned(g,step->in[0],depth);
}
if(n->op!=TC_OP_ADD&&n->op!=TC_OP_MUL&&n->op!=TC_OP_DIV)return 0;
return tc__fact_is_unsigned(g,n->in[0],depth)&&
tc__fact_is_unsigned(g,n->in[1],depth);
}
static int tc__fact_is_zero(const tc__node*n){
return n->op==TC_OP_CONST&&n->dtype==TC_F32&&tc__const_value(n).f==0;
}
static uint32_t tc__fact_itself(const tc__group*g,const tc__node*n){
if(n->op!=TC_OP_ADD||n->dtype!=TC_F32)return n->n_in;
for(uint32_t k=0;k<2;k++)
if(tc__fact_is_zero(tc__fact_node(g,n->in[!k]))&&
tc__fact_is_unsigned(g,n->in[k],TC__FACT_DEPTH))
return k;
return n->n_in;
}
static int tc__fact_passes(const tc__node*n,uint32_t operand){
if(n->op==TC_OP_WHERE)return operand>0;
return n->op==TC_OP_MUL||n->op==TC_OP_DIV||n->op==TC_OP_RECIPROCAL||
n->op==TC_OP_NEG||n->op==TC_OP_ABS||n->op==TC_OP_SQRT||
n->op==TC_OP_RSQRT;
}
typedef enum tc__fact_use{TC__USE_EXACT,TC__USE_ROUNDS,TC__USE_PASSES}tc__fact_use;
static tc__fact_use tc__fact_use_of(const tc__group*g,const tc__node*n,uint32_t k){
if(n->op==TC_OP_CAST&&tc__is_half(n->dtype))return TC__USE_ROUNDS;
if(n->op==TC_OP_STORE)
return tc__device_is_row(g,n->attr[TC__STORE_BUFFER])?TC__USE_PASSES
:TC__USE_EXACT;
if(n->dtype!=TC_F32)return TC__USE_EXACT;
if(n->op!=TC_OP_ACC)return tc__fact_passes(n,k)?TC__USE_PASSES:TC__USE_EXACT;
if(n->attr[TC__ACC_MONOID]==TC_OP_MAXIMUM)return TC__USE_PASSES;
return n->attr[TC__ACC_MONOID]==TC_OP_ADD&&
tc__fact_least(g,n->in[0],TC__FACT_DEPTH)>=0
?TC__USE_PASSES
:TC__USE_EXACT;
}
static int tc__fact_takes(const tc__node*n,const uint8_t*values,const uint8_t*rows,
const uint8_t*sums,uint32_t*k){
if(n->op==TC_OP_FOR||n->op==TC_OP_END||n->op==TC_OP_NEW)return 0;
if(n->op==TC_OP_LOAD)return rows[n->attr[TC__ACCESS_BUFFER]];
if(n->op==TC_OP_COMBINE)return sums[n->attr[TC__COMBINE_ACCUMULATOR]];
for(*k=0;*k<n->n_in;(*k)++)
if(values[n->in[*k]])return 1;
return 0;
}
static int tc__fact_follow(const tc__group*g,uint32_t id,uint8_t*mark){
size_t count=g->body.node.count;
uint8_t*rows=mark+count,*sums=rows+g->buffer.count;
int rounded=0;
mark[id]=1;
for(size_t i=id+1;i<count;i++){
const tc__node*n=g->body.node.at[i];
uint32_t k=0;
if(!tc__fact_takes(n,mark,rows,sums,&k))continue;
int made=n->op==TC_OP_LOAD||n->op==TC_OP_COMBINE;
tc__fact_use use=made?TC__USE_PASSES:tc__fact_use_of(g,n,k);
if(use==TC__USE_EXACT)return 0;
rounded|=use==TC__USE_ROUNDS;
if(use==TC__USE_ROUNDS)continue;
if(n->op==TC_OP_STORE)
rows[n->attr[TC__ACCESS_BUFFER]]=1;
else if(n->op==TC_OP_ACC)
sums[n->attr[TC__ACC_ACCUMULATOR]]=1;
else
mark[i]=1;
}
return rounded;
}
static int tc__fact_of_product(const tc__group*g){
for(size_t i=0;i<g->body.node.count;i++){
const tc__node*n=g->body.node.at[i];
if(n->op==TC_OP_TEMPLATE&&n->attr[TC__TEMPLATE_NAME]==TC__TEMPLATE_CHAIN)
return 1;
}
return g->shape.kind!=TC__CONTRACTION;
}
static int tc__fact_is_rounded(const tc__printer*p,const tc__node*n){
const tc__group*g=p->g;
size_t marks=g->body.node.count+g->buffer.count+TC__PRINT_ACCS;
if(n->dtype!=TC_F32||!tc__fact_of_product(g))return 0;
uint8_t*mark=TC__NEW_ARRAY(p->out->ctx,uint8_t,marks);
if(!mark){
p->out->failed=1;
return 0;
}
int rounded=tc__fact_follow(g,n->id,mark);
tc__free(p->out->ctx,mark,marks);
return rounded;
}
static int tc__fact_is_large(const tc__node*n){
return n->op==TC_OP_CONST&&
(tc__const_value(n).f>=0.5||tc__const_value(n).f<=-0.5);
}
static int tc__fact_is_added(const tc__group*g,uint32_t id){
int added=0;
for(size_t i=id+1;i<g->body.node.count;i++){
const tc__node*n=g->body.node.at[i];
if(n->op==TC_OP_FOR||n->op==TC_OP_END)continue;
for(uint32_t k=0;k<n->n_in;k++){
if(n->in[k]!=id)continue;
if(n->op!=TC_OP_ADD||!tc__fact_is_large(tc__fact_node(g,n->in[!k])))
return 0;
added=1;
}
}
return added&&g->shape.kind!=TC__CONTRACTION;
}
static const char*tc__cuda_fast_f32(const tc__printer*p,const tc__node*n){
if(n->op==TC_OP_EXP&&tc__fact_is_shifted(p->g,tc__body(p,n->in[0])))
return "exp_shifted";
if(n->op==TC_OP_TANH&&tc__fact_is_added(p->g,n->id))return "tanh_added";
if(n->op==TC_OP_LOG&&
tc__fact_least(p->g,n->in[0],TC__FACT_DEPTH)>=TC__FACT_NORMAL)
return "log_normal";
return NULL;
}
static const char*tc__cuda_fast_name(const tc__printer*p,const tc__node*n){
for(size_t i=0;i<TC__COUNT(tc__cuda_half_functions);i++){
if((int)tc__cuda_half_functions[i].op!=n->op)continue;
if(n->dtype==TC_BF16)return tc__cuda_half_functions[i].bf16;
if(n->dtype==TC_F16||
(tc__cuda_half_functions[i].passes&&tc__fact_is_rounded(p,n)))
return tc__cuda_half_functions[i].f16;
}
return n->dtype==TC_F32?tc__cuda_fast_f32(p,n):NULL;
}
static void tc__cuda_fast(tc__printer*p,const tc__node*n,int copy){
const char*name=tc__cuda_fast_name(p,n);
if(!name){
tc__print_alu(p,n,copy);
return;
}
tc__put_let(p,n,copy);
tc__put(p->out,"tc_%s(",name);
for(uint32_t k=0;k<n->n_in;k++){
if(k)tc__put(p->out,", ");
tc__put_value(p,n->in[k],copy);
}
tc__put(p->out,");\n");
}
static void tc__cuda_add(tc__printer*p,const tc__node*n,int copy){
uint32_t itself=tc__fact_itself(p->g,n);
if(itself==n->n_in){
tc__print_alu(p,n,copy);
return;
}
tc__put_let(p,n,copy);
tc__put_value(p,n->in[itself],copy);
tc__put(p->out,";\n");
}
// ---- gen/cuda_print/check.c
static int tc__cuda_is_checked(const tc__group*g,int64_t b){
return g->target.checked&&tc__is_memory(&g->buffer.at[b]);
}
static void tc__buffer_range(const tc__group*g,const tc__kbuf*b,tc__ix*low,
tc__ix*high){
tc__ixpool*x=g->body.ix;
tc__ix zero=tc__ix_const(0);
const tc__shape*s=
b->place==TC__BUF_INPUT&&g->target.inputs?g->target.inputs[b->source]:NULL;
*low=zero,*high=b->numel;
if(!s||s->contiguous)return;
*high=tc__ix_const(1);
for(int i=0;i<s->rank;i++){
tc__ix last=
tc__ix_mul(x,tc__ix_sub(x,s->dims[i],tc__ix_const(1)),s->strides[i]);
tc__ix below=tc__ix_min(x,last,zero);
*low=tc__ix_add(x,*low,below);
*high=tc__ix_add(x,*high,tc__ix_sub(x,last,below));
}
}
static void tc__cuda_checked_names(tc__printer*p,const tc__text*body){
for(size_t i=0;i<p->g->buffer.count;i++){
const tc__kbuf*b=&p->g->buffer.at[i];
tc__ix low,high;
char name[24];
if(!tc__cuda_is_checked(p->g,(int64_t)i))continue;
tc__buffer_name(p,(int64_t)i,name);
if(!tc__c_mentions(body,name))continue;
tc__buffer_range(p->g,b,&low,&high);
tc__line(p);
tc__put(p->out,"const tc_checked<%s%s> %s = {%s_memory, ",
b->written?"":"const ",tc__dtypes[b->dtype].memory,name,name);
tc__put_ix(p,low);
tc__put(p->out,", ");
tc__put_ix(p,high);
tc__put(p->out,", %d, %d, a.size[%d], a.state};\n",(int)i+1,b->written,
tc__cuda_sizes(p->g));
}
}
static void tc__cuda_look(tc__printer*p,tc__text*body){
tc__text names,*out=p->out;
if(!p->g->target.checked)return;
tc__text_init(&names,out->ctx);
p->out=&names;
tc__cuda_checked_names(p,body);
p->out=out;
tc__put_raw(&names,body->at,body->size);
names.failed|=body->failed;
tc__text_free(body);
*body=names;
}
static void tc__cuda_place_of(tc__printer*p,int64_t b,tc__ix e,const char*more,
int width){
int at=width>1&&tc__cuda_is_checked(p->g,b);
tc__put_buffer(p,b);
tc__put(p->out,at?".at(":"[");
tc__put_ix(p,e);
if(at)
tc__put(p->out,"%s, %d)[0]",more,width);
else
tc__put(p->out,"%s]",more);
}
static int tc__cuda_kargs(const tc__group*g){
int sizes=tc__cuda_sizes(g)+g->target.checked+tc__device_is_beside(g);
return sizes?sizes:1;
}
// ---- gen/cuda_print/along.c
typedef enum tc__cuda_loaded{
TC__LOADED_HERE,
TC__LOADED_AHEAD,
TC__LOADED_BEFORE,
}tc__cuda_loaded;
typedef struct tc__cuda_vector{
uint32_t begin,end;
tc__axis axis;
int width;
uint8_t*way;
int inside;
tc__cuda_loaded loaded;
}tc__cuda_vector;
typedef enum tc__cuda_way{
TC__WAY_MOVES,
TC__WAY_STILL,
TC__WAY_APART
}tc__cuda_way;
static int tc__cuda_divides_columns(const tc__group*g){
for(size_t i=0;i<g->body.node.count&&tc__ix_equals(g->shape.rows,1);i++){
const tc__node*n=g->body.node.at[i];
if(n->op==TC_OP_LOAD&&
tc__ix_run(g->body.ix,n->attr[TC__LOAD_INDEX],TC__COL).run!=INT64_MAX)
return 1;
}
return 0;
}
static tc__ix tc__cuda_expand(const tc__printer*p,tc__ix e){
tc__ixpool*x=p->g->body.ix;
for(uint32_t id=p->vector->begin;id<p->vector->end;id++){
const tc__node*n=tc__body(p,id);
tc__ix var=n->op==TC_OP_AXIS
?tc__ix_find_var(x,e,(tc__axis)n->attr[TC__AXIS_AXIS])
:0;
if(var&&tc__ix_uses(x,n->attr[TC__AXIS_VALUE],p->vector->axis))
e=tc__ix_subst(x,e,var,n->attr[TC__AXIS_VALUE]);
}
return e;
}
static tc__ix tc__cuda_by_hole(const tc__printer*p,const tc__node*hole,tc__ix e){
tc__ixpool*x=p->g->body.ix;
for(int i=TC__HOLE_LINE;i<=(int)TC__HOLE_DEEP;i++){
int64_t axis=hole->attr[i];
tc__ix var=axis>=(int64_t)TC__VAR0?tc__ix_find_var(x,e,(tc__axis)axis):0;
if(var)
e=tc__ix_subst(x,e,var,
tc__ix_mul(x,var,tc__ix_const(hole->attr[TC__HOLE_WIDTH])));
}
return e;
}
static tc__ix tc__cuda_by_loops(const tc__printer*p,tc__ix e){
tc__ixpool*x=p->g->body.ix;
int inside=0;
for(uint32_t id=p->vector->begin-1;id-- >0;){
const tc__node*n=tc__body(p,id);
if(n->op==TC_OP_HOLE&&!inside)e=tc__cuda_by_hole(p,n,e);
inside+=(n->op==TC_OP_END)-(inside&&tc__opens(n));
if(n->op!=TC_OP_AXIS||inside)continue;
tc__ix var=tc__ix_find_var(x,e,(tc__axis)n->attr[TC__AXIS_AXIS]);
if(var)e=tc__ix_subst(x,e,var,n->attr[TC__AXIS_VALUE]);
}
return e;
}
typedef struct tc__cuda_moves{
const tc__cuda_vector*v;
int moves;
}tc__cuda_moves;
static void tc__cuda_moves_val(void*user,uint32_t id){
tc__cuda_moves*m=(tc__cuda_moves*)user;
m->moves|=id>=m->v->begin&&id<m->v->end&&m->v->way[id]!=TC__WAY_STILL;
}
static tc__access tc__cuda_moves_by(const tc__printer*p,tc__ix e){
tc__ixpool*x=p->g->body.ix;
tc__cuda_moves m;
m.v=p->vector,m.moves=0;
tc__ix_each_val(x,e,tc__cuda_moves_val,&m);
e=tc__cuda_expand(p,e);
tc__ixrun run=tc__ix_run(x,e,p->vector->axis);
if(!tc__ixrun_spans(&run,p->vector->width))
run=tc__ix_run(x,tc__cuda_by_loops(p,e),p->vector->axis);
if(m.moves||!tc__ixrun_spans(&run,p->vector->width))return TC__PER_LANE;
if(tc__ix_equals(run.stride,0))return TC__UNIFORM;
return tc__ix_equals(run.stride,1)?TC__CONTIGUOUS:TC__PER_LANE;
}
static tc__ix tc__cuda_first(const tc__printer*p,tc__ix e){
tc__ixpool*x=p->g->body.ix;
e=tc__cuda_expand(p,e);
tc__ix var=tc__ix_find_var(x,e,p->vector->axis);
return var?tc__ix_subst(x,e,var,tc__ix_const(0)):e;
}
static int tc__cuda_starts_at(const tc__printer*p,tc__ix e,int64_t multiple){
tc__ixpool*x=p->g->body.ix;
e=tc__cuda_first(p,e);
return tc__ix_divisor(x,e)%multiple==0||
tc__ix_divisor(x,tc__cuda_by_loops(p,e))%multiple==0;
}
static int tc__cuda_starts_at_multiple(const tc__printer*p,tc__ix e){
return tc__cuda_starts_at(p,e,p->vector->width);
}
static int tc__cuda_limits_hold(const tc__printer*p,const tc__node*n){
for(uint32_t i=TC__LOAD_PREDICATES;i+1<n->n_attr;i+=2){
tc__access by=tc__cuda_moves_by(p,n->attr[i]);
if(tc__cuda_moves_by(p,n->attr[i+1])!=TC__UNIFORM)return 0;
if(by==TC__UNIFORM)continue;
if(by!=TC__CONTIGUOUS||!tc__cuda_starts_at_multiple(p,n->attr[i])||
tc__ix_divisor(p->g->body.ix,n->attr[i+1])%p->vector->width)
return 0;
}
return 1;
}
static int tc__cuda_is_whole(const tc__printer*p,const tc__node*n){
const tc__cuda_vector*v=p->vector;
if(!v||n->id<v->begin||n->id>=v->end||v->way[n->id]!=TC__WAY_MOVES)
return 0;
tc__place place=p->g->buffer.at[n->attr[TC__LOAD_BUFFER]].place;
if(place==TC__BUF_REGISTER||place==TC__BUF_LOCAL)return 0;
if(n->op==TC_OP_LOAD&&!tc__cuda_limits_hold(p,n))return 0;
if(!tc__device_begins_at_multiple(p->g,n,v->width))return 0;
int64_t most=TC__DEVICE_ACCESS/tc__device_bytes(p->g,n);
return tc__cuda_moves_by(p,n->attr[TC__LOAD_INDEX])==TC__CONTIGUOUS&&
tc__cuda_starts_at(p,n->attr[TC__LOAD_INDEX],
v->width<most?v->width:most);
}
static int tc__cuda_is_near(const tc__printer*p,const tc__node*n){
tc__place place=p->g->buffer.at[n->attr[TC__ACCESS_BUFFER]].place;
return place==TC__BUF_SHARED||place==TC__BUF_GIVEN;
}
static int tc__cuda_find_still(const tc__printer*p,const tc__node*n){
const tc__cuda_vector*v=p->vector;
if(n->op==TC_OP_STORE||n->op==TC_OP_END||n->op==TC_OP_IF||
n->op==TC_OP_ELSE||n->op==TC_OP_ACC||n->op==TC_OP_COMBINE||
n->op==TC_OP_PUT||n->op==TC_OP_GET)
return 0;
for(uint32_t i=0;i<n->n_in;i++)
if(n->in[i]>=v->begin&&v->way[n->in[i]]!=TC__WAY_STILL)return 0;
for(uint32_t i=0;i<n->n_attr;i++)
if(tc__attr_is_ix(n,i)&&tc__cuda_moves_by(p,n->attr[i])!=TC__UNIFORM)
return 0;
return 1;
}
static int tc__cuda_first_element(tc__printer*p,const tc__node*n){
tc__ixpool*x=p->g->body.ix;
tc__ix e=n->attr[TC__ACCESS_INDEX];
char behind[8];
if(!p->vector||!p->vector->inside||n->id<p->vector->begin||
tc__cuda_moves_by(p,e)!=TC__CONTIGUOUS)
return 0;
tc__ix lane=tc__ix_var(x,(int)p->vector->axis,tc__ix_const(p->vector->width));
if(tc__ix_add(x,tc__cuda_first(p,e),lane)==tc__cuda_expand(p,e))return 0;
snprintf(behind,sizeof behind," + %s",tc__axis_name(p->vector->axis));
tc__cuda_place_of(p,n->attr[TC__ACCESS_BUFFER],tc__cuda_first(p,e),behind,1);
return 1;
}
static void tc__cuda_element(tc__printer*p,const tc__node*n){
if(!tc__cuda_first_element(p,n))
tc__cuda_place_of(p,n->attr[TC__ACCESS_BUFFER],n->attr[TC__ACCESS_INDEX],"",1);
}
static void tc__cuda_find_ways(tc__printer*p,tc__cuda_vector*v){
uint32_t apart=v->begin;
for(uint32_t id=v->begin;id<v->end;id++){
const tc__node*n=tc__body(p,id);
if(n->op==TC_OP_IF&&id>=apart)apart=tc__loop_end(p->g,id);
v->way[id]=id<apart?TC__WAY_APART
:tc__cuda_find_still(p,n)?TC__WAY_STILL
:TC__WAY_MOVES;
}
}
static int tc__cuda_vector_open(tc__printer*p,tc__cuda_vector*v,const tc__node*loop,
uint32_t end){
memset(v,0,sizeof*v);
v->begin=loop->id+1,v->end=end,v->axis=(tc__axis)loop->attr[TC__FOR_AXIS];
v->width=(int)tc__ix_value(loop->attr[TC__FOR_END]);
v->way=TC__NEW_ARRAY(p->out->ctx,uint8_t,p->g->body.node.count);
if(!v->way)return p->out->failed=1,0;
p->vector=v;
tc__cuda_find_ways(p,v);
return 1;
}
static void tc__cuda_vector_close(tc__printer*p,tc__cuda_vector*v){
p->vector=NULL;
tc__free(p->out->ctx,v->way,p->g->body.node.count);
}
// ---- gen/cuda_print/value.c
static void tc__cuda_constant(tc__printer*p,int dtype,tc__value v){
if(tc__is_float(dtype)){
tc__put_hexfloat(p->out,v.f,dtype!=TC_F64);
return;
}
if(v.i==INT64_MIN)
tc__put(p->out,"(-0x7fffffffffffffffll - 1)");
else if(dtype==TC_I32&&v.i==INT32_MIN)
tc__put(p->out,"(-0x7fffffff - 1)");
else
tc__put(p->out,dtype==TC_I64?"%lldll":"%lld",(long long)v.i);
}
static const char*tc__cuda_index_type(const tc__printer*p){
return p->narrow?"int":"tc_i64";
}
static int tc__cuda_dtype(const tc__printer*p,const tc__node*n){
return tc__buffer_of(p->g,n)->dtype;
}
static const char*tc__cuda_memory(const tc__printer*p,const tc__node*n){
return tc__dtypes[tc__cuda_dtype(p,n)].memory;
}
static const char*tc__cuda_wrap(const tc__printer*p,const tc__node*n,int store){
static const char*const words[TC_DTYPE_COUNT][2]={
{"","tc_u8("},
{"","tc_u8("},
{"","tc_i8("},
{"","tc_i16("},
{"",""},
{"",""},
{"tc_of_f8e4m3(","tc_bits_f8e4m3("},
{"tc_of_f8e5m2(","tc_bits_f8e5m2("},
{"tc_of_f16(","tc_bits_f16("},
{"tc_of_bf16(","tc_bits_bf16("},
{"",""},
{"",""}};
return words[tc__cuda_dtype(p,n)][store];
}
static const char*tc__cuda_wrapped(const tc__printer*p,const tc__node*n,int store){
return*tc__cuda_wrap(p,n,store)?")":"";
}
static void tc__cuda_pred(tc__printer*p,const tc__node*n,uint32_t first){
const char*word=p->narrow?"unsigned":"tc_u64";
for(uint32_t i=first;i+1<n->n_attr;i+=2){
tc__put(p->out,"%s(%s)(",i>first?" && ":"",word);
tc__put_ix(p,n->attr[i]);
tc__put(p->out,") < (%s)(",word);
tc__put_ix(p,n->attr[i+1]);
tc__put(p->out,")");
}
}
static int tc__cuda_guarded(const tc__node*n){
return n->op==TC_OP_LOAD&&n->n_attr>TC__LOAD_PREDICATES;
}
static void tc__cuda_fill(tc__printer*p,const tc__node*n){
tc__value fill;
memcpy(&fill,&n->attr[TC__LOAD_FILL],sizeof fill);
tc__put(p->out,"%s",tc__cuda_wrap(p,n,1));
tc__cuda_constant(p,n->dtype,fill);
tc__put(p->out,"%s",tc__cuda_wrapped(p,n,1));
}
static void tc__cuda_read(tc__printer*p,const tc__node*n){
if(tc__cuda_guarded(n))tc__cuda_pred(p,n,TC__LOAD_PREDICATES);
if(tc__cuda_guarded(n))tc__put(p->out," ? ");
tc__cuda_element(p,n);
if(!tc__cuda_guarded(n))return;
tc__put(p->out," : ");
tc__cuda_fill(p,n);
}
static void tc__cuda_unroll(tc__printer*p,const char*variable,int count){
tc__line(p);
tc__put(p->out,"#pragma unroll\n");
tc__line(p);
tc__put(p->out,"for (int %s = 0; %s < %d; %s++)",variable,variable,count,variable);
tc__block_open(p);
}
static void tc__cuda_index(tc__printer*p,const tc__node*n,int copy){
tc__put_let(p,n,copy);
tc__put_ix(p,n->attr[TC__INDEX_EXPR]);
tc__put(p->out,";\n");
}
static void tc__cuda_check(tc__printer*p,const tc__node*n,int copy){
tc__put_let(p,n,copy);
tc__put(p->out,"tc_check(a.state, ");
tc__put_value(p,n->in[0],copy);
tc__put(p->out,", ");
tc__put_ix(p,n->attr[TC__CHECK_LIMIT]);
tc__put(p->out,", %lld);\n",(long long)n->attr[TC__CHECK_SITE]);
}
static void tc__cuda_valid(tc__printer*p,const tc__node*n,int copy){
tc__put_let(p,n,copy);
if(!n->n_attr)tc__put(p->out,"1");
tc__cuda_pred(p,n,0);
tc__put(p->out,";\n");
}
static void tc__cuda_random(tc__printer*p,const tc__node*n,int copy){
tc__put_let(p,n,copy);
tc__put(p->out,"tc_%s_%s(tc_drawn<%d>(",
n->attr[TC__RANDOM_KIND]?"normal":"uniform",tc__suffix(n->dtype),
tc__draw_words(n));
tc__put_value(p,n->in[0],copy);
tc__put(p->out," & -4, (int)");
tc__put_value(p,n->in[0],copy);
tc__put(p->out," & 3, draw + %lld, seed));\n",(long long)n->attr[TC__RANDOM_DRAW]);
}
static int tc__cuda_is_rounded_later(const tc__printer*p,const tc__node*n){
if(!tc__is_rounded(n->dtype)||
tc__class_of(tc__body(p,n->in[0])->dtype)!=TC__CLASS_f32)
return 0;
for(uint32_t id=0;id<p->g->body.node.count;id++){
const tc__node*user=tc__body(p,id);
if(user->op==TC_OP_FOR||user->op==TC_OP_END)continue;
int stores=user->op==TC_OP_STORE&&tc__cuda_dtype(p,user)==n->dtype;
for(uint32_t k=0;k<user->n_in;k++)
if(user->in[k]==n->id&&!stores)return 0;
}
return 1;
}
static void tc__cuda_cast_node(tc__printer*p,const tc__node*n,int copy){
if(!tc__cuda_is_rounded_later(p,n)){
tc__print_cast(p,n,copy);
return;
}
tc__put_let(p,n,copy);
tc__put_value(p,n->in[0],copy);
tc__put(p->out,";\n");
}
static void tc__cuda_reads(tc__printer*p){
for(size_t i=0;i<p->g->buffer.count;i++){
const tc__kbuf*b=&p->g->buffer.at[i];
if(!tc__is_memory(b)||b->written)continue;
tc__put(p->out,"tc_reads(");
tc__put_buffer(p,(int64_t)i);
tc__put(p->out,tc__cuda_is_checked(p->g,(int64_t)i)?"_memory), ":"), ");
}
}
// ---- gen/cuda_print/kept.c
static int tc__cuda_is_kept(const tc__printer*p,int64_t b){
return b<64&&(int)(p->kept>>b&1);
}
static void tc__cuda_set_kept_at(tc__printer*p,int64_t b,tc__ix e){
tc__put_buffer(p,b);
tc__put(p->out,".set(");
tc__put_ix(p,e);
tc__put(p->out,", ");
}
static void tc__cuda_set_kept(tc__printer*p,const tc__node*store){
tc__cuda_set_kept_at(p,store->attr[TC__STORE_BUFFER],
tc__cuda_first(p,store->attr[TC__STORE_INDEX]));
}
static const tc__node*tc__cuda_passed(const tc__printer*p,const tc__node*n){
const tc__node*store=NULL;
if(n->op!=TC_OP_LOAD||!tc__cuda_is_whole(p,n)||p->vector->width%2)
return NULL;
for(uint32_t id=n->id+1;id<p->g->body.node.count;id++){
const tc__node*m=tc__body(p,id);
if(m->op==TC_OP_FOR||m->op==TC_OP_END||!tc__has_operand(m,n->id))
continue;
if(store||m->op!=TC_OP_STORE||id>=p->vector->end)return NULL;
store=m;
}
if(!store||tc__buffer_of(p->g,store)->place!=TC__BUF_REGISTER)return NULL;
if(tc__cuda_dtype(p,store)!=tc__cuda_dtype(p,n))return NULL;
int whole=tc__cuda_moves_by(p,store->attr[TC__STORE_INDEX])==TC__CONTIGUOUS&&
tc__cuda_starts_at_multiple(p,store->attr[TC__STORE_INDEX]);
return whole?store:NULL;
}
static int tc__cuda_is_passed(const tc__printer*p,const tc__node*n){
if(!p->vector||n->id<p->vector->begin||n->id>=p->vector->end)return 0;
if(n->op==TC_OP_STORE)return tc__cuda_is_kept(p,n->attr[TC__STORE_BUFFER]);
const tc__node*store=n->op==TC_OP_LOAD?tc__cuda_passed(p,n):NULL;
return store&&tc__cuda_is_kept(p,store->attr[TC__STORE_BUFFER]);
}
static int tc__cuda_stores_words(tc__printer*p,const tc__node*n,uint32_t loop){
tc__cuda_vector v;
const tc__node*from=n->n_in?tc__body(p,n->in[0]):n;
if(!tc__cuda_vector_open(p,&v,tc__body(p,loop),tc__loop_end(p->g,loop)))return 0;
int words=from->id>=v.begin&&tc__cuda_passed(p,from)==n;
tc__cuda_vector_close(p,&v);
return words;
}
static int tc__cuda_keeps(tc__printer*p,int64_t b,uint32_t begin,uint32_t end){
const tc__kbuf*k=&p->g->buffer.at[b];
uint32_t loop=0,stores=0;
if(k->place!=TC__BUF_REGISTER||!tc__is_half(k->dtype)||
tc__ix_value(k->numel)%2)
return 0;
for(uint32_t id=begin;id<end;id++){
const tc__node*n=tc__body(p,id);
if(n->op==TC_OP_FOR&&n->attr[TC__FOR_BIND]==TC__BIND_VECTOR)loop=id;
if((n->op==TC_OP_PUT||n->op==TC_OP_GET)&&n->attr[TC__ACCESS_BUFFER]==b)
return 0;
if(n->op==TC_OP_COPY&&n->attr[TC__COPY_BUFFER]==b){
tc__place from=p->g->buffer.at[n->attr[TC__COPY_FROM]].place;
if(n->attr[TC__COPY_ELEMENTS]%2||from==TC__BUF_SHARED)return 0;
stores++;
}
if(n->op!=TC_OP_STORE||n->attr[TC__STORE_BUFFER]!=b)continue;
if(!loop||id>=tc__loop_end(p->g,loop)||!tc__cuda_stores_words(p,n,loop))
return 0;
stores++;
}
return stores>0;
}
static void tc__cuda_choose_kept(tc__printer*p,uint32_t begin,uint32_t end){
uint64_t kept=0;
p->kept=0;
for(size_t b=0;b<p->g->buffer.count&&b<64;b++)
if(tc__cuda_keeps(p,(int64_t)b,begin,end))kept|=(uint64_t)1<<b;
p->kept=kept;
}
// ---- gen/cuda_print/combine.c
static const char*tc__cuda_no_place(const tc__printer*p){
return p->narrow?"0x7fffffff":"0x7fffffffffffffffll";
}
static void tc__cuda_identity(tc__printer*p,const tc__acc*a){
tc__cuda_constant(p,a->dtype,tc__identity(a->monoid,a->dtype));
}
static void tc__cuda_put_new(tc__printer*p,const tc__node*n,int width){
const tc__acc*a=&p->acc[n->attr[TC__NEW_ACCUMULATOR]];
tc__line(p);
tc__put(p->out,"%s ",p->d->reg[tc__class_of(a->dtype)]);
tc__put_acc(p,n->attr[TC__NEW_ACCUMULATOR]);
tc__put(p->out,"[%d] = {",width);
for(int l=0;l<width;l++){
if(l)tc__put(p->out,", ");
tc__cuda_identity(p,a);
}
tc__put(p->out,"};\n");
if(!tc__is_arg(a))return;
tc__line(p);
tc__put(p->out,"%s at%lld[%d] = {",tc__cuda_index_type(p),
(long long)n->attr[TC__NEW_ACCUMULATOR],width);
for(int l=0;l<width;l++)
tc__put(p->out,"%s%s",l?", ":"",tc__cuda_no_place(p));
tc__put(p->out,"};\n");
}
static void tc__cuda_renew(tc__printer*p,int64_t i,int width){
const tc__acc*a=&p->acc[i];
tc__line(p);
tc__put(p->out,"for (int l = 0; l < %d; l++) ",width);
tc__put_acc(p,i);
tc__put(p->out,"[l] = ");
tc__cuda_identity(p,a);
if(tc__is_arg(a))
tc__put(p->out,", at%lld[l] = %s",(long long)i,tc__cuda_no_place(p));
tc__put(p->out,";\n");
}
static const char*tc__cuda_arg_name(const tc__acc*a){
return a->monoid==TC_OP_ARGMAX?"max":"min";
}
static void tc__cuda_acc_name(tc__printer*p,const char*lead,const tc__acc*a){
tc__put(p->out,"tc_%s_%s_%s",lead,
tc__is_arg(a)?tc__cuda_arg_name(a):tc__op_name(a->monoid),
tc__suffix(a->dtype));
}
static void tc__cuda_put_step(tc__printer*p,const tc__node*n,const char*at,
const char*column){
long long i=n->attr[TC__ACC_ACCUMULATOR];
const tc__acc*a=&p->acc[i];
tc__line(p);
if(tc__is_arg(a)){
tc__cuda_acc_name(p,"keep",a);
tc__put(p->out,"(best%lld[%s], at%lld[%s], ",i,at,i,at);
tc__put_value(p,n->in[0],0);
tc__put(p->out,", %s(%s));\n",tc__cuda_index_type(p),column);
return;
}
tc__put_acc(p,i);
tc__put(p->out,"[%s] = ",at);
tc__cuda_acc_name(p,"acc",a);
tc__put(p->out,"(");
tc__put_acc(p,i);
tc__put(p->out,"[%s], ",at);
tc__put_value(p,n->in[0],0);
tc__put(p->out,");\n");
}
typedef struct tc__cuda_run{
uint32_t first,last;
}tc__cuda_run;
static int tc__cuda_warps(const tc__printer*p){return p->team/32;}
static void tc__cuda_fold(tc__printer*p,int64_t i,const char*lead){
const tc__acc*a=&p->acc[i];
int lanes=p->team<32?p->team:32;
tc__line(p);
if(tc__is_arg(a)){
tc__cuda_acc_name(p,"fold",a);
tc__put(p->out,"(best%lld, at%lld);\n",(long long)i,(long long)i);
tc__line(p);
tc__cuda_acc_name(p,"lanes",a);
tc__put(p->out,"<%d>(best%lld[0], at%lld[0]);\n",lanes,(long long)i,
(long long)i);
return;
}
tc__put(p->out,"%s = ",lead);
tc__cuda_acc_name(p,"lanes",a);
tc__put(p->out,"<%d>(",lanes);
tc__cuda_acc_name(p,"fold",a);
tc__put(p->out,"(");
tc__put_acc(p,i);
tc__put(p->out,"));\n");
}
static void tc__cuda_let(tc__printer*p,const tc__node*n,char out[64]){
snprintf(out,64,"const %s t%u",p->d->reg[tc__class_of(n->dtype)],n->id);
}
static int tc__cuda_is_used(const tc__printer*p,const tc__node*n){
for(uint32_t id=n->id+1;id<p->g->body.node.count;id++){
const tc__node*m=tc__body(p,id);
for(uint32_t k=0;k<m->n_in;k++)
if(m->in[k]==n->id)return 1;
for(uint32_t k=0;k<m->n_attr;k++)
if(tc__attr_is_ix(m,k)&&tc__ix_has_val(p->g->body.ix,m->attr[k]))return 1;
}
return 0;
}
static void tc__cuda_place_value(tc__printer*p,const tc__node*n){
long long i=n->attr[TC__COMBINE_ACCUMULATOR];
tc__put_let(p,n,0);
tc__put(p->out,"at%lld[0] == %s ? 0 : at%lld[0];\n",i,tc__cuda_no_place(p),i);
}
static void tc__cuda_slot(tc__printer*p,const char*type,const char*name,int64_t i,
int slots,int64_t at){
int dynamic=tc__device_is_dynamic(p->g);
tc__line(p);
if(!dynamic){
tc__put(p->out,"__shared__ %s %s%lld[%d];\n",type,name,(long long)i,slots);
return;
}
tc__ix begin=tc__device_shared_at(p->g,p->g->buffer.count);
tc__put(p->out,"%s *const %s%lld = (%s *)(shared + ",type,name,(long long)i,type);
tc__put_ix(p,tc__ix_add(p->g->body.ix,begin,tc__ix_const(at)));
tc__put(p->out,");\n");
}
static void tc__cuda_slots(tc__printer*p,const tc__node*n){
int64_t i=n->attr[TC__COMBINE_ACCUMULATOR],at,places=0;
const tc__acc*a=&p->acc[i];
int slots=tc__cuda_warps(p)*(p->cluster?p->cluster:1);
uint32_t launch=n->id;
if(tc__device_combined_again(p->g,n))return;
while(launch&&tc__body(p,launch)->op!=TC_OP_LAUNCH)launch--;
at=tc__device_parts_bytes(p->g,launch,n->id);
tc__device_part_bytes(p->g,tc__body(p,launch),n,&places);
tc__cuda_slot(p,p->d->reg[tc__class_of(a->dtype)],"part",i,slots,at);
if(tc__is_arg(a))
tc__cuda_slot(p,tc__cuda_index_type(p),"place",i,slots,at+places);
}
static void tc__cuda_give_part(tc__printer*p,const tc__node*n){
long long id=n->attr[TC__COMBINE_ACCUMULATOR];
int warps=tc__cuda_warps(p),arg=tc__is_arg(&p->acc[id]);
tc__line(p);
tc__put(p->out,"if (x %% 32 < %d) ",p->cluster);
tc__put(p->out,"tc_cluster_store(&part%lld[z * %d + x / 32], x %% 32, ",id,warps);
if(arg)
tc__put(p->out,
"best%lld[0]), tc_cluster_store(&place%lld[z * %d + x / 32], x %% 32, "
"at%lld[0]);\n",
id,id,warps,id);
else
tc__put(p->out,"all%u);\n",n->id);
}
static void tc__cuda_meet_cluster(tc__printer*p,const tc__cuda_run*run){
int met=0;
for(uint32_t id=0;id<run->first;id++)
met|=tc__body(p,id)->op==TC_OP_COMBINE;
if(!met)tc__line(p);
if(!met)tc__put(p->out,"tc_cluster_wait();\n");
for(uint32_t id=run->first;id<run->last;id++)
tc__cuda_give_part(p,tc__body(p,id));
tc__line(p);
tc__put(p->out,"tc_cluster_arrive();\n");
tc__line(p);
tc__put(p->out,"tc_cluster_wait();\n");
}
static void tc__cuda_share_parts(tc__printer*p,const tc__cuda_run*run){
for(uint32_t id=run->first;id<run->last;id++){
const tc__node*n=tc__body(p,id);
const tc__acc*a=&p->acc[n->attr[TC__COMBINE_ACCUMULATOR]];
char let[64];
snprintf(let,sizeof let,"const %s all%u",p->d->reg[tc__class_of(a->dtype)],id);
tc__cuda_slots(p,n);
tc__cuda_fold(p,n->attr[TC__COMBINE_ACCUMULATOR],let);
}
if(p->cluster){
tc__cuda_meet_cluster(p,run);
return;
}
for(uint32_t id=run->first;id<run->last;id++){
long long i=tc__body(p,id)->attr[TC__COMBINE_ACCUMULATOR];
tc__line(p);
tc__put(p->out,"if (x %% 32 == 0) part%lld[x / 32] = ",i);
if(tc__is_arg(&p->acc[i]))
tc__put(p->out,"best%lld[0], place%lld[x / 32] = at%lld[0];\n",i,i,i);
else
tc__put(p->out,"all%u;\n",id);
}
tc__line(p);
tc__put(p->out,"__syncthreads();\n");
}
static void tc__cuda_put_cluster(tc__printer*p,const tc__acc*a,int64_t i,
const char*let){
long long id=(long long)i;
int blocks=p->cluster,warps=tc__cuda_warps(p);
tc__line(p);
if(!tc__is_arg(a)){
tc__put(p->out,"%s = ",let);
tc__cuda_acc_name(p,"lanes",a);
tc__put(p->out,"<32>(");
tc__cuda_acc_name(p,"below",a);
tc__put(p->out,"<%d, %d>(&part%lld[x %% %d]));\n",blocks,warps,id,warps);
return;
}
tc__cuda_acc_name(p,"below",a);
tc__put(p->out,"<%d, %d>(best%lld[0], at%lld[0], &part%lld[x %% %d], ",blocks,warps,
id,id,id,warps);
tc__put(p->out,"&place%lld[x %% %d]);\n",id,warps);
tc__line(p);
tc__cuda_acc_name(p,"lanes",a);
tc__put(p->out,"<32>(best%lld[0], at%lld[0]);\n",id,id);
}
static void tc__cuda_put_block(tc__printer*p,const tc__acc*a,int64_t i,
const char*let){
long long id=(long long)i;
int warps=tc__cuda_warps(p);
tc__line(p);
if(!tc__is_arg(a))tc__put(p->out,"%s = ",let);
tc__cuda_acc_name(p,"parts",a);
if(tc__is_arg(a))
tc__put(p->out,"<%d>(best%lld[0], at%lld[0], part%lld, place%lld);\n",warps,id,
id,id,id);
else
tc__put(p->out,"<%d>(part%lld);\n",warps,id);
}
static void tc__cuda_put_run(tc__printer*p,const tc__cuda_run*run){
char let[64];
int block=tc__cuda_warps(p)>1;
if(block)tc__cuda_share_parts(p,run);
for(uint32_t id=run->first;id<run->last;id++){
const tc__node*n=tc__body(p,id);
const tc__acc*a=&p->acc[n->attr[TC__COMBINE_ACCUMULATOR]];
tc__cuda_let(p,n,let);
if(p->cluster)
tc__cuda_put_cluster(p,a,n->attr[TC__COMBINE_ACCUMULATOR],let);
else if(block)
tc__cuda_put_block(p,a,n->attr[TC__COMBINE_ACCUMULATOR],let);
else
tc__cuda_fold(p,n->attr[TC__COMBINE_ACCUMULATOR],let);
if(tc__is_arg(a)&&tc__cuda_is_used(p,n))tc__cuda_place_value(p,n);
}
}
static tc__cuda_run tc__cuda_run_at(const tc__printer*p,const tc__node*n){
tc__cuda_run run;
run.first=run.last=n->id;
while(run.last<p->g->body.node.count&&tc__body(p,run.last)->op==TC_OP_COMBINE)
run.last++;
return run;
}
static int tc__cuda_leads_run(const tc__printer*p,const tc__node*n){
return!n->id||tc__body(p,n->id-1)->op!=TC_OP_COMBINE;
}
// ---- gen/cuda_print/custom.c
static const tc__custom*tc__custom_of_printer(const tc__printer*p){
return tc__custom_of_group(p->out->ctx,p->g);
}
static void tc__put_cuda_custom_head(tc__printer*p){
static const tc__prelude_text types={tc__text_cuda_custom,
(uint32_t)TC__COUNT(tc__text_cuda_custom)};
tc__put(p->out,"\nnamespace tc_custom {\n");
tc__put_dtype_names(p->out);
tc__put_prelude_text(p->out,&types);
tc__put(p->out,
"__device__ void %s(const tc_buffer *in, int n_in, const tc_buffer *out);\n}\n",
tc__custom_of_printer(p)->op.name);
}
static void tc__put_cuda_custom_source(tc__printer*p){
const tc__custom*o=tc__custom_of_printer(p);
tc__put(p->out,"\nnamespace tc_custom {\n#line 1 \"custom op %s\"\n",o->op.name);
tc__put_raw(p->out,o->op.cuda_source,strlen(o->op.cuda_source));
tc__put(p->out,"\n}\n");
}
static void tc__put_cuda_custom_buffer(tc__printer*p,const tc__opaque_plan*q,
uint32_t i){
int64_t buffer=tc__call_buffer(q->call,i);
int rank=tc__call_rank(q->call,i);
int dtype=tc__custom_dtype(p->g,q->call,i);
tc__put(p->out,"{(void *)");
if(buffer<0)
tc__put(p->out,"0");
else
tc__put_buffer(p,buffer);
tc__put(p->out,", {tc_custom::");
tc__put_dtype_name(p->out,dtype);
tc__put(p->out,", %d, {",rank);
for(int d=0;d<rank;d++){
tc__put(p->out,d?", ":"");
tc__put_ix(p,tc__call_size(q->call,i,d));
}
tc__put(p->out,rank?"}}}":"0}}}");
}
static void tc__put_custom_call(tc__printer*p,const tc__opaque_plan*q,int i){
uint32_t n=(uint32_t)q->call->attr[TC__CALL_OPERANDS];
(void)i;
tc__line(p);
tc__put(p->out,"if ((");
tc__put_ix(p,q->lines);
tc__put(p->out,") == 0) return;\n");
tc__line(p);
tc__put(p->out,"const tc_custom::tc_buffer operands[] = {");
for(uint32_t k=1;k<=n;k++){
tc__put(p->out,k>1?",\n        ":"\n        ");
tc__put_cuda_custom_buffer(p,q,k);
}
tc__put(p->out,"};\n");
tc__line(p);
tc__put(p->out,"const tc_custom::tc_buffer result = ");
tc__put_cuda_custom_buffer(p,q,0);
tc__put(p->out,";\n");
tc__line(p);
tc__put(p->out,"tc_custom::%s(operands, %u, &result);\n",
tc__custom_of_printer(p)->op.name,(unsigned)n);
}
static void tc__put_custom_bools(tc__printer*p,const tc__opaque_plan*q,int i){
(void)i;
tc__line(p);
tc__put(p->out,"const tc_i64 e = blockIdx.x * (tc_i64)blockDim.x + threadIdx.x;\n");
tc__line(p);
tc__put(p->out,"if (e < ");
tc__put_ix(p,q->lines);
tc__put(p->out,") ");
tc__put_buffer(p,tc__call_buffer(q->call,0));
tc__put(p->out,"[e] = ");
tc__put_buffer(p,tc__call_buffer(q->call,0));
tc__put(p->out,"[e] != 0;\n");
}
// ---- gen/cuda_print/opaque.c
static const char*tc__opaque_type(int dtype){
static const char*const words[]={"","tc_u8","tc_u16","","unsigned",
"","","","tc_u64"};
if(dtype==TC_F32||dtype==TC_F64)return tc__dtypes[dtype].memory;
return words[tc__dtypes[dtype].bytes];
}
static const char*tc__key_type(const tc__opaque_plan*q){
return q->wide?"tc_u64":"unsigned";
}
static int tc__is_scatter(const tc__opaque_plan*q){return tc__changes_some(q->op);}
static void tc__put_call_buffer(tc__printer*p,const tc__opaque_plan*q,uint32_t i){
tc__put_buffer(p,tc__call_buffer(q->call,i));
}
static void tc__put_elements(tc__printer*p,const tc__opaque_plan*q,uint32_t i){
tc__put(p->out,"(%s%s *)",i?"const ":"",tc__opaque_type(q->dtype));
tc__put_call_buffer(p,q,i);
}
typedef struct tc__row_limits{
int count;
tc__ix pair[2*TC_MAX_RANK];
}tc__row_limits;
static tc__ix tc__row_between(tc__ixpool*x,const tc__opaque_plan*q,uint32_t from,
uint32_t to,tc__row_limits*inside){
tc__ix left=tc__ix_var(x,TC__ROW,tc__call_rows(x,q->call,from));
tc__ix at=tc__ix_const(0),step=tc__ix_const(1);
for(int d=tc__call_rank(q->call,from)-2;d>=0;d--){
tc__ix n=tc__call_size(q->call,from,d),m=tc__call_size(q->call,to,d);
tc__ix i=d?tc__ix_mod(x,left,n):left;
if(inside&&n!=m){
inside->pair[inside->count++]=i;
inside->pair[inside->count++]=m;
}
at=tc__ix_add(x,at,tc__ix_mul(x,i,step));
step=tc__ix_mul(x,step,m),left=tc__ix_div(x,left,n);
}
return at;
}
static void tc__put_part(tc__printer*p,const tc__opaque_plan*q,int back){
tc__row_limits inside;
inside.count=0;
tc__ix e=tc__row_between(p->g->body.ix,q,back?3:0,back?0:3,
back?NULL:&inside);
tc__line(p);
tc__put(p->out,"const auto %s = [=](tc_i64 r) -> tc_i64 { return ",
back?"whole":"part");
for(int i=0;i<inside.count;i+=2){
tc__put(p->out,i?" && ":"");
tc__put_ix(p,inside.pair[i]);
tc__put(p->out," < ");
tc__put_ix(p,inside.pair[i+1]);
}
if(inside.count)tc__put(p->out," ? ");
tc__put_ix(p,e);
tc__put(p->out,inside.count?" : -1; };\n":"; };\n");
}
static int tc__sorts_by_digits(const tc__opaque_plan*q){
return q->digits&&!tc__ix_equals(q->grids.zeroed,0);
}
static void tc__put_key(tc__printer*p,const tc__opaque_plan*q){
tc__line(p);
tc__put(p->out,"const auto key = [=](tc_i64 r, tc_i64 i) { return ");
if(tc__is_scatter(q)){
tc__put(p->out,"(unsigned)tc_check(a.state, ");
tc__put_call_buffer(p,q,2);
tc__put(p->out,"[r * m + i], n, %lld); };\n",
(long long)q->call->attr[TC__CALL_WORD]);
return;
}
const char*turn=q->call->attr[TC__CALL_WORD]?"~":"";
tc__put(p->out,"%stc_key_%s(",turn,tc__dtypes[q->dtype].name);
tc__put_call_buffer(p,q,1);
tc__put(p->out,"[r * n + i]); };\n");
}
static void tc__put_put(tc__printer*p,const tc__opaque_plan*q){
int top=q->op==TC_OP_TOPK;
tc__line(p);
tc__put(p->out,"const auto put = [=](tc_i64 r, tc_i64 i, tc_pair<%s> v) { ",
tc__key_type(q));
if(tc__is_scatter(q)){
tc__put(p->out,"pairs[r * m + i] = v; };\n");
return;
}
tc__put(p->out,top?"if (i < k) ":"");
tc__put_call_buffer(p,q,0);
tc__put(p->out,"[r * %s + i] = v.at; };\n",top?"k":"n");
}
static void tc__put_sorter(tc__printer*p,const tc__opaque_plan*q){
tc__line(p);
tc__put(p->out,"const tc_sorter<%s, %d> s(work, ",tc__key_type(q),q->digits);
tc__put_ix(p,q->sorts);
tc__put(p->out,", %s);\n",tc__is_scatter(q)?"m":"n");
}
static void tc__put_pairs(tc__printer*p,const tc__opaque_plan*q){
if(!tc__is_scatter(q))return;
tc__line(p);
tc__put(p->out,"tc_pair<unsigned> *const pairs = ");
if(tc__sorts_by_digits(q))
tc__put(p->out,"s.pair[%d];\n",(q->digits-1)%2);
else
tc__put(p->out,"(tc_pair<unsigned> *)work;\n");
}
static int tc__key_bits(const tc__opaque_plan*q){
return tc__is_scatter(q)?8*q->digits:q->wide?64:32;
}
static void tc__put_sort_rows(tc__printer*p,const tc__opaque_plan*q,int threads){
tc__put_pairs(p,q);
tc__put_put(p,q);
tc__line(p);
if(q->most<=TC__SORT_FEW)
tc__put(p->out,"tc_sort_few<%s, %d>(",tc__key_type(q),q->most);
else
tc__put(p->out,"tc_sort_rows<%s, %d, %d, %d, %d>(",tc__key_type(q),threads,
q->items,q->bits,tc__key_bits(q));
tc__put_ix(p,q->sorts);
tc__put(p->out,", %s, key, put);\n",tc__is_scatter(q)?"m":"n");
}
static void tc__put_scan(tc__printer*p,const tc__opaque_plan*q,int i){
static const char*const names[]={"lines","rows","tiles"};
const char*type=tc__opaque_type(q->dtype);
tc__line(p);
tc__put(p->out,"tc_scan_%s<tc_%s<%s>, %s, %d>(",names[q->step[i]],
q->op==TC_OP_CUMSUM?"sums":"products",type,type,q->width);
tc__put_elements(p,q,1);
tc__put(p->out,", ");
tc__put_elements(p,q,0);
tc__put(p->out,", rows, n%s);\n",q->step[i]==TC__SCAN_TILES?", work":"");
}
static void tc__put_sort_block(tc__printer*p,const tc__opaque_plan*q,int i){
tc__put_key(p,q);
tc__put_sort_rows(p,q,q->grids.at[i].threads);
}
static void tc__put_sort_count(tc__printer*p,const tc__opaque_plan*q,int i){
tc__put_sorter(p,q);
tc__put_key(p,q);
if(q->mixed){
tc__line(p);
tc__put(p->out,"if (s.in_block())");
tc__block_open(p);
tc__put_sort_rows(p,q,q->grids.at[i].threads);
tc__line(p);
tc__put(p->out,"return;\n");
tc__block_close(p);
}
tc__line(p);
tc__put(p->out,"tc_sort_count(s, key);\n");
}
static void tc__put_sort_pass(tc__printer*p,const tc__opaque_plan*q,int i){
tc__put_sorter(p,q);
if(q->step[i]==TC__SORT_FIRST)tc__put_key(p,q);
if(q->step[i]==TC__SORT_LAST)tc__put_put(p,q);
tc__line(p);
if(q->mixed)tc__put(p->out,"if (!s.in_block()) ");
if(q->step[i]==TC__SORT_FIRST)tc__put(p->out,"tc_sort_first(s, key);\n");
if(q->step[i]==TC__SORT_NEXT)tc__put(p->out,"tc_sort_next<%d>(s);\n",q->pass[i]);
if(q->step[i]==TC__SORT_LAST)tc__put(p->out,"tc_sort_last(s, put);\n");
}
static void tc__put_top_rows(tc__printer*p,const tc__opaque_plan*q,int i){
(void)i;
tc__put_key(p,q);
tc__put_put(p,q);
tc__line(p);
tc__put(p->out,"tc_top_rows<%s, ",tc__key_type(q));
tc__put_ix(p,q->k);
tc__put(p->out,">(rows, n, key, put);\n");
}
static void tc__put_scatter_mark(tc__printer*p,const tc__opaque_plan*q,int i){
(void)i;
tc__put_key(p,q);
tc__put_part(p,q,1);
tc__line(p);
tc__put(p->out,"tc_scatter_mark(");
tc__put_ix(p,q->lines);
tc__put(p->out,", n, m, key, whole, (unsigned *)work);\n");
}
static void tc__put_scatter_operands(tc__printer*p,const tc__opaque_plan*q){
tc__put(p->out,"(rows, n, m, ");
tc__put_elements(p,q,1);
tc__put(p->out,", ");
tc__put_elements(p,q,3);
tc__put(p->out,", part, ");
}
static void tc__put_scatter_take(tc__printer*p,const tc__opaque_plan*q,int i){
(void)i;
tc__put_part(p,q,0);
tc__line(p);
tc__put(p->out,"tc_scatter_take");
tc__put_scatter_operands(p,q);
tc__put(p->out,"(unsigned *)work, ");
tc__put_elements(p,q,0);
tc__put(p->out,");\n");
}
static void tc__put_scatter_sum(tc__printer*p,const tc__opaque_plan*q,int i){
const char*type=tc__opaque_type(q->dtype);
(void)i;
if(tc__sorts_by_digits(q))tc__put_sorter(p,q);
tc__put_pairs(p,q);
tc__put_part(p,q,0);
tc__line(p);
tc__put(p->out,"tc_scatter_sum<%s, %s, %d>",type,
tc__dtypes[q->dtype].bytes<4?"unsigned":type,
q->op==TC_OP_INDEX_ADD?TC__SUM_ROWS:1);
tc__put_scatter_operands(p,q);
tc__put(p->out,"pairs, ");
tc__put_elements(p,q,0);
tc__put(p->out,");\n");
}
static void tc__put_opaque_copy(tc__printer*p,const tc__opaque_plan*q,int i){
(void)i;
if(q->filled){
tc__line(p);
tc__put(p->out,"tc_fill(");
tc__put_elements(p,q,0);
tc__put(p->out,", 0x%llxu, rows * n);\n",
(unsigned long long)q->call->attr[TC__CALL_FILL]);
return;
}
tc__line(p);
if(q->grids.over.count){
tc__put(p->out,"if (");
tc__put_elements(p,q,1);
tc__put(p->out," != ");
tc__put_elements(p,q,0);
tc__put(p->out,") ");
}
tc__put(p->out,"tc_copy(");
tc__put_elements(p,q,1);
tc__put(p->out,", ");
tc__put_elements(p,q,0);
tc__put(p->out,", rows * n);\n");
}
static void tc__put_rank_indices(tc__printer*p,const tc__opaque_plan*q,int i){
if(!i)tc__put_opaque_copy(p,q,i);
tc__line(p);
tc__put(p->out,
"const auto checked = [=](tc_i64 v) { return (int)tc_check(a.state, v, "
"n, %lld); };\n",
(long long)q->call->attr[TC__CALL_WORD]);
tc__put_pairs(p,q);
tc__line(p);
tc__put(p->out,"tc_rank_indices<%d>(m, n, %d, ",q->each,q->window);
tc__put_call_buffer(p,q,2);
tc__put(p->out,", checked, (unsigned *)shared, pairs);\n");
}
static void tc__put_add_runs(tc__printer*p,const tc__opaque_plan*q,int i){
const char*type=tc__opaque_type(q->dtype);
(void)i;
if(tc__sorts_by_digits(q))tc__put_sorter(p,q);
tc__put_pairs(p,q);
tc__line(p);
tc__put(p->out,"tc_add_runs<%s, %s, %d, %d, %d, %d, %lld, %s>(rows, m, ",type,
tc__dtypes[q->dtype].bytes<4?"unsigned":type,q->width,q->across,
q->piece,TC__RUN_SPAN,(long long)tc__run_ring(q),
q->filled?"false":"true");
tc__put_elements(p,q,3);
tc__put(p->out,", pairs, ");
tc__put_elements(p,q,0);
tc__put(p->out,", shared, 0x%llxu);\n",
(unsigned long long)q->call->attr[TC__CALL_FILL]);
}
static void tc__put_opaque_clear(tc__printer*p,const tc__opaque_plan*q,int i){
(void)i;
tc__line(p);
tc__put(p->out,"tc_clear((tc_u64 *)work, ");
tc__put_ix(p,tc__ix_ceil_div(p->g->body.ix,q->grids.zeroed,tc__ix_const(8)));
tc__put(p->out,");\n");
}
static void(*const tc__opaque_steps[])(tc__printer*p,const tc__opaque_plan*q,int i)={
tc__put_scan,tc__put_scan,tc__put_scan,tc__put_sort_block,
tc__put_sort_count,tc__put_sort_pass,tc__put_sort_pass,tc__put_sort_pass,
tc__put_top_rows,tc__put_scatter_mark,tc__put_scatter_take,tc__put_scatter_sum,
tc__put_rank_indices,tc__put_add_runs,tc__put_opaque_copy,tc__put_opaque_clear,
tc__put_custom_call,tc__put_custom_bools,
};
static void tc__put_opaque_names(tc__printer*p,const tc__opaque_plan*q,
const tc__text*body){
const struct{
const char*name;
tc__ix e;
}sizes[]={{"rows",q->rows},{"n",q->n},{"k",q->k},{"m",q->m}};
tc__text lines,*out=p->out;
char name[24];
tc__text_init(&lines,out->ctx);
p->out=&lines;
for(size_t i=0;i<TC__COUNT(sizes);i++){
if(!tc__c_mentions(body,sizes[i].name))continue;
tc__line(p);
tc__put(p->out,"const tc_i64 %s = ",sizes[i].name);
tc__put_ix(p,sizes[i].e);
tc__put(p->out,";\n");
}
p->out=out;
for(int slot=0;slot<64;slot++){
snprintf(name,sizeof name,"s%d",slot);
if(!tc__c_mentions(body,name)&&!tc__c_mentions(&lines,name))continue;
tc__line(p);
tc__put(out,"const tc_i64 %s = a.size[%d];\n",name,slot);
}
tc__put_raw(out,lines.at,lines.size);
out->failed|=lines.failed;
tc__text_free(&lines);
}
static void tc__put_opaque_kernel(tc__printer*p,const tc__opaque_plan*q,int i,
const char*symbol){
tc__text body,*out=p->out;
int sizes=tc__cuda_sizes(p->g);
tc__text_init(&body,out->ctx);
p->out=&body,p->indent=1;
tc__opaque_steps[q->step[i]](p,q,i);
p->out=out,p->indent=0;
tc__put(out,"\nextern \"C\" __global__ void __launch_bounds__(%d, %d)\n%s",
q->grids.at[i].threads,tc__opaque_resident(q,i),symbol);
if(i)tc__put(out,"_%d",i);
tc__put(out,"(");
for(size_t b=0;b<p->g->buffer.count;b++){
const tc__kbuf*k=&p->g->buffer.at[b];
tc__put(out,"%s%s *%s",k->written?"":"const ",tc__dtypes[k->dtype].memory,
q->grids.over.count?"":"__restrict__ ");
tc__put_buffer(p,(int64_t)b);
tc__put(out,", ");
}
if(!tc__ix_equals(q->grids.workspace,0))tc__put(out,"unsigned char *work, ");
tc__put(out,"const tc_kargs<%d> a)",sizes?sizes:1);
tc__block_open(p);
if(!tc__ix_equals(q->grids.at[i].shared,0)){
tc__line(p);
tc__put(out,"extern __shared__ __align__(16) char shared[];\n");
}
if(q->grids.at[i].early||(i+1<q->count&&q->grids.at[i+1].early)){
tc__line(p);
tc__cuda_reads(p);
tc__put(out,"tc_begin();\n");
}
tc__put_opaque_names(p,q,&body);
tc__put_raw(out,body.at,body.size);
tc__block_close(p);
out->failed|=body.failed;
tc__text_free(&body);
}
static int tc__print_cuda_opaque(tc__text*out,const tc__group*g,const tc__dialect*d,
const char*symbol){
tc__printer p;
tc__opaque_plan q=tc__opaque_plan_of(g);
tc__printer_open(&p,out,g,d);
int custom=tc__is_custom(g);
if(custom)tc__put_cuda_custom_head(&p);
tc__put(out,"\n// %s: %s%s%s, %d launch%s\n// rows ",symbol,
custom?"custom op ":"",tc__call_name(out->ctx,q.call),
custom?"":" along rows",q.count,q.count==1?"":"es");
tc__put_ix(&p,g->shape.rows);
tc__put(out,", columns ");
tc__put_ix(&p,g->shape.cols);
tc__put(out,"\n");
tc__put_dump_buffers(&p);
for(int i=0;i<q.count;i++)tc__put_opaque_kernel(&p,&q,i,symbol);
if(custom)tc__put_cuda_custom_source(&p);
return!out->failed&&!g->body.ix->failed;
}
// ---- gen/cuda_print/list.c
static const char tc__cuda_list_block[]="(blockIdx.x - list.first[row])";
static void tc__cuda_list_parameters(tc__printer*p){
tc__put(p->out,"const __grid_constant__ tc_list<%u, %d> list, const tc_kargs<1> a",
(unsigned)tc__list_width(p->g),p->g->shape.list);
}
static int tc__cuda_has_work(const tc__printer*p){
return!tc__ix_equals(tc__device_work_at(p->g,p->g->buffer.count),0);
}
static void tc__cuda_list_names(tc__printer*p,const tc__text*body){
int top=1;
while(2*top<p->g->shape.list)top*=2;
tc__line(p);
tc__put(p->out,"const int row = tc_list_row<%d>(list);\n",top);
if(tc__c_mentions(body,"s0")){
tc__line(p);
tc__put(p->out,"const %s s0 = list.count[row];\n",tc__cuda_index_type(p));
}
for(size_t i=0;i<p->g->buffer.count;i++){
const tc__kbuf*b=&p->g->buffer.at[i];
const char*type=tc__dtypes[b->dtype].memory,*fixed=b->written?"":"const ";
if(!tc__is_memory(b))continue;
tc__line(p);
tc__put(p->out,"%s%s *__restrict__ ",fixed,type);
tc__put_buffer(p,(int64_t)i);
tc__put(p->out," = (%s%s *)list.at[row][%u];\n",fixed,type,(unsigned)i);
}
if(!tc__cuda_has_work(p))return;
tc__line(p);
tc__put(p->out,"unsigned char *const work = (unsigned char *)list.at[row][%u];\n",
(unsigned)tc__list_width(p->g)-1);
}
// ---- gen/cuda_print/sums.c
static const tc__node*tc__cuda_named_before(const tc__printer*p,uint32_t id,
int64_t accumulator){
int64_t number,monoid;
while(id-- >0&&tc__body(p,id)->op!=TC_OP_LAUNCH){
const tc__node*n=tc__body(p,id);
int named=tc__accumulator_of(n,&number,&monoid);
if(n->op==TC_OP_NEW)named=1,number=n->attr[TC__NEW_ACCUMULATOR];
if(named&&number==accumulator)return n;
}
return NULL;
}
static void tc__cuda_list_new(tc__printer*p,const tc__node*n,int copy){
int64_t i=n->attr[TC__NEW_ACCUMULATOR];
int width=(int)n->attr[TC__NEW_WIDTH];
(void)copy;
if(tc__cuda_named_before(p,n->id,i))
tc__cuda_renew(p,i,width);
else
tc__cuda_put_new(p,n,width);
}
static const char*tc__cuda_lane(const tc__printer*p){
return p->vector?tc__axis_name(p->vector->axis):"0";
}
static void tc__cuda_put_work(tc__printer*p,const tc__node*n,int64_t buffer){
tc__put_buffer(p,buffer);
tc__put(p->out,"[");
tc__put_ix(p,n->attr[TC__PUT_INDEX]);
tc__put(p->out,"]");
}
static void tc__cuda_list_put(tc__printer*p,const tc__node*n,int copy){
int64_t i=n->attr[TC__PUT_ACCUMULATOR];
const tc__node*last=tc__cuda_named_before(p,n->id,i);
const char*lane=tc__cuda_lane(p);
(void)copy;
tc__line(p);
tc__cuda_put_work(p,n,n->attr[TC__PUT_BUFFER]);
tc__put(p->out," = ");
if(last->op==TC_OP_COMBINE&&!tc__is_arg(&p->acc[i]))
tc__put_name(p,last,0);
else
tc__put_acc(p,i),tc__put(p->out,"[%s]",lane);
tc__put(p->out,";\n");
if(n->n_attr<=TC__PUT_PLACES)return;
tc__line(p);
tc__cuda_put_work(p,n,n->attr[TC__PUT_PLACES]);
tc__put(p->out," = at%lld[%s];\n",(long long)i,lane);
}
static void tc__cuda_peek(tc__printer*p,const tc__node*n,int64_t buffer){
int shared=p->g->buffer.at[buffer].place==TC__BUF_SHARED;
if(!shared)tc__put(p->out,"tc_peek(&");
tc__cuda_put_work(p,n,buffer);
if(!shared)tc__put(p->out,")");
}
static void tc__cuda_list_get(tc__printer*p,const tc__node*n,int copy){
long long i=n->attr[TC__PUT_ACCUMULATOR];
const tc__acc*a=&p->acc[i];
const char*lane=tc__cuda_lane(p);
(void)copy;
tc__line(p);
if(!tc__is_arg(a)){
tc__put_acc(p,i);
tc__put(p->out,"[%s] = ",lane);
}
tc__cuda_acc_name(p,tc__is_arg(a)?"keep":"acc",a);
tc__put(p->out,"(");
tc__put_acc(p,i);
tc__put(p->out,"[%s], ",lane);
if(tc__is_arg(a))tc__put(p->out,"at%lld[%s], ",i,lane);
tc__cuda_peek(p,n,n->attr[TC__PUT_BUFFER]);
if(tc__is_arg(a)){
tc__put(p->out,", (%s)",tc__cuda_index_type(p));
tc__cuda_peek(p,n,n->attr[TC__PUT_PLACES]);
}
tc__put(p->out,");\n");
}
static void tc__cuda_list_last(tc__printer*p,const tc__node*n,int copy){
(void)copy;
tc__line(p);
tc__put(p->out,"if (!tc_arrives_last(&");
tc__put_buffer(p,n->attr[TC__LAST_BUFFER]);
tc__put(p->out,"[");
tc__put_ix(p,n->attr[TC__LAST_INDEX]);
tc__put(p->out,"], %lld)) return;\n",(long long)n->attr[TC__LAST_COUNT]);
}
static void tc__cuda_list_forget(tc__printer*p,const tc__node*n,int copy){
(void)copy;
tc__line(p);
tc__put(p->out,"tc_forget(");
tc__put_buffer(p,n->attr[TC__FORGET_BUFFER]);
tc__put(p->out,tc__cuda_is_kept(p,n->attr[TC__FORGET_BUFFER])?".w);\n":");\n");
}
static void tc__cuda_list_begun(tc__printer*p,const tc__node*n,int copy){
(void)copy;
tc__line(p);
tc__put(p->out,"tc_begun(");
tc__put_buffer(p,n->attr[TC__BEGUN_BUFFER]);
tc__put(p->out,");\n");
}
static void tc__cuda_list_meet(tc__printer*p,const tc__node*n,int copy){
(void)copy;
tc__line(p);
tc__put(p->out,"const tc_met met = tc_meets(");
tc__put_buffer(p,n->attr[TC__MEET_BUFFER]);
tc__put(p->out,", %lld, ",(long long)n->attr[TC__MEET_COUNT]);
tc__put_buffer(p,n->attr[TC__MEET_OWN]);
tc__put(p->out,");\n");
tc__line(p);
tc__put(p->out,"if (met.turn < 0) return;\n");
}
static void tc__cuda_list_element(tc__printer*p,const tc__node*n){
long long i=n->attr[TC__COMBINE_ACCUMULATOR];
const char*lane=tc__cuda_lane(p);
tc__put_let(p,n,0);
if(tc__is_arg(&p->acc[i]))
tc__put(p->out,"at%lld[%s] == %s ? 0 : at%lld[%s];\n",i,lane,
tc__cuda_no_place(p),i,lane);
else
tc__put_acc(p,i),tc__put(p->out,"[%s];\n",lane);
}
static void tc__cuda_list_step(tc__printer*p,const tc__node*n,int copy){
(void)copy;
tc__cuda_put_step(p,n,p->vector?tc__axis_name(p->vector->axis):"0","c");
}
static void tc__cuda_list_combine(tc__printer*p,const tc__node*n,int copy){
(void)copy;
if(p->vector){
tc__cuda_list_element(p,n);
return;
}
if(!tc__cuda_leads_run(p,n))return;
tc__cuda_run run=tc__cuda_run_at(p,n);
p->team=(int)n->attr[TC__COMBINE_THREADS];
p->cluster=
n->n_attr>TC__COMBINE_THREADS+1?(int)n->attr[TC__COMBINE_THREADS+1]:0;
tc__cuda_put_run(p,&run);
}
// ---- gen/cuda_print/template.c
static const char*tc__cuda_register_type(const tc__printer*p,int dtype){
return p->d->reg[tc__class_of(dtype)];
}
static const tc__node*tc__cuda_hole(const tc__printer*p,uint32_t begin,uint32_t end,
tc__hole hole){
for(uint32_t id=begin;id<end;id++)
if(tc__body(p,id)->op==TC_OP_HOLE&&
tc__body(p,id)->attr[TC__HOLE_HOLE]==(int64_t)hole)
return tc__body(p,id);
return NULL;
}
static int tc__cuda_hole_dtype(const tc__printer*p,const tc__node*hole){
return p->g->buffer.at[hole->attr[TC__HOLE_BUFFER]].dtype;
}
static int tc__cuda_gives_address(const tc__node*hole){
return hole->attr[TC__HOLE_BRING]==TC__BRING_ASYNC||
hole->attr[TC__HOLE_DEEP_STRIDE];
}
static const char*const tc__cuda_ways[]={"tc_tile_simt",
"tc_tile_halves",
"tc_tile_split",
"tc_tile_tf32",
"tc_tile_groups",
NULL,
NULL};
static int tc__cuda_units(const tc__printer*p,const tc__node*n,uint32_t end,int left){
if(!tc__is_fp8(left))return left==TC_F32?2:left==TC_BF16;
int right=tc__cuda_hole_dtype(p,tc__cuda_hole(p,n->id,end,TC__HOLE_RIGHT));
return 3+(left==TC_F8E5M2)+2*(right==TC_F8E5M2);
}
static void tc__cuda_product_struct(tc__printer*p,const tc__node*n,uint32_t end){
int64_t name=n->attr[TC__TEMPLATE_NAME];
int64_t way=name==TC__TEMPLATE_TILES?n->attr[TC__TEMPLATE_NUMBERS+TC__TILES_WAY]
:name==TC__TEMPLATE_CHAIN
?(int64_t)(tc__template_is_mapped(n)?TC__WAY_MAPPED:TC__WAY_MMA)
:(int64_t)TC__WAY_SIMT;
int dtype=tc__cuda_hole_dtype(p,tc__cuda_hole(p,n->id,end,TC__HOLE_LEFT));
const char*element=tc__dtypes[dtype].memory;
tc__line(p);
tc__put(p->out,"struct product {\n");
p->indent++;
tc__line(p);
tc__put(p->out,"typedef %s sum;\n",tc__cuda_register_type(p,n->dtype));
tc__line(p);
tc__put(p->out,"typedef %s element;\n",element);
tc__line(p);
tc__put(p->out,"typedef %s stored;\n",way==TC__WAY_TF32?"unsigned":element);
tc__line(p);
tc__put(p->out,"enum : int { ");
for(uint32_t i=TC__TEMPLATE_NUMBERS;i<n->n_attr;i++)
tc__put(p->out,"%s%s = %lld",i>TC__TEMPLATE_NUMBERS?", ":"",
tc__template_number(name,i-TC__TEMPLATE_NUMBERS),(long long)n->attr[i]);
tc__put(p->out," };\n");
if(way==TC__WAY_MMA){
tc__line(p);
tc__put(p->out,
"TC_FN void mma(float (&d)[4], const unsigned (&a)[4], const unsigned "
"(&b)[2]) { tc_mma_%s(d, a, b); }\n",
tc__dtypes[dtype].name);
}
if(name==TC__TEMPLATE_CHAIN){
int streamed=n->attr[TC__TEMPLATE_NUMBERS+TC__CHAIN_STREAMED]!=0;
tc__line(p);
tc__put(p->out,"typedef %s made;\n",streamed?"float":element);
tc__line(p);
tc__put(p->out,
"TC_FN unsigned pack_two(float a, float b) { return tc_pack_%s(a, b); }\n",
tc__dtypes[dtype].name);
}
if(name==TC__TEMPLATE_DECODE){
tc__line(p);
tc__put(p->out,"TC_FN float of(tc_u16 b) { return tc_of_%s(b); }\n",
tc__dtypes[dtype].name);
}
if(name==TC__TEMPLATE_TILES&&n->attr[TC__TEMPLATE_NUMBERS+TC__TILES_TOTAL]){
tc__line(p);
tc__put(p->out,
"TC_FN void add(float &a, float &b, unsigned w) { tc_add_%s(a, b, w); }\n",
tc__dtypes[dtype].name);
}
if(way>=TC__WAY_GROUPS){
tc__line(p);
tc__put(p->out,"enum : int { units = %d };\n",tc__cuda_units(p,n,end,dtype));
}
p->indent--;
tc__line(p);
tc__put(p->out,"};\n");
}
static void tc__cuda_way_struct(tc__printer*p,const tc__node*hole){
const int64_t*a=hole->attr;
tc__line(p);
tc__put(
p->out,
"struct %s_way { enum : int { bring = %lld, deep = %d, width = %lld, stepped = %d, "
"line_stride = %lld, deep_stride = %lld }; };\n",
tc__hole_names[a[TC__HOLE_HOLE]],(long long)a[TC__HOLE_BRING],
a[TC__HOLE_ALONG]==(int64_t)TC__DEPTH,(long long)a[TC__HOLE_WIDTH],
a[TC__HOLE_DEEP_STRIDE]!=0,(long long)a[TC__HOLE_LINE_STRIDE],
(long long)a[TC__HOLE_DEEP_STRIDE]);
}
static void tc__cuda_map_struct(tc__printer*p,const tc__node*n,const tc__node*hole){
const int64_t*a=hole->attr;
tc_device_map map;
const tc__group_windows*w=&p->g->shape.windows;
(void)tc__template_map(p->g,n,hole,&map);
int windows=map.step[0]!=0;
long long inner=windows?1:map.size[2],outer=windows?1:map.size[3];
long long share=windows?1:tc__template_batches(n)/(inner*outer);
tc__line(p);
tc__put(
p->out,
"struct %s_way { enum : int { deep = %d, share = %lld, inner = %lld, outer = %lld, windows = %d",
tc__hole_names[a[TC__HOLE_HOLE]],a[TC__HOLE_ALONG]==(int64_t)TC__DEPTH,share,
inner,outer,windows);
if(windows)
tc__put(p->out,
", channels = %lld, taps = %lld, wide = %lld, tall = %lld, jump_x = %lld, "
"jump_y = %lld, apart_x = %lld, apart_y = %lld, low_x = %lld, low_y = %lld",
(long long)w->channels,(long long)w->size[1],(long long)w->out[1],
(long long)w->out[0],(long long)w->stride[1],(long long)w->stride[0],
(long long)w->dilation[1],(long long)w->dilation[0],(long long)w->low[1],
(long long)w->low[0]);
tc__put(p->out," }; };\n");
}
static void tc__cuda_hole_place(tc__printer*p,int64_t axis,int first){
tc__put(p->out,"%s%s",first?"":", ",tc__cuda_index_type(p));
if(axis>=0)tc__put(p->out," %s",tc__axis_name(axis));
}
static const char*tc__cuda_before(const tc__node*hole){
return hole->attr[TC__HOLE_HOLE]==TC__HOLE_ROUNDED?"before":"ahead";
}
static void tc__cuda_hole_head(tc__printer*p,const tc__node*n,int loaded){
const int64_t*a=n->attr;
int result=a[TC__HOLE_HOLE]>=(int64_t)TC__HOLE_RESULT,
given=a[TC__HOLE_BUFFER]>=0;
int rows=a[TC__HOLE_HOLE]==TC__HOLE_ROWS;
tc__line(p);
tc__put(p->out,"auto %s = [&](",tc__hole_names[a[TC__HOLE_HOLE]]);
tc__cuda_hole_place(p,a[TC__HOLE_ROW],1);
tc__cuda_hole_place(p,a[TC__HOLE_LINE],0);
int sums=a[TC__HOLE_HOLE]==TC__HOLE_SCORE||a[TC__HOLE_HOLE]==TC__HOLE_ROUNDED||
a[TC__HOLE_HOLE]==TC__HOLE_SCORE_NEXT||
a[TC__HOLE_HOLE]==TC__HOLE_SHARE;
if((given&&!result&&!sums)||rows)tc__cuda_hole_place(p,a[TC__HOLE_DEEP],0);
if(tc__cuda_gives_address(n)){
tc__put(p->out,", bool%s",p->g->target.checked?" inside":"");
}else if(given){
tc__put(p->out,", %s%s *",result?"const ":"",
tc__dtypes[tc__cuda_hole_dtype(p,n)].memory);
tc__put_buffer(p,a[TC__HOLE_BUFFER]);
}
if(a[TC__HOLE_MADE]>=0){
tc__put(p->out,", %s *",
tc__dtypes[p->g->buffer.at[a[TC__HOLE_MADE]].dtype].memory);
tc__put_buffer(p,a[TC__HOLE_MADE]);
}
if(loaded)tc__put(p->out,", const decltype(%s(0, 0)) &loaded",tc__cuda_before(n));
tc__put(p->out,")");
tc__block_open(p);
}
static void tc__cuda_hole_end(tc__printer*p){
p->indent--;
tc__line(p);
tc__put(p->out,"};\n");
}
static void tc__cuda_hole_address(tc__printer*p,const tc__node*copy){
int64_t from=copy->attr[TC__COPY_FROM];
tc__line(p);
tc__put(p->out,"return ");
for(uint32_t i=TC__COPY_PREDICATES;i+1<copy->n_attr;i+=2){
const char*word=p->narrow?"unsigned":"tc_u64";
tc__put(p->out,"%s(%s)(",i>TC__COPY_PREDICATES?" || ":"",word);
tc__put_ix(p,copy->attr[i]);
tc__put(p->out,") >= (%s)(",word);
tc__put_ix(p,copy->attr[i+1]);
tc__put(p->out,")");
}
if(copy->n_attr>TC__COPY_PREDICATES)tc__put(p->out," ? nullptr : ");
if(tc__cuda_is_checked(p->g,from)){
tc__put(p->out,"!inside ? ");
tc__put_buffer(p,from);
tc__put(p->out,"_memory : ");
}
tc__put(p->out,"&");
tc__cuda_place_of(p,from,copy->attr[TC__COPY_SOURCE],"",
(int)copy->attr[TC__COPY_ELEMENTS]);
tc__put(p->out,";\n");
}
static void tc__cuda_pointer(tc__printer*p,int64_t buffer,const char*cast){
if(buffer<0){
tc__put(p->out,", (%s)nullptr",cast);
return;
}
tc__put(p->out,", ");
tc__put_buffer(p,buffer);
}
static void tc__cuda_holes(tc__printer*p,const tc__node*n,uint32_t end,
const tc__hole*hole,int count){
for(int i=0;i<count;i++)
tc__put(p->out,", %s",
tc__cuda_hole(p,n->id,end,hole[i])?tc__hole_names[hole[i]]:"0");
tc__put(p->out,");\n");
}
static void tc__cuda_chain_ways(tc__printer*p,const tc__node*n){
const char*next=n->attr[TC__TEMPLATE_NUMBERS+TC__CHAIN_NEXT]?"_next":"";
tc__put(p->out,"product, left_way, right_way, left%s_way, right%s_way, value_way, ",
next,next);
}
static const char*tc__cuda_hole_or(const tc__printer*p,const tc__node*n,uint32_t end,
tc__hole hole,tc__hole other){
const tc__node*h=tc__cuda_hole(p,n->id,end,hole);
return tc__hole_names[h&&tc__hole_is_mapped(n,h)?hole:other];
}
static void tc__cuda_mapped_chain_call(tc__printer*p,const tc__node*n,uint32_t end){
static const tc__hole operand[][2]={{TC__HOLE_LEFT,TC__HOLE_LEFT},
{TC__HOLE_RIGHT,TC__HOLE_RIGHT},
{TC__HOLE_LEFT_NEXT,TC__HOLE_LEFT},
{TC__HOLE_RIGHT_NEXT,TC__HOLE_RIGHT},
{TC__HOLE_VALUE,TC__HOLE_RIGHT}},
other[]={TC__HOLE_COLUMNS,TC__HOLE_SCORE_NEXT,
TC__HOLE_SCORE,TC__HOLE_SHARE,
TC__HOLE_RESULT,TC__HOLE_RESULT_NEXT};
const int64_t*a=n->attr;
tc__line(p);
tc__put(p->out,"tc_mapped_chain<product");
for(size_t i=0;i<TC__COUNT(operand);i++)
tc__put(p->out,", %s_way",
tc__cuda_hole_or(p,n,end,operand[i][0],operand[i][1]));
tc__put(p->out,", %s>((char *)",tc__cuda_index_type(p));
tc__put_buffer(p,a[TC__TEMPLATE_SHARED]);
for(int i=TC__TEMPLATE_BLOCK;i<=(int)TC__TEMPLATE_DEPTH;i++){
tc__put(p->out,", ");
tc__put_ix(p,a[i]);
}
for(size_t i=0;i<TC__COUNT(operand);i++)
tc__put(p->out,", %s_map",
tc__cuda_hole_or(p,n,end,operand[i][0],operand[i][1]));
tc__cuda_holes(p,n,end,other,(int)TC__COUNT(other));
}
static void tc__cuda_mapped_call(tc__printer*p,const tc__node*n,uint32_t end){
const int64_t*a=n->attr;
int held=a[TC__TEMPLATE_NUMBERS+TC__TILES_WAY]==(int64_t)TC__WAY_HELD;
tc__line(p);
int left=tc__cuda_hole_dtype(p,tc__cuda_hole(p,n->id,end,TC__HOLE_LEFT));
tc__put(p->out,"%sproduct, left_way, right_way, %s>((char *)",
held?"tc_held<"
:tc__is_fp8(left)?"tc_mapped<tc_mapped_sums_f8, "
:"tc_mapped<tc_mapped_sums, ",
tc__cuda_index_type(p));
tc__put_buffer(p,a[TC__TEMPLATE_SHARED]);
tc__cuda_pointer(p,a[TC__TEMPLATE_TICKETS],"unsigned *");
tc__cuda_pointer(p,a[TC__TEMPLATE_SUMS],"float *");
for(int i=TC__TEMPLATE_BLOCK;i<=(int)TC__TEMPLATE_DEPTH;i++){
tc__put(p->out,", ");
tc__put_ix(p,a[i]);
}
const char*rounded=a[TC__TEMPLATE_NUMBERS+TC__TILES_RELAY]
?"right_map, before, rounded"
:"right_map, 0, 0";
tc__put(p->out,", left_map, %s, ahead, result%s);\n",held?"right":rounded,
held?""
:a[TC__TEMPLATE_NUMBERS+TC__TILES_TOTAL]?", total"
:", 0");
}
static void tc__cuda_template_call(tc__printer*p,const tc__node*n,uint32_t end){
const int64_t*a=n->attr,*number=a+TC__TEMPLATE_NUMBERS;
static const tc__hole of_tiles[]={TC__HOLE_LEFT,TC__HOLE_RIGHT,TC__HOLE_LEFT_ONE,
TC__HOLE_RIGHT_ONE,TC__HOLE_RESULT},
of_chain[]={TC__HOLE_LEFT,TC__HOLE_RIGHT,
TC__HOLE_LEFT_NEXT,TC__HOLE_RIGHT_NEXT,
TC__HOLE_VALUE,TC__HOLE_COLUMNS,
TC__HOLE_SCORE,TC__HOLE_SHARE,
TC__HOLE_RESULT},
of_decode[]={TC__HOLE_LEFT,TC__HOLE_RIGHT,TC__HOLE_VALUE,
TC__HOLE_SCORE,TC__HOLE_SHARE,TC__HOLE_RESULT};
int tiles=a[TC__TEMPLATE_NAME]==TC__TEMPLATE_TILES,
chain=a[TC__TEMPLATE_NAME]==TC__TEMPLATE_CHAIN,
decode=a[TC__TEMPLATE_NAME]==TC__TEMPLATE_DECODE;
char sums[40];
snprintf(sums,sizeof sums,"%s *",tc__cuda_register_type(p,n->dtype));
tc__line(p);
tc__put(p->out,"tc_%s<",tc__template_names[a[TC__TEMPLATE_NAME]]);
if(tiles)tc__put(p->out,"%s, ",tc__cuda_ways[number[TC__TILES_WAY]]);
if(chain)
tc__cuda_chain_ways(p,n);
else
tc__put(p->out,"product%s, ",tiles?", left_way, right_way":"");
tc__put(p->out,"%s>((char *)",tc__cuda_index_type(p));
tc__put_buffer(p,a[TC__TEMPLATE_SHARED]);
tc__cuda_pointer(p,a[TC__TEMPLATE_TICKETS],"unsigned *");
tc__cuda_pointer(p,a[TC__TEMPLATE_SUMS],sums);
for(int i=TC__TEMPLATE_BLOCK;i<=(int)TC__TEMPLATE_DEPTH;i++){
tc__put(p->out,", ");
tc__put_ix(p,a[i]);
}
if(tiles)
tc__cuda_holes(p,n,end,of_tiles,(int)TC__COUNT(of_tiles));
else if(chain)
tc__cuda_holes(p,n,end,of_chain,(int)TC__COUNT(of_chain));
else if(decode)
tc__cuda_holes(p,n,end,of_decode,(int)TC__COUNT(of_decode));
else
tc__put(p->out,", %s, %s, %s, %s, result, ",
number[TC__SKINNY_MAKING]?"rows":"0",
number[TC__SKINNY_BY_ROWS]?"left, right":"right, left",
number[TC__SKINNY_AHEAD]?"ahead":"0",
number[TC__SKINNY_EARLY]?"early":"0");
if(tiles||chain||decode)return;
if(tc__device_is_beside(p->g))
tc__put(p->out,"a.size[%d]);\n",tc__cuda_sizes(p->g));
else
tc__put(p->out,"0);\n");
}
// ---- gen/cuda_print/loops.c
static void tc__cuda_statements(tc__printer*p,uint32_t begin,uint32_t end);
static void tc__cuda_pack(tc__printer*p,const char*element){
tc__put(p->out,"tc_pack<%s, %d>",element,p->vector->width);
}
static void tc__cuda_pack_at(tc__printer*p,const tc__node*n){
tc__put(p->out,n->op==TC_OP_LOAD?"(const ":"(");
tc__cuda_pack(p,tc__cuda_memory(p,n));
tc__put(p->out," *)&");
tc__cuda_place_of(p,n->attr[TC__LOAD_BUFFER],
tc__cuda_first(p,n->attr[TC__LOAD_INDEX]),"",p->vector->width);
}
static void tc__cuda_words(tc__printer*p,const tc__node*n){
tc__put(p->out,"tc_words<");
tc__cuda_pack(p,tc__cuda_memory(p,n));
tc__put(p->out,">");
}
static void tc__cuda_load_name(tc__printer*p,const tc__node*n,int words){
tc__put(p->out,"const ");
if(words)
tc__cuda_words(p,n);
else
tc__cuda_pack(p,tc__cuda_memory(p,n));
tc__put(p->out," %c%u = ",words?'w':'v',n->id);
}
static void tc__cuda_load_whole(tc__printer*p,const tc__node*n){
int kept=tc__cuda_is_passed(p,n);
int words=kept||p->vector->loaded==TC__LOADED_AHEAD;
tc__line(p);
if(kept)
tc__cuda_set_kept(p,tc__cuda_passed(p,n));
else
tc__cuda_load_name(p,n,words);
for(uint32_t i=TC__LOAD_PREDICATES;i+1<n->n_attr;i+=2){
const char*word=p->narrow?"unsigned":"tc_u64";
tc__put(p->out,"%s(%s)(",i>TC__LOAD_PREDICATES?" && ":"",word);
tc__put_ix(p,tc__cuda_first(p,n->attr[i]));
tc__put(p->out,") < (%s)(",word);
tc__put_ix(p,n->attr[i+1]);
tc__put(p->out,")");
}
if(tc__cuda_guarded(n))tc__put(p->out," ? ");
const char*load=words?"tc_load_words(":"tc_load(";
tc__put(p->out,"%s",tc__cuda_is_near(p,n)?"*(":load);
tc__cuda_pack_at(p,n);
tc__put(p->out,")");
if(tc__cuda_guarded(n)){
tc__put(p->out," : ");
if(words)tc__cuda_words(p,n),tc__put(p->out,"(");
tc__put(p->out,"tc_splat<%s, %d>(",tc__cuda_memory(p,n),p->vector->width);
tc__cuda_fill(p,n);
tc__put(p->out,words?"))":")");
}
tc__put(p->out,kept?");\n":";\n");
}
static void tc__cuda_store_whole(tc__printer*p,const tc__node*n){
int dtype=tc__cuda_dtype(p,n),shared=tc__cuda_is_near(p,n);
tc__line(p);
tc__put(p->out,shared?"*(":"tc_store(");
tc__cuda_pack_at(p,n);
tc__put(p->out,shared?") = ":", ");
if(tc__is_rounded(dtype))
tc__put(p->out,"tc_%s_%s(o%u)",tc__is_half(dtype)?"halves":"bytes",
tc__dtypes[dtype].name,n->id);
else
tc__put(p->out,"o%u",n->id);
tc__put(p->out,shared?";\n":");\n");
}
static void tc__cuda_list_load(tc__printer*p,const tc__node*n,int copy){
(void)copy;
if(tc__cuda_is_passed(p,n))return;
tc__put_let(p,n,0);
tc__put(p->out,"%s",tc__cuda_wrap(p,n,0));
if(tc__cuda_is_whole(p,n))
tc__put(p->out,"v%u.at[%s]",n->id,tc__axis_name(p->vector->axis));
else
tc__cuda_read(p,n);
tc__put(p->out,"%s;\n",tc__cuda_wrapped(p,n,0));
}
static void tc__cuda_list_store(tc__printer*p,const tc__node*n,int copy){
int whole=tc__cuda_is_whole(p,n);
int bare=whole&&tc__is_rounded(tc__cuda_dtype(p,n));
(void)copy;
if(tc__cuda_is_passed(p,n))return;
tc__line(p);
if(whole)
tc__put(p->out,"o%u.at[%s]",n->id,tc__axis_name(p->vector->axis));
else
tc__cuda_place_of(p,n->attr[TC__STORE_BUFFER],n->attr[TC__STORE_INDEX],"",1);
tc__put(p->out," = %s",bare?"":tc__cuda_wrap(p,n,1));
tc__put_value(p,n->in[0],0);
tc__put(p->out,"%s;\n",bare?"":tc__cuda_wrapped(p,n,1));
}
static void tc__cuda_list_random(tc__printer*p,const tc__node*n,int copy){
const tc__node*at=tc__body(p,n->in[0]);
int fours=p->vector&&p->vector->width%4==0&&at->op==TC_OP_INDEX&&
at->id>=p->vector->begin&&
tc__cuda_moves_by(p,at->attr[TC__INDEX_EXPR])==TC__CONTIGUOUS&&
tc__cuda_starts_at_multiple(p,at->attr[TC__INDEX_EXPR]);
if(!fours){
tc__cuda_random(p,n,copy);
return;
}
tc__put_let(p,n,copy);
tc__put(p->out,"tc_%s_%s(tc_drawn<%d>(",
n->attr[TC__RANDOM_KIND]?"normal":"uniform",tc__suffix(n->dtype),
tc__draw_words(n));
tc__put_value(p,n->in[0],copy);
tc__put(p->out," - %s, %s, draw + %lld, seed));\n",tc__axis_name(p->vector->axis),
tc__axis_name(p->vector->axis),(long long)n->attr[TC__RANDOM_DRAW]);
}
static int tc__cuda_is_named(const tc__printer*p,tc__axis axis,uint32_t begin,
uint32_t end);
static int tc__cuda_mentions(const tc__printer*p,const tc__node*n,tc__axis axis,
uint32_t end){
const tc__cuda_vector*v=p->vector;
int inside=v&&n->id>=v->begin&&n->id<v->end;
int first=inside&&(v->way[n->id]==TC__WAY_STILL||
(tc__device_is_memory(n)&&tc__cuda_is_whole(p,n)));
int names=0;
if(n->op==TC_OP_ACC&&axis==TC__COL)
names|=n->attr[TC__ACC_MONOID]==TC_OP_ARGMAX||
n->attr[TC__ACC_MONOID]==TC_OP_ARGMIN;
for(uint32_t i=0;i<n->n_attr;i++)
if(tc__attr_is_ix(n,i))
names|=tc__ix_uses(p->g->body.ix,
first?tc__cuda_first(p,n->attr[i]):n->attr[i],axis);
return names&&
(n->op!=TC_OP_AXIS||
tc__cuda_is_named(p,(tc__axis)n->attr[TC__AXIS_AXIS],n->id+1,end));
}
static int tc__cuda_is_named(const tc__printer*p,tc__axis axis,uint32_t begin,
uint32_t end){
for(uint32_t id=begin;id<end;id++)
if(tc__cuda_mentions(p,tc__body(p,id),axis,end))return 1;
return 0;
}
static void tc__cuda_axis(tc__printer*p,const tc__node*n,uint32_t end){
const char*name=tc__axis_name(n->attr[TC__AXIS_AXIS]);
tc__ix value=n->attr[TC__AXIS_VALUE];
if(!tc__cuda_is_named(p,(tc__axis)n->attr[TC__AXIS_AXIS],n->id+1,end))return;
tc__line(p);
tc__put(p->out,"const %s %s = ",tc__cuda_index_type(p),name);
tc__put_ix(p,value);
tc__put(p->out,";\n");
if(p->vector||tc__ix_is_const(value)||tc__ix_lo(p->g->body.ix,value)<0||
!tc__cuda_divides_columns(p->g))
return;
tc__line(p);
tc__put(p->out,"__builtin_assume(%s >= 0);\n",name);
}
static void tc__cuda_facts(tc__printer*p,const tc__node*n){
for(uint32_t i=TC__IF_PREDICATES;i<n->n_attr;i+=2){
if(i>TC__IF_PREDICATES)tc__put(p->out," && ");
if(tc__ix_lo(p->g->body.ix,n->attr[i])<0){
tc__put_fact(p,n->attr[i],n->attr[i+1]);
continue;
}
tc__put_ix(p,n->attr[i]);
tc__put(p->out," < ");
tc__put_ix(p,n->attr[i+1]);
}
}
static void tc__cuda_if(tc__printer*p,const tc__node*n){
tc__line(p);
if(!n->n_attr){
tc__put(p->out,"{\n");
p->indent++;
return;
}
tc__put(p->out,"if (");
tc__cuda_facts(p,n);
tc__put(p->out,")");
tc__block_open(p);
}
static void tc__cuda_leave(tc__printer*p,const tc__node*n){
int one=
n->n_attr==2&&tc__ix_lo(p->g->body.ix,n->attr[TC__LEAVE_PREDICATES])>=0;
tc__line(p);
tc__put(p->out,one?"if (":"if (!(");
if(one){
tc__put_ix(p,n->attr[TC__LEAVE_PREDICATES]);
tc__put(p->out," >= ");
tc__put_ix(p,n->attr[TC__LEAVE_PREDICATES+1]);
}else{
tc__cuda_facts(p,n);
}
tc__put(p->out,one?") return;\n":")) return;\n");
}
enum{TC__STREAM_BYTES=64<<20};
static int tc__cuda_reads_once(const tc__printer*p,const tc__node*n){
const tc__kbuf*from=&p->g->buffer.at[n->attr[TC__COPY_FROM]];
return p->g->shape.kind==TC__REDUCTION&&tc__ix_equals(p->g->shape.rows,1)&&
tc__is_memory(from)&&tc__ix_is_const(from->numel)&&
tc__ix_value(from->numel)*(int64_t)tc__dtypes[from->dtype].bytes>=
TC__STREAM_BYTES;
}
static void tc__cuda_list_copy(tc__printer*p,const tc__node*n){
int64_t b=n->attr[TC__COPY_BUFFER];
const tc__kbuf*to=&p->g->buffer.at[b];
const char*type=tc__dtypes[to->dtype].memory;
int width=(int)n->attr[TC__COPY_ELEMENTS],shared=to->place==TC__BUF_SHARED;
int copied=p->g->buffer.at[n->attr[TC__COPY_FROM]].place==TC__BUF_SHARED;
int guarded=n->n_attr>TC__COPY_PREDICATES;
int kept=tc__cuda_is_kept(p,b);
const char*once=tc__cuda_reads_once(p,n)?"_once":"";
tc__line(p);
if(kept){
tc__cuda_set_kept_at(p,b,n->attr[TC__COPY_INDEX]);
}else{
tc__put(p->out,"%s(tc_pack<%s, %d> *)&",shared?"tc_copy_async(":"*",type,
width);
tc__cuda_place_of(p,b,n->attr[TC__COPY_INDEX],"",1);
tc__put(p->out,shared?", ":" = ");
}
if(guarded)tc__cuda_pred(p,n,TC__COPY_PREDICATES);
if(guarded)tc__put(p->out," ? ");
if(kept)
tc__put(p->out,"tc_load_words%s(",once);
else if(!shared)
tc__put(p->out,copied?"*":"tc_load%s(",once);
tc__put(p->out,"(const tc_pack<%s, %d> *)&",type,width);
tc__cuda_place_of(p,n->attr[TC__COPY_FROM],n->attr[TC__COPY_SOURCE],"",width);
if(!copied)tc__put(p->out,")");
if(guarded&&kept)
tc__put(p->out," : tc_words<tc_pack<%s, %d>>(tc_pack<%s, %d>{})",type,width,
type,width);
else if(guarded)
tc__put(p->out," : tc_pack<%s, %d>{}",type,width);
tc__put(p->out,kept?");\n":";\n");
}
static void tc__cuda_print_still_node(tc__printer*p,const tc__node*n,uint32_t end){
int64_t words[TC__NODE_WORDS];
tc__node m=*n;
for(uint32_t i=0;i<n->n_attr;i++)
words[i]=tc__attr_is_ix(n,i)?tc__cuda_first(p,n->attr[i]):n->attr[i];
m.attr=words;
if(n->op==TC_OP_AXIS)
tc__cuda_axis(p,&m,end);
else
tc__print_node(p,&m);
}
static int tc__cuda_is_ahead(const tc__printer*p,const tc__node*n){
int still=p->vector->way[n->id]==TC__WAY_STILL;
if(n->op==TC_OP_CONST||n->op==TC_OP_ARG||n->id<p->vector->begin)return 1;
if(n->op==TC_OP_LOAD){
if(p->g->buffer.at[n->attr[TC__LOAD_BUFFER]].place==TC__BUF_GIVEN)return 0;
return(still||tc__cuda_is_whole(p,n))&&
!tc__ix_has_val(p->g->body.ix,n->attr[TC__LOAD_INDEX]);
}
if(!still||(!tc__is_alu(n)&&n->op!=TC_OP_CAST))return 0;
for(uint32_t i=0;i<n->n_in;i++)
if(!tc__cuda_is_ahead(p,tc__body(p,n->in[i])))return 0;
return 1;
}
static void tc__cuda_still_and_whole(tc__printer*p,const tc__cuda_vector*v){
for(uint32_t id=v->begin;id<v->end;id++){
const tc__node*n=tc__body(p,id);
int still=v->way[id]==TC__WAY_STILL;
if(n->op!=TC_OP_AXIS&&v->loaded&&
tc__cuda_is_ahead(p,n)!=(v->loaded==TC__LOADED_AHEAD))
continue;
if(still)
tc__cuda_print_still_node(p,n,v->end);
else if(n->op==TC_OP_LOAD&&tc__cuda_is_whole(p,n))
tc__cuda_load_whole(p,n);
}
}
static void tc__cuda_before_vector(tc__printer*p,const tc__cuda_vector*v){
tc__cuda_still_and_whole(p,v);
for(uint32_t id=v->begin;id<v->end;id++){
const tc__node*n=tc__body(p,id);
if(n->op!=TC_OP_STORE||!tc__cuda_is_whole(p,n))continue;
tc__line(p);
tc__cuda_pack(p,tc__is_rounded(tc__cuda_dtype(p,n))?"float"
:tc__cuda_memory(p,n));
tc__put(p->out," o%u;\n",id);
}
}
static int tc__cuda_any_inside(const tc__printer*p,const tc__cuda_vector*v){
for(uint32_t id=v->begin;id<v->end;id++)
if(v->way[id]!=TC__WAY_STILL&&tc__body(p,id)->op!=TC_OP_AXIS&&
!tc__cuda_is_passed(p,tc__body(p,id)))
return 1;
return 0;
}
static void tc__cuda_vector_loop(tc__printer*p,const tc__node*loop,uint32_t end,
tc__cuda_loaded loaded){
tc__cuda_vector v;
if(!tc__cuda_vector_open(p,&v,loop,end))return;
v.loaded=loaded;
tc__cuda_before_vector(p,&v);
if(tc__cuda_any_inside(p,&v)){
tc__cuda_unroll(p,tc__axis_name(v.axis),v.width);
v.inside=1;
tc__cuda_statements(p,v.begin,v.end);
v.inside=0;
tc__block_close(p);
}
for(uint32_t id=v.begin;id<v.end;id++)
if(tc__body(p,id)->op==TC_OP_STORE&&tc__cuda_is_whole(p,tc__body(p,id)))
tc__cuda_store_whole(p,tc__body(p,id));
tc__cuda_vector_close(p,&v);
}
static void tc__cuda_serial(tc__printer*p,const tc__node*n){
const char*variable=tc__axis_name(n->attr[TC__FOR_AXIS]);
tc__line(p);
tc__put(p->out,"for (%s %s = 0; %s < ",tc__cuda_index_type(p),variable,variable);
tc__put_ix(p,n->attr[TC__FOR_END]);
tc__put(p->out,"; %s++)",variable);
tc__block_open(p);
}
static void tc__cuda_taken(tc__printer*p,const tc__node*n){
const char*variable=tc__axis_name(n->attr[TC__FOR_AXIS]);
tc__line(p);
tc__put(p->out,"for (int %s = met.turn; %s < ",variable,variable);
tc__put_ix(p,n->attr[TC__FOR_END]);
tc__put(p->out,"; %s += met.blocks, __syncthreads())",variable);
tc__block_open(p);
}
static void tc__cuda_parts(tc__printer*p,const tc__node*n){
while(n->op!=TC_OP_MEET)n=tc__body(p,n->id-1);
tc__line(p);
tc__put(p->out,"tc_parts(");
tc__put_buffer(p,n->attr[TC__MEET_BUFFER]);
tc__put(p->out,", met);\n");
}
static void tc__cuda_list_loop(tc__printer*p,uint32_t id){
const tc__node*n=tc__body(p,id);
uint32_t end=tc__loop_end(p->g,id);
if(n->attr[TC__FOR_BIND]==TC__BIND_VECTOR){
tc__cuda_vector_loop(p,n,end,TC__LOADED_HERE);
return;
}
if(n->attr[TC__FOR_BIND]==TC__BIND_TAKEN)
tc__cuda_taken(p,n);
else if(n->attr[TC__FOR_BIND]==TC__BIND_SERIAL)
tc__cuda_serial(p,n);
else
tc__cuda_unroll(p,tc__axis_name(n->attr[TC__FOR_AXIS]),
(int)tc__ix_value(n->attr[TC__FOR_END]));
tc__cuda_statements(p,id+1,end);
tc__block_close(p);
if(n->attr[TC__FOR_BIND]==TC__BIND_TAKEN)tc__cuda_parts(p,n);
}
static const tc__node*tc__cuda_hole_vector(const tc__printer*p,uint32_t id){
const tc__node*n=tc__body(p,id+1);
int vector=n->op==TC_OP_FOR&&n->attr[TC__FOR_BIND]==TC__BIND_VECTOR;
return vector&&tc__loop_end(p->g,id+1)+1==tc__loop_end(p->g,id)?n:NULL;
}
static int tc__cuda_is_named_ahead(const tc__printer*p,uint32_t id){
const tc__node*n=tc__body(p,id);
if(n->op==TC_OP_CONST||n->op==TC_OP_ARG||!tc__cuda_is_ahead(p,n))return 0;
if(p->vector->way[id]!=TC__WAY_STILL)return 1;
for(uint32_t user=id+1;user<p->vector->end;user++){
const tc__node*u=tc__body(p,user);
for(uint32_t i=0;i<u->n_in;i++)
if(u->in[i]==id&&!tc__cuda_is_ahead(p,u))return 1;
}
return 0;
}
static int tc__cuda_any_ahead(const tc__printer*p){
for(uint32_t id=p->vector->begin;id<p->vector->end;id++)
if(tc__cuda_is_named_ahead(p,id))return 1;
return 0;
}
static void tc__cuda_ahead_names(tc__printer*p,int types){
const char*between="";
for(uint32_t id=p->vector->begin;id<p->vector->end;id++){
const tc__node*n=tc__body(p,id);
int still=p->vector->way[id]==TC__WAY_STILL;
if(!tc__cuda_is_named_ahead(p,id))continue;
tc__put(p->out,"%s",between);
if(types&&still)tc__put(p->out,"%s ",p->d->reg[tc__class_of(n->dtype)]);
if(types&&!still)tc__cuda_words(p,n),tc__put(p->out," ");
tc__put(p->out,"%c%u%s",still?'t':'w',id,types?"; ":"");
between=types?"":", ";
}
}
static void tc__cuda_name_loaded(tc__printer*p){
for(uint32_t id=p->vector->begin;id<p->vector->end;id++){
if(!tc__cuda_is_named_ahead(p,id)||p->vector->way[id]==TC__WAY_STILL)
continue;
tc__line(p);
tc__put(p->out,"const ");
tc__cuda_pack(p,tc__cuda_memory(p,tc__body(p,id)));
tc__put(p->out," &v%u = w%u.v;\n",id,id);
}
}
static void tc__cuda_print_ahead(tc__printer*p,uint32_t id){
const tc__node*loop=tc__cuda_hole_vector(p,id),*n=tc__body(p,id);
tc__cuda_vector v;
if(loop&&!tc__cuda_vector_open(p,&v,loop,tc__loop_end(p->g,id+1)))return;
tc__line(p);
tc__put(p->out,"auto %s = [&](",tc__cuda_before(n));
tc__cuda_hole_place(p,n->attr[TC__HOLE_ROW],1);
tc__cuda_hole_place(p,n->attr[TC__HOLE_LINE],0);
tc__put(p->out,")");
tc__block_open(p);
if(loop&&tc__cuda_any_ahead(p)){
v.loaded=TC__LOADED_AHEAD,tc__cuda_still_and_whole(p,&v);
tc__line(p);
tc__put(p->out,"struct loaded { ");
tc__cuda_ahead_names(p,1);
tc__put(p->out,"};\n");
tc__line(p);
tc__put(p->out,"return loaded{");
tc__cuda_ahead_names(p,0);
tc__put(p->out,"};\n");
}else{
tc__line(p);
tc__put(p->out,"return tc_nothing{};\n");
}
tc__cuda_hole_end(p);
if(loop)tc__cuda_vector_close(p,&v);
}
static void tc__cuda_print_loaded(tc__printer*p,uint32_t id){
const tc__node*loop=tc__cuda_hole_vector(p,id);
uint32_t end=tc__loop_end(p->g,id+1);
tc__cuda_vector v;
tc__cuda_hole_head(p,tc__body(p,id),1);
if(loop&&tc__cuda_vector_open(p,&v,loop,end)){
if(tc__cuda_any_ahead(p)){
tc__line(p);
tc__put(p->out,"const auto &[");
tc__cuda_ahead_names(p,0);
tc__put(p->out,"] = loaded;\n");
tc__cuda_name_loaded(p);
}
tc__cuda_vector_close(p,&v);
tc__cuda_vector_loop(p,loop,end,TC__LOADED_BEFORE);
}else{
tc__cuda_statements(p,id+1,tc__loop_end(p->g,id));
}
tc__cuda_hole_end(p);
}
static void tc__cuda_print_hole(tc__printer*p,uint32_t id){
const tc__node*n=tc__body(p,id);
tc__cuda_hole_head(p,n,0);
if(tc__cuda_gives_address(n))
tc__cuda_hole_address(p,tc__body(p,id+1));
else
tc__cuda_statements(p,id+1,tc__loop_end(p->g,id));
tc__cuda_hole_end(p);
}
static void tc__cuda_template(tc__printer*p,uint32_t id){
const tc__node*n=tc__body(p,id);
uint32_t end=tc__loop_end(p->g,id);
int mapped=tc__template_is_mapped(n);
tc__cuda_product_struct(p,n,end);
for(uint32_t hole=id+1;hole<end;hole=tc__loop_end(p->g,hole)+1){
int way=tc__body(p,hole)->attr[TC__HOLE_BRING]!=TC__BRING_VALUES;
int chain=n->attr[TC__TEMPLATE_NAME]==TC__TEMPLATE_CHAIN;
int map=mapped&&tc__hole_is_mapped(n,tc__body(p,hole));
if(map)tc__cuda_map_struct(p,n,tc__body(p,hole));
if(map||(mapped&&way&&chain))continue;
if(way&&n->attr[TC__TEMPLATE_NAME]!=TC__TEMPLATE_DECODE)
tc__cuda_way_struct(p,tc__body(p,hole));
int64_t which=tc__body(p,hole)->attr[TC__HOLE_HOLE];
if(mapped&&!chain&&(which==TC__HOLE_RESULT||which==TC__HOLE_ROUNDED))
tc__cuda_print_ahead(p,hole),tc__cuda_print_loaded(p,hole);
else
tc__cuda_print_hole(p,hole);
}
if(mapped&&n->attr[TC__TEMPLATE_NAME]==TC__TEMPLATE_CHAIN)
tc__cuda_mapped_chain_call(p,n,end);
else if(mapped)
tc__cuda_mapped_call(p,n,end);
else
tc__cuda_template_call(p,n,end);
}
static void tc__cuda_statements(tc__printer*p,uint32_t begin,uint32_t end){
for(uint32_t id=begin;id<end;id++){
const tc__node*n=tc__body(p,id);
int done=p->vector&&p->vector->inside&&p->vector->way[id]==TC__WAY_STILL;
uint32_t last=tc__opens(n)?tc__loop_end(p->g,id):id;
if(n->op==TC_OP_FOR)
tc__cuda_list_loop(p,id);
else if(n->op==TC_OP_TEMPLATE)
tc__cuda_template(p,id);
else if(n->op==TC_OP_AXIS&&!done)
tc__cuda_axis(p,n,end);
else if(n->op==TC_OP_BARRIER)
tc__line(p),
tc__put(p->out,"%s();\n",n->n_attr?"__syncwarp":"__syncthreads");
else if(n->op==TC_OP_WAIT)
tc__line(p),tc__put(p->out,"tc_copy_wait_all();\n");
else if(n->op==TC_OP_COPY)
tc__cuda_list_copy(p,n);
else if(n->op==TC_OP_LEAVE)
tc__cuda_leave(p,n);
else if(n->op==TC_OP_IF){
tc__cuda_if(p,n);
tc__cuda_statements(p,id+1,last);
tc__block_close(p);
}else if(n->op==TC_OP_ELSE){
p->indent--;
tc__line(p);
tc__put(p->out,"} else {\n");
p->indent++;
}else if(n->op!=TC_OP_AXIS&&!done)
tc__print_node(p,n);
id=last;
}
}
// ---- gen/cuda_print/launches.c
static int tc__cuda_is_over(const tc__node*n,int blocks){
if(n->op!=TC_OP_FOR)return 0;
int64_t bind=n->attr[TC__FOR_BIND];
return blocks?bind==TC__BIND_GRID:bind==TC__BIND_BLOCK||bind==TC__BIND_LANE;
}
static tc__ix tc__cuda_extents(const tc__printer*p,uint32_t begin,uint32_t end,
int blocks){
tc__ix all=tc__ix_const(1);
for(uint32_t id=begin;id<end;id++)
if(tc__cuda_is_over(tc__body(p,id),blocks))
all=tc__ix_mul(p->g->body.ix,all,tc__body(p,id)->attr[TC__FOR_END]);
return all;
}
static void tc__cuda_assume(tc__printer*p,uint32_t begin,uint32_t end,uint32_t last){
for(uint32_t id=begin;id<end;id++){
const tc__node*n=tc__body(p,id);
if(!tc__cuda_is_over(n,0))continue;
if(!tc__cuda_is_named(p,(tc__axis)n->attr[TC__FOR_AXIS],end,last))return;
tc__line(p);
tc__put(p->out,"__builtin_assume(%s < %lld);\n",
tc__axis_name(n->attr[TC__FOR_AXIS]),
(long long)tc__ix_value(n->attr[TC__FOR_END]));
return;
}
}
static void tc__cuda_loop_variables(tc__printer*p,uint32_t begin,uint32_t end,
uint32_t last,int blocks){
int first=1;
for(uint32_t id=begin;id<end;id++){
const tc__node*n=tc__body(p,id);
if(!tc__cuda_is_over(n,blocks)||
!tc__cuda_is_named(p,(tc__axis)n->attr[TC__FOR_AXIS],end,last))
continue;
tc__ix behind=tc__cuda_extents(p,id+1,end,blocks);
int outermost=tc__ix_equals(tc__cuda_extents(p,begin,id,blocks),1);
if(first)tc__line(p);
if(first)tc__put(p->out,"const %s",blocks?tc__cuda_index_type(p):"int");
tc__put(p->out,"%s %s = %s",first?"":",",
tc__axis_name(n->attr[TC__FOR_AXIS]),
!blocks?"threadIdx.x"
:p->g->shape.list?tc__cuda_list_block
:"blockIdx.x");
if(!tc__ix_equals(behind,1)){
tc__put(p->out," / ");
tc__put_atom(p,behind,0);
}
if(!outermost){
tc__put(p->out," %% ");
tc__put_atom(p,n->attr[TC__FOR_END],0);
}
first=0;
}
if(!first)tc__put(p->out,";\n");
if(!blocks)tc__cuda_assume(p,begin,end,last);
}
static void tc__cuda_dynamic(tc__printer*p,size_t i){
const char*type=tc__dtypes[p->g->buffer.at[i].dtype].memory;
tc__line(p);
tc__put(p->out,"%s *const ",type);
tc__put_buffer(p,(int64_t)i);
tc__put(p->out," = (%s *)(shared + ",type);
tc__put_ix(p,tc__device_shared_at(p->g,i));
tc__put(p->out,");\n");
}
static void tc__cuda_work_name(tc__printer*p,size_t i){
const tc__kbuf*b=&p->g->buffer.at[i];
const char*type=
b->place==TC__BUF_TICKET?"unsigned":tc__dtypes[b->dtype].memory;
tc__line(p);
tc__put(p->out,"%s *const ",type);
tc__put_buffer(p,(int64_t)i);
tc__put(p->out," = (%s *)(work + ",type);
tc__put_atom(p,tc__device_work_at(p->g,i),0);
tc__put(p->out,");\n");
}
static int tc__cuda_names_buffer(const tc__printer*p,int64_t b,uint32_t begin,
uint32_t end){
for(uint32_t id=begin;id<end;id++){
const tc__node*n=tc__body(p,id);
if((tc__device_is_memory(n)||n->op==TC_OP_COPY||n->op==TC_OP_LAST||
n->op==TC_OP_PUT||n->op==TC_OP_GET||n->op==TC_OP_BEGUN)&&
n->attr[TC__ACCESS_BUFFER]==b)
return 1;
if((n->op==TC_OP_PUT||n->op==TC_OP_GET)&&n->n_attr>TC__PUT_PLACES&&
n->attr[TC__PUT_PLACES]==b)
return 1;
if(n->op==TC_OP_COPY&&n->attr[TC__COPY_FROM]==b)return 1;
if(n->op==TC_OP_MEET&&n->attr[TC__MEET_OWN]==b)return 1;
for(int k=TC__TEMPLATE_SHARED;k<=(int)TC__TEMPLATE_SUMS;k++)
if(n->op==TC_OP_TEMPLATE&&n->attr[k]==b)return 1;
}
return 0;
}
static void tc__cuda_own_memory(tc__printer*p,uint32_t begin,uint32_t end){
int dynamic=tc__device_is_dynamic(p->g);
tc__cuda_choose_kept(p,begin,end);
for(size_t i=0;i<p->g->buffer.count;i++){
const tc__kbuf*b=&p->g->buffer.at[i];
int kept=tc__cuda_is_kept(p,(int64_t)i);
int shared=b->place==TC__BUF_SHARED;
if(!tc__cuda_names_buffer(p,(int64_t)i,begin,end))continue;
if(b->place==TC__BUF_TICKET||b->place==TC__BUF_WORK)
tc__cuda_work_name(p,i);
if(shared&&dynamic)tc__cuda_dynamic(p,i);
if(!shared&&b->place!=TC__BUF_REGISTER&&b->place!=TC__BUF_LOCAL)continue;
if(shared&&dynamic)continue;
tc__line(p);
if(kept)
tc__put(p->out,"tc_kept<%lld> ",(long long)tc__ix_value(b->numel));
else
tc__put(p->out,"%s__align__(16) %s ",shared?"__shared__ ":"",
tc__dtypes[b->dtype].memory);
tc__put_buffer(p,(int64_t)i);
if(!kept)tc__put(p->out,"[%lld]",(long long)tc__ix_value(b->numel));
tc__put(p->out,";\n");
}
}
static void tc__cuda_launch_body(tc__printer*p,uint32_t id){
uint32_t begin=id+1,end=tc__loop_end(p->g,id);
while(tc__cuda_is_over(tc__body(p,begin),0)||
tc__cuda_is_over(tc__body(p,begin),1))
end=tc__loop_end(p->g,begin++);
tc__cuda_own_memory(p,begin,end);
tc__cuda_loop_variables(p,id+1,begin,end,1);
tc__cuda_loop_variables(p,id+1,begin,end,0);
if(tc__body(p,id)->n_attr>TC__LAUNCH_CLUSTER&&
tc__body(p,begin)->op!=TC_OP_TEMPLATE){
tc__line(p);
tc__put(p->out,"tc_cluster_arrive();\n");
}
tc__cuda_statements(p,begin,end);
}
// ---- gen/cuda_print/kernel.c
static void tc__cuda_pattern(tc__printer*p,const tc__acc*a,const char*s){
const char*name=tc__is_arg(a)?tc__cuda_arg_name(a):tc__op_name(a->monoid);
const char*type=p->d->reg[tc__class_of(a->dtype)];
for(;*s;s++){
if(*s=='#')
tc__put(p->out,"%s_%s",name,tc__suffix(a->dtype));
else if(*s=='@')
tc__cuda_identity(p,a);
else if(*s=='$')
tc__put(p->out,"%s",type);
else
tc__put_raw(p->out,s,1);
}
}
static const char tc__cuda_sum_text[]=
"\n// The elements of a thread.\n"
"template <int V> TC_FN $ tc_fold_#(const $ (&x)[V]) {\n"
"    $ y = x[0];\n"
"    for (int l = 1; l < V; l++) y = tc_acc_#(y, x[l]);\n"
"    return y;\n"
"}\n"
"\n// The values of L lanes that are neighbours; all of them get the result.\n"
"template <int L> TC_FN $ tc_lanes_#($ x) {\n"
"    for (int o = L / 2; o; o /= 2) x = tc_acc_#(x, __shfl_xor_sync(~0u, x, o));\n"
"    return x;\n"
"}\n"
"\n// What W warps have put into shared memory; all threads get the result.\n"
"template <int W> TC_FN $ tc_parts_#(const $ *part) {\n"
"    const int w = threadIdx.x % 32;\n"
"    return tc_lanes_#<32>(w < W ? part[w] : @);\n"
"}\n"
"\n// H values of shared memory, S apart.\n"
"template <int H, int S> TC_FN $ tc_below_#(const $ *part) {\n"
"    $ x = part[0];\n"
"    for (int y = 1; y < H; y++) x = tc_acc_#(x, part[y * S]);\n"
"    return x;\n"
"}\n";
static const char tc__cuda_arg_text[]=
"\n// (b, j) becomes (v, i) if that is better.\n"
"template <class I> TC_FN void tc_keep_#($ &b, I &j, $ v, I i) {\n"
"    const int win = tc_win_#(v, b, i < j);\n"
"    b = win ? v : b;\n"
"    j = win ? i : j;\n"
"}\n"
"\ntemplate <int V, class I> TC_FN void tc_fold_#($ (&v)[V], I (&i)[V]) {\n"
"    for (int l = 1; l < V; l++) tc_keep_#(v[0], i[0], v[l], i[l]);\n"
"}\n"
"\ntemplate <int L, class I> TC_FN void tc_lanes_#($ &v, I &i) {\n"
"    for (int o = L / 2; o; o /= 2) {\n"
"        const $ w = __shfl_xor_sync(~0u, v, o);\n"
"        const I k = __shfl_xor_sync(~0u, i, o);\n"
"        tc_keep_#(v, i, w, k);\n"
"    }\n"
"}\n"
"\ntemplate <int W, class I> TC_FN void tc_parts_#($ &v, I &i, const $ *part, const I *place) {\n"
"    const int w = threadIdx.x % 32 % W;\n"
"    v = part[w];\n"
"    i = place[w];\n"
"    tc_lanes_#<32>(v, i);\n"
"}\n"
"\ntemplate <int H, int S, class I> TC_FN void tc_below_#($ &v, I &i, const $ *part, const I *place) {\n"
"    v = part[0];\n"
"    i = place[0];\n"
"    for (int y = 1; y < H; y++) tc_keep_#(v, i, part[y * S], place[y * S]);\n"
"}\n";
static void tc__cuda_monoid_text(tc__printer*p,const tc__acc*a){
tc__cuda_pattern(p,a,tc__is_arg(a)?tc__cuda_arg_text:tc__cuda_sum_text);
}
static void tc__cuda_map_parameters(tc__printer*p,uint32_t id){
const tc__node*n=tc__body(p,id);
uint32_t end=tc__loop_end(p->g,id);
for(uint32_t h=id+1;h<end;h=tc__loop_end(p->g,h)+1)
if(tc__hole_is_mapped(n,tc__body(p,h)))
tc__put(p->out,", const __grid_constant__ tc_map %s_map",
tc__hole_names[tc__body(p,h)->attr[TC__HOLE_HOLE]]);
}
static void tc__cuda_parameters(tc__printer*p){
if(p->g->shape.list){
tc__cuda_list_parameters(p);
return;
}
for(size_t i=0;i<p->g->buffer.count;i++){
const tc__kbuf*b=&p->g->buffer.at[i];
if(!tc__is_memory(b))continue;
tc__put(p->out,"%s%s *__restrict__ ",b->written?"":"const ",
tc__dtypes[b->dtype].memory);
tc__put_buffer(p,(int64_t)i);
tc__put(p->out,tc__cuda_is_checked(p->g,(int64_t)i)?"_memory, ":", ");
}
if(tc__cuda_has_work(p))tc__put(p->out,"unsigned char *work, ");
tc__put(p->out,"const tc_kargs<%d> a",tc__cuda_kargs(p->g));
for(uint32_t id=0;id<p->g->body.node.count;id++)
if(tc__template_is_mapped(tc__body(p,id)))tc__cuda_map_parameters(p,id);
}
static void tc__cuda_args(tc__printer*p){
for(size_t id=0;id<p->g->body.node.count;id++){
const tc__node*n=p->g->body.node.at[id];
int seen=n->op!=TC_OP_ARG;
for(size_t j=0;j<id&&!seen;j++)
seen=p->g->body.node.at[j]->op==TC_OP_ARG&&
p->g->body.node.at[j]->attr[TC__ARG_SLOT]==n->attr[TC__ARG_SLOT];
if(seen)continue;
const char*type=p->d->reg[tc__class_of(n->dtype)];
tc__line(p);
tc__put(p->out,"const %s arg%lld = (%s)a.arg(%lld).%s;\n",type,
(long long)n->attr[TC__ARG_SLOT],type,(long long)n->attr[TC__ARG_SLOT],
tc__is_float(n->dtype)?"f":"i");
}
}
static void tc__cuda_names(tc__printer*p,const tc__text*body){
const char*type=tc__cuda_index_type(p);
if(p->g->shape.list)tc__cuda_list_names(p,body);
for(int slot=0,sizes=tc__cuda_sizes(p->g);slot<sizes;slot++){
char name[24];
snprintf(name,sizeof name,"s%d",slot);
if(!tc__c_mentions(body,name))continue;
tc__line(p);
tc__put(p->out,"const %s %s = %sa.size[%d];\n",type,name,
p->narrow?"(int)":"",slot);
}
if(tc__c_mentions(body,"seed")){
tc__line(p);
tc__put(p->out,"const tc_u64 seed = a.state->seed, draw = a.state->draw;\n");
}
tc__cuda_args(p);
}
static void tc__cuda_begin(tc__printer*p){
tc__line(p);
if(!p->g->shape.list)tc__cuda_reads(p);
if(tc__device_is_beside(p->g))
tc__put(p->out,"tc_begin_beside(a.size[%d]);\n",tc__cuda_sizes(p->g));
else
tc__put(p->out,"tc_begin();\n");
if(!p->g->target.guarded)return;
tc__line(p);
tc__put(p->out,"if (a.state->failed) return;\n");
}
static void tc__cuda_put_launch(tc__printer*p,const char*symbol,int launch,
const tc__grid*grid,int resident,tc__text*body){
tc__text*out=p->out;
tc__cuda_look(p,body);
p->indent=0;
if(launch)tc__put(out,"\n");
tc__put(out,"// %d threads in a block, ",grid->threads);
tc__put_ix(p,grid->blocks);
tc__put(out," blocks have work%s",p->g->shape.list?" for a tensor":"");
if(grid->cluster)tc__put(out,", launched in clusters of %d",grid->cluster);
tc__put(out,"\nextern \"C\" __global__ void __launch_bounds__(%d",grid->threads);
if(resident)tc__put(out,", %d",resident);
tc__put(out,")\n%s",symbol);
if(launch)tc__put(out,"_%d",launch);
tc__put(out,"(");
tc__cuda_parameters(p);
tc__put(out,")");
tc__block_open(p);
if(tc__c_mentions(body,"shared")||!tc__ix_equals(grid->shared,0))
tc__put(out,"    extern __shared__ __align__(16) char shared[];\n");
tc__cuda_begin(p);
tc__cuda_names(p,body);
tc__put_raw(out,body->at,body->size);
tc__block_close(p);
out->failed|=body->failed;
tc__text_free(body);
}
static void tc__cuda_list_kernel(tc__printer*p,const char*symbol){
tc__text body,*out=p->out;
tc__grids grids;
int launch=0;
memset(&grids,0,sizeof grids);
tc__device_grids(p->g,&grids);
for(uint32_t id=0;id<p->g->body.node.count;id++){
const tc__node*n=tc__body(p,id);
if(n->op!=TC_OP_LAUNCH)continue;
tc__text_init(&body,out->ctx);
p->out=&body,p->indent=1,p->narrow=(int)n->attr[TC__LAUNCH_NARROW];
tc__cuda_launch_body(p,id);
p->out=out;
tc__cuda_put_launch(p,symbol,launch,&grids.at[launch],
(int)n->attr[TC__LAUNCH_RESIDENT],&body);
launch++;
}
}
#define TC__CUDA_VALUES  \
{TC_OP_CAST,TC__ONCE,tc__cuda_cast_node},{TC_OP_INDEX,TC__ONCE,tc__cuda_index},\
{TC_OP_CHECK,TC__ONCE,tc__cuda_check},{TC_OP_VALID,TC__ONCE,tc__cuda_valid},\
{TC_OP_ADD,TC__ONCE,tc__cuda_add},{TC_OP_EXP,TC__ONCE,tc__cuda_fast},\
{TC_OP_EXP2,TC__ONCE,tc__cuda_fast},{TC_OP_LOG,TC__ONCE,tc__cuda_fast},\
{TC_OP_LOG2,TC__ONCE,tc__cuda_fast},{TC_OP_SIN,TC__ONCE,tc__cuda_fast},\
{TC_OP_COS,TC__ONCE,tc__cuda_fast},{TC_OP_TANH,TC__ONCE,tc__cuda_fast},\
{TC_OP_SIGMOID,TC__ONCE,tc__cuda_fast},{TC_OP_SILU,TC__ONCE,tc__cuda_fast},\
{TC_OP_GELU_TANH,TC__ONCE,tc__cuda_fast},{TC_OP_ERF,TC__ONCE,tc__cuda_fast},\
{TC_OP_GELU,TC__ONCE,tc__cuda_fast},{TC_OP_DIV,TC__ONCE,tc__cuda_fast},\
{TC_OP_RECIPROCAL,TC__ONCE,tc__cuda_fast},\
{TC_OP_SQRT,TC__ONCE,tc__cuda_fast},{TC_OP_RSQRT,TC__ONCE,tc__cuda_fast},
static const tc__print_row tc__cuda_list_table[]={
TC__CUDA_VALUES{TC_OP_LOAD,TC__ONCE,tc__cuda_list_load},
{TC_OP_STORE,TC__ONCE,tc__cuda_list_store},
{TC_OP_RANDOM,TC__ONCE,tc__cuda_list_random},
{TC_OP_NEW,TC__ONCE,tc__cuda_list_new},
{TC_OP_ACC,TC__ONCE,tc__cuda_list_step},
{TC_OP_COMBINE,TC__ONCE,tc__cuda_list_combine},
{TC_OP_PUT,TC__ONCE,tc__cuda_list_put},
{TC_OP_GET,TC__ONCE,tc__cuda_list_get},
{TC_OP_LAST,TC__ONCE,tc__cuda_list_last},
{TC_OP_FORGET,TC__ONCE,tc__cuda_list_forget},
{TC_OP_BEGUN,TC__ONCE,tc__cuda_list_begun},
{TC_OP_MEET,TC__ONCE,tc__cuda_list_meet},
{TC_OP_COUNT,TC__ONCE,NULL},
};
static const tc__dialect tc__dialect_cuda={
"cuda",
{"float","double","int","tc_i64"},
{"float","double","int","tc_i64"},
"tc_i64",
1,
tc__cuda_expr,
1,
tc__cuda_list_table,
tc__cuda_list_kernel,
NULL,
tc__cuda_constant,
tc__cuda_monoid_text,
tc__cuda_grids,
tc__print_cuda_opaque,
tc__has_cuda_opaque,
tc__device_takes_rows,
TC__CHAIN_INNER+1,
TC__FUSE_LOADS,
tc__lower_device,
1,
tc__device_takes_down,
tc__device_takes_beside,
tc__device_order,
};
// ---- gen/cuda_print/prelude.c
static const char*const tc__text_cuda_class[]={
"#define TC_ADD_@(a, b) ((T)((U)(a) + (U)(b)))",
"#define TC_SUB_@(a, b) ((T)((U)(a) - (U)(b)))",
"#define TC_MUL_@(a, b) ((T)((U)(a) * (U)(b)))",
"#define TC_NEG_@(a) ((T)(-(U)(a)))",
"#define TC_SEL_@(m, a, b) ((m) ? (a) : (b))",
"#define TC_MAX_@(a, b) ((a) > (b) ? (a) : (b))",
"#define TC_MIN_@(a, b) ((a) < (b) ? (a) : (b))",
"#define TC_LT_@(a, b) ((a) < (b))",
"#define TC_LE_@(a, b) ((a) <= (b))",
"#define TC_GT_@(a, b) ((a) > (b))",
"#define TC_GE_@(a, b) ((a) >= (b))",
"#define TC_EQ_@(a, b) ((a) == (b))",
"#define TC_NE_@(a, b) ((a) != (b))",
"#define TC_M_@(b) (b)",
"#define TC_B_@(m) (m)",
};
enum{TC__CUDA_BOTH,TC__CUDA_DOUBLE,TC__CUDA_INTS};
static const struct{
const char*name,*body;
int classes;
}tc__cuda_functions[]={
{"exp","exp#(x)",TC__CUDA_BOTH},
{"exp2","exp2#(x)",TC__CUDA_BOTH},
{"expm1","expm1#(x)",TC__CUDA_BOTH},
{"log","log#(x)",TC__CUDA_DOUBLE},
{"log2","log2#(x)",TC__CUDA_BOTH},
{"log10","log10#(x)",TC__CUDA_BOTH},
{"log1p","log1p#(x)",TC__CUDA_BOTH},
{"sin","sin#(x)",TC__CUDA_DOUBLE},
{"cos","cos#(x)",TC__CUDA_DOUBLE},
{"tan","tan#(x)",TC__CUDA_DOUBLE},
{"asin","asin#(x)",TC__CUDA_BOTH},
{"acos","acos#(x)",TC__CUDA_BOTH},
{"atan","atan#(x)",TC__CUDA_BOTH},
{"sinh","sinh#(x)",TC__CUDA_BOTH},
{"cosh","cosh#(x)",TC__CUDA_BOTH},
{"tanh","tanh#(x)",TC__CUDA_DOUBLE},
{"erf","erf#(x)",TC__CUDA_BOTH},
{"floor","floor#(x)",TC__CUDA_BOTH},
{"ceil","ceil#(x)",TC__CUDA_BOTH},
{"trunc","trunc#(x)",TC__CUDA_BOTH},
{"round","rint#(x)",TC__CUDA_BOTH},
{"abs","fabs#(x)",TC__CUDA_BOTH},
{"sqrt","sqrt#(x)",TC__CUDA_BOTH},
{"rsqrt","(T)1 / sqrt#(x)",TC__CUDA_BOTH},
{"sign","x > 0 ? (T)1 : x < 0 ? (T)-1 : x",TC__CUDA_BOTH},
{"sigmoid","(T)1 / ((T)1 + exp#(-x))",TC__CUDA_DOUBLE},
{"silu","x / ((T)1 + exp#(-x))",TC__CUDA_DOUBLE},
{"gelu","tc_gelu_of<T>(x, erfc#(x * (T)-0.70710678118654752))",TC__CUDA_BOTH},
{"gelu_tanh",
"x / ((T)1 + exp#((T)-1.5957691216057308 * (x + (T)0.044715 * x * x * x)))",
TC__CUDA_DOUBLE},
{"softplus","fmax#(x, (T)0) + log1p#(exp#(-fabs#(x)))",TC__CUDA_BOTH},
{"pow","pow#(x, y)",TC__CUDA_BOTH},
{"atan2","atan2#(x, y)",TC__CUDA_BOTH},
{"fmod","fmod#(x, y)",TC__CUDA_BOTH},
{"remainder","tc_wrap_@(fmod#(x, y), y)",TC__CUDA_BOTH},
{"wrap","x != 0 && (x < 0) != (y < 0) ? x + y : x",TC__CUDA_BOTH},
{"fma","fma#(x, y, z)",TC__CUDA_BOTH},
{"abs","x < 0 ? (T)((U)0 - (U)x) : x",TC__CUDA_INTS},
{"sign","(x > 0) - (x < 0)",TC__CUDA_INTS},
{"shl",
"y < 0 || y > (T)(8 * sizeof(T) - 1) ? 0 : (T)((U)x << (y & (T)(8 * sizeof(T) - 1)))",
TC__CUDA_INTS},
{"shr","x >> (y < 0 || y > (T)(8 * sizeof(T) - 1) ? (T)(8 * sizeof(T) - 1) : y)",
TC__CUDA_INTS},
{"pow","tc_power<T, U>(x, y)",TC__CUDA_INTS},
{"remainder","tc_wrap_@(tc_fmod_@(x, y), y)",TC__CUDA_INTS},
{"fmod","y == 0 || y == -1 ? 0 : x % y",TC__CUDA_INTS},
{"floor_divide","tc_floor_quotient<T, U>(x, y)",TC__CUDA_INTS},
{"wrap","x != 0 && (x < 0) != (y < 0) ? x + y : x",TC__CUDA_INTS}};
static const char*tc__cuda_cast(int from,int to){
int of_float=tc__is_float(from);
switch(to){
case TC_BOOL:return "x != 0";
case TC_U8:return of_float?"x > 0 ? x < 255 ? (int)x : 255 : 0":"(int)(tc_u8)x";
case TC_I8:
return of_float?"x > -128 ? x < 127 ? (int)x : 127 : x < 0 ? -128 : 0"
:"(int)(tc_i8)x";
case TC_I16:
return of_float?"x > -32768 ? x < 32767 ? (int)x : 32767 : x < 0 ? -32768 : 0"
:"(int)(tc_i16)x";
case TC_I64:return of_float?"x != x ? 0 : (tc_i64)x":"(T)x";
case TC_I32:
return from==TC_F64?"x != x ? 0 : (T)x":"(T)x";
default:return "(T)x";
}
}
static void tc__put_pattern(tc__text*out,const char*s,const char*cls,
const char*suffix){
for(;*s;s++){
if(*s=='@')
tc__put(out,"%s",cls);
else if(*s=='#')
tc__put(out,"%s",suffix);
else
tc__put_raw(out,s,1);
}
}
static int tc__pattern_names(const char*s,char letter){
for(const char*at=s;*at;at++)
if(*at==letter&&!tc__is_word(at[1])&&(at==s||!tc__is_word(at[-1])))
return 1;
return 0;
}
static void tc__cuda_function(tc__text*out,const char*name,const char*body,
const char*cls,const char*type,const char*argument,
const char*suffix){
tc__put(out,"TC_FN %s tc_%s(%s x",type,name,argument);
if(tc__pattern_names(body,'y'))tc__put(out,", %s y",type);
if(tc__pattern_names(body,'z'))tc__put(out,", %s z",type);
tc__put(out,") {\n    typedef %s T;\n",type);
if(tc__pattern_names(body,'U'))
tc__put(out,"    typedef %s U;\n",*type=='i'?"unsigned":"tc_u64");
tc__put(out,"    return (T)(");
tc__put_pattern(out,body,cls,suffix);
tc__put(out,");\n}\n\n");
}
static int tc__uses_word(const tc__text*kernels,const char*name){
char word[64];
snprintf(word,sizeof word,"tc_%s",name);
return tc__c_mentions(kernels,word);
}
static void tc__cuda_put_used(tc__text*out,const char*lines,const tc__text*kernels,
const tc__text*functions){
const char*s=lines,*end;
char name[64];
for(;(end=strchr(s,'\n'))!=NULL;s=end+1){
const char*word=s+strlen("#define ");
snprintf(name,sizeof name,"%.*s",(int)strcspn(word,"("),word);
if(tc__c_mentions(kernels,name)||tc__c_mentions(functions,name))
tc__put_raw(out,s,(size_t)(end-s)+1);
}
}
static void tc__cuda_macros(tc__text*out){
static const char*const types[TC__CLASSES][2]={{"float","float"},
{"double","double"},
{"int","unsigned"},
{"tc_i64","tc_u64"}};
for(int cls=0;cls<TC__CLASSES;cls++){
for(size_t i=0;i<TC__COUNT(tc__text_cuda_class);i++){
for(const char*s=tc__text_cuda_class[i];*s;s++){
if(*s=='@')
tc__put(out,"%s",tc__class_names[cls]);
else if(s[0]=='('&&(s[1]=='T'||s[1]=='U')&&s[2]==')'){
tc__put(out,"(%s)",types[cls][s[1]=='U']);
s+=2;
}else
tc__put_raw(out,s,1);
}
tc__put(out,"\n");
}
}
tc__put(out,
"#define TC_NOT(m) (!(m))\n#define TC_SQRT_f32(x) sqrtf(x)\n#define "
"TC_SQRT_f64(x) sqrt(x)\n"
"#define TC_FMA_f32(a, b, c) fmaf(a, b, c)\n#define TC_FMA_f64(a, b, c) ((a) * "
"(b) + (c))\n");
}
static int tc__cuda_uses(const tc__text*out,const tc__text*kernels,const char*name){
return tc__uses_word(kernels,name)||tc__uses_word(out,name);
}
static void tc__cuda_class_math(tc__text*out,const tc__text*kernels,tc__class cls){
const char*type=tc__dialect_cuda.reg[cls];
int whole=cls==TC__CLASS_i32||cls==TC__CLASS_i64;
tc__text used;
char name[64];
tc__text_init(&used,out->ctx);
for(size_t i=0;i<TC__COUNT(tc__cuda_functions);i++){
snprintf(name,sizeof name,"%s_%s",tc__cuda_functions[i].name,
tc__class_names[cls]);
if((tc__cuda_functions[i].classes==TC__CUDA_INTS)!=whole)continue;
if(tc__cuda_functions[i].classes==TC__CUDA_DOUBLE&&cls!=TC__CLASS_f64)
continue;
if(!tc__cuda_uses(&used,kernels,name))continue;
tc__put_pattern(&used,tc__cuda_functions[i].body,tc__class_names[cls],"");
tc__put(&used,"\n");
}
for(size_t i=TC__COUNT(tc__cuda_functions);i-- >0;){
snprintf(name,sizeof name,"%s_%s",tc__cuda_functions[i].name,
tc__class_names[cls]);
if((tc__cuda_functions[i].classes==TC__CUDA_INTS)!=whole)continue;
if(tc__cuda_functions[i].classes==TC__CUDA_DOUBLE&&cls!=TC__CLASS_f64)
continue;
if(tc__cuda_uses(&used,kernels,name))
tc__cuda_function(out,name,tc__cuda_functions[i].body,tc__class_names[cls],
type,type,cls==TC__CLASS_f32?"f":"");
}
tc__text_free(&used);
}
static void tc__cuda_math(tc__text*out,const tc__text*kernels){
char name[64];
for(int cls=0;cls<TC__CLASSES;cls++)
tc__cuda_class_math(out,kernels,(tc__class)cls);
for(int from=0;from<TC_DTYPE_COUNT;from++){
for(int to=0;to<TC_DTYPE_COUNT;to++){
snprintf(name,sizeof name,"cast_%s_%s",tc__cast_from(from),
tc__cast_to(from,to));
int first=from==TC_BOOL||tc__is_own_class(from);
int made=tc__is_rounded(to)||(from==TC_BOOL&&!tc__is_own_class(to));
if(first&&!made&&tc__uses_word(kernels,name))
tc__cuda_function(out,name,tc__cuda_cast(from,to),"",
tc__dialect_cuda.reg[tc__class_of(to)],
tc__dialect_cuda.reg[tc__class_of(from)],"");
}
}
}
TC__UNUSED static int tc__print_cuda_prelude(tc__text*out,const tc__group*const*groups,
int count){
static const tc__prelude_text texts[]={
{tc__text_cuda_types,(uint32_t)TC__COUNT(tc__text_cuda_types)},
{tc__text_cuda_check,(uint32_t)TC__COUNT(tc__text_cuda_check)},
{tc__text_cuda_memory,(uint32_t)TC__COUNT(tc__text_cuda_memory)},
{tc__text_cuda_shared,(uint32_t)TC__COUNT(tc__text_cuda_shared)},
{tc__text_cuda_halves,(uint32_t)TC__COUNT(tc__text_cuda_halves)},
{tc__text_cuda_index,(uint32_t)TC__COUNT(tc__text_cuda_index)},
{tc__text_cuda_math,(uint32_t)TC__COUNT(tc__text_cuda_math)},
{tc__text_cuda_trig,(uint32_t)TC__COUNT(tc__text_cuda_trig)},
{tc__text_cuda_fast,(uint32_t)TC__COUNT(tc__text_cuda_fast)},
{tc__text_cuda_list,(uint32_t)TC__COUNT(tc__text_cuda_list)},
{tc__text_cuda_random,(uint32_t)TC__COUNT(tc__text_cuda_random)},
{tc__text_cuda_divide,(uint32_t)TC__COUNT(tc__text_cuda_divide)},
{tc__text_cuda_product,(uint32_t)TC__COUNT(tc__text_cuda_product)},
{tc__text_cuda_tiles,(uint32_t)TC__COUNT(tc__text_cuda_tiles)},
{tc__text_cuda_mapped,(uint32_t)TC__COUNT(tc__text_cuda_mapped)},
{tc__text_cuda_held,(uint32_t)TC__COUNT(tc__text_cuda_held)},
{tc__text_cuda_chain,(uint32_t)TC__COUNT(tc__text_cuda_chain)},
{tc__text_cuda_mapped_chain,(uint32_t)TC__COUNT(tc__text_cuda_mapped_chain)},
{tc__text_cuda_decode,(uint32_t)TC__COUNT(tc__text_cuda_decode)},
{tc__text_cuda_skinny,(uint32_t)TC__COUNT(tc__text_cuda_skinny)},
{tc__text_cuda_scan,(uint32_t)TC__COUNT(tc__text_cuda_scan)},
{tc__text_cuda_sort,(uint32_t)TC__COUNT(tc__text_cuda_sort)},
{tc__text_cuda_scatter,(uint32_t)TC__COUNT(tc__text_cuda_scatter)},
{tc__text_cuda_runs,(uint32_t)TC__COUNT(tc__text_cuda_runs)},
};
tc__prelude q;
tc__text kernels,steps,functions,macros;
const tc__text*all[2];
all[0]=&kernels,all[1]=&functions;
tc__text_init(&kernels,out->ctx);
tc__text_init(&steps,out->ctx);
tc__text_init(&functions,out->ctx);
tc__text_init(&macros,out->ctx);
tc__prelude_open(&q,out->ctx,texts,TC__COUNT(texts));
int ok=1;
for(int i=0;i<count&&ok;i++)
ok=tc__print_kernel(&kernels,groups[i],&tc__dialect_cuda,"kernel");
ok=ok&&tc__put_monoids(&steps,&tc__dialect_cuda,groups,count);
if(ok)tc__cuda_math(&functions,&kernels);
ok=ok&&tc__prelude_mark(&q,all,2,&steps);
tc__put(
out,
"// Kernels made by tcompile, for NVRTC: --gpu-architecture=sm_90 -fmad=false\n");
if(ok)tc__put_sections(out,&q);
tc__put_raw(&functions,steps.at,steps.size);
tc__cuda_macros(&macros);
ok=ok&&!kernels.failed&&!steps.failed&&!functions.failed&&!macros.failed;
if(ok)tc__cuda_put_used(out,macros.at,&kernels,&functions);
if(ok&&functions.size)tc__put(out,"\n");
if(ok)tc__put_raw(out,functions.at,functions.size);
tc__prelude_close(&q);
tc__text_free(&kernels);
tc__text_free(&steps);
tc__text_free(&functions);
tc__text_free(&macros);
return ok&&!out->failed;
}
// ---- gen/cuda_print/language.c
static int tc__cuda_knob_fits(const tc__group*g,int knob,int v){
tc__group plain=*g;
memset(&plain.shape.tuning,0,sizeof plain.shape.tuning);
return tc__device_knob_fits(&plain,knob,v);
}
static const tc__language tc__language_cuda={
&tc__dialect_cuda,
tc__print_cuda_prelude,
tc__cuda_knob_fits,
{tc__text_cuda_spread,(uint32_t)TC__COUNT(tc__text_cuda_spread)},
};
// ---- gen/base/once_end.c
#ifdef TC__ONCE_CODE
#undef TC__ONCE_CODE
#pragma GCC pop_options
#endif

// ---- gen/cuda/prelude.c
#if !defined(_GNU_SOURCE)&&!defined(_MSC_VER)
#define _GNU_SOURCE 1
#endif
#if defined(__unix__)||defined(__APPLE__)
#define TCU__POSIX 1
#else
#define TCU__POSIX 0
#endif
#if defined(TC_NO_THREADS)||!TCU__POSIX||!defined(__GNUC__)
#define TCU__THREADS 0
#else
#define TCU__THREADS 1
#endif
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if TCU__POSIX
#include <dlfcn.h>
#include <glob.h>
#include <sys/types.h>
#include <unistd.h>
#endif
#if TCU__THREADS
#include <pthread.h>
#include <signal.h>
#endif
#if defined(__GLIBC__)&&!defined(__USE_GNU)
#error                                                                                 \
"A libc header was included before the implementation of tcompile_cuda.h, without \
_GNU_SOURCE. Fix: include tcompile_cuda.h first in the one .c file that defines \
TCOMPILE_CUDA_IMPLEMENTATION, or compile that file with -D_GNU_SOURCE."
#endif
#if defined(__GNUC__)
#define TCU__UNUSED __attribute__((unused))
#define TCU__FN __attribute__((unused))static
#define TCU__PRINTF(at,to)__attribute__((format(printf,at,to)))
#define TCU__LOAD(p)__atomic_load_n(p,__ATOMIC_ACQUIRE)
#define TCU__STORE(p,v)__atomic_store_n(p,v,__ATOMIC_RELEASE)
#define TCU__ADD(p,v)__atomic_fetch_add(p,v,__ATOMIC_ACQ_REL)
#else
#define TCU__UNUSED
#define TCU__FN static
#define TCU__PRINTF(at,to)
#define TCU__LOAD(p)(*(p))
#define TCU__STORE(p,v)((void)(*(p)=(v)))
#define TCU__ADD(p,v)((*(p)+=(v))-(v))
#endif
#define TCU__COUNT(array)(sizeof(array)/sizeof((array)[0]))
#define TCU__STATIC_ASSERT(name,cond) \
typedef char tcu__assert_##name[(cond)?1:-1]TCU__UNUSED
enum{TCU__PATH=512};
TCU__FN void*tcu__realloc(const tc_allocator*hook,void*p,size_t old,size_t size){
if(hook->realloc)return hook->realloc(hook->user,p,old,size);
#ifdef TC_REALLOC
return TC_REALLOC(p,old,size);
#else
if(size)return realloc(p,size);
free(p);
return NULL;
#endif
}
TCU__FN size_t tcu__array_size(size_t count,size_t item){
return count&&item?count*item:1;
}
TCU__FN void*tcu__alloc(const tc_allocator*hook,size_t count,size_t item){
size_t size=tcu__array_size(count,item);
if(item&&count>SIZE_MAX/item)return NULL;
void*p=tcu__realloc(hook,NULL,0,size);
return p?memset(p,0,size):NULL;
}
TCU__FN void tcu__free(const tc_allocator*hook,void*p,size_t count,size_t item){
if(p)tcu__realloc(hook,p,tcu__array_size(count,item),0);
}
#define TCU__NEW(hook,T)((T*)tcu__alloc(hook,1,sizeof(T)))
#define TCU__NEW_ARRAY(hook,T,n)((T*)tcu__alloc(hook,(size_t)(n),sizeof(T)))
#define TCU__FREE(hook,p,n)tcu__free(hook,p,(size_t)(n),sizeof*(p))
TCU__FN void*tcu__grown(const tc_allocator*hook,void*at,size_t count,size_t*capacity,
size_t item){
size_t want=*capacity?*capacity*2:8;
if(count<*capacity)return at;
void*p=tcu__realloc(hook,at,*capacity*item,want*item);
if(p)*capacity=want;
return p;
}
TCU__PRINTF(3,4)
TCU__FN void tcu__print(char*text,size_t room,const char*format,...){
va_list list;
va_start(list,format);
vsnprintf(text,room,format,list);
va_end(list);
}
TCU__PRINTF(3,4)
TCU__FN void tcu__put(char*text,size_t room,const char*format,...){
size_t used=strlen(text);
va_list list;
if(used+1>=room)return;
va_start(list,format);
int n=vsnprintf(text+used,room-used,format,list);
va_end(list);
if(n>=0&&(size_t)n>=room-used&&room>4)memcpy(text+room-4,"...",4);
}
typedef struct tcu__size_text{
char text[32];
}tcu__size_text;
TCU__FN const char*tcu__bytes(size_t n,tcu__size_text*out){
static const char*const unit[]={"B","KiB","MiB","GiB","TiB"};
double value=(double)n;
size_t u=0;
for(;value>=1024&&u+1<TCU__COUNT(unit);u++)value/=1024;
tcu__print(out->text,sizeof out->text,"%.*f %s",u>2?2:u>0,value,unit[u]);
return out->text;
}
TCU__FN const char*tcu__env(const char*name){
#if TCU__POSIX
if(getuid()!=geteuid()||getgid()!=getegid())return NULL;
#endif
const char*s=getenv(name);
return s&&*s?s:NULL;
}
TCU__FN long tcu__process(void){
#if TCU__POSIX
return(long)getpid();
#else
return 1;
#endif
}
TCU__FN uint64_t tcu__now(void){
#if TCU__POSIX
struct timespec t;
if(clock_gettime(CLOCK_MONOTONIC,&t))return 0;
return(uint64_t)t.tv_sec*1000000000u+(uint64_t)t.tv_nsec;
#else
return(uint64_t)((double)clock()*(1e9/CLOCKS_PER_SEC));
#endif
}
// ---- gen/cuda/types.c
typedef int tcu__code;
typedef int tcu__ordinal;
typedef unsigned long long tcu__address;
typedef unsigned long long tcu__physical;
typedef struct tcu__context_*tcu__context;
typedef struct tcu__stream_*tcu__stream;
typedef struct tcu__event_*tcu__event;
typedef struct tcu__code_library_*tcu__code_library;
typedef struct tcu__code_kernel_*tcu__code_kernel;
typedef struct tcu__code_module_*tcu__code_module;
typedef struct tcu__function_*tcu__function;
typedef struct tcu__graph_*tcu__graph;
typedef struct tcu__graph_node_*tcu__graph_node;
typedef struct tcu__graph_exec_*tcu__graph_exec;
typedef struct tcu__nvrtc_program_*tcu__nvrtc_program;
typedef enum tcu__device_attribute{
TCU__THREADS_PER_BLOCK=1,
TCU__MULTIPROCESSORS=16,
TCU__L2_BYTES=38,
TCU__THREADS_PER_SM=39,
TCU__MAJOR=75,
TCU__MINOR=76,
TCU__SHARED_PER_SM=81,
TCU__SHARED_PER_BLOCK=97,
TCU__VIRTUAL_MEMORY=102,
TCU__CLUSTERS=120,
TCU__TENSOR_MAPS=127
}tcu__device_attribute;
typedef enum tcu__function_attribute{
TCU__FN_THREADS=0,
TCU__FN_SHARED=1,
TCU__FN_LOCAL=3,
TCU__FN_REGISTERS=4,
TCU__FN_DYNAMIC_SHARED=8,
TCU__FN_LARGE_CLUSTER=14
}tcu__function_attribute;
typedef enum tcu__launch_attribute_id{
TCU__LAUNCH_CLUSTER=4,
TCU__LAUNCH_PROGRAMMATIC=6
}tcu__launch_attribute_id;
typedef enum tcu__jit_option{
TCU__JIT_ERROR_LOG=5,
TCU__JIT_ERROR_LOG_BYTES=6
}tcu__jit_option;
typedef enum tcu__map_dtype{
TCU__MAP_U8=0,
TCU__MAP_F16=6,
TCU__MAP_F32=7,
TCU__MAP_BF16=9
}tcu__map_dtype;
typedef enum tcu__map_interleave{TCU__MAP_PLAIN=0}tcu__map_interleave;
typedef enum tcu__map_swizzle{
TCU__MAP_SWIZZLE_64=2,
TCU__MAP_SWIZZLE_128=3
}tcu__map_swizzle;
typedef enum tcu__map_promotion{TCU__MAP_L2_128=2}tcu__map_promotion;
typedef enum tcu__map_fill{TCU__MAP_ZEROS=0}tcu__map_fill;
typedef enum tcu__library_option{TCU__LIBRARY_OPTION_NONE=0}tcu__library_option;
typedef enum tcu__granularity{TCU__GRANULARITY_MINIMUM=0}tcu__granularity;
enum{
TCU__STREAM_NON_BLOCKING=1,
TCU__EVENT_BLOCKING=1,
TCU__EVENT_NO_TIMING=2,
TCU__MEMORY_PINNED=1,
TCU__ON_DEVICE=1,
TCU__READ_WRITE=3,
TCU__EDGE_PROGRAMMATIC=1
};
typedef struct tcu__location{
int type,id;
}tcu__location;
typedef struct tcu__memory_kind{
int type,handle_types;
tcu__location location;
void*windows;
unsigned char flags[8];
}tcu__memory_kind;
typedef struct tcu__access{
tcu__location location;
int flags;
}tcu__access;
typedef union tcu__launch_value{
unsigned char pad[64];
unsigned cluster[3];
int programmatic;
void*align;
}tcu__launch_value;
typedef struct tcu__launch_attribute{
tcu__launch_attribute_id id;
char pad[4];
tcu__launch_value value;
}tcu__launch_attribute;
typedef struct tcu__launch_config{
unsigned grid[3],block[3],shared;
tcu__stream stream;
tcu__launch_attribute*attributes;
unsigned count;
}tcu__launch_config;
typedef struct tcu__node_params{
tcu__function function;
unsigned grid[3],block[3],shared;
void**parameters,**extra;
tcu__code_kernel kernel;
tcu__context context;
}tcu__node_params;
typedef struct tcu__tensor_map{
uint64_t opaque[16];
}tcu__tensor_map;
typedef struct tcu__edge{
unsigned char from_port,to_port,type,reserved[5];
}tcu__edge;
#define TCU__AT(T,field,offset,size) \
TCU__STATIC_ASSERT(T##_##field,\
sizeof(void*)!=8|| \
(offsetof(T,field)==offset&&sizeof(T)==size))
TCU__AT(tcu__memory_kind,flags,24,32);
TCU__AT(tcu__access,flags,8,12);
TCU__AT(tcu__launch_attribute,value,8,72);
TCU__AT(tcu__launch_config,shared,24,56);
TCU__AT(tcu__launch_config,stream,32,56);
TCU__AT(tcu__launch_config,count,48,56);
TCU__AT(tcu__node_params,parameters,40,72);
TCU__AT(tcu__node_params,context,64,72);
TCU__AT(tcu__edge,type,2,8);
typedef enum tcu__need{TCU__OPTIONAL,TCU__REQUIRED}tcu__need;
typedef struct tcu__symbol{
const char*name;
size_t offset;
tcu__need need;
}tcu__symbol;
// ---- gen/out/cuda_driver.inc
typedef struct tcu__driver_calls{
tcu__code(*cuDriverGetVersion)(int*version);
tcu__code(*cuInit)(unsigned flags);
tcu__code(*cuGetErrorName)(tcu__code code,const char**text);
tcu__code(*cuGetErrorString)(tcu__code code,const char**text);
tcu__code(*cuDeviceGetCount)(int*count);
tcu__code(*cuDeviceGet)(tcu__ordinal*device,int ordinal);
tcu__code(*cuDeviceGetName)(char*name,int room,tcu__ordinal device);
tcu__code(*cuDeviceGetAttribute)(int*value,tcu__device_attribute what,tcu__ordinal device);
tcu__code(*cuDeviceTotalMem_v2)(size_t*bytes,tcu__ordinal device);
tcu__code(*cuDevicePrimaryCtxRetain)(tcu__context*context,tcu__ordinal device);
tcu__code(*cuDevicePrimaryCtxRelease_v2)(tcu__ordinal device);
tcu__code(*cuCtxGetCurrent)(tcu__context*context);
tcu__code(*cuCtxSetCurrent)(tcu__context context);
tcu__code(*cuStreamCreateWithPriority)(tcu__stream*stream,unsigned flags,int priority);
tcu__code(*cuStreamDestroy_v2)(tcu__stream stream);
tcu__code(*cuStreamSynchronize)(tcu__stream stream);
tcu__code(*cuStreamWaitEvent)(tcu__stream stream,tcu__event event,unsigned flags);
tcu__code(*cuEventCreate)(tcu__event*event,unsigned flags);
tcu__code(*cuEventDestroy_v2)(tcu__event event);
tcu__code(*cuEventRecord)(tcu__event event,tcu__stream stream);
tcu__code(*cuEventQuery)(tcu__event event);
tcu__code(*cuEventElapsedTime)(float*milliseconds,tcu__event from,tcu__event to);
tcu__code(*cuEventSynchronize)(tcu__event event);
tcu__code(*cuMemGetInfo_v2)(size_t*unused,size_t*total);
tcu__code(*cuMemAlloc_v2)(tcu__address*address,size_t size);
tcu__code(*cuMemFree_v2)(tcu__address address);
tcu__code(*cuMemHostAlloc)(void**memory,size_t size,unsigned flags);
tcu__code(*cuMemFreeHost)(void*memory);
tcu__code(*cuMemcpyHtoDAsync_v2)(tcu__address to,const void*from,size_t size,tcu__stream stream);
tcu__code(*cuMemcpyDtoHAsync_v2)(void*to,tcu__address from,size_t size,tcu__stream stream);
tcu__code(*cuMemcpyDtoDAsync_v2)(tcu__address to,tcu__address from,size_t size,tcu__stream stream);
tcu__code(*cuMemsetD8Async)(tcu__address to,unsigned char value,size_t count,tcu__stream stream);
tcu__code(*cuDeviceCanAccessPeer)(int*can,tcu__ordinal device,tcu__ordinal other);
tcu__code(*cuCtxEnablePeerAccess)(tcu__context other,unsigned flags);
tcu__code(*cuMemcpyPeerAsync)(tcu__address to,tcu__context to_context,tcu__address from,tcu__context from_context,size_t size,tcu__stream stream);
tcu__code(*cuMemGetAllocationGranularity)(size_t*bytes,const tcu__memory_kind*kind,tcu__granularity which);
tcu__code(*cuMemAddressReserve)(tcu__address*base,size_t size,size_t align,tcu__address hint,unsigned long long flags);
tcu__code(*cuMemAddressFree)(tcu__address base,size_t size);
tcu__code(*cuMemCreate)(tcu__physical*memory,size_t size,const tcu__memory_kind*kind,unsigned long long flags);
tcu__code(*cuMemRelease)(tcu__physical memory);
tcu__code(*cuMemMap)(tcu__address at,size_t size,size_t offset,tcu__physical memory,unsigned long long flags);
tcu__code(*cuMemUnmap)(tcu__address at,size_t size);
tcu__code(*cuMemSetAccess)(tcu__address at,size_t size,const tcu__access*access,size_t count);
tcu__code(*cuLibraryLoadData)(tcu__code_library*library,const void*image,tcu__jit_option*jit,void**jit_values,unsigned jit_count,tcu__library_option*options,void**values,unsigned count);
tcu__code(*cuLibraryUnload)(tcu__code_library library);
tcu__code(*cuLibraryGetKernel)(tcu__code_kernel*kernel,tcu__code_library library,const char*name);
tcu__code(*cuKernelGetFunction)(tcu__function*function,tcu__code_kernel kernel);
tcu__code(*cuModuleLoadDataEx)(tcu__code_module*module,const void*image,unsigned count,tcu__jit_option*options,void**values);
tcu__code(*cuModuleGetFunction)(tcu__function*function,tcu__code_module module,const char*name);
tcu__code(*cuModuleUnload)(tcu__code_module module);
tcu__code(*cuFuncGetAttribute)(int*value,tcu__function_attribute what,tcu__function function);
tcu__code(*cuFuncSetAttribute)(tcu__function function,tcu__function_attribute what,int value);
tcu__code(*cuFuncLoad)(tcu__function function);
tcu__code(*cuTensorMapEncodeTiled)(tcu__tensor_map*map,tcu__map_dtype dtype,uint32_t rank,void*address,const uint64_t*size,const uint64_t*stride,const uint32_t*box,const uint32_t*step,tcu__map_interleave interleave,tcu__map_swizzle swizzle,tcu__map_promotion promotion,tcu__map_fill fill);
tcu__code(*cuTensorMapEncodeIm2col)(tcu__tensor_map*map,tcu__map_dtype dtype,uint32_t rank,void*address,const uint64_t*size,const uint64_t*stride,const int*low,const int*high,uint32_t channels,uint32_t places,const uint32_t*step,tcu__map_interleave interleave,tcu__map_swizzle swizzle,tcu__map_promotion promotion,tcu__map_fill fill);
tcu__code(*cuLaunchKernel)(tcu__function function,unsigned grid_x,unsigned grid_y,unsigned grid_z,unsigned block_x,unsigned block_y,unsigned block_z,unsigned shared,tcu__stream stream,void**parameters,void**extra);
tcu__code(*cuLaunchKernelEx)(const tcu__launch_config*config,tcu__function function,void**parameters,void**extra);
tcu__code(*cuGraphCreate)(tcu__graph*graph,unsigned flags);
tcu__code(*cuGraphDestroy)(tcu__graph graph);
tcu__code(*cuGraphAddKernelNode_v2)(tcu__graph_node*node,tcu__graph graph,const tcu__graph_node*after,size_t count,const tcu__node_params*params);
tcu__code(*cuGraphAddDependencies_v2)(tcu__graph graph,const tcu__graph_node*from,const tcu__graph_node*to,const tcu__edge*edges,size_t count);
tcu__code(*cuGraphKernelNodeSetAttribute)(tcu__graph_node node,tcu__launch_attribute_id what,const tcu__launch_value*value);
tcu__code(*cuGraphInstantiateWithFlags)(tcu__graph_exec*exec,tcu__graph graph,unsigned long long flags);
tcu__code(*cuGraphUpload)(tcu__graph_exec exec,tcu__stream stream);
tcu__code(*cuGraphLaunch)(tcu__graph_exec exec,tcu__stream stream);
tcu__code(*cuGraphExecKernelNodeSetParams_v2)(tcu__graph_exec exec,tcu__graph_node node,const tcu__node_params*params);
tcu__code(*cuGraphExecDestroy)(tcu__graph_exec exec);
}tcu__driver_calls;
static const tcu__symbol tcu__driver_symbols[]={
{"cuDriverGetVersion",offsetof(tcu__driver_calls,cuDriverGetVersion),TCU__REQUIRED},
{"cuInit",offsetof(tcu__driver_calls,cuInit),TCU__REQUIRED},
{"cuGetErrorName",offsetof(tcu__driver_calls,cuGetErrorName),TCU__REQUIRED},
{"cuGetErrorString",offsetof(tcu__driver_calls,cuGetErrorString),TCU__REQUIRED},
{"cuDeviceGetCount",offsetof(tcu__driver_calls,cuDeviceGetCount),TCU__REQUIRED},
{"cuDeviceGet",offsetof(tcu__driver_calls,cuDeviceGet),TCU__REQUIRED},
{"cuDeviceGetName",offsetof(tcu__driver_calls,cuDeviceGetName),TCU__REQUIRED},
{"cuDeviceGetAttribute",offsetof(tcu__driver_calls,cuDeviceGetAttribute),TCU__REQUIRED},
{"cuDeviceTotalMem_v2",offsetof(tcu__driver_calls,cuDeviceTotalMem_v2),TCU__REQUIRED},
{"cuDevicePrimaryCtxRetain",offsetof(tcu__driver_calls,cuDevicePrimaryCtxRetain),TCU__REQUIRED},
{"cuDevicePrimaryCtxRelease_v2",offsetof(tcu__driver_calls,cuDevicePrimaryCtxRelease_v2),TCU__REQUIRED},
{"cuCtxGetCurrent",offsetof(tcu__driver_calls,cuCtxGetCurrent),TCU__REQUIRED},
{"cuCtxSetCurrent",offsetof(tcu__driver_calls,cuCtxSetCurrent),TCU__REQUIRED},
{"cuStreamCreateWithPriority",offsetof(tcu__driver_calls,cuStreamCreateWithPriority),TCU__REQUIRED},
{"cuStreamDestroy_v2",offsetof(tcu__driver_calls,cuStreamDestroy_v2),TCU__REQUIRED},
{"cuStreamSynchronize",offsetof(tcu__driver_calls,cuStreamSynchronize),TCU__REQUIRED},
{"cuStreamWaitEvent",offsetof(tcu__driver_calls,cuStreamWaitEvent),TCU__REQUIRED},
{"cuEventCreate",offsetof(tcu__driver_calls,cuEventCreate),TCU__REQUIRED},
{"cuEventDestroy_v2",offsetof(tcu__driver_calls,cuEventDestroy_v2),TCU__REQUIRED},
{"cuEventRecord",offsetof(tcu__driver_calls,cuEventRecord),TCU__REQUIRED},
{"cuEventQuery",offsetof(tcu__driver_calls,cuEventQuery),TCU__REQUIRED},
{"cuEventElapsedTime",offsetof(tcu__driver_calls,cuEventElapsedTime),TCU__REQUIRED},
{"cuEventSynchronize",offsetof(tcu__driver_calls,cuEventSynchronize),TCU__REQUIRED},
{"cuMemGetInfo_v2",offsetof(tcu__driver_calls,cuMemGetInfo_v2),TCU__REQUIRED},
{"cuMemAlloc_v2",offsetof(tcu__driver_calls,cuMemAlloc_v2),TCU__REQUIRED},
{"cuMemFree_v2",offsetof(tcu__driver_calls,cuMemFree_v2),TCU__REQUIRED},
{"cuMemHostAlloc",offsetof(tcu__driver_calls,cuMemHostAlloc),TCU__REQUIRED},
{"cuMemFreeHost",offsetof(tcu__driver_calls,cuMemFreeHost),TCU__REQUIRED},
{"cuMemcpyHtoDAsync_v2",offsetof(tcu__driver_calls,cuMemcpyHtoDAsync_v2),TCU__REQUIRED},
{"cuMemcpyDtoHAsync_v2",offsetof(tcu__driver_calls,cuMemcpyDtoHAsync_v2),TCU__REQUIRED},
{"cuMemcpyDtoDAsync_v2",offsetof(tcu__driver_calls,cuMemcpyDtoDAsync_v2),TCU__REQUIRED},
{"cuMemsetD8Async",offsetof(tcu__driver_calls,cuMemsetD8Async),TCU__REQUIRED},
{"cuDeviceCanAccessPeer",offsetof(tcu__driver_calls,cuDeviceCanAccessPeer),TCU__OPTIONAL},
{"cuCtxEnablePeerAccess",offsetof(tcu__driver_calls,cuCtxEnablePeerAccess),TCU__OPTIONAL},
{"cuMemcpyPeerAsync",offsetof(tcu__driver_calls,cuMemcpyPeerAsync),TCU__OPTIONAL},
{"cuMemGetAllocationGranularity",offsetof(tcu__driver_calls,cuMemGetAllocationGranularity),TCU__OPTIONAL},
{"cuMemAddressReserve",offsetof(tcu__driver_calls,cuMemAddressReserve),TCU__OPTIONAL},
{"cuMemAddressFree",offsetof(tcu__driver_calls,cuMemAddressFree),TCU__OPTIONAL},
{"cuMemCreate",offsetof(tcu__driver_calls,cuMemCreate),TCU__OPTIONAL},
{"cuMemRelease",offsetof(tcu__driver_calls,cuMemRelease),TCU__OPTIONAL},
{"cuMemMap",offsetof(tcu__driver_calls,cuMemMap),TCU__OPTIONAL},
{"cuMemUnmap",offsetof(tcu__driver_calls,cuMemUnmap),TCU__OPTIONAL},
{"cuMemSetAccess",offsetof(tcu__driver_calls,cuMemSetAccess),TCU__OPTIONAL},
{"cuLibraryLoadData",offsetof(tcu__driver_calls,cuLibraryLoadData),TCU__OPTIONAL},
{"cuLibraryUnload",offsetof(tcu__driver_calls,cuLibraryUnload),TCU__OPTIONAL},
{"cuLibraryGetKernel",offsetof(tcu__driver_calls,cuLibraryGetKernel),TCU__OPTIONAL},
{"cuKernelGetFunction",offsetof(tcu__driver_calls,cuKernelGetFunction),TCU__OPTIONAL},
{"cuModuleLoadDataEx",offsetof(tcu__driver_calls,cuModuleLoadDataEx),TCU__REQUIRED},
{"cuModuleGetFunction",offsetof(tcu__driver_calls,cuModuleGetFunction),TCU__REQUIRED},
{"cuModuleUnload",offsetof(tcu__driver_calls,cuModuleUnload),TCU__REQUIRED},
{"cuFuncGetAttribute",offsetof(tcu__driver_calls,cuFuncGetAttribute),TCU__REQUIRED},
{"cuFuncSetAttribute",offsetof(tcu__driver_calls,cuFuncSetAttribute),TCU__REQUIRED},
{"cuFuncLoad",offsetof(tcu__driver_calls,cuFuncLoad),TCU__OPTIONAL},
{"cuTensorMapEncodeTiled",offsetof(tcu__driver_calls,cuTensorMapEncodeTiled),TCU__OPTIONAL},
{"cuTensorMapEncodeIm2col",offsetof(tcu__driver_calls,cuTensorMapEncodeIm2col),TCU__OPTIONAL},
{"cuLaunchKernel",offsetof(tcu__driver_calls,cuLaunchKernel),TCU__REQUIRED},
{"cuLaunchKernelEx",offsetof(tcu__driver_calls,cuLaunchKernelEx),TCU__OPTIONAL},
{"cuGraphCreate",offsetof(tcu__driver_calls,cuGraphCreate),TCU__REQUIRED},
{"cuGraphDestroy",offsetof(tcu__driver_calls,cuGraphDestroy),TCU__REQUIRED},
{"cuGraphAddKernelNode_v2",offsetof(tcu__driver_calls,cuGraphAddKernelNode_v2),TCU__REQUIRED},
{"cuGraphAddDependencies_v2",offsetof(tcu__driver_calls,cuGraphAddDependencies_v2),TCU__OPTIONAL},
{"cuGraphKernelNodeSetAttribute",offsetof(tcu__driver_calls,cuGraphKernelNodeSetAttribute),TCU__REQUIRED},
{"cuGraphInstantiateWithFlags",offsetof(tcu__driver_calls,cuGraphInstantiateWithFlags),TCU__REQUIRED},
{"cuGraphUpload",offsetof(tcu__driver_calls,cuGraphUpload),TCU__REQUIRED},
{"cuGraphLaunch",offsetof(tcu__driver_calls,cuGraphLaunch),TCU__REQUIRED},
{"cuGraphExecKernelNodeSetParams_v2",offsetof(tcu__driver_calls,cuGraphExecKernelNodeSetParams_v2),TCU__REQUIRED},
{"cuGraphExecDestroy",offsetof(tcu__driver_calls,cuGraphExecDestroy),TCU__REQUIRED},
};
// ---- gen/out/cuda_nvrtc.inc
typedef struct tcu__nvrtc_calls{
int(*nvrtcVersion)(int*major,int*minor);
int(*nvrtcGetNumSupportedArchs)(int*count);
int(*nvrtcGetSupportedArchs)(int*archs);
int(*nvrtcCreateProgram)(tcu__nvrtc_program*program,const char*source,const char*name,int headers,const char*const*header,const char*const*header_name);
int(*nvrtcCompileProgram)(tcu__nvrtc_program program,int count,const char*const*options);
int(*nvrtcGetProgramLogSize)(tcu__nvrtc_program program,size_t*size);
int(*nvrtcGetProgramLog)(tcu__nvrtc_program program,char*log);
int(*nvrtcGetCUBINSize)(tcu__nvrtc_program program,size_t*size);
int(*nvrtcGetCUBIN)(tcu__nvrtc_program program,char*cubin);
int(*nvrtcGetPTXSize)(tcu__nvrtc_program program,size_t*size);
int(*nvrtcGetPTX)(tcu__nvrtc_program program,char*ptx);
int(*nvrtcDestroyProgram)(tcu__nvrtc_program*program);
}tcu__nvrtc_calls;
static const tcu__symbol tcu__nvrtc_symbols[]={
{"nvrtcVersion",offsetof(tcu__nvrtc_calls,nvrtcVersion),TCU__REQUIRED},
{"nvrtcGetNumSupportedArchs",offsetof(tcu__nvrtc_calls,nvrtcGetNumSupportedArchs),TCU__REQUIRED},
{"nvrtcGetSupportedArchs",offsetof(tcu__nvrtc_calls,nvrtcGetSupportedArchs),TCU__REQUIRED},
{"nvrtcCreateProgram",offsetof(tcu__nvrtc_calls,nvrtcCreateProgram),TCU__REQUIRED},
{"nvrtcCompileProgram",offsetof(tcu__nvrtc_calls,nvrtcCompileProgram),TCU__REQUIRED},
{"nvrtcGetProgramLogSize",offsetof(tcu__nvrtc_calls,nvrtcGetProgramLogSize),TCU__REQUIRED},
{"nvrtcGetProgramLog",offsetof(tcu__nvrtc_calls,nvrtcGetProgramLog),TCU__REQUIRED},
{"nvrtcGetCUBINSize",offsetof(tcu__nvrtc_calls,nvrtcGetCUBINSize),TCU__REQUIRED},
{"nvrtcGetCUBIN",offsetof(tcu__nvrtc_calls,nvrtcGetCUBIN),TCU__REQUIRED},
{"nvrtcGetPTXSize",offsetof(tcu__nvrtc_calls,nvrtcGetPTXSize),TCU__REQUIRED},
{"nvrtcGetPTX",offsetof(tcu__nvrtc_calls,nvrtcGetPTX),TCU__REQUIRED},
{"nvrtcDestroyProgram",offsetof(tcu__nvrtc_calls,nvrtcDestroyProgram),TCU__REQUIRED},
};

// ---- gen/cuda/error.c
enum{TCU__TEXT=640};
typedef struct tcu__trouble{
tc_status status;
tcu__code code;
tcu__code dead;
char text[TCU__TEXT];
char death[TCU__TEXT];
}tcu__trouble;
enum{
TCU__E_INVALID=1,
TCU__E_NOMEM=2,
TCU__E_STUB=34,
TCU__E_NO_DEVICE=100,
TCU__E_NOT_READY=600,
TCU__E_UNSUPPORTED=801,
TCU__E_GRAPH_UPDATE=910
};
typedef enum tcu__severity{TCU__PASSING,TCU__DEADLY}tcu__severity;
static const struct{
tcu__code code;
tcu__severity severity;
tc_status status;
const char*advice;
}tcu__codes[]={
{2,TCU__PASSING,TC_E_NOMEM,"free tensors, or use smaller sizes"},
{3,TCU__PASSING,TC_E_BACKEND,
"a child of fork cannot use its parent's CUDA: exec, or fork before CUDA is "
"used"},
{4,TCU__DEADLY,TC_E_BACKEND,
"the process is shutting down: close contexts before main returns"},
{34,TCU__PASSING,TC_E_BACKEND,
"this is the toolkit's stub, not a driver: take its folder out of "
"LD_LIBRARY_PATH, or install a driver"},
{36,TCU__PASSING,TC_E_VERSION,"update the driver"},
{46,TCU__PASSING,TC_E_BACKEND,"another process has the device for itself"},
{100,TCU__PASSING,TC_E_BACKEND,
"no GPU is visible: see nvidia-smi and CUDA_VISIBLE_DEVICES"},
{101,TCU__PASSING,TC_E_BACKEND,"there is no such device: see CUDA_VISIBLE_DEVICES"},
{200,TCU__PASSING,TC_E_BACKEND,"the code is damaged: clear the cache"},
{209,TCU__PASSING,TC_E_BACKEND,"the code was made for another GPU: clear the cache"},
{214,TCU__DEADLY,TC_E_BACKEND,"the device's memory failed: reset or replace it"},
{218,TCU__PASSING,TC_E_BACKEND,"the driver refuses the PTX; its log is below"},
{220,TCU__DEADLY,TC_E_BACKEND,"a link between devices failed: see nvidia-smi"},
{221,TCU__PASSING,TC_E_BACKEND,
"the driver has no compiler for PTX: install libnvidia-ptxjitcompiler"},
{222,TCU__PASSING,TC_E_VERSION,
"the driver is older than the NVRTC that made the PTX: update it, or install an "
"older NVRTC"},
{226,TCU__DEADLY,TC_E_BACKEND,"the device's memory failed: restart the program"},
{700,TCU__DEADLY,TC_E_BACKEND,"a kernel used memory that is not its own"},
{701,TCU__PASSING,TC_E_BACKEND,
"the kernel needs more registers or shared memory than there are"},
{702,TCU__DEADLY,TC_E_BACKEND,
"a kernel ran too long on a device that has a display"},
{709,TCU__DEADLY,TC_E_BACKEND,"somebody in the process reset the device"},
{710,TCU__DEADLY,TC_E_BACKEND,"a kernel's assertion failed"},
{714,TCU__DEADLY,TC_E_BACKEND,"a kernel's stack is damaged"},
{715,TCU__DEADLY,TC_E_BACKEND,
"a kernel has an instruction that the device does not know"},
{716,TCU__DEADLY,TC_E_BACKEND,"a kernel's access is not aligned"},
{717,TCU__DEADLY,TC_E_BACKEND,"a kernel used an address of the wrong kind"},
{718,TCU__DEADLY,TC_E_BACKEND,"a kernel jumped to nowhere"},
{719,TCU__DEADLY,TC_E_BACKEND,"a kernel failed"},
{721,TCU__DEADLY,TC_E_BACKEND,"a kernel kept tensor memory"},
{802,TCU__PASSING,TC_E_BACKEND,
"the system's GPUs are not ready: is the fabric manager running?"},
{803,TCU__PASSING,TC_E_VERSION,
"kernel module and driver library differ: reboot, or load the new module"},
{804,TCU__PASSING,TC_E_VERSION,
"the compatibility package is not for this GPU: take it out of LD_LIBRARY_PATH"},
};
TCU__FN size_t tcu__code_row(tcu__code code){
size_t i=0;
while(i<TCU__COUNT(tcu__codes)&&tcu__codes[i].code!=code)i++;
return i;
}
TCU__FN void tcu__trouble_clear(tcu__trouble*t){
t->status=TC_OK;
t->code=0;
t->text[0]=0;
}
TCU__PRINTF(3,4)
TCU__FN int tcu__fail(tcu__trouble*t,tc_status status,const char*format,...){
va_list list;
if(t->status!=TC_OK)return 0;
t->status=status;
va_start(list,format);
vsnprintf(t->text,sizeof t->text,format,list);
va_end(list);
return 0;
}
TCU__FN int tcu__no_memory(tcu__trouble*t,const char*what){
return tcu__fail(t,TC_E_NOMEM,"out of memory of the host for %s",what);
}
TCU__FN void tcu__describe(const tcu__driver_calls*call,tcu__code code,const char*name,
const char*what,char*text,size_t room){
const char*id=NULL,*meaning=NULL;
size_t row=tcu__code_row(code);
if(call->cuGetErrorName(code,&id)||!id)id="error";
if(call->cuGetErrorString(code,&meaning))meaning=NULL;
tcu__print(text,room,"%s, for %s: %s (%d)",name,what,id,code);
if(meaning)tcu__put(text,room,": %s",meaning);
if(row<TCU__COUNT(tcu__codes)){
tcu__put(text,room,"; %s",tcu__codes[row].advice);
}
}
TCU__FN void tcu__note(const tcu__driver_calls*call,tcu__trouble*t,tcu__code code,
const char*name,const char*what){
size_t row=tcu__code_row(code);
if(t->dead||row==TCU__COUNT(tcu__codes))return;
if(tcu__codes[row].severity!=TCU__DEADLY)return;
t->dead=code;
tcu__describe(call,code,name,what,t->death,sizeof t->death);
}
TCU__FN int tcu__alive(tcu__trouble*t,const char*what){
if(!t->dead)return 1;
return tcu__fail(t,TC_E_BACKEND,
"%s: refused, since an earlier error made the device unusable until "
"the program is restarted: %.440s",
what,t->death);
}
TCU__FN int tcu__judge(const tcu__driver_calls*call,tcu__trouble*t,tcu__code code,
const char*name,const char*what){
char text[TCU__TEXT];
if(!code)return 1;
size_t row=tcu__code_row(code);
tcu__note(call,t,code,name,what);
if(t->status!=TC_OK)return 0;
tcu__describe(call,code,name,what,text,sizeof text);
t->code=code;
return tcu__fail(t,
row<TCU__COUNT(tcu__codes)?tcu__codes[row].status:TC_E_BACKEND,
"%s",text);
}
#define TCU__CALL(calls,trouble,what,name,...) \
(tcu__alive(trouble,what)&& \
tcu__judge(calls,trouble,(calls)->name(__VA_ARGS__),#name,what))
// ---- gen/cuda/library.c
enum{TCU__OLDEST_DRIVER=12000};
typedef struct tcu__driver{
tcu__driver_calls call;
void*library;
int version;
int devices;
char path[TCU__PATH];
}tcu__driver;
static volatile long tcu__owner;
#if TCU__POSIX
TCU__FN void*tcu__library_open(const char*path,int for_all){
return dlopen(path,RTLD_NOW|RTLD_NODELETE|(for_all?RTLD_GLOBAL:RTLD_LOCAL));
}
TCU__FN void tcu__library_close(void*library){
if(library)dlclose(library);
}
TCU__FN void*tcu__library_symbol(void*library,const char*name){
return dlsym(library,name);
}
TCU__FN const char*tcu__library_why(void){
const char*s=dlerror();
return s?s:"no reason given";
}
TCU__FN void tcu__library_path(void*symbol,char*path,size_t room){
Dl_info info;
path[0]=0;
if(dladdr(symbol,&info)&&info.dli_fname)
tcu__print(path,room,"%s",info.dli_fname);
}
#else
TCU__FN void*tcu__library_open(const char*path,int for_all){
(void)path,(void)for_all;
return NULL;
}
TCU__FN void tcu__library_close(void*library){(void)library;}
TCU__FN void*tcu__library_symbol(void*library,const char*name){
(void)library,(void)name;
return NULL;
}
TCU__FN const char*tcu__library_why(void){return "no dlopen on this system yet";}
TCU__FN void tcu__library_path(void*symbol,char*path,size_t room){
(void)symbol,(void)room;
path[0]=0;
}
#endif
TCU__FN const char*tcu__symbols_find(void*library,const tcu__symbol*row,size_t count,
void*calls){
for(size_t i=0;i<count;i++){
void*symbol=tcu__library_symbol(library,row[i].name);
if(!symbol&&row[i].need==TCU__REQUIRED)return row[i].name;
memcpy((char*)calls+row[i].offset,&symbol,sizeof symbol);
}
return NULL;
}
TCU__FN void tcu__driver_close(tcu__driver*v){
tcu__library_close(v->library);
memset(v,0,sizeof*v);
}
TCU__FN int tcu__driver_load(tcu__driver*v,tcu__trouble*t){
static const char*const usual[]={"libcuda.so.1","libcuda.so",
"/usr/lib/wsl/lib/libcuda.so.1"};
const char*given=tcu__env("TC_CUDA_LIBRARY");
size_t count=given?1:TCU__COUNT(usual);
char first[200]="";
for(size_t i=0;i<count&&!v->library;i++){
tcu__print(v->path,sizeof v->path,"%s",given?given:usual[i]);
v->library=tcu__library_open(v->path,0);
if(!v->library&&!i)tcu__print(first,sizeof first,"%s",tcu__library_why());
}
if(v->library)return 1;
if(given)
return tcu__fail(
t,TC_E_BACKEND,
"no CUDA driver: TC_CUDA_LIBRARY=%.200s cannot be loaded (%s); correct "
"it, or unset it",
given,first);
return tcu__fail(
t,TC_E_BACKEND,
"no CUDA driver: libcuda.so.1 is not in the loader's path (%s); install "
"NVIDIA's driver, or set TC_CUDA_LIBRARY to the file",
first);
}
TCU__FN int tcu__driver_symbols_find(tcu__driver*v,tcu__trouble*t){
const char*missing=tcu__symbols_find(v->library,tcu__driver_symbols,
TCU__COUNT(tcu__driver_symbols),&v->call);
void*symbol=tcu__library_symbol(v->library,"cuInit");
if(missing)
return tcu__fail(
t,TC_E_VERSION,
"the CUDA driver %s has no %s: it is older than CUDA 12.0; update it",v->path,
missing);
tcu__library_path(symbol,v->path,sizeof v->path);
return 1;
}
TCU__FN int tcu__driver_init(tcu__driver*v,tcu__trouble*t){
long owner=TCU__LOAD(&tcu__owner),self=tcu__process();
if(owner&&owner!=self)
return tcu__fail(
t,TC_E_BACKEND,
"CUDA was initialised before this process was forked, and does not "
"work in the child; exec a program, or fork before CUDA is used");
if(!TCU__CALL(&v->call,t,"the start of CUDA",cuDriverGetVersion,&v->version)||
(v->version>=TCU__OLDEST_DRIVER&&
!TCU__CALL(&v->call,t,"the start of CUDA",cuInit,0)))
return 0;
if(v->version<TCU__OLDEST_DRIVER)
return tcu__fail(
t,TC_E_VERSION,
"the CUDA driver %s supports CUDA %d.%d, and 12.0 is needed; update it",
v->path,v->version/1000,v->version%1000/10);
TCU__STORE(&tcu__owner,self);
if(!TCU__CALL(&v->call,t,"the number of devices",cuDeviceGetCount,&v->devices))
return 0;
return v->devices>0||
tcu__fail(t,TC_E_BACKEND,
"the CUDA driver %s works, but sees no device; see nvidia-smi and "
"CUDA_VISIBLE_DEVICES",
v->path);
}
TCU__FN int tcu__driver_open(tcu__driver*v,tcu__trouble*t){
memset(v,0,sizeof*v);
if(tcu__driver_load(v,t)&&tcu__driver_symbols_find(v,t)&&tcu__driver_init(v,t))
return 1;
tcu__driver_close(v);
return 0;
}
// ---- gen/cuda/device.c
enum{TCU__COPY_IN,TCU__COPY_OUT,TCU__COPY_WAYS};
enum{TCU__PEERS=64};
enum{TCU__SPIN_NS=20000};
typedef enum tcu__peer{TCU__PEER_UNASKED,TCU__PEER_YES,TCU__PEER_NO}tcu__peer;
typedef struct tcu__facts{
int threads_block,sms,l2_bytes,threads_sm,major,minor,shared_sm,shared_block;
int virtual_memory,clusters,tensor_maps;
size_t memory;
char name[128];
}tcu__facts;
typedef struct tcu__device{
tc_allocator host;
tcu__driver driver;
tcu__trouble trouble;
int ordinal;
long process;
int orphan;
tcu__ordinal handle;
tcu__context context;
tcu__context outside;
int inside;
int careful;
int branches;
tcu__facts facts;
tcu__peer peer[TCU__PEERS];
tcu__stream compute;
tcu__stream copy[TCU__COPY_WAYS];
struct{
tcu__event*at;
size_t count,capacity;
}events;
struct{
size_t live,cached,peak,arena,pinned;
}held;
size_t(*relieve)(void*user);
void*relieve_user;
}tcu__device;
#define TCU__DO(d,what,name,...) \
TCU__CALL(&(d)->driver.call,&(d)->trouble,what,name,__VA_ARGS__)
#define TCU__UNDO(d,name,...) \
tcu__note(&(d)->driver.call,&(d)->trouble,\
(d)->orphan?0:(d)->driver.call.name(__VA_ARGS__),#name,"giving back")
TCU__FN int tcu__enter(tcu__device*d){
tcu__context now=NULL;
if(d->inside)return++d->inside;
if(d->process!=tcu__process())
return tcu__fail(
&d->trouble,TC_E_BACKEND,
"device %d was opened before this process was forked, and does not "
"work in the child; exec a program, or fork before CUDA is used",
d->ordinal);
if(!TCU__DO(d,"entering the device",cuCtxGetCurrent,&now))return 0;
if(now!=d->context&&
!TCU__DO(d,"entering the device",cuCtxSetCurrent,d->context))
return 0;
d->outside=now;
return d->inside=1;
}
TCU__FN void tcu__leave(tcu__device*d){
if(--d->inside||d->outside==d->context)return;
TCU__UNDO(d,cuCtxSetCurrent,d->outside);
}
TCU__FN void tcu__enter_to_close(tcu__device*d){
if(d->inside||!d->context)return;
d->inside=1;
TCU__UNDO(d,cuCtxGetCurrent,&d->outside);
if(d->outside!=d->context)TCU__UNDO(d,cuCtxSetCurrent,d->context);
}
typedef struct tcu__fact{
tcu__device_attribute what;
tcu__need need;
size_t offset;
}tcu__fact;
#define TCU__FACT(what,need,field) \
{what,need,offsetof(tcu__facts,field)}
static const tcu__fact tcu__fact_rows[]={
TCU__FACT(TCU__MAJOR,TCU__REQUIRED,major),
TCU__FACT(TCU__MINOR,TCU__REQUIRED,minor),
TCU__FACT(TCU__MULTIPROCESSORS,TCU__REQUIRED,sms),
TCU__FACT(TCU__L2_BYTES,TCU__REQUIRED,l2_bytes),
TCU__FACT(TCU__THREADS_PER_BLOCK,TCU__REQUIRED,threads_block),
TCU__FACT(TCU__THREADS_PER_SM,TCU__REQUIRED,threads_sm),
TCU__FACT(TCU__SHARED_PER_SM,TCU__REQUIRED,shared_sm),
TCU__FACT(TCU__SHARED_PER_BLOCK,TCU__REQUIRED,shared_block),
TCU__FACT(TCU__VIRTUAL_MEMORY,TCU__OPTIONAL,virtual_memory),
TCU__FACT(TCU__CLUSTERS,TCU__OPTIONAL,clusters),
TCU__FACT(TCU__TENSOR_MAPS,TCU__OPTIONAL,tensor_maps),
};
TCU__FN int tcu__fact_ask(const tcu__driver*v,tcu__trouble*t,tcu__ordinal device,
const tcu__fact*f,tcu__facts*facts){
int value=0;
if(!tcu__alive(t,"an attribute of the device"))return 0;
tcu__code code=v->call.cuDeviceGetAttribute(&value,f->what,device);
if(f->need==TCU__OPTIONAL&&code==TCU__E_INVALID)code=value=0;
if(!tcu__judge(&v->call,t,code,"cuDeviceGetAttribute",
"an attribute of the device"))
return 0;
memcpy((char*)facts+f->offset,&value,sizeof value);
return 1;
}
TCU__FN int tcu__facts_ask(const tcu__driver*v,tcu__trouble*t,int ordinal,
tcu__ordinal*device,tcu__facts*f){
memset(f,0,sizeof*f);
if(ordinal<0||ordinal>=v->devices)
return tcu__fail(t,TC_E_ARG,"device %d: there %s %d, numbered from 0",ordinal,
v->devices==1?"is":"are",v->devices);
if(!TCU__CALL(&v->call,t,"the device",cuDeviceGet,device,ordinal)||
!TCU__CALL(&v->call,t,"the device's name",cuDeviceGetName,f->name,
(int)sizeof f->name,*device)||
!TCU__CALL(&v->call,t,"the device's memory",cuDeviceTotalMem_v2,&f->memory,
*device))
return 0;
f->name[sizeof f->name-1]=0;
for(size_t i=0;i<TCU__COUNT(tcu__fact_rows);i++){
if(!tcu__fact_ask(v,t,*device,&tcu__fact_rows[i],f))return 0;
}
return 1;
}
TCU__FN void tcu__device_close(tcu__device*d){
if(d->context){
tcu__enter_to_close(d);
for(size_t i=0;i<d->events.count;i++)
TCU__UNDO(d,cuEventDestroy_v2,d->events.at[i]);
for(int i=0;i<TCU__COPY_WAYS;i++){
if(d->copy[i])TCU__UNDO(d,cuStreamDestroy_v2,d->copy[i]);
}
if(d->compute)TCU__UNDO(d,cuStreamDestroy_v2,d->compute);
d->inside=1;
tcu__leave(d);
TCU__UNDO(d,cuDevicePrimaryCtxRelease_v2,d->handle);
}
TCU__FREE(&d->host,d->events.at,d->events.capacity);
tcu__driver_close(&d->driver);
tcu__trouble kept=d->trouble;
memset(d,0,sizeof*d);
d->trouble=kept;
}
TCU__FN int tcu__device_open(tcu__device*d,const tc_allocator*host,int ordinal){
memset(d,0,sizeof*d);
if(host)d->host=*host;
d->ordinal=ordinal;
d->process=tcu__process();
if(tcu__driver_open(&d->driver,&d->trouble)&&
tcu__facts_ask(&d->driver,&d->trouble,ordinal,&d->handle,&d->facts)&&
TCU__DO(d,"the device's context",cuDevicePrimaryCtxRetain,&d->context,
d->handle)&&
tcu__enter(d)&&
TCU__DO(d,"the compute stream",cuStreamCreateWithPriority,&d->compute,
TCU__STREAM_NON_BLOCKING,0))
return 1;
tcu__device_close(d);
return 0;
}
TCU__FN tcu__stream tcu__copy_stream(tcu__device*d,int way){
if(d->copy[way])return d->copy[way];
tcu__stream s=NULL;
if(!TCU__DO(d,"a copy stream",cuStreamCreateWithPriority,&s,
TCU__STREAM_NON_BLOCKING,0))
return NULL;
return d->copy[way]=s;
}
TCU__FN tcu__event tcu__event_take(tcu__device*d){
tcu__event e=NULL;
if(d->events.count)return d->events.at[--d->events.count];
if(!TCU__DO(d,"an event",cuEventCreate,&e,
TCU__EVENT_NO_TIMING|TCU__EVENT_BLOCKING))
return NULL;
return e;
}
TCU__FN void tcu__event_give(tcu__device*d,tcu__event e){
if(!e)return;
tcu__event*at=(tcu__event*)tcu__grown(&d->host,d->events.at,d->events.count,
&d->events.capacity,sizeof*at);
if(!at){
TCU__UNDO(d,cuEventDestroy_v2,e);
return;
}
d->events.at=at;
at[d->events.count++]=e;
}
TCU__FN tcu__event tcu__moment_take(tcu__device*d){
tcu__event e=NULL;
return TCU__DO(d,"an event",cuEventCreate,&e,TCU__EVENT_BLOCKING)?e:NULL;
}
TCU__FN int tcu__event_wait(tcu__device*d,tcu__event e){
uint64_t end=tcu__now()+TCU__SPIN_NS;
if(!tcu__alive(&d->trouble,"waiting for the device"))return 0;
do{
tcu__code code=d->driver.call.cuEventQuery(e);
if(code!=TCU__E_NOT_READY)
return tcu__judge(&d->driver.call,&d->trouble,code,"cuEventQuery",
"waiting for the device");
}while(tcu__now()<end);
return TCU__DO(d,"waiting for the device",cuEventSynchronize,e);
}
TCU__FN int tcu__moments_apart(tcu__device*d,tcu__event from,tcu__event to,
uint64_t*ns){
float ms=0;
*ns=0;
if(!tcu__event_wait(d,from)||!tcu__event_wait(d,to)||
!TCU__DO(d,"times of the device",cuEventElapsedTime,&ms,from,to))
return 0;
if(ms>0)*ns=(uint64_t)((double)ms*1e6+0.5);
return 1;
}
TCU__FN int tcu__stream_wait(tcu__device*d,tcu__stream s){
tcu__event e=tcu__event_take(d);
int ok=e&&TCU__DO(d,"waiting for the device",cuEventRecord,e,s)&&
tcu__event_wait(d,e);
tcu__event_give(d,e);
return ok;
}
TCU__FN int tcu__stream_after(tcu__device*d,tcu__stream later,tcu__stream first){
tcu__event e=tcu__event_take(d);
int ok=e&&TCU__DO(d,"the order of streams",cuEventRecord,e,first)&&
TCU__DO(d,"the order of streams",cuStreamWaitEvent,later,e,0);
tcu__event_give(d,e);
return ok;
}
// ---- gen/cuda/memory.c
#define TCU__SMALL_STEP ((size_t)512)
#define TCU__LARGE_STEP ((size_t)2<<20)
#define TCU__SMALL_MOST ((size_t)1<<20)
enum{TCU__CHAINS=128};
typedef struct tcu__block{
struct tcu__block*next,*before;
tcu__address address;
size_t size;
tcu__stream stream;
}tcu__block;
typedef struct tcu__pool{
tcu__device*device;
tcu__block*cached[TCU__CHAINS];
tcu__block*live;
}tcu__pool;
typedef struct tcu__memory{
size_t live,cached,peak;
size_t arena,pinned;
size_t unused,total;
}tcu__memory;
TCU__FN int tcu__memory_ask(tcu__device*d,tcu__memory*m){
m->live=d->held.live;
m->cached=d->held.cached;
m->peak=d->held.peak;
m->arena=d->held.arena;
m->pinned=d->held.pinned;
m->unused=m->total=0;
return TCU__DO(d,"the memory in use",cuMemGetInfo_v2,&m->unused,&m->total);
}
TCU__FN void tcu__memory_put(const tcu__memory*m,char*text,size_t room){
tcu__size_text a,b,c;
tcu__put(text,room,"tensors hold %s (at most %s so far) and %s are kept for the next",
tcu__bytes(m->live,&a),tcu__bytes(m->peak,&b),tcu__bytes(m->cached,&c));
tcu__put(text,room,", plans hold %s",tcu__bytes(m->arena,&a));
if(m->pinned)
tcu__put(text,room,", copies %s of the host",tcu__bytes(m->pinned,&a));
if(m->total)
tcu__put(text,room,", %s of the device's %s are free",tcu__bytes(m->unused,&a),
tcu__bytes(m->total,&b));
}
TCU__FN int tcu__memory_full(tcu__device*d,size_t size,const char*what){
tcu__memory m;
tcu__size_text a;
char text[TCU__TEXT]="";
memset(&m,0,sizeof m);
tcu__trouble_clear(&d->trouble);
tcu__memory_ask(d,&m);
tcu__trouble_clear(&d->trouble);
tcu__memory_put(&m,text,sizeof text);
d->trouble.code=TCU__E_NOMEM;
return tcu__fail(
&d->trouble,TC_E_NOMEM,
"device %d is full: %s wanted for %s; %s. Free tensors, or use smaller "
"sizes",
d->ordinal,tcu__bytes(size,&a),what,text);
}
TCU__FN int tcu__relieved(tcu__device*d){
if(d->trouble.code!=TCU__E_NOMEM||d->trouble.dead||!d->relieve)return 0;
tcu__trouble kept=d->trouble;
tcu__trouble_clear(&d->trouble);
if(d->relieve(d->relieve_user)&&!d->trouble.dead)return 1;
d->trouble.status=kept.status;
d->trouble.code=kept.code;
memcpy(d->trouble.text,kept.text,sizeof kept.text);
return 0;
}
TCU__FN int tcu__memory_get(tcu__device*d,size_t size,const char*what,
tcu__address*address){
if(TCU__DO(d,what,cuMemAlloc_v2,address,size))return 1;
if(tcu__relieved(d)&&TCU__DO(d,what,cuMemAlloc_v2,address,size))return 1;
if(d->trouble.code!=TCU__E_NOMEM||d->trouble.dead)return 0;
return tcu__memory_full(d,size,what);
}
TCU__FN size_t tcu__class_of(size_t size){
size_t step=size<=TCU__SMALL_MOST?TCU__SMALL_STEP:TCU__LARGE_STEP;
if(size>SIZE_MAX-step)return 0;
return size?(size+step-1)/step*step:step;
}
TCU__FN tcu__block**tcu__chain_of(tcu__pool*p,size_t size,tcu__stream stream){
uint64_t h=(size/TCU__SMALL_STEP+(uintptr_t)stream)*0x9e3779b97f4a7c15u;
return&p->cached[(h>>32)%TCU__CHAINS];
}
TCU__FN void tcu__block_link(tcu__block**head,tcu__block*b){
b->before=NULL;
b->next=*head;
if(*head)(*head)->before=b;
*head=b;
}
TCU__FN void tcu__block_unlink(tcu__block**head,tcu__block*b){
if(b->before)
b->before->next=b->next;
else
*head=b->next;
if(b->next)b->next->before=b->before;
}
TCU__FN size_t tcu__pool_trim(tcu__pool*p){
tcu__device*d=p->device;
size_t had=d->held.cached;
for(size_t i=0;i<TCU__CHAINS;i++){
while(p->cached[i]){
tcu__block*b=p->cached[i];
p->cached[i]=b->next;
TCU__UNDO(d,cuMemFree_v2,b->address);
TCU__FREE(&d->host,b,1);
}
}
d->held.cached=0;
return had;
}
TCU__FN size_t tcu__pool_relieve(void*user){return tcu__pool_trim((tcu__pool*)user);}
TCU__FN void tcu__pool_open(tcu__pool*p,tcu__device*d){
memset(p,0,sizeof*p);
p->device=d;
d->relieve=tcu__pool_relieve;
d->relieve_user=p;
}
TCU__FN tcu__block*tcu__pool_cached(tcu__pool*p,size_t size,tcu__stream stream){
tcu__block**head=tcu__chain_of(p,size,stream);
for(tcu__block*b=*head;b;b=b->next){
if(b->size!=size||b->stream!=stream)continue;
tcu__block_unlink(head,b);
p->device->held.cached-=size;
return b;
}
return NULL;
}
TCU__FN tcu__block*tcu__pool_new(tcu__pool*p,size_t size,tcu__stream stream){
tcu__device*d=p->device;
tcu__block*b=TCU__NEW(&d->host,tcu__block);
if(!b){
tcu__no_memory(&d->trouble,"a tensor's block");
return NULL;
}
b->size=size;
b->stream=stream;
if(tcu__memory_get(d,size,"a tensor",&b->address))return b;
TCU__FREE(&d->host,b,1);
return NULL;
}
TCU__FN tcu__block*tcu__pool_take(tcu__pool*p,size_t size,tcu__stream stream){
tcu__device*d=p->device;
size_t want=tcu__class_of(size);
if(!want){
tcu__fail(&d->trouble,TC_E_TOO_BIG,"a tensor of %zu bytes does not fit size_t",
size);
return NULL;
}
tcu__block*b=tcu__pool_cached(p,want,stream);
if(!b)b=tcu__pool_new(p,want,stream);
if(!b)return NULL;
tcu__block_link(&p->live,b);
d->held.live+=want;
if(d->held.live>d->held.peak)d->held.peak=d->held.live;
return b;
}
TCU__FN void tcu__pool_give(tcu__pool*p,tcu__block*b){
if(!b)return;
tcu__block_unlink(&p->live,b);
p->device->held.live-=b->size;
p->device->held.cached+=b->size;
tcu__block_link(tcu__chain_of(p,b->size,b->stream),b);
}
TCU__FN void tcu__pool_close(tcu__pool*p){
if(!p->device)return;
while(p->live)tcu__pool_give(p,p->live);
tcu__pool_trim(p);
p->device->relieve=NULL;
memset(p,0,sizeof*p);
}
// ---- gen/cuda/arena.c
#define TCU__ARENA_STEP ((size_t)2<<20)
typedef struct tcu__chunk{
tcu__address base;
size_t size;
tcu__physical physical;
}tcu__chunk;
typedef struct tcu__arena{
tcu__device*device;
tcu__address base;
size_t reserved,mapped,granularity;
tcu__chunk*chunk;
size_t count,capacity;
}tcu__arena;
TCU__FN void tcu__arena_open(tcu__arena*a,tcu__device*d){
memset(a,0,sizeof*a);
a->device=d;
}
TCU__FN tcu__memory_kind tcu__arena_kind(const tcu__device*d){
tcu__memory_kind kind;
memset(&kind,0,sizeof kind);
kind.type=TCU__MEMORY_PINNED;
kind.location.type=TCU__ON_DEVICE;
kind.location.id=d->handle;
return kind;
}
TCU__FN int tcu__arena_virtual(const tcu__device*d){
const tcu__driver_calls*v=&d->driver.call;
return d->facts.virtual_memory&&v->cuMemGetAllocationGranularity&&
v->cuMemAddressReserve&&v->cuMemAddressFree&&v->cuMemCreate&&
v->cuMemRelease&&v->cuMemMap&&v->cuMemUnmap&&v->cuMemSetAccess;
}
TCU__FN size_t tcu__rounded(size_t size,size_t step){
return(size+step-1)/step*step;
}
TCU__FN int tcu__arena_range(tcu__arena*a){
tcu__device*d=a->device;
tcu__memory_kind kind=tcu__arena_kind(d);
size_t step=0;
if(a->base)return 1;
if(!TCU__DO(d,"the arena",cuMemGetAllocationGranularity,&step,&kind,
TCU__GRANULARITY_MINIMUM))
return 0;
a->granularity=tcu__rounded(TCU__ARENA_STEP,step?step:1);
size_t size=tcu__rounded(d->facts.memory,a->granularity);
if(!TCU__DO(d,"the arena's addresses",cuMemAddressReserve,&a->base,size,0,0,0))
return 0;
a->reserved=size;
return 1;
}
TCU__FN int tcu__arena_physical(tcu__device*d,size_t size,tcu__physical*p){
tcu__memory_kind kind=tcu__arena_kind(d);
if(TCU__DO(d,"the arena",cuMemCreate,p,size,&kind,0))return 1;
if(tcu__relieved(d)&&TCU__DO(d,"the arena",cuMemCreate,p,size,&kind,0))
return 1;
if(d->trouble.code!=TCU__E_NOMEM||d->trouble.dead)return 0;
return tcu__memory_full(d,size,"the intermediate results of a plan");
}
TCU__FN int tcu__arena_map(tcu__device*d,tcu__chunk*c){
tcu__access access;
memset(&access,0,sizeof access);
access.location.type=TCU__ON_DEVICE;
access.location.id=d->handle;
access.flags=TCU__READ_WRITE;
if(!tcu__arena_physical(d,c->size,&c->physical))return 0;
if(TCU__DO(d,"the arena",cuMemMap,c->base,c->size,0,c->physical,0)){
if(TCU__DO(d,"the arena",cuMemSetAccess,c->base,c->size,&access,1))return 1;
TCU__UNDO(d,cuMemUnmap,c->base,c->size);
}
TCU__UNDO(d,cuMemRelease,c->physical);
return 0;
}
TCU__FN int tcu__arena_room(tcu__arena*a){
tcu__device*d=a->device;
tcu__chunk*at=
(tcu__chunk*)tcu__grown(&d->host,a->chunk,a->count,&a->capacity,sizeof*at);
if(!at)return tcu__no_memory(&d->trouble,"the arena");
a->chunk=at;
return 1;
}
TCU__FN int tcu__arena_extend(tcu__arena*a,size_t size){
tcu__device*d=a->device;
tcu__chunk c;
if(!tcu__arena_range(a))return 0;
if(size<=a->mapped)return 1;
if(size>a->reserved)
return tcu__memory_full(d,size,"the intermediate results of a plan");
c.base=a->base+a->mapped;
c.size=tcu__rounded(size-a->mapped,a->granularity);
if(!tcu__arena_room(a)||!tcu__arena_map(d,&c))return 0;
a->chunk[a->count++]=c;
a->mapped+=c.size;
d->held.arena+=c.size;
return 1;
}
TCU__FN int tcu__arena_another(tcu__arena*a,size_t size){
tcu__device*d=a->device;
tcu__chunk c;
if(a->count&&a->chunk[a->count-1].size>=size)return 1;
if(a->mapped>size/2)size=a->mapped*2;
c.size=tcu__rounded(size,TCU__ARENA_STEP);
c.physical=0;
if(!tcu__arena_room(a)||
!tcu__memory_get(d,c.size,"the intermediate results of a plan",&c.base))
return 0;
a->chunk[a->count++]=c;
a->mapped=c.size;
d->held.arena+=c.size;
return 1;
}
TCU__FN int tcu__arena_reserve(tcu__arena*a,size_t size,tcu__address*base){
tcu__device*d=a->device;
if(!size)size=1;
if(size>SIZE_MAX/4)
return tcu__memory_full(d,size,"the intermediate results of a plan");
if(tcu__arena_virtual(d)){
if(!tcu__arena_extend(a,size))return 0;
*base=a->base;
return 1;
}
if(!tcu__arena_another(a,size))return 0;
*base=a->chunk[a->count-1].base;
return 1;
}
TCU__FN void tcu__arena_close(tcu__arena*a){
tcu__device*d=a->device;
if(!d)return;
for(size_t i=a->count;i-- >0;){
const tcu__chunk*c=&a->chunk[i];
if(c->physical){
TCU__UNDO(d,cuMemUnmap,c->base,c->size);
TCU__UNDO(d,cuMemRelease,c->physical);
}else{
TCU__UNDO(d,cuMemFree_v2,c->base);
}
d->held.arena-=c->size;
}
if(a->base)TCU__UNDO(d,cuMemAddressFree,a->base,a->reserved);
TCU__FREE(&d->host,a->chunk,a->capacity);
memset(a,0,sizeof*a);
}
// ---- gen/cuda/staging.c
#define TCU__SLOT_BYTES ((size_t)32<<20)
enum{TCU__SLOTS=2};
typedef struct tcu__slot{
unsigned char*memory;
size_t used;
tcu__stream stream;
tcu__event done;
}tcu__slot;
typedef struct tcu__staging{
tcu__device*device;
tcu__slot slot[TCU__SLOTS];
int current;
}tcu__staging;
TCU__FN void tcu__staging_open(tcu__staging*s,tcu__device*d){
memset(s,0,sizeof*s);
s->device=d;
}
TCU__FN int tcu__slot_make(tcu__device*d,tcu__slot*t){
void*memory=NULL;
if(!t->done)t->done=tcu__event_take(d);
if(!t->done)return 0;
if(t->memory)return 1;
if(!TCU__DO(d,"memory of the host for copies",cuMemHostAlloc,&memory,
TCU__SLOT_BYTES,0))
return 0;
t->memory=(unsigned char*)memory;
d->held.pinned+=TCU__SLOT_BYTES;
return 1;
}
TCU__FN tcu__slot*tcu__slot_next(tcu__staging*s){
tcu__device*d=s->device;
tcu__slot*left=&s->slot[s->current];
tcu__slot*t=&s->slot[(s->current+1)%TCU__SLOTS];
if(left->used&&!TCU__DO(d,"a copy",cuEventRecord,left->done,left->stream))
return NULL;
if(!tcu__slot_make(d,t))return NULL;
if(t->used&&!tcu__event_wait(d,t->done))return NULL;
t->used=0;
s->current=(s->current+1)%TCU__SLOTS;
return t;
}
TCU__FN tcu__slot*tcu__slot_for(tcu__staging*s,size_t n,tcu__stream stream){
tcu__slot*t=&s->slot[s->current];
int fits=t->memory&&n<=TCU__SLOT_BYTES-t->used;
if(!fits||(t->used&&t->stream!=stream))t=tcu__slot_next(s);
if(t)t->stream=stream;
return t;
}
TCU__FN int tcu__copy_in(tcu__staging*s,tcu__address to,const void*from,size_t size,
tcu__stream stream){
const unsigned char*source=(const unsigned char*)from;
for(size_t at=0;at<size;){
size_t n=size-at<TCU__SLOT_BYTES?size-at:TCU__SLOT_BYTES;
tcu__slot*t=tcu__slot_for(s,n,stream);
if(!t)return 0;
unsigned char*pinned=t->memory+t->used;
memcpy(pinned,source+at,n);
t->used+=(n+63)/64*64;
if(!TCU__DO(s->device,"a copy to the device",cuMemcpyHtoDAsync_v2,to+at,
pinned,n,stream))
return 0;
at+=n;
}
return 1;
}
typedef struct tcu__piece{
tcu__slot*slot;
unsigned char*to;
size_t size;
}tcu__piece;
TCU__FN int tcu__piece_arrive(tcu__device*d,const tcu__piece*p){
if(!p->slot)return 1;
if(!tcu__event_wait(d,p->slot->done))return 0;
memcpy(p->to,p->slot->memory,p->size);
return 1;
}
TCU__FN int tcu__copy_out(tcu__staging*s,void*to,tcu__address from,size_t size,
tcu__stream stream){
tcu__device*d=s->device;
tcu__piece last;
memset(&last,0,sizeof last);
for(size_t at=0;at<size;){
tcu__piece next;
next.size=size-at<TCU__SLOT_BYTES?size-at:TCU__SLOT_BYTES;
next.to=(unsigned char*)to+at;
next.slot=tcu__slot_next(s);
if(!next.slot)return 0;
next.slot->stream=stream;
next.slot->used=TCU__SLOT_BYTES;
if(!TCU__DO(d,"a copy from the device",cuMemcpyDtoHAsync_v2,next.slot->memory,
from+at,next.size,stream)||
!TCU__DO(d,"a copy from the device",cuEventRecord,next.slot->done,stream)||
!tcu__piece_arrive(d,&last))
return 0;
last=next;
at+=next.size;
}
return tcu__piece_arrive(d,&last);
}
TCU__FN int tcu__copy_on(tcu__device*d,tcu__address to,tcu__address from,size_t size,
tcu__stream stream){
return!size||
TCU__DO(d,"a copy on the device",cuMemcpyDtoDAsync_v2,to,from,size,stream);
}
TCU__FN int tcu__set_bytes(tcu__device*d,tcu__address to,unsigned char value,
size_t size,tcu__stream stream){
return!size||TCU__DO(d,"filling memory",cuMemsetD8Async,to,value,size,stream);
}
TCU__FN void tcu__staging_close(tcu__staging*s){
tcu__device*d=s->device;
if(!d)return;
for(int i=0;i<TCU__SLOTS;i++){
tcu__slot*t=&s->slot[i];
if(t->used)TCU__UNDO(d,cuStreamSynchronize,t->stream);
tcu__event_give(d,t->done);
if(!t->memory)continue;
TCU__UNDO(d,cuMemFreeHost,t->memory);
d->held.pinned-=TCU__SLOT_BYTES;
}
memset(s,0,sizeof*s);
}
// ---- gen/cuda/peer.c
enum{
TCU__E_PEER_IS_ON=704
};
TCU__FN tcu__peer tcu__peer_ask(tcu__device*d,const tcu__device*from){
const tcu__driver_calls*call=&d->driver.call;
int can=0;
if(!call->cuDeviceCanAccessPeer||!call->cuCtxEnablePeerAccess||
!call->cuMemcpyPeerAsync)
return TCU__PEER_NO;
if(call->cuDeviceCanAccessPeer(&can,d->handle,from->handle)||!can)
return TCU__PEER_NO;
tcu__code code=call->cuCtxEnablePeerAccess(from->context,0);
return code&&code!=TCU__E_PEER_IS_ON?TCU__PEER_NO:TCU__PEER_YES;
}
TCU__FN int tcu__peer_reaches(tcu__device*d,const tcu__device*from){
if(from->ordinal<0||from->ordinal>=TCU__PEERS||from==d)return 0;
if(!d->peer[from->ordinal])d->peer[from->ordinal]=tcu__peer_ask(d,from);
return d->peer[from->ordinal]==TCU__PEER_YES;
}
TCU__FN int tcu__peer_after(tcu__device*later,tcu__device*first){
int ok=0;
if(!tcu__enter(first))return 0;
tcu__event e=tcu__event_take(first);
ok=e&&TCU__DO(first,"the order of devices",cuEventRecord,e,first->compute)&&
TCU__CALL(&first->driver.call,&first->trouble,"the order of devices",
cuStreamWaitEvent,later->compute,e,0);
tcu__event_give(first,e);
tcu__leave(first);
return ok;
}
TCU__FN int tcu__peer_copy(tcu__device*d,tcu__address to,tcu__device*from,
tcu__address from_address,size_t size){
if(!size)return 1;
return tcu__peer_after(d,from)&&
TCU__DO(d,"a copy between devices",cuMemcpyPeerAsync,to,d->context,
from_address,from->context,size,d->compute)&&
tcu__peer_after(from,d);
}
// ---- gen/cuda/nvrtc.c
enum{TCU__ARCHS=64,TCU__NVRTC_OPTIONS=32};
enum{TCU__NVRTC_INVALID_OPTION=5};
typedef struct tcu__nvrtc{
tcu__nvrtc_calls call;
void*library;
void*builtins;
int major,minor;
int arch[TCU__ARCHS],archs;
int tried;
char path[TCU__PATH];
char why[TCU__TEXT];
}tcu__nvrtc;
static const struct{
const char*variable,*pattern;
}tcu__nvrtc_folders[]={
{"CUDA_HOME","/lib64"},
{"CUDA_PATH","/lib64"},
{NULL,"/usr/local/cuda/lib64"},
{NULL,"/usr/local/cuda-1[23].*/lib64"},
{NULL,"/usr/local/cuda-1[23].*/lib"},
{"VIRTUAL_ENV","/lib/python3*/site-packages/nvidia/cu13/lib"},
{"VIRTUAL_ENV","/lib/python3*/site-packages/nvidia/cuda_nvrtc/lib"},
{"CONDA_PREFIX","/lib"},
{"CONDA_PREFIX","/lib/python3*/site-packages/nvidia/cu13/lib"},
{"CONDA_PREFIX","/lib/python3*/site-packages/nvidia/cuda_nvrtc/lib"},
{"HOME","/.local/lib/python3*/site-packages/nvidia/cu13/lib"},
{"HOME","/.local/lib/python3*/site-packages/nvidia/cuda_nvrtc/lib"},
{NULL,"/usr/local/lib/python3*/*-packages/nvidia/cu13/lib"},
{NULL,"/usr/local/lib/python3*/*-packages/nvidia/cuda_nvrtc/lib"},
};
static const char*const tcu__nvrtc_names[]={"libnvrtc.so.13","libnvrtc.so.12",
"libnvrtc.so"};
TCU__FN int tcu__nvrtc_try(tcu__nvrtc*n,const char*path){
tcu__print(n->path,sizeof n->path,"%s",path);
n->library=tcu__library_open(path,0);
return n->library!=NULL;
}
TCU__FN int tcu__nvrtc_try_folder(tcu__nvrtc*n,const char*folder){
char path[TCU__PATH];
for(size_t i=0;i<TCU__COUNT(tcu__nvrtc_names);i++){
tcu__print(path,sizeof path,"%.450s/%s",folder,tcu__nvrtc_names[i]);
if(tcu__nvrtc_try(n,path))return 1;
}
return 0;
}
TCU__FN int tcu__nvrtc_try_pattern(tcu__nvrtc*n,const char*pattern){
int found=0;
#if TCU__POSIX
glob_t match;
if(glob(pattern,0,NULL,&match))return 0;
for(size_t i=match.gl_pathc;i-- >0&&!found;)
found=tcu__nvrtc_try_folder(n,match.gl_pathv[i]);
globfree(&match);
#else
(void)n,(void)pattern;
#endif
return found;
}
TCU__FN int tcu__nvrtc_find(tcu__nvrtc*n){
const char*given=tcu__env("TC_NVRTC_LIBRARY");
char pattern[TCU__PATH];
if(given){
if(tcu__nvrtc_try(n,given))return 1;
tcu__print(n->why,sizeof n->why,
"NVRTC, the compiler of CUDA: TC_NVRTC_LIBRARY=%.200s cannot be loaded "
"(%.200s); correct it, or unset it",
given,tcu__library_why());
return 0;
}
for(size_t i=0;i<TCU__COUNT(tcu__nvrtc_names);i++)
if(tcu__nvrtc_try(n,tcu__nvrtc_names[i]))return 1;
for(size_t i=0;i<TCU__COUNT(tcu__nvrtc_folders);i++){
const char*name=tcu__nvrtc_folders[i].variable,
*base=name?tcu__env(name):"";
if(!base)continue;
tcu__print(pattern,sizeof pattern,"%.300s%s",base,
tcu__nvrtc_folders[i].pattern);
if(tcu__nvrtc_try_pattern(n,pattern))return 1;
}
tcu__print(
n->why,sizeof n->why,
"NVRTC, the compiler of CUDA, is not found: %s, %s and %s are neither in the "
"loader's path nor below CUDA_HOME, /usr/local/cuda or a Python environment; "
"install it (pip install nvidia-cuda-nvrtc), or set TC_NVRTC_LIBRARY to the file",
tcu__nvrtc_names[0],tcu__nvrtc_names[1],tcu__nvrtc_names[2]);
return 0;
}
TCU__FN void tcu__nvrtc_builtins(tcu__nvrtc*n){
char path[TCU__PATH+64];
tcu__library_path(tcu__library_symbol(n->library,"nvrtcVersion"),n->path,
sizeof n->path);
const char*slash=strrchr(n->path,'/');
if(!slash)return;
int folder=(int)(slash-n->path);
tcu__print(path,sizeof path,"%.*s/libnvrtc-builtins.so.%d.%d",folder,n->path,
n->major,n->minor);
n->builtins=tcu__library_open(path,1);
if(n->builtins)return;
tcu__print(path,sizeof path,"%.*s/libnvrtc-builtins.so",folder,n->path);
n->builtins=tcu__library_open(path,1);
}
TCU__FN int tcu__nvrtc_ask(tcu__nvrtc*n){
int count=0;
if(n->call.nvrtcVersion(&n->major,&n->minor))return 0;
if(n->call.nvrtcGetNumSupportedArchs(&count)||count<1||count>TCU__ARCHS)
return 0;
if(n->call.nvrtcGetSupportedArchs(n->arch))return 0;
n->archs=count;
return 1;
}
TCU__FN void tcu__nvrtc_close(tcu__nvrtc*n){
tcu__library_close(n->library);
tcu__library_close(n->builtins);
memset(n,0,sizeof*n);
}
TCU__FN int tcu__nvrtc_open(tcu__nvrtc*n,tcu__trouble*t){
const char*missing=NULL;
if(n->library)return 1;
if(!n->tried&&tcu__nvrtc_find(n)){
missing=tcu__symbols_find(n->library,tcu__nvrtc_symbols,
TCU__COUNT(tcu__nvrtc_symbols),&n->call);
if(!missing&&tcu__nvrtc_ask(n)){
tcu__nvrtc_builtins(n);
n->tried=1;
return 1;
}
tcu__print(n->why,sizeof n->why,
"NVRTC, the compiler of CUDA: %s lacks %s; CUDA 12 or newer is needed",
n->path,missing?missing:"a version");
tcu__library_close(n->library);
n->library=NULL;
}
n->tried=1;
return tcu__fail(t,TC_E_COMPILER,"%s",n->why);
}
typedef struct tcu__arch{
char name[16];
char native[16];
int cubin;
}tcu__arch;
TCU__FN int tcu__has_wgmma(int major,int minor){return major==9&&minor==0;}
TCU__FN int tcu__arch_choose(const tcu__nvrtc*n,int major,int minor,tcu__arch*out,
tcu__trouble*t){
int want=major*10+minor,best=0;
int own=want==90||major==10;
for(int i=0;i<n->archs;i++)
if(n->arch[i]<=want&&n->arch[i]>best)best=n->arch[i];
if(!best)
return tcu__fail(
t,TC_E_VERSION,
"the device has compute capability %d.%d, and NVRTC %d.%d compiles "
"for %d.%d and newer; install an older NVRTC, and set "
"TC_NVRTC_LIBRARY to it",
major,minor,n->major,n->minor,n->arch[0]/10,n->arch[0]%10);
out->cubin=best/10==major;
tcu__print(out->name,sizeof out->name,"%s_%d",out->cubin?"sm":"compute",best);
tcu__print(out->native,sizeof out->native,"%s%s",out->name,
own&&best==want?"a":"");
return 1;
}
typedef struct tcu__job{
const char*name,*source;
const char*const*options;
int n_options;
int native;
int ok,no_room;
char*cubin,*ptx,
*log;
size_t cubin_size,ptx_size,log_size;
char why[TCU__TEXT];
}tcu__job;
static const char*const tcu__nvrtc_usual[]={"-std=c++17","-default-device",
"-Xptxas=-O2","-diag-suppress=177",
"--minimal","--no-source-include"};
enum{TCU__NVRTC_NEW_OPTIONS=2};
TCU__FN void tcu__job_free(const tc_allocator*host,tcu__job*j){
TCU__FREE(host,j->cubin,j->cubin_size+1);
TCU__FREE(host,j->ptx,j->ptx_size+1);
TCU__FREE(host,j->log,j->log_size+1);
j->cubin=j->ptx=j->log=NULL;
j->cubin_size=j->ptx_size=j->log_size=0;
}
TCU__FN int tcu__job_result(const tc_allocator*host,tcu__nvrtc_program p,
int(*size_of)(tcu__nvrtc_program,size_t*),
int(*get)(tcu__nvrtc_program,char*),char**out,
size_t*size){
size_t n=0;
if(size_of(p,&n)||!n)return 1;
char*text=TCU__NEW_ARRAY(host,char,n+1);
if(!text)return 0;
if(get(p,text)){
TCU__FREE(host,text,n+1);
return 1;
}
*out=text;
*size=n;
return 1;
}
TCU__FN int tcu__job_run(const tcu__nvrtc*n,tcu__nvrtc_program p,const tcu__arch*arch,
const tcu__job*j,size_t usual){
const char*options[TCU__NVRTC_OPTIONS];
char target[32];
int count=0;
tcu__print(target,sizeof target,"-arch=%s",j->native?arch->native:arch->name);
options[count++]=target;
for(size_t i=0;i<usual;i++)options[count++]=tcu__nvrtc_usual[i];
for(int i=0;i<j->n_options;i++)options[count++]=j->options[i];
return n->call.nvrtcCompileProgram(p,count,options);
}
TCU__FN void tcu__job_failed(const tcu__nvrtc*n,const tcu__arch*arch,int code,
tcu__job*j){
tcu__print(j->why,sizeof j->why,
"NVRTC %d.%d does not compile %.100s for %s (code %d)",n->major,n->minor,
j->name,j->native?arch->native:arch->name,code);
if(j->log)tcu__put(j->why,sizeof j->why,":\n%s",j->log);
}
TCU__FN void tcu__job_compile(const tcu__nvrtc*n,const tc_allocator*host,
const tcu__arch*arch,tcu__job*j){
const tcu__nvrtc_calls*call=&n->call;
size_t usual=TCU__COUNT(tcu__nvrtc_usual);
tcu__nvrtc_program p=NULL;
j->ok=0;
if(j->n_options<0||(size_t)j->n_options+usual+1>TCU__NVRTC_OPTIONS){
tcu__print(j->why,sizeof j->why,"%.100s: %d options are too many",j->name,
j->n_options);
return;
}
int code=call->nvrtcCreateProgram(&p,j->source,j->name,0,NULL,NULL);
if(!code)code=tcu__job_run(n,p,arch,j,usual);
if(code==TCU__NVRTC_INVALID_OPTION)
code=tcu__job_run(n,p,arch,j,usual-TCU__NVRTC_NEW_OPTIONS);
int room=!p||tcu__job_result(host,p,call->nvrtcGetProgramLogSize,
call->nvrtcGetProgramLog,&j->log,&j->log_size);
if(!code){
room=room&&
tcu__job_result(host,p,call->nvrtcGetPTXSize,call->nvrtcGetPTX,&j->ptx,
&j->ptx_size)&&
(!arch->cubin||
tcu__job_result(host,p,call->nvrtcGetCUBINSize,call->nvrtcGetCUBIN,
&j->cubin,&j->cubin_size));
j->ok=room&&(arch->cubin?j->cubin:j->ptx)!=NULL;
}
if(p)call->nvrtcDestroyProgram(&p);
j->no_room=!room;
if(!room)
tcu__print(j->why,sizeof j->why,
"out of memory of the host for the code of %.100s",j->name);
else if(!j->ok)
tcu__job_failed(n,arch,code,j);
}
typedef struct tcu__crew{
const tcu__nvrtc*nvrtc;
const tc_allocator*host;
const tcu__arch*arch;
tcu__job*job;
int count;
volatile int next;
}tcu__crew;
TCU__FN void*tcu__crew_work(void*user){
tcu__crew*w=(tcu__crew*)user;
for(;;){
int i=TCU__ADD(&w->next,1);
if(i>=w->count)return NULL;
tcu__job_compile(w->nvrtc,w->host,w->arch,&w->job[i]);
}
}
enum{TCU__CREW=16};
TCU__FN void tcu__crew_all(tcu__crew*w,int threads){
#if TCU__THREADS
pthread_t other[TCU__CREW];
sigset_t all,kept;
int started=0,cancel;
pthread_setcancelstate(PTHREAD_CANCEL_DISABLE,&cancel);
if(threads>w->count)threads=w->count;
if(threads>TCU__CREW)threads=TCU__CREW;
sigfillset(&all);
pthread_sigmask(SIG_SETMASK,&all,&kept);
while(started+1<threads&&
!pthread_create(&other[started],NULL,tcu__crew_work,w))
started++;
pthread_sigmask(SIG_SETMASK,&kept,NULL);
tcu__crew_work(w);
while(started>0)pthread_join(other[--started],NULL);
pthread_setcancelstate(cancel,NULL);
#else
(void)threads;
tcu__crew_work(w);
#endif
}
TCU__FN int tcu__compile(tcu__nvrtc*n,const tc_allocator*host,const tcu__arch*arch,
tcu__job*job,int count,int threads,tcu__trouble*t){
tcu__crew w;
if(!tcu__nvrtc_open(n,t))return 0;
memset(&w,0,sizeof w);
w.nvrtc=n;
w.host=host;
w.arch=arch;
w.job=job;
w.count=count;
tcu__crew_all(&w,threads);
for(int i=0;i<count;i++)
if(!job[i].ok)
return tcu__fail(t,job[i].no_room?TC_E_NOMEM:TC_E_COMPILER,"%s",
job[i].why);
return 1;
}
// ---- gen/cuda/module.c
enum{TCU__MOST_ARGS=256,TCU__JIT_LOG=2048,TCU__PORTABLE_CLUSTER=8};
enum{TCU__NAME=160};
typedef struct tcu__module{
tcu__code_library library;
tcu__code_module module;
}tcu__module;
typedef struct tcu__kernel{
tcu__function function;
int registers,spilled,shared,threads;
char name[TCU__NAME];
}tcu__kernel;
typedef struct tcu__launch_shape{
unsigned grid[3],block[3];
unsigned cluster[3];
unsigned shared;
int programmatic;
}tcu__launch_shape;
typedef struct tcu__args{
const unsigned char*at;
const uint32_t*offset;
int count;
size_t size;
}tcu__args;
TCU__FN void tcu__module_log(tcu__device*d,const char*log){
if(log[0]&&d->trouble.code)
tcu__put(d->trouble.text,sizeof d->trouble.text,"\n%s",log);
}
TCU__FN int tcu__module_load(tcu__device*d,tcu__module*m,const void*image,
const char*name){
tcu__jit_option option[]={TCU__JIT_ERROR_LOG,TCU__JIT_ERROR_LOG_BYTES};
char log[TCU__JIT_LOG]="";
void*value[2];
int ok;
memset(m,0,sizeof*m);
value[0]=log;
value[1]=(void*)(uintptr_t)sizeof log;
const tcu__driver_calls*v=&d->driver.call;
if(v->cuLibraryLoadData&&v->cuLibraryUnload&&v->cuLibraryGetKernel&&
v->cuKernelGetFunction)
ok=TCU__DO(d,name,cuLibraryLoadData,&m->library,image,option,value,2,NULL,
NULL,0);
else
ok=TCU__DO(d,name,cuModuleLoadDataEx,&m->module,image,2,option,value);
if(!ok)tcu__module_log(d,log);
return ok;
}
TCU__FN void tcu__module_unload(tcu__device*d,tcu__module*m){
if(m->library)TCU__UNDO(d,cuLibraryUnload,m->library);
if(m->module)TCU__UNDO(d,cuModuleUnload,m->module);
memset(m,0,sizeof*m);
}
TCU__FN int tcu__kernel_find(tcu__device*d,const tcu__module*m,tcu__kernel*k){
tcu__code_kernel code=NULL;
if(!m->library)
return TCU__DO(d,k->name,cuModuleGetFunction,&k->function,m->module,k->name);
return TCU__DO(d,k->name,cuLibraryGetKernel,&code,m->library,k->name)&&
TCU__DO(d,k->name,cuKernelGetFunction,&k->function,code);
}
TCU__FN int tcu__kernel_ask(tcu__device*d,tcu__kernel*k){
tcu__function f=k->function;
return TCU__DO(d,k->name,cuFuncGetAttribute,&k->registers,TCU__FN_REGISTERS,f)&&
TCU__DO(d,k->name,cuFuncGetAttribute,&k->spilled,TCU__FN_LOCAL,f)&&
TCU__DO(d,k->name,cuFuncGetAttribute,&k->shared,TCU__FN_SHARED,f)&&
TCU__DO(d,k->name,cuFuncGetAttribute,&k->threads,TCU__FN_THREADS,f);
}
TCU__FN int tcu__kernel_fits(tcu__device*d,const tcu__kernel*k,
const tcu__launch_shape*s){
size_t shared=(size_t)k->shared+s->shared,room=(size_t)d->facts.shared_block;
size_t threads=(size_t)s->block[0]*s->block[1]*s->block[2];
if(shared>room)
return tcu__fail(
&d->trouble,TC_E_UNSUPPORTED,
"kernel %s needs %zu bytes of shared memory, device %d has %zu for a "
"block",
k->name,shared,d->ordinal,room);
if(threads>(size_t)k->threads)
return tcu__fail(
&d->trouble,TC_E_UNSUPPORTED,
"kernel %s has blocks of %zu threads, and with %d registers a block "
"may have %d",
k->name,threads,k->registers,k->threads);
return 1;
}
TCU__FN int tcu__kernel_get(tcu__device*d,const tcu__module*m,const char*name,
const tcu__launch_shape*most,tcu__kernel*k){
unsigned cluster=most->cluster[0]*most->cluster[1]*most->cluster[2];
memset(k,0,sizeof*k);
if(strlen(name)>=sizeof k->name)
return tcu__fail(&d->trouble,TC_E_TOO_BIG,"the name of kernel %.80s is too long",
name);
memcpy(k->name,name,strlen(name));
if(!tcu__kernel_find(d,m,k))return 0;
if(d->driver.call.cuFuncLoad&&!TCU__DO(d,name,cuFuncLoad,k->function))return 0;
if(!tcu__kernel_ask(d,k)||!tcu__kernel_fits(d,k,most))return 0;
if(most->shared&&!TCU__DO(d,name,cuFuncSetAttribute,k->function,
TCU__FN_DYNAMIC_SHARED,(int)most->shared))
return 0;
return cluster<=TCU__PORTABLE_CLUSTER||
TCU__DO(d,name,cuFuncSetAttribute,k->function,TCU__FN_LARGE_CLUSTER,1);
}
TCU__FN tcu__map_dtype tcu__map_dtype_of(int dtype){
if(dtype==TC_F32)return TCU__MAP_F32;
if(dtype==TC_F8E4M3||dtype==TC_F8E5M2)return TCU__MAP_U8;
return dtype==TC_F16?TCU__MAP_F16:TCU__MAP_BF16;
}
TCU__FN tcu__map_swizzle tcu__map_swizzle_of(uint64_t line){
return line<=64?TCU__MAP_SWIZZLE_64:TCU__MAP_SWIZZLE_128;
}
TCU__FN int tcu__map_windows(tcu__device*d,const tc_device_map*m,void*at,
const uint64_t*size,const uint64_t*stride,
tcu__tensor_map*map){
uint32_t step[4];
step[0]=step[3]=1,step[1]=m->step[0],step[2]=m->step[1];
return TCU__DO(d,"a tensor map of windows",cuTensorMapEncodeIm2col,map,
tcu__map_dtype_of(m->dtype),4,at,size,stride,m->low,m->high,
m->box[0],m->box[1],step,TCU__MAP_PLAIN,
tcu__map_swizzle_of(m->box[0]*tc_dtype_bytes((tc_dtype)m->dtype)),
TCU__MAP_L2_128,TCU__MAP_ZEROS);
}
TCU__FN int tcu__map_make(tcu__device*d,const tc_device_map*m,tcu__address base,
void*to){
static const uint32_t step[4]={1,1,1,1};
enum{ALIGN=128};
const uint64_t bytes=tc_dtype_bytes((tc_dtype)m->dtype);
unsigned char room[sizeof(tcu__tensor_map)+ALIGN];
tcu__tensor_map*map=
(tcu__tensor_map*)(void*)(room+(ALIGN-(uintptr_t)room%ALIGN)%ALIGN);
uint64_t size[4],stride[3];
uintptr_t at=(uintptr_t)base+(uintptr_t)m->offset*bytes;
for(int i=0;i<4;i++)size[i]=(uint64_t)m->size[i];
for(int i=0;i<3;i++)stride[i]=(uint64_t)m->stride[i]*bytes;
int ok=m->step[0]
?tcu__map_windows(d,m,(void*)at,size,stride,map)
:TCU__DO(d,"a tensor map",cuTensorMapEncodeTiled,map,
tcu__map_dtype_of(m->dtype),4,(void*)at,size,stride,m->box,
step,TCU__MAP_PLAIN,tcu__map_swizzle_of(m->box[0]*bytes),
TCU__MAP_L2_128,TCU__MAP_ZEROS);
if(!ok)return 0;
memcpy(to,map,sizeof*map);
return 1;
}
typedef struct tcu__arg_list{
void*at[TCU__MOST_ARGS];
}tcu__arg_list;
TCU__FN int tcu__args_list(tcu__device*d,const tcu__kernel*k,const tcu__args*a,
tcu__arg_list*list){
if(a->count>TCU__MOST_ARGS)
return tcu__fail(&d->trouble,TC_E_TOO_BIG,
"kernel %s has %d arguments (at most %d)",k->name,a->count,
TCU__MOST_ARGS);
for(int i=0;i<a->count;i++)
list->at[i]=(void*)((uintptr_t)a->at+a->offset[i]);
return 1;
}
TCU__FN int tcu__launch_is_plain(const tcu__device*d,const tcu__launch_shape*s){
return!s->cluster[0]&&(!s->programmatic||!d->driver.call.cuLaunchKernelEx);
}
TCU__FN unsigned tcu__launch_attributes(const tcu__launch_shape*s,
tcu__launch_attribute out[2]){
unsigned n=0;
memset(out,0,2*sizeof*out);
if(s->cluster[0]){
out[n].id=TCU__LAUNCH_CLUSTER;
memcpy(out[n++].value.cluster,s->cluster,sizeof s->cluster);
}
if(s->programmatic){
out[n].id=TCU__LAUNCH_PROGRAMMATIC;
out[n++].value.programmatic=1;
}
return n;
}
TCU__FN int tcu__launch_more(tcu__device*d,const tcu__kernel*k,
const tcu__launch_shape*s,tcu__arg_list*list,
tcu__stream stream){
tcu__launch_attribute attribute[2];
tcu__launch_config c;
if(!d->driver.call.cuLaunchKernelEx)
return tcu__fail(
&d->trouble,TC_E_VERSION,
"kernel %s is launched in clusters, which the driver does not know; "
"update it",
k->name);
memset(&c,0,sizeof c);
memcpy(c.grid,s->grid,sizeof c.grid);
memcpy(c.block,s->block,sizeof c.block);
c.shared=s->shared;
c.stream=stream;
c.attributes=attribute;
c.count=tcu__launch_attributes(s,attribute);
return TCU__DO(d,k->name,cuLaunchKernelEx,&c,k->function,list->at,NULL);
}
TCU__FN int tcu__launch(tcu__device*d,const tcu__kernel*k,const tcu__launch_shape*s,
const tcu__args*a,tcu__stream stream){
tcu__arg_list list;
int ok=tcu__args_list(d,k,a,&list);
if(ok&&!tcu__launch_is_plain(d,s))
ok=tcu__launch_more(d,k,s,&list,stream);
else if(ok)
ok=TCU__DO(d,k->name,cuLaunchKernel,k->function,s->grid[0],s->grid[1],
s->grid[2],s->block[0],s->block[1],s->block[2],s->shared,stream,
list.at,NULL);
if(!ok||!d->careful)return ok;
return TCU__DO(d,k->name,cuStreamSynchronize,stream);
}
// ---- gen/cuda/graph.c
enum{TCU__GRAPHS=4,TCU__GRAPH_NODES=4096};
typedef struct tcu__node{
const tcu__kernel*kernel;
tcu__launch_shape shape;
tcu__args args;
const int*after;
int n_after;
}tcu__node;
typedef struct tcu__node_state{
tcu__graph_node handle;
tcu__function function;
tcu__launch_shape shape;
size_t at,size;
}tcu__node_state;
typedef struct tcu__recorded{
tcu__graph graph;
tcu__graph_exec exec;
tcu__node_state*node;
unsigned char*bytes;
uint64_t*key;
size_t n_bytes;
int count,n_key;
uint64_t used;
}tcu__recorded;
typedef struct tcu__graphs{
tcu__device*device;
tcu__recorded entry[TCU__GRAPHS];
tcu__recorded*last;
uint64_t clock;
uint64_t built,changed;
}tcu__graphs;
TCU__FN void tcu__graphs_open(tcu__graphs*g,tcu__device*d){
memset(g,0,sizeof*g);
g->device=d;
}
TCU__FN int tcu__graph_fits(int count){return count>0&&count<=TCU__GRAPH_NODES;}
TCU__FN void tcu__recorded_drop(tcu__device*d,tcu__recorded*r){
if(r->exec)TCU__UNDO(d,cuGraphExecDestroy,r->exec);
if(r->graph)TCU__UNDO(d,cuGraphDestroy,r->graph);
TCU__FREE(&d->host,r->node,r->count);
TCU__FREE(&d->host,r->bytes,r->n_bytes);
TCU__FREE(&d->host,r->key,r->n_key);
memset(r,0,sizeof*r);
}
TCU__FN void tcu__graphs_close(tcu__graphs*g){
if(!g->device)return;
for(int i=0;i<TCU__GRAPHS;i++)tcu__recorded_drop(g->device,&g->entry[i]);
}
TCU__FN tcu__node_params tcu__node_params_of(const tcu__node*n,tcu__arg_list*list){
tcu__node_params p;
memset(&p,0,sizeof p);
p.function=n->kernel->function;
memcpy(p.grid,n->shape.grid,sizeof p.grid);
memcpy(p.block,n->shape.block,sizeof p.block);
p.shared=n->shape.shared;
p.parameters=list->at;
return p;
}
TCU__FN void tcu__node_remember(tcu__recorded*r,int i,const tcu__node*n){
tcu__node_state*s=&r->node[i];
s->function=n->kernel->function;
s->shape=n->shape;
if(s->size)memcpy(r->bytes+s->at,n->args.at,s->size);
}
TCU__FN int tcu__node_before(const tcu__device*d,const tcu__recorded*r,
const tcu__node*n,int i,tcu__graph_node*before){
for(int k=0;k<n->n_after;k++)before[k]=r->node[n->after[k]].handle;
if(d->branches)return n->n_after;
if(i)before[0]=r->node[i-1].handle;
return i>0;
}
TCU__FN int tcu__node_edges(tcu__device*d,tcu__recorded*r,const tcu__node*n,int i,
const tcu__graph_node*before,int count){
tcu__edge edge;
memset(&edge,0,sizeof edge);
edge.from_port=edge.type=TCU__EDGE_PROGRAMMATIC;
for(int k=0;k<count;k++){
if(!TCU__DO(d,n->kernel->name,cuGraphAddDependencies_v2,r->graph,&before[k],
&r->node[i].handle,&edge,1))
return 0;
}
return 1;
}
TCU__FN int tcu__node_add(tcu__device*d,tcu__recorded*r,const tcu__node*n,int i,
tcu__graph_node*before){
int early=
n->shape.programmatic&&!d->branches&&d->driver.call.cuGraphAddDependencies_v2;
tcu__launch_value cluster;
tcu__arg_list list;
if(!tcu__args_list(d,n->kernel,&n->args,&list))return 0;
tcu__node_params p=tcu__node_params_of(n,&list);
int count=tcu__node_before(d,r,n,i,before);
if(!TCU__DO(d,n->kernel->name,cuGraphAddKernelNode_v2,&r->node[i].handle,r->graph,
before,early?0:(size_t)count,&p))
return 0;
if(early&&!tcu__node_edges(d,r,n,i,before,count))return 0;
if(!n->shape.cluster[0])return 1;
memset(&cluster,0,sizeof cluster);
memcpy(cluster.cluster,n->shape.cluster,sizeof n->shape.cluster);
return TCU__DO(d,n->kernel->name,cuGraphKernelNodeSetAttribute,r->node[i].handle,
TCU__LAUNCH_CLUSTER,&cluster);
}
TCU__FN int tcu__nodes_are_ordered(tcu__device*d,const tcu__node*node,int count){
for(int i=0;i<count;i++){
int ok=node[i].n_after<=i;
for(int k=0;ok&&k<node[i].n_after;k++)
ok=node[i].after[k]>=0&&node[i].after[k]<i;
if(!ok)
return tcu__fail(
&d->trouble,TC_E_INTERNAL,
"a graph: kernel %d, %s, does not come after earlier ones only",i,
node[i].kernel->name);
}
return 1;
}
TCU__FN int tcu__recorded_make(tcu__device*d,tcu__recorded*r,const tcu__node*node,
int count,int n_key){
size_t bytes=0;
for(int i=0;i<count;i++)bytes+=node[i].args.size;
r->node=TCU__NEW_ARRAY(&d->host,tcu__node_state,count);
r->bytes=TCU__NEW_ARRAY(&d->host,unsigned char,bytes);
r->key=TCU__NEW_ARRAY(&d->host,uint64_t,n_key);
r->count=count;
r->n_bytes=bytes;
r->n_key=n_key;
if(!r->node||!r->bytes||!r->key)return tcu__no_memory(&d->trouble,"a graph");
bytes=0;
for(int i=0;i<count;i++){
r->node[i].at=bytes;
r->node[i].size=node[i].args.size;
bytes+=node[i].args.size;
tcu__node_remember(r,i,&node[i]);
}
return 1;
}
TCU__FN int tcu__recorded_fill(tcu__device*d,tcu__recorded*r,const tcu__node*node,
tcu__stream stream){
tcu__graph_node*before=TCU__NEW_ARRAY(&d->host,tcu__graph_node,r->count);
int ok=before||tcu__no_memory(&d->trouble,"a graph");
ok=ok&&TCU__DO(d,"a graph",cuGraphCreate,&r->graph,0);
for(int i=0;ok&&i<r->count;i++)ok=tcu__node_add(d,r,&node[i],i,before);
TCU__FREE(&d->host,before,r->count);
return ok&&
TCU__DO(d,"a graph",cuGraphInstantiateWithFlags,&r->exec,r->graph,0)&&
TCU__DO(d,"a graph",cuGraphUpload,r->exec,stream);
}
TCU__FN int tcu__recorded_build(tcu__graphs*g,tcu__recorded*r,const tcu__node*node,
int count,const uint64_t*key,int n_key,
tcu__stream stream){
tcu__device*d=g->device;
if(tcu__nodes_are_ordered(d,node,count)&&
tcu__recorded_make(d,r,node,count,n_key)&&
tcu__recorded_fill(d,r,node,stream)){
if(n_key)memcpy(r->key,key,(size_t)n_key*sizeof*key);
g->built++;
return 1;
}
tcu__recorded_drop(d,r);
return 0;
}
typedef enum tcu__change{TCU__SAME,TCU__CHANGED,TCU__ANOTHER}tcu__change;
TCU__FN tcu__change tcu__node_change(const tcu__recorded*r,int i,const tcu__node*n){
const tcu__node_state*s=&r->node[i];
if(s->size!=n->args.size||s->shape.programmatic!=n->shape.programmatic||
memcmp(s->shape.cluster,n->shape.cluster,sizeof s->shape.cluster))
return TCU__ANOTHER;
if(s->function!=n->kernel->function||s->shape.shared!=n->shape.shared||
memcmp(s->shape.grid,n->shape.grid,sizeof s->shape.grid)||
memcmp(s->shape.block,n->shape.block,sizeof s->shape.block))
return TCU__CHANGED;
return s->size&&memcmp(r->bytes+s->at,n->args.at,s->size)?TCU__CHANGED
:TCU__SAME;
}
TCU__FN int tcu__node_set(tcu__device*d,tcu__recorded*r,int i,const tcu__node*n){
tcu__arg_list list;
if(!tcu__args_list(d,n->kernel,&n->args,&list))return 0;
tcu__node_params p=tcu__node_params_of(n,&list);
if(!TCU__DO(d,n->kernel->name,cuGraphExecKernelNodeSetParams_v2,r->exec,
r->node[i].handle,&p))
return 0;
tcu__node_remember(r,i,n);
return 1;
}
TCU__FN tcu__change tcu__recorded_change(tcu__graphs*g,tcu__recorded*r,
const tcu__node*node,int count,int*failed){
tcu__device*d=g->device;
tcu__change change=r->count==count?TCU__SAME:TCU__ANOTHER;
for(int i=0;i<count&&change!=TCU__ANOTHER;i++){
tcu__change one=tcu__node_change(r,i,&node[i]);
if(one==TCU__ANOTHER)return TCU__ANOTHER;
if(one==TCU__SAME)continue;
if(!tcu__node_set(d,r,i,&node[i])){
tcu__code code=d->trouble.code;
*failed=d->trouble.dead||
(code!=TCU__E_GRAPH_UPDATE&&code!=TCU__E_UNSUPPORTED);
if(!*failed)tcu__trouble_clear(&d->trouble);
return TCU__ANOTHER;
}
g->changed++;
change=TCU__CHANGED;
}
return change;
}
TCU__FN int tcu__recorded_has(const tcu__recorded*r,const uint64_t*key,int n_key){
return r->exec&&r->n_key==n_key&&
(!n_key||!memcmp(r->key,key,(size_t)n_key*sizeof*key));
}
TCU__FN tcu__recorded*tcu__graphs_entry(tcu__graphs*g,const uint64_t*key,int n_key){
tcu__recorded*oldest=&g->entry[0];
for(int i=0;i<TCU__GRAPHS;i++)
if(tcu__recorded_has(&g->entry[i],key,n_key))return&g->entry[i];
for(int i=0;i<TCU__GRAPHS;i++){
tcu__recorded*r=&g->entry[i];
if(!r->exec)return r;
if(r->used<oldest->used)oldest=r;
}
return oldest;
}
TCU__FN int tcu__nodes_run(tcu__device*d,const tcu__node*node,int count,
tcu__stream stream){
for(int i=0;i<count;i++)
if(!tcu__launch(d,node[i].kernel,&node[i].shape,&node[i].args,stream))
return 0;
return 1;
}
TCU__FN int tcu__graphs_again(tcu__graphs*g,tcu__stream stream){
g->last->used=++g->clock;
return TCU__DO(g->device,"a graph",cuGraphLaunch,g->last->exec,stream);
}
TCU__FN int tcu__graphs_run(tcu__graphs*g,const tcu__node*node,int count,
const uint64_t*key,int n_key,tcu__stream stream){
tcu__device*d=g->device;
int failed=0;
g->last=NULL;
if(d->careful)return tcu__nodes_run(d,node,count,stream);
if(!tcu__graph_fits(count))
return tcu__fail(&d->trouble,TC_E_TOO_BIG,"a graph of %d kernels (1 to %d)",
count,TCU__GRAPH_NODES);
tcu__recorded*r=tcu__graphs_entry(g,key,n_key);
if(r->exec&&(r->n_key!=n_key||
tcu__recorded_change(g,r,node,count,&failed)==TCU__ANOTHER))
tcu__recorded_drop(d,r);
if(failed)return 0;
if(!r->exec&&!tcu__recorded_build(g,r,node,count,key,n_key,stream))return 0;
if(n_key)memcpy(r->key,key,(size_t)n_key*sizeof*key);
g->last=r;
return tcu__graphs_again(g,stream);
}
// ---- gen/cuda/share.c
enum{
TCU__SHARE_LEAST=2,
TCU__SHARE_OF=64,
TCU__SHARE_RUN=1
};
typedef enum tcu__share_state{
TCU__SHARE_OPEN,
TCU__SHARE_ASKED,
TCU__SHARE_GRAPH,
TCU__SHARE_LAUNCHES
}tcu__share_state;
typedef struct tcu__share{
tcu__share_state state;
tcu__event from,to;
uint64_t host_ns,device_ns;
}tcu__share;
TCU__FN void tcu__share_close(tcu__device*d,tcu__share*s){
if(s->from)TCU__UNDO(d,cuEventDestroy_v2,s->from);
if(s->to)TCU__UNDO(d,cuEventDestroy_v2,s->to);
s->from=s->to=NULL;
}
TCU__FN int tcu__share_measure(tcu__device*d,tcu__share*s,const tcu__node*node,
int count,tcu__stream stream){
if(!(s->from=tcu__moment_take(d))||!(s->to=tcu__moment_take(d))||
!TCU__DO(d,"times of the device",cuEventRecord,s->from,stream))
return tcu__share_close(d,s),0;
uint64_t start=tcu__now();
int ok=tcu__nodes_run(d,node,count,stream);
s->host_ns=tcu__now()-start;
ok=ok&&TCU__DO(d,"times of the device",cuEventRecord,s->to,stream);
if(!ok)return tcu__share_close(d,s),0;
s->state=TCU__SHARE_ASKED;
return 1;
}
TCU__FN int tcu__share_settle(tcu__device*d,tcu__share*s){
if(s->state!=TCU__SHARE_ASKED)return 1;
if(!tcu__alive(&d->trouble,"times of the device"))return 0;
tcu__code code=d->driver.call.cuEventQuery(s->to);
if(code==TCU__E_NOT_READY)return 1;
int ok=tcu__judge(&d->driver.call,&d->trouble,code,"cuEventQuery",
"times of the device")&&
tcu__moments_apart(d,s->from,s->to,&s->device_ns);
if(ok)
s->state=s->host_ns*TCU__SHARE_OF>=s->device_ns?TCU__SHARE_GRAPH
:TCU__SHARE_LAUNCHES;
tcu__share_close(d,s);
if(!ok)s->state=TCU__SHARE_OPEN;
return ok;
}
// ---- gen/cuda/runtime.c
typedef struct tcu__runtime{
tcu__device device;
tcu__pool pool;
tcu__arena arena;
tcu__staging staging;
tcu__nvrtc nvrtc;
}tcu__runtime;
TCU__FN void tcu__runtime_close(tcu__runtime*r){
tcu__device*d=&r->device;
d->orphan=d->process!=tcu__process();
tcu__enter_to_close(d);
if(d->compute)TCU__UNDO(d,cuStreamSynchronize,d->compute);
for(int i=0;i<TCU__COPY_WAYS;i++){
if(d->copy[i])TCU__UNDO(d,cuStreamSynchronize,d->copy[i]);
}
tcu__staging_close(&r->staging);
tcu__arena_close(&r->arena);
tcu__pool_close(&r->pool);
tcu__nvrtc_close(&r->nvrtc);
tcu__device_close(d);
}
TCU__FN int tcu__runtime_open(tcu__runtime*r,const tc_allocator*host,int ordinal){
memset(r,0,sizeof*r);
if(!tcu__device_open(&r->device,host,ordinal))return 0;
tcu__leave(&r->device);
tcu__pool_open(&r->pool,&r->device);
tcu__arena_open(&r->arena,&r->device);
tcu__staging_open(&r->staging,&r->device);
return 1;
}
TCDEF int tc_cuda_available(char*why,size_t room){
tcu__driver v;
tcu__trouble t;
memset(&t,0,sizeof t);
int ok=tcu__driver_open(&v,&t);
if(ok)tcu__driver_close(&v);
if(why&&room)tcu__print(why,room,"%s",t.text);
return ok;
}
TCDEF int tc_cuda_device_count(void){
tcu__driver v;
tcu__trouble t;
memset(&t,0,sizeof t);
if(!tcu__driver_open(&v,&t))return 0;
int count=v.devices;
tcu__driver_close(&v);
return count;
}
TCU__FN int tcu__look(int ordinal,tcu__driver*kept,tcu__facts*f,tcu__trouble*t){
tcu__ordinal device=0;
tcu__driver v;
memset(t,0,sizeof*t);
if(!tcu__driver_open(&v,t))return 0;
int ok=tcu__facts_ask(&v,t,ordinal,&device,f);
*kept=v;
kept->library=NULL;
tcu__driver_close(&v);
return ok;
}
TCDEF int tc_cuda_device_name(int ordinal,char*name,size_t room){
tcu__driver v;
tcu__facts f;
tcu__trouble t;
int ok=tcu__look(ordinal,&v,&f,&t);
if(name&&room)tcu__print(name,room,"%s",ok?f.name:"");
return ok;
}
TCU__FN void tcu__report_device(const tcu__driver*v,const tcu__facts*f,char*text,
size_t room){
tcu__size_text a,b,c;
tcu__put(text,room,"driver   CUDA %d.%d, %s\n",v->version/1000,
v->version%1000/10,v->path);
tcu__put(text,room,"device   %s, compute capability %d.%d, %d multiprocessors\n",
f->name,f->major,f->minor,f->sms);
tcu__put(text,room,"memory   %s, L2 %s, shared %s per block\n",
tcu__bytes(f->memory,&a),tcu__bytes((size_t)f->l2_bytes,&b),
tcu__bytes((size_t)f->shared_block,&c));
tcu__put(text,room,"has      virtual memory: %s, clusters: %s, tensor maps: %s\n",
f->virtual_memory?"yes":"no",f->clusters?"yes":"no",
f->tensor_maps?"yes":"no");
}
TCU__FN void tcu__report_nvrtc(const tcu__facts*f,char*text,size_t room){
tcu__nvrtc n;
tcu__trouble t;
tcu__arch arch;
memset(&n,0,sizeof n);
memset(&t,0,sizeof t);
if(!tcu__nvrtc_open(&n,&t)){
tcu__put(text,room,"compiler none: %s\n",t.text);
return;
}
tcu__put(text,room,"compiler NVRTC %d.%d, %s",n.major,n.minor,n.path);
if(!f)
tcu__put(text,room,"\n");
else if(tcu__arch_choose(&n,f->major,f->minor,&arch,&t))
tcu__put(text,room,", for %s\n",arch.name);
else
tcu__put(text,room,": %s\n",t.text);
tcu__nvrtc_close(&n);
}
TCDEF int tc_cuda_report(int ordinal,char*text,size_t room){
tcu__driver v;
tcu__facts f;
tcu__trouble t;
int ok=tcu__look(ordinal,&v,&f,&t);
if(!text||!room)return ok;
text[0]=0;
if(ok)
tcu__report_device(&v,&f,text,room);
else
tcu__put(text,room,"device   none: %s\n",t.text);
tcu__report_nvrtc(ok?&f:NULL,text,room);
return ok;
}
// ---- gen/cuda/seam.c
typedef struct tcu__loaded{
struct tcu__loaded*next;
tcu__module module;
struct tcu__found*found;
}tcu__loaded;
typedef struct tcu__found{
struct tcu__found*next;
tcu__kernel kernel;
unsigned shared;
}tcu__found;
typedef struct tcu__seam{
tcu__runtime runtime;
tcu__arch arch;
tcu__loaded*loaded;
char name[24],identity[96],portable[96];
char why[TCU__TEXT];
}tcu__seam;
typedef struct tcu__own_arguments{
unsigned char*at;
uint32_t size;
}tcu__own_arguments;
typedef struct tcu__plan{
tcu__graphs graphs;
tcu__node*node;
tcu__own_arguments*own;
int count;
uint64_t runs;
tcu__share share;
}tcu__plan;
enum{
TCU__MANY_ARGUMENTS=12010,
TCU__ARGUMENT_BYTES=32764,
TCU__ARGUMENT_BYTES_BEFORE=4096
};
TCU__FN tcu__seam*tcu__seam_of(void*user){return(tcu__seam*)user;}
TCU__FN int tcu__seam_begin(tcu__seam*s){
s->why[0]=0;
return tcu__enter(&s->runtime.device);
}
TCU__FN tc_status tcu__seam_end(tcu__seam*s,int entered,int ok){
tcu__device*d=&s->runtime.device;
tc_status status=TC_OK;
if(entered)tcu__leave(d);
if(entered&&ok)return TC_OK;
status=d->trouble.status?d->trouble.status:TC_E_BACKEND;
tcu__print(s->why,sizeof s->why,"%s",d->trouble.text);
tcu__trouble_clear(&d->trouble);
return status;
}
#define TCU__SEAM(user,work) \
do{\
tcu__seam*s=tcu__seam_of(user);\
tcu__runtime*r=&s->runtime;\
tcu__device*d=&r->device;\
int entered=tcu__seam_begin(s);\
(void)d;\
return tcu__seam_end(s,entered,entered&&(work));\
}while(0)
TCU__FN int tcu__seam_undo_begin(tcu__seam*s){
tcu__device*d=&s->runtime.device;
if(d->inside)return++d->inside;
d->orphan=d->process!=tcu__process();
if(!d->orphan)tcu__enter_to_close(d);
return d->inside;
}
TCU__FN void tcu__seam_undo_end(tcu__seam*s,int inside){
if(inside)tcu__leave(&s->runtime.device);
tcu__trouble_clear(&s->runtime.device.trouble);
}
TCU__FN const char*tcu__seam_why(void*user){return tcu__seam_of(user)->why;}
TCU__FN tcu__address tcu__address_of(const void*p){return(tcu__address)(uintptr_t)p;}
TCU__FN int tcu__seam_block(tcu__runtime*r,size_t bytes,tc_device_memory*out){
tcu__block*b=tcu__pool_take(&r->pool,bytes,r->device.compute);
if(!b)return 0;
out->address=(void*)(uintptr_t)b->address;
out->block=b;
return 1;
}
TCU__FN tc_status tcu__seam_take(void*user,size_t bytes,tc_device_memory*out){
TCU__SEAM(user,tcu__seam_block(r,bytes,out));
}
TCU__FN void tcu__seam_give(void*user,tc_device_memory m){
tcu__seam*s=tcu__seam_of(user);
if(m.block)tcu__pool_give(&s->runtime.pool,(tcu__block*)m.block);
}
TCU__FN int tcu__seam_arena_base(tcu__runtime*r,size_t bytes,void**address){
tcu__address base=0;
if(!tcu__arena_reserve(&r->arena,bytes,&base))return 0;
*address=(void*)(uintptr_t)base;
return 1;
}
TCU__FN tc_status tcu__seam_arena(void*user,size_t bytes,void**address){
TCU__SEAM(user,tcu__seam_arena_base(r,bytes,address));
}
TCU__FN tc_status tcu__seam_take_host(void*user,size_t bytes,void**address){
TCU__SEAM(user,TCU__DO(d,"memory of the host that kernels write",cuMemHostAlloc,
address,bytes,0));
}
TCU__FN void tcu__seam_give_host(void*user,void*address,size_t bytes){
tcu__seam*s=tcu__seam_of(user);
tcu__device*d=&s->runtime.device;
int inside=tcu__seam_undo_begin(s);
(void)bytes;
TCU__UNDO(d,cuMemFreeHost,address);
tcu__seam_undo_end(s,inside);
}
TCU__FN tc_status tcu__seam_copy_in(void*user,void*to,const void*from,size_t bytes){
TCU__SEAM(user,
tcu__copy_in(&r->staging,tcu__address_of(to),from,bytes,d->compute));
}
TCU__FN tc_status tcu__seam_copy_out(void*user,void*to,const void*from,size_t bytes){
TCU__SEAM(user,
tcu__copy_out(&r->staging,to,tcu__address_of(from),bytes,d->compute));
}
TCU__FN tc_status tcu__seam_copy_on(void*user,void*to,const void*from,size_t bytes){
TCU__SEAM(user,tcu__copy_on(d,tcu__address_of(to),tcu__address_of(from),bytes,
d->compute));
}
TCU__FN void tcu__seam_close(void*user);
TCU__FN tc_status tcu__seam_copy_from(void*user,void*to,const tc_device*from,
const void*source,size_t bytes){
tcu__seam*s=tcu__seam_of(user);
if(from->close!=tcu__seam_close)return TC_E_UNSUPPORTED;
tcu__device*d=&s->runtime.device,*other=&tcu__seam_of(from->user)->runtime.device;
int entered=tcu__seam_begin(s);
int reaches=entered&&tcu__peer_reaches(d,other);
int ok=reaches&&
tcu__peer_copy(d,tcu__address_of(to),other,tcu__address_of(source),bytes);
tcu__trouble_clear(&other->trouble);
tc_status status=tcu__seam_end(s,entered,ok);
return entered&&!reaches?TC_E_UNSUPPORTED:status;
}
TCU__FN tc_status tcu__seam_fill(void*user,void*to,uint8_t value,size_t bytes){
TCU__SEAM(user,tcu__set_bytes(d,tcu__address_of(to),value,bytes,d->compute));
}
TCU__FN tc_status tcu__seam_sync(void*user){
TCU__SEAM(user,tcu__stream_wait(d,d->compute));
}
static const char*const tcu__seam_options[]={"-fmad=false","-lineinfo"};
TCU__FN int tcu__seam_options_used(void){return tcu__env("TC_CUDA_LINEINFO")?2:1;}
TCU__FN int tcu__processors(void){
#if TCU__POSIX
long n=sysconf(_SC_NPROCESSORS_ONLN);
return n>0?(int)n:1;
#else
return 1;
#endif
}
TCU__FN void tcu__seam_results(const tc_allocator*host,const tcu__arch*arch,
tcu__job*job,tc_device_text*text,int n){
for(int i=0;i<n;i++){
tcu__job*j=&job[i];
if(!arch->cubin){
text[i].code=j->ptx,text[i].bytes=j->ptx_size;
j->ptx=NULL;
}else{
text[i].code=j->cubin,text[i].bytes=j->cubin_size;
j->cubin=NULL;
}
if(!j->native){
text[i].portable=j->ptx,text[i].portable_bytes=j->ptx_size;
j->ptx=NULL;
}
tcu__job_free(host,j);
}
}
TCU__FN int tcu__seam_compile(tcu__seam*s,tc_device_text*text,int n){
tcu__runtime*r=&s->runtime;
tcu__device*d=&r->device;
tcu__job*job=TCU__NEW_ARRAY(&d->host,tcu__job,n);
if(!job)return tcu__no_memory(&d->trouble,"compiling");
for(int i=0;i<n;i++){
job[i].name=text[i].name,job[i].source=text[i].text;
job[i].native=text[i].native||strstr(text[i].text,"wgmma.")!=NULL;
job[i].options=tcu__seam_options,job[i].n_options=tcu__seam_options_used();
}
int ok=
tcu__nvrtc_open(&r->nvrtc,&d->trouble)&&
tcu__arch_choose(&r->nvrtc,d->facts.major,d->facts.minor,&s->arch,
&d->trouble)&&
tcu__compile(&r->nvrtc,&d->host,&s->arch,job,n,tcu__processors(),&d->trouble);
if(ok)tcu__seam_results(&d->host,&s->arch,job,text,n);
for(int i=0;i<n;i++)tcu__job_free(&d->host,&job[i]);
TCU__FREE(&d->host,job,n);
return ok;
}
TCU__FN tc_status tcu__seam_build(void*user,tc_device_text*text,int n){
TCU__SEAM(user,r!=NULL&&tcu__seam_compile(s,text,n));
}
TCU__FN void tcu__seam_drop(void*user,tc_device_text*text,int n){
const tc_allocator*host=&tcu__seam_of(user)->runtime.device.host;
for(int i=0;i<n;i++){
TCU__FREE(host,(char*)text[i].code,text[i].bytes+1);
TCU__FREE(host,(char*)text[i].portable,text[i].portable_bytes+1);
text[i].code=text[i].portable=NULL;
}
}
TCU__FN int tcu__seam_load_code(tcu__seam*s,const char*name,const void*code,
void**module){
tcu__device*d=&s->runtime.device;
tcu__loaded*m=TCU__NEW(&d->host,tcu__loaded);
if(!m)return tcu__no_memory(&d->trouble,"code");
if(!tcu__module_load(d,&m->module,code,name)){
TCU__FREE(&d->host,m,1);
return 0;
}
m->next=s->loaded,s->loaded=m;
*module=m;
return 1;
}
TCU__FN tc_status tcu__seam_load(void*user,const char*name,const void*code,
size_t bytes,void**module){
(void)bytes;
TCU__SEAM(user,r!=NULL&&tcu__seam_load_code(s,name,code,module));
}
TCU__FN void tcu__loaded_free(tcu__seam*s,tcu__loaded*m){
tcu__device*d=&s->runtime.device;
for(tcu__found*f=m->found,*next;f;f=next){
next=f->next;
TCU__FREE(&d->host,f,1);
}
tcu__module_unload(d,&m->module);
TCU__FREE(&d->host,m,1);
}
TCU__FN void tcu__seam_unload(void*user,void*module){
tcu__seam*s=tcu__seam_of(user);
tcu__loaded**at=&s->loaded,*m=(tcu__loaded*)module;
while(*at!=m)at=&(*at)->next;
*at=m->next;
int inside=tcu__seam_undo_begin(s);
TCU__UNDO(&s->runtime.device,cuStreamSynchronize,s->runtime.device.compute);
tcu__loaded_free(s,m);
tcu__seam_undo_end(s,inside);
}
TCU__FN int tcu__seam_find_kernel(tcu__seam*s,void*module,const char*symbol,
uint32_t threads,void**kernel){
tcu__device*d=&s->runtime.device;
tcu__loaded*m=(tcu__loaded*)module;
tcu__found*f=TCU__NEW(&d->host,tcu__found);
tcu__launch_shape shape;
if(!f)return tcu__no_memory(&d->trouble,"a kernel");
memset(&shape,0,sizeof shape);
shape.block[0]=threads;
shape.block[1]=shape.block[2]=1;
if(!tcu__kernel_get(d,&m->module,symbol,&shape,&f->kernel)){
TCU__FREE(&d->host,f,1);
return 0;
}
f->next=m->found,m->found=f;
*kernel=f;
return 1;
}
TCU__FN tc_status tcu__seam_find(void*user,void*module,const char*symbol,
uint32_t threads,void**kernel){
TCU__SEAM(user,r!=NULL&&tcu__seam_find_kernel(s,module,symbol,threads,kernel));
}
TCU__FN void tcu__seam_describe(void*user,void*kernel,char*text,size_t room){
const tcu__kernel*k=&((tcu__found*)kernel)->kernel;
(void)user;
tcu__print(text,room,"%d registers, %d bytes spilled, %d bytes of shared memory",
k->registers,k->spilled,k->shared);
}
TCU__FN void tcu__plan_free(tcu__seam*s,tcu__plan*p){
const tc_allocator*host=&s->runtime.device.host;
tcu__graphs_close(&p->graphs);
tcu__share_close(&s->runtime.device,&p->share);
for(int i=0;i<p->count;i++)TCU__FREE(host,p->own[i].at,p->own[i].size);
TCU__FREE(host,p->own,p->count);
TCU__FREE(host,p->node,p->count);
TCU__FREE(host,p,1);
}
TCU__FN void tcu__seam_forget(void*user,void*plan){
tcu__seam*s=tcu__seam_of(user);
int inside=tcu__seam_undo_begin(s);
tcu__plan_free(s,(tcu__plan*)plan);
tcu__seam_undo_end(s,inside);
}
TCU__FN tcu__plan*tcu__plan_need(tcu__seam*s,void**plan,int n){
tcu__device*d=&s->runtime.device;
if(*plan)return(tcu__plan*)*plan;
tcu__plan*p=TCU__NEW(&d->host,tcu__plan);
if(p)p->node=TCU__NEW_ARRAY(&d->host,tcu__node,n);
if(p)p->own=TCU__NEW_ARRAY(&d->host,tcu__own_arguments,n);
if(!p||!p->node||!p->own){
if(p)TCU__FREE(&d->host,p->node,n);
if(p)TCU__FREE(&d->host,p->own,n);
if(p)TCU__FREE(&d->host,p,1);
tcu__no_memory(&d->trouble,"a list of kernels");
return NULL;
}
p->count=n;
tcu__graphs_open(&p->graphs,d);
*plan=p;
return p;
}
TCU__FN int tcu__found_shared(tcu__device*d,tcu__found*f,unsigned shared){
tcu__launch_shape shape;
if(shared<=f->shared)return 1;
memset(&shape,0,sizeof shape);
shape.shared=shared;
shape.block[0]=shape.block[1]=shape.block[2]=1;
if(!tcu__kernel_fits(d,&f->kernel,&shape)||
!TCU__DO(d,f->kernel.name,cuFuncSetAttribute,f->kernel.function,
TCU__FN_DYNAMIC_SHARED,(int)shared))
return 0;
f->shared=shared;
return 1;
}
TCU__FN int tcu__begins_early(const tcu__device*d,const tc_device_launch*l){
return l->early&&d->facts.major>=9;
}
TCU__FN tcu__address tcu__address_in(const unsigned char*argument,
const tc_device_launch*l,const tc_device_map*m){
tcu__address a;
memcpy(&a,argument+l->offset[m->address],sizeof a);
return a;
}
TCU__FN int tcu__plan_maps(tcu__device*d,tcu__own_arguments*own,tcu__node*to,
const tc_device_launch*l){
const unsigned char*given=(const unsigned char*)l->argument;
int ok=1,fresh=!own->at;
if(fresh)own->at=TCU__NEW_ARRAY(&d->host,unsigned char,l->argument_bytes);
if(!own->at)return tcu__no_memory(&d->trouble,"a list of kernels");
own->size=l->argument_bytes;
for(uint32_t i=0;ok&&i<l->n_map;i++){
const tc_device_map*m=&l->map[i];
tcu__address a=tcu__address_in(given,l,m);
if(fresh||a!=tcu__address_in(own->at,l,m))
ok=tcu__map_make(d,m,a,own->at+l->offset[m->argument]);
}
memcpy(own->at,given,l->offset[l->map[0].argument]);
if(!ok)memset(own->at,0,own->size);
to->args.at=own->at;
return ok;
}
TCU__FN int tcu__plan_node(tcu__device*d,tcu__node*to,tcu__own_arguments*own,
const tc_device_launch*l){
tcu__found*f=(tcu__found*)l->kernel;
memset(to,0,sizeof*to);
to->kernel=&f->kernel;
to->shape.grid[0]=l->blocks,to->shape.grid[1]=to->shape.grid[2]=1;
to->shape.block[0]=l->threads,to->shape.block[1]=to->shape.block[2]=1;
to->shape.shared=l->shared;
to->shape.programmatic=tcu__begins_early(d,l);
if(l->cluster>1){
to->shape.cluster[0]=l->cluster;
to->shape.cluster[1]=to->shape.cluster[2]=1;
}
to->args.at=(const unsigned char*)l->argument,to->args.offset=l->offset;
to->args.count=(int)l->n_argument,to->args.size=l->argument_bytes;
to->after=l->after,to->n_after=l->n_after;
if(l->n_map&&!tcu__plan_maps(d,own,to,l))return 0;
return tcu__found_shared(d,f,l->shared);
}
TCU__FN uint64_t tcu__plan_key(const tcu__plan*p){
uint64_t key=0x9e3779b97f4a7c15u;
for(int i=0;i<p->count;i++){
const tcu__args*a=&p->node[i].args;
for(size_t at=0;at+8<=a->size;at+=8){
uint64_t word;
memcpy(&word,a->at+at,sizeof word);
key=(key^word)*0xff51afd7ed558ccdu;
key^=key>>29;
}
}
return key;
}
TCU__FN int tcu__plan_is_graph(const tcu__plan*p,tc_device_mode mode){
if(!tcu__graph_fits(p->count)||mode==TC_DEVICE_LAUNCHES)return 0;
return mode==TC_DEVICE_GRAPH?p->runs>0:p->share.state==TCU__SHARE_GRAPH;
}
TCU__FN int tcu__plan_measures(const tcu__plan*p,tc_device_mode mode){
return mode==TC_DEVICE_CHOOSE&&p->share.state==TCU__SHARE_OPEN&&
p->count>=TCU__SHARE_LEAST&&tcu__graph_fits(p->count)&&
p->runs>=TCU__SHARE_RUN;
}
TCU__FN int tcu__seam_run_list(tcu__seam*s,void**plan,const tc_device_launch*list,
int n,tc_device_mode mode,int changed){
tcu__device*d=&s->runtime.device;
tcu__plan*p=tcu__plan_need(s,plan,n);
if(!p)return 0;
changed|=!p->runs;
if(changed)p->graphs.last=NULL;
for(int i=0;changed&&i<n;i++)
if(!tcu__plan_node(d,&p->node[i],&p->own[i],&list[i]))return 0;
if(!tcu__share_settle(d,&p->share))return 0;
int graph=tcu__plan_is_graph(p,mode),measures=tcu__plan_measures(p,mode);
p->runs++;
if(measures)return tcu__share_measure(d,&p->share,p->node,n,d->compute);
if(graph&&p->graphs.last)return tcu__graphs_again(&p->graphs,d->compute);
if(graph){
uint64_t key=tcu__plan_key(p);
return tcu__graphs_run(&p->graphs,p->node,n,&key,1,d->compute);
}
return tcu__nodes_run(d,p->node,n,d->compute);
}
TCU__FN tc_status tcu__seam_run(void*user,void**plan,const tc_device_launch*list,
int n,tc_device_mode mode,int changed){
TCU__SEAM(user,r!=NULL&&tcu__seam_run_list(s,plan,list,n,mode,changed));
}
TCU__FN void tcu__seam_tell(void*user,void*plan,char*text,size_t room){
static const char*const states[]={"launched one by one so far",
"launched one by one, as it was measured just now",
"a graph","launched one by one"};
const tcu__plan*p=(const tcu__plan*)plan;
const tcu__share*s=&p->share;
char why[100]="";
int kept=0;
(void)user;
for(int i=0;i<TCU__GRAPHS;i++)kept+=p->graphs.entry[i].exec!=NULL;
if(s->state>=TCU__SHARE_GRAPH)
tcu__print(why,sizeof why,", as launching takes the host %.1f us of %.1f us",
(double)s->host_ns*1e-3,(double)s->device_ns*1e-3);
tcu__print(text,room,"%s%s",kept?states[TCU__SHARE_GRAPH]:states[s->state],why);
size_t n=strlen(text);
if(p->graphs.built&&n<room)
tcu__print(text+n,room-n,
"; %d of at most %d executables, %llu built, %llu nodes set anew",kept,
(int)TCU__GRAPHS,(unsigned long long)p->graphs.built,
(unsigned long long)p->graphs.changed);
}
TCU__FN int tcu__seam_mark_now(tcu__device*d,void**moment){
tcu__event e=*moment?(tcu__event)*moment:tcu__moment_take(d);
*moment=e;
return e&&TCU__DO(d,"times of the device",cuEventRecord,e,d->compute);
}
TCU__FN tc_status tcu__seam_mark(void*user,void**moment){
TCU__SEAM(user,tcu__seam_mark_now(d,moment));
}
TCU__FN tc_status tcu__seam_elapsed(void*user,void*from,void*to,uint64_t*ns){
TCU__SEAM(user,tcu__moments_apart(d,(tcu__event)from,(tcu__event)to,ns));
}
TCU__FN void tcu__seam_unmark(void*user,void*moment){
tcu__seam*s=tcu__seam_of(user);
tcu__device*d=&s->runtime.device;
int inside=tcu__seam_undo_begin(s);
TCU__UNDO(d,cuEventDestroy_v2,(tcu__event)moment);
tcu__seam_undo_end(s,inside);
}
TCU__FN void tcu__seam_close(void*user){
tcu__seam*s=tcu__seam_of(user);
tc_allocator host=s->runtime.device.host;
while(s->loaded)tcu__seam_unload(s,s->loaded);
tcu__runtime_close(&s->runtime);
TCU__FREE(&host,s,1);
}
TCU__FN void tcu__seam_fill_in(tcu__seam*s,tc_device*d){
const tcu__facts*f=&s->runtime.device.facts;
memset(d,0,sizeof*d);
d->name=s->name,d->language=&tc__language_cuda;
d->identity=s->identity,d->portable=s->portable;
d->checked=tcu__env("TC_CUDA_CHECK")!=NULL;
d->processors=(uint32_t)f->sms,d->shared_bytes=(uint32_t)f->shared_block;
d->cluster_blocks=f->clusters?TCU__PORTABLE_CLUSTER:0;
d->matrix_warps=tcu__has_wgmma(f->major,f->minor)?4:0;
d->tensor_maps=d->matrix_warps&&f->tensor_maps&&
s->runtime.device.driver.call.cuTensorMapEncodeTiled&&
s->runtime.device.driver.call.cuTensorMapEncodeIm2col;
d->argument_bytes=s->runtime.device.driver.version>=TCU__MANY_ARGUMENTS
?TCU__ARGUMENT_BYTES
:TCU__ARGUMENT_BYTES_BEFORE;
d->user=s;
d->close=tcu__seam_close,d->why=tcu__seam_why;
d->take=tcu__seam_take,d->give=tcu__seam_give,d->arena=tcu__seam_arena;
d->take_host=tcu__seam_take_host,d->give_host=tcu__seam_give_host;
d->copy_in=tcu__seam_copy_in,d->copy_out=tcu__seam_copy_out;
d->copy_on=tcu__seam_copy_on,d->copy_from=tcu__seam_copy_from,
d->fill=tcu__seam_fill,d->sync=tcu__seam_sync;
d->build=tcu__seam_build,d->drop=tcu__seam_drop;
d->load=tcu__seam_load,d->unload=tcu__seam_unload,d->find=tcu__seam_find;
d->describe=tcu__seam_describe;
d->run=tcu__seam_run,d->forget=tcu__seam_forget;
d->tell=tcu__seam_tell;
d->mark=tcu__seam_mark,d->elapsed=tcu__seam_elapsed,d->unmark=tcu__seam_unmark;
}
TCU__FN void tcu__seam_names(tcu__seam*s,int ordinal){
const tcu__facts*f=&s->runtime.device.facts;
char options[32];
tcu__print(s->name,sizeof s->name,"cuda:%d",ordinal);
tcu__print(options,sizeof options,"%s%s",tcu__seam_options[0],
tcu__seam_options_used()>1?" -lineinfo":"");
tcu__print(s->identity,sizeof s->identity,"cuda %d.%d %s",f->major,f->minor,
options);
tcu__print(s->portable,sizeof s->portable,"cuda ptx %s",options);
s->runtime.device.careful=tcu__env("TC_CUDA_SYNC")!=NULL;
s->runtime.device.branches=tcu__env("TC_CUDA_GRAPH_BRANCHES")!=NULL;
}
TCU__FN tc_status tcu__language_add(tc_ctx*tc){
tc_status outer=tc__unit_begin(tc);
return tc__unit_end(tc,outer,tc__language_add(tc,&tc__language_cuda));
}
TCDEF tc_status tc_cuda_open(tc_ctx*tc,int ordinal){
tc_device device;
char name[24];
if(!tc)return TC_E_NULL;
tcu__print(name,sizeof name,"cuda:%d",ordinal);
if(tc_registered_device(tc,name))return TC_OK;
tc_status status=tcu__language_add(tc);
if(status)return status;
tc_allocator host=tc_allocator_of(tc);
tcu__seam*s=TCU__NEW(&host,tcu__seam);
if(!s)return tc_fail(tc,TC_E_NOMEM,"tc_cuda_open: no memory");
if(!tcu__runtime_open(&s->runtime,&host,ordinal)){
status=s->runtime.device.trouble.status;
char why[TCU__TEXT+32];
tcu__print(why,sizeof why,"tc_cuda_open: %s",s->runtime.device.trouble.text);
TCU__FREE(&host,s,1);
return tc_fail(tc,status?status:TC_E_BACKEND,why);
}
tcu__seam_names(s,ordinal);
tcu__seam_fill_in(s,&device);
status=tc_register_device(tc,&device);
if(status)tcu__seam_close(s);
return status;
}
TCU__FN tcu__seam*tcu__seam_in(const tc_ctx*tc,int ordinal){
char name[24];
tcu__print(name,sizeof name,"cuda:%d",ordinal);
const tc_device*d=tc_registered_device(tc,name);
return d&&d->close==tcu__seam_close?tcu__seam_of(d->user):NULL;
}
TCDEF void*tc_cuda_stream(const tc_ctx*tc,int ordinal){
tcu__seam*s=tcu__seam_in(tc,ordinal);
return s?(void*)s->runtime.device.compute:NULL;
}
TCDEF tc_tensor tc_wrap_cuda(tc_ctx*tc,int ordinal,void*address,tc_dims dims,
tc_dtype dtype){
char name[24];
tcu__print(name,sizeof name,"cuda:%d",ordinal);
return tc_wrap_device_at(tc,name,address,dims,dtype,NULL,0);
}
TCDEF int tc_cuda_memory(const tc_ctx*tc,int ordinal,char*text,size_t room){
tcu__seam*s=tcu__seam_in(tc,ordinal);
tcu__memory m;
if(text&&room)text[0]=0;
if(!s||!text||!room)return 0;
int entered=tcu__seam_begin(s);
int ok=entered&&tcu__memory_ask(&s->runtime.device,&m);
if(ok)tcu__memory_put(&m,text,room);
return tcu__seam_end(s,entered,ok)==TC_OK;
}

#endif  // TC__COUNT
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
