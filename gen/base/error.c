// Errors, log channels, and the table of live contexts.
// Every context begins with a tc__core, so that base parts can serve a tc_ctx they do not
// know. The first error stays until tc__error_clear: later ones are mostly consequences. What is none, the text tells
// behind it, so that nobody takes an old error for that of the call at hand. Nothing here allocates: tc__fail must work
// with no memory left.

#define TC__ERROR_TEXT 512  // bytes kept of an error, NUL included
#define TC__ERROR_TOLD 1280 // of the first and the last one together
#define TC__LOG_LINE   1024 // bytes of a formatted log line, NUL included

typedef struct tc__core {
    tc_allocator hook;    // NULL realloc = libc
    tc_logger logger;     // NULL log = stderr
    uint32_t log_mask;    // bit n: channel n is on
    unsigned cpu;         // of tc__cpu_of; 0 = not asked yet
    size_t bytes;         // held through hook now
    size_t peak_bytes;    // largest value of bytes so far
    size_t most;          // that may be held, 0 = no limit: see tc__machine_memory
    uint64_t allocations; // successful calls of hook that asked for memory
    uint32_t storages;    // that were given a color: tc__storage_color;
    uint32_t taken;       //   colors that the next ones are not to have, a bit for each
    int calling;          // a function of a custom op runs
    volatile uint32_t hooking; // one of hook or logger does
    volatile uint64_t user;    // the thread that is in a call of this context; 0 = none
    const char *doing;         // the call whose ops are made, static; NULL = one op alone
    int frozen;                // tc_freeze: no memory is to be had
    const char *unseen;     //   of what has no program yet: its name; NULL = nothing such
    const char *site_file;  // where the user's current call stands; static text,
    int site_line;          //   NULL = unknown
    tc_status unit_item;    // first error since tc__unit_begin; 0 = none
    int units;              //   and how many of these are open
    tc_status error_item;   // first error since the last clear; 0 = none
    tc_status refused_item; // of the first write in place since then that failed
    uint32_t refused, refusals; //   its number, 0 = none did; numbers given: graph/refuse.c
    char error_text[TC__ERROR_TEXT]; // its text; "" = none
    const char *error_file;          // its site; NULL = unknown
    int error_line;
    const char *last_file; // the site of the last error,
    int last_line;
    uint32_t later;                  // errors since the first that are told,
    char error_told[TC__ERROR_TOLD]; //   and the text of it and of the last of them
} tc__core;

TC__INLINE tc__core *tc__core_of(tc_ctx *c) { return (tc__core *)(void *)c; }

// A core that takes hooks and log channels from another one, and counts its own memory.
TC__UNUSED static void tc__core_like(tc__core *core, tc_ctx *c) {
    const tc__core *from = tc__core_of(c);
    core->hook = from->hook, core->logger = from->logger;
    core->log_mask = from->log_mask, core->cpu = from->cpu, core->most = from->most;
}

// ---- errors

static const struct {
    const char *name; // "TC_E_SHAPE"
    const char *doc;  // meaning and usual fix
} tc__errors[] = {
#include "out/error_info.inc"
};

#define TC__ERRORS (int)TC__COUNT(tc__errors)
TC__STATIC_ASSERT(errors_match_enum, TC_E_NOMEM == -1 && TC_E_DEVICE == -TC__ERRORS);

// "TC_OK", "TC_E_SHAPE", ...; "?" for a number that is no item.
TC__UNUSED static const char *tc__error_name(tc_status item) {
    if (!item) return "TC_OK";
    if (item > 0 || item < -TC__ERRORS) return "?";
    return tc__errors[-item - 1].name;
}

// What the item means and the usual fix; "" for TC_OK and for a number that is no item.
TC__UNUSED static const char *tc__error_doc(tc_status item) {
    if (item >= 0 || item < -TC__ERRORS) return "";
    return tc__errors[-item - 1].doc;
}

// Formats into a fixed buffer; a text cut short ends in "...".
TC__PRINTF(3, 0)
static void tc__format_line(char *out, size_t size, const char *fmt, va_list args) {
    int n = vsnprintf(out, size, fmt, args);
    if (n < 0) out[0] = 0;
    if (n >= 0 && (size_t)n >= size) memcpy(out + size - 4, "...", 4);
}

// An error behind the first; last NULL = its text is not known any more.
static void tc__error_tell(tc__core *core, uint32_t later, tc_status item,
                           const char *last) {
    char where[200] = "";
    core->later = later;
    if (!later) return;
    if (last && core->site_file)
        snprintf(where, sizeof where, " at %.150s:%d", core->site_file, core->site_line);
    snprintf(core->error_told, sizeof core->error_told,
             "%s (the first error since tc_error_clear; %u more followed%s%s%s%s%s)",
             core->error_text, (unsigned)later, last ? ", the last" : "", where,
             last ? ", " : "", last ? tc__error_name(item) : "", last ? ": " : "");
    size_t n = strlen(core->error_told) - 1;
    if (last) snprintf(core->error_told + n, sizeof core->error_told - n, "%s)", last);
}

// A call failed because an earlier one did: that has been told. Returns 0.
static int tc__fail_after(tc_ctx *c, tc_status item) {
    if (!tc__core_of(c)->unit_item) tc__core_of(c)->unit_item = item;
    return 0;
}

// Whether an error behind the first is one of its own: of another unit, or of another call where none is open. One of
// a null tensor is a consequence.
static int tc__error_is_new(const tc__core *core, tc_status item) {
    int same = core->last_file == core->site_file && core->last_line == core->site_line;
    return item != TC_E_NULL && (!core->unit_item || (!core->units && !same));
}

// Records an error with the current site if it is the first one. Returns 0, so that a failing function ends with
// `return tc__fail(...)`.
TC__PRINTF(3, 4)
static int tc__fail(tc_ctx *c, tc_status item, const char *fmt, ...) {
    tc__core *core = tc__core_of(c);
    va_list args;
    if (!c) return 0;
    int told = !core->error_item || tc__error_is_new(core, item);
    if (!core->unit_item) core->unit_item = item;
    core->last_file = core->site_file, core->last_line = core->site_line;
    if (!told) return 0;
    char later[TC__ERROR_TEXT], *text = core->error_item ? later : core->error_text;
    va_start(args, fmt);
    tc__format_line(text, TC__ERROR_TEXT, fmt, args);
    va_end(args);
    if (core->error_item) return tc__error_tell(core, core->later + 1, item, later), 0;
    core->error_item = item;
    core->error_file = core->site_file;
    core->error_line = core->site_line;
    return 0;
}

// Puts `what`, and a colon, before the text of the error.
TC__UNUSED static void tc__error_about(tc_ctx *c, const char *what) {
    tc__core *core = tc__core_of(c);
    char text[TC__ERROR_TEXT];
    memcpy(text, core->error_text, sizeof text);
    snprintf(core->error_text, sizeof core->error_text, "%.200s: %.*s", what,
             TC__ERROR_TEXT - 210, text);
}

TC__UNUSED static void tc__error_clear(tc_ctx *c) {
    tc__core *core = tc__core_of(c);
    core->error_item = 0, core->later = 0;
    core->error_text[0] = 0;
    core->error_file = NULL;
    core->error_line = 0;
}

// ---- the status of one unit

// A call with a status of its own counts errors from its begin on, whatever was before.
// Gives what tc__unit_end needs to go on with the unit around it.
static tc_status tc__unit_begin(tc_ctx *c) {
    tc_status outer = tc__core_of(c)->unit_item;
    tc__core_of(c)->unit_item = TC_OK;
    tc__core_of(c)->units++;
    return outer;
}

static tc_status tc__unit_end(tc_ctx *c, tc_status outer, int ok) {
    tc__core *core = tc__core_of(c);
    tc_status item = core->unit_item;
    if (core->units) core->units--;
    if (outer) core->unit_item = outer;
    if (ok) return TC_OK;
    return item ? item : TC_E_INTERNAL;
}

// Errors so far, to take back what comes after.
typedef struct tc__error_mark {
    tc_status unit, error;
    uint32_t later;
} tc__error_mark;

static tc__error_mark tc__error_now(tc_ctx *c) {
    tc__error_mark m;
    m.unit = tc__core_of(c)->unit_item, m.error = tc__core_of(c)->error_item;
    m.later = tc__core_of(c)->later;
    return m;
}

static void tc__error_restore(tc_ctx *c, tc__error_mark m) {
    tc__core *core = tc__core_of(c);
    core->unit_item = m.unit, core->error_item = m.error;
    if (!m.error) tc__error_clear(c);
    if (core->later > m.later) tc__error_tell(core, m.later, TC_OK, NULL);
}

// ---- log

// X(ID, "name in TC_LOGS and in log lines", "what it shows")
#define TC__LOG_CHANNELS(X)                                                                \
    X(GRAPH, "graph", "the recorded graph of each compile")                                \
    X(RECOMPILES, "recompiles", "why no program fitted, one line each")                    \
    X(GRAPH_BREAKS, "graph_breaks", "reads inside a region, with their site")              \
    X(FUSION, "fusion", "what was fused, what not, and why")                               \
    X(OUTPUT_CODE, "output_code",                                                          \
      "every kernel as it is compiled, and the calls it is of")                            \
    X(OUTPUT_UNIT, "output_unit", "what the compiler gets: kernels behind what they call") \
    X(CACHE, "cache", "disk cache: hits, misses, refusals")                                \
    X(PERF, "perf", "times of stages and kernels; slow paths taken")                       \
    X(GUARDS, "guards", "what each program assumes of its inputs")                         \
    X(AUTOTUNE, "autotune", "candidates and their times, and what was kept")

typedef enum tc__log_channel {
#define TC__ROW(id, name, doc) TC__LOG_##id,
    TC__LOG_CHANNELS(TC__ROW)
#undef TC__ROW
        TC__LOG_COUNT
} tc__log_channel;

static const struct {
    const char *name, *doc;
} tc__log_channels[] = {
#define TC__ROW(id, name, doc) {name, doc},
    TC__LOG_CHANNELS(TC__ROW)
#undef TC__ROW
};

TC__STATIC_ASSERT(log_mask_holds_channels, TC__LOG_COUNT <= 32);

typedef enum tc__log_level { // the logger's `level`
    TC__LEVEL_INFO,
    TC__LEVEL_WARNING,
    TC__LEVEL_ERROR
} tc__log_level;

#define TC__LOG_ALL ((UINT32_C(1) << TC__LOG_COUNT) - 1)

// Whether the channel is on: ask before building an expensive text.
TC__INLINE int tc__log_on(tc_ctx *c, tc__log_channel channel) {
    return (tc__core_of(c)->log_mask >> channel & 1) != 0;
}

// The context's allocator or logger is called: code of the user's that is not cancelled, and must return.
static int tc__hooking_begin(tc__core *core) {
    int cancel = tc__cancel_off();
    (void)tc__atomic_add32(&core->hooking, 1);
    return cancel;
}

static void tc__hooking_end(tc__core *core, int cancel) {
    (void)tc__atomic_add32(&core->hooking, (uint32_t)-1);
    tc__cancel_as(cancel);
}

// Hands one finished text to the logger, whatever the mask says.
static void tc__log_emit(tc_ctx *c, tc__log_level level, const char *channel,
                         const char *text) {
    const tc_logger *logger = &tc__core_of(c)->logger;
    if (logger->log) {
        int cancel = tc__hooking_begin(tc__core_of(c));
        logger->log(logger->user, (int)level, channel, text);
        tc__hooking_end(tc__core_of(c), cancel);
        return;
    }
    tc__calm calm = tc__calm_begin();
    fprintf(stderr, "[tcompile] %s: %s\n", channel, text);
    tc__calm_end(calm);
}

// Logs a text of any length as it is (kernels, dumps), if the channel is on.
TC__UNUSED static void tc__log_text(tc_ctx *c, tc__log_channel channel, const char *text) {
    if (!tc__log_on(c, channel)) return;
    tc__log_emit(c, TC__LEVEL_INFO, tc__log_channels[channel].name, text);
}

// Logs one line, if the channel is on. Longer than TC__LOG_LINE is cut: use tc__log_text.
TC__UNUSED TC__PRINTF(3, 4) static void tc__log(tc_ctx *c, tc__log_channel channel,
                                                const char *fmt, ...) {
    char line[TC__LOG_LINE];
    va_list args;
    if (TC__LIKELY(!tc__log_on(c, channel))) return;
    va_start(args, fmt);
    tc__format_line(line, sizeof(line), fmt, args);
    va_end(args);
    tc__log_emit(c, TC__LEVEL_INFO, tc__log_channels[channel].name, line);
}

// Logs one line on channel "warning", always. For what the user should change; callers
// see to it that a cause warns once.
TC__PRINTF(2, 3)
static void tc__warn(tc_ctx *c, const char *fmt, ...) {
    char line[TC__LOG_LINE];
    va_list args;
    va_start(args, fmt);
    tc__format_line(line, sizeof(line), fmt, args);
    va_end(args);
    tc__log_emit(c, TC__LEVEL_WARNING, "warning", line);
}

static uint32_t tc__log_find(const char *name, size_t size) {
    int i;
    if (size == 3 && !memcmp(name, "all", 3)) return TC__LOG_ALL;
    for (i = 0; i < TC__LOG_COUNT; i++) {
        const char *known = tc__log_channels[i].name;
        if (strlen(known) == size && !memcmp(known, name, size)) return UINT32_C(1) << i;
    }
    return 0;
}

static int tc__log_unknown(tc_ctx *c, const char *name, size_t size) {
    char known[256] = "";
    size_t used = 0;
    int i;
    for (i = 0; i < TC__LOG_COUNT; i++) {
        size_t n = strlen(tc__log_channels[i].name);
        if (used + n + 2 > sizeof(known)) break;
        memcpy(known + used, tc__log_channels[i].name, n);
        memcpy(known + used + n, " ", 2);
        used += n + 1;
    }
    tc__warn(c, "no log channel \"%.*s\"; known: %sall", (int)(size < 40 ? size : 40), name,
             known);
    return 0;
}

// Switches channels by a list such as "graph,cache", "+all" or "all,-perf" (a sign: + on,
// - off). NULL is an empty list. An unknown name is skipped with one warning; then 0.
TC__UNUSED static int tc__log_parse(tc_ctx *c, const char *list) {
    tc__core *core = tc__core_of(c);
    int ok = 1;
    while (list && *list) {
        size_t size = strcspn(list, ", "), sign = size && (*list == '+' || *list == '-');
        uint32_t bits = tc__log_find(list + sign, size - sign);
        if (!bits && size && ok) ok = tc__log_unknown(c, list, size);
        core->log_mask = *list == '-' ? core->log_mask & ~bits : core->log_mask | bits;
        list += size + (list[size] != 0);
    }
    return ok;
}

// ---- live contexts

// The only writable global, beside the number of each thread (base/os.c). A handle names its context by
// slot, and a slot leads to the context without the user passing it. Slot 0 stays empty: handle 0 is the
// null tensor.
#define TC__CTX_SLOTS 256
typedef struct tc__live {
    void *volatile ctx;               // NULL = the slot is empty
    volatile uint64_t thread, opened; // that opened it, and when
    volatile uint64_t user;           // the thread that has worked with it last
} tc__live;

static tc__live tc__live_contexts[TC__CTX_SLOTS];

// Enters a context; 1..255 is its slot, 0 says that the table is full.
TC__UNUSED static int tc__ctx_register(tc_ctx *c, uint64_t thread, uint64_t now) {
    int slot;
    for (slot = 1; slot < TC__CTX_SLOTS; slot++) {
        tc__live *l = &tc__live_contexts[slot];
        if (!tc__atomic_cas_pointer(&l->ctx, NULL, c)) continue;
        tc__atomic_store64(&l->thread, thread);
        tc__atomic_store64(&l->user, thread);
        tc__atomic_store64(&l->opened, now);
        return slot;
    }
    return 0;
}

// This thread works with the context in a slot.
static void tc__ctx_used(unsigned slot, uint64_t thread) {
    volatile uint64_t *user = &tc__live_contexts[slot].user;
    if (tc__atomic_load64(user) != thread) tc__atomic_store64(user, thread);
}

static uint64_t tc__ctx_user(unsigned slot) {
    return tc__atomic_load64(&tc__live_contexts[slot].user);
}

// Whether this thread has worked with the context in a slot, and none has since.
static int tc__ctx_is_used(unsigned slot, uint64_t thread) {
    return tc__ctx_user(slot) == thread;
}

static int tc__ctx_is_opened(unsigned slot, uint64_t thread) {
    return tc__atomic_load64(&tc__live_contexts[slot].thread) == thread;
}

TC__UNUSED static void tc__ctx_unregister(int slot) {
    if (slot <= 0 || slot >= TC__CTX_SLOTS) return;
    tc__atomic_store64(&tc__live_contexts[slot].thread, 0);
    tc__atomic_store_pointer(&tc__live_contexts[slot].ctx, NULL);
}

// The context in a slot, or NULL. A slot is reused after unregister: only the epoch in a
// handle tells an old context's tensors from a new one's.
TC__INLINE tc_ctx *tc__ctx_at(unsigned slot) {
    if (slot >= TC__CTX_SLOTS) return NULL;
    return (tc_ctx *)tc__atomic_load_pointer(&tc__live_contexts[slot].ctx);
}

// The context that this thread opened last, else the only one there is; NULL = neither. Where nothing
// tells whose an error is, it is left there.
TC__UNUSED static tc_ctx *tc__ctx_likely(uint64_t thread) {
    unsigned best = 0, only = 0, slot;
    int n = 0;
    for (slot = 1; slot < TC__CTX_SLOTS; slot++) {
        tc__live *l = &tc__live_contexts[slot];
        if (!tc__atomic_load_pointer(&l->ctx)) continue;
        n++, only = slot;
        if (tc__atomic_load64(&l->thread) != thread) continue;
        if (!best || l->opened > tc__live_contexts[best].opened) best = slot;
    }
    if (!best && n == 1) best = only;
    return best ? tc__ctx_at(best) : NULL;
}

// ---- what users ask ----

static const tc__core *tc__core_const(const tc_ctx *c) {
    return (const tc__core *)(const void *)c;
}

TCDEF tc_allocator tc_allocator_of(const tc_ctx *tc) {
    tc_allocator none;
    memset(&none, 0, sizeof none);
    return tc ? tc__core_const(tc)->hook : none;
}

TCDEF tc_status tc_error(const tc_ctx *c) {
    return c ? tc__core_const(c)->error_item : TC_E_NULL;
}

TCDEF const char *tc_error_text(const tc_ctx *c) {
    const tc__core *core = c ? tc__core_const(c) : NULL;
    if (!core || !core->error_item) return "";
    return core->later ? core->error_told : core->error_text;
}

TCDEF const char *tc_error_file(const tc_ctx *c) {
    const char *file = c ? tc__core_const(c)->error_file : NULL;
    if (!c || !tc_error(c)) return "";
    return file ? file : "?";
}

TCDEF int tc_error_line(const tc_ctx *c) { return c ? tc__core_const(c)->error_line : 0; }

TCDEF const char *tc_status_name(tc_status s) { return tc__error_name(s); }
TCDEF const char *tc_status_doc(tc_status s) { return tc__error_doc(s); }
