// What C's own `if` and memory behind pointers do to compiled code: a branch on data inside a region,
// a function that is demoted because it reads what nobody guards, and the same function guarded.
//
// Build: cc -O2 -I. examples/control_flow.c -o control_flow -lm -lpthread -ldl
// Prints for each visit of the region which branch it took and what was compiled for it: the part
// before the branch, then each side once, then nothing more. Then for both functions how often the
// body ran, the programs, the calls that skipped it, and why one is never skipped. Exit status 1
// if anything is not as said.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { N = 1000, VISITS = 6, CALLS = 12 };

// Nearly: the compiled exp and log1p are float.
static int is_near(tc_tensor t, double want) {
    float got[N];
    if (tc_read(t, got, sizeof got)) return 0;
    return fabs((double)got[0] - want) <= 1e-5 * (1 + fabs(want));
}

// ---- a branch on data, in a region ----

// log(1 + x) where the mean of x is positive, else exp(x). Reading the mean is a graph break: what it
// needs runs there, and recording goes on behind the branch that is taken.
static tc_tensor squeezed(tc_tensor x) {
    return tc_item(tc_mean_all(x)) > 0 ? tc_log1p(x) : tc_exp(x);
}

static int visit(tc_ctx *tc, double value) {
    tc_tensor x = tc_full(tc, TC_DIMS(N), value, TC_F32);
    uint64_t programs = tc_stats_get(tc).programs;
    tc_trace_begin(tc, "squeezed");
    tc_tensor y = squeezed(x);
    tc_trace_end(tc);
    int ok = is_near(y, value > 0 ? log1p(value) : exp(value));
    printf("    x = %6.3f: %-5s  %d programs made, %s\n", value,
           value > 0 ? "log1p" : "exp", (int)(tc_stats_get(tc).programs - programs),
           ok ? "right" : "WRONG");
    tc_free(x);
    return ok;
}

static int branches(tc_ctx *tc) {
    static const double values[VISITS] = {0.5, -0.5, 0.25, 1.5, -2, -0.125};
    int ok = 1;
    printf("a region with a branch on data\n");
    for (int i = 0; i < VISITS; i++) ok &= visit(tc, values[i]);
    tc_stats s = tc_stats_get(tc);
    printf("    %d visits, %d graph breaks, %d programs\n\n", (int)s.visits,
           (int)s.graph_breaks, (int)s.programs);
    return ok && s.programs == 3 && s.graph_breaks == VISITS;
}

// ---- a function that reads through a pointer ----

typedef struct settings {
    const double
        *temperature; // the pointer is guarded, being in *user; what it points to is not
    int runs;         // of the body
} settings;

static double temperature; // changed by whoever schedules it

static void softened(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    settings *s = (settings *)user;
    (void)tc;
    s->runs++;
    out[0] = tc_exp(tc_neg(tc_div_s(in[0], *s->temperature)));
}

// The same, and it says what it depends on.
static void softened_guarded(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    const settings *s = (const settings *)user;
    tc_guard_bytes(tc, s->temperature, sizeof *s->temperature);
    softened(tc, in, out, user);
}

// Calls the function while the temperature goes 1, 2, 3, 1, 2, 3...; 1 if all results are right.
static int call_all(tc_ctx *tc, tc_fn *f) {
    int ok = 1;
    tc_tensor x = tc_full(tc, TC_DIMS(N), 1.5, TC_F32), y;
    for (int i = 0; i < CALLS; i++) {
        temperature = 1 + i % 3;
        ok &= tc_call(f, &x, 1, &y, 1) == TC_OK && is_near(y, exp(-1.5 / temperature));
        tc_free(y);
    }
    tc_free(x);
    return ok;
}

static int function(tc_ctx *tc, const char *name, tc_body body, int demoted) {
    settings s;
    memset(&s, 0, sizeof s);
    s.temperature = &temperature;
    tc_stats before = tc_stats_get(tc);
    tc_fn *f =
        tc_compile(tc, body, &s, sizeof s.temperature, NULL); // not the count of runs
    int ok = call_all(tc, f);
    tc_stats after = tc_stats_get(tc);
    int skips = (int)(after.skips - before.skips);
    printf("%s: %d calls, %d runs of the body, %d skips, %d programs, %s\n", name, CALLS,
           s.runs, skips, (int)(after.programs - before.programs), ok ? "right" : "WRONG");
    printf("    demoted: %s\n", tc_fn_demoted(f) ? tc_fn_demoted(f) : "no");
    printf("    last run of the body: %s\n\n", tc_miss_text(f));
    ok &= s.runs + skips == CALLS && (tc_fn_demoted(f) != NULL) == demoted;
    // Guarded, a temperature runs the body at its first and its second call.
    return ok && s.runs == (demoted ? CALLS : 2 * 3);
}

int main(void) {
    tc_ctx *tc = tc_open(NULL);
    if (!tc) return 1;
    int ok = branches(tc);
    // Found out because the temperature has changed by the second call. Had it changed later only,
    // the first one would have stayed in use: what a body depends on has to be named.
    ok &= function(tc, "reads through a pointer", softened, 1);
    ok &= function(tc, "with tc_guard_bytes", softened_guarded, 0);
    if (tc_error(tc)) printf("error: %s\n", tc_error_text(tc));
    ok &= !tc_error(tc);
    tc_close(tc);
    return !ok;
}
