// Looking into a program: what became of a region with a branch on data and of a function that is
// called with many sizes, why it was compiled again, and where the time goes.
//
// Build: cc -O2 -I. examples/explain.c -o explain -lm -lpthread -ldl
// Run:   ./explain [folder]               (default: TMPDIR, else /tmp)
// Prints the report of tc_explain and the profiler's table, and writes two files: explain.html, the
// report with graphs and memory drawn, for any browser; explain_trace.json, for ui.perfetto.dev.
// Exit status 1 if the counts are not as expected or a result is wrong.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { WIDTH = 256, CLASSES = 10, MOST = 96, VISITS = 6 };

typedef struct layer {
    tc_tensor w, b;
} layer;

// A function: class probabilities of a batch of any size.
static void classify(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    const layer *l = (const layer *)user;
    (void)tc;
    tc_tensor h = tc_gelu(tc_rms_norm(in[0], l->b, 1e-6));
    out[0] = tc_softmax(tc_matmul(h, l->w), -1);
}

// The largest distance of a row's sum from 1.
static double off(tc_tensor p) {
    static float x[MOST * CLASSES];
    size_t rows = (size_t)tc_dim(p, 0);
    double worst = 0;
    if (tc_read(p, x, rows * CLASSES * sizeof *x)) return 1;
    for (size_t r = 0; r < rows; r++) {
        double sum = 0;
        for (int c = 0; c < CLASSES; c++) sum += (double)x[r * CLASSES + (size_t)c];
        worst = fmax(worst, fabs(sum - 1));
    }
    return worst;
}

// Eight calls for each of four batch sizes; 1 if all rows sum to 1.
static int call_all(tc_ctx *tc, tc_fn *f) {
    static const int batch[] = {32, 48, 7, MOST};
    int ok = 1;
    for (int i = 0; i < 32; i++) {
        tc_scope_begin(tc);
        tc_tensor x = tc_randn(tc, TC_DIMS(batch[i / 8], WIDTH), TC_F32), p;
        ok &= tc_call(f, &x, 1, &p, 1) == TC_OK && off(p) < 1e-5;
        tc_scope_end(tc);
    }
    return ok;
}

// A region with a break: C's own `if` needs the norm, so what it depends on runs there.
static int visit(tc_ctx *tc, tc_tensor g) {
    tc_trace_begin(tc, "clip");
    tc_tensor norm = tc_sqrt(tc_sum_all(tc_square(g)));
    if (tc_item(norm) > 1) g = tc_div(g, norm);
    tc_tensor size = tc_sum_all(tc_square(g));
    tc_trace_end(tc);
    return tc_item(size) < 1 + 1e-5;
}

// folder/name in a buffer of its own.
static const char *in_folder(char out[600], const char *folder, const char *name) {
    const char *temp = getenv("TMPDIR");
    if (!folder) folder = temp && *temp ? temp : "/tmp";
    snprintf(out, 600, "%.500s/%s", folder, name);
    return out;
}

int main(int argc, char **argv) {
    char page[600], trace[600];
    const char *folder = argc > 1 ? argv[1] : NULL;
    tc_ctx *tc = tc_open(NULL);
    layer l;
    if (!tc) return 1;
    tc_manual_seed(tc, 7);
    l.w = tc_randn(tc, TC_DIMS(WIDTH, CLASSES), TC_F32);
    l.b = tc_ones(tc, TC_DIMS(WIDTH), TC_F32);
    tc_tensor g = tc_randn(tc, TC_DIMS(WIDTH, WIDTH), TC_F32);
    tc_fn *f = tc_compile(tc, classify, &l, sizeof l, NULL);

    tc_profile_begin(tc);
    int ok = call_all(tc, f);
    for (int i = 0; i < VISITS; i++) ok &= visit(tc, g);
    tc_profile_end(tc);

    printf("%s\n%s\n", tc_explain(tc), tc_profile_text(tc));

    // The same as numbers, to assert on: one program for the first batch size, one for all others.
    tc_explanation fn = tc_explain_counts(tc, "classify"),
                   clip = tc_explain_counts(tc, "clip");
    printf("classify: %d programs, %d breaks; clip: %d programs, %d breaks\n", fn.programs,
           fn.breaks, clip.programs, clip.breaks);
    ok &= fn.programs == 2 && !fn.breaks && clip.programs == 2 && clip.breaks == 1;

    ok &= !tc_explain_html(tc, in_folder(page, folder, "explain.html"));
    ok &= !tc_profile_trace(tc, in_folder(trace, folder, "explain_trace.json"));
    if (!tc_error(tc))
        printf("written: %s\n         %s\n", page, trace);
    else
        printf("error: %s\n", tc_error_text(tc));
    ok &= !tc_error(tc);
    tc_close(tc);
    return !ok;
}
