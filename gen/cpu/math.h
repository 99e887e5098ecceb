// include-many: see the instantiations in exec/interp_isa.c
// Elementary functions over the macros of cpu/scalar.h or cpu/vector.h, included after one
// of them (and once more after the other: TC_N keeps the names apart). TC_FN_COLD is what
// stands before a function for rare inputs; TC_MATH_64 0 leaves out what takes or returns 64-bit lanes.
//
// Rules: the same bits in every form. No libm; an FMA only where TC_FMA_f32 says so and
// none in f64; no conversion to an integer of a value that may be out of range (the integer
// part comes from the bits of the magic-number sum); no branch on a value but TC_ANY around
// a rare path. Polynomials are own minimax fits in Horner form; tests/tools/ulp.c measures
// the errors, tests/unit/math.c bounds them.
//
// A line "fn: name needs..." stands above every function; the function ends with the first
// "}" at the start of a line. So a printer can embed only what a kernel uses.

#ifndef TC_FN_COLD
#define TC_FN_COLD TC_FN
#endif
#ifndef TC_MATH_64
#define TC_MATH_64 1
#endif

#define TC_INF_f32 TC_FROM_BITS_f32(TC_K_i32(0x7f800000))
#define TC_NAN_f32 TC_FROM_BITS_f32(TC_K_i32(0x7fc00000))
#define TC_ABS_f32(x) TC_FROM_BITS_f32(TC_BITS_f32(x) & 0x7fffffff)
#define TC_SIGN_f32(x) (TC_BITS_f32(x) & (-0x7fffffff - 1))
#define TC_COPY_f32(x, s) TC_FROM_BITS_f32((TC_BITS_f32(x) & 0x7fffffff) | TC_SIGN_f32(s))
#define TC_FLIP_f32(x, s) TC_FROM_BITS_f32(TC_BITS_f32(x) ^ (s))

#define TC_INF_f64 TC_FROM_BITS_f64(TC_K_i64(0x7ff0000000000000))
#define TC_NAN_f64 TC_FROM_BITS_f64(TC_K_i64(0x7ff8000000000000))
#define TC_ABS_f64(x) TC_FROM_BITS_f64(TC_BITS_f64(x) & 0x7fffffffffffffff)
#define TC_SIGN_f64(x) (TC_BITS_f64(x) & (-0x7fffffffffffffff - 1))
#define TC_COPY_f64(x, s) \
    TC_FROM_BITS_f64((TC_BITS_f64(x) & 0x7fffffffffffffff) | TC_SIGN_f64(s))
#define TC_FLIP_f64(x, s) TC_FROM_BITS_f64(TC_BITS_f64(x) ^ (s))
// x without its low 27 bits, so that products of two such values are exact.
#define TC_TOP_f64(x) TC_FROM_BITS_f64(TC_BITS_f64(x) & -0x8000000)

// fn: floor_f32
TC_FN TC_F32 TC_N(floor_f32)(TC_F32 x) {
#if TC_HW_ROUND
    return TC_ROUND_f32(x, 9);
#else
    TC_F32 a = TC_ABS_f32(x), n = (a + 8388608.0f) - 8388608.0f, y = TC_COPY_f32(n, x);
    y = TC_SEL_f32(TC_GT_f32(y, x), y - 1.0f, y);
    return TC_SEL_f32(TC_LT_f32(a, TC_K_f32(8388608.0f)), TC_COPY_f32(y, x), x);
#endif
}

// fn: ceil_f32
TC_FN TC_F32 TC_N(ceil_f32)(TC_F32 x) {
#if TC_HW_ROUND
    return TC_ROUND_f32(x, 10);
#else
    TC_F32 a = TC_ABS_f32(x), n = (a + 8388608.0f) - 8388608.0f, y = TC_COPY_f32(n, x);
    y = TC_SEL_f32(TC_LT_f32(y, x), y + 1.0f, y);
    return TC_SEL_f32(TC_LT_f32(a, TC_K_f32(8388608.0f)), TC_COPY_f32(y, x), x);
#endif
}

// fn: trunc_f32
TC_FN TC_F32 TC_N(trunc_f32)(TC_F32 x) {
#if TC_HW_ROUND
    return TC_ROUND_f32(x, 11);
#else
    TC_F32 a = TC_ABS_f32(x), n = (a + 8388608.0f) - 8388608.0f;
    n = TC_SEL_f32(TC_GT_f32(n, a), n - 1.0f, n);
    return TC_SEL_f32(TC_LT_f32(a, TC_K_f32(8388608.0f)), TC_COPY_f32(n, x), x);
#endif
}

// fn: round_f32
// Half to even.
TC_FN TC_F32 TC_N(round_f32)(TC_F32 x) {
#if TC_HW_ROUND
    return TC_ROUND_f32(x, 8);
#else
    TC_F32 a = TC_ABS_f32(x), n = (a + 8388608.0f) - 8388608.0f;
    return TC_SEL_f32(TC_LT_f32(a, TC_K_f32(8388608.0f)), TC_COPY_f32(n, x), x);
#endif
}

// fn: frac_f32 trunc_f32
TC_FN TC_F32 TC_N(frac_f32)(TC_F32 x) { return x - TC_N(trunc_f32)(x); }

// fn: abs_f32
TC_FN TC_F32 TC_N(abs_f32)(TC_F32 x) { return TC_ABS_f32(x); }

// fn: sign_f32
// -1, 0 or 1; 0 for NaN, as PyTorch.
TC_FN TC_F32 TC_N(sign_f32)(TC_F32 x) {
    TC_F32 zero = TC_K_f32(0.0f), one = TC_K_f32(1.0f);
    TC_F32 y = TC_SEL_f32(TC_LT_f32(x, zero), -one, zero);
    return TC_SEL_f32(TC_GT_f32(x, zero), one, y);
}

// fn: maximum_f32
// NaN if either is.
TC_FN TC_F32 TC_N(maximum_f32)(TC_F32 a, TC_F32 b) {
    TC_F32 y = TC_MAX_f32(a, b);
    return TC_SEL_f32(TC_NE_f32(a, a), a, y);
}

// fn: minimum_f32
// NaN if either is.
TC_FN TC_F32 TC_N(minimum_f32)(TC_F32 a, TC_F32 b) {
    TC_F32 y = TC_MIN_f32(a, b);
    return TC_SEL_f32(TC_NE_f32(a, a), a, y);
}

// fn: copysign_f32
TC_FN TC_F32 TC_N(copysign_f32)(TC_F32 x, TC_F32 s) { return TC_COPY_f32(x, s); }

// fn: sqrt_of_f32
TC_FN TC_F32 TC_N(sqrt_of_f32)(TC_F32 x) { return TC_SQRT_f32(x); }

// fn: rsqrt_f32
TC_FN TC_F32 TC_N(rsqrt_f32)(TC_F32 x) { return TC_K_f32(1.0f) / TC_SQRT_f32(x); }

// fn: reciprocal_f32
TC_FN TC_F32 TC_N(reciprocal_f32)(TC_F32 x) { return TC_K_f32(1.0f) / x; }

// fn: exp_poly_f32
// (exp(r) - 1 - r) / r^2 for |r| <= ln(2) / 2.
TC_FN TC_F32 TC_N(exp_poly_f32)(TC_F32 r) {
    TC_F32 p = TC_K_f32(0.000197785383f);
    p = TC_FMAK_f32(p, r, 0.00139328861f);
    p = TC_FMAK_f32(p, r, 0.00833353121f);
    p = TC_FMAK_f32(p, r, 0.0416664965f);
    p = TC_FMAK_f32(p, r, 0.166666657f);
    p = TC_FMAK_f32(p, r, 0.5f);
    return p;
}

// fn: scales_f32
// 2^k as a product of two normal numbers for t = k + 12582912, -172 <= k <= 130.
TC_FN TC_F32 TC_N(scales_f32)(TC_F32 t, TC_F32 *s2) {
    TC_I32 k = TC_SUB_i32(TC_BITS_f32(t), TC_K_i32(0x4b400000)), h = k >> 1;
    *s2 = TC_FROM_BITS_f32((TC_I32)((TC_U32)(k - h + 127) << 23));
    return TC_FROM_BITS_f32((TC_I32)((TC_U32)(h + 127) << 23));
}

// fn: scale_f32 scales_f32
// p * 2^k for t = k + 12582912 and p between 2^-30 and 2^10: exact but for the one rounding
// of a denormal result, so the instruction gives the bits of the two products. What becomes
// zero in any case, as exp(-inf) of what a mask hides, is made of zero: an underflow costs a
// CPU of Intel's more than a hundred cycles.
TC_FN TC_F32 TC_N(scale_f32)(TC_F32 p, TC_F32 t) {
    p = TC_SEL_f32(TC_LT_f32(t, TC_K_f32(12582752.0f)), TC_K_f32(0.0f), p);
#if TC_HW_SCALE
    return TC_SCALE_f32(p, t - 12582912.0f);
#else
    TC_F32 s2, s1 = TC_N(scales_f32)(t, &s2);
    return (p * s1) * s2;
#endif
}

// fn: scale_mid_f32
// The same for -126 <= k <= 126.
TC_FN TC_F32 TC_N(scale_mid_f32)(TC_F32 p, TC_F32 t) {
#if TC_HW_SCALE
    return TC_SCALE_f32(p, t - 12582912.0f);
#else
    return p *
           TC_FROM_BITS_f32((TC_I32)(((TC_U32)TC_BITS_f32(t) << 23) + 0x3f800000u));
#endif
}

// fn: exp_base_f32
// exp(x) = (p + tail) * 2^k with p in [0.7, 1.42], the result, and *t = k + 12582912, for
// -120 <= x <= 90 or NaN.
TC_FN TC_F32 TC_N(exp_base_f32)(TC_F32 x, TC_F32 *tail, TC_F32 *t) {
    TC_F32 n, r, y;
    *t = TC_FMA_f32(x, TC_K_f32(1.44269502f), TC_K_f32(12582912.0f));
    n = *t - 12582912.0f;
    r = TC_FMA_f32(n, TC_K_f32(-0.693145752f), x);
    r = TC_FMA_f32(n, TC_K_f32(-1.42860677e-06f), r);
    TC_F32 p = TC_K_f32(0.00138306443f);
    p = TC_FMAK_f32(p, r, 0.00836867653f);
    p = TC_FMAK_f32(p, r, 0.0416682027f);
    p = TC_FMAK_f32(p, r, 0.166665226f);
    p = TC_FMAK_f32(p, r, 0.49999994f);
    p = TC_FMA_f32(r * r, p, r);
    y = p + 1.0f;
    *tail = p - (y - 1.0f);
    return y;
}

// fn: exp_parts_f32 exp_base_f32
// The same for any x, clamped.
TC_FN TC_F32 TC_N(exp_parts_f32)(TC_F32 x, TC_F32 *tail, TC_F32 *t) {
    TC_F32 low = TC_K_f32(-120.0f), high = TC_K_f32(90.0f), v = TC_MAX_f32(low, x);
    return TC_N(exp_base_f32)(TC_MIN_f32(high, v), tail, t);
}

// fn: exp_f32 exp_parts_f32 scale_f32
TC_FN TC_F32 TC_N(exp_f32)(TC_F32 x) {
    TC_F32 tail, t, p = TC_N(exp_parts_f32)(x, &tail, &t);
    return TC_N(scale_f32)(p, t);
}

// fn: exp_neg_f32 exp_base_f32 scale_f32
// exp_f32 for x <= 0 or NaN, the same bits.
TC_FN TC_F32 TC_N(exp_neg_f32)(TC_F32 x) {
    TC_F32 low = TC_K_f32(-120.0f), tail, t, p;
    p = TC_N(exp_base_f32)(TC_MAX_f32(low, x), &tail, &t);
    return TC_N(scale_f32)(p, t);
}

// fn: exp_mid_f32 scale_mid_f32
// exp(x) for -87 <= x <= 88, or NaN.
TC_FN TC_F32 TC_N(exp_mid_f32)(TC_F32 x) {
    TC_F32 t = TC_FMA_f32(x, TC_K_f32(1.44269502f), TC_K_f32(12582912.0f));
    TC_F32 n = t - 12582912.0f, r = TC_FMA_f32(n, TC_K_f32(-0.693145752f), x);
    r = TC_FMA_f32(n, TC_K_f32(-1.42860677e-06f), r);
    TC_F32 p = TC_K_f32(0.00138306443f);
    p = TC_FMAK_f32(p, r, 0.00836867653f);
    p = TC_FMAK_f32(p, r, 0.0416682027f);
    p = TC_FMAK_f32(p, r, 0.166665226f);
    p = TC_FMAK_f32(p, r, 0.49999994f);
    p = TC_FMAK_f32(p, r, 1.0f);
    p = TC_FMAK_f32(p, r, 1.0f);
    return TC_N(scale_mid_f32)(p, t);
}

// fn: exp2_f32 scale_f32
TC_FN TC_F32 TC_N(exp2_f32)(TC_F32 x) {
    TC_F32 low = TC_K_f32(-170.0f), high = TC_K_f32(130.0f), t, r;
    x = TC_MAX_f32(low, x);
    x = TC_MIN_f32(high, x);
    t = x + 12582912.0f;
    r = (x - (t - 12582912.0f)) * 0.693147182f;
    TC_F32 p = TC_K_f32(0.00138306443f);
    p = TC_FMAK_f32(p, r, 0.00836867653f);
    p = TC_FMAK_f32(p, r, 0.0416682027f);
    p = TC_FMAK_f32(p, r, 0.166665226f);
    p = TC_FMAK_f32(p, r, 0.49999994f);
    p = TC_FMAK_f32(p, r, 1.0f);
    p = TC_FMAK_f32(p, r, 1.0f);
    return TC_N(scale_f32)(p, t);
}

// fn: expm1_f32 exp_poly_f32
// 2 * (s * (exp(r) - 1) + (s - 1/2)) with s = 2^(k - 1).
TC_FN TC_F32 TC_N(expm1_f32)(TC_F32 x) {
    TC_F32 low = TC_K_f32(-30.0f), high = TC_K_f32(89.0f), v, t, n, r, s, y;
    v = TC_MAX_f32(low, x);
    v = TC_MIN_f32(high, v);
    t = TC_FMA_f32(v, TC_K_f32(1.44269502f), TC_K_f32(12582912.0f));
    n = t - 12582912.0f;
    r = TC_FMA_f32(n, TC_K_f32(-0.693145752f), v);
    r = TC_FMA_f32(n, TC_K_f32(-1.42860677e-06f), r);
    s = TC_FROM_BITS_f32((TC_I32)(((TC_U32)TC_BITS_f32(t) << 23) + 0x3f000000u));
    y = TC_FMA_f32(r * r, TC_N(exp_poly_f32)(r), r);
    y = TC_FMA_f32(s, y, s - 0.5f);
    return TC_SEL_f32(TC_LT_f32(TC_ABS_f32(x), TC_K_f32(2e-8f)), x, y + y);
}

// fn: log_split_f32
// x = 2^e * (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)], for positive finite x.
TC_FN TC_F32 TC_N(log_split_f32)(TC_F32 x, TC_F32 *e) {
    TC_I32 tiny = TC_LT_f32(x, TC_K_f32(1.17549435e-38f));
    TC_F32 v = TC_SEL_f32(tiny, x * 8388608.0f, x);
    TC_U32 j = (TC_U32)TC_BITS_f32(v) + 0x4afb0du;
    TC_I32 k = (TC_I32)(j >> 23) - TC_SEL_i32(tiny, TC_K_i32(150), TC_K_i32(127));
    *e = TC_CVT_i32_f32(k);
    return TC_FROM_BITS_f32((TC_I32)((j & 0x7fffffu) + 0x3f3504f3u)) - 1.0f;
}

// fn: log_poly_f32
// e * ln(2) + log(1 + f)
TC_FN TC_F32 TC_N(log_poly_f32)(TC_F32 f, TC_F32 e) {
    TC_F32 z = f * f;
    TC_F32 p = TC_K_f32(0.0645240098f);
    p = TC_FMAK_f32(p, f, -0.11534135f);
    p = TC_FMAK_f32(p, f, 0.119347982f);
    p = TC_FMAK_f32(p, f, -0.124323621f);
    p = TC_FMAK_f32(p, f, 0.142186239f);
    p = TC_FMAK_f32(p, f, -0.16666773f);
    p = TC_FMAK_f32(p, f, 0.200020596f);
    p = TC_FMAK_f32(p, f, -0.250000149f);
    p = TC_FMAK_f32(p, f, 0.333333135f);
    p = TC_FMA_f32(e, TC_K_f32(-0.000212194442f), p * (f * z));
    p = TC_FMA_f32(z, TC_K_f32(-0.5f), p);
    return TC_FMA_f32(e, TC_K_f32(0.693359375f), f + p);
}

// fn: log_ends_f32
// y with log's values at 0, below 0, inf and NaN.
TC_FN TC_F32 TC_N(log_ends_f32)(TC_F32 x, TC_F32 y) {
    TC_F32 zero = TC_K_f32(0.0f);
    y = TC_SEL_f32(TC_LT_f32(x, TC_INF_f32), y, x);
    y = TC_SEL_f32(TC_LT_f32(x, zero), TC_NAN_f32, y);
    return TC_SEL_f32(TC_EQ_f32(x, zero), -TC_INF_f32, y);
}

// fn: log_f32 log_split_f32 log_ends_f32 log_poly_f32
TC_FN TC_F32 TC_N(log_f32)(TC_F32 x) {
    TC_F32 e, f = TC_N(log_split_f32)(x, &e);
    return TC_N(log_ends_f32)(x, TC_N(log_poly_f32)(f, e));
}

// fn: log_pos_f32 log_poly_f32
// log_f32 for x >= 2^-126 or NaN, the same bits.
TC_FN TC_F32 TC_N(log_pos_f32)(TC_F32 x) {
    TC_U32 j = (TC_U32)TC_BITS_f32(x) + 0x4afb0du;
    TC_I32 k = TC_SUB_i32((TC_I32)(j >> 23), TC_K_i32(127));
    TC_F32 e = TC_CVT_i32_f32(k), y;
    y = TC_FROM_BITS_f32((TC_I32)((j & 0x7fffffu) + 0x3f3504f3u)) - 1.0f;
    y = TC_N(log_poly_f32)(y, e);
    return TC_SEL_f32(TC_LT_f32(x, TC_INF_f32), y, x);
}

// fn: log2_f32 log_split_f32 log_poly_f32 log_ends_f32
TC_FN TC_F32 TC_N(log2_f32)(TC_F32 x) {
    TC_F32 e, f = TC_N(log_split_f32)(x, &e), y = TC_N(log_poly_f32)(f, TC_K_f32(0.0f));
    y = TC_FMA_f32(y, TC_K_f32(1.44269502f), TC_FMA_f32(y, TC_K_f32(1.92596303e-08f), e));
    return TC_N(log_ends_f32)(x, y);
}

// fn: log10_f32 log_split_f32 log_poly_f32 log_ends_f32
TC_FN TC_F32 TC_N(log10_f32)(TC_F32 x) {
    TC_F32 e, f = TC_N(log_split_f32)(x, &e), y = TC_N(log_poly_f32)(f, TC_K_f32(0.0f));
    y = TC_FMA_f32(y, TC_K_f32(0.434294492f), e * 4.60503907e-06f);
    return TC_N(log_ends_f32)(x, TC_FMA_f32(e, TC_K_f32(0.301025391f), y));
}

// fn: log1p_f32 log_poly_f32 log_ends_f32
// log(u) with u = 1 + x = 2^k (1 + f), which is no denormal, and what the rounding of u lost, c, added to f.
TC_FN TC_F32 TC_N(log1p_f32)(TC_F32 x) {
    TC_F32 u = x + 1.0f, near_one = u - x, c = (1.0f - near_one) + (x - (u - near_one)), s, e, f, y;
    TC_I32 tiny = TC_LT_f32(TC_ABS_f32(x), TC_K_f32(2e-8f));
    TC_U32 j = (TC_U32)TC_BITS_f32(u) + 0x4afb0du;
    e = TC_CVT_i32_f32(TC_SUB_i32((TC_I32)(j >> 23), TC_K_i32(127)));
    f = TC_FROM_BITS_f32((TC_I32)((j & 0x7fffffu) + 0x3f3504f3u)) - 1.0f;
    s = TC_FROM_BITS_f32((TC_I32)(0x7f800000u - (j & 0x7f800000u))); // 2^(1 - k)
    f = TC_FMA_f32(c * 0.5f, s, f);
    y = TC_N(log_poly_f32)(TC_SEL_f32(tiny, TC_K_f32(0.0f), f), e);
    return TC_SEL_f32(tiny, x, TC_N(log_ends_f32)(u, y));
}

// fn: trig_big_f32
// x = (4 m + q) pi/2 + r + c for finite |x| >= 2^16: 24 bits of x times the 96 bits of 2/pi
// that matter.
TC_FN_COLD TC_E_I32 TC_N(trig_big_f32)(TC_E_U32 x, float *r, float *c) {
    static const TC_E_U32 two_over_pi[8] = {0,           0xa2f9836eu, 0x4e441529u,
                                            0xfc2757d1u, 0xf534ddc0u, 0xdb629599u,
                                            0x3c439041u, 0xfe5163abu};
    TC_E_U32 bit = ((x >> 23) & 255) - 120, word = bit / 32, shift = bit % 32, w[3], i;
    TC_E_U64 m = (x & 0x7fffffu) | 0x800000u, p, q;
    TC_E_F64 d;
    for (i = 0; i < 3; i++) {
        TC_E_U64 two = (TC_E_U64)two_over_pi[word + i] << 32 | two_over_pi[word + i + 1];
        w[i] = (TC_E_U32)((two << shift) >> 32);
    }
    p = ((m * w[0]) << 32) + m * w[1] + ((m * w[2]) >> 32);
    q = (p + 0x2000000000000000u) >> 62;
    d = (TC_E_F64)(TC_E_I64)(p - (q << 62)) * 3.4061215800865545e-19;
    *r = (float)d;
    *c = (float)(d - (TC_E_F64)*r);
    if (x >> 31) {
        *r = -*r;
        *c = -*c;
        q = 4 - q;
    }
    return (TC_E_I32)(q & 3);
}

// fn: trig_big_lanes_f32 trig_big_f32
// trig_big_f32 for the lanes of big.
TC_FN_COLD TC_I32 TC_N(trig_big_lanes_f32)(TC_I32 big, TC_F32 x, TC_I32 q, TC_F32 *r,
                                           TC_F32 *c) {
    int i;
    for (i = 0; i < TC_LANES; i++) {
        float s, t;
        TC_E_I32 k;
        if (TC_GET(big, i) == 0) continue;
        k = TC_N(trig_big_f32)((TC_E_U32)TC_GET(TC_BITS_f32(x), i), &s, &t);
        TC_SET(q, i, k);
        TC_SET(*r, i, s);
        TC_SET(*c, i, t);
    }
    return q;
}

// fn: trig_reduce_f32 trig_big_lanes_f32
// x = (4 m + q) pi/2 + r with |r| <= pi/4; the low two bits of the result are q.
TC_FN TC_I32 TC_N(trig_reduce_f32)(TC_F32 x, TC_F32 *r) {
    TC_F32 a = TC_ABS_f32(x),
           t = TC_FMA_f32(x, TC_K_f32(0.636619747f), TC_K_f32(12582912.0f)), n, y;
    TC_I32 q = TC_BITS_f32(t), big = TC_GT_f32(a, TC_K_f32(1e5f));
    n = t - 12582912.0f;
    y = TC_FMA_f32(n, TC_K_f32(-1.57079637f), x);
    y = TC_FMA_f32(n, TC_K_f32(4.37113883e-08f), y);
    y = TC_FMA_f32(n, TC_K_f32(1.71512451e-15f), y);
    if (TC_ANY_i32(big)) {
        TC_F32 s = y, c = y;
        big &= TC_LT_f32(a, TC_INF_f32);
        q = TC_N(trig_big_lanes_f32)(big, x, q, &s, &c);
        y = s;
    }
    *r = y;
    return q;
}

// fn: sin_poly_f32
// sin(r) for |r| <= pi/4
TC_FN TC_F32 TC_N(sin_poly_f32)(TC_F32 r) {
    TC_F32 z = r * r;
    TC_F32 p = TC_K_f32(2.83250984e-06f);
    p = TC_FMAK_f32(p, z, -0.000198530644f);
    p = TC_FMAK_f32(p, z, 0.0083333794f);
    p = TC_FMAK_f32(p, z, -0.166666672f);
    return TC_FMA_f32(r * z, p, r);
}

// fn: cos_poly_f32
// cos(r) for |r| <= pi/4
TC_FN TC_F32 TC_N(cos_poly_f32)(TC_F32 r) {
    TC_F32 z = r * r;
    TC_F32 p = TC_K_f32(2.44323219e-05f);
    p = TC_FMAK_f32(p, z, -0.00138873095f);
    p = TC_FMAK_f32(p, z, 0.0416666456f);
    return TC_FMA_f32(z * z, p, TC_FMA_f32(z, TC_K_f32(-0.5f), TC_K_f32(1.0f)));
}

// fn: sin_of_f32 sin_poly_f32 cos_poly_f32
// sin(x) from what trig_reduce_f32 gave for x.
TC_FN TC_F32 TC_N(sin_of_f32)(TC_F32 x, TC_I32 q, TC_F32 r) {
    TC_F32 s = TC_N(sin_poly_f32)(r), y;
    TC_I32 odd = TC_NE_i32(q & 1, TC_K_i32(0));
    y = TC_SEL_f32(odd, TC_N(cos_poly_f32)(r), s);
    y = TC_FLIP_f32(y, (TC_I32)(((TC_U32)q & 2u) << 30));
    return TC_SEL_f32(TC_EQ_f32(x, TC_K_f32(0.0f)), x, y);
}

// fn: sin_f32 trig_reduce_f32 sin_of_f32
TC_FN TC_F32 TC_N(sin_f32)(TC_F32 x) {
    TC_F32 r;
    TC_I32 q = TC_N(trig_reduce_f32)(x, &r);
    return TC_N(sin_of_f32)(x, q, r);
}

// fn: cos_of_f32 sin_poly_f32 cos_poly_f32
// cos(x) from what trig_reduce_f32 gave for x.
TC_FN TC_F32 TC_N(cos_of_f32)(TC_I32 q, TC_F32 r) {
    TC_F32 s = TC_N(sin_poly_f32)(r), y;
    TC_I32 odd = TC_NE_i32(q & 1, TC_K_i32(0));
    y = TC_SEL_f32(odd, s, TC_N(cos_poly_f32)(r));
    return TC_FLIP_f32(y, (TC_I32)((((TC_U32)q + 1u) & 2u) << 30));
}

// fn: cos_f32 trig_reduce_f32 cos_of_f32
TC_FN TC_F32 TC_N(cos_f32)(TC_F32 x) {
    TC_F32 r;
    TC_I32 q = TC_N(trig_reduce_f32)(x, &r);
    return TC_N(cos_of_f32)(q, r);
}

// fn: tan_f32 trig_big_lanes_f32
// sin / cos, both from r and its rounding error c.
TC_FN TC_F32 TC_N(tan_f32)(TC_F32 x) {
    TC_F32 a = TC_ABS_f32(x),
           t = TC_FMA_f32(x, TC_K_f32(0.636619747f), TC_K_f32(12582912.0f)), n;
    TC_F32 g, h, r, c, v, w, z, s, k, y;
    TC_I32 q = TC_BITS_f32(t),
           big = TC_GT_f32(a, TC_K_f32(1e5f)) & TC_LT_f32(a, TC_INF_f32), odd;
    n = t - 12582912.0f;
    g = TC_FMA_f32(n, TC_K_f32(-1.57079637f), x);
    // g + n p2 as h + c: the product and the sum with their errors, as either may be larger
    w = n * 4.37113883e-08f;
    c = TC_FMA_f32(n, TC_K_f32(4.37113883e-08f), -w);
    h = g + w;
    v = h - g;
    c = c + ((g - (h - v)) + (w - v));
    c = TC_FMA_f32(n, TC_K_f32(1.71512451e-15f), c);
    r = h + c;
    c = (h - r) + c;
    if (TC_ANY_i32(big)) {
        TC_F32 b = r, d = c;
        q = TC_N(trig_big_lanes_f32)(big, x, q, &b, &d);
        r = b;
        c = d;
    }
    odd = TC_NE_i32(q & 1, TC_K_i32(0));
    z = r * r;
    TC_F32 p = TC_K_f32(2.83250984e-06f);
    p = TC_FMAK_f32(p, z, -0.000198530644f);
    p = TC_FMAK_f32(p, z, 0.0083333794f);
    p = TC_FMAK_f32(p, z, -0.166666672f);
    s = r + TC_FMA_f32(r * z, p, c);
    w = TC_K_f32(2.44323219e-05f);
    w = TC_FMAK_f32(w, z, -0.00138873095f);
    w = TC_FMAK_f32(w, z, 0.0416666456f);
    h = TC_FMA_f32(z, TC_K_f32(-0.5f), TC_K_f32(1.0f));
    k = h + TC_FMA_f32(z * z, w, TC_FMA_f32(z, TC_K_f32(-0.5f), 1.0f - h) - r * c);
    y = TC_SEL_f32(odd, -k, s) / TC_SEL_f32(odd, s, k);
    return TC_SEL_f32(TC_EQ_f32(x, TC_K_f32(0.0f)), x, y);
}

// fn: asin_poly_f32
// a <= 1/2: asin(a). Above: asin(sqrt((1 - a) / 2)) = (pi/2 - asin(a)) / 2.
TC_FN TC_F32 TC_N(asin_poly_f32)(TC_F32 a, TC_I32 *small) {
    TC_F32 half = TC_K_f32(0.5f), z, s;
    *small = TC_LE_f32(a, half);
    z = TC_SEL_f32(*small, a * a, TC_FMA_f32(a, -half, half));
    s = TC_SEL_f32(*small, a, TC_SQRT_f32(z));
    TC_F32 p = TC_K_f32(0.0421586037f);
    p = TC_FMAK_f32(p, z, 0.0241846889f);
    p = TC_FMAK_f32(p, z, 0.0454691574f);
    p = TC_FMAK_f32(p, z, 0.0749530941f);
    p = TC_FMAK_f32(p, z, 0.166667521f);
    return TC_FMA_f32(s * z, p, s);
}

// fn: asin_f32 asin_poly_f32
TC_FN TC_F32 TC_N(asin_f32)(TC_F32 x) {
    TC_I32 small;
    TC_F32 y = TC_N(asin_poly_f32)(TC_ABS_f32(x), &small);
    TC_F32 w = TC_FMA_f32(y, TC_K_f32(-2.0f), TC_K_f32(1.57079637f)) - 4.37113883e-08f;
    return TC_COPY_f32(TC_SEL_f32(small, y, w), x);
}

// fn: acos_f32 asin_poly_f32
TC_FN TC_F32 TC_N(acos_f32)(TC_F32 x) {
    TC_I32 small, negative = TC_LT_f32(x, TC_K_f32(0.0f));
    TC_F32 y = TC_N(asin_poly_f32)(TC_ABS_f32(x), &small), w, v;
    w = 1.57079637f - (TC_COPY_f32(y, x) + 4.37113883e-08f);
    v = TC_FMA_f32(y, TC_K_f32(-2.0f), TC_K_f32(3.14159274f)) - 8.74227766e-08f;
    v = TC_SEL_f32(negative, v, y + y);
    return TC_SEL_f32(small, w, v);
}

// fn: atan_poly_f32
// atan(t) for |t| <= 1
TC_FN TC_F32 TC_N(atan_poly_f32)(TC_F32 t) {
    TC_F32 z = t * t;
    TC_F32 p = TC_K_f32(-0.0017826152f);
    p = TC_FMAK_f32(p, z, 0.0108680669f);
    p = TC_FMAK_f32(p, z, -0.0310962815f);
    p = TC_FMAK_f32(p, z, 0.0578810163f);
    p = TC_FMAK_f32(p, z, -0.083992973f);
    p = TC_FMAK_f32(p, z, 0.109508798f);
    p = TC_FMAK_f32(p, z, -0.142640159f);
    p = TC_FMAK_f32(p, z, 0.199985296f);
    p = TC_FMAK_f32(p, z, -0.333332986f);
    return TC_FMA_f32(t * z, p, t);
}

// fn: atan_f32 atan_poly_f32
TC_FN TC_F32 TC_N(atan_f32)(TC_F32 x) {
    TC_F32 a = TC_ABS_f32(x), y;
    TC_I32 big = TC_GT_f32(a, TC_K_f32(1.0f));
    y = TC_N(atan_poly_f32)(TC_SEL_f32(big, TC_K_f32(-1.0f) / a, a));
    y = TC_SEL_f32(big, 1.57079637f + (y - 4.37113883e-08f), y);
    return TC_COPY_f32(y, x);
}

// fn: atan2_f32 atan_poly_f32
TC_FN TC_F32 TC_N(atan2_f32)(TC_F32 y, TC_F32 x) {
    TC_F32 a = TC_ABS_f32(y), b = TC_ABS_f32(x), zero = TC_K_f32(0.0f), n, d, t;
    TC_I32 steep = TC_GT_f32(a, b), left = TC_LT_i32(TC_BITS_f32(x), TC_K_i32(0));
    n = TC_SEL_f32(steep, b, a);
    d = TC_SEL_f32(steep, a, b);
    t = TC_SEL_f32(TC_EQ_f32(n, d), TC_K_f32(1.0f), n / d);
    t = TC_SEL_f32(TC_EQ_f32(n + d, zero), zero, t);
    t = TC_N(atan_poly_f32)(TC_SEL_f32(steep, -t, t));
    t = TC_SEL_f32(steep, 1.57079637f + (t - 4.37113883e-08f), t);
    t = TC_SEL_f32(left, 3.14159274f - (t + 8.74227766e-08f), t);
    return TC_COPY_f32(t, y);
}

// fn: sinh_f32 exp_parts_f32 scale_f32
TC_FN TC_F32 TC_N(sinh_f32)(TC_F32 x) {
    TC_F32 a = TC_ABS_f32(x), z = a * a, tail, t, y;
    TC_F32 e = TC_N(exp_parts_f32)(a, &tail, &t);
    TC_F32 p = TC_K_f32(2.78221182e-06f);
    p = TC_FMAK_f32(p, z, 0.000198428956f);
    p = TC_FMAK_f32(p, z, 0.00833331048f);
    p = TC_FMAK_f32(p, z, 0.166666672f);
    e = TC_N(scale_f32)(e * 0.5f, t);
    y = TC_SEL_f32(TC_LT_f32(a, TC_K_f32(1.0f)), TC_FMA_f32(a * z, p, a), e - 0.25f / e);
    return TC_COPY_f32(y, x);
}

// fn: cosh_f32 exp_parts_f32 scale_f32
TC_FN TC_F32 TC_N(cosh_f32)(TC_F32 x) {
    TC_F32 tail, t, e = TC_N(exp_parts_f32)(TC_ABS_f32(x), &tail, &t);
    e = TC_N(scale_f32)(e * 0.5f, t);
    return e + 0.25f / e;
}

// fn: tanh_f32 exp_mid_f32
TC_FN TC_F32 TC_N(tanh_f32)(TC_F32 x) {
    TC_F32 a = TC_ABS_f32(x), high = TC_K_f32(10.0f), z = a * a, e, y;
    a = TC_MIN_f32(high, a);
    e = TC_N(exp_mid_f32)(a * -2.0f);
    TC_F32 p = TC_K_f32(-0.00551470648f);
    p = TC_FMAK_f32(p, z, 0.0204690211f);
    p = TC_FMAK_f32(p, z, -0.0536879078f);
    p = TC_FMAK_f32(p, z, 0.133308291f);
    p = TC_FMAK_f32(p, z, -0.333332598f);
    y = (1.0f - e) / (1.0f + e);
    y = TC_SEL_f32(TC_LT_f32(a, TC_K_f32(0.65f)), TC_FMA_f32(a * z, p, a), y);
    return TC_COPY_f32(y, x);
}

// fn: erf_f32 exp_mid_f32
// Above 1: 1 - exp(q(x)).
TC_FN TC_F32 TC_N(erf_f32)(TC_F32 x) {
    TC_F32 a = TC_ABS_f32(x), high = TC_K_f32(4.0f), z = a * a, y;
    TC_F32 p = TC_K_f32(7.80690752e-05f);
    p = TC_FMAK_f32(p, z, -0.00079978531f);
    p = TC_FMAK_f32(p, z, 0.0051871622f);
    p = TC_FMAK_f32(p, z, -0.0268533472f);
    p = TC_FMAK_f32(p, z, 0.112835787f);
    p = TC_FMAK_f32(p, z, -0.37612626f);
    p = TC_FMAK_f32(p, z, 0.128379166f);
    a = TC_MIN_f32(high, a);
    TC_F32 q = TC_K_f32(-1.39705962e-05f);
    q = TC_FMAK_f32(q, a, 0.000329494564f);
    q = TC_FMAK_f32(q, a, -0.00352654257f);
    q = TC_FMAK_f32(q, a, 0.0229857378f);
    q = TC_FMAK_f32(q, a, -0.104176f);
    q = TC_FMAK_f32(q, a, -0.637923777f);
    q = TC_FMAK_f32(q, a, -1.12677968f);
    q = TC_FMAK_f32(q, a, -0.000500373601f);
    y = 1.0f - TC_N(exp_mid_f32)(q);
    y = TC_SEL_f32(TC_LT_f32(a, TC_K_f32(1.0f)), TC_FMA_f32(a, p, a), y);
    return TC_COPY_f32(y, x);
}

// fn: erfcx_poly_f32
// exp(a^2) erfc(a) (1 + 2 a) for 1/2 <= a < 11 and t = (a - 2.8) / (a + 2.8)
TC_FN TC_F32 TC_N(erfcx_poly_f32)(TC_F32 t) {
    TC_F32 p = TC_K_f32(0.0018063751f);
    p = TC_FMAK_f32(p, t, -0.00193511811f);
    p = TC_FMAK_f32(p, t, -0.0129838744f);
    p = TC_FMAK_f32(p, t, 0.0558606349f);
    p = TC_FMAK_f32(p, t, -0.115948439f);
    p = TC_FMAK_f32(p, t, 0.141990304f);
    p = TC_FMAK_f32(p, t, -0.0662469864f);
    p = TC_FMAK_f32(p, t, -0.131701574f);
    p = TC_FMAK_f32(p, t, 1.2576226f);
    return p;
}

// fn: erfc_f32 exp_parts_f32 scale_f32 erfcx_poly_f32
// Below 1/2 from erf's polynomial; above from exp(-a^2), where 1 - erf would cancel.
TC_FN TC_F32 TC_N(erfc_f32)(TC_F32 x) {
    TC_F32 a = TC_ABS_f32(x), high = TC_K_f32(11.0f), h, e, q, tail, t, y;
    a = TC_MIN_f32(high, a);
    h = a * a;
    TC_F32 p = TC_K_f32(0.00471916003f);
    p = TC_FMAK_f32(p, h, -0.0267582592f);
    p = TC_FMAK_f32(p, h, 0.112828508f);
    p = TC_FMAK_f32(p, h, -0.376126111f);
    p = TC_FMAK_f32(p, h, 0.128379166f);
    e = TC_N(exp_parts_f32)(-h, &tail, &t);
    tail = TC_FMA_f32(e, -TC_FMA_f32(a, a, -h), tail);
    q = TC_N(erfcx_poly_f32)((a - 2.8f) / (a + 2.8f));
    q = TC_FMA_f32(e, q, tail * q) / (a + a + 1.0f);
    y = TC_SEL_f32(TC_LT_f32(a, TC_K_f32(0.5f)), 1.0f - TC_FMA_f32(a, p, a),
                   TC_N(scale_f32)(q, t));
    return TC_SEL_f32(TC_LT_f32(x, TC_K_f32(0.0f)), 2.0f - y, y);
}

// fn: gelu_f32 exp_parts_f32 scale_f32 erfcx_poly_f32
// x P(x) with P(x) = erfc(-x / sqrt(2)) / 2: near 0 from erf's polynomial, else from the
// left tail, so nothing cancels.
TC_FN TC_F32 TC_N(gelu_f32)(TC_F32 x) {
    TC_F32 a = TC_ABS_f32(x), high = TC_K_f32(15.0f), h, e, q, tail, t, y;
    a = TC_MIN_f32(high, a);
    h = a * a;
    TC_F32 p = TC_K_f32(0.000108542285f);
    p = TC_FMAK_f32(p, h, -0.0011876456f);
    p = TC_FMAK_f32(p, h, 0.00997474696f);
    p = TC_FMAK_f32(p, h, -0.0664906278f);
    p = TC_FMAK_f32(p, h, 0.398942292f);
    e = TC_N(exp_parts_f32)(h * -0.5f, &tail, &t);
    tail = TC_FMA_f32(e, TC_FMA_f32(a, a, -h) * -0.5f, tail);
    q = TC_N(erfcx_poly_f32)((a - 3.95979798f) / (a + 3.95979798f));
    q = TC_FMA_f32(e, q, tail * q) / TC_FMA_f32(a, TC_K_f32(2.82842712f), TC_K_f32(2.0f));
    y = TC_SEL_f32(TC_LT_f32(x, TC_K_f32(0.0f)), -TC_N(scale_f32)(a * q, t),
                   x * (1.0f - TC_N(scale_f32)(q, t)));
    y = TC_SEL_f32(TC_LT_f32(a, TC_K_f32(0.7f)), x * TC_FMA_f32(x, p, TC_K_f32(0.5f)), y);
    return TC_SEL_f32(TC_EQ_f32(x, -TC_INF_f32), TC_NAN_f32, y);
}

// fn: sigmoid_f32 exp_neg_f32
TC_FN TC_F32 TC_N(sigmoid_f32)(TC_F32 x) {
    TC_F32 one = TC_K_f32(1.0f), e = TC_N(exp_neg_f32)(-TC_ABS_f32(x));
    return TC_SEL_f32(TC_LT_f32(x, TC_K_f32(0.0f)), e, one) / (one + e);
}

// fn: silu_parts_f32 exp_parts_f32 scale_mid_f32 scales_f32
// x / (1 + exp(-(v + w))) where v has the sign of x and |w| is far below |v|; right to the
// smallest denormal because the last power of two comes last. Neither what 1 swallows nor
// what becomes zero is an underflow (see scale).
TC_FN TC_F32 TC_N(silu_parts_f32)(TC_F32 x, TC_F32 v, TC_F32 w) {
    TC_I32 negative = TC_LT_f32(x, TC_K_f32(0.0f));
    TC_F32 one = TC_K_f32(1.0f), low = TC_K_f32(-120.0f), tail, t, s2, y;
    TC_F32 p = TC_N(exp_parts_f32)(-TC_ABS_f32(v), &tail, &t);
    TC_F32 s1 = TC_N(scales_f32)(t, &s2), least = TC_K_f32(12582812.0f);
    s2 = TC_SEL_f32(TC_LT_f32(t, TC_K_f32(12582752.0f)), TC_K_f32(0.0f), s2);
    tail = TC_FMA_f32(p, TC_SEL_f32(negative, w, -w), tail);
    y = TC_MAX_f32(low, x);
    y = TC_FMA_f32(y, p, y * tail) * s1;
    y = TC_SEL_f32(negative, y, x) / (one + TC_N(scale_mid_f32)(p, TC_MAX_f32(least, t)));
    y = y * TC_SEL_f32(negative, s2, one);
    return TC_SEL_f32(TC_EQ_f32(x, -TC_INF_f32), TC_NAN_f32, y);
}

// fn: silu_f32 silu_parts_f32
TC_FN TC_F32 TC_N(silu_f32)(TC_F32 x) { return TC_N(silu_parts_f32)(x, x, TC_K_f32(0.0f)); }

// fn: gelu_tanh_f32 silu_parts_f32
// x / (1 + exp(-2 sqrt(2/pi) (x + 0.044715 x^3))); the exponent is exact to more than f32.
TC_FN TC_F32 TC_N(gelu_tanh_f32)(TC_F32 x) {
    TC_F32 a = TC_ABS_f32(x), high = TC_K_f32(12.0f), v;
    TC_F64 d, g;
    a = TC_COPY_f32(TC_MIN_f32(high, a), x);
    d = TC_CVT_f32_f64(a);
    g = d * (d * d * 0.0713548162726002 + 1.5957691216057308);
    v = TC_CVT_f64_f32(g);
    return TC_N(silu_parts_f32)(x, v, TC_CVT_f64_f32(g - TC_CVT_f32_f64(v)));
}

// fn: softplus_f32 log1p_f32 exp_neg_f32
TC_FN TC_F32 TC_N(softplus_f32)(TC_F32 x) {
    TC_F32 zero = TC_K_f32(0.0f), y = TC_N(log1p_f32)(TC_N(exp_neg_f32)(-TC_ABS_f32(x)));
    return TC_MAX_f32(x, zero) + y;
}

// fn: pow_f32 floor_f32
// 2^(y log2 |x|) in double; then the signs and C99's special cases.
TC_FN TC_F32 TC_N(pow_f32)(TC_F32 x, TC_F32 y) {
    TC_F32 a = TC_ABS_f32(x), b = TC_ABS_f32(y), zero = TC_K_f32(0.0f),
           one = TC_K_f32(1.0f);
    TC_F32 half = y * 0.5f, inf = TC_INF_f32, f;
    TC_I32 whole = TC_EQ_f32(TC_N(floor_f32)(y), y);
    TC_I32 odd = whole & TC_NE_f32(TC_N(floor_f32)(half), half), is_one;
    TC_F64 low = TC_K_f64(-200.0), high = TC_K_f64(200.0), d = TC_CVT_f32_f64(a), e, m, s,
           z, t, r;
    TC_U64 j = (TC_U64)TC_BITS_f64(d) + 0x00095f619980c433u;
    e = TC_FROM_BITS_f64((TC_I64)((j >> 52) | 0x4330000000000000u)) - 4503599627371519.0;
    m = TC_FROM_BITS_f64((TC_I64)((j & 0xfffffffffffffu) + 0x3fe6a09e667f3bcdu));
    s = (m - 1.0) / (m + 1.0);
    z = s * s;
    TC_F64 p = TC_K_f64(0.34072725890356775);
    p = p * z + 0.41167287561704813;
    p = p * z + 0.57708358230972301;
    p = p * z + 0.96179667335557517;
    p = p * z + 2.8853900817900748;
    e = e + s * p;
    e = TC_SEL_f64(TC_M_f64(TC_LT_f32(a, inf)), e, d);
    e = TC_SEL_f64(TC_M_f64(TC_EQ_f32(a, zero)), TC_K_f64(-1e300) * 1e300, e);
    e = e * TC_CVT_f32_f64(y);
    e = TC_SEL_f64(TC_LT_f64(e, low), low, e);
    e = TC_SEL_f64(TC_GT_f64(e, high), high, e);
    t = e + 6755399441055744.0;
    r = e - (t - 6755399441055744.0);
    TC_F64 g = TC_K_f64(0.00015345878691003559);
    g = g * r + 0.0013399934712495737;
    g = g * r + 0.0096184886502401201;
    g = g * r + 0.055503287657908913;
    g = g * r + 0.2402264689456802;
    g = g * r + 0.69314720574469724;
    g = g * r + 1.0000000005533125;
    z = TC_FROM_BITS_f64((TC_I64)(((TC_U64)TC_BITS_f64(t) << 52) + 0x3ff0000000000000u));
    f = TC_CVT_f64_f32(g * z);
    f = TC_FLIP_f32(f, TC_SIGN_f32(x) & TC_SEL_i32(odd, TC_K_i32(-1), TC_K_i32(0)));
    f = TC_SEL_f32(TC_LT_f32(x, zero) & TC_GT_f32(x, -inf) & TC_NOT(whole), TC_NAN_f32, f);
    is_one =
        TC_EQ_f32(x, one) | TC_EQ_f32(y, zero) | (TC_EQ_f32(a, one) & TC_EQ_f32(b, inf));
    return TC_SEL_f32(is_one, one, f);
}

// fn: fmod_far_f32
// a mod b for finite a >= 0 and b > 0, up to 28 bits of the quotient at a time: its product
// with b is exact in double, and so is the difference.
TC_FN_COLD TC_F32 TC_N(fmod_far_f32)(TC_F32 a, TC_F32 b) {
    TC_F64 r = TC_CVT_f32_f64(a), d = TC_CVT_f32_f64(b), none = TC_K_f64(0.0), s, q;
    TC_F64 scale = TC_K_f64(7.237005577332262e75);
    int i;
    for (i = 0; i < 10; i++) {
        s = d * scale;
        q = (r / s + 6755399441055744.0) - 6755399441055744.0;
        r = r - q * s;
        r = TC_SEL_f64(TC_LT_f64(r, none), r + s, r);
        scale = scale * 3.7252902984619141e-09;
    }
    return TC_CVT_f64_f32(r);
}

// fn: fmod_f32 fmod_far_f32
// Exact, with the sign of x.
TC_FN TC_F32 TC_N(fmod_f32)(TC_F32 x, TC_F32 y) {
    TC_F32 a = TC_ABS_f32(x), b = TC_ABS_f32(y), zero = TC_K_f32(0.0f), inf = TC_INF_f32, f;
    TC_F64 r = TC_CVT_f32_f64(a), d = TC_CVT_f32_f64(b), none = TC_K_f64(0.0), q;
    TC_I32 good = TC_LT_f32(a, inf) & TC_GT_f32(b, zero);
    TC_I32 far = good & TC_GE_f32(a, b * 268435456.0f);
    q = (r / d + 6755399441055744.0) - 6755399441055744.0;
    r = r - q * d;
    r = TC_SEL_f64(TC_LT_f64(r, none), r + d, r);
    f = TC_CVT_f64_f32(r);
    if (TC_ANY_i32(far)) f = TC_SEL_f32(far, TC_N(fmod_far_f32)(a, b), f);
    f = TC_SEL_f32(TC_EQ_f32(b, inf), a, f);
    return TC_SEL_f32(good, TC_COPY_f32(f, x), TC_NAN_f32);
}

// fn: remainder_f32 fmod_f32
// With the sign of y.
TC_FN TC_F32 TC_N(remainder_f32)(TC_F32 x, TC_F32 y) {
    TC_F32 m = TC_N(fmod_f32)(x, y), zero = TC_K_f32(0.0f);
    TC_I32 off = TC_NE_f32(m, zero) & (TC_LT_f32(m, zero) ^ TC_LT_f32(y, zero));
    return TC_SEL_f32(off, m + y, m);
}

// fn: floor_divide_f32 fmod_f32 floor_f32
// PyTorch's: the quotient that goes with remainder; x / 0 is x / 0.
TC_FN TC_F32 TC_N(floor_divide_f32)(TC_F32 x, TC_F32 y) {
    TC_F32 m = TC_N(fmod_f32)(x, y), zero = TC_K_f32(0.0f), one = TC_K_f32(1.0f), q, f,
           d = x / y;
    TC_I32 off = TC_NE_f32(m, zero) & (TC_LT_f32(m, zero) ^ TC_LT_f32(y, zero));
    q = (x - m) / y - TC_SEL_f32(off, one, zero);
    f = TC_N(floor_f32)(q);
    f = f + TC_SEL_f32(TC_GT_f32(q - f, TC_K_f32(0.5f)), one, zero);
    f = TC_SEL_f32(TC_EQ_f32(q, zero), TC_COPY_f32(zero, d), f);
    return TC_SEL_f32(TC_EQ_f32(y, zero), d, f);
}

// Integers: x / 0 = 0, x % 0 = 0, INT_MIN / -1 = INT_MIN.

// fn: div_trunc_i32
TC_FN TC_I32 TC_N(div_trunc_i32)(TC_I32 a, TC_I32 b) {
    TC_I32 zero = TC_K_i32(0), minus = TC_K_i32(-1);
    TC_I32 none = TC_EQ_i32(b, zero), flip = TC_EQ_i32(b, minus);
    TC_I32 q = a / TC_SEL_i32(none | flip, TC_K_i32(1), b);
    return TC_SEL_i32(none, zero, TC_SEL_i32(flip, TC_NEG_i32(a), q));
}

// fn: fmod_i32 div_trunc_i32
// With the sign of a.
TC_FN TC_I32 TC_N(fmod_i32)(TC_I32 a, TC_I32 b) {
    TC_I32 zero = TC_K_i32(0), q = TC_N(div_trunc_i32)(a, b);
    return TC_SEL_i32(TC_EQ_i32(b, zero), zero, TC_SUB_i32(a, TC_MUL_i32(q, b)));
}

// fn: floor_divide_i32 div_trunc_i32
TC_FN TC_I32 TC_N(floor_divide_i32)(TC_I32 a, TC_I32 b) {
    TC_I32 zero = TC_K_i32(0), q = TC_N(div_trunc_i32)(a, b);
    TC_I32 m = TC_SUB_i32(a, TC_MUL_i32(q, b));
    TC_I32 off =
        TC_NE_i32(b, zero) & TC_NE_i32(m, zero) & (TC_LT_i32(m, zero) ^ TC_LT_i32(b, zero));
    return TC_SEL_i32(off, TC_SUB_i32(q, TC_K_i32(1)), q);
}

// fn: remainder_i32 fmod_i32
// With the sign of b.
TC_FN TC_I32 TC_N(remainder_i32)(TC_I32 a, TC_I32 b) {
    TC_I32 zero = TC_K_i32(0), m = TC_N(fmod_i32)(a, b);
    TC_I32 off = TC_NE_i32(m, zero) & (TC_LT_i32(m, zero) ^ TC_LT_i32(b, zero));
    return TC_SEL_i32(off, TC_ADD_i32(m, b), m);
}

// fn: shl_i32
// 0 for an amount below 0 or above 31.
TC_FN TC_I32 TC_N(shl_i32)(TC_I32 a, TC_I32 n) {
    TC_I32 zero = TC_K_i32(0), last = TC_K_i32(31);
    TC_I32 good = TC_GE_i32(n, zero) & TC_LE_i32(n, last);
    return TC_SEL_i32(good, (TC_I32)((TC_U32)a << ((TC_U32)n & 31u)), zero);
}

// fn: shr_i32
// Arithmetic; the sign for an amount below 0 or above 31.
TC_FN TC_I32 TC_N(shr_i32)(TC_I32 a, TC_I32 n) {
    TC_I32 zero = TC_K_i32(0), last = TC_K_i32(31);
    TC_I32 good = TC_GE_i32(n, zero) & TC_LE_i32(n, last);
    return a >> TC_SEL_i32(good, n, last);
}

// fn: pow_i32
// Wraps. A negative exponent gives 1 for 1, +-1 for -1, else 0.
TC_FN TC_I32 TC_N(pow_i32)(TC_I32 a, TC_I32 n) {
    TC_I32 zero = TC_K_i32(0), one = TC_K_i32(1), minus = TC_K_i32(-1), y = one, base = a,
           e, v;
    TC_I32 negative = TC_LT_i32(n, zero), odd = TC_NE_i32(n & 1, zero);
    e = TC_SEL_i32(negative, zero, n);
    while (TC_ANY_i32(TC_NE_i32(e, zero))) {
        y = TC_SEL_i32(TC_NE_i32(e & 1, zero), TC_MUL_i32(y, base), y);
        base = TC_MUL_i32(base, base);
        e = e >> 1;
    }
    v = TC_SEL_i32(TC_EQ_i32(a, one), one, zero);
    v = TC_SEL_i32(TC_EQ_i32(a, minus), TC_SEL_i32(odd, minus, one), v);
    return TC_SEL_i32(negative, v, y);
}

// fn: abs_i32
TC_FN TC_I32 TC_N(abs_i32)(TC_I32 a) {
    return TC_SEL_i32(TC_LT_i32(a, TC_K_i32(0)), TC_NEG_i32(a), a);
}

// fn: sign_i32
TC_FN TC_I32 TC_N(sign_i32)(TC_I32 a) {
    TC_I32 zero = TC_K_i32(0), y = TC_SEL_i32(TC_GT_i32(a, zero), TC_K_i32(1), zero);
    return TC_SEL_i32(TC_LT_i32(a, zero), TC_K_i32(-1), y);
}

// fn: maximum_i32
TC_FN TC_I32 TC_N(maximum_i32)(TC_I32 a, TC_I32 b) {
    return TC_SEL_i32(TC_GT_i32(a, b), a, b);
}

// fn: minimum_i32
TC_FN TC_I32 TC_N(minimum_i32)(TC_I32 a, TC_I32 b) {
    return TC_SEL_i32(TC_LT_i32(a, b), a, b);
}

// Casts, from what a register holds. Float to integer saturates and NaN gives 0; integers wrap; to
// bool is x != 0; to a half rounds to nearest even, by way of f32.

// fn: cast_f32_i32
TC_FN TC_I32 TC_N(cast_f32_i32)(TC_F32 x) {
    TC_F32 low = TC_K_f32(-2147483648.0f), high = TC_K_f32(2147483648.0f);
    TC_I32 over = TC_GE_f32(x, high), good = TC_GE_f32(x, low) & TC_LT_f32(x, high);
    TC_I32 y = TC_CVT_f32_i32(TC_SEL_f32(good, x, TC_K_f32(0.0f)));
    y = TC_SEL_i32(over, TC_K_i32(2147483647), y);
    return TC_SEL_i32(TC_LT_f32(x, low), TC_K_i32(-2147483647 - 1), y);
}

// fn: cast_f32_u8
TC_FN TC_I32 TC_N(cast_f32_u8)(TC_F32 x) {
    TC_F32 low = TC_K_f32(0.0f), high = TC_K_f32(255.0f);
    x = TC_MAX_f32(x, low);
    return TC_CVT_f32_i32(TC_MIN_f32(x, high));
}

// fn: cast_f32_i8
TC_FN TC_I32 TC_N(cast_f32_i8)(TC_F32 x) {
    TC_F32 low = TC_K_f32(-128.0f), high = TC_K_f32(127.0f);
    x = TC_SEL_f32(TC_EQ_f32(x, x), x, TC_K_f32(0.0f));
    x = TC_MAX_f32(x, low);
    return TC_CVT_f32_i32(TC_MIN_f32(x, high));
}

// fn: cast_f32_i16
TC_FN TC_I32 TC_N(cast_f32_i16)(TC_F32 x) {
    TC_F32 low = TC_K_f32(-32768.0f), high = TC_K_f32(32767.0f);
    x = TC_SEL_f32(TC_EQ_f32(x, x), x, TC_K_f32(0.0f));
    x = TC_MAX_f32(x, low);
    return TC_CVT_f32_i32(TC_MIN_f32(x, high));
}

// fn: cast_f32_bool
TC_FN TC_I32 TC_N(cast_f32_bool)(TC_F32 x) {
    TC_F32 zero = TC_K_f32(0.0f);
    return TC_B_f32(TC_NE_f32(x, zero));
}

// fn: cast_i32_f32
TC_FN TC_F32 TC_N(cast_i32_f32)(TC_I32 x) { return TC_CVT_i32_f32(x); }

// fn: cast_i32_u8
TC_FN TC_I32 TC_N(cast_i32_u8)(TC_I32 x) { return x & 255; }

// fn: cast_i32_i8
TC_FN TC_I32 TC_N(cast_i32_i8)(TC_I32 x) { return ((x & 255) ^ 128) - 128; }

// fn: cast_i32_i16
TC_FN TC_I32 TC_N(cast_i32_i16)(TC_I32 x) { return ((x & 65535) ^ 32768) - 32768; }

// fn: cast_i32_bool
TC_FN TC_I32 TC_N(cast_i32_bool)(TC_I32 x) {
    TC_I32 zero = TC_K_i32(0);
    return TC_B_i32(TC_NE_i32(x, zero));
}

// fn: cast_bool_f32
TC_FN TC_F32 TC_N(cast_bool_f32)(TC_I32 x) {
    return TC_SEL_f32(TC_M_f32(x), TC_K_f32(1.0f), TC_K_f32(0.0f));
}

// fn: cast_bool_i32
TC_FN TC_I32 TC_N(cast_bool_i32)(TC_I32 x) { return x & 1; }

// 16 bits in memory.

// fn: ld_i16
TC_FN TC_I32 TC_N(ld_i16)(const TC_E_I16 *p) {
    TC_I32 v = TC_N(ld_u16)((const TC_E_U16 *)p);
    return TC_N(cast_i32_i16)(v);
}

// fn: ldn_i16
TC_FN TC_I32 TC_N(ldn_i16)(const TC_E_I16 *p, int n) {
    TC_I32 v = TC_N(ldn_u16)((const TC_E_U16 *)p, n);
    return TC_N(cast_i32_i16)(v);
}

// fn: st_i16
TC_FN void TC_N(st_i16)(TC_E_I16 *p, TC_I32 v) { TC_N(st_u16)((TC_E_U16 *)p, v); }

// fn: stn_i16
TC_FN void TC_N(stn_i16)(TC_E_I16 *p, TC_I32 v, int n) {
    TC_N(stn_u16)((TC_E_U16 *)p, v, n);
}

// fn: bits_bf16
// x rounded to bf16, as its 16 bits.
TC_FN TC_I32 TC_N(bits_bf16)(TC_F32 x) {
    TC_U32 u = (TC_U32)TC_BITS_f32(x);
    TC_I32 near = (TC_I32)((u + 0x7fffu + ((u >> 16) & 1u)) >> 16), nan = (TC_I32)(u >> 16) | 64;
    return TC_SEL_i32(TC_EQ_f32(x, x), near, nan);
}

// fn: of_bf16
TC_FN TC_F32 TC_N(of_bf16)(TC_I32 b) { return TC_FROM_BITS_f32((TC_I32)((TC_U32)b << 16)); }

// fn: bits_f16
// x rounded to f16, as its 16 bits. Subnormals are whole numbers of 2^-24, the last place of 0.5.
TC_FN TC_I32 TC_N(bits_f16)(TC_F32 x) {
    TC_I32 u = TC_BITS_f32(x), a = u & 0x7fffffff, sign = (u >> 16) & 0x8000;
    TC_F32 small = TC_FROM_BITS_f32(a) + 0.5f;
    TC_U32 v = (TC_U32)a;
    TC_I32 y = (TC_I32)((v - 0x38000000u + 0xfffu + ((v >> 13) & 1u)) >> 13);
    TC_I32 least = TC_K_i32(0x38800000), most = TC_K_i32(0x477fffff);
    y = TC_SEL_i32(TC_LT_i32(a, least), TC_BITS_f32(small) - 0x3f000000, y);
    y = TC_SEL_i32(TC_GT_i32(a, most), TC_K_i32(0x7c00), y);
    y = TC_SEL_i32(TC_EQ_f32(x, x), y, TC_K_i32(0x7e00));
    return y | sign;
}

// fn: of_f16
TC_FN TC_F32 TC_N(of_f16)(TC_I32 b) {
    TC_I32 a = b & 0x7fff, top = TC_K_i32(0x7bff), none = TC_K_i32(0), y;
    TC_F32 v = TC_FROM_BITS_f32((TC_I32)((TC_U32)a << 13)) * 5192296858534827628530496329220096.0f;
    y = TC_BITS_f32(v) | TC_SEL_i32(TC_GT_i32(a, top), TC_K_i32(0x7f800000), none);
    return TC_FROM_BITS_f32(y | (TC_I32)(((TC_U32)b & 0x8000u) << 16));
}

// fn: ld_bf16
TC_FN TC_F32 TC_N(ld_bf16)(const TC_E_U16 *p) {
    TC_I32 b = TC_N(ld_u16)(p);
    return TC_N(of_bf16)(b);
}

// fn: ldn_bf16
TC_FN TC_F32 TC_N(ldn_bf16)(const TC_E_U16 *p, int n) {
    TC_I32 b = TC_N(ldn_u16)(p, n);
    return TC_N(of_bf16)(b);
}

// fn: st_bf16
TC_FN void TC_N(st_bf16)(TC_E_U16 *p, TC_F32 v) { TC_N(st_u16)(p, TC_N(bits_bf16)(v)); }

// fn: stn_bf16
TC_FN void TC_N(stn_bf16)(TC_E_U16 *p, TC_F32 v, int n) {
    TC_N(stn_u16)(p, TC_N(bits_bf16)(v), n);
}

// fn: ld_f16
TC_FN TC_F32 TC_N(ld_f16)(const TC_E_U16 *p) {
#if TC_HW_F16
    TC_N(f16s) t;
    __builtin_memcpy(&t, p, 2 * TC_W);
    return TC_F16_IN(t);
#else
    TC_I32 b = TC_N(ld_u16)(p);
    return TC_N(of_f16)(b);
#endif
}

// fn: ldn_f16
TC_FN TC_F32 TC_N(ldn_f16)(const TC_E_U16 *p, int n) {
    TC_I32 b = TC_N(ldn_u16)(p, n);
    return TC_N(of_f16)(b);
}

// fn: st_f16
TC_FN void TC_N(st_f16)(TC_E_U16 *p, TC_F32 v) {
#if TC_HW_F16
    TC_N(f16s) t = TC_F16_OUT(v);
    __builtin_memcpy(p, &t, 2 * TC_W);
#else
    TC_N(st_u16)(p, TC_N(bits_f16)(v));
#endif
}

// fn: stn_f16
TC_FN void TC_N(stn_f16)(TC_E_U16 *p, TC_F32 v, int n) {
    TC_N(stn_u16)(p, TC_N(bits_f16)(v), n);
}

// fn: bits_f8e4m3
// x rounded to f8e4m3, as its 8 bits; what is beyond the largest becomes it. Subnormals are whole numbers of 2^-9,
// the last place of 2^14.
TC_FN TC_I32 TC_N(bits_f8e4m3)(TC_F32 x) {
    TC_I32 u = TC_BITS_f32(x), a = u & 0x7fffffff, sign = (u >> 24) & 128;
    TC_F32 small = TC_FROM_BITS_f32(a) + 16384.0f;
    TC_U32 v = (TC_U32)a;
    TC_I32 y = (TC_I32)((v - 0x3c000000u + 0x7ffffu + ((v >> 20) & 1u)) >> 20);
    TC_I32 least = TC_K_i32(0x3c800000), most = TC_K_i32(0x43e7ffff);
    y = TC_SEL_i32(TC_LT_i32(a, least), TC_BITS_f32(small) - 0x46800000, y);
    y = TC_SEL_i32(TC_GT_i32(a, most), TC_K_i32(0x7e), y);
    y = TC_SEL_i32(TC_EQ_f32(x, x), y, TC_K_i32(0x7f));
    return y | sign;
}

// fn: of_f8e4m3
// A subnormal is put behind the point of the least normal number, which is taken away: no f32 is subnormal on the way, which
// takes some CPUs a hundred cycles.
TC_FN TC_F32 TC_N(of_f8e4m3)(TC_I32 b) {
    TC_I32 a = b & 0x7f, least = TC_K_i32(8), top = TC_K_i32(0x7e), none = TC_K_i32(0), y;
    TC_I32 low = TC_SEL_i32(TC_LT_i32(a, least), TC_K_i32(0x3c800000), none);
    TC_I32 up = TC_SEL_i32(TC_LT_i32(a, least), TC_K_i32(0x3c800000), TC_K_i32(0x3c000000));
    TC_F32 v = TC_FROM_BITS_f32((TC_I32)((TC_U32)a << 20) + up) - TC_FROM_BITS_f32(low);
    y = TC_BITS_f32(v) | TC_SEL_i32(TC_GT_i32(a, top), TC_K_i32(0x7f800000), none);
    return TC_FROM_BITS_f32(y | (TC_I32)(((TC_U32)b & 128u) << 24));
}

// fn: bits_f8e5m2
// x rounded to f8e5m2, as its 8 bits. Subnormals are whole numbers of 2^-16, the last place of 128.
TC_FN TC_I32 TC_N(bits_f8e5m2)(TC_F32 x) {
    TC_I32 u = TC_BITS_f32(x), a = u & 0x7fffffff, sign = (u >> 24) & 128;
    TC_F32 small = TC_FROM_BITS_f32(a) + 128.0f;
    TC_U32 v = (TC_U32)a;
    TC_I32 y = (TC_I32)((v - 0x38000000u + 0xfffffu + ((v >> 21) & 1u)) >> 21);
    TC_I32 least = TC_K_i32(0x38800000), most = TC_K_i32(0x476fffff);
    y = TC_SEL_i32(TC_LT_i32(a, least), TC_BITS_f32(small) - 0x43000000, y);
    y = TC_SEL_i32(TC_GT_i32(a, most), TC_K_i32(0x7c), y);
    y = TC_SEL_i32(TC_EQ_f32(x, x), y, TC_K_i32(0x7f));
    return y | sign;
}

// fn: of_f8e5m2
TC_FN TC_F32 TC_N(of_f8e5m2)(TC_I32 b) {
    TC_I32 a = b & 0x7f, least = TC_K_i32(4), top = TC_K_i32(0x7b), none = TC_K_i32(0), y;
    TC_I32 low = TC_SEL_i32(TC_LT_i32(a, least), TC_K_i32(0x38800000), none);
    TC_I32 up = TC_SEL_i32(TC_LT_i32(a, least), TC_K_i32(0x38800000), TC_K_i32(0x38000000));
    TC_F32 v = TC_FROM_BITS_f32((TC_I32)((TC_U32)a << 21) + up) - TC_FROM_BITS_f32(low);
    y = TC_BITS_f32(v) | TC_SEL_i32(TC_GT_i32(a, top), TC_K_i32(0x7f800000), none);
    return TC_FROM_BITS_f32(y | (TC_I32)(((TC_U32)b & 128u) << 24));
}

// fn: ld_f8e4m3
// As an f16 whose exponent is 8 less, which is 480 for NaN, by the CPU's instruction.
TC_FN TC_F32 TC_N(ld_f8e4m3)(const TC_E_U8 *p) {
#if TC_HW_F16
    typedef TC_E_U8 bytes __attribute__((vector_size(TC_W)));
    typedef TC_E_U16 halves __attribute__((vector_size(2 * TC_W)));
    TC_I32 a, most = TC_K_i32(0x43e00000), none = TC_K_i32(0);
    bytes t;
    halves u;
    TC_F32 v;
    __builtin_memcpy(&t, p, TC_W);
    u = __builtin_convertvector(t, halves);
    u = (u & 128) << 8 | (u & 127) << 7;
    v = TC_F16_IN((TC_N(f16s))u) * 256.0f;
    a = TC_BITS_f32(v) & 0x7fffffff;
    a = TC_BITS_f32(v) | TC_SEL_i32(TC_GT_i32(a, most), TC_K_i32(0x7f800000), none);
    return TC_FROM_BITS_f32(a);
#else
    TC_I32 b = TC_N(ld_u8)(p);
    return TC_N(of_f8e4m3)(b);
#endif
}

// fn: ldn_f8e4m3
TC_FN TC_F32 TC_N(ldn_f8e4m3)(const TC_E_U8 *p, int n) {
    TC_I32 b = TC_N(ldn_u8)(p, n);
    return TC_N(of_f8e4m3)(b);
}

// fn: st_f8e4m3
TC_FN void TC_N(st_f8e4m3)(TC_E_U8 *p, TC_F32 v) { TC_N(st_u8)(p, TC_N(bits_f8e4m3)(v)); }

// fn: stn_f8e4m3
TC_FN void TC_N(stn_f8e4m3)(TC_E_U8 *p, TC_F32 v, int n) {
    TC_N(stn_u8)(p, TC_N(bits_f8e4m3)(v), n);
}

// fn: ld_f8e5m2
// The upper half of an f16.
TC_FN TC_F32 TC_N(ld_f8e5m2)(const TC_E_U8 *p) {
#if TC_HW_F16
    typedef TC_E_U8 bytes __attribute__((vector_size(TC_W)));
    typedef TC_E_U16 halves __attribute__((vector_size(2 * TC_W)));
    bytes t;
    halves u;
    __builtin_memcpy(&t, p, TC_W);
    u = __builtin_convertvector(t, halves) << 8;
    return TC_F16_IN((TC_N(f16s))u);
#else
    TC_I32 b = TC_N(ld_u8)(p);
    return TC_N(of_f8e5m2)(b);
#endif
}

// fn: ldn_f8e5m2
TC_FN TC_F32 TC_N(ldn_f8e5m2)(const TC_E_U8 *p, int n) {
    TC_I32 b = TC_N(ldn_u8)(p, n);
    return TC_N(of_f8e5m2)(b);
}

// fn: st_f8e5m2
TC_FN void TC_N(st_f8e5m2)(TC_E_U8 *p, TC_F32 v) { TC_N(st_u8)(p, TC_N(bits_f8e5m2)(v)); }

// fn: stn_f8e5m2
TC_FN void TC_N(stn_f8e5m2)(TC_E_U8 *p, TC_F32 v, int n) {
    TC_N(stn_u8)(p, TC_N(bits_f8e5m2)(v), n);
}

// fn: cast_f32_f8e4m3
TC_FN TC_F32 TC_N(cast_f32_f8e4m3)(TC_F32 x) { return TC_N(of_f8e4m3)(TC_N(bits_f8e4m3)(x)); }

// fn: cast_i32_f8e4m3
TC_FN TC_F32 TC_N(cast_i32_f8e4m3)(TC_I32 x) { return TC_N(cast_f32_f8e4m3)(TC_CVT_i32_f32(x)); }

// fn: cast_f32_f8e5m2
TC_FN TC_F32 TC_N(cast_f32_f8e5m2)(TC_F32 x) { return TC_N(of_f8e5m2)(TC_N(bits_f8e5m2)(x)); }

// fn: cast_i32_f8e5m2
TC_FN TC_F32 TC_N(cast_i32_f8e5m2)(TC_I32 x) { return TC_N(cast_f32_f8e5m2)(TC_CVT_i32_f32(x)); }

// fn: cast_f32_bf16
TC_FN TC_F32 TC_N(cast_f32_bf16)(TC_F32 x) { return TC_N(of_bf16)(TC_N(bits_bf16)(x)); }

// fn: cast_f32_f16
TC_FN TC_F32 TC_N(cast_f32_f16)(TC_F32 x) {
#if TC_HW_F16
    return TC_F16_IN(TC_F16_OUT(x));
#else
    return TC_N(of_f16)(TC_N(bits_f16)(x));
#endif
}

// fn: cast_i32_bf16
TC_FN TC_F32 TC_N(cast_i32_bf16)(TC_I32 x) { return TC_N(cast_f32_bf16)(TC_CVT_i32_f32(x)); }

// fn: cast_i32_f16
TC_FN TC_F32 TC_N(cast_i32_f16)(TC_I32 x) { return TC_N(cast_f32_f16)(TC_CVT_i32_f32(x)); }

// fn: philox_u32
// Philox4x32-10 with the key seed. w[0] and w[1] hold the low and high word of the element
// index, which is the counter together with draw; all of w gets the four random words.
TC_FN void TC_N(philox_u32)(TC_U32 w[4], TC_E_U64 draw, TC_E_U64 seed) {
    TC_U32 a = w[0], b = w[1], c = TC_K_u32(draw), d = TC_K_u32(draw >> 32);
    TC_U32 m0 = TC_K_u32(0xd2511f53u), m1 = TC_K_u32(0xcd9e8d57u);
    TC_E_U32 k0 = (TC_E_U32)seed, k1 = (TC_E_U32)(seed >> 32);
    int i;
    for (i = 0; i < 10; i++) {
        TC_U32 h0 = TC_MULHI_u32(a, m0), h1 = TC_MULHI_u32(c, m1);
        TC_U32 l0 = a * m0, l1 = c * m1;
        a = h1 ^ b ^ k0;
        b = l1;
        c = h0 ^ d ^ k1;
        d = l0;
        k0 += 0x9e3779b9u;
        k1 += 0xbb67ae85u;
    }
    w[0] = a;
    w[1] = b;
    w[2] = c;
    w[3] = d;
}

// fn: draw_u32 philox_u32
// The first `words` of w, 1, 2 or 4, get the random words of the element whose index w[0] and w[1] hold:
// as many elements as it takes share what Philox gives for one of them.
TC_FN void TC_N(draw_u32)(TC_U32 w[4], int words, TC_E_U64 draw, TC_E_U64 seed) {
    TC_I32 e = (TC_I32)w[0], zero = TC_K_i32(0), one = TC_NE_i32(e & 1, zero);
    TC_I32 two = TC_NE_i32(e & 2, zero);
    int shift = words == 1 ? 2 : words == 2;
    if (shift) w[0] = w[0] >> shift | w[1] << (32 - shift), w[1] = w[1] >> shift;
    TC_N(philox_u32)(w, draw, seed);
    if (words < 4) {
        TC_I32 a = TC_SEL_i32(one, (TC_I32)w[words], (TC_I32)w[0]);
        TC_I32 b = TC_SEL_i32(one, (TC_I32)w[3], (TC_I32)w[words == 1 ? 2 : 1]);
        w[0] = (TC_U32)(words == 1 ? TC_SEL_i32(two, b, a) : a);
        w[1] = (TC_U32)b;
    }
}

// fn: uniform_f32
// [0, 1) from one word, 24 bits.
TC_FN TC_F32 TC_N(uniform_f32)(TC_U32 w0) {
    return TC_CVT_i32_f32((TC_I32)(w0 >> 8)) * 5.96046448e-08f;
}

// fn: normal_f32 sin_poly_f32 cos_poly_f32 log_f32
// Box-Muller: sqrt(-2 log u) cos(2 pi v), u in (0, 1], v in [0, 1).
TC_FN TC_F32 TC_N(normal_f32)(TC_U32 w0, TC_U32 w1) {
    TC_F32 u = (TC_CVT_i32_f32((TC_I32)(w0 >> 8)) + 1.0f) * 5.96046448e-08f;
    TC_F32 v = TC_CVT_i32_f32((TC_I32)(w1 >> 8)) * 2.38418579e-07f, t = v + 12582912.0f;
    TC_F32 r = (v - (t - 12582912.0f)) * 1.57079637f, y;
    TC_I32 q = TC_BITS_f32(t), odd = TC_NE_i32(q & 1, TC_K_i32(0));
    y = TC_SEL_f32(odd, TC_N(sin_poly_f32)(r), TC_N(cos_poly_f32)(r));
    y = TC_FLIP_f32(y, (TC_I32)((((TC_U32)q + 1u) & 2u) << 30));
    return TC_SQRT_f32(TC_N(log_f32)(u) * -2.0f) * y;
}

#if TC_MATH_64

// fn: floor_f64
TC_FN TC_F64 TC_N(floor_f64)(TC_F64 x) {
#if TC_HW_ROUND
    return TC_ROUND_f64(x, 9);
#else
    TC_F64 big = TC_K_f64(4503599627370496.0), a = TC_ABS_f64(x), n = (a + big) - big, y;
    y = TC_COPY_f64(n, x);
    y = TC_SEL_f64(TC_GT_f64(y, x), y - 1.0, y);
    return TC_SEL_f64(TC_LT_f64(a, big), TC_COPY_f64(y, x), x);
#endif
}

// fn: ceil_f64
TC_FN TC_F64 TC_N(ceil_f64)(TC_F64 x) {
#if TC_HW_ROUND
    return TC_ROUND_f64(x, 10);
#else
    TC_F64 big = TC_K_f64(4503599627370496.0), a = TC_ABS_f64(x), n = (a + big) - big, y;
    y = TC_COPY_f64(n, x);
    y = TC_SEL_f64(TC_LT_f64(y, x), y + 1.0, y);
    return TC_SEL_f64(TC_LT_f64(a, big), TC_COPY_f64(y, x), x);
#endif
}

// fn: trunc_f64
TC_FN TC_F64 TC_N(trunc_f64)(TC_F64 x) {
#if TC_HW_ROUND
    return TC_ROUND_f64(x, 11);
#else
    TC_F64 big = TC_K_f64(4503599627370496.0), a = TC_ABS_f64(x), n = (a + big) - big;
    n = TC_SEL_f64(TC_GT_f64(n, a), n - 1.0, n);
    return TC_SEL_f64(TC_LT_f64(a, big), TC_COPY_f64(n, x), x);
#endif
}

// fn: round_f64
// Half to even.
TC_FN TC_F64 TC_N(round_f64)(TC_F64 x) {
#if TC_HW_ROUND
    return TC_ROUND_f64(x, 8);
#else
    TC_F64 big = TC_K_f64(4503599627370496.0), a = TC_ABS_f64(x), n = (a + big) - big;
    return TC_SEL_f64(TC_LT_f64(a, big), TC_COPY_f64(n, x), x);
#endif
}

// fn: frac_f64 trunc_f64
TC_FN TC_F64 TC_N(frac_f64)(TC_F64 x) { return x - TC_N(trunc_f64)(x); }

// fn: abs_f64
TC_FN TC_F64 TC_N(abs_f64)(TC_F64 x) { return TC_ABS_f64(x); }

// fn: sign_f64
// -1, 0 or 1; 0 for NaN, as PyTorch.
TC_FN TC_F64 TC_N(sign_f64)(TC_F64 x) {
    TC_F64 zero = TC_K_f64(0.0), one = TC_K_f64(1.0);
    TC_F64 y = TC_SEL_f64(TC_LT_f64(x, zero), -one, zero);
    return TC_SEL_f64(TC_GT_f64(x, zero), one, y);
}

// fn: maximum_f64
// NaN if either is.
TC_FN TC_F64 TC_N(maximum_f64)(TC_F64 a, TC_F64 b) {
    TC_F64 y = TC_SEL_f64(TC_GT_f64(a, b), a, b);
    return TC_SEL_f64(TC_NE_f64(a, a), a, y);
}

// fn: minimum_f64
// NaN if either is.
TC_FN TC_F64 TC_N(minimum_f64)(TC_F64 a, TC_F64 b) {
    TC_F64 y = TC_SEL_f64(TC_LT_f64(a, b), a, b);
    return TC_SEL_f64(TC_NE_f64(a, a), a, y);
}

// fn: copysign_f64
TC_FN TC_F64 TC_N(copysign_f64)(TC_F64 x, TC_F64 s) { return TC_COPY_f64(x, s); }

// fn: sqrt_of_f64
TC_FN TC_F64 TC_N(sqrt_of_f64)(TC_F64 x) { return TC_SQRT_f64(x); }

// fn: rsqrt_f64
TC_FN TC_F64 TC_N(rsqrt_f64)(TC_F64 x) { return TC_K_f64(1.0) / TC_SQRT_f64(x); }

// fn: reciprocal_f64
TC_FN TC_F64 TC_N(reciprocal_f64)(TC_F64 x) { return TC_K_f64(1.0) / x; }

// fn: exp_poly_f64
// exp(r + c) - 1 = the result + tail, for |r| <= ln(2) / 2 and |c| far below r.
TC_FN TC_F64 TC_N(exp_poly_f64)(TC_F64 r, TC_F64 c, TC_F64 *tail) {
    TC_F64 y;
    TC_F64 p = TC_K_f64(2.0878826396829849e-09);
    p = p * r + 2.510905286254848e-08;
    p = p * r + 2.7557390955949964e-07;
    p = p * r + 2.7557244154380519e-06;
    p = p * r + 2.4801587186739683e-05;
    p = p * r + 0.00019841269886194224;
    p = p * r + 0.0013888888888954766;
    p = p * r + 0.0083333333333215961;
    p = p * r + 0.041666666666666526;
    p = p * r + 0.16666666666666677;
    p = p * r + 0.5;
    p = r * r * p + (c + c * r);
    y = r + p;
    *tail = p - (y - r);
    return y;
}

// fn: exp_parts_f64 exp_poly_f64
// exp(x + w) = (p + tail) * s1 * s2 with p in [0.7, 1.42]; s1, s2 are normal powers of two;
// x is clamped; |w| is far below 1.
TC_FN TC_F64 TC_N(exp_parts_f64)(TC_F64 x, TC_F64 w, TC_F64 *tail, TC_F64 *s1, TC_F64 *s2) {
    TC_F64 low = TC_K_f64(-800.0), high = TC_K_f64(711.0),
           magic = TC_K_f64(6755399441055744.0);
    TC_F64 t, n, h, g, r, c, p, y;
    TC_I64 k, half;
    x = TC_SEL_f64(TC_LT_f64(x, low), low, x);
    x = TC_SEL_f64(TC_GT_f64(x, high), high, x);
    t = x * 1.4426950408889634 + magic;
    n = t - magic;
    h = x - n * 0.69314718036912382;
    g = w - n * 1.9082149292705877e-10;
    r = h + g;
    c = g - (r - h);
    k = TC_SUB_i64(TC_BITS_f64(t), TC_BITS_f64(magic));
    half = (TC_I64)(((TC_U64)k + 2048) >> 1);
    *s1 = TC_FROM_BITS_f64((TC_I64)(((TC_U64)half - 1) << 52));
    *s2 = TC_FROM_BITS_f64((TC_I64)(((TC_U64)k - (TC_U64)half + 2047) << 52));
    p = TC_N(exp_poly_f64)(r, c, tail);
    y = p + 1.0;
    *tail = *tail + (p - (y - 1.0));
    return y;
}

// fn: exp_f64 exp_parts_f64
TC_FN TC_F64 TC_N(exp_f64)(TC_F64 x) {
    TC_F64 t, s1, s2, p = TC_N(exp_parts_f64)(x, TC_K_f64(0.0), &t, &s1, &s2);
    return ((p + t) * s1) * s2;
}

// fn: exp2_f64 exp_poly_f64
TC_FN TC_F64 TC_N(exp2_f64)(TC_F64 x) {
    TC_F64 low = TC_K_f64(-1100.0), high = TC_K_f64(1030.0),
           magic = TC_K_f64(6755399441055744.0);
    TC_F64 t, h, g, s1, s2, p, y;
    TC_I64 k, half;
    x = TC_SEL_f64(TC_LT_f64(x, low), low, x);
    x = TC_SEL_f64(TC_GT_f64(x, high), high, x);
    t = x + magic;
    h = x - (t - magic);
    g = TC_TOP_f64(h);
    k = TC_SUB_i64(TC_BITS_f64(t), TC_BITS_f64(magic));
    half = (TC_I64)(((TC_U64)k + 2048) >> 1);
    s1 = g * 0.69314718246459961;
    s2 = (h - g) * 0.69314718246459961 + h * -1.904654299957768e-09;
    h = s1 + s2;
    p = TC_N(exp_poly_f64)(h, s2 - (h - s1), &t);
    s1 = TC_FROM_BITS_f64((TC_I64)(((TC_U64)half - 1) << 52));
    s2 = TC_FROM_BITS_f64((TC_I64)(((TC_U64)k - (TC_U64)half + 2047) << 52));
    y = p + 1.0;
    return ((y + (t + (p - (y - 1.0)))) * s1) * s2;
}

// fn: expm1_half_f64 exp_poly_f64
// expm1(x) / 2 = 2 (s (exp(r) - 1) + s - 1/4) with s = 2^(k - 2), which overflows only
// where sinh does.
TC_FN TC_F64 TC_N(expm1_half_f64)(TC_F64 x) {
    TC_F64 low = TC_K_f64(-50.0), high = TC_K_f64(710.7),
           magic = TC_K_f64(6755399441055744.0);
    TC_F64 t, n, h, g, r, s, p, b, y, v;
    v = TC_SEL_f64(TC_LT_f64(x, low), low, x);
    v = TC_SEL_f64(TC_GT_f64(v, high), high, v);
    s = v * 1.4426950408889634 + magic;
    n = s - magic;
    h = v - n * 0.69314718036912382;
    g = n * -1.9082149292705877e-10;
    r = h + g;
    p = TC_N(exp_poly_f64)(r, g - (r - h), &t);
    s = TC_FROM_BITS_f64((TC_I64)(((TC_U64)TC_BITS_f64(s) << 52) + 0x3fd0000000000000u));
    b = s - 0.25;
    p = p * s;
    y = b + p;
    g = TC_SEL_f64(TC_GT_f64(TC_ABS_f64(b), TC_ABS_f64(p)), p - (y - b), b - (y - p));
    y = y + (g + t * s);
    return TC_SEL_f64(TC_LT_f64(TC_ABS_f64(x), TC_K_f64(1e-17)), x * 0.5, y + y);
}

// fn: expm1_f64 expm1_half_f64
TC_FN TC_F64 TC_N(expm1_f64)(TC_F64 x) {
    TC_F64 y = TC_N(expm1_half_f64)(x);
    return TC_SEL_f64(TC_LT_f64(TC_ABS_f64(x), TC_K_f64(1e-17)), x, y + y);
}

// fn: log_split_f64
// x = 2^e * (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)], for positive finite x.
TC_FN TC_F64 TC_N(log_split_f64)(TC_F64 x, TC_F64 *e) {
    TC_I64 tiny = TC_LT_f64(x, TC_K_f64(2.2250738585072014e-308));
    TC_F64 v = TC_SEL_f64(tiny, x * 4503599627370496.0, x);
    TC_U64 j = (TC_U64)TC_BITS_f64(v) + 0x00095f619980c433u;
    TC_F64 n = TC_FROM_BITS_f64((TC_I64)((j >> 52) | 0x4330000000000000u));
    *e = n - TC_SEL_f64(tiny, TC_K_f64(4503599627371571.0), TC_K_f64(4503599627371519.0));
    return TC_FROM_BITS_f64((TC_I64)((j & 0xfffffffffffffu) + 0x3fe6a09e667f3bcdu)) - 1.0;
}

// fn: log_poly_f64
// log(1 + f + c) = the result + tail; c is far below f.
TC_FN TC_F64 TC_N(log_poly_f64)(TC_F64 f, TC_F64 c, TC_F64 *tail) {
    TC_F64 s = f / (f + 2.0), z = s * s, h = f * f * 0.5, y, t;
    TC_F64 p = TC_K_f64(0.13250677168012592);
    p = p * z + 0.1325019270883456;
    p = p * z + 0.15387087306057395;
    p = p * z + 0.18181775748198623;
    p = p * z + 0.22222222645709402;
    p = p * z + 0.28571428569093521;
    p = p * z + 0.40000000000006219;
    p = p * z + 0.66666666666666663;
    // f - (f^2 / 2 - s (f^2 / 2 + z p)), the first difference with its error
    t = s * (h + z * p) + (c - c * f);
    y = f - h;
    *tail = t + ((f - y) - h);
    return y;
}

// fn: log_ends_f64
// y with log's values at 0, below 0, inf and NaN.
TC_FN TC_F64 TC_N(log_ends_f64)(TC_F64 x, TC_F64 y) {
    TC_F64 zero = TC_K_f64(0.0), inf = TC_INF_f64;
    y = TC_SEL_f64(TC_LT_f64(x, inf), y, x);
    y = TC_SEL_f64(TC_LT_f64(x, zero), TC_NAN_f64, y);
    return TC_SEL_f64(TC_EQ_f64(x, zero), -inf, y);
}

// fn: log_sum_f64
// e ln(2) + y + t
TC_FN TC_F64 TC_N(log_sum_f64)(TC_F64 e, TC_F64 y, TC_F64 t) {
    TC_F64 h = e * 0.69314718036912382, s = h + y;
    return s + ((t + e * 1.9082149292705877e-10) + (y - (s - h)));
}

// fn: log_f64 log_split_f64 log_poly_f64 log_ends_f64 log_sum_f64
TC_FN TC_F64 TC_N(log_f64)(TC_F64 x) {
    TC_F64 e, t, f = TC_N(log_split_f64)(x, &e),
                 y = TC_N(log_poly_f64)(f, TC_K_f64(0.0), &t);
    return TC_N(log_ends_f64)(x, TC_N(log_sum_f64)(e, y, t));
}

// fn: log2_f64 log_split_f64 log_poly_f64 log_ends_f64
TC_FN TC_F64 TC_N(log2_f64)(TC_F64 x) {
    TC_F64 e, t, f = TC_N(log_split_f64)(x, &e),
                 y = TC_N(log_poly_f64)(f, TC_K_f64(0.0), &t), h, g;
    h = TC_TOP_f64(y);
    g = (t + (y - h)) * 1.4426950408889634 + h * 1.9259629911266175e-08;
    h = h * 1.4426950216293335;
    y = e + h;
    return TC_N(log_ends_f64)(x, y + (g + (h - (y - e))));
}

// fn: log10_f64 log_split_f64 log_poly_f64 log_ends_f64
TC_FN TC_F64 TC_N(log10_f64)(TC_F64 x) {
    TC_F64 e, t, f = TC_N(log_split_f64)(x, &e),
                 y = TC_N(log_poly_f64)(f, TC_K_f64(0.0), &t), h, g;
    h = TC_TOP_f64(y);
    g = (t + (y - h)) * 0.43429448190325182 +
        (h * 4.7981111416159728e-09 + e * 3.6942390771589308e-13);
    h = h * 0.43429447710514069;
    e = e * 0.30102999566361177;
    y = e + h;
    return TC_N(log_ends_f64)(x, y + (g + (h - (y - e))));
}

// fn: log1p_f64 log_split_f64 log_poly_f64 log_ends_f64 log_sum_f64
// log(u) with u = 1 + x, and what the rounding of u lost as a tail of f.
TC_FN TC_F64 TC_N(log1p_f64)(TC_F64 x) {
    TC_F64 one = TC_K_f64(1.0), u = x + 1.0, e, f, c, s, t, y;
    TC_I64 tiny = TC_LT_f64(TC_ABS_f64(x), TC_K_f64(1e-17));
    c = TC_SEL_f64(TC_GT_f64(x, one), one - (u - x), x - (u - 1.0));
    f = TC_N(log_split_f64)(u, &e);
    s = e + 6755399441055744.0;
    s = TC_FROM_BITS_f64((TC_I64)(0x4000000000000000u - ((TC_U64)TC_BITS_f64(s) << 52)));
    c = c * 0.5 * s;
    s = f + c;
    c = c - (s - f);
    y = TC_N(log_poly_f64)(TC_SEL_f64(tiny, TC_K_f64(0.0), s), c, &t);
    return TC_SEL_f64(tiny, x, TC_N(log_ends_f64)(u, TC_N(log_sum_f64)(e, y, t)));
}

// fn: trig_big_f64
// x = (4 m + q) pi/2 + r + c for finite |x| >= 2^16: 53 bits of x times the 192 bits of
// 2/pi that matter, in 32-bit limbs.
TC_FN_COLD TC_E_I32 TC_N(trig_big_f64)(TC_E_U64 x, double *r, double *c) {
    static const TC_E_U32 two_over_pi[40] = {
        0,           0,           0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u,
        0xdb629599u, 0x3c439041u, 0xfe5163abu, 0xdebbc561u, 0xb7246e3au, 0x424dd2e0u,
        0x06492eeau, 0x09d1921cu, 0xfe1deb1cu, 0xb129a73eu, 0xe88235f5u, 0x2ebb4484u,
        0xe99c7026u, 0xb45f7e41u, 0x3991d639u, 0x835339f4u, 0x9c845f8bu, 0xbdf9283bu,
        0x1ff897ffu, 0xde05980fu, 0xef2f118bu, 0x5a0a6d1fu, 0x6d367ecfu, 0x27cb09b7u,
        0x4f463f66u, 0x9e5fea2du, 0x7527bac7u, 0xebe5f17bu, 0x3d0739f7u, 0x8a5292eau,
        0x6bfb5fb1u, 0x1f8d5d08u, 0x56033046u, 0xfc7b6babu,
    };
    TC_E_U32 bit = (TC_E_U32)((x >> 52) & 2047) - 1013, shift = bit % 32, limb[6], flip, i;
    TC_E_U64 m = (x & 0xfffffffffffffu) | 0x10000000000000u, carry = 0, q;
    double s = 0.0, e = 0.0, scale = 2.3283064365386963e-10, h;
    for (i = 6; i-- > 0;) {
        const TC_E_U32 *two = two_over_pi + bit / 32 + i;
        TC_E_U64 w = (((TC_E_U64)two[0] << 32 | two[1]) << shift) >> 32;
        TC_E_U64 a = w * (m & 0xffffffffu) + (carry & 0xffffffffu);
        limb[i] = (TC_E_U32)a;
        carry = (carry >> 32) + (a >> 32) + w * (m >> 32);
    }
    // The limbs are a fraction of a full turn: two bits of q, then the rest to the nearest.
    q = limb[0] >> 30;
    flip = 0u - ((limb[0] >> 29) & 1u);
    q += flip & 1u;
    for (i = 0; i < 6; i++) {
        TC_E_U32 low = i < 5 ? limb[i + 1] >> 30 : 0;
        double a = (double)((limb[i] << 2 | low) ^ flip) * scale, t = s + a;
        e += a - (t - s);
        s = t;
        scale *= 2.3283064365386963e-10;
    }
    // (s + e) pi/2
    scale = s + e;
    e -= scale - s;
    s = scale;
    h = s * 134217729.0;
    h = h - (h - s);
    *r = h * 1.5707963109016418;
    e = e * 1.5707963267948966 +
        ((s - h) * 1.5707963267948966 + h * 1.5893254773528196e-08);
    s = *r + e;
    *c = e - (s - *r);
    *r = s;
    if (flip) {
        *r = -*r;
        *c = -*c;
    }
    if (x >> 63) {
        *r = -*r;
        *c = -*c;
        q = 4 - q;
    }
    return (TC_E_I32)(q & 3);
}

// fn: trig_big_lanes_f64 trig_big_f64
// trig_big_f64 for the lanes of big.
TC_FN_COLD TC_I64 TC_N(trig_big_lanes_f64)(TC_I64 big, TC_F64 x, TC_I64 q, TC_F64 *r,
                                           TC_F64 *c) {
    int i;
    for (i = 0; i < TC_LANES; i++) {
        double s, t;
        TC_E_I32 k;
        if (TC_GET(big, i) == 0) continue;
        k = TC_N(trig_big_f64)((TC_E_U64)TC_GET(TC_BITS_f64(x), i), &s, &t);
        TC_SET(q, i, k);
        TC_SET(*r, i, s);
        TC_SET(*c, i, t);
    }
    return q;
}

// fn: trig_reduce_f64 trig_big_lanes_f64
// x = (4 m + q) pi/2 + r + c with |r| <= pi/4; the low two bits of the result are q.
TC_FN TC_I64 TC_N(trig_reduce_f64)(TC_F64 x, TC_F64 *r, TC_F64 *c) {
    TC_F64 a = TC_ABS_f64(x), magic = TC_K_f64(6755399441055744.0), n, h, w, b, t, low;
    TC_I64 q, big = TC_GT_f64(a, TC_K_f64(1e5)) & TC_LT_f64(a, TC_INF_f64);
    t = x * 0.63661977236758138 + magic;
    n = t - magic;
    q = TC_BITS_f64(t);
    // n times each of the first three parts is exact; the differences keep their errors.
    h = x - n * 1.5707963267341256;
    w = n * 6.077100506303966e-11;
    t = h - w;
    b = t - h;
    low = (h - (t - b)) - (w + b);
    w = n * 2.0222662487111665e-21;
    h = t - w;
    b = h - t;
    low = low + ((t - (h - b)) - (w + b));
    low = low - n * 8.4784276603688996e-32;
    t = h + low;
    b = low - (t - h);
    if (TC_ANY_i64(big)) {
        TC_F64 u = t, v = b;
        q = TC_N(trig_big_lanes_f64)(big, x, q, &u, &v);
        t = u;
        b = v;
    }
    *r = t;
    *c = b;
    return q;
}

// fn: sin_poly_f64
// sin(r + c) for |r| <= pi/4
TC_FN TC_F64 TC_N(sin_poly_f64)(TC_F64 r, TC_F64 c) {
    TC_F64 z = r * r;
    TC_F64 p = TC_K_f64(-7.5784041928686725e-13);
    p = p * z + 1.605836046856599e-10;
    p = p * z - 2.5052104861106501e-08;
    p = p * z + 2.7557319213986999e-06;
    p = p * z - 0.00019841269841254654;
    p = p * z + 0.0083333333333333228;
    p = p * z - 0.16666666666666666;
    return r + (z * r * p + (c - 0.5 * z * c));
}

// fn: cos_poly_f64
// cos(r + c) for |r| <= pi/4
TC_FN TC_F64 TC_N(cos_poly_f64)(TC_F64 r, TC_F64 c) {
    TC_F64 z = r * r, h = z * 0.5, y = 1.0 - h;
    TC_F64 p = TC_K_f64(-1.1358306981431768e-11);
    p = p * z + 2.0875696505601931e-09;
    p = p * z - 2.7557314148160709e-07;
    p = p * z + 2.4801587288746861e-05;
    p = p * z - 0.0013888888888872893;
    p = p * z + 0.041666666666666595;
    return y + (((1.0 - y) - h) + (z * z * p - r * c));
}

// fn: sin_f64 trig_reduce_f64 sin_poly_f64 cos_poly_f64
TC_FN TC_F64 TC_N(sin_f64)(TC_F64 x) {
    TC_F64 r, c, s, y, zero = TC_K_f64(0.0);
    TC_I64 q = TC_N(trig_reduce_f64)(x, &r, &c), one = q & 1, none = TC_K_i64(0);
    s = TC_N(sin_poly_f64)(r, c);
    y = TC_N(cos_poly_f64)(r, c);
    y = TC_SEL_f64(TC_NE_i64(one, none), y, s);
    y = TC_FLIP_f64(y, (TC_I64)(((TC_U64)q & 2u) << 62));
    return TC_SEL_f64(TC_EQ_f64(x, zero), x, y);
}

// fn: cos_f64 trig_reduce_f64 sin_poly_f64 cos_poly_f64
TC_FN TC_F64 TC_N(cos_f64)(TC_F64 x) {
    TC_F64 r, c, s, y;
    TC_I64 q = TC_N(trig_reduce_f64)(x, &r, &c), one = q & 1, none = TC_K_i64(0);
    s = TC_N(sin_poly_f64)(r, c);
    y = TC_N(cos_poly_f64)(r, c);
    y = TC_SEL_f64(TC_NE_i64(one, none), s, y);
    return TC_FLIP_f64(y, (TC_I64)((((TC_U64)q + 1u) & 2u) << 62));
}

// fn: tan_f64 trig_reduce_f64 sin_poly_f64 cos_poly_f64
TC_FN TC_F64 TC_N(tan_f64)(TC_F64 x) {
    TC_F64 r, c, s, k, y, zero = TC_K_f64(0.0);
    TC_I64 q = TC_N(trig_reduce_f64)(x, &r, &c), odd = q & 1, none = TC_K_i64(0);
    s = TC_N(sin_poly_f64)(r, c);
    k = TC_N(cos_poly_f64)(r, c);
    odd = TC_NE_i64(odd, none);
    y = TC_SEL_f64(odd, -k, s) / TC_SEL_f64(odd, s, k);
    return TC_SEL_f64(TC_EQ_f64(x, zero), x, y);
}

// fn: asin_poly_f64
// a <= 1/2: asin(a). Above: asin(sqrt((1 - a) / 2)) = (pi/2 - asin(a)) / 2, less its first
// term s, which stands in *s with what its rounding lost in *low.
TC_FN TC_F64 TC_N(asin_poly_f64)(TC_F64 a, TC_I64 *small, TC_F64 *s, TC_F64 *low) {
    TC_F64 half = TC_K_f64(0.5), z, w, h, l, zero = TC_K_f64(0.0);
    *small = TC_LE_f64(a, half);
    w = (1.0 - a) * 0.5;
    z = TC_SEL_f64(*small, a * a, w);
    l = TC_SQRT_f64(z);
    *s = TC_SEL_f64(*small, a, l);
    h = TC_TOP_f64(l);
    l = l - h;
    l = ((w - h * h) - (h + h + l) * l) / (*s + *s);
    *low = TC_SEL_f64(TC_GT_f64(z, zero) & TC_NOT(*small), l, zero);
    TC_F64 p = TC_K_f64(0.032627741434580582);
    p = p * z - 0.020997534057692915;
    p = p * z + 0.021706271061122641;
    p = p * z + 0.0037069373947501384;
    p = p * z + 0.010780099159677176;
    p = p * z + 0.011398942383506047;
    p = p * z + 0.013980816486375773;
    p = p * z + 0.017351612387219384;
    p = p * z + 0.022372214964689278;
    p = p * z + 0.030381942708684578;
    p = p * z + 0.04464285717459103;
    p = p * z + 0.074999999999708244;
    p = p * z + 0.1666666666666676;
    return *s * z * p;
}

// fn: asin_f64 asin_poly_f64
TC_FN TC_F64 TC_N(asin_f64)(TC_F64 x) {
    TC_I64 small;
    TC_F64 a = TC_ABS_f64(x), s, low, y = TC_N(asin_poly_f64)(a, &small, &s, &low), w, h;
    h = 1.5707963267948966 - (s + s);
    w = h +
        ((1.5707963267948966 - h) - (s + s) - ((y + low) * 2.0 - 6.123233995736766e-17));
    return TC_COPY_f64(TC_SEL_f64(small, s + y, w), x);
}

// fn: acos_f64 asin_poly_f64
TC_FN TC_F64 TC_N(acos_f64)(TC_F64 x) {
    TC_I64 small, negative = TC_LT_f64(x, TC_K_f64(0.0));
    TC_F64 a = TC_ABS_f64(x), s, low, y = TC_N(asin_poly_f64)(a, &small, &s, &low), w, v, h;
    v = TC_COPY_f64(s, x);
    h = 1.5707963267948966 - v;
    w = h + (((1.5707963267948966 - h) - v) - (TC_COPY_f64(y, x) - 6.123233995736766e-17));
    y = (y + low) * 2.0;
    s = s + s;
    h = 3.1415926535897931 - s;
    v = h + (((3.1415926535897931 - h) - s) - (y - 1.2246467991473532e-16));
    v = TC_SEL_f64(negative, v, s + y);
    return TC_SEL_f64(small, w, v);
}

// fn: atan_ratio_f64
// atan(n / d) for 0 <= n, d, not both 0 and not both inf: with t = n / d below tan(pi/8),
// (n - d) / (n + d) around 1, -d / n above.
TC_FN TC_F64 TC_N(atan_ratio_f64)(TC_F64 n, TC_F64 d) {
    TC_F64 e = d * 0.41421356237309503, g = n * 0.41421356237309503, zero = TC_K_f64(0.0);
    TC_F64 t, b, l, z, u, v, h;
    TC_I64 low = TC_LE_f64(n, e), high = TC_GT_f64(g, d);
    u = TC_SEL_f64(low, n, TC_SEL_f64(high, -d, n - d));
    v = TC_SEL_f64(low, d, TC_SEL_f64(high, n, n + d));
    b = TC_SEL_f64(high, TC_K_f64(1.5707963267948966), TC_K_f64(0.78539816339744828));
    l = TC_SEL_f64(high, TC_K_f64(6.123233995736766e-17), TC_K_f64(3.0616169978683829e-17));
    b = TC_SEL_f64(low, zero, b);
    l = TC_SEL_f64(low, zero, l);
    t = u / v;
    z = t * t;
    TC_F64 p = TC_K_f64(0.015192306319331134);
    p = p * z - 0.033471067143538501;
    p = p * z + 0.045033762757227064;
    p = p * z - 0.052183543678775098;
    p = p * z + 0.058770127534689943;
    p = p * z - 0.06666225689677388;
    p = p * z + 0.0769228267550887;
    p = p * z - 0.0909090814031496;
    p = p * z + 0.1111111108804433;
    p = p * z - 0.14285714285385565;
    p = p * z + 0.19999999999997647;
    p = p * z - 0.33333333333333326;
    h = b + t;
    v = TC_SEL_f64(low, zero, t - (h - b));
    return h + (v + (l + t * z * p));
}

// fn: atan_f64 atan_ratio_f64
TC_FN TC_F64 TC_N(atan_f64)(TC_F64 x) {
    return TC_COPY_f64(TC_N(atan_ratio_f64)(TC_ABS_f64(x), TC_K_f64(1.0)), x);
}

// fn: atan2_f64 atan_ratio_f64
TC_FN TC_F64 TC_N(atan2_f64)(TC_F64 y, TC_F64 x) {
    TC_F64 a = TC_ABS_f64(y), b = TC_ABS_f64(x), zero = TC_K_f64(0.0), one = TC_K_f64(1.0);
    TC_F64 tiny = TC_K_f64(1e-290), huge = TC_K_f64(1e290), inf = TC_INF_f64, s, t;
    TC_I64 left = TC_BITS_f64(x), none = TC_K_i64(0);
    TC_I64 same = TC_EQ_f64(a, inf) & TC_EQ_f64(b, inf),
           nil = TC_EQ_f64(a, zero) & TC_EQ_f64(b, zero);
    left = TC_LT_i64(left, none);
    // Sums and products inside stay clear of overflow and of denormals.
    s = TC_SEL_f64(TC_GT_f64(a, huge) | TC_GT_f64(b, huge),
                   TC_K_f64(1.4916681462400413e-154), one);
    s = TC_SEL_f64(TC_LT_f64(a, tiny) & TC_LT_f64(b, tiny), TC_K_f64(6.703903964971299e153),
                   s);
    t = TC_SEL_f64(same, one, b * s);
    t = TC_N(atan_ratio_f64)(TC_SEL_f64(same, one, a * s), TC_SEL_f64(nil, one, t));
    t = TC_SEL_f64(left, 3.1415926535897931 - (t - 1.2246467991473532e-16), t);
    return TC_COPY_f64(t, y);
}

// fn: sinh_f64 expm1_half_f64
TC_FN TC_F64 TC_N(sinh_f64)(TC_F64 x) {
    TC_F64 a = TC_ABS_f64(x), h = TC_N(expm1_half_f64)(a), y = h + h / (h + h + 1.0);
    y = TC_SEL_f64(TC_LT_f64(a, TC_K_f64(1e-9)), a, y);
    y = TC_SEL_f64(TC_GT_f64(a, TC_K_f64(40.0)), h, y);
    return TC_COPY_f64(y, x);
}

// fn: cosh_f64 exp_parts_f64
TC_FN TC_F64 TC_N(cosh_f64)(TC_F64 x) {
    TC_F64 a = TC_ABS_f64(x), t, s1, s2, e;
    e = TC_N(exp_parts_f64)(a, TC_K_f64(0.0), &t, &s1, &s2);
    e = ((e + t) * 0.5 * s1) * s2;
    return e + 0.25 / e;
}

// fn: tanh_f64 expm1_half_f64
// With h = expm1(2 |x|) / 2: h / (h + 1).
TC_FN TC_F64 TC_N(tanh_f64)(TC_F64 x) {
    TC_F64 a = TC_ABS_f64(x), high = TC_K_f64(20.0), h, y;
    h = TC_SEL_f64(TC_GT_f64(a, high), high, a);
    h = TC_N(expm1_half_f64)(h + h);
    y = h / (h + 1.0);
    y = TC_SEL_f64(TC_LT_f64(a, TC_K_f64(1e-9)), a, y);
    return TC_COPY_f64(y, x);
}

// fn: erfc_tail_f64 exp_parts_f64
// erfc(a) = q * s1 * s2 for a >= 1/2; w is what is missing in h = a^2.
TC_FN TC_F64 TC_N(erfc_tail_f64)(TC_F64 a, TC_F64 h, TC_F64 w, TC_F64 *s1, TC_F64 *s2) {
    TC_F64 t = (a - 3.0) / (a + 3.0), l, e = TC_N(exp_parts_f64)(-h, -w, &l, s1, s2);
    // exp(a^2) erfc(a) (1 + 2 a)
    TC_F64 p = TC_K_f64(8.2594490786233193e-09);
    p = p * t + 7.1567156740662144e-08;
    p = p * t - 8.3124955260655868e-08;
    p = p * t - 5.8504008866811275e-07;
    p = p * t + 3.0167061209689583e-07;
    p = p * t + 3.4536983463200165e-06;
    p = p * t - 7.0030031191333261e-07;
    p = p * t - 2.0093756241500501e-05;
    p = p * t + 4.9384175202056181e-06;
    p = p * t + 0.00012509778812068017;
    p = p * t - 0.00010515732128458005;
    p = p * t - 0.00077983204709503311;
    p = p * t + 0.0018886900169115609;
    p = p * t + 0.0025293917965668535;
    p = p * t - 0.023770514891254438;
    p = p * t + 0.06830802734491484;
    p = p * t - 0.11927366341642844;
    p = p * t + 0.12964515870273963;
    p = p * t - 0.047562294353432941;
    p = p * t - 0.13562110612458103;
    p = p * t + 1.2530080582697296;
    return (e * p + l * p) / (a + a + 1.0);
}

// fn: square_f64
// a^2 = the result + low
TC_FN TC_F64 TC_N(square_f64)(TC_F64 a, TC_F64 *low) {
    TC_F64 y = a * a, h = TC_TOP_f64(a), l = a - h;
    *low = ((h * h - y) + (h + h) * l) + l * l;
    return y;
}

// fn: erf_f64 square_f64 erfc_tail_f64
TC_FN TC_F64 TC_N(erf_f64)(TC_F64 x) {
    TC_F64 a = TC_ABS_f64(x), high = TC_K_f64(6.0), w, s1, s2, h, y;
    a = TC_SEL_f64(TC_GT_f64(a, high), high, a);
    h = TC_N(square_f64)(a, &w);
    y = TC_N(erfc_tail_f64)(a, h, w, &s1, &s2);
    y = 1.0 - (y * s1) * s2;
    TC_F64 p = TC_K_f64(-7.7795141189528871e-10);
    p = p * h + 1.3711006908502811e-08;
    p = p * h - 1.6206320393893352e-07;
    p = p * h + 1.6447132507826689e-06;
    p = p * h - 1.4924712383960325e-05;
    p = p * h + 0.00012055293581505039;
    p = p * h - 0.00085483259294809441;
    p = p * h + 0.0052239776061222482;
    p = p * h - 0.026866170643111972;
    p = p * h + 0.11283791670944188;
    p = p * h - 0.37612638903183521;
    p = p * h + 0.12837916709551256;
    y = TC_SEL_f64(TC_LT_f64(a, TC_K_f64(1.0)), a + a * p, y);
    return TC_COPY_f64(y, x);
}

// fn: erfc_f64 square_f64 erfc_tail_f64
TC_FN TC_F64 TC_N(erfc_f64)(TC_F64 x) {
    TC_F64 a = TC_ABS_f64(x), high = TC_K_f64(28.0), w, s1, s2, h, y;
    a = TC_SEL_f64(TC_GT_f64(a, high), high, a);
    h = TC_N(square_f64)(a, &w);
    y = TC_N(erfc_tail_f64)(a, h, w, &s1, &s2);
    TC_F64 p = TC_K_f64(1.4723260534975576e-06);
    p = p * h - 1.4845588114515805e-05;
    p = p * h + 0.00012053324485124428;
    p = p * h - 0.0008548297527885396;
    p = p * h + 0.0052239773703658642;
    p = p * h - 0.026866170632718272;
    p = p * h + 0.11283791670924821;
    p = p * h - 0.37612638903183465;
    p = p * h + 0.12837916709551256;
    y = TC_SEL_f64(TC_LT_f64(a, TC_K_f64(0.5)), 1.0 - (a + a * p), (y * s1) * s2);
    return TC_SEL_f64(TC_LT_f64(x, TC_K_f64(0.0)), 2.0 - y, y);
}

// fn: gelu_f64 square_f64 erfc_tail_f64
// As gelu_f32.
TC_FN TC_F64 TC_N(gelu_f64)(TC_F64 x) {
    TC_F64 a = TC_ABS_f64(x), high = TC_K_f64(40.0), w, s1, s2, h, y, q;
    a = TC_SEL_f64(TC_GT_f64(a, high), high, a);
    h = TC_N(square_f64)(a, &w);
    q = TC_N(erfc_tail_f64)(a * 0.70710678118654757, h * 0.5, w * 0.5, &s1, &s2) * 0.5;
    TC_F64 p = TC_K_f64(2.0147585580097459e-09);
    p = p * h - 4.0966902456602958e-08;
    p = p * h + 6.658254654077211e-07;
    p = p * h - 9.4446088059726706e-06;
    p = p * h + 0.00011543467816756386;
    p = p * h - 0.0011873282143789853;
    p = p * h + 0.0099735570099666777;
    p = p * h - 0.066490380066903498;
    p = p * h + 0.39894228040143265;
    y = x * (1.0 - (q * s1) * s2);
    y = TC_SEL_f64(TC_LT_f64(x, TC_K_f64(0.0)), -(a * q * s1) * s2, y);
    y = TC_SEL_f64(TC_LT_f64(a, TC_K_f64(0.7)), x * (x * p + 0.5), y);
    h = -TC_INF_f64;
    return TC_SEL_f64(TC_EQ_f64(x, h), TC_NAN_f64, y);
}

// fn: sigmoid_f64 exp_f64
TC_FN TC_F64 TC_N(sigmoid_f64)(TC_F64 x) {
    TC_F64 one = TC_K_f64(1.0), e = TC_N(exp_f64)(-TC_ABS_f64(x));
    return TC_SEL_f64(TC_LT_f64(x, TC_K_f64(0.0)), e, one) / (one + e);
}

// fn: silu_parts_f64 exp_parts_f64
// x / (1 + exp(-(v + w))), as silu_parts_f32.
TC_FN TC_F64 TC_N(silu_parts_f64)(TC_F64 x, TC_F64 v, TC_F64 w) {
    TC_I64 negative = TC_LT_f64(x, TC_K_f64(0.0));
    TC_F64 one = TC_K_f64(1.0), inf = TC_INF_f64, low = TC_K_f64(-800.0), t, s1, s2, y, p;
    w = TC_SEL_f64(negative, w, -w);
    p = TC_N(exp_parts_f64)(-TC_ABS_f64(v), w, &t, &s1, &s2);
    p = p + t;
    y = TC_SEL_f64(TC_LT_f64(x, low), low, x);
    y = TC_SEL_f64(negative, y * p * s1, x) / (one + (p * s1) * s2);
    y = y * TC_SEL_f64(negative, s2, one);
    return TC_SEL_f64(TC_EQ_f64(x, -inf), TC_NAN_f64, y);
}

// fn: silu_f64 silu_parts_f64
TC_FN TC_F64 TC_N(silu_f64)(TC_F64 x) { return TC_N(silu_parts_f64)(x, x, TC_K_f64(0.0)); }

// fn: gelu_tanh_f64 square_f64 silu_parts_f64
// x / (1 + exp(-2 sqrt(2/pi) (x + 0.044715 x^3))), the exponent in two pieces.
TC_FN TC_F64 TC_N(gelu_tanh_f64)(TC_F64 x) {
    TC_F64 a = TC_ABS_f64(x), high = TC_K_f64(24.0), w, z, h, l, p, q, g, u;
    a = TC_SEL_f64(TC_GT_f64(a, high), high, a);
    z = TC_N(square_f64)(a, &w);
    h = TC_TOP_f64(z);
    l = (z - h) + w;
    // q + l = z * 0.0713... + 1.59..., both constants split
    p = h * 0.071354815736413002;
    l = l * 0.071354816272600249 + h * 5.3618724676217855e-10 + 1.4263964354337909e-08;
    q = p + 1.5957691073417664;
    u = q - p;
    l = l + ((p - (q - u)) + (1.5957691073417664 - u));
    h = TC_TOP_f64(q);
    l = l + (q - h);
    p = TC_TOP_f64(a);
    g = h * p;
    l = h * (a - p) + a * l;
    q = g + l;
    l = l - (q - g);
    q = TC_COPY_f64(q, x);
    // No -l: clang's pragma leaves -funsafe-math-optimizations on for what is negated, and l would be 0.
    l = l * TC_SEL_f64(TC_LT_f64(x, TC_K_f64(0.0)), TC_K_f64(-1.0), TC_K_f64(1.0));
    return TC_N(silu_parts_f64)(x, q, l);
}

// fn: softplus_f64 log1p_f64 exp_f64
TC_FN TC_F64 TC_N(softplus_f64)(TC_F64 x) {
    TC_F64 zero = TC_K_f64(0.0), y = TC_N(log1p_f64)(TC_N(exp_f64)(-TC_ABS_f64(x)));
    return TC_SEL_f64(TC_GT_f64(x, zero), x, zero) + y;
}

// fn: pow_f64 floor_f64 log_split_f64 exp_poly_f64
// 2^(y log2 |x|), the logarithm and its product with y in two pieces of double; then the
// signs and C99's special cases.
TC_FN TC_F64 TC_N(pow_f64)(TC_F64 x, TC_F64 y) {
    TC_F64 a = TC_ABS_f64(x), b = TC_ABS_f64(y), zero = TC_K_f64(0.0), one = TC_K_f64(1.0);
    TC_F64 inf = TC_INF_f64, magic = TC_K_f64(6755399441055744.0), high = TC_K_f64(1e25), v,
           e, f;
    TC_F64 m, d, s, sh, sl, dh, dl, z, r, th, tl, ph, pl, l1, l2, t, s1, s2, g,
        half = y * 0.5;
    TC_F64 fy = TC_N(floor_f64)(y), fh = TC_N(floor_f64)(half);
    TC_I64 whole = TC_EQ_f64(fy, y), odd = whole & TC_NE_f64(fh, half), k, h, one_is;
    v = TC_SEL_f64(TC_GT_f64(b, high), TC_COPY_f64(high, y), y);
    f = TC_N(log_split_f64)(a, &e);
    // s = f / (2 + f) as sh + sl
    m = f + 1.0;
    d = m + 1.0;
    s = f / d;
    sh = TC_TOP_f64(s);
    dh = TC_TOP_f64(d);
    dl = m - (dh - 1.0);
    sl = ((f - sh * dh) - sh * dl) / d;
    // log2(1 + f) = s (3 + s^2 + s^4 q(s^2)) * 2 / (3 ln 2)
    z = s * s;
    TC_F64 q = TC_K_f64(0.19876015752018888);
    q = q * z + 0.19875289063251839;
    q = q * z + 0.23080630959086093;
    q = q * z + 0.27272663622297932;
    q = q * z + 0.33333333968564105;
    q = q * z + 0.42857142853640284;
    q = q * z + 0.60000000000009335;
    m = sh * sh;
    r = z * z * q + sl * (sh + s);
    th = TC_TOP_f64(3.0 + m + r);
    tl = r - ((th - 3.0) - m);
    d = sh * th;
    t = sl * th + tl * s;
    ph = TC_TOP_f64(d + t);
    pl = t - (ph - d);
    d = ph * 0.96179668605327606;
    t = ph * 7.8726995428948972e-09 + pl * 0.96179669392597555;
    l1 = TC_TOP_f64((d + t) + e);
    l2 = t - ((l1 - e) - d);
    // times y
    r = TC_TOP_f64(v);
    pl = (v - r) * l1 + v * l2;
    ph = r * l1;
    g = ph + pl;
    high = TC_K_f64(1100.0);
    h = TC_GT_f64(TC_ABS_f64(g), high);
    ph = TC_SEL_f64(h, TC_COPY_f64(high, g), ph);
    pl = TC_SEL_f64(h, zero, pl);
    // 2 to that
    t = (ph + pl) + magic;
    k = TC_SUB_i64(TC_BITS_f64(t), TC_BITS_f64(magic));
    h = (TC_I64)(((TC_U64)k + 2048) >> 1);
    s1 = TC_FROM_BITS_f64((TC_I64)(((TC_U64)h - 1) << 52));
    s2 = TC_FROM_BITS_f64((TC_I64)(((TC_U64)k - (TC_U64)h + 2047) << 52));
    d = ph - (t - magic);
    r = d + pl;
    pl = pl - (r - d);
    th = TC_TOP_f64(r);
    tl = (r - th) * 0.69314718246459961 + r * -1.904654299957768e-09 +
         pl * 0.69314718055994529;
    th = th * 0.69314718246459961;
    r = th + tl;
    d = TC_N(exp_poly_f64)(r, tl - (r - th), &t);
    g = d + 1.0;
    f = ((g + (t + (d - (g - 1.0)))) * s1) * s2;
    // special cases
    h = TC_LT_f64(y, zero);
    f = TC_SEL_f64(TC_EQ_f64(a, zero), TC_SEL_f64(h, inf, zero), f);
    f = TC_SEL_f64(TC_EQ_f64(a, inf), TC_SEL_f64(h, zero, inf), f);
    f = TC_SEL_f64(TC_NE_f64(x, x), x, f);
    f = TC_SEL_f64(TC_NE_f64(y, y), y, f);
    f = TC_SEL_f64(odd, TC_FLIP_f64(f, TC_SIGN_f64(x)), f);
    e = -inf;
    f = TC_SEL_f64(TC_LT_f64(x, zero) & TC_GT_f64(x, e) & TC_NOT(whole), TC_NAN_f64, f);
    one_is =
        TC_EQ_f64(x, one) | TC_EQ_f64(y, zero) | (TC_EQ_f64(a, one) & TC_EQ_f64(b, inf));
    return TC_SEL_f64(one_is, one, f);
}

// fn: fmod_lane_f64
// Exact, for the bits of finite a >= 0 and b > 0: the remainder of the mantissas, the
// exponent difference taken off eleven bits at a time.
TC_FN_COLD TC_E_U64 TC_N(fmod_lane_f64)(TC_E_U64 a, TC_E_U64 b) {
    int i = (int)(a >> 52), j = (int)(b >> 52), n;
    TC_E_U64 top = 0x10000000000000u, p, q;
    if (a < b) return a;
    p = (a & (top - 1)) | (i ? top : 0);
    q = (b & (top - 1)) | (j ? top : 0);
    i += i == 0;
    j += j == 0;
    for (p %= q; i > j && p; p = (p << n) % q) {
        n = i - j < 11 ? i - j : 11;
        i -= n;
    }
    if (!p) return 0;
    while (p < top && j > 1) {
        p <<= 1;
        j--;
    }
    return p < top ? p : (p - top) | (TC_E_U64)j << 52;
}

// fn: fmod_f64 fmod_lane_f64
// Exact, with the sign of x.
TC_FN TC_F64 TC_N(fmod_f64)(TC_F64 x, TC_F64 y) {
    TC_F64 a = TC_ABS_f64(x), b = TC_ABS_f64(y), zero = TC_K_f64(0.0), inf = TC_INF_f64,
           r = a;
    TC_I64 good = TC_LT_f64(a, inf) & TC_GT_f64(b, zero), near = TC_LT_f64(a, b);
    int i;
    TC_I64 bits = TC_BITS_f64(a), other = TC_BITS_f64(b), far = good & TC_NOT(near);
    if (TC_ANY_i64(far)) {
        for (i = 0; i < TC_LANES; i++) {
            TC_E_U64 p = (TC_E_U64)TC_GET(bits, i), q = (TC_E_U64)TC_GET(other, i);
            if (TC_GET(far, i) == 0) continue;
            TC_SET(bits, i, (TC_E_I64)TC_N(fmod_lane_f64)(p, q));
        }
        r = TC_FROM_BITS_f64(bits);
    }
    return TC_SEL_f64(good, TC_COPY_f64(r, x), TC_NAN_f64);
}

// fn: remainder_f64 fmod_f64
// With the sign of y.
TC_FN TC_F64 TC_N(remainder_f64)(TC_F64 x, TC_F64 y) {
    TC_F64 m = TC_N(fmod_f64)(x, y), zero = TC_K_f64(0.0);
    TC_I64 off = TC_NE_f64(m, zero) & (TC_LT_f64(m, zero) ^ TC_LT_f64(y, zero));
    return TC_SEL_f64(off, m + y, m);
}

// fn: floor_divide_f64 fmod_f64 floor_f64
// PyTorch's: the quotient that goes with remainder; x / 0 is x / 0.
TC_FN TC_F64 TC_N(floor_divide_f64)(TC_F64 x, TC_F64 y) {
    TC_F64 m = TC_N(fmod_f64)(x, y), zero = TC_K_f64(0.0), one = TC_K_f64(1.0), q, f,
           d = x / y;
    TC_I64 off = TC_NE_f64(m, zero) & (TC_LT_f64(m, zero) ^ TC_LT_f64(y, zero));
    q = (x - m) / y - TC_SEL_f64(off, one, zero);
    f = TC_N(floor_f64)(q);
    m = q - f;
    f = f + TC_SEL_f64(TC_GT_f64(m, TC_K_f64(0.5)), one, zero);
    f = TC_SEL_f64(TC_EQ_f64(q, zero), TC_COPY_f64(zero, d), f);
    return TC_SEL_f64(TC_EQ_f64(y, zero), d, f);
}

// fn: div_trunc_i64
TC_FN TC_I64 TC_N(div_trunc_i64)(TC_I64 a, TC_I64 b) {
    TC_I64 zero = TC_K_i64(0), minus = TC_K_i64(-1);
    TC_I64 none = TC_EQ_i64(b, zero), flip = TC_EQ_i64(b, minus);
    TC_I64 q = a / TC_SEL_i64(none | flip, TC_K_i64(1), b);
    return TC_SEL_i64(none, zero, TC_SEL_i64(flip, TC_NEG_i64(a), q));
}

// fn: fmod_i64 div_trunc_i64
// With the sign of a.
TC_FN TC_I64 TC_N(fmod_i64)(TC_I64 a, TC_I64 b) {
    TC_I64 zero = TC_K_i64(0), q = TC_N(div_trunc_i64)(a, b);
    return TC_SEL_i64(TC_EQ_i64(b, zero), zero, TC_SUB_i64(a, TC_MUL_i64(q, b)));
}

// fn: floor_divide_i64 div_trunc_i64
TC_FN TC_I64 TC_N(floor_divide_i64)(TC_I64 a, TC_I64 b) {
    TC_I64 zero = TC_K_i64(0), q = TC_N(div_trunc_i64)(a, b);
    TC_I64 m = TC_SUB_i64(a, TC_MUL_i64(q, b));
    TC_I64 off =
        TC_NE_i64(b, zero) & TC_NE_i64(m, zero) & (TC_LT_i64(m, zero) ^ TC_LT_i64(b, zero));
    return TC_SEL_i64(off, TC_SUB_i64(q, TC_K_i64(1)), q);
}

// fn: remainder_i64 fmod_i64
// With the sign of b.
TC_FN TC_I64 TC_N(remainder_i64)(TC_I64 a, TC_I64 b) {
    TC_I64 zero = TC_K_i64(0), m = TC_N(fmod_i64)(a, b);
    TC_I64 off = TC_NE_i64(m, zero) & (TC_LT_i64(m, zero) ^ TC_LT_i64(b, zero));
    return TC_SEL_i64(off, TC_ADD_i64(m, b), m);
}

// fn: shl_i64
// 0 for an amount below 0 or above 63.
TC_FN TC_I64 TC_N(shl_i64)(TC_I64 a, TC_I64 n) {
    TC_I64 zero = TC_K_i64(0), last = TC_K_i64(63);
    TC_I64 good = TC_GE_i64(n, zero) & TC_LE_i64(n, last);
    return TC_SEL_i64(good, (TC_I64)((TC_U64)a << ((TC_U64)n & 63u)), zero);
}

// fn: shr_i64
// Arithmetic; the sign for an amount below 0 or above 63.
TC_FN TC_I64 TC_N(shr_i64)(TC_I64 a, TC_I64 n) {
    TC_I64 zero = TC_K_i64(0), last = TC_K_i64(63);
    TC_I64 good = TC_GE_i64(n, zero) & TC_LE_i64(n, last);
    return a >> TC_SEL_i64(good, n, last);
}

// fn: pow_i64
// Wraps. A negative exponent gives 1 for 1, +-1 for -1, else 0.
TC_FN TC_I64 TC_N(pow_i64)(TC_I64 a, TC_I64 n) {
    TC_I64 zero = TC_K_i64(0), one = TC_K_i64(1), minus = TC_K_i64(-1), y = one, base = a,
           e, v;
    TC_I64 negative = TC_LT_i64(n, zero), odd = TC_NE_i64(n & 1, zero);
    e = TC_SEL_i64(negative, zero, n);
    while (TC_ANY_i64(TC_NE_i64(e, zero))) {
        y = TC_SEL_i64(TC_NE_i64(e & 1, zero), TC_MUL_i64(y, base), y);
        base = TC_MUL_i64(base, base);
        e = e >> 1;
    }
    v = TC_SEL_i64(TC_EQ_i64(a, one), one, zero);
    v = TC_SEL_i64(TC_EQ_i64(a, minus), TC_SEL_i64(odd, minus, one), v);
    return TC_SEL_i64(negative, v, y);
}

// fn: abs_i64
TC_FN TC_I64 TC_N(abs_i64)(TC_I64 a) {
    return TC_SEL_i64(TC_LT_i64(a, TC_K_i64(0)), TC_NEG_i64(a), a);
}

// fn: sign_i64
TC_FN TC_I64 TC_N(sign_i64)(TC_I64 a) {
    TC_I64 zero = TC_K_i64(0), y = TC_SEL_i64(TC_GT_i64(a, zero), TC_K_i64(1), zero);
    return TC_SEL_i64(TC_LT_i64(a, zero), TC_K_i64(-1), y);
}

// fn: maximum_i64
TC_FN TC_I64 TC_N(maximum_i64)(TC_I64 a, TC_I64 b) {
    return TC_SEL_i64(TC_GT_i64(a, b), a, b);
}

// fn: minimum_i64
TC_FN TC_I64 TC_N(minimum_i64)(TC_I64 a, TC_I64 b) {
    return TC_SEL_i64(TC_LT_i64(a, b), a, b);
}

// Casts between the 64-bit classes and the others.

// fn: cast_f32_f64
TC_FN TC_F64 TC_N(cast_f32_f64)(TC_F32 x) { return TC_CVT_f32_f64(x); }

// fn: cast_f32_i64
TC_FN TC_I64 TC_N(cast_f32_i64)(TC_F32 x) {
    TC_F32 low = TC_K_f32(-9223372036854775808.0f), high = TC_K_f32(9223372036854775808.0f);
    TC_I32 over = TC_GE_f32(x, high), under = TC_LT_f32(x, low);
    TC_I32 good = TC_GE_f32(x, low) & TC_LT_f32(x, high);
    TC_F32 v = TC_SEL_f32(good, x, TC_K_f32(0.0f));
    TC_I64 y = TC_CVT_f32_i64(v);
    y = TC_SEL_i64(TC_M_i64(over), TC_K_i64(0x7fffffffffffffff), y);
    return TC_SEL_i64(TC_M_i64(under), TC_K_i64(-0x7fffffffffffffff - 1), y);
}

// fn: cast_f64_f32
TC_FN TC_F32 TC_N(cast_f64_f32)(TC_F64 x) { return TC_CVT_f64_f32(x); }

// fn: cast_f64_i32
TC_FN TC_I32 TC_N(cast_f64_i32)(TC_F64 x) {
    TC_F64 low = TC_K_f64(-2147483648.0), high = TC_K_f64(2147483647.0);
    x = TC_SEL_f64(TC_GT_f64(x, high), high, x);
    x = TC_SEL_f64(TC_LT_f64(x, low), low, x);
    x = TC_SEL_f64(TC_EQ_f64(x, x), x, TC_K_f64(0.0));
    return TC_CVT_f64_i32(x);
}

// fn: cast_f64_i64
TC_FN TC_I64 TC_N(cast_f64_i64)(TC_F64 x) {
    TC_F64 low = TC_K_f64(-9223372036854775808.0), high = TC_K_f64(9223372036854775808.0);
    TC_I64 over = TC_GE_f64(x, high), under = TC_LT_f64(x, low);
    TC_I64 good = TC_GE_f64(x, low) & TC_LT_f64(x, high);
    TC_F64 v = TC_SEL_f64(good, x, TC_K_f64(0.0));
    TC_I64 y = TC_CVT_f64_i64(v);
    y = TC_SEL_i64(over, TC_K_i64(0x7fffffffffffffff), y);
    return TC_SEL_i64(under, TC_K_i64(-0x7fffffffffffffff - 1), y);
}

// fn: cast_f64_u8
TC_FN TC_I32 TC_N(cast_f64_u8)(TC_F64 x) {
    TC_F64 low = TC_K_f64(0.0), high = TC_K_f64(255.0);
    x = TC_SEL_f64(TC_GT_f64(x, low), x, low);
    x = TC_SEL_f64(TC_LT_f64(x, high), x, high);
    return TC_CVT_f64_i32(x);
}

// fn: cast_f64_i8
TC_FN TC_I32 TC_N(cast_f64_i8)(TC_F64 x) {
    TC_I32 v = TC_N(cast_f64_i32)(x);
    return TC_MAX_i32(TC_MIN_i32(v, TC_K_i32(127)), TC_K_i32(-128));
}

// fn: cast_f64_i16
TC_FN TC_I32 TC_N(cast_f64_i16)(TC_F64 x) {
    TC_I32 v = TC_N(cast_f64_i32)(x);
    return TC_MAX_i32(TC_MIN_i32(v, TC_K_i32(32767)), TC_K_i32(-32768));
}

// fn: cast_f64_f8e4m3
TC_FN TC_F32 TC_N(cast_f64_f8e4m3)(TC_F64 x) { return TC_N(cast_f32_f8e4m3)(TC_CVT_f64_f32(x)); }

// fn: cast_f64_f8e5m2
TC_FN TC_F32 TC_N(cast_f64_f8e5m2)(TC_F64 x) { return TC_N(cast_f32_f8e5m2)(TC_CVT_f64_f32(x)); }

// fn: cast_f64_f16
TC_FN TC_F32 TC_N(cast_f64_f16)(TC_F64 x) { return TC_N(cast_f32_f16)(TC_CVT_f64_f32(x)); }

// fn: cast_f64_bf16
TC_FN TC_F32 TC_N(cast_f64_bf16)(TC_F64 x) { return TC_N(cast_f32_bf16)(TC_CVT_f64_f32(x)); }

// fn: cast_f64_bool
TC_FN TC_I32 TC_N(cast_f64_bool)(TC_F64 x) {
    TC_F64 zero = TC_K_f64(0.0);
    TC_I64 m = TC_NE_f64(x, zero);
    return TC_B_f64(m);
}

// fn: cast_i32_f64
TC_FN TC_F64 TC_N(cast_i32_f64)(TC_I32 x) { return TC_CVT_i32_f64(x); }

// fn: cast_i32_i64
TC_FN TC_I64 TC_N(cast_i32_i64)(TC_I32 x) { return TC_CVT_i32_i64(x); }

// fn: cast_i64_f32
TC_FN TC_F32 TC_N(cast_i64_f32)(TC_I64 x) { return TC_CVT_i64_f32(x); }

// fn: cast_i64_f64
TC_FN TC_F64 TC_N(cast_i64_f64)(TC_I64 x) { return TC_CVT_i64_f64(x); }

// fn: cast_i64_i32
TC_FN TC_I32 TC_N(cast_i64_i32)(TC_I64 x) { return TC_CVT_i64_i32(x); }

// fn: cast_i64_u8
TC_FN TC_I32 TC_N(cast_i64_u8)(TC_I64 x) { return TC_CVT_i64_i32(x) & 255; }

// fn: cast_i64_i8
TC_FN TC_I32 TC_N(cast_i64_i8)(TC_I64 x) { return TC_N(cast_i32_i8)(TC_CVT_i64_i32(x)); }

// fn: cast_i64_i16
TC_FN TC_I32 TC_N(cast_i64_i16)(TC_I64 x) { return TC_N(cast_i32_i16)(TC_CVT_i64_i32(x)); }

// fn: cast_i64_f8e4m3
TC_FN TC_F32 TC_N(cast_i64_f8e4m3)(TC_I64 x) { return TC_N(cast_f32_f8e4m3)(TC_CVT_i64_f32(x)); }

// fn: cast_i64_f8e5m2
TC_FN TC_F32 TC_N(cast_i64_f8e5m2)(TC_I64 x) { return TC_N(cast_f32_f8e5m2)(TC_CVT_i64_f32(x)); }

// fn: cast_i64_f16
TC_FN TC_F32 TC_N(cast_i64_f16)(TC_I64 x) { return TC_N(cast_f32_f16)(TC_CVT_i64_f32(x)); }

// fn: cast_i64_bf16
TC_FN TC_F32 TC_N(cast_i64_bf16)(TC_I64 x) { return TC_N(cast_f32_bf16)(TC_CVT_i64_f32(x)); }

// fn: cast_i64_bool
TC_FN TC_I32 TC_N(cast_i64_bool)(TC_I64 x) {
    TC_I64 zero = TC_K_i64(0), m = TC_NE_i64(x, zero);
    return TC_B_i64(m);
}

// fn: cast_bool_f64
TC_FN TC_F64 TC_N(cast_bool_f64)(TC_I32 x) {
    TC_I32 v = x & 1;
    return TC_CVT_i32_f64(v);
}

// fn: cast_bool_i64
TC_FN TC_I64 TC_N(cast_bool_i64)(TC_I32 x) {
    TC_I32 v = x & 1;
    return TC_CVT_i32_i64(v);
}

// fn: uniform_f64
// [0, 1) from two words, 53 bits.
TC_FN TC_F64 TC_N(uniform_f64)(TC_U32 w0, TC_U32 w1) {
    TC_I32 a = (TC_I32)(w0 >> 5), b = (TC_I32)(w1 >> 6);
    return (TC_CVT_i32_f64(a) * 67108864.0 + TC_CVT_i32_f64(b)) * 1.1102230246251565e-16;
}

// fn: normal_f64 uniform_f64 sin_poly_f64 cos_poly_f64 log_f64
// Box-Muller: sqrt(-2 log u) cos(2 pi v), u in (0, 1] from the first two words.
TC_FN TC_F64 TC_N(normal_f64)(TC_U32 w0, TC_U32 w1, TC_U32 w2, TC_U32 w3) {
    TC_F64 u = TC_N(uniform_f64)(w0, w1) + 1.1102230246251565e-16,
           magic = TC_K_f64(6755399441055744.0);
    TC_F64 v = TC_N(uniform_f64)(w2, w3) * 4.0, t = v + magic, zero = TC_K_f64(0.0), r, s,
           y;
    TC_I64 q = TC_BITS_f64(t), odd = q & 1, none = TC_K_i64(0);
    r = (v - (t - magic)) * 1.5707963267948966;
    s = TC_N(sin_poly_f64)(r, zero);
    y = TC_N(cos_poly_f64)(r, zero);
    y = TC_SEL_f64(TC_NE_i64(odd, none), s, y);
    y = TC_FLIP_f64(y, (TC_I64)((((TC_U64)q + 1u) & 2u) << 62));
    s = TC_N(log_f64)(u) * -2.0;
    return TC_SQRT_f64(s) * y;
}
#endif
