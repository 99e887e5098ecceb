// Which nodes become roots (kernel/roots.c says what they are): what products lead to, and what must lie in memory for that.

// ---- what products lead to ----

// What is made of the value of a product, element by element, and of what was there before, can be stored by its
// epilogue. Several kernels may want something of it: a gradient reads what gelu's slope is made of, which is three
// values. Nodes that only lead to others of the same product are not stored then, but those that leave it, here the
// slope. Training a GPT's feed-forward layer so stores and reads a third less (gelu_tanh, f32). Where one is wider than
// the product, that is stored: attention's gradient wants two values in f32 of a product in halves.
enum {
    TC__WAY_LEAVES = 1, // it is an output, or read by what is not made of the product alone
    TC__WAY_SHARES = 2, // nodes that do not leave are read several times on the way to it
    TC__WAY_PLAIN =
        4, // made of inputs alone, element by element: it can be there at any time
    TC__WAY_DEAR = 8,    //   and some op of it is a function
    TC__WAY_PRODUCT = 16 // made of a contraction element by element, and perhaps moved
};

enum {
    TC__WAY_FUNCTION = 4,      // what such an op costs at least,
    TC__SPREAD_LEAST = 1 << 16 // and elements that are worth a kernel for it
};

// 1 + the last contraction that n is made of element by element, where all else was there before.
static uint32_t tc__made_of(const tc__schedule *s, const tc__node *n) {
    uint32_t last = 0;
    if (tc__is_kind(n, TC__KIND_CONTRACT)) return n->id + 1;
    if (!tc__is_alu(n) && n->op != TC_OP_RESHAPE) return 0;
    for (uint32_t k = 0; k < n->n_in; k++)
        if (s->made_of[n->in[k]] > last) last = s->made_of[n->in[k]];
    for (uint32_t k = 0; k < n->n_in && last; k++) {
        tc__origin o = tc__origin_of(s, n->in[k]);
        int before = n->in[k] < last || s->made_of[n->in[k]] == last ||
                     s->way[n->in[k]] & TC__WAY_PLAIN;
        if (!before && tc__origin_is_computed(&o)) return 0;
    }
    return last;
}

// Whether it is made of a product, is none itself, and leads only to others of it.
static int tc__is_on_the_way(const tc__schedule *s, uint32_t id) {
    return s->made_of[id] && s->made_of[id] != id + 1 && !(s->way[id] & TC__WAY_LEAVES);
}

// Whether n is stored, so that nothing on its way is.
static int tc__is_leaving(const tc__schedule *s, const tc__node *n) {
    if (!tc__is_alu(n) || (s->way[n->id] & (TC__WAY_LEAVES | TC__WAY_SHARES)) !=
                              (TC__WAY_LEAVES | TC__WAY_SHARES))
        return 0;
    const tc__node *product = s->g->node.at[s->made_of[n->id] - 1];
    return tc__dtypes[n->dtype].bytes <= tc__dtypes[product->dtype].bytes;
}

static int tc__is_made_of_inputs(const tc__schedule *s, const tc__node *n) {
    int plain =
        tc__is_alu(n) || tc__is_kind(n, TC__KIND_MOVE) || tc__is_kind(n, TC__KIND_CAST);
    if (tc__is_kind(n, TC__KIND_SOURCE)) return n->op != TC_OP_RANDOM && !n->n_in;
    for (uint32_t k = 0; k < n->n_in && plain; k++)
        plain = (s->way[n->in[k]] & TC__WAY_PLAIN) != 0;
    return plain && !s->forced[n->id];
}

static uint8_t tc__plain_way(const tc__schedule *s, const tc__node *n) {
    int dear = tc__is_alu(n) && tc__ops[n->op].cost >= TC__WAY_FUNCTION;
    for (uint32_t k = 0; k < n->n_in; k++) dear |= s->way[n->in[k]] & TC__WAY_DEAR;
    return dear ? TC__WAY_PLAIN | TC__WAY_DEAR : TC__WAY_PLAIN;
}

static int tc__is_made_of_product(const tc__schedule *s, const tc__node *n) {
    int of = 0;
    if (tc__is_kind(n, TC__KIND_CONTRACT)) return 1;
    if (!tc__is_alu(n) && n->op != TC_OP_RESHAPE && n->op != TC_OP_PERMUTE) return 0;
    for (uint32_t k = 0; k < n->n_in; k++) of |= s->way[n->in[k]] & TC__WAY_PRODUCT;
    return of;
}

static void tc__follow_products(tc__schedule *s, const uint8_t *output) {
    size_t n = s->g->node.count;
    for (size_t i = 0; i < n; i++) {
        const tc__node *x = s->g->node.at[i];
        if (tc__is_made_of_inputs(s, x)) s->way[i] |= tc__plain_way(s, x);
        if (tc__is_made_of_product(s, x)) s->way[i] |= TC__WAY_PRODUCT;
        s->made_of[i] = s->live[i] ? tc__made_of(s, x) : 0;
        if (output[i]) s->way[i] |= TC__WAY_LEAVES;
        for (uint32_t k = 0; k < x->n_in && s->live[i]; k++)
            if (s->made_of[x->in[k]] != s->made_of[i]) s->way[x->in[k]] |= TC__WAY_LEAVES;
    }
    for (size_t i = 0; i < n; i++) {
        const tc__node *x = s->g->node.at[i];
        for (uint32_t k = 0; k < x->n_in && s->made_of[i]; k++) {
            uint32_t a = x->in[k];
            int shared = s->users[a] > 1 || s->way[a] & TC__WAY_SHARES;
            if (s->made_of[a] == s->made_of[i] && tc__is_on_the_way(s, a) && shared)
                s->way[i] |= TC__WAY_SHARES;
        }
    }
}

// What is made of a product that nobody else reads, and then padded, is stored by its epilogue: no kernel has the places of both, and
// the product itself has as many bytes or more (a ResNet's stem, of halves: 206 MB for a batch of 64 instead of 103).
static void tc__force_padded(tc__schedule *s) {
    for (size_t i = 0; i < s->g->node.count; i++) {
        const tc__node *n = s->g->node.at[i];
        if (!s->live[i] || n->op != TC_OP_PAD || tc__fuse_of(s, n) == TC__FUSE_NOTHING)
            continue;
        const tc__node *a = tc__operand(s->g, n, 0);
        while (a->op == TC_OP_RESHAPE || a->op == TC_OP_PERMUTE || a->op == TC_OP_PAD)
            a = tc__operand(s->g, a, 0);
        if (!tc__is_alu(a) || !s->made_of[a->id]) continue;
        const tc__node *product = s->g->node.at[s->made_of[a->id] - 1];
        int alone = s->users[product->id] == 1 && !(s->way[product->id] & TC__WAY_LEAVES);
        if (alone && tc__dtypes[a->dtype].bytes <= tc__dtypes[product->dtype].bytes)
            s->forced[a->id] = 1;
    }
}

// A device's epilogue would compute a function of each channel once for each element of it: it is there before, in a kernel of
// few elements (a batch norm's scale; ResNet-50's epilogues took up to five times as long).
static void tc__force_spread(tc__schedule *s) {
    for (size_t i = 0; i < s->g->node.count; i++) {
        const tc__node *n = s->g->node.at[i];
        if (!s->live[i] || !n->device || !tc__is_alu(n)) continue;
        tc__ix many = tc__node_numel(s->g, n);
        if (!(s->way[i] & TC__WAY_PRODUCT) || tc__ix_lo(s->g->ix, many) < TC__SPREAD_LEAST)
            continue;
        for (uint32_t k = 0; k < n->n_in; k++) {
            const tc__node *a = tc__operand(s->g, n, k);
            tc__origin o = tc__origin_of(s, a->id);
            tc__ix few = tc__node_numel(s->g, o.first);
            int same = few == tc__node_numel(s->g, o.least);
            if (s->way[o.first->id] & TC__WAY_DEAR && tc__is_alu(o.first) &&
                tc__ix_is_const(few) && tc__ix_value(few) > 1 &&
                tc__ix_value(few) <= tc__ix_lo(s->g->ix, many) / TC__SPREAD)
                s->forced[same ? o.least->id : o.first->id] = 1;
        }
    }
}

// ---- what is asked of a row ----

// What n is made of element by element, as far down as its dimensions are the same.
static const tc__node *tc__source_of(const tc__schedule *s, const tc__node *n) {
    for (const tc__node *next = n; next;) {
        n = next, next = NULL;
        for (uint32_t k = 0; k < n->n_in && tc__is_alu(n) && !next; k++) {
            const tc__node *a = tc__operand(s->g, n, k);
            if (a->op != TC_OP_EXPAND && tc__dims_equal(a, n->rank, n->dims)) next = a;
        }
    }
    return n;
}

// Whether rows of n along dimension d are reduced, too.
static int tc__rows_are_reduced(const tc__schedule *s, const tc__node *n, int d) {
    const tc__node *source = tc__source_of(s, n);
    for (size_t i = 0; i < s->g->node.count; i++) {
        const tc__node *r = s->g->node.at[i];
        if (!s->live[i] || !tc__is_kind(r, TC__KIND_REDUCE)) continue;
        if (r->attr[TC__REDUCE_DIMS] == (int64_t)1 << d &&
            tc__source_of(s, tc__operand(s->g, r, 0)) == source)
            return 1;
    }
    return 0;
}

// The last that is made of n alone of as many elements, before a reduction that it is for; NULL = it is for something else.
static const tc__node *tc__last_of_row(const tc__schedule *s, const tc__node *n) {
    const tc__node *last = NULL, *at = n;
    for (size_t i = n->id + 1; i < s->g->node.count; i++) {
        const tc__node *u = s->g->node.at[i];
        if (!s->live[i] || !tc__has_operand(u, at->id)) continue;
        if (tc__is_kind(u, TC__KIND_REDUCE)) return last;
        int goes_on = s->users[at->id] == 1 && (tc__is_alu(u) || u->op == TC_OP_RESHAPE) &&
                      tc__node_numel(s->g, u) == tc__node_numel(s->g, n);
        if (!goes_on) return NULL;
        at = u;
        if (tc__is_alu(u)) last = u;
    }
    return NULL;
}

// What is made of one element of each row, beside sums along these rows, is made with them: the loss of a row of logits.
// So logits are not asked again by who adds the losses up; their gradient may take their place by then.
static void tc__force_of_rows(tc__schedule *s) {
    for (size_t i = 0; i < s->g->node.count; i++) {
        const tc__node *n = s->g->node.at[i];
        if (!s->live[i] || !tc__is_kind(n, TC__KIND_GATHER)) continue;
        int d = (int)n->attr[TC__GATHER_DIM];
        const tc__node *last =
            d >= 0 && tc__ix_equals(n->dims[d], 1) ? tc__last_of_row(s, n) : NULL;
        if (last && tc__rows_are_reduced(s, tc__operand(s->g, n, 0), d))
            s->forced[last->id] = 1;
    }
}

// Ops of the expression of n, where it is not too long: else the longest operands become roots. Their
// values cross from kernel to kernel, and what is made of one user's expression has one value at any
// place where it can be cut. *again: the first node that became a root when it was passed already.
static uint32_t tc__length_of(tc__schedule *s, const tc__node *n, uint32_t *again) {
    uint32_t sum = tc__ops[n->op].cost > 0;
    if (s->inside[n->id]) return 0;
    for (uint32_t k = 0; k < n->n_in; k++) sum += s->length[n->in[k]];
    while (sum > TC__LENGTH_MOST) {
        uint32_t longest = n->in[0];
        for (uint32_t k = 1; k < n->n_in; k++)
            if (s->length[n->in[k]] > s->length[longest]) longest = n->in[k];
        const tc__node *o = tc__origin_of(s, longest).least;
        for (uint32_t k = 0; k < n->n_in; k++)
            if (n->in[k] == longest) sum -= s->length[longest];
        s->length[longest] = 0;
        if (!s->forced[o->id] && o->id < *again) *again = o->id;
        s->forced[o->id] = 1;
    }
    return sum;
}

// Of nodes first to end: none depends on a later one.
static int tc__find_roots_once(tc__schedule *s, const uint8_t *output, uint32_t first,
                               size_t end, uint32_t *again) {
    *again = UINT32_MAX;
    while (s->root.count && s->root.at[s->root.count - 1].node >= first) s->root.count--;
    for (size_t i = first; i < end; i++) s->root_of[i] = TC__NONE;
    for (uint32_t i = first; i < end; i++) {
        const tc__node *n = s->g->node.at[i];
        s->product[i] = 0, s->cost[i] = tc__cost_of(s, n), s->length[i] = 0;
        s->loads[i] = tc__loads_of(s, n);
        if (!s->live[i]) continue;
        uint32_t length = tc__length_of(s, n, again);
        s->product[i] = (uint8_t)tc__is_of_product(s, n);
        int whole = tc__is_kind(n, TC__KIND_REDUCE) || tc__is_kind(n, TC__KIND_CONTRACT);
        int dear = (tc__is_alu(n) || n->op == TC_OP_RANDOM) && s->users[i] > 1 &&
                   !s->redraw[i] && !s->inside[i] &&
                   (s->cost[i] > TC__CHEAP || s->product[i] || tc__is_read_often(s, n)) &&
                   !tc__is_on_the_way(s, i);
        dear |= tc__is_leaving(s, n);
        int alone = s->apart && tc__is_computed(n);
        int root = whole || dear || alone || s->forced[i] || output[i];
        if (s->redraw[i]) s->cost[i] = 0; // as if it were loaded
        if (!root) s->length[i] = length;
        if (!root) continue;
        if (!tc__add_root(s, i, output[i])) return 0;
        if (!tc__is_kind(n, TC__KIND_CONTRACT)) s->product[i] = 0;
        if (dear) s->cost[i] = 0;
        s->loads[i] = tc__loads_itself(n);
    }
    return 1;
}

// From node *first on, which becomes an earlier one where roots are found before it.
static int tc__find_roots(tc__schedule *s, const uint8_t *output, uint32_t *first,
                          size_t end) {
    uint32_t again = *first;
    int ok = 1;
    while (ok && again != UINT32_MAX) {
        if (again < *first) *first = again;
        ok = tc__find_roots_once(s, output, again, end, &again);
    }
    return ok;
}
