// Two pieces of tensor code, eager and compiled.
//
// Build: cc -O2 -I. examples/quickstart.c -o quickstart -lpthread -ldl
// Prints for each: kernels after fusion, time op by op and time compiled, and whether the
// bits agree; then the C that was written, compiled and run for the second. Exit status 1
// if a result is wrong.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 5 };

typedef tc_tensor (*formula)(tc_tensor x);

// A chain of elementwise ops: exp(-(x * sigmoid(1.702 x))^2). Five passes over memory, or
// one.
static tc_tensor chain(tc_tensor x) {
    tc_tensor y = tc_mul(x, tc_sigmoid(tc_mul_s(x, 1.702)));
    return tc_exp(tc_neg(tc_square(y)));
}

// Entropy of the softmax of each row, in nats.
static tc_tensor entropy(tc_tensor x) {
    tc_tensor p = tc_softmax(x, -1);
    return tc_neg(tc_sum(tc_mul(p, tc_log(tc_add_s(p, 1e-8))), -1));
}

static double milliseconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

// Op by op: outside a region each op runs when it is called.
static double run_eager(tc_ctx *tc, formula f, tc_tensor x, void *out, size_t bytes) {
    double start = milliseconds();
    tc_scope_begin(tc);
    tc_tensor y = f(x);
    double took = milliseconds() - start;
    tc_read(y, out, bytes);
    tc_scope_end(tc);
    return took;
}

// The same code in a region: recorded, fused and compiled at the first visit, known at the
// next.
static double run_compiled(tc_ctx *tc, const char *name, formula f, tc_tensor x, void *out,
                           size_t bytes) {
    double start = milliseconds();
    tc_trace_begin(tc, name);
    tc_tensor y = f(x);
    tc_trace_end(tc);
    double took = milliseconds() - start;
    tc_read(y, out, bytes);
    return took;
}

static double smaller(double a, double b) { return a < b ? a : b; }

// 1 if both ways give the same bits.
static int compare(tc_ctx *tc, const char *name, formula f, tc_tensor x, size_t bytes) {
    double eager = 1e30, compiled = 1e30;
    void *a = calloc(1, bytes), *b = calloc(1, bytes);
    int ok = a && b;
    if (ok) {
        double first = run_compiled(tc, name, f, x, b, bytes);
        for (int i = 0; i < ROUNDS; i++) {
            eager = smaller(eager, run_eager(tc, f, x, a, bytes));
            compiled = smaller(compiled, run_compiled(tc, name, f, x, b, bytes));
        }
        ok = !tc_error(tc) && !memcmp(a, b, bytes);
        printf("%-8s kernels %d   eager %.2f ms   compiled %.2f ms (%.1fx)   ", name,
               tc_region_kernels(tc, name), eager, compiled, eager / compiled);
        printf("first call %.0f ms   %s\n", first, ok ? "same bits" : "results DIFFER");
    }
    free(a);
    free(b);
    return ok;
}

int main(void) {
    tc_ctx *tc = tc_open(NULL);
    if (!tc) return 1;
    tc_manual_seed(tc, 1);
    tc_tensor x = tc_randn(tc, TC_DIMS(32, 196, 768), TC_F32);
    size_t elements = 32 * 196 * 768, rows = 32 * 196;

    int ok = compare(tc, "chain", chain, x, elements * sizeof(float));
    ok &= compare(tc, "entropy", entropy, x, rows * sizeof(float));

    // The whole text begins with the functions that the kernel uses; it compiles by itself.
    const char *source = tc_region_source(tc, "entropy");
    const char *kernel = source ? strstr(source, "// kernel_0") : NULL;
    printf("\n%s\n", kernel ? kernel : "(no compiler: the kernels ran in the interpreter)");
    if (tc_error(tc)) fprintf(stderr, "error: %s\n", tc_error_text(tc));
    tc_close(tc);
    return !ok;
}
