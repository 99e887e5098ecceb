// Recording: regions, their tries of steps, and visits that follow or fork them.
// Input: primitive calls from user code and composites. Output: a path of steps per visit.
//
// One idea: re-running the C body is the guard. A call that equals the step expected next costs a few
// compares and returns (epoch of the visit, position); anything else forks the trie. Nothing here
// knows about graphs or kernels: exec/ is reached through the hooks of the recorder.

#define TC__EXTERNAL                                                                       \
    ((uint32_t)1 << 31) // operand code: number of an external, else a position

enum {
    TC__STEP_WANTED = 1,  // read after its visit ended: an output from now on
    TC__STEP_CROSSES = 2, // used after a graph break: stored before it from now on
    TC__STEP_OWN = 4      // recorded as made of no external: zeros, arange, rand
};

typedef struct tc__site {
    const char *file; // __FILE__ of the caller, static; NULL = unknown
    int line;
} tc__site;

// What an external must be where it is first used: its layout, and which earlier external shares
// its storage.
typedef struct tc__binding {
    uint32_t layout;
    uint32_t alias; // number of the first external on the same storage; own number if none
} tc__binding;

typedef struct tc__step {
    struct tc__step
        *next; // first continuation; owned by the region's arena, like all below
    struct tc__step *sibling; // alternative at the same position
    struct tc__step *parent;  // NULL = the root
    uint64_t form;            // op and counts in one word; 0 = the long way always
    uint16_t op, flags;
    uint16_t n_in, n_attr;
    uint32_t *in; // operand codes
    int64_t *attr;
    uint32_t first_external, n_bind; // externals bound before this step; bound by it
    tc__binding *bind;
    tc__meta meta;  // of the result
    uint32_t view;  // layout of a result that is a view of operand 0; 0 = memory of its own
    int64_t offset; //   and where it begins there, in elements
    tc__site site;  // where it was first recorded
    uint32_t position;
    void *program;       // FINISH, BREAK: owned and understood by exec/
    uint32_t generation; // FINISH: region->generation its program was made for
} tc__step;

typedef struct tc__external {
    tc_tensor handle;
    tc__storage *storage; // counted
    uint32_t layout, alias;
    int64_t offset;
    uint64_t version; // of the storage when it was bound
} tc__external;

typedef enum tc__visit_state {
    TC__VISIT_NONE,
    TC__VISIT_OPEN,
    TC__VISIT_DONE,
    TC__VISIT_FAILED
} tc__visit_state;

struct tc__region;

typedef struct tc__visit {
    struct tc__region *region;
    uint32_t epoch;
    tc__visit_state state;
    uint64_t key;             // handle id >> 24 of its results
    uint64_t first;           // id of the result of its step 0
    tc__step *at;             // last step matched
    TC__VEC(tc__step *) path; // by position
    TC__VEC(tc__external) external;
    TC__VEC(uint32_t) result_of; // by position: 1 + index in result, 0 = not in memory
    TC__VEC(tc__tensor) result;
    uint32_t segment; // first position after the last break
    int writes;       // some step writes in place
    int broken;       // a value was read although the region asked for fullgraph
    tc__site begin;
    uint64_t thread; // that began it: no other may record or end it
    uint64_t draw;   // random stream position when it began
} tc__visit;

typedef struct tc__region {
    const char *name; // copied into the arena
    tc__site begin;
    int depth;
    uint32_t generation; // counts changes of step flags
    uint32_t visits;
    int fullgraph, keeps; // keeps: some path has a KEEP step
    int function;         // a body: the operands of its FINISH are the outputs, no others
    tc__arena arena;
    tc__step root;
    tc__visit visit[2]; // the current one and the one before it
    int current;
    void *state;             // of exec/
    struct tc__region *next; // owned by the recorder's list
} tc__region;

typedef struct tc__call {
    tc__op op;
    uint32_t n_in, n_attr;
    const tc_tensor *in;
    const int64_t *attr;
    tc__site site;
    uint8_t dtype;       // of sources
    uint8_t rank;        // of sources
    const int64_t *dims; // of sources, expressions
} tc__call;

// What exec/ does for the recorder. Each reports its own errors.
typedef struct tc__hooks {
    tc_tensor (*eager)(tc_ctx *c, const tc__call *call); // run one call now
    tc__tensor *(*demand)(tc_ctx *c, tc__visit *v,
                          uint32_t position); // compute a forgotten result
    void (*forget)(tc_ctx *c, tc__region *r); // free region->state, programs
} tc__hooks;

typedef struct tc__recorder {
    tc__values values; // must be first
    const tc__hooks *hooks;
    tc__ixpool ix;      // only constants: sizes are fixed while recording
    tc__visit *visit;   // open visit, NULL = eager
    tc__region *region; // list of all regions
    tc__map visits;     // epoch -> tc__visit
    tc__map kept;       // id of a kept result whose visit is over -> tc__tensor, owned
    TC__VEC(uint64_t) kept_ids;
    int depth;   // regions begun inside the open one (inlined)
    int skipped; // disabled regions begun and not ended
    int compiling;
    uint64_t seed, draw; // random stream: key, and next draw number
} tc__recorder;

static tc__recorder *tc__recorder_of(tc_ctx *c) { return (tc__recorder *)(void *)c; }

static void tc__site_set(tc_ctx *c, tc__site s) {
    tc__core_of(c)->site_file = s.file;
    tc__core_of(c)->site_line = s.line;
}

static int tc__is_visit(tc_tensor t) { return (tc__handle_slot(t) & TC__VISIT_BIT) != 0; }
static uint32_t tc__position(tc_tensor t) { return tc__handle_slot(t) & ~TC__VISIT_BIT; }

static tc__visit *tc__visit_find(tc_ctx *c, tc_tensor t) {
    uint64_t p;
    tc__visit *open = tc__recorder_of(c)->visit;
    if (open && open->key == t.id >> TC__SLOT_BITS) return open;
    if (t.id >> 56 != tc__values_of(c)->slot_of_ctx) return NULL;
    if (!tc__map_get(&tc__recorder_of(c)->visits, tc__handle_epoch(t), &p)) return NULL;
    return (tc__visit *)(uintptr_t)p;
}

// ---- dead handles ----

static int tc__fail_dead(tc_ctx *c, const char *who, tc_tensor t) {
    tc__values *v = tc__values_of(c);
    const tc__obituary *o = &v->obituary[tc__handle_epoch(t) % TC__OBITUARIES];
    if ((t.id >> 56) != v->slot_of_ctx)
        return tc__fail(c, TC_E_FOREIGN,
                        "%s: the tensor belongs to context %u, this is context %u", who,
                        (unsigned)(t.id >> 56), (unsigned)v->slot_of_ctx);
    if (tc__is_visit(t))
        return tc__fail(c, TC_E_DEAD,
                        "%s: result %u of a region's visit that is two or more visits "
                        "ago; tc_keep it inside the region to use it longer",
                        who, (unsigned)tc__position(t));
    if (o->epoch == tc__handle_epoch(t))
        return tc__fail(c, TC_E_DEAD,
                        "%s: the tensor was %s at %s:%d; tc_keep it, or widen the scope",
                        who, o->how, o->file ? o->file : "?", o->line);
    return tc__fail(c, TC_E_DEAD, "%s: the tensor is no longer alive", who);
}

static int tc__fail_null(tc_ctx *c, const char *who) {
    return tc__fail(c, TC_E_NULL, "%s: a null tensor was given (an earlier call failed?)",
                    who);
}

// ---- tensors behind handles ----

// The tensor in memory behind `t`: eager, or a finished visit's result. NULL = not in memory or dead,
// nothing reported.
static tc__tensor *tc__tensor_find(tc_ctx *c, tc_tensor t) {
    uint64_t kept;
    if (!tc__is_visit(t)) return tc__slot_find(c, t);
    tc__visit *v = tc__visit_find(c, t);
    uint32_t p = tc__position(t);
    if (!v && tc__map_get(&tc__recorder_of(c)->kept, t.id, &kept))
        return (tc__tensor *)(uintptr_t)kept;
    if (!v || p >= v->result_of.count || !v->result_of.at[p]) return NULL;
    return &v->result.at[v->result_of.at[p] - 1];
}

// Whether `t` is a result of the open visit that an expand made: several of its elements
// are one.
static int tc__result_is_expanded(tc_ctx *c, tc_tensor t) {
    const tc__visit *v = tc__is_visit(t) ? tc__visit_find(c, t) : NULL;
    uint32_t p = tc__position(t);
    while (v && p < v->path.count) { // beyond stand the externals
        const tc__step *s = v->path.at[p];
        if (s->op == TC_OP_EXPAND) return 1;
        if (s->op != TC_OP_PERMUTE) return 0;
        p = s->in[0];
    }
    return 0;
}

// The same, computing a finished visit's forgotten result on demand; NULL = reported.
static tc__tensor *tc__tensor_need(tc_ctx *c, const char *who, tc_tensor t) {
    tc__tensor *m = tc__tensor_find(c, t);
    if (m) return m;
    if (!t.id) return tc__fail_null(c, who), (tc__tensor *)NULL;
    tc__visit *v = tc__is_visit(t) ? tc__visit_find(c, t) : NULL;
    if (!v || tc__position(t) >= v->path.count)
        return tc__fail_dead(c, who, t), (tc__tensor *)NULL;
    if (v->state != TC__VISIT_DONE) {
        tc__fail(c, TC_E_STATE,
                 "%s: a result of region \"%s\", which failed or is still open", who,
                 v->region->name);
        return NULL;
    }
    return tc__recorder_of(c)->hooks->demand(c, v, tc__position(t));
}

static void tc__meta_of_layout(const tc__layout *l, tc__meta *m) {
    m->dtype = l->dtype, m->rank = l->rank;
    for (int i = 0; i < l->rank; i++) m->dims[i] = tc__ix_const(l->dims[i]);
}

// dtype and sizes of any live handle, computed or not; 0 = reported.
static int tc__meta_of(tc_ctx *c, const char *who, tc_tensor t, tc__meta *m) {
    if (!t.id) return tc__fail_null(c, who);
    tc__visit *v = tc__is_visit(t) ? tc__visit_find(c, t) : NULL;
    if (v && tc__position(t) < v->path.count) {
        *m = v->path.at[tc__position(t)]->meta;
        return 1;
    }
    tc__tensor *e = tc__tensor_find(c, t);
    if (!e) return tc__fail_dead(c, who, t);
    tc__meta_of_layout(tc__layout_at(c, e->layout), m);
    return 1;
}

// ---- following ----

// Takes tensor `t` as the visit's next external; 0 = out of memory.
static int tc__bind_external(tc_ctx *c, tc__visit *v, tc_tensor handle, tc__tensor *t) {
    tc__external e;
    e.handle = handle, e.storage = t->storage, e.layout = t->layout, e.offset = t->offset;
    e.version = t->storage->version;
    if (t->storage->bind_epoch != v->epoch) {
        t->storage->bind_epoch = v->epoch;
        t->storage->bind_index = (uint32_t)v->external.count;
    }
    e.alias = t->storage->bind_index;
    t->bind_epoch = v->epoch, t->bind_index = (uint32_t)v->external.count;
    if (!TC__PUSH(c, v->external, e)) return 0;
    t->storage->refs++;
    return 1;
}

static void tc__unbind_to(tc_ctx *c, tc__visit *v, uint32_t count) {
    while (v->external.count > count) {
        tc__external *e = &v->external.at[--v->external.count];
        tc__tensor *t = tc__tensor_find(c, e->handle);
        if (t && t->bind_epoch == v->epoch) t->bind_epoch = 0;
        if (e->alias == v->external.count) e->storage->bind_epoch = 0;
        tc__storage_unref(c, e->storage);
    }
}

// The code of an operand that is no result of this visit, binding it if step `s` binds it here.
// Anything unexpected gives a code that matches nothing.
static uint32_t tc__external_code(tc_ctx *c, tc__visit *v, const tc__step *s, tc_tensor h) {
    tc__tensor *t = tc__tensor_find(c, h);
    uint32_t n = (uint32_t)v->external.count, i = n - s->first_external;
    if (!t) return UINT32_MAX;
    if (t->bind_epoch == v->epoch) return TC__EXTERNAL | t->bind_index;
    if (i >= s->n_bind || s->bind[i].layout != t->layout) return UINT32_MAX;
    if (!tc__bind_external(c, v, h, t)) return UINT32_MAX;
    return v->external.at[n].alias == s->bind[i].alias ? TC__EXTERNAL | n : UINT32_MAX;
}

static int tc__step_matches(tc_ctx *c, tc__visit *v, const tc__step *s, const tc__call *k) {
    if (s->op != k->op || s->n_in != k->n_in || s->n_attr != k->n_attr) return 0;
    for (uint32_t i = 0; i < k->n_attr; i++)
        if (s->attr[i] != k->attr[i]) return 0;
    for (uint32_t i = 0; i < k->n_in; i++) {
        uint64_t id = k->in[i].id;
        uint32_t code = id >> TC__SLOT_BITS == v->key
                            ? (uint32_t)id & (TC__VISIT_BIT - 1)
                            : tc__external_code(c, v, s, k->in[i]);
        if (code == s->in[i]) continue;
        if (s->n_bind) tc__unbind_to(c, v, s->first_external);
        return 0;
    }
    if (!k->dims) return 1;
    return s->meta.dtype == k->dtype && s->meta.rank == k->rank &&
           !memcmp(s->meta.dims, k->dims, k->rank * sizeof *k->dims);
}

// ---- forking ----

static int tc__call_metas(tc_ctx *c, const tc__call *k, tc__meta *m, const tc__meta **p) {
    for (uint32_t i = 0; i < k->n_in; i++) {
        if (!tc__meta_of(c, tc__op_name(k->op), k->in[i], &m[i])) return 0;
        p[i] = &m[i];
    }
    return 1;
}

enum { TC__MAX_OPERANDS = 64 };

// Shape and dtype of a call's result; 0 = reported.
static int tc__call_infer(tc_ctx *c, const tc__call *k, tc__meta *out) {
    tc__meta m[TC__MAX_OPERANDS];
    const tc__meta *p[TC__MAX_OPERANDS];
    tc__infer q;
    memset(&q, 0, sizeof q);
    if (k->op == TC_OP_FINISH) return 1; // any number of operands, and no result
    if (k->n_in > TC__MAX_OPERANDS)
        return tc__fail(c, TC_E_ARG, "%s: %u operands, %d are possible", tc__op_name(k->op),
                        (unsigned)k->n_in, TC__MAX_OPERANDS);
    if (!tc__call_metas(c, k, m, p)) return 0;
    q.ctx = c, q.ix = &tc__recorder_of(c)->ix, q.op = k->op;
    q.n_in = k->n_in, q.n_attr = k->n_attr, q.in = p, q.attr = k->attr;
    q.out.dtype = k->dtype, q.out.rank = k->rank;
    if (k->dims) memcpy(q.out.dims, k->dims, k->rank * sizeof *k->dims);
    if (!tc__ops[k->op].dtype(&q) || !tc__ops[k->op].shape(&q)) return 0;
    int64_t dims[TC_MAX_RANK];
    for (int i = 0; i < q.out.rank; i++) dims[i] = tc__ix_value(q.out.dims[i]);
    if (!tc__dims_check(c, tc__op_name(k->op), q.out.rank, dims)) return 0;
    *out = q.out;
    return 1;
}

// Operand codes of a call that no step matched; new externals are bound.
static int tc__call_codes(tc_ctx *c, tc__visit *v, const tc__call *k, uint32_t *code) {
    for (uint32_t i = 0; i < k->n_in; i++) {
        if (k->in[i].id >> TC__SLOT_BITS == v->key) {
            code[i] = tc__position(k->in[i]);
            continue;
        }
        tc__tensor *t = tc__tensor_need(c, tc__op_name(k->op), k->in[i]);
        if (!t) return 0;
        if (t->bind_epoch != v->epoch && !tc__bind_external(c, v, k->in[i], t)) return 0;
        code[i] = TC__EXTERNAL | t->bind_index;
    }
    return 1;
}

// What tc__follows compares at once. A write in place has more to do than to be followed.
TC__ALWAYS_INLINE uint64_t tc__form_of(tc__op op, uint32_t n_in, uint32_t n_attr) {
    return (uint64_t)op << 32 | n_in << 16 | n_attr;
}

static tc__step *tc__step_new(tc_ctx *c, tc__visit *v, const tc__call *k,
                              const tc__meta *meta) {
    tc__arena *a = &v->region->arena;
    uint32_t first = (uint32_t)v->external.count;
    tc__step *s = TC__ANEW(a, tc__step);
    uint32_t *in = TC__ANEW_ARRAY(a, uint32_t, k->n_in + 1);
    int64_t *attr = TC__ANEW_ARRAY(a, int64_t, k->n_attr + 1);
    if (!s || !in || !attr || !tc__call_codes(c, v, k, in)) return NULL;
    if (k->n_attr) memcpy(attr, k->attr, k->n_attr * sizeof *attr);
    s->form = k->op == TC_OP_COPY_ ? 0 : tc__form_of(k->op, k->n_in, k->n_attr);
    s->op = (uint16_t)k->op, s->n_in = (uint16_t)k->n_in, s->n_attr = (uint16_t)k->n_attr;
    s->in = in, s->attr = attr, s->meta = *meta, s->site = k->site, s->parent = v->at;
    s->position = (uint32_t)v->path.count;
    s->first_external = first;
    s->n_bind = (uint32_t)v->external.count - first;
    s->bind = TC__ANEW_ARRAY(a, tc__binding, s->n_bind + 1);
    if (!s->bind) return NULL;
    for (uint32_t i = 0; i < s->n_bind; i++) {
        s->bind[i].layout = v->external.at[first + i].layout;
        s->bind[i].alias = v->external.at[first + i].alias;
    }
    return s;
}

static uint32_t tc__code_layout(tc_ctx *c, const tc__visit *v, uint32_t code) {
    int64_t dims[TC_MAX_RANK];
    if (code & TC__EXTERNAL) return v->external.at[code & ~TC__EXTERNAL].layout;
    const tc__step *s = v->path.at[code];
    if (s->view) return s->view;
    for (int i = 0; i < s->meta.rank; i++) dims[i] = tc__ix_value(s->meta.dims[i]);
    return tc__layout_intern(c, s->meta.dtype, s->meta.rank, dims, NULL);
}

// Sets s->view and s->offset; 0 = out of memory.
static int tc__step_view(tc_ctx *c, const tc__visit *v, tc__step *s) {
    if (tc__ops[s->op].kind != TC__KIND_MOVE) return 1;
    uint32_t from = tc__code_layout(c, v, s->in[0]);
    if (!from) return 0;
    return !tc__view_of(c, (tc__op)s->op, s->attr, from, &s->meta, &s->view, &s->offset) ||
           s->view;
}

static void tc__step_origin(const tc__visit *v, tc__step *s) {
    for (uint32_t i = 0; i < s->n_in; i++)
        if (s->in[i] & TC__EXTERNAL || !(v->path.at[s->in[i]]->flags & TC__STEP_OWN))
            return;
    s->flags |= TC__STEP_OWN;
}

static tc__step *tc__visit_fork(tc_ctx *c, tc__visit *v, const tc__call *k) {
    tc__meta meta;
    uint32_t bound = (uint32_t)v->external.count;
    memset(&meta, 0, sizeof meta);
    if (!tc__call_infer(c, k, &meta)) return NULL;
    tc__step *s = tc__step_new(c, v, k, &meta);
    if (!s || !tc__step_view(c, v, s) || v->path.count >= TC__VISIT_BIT - 1) {
        tc__unbind_to(c, v, bound);
        return NULL;
    }
    tc__step_origin(v, s);
    s->sibling = v->at->next;
    v->at->next = s;
    return s;
}

// Follows or forks by one call; NULL = reported, the visit goes on without the call.
static tc__step *tc__visit_step(tc_ctx *c, tc__visit *v, const tc__call *k) {
    tc__step *s = v->at->next;
    while (s && !tc__step_matches(c, v, s, k)) s = s->sibling;
    if (!s) {
        tc__site_set(c, k->site);
        s = tc__visit_fork(c, v, k);
    }
    if (!s || !TC__PUSH(c, v->path, s)) return NULL;
    v->at = s;
    if (k->op == TC_OP_COPY_) {
        // What lies in memory may be the value before the write.
        v->writes = 1;
        for (size_t i = 0; i < v->result_of.count; i++) v->result_of.at[i] = 0;
    }
    return s;
}

// Whether the calling thread may use the open visit; 0 = reported. Asked off the fast path only:
// a thread that goes astray misses a step sooner or later.
static int tc__visit_is_ours(tc_ctx *c, const char *who) {
    const tc__visit *v = tc__recorder_of(c)->visit;
    if (!v || v->thread == tc__thread_self()) return 1;
    return tc__fail(
        c, TC_E_THREAD,
        "%s: another thread has region \"%s\" open since %s:%d; a context is used "
        "by one thread at a time: open one for each",
        who, v->region->name, v->begin.file ? v->begin.file : "?", v->begin.line);
}

// The entry of every primitive: records inside a region, runs at once outside.
static tc_tensor tc__record(tc_ctx *c, const tc__call *k) {
    tc__recorder *r = tc__recorder_of(c);
    tc__visit *v = r->visit;
    if (!v) {
        tc__site_set(c, k->site);
        return r->hooks->eager(c, k);
    }
    tc_tensor t = tc__null();
    if (!tc__visit_is_ours(c, tc__op_name(k->op))) return t;
    tc__step *s = tc__visit_step(c, v, k);
    t.id = s ? v->first | (uint32_t)(v->path.count - 1) : 0;
    return t;
}

// The context a tensor belongs to, NULL for a null tensor or a closed context.
static tc_ctx *tc__ctx_of(tc_tensor t) { return tc__ctx_at((unsigned)(t.id >> 56)); }

// ---- entries by arity, for the generated functions ----

static tc_tensor tc__op_slow(tc__op op, const tc_tensor *in, uint32_t n,
                             const int64_t *attr, uint32_t n_attr, const char *file,
                             int line) {
    tc__call k;
    tc_ctx *c = NULL;
    for (uint32_t i = 0; i < n && !c; i++) c = tc__ctx_of(in[i]);
    if (!c) return tc__null();
    k.op = op, k.n_in = n, k.n_attr = n_attr, k.in = in, k.attr = attr;
    k.site.file = file, k.site.line = line, k.dtype = 0, k.rank = 0, k.dims = NULL;
    return tc__record(c, &k);
}

// Is the call the first expected step `s`, all of whose operands are results of this visit or bound
// already? The common case of a re-run body, in a few compares per operand.
TC__ALWAYS_INLINE int tc__follows(const tc__visit *v, const tc__step *s, tc__op op,
                                  const tc_tensor *in, uint32_t n, const int64_t *attr,
                                  uint32_t n_attr) {
    if (!s || s->form != tc__form_of(op, n, n_attr)) return 0;
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

// Follows a call without leaving this function, or takes the long way.
TC__ALWAYS_INLINE tc_tensor tc__op_fast(tc__op op, const tc_tensor *in, uint32_t n,
                                        const int64_t *attr, uint32_t n_attr,
                                        const char *file, int line) {
    tc_ctx *c = tc__ctx_of(in[0]);
    tc__visit *v = c ? tc__recorder_of(c)->visit : NULL;
    tc_tensor t;
    if (!v || !tc__follows(v, v->at->next, op, in, n, attr, n_attr))
        return tc__op_slow(op, in, n, attr, n_attr, file, line);
    v->at = v->at->next;
    t.id = v->first | (uint32_t)v->path.count;
    v->path.at[v->path.count++] = v->at;
    return t;
}

static tc_tensor tc__op_n(tc__op op, const tc_tensor *in, uint32_t n, const int64_t *attr,
                          uint32_t n_attr, const char *file, int line) {
    return tc__op_fast(op, in, n, attr, n_attr, file, line);
}

static tc_tensor tc__op1(tc__op op, tc_tensor a, const char *file, int line) {
    return tc__op_fast(op, &a, 1, NULL, 0, file, line);
}

static tc_tensor tc__op2(tc__op op, tc_tensor a, tc_tensor b, const char *file, int line) {
    tc_tensor in[2];
    in[0] = a, in[1] = b;
    return tc__op_fast(op, in, 2, NULL, 0, file, line);
}

static tc_tensor tc__op3(tc__op op, tc_tensor a, tc_tensor b, tc_tensor d, const char *file,
                         int line) {
    tc_tensor in[3];
    in[0] = a, in[1] = b, in[2] = d;
    return tc__op_fast(op, in, 3, NULL, 0, file, line);
}

typedef enum tc__side { TC__SCALAR_RIGHT, TC__SCALAR_LEFT } tc__side;

// op(a, s), or op(s, a) with the scalar on the left.
static tc_tensor tc__op_scalar(tc__op op, tc_tensor a, double s, tc__side side,
                               const char *file, int line) {
    int64_t attr[2];
    memcpy(&attr[0], &s, sizeof s);
    attr[1] = side;
    return tc__op_fast(op, &a, 1, attr, 2, file, line);
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

// Kept results outlive their visit: they move to the recorder's table.
static void tc__visit_hand_over(tc_ctx *c, tc__visit *v) {
    tc__recorder *r = tc__recorder_of(c);
    for (size_t i = 0; i < v->path.count; i++) {
        const tc__step *s = v->path.at[i];
        uint32_t p = s->n_in ? s->in[0] : 0;
        if (s->op != TC_OP_KEEP || (p & TC__EXTERNAL)) continue;
        if (p >= v->result_of.count || !v->result_of.at[p]) continue;
        uint64_t id = v->first | p;
        tc__tensor *t = TC__NEW(c, tc__tensor);
        if (!t || tc__map_get(&r->kept, id, NULL)) {
            tc__free(c, t, sizeof *t);
            continue;
        }
        *t = v->result.at[v->result_of.at[p] - 1];
        t->storage->refs++;
        if (!tc__map_set(&r->kept, id, (uint64_t)(uintptr_t)t) ||
            !TC__PUSH(c, r->kept_ids, id))
            return;
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
}

// Opens the next visit of `r`; the visit before the last one dies when this one ends.
static int tc__visit_open(tc_ctx *c, tc__region *r, tc__site begin) {
    tc__recorder *rec = tc__recorder_of(c);
    r->current = !r->current;
    tc__visit *v = &r->visit[r->current];
    tc__visit_clear(c, v);
    v->epoch = tc__epoch_next(&rec->values);
    v->key = tc__handle(&rec->values, v->epoch, 0).id >> TC__SLOT_BITS;
    v->first = (v->key << TC__SLOT_BITS) | TC__VISIT_BIT;
    v->at = &r->root, v->begin = begin, v->segment = 0, v->writes = 0, v->broken = 0,
    v->draw = rec->draw;
    v->state = TC__VISIT_OPEN, v->thread = tc__thread_self();
    rec->visit = v;
    r->visits++;
    return tc__map_set(&rec->visits, v->epoch, (uint64_t)(uintptr_t)v);
}
