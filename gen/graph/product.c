// Products, attention and resizing in public ops: MATMUL over index maps, and gathers. Same rules as compose.c.

// ---- products ----

// An operand of matmul and its sizes as they change.
typedef struct tc__factor {
    tc_tensor t;
    tc_dims d;
    int dtype;
} tc__factor;

// The call makes something of a product and of the other operands: products of halves stay in f32, and
// the result is rounded once, to the half that all operands are of. Null ones count for nothing.
static void tc__widen_product(tc__api *f, const tc_tensor *in, int n) {
    tc__meta m;
    int dtype = TC_BOOL;
    for (int i = 0; i < n; i++)
        if (in[i].id && tc__meta_get(f, in[i], &m)) dtype = tc__promote(dtype, m.dtype);
    f->wide = 1, f->half = tc__is_half(dtype) ? dtype : 0;
}

// [..., M, K] x [..., K, N] of these dtypes.
static tc_tensor tc__product_of(const tc__api *f, tc_tensor a, int a_dtype, tc_tensor b,
                                int b_dtype) {
    tc_tensor in[2];
    int64_t dtype = TC_F32;
    in[0] = a, in[1] = b;
    int wide = f->wide && tc__is_half(tc__promote(a_dtype, b_dtype));
    return tc__prim_n(f, TC_OP_MATMUL, in, 2, &dtype, wide ? 1 : 0);
}

static int tc__factor_get(const tc__api *f, tc_tensor t, tc__factor *a) {
    tc__meta m;
    if (!tc__meta_get(f, t, &m)) return 0;
    a->t = t, a->d = tc__meta_dims(&m), a->dtype = m.dtype;
    return 1;
}

static void tc__factor_reshape(const tc__api *f, tc__factor *a, tc_dims d) {
    a->t = tc__reshape(f, tc__as_value(f, a->t, a->dtype), &d);
    a->d = d;
}

static int tc__matmul_fail(const tc__api *f, tc_status item, const tc_dims *a,
                           const tc_dims *b, const char *why) {
    char x[160], y[160];
    return tc__fail(f->c, item, "%s: %s: a is %s, b is %s", f->who, why,
                    tc__sizes_text(a, x), tc__sizes_text(b, y));
}

// Ranks and inner sizes as the user gave them.
static int tc__matmul_check(const tc__api *f, const tc_dims *a, const tc_dims *b) {
    char x[160], y[160];
    if (!a->rank || !b->rank)
        return tc__matmul_fail(f, TC_E_RANK, a, b, "a scalar has no product; use tc_mul");
    int64_t k = a->size[a->rank - 1], l = b->size[b->rank > 1 ? b->rank - 2 : 0];
    if (k == l) return 1;
    return tc__fail(f->c, TC_E_SHAPE,
                    "%s: inner sizes differ: a is %s, b is %s (%lld != %lld); transpose "
                    "one of them?",
                    f->who, tc__sizes_text(a, x), tc__sizes_text(b, y), (long long)k,
                    (long long)l);
}

// Brings the leading dimensions of both to one size; 0 = reported.
static int tc__matmul_batch(const tc__api *f, tc__factor *a, tc__factor *b) {
    int rank = a->d.rank > b->d.rank ? a->d.rank : b->d.rank;
    tc_dims x = a->d, y = b->d;
    while (x.rank < rank) tc__dims_insert(&x, 0, 1);
    while (y.rank < rank) tc__dims_insert(&y, 0, 1);
    for (int i = 0; i < rank - 2; i++) {
        if (x.size[i] != y.size[i] && x.size[i] != 1 && y.size[i] != 1)
            return tc__matmul_fail(f, TC_E_BROADCAST, &a->d, &b->d,
                                   "leading sizes do not broadcast");
        x.size[i] = y.size[i] = x.size[i] == 1 ? y.size[i] : x.size[i];
    }
    if (a->d.rank != rank || memcmp(x.size, a->d.size, sizeof x.size))
        a->t = tc__expand(f, a->t, &x);
    if (b->d.rank != rank || memcmp(y.size, b->d.size, sizeof y.size))
        b->t = tc__expand(f, b->t, &y);
    a->d = x, b->d = y;
    return 1;
}

// The product of two operands of at least 2 dimensions. A matrix on the right takes all
// rows of the left at once.
static tc_tensor tc__matmul_ranked(const tc__api *f, tc__factor a, tc__factor b) {
    tc_dims out = a.d;
    int rows = b.d.rank == 2 && a.d.rank > 2;
    if (rows) {
        int64_t k = a.d.size[a.d.rank - 1];
        tc__factor_reshape(f, &a, TC_DIMS(tc__dims_product(&a.d, 0, a.d.rank - 1), k));
    } else if (!tc__matmul_batch(f, &a, &b)) {
        return tc__null();
    }
    tc_tensor y = tc__product_of(f, a.t, a.dtype, b.t, b.dtype);
    if (!rows) return y;
    out.size[out.rank - 1] = b.d.size[1];
    return tc__reshape(f, y, &out);
}

static tc_tensor tc__dot_sum(const tc__api *f, tc_tensor a, tc_tensor b) {
    tc__meta m;
    int half = tc__is_half(f->x.dtype) && tc__meta_get(f, b, &m);
    if (half) a = tc__cast(f, a, TC_F32);
    tc_tensor y = tc_sum(tc_mul(a, b), 0);
    return half && !f->wide && m.dtype == f->x.dtype ? tc__cast(f, y, m.dtype) : y;
}

static tc_tensor tc__matmul(const tc__api *f, tc_tensor left, tc_tensor right) {
    tc__factor a, b;
    if (!tc__factor_get(f, left, &a) || !tc__factor_get(f, right, &b)) return tc__null();
    if (!tc__matmul_check(f, &a.d, &b.d)) return tc__null();
    int row = a.d.rank == 1, column = b.d.rank == 1;
    if (row && column) return tc__dot_sum(f, left, right);
    if (row) tc__factor_reshape(f, &a, TC_DIMS(1, a.d.size[0]));
    if (column) tc__factor_reshape(f, &b, TC_DIMS(b.d.size[0], 1));
    tc_tensor y = tc__matmul_ranked(f, a, b);
    if (row) return tc_squeeze(y, -2);
    return column ? tc_squeeze(y, -1) : y;
}

// Whether the bias, most often [out], broadcasts with the result [..., out] of x and the weight [out, in].
static int tc__linear_bias(const tc__api *f, const tc__meta *w, tc_tensor bias) {
    tc__meta b;
    char x[160], y[160], z[160];
    if (!bias.id) return 1;
    if (!tc__meta_get(f, bias, &b)) return 0;
    int lead = f->x.rank - b.rank, ok = 1;
    for (int i = b.rank - 1; i >= 0 && lead + i >= 0; i--) {
        int64_t n = tc__meta_size(&b, i);
        int64_t out =
            i == b.rank - 1 ? tc__meta_size(w, 0) : tc__meta_size(&f->x, lead + i);
        ok &= n == out || n == 1 || out == 1;
    }
    if (ok) return 1;
    return tc__fail(
        f->c, TC_E_SHAPE,
        "linear: x is %s, the weight %s, the bias %s; the bias must be [%lld], the "
        "first size of the weight",
        tc__dims_text(&f->x, x), tc__dims_text(w, y), tc__dims_text(&b, z),
        (long long)tc__meta_size(w, 0));
}

static tc_tensor tc__linear(tc__api *f, tc_tensor x, tc_tensor weight, tc_tensor bias) {
    tc__meta w;
    char s[160], t[160];
    if (!tc__meta_get(f, weight, &w)) return tc__null();
    if (w.rank != 2 || !f->x.rank || w.dims[1] != f->x.dims[f->x.rank - 1]) {
        tc__fail(f->c, TC_E_SHAPE,
                 "linear: x is %s, the weight %s; the weight must be [out, in] with in the "
                 "last size of x",
                 tc__dims_text(&f->x, s), tc__dims_text(&w, t));
        return tc__null();
    }
    if (!tc__linear_bias(f, &w, bias)) return tc__null();
    tc_tensor in[3];
    in[0] = x, in[1] = weight, in[2] = bias;
    if (bias.id) tc__widen_product(f, in, 3);
    tc_tensor y = tc__matmul(f, x, tc_t(weight));
    return tc__scale_shift(f, y, tc__null(), bias);
}

static tc_tensor tc__addmm(tc__api *f, tc_tensor t, tc_tensor a, tc_tensor b, double beta,
                           double alpha) {
    tc_tensor in[3];
    in[0] = t, in[1] = a, in[2] = b;
    tc__widen_product(f, in, 3);
    tc_tensor y = tc__matmul(f, a, b);
    tc_dims d = tc_shape(y);
    if (!y.id || !tc__spread_check(f, "t", t, &d)) return tc__null();
    if (alpha != 1) y = tc_mul_s(y, alpha);
    if (beta != 1) t = tc_mul_s(tc__widened(f, t), beta);
    return tc_add(y, t);
}

static tc_tensor tc__bmm(tc__api *f, tc_tensor a, tc_tensor b) {
    tc__meta m;
    if (!tc__meta_get(f, b, &m)) return tc__null();
    if (f->x.rank != 3 || m.rank != 3 || f->x.dims[0] != m.dims[0]) {
        tc_dims x = tc__dims_shape(f), y = tc__meta_dims(&m);
        tc__matmul_fail(f, TC_E_SHAPE, &x, &y,
                        "[B, M, K] and [B, K, N] are needed; use tc_matmul");
        return tc__null();
    }
    return tc__matmul(f, a, b);
}

// Both operands must have one dimension.
static int tc__vectors_check(const tc__api *f, tc_tensor b, int same) {
    tc__meta m;
    if (!tc__meta_get(f, b, &m)) return 0;
    if (f->x.rank == 1 && m.rank == 1 && (!same || f->x.dims[0] == m.dims[0])) return 1;
    tc_dims x = tc__dims_shape(f), y = tc__meta_dims(&m);
    return tc__matmul_fail(f, TC_E_SHAPE, &x, &y,
                           same ? "two vectors of one size are needed"
                                : "two vectors are needed");
}

static tc_tensor tc__dot(tc__api *f, tc_tensor a, tc_tensor b) {
    return tc__vectors_check(f, b, 1) ? tc__dot_sum(f, a, b) : tc__null();
}

static tc_tensor tc__outer(tc__api *f, tc_tensor a, tc_tensor b) {
    if (!tc__vectors_check(f, b, 0)) return tc__null();
    return tc_mul(tc_unsqueeze(a, 1), b);
}

// Newton's method from above; good to the last bit or two, which is what a scale needs.
static double tc__square_root(double v) {
    double r = v > 1 ? v : 1;
    if (!(v > 0)) return 0;
    for (int i = 0; i < 64; i++) r = (r + v / r) / 2;
    return r;
}

// What is added to the scores for a mask: itself, or 0 and -infinity for a bool one.
static tc_tensor tc__mask_scores(const tc__api *f, tc_tensor scores, tc_tensor mask,
                                 int dtype) {
    tc__meta m;
    if (!mask.id) return scores;
    if (!tc__meta_get(f, mask, &m)) return tc__null();
    if (m.dtype != TC_BOOL) return tc_add(scores, mask);
    return tc_where(mask, scores, tc__scalar(f, -tc__infinity(), dtype));
}

// Softmax of the last dimension; a row of -infinity, where nothing is attended to, gives zeros. What is
// taken out is finite, and the sum of any other row is at least 1: the largest gives exp(0).
static tc_tensor tc__attend(const tc__api *f, tc_tensor x) {
    uint32_t mask = 1u << (f->x.rank - 1);
    if (tc__mask_count(f, mask) == 0) return x;
    double least = f->x.dtype == TC_F64 ? -1.7976931348623157e308 : -3.4028234663852886e38;
    tc_tensor top = tc_maximum_s(tc__reduce(f, TC_OP_AMAX, x, mask), least);
    top = tc__detach(f, top); // it cancels out
    tc_tensor e = tc_exp(tc_sub(x, top));
    tc_tensor sum = tc_maximum_s(tc__reduce(f, TC_OP_SUM, e, mask), 1);
    return tc_mul(e, tc_reciprocal(sum));
}

// What is wrong with the sizes and dtypes of q, which f is about, k and v; TC_OK = nothing, and the sizes of the
// scores.
static tc_status tc__attention_fault(const tc__api *f, const tc__meta *k, const tc__meta *v,
                                     tc_dims *scores) {
    tc_dims q = tc__dims_shape(f), a = tc__meta_dims(k), b = tc__meta_dims(v);
    int64_t width = q.size[q.rank ? q.rank - 1 : 0];
    if (q.rank < 2 || a.rank < 2 || b.rank < 2) return TC_E_RANK;
    if (!tc__is_float(f->x.dtype) || !tc__is_float(k->dtype) || !tc__is_float(v->dtype))
        return TC_E_DTYPE;
    int64_t rows = q.size[q.rank -= 2];
    a.rank -= 2, b.rank -= 2;
    if (width != a.size[a.rank + 1] || a.size[a.rank] != b.size[b.rank]) return TC_E_SHAPE;
    if (!tc__spread_with(&q, &a) || !tc__spread_with(&q, &b)) return TC_E_BROADCAST;
    q.size[q.rank++] = rows, q.size[q.rank++] = a.size[a.rank];
    *scores = q;
    return TC_OK;
}

// What the user gave, in the user's words; 0 = reported.
static int tc__attention_check(const tc__api *f, tc_tensor k, tc_tensor v, tc_tensor mask,
                               double scale) {
    tc__meta m, n, at;
    tc_dims scores;
    char x[160], y[160], z[160];
    if (!tc__meta_get(f, k, &m) || !tc__meta_get(f, v, &n)) return 0;
    tc_status item = tc__attention_fault(f, &m, &n, &scores);
    if (item)
        return tc__fail(f->c, item,
                        "%s: q is %s%s, k %s%s, v %s%s; floats q[..., L, E], k[..., S, E], "
                        "v[..., S, F] are needed",
                        f->who, tc__dtype(f->x.dtype)->name, tc__dims_text(&f->x, x),
                        tc__dtype(m.dtype)->name, tc__dims_text(&m, y),
                        tc__dtype(n.dtype)->name, tc__dims_text(&n, z));
    if (!(scale - scale == 0))
        return tc__fail(f->c, TC_E_ARG, "%s: scale is %g; a finite number is needed",
                        f->who, scale);
    if (!mask.id) return 1;
    if (!tc__meta_get(f, mask, &at)) return 0;
    if (at.dtype != TC_BOOL && !tc__is_float(at.dtype))
        return tc__fail(f->c, TC_E_DTYPE,
                        "%s: the mask is %s, bool or a float is needed; use tc_ne_s(mask, "
                        "0) or tc_cast",
                        f->who, tc__dtype(at.dtype)->name);
    return tc__spread_check(f, "mask", mask, &scores);
}

static tc_tensor tc__scaled_dot_product_attention(tc__api *f, tc_tensor q, tc_tensor k,
                                                  tc_tensor v, tc_tensor mask, int causal,
                                                  double scale) {
    tc__api row;
    tc__meta m;
    tc_tensor in[3];
    if (!tc__attention_check(f, k, v, mask, scale) || !tc__meta_get(f, k, &m))
        return tc__null();
    double width = (double)tc__meta_size(&f->x, f->x.rank - 1);
    if (scale == 0) scale = 1 / tc__square_root(width);
    f->word[TC__ATTENTION_SCALE] = tc__value_word(scale, TC_F64);
    f->word[TC__ATTENTION_CAUSAL] = causal != 0;
    f->word[TC__ATTENTION_NAN] = 0; // a query that attends to none gives 0
    in[0] = q, in[1] = k, in[2] = mask;
    tc__widen_product(f, in, 3);
    int dtype = f->half ? (int)TC_F32 : (int)f->x.dtype;
    tc_tensor scores = tc__matmul(f, q, tc_transpose(k, -2, -1));
    scores = tc__mask_scores(f, tc_mul_s(scores, scale), mask, dtype);
    if (causal) {
        tc_dims d =
            TC_DIMS(tc__meta_size(&f->x, f->x.rank - 2), tc__meta_size(&m, m.rank - 2));
        tc_tensor past = tc_le(tc__iota(f, &d, 1), tc__iota(f, &d, 0));
        scores = tc__mask_scores(f, scores, past, dtype);
    }
    if (!tc__api_about(f, &row, scores)) return tc__null();
    tc_tensor share = tc__rounded(f, tc__attend(&row, scores)); // a factor like q, k, v
    f->wide = 0, f->half = 0; // of that product: its own dtype
    return tc__matmul(f, share, v);
}

// ---- resizing ----

enum { TC__RESIZE_MOST = 1 << 28 }; // twice the product of two such sizes is a size

// floor((first + step * i) / parts) for i < count, and with `rest` how many parts are left, both i64.
static tc_tensor tc__resize_index(const tc__api *f, int64_t first, int64_t step,
                                  int64_t parts, int64_t count, tc_tensor *rest) {
    tc_dims one = tc_dims_of(1, &count);
    tc_tensor at = tc_mul_s(tc__iota(f, &one, 0), (double)step);
    if (first) at = tc_add_s(at, (double)first);
    tc_tensor i = tc_floor_divide_s(at, (double)parts);
    if (!rest) return i;
    i = tc_maximum_s(i, 0); // nothing is before the first element
    tc_tensor whole = tc_mul_s(i, (double)parts);
    *rest = tc_maximum_s(tc_sub(at, whole), 0);
    return i;
}

// Along one dimension, between the elements below and above s; d becomes the sizes of the result.
static tc_tensor tc__resize_linear(const tc__api *f, tc_tensor x, tc_dims *d, int dim,
                                   int64_t out, int corners) {
    int64_t in = d->size[dim], parts = corners ? out - 1 : 2 * out;
    tc_dims aligned = TC_DIMS(out);
    tc_tensor rest;
    d->size[dim] = out;
    if (corners && (in == 1 || out == 1)) // the first element
        return tc__expand(f, tc__slice(f, x, dim, 0, 1, 1), d);
    for (int i = dim + 1; i < d->rank; i++) aligned.size[aligned.rank++] = 1;
    tc_tensor low = corners ? tc__resize_index(f, 0, in - 1, parts, out, &rest)
                            : tc__resize_index(f, in - out, 2 * in, parts, out, &rest);
    tc_tensor next = tc_minimum_s(tc_add_s(low, 1), (double)(in - 1));
    rest = tc__cast(f, rest, tc__float_dtype(f));
    rest = tc__reshape(f, tc_div_s(rest, (double)parts), &aligned);
    tc_tensor a = tc__index_op(f, TC_OP_TAKE, x, low, dim);
    tc_tensor b = tc__index_op(f, TC_OP_TAKE, x, next, dim);
    return tc_fma(rest, tc_sub(b, a), a);
}

static int tc__resize_check(const tc__api *f, const tc_dims *sizes, tc_interpolation mode) {
    char x[160], y[160];
    if (mode < TC_NEAREST || mode > TC_LINEAR_CORNERS)
        return tc__fail(f->c, TC_E_ARG,
                        "%s: %d is no mode; there are TC_NEAREST, TC_LINEAR and "
                        "TC_LINEAR_CORNERS",
                        f->who, (int)mode);
    if (sizes->rank < 0 || sizes->rank > f->x.rank)
        return tc__fail(f->c, TC_E_RANK, "%s: %d sizes for x of rank %d", f->who,
                        sizes->rank, f->x.rank);
    int ok = 1, lead = f->x.rank - sizes->rank;
    for (int i = 0; i < sizes->rank; i++)
        ok &= sizes->size[i] >= 1 && sizes->size[i] <= TC__RESIZE_MOST &&
              tc__meta_size(&f->x, lead + i) >= 1 &&
              tc__meta_size(&f->x, lead + i) <= TC__RESIZE_MOST;
    return ok || tc__fail(f->c, TC_E_SHAPE, "%s: %s to %s; sizes are 1 to 2^28", f->who,
                          tc__dims_text(&f->x, x), tc__sizes_text(sizes, y));
}

static tc_tensor tc__interpolate(tc__api *f, tc_tensor x, tc_dims sizes,
                                 tc_interpolation mode) {
    if (!tc__resize_check(f, &sizes, mode)) return tc__null();
    tc_dims d = tc__dims_shape(f);
    if (mode != TC_NEAREST) tc__widen_half(f, &x), x = tc__as_float(f, x);
    tc_tensor y = x;
    for (int i = 0; i < sizes.rank && y.id; i++) {
        int dim = d.rank - sizes.rank + i;
        int64_t in = d.size[dim], out = sizes.size[i];
        if (in == out) continue;
        if (mode != TC_NEAREST) {
            y = tc__resize_linear(f, y, &d, dim, out, mode == TC_LINEAR_CORNERS);
            continue;
        }
        y = tc__index_op(f, TC_OP_TAKE, y, tc__resize_index(f, 0, in, out, out, NULL), dim);
        d.size[dim] = out;
    }
    // A result of its own, whatever its sizes, and where x was an integer still one.
    return tc__cast(f, y, mode == TC_NEAREST ? (int)f->x.dtype : tc__float_dtype(f));
}
