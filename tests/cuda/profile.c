// The profiler on a device: kernels are rows with the device's own times, and events on a line of their own.
// The emulator's clock gives every operation a microsecond.
#include "tcompile.h"

#include "tcompile_cuda.h"

#define TEST_NO_MAIN
#include "harness.h"
#include "help.h"
#include "json.h"
#include "tools/cuda_device.h"

#include <math.h>

enum { N = 1000 };

static tc_ctx *open_profiled(void) {
    tc_config config = tc_config_default();
    config.threads = 2;
    tc_ctx *tc = tc_open(&config);
    if (!open_device(tc)) return NULL;
    if (fake) fake->op_ns = 1000;
    return tc;
}

static void close_profiled(tc_ctx *tc) {
    if (tc_error(tc)) FAIL("error left over: %s", tc_error_text(tc));
    tc_close(tc);
    check_device_closed();
}

static tc_tensor there(tc_ctx *tc, int n) {
    tc_tensor t = line(tc, n, 1, 1), d = tc_to(t, DEVICE_NAME);
    tc_free(t);
    return d;
}

static double visit(tc_ctx *tc, tc_tensor x) {
    BEGIN("work");
    tc_tensor y = tc_keep(tc_mul_s(x, 2)), z = tc_keep(tc_cumsum(y, 0));
    END();
    double last = AT(z, N - 1);
    tc_free(y), tc_free(z);
    return last;
}

// The row of the table that ends in `name`; its calls and bytes, and its microseconds.
typedef struct row {
    long long calls, bytes;
    double total, rate, share;
    char where[20];
} row;

static int row_of(const char *text, const char *name, row *r) {
    const char *at = strstr(text, name);
    memset(r, 0, sizeof *r);
    while (at && at > text && at[-1] != '\n') at--;
    return at && sscanf(at, "%lld %lf %*s %lld %lf %lf %% %19s", &r->calls, &r->total,
                        &r->bytes, &r->rate, &r->share, r->where) == 6;
}

TEST(kernels_have_the_times_of_the_device) {
    row r;
    tc_ctx *tc = open_profiled();
    REQUIRE(tc);
    tc_tensor x = there(tc, N);
    CHECK_EQ(tc_profile_begin(tc), TC_OK);
    for (int i = 0; i < 3; i++) CHECK_EQ(visit(tc, x), N * (N + 1));
    CHECK_EQ(tc_profile_end(tc), TC_OK);
    const char *text = tc_profile_text(tc);
    REQUIRE(row_of(text, "k0_pointwise_mul of work, program ", &r) || FAIL("%s", text));
    CHECK_EQ(r.calls, 3);
    CHECK_EQ(r.bytes, 2 * 4 * N);
    CHECK_STR(r.where, DEVICE_NAME);
    // One launch each; a scan is several.
    if (!device_is_real) CHECK_EQ(r.total, 3);
    CHECK(r.total > 0 && r.rate > 0);
    CHECK(strstr(text, "peak of " DEVICE_NAME ": ") != NULL);
    REQUIRE(row_of(text, "k1_opaque_cumsum of work, program ", &r) || FAIL("%s", text));
    CHECK_EQ(r.calls, 3);
    if (!device_is_real) CHECK(r.total >= 3 && r.total == (int)r.total);
    close_profiled(tc);
}

// The column compares with a copy of as many bytes, which the emulator's clock gives a microsecond, and one more for
// each MB: 64 KB are the least, and a copy moves each byte twice.
TEST(the_peak_is_a_copy_of_as_many_bytes) {
    enum { LARGE = 300000 };
    static const double want[] = {1000 + 65.5, 1000 + 4.0 * LARGE / 1000};
    row r;
    if (device_is_real) SKIP("what copies take is not known");
    tc_ctx *tc = open_profiled();
    REQUIRE(tc);
    fake->byte_ns = 0.001;
    CHECK_EQ(tc_profile_begin(tc), TC_OK);
    tc_tensor small = tc_neg(there(tc, N)), large = tc_exp(there(tc, LARGE));
    CHECK_EQ(tc_profile_end(tc), TC_OK);
    const char *text = tc_profile_text(tc);
    static const char *const kernel[] = {"k0_pointwise_neg of eager, program ",
                                         "k0_pointwise_exp of eager, program "};
    for (int i = 0; i < 2; i++) {
        REQUIRE(row_of(text, kernel[i], &r) || FAIL("%s", text));
        CHECK(fabs(r.share - want[i] / 10) <= 1 || FAIL("%s", text));
    }
    double rate[4] = {0}, us = 0;
    const char *head = strstr(text, "peak of " DEVICE_NAME ": ");
    REQUIRE(head && sscanf(head,
                           "%*s %*s %*s copies of 1, 4, 16, 64 MB run at %lf, %lf, "
                           "%lf, %lf GB/s, of 64 KB in %lf us; its kernels ",
                           &rate[0], &rate[1], &rate[2], &rate[3], &us) == 5);
    for (int i = 0; i < 4; i++) {
        double bytes = 1048576.0 * (1 << 2 * i), ns = 1000 + bytes / 1000;
        CHECK(fabs(rate[i] * ns / (2 * bytes) - 1) < 0.01 || FAIL("%s", text));
    }
    CHECK_EQ(us, 1); // 1.07
    tc_free(small), tc_free(large);
    close_profiled(tc);
}

// ---- one launch for a list of tensors ----

enum { TENSORS = 12 };

// Half of them are of one size: a kernel of the program has several.
static int size_of(int i) { return i % 2 ? 500 : 100 + 13 * i; }

// Two formulas, each over a list: a - b / 2, and c d + 1.
static void two_formulas(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    for (int i = 0; i < TENSORS; i++, in += 4) {
        *out++ = tc_sub(in[0], tc_mul_s(in[1], 0.5));
        *out++ = tc_add_s(tc_mul(in[2], in[3]), 1);
    }
}

// What is launched once is a row, with the bytes of all its tensors.
TEST(a_list_is_one_kernel) {
    static const char *const kernel[] = {
        "  list of 12: k0_pointwise_mul_sub of two_formulas, program ",
        "  list of 12: k0_pointwise_mul_add of two_formulas, program "};
    enum { CALLS = 3 };
    row r;
    tc_tensor in[4 * TENSORS], out[2 * TENSORS];
    int elements = 0;
    tc_ctx *tc = open_profiled();
    REQUIRE(tc);
    tc_fn *f = tc_compile(tc, two_formulas, NULL, 0, NULL);
    for (int i = 0; i < 4 * TENSORS; i++) in[i] = there(tc, size_of(i / 4));
    for (int i = 0; i < TENSORS; i++) elements += size_of(i);
    for (int i = -2; i < CALLS; i++) {
        if (!i) CHECK_EQ(tc_profile_begin(tc), TC_OK);
        CALL(f, in, 4 * TENSORS, out, 2 * TENSORS);
        for (int k = 0; k < 2 * TENSORS; k++) tc_free(out[k]);
    }
    CHECK_EQ(tc_profile_end(tc), TC_OK);
    const char *text = tc_profile_text(tc);
    CHECK(strstr(text, ": 6 runs of 2 kernels took ") || FAIL("%s", text));
    for (int i = 0; i < 2; i++) {
        REQUIRE(row_of(text, kernel[i], &r) || FAIL("%s", text));
        CHECK_EQ(r.calls, CALLS);
        CHECK_EQ(r.bytes, 3 * 4 * elements);
        if (!device_is_real) CHECK_EQ(r.total, CALLS);
    }
    close_profiled(tc);
}

// Calls that take the short cut, too; and nothing is timed when it is over.
static void body(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_exp(in[0]);
}

TEST(short_cuts_are_profiled) {
    row r;
    tc_tensor y;
    tc_ctx *tc = open_profiled();
    REQUIRE(tc);
    tc_fn *f = tc_compile(tc, body, NULL, 0, NULL);
    tc_tensor x = there(tc, N);
    for (int i = 0; i < 5; i++) {
        CALL(f, &x, 1, &y, 1);
        tc_free(y);
    }
    CHECK_EQ(tc_profile_begin(tc), TC_OK);
    for (int i = 0; i < 4; i++) {
        CALL(f, &x, 1, &y, 1);
        tc_free(y);
    }
    CHECK_EQ(tc_profile_end(tc), TC_OK);
    CALL(f, &x, 1, &y, 1);
    REQUIRE(row_of(tc_profile_text(tc), "k0_pointwise_exp of ", &r) ||
            FAIL("%s", tc_profile_text(tc)));
    CHECK_EQ(r.calls, 4);
    tc_free(y);
    close_profiled(tc);
}

// Graphs are taken apart while a profile goes on.
TEST(graphs_become_launches) {
    setenv("TC_MODE", "reduce-overhead", 1);
    tc_ctx *tc = open_profiled();
    REQUIRE(tc);
    tc_tensor x = there(tc, N);
    for (int i = 0; i < 3; i++) CHECK_EQ(visit(tc, x), N * (N + 1));
    if (fake) CHECK_EQ(fake->live[FAKE_EXEC], 1);
    int calls = fake ? fake->calls : 0, graphs = 0;
    CHECK_EQ(tc_profile_begin(tc), TC_OK);
    CHECK_EQ(visit(tc, x), N * (N + 1));
    CHECK_EQ(tc_profile_end(tc), TC_OK);
    for (int i = calls; fake && i < fake->calls; i++)
        graphs += !strcmp(fake->name[i], "cuGraphLaunch");
    CHECK_EQ(graphs, 0);
    CHECK_EQ(visit(tc, x), N * (N + 1));
    unsetenv("TC_MODE");
    close_profiled(tc);
}

// Five kernels that do not merge, the same ones each time.
static void chain(tc_ctx *tc, tc_tensor x) {
    BEGIN("chain");
    tc_tensor y = tc_reshape(x, TC_DIMS(N / 10, 10));
    for (int i = 0; i < 5; i++) y = tc_div(tc_softmax(y, i % 2), tc_add_s(tc_sum(y, 0), 1));
    tc_keep(y);
    END();
    tc_free(y);
    CHECK_EQ(tc_sync(tc), TC_OK);
}

// Where kernels take the device long, launching them costs nothing: there is no graph. Where the device
// does nothing, there is one from the third run on; the report tells.
TEST(a_graph_where_launching_takes_time) {
    for (int slow = 0; slow < 2; slow++) {
        if (device_is_real) SKIP("what a GPU takes is not known");
        tc_ctx *tc = open_profiled();
        REQUIRE(tc);
        fake->op_ns = slow ? 1e9 : 0;
        tc_tensor x = there(tc, N);
        for (int i = 0; i < 2; i++) chain(tc, x);
        CHECK_EQ(fake->live[FAKE_EXEC], 0);
        for (int i = 0; i < 2; i++) chain(tc, x);
        CHECK_EQ(fake->live[FAKE_EXEC], !slow);
        const char *text = tc_explain(tc);
        const char *want = slow ? ": launched one by one, as launching takes the host "
                                : "of at most 4 executables, 1 built";
        CHECK(strstr(text, want) || FAIL("%s", text));
        close_profiled(tc);
    }
}

static char *file_text(const char *path) {
    FILE *f = fopen(path, "rb");
    char *s = (char *)calloc(1 << 20, 1);
    if (f) CHECK(fread(s, 1, (1 << 20) - 1, f) > 0), fclose(f);
    return s;
}

TEST(the_trace_has_a_line_of_the_device) {
    char path[] = "/tmp/tc-trace-XXXXXX", line_of[100];
    int kernels = 0;
    tc_ctx *tc = open_profiled();
    REQUIRE(tc);
    tc_tensor x = there(tc, N);
    CHECK_EQ(tc_profile_begin(tc), TC_OK);
    visit(tc, x);
    CHECK_EQ(tc_profile_end(tc), TC_OK);
    int fd = mkstemp(path);
    REQUIRE(fd >= 0);
    close(fd);
    CHECK_EQ(tc_profile_trace(tc, path), TC_OK);
    char *text = file_text(path);
    char wrong[120];
    json *trace = json_read(text, wrong);
    CHECK(trace || FAIL("not JSON: %s", wrong));
    if (trace) json_free(trace);
    const char *name = strstr(text, "{\"name\":\"" DEVICE_NAME "\"}");
    REQUIRE(name);
    const char *tid = name;
    while (tid > text && strncmp(tid, "\"tid\":", 6)) tid--;
    snprintf(line_of, sizeof line_of, "\"pid\":1,%.*s", (int)strcspn(tid, ","), tid);
    for (const char *at = text; (at = strstr(at, "\"cat\":\"kernel\"")) != NULL; at++) {
        const char *there_too = strstr(at, line_of), *end = strchr(at, '\n');
        CHECK(there_too && end && there_too < end);
        kernels++;
    }
    CHECK_EQ(kernels, 2);
    free(text);
    unlink(path);
    close_profiled(tc);
}

// A run under the profiler in a new context whose driver fails at one call; *begun and *ended are the
// calls before and after it. Its status; what comes later works.
static tc_status run_failing(int fail_at, int *begun, int *ended) {
    fake->calls = fake->launches = 0;
    tc_ctx *tc = open_profiled();
    if (!tc) return TC_E_STATE;
    tc_tensor x = there(tc, N);
    CHECK_EQ(tc_profile_begin(tc), TC_OK);
    *begun = fake->calls, fake->fail_at = fail_at, fake->fail_code = 1;
    BEGIN("another");
    tc_tensor y = tc_cumsum(tc_exp(x), 0); // more marks than the yardstick leaves
    tc_status status = tc_trace_end(tc);
    *ended = fake->calls, fake->fail_at = 0;
    if (status) CHECK(strstr(tc_error_text(tc), "(1)") || FAIL("%s", tc_error_text(tc)));
    tc_error_clear(tc);
    CHECK_EQ(tc_profile_end(tc), TC_OK);
    CHECK_EQ(visit(tc, x), N * (N + 1));
    (void)y;
    close_profiled(tc);
    return status;
}

TEST(a_driver_that_fails) {
    static const char *const calls[] = {"cuEventCreate", "cuEventRecord",
                                        "cuEventElapsedTime"};
    int begun, ended;
    if (device_is_real) SKIP("a GPU does not fail when it is told to");
    REQUIRE(device_use());
    CHECK_EQ(run_failing(0, &begun, &ended), TC_OK); // from here on code is on disk
    for (int k = 0; k < 3; k++) {
        int last = 0;
        CHECK_EQ(run_failing(0, &begun, &ended), TC_OK);
        for (int i = begun; i < ended; i++)
            if (!strcmp(fake->name[i], calls[k])) last = i + 1;
        REQUIRE(last > 0);
        CHECK(run_failing(last, &begun, &ended) < 0 || FAIL("%s failed", calls[k]));
    }
}

// Nowhere near the end of memory is a copy measured: then the share of the peak is not known.
TEST(a_device_without_room_for_the_yardstick) {
    row r;
    if (device_is_real) SKIP("a GPU has room");
    REQUIRE(device_use());
    fake->memory = (size_t)100 << 20;
    tc_ctx *tc = open_profiled();
    REQUIRE(tc);
    tc_tensor x = there(tc, N);
    CHECK_EQ(tc_profile_begin(tc), TC_OK);
    CHECK_EQ(visit(tc, x), N * (N + 1));
    CHECK_EQ(tc_profile_end(tc), TC_OK);
    const char *text = tc_profile_text(tc);
    CHECK(strstr(text, "peak of " DEVICE_NAME ": unknown; its kernels ") ||
          FAIL("%s", text));
    CHECK(!row_of(text, "k0_pointwise_mul of work, program ", &r)); // "?" is no number
    close_profiled(tc);
}

// A program on two devices and the host: each kernel is a row of its own device, by that one's clock, and so is
// each copy.
TEST(a_program_on_devices_and_host) {
    row r;
    if (device_use() && fake) fake->devices = 2;
    if (tc_cuda_device_count() < 2) SKIP("there is no second GPU");
    tc_ctx *tc = open_profiled();
    REQUIRE(tc && tc_cuda_open(tc, 1) == TC_OK);
    tc_tensor x = there(tc, N), y;
    CHECK_EQ(tc_profile_begin(tc), TC_OK);
    for (int i = 0; i < 3; i++) {
        BEGIN("span");
        y = tc_to(tc_square(tc_to(tc_mul_s(x, 2), "cuda:1")), "cpu");
        y = tc_keep(tc_sub(tc_mul(y, y), y));
        END();
        CHECK_EQ(AT(y, 1), 16.0 * 16 - 16);
        tc_free(y);
    }
    CHECK_EQ(tc_profile_end(tc), TC_OK);
    const char *text = tc_profile_text(tc);
    static const struct {
        const char *kernel, *where;
        int bytes;
    } want[] = {{"_pointwise_mul of span", "cuda:0", 8 * N},
                {"k1_copy_to of span", "cuda:1", 8 * N},
                {"_pointwise_square of span", "cuda:1", 8 * N},
                {"k3_copy_to of span", "compiled", 8 * N},
                {"_pointwise_mul_sub of span", "compiled", 8 * N}};
    for (int i = 0; i < 5; i++) {
        REQUIRE(row_of(text, want[i].kernel, &r) || FAIL("%s: %s", want[i].kernel, text));
        CHECK_EQ(r.calls, 3);
        CHECK_EQ(r.bytes, want[i].bytes);
        CHECK_STR(r.where, want[i].where);
        CHECK(r.total > 0);
        if (fake && i != 1 && i < 3) CHECK_EQ(r.total, 3); // a microsecond each
    }
    CHECK(strstr(text, "peak of cuda:0: ") && strstr(text, "peak of cuda:1: "));
    CHECK(strstr(text, ": 15 runs of 5 kernels took ") || FAIL("%s", text));
    close_profiled(tc);
}
