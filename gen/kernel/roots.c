// TENSOR graph -> roots: which nodes have memory or are reduced. Everything that is no root is recomputed
// inside the kernels that use it.
//
// Roots are outputs, reductions, contractions, expensive nodes with several users, any of them that a
// product's epilogue can store instead of the product, and what must lie in memory first: factors of
// products that are not computed where they are loaded, tables of gathers, images of stencils, operands
// and results of opaque ops; without fusion all that is computed. kernel/cluster.c makes a cluster of each,
// kernel/merge.c joins them, kernel/schedule.c makes kernels of them.
//
// What is stored is small: ahead of a product a cast is done by who makes the value; what
// many read through a widening cast is stored before it; a sum behind a product that two
// read is stored once, by the product, also through a reshape. So a bf16 encoder takes 1.2
// ms, not 2.2, and GPT-2's forward pass 10, not 21 (H200).

// A factor of a product is computed where it is loaded by few ops, and where the other factor has few
// rows or columns: bytes times a scale, made so, take 0.55 of the time of a kernel of their own with 1
// and 4 of them, 0.95 with 16, 1.08 with 128, 2.5 with 1024 (bf16, k and columns 8192, on an H200).
enum {
    TC__TAPS = 3, // this many index tuples of one node make a stencil
    // Ops of an expression that is inlined: a compiler takes 0.3 ms for each up to here, with twice as
    // many 0.6 ms, with four times as many 1.5 ms, and with these it has no registers left.
    TC__LENGTH_MOST = 256,
    TC__LOAD_OPS = 8,
    TC__SPREAD = 32, // copies of an element for which making it once counts nothing
    TC__LOAD_MOST = 128
};

// What shares a kernel.
typedef enum tc__fuse {
    TC__FUSE_NOTHING, // one kernel per op
    TC__FUSE,
    // And an image in memory is read beside its border by loads of a mask, which are instructions.
    TC__FUSE_BORDERS,
    // And what is cheap is computed where it is loaded: factors of products, borders of images.
    TC__FUSE_LOADS
} tc__fuse;

// One load of a root by a cluster's root, found by lowering it alone.
typedef struct tc__use {
    uint32_t reader, root; // roots
    tc__ix index;          // in the reader's own variables
    int guarded;
} tc__use;

// That a cluster's root, lowered alone, loads a place: a tensor at an index.
typedef struct tc__read {
    uint32_t reader, place; // root; number of the place
    uint32_t source;        // the root that is loaded, or the number of the external
    int external;
} tc__read;

// Scratch of tc__count_together.
typedef struct tc__census {
    uint64_t number; // of the count
    size_t places, externals;
    uint64_t *place, *external; // by each: the count that met it last; owned
    uint64_t *op;               // by node: the same; owned
    uint64_t *root;             // by root: the same; owned
    uint32_t *inside;           //   its readers in the kernel, of that count; owned
} tc__census;

typedef struct tc__cluster {
    tc__space space;
    tc__group_kind kind;
    uint32_t first; // of its roots, which are a list: tc__root.next
    uint32_t part;  // of its roots: tc__schedule.part
    uint32_t taps;  // body nodes that its roots have beyond one for each op
    uint32_t size;  // body nodes at most
    uint32_t buffers;
    uint32_t again;  // of its roots that are computed again, the last; 0 = none is
    uint32_t behind; //   made of what is computed again, the last
    uint32_t ahead;  //   values of the forward pass, 1 + the first
    uint32_t block;  //   derivatives, where something is computed again: 1 + `behind`
    int device;      // that it runs on
    uint32_t loop;   // that it is in, as tc__node.loop
    int alive;
} tc__cluster;

// What is read to make one element of a value again. What is computed counts a part more than an input: its memory
// may be of no other use. A tensor counts once as long as there are few.
enum { TC__LOAD_PARTS = 16, TC__LOAD_TENSORS = 4 };

typedef struct tc__loads {
    uint32_t parts, count; // of bytes; TC__LOAD_TENSORS + 1 = more than are told apart
    uint32_t tensor[TC__LOAD_TENSORS]; // node
} tc__loads;

typedef struct tc__schedule {
    tc_ctx *ctx;
    const tc__graph *g;
    const tc__shape *const *inputs;
    uint8_t *output; // by node: others see its memory
    uint8_t *live;   // by node: needed by an output
    uint32_t *users; // by node: operand edges from live nodes, also through a widening cast
    uint32_t *cost;  // by node: cost of recomputing one element
    uint32_t *length; // by node: ops of the expression that its users inline
    tc__loads *loads; // by node
    uint8_t *whole;   // by node: see tc__uses_whole
    uint8_t *mates;   // by node: some user may be in the kernel that makes it: tc__is_mate
    uint8_t *forced;  // by node
    uint8_t *inside;  // by node: nothing but an UNROLLED node is made of it, in its kernel
    uint8_t *product; // by node: a contraction's value, changed element by element
    uint32_t *again, *behind; // by node: see kernel/again.c
    int repeats;              //   some is computed again
    uint8_t *redraw;          // by node: it is drawn wherever it is needed: kernel/redraw.c
    uint32_t
        *made_of; // by node: 1 + the last contraction that it is made of so; 0 = of none
    uint8_t *way; //   and tc__way
    int32_t *root_of; // by node
    TC__VEC(tc__root) root;
    TC__VEC(tc__cluster) cluster;
    TC__VEC(tc__use) use;
    TC__VEC(tc__read) read;
    TC__VEC(uint32_t) op; // nodes, by root
    tc__map places;       // hash of a place -> its number
    uint32_t place_count;
    tc__census census;
    uint32_t *window;            // by root: the first of those it may be merged with; owned
    size_t words;                // of a row in the three bit matrices, by cluster; owned
    uint64_t *reach;             //   clusters that need it, at once or through others
    uint64_t *into;              //   clusters that it needs
    uint64_t *reads;             //   places that it loads
    TC__VEC(tc__group *) kernel; // the result, in execution order; owned by the caller then
    tc__outlines outlines;
    uint8_t fuses[TC__DEVICES_MOST]; // tc__fuse, by device
    int apart;                       // nothing shares a kernel
    uint32_t *part; // by node: of the kernel that was cut, 0 = it was not: kernel/cut.c
    uint32_t parts; // so far
    int full;       // some merge was refused for nothing but the size of the kernel
    int unbounded;  // and none is: to see what would be one kernel
} tc__schedule;

static int tc__is_kind(const tc__node *n, tc__kind k) { return tc__ops[n->op].kind == k; }

// What shares a kernel where the node is computed.
static tc__fuse tc__fuse_of(const tc__schedule *s, const tc__node *n) {
    return (tc__fuse)s->fuses[n->device];
}

// ---- roots ----

// Those who use a value through a cast to a larger type use it: where it is kept, it is kept small.
static void tc__pass_users_on(tc__schedule *s) {
    for (size_t i = s->g->node.count; i-- > 0;) {
        const tc__node *n = s->g->node.at[i];
        if (!s->users[i] || !tc__is_kind(n, TC__KIND_CAST)) continue;
        const tc__node *a = tc__operand(s->g, n, 0);
        if (tc__dtypes[a->dtype].bytes < tc__dtypes[n->dtype].bytes)
            s->users[a->id] += s->users[i] - 1;
    }
}

// Whether n, or one that uses n by movement or as another dtype, is a sum or product of its operands' elements.
static int tc__uses_whole(const tc__schedule *s, const tc__node *n) {
    if (tc__is_kind(n, TC__KIND_REDUCE) || tc__is_kind(n, TC__KIND_CONTRACT)) return 1;
    return s->whole[n->id] &&
           (tc__is_kind(n, TC__KIND_MOVE) || tc__is_kind(n, TC__KIND_CAST));
}

// What is in memory behind it.
static int tc__is_stored_anyway(const tc__schedule *s, const tc__node *n) {
    return s->forced[n->id] || tc__is_kind(n, TC__KIND_REDUCE) ||
           tc__is_kind(n, TC__KIND_CONTRACT) || tc__is_kind(n, TC__KIND_OPAQUE);
}

// What UNROLLED nodes alone are made of is shared by the elements of a point, whatever it costs: it is no root, and no image of
// stencils. Behind what is forced.
static void tc__mark_inside(tc__schedule *s, const uint8_t *output) {
    size_t n = s->g->node.count;
    for (size_t i = 0; i < n; i++) s->inside[i] = 1;
    for (size_t i = n; i-- > 0;) {
        const tc__node *x = s->g->node.at[i];
        if (!s->live[i]) continue;
        if (output[i] || tc__is_stored_anyway(s, x)) s->inside[i] = 0;
        for (uint32_t k = 0; k < x->n_in; k++)
            if (!s->inside[i] && x->op != TC_OP_UNROLLED) s->inside[x->in[k]] = 0;
    }
}

// Whether n, which uses a value, or one that uses n by movement, may be in the kernel that makes the value: products and
// opaque ops read what is in memory, and so does what is read behind a loop.
static int tc__is_mate(const tc__schedule *s, const uint8_t *output, const tc__node *n) {
    if (tc__is_kind(n, TC__KIND_MOVE) && !output[n->id]) return s->mates[n->id];
    return !tc__is_kind(n, TC__KIND_CONTRACT) && !tc__is_kind(n, TC__KIND_OPAQUE) &&
           n->op != TC_OP_INPUT;
}

// Nodes without elements are not computed, whoever wants them.
static void tc__mark_live(tc__schedule *s, const uint8_t *output) {
    for (size_t i = s->g->node.count; i-- > 0;) {
        const tc__node *n = s->g->node.at[i];
        if (tc__has_no_elements(n)) s->live[i] = 0;
        if (!s->live[i]) continue;
        for (uint32_t k = 0; k < n->n_in; k++) {
            s->live[n->in[k]] = 1;
            s->users[n->in[k]]++;
            s->whole[n->in[k]] |= (uint8_t)tc__uses_whole(s, n);
            s->mates[n->in[k]] |= (uint8_t)tc__is_mate(s, output, n);
        }
    }
    tc__pass_users_on(s);
}

// Whether each element of an expand's operand is there so often that making it costs nothing for each of them.
static int tc__is_spread(const tc__graph *g, const tc__node *n) {
    const tc__node *a = n->op == TC_OP_EXPAND ? tc__operand(g, n, 0) : NULL;
    if (!a) return 0;
    tc__ix few = tc__node_numel(g, a), many = tc__node_numel(g, n);
    return tc__ix_is_const(few) && tc__ix_is_const(many) &&
           tc__ix_value(few) <= tc__ix_value(many) / TC__SPREAD;
}

// Of recomputing one element; what is in memory costs nothing.
static uint32_t tc__cost_of(const tc__schedule *s, const tc__node *n) {
    uint32_t sum = tc__ops[n->op].cost;
    if (tc__is_spread(s->g, n)) return 0;
    int stops = tc__is_kind(n, TC__KIND_REDUCE) || tc__is_kind(n, TC__KIND_CONTRACT) ||
                n->op == TC_OP_INPUT;
    for (uint32_t k = 0; k < n->n_in && !stops; k++) sum += s->cost[n->in[k]];
    return stops || s->forced[n->id] ? 0 : sum > 1000000 ? 1000000 : sum;
}

static uint32_t tc__load_parts(const tc__node *n) {
    return TC__LOAD_PARTS * (uint32_t)tc__dtypes[n->dtype].bytes;
}

static tc__loads tc__loads_itself(const tc__node *n) {
    tc__loads l = {0, 1, {0}};
    l.parts = tc__load_parts(n) + (n->op != TC_OP_INPUT), l.tensor[0] = n->id;
    return l;
}

static int tc__loads_has(const tc__loads *l, uint32_t tensor) {
    for (uint32_t i = 0; i < l->count && i < TC__LOAD_TENSORS; i++)
        if (l->tensor[i] == tensor) return 1;
    return 0;
}

// Those of an operand as well. Their bytes are alike as long as they are told apart.
static void tc__loads_add(tc__loads *l, const tc__loads *more) {
    uint32_t news = 0, most = TC__LOAD_TENSORS + 1;
    for (uint32_t i = 0; i < more->count && i < TC__LOAD_TENSORS; i++) {
        if (tc__loads_has(l, more->tensor[i])) continue;
        if (l->count < TC__LOAD_TENSORS) l->tensor[l->count] = more->tensor[i];
        l->count = l->count < most ? l->count + 1 : most, news++;
    }
    if (more->count == most) l->count = most;
    l->parts +=
        more->count && news < more->count ? more->parts / more->count * news : more->parts;
    if (l->parts > 1000000) l->parts = 1000000;
}

static tc__loads tc__loads_of(const tc__schedule *s, const tc__node *n) {
    tc__loads l = {0, 0, {0}};
    int whole = tc__is_kind(n, TC__KIND_REDUCE) || tc__is_kind(n, TC__KIND_CONTRACT);
    if (tc__is_spread(s->g, n)) return l;
    if (n->op == TC_OP_INPUT || whole || s->forced[n->id]) return tc__loads_itself(n);
    for (uint32_t k = 0; k < n->n_in; k++) tc__loads_add(&l, &s->loads[n->in[k]]);
    return l;
}

// Whether less is read and written where n is stored than where each user makes it again: as what a network adds to
// layer by layer, and the gradient of that. Users that share a kernel with it read nothing, as those of an optimiser's momentum:
// some user adds its elements up.
static int tc__is_read_often(const tc__schedule *s, const tc__node *n) {
    uint32_t own = tc__load_parts(n), all = s->loads[n->id].parts;
    return s->whole[n->id] && tc__is_alu(n) && all > own &&
           (uint64_t)(s->users[n->id] - 1) * (all - own) > own;
}

// What a value is computed from, and by how much.
typedef struct tc__recipe {
    uint32_t ops;
    double bytes; // of all tensors that are read
    int plain;    // cheap ops on tensors in memory, nothing else
} tc__recipe;

static double tc__bytes_most(const tc__graph *g, const tc__node *n) {
    return (double)tc__ix_hi(g->ix, tc__node_numel(g, n)) *
           (double)tc__dtypes[n->dtype].bytes;
}

// The first cost nothing, and what has two operands costs something: so few operands wait.
enum { TC__RECIPE_WAITING = 2 * TC__LOAD_OPS + 4 };

static void tc__recipe_node(const tc__graph *g, const tc__node *n, tc__recipe *r) {
    int source = tc__is_kind(n, TC__KIND_SOURCE), move = tc__is_kind(n, TC__KIND_MOVE);
    uint32_t cost = tc__ops[n->op].cost;
    r->ops += cost;
    r->plain &= (source || move || tc__is_alu(n)) && cost <= 1 && r->ops <= TC__LOAD_OPS;
    if (n->op == TC_OP_INPUT) r->bytes += tc__bytes_most(g, n);
}

static void tc__recipe_add(const tc__graph *g, const tc__node *n, tc__recipe *r) {
    const tc__node *waiting[TC__RECIPE_WAITING] = {n};
    uint32_t count = 1;
    while (count && r->plain) {
        n = waiting[--count];
        tc__recipe_node(g, n, r);
        if (n->op == TC_OP_INPUT) continue; // what it waits for is no operand
        if (count + n->n_in > TC__RECIPE_WAITING) r->plain = 0;
        for (uint32_t k = n->n_in; k-- > 0 && r->plain;)
            waiting[count++] = tc__operand(g, n, k);
    }
}

static double tc__size_or_one(tc__ix e) {
    return tc__ix_is_const(e) ? (double)tc__ix_value(e) : 1;
}

// Whether tiles of product p load an element of n, which its factor i is or repeats, a few times only.
static int tc__loads_are_few(const tc__graph *g, const tc__node *p, uint32_t i,
                             const tc__node *n) {
    tc__ix across = p->dims[p->rank - (i ? 2 : 1)];
    double all = tc__size_or_one(tc__node_numel(g, tc__operand(g, p, i))),
           own = tc__size_or_one(tc__node_numel(g, n));
    return tc__size_or_one(across) * (all > own ? all / own : 1) <= (double)TC__LOAD_MOST;
}

// Whether n, which factor i of product p is or repeats, is computed where it is loaded, each time: by
// few and cheap ops, from tensors that lie in memory anyway and have together about its bytes at
// most. That costs no kernel, and no more is read than if it were stored: of a quantised weight, half
// or a quarter. The host computes a vector of columns at a time, which is slow for weights stored
// [columns, k].
static int tc__is_made_at_loads(const tc__schedule *s, const tc__node *p, uint32_t i,
                                const tc__node *n) {
    tc__recipe r = {0, 0, 1};
    if (tc__fuse_of(s, p) != TC__FUSE_LOADS) return 0;
    tc__recipe_add(s->g, n, &r);
    return r.plain && tc__loads_are_few(s->g, p, i, n) &&
           8 * r.bytes <= 9 * tc__bytes_most(s->g, n);
}

static int tc__is_dense_input(const tc__schedule *s, const tc__node *n) {
    if (n->op != TC_OP_INPUT) return 0;
    const tc__shape *l = s->inputs ? s->inputs[n->attr[TC__INPUT_EXTERNAL]] : NULL;
    return !l || l->contiguous;
}

// Whether what is to be laid out lies so.
static int tc__is_laid_already(const tc__schedule *s, const tc__node *n) {
    return n->op == TC_OP_LAID && tc__is_dense_input(s, tc__operand(s->g, n, 0));
}

// Of a value and those that it is by movement and casts, the first one and the smallest: that is the
// least to write and to read.
typedef struct tc__origin {
    const tc__node *first, *least;
} tc__origin;

static tc__origin tc__origin_of(const tc__schedule *s, uint32_t id) {
    tc__origin o;
    o.first = o.least = s->g->node.at[id];
    while (tc__is_kind(o.first, TC__KIND_MOVE) || tc__is_kind(o.first, TC__KIND_CAST) ||
           tc__is_laid_already(s, o.first)) {
        o.first = tc__operand(s->g, o.first, 0);
        if (tc__dtypes[o.first->dtype].bytes <= tc__dtypes[o.least->dtype].bytes)
            o.least = o.first;
    }
    return o;
}

// Whether it is computed, and so has to be put in memory somewhere for who loads it.
static int tc__origin_is_computed(const tc__origin *o) {
    return !tc__is_kind(o->first, TC__KIND_SOURCE) || o->first->op == TC_OP_RANDOM;
}

// Whether factor i of product p is rounded to fewer bytes again at each of many loads. A host does it
// once, when it packs.
static int tc__is_rounded_often(const tc__schedule *s, const tc__node *p, uint32_t i,
                                const tc__origin *o) {
    return tc__fuse_of(s, p) == TC__FUSE_LOADS && o->first->op == TC_OP_INPUT &&
           tc__dtypes[o->least->dtype].bytes < tc__dtypes[o->first->dtype].bytes &&
           !tc__loads_are_few(s->g, p, i, o->least);
}

// Does a reshape do more than add or drop dimensions of size 1?
static int tc__regroups(const tc__graph *g, const tc__node *n) {
    const tc__node *a = n->op == TC_OP_RESHAPE ? tc__operand(g, n, 0) : NULL;
    int i = 0, k = 0;
    while (a) {
        while (i < n->rank && tc__ix_equals(n->dims[i], 1)) i++;
        while (k < a->rank && tc__ix_equals(a->dims[k], 1)) k++;
        if (i == n->rank || k == a->rank) return i < n->rank || k < a->rank;
        if (n->dims[i++] != a->dims[k++]) return 1;
    }
    return 0;
}

// Whether n is a view of windows.
static int tc__views_windows(const tc__graph *g, const tc__node *n) {
    while (n->op == TC_OP_RESHAPE || n->op == TC_OP_PERMUTE) n = tc__operand(g, n, 0);
    return n->op == TC_OP_WINDOW;
}

// Whether n shows panels (pass/laid.c), whose rows are together for each k.
static int tc__is_panels(const tc__graph *g, const tc__node *n) {
    static const int64_t turn[] = {0, 2, 1};
    return n->rank == 3 && !memcmp(n->attr, turn, sizeof turn) &&
           tc__operand(g, n, 0)->op == TC_OP_LAID;
}

// The weight of a product over windows whose rows do not lie in memory as they are wanted (a transposed convolution's
// are put together of taps that are apart): all columns read it, so it is laid out once; NULL = it may stay.
static const tc__node *tc__turned_weight(const tc__graph *g, const tc__node *p) {
    const tc__node *weight = tc__operand(g, p, 0), *n;
    while (weight->op == TC_OP_EXPAND) weight = tc__operand(g, weight, 0);
    if (p->device || !tc__views_windows(g, tc__operand(g, p, 1))) return NULL;
    for (n = weight; n->op == TC_OP_RESHAPE; n = tc__operand(g, n, 0))
        if (tc__regroups(g, n) && tc__operand(g, n, 0)->op == TC_OP_PERMUTE)
            return tc__is_panels(g, tc__operand(g, n, 0)) ? NULL : weight;
    return NULL;
}

// Whether a product loads factor n where that, or what it is by movement, is stored for others.
static int tc__is_of_output(const tc__schedule *s, const uint8_t *output,
                            const tc__node *n) {
    while (!output[n->id] && tc__is_kind(n, TC__KIND_MOVE) && n->op != TC_OP_PAD)
        n = tc__operand(s->g, n, 0);
    return output[n->id];
}

static void tc__force_factors(tc__schedule *s, const uint8_t *output, const tc__node *p) {
    const tc__node *weight = tc__turned_weight(s->g, p);
    if (weight) s->forced[weight->id] = 1;
    for (uint32_t i = 0; i < 2; i++) {
        tc__origin o = tc__origin_of(s, p->in[i]);
        if (tc__is_of_output(s, output, tc__operand(s->g, p, i))) continue;
        int made = tc__origin_is_computed(&o) && !tc__is_made_at_loads(s, p, i, o.least);
        if (made || tc__is_rounded_often(s, p, i, &o)) s->forced[o.least->id] = 1;
    }
}

// Whether a gather takes at most as many elements as its table has, whatever the run-time sizes are.
static int tc__gathers_few(const tc__node *gather, const tc__node *table) {
    for (int i = 0; i < gather->rank; i++) {
        tc__ix taken = gather->dims[i], all = table->dims[i];
        int known = tc__ix_is_const(taken) && tc__ix_is_const(all);
        if (taken != all && !(known && tc__ix_value(taken) <= tc__ix_value(all))) return 0;
    }
    return 1;
}

// A table that is computed lies in memory, unless few of its elements are wanted: those are computed where
// they are gathered, as the logits of the targets in a cross entropy.
static void tc__force_table(tc__schedule *s, const tc__node *gather) {
    const tc__node *table = tc__operand(s->g, gather, 0);
    tc__origin o = tc__origin_of(s, table->id);
    int whole = tc__node_numel(s->g, o.first) == tc__node_numel(s->g, table);
    if (!s->apart && whole && tc__gathers_few(gather, table)) return;
    if (tc__origin_is_computed(&o)) s->forced[o.least->id] = 1;
}

// An index that costs more than to load it, and is read more often than it has elements.
static void tc__force_index(tc__schedule *s, const tc__node *gather) {
    tc__origin o = tc__origin_of(s, gather->in[1]);
    int rank = tc__operand(s->g, gather, 1)->rank;
    if (gather->op == TC_OP_TAKE && gather->rank > rank && tc__is_alu(o.first) &&
        tc__ops[o.first->op].cost > TC__CHEAP)
        s->forced[o.least->id] = 1;
}

// The node in whose memory an operand of an opaque op is: a reshape keeps the order of elements.
static const tc__node *tc__opaque_operand(const tc__graph *g, const tc__node *n,
                                          uint32_t i) {
    const tc__node *a = tc__operand(g, n, i);
    while (a->op == TC_OP_RESHAPE || a->op == TC_OP_AGAIN) a = tc__operand(g, a, 0);
    return a;
}

// Whether operand i of an opaque op is one number, which is in no memory then: of a table that gets rows, as gradients begin
// with zeros.
static int tc__opaque_is_filled(const tc__graph *g, const tc__node *n, uint32_t i,
                                tc__value *v) {
    return n->op == TC_OP_ROW_ADD && !i && tc__splat_value(g, tc__operand(g, n, i), v);
}

static void tc__force_opaque(tc__schedule *s, const tc__node *n) {
    tc__value v;
    s->forced[n->id] = 1;
    for (uint32_t i = 0; i < n->n_in; i++) {
        const tc__node *a = tc__opaque_operand(s->g, n, i);
        if (!tc__is_dense_input(s, a) && !tc__opaque_is_filled(s->g, n, i, &v))
            s->forced[a->id] = 1;
    }
}

// What values are computed again of is in memory, not computed again in turn.
static void tc__force_kept(tc__schedule *s, const tc__node *again) {
    tc__origin o = tc__origin_of(s, again->in[0]);
    if (tc__origin_is_computed(&o)) s->forced[o.least->id] = 1;
}

enum { TC__WOVEN_ROW = 16, TC__WOVEN_PARTS = 8 };

// Whether all that n is put together of lies in memory.
static int tc__is_of_stored(const tc__graph *g, const tc__node *n) {
    const tc__node *open[TC__WOVEN_PARTS];
    uint32_t count = 1;
    open[0] = n;
    while (count) {
        n = open[--count];
        while (tc__is_kind(n, TC__KIND_MOVE) && n->op != TC_OP_PAD)
            n = tc__operand(g, n, 0);
        if (n->op == TC_OP_INPUT || tc__is_kind(n, TC__KIND_CONTRACT)) continue;
        if (n->op != TC_OP_CAT || count + n->n_in > TC__WOVEN_PARTS) return 0;
        for (uint32_t k = 0; k < n->n_in; k++) open[count++] = tc__operand(g, n, k);
    }
    return 1;
}

// What is put together of parts lies in memory where its last dimension becomes another one: on the host each lane of a
// vector would ask each part (a transposed convolution's phases are woven so). Of two parts that lie in memory, and rows that are
// no shorter than vectors, each is a load: 3x3 by steps of 2 over 1x64x28x28 takes 0.92 of the time. Of three that took 1.2 times as long as both
// copies.
static void tc__force_turned(tc__schedule *s, const tc__node *n) {
    const tc__node *a = tc__operand(s->g, n, 0);
    if (n->device || a->op != TC_OP_CAT || n->attr[n->rank - 1] == n->rank - 1) return;
    tc__ix parts = n->dims[n->rank - 1],
           row = tc__ix_mul(s->g->ix, n->dims[n->rank - 2], parts);
    if (n->dtype != TC_F32 || !tc__ix_equals(parts, 2) ||
        tc__ix_hi(s->g->ix, row) < TC__WOVEN_ROW || !tc__is_of_stored(s->g, a))
        s->forced[a->id] = 1;
}

// Whether n is a turn's own row of `outer`, which stands just outside of the loop and is made of few bytes by few ops: the turn
// makes it, and all rows together are made once. So the gradient of a loss by what a loop stacked, its multiple, is not written and
// read again: 2 MB, 0.75 % of an LSTM's step.
static int tc__is_row_of_turn(const tc__schedule *s, const tc__node *n,
                              const tc__node *outer) {
    const tc__rounds *l = &s->g->loop.at[n->loop - 1];
    tc__recipe r = {0, 0, 1};
    if (n->op != TC_OP_SLICE || n->attr[TC__SLICE_START] != l->turn ||
        !tc__ix_equals(n->attr[TC__SLICE_COUNT], 1) || l->outer != outer->loop || s->apart)
        return 0;
    tc__recipe_add(s->g, outer, &r);
    return r.plain && 8 * r.bytes <= 9 * tc__bytes_most(s->g, outer);
}

// What a loop reads of the outside is computed there, once.
static void tc__force_outer(tc__schedule *s, const tc__node *n) {
    for (uint32_t i = 0; i < n->n_in && n->loop; i++) {
        tc__origin o = tc__origin_of(s, n->in[i]);
        if (tc__operand(s->g, n, i)->loop == n->loop) continue;
        if (o.first->loop != n->loop && tc__origin_is_computed(&o) &&
            o.least->loop != n->loop && !tc__is_row_of_turn(s, n, o.first))
            s->forced[o.least->id] = 1;
    }
}

static void tc__force_sources(tc__schedule *s, const uint8_t *output) {
    for (size_t i = 0; i < s->g->node.count; i++) {
        const tc__node *n = s->g->node.at[i];
        if (!s->live[i]) continue;
        tc__force_outer(s, n);
        if (tc__is_kind(n, TC__KIND_CONTRACT)) tc__force_factors(s, output, n);
        if (tc__is_kind(n, TC__KIND_GATHER)) tc__force_table(s, n), tc__force_index(s, n);
        if (tc__is_kind(n, TC__KIND_OPAQUE)) tc__force_opaque(s, n);
        if (n->op == TC_OP_AGAIN) tc__force_kept(s, n);
        if (tc__is_layout(n) && !tc__is_laid_already(s, n)) s->forced[i] = 1;
        if (n->op == TC_OP_PERMUTE) tc__force_turned(s, n);
    }
}

// What a movement op adds to the index: a reshape of a moved view nests it one level deeper
// and doubles it, a pad or cat puts one more predicate on every load below.
static uint32_t tc__twist(const tc__graph *g, const tc__node *n) {
    if (n->op == TC_OP_PAD || n->op == TC_OP_CAT) return 1;
    return tc__regroups(g, n) ? 2 : 0;
}

enum { TC__TWIST_MOST = 8 };

// Past TC__TWIST_MOST the value is put in memory, as a product is. Counts in s->cost, which is made later.
static void tc__force_twisted(tc__schedule *s) {
    for (size_t i = 0; i < s->g->node.count; i++) {
        const tc__node *n = s->g->node.at[i];
        uint32_t most = 0;
        if (s->forced[i]) continue;
        for (uint32_t k = 0; k < n->n_in && n->op != TC_OP_INPUT; k++)
            if (s->cost[n->in[k]] > most) most = s->cost[n->in[k]];
        s->cost[i] = tc__is_kind(n, TC__KIND_CONTRACT) ? 0 : most + tc__twist(s->g, n);
        if (s->cost[i] <= TC__TWIST_MOST) continue;
        s->forced[i] = 1, s->cost[i] = 0;
    }
}

static int tc__add_root(tc__schedule *s, uint32_t id, int output) {
    tc__root r;
    if (s->root_of[id] != TC__NONE) return 1;
    memset(&r, 0, sizeof r);
    r.node = id, r.output = (uint8_t)output, r.forced = s->forced[id];
    r.group = (uint32_t)s->root.count, r.next = UINT32_MAX;
    s->root_of[id] = (int32_t)s->root.count;
    return TC__PUSH(s->ctx, s->root, r);
}

// Whether an op run by itself has a kernel: movement only says where others read.
static int tc__is_computed(const tc__node *n) {
    if (tc__is_kind(n, TC__KIND_SOURCE)) return n->op == TC_OP_RANDOM;
    return !tc__is_kind(n, TC__KIND_MOVE) || n->op == TC_OP_PAD;
}

// Whether n is what an epilogue makes of a product: such a value costs the product's bytes in memory,
// whoever computes it again what it reads beside. One that is wider than the product costs more, and is
// computed again.
static int tc__is_of_product(const tc__schedule *s, const tc__node *n) {
    int of = tc__is_kind(n, TC__KIND_CONTRACT);
    int same = tc__is_alu(n) || n->op == TC_OP_RESHAPE; // as many elements, in their order
    for (uint32_t k = 0; k < n->n_in && same; k++) {
        const tc__node *a = tc__operand(s->g, n, k);
        of |= s->product[a->id] && tc__dtypes[n->dtype].bytes <= tc__dtypes[a->dtype].bytes;
    }
    return of;
}
