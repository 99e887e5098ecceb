// What a run reads and writes: storage for outputs, addresses of what is bound, run-time scalars, results behind the
// kernels, and what a kernel said of an index. exec/run.c does the rest.

// The colors of what a run reads, and of the results that have memory from earlier ones.
static uint32_t tc__colors_taken(const tc__program *p, const tc__visit *v) {
    uint32_t taken = 0;
    for (size_t i = 0; i < v->external.count; i++) {
        const tc__external *e = &v->external.at[i];
        if (e->storage && !e->storage->device && e->storage->bytes >= TC__COLORED)
            taken |= tc__color_bit(tc__external_data(p->ctx, e));
    }
    for (size_t i = 0; i < p->output.count * TC__KEPT; i++) {
        const tc__storage *s = p->output.at[i / TC__KEPT].kept[i % TC__KEPT];
        if (s && !s->device && s->bytes >= TC__COLORED) taken |= tc__color_bit(s->data);
    }
    return taken;
}

static tc__storage *tc__output_storage(const tc__program *p, const tc__visit *v,
                                       tc__output *o) {
    tc_ctx *c = p->ctx;
    for (int i = 0; i < TC__KEPT; i++)
        if (o->kept[i] && o->kept[i]->refs == 1 && o->kept[i]->bytes >= o->bytes)
            return o->storage = o->kept[i];
    const tc_status before = tc_error(c);
    tc__claim claim = tc__claim_take(c);
    if (o->bytes >= TC__COLORED) tc__core_of(c)->taken = tc__colors_taken(p, v);
    tc__storage *s = tc__storage_on(c, tc__device_at(c, tc__output_device(p, o)), o->bytes);
    tc__core_of(c)->taken = 0;
    tc__claim_end(c, claim);
    if (!s) return tc__no_room(p, before, o->node, ""), (tc__storage *)NULL;
    int i = TC__KEPT - 1; // one that is not there, or too small; else the oldest
    while (i >= 0 && o->kept[i] && o->kept[i]->refs > 1) i--;
    if (i < 0) i = o->oldest, o->oldest = (uint8_t)((o->oldest + 1) % TC__KEPT);
    tc__storage_unref(c, o->kept[i]);
    o->kept[i] = s;
    return o->storage = s;
}

static int tc__program_storages(tc__program *p, const tc__visit *v) {
    for (size_t i = 0; i < p->output.count; i++) {
        tc__output *o = &p->output.at[i];
        if (o->direct || o->beside) continue;
        if (o->alias) {
            o->storage = v->external.at[o->external].storage;
            continue;
        }
        const tc__output *first = &p->output.at[o->first];
        if (first != o && !o->copy)
            o->storage = first->storage;
        else if (!tc__output_storage(p, v, o))
            return 0;
    }
    return 1;
}

static void *tc__input_data(tc__program *p, const tc__visit *v, uint32_t source) {
    if (source < p->externals) return tc__external_data(p->ctx, &v->external.at[source]);
    const tc__tensor *t = &v->result.at[v->result_of.at[source - p->externals] - 1];
    return tc__tensor_data(t, tc__layout_at(p->ctx, t->layout)->dtype);
}

// Where a write-back goes.
static void *tc__landing_data(const tc__program *p, const tc__visit *v,
                              const tc__output *o) {
    const tc__external *e = &v->external.at[o->external];
    int64_t bytes = (int64_t)tc__dtype(tc__layout_at(p->ctx, e->layout)->dtype)->bytes;
    return (char *)tc__external_data(p->ctx, e) + o->offset * bytes;
}

static void *tc__output_data(const tc__program *p, const tc__visit *v, uint32_t i) {
    const tc__output *o = &p->output.at[i];
    if (o->beside) return tc__node_memory(p, o->node);
    return o->direct ? tc__landing_data(p, v, o) : o->storage->data;
}

static void tc__program_look_up(tc__program *p, const tc__visit *v) {
    p->bound = NULL;
    for (size_t i = 0; i < p->address.count; i++) {
        const tc__address *a = &p->address.at[i];
        void *data =
            a->output ? tc__output_data(p, v, a->source) : tc__input_data(p, v, a->source);
        *a->at = (char *)data + a->begin;
    }
}

static void tc__program_args(tc__program *p, const tc__visit *v) {
    for (size_t i = 0; i < p->arg.count; i++) {
        const tc__run_arg *a = &p->arg.at[i];
        double x;
        memcpy(&x, &v->arg.at[a->number], sizeof x);
        memcpy(&p->arg_now.at[i], &v->arg.at[a->number], sizeof *p->arg_now.at);
        if (!a->is_value) p->arg_now.at[i] = tc__value_of(x, a->dtype);
    }
}

// ---- outputs ----

// Results that are the same node get memory of their own, and externals what is written. 0 = reported.
static int tc__program_finish(tc__program *p, const tc__visit *v) {
    int ok = 1;
    for (size_t i = 0; ok && i < p->output.count; i++) {
        const tc__output *o = &p->output.at[i];
        int back = o->position == UINT32_MAX;
        if (back) v->external.at[o->external].storage->version++;
        if (!(o->copy || (back && !o->direct))) continue;
        const tc__layout *l = tc__layout_at(p->ctx, o->layout);
        void *to = back ? tc__landing_data(p, v, o) : o->storage->data;
        const void *from = tc__output_data(p, v, back ? (uint32_t)i : o->first);
        if (l->contiguous && l->numel)
            ok = tc__device_copy(p->ctx, tc__device_at(p->ctx, l->device),
                                 "a copy of a result", to, from,
                                 (size_t)l->numel * tc__dtype(l->dtype)->bytes);
        else if (l->numel)
            ok = tc__device_on(p->ctx, l->device)->runner->spread(p, l, to, from);
    }
    return ok;
}

// Whether operand 1 of the node is an index, which is checked.
static int tc__takes_index(const tc__node *n) {
    return tc__is_kind(n, TC__KIND_GATHER) || tc__changes_some(n->op);
}

// The size that it is checked against, in the last run.
static int64_t tc__index_limit(const tc__program *p, const tc__node *n) {
    const tc__node *of = tc__operand(&p->graph, n, 0);
    tc__ixenv env;
    memset(&env, 0, sizeof env);
    env.sym = p->size.at;
    int64_t dim = tc__is_kind(n, TC__KIND_GATHER) ? n->attr[TC__GATHER_DIM]
                  : n->op == TC_OP_ROW_ADD        ? 0
                                                  : of->rank - 1;
    return dim < 0 ? 1 : tc__ix_eval(p->graph.ix, of->dims[dim], &env);
}

static int tc__program_flagged(tc__program *p) {
    if (!p->flag[0]) return 1;
    const tc__node *op = NULL;
    for (size_t i = 0; i < p->graph.node.count; i++) {
        const tc__node *n = p->graph.node.at[i];
        if (tc__takes_index(n) && n->in[1] == p->flag[0] - 1 &&
            (!op ||
             (tc__index_limit(p, op) != p->flag[2] && tc__index_limit(p, n) == p->flag[2])))
            op = n; // the first: a derivative takes the same index later
    }
    char who[200] = "index";
    if (op) tc__culprit(p, op, who, sizeof who);
    tc__site was = tc__site_swap(p->ctx, tc__culprit_site(p, op));
    tc__fail(p->ctx, TC_E_INDEX,
             "%s: index %lld is out of range for size %lld; it was clamped "
             "and the results are not valid",
             who, (long long)tc__from_front_told(p->flag[1]), (long long)p->flag[2]);
    tc__site_set(p->ctx, was);
    return 0;
}

// External i, as errors name it: by its dtype and where it was made.
static const char *tc__external_text(tc_ctx *c, const tc__visit *v, uint32_t i,
                                     char out[200]) {
    const tc__external *e = &v->external.at[i];
    const tc__tensor *t = e->handle.id ? tc__tensor_find(c, e->handle) : NULL;
    const char *dtype = tc__dtype(tc__layout_at(c, e->layout)->dtype)->name;
    if (t && t->file)
        snprintf(out, 200, "the %s tensor made at %.140s:%d", dtype, t->file, t->line);
    else
        snprintf(out, 200, "the %s tensor that is external %u", dtype, (unsigned)i);
    return out;
}

// What runs, as errors name it: a region, or the op alone.
static const char *tc__visit_text(tc_ctx *c, const tc__visit *v, char out[200]) {
    const char *doing = tc__core_of(c)->doing;
    if (v->region)
        snprintf(out, 200, "%s \"%.150s\"", tc__region_kind(v->region), v->region->name);
    else
        snprintf(out, 200, "%.150s", doing ? doing : "eager");
    return out;
}

// The last call that writes external i in place is what errors are about; gives what they were about.
static tc__site tc__site_of_write(tc_ctx *c, const tc__visit *v, uint32_t i) {
    for (size_t k = v->path.count; k-- > 0;) {
        const tc__step *s = v->path.at[k];
        uint32_t to = s->op == TC_OP_COPY_ ? tc__memory_of(v, s->in[0]) : 0;
        if (!(to & TC__EXTERNAL) || !s->site.file) continue;
        if (v->external.at[to & ~TC__EXTERNAL].storage == v->external.at[i].storage)
            return tc__site_swap(c, s->site);
    }
    tc__site here;
    here.file = tc__core_of(c)->site_file, here.line = tc__core_of(c)->site_line;
    return here;
}

static int tc__fail_shared_write(const tc__program *p, const tc__visit *v,
                                 uint32_t written) {
    char who[200], first[200];
    tc__site was = tc__site_of_write(p->ctx, v, written);
    tc__fail(p->ctx, TC_E_FOREIGN,
             "%s: %s is written in place, and belongs to the context this one was opened "
             "from; tc_clone it",
             tc__visit_text(p->ctx, v, who), tc__external_text(p->ctx, v, written, first));
    tc__site_set(p->ctx, was);
    return 0;
}

static int tc__fail_alias(const tc__program *p, const tc__visit *v, uint32_t written,
                          uint32_t k) {
    char who[200], first[200], other[200];
    tc__site was = tc__site_of_write(p->ctx, v, written);
    tc__fail(p->ctx, TC_E_ALIAS,
             "%s: %s is written in place, and %s wraps some of the same memory; wrap it "
             "once and use views",
             tc__visit_text(p->ctx, v, who), tc__external_text(p->ctx, v, written, first),
             tc__external_text(p->ctx, v, k, other));
    tc__site_set(p->ctx, was);
    return 0;
}

// Whether what is written may be memory that somebody wrapped; SHARED is refused: reported.
static int tc__program_writes_wrapped(const tc__program *p, const tc__visit *v,
                                      int *wrapped) {
    *wrapped = 0;
    for (size_t i = 0; i < p->output.count; i++) {
        if (p->output.at[i].position != UINT32_MAX) continue;
        uint32_t written = p->output.at[i].external;
        int owner = v->external.at[written].storage->owner;
        if (owner == TC__SHARED) return tc__fail_shared_write(p, v, written);
        *wrapped |= owner == TC__WRAPPED;
    }
    return 1;
}

// Memory that is written in place must not also be another storage's: two tc_wrap of the
// same bytes know nothing of each other. What nobody wrapped is nobody else's.
static int tc__program_apart(const tc__program *p, const tc__visit *v) {
    int wrapped;
    if (!tc__program_writes_wrapped(p, v, &wrapped)) return 0;
    for (uint32_t k = 0; k < v->external.count; k++) {
        const tc__storage *b = v->external.at[k].storage;
        if (!wrapped && b->owner != TC__WRAPPED) continue;
        for (size_t i = 0; i < p->output.count; i++) {
            uint32_t written = p->output.at[i].external;
            if (p->output.at[i].position == UINT32_MAX &&
                tc__storages_meet(v->external.at[written].storage, b))
                return tc__fail_alias(p, v, written, k);
        }
    }
    return 1;
}
