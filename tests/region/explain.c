// tc_explain and tc_explain_counts: programs, paths, guards, entries, breaks. What must stand in the
// text is counted by hand from the code of each test.
#include "tcompile.h"

#include "harness.h"
#include "report.h"

static tc_ctx *open_context(void) {
    tc_config config = tc_config_default();
    config.threads = 1, config.backend = "aot_eager";
    return tc_open(&config);
}

static void expect_counts(tc_explanation e, int graphs, int breaks, int programs,
                          int kernels, int ops, int guards, int line) {
    int want[6], got[6];
    want[0] = graphs, want[1] = breaks, want[2] = programs;
    want[3] = kernels, want[4] = ops, want[5] = guards;
    got[0] = e.graphs, got[1] = e.breaks, got[2] = e.programs;
    got[3] = e.kernels, got[4] = e.ops, got[5] = e.guards;
    static const char *const name[] = {"graphs",  "breaks", "programs",
                                       "kernels", "ops",    "guards"};
    for (int i = 0; i < 6; i++)
        if (got[i] != want[i])
            test_fail(__FILE__, line, "%s: %d, not %d", name[i], got[i], want[i]);
}
#define COUNTS(name, ...) expect_counts(tc_explain_counts(tc, name), __VA_ARGS__, __LINE__)

// ---- regions ----

static void visit_scale(tc_ctx *tc, tc_tensor x, double factor) {
    tc_trace_begin_at(tc, "scale", NULL, "user.c", 5);
    tc_tensor y = tc_mul_s_at(x, factor, "user.c", 6);
    tc_exp_at(y, "user.c", 7);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
}

TEST(nothing_has_run) {
    tc_ctx *tc = open_context();
    CHECK_STR(tc_explain(tc), "no region has run\n");
    COUNTS(NULL, 0, 0, 0, 0, 0, 0);
    COUNTS("scale", 0, 0, 0, 0, 0, 0);
    expect_counts(tc_explain_counts(NULL, NULL), 0, 0, 0, 0, 0, 0, __LINE__);
    CHECK(strstr(tc_error_text(tc), "tc_explain_counts: the ") != NULL);
    tc_error_clear(tc);
    CHECK_STR(tc_explain(NULL), "");
    CHECK(strstr(tc_error_text(tc), "tc_explain: the ") != NULL);
    tc_error_clear(tc);
    close_context(tc);
}

TEST(one_program_for_its_sizes) {
    tc_ctx *tc = open_context();
    for (int i = 0; i < 3; i++) visit_scale(tc, matrix(tc, ROWS), 2);
    const char *text = tc_explain(tc);
    HAS("region \"scale\" at user.c:5: 3 visits, 1 path, 1 program, 0 graph breaks\n");
    HAS("program 0 at step 2, the end of the region\n");
    HAS("    x0 f32[8,64] contiguous (mul, user.c:6)\n");
    HAS("    runs in the interpreter as k0_pointwise_mul_exp\n");
    HAS("ran 3 times, ");
    COUNTS("scale", 1, 0, 1, 1, 2, 1);
    COUNTS(NULL, 1, 0, 1, 1, 2, 1);
    COUNTS("scales", 0, 0, 0, 0, 0, 0);
    close_context(tc);
}

// Both programs are listed, with their own runs, whichever ran last.
TEST(all_programs_of_a_region) {
    tc_ctx *tc = open_context();
    visit_scale(tc, matrix(tc, ROWS), 2);
    for (int i = 1; i < 5; i++) visit_scale(tc, matrix(tc, ROWS + i), 2 + i);
    visit_scale(tc, matrix(tc, ROWS), 2);
    const char *text = tc_explain(tc);
    HAS("region \"scale\" at user.c:5: 6 visits, 2 paths, 2 programs, 0 graph breaks\n");
    HAS("program 0 at step 2,");
    HAS("ran 2 times, ");
    HAS("program 1 at step 2,");
    HAS("    x0 f32[s0,64] contiguous (mul, user.c:6)\n");
    HAS("    s0 >= 1: size 0 of x0 (mul, user.c:6)\n");
    HAS("    arg0 a value (mul, user.c:6)\n");
    HAS("ran 4 times, ");
    HAS(" us each; the last time with s0=12 arg0=6\n");
    CHECK(strstr(text, "program 0 at") < strstr(text, "program 1 at"));
    COUNTS("scale", 2, 0, 2, 2, 4, 1 + 3);
    close_context(tc);
}

// A program that is made again, because a result was read later, keeps its number.
TEST(programs_keep_their_number) {
    float out[ROWS * COLUMNS];
    tc_ctx *tc = open_context();
    for (int i = 0; i < 2; i++) {
        tc_trace_begin_at(tc, "later", NULL, "user.c", 8);
        tc_tensor y = tc_exp(matrix(tc, ROWS));
        tc_neg(y);
        CHECK_EQ(tc_trace_end(tc), TC_OK);
        CHECK_EQ(tc_read(y, out, sizeof out), TC_OK);
    }
    const char *text = tc_explain(tc);
    HAS("program 0 at step 3,");
    HAS("ran 1 time, ");
    CHECK_EQ(occurrences(text, "\nprogram "), 1);
    CHECK_EQ(tc_stats_get(tc).programs, 2);
    close_context(tc);
}

TEST(graph_breaks_with_what_is_read) {
    tc_ctx *tc = open_context();
    tc_tensor x = matrix(tc, ROWS);
    for (int i = 0; i < 6; i++) { // until every value behind the break is stored before it
        tc_trace_begin_at(tc, "broken", NULL, "user.c", 9);
        tc_tensor s = tc_sum_all_at(x, "user.c", 10);
        CHECK(tc_item_at(s, "user.c", 11) > 0);
        tc_div_at(x, s, "user.c", 12);
        CHECK_EQ(tc_trace_end(tc), TC_OK);
    }
    const char *text = tc_explain(tc);
    HAS("region \"broken\" at user.c:9: 6 visits, 1 path, 2 programs, 1 graph break\n");
    HAS("a graph break: a value is read at user.c:11, of ");
    HAS("the end of the region\n");
    tc_explanation e = tc_explain_counts(tc, "broken");
    CHECK_EQ(e.graphs, 1);
    CHECK_EQ(e.breaks, 1);
    CHECK_EQ(e.programs, 2);
    close_context(tc);
}

// Two marked sizes that have to be equal, and one that must be large enough.
TEST(conditions_with_their_line) {
    tc_ctx *tc = open_context();
    tc_tensor x = matrix(tc, ROWS), y = matrix(tc, ROWS);
    CHECK_EQ(tc_mark_dynamic(x, 0, 2, 100), TC_OK);
    CHECK_EQ(tc_mark_dynamic(y, 0, 4, 100), TC_OK);
    tc_trace_begin_at(tc, "conditions", NULL, "user.c", 13);
    tc_tensor z = tc_add_at(x, y, "user.c", 14);
    tc_pad_at(z, TC_DIMS(-7, 0), TC_DIMS(0, 0), 0, "user.c", 15);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    const char *text = tc_explain(tc);
    HAS("    2 <= s0 <= 100: size 0 of x0 (add, user.c:14)\n");
    HAS("    4 <= s1 <= 100: size 0 of x1 (add, user.c:14)\n");
    CHECK(strstr(text, "    s0 == s1 (add, user.c:14)\n") ||
          strstr(text, "    s1 == s0 (add, user.c:14)\n"));
    CHECK(strstr(text, "    s0 - 7 >= 0 (pad, user.c:15)\n") ||
          strstr(text, "    s1 - 7 >= 0 (pad, user.c:15)\n"));
    close_context(tc);
}

TEST(memory_that_is_shared_and_strided) {
    tc_ctx *tc = open_context();
    tc_tensor x = matrix(tc, ROWS), y = tc_t(x);
    tc_trace_begin_at(tc, "views", NULL, "user.c", 16);
    tc_exp_at(x, "user.c", 17);
    tc_log_at(y, "user.c", 18);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    const char *text = tc_explain(tc);
    HAS("    x0 f32[8,64] contiguous (exp, user.c:17)\n");
    HAS("    x1 f32[64,8] strides [1,64], shares memory with x0 (log, user.c:18)\n");
    close_context(tc);
}

// ---- functions ----

typedef struct settings {
    int power;
    int limit; // of which tc_guard_bytes guards half
    tc_tensor w;
} settings;

static void weigh(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    const settings *s = (const settings *)user;
    tc_guard_bytes(tc, &s->limit, 2);
    tc_tensor y = tc_mul_at(in[0], s->w, "user.c", 20);
    for (int i = 1; i < s->power; i++) y = tc_mul_at(y, y, "user.c", 21);
    out[0] = tc_add_at(y, in[1], "user.c", 22);
}

static tc_fn *weigh_fn(tc_ctx *tc, settings *s) {
    return tc_compile_at(tc, weigh, s, sizeof s->power, NULL, "weigh", "user.c", 19);
}

static void call_weigh(tc_fn *f, tc_tensor a, tc_tensor b) {
    tc_tensor in[2], y;
    in[0] = a, in[1] = b;
    CHECK_EQ(tc_call_at(f, in, 2, &y, 1, "user.c", 23), TC_OK);
}

TEST(entries_with_their_guards_and_calls) {
    tc_ctx *tc = open_context();
    settings s = {2, 10, {0}};
    s.w = matrix(tc, 1);
    tc_fn *f = weigh_fn(tc, &s);
    tc_tensor a = matrix(tc, ROWS), b = matrix(tc, ROWS);
    for (int i = 0; i < 5; i++) call_weigh(f, a, b); // the first two run the body
    call_weigh(f, a, a);
    for (int i = 0; i < 3; i++) call_weigh(f, tc_t(tc_t(a)), a);
    const char *text = tc_explain(tc);
    HAS("function \"weigh\" at user.c:19: ");
    HAS("    3 entries, 4 calls served without the body\n");
    HAS("entry 0: 1 call skipped the body and ran program 2\n"
        "    arg 0 f32[8,64] contiguous\n"
        "    arg 1 f32[8,64] contiguous\n"
        "    arg 1 shares memory with arg 0\n"
        "    captured 0 f32[1,64] contiguous\n"
        "    *user 4 bytes\n"
        "    tc_guard_bytes 2 bytes\n");
    HAS("entry 1: 0 calls skipped the body and ran program 1; the next one runs it once "
        "more, to compare\n"
        "    arg 0 f32[8,64] contiguous\n"
        "    arg 1 f32[8,64] contiguous\n"
        "    arg 1 is arg 0\n");
    HAS("entry 2: 3 calls skipped the body and ran program 0\n"
        "    arg 0 f32[8,64] contiguous\n"
        "    arg 1 f32[8,64] contiguous\n"
        "    captured 0 f32[1,64] contiguous\n");
    HAS("    the body ran last because: the second call re-runs the body; called at "
        "user.c:23\n");
    HAS("    x1 f32[1,64] contiguous (mul, user.c:20)\n");
    HAS("calls of functions: 9, 4 without the body\n");
    // Entries: 3 tensors, *user, tc_guard_bytes each; a shared or equal tensor in two of them.
    // Programs: 3 externals each, but 2 where arg 1 is arg 0.
    tc_explanation e = tc_explain_counts(tc, "weigh");
    CHECK_EQ(e.guards, 3 * 5 + 2 + 3 + 3 + 2);
    CHECK_EQ(e.programs, 3);
    close_context(tc);
}

// The short cut counts as the long way does.
TEST(calls_of_the_short_cut) {
    tc_ctx *tc = open_context();
    settings s = {1, 0, {0}};
    s.w = matrix(tc, ROWS);
    tc_fn *f = weigh_fn(tc, &s);
    tc_tensor a = matrix(tc, ROWS), b = matrix(tc, ROWS);
    for (int i = 0; i < 100; i++) {
        tc_scope_begin(tc);
        call_weigh(f, a, b);
        tc_scope_end(tc);
    }
    const char *text = tc_explain(tc);
    HAS("    1 entry, 98 calls served without the body\n");
    HAS("entry 0: 98 calls skipped the body and ran program 0\n");
    HAS("ran 100 times, ");
    close_context(tc);
}

static void guess(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)user;
    double s = tc_item_at(tc_sum_all(in[0]), "user.c", 25);
    out[0] = tc_mul_s(in[0], s);
    (void)tc;
}

TEST(functions_that_are_not_skipped) {
    tc_ctx *tc = open_context();
    tc_fn *f = tc_compile_at(tc, guess, NULL, 0, NULL, "guess", "user.c", 24);
    tc_tensor x = matrix(tc, ROWS), y;
    for (int i = 0; i < 3; i++) CHECK_EQ(tc_call(f, &x, 1, &y, 1), TC_OK);
    const char *text = tc_explain(tc);
    HAS("function \"guess\" at user.c:24: 3 visits, 1 path, 2 programs, 1 graph break\n");
    HAS("    0 entries, 0 calls served without the body\n");
    HAS("    its body is not skipped: it reads a value (tc_item, tc_read, tc_print), or calls "
        "the host\n");
    HAS("a graph break: a value is read at user.c:25, of ");
    close_context(tc);
}

// ---- what a text must survive ----

TEST(a_name_with_everything) {
    static const char name[] = "</script><b>\"&'%s%n\\";
    tc_ctx *tc = open_context();
    tc_trace_begin_at(tc, name, NULL, "%d", 1);
    tc_exp(matrix(tc, ROWS));
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    const char *text = tc_explain(tc);
    HAS("region \"</script><b>\"&'%s%n\\\" at %d:1: 1 visit, ");
    CHECK_EQ(tc_explain_counts(tc, name).programs, 1);
    close_context(tc);
}

// Regions of one name at two places count together; a reset forgets both.
TEST(names_are_no_identities) {
    tc_ctx *tc = open_context();
    tc_tensor x = matrix(tc, ROWS);
    for (int i = 0; i < 2; i++) {
        tc_trace_begin_at(tc, "twin", NULL, "user.c", 30 + i);
        i ? tc_exp(x) : tc_log(x);
        CHECK_EQ(tc_trace_end(tc), TC_OK);
    }
    COUNTS("twin", 2, 0, 2, 2, 2, 2);
    CHECK_EQ(tc_reset(tc), TC_OK);
    COUNTS(NULL, 0, 0, 0, 0, 0, 0);
    CHECK_STR(tc_explain(tc), "no region has run\n");
    close_context(tc);
}

// An open region, and one that failed, are no danger.
TEST(open_and_failed_regions) {
    tc_ctx *tc = open_context();
    tc_tensor x = matrix(tc, ROWS);
    tc_trace_begin_at(tc, "open", NULL, "user.c", 40);
    tc_exp(x);
    const char *text = tc_explain(tc);
    HAS("region \"open\" at user.c:40: 1 visit, 0 paths, 0 programs, 0 graph breaks\n");
    tc_matmul(x, x); // [8, 64] by [8, 64]
    CHECK_EQ(tc_error(tc), TC_E_SHAPE);
    tc_error_clear(tc);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    COUNTS("open", 1, 0, 1, 1, 1, 1);
    close_context(tc);
}

// ---- the summary ----

TEST(the_summary_comes_first) {
    tc_ctx *tc = open_context();
    visit_scale(tc, matrix(tc, ROWS), 2);
    for (int i = 0; i < 2; i++) visit_scale(tc, matrix(tc, ROWS), 2);
    const char *text = tc_explain(tc);
    CHECK(!strncmp(text, "summary\n", 8));
    HAS("    1 region and 0 functions, recorded or followed 3 times: 2 ops became 1 fused "
        "kernel in 1 program\n");
    HAS("    memory: ");
    HAS("    time: ");
    HAS("    next: nothing is in the way.");
    CHECK_EQ(occurrences(text, "graph break: "), 0);
    CHECK_EQ(occurrences(text, "compiled again: "), 0);
    CHECK(strstr(text, "\n\n") < strstr(text, "region \"scale\" at user.c:5"));
    close_context(tc);
}

// Breaks and what was compiled again, each with its place and its reason; at most four of a kind.
TEST(the_summary_tells_of_breaks_and_recompiles) {
    tc_ctx *tc = open_context();
    tc_tensor x = matrix(tc, ROWS);
    for (int i = 0; i < 3; i++) visit_scale(tc, matrix(tc, ROWS + i), 2);
    tc_trace_begin_at(tc, "broken", NULL, "user.c", 9);
    for (int i = 0; i < 6; i++)
        CHECK(tc_item_at(tc_sum_all_at(x, "user.c", 10), "user.c", 20 + i) > 0);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    const char *text = tc_explain(tc);
    HAS("    compiled again: region \"scale\" (user.c:5) took 2 ways; the last new one "
        "because size 0 of x0 is s0 (now 9), was 8 (mul, user.c:6)\n");
    HAS("    graph break: region \"broken\" (user.c:9) reads a value at user.c:2");
    CHECK_EQ(occurrences(text, "    graph break: region"), 4);
    HAS("    and 2 graph breaks more, below\n");
    HAS("    next: read values behind tc_trace_end where you can");
    CHECK(!strstr(text, "nothing is in the way"));
    close_context(tc);
}

// A region whose visits never repeat is named.
TEST(the_summary_names_what_is_restless) {
    tc_ctx *tc = open_context();
    tc_tensor x = matrix(tc, ROWS);
    for (int i = 1; i < 8; i++) {
        tc_tensor y = x;
        tc_trace_begin_at(tc, "grows", NULL, "user.c", 30);
        for (int k = 0; k < i; k++) y = tc_exp_at(y, "user.c", 31);
        CHECK_EQ(tc_trace_end(tc), TC_OK);
    }
    const char *text = tc_explain(tc);
    HAS("    next: visits of region \"grows\" (user.c:30) hardly ever repeat");
    close_context(tc);
}

// The calls behind each kernel.
TEST(kernels_name_their_calls) {
    tc_ctx *tc = open_context();
    tc_trace_begin_at(tc, "two", NULL, "user.c", 40);
    tc_tensor y = tc_softmax_at(matrix(tc, ROWS), -1, "user.c", 41);
    tc_relu_at(tc_matmul_at(y, matrix(tc, COLUMNS), "user.c", 42), "user.c", 42);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    const char *text = tc_explain(tc);
    HAS("    of softmax (amax, sub, exp, sum, reciprocal, mul) at user.c:41\n");
    HAS("    of matmul, relu at user.c:42\n");
    close_context(tc);
}
