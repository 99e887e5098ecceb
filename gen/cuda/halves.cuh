// Halves and f8: f32 in registers.

// fn: of_f16
TC_FN float TC_N(of_f16)(tc_u16 b) {
    float f;
    asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(b));
    return f;
}

// fn: bits_f16
TC_FN tc_u16 TC_N(bits_f16)(float f) {
    tc_u16 b;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(b) : "f"(f));
    return b;
}

// fn: of_bf16
TC_FN float TC_N(of_bf16)(tc_u16 b) { return __uint_as_float((unsigned)b << 16); }

// fn: add_f16
// Adds the halves of a word, the first in its low part.
TC_FN void TC_N(add_f16)(float &a, float &b, unsigned w) { a += TC_N(of_f16)((tc_u16)w), b += TC_N(of_f16)((tc_u16)(w >> 16)); }

// fn: add_bf16
TC_FN void TC_N(add_bf16)(float &a, float &b, unsigned w) { a += __uint_as_float(w << 16), b += __uint_as_float(w & 0xffff0000u); }

// fn: pack_f16
// Two halves in a word, the first in its low part.
TC_FN unsigned TC_N(pack_f16)(float a, float b) {
    unsigned w;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(w) : "f"(b), "f"(a));
    return w;
}

// fn: pack_bf16
TC_FN unsigned TC_N(pack_bf16)(float a, float b) {
    unsigned w;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(w) : "f"(b), "f"(a));
    return w;
}

// fn: bits_bf16
// By the instruction for pairs, which many more lanes have at once than that for one.
TC_FN tc_u16 TC_N(bits_bf16)(float f) { return (tc_u16)TC_N(pack_bf16)(f, 0.0f); }

// fn: halves_f16
// A vector rounded to 16 bits, two elements at a time.
template <int V> TC_FN tc_pack<tc_u16, V> TC_N(halves_f16)(const tc_pack<float, V> &x) {
    TC_N(words)<tc_pack<tc_u16, V>> u;
    for (int l = 0; l < V / 2; l++) u.w[l] = TC_N(pack_f16)(x.at[2 * l], x.at[2 * l + 1]);
    return u.v;
}

// fn: halves_bf16
template <int V> TC_FN tc_pack<tc_u16, V> TC_N(halves_bf16)(const tc_pack<float, V> &x) {
    TC_N(words)<tc_pack<tc_u16, V>> u;
    for (int l = 0; l < V / 2; l++) u.w[l] = TC_N(pack_bf16)(x.at[2 * l], x.at[2 * l + 1]);
    return u.v;
}

// fn: cast_f32_f16
TC_FN float TC_N(cast_f32_f16)(float x) { return TC_N(of_f16)(TC_N(bits_f16)(x)); }

// fn: cast_f64_f16
TC_FN float TC_N(cast_f64_f16)(double x) { return TC_N(of_f16)(TC_N(bits_f16)((float)x)); }

// fn: cast_i32_f16
TC_FN float TC_N(cast_i32_f16)(int x) { return TC_N(of_f16)(TC_N(bits_f16)((float)x)); }

// fn: cast_i64_f16
TC_FN float TC_N(cast_i64_f16)(tc_i64 x) { return TC_N(of_f16)(TC_N(bits_f16)((float)x)); }

// fn: cast_f32_bf16
TC_FN float TC_N(cast_f32_bf16)(float x) { return __uint_as_float(TC_N(pack_bf16)(0.0f, x)); }

// fn: cast_f64_bf16
TC_FN float TC_N(cast_f64_bf16)(double x) { return TC_N(cast_f32_bf16)((float)x); }

// fn: cast_i32_bf16
TC_FN float TC_N(cast_i32_bf16)(int x) { return TC_N(cast_f32_bf16)((float)x); }

// fn: cast_i64_bf16
TC_FN float TC_N(cast_i64_bf16)(tc_i64 x) { return TC_N(cast_f32_bf16)((float)x); }

// fn: bits_small
// |x| rounded to the nearest with 23 - DROP bits of significand behind the first; exponents differ by BIAS, in place. Subnormals
// are counted in the last place of `unit`.
template <int DROP, unsigned BIAS> TC_FN unsigned TC_N(bits_small)(float x, float unit) {
    const unsigned a = __float_as_uint(x) & 0x7fffffffu, odd = a >> DROP & 1u;
    const unsigned few = __float_as_uint(__uint_as_float(a) + unit) - __float_as_uint(unit);
    return a < BIAS + 0x800000u ? few : (a - BIAS + ((1u << (DROP - 1)) - 1) + odd) >> DROP;
}

// fn: near_f8e4m3
// What is beyond the largest number becomes that.
TC_FN tc_u8 TC_N(near_f8e4m3)(float x) {
    const unsigned y = TC_N(bits_small)<20, 0x3c000000u>(x, 16384.0f);
    return (tc_u8)((__float_as_uint(x) >> 24 & 0x80u) | (x != x ? 0x7fu : y < 0x7eu ? y : 0x7eu));
}

// fn: near_f8e5m2
TC_FN tc_u8 TC_N(near_f8e5m2)(float x) {
    const unsigned y = TC_N(bits_small)<21, 0x38000000u>(x, 128.0f);
    return (tc_u8)((__float_as_uint(x) >> 24 & 0x80u) | (x != x ? 0x7fu : y < 0x7cu ? y : 0x7cu));
}

// fn: cvt_f8e4m3
// By the instruction for pairs, from sm_89 on: the first in the low byte.
TC_FN tc_u16 TC_N(cvt_f8e4m3)(float a, float b) {
    tc_u16 w;
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(w) : "f"(b), "f"(a));
    return w;
}

// fn: cvt_f8e5m2
// What is beyond the largest number becomes that.
TC_FN tc_u16 TC_N(cvt_f8e5m2)(float a, float b) {
    tc_u16 w;
    asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(w) : "f"(b), "f"(a));
    return w;
}

// fn: wide_f8e4m3
// Two of them as halves.
TC_FN unsigned TC_N(wide_f8e4m3)(tc_u16 two) {
    unsigned w;
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(w) : "h"(two));
    return w;
}

// fn: pack_f8e4m3
TC_FN tc_u16 TC_N(pack_f8e4m3)(float a, float b) {
#if __CUDA_ARCH__ >= 890
    return TC_N(cvt_f8e4m3)(a, b);
#else
    return (tc_u16)(TC_N(near_f8e4m3)(a) | TC_N(near_f8e4m3)(b) << 8);
#endif
}

// fn: pack_f8e5m2
TC_FN tc_u16 TC_N(pack_f8e5m2)(float a, float b) {
#if __CUDA_ARCH__ >= 890
    const unsigned w = TC_N(cvt_f8e5m2)(a, b), low = fabsf(a) >= 61440.0f, high = fabsf(b) >= 61440.0f;
    return (tc_u16)(w + low + (high << 8)); // 57344 is below infinity
#else
    return (tc_u16)(TC_N(near_f8e5m2)(a) | TC_N(near_f8e5m2)(b) << 8);
#endif
}

// fn: of_f8e4m3
TC_FN float TC_N(of_f8e4m3)(tc_u8 b) {
#if __CUDA_ARCH__ >= 890
    return TC_N(of_f16)((tc_u16)TC_N(wide_f8e4m3)(b));
#else
    const float x = TC_N(of_f16)((tc_u16)((b & 0x80) << 8 | (b & 0x7f) << 7)) * 256.0f;
    return (b & 0x7f) == 0x7f ? __uint_as_float(0x7fffffffu) : x;
#endif
}

// fn: of_f8e5m2
// The upper half of an f16.
TC_FN float TC_N(of_f8e5m2)(tc_u8 b) { return TC_N(of_f16)((tc_u16)(b << 8)); }

// fn: bits_f8e4m3
TC_FN tc_u8 TC_N(bits_f8e4m3)(float x) { return (tc_u8)TC_N(pack_f8e4m3)(x, 0.0f); }

// fn: bytes_f8e4m3
// A vector rounded to bytes, four elements to a word.
template <int V> TC_FN tc_pack<tc_u8, V> TC_N(bytes_f8e4m3)(const tc_pack<float, V> &x) {
    TC_N(words)<tc_pack<tc_u8, V>> u;
    if constexpr (V % 4) {
        for (int l = 0; l < V; l++) u.v.at[l] = TC_N(bits_f8e4m3)(x.at[l]);
    } else {
        for (int l = 0; l < V; l += 4)
            u.w[l / 4] = TC_N(pack_f8e4m3)(x.at[l], x.at[l + 1]) | (unsigned)TC_N(pack_f8e4m3)(x.at[l + 2], x.at[l + 3]) << 16;
    }
    return u.v;
}

// fn: bits_f8e5m2
TC_FN tc_u8 TC_N(bits_f8e5m2)(float x) { return (tc_u8)TC_N(pack_f8e5m2)(x, 0.0f); }

// fn: bytes_f8e5m2
// A vector rounded to bytes, four elements to a word.
template <int V> TC_FN tc_pack<tc_u8, V> TC_N(bytes_f8e5m2)(const tc_pack<float, V> &x) {
    TC_N(words)<tc_pack<tc_u8, V>> u;
    if constexpr (V % 4) {
        for (int l = 0; l < V; l++) u.v.at[l] = TC_N(bits_f8e5m2)(x.at[l]);
    } else {
        for (int l = 0; l < V; l += 4)
            u.w[l / 4] = TC_N(pack_f8e5m2)(x.at[l], x.at[l + 1]) | (unsigned)TC_N(pack_f8e5m2)(x.at[l + 2], x.at[l + 3]) << 16;
    }
    return u.v;
}

// fn: cast_f32_f8e4m3
TC_FN float TC_N(cast_f32_f8e4m3)(float x) { return TC_N(of_f8e4m3)(TC_N(bits_f8e4m3)(x)); }

// fn: cast_f64_f8e4m3
TC_FN float TC_N(cast_f64_f8e4m3)(double x) { return TC_N(of_f8e4m3)(TC_N(bits_f8e4m3)((float)x)); }

// fn: cast_i32_f8e4m3
TC_FN float TC_N(cast_i32_f8e4m3)(int x) { return TC_N(of_f8e4m3)(TC_N(bits_f8e4m3)((float)x)); }

// fn: cast_i64_f8e4m3
TC_FN float TC_N(cast_i64_f8e4m3)(tc_i64 x) { return TC_N(of_f8e4m3)(TC_N(bits_f8e4m3)((float)x)); }

// fn: cast_f32_f8e5m2
TC_FN float TC_N(cast_f32_f8e5m2)(float x) { return TC_N(of_f8e5m2)(TC_N(bits_f8e5m2)(x)); }

// fn: cast_f64_f8e5m2
TC_FN float TC_N(cast_f64_f8e5m2)(double x) { return TC_N(of_f8e5m2)(TC_N(bits_f8e5m2)((float)x)); }

// fn: cast_i32_f8e5m2
TC_FN float TC_N(cast_i32_f8e5m2)(int x) { return TC_N(of_f8e5m2)(TC_N(bits_f8e5m2)((float)x)); }

// fn: cast_i64_f8e5m2
TC_FN float TC_N(cast_i64_f8e5m2)(tc_i64 x) { return TC_N(of_f8e5m2)(TC_N(bits_f8e5m2)((float)x)); }
