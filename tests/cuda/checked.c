// TC_CUDA_CHECK: kernels that look at every access give the results of others; one that goes outside of a
// tensor is told by name, and does no harm. No kernel of ours does that, so a text is falsified on its way
// to the compiler: it is told that a tensor is smaller than it is.
#include "tcompile.h"

#include "tcompile_cuda.h"

#define TEST_NO_MAIN
#include "harness.h"
#include "help.h"
#include "tools/cuda_device.h"

enum { N = 1000 };

static tc_ctx *open_checked(int checked, const char *folder) {
    tc_config config = tc_config_default();
    config.threads = 2, config.no_disk_cache = !folder, config.cache_dir = folder;
    if (checked)
        setenv("TC_CUDA_CHECK", "1", 1);
    else
        unsetenv("TC_CUDA_CHECK");
    tc_ctx *tc = tc_open(&config);
    return open_device(tc) ? tc : NULL;
}

static void close_checked(tc_ctx *tc) {
    if (tc_error(tc)) FAIL("error left over: %s", tc_error_text(tc));
    tc_close(tc);
    check_device_closed();
}

// ---- a text that is wrong ----

static struct {
    tc_status (*build)(void *user, tc_device_text *text, int n);
    const char *from, *to; // of the same length
    int changed;
} falsified;

static tc_status build_falsified(void *user, tc_device_text *text, int n) {
    for (int i = 0; i < n; i++) {
        char *at = strstr((char *)(uintptr_t)text[i].text, falsified.from);
        for (; at; at = strstr(at, falsified.from), falsified.changed++)
            memcpy(at, falsified.to, strlen(falsified.to));
    }
    return falsified.build(user, text, n);
}

static void falsify(tc_ctx *tc, const char *from, const char *to) {
    tc_device *d = (tc_device *)(uintptr_t)tc_registered_device(tc, DEVICE_NAME);
    CHECK_EQ(strlen(from), strlen(to));
    falsified.build = d->build, falsified.from = from, falsified.to = to;
    falsified.changed = 0;
    d->build = build_falsified;
}

static tc_tensor twice(tc_ctx *tc, tc_tensor x) {
    BEGIN("twice");
    tc_tensor y = tc_keep(tc_mul_s(x, 2));
    END();
    return y;
}

static tc_tensor there(tc_ctx *tc, int n) {
    tc_tensor t = line(tc, n, 1, 1), d = tc_to(t, DEVICE_NAME);
    tc_free(t);
    return d;
}

// The values that a device has, though its error is not looked at: it was.
static void take(tc_tensor t, float *to, tc_status expected) {
    CHECK_EQ(tc_read(t, to, N * sizeof *to), expected);
}

TEST(a_read_outside_is_told_and_not_made) {
    float y[N];
    tc_ctx *tc = open_checked(1, NULL);
    REQUIRE(tc);
    falsify(tc, "in0_memory, 0, 1000,", "in0_memory, 0,  990,");
    tc_tensor x = there(tc, N), z = twice(tc, x);
    CHECK_EQ(falsified.changed, 1);
    take(z, y, TC_E_INDEX);
    CHECK(strstr(tc_error_text(tc), "k0_pointwise_mul of program") != NULL);
    CHECK(strstr(tc_error_text(tc), "of x0, \"in0\" in its text, was to be read") != NULL);
    ERROR(TC_E_INDEX, "it has 1000 elements");
    take(z, y, TC_OK); // told once
    for (int i = 0; i < 984; i++) CHECK_EQ(y[i], 2 * (i + 1));
    for (int i = 992; i < N; i++) CHECK_EQ(y[i], 0);
    tc_free(z);
    close_checked(tc);
}

TEST(a_write_outside_is_told_and_not_made) {
    float y[N];
    tc_ctx *tc = open_checked(1, NULL);
    REQUIRE(tc);
    tc_tensor x = there(tc, N), z = twice(tc, x);
    falsify(tc, "out0_memory, 0, 1000,", "out0_memory, 0,  990,");
    // Another text: it adds to what is there already.
    tc_add_(z, tc_mul_s(x, 3));
    CHECK_EQ(falsified.changed > 0, 1);
    if (!tc_error(tc)) tc_sync(tc);
    CHECK(strstr(tc_error_text(tc), "was to be written") != NULL);
    ERROR(TC_E_INDEX, "\"out0\" in its text");
    tc_sync(tc);
    tc_error_clear(tc);
    take(z, y, TC_OK);
    for (int i = 992; i < N; i++) CHECK_EQ(y[i], 2 * (i + 1));
    tc_free(z);
    close_checked(tc);
}

// Together with TC_CUDA_SYNC, and after a launch that is right.
TEST(the_kernel_that_fails_is_named) {
    setenv("TC_CUDA_SYNC", "1", 1);
    tc_ctx *tc = open_checked(1, NULL);
    REQUIRE(tc);
    falsify(tc, "in0_memory, 0, 77,", "in0_memory, 0,  7,");
    tc_tensor x = there(tc, 77), w = there(tc, N);
    BEGIN("two");
    tc_tensor a = tc_keep(tc_exp(w)), b = tc_keep(tc_cumsum(tc_softmax(x, -1), -1));
    END();
    CHECK(falsified.changed > 0);
    CHECK_EQ(tc_sync(tc), TC_E_INDEX);
    ERROR(TC_E_INDEX, "_reduction_");
    CHECK_EQ(tc_sync(tc), TC_OK);
    tc_free(a), tc_free(b);
    close_checked(tc);
    unsetenv("TC_CUDA_SYNC");
}

// What reads and writes in every form, all of it inside.
static double formed(tc_ctx *tc, int there_too) {
    double sum = 0;
    tc_tensor x = line(tc, 6 * 35 * 33, 0, 0.001), y[8], pair[2];
    x = tc_reshape(x, TC_DIMS(6, 35, 33));
    if (there_too) x = tc_to(x, DEVICE_NAME);
    tc_tensor flip = tc_slice(x, 2, -1, TC_END, -1);
    BEGIN("forms");
    y[0] = tc_keep(tc_add(tc_mul_s(x, 2), flip));
    y[1] = tc_keep(tc_softmax(flip, -1));
    y[2] = tc_keep(tc_sum(x, 1));
    y[3] = tc_keep(tc_add_s(tc_permute(x, TC_DIMS(2, 1, 0)), 1));
    y[4] = tc_keep(tc_matmul(x, tc_permute(x, TC_DIMS(0, 2, 1))));
    y[5] = tc_keep(tc_cumsum(x, -1));
    pair[0] = x, pair[1] = tc_neg(flip);
    y[6] = tc_keep(tc_cat(pair, 2, 2));
    y[7] = tc_keep(tc_narrow(x, 2, 1, 30));
    END();
    for (int i = 0; i < 8; i++) {
        tc_tensor all = tc_sum(tc_reshape(y[i], TC_DIMS(-1)), 0);
        sum = sum * 0.5 + tc_item(all);
    }
    return sum;
}

TEST(all_forms_are_inside) {
    tc_ctx *tc = open_checked(1, NULL);
    REQUIRE(tc);
    double here = formed(tc, 0), device = formed(tc, 1);
    CHECK(fabs(here - device) <= 1e-5 * fabs(here) ||
          FAIL("%.9g on the device, %.9g on the host", device, here));
    CHECK_EQ(tc_sync(tc), TC_OK);
    close_checked(tc);
}

// What a ragged tile does not read is not looked at: bf16 [130, 200] times [200, 130].
TEST(ragged_tiles_are_inside) {
    tc_ctx *tc = open_checked(1, NULL);
    REQUIRE(tc);
    tc_tensor a = tc_full(tc, TC_DIMS(130, 200), 0.5, TC_BF16);
    tc_tensor b = tc_full(tc, TC_DIMS(200, 130), 2, TC_BF16);
    a = tc_to(a, DEVICE_NAME), b = tc_to(b, DEVICE_NAME);
    tc_tensor y = tc_cast(tc_matmul(a, b), TC_F32);
    CHECK_EQ(tc_sync(tc), TC_OK);
    for (int i = 0; i < 130 * 130; i += 1009) CHECK_EQ(AT(y, i), 200);
    CHECK_EQ(AT(y, 130 * 130 - 1), 200);
    close_checked(tc);
}

// Both texts are on disk side by side.
TEST(code_of_both_kinds_is_kept) {
    static const int checked[] = {0, 1, 0, 1};
    static const int compiles[] = {1, 1, 0, 0};
    char folder[] = "/tmp/tc-checked-XXXXXX";
    REQUIRE(test_folder_make(folder));
    for (int i = 0; i < 4; i++) {
        tc_ctx *tc = open_checked(checked[i], folder);
        REQUIRE(tc);
        tc_tensor x = there(tc, N), z = twice(tc, x);
        CHECK_EQ(AT(z, 7), 16);
        CHECK_EQ(tc_stats_get(tc).compiles, compiles[i]);
        tc_free(z);
        close_checked(tc);
    }
    test_folder_remove(folder);
}
