// What the fuzzers share: random numbers, numbers of any dtype, what is read of a run.
#ifndef FUZZ_NUMBERS_H
#define FUZZ_NUMBERS_H
#include "tcompile.h"

#include "../halves.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof *(a)))

// ---- random numbers ----
static uint64_t mix(uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}
typedef struct rng {
    uint64_t s;
} rng;
static uint32_t any(rng *g) { return (uint32_t)(mix(g->s++) >> 32); }
static int below(rng *g, int n) { return (int)(any(g) % (uint32_t)n); }
static int chance(rng *g, int percent) { return below(g, 100) < percent; }

// ---- numbers ----
static const char *const dtype_names[TC_DTYPE_COUNT] = {
    "TC_BOOL",   "TC_U8",     "TC_I8",  "TC_I16",  "TC_I32", "TC_I64",
    "TC_F8E4M3", "TC_F8E5M2", "TC_F16", "TC_BF16", "TC_F32", "TC_F64"};

static int is_half(int dtype) { return dtype == TC_F16 || dtype == TC_BF16; }

// The highest category first: bool < integers < floats.
static int category(int dtype) { return dtype >= TC_F8E4M3 ? 2 : dtype != TC_BOOL; }

static int is_byte_float(int dtype) { return dtype == TC_F8E4M3 || dtype == TC_F8E5M2; }

static byte_format byte_of(int dtype) { return dtype == TC_F8E4M3 ? byte_e4m3 : byte_e5m2; }

static half_format format_of(int dtype) { return dtype == TC_F16 ? half_f16 : half_bf16; }

static void store(void *at, int dtype, int64_t i, double x) {
    switch (dtype) {
    case TC_F16:
    case TC_BF16: ((uint16_t *)at)[i] = half_nearest(format_of(dtype), x); break;
    case TC_F8E4M3:
    case TC_F8E5M2: ((uint8_t *)at)[i] = byte_nearest(byte_of(dtype), x); break;
    case TC_I16: ((int16_t *)at)[i] = (int16_t)x; break;
    case TC_I8: ((int8_t *)at)[i] = (int8_t)x; break;
    case TC_F64: ((double *)at)[i] = x; break;
    case TC_F32: ((float *)at)[i] = (float)x; break;
    case TC_I64: ((int64_t *)at)[i] = (int64_t)x; break;
    case TC_I32: ((int32_t *)at)[i] = (int32_t)x; break;
    default: ((uint8_t *)at)[i] = (uint8_t)x; break;
    }
}

// Of elements that lie at any address.
static double fetch(const void *at, int dtype, int64_t i) {
    const unsigned char *p =
        (const unsigned char *)at + i * (int64_t)tc_dtype_bytes((tc_dtype)dtype);
    double d;
    float f;
    int64_t l;
    int32_t n;
    int16_t s;
    uint16_t h;
    switch (dtype) {
    case TC_F16:
    case TC_BF16: return memcpy(&h, p, sizeof h), half_value(format_of(dtype), h);
    case TC_F8E4M3:
    case TC_F8E5M2: return byte_value(byte_of(dtype), *p);
    case TC_I16: return memcpy(&s, p, sizeof s), (double)s;
    case TC_I8: return (double)(*p > 127 ? *p - 256 : *p);
    case TC_F64: return memcpy(&d, p, sizeof d), d;
    case TC_F32: return memcpy(&f, p, sizeof f), (double)f;
    case TC_I64: return memcpy(&l, p, sizeof l), (double)l;
    case TC_I32: return memcpy(&n, p, sizeof n), (double)n;
    default: return (double)*p;
    }
}

static void print_dims(FILE *f, tc_dims d) {
    fprintf(f, d.rank ? "TC_DIMS(" : "TC_SCALAR");
    for (int i = 0; i < d.rank; i++)
        fprintf(f, "%s%lld", i ? ", " : "", (long long)d.size[i]);
    if (d.rank) fprintf(f, ")");
}

// ---- what was read ----
// What a run gave: values read at graph breaks, then those read at its end.
enum { MAX_READS = 400 };
typedef struct reads {
    unsigned char *at;
    size_t count, capacity;
    int n;
    struct {
        int value, dtype;
        size_t offset, bytes;
    } part[MAX_READS];
} reads;

static void reads_add(reads *r, int value, int dtype, const void *p, size_t n) {
    if (r->n == MAX_READS) return;
    if (r->count + n + 1 > r->capacity) {
        r->capacity = 2 * (r->count + n + 1);
        r->at = (unsigned char *)realloc(r->at, r->capacity);
    }
    r->part[r->n].value = value, r->part[r->n].dtype = dtype;
    r->part[r->n].offset = r->count, r->part[r->n++].bytes = n;
    if (n) memcpy(r->at + r->count, p, n);
    r->count += n;
}

static void reads_tensor(reads *r, int value, tc_tensor t) {
    size_t n = tc_numel(t) > 0 ? (size_t)tc_numel(t) * tc_dtype_bytes(tc_dtype_of(t)) : 0;
    unsigned char *p = (unsigned char *)calloc(n + 1, 1);
    if (tc_read_at(t, p, n, "read", value)) memset(p, 0xee, n);
    reads_add(r, value, (int)tc_dtype_of(t), p, n);
    free(p);
}

static int same_element(const unsigned char *a, const unsigned char *b, int dtype,
                        size_t size) {
    if (!memcmp(a, b, size)) return 1;
    double x, y;
    if (category(dtype) < 2) return 0;
    x = fetch(a, dtype, 0), y = fetch(b, dtype, 0);
    return x != x && y != y;
}

#endif
