// Programs across devices: in which order their kernels and copies are given out. Input: the kernels of a
// schedule, each on its device. Output: their order, and what a run does one after the other.
//
// What is behind a copy has to wait for it, and what is beside it has not. So kernels have a stage: a copy that of
// what it copies and one, another the highest of what it reads. Stage by stage devices are given their copies,
// then all of them their lists, which none need have done when the next one gets its own; then the host takes
// what is for it, and does its part. A copy between two devices is in the order of the work of both
// (tc_device.copy_from): nobody waits for it here, and it waits for no list of its own stage.

// What a run does at once.
typedef enum tc__act_kind {
    TC__ACT_PART,   // a list of a device
    TC__ACT_LAUNCH, // a kernel of the host
    TC__ACT_VISIT,  //   on memory of a device, which has no text for it
    TC__ACT_COPY,   // from one device to another
    TC__ACT_LOOP,   // the first turn begins, or what is behind it
    TC__ACT_AGAIN   // the next turn, if there is one
} tc__act_kind;

typedef struct tc__act {
    tc__act_kind kind;
    struct tc__dispatch *on; // PART, VISIT
    uint32_t at;             // the part, the launch, or the loop
} tc__act;

// The device that a copy is from.
static int tc__copy_source(const tc__graph *g, const tc__group *k) {
    return tc__operand(g, g->node.at[k->covers.at[0]], 0)->device;
}

typedef struct tc__placed {
    tc__group *group;
    uint32_t stage, at; // where it stood
} tc__placed;

// The stage of a kernel, by those of the nodes that it reads; of those that it writes it is theirs.
static uint32_t tc__stage_of(const tc__group *k, uint32_t *stage) {
    uint32_t own = 0, copies = (uint32_t)tc__is_copy(k);
    for (size_t i = 0; i < k->buffer.count; i++) {
        const tc__kbuf *b = &k->buffer.at[i];
        if (b->place == TC__BUF_NODE && !b->written && stage[b->source] + copies > own)
            own = stage[b->source] + copies;
    }
    for (size_t i = 0; i < k->buffer.count; i++)
        if (k->buffer.at[i].place == TC__BUF_NODE && k->buffer.at[i].written)
            stage[k->buffer.at[i].source] = own;
    return own;
}

// In its stage: copies to devices, each device's kernels, copies to the host, the host's kernels.
static int tc__placed_turn(const tc__group *k) {
    int copy = tc__is_copy(k), device = k->target.device;
    return device && copy ? 0 : device ? device : (int)TC__DEVICES_MOST + !copy;
}

static int tc__placed_order(const void *a, const void *b) {
    const tc__placed *x = (const tc__placed *)a, *y = (const tc__placed *)b;
    int i = tc__placed_turn(x->group), k = tc__placed_turn(y->group);
    if (x->stage != y->stage) return x->stage < y->stage ? -1 : 1;
    if (i != k) return i < k ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

static int tc__kernels_are_apart(tc__group *const *k, size_t n) {
    for (size_t i = 1; i < n; i++)
        if (k[i]->target.device != k[0]->target.device) return 1;
    return 0;
}

// Puts the kernels of graph g in the order in which they are given out. 0 = out of memory.
static int tc__order_across(tc_ctx *c, const tc__graph *g, tc__group **k, size_t n) {
    if (g->loop.count || !tc__kernels_are_apart(k, n)) return 1;
    size_t nodes = g->node.count;
    uint32_t *stage = TC__NEW_ARRAY(c, uint32_t, nodes);
    tc__placed *all = TC__NEW_ARRAY(c, tc__placed, n);
    for (size_t i = 0; stage && all && i < n; i++)
        all[i].group = k[i], all[i].at = (uint32_t)i,
        all[i].stage = tc__stage_of(k[i], stage);
    int ok = stage && all;
    if (ok) qsort(all, n, sizeof *all, tc__placed_order);
    for (size_t i = 0; ok && i < n; i++) k[i] = all[i].group;
    if (stage) TC__FREE_ARRAY(c, stage, nodes);
    if (all) TC__FREE_ARRAY(c, all, n);
    return ok;
}
