// A CUDA driver for machines without a GPU: every entry point of tables/cuda_driver.def
// over memory of the host. It is strict where a driver is: handles must be alive, a context
// must be current, memory must be mapped, and copies happen as late as they may. A cubin is
// what nvrtc_fake.c made, whose launches are executed when the stream gets to them, or a text,
// "name size size...", a line for each kernel: the sizes of its parameters; its launches are
// only noted. Build: cc -shared -fPIC -std=c99 -D_GNU_SOURCE -Igen -I. -Itests, with
// cuda_emulate.c; -DFAKE_OLD leaves out what is optional in the table.
//
// Copying late makes a buffer that is used too soon give wrong bytes. tests/cuda/abi.c
// compares types and prototypes with NVIDIA's headers where they are installed. What no
// fake can show, a GPU must: that the order of calls means what we think.
#include "tcompile.h"
#include "cuda/prelude.c"
#include "cuda/types.c"
#include "tools/cuda_emulate_image.h"
#include "tools/cuda_fake.h"

#include <sys/mman.h>

// ---- objects

typedef struct object {
    fake_kind kind;
    struct object *next;
    unsigned char *at; // memory, or the text of code
    size_t size;
    unsigned char *pages;      // memory: with what is around it
    size_t pages_size;         // "
    const emu_image *image;    // code: what the emulator executes
    void *library;             // code: that of the image
    struct op *first, **last;  // stream: what is to be done
    size_t given, done;        // stream: numbers of operations
    double clock;              // stream: nanoseconds of what it was given; event: when
    struct object *stream;     // event: recorded there
    size_t number;             // event: after that operation
    int timed;                 // event: knows when
    struct node *node;         // graph, exec
    struct object *graph;      // exec
    struct kernel *kernel;     // library, module: those handed out
    struct object *range, *of; // mapping
    int accessible;            // mapping
    struct object *context;    // of whatever belongs to one
    int device;                // context: 10 + ordinal; 0 = somebody else's
    unsigned peers;            // context: bit i: it may use the memory of device i
} object;

typedef struct op {
    struct op *next;
    unsigned char *to;
    const unsigned char *from; // NULL: set to `value`
    unsigned char value;
    size_t size;
    object *stream; // not NULL: wait until it has done `number`
    size_t number;
    fake_launch *launch; // not NULL: execute; of malloc
} op;

typedef struct kernel {
    struct kernel *next;
    object *owner;
    char name[64];
    size_t size[FAKE_ARGS];
    int count, dynamic;
    const emu_kernel *code; // NULL = a text, nothing is executed
} kernel;

typedef struct node {
    struct node *next;
    object *graph;
    fake_launch launch;
    struct node **before; // nodes of the graph, too, of malloc
    int n_before, done;
    struct node *from; // of an exec: the graph's
} node;

enum { PAGE = 4096, ALIGNED = 512 };

// Parameters are kept one after the other, those of the emulator each at a multiple of 64, as tensor maps want it.
#define PARAM_ROOM(size) (((size) + 63) / 64 * 64)

static fake_control state;
static object *objects;
static int context_users[FAKE_DEVICES];
static object *context[FAKE_DEVICES]; // the primary ones
static long init_process;
static __thread object *current;

static object *make(fake_kind kind, size_t size);

static void *foreign(void) {
    current = make(FAKE_CONTEXT, 0);
    return current;
}

fake_control *fake_state(void) {
    if (state.version) return &state;
    state.version = 13000;
    state.devices = 1;
    state.links = 1;
    state.major = 9;
    state.virtual_memory = 1;
    state.memory = (size_t)1 << 30;
    state.poison = (size_t)16 << 20;
    state.foreign = foreign;
    return &state;
}

// A program that is not a test finds it ready.
__attribute__((constructor)) static void fake_ready(void) { (void)fake_state(); }

static int misuse(const char *what) {
    if (!state.misuse++) snprintf(state.misused, sizeof state.misused, "%s", what);
    return 400; // invalid handle
}

static object *make(fake_kind kind, size_t size) {
    object *o = (object *)calloc(1, sizeof *o);
    o->kind = kind;
    o->size = size;
    o->next = objects;
    o->last = &o->first;
    o->context = current;
    objects = o;
    state.live[kind]++;
    return o;
}

static int is(const void *handle, fake_kind kind) {
    for (object *o = objects; o; o = o->next)
        if (o == handle) return o->kind == kind;
    return 0;
}

static object *find_at(fake_kind kind, const void *at) {
    for (object *o = objects; o; o = o->next)
        if (o->kind == kind && o->at == at) return o;
    return NULL;
}

static void run(object *stream, size_t number);

static void drop(object *o) {
    object **link = &objects;
    while (*link != o) link = &(*link)->next;
    *link = o->next;
    state.live[o->kind]--;
    if (o->kind == FAKE_MEMORY || o->kind == FAKE_PHYSICAL) state.used -= o->size;
    if (o->kind == FAKE_PINNED || o->kind == FAKE_LIBRARY || o->kind == FAKE_MODULE)
        free(o->at);
    if (o->pages) munmap(o->pages, o->pages_size);
    emu_unload(o->library);
    if (o->kind == FAKE_RANGE) munmap(o->at, o->size);
    if (o->kind == FAKE_MAPPING) mprotect(o->at, o->size, PROT_NONE);
    while (o->first) {
        op *p = o->first;
        o->first = p->next;
        free(p->launch);
        free(p);
    }
    while (o->node) {
        node *n = o->node;
        o->node = n->next;
        free(n->before);
        free(n);
    }
    while (o->kernel) {
        kernel *k = o->kernel;
        o->kernel = k->next;
        free(k);
    }
    free(o);
}

// ---- calls

// The code that the call is to give, and its line in the log.
static int note(const char *name, size_t detail) {
    if (state.calls < FAKE_CALLS) {
        state.name[state.calls] = name;
        state.detail[state.calls] = detail;
    }
    state.calls++;
    if (state.fail_name && !strcmp(name, state.fail_name)) return state.fail_code;
    if (state.fail_at &&
        (state.calls == state.fail_at || (state.sticky && state.calls > state.fail_at)))
        return state.fail_code;
    return 0;
}

#define CALL(detail)                                                                       \
    do {                                                                                   \
        int code = note(__func__, (size_t)(detail));                                       \
        if (code) return code;                                                             \
    } while (0)

// A call in a context.
#define IN_CONTEXT(detail)                                                                 \
    CALL(detail);                                                                          \
    if (!is(current, FAKE_CONTEXT)) return misuse(__func__), 201

// A call that gives back: it does so even if it reports an error of earlier work, unless
// the device is dead.
#define GIVES_BACK(handle, kind)                                                           \
    int code = note(__func__, 0);                                                          \
    if (code && state.sticky) return code;                                                 \
    if (!is(current, FAKE_CONTEXT)) return misuse(__func__), 201;                          \
    if (!is(handle, kind)) return misuse(__func__)

#define NEEDS(handle, kind)                                                                \
    if (!is(handle, kind)) return misuse(__func__)

// ---- init, devices, contexts

int cuDriverGetVersion(int *version) {
    CALL(0);
    *version = state.version;
    return 0;
}

int cuInit(unsigned flags) {
    CALL(flags);
    if (init_process && init_process != (long)getpid()) return 3;
    if (!state.init_code) init_process = (long)getpid();
    return state.init_code;
}

int cuGetErrorName(int code, const char **text) {
    *text = code == 2     ? "CUDA_ERROR_OUT_OF_MEMORY"
            : code == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS"
                          : "CUDA_ERROR_OF_THE_FAKE";
    return 0;
}

int cuGetErrorString(int code, const char **text) {
    *text = code == 2                            ? "out of memory"
            : state.fault && code == state.fault ? state.fault_text
                                                 : "what the driver says";
    return 0;
}

int cuDeviceGetCount(int *count) {
    CALL(0);
    if (init_process != (long)getpid()) return 3;
    *count = state.devices;
    return 0;
}

int cuDeviceGet(int *device, int ordinal) {
    CALL(ordinal);
    if (ordinal < 0 || ordinal >= state.devices) return 101;
    *device = 10 + ordinal; // is not the ordinal
    return 0;
}

int cuDeviceGetName(char *name, int room, int device) {
    CALL(device);
    snprintf(name, (size_t)room, "Fake %d", device - 10);
    return 0;
}

int cuDeviceGetAttribute(int *value, int what, int device) {
    static const int known[][2] = {
        {TCU__THREADS_PER_BLOCK, 1024}, {TCU__MULTIPROCESSORS, 132},
        {TCU__L2_BYTES, 62914560},      {TCU__THREADS_PER_SM, 2048},
        {TCU__SHARED_PER_SM, 233472},   {TCU__SHARED_PER_BLOCK, 232448},
        {TCU__TENSOR_MAPS, 1}};
    CALL(what);
    if (device < 10 || device >= 10 + state.devices) return 101;
    *value = what == TCU__MAJOR            ? state.major
             : what == TCU__MINOR          ? state.minor
             : what == TCU__CLUSTERS       ? state.major >= 9
             : what == TCU__VIRTUAL_MEMORY ? state.virtual_memory
                                           : -1;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i][0] == what) *value = known[i][1];
    return *value < 0 ? 1 : 0; // as an older driver asked for tensor maps
}

int cuDeviceTotalMem_v2(size_t *bytes, int device) {
    CALL(device);
    *bytes = state.memory;
    return 0;
}

int cuDevicePrimaryCtxRetain(object **out, int device) {
    int i = device - 10;
    CALL(device);
    if (i < 0 || i >= state.devices || i >= FAKE_DEVICES) return 101;
    if (!context_users[i]++) {
        context[i] = make(FAKE_CONTEXT, 0);
        context[i]->device = device;
    }
    *out = context[i];
    return 0;
}

int cuDevicePrimaryCtxRelease_v2(int device) {
    int code = note(__func__, (size_t)device), i = device - 10;
    if (i < 0 || i >= FAKE_DEVICES || !context_users[i]) return misuse(__func__);
    if (--context_users[i]) return code;
    if (current == context[i]) current = NULL;
    // What the context had dies with it. Only after a deadly error may there be something.
    for (object *o = objects, *next; o && state.sticky; o = next) {
        next = o->next;
        if (o->device) continue; // a primary context
        if (o->context == context[i] || !o->context) drop(o);
    }
    drop(context[i]);
    context[i] = NULL;
    return code;
}

// ---- between devices

#ifndef FAKE_OLD
int cuDeviceCanAccessPeer(int *can, int device, int other) {
    CALL(other);
    if (device < 10 || other < 10 || device == other) return misuse(__func__), 101;
    *can = state.links;
    return 0;
}

int cuCtxEnablePeerAccess(object *other, unsigned flags) {
    IN_CONTEXT(flags);
    NEEDS(other, FAKE_CONTEXT);
    if (!state.links || other == current || !other->device) return misuse(__func__), 217;
    unsigned bit = 1u << (other->device - 10);
    if (current->peers & bit) return 704;
    current->peers |= bit;
    return 0;
}
#endif

int cuCtxGetCurrent(object **out) {
    CALL(0);
    *out = current;
    return 0;
}

int cuCtxSetCurrent(object *c) {
    CALL(c != NULL);
    if (c) NEEDS(c, FAKE_CONTEXT);
    current = c;
    return 0;
}

// ---- kernels: executed when the stream gets there, by cuda_emulate.c

// A kernel failed: as on a device, nothing works from now on.
static void dies(int code) {
    if (state.fault) return;
    state.fault = code;
    state.fail_code = code;
    state.fail_at = state.calls;
    state.sticky = 1;
}

// What an address is beside or in, for the text of a failure.
static void describe(const void *at, char *text, size_t room) {
    const unsigned char *p = (const unsigned char *)at;
    for (object *o = objects; o; o = o->next) {
        if (!o->pages || p < o->pages || p >= o->pages + o->pages_size) continue;
        if (p < o->at)
            snprintf(text, room, "%zu bytes before memory of %zu", (size_t)(o->at - p),
                     o->size);
        else
            snprintf(text, room, "at byte %zu of memory of %zu", (size_t)(p - o->at),
                     o->size);
        return;
    }
    snprintf(text, room, "where there is no memory");
}

static int is_around(const unsigned char *from, const unsigned char *to) {
    while (from < to && *from == EMU_AROUND) from++;
    return from == to;
}

// Nothing was written right before or behind any memory.
static void check_memory(const fake_launch *l) {
    for (object *o = objects; o; o = o->next) {
        if (o->kind != FAKE_MEMORY) continue;
        const unsigned char *end = o->pages + o->pages_size - PAGE;
        int before = is_around(o->pages + PAGE, o->at),
            behind = is_around(o->at + o->size, end);
        if (before && behind) continue;
        snprintf(state.fault_text, sizeof state.fault_text,
                 "kernel %s: a write right %s memory of %zu bytes", l->name,
                 before ? "behind" : "before", o->size);
        dies(EMU_ADDRESS);
    }
}

static void execute(const fake_launch *l) {
    const kernel *k = (const kernel *)l->kernel;
    static unsigned char room[FAKE_PARAMS] __attribute__((aligned(64)));
    void *params[FAKE_ARGS];
    size_t at = 0;
    emu_launch e;
    memset(&e, 0, sizeof e);
    memcpy(room, l->params, sizeof room);
    for (int i = 0; i < k->count; i++) {
        params[i] = room + at;
        at += PARAM_ROOM(k->size[i]);
    }
    e.image = k->owner->image;
    e.kernel = k->code;
    memcpy(e.grid, l->grid, sizeof e.grid);
    memcpy(e.block, l->block, sizeof e.block);
    memcpy(e.cluster, l->cluster, sizeof e.cluster);
    e.shared = l->shared;
    e.params = params;
    e.describe = describe;
    int code = emu_run(&e, state.fault_text, sizeof state.fault_text);
    state.executed++;
    if (code)
        dies(code);
    else
        check_memory(l);
}

// ---- streams and events: work waits in the stream until somebody needs it

static void run_op(const op *p) {
    if (state.fault) return;
    if (p->launch)
        execute(p->launch);
    else if (p->stream)
        run(p->stream, p->number);
    else if (p->from)
        memcpy(p->to, p->from, p->size);
    else
        memset(p->to, p->value, p->size);
}

static void run(object *stream, size_t number) {
    if (!is(stream, FAKE_STREAM)) return;
    while (stream->first && stream->done < number) {
        op *p = stream->first;
        run_op(p);
        stream->first = p->next;
        if (!stream->first) stream->last = &stream->first;
        stream->done++;
        free(p->launch);
        free(p);
    }
}

static void run_all(void) {
    for (object *o = objects; o; o = o->next)
        if (o->kind == FAKE_STREAM) run(o, o->given);
}

static op *later(object *stream) {
    op *p = (op *)calloc(1, sizeof *p);
    *stream->last = p;
    stream->last = &p->next;
    stream->given++;
    stream->clock += state.op_ns;
    return p;
}

int cuStreamCreateWithPriority(object **out, unsigned flags, int priority) {
    IN_CONTEXT(flags);
    *out = make(FAKE_STREAM, (size_t)priority);
    return 0;
}

int cuStreamDestroy_v2(object *s) {
    GIVES_BACK(s, FAKE_STREAM);
    run(s, s->given);
    drop(s);
    return code;
}

int cuStreamSynchronize(object *s) {
    IN_CONTEXT(0);
    NEEDS(s, FAKE_STREAM);
    run(s, s->given);
    return state.fault;
}

int cuStreamWaitEvent(object *s, object *e, unsigned flags) {
    IN_CONTEXT(flags);
    NEEDS(s, FAKE_STREAM);
    NEEDS(e, FAKE_EVENT);
    op *p = later(s);
    p->stream = e->stream ? e->stream : s;
    p->number = e->stream ? e->number : 0;
    return 0;
}

int cuEventCreate(object **out, unsigned flags) {
    IN_CONTEXT(flags);
    *out = make(FAKE_EVENT, 0);
    (*out)->timed = !(flags & 2);
    return 0;
}

int cuEventDestroy_v2(object *e) {
    GIVES_BACK(e, FAKE_EVENT);
    drop(e);
    return code;
}

int cuEventRecord(object *e, object *s) {
    IN_CONTEXT(0);
    NEEDS(s, FAKE_STREAM);
    NEEDS(e, FAKE_EVENT);
    if (e->context != s->context) return misuse("an event of another device");
    e->stream = s;
    e->number = s->given;
    e->clock = s->clock;
    return 0;
}

// Each operation of a stream takes its time, and a kernel what its threads take.
int cuEventElapsedTime(float *ms, object *from, object *to) {
    IN_CONTEXT(0);
    NEEDS(from, FAKE_EVENT);
    NEEDS(to, FAKE_EVENT);
    if (!from->timed || !to->timed || !from->stream || !to->stream) return 400;
    if (from->stream->done < from->number || to->stream->done < to->number) return 600;
    *ms = (float)((to->clock - from->clock) * 1e-6);
    return state.fault;
}

int cuEventQuery(object *e) {
    IN_CONTEXT(0);
    NEEDS(e, FAKE_EVENT);
    if (state.busy > 0 && state.busy--) return 600;
    if (e->stream) run(e->stream, e->number);
    return state.fault;
}

int cuEventSynchronize(object *e) {
    IN_CONTEXT(0);
    NEEDS(e, FAKE_EVENT);
    state.busy = 0;
    if (e->stream) run(e->stream, e->number);
    return state.fault;
}

// ---- memory: an address of the device is one of the host

int cuMemGetInfo_v2(size_t *unused, size_t *total) {
    IN_CONTEXT(0);
    *unused = state.memory - state.used;
    *total = state.memory;
    return 0;
}

// New memory is NaN, as far as the test wants to pay for.
static void poison(unsigned char *at, size_t size) {
    memset(at, EMU_POISON, size < state.poison ? size : state.poison);
}

// Memory ends as near to a page that cannot be touched as it is aligned.
static int get_pages(object *o) {
    size_t room = (o->size + ALIGNED - 1) / ALIGNED * ALIGNED,
           inner = (room + PAGE - 1) / PAGE * PAGE;
    o->pages_size = inner + 2 * PAGE;
    void *p = mmap(NULL, o->pages_size, PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) return 2;
    o->pages = (unsigned char *)p;
    mprotect(o->pages + PAGE, inner, PROT_READ | PROT_WRITE);
    o->at = o->pages + PAGE + inner - room;
    memset(o->pages + PAGE, EMU_AROUND, inner - room);
    memset(o->at + o->size, EMU_AROUND, room - o->size);
    poison(o->at, o->size);
    state.used += o->size;
    return 0;
}

static int get_memory(fake_kind kind, size_t size, object **out) {
    if (kind == FAKE_MEMORY && size > state.memory - state.used) return 2;
    *out = make(kind, size);
    if (kind == FAKE_MEMORY) return get_pages(*out);
    return posix_memalign((void **)&(*out)->at, ALIGNED, size) ? 2 : 0;
}

int cuMemAlloc_v2(tcu__address *out, size_t size) {
    object *o = NULL;
    IN_CONTEXT(size);
    int code = size ? get_memory(FAKE_MEMORY, size, &o) : 1;
    if (!code) *out = (uintptr_t)o->at;
    return code;
}

// Waits for all that runs, as drivers do.
int cuMemFree_v2(tcu__address at) {
    object *o = find_at(FAKE_MEMORY, (void *)(uintptr_t)at);
    GIVES_BACK(o, FAKE_MEMORY);
    run_all();
    drop(o);
    return code;
}

int cuMemHostAlloc(void **out, size_t size, unsigned flags) {
    object *o = NULL;
    IN_CONTEXT(size);
    int code = flags ? 1 : get_memory(FAKE_PINNED, size, &o);
    if (!code) *out = o->at;
    return code;
}

int cuMemFreeHost(void *at) {
    object *o = find_at(FAKE_PINNED, at);
    GIVES_BACK(o, FAKE_PINNED);
    run_all();
    drop(o);
    return code;
}

// Is it inside one block, or mappings that touch?
static int is_inside(const unsigned char *at, size_t size) {
    while (size) {
        object *o = objects;
        while (o && !((o->kind == FAKE_MEMORY || o->kind == FAKE_PINNED ||
                       (o->kind == FAKE_MAPPING && o->accessible)) &&
                      at >= o->at && at < o->at + o->size))
            o = o->next;
        if (!o) return 0;
        size_t n = (size_t)(o->at + o->size - at);
        if (n >= size) return 1;
        if (o->kind != FAKE_MAPPING) return 0;
        at += n;
        size -= n;
    }
    return 1;
}

static int copy(const char *name, void *to, const void *from, size_t size, object *s) {
    if (!is(current, FAKE_CONTEXT)) return misuse(name), 201;
    if (!is(s, FAKE_STREAM)) return misuse(name);
    if (!is_inside((unsigned char *)to, size)) return misuse(name), 1;
    if (!is_inside((const unsigned char *)from, size)) return misuse(name), 1;
    op *p = later(s);
    s->clock += state.byte_ns * (double)size;
    p->to = (unsigned char *)to;
    p->from = (const unsigned char *)from;
    p->size = size;
    return 0;
}

// The context that memory of a device belongs to; NULL = it is none.
static object *context_of(const void *at) {
    const unsigned char *p = (const unsigned char *)at;
    for (object *o = objects; o; o = o->next)
        if ((o->kind == FAKE_MEMORY || o->kind == FAKE_MAPPING) && p >= o->at &&
            p < o->at + o->size)
            return o->context;
    return NULL;
}

#ifndef FAKE_OLD
// A driver copies by way of the host where nobody has switched a link on; here that is a mistake.
int cuMemcpyPeerAsync(tcu__address to, object *to_context, tcu__address from,
                      object *from_context, size_t size, object *s) {
    void *a = (void *)(uintptr_t)to, *b = (void *)(uintptr_t)from;
    CALL(size);
    NEEDS(to_context, FAKE_CONTEXT);
    NEEDS(from_context, FAKE_CONTEXT);
    if (context_of(a) != to_context || context_of(b) != from_context)
        return misuse("memory of another device"), 1;
    NEEDS(s, FAKE_STREAM);
    if (!(s->context->peers >> (from_context->device - 10) & 1))
        return misuse("no link is switched on"), 1;
    state.peer_copies++;
    return copy(__func__, a, b, size, s);
}
#endif

int cuMemcpyHtoDAsync_v2(tcu__address to, const void *from, size_t size, object *s) {
    CALL(size);
    return copy(__func__, (void *)(uintptr_t)to, from, size, s);
}

int cuMemcpyDtoHAsync_v2(void *to, tcu__address from, size_t size, object *s) {
    CALL(size);
    return copy(__func__, to, (void *)(uintptr_t)from, size, s);
}

int cuMemcpyDtoDAsync_v2(tcu__address to, tcu__address from, size_t size, object *s) {
    CALL(size);
    const object *a = context_of((void *)(uintptr_t)to),
                 *b = context_of((void *)(uintptr_t)from);
    if (a && b && a != b) return misuse("a copy on two devices"), 1;
    return copy(__func__, (void *)(uintptr_t)to, (void *)(uintptr_t)from, size, s);
}

int cuMemsetD8Async(tcu__address to, unsigned char value, size_t count, object *s) {
    IN_CONTEXT(count);
    NEEDS(s, FAKE_STREAM);
    if (!is_inside((unsigned char *)(uintptr_t)to, count)) return misuse(__func__), 1;
    op *p = later(s);
    p->to = (unsigned char *)(uintptr_t)to;
    p->value = value;
    p->size = count;
    return 0;
}

// ---- virtual memory: a range without access, which mappings open

#ifndef FAKE_OLD
enum { GRANULE = 2 << 20 };

static int is_kind_right(const tcu__memory_kind *k) {
    return k->type == TCU__MEMORY_PINNED && k->location.type == TCU__ON_DEVICE &&
           k->location.id >= 10 && !k->handle_types && !k->windows;
}

int cuMemGetAllocationGranularity(size_t *bytes, const tcu__memory_kind *k, int which) {
    IN_CONTEXT(which);
    *bytes = GRANULE;
    return is_kind_right(k) ? 0 : 1;
}

int cuMemAddressReserve(tcu__address *base, size_t size, size_t align, tcu__address hint,
                        unsigned long long flags) {
    IN_CONTEXT(size);
    if (size % GRANULE || align || hint || flags) return misuse(__func__), 1;
    void *at =
        mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) return 2;
    make(FAKE_RANGE, size)->at = (unsigned char *)at;
    *base = (uintptr_t)at;
    return 0;
}

int cuMemAddressFree(tcu__address base, size_t size) {
    object *o = find_at(FAKE_RANGE, (void *)(uintptr_t)base);
    GIVES_BACK(o, FAKE_RANGE);
    if (o->size != size) return misuse(__func__), 1;
    for (object *m = objects; m; m = m->next)
        if (m->kind == FAKE_MAPPING && m->range == o) return misuse("still mapped"), 1;
    drop(o);
    return code;
}

int cuMemCreate(tcu__physical *out, size_t size, const tcu__memory_kind *k,
                unsigned long long flags) {
    IN_CONTEXT(size);
    if (size % GRANULE || flags || !is_kind_right(k)) return misuse(__func__), 1;
    if (size > state.memory - state.used) return 2;
    state.used += size;
    *out = (uintptr_t)make(FAKE_PHYSICAL, size);
    return 0;
}

int cuMemRelease(tcu__physical memory) {
    object *o = (object *)(uintptr_t)memory;
    GIVES_BACK(o, FAKE_PHYSICAL);
    drop(o);
    return code;
}

int cuMemMap(tcu__address at, size_t size, size_t offset, tcu__physical memory,
             unsigned long long flags) {
    object *of = (object *)(uintptr_t)memory, *range = objects;
    unsigned char *p = (unsigned char *)(uintptr_t)at;
    IN_CONTEXT(size);
    NEEDS(of, FAKE_PHYSICAL);
    while (range && !(range->kind == FAKE_RANGE && p >= range->at &&
                      p + size <= range->at + range->size))
        range = range->next;
    if (!range || offset || flags || of->size != size) return misuse(__func__), 1;
    for (object *m = objects; m; m = m->next)
        if (m->kind == FAKE_MAPPING && p < m->at + m->size && m->at < p + size)
            return misuse("mapped twice"), 1;
    object *o = make(FAKE_MAPPING, size);
    o->at = p;
    o->of = of;
    o->range = range;
    return 0;
}

int cuMemUnmap(tcu__address at, size_t size) {
    object *o = find_at(FAKE_MAPPING, (void *)(uintptr_t)at);
    GIVES_BACK(o, FAKE_MAPPING);
    if (o->size != size) return misuse(__func__), 1;
    run_all();
    drop(o);
    return code;
}

int cuMemSetAccess(tcu__address at, size_t size, const tcu__access *access, size_t count) {
    object *o = find_at(FAKE_MAPPING, (void *)(uintptr_t)at);
    IN_CONTEXT(size);
    NEEDS(o, FAKE_MAPPING);
    if (count != 1 || access->flags != TCU__READ_WRITE || access->location.id < 10)
        return misuse(__func__), 1;
    if (mprotect(o->at, size, PROT_READ | PROT_WRITE)) return 1;
    if (!o->accessible) poison(o->at, size);
    o->accessible = 1;
    return 0;
}
#endif

// ---- code

// The sizes of the parameters of a kernel of a text "name size size...\n...".
static int find_in_text(const char *s, kernel *k) {
    size_t n = strlen(k->name);
    while (strncmp(s, k->name, n) || (s[n] != ' ' && s[n] != '\n')) {
        s = strchr(s, '\n');
        if (!s || !*++s) return 500;
    }
    for (s += n; *s == ' ';) {
        char *end;
        k->size[k->count++] = (size_t)strtoul(s, &end, 10);
        s = end;
    }
    return 0;
}

static int find_in_image(const emu_image *image, kernel *k) {
    size_t room = 0;
    for (int i = 0; i < image->kernels; i++)
        if (!strcmp(image->kernel[i].name, k->name)) k->code = &image->kernel[i];
    if (!k->code || k->code->params > FAKE_ARGS) return 500;
    k->count = k->code->params;
    for (int i = 0; i < k->count; i++) {
        k->size[i] = k->code->size[i];
        room += PARAM_ROOM(k->size[i]);
    }
    return room > FAKE_PARAMS ? 500 : 0;
}

static int find_kernel(object *o, const char *name, kernel **out) {
    kernel *k = (kernel *)calloc(1, sizeof *k);
    k->owner = o;
    snprintf(k->name, sizeof k->name, "%s", name);
    int code = o->image ? find_in_image(o->image, k) : find_in_text((const char *)o->at, k);
    if (code) {
        free(k);
        return code;
    }
    k->next = o->kernel;
    o->kernel = k;
    *out = k;
    return 0;
}

static int load(object **out, fake_kind kind, const void *image, void **values) {
    void *library = NULL;
    const emu_image *code = NULL;
    if (!memcmp(image, "\177ELF", 4)) {
        code = emu_load(image, &library, (char *)values[0], (size_t)(uintptr_t)values[1]);
        if (!code) return 218;
        if (code->arch > 10 * state.major + state.minor) {
            emu_unload(library);
            return 209;
        }
    } else if (!strchr((const char *)image, '\n')) {
        snprintf((char *)values[0], 40, "this is no code");
        return 218;
    }
    *out = make(kind, 0);
    (*out)->image = code;
    (*out)->library = library;
    if (!code) (*out)->at = (unsigned char *)strdup((const char *)image);
    return 0;
}

static int is_function(const kernel *k) {
    for (object *o = objects; o; o = o->next)
        for (kernel *i = o->kernel; i; i = i->next)
            if (i == k) return 1;
    return 0;
}

// Whether a stream has a launch of its kernels before it. The driver's manual does not say that it would wait.
static int is_awaited(const object *module) {
    for (const object *s = objects; s; s = s->next)
        for (const op *p = s->kind == FAKE_STREAM ? s->first : NULL; p; p = p->next)
            if (p->launch && ((const kernel *)p->launch->kernel)->owner == module) return 1;
    return 0;
}

#ifndef FAKE_OLD
int cuLibraryLoadData(object **out, const void *image, int *jit, void **jit_values,
                      unsigned jit_count, int *options, void **values, unsigned count) {
    IN_CONTEXT(count);
    if (jit_count != 2 || jit[0] != TCU__JIT_ERROR_LOG || options || values || count)
        return misuse(__func__), 1;
    return load(out, FAKE_LIBRARY, image, jit_values);
}

int cuLibraryUnload(object *o) {
    GIVES_BACK(o, FAKE_LIBRARY);
    if (is_awaited(o)) misuse("code is unloaded that is still to run"), run_all();
    drop(o);
    return code;
}

int cuLibraryGetKernel(kernel **out, object *o, const char *name) {
    IN_CONTEXT(0);
    NEEDS(o, FAKE_LIBRARY);
    return find_kernel(o, name, out);
}

int cuKernelGetFunction(kernel **out, kernel *k) {
    IN_CONTEXT(0);
    *out = k;
    return is_function(k) ? 0 : misuse(__func__);
}

int cuFuncLoad(kernel *k) {
    IN_CONTEXT(0);
    return is_function(k) ? 0 : misuse(__func__);
}
#endif

int cuModuleLoadDataEx(object **out, const void *image, unsigned count, int *options,
                       void **values) {
    IN_CONTEXT(count);
    if (count != 2 || options[1] != TCU__JIT_ERROR_LOG_BYTES) return misuse(__func__), 1;
    return load(out, FAKE_MODULE, image, values);
}

int cuModuleUnload(object *o) {
    GIVES_BACK(o, FAKE_MODULE);
    if (is_awaited(o)) misuse("code is unloaded that is still to run"), run_all();
    drop(o);
    return code;
}

int cuModuleGetFunction(kernel **out, object *o, const char *name) {
    IN_CONTEXT(0);
    NEEDS(o, FAKE_MODULE);
    return find_kernel(o, name, out);
}

int cuFuncGetAttribute(int *value, int what, kernel *k) {
    IN_CONTEXT(what);
    if (!is_function(k)) return misuse(__func__);
    *value = what == TCU__FN_REGISTERS ? 40
             : what == TCU__FN_LOCAL   ? 16
             : what == TCU__FN_SHARED
                 ? (k->code ? 0 : 1024) // code declares none beside what it asks for
             : what == TCU__FN_THREADS ? 512
                                       : -1;
    if (what == TCU__FN_THREADS && k->code)
        *value = k->code->threads ? (int)k->code->threads : EMU_THREADS;
    return *value < 0 ? 1 : 0;
}

int cuFuncSetAttribute(kernel *k, int what, int value) {
    IN_CONTEXT(what);
    if (!is_function(k)) return misuse(__func__);
    if (what == TCU__FN_DYNAMIC_SHARED) k->dynamic = value;
    return 0;
}

// ---- launches

static int fill(fake_launch *l, const kernel *k, const unsigned *grid,
                const unsigned *block, unsigned shared, void **params) {
    if (!is_function(k)) return misuse("launch of no function");
    if (!grid[0] || !grid[1] || !grid[2] || !block[0] || !block[1] || !block[2]) return 1;
    if (shared > 48 * 1024 && (int)shared > k->dynamic) return 701;
    if (k->code && k->code->threads && block[0] * block[1] * block[2] > k->code->threads)
        return 701;
    memset(l->params, 0, sizeof l->params);
    l->kernel = k;
    snprintf(l->name, sizeof l->name, "%s", k->name);
    memcpy(l->grid, grid, sizeof l->grid);
    memcpy(l->block, block, sizeof l->block);
    l->shared = shared;
    l->size = 0;
    for (int i = 0; i < k->count; i++) {
        memcpy(l->params + l->size, params[i], k->size[i]);
        l->size += k->code ? PARAM_ROOM(k->size[i]) : k->size[i];
    }
    return 0;
}

static void launched(const fake_launch *l, object *stream) {
    if (state.launches < FAKE_LAUNCHES) state.launch[state.launches] = *l;
    state.launches++;
    if (!((const kernel *)l->kernel)->code) return;
    op *p = later(stream);
    stream->clock += state.thread_ns * l->grid[0] * l->block[0];
    p->launch = (fake_launch *)malloc(sizeof *l);
    *p->launch = *l;
}

int cuLaunchKernel(kernel *k, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                   unsigned by, unsigned bz, unsigned shared, object *s, void **params,
                   void **extra) {
    unsigned grid[] = {gx, gy, gz}, block[] = {bx, by, bz};
    fake_launch l;
    memset(&l, 0, sizeof l);
    IN_CONTEXT(gx);
    NEEDS(s, FAKE_STREAM);
    int code = extra ? 1 : fill(&l, k, grid, block, shared, params);
    if (!code) launched(&l, s);
    return code;
}

#ifndef FAKE_OLD
int cuLaunchKernelEx(const tcu__launch_config *c, kernel *k, void **params, void **extra) {
    fake_launch l;
    memset(&l, 0, sizeof l);
    IN_CONTEXT(c->count);
    NEEDS(c->stream, FAKE_STREAM);
    int code = extra ? 1 : fill(&l, k, c->grid, c->block, c->shared, params);
    for (unsigned i = 0; i < c->count; i++) {
        const tcu__launch_attribute *a = &c->attributes[i];
        if (a->id == TCU__LAUNCH_CLUSTER) memcpy(l.cluster, a->value.cluster, 12);
        if (a->id == TCU__LAUNCH_PROGRAMMATIC) l.programmatic = a->value.programmatic;
    }
    if (!code) launched(&l, (object *)c->stream);
    return code;
}
#endif

// ---- tensor maps

#ifndef FAKE_OLD
// What both kinds of maps have; 0 = the driver would not take it.
static int map_begin(emu_map *m, const tcu__tensor_map *map, int dtype, uint32_t rank,
                     void *address, const uint64_t *size, const uint64_t *stride,
                     uint32_t line, int interleave, int swizzle, int promotion, int fill) {
    int bad = (uintptr_t)map % 64 || rank != 4 || (uintptr_t)address % 16 || interleave ||
              (swizzle != TCU__MAP_SWIZZLE_128 && swizzle != TCU__MAP_SWIZZLE_64) ||
              promotion != TCU__MAP_L2_128 || fill ||
              (dtype != TCU__MAP_F16 && dtype != TCU__MAP_BF16 && dtype != TCU__MAP_F32 &&
               dtype != TCU__MAP_U8);
    memset(m, 0, sizeof *m);
    m->magic = EMU_MAP, m->at = (const unsigned char *)address;
    m->bytes = dtype == TCU__MAP_F32 ? 4 : dtype == TCU__MAP_U8 ? 1 : 2;
    for (int i = 0; i < 4 && !bad; i++) {
        bad = !size[i] || size[i] > (uint64_t)1 << 32;
        m->size[i] = (long long)size[i];
    }
    for (int i = 0; i < 3 && !bad; i++) {
        bad = !stride[i] || stride[i] % 16 || stride[i] >= (uint64_t)1 << 40;
        m->stride[i] = (long long)stride[i];
    }
    m->line = swizzle == TCU__MAP_SWIZZLE_64 ? 64 : 128;
    return !bad && line * (uint32_t)m->bytes <= (uint32_t)m->line;
}

static int map_end(tcu__tensor_map *map, const emu_map *m) {
    memset(map, 0, sizeof *map);
    memcpy(map, m, sizeof *m);
    return 0;
}

int cuTensorMapEncodeTiled(tcu__tensor_map *map, int dtype, uint32_t rank, void *address,
                           const uint64_t *size, const uint64_t *stride,
                           const uint32_t *box, const uint32_t *step, int interleave,
                           int swizzle, int promotion, int fill) {
    emu_map m;
    IN_CONTEXT(0);
    int bad = !map_begin(&m, map, dtype, rank, address, size, stride, box[0], interleave,
                         swizzle, promotion, fill);
    for (int i = 0; i < 4 && !bad; i++) {
        bad = !box[i] || box[i] > 256 || step[i] != 1;
        m.box[i] = (int)box[i];
    }
    return bad ? 1 : map_end(map, &m);
}

// By width and height; channels are first.
int cuTensorMapEncodeIm2col(tcu__tensor_map *map, int dtype, uint32_t rank, void *address,
                            const uint64_t *size, const uint64_t *stride, const int *low,
                            const int *high, uint32_t channels, uint32_t places,
                            const uint32_t *step, int interleave, int swizzle,
                            int promotion, int fill) {
    emu_map m;
    IN_CONTEXT(0);
    int bad = !map_begin(&m, map, dtype, rank, address, size, stride, channels, interleave,
                         swizzle, promotion, fill) ||
              !places || places > 1024 || step[0] != 1 || step[3] != 1;
    for (int i = 0; i < 2 && !bad; i++) {
        bad = low[i] < -128 || low[i] > 127 || high[i] < -128 || high[i] > 127 ||
              !step[1 + i] || step[1 + i] > 8;
        m.low[i] = low[i], m.high[i] = high[i], m.step[i] = (int)step[1 + i];
    }
    m.box[0] = (int)channels, m.box[1] = (int)places;
    return bad ? 1 : map_end(map, &m);
}
#endif

// ---- graphs

int cuGraphCreate(object **out, unsigned flags) {
    IN_CONTEXT(flags);
    *out = make(FAKE_GRAPH, 0);
    return 0;
}

int cuGraphDestroy(object *g) {
    GIVES_BACK(g, FAKE_GRAPH);
    drop(g);
    return code;
}

static node *node_of(object *graph, const void *handle) {
    node *n = graph->node;
    while (n && n != handle) n = n->next;
    return n;
}

static void comes_after(node *n, node *before) {
    n->before = (node **)realloc(n->before, (size_t)(n->n_before + 1) * sizeof *n->before);
    n->before[n->n_before++] = before;
}

// Nodes are kept in the order they were added, which is the one they are launched in, or last_first.
int cuGraphAddKernelNode_v2(node **out, object *g, node *const *after, size_t count,
                            const tcu__node_params *p) {
    node **last, *n;
    IN_CONTEXT(count);
    NEEDS(g, FAKE_GRAPH);
    for (size_t i = 0; i < count; i++)
        if (!node_of(g, after[i])) return misuse(__func__);
    n = (node *)calloc(1, sizeof *n);
    int code = fill(&n->launch, (kernel *)p->function, p->grid, p->block, p->shared,
                    p->parameters);
    if (code) {
        free(n);
        return code;
    }
    for (last = &g->node; *last;) last = &(*last)->next;
    *last = *out = n;
    n->graph = g;
    for (size_t i = 0; i < count; i++) comes_after(n, after[i]);
    return 0;
}

#ifndef FAKE_OLD
int cuGraphAddDependencies_v2(object *g, node *const *from, node *const *to,
                              const tcu__edge *edge, size_t count) {
    IN_CONTEXT(count);
    NEEDS(g, FAKE_GRAPH);
    for (size_t i = 0; i < count; i++) {
        if (!node_of(g, from[i]) || !node_of(g, to[i])) return misuse(__func__);
        to[i]->launch.programmatic = edge[i].type == 1 && edge[i].from_port == 1;
        comes_after(to[i], from[i]);
    }
    return 0;
}
#endif

int cuGraphKernelNodeSetAttribute(node *n, int what, const tcu__launch_value *v) {
    IN_CONTEXT(what);
    if (what == TCU__LAUNCH_CLUSTER) memcpy(n->launch.cluster, v->cluster, 12);
    return 0;
}

int cuGraphInstantiateWithFlags(object **out, object *g, unsigned long long flags) {
    IN_CONTEXT(flags);
    NEEDS(g, FAKE_GRAPH);
    *out = make(FAKE_EXEC, 0);
    (*out)->graph = g;
    node **last = &(*out)->node;
    for (node *n = g->node; n; n = n->next) {
        *last = (node *)calloc(1, sizeof **last);
        (*last)->launch = n->launch;
        (*last)->from = n;
        last = &(*last)->next;
    }
    return 0;
}

int cuGraphUpload(object *e, object *s) {
    IN_CONTEXT(0);
    NEEDS(e, FAKE_EXEC);
    NEEDS(s, FAKE_STREAM);
    return 0;
}

// The next kernel of a graph; NULL = all were launched.
static node *next_node(object *e) {
    node *best = NULL;
    for (node *n = e->node; n; n = n->next) {
        int ready = !n->from->done;
        for (int i = 0; i < n->from->n_before; i++) ready &= n->from->before[i]->done;
        if (ready && (!best || state.last_first)) best = n;
        if (best && !state.last_first) break;
    }
    return best;
}

int cuGraphLaunch(object *e, object *s) {
    IN_CONTEXT(0);
    NEEDS(e, FAKE_EXEC);
    NEEDS(s, FAKE_STREAM);
    NEEDS(e->graph, FAKE_GRAPH);
    for (node *n = e->node; n; n = n->next) n->from->done = 0;
    for (node *n; (n = next_node(e)) != NULL; n->from->done = 1) launched(&n->launch, s);
    return 0;
}

int cuGraphExecKernelNodeSetParams_v2(object *e, node *n, const tcu__node_params *p) {
    IN_CONTEXT(0);
    NEEDS(e, FAKE_EXEC);
    NEEDS(e->graph, FAKE_GRAPH);
    node *mine = e->node, *its = e->graph->node;
    while (its && its != n) its = its->next, mine = mine->next;
    if (!its) return misuse(__func__);
    if (state.set_params) return state.set_params;
    return fill(&mine->launch, (kernel *)p->function, p->grid, p->block, p->shared,
                p->parameters);
}

int cuGraphExecDestroy(object *e) {
    GIVES_BACK(e, FAKE_EXEC);
    drop(e);
    return code;
}
