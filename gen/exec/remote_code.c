// Code of a device: from the kernels of a program to what the device launches, through the process, the
// disk and the device's compiler, in this order. As on the host (exec/library.c), a kernel is known by
// its whole text. There is no interpreter to fall back to: what does not compile is an error.

#if TC__JIT

typedef struct tc__remote_kernel {
    uint8_t digest[32]; // of its text
    void *kernel[TC__GRIDS];
} tc__remote_kernel;

typedef struct tc__remote_module {
    uint8_t digest[32]; // of the code
    void *module;
} tc__remote_module;

// What a context has loaded on a device: tc__device.code.
typedef struct tc__remote_code {
    tc__map known; // first 8 bytes of a text's digest -> index in kernel
    TC__VEC(tc__remote_kernel) kernel;
    TC__VEC(tc__remote_module) module; // owned
} tc__remote_code;

static tc__remote_code *tc__remote_code_of(tc_ctx *c, tc__device *d) {
    if (d->code) return (tc__remote_code *)d->code;
    tc__remote_code *code = TC__NEW(c, tc__remote_code);
    if (code) tc__map_init(&code->known, c);
    d->code = code;
    return code;
}

static void tc__remote_code_free(tc_ctx *c, tc__device *d) {
    tc__remote_code *code = (tc__remote_code *)d->code;
    if (!code) return;
    for (size_t i = 0; i < code->module.count; i++)
        d->own.unload(d->own.user, code->module.at[i].module);
    TC__VEC_FREE(c, code->module);
    TC__VEC_FREE(c, code->kernel);
    tc__map_free(&code->known);
    tc__free(c, code, sizeof *code);
    d->code = NULL;
}

static tc__remote_kernel *tc__remote_known(tc__remote_code *code, const uint8_t *digest) {
    uint64_t i;
    if (!tc__map_get(&code->known, tc__digest_word(digest), &i)) return NULL;
    return memcmp(code->kernel.at[i].digest, digest, 32) ? NULL : &code->kernel.at[i];
}

// ---- orders ----

// A kernel that is wanted.
typedef struct tc__remote_order {
    tc__order text; // its text, symbol and digest
    const tc__remote_launch *launch;
    int unit; // that compiles it, -1 = the process or the disk has it
} tc__remote_order;

typedef struct tc__remote_job {
    tc_ctx *c;
    tc__device *device;
    const tc__language *language;
    tc__remote_code *code;
    tc__cache *cache; // NULL = none
    TC__VEC(tc__remote_order) order;
    int units;
    tc_device_text *text;
    tc__text *source; // of each unit
} tc__remote_job;

// Adds the kernel of a launch, unless it is there. 0 = reported.
static int tc__remote_order_add(tc__remote_job *j, tc__remote_launch *l) {
    tc__remote_order o;
    for (l->order = 0; l->order < j->order.count; l->order++)
        if (tc__groups_same(j->order.at[l->order].text.group, l->group)) return 1;
    memset(&o, 0, sizeof o);
    o.launch = l, o.unit = -1;
    o.text.group = l->group;
    tc__text_init(&o.text.text, j->c);
    int ok = tc__print_kernel(&o.text.text, l->group, j->language->dialect,
                              tc__order_stand_in) &&
             !o.text.text.failed;
    if (ok) tc__order_name(&o.text, 0, 0);
    l->order = 0;
    while (ok && l->order < j->order.count &&
           memcmp(j->order.at[l->order].text.digest, o.text.digest, 32))
        l->order++;
    if (ok && l->order < j->order.count) return tc__text_free(&o.text.text), 1;
    ok = ok && TC__PUSH(j->c, j->order, o);
    if (!ok) tc__text_free(&o.text.text);
    return ok;
}

// Finds the kernels of an order in a module, for all to use. 0 = reported.
static int tc__remote_take(tc__remote_job *j, const tc__remote_order *o, void *module) {
    const tc_device *d = &j->device->own;
    tc__remote_kernel k;
    char symbol[64];
    memset(&k, 0, sizeof k);
    memcpy(k.digest, o->text.digest, 32);
    for (int i = 0; i < o->launch->grids.count; i++) {
        snprintf(symbol, sizeof symbol, i ? "%s_%d" : "%s", o->text.symbol, i);
        tc_status s = d->find(d->user, module, symbol,
                              (uint32_t)o->launch->grids.at[i].threads, &k.kernel[i]);
        if (s) return tc__remote_failed(j->c, j->device, "a kernel", s);
    }
    return TC__PUSH(j->c, j->code->kernel, k) &&
           tc__map_set(&j->code->known, tc__digest_word(k.digest),
                       j->code->kernel.count - 1);
}

// The module of these bytes, loaded once; NULL = reported.
static void *tc__remote_load(tc__remote_job *j, const uint8_t *digest, const char *name,
                             const void *at, size_t size) {
    tc__remote_module m;
    for (size_t i = 0; i < j->code->module.count; i++)
        if (!memcmp(j->code->module.at[i].digest, digest, 32))
            return j->code->module.at[i].module;
    if (!at) return NULL;
    memcpy(m.digest, digest, 32);
    m.module = NULL;
    tc_status s = j->device->own.load(j->device->own.user, name, at, size, &m.module);
    if (s) return tc__remote_failed(j->c, j->device, "code", s), (void *)NULL;
    if (TC__PUSH(j->c, j->code->module, m)) return m.module;
    j->device->own.unload(j->device->own.user, m.module);
    return NULL;
}

// ---- disk ----

// The text is in the key by its digest: it is long, and read once.
static int tc__remote_key(const tc__remote_job *j, const tc__remote_order *o,
                          const char *identity, tc__text *t, tc__cache_key *key) {
    tc__text_init(t, j->c);
    tc__put(t, "tcompile %s %016llx\n%s\n", TC_VERSION, (unsigned long long)TC__BUILD_ID,
            identity);
    tc__put_raw(t, o->text.digest, sizeof o->text.digest);
    if (!t->failed) *key = tc__cache_key_of(t->at, t->size);
    return !t->failed;
}

// 1 = the disk had it, made by and for this identity. What it has and the device does not load counts as
// not there.
static int tc__remote_find(tc__remote_job *j, const tc__remote_order *o,
                           const char *identity) {
    tc__error_mark before = tc__error_now(j->c);
    tc__cache_key key;
    tc__text text;
    tc__blob blob;
    uint8_t digest[32];
    void *module = NULL;
    memset(&blob, 0, sizeof blob);
    int hit = tc__remote_key(j, o, identity, &text, &key) &&
              tc__cache_find(j->cache, &key, digest, &blob);
    if (hit) module = tc__remote_load(j, digest, o->text.symbol, NULL, 0);
    if (hit && !module && !blob.at) hit = tc__cache_object(j->cache, digest, &blob);
    if (hit && !module)
        module = tc__remote_load(j, digest, o->text.symbol, blob.at, blob.size);
    hit = hit && module && tc__remote_take(j, o, module);
    if (!hit) tc__error_restore(j->c, before);
    tc__blob_free(j->c, &blob);
    tc__text_free(&text);
    return hit;
}

static int tc__remote_from_disk(tc__remote_job *j, const tc__remote_order *o) {
    if (!j->cache) return 0;
    int hit = tc__remote_find(j, o, j->device->own.identity);
    (void)tc__cache_count(j->cache, hit);
    *(hit ? &j->c->stats.disk_hits : &j->c->stats.disk_misses) += 1;
    tc__log(j->c, TC__LOG_CACHE, "%s: %s", o->text.symbol,
            hit ? "from disk" : "not on disk");
    return hit;
}

// All that was to be compiled, as portable code that a device of the kind has left. 0 = some is not there.
static int tc__remote_from_other(tc__remote_job *j) {
    const char *identity = j->device->own.portable;
    int all = j->cache && identity;
    for (size_t i = 0; all && i < j->order.count; i++) {
        tc__remote_order *o = &j->order.at[i];
        if (o->unit < 0) continue;
        all = tc__remote_find(j, o, identity);
        if (!all) break;
        o->unit = -1;
        j->c->stats.disk_hits++;
        tc__log(j->c, TC__LOG_CACHE, "%s: from disk, made on another device",
                o->text.symbol);
    }
    return all;
}

// What was compiled of a unit goes to the disk.
static void tc__remote_publish(tc__remote_job *j, int unit, const char *identity,
                               const uint8_t *digest, const void *code, size_t bytes) {
    tc__cache_key key[TC__UNIT_KERNELS * 2];
    tc__text text[TC__UNIT_KERNELS * 2];
    int n = 0, ok = 1;
    if (!j->cache) return;
    tc__error_mark before =
        tc__error_now(j->c); // without memory it is not kept, and that is all
    for (size_t i = 0; i < j->order.count; i++) {
        if (j->order.at[i].unit != unit || n == TC__UNIT_KERNELS * 2) continue;
        ok &= tc__remote_key(j, &j->order.at[i], identity, &text[n], &key[n]);
        n++;
    }
    if (ok && n) tc__cache_put_all(j->cache, key, n, digest, code, bytes);
    for (int i = 0; i < n; i++) tc__text_free(&text[i]);
    tc__error_restore(j->c, before);
}

// ---- the device's compiler ----

// A product takes the compiler long, and a user's op may not compile: they are alone.
static int tc__remote_is_alone(const tc__remote_order *o) {
    return o->text.group->kind == TC__CONTRACTION || tc__is_custom(o->text.group);
}

// Deals the open orders to units: as many as there are processors to compile them, of at most a dozen
// kernels. A compile of its own costs as much as half a dozen small kernels more.
static void tc__remote_deal(tc__remote_job *j) {
    int open = 0, most, light = -1, in_light = 0;
    for (size_t i = 0; i < j->order.count; i++)
        open += j->order.at[i].unit == -2 && !tc__remote_is_alone(&j->order.at[i]);
    most = (open - 1) / (tc__threads(j->c) > 0 ? tc__threads(j->c) : 1) + 1;
    if (most > TC__UNIT_KERNELS * 2) most = TC__UNIT_KERNELS * 2;
    for (size_t i = 0; i < j->order.count; i++) {
        tc__remote_order *o = &j->order.at[i];
        if (o->unit != -2) continue;
        if (tc__remote_is_alone(o)) {
            o->unit = j->units++;
            continue;
        }
        if (light < 0 || in_light == most) light = j->units++, in_light = 0;
        o->unit = light, in_light++;
    }
}

static int tc__remote_unit_print(tc__remote_job *j, int unit) {
    const tc__group *groups[TC__UNIT_KERNELS * 2];
    tc__text *t = &j->source[unit];
    int n = 0;
    for (size_t i = 0; i < j->order.count; i++)
        if (j->order.at[i].unit == unit) groups[n++] = j->order.at[i].text.group;
    if (!j->language->prelude(t, groups, n)) return 0;
    for (size_t i = 0; i < j->order.count; i++) {
        const tc__text *k = &j->order.at[i].text.text;
        if (j->order.at[i].unit == unit) tc__put_raw(t, k->at, k->size);
        if (j->order.at[i].unit == unit) j->text[unit].name = j->order.at[i].text.symbol;
    }
    j->text[unit].native = tc__is_custom(groups[0]);
    j->text[unit].text = t->at;
    tc__log_text(j->c, TC__LOG_OUTPUT_UNIT, t->at);
    return !t->failed;
}

static int tc__remote_unit_load(tc__remote_job *j, int unit) {
    const tc_device_text *t = &j->text[unit];
    uint8_t digest[32];
    tc__blake2s(digest, NULL, 0, t->code, t->bytes);
    void *module = tc__remote_load(j, digest, t->name, t->code, t->bytes);
    if (!module) return 0;
    for (size_t i = 0; i < j->order.count; i++)
        if (j->order.at[i].unit == unit && !tc__remote_take(j, &j->order.at[i], module))
            return 0;
    tc__remote_publish(j, unit, j->device->own.identity, digest, t->code, t->bytes);
    if (t->portable && j->device->own.portable) {
        tc__blake2s(digest, NULL, 0, t->portable, t->portable_bytes);
        tc__remote_publish(j, unit, j->device->own.portable, digest, t->portable,
                           t->portable_bytes);
    }
    j->c->stats.compiles++;
    return 1;
}

// The compiler failed, with s. 1 = there is other code for everything, 0 = reported.
static int tc__remote_uncompiled(tc__remote_job *j, tc_status s) {
    tc__error_mark before = tc__error_now(j->c);
    (void)tc__remote_failed(j->c, j->device, "kernels could not be compiled", s);
    if (!tc__remote_from_other(j)) return 0;
    tc__error_restore(j->c, before);
    return 1;
}

static int tc__remote_build(tc__remote_job *j) {
    tc_ctx *c = j->c;
    const tc_device *d = &j->device->own;
    uint64_t start = tc__now_ns();
    int ok = 1;
    for (int i = 0; i < j->units; i++) tc__text_init(&j->source[i], c);
    for (int i = 0; ok && i < j->units; i++) ok = tc__remote_unit_print(j, i);
    c->stats.emit_ns += tc__now_ns() - start;
    tc__note_span(c, TC__SPAN_TEXT, start, NULL);
    start = tc__now_ns();
    tc_status s = ok ? d->build(d->user, j->text, j->units) : TC_OK;
    c->stats.cc_ns += tc__now_ns() - start;
    tc__note_span(c, TC__SPAN_COMPILER, start, NULL);
    start = tc__now_ns();
    if (s) ok = tc__remote_uncompiled(j, s);
    for (int i = 0; ok && !s && i < j->units; i++) ok = tc__remote_unit_load(j, i);
    c->stats.load_ns += tc__now_ns() - start;
    tc__note_span(c, TC__SPAN_LOAD, start, NULL);
    d->drop(d->user, j->text, j->units);
    for (int i = 0; i < j->units; i++) tc__text_free(&j->source[i]);
    return ok;
}

static int tc__remote_compile_open(tc__remote_job *j) {
    tc_ctx *c = j->c;
    tc__remote_deal(j);
    if (!j->units) return 1;
    j->text = TC__NEW_ARRAY(c, tc_device_text, j->units);
    j->source = TC__NEW_ARRAY(c, tc__text, j->units);
    int ok = j->text && j->source && tc__remote_build(j);
    if (j->text) TC__FREE_ARRAY(c, j->text, j->units);
    if (j->source) TC__FREE_ARRAY(c, j->source, j->units);
    return ok;
}

// What process and disk have; the others are to be compiled.
static void tc__remote_look_up(tc__remote_job *j) {
    uint64_t start = tc__now_ns();
    for (size_t i = 0; i < j->order.count; i++) {
        tc__remote_order *o = &j->order.at[i];
        int known = tc__remote_known(j->code, o->text.digest) != NULL;
        j->c->stats.memory_hits += (uint64_t)known;
        o->unit = known || tc__remote_from_disk(j, o) ? -1 : -2;
    }
    j->c->stats.load_ns += tc__now_ns() - start;
}

static int tc__remote_settle(tc__remote_job *j, tc__remote *r) {
    for (uint32_t i = 0; i < tc__remote_most(r); i++) {
        tc__remote_launch *l = tc__remote_wanted(r, i);
        if (!l) continue;
        const tc__remote_kernel *k =
            tc__remote_known(j->code, j->order.at[l->order].text.digest);
        if (!k) return tc__fail(j->c, TC_E_INTERNAL, "a kernel was compiled and is lost");
        for (int g = 0; g < l->grids.count; g++) {
            l->kernel[g] = k->kernel[g];
            if (i < r->launches) r->list[l->first + (uint32_t)g].kernel = k->kernel[g];
        }
    }
    for (size_t i = 0; i < r->listed.count; i++)
        r->list[r->listed.at[i].at].kernel =
            tc__turn_launch(r, &r->order.step.at[r->listed.at[i].step])->kernel[0];
    for (uint32_t i = 0; i < r->parts; i++) r->part[i].ran = 0;
    return 1;
}

// The disk cache, NULL = none.
static tc__cache *tc__remote_cache(tc_ctx *c) {
    tc__desk *k = &c->kernels->desk;
    if (k->library->disk && !k->cache) k->cache = tc__cache_open(c, k->library->cache_dir);
    return k->cache;
}

static int tc__remote_job_open(tc__remote_job *j, tc__remote *r) {
    memset(j, 0, sizeof *j);
    j->c = r->ctx, j->device = r->device;
    j->language = r->device->own.language;
    j->code = tc__remote_code_of(r->ctx, r->device);
    j->cache = tc__remote_cache(r->ctx);
    return j->code != NULL;
}

static void tc__remote_job_close(tc__remote_job *j) {
    for (size_t i = 0; i < j->order.count; i++) tc__text_free(&j->order.at[i].text.text);
    TC__VEC_FREE(j->c, j->order);
}

// ---- ops of the user's ----

// The code of a user's op, before that of others: 1 = it is there, 0 = it does not compile, -1 =
// reported.
static int tc__remote_custom_try(tc__remote *r, tc__remote_launch *l) {
    tc__remote_job j;
    tc_ctx *c = r->ctx;
    tc__error_mark before = tc__error_now(c);
    tc_status outer = tc__unit_begin(c);
    int ok = tc__remote_job_open(&j, r) && tc__remote_order_add(&j, l);
    if (ok) tc__remote_look_up(&j);
    ok = ok && tc__remote_compile_open(&j);
    c->stats.kernels_made += (uint64_t)(ok && j.order.at[0].unit >= 0);
    tc__remote_job_close(&j);
    tc_status status = tc__unit_end(c, outer, ok);
    if (ok || status == TC_E_NOMEM) return ok ? 1 : -1;
    tc__error_restore(c, before);
    return 0;
}

// Its cuda_source does not compile: the host computes it from now on, in all programs. 0 = out of memory.
static int tc__remote_custom_failed(tc__remote *r, tc__custom *o) {
    const tc_device *d = &r->device->own;
    const char *why = d->why(d->user);
    o->trouble = tc__string_copy(r->ctx, why && *why ? why : "the compiler says nothing");
    if (o->trouble && (o->op.run || o->op.c_source))
        tc__warn(r->ctx,
                 "custom op \"%s\": its cuda_source does not compile for %s, so the host "
                 "computes it, with copies there and back: %s",
                 o->op.name, d->name, o->trouble);
    return o->trouble != NULL;
}

// Compiles the user's ops. 1 = done, 0 = some are the host's from now on: the program's launches are
// others, -1 = reported.
static int tc__remote_customs(tc__remote *r) {
    int same = 1;
    for (uint32_t i = 0; i < r->launches; i++) {
        tc__remote_launch *l = &r->launch[i];
        if (l->host || !tc__is_custom(l->group)) continue;
        int64_t number = l->group->body.node.at[0]->attr[TC__CALL_WORD];
        tc__custom *o = tc__values_of(r->ctx)->customs->at.at[number];
        int code = o->trouble ? 0 : tc__remote_custom_try(r, l);
        if (code < 0 || (!code && !o->trouble && !tc__remote_custom_failed(r, o)))
            return -1;
        same &= code;
    }
    return same;
}

// As tc__job_show: what is launched for a list of tensors is text of several kernels.
static void tc__remote_show(const tc__remote_job *j, const tc__remote *r,
                            const tc__graph *graph) {
    uint32_t shown = 0;
    if (!tc__log_on(j->c, TC__LOG_OUTPUT_CODE)) return;
    for (uint32_t i = 0; i < tc__remote_most(r); i++) {
        const tc__remote_launch *l = tc__remote_wanted(r, i);
        if (!l) continue;
        const tc__order *o = &j->order.at[l->order].text;
        tc__log_kernel(j->c, graph, l->group, i, o->symbol,
                       l->order < shown ? NULL : o->text.at);
        if (l->order >= shown) shown = l->order + 1;
    }
}

// Gives the program's launches their code. 0 = reported.
static int tc__remote_compile(tc__remote *r, const char *name, const tc__graph *graph) {
    tc__remote_job j;
    uint64_t start = tc__now_ns();
    int ok = tc__remote_job_open(&j, r);
    for (uint32_t i = 0; ok && i < tc__remote_most(r); i++)
        if (tc__remote_wanted(r, i)) ok = tc__remote_order_add(&j, tc__remote_wanted(r, i));
    r->ctx->stats.emit_ns += tc__now_ns() - start;
    if (ok) tc__remote_show(&j, r, graph);
    if (ok) tc__remote_look_up(&j);
    size_t open = 0;
    for (size_t i = 0; i < j.order.count; i++) open += j.order.at[i].unit == -2;
    if (ok)
        tc__log(r->ctx, TC__LOG_CACHE, "region \"%s\": %u kernels, %u to compile for %s",
                name, (unsigned)r->launches, (unsigned)open, r->device->own.name);
    ok = ok && tc__remote_compile_open(&j) && tc__remote_settle(&j, r);
    for (size_t i = 0; ok && i < j.order.count; i++)
        r->ctx->stats.kernels_made += j.order.at[i].unit >= 0;
    tc__remote_job_close(&j);
    r->ready = ok;
    return ok;
}

#else

static void tc__remote_code_free(tc_ctx *c, tc__device *d) { (void)c, (void)d; }

static int tc__remote_customs(tc__remote *r) {
    (void)r;
    return 1;
}

static int tc__remote_compile(tc__remote *r, const char *name, const tc__graph *graph) {
    (void)name, (void)graph;
    return tc__fail(r->ctx, TC_E_UNSUPPORTED, "this build compiles nothing");
}

#endif
