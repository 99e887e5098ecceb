// Checkpoints that nobody wrote: blocks of the forward pass that are computed again for option memory_budget. Input: a
// graph, what is derived, what a program of it without blocks keeps for gradients (exec/budget.c), the user's
// checkpoints. Output: those, and the blocks around them and between.
//
// The nodes, in the order of the program, are cut into blocks that keep about as much, each where the fewest bytes cross,
// and between calls of the user: rules of derivatives know convolutions and pools by all of their nodes.
// A block that is computed again keeps what later ones read of it, instead of all that it has to keep. Blocks are taken
// from the front, whose values would wait longest; never the last one, whose values are there when they are needed.
// A loop is a block of its own that is never computed again: what its turns compute is, by the loop that goes back
// (graph/derive_loop.c), and its carries are kept.
//
// What that saves is only promised here: it says which divisions are tried first. Plans of whole programs tell which
// of them is taken.

enum {
    TC__BUDGET_BLOCKS = 32,
    TC__BUDGET_WAYS = 9
}; // 32, then three quarters of them, ... 2

// What is asked of a builder, and what it tells. Zero: no blocks.
typedef struct tc__blocks {
    const double *held; // by step of the path: bytes that are kept of it for gradients
    uint32_t steps;
    double peak, most; // bytes of intermediates without blocks, and those that may be
    uint32_t way;      // which division; 0 = the one that promises most
    int except;        //   without the one for so many parts; 0 = of all
    uint32_t
        again; // of its blocks, from the front, 0 = as many as promise to do; told: how many were
    int parts;       // told: for how many the division was cut,
    uint32_t blocks; //   how many blocks could be computed again,
    uint32_t ways;   //   and how many divisions there are
} tc__blocks;

// One way to divide.
typedef struct tc__division {
    int parts;       // that it was cut for
    uint32_t blocks; // that may be computed again,
    uint32_t again;  //   and so many of them promise the
    double peak;     //   bytes of intermediates
    double work;     //   for operations more
} tc__division;

typedef struct tc__budget {
    tc_ctx *ctx;
    const tc__graph *g;
    const tc__visit *visit;
    tc__ixenv env;
    uint32_t n;    // nodes up to what is derived
    uint8_t *need; // by node: what is derived depends on it
    uint8_t *
        inside; // by node: a checkpoint of the user's, or a loop, has it and the one before it
    uint8_t *looped; // by node: it is of a loop, or stands between such
    uint32_t *last;  // by node: the last that needs its value, through movement and casts
    double
        *held; // by node: bytes that are kept of its step; the step's first node has them
    double *crossing; // by node: bytes of values before it that it or a later one needs
    double total;     // bytes that are kept
    TC__VEC(uint32_t) end; // of the blocks
} tc__budget;

// Operations that a node is, for the sizes of a run: elements, as often as its op costs; of reductions and opaque ops
// those of what they are made of.
static double tc__node_work(const tc__graph *g, const tc__node *n, const tc__ixenv *env) {
    tc__kind k = tc__ops[n->op].kind;
    int wide = k == TC__KIND_REDUCE || k == TC__KIND_OPAQUE;
    double cost = tc__ops[n->op].cost ? tc__ops[n->op].cost : 1, all = 0;
    if ((k == TC__KIND_SOURCE && n->op != TC_OP_RANDOM) || k == TC__KIND_MOVE) return 0;
    if (k == TC__KIND_CONTRACT) {
        const tc__node *a = tc__operand(g, n, 0);
        cost = 2 * (double)tc__ix_eval(g->ix, a->dims[a->rank - 1], env);
    }
    for (uint32_t i = 0; wide && i < n->n_in; i++)
        all += (double)tc__ix_eval(g->ix, tc__node_numel(g, tc__operand(g, n, i)), env);
    if (!wide) all = (double)tc__ix_eval(g->ix, tc__node_numel(g, n), env);
    return cost * all;
}

static void tc__budget_close(tc__budget *b) {
    tc_ctx *c = b->ctx;
    if (b->need) TC__FREE_ARRAY(c, b->need, b->n);
    if (b->inside) TC__FREE_ARRAY(c, b->inside, b->n);
    if (b->looped) TC__FREE_ARRAY(c, b->looped, b->n);
    if (b->last) TC__FREE_ARRAY(c, b->last, b->n);
    if (b->held) TC__FREE_ARRAY(c, b->held, b->n);
    if (b->crossing) TC__FREE_ARRAY(c, b->crossing, b->n + 1);
    TC__VEC_FREE(c, b->end);
}

static int tc__budget_moves(const tc__node *n) {
    tc__kind k = tc__ops[n->op].kind;
    return k == TC__KIND_MOVE || k == TC__KIND_CAST;
}

// Whether it is a value that may have to be in memory; what it is by movement and casts is no other one.
static int tc__budget_counts(const tc__budget *b, const tc__node *n) {
    int source = tc__ops[n->op].kind == TC__KIND_SOURCE && n->op != TC_OP_RANDOM;
    return b->need[n->id] && !source && !tc__budget_moves(n);
}

static double tc__budget_bytes(const tc__budget *b, uint32_t id) {
    const tc__node *n = b->g->node.at[id];
    return (double)tc__ix_eval(b->g->ix, tc__node_numel(b->g, n), &b->env) *
           (double)tc__dtypes[n->dtype].bytes;
}

// Fills b->need, last and crossing.
static void tc__budget_look(tc__budget *b) {
    b->need[b->n - 1] = 1;
    for (uint32_t i = b->n; i-- > 0;) {
        const tc__node *n = b->g->node.at[i];
        if (!b->last[i]) b->last[i] = i;
        for (uint32_t k = 0; k < n->n_in && b->need[i]; k++) {
            uint32_t at = tc__budget_moves(n) ? b->last[i] : i;
            b->need[n->in[k]] = 1;
            if (at > b->last[n->in[k]]) b->last[n->in[k]] = at;
        }
    }
    for (uint32_t i = 0; i < b->n; i++) {
        if (!tc__budget_counts(b, b->g->node.at[i])) continue;
        b->crossing[i + 1] += tc__budget_bytes(b, i);
        b->crossing[b->last[i] + 1] -= tc__budget_bytes(b, i);
    }
    for (uint32_t i = 1; i <= b->n; i++) b->crossing[i] += b->crossing[i - 1];
}

// Fills b->held. 0 = out of memory.
static int tc__budget_hold(tc__budget *b, const tc__blocks *k) {
    uint8_t *met = TC__NEW_ARRAY(b->ctx, uint8_t, k->steps + 1);
    for (uint32_t i = 0; met && i < b->n; i++) {
        const struct tc__step *s = b->g->node.at[i]->from;
        if (!s || s->position >= k->steps || met[s->position]) continue;
        met[s->position] = 1, b->held[i] = k->held[s->position];
        b->total += b->held[i];
    }
    if (met) TC__FREE_ARRAY(b->ctx, met, k->steps + 1);
    return met != NULL;
}

// Whether two steps are of one call. A composite op's whole stands between it and the next one at the same place.
static int tc__budget_is_call(const tc__budget *b, const tc__step *s, const tc__step *t) {
    if (!s || !t || s == t) return s == t && s;
    if (!s->call || !t->call || strcmp(s->call, t->call)) return 0;
    if (s->site.file != t->site.file || s->site.line != t->site.line) return 0;
    for (uint32_t i = s->position + 1; i < t->position; i++)
        if (tc__is_composite((tc__op)b->visit->path.at[i]->op)) return 0;
    return 1;
}

// Fills b->looped: with what is in a loop, or is left of one. 0 = out of memory.
static int tc__budget_loops(tc__budget *b) {
    const tc__graph *g = b->g;
    uint32_t *in = tc__loops_of(g);
    for (uint32_t i = 0; in && i < b->n; i++)
        b->looped[i] = (uint8_t)(in[i] || tc__ops[g->node.at[i]->op].kind == TC__KIND_LOOP);
    for (size_t k = 0; in && k < g->loop.count; k++)
        for (uint32_t i = g->loop.at[k].first; i < g->loop.at[k].last && i < b->n; i++)
            b->looped[i] = 1;
    if (in) TC__FREE_ARRAY(g->ctx, in, g->node.count);
    return in != NULL;
}

// Whether a block has to begin with node i: a loop does, or what is behind one.
static int tc__budget_begins(const tc__budget *b, uint32_t i) {
    return i < b->n && b->looped[i] != b->looped[i - 1];
}

// Whether block k of a division is no loop.
static int tc__budget_repeats(const tc__budget *b, size_t k) {
    return !b->looped[b->end.at[k] - 1];
}

// Fills b->inside.
static void tc__budget_join(tc__budget *b, const tc__checkpoint *own, size_t n) {
    for (uint32_t i = 1; i < b->n; i++)
        b->inside[i] = (uint8_t)tc__budget_is_call(b, b->g->node.at[i - 1]->from,
                                                   b->g->node.at[i]->from);
    for (uint32_t i = 1; i < b->n; i++)
        if (b->looped[i] || b->looped[i - 1]) b->inside[i] = !tc__budget_begins(b, i);
    for (size_t i = 0; i < n; i++)
        for (uint32_t k = own[i].first + 1; k < own[i].end && k < b->n; k++)
            b->inside[k] = 1;
}

// 0 = out of memory.
static int tc__budget_open(tc__budget *b, const tc__graph *g, const tc__node *y,
                           const tc__visit *v, const tc__blocks *blocks,
                           const tc__checkpoint *own, size_t n) {
    memset(b, 0, sizeof *b);
    b->ctx = g->ctx, b->g = g, b->visit = v, b->n = y->id + 1, b->env.sym = v->size.at;
    b->need = TC__NEW_ARRAY(g->ctx, uint8_t, b->n);
    b->inside = TC__NEW_ARRAY(g->ctx, uint8_t, b->n);
    b->looped = TC__NEW_ARRAY(g->ctx, uint8_t, b->n);
    b->last = TC__NEW_ARRAY(g->ctx, uint32_t, b->n);
    b->held = TC__NEW_ARRAY(g->ctx, double, b->n);
    b->crossing = TC__NEW_ARRAY(g->ctx, double, b->n + 1);
    if (!b->need || !b->inside || !b->looped || !b->last || !b->held || !b->crossing)
        return 0;
    if (g->loop.count && !tc__budget_loops(b)) return 0;
    tc__budget_join(b, own, n);
    tc__budget_look(b);
    return tc__budget_hold(b, blocks);
}

// Cuts where the fewest bytes cross, in the second half of blocks that would keep `size`. 0 = out of memory.
static int tc__budget_cut(tc__budget *b, double size) {
    b->end.count = 0;
    for (uint32_t first = 0, end; first < b->n; first = end) {
        double kept = 0;
        uint32_t i = first;
        for (end = b->n; i < b->n && kept <= size; i++) {
            kept += b->held[i];
            if (kept <= size / 2 || i + 1 >= b->n || b->inside[i + 1]) continue;
            if (end == b->n || b->crossing[i + 1] < b->crossing[end]) end = i + 1;
        }
        if (i == b->n && kept <= size) end = b->n;
        for (uint32_t k = first + 1; k < end; k++)
            if (tc__budget_begins(b, k)) end = k;
        if (!TC__PUSH(b->ctx, b->end, end)) return 0;
    }
    return 1;
}

// What a division promises. While a block is computed again the ends of those before it are there, and all of its own;
// at the end of the forward pass the ends of those that will be, and all of the others.
static void tc__budget_promise(const tc__budget *b, const tc__blocks *blocks,
                               tc__division *d) {
    double fixed = blocks->peak - b->total, kept = b->total, ends = 0, again = 0, work = 0;
    uint32_t i = 0;
    d->blocks = (uint32_t)b->end.count - 1, d->again = 0, d->peak = blocks->peak;
    d->work = 0;
    for (uint32_t k = 0; k < d->blocks && d->peak > blocks->most; k++) {
        double own = 0, end = 0;
        int repeats = tc__budget_repeats(b, k);
        for (; i < b->end.at[k]; i++) {
            const tc__node *n = b->g->node.at[i];
            own += b->held[i];
            if (repeats && b->need[i]) work += tc__node_work(b->g, n, &b->env);
            if (tc__budget_counts(b, n) && b->last[i] >= b->end.at[k])
                end += tc__budget_bytes(b, i);
        }
        if (!repeats) continue;
        if (ends + own > again) again = ends + own;
        kept -= own, ends += end;
        double peak = fixed + (kept + ends > again ? kept + ends : again);
        if (peak < d->peak) d->peak = peak, d->again = k + 1, d->work = work;
    }
}

// Whether x promises more than y: what suffices, with the least work; else the least bytes.
static int tc__division_is_better(const tc__division *x, const tc__division *y,
                                  double most) {
    int a = x->peak <= most, b = y->peak <= most;
    return a != b ? a : a ? x->work < y->work : x->peak < y->peak;
}

// All divisions that promise something, the one that promises most first; gives how many, *ok = 0: out of memory.
static uint32_t tc__budget_divide(tc__budget *b, const tc__blocks *blocks,
                                  tc__division all[TC__BUDGET_WAYS], int *ok) {
    uint32_t ways = 0;
    for (int n = TC__BUDGET_BLOCKS; n > 1 && *ok && b->total > 0; n = n * 3 / 4) {
        tc__division d;
        if (n == blocks->except) continue;
        d.parts = n, *ok = tc__budget_cut(b, b->total / n);
        if (!*ok) break;
        tc__budget_promise(b, blocks, &d);
        uint32_t at = ways, same = 0;
        for (uint32_t i = 0; i < ways; i++)
            same |= all[i].blocks == d.blocks && all[i].again == d.again &&
                    all[i].peak >= d.peak && all[i].peak <= d.peak;
        if (!d.again || same || ways == TC__BUDGET_WAYS) continue;
        for (; at && tc__division_is_better(&d, &all[at - 1], blocks->most); at--)
            all[at] = all[at - 1];
        all[at] = d, ways++;
    }
    return ways;
}

// Chooses the blocks; gives how many are computed again, *ok = 0: out of memory. The first of several derivations tells
// how many.
static size_t tc__budget_choose(tc__budget *b, tc__blocks *blocks, int *ok) {
    tc__division all[TC__BUDGET_WAYS];
    uint32_t ways = tc__budget_divide(b, blocks, all, ok);
    if (!*ok || !ways) return 0;
    const tc__division *d = &all[blocks->way < ways ? blocks->way : ways - 1];
    *ok = tc__budget_cut(b, b->total / d->parts);
    if (!blocks->again) blocks->again = d->again;
    blocks->parts = d->parts;
    if (d->blocks > blocks->blocks) blocks->blocks = d->blocks;
    if (ways > blocks->ways) blocks->ways = ways;
    return blocks->again < d->blocks ? blocks->again : d->blocks;
}

typedef TC__VEC(tc__checkpoint) tc__checkpoints;

// The chosen blocks into *all, then the user's own checkpoints, which are inside of them. 0 = out of memory.
static int tc__budget_put(const tc__budget *b, size_t blocks, const tc__checkpoint *own,
                          size_t n, tc__checkpoints *all) {
    for (size_t i = 0; i < blocks; i++) {
        tc__checkpoint k;
        k.first = i ? b->end.at[i - 1] : 0, k.end = b->end.at[i], k.outer = 0;
        if (tc__budget_repeats(b, i) && !TC__PUSH(b->ctx, *all, k)) return 0;
    }
    uint32_t put = (uint32_t)all->count;
    for (size_t i = 0; i < n; i++) {
        tc__checkpoint k = own[i];
        uint32_t at = 0;
        while (at < put && all->at[at].end <= k.first) at++;
        int within = at < put && all->at[at].first <= k.first;
        k.outer = k.outer ? k.outer + put : within ? at + 1 : 0;
        if (!TC__PUSH(b->ctx, *all, k)) return 0;
    }
    return 1;
}

// All checkpoints for the derivatives of y on the path of a visit; blocks NULL = the user's own. 0 = out of memory.
static int tc__budget_checkpoints(const tc__graph *g, const tc__node *y, const tc__visit *v,
                                  tc__blocks *blocks, const tc__checkpoint *own, size_t n,
                                  tc__checkpoints *all) {
    tc__budget b;
    size_t again = 0;
    int ok = 1, wanted = blocks && blocks->held != NULL;
    all->count = 0;
    if (wanted) ok = tc__budget_open(&b, g, y, v, blocks, own, n);
    if (wanted && ok) again = tc__budget_choose(&b, blocks, &ok);
    ok = ok && (!wanted || tc__budget_put(&b, again, own, n, all));
    for (size_t i = 0; ok && !wanted && i < n; i++) ok = TC__PUSH(g->ctx, *all, own[i]);
    if (wanted) tc__budget_close(&b);
    return ok;
}
