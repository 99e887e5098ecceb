// The calls that ask about tensors and make them: of the user's memory, of numbers, of
// nothing. Input: public calls. Output: answers, and recorded primitives; only what takes
// the user's memory makes a tensor itself.

// ---- asking ----

static int tc__ask(const char *who, tc_tensor t, tc__meta *m) {
    tc_ctx *c = tc__ctx_of(t);
    if (!c && t.id) tc__fail_lost(who, t, NULL, 0);
    if (!c) return 0;
    tc_status unit = tc__core_of(c)->unit_item;
    int ok = tc__meta_of(c, who, t, m);
    if (!ok) tc__unit_spare(c, unit);
    return ok;
}

TCDEF int tc_rank(tc_tensor t) {
    tc__meta m;
    return tc__ask("tc_rank", t, &m) ? m.rank : -1;
}

TCDEF int64_t tc_dim(tc_tensor t, int dim) {
    tc__api f;
    int64_t d = dim;
    if (!t.id || !tc__api_of(&f, "tc_dim", t, NULL, 0) || !tc__dim_need(&f, &d)) return -1;
    return tc__meta_size(&f.x, (int)d);
}

TCDEF int tc_dim_ge(tc_tensor t, int dim, int64_t n) {
    int64_t size = tc_dim(t, dim);
    return size >= 0 && size >= n;
}

TCDEF int tc_dim_lt(tc_tensor t, int dim, int64_t n) {
    int64_t size = tc_dim(t, dim);
    return size >= 0 && size < n;
}

TCDEF int tc_dim_multiple_of(tc_tensor t, int dim, int64_t n) {
    int64_t size = tc_dim(t, dim);
    return size >= 0 && n > 0 && size % n == 0;
}

TCDEF int64_t tc_numel(tc_tensor t) {
    tc__meta m;
    return tc__ask("tc_numel", t, &m) ? tc__meta_elements(&m) : -1;
}

TCDEF tc_dims tc_shape(tc_tensor t) {
    tc__meta m;
    if (!tc__ask("tc_shape", t, &m)) m.rank = 0;
    return tc__meta_dims(&m);
}

TCDEF tc_dtype tc_dtype_of(tc_tensor t) {
    tc__meta m;
    return tc__ask("tc_dtype_of", t, &m) ? (tc_dtype)m.dtype : TC_BOOL;
}

TCDEF const char *tc_dtype_name(tc_dtype t) {
    return tc__dtype_valid((int)t) ? tc__dtype((int)t)->name : "?";
}

TCDEF size_t tc_dtype_bytes(tc_dtype t) {
    return tc__dtype_valid((int)t) ? tc__dtype((int)t)->bytes : 0;
}

// ---- what is said of sizes ----

// The marks of a tensor in memory, made if it has none; NULL = reported.
static tc__marks *tc__marks_for(const tc__api *f, tc_tensor t, int64_t *dim) {
    tc__tensor *e = tc__is_visit(t) ? tc__known_find(f->c, t.id) : tc__slot_find(f->c, t);
    if (!tc__dim_need(f, dim)) return NULL;
    if (!e) {
        tc__fail(f->c, TC_E_ARG,
                 "%s: a result of a region has the sizes of what it is computed from; mark "
                 "that, or tc_keep it and mark it outside the region",
                 f->who);
        return NULL;
    }
    if (!e->marks) e->marks = TC__NEW(f->c, tc__marks);
    return e->marks;
}

TCDEF tc_status tc_mark_dynamic_at(tc_tensor t, int dim, int64_t min, int64_t max,
                                   const char *file, int line) {
    tc__api f;
    int64_t d = dim;
    if (!tc__api_of(&f, "tc_mark_dynamic", t, file, line)) return tc__api_refused(&f, t);
    tc_status outer = tc__unit_begin(f.c);
    tc__marks *m = tc__marks_for(&f, t, &d);
    int64_t n = m ? tc__meta_size(&f.x, (int)d) : 0, top = max ? max : INT64_MAX;
    if (m && (min < 0 || top < min || n < min || n > top)) {
        tc__fail(
            f.c, TC_E_ARG,
            "tc_mark_dynamic: dimension %lld has size %lld, which is not in [%lld, %lld]",
            (long long)d, (long long)n, (long long)min, (long long)max);
        m = NULL;
    }
    if (m) {
        m->dynamic |= 1u << d, m->fixed &= ~(1u << d);
        m->min[d] = min, m->max[d] = max;
    }
    return tc__unit_end(f.c, outer, m != NULL);
}

TCDEF tc_status tc_mark_static_at(tc_tensor t, int dim, const char *file, int line) {
    tc__api f;
    int64_t d = dim;
    if (!tc__api_of(&f, "tc_mark_static", t, file, line)) return tc__api_refused(&f, t);
    tc_status outer = tc__unit_begin(f.c);
    tc__marks *m = tc__marks_for(&f, t, &d);
    if (m) m->fixed |= 1u << d, m->dynamic &= ~(1u << d);
    return tc__unit_end(f.c, outer, m != NULL);
}

// ---- from memory ----

static int tc__memory_check(const tc__api *f, const void *data, const tc_dims *d,
                            int dtype) {
    if (!tc__dtype_check(f, dtype) || !tc__dims_check(f->c, f->who, d->rank, d->size))
        return 0;
    if (data || !tc__numel(d->rank, d->size)) return 1;
    return tc__fail(f->c, TC_E_NULL, "%s: data is NULL", f->who);
}

// A dense tensor of our own memory, contents undefined; its memory in *data.
static tc_tensor tc__tensor_make(const tc__api *f, const tc_dims *d, int dtype,
                                 void **data) {
    size_t bytes = (size_t)tc__numel(d->rank, d->size) * tc__dtype(dtype)->bytes;
    const char *doing = tc__core_of(f->c)->doing;
    uint32_t layout = tc__layout_intern(f->c, dtype, d->rank, d->size, NULL);
    tc__core_of(f->c)->doing = f->who; // may be out of memory
    tc__storage *s = layout ? tc__storage_new(f->c, bytes) : NULL;
    tc__core_of(f->c)->doing = doing;
    tc_tensor t = tc__tensor_new(f->c, layout, s, 0, f->file, f->line);
    *data = t.id ? s->data : NULL;
    return t;
}

static void tc__bool_normalise(void *data, int64_t n) {
    uint8_t *p = (uint8_t *)data;
    for (int64_t i = 0; i < n; i++) p[i] = p[i] != 0;
}

// A dense tensor on the device of sources, of these elements; NULL = all bytes are 0.
static tc_tensor tc__tensor_there(const tc__api *f, const tc_dims *d, int dtype,
                                  const void *elements) {
    tc__device *to = tc__device_at(f->c, tc__values_of(f->c)->source_device);
    size_t bytes = (size_t)tc__numel(d->rank, d->size) * tc__dtype(dtype)->bytes;
    uint32_t layout = tc__layout_on(f->c, to->number, dtype, d->rank, d->size, NULL);
    tc__storage *s = layout ? tc__storage_on(f->c, to, bytes) : NULL;
    tc_status status = TC_OK;
    if (!s) return tc__null();
    if (bytes && elements) status = to->own.copy_in(to->own.user, s->data, elements, bytes);
    if (bytes && !elements) status = to->own.fill(to->own.user, s->data, 0, bytes);
    if (!status) return tc__tensor_new(f->c, layout, s, 0, f->file, f->line);
    tc__storage_unref(f->c, s);
    tc__fail(f->c, status, "%s, on %s: %s", f->who, to->own.name,
             to->own.why(to->own.user));
    return tc__null();
}

// The same of the user's elements, which need not be 0 and 1 where they are bools.
static tc_tensor tc__tensor_copy_there(const tc__api *f, const void *data, const tc_dims *d,
                                       int dtype) {
    int64_t n = tc__numel(d->rank, d->size);
    if (dtype != TC_BOOL || !n) return tc__tensor_there(f, d, dtype, data);
    void *here = tc__alloc_aligned(f->c, (size_t)n);
    if (!here) return tc__null();
    memcpy(here, data, (size_t)n);
    tc__bool_normalise(here, n);
    tc_tensor t = tc__tensor_there(f, d, dtype, here);
    tc__free_aligned(f->c, here, (size_t)n);
    return t;
}

static tc_tensor tc__tensor_copy(const tc__api *f, const void *data, const tc_dims *d,
                                 int dtype) {
    void *to;
    int64_t n;
    if (!tc__memory_check(f, data, d, dtype)) return tc__null();
    if (tc__values_of(f->c)->source_device) return tc__tensor_copy_there(f, data, d, dtype);
    tc_tensor t = tc__tensor_make(f, d, dtype, &to);
    n = tc__numel(d->rank, d->size);
    if (!t.id || !n) return t;
    memcpy(to, data, (size_t)n * tc__dtype(dtype)->bytes);
    if (dtype == TC_BOOL) tc__bool_normalise(to, n);
    return t;
}

TCDEF tc_tensor tc_from_data_at(tc_ctx *tc, const void *data, tc_dims dims, tc_dtype dtype,
                                const char *file, int line) {
    tc__api f;
    if (!tc__api_open(&f, tc, "tc_from_data", file, line)) return tc__null();
    return tc__tensor_copy(&f, data, &dims, (int)dtype);
}

// The contents of a constant are known: on a device by a copy. 0 = out of memory.
static int tc__constant_keep(const tc__api *f, tc__storage *s, const void *data,
                             int dtype) {
    if (!s->device) return s->constant = s->data, 1;
    void *copy = tc__alloc_aligned(f->c, s->bytes ? s->bytes : 1);
    if (!copy) return 0;
    if (s->bytes) memcpy(copy, data, s->bytes);
    if (dtype == TC_BOOL) tc__bool_normalise(copy, (int64_t)s->bytes);
    s->constant = copy;
    return 1;
}

TCDEF tc_tensor tc_const_at(tc_ctx *tc, const void *data, tc_dims dims, tc_dtype dtype,
                            const char *file, int line) {
    tc__api f;
    if (!tc__api_open(&f, tc, "tc_const", file, line)) return tc__null();
    tc_tensor t = tc__tensor_copy(&f, data, &dims, (int)dtype);
    tc__tensor *e = t.id ? tc__slot_find(tc, t) : NULL;
    if (!e || tc__constant_keep(&f, e->storage, data, (int)dtype)) return t;
    tc__slot_free(tc, tc__handle_slot(t), "never made", file, line);
    return tc__null();
}

// What a tensor is of a tc_const, whose contents are known: all of it or a view, made outside or in the
// open region.
typedef struct tc__constant {
    const void *data; // of element [0, 0, ...]
    tc__layout layout;
} tc__constant;

enum { TC__CONST_VIEWS = 16 }; // of views; what is made by more is not known

// The tensor in memory that t is a view of, on whichever device, t itself if it is one; *n of the steps that
// make the view, last one first. NULL = it is computed.
static const tc__tensor *tc__viewed(tc_ctx *c, tc_tensor t, const tc__step **step, int *n) {
    const tc__visit *v = tc__recorder_of(c)->visit;
    *n = 0;
    while (v && t.id >> TC__SLOT_BITS == v->key && tc__position(t) < v->path.count) {
        const tc__step *s = v->path.at[tc__position(t)];
        int moved = s->op == TC_OP_TO;
        if ((!s->view && !moved) || s->symbolic || *n == TC__CONST_VIEWS) return NULL;
        if (!moved) step[(*n)++] = s;
        uint32_t code = s->in[0];
        t.id = v->first | code;
        if (code & TC__EXTERNAL) t = v->external.at[code & ~TC__EXTERNAL].handle;
    }
    return tc__slot_find(c, t);
}

// 0 = t is no constant.
static int tc__constant_of(tc_ctx *c, tc_tensor t, tc__constant *k) {
    const tc__step *step[TC__CONST_VIEWS];
    int n;
    const tc__tensor *e = tc__viewed(c, t, step, &n);
    if (!e || !e->storage->constant) return 0;
    uint32_t layout = e->layout;
    int64_t offset = e->offset, more;
    for (; n; n--, offset += more)
        if (!tc__view_of(c, (tc__op)step[n - 1]->op, step[n - 1]->attr, layout,
                         &step[n - 1]->meta, &layout, &more) ||
            !layout)
            return 0;
    k->layout = *tc__layout_at(c, layout);
    k->data = (const char *)e->storage->constant +
              offset * (int64_t)tc__dtype(k->layout.dtype)->bytes;
    return 1;
}

// The same for memory that is used where it is.
static int tc__wrap_check(const tc__api *f, const void *data, const tc_dims *d, int dtype) {
    if (!tc__memory_check(f, data, d, dtype)) return 0;
    const tc__dtype_info *info = tc__dtype(dtype);
    if ((uintptr_t)data % info->bytes == 0) return 1;
    return tc__fail(f->c, TC_E_ARG,
                    "%s: the address %p is not aligned to %d bytes of %s; copy it with "
                    "tc_from_data",
                    f->who, data, (int)info->bytes, info->name);
}

static tc_tensor tc__wrap(const tc__api *f, void *data, const tc_dims *d,
                          const int64_t *strides, int dtype) {
    if (!tc__wrap_check(f, data, d, dtype)) return tc__null();
    int64_t bytes = (int64_t)tc__dtype(dtype)->bytes;
    uint32_t layout = tc__layout_intern(f->c, dtype, d->rank, d->size, strides);
    if (!layout) return tc__null();
    const tc__layout *l = tc__layout_at(f->c, layout);
    size_t reach = (size_t)((l->high - l->low + 1) * bytes);
    tc__storage *s = tc__storage_wrap(f->c, (char *)data + l->low * bytes, reach);
    return tc__tensor_new(f->c, layout, s, -l->low, f->file, f->line);
}

TCDEF tc_tensor tc_wrap_at(tc_ctx *tc, void *data, tc_dims dims, tc_dtype dtype,
                           const char *file, int line) {
    tc__api f;
    if (!tc__api_open(&f, tc, "tc_wrap", file, line)) return tc__null();
    return tc__wrap(&f, data, &dims, NULL, (int)dtype);
}

// Every reachable element must lie within a quarter of the address space.
static int tc__strides_check(const tc__api *f, const tc_dims *d, const int64_t *strides) {
    int64_t left = INT64_MAX / 64;
    if (!strides && d->rank)
        return tc__fail(f->c, TC_E_NULL, "%s: strides is NULL", f->who);
    for (int i = 0; i < d->rank; i++) {
        int64_t s = strides[i], n = d->size[i] - 1;
        if (n <= 0 || !s) continue;
        if (s < -left || s > left || n > left / (s < 0 ? -s : s))
            return tc__fail(f->c, TC_E_TOO_BIG,
                            "%s: stride %lld of dimension %d leaves the address space",
                            f->who, (long long)s, i);
        left -= n * (s < 0 ? -s : s);
    }
    return 1;
}

TCDEF tc_tensor tc_wrap_strided_at(tc_ctx *tc, void *data, tc_dims dims,
                                   const int64_t *strides, tc_dtype dtype, const char *file,
                                   int line) {
    tc__api f;
    if (!tc__api_open(&f, tc, "tc_wrap_strided", file, line)) return tc__null();
    if (!tc__memory_check(&f, data, &dims, (int)dtype) ||
        !tc__strides_check(&f, &dims, strides))
        return tc__null();
    return tc__wrap(&f, data, &dims, strides, (int)dtype);
}

// ---- creation ----

// Whether it is 0 in bits: -0.0 is not, nor a subnormal where the host takes those as 0.
static int tc__is_no_bit(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return !bits;
}

static void tc__fill_elements(void *data, int64_t n, double value, int dtype) {
    tc__value v = tc__value_of(value, dtype);
    size_t all = (size_t)n * tc__dtype(dtype)->bytes, done = tc__dtype(dtype)->bytes;
    if (n && tc__is_no_bit(value)) memset(data, 0, all);
    if (!n || tc__is_no_bit(value)) return;
    tc__value_store(data, 0, dtype, v);
    for (; done < all; done *= 2) // what is filled fills as much again
        memcpy((char *)data + done, data, done < all - done ? done : all - done);
}

static tc_tensor tc__filled_now(const tc__api *f, const tc_dims *d, double value,
                                int dtype) {
    void *data;
    tc_tensor t = tc__tensor_make(f, d, dtype, &data);
    if (t.id) tc__fill_elements(data, tc__numel(d->rank, d->size), value, dtype);
    return t;
}

// The same on a device, where a kernel for each value would have to be compiled.
static tc_tensor tc__filled_there(const tc__api *f, const tc_dims *d, double value,
                                  int dtype) {
    int64_t n = tc__numel(d->rank, d->size);
    size_t bytes = (size_t)n * tc__dtype(dtype)->bytes;
    if (tc__is_no_bit(value) || !n) return tc__tensor_there(f, d, dtype, NULL);
    void *here = tc__alloc_aligned(f->c, bytes);
    if (!here) return tc__null();
    tc__fill_elements(here, n, value, dtype);
    tc_tensor t = tc__tensor_there(f, d, dtype, here);
    tc__free_aligned(f->c, here, bytes);
    return t;
}

// Recorded as a constant inside a region; outside memory of its own, which in-place ops may
// write.
static tc_tensor tc__full(const tc__api *f, const tc_dims *d, double value, int dtype) {
    if (!tc__dtype_check(f, dtype) || !tc__dims_check(f->c, f->who, d->rank, d->size))
        return tc__null();
    if (!tc__is_recording(f->c))
        return tc__values_of(f->c)->source_device ? tc__filled_there(f, d, value, dtype)
                                                  : tc__filled_now(f, d, value, dtype);
    int64_t word = tc__value_word(value, dtype);
    return tc__prim_source(f, TC_OP_CONST, dtype, d, &word, 1);
}

TCDEF tc_tensor tc_full_at(tc_ctx *tc, tc_dims dims, double value, tc_dtype dtype,
                           const char *file, int line) {
    tc__api f;
    if (!tc__api_open(&f, tc, "full", file, line)) return tc__null();
    return tc__full(&f, &dims, value, (int)dtype);
}

TCDEF tc_tensor tc_zeros_at(tc_ctx *tc, tc_dims dims, tc_dtype dtype, const char *file,
                            int line) {
    tc__api f;
    if (!tc__api_open(&f, tc, "zeros", file, line)) return tc__null();
    return tc__full(&f, &dims, 0, (int)dtype);
}

TCDEF tc_tensor tc_ones_at(tc_ctx *tc, tc_dims dims, tc_dtype dtype, const char *file,
                           int line) {
    tc__api f;
    if (!tc__api_open(&f, tc, "ones", file, line)) return tc__null();
    return tc__full(&f, &dims, 1, (int)dtype);
}

// In a region what is written first is what there is: the rest of it is 0.
TCDEF tc_tensor tc_empty_at(tc_ctx *tc, tc_dims dims, tc_dtype dtype, const char *file,
                            int line) {
    tc__api f;
    void *data;
    if (!tc__api_open(&f, tc, "empty", file, line)) return tc__null();
    if (tc__is_recording(tc) || tc__values_of(tc)->source_device)
        return tc__full(&f, &dims, 0, (int)dtype);
    if (!tc__dtype_check(&f, (int)dtype) ||
        !tc__dims_check(tc, f.who, dims.rank, dims.size))
        return tc__null();
    return tc__tensor_make(&f, &dims, (int)dtype, &data);
}

TCDEF tc_tensor tc_scalar_at(tc_ctx *tc, double value, tc_dtype dtype, const char *file,
                             int line) {
    tc__api f;
    if (!tc__api_open(&f, tc, "scalar", file, line) || !tc__dtype_check(&f, (int)dtype))
        return tc__null();
    tc_dims none = TC_SCALAR;
    int64_t attr = tc__value_word(value, (int)dtype);
    return tc__prim_source(&f, TC_OP_ARG, (int)dtype, &none, &attr, 1);
}

static tc_tensor tc__full_like(const char *who, tc_tensor t, double value, const char *file,
                               int line) {
    tc__api f;
    if (!tc__api_of(&f, who, t, file, line)) return tc__null();
    tc_dims d = tc__dims_shape(&f);
    return tc__full(&f, &d, value, f.x.dtype);
}

TCDEF tc_tensor tc_full_like_at(tc_tensor t, double value, const char *file, int line) {
    return tc__full_like("full_like", t, value, file, line);
}

TCDEF tc_tensor tc_zeros_like_at(tc_tensor t, const char *file, int line) {
    return tc__full_like("zeros_like", t, 0, file, line);
}

TCDEF tc_tensor tc_ones_like_at(tc_tensor t, const char *file, int line) {
    return tc__full_like("ones_like", t, 1, file, line);
}

// Number of elements of an arange; -1 = reported.
static int64_t tc__arange_count(const tc__api *f, double start, double end, double step) {
    double q = (end - start) / step;
    if (q != q || !(step < 0 || step > 0))
        return tc__fail(f->c, TC_E_ARG,
                        "arange: step must not be 0, and start, end and step no NaN") -
               1;
    if (q <= 0) return 0;
    if (q > 9007199254740992.0)
        return tc__fail(f->c, TC_E_TOO_BIG, "arange: more than 2^53 elements") - 1;
    int64_t n = (int64_t)q;
    return n + ((double)n < q);
}

static int tc__is_whole(double v) {
    return v >= -9007199254740992.0 && v <= 9007199254740992.0 && v == (double)(int64_t)v;
}

TCDEF tc_tensor tc_arange_at(tc_ctx *tc, double start, double end, double step,
                             tc_dtype dtype, const char *file, int line) {
    tc__api f;
    if (!tc__api_open(&f, tc, "arange", file, line) || !tc__dtype_check(&f, (int)dtype))
        return tc__null();
    int64_t n = tc__arange_count(&f, start, end, step);
    if (n < 0 || !tc__api_enter(&f)) return tc__null();
    tc_dims d = tc_dims_of(1, &n);
    if (dtype != TC_I64 || start != 0 || step != 1) tc__api_together(&f);
    tc_tensor t = tc__iota(&f, &d, 0);
    tc_dtype working = tc__is_whole(start) && tc__is_whole(step) ? TC_I64 : TC_F64;
    if (working == TC_F64) t = tc__cast(&f, t, TC_F64);
    if (step != 1) t = tc_mul_s_at(t, step, file, line);
    if (start != 0) t = tc_add_s_at(t, start, file, line);
    return tc__leave(&f, dtype == working ? t : tc__cast(&f, t, (int)dtype));
}

TCDEF tc_tensor tc_eye_at(tc_ctx *tc, int64_t rows, int64_t columns, tc_dtype dtype,
                          const char *file, int line) {
    tc__api f;
    if (!tc__api_open(&f, tc, "eye", file, line) || !tc__dtype_check(&f, (int)dtype))
        return tc__null();
    int64_t size[2];
    size[0] = rows, size[1] = columns;
    if (!tc__dims_check(tc, f.who, 2, size) || !tc__api_enter(&f)) return tc__null();
    tc__api_together(&f);
    tc_dims d = tc_dims_of(2, size);
    tc_tensor same = tc_eq_at(tc__iota(&f, &d, 0), tc__iota(&f, &d, 1), file, line);
    return tc__leave(&f, tc__cast(&f, same, (int)dtype));
}
