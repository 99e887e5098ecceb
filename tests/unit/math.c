// Unit test of gen/cpu/scalar.h, vector.h and math.h.
//     cc -O2 -Igen tests/unit/math.c -lm -o math && ./math
// Special and spot values against libm in double (f32) and long double (f64); the scalar form
// against the vector forms bit by bit on random bit patterns, where the compiler has them;
// integer, cast and Philox semantics against plain C. tests/tools/ulp.c has the full sweeps.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

// Contraction of a*b+c is off, in the way each compiler has for a part of a file.
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#define STRICT
#elif defined(__GNUC__)
#define STRICT optimize("fp-contract=off"),
#endif
#if defined(__GNUC__)
#define UNUSED __attribute__((STRICT unused))
#else
#define UNUSED
#endif

#define TC_FN static inline UNUSED
#define TC_FN_COLD static UNUSED
#define TC_N(x) s_##x
#include "cpu/scalar.h"
#include "cpu/math.h"
#undef TC_FN
#undef TC_FN_COLD
#undef TC_N
#undef TC_MATH_32
#undef TC_MATH_64

#if defined(__GNUC__) && defined(__x86_64__)
#define VECTOR 1
#define AVX2 __attribute__((STRICT target("avx2,fma"), unused))
// 8 lanes, 32-bit classes, AVX2
#define TC_FN static inline AVX2
#define TC_FN_COLD static AVX2
#define TC_N(x) v_##x
#define TC_ISA_AVX2 1
#define TC_W 8
#define TC_MATH_64 0
#include "cpu/vector.h"
#include "cpu/math.h"
#undef TC_N
#undef TC_W
#undef TC_MATH_32
#undef TC_MATH_64
// 4 lanes, 64-bit classes, AVX2
#define TC_N(x) w_##x
#define TC_W 4
#define TC_MATH_32 0
#define TC_MATH_64 1
#define V_SAVED
// The loops below need the 8-lane macros no more: only functions are called.
#include "cpu/vector.h"
#include "cpu/math.h"
#undef TC_N
#undef TC_W
#undef TC_FN
#undef TC_FN_COLD
#undef TC_ISA_AVX2
#undef TC_MATH_32
#undef TC_MATH_64
// 4 lanes without AVX: the generic form of all classes
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"
#define TC_FN static inline UNUSED
#define TC_FN_COLD static UNUSED
#define TC_N(x) g_##x
#define TC_ISA_AVX2 0
#define TC_W 4
#include "cpu/vector.h"
#include "cpu/math.h"
#else
#define VECTOR 0
#endif

static int passed, failed;

static void check(int ok, const char *what) {
    if (ok) passed++;
    else failed++;
    printf("%s %s\n", ok ? "ok  " : "FAIL", what);
}

static uint64_t state = 88172645463325252u;
static uint64_t next(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state * 2685821657736338717u;
}
static float bits32(uint32_t i) { float f; memcpy(&f, &i, 4); return f; }
static double bits64(uint64_t i) { double f; memcpy(&f, &i, 8); return f; }
static int same32(float a, float b) { return (a != a && b != b) || memcmp(&a, &b, 4) == 0; }
static int same64(double a, double b) { return (a != a && b != b) || memcmp(&a, &b, 8) == 0; }

// Half of the inputs are any bits, half have a moderate exponent, some are special.
static float any32(void) {
    static const float special[] = {0.0f, 1.0f, 2.0f, 3.0f, 0.5f, 1e-45f, 1.1754942e-38f, 3.4028235e38f,
                                    INFINITY, NAN, 8388608.0f, 2147483648.0f, 255.5f, 88.7f, 104.0f, 1e5f};
    uint64_t r = next();
    if ((r >> 60) == 0) return special[(r >> 32) & 15] * (r & 1 ? 1.0f : -1.0f);
    if (r >> 63) return bits32((uint32_t)r);
    return bits32(((uint32_t)r & 0x807fffffu) | (uint32_t)(107 + (r >> 32) % 32) << 23);
}
static double any64(void) {
    static const double special[] = {0.0, 1.0, 2.0, 3.0, 0.5, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308,
                                     INFINITY, NAN, 4503599627370496.0, 9223372036854775808.0, 255.5, 709.7, 745.0, 1e5};
    uint64_t r = next(), e = next();
    if ((e >> 60) == 0) return special[(e >> 32) & 15] * (r & 1 ? 1.0 : -1.0);
    if (e >> 63) return bits64(r);
    return bits64((r & 0x800fffffffffffffu) | (uint64_t)(1000 + e % 40) << 52);
}
static int64_t anyint(void) {
    static const int64_t special[] = {0, 1, -1, 2, -2, 31, 32, 63, 64, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, 255, 256, 16777217};
    uint64_t r = next(), e = next();
    if (e & 1) return special[(e >> 8) & 15];
    return (int64_t)(r >> ((e >> 8) & 63));
}

// ---- accuracy: one table, f32 against double, f64 against long double ----------------------

typedef long double ld;
static ld r_sigmoid(ld x) { return x < 0 ? expl(x) / (1 + expl(x)) : 1 / (1 + expl(-x)); }
static ld r_silu(ld x) { return x * r_sigmoid(x); }
static ld r_gelu(ld x) { return x * 0.5L * erfcl(-x * 0.70710678118654752440084436L); }
static ld r_gelu_tanh(ld x) {
    return x * r_sigmoid(2 * 0.79788456080286535587989211986876L * (x + 0.044715L * x * x * x));
}
static ld r_softplus(ld x) { return (x > 0 ? x : 0) + log1pl(expl(-fabsl(x))); }
static ld r_rsqrt(ld x) { return 1 / sqrtl(x); }
static ld r_reciprocal(ld x) { return 1 / x; }

// name, reference, range of the dense samples, bounds in ulp for f32 and f64
#define UNARY(X) \
    X(exp, expl, -104, 88, 1.1, 0.8) X(exp2, exp2l, -149, 127, 1.0, 0.8) \
    X(expm1, expm1l, -20, 88, 1.5, 1.2) X(log, logl, 0, 10, 0.9, 0.8) \
    X(log2, log2l, 0, 10, 1.6, 0.9) X(log10, log10l, 0, 10, 2.0, 0.8) \
    X(log1p, log1pl, -1, 10, 1.5, 0.8) X(sin, sinl, -100, 100, 1.7, 0.9) \
    X(cos, cosl, -100, 100, 1.7, 0.9) X(tan, tanl, -100, 100, 2.5, 2.5) \
    X(asin, asinl, -1, 1, 2.0, 0.8) X(acos, acosl, -1, 1, 1.5, 0.8) \
    X(atan, atanl, -10, 10, 1.5, 2.0) X(sinh, sinhl, -88, 88, 1.7, 2.3) \
    X(cosh, coshl, -88, 88, 1.6, 1.2) X(tanh, tanhl, -10, 10, 1.7, 2.5) \
    X(erf, erfl, -4, 4, 2.2, 1.6) X(erfc, erfcl, -10, 10, 3.5, 3.8) \
    X(sigmoid, r_sigmoid, -100, 30, 2.5, 2.5) X(silu, r_silu, -100, 30, 2.5, 2.9) \
    X(gelu, r_gelu, -14.4, 10, 3.7, 4.0) X(gelu_tanh, r_gelu_tanh, -10.5, 10, 2.5, 2.9) \
    X(softplus, r_softplus, -100, 30, 1.8, 1.6) X(rsqrt, r_rsqrt, 0, 10, 1.5, 1.5) \
    X(reciprocal, r_reciprocal, -10, 10, 0.501, 0.501) X(floor, floorl, -100, 100, 0, 0) \
    X(ceil, ceill, -100, 100, 0, 0) X(trunc, truncl, -100, 100, 0, 0) X(round, rintl, -100, 100, 0, 0)

static double ulps(ld got, ld want, int digits, int lowest) {
    int e;
    if (got == want || (got != got && want != want)) return 0;
    frexpl(want, &e);
    e -= digits;
    return (double)(fabsl(got - want) / ldexpl(1, e < lowest ? lowest : e));
}

static void accuracy(const char *name, float (*f)(float), double (*g)(double), ld (*ref)(ld), double low, double high,
                     double bound32, double bound64) {
    double e, max32 = 0, max64 = 0, at32 = 0, at64 = 0;
    char text[160];
    int i;
    for (i = 0; i < 20000; i++) {
        double u = (double)(next() >> 11) * 1.1102230246251565e-16, x = low + (high - low) * (i & 1 ? u : ldexp(u, -(i % 20)));
        float y = (float)x;
        e = ulps(f(y), ref(y), 24, -149);
        if (e > max32) { max32 = e; at32 = y; }
        e = ulps(g(x), ref(x), 53, -1074);
        if (e > max64) { max64 = e; at64 = x; }
    }
    sprintf(text, "%s: f32 %.3f ulp at %.9g (bound %.3g), f64 %.3f at %.17g (bound %.3g)", name, max32, at32, bound32, max64, at64, bound64);
    check(max32 <= bound32 && (sizeof(ld) == 8 || max64 <= bound64), text);
}
