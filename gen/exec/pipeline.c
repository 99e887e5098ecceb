// The pipeline: what is done to a path until it is a program, in one table. Input: a visit and the positions to
// compute. Output: a tc__program, which exec/run.c runs as often as wanted; or what it can do without, and then
// it is tried again.

typedef struct tc__making {
    tc_ctx *ctx;
    tc__program *p;
    tc__visit *v;
    uint32_t count;           // steps of the path that it is of,
    const uint32_t *position; //   and the results it is to store
    size_t positions;
    tc__effects effects;
    tc__blocks blocks; // that are computed again for derivatives
    tc__builder b;
    tc__graph recorded; // as the path has it, before passes
} tc__making;

static int tc__stage_graph(tc__making *m) {
    tc__program *p = m->p;
    int ok = tc__build(&m->b, &m->recorded, m->v, m->count, &m->blocks);
    p->apart |= m->b.derives_behind, p->derives = m->b.derives;
    return ok && tc__program_inputs(p, &m->b, m->count) && tc__program_symbols(p, &m->b) &&
           tc__program_targets(p, &m->b, m->count, m->position, m->positions, m->effects) &&
           tc__build_composites(&m->b);
}

// What only the recorded graph needed.
static void tc__making_drop(tc__making *m) {
    if (m->b.ctx) tc__builder_close(&m->b);
    tc__graph_close(&m->recorded);
    memset(&m->b, 0, sizeof m->b), memset(&m->recorded, 0, sizeof m->recorded);
}

// What passes ask of inputs and of the CPU. 0 = out of memory.
static int tc__making_knows(tc__making *m) {
    tc__program *p = m->p;
    tc__known *known = &m->recorded.known;
    size_t n = m->v->external.count;
    uint8_t *constant = TC__ANEW_ARRAY(&p->arena, uint8_t, n + 1);
    int stays = tc__may_stay(p, m->v, &m->recorded);
    if (!constant) return 0;
    for (size_t i = 0; i < n; i++)
        constant[i] = stays && m->v->external.at[i].constant != 0;
    known->constant = constant, known->externals = (uint32_t)n;
    known->tf32 = p->allow_tf32;
    if (p->numerics == TC_NUMERICS_FAST && tc__cpu_of(m->ctx) & TC__CPU_AMX)
        known->tiles = TC__THIRDS_ROWS;
    known->panel = TC__VECTOR << (tc__cpu_of(m->ctx) & TC__CPU_AVX512F ? 3 : 1);
    return 1;
}

static int tc__stage_canon(tc__making *m) {
    m->p->overlaps = tc__overlaps(&m->b);
    int ok = tc__making_knows(m) && tc__program_canon(m->p, m->v, m->effects, &m->recorded);
    tc__making_drop(m);
    return ok;
}

static int tc__stage_schedule(tc__making *m) {
    if (!tc__program_schedule(m->p, m->v->region)) return 0;
    tc__program_counts(m->p);
    m->p->apart |= m->p->in_place && !tc__program_is_at_one(m->p);
    return !m->p->apart;
}

static int tc__stage_prepare(tc__making *m) {
    int ok = 1;
    for (size_t i = 0; ok && i < m->p->launch.count; i++)
        ok = tc__launch_prepare(m->p, &m->p->launch.at[i]);
    return ok;
}

static int tc__stage_stores(tc__making *m) {
    tc__program *p = m->p;
    int ok = 1, foreign = p->backend && p->backend->own.run;
    for (size_t i = 0; ok && !foreign && i < p->output.count; i++)
        if (p->output.at[i].position == UINT32_MAX)
            ok = tc__choose_direct(p, m->v, &p->output.at[i]);
    for (size_t i = 0; ok && !foreign && i < p->output.count; i++)
        p->output.at[i].beside = tc__is_beside(p, &p->output.at[i]);
    return ok && tc__stores_before(p);
}

static int tc__stage_device(tc__making *m) {
    return m->p->devices ? tc__dispatch_make(m->p) : tc__program_list_acts(m->p);
}

static int tc__stage_still(tc__making *m) { return tc__program_still(m->p, m->v); }

static int tc__stage_plan(tc__making *m) {
    return !m->p->ix.failed && tc__program_lay_out(m->p, m->v);
}

// All that makes a program, in order. Before it a path was recorded (graph/record.c) or followed and given run-time
// sizes (graph/follow.c, promote.c); behind it kernels are printed, compiled and run (exec/kernels.c, run.c) when
// exec/tier.c says so: until then the interpreter has it. Behind all stages but the last, which takes memory, it is a
// draft.
static const struct {
    const char *name;
    int (*run)(tc__making *m);
} tc__stages[] = {
    {"graph", tc__stage_graph},       // steps -> TENSOR nodes, outputs, composite ops
    {"canon", tc__stage_canon},       // TENSOR -> TENSOR: tc__passes
    {"schedule", tc__stage_schedule}, // TENSOR -> GROUP -> LOOP, in the order of launches
    {"prepare", tc__stage_prepare},   // LOOP -> what the interpreter runs
    {"stores", tc__stage_stores},     // which kernels write where a result is to lie
    {"device", tc__stage_device},     // launches -> those of a device
    {"still", tc__stage_still},       // which kernels run once, of constants alone
    {"plan", tc__stage_plan},         // memory, sizes and work of this run
};

enum { TC__ALL_STAGES = TC__COUNT(tc__stages), TC__DRAFT_STAGES = TC__ALL_STAGES - 1 };

// Runs stages `from` to before `to`.
static int tc__stages_run(tc__making *m, size_t from, size_t to) {
    int ok = 1;
    for (size_t i = from; ok && i < to; i++) {
        ok = tc__stages[i].run(m);
        if (!ok)
            tc__log(m->ctx, TC__LOG_PERF, "a program was not made: stage %s, %u steps",
                    tc__stages[i].name, (unsigned)m->count);
    }
    return ok;
}

// m->p becomes a new program, without anything of the path yet. 0 = out of memory.
static int tc__making_begin(tc__making *m) {
    const tc__region *r = m->v->region;
    tc__program *p = m->p = TC__NEW(m->ctx, tc__program);
    if (!p) return 0;
    p->ctx = m->ctx;
    p->forced = m->v->path.at[0]->op == TC_OP_FORCE_EAGER;
    p->backend = p->forced ? tc__backend_eager : r ? (const tc__backend *)r->backend : NULL;
    p->threads = r ? r->options.threads : 0;
    p->numerics = r ? (int)r->options.numerics : TC_NUMERICS_STRICT;
    p->round_each_op = r && r->options.round_each_op;
    p->memory_budget = r ? r->options.memory_budget : 0;
    p->allow_tf32 = r && r->options.allow_tf32;
    p->tunes = r && (r->options.mode == tc__mode_names[TC__MODE_MAX_AUTOTUNE] ||
                     r->options.mode == tc__mode_names[TC__MODE_MAX_AUTOTUNE_NO_GRAPHS]);
    p->exact = m->v->exact, p->in_place = m->v->in_place;
    p->before = m->ctx->stats;
    tc__arena_init(&p->arena, m->ctx);
    tc__ix_open(&p->ix, m->ctx);
    return 1;
}

// Makes the draft of m->p, which has begun. 0 = reported, or the program can do without something.
static int tc__making_draft(tc__making *m) {
    tc__program *p = m->p;
    int ok = tc__graph_open(&p->graph, p->ctx, &p->ix) &&
             tc__graph_open(&m->recorded, p->ctx, &p->ix);
    ok = ok && tc__stages_run(m, 0, TC__DRAFT_STAGES);
    tc__making_drop(m);
    return ok;
}

// ---- memory_budget ----

// Makes a draft with m->blocks. It replaces `best`, which is m->p, if it is better; else it is gone. 0 = reported.
static int tc__making_try(tc__making *m, tc__search *s) {
    tc__program *best = m->p;
    tc__demand needs;
    tc__error_mark before = tc__error_now(m->ctx);
    if (!tc__making_begin(m)) return m->p = best, 0;
    int made = tc__making_draft(m);
    int possible =
        !m->p->apart && !m->p->ix.failed && (!made || tc__program_fits(m->p, m->v));
    int ok = !possible ||
             (made && tc__program_plan_for(m->p, m->v) && tc__program_demand(m->p, &needs));
    if (!possible) tc__error_restore(m->ctx, before);
    int better = ok && tc__search_judge(s, &m->blocks, possible ? &needs : NULL);
    if (ok && possible)
        tc__log(m->ctx, TC__LOG_PERF,
                "memory_budget %d: %.0f bytes with %u of %u blocks computed again, %.0f "
                "without",
                best->memory_budget, needs.bytes, (unsigned)m->blocks.again,
                (unsigned)m->blocks.blocks, s->without.bytes);
    tc__program *gone = better ? best : m->p;
    m->p = better ? m->p : best, m->p->before = best->before;
    tc__program_free(gone);
    return ok;
}

// m->p, which is a draft, becomes the best one of those with blocks, where it has a budget. 0 = reported.
static int tc__making_budget(tc__making *m) {
    tc__search s;
    int percent = m->p->memory_budget;
    if (percent <= 0 || percent >= 100 || !m->p->derives) return 1;
    if (!tc__program_plan_for(m->p, m->v)) return 0;
    int ok = tc__search_open(&s, m->p, m->count);
    while (ok && tc__search_next(&s, &m->blocks)) ok = tc__making_try(m, &s);
    m->p->without = s.without.bytes, m->p->within = s.best.bytes;
    m->p->again = s.without.work > 0 ? s.best.work / s.without.work - 1 : 0;
    tc__search_close(&s, m->ctx);
    memset(&m->blocks, 0, sizeof m->blocks);
    return ok;
}

// What a program that could not be made can do without.
typedef enum tc__without {
    TC__WITHOUT_NOTHING,
    TC__WITHOUT_SIZES,   // of other runs: their expressions get too large
    TC__WITHOUT_IN_PLACE // reading externals behind what is stored in them
} tc__without;

// The program that computes `position`s from the first `count` steps of the visit, and writes back
// what those steps write in place. Interpreted until compiled. NULL = reported, or *without something.
static tc__program *tc__program_try(tc_ctx *c, tc__visit *v, uint32_t count,
                                    const uint32_t *position, size_t positions,
                                    tc__effects effects, tc__without *without) {
    tc__making m;
    uint64_t start = tc__now_ns();
    memset(&m, 0, sizeof m);
    m.ctx = c, m.v = v, m.count = count, m.position = position;
    m.positions = positions, m.effects = effects;
    if (!tc__making_begin(&m)) return NULL;
    int ok = tc__making_draft(&m) && tc__making_budget(&m) &&
             tc__stages_run(&m, TC__DRAFT_STAGES, TC__ALL_STAGES);
    tc__program *p = m.p;
    c->stats.pass_ns += tc__now_ns() - start;
    tc__note_span(c, TC__SPAN_PASSES, start, v->region);
    *without = TC__WITHOUT_NOTHING;
    if (p->apart)
        *without = TC__WITHOUT_IN_PLACE;
    else if (p->ix.failed || !tc__program_fits(p, v))
        *without = TC__WITHOUT_SIZES;
    tc__ix_forget(&p->ix);
    if (ok) {
        p->after = c->stats;
        return p;
    }
    if (!p->apart)
        tc__fail(c, TC_E_INTERNAL, "a program could not be made (%u steps)",
                 (unsigned)count);
    tc__program_free(p);
    return NULL;
}

// Whether what is written through views of externals may be read where it is stored. Who compares two runs wants both to
// begin with the same memory.
static int tc__may_read_behind(const tc__visit *v, tc__effects effects) {
    const tc__backend *b = v->region ? (const tc__backend *)v->region->backend : NULL;
    return v->region && v->writes && effects == TC__WRITE_BACK && !(b && b->own.run) &&
           !v->region->options.verify;
}

// The same, without what the program can do without: reading externals behind what is stored in them; where
// expressions of run-time sizes get too large, or rows of them too long for a block of the device, other
// sizes than those of this visit.
static tc__program *tc__program_make(tc_ctx *c, tc__visit *v, uint32_t count,
                                     const uint32_t *position, size_t positions,
                                     tc__effects effects, int *exact) {
    tc__error_mark before = tc__error_now(c);
    tc__without without = TC__WITHOUT_NOTHING;
    tc__fp_state host = tc__fp_enter();
    tc__program *p = NULL;
    v->exact = *exact, v->in_place = tc__may_read_behind(v, effects);
    for (;;) {
        p = tc__program_try(c, v, count, position, positions, effects, &without);
        if (p || !without) break;
        if (without == TC__WITHOUT_SIZES && (v->exact || !v->size.count)) break;
        tc__error_restore(c, before);
        if (without == TC__WITHOUT_SIZES) v->exact = *exact = 1;
        if (without == TC__WITHOUT_IN_PLACE) v->in_place = 0;
    }
    v->in_place = 0;
    tc__fp_leave(host);
    return p;
}
