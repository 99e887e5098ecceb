// What public calls share: frames, checks of sizes, primitives. Input: what the user gave.
// Output: recorded primitives. Sizes are checked here in the user's terms, so messages name
// the call the user wrote.
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
    size_t scoped;                 // depth of a scope of our own; 0 = there is none
    tc__claim claim;               // of the context, until tc__leave
    uint64_t here;                 // of tc__here_enter, until then
    int named;                     // errors bear `who` until tc__leave
    int together;                  // its primitives run together then
    int half;                      // the dtype that a result in f32 is rounded to; 0 = none
    int wide;                      // products of halves give f32
    int bypassed;                  // it does nothing now, so nothing is recorded whole
    int64_t word[TC__WHOLE_WORDS]; // what it is recorded whole with: graph/whole.c
    tc__meta x;                    // of the first operand; its sizes are constants
} tc__api;

// ---- frames ----

static int tc__api_open(tc__api *f, tc_ctx *c, const char *who, const char *file,
                        int line) {
    tc__site s;
    f->c = c, f->who = who, f->file = file, f->line = line;
    f->scoped = 0, f->claim = TC__CLAIM_HELD, f->named = 0, f->together = 0, f->half = 0,
    f->wide = 0, f->bypassed = 0, f->x.rank = 0, f->x.dtype = 0;
    if (!c) return tc__fail_no_context(who, file, line), 0;
    if (!tc__is_ours(c, who)) return 0;
    f->here = tc__atomic_load64(&tc__values_of(c)->here);
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
    if (!tc__api_open(f, c, who, file, line) || !tc__meta_of(f->c, f->who, t, &f->x))
        return 0;
    if (tc__values_of(f->c)->device.count) tc__sources_like(f->c, t, f->x.rank);
    return 1;
}

// The status of a call whose frame about t was refused.
static tc_status tc__api_refused(const tc__api *f, tc_tensor t) {
    if (!f->c) return t.id ? TC_E_DEAD : TC_E_NULL;
    if (tc__is_stranger(f->c)) return TC_E_THREAD;
    return tc__core_of(f->c)->calling ? TC_E_STATE : TC_E_DEAD;
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
    if (!tc__is_recording(f->c) && !(f->claim = tc__claim_begin(f->c, f->who))) return 0;
    f->named = !core->doing, f->here = tc__here_enter(f->c);
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

typedef int (*tc__beginner)(tc__api *f, const char *who, tc_tensor t, const char *file,
                            int line);

// The same where the call has other tensors beside t, the parent's perhaps: one of a child's decides.
static int tc__begin_among(tc__api *f, tc__beginner begin, const char *who, tc_tensor t,
                           const tc_tensor *all, uint32_t n, const char *file, int line) {
    uint32_t same = 1;
    while (same < n && all[same].id >> 56 == all[0].id >> 56) same++;
    tc_ctx *c = same < n ? tc__ctx_of_all(all, n) : NULL;
    if (!c || !tc__values_of(c)->parent) return begin(f, who, t, file, line);
    uint64_t here = tc__here_enter(c);
    int ok = begin(f, who, t, file, line);
    if (ok && f->c == c) return f->here = here, 1; // until tc__leave
    tc__here_leave(c, here);
    return ok;
}

static int tc__begin_two(tc__api *f, const char *who, tc_tensor t, tc_tensor other,
                         const char *file, int line) {
    tc_tensor all[2];
    all[0] = t, all[1] = other;
    return tc__begin_among(f, tc__begin, who, t, all, 2, file, line);
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
static void tc__api_unscope(tc__api *f, const tc_tensor *keep, int n) {
    const tc__values *v = tc__values_of(f->c);
    if (!f->scoped || v->scope.count < f->scoped) return; // a body closed it
    while (v->scope.count > f->scoped) {                  // or left one open
        for (int i = 0; i < n; i++) tc__scope_release(f->c, keep[i]);
        tc__scope_close(f->c, f->file, f->line);
    }
    tc__scope_end(f->c, keep, n, f->file, f->line);
    f->scoped = 0;
}

static void tc__leave_many(tc__api *f, const tc_tensor *keep, int n) {
    if (f->together) (void)tc__api_apart(f, tc__null());
    if (f->named) tc__core_of(f->c)->doing = NULL;
    tc__api_unscope(f, keep, n);
    tc__here_leave(f->c, f->here);
    tc__claim_end(f->c, f->claim);
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

// Whether an operand that must be there is; 0 = reported by its name.
static int tc__operand_given(const tc__api *f, const char *name, tc_tensor t) {
    return t.id ||
           tc__fail(f->c, TC_E_NULL, "%s: %s is a null tensor (an earlier call failed?)",
                    f->who, name);
}

// Its dtype and sizes; 0 = reported by its name.
static int tc__operand_need(const tc__api *f, const char *name, tc_tensor t, tc__meta *m) {
    char who[160];
    if (!tc__operand_given(f, name, t)) return 0;
    if (tc__meta_find(f->c, t, m)) return 1;
    snprintf(who, sizeof who, "%s: %s", f->who, name);
    return tc__fail_dead(f->c, who, t);
}

// ---- tensors in arrays ----
// The caller's out[] may be its in[], or overlap it, so a call reads all that it was given before it gives what it made.

// Room for `n` tensors: `few`, or memory that tc__tensors_free gives back. NULL = reported.
enum { TC__FEW = 16 };

static tc_tensor *tc__tensors_new(tc_ctx *c, tc_tensor *few, uint32_t n) {
    return n <= TC__FEW ? few : TC__NEW_ARRAY(c, tc_tensor, n);
}

static void tc__tensors_free(tc_ctx *c, tc_tensor *at, const tc_tensor *few, uint32_t n) {
    if (at && at != few) TC__FREE_ARRAY(c, at, n);
}

// What a call made goes to the caller, or nulls: it failed. out NULL = the caller gave no array.
static void tc__results_give(tc_tensor *out, const tc_tensor *made, int n) {
    for (int i = 0; i < n && out; i++) out[i] = made ? made[i] : tc__null();
}

// Whether two arrays have a place in common.
static int tc__tensors_meet(const tc_tensor *a, int n, const tc_tensor *b, int m) {
    uintptr_t x = (uintptr_t)a, y = (uintptr_t)b;
    return n > 0 && m > 0 && x < y + (size_t)m * sizeof *b && y < x + (size_t)n * sizeof *a;
}

// Whether v is a number that is not below 0; NaN is none. 0 = reported.
static int tc__number_given(const tc__api *f, const char *name, double v) {
    return v >= 0 ||
           tc__fail(f->c, TC_E_ARG, "%s: %s is %g, 0 or more is needed", f->who, name, v);
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

// d becomes the sizes of d and e, broadcast; 0 = they do not fit.
static int tc__spread_with(tc_dims *d, const tc_dims *e) {
    while (d->rank < e->rank) tc__dims_insert(d, 0, 1);
    for (int i = 0; i < e->rank; i++) {
        int64_t *n = &d->size[d->rank - e->rank + i];
        if (*n != e->size[i] && *n != 1 && e->size[i] != 1) return 0;
        if (*n == 1) *n = e->size[i];
    }
    return 1;
}

// Whether operand t broadcasts to the sizes `to`; 0 = reported.
static int tc__spread_check(const tc__api *f, const char *name, tc_tensor t,
                            const tc_dims *to) {
    tc__meta m;
    char x[160], y[160];
    if (!tc__meta_get(f, t, &m)) return 0;
    tc_dims d = tc__meta_dims(&m), both = *to;
    if (d.rank <= to->rank && tc__spread_with(&both, &d) &&
        !memcmp(both.size, to->size, sizeof both.size))
        return 1;
    return tc__fail(f->c, TC_E_BROADCAST, "%s: %s is %s, which does not broadcast to %s",
                    f->who, name, tc__sizes_text(&d, x), tc__sizes_text(to, y));
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

// t, through which nothing is derived.
static tc_tensor tc__detach(const tc__api *f, tc_tensor t) {
    int64_t mark = 0;
    return tc__prim(f, TC_OP_DETACH, t, &mark, 1);
}

// t less its mean along the masked dimensions.
static tc_tensor tc__centred(const tc__api *f, tc_tensor t, uint32_t mask, tc_tensor mean) {
    int64_t dims = mask;
    return tc__prim(f, TC_OP_CENTRED, tc_sub(t, mean), &dims, 1);
}

static tc_tensor tc__cast(const tc__api *f, tc_tensor t, int dtype) {
    int64_t attr = dtype;
    return tc__prim(f, TC_OP_CAST, t, &attr, 1);
}

// Whether t shows memory from outside, with gaps or in another order for some sizes.
static int tc__is_strided(const tc__api *f, tc_tensor t) {
    const tc__visit *v = tc__recorder_of(f->c)->visit;
    const tc__tensor *e = tc__tensor_find(f->c, t);
    int strided = 0;
    if (e || !tc__is_visit(t) || t.id >> TC__SLOT_BITS != v->key)
        return e && !tc__layout_at(f->c, e->layout)->contiguous;
    uint32_t code = tc__position(t);
    for (; !(code & TC__EXTERNAL); code = v->path.at[code]->in[0]) {
        if (!v->path.at[code]->view) return 0;
        strided |= v->path.at[code]->op != TC_OP_RESHAPE;
    }
    return strided ||
           !tc__layout_at(f->c, v->external.at[code & ~TC__EXTERNAL].layout)->contiguous;
}

// t, which the call is going to reshape for its own use: in a region a value, so that the reshape is the same
// whether it is a view for the sizes of this visit or not. That costs nothing there.
static tc_tensor tc__as_value(const tc__api *f, tc_tensor t, int dtype) {
    int strided = t.id && tc__is_recording(f->c) && tc__is_strided(f, t);
    return strided ? tc__cast(f, t, dtype) : t;
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
