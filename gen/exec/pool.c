// A pool of threads for data-parallel loops. Input: a function over a range of items.
// Output: the range is done when tc__pool_run returns. Each worker has one cache line, its
// mailbox, with the job in it: publishing is one store per worker that takes part, and a
// worker that does not take part reads nothing. Ranges are contiguous and depend only on
// (items, grain, threads), never on timing. Workers spin a while after a job, then sleep; a
// child made by fork() has no workers and runs everything inline.

#define TC__POOL_MAX     256      // threads, the caller among them
#define TC__POOL_SPIN_NS 1500000u // spinning before sleep; waking costs 20 us and more
#define TC__POOL_LINE    128      // x86 fetches cache lines in pairs

typedef void (*tc__pool_fn)(void *arg, int64_t lo, int64_t hi, int worker);

#if TC__THREADS

// `state` is 2 * (jobs given so far), plus 1 while the worker sleeps or is about to. One
// atomic add both publishes a job and tells whether the worker must be woken.
typedef struct tc__mailbox {
    volatile uint32_t state;
    volatile uint32_t done; // the state whose job is finished
    tc__pool_fn fn;         // NULL: end of the thread
    void *arg;
    int64_t lo, hi;
    char pad[TC__POOL_LINE - 40];
} tc__mailbox;

typedef struct tc__worker {
    tc__mailbox *mail;
    pthread_mutex_t lock; // only for sleeping
    pthread_cond_t wake;
    uint32_t wakes;                 // raised under lock to end a sleep without a job
    int index;                      // 1 .. threads - 1
    int avoid;                      // the CPU of the caller, or -1
    const volatile uint32_t *awake; // of the pool
    pthread_t thread;
} tc__worker;

typedef struct tc__pool {
    tc_ctx *ctx;
    int threads;         // running workers + the caller
    int busy;            // a job calls tc__pool_run: it runs inline
    tc__mailbox *mail;   // owned, aligned to TC__POOL_LINE; [0] is not used
    tc__worker *workers; // owned; [0] is not used
    void *mail_block;    // what mail was allocated as
    size_t mail_size;
    int room;                     // workers allocated
    volatile uint32_t *fork_mark; // reads 0 in a forked child; NULL = compare pids
    volatile uint32_t awake;      // 1 = workers do not sleep, and nobody gives up a CPU
    pid_t pid;
} tc__pool;

// Sleeps until a job comes or somebody asks to stay awake.
static void tc__worker_sleep(tc__worker *w, uint32_t seen) {
    tc__mailbox *m = w->mail;
    uint32_t wakes;
    (void)pthread_mutex_lock(&w->lock);
    wakes = w->wakes;
    if (tc__atomic_add32(&m->state, 1) == seen) {
        while (tc__atomic_load32(&m->state) == seen + 1 && w->wakes == wakes) {
            (void)pthread_cond_wait(&w->wake, &w->lock);
        }
    }
    (void)tc__atomic_add32(&m->state, (uint32_t)-1);
    (void)pthread_mutex_unlock(&w->lock);
}

// The state with the next job in it. The clock is asked only now and then.
static uint32_t tc__worker_next(tc__worker *w, uint32_t seen) {
    uint64_t end = 0;
    uint32_t now, turns;
    for (turns = 1;; turns++) {
        now = tc__atomic_load32(&w->mail->state);
        if (now != seen) return now;
        tc__cpu_pause();
        if (turns & 255u) continue;
        if (!end) end = tc__now_ns() + TC__POOL_SPIN_NS;
        if (tc__now_ns() < end || tc__atomic_load32(w->awake)) continue;
        tc__worker_sleep(w, seen);
        end = 0;
    }
}

static void *tc__worker_main(void *arg) {
    tc__worker *w = (tc__worker *)arg;
    tc__mailbox *m = w->mail;
    uint32_t seen = 0;
    (void)tc__fp_enter();
    for (;;) {
        seen = tc__worker_next(w, seen);
        if (!m->fn) return NULL;
        m->fn(m->arg, m->lo, m->hi, w->index);
        tc__atomic_store32(&m->done, seen);
    }
}

// Ends a sleep. The caller may have moved to the worker's CPU meanwhile, and a thread woken
// on a busy CPU waits for the next tick (measured: 1.5 ms against 30 us), so it is moved
// first.
static void tc__worker_wake(tc__worker *w) {
    int cpu = tc__cpu_current();
    if (cpu != w->avoid) tc__cpu_avoid(w->thread, cpu);
    w->avoid = cpu;
    (void)pthread_mutex_lock(&w->lock);
    w->wakes++;
    (void)pthread_cond_signal(&w->wake);
    (void)pthread_mutex_unlock(&w->lock);
}

static void tc__worker_give(tc__worker *w, tc__pool_fn fn, void *arg, int64_t lo,
                            int64_t hi) {
    tc__mailbox *m = w->mail;
    m->fn = fn;
    m->arg = arg;
    m->lo = lo;
    m->hi = hi;
    if (TC__UNLIKELY(tc__atomic_add32(&m->state, 2) & 1u)) tc__worker_wake(w);
}

// Waits for a worker. Where it shares this CPU after all, giving the CPU up is what helps.
static void tc__worker_join(tc__mailbox *m, int awake) {
    uint32_t job = tc__atomic_load32(&m->state) & ~1u, turns = 0;
    while (tc__atomic_load32(&m->done) != job) {
        if (++turns < 128u || awake) tc__cpu_pause();
        if (turns >= 128u && !awake) (void)sched_yield();
    }
}

static int tc__worker_start(tc__worker *w) {
    if (pthread_mutex_init(&w->lock, NULL)) return 0;
    if (!pthread_cond_init(&w->wake, NULL)) {
        if (!pthread_create(&w->thread, NULL, tc__worker_main, w)) {
            tc__cpu_avoid(w->thread, w->avoid);
            return 1;
        }
        (void)pthread_cond_destroy(&w->wake);
    }
    (void)pthread_mutex_destroy(&w->lock);
    return 0;
}

// Starts as many as the system allows; signals are for the host's own threads.
static void tc__pool_start(tc__pool *p) {
    sigset_t all, host;
    int avoid = tc__cpu_current();
    (void)sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &host)) return;
    while (p->threads < p->room) {
        tc__worker *w = &p->workers[p->threads];
        w->mail = &p->mail[p->threads];
        w->index = p->threads, w->awake = &p->awake;
        w->avoid = avoid;
        if (!tc__worker_start(w)) break;
        p->threads++;
    }
    (void)pthread_sigmask(SIG_SETMASK, &host, NULL);
}

static int tc__pool_in_child(const tc__pool *p) {
    if (TC__LIKELY(p->fork_mark != NULL)) return !tc__atomic_load32(p->fork_mark);
    return p->threads > 1 && getpid() != p->pid;
}

// Ends the workers and gives everything back. In a forked child there are none to end.
TC__UNUSED static void tc__pool_close(tc__pool *p) {
    int i;
    if (!p) return;
    for (i = 1; i < p->threads && !tc__pool_in_child(p); i++) {
        tc__worker *w = &p->workers[i];
        tc__worker_give(w, NULL, NULL, 0, 0);
        (void)pthread_join(w->thread, NULL);
        (void)pthread_cond_destroy(&w->wake);
        (void)pthread_mutex_destroy(&w->lock);
    }
    tc__fork_mark_close(p->fork_mark);
    tc__free(p->ctx, p->mail_block, p->mail_size);
    tc__free(p->ctx, p->workers, (size_t)p->room * sizeof *p->workers);
    tc__free(p->ctx, p, sizeof *p);
}

// A pool of at most `threads` threads with the caller; 0 or less = one per CPU this process
// may use. Fewer if the system gives fewer. NULL = no memory, reported.
TC__UNUSED static tc__pool *tc__pool_open(tc_ctx *c, int threads) {
    tc__pool *p = TC__NEW(c, tc__pool);
    uintptr_t at;
    if (!p) return NULL;
    if (threads <= 0) threads = tc__cpu_count();
    p->ctx = c;
    p->threads = 1;
    p->room = threads < TC__POOL_MAX ? threads : TC__POOL_MAX;
    if (p->room == 1) return p;
    p->pid = getpid();
    p->fork_mark = tc__fork_mark_open();
    p->workers = TC__NEW_ARRAY(c, tc__worker, p->room);
    p->mail_size = (size_t)p->room * sizeof(tc__mailbox) + TC__POOL_LINE;
    p->mail_block = tc__alloc(c, p->mail_size);
    if (!p->workers || !p->mail_block) return tc__pool_close(p), (tc__pool *)NULL;
    at = ((uintptr_t)p->mail_block + TC__POOL_LINE - 1) & ~(uintptr_t)(TC__POOL_LINE - 1);
    p->mail = (tc__mailbox *)at;
    tc__pool_start(p);
    return p;
}

// Wakes sleeping workers, so that they spin by the time the first kernel of a program runs.
TC__UNUSED static void tc__pool_wake(tc__pool *p) {
    int i;
    if (p->threads < 2 || tc__pool_in_child(p)) return;
    for (i = 1; i < p->threads; i++) {
        if (tc__atomic_load32(&p->mail[i].state) & 1u) tc__worker_wake(&p->workers[i]);
    }
}

// From now on workers spin between jobs, so that a job needs no system call; or they may sleep again.
TC__UNUSED static void tc__pool_stay_awake(tc__pool *p, int awake) {
    if (p->threads < 2 || tc__pool_in_child(p)) return;
    tc__atomic_store32(&p->awake, (uint32_t)awake);
    if (awake) tc__pool_wake(p);
}

// Runs fn over [0, items) in ranges of at least `grain` items (the last may be shorter), a
// range per worker. The caller is worker 0. Inline when one range holds everything, and without a
// pool.
TC__UNUSED static void tc__pool_run(tc__pool *p, tc__pool_fn fn, void *arg, int64_t items,
                                    int64_t grain) {
    int64_t size, grains, end;
    int i, n;
    if (items <= 0) return;
    if (grain < 1) grain = 1;
    if (items <= grain || !p || p->threads < 2 || p->busy || tc__pool_in_child(p)) {
        fn(arg, 0, items, 0);
        return;
    }
    grains = (items - 1) / grain + 1;
    n = grains < p->threads ? (int)grains : p->threads;
    size = ((grains - 1) / n + 1) * grain; // whole grains each
    n = (int)((items - 1) / size + 1);
    p->busy = 1;
    for (i = 1; i < n; i++) {
        end = i + 1 < n ? size * (i + 1) : items;
        tc__worker_give(&p->workers[i], fn, arg, size * i, end);
    }
    fn(arg, 0, size < items ? size : items, 0);
    for (i = 1; i < n; i++) tc__worker_join(&p->mail[i], (int)p->awake);
    p->busy = 0;
}

#else // no threads: the same interface, everything inline

typedef struct tc__pool {
    tc_ctx *ctx;
    int threads;
} tc__pool;

TC__UNUSED static tc__pool *tc__pool_open(tc_ctx *c, int threads) {
    tc__pool *p = TC__NEW(c, tc__pool);
    (void)threads;
    if (!p) return NULL;
    p->ctx = c;
    p->threads = 1;
    return p;
}

TC__UNUSED static void tc__pool_close(tc__pool *p) {
    if (p) tc__free(p->ctx, p, sizeof *p);
}

TC__UNUSED static void tc__pool_wake(tc__pool *p) { (void)p; }

TC__UNUSED static void tc__pool_stay_awake(tc__pool *p, int awake) { (void)p, (void)awake; }

TC__UNUSED static void tc__pool_run(tc__pool *p, tc__pool_fn fn, void *arg, int64_t items,
                                    int64_t grain) {
    (void)p, (void)grain;
    if (items > 0) fn(arg, 0, items, 0);
}

#endif // TC__THREADS
