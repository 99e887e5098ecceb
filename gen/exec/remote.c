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
    uint32_t n_argument, bytes;
    uint32_t first;  // its place in the list
    uint32_t order;  //   and among what is wanted, while there is such a job
    uint32_t number; // of the program's launches
    size_t work;     // its place in the workspace
} tc__remote_launch;

// What kernels of a program are told beside buffers and sizes; run-time values follow it. The same
// struct stands in the prelude of texts.
typedef struct tc__remote_state {
    int64_t *flag; // memory of the host: an index out of range
    uint64_t seed, draw;
} tc__remote_state;

// Launches [begin, end) of the list, behind which the host does launch `host`; UINT32_MAX = none.
typedef struct tc__remote_part {
    uint32_t begin, end, host;
    void *plan; // of the device
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
    int waiting; // it ran, and nobody has looked at its flag
    tc__remote_launch *launch;
    uint32_t launches, list_count, parts;
    tc_device_launch *list;
    TC__VEC(int) after; // places in a part, of all launches of the list
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
static int tc__remote_failed(tc_ctx *c, const tc__device *d, const char *what,
                             tc_status status) {
    const char *why = d->own.why ? d->own.why(d->own.user) : NULL;
    return tc__fail(c, status < 0 ? status : TC_E_BACKEND, "%s, on %s: %s", what,
                    d->own.name, why && *why ? why : tc__error_name(status));
}

// The languages of devices.
typedef struct tc__remote_language {
    const tc__dialect *dialect;
    // The head of a text that has these kernels; 0 = reported.
    int (*prelude)(tc__text *out, const tc__group *const *groups, int count);
    const char *spread; // its kernels write a strided view: see exec/remote_view.c
} tc__remote_language;

static const tc__remote_language tc__remote_languages[] = {
    {&tc__dialect_cuda, tc__print_cuda_prelude, tc__text_cuda_spread},
};

// NULL = there is none of this name.
static const tc__remote_language *tc__remote_language_of(const char *name) {
    for (size_t i = 0; i < TC__COUNT(tc__remote_languages); i++)
        if (!strcmp(tc__remote_languages[i].dialect->name, name))
            return &tc__remote_languages[i];
    return NULL;
}

static const tc__dialect *tc__remote_dialect(const tc__device *d) {
    return tc__remote_language_of(d->own.language)->dialect;
}

// ---- making ----

// Arguments: addresses of buffers that are memory, of the workspace, of the state, and sizes.
static int tc__remote_arguments(tc__arena *a, tc__remote_launch *l) {
    uint32_t n = 0, sizes = (uint32_t)tc__cuda_kargs(l->group);
    for (size_t i = 0; i < l->group->buffer.count; i++)
        n += l->group->buffer.at[i].place == TC__BUF_INPUT ||
             l->group->buffer.at[i].place == TC__BUF_NODE;
    n += !tc__ix_equals(l->grids.workspace, 0);
    l->n_argument = n + 1;
    l->bytes = (n + 1 + sizes) * 8;
    l->argument = (uint8_t *)TC__ANEW_ARRAY(a, int64_t, l->bytes / 8);
    l->offset = TC__ANEW_ARRAY(a, uint32_t, l->n_argument);
    for (uint32_t i = 0; l->offset && i <= n; i++) l->offset[i] = i * 8;
    return l->argument && l->offset;
}

static int tc__remote_note(tc__remote *r, const tc__group *g) {
    r->checks |= g->checked;
    for (size_t i = 0; i < g->body.node.count; i++) {
        const tc__node *n = g->body.node.at[i];
        const tc__opaque_row *row =
            n->op == TC_OP_CALL ? tc__opaque_row_of((int)n->attr[TC__CALL_OP]) : NULL;
        r->checks |= n->op == TC_OP_CHECK || (row && row->checks);
        r->draws |= n->op == TC_OP_RANDOM;
    }
    return 1;
}

// Launch i of the program. host: there is a function of the host for it.
static int tc__remote_add(tc__remote *r, tc__arena *a, uint32_t i, const tc__group *g,
                          void *const *buf, int host) {
    tc__remote_launch *l = &r->launch[i];
    const tc__remote_language *d = tc__remote_language_of(r->device->own.language);
    l->group = g, l->buf = buf, l->number = i;
    l->host = host && !d->dialect->has_opaque(r->ctx, g);
    if (l->host) return 1;
    return d->dialect->grids(r->ctx, g, &l->grids) && tc__remote_arguments(a, l) &&
           tc__remote_note(r, g);
}

// A launch on the host ends a part; so does the last launch.
static int tc__remote_split(tc__remote *r, tc__arena *a) {
    uint32_t hosts = 0, begin = 0, n = 0;
    for (uint32_t i = 0; i < r->launches; i++) hosts += (uint32_t)r->launch[i].host;
    r->part = TC__ANEW_ARRAY(a, tc__remote_part, hosts + 1);
    if (!r->part) return 0;
    for (uint32_t i = 0; i <= r->launches; i++) {
        tc__remote_launch *l = i < r->launches ? &r->launch[i] : NULL;
        if (l && !l->host) {
            l->first = n, n += (uint32_t)l->grids.count;
            continue;
        }
        tc__remote_part *p = &r->part[r->parts++];
        p->begin = begin, p->end = n, p->host = l ? i : UINT32_MAX, p->plan = NULL;
        begin = n;
    }
    r->list_count = n;
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
    return !s || tc__remote_failed(r->ctx, r->device, "memory of a program", s);
}

// All launches were added.
static int tc__remote_close_list(tc__remote *r, tc__arena *a, size_t args) {
    return tc__remote_split(r, a) && tc__remote_memory(r, a, args);
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
        r->part[i].plan = NULL;
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
        if (s) return tc__remote_failed(r->ctx, r->device, "memory of a program", s);
        r->work_bytes = total;
    }
    tc_status s = total ? d->fill(d->user, r->work.address, 0, total) : TC_OK;
    return !s || tc__remote_failed(r->ctx, r->device, "memory of a program", s);
}

static uint32_t tc__remote_blocks(const tc__remote *r, const tc__grid *g, int64_t blocks) {
    int64_t most = g->waves ? (int64_t)g->waves * r->device->own.processors : INT32_MAX;
    if (blocks > most) blocks = most;
    if (blocks < 1) blocks = 1;
    if (g->cluster > 1)
        blocks = (blocks + g->cluster - 1) / g->cluster * (int64_t)g->cluster;
    return (uint32_t)blocks;
}

// Launch l as `list`, which has room for its kernels.
static int tc__remote_launch_lay_out(tc__remote *r, tc__remote_launch *l,
                                     tc_device_launch *list, const tc__ixpool *x,
                                     const tc__ixenv *env) {
    for (int i = 0; i < l->grids.count; i++) {
        const tc__grid *g = &l->grids.at[i];
        tc_device_launch *to = &list[i];
        int64_t shared = tc__ix_eval(x, g->shared, env);
        to->kernel = l->kernel[i];
        to->blocks = tc__remote_blocks(r, g, tc__ix_eval(x, g->blocks, env));
        to->threads = (uint32_t)g->threads, to->cluster = (uint32_t)g->cluster;
        to->shared = (uint32_t)shared;
        to->early = (uint32_t)g->early;
        to->argument = l->argument, to->offset = l->offset;
        to->n_argument = l->n_argument, to->argument_bytes = l->bytes;
        if (shared > (int64_t)r->device->own.shared_bytes)
            return tc__fail(r->ctx, TC_E_UNSUPPORTED,
                            "a kernel needs %lld bytes of shared memory, %s has %u for a "
                            "block",
                            (long long)shared, r->device->own.name,
                            (unsigned)r->device->own.shared_bytes);
    }
    // Sizes are the last of the arguments.
    int64_t *size = (int64_t *)(void *)(l->argument + (size_t)l->n_argument * 8);
    for (int i = 0; i < l->grids.sizes; i++) size[i] = env->sym[i];
    if (l->group->checked) size[l->grids.sizes] = l->number;
    return 1;
}

// Memory of a buffer: a range of the arena, or a whole output or input.
typedef struct tc__remote_range {
    int kind; // 0 = arena, 1 = an output by itself, 2 = an input
    size_t from, to;
} tc__remote_range;

static tc__remote_range tc__remote_range_of(const tc__kbuf *b, const tc__plan *plan) {
    tc__remote_range m;
    memset(&m, 0, sizeof m);
    m.kind = 2, m.from = b->source, m.to = m.from + 1;
    if (b->place != TC__BUF_NODE) return m;
    const tc__slab *s = tc__plan_find(plan, b->source);
    m.kind = !s || s->output, m.from = b->source, m.to = m.from + 1;
    if (!m.kind) m.from = s->offset, m.to = s->offset + s->bytes;
    return m;
}

static int tc__is_remote_memory(const tc__kbuf *b) {
    return b->place == TC__BUF_INPUT || b->place == TC__BUF_NODE;
}

// Whether two launches use the same memory, and one of them writes there.
static int tc__remote_meet(const tc__remote_launch *a, const tc__remote_launch *b,
                           const tc__plan *plan) {
    for (size_t i = 0; i < a->group->buffer.count; i++) {
        const tc__kbuf *x = &a->group->buffer.at[i];
        if (!tc__is_remote_memory(x)) continue;
        tc__remote_range m = tc__remote_range_of(x, plan);
        for (size_t k = 0; k < b->group->buffer.count; k++) {
            const tc__kbuf *y = &b->group->buffer.at[k];
            if (!tc__is_remote_memory(y) || (!x->written && !y->written)) continue;
            tc__remote_range n = tc__remote_range_of(y, plan);
            if (m.kind == n.kind && m.from < n.to && n.from < m.to) return 1;
        }
    }
    return 0;
}

// What launch i comes after, of those from `begin` on whose first kernel is at `base` of the list.
static int tc__remote_after(tc__remote *r, const tc__plan *plan, uint32_t begin, uint32_t i,
                            int in_order) {
    const tc__remote_launch *l = &r->launch[i];
    uint32_t base = r->launch[begin].first;
    int n = 0;
    for (uint32_t k = i; k-- > begin && !(in_order && n);) {
        const tc__remote_launch *b = &r->launch[k];
        int last = (int)(b->first + (uint32_t)b->grids.count - 1 - base);
        if (!in_order && !tc__remote_meet(l, b, plan)) continue;
        if (!TC__PUSH(r->ctx, r->after, last)) return 0;
        n++;
    }
    r->list[l->first].n_after = n;
    for (int g = 1; g < l->grids.count; g++) { // the launches of one text
        if (!TC__PUSH(r->ctx, r->after, (int)(l->first - base) + g - 1)) return 0;
        r->list[l->first + (uint32_t)g].n_after = 1;
    }
    return 1;
}

// What each launch comes after. in_order: the one before, since externals may share memory that kernels
// write.
static int tc__remote_sequence(tc__remote *r, const tc__plan *plan, int in_order) {
    uint32_t begin = 0; // first launch of the part
    r->after.count = 0;
    for (uint32_t i = 0; i < r->launches; i++) {
        if (r->launch[i].host)
            begin = i + 1;
        else if (!tc__remote_after(r, plan, begin, i, in_order))
            return 0;
    }
    const int *at = r->after.at;
    for (uint32_t i = 0; i < r->list_count; at += r->list[i++].n_after)
        r->list[i].after = at;
    return 1;
}

// The arena has at least so many bytes.
static int tc__remote_arena(tc__remote *r, size_t bytes, uint8_t **memory) {
    void *address = NULL;
    tc_status s =
        bytes ? r->device->own.arena(r->device->own.user, bytes, &address) : TC_OK;
    *memory = (uint8_t *)address;
    return !s || tc__remote_failed(r->ctx, r->device, "memory of intermediate results", s);
}

// Everything that depends on sizes; 0 = reported.
static int tc__remote_lay_out(tc__remote *r, const tc__ixpool *x, const tc__ixenv *env,
                              const tc__plan *plan, int in_order) {
    if (!tc__remote_workspace(r, x, env)) return 0;
    for (uint32_t i = 0; i < r->launches; i++) {
        tc__remote_launch *l = &r->launch[i];
        if (!l->host && !tc__remote_launch_lay_out(r, l, &r->list[l->first], x, env))
            return 0;
    }
    tc__remote_forget_plans(r); // what comes after what may have changed
    return tc__remote_sequence(r, plan, in_order);
}

// ---- running ----

static void tc__remote_fill(const tc__remote *r, const tc__remote_launch *l) {
    uint8_t *to = l->argument;
    for (size_t i = 0; i < l->group->buffer.count; i++) {
        if (!tc__is_remote_memory(&l->group->buffer.at[i])) continue;
        memcpy(to, &l->buf[i], 8);
        to += 8;
    }
    if (!tc__ix_equals(l->grids.workspace, 0)) {
        char *work = (char *)r->work.address + l->work;
        memcpy(to, &work, 8);
        to += 8;
    }
    memcpy(to, &r->state.address, 8);
}

// The device is told what changed of state and run-time values.
static int tc__remote_tell(tc__remote *r, uint64_t seed, uint64_t draw,
                           const tc__value *arg) {
    const tc_device *d = &r->device->own;
    tc__remote_state now;
    size_t args = r->state_bytes - sizeof now;
    memset(&now, 0, sizeof now);
    now.flag = r->flag;
    if (r->draws) now.seed = seed, now.draw = draw;
    int same = r->told && !memcmp(r->state_now, &now, sizeof now) &&
               (!args || !memcmp(r->state_now + sizeof now, arg, args));
    if (same) return 1;
    memcpy(r->state_now, &now, sizeof now);
    if (args) memcpy(r->state_now + sizeof now, arg, args);
    tc_status s = d->copy_in(d->user, r->state.address, r->state_now, r->state_bytes);
    r->told = !s;
    return !s || tc__remote_failed(r->ctx, r->device, "values of a run", s);
}

// Runs a part up to its launch on the host. 0 = reported.
static int tc__remote_run_part(tc__remote *r, tc__remote_part *p) {
    const tc_device *d = &r->device->own;
    if (p->begin == p->end) return 1;
    tc_status s =
        d->run(d->user, &p->plan, r->list + p->begin, (int)(p->end - p->begin), r->mode);
    return !s || tc__remote_failed(r->ctx, r->device, "kernels", s);
}
