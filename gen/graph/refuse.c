// Writes in place that were refused, or failed: what they were to write has old elements. Reading it, or
// computing with it, fails with the status of that write until the error is cleared or all of it is written
// anew; so a status tells of all that its call depends on. Ops that give a tensor need nothing of this:
// they give null then, which whoever uses it refuses.
//
// A storage holds the number of the last refusal, which counts for as long as the error does
// (tc__core.refused). In a visit that is open, what was recorded before a refusal is not concerned: which of
// its results are is told when they come into memory.

// The result or external whose memory `code` shows: itself, or what it is a view of.
static uint32_t tc__memory_of(const tc__visit *v, uint32_t code) {
    while (!(code & TC__EXTERNAL) && v->path.at[code]->view) code = v->path.at[code]->in[0];
    return code;
}

static int tc__is_refused(tc_ctx *c, const tc__storage *s) {
    return tc__core_of(c)->refused && s->refused == tc__core_of(c)->refused;
}

// Always 0.
static int tc__fail_refused(tc_ctx *c, const char *who) {
    tc_status item = tc__core_of(c)->refused_item;
    if (tc__core_of(c)->error_item) return tc__fail_after(c, item);
    return tc__fail(
        c, item,
        "%s: the tensor was to be written in place, and that failed (%s); write it "
        "anew, or clear the error to go on with what it has",
        who, tc__error_name(item));
}

// Whether t, which is read, has what was last written to it; 0 = reported.
static int tc__is_told(tc_ctx *c, const char *who, tc_tensor t) {
    if (TC__LIKELY(!tc__core_of(c)->refused)) return 1;
    const tc__tensor *m = tc__tensor_find(c, t);
    return !m || !tc__is_refused(c, m->storage) || tc__fail_refused(c, who);
}

// The same for operands from outside that are in memory.
static int tc__operands_told(tc_ctx *c, const tc__call *k) {
    for (uint32_t i = k->op == TC_OP_COPY_; tc__core_of(c)->refused && i < k->n_in; i++)
        if (!tc__is_told(c, tc__called(c, k->op), k->in[i])) return 0;
    return 1;
}

// The number that refusals have until the error is cleared.
static uint32_t tc__refusal(tc_ctx *c) {
    tc__core *core = tc__core_of(c);
    if (core->refused) return core->refused;
    core->refused = ++core->refusals ? core->refusals : ++core->refusals;
    core->refused_item = core->unit_item    ? core->unit_item
                         : core->error_item ? core->error_item
                                            : TC_E_NULL;
    return core->refused;
}

// dst was to be written in place, which failed.
static void tc__refuse(tc_ctx *c, tc_tensor dst) {
    tc__visit *v = tc__recorder_of(c)->visit;
    int ours = v && dst.id >> TC__SLOT_BITS == v->key;
    tc__tensor *m = ours ? NULL : tc__tensor_find(c, dst);
    tc__refusal_mark r;
    if (m) m->storage->refused = tc__refusal(c);
    if (!v || (m && m->bind_epoch != v->epoch) || (!m && !ours)) return;
    r.code = ours ? tc__position(dst) : TC__EXTERNAL | v->external.at[m->bind_index].alias;
    r.at = (uint32_t)v->path.count, r.number = tc__refusal(c);
    if (ours) r.code = tc__memory_of(v, r.code);
    tc__error_mark before = tc__error_now(c);
    if (!TC__PUSH(c, v->refusal, r)) tc__error_restore(c, before);
}

// All elements are written: what failed before does not matter any more.
static void tc__eager_wrote(tc_ctx *c, tc_tensor dst) {
    const tc__tensor *m = tc__tensor_find(c, dst);
    if (m && tc__is_all_of(tc__layout_at(c, m->layout), m->storage))
        m->storage->refused = 0;
}

// ---- what of a visit depends on refused writes ----

typedef struct tc__stale {
    const tc__visit *v;
    uint8_t *result, *external; // by position, by external: 1 = it does
} tc__stale;

static uint8_t *tc__stale_at(const tc__stale *s, uint32_t code) {
    if (!(code & TC__EXTERNAL)) return &s->result[code];
    return &s->external[s->v->external.at[code & ~TC__EXTERNAL].alias];
}

// Refusals before step `at`.
static void tc__stale_refused(tc_ctx *c, const tc__stale *s, uint32_t at) {
    for (size_t i = 0; i < s->v->refusal.count; i++) {
        const tc__refusal_mark *r = &s->v->refusal.at[i];
        if (r->at == at && r->number == tc__core_of(c)->refused)
            *tc__stale_at(s, r->code) = 1;
    }
}

// Whether code is all of the memory that it shows.
static int tc__is_all(tc_ctx *c, const tc__visit *v, uint32_t code) {
    if (!(code & TC__EXTERNAL)) return !v->path.at[code]->view;
    const tc__external *e = &v->external.at[code & ~TC__EXTERNAL];
    return tc__is_all_of(tc__layout_at(c, e->layout), e->storage);
}

static void tc__stale_step(tc_ctx *c, const tc__stale *s, uint32_t i) {
    const tc__step *step = s->v->path.at[i];
    int stale = 0;
    for (uint32_t k = step->op == TC_OP_COPY_; k < step->n_in; k++)
        stale |= *tc__stale_at(s, tc__memory_of(s->v, step->in[k]));
    if (step->op != TC_OP_COPY_)
        s->result[i] = (uint8_t)stale;
    else if (stale || tc__is_all(c, s->v, step->in[0]))
        *tc__stale_at(s, tc__memory_of(s->v, step->in[0])) = (uint8_t)stale;
}

// An external is stale from the begin if it was when the visit used it first.
static void tc__stale_begin(tc_ctx *c, const tc__stale *s) {
    for (uint32_t i = 0; i < s->v->external.count; i++) {
        int later = 0;
        for (size_t k = 0; k < s->v->refusal.count; k++)
            later |= s->v->refusal.at[k].code == (TC__EXTERNAL | i);
        s->external[i] = !later && tc__is_refused(c, s->v->external.at[i].storage) ? 1 : 0;
    }
}

static void tc__stale_tell(tc_ctx *c, const tc__stale *s) {
    const tc__visit *v = s->v;
    for (uint32_t i = 0; v->state == TC__VISIT_OPEN && i < v->external.count; i++)
        if (v->external.at[i].alias == i)
            v->external.at[i].storage->refused = s->external[i] ? tc__refusal(c) : 0;
    for (uint32_t p = 0; p < v->result_of.count; p++)
        if (v->result_of.at[p] && *tc__stale_at(s, tc__memory_of(v, p)))
            v->result.at[v->result_of.at[p] - 1].storage->refused = tc__refusal(c);
}

// The results of the visit that are in memory, and what it has written, are told from what they depend on.
// Without memory for that it is left out, and what was refused is told of by the context's error alone.
static void tc__refusals_settle(tc_ctx *c, const tc__visit *v) {
    size_t n = v->path.count + v->external.count + 1;
    tc__stale s;
    if (TC__LIKELY(!tc__core_of(c)->refused)) return;
    tc__error_mark before = tc__error_now(c);
    uint8_t *all = TC__NEW_ARRAY(c, uint8_t, n);
    tc__error_restore(c, before);
    if (!all) return;
    s.v = v, s.result = all, s.external = all + v->path.count;
    tc__stale_begin(c, &s);
    for (uint32_t i = 0; i < v->path.count; i++) {
        tc__stale_refused(c, &s, i);
        tc__stale_step(c, &s, i);
    }
    tc__stale_refused(c, &s, (uint32_t)v->path.count);
    tc__stale_tell(c, &s);
    TC__FREE_ARRAY(c, all, n);
}

// The visit has failed: nothing of what it was to write is written. Its externals may be copies by now, which
// late reads compute from.
static void tc__refuse_writes(tc_ctx *c, const tc__visit *v) {
    for (uint32_t i = 0; v->writes && i < v->path.count; i++) {
        const tc__step *s = v->path.at[i];
        uint32_t code = s->op == TC_OP_COPY_ ? tc__memory_of(v, s->in[0]) : 0;
        if (!(code & TC__EXTERNAL)) continue;
        tc__tensor *t = tc__tensor_find(c, v->external.at[code & ~TC__EXTERNAL].handle);
        if (t) t->storage->refused = tc__refusal(c);
    }
}

// Step s of the open visit writes all of an external: what failed before does not matter behind it.
static void tc__rewritten(tc_ctx *c, const tc__visit *v, const tc__step *s) {
    if (!tc__core_of(c)->refused || !(s->in[0] & TC__EXTERNAL)) return;
    if (tc__is_all(c, v, s->in[0]))
        v->external.at[s->in[0] & ~TC__EXTERNAL].storage->refused = 0;
}
