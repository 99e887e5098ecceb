// A composite op outside regions: its primitives are recorded and run together, as one program of the
// interpreter, so that it passes over its operands as often as it has to, and makes no tensor for each step.
// The bits are those of its primitives one by one. There is a region for each such op, which no list has;
// its programs are for one set of sizes, few, and keep no memory.
//
// softmax, norms, losses and the like are 2 to 4 times as fast so, small ones as well
// (`bench eager_ops`). TC_STANCE_FORCE_EAGER runs primitives one by one: the oracle of
// tests/region/together.c.

enum {
    TC__ALONE_PROGRAMS = 64,  // of an op: then they are forgotten, all at once
    TC__ALONE_KEPT = 64 << 10 // bytes of intermediates that a program may keep
};

// The region of op `who`, with room for one more program. NULL = reported.
static tc__region *tc__alone_region(tc_ctx *c, const char *who, tc__site site) {
    tc__region **at = &c->alone, *r;
    while (*at && strcmp((*at)->name, who)) at = &(*at)->next;
    if ((r = *at) != NULL) {
        if (r->made < TC__ALONE_PROGRAMS) return r;
        *at = r->next;
        tc__region_free(c, r);
    }
    r = tc__region_new(c, who, site, 0);
    if (!r) return NULL;
    tc__region_unlink(r);
    r->next = c->alone, c->alone = r;
    r->options = tc_options_default();
    r->options.backend = "aot_eager", r->options.round_each_op = 1;
    r->backend = tc__backend_find(c, "aot_eager", strlen("aot_eager"));
    r->function = r->fixed_sizes = 1;
    return r;
}

static void tc__alone_forget(tc_ctx *c) {
    while (c->alone) {
        tc__region *next = c->alone->next;
        tc__region_free(c, c->alone);
        c->alone = next;
    }
}

static tc__tally tc__alone_tally(const tc_stats *s) {
    tc__tally t;
    t.visits = s->visits, t.records = s->records, t.programs = s->programs;
    t.program_hits = s->program_hits, t.record_ns = s->record_ns;
    return t;
}

// Hook: primitives from here on run together. 0 = they run one by one: they are eager on request, or
// contexts and devices share their operands.
static int tc__hook_together(tc_ctx *c, const char *who, tc__site site) {
    const tc__recorder *r = &c->recorder;
    const tc__values *v = &r->values;
    if (tc__region_is_open(c) || c->lazy || c->defaults.disable || tc__is_forced(c) ||
        v->core.frozen)
        return 0;
    if (v->device.count || v->parent || tc__atomic_load32(&v->children)) return 0;
    tc__error_mark before = tc__error_now(c);
    tc__region *g = tc__alone_region(c, who, site);
    if (g && tc__visit_open(c, g, site)) {
        c->alone_tally = tc__alone_tally(&c->stats);
        return 1;
    }
    tc__error_restore(c, before);
    return 0;
}

// What the program that ran has of the result, and of memory, is the caller's.
static void tc__alone_let_go(tc_ctx *c, tc__program *p) {
    for (size_t i = 0; i < p->output.count; i++)
        for (int k = 0; k < TC__KEPT; k++) {
            tc__storage_unref(c, p->output.at[i].kept[k]);
            p->output.at[i].kept[k] = NULL;
        }
    if (p->memory_bytes <= TC__ALONE_KEPT) return;
    tc__free_aligned(c, p->memory, p->memory_bytes);
    p->memory = NULL, p->memory_bytes = 0, p->laid_out = 0;
}

// The call counts as the eager ops that it is made of, and as no visit.
static void tc__alone_count(tc_ctx *c, uint64_t ops) {
    tc_stats *now = &c->stats;
    const tc__tally *was = &c->alone_tally;
    now->eager_ops += ops;
    now->visits = was->visits, now->records = was->records, now->programs = was->programs;
    now->program_hits = was->program_hits, now->record_ns = was->record_ns;
}

// Hook: runs them; `t`, null after an error, becomes a tensor of the caller's.
static tc_tensor tc__hook_apart(tc_ctx *c, tc_tensor t, tc__site site) {
    tc__recorder *r = &c->recorder;
    tc__visit *v = r->visit;
    tc_tensor own = t;
    if (t.id && tc__is_visit(t) && t.id >> TC__SLOT_BITS == v->key) {
        own = tc__null();
        int ok = !v->broken && tc__slots_prepare(c, 1) && tc__visit_finish(c, v, &t, 1);
        v->state = ok ? TC__VISIT_DONE : TC__VISIT_FAILED, r->visit = NULL;
        tc__tensor *m = ok ? tc__tensor_need(c, v->region->name, t) : NULL;
        if (m) {
            m->storage->refs++;
            own = tc__tensor_new(c, m->layout, m->storage, m->offset, site.file, site.line);
        }
        if (ok && v->at->program) tc__alone_let_go(c, (tc__program *)v->at->program);
    }
    r->visit = NULL, r->depth = 0, v->state = TC__VISIT_FAILED;
    tc__alone_count(c, v->path.count);
    tc__visit_clear(c, v, "which ended with the op", site);
    return own;
}
