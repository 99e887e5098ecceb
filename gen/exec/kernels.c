// A program's kernels: printed as orders, given to the library (exec/library.c), and what comes back.
// A program runs interpreted until it has taken its code.
//
// Kernels of one program that are equal but for where their buffers are have one text,
// which is printed once (tc__groups_same). Kernels share units of the compiler: one shared
// object for each would cost a dlopen each at a warm start.

#if TC__JIT

struct tc__kernels {
    tc__library *library; // shared by a family of contexts
    tc__desk desk;        // for what cannot wait
};

enum {
    TC__CPU_512 = TC__CPU_WIDE | TC__CPU_AVX512F,
    TC__CPU_DOTS = TC__CPU_512 | TC__CPU_VNNI | TC__CPU_BF16
};
static const unsigned tc__emit_cpu[TC__EMITS] = {0,
                                                 TC__CPU_WIDE,
                                                 TC__CPU_512,
                                                 TC__CPU_512 | TC__CPU_VNNI,
                                                 TC__CPU_DOTS,
                                                 TC__CPU_DOTS | TC__CPU_AMX};

// The most that a CPU with these features can run; the one place that decides it.
static tc__emit tc__emit_of(unsigned cpu) {
    int t = TC__EMITS - 1;
    while ((cpu & tc__emit_cpu[t]) != tc__emit_cpu[t]) t--;
    return (tc__emit)t;
}

// The context compiles by this library, of which it is a user.
static int tc__kernels_new(tc_ctx *c, tc__library *b) {
    tc__kernels *k = TC__NEW(c, tc__kernels);
    if (!k) return tc__library_release(b), 0;
    c->kernels = k, k->library = b;
    tc__desk_open(&k->desk, c, b);
    c->here.desk = &k->desk;
    return 1;
}

static int tc__kernels_open(tc_ctx *c, const tc_config *config) {
    c->target = tc__emit_of(tc__cpu_of(c));
    tc__library *b = tc__library_open(c, config, tc__emit_cpu[c->target]);
    if (b) b->target = (int)c->target;
    return b && tc__kernels_new(c, b);
}

// Context c uses the library of its parent.
static int tc__kernels_share(tc_ctx *c, tc_ctx *parent) {
    tc__library *b = parent->kernels->library;
    c->target = parent->target;
    (void)tc__atomic_add32(&b->users, 1);
    return tc__kernels_new(c, b);
}

static void tc__kernels_close(tc_ctx *c) {
    tc__kernels *k = c->kernels;
    if (!k) return;
    tc__desk_close(&k->desk);
    tc__library_release(k->library);
    tc__free(c, k, sizeof *k);
    c->kernels = NULL;
}

static void tc__kernels_wait(tc_ctx *c) { tc__workshop_wait(c->kernels->library, c); }

// ---- devices ----

static tc__desk *tc__device_desk_new(tc_ctx *c, tc__device *d) {
    tc__desk *k = TC__NEW(c, tc__desk);
    if (!k) return NULL;
    k->ctx = c, k->library = tc__library_new(c, &d->own), k->maker = &tc__device_maker;
    if (k->library) return k;
    tc__free(c, k, sizeof *k);
    return NULL;
}

// Who makes code for device d, with the cache of the host's; NULL = reported.
static tc__desk *tc__device_desk(tc_ctx *c, tc__device *d) {
    tc__desk *host = &c->kernels->desk, *k = (tc__desk *)d->desk;
    if (!k) d->desk = k = tc__device_desk_new(c, d);
    if (host->library->disk && !host->cache)
        host->cache = tc__cache_open(c, host->library->cache_dir);
    if (k) k->cache = host->cache;
    return k;
}

static void tc__device_code_free(tc__device *d) {
    tc__desk *k = (tc__desk *)d->desk;
    if (!k) return;
    tc__library_release(k->library);
    tc__free(k->ctx, k, sizeof *k);
    d->desk = NULL;
}

// ---- orders ----

// Elements of a kernel's vectors; 0 = an opaque op, or one of a device.
static int tc__launch_lanes(const tc__launch *l) {
    return l->interp ? tc__group_lanes(l->group) : 0;
}

// What of a program is compiled: all, as it is known to be best, or only what nothing else can run, which for
// a device is all, as it is.
typedef enum tc__compile_what { TC__COMPILE_ALL, TC__COMPILE_NEEDED } tc__compile_what;

static int tc__launch_wants(tc_ctx *c, const tc__launch *l, tc__compile_what what) {
    if (what == TC__COMPILE_NEEDED) return l->custom && !l->run;
    return !l->group->target.device && tc__has_source(c, l->group);
}

// Orders a kernel, once however many launches have it: its place is *at. -1 = reported, 1 = the process
// has it, and nobody asked for it before.
static int tc__job_add(tc__job *j, const tc__group *g, const tc__grids *grids,
                       uint32_t *at) {
    tc__order o;
    uint32_t i = 0;
    if (!tc__order_make(j, &o, g, grids)) return tc__text_free(&o.text), -1;
    while (i < j->order.count && memcmp(j->order.at[i].like, o.like, 32)) i++;
    *at = i;
    if (i < j->order.count) return tc__text_free(&o.text), 0;
    if (!TC__PUSH(j->ctx, j->order, o)) return tc__text_free(&o.text), -1;
    return tc__order_known(j->library, &j->order.at[i]);
}

// The same, and the text is printed only if no order is for the same group.
static int tc__job_order(tc__job *j, const tc__group *g, const tc__grids *grids,
                         uint32_t *at) {
    for (*at = 0; *at < j->order.count; ++*at)
        if (tc__groups_same(j->order.at[*at].group, g)) return 1;
    int known = tc__job_add(j, g, grids, at);
    if (known <= 0) return !known;
    j->ctx->stats.memory_hits++;
    tc__log(j->ctx, TC__LOG_CACHE, "%s: in this process", j->order.at[*at].symbol);
    return 1;
}

// Tunes launch l as process or disk know is best. Else it is to be measured.
static void tc__launch_recall(tc__program *p, tc__desk *k, tc__launch *l) {
    tc_ctx *c = p->ctx;
    tc__error_mark before = tc__error_now(c);
    tc__text key;
    tc__text_init(&key, c);
    if (tc__choice_key(&key, k, p, l->group) &&
        tc__choice_find(k, &key, l->group, c->target, &l->chosen) &&
        tc__launch_tune(p, l, &l->chosen.tuning))
        l->tuned = TC__TUNED_KNOWN;
    tc__text_free(&key);
    tc__error_restore(c, before);
}

// Whether there is something to choose, and to choose it by.
static int tc__launch_has_choice(const tc__program *p, const tc__launch *l) {
    tc__tuning all[TC__CANDIDATES];
    if (l->group->shape.kind == TC__OPAQUE ||
        !tc__device_has_time(&tc__launch_device(p, l)->own))
        return 0;
    for (int stage = 0; stage < TC__STAGES; stage++)
        if (tc__candidates(l->group, p->ctx->target, (tc__tune_stage)stage,
                           &l->group->shape.tuning, all) > 1)
            return 1;
    return 0;
}

// The launches for device r, NULL = the host's.
static void tc__program_recall(tc__program *p, const tc__dispatch *r, tc__desk *k,
                               int (*ready)(tc__desk *k)) {
    uint64_t start = tc__now_ns();
    if (p->autotune == TC__AUTOTUNE_OFF) return;
    int ok = ready(k);
    for (size_t i = 0; i < p->launch.count; i++) {
        tc__launch *l = &p->launch.at[i];
        if (tc__launch_on(p, i) != r || (r && r->launch[i].pieces)) continue;
        if (!tc__launch_has_choice(p, l)) continue;
        l->tuned = TC__TUNED_OPEN;
        if (ok) tc__launch_recall(p, k, l);
    }
    p->ctx->stats.load_ns += tc__now_ns() - start;
    tc__note_span(p->ctx, TC__SPAN_LOAD, start, NULL);
}

// A kernel's text on the log channel "output_code", each once, wherever its code comes from.
static int tc__job_show(tc__job *j, const tc__graph *graph, const tc__group *g,
                        uint32_t number, uint32_t order, uint32_t *shown) {
    tc__order *o = &j->order.at[order];
    if (!tc__order_print(j, o, o->symbol)) return 0;
    tc__log_kernel(j->ctx, graph, g, number, o->symbol, order < *shown ? NULL : o->text.at);
    if (order >= *shown) *shown = order + 1;
    return 1;
}

static size_t tc__job_open_orders(const tc__job *j) {
    size_t n = 0;
    for (size_t i = 0; i < j->order.count; i++) n += !j->order.at[i].settled;
    return n;
}

// A kernel of a program that is to have code, and where its place in the job is noted.
typedef struct tc__wanted_kernel {
    const tc__group *group;
    const tc__grids *grids;
    uint32_t *order;
} tc__wanted_kernel;

// Kernel i of those for device r, NULL = the host; 0 = nothing is compiled for it.
static int tc__program_wants(tc__program *p, tc__dispatch *r, tc__compile_what what,
                             uint32_t i, tc__wanted_kernel *w) {
    tc__dispatch_launch *there = r ? tc__dispatch_wanted(r, i) : NULL;
    tc__launch *here = r ? NULL : &p->launch.at[i];
    w->group = NULL, w->grids = NULL;
    if (here) here->order = UINT32_MAX;
    if (here && tc__launch_wants(p->ctx, here, what))
        w->group = here->group, w->order = &here->order;
    if (there) w->group = there->group, w->grids = &there->grids, w->order = &there->order;
    return w->group != NULL;
}

// The kernels of a program for device r, NULL = the host; NULL = reported.
static tc__job *tc__program_order(tc__program *p, tc__dispatch *r, const tc__desk *k,
                                  tc__compile_what what) {
    tc_ctx *c = p->ctx;
    tc__job *j = tc__job_new(k);
    tc__wanted_kernel w;
    int ok = j != NULL, shows = tc__log_on(c, TC__LOG_OUTPUT_CODE);
    uint64_t start = tc__now_ns();
    uint32_t shown = 0, n = r ? tc__dispatch_most(r) : (uint32_t)p->launch.count;
    if (j && !r) j->numerics = p->numerics;
    for (uint32_t i = 0; ok && i < n; i++) {
        if (!tc__program_wants(p, r, what, i, &w)) continue;
        ok = tc__job_order(j, w.group, w.grids, w.order);
        if (ok && shows) ok = tc__job_show(j, &p->graph, w.group, i, *w.order, &shown);
    }
    c->stats.emit_ns += tc__now_ns() - start;
    tc__note_span(c, TC__SPAN_TEXT, start, NULL);
    if (ok) return j;
    if (j) tc__job_free(j);
    return NULL;
}

static void tc__job_load(tc__job *j, tc__desk *k) {
    for (size_t i = 0; i < j->order.count; i++) {
        tc__order *o = &j->order.at[i];
        if (!o->settled) (void)tc__order_load(k, j, o, k->maker->identity(k));
    }
}

// ---- units ----

static int tc__unit_print(tc__job *j, tc__unit *u) {
    tc__text_init(&u->text, j->ctx);
    int ok = j->order.at[u->order[0]].whole || j->maker->prelude(j, u, &u->text);
    for (uint32_t i = 0; ok && i < u->count; i++) {
        const tc__text *t = &j->order.at[u->order[i]].text;
        tc__put_raw(&u->text, t->at, t->size);
    }
    return ok && !u->text.failed;
}

static int tc__unit_close(tc__job *j, tc__unit *u) {
    const tc__order *last;
    tc_device_text made;
    if (!u->count) return 1;
    int ok = tc__unit_print(j, u);
    tc__log_text(j->ctx, TC__LOG_OUTPUT_UNIT, u->text.at);
    memset(&made, 0, sizeof made);
    last = &j->order.at[u->order[u->count - 1]];
    made.name = last->symbol, made.text = u->text.at;
    made.native = last->group && tc__is_custom(last->group);
    ok = ok && TC__VEC_RESERVE(j->ctx, j->made, j->made.count + 1);
    if (!ok || !TC__PUSH(j->ctx, j->unit, *u)) return tc__text_free(&u->text), 0;
    (void)TC__PUSH(j->ctx, j->made, made);
    memset(u, 0, sizeof *u);
    return 1;
}

// The open orders as translation units: as many kernels each as there is room for, with vectors of one
// size; some are alone.
static int tc__job_units_of(tc__job *j, int lanes) {
    uint32_t weight = 0, room = j->maker->room(j);
    tc__unit light, alone;
    int ok = 1;
    memset(&light, 0, sizeof light), memset(&alone, 0, sizeof alone);
    for (uint32_t i = 0; ok && i < j->order.count; i++) {
        const tc__order *o = &j->order.at[i];
        if (o->settled || o->lanes != lanes) continue;
        if (o->alone) {
            alone.order[alone.count++] = i;
            ok = tc__unit_close(j, &alone);
            continue;
        }
        if (weight + (uint32_t)o->weight > room) ok = tc__unit_close(j, &light), weight = 0;
        light.order[light.count++] = i, weight += (uint32_t)o->weight;
    }
    return ok && tc__unit_close(j, &light);
}

static int tc__job_units(tc__job *j) {
    uint64_t start = tc__now_ns();
    int ok = 1;
    for (size_t i = 0; ok && i < j->order.count; i++) {
        tc__order *o = &j->order.at[i];
        ok = o->settled || tc__order_print(j, o, o->symbol);
    }
    for (int lanes = 2 * TC__VECTOR; ok && lanes >= 0; lanes = lanes ? lanes / 2 : -1)
        ok = tc__job_units_of(j, lanes);
    j->ctx->stats.emit_ns += tc__now_ns() - start;
    tc__note_span(j->ctx, TC__SPAN_TEXT, start, NULL);
    return ok;
}

// ---- code comes back ----

static void tc__job_count(const tc__job *j) {
    tc_stats *s = &j->ctx->stats;
    s->cc_ns += j->cc_ns, s->load_ns += j->load_ns, s->compiles += j->compiles;
    s->disk_hits += j->disk_hits, s->disk_misses += j->disk_misses;
    for (uint32_t i = 0; i < j->spans; i++)
        tc__note_past(j->ctx, j->span[i].is_compiler ? TC__SPAN_COMPILER : TC__SPAN_LOAD,
                      j->span[i].start, j->span[i].end, j->state == TC__JOB_DONE);
    for (size_t i = 0; i < j->order.count; i++) {
        const tc__order *o = &j->order.at[i];
        void *kernel = tc__compiled_kernel(o->code, 0);
        s->kernels_made += kernel && !o->known;
        s->fallbacks += !kernel && j->maker->interprets;
        s->refused += o->code && o->code->refused;
    }
}

// The launch runs this code from now on; NULL = none.
static void tc__launch_use(tc__launch *l, tc__compiled *code) {
    tc__compiled_use(&l->code, code);
    tc__launch_take(l, tc__compiled_function(code));
}

// The launches get what there is. Where some of it may come later, that is asked for at later runs.
static void tc__program_take(tc__program *p, const tc__job *j) {
    for (size_t i = 0; i < p->launch.count; i++) {
        tc__launch *l = &p->launch.at[i];
        if (l->order != UINT32_MAX) tc__launch_use(l, j->order.at[l->order].code);
    }
    p->chances = 0; // of another text, which is still to be compared
    p->ctx->stats.fallbacks -= p->postponed;
    p->postponed = j->postponed;
}

static void tc__dispatch_take(tc__dispatch *r, const tc__job *j) {
    tc__dispatch_forget_plans(r); // of other kernels
    for (uint32_t i = 0; i < tc__dispatch_most(r); i++) {
        tc__dispatch_launch *l = tc__dispatch_wanted(r, i);
        if (!l) continue;
        tc__compiled_use(&l->code, j->order.at[l->order].code);
        memcpy(l->kernel, l->code->kernel, sizeof l->kernel);
        for (int g = 0; i < r->launches && g < l->grids.count; g++)
            r->list[l->first + (uint32_t)g].kernel = l->kernel[g];
    }
    for (size_t i = 0; i < r->listed.count; i++)
        r->list[r->listed.at[i].at].kernel =
            tc__turn_launch(r, &r->order.step.at[r->listed.at[i].step])->kernel[0];
}

// Whether a program is done with, once it has taken what there was.
static tc__tier tc__program_tier(const tc__program *p) {
    return p->postponed ? TC__TIER_RESTING : TC__TIER_FINAL;
}

// What process and disk have of the orders of `kernels` launches; gives how many are still open.
static size_t tc__job_look_up(tc__job *j, tc__desk *k, size_t kernels, const char *name,
                              int (*ready)(tc__desk *k)) {
    const tc_device *d = j->library->device;
    uint64_t start = tc__now_ns();
    int ok = tc__job_open_orders(j) && ready(k);
    j->ctx->stats.load_ns += tc__now_ns() - start;
    tc__note_span(j->ctx, TC__SPAN_LOAD, start, NULL);
    if (ok) tc__job_load(j, k);
    size_t missing = tc__job_open_orders(j);
    tc__log(j->ctx, TC__LOG_CACHE, "region \"%s\": %u kernels, %u to compile%s%s", name,
            (unsigned)kernels, (unsigned)missing, d ? " for " : "", d ? d->name : "");
    return missing;
}

// Gives the orders of a job their code, from process, disk or compiler; 0 = reported.
static int tc__job_complete(tc__job *j, tc__desk *k, size_t kernels, const char *name) {
    int ok = !tc__job_look_up(j, k, kernels, name, k->maker->ready) || tc__job_units(j);
    if (ok) tc__job_build(k, j);
    tc__job_count(j);
    return ok && !j->failed;
}

static int tc__program_compile_now(tc__program *p, tc__dispatch *r, const char *name,
                                   tc__compile_what what) {
    tc__desk *k = tc__device_desk(p->ctx, r ? r->device : &p->ctx->here);
    if (!k) return 0;
    if (what == TC__COMPILE_ALL) tc__program_recall(p, r, k, k->maker->ready);
    tc__job *j = tc__program_order(p, r, k, what);
    if (!j) return 0;
    int ok = tc__job_complete(j, k, p->launch.count, name);
    if (!r)
        tc__program_take(p, j);
    else if (ok)
        tc__dispatch_take(r, j);
    tc__job_free(j);
    if (r) return r->ready = ok;
    if (what == TC__COMPILE_ALL) p->tier = tc__program_tier(p);
    return 1;
}

// Gives the launches of the program for device r, NULL = the host, their compiled code where that is to be
// had. 0 = reported; kernels of the host are interpreted then.
static int tc__program_compile(tc__program *p, tc__dispatch *r, const char *name,
                               tc__compile_what what) {
    tc__calm calm = tc__calm_begin();
    int ok = tc__program_compile_now(p, r, name, what);
    tc__calm_end(calm);
    return ok;
}

// The launches of the host take what a job that is done has for them; it is freed.
static void tc__program_collect(tc__program *p, tc__job *j) {
    tc__job_count(j);
    tc__program_take(p, j);
    tc__job_free(j);
    p->tier = tc__program_tier(p);
}

static int tc__program_give(tc__program *p, const char *name) {
    tc__desk *k = &p->ctx->kernels->desk;
    tc__program_recall(p, NULL, k, k->maker->is_ready);
    tc__job *j = tc__program_order(p, NULL, k, TC__COMPILE_ALL);
    if (!j) return 0;
    size_t missing = tc__job_look_up(j, k, p->launch.count, name, k->maker->is_ready);
    if (missing && tc__job_units(j)) {
        if (tc__workshop_give(j->library, j)) {
            p->job = j;
            return 1;
        }
        tc__job_build(k, j);
    }
    tc__program_collect(p, j);
    return 0;
}

// The same, but the compiler runs in the background. 1 = it does, 0 = the code is there, or there
// will be none.
static int tc__program_compile_later(tc__program *p, const char *name) {
    tc__calm calm = tc__calm_begin();
    int given = tc__program_give(p, name);
    tc__calm_end(calm);
    return given;
}

// Why there is no code where there should be: the compiler's words, or where they were logged.
static const char *tc__compiler_trouble(tc_ctx *c) {
    const tc__cc *cc = c->kernels->desk.cc;
    return cc && cc->why.size ? cc->why.at : "see the log";
}

// Takes the code that was compiled in the background, if it is there.
static void tc__program_arrive(tc__program *p) {
    tc__job *j = (tc__job *)p->job;
    if (tc__atomic_load32(&j->state) == TC__JOB_DONE) {
        p->after.cc_ns += j->cc_ns, p->after.load_ns += j->load_ns;
        tc__program_collect(p, j);
    } else if (!tc__workshop_of(j->library)) { // a forked child: nobody works on it
        p->tier = TC__TIER_POSTPONED;
        tc__job_free(j);
    }
    if (p->tier != TC__TIER_BUILDING) p->job = NULL;
}

// The compiler could not work when this was to be compiled: once it has rested it is asked again.
static void tc__program_try_again(tc__program *p, const char *name) {
    if (tc__library_rests(p->ctx->kernels->library)) return;
    if (p->ctx->stance != TC_STANCE_EAGER_THEN_COMPILE)
        (void)tc__program_compile(p, NULL, name, TC__COMPILE_ALL);
    else if (tc__program_compile_later(p, name))
        p->tier = TC__TIER_BUILDING;
}

// ---- text for users ----

static const char tc__next_file[] = "\n// ==== the next file ====\n\n";

// The kernels with vectors of `lanes` elements, as one translation unit.
static int tc__program_print_unit(tc__program *p, tc__text *out, int lanes) {
    tc_ctx *c = p->ctx;
    enum { NAME = 24 };
    size_t most = p->launch.count, n = 0;
    const tc__group **groups = TC__NEW_ARRAY(c, const tc__group *, most);
    const char **symbols = TC__NEW_ARRAY(c, const char *, most);
    char *names = TC__NEW_ARRAY(c, char, most *NAME);
    int ok = groups && symbols && names;
    for (size_t i = 0; ok && i < most; i++) {
        if (tc__launch_lanes(&p->launch.at[i]) != lanes) continue;
        snprintf(names + i * NAME, NAME, "kernel_%u", (unsigned)i);
        groups[n] = p->launch.at[i].group, symbols[n++] = names + i * NAME;
    }
    if (n && out->size) tc__put(out, "%s", tc__next_file);
    if (n) tc__put_numerics(out, p->numerics);
    if (n) ok = ok && tc__print_unit(out, groups, symbols, (int)n, c->target);
    TC__FREE_ARRAY(c, groups, most);
    TC__FREE_ARRAY(c, symbols, most);
    TC__FREE_ARRAY(c, names, most * NAME);
    return ok;
}

// The custom ops that have text, each a translation unit.
static int tc__program_print_customs(tc__program *p, tc__text *out) {
    int ok = 1;
    for (size_t i = 0; ok && i < p->launch.count; i++) {
        const tc__launch *l = &p->launch.at[i];
        char symbol[32];
        if (!l->custom || !tc__has_source(p->ctx, l->group)) continue;
        snprintf(symbol, sizeof symbol, "kernel_%u", (unsigned)i);
        if (out->size) tc__put(out, "%s", tc__next_file);
        ok = tc__print_kernel(out, l->group, &tc__dialect_c, symbol);
    }
    return ok;
}

// The C text of all kernels of the program, one translation unit for each size of vectors.
TC__UNUSED static int tc__program_print(tc__program *p, tc__text *out) {
    int ok = 1;
    for (int lanes = 2 * TC__VECTOR; ok && lanes >= 1; lanes /= 2)
        ok = tc__program_print_unit(p, out, lanes);
    return ok && tc__program_print_customs(p, out) && !out->failed;
}

#else // TC__JIT

static int tc__kernels_open(tc_ctx *c, const tc_config *config) {
    (void)c, (void)config;
    return 1;
}

static int tc__kernels_share(tc_ctx *c, tc_ctx *parent) {
    (void)c, (void)parent;
    return 1;
}

static void tc__kernels_close(tc_ctx *c) { (void)c; }

typedef enum tc__compile_what { TC__COMPILE_ALL, TC__COMPILE_NEEDED } tc__compile_what;

static const char *tc__compiler_trouble(tc_ctx *c) {
    return (void)c, "this build compiles nothing";
}

static int tc__program_compile(tc__program *p, tc__dispatch *r, const char *name,
                               tc__compile_what what) {
    (void)name, (void)what;
    return !r || tc__fail(p->ctx, TC_E_UNSUPPORTED, "this build compiles nothing");
}

static void tc__device_code_free(tc__device *d) { (void)d; }

static int tc__program_compile_later(tc__program *p, const char *name) {
    return (void)p, (void)name, 0;
}

static void tc__program_arrive(tc__program *p) { (void)p; }

static void tc__program_try_again(tc__program *p, const char *name) { (void)p, (void)name; }

static void tc__kernels_wait(tc_ctx *c) { (void)c; }

TC__UNUSED static int tc__program_print(tc__program *p, tc__text *out) {
    (void)p, (void)out;
    return 0;
}

#endif
