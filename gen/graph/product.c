// Products, convolution and pooling in public ops: everything becomes MATMUL over index
// maps, or a sum of few slices. Same rules as compose.c.

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

// ---- convolution ----

enum { TC__CONV_TAPS = 49, TC__POOL_TAPS = 64 };

// A window over the last two dimensions of x.
typedef struct tc__conv {
    tc__api *f;
    int64_t size[2], stride[2], padding[2], dilation[2];
    int64_t out[2]; // sizes of the result
    int h;          // the dimension of height; width follows
} tc__conv;

// Sizes of the result; 0 = reported. Everything else is set.
static int tc__conv_sizes(tc__conv *v) {
    const tc__api *f = v->f;
    for (int i = 0; i < 2; i++) {
        int64_t n = tc__meta_size(&f->x, v->h + i), limit = INT32_MAX;
        if (v->stride[i] < 1 || v->dilation[i] < 1 || v->padding[i] < 0 ||
            v->size[i] > limit)
            return tc__fail(f->c, TC_E_ARG,
                            "%s: stride %lld, padding %lld, dilation %lld; stride and "
                            "dilation must be at least 1, padding at least 0",
                            f->who, (long long)v->stride[i], (long long)v->padding[i],
                            (long long)v->dilation[i]);
        int64_t left = n + 2 * v->padding[i] - v->dilation[i] * (v->size[i] - 1) - 1;
        if (left < 0 || v->size[i] < 1)
            return tc__fail(f->c, TC_E_SHAPE,
                            "%s: a window of %lld (dilation %lld) over %lld elements with "
                            "padding %lld; pad more, or take a smaller window",
                            f->who, (long long)v->size[i], (long long)v->dilation[i],
                            (long long)n, (long long)v->padding[i]);
        v->out[i] = left / v->stride[i] + 1;
    }
    return tc__dims_check(f->c, f->who, 2, v->out);
}

static tc_tensor tc__conv_pad(const tc__conv *v, tc_tensor x, double fill, int dtype) {
    for (int i = 0; i < 2; i++)
        if (v->padding[i])
            x = tc__pad(v->f, x, v->h + i, v->padding[i], v->padding[i], fill, dtype);
    return x;
}

// What tap `i` of dimension h (axis 0) or h + 1 (axis 1) sees of the padded x.
static tc_tensor tc__conv_tap(const tc__conv *v, tc_tensor x, int axis, int64_t i) {
    return tc__slice(v->f, x, v->h + axis, i * v->dilation[axis], v->out[axis],
                     v->stride[axis]);
}

// [..., H', W', KH, KW] of the padded [..., H, W].
static tc_tensor tc__conv_windows(const tc__conv *v, tc_tensor x) {
    x = tc__window(v->f, x, v->h, v->size[0], v->stride[0], v->dilation[0]);
    return tc__window(v->f, x, v->h + 1, v->size[1], v->stride[1], v->dilation[1]);
}

// A small kernel with one input channel per group, [O, 1, KH, KW].
typedef struct tc__taps {
    tc__constant of; // its contents,
    int known;       //   if it is a constant
    int dtype;
    int64_t channels; // O
    tc_tensor weight;
} tc__taps;

// Tap i of KH * KW, which is of a float dtype.
static double tc__tap_value(const tc__taps *k, int64_t o, int64_t i) {
    const int64_t *stride = k->of.layout.strides, width = k->of.layout.dims[3];
    int64_t at = o * stride[0] + i / width * stride[2] + i % width * stride[3];
    return tc__value_load(k->of.data, at, k->dtype).f;
}

// The factor of tap i: a scalar where all channels agree, else [O, 1, 1]; null where all
// are zero.
static tc_tensor tc__tap_factor(const tc__conv *v, const tc__taps *k, int64_t i) {
    int64_t count = v->size[0] * v->size[1];
    double first = k->known ? tc__tap_value(k, 0, i) : 0;
    int same = k->known;
    for (int64_t o = 1; o < k->channels && same; o++)
        same = tc__tap_value(k, o, i) == first;
    if (same) return first == 0 ? tc__null() : tc__scalar(v->f, first, k->dtype);
    tc_dims flat = TC_DIMS(k->channels, count, 1);
    return tc__slice(v->f, tc__reshape(v->f, k->weight, &flat), 1, i, 1, 1);
}

// Sum of the taps over slices of the padded x in (ky, kx) order, one fma each.
static tc_tensor tc__conv_taps(const tc__conv *v, tc_tensor x, const tc__taps *k) {
    const tc__api *f = v->f;
    tc_tensor sum = tc__null();
    for (int64_t y = 0; y < v->size[0]; y++) {
        tc_tensor row = tc__null();
        for (int64_t i = 0; i < v->size[1]; i++) {
            tc_tensor w = tc__tap_factor(v, k, y * v->size[1] + i);
            if (!w.id) continue;
            if (!row.id) row = tc__conv_tap(v, x, 0, y);
            tc_tensor part = tc__conv_tap(v, row, 1, i);
            sum = sum.id ? tc_fma(part, w, sum) : tc_mul(part, w);
        }
    }
    if (sum.id) return sum;
    return tc_mul_s(tc__conv_tap(v, tc__conv_tap(v, x, 0, 0), 1, 0), 0);
}

// The weight as taps, if it is worth unrolling: small, one input channel per group, and output channels that
// broadcast against the input's. A product would have one row for each channel: its columns would be packed
// for that alone. One channel of x for all of a weight that is not known is a product with many rows.
static int tc__conv_unrolls(const tc__conv *v, tc_tensor weight, const tc__meta *w,
                            tc__taps *k) {
    int64_t in = tc__meta_size(&v->f->x, v->h - 1);
    k->dtype = w->dtype, k->channels = tc__meta_size(w, 0), k->weight = weight;
    k->known = tc__constant_of(v->f->c, weight, &k->of);
    if (!k->channels || tc__meta_size(w, 1) != 1 || !tc__is_float(w->dtype)) return 0;
    if (v->size[0] * v->size[1] > TC__CONV_TAPS) return 0;
    return in == k->channels || (in == 1 && k->known);
}

// Windows as columns [N, G, Cg * KH * KW, H' * W'] under the weight's rows [N, G, Og, Cg *
// KH * KW].
static tc_tensor tc__conv_matmul(const tc__conv *v, tc_tensor x, tc_tensor weight,
                                 const tc__meta *w, int64_t groups) {
    const tc__api *f = v->f;
    int64_t n = tc__meta_size(&f->x, 0), o = tc__meta_size(w, 0), c = tc__meta_size(w, 1);
    int64_t k = c * v->size[0] * v->size[1], cells = v->out[0] * v->out[1];
    tc_dims order = TC_DIMS(0, 1, 4, 5, 2, 3), column = TC_DIMS(n, groups, k, cells);
    tc_dims row = TC_DIMS(1, groups, o / groups, k),
            rows = TC_DIMS(n, groups, o / groups, k);
    tc_dims out = TC_DIMS(n, o, v->out[0], v->out[1]);
    tc_tensor cols =
        tc__reshape(f, tc__permute(f, tc__conv_windows(v, x), &order), &column);
    tc_tensor left = tc__reshape(f, weight, &row);
    if (n != 1) left = tc__expand(f, left, &rows);
    return tc__reshape(f, tc__product_of(f, left, w->dtype, cols, f->x.dtype), &out);
}

// Whether x, a batch or one of it, fits the weight and the bias; along so many dimensions.
static int tc__conv_check(const tc__api *f, tc_tensor weight, tc_tensor bias,
                          int64_t groups, int along) {
    static const char *const needed[] = {"x[N, C, L] and weight[O, C / groups, K]",
                                         "x[N, C, H, W] and weight[O, C / groups, KH, KW]"};
    char x[160], y[160];
    tc__meta w;
    int channels = f->x.rank - along - 1;
    if (!tc__operand_given(f, "weight", weight) || !tc__meta_get(f, weight, &w)) return 0;
    if ((channels == 0 || channels == 1) && w.rank == along + 2 && groups >= 1 &&
        tc__meta_size(&w, 0) % groups == 0 &&
        tc__meta_size(&w, 1) * groups == tc__meta_size(&f->x, channels))
        return tc__param_check(f, "bias", bias, tc__meta_size(&w, 0));
    return tc__fail(f->c, TC_E_SHAPE,
                    "%s: x is %s, the weight %s, groups %lld; %s with groups dividing C "
                    "and O are needed",
                    f->who, tc__dims_text(&f->x, x), tc__dims_text(&w, y),
                    (long long)groups, needed[along - 1]);
}

static int64_t tc__or_one(int v) { return v ? v : 1; }

// The words of conv2d, whose x is a batch or one of it.
static void tc__conv_words(const tc__conv *v, int64_t groups, int64_t *word) {
    word[TC__CONV2D_KERNEL_H] = v->size[0], word[TC__CONV2D_KERNEL_W] = v->size[1];
    word[TC__CONV2D_STRIDE_H] = v->stride[0], word[TC__CONV2D_STRIDE_W] = v->stride[1];
    word[TC__CONV2D_PADDING_H] = tc__ix_const(v->padding[0]);
    word[TC__CONV2D_PADDING_W] = tc__ix_const(v->padding[1]);
    word[TC__CONV2D_DILATION_H] = v->dilation[0];
    word[TC__CONV2D_DILATION_W] = v->dilation[1];
    word[TC__CONV2D_GROUPS] = tc__ix_const(groups);
}

static tc_tensor tc__conv_batch(tc__api *f, tc_tensor x, tc_tensor weight, tc_tensor bias,
                                const tc_conv_options *o) {
    tc__meta w;
    tc__conv v;
    tc__taps taps;
    if (!tc__meta_get(f, weight, &w)) return tc__null();
    v.f = f, v.h = 2;
    for (int i = 0; i < 2; i++) {
        v.size[i] = tc__meta_size(&w, 2 + i), v.stride[i] = tc__or_one(o->stride[i]);
        v.dilation[i] = tc__or_one(o->dilation[i]), v.padding[i] = o->padding[i];
    }
    if (!tc__conv_sizes(&v)) return tc__null();
    tc__conv_words(&v, tc__or_one(o->groups), f->word);
    int unroll = tc__conv_unrolls(&v, weight, &w, &taps);
    if (unroll) tc__api_together(f);
    x = tc__conv_pad(&v, x, 0, f->x.dtype);
    tc_tensor in[3];
    in[0] = x, in[1] = weight, in[2] = bias;
    if (unroll || bias.id) tc__widen_product(f, in, 3);
    tc_tensor y = unroll ? tc__conv_taps(&v, tc__widened(f, x), &taps)
                         : tc__conv_matmul(&v, x, weight, &w, tc__or_one(o->groups));
    tc_dims image =
        TC_DIMS(tc__meta_size(&f->x, 0), tc__meta_size(&w, 0), v.out[0], v.out[1]);
    // One input channel and equal taps in all output channels: the sum has one channel so
    // far.
    if (unroll && tc_dim(y, 1) != image.size[1]) y = tc__expand(f, y, &image);
    if (bias.id) y = tc_add(y, tc__per_channel(f, bias));
    return tc__rounded(f, y);
}

// x[C, H, W] is a batch of one.
static tc_tensor tc__conv2d_with(tc__api *f, tc_tensor x, tc_tensor weight, tc_tensor bias,
                                 const tc_conv_options *options) {
    tc__api batch;
    tc_conv_options none;
    memset(&none, 0, sizeof none);
    if (!options) options = &none;
    if (!tc__conv_check(f, weight, bias, tc__or_one(options->groups), 2)) return tc__null();
    if (f->x.rank != 3) return tc__conv_batch(f, x, weight, bias, options);
    x = tc_unsqueeze(x, 0);
    if (!tc__api_about(f, &batch, x)) return tc__null();
    tc_tensor y = tc_squeeze(tc__conv_batch(&batch, x, weight, bias, options), 0);
    memcpy(f->word, batch.word, sizeof f->word);
    return y;
}

static tc_tensor tc__conv2d(tc__api *f, tc_tensor x, tc_tensor weight, tc_tensor bias,
                            int stride, int padding, int dilation, int groups) {
    tc_conv_options o;
    o.stride[0] = o.stride[1] = stride, o.padding[0] = o.padding[1] = padding;
    o.dilation[0] = o.dilation[1] = dilation, o.groups = groups;
    return tc__conv2d_with(f, x, weight, bias, &o);
}

static tc_tensor tc__conv1d(tc__api *f, tc_tensor x, tc_tensor weight, tc_tensor bias,
                            int stride, int padding, int dilation, int groups) {
    tc_conv_options o;
    memset(&o, 0, sizeof o);
    if (!tc__conv_check(f, weight, bias, tc__or_one(groups), 1)) return tc__null();
    o.stride[1] = stride, o.padding[1] = padding, o.dilation[1] = dilation,
    o.groups = groups;
    f->word[TC__CONV1D_STRIDE] = tc__or_one(stride);
    f->word[TC__CONV1D_DILATION] = tc__or_one(dilation);
    f->word[TC__CONV1D_GROUPS] = tc__ix_const(tc__or_one(groups));
    x = tc_unsqueeze(x, -2);
    weight = tc_unsqueeze(weight, -2);
    tc_tensor y = tc_conv2d_with(x, weight, bias, &o);
    return tc_squeeze(y, -2);
}

// ---- pooling ----

// The window of a pool over x[..., H, W]; 0 = reported.
static int tc__pool_windows(tc__conv *v, tc__api *f, int kernel, int stride, int padding) {
    if (f->x.rank < 2)
        return tc__fail(f->c, TC_E_RANK, "%s: x has rank %d, [..., H, W] is needed", f->who,
                        f->x.rank);
    if (kernel < 1)
        return tc__fail(f->c, TC_E_ARG, "%s: the kernel is %d; at least 1 is needed",
                        f->who, kernel);
    if (padding > kernel / 2)
        return tc__fail(f->c, TC_E_ARG, "%s: padding %d is more than half of the kernel %d",
                        f->who, padding, kernel);
    v->f = f, v->h = f->x.rank - 2;
    for (int i = 0; i < 2; i++) {
        v->size[i] = kernel, v->stride[i] = stride ? stride : kernel;
        v->padding[i] = padding, v->dilation[i] = 1;
    }
    return tc__conv_sizes(v);
}

// Reduces every window by `op`: small ones tap by tap, large ones as a reduction.
static tc_tensor tc__pool_2d(const tc__conv *v, tc_tensor x, tc__op op, tc__op reduction) {
    const tc__api *f = v->f;
    tc_tensor y = tc__null();
    if (v->size[0] * v->size[1] > TC__POOL_TAPS) {
        int64_t mask = (int64_t)3 << f->x.rank;
        tc_dims d = tc__dims_shape(f);
        if (!tc__rank_check(f, f->x.rank + 2)) return y;
        d.size[v->h] = v->out[0], d.size[v->h + 1] = v->out[1];
        return tc__reshape(f, tc__prim(f, reduction, tc__conv_windows(v, x), &mask, 1), &d);
    }
    for (int64_t k = 0; k < v->size[0]; k++) {
        tc_tensor row = tc__conv_tap(v, x, 0, k);
        for (int64_t i = 0; i < v->size[1]; i++) {
            tc_tensor part = tc__conv_tap(v, row, 1, i);
            y = y.id ? tc__op2(y, part, f->file, f->line, tc__form_of(op, 2, 0)) : part;
        }
    }
    return y;
}

static tc_tensor tc__avg_pool2d(tc__api *f, tc_tensor x, int kernel, int stride,
                                int padding) {
    tc__conv v;
    if (!tc__pool_windows(&v, f, kernel, stride, padding)) return tc__null();
    f->word[TC__AVG_POOL2D_STRIDE] = v.stride[0];
    tc__widen_half(f, &x);
    x = tc__conv_pad(&v, tc__as_float(f, x), 0, tc__float_dtype(f));
    tc_tensor sum = tc__pool_2d(&v, x, TC_OP_ADD, TC_OP_SUM);
    return tc_div_s(sum, (double)(v.size[0] * v.size[1]));
}

static tc_tensor tc__max_pool2d(tc__api *f, tc_tensor x, int kernel, int stride,
                                int padding) {
    tc__conv v;
    if (f->x.dtype == TC_BOOL) {
        tc__fail(f->c, TC_E_DTYPE,
                 "max_pool2d: not defined on bool; tc_cast to TC_U8 first");
        return tc__null();
    }
    if (!tc__pool_windows(&v, f, kernel, stride, padding)) return tc__null();
    f->word[TC__MAX_POOL2D_STRIDE] = v.stride[0];
    x = tc__conv_pad(&v, x, tc__least_value(f->x.dtype), f->x.dtype);
    tc_tensor y = tc__pool_2d(&v, x, TC_OP_MAXIMUM, TC_OP_AMAX);
    return kernel > 1 ? y : tc__cast(f, y, f->x.dtype); // of one element: a view so far
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
