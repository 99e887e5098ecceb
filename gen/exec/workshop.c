// The background: threads that do the jobs of a library while programs run interpreted.
// Input: a job whose texts are printed. Output: its orders are settled when its state says DONE;
// whoever gave it looks at that between two runs, so code is never changed under a running kernel.
// A thread has a desk and memory of its own. Threads start when jobs come and end with the library;
// a child made by fork() has none, and does its jobs itself.
//
// Jobs are texts, so a thread here never looks at a graph, a pool of expressions or an
// allocator that the context is using. Printing stays with the caller: 0.3-0.5 ms of a
// first call (`bench first`).

#if TC__JIT

enum { TC__WORKSHOP_MOST = 4 }; // threads; each runs up to TC__CC_WIDTH_MAX units at once

typedef enum tc__job_state {
    TC__JOB_NEW,
    TC__JOB_QUEUED,
    TC__JOB_TAKEN,
    TC__JOB_DONE
} tc__job_state;

#    if TC__THREADS

typedef struct tc__craftsman {
    tc__core core; // must be first: pays for its desk
    tc__desk desk;
    tc__library *library;
    tc__job *job;             // in work; NULL = none
    volatile uint32_t cancel; // nobody wants that job any more
    pthread_t thread;
} tc__craftsman;

struct tc__workshop {
    pthread_mutex_t lock;
    pthread_cond_t work, done; // a job came, or closing; a job was done
    tc__job *first, *last;     // queued
    tc__craftsman *man[TC__WORKSHOP_MOST];
    int count, most, idle, closing;
    pid_t pid; // that has the threads
};

// Contexts that share the library make it together.
static tc__workshop *tc__workshop_of(tc__library *b) {
    tc__library_lock(b);
    tc__workshop *w = b->shop;
    tc__library_unlock(b);
    return w && w->pid == getpid() ? w : NULL; // forked: nobody works there
}

static tc__job *tc__workshop_next(tc__workshop *w) {
    while (!w->first && !w->closing) {
        w->idle++;
        (void)pthread_cond_wait(&w->work, &w->lock);
        w->idle--;
    }
    tc__job *j = w->closing ? NULL : w->first;
    if (!j) return NULL;
    w->first = j->next;
    if (!w->first) w->last = NULL;
    j->next = NULL;
    tc__atomic_store32(&j->state, TC__JOB_TAKEN);
    return j;
}

static void *tc__craftsman_main(void *arg) {
    tc__craftsman *m = (tc__craftsman *)arg;
    tc__workshop *w = m->library->shop;
    (void)pthread_mutex_lock(&w->lock);
    while ((m->job = tc__workshop_next(w)) != NULL) {
        tc__atomic_store32(&m->cancel, 0);
        (void)pthread_mutex_unlock(&w->lock);
        tc__job_build(&m->desk, m->job);
        (void)pthread_mutex_lock(&w->lock);
        tc__atomic_store32(&m->job->state, TC__JOB_DONE);
        m->job = NULL;
        (void)pthread_cond_broadcast(&w->done);
    }
    (void)pthread_mutex_unlock(&w->lock);
    return NULL;
}

// One more thread; 0 = the system gives none. Signals are for the host's own threads.
static int tc__craftsman_start(tc__library *b) {
    tc__workshop *w = b->shop;
    sigset_t all, host;
    tc__craftsman *m = (tc__craftsman *)tc__hook_realloc(&b->core.hook, NULL, 0, sizeof *m);
    if (!m) return 0;
    memset(m, 0, sizeof *m);
    tc__core_like(&m->core, tc__library_ctx(b));
    tc__desk_open(&m->desk, (tc_ctx *)(void *)&m->core, b);
    m->desk.cancel = &m->cancel, m->library = b;
    (void)sigfillset(&all);
    int ok = !pthread_sigmask(SIG_SETMASK, &all, &host);
    if (ok) {
        ok = !pthread_create(&m->thread, NULL, tc__craftsman_main, m);
        (void)pthread_sigmask(SIG_SETMASK, &host, NULL);
    }
    if (ok)
        w->man[w->count++] = m;
    else
        tc__hook_realloc(&b->core.hook, m, sizeof *m, 0);
    return ok;
}

static int tc__workshop_open(tc__library *b) {
    tc__workshop *w =
        (tc__workshop *)tc__hook_realloc(&b->core.hook, NULL, 0, sizeof(tc__workshop));
    int cpus = tc__cpu_count();
    if (!w) return 0;
    memset(w, 0, sizeof *w);
    (void)pthread_mutex_init(&w->lock, NULL);
    (void)pthread_cond_init(&w->work, NULL);
    (void)pthread_cond_init(&w->done, NULL);
    w->most = b->compile_threads ? b->compile_threads : (cpus + 1) / 2;
    if (w->most > TC__WORKSHOP_MOST) w->most = TC__WORKSHOP_MOST;
    w->pid = getpid();
    b->shop = w;
    return 1;
}

// Takes over a job until its state is DONE. 0 = there is no background: do it yourself.
static int tc__workshop_give(tc__library *b, tc__job *j) {
    tc__library_lock(b);
    int ok = b->shop || tc__workshop_open(b);
    tc__library_unlock(b);
    tc__workshop *w = ok ? tc__workshop_of(b) : NULL;
    if (!w) return 0;
    (void)pthread_mutex_lock(&w->lock);
    if (!w->idle && w->count < w->most) (void)tc__craftsman_start(b);
    ok = w->count > 0;
    if (ok) {
        tc__atomic_store32(&j->state, TC__JOB_QUEUED);
        if (w->last)
            w->last->next = j;
        else
            w->first = j;
        w->last = j;
        (void)pthread_cond_signal(&w->work);
    }
    (void)pthread_mutex_unlock(&w->lock);
    return ok;
}

static int tc__workshop_unqueue(tc__workshop *w, tc__job *j) {
    tc__job **at = &w->first, *before = NULL;
    while (*at && *at != j) before = *at, at = &(*at)->next;
    if (!*at) return 0;
    *at = j->next;
    if (w->last == j) w->last = before;
    return 1;
}

// The job is not wanted any more. It is the caller's again.
static void tc__workshop_drop(tc__library *b, tc__job *j) {
    tc__workshop *w = tc__workshop_of(b);
    if (!w) return;
    tc__calm calm = tc__calm_begin();
    (void)pthread_mutex_lock(&w->lock);
    if (!tc__workshop_unqueue(w, j)) {
        for (int i = 0; i < w->count; i++)
            if (w->man[i]->job == j) tc__atomic_store32(&w->man[i]->cancel, 1);
        while (tc__atomic_load32(&j->state) == TC__JOB_TAKEN)
            (void)pthread_cond_wait(&w->done, &w->lock);
    }
    (void)pthread_mutex_unlock(&w->lock);
    tc__calm_end(calm);
}

static int tc__workshop_works_for(const tc__workshop *w, const tc_ctx *c) {
    for (const tc__job *j = w->first; j; j = j->next)
        if (j->ctx == c) return 1;
    for (int i = 0; i < w->count; i++)
        if (w->man[i]->job && w->man[i]->job->ctx == c) return 1;
    return 0;
}

// Waits until all jobs of context c are done.
static void tc__workshop_wait(tc__library *b, const tc_ctx *c) {
    tc__workshop *w = tc__workshop_of(b);
    if (!w) return;
    tc__calm calm = tc__calm_begin();
    (void)pthread_mutex_lock(&w->lock);
    while (tc__workshop_works_for(w, c)) (void)pthread_cond_wait(&w->done, &w->lock);
    (void)pthread_mutex_unlock(&w->lock);
    tc__calm_end(calm);
}

// No job is left: ends the threads.
static void tc__workshop_close(tc__library *b) {
    tc__workshop *w = b->shop;
    if (!w) return;
    int forked = w->pid != getpid();
    if (!forked) {
        (void)pthread_mutex_lock(&w->lock);
        w->closing = 1;
        (void)pthread_cond_broadcast(&w->work);
        (void)pthread_mutex_unlock(&w->lock);
    }
    for (int i = 0; i < w->count; i++) {
        tc__craftsman *m = w->man[i];
        if (!forked) (void)pthread_join(m->thread, NULL);
        if (!forked) tc__desk_close(&m->desk);
        TC_ASSERT(forked || m->core.bytes == 0);
        tc__hook_realloc(&b->core.hook, m, sizeof *m, 0);
    }
    if (!forked) {
        (void)pthread_mutex_destroy(&w->lock);
        (void)pthread_cond_destroy(&w->work);
        (void)pthread_cond_destroy(&w->done);
    }
    tc__hook_realloc(&b->core.hook, w, sizeof *w, 0);
    b->shop = NULL;
}

#    else // no threads: every job is done by who wants it

static int tc__workshop_give(tc__library *b, tc__job *j) {
    (void)b, (void)j;
    return 0;
}

static void tc__workshop_drop(tc__library *b, tc__job *j) { (void)b, (void)j; }

static void tc__workshop_wait(tc__library *b, const tc_ctx *c) { (void)b, (void)c; }

static void tc__workshop_close(tc__library *b) { (void)b; }

static void *tc__workshop_of(tc__library *b) { return (void)b, (void *)NULL; }

#    endif

// A program that waits for this job is freed.
static void tc__job_drop(void *job) {
    tc__job *j = (tc__job *)job;
    tc__workshop_drop(j->library, j);
    tc__job_free(j);
}

// The last context that lets go of a library frees it.
static void tc__library_release(tc__library *b) {
    if (tc__atomic_add32(&b->users, (uint32_t)-1) != 1) return;
    tc__workshop_close(b);
    tc__library_free(b);
}

#else

static void tc__job_drop(void *job) { (void)job; }

#endif // TC__JIT
