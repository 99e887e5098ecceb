// What happened when: the events of the profiler. Everything above a launch notes its spans here;
// kernels are exec/profile.c's. Without a profile a note is one branch.
//
// A new stage is a row of tc__span_kind, a name, and a call of tc__note_span where its time
// is added to tc_stats. Only the thread that began the profile notes. Events and rows are
// bounded: what has no room, or no memory, is counted as dropped and disturbs nothing.

typedef enum tc__span_kind {
    TC__SPAN_RECORD, // a visit, from begin to end: all below happens inside
    TC__SPAN_PASSES,
    TC__SPAN_TEXT,
    TC__SPAN_COMPILER,
    TC__SPAN_LOAD,
    TC__SPAN_TUNE,
    TC__SPAN_RUN,    // a program, its kernels inside
    TC__SPAN_KERNEL, // `of` is a row
    TC__SPAN_PART,   // what one worker did of it
    TC__SPAN_KINDS
} tc__span_kind;

// `thread` of what was compiled in the background, and, + its number, of what a device ran: the host's is the
// caller's.
enum { TC__BACKGROUND = TC__POOL_MAX, TC__DEVICES };

typedef struct tc__event {
    uint64_t start, ns;
    uint32_t of; // index of a name or, of kernels, of a row; UINT32_MAX = none
    uint8_t kind, compiled;
    uint16_t thread; // 0 = the caller
    int64_t bytes, items;
} tc__event;

// All runs of one kernel of one program.
typedef struct tc__profile_row {
    uint32_t where; // name of region or function
    uint64_t owner; //   and which of that name: tc__profile_owner
    uint32_t program;
    const char *kernel; // arena of the profile
    int device;         // that the last run was on, 0 = the host
    uint64_t calls, compiled, ns, bytes;
    double copy_ns; // of copies of as many bytes; 0 = unknown
} tc__profile_row;

// One kernel as the workers of the pool saw it.
typedef struct tc__watched {
    int on;                                          // it is to be watched
    int workers;                                     // 0 = no pool ran it
    void *arg;                                       // the launch
    uint64_t begun;                                  // when it was given to them
    uint64_t start[TC__POOL_MAX], end[TC__POOL_MAX]; // by worker; start 0 = took no part
} tc__watched;

struct tc__profile {
    tc_ctx *ctx;
    uint32_t number; // of this profile: launches remember their row by it
    int threads;     // of the pool
    uint64_t thread; // whose events are noted
    uint64_t begun, ended;
    uint64_t dropped; // events that there was no room for
    tc__arena arena;
    TC__VEC(const char *) name;
    tc__map names; // hash -> index
    TC__VEC(tc__event) event;
    TC__VEC(tc__profile_row) row;
    tc__watched watched;
    tc__text text;
};

// Index of a name, copied; UINT32_MAX = out of memory, not reported.
static uint32_t tc__profile_name(tc__profile *p, const char *s) {
    tc__error_mark held = tc__error_now(p->ctx);
    size_t size = strlen(s) + 1;
    uint64_t h = tc__hash64(s, size, 0), at;
    for (; tc__map_get(&p->names, h, &at); h = tc__hash_mix(h, 1))
        if (!strcmp(p->name.at[at], s)) return (uint32_t)at;
    char *copy = (char *)tc__arena_alloc(&p->arena, size);
    if (copy) memcpy(copy, s, size);
    if (copy && TC__PUSH(p->ctx, p->name, copy) &&
        tc__map_set(&p->names, h, p->name.count - 1))
        return (uint32_t)p->name.count - 1;
    tc__error_restore(p->ctx, held);
    return UINT32_MAX;
}

// Keeps an event, or counts it as dropped. Running goes on without memory for it.
static void tc__profile_event(tc__profile *p, const tc__event *e) {
    tc__error_mark held = tc__error_now(p->ctx);
    if (p->event.count < TC_PROFILE_EVENTS && TC__PUSH(p->ctx, p->event, *e)) return;
    p->dropped++;
    tc__error_restore(p->ctx, held);
}

// Something that lasted from `start`, or from the profile's begin if that was later, to `end`.
static void tc__profile_span(tc__profile *p, tc__span_kind kind, uint64_t start,
                             uint64_t end, const tc__region *r, uint16_t thread) {
    tc__event e;
    if (p->thread != tc__thread_self()) return;
    memset(&e, 0, sizeof e);
    e.kind = (uint8_t)kind, e.of = r ? tc__profile_name(p, r->name) : UINT32_MAX;
    e.start = start > p->begun ? start : p->begun, e.thread = thread;
    e.ns = end > e.start ? end - e.start : 0;
    tc__profile_event(p, &e);
}

// A stage that began at `start` ends now; r NULL = of no region, or not known.
TC__INLINE void tc__note_span(tc_ctx *c, tc__span_kind kind, uint64_t start,
                              const tc__region *r) {
    if (TC__LIKELY(c->profiling == NULL)) return;
    tc__profile_span(c->profiling, kind, start, tc__now_ns(), r, 0);
}

// A stage that is over; perhaps another thread, in the background, had it.
TC__UNUSED static void tc__note_past(tc_ctx *c, tc__span_kind kind, uint64_t start,
                                     uint64_t end, int background) {
    if (TC__LIKELY(c->profiling == NULL)) return;
    tc__profile_span(c->profiling, kind, start, end, NULL,
                     background ? (uint16_t)TC__BACKGROUND : (uint16_t)0);
}
