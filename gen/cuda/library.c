// The driver's library: found, loaded, its entry points looked up. Nothing is linked, so a
// program runs without CUDA too; what is missing becomes one sentence that says what was
// looked for, where, and what to do. TC_CUDA_LIBRARY names another file.

enum { TCU__OLDEST_DRIVER = 12000 }; // CUDA 12.0: graph nodes with kernels, cluster launch

typedef struct tcu__driver {
    tcu__driver_calls call;
    void *library; // NULL = not open
    int version;   // 13000: CUDA 13.0
    int devices;
    char path[TCU__PATH]; // as it was found
} tcu__driver;

// The only writable global of this header: the process that initialised CUDA. The driver
// does not work in a child of that process, and calling it there may hang.
// Nothing else can tell a child that never opened a device. Libraries are opened again for
// each device (they stay loaded), so there is no other state to share.
static volatile long tcu__owner;

#if TCU__POSIX
// Never unloaded: the driver and NVRTC have threads and exit handlers of their own.
TCU__FN void *tcu__library_open(const char *path, int for_all) {
    return dlopen(path, RTLD_NOW | RTLD_NODELETE | (for_all ? RTLD_GLOBAL : RTLD_LOCAL));
}

TCU__FN void tcu__library_close(void *library) {
    if (library) dlclose(library);
}

TCU__FN void *tcu__library_symbol(void *library, const char *name) {
    return dlsym(library, name);
}

TCU__FN const char *tcu__library_why(void) {
    const char *s = dlerror();
    return s ? s : "no reason given";
}

// The file that a symbol came from, "" where nobody knows.
TCU__FN void tcu__library_path(void *symbol, char *path, size_t room) {
    Dl_info info;
    path[0] = 0;
    if (dladdr(symbol, &info) && info.dli_fname)
        tcu__print(path, room, "%s", info.dli_fname);
}
#else
TCU__FN void *tcu__library_open(const char *path, int for_all) {
    (void)path, (void)for_all;
    return NULL;
}
TCU__FN void tcu__library_close(void *library) { (void)library; }
TCU__FN void *tcu__library_symbol(void *library, const char *name) {
    (void)library, (void)name;
    return NULL;
}
TCU__FN const char *tcu__library_why(void) { return "no dlopen on this system yet"; }
TCU__FN void tcu__library_path(void *symbol, char *path, size_t room) {
    (void)symbol, (void)room;
    path[0] = 0;
}
#endif

// Fills a struct of pointers. NULL, or the first required name that is not there.
TCU__FN const char *tcu__symbols_find(void *library, const tcu__symbol *row, size_t count,
                                      void *calls) {
    for (size_t i = 0; i < count; i++) {
        void *symbol = tcu__library_symbol(library, row[i].name);
        if (!symbol && row[i].need == TCU__REQUIRED) return row[i].name;
        memcpy((char *)calls + row[i].offset, &symbol, sizeof symbol);
    }
    return NULL;
}

TCU__FN void tcu__driver_close(tcu__driver *v) {
    tcu__library_close(v->library);
    memset(v, 0, sizeof *v);
}

TCU__FN int tcu__driver_load(tcu__driver *v, tcu__trouble *t) {
    static const char *const usual[] = {"libcuda.so.1", "libcuda.so",
                                        "/usr/lib/wsl/lib/libcuda.so.1"};
    const char *given = tcu__env("TC_CUDA_LIBRARY");
    size_t count = given ? 1 : TCU__COUNT(usual);
    char first[200] = "";
    for (size_t i = 0; i < count && !v->library; i++) {
        tcu__print(v->path, sizeof v->path, "%s", given ? given : usual[i]);
        v->library = tcu__library_open(v->path, 0);
        if (!v->library && !i) tcu__print(first, sizeof first, "%s", tcu__library_why());
    }
    if (v->library) return 1;
    if (given)
        return tcu__fail(
            t, TC_E_BACKEND,
            "no CUDA driver: TC_CUDA_LIBRARY=%.200s cannot be loaded (%s); correct "
            "it, or unset it",
            given, first);
    return tcu__fail(
        t, TC_E_BACKEND,
        "no CUDA driver: libcuda.so.1 is not in the loader's path (%s); install "
        "NVIDIA's driver, or set TC_CUDA_LIBRARY to the file",
        first);
}

TCU__FN int tcu__driver_symbols_find(tcu__driver *v, tcu__trouble *t) {
    const char *missing = tcu__symbols_find(v->library, tcu__driver_symbols,
                                            TCU__COUNT(tcu__driver_symbols), &v->call);
    void *symbol = tcu__library_symbol(v->library, "cuInit");
    if (missing)
        return tcu__fail(
            t, TC_E_VERSION,
            "the CUDA driver %s has no %s: it is older than CUDA 12.0; update it", v->path,
            missing);
    tcu__library_path(symbol, v->path, sizeof v->path);
    return 1;
}

// Once per process: cuInit. A driver says no here when it is a stub or sees no device.
TCU__FN int tcu__driver_init(tcu__driver *v, tcu__trouble *t) {
    long owner = TCU__LOAD(&tcu__owner), self = tcu__process();
    if (owner && owner != self)
        return tcu__fail(
            t, TC_E_BACKEND,
            "CUDA was initialised before this process was forked, and does not "
            "work in the child; exec a program, or fork before CUDA is used");
    if (!TCU__CALL(&v->call, t, "the start of CUDA", cuDriverGetVersion, &v->version) ||
        (v->version >= TCU__OLDEST_DRIVER &&
         !TCU__CALL(&v->call, t, "the start of CUDA", cuInit, 0)))
        return 0;
    if (v->version < TCU__OLDEST_DRIVER)
        return tcu__fail(
            t, TC_E_VERSION,
            "the CUDA driver %s supports CUDA %d.%d, and 12.0 is needed; update it",
            v->path, v->version / 1000, v->version % 1000 / 10);
    TCU__STORE(&tcu__owner, self);
    if (!TCU__CALL(&v->call, t, "the number of devices", cuDeviceGetCount, &v->devices))
        return 0;
    return v->devices > 0 ||
           tcu__fail(t, TC_E_BACKEND,
                     "the CUDA driver %s works, but sees no device; see nvidia-smi and "
                     "CUDA_VISIBLE_DEVICES",
                     v->path);
}

// Loads and initialises the driver: 1, or 0 with the reason in *t and nothing left open.
TCU__FN int tcu__driver_open(tcu__driver *v, tcu__trouble *t) {
    memset(v, 0, sizeof *v);
    if (tcu__driver_load(v, t) && tcu__driver_symbols_find(v, t) && tcu__driver_init(v, t))
        return 1;
    tcu__driver_close(v);
    return 0;
}
