// "max-autotune" on a device: kernels are measured by its clock, results stay what they are, and what was
// found is found again. On the emulator a kernel takes as long as it has threads, so that what wins is known.
#include "tcompile.h"

#include "tcompile_cuda.h"

#define TEST_NO_MAIN
#include "harness.h"
#include "help.h"
#include "tools/cuda_device.h"

enum { ROWS = 300, COLS = 1024 };

static int kept;
static char said[20000];

static void on_log(void *user, int level, const char *channel, const char *text) {
    size_t n = strlen(said);
    (void)user, (void)level;
    if (strcmp(channel, "autotune")) return;
    snprintf(said + n, sizeof said - n, "%s\n", text);
    kept += strstr(text, " is kept: ") != NULL;
}

static tc_ctx *open_tuned(const char *folder) {
    tc_config config = tc_config_default();
    config.logger.log = on_log, config.logs = "autotune";
    config.threads = 2, config.cache_dir = folder, config.no_disk_cache = !folder;
    kept = 0, said[0] = 0;
    setenv("TC_MODE", "max-autotune", 1);
    setenv("TC_AUTOTUNE_SECONDS", "600", 1); // enough on any machine
    tc_ctx *tc = tc_open(&config);
    if (!open_device(tc)) return NULL;
    if (fake) fake->thread_ns = 10;
    return tc;
}

static void close_tuned(tc_ctx *tc) {
    if (tc_error(tc)) FAIL("error left over: %s", tc_error_text(tc));
    tc_close(tc);
    check_device_closed();
    unsetenv("TC_MODE");
}

static tc_tensor there(tc_ctx *tc, int rows, int cols) {
    tc_tensor t = line(tc, rows * cols, -1, 1.0 / 1024);
    tc_tensor d = tc_to(tc_reshape(t, TC_DIMS(rows, cols)), DEVICE_NAME);
    tc_free(t);
    return d;
}

// 2 x + x, element by element, twice.
static void check_work(tc_ctx *tc, tc_tensor x) {
    static float y[ROWS * COLS];
    BEGIN("work");
    tc_tensor z = tc_keep(tc_add(tc_mul_s(x, 2), x));
    END();
    CHECK_EQ(tc_read(z, y, sizeof y), TC_OK);
    for (int i = 0; i < ROWS * COLS; i += 997)
        if ((double)y[i] != 3 * (-1 + i / 1024.0))
            FAIL("element %d is %g", i, (double)y[i]);
    tc_free(z);
}

static double now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double told_ns(tc_ctx *tc) {
    tc_stats s = tc_stats_get(tc);
    return (double)(s.pass_ns + s.emit_ns + s.cc_ns + s.load_ns + s.autotune_ns + s.run_ns);
}

TEST(the_fastest_is_kept) {
    tc_ctx *tc = open_tuned(NULL);
    REQUIRE(tc);
    tc_tensor x = there(tc, ROWS, COLS);
    double told = told_ns(tc), begin = now_ns();
    for (int i = 0; i < 3; i++) check_work(tc, x);
    CHECK_EQ(kept, 1);
    CHECK_EQ(tc_stats_get(tc).autotuned, 1);
    // What a search compiles is autotune_ns and nothing else.
    told = told_ns(tc) - told, begin = now_ns() - begin;
    CHECK(told <= begin || FAIL("%.1f ms told, it took %.1f", told / 1e6, begin / 1e6));
    const char *text = tc_explain(tc);
    CHECK(strstr(text, "autotune: ") || FAIL("%s", text));
    CHECK(strstr(text, "best of ") || FAIL("%s", text));
    // Of the same vectors for less threads: the most of a thread wins.
    if (fake) CHECK(strstr(said, ": vectors ") || FAIL("%s", said));
    close_tuned(tc);
}

TEST(it_is_known_to_the_next_process) {
    char folder[] = "/tmp/tc-tuned-XXXXXX";
    REQUIRE(test_folder_make(folder));
    for (int i = 0; i < 2; i++) {
        tc_ctx *tc = open_tuned(folder);
        REQUIRE(tc);
        tc_tensor x = there(tc, ROWS, COLS);
        check_work(tc, x);
        CHECK_EQ(kept, !i);
        CHECK_EQ(tc_stats_get(tc).autotuned, !i);
        if (i) CHECK_EQ(tc_stats_get(tc).compiles, 0);
        if (i) CHECK(strstr(tc_explain(tc), "known from before"));
        close_tuned(tc);
    }
    test_folder_remove(folder);
}

// Products have tiles; k is summed in order with each.
TEST(products_have_tiles) {
    static float want[256 * 256], have[256 * 256];
    for (int tuned = 0; tuned < 2; tuned++) {
        tc_ctx *tc = open_tuned(NULL);
        REQUIRE(tc);
        setenv("TC_MODE", tuned ? "max-autotune" : "default", 1);
        tc_tensor a = there(tc, 256, 64), b = there(tc, 64, 256);
        tc_options o = tc_options_default();
        o.mode = tuned ? "max-autotune" : "default";
        tc_trace_begin_at(tc, "product", &o, "test.c", 1);
        tc_tensor c = tc_keep(tc_matmul(a, b));
        END();
        CHECK_EQ(tc_read(c, tuned ? have : want, sizeof have), TC_OK);
        CHECK_EQ(kept, tuned);
        tc_free(c);
        close_tuned(tc);
    }
    CHECK_BYTES(have, want, sizeof have);
}

// What is written in place is written once, whatever it was measured on.
TEST(memory_in_place_is_written_once) {
    static float y[ROWS * COLS];
    tc_ctx *tc = open_tuned(NULL);
    REQUIRE(tc);
    tc_tensor x = there(tc, ROWS, COLS);
    BEGIN("place");
    tc_add_s_(x, 1);
    END();
    CHECK_EQ(tc_read(x, y, sizeof y), TC_OK);
    for (int i = 0; i < ROWS * COLS; i += 997) CHECK_EQ(y[i], i / 1024.0);
    CHECK_EQ(kept, 1);
    close_tuned(tc);
}

// A driver that fails while kernels are measured does not harm what comes later.
TEST(a_driver_that_fails) {
    if (device_is_real) SKIP("a GPU does not fail when it is told to");
    for (int at = 5; at < 60; at += 9) {
        tc_ctx *tc = open_tuned(NULL);
        REQUIRE(tc);
        tc_tensor x = there(tc, ROWS, COLS);
        BEGIN("work");
        tc_tensor z = tc_exp(x);
        fake->calls = 0, fake->fail_at = at, fake->fail_code = 1;
        tc_status s = tc_trace_end(tc);
        fake->fail_at = 0;
        if (s) CHECK(strstr(tc_error_text(tc), "(1)") || FAIL("%s", tc_error_text(tc)));
        tc_error_clear(tc);
        (void)z;
        check_work(tc, x);
        close_tuned(tc);
    }
}

// Kernels of a program on two devices, with work of the host and copies between, each by its own clock.
TEST(on_two_devices) {
    static float y[ROWS * COLS];
    if (device_use() && fake) fake->devices = 2;
    if (tc_cuda_device_count() < 2) SKIP("there is no second GPU");
    tc_ctx *tc = open_tuned(NULL);
    REQUIRE(tc && tc_cuda_open(tc, 1) == TC_OK);
    tc_tensor x = there(tc, ROWS, COLS), e = tc_to(x, "cuda:1"), h = tc_to(x, "cpu"), z[3];
    for (int k = 0; k < 3; k++) {
        BEGIN("two");
        z[0] = tc_keep(tc_add(tc_mul_s(x, 2), x));
        z[1] = tc_keep(tc_to(tc_add(tc_mul_s(e, 2), e), DEVICE_NAME));
        z[2] = tc_keep(tc_add(tc_to(tc_mul_s(h, 2), "cuda:1"), e));
        END();
        for (int n = 0; n < 3; n++) {
            CHECK_EQ(tc_read(z[n], y, sizeof y), TC_OK);
            for (int i = 0; i < ROWS * COLS; i += 997)
                if ((double)y[i] != 3 * (-1 + i / 1024.0)) FAIL("%d: element %d", n, i);
            tc_free(z[n]);
        }
    }
    CHECK(kept >= 2 || FAIL("%d kept: %s", kept, said));
    close_tuned(tc);
}

// A program on the host and a device: kernels of both are measured, and known to the next process.
TEST(on_the_host_and_a_device) {
    static float y[ROWS * COLS];
    char folder[] = "/tmp/tc-tuned-XXXXXX";
    REQUIRE(test_folder_make(folder));
    for (int k = 0; k < 2; k++) {
        tc_ctx *tc = open_tuned(folder);
        REQUIRE(tc);
        tc_tensor x = there(tc, ROWS, COLS), h = tc_to(x, "cpu"), z[2];
        BEGIN("both");
        z[0] = tc_keep(tc_add(tc_mul_s(x, 2), x));
        z[1] = tc_keep(tc_add(tc_mul_s(h, 4), tc_to(z[0], "cpu")));
        END();
        for (int n = 0; n < 2; n++) {
            CHECK_EQ(tc_read(z[n], y, sizeof y), TC_OK);
            for (int i = 0; i < ROWS * COLS; i += 997)
                if ((double)y[i] != (n ? 7 : 3) * (-1 + i / 1024.0))
                    FAIL("%d: element %d is %g", n, i, (double)y[i]);
            tc_free(z[n]);
        }
        if (tc_stats_get(tc).fallbacks) SKIP("no compiler");
        CHECK_EQ(kept, k ? 0 : 2);
        CHECK_EQ(tc_stats_get(tc).autotuned, k ? 0 : 2);
        if (k) CHECK_EQ(tc_stats_get(tc).compiles, 0);
        close_tuned(tc);
    }
    test_folder_remove(folder);
}

// What is written in place, though a view of it begins where kernels of a device cannot read or write: it goes by
// way of other memory there.
TEST(a_view_in_place_is_written_once) {
    static float y[ROWS * COLS];
    tc_ctx *tc = open_tuned(NULL);
    REQUIRE(tc);
    tc_tensor x = there(tc, 1, ROWS * COLS);
    BEGIN("view");
    tc_mul_s_(tc_slice(x, 1, 1, TC_END, 1), 2);
    END();
    CHECK_EQ(tc_read(x, y, sizeof y), TC_OK);
    for (int i = 0; i < ROWS * COLS; i += 997)
        CHECK_EQ(y[i], (i ? 2 : 1) * (-1 + i / 1024.0));
    CHECK_EQ(kept, 1);
    close_tuned(tc);
}
