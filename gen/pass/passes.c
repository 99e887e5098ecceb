// The pipeline: TENSOR -> TENSOR passes in their order. Input: a graph and its outputs. Output: a new graph,
// over the same index pool, and the outputs in it.

static int tc__wants_split(const tc__graph *g, const tc__node *n) {
    int64_t rows, columns;
    return tc__split_count(g, n, &rows, &columns) != 0;
}

static int tc__pass_split(tc__rewrite *w) { return tc__rewrite_each(w, tc__rule_split); }

// ---- dead code ----

// What no output needs is not copied, by any pass; this one does nothing else.
static int tc__pass_dce(tc__rewrite *w) { return tc__rewrite_each(w, NULL); }

// ---- the list ----

enum {
    TC__ROUNDS_DEVICES = 1, // programs on devices,
    TC__ROUNDS_FAST = 2     //   with TC_NUMERICS_FAST
};

typedef struct tc__pass {
    const char *name;
    int (*run)(tc__rewrite *w);
    // Whether it may change this node; where it changes none and none is dead, its result would be a
    // copy. NULL = only dead nodes count: it changes nothing else.
    int (*wants)(const tc__graph *g, const tc__node *n);
    int rounds; // who takes results that have other bits; 0 = they have the same
} tc__pass;

static int tc__wants_any(const tc__graph *g, const tc__node *n) {
    return (void)g, (void)n, 1;
}

// In order; bit i of a mask stands for pass i.
static const tc__pass tc__passes[] = {
    // arithmetic and casts of constants
    {"fold", tc__pass_fold, tc__wants_fold, 0},
    // neutral operands, double negation, chains of movement
    {"rules", tc__pass_rules, tc__wants_any, 0},
    // attention written by hand is told as that; changes no node
    {"raise", tc__pass_raise, tc__wants_raise, 0},
    // one padded image for several stencils
    {"widen", tc__pass_widen, tc__wants_widen, 0},
    // scores of attention are computed again where gradients read them
    {"rescore", tc__pass_rescore, tc__wants_rescore, TC__ROUNDS_DEVICES},
    // variances of few long rows: one pass over memory
    {"moments", tc__pass_moments, tc__wants_moments, TC__ROUNDS_DEVICES},
    // 3x3 convolutions with fewer products
    {"winograd", tc__pass_winograd, tc__wants_winograd, TC__ROUNDS_FAST},
    // constant weights of convolutions as panels
    {"laid", tc__pass_laid, tc__wants_laid, 0},
    // convolutions with channels last
    {"channels", tc__pass_channels, tc__wants_channels, TC__ROUNDS_DEVICES},
    // results of convolutions that others read with channels last
    {"layouts", tc__pass_layouts, tc__wants_layouts, TC__ROUNDS_DEVICES},
    // large products of f32 as tf32: operands are rounded once
    {"rounded", tc__pass_rounded, tc__wants_rounded, TC__ROUNDS_DEVICES},
    // rows of inputs that products read, in whole lines
    {"align", tc__pass_align, tc__wants_align, TC__ROUNDS_DEVICES},
    // long reductions of few rows, for all threads
    {"split", tc__pass_split, tc__wants_split, 0},
    // what the passes before left behind
    {"dce", tc__pass_dce, NULL, 0},
};

static int tc__pass_is_off(int i, uint32_t off_mask, int rounds) {
    return (int)(off_mask >> i & 1) || (tc__passes[i].rounds & ~rounds) != 0;
}

static uint32_t tc__pass_find(const char *name, size_t size) {
    if (size == 3 && !memcmp(name, "all", 3)) return UINT32_MAX;
    for (uint32_t i = 0; i < TC__COUNT(tc__passes); i++)
        if (strlen(tc__passes[i].name) == size && !memcmp(tc__passes[i].name, name, size))
            return UINT32_C(1) << i;
    return 0;
}

// The passes of a list such as "fold,dce". An unknown name is skipped with a warning.
static uint32_t tc__passes_parse(tc_ctx *c, const char *list) {
    uint32_t mask = 0;
    while (list && *list) {
        size_t size = strcspn(list, ", ");
        uint32_t bit = tc__pass_find(list, size);
        if (!bit && size)
            tc__warn(c, "no pass \"%.*s\"; gen/pass/passes.c has the list",
                     (int)(size < 40 ? size : 40), list);
        mask |= bit;
        list += size + (list[size] != 0);
    }
    return mask;
}

static void tc__rewrite_close(tc__rewrite *w) {
    size_t n = w->nodes ? w->nodes : 1;
    tc__free(w->ctx, w->live, n);
    tc__free(w->ctx, w->at, n * sizeof *w->at);
    tc__free(w->ctx, w->output, n * sizeof *w->output);
}

static int tc__rewrite_open(tc__rewrite *w, tc_ctx *c, const tc__graph *from,
                            const uint32_t *outputs, size_t n_outputs) {
    size_t n = from->node.count ? from->node.count : 1;
    memset(w, 0, sizeof *w);
    w->ctx = c, w->from = from, w->nodes = from->node.count;
    w->live = TC__NEW_ARRAY(c, uint8_t, n);
    w->at = TC__NEW_ARRAY(c, uint32_t, n), w->output = TC__NEW_ARRAY(c, uint32_t, n);
    if (!w->live || !w->at || !w->output) return 0;
    for (size_t i = 0; i < n_outputs; i++) w->live[outputs[i]] = TC__LIVE_OUTPUT;
    for (size_t i = w->nodes; i-- > 0;)
        for (uint32_t k = 0; w->live[i] && k < from->node.at[i]->n_in; k++)
            w->live[from->node.at[i]->in[k]] |= TC__LIVE;
    return 1;
}

static int tc__rewrite_wanted(const tc__rewrite *w, const tc__pass *p) {
    for (size_t i = 0; i < w->nodes; i++)
        if (p->wants ? w->live[i] && p->wants(w->from, w->from->node.at[i]) : !w->live[i])
            return 1;
    return 0;
}

// Makes `to`, and the outputs its nodes.
static int tc__rewrite_run(tc__rewrite *w, const tc__pass *p, tc__graph *to,
                           uint32_t *outputs, size_t n_outputs) {
    tc__graph_close(to);
    w->to = to;
    int ok = tc__graph_open(to, w->ctx, w->from->ix);
    to->known = w->from->known;
    if (!ok || !tc__loops_copy(to, w->from) || !p->run(w) || !tc__composites_carry(w) ||
        w->from->ix->failed)
        return 0;
    for (size_t i = 0; i < n_outputs; i++) outputs[i] = w->output[outputs[i]];
    return tc__checked(w->ctx, to, TC__TENSOR);
}

// Runs the passes that off_mask leaves on, and that want to; those that give other bits as `rounds` takes them. `to` is open, empty, and shares the index
// pool of `from`; `outputs` are nodes of `from` before and of `to` after. 0 = reported.
TC__UNUSED static int tc__passes_run(tc_ctx *c, const tc__graph *from, tc__graph *to,
                                     uint32_t *outputs, size_t n_outputs, uint32_t off_mask,
                                     int rounds) {
    static const tc__pass copy = {"copy", tc__pass_dce, tc__wants_any, 0};
    tc__graph other;
    const tc__graph *at = from;
    tc__fp_state host = tc__fp_enter();
    int ok = 1, passes = (int)TC__COUNT(tc__passes);
    memset(&other, 0, sizeof other);
    for (int i = 0; ok && i <= passes; i++) {
        const tc__pass *p = i < passes ? &tc__passes[i] : &copy;
        tc__rewrite w;
        if (i < passes ? tc__pass_is_off(i, off_mask, rounds) : at != from) continue;
        ok = tc__rewrite_open(&w, c, at, outputs, n_outputs);
        if (ok && tc__rewrite_wanted(&w, p)) {
            ok = tc__rewrite_run(&w, p, &other, outputs, n_outputs);
            tc__graph made = other; // and what it was made from, next
            other = *to, *to = made;
            at = to;
        }
        tc__rewrite_close(&w);
    }
    tc__graph_close(&other);
    tc__fp_leave(host);
    return ok;
}
