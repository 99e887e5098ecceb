// What the programs of bench/ share: clock, random data, interleaved rounds, medians, the
// table.
//
// Times are compared only with times of the same run. All sides of a question are run in
// turn, round after round, so that a busy minute hits all of them; the median of the rounds
// counts. A sample repeats its side until it takes about a millisecond. Random data;
// outputs of both sides exist before the clock starts.
#ifndef BENCH_H
#define BENCH_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { BENCH_ROUNDS = 15, BENCH_MAX_SIDES = 8, BENCH_MAX_ROUNDS = 101 };

static inline double bench_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static inline int bench_compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Sorts v.
static inline double bench_median(double *v, int n) {
    qsort(v, (size_t)n, sizeof *v, bench_compare);
    return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

enum { BENCH_HUGE_PAGE = 1 << 21 };

// Memory in huge pages where the system has them, touched; the benchmark ends without it.
static inline float *bench_floats(size_t n) {
    size_t bytes = n * sizeof(float) + 64;
    void *p = NULL;
    if (posix_memalign(&p, bytes < BENCH_HUGE_PAGE ? 4096 : BENCH_HUGE_PAGE, bytes)) {
        fprintf(stderr, "no memory for %zu floats\n", n);
        exit(2);
    }
    if (bytes >= BENCH_HUGE_PAGE) (void)madvise(p, bytes, MADV_HUGEPAGE);
    memset(p, 0, bytes);
    return (float *)p;
}

// Nearly normal: the sum of four uniform numbers, scaled to variance 1.
static inline void bench_random(float *x, size_t n, uint64_t seed) {
    uint64_t s = seed * 2654435769u + 88172645463325252u;
    for (size_t i = 0; i < n; i++) {
        s ^= s << 13, s ^= s >> 7, s ^= s << 17;
        float sum = (float)(s & 0xffff) + (float)(s >> 16 & 0xffff) +
                    (float)(s >> 32 & 0xffff) + (float)(s >> 48);
        x[i] = (sum / 65536.0f - 2.0f) * 1.7320508f;
    }
}

// Random bits of a number.
static inline uint64_t bench_hash(uint64_t i) {
    i = (i ^ i >> 31) * 0x9e3779b97f4a7c15u, i = (i ^ i >> 29) * 0xbf58476d1ce4e5b9u;
    return i ^ i >> 32;
}

typedef struct bench_side {
    void (*run)(void *user);
    void *user;
    double ns; // median time of one run
} bench_side;

// Median times of the sides, interleaved. Every side has run before the clock starts.
static inline void bench_interleave(bench_side *side, int sides, int rounds) {
    static double took[BENCH_MAX_SIDES][BENCH_MAX_ROUNDS];
    int calls[BENCH_MAX_SIDES];
    for (int s = 0; s < sides; s++) {
        side[s].run(side[s].user);
        double start = bench_ns();
        side[s].run(side[s].user);
        double ns = bench_ns() - start;
        calls[s] = ns > 1e6 ? 1 : (int)(1e6 / (ns > 10 ? ns : 10)) + 1;
    }
    for (int r = 0; r < rounds; r++) {
        for (int s = 0; s < sides; s++) {
            double start = bench_ns();
            for (int i = 0; i < calls[s]; i++) side[s].run(side[s].user);
            took[s][r] = (bench_ns() - start) / calls[s];
        }
    }
    for (int s = 0; s < sides; s++) side[s].ns = bench_median(took[s], rounds);
}

// ---- the table ----

typedef enum bench_bar { BENCH_AT_LEAST, BENCH_AT_MOST, BENCH_NO_BAR } bench_bar;

static inline void bench_head(const char *ours, const char *other, const char *ratio) {
    printf("%-34s %12s %12s %10s  %s\n", "", ours, other, ratio, "bar");
}

static inline const char *bench_time(char *out, size_t size, double ns) {
    if (ns < 0)
        snprintf(out, size, "-");
    else if (ns < 1e4)
        snprintf(out, size, "%.1f ns", ns);
    else if (ns < 1e6)
        snprintf(out, size, "%.1f us", ns / 1e3);
    else
        snprintf(out, size, "%.2f ms", ns / 1e6);
    return out;
}

// One row. What is negative is left out. Returns 1 if the value misses its bar.
static inline int bench_row(const char *name, double ours, double other, double value,
                            bench_bar kind, double bar) {
    char a[32], b[32];
    int miss = kind == BENCH_AT_LEAST ? value < bar : kind == BENCH_AT_MOST && value > bar;
    printf("%-34s %12s %12s", name, bench_time(a, sizeof a, ours),
           bench_time(b, sizeof b, other));
    if (value < 0)
        printf("%11s", "-");
    else
        printf(" %10.2f", value);
    if (kind != BENCH_NO_BAR)
        printf("  %s %g  %s", kind == BENCH_AT_LEAST ? ">=" : "<=", bar,
               miss ? "MISSED" : "ok");
    printf("\n");
    fflush(stdout);
    return miss;
}

// Exit status: a missed bar is news, not a failure, unless BENCH_STRICT is set.
static inline int bench_status(int missed) {
    const char *strict = getenv("BENCH_STRICT");
    if (missed) printf("%d bar%s missed\n", missed, missed == 1 ? "" : "s");
    return missed && strict && *strict ? 1 : 0;
}

// ---- instructions ----
// A benchmark counts them by running itself under callgrind, as `PROGRAM --count N`; what it does
// then, BENCH_COUNTED times, in functions whose names match `functions` is counted.
enum { BENCH_COUNTED = 100 };

// N of `--count N`, -1 = this is the benchmark itself.
static inline int bench_count_of(int argc, char **argv) {
    return argc == 3 && !strcmp(argv[1], "--count") ? atoi(argv[2]) : -1;
}

// Instructions of one of those times; -1 = no valgrind. `environment` is "NAME=VALUE " or "".
static inline double bench_instructions(const char *environment, const char *functions,
                                        const char *program, int n) {
    char line[1024];
    double total = -1;
    snprintf(line, sizeof line,
             "%svalgrind --tool=callgrind --callgrind-out-file=/dev/null "
             "--toggle-collect='%s' '%s' --count %d 2>&1",
             environment, functions, program, n);
    FILE *f = popen(line, "r");
    while (f && fgets(line, sizeof line, f)) {
        char *at = strstr(line, "Collected :");
        if (at) total = atof(at + strlen("Collected :"));
    }
    if (f) pclose(f);
    return total > 0 ? total / BENCH_COUNTED : -1;
}

// ---- what is measured ----

// The library's error ends the benchmark.
static inline void bench_check(tc_ctx *tc) {
    if (!tc)
        fprintf(stderr, "no context\n");
    else if (tc_error(tc))
        fprintf(stderr, "error: %s\n", tc_error_text(tc));
    else
        return;
    exit(2);
}

// A context of `threads` threads (0 = all).
static inline tc_ctx *bench_open(int threads) {
    tc_config config = tc_config_default();
    config.threads = threads;
    tc_ctx *tc = tc_open(&config);
    bench_check(tc);
    return tc;
}

static inline tc_tensor bench_randn(tc_ctx *tc, tc_dims dims, uint64_t seed) {
    size_t n = 1;
    for (int i = 0; i < dims.rank; i++) n *= (size_t)dims.size[i];
    float *x = bench_floats(n);
    bench_random(x, n, seed);
    return tc_wrap(tc, x, dims, TC_F32);
}

// The peer workloads, as in bench/peers/cpu.py.
static inline tc_tensor bench_entropy(tc_tensor x) {
    tc_tensor p = tc_softmax(x, -1);
    return tc_neg(tc_sum(tc_mul(p, tc_log(tc_add_s(p, 1e-8))), -1));
}

static inline tc_tensor bench_chain(tc_tensor x, tc_tensor a, tc_tensor b) {
    tc_tensor y = tc_add(tc_mul(x, a), b);
    tc_tensor cube = tc_mul(tc_mul(tc_mul_s(y, 0.044715), y), y);
    tc_tensor t = tc_tanh(tc_mul_s(tc_add(y, cube), 0.7978845608));
    y = tc_mul(tc_mul_s(y, 0.5), tc_add_s(t, 1));
    y = tc_mul(tc_sigmoid(y), y);
    return tc_add(tc_exp(tc_mul(tc_neg(y), y)), tc_sin(y));
}

// image [N, 3, H, W]; the filters [1, 1, 3, 3] are constants.
static inline tc_tensor bench_salience(tc_tensor image, tc_tensor sobel_x, tc_tensor sobel_y) {
    tc_tensor red = tc_narrow(image, 1, 0, 1), green = tc_narrow(image, 1, 1, 1);
    tc_tensor blue = tc_narrow(image, 1, 2, 1);
    tc_tensor gray =
        tc_add(tc_add(tc_mul_s(red, 0.299), tc_mul_s(green, 0.587)), tc_mul_s(blue, 0.114));
    tc_tensor gx = tc_conv2d(gray, sobel_x, tc_null(), 1, 1, 1, 1);
    tc_tensor gy = tc_conv2d(gray, sobel_y, tc_null(), 1, 1, 1, 1);
    tc_tensor edge = tc_sqrt(tc_add_s(tc_add(tc_mul(gx, gx), tc_mul(gy, gy)), 1e-12));
    tc_tensor s = tc_add(edge, tc_abs(tc_sub(gray, tc_avg_pool2d(gray, 7, 1, 3))));
    tc_tensor most = tc_amax_dims(s, TC_DIMS(1, 2, 3), TC_KEEPDIM);
    return tc_div(s, tc_add_s(most, 1e-6));
}

static inline tc_tensor bench_mlp_layer(tc_tensor x, tc_tensor scale, tc_tensor shift,
                                        tc_tensor weight, tc_tensor bias) {
    tc_tensor n = tc_layer_norm(x, scale, shift, 1e-5);
    return tc_add(x, tc_relu(tc_linear(n, weight, bias)));
}

#endif
