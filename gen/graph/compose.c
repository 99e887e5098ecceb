// Reductions in the user's forms, and composite ops written in public ops. A composite
// costs nothing that its parts do not: inside a region only the parts are recorded, and the
// scheduler sees through it. So every formula stands here once, in the order of operations
// that the compiled kernel keeps.
//
// Requirements for a new one: no overflow where the result has none, null optional
// operands, any leading dimensions, and tc__begin ... tc__leave around it.

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
    return tc_div_s_at(t, tc__mask_count(f, mask), f->file, f->line);
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
    const char *file = f->file;
    int line = f->line;
    (void)p;
    t = tc__as_float(f, t);
    if (tc__mask_count(f, mask) == 0)
        return tc_log_at(tc__reduce(f, TC_OP_SUM, t, mask), file, line);
    tc_tensor top = tc__reduce(f, TC_OP_AMAX, t, mask);
    tc_tensor zero = tc__scalar(f, 0, tc__float_dtype(f));
    top = tc_where_at(tc_isfinite_at(top, file, line), top, zero, file, line);
    tc_tensor e = tc_exp_at(tc_sub_at(t, top, file, line), file, line);
    tc_tensor sum = tc_log_at(tc__reduce(f, TC_OP_SUM, e, mask), file, line);
    return tc_add_at(sum, top, file, line);
}

static tc_tensor tc__var_keep(const tc__api *f, tc_tensor t, uint32_t mask,
                              double correction) {
    const char *file = f->file;
    int line = f->line;
    double n = tc__mask_count(f, mask), divisor = n - correction;
    t = tc__as_float(f, t);
    tc_tensor mean = tc_div_s_at(tc__reduce(f, TC_OP_SUM, t, mask), n, file, line);
    tc_tensor d = tc_square_at(tc_sub_at(t, mean, file, line), file, line);
    return tc_div_s_at(tc__reduce(f, TC_OP_SUM, d, mask), divisor > 0 ? divisor : 0, file,
                       line);
}

static tc_tensor tc__std_keep(const tc__api *f, tc_tensor t, uint32_t mask,
                              double correction) {
    return tc_sqrt_at(tc__var_keep(f, t, mask, correction), f->file, f->line);
}

static tc_tensor tc__norm_keep(const tc__api *f, tc_tensor t, uint32_t mask, double p) {
    const char *file = f->file;
    int line = f->line;
    t = tc__as_float(f, t);
    if (p == 2) {
        tc_tensor sum = tc__reduce(f, TC_OP_SUM, tc_square_at(t, file, line), mask);
        return tc_sqrt_at(sum, file, line);
    }
    tc_tensor a = tc_abs_at(t, file, line);
    if (p == 1) return tc__reduce(f, TC_OP_SUM, a, mask);
    if (p == tc__infinity()) return tc__reduce(f, TC_OP_AMAX, a, mask);
    if (p == -tc__infinity()) return tc__reduce(f, TC_OP_AMIN, a, mask);
    if (p == 0) {
        tc_tensor nonzero = tc_ne_s_at(a, 0, file, line);
        return tc__reduce(f, TC_OP_SUM, tc__cast(f, nonzero, tc__float_dtype(f)), mask);
    }
    tc_tensor sum = tc__reduce(f, TC_OP_SUM, tc_pow_s_at(a, p, file, line), mask);
    return tc_pow_s_at(sum, 1 / p, file, line);
}

// The sizes of x without the masked dimensions.
static tc_dims tc__dims_without(const tc__api *f, uint32_t mask) {
    tc_dims d = tc__dims_shape(f);
    for (int i = d.rank; i > 0; i--)
        if (mask >> (i - 1) & 1) tc__dims_remove(&d, i - 1);
    return d;
}

static uint32_t tc__mask_all(const tc__api *f) { return (1u << f->x.rank) - 1; }

static tc_tensor tc__reduce_dims(tc__reducer reducer, const char *who, tc_tensor t,
                                 tc_dims dims, int keepdim, double p, const char *file,
                                 int line) {
    tc__api f;
    uint32_t mask;
    if (!tc__begin_together(&f, who, t, file, line)) return tc__null();
    if (!tc__dims_mask(&f, &dims, &mask)) return tc__leave_null(&f);
    if (!dims.rank) mask = tc__mask_all(&f);
    tc__widen_half(&f, &t);
    tc_tensor y = reducer(&f, t, mask, p);
    if (keepdim || !f.x.rank) return tc__leave_rounded(&f, y);
    tc_dims d = tc__dims_without(&f, mask);
    return tc__leave_rounded(&f, tc__reshape(&f, y, &d));
}

static tc_tensor tc__reduce_one(tc__reducer reducer, const char *who, tc_tensor t, int dim,
                                double p, const char *file, int line) {
    return tc__reduce_dims(reducer, who, t, TC_DIMS(dim), 0, p, file, line);
}

// ---- softmax ----

// Frame, float operand and mask of an op along one dimension; 0 = null or reported.
static int tc__begin_along(tc__api *f, const char *who, tc_tensor *x, int dim,
                           uint32_t *mask, const char *file, int line) {
    int64_t k = dim;
    if (!tc__begin_together(f, who, *x, file, line)) return 0;
    if (!tc__dim_check(f, f->x.rank, &k)) return tc__leave_null(f), 0;
    *mask = 1u << k;
    tc__widen_half(f, x);
    *x = tc__as_float(f, *x);
    return 1;
}

// Of an op that has nothing to do for x, which tc__begin_along made.
static tc_tensor tc__leave_as_is(tc__api *f, tc_tensor x) {
    return tc__leave_rounded(f, tc__cast(f, x, tc__float_dtype(f)));
}

TCDEF tc_tensor tc_softmax_at(tc_tensor x, int dim, const char *file, int line) {
    tc__api f;
    uint32_t mask;
    if (!tc__begin_along(&f, "softmax", &x, dim, &mask, file, line)) return tc__null();
    if (tc__mask_count(&f, mask) == 0) return tc__leave_as_is(&f, x);
    tc_tensor top = tc__reduce(&f, TC_OP_AMAX, x, mask);
    tc_tensor e = tc_exp_at(tc_sub_at(x, top, file, line), file, line);
    tc_tensor sum = tc__reduce(&f, TC_OP_SUM, e, mask);
    return tc__leave_rounded(&f,
                             tc_mul_at(e, tc_reciprocal_at(sum, file, line), file, line));
}

TCDEF tc_tensor tc_log_softmax_at(tc_tensor x, int dim, const char *file, int line) {
    tc__api f;
    uint32_t mask;
    if (!tc__begin_along(&f, "log_softmax", &x, dim, &mask, file, line)) return tc__null();
    if (tc__mask_count(&f, mask) == 0) return tc__leave_as_is(&f, x);
    tc_tensor d = tc_sub_at(x, tc__reduce(&f, TC_OP_AMAX, x, mask), file, line);
    tc_tensor sum = tc__reduce(&f, TC_OP_SUM, tc_exp_at(d, file, line), mask);
    return tc__leave_rounded(&f, tc_sub_at(d, tc_log_at(sum, file, line), file, line));
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
    if (weight.id) y = tc_mul_at(y, weight, f->file, f->line);
    if (bias.id) y = tc_add_at(y, bias, f->file, f->line);
    return y;
}

// (x - mean) * rsqrt(var + eps) over the masked dimensions of x, whose sizes f->x has.
static tc_tensor tc__standardise(const tc__api *f, tc_tensor x, uint32_t mask, double eps) {
    const char *file = f->file;
    int line = f->line;
    double n = tc__mask_count(f, mask);
    tc_tensor mean = tc_div_s_at(tc__reduce(f, TC_OP_SUM, x, mask), n, file, line);
    tc_tensor d = tc_sub_at(x, mean, file, line);
    tc_tensor var = tc_div_s_at(tc__reduce(f, TC_OP_SUM, tc_square_at(d, file, line), mask),
                                n, file, line);
    return tc_mul_at(d, tc_rsqrt_at(tc_add_s_at(var, eps, file, line), file, line), file,
                     line);
}

TCDEF tc_tensor tc_layer_norm_at(tc_tensor x, tc_tensor weight, tc_tensor bias, double eps,
                                 const char *file, int line) {
    tc__api f;
    uint32_t mask;
    if (!tc__begin_along(&f, "layer_norm", &x, -1, &mask, file, line)) return tc__null();
    int64_t n = f.x.rank ? tc__meta_size(&f.x, f.x.rank - 1) : 1;
    if (!tc__param_check(&f, "weight", weight, n) || !tc__param_check(&f, "bias", bias, n))
        return tc__leave_null(&f);
    return tc__leave_rounded(
        &f, tc__scale_shift(&f, tc__standardise(&f, x, mask, eps), weight, bias));
}

TCDEF tc_tensor tc_rms_norm_at(tc_tensor x, tc_tensor weight, double eps, const char *file,
                               int line) {
    tc__api f;
    uint32_t mask;
    if (!tc__begin_along(&f, "rms_norm", &x, -1, &mask, file, line)) return tc__null();
    if (!tc__param_check(&f, "weight", weight,
                         f.x.rank ? tc__meta_size(&f.x, f.x.rank - 1) : 1))
        return tc__leave_null(&f);
    tc_tensor sum = tc__reduce(&f, TC_OP_SUM, tc_square_at(x, file, line), mask);
    tc_tensor mean = tc_div_s_at(sum, tc__mask_count(&f, mask), file, line);
    tc_tensor scale = tc_rsqrt_at(tc_add_s_at(mean, eps, file, line), file, line);
    return tc__leave_rounded(
        &f, tc__scale_shift(&f, tc_mul_at(x, scale, file, line), weight, tc__null()));
}

// A parameter [C] with ones appended, so that it stands at dimension 1 of x[N, C, ...].
static tc_tensor tc__per_channel(const tc__api *f, tc_tensor t) {
    tc_dims d;
    memset(&d, 0, sizeof d);
    if (!t.id) return t;
    for (int i = 1; i < f->x.rank; i++) d.size[d.rank++] = i == 1 ? -1 : 1;
    return tc_reshape_at(t, d, f->file, f->line);
}

// The number of channels of x[N, C, ...]; -1 = reported.
static int64_t tc__channels(const tc__api *f) {
    char x[160];
    if (f->x.rank >= 2) return tc__meta_size(&f->x, 1);
    return tc__fail(f->c, TC_E_RANK, "%s: x is %s, [N, C, ...] is needed", f->who,
                    tc__dims_text(&f->x, x)) -
           1;
}

TCDEF tc_tensor tc_group_norm_at(tc_tensor x, int groups, tc_tensor weight, tc_tensor bias,
                                 double eps, const char *file, int line) {
    tc__api f, block;
    if (!tc__begin_together(&f, "group_norm", x, file, line)) return tc__null();
    int64_t c = tc__channels(&f);
    if (c < 0 || !tc__param_check(&f, "weight", weight, c) ||
        !tc__param_check(&f, "bias", bias, c))
        return tc__leave_null(&f);
    if (groups < 1 || c % groups) {
        tc__fail(f.c, TC_E_SHAPE, "group_norm: %d groups do not divide %lld channels",
                 groups, (long long)c);
        return tc__leave_null(&f);
    }
    tc_dims d = tc__dims_shape(&f);
    int64_t rest = tc__dims_product(&d, 1, d.rank) / groups;
    tc_dims blocks = TC_DIMS(d.size[0], groups, rest);
    tc__widen_half(&f, &x);
    tc_tensor y = tc__reshape(&f, tc__as_float(&f, x), &blocks);
    if (!tc__api_of(&block, f.who, y, file, line)) return tc__leave_null(&f);
    y = tc__reshape(&f, tc__standardise(&block, y, 4, eps), &d);
    weight = tc__per_channel(&f, weight);
    return tc__leave_rounded(&f, tc__scale_shift(&f, y, weight, tc__per_channel(&f, bias)));
}

TCDEF tc_tensor tc_batch_norm_at(tc_tensor x, tc_tensor mean, tc_tensor var,
                                 tc_tensor weight, tc_tensor bias, double eps,
                                 const char *file, int line) {
    tc__api f;
    if (!tc__begin_together(&f, "batch_norm", x, file, line)) return tc__null();
    int64_t c = tc__channels(&f);
    if (c < 0 || !tc__param_check(&f, "mean", mean, c) ||
        !tc__param_check(&f, "var", var, c))
        return tc__leave_null(&f);
    if (!tc__param_check(&f, "weight", weight, c) || !tc__param_check(&f, "bias", bias, c))
        return tc__leave_null(&f);
    tc__widen_half(&f, &x);
    var = tc__widened(&f, var);
    tc_tensor scale = tc_rsqrt_at(tc_add_s_at(var, eps, file, line), file, line);
    if (weight.id) scale = tc_mul_at(scale, weight, file, line);
    tc_tensor d = tc_sub_at(x, tc__per_channel(&f, mean), file, line);
    scale = tc__per_channel(&f, scale);
    return tc__leave_rounded(&f, tc__scale_shift(&f, d, scale, tc__per_channel(&f, bias)));
}

TCDEF tc_tensor tc_normalize_at(tc_tensor x, double p, int dim, double eps,
                                const char *file, int line) {
    tc__api f;
    uint32_t mask;
    if (!tc__begin_along(&f, "normalize", &x, dim, &mask, file, line)) return tc__null();
    tc_tensor size = tc__norm_keep(&f, x, mask, p);
    return tc__leave_rounded(
        &f, tc_div_at(x, tc_maximum_s_at(size, eps, file, line), file, line));
}

TCDEF tc_tensor tc_cosine_similarity_at(tc_tensor a, tc_tensor b, int dim, double eps,
                                        const char *file, int line) {
    tc__api f;
    tc__meta m;
    if (!tc__begin_together(&f, "cosine_similarity", a, file, line)) return tc__null();
    tc__widen_with(&f, &a, b);
    b = tc__widened(&f, b);
    tc_tensor each = tc_mul_at(a, b, file, line);
    if (!each.id || !tc__meta_get(&f, each, &m)) return tc__leave_null(&f);
    tc_dims d =
        tc__meta_dims(&m); // dim counts in these, and each vector has its norm there
    a = tc__expand(&f, a, &d), b = tc__expand(&f, b, &d);
    tc_tensor dot = tc_sum_at(each, dim, file, line);
    tc_tensor x = tc_maximum_s_at(tc_norm_at(a, dim, 2, file, line), eps, file, line);
    tc_tensor y = tc_maximum_s_at(tc_norm_at(b, dim, 2, file, line), eps, file, line);
    return tc__leave_rounded(&f, tc_div_at(dot, tc_mul_at(x, y, file, line), file, line));
}

TCDEF tc_tensor tc_dropout_at(tc_tensor x, double p, const char *file, int line) {
    tc__api f;
    if (!tc__begin(&f, "dropout", x, file, line)) return tc__null();
    if (!(p >= 0 && p < 1)) {
        tc__fail(f.c, TC_E_ARG, "dropout: the probability must be in [0, 1)");
        return tc__leave_null(&f);
    }
    tc_dims d = tc__dims_shape(&f);
    tc_tensor u = tc__random(&f, TC__DRAW_UNIFORM, &d, TC_F32); // where x is
    x = tc__as_float(&f, x);
    tc_tensor kept = tc_mul_s_at(x, 1 / (1 - p), file, line);
    tc_tensor zero = tc__scalar(&f, 0, tc__float_dtype(&f));
    return tc__leave_rounded(
        &f, tc_where_at(tc_ge_s_at(u, p, file, line), kept, zero, file, line));
}

// ---- losses ----

TCDEF tc_tensor tc_mse_loss_at(tc_tensor x, tc_tensor y, const char *file, int line) {
    tc__api f;
    if (!tc__begin_together(&f, "mse_loss", x, file, line)) return tc__null();
    tc__widen_with(&f, &x, y);
    tc_tensor d = tc_square_at(tc_sub_at(x, y, file, line), file, line);
    return tc__leave_rounded(&f, tc_mean_all_at(d, file, line));
}

TCDEF tc_tensor tc_l1_loss_at(tc_tensor x, tc_tensor y, const char *file, int line) {
    tc__api f;
    if (!tc__begin_together(&f, "l1_loss", x, file, line)) return tc__null();
    tc__widen_with(&f, &x, y);
    tc_tensor d = tc_abs_at(tc_sub_at(x, y, file, line), file, line);
    return tc__leave_rounded(&f, tc_mean_all_at(d, file, line));
}

TCDEF tc_tensor tc_bce_with_logits_at(tc_tensor x, tc_tensor y, const char *file,
                                      int line) {
    tc__api f;
    if (!tc__begin_together(&f, "bce_with_logits", x, file, line)) return tc__null();
    tc__widen_with(&f, &x, y);
    x = tc__as_float(&f, x);
    tc_tensor top =
        tc_sub_at(tc_relu_at(x, file, line), tc_mul_at(x, y, file, line), file, line);
    tc_tensor e = tc_exp_at(tc_neg_at(tc_abs_at(x, file, line), file, line), file, line);
    tc_tensor loss = tc_add_at(top, tc_log1p_at(e, file, line), file, line);
    return tc__leave_rounded(&f, tc_mean_all_at(loss, file, line));
}

// The target must have the sizes of the logits without their class dimension.
static int tc__target_check(const tc__api *f, const tc__meta *m, int dim) {
    char x[160], y[160];
    int ok = f->x.rank >= 1 && m->rank == f->x.rank - 1;
    for (int i = 0; ok && i < m->rank; i++)
        ok = m->dims[i] == f->x.dims[i < dim ? i : i + 1];
    if (ok) return 1;
    return tc__fail(f->c, TC_E_SHAPE,
                    "%s: logits %s need a target of these sizes without dimension %d, got "
                    "%s",
                    f->who, tc__dims_text(&f->x, x), dim, tc__dims_text(m, y));
}

// Loss of every target: the sizes of the target.
static tc_tensor tc__cross_entropy(const tc__api *f, tc_tensor x, tc_tensor target,
                                   int dim) {
    const char *file = f->file;
    int line = f->line;
    uint32_t mask = 1u << dim;
    x = tc__as_float(f, x);
    tc_tensor d = tc_sub_at(x, tc__reduce(f, TC_OP_AMAX, x, mask), file, line);
    tc_tensor sum = tc__reduce(f, TC_OP_SUM, tc_exp_at(d, file, line), mask);
    tc_tensor hit =
        tc_gather_at(d, dim, tc_unsqueeze_at(target, dim, file, line), file, line);
    tc_tensor loss = tc_sub_at(tc_log_at(sum, file, line), hit, file, line);
    return tc_squeeze_at(loss, dim, file, line);
}

TCDEF tc_tensor tc_cross_entropy_at(tc_tensor logits, tc_tensor target, const char *file,
                                    int line) {
    tc__api f;
    tc__meta m;
    if (!tc__begin_together(&f, "cross_entropy", logits, file, line)) return tc__null();
    int dim = f.x.rank > 1;
    if (!tc__meta_get(&f, target, &m) || !tc__target_check(&f, &m, dim))
        return tc__leave_null(&f);
    tc__widen_half(&f, &logits);
    tc_tensor loss = tc__cross_entropy(&f, logits, target, dim);
    return tc__leave_rounded(&f, tc_mean_all_at(loss, file, line));
}

TCDEF tc_tensor tc_cross_entropy_ignore_at(tc_tensor logits, tc_tensor target,
                                           int64_t ignore, const char *file, int line) {
    tc__api f;
    tc__meta m;
    if (!tc__begin_together(&f, "cross_entropy_ignore", logits, file, line))
        return tc__null();
    int dim = f.x.rank > 1;
    if (!tc__meta_get(&f, target, &m) || !tc__target_check(&f, &m, dim))
        return tc__leave_null(&f);
    tc_tensor counts = tc_ne_s_at(target, (double)ignore, file, line);
    tc_tensor safe = tc_where_at(counts, target, tc__scalar(&f, 0, m.dtype), file, line);
    tc__widen_half(&f, &logits);
    tc_tensor loss = tc__cross_entropy(&f, logits, safe, dim);
    tc_tensor zero = tc__scalar(&f, 0, tc__float_dtype(&f));
    tc_tensor sum = tc_sum_all_at(tc_where_at(counts, loss, zero, file, line), file, line);
    return tc__leave_rounded(&f,
                             tc_div_at(sum, tc_sum_all_at(counts, file, line), file, line));
}
