// The profiler: what the table counts, that the trace file is JSON that holds together, and that
// nothing of it disturbs what it watches. No test looks at how long something took.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

#include "harness.h"
#include "json.h"
#include "report.h"

#include <math.h>

enum { BYTES = ROWS * COLUMNS * 4 };

static tc_ctx *open_context(const char *backend, int threads) {
    tc_config config = tc_config_default();
    config.threads = threads, config.backend = backend;
    tc_ctx *tc = tc_open(&config);
    // How fast memory is takes a second; `calls_and_bytes` has it measured.
    tc__device *host = tc__device_on(tc, 0);
    host->measured = 1, host->copy_ns[TC__YARDSTICKS - 1] = 13421773; // 10 GB/s
    return tc;
}

static void visit(tc_ctx *tc, const char *name, tc_tensor x) {
    tc_trace_begin_at(tc, name, NULL, "user.c", 5);
    tc_exp(tc_mul_s(x, 2));
    CHECK_EQ(tc_trace_end(tc), TC_OK);
}

// ---- the table ----

// Numbers of the table's row that ends in `name`; 0 = there is none.
typedef struct row {
    long long calls, bytes;
    char tier[20];
} row;

static int row_of(const char *text, const char *name, row *r) {
    char end[200];
    memset(r, 0, sizeof *r);
    snprintf(end, sizeof end, " %s\n", name);
    const char *at = strstr(text, end);
    if (!at) return 0;
    while (at > text && at[-1] != '\n') at--;
    return sscanf(at, "%lld %*s %*s %lld %*s %*s %% %19s", &r->calls, &r->bytes, r->tier) ==
           3;
}

static void expect_row(const char *text, const char *name, int calls, int bytes,
                       const char *tier, int line) {
    row r;
    if (!row_of(text, name, &r))
        test_fail(__FILE__, line, "no row \"%s\" in:\n%s", name, text);
    else if (r.calls != calls || r.bytes != bytes || strcmp(r.tier, tier))
        test_fail(__FILE__, line, "row \"%s\": %lld calls of %lld bytes, %s", name, r.calls,
                  r.bytes, r.tier);
}
#define ROW(name, calls, bytes, tier) expect_row(text, name, calls, bytes, tier, __LINE__)
#define SCALE                         "k0_pointwise_mul_exp of scale, program "

TEST(before_any_profile) {
    tc_ctx *tc = open_context("aot_eager", 1);
    CHECK_STR(tc_profile_text(tc), "nothing was profiled: see tc_profile_begin\n");
    CHECK_EQ(tc_profile_end(tc), TC_E_STATE);
    CHECK(strstr(tc_error_text(tc), "tc_profile_begin"));
    tc_error_clear(tc);
    CHECK_EQ(tc_profile_trace(tc, "/tmp/never.json"), TC_E_STATE);
    tc_error_clear(tc);
    CHECK_EQ(tc_profile_begin(NULL), TC_E_NULL);
    CHECK(strstr(tc_error_text(tc), "tc_profile_begin: the ") != NULL);
    tc_error_clear(tc);
    CHECK_EQ(tc_profile_end(NULL), TC_E_NULL);
    CHECK(strstr(tc_error_text(tc), "tc_profile_end: the ") != NULL);
    tc_error_clear(tc);
    CHECK_EQ(tc_profile_trace(NULL, "/tmp/never.json"), TC_E_NULL);
    CHECK(strstr(tc_error_text(tc), "tc_profile_trace: the ") != NULL);
    tc_error_clear(tc);
    CHECK_STR(tc_profile_text(NULL), "nothing was profiled: see tc_profile_begin\n");
    CHECK(strstr(tc_error_text(tc), "tc_profile_text: the ") != NULL);
    tc_error_clear(tc);
    close_context(tc);
}

TEST(calls_and_bytes) {
    tc_ctx *tc = open_context("aot_eager", 1);
    tc__device_on(tc, 0)->measured = 0;
    tc_tensor x = matrix(tc, ROWS);
    visit(tc, "scale", x); // not seen
    CHECK_EQ(tc_profile_begin(tc), TC_OK);
    for (int i = 0; i < 5; i++) visit(tc, "scale", x);
    const char *text = tc_profile_text(tc);
    HAS(" ms, which goes on: 5 runs of 1 kernels took ");
    HAS("peak: ");
    HAS(" GB/s, a copy of 64 MB by 1 threads, measured at the first tc_profile_begin\n");
    ROW(SCALE "0", 5, 2 * BYTES, "interpreted"); // reads x, writes the result
    CHECK_EQ(tc_profile_end(tc), TC_OK);
    visit(tc, "scale", x); // nor this one
    text = tc_profile_text(tc);
    HAS(" ms: 5 runs of 1 kernels took ");
    HAS("; 15 events kept, 0 dropped\n"); // of each visit: record, run, kernel
    ROW(SCALE "0", 5, 2 * BYTES, "interpreted");
    close_context(tc);
}

// A table has 1000 rows: three are read, and two by another index; two are added to, in a copy of all of it or where it is.
TEST(bytes_of_what_values_name) {
    enum { MANY = 1000, WIDE = 32, NAMED = 3, TWO = 2, ROW_BYTES = WIDE * 4 };
    static const int64_t at[NAMED] = {7, 999, 7};
    tc_ctx *tc = open_context("aot_eager", 1);
    tc_tensor table = tc_zeros(tc, TC_DIMS(MANY, WIDE), TC_F32);
    tc_tensor index = tc_from_data(tc, at, TC_DIMS(NAMED), TC_I64);
    tc_tensor two = tc_contiguous(tc_narrow(index, 0, 0, TWO));
    tc_tensor other = tc_contiguous(tc_narrow(index, 0, 1, TWO));
    tc_tensor rows = tc_ones(tc, TC_DIMS(TWO, WIDE), TC_F32), y[4];
    CHECK_EQ(tc_profile_begin(tc), TC_OK);
    tc_trace_begin_at(tc, "named", NULL, "user.c", 5);
    y[0] = tc_mul_s(tc_embedding(table, index), 2);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    tc_trace_begin_at(tc, "pairs", NULL, "user.c", 6);
    y[1] = tc_add(tc_embedding(table, two), tc_embedding(table, other));
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    tc_trace_begin_at(tc, "copied", NULL, "user.c", 7);
    y[2] = tc_index_add(table, 0, two, rows);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    tc_trace_begin_at(tc, "placed", NULL, "user.c", 8);
    tc_tensor made = tc_softmax(table, 1);
    y[3] = tc_sum_all(tc_square(tc_index_add(made, 0, two, rows)));
    tc_free(made);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    CHECK_EQ(tc_profile_end(tc), TC_OK);
    const char *text = tc_profile_text(tc);
    HAS("of what values name as many as");
    ROW("k0_pointwise_mul of named, program 0", 1, NAMED * 8 + 2 * NAMED * ROW_BYTES,
        "interpreted");
    ROW("k0_pointwise_add of pairs, program 0", 1, 2 * TWO * 8 + 3 * TWO * ROW_BYTES,
        "interpreted");
    ROW("k0_opaque_row_add of copied, program 0", 1,
        TWO * 8 + TWO * ROW_BYTES + 2 * MANY * ROW_BYTES, "compiled");
    ROW("k1_opaque_row_add of placed, program 0", 1, TWO * 8 + 3 * TWO * ROW_BYTES,
        "compiled");
    for (int i = 0; i < 4; i++) tc_free(y[i]);
    close_context(tc);
}

// The host's peak is the speed of the largest copy, whatever a kernel's size.
TEST(peak_of_the_host) {
    double ns, rate, share;
    tc_ctx *tc = open_context("aot_eager", 1); // 10 GB/s
    tc_tensor x = matrix(tc, ROWS);
    CHECK_EQ(tc_profile_begin(tc), TC_OK);
    for (int i = 0; i < 3; i++) visit(tc, "scale", x);
    const char *text = strstr(tc_profile_text(tc), "kernel\n");
    REQUIRE(text &&
            sscanf(text + 7, "%*s %lf %*s %*s %lf %lf %%", &ns, &rate, &share) == 3);
    CHECK(rate > 0 && fabs(share - rate * 10) < 0.6 || FAIL("%s", text));
    close_context(tc);
}

// What a copy takes on a device: interpolated between those that were timed, which read and write twice their size.
TEST(times_of_copies) {
    enum { KB = 1 << 10, MB = 1 << 20 };
    static const uint64_t took[TC__YARDSTICKS] = {2000, 3000, 9000, 17000, 64000};
    static const struct {
        int64_t moved;
        double ns;
    } want[] = {{1, 2000},
                {2 * 64 * KB, 2000},
                {64 * KB + 1 * MB, 2500}, // half-way to the next
                {2 * MB, 3000},
                {5 * MB, 6000},
                {8 * MB, 9000},
                {20 * MB, 13000},
                {32 * MB, 17000},
                {80 * MB, 40500},
                {128 * MB, 64000},
                {256 * MB, 128000}}; // by the speed of the largest
    tc__device d;
    memset(&d, 0, sizeof d);
    CHECK(tc__copy_time(&d, MB) == 0);
    memcpy(d.copy_ns, took, sizeof took);
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        CHECK(fabs(tc__copy_time(&d, want[i].moved) - want[i].ns) < 0.01 ||
              FAIL("%lld bytes: %g", (long long)want[i].moved,
                   tc__copy_time(&d, want[i].moved)));
    d.copy_ns[0] = 0; // the host has the largest alone
    CHECK(tc__copy_time(&d, 64 * MB) == 32000);
}

TEST(a_second_profile_forgets_the_first) {
    tc_ctx *tc = open_context("aot_eager", 1);
    tc_tensor x = matrix(tc, ROWS);
    CHECK_EQ(tc_profile_begin(tc), TC_OK);
    visit(tc, "scale", x);
    visit(tc, "other", x);
    CHECK_EQ(tc_profile_begin(tc), TC_OK); // without an end
    visit(tc, "scale", x);
    CHECK_EQ(tc_profile_end(tc), TC_OK);
    const char *text = tc_profile_text(tc);
    HAS(": 1 runs of 1 kernels took ");
    ROW(SCALE "0", 1, 2 * BYTES, "interpreted");
    CHECK(!strstr(text, "other"));
    close_context(tc);
}

// Bytes are those of each run's sizes.
TEST(run_time_sizes) {
    tc_ctx *tc = open_context("aot_eager", 1);
    visit(tc, "scale", matrix(tc, ROWS));
    visit(tc, "scale", matrix(tc, ROWS + 1)); // program 1, for any number of rows
    CHECK_EQ(tc_profile_begin(tc), TC_OK);
    visit(tc, "scale", matrix(tc, 2 * ROWS));
    visit(tc, "scale", matrix(tc, 4 * ROWS));
    CHECK_EQ(tc_profile_end(tc), TC_OK);
    const char *text = tc_profile_text(tc);
    ROW(SCALE "1", 2, (2 + 4) * 2 * BYTES / 2, "interpreted");
    close_context(tc);
}

TEST(eager_ops) {
    tc_ctx *tc = open_context("aot_eager", 1);
    tc_tensor x = matrix(tc, ROWS);
    CHECK_EQ(tc_profile_begin(tc), TC_OK);
    for (int i = 0; i < 3; i++) tc_neg(x);
    tc_sum_all(x);
    const char *text = tc_profile_text(tc);
    ROW("k0_pointwise_neg of eager, program 0", 3, 2 * BYTES, "interpreted");
    ROW("k0_reduction_sum of sum, program 0", 1, BYTES + 4, "interpreted");
    close_context(tc);
}

TEST(compiled_and_both) {
    tc_ctx *tc = open_context("cpu", 1);
    tc_tensor x = matrix(tc, ROWS);
    tc_set_stance(tc, TC_STANCE_EAGER_ON_RECOMPILE);
    CHECK_EQ(tc_profile_begin(tc), TC_OK);
    visit(tc, "scale", x);
    tc_set_stance(tc, TC_STANCE_DEFAULT);
    visit(tc, "scale", x); // compiled now
    if (tc_stats_get(tc).fallbacks) SKIP("no compiler");
    const char *text = tc_profile_text(tc);
    ROW(SCALE "0", 2, 2 * BYTES, "both");
    CHECK_EQ(tc_profile_begin(tc), TC_OK);
    visit(tc, "scale", x);
    text = tc_profile_text(tc);
    ROW(SCALE "0", 1, 2 * BYTES, "compiled");
    close_context(tc);
}

static void scale(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_exp(tc_mul_s(in[0], 2));
}

// Every call of the short cut is seen, also where it is timed by sample otherwise.
TEST(calls_of_functions) {
    enum { BEFORE = 300, DURING = 100, AFTER = 100 };
    tc_ctx *tc = open_context("aot_eager", 1);
    tc_tensor x = matrix(tc, ROWS), y;
    tc_fn *f = tc_compile(tc, scale, NULL, 0, NULL);
    for (int i = 0; i < BEFORE + DURING + AFTER; i++) {
        if (i == BEFORE) CHECK_EQ(tc_profile_begin(tc), TC_OK);
        if (i == BEFORE + DURING) CHECK_EQ(tc_profile_end(tc), TC_OK);
        CHECK_EQ(tc_call(f, &x, 1, &y, 1), TC_OK);
        tc_free(y);
    }
    const char *text = tc_profile_text(tc);
    ROW(SCALE "0", DURING, 2 * BYTES, "interpreted");
    HAS("; 200 events kept, 0 dropped\n"); // the kernel and its run
    CHECK_EQ(tc_stats_get(tc).kernel_runs, BEFORE + DURING + AFTER);
    close_context(tc);
}

// Functions of one name, made at one place or at two, and regions: each has rows of its own, which tell the second
// one's place.
TEST(one_name_of_several) {
    tc_ctx *tc = open_context("aot_eager", 1);
    tc_tensor x = matrix(tc, ROWS), y;
    tc_fn *f[3];
    for (int i = 0; i < 3; i++)
        f[i] = tc_compile_at(tc, scale, NULL, 0, NULL, "scale", "user.c", i ? 20 : 10);
    CHECK_EQ(tc_profile_begin(tc), TC_OK);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k <= 2 * i; k++) CHECK_EQ(tc_call(f[i], &x, 1, &y, 1), TC_OK);
    visit(tc, "scale", x);
    visit(tc, "scale", x);
    const char *text = tc_profile_text(tc);
    HAS(": 11 runs of 4 kernels took ");
    ROW(SCALE "0", 1, 2 * BYTES, "interpreted");
    ROW("k0_pointwise_mul_exp of scale (user.c:20, function 2), program 0", 3, 2 * BYTES,
        "interpreted");
    ROW("k0_pointwise_mul_exp of scale (user.c:20, function 3), program 0", 5, 2 * BYTES,
        "interpreted");
    ROW("k0_pointwise_mul_exp of scale (user.c:5), program 0", 2, 2 * BYTES, "interpreted");
    close_context(tc);
}

// Regions are forgotten, the table is not; what is made again goes on in its row.
TEST(rows_outlive_their_programs) {
    tc_ctx *tc = open_context("aot_eager", 1);
    tc_tensor x = matrix(tc, ROWS);
    CHECK_EQ(tc_profile_begin(tc), TC_OK);
    visit(tc, "scale", x);
    CHECK_EQ(tc_reset(tc), TC_OK);
    visit(tc, "scale", x);
    const char *text = tc_profile_text(tc);
    HAS(": 2 runs of 1 kernels took ");
    ROW(SCALE "0", 2, 2 * BYTES, "interpreted");
    close_context(tc);
}

TEST(events_are_bounded) {
    enum { CALLS = TC_PROFILE_EVENTS / 2 + 1000 };
    tc_ctx *tc = open_context("aot_eager", 1);
    tc_tensor x = tc_full(tc, TC_DIMS(1), 1, TC_F32), y;
    tc_fn *f = tc_compile(tc, scale, NULL, 0, NULL);
    for (int i = 0; i < 2; i++) CHECK_EQ(tc_call(f, &x, 1, &y, 1), TC_OK);
    CHECK_EQ(tc_profile_begin(tc), TC_OK);
    for (int i = 0; i < CALLS; i++) {
        tc_call(f, &x, 1, &y, 1);
        tc_free(y);
    }
    CHECK_EQ(tc_profile_end(tc), TC_OK);
    const char *text = tc_profile_text(tc);
    HAS("; 65536 events kept, 2000 dropped\n");
    ROW(SCALE "0", CALLS, 8, "interpreted");
    close_context(tc);
}

// The table is bounded too: what comes late shares one row.
TEST(rows_are_bounded) {
    enum { MOST = TC__PROFILE_ROWS + 100 };
    char name[20];
    tc_ctx *tc = open_context("aot_eager", 1);
    tc_tensor x = tc_full(tc, TC_DIMS(1), 1, TC_F32);
    CHECK_EQ(tc_profile_begin(tc), TC_OK);
    for (int i = 0; i < MOST; i++) {
        snprintf(name, sizeof name, "r%d", i);
        visit(tc, name, x);
    }
    const char *text = tc_profile_text(tc);
    HAS(": 4196 runs of 4096 kernels took ");
    ROW("all_the_others of others, program 0", 101, 12, "interpreted"); // both results
    close_context(tc);
}

// ---- without memory ----

static int out_of_memory;

static void *limited(void *user, void *p, size_t old_size, size_t new_size) {
    (void)user;
    return new_size && out_of_memory ? NULL : checked_realloc(p, old_size, new_size);
}

// What cannot be noted is counted as dropped, and the program runs all the same.
TEST(no_memory_for_events) {
    tc_config config = tc_config_default();
    config.threads = 1, config.backend = "aot_eager";
    config.allocator.realloc = limited;
    tc_ctx *tc = tc_open(&config);
    tc_tensor x = matrix(tc, ROWS);
    for (int i = 0; i < 3; i++) visit(tc, "scale", x);
    CHECK_EQ(tc_profile_begin(tc), TC_OK);
    out_of_memory = 1;
    visit(tc, "scale", x);
    out_of_memory = 0;
    CHECK_EQ(tc_error(tc), TC_OK);
    const char *text = tc_profile_text(tc);
    HAS(": 0 runs of 0 kernels took ");
    HAS("; 0 events kept, 3 dropped\n");
    visit(tc, "scale", x);
    text = tc_profile_text(tc);
    ROW(SCALE "0", 1, 2 * BYTES, "interpreted");
    HAS("; 3 events kept, 3 dropped\n");
    close_context(tc);
}

// ---- the trace file ----

static char trace_path[32];

// The parsed trace file of what was profiled; NULL = reported.
static json *trace_of(tc_ctx *tc) {
    static char text[4000000];
    char wrong[120];
    strcpy(trace_path, "/tmp/tc-profile-XXXXXX");
    int file = mkstemp(trace_path);
    CHECK(file >= 0);
    CHECK_EQ(tc_profile_trace(tc, trace_path), TC_OK);
    ssize_t n = read(file, text, sizeof text - 1);
    close(file);
    unlink(trace_path);
    text[n > 0 ? n : 0] = 0;
    json *v = json_read(text, wrong);
    if (!v) FAIL("%s", wrong);
    return v;
}

static int events_of(const json *trace, const char *category) {
    const json *list = json_get(trace, "traceEvents");
    int n = 0;
    for (const json *e = list ? list->child : NULL; e; e = e->next)
        n += !strcmp(json_text(e, "cat"), category);
    return n;
}

// Every event has what the format asks for.
static void check_events(const json *trace) {
    const json *list = json_get(trace, "traceEvents");
    REQUIRE(list && list->kind == JSON_ARRAY);
    CHECK_STR(json_text(trace, "displayTimeUnit"), "ns");
    for (const json *e = list->child; e; e = e->next) {
        const char *phase = json_text(e, "ph");
        CHECK(*json_text(e, "name"));
        CHECK(json_num(e, "pid") == 1);
        CHECK(json_num(e, "tid") >= 0);
        CHECK(json_get(e, "args") && json_get(e, "args")->kind == JSON_OBJECT);
        if (!strcmp(phase, "M")) continue;
        CHECK_STR(phase, "X");
        CHECK(json_num(e, "ts") >= 0);
        CHECK(json_num(e, "dur") >= 0);
    }
}

// Whether the event is inside one of the category. Times are cut to ns: a rounding error of doubles.
static int is_inside(const json *trace, const json *e, const char *category) {
    const double rounding = 1e-6;
    const json *list = json_get(trace, "traceEvents");
    double start = json_num(e, "ts"), end = start + json_num(e, "dur");
    for (const json *o = list->child; o; o = o->next) {
        double from = json_num(o, "ts");
        if (strcmp(json_text(o, "cat"), category)) continue;
        if (from <= start + rounding && end <= from + json_num(o, "dur") + rounding)
            return 1;
    }
    return 0;
}

static void check_nesting(const json *trace, const char *inner, const char *outer) {
    const json *list = json_get(trace, "traceEvents");
    for (const json *e = list->child; e; e = e->next)
        if (!strcmp(json_text(e, "cat"), inner)) CHECK(is_inside(trace, e, outer));
}

TEST(trace_of_a_first_visit) {
    tc_ctx *tc = open_context("cpu", 1);
    tc_tensor x = matrix(tc, ROWS);
    CHECK_EQ(tc_profile_begin(tc), TC_OK);
    visit(tc, "scale", x);
    visit(tc, "scale", x);
    CHECK_EQ(tc_profile_end(tc), TC_OK);
    if (tc_stats_get(tc).fallbacks) SKIP("no compiler");
    json *trace = trace_of(tc);
    REQUIRE(trace);
    check_events(trace);
    CHECK_EQ(events_of(trace, "record"), 2);
    CHECK_EQ(events_of(trace, "passes"), 1);
    CHECK(events_of(trace, "text") >= 1);
    CHECK_EQ(events_of(trace, "compiler") + (tc_stats_get(tc).disk_hits > 0), 1);
    CHECK(events_of(trace, "load") >= 1);
    CHECK_EQ(events_of(trace, "run"), 2);
    CHECK_EQ(events_of(trace, "kernel"), 2);
    static const char *const inner[] = {"passes", "text", "compiler", "load", "run"};
    for (int i = 0; i < 5; i++) check_nesting(trace, inner[i], "record");
    check_nesting(trace, "kernel", "run");
    json_free(trace);
    close_context(tc);
}

TEST(kernels_in_the_trace) {
    tc_ctx *tc = open_context("aot_eager", 1);
    CHECK_EQ(tc_profile_begin(tc), TC_OK);
    visit(tc, "scale", tc_full(tc, TC_DIMS(ROWS, COLUMNS), 1, TC_F32));
    json *trace = trace_of(tc); // of a profile that goes on
    REQUIRE(trace);
    const json *e = json_get(trace, "traceEvents")->child;
    int seen = 0;
    for (; e; e = e->next) {
        if (strcmp(json_text(e, "name"), "k0_pointwise_mul_exp")) continue;
        const json *args = json_get(e, "args");
        CHECK_STR(json_text(e, "cat"), "kernel");
        CHECK_STR(json_text(args, "region"), "scale");
        CHECK_EQ(json_num(args, "program"), 0);
        CHECK_EQ(json_num(args, "bytes"), 2 * BYTES);
        CHECK_EQ(json_num(args, "compiled"), 0);
        CHECK_EQ(json_get(args, "compiled")->kind, JSON_BOOL);
        CHECK(json_num(args, "items") > 0);
        seen++;
    }
    CHECK_EQ(seen, 1);
    CHECK_EQ(events_of(trace, "kernel"), 1);
    json_free(trace);
    close_context(tc);
}

// Work that is worth it is shared: the worker's part is inside the kernel.
// The other thread may come too late for its part on a busy machine: it is asked again.
TEST(workers_in_the_trace) {
    tc_ctx *tc = open_context("aot_eager", 2);
    if (tc__threads(tc) < 2) SKIP("no threads");
    tc_tensor x = tc_full(tc, TC_DIMS(1024, 1024), 1, TC_F32);
    json *trace = NULL;
    for (int i = 0; i < 1000 && (!trace || !events_of(trace, "part")); i++) {
        if (trace) json_free(trace);
        CHECK_EQ(tc_profile_begin(tc), TC_OK);
        visit(tc, "scale", x);
        CHECK_EQ(tc_profile_end(tc), TC_OK);
        trace = trace_of(tc);
        REQUIRE(trace);
        check_events(trace);
    }
    CHECK_EQ(events_of(trace, "part"), 1);
    const json *e = json_get(trace, "traceEvents")->child;
    for (; e; e = e->next)
        CHECK_EQ(json_num(e, "tid"),
                 !strcmp(json_text(e, "cat"), "part") ||
                     !strcmp(json_text(json_get(e, "args"), "name"), "worker 1"));
    check_nesting(trace, "part", "kernel");
    json_free(trace);
    close_context(tc);
}

// A region that was open when the profile began is cut at its begin.
TEST(a_profile_that_begins_inside_a_region) {
    tc_ctx *tc = open_context("aot_eager", 1);
    tc_tensor x = matrix(tc, ROWS);
    tc_trace_begin(tc, "open");
    CHECK_EQ(tc_profile_begin(tc), TC_OK);
    tc_exp(x);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    CHECK_EQ(tc_profile_end(tc), TC_OK);
    json *trace = trace_of(tc);
    REQUIRE(trace);
    check_events(trace);
    CHECK_EQ(events_of(trace, "record"), 1);
    json_free(trace);
    close_context(tc);
}

static void name_in_trace(const char *name, const char *want) {
    tc_ctx *tc = open_context("aot_eager", 1);
    tc_tensor x = matrix(tc, ROWS);
    int seen = 0;
    CHECK_EQ(tc_profile_begin(tc), TC_OK);
    visit(tc, name, x);
    json *trace = trace_of(tc);
    REQUIRE(trace);
    check_events(trace);
    for (const json *e = json_get(trace, "traceEvents")->child; e; e = e->next) {
        if (strcmp(json_text(e, "cat"), "kernel")) continue;
        CHECK_STR(json_text(json_get(e, "args"), "region"), want);
        seen++;
    }
    CHECK_EQ(seen, 1);
    json_free(trace);
    close_context(tc);
}

TEST(names_of_all_kinds) {
    static const char replaced[] = "\xef\xbf\xbd"; // U+FFFD
    char want[200];
    name_in_trace("plain", "plain");
    name_in_trace("</script><b>\"&'%s\\", "</script><b>\"&'%s\\");
    name_in_trace("\a\b\n\t\x1f\x7f", "\a\b\n\t\x1f\x7f");
    name_in_trace("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80",
                  "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
    // A lone byte, a character cut short, an overlong '/', a surrogate, one beyond the last.
    snprintf(want, sizeof want, "a%s%s%s%s%s%s%s%sz", replaced, replaced, replaced,
             replaced, replaced, replaced, replaced, replaced);
    name_in_trace("a\x80\xe2\x82\xc0\xaf\xed\xa0\x80z", want);
    snprintf(want, sizeof want, "%s%s%s%s", replaced, replaced, replaced, replaced);
    name_in_trace("\xf4\x90\x80\x80", want);
}

TEST(files_that_cannot_be_written) {
    tc_ctx *tc = open_context("aot_eager", 1);
    CHECK_EQ(tc_profile_begin(tc), TC_OK);
    CHECK_EQ(tc_profile_trace_at(tc, "/nonexistent/t.json", "user.c", 77), TC_E_IO);
    CHECK_EQ(tc_error(tc), TC_E_IO);
    CHECK_STR(tc_error_text(tc), "tc_profile_trace: cannot write \"/nonexistent/t.json\": "
                                 "No such file or directory");
    CHECK_STR(tc_error_file(tc), "user.c");
    CHECK_EQ(tc_error_line(tc), 77);
    tc_error_clear(tc);
    CHECK_EQ(tc_profile_trace(tc, NULL), TC_E_NULL);
    tc_error_clear(tc);
    if (!access("/dev/full", W_OK)) {
        CHECK_EQ(tc_profile_trace(tc, "/dev/full"), TC_E_IO);
        CHECK(strstr(tc_error_text(tc), "\"/dev/full\": No space left on device"));
        tc_error_clear(tc);
    }
    close_context(tc);
}

// The reader of these tests refuses what it should.
TEST(the_reader_is_strict) {
    static const char *const bad[] = {
        "",      "{",     "[1,]",     "{\"a\":1,}", "[01]",        "[1.]",
        "[+1]",  "[.5]",  "[\"\t\"]", "[\"\\x\"]",  "nul",         "[1] 2",
        "{a:1}", "['a']", "[1 2]",    "[\"\xff\"]", "[\"\\u12\"]", "{\"a\":1,\"a\":2}",
        "[NaN]", "[\"a]", "[1e]"};
    char wrong[120];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        json *v = json_read(bad[i], wrong);
        if (v) FAIL("accepted: %s", bad[i]);
        json_free(v);
    }
    json *v = json_read("{\"a\":[1,-2.5e+3,true,null,\"\\u00e4\\n\"]}", wrong);
    CHECK(v && v->child && v->child->child->next->number == -2500);
    json_free(v);
}
