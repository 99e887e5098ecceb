// Ops outside regions: each is a visit of one step whose programs the context keeps, by op,
// words and layouts; what strides can describe is a view, and runs nothing. Input: one
// call. Output: a tensor at once. Between tc_disable_begin and its end a region is open
// that sees none of it.

// ---- eager ----

// Of the programs of eager ops; where memory_mb is given, what recordings may have.
#define TC__EAGER_BYTES ((size_t)64 << 20)

struct tc__eager {
    tc__step step;
    tc__program *program;
    tc__eager *next; // same hash
    uint32_t externals;
    int device;        // that it runs on
    tc__binding *bind; // layout and alias of each external
};

// One op outside regions: externals are bound to the stand-in visit.
static int tc__eager_bind(tc_ctx *c, const tc__call *k, uint32_t *code) {
    tc__visit *v = &c->eager_visit;
    v->epoch = tc__epoch_next(tc__values_of(c));
    v->key = UINT64_MAX; // of no handle: nothing that an eager op is given is its own
    return tc__call_codes(c, v, k, code);
}

static uint64_t tc__eager_hash(tc_ctx *c, const tc__visit *v, const tc__call *k,
                               const uint32_t *code) {
    uint64_t h = tc__hash_mix(k->op, ((uint64_t)k->n_in << 32) | k->n_attr);
    h += (uint64_t)tc__visit_device(c, v) << 56;
    h = tc__hash64(code, k->n_in * sizeof *code, h);
    h = tc__hash64(k->attr, k->n_attr * sizeof *k->attr, h);
    if (k->dims)
        h = tc__hash64(k->dims, k->rank * sizeof *k->dims, tc__hash_mix(h, k->dtype));
    for (size_t i = 0; i < v->external.count; i++)
        h = tc__hash_mix(h, v->external.at[i].layout | (uint64_t)v->external.at[i].alias
                                                           << 32);
    return h;
}

static int tc__eager_same(const tc__eager *e, const tc__visit *v, const tc__call *k,
                          const uint32_t *code) {
    const tc__step *s = &e->step;
    if (s->op != k->op || s->n_in != k->n_in || s->n_attr != k->n_attr) return 0;
    if (e->externals != v->external.count) return 0;
    if (memcmp(s->in, code, k->n_in * sizeof *code)) return 0;
    if (k->n_attr && memcmp(s->attr, k->attr, k->n_attr * sizeof *k->attr)) return 0;
    for (uint32_t i = 0; i < e->externals; i++)
        if (e->bind[i].layout != v->external.at[i].layout ||
            e->bind[i].alias != v->external.at[i].alias)
            return 0;
    if (!k->dims) return 1;
    return s->meta.dtype == k->dtype && s->meta.rank == k->rank &&
           !memcmp(s->meta.dims, k->dims, k->rank * sizeof *k->dims);
}

static void tc__eager_free(tc_ctx *c, tc__eager *e) {
    if (!e) return;
    tc__program_drop(e->program);
    TC__FREE_ARRAY(c, e->step.in, e->step.n_in + 1u);
    TC__FREE_ARRAY(c, e->step.attr, e->step.n_attr + 1u);
    TC__FREE_ARRAY(c, e->bind, e->externals + 1u);
    tc__free(c, e, sizeof *e);
}

static int tc__eager_program(tc_ctx *c, tc__eager *e) {
    tc__visit *v = &c->eager_visit;
    uint32_t position = 0;
    int effect = e->step.op == TC_OP_COPY_;
    v->path.count = 0;
    v->result_of.count = 0;
    if (!TC__PUSH(c, v->path, &e->step)) return 0;
    int exact = 0;
    e->program =
        tc__program_make(c, v, 1, &position, effect ? 0 : 1, TC__WRITE_BACK, &exact);
    return e->program != NULL;
}

static tc__eager *tc__eager_new(tc_ctx *c, const tc__call *k, const uint32_t *code) {
    tc__visit *v = &c->eager_visit;
    tc__eager *e = TC__NEW(c, tc__eager);
    if (!e) return NULL;
    tc__step *s = &e->step;
    s->op = (uint16_t)k->op, s->n_in = (uint16_t)k->n_in, s->n_attr = (uint16_t)k->n_attr;
    s->site = k->site, s->flags = TC__STEP_HOME;
    e->externals = (uint32_t)v->external.count, e->device = tc__visit_device(c, v);
    s->in = TC__NEW_ARRAY(c, uint32_t, k->n_in + 1);
    s->attr = TC__NEW_ARRAY(c, int64_t, k->n_attr + 1);
    e->bind = TC__NEW_ARRAY(c, tc__binding, e->externals + 1);
    tc__infer q;
    if (s->in && s->attr && e->bind && tc__call_infer(c, NULL, k, &q)) {
        s->meta = q.out;
        if (k->n_in) memcpy(s->in, code, k->n_in * sizeof *code);
        if (k->n_attr) memcpy(s->attr, k->attr, k->n_attr * sizeof *k->attr);
        for (uint32_t i = 0; i < e->externals; i++) {
            e->bind[i].layout = v->external.at[i].layout;
            e->bind[i].alias = v->external.at[i].alias;
        }
        if (tc__eager_program(c, e)) return e;
    }
    tc__eager_free(c, e);
    return NULL;
}

static void tc__eager_forget(tc_ctx *c) {
    for (size_t i = 0; i < c->eager_ids.capacity; i++) {
        uint64_t first = c->eager_ids.at[i].key ? c->eager_ids.at[i].value : 0;
        for (tc__eager *e = (tc__eager *)(uintptr_t)first, *next; e; e = next) {
            next = e->next;
            tc__eager_free(c, e);
        }
    }
    tc__map_free(&c->eager_ids);
    c->eager_held = 0;
}

static tc__eager *tc__eager_find(tc_ctx *c, const tc__call *k, const uint32_t *code) {
    uint64_t found = 0, h = tc__eager_hash(c, &c->eager_visit, k, code);
    tc__map_get(&c->eager_ids, h, &found);
    tc__eager *first = (tc__eager *)(uintptr_t)found;
    int device = tc__visit_device(c, &c->eager_visit);
    for (tc__eager *e = first; e; e = e->next)
        if (e->device == device && tc__eager_same(e, &c->eager_visit, k, code)) return e;
    // Shapes that change without end: an op is prepared again in 0.1 ms, so all of them go.
    size_t most = c->recordings_limit ? c->recordings_limit : TC__EAGER_BYTES;
    if (c->eager_held > most) tc__eager_forget(c), first = NULL;
    size_t bytes = tc__core_of(c)->bytes;
    tc__eager *e = tc__eager_new(c, k, code);
    if (!e) return NULL;
    e->next = first;
    if (tc__core_of(c)->bytes > bytes) c->eager_held += tc__core_of(c)->bytes - bytes;
    if (tc__map_set(&c->eager_ids, h, (uint64_t)(uintptr_t)e)) return e;
    tc__eager_free(c, e);
    return NULL;
}

static tc_tensor tc__eager_result(tc_ctx *c, const tc__call *k, tc__eager *e) {
    if (k->op == TC_OP_COPY_) return tc__eager_wrote(c, k->in[0]), k->in[0];
    tc__output *o = &e->program->output.at[0];
    tc__storage *s = o->storage;
    // The result owns its storage alone: the program must not write it again.
    for (int i = 0; i < TC__KEPT; i++)
        if (o->kept[i] == s) o->kept[i] = NULL;
    return tc__tensor_new(c, o->layout, s, 0, k->site.file, k->site.line);
}

static tc_tensor tc__eager_compute(tc_ctx *c, const tc__call *k) {
    uint32_t code[TC__MAX_OPERANDS];
    tc__visit *v = &c->eager_visit;
    tc_tensor t = tc__null();
    if (k->n_in > TC__MAX_OPERANDS) {
        tc__fail(c, TC_E_ARG, "%s: more than %d operands", tc__called(c, k->op),
                 TC__MAX_OPERANDS);
        return t;
    }
    if (tc__eager_check(c, k) && tc__eager_bind(c, k, code)) {
        tc__eager *e = tc__eager_find(c, k, code);
        v->draw = c->recorder.draw;
        if (e && tc__program_run(e->program, v)) t = tc__eager_result(c, k, e);
    }
    tc__unbind_to(c, v, 0);
    c->stats.eager_ops++;
    return t;
}

// ---- views ----

// Tensor `view` shows what `h` does, a result of a region that the region frees: so it frees the view.
static int tc__view_follow(tc_ctx *c, tc_tensor h, const tc__tensor *of, tc_tensor view) {
    const tc__visit *v = tc__is_visit(h) ? tc__visit_find(c, h) : NULL;
    tc__tensor *t = tc__slot_find(c, view);
    if (of->scope == TC__OF_REGION) return tc__own(c, of->region, of->way, t);
    if (!v || v->state != TC__VISIT_DONE || tc__known_find(c, h.id)) return 1;
    return tc__own(c, v->region, v->at, t);
}

static int tc__eager_view(tc_ctx *c, const tc__call *k, tc_tensor *out) {
    tc__infer q;
    int64_t offset;
    uint32_t id;
    if (tc__ops[k->op].kind != TC__KIND_MOVE) return 0;
    tc__tensor *t = tc__tensor_need(c, tc__called(c, k->op), k->in[0]);
    *out = tc__null();
    if (!t || !tc__call_infer(c, NULL, k, &q)) return 1;
    if (!tc__view_of(c, k->op, k->attr, t->layout, &q.out, &id, &offset)) return 0;
    if (!id) return 1;
    t->storage->refs++;
    *out =
        tc__tensor_new(c, id, t->storage, t->offset + offset, k->site.file, k->site.line);
    if (out->id) (void)tc__view_follow(c, k->in[0], t, *out);
    return 1;
}

// ---- between tc_disable_begin and its end ----

// Whether the suspended region has this memory: as what it read, or as what it computed.
static int tc__suspended_has(const tc__visit *v, const tc__storage *s) {
    for (size_t i = 0; i < v->external.count; i++)
        if (v->external.at[i].storage == s) return 1;
    for (size_t i = 0; i < v->result.count; i++)
        if (v->result.at[i].storage == s) return 1;
    return 0;
}

// The operands of an eager call, as the code around it in the region sees them. What the region has is
// not to be written here: it would be recorded too late. 0 = reported.
static int tc__suspended_operands(tc_ctx *c, const tc__call *k, tc_tensor *in) {
    const tc__visit *v = c->recorder.suspended;
    const char *who = tc__called(c, k->op);
    if (k->n_in > TC__MAX_OPERANDS)
        return tc__fail(c, TC_E_ARG, "%s: more than %d operands", who, TC__MAX_OPERANDS);
    for (uint32_t i = 0; i < k->n_in; i++) {
        in[i] = k->in[i];
        if (!tc__region_value(c, who, &in[i], k->site)) return 0;
    }
    if (k->op != TC_OP_COPY_) return 1;
    const tc__tensor *to = tc__tensor_need(c, who, k->in[0]);
    if (!to) return 0;
    if (!tc__suspended_has(v, to->storage)) return 1;
    return tc__fail(
        c, TC_E_STATE,
        "%s: writes in place, between tc_disable_begin and its end, what region "
        "\"%s\" uses; write it in the region, or outside",
        who, v->region->name);
}

// Hook: one call outside regions.
static tc_tensor tc__hook_eager(tc_ctx *c, const tc__call *k) {
    tc_tensor t, in[TC__MAX_OPERANDS];
    tc__call seen = *k;
    if (k->op == TC_OP_KEEP) return k->in[0];
    if (TC__UNLIKELY(c->recorder.suspended != NULL)) {
        if (!tc__suspended_operands(c, k, in)) return tc__null();
        seen.in = in, k = &seen;
    }
    tc__call constant = *k; // a value of its own is one more constant here
    if (k->op == TC_OP_ARG) constant.op = TC_OP_CONST, k = &constant;
    if (tc__eager_view(c, k, &t)) return t;
    return tc__eager_compute(c, k);
}
