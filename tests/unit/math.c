// clang-format off: tables and embedded text, laid out by hand
// Unit test of gen/cpu/scalar.h, vector.h and math.h.
//     cc -O2 -Igen -Itests tests/unit/math.c -lm -o math && ./math
// Special and spot values against libm in double (f32) and long double (f64); the scalar
// form against the vector forms bit by bit on random bit patterns, where the compiler has
// them; integer, cast and Philox semantics against plain C. tests/tools/ulp.c has the full
// sweeps.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "halves.h"

// Contraction of a*b+c is off, in the way each compiler has for a part of a file.
#if defined(__clang__)
#    pragma STDC FP_CONTRACT OFF
#    define STRICT
#elif defined(__GNUC__)
#    define STRICT optimize("fp-contract=off"),
#endif
#if defined(__GNUC__)
#    define UNUSED __attribute__((STRICT unused))
#else
#    define UNUSED
#endif

#define TC_FN      static inline UNUSED
#define TC_FN_COLD static UNUSED
#define TC_N(x)    s_##x
#include "cpu/scalar.h"
#include "cpu/math.h"
#undef TC_FN
#undef TC_FN_COLD
#undef TC_N
#undef TC_MATH_32
#undef TC_MATH_64

static float plus(float a, float b) { return a + b; }
static void combine(float *v) { TC_COMBINE_ARRAY(plus, v); }

#if defined(__GNUC__) && defined(__x86_64__)
#    define VECTOR 1
#    define AVX2   __attribute__((STRICT target("avx2,fma,f16c"), unused))
// 8 lanes, 32-bit classes, AVX2
#    define TC_FN       static inline AVX2
#    define TC_FN_COLD  static AVX2
#    define TC_N(x)     v_##x
#    define TC_ISA_AVX2 1
#    define TC_W        8
#    define TC_MATH_64  0
#    include "cpu/vector.h"
#    include "cpu/math.h"
#    undef TC_N
#    undef TC_W
#    undef TC_MATH_32
#    undef TC_MATH_64
// 4 lanes, 64-bit classes, AVX2
#    define TC_N(x)    w_##x
#    define TC_W       4
#    define TC_MATH_64 1
#    include "cpu/vector.h"
#    include "cpu/math.h"
#    undef TC_N
#    undef TC_W
#    undef TC_FN
#    undef TC_FN_COLD
#    undef TC_ISA_AVX2
#    undef TC_MATH_32
#    undef TC_MATH_64
// 4 lanes, the generic form of all classes; the target only spares gcc's notes on the ABI
#    define TC_FN       static inline AVX2
#    define TC_FN_COLD  static AVX2
#    define TC_N(x)     g_##x
#    define TC_ISA_AVX2 0
#    define TC_W        4
#    include "cpu/vector.h"
#    include "cpu/math.h"
#    undef TC_N
#    undef TC_W
#    undef TC_FN
#    undef TC_FN_COLD
#    undef TC_ISA_AVX2
#    undef TC_MATH_32
#    undef TC_MATH_64
// 8 lanes, the generic form of the 32-bit classes
#    define TC_FN       static inline AVX2
#    define TC_FN_COLD  static AVX2
#    define TC_N(x)     p_##x
#    define TC_ISA_AVX2 0
#    define TC_W        8
#    define TC_MATH_64  0
#    include "cpu/vector.h"
#    include "cpu/math.h"
#    undef TC_N
#    undef TC_W
#    undef TC_FN
#    undef TC_FN_COLD
#    undef TC_ISA_AVX2
#    undef TC_MATH_32
// 16 lanes, 32-bit classes, AVX-512
#    define AVX512                                                                         \
        __attribute__((STRICT target("avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl"),  \
                       unused))
#    define TC_FN         static inline AVX512
#    define TC_FN_COLD    static AVX512
#    define TC_N(x)       z_##x
#    define TC_ISA_AVX2   1
#    define TC_ISA_AVX512 1
#    define TC_W          16
#    include "cpu/vector.h"
#    include "cpu/math.h"
#else
#    define VECTOR 0
#endif

static int passed, failed;

static void check(int ok, const char *what) {
    if (ok)
        passed++;
    else
        failed++;
    printf("%s %s\n", ok ? "ok  " : "FAIL", what);
}

static uint64_t state = 88172645463325252u;
static uint64_t next(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state * 2685821657736338717u;
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
static int same32(float a, float b) { return (a != a && b != b) || memcmp(&a, &b, 4) == 0; }
static int same64(double a, double b) {
    return (a != a && b != b) || memcmp(&a, &b, 8) == 0;
}

// Half of the inputs are any bits, half have a moderate exponent, some are special.
static float any32(void) {
    static const float special[] = {0.0f,     1.0f,   2.0f,           3.0f,
                                    0.5f,     1e-45f, 1.1754942e-38f, 3.4028235e38f,
                                    INFINITY, NAN,    8388608.0f,     2147483648.0f,
                                    255.5f,   88.7f,  104.0f,         1e5f};
    uint64_t r = next();
    if ((r >> 60) == 0) return special[(r >> 32) & 15] * (r & 1 ? 1.0f : -1.0f);
    if (r >> 63) return bits32((uint32_t)r);
    return bits32(((uint32_t)r & 0x807fffffu) | (uint32_t)(107 + (r >> 32) % 32) << 23);
}
static double any64(void) {
    static const double special[] = {0.0,
                                     1.0,
                                     2.0,
                                     3.0,
                                     0.5,
                                     5e-324,
                                     2.2250738585072014e-308,
                                     1.7976931348623157e308,
                                     INFINITY,
                                     NAN,
                                     4503599627370496.0,
                                     9223372036854775808.0,
                                     255.5,
                                     709.7,
                                     745.0,
                                     1e5};
    uint64_t r = next(), e = next();
    if ((e >> 60) == 0) return special[(e >> 32) & 15] * (r & 1 ? 1.0 : -1.0);
    if (e >> 63) return bits64(r);
    return bits64((r & 0x800fffffffffffffu) | (uint64_t)(1000 + e % 40) << 52);
}
static int64_t anyint(void) {
    static const int64_t special[] = {0,         1,   -1,  2,         -2,        31,
                                      32,        63,  64,  INT32_MAX, INT32_MIN, INT64_MAX,
                                      INT64_MIN, 255, 256, 16777217};
    uint64_t r = next(), e = next();
    if (e & 1) return special[(e >> 8) & 15];
    return (int64_t)(r >> ((e >> 8) & 63));
}

// ---- accuracy: one table, f32 against double, f64 against long double
// ----------------------

typedef long double ld;
static ld r_sigmoid(ld x) { return x < 0 ? expl(x) / (1 + expl(x)) : 1 / (1 + expl(-x)); }
static ld r_silu(ld x) { return x * r_sigmoid(x); }
static ld r_gelu(ld x) { return x * 0.5L * erfcl(-x * 0.70710678118654752440084436L); }
static ld r_gelu_tanh(ld x) {
    return x *
           r_sigmoid(2 * 0.79788456080286535587989211986876L * (x + 0.044715L * x * x * x));
}
static ld r_softplus(ld x) { return (x > 0 ? x : 0) + log1pl(expl(-fabsl(x))); }
static ld r_rsqrt(ld x) { return 1 / sqrtl(x); }
static ld r_reciprocal(ld x) { return 1 / x; }

// name, reference, range of the dense samples, bounds in ulp for f32 and f64
// clang-format off
#define UNARY(X) \
    X(exp, expl, -104, 88, 1.1, 0.8) \
    X(exp2, exp2l, -149, 127, 1.0, 0.8) \
    X(expm1, expm1l, -20, 88, 1.5, 1.2) \
    X(log, logl, 0, 10, 0.9, 0.8) \
    X(log2, log2l, 0, 10, 1.6, 0.9) \
    X(log10, log10l, 0, 10, 2.0, 0.8) \
    X(log1p, log1pl, -1, 10, 1.5, 0.8) \
    X(sin, sinl, -100, 100, 1.7, 0.9) \
    X(cos, cosl, -100, 100, 1.7, 0.9) \
    X(tan, tanl, -100, 100, 2.5, 2.5) \
    X(asin, asinl, -1, 1, 2.0, 0.8) \
    X(acos, acosl, -1, 1, 1.5, 0.8) \
    X(atan, atanl, -10, 10, 1.5, 2.0) \
    X(sinh, sinhl, -88, 88, 1.7, 2.3) \
    X(cosh, coshl, -88, 88, 1.6, 1.2) \
    X(tanh, tanhl, -10, 10, 1.7, 2.5) \
    X(erf, erfl, -4, 4, 2.2, 1.6) \
    X(erfc, erfcl, -10, 10, 3.5, 3.8) \
    X(sigmoid, r_sigmoid, -100, 30, 2.5, 2.5) \
    X(silu, r_silu, -100, 30, 2.5, 2.9) \
    X(gelu, r_gelu, -14.4, 10, 3.7, 5.0) \
    X(gelu_tanh, r_gelu_tanh, -10.5, 10, 2.5, 2.9) \
    X(softplus, r_softplus, -100, 30, 1.8, 1.6) \
    X(rsqrt, r_rsqrt, 0, 10, 1.5, 1.5) \
    X(reciprocal, r_reciprocal, -10, 10, 0.501, 0.501) \
    X(floor, floorl, -100, 100, 0, 0) \
    X(ceil, ceill, -100, 100, 0, 0) \
    X(trunc, truncl, -100, 100, 0, 0) \
    X(round, rintl, -100, 100, 0, 0)
// clang-format on

static double ulps(ld got, ld want, int digits, int lowest) {
    int e;
    if (got == want || (got != got && want != want)) return 0;
    if (isinf(got) &&
        fabsl(want) > (digits == 24 ? 3.4028235e38L : 1.7976931348623157e308L))
        return 0;
    frexpl(want, &e);
    e -= digits;
    return (double)(fabsl(got - want) / ldexpl(1, e < lowest ? lowest : e));
}

static void accuracy(const char *name, float (*f)(float), double (*g)(double),
                     ld (*ref)(ld), double low, double high, double bound32,
                     double bound64) {
    double e, max32 = 0, max64 = 0, at32 = 0, at64 = 0;
    char text[160];
    int i;
    for (i = 0; i < 20000; i++) {
        double u = (double)(next() >> 11) * 1.1102230246251565e-16,
               x = low + (high - low) * (i & 1 ? u : ldexp(u, -(i % 20)));
        float y = (float)x;
        e = ulps(f(y), ref(y), 24, -149);
        if (e > max32) {
            max32 = e;
            at32 = y;
        }
        e = ulps(g(x), ref(x), 53, -1074);
        if (e > max64) {
            max64 = e;
            at64 = x;
        }
    }
    sprintf(text, "%s: f32 %.3f ulp at %.9g (bound %.3g), f64 %.3f at %.17g (bound %.3g)",
            name, max32, at32, bound32, max64, at64, bound64);
    check(max32 <= bound32 && (sizeof(ld) == 8 || max64 <= bound64), text);
}

static void test_accuracy(void) {
#define X(N, REF, LOW, HIGH, B32, B64)                                                     \
    accuracy(#N, s_##N##_f32, s_##N##_f64, REF, LOW, HIGH, B32, B64);
    UNARY(X)
#undef X
}

static void test_pairs(void) {
    double p32 = 0, p64 = 0, a32 = 0, a64 = 0, e;
    char text[120];
    int i, exact = 1;
    for (i = 0; i < 50000; i++) {
        double x = 20 * (double)(next() >> 11) * 1.1102230246251565e-16,
               y = (double)(int64_t)next() * 6e-18;
        float f = (float)x, g = (float)y, h = any32(), k = any32();
        double m = any64(), n = any64();
        if (i & 1) x = (x < 10 ? 1 + x * 1e-3 : x), y *= 20;
        e = ulps(s_pow_f32(f, g), powl(f, g), 24, -149);
        if (e > p32) p32 = e;
        e = ulps(s_pow_f64(x, y), powl(x, y), 53, -1074);
        if (e > p64 && fabsl(logl(powl(x, y))) < 708) p64 = e;
        e = ulps(s_atan2_f32(g, f - 10), atan2l(g, f - 10), 24, -149);
        if (e > a32) a32 = e;
        e = ulps(s_atan2_f64(y, x - 10), atan2l(y, x - 10), 53, -1074);
        if (e > a64) a64 = e;
        exact &=
            same32(s_fmod_f32(h, k), fmodf(h, k)) & same64(s_fmod_f64(m, n), fmod(m, n));
    }
    sprintf(text, "pow: f32 %.3f ulp (bound 0.6), f64 %.3f (bound 1.5)", p32, p64);
    check(p32 <= 0.6 && (p64 <= 1.5 || sizeof(ld) == 8), text);
    sprintf(text, "atan2: f32 %.3f ulp (bound 1.8), f64 %.3f (bound 2)", a32, a64);
    check(a32 <= 1.8 && (a64 <= 2 || sizeof(ld) == 8), text);
    check(exact, "fmod is exact for f32 and f64");
}

// ---- specials
// -----------------------------------------------------------------------------

static void test_specials(void) {
    static const double in[] = {0.0, -0.0, 1.0,   -1.0,  INFINITY, -INFINITY,
                                NAN, 1e30, -1e30, 1e-40, -1e-40,   5e-324};
    int i, j, k, n = (int)(sizeof in / sizeof *in);
#define X(N, REF, LOW, HIGH, B32, B64)                                                     \
    {                                                                                      \
        int ok = 1;                                                                        \
        for (i = 0; i < n; i++) {                                                          \
            float x = (float)in[i], got = s_##N##_f32(x), want = (float)REF(x);            \
            double y = s_##N##_f64(in[i]), z = (double)REF(in[i]);                         \
            ok &= want == 0 || isnan(want) || isinf(want)                                  \
                      ? same32(got, want)                                                  \
                      : fabs(got - want) <= fabs(want) * 1e-6 + 1e-44;                     \
            ok &= z == 0 || isnan(z) || isinf(z)                                           \
                      ? same64(y, z)                                                       \
                      : fabs(y - z) <= fabs(z) * 1e-14 + 1e-322;                           \
        }                                                                                  \
        check(ok, #N " at zeros, infinities, NaN, huge, denormals");                       \
    }
    UNARY(X)
#undef X
    for (k = 1, i = 0; i < n; i++) {
        for (j = 0; j < n; j++) {
            float x = (float)in[i], y = (float)in[j];
            k &= same32(s_pow_f32(x, y), powf(x, y)) ||
                 fabs(s_pow_f32(x, y) / powf(x, y) - 1) < 1e-6;
            k &= same64(s_pow_f64(in[i], in[j]), pow(in[i], in[j])) ||
                 fabs(s_pow_f64(in[i], in[j]) / pow(in[i], in[j]) - 1) < 1e-14;
            k &= same32(s_atan2_f32(x, y), atan2f(x, y)) ||
                 fabs(s_atan2_f32(x, y) / atan2f(x, y) - 1) < 1e-6;
            k &= same64(s_atan2_f64(in[i], in[j]), atan2(in[i], in[j])) ||
                 fabs(s_atan2_f64(in[i], in[j]) / atan2(in[i], in[j]) - 1) < 1e-14;
            if (!k) {
                printf("  at %g, %g: %g %g %g %g\n", in[i], in[j], s_pow_f32(x, y),
                       s_pow_f64(in[i], in[j]), s_atan2_f32(x, y),
                       s_atan2_f64(in[i], in[j]));
                i = n;
                break;
            }
        }
    }
    check(k, "pow and atan2 at all pairs of specials");
    check(s_pow_f32(-8.0f, 3.0f) == -512.0f && isnan(s_pow_f32(-8.0f, 0.5f)) &&
              s_pow_f64(-2.0, -3.0) == -0.125,
          "pow of a negative base");
    check(s_remainder_f32(-7.0f, 3.0f) == 2.0f && s_remainder_f32(7.0f, -3.0f) == -2.0f &&
              s_fmod_f32(-7.0f, 3.0f) == -1.0f,
          "remainder has the divisor's sign, fmod the dividend's");
    check(s_floor_divide_f32(-7.0f, 2.0f) == -4.0f &&
              isinf(s_floor_divide_f32(1.0f, 0.0f)) &&
              s_floor_divide_f64(7.0, -2.0) == -4.0,
          "floor_divide");
    check(s_sign_f32(-3.0f) == -1.0f && s_sign_f32(0.0f) == 0.0f &&
              s_sign_f64(9.0) == 1.0 && s_sign_f64(NAN) == 0.0,
          "sign");
    check(fabs(s_tan_f32(52516.4336f) / tan((double)52516.4336f) - 1) < 2e-7,
          "tan next to a multiple of pi/2");
    check(isnan(s_maximum_f32(NAN, 1.0f)) && isnan(s_minimum_f32(1.0f, NAN)) &&
              s_maximum_f64(1.0, 2.0) == 2.0,
          "maximum and minimum pass NaN on");
    check(s_sin_f32(1e30f) == (float)sin((double)1e30f) &&
              fabs(s_sin_f64(1e300) - sin(1e300)) < 1e-15,
          "sin far out");
}

// ---- software fma and sqrt
// ------------------------------------------------------------------

static void test_base(void) {
    int i, ok = 1, root = 1;
    for (i = 0; i < 500000; i++) {
        float a = any32(), b = any32(), c = any32();
        double d = any64();
        if (i & 1) c = -a * b * (1 + (float)(i % 5 - 2) * 1.1920929e-07f);
        ok &= same32(s_fma_f32(a, b, c), fmaf(a, b, c));
        root &= same32(s_sqrt_f32(a), sqrtf(a)) & same64(s_sqrt_f64(d), sqrt(d));
    }
    check(ok, "fma_f32 equals fmaf on 500000 random triples");
    check(root, "sqrt is correctly rounded");
}

// ---- integers and casts
// -----------------------------------------------------------------------

static void test_integers(void) {
    int i, ok = 1, pw = 1;
    check(s_div_trunc_i32(7, 0) == 0 && s_div_trunc_i32(INT32_MIN, -1) == INT32_MIN &&
              s_fmod_i32(INT32_MIN, -1) == 0 && s_remainder_i64(5, 0) == 0,
          "x / 0 = 0, x % 0 = 0, INT_MIN / -1 = INT_MIN");
    check(s_floor_divide_i32(-7, 2) == -4 && s_remainder_i32(-7, 3) == 2 &&
              s_remainder_i32(7, -3) == -2 && s_fmod_i64(-7, 3) == -1 &&
              s_floor_divide_i64(7, -2) == -4,
          "floor_divide, remainder, fmod");
    check(s_shl_i32(1, 31) == INT32_MIN && s_shl_i32(1, 32) == 0 && s_shl_i32(1, -1) == 0 &&
              s_shr_i32(-8, 1) == -4 && s_shr_i32(-8, 40) == -1 && s_shr_i32(8, -1) == 0 &&
              s_shl_i64(1, 63) == INT64_MIN && s_shr_i64(-1, 64) == -1,
          "shifts");
    check(s_pow_i32(3, 4) == 81 && s_pow_i32(2, -1) == 0 && s_pow_i32(-1, -3) == -1 &&
              s_pow_i32(1, -9) == 1 && s_pow_i32(0, 0) == 1 &&
              s_pow_i64(-2, 63) == INT64_MIN,
          "pow");
    check(s_abs_i32(INT32_MIN) == INT32_MIN && s_abs_i64(-5) == 5 && s_sign_i32(-5) == -1 &&
              s_sign_i64(0) == 0,
          "abs and sign");
    for (i = 0; i < 100000; i++) {
        int32_t a = (int32_t)anyint(), b = (int32_t)anyint();
        int64_t c = anyint(), d = anyint();
        if (b && !(a == INT32_MIN && b == -1))
            ok &= s_div_trunc_i32(a, b) == a / b && s_fmod_i32(a, b) == a % b;
        if (d && !(c == INT64_MIN && d == -1)) {
            int64_t q = c / d, r = c % d;
            ok &= s_div_trunc_i64(c, d) == q &&
                  s_remainder_i64(c, d) == (r && (r < 0) != (d < 0) ? r + d : r);
            ok &= s_floor_divide_i64(c, d) == (r && (r < 0) != (d < 0) ? q - 1 : q);
        }
        b &= 15;
        {
            uint32_t w = 1;
            int k;
            for (k = 0; k < b; k++) w *= (uint32_t)a;
            pw &= s_pow_i32(a, b) == (int32_t)w;
        }
    }
    check(ok, "division against C on 100000 random pairs");
    check(pw, "integer pow wraps");
}

static void test_casts(void) {
    int i, ok = 1;
    check(s_cast_f32_i32(3e9f) == INT32_MAX && s_cast_f32_i32(-3e9f) == INT32_MIN &&
              s_cast_f32_i32(NAN) == 0 && s_cast_f32_i32(-1.9f) == -1,
          "f32 -> i32 saturates");
    check(s_cast_f64_i32(2147483647.9) == INT32_MAX &&
              s_cast_f64_i32(-2147483648.9) == INT32_MIN && s_cast_f64_i32(NAN) == 0 &&
              s_cast_f64_i32(-INFINITY) == INT32_MIN,
          "f64 -> i32 saturates");
    check(s_cast_f32_i64(INFINITY) == INT64_MAX && s_cast_f64_i64(-1e300) == INT64_MIN &&
              s_cast_f64_i64(NAN) == 0 &&
              s_cast_f64_i64(9007199254740993.0) == 9007199254740992,
          "float -> i64 saturates");
    check(s_cast_f32_u8(300.0f) == 255 && s_cast_f32_u8(-1.0f) == 0 &&
              s_cast_f32_u8(NAN) == 0 && s_cast_f64_u8(254.9) == 254 &&
              s_cast_f64_u8(1e300) == 255,
          "float -> u8 saturates");
    check(s_cast_f32_i8(300.0f) == 127 && s_cast_f32_i8(-1e30f) == -128 &&
              s_cast_f32_i8(NAN) == 0 && s_cast_f32_i8(-127.9f) == -127 &&
              s_cast_f64_i8(126.9) == 126 && s_cast_f64_i8(-INFINITY) == -128 &&
              s_cast_f64_i8(1e300) == 127 && s_cast_f64_i8(NAN) == 0,
          "float -> i8 saturates");
    check(s_cast_f32_i16(40000.0f) == 32767 && s_cast_f32_i16(-INFINITY) == -32768 &&
              s_cast_f32_i16(NAN) == 0 && s_cast_f32_i16(-32767.5f) == -32767 &&
              s_cast_f64_i16(32766.9) == 32766 && s_cast_f64_i16(-1e300) == -32768 &&
              s_cast_f64_i16(3e9) == 32767 && s_cast_f64_i16(NAN) == 0,
          "float -> i16 saturates");
    check(s_cast_i32_u8(-1) == 255 && s_cast_i64_u8(257) == 1 &&
              s_cast_i64_i32(INT64_C(0x100000005)) == 5,
          "integers wrap");
    check(s_cast_i32_i8(128) == -128 && s_cast_i32_i8(-129) == 127 &&
              s_cast_i32_i8(0x17f) == 127 && s_cast_i64_i8(INT64_C(0x1000000ff)) == -1 &&
              s_cast_i32_i16(32768) == -32768 && s_cast_i32_i16(-32769) == 32767 &&
              s_cast_i32_i16(65535) == -1 && s_cast_i64_i16(INT64_C(0x100008000)) == -32768,
          "integers wrap to i8 and i16");
    check(s_cast_f32_bool(NAN) == 1 && s_cast_f64_bool(-0.0) == 0 &&
              s_cast_i32_bool(7) == 1 && s_cast_i64_bool(INT64_MIN) == 1 &&
              s_cast_i32_bool(0) == 0 && s_cast_i64_bool(0) == 0,
          "to bool");
    check(s_cast_bool_f32(1) == 1.0f && s_cast_bool_i64(1) == 1 &&
              s_cast_bool_i32(0) == 0 && s_cast_bool_f64(1) == 1.0 &&
              s_cast_i32_f32(200) == 200.0f && s_cast_i32_f64(-7) == -7.0 &&
              s_cast_i32_i64(-9) == -9 && s_cast_bool_i32(1) == 1,
          "from bool and i32");
    // 65519 is the last that is no infinity in f16; 257 and 259 lie halfway in bf16; f64 goes by way
    // of f32, which makes a middle of what is just above one.
    check(s_cast_i32_f16(2049) == 2048.0f && s_cast_i32_f16(-2051) == -2052.0f &&
              isinf(s_cast_i32_f16(65520)) && s_cast_i32_f16(65519) == 65504.0f &&
              s_cast_i64_f16(-65519) == -65504.0f && isinf(s_cast_i64_f16(INT64_MIN)) &&
              s_cast_i32_bf16(257) == 256.0f && s_cast_i32_bf16(259) == 260.0f &&
              s_cast_i64_bf16(INT64_MAX) == 9223372036854775808.0f,
          "integers -> halves");
    check(s_cast_f64_f16(1 + 0x1p-11 + 0x1p-40) == 1.0f &&
              s_cast_f64_f16(1e300) == INFINITY && s_cast_f64_f16(0x1p-25) == 0.0f &&
              s_cast_f64_f16(0x1.8p-25) == 0x1p-24f &&
              s_cast_f64_bf16(1 + 0x1.8p-8) == 1 + 0x1p-7f && isnan(s_cast_f64_bf16(NAN)) &&
              s_cast_f64_bf16(3.4e38) == INFINITY,
          "f64 -> halves");
    check(s_cast_i64_f32(INT64_C(0x7fffffbfffffffff)) == 9223371487098961920.0f &&
              s_cast_i64_f32(16777217) == 16777216.0f,
          "i64 -> f32 rounds once");
    for (i = 0; i < 100000; i++) {
        float x = any32();
        double d = any64();
        ok &= same32(s_cast_f64_f32(d), (float)d) && same64(s_cast_f32_f64(x), (double)x) &&
              s_cast_i32_f64((int32_t)i) == (double)i;
    }
    check(ok, "f32 <-> f64");
}

static void philox(uint32_t w[4], uint32_t low, uint32_t high, uint64_t draw,
                   uint64_t seed) {
    w[0] = low, w[1] = high;
    s_philox_u32(w, draw, seed);
}

static void test_philox(void) {
    uint32_t w[4];
    double sum = 0, square = 0, mean = 0;
    int i;
    philox(w, 0, 0, 0, 0);
    check(w[0] == 0x6627e8d5u && w[1] == 0xe169c58du && w[2] == 0xbc57ac4cu &&
              w[3] == 0x9b00dbd8u,
          "Philox known answer: zeros");
    philox(w, ~0u, ~0u, UINT64_MAX, UINT64_MAX);
    check(w[0] == 0x408f276du && w[1] == 0x41c83b0eu && w[2] == 0xa20bc7c6u &&
              w[3] == 0x6d5451fdu,
          "Philox known answer: ones");
    philox(w, 0x243f6a88u, 0x85a308d3u, 0x0370734413198a2eu, 0x299f31d0a4093822u);
    check(w[0] == 0xd16cfe09u && w[1] == 0x94fdccebu && w[2] == 0x5001e420u &&
              w[3] == 0x24126ea1u,
          "Philox known answer: digits of pi");
    check(s_uniform_f32(0xffffffffu) < 1.0f && s_uniform_f32(0) == 0.0f &&
              s_uniform_f64(~0u, ~0u) < 1.0 && s_normal_f32(0xffffffffu, 0) == 0.0f,
          "ends of the uniform range");
    for (i = 0; i < 100000; i++) {
        double z;
        philox(w, (uint32_t)i, 0, 1, 42);
        mean += s_uniform_f32(w[2]);
        z = i & 1 ? s_normal_f32(w[0], w[1]) : s_normal_f64(w[0], w[1], w[2], w[3]);
        sum += z;
        square += z * z;
    }
    check(fabs(mean / 1e5 - 0.5) < 0.005 && fabs(sum / 1e5) < 0.02 &&
              fabs(square / 1e5 - 1) < 0.03,
          "moments of uniform and normal");
}

static void test_combine(void) {
    float v[32], t[32];
    int i, h;
    for (i = 0; i < 32; i++) t[i] = v[i] = (float)(i * i) * 0.1f + 1e7f * (float)(i & 1);
    for (h = 16; h; h /= 2)
        for (i = 0; i < h; i++) t[i] = t[i] + t[i + h];
    combine(v);
    check(same32(v[0], t[0]), "combine order");
}

// ---- halves ----------------------------------------------------------------------------

// One form's ways between f32 and 16 bits, over the lanes at p. `part` gives all lanes but the last.
typedef struct half_form {
    const char *name;
    int lanes;
    half_format format;
    void (*load)(float *to, const uint16_t *from);
    void (*load_part)(float *to, const uint16_t *from, int n);
    void (*store)(uint16_t *to, const float *from);
    void (*store_part)(uint16_t *to, const float *from, int n);
    void (*cast)(float *to, const float *from);
} half_form;

#define HALF(P, ATTR, T)                                                                   \
    ATTR static void P##T##_load(float *to, const uint16_t *from) {                        \
        P##st_f32(to, P##ld_##T(from));                                                    \
    }                                                                                      \
    ATTR static void P##T##_load_part(float *to, const uint16_t *from, int n) {            \
        P##st_f32(to, P##ldn_##T(from, n));                                                \
    }                                                                                      \
    ATTR static void P##T##_store(uint16_t *to, const float *from) {                       \
        P##st_##T(to, P##ld_f32(from));                                                    \
    }                                                                                      \
    ATTR static void P##T##_store_part(uint16_t *to, const float *from, int n) {           \
        P##stn_##T(to, P##ld_f32(from), n);                                                \
    }                                                                                      \
    ATTR static void P##T##_cast(float *to, const float *from) {                           \
        P##st_f32(to, P##cast_f32_##T(P##ld_f32(from)));                                   \
    }
#define HALF_ROW(P, LANES, T, NAME)                                                        \
    {                                                                                      \
        NAME " " #T, LANES, {half_digits_##T, half_lowest_##T}, P##T##_load,               \
            P##T##_load_part, P##T##_store, P##T##_store_part, P##T##_cast                 \
    }
enum { half_digits_f16 = 10, half_lowest_f16 = -14 };
enum { half_digits_bf16 = 7, half_lowest_bf16 = -126 };

HALF(s_, UNUSED, f16)
HALF(s_, UNUSED, bf16)
#if VECTOR
HALF(v_, AVX2, f16)
HALF(v_, AVX2, bf16)
HALF(g_, AVX2, f16)
HALF(g_, AVX2, bf16)
HALF(p_, AVX2, f16)
HALF(p_, AVX2, bf16)
HALF(z_, AVX512, f16)
HALF(z_, AVX512, bf16)
#endif

static const half_form half_scalar[] = {HALF_ROW(s_, 1, f16, "scalar"),
                                        HALF_ROW(s_, 1, bf16, "scalar")};
#if VECTOR
static const half_form half_plain[] = {
    HALF_ROW(g_, 4, f16, "4 lanes"), HALF_ROW(g_, 4, bf16, "4 lanes"),
    HALF_ROW(p_, 8, f16, "8 lanes"), HALF_ROW(p_, 8, bf16, "8 lanes")};
static const half_form half_avx2[] = {HALF_ROW(v_, 8, f16, "AVX2"),
                                      HALF_ROW(v_, 8, bf16, "AVX2")};
static const half_form half_avx512[] = {HALF_ROW(z_, 16, f16, "AVX-512"),
                                        HALF_ROW(z_, 16, bf16, "AVX-512")};
#endif

static float half_input[HALF_CASES];

// All 65536 halves to f32, whole vectors and with a lane left out, which is 0.
static void test_half_loads(const half_form *f) {
    char what[80];
    uint16_t in[16];
    float out[16];
    int ok = 1, part = 1;
    for (uint32_t h = 0; h < 0x10000; h += (uint32_t)f->lanes) {
        for (int i = 0; i < f->lanes; i++) in[i] = (uint16_t)(h + (uint32_t)i);
        f->load(out, in);
        for (int i = 0; i < f->lanes; i++) {
            float want = (float)half_value(f->format, in[i]);
            if (!same32(out[i], want) && ok)
                ok = 0, printf("  %04x: %.9g, not %.9g\n", in[i], out[i], want);
        }
        f->load_part(out, in, f->lanes - 1);
        for (int i = 0; i < f->lanes; i++)
            part &=
                same32(out[i], i < f->lanes - 1 ? (float)half_value(f->format, in[i]) : 0);
    }
    snprintf(what, sizeof what, "%s to f32: all values", f->name);
    check(ok, what);
    snprintf(what, sizeof what, "%s to f32: a lane less", f->name);
    check(part, what);
}

static void test_half_stores(const half_form *f) {
    char what[80];
    uint16_t out[16], part[16];
    float cast[16];
    int ok = 1, part_ok = 1, cast_ok = 1;
    half_cases(f->format, half_input);
    for (int k = 0; k < HALF_CASES; k += f->lanes) {
        const float *in = half_input + k;
        memset(part, 0x5a, sizeof part);
        f->store(out, in), f->store_part(part, in, f->lanes - 1), f->cast(cast, in);
        for (int i = 0; i < f->lanes; i++) {
            uint16_t want = half_nearest(f->format, (double)in[i]);
            if (!half_same(f->format, out[i], want) && ok)
                ok = 0, printf("  %.9g: %04x, not %04x\n", in[i], out[i], want);
            part_ok &=
                i < f->lanes - 1 ? half_same(f->format, part[i], want) : part[i] == 0x5a5a;
            cast_ok &= same32(cast[i], (float)half_value(f->format, want));
        }
    }
    snprintf(what, sizeof what, "f32 to %s: neighbours and middles of all values", f->name);
    check(ok, what);
    snprintf(what, sizeof what, "f32 to %s: a lane less", f->name);
    check(part_ok, what);
    snprintf(what, sizeof what, "f32 rounded to %s", f->name);
    check(cast_ok, what);
}

static void test_halves(const half_form *f, size_t n) {
    for (size_t i = 0; i < n; i++) test_half_loads(f + i), test_half_stores(f + i);
}

// The reference itself, at values that are known by heart.
static void test_half_reference(void) {
    check(half_value(half_f16, 0x3c00) == 1 && half_value(half_f16, 0x7bff) == 65504 &&
              half_value(half_f16, 0x8001) == -0x1p-24 &&
              half_value(half_f16, 0x0400) == 0x1p-14 &&
              half_value(half_bf16, 0x3f80) == 1 &&
              half_value(half_bf16, 0x0001) == 0x1p-133 &&
              half_value(half_bf16, 0x7f7f) == 0x1.fep127 &&
              isinf(half_value(half_bf16, 0xff80)),
          "values of halves");
    check(half_nearest(half_f16, 65519.99) == 0x7bff &&
              half_nearest(half_f16, 65520) == 0x7c00 &&
              half_nearest(half_f16, 2049) == 0x6800 &&
              half_nearest(half_f16, 2051) == 0x6802 &&
              half_nearest(half_f16, -0x1p-25) == 0x8000 &&
              half_nearest(half_f16, 1e9) == 0x7c00 &&
              half_nearest(half_bf16, 257) == 0x4380 &&
              half_nearest(half_bf16, 259) == 0x4382 &&
              half_nearest(half_bf16, -1e300) == 0xff80,
          "the nearest half");
}

// ---- scalar against vector
// ------------------------------------------------------------------

#if VECTOR
#    define UNARY_BITS(X)                                                                  \
        X(frac)                                                                            \
        X(abs)                                                                             \
        X(sign)                                                                            \
        X(sqrt_of)
#    define BINARY_BITS(X)                                                                 \
        X(pow)                                                                             \
        X(atan2)                                                                           \
        X(fmod)                                                                            \
        X(remainder)                                                                       \
        X(floor_divide)                                                                    \
        X(maximum)                                                                         \
        X(minimum)                                                                         \
        X(copysign)
#    define INT_BITS(X)                                                                    \
        X(div_trunc)                                                                       \
        X(fmod)                                                                            \
        X(floor_divide)                                                                    \
        X(remainder)                                                                       \
        X(shl)                                                                             \
        X(shr)                                                                             \
        X(pow)                                                                             \
        X(maximum)                                                                         \
        X(minimum)

// One row: CALL computes into o[] from a[] and b[] by form P with W lanes.
#    define LOOP1(P, ATTR, N, C, E)                                                        \
        ATTR static void P##N##_##C##_loop(E *o, const E *a, const E *b) {                 \
            (void)b;                                                                       \
            P##st_##C(o, P##N##_##C(P##ld_##C(a)));                                        \
        }
#    define LOOP2(P, ATTR, N, C, E)                                                        \
        ATTR static void P##N##_##C##_loop(E *o, const E *a, const E *b) {                 \
            P##st_##C(o, P##N##_##C(P##ld_##C(a), P##ld_##C(b)));                          \
        }
#    define F1(N)                                                                          \
        LOOP1(v_, AVX2, N, f32, float)                                                     \
        LOOP1(g_, AVX2, N, f32, float)                                                     \
        LOOP1(w_, AVX2, N, f64, double) LOOP1(g_, AVX2, N, f64, double)
#    define F2(N)                                                                          \
        LOOP2(v_, AVX2, N, f32, float)                                                     \
        LOOP2(g_, AVX2, N, f32, float)                                                     \
        LOOP2(w_, AVX2, N, f64, double) LOOP2(g_, AVX2, N, f64, double)
#    define I2(N)                                                                          \
        LOOP2(v_, AVX2, N, i32, int32_t)                                                   \
        LOOP2(g_, AVX2, N, i32, int32_t)                                                   \
        LOOP2(w_, AVX2, N, i64, int64_t) LOOP2(g_, AVX2, N, i64, int64_t)
#    define X(N, REF, LOW, HIGH, B32, B64) F1(N)
UNARY(X)
#    undef X
UNARY_BITS(F1)
BINARY_BITS(F2)
INT_BITS(I2)

// Casts: SRC, its lane type and memory name, DST, by form and width.
#    define CASTS32(X)                                                                     \
        X(f32, float, i32, int32_t)                                                        \
        X(f32, float, u8, uint8_t)                                                         \
        X(f32, float, i8, int8_t)                                                          \
        X(f32, float, i16, int16_t)                                                        \
        X(f32, float, bool, uint8_t)                                                       \
        X(f32, float, f16, uint16_t)                                                       \
        X(f32, float, bf16, uint16_t)                                                      \
        X(i32, int32_t, f32, float)                                                        \
        X(i32, int32_t, u8, uint8_t)                                                       \
        X(i32, int32_t, i8, int8_t)                                                        \
        X(i32, int32_t, i16, int16_t)                                                      \
        X(i32, int32_t, bool, uint8_t)                                                     \
        X(i32, int32_t, f16, uint16_t)                                                     \
        X(i32, int32_t, bf16, uint16_t)                                                    \
        X(bool, uint8_t, f32, float)                                                       \
        X(bool, uint8_t, i32, int32_t)
#    define CASTS64(X)                                                                     \
        X(f32, float, f64, double)                                                         \
        X(f32, float, i64, int64_t)                                                        \
        X(f64, double, f32, float)                                                         \
        X(f64, double, i32, int32_t)                                                       \
        X(f64, double, i64, int64_t)                                                       \
        X(f64, double, u8, uint8_t)                                                        \
        X(f64, double, i8, int8_t)                                                         \
        X(f64, double, i16, int16_t)                                                       \
        X(f64, double, bool, uint8_t)                                                      \
        X(f64, double, f16, uint16_t)                                                      \
        X(f64, double, bf16, uint16_t)                                                     \
        X(i32, int32_t, f64, double)                                                       \
        X(i32, int32_t, i64, int64_t)                                                      \
        X(i64, int64_t, f32, float)                                                        \
        X(i64, int64_t, f64, double)                                                       \
        X(i64, int64_t, i32, int32_t)                                                      \
        X(i64, int64_t, u8, uint8_t)                                                       \
        X(i64, int64_t, i8, int8_t)                                                        \
        X(i64, int64_t, i16, int16_t)                                                      \
        X(i64, int64_t, bool, uint8_t)                                                     \
        X(i64, int64_t, f16, uint16_t)                                                     \
        X(i64, int64_t, bf16, uint16_t)                                                    \
        X(bool, uint8_t, f64, double)                                                      \
        X(bool, uint8_t, i64, int64_t)
#    define CAST(P, ATTR, S, SE, D, DE)                                                    \
        ATTR static void P##S##_to_##D(DE *o, const SE *a) {                               \
            P##st_##D(o, P##cast_##S##_##D(P##ld_##S(a)));                                 \
        }
#    define C32(S, SE, D, DE)                                                              \
        CAST(s_, UNUSED, S, SE, D, DE)                                                     \
        CAST(v_, AVX2, S, SE, D, DE) CAST(g_, AVX2, S, SE, D, DE)
#    define C64(S, SE, D, DE)                                                              \
        CAST(s_, UNUSED, S, SE, D, DE)                                                     \
        CAST(w_, AVX2, S, SE, D, DE) CAST(g_, AVX2, S, SE, D, DE)
CASTS32(C32)
CASTS64(C64)

typedef void loop32(float *, const float *, const float *);
typedef void loop64(double *, const double *, const double *);

enum { LANES_MAX = 8 };

static int bits32_equal(loop32 *f, int width, float (*one)(float),
                        float (*two)(float, float), long count) {
    float a[LANES_MAX], b[LANES_MAX], o[LANES_MAX];
    long k;
    int i;
    for (k = 0; k < count; k += width) {
        for (i = 0; i < width; i++) {
            a[i] = any32();
            b[i] = any32();
        }
        f(o, a, b);
        for (i = 0; i < width; i++) {
            float want = one ? one(a[i]) : two(a[i], b[i]);
            if (!same32(o[i], want)) {
                printf("  at %.9g, %.9g: vector %.9g, scalar %.9g\n", a[i], b[i], o[i],
                       want);
                return 0;
            }
        }
    }
    return 1;
}

static int bits64_equal(loop64 *f, int width, double (*one)(double),
                        double (*two)(double, double), long count) {
    double a[LANES_MAX], b[LANES_MAX], o[LANES_MAX];
    long k;
    int i;
    for (k = 0; k < count; k += width) {
        for (i = 0; i < width; i++) {
            a[i] = any64();
            b[i] = any64();
        }
        f(o, a, b);
        for (i = 0; i < width; i++) {
            double want = one ? one(a[i]) : two(a[i], b[i]);
            if (!same64(o[i], want)) {
                printf("  at %.17g, %.17g: vector %.17g, scalar %.17g\n", a[i], b[i], o[i],
                       want);
                return 0;
            }
        }
    }
    return 1;
}

static void test_vectors(void) {
    long n32 = 1000000, n64 = 200000;
#    define ROW(N, ONE32, TWO32, ONE64, TWO64)                                             \
        check(((bits32_equal(v_##N##_f32_loop, 8, ONE32, TWO32, n32) &&                    \
                bits64_equal(w_##N##_f64_loop, 4, ONE64, TWO64, n64))) &&                  \
                  bits32_equal(g_##N##_f32_loop, 4, ONE32, TWO32, n32 / 8) &&              \
                  bits64_equal(g_##N##_f64_loop, 4, ONE64, TWO64, n64 / 4),                \
              #N ": scalar and vector bits");
#    define R1(N)                          ROW(N, s_##N##_f32, 0, s_##N##_f64, 0)
#    define R2(N)                          ROW(N, 0, s_##N##_f32, 0, s_##N##_f64)
#    define X(N, REF, LOW, HIGH, B32, B64) R1(N)
    UNARY(X)
#    undef X
    UNARY_BITS(R1)
    BINARY_BITS(R2)
}

static void test_vector_integers(void) {
    int ok, i, k;
    int32_t a[8], b[8], o[8];
    int64_t c[4], d[4], p[4];
#    define X(N)                                                                           \
        for (ok = 1, k = 0; k < 20000; k++) {                                              \
            for (i = 0; i < 8; i++) a[i] = (int32_t)anyint(), b[i] = (int32_t)anyint();    \
            for (i = 0; i < 4; i++) c[i] = anyint(), d[i] = anyint();                      \
            v_##N##_i32_loop(o, a, b);                                                     \
            for (i = 0; i < 8; i++) ok &= o[i] == s_##N##_i32(a[i], b[i]);                 \
            w_##N##_i64_loop(p, c, d);                                                     \
            for (i = 0; i < 4; i++) ok &= p[i] == s_##N##_i64(c[i], d[i]);                 \
            g_##N##_i32_loop(o, a, b);                                                     \
            for (i = 0; i < 4; i++) ok &= o[i] == s_##N##_i32(a[i], b[i]);                 \
            g_##N##_i64_loop(p, c, d);                                                     \
            for (i = 0; i < 4; i++) ok &= p[i] == s_##N##_i64(c[i], d[i]);                 \
        }                                                                                  \
        check(ok, #N ": integer scalar and vector");
    INT_BITS(X)
#    undef X
}

static void fill(const char *type, void *p) {
    int i;
    for (i = 0; i < 8; i++) {
        if (!strcmp(type, "f32"))
            ((float *)p)[i] = any32();
        else if (!strcmp(type, "f64"))
            ((double *)p)[i] = any64();
        else if (!strcmp(type, "i32"))
            ((int32_t *)p)[i] = (int32_t)anyint();
        else if (!strcmp(type, "i64"))
            ((int64_t *)p)[i] = anyint();
        else
            ((uint8_t *)p)[i] = (uint8_t)(next() & 1);
    }
}

static int same_bytes(const char *type, const void *a, const void *b, int n, size_t size) {
    int i;
    for (i = 0; i < n; i++) {
        if (!strcmp(type, "f32") && same32(((const float *)a)[i], ((const float *)b)[i]))
            continue;
        if (!strcmp(type, "f64") && same64(((const double *)a)[i], ((const double *)b)[i]))
            continue;
        if (!strcmp(type, "f16") &&
            half_same(half_f16, ((const uint16_t *)a)[i], ((const uint16_t *)b)[i]))
            continue;
        if (!strcmp(type, "bf16") &&
            half_same(half_bf16, ((const uint16_t *)a)[i], ((const uint16_t *)b)[i]))
            continue;
        if (memcmp((const char *)a + (size_t)i * size, (const char *)b + (size_t)i * size,
                   size))
            return 0;
    }
    return 1;
}

static void test_vector_casts(void) {
    int ok, i, k;
#    define ROWC(P, W, S, SE, D, DE)                                                       \
        {                                                                                  \
            SE in[8];                                                                      \
            DE want[8], got[8];                                                            \
            for (ok = 1, k = 0; k < 20000; k++) {                                          \
                fill(#S, in);                                                              \
                for (i = 0; i < 8; i++) s_##S##_to_##D(want + i, in + i);                  \
                P##S##_to_##D(got, in);                                                    \
                ok &= same_bytes(#D, got, want, W, sizeof(DE));                            \
                g_##S##_to_##D(got, in);                                                   \
                ok &= same_bytes(#D, got, want, 4, sizeof(DE));                            \
            }                                                                              \
            check(ok, "cast " #S " -> " #D ": scalar and vector");                         \
        }
#    define X(S, SE, D, DE) ROWC(v_, 8, S, SE, D, DE)
    CASTS32(X)
#    undef X
#    define X(S, SE, D, DE) ROWC(w_, 4, S, SE, D, DE)
    CASTS64(X)
#    undef X
}

// The narrow forms of 16 lanes: what AVX-512 does in one instruction.
#    define C512(S, SE, D, DE) CAST(z_, AVX512, S, SE, D, DE)
CASTS32(C512)

static void test_512(void) {
    int ok, i, k;
#    define X(S, SE, D, DE)                                                                \
        {                                                                                  \
            SE in[16];                                                                     \
            DE want[16], got[16];                                                          \
            for (ok = 1, k = 0; k < 20000; k++) {                                          \
                fill(#S, in), fill(#S, in + 8);                                            \
                for (i = 0; i < 16; i++) s_##S##_to_##D(want + i, in + i);                 \
                z_##S##_to_##D(got, in);                                                   \
                ok &= same_bytes(#D, got, want, 16, sizeof(DE));                           \
            }                                                                              \
            check(ok, "cast " #S " -> " #D ": scalar and AVX-512");                        \
        }
    CASTS32(X)
#    undef X
}

AVX2 static void v_random(float *u, float *z, uint32_t *all, const int32_t *low) {
    v_vu l = (v_vu)v_ld_i32(low), w[4] = {l, l ^ l};
    v_philox_u32(w, 7, 99);
    v_st_f32(u, v_uniform_f32(w[2]));
    v_st_f32(z, v_normal_f32(w[0], w[1]));
    v_st_i32((int32_t *)all, (v_vi)w[3]);
}

AVX2 static void g_random(double *u, double *z, uint32_t *all, const int32_t *low) {
    g_vu l = (g_vu)g_ld_i32(low), w[4] = {l, l ^ l};
    g_philox_u32(w, 7, 99);
    g_st_f64(u, g_uniform_f64(w[0], w[1]));
    g_st_f64(z, g_normal_f64(w[0], w[1], w[2], w[3]));
    g_st_i32((int32_t *)all, (g_vi)w[3]);
}

static void test_vector_random(void) {
    int ok = 1, i, k;
    for (k = 0; k < 2000; k++) {
        float u[8], z[8];
        double ud[4], zd[4];
        uint32_t all[8], w[4];
        int32_t low[8];
        for (i = 0; i < 8; i++) low[i] = (int32_t)next();
        v_random(u, z, all, low);
        for (i = 0; i < 8; i++) {
            philox(w, (uint32_t)low[i], 0, 7, 99);
            ok &= all[i] == w[3] && same32(u[i], s_uniform_f32(w[2])) &&
                  same32(z[i], s_normal_f32(w[0], w[1]));
        }
        g_random(ud, zd, all, low);
        for (i = 0; i < 4; i++) {
            philox(w, (uint32_t)low[i], 0, 7, 99);
            ok &= all[i] == w[3] && same64(ud[i], s_uniform_f64(w[0], w[1])) &&
                  same64(zd[i], s_normal_f64(w[0], w[1], w[2], w[3]));
        }
    }
    check(ok, "Philox, uniform, normal: scalar and vector");
}

AVX2 static int v_memory(void) {
    float a[16], o[16];
    uint8_t c[16], d[16];
    int i, n, ok = 1;
    for (n = 0; n <= 8; n++) {
        for (i = 0; i < 16; i++)
            a[i] = (float)(i + 1), o[i] = -1.0f, c[i] = (uint8_t)(i * 37), d[i] = 99;
        v_stn_f32(o + 1, v_ldn_f32(a + 3, n), 8);
        for (i = 0; i < 8; i++) ok &= o[i + 1] == (i < n ? a[i + 3] : 0.0f);
        v_stn_f32(o, v_ld_f32(a + 1), n);
        for (i = 0; i < n; i++) ok &= o[i] == a[i + 1];
        ok &= o[9] == -1.0f;
        v_stn_u8(d + 1, v_ldn_u8(c + 1, n), n);
        for (i = 0; i < 8; i++) ok &= d[i + 1] == (i < n ? c[i + 1] : 99);
        v_stn_bool(d, v_lanes(n), 8);
        for (i = 0; i < 8; i++) ok &= d[i] == (i < n);
    }
    return ok;
}

AVX2 static int g_memory(void) {
    double a[12], o[12];
    int64_t p[12];
    int i, n, ok = 1;
    for (n = 0; n <= 4; n++) {
        for (i = 0; i < 12; i++) a[i] = i + 1, o[i] = -1, p[i] = -1;
        g_stn_f64(o + 1, g_ldn_f64(a + 3, n), 4);
        for (i = 0; i < 4; i++) ok &= o[i + 1] == (i < n ? a[i + 3] : 0.0);
        g_stn_i64(p + 1, g_iota_i64(INT64_MAX - 1), n);
        for (i = 0; i < 4; i++)
            ok &=
                p[i + 1] == (i < n ? (int64_t)((uint64_t)INT64_MAX - 1 + (uint64_t)i) : -1);
    }
    return ok;
}
#endif

int main(void) {
    test_base();
    test_accuracy();
    test_pairs();
    test_specials();
    test_integers();
    test_casts();
    test_half_reference();
    test_halves(half_scalar, 2);
    test_philox();
    test_combine();
#if VECTOR
    // avx512vl goes with bw and dq; a CPU with AVX2 and FMA has F16C, of which compilers know nothing.
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
        test_halves(half_avx512, 2);
        test_512();
    } else {
        printf("no AVX-512 here: its forms are not compared\n");
    }
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        test_halves(half_plain, 4);
        test_halves(half_avx2, 2);
        test_vectors();
        test_vector_integers();
        test_vector_casts();
        test_vector_random();
        check(v_memory() && g_memory(), "partial loads and stores");
    } else {
        printf("no AVX2 and FMA here: the vector forms are not compared\n");
    }
#endif
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
