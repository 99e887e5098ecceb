// LOOP -> LOOP: kernels of a program that are the same but for their constants get one text, which is
// compiled once; the constants in which they differ are arguments. An iteration whose steps scale by other
// numbers, or layers of other scales, are such.
//
// A kernel that has no twin keeps its constants in its text, and twins those that they have in common: the
// compiler makes of a division by 512 a multiplication.

typedef struct tc__twins {
    tc_ctx *ctx;
    tc__group *const *group;
    size_t count;
    uint32_t *next; // by group: 1 + the one before it that may be its twin; 0 = none
    uint8_t *later; // by group: one behind it may be its twin
    tc__map last;   // hash -> the last group that has it
    TC__VEC(tc__value) value; // all constants that became arguments
} tc__twins;

// A constant that is a number of f32 or f64; its bits are those of a double.
static int tc__may_be_argument(const tc__node *n) {
    return n->op == TC_OP_CONST && (n->dtype == TC_F32 || n->dtype == TC_F64) &&
           (n->attr[TC__CONST_BITS] >> 52 & 0x7ff) != 0x7ff;
}

static uint64_t tc__twin_node(uint64_t h, const tc__node *n) {
    h = tc__hash_mix(h, (uint64_t)n->op << 32 | (uint64_t)n->dtype << 16 | n->level);
    h = tc__hash_mix(h, (uint64_t)n->phase << 48 | (uint64_t)n->n_in << 24 | n->n_attr);
    for (uint32_t i = 0; i < n->n_in; i++) h = tc__hash_mix(h, n->in[i]);
    for (uint32_t i = 0; i < n->n_attr && !tc__may_be_argument(n); i++)
        h = tc__hash_mix(h, (uint64_t)n->attr[i]);
    return h;
}

// Of all that its text depends on but such constants. Its expressions are in the pool of the program: equal
// ones have equal names.
static uint64_t tc__twin_hash(const tc__group *k) {
    uint64_t h = tc__hash64(&k->shape, sizeof k->shape, 5);
    for (size_t i = 0; i < k->buffer.count; i++) {
        const tc__kbuf *b = &k->buffer.at[i];
        h = tc__hash_mix(h,
                         (uint64_t)b->place << 16 | (uint64_t)b->dtype << 8 | b->written);
        h = tc__hash_mix(h, b->in_turns), h = tc__hash_mix(h, (uint64_t)b->numel);
        h = tc__hash_mix(h, (uint64_t)b->offset), h = tc__hash_mix(h, (uint64_t)b->pitch);
    }
    for (size_t i = 0; i < k->body.node.count; i++)
        h = tc__twin_node(h, k->body.node.at[i]);
    return h;
}

// Kernels of devices have their constants in their texts; so have those that have arguments already.
static int tc__may_have_twins(const tc__group *k) {
    if (k->target.device || k->shape.kind == TC__OPAQUE) return 0;
    for (size_t i = 0; i < k->body.node.count; i++)
        if (k->body.node.at[i]->op == TC_OP_ARG) return 0;
    return 1;
}

static int tc__twins_find(tc__twins *t) {
    for (uint32_t i = 0; i < t->count; i++) {
        uint64_t before;
        if (!tc__may_have_twins(t->group[i])) continue;
        uint64_t h = tc__twin_hash(t->group[i]);
        if (tc__map_get(&t->last, h, &before))
            t->next[i] = (uint32_t)before + 1, t->later[before] = 1;
        if (!tc__map_set(&t->last, h, i)) return 0;
    }
    return 1;
}

// Whether node `id` is a constant that is not the same in all twins from `last` on.
static int tc__twins_differ(const tc__twins *t, uint32_t last, size_t id) {
    const tc__node *n = t->group[last]->body.node.at[id];
    if (!tc__may_be_argument(n)) return 0;
    for (uint32_t i = t->next[last]; i; i = t->next[i - 1])
        if (t->group[i - 1]->body.node.at[id]->attr[TC__CONST_BITS] !=
            n->attr[TC__CONST_BITS])
            return 1;
    return 0;
}

// Of a kernel's nodes those that are marked become arguments; first: by group, where its values begin.
static int tc__twin_take(tc__twins *t, uint32_t at, const uint8_t *marked,
                         uint32_t *first) {
    const tc__group *k = t->group[at];
    int64_t slot = 0;
    tc__value value;
    first[at] = (uint32_t)t->value.count + 1;
    for (size_t id = 0; id < k->body.node.count; id++) {
        tc__node *n = k->body.node.at[id];
        if (!marked[id]) continue;
        memcpy(&value, &n->attr[TC__CONST_BITS], sizeof value);
        if (!TC__PUSH(t->ctx, t->value, value)) return 0;
        n->op = TC_OP_ARG, n->attr[TC__ARG_SLOT] = slot++;
    }
    return 1;
}

static int tc__twins_take(tc__twins *t, uint32_t last, uint32_t *first) {
    size_t n = t->group[last]->body.node.count, some = 0;
    uint8_t *marked = TC__NEW_ARRAY(t->ctx, uint8_t, n);
    int ok = marked != NULL;
    for (size_t id = 0; ok && id < n; id++)
        some += marked[id] = (uint8_t)tc__twins_differ(t, last, id);
    for (uint32_t i = last + 1; ok && some && i; i = t->next[i - 1])
        ok = tc__twin_take(t, i - 1, marked, first);
    TC__FREE_ARRAY(t->ctx, marked, n);
    return ok;
}

// Gives constants in which kernels differ to t->value; first: by group, 1 + the place of its own there, 0 = it
// has none. 0 = no memory.
static int tc__twins_run(tc__twins *t, tc_ctx *c, tc__group *const *group, size_t n,
                         uint32_t *first) {
    memset(t, 0, sizeof *t);
    t->ctx = c, t->group = group, t->count = n;
    tc__map_init(&t->last, c);
    t->next = TC__NEW_ARRAY(c, uint32_t, n), t->later = TC__NEW_ARRAY(c, uint8_t, n);
    int ok = t->next && t->later && tc__twins_find(t);
    for (uint32_t i = 0; ok && i < n; i++)
        if (t->next[i] && !t->later[i]) ok = tc__twins_take(t, i, first);
    return ok;
}

static void tc__twins_close(tc__twins *t) {
    TC__FREE_ARRAY(t->ctx, t->next, t->count);
    TC__FREE_ARRAY(t->ctx, t->later, t->count);
    tc__map_free(&t->last);
    TC__VEC_FREE(t->ctx, t->value);
}
