// What is forgotten: a region or function whose visits differ without end makes a path and a program for
// each, and all of them stay. Past a limit those programs go that ran longest ago; their steps stay, and the
// next visit of such a path makes its program again. Nothing of them is in use here: results hold their
// memory themselves, and one that is compiled in the background stays.
//
// Past another limit steps go as well, a branch at a time (graph/trace.c), those first that no visit has ended on
// for longest, with their programs. What is needed stays: the path of every visit whose results are not over
// and of every entry of a function, and what other paths begin with.
//
// A path of 14 steps takes 38 KB with its program, 3.6 KB without. A run costs nothing for
// this: counts of runs are compared from one sweep to the next. Short cuts of calls hold
// the serial number of their program, since memory is used again. Index expressions of
// recordings stay. Loaded kernels go by their own count (exec/library.c).

// So many stay whatever the limit is while they are small together: who has set a limit of 1 MB would
// make all of them at each turn. Those of long graphs have MBs each: only the bytes count there.
enum { TC__PROGRAMS_LEAST = 64, TC__PROGRAMS_SMALL = 4 << 20 };
#define TC__PROGRAMS_BYTES                                                                 \
    ((size_t)128 << 20) // of all programs of a context; then a quarter goes

// What the last run on a device found is told before the program goes: its results may stay.
static void tc__program_drop(tc__program *p) {
    if (!p) return;
    if (tc__program_waits(p)) (void)tc__program_check(p);
    if (p->held) p->ctx->programs_held -= p->held, p->ctx->programs_live--;
    tc__program_free(p);
}

// A program that took `bytes` is there to stay.
static void tc__program_hold(tc__program *p, size_t bytes) {
    tc_ctx *c = p->ctx;
    p->held = bytes + !bytes, p->serial = ++c->programs_serial;
    c->programs_held += p->held, c->programs_live++;
}

// Of all that could go, in the order in which it does.
typedef struct tc__forgettable {
    tc__step *step;
    tc__region *region;
    uint64_t used; // the later, the larger
} tc__forgettable;

static int tc__forgettable_order(const void *a, const void *b) {
    uint64_t x = ((const tc__forgettable *)a)->used, y = ((const tc__forgettable *)b)->used;
    return x < y ? -1 : x > y;
}

// When the program was last known to have run: looked at from sweep to sweep, so that a run costs nothing.
static uint64_t tc__program_used(tc_ctx *c, tc__program *p) {
    if (p->runs != p->runs_seen) p->used = c->programs_serial;
    p->runs_seen = p->runs;
    return p->used > p->serial ? p->used : p->serial;
}

typedef TC__VEC(tc__forgettable) tc__forgettables;

static int tc__forget_list(tc_ctx *c, tc__forgettables *all) {
    for (tc__region *r = c->recorder.region; r; r = r->next)
        for (tc__step *s = r->root.next; s; s = tc__step_after(s)) {
            tc__program *p = (tc__program *)s->program;
            tc__forgettable f;
            if (!p || p->tier == TC__TIER_BUILDING) continue;
            f.step = s, f.region = r, f.used = tc__program_used(c, p);
            if (!TC__PUSH(c, *all, f)) return 0;
        }
    return 1;
}

static void tc__forget_warn(tc_ctx *c, const tc__region *last) {
    uint32_t most = 0;
    const tc__region *of = last;
    if (c->programs_warned) return;
    c->programs_warned = 1;
    for (const tc__region *r = c->recorder.region; r; r = r->next)
        if (r->made > most) most = r->made, of = r;
    tc__warn(
        c,
        "programs hold %u MB; \"%s\" (%s:%d) alone has made %u. Those that ran longest ago are "
        "dropped, and made again when they are needed. TC_LOGS=recompiles tells what "
        "differs from visit to visit; memory_mb sets the limit, tc_reset drops all",
        (unsigned)(c->programs_held >> 20), of->name, of->begin.file ? of->begin.file : "?",
        of->begin.line, (unsigned)most);
}

static int tc__programs_are_many(const tc_ctx *c, size_t limit) {
    return c->programs_held > limit &&
           (c->programs_live > TC__PROGRAMS_LEAST || c->programs_held > TC__PROGRAMS_SMALL);
}

// Before a program of region r is made.
static void tc__programs_trim(tc_ctx *c, const tc__region *r) {
    size_t limit = c->programs_limit ? c->programs_limit : TC__PROGRAMS_BYTES;
    tc__forgettables all;
    if (!tc__programs_are_many(c, limit)) return;
    tc__error_mark before = tc__error_now(c);
    memset(&all, 0, sizeof all);
    if (tc__forget_list(c, &all)) {
        tc__forget_warn(c, r);
        if (all.count) qsort(all.at, all.count, sizeof *all.at, tc__forgettable_order);
        for (size_t i = 0; i < all.count && tc__programs_are_many(c, limit / 4 * 3); i++) {
            tc__program *p = (tc__program *)all.at[i].step->program;
            all.at[i].region->programs -= p->charged;
            all.at[i].step->program = NULL;
            tc__program_drop(p);
        }
    }
    TC__VEC_FREE(c, all);
    tc__error_restore(c, before);
}

// ---- recordings ----

#define TC__RECORDINGS_BYTES                                                               \
    ((size_t)64 << 20) // of all steps of a context; then a quarter goes
enum { TC__FORGET_ROUNDS = 16 };

static void tc__hold_path(const tc__visit *v) {
    for (size_t i = 0; i < v->path.count; i++)
        if (v->path.at[i]->branch) v->path.at[i]->branch->held = 1;
    if (v->branch) v->branch->held = 1;
}

// Whatever else than the trie itself has steps of region r.
static void tc__hold_region(tc_ctx *c, const tc__region *r) {
    for (int i = 0; i < TC__VISITS && r->visit[i]; i++)
        if (r->visit[i]->state != TC__VISIT_NONE) tc__hold_path(r->visit[i]);
    for (size_t i = 0; i < r->owned.count; i++)
        if (r->owned.at[i].way->branch && tc__tensor_find(c, r->owned.at[i].t))
            r->owned.at[i].way->branch->held = 1;
}

// Which branches something needs, and how many steps go on from each.
static void tc__branches_count(tc_ctx *c) {
    for (tc__region *r = c->recorder.region; r; r = r->next) {
        for (tc__step *s = r->root.next; s; s = tc__step_after(s)) {
            const tc__program *p = (const tc__program *)s->program;
            if (p && p->tier == TC__TIER_BUILDING) s->branch->held = 1;
            if (!s->branch->gone && s->parent->branch && s->parent->branch != s->branch)
                s->parent->branch->followed++;
        }
    }
}

typedef TC__VEC(tc__branch *) tc__branches;

static int tc__branches_order(const void *a, const void *b) {
    uint64_t x = (*(const tc__branch *const *)a)->used,
             y = (*(const tc__branch *const *)b)->used;
    return x < y ? -1 : x > y;
}

// All branches, those first that were used longest ago, and what they hold; 0 = out of memory.
static int tc__branches_list(tc_ctx *c, tc__branches *all) {
    c->recorder.recorded = 0;
    for (tc__region *r = c->recorder.region; r; r = r->next)
        for (tc__branch *b = r->branch; b; b = b->next) {
            b->followed = 0, b->gone = 0, b->held = b->entries > 0;
            b->bytes = sizeof *b + tc__arena_bytes(&b->arena);
            c->recorder.recorded += b->bytes;
            if (!TC__PUSH(c, *all, b)) return 0;
        }
    for (tc__region *r = c->recorder.region; r; r = r->next) tc__hold_region(c, r);
    qsort(all->at, all->count, sizeof *all->at, tc__branches_order);
    return 1;
}

// Chooses what goes until no more than `most` bytes would be left. Gives the bytes of what goes.
static size_t tc__branches_choose(tc_ctx *c, tc__branches *all, size_t most) {
    size_t gone = 0, before = 1;
    for (int round = 0; round < TC__FORGET_ROUNDS && gone != before; round++) {
        before = gone;
        for (size_t i = 0; i < all->count; i++) all->at[i]->followed = 0;
        tc__branches_count(c);
        for (size_t i = 0; i < all->count && c->recorder.recorded - gone > most; i++) {
            tc__branch *b = all->at[i];
            if (b->held || b->gone || b->followed) continue;
            b->gone = 1, gone += b->bytes;
        }
    }
    return gone;
}

// Drops the programs of s and of all that goes on from it.
static void tc__forget_below(tc__region *r, tc__step *s) {
    for (tc__step *t = s; t;) {
        tc__program *p = (tc__program *)t->program;
        if (p) r->programs -= p->charged;
        tc__program_drop(p);
        t->program = NULL;
        if (t->next) {
            t = t->next;
            continue;
        }
        while (t != s && !t->sibling) t = t->parent;
        t = t == s ? NULL : t->sibling;
    }
}

// Takes the steps that go out of what continues s.
static void tc__forget_after(tc__region *r, tc__step *s) {
    for (tc__step **at = &s->next; *at;) {
        if ((*at)->branch->gone) {
            tc__forget_below(r, *at);
            *at = (*at)->sibling;
        } else {
            at = &(*at)->sibling;
        }
    }
}

static void tc__forget_branches(tc_ctx *c, tc__region *r) {
    tc__forget_after(r, &r->root);
    for (tc__step *s = r->root.next; s; s = tc__step_after(s)) {
        tc__forget_after(r, s);
        if (s->twin && s->twin->step->branch->gone) s->twin = NULL;
    }
    for (tc__branch **at = &r->branch; *at;) {
        if (!(*at)->gone) {
            at = &(*at)->next;
            continue;
        }
        tc__branch *b = *at;
        *at = b->next;
        c->recorder.recorded -= b->bytes;
        tc__arena_free(&b->arena);
        tc__free(c, b, sizeof *b);
    }
}

static void tc__recordings_warn(tc_ctx *c, const tc__region *last) {
    size_t most = 0;
    const tc__region *of = last;
    if (c->recordings_warned) return;
    c->recordings_warned = 1;
    for (const tc__region *r = c->recorder.region; r; r = r->next) {
        size_t bytes = 0;
        for (const tc__branch *b = r->branch; b; b = b->next) bytes += b->bytes;
        if (bytes > most) most = bytes, of = r;
    }
    tc__warn(
        c,
        "recordings hold %u MB; \"%s\" (%s:%d) alone has %u MB, of visits that differ. Those "
        "that were not visited for longest are dropped, and recorded again when they come. "
        "TC_LOGS=recompiles tells what differs from visit to visit; memory_mb sets the "
        "limit, tc_reset drops all",
        (unsigned)(c->recorder.recorded >> 20), of->name,
        of->begin.file ? of->begin.file : "?", of->begin.line, (unsigned)(most >> 20));
}

// Before a program of visit v is made.
static void tc__recordings_trim(tc_ctx *c, tc__visit *v) {
    size_t limit = c->recordings_limit ? c->recordings_limit : TC__RECORDINGS_BYTES;
    tc__recorder *rec = &c->recorder;
    tc__branches all;
    if (v->branch) {
        size_t bytes = sizeof *v->branch + tc__arena_bytes(&v->branch->arena);
        rec->recorded += bytes - v->branch->bytes;
        v->branch->bytes = bytes, v->branch->used = rec->clock + 1;
    }
    if (rec->recorded <= limit || rec->recorded < rec->look_again) return;
    tc__error_mark before = tc__error_now(c);
    memset(&all, 0, sizeof all);
    if (tc__branches_list(c, &all)) {
        tc__recordings_warn(c, v->region);
        if (tc__branches_choose(c, &all, limit / 4 * 3))
            for (tc__region *r = rec->region; r; r = r->next) tc__forget_branches(c, r);
    }
    // What is left is needed: not looked at again at every visit.
    rec->look_again = rec->recorded > limit / 8 * 7 ? rec->recorded + limit / 4 : 0;
    TC__VEC_FREE(c, all);
    tc__error_restore(c, before);
}
