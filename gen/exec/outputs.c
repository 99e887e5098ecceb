// What a program is, and its outputs: which results and which writes in place it stores, where, and by whom. A
// write in place is stored at the view that it names, and nothing around it; the kernel that computes it
// does that itself where nobody can see the difference, else its result is copied there.
//
// Never the tensor around a view that is written: that may be another thread's.

// What is known of a launch by measuring.
typedef enum tc__tuned {
    TC__TUNED_NOT,   // nobody asked
    TC__TUNED_OPEN,  // it is to be measured
    TC__TUNED_HERE,  // it was
    TC__TUNED_KNOWN, // process or disk knew
    TC__TUNED_LATE   // there was no time for it
} tc__tuned;

typedef struct tc__launch {
    tc__group *group;   // owned by the program
    tc__interp *interp; // owned; NULL once compiled code is there and nothing asked for it
    tc__compiled *code; // counted; NULL = no kernel of the library
    tc__kernel_fn run;  // NULL = interpret
    tc__kernel_fn held; // while it is interpreted to compare
    tc__opaque *opaque; // of an opaque op, which has no interp; NULL = another kernel
    tc__custom_launch *custom; //   if it is the user's; NULL = another
    void **buf;                // base pointers by buffer; arena of the program
    tc__kargs args;
    uint32_t constants;    // 1 + the first of the program's that it is given; 0 = none
    int64_t items, grain;  // work items, and how many of them are worth a thread
    uint32_t order;        // of the program's job, while there is one
    uint32_t profile, row; // the profile that it has a row in: see exec/profile.c
    void **kept; // scratch of its own, by worker, and what is packed there: exec/kept.c
    int64_t *marks;
    tc__tuned tuned;
    uint8_t keeps;     // it has them, and its number from turn to turn of a loop
    uint8_t still;     // it makes the same in each run: exec/still.c,
    uint8_t there;     //   and did
    tc__chosen chosen; // HERE, KNOWN
} tc__launch;

// Storages that an output takes in turn: a loop may hold its last three states.
enum { TC__KEPT = 4 };

typedef struct tc__output {
    uint32_t position; // of the visit; UINT32_MAX = write-back
    uint32_t external; // write-back and alias: which external
    uint32_t code;     // write-back: operand that is written, the external or a view of it
    uint32_t node;
    uint32_t layout; // of a write-back: of what is written
    uint32_t first;  // the output in whose memory the node is computed: this one, or
                     // an earlier one of the same node
    int view;        // shows memory of another result: may share its storage
    int alias;       // 1 = a view of the external's memory, nothing to compute
    int64_t offset;  // alias and write-back: where it begins there, in elements
    size_t bytes;    // of its storage
    int copy;        // 1 = not first, but memory of its own
    int direct;      // write-back of a node that is no other output: the kernel writes
                     // the external's memory itself
    int beside;      // write-back of a node that is no result: in the arena of its device,
                     // and copied at the end
    tc__storage
        *kept[TC__KEPT];  // storage of earlier runs, reused when nobody else holds it
    uint8_t oldest;       // of those, the one that the next new storage replaces
    tc__storage *storage; // of this run
} tc__output;

// An address that is looked up anew for every run: an input's, or an output's.
typedef struct tc__address {
    void **at;        // in some launch's `buf`
    tc__dispatch *on; // whose kernels read or write there; NULL = the host does, or a copy
    int output;       // 1 = `source` is an output, 0 = an external or an earlier result
    uint32_t source;  // index
    size_t begin;     // bytes from there on
} tc__address;

typedef enum tc__tier {
    TC__TIER_FINAL,     // its launches have all the code they will get
    TC__TIER_POSTPONED, // made in a stance that does not compile
    TC__TIER_RESTING,   // the compiler could not work: no memory, no space, no time
    TC__TIER_BUILDING   // compiled in the background
} tc__tier;

// Whether kernels of a program are tuned: "max-autotune".
typedef enum tc__autotune {
    TC__AUTOTUNE_OFF,
    TC__AUTOTUNE_RECALL, // as far as it is known how
    TC__AUTOTUNE_SEARCH  // the first run measures what is not
} tc__autotune;

// An external that is a constant, and of which tensor it was in the last run.
typedef struct tc__constant_now {
    uint32_t external;
    uint64_t id;
} tc__constant_now;

typedef struct tc__program {
    tc_ctx *ctx;
    uint32_t number; // in its region, in the order of making
    tc__arena arena;
    tc__ixpool ix;
    tc__graph graph;
    tc__plan plan; // of the host's intermediates
    uint32_t externals;
    const tc__shape **inputs; // by external, then by position (NULL = dense)
    TC__VEC(tc__launch) launch;
    TC__VEC(tc__output) output;
    TC__VEC(tc__address) address;
    TC__VEC(uint32_t) assumed;   // positions it left out: an earlier segment stored them
    TC__VEC(tc__run_arg) arg;    // by slot of ARG
    TC__VEC(tc__value) arg_now;  //   and their values in this run
    TC__VEC(tc__value) constant; // of kernels that share a text: kernel/constants.c
    TC__VEC(int64_t)
    size;            // by symbol: the sizes that it is laid out for; behind them turns
    uint32_t placed; // number of the INPUT of the first place of loops
    tc__loops loops;
    int exact; // it is for the sizes of one visit alone
    int laid_out;
    const void *bound; // whose tensors the launches' addresses are of: see exec/call.c
    uint8_t *memory;   // the arena of the host's intermediates
    uint8_t *still;    // by node: it stays there from run to run; NULL = none does
    TC__VEC(tc__constant_now) still_of; // what it is made of
    size_t memory_bytes;
    uint8_t *scratch;     // worker scratch
    size_t scratch_bytes; // of one worker
    size_t scratch_total; // of all
    void **scratch_at;    // by worker
    int64_t *packed;      // the same: tc__kargs.packed
    uint8_t *kept;        // that of launches of loops, all of it
    size_t kept_bytes;
    int64_t flag[3]; // CHECK: site + 1, value, limit
    char *source;    // emitted C of all kernels, owned; NULL = none
    size_t source_size;
    const tc__backend *backend; // NULL = of an eager op
    int forced;                 // it is of TC_STANCE_FORCE_EAGER, whatever the region says
    tc__foreign *foreign;       // what a registered backend has of it; owned
    int in_place;               // it reads externals behind what it stores in them,
    int apart;                  //   or cannot
    int devices;                // how many it is on, beside the host,
    int here;                   //   and launches that are the host's own
    tc__dispatch *dispatch; // what it has of the first device; NULL = the host, or not yet
    tc__act *act;           // of a run; arena
    uint32_t acts;
    int threads;       // that a kernel may use; 0 = all
    int numerics;      // tc_numerics that its code is made for
    int round_each_op; // its graph has the roundings of eager code
    int memory_budget; // percent that its intermediates may take of what they would without it
    double without,
        within; // bytes of those in the visit that it was made in; 0 = nothing was searched,
    double again;     //   and operations that are more, by all without it
    int derives;      // it has gradients
    int allow_tf32;   // its products on a device may round f32
    int verify;       // N = one run in N of compiled code is compared with the interpreter
    uint64_t chances; //   and its runs so far; 0 = nothing is known of the code yet
    size_t held;      // bytes that it took to make it; 0 = of no step
    uint64_t serial;  // in the order of making, from 1; 0 = of no step
    uint64_t runs_seen, used; // of exec/forget.c
    uint32_t charged;         // it counts for its region's recompile_limit
    tc__tier tier;            // whether it waits for code
    uint32_t postponed;       // RESTING: kernels that wait
    int tunes;                // its region asks for kernels that are tuned
    tc__autotune autotune;
    uint64_t tune_ns; // that measuring took
    void *job;        // BUILDING: the tc__job that will have it
    int overlaps;     // a written external shares elements with another one
    int customs;      // launches of custom ops
    int counted;      // its arena is in tc_stats
    tc_stats before;  // of the context when making it began
    tc_stats after;   //   and ended
    uint64_t runs, run_ns;
    uint64_t timed_next; // run of a short-cut call that is timed next: see exec/call.c
} tc__program;

// The device that an output is on.
static int tc__output_device(const tc__program *p, const tc__output *o) {
    return p->graph.node.at[o->node]->device;
}

// What the program has of a device; NULL = the host.
static tc__dispatch *tc__program_on(const tc__program *p, int device) {
    tc__dispatch *r = device ? p->dispatch : NULL;
    while (r && r->device->number != device) r = r->next;
    return r;
}

// What it has of the device of launch i. A copy is none's.
static tc__dispatch *tc__launch_on(const tc__program *p, size_t i) {
    const tc__group *k = p->launch.at[i].group;
    return tc__is_copy(k) ? NULL : tc__program_on(p, k->target.device);
}

// Whether it is on several devices.
TC__UNUSED static int tc__program_is_across(const tc__program *p) {
    return p->devices + (p->here > 0) > 1;
}

// Does one act of a run; 0 = reported.
typedef int (*tc__act_fn)(tc__program *p, const tc__visit *v, const tc__act *a);

// Whether a program writes externals in place: only what ends a region or is eager does.
typedef enum tc__effects { TC__NO_EFFECTS, TC__WRITE_BACK } tc__effects;

// ---- targets ----

static int tc__program_output(tc__program *p, const tc__output *o, const tc__node *n) {
    tc__output out = *o;
    out.node = n->id;
    return TC__PUSH(p->ctx, p->output, out);
}

// By node: the output in whose memory it is computed, UINT32_MAX = none. Owned by the caller; NULL = no
// memory.
static uint32_t *tc__outputs_of(const tc__program *p) {
    size_t nodes = p->graph.node.count;
    uint32_t *of = TC__NEW_ARRAY(p->ctx, uint32_t, nodes);
    for (size_t i = 0; of && i < nodes; i++) of[i] = UINT32_MAX;
    for (size_t i = p->output.count; of && i-- > 0;)
        if (!p->output.at[i].alias) of[p->output.at[i].node] = (uint32_t)i;
    return of;
}

// A result that shows the memory of an external is a view of it, as it is outside a region; unless
// a write to that external is still to come when the program ends.
static void tc__output_alias(tc__builder *b, tc__effects effects, tc__output *o) {
    const tc__visit *v = b->visit;
    uint32_t code = o->position;
    o->view = v->path.at[code]->view != 0;
    code = tc__memory_of(v, code);
    if (!(code & TC__EXTERNAL)) return;
    code &= ~TC__EXTERNAL;
    if (tc__cell_at(b, tc__cell_root(b, code))->version && effects == TC__NO_EFFECTS)
        return;
    o->alias = 1, o->external = code;
}

static int tc__is_target(const tc__program *p, const tc__visit *v, size_t first,
                         uint32_t code) {
    for (size_t i = first; i < p->output.count; i++)
        if (tc__same_view(v, p->output.at[i].code, code)) return 1;
    return 0;
}

// What has to be stored where external e lies: the views of it that are written, and nothing between them;
// or all of it, if some write is to all of it. 0 = reported.
static int tc__target_external(tc__program *p, tc__builder *b, uint32_t count, uint32_t e) {
    const tc__visit *v = b->visit;
    size_t first = p->output.count;
    tc__output o;
    memset(&o, 0, sizeof o);
    o.position = UINT32_MAX, o.external = e;
    for (uint32_t i = 0; i < count; i++) {
        o.code = tc__written_view(v, v->path.at[i], e);
        if (o.code == UINT32_MAX) continue;
        if (o.code & TC__EXTERNAL) p->output.count = first;
        if (tc__is_target(p, v, first, o.code)) continue;
        const tc__node *n = tc__target_node(b, count, e, o.code);
        if (!n || !tc__program_output(p, &o, n)) return 0;
        if (o.code & TC__EXTERNAL) break;
    }
    return 1;
}

static int tc__program_targets(tc__program *p, tc__builder *b, uint32_t count,
                               const uint32_t *position, size_t n, tc__effects effects) {
    tc__output o;
    for (size_t i = 0; i < n; i++) {
        const tc__node *v = tc__cell_read(b, b->externals + position[i]);
        memset(&o, 0, sizeof o);
        o.position = position[i];
        tc__output_alias(b, effects, &o);
        if (!v || !tc__program_output(p, &o, v)) return 0;
    }
    for (uint32_t i = 0; i < b->externals && effects == TC__WRITE_BACK; i++)
        if (tc__cell_at(b, tc__cell_root(b, i))->version &&
            !tc__target_external(p, b, count, i))
            return 0;
    return 1;
}

// Whether some external shares elements with a written one: its SHARE step says so; of an eager op, that has
// none, any on the same storage may.
static int tc__overlaps(const tc__builder *b) {
    const tc__visit *v = b->visit;
    for (uint32_t i = 0; i < b->externals; i++)
        if (b->within.at[i].hidden != UINT32_MAX ||
            (!v->region && v->external.at[i].alias != i))
            return 1;
    return 0;
}

// ---- direct write-back ----

// Where a write-back lies in its external: its dimensions, and expressions of where they step. `known`: and
// where it begins; else that is known at run time only.
typedef struct tc__landing {
    int possible, dense, known;
    int rank;
    const tc__ix *dims;
    tc__ix stride[TC_MAX_RANK], begin;
} tc__landing;

// Whether elements of a view of a dense tensor are neighbours, in order, whatever the sizes are.
static int tc__is_dense_view(const tc__visit *v, uint32_t code) {
    for (; !(code & TC__EXTERNAL); code = v->path.at[code]->in[0]) {
        const tc__step *s = v->path.at[code];
        int rows = s->op == TC_OP_SLICE && !s->attr[TC__SLICE_DIM] &&
                   tc__ix_equals(s->attr[TC__SLICE_STEP], 1);
        if (!rows && s->op != TC_OP_RESHAPE) return 0;
    }
    return 1;
}

// The strides of step s of a view, from those of its operand, whose dimensions are `from`; 0 = they are not told.
static int tc__view_strides(tc__ixpool *ix, const tc__step *s, const tc__meta *from,
                            const tc__ix *was, tc__ix *is) {
    int i = 0, step = s->op == TC_OP_SLICE ? (int)s->attr[TC__SLICE_DIM] : -1;
    if (step >= 0 && !tc__ix_is_const(s->attr[TC__SLICE_STEP])) return 0;
    for (int d = 0; d < s->meta.rank; d++) {
        is[d] = tc__ix_const(0);
        if (s->op == TC_OP_SLICE) is[d] = was[d];
        if (s->op == TC_OP_PERMUTE) is[d] = was[s->attr[d]];
        if (d == step) is[d] = tc__ix_mul(ix, was[d], s->attr[TC__SLICE_STEP]);
        if (s->op != TC_OP_RESHAPE || tc__ix_equals(s->meta.dims[d], 1)) continue;
        while (i < from->rank && tc__ix_equals(from->dims[i], 1)) i++;
        if (i == from->rank || from->dims[i] != s->meta.dims[d]) return 0;
        is[d] = was[i++];
    }
    while (i < from->rank && tc__ix_equals(from->dims[i], 1)) i++;
    return s->op != TC_OP_EXPAND && (s->op != TC_OP_RESHAPE || i == from->rank);
}

enum { TC__VIEWS_MOST = 16 }; // of views, as many that show each other

// The strides of view `code` of external e, whatever the sizes are. 0 = they are not told.
static int tc__code_strides(tc__program *p, const tc__visit *v, uint32_t code, uint32_t e,
                            tc__ix *stride) {
    uint32_t chain[TC__VIEWS_MOST], n = 0;
    tc__ix is[TC_MAX_RANK];
    tc__meta from;
    tc__meta_of_layout(tc__layout_at(p->ctx, v->external.at[e].layout), &from);
    for (int d = 0; v->external.at[e].shape && d < from.rank; d++)
        from.dims[d] = v->external.at[e].shape->dims[d];
    memcpy(stride, p->inputs[e]->strides, sizeof is);
    for (; !(code & TC__EXTERNAL); code = v->path.at[code]->in[0]) {
        if (n == TC__VIEWS_MOST) return 0;
        chain[n++] = code;
    }
    while (n) {
        const tc__step *s = v->path.at[chain[--n]];
        if (!tc__view_strides(&p->ix, s, &from, stride, is)) return 0;
        memcpy(stride, is, sizeof is), from = s->meta;
    }
    return 1;
}

static tc__landing tc__landing_of(tc__program *p, const tc__visit *v, const tc__output *o) {
    tc__landing d;
    int64_t begin = 0;
    const tc__node *n = p->graph.node.at[o->node];
    const tc__shape *whole = p->inputs[o->external];
    int is_whole = (o->code & TC__EXTERNAL) != 0;
    memset(&d, 0, sizeof d);
    d.rank = n->rank, d.dims = n->dims, d.begin = tc__ix_const(0);
    d.dense = whole->contiguous && tc__is_dense_view(v, o->code);
    d.known = is_whole || !p->size.count;
    d.possible = d.dense || d.known;
    if (is_whole) memcpy(d.stride, whole->strides, sizeof d.stride);
    if (!d.possible) d.possible = tc__code_strides(p, v, o->code, o->external, d.stride);
    if (is_whole || !d.known) return d;
    uint32_t id = tc__code_layout(p->ctx, v, o->code, &begin);
    const tc__layout *l = tc__layout_at(p->ctx, id);
    for (int i = 0; i < l->rank; i++) d.stride[i] = tc__ix_const(l->strides[i]);
    d.possible = id != 0, d.dense = l->contiguous && d.possible;
    d.begin = tc__ix_const(begin);
    return d;
}

// Where row-major element e of the landing is in its external.
static tc__ix tc__landing_index(tc__ixpool *ix, const tc__landing *d, tc__ix e) {
    tc__ix sum = d->begin;
    if (d->dense) return tc__ix_add(ix, sum, e);
    for (int i = d->rank; i-- > 0; e = tc__ix_div(ix, e, d->dims[i])) {
        tc__ix at = i ? tc__ix_mod(ix, e, d->dims[i]) : e;
        sum = tc__ix_add(ix, sum, tc__ix_mul(ix, at, d->stride[i]));
    }
    return sum;
}

static int tc__uses_input(const tc__group *k, uint32_t e) {
    for (size_t i = 0; i < k->buffer.count; i++)
        if (k->buffer.at[i].place == TC__BUF_INPUT && k->buffer.at[i].source == e) return 1;
    return 0;
}

// Kernel `k` stores `node` once, on the host where vectors stay whole, and reads external `e` only there, before it does.
static int tc__reads_in_place(tc__program *p, const tc__group *k, const tc__output *o,
                              const tc__landing *to) {
    enum { WHOLE = 2 * TC__VECTOR }; // elements: all vectors divide it
    const tc__node *store = NULL;
    tc__ix at = 0;
    int ordered = k->shape.kind == TC__POINTWISE && k->shape.phases == 1;
    if (!ordered && (k->shape.kind == TC__OPAQUE || tc__uses_input(k, o->external)))
        return 0;
    for (size_t i = k->body.node.count; i-- > 0;) {
        const tc__node *n = k->body.node.at[i];
        if (n->op != TC_OP_STORE && n->op != TC_OP_LOAD) continue;
        const tc__kbuf *b = tc__buffer_of(k, n);
        if (n->op == TC_OP_STORE && b->place == TC__BUF_NODE && b->source == o->node) {
            if (store && !to->dense) return 0;
            store = n, at = tc__landing_index(&p->ix, to, n->attr[TC__ACCESS_INDEX]);
            if (!to->dense && !k->target.device &&
                tc__access_along(k, at, (tc__axis)k->shape.vector, WHOLE) != TC__CONTIGUOUS)
                return 0;
        }
        if (n->op != TC_OP_LOAD || b->place != TC__BUF_INPUT || b->source != o->external)
            continue;
        if (!store || !to->known) return 0;
        if (tc__ix_add(&p->ix, n->attr[TC__ACCESS_INDEX], tc__ix_const(b->begin)) != at)
            return 0;
    }
    return store != NULL;
}

// Whether kernel k has the memory of a node, to write it or to read it.
static int tc__has_node(const tc__group *k, uint32_t node, int written) {
    for (size_t i = 0; i < k->buffer.count; i++)
        if (k->buffer.at[i].place == TC__BUF_NODE && k->buffer.at[i].source == node &&
            !k->buffer.at[i].written == !written)
            return 1;
    return 0;
}

// Whether a run may fail half-way: by an index, or by a function of the user's.
static int tc__may_fail(const tc__program *p) {
    if (p->customs) return 1;
    for (size_t i = 0; i < p->launch.count; i++)
        if (tc__group_checks(p->launch.at[i].group)) return 1;
    return 0;
}

// Whether a write-back is to a part of its external's memory, and nothing around it.
static int tc__output_is_part(const tc__program *p, const tc__output *o) {
    return !(o->code & TC__EXTERNAL) || !p->inputs[o->external]->contiguous;
}

// Whether all addresses at which a landing begins are multiples of what a device accesses at once.
static int tc__landing_is_aligned(const tc__landing *d, int dtype) {
    int64_t step = TC__DEVICE_ACCESS / (int64_t)tc__dtype(dtype)->bytes;
    return d->known && tc__ix_is_const(d->begin) && tc__ix_value(d->begin) % step == 0;
}

// Memory of the user's is aligned to its elements only, and what was just read is in the caches: it is
// not written past them. The landing begins where the buffer does.
static void tc__store_in_place(tc__program *p, tc__group *k, uint32_t node,
                               const tc__landing *to) {
    tc__landing from = *to;
    from.begin = tc__ix_const(0);
    for (size_t i = 0; i < k->body.node.count; i++) {
        tc__node *n = k->body.node.at[i];
        if (n->op != TC_OP_STORE) continue;
        tc__kbuf *b = &k->buffer.at[n->attr[TC__STORE_BUFFER]];
        if (b->place != TC__BUF_NODE || b->source != node) continue;
        b->is_part = k->target.device && !tc__landing_is_aligned(to, b->dtype);
        n->attr[TC__STORE_INDEX] =
            tc__landing_index(&p->ix, &from, n->attr[TC__STORE_INDEX]);
        n->attr[TC__STORE_KIND] = TC__STORE_CACHED;
    }
}

// Whether kernels may write the landing where it is. What is compared with the interpreter is dense.
static int tc__is_landing(const tc__program *p, const tc__visit *v, const tc__landing *to) {
    if (!to->possible || p->overlaps) return 0;
    return to->dense || !v->region || !v->region->options.verify;
}

// ---- reading behind a write ----
// A program that reads an external behind what it stores there (graph/cells.c) is made at a venture. It holds where
// all of that is stored directly, and nothing reads what was there before.

// Whether output o is stored before some kernel reads its external.
static int tc__is_read_behind(const tc__program *p, const tc__output *o) {
    for (size_t i = 0; p->in_place && i < p->graph.node.count; i++) {
        const tc__node *n = p->graph.node.at[i];
        if (n->op == TC_OP_INPUT && n->attr[TC__INPUT_EXTERNAL] == o->external &&
            tc__has_operand(n, o->node))
            return 1;
    }
    return 0;
}

// By node: whether an output is made of it. Owned by the caller; NULL = no memory.
static uint8_t *tc__program_live(const tc__program *p) {
    uint8_t *live = TC__NEW_ARRAY(p->ctx, uint8_t, p->graph.node.count);
    for (size_t i = 0; live && i < p->output.count; i++)
        if (!p->output.at[i].alias) live[p->output.at[i].node] = 1;
    for (size_t i = p->graph.node.count; live && i-- > 0;)
        for (uint32_t k = 0; live[i] && k < p->graph.node.at[i]->n_in; k++)
            live[p->graph.node.at[i]->in[k]] = 1;
    return live;
}

// Whether INPUT n, read behind what is stored there, is the only one that reads its external, and all that is
// stored there is its operands.
static int tc__reads_last(const tc__program *p, const uint8_t *live, const tc__node *n) {
    uint32_t stored = 0;
    for (size_t i = 0; i < p->graph.node.count; i++) {
        const tc__node *m = p->graph.node.at[i];
        if (live[i] && m != n && m->op == TC_OP_INPUT &&
            m->attr[TC__INPUT_EXTERNAL] == n->attr[TC__INPUT_EXTERNAL])
            return 0;
    }
    for (size_t i = 0; i < p->output.count; i++) {
        const tc__output *o = &p->output.at[i];
        if (o->position != UINT32_MAX || o->external != n->attr[TC__INPUT_EXTERNAL])
            continue;
        if (!tc__has_operand(n, o->node)) return 0;
        stored++;
    }
    return stored == n->n_in;
}

// Whether the graph tells one place in the order of kernels for each external that is read behind a write.
static int tc__reads_behind(tc__program *p) {
    uint8_t *live = p->in_place ? tc__program_live(p) : NULL;
    if (!live) return !p->in_place;
    p->in_place = 0;
    for (size_t i = 0; !p->apart && i < p->graph.node.count; i++) {
        const tc__node *n = p->graph.node.at[i];
        if (!live[i] || n->op != TC_OP_INPUT || !n->n_in) continue;
        p->in_place = 1, p->apart = !tc__reads_last(p, live, n);
    }
    TC__FREE_ARRAY(p->ctx, live, p->graph.node.count);
    return !p->apart;
}

// Whether what is read behind a write is there by then.
static int tc__stores_before(tc__program *p) {
    for (size_t i = 0; i < p->output.count && p->in_place; i++) {
        const tc__output *o = &p->output.at[i];
        int back = o->position == UINT32_MAX && !o->direct;
        p->apart |= back && tc__is_read_behind(p, o);
    }
    return !p->apart;
}

// Whether work of another device follows launch i, or a copy: it may fail then, and what was written is to be as it
// was. What the host does itself does not fail.
static int tc__others_follow(const tc__program *p, size_t i) {
    int own = p->launch.at[i].group->target.device;
    while (++i < p->launch.count) {
        const tc__group *k = p->launch.at[i].group;
        if (tc__is_copy(k) || (k->target.device && k->target.device != own)) return 1;
    }
    return 0;
}

// Whether the program cannot fail once launch `writer` has begun, which knows whether it has: all indices are looked at by
// kernels of its device before it, and it writes nothing if one was wrong.
static int tc__is_guarded(const tc__program *p, size_t writer) {
    const tc__group *g = p->launch.at[writer].group;
    const tc__device *d = tc__device_at(p->ctx, g->target.device);
    const tc__language *l = d ? d->own.language : NULL;
    if (!l || !l->dialect->guards || p->customs || g->target.loop) return 0;
    for (size_t i = 0; i < p->launch.count; i++) {
        const tc__group *k = p->launch.at[i].group;
        int fails = tc__group_checks(p->launch.at[i].group);
        if (fails &&
            (i >= writer || k->target.loop || k->target.device != g->target.device))
            return 0;
    }
    return 1;
}

// The last kernel may write the external itself when nobody can see the difference: it reads the
// external only where it writes it, nobody reads it later, and the program cannot fail from then on.
// 0 = out of memory.
static int tc__choose_direct(tc__program *p, const tc__visit *v, tc__output *o) {
    size_t writer = p->launch.count, shared = 0;
    tc__landing to = tc__landing_of(p, v, o);
    if (!tc__is_landing(p, v, &to)) return 1;
    for (size_t i = 0; i < p->output.count; i++)
        shared += p->output.at[i].node == o->node && !p->output.at[i].alias;
    for (size_t i = 0; i < p->launch.count; i++)
        if (tc__has_node(p->launch.at[i].group, o->node, 1)) writer = i;
    for (size_t i = 0; i < p->launch.count && !to.dense; i++)
        if (tc__has_node(p->launch.at[i].group, o->node, 0)) return 1;
    if (writer == p->launch.count || shared > 1 || tc__others_follow(p, writer)) return 1;
    for (size_t i = writer + 1; i < p->launch.count && !tc__is_read_behind(p, o); i++)
        if (tc__uses_input(p->launch.at[i].group, o->external)) return 1;
    tc__launch *l = &p->launch.at[writer];
    int guarded = tc__may_fail(p);
    if (guarded && !tc__is_guarded(p, writer)) return 1;
    o->direct = tc__reads_in_place(p, l->group, o, &to);
    if (!o->direct) return 1;
    l->group->target.guarded |= guarded;
    tc__store_in_place(p, l->group, o->node, &to);
    if (to.dense || !l->interp) return 1;
    tc__interp_free(l->interp); // it stores elsewhere
    l->interp = tc__interp_prepare(p->ctx, l->group);
    return l->interp != NULL;
}

// Whether a write-back that its kernel does not do itself is an intermediate of its device: nobody else has the
// node, and the device has one place for what all programs store between their kernels.
static int tc__is_beside(const tc__program *p, const tc__output *o) {
    int stored = 0;
    if (o->position != UINT32_MAX || o->direct || !tc__output_device(p, o)) return 0;
    for (size_t i = 0; i < p->output.count; i++) {
        const tc__output *other = &p->output.at[i];
        if (other->node == o->node && !other->alias && other->position != UINT32_MAX)
            return 0;
    }
    for (size_t i = 0; i < p->graph.place.count; i++)
        if (p->graph.place.at[i].node == o->node) return 0;
    for (size_t i = 0; !stored && i < p->launch.count; i++)
        stored = tc__has_node(p->launch.at[i].group, o->node, 1);
    return stored;
}

// ---- scratch ----

// What a worker needs of it for launch l, compiled or interpreted.
static size_t tc__launch_scratch(tc__program *p, const tc__launch *l,
                                 const tc__ixenv *env) {
    size_t need = tc__interp_scratch_bytes(l->interp, env->sym);
    size_t compiled = (size_t)tc__ix_eval(&p->ix, l->group->shape.scratch, env);
    return compiled > need ? compiled : need;
}

// With a page behind it, in whole lines.
static size_t tc__scratch_room(size_t need) { return (need + 4096 + 63) / 64 * 64; }
