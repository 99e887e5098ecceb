// Recording: the entry of every primitive, and the visits of regions.
// Input: primitive calls from user code and composites. Output: a handle at once, and a path of steps
// per visit. exec/ is reached through the hooks of the recorder.

static int tc__fail_calling(tc_ctx *c, const char *who) {
    return tc__fail(c, TC_E_STATE,
                    "%s: called by a function of a custom op or backend, which must not "
                    "use the context; tc_host_call may",
                    who);
}

static int tc__is_calling(tc_ctx *c, const char *who) {
    return tc__core_of(c)->calling ? !tc__fail_calling(c, who) : 0;
}

// Whether the calling thread may use the open visit; 0 = reported. Asked off the fast path only:
// a thread that goes astray misses a step sooner or later.
static int tc__visit_is_ours(tc_ctx *c, const char *who) {
    const tc__recorder *r = tc__recorder_of(c);
    const tc__visit *v = r->visit ? r->visit : r->suspended;
    if (tc__core_of(c)->calling) return tc__fail_calling(c, who);
    if (!v || v->thread == tc__thread_self()) return 1;
    return tc__fail(
        c, TC_E_THREAD,
        "%s: another thread has region \"%s\" open since %s:%d; a context is used "
        "by one thread at a time: open one for each",
        who, v->region->name, v->begin.file ? v->begin.file : "?", v->begin.line);
}

// The status of a call that tc__visit_is_ours refused.
static tc_status tc__not_ours(tc_ctx *c) {
    return tc__core_of(c)->calling ? TC_E_STATE : TC_E_THREAD;
}

// The entry of every primitive: records inside a region, runs at once outside.
static tc_tensor tc__record(tc_ctx *c, const tc__call *k) {
    tc__recorder *r = tc__recorder_of(c);
    tc__visit *v = r->visit;
    tc_tensor t = tc__null();
    if (!v && !tc__core_of(c)->calling) {
        tc__site_set(c, k->site);
        return r->hooks->eager(c, k);
    }
    if (!tc__visit_is_ours(c, tc__op_name(k->op))) return t;
    tc__step *s = tc__visit_step(c, v, k);
    t.id = s ? v->first | (uint32_t)(v->path.count - 1) : 0;
    return t;
}

// The context that works on a tensor: the one it belongs to, or a child of that which runs on this
// thread. NULL for a null tensor or a closed context.
TC__ALWAYS_INLINE tc_ctx *tc__ctx_of(tc_tensor t) {
    tc_ctx *c = tc__ctx_at((unsigned)(t.id >> 56));
    if (c && TC__UNLIKELY(tc__atomic_load32(&tc__values_of(c)->children)))
        return tc__ctx_here(c);
    return c;
}

// The context of a call: of its first tensor, or a child of that one if a tensor belongs to it.
static tc_ctx *tc__ctx_of_all(const tc_tensor *in, uint32_t n) {
    tc_ctx *c = n ? tc__ctx_of(in[0]) : NULL;
    for (uint32_t i = 1; i < n; i++) {
        if (in[i].id >> 56 == in[i - 1].id >> 56) continue;
        tc_ctx *of = tc__ctx_of(in[i]);
        if (!c || (of && of != c && tc__values_of(of)->parent == c)) c = of;
    }
    return c;
}

// ---- entries by arity, for the generated functions ----

static tc_tensor tc__op_slow(tc__op op, const tc_tensor *in, uint32_t n,
                             const int64_t *attr, uint32_t n_attr, const char *file,
                             int line) {
    tc__call k;
    tc_ctx *c = tc__ctx_of_all(in, n);
    if (!c) return tc__null();
    k.op = op, k.n_in = n, k.n_attr = n_attr, k.in = in, k.attr = attr;
    k.site.file = file, k.site.line = line, k.dtype = 0, k.rank = 0, k.dims = NULL;
    return tc__record(c, &k);
}

// Is the call the first expected step `s`, all of whose operands are results of this visit or bound
// already? The common case of a re-run body, in a few compares per operand.
TC__ALWAYS_INLINE int tc__follows(const tc__visit *v, const tc__step *s, uint64_t form,
                                  const tc_tensor *in, uint32_t n, const int64_t *attr,
                                  uint32_t n_attr) {
    if (!s || s->form != form) return 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t code = s->in[i], e = code & ~TC__EXTERNAL;
        if (!(code & TC__EXTERNAL)) {
            if (in[i].id != (v->first | code)) return 0;
        } else if (e >= v->external.count || v->external.at[e].handle.id != in[i].id) {
            return 0;
        }
    }
    for (uint32_t i = 0; i < n_attr; i++)
        if (s->attr[i] != attr[i]) return 0;
    return v->path.count < v->path.capacity;
}

// The result of a call that follows the visit; null = it takes the long way, tc__op_slow.
TC__ALWAYS_INLINE tc_tensor tc__op_follow(uint64_t form, const tc_tensor *in, uint32_t n,
                                          const int64_t *attr, uint32_t n_attr) {
    tc_ctx *c = tc__ctx_at((unsigned)(in[0].id >> 56));
    int shared = c && tc__atomic_load32(&tc__values_of(c)->children);
    tc__visit *v = c && TC__LIKELY(!shared) ? tc__recorder_of(c)->visit : NULL;
    tc_tensor t = tc__null();
    if (!v || !tc__follows(v, v->at->next, form, in, n, attr, n_attr)) return t;
    v->at = v->at->next;
    t.id = v->first | (uint32_t)v->path.count;
    v->path.at[v->path.count++] = v->at;
    return t;
}

static tc_tensor tc__op_n(tc__op op, const tc_tensor *in, uint32_t n, const int64_t *attr,
                          uint32_t n_attr, const char *file, int line) {
    tc_tensor t = tc__op_follow(tc__form_of(op, n, n_attr), in, n, attr, n_attr);
    return t.id ? t : tc__op_slow(op, in, n, attr, n_attr, file, line);
}

// By arity. The long way is a function of the same parameters: a call that follows moves nothing from
// where it is and saves no register.

TC__NOINLINE static tc_tensor tc__op1_slow(tc_tensor a, const char *file, int line,
                                           uint64_t form) {
    return tc__op_slow(tc__form_op(form), &a, 1, NULL, 0, file, line);
}

static tc_tensor tc__op1(tc_tensor a, const char *file, int line, uint64_t form) {
    tc_tensor t = tc__op_follow(form, &a, 1, NULL, 0);
    return t.id ? t : tc__op1_slow(a, file, line, form);
}

TC__NOINLINE static tc_tensor tc__op2_slow(tc_tensor a, tc_tensor b, const char *file,
                                           int line, uint64_t form) {
    tc_tensor in[2];
    in[0] = a, in[1] = b;
    return tc__op_slow(tc__form_op(form), in, 2, NULL, 0, file, line);
}

static tc_tensor tc__op2(tc_tensor a, tc_tensor b, const char *file, int line,
                         uint64_t form) {
    tc_tensor in[2], t;
    in[0] = a, in[1] = b;
    t = tc__op_follow(form, in, 2, NULL, 0);
    return t.id ? t : tc__op2_slow(a, b, file, line, form);
}

static tc_tensor tc__op3(tc_tensor a, tc_tensor b, tc_tensor d, const char *file, int line,
                         uint64_t form) {
    tc_tensor in[3];
    in[0] = a, in[1] = b, in[2] = d;
    return tc__op_n(tc__form_op(form), in, 3, NULL, 0, file, line);
}

typedef enum tc__side { TC__SCALAR_RIGHT, TC__SCALAR_LEFT } tc__side;

TC__NOINLINE static tc_tensor tc__op_scalar_slow(tc_tensor a, double s, const char *file,
                                                 int line, uint64_t form) {
    int64_t attr[2];
    memcpy(&attr[0], &s, sizeof s);
    attr[1] = form == tc__form_of_scalar(tc__form_op(form), TC__SCALAR_LEFT);
    return tc__op_slow(tc__form_op(form), &a, 1, attr, 2, file, line);
}

// op(a, s), or op(s, a) with the scalar on the left.
static tc_tensor tc__op_scalar(tc_tensor a, double s, const char *file, int line,
                               uint64_t form) {
    int64_t value;
    memcpy(&value, &s, sizeof s);
    tc_tensor t = tc__op_follow(form, &a, 1, &value, 1);
    return t.id ? t : tc__op_scalar_slow(a, s, file, line, form);
}

static tc_tensor tc__source(tc_ctx *c, tc__op op, int dtype, int rank, const int64_t *dims,
                            const int64_t *attr, uint32_t n_attr, const char *file,
                            int line) {
    tc__call k;
    int64_t ix[TC_MAX_RANK];
    if (!tc__dims_check(c, tc__op_name(op), rank, dims)) return tc__null();
    for (int i = 0; i < rank; i++) ix[i] = tc__ix_const(dims[i]);
    k.op = op, k.n_in = 0, k.n_attr = n_attr, k.in = NULL, k.attr = attr;
    k.site.file = file, k.site.line = line;
    k.dtype = (uint8_t)dtype, k.rank = (uint8_t)rank, k.dims = ix;
    return tc__record(c, &k);
}

// ---- visits ----

// Result `from` of a visit becomes the caller's, under its id; 0 = out of memory.
static int tc__kept_add(tc_ctx *c, uint64_t id, const tc__tensor *from) {
    tc__recorder *r = tc__recorder_of(c);
    if (tc__map_get(&r->kept, id, NULL)) return 1;
    tc__tensor *t = TC__NEW(c, tc__tensor);
    if (!t) return 0;
    if (!TC__VEC_RESERVE(c, r->kept_ids, r->kept_ids.count + 1) ||
        !tc__map_set(&r->kept, id, (uint64_t)(uintptr_t)t))
        return tc__free(c, t, sizeof *t), 0;
    *t = *from;
    t->storage->refs++;
    return TC__PUSH(c, r->kept_ids, id);
}

enum { TC__SCOPE_FREED = -1 }; // of a visit's result: tc_free was called for it

// Kept results outlive their visit: they move to the recorder's table.
static void tc__visit_hand_over(tc_ctx *c, tc__visit *v) {
    for (size_t i = 0; i < v->path.count; i++) {
        const tc__step *s = v->path.at[i];
        uint32_t p = s->n_in ? s->in[0] : 0;
        if (s->op != TC_OP_KEEP || (p & TC__EXTERNAL)) continue;
        if (p >= v->result_of.count || !v->result_of.at[p]) continue;
        const tc__tensor *t = &v->result.at[v->result_of.at[p] - 1];
        if (t->scope != (uint32_t)TC__SCOPE_FREED) (void)tc__kept_add(c, v->first | p, t);
    }
}

// Frees a kept result; 0 = there is none of this id.
static int tc__kept_free(tc_ctx *c, uint64_t id) {
    tc__recorder *r = tc__recorder_of(c);
    uint64_t found;
    if (!tc__map_get(&r->kept, id, &found)) return 0;
    tc__tensor *t = (tc__tensor *)(uintptr_t)found;
    tc__map_remove(&r->kept, id);
    for (size_t i = 0; i < r->kept_ids.count; i++)
        if (r->kept_ids.at[i] == id)
            r->kept_ids.at[i] = r->kept_ids.at[--r->kept_ids.count];
    tc__storage_unref(c, t->storage);
    tc__free(c, t, sizeof *t);
    return 1;
}

// tc_free for a result of a region: one that was kept is the caller's no more, also where its visit has
// not handed it over yet.
static void tc__result_free(tc_ctx *c, tc_tensor t) {
    const tc__visit *v = tc__visit_find(c, t);
    uint32_t p = tc__position(t);
    (void)tc__kept_free(c, t.id);
    if (v && p < v->result_of.count && v->result_of.at[p])
        v->result.at[v->result_of.at[p] - 1].scope = (uint32_t)TC__SCOPE_FREED;
}

static void tc__visit_clear(tc_ctx *c, tc__visit *v) {
    if (v->region && v->region->keeps && v->state == TC__VISIT_DONE)
        tc__visit_hand_over(c, v);
    if (v->epoch) tc__map_remove(&tc__recorder_of(c)->visits, v->epoch);
    tc__unbind_to(c, v, 0);
    for (size_t i = 0; i < v->result.count; i++)
        tc__storage_unref(c, v->result.at[i].storage);
    v->result.count = v->result_of.count = v->path.count = 0;
    v->state = TC__VISIT_NONE;
    v->epoch = 0;
}

static void tc__region_free(tc_ctx *c, tc__region *r) {
    tc__recorder_of(c)->hooks->forget(c, r);
    for (int i = 0; i < 2; i++) {
        tc__visit_clear(c, &r->visit[i]);
        TC__VEC_FREE(c, r->visit[i].path);
        TC__VEC_FREE(c, r->visit[i].external);
        TC__VEC_FREE(c, r->visit[i].result);
        TC__VEC_FREE(c, r->visit[i].result_of);
        TC__VEC_FREE(c, r->visit[i].size);
        TC__VEC_FREE(c, r->visit[i].sym);
        TC__VEC_FREE(c, r->visit[i].arg);
    }
    tc__arena_free(&r->arena);
    tc__free(c, r, sizeof *r);
}

static tc__region *tc__region_new(tc_ctx *c, const char *name, tc__site begin, int depth) {
    tc__recorder *rec = tc__recorder_of(c);
    tc__region *r = TC__NEW(c, tc__region);
    if (!r) return NULL;
    tc__arena_init(&r->arena, c);
    size_t n = strlen(name) + 1;
    char *copy = (char *)tc__arena_alloc(&r->arena, n);
    if (!copy) {
        tc__free(c, r, sizeof *r);
        return NULL;
    }
    memcpy(copy, name, n);
    r->name = copy, r->begin = begin, r->depth = depth;
    r->visit[0].region = r->visit[1].region = r;
    r->next = rec->region;
    rec->region = r;
    return r;
}

// The region of this name, begin site and depth, made if new; NULL = out of memory.
static tc__region *tc__region_find(tc_ctx *c, const char *name, tc__site begin, int depth) {
    for (tc__region *r = tc__recorder_of(c)->region; r; r = r->next)
        if (r->begin.line == begin.line && r->depth == depth &&
            r->begin.file == begin.file && !strcmp(r->name, name))
            return r;
    return tc__region_new(c, name, begin, depth);
}

static void tc__visit_abandon(tc_ctx *c, tc__visit *v, const char *why) {
    tc__fail(c, TC_E_REGION, "region \"%s\" begun at %s:%d %s; its results are lost",
             v->region->name, v->begin.file ? v->begin.file : "?", v->begin.line, why);
    v->state = TC__VISIT_FAILED;
    tc__unbind_to(c, v, 0);
    tc__recorder_of(c)->visit = NULL;
    tc__recorder_of(c)->depth = 0;
    tc__here_leave(c, 0);
}

// Opens the next visit of `r`; the visit before the last one dies when this one ends. 0 = out of
// memory, none is open.
static int tc__visit_open(tc_ctx *c, tc__region *r, tc__site begin) {
    tc__recorder *rec = tc__recorder_of(c);
    r->current = !r->current;
    tc__visit *v = &r->visit[r->current];
    tc__visit_clear(c, v);
    v->epoch = tc__epoch_next(&rec->values);
    if (!tc__map_set(&rec->visits, v->epoch, (uint64_t)(uintptr_t)v)) return 0;
    v->key = tc__handle(&rec->values, v->epoch, 0).id >> TC__SLOT_BITS;
    v->first = (v->key << TC__SLOT_BITS) | TC__VISIT_BIT;
    v->at = &r->root, v->begin = begin, v->segment = 0, v->writes = 0, v->broken = 0,
    v->left = 0, v->draw = rec->draw;
    v->state = TC__VISIT_OPEN, v->thread = tc__thread_self();
    v->device = rec->values.default_device;
    rec->visit = v;
    v->size.count = v->arg.count = 0, v->fresh = UINT32_MAX;
    r->visits++;
    return 1;
}
