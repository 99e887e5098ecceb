// Compiled kernels: from the text of a kernel to a function, through the process, the disk and the
// compiler, in this order. A kernel is known by its whole text, so a change of anything that matters
// is another kernel. Kernels that are nowhere are compiled together, one translation unit per half dozen,
// and units at the same time: more of them cost a dlopen each at a warm start.
// Whatever fails, the kernel runs in the interpreter and one line is logged.

#if TC__JIT

// One kernel of this process.
typedef struct tc__compiled {
    uint8_t digest[32]; // of its key
    tc__kernel_fn run;  // NULL = interpret, do not try again
} tc__compiled;

struct tc__kernels {
    tc__cc *cc; // NULL = no compiler; found when first needed
    tc__cache *cache;
    tc__modules modules;
    tc__map known; // first 8 bytes of the digest -> index in compiled
    TC__VEC(tc__compiled) compiled;
    const char *compiler, *cache_dir; // from the config; the caller's, copied
    int opened;                       // the compiler was looked for
    int disk;
    int warned;
};

enum {
    TC__UNIT_KERNELS = 6, // kernels of one translation unit
    TC__SYMBOL_DIGITS = 16
};

// A kernel on its way to a function.
typedef struct tc__kernel_order {
    tc__launch *launch;
    tc__text text; // with its final symbol
    char symbol[40];
    tc__text key_text;
    tc__cache_key key; // of key_text
} tc__kernel_order;

static const char *tc__string_copy(tc_ctx *c, const char *s) {
    if (!s) return NULL;
    char *copy = (char *)tc__alloc(c, strlen(s) + 1);
    if (copy) memcpy(copy, s, strlen(s) + 1);
    return copy;
}

static void tc__string_free(tc_ctx *c, const char *s) {
    if (s) tc__free(c, (void *)(uintptr_t)s, strlen(s) + 1);
}

static const unsigned tc__emit_cpu[] = {0, TC__CPU_AVX2 | TC__CPU_FMA,
                                        TC__CPU_AVX2 | TC__CPU_FMA | TC__CPU_AVX512F};

// The most that a CPU with these features can run; the one place that decides it.
static tc__emit tc__emit_of(unsigned cpu) {
    int t = TC__EMIT_AVX512;
    while ((cpu & tc__emit_cpu[t]) != tc__emit_cpu[t]) t--;
    return (tc__emit)t;
}

static int tc__kernels_open(tc_ctx *c, const tc_config *config) {
    tc__kernels *k = TC__NEW(c, tc__kernels);
    if (!k) return 0;
    c->kernels = k;
    k->compiler = tc__string_copy(c, config->cc);
    k->cache_dir = tc__string_copy(c, config->cache_dir);
    k->disk = !config->no_disk_cache;
    c->target = config->baseline ? TC__EMIT_PLAIN : tc__emit_of(tc__cpu_of(c));
    tc__modules_init(&k->modules, c);
    tc__map_init(&k->known, c);
    return 1;
}

static void tc__kernels_close(tc_ctx *c) {
    tc__kernels *k = c->kernels;
    if (!k) return;
    if (k->cc) tc__cc_close(k->cc);
    tc__modules_close(&k->modules);
    if (k->cache) tc__cache_close(k->cache);
    tc__map_free(&k->known);
    TC__VEC_FREE(c, k->compiled);
    tc__string_free(c, k->compiler);
    tc__string_free(c, k->cache_dir);
    tc__free(c, k, sizeof *k);
    c->kernels = NULL;
}

// Finds compiler and cache; 0 = no compiler at all.
static int tc__kernels_ready(tc_ctx *c) {
    tc__kernels *k = c->kernels;
    tc__cc_options o;
    uint64_t start = tc__now_ns();
    if (k->opened) return k->cc != NULL && tc__cc_identity(k->cc) != NULL;
    k->opened = 1;
    memset(&o, 0, sizeof o);
    o.compiler = k->compiler;
    o.cpu = tc__emit_cpu[c->target];
    if (k->disk) k->cache = tc__cache_open(c, k->cache_dir);
    k->cc = tc__cc_open(c, &o, k->cache);
    int ok = k->cc && tc__cc_identity(k->cc);
    c->stats.load_ns += tc__now_ns() - start;
    tc__note_span(c, TC__SPAN_LOAD, start, NULL);
    return ok;
}

// ---- keys ----

static int tc__order_open(tc_ctx *c, tc__kernel_order *o, tc__launch *l) {
    static const char stand_in[] = "tc_kernel_0000000000000000";
    char hex[TC__SYMBOL_DIGITS + 1];
    memset(o, 0, sizeof *o);
    o->launch = l;
    tc__text_init(&o->text, c);
    tc__text_init(&o->key_text, c);
    if (!tc__print_kernel(&o->text, l->group, &tc__dialect_c, stand_in)) return 0;
    tc__put(&o->key_text, "tcompile %s %016llx\n%s\ntarget %d lanes %d\n", TC_VERSION,
            (unsigned long long)TC__BUILD_ID, tc__cc_identity(c->kernels->cc),
            (int)c->target, tc__group_lanes(l->group));
    tc__put_raw(&o->key_text, o->text.at, o->text.size);
    if (o->text.failed || o->key_text.failed) return 0;
    o->key = tc__cache_key_of(o->key_text.at, o->key_text.size);
    tc__hex(hex, o->key.digest, TC__SYMBOL_DIGITS / 2);
    memcpy(o->symbol, stand_in, sizeof stand_in);
    memcpy(o->symbol + sizeof stand_in - 1 - TC__SYMBOL_DIGITS, hex, TC__SYMBOL_DIGITS);
    for (char *at = o->text.at; (at = strstr(at, stand_in)) != NULL;)
        memcpy(at, o->symbol, sizeof stand_in - 1);
    return 1;
}

static void tc__order_close(tc__kernel_order *o) {
    tc__text_free(&o->text);
    tc__text_free(&o->key_text);
}

static uint64_t tc__digest_word(const uint8_t *digest) {
    uint64_t w;
    memcpy(&w, digest, sizeof w);
    return w;
}

static tc__compiled *tc__kernels_known(tc__kernels *k, const uint8_t *digest) {
    uint64_t i;
    if (!tc__map_get(&k->known, tc__digest_word(digest), &i)) return NULL;
    return memcmp(k->compiled.at[i].digest, digest, 32) ? NULL : &k->compiled.at[i];
}

static void tc__kernels_add(tc_ctx *c, tc__kernel_order *o, tc__kernel_fn run) {
    tc__kernels *k = c->kernels;
    tc__compiled e;
    memcpy(e.digest, o->key.digest, 32);
    e.run = run;
    o->launch->run = run;
    if (run)
        c->stats.kernels_made++;
    else
        c->stats.fallbacks++;
    if (TC__PUSH(c, k->compiled, e))
        tc__map_set(&k->known, tc__digest_word(o->key.digest), k->compiled.count - 1);
}

// ---- process, disk ----

static tc__kernel_fn tc__kernel_of(tc__module *m, const char *symbol) {
    return m ? (tc__kernel_fn)tc__module_symbol(m, symbol) : NULL;
}

// 1 = the launch has its code, or is known to be interpreted.
static int tc__order_find(tc_ctx *c, tc__kernel_order *o) {
    tc__kernels *k = c->kernels;
    tc__compiled *e = tc__kernels_known(k, o->key.digest);
    if (e) {
        o->launch->run = e->run;
        c->stats.memory_hits++;
        tc__log(c, TC__LOG_CACHE, "%s: in this process", o->symbol);
        tc__log_text(c, TC__LOG_OUTPUT_CODE, o->text.at);
        return 1;
    }
    if (!k->cache) return 0;
    uint64_t start = tc__now_ns();
    tc__module *m = tc__module_get(&k->modules, k->cache, &o->key);
    tc__kernel_fn run = tc__kernel_of(m, o->symbol);
    c->stats.load_ns += tc__now_ns() - start;
    tc__note_span(c, TC__SPAN_LOAD, start, NULL);
    tc__log(c, TC__LOG_CACHE, "%s: %s", o->symbol, run ? "from disk" : "not on disk");
    c->stats.disk_hits += run != NULL;
    c->stats.disk_misses += run == NULL;
    if (!run) return 0;
    tc__kernels_add(c, o, run);
    tc__log_text(c, TC__LOG_OUTPUT_CODE, o->text.at);
    return 1;
}

// ---- compiler ----

static int tc__unit_print(tc__text *out, tc__kernel_order *const *o, size_t n) {
    const tc__group *groups[TC__UNIT_KERNELS];
    for (size_t i = 0; i < n; i++) groups[i] = o[i]->launch->group;
    if (!tc__print_prelude(out, groups, (int)n, out->ctx->target)) return 0;
    for (size_t i = 0; i < n; i++) tc__put_raw(out, o[i]->text.at, o[i]->text.size);
    return !out->failed;
}

static void tc__kernels_warn(tc_ctx *c, const char *what, const char *why) {
    tc__kernels *k = c->kernels;
    if (k->warned++) return;
    tc__warn(c, "%s; kernels run in the interpreter, with the same results: %s", what,
             why ? why : "?");
}

static void tc__unit_publish(tc__kernels *k, tc__kernel_order *const *o, size_t n,
                             const tc__module *m, const tc__blob *so) {
    tc__cache_key keys[TC__UNIT_KERNELS];
    for (size_t i = 0; i < n; i++) keys[i] = o[i]->key;
    if (k->cache) tc__cache_put_all(k->cache, keys, (int)n, m->digest, so->at, so->size);
}

// The object of one unit becomes code; kernels that are not in it are interpreted.
static void tc__unit_load(tc_ctx *c, tc__kernel_order *const *o, size_t n,
                          const tc__blob *so) {
    tc__kernels *k = c->kernels;
    uint64_t start = tc__now_ns();
    tc__module *m = so->size ? tc__module_load(&k->modules, so->at, so->size) : NULL;
    int whole = m != NULL;
    for (size_t i = 0; i < n; i++) {
        tc__kernel_fn run = tc__kernel_of(m, o[i]->symbol);
        whole &= run != NULL;
        tc__kernels_add(c, o[i], run);
    }
    if (whole) tc__unit_publish(k, o, n, m, so);
    if (so->size && !whole) {
        tc__kernels_warn(c, "compiled kernels could not be loaded", NULL);
        tc__cc_distrust(k->cc);
    }
    c->stats.load_ns += tc__now_ns() - start;
    tc__note_span(c, TC__SPAN_LOAD, start, NULL);
}

static int tc__order_lanes(const tc__kernel_order *o) {
    return tc__group_lanes(o->launch->group);
}

// Kernels of the unit that begins at o: half a dozen, with vectors of one size.
static size_t tc__unit_count(tc__kernel_order *const *o, size_t n) {
    size_t count = 1;
    while (count < n && count < TC__UNIT_KERNELS &&
           tc__order_lanes(o[count]) == tc__order_lanes(o[0]))
        count++;
    return count;
}

// Wide vectors before narrow ones, each in their order.
static void tc__orders_sort(tc__kernel_order **o, size_t n) {
    for (size_t i = 1; i < n; i++) {
        tc__kernel_order *one = o[i];
        size_t k = i;
        for (; k && tc__order_lanes(o[k - 1]) < tc__order_lanes(one); k--) o[k] = o[k - 1];
        o[k] = one;
    }
}

static void tc__units_build(tc_ctx *c, tc__kernel_order *const *o, size_t n) {
    enum { MOST = 16 };
    tc__kernels *k = c->kernels;
    tc__text text[MOST];
    tc__blob so[MOST];
    const char *source[MOST];
    size_t size[MOST], units = 0, from[MOST + 1];
    memset(so, 0, sizeof so);
    uint64_t printing = tc__now_ns();
    size_t i = 0;
    for (size_t count; i < n && units < MOST; i += count, units++) {
        count = tc__unit_count(o + i, n - i);
        tc__text_init(&text[units], c);
        if (!tc__unit_print(&text[units], o + i, count)) tc__text_clear(&text[units]);
        tc__log_text(c, TC__LOG_OUTPUT_CODE, text[units].at);
        source[units] = text[units].at, size[units] = text[units].size, from[units] = i;
    }
    from[units] = i;
    uint64_t start = tc__now_ns();
    c->stats.emit_ns += start - printing;
    tc__note_span(c, TC__SPAN_TEXT, printing, NULL);
    int ok = tc__cc_build_all(k->cc, source, size, (int)units, so);
    c->stats.cc_ns += tc__now_ns() - start;
    tc__note_span(c, TC__SPAN_COMPILER, start, NULL);
    c->stats.compiles += units;
    if (!ok) tc__kernels_warn(c, "the compiler failed", k->cc->why.at);
    for (size_t u = 0; u < units; u++) {
        tc__unit_load(c, o + from[u], from[u + 1] - from[u], &so[u]);
        tc__blob_free(c, &so[u]);
        tc__text_free(&text[u]);
    }
}

// Gives every launch of the program its compiled code where that is to be had.
static void tc__program_compile(tc__program *p, const char *name) {
    tc_ctx *c = p->ctx;
    size_t n = p->launch.count, missing = 0;
    tc__kernel_order *order = TC__NEW_ARRAY(c, tc__kernel_order, n);
    tc__kernel_order **want = TC__NEW_ARRAY(c, tc__kernel_order *, n);
    int ready = order && want && tc__kernels_ready(c);
    if (order && want && !ready) {
        const tc__cc *cc = c->kernels->cc;
        tc__kernels_warn(c, "no compiler can be used", cc ? cc->why.at : NULL);
        c->stats.fallbacks += n;
    }
    uint64_t start = tc__now_ns(), loading = c->stats.load_ns;
    for (size_t i = 0; ready && i < n; i++) {
        int printed = tc__order_open(c, &order[i], &p->launch.at[i]);
        if (printed && !tc__order_find(c, &order[i])) want[missing++] = &order[i];
    }
    c->stats.emit_ns += tc__now_ns() - start - (c->stats.load_ns - loading);
    tc__note_span(c, TC__SPAN_TEXT, start, NULL);
    tc__log(c, TC__LOG_CACHE, "region \"%s\": %u kernels, %u to compile", name, (unsigned)n,
            (unsigned)missing);
    // Equal kernels of one program are compiled once.
    size_t distinct = 0;
    for (size_t i = 0; i < missing; i++) {
        size_t k = 0;
        while (k < distinct && memcmp(want[k]->key.digest, want[i]->key.digest, 32)) k++;
        if (k < distinct) continue;
        want[distinct++] = want[i];
    }
    tc__orders_sort(want, distinct);
    if (distinct) tc__units_build(c, want, distinct);
    for (size_t i = 0; ready && i < n; i++) {
        const tc__compiled *e = tc__kernels_known(c->kernels, order[i].key.digest);
        if (e) p->launch.at[i].run = e->run;
        tc__order_close(&order[i]);
    }
    tc__free(c, order, (n ? n : 1) * sizeof *order);
    tc__free(c, want, (n ? n : 1) * sizeof *want);
    p->compiled = 1;
}

// The kernels with vectors of `lanes` elements, as one translation unit; `groups` has room.
static int tc__program_print_unit(tc__program *p, tc__text *out, const tc__group **groups,
                                  int lanes) {
    int n = 0, ok;
    for (size_t i = 0; i < p->launch.count; i++)
        if (tc__group_lanes(p->launch.at[i].group) == lanes)
            groups[n++] = p->launch.at[i].group;
    if (!n) return 1;
    if (out->size) tc__put(out, "\n// ==== the next file ====\n\n");
    ok = tc__print_prelude(out, groups, n, p->ctx->target);
    for (size_t i = 0; ok && i < p->launch.count; i++) {
        char symbol[32];
        if (tc__group_lanes(p->launch.at[i].group) != lanes) continue;
        snprintf(symbol, sizeof symbol, "kernel_%u", (unsigned)i);
        ok = tc__print_kernel(out, p->launch.at[i].group, &tc__dialect_c, symbol);
    }
    return ok;
}

// The C text of all kernels of the program, one translation unit for each size of vectors.
TC__UNUSED static int tc__program_print(tc__program *p, tc__text *out) {
    tc_ctx *c = p->ctx;
    size_t n = p->launch.count;
    const tc__group **groups = TC__NEW_ARRAY(c, const tc__group *, n);
    int ok = groups && tc__program_print_unit(p, out, groups, 2 * TC__VECTOR) &&
             tc__program_print_unit(p, out, groups, TC__VECTOR);
    tc__free(c, groups, (n ? n : 1) * sizeof *groups);
    return ok && !out->failed;
}

#else // TC__JIT

static int tc__kernels_open(tc_ctx *c, const tc_config *config) {
    (void)c, (void)config;
    return 1;
}

static void tc__kernels_close(tc_ctx *c) { (void)c; }

static void tc__program_compile(tc__program *p, const char *name) { (void)p, (void)name; }

TC__UNUSED static int tc__program_print(tc__program *p, tc__text *out) {
    (void)p, (void)out;
    return 0;
}

#endif
