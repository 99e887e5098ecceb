// The scans, sorts and scatters of tests/ops/rows.c as regions on a CUDA device.
#include "tcompile.h"

#include "tcompile_cuda.h"

#define TEST_NO_MAIN
#include "harness.h"
#include "help.h"
#include "tools/cuda_device.h"

#define ROWS_DEVICE
enum { FIRST_RUN = 2 };

static tc_tensor there(tc_tensor t) { return tc_to(t, DEVICE_NAME); }

static tc_ctx *open_there(const char *backend) {
    tc_config config = tc_config_default();
    config.backend = backend;
    tc_ctx *tc = tc_open(&config);
    if (!open_device(tc)) exit(TEST_FAILED);
    return tc;
}

#include "ops/rows.c"
