// How accesses of a LOOP list move along a vector of adjacent elements of an axis, whatever device has it:
// which are one access of the whole vector, which are the same for all of it; and how wide indices are.

enum {
    TC__DEVICE_SMS = 132,  // multiprocessors of the card that all was chosen for
    TC__DEVICE_WIDEST = 16 // bytes of the widest access
};

static int tc__device_is_memory(const tc__node *n) {
    return n->op == TC_OP_LOAD || n->op == TC_OP_STORE;
}

static int tc__device_is_row(const tc__group *g, int64_t b) {
    return g->buffer.at[b].place == TC__BUF_ROW;
}

// Rows that the kernel makes of an operand: of the block, in shared memory.
static int tc__device_is_made(const tc__group *g, const tc__node *n) {
    return tc__buffer_of(g, n)->place == TC__BUF_MADE;
}

static uint32_t tc__device_bytes(const tc__group *g, const tc__node *n) {
    return tc__dtypes[tc__buffer_of(g, n)->dtype].bytes;
}

// ---- what moves along the vector ----

typedef struct tc__device_scan {
    const tc__group *g;
    tc__axis axis;
    int width, differ;
} tc__device_scan;

static int tc__device_is_still(const tc__group *g, const tc__node *n, tc__axis axis,
                               int width);

static void tc__device_scan_val(void *user, uint32_t id) {
    tc__device_scan *s = (tc__device_scan *)user;
    s->differ |= !tc__device_is_still(s->g, s->g->body.node.at[id], s->axis, s->width);
}

// How e moves inside a vector of `width` along `axis`. Unlike tc__access_along it knows of values
// that are the same in the whole vector: the index of a row that is gathered.
static tc__access tc__device_access(const tc__group *g, tc__ix e, tc__axis axis,
                                    int width) {
    tc__device_scan s;
    s.g = g, s.axis = axis, s.width = width, s.differ = 0;
    tc__ix_each_val(g->body.ix, e, tc__device_scan_val, &s);
    tc__ixrun run = tc__ix_run(g->body.ix, e, axis);
    if (s.differ || !tc__ixrun_spans(&run, width)) return TC__PER_LANE;
    if (tc__ix_equals(run.stride, 0)) return TC__UNIFORM;
    return tc__ix_equals(run.stride, 1) ? TC__CONTIGUOUS : TC__PER_LANE;
}

// Whether index words [first, n_attr) of n are the same in the whole vector.
static int tc__device_words_still(const tc__group *g, const tc__node *n, uint32_t first,
                                  tc__axis axis, int width) {
    for (uint32_t i = first; i < n->n_attr; i++)
        if (tc__attr_is_ix(n, i) &&
            tc__device_access(g, n->attr[i], axis, width) != TC__UNIFORM)
            return 0;
    return 1;
}

// Whether n is the same in the whole vector. Arithmetic is not asked: it costs little per lane.
static int tc__device_is_still(const tc__group *g, const tc__node *n, tc__axis axis,
                               int width) {
    if (!tc__lanes_differ(n, axis)) return 1;
    if (axis == TC__ROW && n->level == TC__AT_ROW) return 0;
    if (n->op == TC_OP_CAST || n->op == TC_OP_CHECK)
        return tc__device_words_still(g, n, 0, axis, width) &&
               tc__device_is_still(g, g->body.node.at[n->in[0]], axis, width);
    if (n->op == TC_OP_LOAD)
        return !tc__device_is_row(g, n->attr[TC__ACCESS_BUFFER]) &&
               tc__device_words_still(g, n, 1, axis, width);
    return (n->op == TC_OP_INDEX || n->op == TC_OP_VALID) &&
           tc__device_words_still(g, n, 0, axis, width);
}

// Whether e is a multiple of `width` at the first of so many adjacent elements.
static int tc__device_is_aligned(const tc__group *g, tc__ix e, int width, tc__axis axis) {
    tc__ixpool *x = g->body.ix;
    tc__ix v = tc__ix_find_var(x, e, axis);
    if (v) e = tc__ix_subst(x, e, v, tc__ix_mul(x, v, tc__ix_const(width)));
    return tc__ix_divisor(x, e) % width == 0;
}

// Whether all elements of a vector are below the limits of their load, or none is.
static int tc__device_bounds_still(const tc__group *g, const tc__node *n, int width,
                                   tc__axis axis) {
    for (uint32_t i = TC__LOAD_PREDICATES; i + 1 < n->n_attr; i += 2) {
        tc__access access = tc__device_access(g, n->attr[i], axis, width);
        if (tc__device_access(g, n->attr[i + 1], axis, width) != TC__UNIFORM) return 0;
        if (access == TC__UNIFORM) continue;
        if (access != TC__CONTIGUOUS ||
            !tc__device_is_aligned(g, n->attr[i], width, axis) ||
            tc__ix_divisor(g->body.ix, n->attr[i + 1]) % width)
            return 0;
    }
    return 1;
}

// Whether memory begins at a multiple of `width` elements: what a turn of a loop stores may not, nor does a part of a
// tensor.
static int tc__device_begins_at_multiple(const tc__group *g, const tc__node *n, int width) {
    const tc__kbuf *b = tc__buffer_of(g, n);
    if (b->is_part) return width == 1;
    return !b->in_turns || tc__ix_divisor(g->body.ix, b->numel) % width == 0;
}

// Whether V elements of the access that are adjacent along the axis are adjacent and aligned.
static int tc__device_is_wide(const tc__group *g, const tc__node *n, int width,
                              tc__axis axis) {
    if (width == 1 || !tc__device_is_memory(n)) return 0;
    if (!tc__device_begins_at_multiple(g, n, width)) return 0;
    if (axis == TC__COL && n->level == TC__AT_ROW) return 0;
    if (n->op == TC_OP_LOAD && !tc__device_bounds_still(g, n, width, axis)) return 0;
    return tc__device_access(g, n->attr[TC__ACCESS_INDEX], axis, width) == TC__CONTIGUOUS &&
           tc__device_is_aligned(g, n->attr[TC__ACCESS_INDEX], width, axis);
}

// Whether the vectors may have `width` elements along the axis, and some access gains by it.
static int tc__device_takes(const tc__group *g, tc__axis axis, int width) {
    int wide = 0;
    tc__ix extent = axis == TC__COL ? g->shape.cols : g->shape.rows;
    if (tc__ix_divisor(g->body.ix, extent) % width && !tc__ix_equals(g->shape.rows, 1))
        return 0;
    for (size_t i = 0; i < g->body.node.count; i++) {
        const tc__node *n = g->body.node.at[i];
        wide |= tc__device_is_memory(n) &&
                !tc__device_is_row(g, n->attr[TC__ACCESS_BUFFER]) &&
                tc__device_is_wide(g, n, width, axis);
    }
    return wide;
}

// Bytes of the narrowest dtype of columns; single ones count as halves where there is something wider.
static uint32_t tc__device_least_bytes(const tc__group *g) {
    uint32_t least = TC__DEVICE_WIDEST, most = 1;
    for (size_t i = 0; i < g->body.node.count; i++) {
        const tc__node *n = g->body.node.at[i];
        if (!tc__device_is_memory(n) || n->level != TC__AT_COL) continue;
        if (tc__device_is_row(g, n->attr[TC__ACCESS_BUFFER])) continue;
        uint32_t bytes = tc__device_bytes(g, n);
        if (bytes < least) least = bytes;
        if (bytes > most) most = bytes;
    }
    return least == 1 && most > 1 ? 2 : least;
}

enum {
    TC__DEVICE_APART = 4,      // loads of elements that are apart which make vectors short,
    TC__DEVICE_SHORT_BYTES = 4 //   and bytes of those
};

// Loads whose elements lie apart, as those of windows in steps of two do.
static int tc__device_loads_apart(const tc__group *g, tc__axis axis) {
    int apart = 0;
    for (size_t i = 0; i < g->body.node.count; i++) {
        const tc__node *n = g->body.node.at[i];
        tc__ix stride;
        apart += n->op == TC_OP_LOAD && n->level == TC__AT_COL && tc__device_is_memory(n) &&
                 tc__ix_steps(g, n->attr[TC__LOAD_INDEX], axis, 2, &stride) &&
                 tc__ix_is_const(stride) && tc__ix_value(stride) > 1;
    }
    return apart;
}

// Whether rows that are reduced store elements of 4 bytes: vectors of 8 of them are two accesses, each of half of the sectors
// that its lanes reach. An embedding with its norm, f32 and bf16, takes 1.13 times as long so (H200).
static int tc__device_stores_words(const tc__group *g) {
    if (g->shape.kind != TC__REDUCTION) return 0;
    for (size_t i = 0; i < g->body.node.count; i++) {
        const tc__node *n = g->body.node.at[i];
        if (n->op == TC_OP_STORE && n->level == TC__AT_COL &&
            !tc__device_is_row(g, n->attr[TC__STORE_BUFFER]) && tc__device_bytes(g, n) >= 4)
            return 1;
    }
    return 0;
}

// Elements of a 16-byte access of the narrowest dtype. Fewer where the extent does not divide into them, or where lanes
// would ask for lines of their own: a maximum of 3 x 3 in steps of 2, bf16, has 8 of them for each load then.
static int tc__device_width(const tc__group *g, tc__axis axis) {
    int least = (int)tc__device_least_bytes(g), width = TC__DEVICE_WIDEST / least;
    if (tc__device_stores_words(g) && axis == TC__COL && least < TC__DEVICE_SHORT_BYTES)
        width = TC__DEVICE_WIDEST / TC__DEVICE_SHORT_BYTES;
    if (tc__device_loads_apart(g, axis) >= TC__DEVICE_APART)
        width = least < TC__DEVICE_SHORT_BYTES ? TC__DEVICE_SHORT_BYTES / least : 1;
    for (; width > 1; width /= 2)
        if (tc__device_takes(g, axis, width)) return width;
    return 1;
}

// ---- indices of 32 bits ----

// The largest absolute value of e.
static int64_t tc__device_largest(const tc__ixpool *x, tc__ix e) {
    int64_t lo = tc__ix_lo(x, e), hi = tc__ix_hi(x, e);
    return hi > -lo ? hi : -lo;
}

// What no part of the sum e exceeds in size, whatever the order of adding.
static int64_t tc__device_reach(const tc__ixpool *x, tc__ix e) {
    int64_t most = tc__device_largest(x, e);
    if (tc__ix_is_const(e)) return most;
    const tc__ixnode *n = tc__ix_node(x, e);
    if (n->kind == TC__IX_VAR || n->kind == TC__IX_SYM || n->kind == TC__IX_VAL)
        return most;
    if (n->kind != TC__IX_POLY) {
        int64_t a = tc__device_reach(x, n->a), b = tc__device_reach(x, n->b);
        return a > b ? a : b;
    }
    int64_t sum = n->base < 0 ? -n->base : n->base, inner = 0;
    for (uint32_t i = 0; i < n->count; i++) {
        const tc__ixterm *t = &x->term.at[n->first + i];
        int64_t part = t->coef < 0 ? -t->coef : t->coef;
        for (int k = 0; k < TC__IX_ATOMS && t->atom[k]; k++) {
            int64_t reach = tc__device_reach(x, t->atom[k]);
            part = tc__ix_times(part, tc__device_largest(x, t->atom[k]));
            if (reach > inner) inner = reach;
        }
        sum = sum > INT64_MAX / 4 || part > INT64_MAX / 4 ? INT64_MAX / 2 : sum + part;
    }
    return sum > inner ? sum : inner;
}

// Whether all indices of the kernel are int: with room for what a block counts beyond its end.
static int tc__device_is_narrow(const tc__group *g) {
    tc__ixpool *x = g->body.ix;
    const int64_t limit = INT32_MAX - (1 << 20);
    if (tc__device_reach(x, tc__ix_mul(x, g->shape.rows, g->shape.cols)) > limit) return 0;
    if (tc__device_reach(x, g->shape.rows) > limit ||
        tc__device_reach(x, g->shape.cols) > limit)
        return 0;
    for (size_t id = 0; id < g->body.node.count; id++) {
        const tc__node *n = g->body.node.at[id];
        for (uint32_t i = 0; i < n->n_attr; i++)
            if (tc__attr_is_ix(n, i) && tc__device_reach(x, n->attr[i]) > limit) return 0;
    }
    return 1;
}

// Whether a vector of columns is one access of all that it reads and writes, or the same for all.
static int tc__device_all_wide(const tc__group *g, int width) {
    for (size_t i = 0; i < g->body.node.count; i++) {
        const tc__node *n = g->body.node.at[i];
        if (!tc__device_is_memory(n) || n->level != TC__AT_COL) continue;
        if (tc__device_is_row(g, n->attr[TC__ACCESS_BUFFER])) continue;
        if (!tc__device_is_wide(g, n, width, TC__COL) &&
            !tc__device_is_still(g, n, TC__COL, width))
            return 0;
    }
    return 1;
}

// How often the threads of a block meet to combine what they have, in nodes [begin, end): those side by side do at once.
static int tc__device_meetings(const tc__group *k, uint32_t begin, uint32_t end) {
    int count = 0, before = 0;
    for (uint32_t id = begin; id < end; id++) {
        const tc__node *n = k->body.node.at[id];
        int meets = n->op == TC_OP_COMBINE && n->n_attr > TC__COMBINE_THREADS &&
                    n->attr[TC__COMBINE_THREADS] > 32;
        count += meets && !before;
        before = meets;
    }
    return count;
}
