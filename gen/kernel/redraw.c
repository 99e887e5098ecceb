// Random numbers that several kernels need are drawn in each of them: they are known by their counters, so a dropout's
// mask need not lie in memory from its forward pass to its gradient. Input: merged clusters. Output: the same with fewer
// roots, where that makes no more kernels, and fewer bytes go between them.
//
// Philox costs 60 adds by the table, which roots.c would store once: a byte for each element of a mask, four of a
// number. Four elements share what it gives for one, beside their loads: a step of examples/char_gpt.c takes as long
// either way, on a host with AVX-512, and gradients of dropout, add and layer norm behind a product (4096 x 1024) 1.15
// times as long without the byte, which is a quarter of what training keeps of each dropout.

enum {
    TC__REDRAW_COST = 140,  // of an element, at most: two draws, and what is made of them
    TC__REDRAW_READERS = 4, // kernels that read it, at most
    TC__REDRAW_REPEATS = 2  // times that each number may be repeated where it is drawn
};

// By node: whether it is drawn, all of it of random numbers and constants, and what an element costs.
typedef struct tc__redraw {
    const tc__schedule *s;
    uint32_t *cost;    // 0 = it is made of something else
    uint8_t *drawn;    // it is made of a random number
    uint32_t *readers; // kernels that need it,
    uint32_t *last;    //   and 1 + the last of them
} tc__redraw;

static void tc__redraw_close(tc__redraw *r) {
    size_t n = r->s->g->node.count + 1;
    tc_ctx *c = r->s->ctx;
    if (r->cost) TC__FREE_ARRAY(c, r->cost, n);
    if (r->drawn) TC__FREE_ARRAY(c, r->drawn, n);
    if (r->readers) TC__FREE_ARRAY(c, r->readers, n);
    if (r->last) TC__FREE_ARRAY(c, r->last, n);
}

// Whether n has more elements than operand a, so that some would be drawn several times.
static int tc__redraw_repeats(const tc__schedule *s, const tc__node *n, const tc__node *a) {
    double more = tc__bytes_most(s->g, n) / (double)tc__dtypes[n->dtype].bytes,
           few = tc__bytes_most(s->g, a) / (double)tc__dtypes[a->dtype].bytes;
    return more > few * (double)TC__REDRAW_REPEATS;
}

static void tc__redraw_look(tc__redraw *r, const tc__node *n) {
    tc__kind k = tc__ops[n->op].kind;
    uint32_t sum = tc__ops[n->op].cost + 1;
    int source = k == TC__KIND_SOURCE && n->op != TC_OP_INPUT;
    if (!source && !tc__is_alu(n) && k != TC__KIND_CAST && k != TC__KIND_MOVE) return;
    r->drawn[n->id] = n->op == TC_OP_RANDOM;
    for (uint32_t i = 0; i < n->n_in; i++) {
        const tc__node *a = tc__operand(r->s->g, n, i);
        int repeats = r->drawn[a->id] && tc__redraw_repeats(r->s, n, a);
        if (!r->cost[a->id] || repeats) sum = TC__REDRAW_COST + 1;
        if (sum > TC__REDRAW_COST) break;
        r->drawn[n->id] |= r->drawn[a->id];
        sum += r->cost[a->id];
    }
    r->cost[n->id] = sum > TC__REDRAW_COST ? 0 : sum;
    r->drawn[n->id] &= r->cost[n->id] > 0;
}

// What the roots of a cluster load.
static void tc__redraw_count(tc__redraw *r, uint32_t group) {
    const tc__schedule *s = r->s;
    for (uint32_t i = s->cluster.at[group].first; i != UINT32_MAX; i = s->root.at[i].next) {
        const tc__use *u = s->use.at + s->root.at[i].use;
        for (uint32_t k = 0; k < s->root.at[i].uses; k++) {
            uint32_t id = s->root.at[u[k].root].node;
            r->readers[id] += r->last[id] != group + 1;
            r->last[id] = group + 1;
        }
    }
}

// Where a number is repeated it is loaded, and so is what it is made of.
static void tc__redraw_bar(tc__redraw *r) {
    const tc__graph *g = r->s->g;
    for (size_t i = g->node.count; i-- > 0;) {
        const tc__node *n = g->node.at[i];
        int barred = r->drawn[i] && r->readers[i] > TC__REDRAW_READERS;
        for (uint32_t k = 0; k < n->n_in && r->s->live[i]; k++) {
            uint32_t *readers = &r->readers[n->in[k]];
            if (barred || tc__redraw_repeats(r->s, n, tc__operand(g, n, k)))
                *readers = TC__REDRAW_READERS + 1;
        }
    }
}

// 0 = out of memory.
static int tc__redraw_open(tc__redraw *r, const tc__schedule *s) {
    size_t n = s->g->node.count + 1;
    memset(r, 0, sizeof *r);
    r->s = s;
    r->cost = TC__NEW_ARRAY(s->ctx, uint32_t, n);
    r->drawn = TC__NEW_ARRAY(s->ctx, uint8_t, n);
    r->readers = TC__NEW_ARRAY(s->ctx, uint32_t, n);
    r->last = TC__NEW_ARRAY(s->ctx, uint32_t, n);
    if (!r->cost || !r->drawn || !r->readers || !r->last) return 0;
    for (size_t i = 0; i < s->g->node.count; i++) tc__redraw_look(r, s->g->node.at[i]);
    for (uint32_t i = 0; i < s->cluster.count; i++)
        if (s->cluster.at[i].alive) tc__redraw_count(r, i);
    tc__redraw_bar(r);
    return 1;
}

// Marks the roots that another kernel loads, and could draw; returns how many.
static uint32_t tc__redraw_choose(tc__redraw *r, uint8_t *redraw, const uint8_t *output) {
    const tc__schedule *s = r->s;
    uint32_t n = 0;
    for (size_t i = 0; i < s->use.count; i++) {
        const tc__root *from = &s->root.at[s->use.at[i].root];
        uint32_t id = from->node;
        int apart = from->group != s->root.at[s->use.at[i].reader].group;
        if (!apart || !r->drawn[id] || from->forced || output[id] || redraw[id]) continue;
        if (r->readers[id] > TC__REDRAW_READERS) continue;
        redraw[id] = 1, n++;
    }
    return n;
}

static size_t tc__kernels_now(const tc__schedule *s) {
    size_t n = 0;
    for (size_t i = 0; i < s->cluster.count; i++) n += s->cluster.at[i].alive != 0;
    return n;
}

static int tc__has_random(const tc__schedule *s) {
    for (size_t i = 0; i < s->g->node.count; i++)
        if (s->g->node.at[i]->op == TC_OP_RANDOM && s->live[i]) return 1;
    return 0;
}

// 0 = out of memory.
static int tc__redraw_roots(tc__schedule *s, const uint8_t *output) {
    tc__redraw r;
    if (!tc__has_random(s)) return 1;
    size_t before = tc__kernels_now(s);
    double was = tc__bytes_between(s);
    int ok = tc__redraw_open(&r, s);
    uint32_t chosen = ok ? tc__redraw_choose(&r, s->redraw, output) : 0;
    tc__redraw_close(&r);
    if (!ok || !chosen) return ok;
    if (!tc__merge_anew(s, output)) return 0;
    double now = tc__bytes_between(s);
    if (was < 0 || now < 0) return 0;
    if (tc__kernels_now(s) <= before && now < was) return 1;
    memset(s->redraw, 0, s->g->node.count);
    return tc__merge_anew(s, output);
}
