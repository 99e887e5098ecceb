// Memory plan of a program: where each stored TENSOR node lives.
// Outputs have storage of their own; every other stored node gets an offset in one arena, such that
// nodes alive at the same time do not overlap, or lies in an output. What is copied when the program ends lives until then; memory of
// loops (pass/loops.c) is among them. Greedy by size, largest first, lowest gap that fits (Pisarchyk and Lee,
// arXiv 2001.03288). Which placed slabs live at the same time a tree tells, in the order in which they are born, so
// a program of which few live at once is placed in n log n. A result that may lie where an operand ends (overlay.c) does:
// the two are placed as one, in the storage of an output if the result is that.

typedef struct tc__slab {
    uint32_t node; // or, if it lasts, the number of the graph's memory
    int lasts;     // from turn to turn of a loop
    size_t bytes, offset;
    uint32_t first, last; // kernels that write it and read it last
    uint32_t born; // slabs that were written before it; `first` does not fall with it
    int output;    // 1 = not in the arena but in an output, offset unused
    uint32_t
        over; // 1 + node of the slab whose memory it has, and that lives as long; 0 = none
} tc__slab;

typedef struct tc__taken {
    size_t begin, end; // in the arena
} tc__taken;

typedef struct tc__plan {
    TC__VEC(tc__slab) slab;
    uint32_t nodes;        // of the graph
    TC__VEC(uint32_t) of;  // by node, then by memory: its slab plus one, 0 = none
    size_t bytes;          // of the arena
    size_t unplanned;      // sum of the slabs that are no outputs, each by itself
    size_t align;          // of a slab
    const uint32_t *since; // by kernel: when what it stores to the end begins; NULL = then
    const tc__overlay_set *const
        *over; // by kernel: what its device lets lie over what; NULL = its list says that
    TC__VEC(uint32_t) by_birth; // index of a slab
    TC__VEC(uint32_t)
    reach; // tree over births, root 1: the largest `last` + 1 of what is placed
    TC__VEC(tc__taken) taken; // while one is placed: what the others have
} tc__plan;

enum { TC__SLAB_ALIGN = 64 };

// What a node is to a plan: in the arena, with storage of its own, in memory of the user's, of another device, in the
// arena until the program has ended, as it is copied then, or in the arena from run to run.
enum {
    TC__PLAN_HERE,
    TC__PLAN_OUTPUT,
    TC__PLAN_USERS,
    TC__PLAN_APART,
    TC__PLAN_TO_END,
    TC__PLAN_STILL
};

static tc__slab *tc__plan_find(const tc__plan *p, uint32_t node) {
    uint32_t at = node < p->of.count ? p->of.at[node] : 0;
    return at ? &p->slab.at[at - 1] : NULL;
}

// The slab in whose memory s is: itself, mostly.
static const tc__slab *tc__plan_under(const tc__plan *p, const tc__slab *s) {
    while (s->over) s = tc__plan_find(p, s->over - 1);
    return s;
}

// What it is found by.
static uint32_t tc__slab_key(const tc__plan *p, const tc__slab *s) {
    return s->lasts ? p->nodes + s->node : s->node;
}

static int tc__plan_name(tc_ctx *c, tc__plan *p, uint32_t node, size_t slab) {
    while (p->of.count <= node)
        if (!TC__PUSH(c, p->of, 0)) return 0;
    p->of.at[node] = (uint32_t)slab + 1;
    return 1;
}

// The last kernel for which what kernel `first` wrote has to be there, as kernel `at`, in loop `in`, reads it: a loop
// around that one alone reads it again.
static uint32_t tc__plan_last(const tc__graph *g, tc__group *const *k, size_t n,
                              uint32_t first, uint32_t at) {
    uint32_t last = at, in = k[at]->target.loop;
    for (; in; in = g->loop.at[in - 1].outer) {
        uint32_t begin = at, end = at;
        while (begin > first && tc__loop_has(g, in, k[begin - 1]->target.loop)) begin--;
        if (begin <= first) break; // it was written in there, too
        while (end + 1 < n && tc__loop_has(g, in, k[end + 1]->target.loop)) end++;
        last = end;
    }
    return last;
}

static int tc__plan_note(tc_ctx *c, tc__plan *p, const tc__kbuf *b, uint32_t kernel,
                         uint32_t last, int output, size_t bytes) {
    tc__slab fresh;
    fresh.node = b->source, fresh.lasts = 0, fresh.offset = 0, fresh.first = kernel,
    fresh.last = last;
    fresh.output = output, fresh.born = (uint32_t)p->slab.count, fresh.over = 0;
    fresh.bytes = (bytes + TC__SLAB_SLACK + p->align - 1) / p->align * p->align;
    if (p->align == TC__STORAGE_ALIGN &&
        bytes >= TC__COLORED) // what is next has another color
        fresh.bytes += (TC__COLOR_STEP - fresh.bytes) % TC__COLOR_PAGE;
    return tc__plan_name(c, p, b->source, p->slab.count) && TC__PUSH(c, p->slab, fresh);
}

static int tc__slab_larger(const void *a, const void *b) {
    const tc__slab *x = (const tc__slab *)a, *y = (const tc__slab *)b;
    if (x->bytes != y->bytes) return x->bytes < y->bytes ? 1 : -1;
    if (x->lasts != y->lasts) return x->lasts ? 1 : -1;
    return x->node < y->node ? -1 : x->node > y->node;
}

// ---- which of the placed live at the same time ----

static size_t tc__plan_leaves(const tc__plan *p) { return p->reach.count / 2; }

static int tc__plan_begin(tc_ctx *c, tc__plan *p) {
    size_t leaves = 1, n = p->slab.count;
    while (leaves < n) leaves *= 2;
    if (!TC__VEC_RESERVE(c, p->reach, 2 * leaves) || !TC__VEC_RESERVE(c, p->by_birth, n) ||
        !TC__VEC_RESERVE(c, p->taken, n)) // other sizes of a frozen context take no more
        return 0;
    p->reach.count = 2 * leaves, p->by_birth.count = n;
    memset(p->reach.at, 0, 2 * leaves * sizeof *p->reach.at);
    for (size_t i = 0; i < n; i++) p->by_birth.at[p->slab.at[i].born] = (uint32_t)i;
    return 1;
}

static void tc__plan_placed(tc__plan *p, const tc__slab *s) {
    uint32_t reach = s->last + 1;
    for (size_t k = tc__plan_leaves(p) + s->born; k && p->reach.at[k] < reach; k /= 2)
        p->reach.at[k] = reach;
}

// The first birth from `from` on that is placed and lives at kernel `when` or later, or the leaves.
static size_t tc__plan_next(const tc__plan *p, size_t from, uint32_t when) {
    size_t leaves = tc__plan_leaves(p), k = leaves + from;
    if (from >= leaves) return leaves;
    while (p->reach.at[k] <= when) {
        while (k % 2) k /= 2; // a right child, or the root
        if (!k) return leaves;
        k++;
    }
    while (k < leaves) k = 2 * k + (p->reach.at[2 * k] <= when);
    return k - leaves;
}

// Fills p->taken.
static void tc__plan_look(tc__plan *p, const tc__slab *s) {
    p->taken.count = 0;
    for (size_t i = tc__plan_next(p, 0, s->first); i < tc__plan_leaves(p);
         i = tc__plan_next(p, i + 1, s->first)) {
        const tc__slab *o = &p->slab.at[p->by_birth.at[i]];
        tc__taken t = {o->offset, o->offset + o->bytes};
        if (o->first > s->last) break;
        p->taken.at[p->taken.count++] = t;
    }
}

// ---- places ----

static int tc__taken_order(const void *a, const void *b) {
    const tc__taken *x = (const tc__taken *)a, *y = (const tc__taken *)b;
    return x->begin < y->begin ? -1 : x->begin > y->begin;
}

// Moves *at behind what it meets of p->taken, in the order there; returns whether it moved.
static int tc__plan_bump(const tc__plan *p, size_t bytes, size_t *at) {
    size_t was = *at;
    for (size_t k = 0; k < p->taken.count; k++) {
        const tc__taken *t = &p->taken.at[k];
        if (*at < t->end && t->begin < *at + bytes) *at = t->end;
    }
    return *at != was;
}

// Lowest offset for s among the slabs that are placed and live at the same time. Slabs of one size
// mostly lie in the order of their births: then nothing is sorted.
static void tc__plan_place(tc__plan *p, tc__slab *s) {
    size_t at = 0;
    tc__plan_look(p, s);
    if (tc__plan_bump(p, s->bytes, &at) && tc__plan_bump(p, s->bytes, &at)) {
        qsort(p->taken.at, p->taken.count, sizeof *p->taken.at, tc__taken_order);
        tc__plan_bump(p, s->bytes, &at);
    }
    s->offset = at;
    if (at + s->bytes > p->bytes) p->bytes = at + s->bytes;
    tc__plan_placed(p, s);
}

// Sorts the slabs, which stand in the order of their births, and places those of the arena.
static int tc__plan_arrange(tc_ctx *c, tc__plan *p) {
    if (p->slab.count)
        qsort(p->slab.at, p->slab.count, sizeof *p->slab.at, tc__slab_larger);
    if (!tc__plan_begin(c, p)) return 0;
    for (size_t i = 0; i < p->slab.count; i++)
        p->of.at[tc__slab_key(p, &p->slab.at[i])] = (uint32_t)i + 1;
    for (size_t i = 0; i < p->slab.count; i++) {
        tc__slab *s = &p->slab.at[i];
        if (s->output) continue;
        p->unplanned += s->bytes;
        s->output = tc__plan_under(p, s)->output;
        if (!s->over) tc__plan_place(p, s);
    }
    for (size_t i = 0; i < p->slab.count; i++) {
        tc__slab *s = &p->slab.at[i];
        if (s->over) s->offset = tc__plan_under(p, s)->offset;
    }
    return 1;
}

static int tc__slab_earlier(const void *a, const void *b) {
    const tc__slab *x = (const tc__slab *)a, *y = (const tc__slab *)b;
    if (x->first != y->first) return x->first < y->first ? -1 : 1;
    return x->born < y->born ? -1 : x->born > y->born;
}

// Slabs to the end begin when they are to.
static void tc__plan_begin_early(tc__plan *p, const uint8_t *output) {
    for (size_t i = 0; p->since && i < p->slab.count; i++) {
        tc__slab *s = &p->slab.at[i];
        if (output[s->node] == TC__PLAN_TO_END) s->first = p->since[s->first];
    }
}

// Births follow from when slabs begin.
static void tc__plan_bear(tc__plan *p) {
    if (p->slab.count)
        qsort(p->slab.at, p->slab.count, sizeof *p->slab.at, tc__slab_earlier);
    for (size_t i = 0; i < p->slab.count; i++) p->slab.at[i].born = (uint32_t)i;
}

// ---- what lasts from turn to turn ----
// Memory of a loop is a slab that lives while the loop runs, and from the first kernel that meets it to the last. On
// a device nothing tells which kernels of a list meet it before or behind a loop: it lives as long as those lists.

// Bytes from one half or row to the next.
static size_t tc__lasting_step(const tc__graph *g, const tc__lasting *m,
                               const tc__ixenv *env) {
    size_t step = (size_t)tc__ix_eval(g->ix, m->numel, env) * tc__dtype(m->dtype)->bytes;
    return m->stacked ? step : (step + TC__SLAB_SLACK + 63) / 64 * 64;
}

static size_t tc__lasting_bytes(const tc__graph *g, const tc__lasting *m,
                                const tc__ixenv *env) {
    int64_t rows = m->stacked ? tc__ix_eval(g->ix, g->loop.at[m->loop].turns, env) : 2;
    rows += m->stacked && m->carried;
    return tc__lasting_step(g, m, env) * (size_t)rows + TC__SLAB_SLACK;
}

// Kernels from one to another; UINT32_MAX: none.
typedef struct tc__span {
    uint32_t first, last;
} tc__span;

static void tc__span_meet(tc__span *s, uint32_t first, uint32_t last) {
    if (first < s->first) s->first = first;
    if (last > s->last || s->last == UINT32_MAX) s->last = last;
}

// What is known while the plan of a graph with loops is made.
typedef struct tc__lives {
    uint32_t *place; // by node: 1 + its place, if it is stored in one
    tc__span *loop;  // by loop: its kernels
    tc__span *life;  // by memory: those that it has to be there for
    tc__span *run;   // by kernel: its neighbours in the same loop
} tc__lives;

static void tc__lives_close(tc_ctx *c, tc__lives *l, const tc__graph *g, size_t n) {
    if (l->place) TC__FREE_ARRAY(c, l->place, g->node.count);
    if (l->loop) TC__FREE_ARRAY(c, l->loop, g->loop.count);
    if (l->life) TC__FREE_ARRAY(c, l->life, g->memory.count);
    if (l->run) TC__FREE_ARRAY(c, l->run, n);
}

static int tc__lives_open(tc_ctx *c, tc__lives *l, const tc__graph *g, size_t n) {
    l->place = TC__NEW_ARRAY(c, uint32_t, g->node.count);
    l->loop = TC__NEW_ARRAY(c, tc__span, g->loop.count);
    l->life = TC__NEW_ARRAY(c, tc__span, g->memory.count);
    l->run = TC__NEW_ARRAY(c, tc__span, n);
    if (!l->place || !l->loop || !l->life || !l->run) return 0;
    memset(l->loop, 0xff, g->loop.count * sizeof *l->loop);
    memset(l->life, 0xff, g->memory.count * sizeof *l->life);
    for (uint32_t i = 0; i < g->place.count; i++)
        if (g->node.at[g->place.at[i].node]->op != TC_OP_INPUT)
            l->place[g->place.at[i].node] = i + 1;
    return 1;
}

static void tc__lives_meet(tc__lives *l, const tc__graph *g, tc__group *const *k, size_t n,
                           uint32_t i) {
    uint32_t in = k[i]->target.loop;
    for (; in; in = g->loop.at[in - 1].outer) tc__span_meet(&l->loop[in - 1], i, i);
    for (size_t b = 0; b < k[i]->buffer.count; b++) {
        const tc__kbuf *f = &k[i]->buffer.at[b];
        uint32_t place = f->place == TC__BUF_NODE ? l->place[f->source] : 0;
        if (f->place == TC__BUF_INPUT && f->source >= g->placed)
            place = f->source - g->placed + 1;
        if (!place) continue;
        tc__span *s = &l->life[g->place.at[place - 1].memory];
        tc__span_meet(s, i, i);
        tc__span_meet(s, i, tc__plan_last(g, k, n, s->first, i));
    }
}

static void tc__lives_look(tc__lives *l, const tc__graph *g, tc__group *const *k,
                           size_t n) {
    for (uint32_t i = 0; i < n; i++) {
        int same = i && k[i]->target.loop == k[i - 1]->target.loop;
        l->run[i].first = same ? l->run[i - 1].first : i;
        tc__lives_meet(l, g, k, n, i);
    }
    for (uint32_t i = (uint32_t)n; i-- > 0;) {
        int same = i + 1 < n && l->run[i + 1].first <= i;
        l->run[i].last = same ? l->run[i + 1].last : i;
    }
    for (size_t i = 0; i < g->memory.count; i++) {
        const tc__span *loop = &l->loop[g->memory.at[i].loop];
        if (loop->last != UINT32_MAX) tc__span_meet(&l->life[i], loop->first, loop->last);
        if (l->life[i].last == UINT32_MAX)
            tc__span_meet(&l->life[i], 0, (uint32_t)n - 1); // nobody knows who asks for it
    }
}

// Memory of loops on the device; 0 = out of memory.
static int tc__plan_lasting(tc_ctx *c, tc__plan *p, const tc__graph *g, tc__group *const *k,
                            size_t n, int device, const tc__ixenv *env) {
    tc__lives l;
    int ok = tc__lives_open(c, &l, g, n);
    if (ok) tc__lives_look(&l, g, k, n);
    for (uint32_t i = 0; ok && i < g->memory.count; i++) {
        const tc__lasting *m = &g->memory.at[i];
        tc__slab s;
        if (m->device != device) continue;
        memset(&s, 0, sizeof s);
        s.node = i, s.lasts = 1, s.born = (uint32_t)p->slab.count;
        s.first = l.run[l.life[i].first].first, s.last = l.run[l.life[i].last].last;
        s.bytes = (tc__lasting_bytes(g, m, env) + p->align - 1) / p->align * p->align;
        ok = tc__plan_name(c, p, tc__slab_key(p, &s), p->slab.count) &&
             TC__PUSH(c, p->slab, s);
    }
    tc__lives_close(c, &l, g, n);
    return ok;
}

// ---- what rows of a loop share ----

enum {
    TC__PLAN_ROWS = 1 << 22
}; // bytes of a loop's intermediates that do not share memory

// Kernels from i on that are in the same loop as it.
static size_t tc__plan_together(tc__group *const *k, size_t n, size_t i) {
    size_t end = i + 1;
    while (end < n && k[end]->target.loop == k[i]->target.loop) end++;
    return end;
}

// What lives within a turn of a loop lives as long as the loop, where that is little: no two take the same place in turn,
// which rows that go through the turns by themselves could not (exec/strands.c).
static void tc__plan_in_loops(tc__plan *p, tc__group *const *k, size_t n) {
    for (size_t i = 0, end; i < n; i = end) {
        size_t bytes = 0;
        end = tc__plan_together(k, n, i);
        if (!k[i]->target.loop) continue;
        for (size_t s = 0; s < p->slab.count; s++)
            if (p->slab.at[s].first >= i && p->slab.at[s].first < end)
                bytes += p->slab.at[s].bytes;
        for (size_t s = 0; bytes <= TC__PLAN_ROWS && s < p->slab.count; s++) {
            tc__slab *b = &p->slab.at[s];
            if (b->output || b->first < i || b->last >= end) continue;
            b->first = (uint32_t)i, b->last = (uint32_t)end - 1;
        }
    }
}

// ---- one in the memory of another ----

// The slab of buffer b, if it is of that kind.
static tc__slab *tc__plan_own(const tc__plan *p, const tc__kbuf *b, const uint8_t *output,
                              int kind) {
    if (b->place != TC__BUF_NODE || output[b->source] != kind) return NULL;
    return tc__plan_find(p, b->source);
}

// Whether what kernel i stores to buffer `out` can lie where its buffer `in` ends, which is in the arena for no longer
// than kernels ask for it. So is the result, or it is an output, in whose storage the operand is made then: nobody else
// has that before the program has run.
static int tc__plan_overlays(const tc__plan *p, tc__group *const *k, uint32_t i, size_t out,
                             size_t in, const uint8_t *output) {
    const tc__kbuf *to = &k[i]->buffer.at[out];
    const tc__slab *s = tc__plan_own(p, to, output, TC__PLAN_HERE);
    const tc__slab *t = tc__plan_own(p, &k[i]->buffer.at[in], output, TC__PLAN_HERE);
    if (!s) s = tc__plan_own(p, to, output, TC__PLAN_OUTPUT);
    return s && t && s->first == i && t->first < i && t->last == i && !s->over &&
           s->bytes == t->bytes && k[t->first]->target.loop == k[i]->target.loop &&
           (p->over ? p->over[i] && tc__overlay_set_has(p->over[i], out, in)
                    : tc__overlays(k[i], out, in));
}

// All lives are known. What lies over another gives it its own end, an output that has another in its storage begins
// with it.
static void tc__plan_overlay(tc__plan *p, tc__group *const *k, uint32_t i,
                             const uint8_t *output) {
    size_t n = k[i]->buffer.count;
    for (size_t in = 0; in < n; in++)
        for (size_t out = 0; out < n; out++) {
            if (!tc__plan_overlays(p, k, i, out, in, output)) continue;
            const tc__slab *t = tc__plan_find(p, k[i]->buffer.at[in].source);
            tc__slab *s = tc__plan_find(p, k[i]->buffer.at[out].source);
            tc__slab *root = tc__plan_find(p, tc__plan_under(p, t)->node);
            if (s->output)
                s->first = root->first, root->over = s->node + 1;
            else
                s->over = root->node + 1, root->last = s->last;
            break;
        }
}

// What kernels of g have on the device. Sizes are expressions; `env` gives the symbols' values. `output` by node:
// TC__PLAN_OUTPUT, ...
static int tc__plan_make(tc_ctx *c, tc__plan *p, const tc__graph *g, tc__group *const *k,
                         size_t n, int device, const uint8_t *output,
                         const tc__ixenv *env) {
    p->slab.count = p->of.count = 0, p->bytes = p->unplanned = 0;
    p->nodes = (uint32_t)g->node.count;
    for (size_t i = 0; i < n; i++) {
        for (size_t b = 0; b < k[i]->buffer.count; b++) {
            const tc__kbuf *f = &k[i]->buffer.at[b];
            if (f->place != TC__BUF_NODE || output[f->source] == TC__PLAN_APART) continue;
            tc__slab *s = tc__plan_find(p, f->source);
            if (s) {
                uint32_t last = tc__plan_last(g, k, n, s->first, (uint32_t)i);
                s->last = s->last > last ? s->last : last;
                continue;
            }
            size_t bytes = (size_t)tc__ix_eval(k[i]->body.ix, f->numel, env) *
                           tc__dtype(f->dtype)->bytes;
            int kind = output[f->source];
            int stays = kind == TC__PLAN_STILL;
            uint32_t last = (uint32_t)(stays || kind == TC__PLAN_TO_END ? n - 1 : i);
            if (!tc__plan_note(c, p, f, (uint32_t)(stays ? 0 : i), last,
                               kind == TC__PLAN_OUTPUT || kind == TC__PLAN_USERS, bytes))
                return 0;
        }
    }
    for (size_t i = 0; i < n; i++) tc__plan_overlay(p, k, (uint32_t)i, output);
    tc__plan_begin_early(p, output);
    if (!device && g->loop.count) tc__plan_in_loops(p, k, n);
    if (n && g->memory.count && !tc__plan_lasting(c, p, g, k, n, device, env)) return 0;
    tc__plan_bear(p);
    return tc__plan_arrange(c, p);
}

static void tc__plan_close(tc_ctx *c, tc__plan *p) {
    TC__VEC_FREE(c, p->slab);
    TC__VEC_FREE(c, p->of);
    TC__VEC_FREE(c, p->by_birth);
    TC__VEC_FREE(c, p->reach);
    TC__VEC_FREE(c, p->taken);
}
