// Traces: regions, their tries of steps, and visits, which are paths through a trie.
//
// A step is one primitive call. It is symbolic where it names sizes or values that are known at run
// time only; a visit has those of its own. What follows and forks paths is graph/follow.c; what opens
// visits, and the entry of every op, graph/record.c. Nothing here knows about graphs or kernels.
//
// A step is an op, operand codes, attribute words, shape and dtype of its result, and a
// site. An operand code is the position of an earlier step of the path, or x<i>, the i-th
// external in order of first use; the step that uses it first holds the layout (dtype,
// sizes, strides, device) that it must have. So which operands are equal is in the codes:
// add(a, a) is `add x0 x0`, add(a, b) `add x0 x1`. The last step of a path, `end`, owns its
// program; a `break` owns that of the segment before it. An eager op is a step without a
// trie (exec/eager.c).

#define TC__EXTERNAL                                                                       \
    ((uint32_t)1 << 31) // operand code: number of an external, else a position

enum {
    TC__STEP_WANTED = 1,  // read after its visit ended: an output from now on
    TC__STEP_CROSSES = 2, // used after a graph break: stored before it from now on
    TC__STEP_OWN = 4,     // recorded as made of no external: zeros, arange, rand
    TC__STEP_EXACT = 8,   // its program is for one set of sizes: expressions got too large
    TC__STEP_HOME = 16,   // it is computed where its visit is at home: see graph/place.c
    TC__STEP_BY_THE_WAY = 32 // nobody has asked for it: it is stored since it is small
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

// Why a path that is like a known one keeps its sizes.
typedef struct tc__fixed {
    const struct tc__step *step; // the step that does not go with run-time sizes
    const char *why;             // static; NULL = rules of the op
} tc__fixed;

// The steps that one visit recorded, in memory of their own: a trie grows by branches, and loses those
// again that nothing goes on from (exec/forget.c).
typedef struct tc__branch {
    struct tc__branch *next; // of its region, which owns it
    tc__arena arena;         // of the steps and of all that they point to
    size_t bytes;            // of it that are counted in tc__recorder.recorded
    uint64_t used;           // when a visit ended on it last: tc__recorder.clock
    uint32_t entries;        // of functions that lead to its steps
    uint32_t followed;       // while forgetting: steps of others that continue its own
    int held;                //   and whether something needs it
    int gone;                //   and whether it goes
} tc__branch;

typedef struct tc__step {
    struct tc__step *next;    // first continuation; in the branch's arena, like all below
    struct tc__step *sibling; // alternative at the same position
    struct tc__step *parent;  // NULL = the root
    struct tc__step *kept;    // the last KEEP up to and with it, NULL = there is none
    uint64_t form;            // op and counts in one word; 0 = the long way always
    uint16_t op, flags;
    uint16_t n_in, n_attr;
    uint16_t loop; // 1 + number of the innermost one that is open behind it; 0 = none
    uint32_t *in;  // operand codes
    int64_t *attr;
    uint32_t first_external, n_bind; // externals bound before this step; bound by it
    tc__binding *bind;
    tc__meta meta;    // of the result
    int view;         // the result shows memory of operand 0; 0 = it has memory of its own
    tc__site site;    // where it was first recorded,
    const char *call; //   and by which call, if that makes several steps; static, or NULL
    tc__branch *branch; // that it is of; NULL = the root
    uint32_t position;
    int symbolic;                   // some size or value of it is known at run time only
    uint32_t first_size, first_arg; // run-time sizes and values of the steps before it
    uint32_t args;                  // bit i: attr[i] is the number of a run-time value,
    int whole;                      //   which has to be whole, or not: see tc__wholeness
    uint32_t n_guard;
    const tc__relation *guard; // what its sizes must fulfil
    int device;                // that it is computed on; at home, that was when it was made
    const int64_t *hint;       // run-time sizes when the path was made, by symbol
    const tc__twin *twin;      // BREAK: NULL = none
    const tc__fixed
        *fixed;    // of a path's first step of its own: NULL = nothing keeps its sizes
    void *program; // FINISH, BREAK: owned and understood by exec/
    uint32_t generation; // FINISH: region->generation its program was made for
} tc__step;

static tc__step *tc__step_kept(tc__step *s) {
    if (s->op == TC_OP_KEEP) return s;
    return s->parent ? s->parent->kept : NULL;
}

// The step behind `s` when all steps of a trie are walked, each before what continues it.
static tc__step *tc__step_after(const tc__step *s) {
    if (s->next) return s->next;
    while (s && !s->sibling) s = s->parent;
    return s ? s->sibling : NULL;
}

typedef struct tc__external {
    tc_tensor handle;       // null = it is hidden: see graph/share.c
    uint64_t constant;      // of the tc_const that it is; 0 = it may change
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

// A write in place that failed while a visit was open.
typedef struct tc__refusal_mark {
    uint32_t code; // what it was to write: a root, see tc__memory_of
    uint32_t at;   // steps before it
    uint32_t number;
} tc__refusal_mark;

// Layouts of views that were asked for last, so that one of a view is one step: of a chain, no walk.
enum { TC__VIEWED = 16 };
typedef struct tc__views {
    const tc__step *step[TC__VIEWED]; // by position; NULL = free
    uint32_t layout[TC__VIEWED];
    int64_t offset[TC__VIEWED];
} tc__views;

typedef struct tc__visit {
    struct tc__region *region;
    uint32_t epoch;
    tc__visit_state state;
    uint64_t key;             // handle id >> 24 of its results
    uint64_t first;           // id of the result of its step 0
    tc__step *at;             // last step matched
    tc__views *viewed;        // owned; NULL = no memory
    TC__VEC(tc__step *) path; // by position
    TC__VEC(tc__external) external;
    TC__VEC(uint32_t) result_of; // by position: 1 + index in result, 0 = not in memory
    TC__VEC(tc__tensor) result;
    TC__VEC(tc__refusal_mark) refusal;
    TC__VEC(uint8_t) freed;      // by position: 1 = tc_free was called for it
    TC__VEC(int64_t) size;       // by symbol: the run-time sizes of this visit
    TC__VEC(tc__ix) sym;         //   and the symbols
    TC__VEC(int64_t) arg;        // by number: run-time values, as the words of an attribute
    uint32_t segment;            // first position after the last break
    uint32_t fresh;              // first position of a step that this visit made
    tc__branch *branch;          // that it makes steps in; NULL = none yet
    const tc__relation *pending; // conditions of the step that is being made
    uint32_t n_pending;
    int exact;    // the program being made is for the sizes of this visit alone
    int in_place; //   and reads externals behind what it stores in them
    int writes;   // some step writes in place
    int broken;   // a value was read although the region asked for fullgraph
    int left;     // some code of it ran eagerly: tc_disable_begin
    int no_grad;  // begins of tc_no_grad_begin without their end
    tc__lexical lexical;
    uint32_t loops; // LOOP steps so far
    int let_go;     // it is over and has no externals any more
    int young; // one of the first runs of its program: what is read late is not known yet
    size_t copied; //   and bytes that are copied for that, of what was written
    tc__site begin;
    int device;    // its home where no tensor decides: the default when it began
    uint64_t draw; // random stream position when it began
    uint64_t seed; //   and its key when it ended: what is read late has those numbers
} tc__visit;

// A tensor of earlier visits that a region frees, at the end of the first visit that takes the same way
// and does not use it: a result that was used again, or a view that was made outside.
typedef struct tc__owned {
    tc_tensor t;
    const tc__step *way; // end of the path it came from
} tc__owned;

enum { TC__VISITS = 8 }; // of a region: the last ones on so many ways

typedef struct tc__region {
    const char *name; // copied into the arena
    tc__site begin;
    tc__site end; // of the last visit that ended with no region open inside it
    int depth;
    uint32_t generation; // counts changes of step flags
    uint32_t visits;
    uint32_t longest;          // path of those that ended, in steps
    int told_again, told_long; // that it was left without its end, as it seems
    uint64_t used;             // tc__recorder.opened at the last of them
    uint64_t hash;             // of name, place and depth
    tc_options options;        // what the caller asked for, nothing left open
    int by_default;            // the caller asked for nothing: they are the context's
    const void *backend;       // that runs its programs; of exec/
    uint32_t programs;         // made; options.recompile_limit of them are compiled
    uint32_t made;             // programs that have a number
    int fixed_sizes; // sizes are not promoted: its backend takes programs for one set of them
    int function;    // of a body its number, from 1; the operands of its FINISH are the
                     //   outputs, no others. 0 = a region
    tc__arena arena;    // of its name
    tc__branch *branch; // all there are; owned
    tc__step root;
    tc__visit *visit[TC__VISITS]; // owned, the youngest first; NULL behind them
    TC__VEC(tc__owned) owned;
    const char *end_of_results; // why it goes, as errors of its results tell it; static
    struct tc__region *next;    // owned by the recorder's list,
    struct tc__region **link;   //   where this stands in it
} tc__region;

// What the user made of it: a region, or a function whose body it is.
static const char *tc__region_kind(const tc__region *r) {
    return r->function ? "function" : "region";
}

typedef struct tc__call {
    tc__op op;
    uint32_t n_in, n_attr;
    const tc_tensor *in;
    const int64_t *attr;
    tc__site site;
    uint8_t dtype;       // of sources
    uint8_t rank;        // of sources
    const int64_t *dims; // of sources, expressions
    int device;          // of sources: where they are to be, TC__ANYWHERE = at home
} tc__call;

enum {
    TC__ANYWHERE = -1,
    TC__APART = -2
}; // no device decides; several do, which is reported

// What exec/ does for the recorder. Each reports its own errors.
typedef struct tc__hooks {
    tc_tensor (*eager)(tc_ctx *c, const tc__call *call); // run one call now
    tc__tensor *(*demand)(tc_ctx *c, tc__visit *v,
                          uint32_t position); // compute a forgotten result
    void (*forget)(tc_ctx *c, tc__region *r); // free the programs of its steps
    int (*together)(tc_ctx *c, const char *who, tc__site site); // see exec/alone.c
    tc_tensor (*apart)(tc_ctx *c, tc_tensor t, tc__site site);
    // Calls an op's gradient; what it leaves open is reported, and closed. See exec/gradient.c.
    tc_status (*gradient)(tc_ctx *c, const tc_custom_op *op, const tc_tensor *in,
                          tc_tensor out, tc_tensor grad_out, tc_tensor *grad_in);
    void (*settle)(tc_ctx *c);  // between calls of the user's: see exec/bound.c
    void (*abandon)(tc_ctx *c); // the call that a thread ended in: see exec/abandon.c
    tc_tensor (*move)(tc_tensor t, const char *device, const char *file, int line); // tc_to
    // One element of an op over operands of one dtype; 0 = it has no arithmetic there.
    int (*evaluate)(tc__op op, int dtype, const tc__value *in, uint32_t n, tc__value *out);
} tc__hooks;

enum { TC__INNER_TOLD = 8, TC__INNER_NAME = 40 };

// A region that was begun inside the open one.
typedef struct tc__inner {
    tc__site begin;
    uintptr_t stack;           // about where the stack was
    char name[TC__INNER_NAME]; // cut where it is longer
} tc__inner;

// What a call leaves as it found it, for another thread to do where its own has ended inside it: exec/abandon.c.
typedef struct tc__before {
    size_t scopes;       // that were open
    int outermost;       // no region was
    tc__lexical lexical; //   and what the code around the call says then
} tc__before;

// What was open when a body, or the like, was called: it is not that code's to end. See exec/nesting.c.
typedef struct tc__floor {
    const char *whose; // "function whose body", to errors; static, NULL = no such code runs
    const tc__visit *visit;
    int depth, skipped, disabled, no_grad;
} tc__floor;

typedef struct tc__recorder {
    tc__values values; // must be first
    const tc__hooks *hooks;
    tc__ixpool ix;            // only constants: sizes are fixed while recording
    tc__visit *visit;         // open visit, NULL = eager
    volatile uint64_t thread; // that began what is open: no other may record or end it
    tc__region *region;       // list of all regions
    tc__map visits;           // epoch -> tc__visit
    int depth;                // regions begun inside the open one (inlined)
    tc__site inside;          //   and where the last of them was; file NULL = none was
    tc__inner inner[TC__INNER_TOLD]; //   and the first of them, from the outermost on
    int skipped;                     // disabled regions begun and not ended
    int disabled;                    // tc_disable_begin without their ends
    tc__visit *suspended; //   and the visit that waits for that; NULL = none was open
    tc__floor floor;
    const char *loop, *loop_body; // the call whose body that is, "tc_scan", and "the body"
    const char *own;     // op whose gradient its own function records now; NULL = none
    uint32_t own_first;  //   and the position of the first step that is that function's
    uint64_t seed, draw; // random stream: key, and next draw number
    int evaluates;       // tc_training is off
    size_t recorded;     // bytes of all branches, as far as they are counted
    size_t look_again;   // how many there are to be before some are forgotten again
    uint64_t clock;      // visits ended so far
    uint64_t opened;     //   and opened
    size_t recording;    // regions that have visits
    tc__map region_ids;  // hash -> tc__region, of those that are begun by name
    tc__lexical lexical; // outside of visits
    tc__visit
        *hidden; // open while a function of the user's runs that must not use the context
    tc__before before; // how it was before the call that core.user is in
} tc__recorder;

static tc__recorder *tc__recorder_of(tc_ctx *c) { return (tc__recorder *)(void *)c; }

// What is open is the calling thread's.
static void tc__open_is_mine(tc__recorder *r) {
    tc__atomic_store64(&r->thread, tc__thread_self());
}

// Whether it is. A visit is followed by no other thread, also where that one's calls are the same: so every op that
// follows asks, which is one compare.
TC__INLINE int tc__is_open_mine(const tc__recorder *r) {
    return tc__thread_is(tc__atomic_load64(&r->thread));
}

// That of the code that runs; what tc_disable_begin suspends has its own on.
static tc__lexical *tc__lexical_now(tc_ctx *c) {
    tc__recorder *r = tc__recorder_of(c);
    tc__visit *v = r->visit ? r->visit : r->suspended;
    return v ? &v->lexical : &r->lexical;
}

// Whether a body runs that is a part of the open visit.
static int tc__is_in_body(const tc__recorder *r) {
    return r->visit && r->floor.whose && r->floor.visit == r->visit;
}

// Key of the random numbers of a run for v.
static uint64_t tc__visit_seed(tc_ctx *c, const tc__visit *v) {
    return v->state == TC__VISIT_DONE ? v->seed : tc__recorder_of(c)->seed;
}

// Whether no region is open or skipped, nor suspended: the next begin is the outermost one.
static int tc__begins_outermost(const tc__recorder *r) {
    return !r->visit && !r->skipped && !r->suspended;
}

// Outside regions nothing tells whose the context is: what takes longer than a call that follows or skips
// claims it for its time, so that a second thread is told instead of crashing both. So does, anywhere, what calls
// code of the user's, where a thread may end.
typedef enum tc__claim {
    TC__CLAIM_REFUSED, // another thread has it
    TC__CLAIM_HELD,    // a call around this one has claimed it
    TC__CLAIM_TAKEN    // to be given back by tc__claim_end
} tc__claim;

static tc__claim tc__claim_take(tc_ctx *c) {
    tc__recorder *r = tc__recorder_of(c);
    uint64_t me = tc__thread_self();
    if (tc__atomic_load64(&r->values.core.user) == me) return TC__CLAIM_HELD;
    if (!tc__atomic_cas64(&r->values.core.user, 0, me)) return TC__CLAIM_REFUSED;
    r->before.scopes = r->values.scope.count, r->before.lexical = r->lexical;
    r->before.outermost = tc__begins_outermost(r);
    return TC__CLAIM_TAKEN;
}

static void tc__claim_end(tc_ctx *c, tc__claim claim) {
    if (claim == TC__CLAIM_TAKEN) tc__atomic_store64(&tc__core_of(c)->user, 0);
}

// Code of the user's runs, in a call that has the context: its thread is not cancelled.
typedef struct tc__theirs {
    tc__claim claim;
    int cancel;
} tc__theirs;

static tc__theirs tc__theirs_begin(tc_ctx *c) {
    tc__theirs t;
    t.claim = tc__claim_take(c), t.cancel = tc__cancel_off();
    return t;
}

static void tc__theirs_end(tc_ctx *c, tc__theirs t) {
    tc__cancel_as(t.cancel);
    tc__claim_end(c, t.claim);
}

// A function of the user's runs that must not use the context: what it calls nevertheless finds no
// region to be recorded in, and is refused.
typedef struct tc__calling {
    tc__visit *open;
    tc__theirs theirs;
} tc__calling;

static tc__calling tc__calling_begin(tc_ctx *c) {
    tc__recorder *r = tc__recorder_of(c);
    tc__calling k;
    k.theirs = tc__theirs_begin(c), k.open = r->visit;
    if (k.open) r->hidden = k.open;
    r->visit = NULL, r->skipped++, r->values.core.calling++;
    return k;
}

static void tc__calling_end(tc_ctx *c, tc__calling k) {
    tc__recorder *r = tc__recorder_of(c);
    r->visit = k.open, r->skipped--, r->values.core.calling--;
    if (k.open) r->hidden = NULL;
    tc__theirs_end(c, k.theirs);
}

static void tc__site_set(tc_ctx *c, tc__site s) {
    tc__core_of(c)->site_file = s.file;
    tc__core_of(c)->site_line = s.line;
}

// The same, and gives the one before, to go back to.
static tc__site tc__site_swap(tc_ctx *c, tc__site s) {
    tc__site was;
    was.file = tc__core_of(c)->site_file, was.line = tc__core_of(c)->site_line;
    tc__site_set(c, s);
    return was;
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

// What a visit's end is remembered under: the handle of a position that no step has.
static uint64_t tc__visit_id(const tc__visit *v) { return v->first | (TC__VISIT_BIT - 1); }

// What ends with a visit is told of as "which ended ...".
static int tc__died_with_region(const tc__obituary *o) {
    return !strncmp(o->how, "which", 5);
}

// A result of a visit that is over, or a view of one.
static int tc__fail_over(tc_ctx *c, const char *who, tc_tensor t) {
    const tc__values *v = tc__values_of(c);
    const tc__obituary *o = tc__obituary_of(v, t.id);
    if (!o) o = tc__obituary_of(v, t.id | (TC__VISIT_BIT - 1));
    if (o)
        return tc__fail(
            c, TC_E_DEAD,
            "%s: a result of a region, %s at %s:%d; tc_keep it to have it longer", who,
            o->how, o->file ? o->file : "?", o->line);
    return tc__fail(
        c, TC_E_DEAD,
        "%s: a result of an earlier visit of a region or of a call, which ended long ago: with "
        "a visit on its way that did not use it, with the call, its region or a tc_free; "
        "tc_keep it to have it longer. Or it never was a tensor: is the handle initialised?",
        who);
}

// s is of a body, which is over.
static int tc__fail_looped(tc_ctx *c, const char *who, const tc__step *s) {
    return tc__fail(c, TC_E_DEAD,
                    "%s: the tensor was made at %s:%d in the body of a loop or branch and "
                    "ended with it; give it in out[]",
                    who, s->site.file ? s->site.file : "?", s->site.line);
}

static int tc__fail_dead(tc_ctx *c, const char *who, tc_tensor t) {
    tc__values *v = tc__values_of(c);
    const tc__obituary *o = tc__obituary_of(v, t.id);
    if (v->parent && tc__import_is_on_device(c, t))
        return tc__fail(c, TC_E_DEVICE,
                        "%s: the tensor is on a device, which only the context has that "
                        "this one was opened from by tc_open_shared; tc_to it to \"cpu\" "
                        "before that",
                        who);
    if (!tc__ctx_at((unsigned)(t.id >> 56)))
        return tc__fail(c, TC_E_DEAD,
                        "%s: the tensor belongs to a context that was closed, or never was "
                        "one: is the handle initialised?",
                        who);
    if ((t.id >> 56) != v->slot_of_ctx)
        return tc__fail(
            c, TC_E_FOREIGN, "%s: the tensor belongs to context %u, this is context %u%s",
            who, (unsigned)(t.id >> 56), (unsigned)v->slot_of_ctx,
            v->parent ? ", which sees what lived when tc_open_shared was called" : "");
    if (o ? tc__died_with_region(o) : tc__is_visit(t)) return tc__fail_over(c, who, t);
    if (o)
        return tc__fail(c, TC_E_DEAD, "%s: the tensor was %s at %s:%d; %s", who, o->how,
                        o->file ? o->file : "?", o->line,
                        strstr(o->how, "scope") ? "tc_keep it, or widen the scope"
                                                : "free it after its last use");
    return tc__fail(c, TC_E_DEAD,
                    "%s: the tensor is no longer alive, or never was one: is the handle "
                    "initialised?",
                    who);
}

static int tc__fail_null(tc_ctx *c, const char *who) {
    return tc__fail(c, TC_E_NULL, "%s: a null tensor was given (an earlier call failed?)",
                    who);
}

// ---- tensors behind handles ----

// Whether tc_free was called for result `p` of a visit that is over; NULL = there is none.
static int tc__is_freed(const tc__visit *v, uint32_t p) {
    return v && v->state == TC__VISIT_DONE && p < v->freed.count && v->freed.at[p];
}

// The slot of a tensor that has one.
static uint32_t tc__slot_number(tc_ctx *c, tc_tensor t) {
    uint64_t slot = tc__handle_slot(t);
    if (tc__is_visit(t)) (void)tc__map_get(&tc__values_of(c)->known, t.id, &slot);
    return (uint32_t)slot;
}

// The tensor in memory behind `t`: eager, or a finished visit's result. NULL = not in memory or dead,
// nothing reported.
static tc__tensor *tc__tensor_find(tc_ctx *c, tc_tensor t) {
    if (TC__UNLIKELY(t.id >> 56 != tc__values_of(c)->slot_of_ctx))
        return tc__import_find(c, t);
    if (!tc__is_visit(t)) return tc__slot_find(c, t);
    tc__tensor *own = tc__known_find(c, t.id);
    tc__visit *v = own ? NULL : tc__visit_find(c, t);
    uint32_t p = tc__position(t);
    if (own || tc__is_freed(v, p)) return own;
    if (!v || p >= v->result_of.count || !v->result_of.at[p]) return NULL;
    return &v->result.at[v->result_of.at[p] - 1];
}

// The same, computing a finished visit's forgotten result on demand; NULL = reported.
static tc__tensor *tc__tensor_need(tc_ctx *c, const char *who, tc_tensor t) {
    tc__tensor *m = tc__tensor_find(c, t);
    if (m) return m;
    if (!t.id) return tc__fail_null(c, who), (tc__tensor *)NULL;
    tc__visit *v = tc__is_visit(t) ? tc__visit_find(c, t) : NULL;
    if (!v || tc__position(t) >= v->path.count || tc__is_freed(v, tc__position(t)))
        return tc__fail_dead(c, who, t), (tc__tensor *)NULL;
    if (v->state != TC__VISIT_DONE) {
        tc__fail(c, TC_E_STATE,
                 "%s: a result of region \"%s\", which failed or is still open", who,
                 v->region->name);
        return NULL;
    }
    if (v->path.at[tc__position(t)]->loop)
        return tc__fail_looped(c, who, v->path.at[tc__position(t)]), (tc__tensor *)NULL;
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

// dtype and sizes of any live handle, computed or not; 0 = it is none, not reported.
static int tc__meta_find(tc_ctx *c, tc_tensor t, tc__meta *m) {
    tc__visit *v = tc__is_visit(t) ? tc__visit_find(c, t) : NULL;
    if (v && tc__position(t) < v->path.count && !tc__is_freed(v, tc__position(t))) {
        *m = v->path.at[tc__position(t)]->meta;
        tc__visit_sizes(c, v, m->rank, m->dims);
        return 1;
    }
    tc__tensor *e = tc__tensor_find(c, t);
    if (e) tc__meta_of_layout(tc__layout_at(c, e->layout), m);
    return e != NULL;
}

// The same; 0 = reported.
static int tc__meta_of(tc_ctx *c, const char *who, tc_tensor t, tc__meta *m) {
    if (!t.id) return tc__fail_null(c, who);
    return tc__meta_find(c, t, m) || tc__fail_dead(c, who, t);
}

// ---- following ----

// A tensor of the host that is one number, without dimensions: it may be computed with on any device.
// What runs there has a copy (exec/transfer.c), so nothing there writes it.
static int tc__is_number(const tc__layout *l) { return !l->device && !l->rank; }

// The first tensor from outside that decides where a visit is at home; NULL = none does.
static const tc__layout *tc__visit_decided(tc_ctx *c, const tc__visit *v) {
    for (size_t i = 0; i < v->external.count; i++) {
        const tc__layout *l = tc__layout_at(c, v->external.at[i].layout);
        if (!tc__is_number(l)) return l;
    }
    return v->result.count ? tc__layout_at(c, v->result.at[0].layout) : NULL;
}

// The device that a visit is at home on: that of the first tensor from outside, or where an earlier segment
// left its results. Without any, what is made of nothing decides: steps of sources hold the device of the
// path.
static int tc__visit_device(tc_ctx *c, const tc__visit *v) {
    const tc__layout *l = tc__visit_decided(c, v);
    if (l) return l->device;
    if (v->external.count) return 0;
    return v->region ? v->device : tc__values_of(c)->source_device;
}

// The device that a step of the visit is computed on.
static int tc__step_device(tc_ctx *c, const tc__visit *v, const tc__step *s) {
    return s->flags & TC__STEP_HOME ? tc__visit_device(c, v) : s->device;
}

// The number of the device that t is on, or will be; -1 = dead.
static int tc__device_number(tc_ctx *c, tc_tensor t) {
    const tc__tensor *m = tc__tensor_find(c, t);
    const tc__visit *v = !m && tc__is_visit(t) ? tc__visit_find(c, t) : NULL;
    if (m) return tc__layout_at(c, m->layout)->device;
    if (!v || tc__position(t) >= v->path.count) return -1;
    return tc__step_device(c, v, v->path.at[tc__position(t)]);
}

// Takes tensor `t` as the visit's next external; 0 = out of memory.
static int tc__bind_external(tc_ctx *c, tc__visit *v, tc_tensor handle, tc__tensor *t) {
    tc__external e;
    if (!TC__VEC_RESERVE(c, v->external, v->external.count + 1)) return 0;
    e.handle = handle, e.storage = t->storage, e.layout = t->layout, e.offset = t->offset;
    e.shape = NULL, e.constant = t->storage->constant ? handle.id : 0;
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

// Eager code has run: the externals of the open visit are told to be its again.
static void tc__visit_remember(tc_ctx *c, tc__visit *v) {
    for (uint32_t i = 0; i < v->external.count; i++) {
        tc__external *e = &v->external.at[i];
        tc__tensor *t = e->handle.id ? tc__tensor_find(c, e->handle) : NULL;
        if (t) t->bind_epoch = v->epoch, t->bind_index = i;
        e->storage->bind_epoch = v->epoch, e->storage->bind_index = e->alias;
    }
}

static void tc__unbind_to(tc_ctx *c, tc__visit *v, uint32_t count) {
    while (v->external.count > count) {
        tc__external *e = &v->external.at[--v->external.count];
        tc__tensor *t = e->handle.id ? tc__tensor_find(c, e->handle) : NULL;
        if (t && t->bind_epoch == v->epoch) t->bind_epoch = 0;
        if (e->alias == v->external.count) e->storage->bind_epoch = 0;
        tc__storage_unref(c, e->storage);
    }
}
