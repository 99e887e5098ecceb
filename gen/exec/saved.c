// What gradients cost a program: which values of the forward pass are kept for them, and what is computed again instead.
// Input: a program with its plan. exec/budget.c asks which steps hold memory, exec/saved_report.c tells the user.
//
// A derivative was made for a step that derives; what is made of AGAIN is a copy. A kernel that computes one of them is
// of the backward pass. What it reads that is neither, and another kernel wrote, was kept for it, and so was a slope that
// a kernel of the forward pass stored; inputs and results are there anyway.

typedef struct tc__saved {
    const tc__program *p;
    uint8_t *late;   // by node: a derivative, or computed again
    uint32_t *again; // by node: as kernel/again.c has it
    uint32_t *
        ahead; // by node: a derivative that a kernel stores beside a value, 1 + that; else 0
    uint8_t *saved;    // by node
    uint8_t *repeated; // by node: computed again, by some kernel
    int derives;       // some kernel has a derivative
} tc__saved;

static void tc__saved_close(tc__saved *k) {
    size_t n = k->p->graph.node.count + 1;
    tc_ctx *c = k->p->ctx;
    if (k->late) TC__FREE_ARRAY(c, k->late, n);
    if (k->again) TC__FREE_ARRAY(c, k->again, n);
    if (k->ahead) TC__FREE_ARRAY(c, k->ahead, n);
    if (k->saved) TC__FREE_ARRAY(c, k->saved, n);
    if (k->repeated) TC__FREE_ARRAY(c, k->repeated, n);
}

static const tc__slab *tc__saved_slab(const tc__program *p, uint32_t node) {
    const tc__dispatch *r = tc__program_on(p, p->graph.node.at[node]->device);
    return tc__plan_find(r ? &r->plan : &p->plan, node);
}

// What kernel g stores ahead of the backward pass.
static void tc__saved_ahead(tc__saved *k, const tc__group *g) {
    uint32_t value = 0;
    for (size_t b = 0; b < g->buffer.count && !value; b++) {
        const tc__kbuf *f = &g->buffer.at[b];
        if (f->place == TC__BUF_NODE && f->written && !k->late[f->source])
            value = f->source + 1;
    }
    for (size_t b = 0; value && b < g->buffer.count; b++) {
        const tc__kbuf *f = &g->buffer.at[b];
        if (f->place == TC__BUF_NODE && f->written && k->late[f->source])
            k->ahead[f->source] = value;
    }
}

// What kernel i has to do with it. 0 = out of memory.
static int tc__saved_kernel(tc__saved *k, size_t i) {
    const tc__group *g = k->p->launch.at[i].group;
    tc__node_ids node;
    int late = 0;
    memset(&node, 0, sizeof node);
    int ok = tc__kernel_nodes(k->p->ctx, &k->p->graph, g, &node);
    for (size_t j = 0; ok && j < node.count; j++) {
        uint32_t id = node.at[j];
        const tc__node *n = k->p->graph.node.at[id];
        int copy = k->again[id] >= TC__AGAIN_FIRST && !tc__is_derivative(n);
        late |= k->late[id], k->derives |= tc__is_derivative(n);
        k->repeated[id] = (uint8_t)(copy && !tc__is_kind(n, TC__KIND_MOVE));
    }
    TC__VEC_FREE(k->p->ctx, node);
    for (size_t b = 0; ok && late && b < g->buffer.count; b++) {
        const tc__kbuf *f = &g->buffer.at[b];
        const tc__slab *s =
            f->place == TC__BUF_NODE ? tc__saved_slab(k->p, f->source) : NULL;
        int earlier =
            s && !s->output && !f->written && (!k->late[f->source] || k->ahead[f->source]);
        if (earlier) k->saved[f->source] = 1;
    }
    return ok;
}

// 0 = out of memory.
static int tc__saved_open(tc__saved *k, const tc__program *p) {
    size_t n = p->graph.node.count + 1;
    tc_ctx *c = p->ctx;
    memset(k, 0, sizeof *k);
    k->p = p;
    k->late = TC__NEW_ARRAY(c, uint8_t, n), k->again = TC__NEW_ARRAY(c, uint32_t, n);
    k->saved = TC__NEW_ARRAY(c, uint8_t, n), k->repeated = TC__NEW_ARRAY(c, uint8_t, n);
    k->ahead = TC__NEW_ARRAY(c, uint32_t, n);
    int ok = k->late && k->again && k->ahead && k->saved && k->repeated &&
             tc__again_all(c, &p->graph, k->again);
    for (uint32_t i = 0; ok && i < p->graph.node.count; i++)
        k->late[i] = (uint8_t)(tc__is_derivative(p->graph.node.at[i]) ||
                               k->again[i] >= TC__AGAIN_FIRST);
    for (size_t i = 0; ok && i < p->launch.count; i++)
        tc__saved_ahead(k, p->launch.at[i].group);
    for (size_t i = 0; ok && i < p->launch.count; i++) ok = tc__saved_kernel(k, i);
    return ok;
}

// The step that node i, which is saved, is of in the forward pass: of a slope that was stored ahead one of its kernel.
// NULL = none.
static const tc__step *tc__saved_from(const tc__saved *k, uint32_t i) {
    return k->p->graph.node.at[k->ahead[i] ? k->ahead[i] - 1 : i]->from;
}
