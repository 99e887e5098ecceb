// Devices as users see them: registering one, moving tensors, waiting.
//
// A device is one context's, so no unit is locked. A context of tc_open_shared knows which
// of its parent's tensors are on one, to refuse them by name. Entries of functions hold the
// default device; the short cut of a call, which does not ask for it, is off after a
// change.

// ---- registering ----

static void tc__device_close(tc_ctx *c, tc__device *d) {
    tc__device_code_free(d);
    tc__marks_free(c, d);
    if (d->own.close) d->own.close(d->own.user);
    tc__string_free(c, d->own.name);
    tc__string_free(c, d->own.identity);
    tc__string_free(c, d->own.portable);
    tc__free(c, d, sizeof *d);
}

// When tensors and programs are gone.
static void tc__devices_close(tc_ctx *c) {
    tc__values *v = tc__values_of(c);
    while (v->device.count) tc__device_close(c, v->device.at[--v->device.count]);
    TC__VEC_FREE(c, v->device);
}

// The number of the device of this name, -1 = there is none.
static int tc__device_find(tc_ctx *c, const char *name) {
    return tc__device_named(c, name, strlen(name));
}

// The same for a call that needs it; -1 = reported.
static int tc__device_need(tc_ctx *c, const char *who, const char *name) {
    if (!name) return tc__fail(c, TC_E_NULL, "%s: the name of the device is NULL", who) - 1;
    int number = tc__device_find(c, name);
    if (number >= 0) return number;
    if (tc__values_of(c)->parent) {
        tc__fail(c, TC_E_DEVICE,
                 "%s: there is no device \"%.40s\" in a context of tc_open_shared; a "
                 "thread that uses a device needs a context of tc_open",
                 who, name);
        return -1;
    }
    tc__fail(c, TC_E_DEVICE,
             "%s: there is no device \"%.40s\" in this context; open it first, with "
             "tc_cuda_open of tcompile_cuda.h or tc_register_device",
             who, name);
    return -1;
}

static int tc__device_lacks(const tc_device *d) {
    return !d->name || !d->language || !d->identity || !d->why || !d->take || !d->give ||
           !d->arena || !d->take_host || !d->give_host || !d->copy_in || !d->copy_out ||
           !d->copy_on || !d->fill || !d->sync || !d->build || !d->drop || !d->load ||
           !d->unload || !d->find || !d->run || !d->forget;
}

static int tc__device_check(tc_ctx *c, const tc_device *d) {
    const char *who = "tc_register_device";
    if (!d || tc__device_lacks(d))
        return tc__fail(c, TC_E_NULL, "%s: a name or a function is missing", who);
    if (!TC__JIT)
        return tc__fail(c, TC_E_UNSUPPORTED, "%s: this build compiles nothing", who);
    if (tc__values_of(c)->parent)
        return tc__fail(
            c, TC_E_STATE,
            "%s: a context of tc_open_shared has no devices; a thread that uses "
            "one needs a context of tc_open",
            who);
    if (tc__device_find(c, d->name) >= 0 ||
        tc__values_of(c)->device.count == TC__DEVICES_MOST - 1)
        return tc__fail(c, TC_E_ARG, "%s: there is a device \"%.40s\" already", who,
                        d->name);
    return 1;
}

static int tc__device_add(tc_ctx *c, const tc_device *from) {
    tc__values *v = tc__values_of(c);
    tc__device *d = TC__NEW(c, tc__device);
    if (!d) return 0;
    d->own = *from, d->own.close = NULL;
    d->own.name = tc__string_copy(c, from->name);
    d->own.identity = tc__string_copy(c, from->identity);
    d->own.portable = from->portable ? tc__string_copy(c, from->portable) : NULL;
    d->number = (int)v->device.count + 1, d->runner = &tc__dispatch_runner;
    if (!d->own.name || !d->own.identity || (from->portable && !d->own.portable) ||
        !tc__language_add(c, from->language) || !TC__PUSH(c, v->device, d))
        return tc__device_close(c, d), 0;
    d->own.close = from->close;
    return 1;
}

TCDEF tc_status tc_register_device(tc_ctx *c, const tc_device *device) {
    if (!c) return tc__fail_no_context("tc_register_device", NULL, 0);
    tc_status refused = tc__outside(c, "tc_register_device");
    if (refused) return refused;
    tc_status outer = tc__unit_begin(c);
    return tc__unit_end(c, outer, tc__device_check(c, device) && tc__device_add(c, device));
}

TCDEF const tc_device *tc_registered_device(const tc_ctx *tc, const char *name) {
    const tc__values *v = (const tc__values *)(const void *)tc;
    for (size_t i = 0; tc && name && i < v->device.count; i++)
        if (!strcmp(v->device.at[i]->own.name, name)) return &v->device.at[i]->own;
    return NULL;
}

TCDEF tc_status tc_fail(tc_ctx *tc, tc_status status, const char *text) {
    if (!tc) return tc__fail_no_context("tc_fail", NULL, 0);
    if (status >= 0) return TC_E_NULL;
    tc_status outer = tc__unit_begin(tc);
    tc__fail(tc, status, "%s", text ? text : "?");
    return tc__unit_end(tc, outer, 0);
}

// ---- where things are made ----

TCDEF tc_status tc_set_default_device(tc_ctx *c, const char *device) {
    const char *who = "tc_set_default_device";
    if (!c) return tc__fail_no_context("tc_set_default_device", NULL, 0);
    tc_status refused = tc__outside(c, who);
    if (refused) return refused;
    tc_status outer = tc__unit_begin(c);
    int number = tc__device_need(c, who, device ? device : "cpu");
    if (number >= 0 && number != tc__values_of(c)->default_device) {
        tc__values_of(c)->default_device = number;
        tc__fns_look_again(c);
    }
    return tc__unit_end(c, outer, number >= 0);
}

TCDEF const char *tc_default_device(const tc_ctx *tc) {
    const tc__values *v = (const tc__values *)(const void *)tc;
    if (!tc) return NULL;
    return v->default_device ? v->device.at[v->default_device - 1]->own.name : "cpu";
}

// ---- moving ----

// The elements of a tensor on a device, row-major, to memory of the host. 0 = reported.
static int tc__device_read(tc_ctx *c, const char *who, const tc__tensor *m, void *dst) {
    tc__tensor dense = *m;
    const tc__layout l =
        *tc__layout_at(c, m->layout); // a copy makes layouts, which move others
    const tc__device *d = tc__device_at(c, l.device);
    size_t bytes = (size_t)l.numel * tc__dtype(l.dtype)->bytes;
    tc_tensor copy = tc__null();
    if (!bytes) return 1;
    if (!l.contiguous) {
        copy = tc__dense_copy(c, m);
        const tc__tensor *made = copy.id ? tc__slot_find(c, copy) : NULL;
        if (!made) return 0;
        dense = *made;
    }
    const void *from = tc__tensor_data(&dense, l.dtype);
    tc_status s = d->own.copy_out(d->own.user, dst, from, bytes);
    if (copy.id) tc__slot_free(c, tc__handle_slot(copy), "a copy", NULL, 0);
    if (s) return tc__device_failed(c, &d->own, who, s);
    return tc__devices_check(c);
}

static tc_tensor tc__to_host(const tc__api *f, const tc__tensor *m) {
    const tc__layout l = *tc__layout_at(f->c, m->layout);
    tc_dims d = tc_dims_of(l.rank, l.dims);
    tc__tensor from = *m;
    void *to;
    from.storage->refs++; // a new tensor may move others
    tc_tensor t = tc__tensor_make(f, &d, l.dtype, &to);
    int ok = t.id && tc__device_read(f->c, f->who, &from, to);
    tc__tensor *made = ok ? tc__slot_find(f->c, t) : NULL;
    if (made && from.storage->constant) made->storage->constant = to;
    tc__storage_unref(f->c, from.storage);
    if (ok || !t.id) return t;
    tc__slot_free(f->c, tc__handle_slot(t), "never filled", NULL, 0);
    return tc__null();
}

// What tc_const knows of the elements stays known.
static int tc__to_device_constant(tc_ctx *c, tc__storage *to, const void *elements) {
    void *copy = tc__alloc_aligned(c, to->bytes ? to->bytes : 1);
    if (!copy) return 0;
    if (to->bytes) memcpy(copy, elements, to->bytes);
    to->constant = copy;
    return 1;
}

static tc_tensor tc__to_device(const tc__api *f, const tc__tensor *m, int number) {
    tc_ctx *c = f->c;
    tc__layout l = *tc__layout_at(c, m->layout);
    tc__device *d = tc__device_at(c, number);
    size_t bytes = (size_t)l.numel * tc__dtype(l.dtype)->bytes;
    uint8_t *dense = NULL;
    const void *from = tc__tensor_data(m, l.dtype);
    uint32_t layout = tc__layout_on(c, number, l.dtype, l.rank, l.dims, NULL);
    tc__storage *s = layout ? tc__storage_on(c, d, bytes) : NULL;
    if (!s) return tc__null();
    int ok = 1;
    if (!l.contiguous && bytes) {
        dense = (uint8_t *)tc__alloc_aligned(c, bytes);
        if (dense) tc__copy_from_strided(&l, m->storage->data, m->offset, dense);
        from = dense, ok = dense != NULL;
    }
    tc_status status =
        ok && bytes ? d->own.copy_in(d->own.user, s->data, from, bytes) : TC_OK;
    if (status) ok = tc__device_failed(c, &d->own, f->who, status);
    if (ok && m->storage->constant) ok = tc__to_device_constant(c, s, from);
    if (dense) tc__free_aligned(c, dense, bytes);
    if (ok) return tc__tensor_new(c, layout, s, 0, f->file, f->line);
    tc__storage_unref(c, s);
    return tc__null();
}

// A second handle of the same memory.
static tc_tensor tc__to_here(const tc__api *f, const tc__tensor *m) {
    tc__tensor t = *m;
    t.storage->refs++;
    return tc__tensor_new(f->c, t.layout, t.storage, t.offset, f->file, f->line);
}

// Between two devices, from a dense tensor.
static tc_tensor tc__to_other(const tc__api *f, const tc__tensor *m, int number) {
    tc_ctx *c = f->c;
    const tc__layout l = *tc__layout_at(c, m->layout);
    size_t bytes = (size_t)l.numel * tc__dtype(l.dtype)->bytes;
    const void *from = tc__tensor_data(m, l.dtype);
    uint32_t layout = tc__layout_on(c, number, l.dtype, l.rank, l.dims, NULL);
    tc__device *d = tc__device_at(c, number);
    tc__storage *s = layout ? tc__storage_on(c, d, bytes) : NULL;
    int ok = s && tc__copy_across(c, f->who, d, s->data, tc__device_at(c, l.device), from,
                                  bytes);
    if (ok) return tc__tensor_new(c, layout, s, 0, f->file, f->line);
    tc__storage_unref(c, s);
    return tc__null();
}

// The same by way of the host, which what tc_const knows takes.
static tc_tensor tc__to_by_host(const tc__api *f, const tc__tensor *given, int number) {
    tc__tensor kept = *given;
    tc_tensor here = tc__to_host(f, &kept), there = tc__null();
    const tc__tensor *t = here.id ? tc__slot_find(f->c, here) : NULL;
    if (t) there = tc__to_device(f, t, number);
    if (here.id) tc__slot_free(f->c, tc__handle_slot(here), "a copy", NULL, 0);
    return there;
}

// The same of any tensor.
static tc_tensor tc__to_another(const tc__api *f, const tc__tensor *given, int number) {
    tc__tensor dense = *given;
    tc_tensor copy = tc__null();
    if (given->storage->constant) return tc__to_by_host(f, given, number);
    if (!tc__layout_at(f->c, given->layout)->contiguous) {
        copy = tc__dense_copy(f->c, given);
        const tc__tensor *made = copy.id ? tc__slot_find(f->c, copy) : NULL;
        if (!made) return copy;
        dense = *made;
    }
    tc_tensor there = tc__to_other(f, &dense, number);
    if (copy.id) tc__slot_free(f->c, tc__handle_slot(copy), "a copy", NULL, 0);
    return there;
}

// In a region it is recorded; where the tensor is there already, as a view of it.
static tc_tensor tc__to_recorded(const tc__api *f, tc_tensor t, int number) {
    int64_t dims[TC_MAX_RANK], device = number;
    if (tc__device_number(f->c, t) != number)
        return tc__op_n(TC_OP_TO, &t, 1, &device, 1, f->file, f->line);
    for (int i = 0; i < f->x.rank; i++) dims[i] = f->x.dims[i];
    return tc__op_n(TC_OP_RESHAPE, &t, 1, dims, (uint32_t)f->x.rank, f->file, f->line);
}

// Outside.
static tc_tensor tc__to_now(const tc__api *f, tc_tensor t, int number) {
    const tc__tensor *m = tc__tensor_need(f->c, f->who, t);
    if (!m || !tc__is_told(f->c, f->who, t)) return tc__null();
    int here = tc__layout_at(f->c, m->layout)->device;
    if (here == number) return tc__to_here(f, m);
    if (!number) return tc__to_host(f, m);
    return here ? tc__to_another(f, m, number) : tc__to_device(f, m, number);
}

TCDEF tc_tensor tc_to_at(tc_tensor t, const char *device, const char *file, int line) {
    tc__api f;
    tc__site site;
    tc_tensor to = tc__null();
    site.file = file, site.line = line;
    if (!tc__api_of(&f, "to", t, file, line)) return tc__null();
    int number = tc__device_need(f.c, f.who, device);
    if (number < 0) return tc__null();
    if (tc__is_recording(f.c)) return tc__to_recorded(&f, t, number);
    tc_status outer = tc__unit_begin(f.c);
    if (tc__region_value(f.c, f.who, &t, site)) to = tc__to_now(&f, t, number);
    (void)tc__unit_end(f.c, outer, to.id != 0);
    return to;
}

TCDEF const char *tc_device_of(tc_tensor t) {
    tc_ctx *c = tc__ctx_of(t);
    if (!c) return NULL;
    int number = tc__device_number(c, t);
    return number >= 0 ? tc__device_name(c, number) : NULL;
}

TCDEF tc_status tc_sync_at(tc_ctx *c, const char *file, int line) {
    tc__site site;
    if (!c) return tc__fail_no_context("tc_sync", file, line);
    site.file = file, site.line = line;
    tc__site_set(c, site);
    if (!tc__is_ours(c, "tc_sync")) return tc__not_ours(c);
    tc__values *v = tc__values_of(c);
    tc_status outer = tc__unit_begin(c);
    int ok = 1;
    for (size_t i = 0; i < v->device.count; i++) {
        const tc__device *d = v->device.at[i];
        tc_status s = d->own.sync(d->own.user);
        if (s) ok = tc__device_failed(c, &d->own, "tc_sync", s);
    }
    ok = ok && tc__devices_check(c);
    return tc__unit_end(c, outer, ok);
}

TCDEF tc_tensor tc_wrap_device_at(tc_ctx *tc, const char *device, void *address,
                                  tc_dims dims, tc_dtype dtype, const char *file,
                                  int line) {
    tc__api f;
    if (!tc__api_open(&f, tc, "tc_wrap_device", file, line)) return tc__null();
    int number = tc__device_need(tc, f.who, device);
    if (number < 0) return tc__null();
    if (!number) return tc__wrap(&f, address, &dims, NULL, (int)dtype);
    if (!tc__wrap_check(&f, address, &dims, (int)dtype)) return tc__null();
    uint32_t layout = tc__layout_on(tc, number, (int)dtype, dims.rank, dims.size, NULL);
    if (!layout) return tc__null();
    size_t bytes = (size_t)tc__numel(dims.rank, dims.size) * tc__dtype((int)dtype)->bytes;
    tc__storage *s = tc__storage_wrap(tc, address, bytes);
    if (s) s->device = &tc__device_at(tc, number)->own;
    return tc__tensor_new(tc, layout, s, 0, file, line);
}
