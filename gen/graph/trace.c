// Traces: regions, their tries of steps, and visits, which are paths through a trie.
//
// A step is one primitive call. It is symbolic where it names sizes or values that are known at run
// time only; a visit has those of its own. What follows and forks paths is graph/follow.c; what opens
// visits, and the entry of every op, graph/record.c. Nothing here knows about graphs or kernels.

#define TC__EXTERNAL                                                                       \
    ((uint32_t)1 << 31) // operand code: number of an external, else a position

enum {
    TC__STEP_WANTED = 1,  // read after its visit ended: an output from now on
    TC__STEP_CROSSES = 2, // used after a graph break: stored before it from now on
    TC__STEP_OWN = 4,     // recorded as made of no external: zeros, arange, rand
    TC__STEP_EXACT = 8    // its program is for one set of sizes: expressions got too large
};

typedef struct tc__site {
    const char *file; // __FILE__ of the caller, static; NULL = unknown
    int line;
} tc__site;

// What an external must be where it is first used: its layout, and which earlier external shares
// its storage.
typedef struct tc__binding {
    uint32_t layout; // 0 = any that `shape` describes
    uint32_t alias;  // number of the first external on the same storage; own number if none
    const tc__shape *shape; // with run-time sizes; NULL = exactly `layout`
} tc__binding;

// A graph break on a path with run-time sizes, and the known path that it was made like: what
// follows that one may be like what follows this one.
typedef struct tc__twin {
    struct tc__step *step; // the break on the known path
    const int64_t *was;  // symbols of the new path so far: what they were on the known one
    uint32_t n_known;    // symbols of the known path so far,
    const tc__ix *known; //   and what they are on the new one
} tc__twin;

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
    tc__meta meta; // of the result
    int view;      // the result shows memory of operand 0; 0 = it has memory of its own
    tc__site site; // where it was first recorded
    uint32_t position;
    int symbolic;                   // some size or value of it is known at run time only
    uint32_t first_size, first_arg; // run-time sizes and values of the steps before it
    uint32_t args;                  // bit i: attr[i] is the number of a run-time value,
    int whole;                      //   which has to be whole, or not: see tc__wholeness
    uint32_t n_guard;
    const tc__relation *guard; // what its sizes must fulfil
    int device;                // of a source: that the visit was on then
    const int64_t *hint;       // run-time sizes when the path was made, by symbol
    const tc__twin *twin;      // BREAK: NULL = none
    void *program;             // FINISH, BREAK: owned and understood by exec/
    uint32_t generation;       // FINISH: region->generation its program was made for
} tc__step;

typedef struct tc__external {
    tc_tensor handle;
    tc__storage *storage;   // counted
    const tc__shape *shape; // of its binding, NULL = the layout's
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
    TC__VEC(int64_t) size;       // by symbol: the run-time sizes of this visit
    TC__VEC(tc__ix) sym;         //   and the symbols
    TC__VEC(int64_t) arg;        // by number: run-time values, as the words of an attribute
    uint32_t segment;            // first position after the last break
    uint32_t fresh;              // first position of a step that this visit made
    const tc__relation *pending; // conditions of the step that is being made
    uint32_t n_pending;
    int exact;  // the program being made is for the sizes of this visit alone
    int writes; // some step writes in place
    int broken; // a value was read although the region asked for fullgraph
    int left;   // some code of it ran eagerly: tc_disable_begin
    tc__site begin;
    uint64_t thread; // that began it: no other may record or end it
    int device;      // that it is on where no tensor decides: the default when it began
    uint64_t draw;   // random stream position when it began
} tc__visit;

typedef struct tc__region {
    const char *name; // copied into the arena
    tc__site begin;
    int depth;
    uint32_t generation; // counts changes of step flags
    uint32_t visits;
    int keeps;           // some path has a KEEP step
    tc_options options;  // what the caller asked for, nothing left open
    const void *backend; // that runs its programs; of exec/
    uint32_t programs;   // made; options.recompile_limit of them are compiled
    uint32_t made;       // programs that have a number
    int fixed_sizes; // sizes are not promoted: its backend takes programs for one set of them
    int function;    // a body: the operands of its FINISH are the outputs, no others
    tc__arena arena;
    tc__step root;
    tc__visit visit[2]; // the current one and the one before it
    int current;
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
    void (*forget)(tc_ctx *c, tc__region *r); // free the programs of its steps
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
    int depth;            // regions begun inside the open one (inlined)
    int skipped;          // disabled regions begun and not ended
    int disabled;         // tc_disable_begin without their ends
    tc__visit *suspended; //   and the visit that waits for that; NULL = none was open
    uint64_t seed, draw;  // random stream: key, and next draw number
} tc__recorder;

static tc__recorder *tc__recorder_of(tc_ctx *c) { return (tc__recorder *)(void *)c; }

// A function of the user's runs that must not use the context: what it calls nevertheless finds no
// region to be recorded in, and is refused. Gives what tc__calling_end needs.
static tc__visit *tc__calling_begin(tc_ctx *c) {
    tc__recorder *r = tc__recorder_of(c);
    tc__visit *open = r->visit;
    r->visit = NULL, r->skipped++, r->values.core.calling++;
    return open;
}

static void tc__calling_end(tc_ctx *c, tc__visit *open) {
    tc__recorder *r = tc__recorder_of(c);
    r->visit = open, r->skipped--, r->values.core.calling--;
}

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
    if (v->parent && tc__import_is_remote(c, t))
        return tc__fail(c, TC_E_DEVICE,
                        "%s: the tensor is on a device, which only the context has that "
                        "this one was opened from by tc_open_shared; tc_to it to \"cpu\" "
                        "before that",
                        who);
    if ((t.id >> 56) != v->slot_of_ctx)
        return tc__fail(
            c, TC_E_FOREIGN, "%s: the tensor belongs to context %u, this is context %u%s",
            who, (unsigned)(t.id >> 56), (unsigned)v->slot_of_ctx,
            v->parent ? ", which sees what lived when tc_open_shared was called" : "");
    if (tc__is_visit(t))
        return tc__fail(c, TC_E_DEAD,
                        "%s: result %u of a region's visit that is two or more visits "
                        "ago; tc_keep it inside the region to use it longer",
                        who, (unsigned)tc__position(t));
    if (o->epoch == tc__handle_epoch(t))
        return tc__fail(c, TC_E_DEAD, "%s: the tensor was %s at %s:%d; %s", who, o->how,
                        o->file ? o->file : "?", o->line,
                        strstr(o->how, "scope") ? "tc_keep it, or widen the scope"
                                                : "free it after its last use");
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
    if (TC__UNLIKELY(t.id >> 56 != tc__values_of(c)->slot_of_ctx))
        return tc__import_find(c, t);
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

// The value of an expression of a path in this visit.
static int64_t tc__visit_eval(tc_ctx *c, const tc__visit *v, tc__ix e) {
    tc__ixenv env;
    if (tc__ix_is_const(e)) return tc__ix_value(e);
    memset(&env, 0, sizeof env);
    env.sym = v->size.at;
    return tc__ix_eval(&tc__recorder_of(c)->ix, e, &env);
}

// Replaces expressions by their values in this visit.
static void tc__visit_sizes(tc_ctx *c, const tc__visit *v, int n, tc__ix *e) {
    for (int i = 0; i < n; i++)
        if (!tc__ix_is_const(e[i])) e[i] = tc__ix_const(tc__visit_eval(c, v, e[i]));
}

// dtype and sizes of any live handle, computed or not; 0 = reported.
static int tc__meta_of(tc_ctx *c, const char *who, tc_tensor t, tc__meta *m) {
    if (!t.id) return tc__fail_null(c, who);
    tc__visit *v = tc__is_visit(t) ? tc__visit_find(c, t) : NULL;
    if (v && tc__position(t) < v->path.count) {
        *m = v->path.at[tc__position(t)]->meta;
        tc__visit_sizes(c, v, m->rank, m->dims);
        return 1;
    }
    tc__tensor *e = tc__tensor_find(c, t);
    if (!e) return tc__fail_dead(c, who, t);
    tc__meta_of_layout(tc__layout_at(c, e->layout), m);
    return 1;
}

// ---- following ----

// A tensor of the host that is one number, without dimensions: it may be computed with on any device.
// What runs there has a copy (exec/remote_view.c), so nothing there writes it.
static int tc__is_number(const tc__layout *l) { return !l->device && !l->rank; }

// The first tensor from outside that decides where a visit is; NULL = none does.
static const tc__layout *tc__visit_decided(tc_ctx *c, const tc__visit *v) {
    for (size_t i = 0; i < v->external.count; i++) {
        const tc__layout *l = tc__layout_at(c, v->external.at[i].layout);
        if (!tc__is_number(l)) return l;
    }
    return v->result.count ? tc__layout_at(c, v->result.at[0].layout) : NULL;
}

// The device that the programs of a visit run on: that of the first tensor from outside, or where an
// earlier segment left its results. Without any, what is made of nothing decides: steps of sources
// hold the device of the path.
static int tc__visit_device(tc_ctx *c, const tc__visit *v) {
    const tc__layout *l = tc__visit_decided(c, v);
    if (l) return l->device;
    if (v->external.count) return 0;
    return v->region ? v->device : tc__values_of(c)->source_device;
}

// The number of the device that t is on, or will be; -1 = dead.
static int tc__device_number(tc_ctx *c, tc_tensor t) {
    const tc__tensor *m = tc__tensor_find(c, t);
    const tc__visit *v = !m && tc__is_visit(t) ? tc__visit_find(c, t) : NULL;
    if (m) return tc__layout_at(c, m->layout)->device;
    return v ? tc__visit_device(c, v) : -1;
}

// All tensors of a visit are on one device, but for single numbers of the host; so are results that an
// earlier segment left.
static int tc__bind_device(tc_ctx *c, const tc__visit *v, const tc__tensor *t) {
    const tc__layout *l = tc__layout_at(c, t->layout);
    int device = l->device, here = tc__visit_device(c, v);
    if (device == here || tc__is_number(l) || !tc__visit_decided(c, v)) return 1;
    return tc__fail(c, TC_E_DEVICE,
                    "%s: a tensor is on %s, others that it is computed with are on %s; "
                    "move one with tc_to",
                    v->region ? v->region->name : "eager op", tc__device_name(c, device),
                    tc__device_name(c, here));
}

// Takes tensor `t` as the visit's next external; 0 = out of memory, or on another device.
static int tc__bind_external(tc_ctx *c, tc__visit *v, tc_tensor handle, tc__tensor *t) {
    tc__external e;
    if (!tc__bind_device(c, v, t)) return 0;
    if (!TC__VEC_RESERVE(c, v->external, v->external.count + 1)) return 0;
    e.handle = handle, e.storage = t->storage, e.layout = t->layout, e.offset = t->offset;
    e.shape = NULL;
    e.version = t->storage->version;
    if (t->storage->bind_epoch != v->epoch) {
        t->storage->bind_epoch = v->epoch;
        t->storage->bind_index = (uint32_t)v->external.count;
    }
    e.alias = t->storage->bind_index;
    t->bind_epoch = v->epoch, t->bind_index = (uint32_t)v->external.count;
    v->external.at[v->external.count++] = e;
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
