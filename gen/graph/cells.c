// Cells: the value of each operand code while a path is walked. A root is an external or a computed result;
// a view is movements over its parent, made again when its root has been written. A write in place
// is a new value of the root. Externals that share memory with a written one are views as well: of
// the hidden external of their SHARE step, which shows that memory as one row.
//
// What is written through a view of an external need not be a value of all of it: where the program stores it at its
// place, INPUT with what is stored as operands is the external's memory behind that, and is read there, no copy.
//
// What can be read so is known when kernels are, so a program is made at a venture (tc__program_make), which holds if
// parts that are stored do not meet (exec/parts.c), all of it is on one device, all that is stored there is stored
// directly, and no kernel reads what was there before. Else a write makes a new value of the whole tensor,
// where(inside, part, base), which a product has copied first.
//
// Equal values are one node, but a tensor that something is derived by is itself: of two zeros, or a tensor and its
// clone, the gradient by one is not that of both. So its value is WRT wherever it is read, and so are its views made of it.

// Where an external lies in the memory that a hidden one shows.
typedef struct tc__within {
    uint32_t hidden; // external; UINT32_MAX = it has memory of its own
    int64_t at;      // its first element there
} tc__within;

// One operand code's value while the path is walked.
typedef struct tc__cell {
    const tc__step *via; // movements that make it from `parent`, so many; NULL = a root
    uint32_t n_via;
    uint32_t parent;  // cell
    uint32_t root;    // cell whose view it is, through others maybe
    uint32_t version; // root: writes so far; view: root's version that `node` belongs to
    tc__node *node;
    tc__node *stored; // view: what was written to it last, where its root stays in memory
    int stops;        // view: made where nothing is derived
} tc__cell;

// A value that a program gets at every run.
typedef struct tc__run_arg {
    uint32_t number;  // of the visit's `arg`
    uint8_t dtype;    // that it is computed in
    uint8_t is_value; // a tc__value of that dtype; else a double, to be converted
} tc__run_arg;

// A composite op's step: its operands and its result as far as they are nodes when it is met.
typedef struct tc__noted {
    const tc__step *step;
    uint32_t node[TC__WHOLE_OPERANDS + 1]; // TC__NO_NODE = a view that nothing has read yet
    uint32_t version[TC__WHOLE_OPERANDS + 1]; //   of memory that has been written so often
    int64_t attr[TC__WHOLE_WORDS];
} tc__noted;

typedef struct tc__builder {
    tc_ctx *ctx;
    tc__graph *g;
    tc__visit *visit;
    uint32_t externals; // cells below this are externals, above are positions
    TC__VEC(tc__cell) cell;
    TC__VEC(uint32_t) chain;       // cells of a view, the last one first: of tc__cell_read
    TC__VEC(uint8_t) wrt;          // by cell: a step derives by it; empty = none does
    TC__VEC(tc__within) within;    // by external: where it lies in another one's memory
    TC__VEC(tc__ix) sym;           // by symbol of the path: what it is in the graph
    TC__VEC(tc__run_arg) arg;      // by slot of ARG
    TC__VEC(tc__noted) noted;      // of tc__build_composites,
    size_t composed;               //   of which so many are the graph's
    tc__derive derive;             // what was derived last; g NULL = nothing
    TC__VEC(tc__own_gradient) own; // of custom ops
    TC__VEC(uint32_t) loop;        // by loop of the path: that of the graph
    uint32_t open;                 // 1 + the innermost that is open; 0 = none
    TC__VEC(tc__checkpoint) checkpoint;
    tc__checkpoints around; // and those of option memory_budget,
    tc__blocks *blocks;     //   as it asks for them
    int derives;            // some value has adjoints that may take it from copies
    uint32_t inside;    // 1 + number of the checkpoint that is being walked, 0 = none is
    tc__copies copies;  // of tc__recompute
    int no_grad;        // begins of tc_no_grad_begin without their end
    int round_each_op;  // see tc_options
    int in_place;       // externals are read behind what is stored in them,
    int derives_behind; //   though a derivative has to go through there
    int failed;
} tc__builder;

static tc__cell *tc__cell_at(tc__builder *b, uint32_t i) { return &b->cell.at[i]; }

static uint32_t tc__cell_root(tc__builder *b, uint32_t i) {
    return tc__cell_at(b, i)->via ? tc__cell_at(b, i)->root : i;
}

// ---- one movement, there and back ----

static tc__node *tc__move(tc__graph *g, const tc__step *s, tc__node *a) {
    if (!a) return NULL;
    switch (s->op) {
    case TC_OP_RESHAPE: return tc__make_reshape(g, a, s->n_attr, s->attr);
    case TC_OP_EXPAND: return tc__make_expand(g, a, s->n_attr, s->attr);
    case TC_OP_PERMUTE: return tc__make_permute(g, a, s->attr);
    case TC_OP_SLICE:
        return tc__make_slice(g, a, s->attr[TC__SLICE_DIM], s->attr[TC__SLICE_START],
                              s->attr[TC__SLICE_COUNT], s->attr[TC__SLICE_STEP]);
    case TC_OP_PAD:
        return tc__make_pad(g, a, s->attr[TC__PAD_DIM], s->attr[TC__PAD_LOW],
                            s->attr[TC__PAD_HIGH], s->attr[TC__PAD_DILATION],
                            s->attr[TC__PAD_FILL]);
    default:
        return tc__make1(g, (tc__op)s->op, a, s->meta.rank, s->meta.dims, s->attr,
                         s->n_attr);
    }
}

// The base whose view through SLICE `s` has become `value`: where(inside, padded value, base).
static tc__node *tc__unslice(tc__graph *g, const tc__step *s, tc__node *base,
                             tc__node *value) {
    int64_t dim = s->attr[TC__SLICE_DIM], step = tc__ix_value(s->attr[TC__SLICE_STEP]);
    tc__ix low = s->attr[TC__SLICE_START], count = s->attr[TC__SLICE_COUNT],
           n = base->dims[dim];
    tc__node *in[3];
    if (tc__ix_equals(count, 0)) return base;
    tc__ix last = tc__ix_sub(g->ix, count, tc__ix_const(1));
    if (step < 0) {
        value = tc__make_slice(g, value, dim, last, count, tc__ix_const(-1));
        low = tc__ix_add(g->ix, low, tc__ix_mul(g->ix, last, tc__ix_const(step)));
        step = -step;
    }
    tc__value one;
    one.i = 1;
    tc__ix end = tc__ix_add(g->ix, low, tc__ix_mul(g->ix, last, tc__ix_const(step)));
    tc__ix high = tc__ix_sub(g->ix, tc__ix_sub(g->ix, n, end), tc__ix_const(1));
    tc__node *inside = tc__make_const(g, TC_BOOL, one);
    if (!value || !inside) return NULL;
    inside = tc__make_expand(g, inside, value->rank, value->dims);
    in[0] = tc__make_pad(g, inside, dim, low, high, tc__ix_const(step), 0);
    in[1] = tc__make_pad(g, value, dim, low, high, tc__ix_const(step), 0);
    in[2] = base;
    if (!in[0] || in[1] == value) return value;
    return tc__make_alu(g, TC_OP_WHERE, base->dtype, in, 3);
}

static tc__node *tc__unpermute(tc__graph *g, const tc__step *s, tc__node *value) {
    int64_t order[TC_MAX_RANK];
    for (int i = 0; i < s->n_attr; i++) order[s->attr[i]] = i;
    return tc__make_permute(g, value, order);
}

// Whether an expand of `base` to these sizes repeats elements.
static int tc__repeats(const tc__node *base, int rank, const tc__ix *dims) {
    int lead = rank - base->rank;
    for (int i = 0; i < rank; i++)
        if (!tc__ix_equals(dims[i], 1) && (i < lead || base->dims[i - lead] != dims[i]))
            return 1;
    return 0;
}

// `value` of view `s` as one of what it shows, whose value was `base`. An expand repeats nothing here.
static tc__node *tc__unview(tc__graph *g, const tc__step *s, tc__node *base,
                            tc__node *value) {
    if (!base || !value) return NULL;
    switch (s->op) {
    case TC_OP_SLICE: return tc__unslice(g, s, base, value);
    case TC_OP_PERMUTE: return tc__unpermute(g, s, value);
    case TC_OP_PAD:
        return tc__make_slice(g, value, s->attr[TC__PAD_DIM], s->attr[TC__PAD_LOW],
                              base->dims[s->attr[TC__PAD_DIM]], tc__ix_const(1));
    default: return tc__make_reshape(g, value, base->rank, base->dims);
    }
}

// ---- movements over plain memory ----

enum { TC__WAY_STEPS = 3 * TC_MAX_RANK + TC_MAX_RANK + 4 };

// The movements that make a strided view of a row of elements.
typedef struct tc__way {
    tc__step *step; // TC__WAY_STEPS of them, of the graph's arena
    uint32_t n;
    tc__meta meta; // of what the steps so far make
} tc__way;

static void tc__way_add(tc__way *w, tc__op op, const int64_t *attr, uint32_t n_attr,
                        const int64_t *dims, int rank) {
    tc__step *s = &w->step[w->n++];
    s->op = (uint16_t)op, s->n_in = 1, s->n_attr = (uint16_t)n_attr;
    memcpy(s->attr, attr, n_attr * sizeof *attr);
    w->meta.rank = (uint8_t)rank;
    for (int i = 0; i < rank; i++) w->meta.dims[i] = tc__ix_const(dims[i]);
    s->meta = w->meta;
}

static void tc__way_dims(const tc__way *w, int64_t *dims) {
    for (int i = 0; i < w->meta.rank; i++) dims[i] = tc__ix_value(w->meta.dims[i]);
}

// RESHAPE and EXPAND: their words are the sizes.
static void tc__way_sizes(tc__way *w, tc__op op, const int64_t *dims, int rank) {
    int64_t attr[TC_MAX_RANK];
    for (int i = 0; i < rank; i++) attr[i] = tc__ix_const(dims[i]);
    tc__way_add(w, op, attr, (uint32_t)rank, dims, rank);
}

static void tc__way_slice(tc__way *w, int dim, int64_t start, int64_t count, int64_t step) {
    int64_t attr[4], dims[TC_MAX_RANK];
    tc__way_dims(w, dims);
    dims[dim] = count;
    attr[TC__SLICE_DIM] = dim, attr[TC__SLICE_START] = tc__ix_const(start);
    attr[TC__SLICE_COUNT] = tc__ix_const(count);
    attr[TC__SLICE_STEP] = tc__ix_const(step);
    tc__way_add(w, TC_OP_SLICE, attr, 4, dims, w->meta.rank);
}

// The last dimension becomes rows of `stride` elements, as many as `r` has, of which each keeps the first
// that smaller dimensions reach.
static void tc__way_rows(tc__way *w, const tc__reachdim *r) {
    int64_t attr[5] = {0}, dims[TC_MAX_RANK];
    int last = w->meta.rank - 1;
    tc__way_dims(w, dims);
    int64_t more = r->size * r->stride - dims[last];
    if (more > 0) { // the last row ends where its elements do
        attr[TC__PAD_DIM] = last, attr[TC__PAD_LOW] = tc__ix_const(0);
        attr[TC__PAD_HIGH] = tc__ix_const(more);
        attr[TC__PAD_DILATION] = tc__ix_const(1), dims[last] += more;
        tc__way_add(w, TC_OP_PAD, attr, 5, dims, last + 1);
    }
    dims[last] = r->size, dims[last + 1] = r->stride;
    tc__way_sizes(w, TC_OP_RESHAPE, dims, last + 2);
    tc__way_slice(w, last + 1, 0, r->inner, 1);
}

// Dimensions in the order of the layout, and those that take no steps.
static void tc__way_order(tc__way *w, const tc__layout *l, const tc__reachdim *d, int n) {
    int64_t order[TC_MAX_RANK], dims[TC_MAX_RANK];
    for (int i = 0; i < n; i++)
        if (l->strides[d[i].dim] < 0) tc__way_slice(w, i, d[i].size - 1, d[i].size, -1);
    for (int i = 0; i < n; i++) {
        int at = 0;
        for (int k = 0; k < n; k++) at += d[k].dim < d[i].dim;
        order[at] = i, dims[at] = d[i].size;
    }
    if (n) tc__way_add(w, TC_OP_PERMUTE, order, (uint32_t)n, dims, n);
    for (int k = 0; k < l->rank; k++) dims[k] = l->strides[k] ? l->dims[k] : 1;
    for (int k = 0; k < l->rank; k++)
        if (l->dims[k] <= 1) dims[k] = l->dims[k];
    tc__way_sizes(w, TC_OP_RESHAPE, dims, l->rank);
    if (tc__layout_repeats(l)) tc__way_sizes(w, TC_OP_EXPAND, l->dims, l->rank);
}

// Room for the movements of elements of this dtype; 0 = out of memory.
static int tc__way_open(tc__way *w, tc__builder *b, int dtype) {
    memset(w, 0, sizeof *w);
    w->step = TC__ANEW_ARRAY(&b->g->arena, tc__step, TC__WAY_STEPS);
    w->meta.dtype = (uint8_t)dtype;
    for (int i = 0; w->step && i < TC__WAY_STEPS; i++) {
        w->step[i].attr = TC__ANEW_ARRAY(&b->g->arena, int64_t, TC_MAX_RANK);
        if (!w->step[i].attr) return 0;
    }
    return w->step != NULL;
}

// The view with layout `l`, whose dimensions nest, of a row; its first element is at `at`.
static void tc__way_to(tc__way *w, const tc__layout *l, int64_t at) {
    tc__reachdim d[TC_MAX_RANK];
    int n = tc__layout_steps(l, d);
    w->meta.rank = 1;
    tc__way_slice(w, 0, at + l->low, tc__steps_reach(d, n), 1);
    for (int i = 0; i + 1 < n; i++) tc__way_rows(w, &d[i]);
    if (n) tc__way_slice(w, n - 1, 0, d[n - 1].size, d[n - 1].stride);
    tc__way_order(w, l, d, n);
}

// ---- reading and writing ----

static tc__node *tc__moves(tc__builder *b, const tc__step *via, uint32_t n, tc__node *a) {
    for (uint32_t i = 0; i < n; i++) a = tc__move(b->g, &via[i], a);
    return a;
}

// The value of cell i as it is read. An external that nobody has written is like no other anyway.
static tc__node *tc__cell_shown(tc__builder *b, uint32_t i) {
    tc__node *n = tc__cell_at(b, i)->node;
    int64_t cell = i;
    if (!n || i >= b->wrt.count || !b->wrt.at[i]) return n;
    if (n->op == TC_OP_INPUT && n->attr[TC__INPUT_EXTERNAL] == cell) return n;
    return tc__make1(b->g, TC_OP_WRT, n, n->rank, n->dims, &cell, 1);
}

// The current value of a cell: a view is made again where its root has been written since, from the
// first view on its way that is not out of date.
static tc__node *tc__cell_read(tc__builder *b, uint32_t i) {
    uint32_t version = tc__cell_at(b, tc__cell_root(b, i))->version;
    tc__cell *v = tc__cell_at(b, i);
    b->chain.count = 0;
    for (; v->via && !(v->node && v->version == version); v = tc__cell_at(b, i)) {
        if (!TC__PUSH(b->ctx, b->chain, i)) return NULL;
        i = v->parent;
    }
    tc__node *n = tc__cell_shown(b, i);
    while (b->chain.count) {
        i = b->chain.at[--b->chain.count], v = tc__cell_at(b, i);
        n = tc__moves(b, v->via, v->n_via, n);
        v->node = v->stops ? tc__d_detach(b->g, n, 0) : n;
        v->version = version;
        n = tc__cell_shown(b, i);
    }
    return n;
}

// Whether nothing is derived through view i, or through one on its way.
static int tc__cell_detached(tc__builder *b, uint32_t i) {
    for (const tc__cell *v; (v = tc__cell_at(b, i))->via; i = v->parent)
        if (v->stops || v->via->op == TC_OP_DETACH) return 1;
    return 0;
}

// What a write through a view of cell i leaves as it was: it goes on being derived, also where the view is of something
// detached, whose way is gone again then.
static tc__node *tc__cell_beneath(tc__builder *b, uint32_t i, int detached) {
    if (!detached) return tc__cell_read(b, i);
    b->chain.count = 0;
    for (const tc__cell *v; (v = tc__cell_at(b, i))->via; i = v->parent)
        if (!TC__PUSH(b->ctx, b->chain, i)) return NULL;
    tc__node *n = tc__cell_shown(b, i);
    while (b->chain.count) {
        const tc__cell *v = tc__cell_at(b, b->chain.at[--b->chain.count]);
        if (v->via->op != TC_OP_DETACH) n = tc__moves(b, v->via, v->n_via, n);
    }
    return n;
}

// What `base` is when its view through n movements becomes `value`.
static tc__node *tc__unmove(tc__builder *b, const tc__step *via, uint32_t n, tc__node *base,
                            tc__node *value) {
    tc__node *at[TC__WAY_STEPS];
    for (uint32_t i = 0; i < n; i++) {
        at[i] = base;
        base = tc__move(b->g, &via[i], base);
    }
    while (n--) value = tc__unview(b->g, &via[n], at[n], value);
    return value;
}

// Whether elements of the root are shown several times on the way to view i.
static int tc__cell_repeats(tc__builder *b, uint32_t i) {
    for (tc__cell *v; (v = tc__cell_at(b, i))->via; i = v->parent) {
        const tc__step *s = &v->via[v->n_via - 1];
        if (s->op != TC_OP_EXPAND) continue;
        const tc__node *from = tc__cell_read(b, v->parent);
        if (v->n_via > 1 || !from || tc__repeats(from, s->meta.rank, s->meta.dims))
            return 1;
    }
    return 0;
}

// The layout of view i over its root as a row of elements, and where it begins; 0 = reported, or sizes are
// known at run time only: then the program is for those of the visit.
static uint32_t tc__cell_layout(tc__builder *b, uint32_t i, int64_t *at) {
    int64_t dims[TC_MAX_RANK], more;
    uint32_t layout = 0;
    b->chain.count = 0;
    for (; tc__cell_at(b, i)->via; i = tc__cell_at(b, i)->parent) {
        if (i < b->externals) break;
        if (!TC__PUSH(b->ctx, b->chain, i)) return 0;
    }
    *at = 0;
    if (tc__cell_at(b, i)->via) {
        layout = b->visit->external.at[i].layout, *at = b->within.at[i].at;
    } else {
        const tc__node *n = tc__cell_at(b, i)->node;
        for (int d = 0; d < n->rank; d++) {
            if (!tc__ix_is_const(n->dims[d])) return b->g->ix->failed = 1, 0u;
            dims[d] = tc__ix_value(n->dims[d]);
        }
        layout = tc__layout_intern(b->ctx, n->dtype, n->rank, dims, NULL);
    }
    while (layout && b->chain.count) {
        const tc__step *s = tc__cell_at(b, b->chain.at[--b->chain.count])->via;
        for (int d = 0; d < s->meta.rank; d++)
            if (!tc__ix_is_const(s->meta.dims[d])) return b->g->ix->failed = 1, 0u;
        if (!tc__view_of(b->ctx, (tc__op)s->op, s->attr, layout, &s->meta, &layout, &more))
            return 0;
        *at += more;
    }
    return layout;
}

// View i, which shows no element twice although some on its way do, becomes `value`: its root then.
static tc__node *tc__cell_scatter(tc__builder *b, uint32_t i, tc__node *value) {
    int64_t at;
    tc__way w;
    uint32_t layout = tc__cell_layout(b, i, &at);
    tc__node *root = tc__cell_at(b, tc__cell_root(b, i))->node;
    tc__ix numel = tc__ix_const(1);
    if (!layout || !root || !tc__way_open(&w, b, root->dtype)) return NULL;
    for (int d = 0; d < root->rank; d++) numel = tc__ix_mul(b->g->ix, numel, root->dims[d]);
    if (!tc__layout_at(b->ctx, layout)->numel) return root;
    tc__way_to(&w, tc__layout_at(b->ctx, layout), at);
    tc__node *row = tc__make_reshape(b->g, root, 1, &numel);
    row = tc__unmove(b, w.step, w.n, row, value);
    return tc__make_reshape(b->g, row, root->rank, root->dims);
}

// ---- reading behind a write ----

// The first view on the way from i to its root whose elements are not those of what it shows, all of them;
// the root, if there is none. That is what a program stores: tc__target_external.
static uint32_t tc__cell_part(tc__builder *b, uint32_t i) {
    for (const tc__cell *v; (v = tc__cell_at(b, i))->via; i = v->parent) {
        int op = v->via[v->n_via - 1].op;
        if (v->n_via > 1 || (op != TC_OP_RESHAPE && op != TC_OP_PERMUTE)) break;
    }
    return i;
}

// Whether the root is an external's memory still, whatever parts of it are stored, and part `at` can be, too.
static int tc__cell_stays(tc__builder *b, uint32_t root, uint32_t at) {
    const tc__node *n = tc__cell_at(b, root)->node;
    return b->in_place && at != root && root < b->externals && n && n->op == TC_OP_INPUT &&
           n->n_in < TC__MAX_OPERANDS - 1u && !tc__cell_repeats(b, at);
}

// The memory of INPUT n behind what is stored there, now `value` too, instead of `before`.
static tc__node *tc__input_behind(tc__graph *g, const tc__node *n, const tc__node *before,
                                  const tc__node *value) {
    uint32_t in[TC__MAX_OPERANDS], count = 0;
    for (uint32_t i = 0; i < n->n_in; i++)
        if (!before || n->in[i] != before->id) in[count++] = n->in[i];
    in[count++] = value->id;
    return tc__make(g, TC_OP_INPUT, n->dtype, n->rank, n->dims, in, count, n->attr, 1);
}

// Writes `value` through cell i by storing part `at` of its root.
static int tc__cell_store(tc__builder *b, uint32_t i, uint32_t at, tc__node *value) {
    uint32_t root = tc__cell_root(b, i), version = tc__cell_at(b, root)->version + 1;
    int detached = tc__cell_detached(b, i);
    for (;; i = tc__cell_at(b, i)->parent) {
        tc__cell *v = tc__cell_at(b, i);
        tc__node *before = v->version == version - 1 ? v->node : NULL;
        tc__node *shown = i == at ? NULL : tc__cell_beneath(b, v->parent, detached);
        v->node = value, v->version = version;
        if (i == at) {
            v->stored = value;
            value = tc__input_behind(b->g, tc__cell_at(b, root)->node, before, value);
            break;
        }
        value = shown ? tc__unmove(b, v->via, v->n_via, shown, value) : NULL;
        if (!value) return 0;
    }
    tc__cell_at(b, root)->node = value, tc__cell_at(b, root)->version = version;
    return value != NULL;
}

// Writes `value` through cell i, which shows no element twice.
static int tc__cell_write(tc__builder *b, uint32_t i, tc__node *value) {
    uint32_t root = tc__cell_root(b, i), at = tc__cell_part(b, i);
    tc__node *now = value;
    int detached = tc__cell_detached(b, i);
    if (tc__cell_stays(b, root, at)) return tc__cell_store(b, i, at, value);
    at = i;
    if (tc__cell_repeats(b, i)) {
        now = tc__cell_scatter(b, i, value);
    } else {
        for (tc__cell *v; (v = tc__cell_at(b, at))->via; at = v->parent)
            now = tc__unmove(b, v->via, v->n_via, tc__cell_beneath(b, v->parent, detached),
                             now);
    }
    if (!now) return 0;
    tc__cell_at(b, root)->node = now;
    tc__cell_at(b, root)->version++;
    tc__cell_at(b, i)->node = value;
    if (i != root) tc__cell_at(b, i)->version = tc__cell_at(b, root)->version;
    return 1;
}
