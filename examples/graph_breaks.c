// A branch on data inside a region, the log of what that does, and how to forbid it.
//
// Build: cc -O2 -I. examples/graph_breaks.c -o graph_breaks -lm -lpthread -ldl
// Prints the log lines of four visits: the first takes one branch, the second the other,
// each gets a program of its own; from the third on nothing is compiled. Then the error
// that `fullgraph` makes of the break, with the line of the read. Exit status 1 if anything
// is not as said.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { N = 1000 };

static void print_log(void *user, int level, const char *channel, const char *text) {
    (void)user, (void)level;
    printf("    [%s] %s\n", channel, text);
}

// tanh(x), of x scaled back to norm 10 if it is longer. C's own `if` decides.
static tc_tensor clipped(tc_tensor x) {
    tc_tensor norm = tc_sqrt(tc_sum_all(tc_square(x)));
    if (tc_item(norm) >
        10) // a graph break: the norm is computed here, then recording goes on
        x = tc_mul(x, tc_rdiv_s(norm, 10));
    return tc_tanh(x);
}

// The same without a break: the decision becomes data.
static tc_tensor clipped_whole(tc_tensor x) {
    tc_tensor norm = tc_sqrt(tc_sum_all(tc_square(x)));
    return tc_tanh(tc_mul(x, tc_minimum_s(tc_rdiv_s(norm, 10), 1)));
}

static double reference(float size) {
    double norm = size * sqrt((double)N);
    return tanh(norm > 10 ? size * 10 / norm : size);
}

// One visit of the region with a vector of N equal elements; 1 if the result is right.
static int visit(tc_ctx *tc, float size) {
    float got[N];
    printf("visit with %d elements %g:\n", N, (double)size);
    tc_tensor x = tc_full(tc, TC_DIMS(N), size, TC_F32);
    tc_trace_begin(tc, "clipped");
    tc_tensor y = clipped(x);
    tc_trace_end(tc);
    if (tc_read(y, got, sizeof got)) return 0;
    printf("    result %.4f\n", (double)got[0]);
    tc_free(x);
    return fabs(got[0] - reference(size)) < 1e-6;
}

// The same under fullgraph; 1 if the break is an error that names this file.
static int refused(tc_ctx *tc) {
    tc_options o = tc_options_default();
    o.fullgraph = 1;
    tc_tensor x = tc_full(tc, TC_DIMS(N), 1, TC_F32);
    tc_trace_begin_with(tc, "clipped, whole graph", &o);
    clipped(x);
    tc_status status = tc_trace_end(tc);
    printf("fullgraph: %s at %s:%d\n    %s\n", tc_status_name(status), tc_error_file(tc),
           tc_error_line(tc), tc_error_text(tc));
    int ok = status != TC_OK && strstr(tc_error_file(tc), "graph_breaks");
    tc_error_clear(tc);
    return ok;
}

// And the way out.
static int accepted(tc_ctx *tc) {
    tc_options o = tc_options_default();
    o.fullgraph = 1;
    tc_tensor x = tc_full(tc, TC_DIMS(N), 1, TC_F32);
    float got[N];
    tc_trace_begin_with(tc, "clipped, no break", &o);
    tc_tensor y = clipped_whole(x);
    tc_trace_end(tc);
    int ok = tc_read(y, got, sizeof got) == TC_OK && fabs(got[0] - reference(1)) < 1e-6;
    printf("fullgraph without a branch: %s\n", ok ? "ok" : tc_error_text(tc));
    return ok;
}

int main(void) {
    tc_config config = tc_config_default();
    config.logs = "graph_breaks,recompiles";
    config.logger.log = print_log;
    tc_ctx *tc = tc_open(&config);
    if (!tc) return 1;

    int ok = visit(tc, 0.01f) & visit(tc, 2.0f);
    tc_stats before = tc_stats_get(tc);
    ok &= visit(tc, 0.02f) & visit(tc, 3.0f);
    tc_stats after = tc_stats_get(tc);
    printf("one program before the branch and one behind each side of it: %d;\n"
           "%d breaks in 4 visits, nothing compiled in the last two\n",
           (int)before.programs, (int)after.graph_breaks);
    ok &= before.programs == 3 && after.compiles == before.compiles;
    ok &= after.graph_breaks == 4 && !tc_error(tc);

    ok &= refused(tc);
    ok &= accepted(tc);
    tc_close(tc);
    return !ok;
}
