// Running a program: bind base pointers, call each kernel over its items, write back. Nothing is
// allocated but storage for outputs whose old storage is still in use.

static tc__storage *tc__output_storage(tc_ctx *c, tc__output *o) {
    for (int i = 0; i < 2; i++)
        if (o->kept[i] && o->kept[i]->refs == 1 && o->kept[i]->bytes >= o->bytes)
            return o->storage = o->kept[i];
    tc__storage *s = tc__storage_new(c, o->bytes);
    if (!s) return NULL;
    int i = o->kept[0] != NULL;
    tc__storage_unref(c, o->kept[i]);
    o->kept[i] = s;
    return o->storage = s;
}

static void *tc__external_data(tc_ctx *c, const tc__external *e) {
    int64_t bytes = (int64_t)tc__dtype(tc__layout_at(c, e->layout)->dtype)->bytes;
    return (char *)e->storage->data + e->offset * bytes;
}

static int tc__program_storages(tc__program *p, const tc__visit *v) {
    for (size_t i = 0; i < p->output.count; i++) {
        tc__output *o = &p->output.at[i];
        if (o->direct) continue;
        if (o->alias) {
            o->storage = v->external.at[o->external].storage;
            continue;
        }
        const tc__output *first = &p->output.at[o->first];
        if (first != o && !o->copy)
            o->storage = first->storage;
        else if (!tc__output_storage(p->ctx, o))
            return 0;
    }
    return 1;
}

static void *tc__input_data(tc__program *p, const tc__visit *v, uint32_t source) {
    if (source < p->externals) return tc__external_data(p->ctx, &v->external.at[source]);
    const tc__tensor *t = &v->result.at[v->result_of.at[source - p->externals] - 1];
    return tc__tensor_data(t, tc__layout_at(p->ctx, t->layout)->dtype);
}

static void *tc__output_data(const tc__program *p, const tc__visit *v, uint32_t i) {
    const tc__output *o = &p->output.at[i];
    return o->direct ? tc__external_data(p->ctx, &v->external.at[o->external])
                     : o->storage->data;
}

static void tc__program_look_up(tc__program *p, const tc__visit *v) {
    p->bound = NULL;
    for (size_t i = 0; i < p->address.count; i++) {
        const tc__address *a = &p->address.at[i];
        *a->at =
            a->output ? tc__output_data(p, v, a->source) : tc__input_data(p, v, a->source);
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

static void tc__launch_part(void *arg, int64_t lo, int64_t hi, int worker) {
    tc__launch *l = (tc__launch *)arg;
    tc__fp_state host = tc__fp_enter();
    if (l->run)
        l->run(&l->args, lo, hi, worker);
    else
        tc__interp_run(l->interp, &l->args, lo, hi, worker);
    tc__fp_leave(host);
}

// dst (strided by l) = src (dense), element by element in runs of the last dimension.
static void tc__copy_to_strided(const tc__layout *l, void *dst, const void *src) {
    int64_t at[TC_MAX_RANK] = {0}, bytes = (int64_t)tc__dtype(l->dtype)->bytes;
    const char *s = (const char *)src;
    if (l->contiguous) {
        memcpy(dst, src, (size_t)(l->numel * bytes));
        return;
    }
    for (int64_t i = 0; i < l->numel; i++, s += bytes) {
        int64_t offset = 0;
        for (int d = 0; d < l->rank; d++) offset += at[d] * l->strides[d];
        memcpy((char *)dst + offset * bytes, s, (size_t)bytes);
        for (int d = l->rank - 1; d >= 0 && ++at[d] == l->dims[d]; d--) at[d] = 0;
    }
}

// Outputs that were the same node get memory of their own.
static void tc__program_copies(tc__program *p, const tc__visit *v) {
    for (size_t i = 0; i < p->output.count; i++) {
        const tc__output *o = &p->output.at[i];
        if (!o->copy) continue;
        const tc__layout *l = tc__layout_at(p->ctx, o->layout);
        memcpy(o->storage->data, tc__output_data(p, v, o->first),
               (size_t)l->numel * tc__dtype(l->dtype)->bytes);
    }
}

static void tc__program_write_back(tc__program *p, const tc__visit *v) {
    for (size_t i = 0; i < p->output.count; i++) {
        const tc__output *o = &p->output.at[i];
        if (o->position != UINT32_MAX) continue;
        const tc__external *e = &v->external.at[o->external];
        e->storage->version++;
        if (!o->direct)
            tc__copy_to_strided(tc__layout_at(p->ctx, e->layout),
                                tc__external_data(p->ctx, e), o->storage->data);
    }
}

static int tc__program_flagged(tc__program *p) {
    if (!p->flag[0]) return 1;
    const char *op = "index";
    for (size_t i = 0; i < p->graph.node.count; i++) {
        const tc__node *n = p->graph.node.at[i];
        if (tc__is_kind(n, TC__KIND_GATHER) && n->in[1] == p->flag[0] - 1)
            op = tc__op_name((tc__op)n->op);
    }
    return tc__fail(p->ctx, TC_E_INDEX,
                    "%s: index %lld is out of range for size %lld; it was clamped "
                    "and the results are not valid",
                    op, (long long)p->flag[1], (long long)p->flag[2]);
}

// Memory that is written in place must not also be another storage's: two tc_wrap of the
// same bytes know nothing of each other.
static int tc__program_apart(const tc__program *p, const tc__visit *v) {
    for (size_t i = 0; i < p->output.count; i++) {
        if (p->output.at[i].position != UINT32_MAX) continue;
        uint32_t written = p->output.at[i].external;
        const tc__storage *a = v->external.at[written].storage;
        for (uint32_t k = 0; k < v->external.count; k++) {
            const tc__storage *b = v->external.at[k].storage;
            uintptr_t x = (uintptr_t)a->data, y = (uintptr_t)b->data;
            if (a == b || x >= y + b->bytes || y >= x + a->bytes) continue;
            return tc__fail(p->ctx, TC_E_ALIAS,
                            "region \"%s\": external %u is written in place, and external "
                            "%u wraps some of the same memory; wrap it once and use views",
                            v->region ? v->region->name : "eager", (unsigned)written,
                            (unsigned)k);
        }
    }
    return 1;
}

// ---- custom ops ----

// The first custom op that cannot run, NULL = none.
static const tc__custom *tc__program_lacks(const tc__program *p) {
    for (size_t i = 0; p->customs && i < p->launch.count; i++)
        if (p->launch.at[i].custom && !p->launch.at[i].run)
            return p->launch.at[i].custom->op;
    return NULL;
}

// An op that has only source is compiled, whatever else is. 0 = reported.
static int tc__program_has_code(tc__program *p, const tc__visit *v) {
    const tc__custom *o = tc__program_lacks(p);
    const char *why = TC__JIT ? "the backend is interp" : "this build has no compiler";
    if (!o) return 1;
    if (!p->ctx->interpret) {
        tc__program_compile(p, v->region ? v->region->name : "eager", TC__COMPILE_NEEDED);
        o = tc__program_lacks(p);
        why = tc__compiler_trouble(p->ctx);
    }
    return !o || tc__fail(p->ctx, TC_E_COMPILER,
                          "custom op \"%s\" has only c_source, which is not compiled here; "
                          "give it run too: %s",
                          o->op.name, why);
}

// Ops that the function makes nevertheless find no region to be recorded in, and are refused.
static int tc__custom_run(tc__program *p, tc__launch *l) {
    tc__recorder *r = tc__recorder_of(p->ctx);
    tc__visit *open = r->visit;
    tc__custom_bind(l->custom, l->buf);
    r->visit = NULL, r->values.core.calling++;
    tc__launch_part(l, 0, 1, 0);
    r->visit = open, r->values.core.calling--;
    return tc__custom_end(p->ctx, l->custom);
}

static int tc__launch_run(tc__program *p, tc__launch *l) {
    if (l->custom) return tc__custom_run(p, l);
    if (l->items > 0)
        tc__pool_run(tc__pool_of(p->ctx), tc__launch_part, l, l->items, l->grain);
    return 1;
}

// Runs the kernels with the visit's externals. 0 = reported; nothing was written back then.
static int tc__program_run(tc__program *p, tc__visit *v) {
    tc__recorder *r = tc__recorder_of(p->ctx);
    uint64_t start = tc__now_ns();
    p->flag[0] = p->flag[1] = p->flag[2] = 0;
    if (!tc__program_is_laid_out(p, v) && !tc__program_lay_out(p, v)) return 0;
    if (!tc__program_has_code(p, v)) return 0;
    if (!tc__program_apart(p, v) || !tc__program_storages(p, v)) return 0;
    tc__program_look_up(p, v);
    tc__program_args(p, v);
    int ok = 1;
    for (size_t i = 0; ok && i < p->launch.count; i++) {
        tc__launch *l = &p->launch.at[i];
        l->args.seed = r->seed, l->args.draw = v->draw;
        ok = tc__launch_run(p, l);
    }
    uint64_t took = tc__now_ns() - start;
    p->runs++, p->run_ns += took;
    tc__note_run(p->ctx, p->launch.count, took);
    if (!ok || !tc__program_flagged(p)) return 0;
    tc__program_copies(p, v);
    tc__program_write_back(p, v);
    return 1;
}
