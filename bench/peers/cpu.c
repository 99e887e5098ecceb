// Our side of the comparison with torch.compile: bench/peers/run.sh builds and runs it in
// turn with cpu.py. Prints `name nanoseconds` per workload, medians of this process; 2
// threads, outputs reused from call to call.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

#include "../bench.h"

enum { THREADS = 2, LAYERS = 24, WIDTH = 64 };

typedef struct work {
    tc_ctx *tc;
    tc_tensor seq;                     // [32, 196, 768]
    tc_tensor flat, one, two;          // [16M], [1], [1]
    tc_tensor square, weight, bias;    // [4096, 4096], [4096], [4096]
    tc_tensor image, sobel_x, sobel_y; // [32, 3, 224, 224]
    tc_tensor tiny;                    // [16, 64]
    tc_tensor w[LAYERS], b[LAYERS], g[LAYERS], s[LAYERS];
} work;

static void entropy(work *k) { bench_entropy(k->seq); }
static void softmax(work *k) { tc_softmax(k->square, -1); }
static void sincos(work *k) { tc_add(tc_sin(k->flat), tc_cos(k->flat)); }
static void chain(work *k) { bench_chain(k->flat, k->one, k->two); }
static void layer_norm(work *k) { tc_layer_norm(k->square, k->weight, k->bias, 1e-5); }

static void salience(work *k) { bench_salience(k->image, k->sobel_x, k->sobel_y); }

static void tinymlp(work *k) {
    tc_tensor x = k->tiny;
    for (int i = 0; i < LAYERS; i++)
        x = bench_mlp_layer(x, k->g[i], k->s[i], k->w[i], k->b[i]);
}

static const struct {
    const char *name;
    void (*record)(work *k);
} jobs[] = {
    {"entropy_32x196x768_f32", entropy},
    {"softmax_4096x4096_f32", softmax},
    {"sincos_16M_f32", sincos},
    {"chain_16M_f32", chain},
    {"salience_32x3x224x224_f32", salience},
    {"layernorm_4096x4096_f32", layer_norm},
    {"tinymlp_24x64_b16_f32", tinymlp},
};

static work open_work(void) {
    static const float sobel_x[] = {-1, 0, 1, -2, 0, 2, -1, 0, 1};
    static const float sobel_y[] = {-1, -2, -1, 0, 0, 0, 1, 2, 1};
    work k;
    memset(&k, 0, sizeof k);
    k.tc = bench_open(THREADS);
    k.seq = bench_randn(k.tc, TC_DIMS(32, 196, 768), 1);
    k.flat = bench_randn(k.tc, TC_DIMS(1 << 24), 2);
    k.one = bench_randn(k.tc, TC_DIMS(1), 3), k.two = bench_randn(k.tc, TC_DIMS(1), 4);
    k.square = bench_randn(k.tc, TC_DIMS(4096, 4096), 5);
    k.weight = bench_randn(k.tc, TC_DIMS(4096), 6),
    k.bias = bench_randn(k.tc, TC_DIMS(4096), 7);
    k.image = bench_randn(k.tc, TC_DIMS(32, 3, 224, 224), 8);
    k.sobel_x = tc_const(k.tc, sobel_x, TC_DIMS(1, 1, 3, 3), TC_F32);
    k.sobel_y = tc_const(k.tc, sobel_y, TC_DIMS(1, 1, 3, 3), TC_F32);
    k.tiny = bench_randn(k.tc, TC_DIMS(16, WIDTH), 9);
    for (int i = 0; i < LAYERS; i++) {
        uint64_t seed = 100 + 4 * (uint64_t)i;
        k.w[i] = tc_mul_s(bench_randn(k.tc, TC_DIMS(WIDTH, WIDTH), seed), 0.1);
        k.b[i] = bench_randn(k.tc, TC_DIMS(WIDTH), seed + 1);
        k.g[i] = bench_randn(k.tc, TC_DIMS(WIDTH), seed + 2);
        k.s[i] = bench_randn(k.tc, TC_DIMS(WIDTH), seed + 3);
    }
    bench_check(k.tc);
    return k;
}

typedef struct call {
    work *k;
    size_t job;
} call;

static void run(void *user) {
    call *c = (call *)user;
    tc_trace_begin(c->k->tc, jobs[c->job].name);
    jobs[c->job].record(c->k);
    tc_trace_end(c->k->tc);
}

// Arguments: workloads, by the beginnings of their names; none = all. `--source NAME`
// prints the C.
int main(int argc, char **argv) {
    work k = open_work();
    int source = argc > 1 && !strcmp(argv[1], "--source");
    for (size_t i = 0; i < sizeof jobs / sizeof jobs[0]; i++) {
        int wanted = argc == 1;
        for (int a = 1; a < argc; a++)
            wanted |= !strncmp(jobs[i].name, argv[a], strlen(argv[a]));
        if (!wanted) continue;
        call c = {&k, i};
        bench_side side = {run, &c, 0};
        if (source)
            run(&c);
        else
            bench_interleave(&side, 1, BENCH_ROUNDS);
        bench_check(k.tc);
        if (source)
            printf("%s", tc_region_source(k.tc, jobs[i].name));
        else
            printf("%s %.0f\n", jobs[i].name, side.ns);
        fflush(stdout);
    }
    tc_close(k.tc);
    return 0;
}
