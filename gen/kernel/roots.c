// TENSOR graph -> clusters: which nodes are roots (have memory or are reduced), and what each of them
// loads. Everything that is no root is recomputed inside the kernels that use it.
//
//  1. roots: outputs, reductions, contractions, expensive nodes with several users, any of them that a
//     product's epilogue can store instead of the product, and what must lie in memory first: factors
//     of products that are not computed where they are loaded, tables of gathers, images of stencils,
//     operands and results of opaque ops; without fusion all that is computed
//  2. one cluster per root; lowering it alone shows which roots it loads and at which index
// kernel/merge.c joins clusters, kernel/schedule.c makes kernels of them.
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
    int alive;
} tc__cluster;

typedef struct tc__schedule {
    tc_ctx *ctx;
    const tc__graph *g;
    const tc__shape *const *inputs;
    uint8_t *live;   // by node: needed by an output
    uint32_t *users; // by node: operand edges from live nodes, also through a widening cast
    uint32_t *cost;  // by node: cost of recomputing one element
    uint32_t *length; // by node: ops of the expression that its users inline
    uint8_t *forced;  // by node
    uint8_t *product; // by node: a contraction's value, changed element by element
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
    tc__fuse fuse;
    uint32_t *part; // by node: of the kernel that was cut, 0 = it was not: kernel/cut.c
    uint32_t parts; // so far
    int full;       // some merge was refused for nothing but the size of the kernel
    int unbounded;  // and none is: to see what would be one kernel
} tc__schedule;

static int tc__is_kind(const tc__node *n, tc__kind k) { return tc__ops[n->op].kind == k; }

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

// Nodes without elements are not computed, whoever wants them.
static void tc__mark_live(tc__schedule *s) {
    for (size_t i = s->g->node.count; i-- > 0;) {
        const tc__node *n = s->g->node.at[i];
        if (tc__has_no_elements(n)) s->live[i] = 0;
        if (!s->live[i]) continue;
        for (uint32_t k = 0; k < n->n_in; k++) {
            s->live[n->in[k]] = 1;
            s->users[n->in[k]]++;
        }
    }
    tc__pass_users_on(s);
}

// Of recomputing one element; what is in memory costs nothing.
static uint32_t tc__cost_of(const tc__schedule *s, const tc__node *n) {
    uint32_t sum = tc__ops[n->op].cost;
    int stops = tc__is_kind(n, TC__KIND_REDUCE) || tc__is_kind(n, TC__KIND_CONTRACT) ||
                n->op == TC_OP_INPUT;
    for (uint32_t k = 0; k < n->n_in && !stops; k++) sum += s->cost[n->in[k]];
    return stops || s->forced[n->id] ? 0 : sum > 1000000 ? 1000000 : sum;
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
    if (s->fuse != TC__FUSE_LOADS) return 0;
    tc__recipe_add(s->g, n, &r);
    return r.plain && tc__loads_are_few(s->g, p, i, n) &&
           8 * r.bytes <= 9 * tc__bytes_most(s->g, n);
}

// Of a value and those that it is by movement and casts, the first one and the smallest: that is the
// least to write and to read.
typedef struct tc__origin {
    const tc__node *first, *least;
} tc__origin;

static tc__origin tc__origin_of(const tc__schedule *s, uint32_t id) {
    tc__origin o;
    o.first = o.least = s->g->node.at[id];
    while (tc__is_kind(o.first, TC__KIND_MOVE) || tc__is_kind(o.first, TC__KIND_CAST)) {
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
    return s->fuse == TC__FUSE_LOADS && o->first->op == TC_OP_INPUT &&
           tc__dtypes[o->least->dtype].bytes < tc__dtypes[o->first->dtype].bytes &&
           !tc__loads_are_few(s->g, p, i, o->least);
}

static void tc__force_factors(tc__schedule *s, const tc__node *p) {
    for (uint32_t i = 0; i < 2; i++) {
        tc__origin o = tc__origin_of(s, p->in[i]);
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
    if (s->fuse && whole && tc__gathers_few(gather, table)) return;
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
    while (a->op == TC_OP_RESHAPE) a = tc__operand(g, a, 0);
    return a;
}

static int tc__is_dense_input(const tc__schedule *s, const tc__node *n) {
    if (n->op != TC_OP_INPUT) return 0;
    const tc__shape *l = s->inputs ? s->inputs[n->attr[TC__INPUT_EXTERNAL]] : NULL;
    return !l || l->contiguous;
}

static void tc__force_opaque(tc__schedule *s, const tc__node *n) {
    s->forced[n->id] = 1;
    for (uint32_t i = 0; i < n->n_in; i++) {
        const tc__node *a = tc__opaque_operand(s->g, n, i);
        if (!tc__is_dense_input(s, a)) s->forced[a->id] = 1;
    }
}

static void tc__force_sources(tc__schedule *s) {
    for (size_t i = 0; i < s->g->node.count; i++) {
        const tc__node *n = s->g->node.at[i];
        if (!s->live[i]) continue;
        if (tc__is_kind(n, TC__KIND_CONTRACT)) tc__force_factors(s, n);
        if (tc__is_kind(n, TC__KIND_GATHER)) tc__force_table(s, n), tc__force_index(s, n);
        if (tc__is_kind(n, TC__KIND_OPAQUE)) tc__force_opaque(s, n);
    }
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

// What a movement op adds to the index: a reshape of a moved view nests it one level deeper
// and doubles it, a pad or cat puts one more predicate on every load below.
static uint32_t tc__twist(const tc__graph *g, const tc__node *n) {
    if (n->op == TC_OP_PAD || n->op == TC_OP_CAT) return 1;
    return tc__regroups(g, n) ? 2 : 0;
}

enum { TC__TWIST_MOST = 8 };

// Past TC__TWIST_MOST the value is put in memory. Counts in s->cost, which is made later.
static void tc__force_twisted(tc__schedule *s) {
    for (size_t i = 0; i < s->g->node.count; i++) {
        const tc__node *n = s->g->node.at[i];
        uint32_t most = 0;
        if (s->forced[i]) continue;
        for (uint32_t k = 0; k < n->n_in && n->op != TC_OP_INPUT; k++)
            if (s->cost[n->in[k]] > most) most = s->cost[n->in[k]];
        s->cost[i] = most + tc__twist(s->g, n);
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

// Ops of the expression of n, where it is not too long: else the longest operands become roots. Their
// values cross from kernel to kernel, and what is made of one user's expression has one value at any
// place where it can be cut. *again: the first node that became a root when it was passed already.
static uint32_t tc__length_of(tc__schedule *s, const tc__node *n, uint32_t *again) {
    uint32_t sum = tc__ops[n->op].cost > 0;
    for (uint32_t k = 0; k < n->n_in; k++) sum += s->length[n->in[k]];
    while (sum > TC__LENGTH_MOST) {
        uint32_t longest = n->in[0];
        for (uint32_t k = 1; k < n->n_in; k++)
            if (s->length[n->in[k]] > s->length[longest]) longest = n->in[k];
        const tc__node *o = tc__origin_of(s, longest).least;
        for (uint32_t k = 0; k < n->n_in; k++)
            if (n->in[k] == longest) sum -= s->length[longest];
        s->length[longest] = 0;
        if (!s->forced[o->id] && o->id < *again) *again = o->id;
        s->forced[o->id] = 1;
    }
    return sum;
}

// Of nodes first to end: none depends on a later one.
static int tc__find_roots_once(tc__schedule *s, const uint8_t *output, uint32_t first,
                               size_t end, uint32_t *again) {
    *again = UINT32_MAX;
    while (s->root.count && s->root.at[s->root.count - 1].node >= first) s->root.count--;
    for (size_t i = first; i < end; i++) s->root_of[i] = TC__NONE;
    for (uint32_t i = first; i < end; i++) {
        const tc__node *n = s->g->node.at[i];
        s->product[i] = 0, s->cost[i] = tc__cost_of(s, n), s->length[i] = 0;
        if (!s->live[i]) continue;
        uint32_t length = tc__length_of(s, n, again);
        s->product[i] = (uint8_t)tc__is_of_product(s, n);
        int whole = tc__is_kind(n, TC__KIND_REDUCE) || tc__is_kind(n, TC__KIND_CONTRACT);
        int dear = (tc__is_alu(n) || n->op == TC_OP_RANDOM) && s->users[i] > 1 &&
                   (s->cost[i] > TC__CHEAP || s->product[i]);
        int alone = !s->fuse && tc__is_computed(n);
        int root = whole || dear || alone || s->forced[i] || output[i];
        if (!root) s->length[i] = length;
        if (!root) continue;
        if (!tc__add_root(s, i, output[i])) return 0;
        if (!tc__is_kind(n, TC__KIND_CONTRACT)) s->product[i] = 0;
        if (dear) s->cost[i] = 0;
    }
    return 1;
}

// From node *first on, which becomes an earlier one where roots are found before it.
static int tc__find_roots(tc__schedule *s, const uint8_t *output, uint32_t *first,
                          size_t end) {
    uint32_t again = *first;
    int ok = 1;
    while (ok && again != UINT32_MAX) {
        if (again < *first) *first = again;
        ok = tc__find_roots_once(s, output, again, end, &again);
    }
    return ok;
}

// ---- folds ----
// What is concatenated of equal parts is made in parts, if it is a result that no kernel
// reads: a point of the kernel's space makes an element of each part, with a store for
// each. Loads that parts share are one load, and nothing asks which part it is in
// (tests/golden/rotary.tc).
// A result that is concatenated of equal parts, and that no kernel reads, is computed in parts: a point
// of its space makes an element of each. What parts have in common is read once, and no element asks
// which part it is of: rotary embedding, stacks, gates.

enum {
    TC__FOLDS_MOST = 4,  // as many stores and expressions are in one kernel
    TC__FOLDS_RUN = 32,  // elements that lie together in a part: fewer are no vectors
    TC__FOLDS_LOOK = 16, // nodes that are looked at for a concatenation
};

static int tc__has_equal_parts(const tc__graph *g, const tc__node *n) {
    const tc__node *first = tc__operand(g, n, 0);
    int64_t run = 1;
    if (n->n_in < 2 || n->n_in > TC__FOLDS_MOST) return 0;
    for (uint32_t i = 1; i < n->n_in; i++)
        if (tc__operand(g, n, i)->dims[n->attr[TC__CAT_DIM]] !=
            first->dims[n->attr[TC__CAT_DIM]])
            return 0;
    for (int i = (int)n->attr[TC__CAT_DIM]; i < n->rank; i++)
        run = tc__ix_times(run, tc__ix_lo(g->ix, first->dims[i]));
    return run >= TC__FOLDS_RUN;
}

// The first concatenation of equal parts that n is, or is made of element by element; NULL = none.
static const tc__node *tc__folded_cat(const tc__schedule *s, const tc__node *n) {
    const tc__node *waiting[TC__FOLDS_LOOK] = {n};
    for (uint32_t at = 0, count = 1; at < count; at++) {
        const tc__node *a = waiting[at];
        if (a->op == TC_OP_CAT && tc__has_equal_parts(s->g, a)) return a;
        if (!tc__is_alu(a) && !tc__is_kind(a, TC__KIND_CAST)) continue;
        for (uint32_t k = 0; k < a->n_in && count < TC__FOLDS_LOOK; k++)
            if (s->root_of[a->in[k]] == TC__NONE)
                waiting[count++] = tc__operand(s->g, a, k);
    }
    return NULL;
}

static void tc__root_fold(const tc__schedule *s, tc__root *r) {
    const tc__node *n = s->g->node.at[r->node], *cat;
    r->folds = 0;
    if (s->fuse == TC__FUSE_NOTHING || !r->output || r->forced || s->users[r->node]) return;
    if ((cat = tc__folded_cat(s, n)) == NULL) return;
    r->folds = (uint8_t)cat->n_in, r->along = (uint8_t)cat->attr[TC__CAT_DIM];
    r->fold = tc__operand(s->g, cat, 0)->dims[r->along];
}

// The sizes of root r, or of a part of it.
static void tc__root_dims(const tc__graph *g, const tc__root *r, tc__ix *dims) {
    memcpy(dims, g->node.at[r->node]->dims, sizeof g->node.at[r->node]->dims);
    if (r->folds) dims[r->along] = r->fold;
}

// ---- spaces ----

static void tc__space_add(tc__space *s, tc__ixpool *p, tc__ix size, int reduced) {
    if (tc__ix_equals(size, 1)) return;
    s->dims[s->rank] = size;
    s->var[s->rank] = tc__ix_var(p, TC__DIM0 + s->rank, size);
    if (reduced) s->reduced |= 1u << s->rank;
    s->rank++;
}

static void tc__space_of(const tc__schedule *s, const tc__root *r, tc__space *out) {
    const tc__node *n = s->g->node.at[r->node];
    const tc__node *a = tc__is_kind(n, TC__KIND_REDUCE) ? tc__operand(s->g, n, 0) : n;
    tc__ix dims[TC_MAX_RANK];
    memset(out, 0, sizeof *out);
    tc__root_dims(s->g, r, dims);
    for (int i = 0; i < a->rank; i++)
        tc__space_add(out, s->g->ix, a == n ? dims[i] : a->dims[i],
                      a != n && (n->attr[TC__REDUCE_DIMS] >> i & 1));
}

typedef enum tc__fit { TC__FIT_NOT, TC__FIT_FULL, TC__FIT_ROW } tc__fit;

// Has a tensor of these sizes one element per point of the space (per row of it, if `skip` are the
// reduced dimensions)? `flat` gets the row-major position of that element. Only the number of elements
// is compared: that a load is at this very position is checked where it matters, so a reshape between
// two nodes does not keep them apart.
static int tc__fits(tc__ixpool *p, const tc__space *s, uint32_t skip, int rank,
                    const tc__ix *dims, tc__ix *flat) {
    tc__ix have = tc__ix_const(1), want = tc__ix_const(1), e = tc__ix_const(0);
    for (int i = 0; i < rank; i++) have = tc__ix_mul(p, have, dims[i]);
    for (int d = 0; d < s->rank; d++) {
        if (skip >> d & 1) continue;
        want = tc__ix_mul(p, want, s->dims[d]);
        e = tc__ix_add(p, tc__ix_mul(p, e, s->dims[d]), s->var[d]);
    }
    *flat = e;
    return have == want;
}

static tc__fit tc__space_fit(tc__ixpool *p, const tc__space *s, uint32_t reduced, int rank,
                             const tc__ix *dims, tc__ix *flat) {
    if (tc__fits(p, s, 0, rank, dims, flat)) return TC__FIT_FULL;
    if (reduced && tc__fits(p, s, reduced, rank, dims, flat)) return TC__FIT_ROW;
    return TC__FIT_NOT;
}

// ---- lowering one cluster ----

static int tc__weave_open(tc__weave *w, const tc__schedule *s, uint32_t group,
                          const tc__space *space) {
    memset(w, 0, sizeof *w);
    w->ctx = s->ctx, w->g = s->g, w->ix = s->g->ix, w->root_of = s->root_of,
    w->roots = s->root.at;
    w->group = group, w->space = *space, w->side = TC__AT_COL;
    tc__map_init(&w->seen_ids, s->ctx);
    w->k = TC__NEW(s->ctx, tc__group);
    w->accumulated = TC__NEW_ARRAY(s->ctx, uint32_t, s->root.count);
    if (!w->k || !w->accumulated) return 0;
    w->k->target.inputs = s->inputs;
    return tc__graph_open(&w->k->body, s->ctx, s->g->ix);
}

// Frees the weave; its group is handed over, or freed when `failed`.
static tc__group *tc__weave_close(tc__weave *w, const tc__schedule *s, int failed) {
    TC__VEC_FREE(w->ctx, w->seen);
    TC__VEC_FREE(w->ctx, w->wanted);
    tc__map_free(&w->seen_ids);
    tc__free(w->ctx, w->accumulated,
             (s->root.count ? s->root.count : 1) * sizeof *w->accumulated);
    if (failed) tc__group_free(w->ctx, w->k);
    return failed ? NULL : w->k;
}

// Operands of a contraction: left at (rows, k), right at (batch, k, columns).
static void tc__lower_contraction(tc__weave *w, const tc__node *n) {
    const tc__node *a = tc__operand(w->g, n, 0), *b = tc__operand(w->g, n, 1);
    tc__ix index[TC_MAX_RANK], l[TC_MAX_RANK], r[TC_MAX_RANK];
    int rank = n->rank;
    tc__ix depth = a->dims[rank - 1];
    tc__ix k =
        tc__ix_equals(depth, 1) ? tc__ix_const(0) : tc__ix_var(w->ix, TC__DEPTH, depth);
    tc__own_index(w, n->rank, n->dims, 0, index);
    memcpy(l, index, sizeof l), memcpy(r, index, sizeof r);
    l[rank - 1] = k, r[rank - 2] = k;
    w->side = TC__AT_LEFT;
    w->k->shape.left = tc__lower_value(w, a, l);
    w->side = TC__AT_RIGHT;
    w->k->shape.right = tc__lower_value(w, b, r);
    w->side = TC__AT_COL;
    w->k->shape.depth = depth;
    w->k->shape.batch = tc__ix_const(1);
    for (int i = 0; i < rank - 2; i++)
        w->k->shape.batch = tc__ix_mul(w->ix, w->k->shape.batch, n->dims[i]);
}

// Where root r, or this part of it, is made in the cluster being woven, and the element's position in
// memory.
static tc__fit tc__place_own(tc__weave *w, const tc__root *r, uint32_t part, tc__ix *index,
                             tc__ix *flat) {
    const tc__node *n = w->g->node.at[r->node];
    tc__ix dims[TC_MAX_RANK];
    uint32_t reduced = w->space.reduced;
    tc__root_dims(w->g, r, dims);
    tc__fit fit = tc__space_fit(w->ix, &w->space, reduced, n->rank, dims, flat);
    if (tc__is_kind(n, TC__KIND_REDUCE)) {
        fit = TC__FIT_ROW;
        tc__fits(w->ix, &w->space, reduced, n->rank, dims, flat);
    }
    tc__own_index(w, n->rank, dims, fit == TC__FIT_ROW ? reduced : 0, index);
    if (!r->folds) return fit;
    tc__ix before = tc__ix_mul(w->ix, tc__ix_const((int64_t)part), r->fold);
    index[r->along] = tc__ix_add(w->ix, index[r->along], before);
    *flat = tc__flat(w->ix, n->rank, n->dims, index);
    return fit;
}

static uint32_t tc__folds_of(const tc__root *r) { return r->folds ? r->folds : 1; }

// The GROUP node of a root's value, or part, in the cluster being woven.
static uint32_t tc__lower_own(tc__weave *w, const tc__root *r, uint32_t part) {
    const tc__node *n = w->g->node.at[r->node];
    tc__ix index[TC_MAX_RANK], flat;
    (void)tc__place_own(w, r, part, index, &flat);
    if (tc__is_kind(n, TC__KIND_CONTRACT)) tc__lower_contraction(w, n);
    return tc__lower_value(w, n, index);
}

// That root `reader` loads the buffer of this source at this index.
static int tc__note_read(tc__schedule *s, uint32_t reader, const tc__outlined_load *l,
                         uint32_t source) {
    uint64_t place, hash = tc__hash_mix(tc__hash_mix(source, l->place), (uint64_t)l->index);
    tc__read r;
    if (!tc__map_get(&s->places, hash, &place)) {
        place = s->place_count++;
        if (!tc__map_set(&s->places, hash, place)) return 0;
    }
    r.reader = reader, r.place = (uint32_t)place;
    r.external = l->place == TC__BUF_INPUT;
    r.source = r.external ? source : (uint32_t)s->root_of[source];
    return TC__PUSH(s->ctx, s->read, r);
}

// What a root loads that has this outline.
static int tc__note_uses(tc__schedule *s, uint32_t reader, const tc__outline *own,
                         const tc__outlined_load *load, size_t loads) {
    for (const tc__outlined_load *l = load; l < load + loads; l++) {
        uint32_t source = tc__outlined_source(&s->outlines, own, l->node, l->place);
        tc__use u;
        if (!tc__note_read(s, reader, l, source)) return 0;
        if (l->place != TC__BUF_NODE) continue;
        u.reader = reader, u.root = (uint32_t)s->root_of[source];
        u.index = l->index, u.guarded = l->guarded;
        if (!TC__PUSH(s->ctx, s->use, u)) return 0;
    }
    return 1;
}

// The loads of a root that was lowered alone are kept with its outline.
static int tc__outline_loads(tc__outlines *o, const tc__outline *own, const tc__weave *w) {
    for (size_t i = 0; i < w->k->body.node.count; i++) {
        const tc__node *n = w->k->body.node.at[i];
        tc__outlined_load l;
        if (n->op != TC_OP_LOAD) continue;
        const tc__kbuf *b = tc__buffer_of(w->k, n);
        l.node = tc__outline_number(o, own, b), l.place = b->place;
        l.index = n->attr[TC__LOAD_INDEX];
        l.guarded = n->n_attr > TC__LOAD_PREDICATES || n->level == TC__AT_LEFT ||
                    n->level == TC__AT_RIGHT;
        if (!TC__PUSH(o->ctx, o->load, l)) return 0;
    }
    return 1;
}

// Whether n only says where a value lies that is in memory.
static int tc__is_moved_source(const tc__schedule *s, const tc__node *n) {
    while (tc__is_kind(n, TC__KIND_MOVE) && s->root_of[n->id] == TC__NONE)
        n = tc__operand(s->g, n, 0);
    return n->op == TC_OP_INPUT || s->root_of[n->id] != TC__NONE;
}

// Of steps of two: with more taps or fewer columns, padding first is faster.
enum { TC__SECOND_TAPS = 9, TC__SECOND_COLUMNS = 7 };

// Whether the points of a vector lie beside each other in node n wherever it is met, or few times two apart.
static int tc__has_vectors(const tc__schedule *s, const tc__weave *w, const tc__node *n) {
    int last = w->space.rank - 1, second = 0, taps = 0;
    if (!n->rank) return 1;
    for (size_t i = 0; i < w->seen.count && last >= 0; i++) {
        const tc__visited *v = &w->seen.at[i];
        if (v->node != n->id) continue;
        tc__axis axis = (tc__axis)(TC__DIM0 + last);
        tc__ixrun run = tc__ix_run(s->g->ix, v->index[n->rank - 1], axis);
        taps++, second |= run.ok && tc__ix_equals(run.stride, 2);
        if (!run.ok || (!second && !tc__ix_equals(run.stride, 1))) return 0;
    }
    if (!second) return 1;
    return n->dtype == TC_F32 && taps <= TC__SECOND_TAPS &&
           tc__ix_lo(s->g->ix, w->space.dims[last]) >= TC__SECOND_COLUMNS;
}

// Whether a padded image need not be made in memory: who reads it asks for its border. On a host that
// is a mask for each tap, lane by lane but for these dtypes and steps. 3x3 of maps of 14x14 takes
// 0.6 of the time so, of 4x4 to 1024x1024 0.5 to 0.85, with steps of 2 0.5 to 0.85.
static int tc__reads_borders(const tc__schedule *s, const tc__weave *w, const tc__node *n) {
    if (s->fuse != TC__FUSE_BORDERS) return s->fuse == TC__FUSE_LOADS;
    return (n->dtype == TC_F32 || n->dtype == TC_I32) && tc__has_vectors(s, w, n);
}

// A node met at many index tuples, and dear: the image of a stencil. 0 = none.
static uint32_t tc__find_stencil(const tc__schedule *s, const tc__weave *w) {
    uint32_t best = 0;
    for (size_t i = 0; i < w->seen.count; i++) {
        const tc__node *n = s->g->node.at[w->seen.at[i].node];
        uint32_t taps = 0;
        int moves = tc__is_kind(n, TC__KIND_MOVE) && n->op != TC_OP_PAD;
        if (n->id <= best || moves || s->root_of[n->id] != TC__NONE) continue;
        if (tc__is_kind(n, TC__KIND_SOURCE) && n->op != TC_OP_RANDOM) continue;
        if (tc__is_moved_source(s, n) && tc__reads_borders(s, w, n)) continue;
        for (size_t k = 0; k < w->seen.count; k++) taps += w->seen.at[k].node == n->id;
        if (taps >= TC__TAPS && taps * s->cost[n->id] > 4 * TC__CHEAP) best = n->id;
    }
    return best;
}

// Root r reads an external behind what is stored in it: there is no point at which both could be.
static int tc__note_behind(tc__schedule *s, uint32_t r, const tc__node *n) {
    tc__use u;
    u.reader = r, u.index = 0, u.guarded = 1;
    for (uint32_t i = 0; n->op == TC_OP_INPUT && i < n->n_in; i++) {
        if (s->root_of[n->in[i]] == TC__NONE) continue; // without elements
        u.root = (uint32_t)s->root_of[n->in[i]];
        if (!TC__PUSH(s->ctx, s->use, u)) return 0;
    }
    return 1;
}

// An opaque op is a cluster that stays alone: it loads whole buffers.
static int tc__analyse_opaque(tc__schedule *s, uint32_t r, const tc__node *n) {
    tc__cluster c;
    tc__use u;
    memset(&c, 0, sizeof c);
    tc__space_of(s, &s->root.at[r], &c.space);
    c.alive = 1, c.kind = TC__OPAQUE, c.first = r, c.size = 1;
    c.buffers = n->n_in + 1;
    u.reader = r, u.index = 0, u.guarded = 1;
    for (uint32_t i = 0; i < n->n_in; i++) {
        const tc__node *a = tc__opaque_operand(s->g, n, i);
        int32_t root = s->root_of[a->id];
        if (root == TC__NONE && !tc__note_behind(s, r, a)) return 0;
        if (root == TC__NONE) continue; // an input, or without elements
        u.root = (uint32_t)root;
        if (!TC__PUSH(s->ctx, s->use, u)) return 0;
    }
    return TC__PUSH(s->ctx, s->cluster, c);
}

// The ops and constants of root r, by itself.
static int tc__note_ops(tc__schedule *s, uint32_t r, const tc__outline *own) {
    tc__root *root = &s->root.at[r];
    root->op = (uint32_t)s->op.count;
    for (size_t i = 0; i < own->nodes; i++) {
        uint32_t id = s->outlines.node.at[own->node + i];
        const tc__node *n = s->g->node.at[id];
        int loaded = id != root->node && s->root_of[id] != TC__NONE;
        int given = tc__is_kind(n, TC__KIND_SOURCE) && n->op != TC_OP_CONST;
        if (loaded || given || tc__is_kind(n, TC__KIND_MOVE)) continue;
        if (!TC__PUSH(s->ctx, s->op, id)) return 0;
    }
    root->ops = (uint32_t)s->op.count - root->op;
    return 1;
}

static uint32_t tc__body_ops(const tc__graph *body) {
    uint32_t ops = 0;
    for (size_t i = 0; i < body->node.count; i++) {
        ops += body->node.at[i]->op != TC_OP_LOAD;
    }
    return ops;
}

// Lowers root r alone, in its space, and keeps its outline. NULL = failed, or *stencil != 0: a node to
// force first.
static const tc__outline *tc__analyse_first(tc__schedule *s, uint32_t r,
                                            const tc__space *space, tc__outline *own,
                                            uint32_t *stencil) {
    tc__weave w;
    tc__outlines *o = &s->outlines;
    const tc__outline *kept = NULL;
    int ok = tc__weave_open(&w, s, r, space);
    if (ok) {
        for (uint32_t i = 0; i < tc__folds_of(&s->root.at[r]); i++)
            tc__lower_own(&w, &s->root.at[r], i);
        ok = !w.failed && !s->g->ix->failed;
    }
    if (ok) *stencil = tc__find_stencil(s, &w);
    if (ok && !*stencil) {
        own->size = (uint32_t)w.k->body.node.count;
        own->ops = tc__body_ops(&w.k->body);
        own->buffers = (uint32_t)w.k->buffer.count + 1;
        if (tc__outline_loads(o, own, &w)) kept = tc__outline_keep(o, own);
    }
    tc__weave_close(&w, s, 1);
    return kept;
}

// What root r is and loads by itself. *stencil != 0: a node to force first.
static int tc__analyse(tc__schedule *s, uint32_t r, uint32_t *stencil) {
    tc__cluster c;
    tc__outlines *o = &s->outlines;
    const tc__node *n = s->g->node.at[s->root.at[r].node];
    if (tc__is_kind(n, TC__KIND_OPAQUE)) return tc__analyse_opaque(s, r, n);
    memset(&c, 0, sizeof c);
    tc__root_fold(s, &s->root.at[r]);
    tc__space_of(s, &s->root.at[r], &c.space);
    c.alive = 1, c.first = r, c.part = s->part[n->id];
    c.kind =
        c.space.reduced || tc__is_kind(n, TC__KIND_REDUCE) ? TC__REDUCTION : TC__POINTWISE;
    if (tc__is_kind(n, TC__KIND_CONTRACT)) c.kind = TC__CONTRACTION;
    tc__outline own = tc__outline_begin(o, s->root.at, r);
    tc__outline_word(o, TC__OUTLINE_ROOT | (uint64_t)s->root.at[r].folds << 8);
    tc__outline_node(o, &own, n);
    const tc__outline *same = tc__outline_end(o, &own), *of = same;
    if (o->failed || !tc__note_ops(s, r, &own)) return 0;
    if (!of) of = tc__analyse_first(s, r, &c.space, &own, stencil);
    if (!of) return tc__outline_drop(o, &own), *stencil != 0;
    c.size = of->size, c.buffers = of->buffers;
    c.taps = of->ops > s->root.at[r].ops ? of->ops - s->root.at[r].ops : 0;
    int ok = tc__note_uses(s, r, &own, o->load.at + of->load, of->loads);
    for (size_t i = 0; ok && i < own.nodes; i++)
        ok = tc__note_behind(s, r, s->g->node.at[o->node.at[own.node + i]]);
    if (same) tc__outline_drop(o, &own);
    return ok && TC__PUSH(s->ctx, s->cluster, c);
}

// Forgets the roots from node `first` on; gives how many are left.
static uint32_t tc__analyse_back(tc__schedule *s, uint32_t first) {
    size_t n = s->cluster.count < s->root.count ? s->cluster.count : s->root.count;
    while (n && s->root.at[n - 1].node >= first) n--;
    const tc__root *last = n ? &s->root.at[n - 1] : NULL;
    s->cluster.count = n;
    s->use.count = last ? last->use + last->uses : 0;
    s->read.count = last ? last->read + last->reads : 0;
    s->op.count = last ? last->op + last->ops : 0;
    return (uint32_t)n;
}

// The roots among nodes first to end, and what they load. A node that is forced is a root of its own: it and
// what follows are looked at again.
static int tc__analyse_part(tc__schedule *s, const uint8_t *output, uint32_t first,
                            size_t end) {
    for (;;) {
        uint32_t stencil = 0;
        if (!tc__find_roots(s, output, &first, end)) return 0;
        for (uint32_t r = tc__analyse_back(s, first); r < s->root.count && !stencil; r++) {
            tc__root *own = &s->root.at[r];
            own->use = (uint32_t)s->use.count, own->read = (uint32_t)s->read.count;
            if (!tc__analyse(s, r, &stencil)) return 0;
            own->uses = (uint32_t)s->use.count - own->use;
            own->reads = (uint32_t)s->read.count - own->read;
        }
        if (!stencil) return 1;
        s->forced[stencil] = 1;
        first = stencil;
    }
}

enum { TC__ANALYSED = 256 }; // nodes at once: so much is done again for each stencil

static int tc__analyse_all(tc__schedule *s, const uint8_t *output) {
    size_t n = s->g->node.count;
    s->cluster.count = s->root.count = 0;
    for (size_t i = 0; i < n; i++) s->root_of[i] = TC__NONE;
    for (size_t first = 0, end; first < n; first = end) {
        end = n - first > TC__ANALYSED ? first + TC__ANALYSED : n;
        if (!tc__analyse_part(s, output, (uint32_t)first, end)) return 0;
    }
    return 1;
}
