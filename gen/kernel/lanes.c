// The size of a vector in compiled code: a property of the kernel and of what it is compiled
// for. The results do not depend on it: a reduction has 32 logical lanes whatever holds them.

// What kernels are compiled for.
typedef enum tc__emit {
    TC__EMIT_PLAIN,
    TC__EMIT_AVX2,   // with FMA
    TC__EMIT_AVX512, // F, BW, DQ and VL
    TC__EMIT_VNNI,   // with VNNI
    TC__EMIT_BF16,   //   and AVX512-BF16
    TC__EMIT_AMX,    //   and AMX, which the system has given
    TC__EMITS
} tc__emit;

// Elements of one vector of compiled code.
static int tc__group_lanes(const tc__group *g) {
    return g->shape.lanes ? g->shape.lanes : (int)TC__VECTOR;
}

// Whether lanes stand at places that are known of eight and not of sixteen, as where rows of 56 are woven.
static int tc__is_placed_by_8(const tc__group *g, const tc__node *n) {
    int64_t place[TC__PLACES_MOST];
    tc__ix e = n->attr[TC__ACCESS_INDEX];
    return n->op == TC_OP_LOAD &&
           tc__access_along(g, e, g->shape.vector, 8) == TC__PER_LANE &&
           tc__lane_places(g, e, g->shape.vector, 8, place) &&
           !tc__lane_places(g, e, g->shape.vector, 16, place);
}

// Whether a loop of 16 lanes does for n all that one of 8 does: no register has more than
// 64 bytes, and no access that steps in eights falls apart into single elements.
static int tc__node_takes_16(const tc__group *g, const tc__node *n) {
    int memory = n->op == TC_OP_LOAD || n->op == TC_OP_STORE;
    if (!tc__lanes_differ(n, g->shape.vector)) return 1;
    if (tc__is_drawn_run(g, n, g->shape.vector, 16)) return 1;
    if (tc__dtypes[n->dtype].bytes == 8 && n->op != TC_OP_FOR && n->op != TC_OP_END)
        return 0;
    if (!memory || tc__is_lane_row(g, n, g->shape.vector)) return 1;
    for (uint32_t i = 1; i < n->n_attr; i++)
        if (tc__attr_is_ix(n, i) && tc__access_along(g, n->attr[i], g->shape.vector, 16) !=
                                        tc__access_along(g, n->attr[i], g->shape.vector, 8))
            return 0;
    return !tc__is_placed_by_8(g, n);
}

// Few rows are themselves a vector where columns lie apart: half of 16 lanes would add up nothing.
enum { TC__LANES_16_ROWS = 8, TC__LANES_16_COLUMNS = 64 };

// Whether nodes from `first` on can have vectors of 16 elements, `but` one, which has none.
static int tc__nodes_take_16(const tc__group *g, size_t first, tc__emit target,
                             const tc__node *but) {
    if (target < TC__EMIT_AVX512) return 0;
    for (size_t i = first; i < g->body.node.count; i++)
        if (g->body.node.at[i] != but && !tc__node_takes_16(g, g->body.node.at[i]))
            return 0;
    return 1;
}

// Windows are read element by element, however their rows lie to vectors.
static int tc__group_takes_16(const tc__group *g, tc__emit target) {
    const tc__node *windows =
        tc__has_windows(g, 16) ? g->body.node.at[tc__right_of(g)] : NULL;
    return tc__nodes_take_16(g, 0, target, windows);
}

// Whether it is a product of so few rows that it has vectors of 8 in any case, but where four lanes are asked for before.
static int tc__is_flat_product(const tc__group *g) {
    tc__ix m;
    if (g->shape.kind != TC__CONTRACTION) return 0;
    m = tc__ix_div(g->body.ix, g->shape.rows, g->shape.batch);
    if (tc__ix_hi(g->body.ix, m) > TC__LANES_16_ROWS) return 0;
    return tc__ix_lo(g->body.ix, g->shape.cols) < TC__LANES_16_COLUMNS ||
           !tc__is_plain(g, tc__right_of(g)) || !tc__is_adjacent(g, tc__right_of(g));
}

enum {
    TC__TURNED_ROWS = 4,    // most rows of a product that turns its weights in registers,
    TC__TURNED_ROWS_16 = 8, //   of vectors of 16,
    TC__TURNED_COLUMNS = 16 //   which has so many columns
};

// The LOAD of weights as they lie in memory: of f32 and halves, or of integers that products take as i32. NULL = there is none.
static const tc__node *tc__weights_load(const tc__group *g) {
    if (g->shape.kind != TC__CONTRACTION || tc__contract_phases(g) > 1) return NULL;
    const tc__node *n = g->body.node.at[tc__right_of(g)];
    for (; n->op == TC_OP_CAST; n = g->body.node.at[n->in[0]]) {
        int from = g->body.node.at[n->in[0]]->dtype;
        if (n->dtype != TC_I32 && !(n->dtype == TC_F32 && tc__is_half(from))) return NULL;
    }
    if (n->op != TC_OP_LOAD || n->n_attr > TC__LOAD_PREDICATES || g->target.checked)
        return NULL;
    const tc__kbuf *from = tc__buffer_of(g, n);
    tc__ix at = n->attr[TC__LOAD_INDEX];
    tc__ixrun across = tc__ix_run(g->body.ix, at, TC__COL),
              along = tc__ix_run(g->body.ix, at, TC__DEPTH);
    int lies = from->dtype == n->dtype && tc__is_memory(from) &&
               !tc__ix_has_val(g->body.ix, at) && along.ok && along.run == INT64_MAX &&
               tc__ix_is_const(along.stride) && across.ok && across.run == INT64_MAX &&
               tc__ix_is_const(across.stride);
    return lies ? n : NULL;
}

// Those [columns, k] whose k lie side by side, + 1; 0 = they do not.
static int tc__lying_load(const tc__group *g) {
    const tc__node *n = tc__weights_load(g);
    if (!n) return 0;
    tc__ixrun along = tc__ix_run(g->body.ix, n->attr[TC__LOAD_INDEX], TC__DEPTH);
    return tc__ix_equals(along.stride, 1) ? (int)n->id + 1 : 0;
}

// Halves [k, columns] whose columns lie side by side, + 1; 0 = they do not.
static int tc__adjacent_halves(const tc__group *g) {
    const tc__node *n = tc__weights_load(g);
    if (!n || !tc__is_half(n->dtype)) return 0;
    tc__ixrun across = tc__ix_run(g->body.ix, n->attr[TC__LOAD_INDEX], TC__COL);
    return tc__ix_equals(across.stride, 1) ? (int)n->id + 1 : 0;
}

// The same of a product of so few rows that it may turn them in registers (print_turned.c).
static int tc__turned_load(const tc__group *g) {
    tc__ix m = tc__ix_div(g->body.ix, g->shape.rows, g->shape.batch);
    int few = tc__ix_is_const(m) && tc__ix_value(m) <= TC__TURNED_ROWS_16;
    int broad =
        tc__ix_is_const(g->shape.cols) && tc__ix_value(g->shape.cols) >= TC__TURNED_COLUMNS;
    return few && broad ? tc__lying_load(g) : 0;
}

// Whether vectors of 16 do so, where tiles of AMX do not multiply.
static int tc__is_turned_by_16(const tc__group *g, tc__emit target) {
    int load = tc__turned_load(g);
    if (!load) return 0;
    int dtype = g->body.node.at[load - 1]->dtype;
    int tiles = target >= TC__EMIT_AMX && dtype != TC_F32 && dtype != TC_F16 &&
                (dtype != TC_BF16 || g->target.fast);
    int few = tc__ix_value(tc__ix_div(g->body.ix, g->shape.rows, g->shape.batch)) <=
              TC__TURNED_ROWS;
    return !tiles && !(few && dtype == TC_F32) &&
           (tc__is_half(dtype) || dtype == TC_F32 ||
            (tc__dtypes[dtype].bytes <= 2 && target >= TC__EMIT_VNNI));
}

// Whether vectors of 16 stream them, likewise.
static int tc__is_streamed_by_16(const tc__group *g, tc__emit target) {
    int load = tc__adjacent_halves(g);
    if (!load) return 0;
    return target < TC__EMIT_AMX || !g->target.fast ||
           g->body.node.at[load - 1]->dtype == TC_F16;
}

// Of what size the largest elements are that node n computes with; 0 = it is no work of a loop over vectors, or has the
// same vectors whatever their size is.
static uint32_t tc__node_width(const tc__group *g, const tc__node *n) {
    int outside = n->op == TC_OP_FOR || n->op == TC_OP_END || n->op == TC_OP_NEW ||
                  n->op == TC_OP_COMBINE || n->op == TC_OP_CHECK;
    if (outside || !tc__lanes_differ(n, g->shape.vector) ||
        tc__is_drawn_run(g, n, g->shape.vector, TC__VECTOR))
        return 0;
    uint32_t width = n->op == TC_OP_ACC ? 0 : tc__dtypes[n->dtype].bytes;
    for (uint32_t i = 0; i < n->n_in && n->op != TC_OP_RANDOM; i++) {
        uint32_t bytes = tc__dtypes[g->body.node.at[n->in[i]]->dtype].bytes;
        if (bytes > width) width = bytes;
    }
    return width;
}

// Whether a third and more of the work is of elements of 8 bytes, of which no register below AVX-512 has eight; of
// products what is multiplied. gcc keeps such vectors in memory, and computes two for one: a product in double took 17 times
// as long, softmax and sums of rows 1.7 and 3.6 times.
static int tc__is_wide(const tc__group *g) {
    int wide = 0, narrow = 0;
    if (g->shape.kind == TC__CONTRACTION)
        return tc__dtypes[tc__product_dtype(g)].bytes == 8;
    for (size_t i = 0; i < g->body.node.count; i++) {
        uint32_t width = tc__node_width(g, g->body.node.at[i]);
        wide += width == 8, narrow += width && width < 8;
    }
    return 2 * wide > narrow;
}

// The vectors of a kernel: 16 elements with AVX-512 (measured on Zen 4: entropy 1.13x, a chain
// of cheap steps 1.57x, softmax 1.5x; the results are the same bits), 8,
// or 4 where elements of 8 bytes fill a register.
TC__UNUSED static int tc__choose_lanes(const tc__group *g, tc__emit target) {
    if (target < TC__EMIT_AVX512 && tc__is_wide(g)) return TC__VECTOR / 2;
    if (tc__is_flat_product(g) && !tc__is_turned_by_16(g, target) &&
        !tc__is_streamed_by_16(g, target))
        return TC__VECTOR;
    return (tc__group_takes_16(g, target) ? 2 : 1) * TC__VECTOR;
}

// ---- vectors along rows ----
//
// Where rows lie beside each other and columns far apart, as in a sum of columns, a step of the loop over rows goes down all columns:
// what it takes of each decides how well memory is read. With 512 bytes, asked for some columns ahead, a sum of 8192 columns of
// 1024 rows takes 0.45 of the time of 128 (Zen 5, one thread). Sums are [logical lane][element] in the L1.

enum {
    TC__ROW_BYTES = 512,  // of each column at most,
    TC__ROW_NODES = 12,   //   in loops that are so short,
    TC__ROW_COLUMNS = 64, //  over so many columns at least
    TC__ROW_AHEAD = 8     // columns that are asked for early
};

// Whether steps may have more than 32 elements: what is loaded is a reduction's, and little is made of it.
static int tc__has_long_steps(const tc__group *g) {
    int sums = 0, loads = 0;
    if (g->shape.vector != TC__ROW || g->shape.kind != TC__REDUCTION) return 0;
    if (g->body.node.count > TC__ROW_NODES ||
        tc__ix_lo(g->body.ix, g->shape.cols) < TC__ROW_COLUMNS)
        return 0;
    for (size_t i = 0; i < g->body.node.count; i++) {
        const tc__node *n = g->body.node.at[i];
        if (n->op == TC_OP_ARGMAX || n->op == TC_OP_ARGMIN) return 0;
        if (n->op == TC_OP_NEW) sums++;
        if (n->op != TC_OP_LOAD || n->level == TC__AT_ROW) continue;
        if (tc__access_along(g, n->attr[TC__LOAD_INDEX], TC__ROW, tc__group_lanes(g)) !=
            TC__CONTIGUOUS)
            return 0;
        loads++;
    }
    for (size_t i = 0; i < g->buffer.count; i++)
        if (g->buffer.at[i].place == TC__BUF_ROW) return 0;
    return sums == 1 && loads == 1;
}

// Elements of a step of a loop along rows: where it is known how many there are, the number that leaves the least over.
static int tc__row_step(const tc__group *g) {
    int64_t best = TC__LANES, cost = INT64_MAX;
    if (!tc__has_long_steps(g)) return TC__LANES;
    int64_t most = tc__is_wide(g) ? TC__ROW_BYTES / 8 : TC__ROW_BYTES / 4;
    if (!tc__ix_is_const(g->shape.rows)) return (int)most;
    int64_t rows = tc__ix_value(g->shape.rows);
    for (int64_t step = TC__LANES; step <= most; step += TC__LANES) {
        int64_t left = rows % step; // goes vector by vector
        int64_t of =
            rows / step * (96 + step) + (left / tc__group_lanes(g) + 1) * (left > 0) * 112;
        if (of < cost) cost = of, best = step;
    }
    return (int)best;
}
