// CUDA C++ as g++ and clang++ compile it: nvrtc_fake.c puts this before a kernel's text. A
// thread is a fiber of cuda_emulate.c; here is what it calls. No standard header is included,
// for kernels have none and compiling is to be quick.
//
// emu_NAME at the end is the host version of the helper tc_NAME, whose body is PTX: the table
// in nvrtc_fake.c has the names.
#ifndef CUDA_EMULATE_H
#define CUDA_EMULATE_H
#include "cuda_emulate_image.h"

static emu_thread *emu_self; // the running thread; the runtime sets it
static const emu_calls *emu;
static int emu_at; // line of the call of a helper

#define __global__
#define __device__
#define __host__
#define __constant__
#define __forceinline__     inline
#define __noinline__        __attribute__((noinline))
#define __align__(n)        __attribute__((aligned(n)))
#define __builtin_assume(x) ((void)0) // gcc has none
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __grid_constant__
#define threadIdx    (emu_self->thread)
#define blockIdx     (emu_self->block)
#define blockDim     (emu_self->threads)
#define gridDim      (emu_self->blocks)
#define EMU_FN       static inline
#define EMU_HERE     int line = __builtin_LINE() // the caller's, as last parameter
#define CUDART_INF_F __builtin_inff()
#define CUDART_NAN_F __builtin_nanf("")

enum { warpSize = EMU_WARP };
typedef emu_dim uint3;
typedef emu_dim dim3;

// ---- kernels: called with pointers to parameters, as the driver has them

template <size_t... I> struct emu_indices {};
template <size_t N, size_t... I> struct emu_count : emu_count<N - 1, N - 1, I...> {};
template <size_t... I> struct emu_count<0, I...> { typedef emu_indices<I...> type; };

template <auto F> struct emu_entry;
template <class... A, void (*F)(A...)> struct emu_entry<F> {
    static constexpr size_t size[] = {sizeof(A)..., 0};
    static constexpr int params = sizeof...(A);
    template <size_t... I> static void spread(void **p, emu_indices<I...>) {
        F(*(A *)p[I]...);
    }
    static void call(void **p) { spread(p, typename emu_count<sizeof...(A)>::type()); }
};

// ---- shared memory: nvrtc_fake.c makes calls of declarations

template <class T>
EMU_FN T &emu_shared(int *slot, const char *name, size_t align = alignof(T)) {
    return *(T *)emu->shared(slot, sizeof(T), align, name);
}

EMU_FN void *emu_dynamic() { return emu_self->dynamic; }

// `extern __shared__ T name[]` outside of functions.
template <class T> struct emu_dynamic_array {
    operator T *() const { return (T *)emu_dynamic(); }
};

// ---- what -fsanitize finds, without its library: an access that is not aligned, an index
// beyond an array, and what a GPU defines and a CPU does not

struct emu_source {
    const char *file;
    unsigned line, column;
};
#define EMU_CHECK extern "C" __attribute__((visibility("hidden"), used)) void

EMU_CHECK __ubsan_handle_type_mismatch_v1_abort(emu_source *s, void *at) {
    emu->fail(EMU_ALIGNMENT, (int)s->line, "an access that is not aligned", at);
}
EMU_CHECK __ubsan_handle_out_of_bounds_abort(emu_source *s, void *) {
    emu->fail(EMU_ADDRESS, (int)s->line, "an index beyond an array", nullptr);
}
EMU_CHECK __ubsan_handle_float_cast_overflow_abort(emu_source *s, void *) {
    emu->fail(
        EMU_FAILED, (int)s->line,
        "a cast of a float that its integer has no room for: a GPU saturates, which the "
        "emulator does in tc_cast_* only",
        nullptr);
}
EMU_CHECK __ubsan_handle_shift_out_of_bounds_abort(emu_source *s, void *, void *) {
    emu->fail(EMU_FAILED, (int)s->line, "a shift by as many bits as there are", nullptr);
}

// ---- barriers

EMU_FN void __syncthreads(EMU_HERE) { emu->barrier(0, 0, 1, 0, line); }
EMU_FN int __syncthreads_count(int p, EMU_HERE) {
    return emu->barrier(0, 0, 1, p != 0, line);
}
EMU_FN int __syncthreads_or(int p, EMU_HERE) {
    return emu->barrier(0, 0, 1, p != 0, line) != 0;
}
EMU_FN int __syncthreads_and(int p, EMU_HERE) {
    return emu->barrier(0, 0, 1, p == 0, line) == 0;
}
EMU_FN void __threadfence() {}
EMU_FN void __threadfence_block() {}
EMU_FN void __threadfence_system() {}
EMU_FN void __nanosleep(unsigned, EMU_HERE) { emu->yield(line); }
EMU_FN void __trap(EMU_HERE) { emu->fail(EMU_FAILED, line, "a trap", nullptr); }

// ---- bits

template <class T, class F> EMU_FN T emu_bits(F from) {
    T to;
    static_assert(sizeof(T) == sizeof(F), "bits of one size");
    __builtin_memcpy(&to, &from, sizeof to);
    return to;
}

EMU_FN float __uint_as_float(unsigned x) { return emu_bits<float>(x); }
EMU_FN float __int_as_float(int x) { return emu_bits<float>(x); }
EMU_FN unsigned __float_as_uint(float x) { return emu_bits<unsigned>(x); }
EMU_FN int __float_as_int(float x) { return emu_bits<int>(x); }
EMU_FN long long __double_as_longlong(double x) { return emu_bits<long long>(x); }
EMU_FN double __longlong_as_double(long long x) { return emu_bits<double>(x); }
EMU_FN int __double2hiint(double x) { return (int)(emu_bits<long long>(x) >> 32); }
EMU_FN int __double2loint(double x) { return (int)emu_bits<long long>(x); }
EMU_FN double __hiloint2double(int high, int low) {
    return emu_bits<double>((unsigned long long)(unsigned)high << 32 | (unsigned)low);
}

// Without the builtin, which is a call of the compiler's library on some machines.
EMU_FN int __popcll(unsigned long long x) {
    int n = 0;
    for (; x; x &= x - 1) n++;
    return n;
}
EMU_FN int __popc(unsigned x) { return __popcll(x); }
EMU_FN int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
EMU_FN int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
EMU_FN int __ffs(int x) { return __builtin_ffs(x); }
EMU_FN int __ffsll(long long x) { return __builtin_ffsll(x); }
EMU_FN unsigned long long __brevll(unsigned long long x) {
    unsigned long long r = 0;
    for (int i = 0; i < 64; i++) r |= (x >> i & 1) << (63 - i);
    return r;
}
EMU_FN unsigned __brev(unsigned x) { return (unsigned)(__brevll(x) >> 32); }
EMU_FN unsigned __byte_perm(unsigned a, unsigned b, unsigned selector) {
    unsigned long long both = (unsigned long long)b << 32 | a;
    unsigned r = 0;
    for (int i = 0; i < 4; i++) {
        unsigned s = selector >> 4 * i, byte = (unsigned)(both >> 8 * (s & 7)) & 255;
        r |= (s & 8 ? byte & 128 ? 255u : 0u : byte) << 8 * i;
    }
    return r;
}
EMU_FN unsigned __funnelshift_l(unsigned low, unsigned high, unsigned n) {
    return (unsigned)((((unsigned long long)high << 32 | low) << (n & 31)) >> 32);
}
EMU_FN unsigned __funnelshift_r(unsigned low, unsigned high, unsigned n) {
    return (unsigned)(((unsigned long long)high << 32 | low) >> (n & 31));
}

EMU_FN unsigned __umulhi(unsigned a, unsigned b) {
    return (unsigned)((unsigned long long)a * b >> 32);
}
EMU_FN int __mulhi(int a, int b) { return (int)((long long)a * b >> 32); }
EMU_FN unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return (unsigned long long)((unsigned __int128)a * b >> 64);
}
EMU_FN long long __mul64hi(long long a, long long b) {
    return (long long)((__int128)a * b >> 64);
}

// ---- arithmetic

#define EMU_MATH1(name)                                                                    \
    extern "C" double name(double);                                                        \
    extern "C" float name##f(float);
#define EMU_MATH2(name)                                                                    \
    extern "C" double name(double, double);                                                \
    extern "C" float name##f(float, float);
// clang-format off
EMU_MATH1(exp) EMU_MATH1(exp2) EMU_MATH1(expm1) EMU_MATH1(exp10)
EMU_MATH1(log) EMU_MATH1(log2) EMU_MATH1(log10) EMU_MATH1(log1p)
EMU_MATH1(sin) EMU_MATH1(cos) EMU_MATH1(tan) EMU_MATH1(asin) EMU_MATH1(acos) EMU_MATH1(atan)
EMU_MATH1(sinh) EMU_MATH1(cosh) EMU_MATH1(tanh)
EMU_MATH1(asinh) EMU_MATH1(acosh) EMU_MATH1(atanh)
EMU_MATH1(erf) EMU_MATH1(erfc) EMU_MATH1(lgamma) EMU_MATH1(tgamma)
EMU_MATH1(floor) EMU_MATH1(ceil) EMU_MATH1(trunc) EMU_MATH1(round) EMU_MATH1(rint)
EMU_MATH1(nearbyint) EMU_MATH1(fabs) EMU_MATH1(sqrt) EMU_MATH1(cbrt)
EMU_MATH2(pow) EMU_MATH2(atan2) EMU_MATH2(fmod) EMU_MATH2(remainder) EMU_MATH2(hypot)
EMU_MATH2(fmax) EMU_MATH2(fmin) EMU_MATH2(fdim) EMU_MATH2(copysign) EMU_MATH2(nextafter)
    // clang-format on
    extern "C" double fma(double, double, double);
extern "C" float fmaf(float, float, float);
extern "C" double ldexp(double, int);
extern "C" float ldexpf(float, int);
extern "C" void sincos(double, double *, double *);
extern "C" void sincosf(float, float *, float *);
extern "C" int printf(const char *, ...);

EMU_FN float rsqrtf(float x) { return 1.0f / sqrtf(x); }
EMU_FN double rsqrt(double x) { return 1.0 / sqrt(x); }
// cos(pi x - turn pi / 2). CUDA's are within 2 units of the last place, beside zeros as well: what is left
// of x beyond whole quarters is exact, and small there, so its product with pi is as near as that.
EMU_FN double emu_cos_of_quarters(double x, int turn) {
    double quarters = rint(2 * x), r = (x - quarters / 2) * 3.14159265358979324;
    double at = quarters - turn;
    at -= 4 * floor(at / 4);
    return at == 1 ? -sin(r) : at == 2 ? -cos(r) : at == 3 ? sin(r) : cos(r);
}
EMU_FN double sinpi(double x) { return emu_cos_of_quarters(x, 1); }
EMU_FN double cospi(double x) { return emu_cos_of_quarters(x, 0); }
EMU_FN float sinpif(float x) { return (float)sinpi((double)x); }
EMU_FN float cospif(float x) { return (float)cospi((double)x); }
EMU_FN float normcdff(float x) { return 0.5f * erfcf(x * -0.70710678118654752f); }
EMU_FN float __expf(float x) { return expf(x); }
EMU_FN float __exp10f(float x) { return exp10f(x); }
EMU_FN float __logf(float x) { return logf(x); }
EMU_FN float __log2f(float x) { return log2f(x); }
EMU_FN float __log10f(float x) { return log10f(x); }
EMU_FN float __sinf(float x) { return sinf(x); }
EMU_FN float __cosf(float x) { return cosf(x); }
EMU_FN float __tanf(float x) { return tanf(x); }
EMU_FN float __powf(float x, float y) { return powf(x, y); }
EMU_FN float __fdividef(float x, float y) { return x / y; }
EMU_FN float __saturatef(float x) { return x > 0 ? x < 1 ? x : 1.0f : 0.0f; }

EMU_FN float __fadd_rn(float a, float b) { return a + b; }
EMU_FN float __fsub_rn(float a, float b) { return a - b; }
EMU_FN float __fmul_rn(float a, float b) { return a * b; }
EMU_FN float __fdiv_rn(float a, float b) { return a / b; }
EMU_FN float __frcp_rn(float a) { return 1.0f / a; }
EMU_FN float __fsqrt_rn(float a) { return sqrtf(a); }
EMU_FN float __frsqrt_rn(float a) { return (float)(1.0 / sqrt((double)a)); }
EMU_FN float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
EMU_FN double __dadd_rn(double a, double b) { return a + b; }
EMU_FN double __dsub_rn(double a, double b) { return a - b; }
EMU_FN double __dmul_rn(double a, double b) { return a * b; }
EMU_FN double __ddiv_rn(double a, double b) { return a / b; }
EMU_FN double __dsqrt_rn(double a) { return sqrt(a); }
EMU_FN double __fma_rn(double a, double b, double c) { return fma(a, b, c); }

// A float to an integer as the GPU does it: towards 0, to the nearest there is; NaN gives 0.
template <class T, class F> EMU_FN T emu_saturated(F x) {
    constexpr T most = (T)(T(-1) < T(0) ? ~0ull >> (65 - 8 * sizeof(T)) : ~0ull);
    constexpr T least = (T)(T(-1) < T(0) ? -1 - most : 0);
    if (x != x) return 0;
    if (x >= (F)most) return most; // where most is rounded, it is up
    return x <= (F)least ? least : (T)x;
}
#define EMU_CONVERT(name, T, F, f)                                                         \
    EMU_FN T __##name##_rz(F x) { return emu_saturated<T>(x); }                            \
    EMU_FN T __##name##_rn(F x) { return emu_saturated<T>(rint##f(x)); }                   \
    EMU_FN T __##name##_rd(F x) { return emu_saturated<T>(floor##f(x)); }                  \
    EMU_FN T __##name##_ru(F x) { return emu_saturated<T>(ceil##f(x)); }
EMU_CONVERT(float2int, int, float, f)
EMU_CONVERT(float2uint, unsigned, float, f)
EMU_CONVERT(float2ll, long long, float, f)
EMU_CONVERT(float2ull, unsigned long long, float, f)
EMU_CONVERT(double2int, int, double, )
EMU_CONVERT(double2uint, unsigned, double, )
EMU_CONVERT(double2ll, long long, double, )
EMU_CONVERT(double2ull, unsigned long long, double, )
EMU_FN float __int2float_rn(int x) { return (float)x; }
EMU_FN float __uint2float_rn(unsigned x) { return (float)x; }
EMU_FN float __ll2float_rn(long long x) { return (float)x; }
EMU_FN float __double2float_rn(double x) { return (float)x; }

#define EMU_ORDER(T)                                                                       \
    EMU_FN T max(T a, T b) { return a > b ? a : b; }                                       \
    EMU_FN T min(T a, T b) { return a < b ? a : b; }
EMU_ORDER(int)
EMU_ORDER(unsigned)
EMU_ORDER(long)
EMU_ORDER(unsigned long)
EMU_ORDER(long long)
EMU_ORDER(unsigned long long)
EMU_FN float max(float a, float b) { return fmaxf(a, b); }
EMU_FN float min(float a, float b) { return fminf(a, b); }
EMU_FN double max(double a, double b) { return fmax(a, b); }
EMU_FN double min(double a, double b) { return fmin(a, b); }
EMU_FN int abs(int a) { return a < 0 ? -a : a; }
EMU_FN long long llabs(long long a) { return a < 0 ? -a : a; }
template <class T> EMU_FN bool isnan(T x) { return x != x; }
template <class T> EMU_FN bool isinf(T x) { return __builtin_isinf(x); }
template <class T> EMU_FN bool isfinite(T x) { return __builtin_isfinite(x); }
template <class T> EMU_FN bool signbit(T x) { return __builtin_signbit(x); }

// ---- loads and stores with hints

template <class T> EMU_FN T __ldg(const T *p) { return *p; }
template <class T> EMU_FN T __ldcg(const T *p) { return *p; }
template <class T> EMU_FN T __ldca(const T *p) { return *p; }
template <class T> EMU_FN T __ldcs(const T *p) { return *p; }
template <class T> EMU_FN T __ldlu(const T *p) { return *p; }
template <class T> EMU_FN T __ldcv(const T *p) { return *p; }
template <class T> EMU_FN void __stcg(T *p, T v) { *p = v; }
template <class T> EMU_FN void __stcs(T *p, T v) { *p = v; }
template <class T> EMU_FN void __stwb(T *p, T v) { *p = v; }
template <class T> EMU_FN void __stwt(T *p, T v) { *p = v; }

#define EMU_VECTOR(T, name, a2, a4)                                                        \
    struct name##1 {                                                                       \
        T x;                                                                               \
    };                                                                                     \
    struct __align__(a2) name##2 {                                                         \
        T x, y;                                                                            \
    };                                                                                     \
    struct name##3 {                                                                       \
        T x, y, z;                                                                         \
    };                                                                                     \
    struct __align__(a4) name##4 {                                                         \
        T x, y, z, w;                                                                      \
    };                                                                                     \
    EMU_FN name##2 make_##name##2(T x, T y) { return {x, y}; }                             \
    EMU_FN name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
EMU_VECTOR(float, float, 8, 16)
EMU_VECTOR(double, double, 16, 16)
EMU_VECTOR(signed char, char, 2, 4)
EMU_VECTOR(unsigned char, uchar, 2, 4)
EMU_VECTOR(short, short, 4, 8)
EMU_VECTOR(unsigned short, ushort, 4, 8)
EMU_VECTOR(int, int, 8, 16)
EMU_VECTOR(long long, longlong, 16, 16)
EMU_VECTOR(unsigned long long, ulonglong, 16, 16)
struct __align__(8) uint2 {
    unsigned x, y;
};
struct __align__(16) uint4 {
    unsigned x, y, z, w;
};
EMU_FN uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
EMU_FN uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) {
    return {x, y, z, w};
}

// ---- atomics: threads change only where they wait, so each is one by itself

template <class T, class F> EMU_FN T emu_update(T *p, F f) {
    T old = *p;
    *p = (T)f(old);
    return old;
}
#define EMU_ATOMIC(name, T, ...)                                                           \
    EMU_FN T name(T *p, T v) {                                                             \
        return emu_update(p, [&](T old) { return __VA_ARGS__; });                          \
    }                                                                                      \
    EMU_FN T name##_block(T *p, T v) { return name(p, v); }
#define EMU_ATOMICS(T)                                                                     \
    EMU_ATOMIC(atomicMax, T, old > v ? old : v)                                            \
    EMU_ATOMIC(atomicMin, T, old < v ? old : v)                                            \
    EMU_ATOMIC(atomicAnd, T, old &v)                                                       \
    EMU_ATOMIC(atomicOr, T, old | v)                                                       \
    EMU_ATOMIC(atomicXor, T, old ^ v)                                                      \
    EMU_ATOMIC(atomicExch, T, ((void)old, v))                                              \
    EMU_FN T atomicCAS(T *p, T is, T v) {                                                  \
        return emu_update(p, [&](T old) { return old == is ? v : old; });                  \
    }
EMU_ATOMICS(int)
EMU_ATOMICS(unsigned)
EMU_ATOMICS(unsigned long long)
EMU_ATOMIC(atomicMax, long long, old > v ? old : v)
EMU_ATOMIC(atomicMin, long long, old < v ? old : v)
EMU_ATOMIC(atomicAdd, int, (int)((unsigned)old + (unsigned)v))
EMU_ATOMIC(atomicAdd, unsigned, old + v)
EMU_ATOMIC(atomicAdd, unsigned long long, old + v)
EMU_ATOMIC(atomicAdd, float, old + v)
EMU_ATOMIC(atomicAdd, double, old + v)
EMU_ATOMIC(atomicExch, float, ((void)old, v))
EMU_ATOMIC(atomicSub, int, (int)((unsigned)old - (unsigned)v))
EMU_ATOMIC(atomicSub, unsigned, old - v)
EMU_ATOMIC(atomicInc, unsigned, old >= v ? 0 : old + 1)
EMU_ATOMIC(atomicDec, unsigned, old == 0 || old > v ? v : old - 1)

// ---- warps

// One lane's part in an exchange: where it reads from, and what it gets.
struct emu_lane {
    unsigned long long value, result;
    int from; // lane
};

EMU_FN void emu_exchange(void *const *mine, unsigned present) {
    for (int l = 0; l < EMU_WARP; l++) {
        emu_lane *to = (emu_lane *)mine[l];
        if (!(present >> l & 1)) continue;
        to->result = ~0ull; // of a lane that is not there: poison
        if (present >> to->from & 1) to->result = ((emu_lane *)mine[to->from])->value;
    }
}

template <class T> EMU_FN T emu_read(unsigned mask, T v, int from, int line) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "shuffles are of 4 or 8 bytes");
    emu_lane lane = {0, 0, from};
    __builtin_memcpy(&lane.value, &v, sizeof v);
    emu->meet(mask, &lane, emu_exchange, "a shuffle", line);
    __builtin_memcpy(&v, &lane.result, sizeof v);
    return v;
}

// The lanes in a segment of `width` are [first, last].
EMU_FN int emu_first(int width) { return (int)emu_self->lane & ~(width - 1); }
EMU_FN int emu_last(int width) { return (int)emu_self->lane | (width - 1); }

template <class T>
EMU_FN T __shfl_sync(unsigned mask, T v, int from, int width = 32, EMU_HERE) {
    return emu_read(mask, v, emu_first(width) | (from & (width - 1)), line);
}
template <class T>
EMU_FN T __shfl_up_sync(unsigned mask, T v, unsigned by, int width = 32, EMU_HERE) {
    int from = (int)emu_self->lane - (int)by;
    return emu_read(mask, v, from < emu_first(width) ? (int)emu_self->lane : from, line);
}
template <class T>
EMU_FN T __shfl_down_sync(unsigned mask, T v, unsigned by, int width = 32, EMU_HERE) {
    int from = (int)emu_self->lane + (int)by;
    return emu_read(mask, v, from > emu_last(width) ? (int)emu_self->lane : from, line);
}
template <class T>
EMU_FN T __shfl_xor_sync(unsigned mask, T v, int by, int width = 32, EMU_HERE) {
    int from = (int)emu_self->lane ^ by;
    return emu_read(mask, v, from > emu_last(width) ? (int)emu_self->lane : from, line);
}

// All lanes' values to each lane.
struct emu_votes {
    unsigned long long value, all[EMU_WARP];
    unsigned present;
};

EMU_FN void emu_share(void *const *mine, unsigned present) {
    for (int l = 0; l < EMU_WARP; l++) {
        if (!(present >> l & 1)) continue;
        emu_votes *to = (emu_votes *)mine[l];
        to->present = present;
        for (int k = 0; k < EMU_WARP; k++)
            to->all[k] = present >> k & 1 ? ((emu_votes *)mine[k])->value : 0;
    }
}

EMU_FN unsigned __ballot_sync(unsigned mask, int p, EMU_HERE) {
    emu_votes v;
    unsigned r = 0;
    v.value = p != 0;
    emu->meet(mask, &v, emu_share, "a vote", line);
    for (int l = 0; l < EMU_WARP; l++) r |= (unsigned)v.all[l] << l;
    return r;
}
EMU_FN int __any_sync(unsigned mask, int p, EMU_HERE) {
    return __ballot_sync(mask, p, line) != 0;
}
EMU_FN int __all_sync(unsigned mask, int p, EMU_HERE) {
    return __ballot_sync(mask, !p, line) == 0;
}
template <class T> EMU_FN unsigned __match_any_sync(unsigned mask, T x, EMU_HERE) {
    emu_votes v;
    unsigned r = 0;
    v.value = 0;
    __builtin_memcpy(&v.value, &x, sizeof x);
    emu->meet(mask, &v, emu_share, "a match", line);
    for (int l = 0; l < EMU_WARP; l++)
        r |= (unsigned)((v.present >> l & 1) && v.all[l] == v.value) << l;
    return r;
}
EMU_FN void emu_nothing(void *const *, unsigned) {}
EMU_FN void __syncwarp(unsigned mask = ~0u, EMU_HERE) {
    emu->meet(mask, nullptr, emu_nothing, "__syncwarp", line);
}

template <class T, class F> EMU_FN T emu_reduce(unsigned mask, T x, F f, int line) {
    emu_votes v;
    v.value = (unsigned long long)x;
    emu->meet(mask, &v, emu_share, "a reduction", line);
    for (int l = 0; l < EMU_WARP; l++)
        if ((v.present >> l & 1) && l != (int)emu_self->lane) x = (T)f(x, (T)v.all[l]);
    return x;
}
#define EMU_REDUCE(name, T, ...)                                                           \
    EMU_FN T name(unsigned mask, T x, EMU_HERE) {                                          \
        return emu_reduce(                                                                 \
            mask, x, [](T a, T b) { return __VA_ARGS__; }, line);                          \
    }
EMU_REDUCE(__reduce_add_sync, int, (int)((unsigned)a + (unsigned)b))
EMU_REDUCE(__reduce_add_sync, unsigned, a + b)
EMU_REDUCE(__reduce_max_sync, int, a > b ? a : b)
EMU_REDUCE(__reduce_max_sync, unsigned, a > b ? a : b)
EMU_REDUCE(__reduce_min_sync, int, a < b ? a : b)
EMU_REDUCE(__reduce_min_sync, unsigned, a < b ? a : b)
EMU_REDUCE(__reduce_and_sync, unsigned, a &b)
EMU_REDUCE(__reduce_or_sync, unsigned, a | b)
EMU_REDUCE(__reduce_xor_sync, unsigned, a ^ b)

// ---- helpers: halves

EMU_FN float emu_of_f16(unsigned short h) {
    unsigned e = h >> 10 & 31, m = h & 1023, sign = (h & 0x8000u) << 16;
    if (!e) return emu_bits<float>(emu_bits<unsigned>((float)m * 0x1p-24f) | sign);
    return emu_bits<float>(sign | (e == 31 ? 255 : e + 112) << 23 | m << 13);
}

// To the nearest, of two the even one; NaN is 0x7fff.
EMU_FN unsigned short emu_bits_f16(float f) {
    unsigned u = emu_bits<unsigned>(f), a = u & 0x7fffffff, sign = u >> 16 & 0x8000, h;
    if (a > 0x7f800000) return 0x7fff;
    if (a < 0x38800000) { // below the least normal one: counted in the last place
        h = emu_bits<unsigned>(emu_bits<float>(a) * 0x1p24f + 0x1p23f) & 0x7fffff;
    } else {
        h = (a + 0xfff + (a >> 13 & 1) - 0x38000000) >> 13;
        if (h > 0x7c00) h = 0x7c00;
    }
    return (unsigned short)(sign | h);
}

EMU_FN float emu_of_bf16(unsigned short h) { return emu_bits<float>((unsigned)h << 16); }

EMU_FN unsigned short emu_bits_bf16(float f) {
    unsigned u = emu_bits<unsigned>(f);
    if ((u & 0x7fffffff) > 0x7f800000) return 0x7fff;
    return (unsigned short)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

// Two of them, the low one in the low half.
EMU_FN unsigned emu_pack_f16(float low, float high) {
    return emu_bits_f16(low) | (unsigned)emu_bits_f16(high) << 16;
}
EMU_FN unsigned emu_pack_bf16(float low, float high) {
    return emu_bits_bf16(low) | (unsigned)emu_bits_bf16(high) << 16;
}

// ---- helpers: f8, by their definition

// e4m3 has 3 digits behind the point and no infinity, e5m2 has 2.
EMU_FN float emu_of_f8(int digits, unsigned b) {
    int bias = digits == 3 ? 7 : 15, e = (int)(b >> digits & (digits == 3 ? 15 : 31));
    int m = (int)(b & ((1u << digits) - 1)), i = e ? e : 1;
    float unit = 1, x = (float)(e ? m + (1 << digits) : m);
    for (int k = bias + digits - i; k > 0; k--) unit *= 0.5f;
    for (int k = i - bias - digits; k > 0; k--) unit *= 2;
    if (digits == 3 && (b & 127) == 127) x = emu_bits<float>(0x7fffffffu);
    if (digits == 2 && e == 31) x = emu_bits<float>(m ? 0x7fffffffu : 0x7f800000u);
    return b & 128 ? -(x * unit) : x * unit;
}

// The nearest number, of two the even one; what is beyond the largest becomes that (satfinite), NaN 0x7f.
EMU_FN unsigned emu_bits_f8(int digits, float f) {
    unsigned most = digits == 3 ? 0x7e : 0x7b, best = 0;
    float a = emu_bits<float>(emu_bits<unsigned>(f) & 0x7fffffffu);
    if (f != f) return 0x7f;
    for (unsigned b = 0; b <= most; b++) {
        double now = (double)emu_of_f8(digits, b) - (double)a,
               then = (double)emu_of_f8(digits, best) - (double)a;
        now = now < 0 ? -now : now, then = then < 0 ? -then : then;
        if (now < then || (now == then && b % 2 == 0)) best = b;
    }
    if (a > emu_of_f8(digits, most)) best = most;
    return best | (emu_bits<unsigned>(f) >> 24 & 128);
}

EMU_FN unsigned short emu_cvt_f8e4m3(float low, float high) {
    return (unsigned short)(emu_bits_f8(3, low) | emu_bits_f8(3, high) << 8);
}
EMU_FN unsigned short emu_cvt_f8e5m2(float low, float high) {
    return (unsigned short)(emu_bits_f8(2, low) | emu_bits_f8(2, high) << 8);
}
EMU_FN unsigned emu_wide_f8e4m3(unsigned short two) {
    return emu_pack_f16(emu_of_f8(3, two & 255u), emu_of_f8(3, (unsigned)two >> 8));
}

// To the nearest tf32, of two the larger one (cvt.rna).
EMU_FN unsigned emu_bits_tf32(float f) {
    unsigned u = emu_bits<unsigned>(f);
    return (u & 0x7f800000) == 0x7f800000 ? u : (u + 0x1000) & ~0x1fffu;
}

// ---- helpers: approximations, which are better here than on a GPU

EMU_FN float emu_larger_f32(float x, float y) {
    return x != x ? x : y != y ? y : x > y ? x : y;
}
EMU_FN float emu_smaller_f32(float x, float y) {
    return x != x ? x : y != y ? y : x < y ? x : y;
}
EMU_FN float emu_rcp_half(float x) { return 1.0f / x; }
EMU_FN float emu_rcp_flush(float x) { return 1.0f / x; }
EMU_FN float emu_rcp(float x) { return 1.0f / x; }
EMU_FN float emu_ex2(float x) { return exp2f(x); }
EMU_FN float emu_lg2(float x) { return log2f(x); }
EMU_FN float emu_tanh_bf16(float x) { return tanhf(x); }
EMU_FN float emu_div_half(float a, float b) { return a / b; }
EMU_FN float emu_sqrt_half(float x) { return sqrtf(x); }
EMU_FN float emu_rsqrt_half(float x) { return rsqrtf(x); }

// ---- helpers: casts of which a GPU and C++ say different things

EMU_FN int emu_cast_f32_i32(float x) { return emu_saturated<int>(x); }
EMU_FN int emu_cast_f64_i32(double x) { return emu_saturated<int>(x); }
EMU_FN long long emu_cast_f32_i64(float x) { return emu_saturated<long long>(x); }
EMU_FN long long emu_cast_f64_i64(double x) { return emu_saturated<long long>(x); }

// ---- helpers: memory with hints, order and waiting

// Vectors are moved by 16 bytes at a time, and need no more alignment than that.
EMU_FN void emu_aligned(const void *p, size_t size) {
    if ((size_t)p % (size < 16 ? size : 16))
        emu->fail(EMU_ALIGNMENT, emu_at, "an access that is not aligned", p);
}
template <class P> EMU_FN P emu_load_words(const P *p) {
    P v;
    emu_aligned(p, sizeof(P));
    __builtin_memcpy((void *)&v, (const void *)p, sizeof(P));
    return v;
}
template <class P> EMU_FN P emu_load_words_once(const P *p) { return emu_load_words(p); }
template <class P> EMU_FN void emu_store(P *p, const P &v) {
    emu_aligned(p, sizeof(P));
    __builtin_memcpy((void *)p, (const void *)&v, sizeof(P));
}

// Loops that wait for memory to change load so: other threads go on meanwhile.
template <class T> EMU_FN T emu_load_acquire(const T *p) {
    emu->yield(emu_at);
    return *(const volatile T *)p;
}
template <class T> EMU_FN void emu_store_release(T *p, T v) { *(volatile T *)p = v; }
template <class T> EMU_FN T emu_add_release(T *p, T v) { return atomicAdd(p, v); }

EMU_FN void emu_grid_wait() {} // kernels do not overlap
EMU_FN void emu_grid_launch() {}

EMU_FN void emu_bar_sync(int id, int threads) { emu->barrier(id, threads, 1, 0, emu_at); }
EMU_FN int emu_bar_any(int id, int threads, int says) {
    return emu->barrier(id, threads, 1, says != 0, emu_at) != 0;
}
EMU_FN void emu_bar_arrive(int id, int threads) { emu->barrier(id, threads, 0, 0, emu_at); }

// ---- helpers: clusters

EMU_FN unsigned emu_cluster_rank() { return emu_self->rank; }
EMU_FN unsigned emu_cluster_size() { return emu_self->ranks; }
EMU_FN void emu_cluster_arrive() { emu->cluster_arrive(emu_at); }
EMU_FN void emu_cluster_begun() { emu->cluster_arrive(emu_at); }
EMU_FN void emu_cluster_wait() { emu->cluster_wait(emu_at); }
EMU_FN void emu_cluster_sync() {
    emu->cluster_arrive(emu_at);
    emu->cluster_wait(emu_at);
}
// The same variable of another block: its address, its value.
template <class T> EMU_FN T *emu_cluster_map(T *p, unsigned rank) {
    return (T *)emu->mapped(p, rank, emu_at);
}
template <class T> EMU_FN T emu_cluster_load(const T *p, unsigned rank) {
    return *emu_cluster_map(p, rank);
}
template <class T> EMU_FN void emu_cluster_store(T *p, unsigned rank, T v) {
    *emu_cluster_map(p, rank) = v;
}

// ---- helpers: copies to shared memory, which happen when they are waited for

EMU_FN void emu_copy_async16(void *to, const void *from) {
    emu->copy(to, from, 16, 0, emu_at);
}
EMU_FN void emu_copy_async8(void *to, const void *from) {
    emu->copy(to, from, 8, 0, emu_at);
}
EMU_FN void emu_copy_async4(void *to, const void *from) {
    emu->copy(to, from, 4, 0, emu_at);
}
// So many bytes, and zeroes.
EMU_FN void emu_copy_async16_of(void *to, const void *from, int bytes) {
    emu->copy(to, from, (unsigned)bytes, 16 - (unsigned)bytes, emu_at);
}
// Zeroes, unless ok.
EMU_FN void emu_copy_async8_if(void *to, const void *from, int ok) {
    emu->copy(to, from, ok ? 8 : 0, ok ? 0 : 8, emu_at);
}
EMU_FN void emu_copy_async4_if(void *to, const void *from, int ok) {
    emu->copy(to, from, ok ? 4 : 0, ok ? 0 : 4, emu_at);
}
EMU_FN void emu_reads(const void *) {}
EMU_FN void emu_begin() {}
EMU_FN void emu_begin_beside(long long) {}
EMU_FN void emu_follow(long long) {}
template <class T> EMU_FN void emu_forget(int, T &) {}
EMU_FN void emu_copy_commit() { emu->copy_commit(); }
EMU_FN void emu_copy_wait(int groups) { emu->copy_wait(groups); }
EMU_FN void emu_copy_wait_all() { emu->copy_wait(-1); }

// ---- helpers: semaphores, and boxes of tensors that come to shared memory by themselves

// A semaphore: arrivals that are due in each phase, and in this one; its parity; bytes that are due.
struct emu_semaphore {
    unsigned count : 12, due : 12, parity : 1;
    int bytes;
};

// Boxes on their way: they come when somebody waits for them, and not before.
struct emu_box {
    void *to;
    const emu_map *map;
    int x, y, inner, outer;
    emu_semaphore *s;
    int image, beside, below; // of windows, where `inner` counts along the height
};
enum { EMU_BOXES = 256 };
static emu_box emu_boxes[EMU_BOXES];
static int emu_box_count;

EMU_FN emu_semaphore *emu_semaphore_of(unsigned long long *s) {
    emu->in_shared(s, 8, "a semaphore that is not in shared memory", emu_at);
    return (emu_semaphore *)(void *)s;
}
EMU_FN void emu_semaphore_set(unsigned long long *at, int count) {
    emu_semaphore *s = emu_semaphore_of(at);
    *at = 0;
    s->count = s->due = (unsigned)count;
}
EMU_FN void emu_semaphores_are_set() {}
EMU_FN void emu_semaphore_turn(emu_semaphore *s) {
    if (s->due || s->bytes) return;
    s->parity ^= 1, s->due = s->count;
}
EMU_FN void emu_semaphore_come(emu_semaphore *s, int bytes) {
    if (!s->due) emu->fail(EMU_FAILED, emu_at, "a semaphore that too many arrive at", s);
    s->due--, s->bytes += bytes;
    emu_semaphore_turn(s);
}
EMU_FN void emu_semaphore_expect(unsigned long long *at, int bytes) {
    emu_semaphore_come(emu_semaphore_of(at), bytes);
}
// In the memory of another block of the cluster.
EMU_FN emu_semaphore *emu_semaphore_there(unsigned long long *at, unsigned rank) {
    return (emu_semaphore *)(void *)emu_cluster_map(at, rank);
}
EMU_FN void emu_semaphore_arrive_of(unsigned long long *at, int rank) {
    emu_semaphore_come(emu_semaphore_there(at, (unsigned)rank), 0);
}
EMU_FN void emu_semaphore_arrive(unsigned long long *at) { emu_semaphore_expect(at, 0); }

// Element i of a row has its place among chunks of 16 bytes by address.
EMU_FN void emu_box_put(const emu_box *b, int line, int x, const unsigned char *from) {
    size_t to = (size_t)b->to + (size_t)(line * b->map->line + x * b->map->bytes);
    to ^= to / 128 % (size_t)(b->map->line / 16) * 16;
    for (int i = 0; i < b->map->bytes; i++)
        ((unsigned char *)to)[i] = from ? from[i] : (unsigned char)0;
}

// x counts channels here; places go along the width, then the height, then images.
EMU_FN void emu_windows_come(const emu_box *b) {
    const emu_map *m = b->map;
    int at[2] = {b->y, b->inner}, n = b->image;
    for (int line = 0; line < m->box[1]; line++) {
        long long w = at[0] + b->beside, h = at[1] + b->below;
        int inside = w >= 0 && w < m->size[1] && h >= 0 && h < m->size[2] && n < m->size[3];
        const unsigned char *from =
            m->at + w * m->stride[0] + h * m->stride[1] + n * m->stride[2];
        for (int x = 0; x < m->box[0]; x++)
            emu_box_put(b, line, x,
                        inside && b->x + x < m->size[0] ? from + m->bytes * (b->x + x)
                                                        : nullptr);
        at[0] += m->step[0];
        if (at[0] >= m->size[1] + m->high[0]) at[0] = m->low[0], at[1] += m->step[1];
        if (at[1] >= m->size[2] + m->high[1]) at[1] = m->low[1], n++;
    }
}

EMU_FN void emu_box_comes(const emu_box *b) {
    const emu_map *m = b->map;
    if (m->step[0]) emu_windows_come(b);
    for (int y = 0; !m->step[0] && y < m->box[1]; y++)
        for (int x = 0; x < m->box[0]; x++) {
            long long at[4] = {b->x + x, b->y + y, b->inner, b->outer};
            int inside = 1;
            for (int i = 0; i < 4; i++) inside &= at[i] >= 0 && at[i] < m->size[i];
            emu_box_put(b, y, x,
                        inside ? m->at + m->bytes * at[0] + at[1] * m->stride[0] +
                                     at[2] * m->stride[1] + at[3] * m->stride[2]
                               : nullptr);
        }
    b->s->bytes -= m->box[0] * m->box[1] * m->bytes;
    emu_semaphore_turn(b->s);
}
EMU_FN void emu_boxes_come(const emu_semaphore *s) {
    int kept = 0;
    for (int i = 0; i < emu_box_count; i++) {
        if (emu_boxes[i].s == s)
            emu_box_comes(&emu_boxes[i]);
        else
            emu_boxes[kept++] = emu_boxes[i];
    }
    emu_box_count = kept;
}
EMU_FN void emu_semaphore_wait(unsigned long long *at, int parity) {
    emu_semaphore *s = emu_semaphore_of(at);
    for (emu_boxes_come(s); (int)s->parity == parity; emu_boxes_come(s)) emu->yield(emu_at);
}
EMU_FN void emu_box_goes(const emu_box &b, int windows) {
    const void *to = b.to, *map = b.map;
    if (b.map->magic != EMU_MAP)
        emu->fail(EMU_ADDRESS, emu_at, "a map that the driver has not made", map);
    if ((b.map->step[0] != 0) != (windows != 0))
        emu->fail(EMU_ADDRESS, emu_at, "a map of another kind", map);
    emu->in_shared(to, (size_t)(b.map->box[0] * b.map->box[1] * b.map->bytes),
                   "a box that is not in shared memory", emu_at);
    if ((size_t)to % 1024)
        emu->fail(EMU_ALIGNMENT, emu_at, "a box that is not aligned to 1024 bytes", to);
    if (emu_box_count == EMU_BOXES)
        emu->fail(EMU_FAILED, emu_at, "too many boxes", nullptr);
    emu_boxes[emu_box_count++] = b;
}
EMU_FN void emu_map_load(void *to, const void *map, int x, int y, int inner, int outer,
                         unsigned long long *s) {
    emu_box b = {to,    (const emu_map *)map, x, y, inner,
                 outer, emu_semaphore_of(s),  0, 0, 0};
    emu_box_goes(b, 0);
}
EMU_FN void emu_map_load_to(int blocks, void *to, const void *map, int x, int y, int inner,
                            int outer, unsigned long long *s) {
    for (unsigned rank = 0; blocks >> rank; rank++) {
        if (!(blocks >> rank & 1)) continue;
        emu_map_load(to, map, x, y, inner, outer, s);
        emu_boxes[emu_box_count - 1].to = emu_cluster_map((char *)to, rank);
        emu_boxes[emu_box_count - 1].s = emu_semaphore_there(s, rank);
    }
}
EMU_FN void emu_window_load(void *to, const void *map, int c, int x, int y, int n,
                            int beside, int below, unsigned long long *s) {
    emu_box b = {to, (const emu_map *)map, c, x,      y,
                 0,  emu_semaphore_of(s),  n, beside, below};
    if (beside < 0 || below < 0 || beside > 255 || below > 255)
        emu->fail(EMU_FAILED, emu_at, "a tap that is too far from its place", nullptr);
    emu_box_goes(b, 1);
}
EMU_FN void emu_registers_give(int) {}
EMU_FN void emu_registers_take(int) {}

// ---- helpers: matrices in the registers of a warp

// Lane l has rows g and g + 8 (or column g, of b) and, of those, pairs from 2 * t, with g, t:
EMU_FN int emu_group(int lane) { return lane / 4; }
EMU_FN int emu_place(int lane) { return lane % 4; }

EMU_FN void emu_whole_warp(unsigned present, const char *what) {
    if (present != ~0u) emu->fail(EMU_FAILED, emu_at, what, nullptr);
}

struct emu_fragments {
    float *d; // 16 x 8, of it [g][2t], [g][2t + 1], [g + 8][2t], [g + 8][2t + 1]
    const unsigned *a, *b;
};

// d += a * b for all lanes: each sum is of exact products, rounded once.
template <int K>
EMU_FN void emu_multiply(void *const *mine, const float (&a)[16][K],
                         const float (&b)[K][8]) {
    for (int l = 0; l < EMU_WARP; l++) {
        float *d = ((emu_fragments *)mine[l])->d;
        for (int i = 0; i < 4; i++) {
            int m = emu_group(l) + i / 2 * 8, n = emu_place(l) * 2 + i % 2;
            double sum = d[i];
            for (int k = 0; k < K; k++) sum += (double)a[m][k] * (double)b[k][n];
            d[i] = (float)sum;
        }
    }
}

// m16n8k16 of halves: registers hold pairs along k; those of a are rows g, g + 8 at k, then at k + 8.
template <float of(unsigned short)>
EMU_FN void emu_mma_halves(void *const *mine, unsigned present) {
    float a[16][16], b[16][8];
    emu_whole_warp(present, "mma without a whole warp");
    for (int l = 0; l < EMU_WARP; l++) {
        const emu_fragments *f = (const emu_fragments *)mine[l];
        int g = emu_group(l), t = emu_place(l);
        for (int i = 0; i < 8; i++)
            a[g + i / 2 % 2 * 8][2 * t + i % 2 + i / 4 * 8] =
                of((unsigned short)(f->a[i / 2] >> i % 2 * 16));
        for (int i = 0; i < 4; i++)
            b[2 * t + i % 2 + i / 2 * 8][g] =
                of((unsigned short)(f->b[i / 2] >> i % 2 * 16));
    }
    emu_multiply<16>(mine, a, b);
}

// m16n8k8 of tf32: one value a register, of whose bits the low 13 do not count.
EMU_FN void emu_mma_8(void *const *mine, unsigned present) {
    float a[16][8], b[8][8];
    emu_whole_warp(present, "mma without a whole warp");
    for (int l = 0; l < EMU_WARP; l++) {
        const emu_fragments *f = (const emu_fragments *)mine[l];
        int g = emu_group(l), t = emu_place(l);
        for (int i = 0; i < 4; i++)
            a[g + i % 2 * 8][t + i / 2 * 4] = emu_bits<float>(f->a[i] & ~0x1fffu);
        for (int i = 0; i < 2; i++) b[t + i * 4][g] = emu_bits<float>(f->b[i] & ~0x1fffu);
    }
    emu_multiply<8>(mine, a, b);
}

EMU_FN void emu_mma(emu_finish finish, float *d, const unsigned *a, const unsigned *b) {
    emu_fragments f = {d, a, b};
    emu->meet(~0u, &f, finish, "mma", emu_at);
}
EMU_FN void emu_mma_f16(float *d, const unsigned *a, const unsigned *b) {
    emu_mma(emu_mma_halves<emu_of_f16>, d, a, b);
}
EMU_FN void emu_mma_bf16(float *d, const unsigned *a, const unsigned *b) {
    emu_mma(emu_mma_halves<emu_of_bf16>, d, a, b);
}
EMU_FN void emu_mma_tf32(float *d, const unsigned *a, const unsigned *b) {
    emu_mma(emu_mma_8, d, a, b);
}

struct emu_rows {
    const unsigned short *row; // of lane 8 * i + r: row r of matrix i, 8 elements
    unsigned *r;
};

// N matrices of 8 x 8: register i of a lane has, of matrix i, [g][2t] and [g][2t + 1], or of its
// transpose.
template <int N, int TRANSPOSED>
EMU_FN void emu_load_rows(void *const *mine, unsigned present) {
    emu_whole_warp(present, "ldmatrix without a whole warp");
    for (int l = 0; l < EMU_WARP; l++) {
        int g = emu_group(l), t = emu_place(l);
        for (int i = 0; i < N; i++) {
            unsigned pair[2];
            for (int k = 0; k < 2; k++) {
                int row = TRANSPOSED ? 2 * t + k : g, column = TRANSPOSED ? g : 2 * t + k;
                pair[k] = ((const emu_rows *)mine[8 * i + row])->row[column];
            }
            ((emu_rows *)mine[l])->r[i] = pair[0] | pair[1] << 16;
        }
    }
}

template <int N, int TRANSPOSED> EMU_FN void emu_ldmatrix(unsigned *r, const void *row) {
    emu_rows lane = {(const unsigned short *)row, r};
    if ((int)emu_self->lane < 8 * N) {
        emu->in_shared(row, 16, "a row of ldmatrix that is not in shared memory", emu_at);
        if ((size_t)row % 16)
            emu->fail(EMU_ALIGNMENT, emu_at, "a row of ldmatrix that is not aligned", row);
    }
    emu->meet(~0u, &lane, emu_load_rows<N, TRANSPOSED>, "ldmatrix", emu_at);
}
EMU_FN void emu_ldmatrix1(unsigned *r, const void *row) { emu_ldmatrix<1, 0>(r, row); }
EMU_FN void emu_ldmatrix2(unsigned *r, const void *row) { emu_ldmatrix<2, 0>(r, row); }
EMU_FN void emu_ldmatrix4(unsigned *r, const void *row) { emu_ldmatrix<4, 0>(r, row); }
EMU_FN void emu_ldmatrix1_trans(unsigned *r, const void *row) {
    emu_ldmatrix<1, 1>(r, row);
}
EMU_FN void emu_ldmatrix2_trans(unsigned *r, const void *row) {
    emu_ldmatrix<2, 1>(r, row);
}
EMU_FN void emu_ldmatrix4_trans(unsigned *r, const void *row) {
    emu_ldmatrix<4, 1>(r, row);
}

// ---- helpers: matrix units that read shared memory

EMU_FN void emu_proxy_fence() {}
EMU_FN void emu_matrix_begin() {}
EMU_FN void emu_matrix_commit() {}
EMU_FN void emu_matrix_wait(int) {}
EMU_FN void emu_matrix_keep(int, float *) {}
EMU_FN char *emu_align_shared(int n, char *p) { return p + (0 - (size_t)p) % (size_t)n; }

// Places count chunks of 16 bytes, as those of a device do; the upper bits tell how many k a tile has, and whether its
// lines have 64 bytes.
EMU_FN unsigned long long emu_matrix_place(int k, int line, const void *tile) {
    if ((size_t)tile % 1024)
        emu->fail(EMU_ALIGNMENT, emu_at, "a tile that is not aligned to 1024 bytes", tile);
    return (unsigned long long)(size_t)tile / 16 | (unsigned long long)k << 48 |
           (unsigned long long)(line == 64) << 63;
}
EMU_FN size_t emu_matrix_line(unsigned long long place) { return place >> 63 ? 64 : 128; }

// Element (line, k) of an operand from `place` on: rows of 64 elements whose chunks of 8 are swizzled by address. One that
// runs along its lines has 64 of them for all of k, then the next.
EMU_FN unsigned short emu_matrix_at(unsigned long long place, int along, int line, int k) {
    size_t slab = (size_t)(place << 1 >> 49) * 128, size = emu_matrix_line(place);
    size_t at = (size_t)(place << 16 >> 16) * 16 +
                (along ? (size_t)(line / 64) * slab + (size_t)(k * 128 + line % 64 * 2)
                       : (size_t)line * size + (size_t)k * 2);
    at ^= at / 128 % (size / 16) * 16;
    emu->in_shared((const void *)at, 2, "a matrix that is not in shared memory", emu_at);
    return *(const unsigned short *)at;
}

// The same of words, which run along k; of their bits the low 13 do not count.
EMU_FN float emu_matrix_word(unsigned long long place, int line, int k) {
    size_t at = (size_t)(place << 16 >> 16) * 16 + (size_t)(line * 128 + k * 4);
    at ^= at / 128 % 8 * 16;
    emu->in_shared((const void *)at, 4, "a matrix that is not in shared memory", emu_at);
    return emu_bits<float>(*(const unsigned *)at & ~0x1fffu);
}

// The same of bytes.
EMU_FN unsigned emu_matrix_byte(unsigned long long place, int line, int k) {
    size_t at = (size_t)(place << 16 >> 16) * 16 + (size_t)(line * 128 + k);
    at ^= at / 128 % 8 * 16;
    emu->in_shared((const void *)at, 1, "a matrix that is not in shared memory", emu_at);
    return *(const unsigned char *)at;
}

// A thread's sums: it looks for itself, when it asks. Units: f16, bf16, tf32.
EMU_FN void emu_wgmma(int units, int n, int ta, int tb, float *d, unsigned long long a,
                      unsigned long long b, int keep) {
    int warp = (int)(threadIdx.x / 32 % 4), lane = (int)emu_self->lane;
    for (int i = 0; i < n / 2; i++) {
        int row = warp * 16 + lane / 4 + i / 2 % 2 * 8,
            col = i / 4 * 8 + lane % 4 * 2 + i % 2;
        double sum = keep ? d[i] : 0;
        for (int k = 0; k < 8 && units == 2; k++)
            sum += (double)emu_matrix_word(a, row, k) * (double)emu_matrix_word(b, col, k);
        for (int k = 0; k < 16 && units != 2; k++) {
            unsigned short x = emu_matrix_at(a, ta, row, k),
                           y = emu_matrix_at(b, tb, col, k);
            sum += units ? (double)emu_of_bf16(x) * (double)emu_of_bf16(y)
                         : (double)emu_of_f16(x) * (double)emu_of_f16(y);
        }
        d[i] = (float)sum;
    }
}

// Units: from 3 on, e5m2 for e4m3 on the left, on the right, on both. Sums keep all bits here, not some 14.
EMU_FN void emu_wgmma_f8(int units, int n, float *d, unsigned long long a,
                         unsigned long long b, int keep) {
    int warp = (int)(threadIdx.x / 32 % 4), lane = (int)emu_self->lane;
    int left = (units - 3) % 2 ? 2 : 3, right = (units - 3) / 2 ? 2 : 3;
    for (int i = 0; i < n / 2; i++) {
        int row = warp * 16 + lane / 4 + i / 2 % 2 * 8,
            col = i / 4 * 8 + lane % 4 * 2 + i % 2;
        double sum = keep ? d[i] : 0;
        for (int k = 0; k < 32; k++)
            sum += (double)emu_of_f8(left, emu_matrix_byte(a, row, k)) *
                   (double)emu_of_f8(right, emu_matrix_byte(b, col, k));
        d[i] = (float)sum;
    }
}

// Of a, lanes that share a row have each two columns of either 8.
EMU_FN void emu_wgmma_held(int units, int n, float *d, const unsigned *a,
                           unsigned long long b) {
    int lane = (int)emu_self->lane;
    unsigned short row[2][16];
    for (int i = 0; i < 16; i++) {
        unsigned word = __shfl_sync(~0u, a[i / 4], lane / 4 * 4 + i % 4);
        for (int u = 0; u < 2; u++)
            row[i / 4 % 2][i / 8 * 8 + i % 4 * 2 + u] = (unsigned short)(word >> 16 * u);
    }
    for (int i = 0; i < n / 2; i++) {
        double sum = d[i];
        for (int k = 0; k < 16; k++) {
            unsigned short x = row[i / 2 % 2][k],
                           y = emu_matrix_at(b, 1, i / 4 * 8 + lane % 4 * 2 + i % 2, k);
            sum += units ? (double)emu_of_bf16(x) * (double)emu_of_bf16(y)
                         : (double)emu_of_f16(x) * (double)emu_of_f16(y);
        }
        d[i] = (float)sum;
    }
}

// Of a, lanes that share a row have each a column of either 4.
EMU_FN void emu_wgmma_words(int n, float *d, const unsigned *a, unsigned long long b,
                            int keep) {
    int lane = (int)emu_self->lane;
    float row[2][8];
    for (int i = 0; i < 16; i++) {
        unsigned word = __shfl_sync(~0u, a[i / 4], lane / 4 * 4 + i % 4);
        row[i / 4 % 2][i / 8 * 4 + i % 4] = emu_bits<float>(word & ~0x1fffu);
    }
    for (int i = 0; i < n / 2; i++) {
        double sum = keep ? d[i] : 0;
        for (int k = 0; k < 8; k++)
            sum += (double)row[i / 2 % 2][k] *
                   (double)emu_matrix_word(b, i / 4 * 8 + lane % 4 * 2 + i % 2, k);
        d[i] = (float)sum;
    }
}
#endif
