// Halves: f32 in registers.

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
