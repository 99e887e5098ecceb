// What a program has of a device: its kernels as launches, and memory that they share. Input: the
// launches of a program, as groups with the addresses of their buffers. Output: lists that the device
// runs (tc_device_launch): in which order is exec/dispatch_order.c, for which sizes dispatch_layout.c.
//
// Intermediates of all programs are in one place of the device (tc_device.arena), as large as the one that wants
// most: they run one after the other there. So are write-backs that no kernel does itself (exec/outputs.c: beside),
// to the end of the program. So is the memory of loops. Between runs a program keeps results, workspaces and its
// state, and one that never runs again nothing else.
//
// A launch for which the device has no text (an opaque op) is done by the host, between two lists.

// Who launches a kernel of the program.
typedef enum tc__launcher {
    TC__BY_DEVICE,
    TC__BY_HOST, // between two lists: an op without text, or a copy to or from another device
    TC__BY_ANOTHER // device, or the host for itself
} tc__launcher;

typedef struct tc__dispatch_launch {
    const tc__group *group;
    void *const *buf; // addresses by buffer
    tc__launcher by;
    tc__grids grids;
    tc_device_map map[TC__MAPS]; // of the grids, by arguments
    tc__compiled *code;          // counted; NULL = not compiled yet
    void *kernel[TC__GRIDS];     //   and what it has, of the device
    uint8_t *argument;           // as the kernels take them, and where each begins
    uint32_t *offset;
    uint32_t *memory, memories; // buffers whose addresses are the first of them
    uint32_t n_argument, bytes;
    uint32_t sizes;         // where those begin, in the arguments
    uint32_t first;         // its place in the list; that of its first piece
    uint32_t piece, pieces; // of dispatch.lists, that are launched instead; 0 = it is whole
    uint32_t order;         //   and among what is wanted, while there is such a job
    uint32_t number;        // of the program's launches
    uint32_t alike;         // the first of them whose kernel was the same when it was added
    tc__beside beside;      // what it is told, where it can be told
    size_t work;            // its place in the workspace,
    uint32_t room;          //   which is that of this launch of the program
} tc__dispatch_launch;

// What kernels of a program are told beside buffers and sizes; run-time values follow it. The same
// struct stands in the prelude of texts.
typedef struct tc__dispatch_state {
    int64_t *flag; // memory of the host: an index out of range
    uint64_t seed, draw;
    uint64_t failed; // on the device: what is guarded writes nothing then
} tc__dispatch_state;

// A launch for several tensors: its arguments in `listed`, and its place in the list.
typedef struct tc__dispatch_listed {
    uint32_t step, at;
    uint8_t *argument;
} tc__dispatch_listed;

// Launches [begin, end) of the list, behind which the host does something.
typedef struct tc__dispatch_part {
    uint32_t begin, end;
    void *plan; // of the device
    int ran;    // it did, and nothing of its launches has changed since
} tc__dispatch_part;

// Bytes that kernels of a device access at once, at multiples of them.
enum { TC__DEVICE_ACCESS = 16 };

// An external that kernels cannot read or write where it is, while a run lasts: see
// exec/transfer.c.
typedef struct tc__bounce {
    uint32_t address; // of the program: the first that it stands for
    tc_device_memory memory;
    char *from, *to; // its first element, and that element in `memory`
    int64_t low;     // bytes to the lowest address
    size_t bytes;    // from there on
} tc__bounce;

typedef struct tc__dispatch {
    tc_ctx *ctx;
    tc__device *device;
    struct tc__dispatch *next; // of the program, on another device; NULL = this is the last
    tc__plan plan;             // of intermediates there,
    uint8_t *memory;           //   which are at this place in the device's arena
    uint32_t now;              // while acts are listed: the part that is open
    int given;                 //   and whether it is among them
    int ready;                 // the code is there
    int checks;                // some kernel checks an index
    int numbers;               // some external is a number of the host
    int waiting;               // it ran, and nobody has looked at its flag
    tc__dispatch_launch *launch;
    uint32_t launches, list_count, parts;
    tc_device_launch *list;
    TC__VEC(int) after; // places in a part, of all launches of the list
    uint32_t *since;    // by launch: the first of the lists that it meets; NULL = none is
    const tc__overlay_set *
        *over; // by launch: results that may lie where operands do; NULL = none may
    const uint32_t *direct; // by node: the external in whose memory it is; NULL = none is
    int in_order;           // externals may share memory that kernels write
    uint32_t placed;        // INPUTs from this number on are places of loops: exec/loops.c
    tc__lists lists;
    tc__dispatch_launch *form; // the kernels of lists, by form
    tc__sequence order;
    TC__VEC(tc__dispatch_listed) listed;
    uint8_t *listed_bytes; // their arguments, owned
    size_t listed_room;
    tc__dispatch_part *part;
    tc_device_mode mode;
    tc_device_memory state, work;
    size_t work_bytes, state_bytes;
    uint8_t *state_now; // what the device has been told
    int told, draws;    // it has; some kernel draws random numbers
    int64_t *flag;
    TC__VEC(tc__bounce) bounce;
    tc__compiled *spread; // counted; NULL = no strided result was written yet
} tc__dispatch;

// A failure of the device, with its own words. Always 0.
static int tc__device_failed(tc_ctx *c, const tc_device *d, const char *what,
                             tc_status status) {
    const char *why = d->why ? d->why(d->user) : NULL;
    return tc__fail(c, status < 0 ? status : TC_E_BACKEND, "%s, on %s: %s", what, d->name,
                    why && *why ? why : tc__error_name(status));
}

// ---- making ----

// Arguments: addresses of buffers that are memory, of the workspace, of the state, and sizes. Behind them maps of
// tensors, which the device makes.
static int tc__dispatch_arguments(tc__arena *a, tc__dispatch_launch *l) {
    uint32_t n,
        buffers = (uint32_t)l->group->buffer.count,
        sizes = (uint32_t)(l->grids.sizes + l->group->target.checked + l->grids.beside);
    if (!sizes) sizes = 1;
    l->memory = TC__ANEW_ARRAY(a, uint32_t, buffers);
    if (!l->memory) return 0;
    for (uint32_t i = 0; i < buffers; i++)
        if (tc__is_memory(&l->group->buffer.at[i])) l->memory[l->memories++] = i;
    n = l->memories + !tc__ix_equals(l->grids.workspace, 0);
    l->n_argument = n + 1 + (uint32_t)l->grids.maps;
    l->sizes = (n + 1) * 8, l->bytes = (n + 1 + sizes) * 8;
    l->offset = TC__ANEW_ARRAY(a, uint32_t, l->n_argument);
    for (uint32_t i = 0; l->offset && i <= n; i++) l->offset[i] = i * 8;
    for (uint32_t i = n + 1; l->offset && i < l->n_argument;
         i++, l->bytes += TC_DEVICE_MAP_BYTES)
        l->offset[i] = l->bytes;
    l->argument = (uint8_t *)TC__ANEW_ARRAY(a, int64_t, l->bytes / 8);
    return l->argument && l->offset;
}

// Whether the kernel looks at an index, which may be wrong.
static int tc__group_checks(const tc__group *g) {
    for (size_t i = 0; i < g->body.node.count; i++) {
        const tc__node *n = g->body.node.at[i];
        int scatter = n->op == TC_OP_CALL && tc__changes_some(n->attr[TC__CALL_OP]);
        if (n->op == TC_OP_CHECK || scatter) return 1;
    }
    return 0;
}

static int tc__dispatch_note(tc__dispatch *r, const tc__group *g) {
    r->checks |= g->target.checked | tc__group_checks(g);
    r->draws |= tc__count_op(g, TC_OP_RANDOM) > 0;
    return 1;
}

// The first launch whose kernel is that of launch i: itself, if there is none before.
static uint32_t tc__dispatch_alike(const tc__dispatch *r, uint32_t i) {
    for (uint32_t k = 0; k < i; k++)
        if (r->launch[k].alike == k &&
            tc__groups_same(r->launch[k].group, r->launch[i].group))
            return k;
    return i;
}

// The first launch in whose workspace launch i has its own: what begins with as many zeros and leaves them so. What works
// beside others shares with nobody.
static uint32_t tc__dispatch_shares(const tc__dispatch *r, uint32_t i) {
    const tc__grids *g = &r->launch[i].grids;
    if (tc__ix_equals(g->workspace, 0) || g->beside) return i;
    for (uint32_t k = 0; k < i; k++) {
        const tc__dispatch_launch *l = &r->launch[k];
        if (!l->by && l->room == k && !tc__ix_equals(l->grids.workspace, 0) &&
            !l->grids.beside && l->grids.zeroed == g->zeroed)
            return k;
    }
    return i;
}

// Launch i of the program, which the device need not have: by whom.
static void tc__dispatch_skip(tc__dispatch *r, uint32_t i, const tc__group *g,
                              tc__launcher by) {
    r->launch[i].group = g, r->launch[i].by = by, r->launch[i].alike = UINT32_MAX;
}

// Launch i of the program, on this device. host: there is a function of the host for it.
static int tc__dispatch_add(tc__dispatch *r, tc__arena *a, uint32_t i, const tc__group *g,
                            void *const *buf, int host) {
    tc__dispatch_launch *l = &r->launch[i];
    const tc__dialect *d = r->device->own.language->dialect;
    l->group = g, l->buf = buf, l->number = i;
    if (host && !d->has_opaque(r->ctx, g))
        return tc__dispatch_skip(r, i, g, TC__BY_HOST), 1;
    l->alike = tc__dispatch_alike(r, i);
    if (l->alike < i)
        l->grids = r->launch[l->alike].grids;
    else if (!d->grids(r->ctx, g, &l->grids))
        return 0;
    l->room = tc__dispatch_shares(r, i);
    r->over[i] = &l->grids.over;
    return tc__dispatch_arguments(a, l) && tc__dispatch_note(r, g);
}
