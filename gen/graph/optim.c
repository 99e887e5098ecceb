// Steps of optimisers, written in public ops: what is updated is written in place, and each tensor's
// update is one kernel; on a device those of a list share a launch (kernel/list.c). Learning rates and the
// like are scalars of ops, so programs get them at run time from the second value on.
//
// Input: tc__updates, what a public call was given, with its checks in graph/updates.c. A formula is a
// function over one parameter, its gradient and its states, all in the dtype that is computed in: it
// replaces them by their next values. Casts and writes are said once, here.
//
// A new optimiser is a formula, a function that fills in tc__updates, and its two declarations in
// api/tensor.h. In a formula public ops are at the site of the frame f (TC__SITE).

// ---- writes ----

// t in the dtype that is computed in.
static tc_tensor tc__optim_value(const tc__optim *o, tc_tensor t) {
    tc__meta m;
    if (!t.id || !tc__meta_get(&o->f, t, &m) || m.dtype == o->computed) return t;
    return tc__cast(&o->f, t, o->computed);
}

// What formulas begin with, after the scalars that they need.
static void tc__optim_load(tc__optim *o) {
    const tc__updates *l = o->of;
    o->p = tc__optim_value(o, l->param[o->at]);
    if (l->grad) o->g = tc__optim_value(o, l->grad[o->at]);
    for (int k = 0; k < TC__OPTIM_STATES; k++)
        if (l->state[k].name) o->state[k] = tc__optim_value(o, l->state[k].at[o->at]);
}

static int tc__optim_write(tc__optim *o, const tc__updates *l, int at) {
    int ok = 1;
    if (!tc__optim_begin(o, l, at)) return 0;
    const tc__api *f = &o->f;
    l->formula(o);
    for (int k = 0; k < TC__OPTIM_STATES && ok; k++)
        if (l->state[k].name) ok = tc_copy_(l->state[k].at[at], o->state[k]).id != 0;
    ok = ok && tc_copy_(l->param[at], o->p).id;
    tc__leave_null(&o->f);
    return ok;
}

static int tc__updates_computed(const tc__updates *l, int at) {
    tc__meta m;
    return tc__meta_find(tc__ctx_of(l->param[at]), l->param[at], &m) && m.dtype == TC_F64
               ? TC_F64
               : TC_F32;
}

// In a frame f about the whole list.
static int tc__updates_write(const tc__api *f, const tc__updates *l, tc_tensor all) {
    tc__optim o;
    int ok = 1;
    memset(&o, 0, sizeof o);
    o.all = all, o.scale = tc__lr_scale_of(l, f->c);
    if (o.scale.id) o.scale = tc_cast(o.scale, TC_F64);
    for (int i = 0; ok && i < l->n; i++) {
        int computed = l->numbers ? tc__updates_computed(l, i) : o.computed;
        if (computed != o.computed)
            o.f = *f, o.of = l, o.computed = computed, l->numbers(&o);
        ok = tc__optim_write(&o, l, i);
    }
    return ok;
}

// step + 1, in place, and as f64 for what depends on it.
static tc_tensor tc__count_up(const tc__api *f, tc_tensor step) {
    tc_tensor next = tc_add_s(step, 1);
    if (!next.id || !tc_copy_(step, next).id) return tc__null();
    return tc_cast(next, TC_F64);
}

// 0 = reported, or a null tensor.
static int tc__updates_run(const tc__updates *l) {
    tc__api f;
    tc_tensor now = tc__null();
    if (!tc__updates_check(l)) return 0;
    if (!l->n && !l->counted) return 1;
    if (!tc__begin(&f, l->who, l->counted ? l->step : l->param[0], l->file, l->line))
        return 0;
    if (l->counted) now = tc__count_up(&f, l->step);
    int ok = (now.id || !l->counted) && tc__updates_write(&f, l, now);
    tc__leave_null(&f);
    return ok;
}

// ---- calls ----

static tc__updates tc__updates_of(const char *who, const tc_tensor *param,
                                  const tc_tensor *grad, int n,
                                  void (*formula)(tc__optim *), const char *file,
                                  int line) {
    tc__updates l;
    memset(&l, 0, sizeof l);
    l.who = who, l.file = file, l.line = line, l.what = "parameter";
    l.param = param, l.grad = grad, l.n = n, l.formula = formula;
    return l;
}

static void tc__updates_state(tc__updates *l, int k, const char *name,
                              const tc_tensor *at) {
    l->state[k].name = name, l->state[k].at = at;
}

static void tc__updates_count(tc__updates *l, tc_tensor step) {
    l->counted = 1, l->step = step;
}

// Gives the parameter.
static tc_tensor tc__updates_one(const tc__updates *l) {
    return tc__updates_run(l) ? l->param[0] : tc__null();
}

// The name of an array that is missing; NULL = all are there.
static const char *tc__updates_missing(const tc__updates *l) {
    if (!l->param) return l->what;
    if (!l->grad && !l->alone) return "grad";
    for (int k = 0; k < TC__OPTIM_STATES; k++)
        if (l->state[k].name && !l->state[k].at) return l->state[k].name;
    return NULL;
}

// What is wrong with the arguments that are no tensors, or NULL; *s is its status.
static const char *tc__updates_wrong(const tc__updates *l, tc_status *s, char text[120]) {
    const char *missing = l->n > 0 ? tc__updates_missing(l) : NULL;
    *s = missing ? TC_E_NULL : l->n < 0 || !(l->set.limit >= 0) ? TC_E_ARG : TC_OK;
    if (*s == TC_OK) return NULL;
    if (l->n < 0)
        snprintf(text, 120, "%d tensors; 0 or more are possible", l->n);
    else if (missing)
        snprintf(text, 120, "%s is null, an array of %d is needed", missing, l->n);
    else // or NaN
        snprintf(text, 120, "the limit is %g, 0 or more is needed", l->set.limit);
    return text;
}

// Whether all parameters are; 0 = reported, with *s.
static int tc__updates_there(const tc__updates *l, tc_ctx *c, tc_status *s) {
    tc__meta m;
    tc__site site;
    site.file = l->file, site.line = l->line;
    tc_status outer = tc__unit_begin(c);
    int ok = 1;
    tc__site_set(c, site);
    for (int i = 0; i < l->n && ok; i++) {
        if (!l->param[i].id)
            ok = tc__fail(c, TC_E_NULL, "%s: %s %d is a null tensor", l->who, l->what, i);
        else if (!tc__meta_find(c, l->param[i], &m))
            ok = tc__optim_dead(l, c, l->what, i, l->param[i]);
    }
    *s = tc__unit_end(c, outer, ok);
    return ok;
}

// The context of a list whose arrays are there, and whose parameters are not null. NULL = there is none, with
// *s TC_OK where there is nothing to do, or reported.
static tc_ctx *tc__updates_context(tc__updates *l, tc_status *s) {
    char text[120];
    const char *wrong = tc__updates_wrong(l, s, text);
    tc_tensor first = tc__updates_first(l);
    tc_ctx *c = first.id ? tc__ctx_of(first) : NULL;
    l->listed = 1;
    if (!c && !wrong && !l->counted && !l->n) return NULL;
    if (!c && !wrong) return *s = tc__fail_lost(l->who, first, l->file, l->line), c;
    if (!c) c = tc__ctx_at_hand();
    if (c && !tc__is_ours(c, l->who)) return *s = tc__not_ours(c), (tc_ctx *)NULL;
    if (wrong) {
        if (c) tc__fail(c, *s, "%s: %s", l->who, wrong);
        return NULL;
    }
    return tc__updates_there(l, c, s) ? c : NULL;
}

// Where there is a step, which all of them share, it leads to the context.
static tc_status tc__updates_list(tc__updates *l) {
    tc_status s;
    l->about = l->step;
    tc_ctx *c = tc__updates_context(l, &s);
    if (!c || tc__updates_run(l)) return s;
    return tc_error(c) ? tc_error(c) : TC_E_NULL;
}

// ---- what formulas have in common ----

// g + weight_decay * p
static void tc__optim_decay(tc__optim *o) {
    const tc__api *f = &o->f;
    double decay = o->of->set.weight_decay;
    if (decay != 0) o->g = tc_add(o->g, tc_mul_s(o->p, decay));
}

// by * x + (1 - by) * y, of x and y - x: one rounding less where they are near
static tc_tensor tc__optim_mean(const tc__api *f, tc_tensor x, double by, tc_tensor off) {
    return tc_add(x, tc_mul_s(off, 1 - by));
}

// by * x + (1 - by) * square
static tc_tensor tc__optim_mean_sq(const tc__api *f, tc_tensor x, double by,
                                   tc_tensor square) {
    tc_tensor old = tc_mul_s(x, by); // recorded first, whatever compiler orders arguments
    return tc_add(old, tc_mul_s(square, 1 - by));
}

// 1 - beta^step, in f64: beta is near 1.
static tc_tensor tc__bias_correction(const tc__api *f, tc_tensor step, double beta) {
    return tc_rsub_s(tc_rpow_s(step, beta), 1);
}

// ---- rates: lr, by the factor of tc_lr_scale_begin if there is one ----

// Whether t can be the factor of rates in c; 0 = reported.
static int tc__lr_scale_fits(tc_ctx *c, const tc__lexical *l, tc_tensor t) {
    static const char who[] = "tc_lr_scale_begin";
    tc__meta m;
    char x[160];
    if (!t.id)
        return tc__fail(c, TC_E_NULL,
                        "%s: factor is a null tensor (an earlier call failed?)", who);
    if (!tc__meta_of(c, who, t, &m)) return 0;
    if (!tc__is_arithmetic(m.dtype))
        return tc__fail(c, TC_E_DTYPE, "%s: factor is %s%s, a float is needed; tc_cast it",
                        who, tc__dtype(m.dtype)->name, tc__dims_text(&m, x));
    if (m.rank)
        return tc__fail(
            c, TC_E_SHAPE,
            "%s: factor is %s%s, a scalar is needed; tc_reshape it to TC_SCALAR, "
            "or tc_select one",
            who, tc__dtype(m.dtype)->name, tc__dims_text(&m, x));
    return !l->lr_scale.id ||
           tc__fail(c, TC_E_STATE,
                    "%s: there is a factor already, begun %s; end that first, or give the "
                    "product of both",
                    who, l->scaling ? "here" : "by the code around");
}

TCDEF tc_status tc_lr_scale_begin_at(tc_ctx *tc, tc_tensor factor, const char *file,
                                     int line) {
    tc_status s;
    tc__lexical *l = tc__lexical_open(tc, "tc_lr_scale_begin", file, line, &s);
    if (!l) return s;
    tc_status outer = tc__unit_begin(tc);
    int ok = tc__lr_scale_fits(tc, l, factor);
    if (ok) l->lr_scale = factor, l->scaling = 1;
    if (!ok && !l->lr_scale.id) l->scaling = l->unscaled = 1;
    return tc__unit_end(tc, outer, ok);
}

TCDEF tc_status tc_lr_scale_end_at(tc_ctx *tc, const char *file, int line) {
    tc_status s;
    tc__lexical *l = tc__lexical_open(tc, "tc_lr_scale_end", file, line, &s);
    if (!l) return s;
    tc_status outer = tc__unit_begin(tc);
    int ok =
        l->scaling ||
        tc__fail(tc, TC_E_STATE, "tc_lr_scale_end: no tc_lr_scale_begin is open here%s",
                 l->lr_scale.id ? "; that of the code around ends there" : "");
    if (ok) l->lr_scale = tc__null(), l->scaling = l->unscaled = 0;
    return tc__unit_end(tc, outer, ok);
}

enum { TC__RATE, TC__SHRINK, TC__ROOT }; // number[] of those that have them

// The rate itself is a number of an op where there is no factor: number[TC__RATE] is null then.
static void tc__rate_numbers(tc__optim *o) {
    const tc__api *f = &o->f;
    if (o->scale.id)
        o->number[TC__RATE] = tc__optim_value(o, tc_mul_s(o->scale, o->of->set.lr));
}

// Takes the rate times d from p.
static void tc__optim_descend(tc__optim *o, tc_tensor d) {
    const tc__api *f = &o->f;
    tc_tensor rate = o->number[TC__RATE];
    d = rate.id ? tc_mul(d, rate) : tc_mul_s(d, o->of->set.lr);
    o->p = tc_sub(o->p, d);
}

// The rate by a scalar of the step's.
static void tc__rate_over(tc__optim *o, tc_tensor by) {
    const tc__api *f = &o->f;
    tc_tensor rate = tc_rdiv_s(by, o->of->set.lr);
    if (o->scale.id) rate = tc_mul(rate, o->scale);
    o->number[TC__RATE] = tc__optim_value(o, rate);
}

// 1 - rate * weight_decay, as a tensor where there is a factor.
static void tc__shrink_numbers(tc__optim *o) {
    const tc__api *f = &o->f;
    double by = o->of->set.lr * o->of->set.weight_decay;
    if (o->scale.id)
        o->number[TC__SHRINK] = tc__optim_value(o, tc_rsub_s(tc_mul_s(o->scale, by), 1));
}

static void tc__optim_shrink(tc__optim *o) {
    const tc__api *f = &o->f;
    tc_tensor by = o->number[TC__SHRINK];
    o->p = by.id ? tc_mul(o->p, by)
                 : tc_mul_s(o->p, 1 - o->of->set.lr * o->of->set.weight_decay);
}

// ---- Adam and AdamW ----

static void tc__adam_numbers(tc__optim *o) {
    const tc__api *f = &o->f;
    const tc__optim_set *s = &o->of->set;
    tc_tensor c1 = tc__bias_correction(f, o->all, s->beta1);
    tc_tensor c2 = tc__bias_correction(f, o->all, s->beta2);
    tc__rate_over(o, c1);
    o->number[TC__ROOT] = tc__optim_value(o, tc_sqrt(c2));
    if (s->decoupled) tc__shrink_numbers(o);
}

static void tc__adam_formula(tc__optim *o) {
    const tc__api *f = &o->f;
    const tc__optim_set *s = &o->of->set;
    tc__optim_load(o);
    if (!s->decoupled) tc__optim_decay(o);
    tc_tensor d = tc_sub(o->g, o->state[0]), g2 = tc_square(o->g);
    tc_tensor m = o->state[0] = tc__optim_mean(f, o->state[0], s->beta1, d);
    tc_tensor v = o->state[1] = tc__optim_mean_sq(f, o->state[1], s->beta2, g2);
    tc_tensor size = tc_div(tc_sqrt(v), o->number[TC__ROOT]);
    d = tc_div(m, tc_add_s(size, s->eps));
    if (s->decoupled) tc__optim_shrink(o);
    tc__optim_descend(o, d);
}

static void tc__updates_adam(tc__updates *l, const tc_tensor *exp_avg,
                             const tc_tensor *exp_avg_sq, tc_tensor step, double lr,
                             double beta1, double beta2, double eps, double weight_decay) {
    tc__updates_state(l, 0, "exp_avg", exp_avg);
    tc__updates_state(l, 1, "exp_avg_sq", exp_avg_sq);
    tc__updates_count(l, step);
    l->numbers = tc__adam_numbers;
    l->set.lr = lr, l->set.beta1 = beta1, l->set.beta2 = beta2, l->set.eps = eps;
    l->set.weight_decay = weight_decay;
}

TCDEF tc_tensor tc_adamw__at(tc_tensor param, tc_tensor grad, tc_tensor exp_avg,
                             tc_tensor exp_avg_sq, tc_tensor step, double lr, double beta1,
                             double beta2, double eps, double weight_decay,
                             const char *file, int line) {
    tc__updates l =
        tc__updates_of("adamw_", &param, &grad, 1, tc__adam_formula, file, line);
    l.set.decoupled = 1;
    tc__updates_adam(&l, &exp_avg, &exp_avg_sq, step, lr, beta1, beta2, eps, weight_decay);
    return tc__updates_one(&l);
}

TCDEF tc_status tc_adamw_list__at(const tc_tensor *param, const tc_tensor *grad,
                                  const tc_tensor *exp_avg, const tc_tensor *exp_avg_sq,
                                  int n, tc_tensor step, double lr, double beta1,
                                  double beta2, double eps, double weight_decay,
                                  const char *file, int line) {
    tc__updates l =
        tc__updates_of("adamw_list_", param, grad, n, tc__adam_formula, file, line);
    l.set.decoupled = 1;
    tc__updates_adam(&l, exp_avg, exp_avg_sq, step, lr, beta1, beta2, eps, weight_decay);
    return tc__updates_list(&l);
}

TCDEF tc_tensor tc_adam__at(tc_tensor param, tc_tensor grad, tc_tensor exp_avg,
                            tc_tensor exp_avg_sq, tc_tensor step, double lr, double beta1,
                            double beta2, double eps, double weight_decay, const char *file,
                            int line) {
    tc__updates l = tc__updates_of("adam_", &param, &grad, 1, tc__adam_formula, file, line);
    tc__updates_adam(&l, &exp_avg, &exp_avg_sq, step, lr, beta1, beta2, eps, weight_decay);
    return tc__updates_one(&l);
}

TCDEF tc_status tc_adam_list__at(const tc_tensor *param, const tc_tensor *grad,
                                 const tc_tensor *exp_avg, const tc_tensor *exp_avg_sq,
                                 int n, tc_tensor step, double lr, double beta1,
                                 double beta2, double eps, double weight_decay,
                                 const char *file, int line) {
    tc__updates l =
        tc__updates_of("adam_list_", param, grad, n, tc__adam_formula, file, line);
    tc__updates_adam(&l, exp_avg, exp_avg_sq, step, lr, beta1, beta2, eps, weight_decay);
    return tc__updates_list(&l);
}

// ---- SGD ----

// momentum * buffer + d, which is the next buffer
static tc_tensor tc__optim_buffer(tc__optim *o, int k, tc_tensor d) {
    const tc__api *f = &o->f;
    return o->state[k] = tc_add(tc_mul_s(o->state[k], o->of->set.momentum), d);
}

static void tc__sgd_formula(tc__optim *o) {
    const tc__api *f = &o->f;
    const tc__optim_set *s = &o->of->set;
    tc__optim_load(o);
    tc__optim_decay(o);
    tc_tensor d = o->g;
    if (s->momentum != 0) {
        d = tc__optim_buffer(o, 0, o->g);
        if (s->nesterov) d = tc_add(o->g, tc_mul_s(d, s->momentum));
    }
    tc__optim_descend(o, d);
}

static void tc__updates_sgd(tc__updates *l, const tc_tensor *momentum_buffer, double lr,
                            double momentum, double weight_decay, int nesterov) {
    if (momentum != 0) tc__updates_state(l, 0, "momentum_buffer", momentum_buffer);
    l->numbers = tc__rate_numbers;
    l->set.lr = lr, l->set.momentum = momentum, l->set.weight_decay = weight_decay;
    l->set.nesterov = nesterov;
}

TCDEF tc_tensor tc_sgd__at(tc_tensor param, tc_tensor grad, tc_tensor momentum_buffer,
                           double lr, double momentum, double weight_decay, int nesterov,
                           const char *file, int line) {
    tc__updates l = tc__updates_of("sgd_", &param, &grad, 1, tc__sgd_formula, file, line);
    tc__updates_sgd(&l, &momentum_buffer, lr, momentum, weight_decay, nesterov);
    return tc__updates_one(&l);
}

TCDEF tc_status tc_sgd_list__at(const tc_tensor *param, const tc_tensor *grad,
                                const tc_tensor *momentum_buffer, int n, double lr,
                                double momentum, double weight_decay, int nesterov,
                                const char *file, int line) {
    tc__updates l =
        tc__updates_of("sgd_list_", param, grad, n, tc__sgd_formula, file, line);
    tc__updates_sgd(&l, momentum_buffer, lr, momentum, weight_decay, nesterov);
    return tc__updates_list(&l);
}

// ---- Adagrad ----

static void tc__adagrad_numbers(tc__optim *o) {
    const tc__api *f = &o->f;
    tc_tensor before = tc_mul_s(tc_sub_s(o->all, 1), o->of->set.lr_decay);
    tc__rate_over(o, tc_add_s(before, 1));
}

static void tc__adagrad_formula(tc__optim *o) {
    const tc__api *f = &o->f;
    const tc__optim_set *s = &o->of->set;
    tc__optim_load(o);
    tc__optim_decay(o);
    tc_tensor sum = o->state[0] = tc_add(o->state[0], tc_square(o->g));
    tc__optim_descend(o, tc_div(o->g, tc_add_s(tc_sqrt(sum), s->eps)));
}

static void tc__updates_adagrad(tc__updates *l, const tc_tensor *sum, tc_tensor step,
                                double lr, double lr_decay, double eps,
                                double weight_decay) {
    tc__updates_state(l, 0, "sum", sum);
    tc__updates_count(l, step);
    l->numbers = tc__adagrad_numbers;
    l->set.lr = lr, l->set.lr_decay = lr_decay, l->set.eps = eps;
    l->set.weight_decay = weight_decay;
}

TCDEF tc_tensor tc_adagrad__at(tc_tensor param, tc_tensor grad, tc_tensor sum,
                               tc_tensor step, double lr, double lr_decay, double eps,
                               double weight_decay, const char *file, int line) {
    tc__updates l =
        tc__updates_of("adagrad_", &param, &grad, 1, tc__adagrad_formula, file, line);
    tc__updates_adagrad(&l, &sum, step, lr, lr_decay, eps, weight_decay);
    return tc__updates_one(&l);
}

TCDEF tc_status tc_adagrad_list__at(const tc_tensor *param, const tc_tensor *grad,
                                    const tc_tensor *sum, int n, tc_tensor step, double lr,
                                    double lr_decay, double eps, double weight_decay,
                                    const char *file, int line) {
    tc__updates l =
        tc__updates_of("adagrad_list_", param, grad, n, tc__adagrad_formula, file, line);
    tc__updates_adagrad(&l, sum, step, lr, lr_decay, eps, weight_decay);
    return tc__updates_list(&l);
}

// ---- RMSprop ----

// What the root is taken of. Centered it is a variance, which rounding can leave below 0.
static tc_tensor tc__rmsprop_power(tc__optim *o) {
    const tc__api *f = &o->f;
    const tc__optim_set *s = &o->of->set;
    tc_tensor g2 = tc_square(o->g);
    tc_tensor v = o->state[0] = tc__optim_mean_sq(f, o->state[0], s->alpha, g2);
    if (!s->centered) return v;
    tc_tensor off = tc_sub(o->g, o->state[1]);
    tc_tensor m = o->state[1] = tc__optim_mean(f, o->state[1], s->alpha, off);
    return tc_maximum_s(tc_sub(v, tc_square(m)), 0);
}

static void tc__rmsprop_formula(tc__optim *o) {
    const tc__api *f = &o->f;
    const tc__optim_set *s = &o->of->set;
    tc__optim_load(o);
    tc__optim_decay(o);
    tc_tensor size = tc_add_s(tc_sqrt(tc__rmsprop_power(o)), s->eps);
    tc_tensor d = tc_div(o->g, size);
    if (s->momentum != 0) d = tc__optim_buffer(o, 2, d);
    tc__optim_descend(o, d);
}

static void tc__updates_rmsprop(tc__updates *l, const tc_tensor *square_avg,
                                const tc_tensor *grad_avg, const tc_tensor *momentum_buffer,
                                double lr, double alpha, double eps, double weight_decay,
                                double momentum, int centered) {
    tc__updates_state(l, 0, "square_avg", square_avg);
    if (centered) tc__updates_state(l, 1, "grad_avg", grad_avg);
    if (momentum != 0) tc__updates_state(l, 2, "momentum_buffer", momentum_buffer);
    l->numbers = tc__rate_numbers;
    l->set.lr = lr, l->set.alpha = alpha, l->set.eps = eps;
    l->set.weight_decay = weight_decay, l->set.momentum = momentum;
    l->set.centered = centered;
}

TCDEF tc_tensor tc_rmsprop__at(tc_tensor param, tc_tensor grad, tc_tensor square_avg,
                               tc_tensor grad_avg, tc_tensor momentum_buffer, double lr,
                               double alpha, double eps, double weight_decay,
                               double momentum, int centered, const char *file, int line) {
    tc__updates l =
        tc__updates_of("rmsprop_", &param, &grad, 1, tc__rmsprop_formula, file, line);
    tc__updates_rmsprop(&l, &square_avg, &grad_avg, &momentum_buffer, lr, alpha, eps,
                        weight_decay, momentum, centered);
    return tc__updates_one(&l);
}

TCDEF tc_status tc_rmsprop_list__at(const tc_tensor *param, const tc_tensor *grad,
                                    const tc_tensor *square_avg, const tc_tensor *grad_avg,
                                    const tc_tensor *momentum_buffer, int n, double lr,
                                    double alpha, double eps, double weight_decay,
                                    double momentum, int centered, const char *file,
                                    int line) {
    tc__updates l =
        tc__updates_of("rmsprop_list_", param, grad, n, tc__rmsprop_formula, file, line);
    tc__updates_rmsprop(&l, square_avg, grad_avg, momentum_buffer, lr, alpha, eps,
                        weight_decay, momentum, centered);
    return tc__updates_list(&l);
}

// ---- Lion ----

static void tc__lion_numbers(tc__optim *o) {
    tc__rate_numbers(o);
    tc__shrink_numbers(o);
}

static void tc__lion_formula(tc__optim *o) {
    const tc__api *f = &o->f;
    const tc__optim_set *s = &o->of->set;
    tc__optim_load(o);
    tc__optim_shrink(o);
    tc_tensor m = o->state[0], off = tc_sub(o->g, m);
    tc_tensor d = tc_sign(tc__optim_mean(f, m, s->beta1, off));
    tc__optim_descend(o, d);
    o->state[0] = tc__optim_mean(f, m, s->beta2, off);
}

static void tc__updates_lion(tc__updates *l, const tc_tensor *exp_avg, double lr,
                             double beta1, double beta2, double weight_decay) {
    tc__updates_state(l, 0, "exp_avg", exp_avg);
    l->numbers = tc__lion_numbers;
    l->set.lr = lr, l->set.beta1 = beta1, l->set.beta2 = beta2;
    l->set.weight_decay = weight_decay;
}

TCDEF tc_tensor tc_lion__at(tc_tensor param, tc_tensor grad, tc_tensor exp_avg, double lr,
                            double beta1, double beta2, double weight_decay,
                            const char *file, int line) {
    tc__updates l = tc__updates_of("lion_", &param, &grad, 1, tc__lion_formula, file, line);
    tc__updates_lion(&l, &exp_avg, lr, beta1, beta2, weight_decay);
    return tc__updates_one(&l);
}

TCDEF tc_status tc_lion_list__at(const tc_tensor *param, const tc_tensor *grad,
                                 const tc_tensor *exp_avg, int n, double lr, double beta1,
                                 double beta2, double weight_decay, const char *file,
                                 int line) {
    tc__updates l =
        tc__updates_of("lion_list_", param, grad, n, tc__lion_formula, file, line);
    tc__updates_lion(&l, exp_avg, lr, beta1, beta2, weight_decay);
    return tc__updates_list(&l);
}

// ---- clipping: steps without a gradient, for what is written is one ----

static void tc__clip_value_formula(tc__optim *o) {
    const tc__api *f = &o->f;
    tc__optim_load(o);
    o->p = tc_clamp(o->p, -o->of->set.limit, o->of->set.limit);
}

// By a scalar of the list's.
static void tc__clip_numbers(tc__optim *o) { o->number[0] = tc__optim_value(o, o->all); }

static void tc__clip_norm_formula(tc__optim *o) {
    const tc__api *f = &o->f;
    tc__optim_load(o);
    o->p = tc_mul(o->p, o->number[0]);
}

static tc__updates tc__updates_clip(const char *who, const tc_tensor *grads, int n,
                                    double limit, void (*formula)(tc__optim *),
                                    const char *file, int line) {
    tc__updates l = tc__updates_of(who, grads, NULL, n, formula, file, line);
    l.what = "grad", l.alone = 1, l.set.limit = limit;
    if (formula == tc__clip_norm_formula) l.numbers = tc__clip_numbers;
    return l;
}

TCDEF tc_status tc_clip_grad_value__at(const tc_tensor *grads, int n, double value,
                                       const char *file, int line) {
    tc__updates l = tc__updates_clip("clip_grad_value_", grads, n, value,
                                     tc__clip_value_formula, file, line);
    return tc__updates_list(&l);
}

// The sum of squares of a gradient, or its largest size; none of no elements is 0.
static tc_tensor tc__norm_part(const tc__updates *l, int at, int largest) {
    tc__optim o;
    if (!tc__optim_begin(&o, l, at)) return tc__null();
    const tc__api *f = &o.f;
    tc_tensor g = tc__optim_value(&o, l->param[at]);
    if (largest && tc__meta_elements(&f->x)) return tc__leave(&o.f, tc_amax_all(tc_abs(g)));
    return tc__leave(&o.f, tc_sum_all(tc_square(g)));
}

// The norm of all gradients together.
static tc_tensor tc__norm_total(const tc__api *f, const tc__updates *l, int largest) {
    tc_tensor total = tc__norm_part(l, 0, largest);
    for (int i = 1; i < l->n && total.id; i++) {
        tc_tensor part = tc__norm_part(l, i, largest);
        total = largest ? tc_maximum(total, part) : tc_add(total, part);
    }
    return largest || !total.id ? total : tc_sqrt(total);
}

// Whether there is a norm of these; 0 = reported.
static int tc__norm_check(tc_ctx *c, const tc__updates *l, double norm_type) {
    if (norm_type == 2 || norm_type == tc__infinity()) return tc__updates_check(l);
    return tc__fail(c, TC_E_ARG, "%s: norm_type is %g; it is 2 or infinity", l->who,
                    norm_type);
}

TCDEF tc_tensor tc_clip_grad_norm__at(const tc_tensor *grads, int n, double max_norm,
                                      double norm_type, const char *file, int line) {
    tc_status s;
    tc__api frame, *f = &frame;
    tc__updates l = tc__updates_clip("clip_grad_norm_", grads, n, max_norm,
                                     tc__clip_norm_formula, file, line);
    tc_tensor total = tc__null(), by = total;
    if (n < 1) return tc__api_list(f, l.who, grads, n, file, line), total; // reported
    tc_ctx *c = tc__updates_context(&l, &s);
    if (!c || !tc__norm_check(c, &l, norm_type) ||
        !tc__begin(f, l.who, grads[0], file, line))
        return total;
    total = tc__norm_total(f, &l, norm_type != 2);
    if (total.id) by = tc_minimum_s(tc_rdiv_s(tc_add_s(total, 1e-6), max_norm), 1);
    int ok = by.id && tc__updates_write(f, &l, by);
    return tc__leave(f, ok ? total : tc__null());
}
