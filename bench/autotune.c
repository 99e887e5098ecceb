// What does mode "max-autotune" win over the rules that choose kernels without measuring, and what does
// it cost at the first visit? Each workload is a region twice, in the default mode and tuned, run in
// turn. The cache is empty at first, so the search is of this run; its seconds, and in how many kernels
// something else was kept, stand below each row.
//
// A ratio near 1 says that the rules were right for this machine. There is no bar but that tuning does
// not harm: its choices were measured, so what is below 1 is noise, or was when they were made.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

#include "bench.h"

enum { THREADS = 2, LAYERS = 24, WIDTH = 64 };

typedef struct work {
    tc_ctx *tc;
    tc_tensor seq, weight, bias;       // [6272, 768], [768], [768]
    tc_tensor flat, one, two;          // [4M], [1], [1]
    tc_tensor image, sobel_x, sobel_y; // [32, 3, 224, 224]
    tc_tensor tiny;                    // [16, 64]
    tc_tensor w[LAYERS], b[LAYERS], g[LAYERS], s[LAYERS];
    tc_tensor m; // [512, 512]
} work;

static void softmax(work *k) { tc_softmax(k->seq, -1); }
static void layer_norm(work *k) { tc_layer_norm(k->seq, k->weight, k->bias, 1e-5); }
static void entropy(work *k) { bench_entropy(k->seq); }
static void chain(work *k) { bench_chain(k->flat, k->one, k->two); }
static void product(work *k) { tc_relu(tc_matmul(k->m, k->m)); }

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
    {"softmax 6272x768", softmax},         {"layer norm 6272x768", layer_norm},
    {"entropy 6272x768", entropy},         {"12-op chain 4M", chain},
    {"salience 32x3x224x224", salience},   {"MLP of 24 layers, batch 16", tinymlp},
    {"relu(matmul) 512x512x512", product},
};

static work open_work(int threads) {
    static const float sobel_x[] = {-1, 0, 1, -2, 0, 2, -1, 0, 1};
    static const float sobel_y[] = {-1, -2, -1, 0, 0, 0, 1, 2, 1};
    work k;
    memset(&k, 0, sizeof k);
    k.tc = bench_open(threads);
    k.seq = bench_randn(k.tc, TC_DIMS(6272, 768), 1);
    k.weight = bench_randn(k.tc, TC_DIMS(768), 2),
    k.bias = bench_randn(k.tc, TC_DIMS(768), 3);
    k.flat = bench_randn(k.tc, TC_DIMS(1 << 22), 4);
    k.one = bench_randn(k.tc, TC_DIMS(1), 5), k.two = bench_randn(k.tc, TC_DIMS(1), 6);
    k.image = bench_randn(k.tc, TC_DIMS(32, 3, 224, 224), 7);
    k.sobel_x = tc_const(k.tc, sobel_x, TC_DIMS(1, 1, 3, 3), TC_F32);
    k.sobel_y = tc_const(k.tc, sobel_y, TC_DIMS(1, 1, 3, 3), TC_F32);
    k.m = bench_randn(k.tc, TC_DIMS(512, 512), 8);
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

typedef struct side {
    work *k;
    size_t job;
    const char *mode;
} side;

static void run(void *user) {
    side *s = (side *)user;
    tc_options o = tc_options_default();
    o.mode = s->mode;
    tc_trace_begin_at(s->k->tc, s->mode, &o, jobs[s->job].name,
                      1); // its place: the job's name
    jobs[s->job].record(s->k);
    tc_trace_end(s->k->tc);
}

// What the search did, of the region that was made last.
static void print_search(tc_ctx *tc, double seconds) {
    const tc__step *s = tc->recorder.region->root.next;
    while (s && s->next) s = s->next;
    const tc__program *p = s ? (const tc__program *)s->program : NULL;
    size_t other = 0, n = p ? p->launch.count : 0;
    for (size_t i = 0; i < n; i++)
        other += !tc__tuning_is_default(&p->launch.at[i].group->shape.tuning);
    printf("  %.1f s of search; %zu of %zu launches have another kernel", seconds, other,
           n);
    for (size_t i = 0; i < n; i++) {
        const tc__launch *l = &p->launch.at[i];
        tc__text t;
        if (tc__tuning_is_default(&l->group->shape.tuning)) continue;
        tc__text_init(&t, tc);
        tc__put_tuning(&t, &l->group->shape.tuning);
        printf(": %s%s", t.at, other > 1 ? ", ..." : "");
        tc__text_free(&t);
        break;
    }
    printf("\n");
}

// Arguments: threads, default 2.
int main(int argc, char **argv) {
    work k = open_work(argc > 1 ? atoi(argv[1]) : THREADS);
    bench_head("tuned", "default", "ratio");
    for (size_t i = 0; i < sizeof jobs / sizeof jobs[0]; i++) {
        side plain = {&k, i, "default"}, tuned = {&k, i, "max-autotune"};
        double before = (double)tc_stats_get(k.tc).autotune_ns;
        run(&plain), run(&tuned);
        double seconds = ((double)tc_stats_get(k.tc).autotune_ns - before) * 1e-9;
        bench_side sides[2] = {{run, &tuned, 0}, {run, &plain, 0}};
        bench_interleave(sides, 2, 2 * BENCH_ROUNDS + 1);
        bench_check(k.tc);
        bench_row(jobs[i].name, sides[0].ns, sides[1].ns, sides[1].ns / sides[0].ns,
                  BENCH_NO_BAR, 0);
        print_search(k.tc, seconds);
    }
    tc_close(k.tc);
    return 0;
}
