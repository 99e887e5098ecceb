// Reductions in the user's forms, and composite ops written in public ops. A composite
// costs nothing that its parts do not: inside a region only the parts are recorded, and the
// scheduler sees through it. So every formula stands here once, in the order of operations
// that the compiled kernel keeps.
//
// Requirements for a new one: no overflow where the result has none, null optional
// operands, any leading dimensions, a declaration in api/tensor.h and a row in
// tables/composites.def. From those comes the public function, which opens a frame, calls
// the formula and rounds what it gives. In a formula public ops are called as users do: they
// are at the site of its frame, which is named f (TC__SITE).

// ---- reductions: tc__reducer gives the reduced dimensions back as size 1 ----
// The public forms of tc__NAME_keep are generated (out/reductions.inc).

typedef tc_tensor (*tc__reducer)(const tc__api *f, tc_tensor t, uint32_t mask, double p);

static tc_tensor tc__reduce(const tc__api *f, tc__op op, tc_tensor t, uint32_t mask) {
    int64_t attr = mask & ((1u << f->x.rank) - 1);
    return tc__prim(f, op, t, &attr, 1);
}

static int tc__float_dtype(const tc__api *f) {
    return tc__is_float(f->x.dtype) ? f->x.dtype : (int)TC_F32;
}

static tc_tensor tc__as_float(const tc__api *f, tc_tensor t) {
    return tc__is_float(f->x.dtype) ? t : tc__cast(f, t, TC_F32);
}

static tc_tensor tc__as_dtype(const tc__api *f, tc_tensor t, int dtype) {
    return f->x.dtype == dtype ? t : tc__cast(f, t, dtype);
}

// Number of elements under the mask.
static double tc__mask_count(const tc__api *f, uint32_t mask) {
    double n = 1;
    for (int i = 0; i < f->x.rank; i++)
        if (mask >> i & 1) n *= (double)tc__meta_size(&f->x, i);
    return n;
}

static tc_tensor tc__sum_keep(const tc__api *f, tc_tensor t, uint32_t mask, double p) {
    (void)p;
    if (!tc__is_float(f->x.dtype)) t = tc__as_dtype(f, t, TC_I64);
    return tc__reduce(f, TC_OP_SUM, t, mask);
}

static tc_tensor tc__prod_keep(const tc__api *f, tc_tensor t, uint32_t mask, double p) {
    (void)p;
    if (!tc__is_float(f->x.dtype)) t = tc__as_dtype(f, t, TC_I64);
    return tc__reduce(f, TC_OP_PROD, t, mask);
}

static tc_tensor tc__mean_keep(const tc__api *f, tc_tensor t, uint32_t mask, double p) {
    t = tc__sum_keep(f, t, mask, p);
    return tc_div_s(t, tc__mask_count(f, mask));
}

static tc_tensor tc__amax_keep(const tc__api *f, tc_tensor t, uint32_t mask, double p) {
    (void)p;
    return tc__reduce(f, f->x.dtype == TC_BOOL ? TC_OP_ANY : TC_OP_AMAX, t, mask);
}

static tc_tensor tc__amin_keep(const tc__api *f, tc_tensor t, uint32_t mask, double p) {
    (void)p;
    return tc__reduce(f, f->x.dtype == TC_BOOL ? TC_OP_ALL : TC_OP_AMIN, t, mask);
}

static tc_tensor tc__argmax_keep(const tc__api *f, tc_tensor t, uint32_t mask, double p) {
    (void)p;
    if (f->x.dtype == TC_BOOL) t = tc__cast(f, t, TC_U8);
    return tc__reduce(f, TC_OP_ARGMAX, t, mask);
}

static tc_tensor tc__argmin_keep(const tc__api *f, tc_tensor t, uint32_t mask, double p) {
    (void)p;
    if (f->x.dtype == TC_BOOL) t = tc__cast(f, t, TC_U8);
    return tc__reduce(f, TC_OP_ARGMIN, t, mask);
}

static tc_tensor tc__any_keep(const tc__api *f, tc_tensor t, uint32_t mask, double p) {
    (void)p;
    return tc__reduce(f, TC_OP_ANY, tc__as_dtype(f, t, TC_BOOL), mask);
}

static tc_tensor tc__all_keep(const tc__api *f, tc_tensor t, uint32_t mask, double p) {
    (void)p;
    return tc__reduce(f, TC_OP_ALL, tc__as_dtype(f, t, TC_BOOL), mask);
}

// An infinite maximum is not taken out: inf - inf would be NaN. Nothing has none to take out.
static tc_tensor tc__logsumexp_keep(const tc__api *f, tc_tensor t, uint32_t mask,
                                    double p) {
    (void)p;
    t = tc__as_float(f, t);
    if (tc__mask_count(f, mask) == 0) return tc_log(tc__reduce(f, TC_OP_SUM, t, mask));
    tc_tensor top = tc__reduce(f, TC_OP_AMAX, t, mask);
    tc_tensor zero = tc__scalar(f, 0, tc__float_dtype(f));
    top = tc_where(tc_isfinite(top), top, zero);
    top = tc__detach(f, top); // it cancels out
    tc_tensor e = tc_exp(tc_sub(t, top));
    tc_tensor sum = tc_log(tc__reduce(f, TC_OP_SUM, e, mask));
    return tc_add(sum, top);
}

static tc_tensor tc__var_keep(const tc__api *f, tc_tensor t, uint32_t mask,
                              double correction) {
    double n = tc__mask_count(f, mask), divisor = n - correction;
    t = tc__as_float(f, t);
    tc_tensor mean = tc_div_s(tc__reduce(f, TC_OP_SUM, t, mask), n);
    tc_tensor d = tc_square(tc__centred(f, t, mask, mean));
    return tc_div_s(tc__reduce(f, TC_OP_SUM, d, mask), divisor > 0 ? divisor : 0);
}

static tc_tensor tc__std_keep(const tc__api *f, tc_tensor t, uint32_t mask,
                              double correction) {
    return tc_sqrt(tc__var_keep(f, t, mask, correction));
}

static tc_tensor tc__norm_keep(const tc__api *f, tc_tensor t, uint32_t mask, double p) {
    t = tc__as_float(f, t);
    if (p == 2) {
        tc_tensor sum = tc__reduce(f, TC_OP_SUM, tc_square(t), mask);
        return tc_sqrt(sum);
    }
    tc_tensor a = tc_abs(t);
    if (p == 1) return tc__reduce(f, TC_OP_SUM, a, mask);
    if (p == tc__infinity()) return tc__reduce(f, TC_OP_AMAX, a, mask);
    if (p == -tc__infinity()) return tc__reduce(f, TC_OP_AMIN, a, mask);
    if (p == 0) {
        tc_tensor nonzero = tc_ne_s(a, 0);
        return tc__reduce(f, TC_OP_SUM, tc__cast(f, nonzero, tc__float_dtype(f)), mask);
    }
    tc_tensor sum = tc__reduce(f, TC_OP_SUM, tc_pow_s(a, p), mask);
    return tc_pow_s(sum, 1 / p);
}

// The sizes of x without the masked dimensions.
static tc_dims tc__dims_without(const tc__api *f, uint32_t mask) {
    tc_dims d = tc__dims_shape(f);
    for (int i = d.rank; i > 0; i--)
        if (mask >> (i - 1) & 1) tc__dims_remove(&d, i - 1);
    return d;
}

static uint32_t tc__mask_all(const tc__api *f) { return (1u << f->x.rank) - 1; }

static tc_tensor tc__reduce_dims(tc__reducer reducer, const char *who,
                                 tc__autocast_policy policy, tc_tensor t, tc_dims dims,
                                 int keepdim, double p, const char *file, int line) {
    tc__api f;
    uint32_t mask;
    tc_tensor *const cast[] = {&t};
    if (!tc__begin_together(&f, who, t, file, line)) return tc__null();
    if (!tc__dims_mask(&f, &dims, &mask)) return tc__leave_null(&f);
    if (!tc__autocast(&f, policy, cast, 1)) return tc__leave_null(&f);
    if (!dims.rank) mask = tc__mask_all(&f);
    tc__widen_half(&f, &t);
    tc_tensor y = reducer(&f, t, mask, p);
    if (keepdim || !f.x.rank) return tc__leave_rounded(&f, y);
    tc_dims d = tc__dims_without(&f, mask);
    return tc__leave_rounded(&f, tc__reshape(&f, y, &d));
}

static tc_tensor tc__reduce_one(tc__reducer reducer, const char *who,
                                tc__autocast_policy policy, tc_tensor t, int dim, double p,
                                const char *file, int line) {
    return tc__reduce_dims(reducer, who, policy, t, TC_DIMS(dim), 0, p, file, line);
}

// ---- softmax ----

// Float operand and mask of an op along one dimension; 0 = reported.
static int tc__along(tc__api *f, tc_tensor *x, int dim, uint32_t *mask) {
    int64_t k = dim;
    if (!tc__dim_check(f, f->x.rank, &k)) return 0;
    *mask = 1u << k;
    tc__widen_half(f, x);
    *x = tc__as_float(f, *x);
    return 1;
}

// x less its largest along the dimensions of the mask, which exp cannot overflow. What is made of it does not change
// with what was taken away, so nothing is derived through that.
static tc_tensor tc__below_top(const tc__api *f, tc_tensor x, uint32_t mask) {
    tc_tensor top = tc__reduce(f, TC_OP_AMAX, x, mask);
    return tc_sub(x, tc__detach(f, top));
}

static tc_tensor tc__softmax(tc__api *f, tc_tensor x, int dim) {
    uint32_t mask;
    if (!tc__along(f, &x, dim, &mask)) return tc__null();
    if (tc__mask_count(f, mask) == 0) return tc__cast(f, x, tc__float_dtype(f));
    tc_tensor e = tc_exp(tc__below_top(f, x, mask));
    tc_tensor sum = tc__reduce(f, TC_OP_SUM, e, mask);
    return tc_mul(e, tc_reciprocal(sum));
}

static tc_tensor tc__log_softmax(tc__api *f, tc_tensor x, int dim) {
    uint32_t mask;
    if (!tc__along(f, &x, dim, &mask)) return tc__null();
    if (tc__mask_count(f, mask) == 0) return tc__cast(f, x, tc__float_dtype(f));
    tc_tensor d = tc__below_top(f, x, mask);
    tc_tensor sum = tc__reduce(f, TC_OP_SUM, tc_exp(d), mask);
    return tc_sub(d, tc_log(sum));
}

// ---- normalisation ----

// tc__widen_half of x, which is combined with another operand: what they make in common is the result.
static void tc__widen_with(tc__api *f, tc_tensor *x, tc_tensor other) {
    tc__meta m;
    int dtype = f->x.dtype;
    tc__widen_half(f, x);
    if (f->half && other.id && tc__meta_get(f, other, &m) && tc__is_float(m.dtype) &&
        m.dtype != dtype)
        f->half = 0;
}

// Checks that an optional parameter is [n].
static int tc__param_check(const tc__api *f, const char *name, tc_tensor t, int64_t n) {
    tc__meta m;
    char x[160], y[160];
    if (!t.id) return 1;
    if (!tc__meta_get(f, t, &m)) return 0;
    if (m.rank == 1 && tc__meta_size(&m, 0) == n) return 1;
    return tc__fail(f->c, TC_E_SHAPE, "%s: the %s is %s, [%lld] is needed for %s", f->who,
                    name, tc__dims_text(&m, x), (long long)n, tc__dims_text(&f->x, y));
}

// y * weight + bias, each left out if null.
static tc_tensor tc__scale_shift(const tc__api *f, tc_tensor y, tc_tensor weight,
                                 tc_tensor bias) {
    if (weight.id) y = tc_mul(y, weight);
    if (bias.id) y = tc_add(y, bias);
    return y;
}

// (x - mean) * rsqrt(var + eps) over the masked dimensions of x, whose sizes f->x has.
static tc_tensor tc__standardise(const tc__api *f, tc_tensor x, uint32_t mask, double eps) {
    double n = tc__mask_count(f, mask);
    tc_tensor mean = tc_div_s(tc__reduce(f, TC_OP_SUM, x, mask), n);
    tc_tensor d = tc__centred(f, x, mask, mean);
    tc_tensor var = tc_div_s(tc__reduce(f, TC_OP_SUM, tc_square(d), mask), n);
    return tc_mul(d, tc_rsqrt(tc_add_s(var, eps)));
}

static tc_tensor tc__layer_norm(tc__api *f, tc_tensor x, tc_tensor weight, tc_tensor bias,
                                double eps) {
    uint32_t mask;
    if (!tc__along(f, &x, -1, &mask)) return tc__null();
    int64_t n = f->x.rank ? tc__meta_size(&f->x, f->x.rank - 1) : 1;
    if (!tc__param_check(f, "weight", weight, n) || !tc__param_check(f, "bias", bias, n))
        return tc__null();
    return tc__scale_shift(f, tc__standardise(f, x, mask, eps), weight, bias);
}

static tc_tensor tc__rms_norm(tc__api *f, tc_tensor x, tc_tensor weight, double eps) {
    uint32_t mask;
    if (!tc__along(f, &x, -1, &mask)) return tc__null();
    if (!tc__param_check(f, "weight", weight,
                         f->x.rank ? tc__meta_size(&f->x, f->x.rank - 1) : 1))
        return tc__null();
    tc_tensor sum = tc__reduce(f, TC_OP_SUM, tc_square(x), mask);
    tc_tensor mean = tc_div_s(sum, tc__mask_count(f, mask));
    tc_tensor scale = tc_rsqrt(tc_add_s(mean, eps));
    return tc__scale_shift(f, tc_mul(x, scale), weight, tc__null());
}

// A parameter [C] with ones appended, so that it stands at dimension 1 of x[N, C, ...].
static tc_tensor tc__per_channel(const tc__api *f, tc_tensor t) {
    tc_dims d;
    memset(&d, 0, sizeof d);
    if (!t.id) return t;
    for (int i = 1; i < f->x.rank; i++) d.size[d.rank++] = i == 1 ? -1 : 1;
    return tc_reshape(t, d);
}

// The number of channels of x[N, C, ...]; -1 = reported.
static int64_t tc__channels(const tc__api *f) {
    char x[160];
    if (f->x.rank >= 2) return tc__meta_size(&f->x, 1);
    return tc__fail(f->c, TC_E_RANK, "%s: x is %s, [N, C, ...] is needed", f->who,
                    tc__dims_text(&f->x, x)) -
           1;
}

static tc_tensor tc__group_norm(tc__api *f, tc_tensor x, int groups, tc_tensor weight,
                                tc_tensor bias, double eps) {
    tc__api block;
    int64_t c = tc__channels(f);
    if (c < 0 || !tc__param_check(f, "weight", weight, c) ||
        !tc__param_check(f, "bias", bias, c))
        return tc__null();
    if (groups < 1 || c % groups) {
        tc__fail(f->c, TC_E_SHAPE, "group_norm: %d groups do not divide %lld channels",
                 groups, (long long)c);
        return tc__null();
    }
    tc_dims d = tc__dims_shape(f);
    int64_t rest = tc__dims_product(&d, 1, d.rank) / groups;
    tc_dims blocks = TC_DIMS(d.size[0], groups, rest);
    tc__widen_half(f, &x);
    tc_tensor y = tc__reshape(f, tc__as_float(f, x), &blocks);
    if (!tc__api_about(f, &block, y)) return tc__null();
    y = tc__reshape(f, tc__standardise(&block, y, 4, eps), &d);
    weight = tc__per_channel(f, weight);
    return tc__scale_shift(f, y, weight, tc__per_channel(f, bias));
}

static tc_tensor tc__batch_norm(tc__api *f, tc_tensor x, tc_tensor mean, tc_tensor var,
                                tc_tensor weight, tc_tensor bias, double eps) {
    int64_t c = tc__channels(f);
    if (c < 0 || !tc__param_check(f, "mean", mean, c) || !tc__param_check(f, "var", var, c))
        return tc__null();
    if (!tc__param_check(f, "weight", weight, c) || !tc__param_check(f, "bias", bias, c))
        return tc__null();
    tc__widen_half(f, &x);
    var = tc__widened(f, var);
    tc_tensor scale = tc_rsqrt(tc_add_s(var, eps));
    if (weight.id) scale = tc_mul(scale, weight);
    tc_tensor d = tc_sub(x, tc__per_channel(f, mean));
    scale = tc__per_channel(f, scale);
    return tc__scale_shift(f, d, scale, tc__per_channel(f, bias));
}

static tc_tensor tc__normalize(tc__api *f, tc_tensor x, double p, int dim, double eps) {
    uint32_t mask;
    if (!tc__along(f, &x, dim, &mask)) return tc__null();
    tc_tensor size = tc__norm_keep(f, x, mask, p);
    return tc_div(x, tc_maximum_s(size, eps));
}

static tc_tensor tc__cosine_similarity(tc__api *f, tc_tensor a, tc_tensor b, int dim,
                                       double eps) {
    tc__meta m;
    tc__widen_with(f, &a, b);
    b = tc__widened(f, b);
    tc_tensor each = tc_mul(a, b);
    if (!each.id || !tc__meta_get(f, each, &m)) return tc__null();
    tc_dims d =
        tc__meta_dims(&m); // dim counts in these, and each vector has its norm there
    f->word[TC__COSINE_SIMILARITY_DIM] = dim < 0 ? dim + (d.rank ? d.rank : 1) : dim;
    a = tc__expand(f, a, &d), b = tc__expand(f, b, &d);
    tc_tensor dot = tc_sum(each, dim);
    tc_tensor x = tc_maximum_s(tc_norm(a, dim, 2), eps);
    tc_tensor y = tc_maximum_s(tc_norm(b, dim, 2), eps);
    return tc_div(dot, tc_mul(x, y));
}

static tc_tensor tc__dropout(tc__api *f, tc_tensor x, double p) {
    if (!(p >= 0 && p < 1)) {
        tc__fail(f->c, TC_E_ARG, "dropout: the probability must be in [0, 1)");
        return tc__null();
    }
    if (tc__recorder_of(f->c)->evaluates) {
        f->bypassed = 1;
        return tc__is_float(f->x.dtype) ? tc__again(f, x) : tc__cast(f, x, TC_F32);
    }
    tc_dims d = tc__dims_shape(f);
    tc_tensor u = tc__random(f, TC__DRAW_UNIFORM, &d, TC_F32); // where x is
    x = tc__as_float(f, x);
    tc_tensor kept = tc_mul_s(x, 1 / (1 - p));
    tc_tensor zero = tc__scalar(f, 0, tc__float_dtype(f));
    return tc_where(tc_ge_s(u, p), kept, zero);
}

// ---- losses ----

static tc_tensor tc__mse_loss(tc__api *f, tc_tensor x, tc_tensor y) {
    tc__widen_with(f, &x, y);
    tc_tensor d = tc_square(tc_sub(x, y));
    return tc_mean_all(d);
}

static tc_tensor tc__l1_loss(tc__api *f, tc_tensor x, tc_tensor y) {
    tc__widen_with(f, &x, y);
    tc_tensor d = tc_abs(tc_sub(x, y));
    return tc_mean_all(d);
}

static tc_tensor tc__bce_with_logits(tc__api *f, tc_tensor x, tc_tensor y) {
    tc__widen_with(f, &x, y);
    x = tc__as_float(f, x);
    tc_tensor top = tc_relu(x);
    top = tc_sub(top, tc_mul(x, y));
    // -|x|, of slope 1 at 0 where relu has 0: together they have 1/2, as the loss does.
    tc_tensor e = tc_exp(tc_where(tc_gt_s(x, 0), tc_neg(x), x));
    tc_tensor loss = tc_add(top, tc_log1p(e));
    return tc_mean_all(loss);
}

// The target must have the sizes of the logits without their class dimension.
static int tc__target_check(const tc__api *f, const tc__meta *m, int dim) {
    char x[160], y[160];
    int ok = f->x.rank >= 1 && m->rank == f->x.rank - 1;
    if (m->dtype != TC_I32 && m->dtype != TC_I64)
        return tc__fail(f->c, TC_E_DTYPE, "%s: the target must be i32 or i64, got %s",
                        f->who, tc__dtype(m->dtype)->name);
    for (int i = 0; ok && i < m->rank; i++)
        ok = m->dims[i] == f->x.dims[i < dim ? i : i + 1];
    if (ok) return 1;
    return tc__fail(f->c, TC_E_SHAPE,
                    "%s: logits %s need a target of these sizes without dimension %d, got "
                    "%s",
                    f->who, tc__dims_text(&f->x, x), dim, tc__dims_text(m, y));
}

// Loss of every target: the sizes of the target.
static tc_tensor tc__target_loss(const tc__api *f, tc_tensor x, tc_tensor target, int dim) {
    uint32_t mask = 1u << dim;
    x = tc__as_float(f, x);
    tc_tensor d = tc__below_top(f, x, mask);
    tc_tensor sum = tc__reduce(f, TC_OP_SUM, tc_exp(d), mask);
    tc_tensor hit = tc_gather(d, dim, tc_unsqueeze(tc__from_front(f, target), dim));
    tc_tensor loss = tc_sub(tc_log(sum), hit);
    return tc_squeeze(loss, dim);
}

static tc_tensor tc__cross_entropy(tc__api *f, tc_tensor logits, tc_tensor target) {
    tc__meta m;
    int dim = f->x.rank > 1;
    if (!tc__meta_get(f, target, &m) || !tc__target_check(f, &m, dim)) return tc__null();
    tc__widen_half(f, &logits);
    tc_tensor loss = tc__target_loss(f, logits, target, dim);
    return tc_mean_all(loss);
}

static tc_tensor tc__cross_entropy_ignore(tc__api *f, tc_tensor logits, tc_tensor target,
                                          int64_t ignore) {
    tc__meta m;
    int dim = f->x.rank > 1;
    if (!tc__meta_get(f, target, &m) || !tc__target_check(f, &m, dim)) return tc__null();
    tc_tensor counts = tc_ne_s(target, (double)ignore);
    tc_tensor safe = tc_where(counts, target, tc__scalar(f, 0, m.dtype));
    tc__widen_half(f, &logits);
    tc_tensor loss = tc__target_loss(f, logits, safe, dim);
    tc_tensor zero = tc__scalar(f, 0, tc__float_dtype(f));
    tc_tensor sum = tc_sum_all(tc_where(counts, loss, zero));
    return tc_div(sum, tc_sum_all(counts));
}
