// One kernel measured: several codes of it in turn on the buffers of a program's run, by the clock of its device,
// their bits compared. Input: a launch whose buffers are bound and whose inputs hold what they hold in a run, and
// entrants. Output: the time of each, and which is best. Nothing is left changed: the results in memory
// are those of the first entrant, who has to be right.
//
// A kernel that reads what it writes gets that memory as it was before each run.
//
// Codes that never reach what the leader mostly does leave early. Where a function gives 0, the device failed.

#if TC__JIT

enum {
    TC__HEAT_ROUNDS = 25,  // at most
    TC__HEAT_LEAST = 3,    // rounds that everybody runs
    TC__HEAT_REPEATS = 64, // of a short kernel in a sample, at most
    TC__HEAT_POISON = 0xa5 // in results, before bits are compared
};

typedef struct tc__entrant {
    tc__tuning tuning;
    tc__variant *variant; // the tuner's
    uint32_t order;       // of the job that has its code
    tc__compiled *code;   //   which is this; of the job, NULL = none
    int out;              // it is no candidate any more
    uint32_t samples;
    uint64_t ns[TC__HEAT_ROUNDS];
    uint64_t low, median; // lower quartile, and middle, of the samples
} tc__entrant;

// ---- where it runs ----

// What the launch writes, by buffer.
typedef struct tc__stand_buffer {
    void *at;
    size_t bytes;
    int dtype;
    uint8_t *want;   // what it is to hold afterwards; owned
    uint8_t *before; // what it held, if the kernel reads it too; owned. NULL = it does not
} tc__stand_buffer;

typedef struct tc__stand {
    tc_ctx *ctx;
    tc__device *device;
    const tc__launch *launch;
    uint64_t deadline; // when it is given up
    TC__VEC(tc__stand_buffer) buffer;
    uint8_t *have; // results of one buffer, to be compared; owned
    size_t most;   //   and room for them
} tc__stand;

static size_t tc__stand_bytes(const tc__group *g, const tc__kbuf *b, const tc__ixenv *env) {
    return (size_t)tc__ix_eval(g->body.ix, b->numel, env) * tc__dtype(b->dtype)->bytes;
}

// Whether the launch reads memory that buffer `at` shows.
static int tc__stand_reads(const tc__launch *l, const tc__ixenv *env,
                           const tc__stand_buffer *written) {
    const tc__group *g = l->group;
    uintptr_t x = (uintptr_t)written->at;
    for (size_t i = 0; i < g->body.node.count; i++) {
        const tc__node *n = g->body.node.at[i];
        if (n->op != TC_OP_LOAD) continue;
        const tc__kbuf *b = tc__buffer_of(g, n);
        if (!tc__is_memory(b)) continue;
        uintptr_t y = (uintptr_t)l->buf[n->attr[TC__LOAD_BUFFER]];
        if (x < y + tc__stand_bytes(g, b, env) && y < x + written->bytes) return 1;
    }
    return 0;
}

static int tc__stand_works(const tc__stand *s, tc_status status) {
    return !status || tc__device_failed(s->ctx, &s->device->own, "autotune", status);
}

// Memory of the device comes to the host.
static int tc__stand_fetch(const tc__stand *s, const void *from, uint8_t *to,
                           size_t bytes) {
    const tc_device *d = &s->device->own;
    return tc__stand_works(s, d->copy_out(d->user, to, from, bytes));
}

static int tc__stand_add(tc__stand *s, const tc__ixenv *env, size_t i) {
    const tc__launch *l = s->launch;
    const tc__kbuf *b = &l->group->buffer.at[i];
    tc__stand_buffer w;
    memset(&w, 0, sizeof w);
    if (!b->written || b->place != TC__BUF_NODE) return 1;
    w.at = l->buf[i], w.bytes = tc__stand_bytes(l->group, b, env), w.dtype = b->dtype;
    if (!w.bytes) return 1;
    int reads = tc__stand_reads(l, env, &w);
    if (!TC__PUSH(s->ctx, s->buffer, w)) return 0;
    tc__stand_buffer *made = &s->buffer.at[s->buffer.count - 1];
    if (w.bytes > s->most) s->most = w.bytes;
    made->want = TC__NEW_ARRAY(s->ctx, uint8_t, w.bytes);
    if (!made->want || !reads) return made->want != NULL;
    made->before = TC__NEW_ARRAY(s->ctx, uint8_t, w.bytes);
    return made->before && tc__stand_fetch(s, w.at, made->before, w.bytes);
}

static void tc__stand_close(tc__stand *s) {
    for (size_t i = 0; i < s->buffer.count; i++) {
        tc__stand_buffer *b = &s->buffer.at[i];
        if (b->want) tc__free(s->ctx, b->want, b->bytes);
        if (b->before) tc__free(s->ctx, b->before, b->bytes);
    }
    if (s->have) tc__free(s->ctx, s->have, s->most);
    TC__VEC_FREE(s->ctx, s->buffer);
}

// 0 = out of memory, too; to be closed all the same.
static int tc__stand_open(tc__stand *s, const tc__program *p, const tc__launch *l,
                          uint64_t deadline) {
    tc__ixenv env;
    int ok = 1;
    memset(&env, 0, sizeof env);
    memset(s, 0, sizeof *s);
    env.sym = p->size.at;
    s->ctx = p->ctx, s->launch = l, s->deadline = deadline;
    s->device = tc__launch_device(p, l);
    for (size_t i = 0; ok && i < l->group->buffer.count; i++)
        ok = tc__stand_add(s, &env, i);
    if (ok && s->most) s->have = TC__NEW_ARRAY(s->ctx, uint8_t, s->most);
    return ok && (s->have || !s->most);
}

// Memory as it was before the kernel ran.
static int tc__stand_reset(const tc__stand *s) {
    const tc_device *d = &s->device->own;
    int ok = 1;
    for (size_t i = 0; ok && i < s->buffer.count; i++) {
        const tc__stand_buffer *b = &s->buffer.at[i];
        if (b->before)
            ok = tc__stand_works(s, d->copy_in(d->user, b->at, b->before, b->bytes));
    }
    return ok;
}

static int tc__stand_is_in_place(const tc__stand *s) {
    for (size_t i = 0; i < s->buffer.count; i++)
        if (s->buffer.at[i].before) return 1;
    return 0;
}

// ---- one run ----

// The results of one run, on memory that held something else.
static int tc__entrant_results(const tc__stand *s, const tc__entrant *e) {
    const tc_device *d = &s->device->own;
    int ok = 1;
    for (size_t i = 0; ok && i < s->buffer.count; i++) {
        const tc__stand_buffer *b = &s->buffer.at[i];
        ok = tc__stand_works(s, d->fill(d->user, b->at, TC__HEAT_POISON, b->bytes));
    }
    return ok && tc__stand_reset(s) && tc__kernel_go(s->ctx, s->device, &e->variant->run);
}

// The first one's results are what is wanted.
static int tc__heat_want(const tc__stand *s, const tc__entrant *first) {
    int ok = tc__entrant_results(s, first);
    for (size_t i = 0; ok && i < s->buffer.count; i++) {
        const tc__stand_buffer *b = &s->buffer.at[i];
        ok = tc__stand_fetch(s, b->at, b->want, b->bytes);
    }
    return ok;
}

// Elements that are not as wanted.
static int tc__entrant_differs(const tc__stand *s, const tc__entrant *e, size_t *wrong) {
    int ok = tc__entrant_results(s, e);
    *wrong = 0;
    for (size_t i = 0; ok && i < s->buffer.count; i++) {
        const tc__stand_buffer *b = &s->buffer.at[i];
        ok = tc__stand_fetch(s, b->at, s->have, b->bytes);
        if (ok) *wrong += tc__bits_differ(b->dtype, s->have, b->want, b->bytes);
    }
    return ok;
}

// Time of one of `repeats` runs.
static int tc__entrant_time(const tc__stand *s, const tc__entrant *e, int repeats,
                            uint64_t *ns) {
    return tc__stand_reset(s) &&
           tc__kernel_time(s->ctx, s->device, &e->variant->run, repeats, ns);
}

// ---- the heat ----

static int tc__ns_order(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

// What else runs on the machine only adds to a time, and may add to most of the samples: with three
// processes on two cores, medians are multiples of the scheduler's 4 ms. So the lower quartile is what
// is compared.
static void tc__entrant_sum_up(tc__entrant *e) {
    uint64_t sorted[TC__HEAT_ROUNDS];
    memcpy(sorted, e->ns, e->samples * sizeof *sorted);
    qsort(sorted, e->samples, sizeof *sorted, tc__ns_order);
    e->low = sorted[e->samples / 4], e->median = sorted[e->samples / 2];
}

static uint64_t tc__least_ns(const tc__entrant *e) {
    uint64_t least = e->ns[0];
    for (uint32_t i = 1; i < e->samples; i++)
        if (e->ns[i] < least) least = e->ns[i];
    return least;
}

// The fastest; all that are not out have been measured.
static uint32_t tc__heat_leader(tc__entrant *e, uint32_t n) {
    uint32_t best = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (e[i].out) continue;
        tc__entrant_sum_up(&e[i]);
        if (e[best].out || e[i].low < e[best].low) best = i;
    }
    return best;
}

// Who never was as fast as the leader mostly is, is out.
static uint32_t tc__heat_drop(tc__entrant *e, uint32_t n) {
    uint32_t best = tc__heat_leader(e, n), left = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (!e[i].out && i && i != best && tc__least_ns(&e[i]) > e[best].median)
            e[i].out = 1;
        left += !e[i].out;
    }
    return left;
}

// All that are left, each a sample, beginning with another one every round.
static int tc__heat_round(const tc__stand *s, tc__entrant *e, uint32_t n, uint32_t round,
                          int repeats) {
    int ok = 1;
    for (uint32_t k = 0; ok && k < n; k++) {
        tc__entrant *one = &e[(k + round) % n];
        if (!one->out) ok = tc__entrant_time(s, one, repeats, &one->ns[one->samples++]);
    }
    return ok;
}

static int tc__heat_repeats(const tc__stand *s, const tc__entrant *first, int *repeats) {
    uint64_t ns, sample = s->device->runner->sample_ns;
    *repeats = 1;
    if (!tc__entrant_time(s, first, 1, &ns)) return 0;
    if (tc__stand_is_in_place(s) || ns >= sample) return 1;
    uint64_t n = sample / (ns + 1) + 1;
    *repeats = n < TC__HEAT_REPEATS ? (int)n : (int)TC__HEAT_REPEATS;
    return 1;
}

// Measures those that are not out, first among them, until `until` but at least a few rounds. 0 = there
// was no time for that, too.
static int tc__heat(const tc__stand *s, tc__entrant *e, uint32_t n, uint64_t until) {
    int repeats, ok = tc__heat_repeats(s, &e[0], &repeats);
    uint32_t left = n, rounds = (uint32_t)s->device->runner->rounds;
    for (uint32_t i = 0; i < n; i++) e[i].samples = 0;
    for (uint32_t round = 0; ok && round < rounds && left > 1; round++) {
        uint64_t now = tc__now_ns();
        if (round < TC__HEAT_LEAST ? now > s->deadline : now > until) break;
        ok = tc__heat_round(s, e, n, round, repeats);
        if (ok && round + 1 >= TC__HEAT_LEAST) left = tc__heat_drop(e, n);
    }
    ok = ok && tc__entrant_results(s, &e[0]);
    if (!ok || e[0].samples < TC__HEAT_LEAST) return 0;
    (void)tc__heat_leader(e, n);
    return 1;
}

#endif // TC__JIT
