// References of the elementwise ops, from their mathematical definitions: long double for
// floats, wrapping 64-bit integers for the rest. Nothing here comes from gen/tables/ops.def.
#ifndef OPS_REF_H
#define OPS_REF_H

#include <dlfcn.h>
#include <math.h>
#include <stdint.h>

typedef long double ld;

// One element: i for bool and integers, f for floats.
typedef struct val {
    ld f;
    int64_t i;
} val;

// Binary formats: bits of the significand behind the point, exponents of the least and largest numbers.
typedef struct format {
    int digits, lowest, highest;
} format;

static format format_of(int t) {
    static const format f16 = {10, -14, 15}, bf16 = {7, -126, 127}, f32 = {23, -126, 127},
                        f64 = {52, -1022, 1023}, e4m3 = {3, -6, 8}, e5m2 = {2, -14, 15};
    if (t == TC_F8E4M3) return e4m3;
    if (t == TC_F8E5M2) return e5m2;
    return t == TC_F16 ? f16 : t == TC_BF16 ? bf16 : t == TC_F32 ? f32 : f64;
}

static int is_half(int t) { return t == TC_F16 || t == TC_BF16; }
static int is_byte_float(int t) { return t == TC_F8E4M3 || t == TC_F8E5M2; }
static int is_float(int t) {
    return is_half(t) || is_byte_float(t) || t == TC_F32 || t == TC_F64;
}

static ld two_to(int n) {
    ld r = 1;
    for (; n > 0; n--) r *= 2;
    for (; n < 0; n++) r /= 2;
    return r;
}

// The C library's mathematics without -lm: tests link with what the header needs, no more.
static void *math_symbol(const char *name) {
    static void *library;
    if (!library) library = dlopen("libm.so.6", RTLD_NOW);
    if (!library) library = dlopen("libm.so", RTLD_NOW);
    void *p = library ? dlsym(library, name) : NULL;
    if (!p) fprintf(stderr, "no %s in libm\n", name), abort();
    return p;
}
typedef ld (*ld1)(ld);
typedef ld (*ld2)(ld, ld);
#define LIBM1(name)                                                                        \
    static ld m_##name(ld x) {                                                             \
        static ld1 f;                                                                      \
        if (!f) *(void **)&f = math_symbol(#name "l");                                     \
        return f(x);                                                                       \
    }
#define LIBM2(name)                                                                        \
    static ld m_##name(ld x, ld y) {                                                       \
        static ld2 f;                                                                      \
        if (!f) *(void **)&f = math_symbol(#name "l");                                     \
        return f(x, y);                                                                    \
    }
// clang-format off
LIBM1(exp) LIBM1(exp2) LIBM1(expm1) LIBM1(log) LIBM1(log2) LIBM1(log10) LIBM1(log1p)
LIBM1(sin) LIBM1(cos) LIBM1(tan) LIBM1(asin) LIBM1(acos) LIBM1(atan) LIBM1(sinh) LIBM1(cosh)
LIBM1(tanh) LIBM1(erfc) LIBM1(erf) LIBM1(sqrt) LIBM1(floor) LIBM1(rint) LIBM1(ceil) LIBM1(trunc)
LIBM2(pow) LIBM2(atan2) LIBM2(fmod)
    // clang-format on

    static float m_fmaf(float a, float b, float c) {
    static float (*f)(float, float, float);
    if (!f) *(void **)&f = math_symbol("fmaf");
    return f(a, b, c);
}

// ---- conversion ----
static int64_t wrap_to(int t, uint64_t x) {
    if (t == TC_BOOL) return x != 0;
    if (t == TC_U8) return (uint8_t)x;
    if (t == TC_I8) return (int8_t)(uint8_t)x;
    if (t == TC_I16) return (int16_t)(uint16_t)x;
    if (t == TC_I32) return (int32_t)(uint32_t)x;
    return (int64_t)x;
}

static ld ulp_at(int t, ld x);

static ld round_to(int t, ld x) {
    if (t == TC_F32) return (ld)(float)x;
    if (t == TC_F64) return (ld)(double)x;
    if (t == TC_F8E4M3 && (x >= 448 || x <= -448)) return x < 0 ? -448 : 448;
    if ((!is_half(t) && !is_byte_float(t)) || x == 0 || x - x != 0) return x;
    format f = format_of(t);
    ld unit = ulp_at(t, x), y = m_rint(x / unit) * unit, over = two_to(f.highest + 1);
    return y >= over ? (ld)INFINITY : y <= -over ? -(ld)INFINITY : y;
}

static void limits(int t, int64_t *low, int64_t *high) {
    int bits = t == TC_I64 ? 64 : t == TC_I32 ? 32 : t == TC_I16 ? 16 : 8;
    *high = t == TC_BOOL ? 1
            : t == TC_U8 ? 255
                         : (int64_t)(((uint64_t)1 << (bits - 1)) - 1);
    *low = t == TC_BOOL || t == TC_U8 ? 0 : -*high - 1;
}

// Float to integer truncates and saturates, NaN gives 0; anything to bool is x != 0.
static val convert(val x, int from, int to) {
    val r = {0, 0};
    int64_t low, high;
    if (to == TC_BOOL)
        r.i = is_float(from) ? x.f != 0 : x.i != 0;
    else if (is_float(to))
        r.f = round_to(to, round_to(is_half(to) || is_byte_float(to) ? TC_F32 : to,
                                    is_float(from) ? x.f : (ld)x.i));
    else if (!is_float(from))
        r.i = wrap_to(to, (uint64_t)x.i);
    else {
        limits(to, &low, &high);
        if (x.f != x.f)
            r.i = 0;
        else if (x.f <= (ld)low)
            r.i = low;
        else if (x.f >= (ld)high)
            r.i = high;
        else
            r.i = (int64_t)x.f;
    }
    return r;
}

// The enum is in this order, but for two pairs that hold each other's values in a third.
static int promoted(int a, int b) {
    if ((a == TC_U8 && b == TC_I8) || (a == TC_I8 && b == TC_U8)) return TC_I16;
    if (is_half(a) && is_half(b) && a != b) return TC_F32;
    return a > b ? a : b;
}

// ---- the ops: f for floats (t tells which), i for integers and bool ----
#define FLOAT2(name, expr)                                                                 \
    static val name(int t, const val *in) {                                                \
        ld a = in[0].f, b = in[1].f;                                                       \
        val r = {0, 0};                                                                    \
        (void)t, (void)a, (void)b;                                                         \
        r.f = (expr);                                                                      \
        return r;                                                                          \
    }
#define INT2(name, expr)                                                                   \
    static val name(int t, const val *in) {                                                \
        int64_t a = in[0].i, b = in[1].i;                                                  \
        uint64_t u = (uint64_t)a, w = (uint64_t)b;                                         \
        val r = {0, 0};                                                                    \
        (void)t, (void)a, (void)b, (void)u, (void)w;                                       \
        r.i = wrap_to(t, (uint64_t)(expr));                                                \
        return r;                                                                          \
    }
#define TRUTH2(name, float_expr, int_expr)                                                 \
    static val name(int t, const val *in) {                                                \
        ld x = in[0].f, y = in[1].f;                                                       \
        int64_t a = in[0].i, b = in[1].i;                                                  \
        val r = {0, 0};                                                                    \
        (void)x, (void)y, (void)a, (void)b;                                                \
        r.i = is_float(t) ? (float_expr) : (int_expr);                                     \
        return r;                                                                          \
    }
#define FLOAT1(name, expr) FLOAT2(name, expr)
#define INT1(name, expr)   INT2(name, expr)

// One rounding: long double to double would round twice.
#define ONCE(op) (t == TC_F64 ? (ld)((double)a op(double) b) : a op b)
FLOAT2(add_f, ONCE(+))
FLOAT2(sub_f, ONCE(-))
FLOAT2(mul_f, ONCE(*))
FLOAT2(div_f, ONCE(/))
INT2(add_i, u + w)
INT2(sub_i, u - w)
INT2(mul_i, u *w)

static ld floor_quotient(int t, ld a, ld b) {
    if (b == 0) return round_to(t, a / b);
    if (a - a != 0 || b != b) return (ld)NAN; // as PyTorch and NumPy: the remainder is NaN
    if (b - b != 0) return a == 0 || (a < 0) == (b < 0) ? 0 : -1;
    ld r = m_fmod(a, b);
    return m_rint((a - r) / b) - (r != 0 && (r < 0) != (b < 0));
}
static ld python_mod(ld a, ld b) {
    ld r = m_fmod(a, b);
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
static int64_t floor_int(int64_t a, int64_t b) {
    if (b == 0) return 0;
    if (b == -1) return (int64_t)(0 - (uint64_t)a);
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
static int64_t mod_int(int64_t a, int64_t b, int floored) {
    if (b == 0 || b == -1) return 0;
    return a % b + (floored && a % b != 0 && (a < 0) != (b < 0) ? b : 0);
}
static uint64_t pow_int(int64_t a, int64_t b) {
    uint64_t r = 1, x = (uint64_t)a;
    if (b < 0) return a == 1 ? 1 : a == -1 ? (b % 2 ? (uint64_t)-1 : 1) : 0;
    for (; b; b >>= 1, x *= x)
        if (b & 1) r *= x;
    return r;
}
FLOAT2(floor_divide_f, floor_quotient(t, a, b))
FLOAT2(remainder_f, python_mod(a, b))
FLOAT2(fmod_f, m_fmod(a, b))
// glibc 2.36: powl(-inf, -2^63) is inf.
FLOAT2(pow_f, m_pow(a == -(ld)INFINITY && m_fmod(b, 2) == 0 ? -a : a, b))
FLOAT2(atan2_f, m_atan2(a, b))
FLOAT2(maximum_f, a != a || b != b ? (ld)NAN : a > b ? a : b)
FLOAT2(minimum_f, a != a || b != b ? (ld)NAN : a < b ? a : b)
INT2(floor_divide_i, floor_int(a, b))
INT2(remainder_i, mod_int(a, b, 1))
INT2(fmod_i, mod_int(a, b, 0))
INT2(pow_i, pow_int(a, b))
INT2(maximum_i, a > b ? a : b)
INT2(minimum_i, a < b ? a : b)

static val fma_f(int t, const val *in) {
    val r = {0, 0};
    volatile double product = (double)in[0].f * (double)in[1].f;
    if (t != TC_F64)
        r.f = m_fmaf((float)in[0].f, (float)in[1].f, (float)in[2].f);
    else
        r.f = product + (double)in[2].f;
    return r;
}
TRUTH2(eq_, x == y, a == b)
TRUTH2(ne_, x != y, a != b)
TRUTH2(lt_, x < y, a < b)
TRUTH2(le_, x <= y, a <= b)
TRUTH2(gt_, x > y, a > b)
TRUTH2(ge_, x >= y, a >= b)
TRUTH2(logical_and_, x != 0 && y != 0, a &&b)
TRUTH2(logical_or_, x != 0 || y != 0, a || b)
TRUTH2(logical_xor_, (x != 0) != (y != 0), !a != !b)
TRUTH2(logical_not_, x == 0, !a)
TRUTH2(isnan_, x != x, 0)
TRUTH2(isfinite_, x - x == 0, 1)
INT2(bitwise_and_i, u &w)
INT2(bitwise_or_i, u | w)
INT2(bitwise_xor_i, u ^ w)
INT1(bitwise_not_i, t == TC_BOOL ? (uint64_t)!a : ~u)

static int width_of(int t) {
    return t == TC_I64 ? 64 : t == TC_I32 ? 32 : t == TC_I16 ? 16 : 8;
}
INT2(shl_i, b < 0 || b >= width_of(t) ? 0 : u << b)
INT2(shr_i, b<0 || b >= width_of(t) ? (a < 0 ? ~(uint64_t)0 : 0) : a<0 ? ~(~u >> b) : u>> b)

static val where_(int t, const val *in) {
    (void)t;
    return in[0].i ? in[1] : in[2];
}
FLOAT1(neg_f, -a)
FLOAT1(abs_f, a < 0 || (a == 0 && signbit(a)) ? -a : a)
FLOAT1(sign_f, a != a ? a : (a > 0) - (a < 0))
FLOAT1(square_f, t == TC_F64 ? (ld)((double)a * (double)a) : a * a)
FLOAT1(reciprocal_f, t == TC_F64 ? (ld)(1.0 / (double)a) : 1 / a)
static double m_sqrt_f64(double x) {
    static double (*f)(double);
    if (!f) *(void **)&f = math_symbol("sqrt");
    return f(x);
}
FLOAT1(sqrt_f, t == TC_F64 ? (ld)m_sqrt_f64((double)a) : m_sqrt(a))
FLOAT1(rsqrt_f, 1 / m_sqrt(a))
INT1(neg_i, 0 - u)
INT1(abs_i, a < 0 ? 0 - u : u)
INT1(sign_i, (a > 0) - (a < 0))
INT1(square_i, u *u)
INT1(relu_i, a > 0 ? a : 0)
INT1(same_i, a)
FLOAT1(exp_f, m_exp(a))
FLOAT1(exp2_f, m_exp2(a))
FLOAT1(expm1_f, m_expm1(a))
FLOAT1(log_f, m_log(a))
FLOAT1(log2_f, m_log2(a))
FLOAT1(log10_f, m_log10(a))
FLOAT1(log1p_f, m_log1p(a))
FLOAT1(sin_f, m_sin(a))
FLOAT1(cos_f, m_cos(a))
FLOAT1(tan_f, m_tan(a))
FLOAT1(asin_f, m_asin(a))
FLOAT1(acos_f, m_acos(a))
FLOAT1(atan_f, m_atan(a))
FLOAT1(sinh_f, m_sinh(a))
FLOAT1(cosh_f, m_cosh(a))
FLOAT1(tanh_f, m_tanh(a))
FLOAT1(erf_f, m_erf(a))
static ld sigmoid(ld x) { return x < 0 ? m_exp(x) / (1 + m_exp(x)) : 1 / (1 + m_exp(-x)); }
FLOAT1(sigmoid_f, sigmoid(a))
FLOAT1(relu_f, a != a || a > 0 ? a : 0)
FLOAT1(gelu_f, a * 0.5L * m_erfc(-a * 0.70710678118654752440084436210485L))
// 0.5 x (1 + tanh u) = x sigmoid(2 u)
FLOAT1(gelu_tanh_f, a - a != 0 && a > 0
                        ? a
                        : a * sigmoid(2 * 0.79788456080286535587989211986876L *
                                      (a + 0.044715L * a * a * a)))
FLOAT1(silu_f, a *sigmoid(a))
FLOAT1(softplus_f, (a > 0 ? a : a != a ? a : 0) + m_log1p(m_exp(a < 0 ? a : -a)))
FLOAT1(floor_f, m_floor(a))
FLOAT1(ceil_f, m_ceil(a))
FLOAT1(round_f, m_rint(a))
FLOAT1(trunc_f, m_trunc(a))

// Which dtypes an op takes and gives.
typedef enum rule {
    NUMBERS,  // integers and floats, computed and given in the common dtype
    TRUTHS,   // the same, and bools: what is not 0 is true
    FLOATING, // everything; integers and bool as f32
    COMPARES, // everything, in the common dtype; gives bool
    LOGIC,    // everything, as truth; gives bool
    BITS,     // bool and integers
    SHIFTS,   // integers; a bool has no width to shift in
    CHOICE    // bool, then anything
} rule;

typedef val (*ref_fn)(int t, const val *in);
typedef struct ref_op {
    const char *name;
    int arity;
    rule rule;
    ref_fn f, i; // floats; integers and bool (NULL: never computed there)
    double ulp; // what can be asked of the definition; the table's value if that is smaller
} ref_op;

static const ref_op refs[] = {
    {"add", 2, TRUTHS, add_f, add_i, 0},
    {"sub", 2, NUMBERS, sub_f, sub_i, 0},
    {"mul", 2, TRUTHS, mul_f, mul_i, 0},
    {"div", 2, FLOATING, div_f, NULL, 0},
    {"floor_divide", 2, NUMBERS, floor_divide_f, floor_divide_i, 0},
    {"remainder", 2, NUMBERS, remainder_f, remainder_i, 0},
    {"fmod", 2, NUMBERS, fmod_f, fmod_i, 0},
    {"pow", 2, NUMBERS, pow_f, pow_i, 4},
    {"atan2", 2, FLOATING, atan2_f, NULL, 4},
    {"maximum", 2, TRUTHS, maximum_f, maximum_i, 0},
    {"minimum", 2, TRUTHS, minimum_f, minimum_i, 0},
    {"fma", 3, FLOATING, fma_f, NULL, 0},
    {"eq", 2, COMPARES, eq_, eq_, 0},
    {"ne", 2, COMPARES, ne_, ne_, 0},
    {"lt", 2, COMPARES, lt_, lt_, 0},
    {"le", 2, COMPARES, le_, le_, 0},
    {"gt", 2, COMPARES, gt_, gt_, 0},
    {"ge", 2, COMPARES, ge_, ge_, 0},
    {"logical_and", 2, LOGIC, logical_and_, logical_and_, 0},
    {"logical_or", 2, LOGIC, logical_or_, logical_or_, 0},
    {"logical_xor", 2, LOGIC, logical_xor_, logical_xor_, 0},
    {"logical_not", 1, LOGIC, logical_not_, logical_not_, 0},
    {"bitwise_and", 2, BITS, NULL, bitwise_and_i, 0},
    {"bitwise_or", 2, BITS, NULL, bitwise_or_i, 0},
    {"bitwise_xor", 2, BITS, NULL, bitwise_xor_i, 0},
    {"bitwise_left_shift", 2, SHIFTS, NULL, shl_i, 0},
    {"bitwise_right_shift", 2, SHIFTS, NULL, shr_i, 0},
    {"where", 3, CHOICE, where_, where_, 0},
    {"isnan", 1, COMPARES, isnan_, isnan_, 0},
    {"isfinite", 1, COMPARES, isfinite_, isfinite_, 0},
    {"neg", 1, NUMBERS, neg_f, neg_i, 0},
    {"abs", 1, NUMBERS, abs_f, abs_i, 0},
    {"sign", 1, NUMBERS, sign_f, sign_i, 0},
    {"square", 1, NUMBERS, square_f, square_i, 0},
    {"reciprocal", 1, FLOATING, reciprocal_f, NULL, 0},
    {"sqrt", 1, FLOATING, sqrt_f, NULL, 0},
    {"rsqrt", 1, FLOATING, rsqrt_f, NULL, 2},
    {"exp", 1, FLOATING, exp_f, NULL, 2},
    {"exp2", 1, FLOATING, exp2_f, NULL, 2},
    {"expm1", 1, FLOATING, expm1_f, NULL, 4},
    {"log", 1, FLOATING, log_f, NULL, 2},
    {"log2", 1, FLOATING, log2_f, NULL, 3},
    {"log10", 1, FLOATING, log10_f, NULL, 3},
    {"log1p", 1, FLOATING, log1p_f, NULL, 4},
    {"sin", 1, FLOATING, sin_f, NULL, 4},
    {"cos", 1, FLOATING, cos_f, NULL, 4},
    {"tan", 1, FLOATING, tan_f, NULL, 4},
    {"asin", 1, FLOATING, asin_f, NULL, 4},
    {"acos", 1, FLOATING, acos_f, NULL, 4},
    {"atan", 1, FLOATING, atan_f, NULL, 4},
    {"sinh", 1, FLOATING, sinh_f, NULL, 4},
    {"cosh", 1, FLOATING, cosh_f, NULL, 4},
    {"tanh", 1, FLOATING, tanh_f, NULL, 4},
    {"erf", 1, FLOATING, erf_f, NULL, 4},
    {"sigmoid", 1, FLOATING, sigmoid_f, NULL, 4},
    {"relu", 1, NUMBERS, relu_f, relu_i, 0},
    // erf's error is magnified where erf(x) is near -1; 64 in the table says the same.
    {"gelu", 1, FLOATING, gelu_f, NULL, 64},
    {"gelu_tanh", 1, FLOATING, gelu_tanh_f, NULL, 64},
    {"silu", 1, FLOATING, silu_f, NULL, 4},
    {"softplus", 1, FLOATING, softplus_f, NULL, 4},
    {"floor", 1, NUMBERS, floor_f, same_i, 0},
    {"ceil", 1, NUMBERS, ceil_f, same_i, 0},
    {"round", 1, NUMBERS, round_f, same_i, 0},
    {"trunc", 1, NUMBERS, trunc_f, same_i, 0},
    {"bitwise_not", 1, BITS, NULL, bitwise_not_i, 0},
};
enum { REFS = (int)(sizeof refs / sizeof *refs) };

// The dtype an op computes in for these operands; -1 = not defined.
static int compute_dtype(const ref_op *o, const int *dtype) {
    int t = dtype[o->rule == CHOICE];
    for (int k = o->rule == CHOICE ? 2 : 1; k < o->arity; k++) t = promoted(t, dtype[k]);
    if (o->rule == CHOICE && dtype[0] != TC_BOOL) return -1;
    if (is_byte_float(t) && o->rule != COMPARES && o->rule != LOGIC && o->rule != CHOICE)
        return -1;
    if (o->rule == NUMBERS && t == TC_BOOL) return -1;
    if (o->rule == BITS && is_float(t)) return -1;
    if (o->rule == SHIFTS && (is_float(t) || t == TC_BOOL)) return -1;
    if (o->rule == FLOATING && !is_float(t)) return TC_F32;
    return t;
}

static int result_dtype(const ref_op *o, int t) {
    return o->rule == COMPARES || o->rule == LOGIC ? TC_BOOL : t;
}

// Distance of two neighbours at |x| in dtype t.
static ld ulp_at(int t, ld x) {
    format f = format_of(t);
    ld least = two_to(f.lowest - f.digits);
    if (x == 0 || x != x || x - x != 0) return least;
    if (x < 0) x = -x;
    union {
        double d;
        uint64_t u;
    } b;
    b.d = (double)x;
    int exponent = (int)(b.u >> 52 & 2047) - 1023;
    return exponent < f.lowest ? least : two_to(exponent - f.digits);
}

#endif
