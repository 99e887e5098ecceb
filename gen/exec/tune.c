// "max-autotune": the first run of a program measures its kernels in all the ways that kernel/tune.c knows,
// on the very buffers of that run, and keeps the fastest. Input: a program whose launches have code and
// are bound. Output: launches with other code, other shares for threads; what was found is remembered.
//
// Kernels are taken by the time they need, a few at a time. For each stage their candidates are compiled
// together; then the program runs once more, in order, and stops at each of them for a heat: its inputs
// are those of a run there. Last, what seems best is measured against the default once more; a
// candidate that is lucky among many is not lucky twice. Memory of the user's that kernels write in
// place is a copy meanwhile. Whatever goes wrong, kernels stay as they are, and nothing is reported
// but a line of the log.
//
// A default that is kept is remembered too. Codes of a search go to disk only when they
// win.

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
    uint64_t ns;               // of all of them, at first
    tc__text key, name;
    tc__entrant rules, best; // the default, and the best so far
    tc__compiled *code;      // of the default; counted
    tc__job *job;            // that has the best one's code; NULL = the program has
    uint32_t order;          //   and where
    tc__entrant *entrant;    // of this stage; owned, room for TC__CANDIDATES
    uint32_t entrants, tried;
    int decided;
    int late; // there was no time to find anything
    int cut;  //   or not for all stages: what was found is not for others
} tc__subject;

// What a kernel writes of the user's, and the copy that it writes meanwhile.
typedef struct tc__spare {
    const void *real; // its first element,
    int64_t low;      //   and what of it lies in front of that, in bytes
    char *copy;       // of all that it reaches
    size_t bytes;
} tc__spare;

typedef struct tc__tuner {
    tc_ctx *ctx;
    tc__program *p;
    const tc__visit *v;
    tc__desk *desk;
    uint64_t begin, deadline;
    TC__VEC(tc__subject) subject; // by time, the largest first
    TC__VEC(tc__spare) spare;
    size_t first, end;          // subjects in work
    tc__job *job[TC__STAGES];   // of theirs
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

// One line of the log: what `e` is, and `what` of it.
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

// ---- memory of the user's ----

static tc__spare *tc__spare_of(tc__tuner *t, uint32_t external) {
    const void *real = tc__external_data(t->ctx, &t->v->external.at[external]);
    for (size_t i = 0; i < t->spare.count; i++)
        if (t->spare.at[i].real == real) return &t->spare.at[i];
    return NULL;
}

// Copies of what kernels write in place; 0 = out of memory.
static int tc__spares_open(tc__tuner *t) {
    for (size_t i = 0; i < t->p->output.count; i++) {
        const tc__output *o = &t->p->output.at[i];
        tc__spare s;
        if (!o->direct) continue;
        const tc__external *e = &t->v->external.at[o->external];
        const tc__layout *l = tc__layout_at(t->ctx, e->layout);
        int64_t each = (int64_t)tc__dtype(l->dtype)->bytes;
        s.bytes = (size_t)((l->high - l->low + 1) * each) + TC__SLAB_SLACK;
        s.real = tc__external_data(t->ctx, e), s.low = -l->low * each;
        s.copy = (char *)tc__alloc_aligned(t->ctx, s.bytes);
        if (!s.copy) return 0;
        if (!TC__PUSH(t->ctx, t->spare, s))
            return tc__free_aligned(t->ctx, s.copy, s.bytes), 0;
    }
    return 1;
}

static void tc__spares_close(tc__tuner *t) {
    for (size_t i = 0; i < t->spare.count; i++)
        tc__free_aligned(t->ctx, t->spare.at[i].copy, t->spare.at[i].bytes);
    TC__VEC_FREE(t->ctx, t->spare);
}

// The launches use the copies, as if they were the user's.
static void tc__spares_bind(tc__tuner *t) {
    tc__program *p = t->p;
    for (size_t i = 0; i < p->address.count; i++) {
        const tc__address *a = &p->address.at[i];
        const tc__output *o = a->output ? &p->output.at[a->source] : NULL;
        if (o ? !o->direct : a->source >= p->externals) continue;
        tc__spare *s = tc__spare_of(t, o ? o->external : a->source);
        if (!s) continue;
        const tc__layout *l = o ? tc__layout_at(t->ctx, o->layout) : NULL;
        int64_t landing = o ? o->offset * (int64_t)tc__dtype(l->dtype)->bytes : 0;
        *a->at = s->copy + s->low + landing + a->begin;
    }
}

static void tc__spares_fill(tc__tuner *t) {
    for (size_t i = 0; i < t->spare.count; i++) {
        const tc__spare *s = &t->spare.at[i];
        memcpy(s->copy, (const char *)s->real - s->low, s->bytes - TC__SLAB_SLACK);
    }
}

// ---- the program, in order ----

static void tc__tuner_launch(tc__tuner *t, tc__launch *l) {
    l->args.seed = tc__recorder_of(t->ctx)->seed, l->args.draw = t->v->draw;
    if (l->items > 0)
        tc__pool_run(tc__pool_of(t->ctx), tc__launch_part, l, l->items, l->grain);
}

static tc__subject *tc__subject_at(tc__tuner *t, uint32_t launch) {
    for (size_t i = t->first; i < t->end; i++)
        if (t->subject.at[i].launch == launch) return &t->subject.at[i];
    return NULL;
}

// Runs all kernels, and notes what each took.
static void tc__tuner_measure(tc__tuner *t, uint64_t *ns) {
    tc__spares_fill(t);
    for (size_t i = 0; i < t->p->launch.count; i++) {
        uint64_t start = tc__now_ns();
        tc__tuner_launch(t, &t->p->launch.at[i]);
        ns[i] = tc__now_ns() - start;
    }
}

// ---- the kernels of a program ----

// Subject `launch` is another launch of, or a new one; 0 = out of memory.
static int tc__subject_add(tc__tuner *t, uint32_t launch, uint64_t ns) {
    tc__subject s;
    tc__launch *l = &t->p->launch.at[launch];
    memset(&s, 0, sizeof s);
    tc__text_init(&s.key, t->ctx);
    tc__text_init(&s.name, t->ctx);
    s.launch = launch, s.launches = 1, s.ns = ns;
    s.rules.code = l->code, s.rules.run = l->run;
    s.rules.items = l->items, s.rules.grain = l->grain;
    s.rules.order = UINT32_MAX, s.best = s.rules;
    int ok = tc__choice_key(&s.key, t->desk, t->p, l->group);
    for (size_t i = 0; ok && i < t->subject.count; i++) {
        tc__subject *e = &t->subject.at[i];
        if (e->key.size != s.key.size || memcmp(e->key.at, s.key.at, s.key.size)) continue;
        e->launches++, e->ns += ns;
        return tc__text_free(&s.key), 1;
    }
    tc__put_kernel_name(&s.name, l->group, launch);
    s.entrant = TC__NEW_ARRAY(t->ctx, tc__entrant, TC__CANDIDATES);
    if (ok && s.entrant && !s.name.failed && TC__PUSH(t->ctx, t->subject, s)) {
        tc__compiled_use(&t->subject.at[t->subject.count - 1].code, l->code);
        return 1;
    }
    if (s.entrant) TC__FREE_ARRAY(t->ctx, s.entrant, TC__CANDIDATES);
    tc__text_free(&s.key);
    tc__text_free(&s.name);
    return 0;
}

static int tc__subject_order(const void *a, const void *b) {
    const tc__subject *x = (const tc__subject *)a, *y = (const tc__subject *)b;
    if (x->ns != y->ns) return x->ns < y->ns ? 1 : -1;
    return x->launch < y->launch ? -1 : x->launch > y->launch;
}

static int tc__launch_is_open(const tc__launch *l) {
    return l->tuned == TC__TUNED_OPEN && l->run && !l->opaque && l->items > 0;
}

// All kernels that are to be measured, those that need most time first. 0 = out of memory.
static int tc__tuner_subjects(tc__tuner *t) {
    size_t n = t->p->launch.count;
    uint64_t *ns = TC__NEW_ARRAY(t->ctx, uint64_t, n);
    int ok = ns != NULL;
    if (ok) tc__tuner_measure(t, ns); // pages are touched, caches filled
    if (ok && tc__now_ns() - t->begin < (t->deadline - t->begin) / 8)
        tc__tuner_measure(t, ns);
    for (size_t i = 0; ok && i < n; i++)
        if (tc__launch_is_open(&t->p->launch.at[i]))
            ok = tc__subject_add(t, (uint32_t)i, ns[i]);
    if (t->subject.count)
        qsort(t->subject.at, t->subject.count, sizeof *t->subject.at, tc__subject_order);
    if (ns) TC__FREE_ARRAY(t->ctx, ns, n);
    return ok;
}

// ---- candidates ----

// Items and grain of launch l under a tuning, and scratch for it; the launch is left so tuned.
static int tc__tuner_set(tc__tuner *t, tc__launch *l, const tc__tuning *tuning) {
    tc__ixenv env;
    memset(&env, 0, sizeof env);
    env.sym = t->p->size.at;
    tc__group_tune(l->group, t->ctx->target, tuning);
    tc__launch_lay_out(t->p, l, &env);
    size_t need = (size_t)tc__ix_eval(&t->p->ix, l->group->shape.scratch, &env);
    return !t->p->ix.failed && tc__program_scratch(t->p, (need + 4096 + 63) / 64 * 64, 0);
}

// Threads that take part.
static int64_t tc__entrant_workers(const tc__tuner *t, const tc__entrant *e) {
    int64_t n = e->grain > 0 ? (e->items - 1) / e->grain + 1 : e->items;
    int64_t most = tc__threads(t->ctx);
    return n < most ? n : most;
}

static int tc__entrant_is_new(const tc__tuner *t, const tc__subject *s,
                              const tc__entrant *e) {
    for (uint32_t i = 0; i < s->entrants; i++) {
        const tc__entrant *o = &s->entrant[i];
        if (o->order == e->order && tc__entrant_workers(t, o) == tc__entrant_workers(t, e))
            return 0;
    }
    return 1;
}

// The candidates of a stage on top of the best so far, their codes ordered. 0 = reported.
static int tc__subject_list(tc__tuner *t, tc__subject *s, tc__tune_stage stage,
                            tc__job *j) {
    tc__tuning all[TC__CANDIDATES];
    tc__launch *l = &t->p->launch.at[s->launch];
    int ok = 1, n = tc__candidates(l->group, t->ctx->target, stage, &s->best.tuning, all);
    s->entrants = 0;
    for (int i = 0; ok && i < n; i++) {
        tc__entrant *e = &s->entrant[s->entrants];
        memset(e, 0, sizeof *e);
        e->tuning = all[i];
        ok = tc__tuner_set(t, l, &all[i]) && tc__job_add(j, l->group, NULL, &e->order) >= 0;
        e->items = l->items, e->grain = l->grain;
        if (ok && tc__entrant_is_new(t, s, e)) s->entrants++;
    }
    ok &= tc__tuner_set(t, l, &s->rules.tuning);
    t->listed += s->entrants ? s->entrants - 1 : 0;
    return ok;
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

// The candidates of the subjects in work, listed and compiled. 0 = no time, no memory.
static int tc__tuner_prepare(tc__tuner *t, tc__tune_stage stage) {
    tc__job *j = t->job[stage] = tc__job_new(t->desk);
    int ok = j != NULL;
    if (ok) j->trial = 1;
    for (size_t i = t->first; ok && i < t->end; i++)
        ok = tc__subject_list(t, &t->subject.at[i], stage, j);
    tc__tuner_tick(t, t->first);
    if (!ok || !tc__tuner_compile(t, j)) return 0;
    for (size_t i = t->first; i < t->end; i++) {
        tc__subject *s = &t->subject.at[i];
        for (uint32_t k = 0; k < s->entrants; k++) {
            tc__entrant *e = &s->entrant[k];
            e->code = k ? j->order.at[e->order].code : s->best.code;
            e->run = tc__compiled_function(e->code);
        }
    }
    return 1;
}

// ---- heats ----

static void tc__subject_check(tc__tuner *t, tc__subject *s, tc__stand *stand) {
    tc__heat_want(stand, &s->rules);
    for (uint32_t i = 1; i < s->entrants && tc__now_ns() < t->deadline; i++) {
        tc__entrant *e = &s->entrant[i];
        tc__tuner_tick(t, (size_t)(s - t->subject.at));
        size_t wrong = e->run ? tc__entrant_differs(stand, e) : 0;
        e->out = !e->run || wrong;
        if (wrong)
            tc__tuner_say(t, s, &e->tuning,
                          ": dropped, %zu elements differ from the default's", wrong);
        if (!e->run) tc__tuner_say(t, s, &e->tuning, ": dropped, it does not compile");
    }
}

// Whether entrant `best` is to follow the first. In the end it has to beat the best that the default did in
// any heat, by more than noise, and mostly.
static int tc__subject_gains(const tc__subject *s, uint32_t best, int stage) {
    const tc__entrant *e = s->entrant;
    if (stage != TC__TUNE_JUDGE) return e[best].low * 100 < e[0].low * TC__TUNE_STEP;
    return e[best].low * 100 < s->rules.low * TC__TUNE_GAIN && e[best].median < e[0].median;
}

// Goes on with the fastest of the stage.
static void tc__subject_advance(tc__tuner *t, tc__subject *s, int stage) {
    tc__entrant *e = s->entrant;
    uint32_t best = tc__heat_leader(e, s->entrants);
    int judged = stage == TC__TUNE_JUDGE, is_default = tc__tuning_is_default(&e[0].tuning);
    for (uint32_t i = !judged && s->tried > 0; i < s->entrants; i++)
        if (e[i].samples) tc__tuner_say(t, s, &e[i].tuning, ": %.1f us", tc__us(e[i].low));
    if (is_default && (!s->rules.low || e[0].low < s->rules.low)) s->rules.low = e[0].low;
    if (!judged) s->tried += s->entrants - 1;
    if (!tc__subject_gains(s, best, stage)) best = 0;
    if (!judged && best && !t->job[stage]->order.at[e[best].order].known)
        s->job = t->job[stage], s->order = e[best].order;
    s->best = e[best];
}

// When a heat is to end: a subject has its part of the time that is left, and this heat half of it.
static uint64_t tc__subject_until(const tc__tuner *t, const tc__subject *s) {
    uint64_t now = tc__now_ns(), all = 1;
    for (size_t i = 0; i < t->subject.count; i++)
        if (!t->subject.at[i].decided) all += t->subject.at[i].ns;
    if (now >= t->deadline) return now;
    return now + (uint64_t)((double)(t->deadline - now) * (double)s->ns / (double)all / 2);
}

// One heat of a subject, where the program is at it. Afterwards memory is as if it had just run.
static void tc__subject_heat(tc__tuner *t, tc__subject *s, int stage) {
    tc__stand stand;
    tc__launch *l = &t->p->launch.at[s->launch];
    l->args.seed = tc__recorder_of(t->ctx)->seed, l->args.draw = t->v->draw;
    int ok = tc__stand_open(&stand, t->p, l, t->deadline);
    if (ok) {
        tc__subject_check(t, s, &stand);
        ok = tc__heat(&stand, s->entrant, s->entrants, tc__subject_until(t, s));
        t->done += s->entrants - 1;
    }
    tc__stand_reset(&stand);
    tc__stand_close(&stand);
    tc__tuner_launch(t, l);
    if (ok) tc__subject_advance(t, s, stage);
    s->cut |= !ok;
    s->late |= !ok && (stage == TC__STAGE_REGISTERS || stage == TC__TUNE_JUDGE);
}

// Runs the program up to the last subject in work, with a heat at each that has rivals.
static void tc__tuner_pass(tc__tuner *t, int stage) {
    size_t left = 0;
    for (size_t i = t->first; i < t->end; i++)
        left += t->subject.at[i].entrants > 1 && !t->subject.at[i].late;
    if (left) tc__spares_fill(t);
    for (uint32_t i = 0; left && i < t->p->launch.count; i++) {
        tc__subject *s = tc__subject_at(t, i);
        int heat = s && s->entrants > 1 && !s->late;
        if (heat)
            tc__subject_heat(t, s, stage);
        else
            tc__tuner_launch(t, &t->p->launch.at[i]);
        left -= (size_t)heat;
    }
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

// Every launch with this kernel takes what was found.
static void tc__subject_apply(tc__tuner *t, const tc__subject *s,
                              const tc__chosen *chosen) {
    for (size_t i = 0; i < t->p->launch.count; i++) {
        tc__launch *l = &t->p->launch.at[i];
        if (l->tuned != TC__TUNED_OPEN || l->run != s->rules.run) continue;
        if (l->items != s->rules.items) continue;
        if (!tc__launch_tune(t->p, l, &s->best.tuning)) continue;
        l->tuned = TC__TUNED_HERE, l->chosen = *chosen;
        tc__launch_use(l, s->best.code);
    }
}

static void tc__subject_decide(tc__tuner *t, tc__subject *s) {
    tc__chosen c;
    s->decided = 1;
    if (s->late) return;
    memset(&c, 0, sizeof c);
    uint64_t first = s->ns / s->launches;
    c.tuning = s->best.tuning, c.tried = s->tried + 1;
    c.default_ns = s->rules.low ? s->rules.low : first;
    c.ns = tc__tuning_is_default(&c.tuning) ? c.default_ns : s->best.low;
    tc__tuner_say(t, s, &c.tuning, " is kept: %.1f us, %.1f us by default, %u tried",
                  tc__us(c.ns), tc__us(c.default_ns), (unsigned)c.tried);
    if (s->job && !tc__tuning_is_default(&c.tuning)) s->job->order.at[s->order].chosen = 1;
    if (!s->cut) tc__choice_keep(t->desk, &s->key, &c);
    tc__subject_apply(t, s, &c);
    t->ctx->stats.autotuned++;
}

// ---- the search ----

// Subjects from t->first on that are compiled together.
static void tc__tuner_choose(tc__tuner *t) {
    tc__tuning all[TC__CANDIDATES];
    int texts = 0;
    for (t->end = t->first; t->end < t->subject.count; t->end++) {
        const tc__subject *s = &t->subject.at[t->end];
        texts += tc__candidates(t->p->launch.at[s->launch].group, t->ctx->target,
                                TC__STAGE_REGISTERS, &s->rules.tuning, all);
        if (texts > TC__TUNE_TEXTS && t->end > t->first) return;
    }
}

// Gives how many stages could be begun.
static int tc__tuner_stages(tc__tuner *t) {
    memset(t->job, 0, sizeof t->job);
    for (int stage = 0; stage < TC__STAGES; stage++) {
        if (!tc__tuner_prepare(t, (tc__tune_stage)stage)) return stage;
        tc__tuner_pass(t, stage);
    }
    return TC__STAGES;
}

// Tunes the subjects in work; 0 = there was no time to begin.
static int tc__tuner_batch(tc__tuner *t) {
    int stages = tc__tuner_stages(t);
    for (size_t i = t->first; i < t->end; i++) {
        tc__subject *s = &t->subject.at[i];
        s->late |= !stages, s->cut |= stages < TC__STAGES;
        tc__subject_list_judge(s);
    }
    tc__tuner_pass(t, TC__TUNE_JUDGE);
    for (size_t i = t->first; i < t->end; i++) tc__subject_decide(t, &t->subject.at[i]);
    for (int stage = 0; stage < TC__STAGES; stage++) {
        if (!t->job[stage]) continue;
        tc__job_publish(t->desk, t->job[stage]);
        tc__job_free(t->job[stage]);
    }
    return stages > 0;
}

static void tc__tuner_search(tc__tuner *t) {
    t->shows = !tc__core_of(t->ctx)->logger.log && !tc__log_on(t->ctx, TC__LOG_AUTOTUNE) &&
               tc__is_watched();
    tc__spares_bind(t);
    if (!tc__tuner_subjects(t)) return;
    int goes_on = 1;
    for (; goes_on && t->first < t->subject.count; t->first = t->end) {
        tc__tuner_choose(t);
        goes_on = tc__tuner_batch(t);
    }
    tc__tuner_clear(t);
}

static void tc__tuner_close(tc__tuner *t) {
    size_t late = 0;
    for (size_t i = 0; i < t->p->launch.count; i++) {
        tc__launch *l = &t->p->launch.at[i];
        if (l->tuned == TC__TUNED_OPEN) l->tuned = TC__TUNED_LATE, late++;
    }
    if (late)
        tc__log(t->ctx, TC__LOG_AUTOTUNE,
                "region \"%s\": no time for %zu of %zu kernels; they stay as they are",
                tc__tuner_region(t), late, t->p->launch.count);
    for (size_t i = 0; i < t->subject.count; i++) {
        tc__subject *s = &t->subject.at[i];
        tc__text_free(&s->key);
        tc__text_free(&s->name);
        tc__compiled_use(&s->code, NULL);
        TC__FREE_ARRAY(t->ctx, s->entrant, TC__CANDIDATES);
    }
    TC__VEC_FREE(t->ctx, t->subject);
    tc__spares_close(t);
}

static int tc__program_is_open(const tc__program *p) {
    for (size_t i = 0; i < p->launch.count; i++)
        if (tc__launch_is_open(&p->launch.at[i])) return 1;
    return 0;
}

// Measuring is for the default stance: in the others nobody wants to wait.
static int tc__program_wants_tuning(const tc__program *p) {
    return p->autotune == TC__AUTOTUNE_SEARCH && p->tier == TC__TIER_FINAL &&
           p->numerics == TC_NUMERICS_STRICT && p->ctx->stance == TC_STANCE_DEFAULT;
}

// Whether a program of the host has kernels to measure. The user's functions are called once.
static int tc__program_tunes_here(const tc__program *p) {
    return !p->customs && tc__program_is_open(p);
}

// Tunes its kernels of which nothing is known yet.
static void tc__program_search(tc__program *p, const tc__visit *v, uint64_t begin,
                               uint64_t deadline) {
    tc__tuner t;
    memset(&t, 0, sizeof t);
    t.ctx = p->ctx, t.p = p, t.v = v, t.desk = &p->ctx->kernels->desk;
    t.begin = begin, t.deadline = deadline;
    tc__calm calm = tc__calm_begin();
    if (tc__spares_open(&t) && tc__desk_ready(t.desk)) tc__tuner_search(&t);
    tc__tuner_close(&t);
    tc__calm_end(calm);
}

#else

static int tc__program_wants_tuning(const tc__program *p) { return (void)p, 0; }

#endif // TC__JIT
