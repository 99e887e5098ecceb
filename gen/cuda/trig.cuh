// Angles.

// fn: trig_big
// x = (4 m + q) pi/2 + r for x >= 2^16: 24 bits of x times the 96 bits of 2/pi that matter.
// The bits of r, and q above them. Out of line: it is as good as never called.
static __device__ __noinline__ tc_u64 TC_N(trig_big)(float x) {
    static const __device__ unsigned two_over_pi[8] = {0,           0xa2f9836eu, 0x4e441529u, 0xfc2757d1u,
                                                       0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu};
    if (!(x < __int_as_float(0x7f800000))) return 0x7fffffff; // infinity: not a number
    const unsigned b = __float_as_uint(x), bit = ((b >> 23) & 255) - 120, word = bit / 32, shift = bit % 32;
    const tc_u64 m = (b & 0x7fffffu) | 0x800000u;
    unsigned w[3];
    #pragma unroll
    for (int i = 0; i < 3; i++) {
        const tc_u64 two = (tc_u64)two_over_pi[word + i] << 32 | two_over_pi[word + i + 1];
        w[i] = (unsigned)((two << shift) >> 32);
    }
    const tc_u64 p = ((m * w[0]) << 32) + m * w[1] + ((m * w[2]) >> 32);
    const tc_u64 q = (p + 0x2000000000000000ull) >> 62;
    const double d = (double)(tc_i64)(p - (q << 62)) * 3.4061215800865545e-19;
    return q << 32 | __float_as_uint((float)d);
}

// fn: trig_reduce
// |x| = (4 m + q) pi/2 + r with |r| <= pi/4; the low two bits of the result are q.
TC_FN int TC_N(trig_reduce)(float x, float &r) {
    const float a = fabsf(x), t = fmaf(a, 0.636619747f, 12582912.0f), n = t - 12582912.0f;
    r = fmaf(n, -1.57079637f, a);
    r = fmaf(n, 4.37113883e-08f, r);
    r = fmaf(n, 1.71512451e-15f, r);
    if (a > 1e5f) {
        const tc_u64 big = TC_N(trig_big)(a);
        r = __uint_as_float((unsigned)big);
        return (int)(big >> 32);
    }
    return __float_as_int(t);
}

// fn: sin_poly_f32
// sin(r) for |r| <= pi/4
TC_FN float TC_N(sin_poly_f32)(float r) {
    const float z = r * r;
    float p = fmaf(2.83250984e-06f, z, -0.000198530644f);
    p = fmaf(p, z, 0.0083333794f);
    p = fmaf(p, z, -0.166666672f);
    return fmaf(r * z, p, r);
}

// fn: cos_poly_f32
// cos(r) for |r| <= pi/4
TC_FN float TC_N(cos_poly_f32)(float r) {
    const float z = r * r;
    float p = fmaf(2.44323219e-05f, z, -0.00138873095f);
    p = fmaf(p, z, 0.0416666456f);
    return fmaf(z * z, p, fmaf(z, -0.5f, 1.0f));
}

// fn: sin_far
// The sign of x, turned in every other half turn. Out of line, for large x.
static __device__ __noinline__ float TC_N(sin_far)(float x) {
    float r;
    const int q = TC_N(trig_reduce)(x, r);
    const float y = q & 1 ? TC_N(cos_poly_f32)(r) : TC_N(sin_poly_f32)(r);
    return __int_as_float(__float_as_int(y) ^ ((q << 30 ^ __float_as_int(x)) & (int)0x80000000));
}

// fn: cos_far
static __device__ __noinline__ float TC_N(cos_far)(float x) {
    float r;
    const int q = TC_N(trig_reduce)(x, r);
    const float y = q & 1 ? TC_N(sin_poly_f32)(r) : TC_N(cos_poly_f32)(r);
    return __int_as_float(__float_as_int(y) ^ (((q + 1) << 30) & (int)0x80000000));
}

// fn: turn_f32
// sin(x - n pi), turned where q is odd; the difference is at most pi/2.
TC_FN float TC_N(turn_f32)(float x, float n, int q) {
    const float r = fmaf(n, 3.43024902e-15f, fmaf(n, 8.74227766e-08f, fmaf(n, -3.14159274f, x)));
    const float z = r * r;
    float p = fmaf(-2.55029100e-08f, z, 2.76270566e-06f);
    p = fmaf(p, z, -0.000198430935f);
    p = fmaf(p, z, 0.00833335053f);
    p = fmaf(p, z, -0.166666672f);
    return __int_as_float(__float_as_int(fmaf(r * z, p, r)) ^ (q << 31));
}

// fn: sin_f32
// n is x / pi, rounded: as the last bits of a large number, and back.
TC_FN float TC_N(sin_f32)(float x) {
    const float t = fmaf(x, 0.318309873f, 12582912.0f);
    const float y = TC_N(turn_f32)(x, t - 12582912.0f, __float_as_int(t));
    return fabsf(x) <= 1e5f ? y : TC_N(sin_far)(x);
}

// fn: cos_f32
// cos(x) = -sin(x - pi/2), with the shift in the multiple of pi.
TC_FN float TC_N(cos_f32)(float x) {
    const float t = fmaf(x, 0.318309873f, -0.5f) + 12582912.0f;
    const float y = TC_N(turn_f32)(x, t - 12582912.0f + 0.5f, __float_as_int(t) + 1);
    return fabsf(x) <= 1e5f ? y : TC_N(cos_far)(x);
}

// fn: tan_f32
TC_FN float TC_N(tan_f32)(float x) {
    float r;
    const int q = TC_N(trig_reduce)(x, r);
    const float s = TC_N(sin_poly_f32)(r), c = TC_N(cos_poly_f32)(r);
    return copysignf(1.0f, x) * (q & 1 ? -c / s : s / c);
}
