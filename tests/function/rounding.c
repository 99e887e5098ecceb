// The host may round as it likes, and flush subnormals to zero: scalars and results are the same.
#include "tcompile.h"

#include "harness.h"

#include <fenv.h>

// What a scalar of the program's text is in memory of a dtype, by hand.
typedef struct fact {
    double scalar;
    uint32_t f32;
    uint16_t f16, bf16;
} fact;

static const fact facts[] = {
    {0.1, 0x3dcccccd, 0x2e66, 0x3dcd},
    {-0.1, 0xbdcccccd, 0xae66, 0xbdcd},
    {1.0 / 3, 0x3eaaaaab, 0x3555, 0x3eab},
    {-1.0 / 3, 0xbeaaaaab, 0xb555, 0xbeab},
    {16777217.0, 0x4b800000, 0x7c00, 0x4b80},
    {1.000000059604645, 0x3f800001, 0x3c00, 0x3f80},
    {1e-45, 0x00000001, 0x0000, 0x0000},
    {7.0e-46, 0x00000000, 0x0000, 0x0000},
    {3.4028235677973366e38, 0x7f800000, 0x7c00, 0x7f80},
};

static void check_facts(tc_ctx *tc, const char *mode) {
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        const fact *f = &facts[i];
        uint32_t word = 1;
        uint16_t half = 1, brain = 1, summed = 1;
        tc_read(tc_full(tc, TC_DIMS(1), f->scalar, TC_F32), &word, sizeof word);
        tc_read(tc_full(tc, TC_DIMS(1), f->scalar, TC_F16), &half, sizeof half);
        tc_read(tc_full(tc, TC_DIMS(1), f->scalar, TC_BF16), &brain, sizeof brain);
        if (word != f->f32 || half != f->f16 || brain != f->bf16)
            FAIL("%s: %a is %08x %04x %04x", mode, f->scalar, word, half, brain);
        tc_trace_begin_at(tc, "scalar", NULL, "rounding.c", 1 + (int)i);
        tc_tensor zero = tc_full(tc, TC_DIMS(1), -0.0, TC_F32);
        tc_tensor sum = tc_add_s(zero, f->scalar);
        tc_tensor cast = tc_cast(sum, TC_BF16);
        CHECK_EQ(tc_trace_end(tc), TC_OK);
        CHECK_EQ(tc_read(sum, &word, sizeof word), TC_OK);
        CHECK_EQ(tc_read(cast, &summed, sizeof summed), TC_OK);
        if (word != f->f32) FAIL("%s: 0 + %a is %08x", mode, f->scalar, word);
        CHECK_EQ(summed, f->bf16);
    }
}

static void check_mode(int mode, const char *name) {
    tc_config config = tc_config_default();
    config.backend = "aot_eager", config.no_disk_cache = 1;
    CHECK_EQ(fesetround(mode), 0);
    tc_ctx *tc = tc_open(&config);
    if (CHECK(tc)) check_facts(tc, name);
    CHECK_EQ(fegetround(), mode);
    CHECK_EQ(fesetround(FE_TONEAREST), 0);
    tc_close(tc);
}

TEST(to_nearest) { check_mode(FE_TONEAREST, "to nearest"); }
TEST(upward) { check_mode(FE_UPWARD, "upward"); }
TEST(downward) { check_mode(FE_DOWNWARD, "downward"); }
TEST(toward_zero) { check_mode(FE_TOWARDZERO, "toward zero"); }

// ---- subnormals ----

enum {
    FLUSHES = 0x8000,
    ZEROS = 0x40
}; // of x86's MXCSR: results, operands; -ffast-math has gcc's linker set both

static void control(unsigned set) {
#if defined(__SSE__) && defined(__GNUC__)
    __builtin_ia32_ldmxcsr((__builtin_ia32_stmxcsr() & ~(unsigned)(FLUSHES | ZEROS)) | set);
#else
    (void)set;
#endif
}

static uint64_t word_of(tc_tensor t) {
    uint64_t word = 0;
    CHECK_EQ(tc_read(t, &word, tc_dtype_bytes(tc_dtype_of(t))), TC_OK);
    return word;
}

static void check_small(tc_ctx *tc, float *one) {
    const double small = 1e-40, tiny = 5e-310, half = 0x1p-133;
    tc_tensor unit = tc_ones(tc, TC_DIMS(1), TC_F32),
              yes = tc_ones(tc, TC_DIMS(1), TC_BOOL);
    tc_tensor x = tc_wrap(tc, one, TC_DIMS(1), TC_F32);
    tc_tensor t[8] = {tc_full(tc, TC_DIMS(1), small, TC_F32), tc_scalar(tc, small, TC_F32),
                      tc_mul_s(unit, small), tc_masked_fill(unit, yes, small)};
    tc_trace_begin(tc, "small");
    t[4] = tc_keep(tc_full(tc, TC_DIMS(1), small, TC_F32)),
    t[5] = tc_keep(tc_mul_s(unit, small));
    t[6] = tc_keep(tc_pad(unit, TC_DIMS(1), TC_DIMS(-1), small)),
    t[7] = tc_keep(tc_add_s(tc_neg(tc_zeros_like(unit)), small));
    tc_tensor wide = tc_keep(tc_full(tc, TC_DIMS(1), tiny, TC_F64)),
              brain = tc_keep(tc_full(tc, TC_DIMS(1), half, TC_BF16));
    tc_tensor less = tc_keep(tc_lt_s(x, 2 * small));
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    for (int i = 0; i < 8; i++)
        if (word_of(t[i]) != 0x000116c2) FAIL("row %d: %08x", i, (unsigned)word_of(t[i]));
    CHECK_EQ(word_of(wide), word_of(tc_full(tc, TC_DIMS(1), tiny, TC_F64)));
    CHECK_EQ(word_of(brain), 1);
    CHECK_EQ(word_of(tc_full(tc, TC_DIMS(1), half, TC_BF16)), 1);
    CHECK(word_of(less) == 1 && word_of(tc_lt_s(x, 2 * small)) == 1);
    double item = tc_item(x), got = tc_get(x, TC_DIMS(0));
    control(0);
    CHECK_EQ(word_of(wide), 0x00005c0ab9347ed7);
    CHECK(item == (double)*one && got == (double)*one);
}

static void check_flush(const char *backend, unsigned set) {
    float one = 1e-40f;
    tc_config config = tc_config_default();
    config.backend = backend, config.no_disk_cache = 1;
    control(set);
    tc_ctx *tc = tc_open(&config);
    if (CHECK(tc)) check_small(tc, &one);
    control(0);
    tc_close(tc);
}

TEST(subnormals_as_they_are) { check_flush("aot_eager", 0), check_flush("cpu", 0); }
TEST(subnormal_results_flushed) {
    check_flush("aot_eager", FLUSHES), check_flush("cpu", FLUSHES);
}
TEST(subnormal_operands_as_zero) {
    check_flush("aot_eager", ZEROS), check_flush("cpu", ZEROS);
}
TEST(subnormals_of_fast_math) {
    check_flush("aot_eager", FLUSHES | ZEROS), check_flush("cpu", FLUSHES | ZEROS);
}

// What is filled with -0.0 is that, eagerly as in regions.
TEST(negative_zero) {
    tc_ctx *tc = tc_open(NULL);
    tc_tensor x = tc_ones(tc, TC_DIMS(1), TC_F32);
    CHECK_EQ(word_of(tc_full(tc, TC_DIMS(1), -0.0, TC_F32)), 0x80000000);
    CHECK_EQ(word_of(tc_full(tc, TC_DIMS(1), -0.0, TC_BF16)), 0x8000);
    CHECK_EQ(word_of(tc_full(tc, TC_DIMS(1), -0.0, TC_I32)), 0);
    CHECK_EQ(word_of(tc_full_like(x, -0.0)), 0x80000000);
    tc_trace_begin(tc, "negative");
    tc_tensor y = tc_keep(tc_full_like(x, -0.0));
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    CHECK_EQ(word_of(y), 0x80000000);
    tc_close(tc);
}
