// Programs: what a path of steps became. Kernels in order, memory plan, outputs, write-backs.
// Input: a visit and the positions to compute. Output: a tc__program, which exec/run.c runs as often
// as wanted.
//
// A program is laid out for the sizes of a run (tc__program_lay_out: layouts of outputs,
// arena, work items), and again when they change. Where expressions get too large for the
// index pool, it is made for one set of sizes.

// ---- making ----

// Time that making the program took, all stages together.
static uint64_t tc__made_ns(const tc__program *p) {
    const tc_stats *a = &p->after, *b = &p->before;
    return a->pass_ns - b->pass_ns + a->emit_ns - b->emit_ns + a->cc_ns - b->cc_ns +
           a->load_ns - b->load_ns;
}

static void tc__plan_count(tc_ctx *c, const tc__plan *plan, int sign) {
    c->stats.arena_bytes += (uint64_t)sign * plan->bytes;
    c->stats.unplanned_bytes += (uint64_t)sign * plan->unplanned;
}

static void tc__program_count(tc__program *p, int sign) {
    tc__plan_count(p->ctx, &p->plan, sign);
    for (const tc__dispatch *r = p->dispatch; r; r = r->next)
        tc__plan_count(p->ctx, &r->plan, sign);
    p->counted = sign > 0;
}

// The checks of its last run on a device were looked at, or nobody will.
static void tc__program_unwatch(tc__program *p) {
    tc_ctx *c = p->ctx;
    for (size_t i = 0; i < c->unchecked.count; i++)
        if (c->unchecked.at[i] == p)
            c->unchecked.at[i--] = c->unchecked.at[--c->unchecked.count];
    for (tc__dispatch *r = p->dispatch; r; r = r->next) r->waiting = 0;
}

// It ran on a device, and nobody has looked at its flags. 0 = out of memory.
static int tc__program_watch(tc__program *p) {
    for (const tc__dispatch *r = p->dispatch; r; r = r->next)
        if (r->checks) return TC__PUSH(p->ctx, p->ctx->unchecked, p);
    return 1;
}

// Whether a run of it has flags that nobody has looked at.
static int tc__program_waits(const tc__program *p) {
    for (const tc__dispatch *r = p->dispatch; r; r = r->next)
        if (r->waiting) return 1;
    return 0;
}

static void tc__dispatches_free(tc__program *p) {
    while (p->dispatch) {
        tc__dispatch *r = p->dispatch;
        p->dispatch = r->next;
        tc__dispatch_free(r);
    }
}

static void tc__program_free(tc__program *p) {
    if (!p) return;
    tc_ctx *c = p->ctx;
    if (p->job) tc__job_drop(p->job);
    tc__foreign_free(p->foreign);
    if (p->counted) tc__program_count(p, -1);
    for (size_t i = 0; i < p->launch.count; i++) {
        tc__interp_free(p->launch.at[i].interp);
        tc__group_free(c, p->launch.at[i].group);
        tc__compiled_use(&p->launch.at[i].code, NULL);
    }
    for (size_t i = 0; i < p->output.count; i++) {
        for (int k = 0; k < TC__KEPT; k++) tc__storage_unref(c, p->output.at[i].kept[k]);
    }
    TC__VEC_FREE(c, p->launch);
    TC__VEC_FREE(c, p->output);
    TC__VEC_FREE(c, p->address);
    TC__VEC_FREE(c, p->assumed);
    TC__VEC_FREE(c, p->arg);
    TC__VEC_FREE(c, p->arg_now);
    TC__VEC_FREE(c, p->constant);
    TC__VEC_FREE(c, p->still_of);
    TC__VEC_FREE(c, p->size);
    tc__plan_close(c, &p->plan);
    tc__loops_close(&p->loops, &p->graph);
    if (p->dispatch) tc__program_unwatch(p), tc__dispatches_free(p);
    if (p->memory) tc__free_aligned(c, p->memory, p->memory_bytes);
    if (p->scratch) tc__free_aligned(c, p->scratch, p->scratch_total);
    if (p->kept) tc__free_aligned(c, p->kept, p->kept_bytes);
    if (p->sums) tc__free_aligned(c, p->sums, p->sums_bytes);
    if (p->source) tc__free(c, p->source, p->source_size);
    tc__graph_close(&p->graph);
    tc__ix_close(&p->ix);
    tc__arena_free(&p->arena);
    tc__free(c, p, sizeof *p);
}

// The layouts of the externals; what an earlier segment left is dense.
static int tc__program_inputs(tc__program *p, const tc__builder *b, uint32_t count) {
    const tc__visit *v = b->visit;
    p->externals = b->externals, p->placed = p->externals + count;
    p->inputs = TC__ANEW_ARRAY(&p->arena, const tc__shape *, p->externals + count + 1);
    if (!p->inputs) return 0;
    for (uint32_t i = 0; i < p->externals; i++) {
        const tc__external *e = &v->external.at[i];
        tc__shape *s = TC__ANEW(&p->arena, tc__shape);
        if (!s) return 0;
        tc__shape_of_layout(tc__layout_at(p->ctx, e->layout), s);
        for (int d = 0; e->shape && d < s->rank; d++) {
            s->dims[d] = tc__local(b, e->shape->dims[d]);
            s->strides[d] = tc__local(b, e->shape->strides[d]);
        }
        p->inputs[i] = s;
    }
    return 1;
}

static int tc__program_launch(tc__program *p, tc__group *k) {
    tc__launch l;
    memset(&l, 0, sizeof l);
    l.group = k;
    l.buf = TC__ANEW_ARRAY(&p->arena, void *, k->buffer.count + 1);
    if (!l.buf || !TC__PUSH(p->ctx, p->launch, l)) {
        tc__group_free(p->ctx, k);
        return 0;
    }
    return 1;
}

// Cost in element steps of the part that list k ends with.
static int64_t tc__part_cost(const tc__group *k, const tc__ixenv *env) {
    int64_t cost = 1, rows = tc__ix_eval(k->body.ix, k->shape.rows, env);
    int64_t cols = tc__ix_eval(k->body.ix, k->shape.cols, env);
    for (size_t i = k->shape.prologue; i < k->body.node.count; i++)
        cost += tc__ops[k->body.node.at[i]->op].cost;
    int64_t total = tc__ix_times(tc__ix_times(rows, cols), cost);
    if (k->shape.kind == TC__CONTRACTION)
        total = tc__ix_times(total, tc__ix_eval(k->body.ix, tc__depth_of(k), env));
    return total;
}

// Cost of one work item, to decide how many make a thread worth while.
static int64_t tc__item_cost(const tc__group *k, const tc__ixenv *env) {
    tc__group part[TC__LIST_PARTS];
    int64_t total = 0, items = tc__ix_eval(k->body.ix, k->shape.items, env);
    int n = k->shape.prologue ? tc__parts_of_list(k, part) : 0;
    for (int i = 0; i < n; i++) total = tc__ix_clamp(total + tc__part_cost(&part[i], env));
    if (!n) total = tc__part_cost(k, env);
    return items > 0 ? total / items + 1 : 1;
}

enum {
    TC__PARALLEL_COST = 16384
}; // element steps below which waking a thread does not pay

// The code of a launch; without any, opaque ops have the library's function or the host's.
static void tc__launch_take(tc__launch *l, tc__kernel_fn code) {
    if (!code && l->opaque) code = l->custom ? l->custom->host : l->opaque->row->run;
    l->run = code;
}

static int tc__launch_prepare_opaque(tc__program *p, tc__launch *l) {
    tc__arena *a = &p->arena;
    if (tc__is_custom(l->group)) {
        l->custom = tc__custom_prepare(a, &p->graph, l->group, l->buf);
        if (!l->custom) return 0;
        l->opaque = &l->custom->opaque;
        p->customs++;
    } else {
        l->opaque = TC__ANEW(a, tc__opaque);
        if (!l->opaque || !tc__opaque_prepare(l->opaque, a, &p->graph, l->group, l->buf))
            return 0;
    }
    l->args.buf = l->opaque->argument, l->args.flag = p->flag;
    tc__launch_take(l, NULL);
    return 1;
}

// Threads that kernels of the program may use.
static int tc__program_threads(const tc__program *p) {
    int all = tc__threads(p->ctx);
    return p->threads && p->threads < all ? p->threads : all;
}

static int tc__launch_prepare(tc__program *p, tc__launch *l) {
    tc__tuning rules;
    if (tc__is_copy(l->group)) return 1;
    if (l->group->shape.kind == TC__OPAQUE) return tc__launch_prepare_opaque(p, l);
    if (l->group->target.device) return 1;
    tc__group_from_begin(l->group);
    memset(&rules, 0, sizeof rules);
    l->group->target.threads = tc__program_threads(p);
    l->group->target.keeps = tc__group_may_keep(&p->graph, l->group);
    tc__group_tune(l->group, p->ctx->target, &rules);
    l->interp = tc__interp_prepare(p->ctx, l->group);
    l->args.buf = l->buf, l->args.flag = p->flag;
    return l->interp != NULL;
}

// ---- laying out: everything that depends on the sizes of a run ----

static void tc__launch_lay_out(tc__program *p, tc__launch *l, const tc__ixenv *env) {
    l->items = tc__ix_eval(&p->ix, l->group->shape.items, env);
    int64_t cost =
        l->opaque ? tc__opaque_cost(l->opaque, l->items) : tc__item_cost(l->group, env);
    l->grain = cost >= TC__PARALLEL_COST ? 1 : TC__PARALLEL_COST / cost;
    if (p->threads && l->grain < l->items / p->threads + 1)
        l->grain = l->items / p->threads + 1;
    int knob = l->group->shape.tuning.knob[TC__KNOB_THREADS], all = tc__program_threads(p);
    int threads = knob == TC__THREADS_ONE    ? 1
                  : knob == TC__THREADS_HALF ? (all + 1) / 2
                                             : all;
    if (knob) l->grain = l->items / threads + (l->items % threads != 0);
    if (!l->opaque && l->group->shape.vector == TC__ROW) { // pieces are whole steps
        int64_t step = tc__row_step(l->group) / (int)TC__LANES;
        l->grain = (l->grain + step - 1) / step * step;
    }
    l->behind = 0;
    if (tc__down_begin(l->group)) { // pieces are items whose rows go by together
        int64_t step = tc__down_together(l->group);
        l->grain = (l->grain + step - 1) / step * step;
        l->behind = tc__ix_eval(&p->ix, tc__down_column_items(l->group), env);
    }
    const tc__value *arg = l->constants ? &p->constant.at[l->constants - 1] : p->arg_now.at;
    l->args.size = env->sym, l->args.arg = (const double *)(const void *)arg;
}

static size_t tc__scratch_wanted(tc__program *p, const tc__ixenv *env) {
    size_t most = 0;
    for (size_t i = 0; i < p->launch.count; i++) {
        const tc__launch *l = &p->launch.at[i];
        if (!l->interp) continue;
        size_t need = tc__launch_scratch(p, l, env);
        if (need > most) most = need;
    }
    return tc__scratch_room(most);
}

// What opaque ops need of it, all workers together: those of them that have rows. Lays them out.
static size_t tc__scratch_opaque(tc__program *p, const tc__ixenv *env) {
    size_t most = 0, threads = (size_t)tc__threads(p->ctx);
    for (size_t i = 0; i < p->launch.count; i++) {
        tc__launch *l = &p->launch.at[i];
        if (!l->opaque) continue;
        tc__opaque_lay_out(l->opaque, &p->graph, env);
        size_t rows = (size_t)tc__ix_eval(&p->ix, l->group->shape.items, env);
        size_t need = l->opaque->scratch * (rows < threads ? rows : threads);
        if (need > most) most = need;
    }
    return most;
}

// At least `want` bytes of scratch for each worker, and `total` for all of them; it only grows.
static int tc__program_scratch(tc__program *p, size_t want, size_t total) {
    size_t threads = (size_t)tc__threads(p->ctx);
    if (want < p->scratch_bytes) want = p->scratch_bytes;
    if (total < want * threads) total = want * threads;
    if (!p->scratch_at) p->scratch_at = TC__ANEW_ARRAY(&p->arena, void *, threads);
    if (!p->packed) p->packed = TC__ANEW_ARRAY(&p->arena, int64_t, threads * TC__PACKED);
    if (!p->scratch_at || !p->packed) return 0;
    if (total >
        p->scratch_total) { // without memory for more, what launches have stays theirs
        uint8_t *more = (uint8_t *)tc__alloc_aligned(p->ctx, total);
        if (!more) return 0;
        if (p->scratch) tc__free_aligned(p->ctx, p->scratch, p->scratch_total);
        p->scratch = more, p->scratch_total = total;
    }
    p->scratch_bytes = want;
    for (size_t i = 0; i < threads; i++)
        p->scratch_at[i] = p->scratch + i * p->scratch_bytes;
    for (size_t i = 0; i < p->launch.count; i++) {
        tc__launch *l = &p->launch.at[i];
        l->args.scratch = p->scratch_at, l->args.packed = p->packed, l->keeps = 0;
        if (l->opaque) l->opaque->memory = p->scratch;
    }
    return 1;
}

// Memory for sums down the columns, which launches use in turn; it only grows. 0 = no memory, reported.
static int tc__program_sums(tc__program *p, const tc__ixenv *env) {
    size_t most = 0;
    for (size_t i = 0; i < p->launch.count; i++) {
        const tc__launch *l = &p->launch.at[i];
        if (!l->interp || !tc__down_begin(l->group)) continue;
        size_t need = (size_t)tc__ix_eval(&p->ix, tc__down_bytes(l->group), env);
        if (need > most) most = need;
    }
    if (most > p->sums_bytes) {
        uint8_t *more = (uint8_t *)tc__alloc_aligned(p->ctx, most);
        if (!more) return 0;
        if (p->sums) tc__free_aligned(p->ctx, p->sums, p->sums_bytes);
        p->sums = more, p->sums_bytes = most;
    }
    for (size_t i = 0; i < p->launch.count; i++) p->launch.at[i].args.sums = p->sums;
    return 1;
}

// "embedding (main.c:12)": the call that node n was made for, as the user wrote it. That of an eager op,
// or of several that run together, is running.
static void tc__culprit(const tc__program *p, const tc__node *n, char *who, size_t size) {
    const tc__step *s = n->from;
    if (!p->backend || !s || tc__core_of(p->ctx)->doing)
        snprintf(who, size, "%s", tc__called(p->ctx, (tc__op)n->op));
    else
        snprintf(who, size, "%s (%s:%d)", tc__step_call_name(s),
                 s->site.file ? s->site.file : "?", s->site.line);
}

// Where that call stands; of an eager op and of no node (NULL), where what runs was called.
static tc__site tc__culprit_site(const tc__program *p, const tc__node *n) {
    const tc__core *core = tc__core_of(p->ctx);
    tc__site s;
    if (p->backend && n && n->from && n->from->site.file && !core->doing)
        return n->from->site;
    s.file = core->site_file, s.line = core->site_line;
    return s;
}

// There is no memory for what a node stores: an error that was none `before` tells of the node.
static int tc__no_room(const tc__program *p, tc_status before, uint32_t node,
                       const char *words) {
    char who[200], text[300];
    tc__core *core = tc__core_of(p->ctx);
    if (before || core->doing) return 0; // which an eager op is named by
    tc__culprit(p, p->graph.node.at[node], who, sizeof who);
    tc__site site = tc__culprit_site(p, p->graph.node.at[node]);
    core->error_file = site.file, core->error_line = site.line;
    snprintf(text, sizeof text, "%s%s", words, who);
    tc__error_about(p->ctx, text);
    return 0;
}

// The same of all that kernels leave to others.
static int tc__no_room_between(const tc__program *p, tc_status before,
                               const tc__plan *plan) {
    const tc__slab *most = NULL;
    for (size_t i = 0; i < plan->slab.count; i++) {
        const tc__slab *s = &plan->slab.at[i];
        if (!s->output && !s->lasts && (!most || s->bytes > most->bytes)) most = s;
    }
    return most && tc__no_room(p, before, most->node, "intermediates, the largest of ");
}

// Memory of the intermediates; it only grows.
static int tc__program_memory(tc__program *p) {
    const tc_status before = tc_error(p->ctx);
    for (tc__dispatch *r = p->dispatch; r; r = r->next)
        if (!tc__dispatch_arena(r)) return tc__no_room_between(p, before, &r->plan);
    if (p->plan.bytes <= p->memory_bytes) return 1;
    if (p->memory) tc__free_aligned(p->ctx, p->memory, p->memory_bytes);
    p->memory = (uint8_t *)tc__storage_memory(p->ctx, p->plan.bytes);
    p->memory_bytes = p->memory ? p->plan.bytes : 0;
    return p->memory || tc__no_room_between(p, before, &p->plan);
}

// The plan of what is on a device; `output` has room for all nodes.
static int tc__program_plan_on(tc__program *p, tc__plan *plan, int device, uint8_t *output,
                               tc__group *const *k, const tc__ixenv *env) {
    for (size_t i = 0; i < p->graph.node.count; i++)
        output[i] = p->graph.node.at[i]->device != device ? TC__PLAN_APART
                    : p->still && p->still[i]             ? TC__PLAN_STILL
                                                          : TC__PLAN_HERE;
    for (size_t i = 0; i < p->output.count; i++) {
        const tc__output *o = &p->output.at[i];
        if (!o->alias && tc__output_device(p, o) == device)
            output[o->node] = o->beside   ? TC__PLAN_TO_END
                              : o->direct ? TC__PLAN_USERS
                                          : TC__PLAN_OUTPUT;
    }
    for (size_t i = 0; i < p->graph.place.count; i++)
        output[p->graph.place.at[i].node] = TC__PLAN_APART;
    plan->align = device ? (size_t)TC__DEVICE_ALIGN : (size_t)TC__SLAB_ALIGN;
    return tc__plan_make(p->ctx, plan, &p->graph, k, p->launch.count, device, output, env);
}

static int tc__program_plan(tc__program *p, const tc__ixenv *env) {
    size_t n = p->launch.count, nodes = p->graph.node.count;
    uint8_t *output = TC__NEW_ARRAY(p->ctx, uint8_t, nodes);
    tc__group **k = TC__NEW_ARRAY(p->ctx, tc__group *, n);
    int ok = output && k;
    for (size_t i = 0; ok && i < n; i++) k[i] = p->launch.at[i].group;
    ok = ok && tc__program_plan_on(p, &p->plan, 0, output, k, env);
    for (tc__dispatch *r = p->dispatch; ok && r; r = r->next) {
        r->plan.since = r->since, r->plan.over = r->over;
        ok = tc__program_plan_on(p, &r->plan, r->device->number, output, k, env);
    }
    TC__FREE_ARRAY(p->ctx, output, nodes);
    TC__FREE_ARRAY(p->ctx, k, n);
    return ok;
}

static int tc__output_lay_out(tc__program *p, const tc__visit *v, tc__output *o,
                              const tc__ixenv *env) {
    int64_t dims[TC_MAX_RANK];
    const tc__node *n = p->graph.node.at[o->node];
    if (o->alias) {
        o->layout = tc__code_layout(p->ctx, v, o->position, &o->offset);
        return o->layout != 0;
    }
    for (int i = 0; i < n->rank; i++) dims[i] = tc__ix_eval(&p->ix, n->dims[i], env);
    if (!tc__dims_check(p->ctx, "region", n->rank, dims)) return 0;
    if (o->position == UINT32_MAX)
        o->layout = tc__code_layout(p->ctx, v, o->code, &o->offset);
    else
        o->layout = tc__layout_on(p->ctx, n->device, n->dtype, n->rank, dims, NULL);
    o->bytes =
        (size_t)tc__numel(n->rank, dims) * tc__dtype(n->dtype)->bytes + TC__SLAB_SLACK;
    return o->layout != 0;
}

// The node in whose memory another is.
static uint32_t tc__node_root(const tc__program *p, uint32_t node) {
    const tc__dispatch *r = tc__program_on(p, p->graph.node.at[node]->device);
    const tc__plan *plan = r ? &r->plan : &p->plan;
    const tc__slab *s = tc__plan_find(plan, node);
    return s ? tc__plan_under(plan, s)->node : node;
}

// Where an intermediate is.
static void *tc__node_memory(const tc__program *p, uint32_t node) {
    const tc__dispatch *r = tc__program_on(p, p->graph.node.at[node]->device);
    uint8_t *memory = r ? r->memory : p->memory;
    return memory + tc__plan_find(r ? &r->plan : &p->plan, node)->offset;
}

// Where the memory of loops is, for the sizes of a run.
static void tc__program_lasting(tc__program *p, const tc__ixenv *env) {
    for (uint32_t i = 0; i < p->graph.memory.count; i++) {
        const tc__lasting *m = &p->graph.memory.at[i];
        const tc__dispatch *r = tc__program_on(p, m->device);
        const tc__slab *s =
            tc__plan_find(r ? &r->plan : &p->plan, (uint32_t)p->graph.node.count + i);
        p->loops.memory[i].step = tc__lasting_step(&p->graph, m, env);
        if (s) p->loops.memory[i].at = (char *)(r ? r->memory : p->memory) + s->offset;
    }
}

// The address of one buffer of a launch on device r: in the arena now, else looked up at each run.
static int tc__program_address(tc__program *p, tc__dispatch *on, const tc__kbuf *b,
                               const uint32_t *output_of, void **at) {
    tc__address a;
    uint32_t place = tc__spot_of(&p->loops, &p->graph, b);
    if (place) {
        tc__sliding m;
        m.at = at, m.place = place - 1;
        m.begin = (size_t)b->begin * tc__dtype(b->dtype)->bytes;
        return TC__PUSH(p->ctx, p->loops.moving, m);
    }
    a.at = at, a.on = on, a.output = b->place == TC__BUF_NODE;
    a.begin = (size_t)b->begin * tc__dtype(b->dtype)->bytes;
    a.source = a.output ? output_of[tc__node_root(p, b->source)] : b->source;
    int own = a.output && a.source != UINT32_MAX && !p->output.at[a.source].beside;
    if (b->place == TC__BUF_INPUT || own) return TC__PUSH(p->ctx, p->address, a);
    if (a.output) *at = (char *)tc__node_memory(p, b->source) + a.begin;
    return 1;
}

static int tc__program_addresses(tc__program *p) {
    uint32_t *of = tc__outputs_of(p);
    int ok = of != NULL;
    p->address.count = p->loops.moving.count = 0;
    for (size_t i = 0; ok && i < p->launch.count; i++) {
        const tc__launch *l = &p->launch.at[i];
        for (size_t k = 0; ok && k < l->group->buffer.count; k++)
            ok = tc__program_address(p, tc__launch_on(p, i), &l->group->buffer.at[k], of,
                                     &l->buf[k]);
    }
    for (uint32_t i = 0; ok && i < p->graph.loop.count; i++)
        tc__loop_move(&p->loops, &p->graph, i);
    TC__FREE_ARRAY(p->ctx, of, p->graph.node.count);
    return ok;
}

static int tc__program_is_laid_out(const tc__program *p, const tc__visit *v) {
    size_t n = p->size.count;
    return p->laid_out && (!n || !memcmp(p->size.at, v->size.at, n * sizeof *p->size.at));
}

// Whether it can run with the sizes of this visit: on a device, rows may get too long for it.
static int tc__program_fits(const tc__program *p, const tc__visit *v) {
    tc__ixenv env;
    if (!p->dispatch || tc__program_is_laid_out(p, v)) return 1;
    memset(&env, 0, sizeof env);
    env.sym = v->size.at;
    for (const tc__dispatch *r = p->dispatch; r; r = r->next)
        if (!tc__dispatch_fits(r, &p->ix, &env)) return 0;
    return 1;
}

// Whether the host has launches: its own, or between lists of a device.
static int tc__program_works_here(const tc__program *p) {
    int works = !p->devices || p->here;
    for (uint32_t i = 0; i < p->acts; i++) works |= p->act[i].kind == TC__ACT_VISIT;
    return works;
}

// What only launches of the host have: scratch of workers, and how work is shared.
static int tc__program_lay_out_here(tc__program *p, const tc__ixenv *env) {
    if (!tc__program_works_here(p)) return 1;
    size_t opaque = tc__scratch_opaque(p, env);
    if (!tc__program_scratch(p, tc__scratch_wanted(p, env), opaque) ||
        !tc__program_keep(p, env) || !tc__program_sums(p, env))
        return 0;
    for (size_t i = 0; i < p->launch.count; i++)
        if (p->launch.at[i].interp || p->launch.at[i].opaque)
            tc__launch_lay_out(p, &p->launch.at[i], env);
    return 1;
}

// Layouts, memory and work for the sizes of this visit; 0 = reported.
static int tc__program_lay_out(tc__program *p, const tc__visit *v) {
    tc__ixenv env;
    memset(&env, 0, sizeof env);
    if (p->counted) tc__program_count(p, -1);
    p->laid_out = 0, p->bound = NULL;
    tc__program_move_still(p);
    if (p->size.count) memcpy(p->size.at, v->size.at, p->size.count * sizeof *p->size.at);
    env.sym = p->size.at;
    for (size_t i = 0; i < p->output.count; i++)
        if (!tc__output_lay_out(p, v, &p->output.at[i], &env)) return 0;
    if (!tc__program_plan(p, &env) || !tc__program_memory(p)) return 0;
    tc__program_lasting(p, &env);
    for (size_t i = 0; i < p->graph.loop.count; i++) p->loops.run[i].looked = 0;
    if (!tc__program_addresses(p)) return 0;
    for (tc__dispatch *r = p->dispatch; r; r = r->next)
        if (!tc__dispatch_lay_out(r, &p->ix, &env)) return 0;
    if (!tc__program_lay_out_here(p, &env)) return 0;
    tc__program_count(p, 1);
    p->laid_out = 1;
    return 1;
}

// What shares a kernel of this program. Machines without loads of a mask do borders lane by lane.
static tc__fuse tc__program_fuse(const tc__program *p, const tc__dialect *d) {
    if (p->ctx->no_fusion || (p->backend && !p->backend->fuse)) return TC__FUSE_NOTHING;
    if (d->fuse == TC__FUSE_BORDERS && p->ctx->target < TC__EMIT_AVX2) return TC__FUSE;
    return d->fuse;
}

static const tc__dialect *tc__dialect_on(tc_ctx *c, int device) {
    return device ? tc__device_at(c, device)->own.language->dialect : &tc__dialect_c;
}

// Kernel k is for its device: what that has decides which kernels are joined, and what they become.
static void tc__program_aim(const tc__program *p, tc__group *k) {
    k->target.fast = p->numerics == TC_NUMERICS_FAST;
    if (!k->target.device) return;
    const tc_device *d = &tc__device_at(p->ctx, k->target.device)->own;
    k->target.language = d->language;
    k->target.room = d->shared_bytes, k->target.cluster = d->cluster_blocks;
    k->target.matrix_warps = d->matrix_warps, k->target.tensor_maps = d->tensor_maps;
    k->target.checked = d->checked && k->shape.kind != TC__OPAQUE;
    k->target.tf32 = p->allow_tf32;
}

// The schedule of the program: its kernels, each on its device, in the order in which they are given out.
static int tc__program_kernels(tc__program *p, tc__schedule *s, const uint8_t *output) {
    uint8_t fuses[TC__DEVICES_MOST] = {0};
    int devices = p->graph.devices ? (int)tc__values_of(p->ctx)->device.count : 0;
    for (int d = 0; d <= devices; d++)
        fuses[d] = (uint8_t)tc__program_fuse(p, tc__dialect_on(p->ctx, d));
    int ok = tc__schedule_run_on(s, p->ctx, &p->graph, output, p->inputs, fuses);
    for (size_t i = 0; ok && i < s->kernel.count; i++) tc__program_aim(p, s->kernel.at[i]);
    for (int d = 0; ok && d <= devices; d++)
        ok = tc__schedule_join_on(s, tc__dialect_on(p->ctx, d), d);
    if (ok && devices) tc__schedule_fold(s), tc__schedule_pitch(s);
    return ok && tc__order_across(p->ctx, &p->graph, s->kernel.at, s->kernel.count);
}

// Kernels that are the same but for constants share a text. A backend of the user's has none of ours.
static int tc__program_share(tc__program *p) {
    tc__twins t;
    size_t n = p->launch.count;
    uint32_t *first = TC__NEW_ARRAY(p->ctx, uint32_t, n);
    tc__group **group = TC__NEW_ARRAY(p->ctx, tc__group *, n);
    for (size_t i = 0; group && i < n; i++) group[i] = p->launch.at[i].group;
    memset(&t, 0, sizeof t);
    int ok = first && group && tc__twins_run(&t, p->ctx, group, n, first);
    for (size_t i = 0; ok && i < n; i++) p->launch.at[i].constants = first[i];
    for (size_t i = 0; ok && i < t.value.count; i++)
        ok = TC__PUSH(p->ctx, p->constant, t.value.at[i]);
    if (t.ctx) tc__twins_close(&t);
    TC__FREE_ARRAY(p->ctx, group, n);
    TC__FREE_ARRAY(p->ctx, first, n);
    return ok;
}

static int tc__program_schedule(tc__program *p, const tc__region *region) {
    tc__schedule s;
    uint8_t *output = TC__NEW_ARRAY(p->ctx, uint8_t, p->graph.node.count);
    if (!output) return 0;
    for (size_t i = 0; i < p->output.count; i++)
        if (!p->output.at[i].alias) output[p->output.at[i].node] = 1;
    for (size_t i = 0; i < p->graph.place.count; i++)
        output[p->graph.place.at[i].node] |=
            p->graph.node.at[p->graph.place.at[i].node]->op != TC_OP_INPUT;
    int ok = tc__program_kernels(p, &s, output);
    if (ok && region) tc__log_fusion(p->ctx, &p->graph, s.kernel.at, s.kernel.count);
    for (size_t i = 0; i < s.kernel.count && ok; i++) {
        tc__group *k = s.kernel.at[i];
        s.kernel.at[i] = NULL;
        ok = tc__program_launch(p, k);
    }
    if (!p->backend || !p->backend->own.run) ok = ok && tc__program_share(p);
    tc__schedule_close(&s);
    TC__FREE_ARRAY(p->ctx, output, p->graph.node.count);
    return ok;
}

// The loops of p->graph become memory. 0 = reported.
static int tc__program_loops(tc__program *p, uint32_t *node, size_t n) {
    tc__graph made;
    size_t most = p->placed;
    if (!p->graph.loop.count) return 1;
    int ok = tc__graph_open(&made, p->ctx, &p->ix) &&
             tc__loops_run(p->ctx, &p->graph, &made, p->placed, node, n);
    tc__graph_close(&p->graph);
    p->graph = made;
    const tc__shape **inputs =
        TC__ANEW_ARRAY(&p->arena, const tc__shape *, most + made.place.count + 1);
    if (!inputs) return 0;
    memcpy(inputs, p->inputs, most * sizeof *inputs);
    p->inputs = inputs;
    return ok && TC__VEC_RESERVE(p->ctx, p->size, p->size.count + made.loop.count) &&
           tc__loops_open(&p->loops, &p->arena, &p->graph);
}

// What is stored by the way, though another output is the same node, is none: an optimiser makes the same number for each
// of its tensors. That is known of what ends a region alone: what a break needs has been asked for. `node`: by output.
static size_t tc__outputs_once(tc__program *p, const tc__visit *v, uint32_t *node) {
    size_t n = 0;
    uint8_t *met = TC__NEW_ARRAY(p->ctx, uint8_t, p->graph.node.count);
    for (size_t i = 0; met && i < p->output.count; i++) {
        const tc__output *o = &p->output.at[i];
        int by_the_way = o->position != UINT32_MAX && !v->region->function && !o->alias &&
                         !o->view && v->path.at[o->position]->flags & TC__STEP_BY_THE_WAY;
        if (by_the_way && met[node[i]]) continue;
        if (!o->alias) met[node[i]] = 1;
        node[n] = node[i], p->output.at[n++] = *o;
    }
    if (!met) return p->output.count;
    TC__FREE_ARRAY(p->ctx, met, p->graph.node.count);
    return n;
}

// p->graph = the recorded graph after all passes; outputs follow.
static int tc__program_canon(tc__program *p, const tc__visit *v, tc__effects effects,
                             const tc__graph *recorded) {
    const tc__region *region = v->region;
    size_t all = p->output.count, n = all;
    uint32_t *node = TC__NEW_ARRAY(p->ctx, uint32_t, n);
    if (!node) return 0;
    for (size_t i = 0; i < n; i++) node[i] = p->output.at[i].node;
    uint32_t off = p->backend && !p->backend->passes ? UINT32_MAX : p->ctx->passes_off;
    int rounds = (recorded->devices ? TC__ROUNDS_DEVICES : 0) |
                 (p->numerics == TC_NUMERICS_FAST ? TC__ROUNDS_FAST : 0);
    int ok = tc__passes_run(p->ctx, recorded, &p->graph, node, n, off, rounds) &&
             tc__program_loops(p, node, n);
    if (ok && region && effects == TC__WRITE_BACK)
        p->output.count = n = tc__outputs_once(p, v, node);
    for (size_t i = 0; i < n; i++) p->output.at[i].node = node[i];
    uint32_t *of = ok ? tc__outputs_of(p) : NULL;
    for (size_t i = 0; of && i < n; i++) {
        tc__output *o = &p->output.at[i];
        o->first = of[node[i]];
        o->copy = !o->alias && o->first != i && !o->view && o->position != UINT32_MAX;
    }
    ok = of && tc__reads_behind(p);
    if (ok) tc__log_graph(p->ctx, region, &p->graph, node, n);
    TC__FREE_ARRAY(p->ctx, of, p->graph.node.count);
    TC__FREE_ARRAY(p->ctx, node, all);
    return ok;
}

// What the builder learnt of run-time sizes and values.
static int tc__program_symbols(tc__program *p, const tc__builder *b) {
    tc__value none;
    memset(&none, 0, sizeof none);
    for (size_t i = 0; i < b->sym.count; i++)
        if (!TC__PUSH(p->ctx, p->size, 0)) return 0;
    for (size_t i = 0; i < b->arg.count; i++)
        if (!TC__PUSH(p->ctx, p->arg, b->arg.at[i]) || !TC__PUSH(p->ctx, p->arg_now, none))
            return 0;
    return 1;
}
