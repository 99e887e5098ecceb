// What does the first call cost when compiling is left to the background (eager_then_compile)?
// Against the first call of the same function where nothing is ever compiled (backend aot_eager),
// interleaved; new contexts and new constants in every round, so that nothing is known. And how
// many calls are interpreted until the code is there. Bar: <= 1 ms beyond the interpreter.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

#include "bench.h"

#include <unistd.h>

enum { ROUNDS = 15 };

static void gelu(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc;
    out[0] = tc_gelu(tc_add_s(tc_mul_s(in[0], *(const double *)user), 0.5));
}

static void softmax(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc;
    out[0] = tc_softmax(tc_mul_s(in[0], *(const double *)user), -1);
}

static void layer_norm(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc;
    out[0] = tc_layer_norm(tc_mul_s(in[0], *(const double *)user), in[1], in[2], 1e-5);
}

static void entropy(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc;
    out[0] = bench_entropy(tc_mul_s(in[0], *(const double *)user));
}

// Three products with what stands around them: six kernels.
static void mlp(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    tc_tensor h = tc_mul_s(in[0], *(const double *)user);
    (void)tc;
    for (int i = 0; i < 3; i++)
        h = tc_gelu(tc_matmul(tc_layer_norm(h, in[1], in[2], 1e-5), in[3]));
    out[0] = h;
}

static const struct {
    const char *name;
    tc_body body;
} work[] = {{"gelu", gelu},
            {"softmax", softmax},
            {"layer norm", layer_norm},
            {"entropy", entropy},
            {"MLP of 3 layers", mlp}};

// The first call, in ns; *until: calls before compiled code was used.
static double first(tc_body body, double by, const char *cache, int background,
                    int *until) {
    tc_config config = tc_config_default();
    config.cache_dir = cache, config.backend = background ? "cpu" : "aot_eager";
    config.threads = 1;
    tc_ctx *tc = tc_open(&config);
    bench_check(tc);
    if (background) tc_set_stance(tc, TC_STANCE_EAGER_THEN_COMPILE);
    tc_tensor in[4], out;
    in[0] = bench_randn(tc, TC_DIMS(64, 64), 1), in[1] = bench_randn(tc, TC_DIMS(64), 2);
    in[2] = bench_randn(tc, TC_DIMS(64), 3), in[3] = bench_randn(tc, TC_DIMS(64, 64), 4);
    tc_fn *f = tc_compile(tc, body, &by, sizeof by, NULL);
    double start = bench_ns();
    tc_call(f, in, 4, &out, 1);
    double ns = bench_ns() - start;
    *until = 1;
    while (background && !tc_stats_get(tc).kernels_made && *until < 1000000) {
        tc_free(out);
        tc_call(f, in, 4, &out, 1);
        ++*until;
    }
    bench_check(tc);
    for (int i = 0; i < 4; i++) free((void *)(uintptr_t)tc_data(in[i]));
    tc_close(tc);
    return ns;
}

int main(void) {
    char cache[] = "/tmp/bench-first-XXXXXX", command[64];
    double took[2][ROUNDS], calls[ROUNDS];
    int missed = 0, until;
    if (!mkdtemp(cache)) return 2;
    bench_head("background", "interpreter", "ms beyond");
    for (size_t w = 0; w < sizeof work / sizeof *work; w++) {
        for (int r = 0; r < ROUNDS; r++) {
            double by = 1 + (double)(r + 1) / 64 + (double)w / 1000;
            took[1][r] = first(work[w].body, by, cache, 0, &until);
            took[0][r] = first(work[w].body, by, cache, 1, &until);
            calls[r] = until;
        }
        double ours = bench_median(took[0], ROUNDS), other = bench_median(took[1], ROUNDS);
        missed += bench_row(work[w].name, ours, other,
                            ours > other ? (ours - other) / 1e6 : 0, BENCH_AT_MOST, 1);
        printf("%-34s %12.0f calls\n", "  interpreted until code is there",
               bench_median(calls, ROUNDS));
    }
    snprintf(command, sizeof command, "rm -r %s", cache);
    return system(command) ? 2 : bench_status(missed);
}
