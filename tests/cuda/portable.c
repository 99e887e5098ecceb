// Code of another device: beside what a device compiled for itself, the disk has PTX, which a newer one loads
// where nothing compiles. On a GPU the other device is the same one under another name.
#include "tcompile.h"

#include "tcompile_cuda.h"

#define TEST_NO_MAIN
#include "harness.h"
#include "help.h"
#include "tools/cuda_device.h"

enum { N = 240 }; // 20 rows and more: results that are small would be outputs as well

static tc_ctx *open_context(void) {
    tc_config config = tc_config_default();
    config.threads = 2;
    tc_ctx *tc = tc_open(&config);
    return open_device(tc) ? tc : NULL;
}

static void close_context(tc_ctx *tc) {
    CHECK_STR(tc_error_text(tc), "");
    tc_close(tc);
    check_device_closed();
}

// Several kernels, a product among them, and one that is compiled when it is needed: a strided write.
static int compute(tc_ctx *tc, int width) {
    float rows[N], x[N];
    tc_scope_begin(tc);
    tc_tensor there = tc_to(line(tc, N, 0, 0.125), DEVICE_NAME);
    tc_trace_begin(tc, "other");
    tc_tensor m = tc_reshape(there, TC_DIMS(N / width, width));
    tc_tensor y = tc_sum(tc_matmul(tc_softmax(m, 1), tc_transpose(m, 0, 1)), 1);
    tc_tensor kept = tc_keep(y);
    int ok = tc_trace_end(tc) == TC_OK && tc_add_s_(tc_slice(there, 0, 0, TC_END, 2), 1).id;
    ok = ok && tc_read(kept, rows, (size_t)(N / width) * sizeof *rows) == TC_OK &&
         tc_read(there, x, sizeof x) == TC_OK;
    for (int r = 0; ok && r < N / width; r++) {
        double sum = 0, all = 0;
        for (int k = 0; k < width; k++) all += exp((r * width + k) * 0.125);
        for (int k = 0; k < width; k++)
            for (int c = 0; c < N / width; c++)
                sum += exp((r * width + k) * 0.125) / all * ((c * width + k) * 0.125);
        CHECK(fabs(sum - (double)rows[r]) <= 1e-5 * sum ||
              FAIL("row %d is %g, not %g", r, (double)rows[r], sum));
    }
    for (int i = 0; ok && i < N; i++) CHECK_EQ((double)x[i], i * 0.125 + (i % 2 ? 0 : 1));
    tc_free(kept);
    tc_scope_end(tc);
    return ok;
}

// The device under other names: what it and what devices of its kind have on the disk.
typedef struct names {
    tc_device *device;
    const char *identity, *portable;
} names;

static names rename_device(tc_ctx *tc, const char *identity, const char *portable) {
    tc_device *d = (tc_device *)(uintptr_t)tc_registered_device(tc, DEVICE_NAME);
    names was = {d, d->identity, d->portable};
    if (identity) d->identity = identity;
    if (portable) d->portable = portable;
    return was;
}

static void name_again(names was) {
    was.device->identity = was.identity, was.device->portable = was.portable;
}

// Computes where nothing compiles, under those names. 1 = it worked, with code from the disk.
static int compute_elsewhere(const char *identity, const char *portable) {
    setenv("TC_NVRTC_LIBRARY", "/nonexistent/libnvrtc.so", 1);
    tc_ctx *tc = open_context();
    if (!tc) return 0;
    names was = rename_device(tc, identity, portable);
    int ok = compute(tc, 8);
    tc_stats s = tc_stats_get(tc);
    CHECK_EQ(s.compiles, 0);
    CHECK(ok ? s.kernels_made >= 3 : !s.kernels_made); // loaded ones count
    if (ok) CHECK(s.disk_hits >= 3 || FAIL("%d disk hits", (int)s.disk_hits));
    if (!ok) ERROR(TC_E_COMPILER, "/nonexistent/libnvrtc.so");
    name_again(was);
    close_context(tc);
    return ok;
}

static void compile_here(void) {
    tc_ctx *tc = open_context();
    REQUIRE(tc);
    CHECK(compute(tc, 8));
    close_context(tc);
}

TEST(another_device_loads_it) {
    compile_here();
    CHECK(compute_elsewhere(NULL, NULL)); // its own code
    CHECK(compute_elsewhere("another", NULL));
    CHECK(!compute_elsewhere("another", "of another kind"));
}

// What is not on the disk is the compiler's error, and nothing is lost by it.
TEST(what_is_not_there) {
    compile_here();
    setenv("TC_NVRTC_LIBRARY", "/nonexistent/libnvrtc.so", 1);
    tc_ctx *tc = open_context();
    REQUIRE(tc);
    names was = rename_device(tc, "another", NULL);
    CHECK(!compute(tc, 12));
    ERROR(TC_E_COMPILER, "/nonexistent/libnvrtc.so");
    CHECK(compute(tc, 8));
    name_again(was);
    close_context(tc);
}

// A newer device takes it, an older one does not.
TEST(compute_capabilities) {
    if (device_is_real) SKIP("a GPU is as old as it is");
    REQUIRE(device_use());
    compile_here(); // 9.0
    fake->major = 10;
    CHECK(compute_elsewhere(NULL, NULL));
    fake->major = 8, fake->minor = 9;
    CHECK(!compute_elsewhere(NULL, NULL));
}

// A text for one device alone has no other code.
TEST(native_code) {
    static const char text[] = "extern \"C\" __global__ void one(int *x) { *x = 1; }\n";
    tc_ctx *tc = open_context();
    REQUIRE(tc);
    const tc_device *d = tc_registered_device(tc, DEVICE_NAME);
    tc_device_text t[2];
    memset(t, 0, sizeof t);
    t[0].name = t[1].name = "one.cu", t[0].text = t[1].text = text;
    t[1].native = 1;
    CHECK_EQ(d->build(d->user, t, 2), TC_OK);
    CHECK(t[0].code && t[1].code && t[0].portable && !t[1].portable);
    CHECK(t[0].portable_bytes > 0);
    d->drop(d->user, t, 2);
    CHECK(!t[0].code && !t[0].portable);
    close_context(tc);
}
