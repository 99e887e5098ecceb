// TENSOR -> TENSOR passes: what can be said with fewer nodes, with the same bits.
// Input: a graph and its outputs. Output: a new graph, over the same index pool, and the
// outputs in it.
//
// Every pass walks the old nodes in order and makes the new ones; operands are new already
// when a rule looks at a node, so one walk is enough. Numerics are strict: x + 0 and x * 0
// are no rules (-0, NaN and infinity tell them apart), and arithmetic of constants is the
// interpreter's.

enum { TC__LIVE = 1, TC__LIVE_OUTPUT = 2 };

enum {
    TC__STENCIL_TAPS = 3,
    TC__WIDEN_MOST = 32
}; // a pad of more than this is not stored for the sake of a smaller one

typedef struct tc__rewrite {
    tc_ctx *ctx;
    const tc__graph *from;
    tc__graph *to;
    size_t nodes;     // of `from`
    uint8_t *live;    // by old id: TC__LIVE flags, 0 = no output needs it, it is dropped
    uint32_t *at;     // by old id: the new node that its users take
    uint32_t *output; // by old id: the new node that is it as an output
    int failed;       // no memory for what stands aside
} tc__rewrite;

// The prototype of old node n in the new graph, operands already new; `in` has room for
// them. What is made until the next one is for the same call.
static tc__node tc__rewrite_proto(const tc__rewrite *w, const tc__node *n, uint32_t *in) {
    tc__node m = *n;
    for (uint32_t i = 0; i < n->n_in; i++) in[i] = w->at[n->in[i]];
    m.in = in, w->to->from = n->from, w->to->device = n->device;
    return m;
}

// What a node becomes; NULL = it stays what it is.
typedef tc__node *(*tc__rule)(tc__graph *g, const tc__node *n);

static int tc__rewrite_each(tc__rewrite *w, tc__rule rule) {
    for (size_t i = 0; i < w->from->node.count; i++) {
        uint32_t in[TC__MAX_OPERANDS];
        if (!w->live[i]) continue;
        tc__node m = tc__rewrite_proto(w, w->from->node.at[i], in);
        tc__node *made = rule ? rule(w->to, &m) : NULL;
        if (!made) made = tc__node_cons(w->to, &m);
        if (!made) return 0;
        w->at[i] = w->output[i] = made->id;
    }
    return 1;
}

// ---- constants ----

// The one value of all elements of n, if it is a constant behind movement.
static int tc__splat_value(const tc__graph *g, const tc__node *n, tc__value *v) {
    while (n->op == TC_OP_RESHAPE || n->op == TC_OP_EXPAND || n->op == TC_OP_PERMUTE ||
           n->op == TC_OP_SLICE)
        n = tc__operand(g, n, 0);
    if (n->op != TC_OP_CONST) return 0;
    *v = tc__node_const(n);
    return 1;
}

// v in the sizes and dtype of n.
static tc__node *tc__make_splat(tc__graph *g, const tc__node *n, tc__value v) {
    return tc__make_expand(g, tc__make_const(g, n->dtype, v), n->rank, n->dims);
}

// The one value of all elements of n, whose operands have one each. The interpreter computes it, by the EXPR
// of the op: the bits are those that a kernel would give.
static int tc__folds(const tc__graph *g, const tc__node *n, tc__value *out) {
    tc__kind k = tc__ops[n->op].kind;
    tc__value v[3];
    int alu = k == TC__KIND_UNARY || k == TC__KIND_BINARY || k == TC__KIND_TERNARY;
    if (!alu && n->op != TC_OP_CAST) return 0;
    for (uint32_t i = 0; i < n->n_in; i++)
        if (!tc__splat_value(g, tc__operand(g, n, i), &v[i])) return 0;
    int from = tc__operand(g, n, n->n_in - 1)->dtype; // where: of what it chooses from
    if (alu)
        return tc__recorder_of(g->ctx)->hooks->evaluate((tc__op)n->op, from, v, n->n_in,
                                                        out);
    *out = tc__value_cast(v[0], from, n->dtype);
    return 1;
}

// op c d -> the constant it gives        cast c -> the constant
static tc__node *tc__rule_fold(tc__graph *g, const tc__node *n) {
    tc__value v;
    return tc__folds(g, n, &v) ? tc__make_splat(g, n, v) : NULL;
}

static int tc__wants_fold(const tc__graph *g, const tc__node *n) {
    tc__value v;
    return tc__folds(g, n, &v);
}

static int tc__pass_fold(tc__rewrite *w) { return tc__rewrite_each(w, tc__rule_fold); }

// ---- arithmetic ----

// Operand i is the constant `whole` everywhere; for floats with a positive sign.
static int tc__is_splat(const tc__graph *g, const tc__node *n, uint32_t i, int64_t whole) {
    tc__value v, want;
    const tc__node *a = tc__operand(g, n, i);
    if (!tc__splat_value(g, a, &v)) return 0;
    want.i = whole;
    if (tc__is_float(a->dtype)) want.f = (double)whole;
    return v.i == want.i;
}

// x * 1 -> x    1 * x -> x    x / 1 -> x    x - 0 -> x
// integers: x + 0 -> x    0 + x -> x
static tc__node *tc__rule_neutral(tc__graph *g, const tc__node *n) {
    int whole = !tc__is_float(n->dtype);
    if (n->op == TC_OP_MUL && tc__is_splat(g, n, 1, 1)) return tc__operand(g, n, 0);
    if (n->op == TC_OP_MUL && tc__is_splat(g, n, 0, 1)) return tc__operand(g, n, 1);
    if (n->op == TC_OP_DIV && tc__is_splat(g, n, 1, 1)) return tc__operand(g, n, 0);
    if (n->op == TC_OP_SUB && tc__is_splat(g, n, 1, 0)) return tc__operand(g, n, 0);
    if (n->op == TC_OP_ADD && whole && tc__is_splat(g, n, 1, 0))
        return tc__operand(g, n, 0);
    if (n->op == TC_OP_ADD && whole && tc__is_splat(g, n, 0, 0))
        return tc__operand(g, n, 1);
    return NULL;
}

// INVOL: f(f(x)) -> x    IDEM: f(f(x)) -> f(x), f(x, x) -> x
static tc__node *tc__rule_twice(tc__graph *g, const tc__node *n) {
    uint32_t flags = tc__ops[n->op].flags;
    tc__kind k = tc__ops[n->op].kind;
    if (k == TC__KIND_BINARY && (flags & TC__AL_IDEM) && n->in[0] == n->in[1])
        return tc__operand(g, n, 0);
    if (k != TC__KIND_UNARY || tc__operand(g, n, 0)->op != n->op) return NULL;
    if (flags & TC__AL_INVOL) return tc__operand(g, tc__operand(g, n, 0), 0);
    return flags & TC__AL_IDEM ? tc__operand(g, n, 0) : NULL;
}

// where(true, x, y) -> x    where(false, x, y) -> y    where(c, x, x) -> x
static tc__node *tc__rule_where(tc__graph *g, const tc__node *n) {
    tc__value v;
    if (n->op != TC_OP_WHERE) return NULL;
    if (n->in[1] == n->in[2]) return tc__operand(g, n, 1);
    if (!tc__splat_value(g, tc__operand(g, n, 0), &v)) return NULL;
    return tc__operand(g, n, v.i ? 1 : 2);
}

// cast(cast(x)) -> cast(x), where the inner cast loses nothing. Through a float, an integer
// would saturate on its way to a narrower one where it would wrap. A cast of a half to itself rounds.
static tc__node *tc__rule_cast(tc__graph *g, const tc__node *n) {
    if (n->op != TC_OP_CAST || tc__operand(g, n, 0)->op != TC_OP_CAST) return NULL;
    tc__node *middle = tc__operand(g, n, 0), *x = tc__operand(g, middle, 0);
    int detour =
        !tc__is_float(x->dtype) && tc__is_float(middle->dtype) && !tc__is_float(n->dtype);
    if (x->dtype == middle->dtype || !tc__holds(x->dtype, middle->dtype)) return NULL;
    if (detour && n->dtype != TC_BOOL && !tc__holds(x->dtype, n->dtype)) return NULL;
    return tc__make_cast(g, x, n->dtype);
}

// ---- movement ----

// reshape, permute, expand, slice of a constant -> the constant in the new sizes
static tc__node *tc__rule_move_splat(tc__graph *g, const tc__node *n) {
    tc__value v;
    if (tc__ops[n->op].kind != TC__KIND_MOVE || n->op == TC_OP_PAD || n->op == TC_OP_WINDOW)
        return NULL;
    return tc__splat_value(g, tc__operand(g, n, 0), &v) ? tc__make_splat(g, n, v) : NULL;
}

// reshape(reshape(x)) -> reshape(x)    permute(permute(x)) -> permute(x)
// expand(expand(x)) -> expand(x)       movement that moves nothing -> x       detach(x), wrt(x), centred(x) -> x
static tc__node *tc__rule_move(tc__graph *g, const tc__node *n) {
    if (tc__ops[n->op].kind != TC__KIND_MOVE) return NULL;
    tc__node *a = tc__operand(g, n, 0);
    if (n->op == TC_OP_RESHAPE) return tc__make_reshape(g, a, n->rank, n->dims);
    if (n->op == TC_OP_PERMUTE) return tc__make_permute(g, a, n->attr);
    if (n->op == TC_OP_DETACH || n->op == TC_OP_WRT || n->op == TC_OP_CENTRED) return a;
    if (n->op != TC_OP_EXPAND) return NULL;
    if (a->op == TC_OP_EXPAND) a = tc__operand(g, a, 0);
    return tc__make_expand(g, a, n->rank, n->dims);
}

// slice(slice(x)) of one dimension -> slice(x)
static tc__node *tc__rule_slice_slice(tc__graph *g, const tc__node *n, const tc__node *a) {
    if (a->op != TC_OP_SLICE || a->attr[TC__SLICE_DIM] != n->attr[TC__SLICE_DIM])
        return NULL;
    tc__ix start =
        tc__ix_add(g->ix, a->attr[TC__SLICE_START],
                   tc__ix_mul(g->ix, n->attr[TC__SLICE_START], a->attr[TC__SLICE_STEP]));
    return tc__make_slice(
        g, tc__operand(g, a, 0), n->attr[TC__SLICE_DIM], start, n->attr[TC__SLICE_COUNT],
        tc__ix_mul(g->ix, n->attr[TC__SLICE_STEP], a->attr[TC__SLICE_STEP]));
}

// slice(pad(x)) inside x -> slice(x)
static tc__node *tc__rule_slice_pad(tc__graph *g, const tc__node *n, const tc__node *a) {
    tc__ixpool *p = g->ix;
    if (a->op != TC_OP_PAD || a->attr[TC__PAD_DIM] != n->attr[TC__SLICE_DIM] ||
        !tc__ix_equals(a->attr[TC__PAD_DILATION], 1))
        return NULL;
    tc__node *x = tc__operand(g, a, 0);
    tc__ix first = tc__ix_sub(p, n->attr[TC__SLICE_START], a->attr[TC__PAD_LOW]);
    tc__ix reach = tc__ix_mul(p, tc__ix_sub(p, n->attr[TC__SLICE_COUNT], tc__ix_const(1)),
                              n->attr[TC__SLICE_STEP]);
    tc__ix last = tc__ix_add(p, first, reach);
    tc__ix end = tc__ix_sub(p, x->dims[n->attr[TC__SLICE_DIM]], tc__ix_const(1));
    if (tc__ix_lo(p, n->attr[TC__SLICE_COUNT]) < 1 || tc__ix_lo(p, first) < 0 ||
        tc__ix_lo(p, last) < 0)
        return NULL;
    if (tc__ix_lo(p, tc__ix_sub(p, end, first)) < 0 ||
        tc__ix_lo(p, tc__ix_sub(p, end, last)) < 0)
        return NULL;
    return tc__make_slice(g, x, n->attr[TC__SLICE_DIM], first, n->attr[TC__SLICE_COUNT],
                          n->attr[TC__SLICE_STEP]);
}

// slice(expand(x)) of a repeated dimension -> expand(x)
static tc__node *tc__rule_slice_expand(tc__graph *g, const tc__node *n, const tc__node *a) {
    if (a->op != TC_OP_EXPAND) return NULL;
    tc__node *x = tc__operand(g, a, 0);
    int64_t dim = n->attr[TC__SLICE_DIM] - (a->rank - x->rank);
    if (dim >= 0 && !tc__ix_equals(x->dims[dim], 1)) return NULL;
    return tc__make_expand(g, x, n->rank, n->dims);
}

static tc__node *tc__rule_slice(tc__graph *g, const tc__node *n) {
    if (n->op != TC_OP_SLICE) return NULL;
    tc__node *a = tc__operand(g, n, 0), *made = NULL;
    if (a->op == TC_OP_SLICE) made = tc__rule_slice_slice(g, n, a);
    if (a->op == TC_OP_PAD) made = tc__rule_slice_pad(g, n, a);
    if (a->op == TC_OP_EXPAND) made = tc__rule_slice_expand(g, n, a);
    return made ? made
                : tc__make_slice(g, a, n->attr[TC__SLICE_DIM], n->attr[TC__SLICE_START],
                                 n->attr[TC__SLICE_COUNT], n->attr[TC__SLICE_STEP]);
}

static const tc__rule tc__rules[] = {
    tc__rule_neutral,    tc__rule_twice, tc__rule_where, tc__rule_cast,
    tc__rule_move_splat, tc__rule_move,  tc__rule_slice,
};

static tc__node *tc__rule_any(tc__graph *g, const tc__node *n) {
    tc__node *made = NULL;
    for (size_t i = 0; i < TC__COUNT(tc__rules) && !made; i++) made = tc__rules[i](g, n);
    return made;
}

static int tc__pass_rules(tc__rewrite *w) { return tc__rewrite_each(w, tc__rule_any); }

// ---- widen ----

// Pads of one node with the same fill, chained or not: the widest image holds them all,
// each is a slice of it. So an image that several stencils read is stored once; and where a
// stencil reads it, so does everything else that reads the node.
typedef struct tc__image {
    int64_t low[TC_MAX_RANK], high[TC_MAX_RANK];
    int64_t fill;
    uint32_t tops; // pads of it that something but a pad reads
    uint32_t taps; // slices of them, and the node itself where it is read
    int refused;   // pads that do not fit one image
    uint32_t made; // 1 + new node, 0 = not yet
} tc__image;

typedef struct tc__widen {
    tc__rewrite *w;
    uint32_t *base;   // by old id: PAD: the first node below that is none; else itself
    uint32_t *slices; // by old id: slices and windows of it
    uint8_t *read;    // by old id: something but a pad reads it
    tc__image *image; // by old id of a base
} tc__widen;

static int tc__pad_is_plain(const tc__node *n) {
    if (!tc__ix_equals(n->attr[TC__PAD_DILATION], 1) ||
        !tc__ix_is_const(n->attr[TC__PAD_LOW]) || !tc__ix_is_const(n->attr[TC__PAD_HIGH]))
        return 0;
    int64_t low = tc__ix_value(n->attr[TC__PAD_LOW]),
            high = tc__ix_value(n->attr[TC__PAD_HIGH]);
    return low >= 0 && high >= 0 && low <= TC__WIDEN_MOST && high <= TC__WIDEN_MOST;
}

// What the chain of pads from n down to its base adds to every dimension.
static void tc__pad_amounts(const tc__widen *x, const tc__node *n, int64_t *low,
                            int64_t *high) {
    memset(low, 0, TC_MAX_RANK * sizeof *low);
    memset(high, 0, TC_MAX_RANK * sizeof *high);
    for (; n->id != x->base[n->id]; n = tc__operand(x->w->from, n, 0)) {
        low[n->attr[TC__PAD_DIM]] += tc__ix_value(n->attr[TC__PAD_LOW]);
        high[n->attr[TC__PAD_DIM]] += tc__ix_value(n->attr[TC__PAD_HIGH]);
    }
}

static void tc__widen_count(tc__widen *x) {
    const tc__graph *g = x->w->from;
    for (uint32_t i = 0; i < g->node.count; i++) {
        const tc__node *n = g->node.at[i];
        x->base[i] = i;
        if (!x->w->live[i]) continue;
        x->read[i] |= x->w->live[i] & TC__LIVE_OUTPUT;
        if (n->op == TC_OP_PAD && tc__pad_is_plain(n)) x->base[i] = x->base[n->in[0]];
        for (uint32_t k = 0; k < n->n_in; k++) {
            x->read[n->in[k]] |= x->base[i] == i;
            x->slices[n->in[k]] += n->op == TC_OP_SLICE || n->op == TC_OP_WINDOW;
        }
    }
}

static void tc__widen_note(tc__widen *x, const tc__node *n) {
    tc__image *m = &x->image[x->base[n->id]];
    int64_t low[TC_MAX_RANK], high[TC_MAX_RANK];
    int first = !m->tops && !m->refused;
    tc__pad_amounts(x, n, low, high);
    for (int d = 0; d < n->rank; d++) {
        if (low[d] > m->low[d]) m->low[d] = low[d];
        if (high[d] > m->high[d]) m->high[d] = high[d];
    }
    if (first) m->fill = n->attr[TC__PAD_FILL];
    for (const tc__node *p = n; p->id != x->base[p->id]; p = tc__operand(x->w->from, p, 0))
        m->refused |= p->attr[TC__PAD_FILL] != m->fill;
    m->tops++;
    m->taps += x->slices[n->id] + (m->tops == 1 && x->read[x->base[n->id]]);
}

// Several pads become one; or one that is a stencil's image takes the node's other readers
// too.
static int tc__widen_wanted(const tc__widen *x, uint32_t id) {
    const tc__image *m = &x->image[id];
    if (m->refused || !m->tops) return 0;
    return m->tops > 1 || (m->taps >= TC__STENCIL_TAPS && x->read[id]);
}

// The slice of the image that lies `low` before and ends `high` behind the node.
static tc__node *tc__widen_part(tc__graph *g, const tc__image *m, const tc__node *base,
                                const int64_t *low, const int64_t *high) {
    tc__node *part = g->node.at[m->made - 1];
    for (int d = 0; d < base->rank && part; d++)
        part =
            tc__make_slice(g, part, d, tc__ix_const(m->low[d] - low[d]),
                           tc__ix_add(g->ix, base->dims[d], tc__ix_const(low[d] + high[d])),
                           tc__ix_const(1));
    return part;
}

static tc__node *tc__widen_image(tc__graph *g, tc__image *m, tc__node *base) {
    static const int64_t none[TC_MAX_RANK] = {0};
    tc__node *n = base;
    for (int d = 0; d < base->rank; d++)
        n = tc__make_pad(g, n, d, tc__ix_const(m->low[d]), tc__ix_const(m->high[d]),
                         tc__ix_const(1), m->fill);
    if (!n) return NULL;
    m->made = n->id + 1;
    int inside = m->taps >= TC__STENCIL_TAPS && tc__ops[base->op].kind != TC__KIND_SOURCE;
    return inside ? tc__widen_part(g, m, base, none, none) : base;
}

static tc__node *tc__widen_node(tc__widen *x, const tc__node *n, tc__node *copy) {
    tc__graph *g = x->w->to;
    int64_t low[TC_MAX_RANK], high[TC_MAX_RANK];
    uint32_t base = x->base[n->id];
    if (base == n->id)
        return tc__widen_wanted(x, base) ? tc__widen_image(g, &x->image[base], copy) : copy;
    if (!x->image[base].made) return copy;
    tc__pad_amounts(x, n, low, high);
    return tc__widen_part(g, &x->image[base], g->node.at[x->w->output[base]], low, high);
}

// Node i in the new graph, as it is as an output and as its users take it.
static int tc__widen_copy(tc__widen *x, uint32_t i) {
    tc__rewrite *w = x->w;
    const tc__node *n = w->from->node.at[i];
    uint32_t in[TC__MAX_OPERANDS];
    int pad = x->base[i] != i;
    tc__node m = tc__rewrite_proto(w, n, in), *made = NULL;
    if (pad && n->in[0] == x->base[i]) in[0] = w->output[x->base[i]];
    if (n->op == TC_OP_SLICE)
        made = tc__rule_slice_slice(w->to, &m, tc__operand(w->to, &m, 0));
    if (!made) made = tc__node_cons(w->to, &m);
    if (!made) return 0;
    w->output[i] = made->id;
    made = tc__widen_node(x, n, made);
    if (!made) return 0;
    w->at[i] = made->id;
    if (pad) w->output[i] = made->id;
    return 1;
}

static int tc__widen_run(tc__widen *x) {
    tc__rewrite *w = x->w;
    tc__widen_count(x);
    for (uint32_t i = 0; i < w->from->node.count; i++)
        if (w->live[i] && x->base[i] != i && x->read[i])
            tc__widen_note(x, w->from->node.at[i]);
    for (uint32_t i = 0; i < w->from->node.count; i++)
        if (w->live[i] && !tc__widen_copy(x, i)) return 0;
    return 1;
}

// What it is about: pads. It also joins the slices that rules left of them.
static int tc__wants_widen(const tc__graph *g, const tc__node *n) {
    return n->op == TC_OP_PAD ||
           (n->op == TC_OP_SLICE && tc__operand(g, n, 0)->op == TC_OP_SLICE);
}

static int tc__pass_widen(tc__rewrite *w) {
    tc__widen x;
    size_t n = w->from->node.count, some = n ? n : 1;
    memset(&x, 0, sizeof x);
    x.w = w;
    x.base = TC__NEW_ARRAY(w->ctx, uint32_t, some),
    x.slices = TC__NEW_ARRAY(w->ctx, uint32_t, some);
    x.read = TC__NEW_ARRAY(w->ctx, uint8_t, some),
    x.image = TC__NEW_ARRAY(w->ctx, tc__image, some);
    int ok = x.base && x.slices && x.read && x.image && tc__widen_run(&x);
    tc__free(w->ctx, x.base, some * sizeof *x.base);
    tc__free(w->ctx, x.slices, some * sizeof *x.slices);
    tc__free(w->ctx, x.read, some);
    tc__free(w->ctx, x.image, some * sizeof *x.image);
    return ok;
}
