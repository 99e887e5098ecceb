// What a user can see: every channel of TC_LOGS, tc_explain, every field of tc_stats, and the
// environment variables of the manual that change what a region does.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

#include "harness.h"
#include "report.h"

#include <fcntl.h>

// ---- what was written to stderr ----

typedef struct capture {
    int saved, file;
    char text[200000];
} capture;

static capture seen;

static void capture_begin(void) {
    char path[] = "/tmp/tc-seeing-XXXXXX";
    fflush(stderr);
    seen.saved = dup(2);
    seen.file = mkstemp(path);
    unlink(path);
    CHECK(seen.saved >= 0 && seen.file >= 0 && dup2(seen.file, 2) == 2);
}

static const char *capture_end(void) {
    fflush(stderr);
    ssize_t n = pread(seen.file, seen.text, sizeof seen.text - 1, 0);
    seen.text[n > 0 ? n : 0] = 0;
    dup2(seen.saved, 2);
    close(seen.saved);
    close(seen.file);
    return seen.text;
}

// ---- a workload ----

// From here on, an empty disk cache of the test's own.
static char cache_path[] = "/tmp/tc-seeing-XXXXXX";
static void empty_cache(void) {
    test_folder_make(cache_path);
    setenv("TC_CACHE_DIR", cache_path, 1);
}

static tc_ctx *open_context(void) {
    tc_config config = tc_config_default();
    config.threads = 1;
    return tc_open(&config);
}

static void visit_softmax(tc_ctx *tc, tc_tensor x) {
    tc_trace_begin_at(tc, "scores", NULL, "seeing.c", 7);
    tc_softmax_at(tc_mul_s_at(x, 2, "seeing.c", 20), -1, "seeing.c", 21);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
}

static void visit_break(tc_ctx *tc, tc_tensor x) {
    tc_trace_begin_at(tc, "broken", NULL, "seeing.c", 8);
    tc_tensor y = tc_exp(x), s = tc_sum_all(y);
    CHECK(tc_item_at(s, "seeing.c", 99) > 0);
    tc_div(y, s);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
}

// Two kernels that cannot be one: a sum over everything, then something per element.
static void visit_two_kernels(tc_ctx *tc, tc_tensor x) {
    tc_trace_begin_at(tc, "two", NULL, "seeing.c", 9);
    tc_matmul(tc_exp(x), tc_transpose(x, 0, 1));
    CHECK_EQ(tc_trace_end(tc), TC_OK);
}

// What stderr gets from `work` with TC_LOGS=channels.
static const char *logged(const char *channels, void (*work)(tc_ctx *, tc_tensor)) {
    setenv("TC_LOGS", channels, 1);
    capture_begin();
    tc_ctx *tc = open_context();
    tc_tensor x = matrix(tc, ROWS);
    work(tc, x);
    work(tc, x);
    CHECK_EQ(tc_error(tc), TC_OK);
    tc_close(tc);
    return capture_end();
}

// ---- channels ----

TEST(silent_by_default) {
    unsetenv("TC_LOGS");
    capture_begin();
    tc_ctx *tc = open_context();
    visit_break(tc, matrix(tc, ROWS));
    tc_close(tc);
    CHECK_STR(capture_end(), "");
}

TEST(channel_graph) {
    const char *text = logged("graph", visit_softmax);
    HAS("[tcompile] graph: region \"scores\" (seeing.c:7), ");
    HAS("= input x0");
    HAS("= amax %");
    HAS("return %");
    CHECK_EQ(occurrences(text, "[tcompile] graph: "), 1); // the second visit follows
    CHECK_EQ(occurrences(text, "[tcompile] "), 1);        // no other channel
}

TEST(channel_fusion) {
    const char *text = logged("fusion", visit_softmax);
    HAS("[tcompile] fusion: 1 kernel\n");
    HAS("kernel 0: reduction, rows 8 x columns 64");
    HAS("together: ");
    HAS("over the same rows");
    CHECK_EQ(occurrences(text, "goes through memory"), 0);
    text = logged("fusion", visit_two_kernels);
    HAS("[tcompile] fusion: 2 kernels\n");
    HAS(" goes through memory to %");
    HAS(": their iteration spaces do not fit");
    CHECK_EQ(occurrences(text, "goes through memory"), 1);
}

static void two_shapes(tc_ctx *tc, tc_tensor x) {
    visit_softmax(tc, x);
    visit_softmax(tc, matrix(tc, ROWS + 1));
}

static void two_ops(tc_ctx *tc, tc_tensor x) {
    for (int k = 0; k < 2; k++) {
        tc_trace_begin_at(tc, "ops", NULL, "seeing.c", 10);
        tc_tensor y = tc_mul_s_at(x, 2, "seeing.c", 20);
        k ? tc_exp_at(y, "seeing.c", 21) : tc_log_at(y, "seeing.c", 22);
        CHECK_EQ(tc_trace_end(tc), TC_OK);
    }
}

static void two_scalars(tc_ctx *tc, tc_tensor x) {
    for (int k = 0; k < 2; k++) {
        tc_trace_begin_at(tc, "scalars", NULL, "seeing.c", 11);
        tc_mul_s_at(x, 2 + k, "seeing.c", 20);
        CHECK_EQ(tc_trace_end(tc), TC_OK);
    }
}

static void read_later(tc_ctx *tc, tc_tensor x) {
    float out[ROWS * COLUMNS];
    tc_trace_begin_at(tc, "later", NULL, "seeing.c", 12);
    tc_tensor y = tc_exp(x);
    tc_neg(y);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    CHECK_EQ(tc_read(y, out, sizeof out), TC_OK);
}

static void two_reshapes(tc_ctx *tc, tc_tensor x) {
    for (int k = 0; k < 2; k++) {
        tc_trace_begin_at(tc, "reshapes", NULL, "seeing.c", 13);
        tc_exp(tc_reshape_at(x, TC_DIMS(2 + 2 * k, -1, 1 + k), "seeing.c", 23));
        CHECK_EQ(tc_trace_end(tc), TC_OK);
    }
}

// The same ops up to one that sizes decide: a reshape that is a view of all columns alone.
static void two_ways(tc_ctx *tc, tc_tensor x) {
    for (int k = 0; k < 2; k++) {
        tc_trace_begin_at(tc, "ways", NULL, "seeing.c", 14);
        tc_tensor y = tc_narrow_at(x, 1, 0, COLUMNS - k, "seeing.c", 24);
        tc_exp(tc_reshape_at(y, TC_DIMS(-1), "seeing.c", 25));
        CHECK_EQ(tc_trace_end(tc), TC_OK);
    }
}

// [6,4] with gaps is one run of 24, which is cut otherwise each time.
static void cut_twice(tc_ctx *tc, tc_tensor x) {
    tc_tensor gaps =
        tc_narrow(tc_reshape(tc_narrow(x, 0, 0, 6), TC_DIMS(6, 8, 8)), 2, 0, 1);
    for (int k = 0; k < 2; k++) {
        tc_trace_begin_at(tc, "cuts", NULL, "seeing.c", 15);
        tc_exp(tc_reshape_at(gaps, TC_DIMS(2 + k, -1), "seeing.c", 26));
        CHECK_EQ(tc_trace_end(tc), TC_OK);
    }
}

TEST(channel_recompiles) {
    const char *text = logged("recompiles", visit_softmax);
    HAS("region \"scores\" (seeing.c:7): program for ");
    HAS(": nothing was recorded before");
    CHECK_EQ(occurrences(text, "[tcompile] recompiles: "), 1);
    text = logged("recompiles", two_shapes);
    HAS(": size 0 of x0 is s0 (now 9), was 8 (mul, ");
    CHECK_EQ(occurrences(text, "[tcompile] recompiles: "), 2);
    text = logged("recompiles", two_ops);
    HAS("step 1 is exp %0 (seeing.c:21), was log %0 (seeing.c:22)");
    text = logged("recompiles", two_scalars);
    HAS("step 0 is mul x0 arg0  x0: f32[8,64] contiguous (seeing.c:20), was mul x0 2 ");
    text = logged("recompiles", two_reshapes);
    HAS("step 0 is reshape x0 f32[");
    HAS(", was reshape x0 f32[2,256,1]  x0: f32[8,64] contiguous (seeing.c:23)");
    text = logged("recompiles", two_ways);
    HAS("step 1 is reshape %0 f32[504], a copy (seeing.c:25), was reshape %0 f32[512], a view "
        "(seeing.c:25)");
    text = logged("recompiles", cut_twice);
    HAS("; sizes stay fixed because of reshape at seeing.c:26, a reshape that shows memory for "
        "some of them, and copies it for others");
    text = logged("recompiles", read_later);
    HAS("results that were read later, or behind a break, are stored now");
}

static void negate(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_item(tc_sum_all(in[0])) > 0 ? tc_neg(in[0]) : in[0];
}

static void call_negate(tc_ctx *tc, tc_tensor x) {
    tc_tensor y;
    tc_fn *f = tc_compile(tc, negate, NULL, 0, NULL);
    CHECK_EQ(tc_call(f, &x, 1, &y, 1), TC_OK);
    tc_fn_free(f);
}

// A function is not told of as a region.
TEST(channels_name_functions) {
    const char *text = logged("recompiles,graph_breaks", call_negate);
    HAS("recompiles: function \"negate\" (");
    HAS("graph_breaks: function \"negate\": value read at ");
    HAS(": nothing was recorded behind the graph break at ");
    CHECK_EQ(occurrences(text, "region \"negate\""), 0);
}

TEST(channel_graph_breaks) {
    const char *text = logged("graph_breaks", visit_break);
    HAS("[tcompile] graph_breaks: region \"broken\"");
    HAS("seeing.c:99");
    CHECK_EQ(occurrences(text, "[tcompile] graph_breaks: "), 2); // one per visit
    CHECK_EQ(occurrences(text, "[tcompile] "), 2);
}

TEST(channel_output_code) {
    empty_cache();
    for (int warm = 0; warm < 2; warm++) { // the code shows wherever the kernel comes from
        const char *text = logged("output_code", visit_softmax);
        HAS("[tcompile] output_code: ");
        HAS("void tc_kernel_");
        HAS("const tc_kargs *");
        HAS("output_code: // k0_reduction_mul_max_sub_exp_sum_reciprocal\n"
            "//     mul at seeing.c:20\n"
            "//     softmax (amax, sub, exp, sum, reciprocal, mul) at seeing.c:21\n"
            "// tc_kernel_");
        CHECK_EQ(occurrences(text, "[tcompile] output_code: "), 1);
        CHECK_EQ(occurrences(text, "#define"), 0); // what every kernel stands behind
    }
    test_folder_remove(cache_path);
}

static void two_places(tc_ctx *tc, tc_tensor x) {
    for (int k = 0; k < 2; k++) {
        tc_trace_begin_at(tc, "here", NULL, "seeing.c", 40 + k);
        tc_exp_at(tc_add_s_at(x, 1, "seeing.c", 50 + k), "seeing.c", 60 + k);
        CHECK_EQ(tc_trace_end(tc), TC_OK);
    }
    tc_stats s = tc_stats_get(tc);
    if (!s.fallbacks) CHECK_EQ(s.kernels_made, 1); // places are no part of the text
}

// What one line made, many times.
static void one_place(tc_ctx *tc, tc_tensor x) {
    tc_trace_begin_at(tc, "chain", NULL, "seeing.c", 42);
    for (int k = 0; k < 50; k++)
        x = tc_mul_s_at(tc_sin_at(x, "seeing.c", 70), 2, "seeing.c", 70);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
}

TEST(output_code_of_equal_kernels_and_loops) {
    empty_cache();
    const char *text = logged("output_code", two_places);
    HAS("//     add at seeing.c:50\n//     exp at seeing.c:60\n");
    HAS("//     add at seeing.c:51\n//     exp at seeing.c:61\n");
    text = logged("output_code", one_place);
    HAS("//     sin x50, mul x50 at seeing.c:70\n// tc_kernel_");
    test_folder_remove(cache_path);
}

// Kernels of one program with one text: it shows once, the calls of each do.
static void one_text(tc_ctx *tc, tc_tensor x) {
    tc_tensor w = matrix(tc, COLUMNS);
    tc_trace_begin_at(tc, "layers", NULL, "seeing.c", 43);
    for (int k = 0; k < 3; k++) x = tc_matmul_at(x, w, "seeing.c", 80 + k);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
}

TEST(output_code_shows_a_text_once) {
    empty_cache();
    const char *text = logged("output_code", one_text);
    HAS("matmul at seeing.c:80\n// tc_kernel_");
    HAS("matmul at seeing.c:81\n// is tc_kernel_");
    HAS("matmul at seeing.c:82\n// is tc_kernel_");
    CHECK_EQ(occurrences(text, "TC_KERNEL void "), 1);
    CHECK_EQ(occurrences(text, ", shown already"), 2);
    test_folder_remove(cache_path);
}

TEST(channel_output_unit) {
    empty_cache();
    const char *text = logged("output_unit", visit_softmax);
    if (strstr(text, "no compiler")) SKIP("no compiler");
    HAS("[tcompile] output_unit: ");
    HAS("#define TC_KERNEL");
    HAS("TC_KERNEL void tc_kernel_");
    CHECK_EQ(occurrences(text, "[tcompile] output_unit: "), 1);
    CHECK_STR(logged("output_unit", visit_softmax), ""); // from disk: nothing is compiled
    test_folder_remove(cache_path);
}

TEST(channel_cache) {
    empty_cache();
    const char *text = logged("cache", visit_softmax);
    HAS(": not on disk");
    HAS("region \"scores\": 1 kernels, 1 to compile");
    text = logged("cache", visit_softmax);
    HAS(": from disk");
    HAS("region \"scores\": 1 kernels, 0 to compile");
    test_folder_remove(cache_path);
}

static void scale(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    static const short other = 1;
    tc_guard_bytes(tc, &other, sizeof other);
    tc_guard_bytes(tc, user, 2); // a part of what is compared already
    out[0] = tc_mul_s_at(in[0], *(const int *)user, "seeing.c", 30);
}

static void call_scale(tc_ctx *tc, tc_tensor x) {
    static int factor = 3;
    tc_fn *f =
        tc_compile_at(tc, scale, &factor, sizeof factor, NULL, "scale", "seeing.c", 13);
    tc_tensor y;
    CHECK_EQ(tc_call_at(f, &x, 1, &y, 1, "seeing.c", 31), TC_OK);
}

TEST(channel_guards) {
    const char *text = logged("guards", visit_softmax);
    CHECK_STR(text, ""); // nothing is known at run time only
    text = logged("guards", two_shapes);
    HAS("[tcompile] guards: region \"scores\", program 1: x0 f32[s0,64] contiguous (mul, ");
    HAS("[tcompile] guards: region \"scores\", program 1: s0 >= 1: size 0 of x0 (mul, ");
    CHECK_EQ(occurrences(text, "[tcompile] guards: "), 2);
    CHECK_EQ(occurrences(text, "[tcompile] "), 2);
    text = logged("guards", call_scale);
    HAS("[tcompile] guards: function \"scale\", call at seeing.c:31: arg 0 f32[8,64] "
        "contiguous\n");
    HAS("[tcompile] guards: function \"scale\", call at seeing.c:31: *user 4 bytes\n");
    HAS("[tcompile] guards: function \"scale\", call at seeing.c:31: tc_guard_bytes 2 "
        "bytes\n");
    HAS("[tcompile] guards: function \"scale\": the body runs: the first call; called at "
        "seeing.c:31\n");
    CHECK_EQ(occurrences(text, "[tcompile] guards: "), 8); // of two functions
}

TEST(channel_perf) {
    const char *text = logged("perf", read_later);
    HAS("[tcompile] perf: region \"later\", program 0: made in ");
    HAS("us: passes ");
    HAS("[tcompile] perf: region \"later\": result of ");
    HAS(" was not stored; computed again, and stored from the next visit on");
    CHECK_EQ(occurrences(text, ", program 0: made in "), 2); // once more, with that result
    CHECK_EQ(occurrences(text, " was not stored;"), 1);
}

static void visit_tuned(tc_ctx *tc, tc_tensor x) {
    tc_options o = tc_options_default();
    o.mode = "max-autotune", o.autotune_seconds = 600;
    tc_trace_begin_at(tc, "tuned", &o, "seeing.c", 14);
    tc_softmax(x, -1);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
}

TEST(channel_autotune) {
    empty_cache();
    const char *text = logged("autotune", visit_tuned);
    if (strstr(text, "no compiler")) SKIP("no compiler");
    HAS("[tcompile] autotune: region \"tuned\": ");
    HAS(" candidates compiled in ");
    HAS("[tcompile] autotune: region \"tuned\", k0_reduction_max_sub_exp_sum_reciprocal_mul: "
        "default: ");
    HAS(" is kept: ");
    CHECK_EQ(occurrences(text, " is kept: "), 1);   // the second visit measures nothing
    CHECK_STR(logged("autotune", visit_tuned), ""); // nor does another context
    test_folder_remove(cache_path);
}

TEST(every_channel_is_tested) {
    static const char *const tested[] = {
        "graph",       "recompiles", "graph_breaks", "fusion", "output_code",
        "output_unit", "cache",      "perf",         "guards", "autotune"};
    size_t n = sizeof tested / sizeof *tested;
    CHECK_EQ(TC__LOG_COUNT, n);
    for (size_t i = 0; i < n; i++) CHECK_STR(tc__log_channels[i].name, tested[i]);
}

TEST(channels_together_and_unknown_ones) {
    const char *text = logged("graph,cache", visit_softmax);
    HAS("[tcompile] graph: ");
    HAS("[tcompile] cache: ");
    text = logged("all,-graph", visit_softmax);
    CHECK_EQ(occurrences(text, "[tcompile] graph: "), 0);
    HAS("[tcompile] fusion: ");
    text = logged("grpah", visit_softmax);
    HAS("no log channel \"grpah\"; known: graph ");
}

TEST(passes_are_left_out_by_name) {
    tc_config config = tc_config_default();
    config.threads = 1, config.logs = "graph", config.passes_off = "fold, rules,nosuch";
    capture_begin();
    tc_ctx *tc = tc_open(&config);
    tc_tensor x = matrix(tc, ROWS);
    tc_trace_begin(tc, "doubled");
    tc_neg(tc_neg(x)); // which "rules" would remove
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    tc_close(tc);
    const char *text = capture_end();
    HAS("warning: no pass \"nosuch\"; gen/pass/passes.c has the list");
    CHECK_EQ(occurrences(text, "= neg "), 2);
    CHECK_EQ(occurrences(text, "no pass"), 1);
}

// ---- tc_explain ----

TEST(explain) {
    tc_ctx *tc = open_context();
    tc_tensor x = matrix(tc, ROWS);
    for (int k = 0; k < 3; k++) visit_softmax(tc, x), visit_break(tc, x);
    const char *text = tc_explain(tc);
    HAS("region \"scores\" at seeing.c:7: 3 visits");
    HAS("region \"broken\" at seeing.c:8: 3 visits");
    HAS("2 programs, 1 graph break");
    HAS("a graph break: a value is read at seeing.c:99");
    HAS("kernel 0: reduction, rows 8 x columns 64");
    HAS(" bytes in one arena, ");
    HAS("us: passes ");
    HAS("ran 3 times, ");
    HAS("all together: 6 visits, ");
    HAS("us: record ");
    CHECK_EQ(tc_error(tc), TC_OK);
    tc_close(tc);
}

// ---- tc_stats ----

#define GREW(field)   CHECK(after.field > before.field)
#define STAYED(field) CHECK_EQ(after.field, before.field)

TEST(stats_of_a_first_visit_cold_and_from_disk) {
    empty_cache();
    for (int warm = 0; warm < 2; warm++) {
        tc_ctx *tc = open_context();
        tc_tensor x = matrix(tc, ROWS);
        tc_stats before = tc_stats_get(tc);
        visit_two_kernels(tc, x);
        tc_stats after = tc_stats_get(tc);
        if (after.fallbacks) SKIP("no compiler");
        CHECK_EQ(after.visits - before.visits, 1);
        CHECK_EQ(after.records - before.records, 1);
        CHECK_EQ(after.programs - before.programs, 1);
        CHECK_EQ(after.kernel_runs - before.kernel_runs, 2);
        CHECK_EQ(after.kernels_made - before.kernels_made, 2);
        GREW(record_ns), GREW(pass_ns), GREW(emit_ns), GREW(load_ns), GREW(run_ns);
        GREW(bytes), GREW(peak_bytes), GREW(allocations);
        GREW(arena_bytes), GREW(unplanned_bytes);
        CHECK_EQ(after.disk_hits - before.disk_hits, warm ? 2 : 0);
        CHECK_EQ(after.disk_misses - before.disk_misses, warm ? 0 : 2);
        // One unit for each size of vectors, of which the kernels of AVX-512 have two.
        CHECK_EQ(after.compiles > before.compiles, !warm);
        CHECK(after.compiles - before.compiles <= 2);
        CHECK_EQ(after.cc_ns > before.cc_ns, !warm);
        STAYED(program_hits), STAYED(memory_hits), STAYED(eager_ops), STAYED(graph_breaks);
        tc_close(tc);
    }
    test_folder_remove(cache_path);
}

TEST(stats_of_a_known_visit) {
    tc_ctx *tc = open_context();
    tc_tensor x = matrix(tc, ROWS);
    for (int k = 0; k < 6; k++) visit_break(tc, x); // a break settles after some
    tc_stats before = tc_stats_get(tc);
    visit_break(tc, x);
    tc_stats after = tc_stats_get(tc);
    CHECK_EQ(after.visits - before.visits, 1);
    CHECK_EQ(after.graph_breaks - before.graph_breaks, 1);
    CHECK_EQ(after.program_hits - before.program_hits, 2); // before the break, after it
    GREW(record_ns), GREW(run_ns), GREW(kernel_runs);
    STAYED(records), STAYED(programs), STAYED(kernels_made), STAYED(compiles);
    STAYED(pass_ns), STAYED(emit_ns), STAYED(cc_ns), STAYED(load_ns);
    STAYED(bytes), STAYED(arena_bytes);
    CHECK_EQ(tc_item(tc_sum_all(x)), ROWS * COLUMNS / 2);
    GREW(visits);
    before = after, after = tc_stats_get(tc);
    GREW(eager_ops), GREW(run_ns), GREW(pass_ns);
    STAYED(visits);
    tc_close(tc);
}

TEST(stats_of_equal_kernels) {
    tc_ctx *tc = open_context();
    tc_tensor x = matrix(tc, ROWS);
    visit_softmax(tc, x);
    tc_stats before = tc_stats_get(tc);
    tc_trace_begin(tc, "the same again");
    tc_softmax(tc_mul_s(x, 2), -1);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    tc_stats after = tc_stats_get(tc);
    if (after.fallbacks) SKIP("no compiler");
    CHECK_EQ(after.memory_hits - before.memory_hits, 1);
    STAYED(kernels_made), STAYED(disk_hits), STAYED(disk_misses), STAYED(compiles);
    GREW(programs);
    tc_close(tc);
}

TEST(stats_of_a_search) {
    empty_cache();
    tc_ctx *tc = open_context();
    tc_tensor x = matrix(tc, ROWS);
    tc_stats before = tc_stats_get(tc);
    visit_tuned(tc, x);
    tc_stats after = tc_stats_get(tc);
    if (after.fallbacks) SKIP("no compiler");
    CHECK_EQ(after.autotuned - before.autotuned, 1);
    CHECK_EQ(after.kernels_made - before.kernels_made, 1); // candidates do not count,
    CHECK(after.compiles - before.compiles >= 2);          // but the compiler worked
    CHECK_EQ(after.kernel_runs - before.kernel_runs, 1);
    CHECK_EQ(after.disk_misses - before.disk_misses, 1);
    GREW(autotune_ns), GREW(run_ns), GREW(record_ns);
    STAYED(disk_hits), STAYED(memory_hits);
    before = after;
    visit_tuned(tc, x);
    after = tc_stats_get(tc);
    STAYED(autotuned), STAYED(autotune_ns), STAYED(compiles);
    CHECK_EQ(after.kernel_runs - before.kernel_runs, 1);
    tc_close(tc);
    test_folder_remove(cache_path);
}

TEST(stats_of_a_fallback) {
    setenv("CC", "/nonexistent/cc", 1);
    tc_config config = tc_config_default();
    tc_logger quiet = {NULL, NULL};
    capture_begin();
    config.logger = quiet;
    tc_ctx *tc = tc_open(&config);
    visit_softmax(tc, matrix(tc, ROWS));
    tc_stats after = tc_stats_get(tc);
    tc_close(tc);
    const char *text = capture_end();
    HAS("[tcompile] warning: no compiler can be used; kernels run in the interpreter");
    HAS("there is no \"/nonexistent/cc\"; set CC");
    CHECK_EQ(after.fallbacks, 1);
    CHECK_EQ(after.compiles, 0);
}

// Planned memory is less than memory of its own for each intermediate, and dies with its program.
TEST(stats_of_memory) {
    tc_ctx *tc = open_context();
    tc_tensor x = matrix(tc, ROWS), w = matrix(tc, COLUMNS);
    tc_trace_begin(tc, "chain");
    for (int k = 0; k < 5; k++) x = tc_matmul(x, w);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    tc_stats s = tc_stats_get(tc);
    CHECK_EQ(s.unplanned_bytes, 4 * (ROWS * COLUMNS * 4 + TC__SLAB_SLACK));
    CHECK(s.arena_bytes >= 2 * ROWS * COLUMNS * 4 &&
          s.arena_bytes < s.unplanned_bytes / 2 + 512);
    CHECK(s.peak_bytes >= s.bytes && s.bytes > 0);
    tc_close(tc);
}

// ---- environment ----

TEST(tc_disable) {
    for (int off = 0; off < 2; off++) {
        setenv("TC_DISABLE", off ? "1" : "0", 1);
        tc_ctx *tc = open_context();
        tc_tensor x = matrix(tc, ROWS);
        uint64_t eager = tc_stats_get(tc).eager_ops;
        tc_trace_begin(tc, "maybe");
        tc_tensor y = tc_add_s(x, 1);
        CHECK_EQ(tc_item(tc_amax(tc_reshape(y, TC_DIMS(ROWS * COLUMNS)), 0)), 1.5);
        CHECK_EQ(tc_trace_end(tc), TC_OK);
        tc_stats s = tc_stats_get(tc);
        CHECK_EQ(s.visits, !off);
        CHECK_EQ(s.graph_breaks, !off);
        CHECK_EQ(s.eager_ops > eager, off);
        CHECK_EQ(tc_error(tc), TC_OK);
        tc_close(tc);
    }
}

TEST(tc_backend_and_threads) {
    setenv("TC_BACKEND", "aot_eager", 1);
    setenv("TC_THREADS", "3", 1);
    tc_ctx *tc = tc_open(NULL);
    CHECK_EQ(tc__threads(tc), TC__THREADS ? 3 : 1);
    visit_softmax(tc, matrix(tc, ROWS));
    CHECK(strstr(tc_explain(tc), "runs in the interpreter"));
    CHECK_EQ(tc_stats_get(tc).kernels_made, 0);
    tc_close(tc);
}

TEST(graphs_are_verified_in_the_tests) { CHECK_EQ(TC__DEBUG, 1); }
