// Ops along one dimension that are functions over whole buffers: scans, sorting, scatters. Input:
// public calls. Output: steps of the opaque ops of ops.def, which know the last dimension and the few
// dtypes that exec/opaque.c has code for. So the dimension is moved last and back again, and other dtypes
// are converted, which the kernels around it do in passing. What comes back is row-major, as the result
// of any op that computes: a copy where the dimension was another one.

// t with dimension `dim` of f->x last; a scalar as [1].
static tc_tensor tc__dim_last(const tc__api *f, tc_tensor t, int64_t dim) {
    if (!f->x.rank) return tc__as_vector(f, t);
    if (dim == f->x.rank - 1) return t;
    return tc_movedim_at(t, (int)dim, -1, f->file, f->line);
}

// A result of tc__dim_last with its dimensions where they were, rounded where t was widened.
static tc_tensor tc__dim_back(const tc__api *f, tc_tensor t, int64_t dim) {
    tc__meta m;
    tc_dims none = TC_SCALAR;
    if (!t.id || !tc__meta_get(f, t, &m)) return t;
    int dtype = f->half && m.dtype == TC_F32 ? f->half : (int)m.dtype;
    if (!f->x.rank) t = tc__reshape(f, t, &none);
    if (f->x.rank && dim != f->x.rank - 1)
        t = tc_movedim_at(t, -1, (int)dim, f->file, f->line);
    else if (dtype == m.dtype)
        return t;
    return tc__cast(f, t, dtype);
}

// ---- scans ----

static tc_tensor tc__scan(tc__op op, const char *who, tc__autocast_policy policy,
                          tc_tensor t, int dim, const char *file, int line) {
    tc__api f;
    int64_t k = dim;
    tc_tensor *const cast[] = {&t};
    if (!tc__begin(&f, who, t, file, line)) return tc__null();
    if (!tc__dim_check(&f, f.x.rank, &k)) return tc__leave_null(&f);
    if (!tc__autocast(&f, policy, cast, 1)) return tc__leave_null(&f);
    tc__widen_half(&f, &t);
    if (!tc__is_float(f.x.dtype) && f.x.dtype != TC_I64) t = tc__cast(&f, t, TC_I64);
    tc_tensor y = tc__prim(&f, op, tc__dim_last(&f, t, k), NULL, 0);
    return tc__leave(&f, tc__dim_back(&f, y, k));
}

TCDEF tc_tensor tc_cumsum_at(tc_tensor t, int dim, const char *file, int line) {
    return tc__scan(TC_OP_CUMSUM, "cumsum", TC__AUTOCAST_OF_CUMSUM, t, dim, file, line);
}

TCDEF tc_tensor tc_cumprod_at(tc_tensor t, int dim, const char *file, int line) {
    return tc__scan(TC_OP_CUMPROD, "cumprod", TC__AUTOCAST_OF_CUMPROD, t, dim, file, line);
}

// ---- order ----

// t in a dtype that has keys; converting keeps the order.
static tc_tensor tc__as_keys(const tc__api *f, tc_tensor t) {
    if (tc__is_own_class(f->x.dtype)) return t;
    return tc__cast(f, t, tc__is_rounded(f->x.dtype) ? TC_F32 : TC_I32);
}

// The indices that `op` makes of t, and the elements there, each if it is wanted.
static tc_status tc__sort_along(tc__api *f, tc__op op, tc_tensor t, int dim,
                                const int64_t *words, uint32_t n, tc_tensor *values,
                                tc_tensor *indices) {
    tc_tensor keep[2] = {tc__null(), tc__null()};
    int64_t k = dim;
    if (values && values == indices) {
        tc__fail(
            f->c, TC_E_ARG,
            "%s: values and indices are the same variable; each result needs a place of "
            "its own",
            f->who);
        return tc__leave_null(f), tc_error(f->c);
    }
    if (!tc__dim_check(f, f->x.rank, &k)) return tc__leave_null(f), tc_error(f->c);
    int last = f->x.rank ? f->x.rank - 1 : 0;
    tc_tensor x = tc__dim_last(f, t, k);
    tc_tensor at = tc__prim(f, op, tc__as_keys(f, x), words, n);
    if (at.id && values)
        keep[0] = tc__dim_back(f, tc_gather_at(x, last, at, f->file, f->line), k);
    if (at.id && indices) keep[1] = tc__dim_back(f, at, k);
    // What the gather read is no output of a region; what the caller gets is, as if it were the op's.
    if (values && keep[1].id && keep[1].id == at.id) keep[1] = tc__again(f, at);
    if (!at.id || (values && !keep[0].id) || (indices && !keep[1].id))
        return tc__leave_null(f), tc_error(f->c);
    tc__leave_many(f, keep, 2);
    if (values) *values = keep[0];
    if (indices) *indices = keep[1];
    return TC_OK;
}

TCDEF tc_tensor tc_argsort_at(tc_tensor t, int dim, int descending, const char *file,
                              int line) {
    tc__api f;
    tc_tensor at = tc__null();
    int64_t words = descending != 0;
    if (!tc__begin(&f, "argsort", t, file, line)) return tc__null();
    (void)tc__sort_along(&f, TC_OP_ARGSORT, t, dim, &words, 1, NULL, &at);
    return at;
}

TCDEF tc_status tc_sort_at(tc_tensor t, int dim, int descending, tc_tensor *values,
                           tc_tensor *indices, const char *file, int line) {
    tc__api f;
    int64_t words = descending != 0;
    if (values) *values = tc__null();
    if (indices) *indices = tc__null();
    if (!tc__begin(&f, "sort", t, file, line)) return tc__api_refused(&f, t);
    return tc__sort_along(&f, TC_OP_ARGSORT, t, dim, &words, 1, values, indices);
}

TCDEF tc_status tc_topk_at(tc_tensor t, int64_t k, int dim, int largest, tc_tensor *values,
                           tc_tensor *indices, const char *file, int line) {
    tc__api f;
    int64_t words[2];
    words[TC__TOPK_DESCENDING] = largest != 0, words[TC__TOPK_K] = k;
    if (values) *values = tc__null();
    if (indices) *indices = tc__null();
    if (!tc__begin(&f, "topk", t, file, line)) return tc__api_refused(&f, t);
    if (!f.x.rank && k != 1) {
        tc__fail(f.c, TC_E_ARG, "topk: k is %lld, a scalar has 1 element", (long long)k);
        return tc__leave_null(&f), tc_error(f.c);
    }
    return tc__sort_along(&f, TC_OP_TOPK, t, dim, words, 2, values, indices);
}

// ---- scatters ----

// Whether an op changes some elements of its operand 0, those that its operand 1, an index, names.
static int tc__changes_some(int64_t op) {
    return op == TC_OP_SCATTER || op == TC_OP_SCATTER_ADD || op == TC_OP_INDEX_ADD ||
           op == TC_OP_ROW_ADD;
}

// Whether index and src are of sizes that tc_scatter takes.
static int tc__scatter_sizes(const tc__api *f, const tc__meta *index, const tc__meta *src,
                             int64_t dim) {
    char x[160], y[160], z[160];
    int rank = f->x.rank ? f->x.rank : 1, ok = index->rank == rank && src->rank == rank;
    for (int i = 0; ok && i < rank; i++) {
        int64_t n = tc__meta_size(index, i);
        ok = n <= tc__meta_size(src, i) && (i == dim || n <= tc__meta_size(&f->x, i));
    }
    if (ok) return 1;
    return tc__fail(
        f->c, TC_E_SHAPE,
        "%s: index %s and src %s for %s along dimension %lld: the index must be "
        "no larger than src, nor than the tensor in other dimensions; slice it?",
        f->who, tc__dims_text(index, x), tc__dims_text(src, y), tc__dims_text(&f->x, z),
        (long long)dim);
}

// The first elements of src along each dimension, as many as the index has.
static tc_tensor tc__scatter_part(const tc__api *f, tc_tensor src, const tc__meta *index,
                                  const tc__meta *m) {
    for (int i = 0; i < m->rank; i++)
        if (tc__meta_size(m, i) != tc__meta_size(index, i))
            src = tc__slice(f, src, i, 0, tc__meta_size(index, i), 1);
    return src;
}

// Elements of a slice of dimension 0, fewer than which do not lie together.
enum { TC__ROW_LEAST = 16 };

// The step, on operands whose dimension `dim` is last; halves that are summed are f32.
static tc_tensor tc__scatter_prim(tc__api *f, tc__op op, tc_tensor t, tc_tensor index,
                                  tc_tensor src, int64_t dim, int src_dtype) {
    tc_tensor in[3];
    if (op != TC_OP_SCATTER && src_dtype == f->x.dtype && tc__is_half(src_dtype)) {
        tc__widen_half(f, &t);
        src = tc__cast(f, src, TC_F32);
    }
    in[0] = tc__dim_last(f, t, dim), in[2] = tc__dim_last(f, src, dim);
    in[1] =
        op == TC_OP_INDEX_ADD || op == TC_OP_ROW_ADD ? index : tc__dim_last(f, index, dim);
    tc_tensor y = tc__prim_n(f, op, in, 3, NULL, 0);
    return tc__leave(f, tc__dim_back(f, y, dim));
}

static tc_tensor tc__scatter_call(tc__op op, const char *who, tc__autocast_policy policy,
                                  tc_tensor t, int dim, tc_tensor index, tc_tensor src,
                                  const char *file, int line) {
    tc__api f;
    tc__meta i, s;
    int64_t k = dim;
    tc_tensor *const cast[] = {&t, &src};
    if (!tc__begin_two(&f, who, t, src, file, line)) return tc__null();
    if (!tc__dim_check(&f, f.x.rank, &k)) return tc__leave_null(&f);
    if (!tc__autocast(&f, policy, cast, 2)) return tc__leave_null(&f);
    if (f.x.rank <= 1) index = tc__as_vector(&f, index), src = tc__as_vector(&f, src);
    if (!tc__meta_get(&f, index, &i) || !tc__meta_get(&f, src, &s))
        return tc__leave_null(&f);
    if (!tc__scatter_sizes(&f, &i, &s, k)) return tc__leave_null(&f);
    src = tc__scatter_part(&f, src, &i, &s);
    return tc__scatter_prim(&f, op, t, index, src, k, s.dtype);
}

TCDEF tc_tensor tc_scatter_at(tc_tensor t, int dim, tc_tensor index, tc_tensor src,
                              const char *file, int line) {
    return tc__scatter_call(TC_OP_SCATTER, "scatter", TC__AUTOCAST_NONE, t, dim, index, src,
                            file, line);
}

TCDEF tc_tensor tc_scatter_add_at(tc_tensor t, int dim, tc_tensor index, tc_tensor src,
                                  const char *file, int line) {
    return tc__scatter_call(TC_OP_SCATTER_ADD, "scatter_add", TC__AUTOCAST_OF_SCATTER_ADD,
                            t, dim, index, src, file, line);
}

// Whether src has the sizes of t, and along dim that of the index.
static int tc__index_add_sizes(const tc__api *f, const tc__meta *index, const tc__meta *src,
                               int64_t dim) {
    char x[160], y[160], z[160];
    int rank = f->x.rank ? f->x.rank : 1, ok = index->rank == 1 && src->rank == rank;
    for (int i = 0; ok && i < rank; i++)
        ok = tc__meta_size(src, i) ==
             tc__meta_size(i == dim ? index : &f->x, i == dim ? 0 : i);
    if (ok) return 1;
    return tc__fail(f->c, index->rank == 1 ? TC_E_SHAPE : TC_E_RANK,
                    "index_add: index %s and src %s for %s along dimension %lld: src needs "
                    "the sizes of the tensor, and there that of the index, which has one "
                    "dimension",
                    tc__dims_text(index, x), tc__dims_text(src, y), tc__dims_text(&f->x, z),
                    (long long)dim);
}

TCDEF tc_tensor tc_index_add_at(tc_tensor t, int dim, tc_tensor index, tc_tensor src,
                                const char *file, int line) {
    tc__api f;
    tc__meta i, s;
    int64_t k = dim;
    if (!tc__begin_two(&f, "index_add", t, src, file, line)) return tc__null();
    if (!tc__dim_check(&f, f.x.rank, &k)) return tc__leave_null(&f);
    index = tc__as_vector(&f, index);
    if (f.x.rank <= 1) src = tc__as_vector(&f, src);
    if (!tc__meta_get(&f, index, &i) || !tc__meta_get(&f, src, &s))
        return tc__leave_null(&f);
    if (!tc__index_add_sizes(&f, &i, &s, k)) return tc__leave_null(&f);
    int rows = k == 0 && f.x.rank == 2 && tc__meta_size(&f.x, 1) >= TC__ROW_LEAST;
    // Rows stay as they lie, the last dimension last.
    return tc__scatter_prim(&f, rows ? TC_OP_ROW_ADD : TC_OP_INDEX_ADD, t, index, src,
                            rows ? 1 : k, s.dtype);
}
