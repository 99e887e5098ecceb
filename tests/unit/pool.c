// The thread pool: every item once, ranges as documented, sleeping, waking, fork, nesting.
// With --bench it prints the cost of an empty fork-join instead.
#include "harness.h"

#include "api/config.h"

#include "out/status.inc"

#include "base/prelude.c"

#include "base/error.c"

#include "base/mem.c"

#include "base/text.c"

#include "base/hash.c"

#include "base/cpu.c"
#include "base/os.c"

#include "base/process.c"

// The system gives so many threads, then none for a while.
static int threads_given = 1000;
static int give_thread(pthread_t *t, const pthread_attr_t *attr, void *(*main)(void *),
                       void *arg) {
    if (threads_given-- <= 0) return EAGAIN;
    return pthread_create(t, attr, main, arg);
}

#define pthread_create give_thread
#include "exec/pool.c"
#undef pthread_create

struct tc_ctx {
    tc__core core;
};

static tc_ctx *open_context(struct tc_ctx *c) {
    memset(c, 0, sizeof *c);
    return c;
}

enum { ITEMS = 10007 };

typedef struct job {
    tc__pool *pool;
    int64_t grain;
    uint8_t count[ITEMS];
    int ranges[64]; // of each worker,
    int within[64]; // and how many of them begin within a grain
} job;

static void count_items(void *arg, int64_t lo, int64_t hi, int worker) {
    job *j = (job *)arg;
    int64_t i;
    j->ranges[worker]++;
    j->within[worker] += j->grain > 0 && lo % j->grain;
    for (i = lo; i < hi; i++) j->count[i]++;
}

static void run_once(job *j, int64_t items, int64_t grain) {
    int64_t i, wrong = 0;
    memset(j->count, 0, sizeof j->count);
    memset(j->ranges, 0, sizeof j->ranges);
    memset(j->within, 0, sizeof j->within);
    j->grain = grain;
    tc__pool_run(j->pool, count_items, j, items, grain);
    for (i = 0; i < ITEMS; i++) wrong += j->count[i] != (i < items);
    CHECK(!wrong);
    // What the caller times while the others sleep may end anywhere; what is left of it begins there.
    for (i = 0; i < 64; i++) wrong += j->within[i] > (i == 0);
    CHECK(!wrong);
    if (items > 0 && items <= grain) CHECK(!j->ranges[1] && j->ranges[0] == 1);
}

TEST(ranges) {
    struct tc_ctx context, *c = open_context(&context);
    static const int64_t sizes[] = {0, 1, 2, 3, 63, 64, 65, 1000, 9999, ITEMS, -5};
    static const int64_t grains[] = {0, 1, 2, 7, 64, 5000, 10006, 20000};
    job *j = (job *)calloc(1, sizeof *j);
    int threads;
    size_t s, g;
    for (threads = 1; j && threads <= 6; threads += threads < 4 ? 1 : 2) {
        j->pool = tc__pool_open(c, threads);
        CHECK(j->pool && j->pool->threads == threads);
        for (s = 0; s < TC__COUNT(sizes); s++) {
            for (g = 0; g < TC__COUNT(grains); g++) run_once(j, sizes[s], grains[g]);
        }
        tc__pool_close(j->pool);
    }
    free(j);
    CHECK(c->core.bytes == 0);
}

static void rest(int ms) {
    struct timespec t;
    t.tv_sec = 0;
    t.tv_nsec = (long)ms * 1000000;
    nanosleep(&t, NULL);
}

// Every grain, with workers that sleep: what is timed is a grain, or a part of one.
TEST(ranges_asleep) {
    struct tc_ctx context, *c = open_context(&context);
    job *j = (job *)calloc(1, sizeof *j);
    int within = 0;
    j->pool = tc__pool_open(c, 2);
    for (int64_t grain = 1; grain < 40; grain++) {
        while (!tc__worker_sleeps(&j->pool->workers[1])) rest(1);
        run_once(j, 2 * grain, grain);
        within += j->within[0];
    }
    CHECK(within > 0);
    tc__pool_close(j->pool);
    free(j);
}

TEST(sleep) {
    struct tc_ctx context, *c = open_context(&context);
    job *j = (job *)calloc(1, sizeof *j);
    int i;
    j->pool = tc__pool_open(c, 3);
    for (i = 0; i < 30; i++) {
        rest(i % 6);
        if (i & 1) tc__pool_wake(j->pool);
        if (i & 2) rest(1);
        run_once(j, ITEMS, 16);
    }
    tc__pool_close(j->pool);
    free(j);
}

// Two items that each wait for the other: two threads, or neither comes back.
static volatile uint32_t met;

static void meet(void *arg, int64_t lo, int64_t hi, int worker) {
    (void)arg, (void)worker;
    for (; lo < hi; lo++) {
        (void)tc__atomic_add32(&met, 1);
        while (tc__atomic_load32(&met) < 2) sched_yield();
    }
}

// Workers that sleep are woken when that is worth it, so nobody may wait for them: awake they are.
static void run_two(tc__pool *p, tc__pool_fn fn, void *arg) {
    met = 0;
    tc__pool_stay_awake(p, 1);
    rest(2);
    p->alone = 0; // whatever kept the worker from running before
    tc__pool_run(p, fn, arg, 2, 1);
    tc__pool_stay_awake(p, 0);
}

TEST(two_threads_at_once) {
    struct tc_ctx context, *c = open_context(&context);
    tc__pool *p = tc__pool_open(c, 2);
    for (int i = 0; i < 20; i++) {
        run_two(p, meet, NULL);
        CHECK(met == 2);
    }
    tc__pool_close(p);
}

// Item 0 takes long, and nobody else is there at first: who comes takes what is left of it.
static void stay(void *arg, int64_t lo, int64_t hi, int worker) {
    job *j = (job *)arg;
    if (lo == 0) rest(30);
    for (; lo < hi; lo++) j->count[lo] = (uint8_t)(worker + 1);
}

TEST(others_help) {
    struct tc_ctx context, *c = open_context(&context);
    job *j = (job *)calloc(1, sizeof *j);
    int64_t helped = 0, left = 0;
    tc__pool *p = tc__pool_open(c, 2);
    tc__pool_stay_awake(p, 1);
    rest(2);
    tc__pool_run(p, stay, j, 800, 1);
    for (int i = 0; i < 800; i++) left += !j->count[i], helped += j->count[i] == 2;
    CHECK(!left && helped > 400); // of the caller's part, too
    tc__pool_close(p);
    free(j);
}

static void nested(void *arg, int64_t lo, int64_t hi, int worker) {
    job *j = (job *)arg;
    (void)worker;
    tc__pool_run(j->pool, count_items, j, 0, 1);
    for (; lo < hi; lo++) j->count[lo]++;
}

static void add_inner(void *arg, int64_t lo, int64_t hi, int worker) {
    (void)worker;
    *(int64_t *)arg += hi - lo;
}

static void nest_deeper(void *arg, int64_t lo, int64_t hi, int worker) {
    job *j = (job *)arg;
    int64_t inner = 0;
    tc__pool_run(j->pool, add_inner, &inner, 100, 1);
    for (; lo < hi; lo++) j->count[lo] = (uint8_t)(inner + worker);
}

TEST(nested) {
    struct tc_ctx context, *c = open_context(&context);
    job *j = (job *)calloc(1, sizeof *j);
    j->pool = tc__pool_open(c, 3);
    tc__pool_run(j->pool, nested, j, 300, 1);
    CHECK(j->count[0] == 1 && j->count[299] == 1);
    tc__pool_run(j->pool, nest_deeper, j, 3, 1);
    for (int i = 0; i < 3; i++) CHECK(j->count[i] >= 100 && j->count[i] <= 102);
    tc__pool_close(j->pool);
    free(j);
}

#ifdef __has_feature
#    if __has_feature(thread_sanitizer) && !defined(__SANITIZE_THREAD__)
#        define __SANITIZE_THREAD__ 1
#    endif
#endif
#ifdef __SANITIZE_THREAD__
enum { CHILD_THREADS = 1 }; // the sanitizer forbids threads after a fork
#else
enum { CHILD_THREADS = 3 };
#endif

static int child_passes(job *j, tc_ctx *c) {
    tc__pool *fresh;
    int ok;
    run_once(j, ITEMS, 1);
    ok = !test_failures && !j->ranges[1];
    fresh = tc__pool_open(c, CHILD_THREADS);
    tc__pool_close(j->pool);
    j->pool = fresh;
    run_once(j, ITEMS, 1);
    ok = ok && !test_failures &&
         (CHILD_THREADS == 1 || (run_two(fresh, meet, NULL), met == 2));
    tc__pool_close(fresh);
    return ok;
}

// Threads that begin or end call the sanitizers' allocators, whose locks a child of that moment never gets.
static void let_them_sleep(const tc__pool *p) {
    for (int i = 1; TEST_SANITIZED && i < p->threads; i++)
        while (!tc__worker_sleeps(&p->workers[i])) rest(1);
}

TEST(fork) {
    struct tc_ctx context, *c = open_context(&context);
    job *j = (job *)calloc(1, sizeof *j);
    volatile uint32_t *mark;
    int i, status = -1;
    pid_t pid;
    for (i = 0; i < 2; i++) {
        j->pool = tc__pool_open(c, 3);
        mark = j->pool->fork_mark;
        if (i) j->pool->fork_mark = NULL; // as on a system without such memory
        run_once(j, ITEMS, 1);
        let_them_sleep(j->pool);
        pid = fork();
        if (!pid) {
            alarm(20);
            _exit(child_passes(j, c) ? 0 : 1);
        }
        (void)waitpid(pid, &status, 0);
        CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
        run_once(j, ITEMS, 1);
        j->pool->fork_mark = mark;
        tc__pool_close(j->pool);
    }
    free(j);
}

typedef struct thread_facts {
    int blocked[8];
    uint64_t control[8];
} thread_facts;

static void look_around(void *arg, int64_t lo, int64_t hi, int worker) {
    thread_facts *f = (thread_facts *)arg;
    sigset_t set;
    (void)pthread_sigmask(SIG_SETMASK, NULL, &set);
    meet(NULL, lo, hi, worker);
    f->blocked[worker] = sigismember(&set, SIGTERM) && sigismember(&set, SIGUSR1);
    f->control[worker] = tc__fp_enter();
}

TEST(thread_state) {
    struct tc_ctx context, *c = open_context(&context);
    thread_facts f;
    tc__pool *p;
    memset(&f, 0, sizeof f);
#if TC__X86
    __builtin_ia32_ldmxcsr(0x9fc0u); // the host flushes to zero: a new thread inherits that
#endif
    p = tc__pool_open(c, 2);
    rest(5);
#if TC__X86
    __builtin_ia32_ldmxcsr(0x1f80u);
#endif
    run_two(p, look_around, &f);
    CHECK(!f.blocked[0] && f.blocked[1]);
#if TC__X86
    CHECK((f.control[1] & 0xffc0u) == 0x1f80u);
#endif
    tc__pool_close(p);
}

static void nothing(void *arg, int64_t lo, int64_t hi, int worker) {
    (void)arg, (void)lo, (void)hi, (void)worker;
}

static int by_value(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

TEST(bench) {
    struct tc_ctx context, *c = open_context(&context);
    enum { ROUNDS = 400, REPEATS = 100 };
    static uint64_t hot[ROUNDS], parked[60];
    tc__pool *p = tc__pool_open(c, 0);
    int i, k, rounds = test_option("--bench") ? ROUNDS : 4;
    for (i = 0; i < rounds; i++) {
        uint64_t t = tc__now_ns();
        for (k = 0; k < REPEATS; k++) tc__pool_run(p, nothing, NULL, p->threads, 1);
        hot[i] = (tc__now_ns() - t) / REPEATS;
    }
    for (i = 0; i < rounds && i < 60; i++) {
        uint64_t t;
        rest(5);
        t = tc__now_ns();
        tc__pool_run(p, nothing, NULL, p->threads, 1);
        parked[i] = tc__now_ns() - t;
    }
    CHECK(hot[0] < 100000000u);
    tc__pool_close(p);
    if (rounds < ROUNDS) return;
    qsort(hot, ROUNDS, sizeof *hot, by_value);
    qsort(parked, 60, sizeof *parked, by_value);
    printf("fork-join, %d threads: hot %llu ns (p10 %llu, p90 %llu), asleep %llu ns\n",
           tc__cpu_count(), (unsigned long long)hot[ROUNDS / 2],
           (unsigned long long)hot[ROUNDS / 10], (unsigned long long)hot[ROUNDS * 9 / 10],
           (unsigned long long)parked[30]);
}

// Threads that were missing come when the system has them; until then it is asked ever more rarely.
TEST(missing_threads_come_later) {
    struct tc_ctx c;
    static job j;
    memset(&j, 0, sizeof j);
    threads_given = 1;
    j.pool = tc__pool_open(open_context(&c), 4);
    CHECK_EQ(j.pool->threads, 2);
    run_once(&j, ITEMS, 1);
    CHECK_EQ(j.pool->threads, 2);
    threads_given = 0;
    uint64_t pause = j.pool->pause;
    for (int i = 0; i < 3; i++, pause *= 2) {
        CHECK_EQ(j.pool->pause, pause);
        j.pool->later = 1; // its time has come
        run_once(&j, ITEMS, 1);
        CHECK_EQ(j.pool->threads, 2);
        CHECK(j.pool->later > tc__now_ns());
    }
    threads_given = 1000;
    run_once(&j, ITEMS, 1); // it is not time yet
    CHECK_EQ(j.pool->threads, 2);
    j.pool->later = 1;
    run_once(&j, ITEMS, 1);
    CHECK_EQ(j.pool->threads, 4);
    for (int i = 0; i < 100; i++) run_once(&j, ITEMS, 1);
    tc__pool_close(j.pool);
    // Without any at first.
    threads_given = 0;
    j.pool = tc__pool_open(open_context(&c), 3);
    CHECK_EQ(j.pool->threads, 1);
    run_once(&j, ITEMS, 1);
    threads_given = 1000, j.pool->later = 1;
    run_once(&j, ITEMS, 1);
    CHECK_EQ(j.pool->threads, 3);
    run_once(&j, ITEMS, 1);
    tc__pool_close(j.pool);
}
