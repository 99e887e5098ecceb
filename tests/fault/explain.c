// Reports, the profiler and their files when memory runs out at any point: the call says so, nothing
// crashes or leaks, no half a file is taken for a whole one, and afterwards all works as before.
#include "tcompile.h"

#include "harness.h"

enum { ROWS = 8, COLUMNS = 64, MOST = 3000 };

static int left = -1; // allocations that still work; -1 = all

static void *limited(void *user, void *p, size_t old_size, size_t new_size) {
    (void)user;
    if (new_size && left == 0) return NULL;
    if (new_size && left > 0) left--;
    return checked_realloc(p, old_size, new_size);
}

static void body(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_softmax(tc_matmul(in[0], in[1]), -1);
}

static void visit(tc_ctx *tc, int rows) {
    tc_tensor x = tc_full(tc, TC_DIMS(rows, COLUMNS), 0.5, TC_F32);
    tc_trace_begin_at(tc, "region <&>", NULL, "user.c", 5);
    tc_tensor y = tc_exp(x), s = tc_sum_all(y);
    tc_item(s);
    tc_div(y, s);
    tc_trace_end(tc);
    tc_free(x);
}

// A context with something to tell: breaks, run-time sizes, entries, a finished profile.
static tc_ctx *open_busy(void) {
    tc_config config = tc_config_default();
    config.threads = 1, config.backend = "aot_eager", config.allocator.realloc = limited;
    left = -1;
    tc_ctx *tc = tc_open(&config);
    tc_fn *f = tc_compile(tc, body, NULL, 0, NULL);
    CHECK_EQ(tc_profile_begin(tc), TC_OK);
    for (int i = 0; i < 6; i++) visit(tc, ROWS + i % 2);
    for (int i = 0; i < 4; i++) {
        tc_tensor in[2], y;
        in[0] = tc_full(tc, TC_DIMS(ROWS, ROWS), 0.5, TC_F32), in[1] = in[0];
        CHECK_EQ(tc_call(f, in, 2, &y, 1), TC_OK);
    }
    CHECK_EQ(tc_profile_end(tc), TC_OK);
    CHECK_EQ(tc_error(tc), TC_OK);
    return tc;
}

static char path[] = "/tmp/tc-fault-XXXXXX";

static tc_status html(tc_ctx *tc) { return tc_explain_html(tc, path); }
static tc_status trace(tc_ctx *tc) { return tc_profile_trace(tc, path); }

static tc_status text(tc_ctx *tc) {
    tc_explain(tc);
    return tc_error(tc);
}

static tc_status counts(tc_ctx *tc) {
    tc_explanation e = tc_explain_counts(tc, NULL);
    CHECK(e.programs > 0 || tc_error(tc)); // not a part of them
    return tc_error(tc);
}

static tc_status table(tc_ctx *tc) {
    tc_profile_text(tc);
    return tc_error(tc);
}

static long size_of(const char *name) {
    FILE *f = fopen(name, "rb");
    long n = -1;
    if (!f) return n;
    if (!fseek(f, 0, SEEK_END)) n = ftell(f);
    fclose(f);
    return n;
}

// With n allocations, for each n until it works: TC_E_NOMEM each time, and no file.
static void fail_everywhere(tc_status (*call)(tc_ctx *), int writes) {
    int file = mkstemp(path), n = 0;
    CHECK(file >= 0);
    close(file);
    tc_ctx *tc = open_busy();
    for (; n < MOST; n++) {
        tc_status status = (left = n, call(tc));
        left = -1;
        CHECK_EQ(tc_error(tc), status);
        tc_error_clear(tc);
        if (!status) break;
        CHECK_EQ(status, TC_E_NOMEM);
        if (writes) CHECK_EQ(size_of(path), 0);
    }
    CHECK(n > 0 && n < MOST);
    if (writes) CHECK(size_of(path) > 1000);
    unlink(path);
    tc_close(tc);
}

TEST(html_without_memory) { fail_everywhere(html, 1); }
TEST(trace_without_memory) { fail_everywhere(trace, 1); }
TEST(text_without_memory) { fail_everywhere(text, 0); }
TEST(counts_without_memory) { fail_everywhere(counts, 0); }
TEST(table_without_memory) { fail_everywhere(table, 0); }

// A profile begins without memory for its yardstick, or not at all.
TEST(begin_without_memory) {
    tc_config config = tc_config_default();
    config.threads = 1, config.backend = "aot_eager", config.allocator.realloc = limited;
    for (int n = 0, ok = 0; !ok && n < 50; n++) {
        left = -1;
        tc_ctx *tc = tc_open(&config);
        left = n;
        tc_status status = tc_profile_begin(tc);
        left = -1;
        CHECK(!status || status == TC_E_NOMEM);
        CHECK_EQ(tc_error(tc), status);
        tc_error_clear(tc);
        ok = !status && !strstr(tc_profile_text(tc), "peak: 0.00 GB/s");
        visit(tc, ROWS);
        CHECK_EQ(tc_error(tc), TC_OK);
        if (!status) CHECK(strstr(tc_profile_text(tc), " of region <&>, program 0\n"));
        if (n == 49) FAIL("it never works");
        tc_close(tc);
    }
}
