// One line per op with a digest of its results: equal lines, equal bits, whatever compiled this file and
// ran it. Interpreted, since a kernel is the system compiler's; NaNs count as one.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef tc_tensor (*unary_fn)(tc_tensor, const char *, int);
typedef tc_tensor (*binary_fn)(tc_tensor, tc_tensor, const char *, int);
typedef tc_tensor (*ternary_fn)(tc_tensor, tc_tensor, tc_tensor, const char *, int);

typedef struct row {
    const char *name;
    unary_fn f1;
    binary_fn f2;
    ternary_fn f3;
} row;

#define FN_UNARY(name)    tc_##name##_at, NULL, NULL
#define FN_BINARY(name)   NULL, tc_##name##_at, NULL
#define FN_TERNARY(name)  NULL, NULL, tc_##name##_at
#define FN_CAST(name)     NULL, NULL, NULL
#define FN_LAYOUT(name)   NULL, NULL, NULL
#define FN_SOURCE(name)   NULL, NULL, NULL
#define FN_MOVE(name)     NULL, NULL, NULL
#define FN_JOIN(name)     NULL, NULL, NULL
#define FN_GATHER(name)   NULL, NULL, NULL
#define FN_REDUCE(name)   NULL, NULL, NULL
#define FN_CONTRACT(name) NULL, NULL, NULL
#define FN_KERNEL(name)   NULL, NULL, NULL
#define FN_EFFECT(name)   NULL, NULL, NULL
#define FN_DERIVE(name)   NULL, NULL, NULL
#define FN_LOOP(name)     NULL, NULL, NULL
#define FN_OPAQUE(name)   NULL, NULL, NULL
static const row rows[] = {
#define OP(id, name, kind, dtype, shape, attr, al, cost, expr, cuda, grad, range, doc)     \
    {#name, FN_##kind(name)},
#include "tables/ops.def"
#undef OP
};

enum { N = 384, MOST_BYTES = 1 << 16 };

static tc_ctx *tc;

// The bytes of a result, NaNs made one.
static uint64_t digest(uint64_t h, tc_tensor t) {
    static unsigned char at[MOST_BYTES];
    size_t each = tc_dtype_bytes(tc_dtype_of(t)), n = (size_t)tc_numel(t);
    tc_dtype dtype = tc_dtype_of(t);
    if (!t.id || tc_read(t, at, n * each)) {
        tc_error_clear(tc);
        return h * 31 + 1;
    }
    for (size_t i = 0; i < n; i++) {
        unsigned char *p = at + i * each;
        uint64_t bits = 0, magnitude, infinity;
        for (size_t k = each; k-- > 0;) bits = bits << 8 | p[k];
        magnitude = bits & (((uint64_t)1 << (8 * each - 1)) - 1);
        infinity = dtype == TC_F64      ? (uint64_t)0x7ff << 52
                   : dtype == TC_F32    ? 0x7f800000
                   : dtype == TC_F16    ? 0x7c00
                   : dtype == TC_BF16   ? 0x7f80
                   : dtype == TC_F8E5M2 ? 0x7c
                                        : 0x7e;
        int is_float = dtype == TC_F64 || dtype == TC_F32 || dtype == TC_F16 ||
                       dtype == TC_BF16 || dtype == TC_F8E4M3 || dtype == TC_F8E5M2;
        if (is_float && magnitude > infinity) bits = infinity + 1;
        h = (h ^ bits) * 0x100000001b3u, h ^= h >> 29;
    }
    return h;
}

static void show(const char *name, const char *what, tc_tensor t) {
    printf("%s %s %016llx\n", name, what,
           (unsigned long long)digest(0xcbf29ce484222325u, t));
}

// All kinds of numbers: small, large, subnormal, whole, special.
static tc_tensor numbers(tc_dtype dtype, unsigned seed) {
    static double at[N];
    static const double special[] = {0.0,          -0.0, 1,     -1,   0.5,   2,     1e-310,
                                     1e-42,        3e38, 1e300, 6e-8, 65504, 255.5, -128.5,
                                     2147483648.0, 1e19};
    uint32_t x = seed;
    for (int i = 0; i < N; i++) {
        x = x * 1664525u + 1013904223u;
        double unit = (double)(x >> 8) / 16777216.0 - 0.5;
        at[i] = i % 3 == 0 ? unit * 8 : i % 3 == 1 ? unit * 300 : unit * 1e-3;
        if (i < 16) at[i] = special[(i * 5 + (int)seed) % 16];
        if (i == 16) at[i] = HUGE_VAL;
        if (i == 17) at[i] = -HUGE_VAL;
        if (i == 18) at[i] = HUGE_VAL * 0;
    }
    return tc_cast(tc_from_data(tc, at, TC_DIMS(N), TC_F64), dtype);
}

static void every_row(tc_dtype dtype) {
    tc_tensor a = numbers(dtype, 1), b = numbers(dtype, 2), c = numbers(dtype, 3);
    tc_tensor condition = numbers(TC_BOOL, 4);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const row *r = &rows[i];
        tc_tensor t = a;
        if (r->f1) t = r->f1(a, "digest.c", 1);
        if (r->f2) t = r->f2(a, b, "digest.c", 1);
        if (r->f3) t = r->f3(strcmp(r->name, "where") ? a : condition, b, c, "digest.c", 1);
        if (r->f1 || r->f2 || r->f3) show(r->name, tc_dtype_name(dtype), t);
        tc_error_clear(tc);
    }
}

static void reductions(tc_dtype dtype) {
    const char *name = tc_dtype_name(dtype);
    tc_tensor x = tc_clamp(numbers(dtype, 5), -50, 50), m = tc_reshape(x, TC_DIMS(12, 32));
    tc_error_clear(tc);
    show("sum", name, tc_sum(m, 1));
    show("sum of columns", name, tc_sum(m, 0));
    show("amax", name, tc_amax(m, 1));
    show("mean", name, tc_mean(m, 1));
    show("matmul", name, tc_matmul(m, tc_t(m)));
    show("softmax", name, tc_softmax(m, -1));
    show("cumsum", name, tc_cumsum(m, 1));
    show("scalar", name, tc_mul_s(tc_add_s(m, 0.1), 1.0 / 3));
    for (int to = 0; to < TC_DTYPE_COUNT; to++)
        show("cast", name, tc_cast(x, (tc_dtype)to));
    tc_error_clear(tc);
}

// The same text in a region is fused.
static void region(void) {
    tc_tensor x = tc_reshape(tc_clamp(numbers(TC_F32, 6), -9, 9), TC_DIMS(12, 32));
    tc_trace_begin(tc, "digest");
    tc_tensor p = tc_softmax(x, -1);
    tc_tensor h = tc_neg(tc_sum(tc_mul(p, tc_log(tc_add_s(p, 1e-8))), -1));
    tc_tensor g = tc_gelu(tc_matmul(x, tc_t(tc_tanh(x))));
    g = tc_cast(tc_mul_s(g, 0.7), TC_BF16);
    tc_trace_end(tc);
    show("entropy", "f32", h), show("product", "bf16", g);
}

int main(void) {
    tc_config config = tc_config_default();
    config.backend = "aot_eager", config.threads = 1, config.no_disk_cache = 1;
    tc = tc_open(&config);
    if (!tc) return 1;
    tc_manual_seed(tc, 7);
    for (int dtype = 0; dtype < TC_DTYPE_COUNT; dtype++) {
        every_row((tc_dtype)dtype);
        reductions((tc_dtype)dtype);
    }
    show("rand", "f32", tc_rand(tc, TC_DIMS(999), TC_F32));
    show("randn", "f32", tc_randn(tc, TC_DIMS(999), TC_F32));
    show("randn", "f64", tc_randn(tc, TC_DIMS(999), TC_F64));
    show("randint", "i32", tc_randint(tc, -5, 1000, TC_DIMS(999), TC_I32));
    region();
    tc_close(tc);
    return 0;
}
