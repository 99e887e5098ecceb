// Functions for results of 16 bits: accurate to 2^-13 where nothing else is said.

// fn: exp_half
TC_FN float TC_N(exp_half)(float x) { return TC_N(ex2)(x * 1.44269502f); }

// fn: exp2_half
TC_FN float TC_N(exp2_half)(float x) { return TC_N(ex2)(x); }

// fn: log_half
// Near 1 the logarithm of the unit is not accurate.
TC_FN float TC_N(log_half)(float x) {
    const float d = x - 1.0f;
    return fabsf(d) < 0.0078125f ? d * fmaf(d, fmaf(d, 0.333333343f, -0.5f), 1.0f) : TC_N(lg2)(x) * 0.693147182f;
}

// fn: log2_half
TC_FN float TC_N(log2_half)(float x) {
    const float d = x - 1.0f;
    return fabsf(d) < 0.0078125f ? d * fmaf(d, fmaf(d, 0.480898350f, -0.721347511f), 1.44269502f) : TC_N(lg2)(x);
}

// fn: turn_half
// The odd polynomial of sin on [-pi/2, pi/2], error 1e-6; q is odd where the sign turns.
TC_FN float TC_N(turn_half)(float r, int q) {
    const float z = r * r;
    float p = fmaf(-0.000185009f, z, 0.00831199f);
    p = fmaf(p, z, -0.166655f);
    return __int_as_float(__float_as_int(fmaf(r * z, p, r)) ^ (q << 31));
}

// fn: sin_half
TC_FN float TC_N(sin_half)(float x) {
    if (fabsf(x) > 1e5f) return TC_N(sin_far)(x);
    const float t = fmaf(x, 0.318309873f, 12582912.0f), n = t - 12582912.0f;
    return TC_N(turn_half)(fmaf(n, 8.74227766e-08f, fmaf(n, -3.14159274f, x)), __float_as_int(t));
}

// fn: cos_half
// cos(x) = sin(x + pi/2), with the shift in the multiple of pi.
TC_FN float TC_N(cos_half)(float x) {
    if (fabsf(x) > 1e5f) return TC_N(cos_far)(x);
    const float t = fmaf(x, 0.318309873f, 0.5f) + 12582912.0f, n = t - 12582912.0f - 0.5f;
    return TC_N(turn_half)(fmaf(n, 8.74227766e-08f, fmaf(n, -3.14159274f, x)), __float_as_int(t));
}

// fn: tanh_half
// 1 - 2 / (e^2x + 1), and where that cancels the beginning of the series.
TC_FN float TC_N(tanh_half)(float x) {
    const float y = fmaf(-2.0f, TC_N(rcp_flush)(TC_N(ex2)(x * 2.88539004f) + 1.0f), 1.0f);
    return fabsf(x) < 0.0625f ? x * fmaf(x * x, -0.333333343f, 1.0f) : y;
}

// fn: tanh_bf16
// Within 2^-11.
TC_FN float TC_N(tanh_bf16)(float x) {
    float y;
    asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

// fn: quarters_half
// 4 / (1 + e^-x). Of a quarter of the sum, whose reciprocal is never a denormal: the unit alone gives it then.
TC_FN float TC_N(quarters_half)(float x) { return TC_N(rcp_flush)(0.25f + TC_N(ex2)(fmaf(x, -1.44269502f, -2.0f))); }

// fn: sigmoid_half
TC_FN float TC_N(sigmoid_half)(float x) { return 0.25f * TC_N(quarters_half)(x); }

// fn: silu_half
TC_FN float TC_N(silu_half)(float x) { return 0.25f * x * TC_N(quarters_half)(x); }

// fn: gelu_tanh_half
// By the steps of its derivative in ops.def, so that a kernel which has both has one exponential.
TC_FN float TC_N(gelu_tanh_half)(float x) {
    return 0.25f * x * TC_N(quarters_half)(x * (x * x * 0.0713548163f + 1.59576912f));
}

// fn: tail_half
// Phi(-a) of the normal distribution for a >= 0, times 2^24, with 2^-14.9 of it at most: what it is to e^(-a^2 / 2) falls slowly, as
// a polynomial of 1 / (1 + 0.375 a).
TC_FN float TC_N(tail_half)(float a) {
    const float t = TC_N(rcp_flush)(fmaf(0.375f, a, 1.0f)), e = TC_N(ex2)(fmaf(a * a, -0.721347511f, 24.0f));
    float p = fmaf(-0.0906434163f, t, 0.200283006f);
    p = fmaf(p, t, 0.0835630223f);
    p = fmaf(p, t, 0.157734305f);
    p = fmaf(p, t, 0.14906099f);
    return e * (p * t);
}

// fn: gelu_half
// x Phi(x), of whose two tails the shorter one is known: so nothing cancels.
TC_FN float TC_N(gelu_half)(float x) {
    const float c = TC_N(tail_half)(fabsf(x)) * 0x1p-24f;
    return x * (x < 0 ? c : 1.0f - c);
}

// fn: erf_half
// 1 - 2 Phi(-sqrt(2) |x|), and where that cancels the beginning of the series. What is left to 1 is as accurate.
TC_FN float TC_N(erf_half)(float x) {
    const float z = x * x, near = fmaf(z, fmaf(z, 0.112837918f, -0.376126389f), 1.12837917f);
    const float far = fmaf(TC_N(tail_half)(fabsf(x) * 1.41421354f), -0x1p-23f, 1.0f);
    return fabsf(x) < 0.34375f ? x * near : copysignf(far, x);
}

// fn: div_half
TC_FN float TC_N(div_half)(float a, float b) {
    float y;
    asm("div.full.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
    return y;
}

// fn: rcp_half
TC_FN float TC_N(rcp_half)(float x) {
    float y;
    asm("rcp.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

// fn: sqrt_half
TC_FN float TC_N(sqrt_half)(float x) {
    float y;
    asm("sqrt.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

// fn: rsqrt_half
TC_FN float TC_N(rsqrt_half)(float x) {
    float y;
    asm("rsqrt.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
