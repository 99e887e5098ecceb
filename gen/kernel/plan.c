// Memory plan of a program: where each stored TENSOR node lives.
// Outputs have storage of their own; every other stored node gets an offset in one arena, such that
// nodes alive at the same time do not overlap. Greedy by size, largest first, lowest gap that fits
// (Pisarchyk and Lee, arXiv 2001.03288); n is small, so the search is quadratic.

typedef struct tc__slab {
    uint32_t node;
    size_t bytes, offset;
    uint32_t first, last; // kernels that write it and read it last
    int output;           // 1 = own storage, offset unused
} tc__slab;

typedef struct tc__plan {
    TC__VEC(tc__slab) slab;
    TC__VEC(uint32_t) of; // by node: its slab plus one, 0 = none
    size_t bytes;         // of the arena
    size_t unplanned;     // sum of the arena's slabs, each by itself
    size_t align;         // of a slab
} tc__plan;

enum { TC__SLAB_ALIGN = 64 };

static tc__slab *tc__plan_find(const tc__plan *p, uint32_t node) {
    uint32_t at = node < p->of.count ? p->of.at[node] : 0;
    return at ? &p->slab.at[at - 1] : NULL;
}

static int tc__plan_name(tc_ctx *c, tc__plan *p, uint32_t node, size_t slab) {
    while (p->of.count <= node)
        if (!TC__PUSH(c, p->of, 0)) return 0;
    p->of.at[node] = (uint32_t)slab + 1;
    return 1;
}

static int tc__plan_note(tc_ctx *c, tc__plan *p, const tc__kbuf *b, uint32_t kernel,
                         int output, size_t bytes) {
    tc__slab *s = tc__plan_find(p, b->source), fresh;
    if (s) {
        s->last = kernel;
        return 1;
    }
    fresh.node = b->source, fresh.offset = 0, fresh.first = fresh.last = kernel;
    fresh.output = output;
    fresh.bytes = (bytes + TC__SLAB_SLACK + p->align - 1) / p->align * p->align;
    return tc__plan_name(c, p, b->source, p->slab.count) && TC__PUSH(c, p->slab, fresh);
}

static int tc__slab_larger(const void *a, const void *b) {
    const tc__slab *x = (const tc__slab *)a, *y = (const tc__slab *)b;
    if (x->bytes != y->bytes) return x->bytes < y->bytes ? 1 : -1;
    return x->node < y->node ? -1 : x->node > y->node;
}

static int tc__slabs_meet(const tc__slab *a, const tc__slab *b) {
    return a->first <= b->last && b->first <= a->last;
}

// Lowest offset for slab i among the slabs before it that live at the same time.
static void tc__plan_place(tc__plan *p, size_t i) {
    tc__slab *s = &p->slab.at[i];
    size_t at = 0;
    for (int moved = 1; moved;) {
        moved = 0;
        for (size_t k = 0; k < i; k++) {
            const tc__slab *o = &p->slab.at[k];
            if (o->output || !tc__slabs_meet(s, o)) continue;
            if (at < o->offset + o->bytes && o->offset < at + s->bytes) {
                at = o->offset + o->bytes;
                moved = 1;
            }
        }
    }
    s->offset = at;
    if (at + s->bytes > p->bytes) p->bytes = at + s->bytes;
}

// Sizes are expressions; `env` gives the symbols' values. `output` by node.
static int tc__plan_make(tc_ctx *c, tc__plan *p, tc__group *const *k, size_t n,
                         const uint8_t *output, const tc__ixenv *env) {
    p->slab.count = p->of.count = 0, p->bytes = p->unplanned = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t b = 0; b < k[i]->buffer.count; b++) {
            const tc__kbuf *f = &k[i]->buffer.at[b];
            if (f->place != TC__BUF_NODE) continue;
            size_t bytes = (size_t)tc__ix_eval(k[i]->body.ix, f->numel, env) *
                           tc__dtype(f->dtype)->bytes;
            if (!tc__plan_note(c, p, f, (uint32_t)i, output[f->source], bytes)) return 0;
        }
    }
    if (p->slab.count)
        qsort(p->slab.at, p->slab.count, sizeof *p->slab.at, tc__slab_larger);
    for (size_t i = 0; i < p->slab.count; i++) {
        p->of.at[p->slab.at[i].node] = (uint32_t)i + 1;
        if (p->slab.at[i].output) continue;
        p->unplanned += p->slab.at[i].bytes;
        tc__plan_place(p, i);
    }
    return 1;
}
