// Kernels as launches of their device, whichever that is. Who profiles and tunes kernels knows no device: it
// has acts of a program (exec/across.c), asks the device's tc__runner for the kernels of an act, and runs and
// times them by its tc_device. The host is device 0 of its context: its table and its functions are
// exec/host_runner.c's, those of registered devices stand in exec/dispatch_run.c.
//
// n kernels that are timed have n + 1 marks, so nothing lies between two of them.

// A kernel of a run, as its device launches it.
typedef struct tc__kernel_run {
    uint32_t
        launch; // of the program; of a list of tensors, which is not tuned, that of the first
    const tc__turn *tensors; //   which are these; NULL = it is a launch of the program
    int64_t items;           // for people: work items, blocks
    int count;               // of `list`; 0 = there is nothing to do
    tc_device_launch list[TC__GRIDS];
    int after[TC__GRIDS];
    void *plan; // of the device; NULL = it made none
} tc__kernel_run;

// A kernel of the program under another tuning.
typedef struct tc__variant {
    tc__group group; // a copy that shares all but its tuning
    union {
        tc__launch here;
        tc__dispatch_launch there;
    } own;                    // as its device has it
    const tc__grids *grids;   // NULL = it is called
    uint64_t share;           // how its work is shared: by so many threads
    tc__kernel_run run;       // kernels are to be filled in
    const tc__device *device; // that has the plan
    struct tc__variant *next; // of the same tuner
} tc__variant;

// What the kernels of a device are to exec/.
typedef struct tc__runner {
    uint64_t sample_ns; // a sample of the tuner repeats a shorter kernel up to this
    int rounds;         // samples of a candidate, at most TC__HEAT_ROUNDS

    // The kernel at place `at` of an act, 0 at first. Gives the place of the next; 0 = there is none here.
    uint32_t (*kernel)(const tc__program *p, const tc__act *a, uint32_t at,
                       tc__kernel_run *k);
    // Launch l under a tuning; its place in memory is to be found again then, and its code. 0 = out of
    // memory: it is as before.
    int (*tune)(tc__program *p, tc__launch *l, const tc__tuning *t);
    // It has the code of the variant from now on.
    void (*use)(tc__program *p, tc__launch *l, const tc__variant *w, tc__compiled *code);
    // Makes of launch i what w->group says; 0 = it cannot run in the place of the program's own.
    int (*vary)(tc__program *p, uint32_t i, tc__variant *w);
    // to, strided by l = from, row-major. 0 = reported.
    int (*spread)(tc__program *p, const tc__layout *l, void *to, const void *from);
} tc__runner;

static tc__device *tc__device_on(tc_ctx *c, int number) {
    return number ? tc__device_at(c, number) : &c->here;
}

static tc__device *tc__launch_device(const tc__program *p, const tc__launch *l) {
    return tc__device_on(p->ctx, l->group->target.device);
}

// The device of an act that has kernels: tc__act_has_kernels.
static tc__device *tc__act_device(const tc__program *p, const tc__act *a) {
    return a->on ? a->on->device : &p->ctx->here;
}

TC__UNUSED static int tc__act_has_kernels(const tc__act *a) {
    return a->kind == TC__ACT_PART || a->kind == TC__ACT_LAUNCH;
}

TC__UNUSED static int tc__launch_tune(tc__program *p, tc__launch *l, const tc__tuning *t) {
    return tc__launch_device(p, l)->runner->tune(p, l, t);
}

// ---- running ----

// Its launches come one after the other.
static void tc__kernel_chain(tc__kernel_run *k) {
    for (int i = 0; i < k->count; i++) {
        k->after[i] = i - 1;
        k->list[i].after = &k->after[i], k->list[i].n_after = i > 0;
    }
}

static int tc__kernel_go(tc_ctx *c, const tc__device *d, tc__kernel_run *k) {
    tc_status s =
        d->own.run(d->own.user, &k->plan, k->list, k->count, TC_DEVICE_LAUNCHES, 1);
    return !s || tc__device_failed(c, &d->own, "kernels", s);
}

static void tc__kernel_forget(const tc__device *d, tc__kernel_run *k) {
    if (k->plan) d->own.forget(d->own.user, k->plan);
    k->plan = NULL;
}

// ---- time ----

static int tc__device_has_time(const tc_device *d) {
    return d->mark && d->elapsed && d->unmark;
}

// Room for n marks; 0 = there is no memory for them, which is no error.
static int tc__marks_room(tc_ctx *c, tc__device *d, size_t n) {
    tc__error_mark held = tc__error_now(c);
    while (d->moment.count < n)
        if (!TC__PUSH(c, d->moment, NULL)) return tc__error_restore(c, held), 0;
    return 1;
}

static int tc__mark(tc_ctx *c, tc__device *d, uint32_t i) {
    tc_status s = d->own.mark(d->own.user, &d->moment.at[i]);
    return !s || tc__device_failed(c, &d->own, "a clock", s);
}

// Nanoseconds between two marks; waits for them.
static int tc__between(tc_ctx *c, const tc__device *d, uint32_t from, uint32_t to,
                       uint64_t *ns) {
    tc_status s = d->own.elapsed(d->own.user, d->moment.at[from], d->moment.at[to], ns);
    return !s || tc__device_failed(c, &d->own, "a clock", s);
}

// Gives marks back but for the first n.
static void tc__marks_leave(tc__device *d, size_t n) {
    while (d->moment.count > n) {
        void *moment = d->moment.at[--d->moment.count];
        if (moment) d->own.unmark(d->own.user, moment);
    }
}

static void tc__marks_free(tc_ctx *c, tc__device *d) {
    tc__marks_leave(d, 0);
    TC__VEC_FREE(c, d->moment);
}

// Nanoseconds of one of `repeats` runs, 0 of a device that has no clock. 0 = the device fails.
TC__UNUSED static int tc__kernel_time(tc_ctx *c, tc__device *d, tc__kernel_run *k,
                                      int repeats, uint64_t *ns) {
    int timed = tc__device_has_time(&d->own) && tc__marks_room(c, d, 2);
    int ok = !timed || tc__mark(c, d, 0);
    for (int i = 0; ok && i < repeats; i++) ok = tc__kernel_go(c, d, k);
    *ns = 0;
    if (ok && timed) ok = tc__mark(c, d, 1) && tc__between(c, d, 0, 1, ns);
    *ns /= (uint64_t)repeats;
    return ok;
}
