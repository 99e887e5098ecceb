// The one node of every IR, and the graph that owns nodes.
// A node is immutable once made and refers only to earlier nodes, so id order is a valid order.
// TENSOR nodes are hash-consed: equal nodes are the same node, so common subexpressions never exist.
// Which ops are legal at which stage stands in graph/verify.c.

#include "out/op_enum.inc"

// Where the words of an op stand in tc__node.attr. Of a CALL: the op; of the user's its number, of
// scatters the site of the index, of others their first word; how many operands; the buffers, the
// result's first, and of each of them the rank and the sizes.
#include "out/op_words.inc"

// LOAD and STORE begin with the same words.
enum { TC__ACCESS_BUFFER = TC__LOAD_BUFFER, TC__ACCESS_INDEX = TC__LOAD_INDEX };
TC__STATIC_ASSERT(load_and_store_begin_alike,
                  (int)TC__ACCESS_BUFFER == (int)TC__STORE_BUFFER &&
                      (int)TC__ACCESS_INDEX == (int)TC__STORE_INDEX);

// Words of steps that no node has: of arithmetic with a number the number, as a double, and its side; of
// a product the dtype, where it is another than its operands'. CONST and ARG have theirs as numbers do.
enum { TC__SCALAR_VALUE, TC__SCALAR_SIDE };
enum { TC__PRODUCT_DTYPE };
TC__STATIC_ASSERT(sources_have_words_as_numbers,
                  (int)TC__SCALAR_VALUE == (int)TC__CONST_BITS &&
                      (int)TC__SCALAR_VALUE == (int)TC__ARG_SLOT);

typedef enum tc__stage { TC__TENSOR, TC__GROUP, TC__LOOP } tc__stage;

// GROUP: where inside its phase a node is evaluated.
typedef enum tc__level { TC__AT_ROW, TC__AT_COL, TC__AT_LEFT, TC__AT_RIGHT } tc__level;

// Whether a STORE may go past the caches: nobody in the program reads it, its memory is ours.
typedef enum tc__store_kind {
    TC__STORE_CACHED,
    TC__STORE_MAY_STREAM,
    TC__STORE_STREAMS
} tc__store_kind;

typedef struct tc__node {
    uint16_t op;    // tc__op
    uint8_t stage;  // tc__stage
    uint8_t dtype;  // of the value
    uint8_t rank;   // TENSOR: dimensions
    uint8_t level;  // GROUP and LOOP: tc__level
    uint8_t device; // TENSOR: number of the one that it is computed on; 0 = the host
    uint16_t phase; // GROUP and LOOP
    uint16_t loop; // TENSOR, behind pass/loops.c: 1 + the innermost that it is in; 0 = none
    uint32_t id;   // position in graph->node
    uint32_t n_in, n_attr;
    uint32_t *in;                // ids of operands, owned by the graph
    int64_t *attr;               // words by op, named in ops.def; owned by the graph
    tc__ix dims[TC_MAX_RANK];    // TENSOR
    const struct tc__step *from; // TENSOR: the call it was first made for; NULL = none
} tc__node;

enum { TC__WHOLE_OPERANDS = 5, TC__WHOLE_WORDS = 14 }; // of a composite op, at most
enum { TC__WHOLE_GIVEN = 0 };                          // its first word: a bit per operand

// What nodes of a TENSOR graph are together: graph/composite.c.
typedef struct tc__composite {
    uint16_t op;                     // of kind COMPOSITE
    uint32_t in[TC__WHOLE_OPERANDS]; // by operand; TC__NO_NODE = it is not there
    uint32_t result;
    uint32_t before; // 1 + the one before it whose result is the same node; 0 = none
    uint32_t args;   // bit i: attr[i] is the slot of an ARG
    int64_t attr[TC__WHOLE_WORDS]; // words by op, named in composites.def
} tc__composite;

// A loop of a TENSOR graph. What is made of `turn` or of a CARRY is in it, and not outside but through CARRIED
// and STACKED.
typedef struct tc__rounds {
    tc__ix turn;    // the symbol that is the number of the turn,
    uint32_t slot;  //   of this slot
    tc__ix turns;   // how many there are
    uint32_t outer; // 1 + the loop around it; 0 = none
    int backward;   // the last row comes first
    uint32_t times,
        go; // 1 + the carry that tells how many turns, or whether there is another; 0 = none
    uint32_t count; // 1 + the carry that counts those
    uint32_t asked; // behind pass/loops.c: the memory of `times` or `go`
    uint32_t chain; // 1 + its last NEXT; 0 = none, or the graph is not that of a builder,
    uint32_t first, last; //   as these: its nodes are among those from first to before last
} tc__rounds;

// Memory of a loop that lasts from turn to turn: pass/loops.c.
typedef struct tc__lasting {
    uint32_t loop, number; // a carry's, or
    int carried,
        stacked; //   a row for each turn; of a carry that has rows, one more before them
    uint8_t dtype, device;
    tc__ix numel; // of a row, or of the carry
} tc__lasting;

typedef enum tc__spot_kind {
    TC__SPOT_FIRST, // stored before the loop
    TC__SPOT_NOW,   // read in a turn,
    TC__SPOT_NEXT,  //   and stored in it
    TC__SPOT_LEFT,  // read behind the loop
    TC__SPOT_ROW,   // stored in a turn
    TC__SPOT_ALL,   // read behind the loop,
    TC__SPOT_AFTER  //   all but what a carry is at first
} tc__spot_kind;

typedef struct tc__spot {
    tc__spot_kind kind;
    uint32_t memory, node; // number of it; the INPUT, or what is stored
} tc__spot;

// What a program knows beside its graph.
typedef struct tc__known {
    int tf32;  // devices may take f32 as tf32: tc_options.allow_tf32
    int panel; // rows of a panel of weights on this CPU
    int tiles; // rows from which tiles take f32: AMX, fast numerics; 0 = they do not
    const uint8_t
        *constant;      // by external: what is made of it alone is made once (exec/still.c)
    uint32_t externals; //   of so many
} tc__known;

typedef struct tc__graph {
    tc_ctx *ctx;
    tc__ixpool *ix;  // of the compile session, owned by it
    tc__arena arena; // owns the nodes
    TC__VEC(tc__node *) node;
    TC__VEC(tc__composite) composite; // TENSOR
    TC__VEC(tc__node *) aside;        //   and nodes that only these name
    tc__map composite_of;             //   and the last one of each node that is a result
    tc__map ids;                      // hash -> id, TENSOR and GROUP nodes
    TC__VEC(tc__rounds) loop;         // TENSOR
    TC__VEC(tc__lasting) memory;      //   and behind pass/loops.c what lasts there,
    TC__VEC(tc__spot) place;          //   and where it is read and stored:
    uint32_t placed;                  //   number of the INPUT that is the first
    const struct tc__step *from; // the call that is being built: of the nodes made next,
    int device;                  //   and where those are that have no operand
    int devices;                 // some node is not on the host
    tc__known known;
} tc__graph;

// Who runs through a loop: on the host the first three, on a device all but the first (gen/PLAN.md).
typedef enum tc__bind {
    TC__BIND_WORKER,
    TC__BIND_SERIAL,
    TC__BIND_VECTOR,
    TC__BIND_GRID,   // blocks
    TC__BIND_BLOCK,  // threads of a block
    TC__BIND_LANE,   // of a warp
    TC__BIND_UNROLL, // copies of its body
    TC__BIND_TAKEN   // blocks that have met: turns are dealt to them
} tc__bind;

static const char *const tc__bind_names[] = {"worker", "serial", "vector", "grid",
                                             "block",  "lane",   "unroll", "taken"};

enum { TC__END_BLOCK = -1 }; // word of the END of what is no loop

// A statement of a list that stands around what follows, to its END.
static int tc__opens(const tc__node *n) {
    return n->op == TC_OP_FOR || n->op == TC_OP_IF || n->op == TC_OP_LAUNCH ||
           n->op == TC_OP_TEMPLATE || n->op == TC_OP_HOLE;
}

// Texts of the library that a TEMPLATE names, and what of them is a kernel's own (device/template.c).
typedef enum tc__template {
    TC__TEMPLATE_TILES,
    TC__TEMPLATE_SKINNY,
    TC__TEMPLATE_CHAIN,
    TC__TEMPLATE_DECODE,
    TC__TEMPLATES
} tc__template;

static const char *const tc__template_names[] = {"tiles", "skinny", "chain", "decode"};

typedef enum tc__hole {
    TC__HOLE_LEFT,  // elements of the left operand: `width` of them along `deep` or `line`
    TC__HOLE_RIGHT, //   of the right one
    TC__HOLE_LEFT_ONE,  // one element
    TC__HOLE_RIGHT_ONE, //
    TC__HOLE_AHEAD,     // what of an operand is the same for all of k
    TC__HOLE_EARLY,     //   or of the result is there before its sum is
    TC__HOLE_LEFT_NEXT, // operands of a second product that makes the left operand of the last,
    TC__HOLE_RIGHT_NEXT, //
    TC__HOLE_VALUE,      //   whose right operand this is,
    TC__HOLE_COLUMNS,    //   what scores of a column need, whatever the row is,
    TC__HOLE_SCORE,      //   and this makes its left one, of sums of those before it;
    TC__HOLE_SCORE_NEXT, //   of the chain beside it, whose result is the next one
    TC__HOLE_ROUNDED,    // makes halves of sums, which is all that the result needs of them
    TC__HOLE_ROWS, // makes rows of the left operand: of turn `row`, by all threads together
    TC__HOLE_SHARE,  // what the result is multiplied with, of a row's maximum and sum
    TC__HOLE_RESULT, // what is done with elements of the result
    TC__HOLE_RESULT_NEXT,
    TC__HOLE_TOTAL // what is done with a row's sum of the left operand
} tc__hole;

static const char *const tc__hole_names[] = {
    "left",      "right",      "left_one", "right_one", "ahead",       "early",
    "left_next", "right_next", "value",    "columns",   "score",       "score_next",
    "rounded",   "rows",       "share",    "result",    "result_next", "total"};

// How an operand comes to where it is multiplied.
typedef enum tc__bring {
    TC__BRING_VALUES, // asked for where it is used
    TC__BRING_LATER, // evaluated into registers, stored when the present stage is multiplied
    TC__BRING_NOW,   // evaluated and stored: so many elements that registers do not suffice
    TC__BRING_ASYNC  // copied without a register: the hole gives addresses
} tc__bring;

static const char *const tc__bring_names[] = {"values", "later", "now", "async"};

// How a thread multiplies: cuda/tiles.cuh.
typedef enum tc__tile_way {
    TC__WAY_SIMT,
    TC__WAY_MMA,   // halves
    TC__WAY_SPLIT, // f32 alone, as are those of tf32
    TC__WAY_TF32,
    TC__WAY_GROUPS, // halves, by matrix units that groups of four warps share,
    TC__WAY_MAPPED, //   where the device brings operands by tensor maps: cuda/mapped.cuh
    TC__WAY_HELD // f32 as tf32, the left operand so, the right one by threads: cuda/held.cuh
} tc__tile_way;

// Words of a TEMPLATE from TC__TEMPLATE_NUMBERS on, by template.
enum {
    TC__TILES_WAY,
    TC__TILES_ROWS, // of the result, for a block,
    TC__TILES_COLS,
    TC__TILES_DEPTH,  //   and of k in a step
    TC__TILES_HIGH,   // warps of a block, along rows and columns
    TC__TILES_ACROSS, //
    TC__TILES_STAGES, // of the ring
    TC__TILES_THREADS,
    TC__TILES_PACK,        // sums in an access of 16 bytes
    TC__TILES_WIDTH,       // elements of the result that its hole gets
    TC__TILES_SLICES,      // of k: blocks that share sums, each with
    TC__TILES_LENGTH,      //   so much of it,
    TC__TILES_GROUP,       //   and so many meet in a round
    TC__TILES_BATCHES,     // 0 = there is one; of operands by maps their number
    TC__TILES_RAGGED_ROWS, // tiles leave a rest
    TC__TILES_RAGGED_COLS,
    TC__TILES_RAGGED_DEPTH,
    TC__TILES_LAST, // of k in the last access along it, 0 = as many as in the others
    TC__TILES_TURNS, // in which a thread's sums come to the hole; 0 = it is not for the list to say
    TC__TILES_CLUSTER, // blocks below each other that get the right operand together, by maps
    TC__TILES_BY_ROW, // what the result's hole loads may differ between rows
    TC__TILES_RELAY, // threads that finish results while others multiply, 0 = there are none
    TC__TILES_TOTAL, //   that sum the left operand, too: its hole is there
    TC__TILES_NUMBERS
};
enum {
    TC__SKINNY_BY_ROWS, // rows are wide, columns few
    TC__SKINNY_DOT,     // lanes along k
    TC__SKINNY_FEW,
    TC__SKINNY_SHARING, // threads that share sums
    TC__SKINNY_EACH,    // DOT: of the wide axis, for a thread,
    TC__SKINNY_COVER,   //   and for a block
    TC__SKINNY_UNROLLED,
    TC__SKINNY_THREADS,
    TC__SKINNY_WIDTH, // elements of an access
    TC__SKINNY_AHEAD, // there is a hole for what is the same for all of k
    TC__SKINNY_SLICES,
    TC__SKINNY_LENGTH,
    TC__SKINNY_GROUP,
    TC__SKINNY_BATCHES,
    TC__SKINNY_RAGGED_ROWS, // blocks leave a rest
    TC__SKINNY_RAGGED_COLS,
    TC__SKINNY_RAGGED_DEPTH, //   slices of k
    TC__SKINNY_MAKING, // threads that make a row of the left operand first, 0 = it is there;
    TC__SKINNY_STEPS, //   of all k: so much of the wide operand is in registers before, or 0
    TC__SKINNY_EARLY, //   and so is what the result needs beside sums
    TC__SKINNY_NUMBERS
};
enum {
    TC__CHAIN_ROWS,  // of the result, for a block,
    TC__CHAIN_COLS,  //   and columns of a step, which are the k of the last product
    TC__CHAIN_WIDE,  // columns of the result, or more
    TC__CHAIN_DEPTH, // k of the first product, or more,
    TC__CHAIN_NEXT,  //   and of the second; 0 = there is one
    TC__CHAIN_HIGH,  // warps of a block
    TC__CHAIN_THREADS,
    TC__CHAIN_PACK,     // sums in an access of 16 bytes
    TC__CHAIN_WIDTH,    // elements of the result that its hole gets,
    TC__CHAIN_SCORES,   //   and that of scores
    TC__CHAIN_STREAMED, // scores are those of a softmax: 1: multiplied with its share, 2: divided by it, 3: as they are
    TC__CHAIN_BARE,     //   and rows of -inf alone are NaN
    TC__CHAIN_HELD,     // left operands are in registers
    TC__CHAIN_COLUMNS, // words that scores of a column need; where threads bring operands: there is a hole for them
    TC__CHAIN_BATCHES,
    TC__CHAIN_RAGGED_ROWS,  // blocks leave a rest
    TC__CHAIN_RAGGED_COLS,  //   and steps
    TC__CHAIN_RAGGED_WIDE,  // there are fewer columns
    TC__CHAIN_RAGGED_DEPTH, //   or elements of k: so many; 0 = there are not
    TC__CHAIN_RAGGED_NEXT,
    TC__CHAIN_BAND, // 1: columns c of row r count where c >= r + low; 2: where c <= r + up; 3: both
    TC__CHAIN_LOW,
    TC__CHAIN_UP,
    TC__CHAIN_STAGES, // of the ring that the device fills (cuda/mapped_chain.cuh), 0 = threads do,
    TC__CHAIN_AHEAD, //   with so many left tiles,
    TC__CHAIN_SAME,  //   and whose values are the first right operand
    TC__CHAIN_SCALE, // scores are sums times this, a float's bits; 0 = the hole makes them
    TC__CHAIN_PAIR, // another chain is beside it, of the first product's sums and the second right operand
    TC__CHAIN_NUMBERS
};
enum {
    TC__DECODE_ROWS,  // of the result, for a block,
    TC__DECODE_WIDE,  //   and columns
    TC__DECODE_DEPTH, // k of the first product
    TC__DECODE_LANES, // that share a key: 8 elements each,
    TC__DECODE_EACH,  //   and have so many keys at a time
    TC__DECODE_THREADS,
    TC__DECODE_SLICES,   // of keys, each a block's,
    TC__DECODE_CLUSTER,  //   which are a cluster
    TC__DECODE_SINGLE,   // keys of a block are its threads' at one time
    TC__DECODE_STREAMED, // as TC__CHAIN_STREAMED,
    TC__DECODE_BARE,     //   TC__CHAIN_BARE,
    TC__DECODE_BATCHES,
    TC__DECODE_RAGGED_COLS, // the keys of blocks leave a rest
    TC__DECODE_BAND,        // 1: some row needs keys from LOW on; 2: before UP; 3: both
    TC__DECODE_LOW,
    TC__DECODE_UP,
    TC__DECODE_NUMBERS
};

static const char *const tc__tiles_numbers[TC__TILES_NUMBERS] = {
    "way",    "rows",    "cols",        "depth",       "high",         "across",
    "stages", "threads", "pack",        "width",       "slices",       "length",
    "group",  "batches", "ragged_rows", "ragged_cols", "ragged_depth", "last",
    "turns",  "cluster", "by_row",      "relay",       "total"};
static const char *const tc__skinny_numbers[TC__SKINNY_NUMBERS] = {
    "by_rows",     "dot",         "few",          "sharing", "each",   "cover", "unrolled",
    "threads",     "width",       "ahead",        "slices",  "length", "group", "batches",
    "ragged_rows", "ragged_cols", "ragged_depth", "making",  "steps",  "early"};

static const char *const tc__chain_numbers[TC__CHAIN_NUMBERS] = {
    "rows",         "cols",        "wide",    "depth",       "next",        "high",
    "threads",      "pack",        "width",   "scores",      "streamed",    "bare",
    "held",         "columns",     "batches", "ragged_rows", "ragged_cols", "ragged_wide",
    "ragged_depth", "ragged_next", "band",    "low",         "up",          "stages",
    "ahead",        "same",        "scale",   "pair"};
static const char *const tc__decode_numbers[TC__DECODE_NUMBERS] = {
    "rows",   "wide",     "depth", "lanes",   "each",        "threads", "slices", "cluster",
    "single", "streamed", "bare",  "batches", "ragged_cols", "band",    "low",    "up"};

static const struct {
    const char *const *name;
    uint32_t count;
} tc__template_words[TC__TEMPLATES] = {{tc__tiles_numbers, TC__TILES_NUMBERS},
                                       {tc__skinny_numbers, TC__SKINNY_NUMBERS},
                                       {tc__chain_numbers, TC__CHAIN_NUMBERS},
                                       {tc__decode_numbers, TC__DECODE_NUMBERS}};

static const char *tc__template_number(int64_t name, uint32_t i) {
    return tc__template_words[name].name[i];
}

// How far what follows stands to the right of it, and it to the left of what is before.
static int tc__indents(const tc__node *n) { return tc__opens(n) || n->op == TC_OP_ELSE; }
static int tc__outdents(const tc__node *n) {
    return n->op == TC_OP_END || n->op == TC_OP_ELSE;
}

// What a reduction starts with: combining it with a value gives the value.
static tc__value tc__identity(tc__op monoid, int dtype) {
    int low = monoid == TC_OP_MAXIMUM || monoid == TC_OP_ARGMAX;
    int high = monoid == TC_OP_MINIMUM || monoid == TC_OP_ARGMIN;
    int one = monoid == TC_OP_MUL || monoid == TC_OP_LOGICAL_AND;
    const uint64_t infinity = UINT64_C(0x7ff) << 52;
    tc__value v;
    if (!tc__is_float(dtype))
        v.i = low ? tc__int_least(dtype) : high ? tc__int_most(dtype) : one;
    else if (low || high)
        v.i = (int64_t)(infinity | (uint64_t)low << 63);
    else
        v.f = one;
    return v;
}

static int tc__graph_open(tc__graph *g, tc_ctx *c, tc__ixpool *ix) {
    memset(g, 0, sizeof *g);
    g->ctx = c, g->ix = ix;
    tc__arena_init(&g->arena, c);
    tc__map_init(&g->ids, c), tc__map_init(&g->composite_of, c);
    return 1;
}

static void tc__graph_close(tc__graph *g) {
    if (!g->ctx) return;
    TC__VEC_FREE(g->ctx, g->node);
    TC__VEC_FREE(g->ctx, g->composite);
    TC__VEC_FREE(g->ctx, g->aside);
    TC__VEC_FREE(g->ctx, g->loop);
    TC__VEC_FREE(g->ctx, g->memory);
    TC__VEC_FREE(g->ctx, g->place);
    tc__map_free(&g->ids), tc__map_free(&g->composite_of);
    tc__arena_free(&g->arena);
}

static uint64_t tc__node_hash(const tc__node *n) {
    uint64_t h =
        tc__hash_mix(n->op | ((uint64_t)n->n_in << 16) | ((uint64_t)n->n_attr << 32),
                     ((uint64_t)n->dtype << 16) | ((uint64_t)n->phase << 32) |
                         ((uint64_t)n->level << 8) | n->rank | ((uint64_t)n->device << 48));
    for (uint32_t i = 0; i < n->n_in; i++) h = tc__hash_mix(h, n->in[i]);
    for (uint32_t i = 0; i < n->n_attr; i++) h = tc__hash_mix(h, (uint64_t)n->attr[i]);
    for (int i = 0; i < n->rank; i++) h = tc__hash_mix(h, (uint64_t)n->dims[i]);
    return h;
}

static int tc__node_same(const tc__node *x, const tc__node *y) {
    if (x->op != y->op || x->stage != y->stage || x->dtype != y->dtype ||
        x->rank != y->rank)
        return 0;
    if (x->level != y->level || x->phase != y->phase) return 0;
    if (x->device != y->device) return 0;
    if (x->n_in != y->n_in || x->n_attr != y->n_attr) return 0;
    return !memcmp(x->in, y->in, x->n_in * sizeof *x->in) &&
           !memcmp(x->attr, y->attr, x->n_attr * sizeof *x->attr) &&
           !memcmp(x->dims, y->dims, x->rank * sizeof *x->dims);
}

// A copy of the prototype `n`, its in and attr arrays too; NULL = reported.
static tc__node *tc__node_copy(tc__graph *g, const tc__node *n) {
    size_t attrs = (n->n_attr + 1) * sizeof *n->attr, ins = (n->n_in + 1) * sizeof *n->in;
    tc__node *m = (tc__node *)tc__arena_alloc(&g->arena, sizeof *m + attrs + ins);
    if (!m) return NULL;
    *m = *n;
    m->from = g->from;
    m->attr = (int64_t *)(void *)(m + 1);
    m->in = (uint32_t *)(void *)(m->attr + n->n_attr + 1);
    if (n->n_in) memcpy(m->in, n->in, n->n_in * sizeof *n->in);
    if (n->n_attr) memcpy(m->attr, n->attr, n->n_attr * sizeof *n->attr);
    return m;
}

// The same as the newest node.
static tc__node *tc__node_append(tc__graph *g, const tc__node *n) {
    tc__node *m = tc__node_copy(g, n);
    if (!m || !TC__PUSH(g->ctx, g->node, m)) return NULL;
    m->id = (uint32_t)g->node.count - 1;
    g->devices |= n->device != 0;
    return m;
}

// The node equal to the prototype `n`, made if there is none; NULL = reported.
static tc__node *tc__node_cons(tc__graph *g, const tc__node *n) {
    uint64_t h = tc__node_hash(n), id;
    for (; tc__map_get(&g->ids, h, &id); h = tc__hash_mix(h, 1))
        if (tc__node_same(g->node.at[id], n)) return g->node.at[id];
    tc__node *m = tc__node_append(g, n);
    if (!m || !tc__map_set(&g->ids, h, m->id)) return NULL;
    return m;
}

static tc__node *tc__operand(const tc__graph *g, const tc__node *n, uint32_t i) {
    return g->node.at[n->in[i]];
}

// Whether node `id` is an operand of n.
static int tc__has_operand(const tc__node *n, uint32_t id) {
    for (uint32_t i = 0; i < n->n_in; i++)
        if (n->in[i] == id) return 1;
    return 0;
}

// Number of elements as an expression.
static tc__ix tc__node_numel(const tc__graph *g, const tc__node *n) {
    tc__ix e = tc__ix_const(1);
    for (int i = 0; i < n->rank; i++) e = tc__ix_mul(g->ix, e, n->dims[i]);
    return e;
}
