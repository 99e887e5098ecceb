// Borders on a device: pads, concatenations and stencils, whose insides are done without tests by whole
// vectors, against plain loops. Widths that divide into nothing, insides that are empty or less than a
// vector, all kinds of dtypes, sizes known when it runs; and what the texts must have.
#include "tcompile.h"

#include "tcompile_cuda.h"

#define TEST_NO_MAIN
#include "harness.h"
#include "tools/cuda_device.h"

#include "border.h"

static tc_ctx *open_one(void) {
    tc_config config = tc_config_default();
    tc_ctx *tc = tc_open(&config);
    return open_device(tc) ? tc : NULL;
}

static void close_one(tc_ctx *tc) {
    CHECK_STR(tc_error_text(tc), "");
    tc_close(tc);
    check_device_closed();
}

static void check_dtype(int dtype) {
    static const int64_t widths[] = {128, 67, 136, 33};
    tc_ctx *tc = open_one();
    REQUIRE(tc);
    for (int i = 0; i < (int)(sizeof widths / sizeof *widths); i++) {
        char name[40];
        int64_t border = i == 2 ? 4 : i + 1;
        snprintf(name, sizeof name, "%d", i);
        border_visit(tc, name, DEVICE_NAME, 2 * border + 5, widths[i], dtype, border);
    }
    close_one(tc);
}

TEST(f32) { check_dtype(TC_F32); }
TEST(f64) { check_dtype(TC_F64); }
TEST(bf16) { check_dtype(TC_BF16); }
TEST(u8) { check_dtype(TC_U8); }

TEST(run_time_sizes) {
    static const int64_t w[] = {100, 72, 5, 130, 64};
    tc_ctx *tc = open_one();
    REQUIRE(tc);
    for (int i = 0; i < (int)(sizeof w / sizeof *w); i++)
        border_visit(tc, "symbolic", DEVICE_NAME, 5 + i, w[i], TC_F32, 2);
    close_one(tc);
}

// The vectors inside have no predicate, those of the border all of them.
TEST(texts) {
    tc_ctx *tc = open_one();
    REQUIRE(tc);
    both x = border_image(tc, DEVICE_NAME, 100, 200, TC_F32, 1);
    tc_trace_begin_at(tc, "pad", NULL, "border.c", 1);
    both y = pad_of_inside(x, 1);
    y.t = tc_keep(y.t);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    border_check(&y, "pad", "100 x 200");
    const char *text = strstr(tc_region_source(tc, "pad"), "extern \"C\"");
    REQUIRE(text);
    const char *inside =
        strstr(text, "if (4 * x - 1 >= 0 && 4 * x - 1 < 195 && r - 1 >= 0 && r - 1 < 98)");
    REQUIRE(inside || FAIL("no box in\n%s", text));
    const char *border = strstr(inside, "else"), *test = strstr(inside, "(unsigned)");
    CHECK(border && test && test > border);
    tc_free(y.t);
    border_free();
    close_one(tc);
}
