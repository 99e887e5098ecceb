// "max-autotune" on devices: the first run of a program goes through its kernels in order, and measures
// each in the ways that kernel/tune.c knows, on the buffers of that run, by the device's clock. Input: a
// program that is bound. Output: launches with other code; what was found is remembered. What the host does
// between is done, and not measured.
//
// A kernel is run many times, so it must not read what it writes; and programs that write the user's memory
// in place, or have lists of tensors, are not measured. Every candidate's results are compared with the default's. Whatever goes wrong, kernels stay as they are, and nothing is reported.
//
// A knob of a device is one of TC__STAGE_DEVICE, and follows the dialect's plan. What
// decides in which order a row is summed is no knob. A candidate is a copy of the group
// with another tuning; its code comes the way of all code, so the winner is on disk by its
// own text, and a program that recalls it compiles nothing else.

#if TC__JIT

enum {
    TC__TRIAL_ROUNDS = 7,
    TC__TRIAL_SAMPLE_NS = 200000, // a sample repeats a shorter kernel up to this
    TC__TRIAL_REPEATS = 50        //   but not more often
};

// A kernel in one way.
typedef struct tc__trial {
    tc__group group; // a copy, which shares all but its tuning
    tc__dispatch_launch launch;
    tc_device_launch list[TC__GRIDS];
    int after[TC__GRIDS];
    void *plan; // of the device
    tc__entrant e;
} tc__trial;

typedef struct tc__trials {
    tc__program *p;
    tc__dispatch *r; // where
    uint32_t at;     // of the program's launches
    uint64_t deadline;
    tc__trial *trial; // owned
    int count;
    tc__job *job;         // that has their code
    uint8_t *want, *have; // results, one buffer behind the other; owned
    size_t bytes;
    tc__desk desk;
    tc__text key;
} tc__trials;

// ---- results ----

static size_t tc__written_bytes(const tc__program *p, const tc__group *g, size_t i) {
    tc__ixenv env;
    memset(&env, 0, sizeof env);
    env.sym = p->size.at;
    if (!g->buffer.at[i].written || g->buffer.at[i].place != TC__BUF_NODE) return 0;
    return tc__stand_bytes(g, &g->buffer.at[i], &env);
}

// Whether the launch may run again: it reads nothing that it writes.
static int tc__launch_repeats(const tc__program *p, const tc__launch *l) {
    tc__ixenv env;
    memset(&env, 0, sizeof env);
    env.sym = p->size.at;
    for (size_t i = 0; i < l->group->buffer.count; i++) {
        tc__stand_buffer w;
        memset(&w, 0, sizeof w);
        w.at = l->buf[i], w.bytes = tc__written_bytes(p, l->group, i);
        if (w.bytes && tc__stand_reads(l, &env, &w)) return 0;
    }
    return 1;
}

static int tc__trials_results(tc__trials *t, uint8_t *to) {
    const tc_device *d = &t->r->device->own;
    const tc__launch *l = &t->p->launch.at[t->at];
    for (size_t i = 0; i < l->group->buffer.count; i++) {
        size_t n = tc__written_bytes(t->p, l->group, i);
        if (n && d->copy_out(d->user, to, l->buf[i], n)) return 0;
        to += n;
    }
    return 1;
}

// Memory of results holds something else.
static int tc__trials_spoil(tc__trials *t) {
    const tc_device *d = &t->r->device->own;
    const tc__launch *l = &t->p->launch.at[t->at];
    for (size_t i = 0; i < l->group->buffer.count; i++) {
        size_t n = tc__written_bytes(t->p, l->group, i);
        if (n && d->fill(d->user, l->buf[i], TC__HEAT_POISON, n)) return 0;
    }
    return 1;
}

static size_t tc__trials_differ(const tc__trials *t) {
    const tc__group *g = t->p->launch.at[t->at].group;
    size_t wrong = 0, at = 0;
    for (size_t i = 0; i < g->buffer.count; i++) {
        size_t n = tc__written_bytes(t->p, g, i);
        if (n)
            wrong += tc__bits_differ(g->buffer.at[i].dtype, t->have + at, t->want + at, n);
        at += n;
    }
    return wrong;
}

// ---- making ----

static void tc__trials_close(tc__trials *t) {
    tc_ctx *c = t->p->ctx;
    const tc_device *d = &t->r->device->own;
    for (int i = 0; i < t->count; i++)
        if (t->trial[i].plan) d->forget(d->user, t->trial[i].plan);
    if (t->job) tc__job_free(t->job);
    if (t->trial) TC__FREE_ARRAY(c, t->trial, TC__CANDIDATES);
    if (t->want) tc__free(c, t->want, t->bytes + 1);
    if (t->have) tc__free(c, t->have, t->bytes + 1);
    tc__text_free(&t->key);
}

// The launch under a tuning, unless it would take other arguments. 0 = reported.
static int tc__trial_add(tc__trials *t, const tc__tuning *tuning) {
    tc__dispatch *r = t->r;
    const tc__dispatch_launch *l = &r->launch[t->at];
    tc__trial *w = &t->trial[t->count];
    tc__ixenv env;
    memset(w, 0, sizeof *w), memset(&env, 0, sizeof env);
    env.sym = t->p->size.at;
    w->group = *l->group, w->launch = *l;
    w->group.shape.tuning = w->e.tuning = *tuning;
    w->launch.group = &w->group;
    const tc__dialect *d = r->device->own.language->dialect;
    if (!d->grids(r->ctx, &w->group, &w->launch.grids)) return 0;
    if (w->launch.grids.count != l->grids.count ||
        w->launch.grids.workspace != l->grids.workspace)
        return 1;
    t->count++;
    if (!tc__dispatch_launch_lay_out(r, &w->launch, w->list, &t->p->ix, &env)) return 0;
    for (int i = 0; i < w->launch.grids.count; i++) {
        w->after[i] = i - 1;
        w->list[i].after = &w->after[i], w->list[i].n_after = i > 0;
    }
    return 1;
}

// The code of all of them. 0 = reported.
static int tc__trials_compile(tc__trials *t) {
    tc__job *j = t->job = tc__job_new(&t->desk);
    int ok = j != NULL;
    for (int i = 0; ok && i < t->count; i++) {
        tc__dispatch_launch *l = &t->trial[i].launch;
        ok = tc__job_order(j, l->group, &l->grids, &l->order);
    }
    ok = ok && tc__job_complete(j, &t->desk, (size_t)t->count, "autotune");
    for (int i = 0; ok && i < t->count; i++) {
        tc__trial *w = &t->trial[i];
        for (int n = 0; n < w->launch.grids.count; n++)
            w->list[n].kernel = tc__compiled_kernel(j->order.at[w->launch.order].code, n);
    }
    return ok;
}

// 0 = there is nothing to choose, or something failed.
static int tc__trials_open(tc__trials *t, tc__program *p, tc__dispatch *r, uint32_t at) {
    tc__tuning none, all[TC__CANDIDATES];
    const tc__group *g = p->launch.at[at].group;
    memset(&none, 0, sizeof none);
    int ok = 1, n = tc__candidates(g, p->ctx->target, TC__STAGE_DEVICE, &none, all);
    memset(t, 0, sizeof *t);
    t->p = p, t->r = r, t->at = at;
    tc__text_init(&t->key, p->ctx);
    for (size_t i = 0; i < g->buffer.count; i++) t->bytes += tc__written_bytes(p, g, i);
    t->trial = TC__NEW_ARRAY(p->ctx, tc__trial, TC__CANDIDATES);
    t->want = TC__NEW_ARRAY(p->ctx, uint8_t, t->bytes + 1);
    t->have = TC__NEW_ARRAY(p->ctx, uint8_t, t->bytes + 1);
    ok = t->trial && t->want && t->have && tc__device_desk(&t->desk, p->ctx, r->device) &&
         tc__choice_key(&t->key, &t->desk, p, p->launch.at[at].group);
    for (int i = 0; ok && i < n; i++) ok = tc__trial_add(t, &all[i]);
    return ok && t->count > 1 && tc__trials_compile(t);
}

// ---- measuring ----

static int tc__trial_run(const tc__trials *t, tc__trial *w) {
    const tc_device *d = &t->r->device->own;
    return !d->run(d->user, &w->plan, w->list, w->launch.grids.count, TC_DEVICE_LAUNCHES,
                   1);
}

// Nanoseconds of one of `repeats` runs.
static int tc__trial_time(tc__trials *t, tc__trial *w, int repeats, uint64_t *ns) {
    tc__dispatch *r = t->r;
    const tc_device *d = &r->device->own;
    int ok = tc__profile_mark(r, 0);
    for (int i = 0; ok && i < repeats; i++) ok = tc__trial_run(t, w);
    ok = ok && tc__profile_mark(r, 1) &&
         !d->elapsed(d->user, r->moment.at[0], r->moment.at[1], ns);
    *ns /= (uint64_t)repeats;
    return ok;
}

// Those whose results differ are out. 0 = the device fails.
static int tc__trials_check(tc__trials *t) {
    for (int i = 0; i < t->count; i++) {
        tc__trial *w = &t->trial[i];
        if (!tc__trials_spoil(t) || !tc__trial_run(t, w) ||
            !tc__trials_results(t, i ? t->have : t->want))
            return 0;
        size_t wrong = i ? tc__trials_differ(t) : 0;
        w->e.out = wrong > 0;
        if (wrong)
            tc__log(t->p->ctx, TC__LOG_AUTOTUNE,
                    "kernel %u: a candidate is dropped, %zu elements differ from the "
                    "default's",
                    (unsigned)t->at, wrong);
    }
    return 1;
}

// All in turn, a few rounds. 0 = the device fails, or there is no time.
static int tc__trials_measure(tc__trials *t) {
    uint64_t first = 0;
    if (!tc__trial_time(t, &t->trial[0], 1, &first)) return 0;
    uint64_t n = TC__TRIAL_SAMPLE_NS / (first + 1) + 1;
    int repeats = n < TC__TRIAL_REPEATS ? (int)n : (int)TC__TRIAL_REPEATS;
    for (int round = 0; round < TC__TRIAL_ROUNDS; round++) {
        for (int i = 0; i < t->count; i++) {
            tc__entrant *e = &t->trial[i].e;
            if (tc__now_ns() > t->deadline) return 0;
            if (!e->out && !tc__trial_time(t, &t->trial[i], repeats, &e->ns[e->samples++]))
                return 0;
        }
    }
    for (int i = 0; i < t->count; i++)
        if (!t->trial[i].e.out) tc__entrant_sum_up(&t->trial[i].e);
    return 1;
}

// What is kept is faster than the default by more than noise.
static void tc__trials_decide(tc__trials *t) {
    tc_ctx *c = t->p->ctx;
    const tc__entrant *rules = &t->trial[0].e, *best = rules;
    tc__launch *l = &t->p->launch.at[t->at];
    tc__text line;
    for (int i = 1; i < t->count; i++) {
        const tc__entrant *e = &t->trial[i].e;
        if (!e->out && e->low < best->low) best = e;
    }
    if (best->low * 100 >= rules->low * TC__TUNE_GAIN) best = rules;
    memset(&l->chosen, 0, sizeof l->chosen);
    l->chosen.tuning = best->tuning, l->chosen.tried = (uint32_t)t->count;
    l->chosen.ns = best->low, l->chosen.default_ns = rules->low;
    l->tuned = TC__TUNED_HERE;
    tc__choice_keep(&t->desk, &t->key, &l->chosen);
    c->stats.autotuned++;
    tc__text_init(&line, c);
    tc__put_kernel_name(&line, l->group, t->at);
    tc__put(&line, ": ");
    tc__put_tuning(&line, &best->tuning);
    tc__log(c, TC__LOG_AUTOTUNE, "%s is kept: %.1f us, %.1f us by default, %u tried",
            line.at, tc__us(best->low), tc__us(rules->low), (unsigned)t->count);
    tc__text_free(&line);
}

static void tc__dispatch_launch_search(tc__program *p, tc__dispatch *r, uint32_t i,
                                       uint64_t deadline) {
    tc__trials t;
    tc__launch *l = &p->launch.at[i];
    tc__desk k;
    if (tc__now_ns() > deadline || !tc__device_desk(&k, p->ctx, r->device)) return;
    tc__launch_recall(p, &k, l);
    if (l->tuned != TC__TUNED_OPEN) return;
    if (!tc__launch_repeats(p, l)) {
        l->tuned = TC__TUNED_NOT;
        return;
    }
    int ok = tc__trials_open(&t, p, r, i);
    t.deadline = deadline;
    if (ok && tc__trials_check(&t) && tc__trials_measure(&t)) tc__trials_decide(&t);
    tc__trials_close(&t);
}

// ---- a program ----

// 1 = some kernel of the device is to be measured, -1 = the program cannot be.
static int tc__dispatch_tunes(tc__program *p, tc__dispatch *r) {
    int open = 0;
    for (uint32_t i = 0; i < r->launches; i++) {
        if (r->launch[i].pieces) return -1;
        open |= !r->launch[i].by && p->launch.at[i].tuned == TC__TUNED_OPEN;
    }
    return tc__device_has_time(&r->device->own) && tc__profile_room(r) ? open : -1;
}

static int tc__program_tunes_there(tc__program *p) {
    int open = 0;
    for (size_t i = 0; i < p->output.count; i++)
        if (p->output.at[i].direct) return 0;
    for (tc__dispatch *r = p->dispatch; r && open >= 0; r = r->next) {
        int one = tc__dispatch_tunes(p, r);
        open = one < 0 ? one : open | one;
    }
    return open > 0 && !p->customs;
}

// The kernels of a part in order, each measured where its turn comes.
static int tc__part_search(tc__program *p, const tc__act *a, uint64_t deadline) {
    tc__dispatch *r = a->on;
    const tc__dispatch_part *part = &r->part[a->at];
    int ok = 1;
    for (uint32_t i = 0; ok && i < r->launches; i++) {
        const tc__dispatch_launch *l = &r->launch[i];
        if (l->by || l->first < part->begin || l->first >= part->end) continue;
        if (p->launch.at[i].tuned == TC__TUNED_OPEN)
            tc__dispatch_launch_search(p, r, i, deadline);
        ok = tc__profile_kernel_run(r, l->first, (uint32_t)l->grids.count);
    }
    return ok;
}

// What a run does, but that kernels of devices are measured.
static void tc__dispatch_search(tc__program *p, const tc__visit *v, uint64_t deadline,
                                tc__act_fn act) {
    int ok = 1;
    for (tc__dispatch *r = p->dispatch; ok && r; r = r->next)
        ok = tc__dispatch_begin(p, r, v);
    for (uint32_t i = 0; ok && i < p->acts; i++)
        ok = p->act[i].kind == TC__ACT_PART ? tc__part_search(p, &p->act[i], deadline)
                                            : act(p, v, &p->act[i]);
    for (tc__dispatch *r = p->dispatch; r; r = r->next) (void)tc__bounce_out(p, r, 0);
}

// What was found is taken. The host's own kernels are as the rules have them.
static void tc__dispatch_search_end(tc__program *p) {
    for (uint32_t i = 0; i < p->launch.count; i++) {
        tc__launch *l = &p->launch.at[i];
        if (l->tuned == TC__TUNED_OPEN)
            l->tuned = l->group->target.device ? TC__TUNED_LATE : TC__TUNED_NOT;
        if (l->tuned == TC__TUNED_HERE || l->tuned == TC__TUNED_KNOWN)
            (void)tc__launch_tune(p, l, &l->chosen.tuning);
    }
}

// Measures the kernels of a bound program of which nothing is known, where it runs. It is to be bound again.
static void tc__program_tune(tc__program *p, const tc__visit *v, tc__act_fn act) {
    tc_ctx *c = p->ctx;
    tc__error_mark before = tc__error_now(c);
    const tc_stats made = c->stats;
    uint64_t begin = tc__now_ns();
    uint64_t deadline = begin + (uint64_t)v->region->options.autotune_seconds * 1000000000u;
    p->autotune = TC__AUTOTUNE_RECALL;
    if (!(p->dispatch ? tc__program_tunes_there(p) : tc__program_tunes_here(p))) return;
    if (p->dispatch)
        tc__dispatch_search(p, v, deadline, act), tc__dispatch_search_end(p);
    else
        tc__program_search(p, v, begin, deadline);
    p->laid_out = 0, p->bound = NULL;
    c->stats.emit_ns = made.emit_ns; // all of it is autotune_ns
    c->stats.cc_ns = made.cc_ns, c->stats.load_ns = made.load_ns;
    p->tune_ns = tc__now_ns() - begin;
    c->stats.autotune_ns += p->tune_ns;
    tc__note_span(c, TC__SPAN_TUNE, begin, v->region);
    tc__error_restore(c, before);
}

#else

static void tc__program_tune(tc__program *p, const tc__visit *v, tc__act_fn act) {
    (void)v, (void)act;
    p->autotune = TC__AUTOTUNE_OFF;
}

#endif // TC__JIT
