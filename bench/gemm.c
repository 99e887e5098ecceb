// How fast are f32 products, and the copies of weights that few rows come down to, against OpenBLAS?
//
// Shapes m x n x k: square, odd, tall, wide, deep; few rows (a decode step); those of GPT-2 and of an
// LSTM's step. Weights are [k, n], or [n, k] ("turned"), or the left operand is [k, m] ("left turned", the
// gradient of weights). Rows of 16 and fewer rotate through weights of 128 MB, so that they come
// from memory, as they do in a model. Beside that the same with fast numerics (AMX, where there is
// some): its speed and its error, as shares of the strict ones; and with constant weights, which are laid out once.
//
// Arguments: [threads=2 [beginning of a row's name]]. Environment: OPENBLAS, the library's path; else the
// usual names are tried, without one there is nothing to compare with. The newest is the fastest:
// python3 -m venv v && v/bin/pip install scipy-openblas32
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

#include "bench.h"
#include <dlfcn.h>

enum { COPIES_BYTES = 128 << 20, MOST_COPIES = 64 };

typedef enum form { PLAIN, TURNED, LEFT_TURNED } form;

static const struct {
    const char *name;
    int m, n, k;
    form form;
    double bar;
} jobs[] = {
    {"1x4096x4096", 1, 4096, 4096, PLAIN, 1.2},
    {"1x4096x4096 turned", 1, 4096, 4096, TURNED, 1.2},
    {"4x4096x4096", 4, 4096, 4096, PLAIN, 1.2},
    {"4x4096x4096 turned", 4, 4096, 4096, TURNED, 1.2},
    {"8x4096x4096", 8, 4096, 4096, PLAIN, 1.2},
    {"8x4096x4096 turned", 8, 4096, 4096, TURNED, 1.2},
    {"16x4096x4096", 16, 4096, 4096, PLAIN, 1.2},
    {"16x4096x4096 turned", 16, 4096, 4096, TURNED, 1.2},
    {"7x3001x1999", 7, 3001, 1999, PLAIN, 1.2},
    {"3x50257x768 turned", 3, 50257, 768, TURNED, 1.2},
    {"32x512x128", 32, 512, 128, PLAIN, 1},
    {"32x128x512 turned", 32, 128, 512, TURNED, 1},
    {"128x512x4096 left turned", 128, 512, 4096, LEFT_TURNED, 1},
    {"64x64x64", 64, 64, 64, PLAIN, 1},
    {"128x128x128", 128, 128, 128, PLAIN, 1},
    {"384x384x384", 384, 384, 384, PLAIN, 1},
    {"1024x1024x1024", 1024, 1024, 1024, PLAIN, 1},
    {"1024x1024x1024 turned", 1024, 1024, 1024, TURNED, 1},
    {"2048x2048x2048", 2048, 2048, 2048, PLAIN, 1},
    {"333x517x1029", 333, 517, 1029, PLAIN, 1},
    {"1000x3000x500", 1000, 3000, 500, PLAIN, 1},
    {"1000x24x64", 1000, 24, 64, PLAIN, 1},
    {"1000x72x300", 1000, 72, 300, PLAIN, 1},
    {"1000x64x40", 1000, 64, 40, PLAIN, 1},
    {"5000x17x300", 5000, 17, 300, PLAIN, 1},
    {"17x5000x300", 17, 5000, 300, PLAIN, 1},
    {"64x64x65536", 64, 64, 65536, PLAIN, 1},
    {"128x768x768 turned", 128, 768, 768, TURNED, 1},
    {"128x3072x768 turned", 128, 3072, 768, TURNED, 1},
    {"128x768x3072 turned", 128, 768, 3072, TURNED, 1},
    {"512x3072x768", 512, 3072, 768, PLAIN, 1},
};

typedef void (*sgemm)(int order, int turned_a, int turned_b, int m, int n, int k,
                      float alpha, const float *a, int lda, const float *b, int ldb,
                      float beta, float *c, int ldc);

typedef struct work {
    tc_ctx *tc;
    size_t job;
    sgemm peer;
    int copies, at, peer_at;
    float *a, *b[MOST_COPIES], *out;
    tc_tensor left, right[MOST_COPIES], constant[MOST_COPIES];
} work;

static void *symbol_of(void *so, const char *name) {
    static const char *const ends[] = {"%s", "scipy_%s"};
    char full[80];
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        snprintf(full, sizeof full, ends[i], name);
        void *symbol = dlsym(so, full);
        if (symbol) return symbol;
    }
    return NULL;
}

static sgemm open_peer(int threads) {
    const char *const names[] = {getenv("OPENBLAS"), "libscipy_openblas.so",
                                 "libopenblas.so.0", "libopenblas.so"};
    void *so = NULL, *symbol;
    sgemm f = NULL;
    void (*set_threads)(int) = NULL;
    char *(*core)(void) = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !so; i++)
        if (names[i]) so = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!so) return NULL;
    if ((symbol = symbol_of(so, "cblas_sgemm"))) memcpy(&f, &symbol, sizeof f);
    if ((symbol = symbol_of(so, "openblas_set_num_threads")))
        memcpy(&set_threads, &symbol, sizeof set_threads);
    if ((symbol = symbol_of(so, "openblas_get_corename")))
        memcpy(&core, &symbol, sizeof core);
    if (set_threads) set_threads(threads);
    printf("OpenBLAS for %s, %d threads\n", core ? core() : "?", threads);
    return f;
}

static tc_tensor multiply(work *w, const tc_tensor *right, tc_numerics numerics, int keep) {
    form how = jobs[w->job].form;
    tc_tensor b = right[keep ? 0 : w->at++ % w->copies];
    tc_options o = tc_options_default();
    o.numerics = numerics;
    tc_trace_begin_at(w->tc, "gemm", &o, jobs[w->job].name,
                      1 + (int)numerics +
                          10 * (right == w->constant)); // its place: the job's
    tc_tensor y = tc_matmul(how == LEFT_TURNED ? tc_t(w->left) : w->left,
                            how == TURNED ? tc_t(b) : b);
    if (keep) tc_keep(y);
    tc_trace_end(w->tc);
    return y;
}

static void run_ours(void *user) {
    work *w = (work *)user;
    multiply(w, w->right, TC_NUMERICS_STRICT, 0);
}

static void run_fast(void *user) {
    work *w = (work *)user;
    multiply(w, w->right, TC_NUMERICS_FAST, 0);
}

static void run_constant(void *user) {
    work *w = (work *)user;
    multiply(w, w->constant, TC_NUMERICS_STRICT, 0);
}

// The mean distance of some results from sums in double, by the sizes of what is added up.
static double error_of(work *w, tc_numerics numerics) {
    enum { SOME = 500 };
    int m = jobs[w->job].m, n = jobs[w->job].n, k = jobs[w->job].k;
    form how = jobs[w->job].form;
    tc_tensor y = multiply(w, w->right, numerics, 1);
    tc_read(y, w->out, (size_t)m * (size_t)n * sizeof *w->out);
    double all = 0;
    for (int i = 0; i < SOME; i++) {
        size_t r = (size_t)i * 7919 % (size_t)m, c = (size_t)i * 104729 % (size_t)n;
        double sum = 0, size = 0;
        for (size_t e = 0; e < (size_t)k; e++) {
            double a = w->a[how == LEFT_TURNED ? e * (size_t)m + r : r * (size_t)k + e],
                   b = w->b[0][how == TURNED ? c * (size_t)k + e : e * (size_t)n + c];
            sum += a * b, size += a * b < 0 ? -a * b : a * b;
        }
        double far = w->out[r * (size_t)n + c] - sum;
        all += (far < 0 ? -far : far) / size / SOME;
    }
    tc_free(y);
    return all;
}

static void run_peer(void *user) {
    enum { ROW_MAJOR = 101, NOT_TURNED = 111, IS_TURNED = 112 };
    work *w = (work *)user;
    int m = jobs[w->job].m, n = jobs[w->job].n, k = jobs[w->job].k;
    form how = jobs[w->job].form;
    w->peer(ROW_MAJOR, how == LEFT_TURNED ? IS_TURNED : NOT_TURNED,
            how == TURNED ? IS_TURNED : NOT_TURNED, m, n, k, 1, w->a,
            how == LEFT_TURNED ? m : k, w->b[w->peer_at++ % w->copies],
            how == TURNED ? k : n, 0, w->out, n);
}

static float *numbers(size_t n, uint64_t seed) {
    float *x = bench_floats(n);
    bench_random(x, n, seed);
    return x;
}

static void open_job(work *w, size_t job) {
    size_t m = (size_t)jobs[job].m, n = (size_t)jobs[job].n, k = (size_t)jobs[job].k;
    form how = jobs[job].form;
    w->job = job, w->at = w->peer_at = 0;
    w->copies = m > 16 ? 1 : (int)(COPIES_BYTES / (n * k * sizeof(float))) + 1;
    if (w->copies > MOST_COPIES) w->copies = MOST_COPIES;
    w->a = numbers(m * k, 1), w->out = bench_floats(m * n);
    w->left = tc_wrap(w->tc, w->a,
                      how == LEFT_TURNED ? TC_DIMS((int64_t)k, (int64_t)m)
                                         : TC_DIMS((int64_t)m, (int64_t)k),
                      TC_F32);
    for (int i = 0; i < w->copies; i++) {
        w->b[i] = numbers(n * k, (uint64_t)i + 2);
        tc_dims d = how == TURNED ? TC_DIMS((int64_t)n, (int64_t)k)
                                  : TC_DIMS((int64_t)k, (int64_t)n);
        w->right[i] = tc_wrap(w->tc, w->b[i], d, TC_F32);
        w->constant[i] = tc_const(w->tc, w->b[i], d, TC_F32);
    }
    bench_check(w->tc);
}

static void close_job(work *w) {
    tc_free(w->left);
    for (int i = 0; i < w->copies; i++)
        tc_free(w->right[i]), tc_free(w->constant[i]), free(w->b[i]);
    free(w->a), free(w->out);
}

int main(int argc, char **argv) {
    int threads = argc > 1 ? atoi(argv[1]) : 2, missed = 0;
    const char *names = argc > 2 ? argv[2] : "";
    work w;
    memset(&w, 0, sizeof w);
    w.tc = bench_open(threads), w.peer = open_peer(threads);
    if (!w.peer) printf("no OpenBLAS: OPENBLAS may name it\n");
    bench_head("ours", "OpenBLAS", "ratio");
    for (size_t i = 0; i < sizeof jobs / sizeof jobs[0]; i++) {
        if (strncmp(jobs[i].name, names, strlen(names))) continue;
        open_job(&w, i);
        bench_side sides[4] = {
            {run_ours, &w, 0}, {run_fast, &w, 0}, {run_constant, &w, 0}, {run_peer, &w, 0}};
        bench_interleave(sides, w.peer ? 4 : 3, 2 * BENCH_ROUNDS + 1);
        bench_check(w.tc);
        double flops = 2.0 * jobs[i].m * jobs[i].n * jobs[i].k;
        missed += bench_row(jobs[i].name, sides[0].ns, w.peer ? sides[3].ns : -1,
                            w.peer ? sides[3].ns / sides[0].ns : -1,
                            w.peer ? BENCH_AT_LEAST : BENCH_NO_BAR, jobs[i].bar);
        printf(
            "  %.0f GFLOP/s, weights at %.1f GB/s; fast numerics: %.2f of the speed, %.2f of "
            "the error; constant weights: %.2f of the speed\n",
            flops / sides[0].ns, 4.0 * jobs[i].n * jobs[i].k / sides[0].ns,
            sides[0].ns / sides[1].ns,
            error_of(&w, TC_NUMERICS_FAST) / error_of(&w, TC_NUMERICS_STRICT),
            sides[0].ns / sides[2].ns);
        close_job(&w);
    }
    tc_close(w.tc);
    return bench_status(missed);
}
