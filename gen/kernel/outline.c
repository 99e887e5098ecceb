// What decides how TENSOR nodes are lowered together, as words: clusters with the same words become kernels
// that are the same but for where their buffers are. The layers of a model are such, and all but the first
// are copied: that takes a tenth of the time.
//
// The words go through the nodes from the roots on, each where it is met first, up to those that are loaded;
// nodes are named by their numbers in that order, so no word depends on where in a graph they stand.
//
// GPT-2's program of 110 kernels takes 20.7 million instructions so, not 30.1.

// A load of a root that was lowered alone.
typedef struct tc__outlined_load {
    uint32_t node; // number of what is loaded
    tc__place place;
    tc__ix index;
    int guarded;
} tc__outlined_load;

typedef struct tc__outline {
    uint64_t hash; // of the words
    // Places in the arrays of tc__outlines, and how many there are:
    size_t word, words, node, nodes, load, loads;
    uint32_t size, ops, buffers; // of a root lowered alone: see tc__cluster
    size_t kernel;               // of a cluster, in the order of kernels
} tc__outline;

typedef struct tc__outlines {
    tc_ctx *ctx;
    const tc__graph *g; // TENSOR
    const tc__shape *const *inputs;
    const int32_t *root_of;
    const uint32_t *cost;
    const tc__root *roots; // whose group is not this one are loaded
    uint32_t group;
    TC__VEC(uint64_t) word;
    TC__VEC(uint32_t) node; // ids of nodes, by number
    TC__VEC(uint32_t) next; // ids of nodes still to be drawn, the last one first
    TC__VEC(tc__outlined_load) load;
    TC__VEC(tc__outline) at;
    tc__map ids;      // hash -> place in `at`
    uint64_t *number; // by node: the outline that it was last met in, and its number there
    uint64_t drawn;   // outlines so far
    int failed;
} tc__outlines;

enum { TC__OUTLINE_MET = 1, TC__OUTLINE_NEW, TC__OUTLINE_LOADED, TC__OUTLINE_ROOT };

static int tc__outlines_open(tc__outlines *o, tc_ctx *c, const tc__graph *g,
                             const tc__shape *const *inputs, const int32_t *root_of,
                             const uint32_t *cost) {
    memset(o, 0, sizeof *o);
    o->ctx = c, o->g = g, o->inputs = inputs, o->root_of = root_of, o->cost = cost;
    tc__map_init(&o->ids, c);
    o->number = TC__NEW_ARRAY(c, uint64_t, g->node.count);
    return o->number != NULL;
}

static void tc__outlines_close(tc__outlines *o) {
    if (!o->ctx) return;
    size_t n = o->g->node.count ? o->g->node.count : 1;
    tc__free(o->ctx, o->number, n * sizeof *o->number);
    TC__VEC_FREE(o->ctx, o->word);
    TC__VEC_FREE(o->ctx, o->node);
    TC__VEC_FREE(o->ctx, o->next);
    TC__VEC_FREE(o->ctx, o->load);
    TC__VEC_FREE(o->ctx, o->at);
    tc__map_free(&o->ids);
}

// ---- drawing one ----

static void tc__outline_word(tc__outlines *o, uint64_t word) {
    if (!TC__PUSH(o->ctx, o->word, word)) o->failed = 1;
}

static void tc__outline_words(tc__outlines *o, const int64_t *word, size_t n) {
    if (!TC__VEC_RESERVE(o->ctx, o->word, o->word.count + n)) {
        o->failed = 1;
        return;
    }
    if (n) memcpy(o->word.at + o->word.count, word, n * sizeof *word);
    o->word.count += n;
}

// An outline of nodes of this group.
static tc__outline tc__outline_begin(tc__outlines *o, const tc__root *roots,
                                     uint32_t group) {
    tc__outline own;
    memset(&own, 0, sizeof own);
    own.word = o->word.count, own.node = o->node.count, own.load = o->load.count;
    o->roots = roots, o->group = group, o->drawn++;
    return own;
}

// Of an external, its strides.
static void tc__outline_input(tc__outlines *o, const tc__node *n) {
    const tc__shape *l = o->inputs ? o->inputs[n->attr[TC__INPUT_EXTERNAL]] : NULL;
    tc__outline_word(o, l != NULL);
    if (l) tc__outline_words(o, l->strides, n->rank);
}

// Of another node that is lowered, what is not its operands'.
static void tc__outline_attributes(tc__outlines *o, const tc__node *n) {
    tc__outline_word(o, (uint64_t)n->n_in << 32 | n->n_attr);
    tc__outline_word(o, o->cost[n->id]);
    tc__outline_words(o, n->attr, n->n_attr);
    // Errors name the index that is out of range.
    if (tc__ops[n->op].kind == TC__KIND_GATHER) tc__outline_word(o, n->in[1]);
}

// Its own words; operands that are drawn too are next.
static void tc__outline_one(tc__outlines *o, const tc__outline *own, const tc__node *n) {
    int32_t root = o->root_of[n->id];
    int loaded = root >= 0 && o->roots[root].group != o->group;
    uint64_t *number = &o->number[n->id], next = o->node.count - own->node;
    if (*number >> 32 == o->drawn) {
        tc__outline_word(o, TC__OUTLINE_MET | (*number & UINT32_MAX) << 32);
        return;
    }
    *number = o->drawn << 32 | next;
    if (!TC__PUSH(o->ctx, o->node, n->id)) o->failed = 1;
    if (o->failed) return;
    tc__outline_word(o, (loaded ? TC__OUTLINE_LOADED : TC__OUTLINE_NEW) |
                            (uint64_t)n->op << 8 | (uint64_t)n->dtype << 24 |
                            (uint64_t)n->rank << 32);
    tc__outline_words(o, n->dims, n->rank);
    if (loaded) return;
    if (n->op == TC_OP_INPUT) {
        tc__outline_input(o, n);
        return;
    }
    tc__outline_attributes(o, n);
    for (uint32_t i = n->n_in; i-- > 0;)
        if (!TC__PUSH(o->ctx, o->next, n->in[i])) o->failed = 1;
}

// The words of a node and of all that it is made of.
static void tc__outline_node(tc__outlines *o, const tc__outline *own, const tc__node *n) {
    if (!TC__PUSH(o->ctx, o->next, n->id)) o->failed = 1;
    while (o->next.count && !o->failed)
        tc__outline_one(o, own, o->g->node.at[o->next.at[--o->next.count]]);
    o->next.count = 0;
}

// The outline that was kept with the same words; NULL = there is none. It holds until the next is kept.
static const tc__outline *tc__outline_end(tc__outlines *o, tc__outline *own) {
    uint64_t at;
    own->words = o->word.count - own->word, own->nodes = o->node.count - own->node;
    if (o->failed) return NULL;
    const uint64_t *word = o->word.at + own->word;
    own->hash = tc__hash64(word, own->words * sizeof *word, 3);
    for (uint64_t h = own->hash; tc__map_get(&o->ids, h, &at); h = tc__hash_mix(h, 1)) {
        const tc__outline *other = &o->at.at[at];
        if (other->words == own->words &&
            !memcmp(o->word.at + other->word, word, own->words * sizeof *word))
            return other;
    }
    return NULL;
}

// Keeps an outline for those that come; NULL = no memory.
static const tc__outline *tc__outline_keep(tc__outlines *o, tc__outline *own) {
    uint64_t at, h = own->hash;
    own->loads = o->load.count - own->load;
    while (tc__map_get(&o->ids, h, &at)) h = tc__hash_mix(h, 1);
    if (!tc__map_set(&o->ids, h, o->at.count) || !TC__PUSH(o->ctx, o->at, *own))
        return NULL;
    return &o->at.at[o->at.count - 1];
}

static void tc__outline_drop(tc__outlines *o, const tc__outline *own) {
    o->word.count = own->word, o->node.count = own->node, o->load.count = own->load;
}

// ---- from one to another with the same words ----

// The number of the tensor in whose memory a buffer is.
static uint32_t tc__outline_number(const tc__outlines *o, const tc__outline *own,
                                   const tc__kbuf *b) {
    for (uint32_t i = 0; i < own->nodes; i++) {
        const tc__node *n = o->g->node.at[o->node.at[own->node + i]];
        if (b->place == TC__BUF_NODE && n->id == b->source) return i;
        if (b->place == TC__BUF_INPUT && n->op == TC_OP_INPUT &&
            (uint32_t)n->attr[TC__INPUT_EXTERNAL] == b->source)
            return i;
    }
    return UINT32_MAX; // a worker's own
}

// The source of a buffer in the memory of the tensor with this number.
static uint32_t tc__outlined_source(const tc__outlines *o, const tc__outline *own,
                                    uint32_t number, tc__place place) {
    uint32_t id = o->node.at[own->node + number];
    return place == TC__BUF_INPUT ? (uint32_t)o->g->node.at[id]->attr[TC__INPUT_EXTERNAL]
                                  : id;
}

// The kernel `done` of `other`, for the nodes of `own`; what it covers is still to be said. NULL = no
// memory.
static tc__group *tc__group_like(const tc__outlines *o, const tc__outline *own,
                                 const tc__outline *other, const tc__group *done) {
    tc__group *k = tc__group_empty(o->ctx, done);
    if (!k) return NULL;
    int ok = TC__VEC_RESERVE(o->ctx, k->body.node, done->body.node.count) &&
             TC__VEC_RESERVE(o->ctx, k->buffer, done->buffer.count);
    for (size_t i = 0; ok && i < done->body.node.count; i++)
        ok = tc__node_append(&k->body, done->body.node.at[i]) != NULL;
    for (size_t i = 0; ok && i < done->buffer.count; i++) {
        tc__kbuf b = done->buffer.at[i];
        uint32_t number = tc__outline_number(o, other, &b);
        if (tc__is_memory(&b)) b.source = tc__outlined_source(o, own, number, b.place);
        k->buffer.at[k->buffer.count++] = b;
    }
    if (!ok) tc__group_free(o->ctx, k);
    return ok ? k : NULL;
}
