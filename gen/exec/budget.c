// Option memory_budget: which blocks of the forward pass are computed again, so that the intermediates of a program, as
// planned, take no more than that share of what they take without. Input: the program without blocks. Output: what to
// try next, until the search ends (exec/pipeline.c makes each program to the plan of its memory, and keeps the best).
//
// Only such plans judge. Of programs within the budget the one with the fewest operations is best; where none is, the
// one with the least memory. The program without blocks is one of them, so none takes more. What to try comes from the
// values that it keeps for gradients: graph/budget.c divides the steps that hold them, in several ways, the most
// promising first; in each the number of blocks is found by halving. Where no division suffices, fewer blocks of the best
// one may still take less: a block that is computed again next to the peak adds to it.
//
// The same program gets the same blocks, whatever the threads, the time and the memory that is left. Sizes at run time
// are those of the visit that makes it.

enum {
    TC__BUDGET_PLANS = 8, // programs that are looked at, that without blocks included
    TC__BUDGET_TURNS = 4  // divisions of which no number of blocks suffices
};

// What a program takes.
typedef struct tc__demand {
    double bytes; // of intermediates, on all devices together
    double work;  // operations
} tc__demand;

typedef struct tc__search {
    tc__demand without, best;
    tc__blocks at; // what the best has
    double *held;  // by step; owned
    uint32_t steps;
    double most;           // bytes
    int plans;             // that were made
    int turns;             // divisions that do not suffice
    int first;             // parts of the first of them
    uint32_t low;          // of the one that is tried: so many blocks do not suffice,
    uint32_t high;         //   and so many do, or UINT32_MAX
    uint32_t blocks, ways; // of it, and of all
    int done;              // nothing better is left to try
} tc__search;

// The plan of its memory for the sizes of this visit. 0 = out of memory.
static int tc__program_plan_for(tc__program *p, const tc__visit *v) {
    tc__ixenv env;
    memset(&env, 0, sizeof env);
    if (p->size.count) memcpy(p->size.at, v->size.at, p->size.count * sizeof *p->size.at);
    env.sym = p->size.at;
    return tc__program_plan(p, &env);
}

static size_t tc__program_planned(const tc__program *p) {
    size_t bytes = p->plan.bytes;
    for (const tc__dispatch *r = p->dispatch; r; r = r->next) bytes += r->plan.bytes;
    return bytes;
}

// How often a node is computed in a run, at most.
static double tc__node_turns(const tc__graph *g, const tc__node *n, const tc__ixenv *env) {
    double turns = 1;
    for (uint32_t l = n->loop; l; l = g->loop.at[l - 1].outer)
        turns *= (double)tc__ix_eval(g->ix, g->loop.at[l - 1].turns, env);
    return turns;
}

// What a program that has a plan takes; 0 = out of memory.
static int tc__program_demand(const tc__program *p, tc__demand *needs) {
    const tc__graph *g = &p->graph;
    tc__ixenv env;
    uint8_t *live = TC__NEW_ARRAY(p->ctx, uint8_t, g->node.count + 1);
    memset(&env, 0, sizeof env);
    env.sym = p->size.at;
    needs->bytes = (double)tc__program_planned(p), needs->work = 0;
    for (size_t i = 0; live && i < p->output.count; i++)
        if (!p->output.at[i].alias) live[p->output.at[i].node] = 1;
    for (size_t i = g->node.count; live && i-- > 0;) {
        const tc__node *n = g->node.at[i];
        if (!live[i]) continue;
        needs->work += tc__node_work(g, n, &env) * tc__node_turns(g, n, &env);
        for (uint32_t k = 0; k < n->n_in; k++) live[n->in[k]] = 1;
    }
    if (live) TC__FREE_ARRAY(p->ctx, live, g->node.count + 1);
    return live != NULL;
}

// What a program keeps for gradients, by step of its path. 0 = out of memory.
static int tc__program_held(const tc__program *p, double *held, uint32_t steps) {
    tc__saved k;
    int ok = tc__saved_open(&k, p);
    for (uint32_t i = 0; ok && i < p->graph.node.count; i++) {
        const tc__step *from = tc__saved_from(&k, i);
        if (k.saved[i] && from && from->position < steps)
            held[from->position] += (double)tc__saved_slab(p, i)->bytes;
    }
    tc__saved_close(&k);
    return ok;
}

static void tc__search_close(tc__search *s, tc_ctx *c) {
    if (s->held) TC__FREE_ARRAY(c, s->held, s->steps + 1);
    s->held = NULL;
}

static int tc__search_fits(const tc__search *s, const tc__demand *n) {
    return n->bytes <= s->most;
}

static int tc__search_is_better(const tc__search *s, const tc__demand *n) {
    const tc__demand *b = &s->best;
    int fits = tc__search_fits(s, n);
    if (fits != tc__search_fits(s, b)) return fits;
    if (fits && (n->work < b->work || n->work > b->work)) return n->work < b->work;
    return n->bytes < b->bytes || (n->bytes <= b->bytes && n->work < b->work);
}

// Program p is that without blocks; it is for a path of so many steps. 0 = out of memory.
static int tc__search_open(tc__search *s, const tc__program *p, uint32_t steps) {
    memset(s, 0, sizeof *s);
    s->steps = steps, s->held = TC__NEW_ARRAY(p->ctx, double, steps + 1);
    s->plans = 1, s->high = UINT32_MAX;
    if (!s->held || !tc__program_demand(p, &s->without)) return 0;
    s->best = s->without, s->most = s->without.bytes * p->memory_budget / 100;
    return tc__program_held(p, s->held, steps);
}

// No division suffices: fewer blocks of the best one.
static int tc__search_down(const tc__search *s, tc__blocks *k) {
    *k = s->at, k->again--;
    return s->at.again > 1;
}

static int tc__search_is_down(const tc__search *s) {
    return s->turns == TC__BUDGET_TURNS || (s->turns && s->turns > (int)s->ways);
}

// What to try next; 0 = nothing. Where the first division has not kept its promise, those of the others that promise the
// least bytes are next.
static int tc__search_next(const tc__search *s, tc__blocks *k) {
    double held = 0;
    for (uint32_t i = 0; i < s->steps && held <= 0; i++) held += s->held[i];
    memset(k, 0, sizeof *k);
    if (s->done || held <= 0 || s->plans == TC__BUDGET_PLANS ||
        tc__search_fits(s, &s->without))
        return 0;
    if (tc__search_is_down(s)) return tc__search_down(s, k);
    k->held = s->held, k->steps = s->steps, k->peak = s->without.bytes;
    k->most = s->turns ? 0 : s->most, k->except = s->first;
    k->way = s->turns ? (uint32_t)s->turns - 1 : 0;
    if (s->high < UINT32_MAX)
        k->again = s->low + (s->high - s->low) / 2;
    else if (s->low)
        k->again = s->blocks;
    return 1;
}

// A program with blocks k takes n, or could not be made: NULL. Returns whether it is the best so far.
static int tc__search_judge(tc__search *s, const tc__blocks *k, const tc__demand *n) {
    int fits = n && tc__search_fits(s, n), better = n && tc__search_is_better(s, n);
    s->plans++;
    s->done = !k->ways || (tc__search_is_down(s) && !better);
    if (better) s->best = *n, s->at = *k;
    if (s->done || tc__search_is_down(s)) return better;
    s->blocks = k->blocks, s->ways = k->ways;
    if (fits) s->high = k->again;
    if (!fits) s->low = k->again;
    if (s->high < UINT32_MAX) s->done = s->high - s->low < 2;
    if (s->high < UINT32_MAX || s->low < s->blocks) return better;
    if (!s->turns++) s->first = k->parts;
    s->low = 0;
    return better;
}
