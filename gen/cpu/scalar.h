// Scalar form of the CPU numerics: one value at a time, plain C99, any compiler.
// cpu/math.h is written over the macros below; cpu/vector.h gives the same macros for
// vectors. Both forms give the same bits for every input (any NaN equals any NaN).
//
// The includer defines TC_FN (what stands before a function) and TC_N(x) (its name), has
// <stdint.h>, and keeps contraction of a*b+c off. No other header is needed and no libm.
//
// Classes: f32 f64 i32 i64. u8 (0..255) and bool live in TC_I32; a bool is a mask, here 0
// or 1. A comparison of class X gives a mask of X: TC_I32 for 32 bits, TC_I64 for 64 bits.
// Macro arguments may be evaluated more than once: give names or small expressions.

// undef: begin (only a second form in one file needs these)
#ifdef TC_LANES
#undef TC_ABS_f32
#undef TC_ABS_f64
#undef TC_ADD_f32
#undef TC_ADD_f64
#undef TC_ADD_i32
#undef TC_ADD_i64
#undef TC_ANY_i32
#undef TC_ANY_i64
#undef TC_AT
#undef TC_BITS_f32
#undef TC_BITS_f64
#undef TC_B_f32
#undef TC_B_f64
#undef TC_B_i32
#undef TC_B_i64
#undef TC_CMP_f32
#undef TC_CMP_f64
#undef TC_CMP_i32
#undef TC_CMP_i64
#undef TC_COMBINE
#undef TC_COMBINE_ARRAY
#undef TC_COMBINE_f32
#undef TC_COMBINE_f64
#undef TC_COMBINE_i32
#undef TC_COMBINE_i64
#undef TC_COPY_f32
#undef TC_COPY_f64
#undef TC_CUT
#undef TC_CUT1
#undef TC_CUT2
#undef TC_CUT4
#undef TC_CVT_f32_f64
#undef TC_CVT_f32_i32
#undef TC_CVT_f32_i64
#undef TC_CVT_f64_f32
#undef TC_CVT_f64_i32
#undef TC_CVT_f64_i64
#undef TC_CVT_i32_f32
#undef TC_CVT_i32_f64
#undef TC_CVT_i32_i64
#undef TC_CVT_i64_f32
#undef TC_CVT_i64_f64
#undef TC_CVT_i64_i32
#undef TC_DOWN
#undef TC_EQ_f32
#undef TC_EQ_f64
#undef TC_EQ_i32
#undef TC_EQ_i64
#undef TC_E_F32
#undef TC_E_F64
#undef TC_E_I16
#undef TC_E_I32
#undef TC_E_I64
#undef TC_E_U16
#undef TC_E_U8
#undef TC_E_U32
#undef TC_E_U64
#undef TC_F16_IN
#undef TC_F16_OUT
#undef TC_F32
#undef TC_F64
#undef TC_FIRST
#undef TC_FLIP_f32
#undef TC_FLIP_f64
#undef TC_FMAK_f32
#undef TC_FMA_f32
#undef TC_FROM_BITS_f32
#undef TC_FROM_BITS_f64
#undef TC_GET
#undef TC_GE_f32
#undef TC_GE_f64
#undef TC_GE_i32
#undef TC_GE_i64
#undef TC_GT_f32
#undef TC_GT_f64
#undef TC_GT_i32
#undef TC_GT_i64
#undef TC_HW_F16
#undef TC_HW_FMA
#undef TC_HW_NEON
#undef TC_HW_ROUND
#undef TC_HW_SCALE
#undef TC_HW_SSE2
#undef TC_I32
#undef TC_I64
#undef TC_HALVE
#undef TC_INF_f32
#undef TC_INF_f64
#undef TC_K_f32
#undef TC_K_f64
#undef TC_K_i32
#undef TC_K_i64
#undef TC_K_u32
#undef TC_K_u64
#undef TC_LANES
#undef TC_LE_f32
#undef TC_LE_f64
#undef TC_LE_i32
#undef TC_LE_i64
#undef TC_LT_f32
#undef TC_LT_f64
#undef TC_LT_i32
#undef TC_LT_i64
#undef TC_MAX_f32
#undef TC_MAX_f64
#undef TC_MAX_i32
#undef TC_MAX_i64
#undef TC_MIN_f32
#undef TC_MIN_f64
#undef TC_MIN_i32
#undef TC_MIN_i64
#undef TC_MULHI_u32
#undef TC_MUL_f32
#undef TC_MUL_f64
#undef TC_MUL_i32
#undef TC_MUL_i64
#undef TC_M_f32
#undef TC_M_f64
#undef TC_M_i32
#undef TC_M_i64
#undef TC_NAN_f32
#undef TC_NAN_f64
#undef TC_NEG_f32
#undef TC_NEG_f64
#undef TC_NEG_i32
#undef TC_NEG_i64
#undef TC_NE_f32
#undef TC_NE_f64
#undef TC_NE_i32
#undef TC_NE_i64
#undef TC_NOT
#undef TC_P32
#undef TC_P64
#undef TC_PART
#undef TC_PARTS32
#undef TC_PARTS64
#undef TC_PICK32
#undef TC_QUARTER
#undef TC_ROUND_PART
#undef TC_ROUND_f32
#undef TC_ROUND_f64
#undef TC_SCALE_f32
#undef TC_SEL_f32
#undef TC_SEL_f64
#undef TC_SEL_i32
#undef TC_SEL_i64
#undef TC_SET
#undef TC_SIGN_f32
#undef TC_SIGN_f64
#undef TC_SQRTD
#undef TC_SQRTD_PART
#undef TC_SQRTF
#undef TC_SQRTF_PART
#undef TC_SQRT_f32
#undef TC_SQRT_f64
#undef TC_SUB_f32
#undef TC_SUB_f64
#undef TC_SUB_i32
#undef TC_SUB_i64
#undef TC_TOP_f64
#undef TC_U32
#undef TC_U64
#endif
// undef: end

#define TC_F32 float
#define TC_F64 double
#define TC_I32 int32_t
#define TC_U32 uint32_t
#define TC_I64 int64_t
#define TC_U64 uint64_t

// Types of one lane, equal in both forms.
#define TC_E_F32 float
#define TC_E_F64 double
#define TC_E_I32 int32_t
#define TC_E_U32 uint32_t
#define TC_E_I64 int64_t
#define TC_E_U64 uint64_t
#define TC_E_I16 int16_t
#define TC_E_U16 uint16_t
#define TC_E_U8  uint8_t

#define TC_LANES 1

// What the compiler gives for the target of this translation unit.
#if defined(__GNUC__) && defined(__SSE2__)
#define TC_HW_SSE2 1
#else
#define TC_HW_SSE2 0
#endif
#if defined(__GNUC__) && defined(__aarch64__)
#define TC_HW_NEON 1
#else
#define TC_HW_NEON 0
#endif
#if defined(__GNUC__) && (defined(__FMA__) || defined(__aarch64__))
#define TC_HW_FMA 1
#else
#define TC_HW_FMA 0
#endif
#define TC_HW_ROUND 0
#define TC_HW_SCALE 0
#define TC_HW_F16 0

// Constants and lanes.
#define TC_K_f32(c) ((float)(c))
#define TC_K_f64(c) ((double)(c))
#define TC_K_i32(c) ((int32_t)(c))
#define TC_K_u32(c) ((uint32_t)(c))
#define TC_K_i64(c) ((int64_t)(c))
#define TC_K_u64(c) ((uint64_t)(c))
#define TC_GET(v, i) ((void)(i), (v))
#define TC_SET(v, i, s) ((void)(i), (void)((v) = (s)))

// Comparisons and masks.
#define TC_LT_f32(a, b) ((a) < (b))
#define TC_LE_f32(a, b) ((a) <= (b))
#define TC_GT_f32(a, b) ((a) > (b))
#define TC_GE_f32(a, b) ((a) >= (b))
#define TC_EQ_f32(a, b) ((a) == (b))
#define TC_NE_f32(a, b) ((a) != (b))
#define TC_LT_f64(a, b) ((a) < (b))
#define TC_LE_f64(a, b) ((a) <= (b))
#define TC_GT_f64(a, b) ((a) > (b))
#define TC_GE_f64(a, b) ((a) >= (b))
#define TC_EQ_f64(a, b) ((a) == (b))
#define TC_NE_f64(a, b) ((a) != (b))
#define TC_LT_i32(a, b) ((a) < (b))
#define TC_LE_i32(a, b) ((a) <= (b))
#define TC_GT_i32(a, b) ((a) > (b))
#define TC_GE_i32(a, b) ((a) >= (b))
#define TC_EQ_i32(a, b) ((a) == (b))
#define TC_NE_i32(a, b) ((a) != (b))
#define TC_LT_i64(a, b) ((a) < (b))
#define TC_LE_i64(a, b) ((a) <= (b))
#define TC_GT_i64(a, b) ((a) > (b))
#define TC_GE_i64(a, b) ((a) >= (b))
#define TC_EQ_i64(a, b) ((a) == (b))
#define TC_NE_i64(a, b) ((a) != (b))

#define TC_NOT(m) (!(m))
#define TC_ANY_i32(m) ((m) != 0)
#define TC_ANY_i64(m) ((m) != 0)

#define TC_SEL_f32(m, a, b) ((m) ? (a) : (b))
#define TC_SEL_f64(m, a, b) ((m) ? (a) : (b))
#define TC_SEL_i32(m, a, b) ((m) ? (a) : (b))
#define TC_SEL_i64(m, a, b) ((m) ? (a) : (b))

// b where they are equal and where one is NaN.
#define TC_MAX_f32(a, b) ((a) > (b) ? (a) : (b))
#define TC_MAX_f64(a, b) ((a) > (b) ? (a) : (b))
#define TC_MAX_i32(a, b) ((a) > (b) ? (a) : (b))
#define TC_MAX_i64(a, b) ((a) > (b) ? (a) : (b))
#define TC_MIN_f32(a, b) ((a) < (b) ? (a) : (b))
#define TC_MIN_f64(a, b) ((a) < (b) ? (a) : (b))
#define TC_MIN_i32(a, b) ((a) < (b) ? (a) : (b))
#define TC_MIN_i64(a, b) ((a) < (b) ? (a) : (b))

// Bool register <-> mask of a class.
#define TC_M_f32(b) (b)
#define TC_M_f64(b) (b)
#define TC_M_i32(b) (b)
#define TC_M_i64(b) (b)
#define TC_B_f32(m) ((int32_t)(m))
#define TC_B_f64(m) ((int32_t)(m))
#define TC_B_i32(m) ((int32_t)(m))
#define TC_B_i64(m) ((int32_t)(m))

// Arithmetic: integers wrap.
#define TC_ADD_f32(a, b) ((a) + (b))
#define TC_SUB_f32(a, b) ((a) - (b))
#define TC_MUL_f32(a, b) ((a) * (b))
#define TC_NEG_f32(a) (-(a))
#define TC_ADD_f64(a, b) ((a) + (b))
#define TC_SUB_f64(a, b) ((a) - (b))
#define TC_MUL_f64(a, b) ((a) * (b))
#define TC_NEG_f64(a) (-(a))
#define TC_ADD_i32(a, b) ((int32_t)((uint32_t)(a) + (uint32_t)(b)))
#define TC_SUB_i32(a, b) ((int32_t)((uint32_t)(a) - (uint32_t)(b)))
#define TC_MUL_i32(a, b) ((int32_t)((uint32_t)(a) * (uint32_t)(b)))
#define TC_NEG_i32(a) ((int32_t)(0u - (uint32_t)(a)))
#define TC_ADD_i64(a, b) ((int64_t)((uint64_t)(a) + (uint64_t)(b)))
#define TC_SUB_i64(a, b) ((int64_t)((uint64_t)(a) - (uint64_t)(b)))
#define TC_MUL_i64(a, b) ((int64_t)((uint64_t)(a) * (uint64_t)(b)))
#define TC_NEG_i64(a) ((int64_t)((uint64_t)0 - (uint64_t)(a)))
#define TC_MULHI_u32(a, b) ((uint32_t)(((uint64_t)(a) * (b)) >> 32))

// Value conversions. Float to integer truncates and wants a value in range; 64 -> 32 wraps.
#define TC_CVT_i32_f32(x) ((float)(x))
#define TC_CVT_i32_f64(x) ((double)(x))
#define TC_CVT_i32_i64(x) ((int64_t)(x))
#define TC_CVT_i64_f32(x) ((float)(x))
#define TC_CVT_i64_f64(x) ((double)(x))
#define TC_CVT_i64_i32(x) ((int32_t)(uint32_t)(uint64_t)(x))
#define TC_CVT_f32_i32(x) ((int32_t)(x))
#define TC_CVT_f32_i64(x) ((int64_t)(x))
#define TC_CVT_f32_f64(x) ((double)(x))
#define TC_CVT_f64_i32(x) ((int32_t)(x))
#define TC_CVT_f64_i64(x) ((int64_t)(x))
#define TC_CVT_f64_f32(x) ((float)(x))

// Bit patterns.
#define TC_BITS_f32(x) TC_N(bits_f32)(x)
#define TC_BITS_f64(x) TC_N(bits_f64)(x)
#define TC_FROM_BITS_f32(i) TC_N(from_bits_f32)(i)
#define TC_FROM_BITS_f64(i) TC_N(from_bits_f64)(i)

#define TC_SQRT_f32(x) TC_N(sqrt_f32)(x)
#define TC_SQRT_f64(x) TC_N(sqrt_f64)(x)
#define TC_FMA_f32(a, b, c) TC_N(fma_f32)(a, b, c)
#define TC_FMAK_f32(a, b, k) TC_N(fma_f32)(a, b, k)

TC_FN int32_t TC_N(bits_f32)(float x) {
    union {
        float f;
        int32_t i;
    } u;
    u.f = x;
    return u.i;
}

TC_FN float TC_N(from_bits_f32)(int32_t i) {
    union {
        float f;
        int32_t i;
    } u;
    u.i = i;
    return u.f;
}

TC_FN int64_t TC_N(bits_f64)(double x) {
    union {
        double f;
        int64_t i;
    } u;
    u.f = x;
    return u.i;
}

TC_FN double TC_N(from_bits_f64)(int64_t i) {
    union {
        double f;
        int64_t i;
    } u;
    u.i = i;
    return u.f;
}

// fl(a * b + c) with one rounding. The product is exact in double; the sum is rounded to
// odd there (an inexact sum gets its last bit set), so the rounding to float is the only
// one.
TC_FN float TC_N(fma_f32)(float a, float b, float c) {
#if TC_HW_FMA
    return __builtin_fmaf(a, b, c);
#else
    double p = (double)a * (double)b, d = (double)c;
    double s = p + d, t = s - p;
    double e = (p - (s - t)) + (d - t);
    uint64_t i = (uint64_t)TC_N(bits_f64)(s), j = (uint64_t)TC_N(bits_f64)(e);
    uint64_t inexact = (uint64_t)0 - (uint64_t)((e < 0.0) | (e > 0.0));
    uint64_t step = 1u - (((i ^ j) >> 63) << 1);
    i += step & inexact & ((i & 1) - 1);
    return (float)TC_N(from_bits_f64)((int64_t)i);
#endif
}

// Square root of an integer below 2^(2 * bits), one bit at a time; *rest is what remains.
TC_FN uint64_t TC_N(isqrt)(uint64_t hi, int bits, uint64_t *rest) {
    uint64_t root = 0, left = 0;
    int i;
    for (i = 0; i < bits; i++) {
        left = (left << 2) | (hi >> 62);
        hi <<= 2;
        root <<= 1;
        if (left > (root << 1)) {
            left -= (root << 1) + 1;
            root++;
        }
    }
    *rest = left;
    return root;
}

TC_FN double TC_N(sqrt_f64)(double x) {
#if TC_HW_SSE2
    typedef double pair __attribute__((vector_size(16)));
    pair v = {x, 0.0};
    v = __builtin_ia32_sqrtpd(v);
    return v[0];
#elif TC_HW_NEON
    __asm__("fsqrt %d0, %d1" : "=w"(x) : "w"(x));
    return x;
#else
    int64_t i = TC_N(bits_f64)(x), e = i >> 52;
    uint64_t m = (uint64_t)i & 0xfffffffffffffu, rest = 0, root;
    if (!(x > 0.0)) return x == 0.0 ? x : (x - x) / (x - x);
    if (e == 0x7ff) return x;
    if (e == 0) {
        for (e = 1; m < 0x10000000000000u; e--) m <<= 1;
    }
    m |= 0x10000000000000u;
    e -= 1023;
    if (e & 1) {
        m <<= 1;
        e--;
    }
    // m in [2^52, 2^54): 27 bits of root from the top, then 27 more with zeros shifted in.
    root = TC_N(isqrt)(m << 10, 27, &rest);
    for (int k = 0; k < 27; k++) {
        rest <<= 2;
        root <<= 1;
        if (rest > (root << 1)) {
            rest -= (root << 1) + 1;
            root++;
        }
    }
    root = (root >> 1) + (root & 1);
    return TC_N(from_bits_f64)((int64_t)(((uint64_t)(e / 2 + 1022) << 52) + root));
#endif
}

TC_FN float TC_N(sqrt_f32)(float x) {
#if TC_HW_SSE2
    typedef float quad __attribute__((vector_size(16)));
    quad v = {x, 0.0f, 0.0f, 0.0f};
    v = __builtin_ia32_sqrtps(v);
    return v[0];
#elif TC_HW_NEON
    __asm__("fsqrt %s0, %s1" : "=w"(x) : "w"(x));
    return x;
#else
    return (float)TC_N(sqrt_f64)((double)x); // 53 >= 2 * 24 + 2 bits: the same rounding
#endif
}

// Loads and stores, the twins of the vector ones; n of ldn and stn is 0 or 1.
TC_FN float TC_N(ld_f32)(const float *p) { return *p; }
TC_FN double TC_N(ld_f64)(const double *p) { return *p; }
TC_FN int32_t TC_N(ld_i32)(const int32_t *p) { return *p; }
TC_FN int64_t TC_N(ld_i64)(const int64_t *p) { return *p; }
TC_FN int32_t TC_N(ld_u8)(const uint8_t *p) { return *p; }
TC_FN int32_t TC_N(ldn_u8)(const uint8_t *p, int n) { return n > 0 ? *p : 0; }
TC_FN int32_t TC_N(ld_i8)(const int8_t *p) { return *p; }
TC_FN int32_t TC_N(ld_u16)(const uint16_t *p) { return *p; }
TC_FN int32_t TC_N(ldn_u16)(const uint16_t *p, int n) { return n > 0 ? *p : 0; }
TC_FN int32_t TC_N(ld_bool)(const uint8_t *p) { return *p != 0; }
TC_FN void TC_N(st_f32)(float *p, float v) { *p = v; }
TC_FN void TC_N(st_f64)(double *p, double v) { *p = v; }
TC_FN void TC_N(st_i32)(int32_t *p, int32_t v) { *p = v; }
TC_FN void TC_N(st_i64)(int64_t *p, int64_t v) { *p = v; }
TC_FN void TC_N(st_u8)(uint8_t *p, int32_t v) { *p = (uint8_t)v; }
TC_FN void TC_N(stn_u8)(uint8_t *p, int32_t v, int n) {
    if (n > 0) *p = (uint8_t)v;
}
TC_FN void TC_N(st_i8)(int8_t *p, int32_t v) { *p = (int8_t)(uint8_t)v; }
TC_FN void TC_N(st_u16)(uint16_t *p, int32_t v) { *p = (uint16_t)v; }
TC_FN void TC_N(stn_u16)(uint16_t *p, int32_t v, int n) {
    if (n > 0) *p = (uint16_t)v;
}
TC_FN void TC_N(st_bool)(uint8_t *p, int32_t v) { *p = (uint8_t)(v != 0); }
TC_FN float TC_N(splat_f32)(float x) { return x; }
TC_FN double TC_N(splat_f64)(double x) { return x; }
TC_FN int32_t TC_N(splat_i32)(int32_t x) { return x; }
TC_FN int64_t TC_N(splat_i64)(int64_t x) { return x; }
TC_FN int32_t TC_N(iota_i32)(int32_t base) { return base; }
TC_FN int64_t TC_N(iota_i64)(int64_t base) { return base; }
TC_FN int32_t TC_N(lanes)(int n) { return n > 0; }

// Combines 32 partial results v[0..31] into v[0] in the one order that all forms share:
// lane l with l + 16, then + 8, + 4, + 2, + 1, the lower lane as the left operand.
#define TC_COMBINE_ARRAY(OP, v) \
    do { \
        int tc_half, tc_lane; \
        for (tc_half = 16; tc_half > 0; tc_half >>= 1) \
            for (tc_lane = 0; tc_lane < tc_half; tc_lane++) \
                (v)[tc_lane] = OP((v)[tc_lane], (v)[tc_lane + tc_half]); \
    } while (0)
