// Checkpoints that nobody wrote: option memory_budget, the share of what gradients would keep that may be kept. Input: a
// graph, what is derived, the user's checkpoints. Output: those, and others around them and between.
//
// The nodes, in the order of the program, are cut into blocks, each where the fewest bytes cross. A block that is
// computed again keeps what later ones read of it, instead of all that its products and reductions make. Blocks are
// taken from the front, whose values would wait longest, until what is kept is within the budget. Small blocks are tried
// first, since one at a time has its values in memory again; where no size suffices, the one that keeps least is taken.

enum { TC__BUDGET_BLOCKS = 32 }; // tried first; then three quarters of them

typedef struct tc__budget {
    tc_ctx *ctx;
    const tc__graph *g;
    uint32_t n;       // nodes up to what is derived
    uint8_t *need;    // by node: what is derived depends on it
    uint8_t *stored;  // by node: it would be kept
    uint8_t *inside;  // by node: a checkpoint of the user's has it and the one before it
    uint32_t *last;   // by node: the last that needs its value, through movement and casts
    double *crossing; // by node: bytes of values before it that it or a later one needs
    double total;     // bytes of what is stored
    TC__VEC(uint32_t) end; // of the blocks
} tc__budget;

static void tc__budget_close(tc__budget *b) {
    tc_ctx *c = b->ctx;
    if (b->need) TC__FREE_ARRAY(c, b->need, b->n);
    if (b->stored) TC__FREE_ARRAY(c, b->stored, b->n);
    if (b->inside) TC__FREE_ARRAY(c, b->inside, b->n);
    if (b->last) TC__FREE_ARRAY(c, b->last, b->n);
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
    return (double)tc__ix_hi(b->g->ix, tc__node_numel(b->g, n)) *
           (double)tc__dtypes[n->dtype].bytes;
}

// What products, reductions and opaque ops make is kept, and what they are made of.
static void tc__budget_stores(tc__budget *b, const tc__node *n) {
    tc__kind k = tc__ops[n->op].kind;
    int whole = k == TC__KIND_CONTRACT || k == TC__KIND_OPAQUE;
    if (whole || k == TC__KIND_REDUCE || n->op == TC_OP_RANDOM) b->stored[n->id] = 1;
    for (uint32_t i = 0; i < n->n_in && whole; i++) {
        const tc__node *a = tc__operand(b->g, n, i);
        while (tc__budget_moves(a)) a = tc__operand(b->g, a, 0);
        if (tc__budget_counts(b, a)) b->stored[a->id] = 1;
    }
}

// Fills b->need, stored, last and crossing.
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
    for (uint32_t i = 0; i < b->n; i++)
        if (b->need[i]) tc__budget_stores(b, b->g->node.at[i]);
    for (uint32_t i = 0; i < b->n; i++)
        if (b->stored[i]) b->total += tc__budget_bytes(b, i);
    for (uint32_t i = 0; i < b->n; i++) {
        if (!tc__budget_counts(b, b->g->node.at[i])) continue;
        b->crossing[i + 1] += tc__budget_bytes(b, i);
        b->crossing[b->last[i] + 1] -= tc__budget_bytes(b, i);
    }
    for (uint32_t i = 1; i <= b->n; i++) b->crossing[i] += b->crossing[i - 1];
}

// 0 = out of memory.
static int tc__budget_open(tc__budget *b, const tc__graph *g, const tc__node *y,
                           const tc__checkpoint *own, size_t n) {
    memset(b, 0, sizeof *b);
    b->ctx = g->ctx, b->g = g, b->n = y->id + 1;
    b->need = TC__NEW_ARRAY(g->ctx, uint8_t, b->n);
    b->stored = TC__NEW_ARRAY(g->ctx, uint8_t, b->n);
    b->inside = TC__NEW_ARRAY(g->ctx, uint8_t, b->n);
    b->last = TC__NEW_ARRAY(g->ctx, uint32_t, b->n);
    b->crossing = TC__NEW_ARRAY(g->ctx, double, b->n + 1);
    if (!b->need || !b->stored || !b->inside || !b->last || !b->crossing) return 0;
    for (size_t i = 0; i < n; i++)
        for (uint32_t k = own[i].first + 1; k < own[i].end && k < b->n; k++)
            b->inside[k] = 1;
    tc__budget_look(b);
    return 1;
}

// Cuts where the fewest bytes cross, in the second half of blocks that would keep `size`. 0 = out of memory.
static int tc__budget_cut(tc__budget *b, double size) {
    b->end.count = 0;
    for (uint32_t first = 0, end; first < b->n; first = end) {
        double kept = 0;
        uint32_t i = first;
        for (end = b->n; i < b->n && kept <= size; i++) {
            if (b->stored[i]) kept += tc__budget_bytes(b, i);
            if (kept <= size / 2 || i + 1 >= b->n || b->inside[i + 1]) continue;
            if (end == b->n || b->crossing[i + 1] < b->crossing[end]) end = i + 1;
        }
        if (i == b->n && kept <= size) end = b->n;
        if (!TC__PUSH(b->ctx, b->end, end)) return 0;
    }
    return 1;
}

// How many blocks, from the front, have to be computed again to keep no more than `most`, or all but the last, whose
// values are there when they are needed; *kept = what is kept then.
static size_t tc__budget_blocks(const tc__budget *b, double most, double *kept) {
    uint32_t i = 0;
    size_t k = 0;
    *kept = b->total;
    for (; k + 1 < b->end.count && *kept > most; k++)
        for (; i < b->end.at[k]; i++) {
            if (b->stored[i]) *kept -= tc__budget_bytes(b, i);
            if (tc__budget_counts(b, b->g->node.at[i]) && b->last[i] >= b->end.at[k])
                *kept += tc__budget_bytes(b, i);
        }
    return k;
}

// Chooses the blocks; gives how many are computed again, *ok = 0: out of memory. *share = the percent that is kept then.
static size_t tc__budget_choose(tc__budget *b, int percent, int *share, int *ok) {
    double most = b->total * percent / 100, least = b->total, kept = b->total;
    int best = 0;
    for (int n = TC__BUDGET_BLOCKS; n > 1 && *ok && kept > most; n = n * 3 / 4) {
        *ok = tc__budget_cut(b, b->total / n);
        if (*ok) (void)tc__budget_blocks(b, most, &kept);
        if (kept < least) least = kept, best = n;
    }
    *ok = *ok && (!best || tc__budget_cut(b, b->total / best));
    size_t blocks = *ok && best ? tc__budget_blocks(b, most, &kept) : 0;
    *share = kept > most ? 1 + (int)(100 * kept / b->total) : percent;
    if (*share > 100) *share = 100;
    return blocks;
}

typedef TC__VEC(tc__checkpoint) tc__checkpoints;

// The chosen blocks into *all, then the user's own checkpoints, which are inside of them. 0 = out of memory.
static int tc__budget_put(const tc__budget *b, size_t blocks, const tc__checkpoint *own,
                          size_t n, tc__checkpoints *all) {
    for (size_t i = 0; i < blocks; i++) {
        tc__checkpoint k;
        k.first = i ? b->end.at[i - 1] : 0, k.end = b->end.at[i], k.outer = 0;
        if (!TC__PUSH(b->ctx, *all, k)) return 0;
    }
    for (size_t i = 0; i < n; i++) {
        tc__checkpoint k = own[i];
        size_t at = 0;
        while (at < blocks && b->end.at[at] <= k.first) at++;
        k.outer = k.outer ? k.outer + (uint32_t)blocks : at < blocks ? (uint32_t)at + 1 : 0;
        if (!TC__PUSH(b->ctx, *all, k)) return 0;
    }
    return 1;
}

// All checkpoints for the derivatives of y; percent 0 = the user's own. *share = the percent that is kept, more than
// `percent` where no blocks suffice, or there are none. 0 = out of memory.
static int tc__budget_checkpoints(const tc__graph *g, const tc__node *y, int percent,
                                  const tc__checkpoint *own, size_t n, tc__checkpoints *all,
                                  int *share) {
    tc__budget b;
    size_t blocks = 0;
    int ok = 1, wanted = percent > 0 && percent < 100 && !g->loop.count;
    all->count = 0, *share = percent && g->loop.count ? 100 : percent;
    if (wanted) ok = tc__budget_open(&b, g, y, own, n);
    if (wanted && ok) blocks = tc__budget_choose(&b, percent, share, &ok);
    ok = ok && (!wanted || tc__budget_put(&b, blocks, own, n, all));
    for (size_t i = 0; ok && !wanted && i < n; i++) ok = TC__PUSH(g->ctx, *all, own[i]);
    if (wanted) tc__budget_close(&b);
    return ok;
}
