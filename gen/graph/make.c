// What public calls share, and the calls that ask about, free and make tensors. Input:
// public calls. Output: recorded primitives; only what takes the user's memory makes a
// tensor itself. Sizes are checked here in the user's terms, so messages name the call the
// user wrote.
//
// One idea: a call works in a tc__api: its name, site, context and first operand. A call
// made of several primitives opens a scope there when it runs eagerly, so its intermediate
// results die with it; tc__leave lets the result out. As long as it works, errors of what it
// calls bear its name.

typedef struct tc__api {
    tc_ctx *c;
    const char *who;  // name of the call, static
    const char *file; // site of the caller
    int line;
    size_t scoped; // depth of a scope of our own; 0 = there is none
    int named;     // errors bear `who` until tc__leave
    int together;  // its primitives run together then
    int half;      // the dtype that a result in f32 is rounded to; 0 = none
    int wide;      // products of halves give f32
    tc__meta x;    // of the first operand; its sizes are constants
} tc__api;

// ---- frames ----

static int tc__api_open(tc__api *f, tc_ctx *c, const char *who, const char *file,
                        int line) {
    tc__site s;
    f->c = c, f->who = who, f->file = file, f->line = line;
    f->scoped = 0, f->named = 0, f->together = 0, f->half = 0, f->wide = 0, f->x.rank = 0,
    f->x.dtype = 0;
    if (!c || tc__is_calling(c, who)) return 0;
    if (tc__core_of(c)->doing) f->who = tc__core_of(c)->doing;
    tc__values_of(c)->source_device = tc__values_of(c)->default_device;
    tc__values_of(c)->source_is_like = 0;
    s.file = file, s.line = line;
    tc__site_set(c, s);
    return 1;
}

// What the call makes of nothing is on the device of t, which has so many dimensions. In a region a number
// of the host decides nothing.
static void tc__sources_like(tc_ctx *c, tc_tensor t, int rank) {
    int device = tc__device_number(c, t);
    if (device < 0) return;
    tc__values_of(c)->source_device = device;
    tc__values_of(c)->source_is_like = device || rank;
}

// A frame about `t`; 0 = null, dead, or the context is calling, reported.
static int tc__api_of(tc__api *f, const char *who, tc_tensor t, const char *file,
                      int line) {
    tc_ctx *c = f->c = tc__ctx_of(t);
    if (!c) return tc__fail_lost(who, t, file, line), 0;
    if (!tc__api_open(f, c, who, file, line) || !tc__meta_of(f->c, who, t, &f->x)) return 0;
    if (tc__values_of(f->c)->device.count) tc__sources_like(f->c, t, f->x.rank);
    return 1;
}

// A frame inside f, about another tensor.
static int tc__api_about(const tc__api *f, tc__api *inner, tc_tensor t) {
    return tc__api_of(inner, f->who, t, f->file, f->line);
}

static int tc__is_recording(tc_ctx *c) { return tc__recorder_of(c)->visit != NULL; }

static int tc__api_scope(tc__api *f) {
    tc__values *v = tc__values_of(f->c);
    if (!tc__is_recording(f->c) && TC__PUSH(f->c, v->scope, v->scoped.count))
        f->scoped = v->scope.count;
    return 1;
}

// From now on the call is made of several primitives; every path from here ends in tc__leave.
static int tc__api_enter(tc__api *f) {
    tc__core *core = tc__core_of(f->c);
    f->named = !core->doing;
    core->doing = f->who;
    return tc__api_scope(f);
}

// Outside regions the primitives of this call, which has one result and writes nothing, run together.
static void tc__api_together(tc__api *f) {
    tc__site s;
    s.file = f->file, s.line = f->line;
    if (f->scoped && f->named)
        f->together = tc__recorder_of(f->c)->hooks->together(f->c, f->who, s);
}

static tc_tensor tc__api_apart(tc__api *f, tc_tensor result) {
    tc__site s;
    s.file = f->file, s.line = f->line, f->together = 0;
    return tc__recorder_of(f->c)->hooks->apart(f->c, result, s);
}

static int tc__begin(tc__api *f, const char *who, tc_tensor t, const char *file, int line) {
    return tc__api_of(f, who, t, file, line) && tc__api_enter(f);
}

static int tc__begin_together(tc__api *f, const char *who, tc_tensor t, const char *file,
                              int line) {
    if (!tc__begin(f, who, t, file, line)) return 0;
    tc__api_together(f);
    return 1;
}

// Moves a tensor of the innermost scope to the scope around it; others stay.
static void tc__scope_release(tc_ctx *c, tc_tensor t) {
    tc__values *v = tc__values_of(c);
    tc__tensor *e = t.id && !tc__is_visit(t) ? tc__slot_find(c, t) : NULL;
    if (e && e->scope == (uint32_t)v->scope.count) tc__tensor_move(c, e, e->scope - 1);
}

// Closes the innermost scope; the first `n` of `keep` live on in the one around it.
static void tc__scope_end(tc_ctx *c, const tc_tensor *keep, int n, const char *file,
                          int line) {
    tc__values *v = tc__values_of(c);
    for (int i = 0; i < n; i++) tc__scope_release(c, keep[i]);
    tc__scope_close(c, file, line);
    for (int i = 0; i < n; i++) {
        tc__tensor *e =
            keep[i].id && !tc__is_visit(keep[i]) ? tc__slot_find(c, keep[i]) : NULL;
        if (!e || !e->scope || e->scope != (uint32_t)v->scope.count) continue;
        if (!TC__PUSH(c, v->scoped, tc__handle_slot(keep[i]))) tc__tensor_move(c, e, 0);
    }
}

// Closes the frame's scope, if it has one; the first `n` of `keep` live on in the one
// around it.
static void tc__leave_many(tc__api *f, const tc_tensor *keep, int n) {
    tc__values *v = tc__values_of(f->c);
    if (f->together) (void)tc__api_apart(f, tc__null());
    if (f->named) tc__core_of(f->c)->doing = NULL;
    if (!f->scoped || v->scope.count < f->scoped) return; // a body closed it
    while (v->scope.count > f->scoped) {                  // or left one open
        for (int i = 0; i < n; i++) tc__scope_release(f->c, keep[i]);
        tc__scope_close(f->c, f->file, f->line);
    }
    tc__scope_end(f->c, keep, n, f->file, f->line);
    f->scoped = 0;
}

static tc_tensor tc__leave(tc__api *f, tc_tensor result) {
    if (f->together) result = tc__api_apart(f, result);
    tc__leave_many(f, &result, 1);
    return result;
}

static tc_tensor tc__leave_null(tc__api *f) { return tc__leave(f, tc__null()); }

// dtype and sizes of another operand; 0 = reported.
static int tc__meta_get(const tc__api *f, tc_tensor t, tc__meta *m) {
    return tc__meta_of(f->c, f->who, t, m);
}

// ---- sizes and dimensions ----

static int64_t tc__meta_size(const tc__meta *m, int dim) {
    return tc__ix_value(m->dims[dim]);
}

static int64_t tc__meta_elements(const tc__meta *m) {
    int64_t n = 1;
    for (int i = 0; i < m->rank; i++) n *= tc__meta_size(m, i);
    return n;
}

static tc_dims tc__meta_dims(const tc__meta *m) {
    tc_dims d;
    memset(&d, 0, sizeof d);
    d.rank = m->rank;
    for (int i = 0; i < m->rank; i++) d.size[i] = tc__meta_size(m, i);
    return d;
}

static tc_dims tc__dims_shape(const tc__api *f) { return tc__meta_dims(&f->x); }

static void tc__dims_insert(tc_dims *d, int at, int64_t size) {
    for (int i = d->rank; i > at; i--) d->size[i] = d->size[i - 1];
    d->size[at] = size;
    d->rank++;
}

static void tc__dims_remove(tc_dims *d, int at) {
    d->rank--;
    for (int i = at; i < d->rank; i++) d->size[i] = d->size[i + 1];
}

static int64_t tc__dims_product(const tc_dims *d, int first, int end) {
    int64_t n = 1;
    for (int i = first; i < end; i++) n *= d->size[i];
    return n;
}

// "[2, 3]" of sizes as the user gave them.
static const char *tc__sizes_text(const tc_dims *d, char out[160]) {
    size_t n = 0;
    out[n++] = '[';
    for (int i = 0; i < d->rank && i < TC_MAX_RANK && n < 130; i++)
        n += (size_t)snprintf(out + n, 160 - n, "%s%lld", i ? ", " : "",
                              (long long)d->size[i]);
    snprintf(out + n, 160 - n, "]");
    return out;
}

static int tc__rank_check(const tc__api *f, int rank) {
    if (rank >= 0 && rank <= TC_MAX_RANK) return 1;
    return tc__fail(f->c, TC_E_RANK, "%s: %d dimensions; 0..%d are possible", f->who, rank,
                    TC_MAX_RANK);
}

static int tc__dtype_check(const tc__api *f, int dtype) {
    if (tc__dtype_valid(dtype)) return 1;
    return tc__fail(f->c, TC_E_DTYPE, "%s: %d is no dtype; use TC_F32 or another TC_ name",
                    f->who, dtype);
}

// *dim in [-rank, rank) becomes [0, rank). A scalar has one dimension for this purpose.
static int tc__dim_check(const tc__api *f, int rank, int64_t *dim) {
    int limit = rank ? rank : 1;
    if (*dim >= -limit && *dim < limit) {
        *dim += *dim < 0 ? limit : 0;
        return 1;
    }
    return tc__fail(f->c, TC_E_DIM,
                    "%s: dimension %lld is out of range for rank %d; %d..%d is possible",
                    f->who, (long long)*dim, rank, -limit, limit - 1);
}

// The same for a dimension that must exist.
static int tc__dim_need(const tc__api *f, int64_t *dim) {
    if (f->x.rank) return tc__dim_check(f, f->x.rank, dim);
    return tc__fail(f->c, TC_E_RANK, "%s: the tensor is a scalar and has no dimension %lld",
                    f->who, (long long)*dim);
}

// The named dimensions as a bit mask; 0 = reported.
static int tc__dims_mask(const tc__api *f, const tc_dims *d, uint32_t *mask) {
    *mask = 0;
    if (!tc__rank_check(f, d->rank)) return 0;
    for (int i = 0; i < d->rank; i++) {
        int64_t k = d->size[i];
        if (!tc__dim_check(f, f->x.rank, &k)) return 0;
        if (*mask >> k & 1)
            return tc__fail(f->c, TC_E_DIM, "%s: dimension %lld is named twice", f->who,
                            (long long)k);
        *mask |= 1u << k;
    }
    return 1;
}

// Sums and products of a few such numbers fit an expression, whose constants have 63 bits.
#define TC__FAR (INT64_MAX / 32)

static int tc__near_check(const tc__api *f, int64_t v) {
    if (v >= -TC__FAR && v <= TC__FAR) return 1;
    return tc__fail(f->c, TC_E_TOO_BIG, "%s: %lld; no tensor has as many elements", f->who,
                    (long long)v);
}

// ---- primitives, without checks of ours ----

// An op that is all there is to the call, or all that is left: errors bear the call's name.
static tc_tensor tc__prim_n(const tc__api *f, tc__op op, const tc_tensor *in, uint32_t n_in,
                            const int64_t *attr, uint32_t n) {
    tc_tensor t = tc__op_follow(tc__form_of(op, n_in, n), in, n_in, attr, n);
    const char *doing = tc__core_of(f->c)->doing;
    if (t.id) return t;
    tc__core_of(f->c)->doing = f->who;
    t = tc__op_slow(op, in, n_in, attr, n, f->file, f->line);
    tc__core_of(f->c)->doing = doing;
    return t;
}

static tc_tensor tc__prim(const tc__api *f, tc__op op, tc_tensor t, const int64_t *attr,
                          uint32_t n) {
    return tc__prim_n(f, op, &t, 1, attr, n);
}

// The same for an op without operands.
static tc_tensor tc__prim_source(const tc__api *f, tc__op op, int dtype, const tc_dims *d,
                                 const int64_t *attr, uint32_t n) {
    const char *doing = tc__core_of(f->c)->doing;
    tc__core_of(f->c)->doing = f->who;
    tc_tensor t = tc__source(f->c, op, dtype, d->rank, d->size, attr, n, f->file, f->line);
    tc__core_of(f->c)->doing = doing;
    return t;
}

static tc_tensor tc__prim_sizes(const tc__api *f, tc__op op, tc_tensor t,
                                const tc_dims *d) {
    int64_t attr[TC_MAX_RANK];
    for (int i = 0; i < d->rank; i++) {
        if (!tc__near_check(f, d->size[i])) return tc__null();
        attr[i] = tc__ix_const(d->size[i]);
    }
    return tc__prim(f, op, t, attr, (uint32_t)d->rank);
}

static tc_tensor tc__reshape(const tc__api *f, tc_tensor t, const tc_dims *d) {
    if (!tc__rank_check(f, d->rank)) return tc__null();
    return tc__prim_sizes(f, TC_OP_RESHAPE, t, d);
}

static tc_tensor tc__expand(const tc__api *f, tc_tensor t, const tc_dims *d) {
    if (!tc__rank_check(f, d->rank)) return tc__null();
    return tc__prim_sizes(f, TC_OP_EXPAND, t, d);
}

// A scalar as [1], which it is where a call goes along one dimension; others as they are.
static tc_tensor tc__as_vector(const tc__api *f, tc_tensor t) {
    tc__meta m;
    tc_dims one = TC_DIMS(1);
    return t.id && tc__meta_get(f, t, &m) && !m.rank ? tc__reshape(f, t, &one) : t;
}

// Another handle of the same tensor: a view of all of it.
static tc_tensor tc__again(const tc__api *f, tc_tensor t) {
    tc__meta m;
    if (!tc__meta_get(f, t, &m)) return tc__null();
    tc_dims d = tc__meta_dims(&m);
    return tc__reshape(f, t, &d);
}

static tc_tensor tc__permute(const tc__api *f, tc_tensor t, const tc_dims *order) {
    return tc__prim(f, TC_OP_PERMUTE, t, order->size, (uint32_t)order->rank);
}

// count elements of dimension `dim` from `start`.
static tc_tensor tc__slice(const tc__api *f, tc_tensor t, int dim, int64_t start,
                           int64_t count, int64_t step) {
    int64_t attr[4];
    attr[TC__SLICE_DIM] = dim, attr[TC__SLICE_START] = tc__ix_const(start);
    attr[TC__SLICE_COUNT] = tc__ix_const(count), attr[TC__SLICE_STEP] = tc__ix_const(step);
    return tc__prim(f, TC_OP_SLICE, t, attr, 4);
}

// A value as an attribute word of dtype t: the bits of a double or an i64.
static int64_t tc__value_word(double s, int t) {
    tc__value v = tc__value_of(s, t);
    int64_t word;
    memcpy(&word, &v, sizeof word);
    return word;
}

static tc_tensor tc__pad(const tc__api *f, tc_tensor t, int dim, int64_t low, int64_t high,
                         double fill, int dtype) {
    int64_t attr[5];
    attr[TC__PAD_DIM] = dim, attr[TC__PAD_LOW] = tc__ix_const(low);
    attr[TC__PAD_HIGH] = tc__ix_const(high);
    attr[TC__PAD_DILATION] = tc__ix_const(1);
    attr[TC__PAD_FILL] = tc__value_word(fill, dtype);
    return tc__prim(f, TC_OP_PAD, t, attr, 5);
}

// The windows of a tensor in memory where they lie, overlapping: to be read by the call alone. 0 = there is
// none, or they do not fit, which the op reports.
static int tc__window_there(const tc__api *f, tc_tensor t, int dim, int64_t size,
                            int64_t stride, int64_t dilation, tc_tensor *out) {
    const tc__recorder *r = tc__recorder_of(f->c);
    const tc__tensor *e = r->visit || r->suspended ? NULL : tc__slot_find(f->c, t);
    if (!e) return 0;
    tc__layout l = *tc__layout_at(f->c, e->layout);
    int64_t reach = (size - 1) * dilation;
    if (l.rank == TC_MAX_RANK || !l.numel || l.dims[dim] <= reach) return 0;
    l.dims[dim] = (l.dims[dim] - reach - 1) / stride + 1;
    l.dims[l.rank] = size, l.strides[l.rank] = l.strides[dim] * dilation;
    l.strides[dim] *= stride;
    if (!tc__dims_check(f->c, f->who, l.rank + 1, l.dims)) return *out = tc__null(), 1;
    uint32_t id = tc__layout_on(f->c, l.device, l.dtype, l.rank + 1, l.dims, l.strides);
    e->storage->refs++;
    *out = tc__tensor_new(f->c, id, e->storage, e->offset, f->file, f->line);
    return 1;
}

static tc_tensor tc__window(const tc__api *f, tc_tensor t, int dim, int64_t size,
                            int64_t stride, int64_t dilation) {
    int64_t attr[4];
    tc_tensor there;
    if (tc__window_there(f, t, dim, size, stride, dilation, &there)) return there;
    attr[TC__WINDOW_DIM] = dim, attr[TC__WINDOW_SIZE] = tc__ix_const(size);
    attr[TC__WINDOW_STRIDE] = tc__ix_const(stride);
    attr[TC__WINDOW_DILATION] = tc__ix_const(dilation);
    return tc__prim(f, TC_OP_WINDOW, t, attr, 4);
}

static tc_tensor tc__cast(const tc__api *f, tc_tensor t, int dtype) {
    int64_t attr = dtype;
    return tc__prim(f, TC_OP_CAST, t, &attr, 1);
}

// Composite ops compute halves as f32, and round once.
static void tc__widen_half(tc__api *f, tc_tensor *x) {
    if (!tc__is_half(f->x.dtype)) return;
    f->half = f->x.dtype, f->x.dtype = TC_F32;
    *x = tc__cast(f, *x, TC_F32);
}

// Another operand, as they compute with it.
static tc_tensor tc__widened(const tc__api *f, tc_tensor t) {
    tc__meta m;
    int half = t.id && tc__meta_get(f, t, &m) && tc__is_half(m.dtype);
    return half ? tc__cast(f, t, TC_F32) : t;
}

// The result that they round.
static tc_tensor tc__rounded(const tc__api *f, tc_tensor y) {
    tc__meta m;
    int wide = f->half && y.id && tc__meta_get(f, y, &m) && m.dtype == TC_F32;
    return wide ? tc__cast(f, y, f->half) : y;
}

// tc__leave after tc__widen_half.
static tc_tensor tc__leave_rounded(tc__api *f, tc_tensor y) {
    return tc__leave(f, tc__rounded(f, y));
}

static tc_tensor tc__scalar(const tc__api *f, double s, int dtype) {
    tc_dims none = TC_SCALAR;
    int64_t attr = tc__value_word(s, dtype);
    return tc__prim_source(f, TC_OP_CONST, dtype, &none, &attr, 1);
}

// The i64 index along dimension `dim` of a tensor of sizes d.
static tc_tensor tc__iota(const tc__api *f, const tc_dims *d, int64_t dim) {
    return tc__prim_source(f, TC_OP_IOTA, TC_I64, d, &dim, 1);
}

static double tc__infinity(void) {
    uint64_t bits = UINT64_C(0x7ff) << 52;
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

// The number that is below all others of dtype t.
static double tc__least_value(int t) {
    return tc__is_float(t) ? -tc__infinity() : (double)tc__int_least(t);
}

// ---- asking ----

static int tc__ask(const char *who, tc_tensor t, tc__meta *m) {
    tc_ctx *c = tc__ctx_of(t);
    if (!c && t.id) tc__fail_lost(who, t, NULL, 0);
    return c && tc__meta_of(c, who, t, m);
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
    if (!tc__api_of(&f, "tc_mark_dynamic", t, file, line)) return TC_E_NULL;
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
    if (!tc__api_of(&f, "tc_mark_static", t, file, line)) return TC_E_NULL;
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
    uint32_t layout = tc__layout_intern(f->c, dtype, d->rank, d->size, NULL);
    tc__storage *s = layout ? tc__storage_new(f->c, bytes) : NULL;
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

// The tensor in memory that t is a view of, t itself if it is one; *n of the steps that make the view, last
// one first. NULL = it is computed.
static const tc__tensor *tc__viewed(tc_ctx *c, tc_tensor t, const tc__step **step, int *n) {
    const tc__visit *v = tc__recorder_of(c)->visit;
    *n = 0;
    while (v && t.id >> TC__SLOT_BITS == v->key && tc__position(t) < v->path.count) {
        const tc__step *s = v->path.at[tc__position(t)];
        if (!s->view || s->symbolic || *n == TC__CONST_VIEWS) return NULL;
        step[(*n)++] = s;
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

static void tc__fill_elements(void *data, int64_t n, double value, int dtype) {
    tc__value v = tc__value_of(value, dtype);
    size_t all = (size_t)n * tc__dtype(dtype)->bytes, done = tc__dtype(dtype)->bytes;
    if (n && value == 0) memset(data, 0, all);
    if (!n || value == 0) return;
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
    if (value == 0 || !n) return tc__tensor_there(f, d, dtype, NULL);
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

TCDEF tc_tensor tc_full_like_at(tc_tensor t, double value, const char *file, int line) {
    tc__api f;
    if (!tc__api_of(&f, "full_like", t, file, line)) return tc__null();
    tc_dims d = tc__dims_shape(&f);
    return tc__full(&f, &d, value, f.x.dtype);
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
