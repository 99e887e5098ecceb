// How fast are copies between two GPUs? tc_to from one to the other, against the driver's copy on one of them,
// which reads and writes as many bytes, and against the way by the host, in the same run. Where there is no
// second GPU it says so, and ends.
//
//     bench/cuda_peer [MIB]     of the tensor, 256 by default
#define TCOMPILE_IMPLEMENTATION
#define TCOMPILE_CUDA_IMPLEMENTATION
#include "tcompile.h"
#include "tcompile_cuda.h"

#include "bench.h"

enum { ROUNDS = 9, BAR = 100 }; // GB/s, over NVLink

typedef struct peer {
    tc_ctx *tc;
    tc_tensor x; // on cuda:0
} peer;

static void over_the_link(void *user) {
    peer *p = (peer *)user;
    tc_free(tc_to(p->x, "cuda:1"));
    tc_sync(p->tc);
}

static void by_the_host(void *user) {
    peer *p = (peer *)user;
    tc_tensor here = tc_to(p->x, "cpu");
    tc_free(tc_to(here, "cuda:1"));
    tc_free(here);
    tc_sync(p->tc);
}

static void on_one(void *user) {
    peer *p = (peer *)user;
    tc_free(tc_clone(p->x));
    tc_sync(p->tc);
}

// Nanoseconds: the median of the rounds.
static double measure(void (*work)(void *), peer *p) {
    double ns[ROUNDS];
    work(p);
    for (int i = 0; i < ROUNDS; i++) {
        double start = bench_ns();
        work(p);
        ns[i] = bench_ns() - start;
    }
    return bench_median(ns, ROUNDS);
}

int main(int count, char **args) {
    static const struct {
        const char *name;
        void (*work)(void *);
    } row[] = {{"over the link", over_the_link},
               {"by the host", by_the_host},
               {"on one GPU", on_one}};
    int64_t mib = count > 1 ? atoi(args[1]) : 256;
    peer p;
    if (tc_cuda_device_count() < 2) {
        printf("there is no second GPU\n");
        return 0;
    }
    p.tc = tc_open(NULL);
    if (!p.tc || tc_cuda_open(p.tc, 0) || tc_cuda_open(p.tc, 1)) {
        printf("%s\n", tc_error_text(p.tc));
        return 1;
    }
    tc_tensor zeros = tc_zeros(p.tc, TC_DIMS(mib << 18), TC_F32);
    p.x = tc_to(zeros, "cuda:0");
    printf("%lld MiB from cuda:0 to cuda:1\n", (long long)mib);
    for (int i = 0; i < 3; i++) {
        double ns = measure(row[i].work, &p), rate = (double)(mib << 20) / ns;
        printf("%-14s %10.1f us %8.1f GB/s", row[i].name, ns / 1000, rate);
        if (!i) printf("   bar %d: %s", BAR, rate >= BAR ? "ok" : "MISSED");
        printf("\n");
    }
    tc_close(p.tc);
    return 0;
}
