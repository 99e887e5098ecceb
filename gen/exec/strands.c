// Loops whose threads do not wait for each other. Input: a loop of the host's, laid out. Output: whether its kernels fall
// into parts, each of which reads nothing of what another one writes, in whatever turn that is; then a thread takes a part
// through all turns by itself. An LSTM is such a loop, since rows of a batch never meet: 512 times a thread would have waited
// for the other one, which takes a tenth of its training step.
//
// Part i of n has the same share of the items of each kernel. What it reads and writes is told by bounds of indices for its
// items; of memory that moves with the turns, within a row of it, so that no turn of one part meets any turn of another.

// Elements that a part meets of some memory.
typedef struct tc__met_range {
    uint64_t
        memory;     // 0 = the arena, in bytes; a carry or stack of the loop's, or an output
    int64_t lo, hi; // bytes
    int64_t part;
    int written;
} tc__met_range;

// An address that moves with the turns.
typedef struct tc__strand_move {
    uint32_t buffer, place;
    size_t begin; // bytes from there on
} tc__strand_move;

// What a thread has of its own while it goes through the turns.
typedef struct tc__strand_own {
    tc__kargs *args; // by launch
    void **buf;      // of all launches
    int64_t *size;
} tc__strand_own;

typedef struct tc__strands {
    uint32_t *launch, launches; // of a turn, in their order
    uint32_t buffers, moves;
    tc__strand_move *move;
    tc__strand_own *own; // by worker
} tc__strands;

enum { TC__STRAND_MOST = 4 }; // parts of a thread

// ---- what parts meet ----

// The first item of part i of n of a launch.
static int64_t tc__strand_item(const tc__launch *l, int64_t i, int64_t n) {
    return l->items / n * i;
}

// Whether the items of a launch are rows or columns, one behind the other: so many each.
static int64_t tc__strand_step(const tc__launch *l, tc__axis *axis) {
    const tc__group_shape *s = &l->group->shape;
    int64_t step = s->grain;
    if (l->opaque || l->behind || l->still || l->group->target.device || s->prologue ||
        s->list || s->windows.channels || !tc__ix_is_const(s->rows) ||
        !tc__ix_is_const(s->cols) || !tc__ix_is_const(s->items))
        return 0;
    *axis = s->split_columns ? TC__COL : TC__ROW;
    if (s->kind != TC__CONTRACTION && !s->split_columns)
        step = s->vector == TC__ROW ? (int64_t)TC__LANES : 1;
    if (s->kind == TC__CONTRACTION && !tc__ix_equals(s->batch, 1)) return 0;
    int64_t all = tc__ix_value(s->split_columns ? s->cols : s->rows);
    return step > 0 && l->items == (all + step - 1) / step ? step : 0;
}

// Bounds of index e where the variable of an axis runs over [lo, hi).
static void tc__strand_bounds(tc__ixpool *x, tc__ix e, tc__axis axis, int64_t lo,
                              int64_t hi, int64_t *first, int64_t *last) {
    tc__ix v = tc__ix_find_var(x, e, axis);
    tc__ix some = tc__ix_sym(x, INT32_MAX, lo, hi - 1);
    for (int i = 0; v && i < TC__IX_ATOMS; i++) {
        e = tc__ix_subst(x, e, v, some);
        v = tc__ix_find_var(x, e, axis);
    }
    if (x->failed) v = 1; // without memory nothing is known
    *first = v ? -TC__IX_INF : tc__ix_lo(x, e), *last = v ? TC__IX_INF : tc__ix_hi(x, e);
}

// Where buffer b is: *at = bytes to its first element. 0 = memory that no kernel of a loop that falls into parts writes.
static int tc__strand_memory(const tc__program *p, const tc__kbuf *b, tc__met_range *m,
                             int64_t *at) {
    const tc__graph *g = &p->graph;
    uint32_t place = tc__spot_of(&p->loops, g, b);
    *at = b->begin * (int64_t)tc__dtype(b->dtype)->bytes;
    if (place) return m->memory = 1 + g->place.at[place - 1].memory, 1;
    if (b->place != TC__BUF_NODE) return 0;
    const tc__slab *s = tc__plan_find(&p->plan, b->source);
    if (!s) return 0;
    s = tc__plan_under(&p->plan, s);
    m->memory = s->output ? (uint64_t)1 + g->memory.count + s->node : 0;
    if (!s->output) *at += (int64_t)s->offset;
    return 1;
}

// Whether memory of a node is the user's: who knows what else is there.
static int tc__strand_is_users(const tc__program *p, const tc__kbuf *b) {
    for (size_t i = 0; b->place == TC__BUF_NODE && i < p->output.count; i++)
        if (p->output.at[i].node == b->source && p->output.at[i].direct) return 1;
    return 0;
}

typedef TC__VEC(tc__met_range) tc__met_ranges;

// Notes what access n of launch l, whose items are `step` each of an axis, meets in each of the parts. 0 = that cannot be told, or
// there is no memory.
static int tc__strand_access(tc__program *p, const tc__launch *l, const tc__node *n,
                             tc__axis axis, int64_t step, int64_t parts,
                             tc__met_ranges *all) {
    const tc__kbuf *b = tc__buffer_of(l->group, n);
    int64_t at, first, last;
    int64_t bytes = (int64_t)tc__dtype(b->dtype)->bytes;
    tc__met_range m;
    m.written = n->op == TC_OP_STORE;
    if (!tc__is_memory(b)) return 1;
    if (m.written && tc__strand_is_users(p, b)) return 0;
    if (!tc__strand_memory(p, b, &m, &at)) return !m.written;
    for (m.part = 0; m.part < parts; m.part++) {
        tc__strand_bounds(l->group->body.ix, n->attr[TC__ACCESS_INDEX], axis,
                          tc__strand_item(l, m.part, parts) * step,
                          tc__strand_item(l, m.part + 1, parts) * step, &first, &last);
        if (first <= -TC__IX_INF / 16 || last >= TC__IX_INF / 16) return 0;
        m.lo = at + first * bytes, m.hi = at + (last + 1) * bytes;
        if (!TC__PUSH(p->ctx, *all, m)) return 0;
    }
    return 1;
}

static int tc__strand_order(const void *a, const void *b) {
    const tc__met_range *x = (const tc__met_range *)a, *y = (const tc__met_range *)b;
    if (x->memory != y->memory) return x->memory < y->memory ? -1 : 1;
    return x->lo < y->lo ? -1 : x->lo > y->lo;
}

// Whether no part writes what another one meets. Sorted: from each range on only those that begin in it are looked at.
static int tc__strand_holds(tc__met_ranges *all) {
    if (all->count) qsort(all->at, all->count, sizeof *all->at, tc__strand_order);
    for (size_t i = 0; i < all->count; i++)
        for (size_t k = i + 1; k < all->count; k++) {
            const tc__met_range *a = &all->at[i], *b = &all->at[k];
            if (b->memory != a->memory || b->lo >= a->hi) break;
            if (a->part != b->part && (a->written || b->written)) return 0;
        }
    return 1;
}

// ---- which loops ----

// Whether act i is a launch that may be done in parts: all its turns are the same, and nobody waits for what it finds.
static int tc__strand_may(const tc__program *p, uint32_t i) {
    tc__axis axis;
    if (p->act[i].kind != TC__ACT_LAUNCH) return 0;
    const tc__launch *l = &p->launch.at[p->act[i].at];
    return l->items > 0 && tc__strand_step(l, &axis) && !l->group->target.guarded;
}

// Parts that the items of all launches of a loop fall into, a few for each thread; 0 = too few.
static int64_t tc__strand_parts(const tc__program *p, const tc__looping *r) {
    int64_t parts = 0, threads = tc__program_threads(p), best = 0;
    for (uint32_t i = r->begin + 1; i < r->end; i++) {
        if (!tc__strand_may(p, i)) return 0;
        parts = tc__ix_gcd(parts, p->launch.at[p->act[i].at].items);
    }
    for (int64_t n = threads; n <= parts && n <= threads * TC__STRAND_MOST; n++)
        if (parts % n == 0 && (!best || n % threads == 0)) best = n;
    return threads > 1 ? best : 0;
}

static int tc__strand_is_whole(tc__program *p, const tc__looping *r, int64_t parts) {
    tc__met_ranges all;
    memset(&all, 0, sizeof all);
    int ok = 1;
    for (uint32_t i = r->begin + 1; ok && i < r->end; i++) {
        const tc__launch *l = &p->launch.at[p->act[i].at];
        tc__axis axis = TC__ROW;
        int64_t step = tc__strand_step(l, &axis);
        for (size_t k = 0; ok && k < l->group->body.node.count; k++) {
            const tc__node *n = l->group->body.node.at[k];
            if (n->op == TC_OP_LOAD || n->op == TC_OP_STORE)
                ok = tc__strand_access(p, l, n, axis, step, parts, &all);
        }
    }
    ok = ok && tc__strand_holds(&all);
    TC__VEC_FREE(p->ctx, all);
    return ok;
}

// Sizes of a program, and behind them the turns of its loops.
static size_t tc__strand_sizes(const tc__program *p) {
    return p->size.count + p->graph.loop.count;
}

static int tc__strand_open_own(tc__program *p, tc__strands *a, uint32_t first) {
    size_t threads = (size_t)tc__threads(p->ctx);
    a->own = TC__ANEW_ARRAY(&p->arena, tc__strand_own, threads);
    a->move = TC__ANEW_ARRAY(&p->arena, tc__strand_move, a->buffers + 1);
    a->launch = TC__ANEW_ARRAY(&p->arena, uint32_t, a->launches + 1);
    if (!a->own || !a->move || !a->launch) return 0;
    for (uint32_t i = 0; i < a->launches; i++) a->launch[i] = p->act[first + i].at;
    for (size_t i = 0; i < threads; i++) {
        tc__strand_own *o = &a->own[i];
        o->args = TC__ANEW_ARRAY(&p->arena, tc__kargs, a->launches);
        o->buf = TC__ANEW_ARRAY(&p->arena, void *, a->buffers + 1);
        o->size = TC__ANEW_ARRAY(&p->arena, int64_t, tc__strand_sizes(p) + 1);
        if (!o->args || !o->buf || !o->size) return 0;
    }
    return 1;
}

// Which of the addresses move with the turns of the loop.
static void tc__strand_find_moves(const tc__program *p, tc__strands *a, uint32_t loop) {
    uint32_t at = 0;
    a->moves = 0;
    for (uint32_t i = 0; i < a->launches; i++) {
        const tc__group *k = p->launch.at[a->launch[i]].group;
        for (size_t b = 0; b < k->buffer.count; b++, at++) {
            const tc__kbuf *f = &k->buffer.at[b];
            uint32_t place = tc__spot_of(&p->loops, &p->graph, f);
            if (!place ||
                p->graph.memory.at[p->graph.place.at[place - 1].memory].loop != loop)
                continue;
            tc__strand_move *m = &a->move[a->moves++];
            m->buffer = at, m->place = place - 1;
            m->begin = (size_t)f->begin * tc__dtype(f->dtype)->bytes;
        }
    }
}

static tc__strands *tc__strand_make(tc__program *p, uint32_t loop) {
    const tc__looping *r = &p->loops.run[loop];
    tc__strands *a = TC__ANEW(&p->arena, tc__strands);
    if (!a) return NULL;
    a->launches = r->end - r->begin - 1;
    for (uint32_t i = r->begin + 1; i < r->end; i++)
        a->buffers += (uint32_t)p->launch.at[p->act[i].at].group->buffer.count;
    if (!tc__strand_open_own(p, a, r->begin + 1)) return NULL;
    tc__strand_find_moves(p, a, loop);
    return a;
}

// Looks at a loop, once for each sizes; what a loop asks for in each turn is known by all threads or by none. Without
// memory it goes as others do.
static void tc__strand_look(tc__program *p, uint32_t loop) {
    tc__looping *r = &p->loops.run[loop];
    tc__error_mark before = tc__error_now(p->ctx);
    int failed = p->ix.failed;
    r->parts = r->looked = 1;
    if (p->graph.loop.at[loop].go) return;
    int64_t parts = tc__strand_parts(p, r);
    if (!parts || !tc__strand_is_whole(p, r, parts)) parts = 1;
    if (parts > 1 && !r->strands) r->strands = tc__strand_make(p, loop);
    if (r->strands) r->parts = parts;
    p->ix.failed = failed;
    tc__error_restore(p->ctx, before);
}

// ---- running ----

// Whether the turns of a loop are worth a thread for each part.
static int tc__strand_pays(const tc__program *p, const tc__looping *r) {
    double work = 0; // in grains
    for (uint32_t i = 0; i < r->strands->launches; i++) {
        const tc__launch *l = &p->launch.at[r->strands->launch[i]];
        work += (double)l->items / (double)(l->grain > 0 ? l->grain : 1);
    }
    return work * (double)r->turns >= (double)r->parts;
}

typedef struct tc__strand_run {
    tc__program *p;
    uint32_t loop;
    uint64_t turn; // of tc__kargs: the last one that somebody has
} tc__strand_run;

// Addresses and sizes as they are where the loop begins.
static void tc__strand_begin(const tc__strand_run *q, tc__strand_own *o) {
    const tc__program *p = q->p;
    const tc__strands *a = p->loops.run[q->loop].strands;
    void **buf = o->buf;
    memcpy(o->size, p->size.at, tc__strand_sizes(p) * sizeof *o->size);
    for (uint32_t i = 0; i < a->launches; i++) {
        const tc__launch *l = &p->launch.at[a->launch[i]];
        size_t n = l->group->buffer.count;
        memcpy(buf, l->buf, n * sizeof *buf);
        o->args[i] = l->args, o->args[i].buf = buf, o->args[i].size = o->size;
        buf += n;
    }
}

// Turn r->done of one part.
static void tc__strand_turn(const tc__strand_run *q, tc__strand_own *o,
                            const tc__looping *r, int64_t part, int worker) {
    const tc__program *p = q->p;
    const tc__strands *a = r->strands;
    o->size[p->graph.loop.at[q->loop].slot] = r->turn;
    for (uint32_t i = 0; i < a->moves; i++) {
        const tc__strand_move *m = &a->move[i];
        const tc__spot *s = &p->graph.place.at[m->place];
        o->buf[m->buffer] =
            tc__spot_in_turn(&p->loops.memory[s->memory], &p->graph, s, r) + m->begin;
    }
    uint64_t turn = q->turn + (uint64_t)(part * r->turns + r->done) * (uint64_t)a->launches;
    for (uint32_t i = 0; i < a->launches; i++) {
        const tc__launch *l = &p->launch.at[a->launch[i]];
        int64_t lo = tc__strand_item(l, part, r->parts),
                hi = tc__strand_item(l, part + 1, r->parts);
        if (!l->keeps) o->args[i].turn = turn + i + 1;
        if (l->run)
            l->run(&o->args[i], lo, hi, worker);
        else
            tc__interp_run(l->interp, &o->args[i], lo, hi, worker);
    }
}

// A piece of a job: all turns of some parts.
static void tc__strand_go(void *arg, int64_t lo, int64_t hi, int worker) {
    const tc__strand_run *q = (const tc__strand_run *)arg;
    tc__looping r = q->p->loops.run[q->loop];
    int backward = q->p->graph.loop.at[q->loop].backward;
    tc__strand_own *o = &r.strands->own[worker];
    tc__fp_state host = tc__fp_enter();
    tc__strand_begin(q, o);
    for (int64_t part = lo; part < hi; part++)
        for (r.done = 0; r.done < r.turns; r.done++) {
            r.turn = backward ? r.turns - 1 - r.done : r.done;
            tc__strand_turn(q, o, &r, part, worker);
        }
    tc__fp_leave(host);
}

// The turns of a loop that has begun, if threads go through them by themselves: 1 = they did.
static int tc__strand_turns(tc__program *p, const tc__visit *v, uint32_t loop) {
    tc__looping *r = &p->loops.run[loop];
    if (!r->looked) tc__strand_look(p, loop);
    if (r->parts < 2 || p->ctx->profiling || !tc__strand_pays(p, r)) return 0;
    for (uint32_t i = 0; i < r->strands->launches; i++) {
        tc__kargs *args = &p->launch.at[r->strands->launch[i]].args;
        args->seed = tc__visit_seed(p->ctx, v), args->draw = v->draw;
    }
    tc__strand_run q;
    int64_t threads = tc__program_threads(p);
    q.p = p, q.loop = loop, q.turn = p->ctx->turns;
    p->ctx->turns += (uint64_t)(r->parts * r->turns) * (uint64_t)r->strands->launches;
    tc__pool_run(tc__pool_of(p->ctx), tc__strand_go, &q, r->parts,
                 p->threads ? (r->parts + threads - 1) / threads : 1);
    r->gone = 1;
    r->done = r->turns - 1, r->turn = p->graph.loop.at[loop].backward ? 0 : r->done;
    return 1;
}
