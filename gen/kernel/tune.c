// What can be chosen by measuring: the knobs of a group, which of their values make sense for it, and
// the tunings to try. Input: a group in LOOP form and what it is compiled for. No bit of a result
// depends on a tuning: reductions keep their 32 lanes, products their order of k.
//
// Devices have knobs of their own, one stage of them. What the order of a sum depends on there (threads
// that share a row, parts of it) is no knob.
//
// A search goes stage by stage: all values of a stage's knobs with each other, on top of what the
// stages before found best.
//
// Tuned is what the rules of lanes.c, lower.c, print_c.c and contract.c decide from two
// machines' measurements: it can be changed behind lowering, in the text of one kernel or
// its launch. Fusion, the axis of the vector and the split of long reductions are decided
// before, for several kernels at once, and stay.
//
// To add a knob: a value in tc__knob (group.c) with an enum of what it can be, 0 = the
// rule; a row in tc__knobs; a case in tc__knob_fits, which says where a value differs from
// the rule and makes sense, so that hopeless text is not compiled; and the place that
// follows the rule asks shape.tuning.knob[] first. What changes items or scratch of a
// product belongs into tc__contract_plan, what only changes the launch into
// tc__launch_lay_out. tests/region/bits.c tunes every kernel at random and fails for a knob
// that no kernel has; `bench autotune` shows what it wins.

typedef enum tc__tune_stage {
    TC__STAGE_REGISTERS, // what the inner loops hold
    TC__STAGE_MEMORY,    // how they meet the caches
    TC__STAGE_THREADS,   // no other code
    TC__STAGE_DEVICE, // all that kernels in another language than C have; others have none of it
    TC__STAGES
} tc__tune_stage;

enum {
    TC__KNOB_NAMES = 7,
    TC__KNOB_VALUES = 12,
    TC__CANDIDATES = 48
}; // at most: of a knob, of a stage

// name, stage, names of the values from 1 on; those of a tile stand in tc__tiles
static const struct {
    const char *name;
    tc__tune_stage stage;
    const char *value[TC__KNOB_NAMES];
} tc__knobs[TC__KNOBS] = {
    {"lanes", TC__STAGE_REGISTERS, {"", "8", "16", NULL, NULL, NULL}},
    {"steps", TC__STAGE_REGISTERS, {"", "of a vector", "of 32", "of 64", NULL, NULL}},
    {"sums", TC__STAGE_REGISTERS, {"", "in memory", "in registers", NULL, NULL, NULL}},
    {"stores", TC__STAGE_MEMORY, {"", "cached", "streamed", NULL, NULL, NULL}},
    {"prefetch", TC__STAGE_MEMORY, {"", "off", "on", NULL, NULL, NULL}},
    {"tile", TC__STAGE_REGISTERS, {"", NULL, NULL, NULL, NULL, NULL}},
    {"panel", TC__STAGE_MEMORY, {"", "half", "twice", NULL, NULL, NULL}},
    {"block", TC__STAGE_MEMORY, {"", "half", "twice", NULL, NULL, NULL}},
    {"threads", TC__STAGE_THREADS, {"", "one", "half", "all", NULL, NULL}},
    {"vectors", TC__STAGE_DEVICE, {"", "1", "2", "4", NULL, NULL}},
    {"block threads", TC__STAGE_DEVICE, {"", "128", "256", "512", "1024", NULL}},
    {"product tile",
     TC__STAGE_DEVICE,
     {"", "first", "second", "third", "fourth", "fifth", "sixth"}},
    {"relay", TC__STAGE_DEVICE, {"", "off", "on", NULL, NULL, NULL}},
};

// What measuring a kernel found.
typedef struct tc__chosen {
    tc__tuning tuning;
    uint32_t tried;          // candidates, the default among them
    uint64_t ns, default_ns; // of one run
} tc__chosen;

static int tc__knob_values(int knob) {
    int n = 1;
    if (knob == TC__KNOB_TILE) return (int)TC__COUNT(tc__tiles) + 1;
    while (n < TC__KNOB_NAMES && tc__knobs[knob].value[n]) n++;
    return n;
}

static int tc__tuning_is_default(const tc__tuning *t) {
    for (int k = 0; k < TC__KNOBS; k++)
        if (t->knob[k]) return 0;
    return 1;
}

// "lanes 8, stores streamed", or "default".
TC__UNUSED static void tc__put_tuning(tc__text *out, const tc__tuning *t) {
    const char *between = "";
    if (tc__tuning_is_default(t)) tc__put(out, "default");
    for (int k = 0; k < TC__KNOBS; k++) {
        int v = t->knob[k];
        if (!v) continue;
        tc__put(out, "%s%s %s", between, tc__knobs[k].name,
                k == TC__KNOB_TILE ? tc__tiles[v - 1].name : tc__knobs[k].value[v]);
        between = ", ";
    }
}

// ---- what a group has ----

// A loop over columns whose vector runs along them, with accumulators or without: 1 = it has one whose
// `unroll` is at least `least` (wanted 1), or less (wanted 0).
static int tc__has_loop(const tc__group *g, int sums, int64_t least, int wanted) {
    const tc__node *loop = NULL;
    int acc = 0;
    if (g->shape.vector != TC__COL) return 0;
    for (size_t i = 0; i < g->body.node.count; i++) {
        const tc__node *n = g->body.node.at[i];
        if (n->op == TC_OP_FOR && n->attr[TC__FOR_AXIS] == TC__COL) loop = n, acc = 0;
        acc |= n->op == TC_OP_ACC;
        if (n->op != TC_OP_END || n->attr[TC__END_AXIS] != TC__COL || !loop) continue;
        if (acc == sums && (loop->attr[TC__FOR_UNROLL] >= least) == wanted) return 1;
    }
    return 0;
}

static int tc__has_store(const tc__group *g, tc__store_kind kind) {
    for (size_t i = 0; i < g->body.node.count; i++) {
        const tc__node *n = g->body.node.at[i];
        if (n->op != TC_OP_STORE || n->n_attr <= TC__STORE_KIND ||
            n->attr[TC__STORE_KIND] != kind)
            continue;
        if (tc__dtypes[tc__buffer_of(g, n)->dtype].bytes >= 4) return 1;
    }
    return 0;
}

// Sums that fit into the registers beside what is multiplied.
static int tc__tile_fits(const tc__group *g, tc__emit target, int lanes, int tile) {
    static const int room[] = {6, 12, 28}; // vectors of 8 floats, with AVX-512 of 8 or 16
    tc__group plain = *g;
    memset(&plain.shape.tuning, 0, sizeof plain.shape.tuning);
    plain.shape.lanes = (int8_t)lanes;
    tc__contract q = tc__contract_plan(&plain);
    int pair = tc__contract_is_pair(&q) && target < TC__EMIT_AVX512;
    if (q.turns || q.dot.tiles) return 0;
    if (target > TC__EMIT_AVX512) target = TC__EMIT_AVX512;
    int vectors = q.flip ? q.width / q.lanes : tc__tiles[tile].vectors;
    if (tc__tiles[tile].rows > (q.flip ? 8 : q.grain)) return 0;
    return tc__tiles[tile].rows * vectors * (pair ? 2 : 1) <= room[target];
}

// ---- what is legal ----

// Whether value v of the knob differs from what the rules say; `lanes` of the tuning it is part of.
static int tc__knob_fits(const tc__group *g, tc__emit target, int lanes, int knob, int v) {
    int product = tc__has_blocks(g), chosen = tc__choose_lanes(g, target);
    tc__group plain = *g;
    memset(&plain.shape.tuning, 0, sizeof plain.shape.tuning);
    if (!v) return 1;
    if ((tc__knobs[knob].stage == TC__STAGE_DEVICE) != (g->target.language != NULL))
        return 0;
    if (g->target.language) return g->target.language->knob_fits(g, knob, v);
    switch ((tc__knob)knob) {
    case TC__KNOB_LANES:
        return v == 1 ? chosen != TC__VECTOR
                      : chosen == TC__VECTOR && tc__group_takes_16(g, target);
    case TC__KNOB_STEPS:
        if (product) return 0;
        if (v == TC__STEPS_TWICE) return tc__has_loop(g, 0, 0, 1);
        return tc__has_loop(g, 0, 4, v == TC__STEPS_VECTOR);
    case TC__KNOB_SUMS: return tc__has_loop(g, 1, 4, v == TC__SUMS_IN_MEMORY);
    case TC__KNOB_STORES:
        return tc__has_store(g, v == TC__STORES_CACHED ? TC__STORE_STREAMS
                                                       : TC__STORE_MAY_STREAM);
    case TC__KNOB_PREFETCH:
        return tc__may_prefetch(g) && tc__prefetches(&plain) == (v == TC__PREFETCH_OFF);
    case TC__KNOB_TILE:
        return product && !tc__has_parts(g) && tc__tile_fits(g, target, lanes, v - 1);
    case TC__KNOB_PANEL:
    case TC__KNOB_BLOCK: return product;
    case TC__KNOB_THREADS: return g->shape.kind != TC__OPAQUE;
    case TC__KNOB_VECTORS:
    case TC__KNOB_BLOCK_THREADS:
    case TC__KNOB_PRODUCT_TILE:
    case TC__KNOB_RELAY:
    case TC__KNOBS: break;
    }
    return 0;
}

static int tc__tuning_lanes(const tc__group *g, tc__emit target, const tc__tuning *t) {
    int v = t->knob[TC__KNOB_LANES];
    return v ? v * (int)TC__VECTOR : tc__choose_lanes(g, target);
}

// Whether a tuning that somebody else found can be one of this group.
TC__UNUSED static int tc__tuning_fits(const tc__group *g, tc__emit target,
                                      const tc__tuning *t) {
    for (int k = 0; k < TC__KNOBS; k++)
        if (t->knob[k] >= tc__knob_values(k)) return 0;
    int lanes = tc__tuning_lanes(g, target, t);
    for (int k = 0; k < TC__KNOBS; k++)
        if (!tc__knob_fits(g, target, lanes, k, t->knob[k])) return 0;
    return 1;
}

// The tunings of a stage on top of `base`, base first; gives how many. Some may be the same text.
TC__UNUSED static int tc__candidates(const tc__group *g, tc__emit target,
                                     tc__tune_stage stage, const tc__tuning *base,
                                     tc__tuning *out) {
    int n = 1;
    out[0] = *base;
    for (int k = 0; k < TC__KNOBS; k++) {
        int before = n;
        if (tc__knobs[k].stage != stage) continue;
        for (int v = 1; v < tc__knob_values(k); v++)
            for (int i = 0; i < before && n < TC__CANDIDATES; i++) {
                tc__tuning *t = &out[n];
                *t = out[i];
                t->knob[k] = (uint8_t)v;
                n += tc__knob_fits(g, target, tc__tuning_lanes(g, target, t), k, v);
            }
    }
    return n;
}

// Makes the group what the tuning says.
static void tc__group_tune(tc__group *g, tc__emit target, const tc__tuning *t) {
    g->shape.tuning = *t;
    g->shape.lanes = (int8_t)tc__tuning_lanes(g, target, t);
    g->shape.dots = (int8_t)tc__dots_of(target);
    if (tc__has_blocks(g)) tc__contract_items(g);
}
