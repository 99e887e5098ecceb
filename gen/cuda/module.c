// Code on the device: a CUBIN (or PTX) is loaded, its kernels are looked up and made ready,
// and launched. A kernel is loaded whole at once, so that no launch does it later.

enum { TCU__MOST_ARGS = 256, TCU__JIT_LOG = 2048, TCU__PORTABLE_CLUSTER = 8 };
enum { TCU__NAME = 160 }; // of a kernel, with its end

typedef struct tcu__module {
    tcu__code_library library; // one of the two
    tcu__code_module module;
} tcu__module;

typedef struct tcu__kernel {
    tcu__function function;
    int registers, spilled, shared, threads; // spilled: bytes of local memory per thread;
                                             // shared: static; threads: of a block, at most
    char name[TCU__NAME];
} tcu__kernel;

// How a kernel is launched.
typedef struct tcu__launch_shape {
    unsigned grid[3], block[3];
    unsigned cluster[3]; // blocks; 0 = none
    unsigned shared;     // dynamic
    int programmatic;    // may begin while the kernel before it ends: it waits by itself
} tcu__launch_shape;

// The arguments of a kernel: one block of bytes, and where each begins.
typedef struct tcu__args {
    const unsigned char *at;
    const uint32_t *offset; // of each, rising
    int count;
    size_t size; // of the block
} tcu__args;

// ---- loading

// What the driver's compiler says, behind the error that is noted.
TCU__FN void tcu__module_log(tcu__device *d, const char *log) {
    if (log[0] && d->trouble.code)
        tcu__put(d->trouble.text, sizeof d->trouble.text, "\n%s", log);
}

// Loads an image, whose name is for errors: 1, or 0 = reported.
TCU__FN int tcu__module_load(tcu__device *d, tcu__module *m, const void *image,
                             const char *name) {
    tcu__jit_option option[] = {TCU__JIT_ERROR_LOG, TCU__JIT_ERROR_LOG_BYTES};
    char log[TCU__JIT_LOG] = "";
    void *value[2];
    int ok;
    memset(m, 0, sizeof *m);
    value[0] = log;
    value[1] = (void *)(uintptr_t)sizeof log;
    const tcu__driver_calls *v = &d->driver.call;
    if (v->cuLibraryLoadData && v->cuLibraryUnload && v->cuLibraryGetKernel &&
        v->cuKernelGetFunction)
        ok = TCU__DO(d, name, cuLibraryLoadData, &m->library, image, option, value, 2, NULL,
                     NULL, 0);
    else
        ok = TCU__DO(d, name, cuModuleLoadDataEx, &m->module, image, 2, option, value);
    if (!ok) tcu__module_log(d, log);
    return ok;
}

TCU__FN void tcu__module_unload(tcu__device *d, tcu__module *m) {
    if (m->library) TCU__UNDO(d, cuLibraryUnload, m->library);
    if (m->module) TCU__UNDO(d, cuModuleUnload, m->module);
    memset(m, 0, sizeof *m);
}

TCU__FN int tcu__kernel_find(tcu__device *d, const tcu__module *m, tcu__kernel *k) {
    tcu__code_kernel code = NULL;
    if (!m->library)
        return TCU__DO(d, k->name, cuModuleGetFunction, &k->function, m->module, k->name);
    return TCU__DO(d, k->name, cuLibraryGetKernel, &code, m->library, k->name) &&
           TCU__DO(d, k->name, cuKernelGetFunction, &k->function, code);
}

TCU__FN int tcu__kernel_ask(tcu__device *d, tcu__kernel *k) {
    tcu__function f = k->function;
    return TCU__DO(d, k->name, cuFuncGetAttribute, &k->registers, TCU__FN_REGISTERS, f) &&
           TCU__DO(d, k->name, cuFuncGetAttribute, &k->spilled, TCU__FN_LOCAL, f) &&
           TCU__DO(d, k->name, cuFuncGetAttribute, &k->shared, TCU__FN_SHARED, f) &&
           TCU__DO(d, k->name, cuFuncGetAttribute, &k->threads, TCU__FN_THREADS, f);
}

// Does the device have what the kernel needs in that shape? The driver says only "invalid".
TCU__FN int tcu__kernel_fits(tcu__device *d, const tcu__kernel *k,
                             const tcu__launch_shape *s) {
    size_t shared = (size_t)k->shared + s->shared, room = (size_t)d->facts.shared_block;
    size_t threads = (size_t)s->block[0] * s->block[1] * s->block[2];
    if (shared > room)
        return tcu__fail(
            &d->trouble, TC_E_UNSUPPORTED,
            "kernel %s needs %zu bytes of shared memory, device %d has %zu for a "
            "block",
            k->name, shared, d->ordinal, room);
    if (threads > (size_t)k->threads)
        return tcu__fail(
            &d->trouble, TC_E_UNSUPPORTED,
            "kernel %s has blocks of %zu threads, and with %d registers a block "
            "may have %d",
            k->name, threads, k->registers, k->threads);
    return 1;
}

// Finds a kernel and makes it ready to be launched in that shape, or a smaller one: 1, or 0
// = reported. *k holds until the module is unloaded.
TCU__FN int tcu__kernel_get(tcu__device *d, const tcu__module *m, const char *name,
                            const tcu__launch_shape *most, tcu__kernel *k) {
    unsigned cluster = most->cluster[0] * most->cluster[1] * most->cluster[2];
    memset(k, 0, sizeof *k);
    if (strlen(name) >= sizeof k->name)
        return tcu__fail(&d->trouble, TC_E_TOO_BIG, "the name of kernel %.80s is too long",
                         name);
    memcpy(k->name, name, strlen(name));
    if (!tcu__kernel_find(d, m, k)) return 0;
    if (d->driver.call.cuFuncLoad && !TCU__DO(d, name, cuFuncLoad, k->function)) return 0;
    if (!tcu__kernel_ask(d, k) || !tcu__kernel_fits(d, k, most)) return 0;
    if (most->shared && !TCU__DO(d, name, cuFuncSetAttribute, k->function,
                                 TCU__FN_DYNAMIC_SHARED, (int)most->shared))
        return 0;
    return cluster <= TCU__PORTABLE_CLUSTER ||
           TCU__DO(d, name, cuFuncSetAttribute, k->function, TCU__FN_LARGE_CLUSTER, 1);
}

// ---- tensor maps

TCU__FN tcu__map_dtype tcu__map_dtype_of(int dtype) {
    if (dtype == TC_F32) return TCU__MAP_F32;
    if (dtype == TC_F8E4M3 || dtype == TC_F8E5M2) return TCU__MAP_U8;
    return dtype == TC_F16 ? TCU__MAP_F16 : TCU__MAP_BF16;
}

// How a box's lines are exchanged, which have so many bytes.
TCU__FN tcu__map_swizzle tcu__map_swizzle_of(uint64_t line) {
    return line <= 64 ? TCU__MAP_SWIZZLE_64 : TCU__MAP_SWIZZLE_128;
}

// Of windows: rank 4, and boxes of places.
TCU__FN int tcu__map_windows(tcu__device *d, const tc_device_map *m, void *at,
                             const uint64_t *size, const uint64_t *stride,
                             tcu__tensor_map *map) {
    uint32_t step[4];
    step[0] = step[3] = 1, step[1] = m->step[0], step[2] = m->step[1];
    return TCU__DO(d, "a tensor map of windows", cuTensorMapEncodeIm2col, map,
                   tcu__map_dtype_of(m->dtype), 4, at, size, stride, m->low, m->high,
                   m->box[0], m->box[1], step, TCU__MAP_PLAIN,
                   tcu__map_swizzle_of(m->box[0] * tc_dtype_bytes((tc_dtype)m->dtype)),
                   TCU__MAP_L2_128, TCU__MAP_ZEROS);
}

// Makes a map of the tensor whose memory begins at `base`: TC_DEVICE_MAP_BYTES. L2 is told to fetch 128 bytes at a time: with
// 256 a product of 1000 x 3000 x 5000, whose rows are not aligned to them, takes an eighth longer, and others no less. 1, or 0 =
// reported.
TCU__FN int tcu__map_make(tcu__device *d, const tc_device_map *m, tcu__address base,
                          void *to) {
    static const uint32_t step[4] = {1, 1, 1, 1};
    enum { ALIGN = 128 };
    const uint64_t bytes = tc_dtype_bytes((tc_dtype)m->dtype);
    unsigned char room[sizeof(tcu__tensor_map) + ALIGN];
    tcu__tensor_map *map =
        (tcu__tensor_map *)(void *)(room + (ALIGN - (uintptr_t)room % ALIGN) % ALIGN);
    uint64_t size[4], stride[3];
    uintptr_t at = (uintptr_t)base + (uintptr_t)m->offset * bytes;
    for (int i = 0; i < 4; i++) size[i] = (uint64_t)m->size[i];
    for (int i = 0; i < 3; i++) stride[i] = (uint64_t)m->stride[i] * bytes;
    int ok = m->step[0]
                 ? tcu__map_windows(d, m, (void *)at, size, stride, map)
                 : TCU__DO(d, "a tensor map", cuTensorMapEncodeTiled, map,
                           tcu__map_dtype_of(m->dtype), 4, (void *)at, size, stride, m->box,
                           step, TCU__MAP_PLAIN, tcu__map_swizzle_of(m->box[0] * bytes),
                           TCU__MAP_L2_128, TCU__MAP_ZEROS);
    if (!ok) return 0;
    memcpy(to, map, sizeof *map);
    return 1;
}

// ---- launching

// The pointers to arguments that the driver wants.
typedef struct tcu__arg_list {
    void *at[TCU__MOST_ARGS];
} tcu__arg_list;

TCU__FN int tcu__args_list(tcu__device *d, const tcu__kernel *k, const tcu__args *a,
                           tcu__arg_list *list) {
    if (a->count > TCU__MOST_ARGS)
        return tcu__fail(&d->trouble, TC_E_TOO_BIG,
                         "kernel %s has %d arguments (at most %d)", k->name, a->count,
                         TCU__MOST_ARGS);
    for (int i = 0; i < a->count; i++)
        list->at[i] = (void *)((uintptr_t)a->at + a->offset[i]); // only read by the driver
    return 1;
}

// Does the launch need more than cuLaunchKernel knows? Programmatic starts are left out
// where the driver has none of it: the kernel just starts later.
TCU__FN int tcu__launch_is_plain(const tcu__device *d, const tcu__launch_shape *s) {
    return !s->cluster[0] && (!s->programmatic || !d->driver.call.cuLaunchKernelEx);
}

TCU__FN unsigned tcu__launch_attributes(const tcu__launch_shape *s,
                                        tcu__launch_attribute out[2]) {
    unsigned n = 0;
    memset(out, 0, 2 * sizeof *out);
    if (s->cluster[0]) {
        out[n].id = TCU__LAUNCH_CLUSTER;
        memcpy(out[n++].value.cluster, s->cluster, sizeof s->cluster);
    }
    if (s->programmatic) {
        out[n].id = TCU__LAUNCH_PROGRAMMATIC;
        out[n++].value.programmatic = 1;
    }
    return n;
}

TCU__FN int tcu__launch_more(tcu__device *d, const tcu__kernel *k,
                             const tcu__launch_shape *s, tcu__arg_list *list,
                             tcu__stream stream) {
    tcu__launch_attribute attribute[2];
    tcu__launch_config c;
    if (!d->driver.call.cuLaunchKernelEx)
        return tcu__fail(
            &d->trouble, TC_E_VERSION,
            "kernel %s is launched in clusters, which the driver does not know; "
            "update it",
            k->name);
    memset(&c, 0, sizeof c);
    memcpy(c.grid, s->grid, sizeof c.grid);
    memcpy(c.block, s->block, sizeof c.block);
    c.shared = s->shared;
    c.stream = stream;
    c.attributes = attribute;
    c.count = tcu__launch_attributes(s, attribute);
    return TCU__DO(d, k->name, cuLaunchKernelEx, &c, k->function, list->at, NULL);
}

// Launches a kernel behind what the stream has: 1, or 0 = reported. What fails while it
// runs is reported by a later call, unless the device is careful. The arguments are copied.
TCU__FN int tcu__launch(tcu__device *d, const tcu__kernel *k, const tcu__launch_shape *s,
                        const tcu__args *a, tcu__stream stream) {
    tcu__arg_list list;
    int ok = tcu__args_list(d, k, a, &list);
    if (ok && !tcu__launch_is_plain(d, s))
        ok = tcu__launch_more(d, k, s, &list, stream);
    else if (ok)
        ok = TCU__DO(d, k->name, cuLaunchKernel, k->function, s->grid[0], s->grid[1],
                     s->grid[2], s->block[0], s->block[1], s->block[2], s->shared, stream,
                     list.at, NULL);
    if (!ok || !d->careful) return ok;
    return TCU__DO(d, k->name, cuStreamSynchronize, stream);
}
