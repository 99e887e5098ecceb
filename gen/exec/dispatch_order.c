// What is launched at which step of a program on a device: whole launches, and pieces of several kernels that
// share one (kernel/list.c). Input: launches and the memory of their buffers. Output: the sequence of
// exec/order.c.
//
// Tensors of one element stay with the scalars they look like: they are no pieces. An
// output that is computed in the memory of an external is that external.

// ---- order ----

// What the memory of a buffer is, whatever the arena will be.
static tc__memory_range tc__dispatch_tensor(const tc__dispatch *r, const tc__kbuf *b) {
    tc__memory_range m;
    int input = b->place == TC__BUF_INPUT;
    memset(&m, 0, sizeof m);
    m.kind = input ? 2 : 1, m.from = b->source;
    if (!input && r->direct && r->direct[b->source] != UINT32_MAX)
        m.kind = 2, m.from = r->direct[b->source];
    return m;
}

static tc__memory_range tc__dispatch_range(const tc__dispatch *r, const tc__kbuf *b,
                                           const tc__plan *plan) {
    tc__memory_range m = tc__dispatch_tensor(r, b);
    const tc__slab *s = m.kind == 1 && plan ? tc__plan_find(plan, b->source) : NULL;
    if (!s) return m;
    s = tc__plan_under(plan, s);
    if (s->output) m.from = s->node;
    if (!s->output) m.kind = 0, m.from = s->offset, m.to = s->offset + s->bytes;
    return m;
}

// What is guarded stays behind what may fail.
static void tc__dispatch_guard(tc__dispatch *r, const tc__group *g) {
    tc__memory_range m;
    memset(&m, 0, sizeof m);
    m.kind = 3;
    if (g->target.guarded) tc__sequence_use(&r->order, &m, 0);
    if (tc__group_checks(g)) tc__sequence_use(&r->order, &m, 1);
}

// Who shares a workspace comes after who had it before.
static void tc__dispatch_works(tc__dispatch *r, const tc__dispatch_launch *l) {
    tc__memory_range m;
    memset(&m, 0, sizeof m);
    m.kind = 4, m.from = l->room;
    if (!tc__ix_equals(l->grids.workspace, 0)) tc__sequence_use(&r->order, &m, 1);
}

// The memory of a launch, or of the buffers of one of its pieces.
static void tc__dispatch_uses(tc__dispatch *r, const tc__dispatch_launch *l,
                              const tc__piece *p, const tc__plan *plan) {
    size_t n = p ? r->lists.form.at[p->form]->buffer.count : l->group->buffer.count;
    for (int written = 0; written < 2; written++) {
        for (size_t i = 0; i < n; i++) {
            if (p && p->buffer[i] & tc__piece_number) continue;
            const tc__kbuf *b = &l->group->buffer.at[p ? p->buffer[i] : i];
            if (!tc__is_memory(b) || (b->written != 0) != written) continue;
            tc__memory_range m = tc__dispatch_range(r, b, plan);
            tc__sequence_use(&r->order, &m, written);
        }
    }
    tc__dispatch_guard(r, l->group);
    if (!p) tc__dispatch_works(r, l); // each piece has its own
    tc__sequence_settle(&r->order);
}

// The first item of a step: all of a list are of one form.
static const tc__item *tc__turn_item(const tc__dispatch *r, const tc__turn *s) {
    return &r->order.item.at[r->order.member.at[s->first]];
}

// What is launched at a step.
static tc__dispatch_launch *tc__turn_launch(const tc__dispatch *r, const tc__turn *s) {
    const tc__item *n = tc__turn_item(r, s);
    return n->piece == tc__nobody ? &r->launch[n->launch] : &r->form[n->form];
}

// ---- launches beside each other ----

// Whether launch l reads, before it waits, what launch w writes.
static int tc__dispatch_needs(const tc__dispatch *r, const tc__dispatch_launch *l,
                              const tc__dispatch_launch *w, const tc__plan *plan) {
    for (uint32_t i = 0; i < l->group->buffer.count; i++) {
        const tc__kbuf *b = &l->group->buffer.at[i];
        if (!(l->grids.first >> i & 1) || !tc__is_memory(b)) continue;
        tc__memory_range m = tc__dispatch_range(r, b, plan);
        for (size_t k = 0; k < w->group->buffer.count; k++) {
            const tc__kbuf *to = &w->group->buffer.at[k];
            if (!tc__is_memory(to) || !to->written) continue;
            tc__memory_range n = tc__dispatch_range(r, to, plan);
            if (m.kind == n.kind &&
                (m.kind ? m.from == n.from : m.from < n.to && n.from < m.to))
                return 1;
        }
    }
    return 0;
}

// Whether the launch of step i can begin beside those of steps [first, i).
static int tc__dispatch_follows(const tc__dispatch *r, size_t first, size_t i,
                                const tc__plan *plan) {
    enum { MOST = 8 };
    const tc__dispatch_launch *l = tc__turn_launch(r, &r->order.step.at[i]);
    if (i == first || i - first > MOST || r->in_order || !l->grids.beside) return 0;
    for (size_t k = first; k < i; k++) {
        const tc__turn *s = &r->order.step.at[k];
        const tc__dispatch_launch *w = tc__turn_launch(r, s);
        if (!w->grids.beside || s->part != r->order.step.at[i].part ||
            tc__dispatch_needs(r, l, w, plan))
            return 0;
    }
    return 1;
}

// Launches that begin beside those before them: one after the other, none of which reads at first what those before it
// write, back to one that waits at its begin.
static void tc__dispatch_besides(tc__dispatch *r, const tc__plan *plan) {
    size_t first = 0; // of those that run together
    for (size_t i = 0; i < r->order.step.count; i++) {
        int follows = tc__dispatch_follows(r, first, i, plan);
        if (!follows) first = i;
        tc__turn_launch(r, &r->order.step.at[i])->beside =
            follows ? TC__BESIDE_FOLLOWS : TC__BESIDE_NONE;
        if (follows && i == first + 1)
            tc__turn_launch(r, &r->order.step.at[first])->beside = TC__BESIDE_LEADS;
    }
}

// Whether another loop begins or ends before launch i.
static int tc__dispatch_turns(const tc__dispatch *r, uint32_t i) {
    return i && r->launch[i].group->target.loop != r->launch[i - 1].group->target.loop;
}

// The steps of the program. plan: NULL = no two nodes share memory.
static int tc__dispatch_arrange(tc__dispatch *r, const tc__plan *plan) {
    tc__sequence *q = &r->order;
    if (q->ctx) tc__sequence_close(q);
    tc__sequence_open(q, r->ctx, r->in_order);
    for (size_t i = 0; i < r->lists.form.count; i++)
        tc__sequence_form(q, (uint32_t)r->lists.form.at[i]->shape.list);
    for (uint32_t i = 0; q->ok && i < r->launches; i++) {
        const tc__dispatch_launch *l = &r->launch[i];
        if (tc__dispatch_turns(r, i)) tc__sequence_cut(q);
        if (l->by == TC__BY_HOST) tc__sequence_cut(q);
        if (!l->by && !l->pieces) {
            tc__sequence_item(q, i, tc__nobody, 0);
            tc__dispatch_uses(r, l, NULL, plan);
        }
        for (uint32_t k = l->piece; k < l->piece + l->pieces; k++) {
            const tc__piece *p = &r->lists.piece.at[k];
            tc__sequence_item(q, i, k, p->form);
            tc__dispatch_uses(r, l, p, plan);
        }
    }
    tc__sequence_cut(q);
    if (q->ok) tc__dispatch_besides(r, plan);
    return q->ok;
}

// ---- lists: pieces of kernels that share a launch (kernel/list.c) ----

enum {
    TC__LIST_LEAST = 4, // tensors that are worth a kernel which asks what it is about
    TC__LEAST_ARGUMENTS = 4096 // bytes, where the device does not tell
};

// Takes apart what can be; 0 = out of memory.
static int tc__dispatch_pieces(tc__dispatch *r, tc__dispatch_launch *l, uint32_t i) {
    uint64_t memory[TC__BUFFER_LIMIT * 2];
    size_t n = l->group->buffer.count;
    l->piece = (uint32_t)r->lists.piece.count;
    if (n > TC__COUNT(memory) || l->group->target.checked || l->group->target.loop)
        return 1;
    for (size_t b = 0; b < n; b++)
        if (l->group->buffer.at[b].is_part ||
            (l->group->buffer.at[b].place == TC__BUF_INPUT &&
             l->group->buffer.at[b].source >= r->placed))
            return 1; // it is no whole tensor, or its address moves
    for (size_t b = 0; b < n; b++) {
        tc__memory_range m = tc__dispatch_tensor(r, &l->group->buffer.at[b]);
        memory[b] = (uint64_t)m.from << 2 | (uint64_t)m.kind;
    }
    if (!tc__lists_add(&r->lists, i, l->group, memory)) return 0;
    l->pieces = (uint32_t)r->lists.piece.count - l->piece;
    return 1;
}

// Tensors that a form's kernel is made for: few steps apart, so that its text is seldom another one.
static int tc__dispatch_room(const tc__dispatch *r, size_t width, uint32_t members) {
    uint32_t bytes = r->device->own.argument_bytes, step = 1;
    size_t most = tc__list_room(width, bytes ? bytes : (uint32_t)TC__LEAST_ARGUMENTS);
    while (step * 8 <= members) step *= 2;
    if (!most) most = 1; // then each meets itself alone, and the launch is whole
    size_t room = (members + step - 1) / step * step;
    return (int)(room < most ? room : most);
}

// Counts the pieces of each form that are still taken.
static void tc__dispatch_count(tc__dispatch *r) {
    for (size_t i = 0; i < r->lists.form.count; i++) r->lists.form.at[i]->shape.list = 0;
    for (uint32_t i = 0; i < r->launches; i++)
        for (uint32_t k = 0; k < r->launch[i].pieces; k++)
            r->lists.form.at[r->lists.piece.at[r->launch[i].piece + k].form]->shape.list++;
}

// The launch is whole if one of its pieces is of a form with few, or met few. 1 = it was not before.
static int tc__dispatch_whole(tc__dispatch *r, tc__dispatch_launch *l,
                              const uint32_t *met) {
    for (uint32_t k = l->piece; k < l->piece + l->pieces; k++) {
        int few =
            met ? met[k] < TC__LIST_LEAST
                : r->lists.form.at[r->lists.piece.at[k].form]->shape.list < TC__LIST_LEAST;
        if (!few) continue;
        l->pieces = 0;
        return 1;
    }
    return 0;
}

static int tc__dispatch_wholes(tc__dispatch *r, const uint32_t *met) {
    int changed = 0;
    for (uint32_t i = 0; i < r->launches; i++)
        changed |= tc__dispatch_whole(r, &r->launch[i], met);
    return changed;
}

// The rooms of forms that have pieces; those without are not made.
static void tc__dispatch_rooms(tc__dispatch *r) {
    for (size_t i = 0; i < r->lists.form.count; i++) {
        tc__group *f = r->lists.form.at[i];
        if (f->shape.list)
            f->shape.list =
                tc__dispatch_room(r, tc__list_width(f), (uint32_t)f->shape.list);
    }
}

// Leaves those pieces that meet enough others, as far as the arena does not keep them apart; `met` has
// room for all.
static int tc__dispatch_choose(tc__dispatch *r, uint32_t *met) {
    for (int changed = 1; changed;) {
        tc__dispatch_count(r);
        changed = tc__dispatch_wholes(r, NULL);
        if (changed) continue;
        tc__dispatch_rooms(r);
        if (!tc__dispatch_arrange(r, NULL)) return 0;
        for (size_t i = 0; i < r->order.item.count; i++) {
            const tc__item *n = &r->order.item.at[i];
            if (n->piece != tc__nobody) met[n->piece] = r->order.step.at[n->step].count;
        }
        changed = tc__dispatch_wholes(r, met);
    }
    return 1;
}

// Of each launch, the first one of the lists that are open when its turn comes. What is stored there to the end
// and lies where something was that those use would end them.
static int tc__dispatch_since(tc__dispatch *r, tc__arena *a) {
    uint32_t *to = TC__NEW_ARRAY(r->ctx, uint32_t, r->launches), open = 0;
    r->since = TC__ANEW_ARRAY(a, uint32_t, r->launches + 1);
    for (size_t i = 0; to && i < r->order.step.count; i++) {
        const tc__turn *s = &r->order.step.at[i];
        const uint32_t *member = &r->order.member.at[s->first];
        uint32_t first = r->order.item.at[member[0]].launch;
        uint32_t last = r->order.item.at[member[s->count - 1]].launch;
        if (to[first] < last) to[first] = last;
    }
    for (uint32_t i = 0; to && r->since && i < r->launches; i++) {
        while (open < i && to[open] < i) open++;
        r->since[i] = open;
    }
    if (to) TC__FREE_ARRAY(r->ctx, to, r->launches);
    return to && r->since;
}

// The kernel of a form, as a launch.
static int tc__dispatch_form(tc__dispatch *r, tc__arena *a, uint32_t i) {
    const tc__dialect *d = r->device->own.language->dialect;
    tc__dispatch_launch *l = &r->form[i];
    l->group = r->lists.form.at[i];
    if (!l->group->shape.list) return 1;
    size_t bytes = tc__list_bytes(tc__list_width(l->group), (size_t)l->group->shape.list);
    l->n_argument = 2;
    l->bytes = (uint32_t)bytes + 16; // tc_kargs<1>
    l->offset = TC__ANEW_ARRAY(a, uint32_t, 2);
    if (!l->offset) return 0;
    l->offset[0] = 0, l->offset[1] = (uint32_t)bytes;
    return d->grids(r->ctx, l->group, &l->grids);
}

static int tc__dispatch_lists(tc__dispatch *r, tc__arena *a) {
    int ok = 1;
    tc__lists_open(&r->lists, r->ctx, a, r->device->own.language->dialect->order);
    for (uint32_t i = 0; ok && !r->in_order && i < r->launches; i++)
        if (!r->launch[i].by) ok = tc__dispatch_pieces(r, &r->launch[i], i);
    size_t pieces = r->lists.piece.count, forms = r->lists.form.count;
    uint32_t *met = TC__NEW_ARRAY(r->ctx, uint32_t, pieces);
    r->form = TC__ANEW_ARRAY(a, tc__dispatch_launch, forms + 1);
    ok = ok && met && r->form &&
         (!pieces || (tc__dispatch_choose(r, met) && tc__dispatch_since(r, a)));
    for (uint32_t i = 0; ok && i < forms; i++) ok = tc__dispatch_form(r, a, i);
    if (met) TC__FREE_ARRAY(r->ctx, met, pieces);
    return ok;
}
