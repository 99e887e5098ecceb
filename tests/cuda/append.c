// Parts of a tensor that are written in a region, and read behind that: tests/append.h on a device.
#include "tcompile.h"

#include "tcompile_cuda.h"

#define TEST_NO_MAIN
#include "harness.h"
#include "tools/cuda_device.h"

#include "help.h"

#include "append.h"

static void run_on_device(void (*body)(tc_ctx *tc)) {
    tc_config config = tc_config_default();
    tc_ctx *tc = tc_open(&config);
    REQUIRE(open_device(tc));
    append_device = DEVICE_NAME;
    body(tc);
    if (tc_error(tc)) FAIL("error left over: %s", tc_error_text(tc));
    tc_close(tc);
    check_device_closed();
}

#define RUN(name)                                                                          \
    TEST(name##_there) { run_on_device(name); }

APPEND_TESTS(RUN)
