// A pool of threads for data-parallel loops. Input: a function over a range of items.
// Output: the range is done when tc__pool_run returns. Each thread has two cache lines, its
// mailbox, with its part of the job in pieces, ever smaller ones, each a quarter of what is left. A thread
// does its own pieces first, so that it meets the same memory kernel after kernel; then those that others have
// not begun. So nobody waits long for a thread that is slower, or that the system gave no CPU: on a busy machine
// a job takes at worst what one thread takes. Pieces are contiguous and depend only on (items, grain, threads), never on timing.
// Workers spin a while after a job, then sleep, at once where they find that they were not
// running; those that sleep are woken when that is worth it. A child made by fork() has no
// workers and runs everything inline.

#define TC__POOL_MAX     256      // threads, the caller among them
#define TC__POOL_SPIN_NS 1500000u // spinning before sleep; waking costs 20 us and more
#define TC__POOL_GAP_NS  100000u  // without running while one spins: others need the CPU
#define TC__POOL_OWED_NS                                                                   \
    60000u // done alone since workers fell asleep, until they are woken
#define TC__POOL_ALONE         16 // times what a wait for a thread that did not run took: alone
#define TC__POOL_PAUSE_NS      100000000u // until threads that were missing are asked for again
#define TC__POOL_PAUSE_MOST_NS 60000000000u
#define TC__POOL_SHARE         4   // of what is left of a part, a piece is one in so many,
#define TC__POOL_LEAST         8   //   of all of the part at least one in so many,
#define TC__POOL_FEW           8   //   and a part of so few grains has SHARE equal pieces
#define TC__POOL_TEST          4   // of a grain, what is timed is one in so many
#define TC__POOL_LINE          128 // x86 fetches cache lines in pairs

typedef void (*tc__pool_fn)(void *arg, int64_t lo, int64_t hi, int worker);

#if TC__THREADS

// `state` is 2 * (jobs given so far), plus 1 while the worker sleeps or is about to. One
// atomic add both tells of a job and whether the worker must be woken. `claim` is 2^48 * threads that have
// a part + 2^32 * pieces + pieces begun: who raises it by one has the next piece. What stands behind it
// changes only when all pieces are done, and is read only by who has one.
typedef struct tc__mailbox {
    volatile uint64_t claim;
    volatile uint64_t done; // pieces
    tc__pool_fn fn;
    void *arg;
    int64_t lo, hi, grain; // of the part,
    uint32_t grains;       //   so many of them: a division for a job, none for a piece
    volatile uint32_t state;
    volatile uint32_t quit; // 1: end of the thread
    char pad[TC__POOL_LINE - 68];
} tc__mailbox;

typedef struct tc__worker {
    tc__mailbox *mail;
    pthread_mutex_t lock; // only for sleeping
    pthread_cond_t wake;
    uint32_t wakes;                 // raised under lock to end a sleep without a job
    int index;                      // 1 .. threads - 1
    int avoid;                      // the CPU of the caller, or -1
    tc__mailbox *all;               // of the pool
    const volatile uint32_t *awake; // of the pool
    pthread_t thread;
} tc__worker;

typedef struct tc__pool {
    tc_ctx *ctx;
    int threads;       // running workers + the caller
    int busy;          // a job calls tc__pool_run: it runs inline
    uint64_t owed;     // ns that were done alone because workers slept
    uint64_t alone;    // until then jobs are done alone: workers are kept from running
    uint64_t later;    // while workers are missing: when to ask the system for them again,
    uint64_t pause;    //   and how long was waited for that
    tc__mailbox *mail; // owned, aligned to TC__POOL_LINE; [0] is the caller's
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
        TC__ATOMIC_FENCE(); // who asks to stay awake says so, then looks who sleeps: one sees the other
        while (tc__atomic_load32(&m->state) == seen + 1 && w->wakes == wakes &&
               !tc__atomic_load32(w->awake))
            (void)pthread_cond_wait(&w->wake, &w->lock);
    }
    (void)tc__atomic_add32(&m->state, (uint32_t)-1);
    (void)pthread_mutex_unlock(&w->lock);
}

// The state with the next job in it. The clock is asked only now and then; where much more time went by
// than that takes, somebody else was running here, and spinning keeps him from it.
static uint32_t tc__worker_next(tc__worker *w, uint32_t seen) {
    uint64_t end = 0, last = 0;
    uint32_t now, turns;
    for (turns = 1;; turns++) {
        now = tc__atomic_load32(&w->mail->state);
        if (now != seen) return now;
        tc__cpu_pause();
        if (turns & 255u) continue;
        uint64_t time = tc__now_ns();
        int gap = last && time - last > TC__POOL_GAP_NS;
        if (!end) end = time + TC__POOL_SPIN_NS;
        last = time;
        if ((time < end && !gap) || tc__atomic_load32(w->awake)) continue;
        tc__worker_sleep(w, seen);
        end = last = 0;
    }
}

// Grains of the next piece of a part, of which `left` are left.
static uint32_t tc__piece_grains(const tc__mailbox *m, uint32_t left) {
    uint32_t least =
        (m->grains - 1) / (m->grains > TC__POOL_FEW ? TC__POOL_LEAST : TC__POOL_SHARE);
    uint32_t size = (left - 1) / TC__POOL_SHARE;
    size = (size > least ? size : least) + 1;
    return size < left ? size : left;
}

// Piece i of a part.
static void tc__mail_piece(const tc__mailbox *m, uint32_t i, int64_t *lo, int64_t *hi) {
    uint32_t left = m->grains, size = tc__piece_grains(m, left);
    for (*lo = m->lo; i; i--) {
        *lo += size * m->grain, left -= size;
        size = tc__piece_grains(m, left);
    }
    *hi = size < left ? *lo + size * m->grain : m->hi;
}

// The next piece of a part, for thread `index`. Gives the number of threads of the job, 0 = all pieces have
// been begun, or the thread has no part in it: there is scratch for those only that have.
static int tc__mail_take(tc__mailbox *m, int index, int64_t *lo, int64_t *hi) {
    uint64_t claim;
    int threads;
    do {
        claim = tc__atomic_load64(&m->claim);
        threads = (int)(claim >> 48);
        if ((uint32_t)claim >= (claim >> 32 & UINT16_MAX) || index >= threads) return 0;
    } while (!tc__atomic_cas64(&m->claim, claim, claim + 1));
    tc__mail_piece(m, (uint32_t)claim, lo, hi);
    return threads;
}

// The pieces of a mailbox that nobody has begun. Gives the number of threads of their job, 0 = there was none.
static int tc__mail_work(tc__mailbox *m, int index) {
    int64_t lo, hi;
    int threads = 0, found;
    while ((found = tc__mail_take(m, index, &lo, &hi)) != 0) {
        threads = found;
        m->fn(m->arg, lo, hi, index);
        (void)tc__atomic_add64(&m->done, 1);
    }
    return threads;
}

// What others have not begun, of a job with so many threads.
static void tc__mail_help(tc__mailbox *all, int index, int threads) {
    for (int i = 1; i < threads; i++)
        (void)tc__mail_work(&all[(index + i) % threads], index);
}

static void *tc__worker_main(void *arg) {
    tc__worker *w = (tc__worker *)arg;
    uint32_t seen = 0;
    (void)tc__fp_enter();
    for (;;) {
        seen = tc__worker_next(w, seen);
        if (tc__atomic_load32(&w->mail->quit)) return NULL;
        tc__mail_help(w->all, w->index, tc__mail_work(w->mail, w->index));
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

// Tells a worker that its mailbox has changed.
static void tc__worker_tell(tc__worker *w) {
    if (TC__UNLIKELY(tc__atomic_add32(&w->mail->state, 2) & 1u)) tc__worker_wake(w);
}

static int tc__worker_sleeps(const tc__worker *w) {
    return (int)(tc__atomic_load32(&w->mail->state) & 1u);
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
        w->index = p->threads, w->all = p->mail, w->awake = &p->awake;
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
        tc__atomic_store32(&w->mail->quit, 1);
        tc__worker_tell(w);
        (void)pthread_join(w->thread, NULL);
        (void)pthread_cond_destroy(&w->wake);
        (void)pthread_mutex_destroy(&w->lock);
    }
    tc__fork_mark_close(p->fork_mark);
    tc__free(p->ctx, p->mail_block, p->mail_size);
    TC__FREE_ARRAY(p->ctx, p->workers, p->room);
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
    if (!awake) return;
    TC__ATOMIC_FENCE();
    tc__pool_wake(p);
    // Who has been woken may not have run yet: until then a job would wake him once more.
    for (int i = 1; i < p->threads; i++)
        while (tc__atomic_load32(&p->mail[i].state) & 1u) (void)sched_yield();
}

// Puts a part of a job for so many threads into a mailbox. All pieces of the job before are done.
static void tc__mail_fill(tc__mailbox *m, const tc__mailbox *part, int threads) {
    uint64_t pieces = 0;
    m->fn = part->fn, m->arg = part->arg;
    m->lo = part->lo, m->hi = part->hi, m->grain = part->grain;
    m->grains = (uint32_t)((m->hi - m->lo - 1) / m->grain + 1);
    for (uint32_t left = m->grains; left; pieces++) left -= tc__piece_grains(m, left);
    tc__atomic_store64(&m->done, 0);
    tc__atomic_store64(&m->claim, (uint64_t)threads << 48 | pieces << 32);
}

static int tc__mail_is_done(const tc__mailbox *m) {
    return tc__atomic_load64(&m->done) == (tc__atomic_load64(&m->claim) >> 32 & UINT16_MAX);
}

// Waits until all pieces of a mailbox are done. Where who has one shares this CPU, giving the CPU up is
// what helps.
static void tc__mail_join(const tc__mailbox *m, int awake) {
    for (uint32_t turns = 0; !tc__mail_is_done(m);) {
        if (++turns < 128u || awake) tc__cpu_pause();
        if (turns >= 128u && !awake) (void)sched_yield();
    }
}

// Waits for the pieces that others have. One that takes much longer than what the caller did belongs to a
// thread that does not run: it would happen again, so for a while there are no others.
static void tc__pool_join(tc__pool *p, int n, uint64_t begun) {
    int i = 0;
    while (i < n && tc__mail_is_done(&p->mail[i])) i++;
    if (i == n) return;
    uint64_t worked = tc__now_ns() - begun;
    for (; i < n; i++) tc__mail_join(&p->mail[i], (int)p->awake);
    uint64_t now = tc__now_ns(), waited = now - begun - worked;
    if (waited > worked + TC__POOL_GAP_NS) p->alone = now + TC__POOL_ALONE * waited;
}

// Tells the workers 1 .. n - 1 of their parts: those that sleep or those that do not. Gives how many sleep.
static int tc__pool_tell(tc__pool *p, int n, int sleepers) {
    int asleep = 0;
    for (int i = 1; i < n; i++) {
        int sleeps = tc__worker_sleeps(&p->workers[i]) && !p->awake;
        asleep += sleeps;
        if (sleeps == sleepers) tc__worker_tell(&p->workers[i]);
    }
    return asleep;
}

// Of the caller's first piece the first grain, timed, or some of it where the piece is no longer: what is left is
// done alone, until what was so is worth waking those who sleep.
static void tc__pool_test(tc__pool *p, int n) {
    tc__mailbox *m = p->mail;
    int64_t lo, hi, items = p->mail[n - 1].hi;
    uint64_t begun = tc__now_ns();
    if (!tc__mail_take(m, 0, &lo, &hi)) return;
    int64_t some = m->grain < hi - lo ? m->grain : (hi - lo - 1) / TC__POOL_TEST + 1;
    m->fn(m->arg, lo, lo + some, 0);
    double each = (double)(tc__now_ns() - begun) / (double)some;
    double left = each * (double)(items - lo - some);
    p->owed += left < TC__POOL_OWED_NS ? (uint64_t)left : TC__POOL_OWED_NS;
    if (p->owed >= TC__POOL_OWED_NS) p->owed = 0, (void)tc__pool_tell(p, n, 1);
    if (lo + some < hi) m->fn(m->arg, lo + some, hi, 0);
    (void)tc__atomic_add64(&m->done, 1);
}

// Workers that the system had no thread for when the pool began are asked for again, ever more rarely.
static void tc__pool_complete(tc__pool *p) {
    uint64_t now;
    if (p->busy || tc__atomic_load32(&p->awake) || tc__pool_in_child(p)) return;
    now = tc__now_ns();
    if (now < p->later) return;
    if (p->later) tc__pool_start(p);
    p->pause = p->pause ? 2 * p->pause : TC__POOL_PAUSE_NS;
    if (p->pause > TC__POOL_PAUSE_MOST_NS) p->pause = TC__POOL_PAUSE_MOST_NS;
    p->later = now + p->pause;
}

// Runs fn over [0, items) in ranges of at least `grain` items (the last may be shorter, and one that is
// timed), a few per worker. The caller is worker 0. Inline when one range holds everything, and without a pool.
TC__UNUSED static void tc__pool_run(tc__pool *p, tc__pool_fn fn, void *arg, int64_t items,
                                    int64_t grain) {
    tc__mailbox part;
    int64_t size, grains;
    int i, n;
    if (items <= 0) return;
    if (grain < 1) grain = 1;
    if (p && TC__UNLIKELY(p->threads < p->room) && items > grain) tc__pool_complete(p);
    if (items <= grain || !p || p->threads < 2 || p->busy || tc__pool_in_child(p)) {
        fn(arg, 0, items, 0);
        return;
    }
    uint64_t begun = tc__now_ns();
    if (begun < p->alone) {
        fn(arg, 0, items, 0);
        return;
    }
    while ((items - 1) / grain > INT32_MAX) grain *= 2;
    grains = (items - 1) / grain + 1;
    n = grains < p->threads ? (int)grains : p->threads;
    size = (grains - 1) / n + 1; // whole grains each
    n = (int)((grains - 1) / size + 1);
    part.fn = fn, part.arg = arg, part.grain = grain;
    size *= grain;
    p->busy = 1;
    for (i = 0; i < n; i++) {
        part.lo = size * i, part.hi = i + 1 < n ? size * (i + 1) : items;
        tc__mail_fill(&p->mail[i], &part, n);
    }
    if (tc__pool_tell(p, n, 0)) tc__pool_test(p, n);
    (void)tc__mail_work(p->mail, 0);
    tc__mail_help(p->mail, 0, n);
    tc__pool_join(p, n, begun);
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
