// How near are fused kernels to the memory's limit? The yardstick is a copy of as many
// bytes by the same number of threads, with non-temporal stores, written for this purpose,
// in huge pages. Ratio: time of the copy / our time, so 1 is the limit.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

#include "bench.h"

#include <pthread.h>
#include <sched.h>
#if defined(__x86_64__)
#    include <immintrin.h>
#endif

enum { THREADS = 2, SIDE = 4096 };

static const size_t ELEMENTS = (size_t)SIDE * SIDE;

// ---- the copy ----

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void copy_range(float *to, const float *from,
                                                       size_t n) {
    for (size_t i = 0; i < n; i += 32) {
        __m256 a = _mm256_load_ps(from + i), b = _mm256_load_ps(from + i + 8);
        __m256 c = _mm256_load_ps(from + i + 16), d = _mm256_load_ps(from + i + 24);
        _mm256_stream_ps(to + i, a);
        _mm256_stream_ps(to + i + 8, b);
        _mm256_stream_ps(to + i + 16, c);
        _mm256_stream_ps(to + i + 24, d);
    }
    _mm_sfence();
}
#else
static void copy_range(float *to, const float *from, size_t n) { memcpy(to, from, n * 4); }
#endif

typedef struct copier {
    float *to;
    const float *from;
    volatile int go, done; // rounds
} copier;

// The second half, by a thread that never sleeps.
static void *copy_worker(void *arg) {
    copier *c = (copier *)arg;
    for (int round = 1;; round++) {
        int turns = 0;
        while (__atomic_load_n(&c->go, __ATOMIC_ACQUIRE) != round)
            if (++turns > 20000) sched_yield();
        copy_range(c->to + ELEMENTS / 2, c->from + ELEMENTS / 2, ELEMENTS / 2);
        __atomic_store_n(&c->done, round, __ATOMIC_RELEASE);
    }
    return NULL;
}

static void copy(void *user) {
    copier *c = (copier *)user;
    int round = c->go + 1;
    __atomic_store_n(&c->go, round, __ATOMIC_RELEASE);
    copy_range(c->to, c->from, ELEMENTS / 2);
    while (__atomic_load_n(&c->done, __ATOMIC_ACQUIRE) != round) {
    }
}

// ---- ours ----

typedef struct job {
    tc_ctx *tc;
    tc_tensor x, a, b, w, bias; // [4096, 4096], [1], [1], [4096], [4096]
    tc_tensor f16, bf16;        // [8192, 4096]: as many bytes as x
} job;

static void affine(const job *j, const char *name, tc_tensor x) {
    tc_trace_begin(j->tc, name);
    tc_relu(
        tc_add(tc_mul(x, tc_cast(j->a, tc_dtype_of(x))), tc_cast(j->b, tc_dtype_of(x))));
    tc_trace_end(j->tc);
}

static void relu_affine(void *user) { affine((job *)user, "relu", ((job *)user)->x); }
static void relu_f16(void *user) { affine((job *)user, "relu f16", ((job *)user)->f16); }
static void relu_bf16(void *user) { affine((job *)user, "relu bf16", ((job *)user)->bf16); }

static void layer_norm(void *user) {
    job *j = (job *)user;
    tc_trace_begin(j->tc, "layer_norm");
    tc_layer_norm(j->x, j->w, j->bias, 1e-5);
    tc_trace_end(j->tc);
}

static void softmax_of(const job *j, const char *name, tc_tensor x) {
    tc_trace_begin(j->tc, name);
    tc_softmax(x, -1);
    tc_trace_end(j->tc);
}

static void softmax(void *user) { softmax_of((job *)user, "softmax", ((job *)user)->x); }
static void softmax_f16(void *user) {
    softmax_of((job *)user, "softmax f16", ((job *)user)->f16);
}
static void softmax_bf16(void *user) {
    softmax_of((job *)user, "softmax bf16", ((job *)user)->bf16);
}

int main(void) {
    static const struct {
        const char *name;
        void (*run)(void *user);
        double bar; // 0 = none
    } row[] = {
        {"relu(x*a+b) 16M f32", relu_affine, 0.8},
        {"layer_norm 4096x4096 f32", layer_norm, 0.7},
        {"softmax 4096x4096 f32", softmax, 0.5},
        {"relu(x*a+b) 32M f16", relu_f16, 0},
        {"relu(x*a+b) 32M bf16", relu_bf16, 0},
        {"softmax 8192x4096 f16", softmax_f16, 0},
        {"softmax 8192x4096 bf16", softmax_bf16, 0},
    };
    job j;
    copier c;
    pthread_t thread;
    int missed = 0;
    j.tc = bench_open(THREADS);
    j.x = bench_randn(j.tc, TC_DIMS(SIDE, SIDE), 1);
    j.a = bench_randn(j.tc, TC_DIMS(1), 2), j.b = bench_randn(j.tc, TC_DIMS(1), 3);
    j.w = bench_randn(j.tc, TC_DIMS(SIDE), 4), j.bias = bench_randn(j.tc, TC_DIMS(SIDE), 5);
    tc_tensor wide = bench_randn(j.tc, TC_DIMS(2 * SIDE, SIDE), 6);
    j.f16 = tc_cast(wide, TC_F16), j.bf16 = tc_cast(wide, TC_BF16);
    c.to = bench_floats(ELEMENTS), c.from = (const float *)tc_data(j.x);
    c.go = c.done = 0;
    if (pthread_create(&thread, NULL, copy_worker, &c)) return 2;

    bench_head("ours", "NT copy", "share");
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        bench_side side[2] = {{row[i].run, &j, 0}, {copy, &c, 0}};
        bench_interleave(side, 2, BENCH_ROUNDS);
        bench_check(j.tc);
        missed += bench_row(row[i].name, side[0].ns, side[1].ns, side[1].ns / side[0].ns,
                            row[i].bar > 0 ? BENCH_AT_LEAST : BENCH_NO_BAR, row[i].bar);
        if (i == 0)
            printf("%-34s %9.1f GB/s\n", "  the copy moves",
                   8.0 * (double)ELEMENTS / side[1].ns);
    }
    tc_close(j.tc);
    return bench_status(missed);
}
