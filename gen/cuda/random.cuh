// Random numbers.

// fn: draw
// Four random words.
struct TC_N(draw) {
    unsigned w[4];
};

// fn: philox
// Philox4x32-10 with the key seed; i and draw are the counter.
TC_FN TC_N(draw) TC_N(philox)(tc_i64 i, tc_u64 draw, tc_u64 seed) {
    unsigned a = (unsigned)i, b = (unsigned)((tc_u64)i >> 32), c = (unsigned)draw, d = (unsigned)(draw >> 32);
    unsigned k0 = (unsigned)seed, k1 = (unsigned)(seed >> 32);
    #pragma unroll
    for (int n = 0; n < 10; n++) {
        const unsigned h0 = __umulhi(a, 0xd2511f53u), h1 = __umulhi(c, 0xcd9e8d57u);
        const unsigned l0 = a * 0xd2511f53u, l1 = c * 0xcd9e8d57u;
        a = h1 ^ b ^ k0;
        b = l1;
        c = h0 ^ d ^ k1;
        d = l0;
        k0 += 0x9e3779b9u;
        k1 += 0xbb67ae85u;
    }
    return {{a, b, c, d}};
}

// fn: drawn philox
// The words of element i + l, of which it takes N: 4 / N elements share what Philox gives. i is a multiple
// of 4; where l is known, what elements share is computed once.
template <int N> TC_FN TC_N(draw) TC_N(drawn)(tc_i64 i, int l, tc_u64 draw, tc_u64 seed) {
    const TC_N(draw) x = TC_N(philox)(i / (4 / N) + l / (4 / N), draw, seed);
    const unsigned *w = x.w;
    if (N == 1) return {{l & 2 ? l & 1 ? w[3] : w[2] : l & 1 ? w[1] : w[0], 0, 0, 0}};
    if (N == 2) return {{l & 1 ? w[2] : w[0], l & 1 ? w[3] : w[1], 0, 0}};
    return x;
}

// fn: uniform_f32
// [0, 1) from one word, 24 bits.
TC_FN float TC_N(uniform_f32)(const TC_N(draw) &x) { return (float)(x.w[0] >> 8) * 5.96046448e-08f; }

// fn: normal_f32
// Box-Muller: sqrt(-2 log u) cos(2 pi v), u in (0, 1], v in [0, 1).
TC_FN float TC_N(normal_f32)(const TC_N(draw) &x) {
    const float u = ((float)(x.w[0] >> 8) + 1.0f) * 5.96046448e-08f;
    const float v = (float)(x.w[1] >> 8) * 2.38418579e-07f, t = v + 12582912.0f;
    const float r = (v - (t - 12582912.0f)) * 1.57079637f;
    const int q = __float_as_int(t);
    const float y = q & 1 ? TC_N(sin_poly_f32)(r) : TC_N(cos_poly_f32)(r);
    return sqrtf(logf(u) * -2.0f) * __int_as_float(__float_as_int(y) ^ (((q + 1) & 2) << 30));
}

// fn: uniform_f64
// [0, 1) from two words, 53 bits.
TC_FN double TC_N(uniform_f64)(const TC_N(draw) &x) {
    return ((double)(x.w[0] >> 5) * 67108864.0 + (double)(x.w[1] >> 6)) * 1.1102230246251565e-16;
}

// fn: normal_f64
TC_FN double TC_N(normal_f64)(const TC_N(draw) &x) {
    const double u = TC_N(uniform_f64)(x) + 1.1102230246251565e-16;
    const double v = ((double)(x.w[2] >> 5) * 67108864.0 + (double)(x.w[3] >> 6)) * 1.1102230246251565e-16;
    return sqrt(log(u) * -2.0) * cospi(2.0 * v);
}
