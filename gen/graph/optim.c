// Steps of optimisers, written in public ops: what is updated is written in place, and each tensor's
// update is one kernel; on a device those of a list share a launch (kernel/list.c). Learning rates and the like are scalars of ops, so programs get them at run
// time from the second value on. The formulas are those of torch.optim.
//
// All operands are checked before the first write, so an error leaves everything as it was.

typedef struct tc__optim {
    tc__api f;    // about the parameter
    int computed; // the dtype to compute in: f32, or f64 of f64 parameters
    int at;       // number of the parameter in a list, -1 = there is none
} tc__optim;

// One parameter of AdamW: decoupled decay, moments and a step by them.
typedef struct tc__adamw {
    tc_tensor param, grad, exp_avg, exp_avg_sq;
    double lr, beta1, beta2, eps, weight_decay;
} tc__adamw;

// Whether t is a float tensor with the sizes of the parameter.
static int tc__optim_operand(const tc__optim *o, const char *what, tc_tensor t) {
    const tc__api *f = &o->f;
    tc__meta m;
    char x[160], y[160], number[24] = "";
    if (o->at >= 0) snprintf(number, sizeof number, " %d", o->at);
    if (!t.id)
        return tc__fail(f->c, TC_E_NULL, "%s: %s%s is a null tensor", f->who, what, number);
    if (!tc__meta_get(f, t, &m)) return 0;
    if (!tc__is_float(m.dtype))
        return tc__fail(f->c, TC_E_DTYPE, "%s: %s%s is %s, floats are needed", f->who, what,
                        number, tc__dtype(m.dtype)->name);
    int ok = m.rank == f->x.rank;
    for (int i = 0; ok && i < m.rank; i++) ok = m.dims[i] == f->x.dims[i];
    return ok || tc__fail(f->c, TC_E_SHAPE, "%s: %s%s is %s, its parameter %s", f->who,
                          what, number, tc__dims_text(&m, x), tc__dims_text(&f->x, y));
}

// The same for what is written.
static int tc__optim_state(const tc__optim *o, const char *what, tc_tensor t) {
    return tc__optim_operand(o, what, t) && tc__writable(&o->f, t);
}

// A frame about the parameter; 0 = null or reported.
static int tc__optim_begin(tc__optim *o, const char *who, tc_tensor param, int at,
                           const char *file, int line) {
    o->at = at;
    if (!tc__begin(&o->f, who, param, file, line)) return 0;
    o->computed = o->f.x.dtype == TC_F64 ? TC_F64 : TC_F32;
    return 1;
}

// t in the dtype that is computed in.
static tc_tensor tc__optim_value(const tc__optim *o, tc_tensor t) {
    tc__meta m;
    if (!t.id || !tc__meta_get(&o->f, t, &m) || m.dtype == o->computed) return t;
    return tc__cast(&o->f, t, o->computed);
}

// ---- AdamW ----

static int tc__adamw_check(const char *who, const tc__adamw *a, int at, const char *file,
                           int line) {
    tc__optim o;
    if (!tc__optim_begin(&o, who, a->param, at, file, line)) return 0;
    int ok = tc__optim_state(&o, "parameter", a->param) &&
             tc__optim_operand(&o, "grad", a->grad) &&
             tc__optim_state(&o, "exp_avg", a->exp_avg) &&
             tc__optim_state(&o, "exp_avg_sq", a->exp_avg_sq);
    tc__leave_null(&o.f);
    return ok;
}

// The step counter must be a float of one element in memory of its own.
static int tc__adamw_step_check(const char *who, tc_tensor step, const char *file,
                                int line) {
    tc__api f;
    char x[160];
    if (!tc__api_of(&f, who, step, file, line)) return 0;
    if (f.x.rank || !tc__is_float(f.x.dtype))
        return tc__fail(f.c, TC_E_SHAPE, "%s: step is %s%s, a scalar f32 is needed", who,
                        tc__dtype(f.x.dtype)->name, tc__dims_text(&f.x, x));
    return tc__writable(&f, step);
}

// 1 - beta^step, in f64: beta is near 1.
static tc_tensor tc__bias_correction(tc_tensor step, double beta, const char *file,
                                     int line) {
    return tc_rsub_s_at(tc_rpow_s_at(step, beta, file, line), 1, file, line);
}

// The update of one parameter at `step`, f64, which is counted already.
static int tc__adamw_update(const char *who, const tc__adamw *a, tc_tensor step, int at,
                            const char *file, int line) {
    tc__optim o;
    if (!tc__optim_begin(&o, who, a->param, at, file, line)) return 0;
    tc_tensor c1 = tc__bias_correction(step, a->beta1, file, line);
    tc_tensor c2 = tc__bias_correction(step, a->beta2, file, line);
    tc_tensor rate = tc__optim_value(&o, tc_rdiv_s_at(c1, a->lr, file, line));
    tc_tensor root = tc__optim_value(&o, tc_sqrt_at(c2, file, line));
    tc_tensor p = tc__optim_value(&o, a->param), g = tc__optim_value(&o, a->grad);
    tc_tensor m = tc__optim_value(&o, a->exp_avg), v = tc__optim_value(&o, a->exp_avg_sq);
    tc_tensor d = tc_sub_at(g, m, file, line), g2 = tc_square_at(g, file, line);
    m = tc_add_at(m, tc_mul_s_at(d, 1 - a->beta1, file, line), file, line);
    v = tc_add_at(tc_mul_s_at(v, a->beta2, file, line),
                  tc_mul_s_at(g2, 1 - a->beta2, file, line), file, line);
    tc_tensor size = tc_div_at(tc_sqrt_at(v, file, line), root, file, line);
    d = tc_div_at(m, tc_add_s_at(size, a->eps, file, line), file, line);
    p = tc_mul_s_at(p, 1 - a->lr * a->weight_decay, file, line);
    p = tc_sub_at(p, tc_mul_at(d, rate, file, line), file, line);
    int ok = tc_copy__at(a->exp_avg, m, file, line).id &&
             tc_copy__at(a->exp_avg_sq, v, file, line).id &&
             tc_copy__at(a->param, p, file, line).id;
    tc__leave_null(&o.f);
    return ok;
}

// step + 1, in place, and as f64 for the corrections.
static tc_tensor tc__adamw_count(tc_tensor step, const char *file, int line) {
    tc_tensor next = tc_add_s_at(step, 1, file, line);
    if (!next.id || !tc_copy__at(step, next, file, line).id) return tc__null();
    return tc_cast_at(next, TC_F64, file, line);
}

// Updates of n parameters, all checked first; 0 = reported, or a null tensor.
static int tc__adamw_all(const char *who, const tc_tensor *param, const tc_tensor *grad,
                         const tc_tensor *exp_avg, const tc_tensor *exp_avg_sq, int n,
                         int listed, tc_tensor step, tc__adamw a, const char *file,
                         int line) {
    tc__api f;
    int ok = tc__adamw_step_check(who, step, file, line);
    for (int write = 0; ok && write < 2; write++) {
        tc_tensor now = step;
        if (write && !tc__begin(&f, who, step, file, line)) return 0;
        if (write) now = tc__adamw_count(step, file, line);
        ok = now.id != 0;
        for (int i = 0; ok && i < n; i++) {
            int at = listed ? i : -1;
            a.param = param[i], a.grad = grad[i];
            a.exp_avg = exp_avg[i], a.exp_avg_sq = exp_avg_sq[i];
            ok = write ? tc__adamw_update(who, &a, now, at, file, line)
                       : tc__adamw_check(who, &a, at, file, line);
        }
        if (write) tc__leave_null(&f);
    }
    return ok;
}

static tc__adamw tc__adamw_of(double lr, double beta1, double beta2, double eps,
                              double weight_decay) {
    tc__adamw a;
    memset(&a, 0, sizeof a);
    a.lr = lr, a.beta1 = beta1, a.beta2 = beta2, a.eps = eps;
    a.weight_decay = weight_decay;
    return a;
}

TCDEF tc_tensor tc_adamw__at(tc_tensor param, tc_tensor grad, tc_tensor exp_avg,
                             tc_tensor exp_avg_sq, tc_tensor step, double lr, double beta1,
                             double beta2, double eps, double weight_decay,
                             const char *file, int line) {
    tc__adamw a = tc__adamw_of(lr, beta1, beta2, eps, weight_decay);
    int ok = tc__adamw_all("adamw_", &param, &grad, &exp_avg, &exp_avg_sq, 1, 0, step, a,
                           file, line);
    return ok ? param : tc__null();
}

TCDEF tc_status tc_adamw_list__at(const tc_tensor *param, const tc_tensor *grad,
                                  const tc_tensor *exp_avg, const tc_tensor *exp_avg_sq,
                                  int n, tc_tensor step, double lr, double beta1,
                                  double beta2, double eps, double weight_decay,
                                  const char *file, int line) {
    tc__adamw a = tc__adamw_of(lr, beta1, beta2, eps, weight_decay);
    tc_ctx *c = tc__ctx_of(step);
    if (!c) return tc__fail_lost("adamw_list_", step, file, line);
    if (n < 0 || (n && (!param || !grad || !exp_avg || !exp_avg_sq)))
        tc__fail(c, n < 0 ? TC_E_ARG : TC_E_NULL,
                 n < 0 ? "adamw_list_: %d parameters"
                       : "adamw_list_: an array of %d is null",
                 n);
    else if (tc__adamw_all("adamw_list_", param, grad, exp_avg, exp_avg_sq, n, 1, step, a,
                           file, line))
        return TC_OK;
    return tc_error(c) ? tc_error(c) : TC_E_NULL;
}

// ---- SGD ----

TCDEF tc_tensor tc_sgd__at(tc_tensor param, tc_tensor grad, tc_tensor momentum_buffer,
                           double lr, double momentum, double weight_decay, int nesterov,
                           const char *file, int line) {
    tc__optim o;
    if (!tc__optim_begin(&o, "sgd_", param, -1, file, line)) return tc__null();
    int ok = tc__optim_state(&o, "parameter", param) && tc__optim_operand(&o, "grad", grad);
    if (ok && momentum != 0) ok = tc__optim_state(&o, "momentum_buffer", momentum_buffer);
    if (!ok) return tc__leave_null(&o.f);
    tc_tensor p = tc__optim_value(&o, param), g = tc__optim_value(&o, grad);
    if (weight_decay != 0)
        g = tc_add_at(g, tc_mul_s_at(p, weight_decay, file, line), file, line);
    if (momentum != 0) {
        tc_tensor b = tc__optim_value(&o, momentum_buffer);
        b = tc_add_at(tc_mul_s_at(b, momentum, file, line), g, file, line);
        g = nesterov ? tc_add_at(g, tc_mul_s_at(b, momentum, file, line), file, line) : b;
        ok = tc_copy__at(momentum_buffer, b, file, line).id != 0;
    }
    p = tc_sub_at(p, tc_mul_s_at(g, lr, file, line), file, line);
    ok = ok && tc_copy__at(param, p, file, line).id;
    tc__leave_null(&o.f);
    return ok ? param : tc__null();
}
