// First values of tensors: the formulas of torch.nn.init over the numbers of the context's stream, written in place.
// Each call draws once.

TCDEF double tc_gain(tc_nonlinearity f, double slope) {
    switch (f) {
    case TC_GAIN_LINEAR: return 1;
    case TC_GAIN_SIGMOID: return 1;
    case TC_GAIN_TANH: return 5.0 / 3;
    case TC_GAIN_RELU: return tc__square_root(2);
    case TC_GAIN_LEAKY_RELU: return tc__square_root(2 / (1 + slope * slope));
    case TC_GAIN_SELU: return 0.75;
    }
    return 1;
}

// ---- what a call says ----

typedef struct tc__init_draw {
    int kind;          // TC__DRAW_UNIFORM or TC__DRAW_NORMAL
    double scale, add; // of what is drawn
} tc__init_draw;

static int tc__init_wrong(const tc__api *f, const char *what, double a, double b) {
    return tc__fail(f->c, TC_E_ARG, "%s: %s, got %g and %g", f->who, what, a, b);
}

static int tc__init_check(const tc__api *f, const tc_init *how) {
    switch (how->kind) {
    case TC_INIT_CONSTANT: return 1;
    case TC_INIT_UNIFORM:
        return how->low <= how->high ||
               tc__init_wrong(f, "uniform numbers need low <= high", how->low, how->high);
    case TC_INIT_NORMAL:
        return how->b >= 0 ||
               tc__init_wrong(f, "the deviation must not be negative", how->a, how->b);
    case TC_INIT_TRUNC_NORMAL:
        return (how->b > 0 && how->low <= how->high) ||
               tc__init_wrong(
                   f, "a truncated normal needs a deviation above 0 and low <= high",
                   how->low, how->high);
    case TC_INIT_KAIMING_UNIFORM:
    case TC_INIT_KAIMING_NORMAL:
    case TC_INIT_XAVIER_UNIFORM:
    case TC_INIT_XAVIER_NORMAL:
        return how->a >= 0 ||
               tc__init_wrong(f, "the gain must not be negative", how->a, how->b);
    }
    return tc__fail(f->c, TC_E_ARG, "%s: %d is no tc_init_kind", f->who, (int)how->kind);
}

// The variance that fans ask for; 0 = reported. torch.nn.init._calculate_fan_in_and_fan_out.
static int tc__init_variance(const tc__api *f, const tc_init *how, double *variance) {
    char text[160];
    double in, out, taps = 1;
    if (f->x.rank < 2)
        return tc__fail(
            f->c, TC_E_RANK,
            "%s: the tensor is %s; fans are of [out, in, ...], two dimensions at "
            "least",
            f->who, tc__dims_text(&f->x, text));
    for (int i = 2; i < f->x.rank; i++) taps *= (double)tc__meta_size(&f->x, i);
    in = taps * (double)tc__meta_size(&f->x, 1);
    out = taps * (double)tc__meta_size(&f->x, 0);
    int kaiming =
        how->kind == TC_INIT_KAIMING_UNIFORM || how->kind == TC_INIT_KAIMING_NORMAL;
    double fan = !kaiming ? (in + out) / 2 : how->fan == TC_FAN_OUT ? out : in;
    *variance = fan > 0 ? how->a * how->a / fan : 0;
    return 1;
}

// 0 = reported.
static int tc__init_fill(const tc__api *f, const tc_init *how, tc__init_draw *fill) {
    double variance;
    fill->kind = TC__DRAW_UNIFORM;
    if (how->kind == TC_INIT_UNIFORM) {
        fill->scale = how->high - how->low, fill->add = how->low;
        return 1;
    }
    if (how->kind == TC_INIT_NORMAL) {
        fill->kind = TC__DRAW_NORMAL, fill->scale = how->b, fill->add = how->a;
        return 1;
    }
    if (!tc__init_variance(f, how, &variance)) return 0;
    if (how->kind == TC_INIT_KAIMING_NORMAL || how->kind == TC_INIT_XAVIER_NORMAL) {
        fill->kind = TC__DRAW_NORMAL, fill->scale = tc__square_root(variance),
        fill->add = 0;
        return 1;
    }
    double bound = tc__square_root(3 * variance);
    fill->scale = 2 * bound, fill->add = -bound;
    return 1;
}

// ---- truncated normal ----

// Of x, the highest power first.
static tc_tensor tc__polynomial(const tc__api *f, tc_tensor x, const double c[8]) {
    tc_tensor y = tc_add_s(tc_mul_s(x, c[0]), c[1]);
    for (int i = 2; i < 8; i++) y = tc_add_s(tc_mul(y, x), c[i]);
    return y;
}

static tc_tensor tc__ratio(const tc__api *f, tc_tensor x, const double c[2][8]) {
    tc_tensor above = tc__polynomial(f, x, c[0]), below = tc__polynomial(f, x, c[1]);
    return tc_div(above, below);
}

// What a standard normal number is below with probability p, f64: Wichura 1988, algorithm AS241.
static tc_tensor tc__normal_below(const tc__api *f, tc_tensor p) {
    static const double middle[2][8] = {
        {2509.0809287301226727, 33430.575583588128105, 67265.770927008700853,
         45921.953931549871457, 13731.693765509461125, 1971.5909503065514427,
         133.14166789178437745, 3.3871328727963666080},
        {5226.4952788528545610, 28729.085735721942674, 39307.895800092710610,
         21213.794301586595867, 5394.1960214247511077, 687.18700749205790830,
         42.313330701600911252, 1.0}};
    static const double near[2][8] = {
        {7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1,
         1.27045825245236838258, 3.64784832476320460504, 5.76949722146069140550,
         4.63033784615654529590, 1.42343711074968357734},
        {1.05075007164441684324e-9, 5.47593808499534494600e-4, 1.51986665636164571966e-2,
         1.48103976427480074590e-1, 6.89767334985100004550e-1, 1.67638483018380384940,
         2.05319162663775882187, 1.0}};
    static const double far[2][8] = {
        {2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.24266094738807843860e-3,
         2.65321895265761230930e-2, 2.96560571828504891230e-1, 1.78482653991729133580,
         5.46378491116411436990, 6.65790464350110377720},
        {2.04426310338993978564e-15, 1.42151175831644588870e-7, 1.84631831751005468180e-5,
         7.86869131145613259100e-4, 1.48753612908506148525e-2, 1.36929880922735805310e-1,
         5.99832206555887937690e-1, 1.0}};
    tc_tensor q = tc_sub_s(p, 0.5), other = tc_rsub_s(p, 1);
    tc_tensor inside = tc_rsub_s(tc_square(q), 0.180625);
    tc_tensor at_middle = tc_mul(q, tc__ratio(f, inside, middle));
    tc_tensor tail = tc_maximum_s(tc_minimum(p, other), 1e-300);
    tc_tensor r = tc_sqrt(tc_neg(tc_log(tail)));
    tc_tensor at_near = tc__ratio(f, tc_sub_s(r, 1.6), near);
    tc_tensor at_far = tc__ratio(f, tc_sub_s(r, 5), far);
    tc_tensor size = tc_where(tc_le_s(r, 5), at_near, at_far);
    tc_tensor outside = tc_mul(tc_sign(q), size);
    return tc_where(tc_le_s(tc_abs(q), 0.425), at_middle, outside);
}

// The probability that a standard normal number is below x.
static tc_tensor tc__normal_part(const tc__api *f, double x) {
    tc_tensor t = tc_erf(tc__scalar(f, x * 0.70710678118654752440, TC_F64));
    return tc_mul_s(tc_add_s(t, 1), 0.5);
}

// Of uniform u in f64: between what both bounds leave below them.
static tc_tensor tc__trunc_normal(const tc__api *of, tc_tensor u, const tc_init *how) {
    tc__api frame, *f = &frame;
    if (!u.id || !tc__begin_together(f, of->who, u, of->file, of->line)) return tc__null();
    tc_tensor low = tc__normal_part(f, (how->low - how->a) / how->b);
    tc_tensor high = tc__normal_part(f, (how->high - how->a) / how->b);
    tc_tensor p = tc_add(tc_mul(u, tc_sub(high, low)), low);
    tc_tensor y = tc_mul_s(tc__normal_below(f, p), how->b);
    return tc__leave(f, tc_clamp(tc_add_s(y, how->a), how->low, how->high));
}

// ---- the call ----

// What t, which the frame is about, is to become; null = reported.
static tc_tensor tc__init_value(tc__api *f, const tc_init *how) {
    tc__init_draw fill;
    tc_dims d = tc__dims_shape(f);
    int dtype = tc__is_rounded(f->x.dtype) ? (int)TC_F32 : f->x.dtype;
    if (how->kind == TC_INIT_CONSTANT)
        return tc__scalar(f, how->a, tc__is_float(f->x.dtype) ? dtype : f->x.dtype);
    if (!tc__is_arithmetic(f->x.dtype)) {
        tc__fail(
            f->c, TC_E_DTYPE,
            "%s: the tensor is %s; random numbers are for floats that are computed with",
            f->who, tc__dtype(f->x.dtype)->name);
        return tc__null();
    }
    if (how->kind == TC_INIT_TRUNC_NORMAL)
        return tc__trunc_normal(f, tc__random(f, TC__DRAW_UNIFORM, &d, TC_F64), how);
    if (!tc__init_fill(f, how, &fill)) return tc__null();
    tc_tensor drawn = tc__random(f, fill.kind, &d, dtype);
    return tc_add_s(tc_mul_s(drawn, fill.scale), fill.add);
}

TCDEF tc_tensor tc_init__at(tc_tensor t, tc_init how, const char *file, int line) {
    tc__api frame, *f = &frame;
    if (!tc__api_of(f, "tc_init_", t, file, line) || !tc__init_check(f, &how) ||
        !tc__writable(f, t))
        return tc__null();
    tc__api_scope(f);
    tc_tensor value = tc__init_value(f, &how);
    int ok = value.id && tc_copy_(t, value).id;
    (void)tc__leave_null(f);
    return ok ? t : tc__null();
}
