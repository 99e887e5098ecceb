// clang-format off: tables and embedded text, laid out by hand
// Measures gen/cpu/math.h against libm's long double functions.
//   cc -O2 -mavx2 -mfma -ffp-contract=off -Wno-psabi -DULP_F64 -Igen tests/tools/ulp.c -lm
//   ./a.out         samples: max ulp over any bits and over a dense range, ns per element
//   ./a.out NAME    one function; f32 functions of one argument over all 2^32 inputs
// -DULP_F64 adds the f64 functions. An ulp is that of the exact result, the smallest
// denormal's below. Wrong specials (NaN, inf, sign of zero) count as 1e9.
#define _GNU_SOURCE
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#if defined(__clang__)
#    pragma STDC FP_CONTRACT OFF
#endif
#define TC_FN      static inline __attribute__((always_inline, unused))
#define TC_FN_COLD static __attribute__((noinline, unused))
#define TC_N(x)    tc_##x
#ifdef __AVX2__
#    define TC_ISA_AVX2 1
#endif
#include "cpu/vector.h"
#include "cpu/math.h"

typedef long double ld;

static ld ref_gelu(ld x) {
    return isinf(x) && x < 0 ? (ld)NAN
                             : x * 0.5L * erfcl(-x * 0.70710678118654752440084436L);
}
static ld ref_sigmoid(ld x) { return x < 0 ? expl(x) / (1 + expl(x)) : 1 / (1 + expl(-x)); }
static ld ref_silu(ld x) { return isinf(x) && x < 0 ? (ld)NAN : x * ref_sigmoid(x); }
static ld ref_gelu_tanh(ld x) {
    ld u = 2 * 0.79788456080286535587989211986876L * (x + 0.044715L * x * x * x);
    return isinf(x) && x < 0 ? (ld)NAN : isinf(x) ? x : x * ref_sigmoid(u);
}
static ld ref_softplus(ld x) { return (x > 0 ? x : 0) + log1pl(expl(-fabsl(x))); }
static ld ref_rsqrt(ld x) { return 1 / sqrtl(x); }
static ld ref_reciprocal(ld x) { return 1 / x; }
static ld ref_round(ld x) { return rintl(x); }

typedef struct {
    const char *name;
    ld (*ref)(ld);
    void (*f32)(float *, const float *, int);
    void (*f64)(double *, const double *, int);
    double low, high; // dense sampling range
} fn1;

#define LOOP1(NAME)                                                                        \
    static void NAME##_f32(float *o, const float *a, int n) {                              \
        int i;                                                                             \
        for (i = 0; i < n; i += TC_W) tc_st_f32(o + i, tc_##NAME##_f32(tc_ld_f32(a + i))); \
    }
#define LOOP2(NAME)                                                                        \
    static void NAME##2_f32(float *o, const float *a, const float *b, int n) {             \
        int i;                                                                             \
        for (i = 0; i < n; i += TC_W)                                                      \
            tc_st_f32(o + i, tc_##NAME##_f32(tc_ld_f32(a + i), tc_ld_f32(b + i)));         \
    }
#ifdef ULP_F64
#    define LOOP1D(NAME)                                                                   \
        static void NAME##_f64(double *o, const double *a, int n) {                        \
            int i;                                                                         \
            for (i = 0; i < n; i += TC_W)                                                  \
                tc_st_f64(o + i, tc_##NAME##_f64(tc_ld_f64(a + i)));                       \
        }
#else
#    define LOOP1D(NAME)
#endif

// clang-format off
#define FUNCTIONS(X) \
    X(exp, expl, -110, 90) \
    X(exp2, exp2l, -155, 129) \
    X(expm1, expm1l, -20, 90) \
    X(log, logl, 0, 10) \
    X(log2, log2l, 0, 10) \
    X(log10, log10l, 0, 10) \
    X(log1p, log1pl, -1, 10) \
    X(sin, sinl, -100, 100) \
    X(cos, cosl, -100, 100) \
    X(tan, tanl, -100, 100) \
    X(asin, asinl, -1, 1) \
    X(acos, acosl, -1, 1) \
    X(atan, atanl, -10, 10) \
    X(sinh, sinhl, -90, 90) \
    X(cosh, coshl, -90, 90) \
    X(tanh, tanhl, -10, 10) \
    X(erf, erfl, -4, 4) \
    X(erfc, erfcl, -10.1, 10.1) \
    X(sigmoid, ref_sigmoid, -105, 30) \
    X(gelu, ref_gelu, -14.6, 10) \
    X(gelu_tanh, ref_gelu_tanh, -11, 10) \
    X(silu, ref_silu, -110, 30) \
    X(softplus, ref_softplus, -105, 30) \
    X(rsqrt, ref_rsqrt, 0, 10) \
    X(reciprocal, ref_reciprocal, -10, 10) \
    X(floor, floorl, -10, 10) \
    X(ceil, ceill, -10, 10) \
    X(trunc, truncl, -10, 10) \
    X(round, ref_round, -10, 10)
// clang-format on

#define X(NAME, REF, LOW, HIGH) LOOP1(NAME) LOOP1D(NAME)
FUNCTIONS(X)
#undef X
#ifdef ULP_F64
#    define X(NAME, REF, LOW, HIGH) {#    NAME, REF, NAME##_f32, NAME##_f64, LOW, HIGH},
#else
#    define X(NAME, REF, LOW, HIGH) {#    NAME, REF, NAME##_f32, 0, LOW, HIGH},
#endif
static const fn1 functions[] = {FUNCTIONS(X)};
#undef X

static ld ulp_of(ld want, int digits, int lowest) {
    int e;
    frexpl(want, &e);
    e -= digits;
    return ldexpl(1, e < lowest ? lowest : e);
}

static ld error32(float got, ld want) {
    float w = (float)want;
    if (isnan(w)) return isnan(got) ? 0 : 1e9L;
    if (isinf(w) || isinf(got))
        return got == w                                                 ? 0
               : fabsl(want) < 3.4028236e38L && fabsl(want) > 3.402e38L ? 1
                                                                        : 1e9L;
    if (w == 0 && got == 0 && want == 0) return signbit(w) == signbit(got) ? 0 : 1e9L;
    return fabsl((ld)got - want) / ulp_of(want, 24, -149);
}

static ld error64(double got, ld want) {
    double w = (double)want;
    if (isnan(w)) return isnan(got) ? 0 : 1e9L;
    if (isinf(w) || isinf(got)) return got == w ? 0 : 1e9L;
    if (w == 0 && got == 0 && want == 0) return signbit(w) == signbit(got) ? 0 : 1e9L;
    return fabsl((ld)got - want) / ulp_of(want, 53, -1074);
}

static uint64_t seed = 88172645463325252u;
static uint64_t next(void) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}
static float bits32(uint32_t i) {
    float f;
    memcpy(&f, &i, 4);
    return f;
}
static double bits64(uint64_t i) {
    double f;
    memcpy(&f, &i, 8);
    return f;
}
static double unit(void) { return (double)(next() >> 11) * 0x1p-53; }
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

enum { BLOCK = 4096 };
static float in32[BLOCK], out32[BLOCK], two32[BLOCK];
#ifdef ULP_F64
static double in64[BLOCK], out64[BLOCK];
#endif

typedef struct {
    ld max;
    double at, at2, got;
} worst;

static void check32(const fn1 *f, worst *w) {
    int i;
    f->f32(out32, in32, BLOCK);
    for (i = 0; i < BLOCK; i++) {
        ld e = error32(out32[i], f->ref(in32[i]));
        if (e > w->max) {
            w->max = e;
            w->at = in32[i];
            w->got = out32[i];
        }
    }
}

static double speed32(const fn1 *f) {
    double best = 1e9;
    int k, i;
    for (i = 0; i < BLOCK; i++)
        in32[i] = (float)(f->low / 3 + (f->high - f->low) / 3 * unit());
    for (k = 0; k < 200; k++) {
        double t = now();
        f->f32(out32, in32, BLOCK);
        t = now() - t;
        if (t < best) best = t;
    }
    return best * 1e9 / BLOCK;
}

static void row32(const fn1 *f, int all) {
    worst any = {0, 0, 0, 0}, dense = {0, 0, 0, 0};
    long k;
    int i;
    if (all) {
        for (k = 0; k < (1l << 32); k += BLOCK) {
            for (i = 0; i < BLOCK; i++) in32[i] = bits32((uint32_t)(k + i));
            check32(f, &any);
        }
    }
    for (k = 0; k < 100 && !all; k++) {
        for (i = 0; i < BLOCK; i++) in32[i] = bits32((uint32_t)next());
        check32(f, &any);
        for (i = 0; i < BLOCK; i++) in32[i] = (float)(f->low + (f->high - f->low) * unit());
        check32(f, &dense);
        for (i = 0; i < BLOCK; i++)
            in32[i] = (float)ldexp(1 + unit(), (int)(next() % 34) - 27) *
                      (next() & 1 ? 1.0f : -1.0f);
        check32(f, &dense);
    }
    printf("%-12s f32 %8.3Lf at %-14.9g %8.3Lf at %-14.9g %6.2f ns\n", f->name, any.max,
           any.at, dense.max, dense.at, speed32(f));
    fflush(stdout);
}

#ifdef ULP_F64
static void check64(const fn1 *f, worst *w) {
    int i;
    f->f64(out64, in64, BLOCK);
    for (i = 0; i < BLOCK; i++) {
        ld e = error64(out64[i], f->ref(in64[i]));
        if (e > w->max) {
            w->max = e;
            w->at = in64[i];
            w->got = out64[i];
        }
    }
}

static void row64(const fn1 *f) {
    worst any = {0, 0, 0, 0}, dense = {0, 0, 0, 0};
    double best = 1e9, wide = f->low < -90 ? 7.3 : f->low < -9.9 && f->low > -20 ? 2.75 : 1;
    int i, k;
    for (k = 0; k < 100; k++) {
        for (i = 0; i < BLOCK; i++) in64[i] = bits64(next());
        check64(f, &any);
        for (i = 0; i < BLOCK; i++)
            in64[i] = (f->low + (f->high - f->low) * unit()) * (k & 1 ? wide : 1);
        check64(f, &dense);
        for (i = 0; i < BLOCK; i++)
            in64[i] =
                ldexp(1 + unit(), (int)(next() % 64) - 56) * (next() & 1 ? 1.0 : -1.0);
        check64(f, &dense);
    }
    for (i = 0; i < BLOCK; i++) in64[i] = f->low / 3 + (f->high - f->low) / 3 * unit();
    for (k = 0; k < 100; k++) {
        double t = now();
        f->f64(out64, in64, BLOCK);
        t = now() - t;
        if (t < best) best = t;
    }
    printf("%-12s f64 %8.3Lf at %-22.17g %8.3Lf at %-22.17g %6.2f ns\n", f->name, any.max,
           any.at, dense.max, dense.at, best * 1e9 / BLOCK);
    fflush(stdout);
}
#endif

LOOP2(pow)
LOOP2(atan2)
LOOP2(fmod)

typedef struct {
    const char *name;
    ld (*ref)(ld, ld);
    void (*f32)(float *, const float *, const float *, int);
} fn2;
static const fn2 binaries[] = {
    {"pow", powl, pow2_f32}, {"atan2", atan2l, atan22_f32}, {"fmod", fmodl, fmod2_f32}};

static void row2(const fn2 *f) {
    worst w = {0, 0, 0, 0};
    static const float special[] = {0.0f,   -0.0f, 1.0f,  -1.0f,    2.0f,      3.0f,
                                    -3.0f,  0.5f,  -0.5f, INFINITY, -INFINITY, NAN,
                                    1e-45f, 3e38f, -2.0f, 1e10f};
    double best = 1e9;
    int i, k;
    for (k = 0; k < 200; k++) {
        for (i = 0; i < BLOCK; i++) {
            in32[i] = k & 1 ? bits32((uint32_t)next()) : (float)(20 * unit());
            two32[i] = k & 2 ? bits32((uint32_t)next()) : (float)(60 * (unit() - 0.5));
            if (k % 7 == 0) {
                in32[i] = special[next() % 16];
                two32[i] = special[next() % 16];
            }
        }
        f->f32(out32, in32, two32, BLOCK);
        for (i = 0; i < BLOCK; i++) {
            ld e = error32(out32[i], f->ref(in32[i], two32[i]));
            if (e > w.max) {
                w.max = e;
                w.at = in32[i];
                w.at2 = two32[i];
                w.got = out32[i];
            }
        }
    }
    for (i = 0; i < BLOCK; i++) {
        in32[i] = (float)(5 * unit());
        two32[i] = (float)(4 * unit());
    }
    for (k = 0; k < 100; k++) {
        double t = now();
        f->f32(out32, in32, two32, BLOCK);
        t = now() - t;
        if (t < best) best = t;
    }
    printf("%-12s f32 %8.3Lf at %.9g, %.9g gives %.9g; %6.2f ns\n", f->name, w.max, w.at,
           w.at2, w.got, best * 1e9 / BLOCK);
}

int main(int argc, char **argv) {
    size_t i;
    for (i = 0; i < sizeof functions / sizeof *functions; i++)
        if (argc < 2 || !strcmp(argv[1], functions[i].name)) row32(&functions[i], argc > 1);
    for (i = 0; i < sizeof binaries / sizeof *binaries; i++)
        if (argc < 2 || !strcmp(argv[1], binaries[i].name)) row2(&binaries[i]);
#ifdef ULP_F64
    for (i = 0; i < sizeof functions / sizeof *functions; i++)
        if (argc < 2 || !strcmp(argv[1], functions[i].name)) row64(&functions[i]);
#endif
    return 0;
}
