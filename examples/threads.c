// One network, many threads: the weights are in one context, every thread has a context of its own
// that was opened from it. No locks, no copies of weights; what is compiled is compiled once.
//
// Build: cc -O2 -I. examples/threads.c -o threads -lpthread -ldl
// Prints for each thread how many calls it made, in how many of them the body was skipped, and how many
// kernels it found compiled already; then whether all results are those that the first context gets
// alone. Exit status 1 if not.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 6, REQUESTS = 8, CALLS = 400, BATCH = 16, WIDTH = 64, CLASSES = 10 };

typedef struct model {
    tc_tensor w1, b1, w2, b2;
} model;

static void classify(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    const model *m = (const model *)user;
    (void)tc; // handles of the first context are good in those opened from it
    tc_tensor h = tc_relu(tc_linear(in[0], m->w1, m->b1));
    out[0] = tc_softmax(tc_linear(h, m->w2, m->b2), -1);
}

typedef float request[BATCH * WIDTH];
typedef float answer[BATCH * CLASSES];

// The same for all threads; nobody writes while they run.
typedef struct service {
    tc_fn *f;
    request in[REQUESTS];
    answer want[REQUESTS];
} service;

typedef struct worker {
    tc_ctx *tc;
    const service *s;
    int number, wrong;
    tc_stats stats;
} worker;

// 1 = the answer is there.
static int ask(tc_ctx *tc, const service *s, int i, float *out) {
    tc_scope_begin(tc);
    tc_tensor x = tc_from_data(tc, s->in[i], TC_DIMS(BATCH, WIDTH), TC_F32), y;
    // The input tells which context it is about.
    int ok =
        tc_call(s->f, &x, 1, &y, 1) == TC_OK && tc_read(y, out, sizeof(answer)) == TC_OK;
    tc_scope_end(tc);
    return ok;
}

static void *work(void *arg) {
    worker *w = (worker *)arg;
    answer out;
    for (int k = 0; k < CALLS; k++) {
        int i = (k + w->number) % REQUESTS;
        w->wrong += !ask(w->tc, w->s, i, out) || memcmp(out, w->s->want[i], sizeof out);
    }
    w->stats = tc_stats_get(w->tc);
    return NULL;
}

// The first context compiles, and gives the answers that all have to give.
static int open_service(tc_ctx *tc, service *s, model *m) {
    tc_manual_seed(tc, 11);
    m->w1 = tc_randn(tc, TC_DIMS(WIDTH, WIDTH), TC_F32);
    m->b1 = tc_randn(tc, TC_DIMS(WIDTH), TC_F32);
    m->w2 = tc_randn(tc, TC_DIMS(CLASSES, WIDTH), TC_F32);
    m->b2 = tc_randn(tc, TC_DIMS(CLASSES), TC_F32);
    s->f = tc_compile(tc, classify, m, sizeof *m, NULL);
    int ok = s->f != NULL;
    for (int i = 0; i < REQUESTS && ok; i++) {
        tc_tensor x = tc_randn(tc, TC_DIMS(BATCH, WIDTH), TC_F32);
        ok = tc_read(x, s->in[i], sizeof s->in[i]) == TC_OK && ask(tc, s, i, s->want[i]);
    }
    return ok;
}

static int run_threads(tc_ctx *tc, const service *s) {
    pthread_t thread[THREADS];
    worker w[THREADS];
    int started = 0, wrong = 0;
    memset(w, 0, sizeof w);
    for (int i = 0; i < THREADS;
         i++) { // before any of them runs: nobody may use tc meanwhile
        w[i].tc = tc_open_shared(tc), w[i].s = s, w[i].number = i;
        if (!w[i].tc) return 1;
    }
    while (started < THREADS && !pthread_create(&thread[started], NULL, work, &w[started]))
        started++;
    for (int i = 0; i < started; i++) pthread_join(thread[i], NULL);
    for (int i = 0; i < THREADS; i++) {
        const tc_stats *t = &w[i].stats;
        printf("thread %d: %d calls, %d skipped the body; %d kernels known, %d compiled\n",
               i, (int)t->calls, (int)t->skips, (int)t->memory_hits, (int)t->compiles);
        wrong += w[i].wrong || t->compiles || tc_error(w[i].tc);
        tc_close(w[i].tc);
    }
    return wrong || started < THREADS;
}

int main(void) {
    service *s = (service *)calloc(1, sizeof *s);
    tc_ctx *tc = tc_open(NULL);
    model m;
    int bad = !tc || !s || !open_service(tc, s, &m);
    if (!bad) bad = run_threads(tc, s);
    printf("results: %s\n", bad ? "WRONG" : "the same bits in all threads");
    if (tc_error(tc)) printf("error: %s\n", tc_error_text(tc));
    tc_close(tc);
    free(s);
    return bad;
}
