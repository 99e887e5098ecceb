// One small network on every backend of a context: what the first call costs, what later ones cost,
// and that all give the same bits.
//
// Build: cc -O2 -I. examples/backends.c -o backends -lpthread -ldl
// Prints a line for each backend: kernels, time of the first call (making the program, for "cpu" the
// compiler too), of a later one, and whether its results are those of the first; of those that need a
// device, which is not opened here, why they do not run. The list ends with one that this file
// registers. Exit status 1 if results differ.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { BATCH = 64, WIDTH = 128, CLASSES = 10, CALLS = 50, BACKENDS = 16 };

typedef struct model {
    tc_tensor w1, b1, w2, b2;
} model;

static void mlp(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    const model *m = (const model *)user;
    (void)tc;
    tc_tensor h = tc_gelu(tc_linear(in[0], m->w1, m->b1));
    out[0] = tc_softmax(tc_linear(h, m->w2, m->b2), -1);
}

// A backend of one's own needs a name and a run.
static tc_status forward(void *user, void *state, const tc_graph_run *run) {
    (void)user, (void)state;
    return tc_graph_forward(run);
}

static double milliseconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

// One call, and how many kernels the program has that served it.
static int kernel_runs(tc_ctx *tc, tc_fn *f, tc_tensor x) {
    tc_tensor y;
    uint64_t before = tc_stats_get(tc).kernel_runs;
    if (tc_call(f, &x, 1, &y, 1)) return -1;
    return (int)(tc_stats_get(tc).kernel_runs - before);
}

// Calls the network on one backend; 1 if it ran. out gets the results.
static int run(tc_ctx *tc, const char *backend, model *m, tc_tensor x, float *out) {
    tc_options o = tc_options_default();
    tc_tensor y;
    size_t bytes = (size_t)BATCH * CLASSES * sizeof *out;
    o.backend = backend;
    tc_scope_begin(tc);
    tc_fn *f = tc_compile(tc, mlp, m, sizeof *m, &o);
    double start = milliseconds();
    int ok = f && tc_call(f, &x, 1, &y, 1) == TC_OK;
    double first = milliseconds() - start, later = 1e30;
    int kernels = ok ? kernel_runs(tc, f, x) : 0;
    for (int i = 0; i < CALLS && ok; i++) {
        tc_scope_begin(tc);
        start = milliseconds();
        ok = tc_call(f, &x, 1, &y, 1) == TC_OK;
        double took = milliseconds() - start;
        later = took < later ? took : later;
        ok = ok && tc_read(y, out, bytes) == TC_OK;
        tc_scope_end(tc);
    }
    if (ok)
        printf("%-10s %d kernels   first call %8.3f ms   later %7.3f ms", backend, kernels,
               first, later);
    tc_fn_free(f);
    tc_scope_end(tc);
    return ok;
}

int main(void) {
    static float out[2][BATCH * CLASSES];
    const char *name[BACKENDS];
    tc_ctx *tc = tc_open(NULL);
    tc_backend mine;
    model m;
    int wrong = 0;
    if (!tc) return 1;
    memset(&mine, 0, sizeof mine);
    mine.name = "mine", mine.doc = "hands everything back", mine.run = forward;
    tc_register_backend(tc, &mine);

    tc_manual_seed(tc, 3);
    m.w1 = tc_randn(tc, TC_DIMS(WIDTH, WIDTH), TC_F32);
    m.b1 = tc_randn(tc, TC_DIMS(WIDTH), TC_F32);
    m.w2 = tc_randn(tc, TC_DIMS(CLASSES, WIDTH), TC_F32);
    m.b2 = tc_randn(tc, TC_DIMS(CLASSES), TC_F32);
    tc_tensor x = tc_randn(tc, TC_DIMS(BATCH, WIDTH), TC_F32);

    int n = tc_list_backends(tc, name, BACKENDS);
    for (int i = 0; i < n && i < BACKENDS; i++) {
        int ok = run(tc, name[i], &m, x, out[i > 0]);
        int absent = tc_error(tc) == TC_E_DEVICE; // a backend of a device that is not open
        int same = ok && !memcmp(out[0], out[i > 0], sizeof out[0]);
        printf("%s\n", !ok    ? tc_error_text(tc)
                       : !i   ? ""
                       : same ? "   same bits"
                              : "   DIFFERS");
        wrong += !same && !absent;
        tc_error_clear(tc);
    }
    tc_close(tc);
    return wrong != 0;
}
