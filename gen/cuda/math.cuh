// Math whose text is not the same for float and double.

// fn: larger_f32
// NaN wins; one instruction.
TC_FN float TC_N(larger_f32)(float x, float y) {
    float z;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(z) : "f"(x), "f"(y));
    return z;
}

// fn: larger_f64
TC_FN double TC_N(larger_f64)(double x, double y) { return x != x ? x : x > y ? x : y; }

// fn: larger_i32
TC_FN int TC_N(larger_i32)(int x, int y) { return x > y ? x : y; }

// fn: larger_i64
TC_FN tc_i64 TC_N(larger_i64)(tc_i64 x, tc_i64 y) { return x > y ? x : y; }

// fn: smaller_f32
// NaN wins; one instruction.
TC_FN float TC_N(smaller_f32)(float x, float y) {
    float z;
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(z) : "f"(x), "f"(y));
    return z;
}

// fn: smaller_f64
TC_FN double TC_N(smaller_f64)(double x, double y) { return x != x ? x : x < y ? x : y; }

// fn: smaller_i32
TC_FN int TC_N(smaller_i32)(int x, int y) { return x < y ? x : y; }

// fn: smaller_i64
TC_FN tc_i64 TC_N(smaller_i64)(tc_i64 x, tc_i64 y) { return x < y ? x : y; }

// fn: gelu_of
// x Phi(x), given erfc(z) for the rounded z = -x / sqrt 2: where that falls fast, what z lost counts.
template <class T> TC_FN T TC_N(gelu_of)(T x, T y) {
    const T c = (T)-0.70710678118654752, z = x * c;
    const T lost = fma(x, c, -z) + x * (T)(-0.70710678118654752 - (double)c);
    return x * (T)0.5 * (z > (T)1 && y != (T)0 ? fma(y, (T)-2 * z * lost, y) : y);
}

// fn: rcp_flush
// 1 / x within 1 ulp; numbers below 2^-126 are 0, here and in tc_ex2: what they are for is at most 1.
TC_FN float TC_N(rcp_flush)(float x) {
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

// fn: ex2
// 2 ** x within 2 ulp.
TC_FN float TC_N(ex2)(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

// fn: lg2
// log2(x), absolute error 2^-22 where the result is near 0.
TC_FN float TC_N(lg2)(float x) {
    float y;
    asm("lg2.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

// fn: exp_shifted
// e^x for x <= 0: 2^t, times e to what t lost of x. Below 2^-126 it is 0.
TC_FN float TC_N(exp_shifted)(float x) {
    const float y = TC_N(larger_f32)(x, -104.0f), t = y * 1.44269502f, e = TC_N(ex2)(t);
    return fmaf(e, fmaf(t, 1.90465421e-09f, fmaf(t, -0.693147182f, y)), e);
}

// fn: log_of
// log(2^n m) = n log 2 + f + f^2 q(f), 2/3 <= m = 1 + f < 4/3: for all but special values within 2 ulp.
TC_FN float TC_N(log_of)(float x) {
    const int b = __float_as_int(x), n = (b - 0x3f2aaaab) & (int)0xff800000;
    const float f = __int_as_float(b - n) - 1.0f;
    float q = 0.138212666f;
    q = fmaf(q, f, -0.151228189f);
    q = fmaf(q, f, 0.140420899f);
    q = fmaf(q, f, -0.164722338f);
    q = fmaf(q, f, 0.200079337f);
    q = fmaf(q, f, -0.250042409f);
    q = fmaf(q, f, 0.333332658f);
    q = fmaf(q, f, -0.5f);
    return fmaf((float)n, 8.26295832e-08f, fmaf(q, f * f, f));
}

// fn: log_special
// Of 0, negative numbers, infinity, NaN and numbers below 2^-126. Out of line: it is rarely called.
static __device__ __noinline__ float TC_N(log_special)(float x) {
    return TC_N(lg2)(x) * 0.693147182f;
}

// fn: log_f32
TC_FN float TC_N(log_f32)(float x) {
    const float y = TC_N(log_of)(x);
    return (unsigned)__float_as_int(x) - 0x00800000u < 0x7f000000u ? y : TC_N(log_special)(x);
}

// fn: log_normal
// Of what is not below 2^-126.
TC_FN float TC_N(log_normal)(float x) {
    const float y = TC_N(log_of)(x);
    return __float_as_int(x) < 0x7f800000 ? y : x;
}

// fn: sigmoid_f32
// 1 / (1 + e^-x): 2 ulp of the exponential, 1 of the sum and the reciprocal.
TC_FN float TC_N(sigmoid_f32)(float x) {
    const float y = TC_N(smaller_f32)(TC_N(larger_f32)(-x, -104.0f), 88.7f), t = y * 1.44269502f;
    const float e = TC_N(ex2)(t);
    return TC_N(rcp_flush)(1.0f + fmaf(e, fmaf(t, 1.90465421e-09f, fmaf(t, -0.693147182f, y)), e));
}

// fn: tanh_added
// Within 2^-22, for what is added to a number of about 1.
TC_FN float TC_N(tanh_added)(float x) {
    return fmaf(-2.0f, TC_N(rcp_flush)(TC_N(ex2)(x * 2.88539004f) + 1.0f), 1.0f);
}

// fn: tanh_f32
// 1 - 2 / (e^2|x| + 1), and a polynomial where that cancels: both within 2 ulp. What e^2|x| lacks
// grows with x, and counts less.
TC_FN float TC_N(tanh_f32)(float x) {
    const float a = fabsf(x), s = x * x;
    const float big = fmaf(-2.0f, TC_N(rcp_flush)(TC_N(ex2)(a * 2.88539004f) + 1.0f), 1.0f);
    float p = fmaf(-0.00589514058f, s, 0.0207959563f);
    p = fmaf(p, s, -0.0537838265f);
    p = fmaf(p, s, 0.133319244f);
    p = fmaf(p, s, -0.333332986f);
    return a < 0.6f ? fmaf(p * s, x, x) : copysignf(big, x);
}

// fn: silu_f32
// e^-|x| does not overflow: x e^x is not lost where 1 + e^-x would be too large.
TC_FN float TC_N(silu_f32)(float x) {
    const float e = expf(-fabsf(x)), y = x * TC_N(rcp_flush)(1.0f + e);
    return x < 0 ? y * e : y;
}

// fn: gelu_tanh_f32
// x (1 + tanh(u / 2)) / 2 = x / (1 + e^-u), as silu: nothing cancels for negative x, and e^-u is not lost
// where x e^u is not.
TC_FN float TC_N(gelu_tanh_f32)(float x) {
    const float u = x * fmaf(0.0713548163f, x * x, 1.59576912f), e = expf(-fabsf(u));
    const float y = x * TC_N(rcp_flush)(1.0f + e);
    return u < 0 ? y * e : y;
}

// fn: power
// Wraps. A negative exponent gives 1 for 1, +-1 for -1, else 0.
template <class T, class U> TC_FN T TC_N(power)(T a, T n) {
    if (n < 0) return a == 1 ? 1 : a == -1 ? (n & 1 ? -1 : 1) : 0;
    U y = 1, base = (U)a;
    #pragma unroll 1
    for (U e = (U)n; e; e >>= 1) {
        if (e & 1) y *= base;
        base *= base;
    }
    return (T)y;
}

// fn: floor_quotient
// x / 0 = 0, and the least number by -1 is itself.
template <class T, class U> TC_FN T TC_N(floor_quotient)(T x, T y) {
    if (y == 0) return 0;
    if (y == -1) return (T)((U)0 - (U)x);
    const T q = x / y, m = x % y;
    return m != 0 && (m < 0) != (y < 0) ? q - 1 : q;
}
