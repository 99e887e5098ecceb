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
