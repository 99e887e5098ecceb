// Loaded code of a device: objects of its compiler or of the disk, each loaded once by its bytes. The
// host is a device here: its objects are shared libraries. Whatever fails, there is no module, with a
// status and a line of the log.

#if TC__JIT

// Code that is loaded. Equal bytes are loaded once.
typedef struct tc__module {
    uint8_t digest[32];
    void *handle; // of the device; never NULL
    int users;    // unloaded when the last one lets go
} tc__module;

// What loads it, as in tc_device.
typedef struct tc__loader {
    void *user;
    tc_status (*load)(void *user, const char *name, const void *code, size_t bytes,
                      void **module);
    void (*unload)(void *user, void *module);
    tc_status (*find)(void *user, void *module, const char *symbol, uint32_t threads,
                      void **kernel);
} tc__loader;

typedef struct tc__modules {
    tc_ctx *ctx;
    tc__loader of;
    TC__VEC(tc__module *) all; // owned
    uint64_t serial;           // loads of the host so far
    tc_status status; // of the last failure; TC_E_NOMEM = it may be gone the next time
} tc__modules;

// ---- the host ----

static tc_status tc__object_load(void *user, const char *name, const void *code,
                                 size_t bytes, void **module) {
    tc__modules *s = (tc__modules *)user;
    errno = 0;
    *module = tc__dl_load("tcompile", &s->serial, (const uint8_t *)code, bytes);
    if (*module) return TC_OK;
    int error = errno;
    const char *why = dlerror();
    tc__log(s->ctx, TC__LOG_CACHE, "%s: an object does not load: %s", name,
            why ? why : "unknown");
    int passes = tc__is_passing(error) || (why && tc__is_passing_text(why));
    return passes ? TC_E_NOMEM : TC_E_COMPILER;
}

static void tc__object_unload(void *user, void *module) {
    (void)user;
    (void)dlclose(module);
}

static tc_status tc__object_find(void *user, void *module, const char *symbol,
                                 uint32_t threads, void **kernel) {
    tc__dl_function f = tc__dl_symbol(module, symbol);
    (void)user, (void)threads;
    memcpy(kernel, &f, sizeof f); // C has no cast between the two
    return f ? TC_OK : TC_E_COMPILER;
}

// ---- all devices ----

// Of the host.
TC__UNUSED static void tc__modules_init(tc__modules *s, tc_ctx *c) {
    memset(s, 0, sizeof *s);
    s->ctx = c;
    s->of.user = s, s->of.load = tc__object_load, s->of.unload = tc__object_unload;
    s->of.find = tc__object_find;
}

static tc__module *tc__module_known(const tc__modules *s, const uint8_t digest[32]) {
    size_t i;
    for (i = 0; i < s->all.count; i++) {
        if (!memcmp(s->all.at[i]->digest, digest, 32))
            return s->all.at[i]->users++, s->all.at[i];
    }
    return NULL;
}

// Loads bytes that nobody has loaded yet; `name` is for people.
static tc__module *tc__module_add(tc__modules *s, const uint8_t digest[32],
                                  const char *name, const void *at, size_t size) {
    tc__module *m = TC__VEC_RESERVE(s->ctx, s->all, s->all.count + 1)
                        ? TC__NEW(s->ctx, tc__module)
                        : NULL;
    s->status = TC_E_NOMEM;
    if (!m) return NULL;
    s->status = s->of.load(s->of.user, name, at, size, &m->handle);
    if (s->status) return tc__free(s->ctx, m, sizeof *m), (tc__module *)NULL;
    memcpy(m->digest, digest, 32);
    m->users = 1;
    s->all.at[s->all.count++] = m;
    return m;
}

// A module of exactly these bytes; NULL if they do not load: s->status. The caller lets
// go of it with tc__module_release.
TC__UNUSED static tc__module *tc__module_load(tc__modules *s, const char *name,
                                              const void *at, size_t size) {
    uint8_t digest[32];
    tc__module *m;
    tc__blake2s(digest, NULL, 0, at, size);
    m = tc__module_known(s, digest);
    return m ? m : tc__module_add(s, digest, name, at, size);
}

// The module put on disk under this key, or NULL. A module that is loaded already is not
// read again: of several kernels in one object only the first costs more than its small
// entry.
TC__UNUSED static tc__module *tc__module_get(tc__modules *s, tc__cache *h, const char *name,
                                             const tc__cache_key *key) {
    uint8_t digest[32];
    tc__blob code;
    tc__module *m = NULL;
    int hit = tc__cache_find(h, key, digest, &code);
    if (hit) m = tc__module_known(s, digest);
    if (hit && !m && !code.at) hit = tc__cache_object(h, digest, &code);
    if (hit && !m) m = tc__module_add(s, digest, name, code.at, code.size);
    tc__blob_free(h->ctx, &code);
    (void)tc__cache_count(h, m != NULL);
    return m;
}

// The kernel of this name, valid while the module is; where there is none *kernel is NULL.
TC__UNUSED static tc_status tc__module_find(const tc__modules *s, const tc__module *m,
                                            const char *name, uint32_t threads,
                                            void **kernel) {
    *kernel = NULL;
    return s->of.find(s->of.user, m->handle, name, threads, kernel);
}

TC__UNUSED static void tc__module_release(tc__modules *s, tc__module *m) {
    size_t i = 0;
    if (!m || --m->users) return;
    while (s->all.at[i] != m) i++;
    s->all.at[i] = s->all.at[--s->all.count];
    s->of.unload(s->of.user, m->handle);
    tc__free(s->ctx, m, sizeof *m);
}

// Unloads everything, in use or not.
TC__UNUSED static void tc__modules_close(tc__modules *s) {
    while (s->all.count) {
        s->all.at[0]->users = 1;
        tc__module_release(s, s->all.at[0]);
    }
    TC__VEC_FREE(s->ctx, s->all);
}

#endif // TC__JIT
