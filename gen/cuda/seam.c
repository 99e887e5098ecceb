// The device as tcompile.h has it: the functions of tc_device over a runtime. Each enters the
// device, works and leaves; a failure leaves its text for why(), and the trouble is cleared, so
// that only a dead device stays refused.

typedef struct tcu__loaded {
    struct tcu__loaded *next;
    tcu__module module;
    struct tcu__found *found; // kernels that were asked for; owned
} tcu__loaded;

typedef struct tcu__found {
    struct tcu__found *next;
    tcu__kernel kernel;
    unsigned shared; // dynamic bytes that it was made ready for
} tcu__found;

typedef struct tcu__seam {
    tcu__runtime runtime; // must stay where it is
    tcu__arch arch;       // once NVRTC was opened
    tcu__loaded *loaded;  // owned
    char name[24], identity[96], portable[96];
    char why[TCU__TEXT];
} tcu__seam;

// The arguments of a launch with maps of tensors: a copy, in which those are.
typedef struct tcu__own_arguments {
    unsigned char *at; // owned; NULL = the launch has none
    uint32_t size;
} tcu__own_arguments;

// What the device has of one list of launches.
typedef struct tcu__plan {
    tcu__graphs graphs;
    tcu__node *node;         // owned
    tcu__own_arguments *own; // owned, of each
    int count;
    uint64_t runs;
    tcu__share share; // what tells whether it is to be a graph
} tcu__plan;

// Bytes of arguments of a kernel, from this version of the driver on and before. NVRTC has it too.
enum {
    TCU__MANY_ARGUMENTS = 12010,
    TCU__ARGUMENT_BYTES = 32764,
    TCU__ARGUMENT_BYTES_BEFORE = 4096
};

TCU__FN tcu__seam *tcu__seam_of(void *user) { return (tcu__seam *)user; }

TCU__FN int tcu__seam_begin(tcu__seam *s) {
    s->why[0] = 0;
    return tcu__enter(&s->runtime.device);
}

// The status of what was done since tcu__seam_begin, which gave `entered`.
TCU__FN tc_status tcu__seam_end(tcu__seam *s, int entered, int ok) {
    tcu__device *d = &s->runtime.device;
    tc_status status = TC_OK;
    if (entered) tcu__leave(d);
    if (entered && ok) return TC_OK;
    status = d->trouble.status ? d->trouble.status : TC_E_BACKEND;
    tcu__print(s->why, sizeof s->why, "%s", d->trouble.text);
    tcu__trouble_clear(&d->trouble);
    return status;
}

// `work` is a call that gives 1 or 0 and may use `d` and `r`.
#define TCU__SEAM(user, work)                                                              \
    do {                                                                                   \
        tcu__seam *s = tcu__seam_of(user);                                                 \
        tcu__runtime *r = &s->runtime;                                                     \
        tcu__device *d = &r->device;                                                       \
        int entered = tcu__seam_begin(s);                                                  \
        (void)d;                                                                           \
        return tcu__seam_end(s, entered, entered && (work));                               \
    } while (0)

// Enters to give things back, from a dead device too; in a child of the process the driver is left
// alone. What goes wrong there is nobody's failure, but a device that died stays dead.
TCU__FN int tcu__seam_undo_begin(tcu__seam *s) {
    tcu__device *d = &s->runtime.device;
    if (d->inside) return ++d->inside;
    d->orphan = d->process != tcu__process();
    if (!d->orphan) tcu__enter_to_close(d);
    return d->inside;
}

TCU__FN void tcu__seam_undo_end(tcu__seam *s, int inside) {
    if (inside) tcu__leave(&s->runtime.device);
    tcu__trouble_clear(&s->runtime.device.trouble);
}

TCU__FN const char *tcu__seam_why(void *user) { return tcu__seam_of(user)->why; }

TCU__FN tcu__address tcu__address_of(const void *p) { return (tcu__address)(uintptr_t)p; }

// ---- memory

TCU__FN int tcu__seam_block(tcu__runtime *r, size_t bytes, tc_device_memory *out) {
    tcu__block *b = tcu__pool_take(&r->pool, bytes, r->device.compute);
    if (!b) return 0;
    out->address = (void *)(uintptr_t)b->address;
    out->block = b;
    return 1;
}

TCU__FN tc_status tcu__seam_take(void *user, size_t bytes, tc_device_memory *out) {
    TCU__SEAM(user, tcu__seam_block(r, bytes, out));
}

// Work on the block is done in the order of the stream, and so is what the next one does.
TCU__FN void tcu__seam_give(void *user, tc_device_memory m) {
    tcu__seam *s = tcu__seam_of(user);
    if (m.block) tcu__pool_give(&s->runtime.pool, (tcu__block *)m.block);
}

TCU__FN int tcu__seam_arena_base(tcu__runtime *r, size_t bytes, void **address) {
    tcu__address base = 0;
    if (!tcu__arena_reserve(&r->arena, bytes, &base)) return 0;
    *address = (void *)(uintptr_t)base;
    return 1;
}

TCU__FN tc_status tcu__seam_arena(void *user, size_t bytes, void **address) {
    TCU__SEAM(user, tcu__seam_arena_base(r, bytes, address));
}

// With one space of addresses for host and device, which all 64-bit systems have, pinned
// memory is where kernels see it.
TCU__FN tc_status tcu__seam_take_host(void *user, size_t bytes, void **address) {
    TCU__SEAM(user, TCU__DO(d, "memory of the host that kernels write", cuMemHostAlloc,
                            address, bytes, 0));
}

TCU__FN void tcu__seam_give_host(void *user, void *address, size_t bytes) {
    tcu__seam *s = tcu__seam_of(user);
    tcu__device *d = &s->runtime.device;
    int inside = tcu__seam_undo_begin(s);
    (void)bytes;
    TCU__UNDO(d, cuMemFreeHost, address);
    tcu__seam_undo_end(s, inside);
}

TCU__FN tc_status tcu__seam_copy_in(void *user, void *to, const void *from, size_t bytes) {
    TCU__SEAM(user,
              tcu__copy_in(&r->staging, tcu__address_of(to), from, bytes, d->compute));
}

TCU__FN tc_status tcu__seam_copy_out(void *user, void *to, const void *from, size_t bytes) {
    TCU__SEAM(user,
              tcu__copy_out(&r->staging, to, tcu__address_of(from), bytes, d->compute));
}

TCU__FN tc_status tcu__seam_copy_on(void *user, void *to, const void *from, size_t bytes) {
    TCU__SEAM(user, tcu__copy_on(d, tcu__address_of(to), tcu__address_of(from), bytes,
                                 d->compute));
}

TCU__FN void tcu__seam_close(void *user);

// Over a link, if `from` is a device of ours and there is one; whatever else is the matter, the host can copy.
TCU__FN tc_status tcu__seam_copy_from(void *user, void *to, const tc_device *from,
                                      const void *source, size_t bytes) {
    tcu__seam *s = tcu__seam_of(user);
    if (from->close != tcu__seam_close) return TC_E_UNSUPPORTED;
    tcu__device *d = &s->runtime.device, *other = &tcu__seam_of(from->user)->runtime.device;
    int entered = tcu__seam_begin(s);
    int reaches = entered && tcu__peer_reaches(d, other);
    int ok = reaches &&
             tcu__peer_copy(d, tcu__address_of(to), other, tcu__address_of(source), bytes);
    tcu__trouble_clear(&other->trouble);
    tc_status status = tcu__seam_end(s, entered, ok);
    return entered && !reaches ? TC_E_UNSUPPORTED : status;
}

TCU__FN tc_status tcu__seam_fill(void *user, void *to, uint8_t value, size_t bytes) {
    TCU__SEAM(user, tcu__set_bytes(d, tcu__address_of(to), value, bytes, d->compute));
}

TCU__FN tc_status tcu__seam_sync(void *user) {
    TCU__SEAM(user, tcu__stream_wait(d, d->compute));
}

// ---- code

static const char *const tcu__seam_options[] = {"-fmad=false", "-lineinfo"};

TCU__FN int tcu__seam_options_used(void) { return tcu__env("TC_CUDA_LINEINFO") ? 2 : 1; }

TCU__FN int tcu__processors(void) {
#if TCU__POSIX
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (int)n : 1;
#else
    return 1;
#endif
}

// The results go to the texts, which own them from now on.
TCU__FN void tcu__seam_results(const tc_allocator *host, const tcu__arch *arch,
                               tcu__job *job, tc_device_text *text, int n) {
    for (int i = 0; i < n; i++) {
        tcu__job *j = &job[i];
        if (!arch->cubin) {
            text[i].code = j->ptx, text[i].bytes = j->ptx_size;
            j->ptx = NULL;
        } else {
            text[i].code = j->cubin, text[i].bytes = j->cubin_size;
            j->cubin = NULL;
        }
        if (!j->native) {
            text[i].portable = j->ptx, text[i].portable_bytes = j->ptx_size;
            j->ptx = NULL;
        }
        tcu__job_free(host, j);
    }
}

TCU__FN int tcu__seam_compile(tcu__seam *s, tc_device_text *text, int n) {
    tcu__runtime *r = &s->runtime;
    tcu__device *d = &r->device;
    tcu__job *job = TCU__NEW_ARRAY(&d->host, tcu__job, n);
    if (!job) return tcu__no_memory(&d->trouble, "compiling");
    for (int i = 0; i < n; i++) {
        job[i].name = text[i].name, job[i].source = text[i].text;
        job[i].native = text[i].native || strstr(text[i].text, "wgmma.") != NULL;
        job[i].options = tcu__seam_options, job[i].n_options = tcu__seam_options_used();
    }
    int ok =
        tcu__nvrtc_open(&r->nvrtc, &d->trouble) &&
        tcu__arch_choose(&r->nvrtc, d->facts.major, d->facts.minor, &s->arch,
                         &d->trouble) &&
        tcu__compile(&r->nvrtc, &d->host, &s->arch, job, n, tcu__processors(), &d->trouble);
    if (ok) tcu__seam_results(&d->host, &s->arch, job, text, n);
    for (int i = 0; i < n; i++) tcu__job_free(&d->host, &job[i]);
    TCU__FREE(&d->host, job, n);
    return ok;
}

TCU__FN tc_status tcu__seam_build(void *user, tc_device_text *text, int n) {
    TCU__SEAM(user, r != NULL && tcu__seam_compile(s, text, n));
}

TCU__FN void tcu__seam_drop(void *user, tc_device_text *text, int n) {
    const tc_allocator *host = &tcu__seam_of(user)->runtime.device.host;
    for (int i = 0; i < n; i++) {
        TCU__FREE(host, (char *)text[i].code, text[i].bytes + 1);
        TCU__FREE(host, (char *)text[i].portable, text[i].portable_bytes + 1);
        text[i].code = text[i].portable = NULL;
    }
}

TCU__FN int tcu__seam_load_code(tcu__seam *s, const char *name, const void *code,
                                void **module) {
    tcu__device *d = &s->runtime.device;
    tcu__loaded *m = TCU__NEW(&d->host, tcu__loaded);
    if (!m) return tcu__no_memory(&d->trouble, "code");
    if (!tcu__module_load(d, &m->module, code, name)) {
        TCU__FREE(&d->host, m, 1);
        return 0;
    }
    m->next = s->loaded, s->loaded = m;
    *module = m;
    return 1;
}

TCU__FN tc_status tcu__seam_load(void *user, const char *name, const void *code,
                                 size_t bytes, void **module) {
    (void)bytes;
    TCU__SEAM(user, r != NULL && tcu__seam_load_code(s, name, code, module));
}

TCU__FN void tcu__loaded_free(tcu__seam *s, tcu__loaded *m) {
    tcu__device *d = &s->runtime.device;
    for (tcu__found *f = m->found, *next; f; f = next) {
        next = f->next;
        TCU__FREE(&d->host, f, 1);
    }
    tcu__module_unload(d, &m->module);
    TCU__FREE(&d->host, m, 1);
}

TCU__FN void tcu__seam_unload(void *user, void *module) {
    tcu__seam *s = tcu__seam_of(user);
    tcu__loaded **at = &s->loaded, *m = (tcu__loaded *)module;
    while (*at != m) at = &(*at)->next;
    *at = m->next;
    int inside = tcu__seam_undo_begin(s);
    TCU__UNDO(&s->runtime.device, cuStreamSynchronize, s->runtime.device.compute);
    tcu__loaded_free(s, m);
    tcu__seam_undo_end(s, inside);
}

TCU__FN int tcu__seam_find_kernel(tcu__seam *s, void *module, const char *symbol,
                                  uint32_t threads, void **kernel) {
    tcu__device *d = &s->runtime.device;
    tcu__loaded *m = (tcu__loaded *)module;
    tcu__found *f = TCU__NEW(&d->host, tcu__found);
    tcu__launch_shape shape;
    if (!f) return tcu__no_memory(&d->trouble, "a kernel");
    memset(&shape, 0, sizeof shape);
    shape.block[0] = threads;
    shape.block[1] = shape.block[2] = 1;
    if (!tcu__kernel_get(d, &m->module, symbol, &shape, &f->kernel)) {
        TCU__FREE(&d->host, f, 1);
        return 0;
    }
    f->next = m->found, m->found = f;
    *kernel = f;
    return 1;
}

TCU__FN tc_status tcu__seam_find(void *user, void *module, const char *symbol,
                                 uint32_t threads, void **kernel) {
    TCU__SEAM(user, r != NULL && tcu__seam_find_kernel(s, module, symbol, threads, kernel));
}

TCU__FN void tcu__seam_describe(void *user, void *kernel, char *text, size_t room) {
    const tcu__kernel *k = &((tcu__found *)kernel)->kernel;
    (void)user;
    tcu__print(text, room, "%d registers, %d bytes spilled, %d bytes of shared memory",
               k->registers, k->spilled, k->shared);
}

// ---- running

TCU__FN void tcu__plan_free(tcu__seam *s, tcu__plan *p) {
    const tc_allocator *host = &s->runtime.device.host;
    tcu__graphs_close(&p->graphs);
    tcu__share_close(&s->runtime.device, &p->share);
    for (int i = 0; i < p->count; i++) TCU__FREE(host, p->own[i].at, p->own[i].size);
    TCU__FREE(host, p->own, p->count);
    TCU__FREE(host, p->node, p->count);
    TCU__FREE(host, p, 1);
}

TCU__FN void tcu__seam_forget(void *user, void *plan) {
    tcu__seam *s = tcu__seam_of(user);
    int inside = tcu__seam_undo_begin(s);
    tcu__plan_free(s, (tcu__plan *)plan);
    tcu__seam_undo_end(s, inside);
}

TCU__FN tcu__plan *tcu__plan_need(tcu__seam *s, void **plan, int n) {
    tcu__device *d = &s->runtime.device;
    if (*plan) return (tcu__plan *)*plan;
    tcu__plan *p = TCU__NEW(&d->host, tcu__plan);
    if (p) p->node = TCU__NEW_ARRAY(&d->host, tcu__node, n);
    if (p) p->own = TCU__NEW_ARRAY(&d->host, tcu__own_arguments, n);
    if (!p || !p->node || !p->own) {
        if (p) TCU__FREE(&d->host, p->node, n);
        if (p) TCU__FREE(&d->host, p->own, n);
        if (p) TCU__FREE(&d->host, p, 1);
        tcu__no_memory(&d->trouble, "a list of kernels");
        return NULL;
    }
    p->count = n;
    tcu__graphs_open(&p->graphs, d);
    *plan = p;
    return p;
}

// More shared memory than a kernel was made ready for.
TCU__FN int tcu__found_shared(tcu__device *d, tcu__found *f, unsigned shared) {
    tcu__launch_shape shape;
    if (shared <= f->shared) return 1;
    memset(&shape, 0, sizeof shape);
    shape.shared = shared;
    shape.block[0] = shape.block[1] = shape.block[2] = 1;
    if (!tcu__kernel_fits(d, &f->kernel, &shape) ||
        !TCU__DO(d, f->kernel.name, cuFuncSetAttribute, f->kernel.function,
                 TCU__FN_DYNAMIC_SHARED, (int)shared))
        return 0;
    f->shared = shared;
    return 1;
}

// A kernel may begin while the one before it on the stream ends, whose ever that is, if it waits
// by itself.
TCU__FN int tcu__begins_early(const tcu__device *d, const tc_device_launch *l) {
    return l->early && d->facts.major >= 9;
}

TCU__FN tcu__address tcu__address_in(const unsigned char *argument,
                                     const tc_device_launch *l, const tc_device_map *m) {
    tcu__address a;
    memcpy(&a, argument + l->offset[m->address], sizeof a);
    return a;
}

// Arguments with maps, made anew where a tensor has moved since. Maps are the last of them.
TCU__FN int tcu__plan_maps(tcu__device *d, tcu__own_arguments *own, tcu__node *to,
                           const tc_device_launch *l) {
    const unsigned char *given = (const unsigned char *)l->argument;
    int ok = 1, fresh = !own->at;
    if (fresh) own->at = TCU__NEW_ARRAY(&d->host, unsigned char, l->argument_bytes);
    if (!own->at) return tcu__no_memory(&d->trouble, "a list of kernels");
    own->size = l->argument_bytes;
    for (uint32_t i = 0; ok && i < l->n_map; i++) {
        const tc_device_map *m = &l->map[i];
        tcu__address a = tcu__address_in(given, l, m);
        if (fresh || a != tcu__address_in(own->at, l, m))
            ok = tcu__map_make(d, m, a, own->at + l->offset[m->argument]);
    }
    memcpy(own->at, given, l->offset[l->map[0].argument]);
    if (!ok) memset(own->at, 0, own->size); // no address is a tensor's: all are made again
    to->args.at = own->at;
    return ok;
}

TCU__FN int tcu__plan_node(tcu__device *d, tcu__node *to, tcu__own_arguments *own,
                           const tc_device_launch *l) {
    tcu__found *f = (tcu__found *)l->kernel;
    memset(to, 0, sizeof *to);
    to->kernel = &f->kernel;
    to->shape.grid[0] = l->blocks, to->shape.grid[1] = to->shape.grid[2] = 1;
    to->shape.block[0] = l->threads, to->shape.block[1] = to->shape.block[2] = 1;
    to->shape.shared = l->shared;
    to->shape.programmatic = tcu__begins_early(d, l);
    if (l->cluster > 1) {
        to->shape.cluster[0] = l->cluster;
        to->shape.cluster[1] = to->shape.cluster[2] = 1;
    }
    to->args.at = (const unsigned char *)l->argument, to->args.offset = l->offset;
    to->args.count = (int)l->n_argument, to->args.size = l->argument_bytes;
    to->after = l->after, to->n_after = l->n_after;
    if (l->n_map && !tcu__plan_maps(d, own, to, l)) return 0;
    return tcu__found_shared(d, f, l->shared);
}

// One word of all arguments: tells which of the graphs that are kept has them.
TCU__FN uint64_t tcu__plan_key(const tcu__plan *p) {
    uint64_t key = 0x9e3779b97f4a7c15u;
    for (int i = 0; i < p->count; i++) {
        const tcu__args *a = &p->node[i].args;
        for (size_t at = 0; at + 8 <= a->size; at += 8) {
            uint64_t word;
            memcpy(&word, a->at + at, sizeof word);
            key = (key ^ word) * 0xff51afd7ed558ccdu;
            key ^= key >> 29;
        }
    }
    return key;
}

TCU__FN int tcu__plan_is_graph(const tcu__plan *p, tc_device_mode mode) {
    if (!tcu__graph_fits(p->count) || mode == TC_DEVICE_LAUNCHES) return 0;
    return mode == TC_DEVICE_GRAPH ? p->runs > 0 : p->share.state == TCU__SHARE_GRAPH;
}

// Whether this run is the one that tells.
TCU__FN int tcu__plan_measures(const tcu__plan *p, tc_device_mode mode) {
    return mode == TC_DEVICE_CHOOSE && p->share.state == TCU__SHARE_OPEN &&
           p->count >= TCU__SHARE_LEAST && tcu__graph_fits(p->count) &&
           p->runs >= TCU__SHARE_RUN;
}

TCU__FN int tcu__seam_run_list(tcu__seam *s, void **plan, const tc_device_launch *list,
                               int n, tc_device_mode mode, int changed) {
    tcu__device *d = &s->runtime.device;
    tcu__plan *p = tcu__plan_need(s, plan, n);
    if (!p) return 0;
    changed |= !p->runs;
    if (changed) p->graphs.last = NULL;
    for (int i = 0; changed && i < n; i++)
        if (!tcu__plan_node(d, &p->node[i], &p->own[i], &list[i])) return 0;
    if (!tcu__share_settle(d, &p->share)) return 0;
    int graph = tcu__plan_is_graph(p, mode), measures = tcu__plan_measures(p, mode);
    p->runs++;
    if (measures) return tcu__share_measure(d, &p->share, p->node, n, d->compute);
    if (graph && p->graphs.last) return tcu__graphs_again(&p->graphs, d->compute);
    if (graph) {
        uint64_t key = tcu__plan_key(p);
        return tcu__graphs_run(&p->graphs, p->node, n, &key, 1, d->compute);
    }
    return tcu__nodes_run(d, p->node, n, d->compute);
}

TCU__FN tc_status tcu__seam_run(void *user, void **plan, const tc_device_launch *list,
                                int n, tc_device_mode mode, int changed) {
    TCU__SEAM(user, r != NULL && tcu__seam_run_list(s, plan, list, n, mode, changed));
}

// "a graph, as launching takes 20 us of 60 us; 1 of at most 4 executables, 1 built, 0 nodes set anew"
TCU__FN void tcu__seam_tell(void *user, void *plan, char *text, size_t room) {
    static const char *const states[] = {"launched one by one so far",
                                         "launched one by one, as it was measured just now",
                                         "a graph", "launched one by one"};
    const tcu__plan *p = (const tcu__plan *)plan;
    const tcu__share *s = &p->share;
    char why[100] = "";
    int kept = 0;
    (void)user;
    for (int i = 0; i < TCU__GRAPHS; i++) kept += p->graphs.entry[i].exec != NULL;
    if (s->state >= TCU__SHARE_GRAPH)
        tcu__print(why, sizeof why, ", as launching takes the host %.1f us of %.1f us",
                   (double)s->host_ns * 1e-3, (double)s->device_ns * 1e-3);
    tcu__print(text, room, "%s%s", kept ? states[TCU__SHARE_GRAPH] : states[s->state], why);
    size_t n = strlen(text);
    if (p->graphs.built && n < room)
        tcu__print(text + n, room - n,
                   "; %d of at most %d executables, %llu built, %llu nodes set anew", kept,
                   (int)TCU__GRAPHS, (unsigned long long)p->graphs.built,
                   (unsigned long long)p->graphs.changed);
}

// ---- time

TCU__FN int tcu__seam_mark_now(tcu__device *d, void **moment) {
    tcu__event e = *moment ? (tcu__event)*moment : tcu__moment_take(d);
    *moment = e;
    return e && TCU__DO(d, "times of the device", cuEventRecord, e, d->compute);
}

TCU__FN tc_status tcu__seam_mark(void *user, void **moment) {
    TCU__SEAM(user, tcu__seam_mark_now(d, moment));
}

TCU__FN tc_status tcu__seam_elapsed(void *user, void *from, void *to, uint64_t *ns) {
    TCU__SEAM(user, tcu__moments_apart(d, (tcu__event)from, (tcu__event)to, ns));
}

TCU__FN void tcu__seam_unmark(void *user, void *moment) {
    tcu__seam *s = tcu__seam_of(user);
    tcu__device *d = &s->runtime.device;
    int inside = tcu__seam_undo_begin(s);
    TCU__UNDO(d, cuEventDestroy_v2, (tcu__event)moment);
    tcu__seam_undo_end(s, inside);
}

// ---- life

TCU__FN void tcu__seam_close(void *user) {
    tcu__seam *s = tcu__seam_of(user);
    tc_allocator host = s->runtime.device.host;
    while (s->loaded) tcu__seam_unload(s, s->loaded);
    tcu__runtime_close(&s->runtime);
    TCU__FREE(&host, s, 1);
}

TCU__FN void tcu__seam_fill_in(tcu__seam *s, tc_device *d) {
    const tcu__facts *f = &s->runtime.device.facts;
    memset(d, 0, sizeof *d);
    d->name = s->name, d->language = &tc__language_cuda;
    d->identity = s->identity, d->portable = s->portable;
    d->checked = tcu__env("TC_CUDA_CHECK") != NULL;
    d->processors = (uint32_t)f->sms, d->shared_bytes = (uint32_t)f->shared_block;
    d->cluster_blocks = f->clusters ? TCU__PORTABLE_CLUSTER : 0;
    d->matrix_warps = tcu__has_wgmma(f->major, f->minor) ? 4 : 0;
    d->tensor_maps = d->matrix_warps && f->tensor_maps &&
                     s->runtime.device.driver.call.cuTensorMapEncodeTiled &&
                     s->runtime.device.driver.call.cuTensorMapEncodeIm2col;
    d->argument_bytes = s->runtime.device.driver.version >= TCU__MANY_ARGUMENTS
                            ? TCU__ARGUMENT_BYTES
                            : TCU__ARGUMENT_BYTES_BEFORE;
    d->user = s;
    d->close = tcu__seam_close, d->why = tcu__seam_why;
    d->take = tcu__seam_take, d->give = tcu__seam_give, d->arena = tcu__seam_arena;
    d->take_host = tcu__seam_take_host, d->give_host = tcu__seam_give_host;
    d->copy_in = tcu__seam_copy_in, d->copy_out = tcu__seam_copy_out;
    d->copy_on = tcu__seam_copy_on, d->copy_from = tcu__seam_copy_from,
    d->fill = tcu__seam_fill, d->sync = tcu__seam_sync;
    d->build = tcu__seam_build, d->drop = tcu__seam_drop;
    d->load = tcu__seam_load, d->unload = tcu__seam_unload, d->find = tcu__seam_find;
    d->describe = tcu__seam_describe;
    d->run = tcu__seam_run, d->forget = tcu__seam_forget;
    d->tell = tcu__seam_tell;
    d->mark = tcu__seam_mark, d->elapsed = tcu__seam_elapsed, d->unmark = tcu__seam_unmark;
}

// Code is for a compute capability, PTX for that one and newer ones, which the driver knows by itself; which
// NVRTC made it does not matter.
TCU__FN void tcu__seam_names(tcu__seam *s, int ordinal) {
    const tcu__facts *f = &s->runtime.device.facts;
    char options[32];
    tcu__print(s->name, sizeof s->name, "cuda:%d", ordinal);
    tcu__print(options, sizeof options, "%s%s", tcu__seam_options[0],
               tcu__seam_options_used() > 1 ? " -lineinfo" : "");
    tcu__print(s->identity, sizeof s->identity, "cuda %d.%d %s", f->major, f->minor,
               options);
    tcu__print(s->portable, sizeof s->portable, "cuda ptx %s", options);
    s->runtime.device.careful = tcu__env("TC_CUDA_SYNC") != NULL;
    s->runtime.device.branches = tcu__env("TC_CUDA_GRAPH_BRANCHES") != NULL;
}

// ---- public

// From now on there are texts in CUDA, for backends of the user's too, with or without a device.
TCU__FN tc_status tcu__language_add(tc_ctx *tc) {
    tc_status outer = tc__unit_begin(tc);
    return tc__unit_end(tc, outer, tc__language_add(tc, &tc__language_cuda));
}

TCDEF tc_status tc_cuda_open(tc_ctx *tc, int ordinal) {
    tc_device device;
    char name[24];
    if (!tc) return TC_E_NULL;
    tcu__print(name, sizeof name, "cuda:%d", ordinal);
    if (tc_registered_device(tc, name)) return TC_OK;
    tc_status status = tcu__language_add(tc);
    if (status) return status;
    tc_allocator host = tc_allocator_of(tc);
    tcu__seam *s = TCU__NEW(&host, tcu__seam);
    if (!s) return tc_fail(tc, TC_E_NOMEM, "tc_cuda_open: no memory");
    if (!tcu__runtime_open(&s->runtime, &host, ordinal)) {
        status = s->runtime.device.trouble.status;
        char why[TCU__TEXT + 32];
        tcu__print(why, sizeof why, "tc_cuda_open: %s", s->runtime.device.trouble.text);
        TCU__FREE(&host, s, 1);
        return tc_fail(tc, status ? status : TC_E_BACKEND, why);
    }
    tcu__seam_names(s, ordinal);
    tcu__seam_fill_in(s, &device);
    status = tc_register_device(tc, &device);
    if (status) tcu__seam_close(s);
    return status;
}

TCU__FN tcu__seam *tcu__seam_in(const tc_ctx *tc, int ordinal) {
    char name[24];
    tcu__print(name, sizeof name, "cuda:%d", ordinal);
    const tc_device *d = tc_registered_device(tc, name);
    return d && d->close == tcu__seam_close ? tcu__seam_of(d->user) : NULL;
}

TCDEF void *tc_cuda_stream(const tc_ctx *tc, int ordinal) {
    tcu__seam *s = tcu__seam_in(tc, ordinal);
    return s ? (void *)s->runtime.device.compute : NULL;
}

TCDEF tc_tensor tc_wrap_cuda(tc_ctx *tc, int ordinal, void *address, tc_dims dims,
                             tc_dtype dtype) {
    char name[24];
    tcu__print(name, sizeof name, "cuda:%d", ordinal);
    return tc_wrap_device_at(tc, name, address, dims, dtype, NULL, 0);
}

TCDEF int tc_cuda_memory(const tc_ctx *tc, int ordinal, char *text, size_t room) {
    tcu__seam *s = tcu__seam_in(tc, ordinal);
    tcu__memory m;
    if (text && room) text[0] = 0;
    if (!s || !text || !room) return 0;
    int entered = tcu__seam_begin(s);
    int ok = entered && tcu__memory_ask(&s->runtime.device, &m);
    if (ok) tcu__memory_put(&m, text, room);
    return tcu__seam_end(s, entered, ok) == TC_OK;
}
