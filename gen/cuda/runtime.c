// All of a device in use together, in the order of opening, and what the header offers: is
// there a device, and which.

typedef struct tcu__runtime {
    tcu__device device;
    tcu__pool pool;
    tcu__arena arena;
    tcu__staging staging;
    tcu__nvrtc nvrtc; // opened at the first compile
} tcu__runtime;

// Gives everything back: what plans recorded and loaded must be gone. Works in a child of
// the process too, where only memory of the host is given back. *r keeps its trouble.
TCU__FN void tcu__runtime_close(tcu__runtime *r) {
    tcu__device *d = &r->device;
    d->orphan = d->process != tcu__process();
    tcu__enter_to_close(d);
    if (d->compute) TCU__UNDO(d, cuStreamSynchronize, d->compute);
    for (int i = 0; i < TCU__COPY_WAYS; i++) {
        if (d->copy[i]) TCU__UNDO(d, cuStreamSynchronize, d->copy[i]);
    }
    tcu__staging_close(&r->staging);
    tcu__arena_close(&r->arena);
    tcu__pool_close(&r->pool);
    tcu__nvrtc_close(&r->nvrtc);
    tcu__device_close(d);
}

// Opens device `ordinal`: 1, or 0 with the reason in r->device.trouble and nothing open.
// The device is not entered. *r must stay where it is.
TCU__FN int tcu__runtime_open(tcu__runtime *r, const tc_allocator *host, int ordinal) {
    memset(r, 0, sizeof *r);
    if (!tcu__device_open(&r->device, host, ordinal)) return 0;
    tcu__leave(&r->device);
    tcu__pool_open(&r->pool, &r->device);
    tcu__arena_open(&r->arena, &r->device);
    tcu__staging_open(&r->staging, &r->device);
    return 1;
}

// ---- public

TCDEF int tc_cuda_available(char *why, size_t room) {
    tcu__driver v;
    tcu__trouble t;
    memset(&t, 0, sizeof t);
    int ok = tcu__driver_open(&v, &t);
    if (ok) tcu__driver_close(&v);
    if (why && room) tcu__print(why, room, "%s", t.text);
    return ok;
}

TCDEF int tc_cuda_device_count(void) {
    tcu__driver v;
    tcu__trouble t;
    memset(&t, 0, sizeof t);
    if (!tcu__driver_open(&v, &t)) return 0;
    int count = v.devices;
    tcu__driver_close(&v);
    return count;
}

// Driver and facts of a device for a moment; 0 = the reason is in *t.
TCU__FN int tcu__look(int ordinal, tcu__driver *kept, tcu__facts *f, tcu__trouble *t) {
    tcu__ordinal device = 0;
    tcu__driver v;
    memset(t, 0, sizeof *t);
    if (!tcu__driver_open(&v, t)) return 0;
    int ok = tcu__facts_ask(&v, t, ordinal, &device, f);
    *kept = v;
    kept->library = NULL; // only its version and path are looked at
    tcu__driver_close(&v);
    return ok;
}

TCDEF int tc_cuda_device_name(int ordinal, char *name, size_t room) {
    tcu__driver v;
    tcu__facts f;
    tcu__trouble t;
    int ok = tcu__look(ordinal, &v, &f, &t);
    if (name && room) tcu__print(name, room, "%s", ok ? f.name : "");
    return ok;
}

TCU__FN void tcu__report_device(const tcu__driver *v, const tcu__facts *f, char *text,
                                size_t room) {
    tcu__size_text a, b, c;
    tcu__put(text, room, "driver   CUDA %d.%d, %s\n", v->version / 1000,
             v->version % 1000 / 10, v->path);
    tcu__put(text, room, "device   %s, compute capability %d.%d, %d multiprocessors\n",
             f->name, f->major, f->minor, f->sms);
    tcu__put(text, room, "memory   %s, L2 %s, shared %s per block\n",
             tcu__bytes(f->memory, &a), tcu__bytes((size_t)f->l2_bytes, &b),
             tcu__bytes((size_t)f->shared_block, &c));
    tcu__put(text, room, "has      virtual memory: %s, clusters: %s, tensor maps: %s\n",
             f->virtual_memory ? "yes" : "no", f->clusters ? "yes" : "no",
             f->tensor_maps ? "yes" : "no");
}

TCU__FN void tcu__report_nvrtc(const tcu__facts *f, char *text, size_t room) {
    tcu__nvrtc n;
    tcu__trouble t;
    tcu__arch arch;
    memset(&n, 0, sizeof n);
    memset(&t, 0, sizeof t);
    if (!tcu__nvrtc_open(&n, &t)) {
        tcu__put(text, room, "compiler none: %s\n", t.text);
        return;
    }
    tcu__put(text, room, "compiler NVRTC %d.%d, %s", n.major, n.minor, n.path);
    if (!f)
        tcu__put(text, room, "\n");
    else if (tcu__arch_choose(&n, f->major, f->minor, &arch, &t))
        tcu__put(text, room, ", for %s\n", arch.name);
    else
        tcu__put(text, room, ": %s\n", t.text);
    tcu__nvrtc_close(&n);
}

TCDEF int tc_cuda_report(int ordinal, char *text, size_t room) {
    tcu__driver v;
    tcu__facts f;
    tcu__trouble t;
    int ok = tcu__look(ordinal, &v, &f, &t);
    if (!text || !room) return ok;
    text[0] = 0;
    if (ok)
        tcu__report_device(&v, &f, text, room);
    else
        tcu__put(text, room, "device   none: %s\n", t.text);
    tcu__report_nvrtc(ok ? &f : NULL, text, room);
    return ok;
}
