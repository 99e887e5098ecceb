// Parts of an external that a program writes: which views they are, whether two of them meet, and what is stored there. Input:
// a visit, and the cells of its graph. exec/outputs.c makes outputs of them.

// Whether a view shows the elements of its operand, all of them.
static int tc__shows_all(const tc__visit *v, uint32_t code) {
    const tc__step *s = v->path.at[code];
    return s->op == TC_OP_RESHAPE || s->op == TC_OP_PERMUTE;
}

// Whether two operands are the same view.
static int tc__same_view(const tc__visit *v, uint32_t a, uint32_t b) {
    while (a != b) {
        if ((a | b) & TC__EXTERNAL) return 0;
        const tc__step *s = v->path.at[a], *t = v->path.at[b];
        if (!s->view || !t->view || s->op != t->op || s->n_attr != t->n_attr) return 0;
        if (memcmp(s->attr, t->attr, s->n_attr * sizeof *s->attr)) return 0;
        a = s->in[0], b = t->in[0];
    }
    return 1;
}

enum { TC__PART_VIEWS = 8 }; // one of the other, that are compared

// The views from an external to `code`, the external's first, or none: there are too many. Gives their number.
static int tc__views_of(const tc__visit *v, uint32_t code, uint32_t way[TC__PART_VIEWS]) {
    int n = 0;
    for (uint32_t at = code; !(at & TC__EXTERNAL); at = v->path.at[at]->in[0]) n++;
    if (n > TC__PART_VIEWS) return 0;
    for (int i = n; i-- > 0; code = v->path.at[code]->in[0]) way[i] = code;
    return n;
}

// Whether slice t of the same tensor begins behind the end of slice s, whatever the sizes are.
static int tc__slice_follows(tc__ixpool *ix, const tc__step *s, const tc__step *t) {
    if (!tc__ix_equals(s->attr[TC__SLICE_STEP], 1) ||
        !tc__ix_equals(t->attr[TC__SLICE_STEP], 1))
        return 0;
    tc__ix end = tc__ix_add(ix, s->attr[TC__SLICE_START], s->attr[TC__SLICE_COUNT]);
    tc__ix room = tc__ix_sub(ix, t->attr[TC__SLICE_START], end);
    return tc__ix_is_const(room) && tc__ix_value(room) >= 0;
}

// Whether two views of an external have no element in common: they are made alike, to a slice that is another one.
static int tc__views_are_apart(tc__builder *b, uint32_t a, uint32_t c) {
    uint32_t way[2][TC__PART_VIEWS];
    int n = tc__views_of(b->visit, a, way[0]), m = tc__views_of(b->visit, c, way[1]);
    for (int i = 0; i < n && i < m; i++) {
        const tc__step *s = tc__local_step(b, b->visit->path.at[way[0][i]]),
                       *t = tc__local_step(b, b->visit->path.at[way[1][i]]);
        if (!s || !t || s->op != t->op || s->n_attr != t->n_attr) return 0;
        if (!memcmp(s->attr, t->attr, s->n_attr * sizeof *s->attr)) continue;
        return s->op == TC_OP_SLICE && s->attr[TC__SLICE_DIM] == t->attr[TC__SLICE_DIM] &&
               (tc__slice_follows(b->g->ix, s, t) || tc__slice_follows(b->g->ix, t, s));
    }
    return 0;
}

// The view whose elements are written by step s to external e, all of them and no others; UINT32_MAX = it writes elsewhere.
static uint32_t tc__written_view(const tc__visit *v, const tc__step *s, uint32_t e) {
    if (s->op != TC_OP_COPY_ || tc__memory_of(v, s->in[0]) != (TC__EXTERNAL | e))
        return UINT32_MAX;
    uint32_t code = s->in[0];
    while (!(code & TC__EXTERNAL) && tc__shows_all(v, code)) code = v->path.at[code]->in[0];
    return code;
}

// Whether another part of external e is written that may meet this one.
static int tc__part_is_met(tc__builder *b, uint32_t count, uint32_t e, uint32_t code) {
    for (uint32_t i = 0; i < count; i++) {
        uint32_t other = tc__written_view(b->visit, b->visit->path.at[i], e);
        if (other == UINT32_MAX || other == code) continue;
        if (other & TC__EXTERNAL || !tc__views_are_apart(b, code, other)) return 1;
    }
    return 0;
}

// What is stored at a view of external e. Where the external is read behind all that is stored there, and shares its memory
// with no other one, that is what was written to the view; else what is to be seen there.
static const tc__node *tc__target_node(tc__builder *b, uint32_t count, uint32_t e,
                                       uint32_t code) {
    uint32_t cell = tc__code_cell(b, code);
    const tc__node *root = tc__cell_at(b, e)->node, *own = tc__cell_at(b, cell)->stored;
    int stays = b->in_place && tc__cell_root(b, cell) == e && root && own &&
                root->op == TC_OP_INPUT && root->n_in > 1;
    if (stays && tc__has_operand(root, own->id) && !tc__part_is_met(b, count, e, code))
        return own;
    return tc__cell_read(b, cell);
}
