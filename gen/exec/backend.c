// The backends of a context: ours, in a table, and those the user registered.
//
// To add one of ours: a row. One that a user registers gets the graph of exec/foreign.c;
// tests/backend_null.c is such a one, and must not be noticed. A device of ours comes with
// a header of its own: this table alone has its name, and says which header is missing.

typedef struct tc__backend {
    const char *name, *doc;    // registered: owned
    int passes, fuse, compile; // what we do before it runs
    const char *language;      // of a device that it is for; NULL = it needs none
    tc_backend own;            // registered: its functions; run NULL = it is ours
} tc__backend;

enum { TC__NO, TC__YES };

#define TC__NO_FUNCTIONS                                                                   \
    { NULL, NULL, NULL, NULL, NULL, NULL }

// name, doc, passes, fuse, compile, language
static const tc__backend tc__backends[] = {
    {"eager", "every op by itself, interpreted", TC__NO, TC__NO, TC__NO, NULL,
     TC__NO_FUNCTIONS},
    {"aot_eager", "the whole graph, fused, interpreted", TC__YES, TC__YES, TC__NO, NULL,
     TC__NO_FUNCTIONS},
    {"cpu", "the whole graph, fused, compiled by the system's C compiler", TC__YES, TC__YES,
     TC__YES, NULL, TC__NO_FUNCTIONS},
    {"cuda", "as cpu; tensors on a device are computed there whatever the backend", TC__YES,
     TC__YES, TC__YES, "cuda", TC__NO_FUNCTIONS},
    {"cudagraphs", "as cuda, each program on a device as one recorded graph", TC__YES,
     TC__YES, TC__YES, "cuda", TC__NO_FUNCTIONS},
};

static const tc__backend *const tc__backend_eager = &tc__backends[0];
static const tc__backend *const tc__backend_default = &tc__backends[2];

static const tc__backend *tc__backend_at(const tc_ctx *c, size_t i) {
    if (i < TC__COUNT(tc__backends)) return &tc__backends[i];
    i -= TC__COUNT(tc__backends);
    return i < c->backends.count ? c->backends.at[i] : NULL;
}

static int tc__backend_is_registered(const void *backend) {
    return backend && ((const tc__backend *)backend)->own.run;
}

// Whether programs of the region go to a registered backend; past its recompile_limit they do not.
static int tc__region_is_foreign(const tc__region *r) {
    return tc__backend_is_registered(r->backend) &&
           r->programs < (uint32_t)r->options.recompile_limit;
}

// The language of this name, of a header that the context knows; NULL = there is none.
static const tc__language *tc__language_find(const tc_ctx *c, const char *name) {
    for (size_t i = 0; i < c->languages.count; i++)
        if (!strcmp(c->languages.at[i]->dialect->name, name)) return c->languages.at[i];
    return NULL;
}

// For headers that bring one, before their devices; it lives as long as the program. 0 = reported.
static int tc__language_add(tc_ctx *c, const tc__language *d) {
    return tc__language_find(c, d->dialect->name) || TC__PUSH(c, c->languages, d);
}

// NULL = there is none of this name.
static const tc__backend *tc__backend_find(const tc_ctx *c, const char *name, size_t n) {
    const tc__backend *b;
    for (size_t i = 0; (b = tc__backend_at(c, i)) != NULL; i++)
        if (strlen(b->name) == n && !memcmp(b->name, name, n)) return b;
    return NULL;
}

// The context's own copy of a name, NULL = there is none like it.
static const char *tc__backend_name(const tc_ctx *c, const char *name, size_t n) {
    const tc__backend *b = tc__backend_find(c, name, n);
    return b ? b->name : NULL;
}

// Those for a device are shown where there may be one.
static int tc__backend_is_shown(const tc_ctx *c, const tc__backend *b) {
    return !b->language || tc__language_find(c, b->language);
}

static int tc__fail_backend(tc_ctx *c, const char *who, const char *name, size_t n) {
    char known[256] = "";
    size_t used = 0;
    const tc__backend *b;
    for (size_t i = 0; (b = tc__backend_at(c, i)) != NULL; i++) {
        size_t m = strlen(b->name);
        if (!tc__backend_is_shown(c, b)) continue;
        if (used + m + 3 > sizeof known) break;
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "",
                                 b->name);
    }
    return tc__fail(c, TC_E_ARG, "%s: there is no backend \"%.*s\"; there are %s", who,
                    (int)(n < 60 ? n : 60), name, known);
}

// Whether the device that a backend is for is there: nothing is computed elsewhere in silence. 0 =
// reported.
static int tc__backend_has_device(tc_ctx *c, const char *who, const tc__backend *b) {
    const tc__values *v = tc__values_of(c);
    for (size_t i = 0; i < v->device.count && b->language; i++)
        if (v->device.at[i]->own.language == tc__language_find(c, b->language)) return 1;
    if (!b->language) return 1;
    return tc__fail(
        c, TC_E_DEVICE,
        "%s: backend \"%s\" needs a device, and %s; include tcompile_cuda.h and open "
        "one before, with tc_cuda_open, or take backend \"cpu\"",
        who, b->name,
        v->parent ? "a context of tc_open_shared has none"
                  : "none is open in this context");
}

static void tc__backend_free(tc_ctx *c, tc__backend *b) {
    tc__string_free(c, b->name);
    tc__string_free(c, b->doc);
    tc__free(c, b, sizeof *b);
}

static void tc__backends_free(tc_ctx *c) {
    for (size_t i = 0; i < c->backends.count; i++) tc__backend_free(c, c->backends.at[i]);
    TC__VEC_FREE(c, c->backends);
    TC__VEC_FREE(c, c->languages);
}

static int tc__backend_add(tc_ctx *c, const tc_backend *from) {
    tc__backend *b = TC__NEW(c, tc__backend);
    if (!b) return 0;
    b->name = tc__string_copy(c, from->name), b->doc = tc__string_copy(c, from->doc);
    b->passes = b->fuse = 1, b->own = *from;
    b->own.name = b->name, b->own.doc = b->doc;
    if (b->name && (b->doc || !from->doc) && TC__PUSH(c, c->backends, b)) return 1;
    tc__backend_free(c, b);
    return 0;
}

static int tc__backends_share(tc_ctx *c, tc_ctx *parent) {
    for (size_t i = 0; i < parent->languages.count; i++)
        if (!tc__language_add(c, parent->languages.at[i])) return 0;
    for (size_t i = 0; i < parent->backends.count; i++)
        if (!tc__backend_add(c, &parent->backends.at[i]->own)) return 0;
    return 1;
}

TCDEF tc_status tc_register_backend(tc_ctx *c, const tc_backend *backend) {
    if (!c) return tc__fail_no_context("tc_register_backend", NULL, 0);
    tc_status refused = tc__outside(c, "tc_register_backend");
    if (refused) return refused;
    tc_status outer = tc__unit_begin(c);
    int ok = 0;
    if (!backend || !backend->name || !*backend->name || !backend->run)
        tc__fail(c, TC_E_NULL, "tc_register_backend: %s is missing",
                 !backend       ? "the backend"
                 : backend->run ? "its name"
                                : "its run");
    else if (tc__backend_find(c, backend->name, strlen(backend->name)))
        tc__fail(c, TC_E_ARG, "tc_register_backend: there is a backend \"%.60s\" already",
                 backend->name);
    else
        ok = tc__backend_add(c, backend);
    return tc__unit_end(c, outer, ok);
}

TCDEF int tc_list_backends(const tc_ctx *c, const char **names, int room) {
    const tc__backend *b;
    int n = 0;
    if (!c) return 0;
    for (size_t i = 0; (b = tc__backend_at(c, i)) != NULL; i++) {
        if (!tc__backend_is_shown(c, b)) continue;
        if (names && n < room) names[n] = b->name;
        n++;
    }
    return n;
}

// ---- what a registered backend has of a program ----

typedef struct tc__foreign {
    tc_ctx *ctx;
    const tc__backend *backend;
    void *state;     // the backend's
    tc__arena arena; // of the arrays in graph
    tc_graph graph;
    tc__text text, source; // of tc_graph_text and tc_graph_source
    uint32_t *in_source;   // by input: external, or externals + position
    uint32_t *out_index;   // by output: the program's output
    tc_buffer *in, *out;   // of a run
    double *arg;
    const tc__visit *visit; // that runs
    uint8_t **dense; // by input: row-major copy of what is strided, owned; NULL = none
    size_t *dense_bytes;
    int failed; // its errors are suppressed: the interpreter goes on
} tc__foreign;

static void tc__foreign_free(tc__foreign *f) {
    if (!f) return;
    tc_ctx *c = f->ctx;
    tc__calling calling = tc__calling_begin(c);
    if (f->state && f->backend->own.forget)
        f->backend->own.forget(f->backend->own.user, f->state);
    tc__calling_end(c, calling);
    for (int i = 0; f->dense && i < f->graph.n_input; i++)
        if (f->dense[i]) tc__free_aligned(c, f->dense[i], f->dense_bytes[i]);
    tc__text_free(&f->text);
    tc__text_free(&f->source);
    tc__arena_free(&f->arena);
    tc__free(c, f, sizeof *f);
}
