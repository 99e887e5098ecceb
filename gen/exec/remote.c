// What a program has of a device: its kernels as launches, and memory that they share. Input: the
// launches of a program, as groups with the addresses of their buffers. Output: lists that the device
// runs (tc_device_launch), whose arguments are filled in anew for each run.
//
// A launch for which the device has no text (an opaque op) is done by the host, between two lists.

typedef struct tc__remote_launch {
    const tc__group *group;
    void *const *buf; // addresses by buffer
    int host;         // done by the host
    tc__grids grids;
    void *kernel[TC__GRIDS]; // of the device; NULL = not compiled yet
    uint8_t *argument;       // as the kernels take them, and where each begins
    uint32_t *offset;
    uint32_t *memory, memories; // buffers whose addresses are the first of them
    uint32_t n_argument, bytes;
    uint32_t first;         // its place in the list; that of its first piece
    uint32_t piece, pieces; // of remote.lists, that are launched instead; 0 = it is whole
    uint32_t order;         //   and among what is wanted, while there is such a job
    uint32_t number;        // of the program's launches
    uint32_t alike;         // the first of them whose kernel was the same when it was added
    size_t work;            // its place in the workspace
} tc__remote_launch;

// What kernels of a program are told beside buffers and sizes; run-time values follow it. The same
// struct stands in the prelude of texts.
typedef struct tc__remote_state {
    int64_t *flag; // memory of the host: an index out of range
    uint64_t seed, draw;
} tc__remote_state;

// A launch for several tensors: its arguments in `listed`, and its place in the list.
typedef struct tc__remote_listed {
    uint32_t step, at;
    uint8_t *argument;
} tc__remote_listed;

// Launches [begin, end) of the list, behind which the host does launch `host`; UINT32_MAX = none.
typedef struct tc__remote_part {
    uint32_t begin, end, host;
    void *plan; // of the device
    int ran;    // it did, and nothing of its launches has changed since
} tc__remote_part;

// An external that kernels cannot read or write where it is, while a run lasts: see
// exec/remote_view.c.
typedef struct tc__remote_bounce {
    uint32_t address; // of the program: the first that it stands for
    tc_device_memory memory;
    char *from, *to; // its first element, and that element in `memory`
    int64_t low;     // bytes to the lowest address
    size_t bytes;    // from there on
} tc__remote_bounce;

typedef struct tc__remote {
    tc_ctx *ctx;
    tc__device *device;
    int ready;   // the code is there
    int checks;  // some kernel checks an index
    int numbers; // some input is a number of the host
    int waiting; // it ran, and nobody has looked at its flag
    tc__remote_launch *launch;
    uint32_t launches, list_count, parts;
    tc_device_launch *list;
    TC__VEC(int) after;     // places in a part, of all launches of the list
    const uint32_t *direct; // by node: the external in whose memory it is; NULL = none is
    int in_order;           // externals may share memory that kernels write
    tc__lists lists;
    tc__remote_launch *form; // the kernels of lists, by form
    tc__sequence order;
    TC__VEC(tc__remote_listed) listed;
    uint8_t *listed_bytes; // their arguments, owned
    size_t listed_room;
    tc__remote_part *part;
    tc_device_mode mode;
    tc_device_memory state, work;
    size_t work_bytes, state_bytes;
    uint8_t *state_now; // what the device has been told
    int told, draws;    // it has; some kernel draws random numbers
    int64_t *flag;
    TC__VEC(tc__remote_bounce) bounce;
    TC__VEC(void *) moment; // of the device: marks of the profiler; owned
} tc__remote;

// A failure of the device, with its own words. Always 0.
static int tc__device_failed(tc_ctx *c, const tc_device *d, const char *what,
                             tc_status status) {
    const char *why = d->why ? d->why(d->user) : NULL;
    return tc__fail(c, status < 0 ? status : TC_E_BACKEND, "%s, on %s: %s", what, d->name,
                    why && *why ? why : tc__error_name(status));
}

// ---- making ----

// Arguments: addresses of buffers that are memory, of the workspace, of the state, and sizes.
static int tc__remote_arguments(tc__arena *a, tc__remote_launch *l) {
    uint32_t n, buffers = (uint32_t)l->group->buffer.count,
                sizes = (uint32_t)(l->grids.sizes + l->group->target.checked);
    if (!sizes) sizes = 1;
    l->memory = TC__ANEW_ARRAY(a, uint32_t, buffers);
    if (!l->memory) return 0;
    for (uint32_t i = 0; i < buffers; i++)
        if (tc__is_memory(&l->group->buffer.at[i])) l->memory[l->memories++] = i;
    n = l->memories + !tc__ix_equals(l->grids.workspace, 0);
    l->n_argument = n + 1;
    l->bytes = (n + 1 + sizes) * 8;
    l->argument = (uint8_t *)TC__ANEW_ARRAY(a, int64_t, l->bytes / 8);
    l->offset = TC__ANEW_ARRAY(a, uint32_t, l->n_argument);
    for (uint32_t i = 0; l->offset && i <= n; i++) l->offset[i] = i * 8;
    return l->argument && l->offset;
}

static int tc__remote_note(tc__remote *r, const tc__group *g) {
    r->checks |= g->target.checked;
    for (size_t i = 0; i < g->body.node.count; i++) {
        const tc__node *n = g->body.node.at[i];
        const tc__opaque_row *row =
            n->op == TC_OP_CALL ? tc__opaque_row_of((int)n->attr[TC__CALL_OP]) : NULL;
        r->checks |= n->op == TC_OP_CHECK || (row && row->checks);
        r->draws |= n->op == TC_OP_RANDOM;
    }
    return 1;
}

// The first launch whose kernel is that of launch i: itself, if there is none before.
static uint32_t tc__remote_alike(const tc__remote *r, uint32_t i) {
    for (uint32_t k = 0; k < i; k++)
        if (r->launch[k].alike == k &&
            tc__groups_same(r->launch[k].group, r->launch[i].group))
            return k;
    return i;
}

// Launch i of the program. host: there is a function of the host for it.
static int tc__remote_add(tc__remote *r, tc__arena *a, uint32_t i, const tc__group *g,
                          void *const *buf, int host) {
    tc__remote_launch *l = &r->launch[i];
    const tc__dialect *d = r->device->own.language->dialect;
    l->group = g, l->buf = buf, l->number = i;
    l->host = host && !d->has_opaque(r->ctx, g);
    l->alike = tc__remote_alike(r, i);
    if (l->host) return 1;
    if (l->alike < i)
        l->grids = r->launch[l->alike].grids;
    else if (!d->grids(r->ctx, g, &l->grids))
        return 0;
    return tc__remote_arguments(a, l) && tc__remote_note(r, g);
}

// ---- their order ----

// What the memory of a buffer is, whatever the arena will be.
static tc__remote_range tc__remote_tensor(const tc__remote *r, const tc__kbuf *b) {
    tc__remote_range m;
    int input = b->place == TC__BUF_INPUT;
    memset(&m, 0, sizeof m);
    m.kind = input ? 2 : 1, m.from = b->source;
    if (!input && r->direct && r->direct[b->source] != UINT32_MAX)
        m.kind = 2, m.from = r->direct[b->source];
    return m;
}

// Where each node is that has a place in the arena.
typedef struct tc__remote_slabs {
    const tc__slab **of; // by node, owned
    size_t count;
} tc__remote_slabs;

static int tc__remote_slabs_open(tc__remote_slabs *s, tc_ctx *c, const tc__plan *plan) {
    memset(s, 0, sizeof *s);
    for (size_t i = 0; plan && i < plan->slab.count; i++)
        if (plan->slab.at[i].node >= s->count) s->count = plan->slab.at[i].node + 1;
    s->of = (const tc__slab **)tc__alloc_array(c, s->count, sizeof *s->of);
    for (size_t i = 0; s->of && plan && i < plan->slab.count; i++)
        s->of[plan->slab.at[i].node] = &plan->slab.at[i];
    return s->of != NULL;
}

static tc__remote_range tc__remote_range_of(const tc__remote *r, const tc__kbuf *b,
                                            const tc__remote_slabs *slabs) {
    tc__remote_range m = tc__remote_tensor(r, b);
    if (m.kind != 1 || b->source >= slabs->count) return m;
    const tc__slab *s = slabs->of[b->source];
    if (s && !s->output) m.kind = 0, m.from = s->offset, m.to = s->offset + s->bytes;
    return m;
}

// The memory of a launch, or of the buffers of one of its pieces.
static void tc__remote_uses(tc__remote *r, const tc__remote_launch *l, const tc__piece *p,
                            const tc__remote_slabs *slabs) {
    size_t n = p ? r->lists.form.at[p->form]->buffer.count : l->group->buffer.count;
    for (int written = 0; written < 2; written++) {
        for (size_t i = 0; i < n; i++) {
            const tc__kbuf *b = &l->group->buffer.at[p ? p->buffer[i] : i];
            if (!tc__is_memory(b) || (b->written != 0) != written) continue;
            tc__remote_range m = tc__remote_range_of(r, b, slabs);
            tc__sequence_use(&r->order, &m, written);
        }
    }
    tc__sequence_settle(&r->order);
}

// The steps of the program. plan: NULL = no two nodes share memory.
static int tc__remote_arrange(tc__remote *r, const tc__plan *plan) {
    tc__sequence *q = &r->order;
    tc__remote_slabs slabs;
    if (q->ctx) tc__sequence_close(q);
    tc__sequence_open(q, r->ctx, r->in_order);
    if (!tc__remote_slabs_open(&slabs, r->ctx, plan)) return 0;
    for (size_t i = 0; i < r->lists.form.count; i++)
        tc__sequence_form(q, (uint32_t)r->lists.form.at[i]->shape.list);
    for (uint32_t i = 0; q->ok && i < r->launches; i++) {
        const tc__remote_launch *l = &r->launch[i];
        if (l->host) tc__sequence_cut(q);
        if (!l->host && !l->pieces) {
            tc__sequence_item(q, i, tc__nobody, 0);
            tc__remote_uses(r, l, NULL, &slabs);
        }
        for (uint32_t k = l->piece; k < l->piece + l->pieces; k++) {
            const tc__piece *p = &r->lists.piece.at[k];
            tc__sequence_item(q, i, k, p->form);
            tc__remote_uses(r, l, p, &slabs);
        }
    }
    tc__sequence_cut(q);
    tc__free(r->ctx, (void *)slabs.of, (slabs.count + !slabs.count) * sizeof *slabs.of);
    return q->ok;
}

// The first item of a step: all of a list are of one form.
static const tc__item *tc__turn_item(const tc__remote *r, const tc__turn *s) {
    return &r->order.item.at[r->order.member.at[s->first]];
}

// What is launched at a step.
static tc__remote_launch *tc__turn_launch(const tc__remote *r, const tc__turn *s) {
    const tc__item *n = tc__turn_item(r, s);
    return n->piece == tc__nobody ? &r->launch[n->launch] : &r->form[n->form];
}

// ---- lists: pieces of kernels that share a launch (kernel/list.c) ----

enum {
    TC__LIST_LEAST = 4, // tensors that are worth a kernel which asks what it is about
    TC__LEAST_ARGUMENTS = 4096 // bytes, where the device does not tell
};

// Takes apart what can be; 0 = out of memory.
static int tc__remote_pieces(tc__remote *r, tc__remote_launch *l, uint32_t i) {
    uint64_t memory[TC__BUFFER_LIMIT * 2];
    size_t n = l->group->buffer.count;
    l->piece = (uint32_t)r->lists.piece.count;
    if (n > TC__COUNT(memory) || l->group->target.checked) return 1;
    for (size_t b = 0; b < n; b++) {
        tc__remote_range m = tc__remote_tensor(r, &l->group->buffer.at[b]);
        memory[b] = (uint64_t)m.from << 2 | (uint64_t)m.kind;
    }
    if (!tc__lists_add(&r->lists, i, l->group, memory)) return 0;
    l->pieces = (uint32_t)r->lists.piece.count - l->piece;
    return 1;
}

// Tensors that a form's kernel is made for: few steps apart, so that its text is seldom another one.
static int tc__remote_room(const tc__remote *r, size_t buffers, uint32_t members) {
    uint32_t bytes = r->device->own.argument_bytes, step = 1;
    size_t most = tc__list_room(buffers, bytes ? bytes : (uint32_t)TC__LEAST_ARGUMENTS);
    while (step * 8 <= members) step *= 2;
    size_t room = (members + step - 1) / step * step;
    return (int)(room < most ? room : most);
}

// Counts the pieces of each form that are still taken.
static void tc__remote_count(tc__remote *r) {
    for (size_t i = 0; i < r->lists.form.count; i++) r->lists.form.at[i]->shape.list = 0;
    for (uint32_t i = 0; i < r->launches; i++)
        for (uint32_t k = 0; k < r->launch[i].pieces; k++)
            r->lists.form.at[r->lists.piece.at[r->launch[i].piece + k].form]->shape.list++;
}

// The launch is whole if one of its pieces is of a form with few, or met few. 1 = it was not before.
static int tc__remote_whole(tc__remote *r, tc__remote_launch *l, const uint32_t *met) {
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

static int tc__remote_wholes(tc__remote *r, const uint32_t *met) {
    int changed = 0;
    for (uint32_t i = 0; i < r->launches; i++)
        changed |= tc__remote_whole(r, &r->launch[i], met);
    return changed;
}

// The rooms of forms that have pieces; those without are not made.
static void tc__remote_rooms(tc__remote *r) {
    for (size_t i = 0; i < r->lists.form.count; i++) {
        tc__group *f = r->lists.form.at[i];
        if (f->shape.list)
            f->shape.list = tc__remote_room(r, f->buffer.count, (uint32_t)f->shape.list);
    }
}

// Leaves those pieces that meet enough others, as far as the arena does not keep them apart; `met` has
// room for all.
static int tc__remote_choose(tc__remote *r, uint32_t *met) {
    for (int changed = 1; changed;) {
        tc__remote_count(r);
        changed = tc__remote_wholes(r, NULL);
        if (changed) continue;
        tc__remote_rooms(r);
        if (!tc__remote_arrange(r, NULL)) return 0;
        for (size_t i = 0; i < r->order.item.count; i++) {
            const tc__item *n = &r->order.item.at[i];
            if (n->piece != tc__nobody) met[n->piece] = r->order.step.at[n->step].count;
        }
        changed = tc__remote_wholes(r, met);
    }
    return 1;
}

// The kernel of a form, as a launch.
static int tc__remote_form(tc__remote *r, tc__arena *a, uint32_t i) {
    const tc__dialect *d = r->device->own.language->dialect;
    tc__remote_launch *l = &r->form[i];
    l->group = r->lists.form.at[i];
    if (!l->group->shape.list) return 1;
    size_t bytes = tc__list_bytes(l->group->buffer.count, (size_t)l->group->shape.list);
    l->n_argument = 2;
    l->bytes = (uint32_t)bytes + 16; // tc_kargs<1>
    l->offset = TC__ANEW_ARRAY(a, uint32_t, 2);
    if (!l->offset) return 0;
    l->offset[0] = 0, l->offset[1] = (uint32_t)bytes;
    return d->grids(r->ctx, l->group, &l->grids);
}

static int tc__remote_lists(tc__remote *r, tc__arena *a) {
    int ok = 1;
    tc__lists_open(&r->lists, r->ctx, a);
    for (uint32_t i = 0; ok && !r->in_order && i < r->launches; i++)
        if (!r->launch[i].host) ok = tc__remote_pieces(r, &r->launch[i], i);
    size_t pieces = r->lists.piece.count, forms = r->lists.form.count;
    uint32_t *met = TC__NEW_ARRAY(r->ctx, uint32_t, pieces);
    r->form = TC__ANEW_ARRAY(a, tc__remote_launch, forms + 1);
    ok = ok && met && r->form && (!pieces || tc__remote_choose(r, met));
    for (uint32_t i = 0; ok && i < forms; i++) ok = tc__remote_form(r, a, i);
    if (met) TC__FREE_ARRAY(r->ctx, met, pieces);
    return ok;
}

// A launch on the host ends a part; so does the last launch.
static int tc__remote_split(tc__remote *r, tc__arena *a) {
    uint32_t hosts = 0, n = 0;
    for (uint32_t i = 0; i < r->launches; i++) hosts += (uint32_t)r->launch[i].host;
    r->part = TC__ANEW_ARRAY(a, tc__remote_part, hosts + 1);
    if (!r->part) return 0;
    for (uint32_t i = 0; i < r->launches; i++) {
        const tc__remote_launch *l = &r->launch[i];
        if (l->host)
            r->part[r->parts++].host = i;
        else
            n += l->pieces ? l->pieces : (uint32_t)l->grids.count;
    }
    r->part[r->parts++].host = UINT32_MAX;
    r->list = TC__ANEW_ARRAY(a, tc_device_launch, n + 1);
    return r->list != NULL;
}

enum { TC__FLAG_BYTES = TC__FLAG_WORDS * 8 };

// State on the device, and the flag.
static int tc__remote_memory(tc__remote *r, tc__arena *a, size_t args) {
    const tc_device *d = &r->device->own;
    void *flag = NULL;
    r->state_bytes = sizeof(tc__remote_state) + args * sizeof(tc__value);
    r->state_now = TC__ANEW_ARRAY(a, uint8_t, r->state_bytes);
    if (!r->state_now) return 0;
    tc_status s = d->take(d->user, r->state_bytes, &r->state);
    if (!s && r->checks) s = d->take_host(d->user, TC__FLAG_BYTES, &flag);
    r->flag = (int64_t *)flag;
    if (flag) memset(flag, 0, TC__FLAG_BYTES);
    return !s || tc__device_failed(r->ctx, &r->device->own, "memory of a program", s);
}

// All launches were added. direct: by node, the external in whose memory it is computed; of the arena.
// in_order: externals may share memory that kernels write.
static int tc__remote_close_list(tc__remote *r, tc__arena *a, size_t args,
                                 const uint32_t *direct, int in_order) {
    r->direct = direct, r->in_order = in_order;
    return tc__remote_lists(r, a) && tc__remote_split(r, a) &&
           tc__remote_memory(r, a, args);
}

static tc__remote *tc__remote_new(tc_ctx *c, tc__arena *a, tc__device *d, uint32_t n) {
    tc__remote *r = TC__ANEW(a, tc__remote);
    if (!r) return NULL;
    r->ctx = c, r->device = d, r->launches = n;
    r->launch = TC__ANEW_ARRAY(a, tc__remote_launch, n + 1);
    return r->launch ? r : NULL;
}

static void tc__remote_give(tc__remote *r, tc_device_memory *m) {
    if (m->address) r->device->own.give(r->device->own.user, *m);
    memset(m, 0, sizeof *m);
}

static void tc__remote_forget_plans(tc__remote *r) {
    const tc_device *d = &r->device->own;
    for (uint32_t i = 0; i < r->parts; i++) {
        if (r->part[i].plan) d->forget(d->user, r->part[i].plan);
        r->part[i].plan = NULL, r->part[i].ran = 0;
    }
}

static void tc__remote_free(tc__remote *r) {
    if (!r) return;
    const tc_device *d = &r->device->own;
    tc__remote_forget_plans(r);
    if (r->flag) (void)d->sync(d->user); // kernels may write it
    if (r->flag) d->give_host(d->user, r->flag, TC__FLAG_BYTES);
    tc__remote_give(r, &r->state);
    tc__remote_give(r, &r->work);
    TC__VEC_FREE(r->ctx, r->bounce); // empty between runs
    for (size_t i = 0; i < r->moment.count; i++)
        if (r->moment.at[i]) d->unmark(d->user, r->moment.at[i]);
    TC__VEC_FREE(r->ctx, r->moment);
    TC__VEC_FREE(r->ctx, r->after);
    TC__VEC_FREE(r->ctx, r->listed);
    if (r->listed_bytes) tc__free(r->ctx, r->listed_bytes, r->listed_room);
    if (r->order.ctx) tc__sequence_close(&r->order);
    tc__lists_close(&r->lists);
}

// ---- laying out: what depends on the sizes of a run ----

enum { TC__REMOTE_ALIGN = 256 };

static size_t tc__remote_rounded(size_t n) {
    return (n + TC__REMOTE_ALIGN - 1) / TC__REMOTE_ALIGN * TC__REMOTE_ALIGN;
}

// The workspace of all launches, zero where kernels need that.
static int tc__remote_workspace(tc__remote *r, const tc__ixpool *x, const tc__ixenv *env) {
    const tc_device *d = &r->device->own;
    size_t total = 0;
    for (uint32_t i = 0; i < r->launches; i++) {
        tc__remote_launch *l = &r->launch[i];
        if (l->host) continue;
        l->work = total;
        total += tc__remote_rounded((size_t)tc__ix_eval(x, l->grids.workspace, env));
    }
    if (total > r->work_bytes) {
        tc__remote_give(r, &r->work);
        r->work_bytes = 0;
        tc_status s = d->take(d->user, total, &r->work);
        if (s) return tc__device_failed(r->ctx, &r->device->own, "memory of a program", s);
        r->work_bytes = total;
    }
    tc_status s = total ? d->fill(d->user, r->work.address, 0, total) : TC_OK;
    return !s || tc__device_failed(r->ctx, &r->device->own, "memory of a program", s);
}

static uint32_t tc__remote_blocks(const tc__remote *r, const tc__grid *g, int64_t blocks) {
    int64_t most = g->waves ? (int64_t)g->waves * r->device->own.processors : INT32_MAX;
    if (blocks > most) blocks = most;
    if (blocks < 1) blocks = 1;
    if (g->cluster > 1)
        blocks = (blocks + g->cluster - 1) / g->cluster * (int64_t)g->cluster;
    return (uint32_t)blocks;
}

// The arguments of a launch for several tensors that do not change from run to run: sizes, and which
// blocks are whose. Gives the number of blocks.
static int64_t tc__remote_list_sizes(const tc__remote *r, const tc__remote_listed *d,
                                     const tc__ixpool *x, const tc__ixenv *env) {
    const tc__turn *s = &r->order.step.at[d->step];
    const tc__group *form = tc__turn_launch(r, s)->group;
    tc__list_argument a =
        tc__list_argument_of(d->argument, form->buffer.count, (size_t)form->shape.list);
    tc__ix each = tc__turn_launch(r, s)->grids.at[0].blocks;
    int64_t blocks = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        const tc__item *n = &r->order.item.at[r->order.member.at[s->first + i]];
        tc__ixenv one;
        memset(&one, 0, sizeof one);
        a.count[i] = tc__ix_eval(x, r->lists.piece.at[n->piece].count, env);
        one.sym = &a.count[i];
        a.first[i] = (int32_t)blocks;
        blocks += tc__ix_eval(&r->lists.ix, each, &one);
    }
    *a.rows = (int32_t)s->count;
    return blocks;
}

// Launches for several tensors.
static int tc__remote_lists_lay_out(tc__remote *r, const tc__ixpool *x,
                                    const tc__ixenv *env) {
    size_t bytes = 0;
    for (size_t i = 0; i < r->listed.count; i++)
        bytes += tc__turn_launch(r, &r->order.step.at[r->listed.at[i].step])->bytes;
    if (r->listed_bytes) tc__free(r->ctx, r->listed_bytes, r->listed_room);
    r->listed_room = bytes + 8;
    r->listed_bytes = (uint8_t *)tc__alloc(r->ctx, r->listed_room);
    if (!r->listed_bytes) return 0;
    uint8_t *at = r->listed_bytes;
    for (size_t i = 0; i < r->listed.count; i++) {
        tc__remote_listed *d = &r->listed.at[i];
        const tc__remote_launch *l = tc__turn_launch(r, &r->order.step.at[d->step]);
        tc_device_launch *to = &r->list[d->at];
        const int *after = to->after;
        int n_after = to->n_after;
        d->argument = at, at += l->bytes;
        memset(to, 0, sizeof *to);
        to->after = after, to->n_after = n_after, to->kernel = l->kernel[0];
        to->blocks =
            tc__remote_blocks(r, &l->grids.at[0], tc__remote_list_sizes(r, d, x, env));
        to->threads = (uint32_t)l->grids.at[0].threads;
        to->early = (uint32_t)l->grids.at[0].early;
        to->argument = d->argument, to->offset = l->offset;
        to->n_argument = l->n_argument, to->argument_bytes = l->bytes;
    }
    return 1;
}

// Bytes of shared memory that a block of a launch takes at most.
static int64_t tc__remote_shared(const tc__remote_launch *l, const tc__ixpool *x,
                                 const tc__ixenv *env) {
    int64_t most = 0;
    for (int i = 0; i < l->grids.count; i++) {
        int64_t bytes = tc__ix_eval(x, l->grids.at[i].shared, env);
        if (bytes > most) most = bytes;
    }
    return most;
}

// Launch l as `list`, which has room for its kernels.
static int tc__remote_launch_lay_out(tc__remote *r, tc__remote_launch *l,
                                     tc_device_launch *list, const tc__ixpool *x,
                                     const tc__ixenv *env) {
    int64_t shared = tc__remote_shared(l, x, env);
    if (shared > (int64_t)r->device->own.shared_bytes)
        return tc__fail(r->ctx, TC_E_UNSUPPORTED,
                        "a kernel needs %lld bytes of shared memory, %s has %u for a block",
                        (long long)shared, r->device->own.name,
                        (unsigned)r->device->own.shared_bytes);
    for (int i = 0; i < l->grids.count; i++) {
        const tc__grid *g = &l->grids.at[i];
        tc_device_launch *to = &list[i];
        to->kernel = l->kernel[i];
        to->blocks = tc__remote_blocks(r, g, tc__ix_eval(x, g->blocks, env));
        to->threads = (uint32_t)g->threads, to->cluster = (uint32_t)g->cluster;
        to->shared = (uint32_t)tc__ix_eval(x, g->shared, env);
        to->early = (uint32_t)g->early;
        to->argument = l->argument, to->offset = l->offset;
        to->n_argument = l->n_argument, to->argument_bytes = l->bytes;
    }
    // Sizes are the last of the arguments.
    int64_t *size = (int64_t *)(void *)(l->argument + (size_t)l->n_argument * 8);
    for (int i = 0; i < l->grids.sizes; i++) size[i] = env->sym[i];
    if (l->group->target.checked) size[l->grids.sizes] = l->number;
    return 1;
}

// ---- the list of a run ----

// Places in the list for step i, behind what has one. last[]: of each step, its last place.
static int tc__remote_step(tc__remote *r, uint32_t i, uint32_t *last) {
    const tc__turn *s = &r->order.step.at[i];
    const tc__remote_launch *l = tc__turn_launch(r, s);
    uint32_t at = r->list_count, base = r->part[s->part].begin;
    tc__remote_listed listed;
    listed.step = i, listed.at = at, listed.argument = NULL;
    for (uint32_t k = 0; k < s->count; k++) {
        const tc__item *n = &r->order.item.at[r->order.member.at[s->first + k]];
        if (n->piece == tc__nobody || n->piece == r->launch[n->launch].piece)
            r->launch[n->launch].first = at;
    }
    for (uint32_t k = 0; k < s->n_after; k++)
        if (!TC__PUSH(r->ctx, r->after,
                      (int)(last[r->order.after.at[s->after + k]] - base)))
            return 0;
    r->list[at].n_after = (int)s->n_after;
    for (int g = 1; g < l->grids.count; g++) { // the launches of one text
        if (!TC__PUSH(r->ctx, r->after, (int)(at - base) + g - 1)) return 0;
        r->list[at + (uint32_t)g].n_after = 1;
    }
    r->list_count = at + (uint32_t)l->grids.count;
    last[i] = r->list_count - 1;
    return tc__turn_item(r, s)->piece == tc__nobody || TC__PUSH(r->ctx, r->listed, listed);
}

// The list, in its order, and what each launch comes after.
static int tc__remote_sequence(tc__remote *r, const tc__plan *plan) {
    uint32_t i = 0, n;
    if (!tc__remote_arrange(r, plan)) return 0;
    n = (uint32_t)r->order.step.count;
    uint32_t *last = TC__NEW_ARRAY(r->ctx, uint32_t, n);
    r->after.count = r->listed.count = 0, r->list_count = 0;
    int ok = last != NULL;
    for (uint32_t p = 0; p < r->parts; p++) {
        r->part[p].begin = r->list_count;
        for (; ok && i < n && r->order.step.at[i].part == p; i++)
            ok = tc__remote_step(r, i, last);
        r->part[p].end = r->list_count;
    }
    const int *at = r->after.at;
    for (uint32_t k = 0; ok && k < r->list_count; at += r->list[k++].n_after)
        r->list[k].after = at;
    if (last) TC__FREE_ARRAY(r->ctx, last, n);
    return ok;
}

// What a run of the program launches, here and on the host; lists count once.
static uint32_t tc__remote_runs(const tc__remote *r) {
    return (uint32_t)r->order.step.count + r->parts - 1;
}

// The arena has at least so many bytes.
static int tc__remote_arena(tc__remote *r, size_t bytes, uint8_t **memory) {
    void *address = NULL;
    tc_status s =
        bytes ? r->device->own.arena(r->device->own.user, bytes, &address) : TC_OK;
    *memory = (uint8_t *)address;
    return !s ||
           tc__device_failed(r->ctx, &r->device->own, "memory of intermediate results", s);
}

// Whether blocks have the shared memory that kernels need for these sizes.
static int tc__remote_fits(const tc__remote *r, const tc__ixpool *x, const tc__ixenv *env) {
    for (uint32_t i = 0; i < r->launches; i++)
        if (!r->launch[i].host &&
            tc__remote_shared(&r->launch[i], x, env) > (int64_t)r->device->own.shared_bytes)
            return 0;
    return 1;
}

// Everything that depends on sizes; 0 = reported.
static int tc__remote_lay_out(tc__remote *r, const tc__ixpool *x, const tc__ixenv *env,
                              const tc__plan *plan) {
    tc__remote_forget_plans(r); // what comes after what may change
    if (!tc__remote_workspace(r, x, env) || !tc__remote_sequence(r, plan)) return 0;
    for (uint32_t i = 0; i < r->launches; i++) {
        tc__remote_launch *l = &r->launch[i];
        if (!l->host && !l->pieces &&
            !tc__remote_launch_lay_out(r, l, &r->list[l->first], x, env))
            return 0;
    }
    return tc__remote_lists_lay_out(r, x, env);
}

// ---- for who compiles and reports ----

// What is compiled for the program: its launches, then the kernels of lists. NULL = nothing is.
static tc__remote_launch *tc__remote_wanted(const tc__remote *r, uint32_t i) {
    tc__remote_launch *l = i < r->launches ? &r->launch[i] : &r->form[i - r->launches];
    return l->host || l->pieces || (i >= r->launches && !l->group->shape.list) ? NULL : l;
}

static uint32_t tc__remote_most(const tc__remote *r) {
    return r->launches + (uint32_t)r->lists.form.count;
}

// Tensors of the list that is launched at this place.
static uint32_t tc__remote_tensors_at(const tc__remote *r, uint32_t at) {
    for (size_t i = 0; i < r->listed.count; i++)
        if (r->listed.at[i].at == at) return r->order.step.at[r->listed.at[i].step].count;
    return 0;
}

// The launch that the kernel at this place is for; of a list, that of its first tensor.
static uint32_t tc__remote_launch_at(const tc__remote *r, uint32_t at) {
    for (size_t i = 0; i < r->listed.count; i++)
        if (r->listed.at[i].at == at)
            return tc__turn_item(r, &r->order.step.at[r->listed.at[i].step])->launch;
    uint32_t i = 0;
    while (r->launch[i].host || r->launch[i].pieces || r->launch[i].first != at) i++;
    return i;
}

// And kernels of the program, by the place of their first pieces.
static uint32_t tc__remote_kernels_at(const tc__remote *r, uint32_t at) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->launches; i++)
        n += r->launch[i].pieces && r->launch[i].first == at;
    return n;
}
