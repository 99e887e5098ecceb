// "max-autotune": the first run of a program measures its kernels in all the ways that kernel/tune.c knows,
// on the very buffers of that run, and keeps the fastest. Input: a program whose launches have code and
// are bound, on the host, on devices or on both. Output: launches with other code, other shares for threads;
// what was found is remembered.
//
// Kernels are taken by the time they need, a few of one device at a time. For each stage their candidates are
// compiled together; then the program runs once more, in order, and stops at each of them for a heat: its inputs
// are those of a run there. Last, what seems best is measured against the default once more; a
// candidate that is lucky among many is not lucky twice. Memory of the user's that kernels write in
// place is a copy meanwhile (exec/spare.c). Launches are as they were until the search is over. Whatever goes
// wrong, they stay so, and nothing is reported but a line of the log.
//
// A kernel that is launched for a list of tensors is not measured. A default that is kept is remembered too.
// Codes of a search go to disk only when they win.

#if TC__JIT

enum {
    TC__TUNE_TEXTS = 24,         // candidates that are compiled together, about
    TC__TUNE_STEP = 99,          // percent of the time before, to go on with another one
    TC__TUNE_GAIN = 97,          // percent of the default's time, to be kept
    TC__TUNE_JUDGE = TC__STAGES, // the last stage: the best against the default
    TC__TUNE_TICK_NS = 100 * 1000000, // between two lines of progress
    TC__TUNE_LINE = 79                // columns of one
};

// A kernel, however many launches of the program have it.
typedef struct tc__subject {
    uint32_t launch, launches; // the first one, and how many
    tc__device *device;
    uint64_t ns; // of all of them, at first
    tc__text key, name;
    tc__entrant rules, best; // the default, and the best so far
    tc__chosen chosen;       //   and what was decided
    tc__compiled *code;      // of the best, once it is decided; counted
    tc__job *job;            // that has the best one's code; NULL = the program has
    uint32_t order;          //   and where
    tc__entrant *entrant;    // of this stage; owned, room for TC__CANDIDATES
    uint32_t entrants, tried;
    int begun;   // candidates of a stage were compiled
    int decided; // there is a choice
    int late;    // there was no time to find any
    int cut;     //   or not for all stages: what was found is not for others
} tc__subject;

typedef struct tc__tuner {
    tc_ctx *ctx;
    tc__program *p;
    const tc__visit *v;
    tc__act_fn act; // does what has no kernels
    uint64_t begin, deadline;
    tc__arena arena;
    uint64_t *ns;    // by launch: what it took at first; 0 = it is not to be measured
    uint32_t *first; // by launch: the first that has its kernel
    TC__VEC(tc__subject) subject; // by time, the largest first
    tc__spares spares;
    size_t at, end;             // subjects in work, which are of
    tc__desk *desk;             //   one device
    int stage;                  // what they are in,
    size_t left;                //   and how many heats are still to come
    tc__variant *variant;       // all; arena
    tc__job *job[TC__STAGES];   // of the subjects in work
    uint64_t texts, compile_ns; // compiled so far, and how long that took
    uint32_t done, listed;      // candidates measured, and known of
    int shows;                  // progress is to be seen
    uint64_t shown;             //   and was last
} tc__tuner;

static const char *tc__tuner_region(const tc__tuner *t) { return t->v->region->name; }

// ---- progress ----

static void tc__tuner_tick(tc__tuner *t, size_t subject) {
    uint64_t now = tc__now_ns();
    if (!t->shows || now - t->shown < TC__TUNE_TICK_NS) return;
    t->shown = now;
    fprintf(
        stderr,
        "\rautotune: region \"%.20s\": kernel %u/%u, %u of %u candidates, %.1f s of %d ",
        tc__tuner_region(t), (unsigned)(subject + 1), (unsigned)t->subject.count,
        (unsigned)t->done, (unsigned)t->listed, (double)(now - t->begin) * 1e-9,
        t->v->region->options.autotune_seconds);
    fflush(stderr);
}

static void tc__tuner_clear(const tc__tuner *t) {
    if (!t->shows || !t->shown) return;
    fprintf(stderr, "\r%*s\r", (int)TC__TUNE_LINE, "");
    fflush(stderr);
}

// ---- words ----

// One line of the log: of the kernel under a tuning.
TC__PRINTF(4, 5)
static void tc__tuner_say(const tc__tuner *t, const tc__subject *s,
                          const tc__tuning *tuning, const char *fmt, ...) {
    char rest[200];
    tc__text line;
    va_list args;
    if (!tc__log_on(t->ctx, TC__LOG_AUTOTUNE)) return;
    va_start(args, fmt);
    tc__format_line(rest, sizeof rest, fmt, args);
    va_end(args);
    tc__text_init(&line, t->ctx);
    tc__put(&line, "region \"%s\", %s: ", tc__tuner_region(t), s->name.at);
    tc__put_tuning(&line, tuning);
    tc__put(&line, "%s", rest);
    if (!line.failed) tc__log_text(t->ctx, TC__LOG_AUTOTUNE, line.at);
    tc__text_free(&line);
}

static double tc__us(uint64_t ns) { return (double)ns * 1e-3; }

// ---- the program, in order ----

// Does something at a kernel of device d, whose turn it is, and leaves memory as if it had run. 0 = reported.
typedef int (*tc__tuner_fn)(tc__tuner *t, tc__device *d, tc__kernel_run *k);

static int tc__tuner_act(tc__tuner *t, const tc__act *a, tc__tuner_fn fn) {
    tc__kernel_run k;
    int ok = 1;
    if (!tc__act_has_kernels(a)) return t->act(t->p, t->v, a);
    tc__device *d = tc__act_device(t->p, a);
    for (uint32_t at = 0; ok && (at = d->runner->kernel(t->p, a, at, &k)) != 0;) {
        ok = fn(t, d, &k);
        tc__kernel_forget(d, &k);
    }
    return ok;
}

// What a run does, but that fn is asked at each kernel, while there is something left for it.
static int tc__tuner_run(tc__tuner *t, tc__tuner_fn fn) {
    int ok = tc__spares_fill(&t->spares);
    for (uint32_t i = 0; ok && t->left && i < t->p->acts; i++)
        ok = tc__tuner_act(t, &t->p->act[i], fn);
    return ok;
}

static tc__subject *tc__subject_at(tc__tuner *t, const tc__kernel_run *k) {
    for (size_t i = t->at; i < t->end; i++)
        if (t->subject.at[i].launch == k->launch) return &t->subject.at[i];
    return NULL;
}

// Notes what a kernel takes that is to be measured.
static int tc__tuner_note(tc__tuner *t, tc__device *d, tc__kernel_run *k) {
    uint64_t ns;
    if (!tc__kernel_time(t->ctx, d, k, 1, &ns)) return 0;
    int open = t->p->launch.at[k->launch].tuned == TC__TUNED_OPEN && k->count;
    if (open && k->list[0].kernel) t->ns[k->launch] = ns + !ns;
    return 1;
}

// ---- the kernels of a program ----

static void tc__subject_close(tc__tuner *t, tc__subject *s) {
    tc__text_free(&s->key);
    tc__text_free(&s->name);
    tc__compiled_use(&s->code, NULL);
    if (s->entrant) TC__FREE_ARRAY(t->ctx, s->entrant, TC__CANDIDATES);
}

// The subject with the same kernel, NULL = there is none yet.
static tc__subject *tc__subject_like(tc__tuner *t, const tc__subject *s) {
    for (size_t i = 0; i < t->subject.count; i++) {
        tc__subject *e = &t->subject.at[i];
        if (e->device == s->device && e->key.size == s->key.size &&
            !memcmp(e->key.at, s->key.at, s->key.size))
            return e;
    }
    return NULL;
}

// Launch i is a new subject, or another one of its launches; 0 = out of memory.
static int tc__subject_add(tc__tuner *t, uint32_t i) {
    tc__subject s, *like = NULL;
    const tc__launch *l = &t->p->launch.at[i];
    memset(&s, 0, sizeof s);
    tc__text_init(&s.key, t->ctx), tc__text_init(&s.name, t->ctx);
    s.launch = i, s.device = tc__launch_device(t->p, l);
    tc__desk *k = tc__device_desk(t->ctx, s.device);
    int ok = k && k->maker->ready(k) && tc__choice_key(&s.key, k, t->p, l->group);
    if (ok) like = tc__subject_like(t, &s);
    if (ok && !like) {
        tc__put_kernel_name(&s.name, l->group, i);
        s.entrant = TC__NEW_ARRAY(t->ctx, tc__entrant, TC__CANDIDATES);
        ok = s.entrant && !s.name.failed && TC__PUSH(t->ctx, t->subject, s);
        if (ok) like = &t->subject.at[t->subject.count - 1];
    }
    if (!ok || like->launch != i) tc__subject_close(t, &s);
    if (!ok) return 0;
    like->launches++, like->ns += t->ns[i], t->first[i] = like->launch;
    return 1;
}

static int tc__subject_order(const void *a, const void *b) {
    const tc__subject *x = (const tc__subject *)a, *y = (const tc__subject *)b;
    if (x->ns != y->ns) return x->ns < y->ns ? 1 : -1;
    return x->launch < y->launch ? -1 : x->launch > y->launch;
}

// All kernels that are to be measured, those that need most time first. 0 = reported.
static int tc__tuner_subjects(tc__tuner *t) {
    t->left = 1;
    int ok = tc__tuner_run(t, tc__tuner_note); // pages are touched, caches filled
    if (ok && tc__now_ns() - t->begin < (t->deadline - t->begin) / 8)
        ok = tc__tuner_run(t, tc__tuner_note);
    for (uint32_t i = 0; ok && i < t->p->launch.count; i++)
        if (t->ns[i]) ok = tc__subject_add(t, i);
    if (t->subject.count)
        qsort(t->subject.at, t->subject.count, sizeof *t->subject.at, tc__subject_order);
    return ok;
}

// ---- candidates ----

// The kernel of s under a tuning as an entrant, its code ordered; 0 = it is no candidate.
static int tc__entrant_make(tc__tuner *t, const tc__subject *s, const tc__tuning *tuning,
                            tc__job *j, tc__entrant *e) {
    tc__variant *w = TC__ANEW(&t->arena, tc__variant);
    memset(e, 0, sizeof *e);
    if (!w) return 0;
    w->group = *t->p->launch.at[s->launch].group, w->group.shape.tuning = *tuning;
    w->device = s->device, w->next = t->variant;
    if (!s->device->runner->vary(t->p, s->launch, w)) return 0;
    t->variant = w, e->variant = w, e->tuning = *tuning;
    return tc__job_add(j, &w->group, w->grids, &e->order) >= 0;
}

static int tc__entrant_is_new(const tc__subject *s, const tc__entrant *e) {
    for (uint32_t i = 0; i < s->entrants; i++) {
        const tc__entrant *o = &s->entrant[i];
        if (o->order == e->order && o->variant->share == e->variant->share) return 0;
    }
    return 1;
}

static int tc__subject_candidates(const tc__tuner *t, const tc__subject *s,
                                  tc__tune_stage stage, tc__tuning *all) {
    return tc__candidates(t->p->launch.at[s->launch].group, t->ctx->target, stage,
                          &s->best.tuning, all);
}

// The candidates of a stage on top of the best so far, which is the first.
static void tc__subject_list(tc__tuner *t, tc__subject *s, tc__tune_stage stage,
                             tc__job *j) {
    tc__tuning all[TC__CANDIDATES];
    int n = tc__subject_candidates(t, s, stage, all);
    s->entrants = 0;
    for (int i = 0; n > 1 && i < n && (!i || s->entrants); i++) {
        tc__entrant *e = &s->entrant[s->entrants];
        if (tc__entrant_make(t, s, &all[i], j, e) && tc__entrant_is_new(s, e))
            s->entrants++;
    }
    t->listed += s->entrants ? s->entrants - 1 : 0;
}

// ---- compiling ----

// 0 = there is no time for it, as far as one can tell.
static int tc__tuner_has_time(const tc__tuner *t, size_t texts) {
    uint64_t now = tc__now_ns();
    uint64_t each = t->texts ? t->compile_ns / t->texts : 0;
    return now < t->deadline && each * texts <= t->deadline - now;
}

static int tc__tuner_compile(tc__tuner *t, tc__job *j) {
    size_t open = tc__job_open_orders(j);
    uint64_t start = tc__now_ns();
    if (!tc__tuner_has_time(t, open)) return 0;
    if (open && tc__job_units(j)) tc__job_build(t->desk, j);
    uint64_t took = tc__now_ns() - start;
    t->texts += open, t->compile_ns += took;
    if (open)
        tc__log(t->ctx, TC__LOG_AUTOTUNE,
                "region \"%s\": %zu candidates compiled in %.1f ms", tc__tuner_region(t),
                open, tc__us(took) / 1000);
    t->ctx->stats.compiles += j->compiles;
    return 1;
}

// The entrants of a stage get their code, NULL = it does not compile.
static void tc__subject_take(tc__subject *s, const tc__job *j) {
    for (uint32_t i = 0; i < s->entrants; i++) {
        tc__entrant *e = &s->entrant[i];
        tc__kernel_run *k = &e->variant->run;
        e->code = j->order.at[e->order].code;
        for (int n = 0; n < k->count; n++)
            k->list[n].kernel = tc__compiled_kernel(e->code, n);
    }
    s->begun |= s->entrants > 0;
    if (s->entrants && !s->rules.variant) s->rules = s->best = s->entrant[0];
}

// The candidates of the subjects in work, listed and compiled. 0 = no time, no memory.
static int tc__tuner_prepare(tc__tuner *t, tc__tune_stage stage) {
    tc__job *j = t->job[stage] = tc__job_new(t->desk);
    if (!j) return 0;
    j->trial = 1;
    for (size_t i = t->at; i < t->end; i++)
        tc__subject_list(t, &t->subject.at[i], stage, j);
    tc__tuner_tick(t, t->at);
    if (!tc__tuner_compile(t, j)) return 0;
    for (size_t i = t->at; i < t->end; i++) tc__subject_take(&t->subject.at[i], j);
    return 1;
}

// ---- heats ----

// Those that have no code, or other results, are out. 0 = reported.
static int tc__subject_check(tc__tuner *t, tc__subject *s, const tc__stand *stand) {
    int ok = tc__compiled_kernel(s->entrant[0].code, 0) != NULL;
    ok = ok && tc__heat_want(stand, &s->entrant[0]);
    for (uint32_t i = 1; ok && i < s->entrants && tc__now_ns() < t->deadline; i++) {
        tc__entrant *e = &s->entrant[i];
        size_t wrong = 0;
        int built = tc__compiled_kernel(e->code, 0) != NULL;
        tc__tuner_tick(t, (size_t)(s - t->subject.at));
        ok = !built || tc__entrant_differs(stand, e, &wrong);
        e->out = !built || wrong;
        if (wrong)
            tc__tuner_say(t, s, &e->tuning,
                          ": dropped, %zu elements differ from the default's", wrong);
        if (!built) tc__tuner_say(t, s, &e->tuning, ": dropped, it does not compile");
    }
    return ok;
}

// Whether entrant `best` is to follow the first. In the end it has to beat the best that the default did in
// any heat, by more than noise, and mostly.
static int tc__subject_gains(const tc__tuner *t, const tc__subject *s, uint32_t best) {
    const tc__entrant *e = s->entrant;
    if (t->stage != TC__TUNE_JUDGE) return e[best].low * 100 < e[0].low * TC__TUNE_STEP;
    return e[best].low * 100 < s->rules.low * TC__TUNE_GAIN && e[best].median < e[0].median;
}

// Goes on with the fastest of the stage.
static void tc__subject_advance(tc__tuner *t, tc__subject *s) {
    tc__entrant *e = s->entrant;
    uint32_t best = tc__heat_leader(e, s->entrants);
    int judged = t->stage == TC__TUNE_JUDGE,
        is_default = tc__tuning_is_default(&e[0].tuning);
    for (uint32_t i = !judged && s->tried > 0; i < s->entrants; i++)
        if (e[i].samples) tc__tuner_say(t, s, &e[i].tuning, ": %.1f us", tc__us(e[i].low));
    if (is_default && (!s->rules.low || e[0].low < s->rules.low)) s->rules.low = e[0].low;
    if (!judged) s->tried += s->entrants - 1;
    if (!tc__subject_gains(t, s, best)) best = 0;
    if (!judged && best && !t->job[t->stage]->order.at[e[best].order].known)
        s->job = t->job[t->stage], s->order = e[best].order;
    s->best = e[best];
}

// When a heat is to end: a subject has its part of the time that is left, and this heat half of it.
static uint64_t tc__subject_until(const tc__tuner *t, const tc__subject *s) {
    uint64_t now = tc__now_ns(), all = 1;
    for (size_t i = 0; i < t->subject.count; i++)
        if (!t->subject.at[i].decided && !t->subject.at[i].late) all += t->subject.at[i].ns;
    if (now >= t->deadline) return now;
    return now + (uint64_t)((double)(t->deadline - now) * (double)s->ns / (double)all / 2);
}

// One heat of a subject, where the program is at it. Afterwards memory is as it was before.
static void tc__subject_heat(tc__tuner *t, tc__subject *s) {
    tc__stand stand;
    int ok = tc__stand_open(&stand, t->p, &t->p->launch.at[s->launch], t->deadline) &&
             tc__subject_check(t, s, &stand) &&
             tc__heat(&stand, s->entrant, s->entrants, tc__subject_until(t, s));
    t->done += s->entrants - 1;
    (void)tc__stand_reset(&stand);
    tc__stand_close(&stand);
    s->late |= !ok && (!s->tried || t->stage == TC__TUNE_JUDGE);
    s->cut |= !ok;
    if (ok) tc__subject_advance(t, s);
}

static int tc__subject_waits(const tc__subject *s) { return s->entrants > 1 && !s->late; }

// A kernel whose turn it is, with a heat before if it has rivals.
static int tc__tuner_heat(tc__tuner *t, tc__device *d, tc__kernel_run *k) {
    tc__subject *s = tc__subject_at(t, k);
    if (s && tc__subject_waits(s)) tc__subject_heat(t, s), t->left--;
    return tc__kernel_go(t->ctx, d, k);
}

// Runs the program up to the last subject in work that has rivals. 0 = reported.
static int tc__tuner_pass(tc__tuner *t, int stage) {
    t->stage = stage, t->left = 0;
    for (size_t i = t->at; i < t->end; i++)
        t->left += (size_t)tc__subject_waits(&t->subject.at[i]);
    return !t->left || tc__tuner_run(t, tc__tuner_heat);
}

// ---- the end of a subject ----

// The default and the best, unless that is the default.
static void tc__subject_list_judge(tc__subject *s) {
    s->entrants = 0;
    if (tc__tuning_is_default(&s->best.tuning)) return;
    s->entrant[0] = s->rules, s->entrant[1] = s->best;
    s->entrant[0].out = s->entrant[1].out = 0;
    s->entrants = 2;
}

static void tc__subject_decide(tc__tuner *t, tc__subject *s) {
    tc__chosen *c = &s->chosen;
    int is_default = tc__tuning_is_default(&s->best.tuning);
    s->late |= !s->begun, s->decided = !s->late;
    if (s->late) return;
    c->tuning = s->best.tuning, c->tried = s->tried + 1;
    c->default_ns = s->rules.low ? s->rules.low : s->ns / s->launches;
    c->ns = is_default ? c->default_ns : s->best.low;
    tc__tuner_say(t, s, &c->tuning, " is kept: %.1f us, %.1f us by default, %u tried",
                  tc__us(c->ns), tc__us(c->default_ns), (unsigned)c->tried);
    if (s->job && !is_default) s->job->order.at[s->order].chosen = 1;
    if (!s->cut) tc__choice_keep(t->desk, &s->key, c);
    tc__compiled_use(&s->code, s->best.code);
    t->ctx->stats.autotuned++;
}

// Launch l takes what was found for its kernel. Where that is its default it has it.
static void tc__subject_apply(tc__tuner *t, const tc__subject *s, tc__launch *l) {
    if (!s->decided) return;
    if (!tc__tuning_is_default(&s->chosen.tuning)) {
        if (!tc__launch_tune(t->p, l, &s->chosen.tuning)) return;
        s->device->runner->use(t->p, l, s->best.variant, s->code);
    }
    l->tuned = TC__TUNED_HERE, l->chosen = s->chosen;
}

// ---- the search ----

// Texts that the subject has in its largest stage, about.
static int tc__subject_texts(const tc__tuner *t, const tc__subject *s) {
    tc__tuning all[TC__CANDIDATES];
    int most = 0;
    for (int stage = 0; stage < TC__STAGES; stage++) {
        int n = tc__subject_candidates(t, s, (tc__tune_stage)stage, all);
        if (n > most) most = n;
    }
    return most;
}

// Subjects from t->at on that are compiled together.
static void tc__tuner_choose(tc__tuner *t) {
    tc__device *d = t->subject.at[t->at].device;
    int texts = 0;
    t->desk = tc__device_desk(t->ctx, d);
    for (t->end = t->at; t->end < t->subject.count; t->end++) {
        const tc__subject *s = &t->subject.at[t->end];
        texts += tc__subject_texts(t, s);
        if (t->end > t->at && (texts > TC__TUNE_TEXTS || s->device != d)) return;
    }
}

// Gives how many stages could be begun.
static int tc__tuner_stages(tc__tuner *t) {
    memset(t->job, 0, sizeof t->job);
    for (int stage = 0; stage < TC__STAGES; stage++)
        if (!tc__tuner_prepare(t, (tc__tune_stage)stage) || !tc__tuner_pass(t, stage))
            return stage;
    return TC__STAGES;
}

// Tunes the subjects in work; 0 = there was no time to begin, or it fails.
static int tc__tuner_batch(tc__tuner *t) {
    int stages = tc__tuner_stages(t);
    for (size_t i = t->at; i < t->end; i++) {
        t->subject.at[i].cut |= stages < TC__STAGES;
        tc__subject_list_judge(&t->subject.at[i]);
    }
    int ok = tc__tuner_pass(t, TC__TUNE_JUDGE);
    for (size_t i = t->at; i < t->end; i++) tc__subject_decide(t, &t->subject.at[i]);
    for (int stage = 0; stage < TC__STAGES; stage++) {
        if (!t->job[stage]) continue;
        tc__job_publish(t->desk, t->job[stage]);
        tc__job_free(t->job[stage]);
    }
    return ok && stages > 0;
}

static void tc__tuner_search(tc__tuner *t) {
    int goes_on = tc__tuner_subjects(t);
    t->shows = !tc__core_of(t->ctx)->logger.log && !tc__log_on(t->ctx, TC__LOG_AUTOTUNE) &&
               tc__is_watched();
    for (; goes_on && t->at < t->subject.count; t->at = t->end) {
        tc__tuner_choose(t);
        goes_on = tc__tuner_batch(t);
    }
    tc__tuner_clear(t);
}

// ---- a program ----

static int tc__tuner_open(tc__tuner *t, tc__program *p, const tc__visit *v,
                          tc__act_fn act) {
    size_t n = p->launch.count;
    memset(t, 0, sizeof *t);
    t->ctx = p->ctx, t->p = p, t->v = v, t->act = act, t->begin = tc__now_ns();
    t->deadline = t->begin + (uint64_t)v->region->options.autotune_seconds * 1000000000u;
    tc__arena_init(&t->arena, t->ctx);
    int ok = tc__spares_open(&t->spares, p, v);
    t->ns = TC__ANEW_ARRAY(&t->arena, uint64_t, n + 1);
    t->first = TC__ANEW_ARRAY(&t->arena, uint32_t, n + 1);
    if (t->first) memset(t->first, 0xff, n * sizeof *t->first);
    return ok && t->ns && t->first;
}

// The program as it is in a run, but that it writes the spares. 0 = reported.
static int tc__tuner_begin(tc__tuner *t) {
    tc__program *p = t->p;
    uint64_t seed = tc__visit_seed(t->ctx, t->v);
    tc__spares_bind(&t->spares);
    int ok = tc__spares_fill(&t->spares);
    for (size_t i = 0; i < p->launch.count; i++)
        p->launch.at[i].args.seed = seed, p->launch.at[i].args.draw = t->v->draw;
    for (tc__dispatch *r = p->dispatch; ok && r; r = r->next)
        ok = tc__dispatch_begin(p, r, t->v);
    return ok;
}

// All launches of a kernel take what was found.
static void tc__tuner_apply(tc__tuner *t) {
    size_t late = 0;
    for (size_t i = 0; i < t->p->launch.count; i++) {
        tc__launch *l = &t->p->launch.at[i];
        for (size_t k = 0; t->first && k < t->subject.count; k++)
            if (t->subject.at[k].launch == t->first[i])
                tc__subject_apply(t, &t->subject.at[k], l);
        if (l->tuned != TC__TUNED_OPEN) continue;
        int known = t->first && t->first[i] != UINT32_MAX;
        l->tuned = known ? TC__TUNED_LATE : TC__TUNED_NOT;
        late += (size_t)known;
    }
    if (late)
        tc__log(t->ctx, TC__LOG_AUTOTUNE,
                "region \"%s\": no time for %zu of %zu kernels; they stay as they are",
                tc__tuner_region(t), late, t->p->launch.count);
}

static void tc__tuner_close(tc__tuner *t) {
    for (tc__dispatch *r = t->p->dispatch; r; r = r->next) (void)tc__bounce_out(t->p, r, 0);
    for (tc__variant *w = t->variant; w; w = w->next) tc__kernel_forget(w->device, &w->run);
    for (size_t i = 0; i < t->subject.count; i++) tc__subject_close(t, &t->subject.at[i]);
    TC__VEC_FREE(t->ctx, t->subject);
    tc__spares_close(&t->spares);
    tc__arena_free(&t->arena);
}

static int tc__program_is_open(const tc__program *p) {
    for (size_t i = 0; i < p->launch.count; i++)
        if (p->launch.at[i].tuned == TC__TUNED_OPEN) return 1;
    return 0;
}

// Measuring is for the default stance: in the others nobody wants to wait.
static int tc__program_wants_tuning(const tc__program *p) {
    return p->autotune == TC__AUTOTUNE_SEARCH && p->tier == TC__TIER_FINAL &&
           p->numerics == TC_NUMERICS_STRICT && p->ctx->stance == TC_STANCE_DEFAULT;
}

static void tc__program_search(tc__program *p, const tc__visit *v, tc__act_fn act) {
    tc__tuner t;
    tc__calm calm = tc__calm_begin();
    if (tc__tuner_open(&t, p, v, act) && tc__tuner_begin(&t)) tc__tuner_search(&t);
    tc__tuner_apply(&t);
    tc__tuner_close(&t);
    tc__calm_end(calm);
    p->laid_out = 0, p->bound = NULL;
}

// Tunes the kernels of a bound program of which nothing is known, where it runs. It is to be bound again.
// The user's functions are called once: what has them is not measured.
static void tc__program_tune(tc__program *p, const tc__visit *v, tc__act_fn act) {
    tc_ctx *c = p->ctx;
    tc__error_mark before = tc__error_now(c);
    const tc_stats made = c->stats;
    uint64_t begin = tc__now_ns();
    p->autotune = TC__AUTOTUNE_RECALL;
    if (p->customs || !tc__program_is_open(p)) return;
    tc__program_search(p, v, act);
    c->stats.emit_ns = made.emit_ns; // all of it is autotune_ns
    c->stats.cc_ns = made.cc_ns, c->stats.load_ns = made.load_ns;
    p->tune_ns = tc__now_ns() - begin;
    c->stats.autotune_ns += p->tune_ns;
    tc__note_span(c, TC__SPAN_TUNE, begin, v->region);
    tc__error_restore(c, before);
}

#else

static int tc__program_wants_tuning(const tc__program *p) { return (void)p, 0; }

static void tc__program_tune(tc__program *p, const tc__visit *v, tc__act_fn act) {
    (void)v, (void)act;
    p->autotune = TC__AUTOTUNE_OFF;
}

#endif // TC__JIT
