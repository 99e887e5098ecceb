// Moving and indexing tensors: sizes and dimensions are checked and completed, then
// primitives are recorded. A call that turns out to have nothing to do still gives a handle
// of its own, because the caller may free its operand.

// ---- copies ----

// A dense copy of what `e`, which is on a device, shows: an op of its own.
static tc_tensor tc__dense_copy(tc_ctx *c, const tc__tensor *e) {
    tc__tensor from = *e;
    from.storage->refs++;
    tc_tensor view =
        tc__tensor_new(c, from.layout, from.storage, from.offset, from.file, from.line);
    if (!view.id) return view;
    int64_t dtype = tc__layout_at(c, from.layout)->dtype;
    tc__visit *open = tc__recorder_of(c)->visit; // whose ops this one is none of
    tc__recorder_of(c)->visit = NULL;
    tc_tensor t = tc__op_n(TC_OP_CAST, &view, 1, &dtype, 1, from.file, from.line);
    tc__recorder_of(c)->visit = open;
    tc__slot_free(c, tc__handle_slot(view), "a view", NULL, 0);
    return t;
}

// A copy of what `e`, which is row-major in memory of the host, shows.
static tc_tensor tc__copied_now(const tc__api *f, const tc__tensor *e) {
    const tc__layout *l = tc__layout_at(f->c, e->layout);
    tc_dims d = tc_dims_of(l->rank, l->dims);
    int dtype = l->dtype;
    size_t bytes = (size_t)l->numel * tc__dtype(dtype)->bytes;
    const void *from = tc__tensor_data(e, dtype);
    void *to;
    tc_tensor t = tc__tensor_make(f, &d, dtype, &to);
    if (t.id && bytes) memcpy(to, from, bytes);
    return t;
}

// t in memory of its own, row-major: a conversion to its own dtype, which inside a region is a value
// of its own and costs nothing.
static tc_tensor tc__copy(const tc__api *f, tc_tensor t) {
    const tc__tensor *e = tc__is_recording(f->c) ? NULL : tc__tensor_find(f->c, t);
    if (e && !e->storage->device && tc__layout_at(f->c, e->layout)->contiguous)
        return tc__copied_now(f, e);
    return tc__cast(f, t, f->x.dtype);
}

// y, which t was moved to by steps that may all be views, row-major in memory that is not t's.
static tc_tensor tc__apart(const tc__api *f, tc_tensor y, tc_tensor t) {
    const tc__tensor *a = tc__tensor_find(f->c, y), *b = tc__tensor_find(f->c, t);
    int apart = !tc__is_recording(f->c) && a && b && a->storage != b->storage &&
                tc__layout_at(f->c, a->layout)->contiguous;
    return apart || !y.id ? y : tc__copy(f, y);
}

// ---- reshaping ----

// Replaces one -1 by what the other sizes leave of `have` elements.
static int tc__dims_infer(const tc__api *f, tc_dims *d, int64_t have) {
    char x[160], y[160];
    size_t rest = 1;
    int open = -1, fits = 1;
    if (!tc__rank_check(f, d->rank)) return 0;
    for (int i = 0; i < d->rank; i++) {
        if (d->size[i] < -1 || (d->size[i] == -1 && open >= 0))
            return tc__fail(f->c, TC_E_SHAPE,
                            "%s: sizes %s; none may be negative but one -1", f->who,
                            tc__sizes_text(d, x));
        if (d->size[i] == -1)
            open = i;
        else
            fits = fits && tc__mul_size(rest, (size_t)d->size[i], &rest);
    }
    if (fits && open < 0 && rest == (size_t)have) return 1;
    if (fits && open >= 0 && rest && (size_t)have % rest == 0) {
        d->size[open] = have / (int64_t)rest;
        return 1;
    }
    return tc__fail(f->c, TC_E_SHAPE, "%s: the %lld elements of %s do not fit %s", f->who,
                    (long long)have, tc__dims_text(&f->x, x), tc__sizes_text(d, y));
}

TCDEF tc_tensor tc_reshape_at(tc_tensor t, tc_dims dims, const char *file, int line) {
    tc__api f;
    if (!tc__api_of(&f, "reshape", t, file, line)) return tc__null();
    if (!tc__dims_infer(&f, &dims, tc__meta_elements(&f.x))) return tc__null();
    return tc__reshape(&f, t, &dims);
}

TCDEF tc_tensor tc_flatten_at(tc_tensor t, int first, int last, const char *file,
                              int line) {
    tc__api f;
    int64_t a = first, b = last;
    if (!tc__api_of(&f, "flatten", t, file, line)) return tc__null();
    if (!tc__dim_check(&f, f.x.rank, &a) || !tc__dim_check(&f, f.x.rank, &b))
        return tc__null();
    if (a > b) {
        tc__fail(f.c, TC_E_DIM, "flatten: first dimension %lld comes after the last, %lld",
                 (long long)a, (long long)b);
        return tc__null();
    }
    tc_dims d = tc__dims_shape(&f);
    if (!d.rank) tc__dims_insert(&d, 0, 1);
    d.size[a] = tc__dims_product(&d, (int)a, (int)b + 1);
    for (int64_t i = a; i < b; i++) tc__dims_remove(&d, (int)a + 1);
    return tc__reshape(&f, t, &d);
}

TCDEF tc_tensor tc_squeeze_at(tc_tensor t, int dim, const char *file, int line) {
    tc__api f;
    int64_t k = dim;
    if (!tc__api_of(&f, "squeeze", t, file, line) || !tc__dim_check(&f, f.x.rank, &k))
        return tc__null();
    tc_dims d = tc__dims_shape(&f);
    if (d.rank && d.size[k] == 1) tc__dims_remove(&d, (int)k);
    return tc__reshape(&f, t, &d);
}

TCDEF tc_tensor tc_squeeze_all_at(tc_tensor t, const char *file, int line) {
    tc__api f;
    if (!tc__api_of(&f, "squeeze_all", t, file, line)) return tc__null();
    tc_dims d = tc__dims_shape(&f);
    for (int i = d.rank; i > 0; i--)
        if (d.size[i - 1] == 1) tc__dims_remove(&d, i - 1);
    return tc__reshape(&f, t, &d);
}

TCDEF tc_tensor tc_unsqueeze_at(tc_tensor t, int dim, const char *file, int line) {
    tc__api f;
    int64_t k = dim;
    if (!tc__api_of(&f, "unsqueeze", t, file, line)) return tc__null();
    if (!tc__rank_check(&f, f.x.rank + 1) || !tc__dim_check(&f, f.x.rank + 1, &k))
        return tc__null();
    tc_dims d = tc__dims_shape(&f);
    tc__dims_insert(&d, (int)k, 1);
    return tc__reshape(&f, t, &d);
}

// ---- reordering ----

TCDEF tc_tensor tc_permute_at(tc_tensor t, tc_dims order, const char *file, int line) {
    tc__api f;
    if (!tc__api_of(&f, "permute", t, file, line) || !tc__rank_check(&f, order.rank))
        return tc__null();
    for (int i = 0; i < order.rank; i++)
        if (!tc__dim_check(&f, f.x.rank, &order.size[i])) return tc__null();
    return tc__permute(&f, t, &order);
}

static tc_dims tc__axis_order(int rank) {
    tc_dims d;
    d.rank = rank;
    for (int i = 0; i < TC_MAX_RANK; i++) d.size[i] = i;
    return d;
}

TCDEF tc_tensor tc_transpose_at(tc_tensor t, int dim0, int dim1, const char *file,
                                int line) {
    tc__api f;
    int64_t a = dim0, b = dim1;
    if (!tc__api_of(&f, "transpose", t, file, line)) return tc__null();
    if (!tc__dim_check(&f, f.x.rank, &a) || !tc__dim_check(&f, f.x.rank, &b))
        return tc__null();
    tc_dims order = tc__axis_order(f.x.rank);
    order.size[a] = b, order.size[b] = a;
    return tc__permute(&f, t, &order);
}

TCDEF tc_tensor tc_t_at(tc_tensor t, const char *file, int line) {
    tc__api f;
    char x[160];
    if (!tc__api_of(&f, "t", t, file, line)) return tc__null();
    if (f.x.rank > 2) {
        tc__fail(f.c, TC_E_RANK,
                 "t: %s has more than 2 dimensions; use tc_transpose(t, -2, -1)",
                 tc__dims_text(&f.x, x));
        return tc__null();
    }
    tc_dims order = tc__axis_order(f.x.rank);
    if (f.x.rank == 2) order.size[0] = 1, order.size[1] = 0;
    return tc__permute(&f, t, &order);
}

TCDEF tc_tensor tc_movedim_at(tc_tensor t, int from, int to, const char *file, int line) {
    tc__api f;
    int64_t a = from, b = to;
    if (!tc__api_of(&f, "movedim", t, file, line)) return tc__null();
    if (!tc__dim_check(&f, f.x.rank, &a) || !tc__dim_check(&f, f.x.rank, &b))
        return tc__null();
    tc_dims order = tc__axis_order(f.x.rank);
    if (order.rank) {
        tc__dims_remove(&order, (int)a);
        tc__dims_insert(&order, (int)b, a);
    }
    return tc__permute(&f, t, &order);
}

static tc_tensor tc__expand_call(const char *who, tc_tensor t, tc_dims dims,
                                 const char *file, int line) {
    tc__api f;
    if (!tc__api_of(&f, who, t, file, line) || !tc__rank_check(&f, dims.rank))
        return tc__null();
    int lead = dims.rank - f.x.rank;
    for (int i = lead < 0 ? 0 : lead; i < dims.rank; i++)
        if (dims.size[i] == -1) dims.size[i] = tc__meta_size(&f.x, i - lead);
    return tc__expand(&f, t, &dims);
}

TCDEF tc_tensor tc_expand_at(tc_tensor t, tc_dims dims, const char *file, int line) {
    return tc__expand_call("expand", t, dims, file, line);
}

TCDEF tc_tensor tc_broadcast_to_at(tc_tensor t, tc_dims dims, const char *file, int line) {
    return tc__expand_call("broadcast_to", t, dims, file, line);
}

// ---- slicing ----

// Python's rule for one bound of a slice over n elements.
static int64_t tc__slice_bound(int64_t i, int64_t n, int64_t step) {
    int64_t lowest = step < 0 ? -1 : 0, highest = step < 0 ? n - 1 : n;
    if (i == TC_END) return step < 0 ? -1 : n;
    if (i < 0) i = i < -n ? lowest : i + n;
    return i < lowest ? lowest : i > highest ? highest : i;
}

TCDEF tc_tensor tc_slice_at(tc_tensor t, int dim, int64_t start, int64_t end, int64_t step,
                            const char *file, int line) {
    tc__api f;
    int64_t k = dim, count = 0;
    if (!tc__api_of(&f, "slice", t, file, line) || !tc__dim_need(&f, &k)) return tc__null();
    if (!step) {
        tc__fail(f.c, TC_E_ARG, "slice: step 0; it must not be 0");
        return tc__null();
    }
    if (step < -TC__FAR) step = -TC__FAR; // beyond every size
    int64_t n = tc__meta_size(&f.x, (int)k);
    int64_t a = start == TC_END ? (step < 0 ? n - 1 : n) : tc__slice_bound(start, n, step);
    int64_t b = tc__slice_bound(end, n, step);
    if (step > 0 && a < b) count = (b - a - 1) / step + 1;
    if (step < 0 && a > b) count = (a - b - 1) / -step + 1;
    return tc__slice(&f, t, (int)k, count ? a : 0, count, count > 1 ? step : 1);
}

static int tc__index_check(const tc__api *f, int64_t i, int64_t n, int64_t dim) {
    if (i >= -n && i < n) return 1;
    return tc__fail(f->c, TC_E_INDEX,
                    "%s: index %lld is out of range for dimension %lld of size %lld",
                    f->who, (long long)i, (long long)dim, (long long)n);
}

TCDEF tc_tensor tc_select_at(tc_tensor t, int dim, int64_t i, const char *file, int line) {
    tc__api f;
    int64_t k = dim;
    if (!tc__begin(&f, "select", t, file, line)) return tc__null();
    if (!tc__dim_need(&f, &k)) return tc__leave_null(&f);
    tc_dims d = tc__dims_shape(&f);
    if (!tc__index_check(&f, i, d.size[k], k)) return tc__leave_null(&f);
    t = tc__slice(&f, t, (int)k, i < 0 ? i + d.size[k] : i, 1, 1);
    tc__dims_remove(&d, (int)k);
    return tc__leave(&f, tc__reshape(&f, t, &d));
}

TCDEF tc_tensor tc_narrow_at(tc_tensor t, int dim, int64_t start, int64_t length,
                             const char *file, int line) {
    tc__api f;
    int64_t k = dim;
    if (!tc__api_of(&f, "narrow", t, file, line) || !tc__dim_need(&f, &k))
        return tc__null();
    int64_t n = tc__meta_size(&f.x, (int)k), a = start < 0 ? start + n : start;
    if (a < 0 || a > n || length < 0 || length > n - a) {
        tc__fail(f.c, TC_E_INDEX,
                 "narrow: %lld elements from %lld leave dimension %lld of size %lld",
                 (long long)length, (long long)start, (long long)k, (long long)n);
        return tc__null();
    }
    return tc__slice(&f, t, (int)k, length ? a : 0, length, 1);
}

TCDEF tc_tensor tc_flip_at(tc_tensor t, tc_dims dims, const char *file, int line) {
    tc__api f;
    uint32_t mask;
    if (!tc__begin(&f, "flip", t, file, line)) return tc__null();
    if (!tc__dims_mask(&f, &dims, &mask)) return tc__leave_null(&f);
    tc_tensor y = t;
    for (int i = 0; i < f.x.rank; i++) {
        int64_t n = tc__meta_size(&f.x, i);
        if (mask >> i & 1 && n > 1) y = tc__slice(&f, y, i, n - 1, n, -1);
    }
    return tc__leave(&f, tc__copy(&f, y));
}

TCDEF tc_tensor tc_roll_at(tc_tensor t, int64_t shift, int dim, const char *file,
                           int line) {
    tc__api f;
    int64_t k = dim;
    tc_tensor part[2];
    if (!tc__begin(&f, "roll", t, file, line)) return tc__null();
    if (!tc__dim_need(&f, &k)) return tc__leave_null(&f);
    int64_t n = tc__meta_size(&f.x, (int)k), s = n ? shift % n : 0;
    if (s < 0) s += n;
    if (!s) return tc__leave(&f, tc__copy(&f, t));
    part[0] = tc__slice(&f, t, (int)k, n - s, s, 1);
    part[1] = tc__slice(&f, t, (int)k, 0, n - s, 1);
    return tc__leave(&f, tc_cat_at(part, 2, (int)k, file, line));
}

TCDEF tc_tensor tc_pad_at(tc_tensor t, tc_dims low, tc_dims high, double value,
                          const char *file, int line) {
    tc__api f;
    tc_tensor y = t;
    if (!tc__begin(&f, "pad", t, file, line)) return tc__null();
    if (low.rank != f.x.rank || high.rank != f.x.rank) {
        tc__fail(f.c, TC_E_RANK, "pad: %d low and %d high amounts for a tensor of rank %d",
                 low.rank, high.rank, f.x.rank);
        return tc__leave_null(&f);
    }
    int padded = 0;
    for (int i = 0; i < f.x.rank; i++) padded += low.size[i] || high.size[i];
    if (padded > 1) tc__api_together(&f);
    for (int i = 0; i < f.x.rank; i++) {
        if (!tc__near_check(&f, low.size[i]) || !tc__near_check(&f, high.size[i]))
            return tc__leave_null(&f);
        if (low.size[i] || high.size[i])
            y = tc__pad(&f, y, i, low.size[i], high.size[i], value, f.x.dtype);
    }
    return tc__leave(&f, y.id == t.id ? tc__copy(&f, t) : y);
}

TCDEF tc_tensor tc_unfold_at(tc_tensor t, int dim, int64_t size, int64_t step,
                             const char *file, int line) {
    tc__api f;
    int64_t k = dim;
    tc_dims one = TC_DIMS(size);
    if (!tc__begin(&f, "unfold", t, file, line)) return tc__null();
    if (!tc__dim_check(&f, f.x.rank, &k)) return tc__leave_null(&f);
    int64_t n = f.x.rank ? tc__meta_size(&f.x, (int)k) : 1;
    if (size < 1 || step < 1 || size > n) {
        tc__fail(f.c, size < 1 || step < 1 ? TC_E_ARG : TC_E_SHAPE,
                 "unfold: windows of %lld, %lld apart, over dimension %lld of size %lld; "
                 "both must be at least 1 and the window at most the size",
                 (long long)size, (long long)step, (long long)k, (long long)n);
        return tc__leave_null(&f);
    }
    if (!f.x.rank) return tc__leave(&f, tc__reshape(&f, t, &one)); // its one window
    // A result of its own: elements of windows that overlap would be one in memory.
    tc_tensor y = tc__window(&f, t, (int)k, size, step < n ? step : n, 1);
    return tc__leave(&f, y.id && !tc__is_recording(f.c) ? tc__cast(&f, y, f.x.dtype) : y);
}

// ---- joining and splitting ----

// The context of a list; 0 = it is empty or all null, or too long for the op (reported).
static int tc__api_list(tc__api *f, const char *who, const tc_tensor *list, int n,
                        const char *file, int line) {
    tc_ctx *c = list && n > 0 ? tc__ctx_of_all(list, (uint32_t)n) : NULL;
    if (n < 1) {
        c = tc__ctx_at_hand();
        return c && tc__api_open(f, c, who, file, line) &&
               tc__fail(c, TC_E_ARG, "%s: %d tensors; at least one is needed", f->who, n);
    }
    if (!c) return tc__fail_lost(who, list ? list[0] : tc__null(), file, line), 0;
    return tc__api_open(f, c, who, file, line) && tc__meta_get(f, list[0], &f->x);
}

static tc_tensor tc__cat(const tc__api *f, const tc_tensor *list, int n, int dim) {
    int64_t attr = dim;
    return tc__prim_n(f, TC_OP_CAT, list, (uint32_t)n, &attr, 1);
}

// More operands than one primitive takes are joined by halves.
static tc_tensor tc__cat_any(const tc__api *f, const tc_tensor *list, int n, int dim) {
    tc_tensor half[2];
    if (n <= TC__MAX_OPERANDS) return tc__cat(f, list, n, dim);
    half[0] = tc__cat_any(f, list, n / 2, dim);
    half[1] = tc__cat_any(f, list + n / 2, n - n / 2, dim);
    return tc__cat(f, half, 2, dim);
}

TCDEF tc_tensor tc_cat_at(const tc_tensor *list, int n, int dim, const char *file,
                          int line) {
    tc__api f;
    int64_t k = dim;
    if (!tc__api_list(&f, "cat", list, n, file, line) || !tc__dim_need(&f, &k))
        return tc__null();
    tc__api_enter(&f);
    return tc__leave(&f, tc__cat_any(&f, list, n, (int)k));
}

TCDEF tc_tensor tc_stack_at(const tc_tensor *list, int n, int dim, const char *file,
                            int line) {
    tc__api f;
    int64_t k = dim;
    tc_tensor y = tc__null();
    if (!tc__api_list(&f, "stack", list, n, file, line)) return y;
    if (!tc__rank_check(&f, f.x.rank + 1) || !tc__dim_check(&f, f.x.rank + 1, &k)) return y;
    tc_tensor *part = TC__NEW_ARRAY(f.c, tc_tensor, n);
    if (!part) return y;
    tc__api_enter(&f);
    int ok = 1;
    for (int i = 0; i < n && ok; i++) {
        part[i] = list[i].id ? tc_unsqueeze_at(list[i], (int)k, file, line) : list[i];
        ok = part[i].id != 0 || !list[i].id; // a null one is reported by what follows
    }
    if (ok) y = tc__cat_any(&f, part, n, (int)k);
    y = tc__leave(&f, y);
    tc__free(f.c, part, (size_t)n * sizeof *part);
    return y;
}

static int tc__split(tc__api *f, tc_tensor t, int64_t size, int dim, tc_tensor *out,
                     int max) {
    int64_t n = tc__meta_size(&f->x, dim), count = n ? (n - 1) / size + 1 : 1;
    if (!out || max < 1 || count > max)
        return tc__fail(f->c, TC_E_ARG, "%s: %lld pieces, out has room for %d", f->who,
                        (long long)count, out ? max : 0);
    for (int64_t i = 0; i < count; i++)
        out[i] =
            tc__slice(f, t, dim, i * size, n - i * size < size ? n - i * size : size, 1);
    return (int)count;
}

TCDEF int tc_split_at(tc_tensor t, int64_t size, int dim, tc_tensor *out, int max,
                      const char *file, int line) {
    tc__api f;
    int64_t k = dim;
    if (!tc__api_of(&f, "split", t, file, line) || !tc__dim_need(&f, &k)) return 0;
    if (size < 1)
        return tc__fail(f.c, TC_E_ARG, "split: pieces of %lld; at least 1 is needed",
                        (long long)size);
    return tc__split(&f, t, size, (int)k, out, max);
}

TCDEF int tc_chunk_at(tc_tensor t, int chunks, int dim, tc_tensor *out, int max,
                      const char *file, int line) {
    tc__api f;
    int64_t k = dim;
    if (!tc__api_of(&f, "chunk", t, file, line) || !tc__dim_need(&f, &k)) return 0;
    if (chunks < 1)
        return tc__fail(f.c, TC_E_ARG, "chunk: %d pieces; at least 1 is needed", chunks);
    int64_t n = tc__meta_size(&f.x, (int)k), size = n ? (n - 1) / chunks + 1 : 1;
    return tc__split(&f, t, size, (int)k, out, max);
}

// ---- repeating ----

// Repeats blocks of `inner` elements `times` times in a row; the sizes are set by the
// caller.
static tc_tensor tc__repeat_blocks(const tc__api *f, tc_tensor t, int64_t outer,
                                   int64_t inner, int64_t times) {
    tc_dims one = TC_DIMS(outer, 1, inner), many = TC_DIMS(outer, times, inner);
    t = tc__as_value(f, t, f->x.dtype);
    return tc__expand(f, tc__reshape(f, t, &one), &many);
}

// Dimension k of d that many times over; 0 = too large (reported).
static int tc__dims_times(const tc__api *f, tc_dims *d, int k, int64_t times) {
    int64_t n = d->size[k];
    if (times && n > TC__FAR / times)
        return tc__fail(f->c, TC_E_TOO_BIG,
                        "%s: dimension %d, of size %lld, %lld times over", f->who, k,
                        (long long)n, (long long)times);
    d->size[k] = n * times;
    return 1;
}

TCDEF tc_tensor tc_tile_at(tc_tensor t, tc_dims repeats, const char *file, int line) {
    tc__api f;
    if (!tc__begin(&f, "tile", t, file, line)) return tc__null();
    tc_dims d = tc__dims_shape(&f);
    if (!tc__rank_check(&f, repeats.rank)) return tc__leave_null(&f);
    while (repeats.rank < d.rank) tc__dims_insert(&repeats, 0, 1);
    while (d.rank < repeats.rank) tc__dims_insert(&d, 0, 1);
    tc_tensor y = t;
    for (int i = 0; i < d.rank; i++) {
        if (repeats.size[i] < 0) {
            tc__fail(f.c, TC_E_ARG,
                     "tile: %lld repeats of dimension %d; 0 or more are needed",
                     (long long)repeats.size[i], i);
            return tc__leave_null(&f);
        }
        if (repeats.size[i] == 1) continue;
        y = tc__repeat_blocks(&f, y, tc__dims_product(&d, 0, i),
                              tc__dims_product(&d, i, d.rank), repeats.size[i]);
        if (!y.id || !tc__dims_times(&f, &d, i, repeats.size[i])) return tc__leave_null(&f);
    }
    return tc__leave(&f, tc__apart(&f, tc__reshape(&f, y, &d), t));
}

TCDEF tc_tensor tc_repeat_interleave_at(tc_tensor t, int64_t repeats, int dim,
                                        const char *file, int line) {
    tc__api f;
    int64_t k = dim;
    if (!tc__begin_together(&f, "repeat_interleave", t, file, line)) return tc__null();
    if (!tc__dim_need(&f, &k)) return tc__leave_null(&f);
    if (repeats < 0) {
        tc__fail(f.c, TC_E_ARG, "repeat_interleave: %lld repeats; 0 or more are needed",
                 (long long)repeats);
        return tc__leave_null(&f);
    }
    tc_dims d = tc__dims_shape(&f);
    tc_tensor y = tc__repeat_blocks(&f, t, tc__dims_product(&d, 0, (int)k + 1),
                                    tc__dims_product(&d, (int)k + 1, d.rank), repeats);
    if (!y.id || !tc__dims_times(&f, &d, (int)k, repeats)) return tc__leave_null(&f);
    return tc__leave(&f, tc__apart(&f, tc__reshape(&f, y, &d), t));
}

// ---- padding with elements of the tensor itself ----

// The part of t that stands before it (side 0) or behind it along dimension `dim`, `count` elements.
static tc_tensor tc__pad_part(const tc__api *f, tc_tensor t, const tc_dims *d, int dim,
                              int side, int64_t count, tc_pad_mode mode) {
    int64_t n = d->size[dim];
    tc_dims many = *d;
    many.size[dim] = count;
    switch (mode) {
    case TC_PAD_REFLECT: return tc__slice(f, t, dim, side ? n - 2 : count, count, -1);
    case TC_PAD_CIRCULAR: return tc__slice(f, t, dim, side ? 0 : n - count, count, 1);
    case TC_PAD_REPLICATE: break;
    }
    return tc__expand(f, tc__slice(f, t, dim, side ? n - 1 : 0, 1, 1), &many);
}

static int tc__pad_fits(const tc__api *f, int64_t n, int64_t low, int64_t high,
                        tc_pad_mode mode, int dim) {
    static const char *const names[] = {"reflect", "replicate", "circular"};
    if (mode < TC_PAD_REFLECT || mode > TC_PAD_CIRCULAR)
        return tc__fail(f->c, TC_E_ARG, "%s: %d is no mode; use TC_PAD_REFLECT...", f->who,
                        (int)mode);
    int64_t most = mode == TC_PAD_REFLECT ? n - 1 : n, need = low > high ? low : high;
    if (need <= 0 || (mode == TC_PAD_REPLICATE ? n > 0 : need <= most)) return 1;
    return tc__fail(f->c, TC_E_SHAPE,
                    "%s: %lld and %lld elements (%s) around dimension %d of size %lld, "
                    "which has too few",
                    f->who, (long long)low, (long long)high, names[mode], dim,
                    (long long)n);
}

// Dimension `dim` of t, of sizes *d, which become the result's. Negative amounts cut off.
static tc_tensor tc__pad_along(const tc__api *f, tc_tensor t, tc_dims *d, int dim,
                               int64_t low, int64_t high, tc_pad_mode mode) {
    tc_tensor part[3];
    int n = 0;
    int64_t cut = (low < 0 ? low : 0) + (high < 0 ? high : 0);
    if (d->size[dim] + cut < 0) {
        tc__fail(f->c, TC_E_SHAPE,
                 "%s: %lld and %lld leave dimension %d, of size %lld, a negative size; cut "
                 "off no more than there is",
                 f->who, (long long)low, (long long)high, dim, (long long)d->size[dim]);
        return tc__null();
    }
    d->size[dim] += cut;
    if (cut) t = tc__slice(f, t, dim, low < 0 ? -low : 0, d->size[dim], 1);
    if (!tc__pad_fits(f, d->size[dim], low, high, mode, dim)) return tc__null();
    if (low > 0) part[n++] = tc__pad_part(f, t, d, dim, 0, low, mode);
    part[n++] = t;
    if (high > 0) part[n++] = tc__pad_part(f, t, d, dim, 1, high, mode);
    d->size[dim] += (low > 0 ? low : 0) + (high > 0 ? high : 0);
    return n > 1 ? tc__cat(f, part, n, dim) : t;
}

TCDEF tc_tensor tc_pad_with_at(tc_tensor t, tc_dims low, tc_dims high, tc_pad_mode mode,
                               const char *file, int line) {
    tc__api f;
    tc_tensor y = t;
    int moved = 0;
    if (!tc__begin_together(&f, "pad_with", t, file, line)) return tc__null();
    if (low.rank != f.x.rank || high.rank != f.x.rank) {
        tc__fail(f.c, TC_E_RANK,
                 "pad_with: %d low and %d high amounts for a tensor of rank %d", low.rank,
                 high.rank, f.x.rank);
        return tc__leave_null(&f);
    }
    tc_dims d = tc__dims_shape(&f);
    for (int i = 0; i < f.x.rank && y.id; i++) {
        if (!tc__near_check(&f, low.size[i]) || !tc__near_check(&f, high.size[i]))
            return tc__leave_null(&f);
        moved |= low.size[i] > 0 || high.size[i] > 0;
        y = tc__pad_along(&f, y, &d, i, low.size[i], high.size[i], mode);
    }
    return tc__leave(&f, moved ? y : tc__cast(&f, y, f.x.dtype));
}

// ---- copies and conversion ----

static tc_tensor tc__cast_call(const char *who, tc_tensor t, tc_dtype dtype,
                               const char *file, int line) {
    tc__api f;
    if (!tc__api_of(&f, who, t, file, line) || !tc__dtype_check(&f, (int)dtype))
        return tc__null();
    return tc__cast(&f, t, (int)dtype);
}

TCDEF tc_tensor tc_cast_at(tc_tensor t, tc_dtype dtype, const char *file, int line) {
    return tc__cast_call("cast", t, dtype, file, line);
}

TCDEF tc_tensor tc_to_bool_at(tc_tensor t, const char *file, int line) {
    return tc__cast_call("to_bool", t, TC_BOOL, file, line);
}

TCDEF tc_tensor tc_to_u8_at(tc_tensor t, const char *file, int line) {
    return tc__cast_call("to_u8", t, TC_U8, file, line);
}

TCDEF tc_tensor tc_to_i32_at(tc_tensor t, const char *file, int line) {
    return tc__cast_call("to_i32", t, TC_I32, file, line);
}

TCDEF tc_tensor tc_to_i64_at(tc_tensor t, const char *file, int line) {
    return tc__cast_call("to_i64", t, TC_I64, file, line);
}

TCDEF tc_tensor tc_to_f32_at(tc_tensor t, const char *file, int line) {
    return tc__cast_call("to_f32", t, TC_F32, file, line);
}

TCDEF tc_tensor tc_to_f64_at(tc_tensor t, const char *file, int line) {
    return tc__cast_call("to_f64", t, TC_F64, file, line);
}

TCDEF tc_tensor tc_clone_at(tc_tensor t, const char *file, int line) {
    tc__api f;
    return tc__api_of(&f, "clone", t, file, line) ? tc__copy(&f, t) : tc__null();
}

TCDEF tc_tensor tc_contiguous_at(tc_tensor t, const char *file, int line) {
    tc__api f;
    if (!tc__api_of(&f, "contiguous", t, file, line)) return tc__null();
    uint32_t layout = tc__layout_of(f.c, t);
    int dense = layout && tc__layout_at(f.c, layout)->contiguous;
    return dense ? tc__again(&f, t) : tc__copy(&f, t);
}
