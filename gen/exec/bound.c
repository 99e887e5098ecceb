// What a context holds of its own, beside recordings and programs (exec/forget.c), is bounded too.
//
// Regions: each has visits with room for their paths, some KB. A program that makes names as it goes has a region
// for each, and one that never frees functions has theirs: past a limit those go that were visited longest ago. A
// function stays, and records again when it is called.
//
// Layouts: every size that was ever seen has one. Past twice what was in use, those go that nothing names, and
// their numbers are given again. That happens between calls of the user's, where no code of ours has such a number.

enum {
    TC__REGION_BYTES = 8 << 10, // of one, with what its visits hold
    TC__REGIONS_LEAST = 64      // that stay whatever the limit is
};

// ---- regions and functions ----

// In the order in which they go.
typedef struct tc__idle {
    tc__region *region;
    tc_fn *fn; // whose it is; NULL = a region's own
    uint64_t used;
} tc__idle;

typedef TC__VEC(tc__idle) tc__idles;

static int tc__idle_order(const void *a, const void *b) {
    uint64_t x = ((const tc__idle *)a)->used, y = ((const tc__idle *)b)->used;
    return x < y ? -1 : x > y;
}

// Visits of a function that was called, as of any region, and calls that skipped its body: of those only the
// number is known, so what has changed since the last look was used just now.
static uint64_t tc__fn_used(tc_ctx *c, tc_fn *f) {
    uint64_t uses = f->region->visits;
    for (const tc__entry *e = f->entry; e; e = e->next) uses += e->hits;
    if (uses != f->uses) f->region->used = c->recorder.opened;
    f->uses = uses;
    return f->region->used;
}

static int tc__idles_list(tc_ctx *c, tc__idles *all) {
    tc__idle one;
    for (tc__region *r = c->recorder.region; r; r = r->next) {
        if (!r->visit[0] || r->function) continue;
        one.region = r, one.fn = NULL, one.used = r->used;
        if (!TC__PUSH(c, *all, one)) return 0;
    }
    for (tc_fn *f = c->fn; f; f = f->next) {
        if (!f->region->visit[0]) continue;
        one.region = f->region, one.fn = f, one.used = tc__fn_used(c, f);
        if (!TC__PUSH(c, *all, one)) return 0;
    }
    return 1;
}

static void tc__regions_warn(tc_ctx *c, const tc__idle *first) {
    const tc__region *r = first->region;
    if (c->regions_warned) return;
    c->regions_warned = 1;
    tc__warn(
        c,
        "%u regions and functions were visited, \"%s\" (%s:%d) longest ago. Those that were not "
        "visited for longest are dropped, with results of theirs that were not kept, and recorded "
        "again when they come. %s; memory_mb sets the limit",
        (unsigned)c->recorder.recording, r->name, r->begin.file ? r->begin.file : "?",
        r->begin.line,
        first->fn ? "Make a function once, and tc_fn_free one that is not needed"
                  : "Give a region that does the same the same name");
}

// 0 = out of memory.
static int tc__idle_drop(tc_ctx *c, const tc__idle *one) {
    if (one->fn) return tc__fn_reset(one->fn);
    one->region->end_of_results = "which ended when so many other regions had been visited "
                                  "since that its own was dropped, begun";
    tc__region_unlink(one->region);
    tc__region_free(c, one->region);
    return 1;
}

static void tc__regions_trim(tc_ctx *c) {
    size_t limit = (c->recordings_limit ? c->recordings_limit : TC__RECORDINGS_BYTES) /
                   TC__REGION_BYTES;
    tc__idles all;
    if (limit < TC__REGIONS_LEAST) limit = TC__REGIONS_LEAST;
    if (c->recorder.recording <= limit || tc__core_of(c)->frozen) return;
    tc__error_mark before = tc__error_now(c);
    memset(&all, 0, sizeof all);
    if (tc__idles_list(c, &all) && all.count) {
        qsort(all.at, all.count, sizeof *all.at, tc__idle_order);
        tc__regions_warn(c, &all.at[0]);
        for (size_t i = 0; i < all.count && c->recorder.recording > limit / 4 * 3; i++)
            if (!tc__idle_drop(c, &all.at[i])) break;
    }
    TC__VEC_FREE(c, all);
    tc__error_restore(c, before);
}

// ---- layouts ----

typedef struct tc__layouts_used {
    tc_ctx *c;
    uint8_t *at; // by layout
    size_t count;
} tc__layouts_used;

static void tc__layout_use(tc__layouts_used *u, uint32_t layout) {
    if (layout < u->count) u->at[layout] = 1;
}

static void tc__layouts_of_program(tc__layouts_used *u, const tc__program *p) {
    for (size_t i = 0; p && i < p->output.count; i++)
        tc__layout_use(u, p->output.at[i].layout);
}

static void tc__layouts_of_step(tc__layouts_used *u, const tc__step *s) {
    for (uint32_t i = 0; i < s->n_bind; i++) tc__layout_use(u, s->bind[i].layout);
    if (s->op == TC_OP_SHARE) {
        tc__layout_use(u, (uint32_t)s->attr[TC__SHARE_LAYOUT]);
        for (uint32_t i = 0, n = tc__shared_count(s); i < n; i++)
            tc__layout_use(u, tc__shared_at(s, i).layout);
    }
    tc__layouts_of_program(u, (const tc__program *)s->program);
}

static void tc__layouts_of_region(tc__layouts_used *u, tc__region *r) {
    for (int i = 0; i < TC__VISITS && r->visit[i]; i++) {
        tc__visit *v = r->visit[i];
        for (size_t k = 0; k < v->external.count; k++)
            tc__layout_use(u, v->external.at[k].layout);
        for (size_t k = 0; k < v->result.count; k++)
            tc__layout_use(u, v->result.at[k].layout);
        tc__views_forget(v);
    }
    for (const tc__step *s = r->root.next; s; s = tc__step_after(s))
        tc__layouts_of_step(u, s);
}

static void tc__layouts_of_tensors(tc__layouts_used *u) {
    const tc__values *v = tc__values_of(u->c);
    for (size_t i = 0; i < v->slot.count; i++)
        if (v->slot.at[i]->epoch) tc__layout_use(u, v->slot.at[i]->layout);
    for (size_t i = 0; i < v->import.capacity; i++) {
        uint64_t t = v->import.at[i].key ? v->import.at[i].value : 0;
        if (t) tc__layout_use(u, ((const tc__tensor *)(uintptr_t)t)->layout);
    }
}

static void tc__layouts_of_all(tc__layouts_used *u) {
    tc__layout_use(u, 0);
    tc__layouts_of_tensors(u);
    for (tc__region *r = u->c->recorder.region; r; r = r->next) tc__layouts_of_region(u, r);
    for (const tc_fn *f = u->c->fn; f; f = f->next)
        for (const tc__entry *e = f->entry; e; e = e->next)
            for (size_t i = 0; i < e->given.count; i++)
                tc__layout_use(u, e->given.at[i].layout);
}

// Eager ops, which are prepared again in 0.1 ms, give theirs up.
static void tc__layouts_sweep(tc_ctx *c) {
    tc__values *v = tc__values_of(c);
    tc__layouts_used u;
    u.c = c, u.count = v->layout.count, u.at = TC__NEW_ARRAY(c, uint8_t, u.count);
    if (!u.at) return;
    tc__alone_forget(c);
    tc__eager_forget(c);
    tc__layouts_of_all(&u);
    tc__layouts_keep(c, u.at);
    TC__FREE_ARRAY(c, u.at, u.count);
}

// ---- when ----

// Between two calls of the user's, outside of regions and of all code that we call.
static void tc__hook_settle(tc_ctx *c) {
    if (tc__region_is_open(c) || c->hosting || tc__core_of(c)->calling) return;
    tc__regions_trim(c);
    if (!tc__layouts_are_many(c) || tc__core_of(c)->frozen) return;
    tc__error_mark before = tc__error_now(c);
    tc__layouts_sweep(c);
    tc__error_restore(c, before);
}
