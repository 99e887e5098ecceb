// What gradients cost a program, for the report: which values of the forward pass are kept for them, what is computed
// again instead, and how much lives at most. Input: a program with its plan. Output: lines of tc_explain.
//
// A derivative was made for a step that derives; what is made of AGAIN is a copy. A kernel that computes one of them is
// of the backward pass. What it reads that is neither, and another kernel wrote, was kept for it, and so was a slope that
// a kernel of the forward pass stored; inputs and results are there anyway.

typedef struct tc__saved {
    const tc__program *p;
    uint8_t *late;     // by node: a derivative, or computed again
    uint32_t *again;   // by node: as kernel/again.c has it
    uint8_t *ahead;    // by node: a derivative, stored by a kernel that stores a value, too
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
    int values = 0;
    for (size_t b = 0; b < g->buffer.count; b++) {
        const tc__kbuf *f = &g->buffer.at[b];
        values |= f->place == TC__BUF_NODE && f->written && !k->late[f->source];
    }
    for (size_t b = 0; values && b < g->buffer.count; b++) {
        const tc__kbuf *f = &g->buffer.at[b];
        if (f->place == TC__BUF_NODE && f->written && k->late[f->source])
            k->ahead[f->source] = 1;
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
    k->ahead = TC__NEW_ARRAY(c, uint8_t, n);
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

// Bytes of the nodes marked in `what`, and how many of them are of the call of node i, which is the first of them.
static uint64_t tc__saved_bytes(const tc__saved *k, const uint8_t *what) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < k->p->graph.node.count; i++) {
        const tc__slab *s = what[i] ? tc__saved_slab(k->p, i) : NULL;
        bytes += s ? s->bytes : 0;
    }
    return bytes;
}

static int tc__same_call(const tc__step *a, const tc__step *b) {
    return a == b || (a && b && tc__same_site(a, b) &&
                      !strcmp(tc__step_call_name(a), tc__step_call_name(b)));
}

// "    327680 bytes of linear at model.c:20": a line for each call that made nodes marked in `what`, which are done with
// then.
static void tc__put_saved_calls(tc__text *t, const tc__saved *k, uint8_t *what, int bytes) {
    const tc__graph *g = &k->p->graph;
    uint32_t lines = 0, nodes = (uint32_t)g->node.count;
    for (uint32_t i = 0; i < nodes; i++) {
        const tc__step *from = g->node.at[i]->from;
        uint64_t size = 0;
        if (!what[i]) continue;
        for (uint32_t j = i; j < nodes; j++) {
            if (!what[j] || !tc__same_call(g->node.at[j]->from, from)) continue;
            const tc__slab *s = tc__saved_slab(k->p, j);
            size += s ? s->bytes : 0, what[j] = 0;
        }
        if (lines++ >= TC__MOST_CALLS || !from) continue;
        tc__put(t, "    ");
        if (bytes) tc__put(t, "%llu bytes of ", (unsigned long long)size);
        tc__put(t, "%s at ", tc__step_call_name(from));
        tc__put_site(t, from->site);
        tc__put(t, "\n");
    }
    if (lines > TC__MOST_CALLS)
        tc__put(t, "    and %u calls more\n", (unsigned)(lines - TC__MOST_CALLS));
}

// The most bytes of intermediates that live during one kernel, and which that is.
static size_t tc__plan_peak(const tc__plan *p, size_t kernels, uint32_t *at) {
    size_t most = 0;
    *at = 0;
    for (uint32_t i = 0; i < kernels; i++) {
        size_t live = 0;
        for (size_t k = 0; k < p->slab.count; k++) {
            const tc__slab *s = &p->slab.at[k];
            if (!s->output && s->first <= i && i <= s->last) live += s->bytes;
        }
        if (live > most) most = live, *at = i;
    }
    return most;
}

// Of a program with derivatives.
static void tc__explain_gradients(tc__text *t, const tc__program *p) {
    tc__saved k;
    uint32_t at = 0, any = 0;
    int ok = tc__saved_open(&k, p);
    for (uint32_t i = 0; ok && i < p->graph.node.count; i++) any |= k.repeated[i];
    if (ok && k.derives) {
        tc__put(t, "gradients: %llu bytes are kept for them\n",
                (unsigned long long)tc__saved_bytes(&k, k.saved));
        tc__put_saved_calls(t, &k, k.saved, 1);
        if (any) tc__put(t, "gradients: computed again for them\n");
        tc__put_saved_calls(t, &k, k.repeated, 0);
        size_t peak = tc__plan_peak(&p->plan, p->launch.count, &at);
        if (peak)
            tc__put(t, "at most %zu bytes of intermediates live at once, in kernel %u\n",
                    peak, (unsigned)at);
    }
    tc__saved_close(&k);
}
