// Element types: facts from tables/dtypes.def, promotion, and single values in and out of memory.

typedef enum tc__category { TC__BOOL, TC__INT, TC__FLOAT } tc__category;

// Register classes: what a value is while a kernel computes with it. bool is a mask in class i32.
typedef enum tc__class {
    TC__CLASS_f32,
    TC__CLASS_f64,
    TC__CLASS_i32,
    TC__CLASS_i64,
    TC__CLASSES
} tc__class;

typedef struct tc__dtype_info {
    const char *name;
    uint32_t bytes;
    tc__category category;
    tc__class reg;
    uint32_t precision; // bits of an integer's magnitude, or of a float's significand
    const char *memory; // of emitted text
    const char *numpy;  // of .npy files, "" = none
} tc__dtype_info;

#include "out/dtype_info.inc"

static const char *const tc__class_names[TC__CLASSES] = {"f32", "f64", "i32", "i64"};

static const tc__dtype_info *tc__dtype(int t) { return &tc__dtypes[t]; }
static int tc__dtype_valid(int t) { return t >= 0 && t < TC_DTYPE_COUNT; }
static int tc__is_float(int t) { return tc__dtypes[t].category == TC__FLOAT; }
static int tc__is_int(int t) { return tc__dtypes[t].category == TC__INT; }

static int tc__is_half(int t) { return t == TC_F16 || t == TC_BF16; }
static int tc__is_fp8(int t) { return t == TC_F8E4M3 || t == TC_F8E5M2; }

// Floats that are computed with.
static int tc__is_arithmetic(int t) { return tc__is_float(t) && !tc__is_fp8(t); }

// Floats that are f32 in registers, and rounded where they are stored.
static int tc__is_rounded(int t) { return tc__is_half(t) || tc__is_fp8(t); }

// Integers that are computed as i32 and wrapped.
static int tc__is_narrow(int t) { return tc__is_int(t) && tc__dtypes[t].bytes < 4; }

// The dtype that arithmetic on t is done in.
static int tc__computed_as(int t) { return tc__is_narrow(t) ? (int)TC_I32 : t; }

// Memory holds what a register does.
static int tc__is_own_class(int t) {
    return t == TC_I32 || t == TC_I64 || t == TC_F32 || t == TC_F64;
}

// PyTorch's promotion of two tensors: the higher category wins, then the wider type. Of u8 and i8,
// and of f16 and bf16, neither holds the other. f8 has none: who mixes it is refused (graph/infer.c).
static int tc__promote(int a, int b) {
    tc__category x = tc__dtypes[a].category, y = tc__dtypes[b].category;
    if (x != y) return x > y ? a : b;
    if (a != b && tc__is_half(a) && tc__is_half(b)) return TC_F32;
    if ((a == TC_U8 && b == TC_I8) || (a == TC_I8 && b == TC_U8)) return TC_I16;
    return a > b ? a : b;
}

// The dtype of several tensors, one after the other. Those without dimensions only raise the category, as
// in PyTorch.
typedef struct tc__common {
    int tensors, points; // of those with dimensions, of those without; -1 = none yet
} tc__common;

static tc__common tc__common_none(void) {
    tc__common t;
    t.tensors = t.points = -1;
    return t;
}

static void tc__common_add(tc__common *t, int dtype, int rank) {
    int *of = rank ? &t->tensors : &t->points;
    *of = *of < 0 ? dtype : tc__promote(*of, dtype);
}

static int tc__common_dtype(const tc__common *t) {
    if (t->tensors < 0 || t->points < 0) return t->tensors < 0 ? t->points : t->tensors;
    int raises = tc__dtypes[t->points].category > tc__dtypes[t->tensors].category;
    return raises ? t->points : t->tensors;
}

// What a cast starts from: a bool, or the class of the register.
static const char *tc__cast_from(int from) {
    return from == TC_BOOL ? "bool" : tc__class_names[tc__dtypes[from].reg];
}

// A bool is 0 or 1 in any dtype of a class.
static const char *tc__cast_to(int from, int to) {
    return from == TC_BOOL ? tc__class_names[tc__dtypes[to].reg] : tc__dtypes[to].name;
}

// The register of `from` is that of `to` already.
static int tc__cast_is_nothing(int from, int to) {
    int same = tc__dtypes[from].reg == tc__dtypes[to].reg;
    if (from == to) return !tc__is_rounded(to);
    return same && from != TC_BOOL && tc__is_own_class(to);
}

// The limits of an integer or bool.
static int64_t tc__int_most(int t) {
    return (int64_t)(((uint64_t)1 << tc__dtypes[t].precision) - 1);
}

static int64_t tc__int_least(int t) {
    return t == TC_BOOL || t == TC_U8 ? 0 : -tc__int_most(t) - 1;
}

// Every value of dtype a is a value of dtype b.
static int tc__holds(int a, int b) {
    if (tc__is_float(a) && !tc__is_float(b)) return 0;
    if (a == TC_BF16 && b == TC_F16) return 0; // exponents
    if (a == TC_F8E5M2 && b == TC_F8E4M3) return 0;
    if (tc__int_least(a) < 0 && (b == TC_BOOL || b == TC_U8)) return 0;
    return tc__dtypes[a].precision <= tc__dtypes[b].precision;
}

// A scalar operand only raises the category: i32 + 1.5 is f32, f64 * 2 stays f64.
static int tc__promote_scalar(int a, double s) {
    int whole = s == (double)(int64_t)(s > -9e18 && s < 9e18 ? s : 0.5);
    if (tc__is_float(a)) return a;
    if (!whole) return TC_F32;
    return a == TC_BOOL ? TC_I64 : a;
}

// One scalar: floats as f, bool and integers as i. Which one is told by the dtype beside it.
typedef union tc__value {
    double f;
    int64_t i;
} tc__value;

// ---- f16, bf16 and f8, to and from f32: round to nearest even, infinities and subnormals included

static uint32_t tc__bits_of_f32(float f) {
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    return u;
}

static float tc__f32_of_bits(uint32_t u) {
    float f;
    memcpy(&f, &u, sizeof f);
    return f;
}

static uint16_t tc__bf16_of(float f) {
    uint32_t u = tc__bits_of_f32(f);
    if (f != f) return (uint16_t)(u >> 16 | 0x40);
    return (uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

static float tc__bf16_value(uint16_t h) { return tc__f32_of_bits((uint32_t)h << 16); }

// The f32 of bits a, no sign, as a whole number of 2^(exponent - 150), rounded in integers.
static uint32_t tc__in_units(uint32_t a, uint32_t exponent) {
    uint32_t drop = exponent - (a >> 23), m = (a & 0x7fffff) | 0x800000;
    if (drop > 24) return 0;
    uint32_t q = m >> drop, rest = m & ((1u << drop) - 1), half = 1u << (drop - 1);
    return q + (rest > half || (rest == half && (q & 1)));
}

static uint16_t tc__f16_of(float f) {
    uint32_t u = tc__bits_of_f32(f), sign = u >> 16 & 0x8000, a = u & 0x7fffffff;
    if (a > 0x7f800000) return (uint16_t)(sign | 0x7e00);
    if (a >= 0x47800000) return (uint16_t)(sign | 0x7c00);
    if (a >= 0x38800000) // normal: exponents differ by 112
        return (uint16_t)(sign | ((a - 0x38000000 + 0xfff + (a >> 13 & 1)) >> 13));
    return (uint16_t)(sign | tc__in_units(a, 126)); // subnormal
}

static float tc__f16_value(uint16_t h) {
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, a = h & 0x7fff;
    float f = (float)(int32_t)a * 5.9604644775390625e-8f; // subnormal: a times 2^-24
    if (a >= 0x0400) f = tc__f32_of_bits((a << 13) + 0x38000000);
    return tc__f32_of_bits(tc__bits_of_f32(f) | (a >= 0x7c00 ? 0x7f800000 : 0) | sign);
}

// What is beyond the largest number becomes that, as in PyTorch (2.15) and by instructions of GPUs: this format has no
// infinity. NaN stays NaN.
static uint8_t tc__f8e4m3_of(float f) {
    uint32_t u = tc__bits_of_f32(f), sign = u >> 24 & 0x80, a = u & 0x7fffffff;
    if (a > 0x7f800000) return (uint8_t)(sign | 0x7f);
    if (a >= 0x43e80000) return (uint8_t)(sign | 0x7e); // half a last place above 448
    if (a >= 0x3c800000)                                // normal: exponents differ by 120
        return (uint8_t)(sign | ((a - 0x3c000000 + 0x7ffff + (a >> 20 & 1)) >> 20));
    return (uint8_t)(sign | tc__in_units(a, 141));
}

static float tc__f8e4m3_value(uint8_t b) {
    uint32_t sign = (uint32_t)(b & 0x80) << 24, a = b & 0x7f;
    float f = (float)(int32_t)a * 0.001953125f; // subnormal: a times 2^-9
    if (a >= 0x08) f = tc__f32_of_bits((a << 20) + 0x3c000000);
    return tc__f32_of_bits(tc__bits_of_f32(f) | (a == 0x7f ? 0x7f800000 : 0) | sign);
}

// Beyond the largest number is infinity.
static uint8_t tc__f8e5m2_of(float f) {
    uint32_t u = tc__bits_of_f32(f), sign = u >> 24 & 0x80, a = u & 0x7fffffff;
    if (a > 0x7f800000) return (uint8_t)(sign | 0x7f);
    if (a >= 0x47700000) return (uint8_t)(sign | 0x7c); // half a last place above 57344
    if (a >= 0x38800000)                                // normal: exponents differ by 112
        return (uint8_t)(sign | ((a - 0x38000000 + 0xfffff + (a >> 21 & 1)) >> 21));
    return (uint8_t)(sign | tc__in_units(a, 134));
}

static float tc__f8e5m2_value(uint8_t b) { return tc__f16_value((uint16_t)(b << 8)); }

// ---- rounding, in integers: a program that rounds upward or flushes subnormals gets the same numbers

typedef struct tc__format {
    int digits, least, most; // exponents of the smallest normal and of the largest number
} tc__format;

static const tc__format tc__format_f32 = {24, -126, 127},
                        tc__format_f64 = {53, -1022, 1023};

static double tc__f64_of_bits(uint64_t u) {
    double d;
    memcpy(&d, &u, sizeof d);
    return d;
}

static int tc__top_bit(uint64_t m) {
    int top = 0;
    for (int n = 32; n; n /= 2)
        if (m >> n) m >>= n, top += n;
    return top;
}

// The number of format f nearest to m * 2^e, ties to even, as a double.
static double tc__nearest(uint64_t m, int e, int negative, const tc__format *f) {
    uint64_t sign = (uint64_t)negative << 63, infinity = (uint64_t)2047 << 52;
    int top = e + tc__top_bit(m);
    int last = (top < f->least ? f->least : top) - f->digits + 1, drop = last - e;
    if (!m || drop > 64) return tc__f64_of_bits(sign);
    if (drop > 0) {
        uint64_t half = (uint64_t)1 << (drop - 1), rest = m & (half * 2 - 1);
        m = drop < 64 ? m >> drop : 0;
        m += rest > half || (rest == half && (m & 1)), e = last;
    }
    if (e + tc__top_bit(m) > f->most) return tc__f64_of_bits(sign | infinity);
    double scaled = (double)(int64_t)m * tc__f64_of_bits((uint64_t)(e + 1023) << 52);
    return negative ? -scaled : scaled;
}

static double tc__f32_nearest(double v) {
    uint64_t u, low = ((uint64_t)1 << 52) - 1;
    memcpy(&u, &v, sizeof u);
    int exponent = (int)(u >> 52 & 2047);
    if (exponent == 2047) return v;
    uint64_t m = (u & low) | (exponent ? low + 1 : 0);
    return tc__nearest(m, (exponent ? exponent : 1) - 1075, (int)(u >> 63),
                       &tc__format_f32);
}

// Both ways between v and a float, whatever the host does with subnormals: those go by way of whole numbers of 2^-149.
static float tc__f32_of(double v) {
    double r = tc__f32_nearest(v), units = tc__f64_of_bits((uint64_t)(1023 + 149) << 52);
    uint64_t u;
    memcpy(&u, &r, sizeof u);
    if ((u >> 52 & 2047) >= 1023 - 126) return (float)r;
    u >>= 63;
    return tc__f32_of_bits((uint32_t)(int64_t)(u ? -r * units : r * units) | (uint32_t)u
                                                                                 << 31);
}

static double tc__f32_value(float f) {
    uint32_t u = tc__bits_of_f32(f);
    if (u >> 23 & 255) return (double)f;
    double r =
        (double)(int32_t)(u & 0x7fffff) * tc__f64_of_bits((uint64_t)(1023 - 149) << 52);
    return u >> 31 ? -r : r;
}

static double tc__i64_nearest(int64_t v, const tc__format *f) {
    return tc__nearest(v < 0 ? 0 - (uint64_t)v : (uint64_t)v, 0, v < 0, f);
}

// ---- one value

static int64_t tc__double_to_i64(double v) {
    if (v != v) return 0;
    if (v >= 9223372036854775808.0) return INT64_MAX;
    if (v <= -9223372036854775808.0) return INT64_MIN;
    return (int64_t)v;
}

static int64_t tc__saturate(double v, int64_t lo, int64_t hi) {
    if (v != v) return 0;
    return v <= (double)lo ? lo : v >= (double)hi ? hi : (int64_t)v;
}

// v as memory of dtype t holds it: rounded, wrapped or saturated as the op CAST would. Floats become
// halves by way of f32.
static tc__value tc__value_cast(tc__value v, int from, int to) {
    tc__value r;
    int is_float = tc__is_float(from);
    double f = is_float ? v.f : tc__i64_nearest(v.i, &tc__format_f64);
    double rounded =
        is_float ? tc__f32_nearest(v.f) : tc__i64_nearest(v.i, &tc__format_f32);
    r.i = 0;
    switch ((tc_dtype)to) {
    case TC_DTYPE_COUNT: break;
    case TC_F64: r.f = f; break;
    case TC_F32: r.f = rounded; break;
    case TC_F8E4M3:
        r.f = (double)tc__f8e4m3_value(tc__f8e4m3_of(tc__f32_of(rounded)));
        break;
    case TC_F8E5M2:
        r.f = (double)tc__f8e5m2_value(tc__f8e5m2_of(tc__f32_of(rounded)));
        break;
    case TC_F16: r.f = (double)tc__f16_value(tc__f16_of(tc__f32_of(rounded))); break;
    case TC_BF16:
        r.f = tc__f32_value(tc__bf16_value(tc__bf16_of(tc__f32_of(rounded))));
        break;
    case TC_BOOL: r.i = is_float ? v.f != 0 : v.i != 0; break;
    case TC_I64: r.i = is_float ? tc__double_to_i64(v.f) : v.i; break;
    case TC_U8: r.i = is_float ? tc__saturate(f, 0, 255) : v.i & 255; break;
    case TC_I8: r.i = is_float ? tc__saturate(f, -128, 127) : (int8_t)(uint8_t)v.i; break;
    case TC_I16:
        r.i = is_float ? tc__saturate(f, INT16_MIN, INT16_MAX) : (int16_t)(uint16_t)v.i;
        break;
    case TC_I32:
        r.i = is_float ? tc__saturate(f, INT32_MIN, INT32_MAX) : (int32_t)(uint32_t)v.i;
        break;
    }
    return r;
}

// A number of the program's text in dtype t. It becomes what ops on t compute with, and then wraps as
// their results do: filling with s is adding s to zeros. Halves are computed with as f32, and so are
// their scalars; those of f8 are rounded likewise where they are stored.
static tc__value tc__value_of(double s, int t) {
    tc__value v;
    v.f = s;
    int computed = tc__is_rounded(t) ? (int)TC_F32 : tc__computed_as(t);
    v = tc__value_cast(v, TC_F64, computed);
    return tc__is_half(t) ? v : tc__value_cast(v, computed, t); // f8 is not computed with
}

// The element `i` at `p`.
static tc__value tc__value_load(const void *p, int64_t i, int t) {
    tc__value v;
    v.i = 0;
    switch ((tc_dtype)t) {
    case TC_DTYPE_COUNT: break;
    case TC_BOOL:
    case TC_U8: v.i = ((const uint8_t *)p)[i]; break;
    case TC_I8: v.i = ((const int8_t *)p)[i]; break;
    case TC_I16: v.i = ((const int16_t *)p)[i]; break;
    case TC_I32: v.i = ((const int32_t *)p)[i]; break;
    case TC_I64: v.i = ((const int64_t *)p)[i]; break;
    case TC_F8E4M3: v.f = (double)tc__f8e4m3_value(((const uint8_t *)p)[i]); break;
    case TC_F8E5M2: v.f = (double)tc__f8e5m2_value(((const uint8_t *)p)[i]); break;
    case TC_F16: v.f = (double)tc__f16_value(((const uint16_t *)p)[i]); break;
    case TC_BF16: v.f = tc__f32_value(tc__bf16_value(((const uint16_t *)p)[i])); break;
    case TC_F32: v.f = tc__f32_value(((const float *)p)[i]); break;
    case TC_F64: v.f = ((const double *)p)[i]; break;
    }
    return v;
}

static void tc__value_store(void *p, int64_t i, int t, tc__value v) {
    switch ((tc_dtype)t) {
    case TC_DTYPE_COUNT: break;
    case TC_BOOL:
    case TC_U8: ((uint8_t *)p)[i] = (uint8_t)v.i; break;
    case TC_I8: ((int8_t *)p)[i] = (int8_t)v.i; break;
    case TC_I16: ((int16_t *)p)[i] = (int16_t)v.i; break;
    case TC_I32: ((int32_t *)p)[i] = (int32_t)v.i; break;
    case TC_I64: ((int64_t *)p)[i] = v.i; break;
    case TC_F8E4M3: ((uint8_t *)p)[i] = tc__f8e4m3_of(tc__f32_of(v.f)); break;
    case TC_F8E5M2: ((uint8_t *)p)[i] = tc__f8e5m2_of(tc__f32_of(v.f)); break;
    case TC_F16: ((uint16_t *)p)[i] = tc__f16_of(tc__f32_of(v.f)); break;
    case TC_BF16: ((uint16_t *)p)[i] = tc__bf16_of(tc__f32_of(v.f)); break;
    case TC_F32: ((float *)p)[i] = tc__f32_of(v.f); break;
    case TC_F64: ((double *)p)[i] = v.f; break;
    }
}
