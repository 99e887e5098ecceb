// f16, bf16 and the two f8 by their definition, in double: what tests compare conversions with.
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

// 2 to the power of n, a normal number (n from -1022 to 1023): its bits, as ldexp() takes half of the time of tests of halves.
static double half_power(int n) {
    uint64_t bits = (uint64_t)(n + 1023) << 52;
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

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

// ---- 8 bits

// `digits` as above; infinity and NaN are the codes from `special` on, of which the first is infinity where there is one.
typedef struct byte_format {
    int digits, lowest, special, has_infinity;
} byte_format;

static const byte_format byte_e4m3 = {3, -6, 0x7f, 0}, byte_e5m2 = {2, -14, 0x7c, 1};

static int byte_is_nan(byte_format f, uint8_t b) {
    return (b & 0x7f) >= f.special + f.has_infinity;
}

static double byte_value(byte_format f, uint8_t b) {
    int e = (b & 0x7f) >> f.digits, m = b & ((1 << f.digits) - 1);
    double x = !e ? m * half_power(f.lowest - f.digits)
                  : (m + half_power(f.digits)) * half_power(f.lowest + e - 1 - f.digits);
    if (f.has_infinity && (b & 0x7f) == f.special) x = (double)INFINITY;
    if (byte_is_nan(f, b)) x = (double)NAN;
    return b >> 7 ? -x : x;
}

// Of all numbers the nearest one; of two, the even one. Above the largest: without infinity that, else what is
// nearest as if one more number came.
static uint8_t byte_nearest(byte_format f, double x) {
    double a = x < 0 ? -x : x;
    uint8_t sign = (uint8_t)(x < 0 || (x == 0 && 1 / x < 0) ? 0x80 : 0), best = 0;
    double most = byte_value(f, (uint8_t)(f.special - 1));
    double next = most + (most - byte_value(f, (uint8_t)(f.special - 2)));
    if (x != x) return 0x7f;
    if (a > most)
        return (uint8_t)(sign | (f.special - !(f.has_infinity && a >= (most + next) / 2)));
    for (int b = 1; b < f.special; b++) {
        double now = fabs(byte_value(f, (uint8_t)b) - a),
               then = fabs(byte_value(f, best) - a);
        if (now < then || (now == then && b % 2 == 0)) best = (uint8_t)b;
    }
    return (uint8_t)(sign | best);
}

static int byte_same(byte_format f, uint8_t a, uint8_t b) {
    return a == b || (byte_is_nan(f, a) && byte_is_nan(f, b));
}

// f32 where rounding is decided: every number and the middle between it and the next, both with their neighbours; then
// ends, as above. Writes BYTE_CASES values.
enum { BYTE_CASES = 128 * 2 * 6 + 32 };

static void byte_cases(byte_format f, float *to) {
    static const uint32_t ends[16] = {0,          1,          2,          0x7fffff,
                                      0x800000,   0x7f7fffff, 0x7f800000, 0x7f800001,
                                      0x7f80ffff, 0x7fbfffff, 0x7fc00000, 0x7fffffff,
                                      0x477fe000, 0x47800000, 0x43f00000, 0x3f800000};
    int n = 0;
    for (int b = 0; b < 256; b++) {
        int most = f.special - 1, code = (b & 0x7f) < most ? b & 0x7f : most;
        double x = byte_value(f, (uint8_t)code);
        double step = code < most ? byte_value(f, (uint8_t)(code + 1)) - x
                                  : x - byte_value(f, (uint8_t)(code - 1));
        float at[2];
        at[0] = (float)x, at[1] = (float)(x + step / 2); // exact
        for (int k = 0; k < 2; k++) {
            uint32_t bits, sign = (uint32_t)(b & 0x80) << 24;
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
