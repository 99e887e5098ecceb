// f16 and bf16 by their definition, in double: what tests compare conversions with.
#ifndef HALVES_H
#define HALVES_H

#include <math.h>
#include <stdint.h>
#include <string.h>

// Bits of the significand behind the point, and the exponent of the least normal number.
typedef struct half_format {
    int digits, lowest;
} half_format;

static const half_format half_f16 = {10, -14}, half_bf16 = {7, -126};

static double half_power(int n) { return ldexp(1, n); }

static uint16_t half_infinity(half_format f) {
    return (uint16_t)(0x8000 - (1 << f.digits));
}

static int half_is_nan(half_format f, uint16_t h) {
    return (h & 0x7fff) > half_infinity(f);
}

// Equal bits, or both NaN.
static int half_same(half_format f, uint16_t a, uint16_t b) {
    return a == b || (half_is_nan(f, a) && half_is_nan(f, b));
}

// The magnitude of bits h; of infinity's, what would come after the largest number.
static double half_size(half_format f, uint16_t h) {
    int e = (h & 0x7fff) >> f.digits, m = h & ((1 << f.digits) - 1);
    if (!e) return m * half_power(f.lowest - f.digits);
    return (m + half_power(f.digits)) * half_power(f.lowest + e - 1 - f.digits);
}

static double half_value(half_format f, uint16_t h) {
    double x = half_size(f, h);
    if ((h & 0x7fff) == half_infinity(f)) x = (double)INFINITY;
    if (half_is_nan(f, h)) x = (double)NAN;
    return h >> 15 ? -x : x;
}

// The nearest half; of two, the even one. The upper end counts as if exponents went on.
static uint16_t half_nearest(half_format f, double x) {
    double a = x < 0 ? -x : x, rest;
    uint16_t sign = (uint16_t)((x < 0 || (x == 0 && 1 / x < 0)) ? 0x8000 : 0), h;
    int e = f.lowest;
    if (x != x) return (uint16_t)(half_infinity(f) + 1);
    if (a >= half_size(f, half_infinity(f))) return (uint16_t)(sign | half_infinity(f));
    if (a >= half_power(e + 1)) e = ilogb(a);
    a /= half_power(e - f.digits); // in units of the last place: exact
    h = (uint16_t)a, rest = a - h;
    h = (uint16_t)(h + (rest > 0.5 || (rest == 0.5 && h % 2)));
    return (uint16_t)(sign | (h + ((e - f.lowest) << f.digits)));
}

// f32 values where rounding is decided: every half and the middle between it and the next, both with
// their neighbours; then NaNs, the ends of f32 and its subnormals. Writes HALF_CASES values.
enum { HALF_CASES = 0x10000 * 6 + 32 };

static float half_f32_of_bits(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static void half_cases(half_format f, float *to) {
    static const uint32_t ends[16] = {0,          1,          2,          0x7fffff,
                                      0x800000,   0x7f7fffff, 0x7f800000, 0x7f800001,
                                      0x7f80ffff, 0x7fbfffff, 0x7fc00000, 0x7fffffff,
                                      0x7f7f7fff, 0x7f7f8000, 0x7f7f8001, 0x477fefff};
    int n = 0;
    for (uint32_t h = 0; h < 0x10000; h++) {
        uint32_t next = (h & 0x7fff) + 1, sign = (h & 0x8000) << 16;
        int last = (h & 0x7fff) >= half_infinity(f); // it and NaNs have no next
        double x = last ? half_value(f, half_infinity(f)) : half_size(f, (uint16_t)h);
        double y = last ? x : half_size(f, (uint16_t)next);
        float at[2];
        at[0] = (float)x, at[1] = (float)(x / 2 + y / 2); // exact
        for (int k = 0; k < 2; k++) {
            uint32_t bits;
            memcpy(&bits, &at[k], sizeof bits);
            to[n++] = half_f32_of_bits((bits ? bits - 1 : 0) | sign);
            to[n++] = half_f32_of_bits(bits | sign);
            to[n++] = half_f32_of_bits((bits + 1) | sign);
        }
    }
    for (int i = 0; i < 16; i++) {
        to[n++] = half_f32_of_bits(ends[i]);
        to[n++] = half_f32_of_bits(ends[i] | 0x80000000u);
    }
}

#endif
