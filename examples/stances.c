// Stances: what functions and regions of a context do when there is no program for what they are given.
//
// Build: cc -O2 -I. examples/stances.c -o stances -lm -lpthread -ldl
// Prints a table: for each stance what became of a function's first call, of a call that its program
// serves (a hit), and of one with another dtype (a miss). Then the error of a refused call. Exit
// status 1 if a stance does something else, or a result is wrong.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

#include <math.h>
#include <stdio.h>

enum { N = 1000 };

// What a call did, as the statistics tell.
typedef enum deed { COMPILED, SKIPPED, INTERPRETED, OP_BY_OP, REFUSED, WRONG } deed;
static const char *const deed_names[] = {
    "compiles",       // records the body, compiles, runs that
    "skips the body", // runs what is compiled
    "interprets",     // records the body, runs that in the interpreter
    "runs op by op",  // runs the body; each op of it is a kernel of the interpreter
    "refuses",        // runs nothing, inputs are as before
    "has WRONG results",
};

typedef struct row {
    tc_stance stance;
    const char *name, *use;
    deed first, hit, miss;
} row;

static const row rows[] = {
    {TC_STANCE_DEFAULT, "default", "", COMPILED, SKIPPED, COMPILED},
    {TC_STANCE_FORCE_EAGER, "force_eager", "is it the compiler, or my code?", OP_BY_OP,
     OP_BY_OP, OP_BY_OP},
    {TC_STANCE_EAGER_ON_RECOMPILE, "eager_on_recompile", "no pauses after a warm-up",
     INTERPRETED, SKIPPED, INTERPRETED},
    {TC_STANCE_FAIL_ON_RECOMPILE, "fail_on_recompile", "a test that nothing recompiles",
     REFUSED, SKIPPED, REFUSED},
    {TC_STANCE_EAGER_THEN_COMPILE, "eager_then_compile", "no pauses at all", INTERPRETED,
     SKIPPED, INTERPRETED},
};

enum { OPS = 3 }; // of the body, which are one kernel where they are fused

// sqrt(x^2 + factor)
static void body(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc;
    out[0] = tc_sqrt(tc_add_s(tc_square(in[0]), *(const double *)user));
}

static int is_right(tc_tensor y, double want) {
    float got[N];
    tc_tensor f = tc_cast(y, TC_F32);
    int ok = tc_read(f, got, sizeof got) == TC_OK && fabs(got[N - 1] - want) < 1e-5 * want;
    tc_free(f);
    return ok;
}

// One call under a stance.
static deed call(tc_ctx *tc, tc_fn *f, tc_stance stance, tc_dtype dtype, double factor) {
    tc_tensor x = tc_full(tc, TC_DIMS(N), 3, dtype), y;
    tc_stance old = tc_set_stance(tc, stance);
    tc_stats a = tc_stats_get(tc);
    tc_status status = tc_call(f, &x, 1, &y, 1);
    tc_stats b = tc_stats_get(tc);
    tc_set_stance(tc, old);
    deed d = status == TC_E_RECOMPILE                              ? REFUSED
             : status || !is_right(y, sqrt(9 + factor))            ? WRONG
             : b.skips > a.skips                                   ? SKIPPED
             : b.compiles + b.fallbacks > a.compiles + a.fallbacks ? COMPILED
             : b.kernel_runs - a.kernel_runs == OPS                ? OP_BY_OP
                                                                   : INTERPRETED;
    tc_free(x), tc_free(y);
    return d;
}

static int show(const row *r, double factor) {
    tc_config config = tc_config_default();
    config.backend = "cpu", config.no_disk_cache = 1; // a kernel on disk is not compiled
    tc_ctx *tc = tc_open(&config);
    tc_fn *f = tc_compile(tc, body, &factor, sizeof factor, NULL);
    deed first = call(tc, f, r->stance, TC_F32, factor);
    tc_error_clear(tc);
    // The warm-up: two calls, of which the second sees that the body does the same again.
    for (int i = 0; i < 2; i++) call(tc, f, TC_STANCE_DEFAULT, TC_F32, factor);
    deed hit = call(tc, f, r->stance, TC_F32, factor);
    deed miss = call(tc, f, r->stance, TC_F64, factor);
    printf("%-20s %-16s %-16s %-16s %s\n", r->name, deed_names[first], deed_names[hit],
           deed_names[miss], r->use);
    if (tc_error(tc)) printf("    %s\n", tc_error_text(tc));
    tc_wait_compiled(tc); // what eager_then_compile has begun
    tc_close(tc);
    return first == r->first && hit == r->hit && miss == r->miss;
}

int main(void) {
    int ok = 1;
    printf("%-20s %-16s %-16s %-16s %s\n", "stance", "first call", "hit", "miss", "for");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) // a factor, so a kernel, each
        ok &= show(&rows[i], 2.0 + (double)i);
    return !ok;
}
