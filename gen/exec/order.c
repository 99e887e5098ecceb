// The order of a device's launches. Input: items in the order of the program, each with the memory that
// it reads and writes; an item is a launch, or a piece that may share a launch with others of its
// form (kernel/list.c). Output: steps, each a launch, and the steps that each comes after.
//
// Pieces wait until something needs what they do, or no item is left: so those of one form that do not
// depend on each other meet in a step, whatever stands between them. An item waits for nothing that
// comes later, so the steps are in an order that does what the program's order does.
//
// Who was where is kept by memory, not by pairs of items: the time is that of accesses.

// Memory: a range of the arena, or a whole tensor.
typedef struct tc__memory_range {
    // 0 = arena, 1 = an output by itself, 2 = an input, 3 = whether an index was wrong, 4 = a workspace
    int kind;
    size_t from, to;
} tc__memory_range;

static const uint32_t tc__nobody = UINT32_MAX; // no item, link or piece

// The last item that wrote a stretch of memory, and those that have read it since.
typedef struct tc__stretch {
    size_t from, to;
    uint32_t writer, reader; // reader: a link, tc__nobody = the last
} tc__stretch;

typedef struct tc__link {
    uint32_t item, next;
} tc__link;

typedef struct tc__item {
    uint32_t launch, piece; // piece: tc__nobody = the launch is whole
    uint32_t form;          // of a piece
    uint32_t before,
        before_end; // links[before..] to what it comes after, as the items stand
    uint32_t step;  // tc__nobody = it waits
    uint32_t next;  // that waits for a step of the form
} tc__item;

// The items that wait for a step of one form.
typedef struct tc__waiting {
    uint32_t first, last, count, room;
} tc__waiting;

typedef struct tc__turn {
    uint32_t first, count;   // of its items in `member`
    uint32_t after, n_after; // its steps in `after`
    uint32_t part;           // cuts before it
} tc__turn;

typedef struct tc__sequence {
    tc_ctx *ctx;
    TC__VEC(tc__stretch) arena; // in their order, apart from each other
    TC__VEC(tc__stretch) whole; // tensors, by
    tc__map tensor;             //   kind and number
    TC__VEC(tc__link) link;     // of stretches
    TC__VEC(uint32_t) before;   // items that items come after
    TC__VEC(tc__item) item;
    TC__VEC(tc__waiting) form;
    TC__VEC(tc__turn) step;
    TC__VEC(uint32_t) member; // items, by step
    TC__VEC(uint32_t) after;  // steps, by step
    TC__VEC(uint32_t)
    seen; // by step: the step that has it among those it comes after, and one
    uint32_t part, part_item; // cuts; first item behind the last one
    int in_order;             // every item comes after the one before
    int ok;                   // 0 = out of memory, reported
} tc__sequence;

static void tc__sequence_open(tc__sequence *q, tc_ctx *c, int in_order) {
    memset(q, 0, sizeof *q);
    q->ctx = c, q->in_order = in_order, q->ok = 1;
    tc__map_init(&q->tensor, c);
}

static void tc__sequence_close(tc__sequence *q) {
    TC__VEC_FREE(q->ctx, q->arena);
    TC__VEC_FREE(q->ctx, q->whole);
    tc__map_free(&q->tensor);
    TC__VEC_FREE(q->ctx, q->link);
    TC__VEC_FREE(q->ctx, q->before);
    TC__VEC_FREE(q->ctx, q->item);
    TC__VEC_FREE(q->ctx, q->form);
    TC__VEC_FREE(q->ctx, q->step);
    TC__VEC_FREE(q->ctx, q->member);
    TC__VEC_FREE(q->ctx, q->after);
    TC__VEC_FREE(q->ctx, q->seen);
}

// A step of the next form has room for so many items.
static void tc__sequence_form(tc__sequence *q, uint32_t room) {
    tc__waiting w;
    w.first = w.last = tc__nobody, w.count = 0, w.room = room;
    q->ok = q->ok && TC__PUSH(q->ctx, q->form, w);
}

// ---- steps ----

static void tc__turn_after(tc__sequence *q, tc__turn *s, uint32_t number, uint32_t item) {
    const tc__item *n = &q->item.at[item];
    for (uint32_t i = n->before; q->ok && i < n->before_end; i++) {
        uint32_t step = q->item.at[q->before.at[i]].step;
        if (q->seen.at[step] == number + 1) continue;
        q->seen.at[step] = number + 1;
        q->ok = TC__PUSH(q->ctx, q->after, step);
        s->n_after++;
    }
}

// The items from `first` on, linked, become a step: what they come after has one.
static void tc__sequence_step(tc__sequence *q, uint32_t first) {
    tc__turn s;
    uint32_t number = (uint32_t)q->step.count;
    memset(&s, 0, sizeof s);
    s.first = (uint32_t)q->member.count, s.after = (uint32_t)q->after.count;
    s.part = q->part;
    for (uint32_t i = first; q->ok && i != tc__nobody; i = q->item.at[i].next) {
        tc__turn_after(q, &s, number, i);
        q->item.at[i].step = number;
        q->ok = q->ok && TC__PUSH(q->ctx, q->member, i);
        s.count++;
    }
    q->ok = q->ok && TC__PUSH(q->ctx, q->step, s) && TC__PUSH(q->ctx, q->seen, 0);
}

static void tc__sequence_flush(tc__sequence *q, tc__waiting *w) {
    if (w->first != tc__nobody) tc__sequence_step(q, w->first);
    w->first = w->last = tc__nobody, w->count = 0;
}

static void tc__sequence_wait(tc__sequence *q, uint32_t item) {
    tc__waiting *w = &q->form.at[q->item.at[item].form];
    if (w->last == tc__nobody)
        w->first = item;
    else
        q->item.at[w->last].next = item;
    w->last = item;
    if (++w->count == w->room) tc__sequence_flush(q, w);
}

// The newest item is complete.
static void tc__sequence_settle(tc__sequence *q) {
    if (!q->ok) return;
    uint32_t item = (uint32_t)q->item.count - 1;
    tc__item *n = &q->item.at[item];
    n->before_end = (uint32_t)q->before.count;
    for (uint32_t i = n->before; i < n->before_end; i++) {
        const tc__item *b = &q->item.at[q->before.at[i]];
        if (b->step == tc__nobody) tc__sequence_flush(q, &q->form.at[b->form]);
    }
    if (n->piece == tc__nobody)
        tc__sequence_step(q, item);
    else
        tc__sequence_wait(q, item);
}

// Nothing waits any longer, and what follows comes after all of it: something else happens here, or
// nothing more.
static void tc__sequence_cut(tc__sequence *q) {
    for (size_t i = 0; i < q->form.count; i++) tc__sequence_flush(q, &q->form.at[i]);
    q->arena.count = q->whole.count = q->link.count = 0;
    tc__map_free(&q->tensor);
    q->part++;
    q->part_item = (uint32_t)q->item.count;
}

// ---- items ----

static void tc__sequence_before(tc__sequence *q, uint32_t item) {
    if (item == tc__nobody || item == (uint32_t)q->item.count - 1) return;
    q->ok = q->ok && TC__PUSH(q->ctx, q->before, item);
}

// Begins an item: its memory follows, then tc__sequence_settle. piece: tc__nobody = a whole launch.
static void tc__sequence_item(tc__sequence *q, uint32_t launch, uint32_t piece,
                              uint32_t form) {
    tc__item n;
    memset(&n, 0, sizeof n);
    n.launch = launch, n.piece = piece, n.form = form;
    n.before = n.before_end = (uint32_t)q->before.count;
    n.step = n.next = tc__nobody;
    q->ok = q->ok && TC__PUSH(q->ctx, q->item, n);
    if (q->ok && q->in_order && q->item.count - 1 > q->part_item)
        tc__sequence_before(q, (uint32_t)q->item.count - 2);
}

// The newest item reads or writes all of the stretch.
static void tc__stretch_use(tc__sequence *q, tc__stretch *s, int written) {
    uint32_t item = (uint32_t)q->item.count - 1;
    tc__link l;
    if (!written) {
        tc__sequence_before(q, s->writer);
        if (s->reader != tc__nobody && q->link.at[s->reader].item == item) return;
        l.item = item, l.next = s->reader;
        q->ok = q->ok && TC__PUSH(q->ctx, q->link, l);
        s->reader = (uint32_t)q->link.count - 1;
        return;
    }
    if (s->reader == tc__nobody) tc__sequence_before(q, s->writer);
    for (uint32_t i = s->reader; i != tc__nobody; i = q->link.at[i].next)
        tc__sequence_before(q, q->link.at[i].item);
    s->writer = item, s->reader = tc__nobody;
}

// A stretch at place i: what was there moves up. 0 = out of memory.
static int tc__stretches_insert(tc__sequence *q, size_t i, tc__stretch s) {
    q->ok = q->ok && TC__PUSH(q->ctx, q->arena, s);
    if (!q->ok) return 0;
    tc__stretch *at = q->arena.at;
    memmove(at + i + 1, at + i, (q->arena.count - 1 - i) * sizeof *at);
    at[i] = s;
    return 1;
}

// Cuts stretch i at `at`, if that is inside.
static void tc__stretches_cut(tc__sequence *q, size_t i, size_t at) {
    tc__stretch s = q->arena.at[i];
    if (at <= s.from || at >= s.to) return;
    q->arena.at[i].to = s.from = at;
    (void)tc__stretches_insert(q, i + 1, s);
}

// The first stretch that ends behind `from`.
static size_t tc__stretches_find(const tc__sequence *q, size_t from) {
    size_t lo = 0, hi = q->arena.count;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (q->arena.at[mid].to > from)
            hi = mid;
        else
            lo = mid + 1;
    }
    return lo;
}

static void tc__stretches_use(tc__sequence *q, size_t from, size_t to, int written) {
    size_t i = tc__stretches_find(q, from);
    if (i < q->arena.count && q->arena.at[i].from < from)
        tc__stretches_cut(q, i, from), i++;
    for (; q->ok && from < to; i++) {
        size_t next = i < q->arena.count ? q->arena.at[i].from : to;
        if (next > from) { // nobody was here
            tc__stretch s;
            s.from = from, s.to = next < to ? next : to;
            s.writer = s.reader = tc__nobody;
            if (!tc__stretches_insert(q, i, s)) return;
        }
        tc__stretches_cut(q, i, to);
        if (!q->ok) return;
        tc__stretch_use(q, &q->arena.at[i], written);
        from = q->arena.at[i].to;
    }
}

// The newest item reads or writes m. What it reads is told before what it writes.
static void tc__sequence_use(tc__sequence *q, const tc__memory_range *m, int written) {
    uint64_t key = (uint64_t)m->from << 3 | (uint64_t)m->kind, at;
    tc__stretch s;
    if (!q->ok || q->in_order) return;
    if (!m->kind) {
        tc__stretches_use(q, m->from, m->to, written);
        return;
    }
    memset(&s, 0, sizeof s);
    s.writer = s.reader = tc__nobody;
    if (!tc__map_get(&q->tensor, key, &at)) {
        at = q->whole.count;
        q->ok = TC__PUSH(q->ctx, q->whole, s) && tc__map_set(&q->tensor, key, at);
    }
    if (q->ok) tc__stretch_use(q, &q->whole.at[at], written);
}
