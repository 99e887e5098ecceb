// Batch norm that trains: by the statistics of its operand, which go into running ones in place. Nothing is
// derived through what is kept; through those of the operand it is, as their formula stands here.

typedef struct tc__running {
    tc_tensor mean, var, weight, bias;
    double momentum, eps;
} tc__running;

static int tc__running_state(const tc__api *f, const char *name, tc_tensor t, int64_t n) {
    tc__meta m;
    if (!tc__operand_given(f, name, t) || !tc__param_check(f, name, t, n) ||
        !tc__meta_get(f, t, &m))
        return 0;
    if (!tc__is_arithmetic(m.dtype))
        return tc__fail(f->c, TC_E_DTYPE, "%s: the %s is %s, floats are needed", f->who,
                        name, tc__dtype(m.dtype)->name);
    return tc__writable(f, t);
}

// 0 = reported.
static int tc__running_check(const tc__api *f, const tc__running *r) {
    int64_t c = tc__channels(f);
    if (c < 0 || !tc__param_check(f, "weight", r->weight, c) ||
        !tc__param_check(f, "bias", r->bias, c))
        return 0;
    if (!(r->momentum >= 0 && r->momentum <= 1))
        return tc__fail(f->c, TC_E_ARG, "%s: momentum is %g; 0 to 1 is needed", f->who,
                        r->momentum);
    if (!tc__number_given(f, "eps", r->eps)) return 0;
    if (!r->mean.id && !r->var.id) return 1;
    return tc__running_state(f, "running_mean", r->mean, c) &&
           tc__running_state(f, "running_var", r->var, c);
}

// running = (1 - momentum) * running + momentum * now, of [1, C, 1...]
static int tc__running_keep(const tc__api *f, tc_tensor running, tc_tensor now,
                            double momentum) {
    tc_tensor was = tc_mul_s(tc__widened(f, running), 1 - momentum);
    now = tc_mul_s(tc_reshape(tc__detach(f, now), TC_DIMS(-1)), momentum);
    return tc_copy_(running, tc_add(was, now)).id != 0;
}

static tc_tensor tc__batch_norm_train(tc__api *f, tc_tensor x, const tc__running *r) {
    char text[160];
    uint32_t mask = tc__mask_all(f) & ~2u;
    double n = tc__mask_count(f, mask);
    if (n < 2) {
        tc__fail(f->c, TC_E_SHAPE,
                 "%s: x is %s, which has %g elements per channel; two are needed to train, "
                 "tc_training(tc, 0) needs none",
                 f->who, tc__dims_text(&f->x, text), n);
        return tc__null();
    }
    tc__widen_half(f, &x);
    x = tc__as_float(f, x);
    tc_tensor mean = tc_div_s(tc__reduce(f, TC_OP_SUM, x, mask), n);
    tc_tensor d = tc__centred(f, x, mask, mean);
    tc_tensor squares = tc__reduce(f, TC_OP_SUM, tc_square(d), mask);
    tc_tensor scale = tc_rsqrt(tc_add_s(tc_div_s(squares, n), r->eps));
    if (r->weight.id) scale = tc_mul(scale, tc__per_channel(f, r->weight));
    tc_tensor y = tc__scale_shift(f, d, scale, tc__per_channel(f, r->bias));
    if (!r->mean.id || !y.id) return y;
    tc_tensor var = tc_div_s(squares, n - 1);
    int kept = tc__running_keep(f, r->mean, mean, r->momentum) &&
               tc__running_keep(f, r->var, var, r->momentum);
    return kept ? y : tc__null();
}

TCDEF tc_tensor tc_batch_norm_running_at(tc_tensor x, tc_tensor running_mean,
                                         tc_tensor running_var, tc_tensor weight,
                                         tc_tensor bias, double momentum, double eps,
                                         const char *file, int line) {
    tc__api frame, *f = &frame;
    tc__running r;
    tc_tensor y = tc__null();
    r.mean = running_mean, r.var = running_var, r.weight = weight, r.bias = bias;
    r.momentum = momentum, r.eps = eps;
    if (!tc__begin(f, "batch_norm_running", x, file, line)) return y;
    int trains = !r.mean.id || !tc__recorder_of(f->c)->evaluates;
    if (tc__running_check(f, &r))
        y = trains ? tc__batch_norm_train(f, x, &r)
                   : tc_batch_norm(x, r.mean, r.var, weight, bias, eps);
    return tc__leave_rounded(f, y);
}
