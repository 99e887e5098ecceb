// Running a program: bind base pointers, call each kernel over its items, write back. Nothing is
// allocated but storage for outputs whose old storage is still in use.

static int tc__launch_go(tc__program *p, const tc__region *r, uint32_t i) {
    tc__launch *l = &p->launch.at[i];
    tc__act a;
    a.kind = TC__ACT_LAUNCH, a.on = NULL, a.at = i;
    if (TC__UNLIKELY(tc__profiles(p, &a))) return tc__profile_act(p, r, &a);
    tc__launch_all(p->ctx, l);
    return 1;
}

static int tc__custom_go(tc__program *p, const tc__region *region, uint32_t i) {
    tc__custom_launch *l = p->launch.at[i].custom;
    tc__site was = tc__site_swap(p->ctx, tc__culprit_site(p, l->opaque.node));
    tc__custom_bind(l);
    tc__calling calling = tc__calling_begin(p->ctx);
    int ok = tc__launch_go(p, region, i);
    tc__calling_end(p->ctx, calling);
    ok = ok && tc__custom_end(p->ctx, l);
    tc__site_set(p->ctx, was);
    return ok;
}

// Runs kernel i of the program, of region r; NULL = eager. 0 = a custom op failed, reported.
static int tc__launch_run(tc__program *p, const tc__region *r, uint32_t i) {
    tc__launch *l = &p->launch.at[i];
    if (l->items <= 0 || l->there) return 1;
    int ok = l->custom ? tc__custom_go(p, r, i) : tc__launch_go(p, r, i);
    l->there = (uint8_t)(ok && l->still);
    return ok;
}

// ---- acts ----

// A launch that only the host has a function for: what it reads comes here, what it writes goes back.
typedef struct tc__visitor {
    const tc__device *device;
    tc__launch *launch;
    void **address; // of the device, by buffer
} tc__visitor;

static int tc__visitor_fetch(tc__program *p, tc__visitor *q, size_t i,
                             const tc__ixenv *env) {
    const tc__kbuf *b = &q->launch->group->buffer.at[i];
    const tc__device *d = q->device;
    size_t bytes = (size_t)tc__ix_eval(&p->ix, b->numel, env) * tc__dtype(b->dtype)->bytes;
    void *here = tc__alloc_aligned(p->ctx, bytes + TC__SLAB_SLACK);
    q->address[i] = q->launch->buf[i];
    q->launch->buf[i] = here;
    if (!here) return 0;
    int number = b->place == TC__BUF_INPUT && b->source < p->externals &&
                 !p->inputs[b->source]->device;
    tc_status s = TC_OK;
    if (number && bytes)
        memcpy(here, q->address[i], bytes);
    else if (!b->written && bytes)
        s = d->own.copy_out(d->own.user, here, q->address[i], bytes);
    return !s || tc__device_failed(p->ctx, &d->own, "an operand of an op of the host", s);
}

static int tc__visitor_return(tc__program *p, tc__visitor *q, size_t i, int ok,
                              const tc__ixenv *env) {
    const tc__kbuf *b = &q->launch->group->buffer.at[i];
    const tc__device *d = q->device;
    size_t bytes = (size_t)tc__ix_eval(&p->ix, b->numel, env) * tc__dtype(b->dtype)->bytes;
    void *here = q->launch->buf[i];
    tc_status s = TC_OK;
    if (ok && b->written && bytes)
        s = d->own.copy_in(d->own.user, q->address[i], here, bytes);
    if (here) tc__free_aligned(p->ctx, here, bytes + TC__SLAB_SLACK);
    q->launch->buf[i] = q->address[i];
    return !s || tc__device_failed(p->ctx, &d->own, "the result of an op of the host", s);
}

// Launch i, which device d has no text for.
static int tc__launch_visit(tc__program *p, const tc__device *d, const tc__region *r,
                            uint32_t i) {
    tc__visitor q;
    tc__ixenv env;
    q.device = d, q.launch = &p->launch.at[i];
    size_t n = q.launch->group->buffer.count, fetched = 0;
    memset(&env, 0, sizeof env);
    env.sym = p->size.at;
    q.address = TC__NEW_ARRAY(p->ctx, void *, n);
    int ok = q.address != NULL;
    while (ok && fetched < n) ok = tc__visitor_fetch(p, &q, fetched++, &env);
    ok = ok && tc__launch_run(p, r, i);
    for (size_t k = 0; k < fetched; k++) ok &= tc__visitor_return(p, &q, k, ok, &env);
    if (q.address) TC__FREE_ARRAY(p->ctx, q.address, n);
    return ok;
}

// Copies what launch i does, from one device to another.
static int tc__launch_copy(tc__program *p, uint32_t i) {
    const tc__launch *l = &p->launch.at[i];
    const tc__group *k = l->group;
    const int64_t *buffer = k->body.node.at[0]->attr + TC__CALL_BUFFERS;
    tc__ixenv env;
    memset(&env, 0, sizeof env);
    env.sym = p->size.at;
    const tc__kbuf *b = &k->buffer.at[buffer[0]];
    size_t bytes = (size_t)tc__ix_eval(&p->ix, b->numel, &env) * tc__dtype(b->dtype)->bytes;
    const tc__device *from = tc__device_at(p->ctx, tc__copy_source(&p->graph, k));
    return tc__copy_across(p->ctx, "a copy between devices",
                           tc__device_at(p->ctx, k->target.device), l->buf[buffer[0]], from,
                           l->buf[buffer[1]], bytes);
}

static int tc__act_part(tc__program *p, const tc__region *region, const tc__act *a) {
    return TC__UNLIKELY(tc__profiles(p, a))
               ? tc__profile_act(p, region, a)
               : tc__dispatch_run_part(a->on, &a->on->part[a->at]);
}

// 0 = reported.
static int tc__act_run(tc__program *p, const tc__visit *v, const tc__act *a) {
    tc__launch *all = p->launch.at;
    switch (a->kind) {
    case TC__ACT_LAUNCH:
        all[a->at].args.seed = tc__visit_seed(p->ctx, v), all[a->at].args.draw = v->draw;
        return tc__launch_run(p, v->region, a->at);
    case TC__ACT_VISIT: return tc__launch_visit(p, a->on->device, v->region, a->at);
    case TC__ACT_PART: return tc__act_part(p, v->region, a);
    case TC__ACT_COPY: break;
    case TC__ACT_LOOP:
    case TC__ACT_AGAIN: return 1; // tc__program_launch_all goes round
    }
    return TC__UNLIKELY(p->ctx->profiling != NULL)
               ? tc__profile_copy(p, v->region, a->at, tc__launch_copy)
               : tc__launch_copy(p, a->at);
}

// Act *i, which begins a loop or ends a turn: *i = the one before that is done next. 0 = reported.
static int tc__act_loop(tc__program *p, const tc__visit *v, uint32_t *i) {
    uint32_t loop = p->act[*i].at;
    const tc__looping *l = &p->loops.run[loop];
    int first = p->act[*i].kind == TC__ACT_LOOP, turn = 0;
    if (first) tc__loop_forget(p, loop);
    int ok = first ? tc__loop_begin(&p->loops, &p->graph, loop, p->size.at, &turn)
                   : tc__loop_again(&p->loops, &p->graph, loop, p->size.at, &turn);
    if (ok && first && turn && tc__strand_turns(p, v, loop))
        ok = tc__loop_again(&p->loops, &p->graph, loop, p->size.at, &turn);
    for (tc__dispatch *r = p->dispatch; r; r = r->next) tc__dispatch_turn(r, p->size.at);
    if (first && !turn) *i = l->end;
    if (!first && turn) *i = l->begin;
    return ok;
}

// All acts in order, on what is looked up; the random stream is at v->draw. What devices do need not be done when
// it returns. 0 = reported.
static int tc__program_launch_all(tc__program *p, const tc__visit *v) {
    int ok = 1;
    if (TC__UNLIKELY(p->still_of.count)) tc__program_meet_constants(p, v);
    for (tc__dispatch *r = p->dispatch; ok && r; r = r->next)
        ok = tc__dispatch_begin(p, r, v);
    for (uint32_t i = 0; ok && i < p->acts; i++) {
        if (TC__UNLIKELY(p->act[i].kind >= TC__ACT_LOOP))
            ok = tc__act_loop(p, v, &i);
        else
            ok = tc__act_run(p, v, &p->act[i]);
    }
    for (tc__dispatch *r = p->dispatch; r; r = r->next) ok = tc__bounce_out(p, r, ok);
    if (ok && !tc__program_waits(p)) ok = tc__program_watch(p);
    for (tc__dispatch *r = p->dispatch; ok && r; r = r->next) r->waiting = r->checks;
    return ok;
}

// ---- compiled code against the interpreter ----

// Memory that the kernels of a program write: of output i.
static void *tc__verify_memory(const tc__program *p, const tc__visit *v, size_t i,
                               size_t *bytes) {
    const tc__output *o = &p->output.at[i];
    const tc__layout *l = tc__layout_at(p->ctx, o->layout);
    *bytes = (size_t)l->numel * tc__dtype(l->dtype)->bytes;
    if (o->alias || o->first != i) *bytes = 0;
    return tc__output_data(p, v, (uint32_t)i);
}

typedef enum tc__verify_step {
    TC__VERIFY_SAVE,
    TC__VERIFY_SWAP,
    TC__VERIFY_DROP
} tc__verify_step;

// What output i holds goes to copy[i], or changes places with it, or the copy is freed. 0 = no memory.
static int tc__verify_move(tc__program *p, const tc__visit *v, uint8_t **copy,
                           tc__verify_step step) {
    for (size_t i = 0; i < p->output.count; i++) {
        size_t bytes;
        uint8_t *at = (uint8_t *)tc__verify_memory(p, v, i, &bytes);
        if (!bytes) continue;
        if (step == TC__VERIFY_SAVE && !copy[i])
            copy[i] = TC__NEW_ARRAY(p->ctx, uint8_t, bytes);
        if (step == TC__VERIFY_SAVE && !copy[i]) return 0;
        if (step == TC__VERIFY_SAVE) memcpy(copy[i], at, bytes);
        for (size_t k = 0; step == TC__VERIFY_SWAP && k < bytes; k++) {
            uint8_t was = at[k];
            at[k] = copy[i][k], copy[i][k] = was;
        }
        if (step == TC__VERIFY_DROP && copy[i]) tc__free(p->ctx, copy[i], bytes);
    }
    return 1;
}

static size_t tc__verify_compare(tc__program *p, const tc__visit *v,
                                 uint8_t **interpreted) {
    size_t wrong = 0, bytes;
    for (size_t i = 0; i < p->output.count; i++) {
        const void *at = tc__verify_memory(p, v, i, &bytes);
        int dtype = p->graph.node.at[p->output.at[i].node]->dtype;
        if (bytes) wrong += tc__bits_differ(dtype, at, interpreted[i], bytes);
    }
    return wrong;
}

// What is not compiled: the interpreter, and a custom op's own function where it has one.
static void tc__program_drop_code(tc__program *p) {
    for (size_t i = 0; i < p->launch.count; i++) {
        tc__launch *l = &p->launch.at[i];
        l->held = l->run;
        if (!l->opaque) l->run = NULL;
        if (l->custom && l->custom->host) l->run = l->custom->host;
    }
}

// Whether something of the program was compiled from the user's text, and is computed by his function, too.
static const char *tc__program_compared_custom(const tc__program *p) {
    for (size_t i = 0; i < p->launch.count; i++) {
        const tc__launch *l = &p->launch.at[i];
        if (l->custom && l->custom->host && l->held != l->custom->host)
            return l->custom->op->op.name;
    }
    return NULL;
}

static int tc__program_interpret(tc__program *p, const tc__visit *v) {
    tc__program_drop_code(p);
    int ok = tc__program_launch_all(p, v);
    for (size_t i = 0; i < p->launch.count; i++) p->launch.at[i].run = p->launch.at[i].held;
    return ok;
}

static void tc__verify_warn(const tc__program *p, const tc__visit *v, size_t wrong) {
    const char *custom = tc__program_compared_custom(p);
    if (custom)
        tc__warn(
            p->ctx,
            "%s \"%s\": compiled code and interpreter differ in %zu elements; it stays "
            "interpreted. Do run and c_source of custom op \"%s\" do the same?",
            tc__region_kind(v->region), v->region->name, wrong, custom);
    else
        tc__warn(
            p->ctx,
            "%s \"%s\": compiled code and interpreter differ in %zu elements; it stays "
            "interpreted. Please report it with the text of tc_explain",
            tc__region_kind(v->region), v->region->name, wrong);
}

// Runs the compiled code beside what the interpreter has left: in memory, and copy[i] is what was there
// before. The results are the interpreter's where they differ, and then the program stays with it.
static int tc__verify_code(tc__program *p, const tc__visit *v, uint8_t **copy) {
    int64_t flag[3];
    (void)tc__verify_move(p, v, copy, TC__VERIFY_SWAP);
    tc__program_move_still(p);
    memcpy(flag, p->flag, sizeof flag);
    p->flag[0] = 0;
    int ok = tc__program_launch_all(p, v);
    size_t wrong = ok ? tc__verify_compare(p, v, copy) + (!flag[0] != !p->flag[0]) : 0;
    memcpy(p->flag, flag, sizeof flag);
    if (!wrong) return ok;
    tc__program_drop_code(p);
    (void)tc__verify_move(p, v, copy, TC__VERIFY_SWAP);
    p->verify = 0, p->tier = TC__TIER_FINAL;
    tc__verify_warn(p, v, wrong);
    return 1;
}

// Whether this run is compared: the first of the code, and one in p->verify. What is drawn depends on
// the context's seed and on how often the program ran, and draws nothing from the random stream.
static int tc__program_is_checked(tc__program *p) {
    if (!p->verify || (p->tier != TC__TIER_FINAL && p->tier != TC__TIER_RESTING)) return 0;
    uint64_t seed = tc__recorder_of(p->ctx)->seed + p->number;
    return !p->chances++ ||
           !(tc__hash_mix(seed, p->chances) % (uint64_t)(unsigned)p->verify);
}

// A run that is compared. Where there is no memory for copies the first one is put off, and another
// is none. 0 = a custom op failed, reported.
static int tc__program_verify(tc__program *p, const tc__visit *v) {
    size_t n = p->output.count;
    tc__error_mark before = tc__error_now(p->ctx);
    uint8_t **copy = TC__NEW_ARRAY(p->ctx, uint8_t *, n);
    int saved = copy && tc__verify_move(p, v, copy, TC__VERIFY_SAVE);
    uint64_t first = p->chances == 1;
    if (!saved) p->chances -= first, tc__error_restore(p->ctx, before);
    int ok = saved || first ? tc__program_interpret(p, v) : tc__program_launch_all(p, v);
    if (ok && saved) ok = tc__verify_code(p, v, copy);
    if (copy) (void)tc__verify_move(p, v, copy, TC__VERIFY_DROP);
    TC__FREE_ARRAY(p->ctx, copy, n);
    return ok;
}

// ---- registered backends ----

// Input i of a registered backend, row-major. 0 = out of memory.
static int tc__foreign_input(tc__program *p, const tc__visit *v, int i) {
    tc__foreign *f = p->foreign;
    uint32_t source = f->in_source[i];
    tc_buffer *b = &f->in[i];
    b->spec = f->graph.node[f->graph.input[i]].spec;
    b->data = tc__input_data(p, v, source);
    if (source >= p->externals) return 1;
    const tc__layout *l = tc__layout_at(p->ctx, v->external.at[source].layout);
    if (l->contiguous) return 1;
    size_t bytes = (size_t)l->numel * tc__dtype(l->dtype)->bytes;
    if (!f->dense[i]) f->dense[i] = (uint8_t *)tc__alloc_aligned(p->ctx, bytes + !bytes);
    f->dense_bytes[i] = bytes + !bytes;
    if (!f->dense[i]) return 0;
    tc__copy_from_strided(l, b->data, 0, f->dense[i]);
    b->data = f->dense[i];
    return 1;
}

static int tc__foreign_run(tc__program *p, const tc__visit *v) {
    tc__foreign *f = p->foreign;
    const tc_backend *own = &f->backend->own;
    tc_graph_run run;
    memset(&run, 0, sizeof run);
    for (int i = 0; i < f->graph.n_input; i++)
        if (!tc__foreign_input(p, v, i)) return 0;
    for (int i = 0; i < f->graph.n_output; i++) {
        f->out[i].spec = f->graph.node[f->graph.output[i]].spec;
        f->out[i].data = tc__output_data(p, v, f->out_index[i]);
    }
    for (size_t i = 0; i < p->arg.count; i++) {
        const tc__value *a = &p->arg_now.at[i];
        f->arg[i] = tc__is_float(p->arg.at[i].dtype) ? a->f : (double)a->i;
    }
    run.arg = f->arg, run.in = f->in, run.n_in = f->graph.n_input;
    run.out = f->out, run.n_out = f->graph.n_output;
    f->visit = v;
    run.seed = tc__visit_seed(p->ctx, v), run.draw = v->draw, run.program = p;
    tc__calling calling = tc__calling_begin(p->ctx);
    tc_status s = own->run(own->user, f->state, &run);
    tc__calling_end(p->ctx, calling);
    if (!s || p->flag[0]) return 1; // an index out of range is told by tc__program_flagged
    if (!tc__foreign_failed(p->ctx, p, "run", s, NULL, v->region->options.suppress_errors))
        return 0;
    return tc__program_launch_all(p, v);
}

TCDEF tc_status tc_graph_forward(const tc_graph_run *run) {
    if (!run || !run->program) return TC_E_NULL;
    tc__program *p = (tc__program *)run->program;
    if (!tc__program_launch_all(p, p->foreign->visit)) return TC_E_ARG;
    return p->flag[0] ? TC_E_INDEX : TC_OK;
}

// ---- custom ops ----

// The first launch of a custom op that cannot run, NULL = none.
static const tc__launch *tc__program_lacks(const tc__program *p) {
    for (size_t i = 0; p->customs && i < p->launch.count; i++) {
        if (!p->launch.at[i].custom || p->launch.at[i].run) continue;
        const tc__dispatch *r = tc__launch_on(p, i);
        if (r && !r->launch[i].by) continue; // it has code there
        return &p->launch.at[i];
    }
    return NULL;
}

static int tc__fail_lacks(const tc__program *p, const tc__launch *l, const char *why) {
    const tc__custom *o = l->custom->op;
    if (o->op.c_source)
        return tc__fail(p->ctx, TC_E_COMPILER,
                        "custom op \"%s\" has only c_source, which is not compiled here; "
                        "give it run too: %s",
                        o->op.name, why);
    if (l->group->target.device && o->trouble)
        return tc__fail(p->ctx, TC_E_COMPILER,
                        "custom op \"%s\": its cuda_source does not compile, and it has "
                        "neither run nor c_source to take instead: %s",
                        o->op.name, o->trouble);
    return tc__fail(p->ctx, TC_E_DEVICE,
                    "custom op \"%s\" has only cuda_source, and its inputs are on %s; move "
                    "them to a CUDA device with tc_to, or give it run",
                    o->op.name, tc__device_name(p->ctx, l->group->target.device));
}

// Whether the backend of the program compiles at all; an eager op's is the context's, and so it is where ops run one
// by one on request.
static int tc__program_compiles(const tc__program *p) {
    const tc__backend *b = p->forced ? NULL : p->backend;
    const char *name = p->ctx->defaults.backend;
    if (!b && name) b = tc__backend_find(p->ctx, name, strlen(name));
    return TC__JIT && (b ? b->compile : 1);
}

// An op that has only source is compiled, whatever else is. 0 = reported.
static int tc__program_has_code(tc__program *p, const tc__visit *v) {
    const tc__launch *l = tc__program_lacks(p);
    const char *why =
        TC__JIT ? "the backend does not compile" : "this build has no compiler";
    if (!l) return 1;
    if (l->custom->op->op.c_source && tc__program_compiles(p)) {
        (void)tc__program_compile(p, NULL, v->region ? v->region->name : "eager",
                                  TC__COMPILE_NEEDED);
        l = tc__program_lacks(p);
        why = tc__compiler_trouble(p->ctx);
    }
    if (!l) return 1;
    tc__site was = tc__site_swap(p->ctx, tc__culprit_site(p, l->custom->opaque.node));
    tc__fail_lacks(p, l, why);
    tc__site_set(p->ctx, was);
    return 0;
}

// ---- what a device tells ----

// "x0", or what it is the result of: "%4 = mul".
static void tc__put_buffer_source(tc__text *t, const tc__program *p, const tc__kbuf *b) {
    if (b->place == TC__BUF_INPUT)
        tc__put(t, "x%u", (unsigned)b->source);
    else
        tc__put(t, "%%%u = %s", (unsigned)b->source,
                tc__op_name((tc__op)p->graph.node.at[b->source]->op));
}

// What a kernel of a checked text wanted to do outside of a tensor; 0 = reported.
static int tc__program_inside(tc__program *p, const tc_device *d, const int64_t *flag) {
    tc__text name, source;
    char word[24];
    tc__printer q;
    if (!flag[TC__OUTSIDE_BUFFER]) return 1;
    int64_t i = flag[TC__OUTSIDE_LAUNCH], buffer = flag[TC__OUTSIDE_BUFFER] - 1;
    const tc__group *g = p->launch.at[i].group;
    const tc__kbuf *b = &g->buffer.at[buffer];
    tc__ixenv env;
    memset(&env, 0, sizeof env), memset(&q, 0, sizeof q);
    env.sym = p->size.at, q.g = g;
    tc__buffer_name(&q, buffer, word);
    tc__text_init(&name, p->ctx), tc__text_init(&source, p->ctx);
    tc__put_kernel_name(&name, g, (uint32_t)i);
    tc__put_buffer_source(&source, p, b);
    tc__fail(
        p->ctx, TC_E_INDEX,
        "kernel %s of program %u, on %s: element %lld of %s, \"%s\" in its text, was to "
        "be %s; it has %lld elements. The access was left out and the results are not "
        "valid",
        name.at, (unsigned)p->number, d->name, (long long)flag[TC__OUTSIDE_AT], source.at,
        word, flag[TC__OUTSIDE_WRITE] ? "written" : "read",
        (long long)tc__ix_eval(&p->ix, b->numel, &env));
    tc__text_free(&name);
    tc__text_free(&source);
    return 0;
}

// Waits for the device, and takes what its checks found. 0 = reported.
static int tc__dispatch_check(tc__program *p, tc__dispatch *r) {
    const tc_device *d = &r->device->own;
    int64_t flag[TC__FLAG_WORDS];
    tc_status s = d->sync(d->user);
    if (s) return tc__device_failed(p->ctx, d, "kernels", s);
    memcpy(flag, r->flag, sizeof flag);
    memset(r->flag, 0, sizeof flag);
    p->flag[0] = 0;
    if (flag[0]) memcpy(p->flag, flag, sizeof p->flag), r->told = 0;
    return tc__program_flagged(p) && tc__program_inside(p, d, flag);
}

// The same of all devices whose flags nobody has looked at.
static int tc__program_check(tc__program *p) {
    int ok = 1;
    for (tc__dispatch *r = p->dispatch; r; r = r->next) {
        if (!r->waiting) continue;
        r->waiting = 0;
        ok &= tc__dispatch_check(p, r);
    }
    tc__program_unwatch(p);
    return ok;
}

// Whether the programs that ran on devices, and are done, found no index out of range. 0 = reported.
static int tc__devices_check(tc_ctx *c) {
    int ok = 1;
    while (c->unchecked.count) ok &= tc__program_check(c->unchecked.at[0]);
    return ok;
}

// Whether something of a device comes to the host, where nobody waits for that device any more.
static int tc__program_brings(const tc__program *p) {
    for (uint32_t i = 0; i < p->acts; i++)
        if (p->act[i].kind == TC__ACT_COPY &&
            !p->launch.at[p->act[i].at].group->target.device)
            return 1;
    return 0;
}

// A run of a bound program, the acts alone. Checks are looked at now only if something is to be written back or comes to the host:
// else when somebody waits for the device.
static int tc__program_run_acts(tc__program *p, const tc__visit *v) {
    if (!tc__program_launch_all(p, v)) return 0;
    if (p->flag[0] || !tc__program_waits(p)) return 1;
    return !(tc__program_writes(p) || tc__program_brings(p)) || tc__program_check(p);
}

// Memory and values of this run for all launches; 0 = reported.
static int tc__program_bind(tc__program *p, const tc__visit *v) {
    p->flag[0] = p->flag[1] = p->flag[2] = 0;
    if (p->devices && !tc__dispatch_settle(p, v->region)) return 0;
    if (!tc__program_is_laid_out(p, v) && !tc__program_lay_out(p, v)) return 0;
    if (!tc__program_has_code(p, v)) return 0;
    if (!tc__program_apart(p, v) || !tc__program_storages(p, v)) return 0;
    tc__program_look_up(p, v);
    tc__program_args(p, v);
    return 1;
}

// Runs the program with the visit's externals. 0 = reported; nothing was written back then.
static int tc__program_run(tc__program *p, tc__visit *v) {
    tc_ctx *c = p->ctx;
    int dry = c->dry && v->region; // eager ops there have no inputs
    if (p->tier != TC__TIER_FINAL && !tc__program_settle(c, v->region, p)) return 0;
    if (!dry && !tc__core_of(c)->frozen && tc__program_wants_tuning(p)) {
        if (!tc__program_bind(p, v)) return 0;
        tc__program_tune(p, v, tc__act_run);
    }
    uint64_t start = tc__now_ns();
    if (!tc__program_bind(p, v)) return 0;
    if (TC__UNLIKELY(dry)) return 1;
    if (!tc__undo_writes(p, v)) return 0;
    int ok;
    if (tc__foreign_of(p))
        ok = tc__foreign_run(p, v);
    else if (tc__program_is_checked(p))
        ok = tc__program_verify(p, v);
    else
        ok = tc__program_run_acts(p, v);
    uint64_t took = tc__now_ns() - start;
    tc__note_span(p->ctx, TC__SPAN_RUN, start, v->region);
    p->runs++, p->run_ns += took;
    tc__note_run(p->ctx, tc__program_runs(p), took);
    return ok && tc__program_flagged(p) && tc__program_finish(p, v);
}
