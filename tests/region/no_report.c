// TC_NO_REPORT: what is left out says so, by its own name and at its caller's line, and harms nothing;
// programs run as ever, compiled or not. Results are from plain C.
#define TC_NO_REPORT
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

#include "harness.h"

enum { COUNT = 1000 };

// The error of the call before: left out, and no other one.
static void expect_left_out(tc_ctx *tc, const char *call, int line) {
    char text[100];
    snprintf(text, sizeof text, "%s: it is left out by TC_NO_REPORT; compile without that",
             call);
    if (tc_error(tc) != TC_E_UNSUPPORTED || strcmp(tc_error_text(tc), text))
        test_fail(__FILE__, line, "%s: %d, %s", call, (int)tc_error(tc), tc_error_text(tc));
    tc_error_clear(tc);
}
#define LEFT_OUT(call) expect_left_out(tc, call, __LINE__)

TEST(reports_are_errors) {
    tc_ctx *tc = tc_open(NULL);
    CHECK_STR(tc_explain(tc), "");
    LEFT_OUT("tc_explain");
    CHECK_EQ(tc_explain_counts(tc, NULL).programs, 0);
    LEFT_OUT("tc_explain_counts");
    CHECK(!tc_region_source(tc, "scale"));
    LEFT_OUT("tc_region_source");
    CHECK_EQ(tc_region_kernels(tc, "scale"), 0);
    LEFT_OUT("tc_region_kernels");
    CHECK_EQ(tc_explain_html_at(tc, "never.html", "user.c", 7), TC_E_UNSUPPORTED);
    CHECK_STR(tc_error_file(tc), "user.c");
    CHECK_EQ(tc_error_line(tc), 7);
    LEFT_OUT("tc_explain_html");
    tc_close(tc);
}

TEST(the_profiler_is_an_error) {
    tc_ctx *tc = tc_open(NULL);
    CHECK_EQ(tc_profile_begin(tc), TC_E_UNSUPPORTED);
    LEFT_OUT("tc_profile_begin");
    CHECK_EQ(tc_profile_end(tc), TC_E_UNSUPPORTED);
    LEFT_OUT("tc_profile_end");
    CHECK_STR(tc_profile_text(tc), "");
    LEFT_OUT("tc_profile_text");
    CHECK_EQ(tc_profile_trace_at(tc, "never.json", "user.c", 8), TC_E_UNSUPPORTED);
    CHECK_EQ(tc_error_line(tc), 8);
    LEFT_OUT("tc_profile_trace");
    tc_close(tc);
}

TEST(no_context_is_none) {
    CHECK_STR(tc_explain(NULL), "");
    CHECK_STR(tc_profile_text(NULL), "");
    CHECK_EQ(tc_profile_begin(NULL), TC_E_NULL);
    CHECK_EQ(tc_explain_html(NULL, "never.html"), TC_E_NULL);
    CHECK(!tc_region_source(NULL, "scale"));
}

static void expect_scaled(tc_ctx *tc, const tc_options *o, int runs, tc_status status) {
    float in[COUNT], out[COUNT];
    for (int i = 0; i < COUNT; i++) in[i] = (float)(i - 500) * 0.25f;
    for (int run = 0; run < runs; run++) {
        tc_scope_begin(tc);
        tc_tensor x = tc_from_data(tc, in, TC_DIMS(COUNT), TC_F32);
        tc_status began = tc_trace_begin_with(tc, "scale", o);
        CHECK_EQ(began, status);
        tc_tensor y = tc_relu(tc_add_s(tc_mul_s(x, 3), 1));
        if (began == TC_OK) CHECK_EQ(tc_trace_end(tc), TC_OK);
        if (began == TC_OK) CHECK_EQ(tc_read(y, out, sizeof out), TC_OK);
        for (int i = 0; i < COUNT && began == TC_OK; i++) {
            float want = in[i] * 3 + 1; // exact
            CHECK_EQ(out[i] == (want > 0 ? want : 0), 1);
        }
        tc_scope_end(tc);
    }
}

TEST(programs_run) {
    static const char *const backends[] = {"eager", "aot_eager", "cpu"};
    for (int i = 0; i < 3; i++) {
        tc_config config = tc_config_default();
        config.backend = backends[i];
        tc_ctx *tc = tc_open(&config);
        expect_scaled(tc, NULL, 3, TC_OK);
        CHECK_EQ(tc_error(tc), TC_OK);
        tc_close(tc);
    }
}

static char warned[200];

static void keep_warning(void *user, int level, const char *channel, const char *text) {
    (void)channel;
    if (level == 1) ++*(int *)user, snprintf(warned, sizeof warned, "%s", text);
}

// Of the environment it is warned of once, and the default runs.
TEST(a_mode_of_the_environment_is_ignored) {
    int warnings = 0;
    tc_config config = tc_config_default();
    config.logger.log = keep_warning, config.logger.user = &warnings;
    setenv("TC_MODE", "max-autotune", 1);
    tc_ctx *tc = tc_open(&config);
    unsetenv("TC_MODE");
    expect_scaled(tc, NULL, 3, TC_OK);
    CHECK_EQ(tc_error(tc), TC_OK);
    CHECK_EQ(warnings, 1);
    CHECK(strstr(warned, "TC_MODE=\"max-autotune\" is ignored"));
    CHECK(strstr(warned, "TC_NO_REPORT"));
    tc_options o = tc_options_default();
    o.mode = "max-autotune";
    expect_scaled(tc, &o, 1, TC_E_UNSUPPORTED);
    tc_close(tc);
}

TEST(a_mode_that_tunes_is_an_error) {
    tc_ctx *tc = tc_open(NULL);
    tc_options o = tc_options_default();
    o.mode = "reduce-overhead";
    expect_scaled(tc, &o, 2, TC_OK);
    o.mode = "max-autotune";
    expect_scaled(tc, &o, 1, TC_E_UNSUPPORTED);
    CHECK(
        strstr(tc_error_text(tc), "mode \"max-autotune\": it is left out by TC_NO_REPORT"));
    tc_close(tc);
}
