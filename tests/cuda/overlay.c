// Results in the place of operands, on a device.
#include "tcompile.h"

#include "tcompile_cuda.h"

#define TEST_NO_MAIN
#include "harness.h"
#include "help.h"
#include "tools/cuda_device.h"

static tc_tensor there(tc_tensor t) { return tc_to(t, DEVICE_NAME); }

#include "overlay.h"

TEST(a_result_takes_the_place_of_what_it_is_made_of) {
    tc_ctx *tc = open_backend("cpu");
    if (!open_device(tc)) return;
    check_overlays(tc);
    if (tc_error(tc)) FAIL("error left over: %s", tc_error_text(tc));
    tc_close(tc);
    check_device_closed();
}
