// What a call of an optimiser is given, or one that clips gradients, and its checks: all operands are checked before
// the first write, so an error leaves everything as it was. The steps themselves are in graph/optim.c.
//
// Input: tc__updates, filled in by the public call; a call for one tensor is a list of one. An operand that is wrong
// is told by its name, and its number in a list; where a null tensor does not tell the context, another operand does.

enum { TC__OPTIM_STATES = 3, TC__OPTIM_NUMBERS = 3 };

// What a step is told; each optimiser uses some of it.
typedef struct tc__optim_set {
    double lr, beta1, beta2, eps, weight_decay, momentum, alpha, lr_decay, limit;
    int nesterov, centered, decoupled;
} tc__optim_set;

typedef struct tc__optim tc__optim;

typedef struct tc__updates {
    const char *who, *file; // the call and its site
    int line;
    int listed;       // errors tell the number in the list
    int n;            // of tensors
    const char *what; // param is: "parameter"
    const tc_tensor *param, *grad;
    int alone;       // there is no grad
    tc_tensor about; // leads to the context, whatever the others are; null = they do
    struct {
        const char *name; // NULL = there is no such state
        const tc_tensor *at;
    } state[TC__OPTIM_STATES];
    int counted;    // there is a `step`
    tc_tensor step; // counted up by the call
    void (*numbers)(
        tc__optim *o); // what its formula takes of the list as a whole; NULL = nothing
    void (*formula)(tc__optim *o);
    tc__optim_set set;
} tc__updates;

// One parameter of a list.
struct tc__optim {
    tc__api f; // about the parameter
    const tc__updates *of;
    int at;       // number in the list
    int computed; // the dtype to compute in: f32, or f64 of f64 parameters
    tc_tensor p, g, state[TC__OPTIM_STATES];
    // Scalars, of the whole list:
    tc_tensor all;                       // the step, counted and in f64
    tc_tensor scale;                     // of lr, in f64; null = 1
    tc_tensor number[TC__OPTIM_NUMBERS]; // what l->numbers has made of them
};

// ---- checks ----

// The first of n tensors that is not null; at NULL = there is none.
static tc_tensor tc__first_of(const tc_tensor *at, int n) {
    for (int i = 0; at && i < n; i++)
        if (at[i].id) return at[i];
    return tc__null();
}

// The tensor that leads to the context: a parameter if there is one, else any operand. Null = there is none.
static tc_tensor tc__updates_first(const tc__updates *l) {
    tc_tensor t = l->about;
    if (!t.id) t = tc__first_of(l->param, l->n);
    if (!t.id) t = l->step;
    if (!t.id) t = tc__first_of(l->grad, l->n);
    for (int k = 0; k < TC__OPTIM_STATES && !t.id; k++)
        t = tc__first_of(l->state[k].at, l->n);
    return t;
}

// " 3", or nothing for a call of one tensor.
static const char *tc__updates_number(const tc__updates *l, int at, char number[24]) {
    number[0] = 0;
    if (l->listed) snprintf(number, 24, " %d", at);
    return number;
}

// Whether a tensor has the sizes of the parameter.
static int tc__optim_fits(const tc__optim *o, const tc__meta *m) {
    int ok = m->rank == o->f.x.rank;
    for (int i = 0; ok && i < m->rank; i++) ok = m->dims[i] == o->f.x.dims[i];
    return ok;
}

// Says what is wrong with an operand; m NULL = it is null.
static int tc__optim_refuse(const tc__optim *o, const char *what, const tc__meta *m) {
    const tc__api *f = &o->f;
    char x[160], y[160], number[24];
    tc__updates_number(o->of, o->at, number);
    if (!m)
        return tc__fail(f->c, TC_E_NULL, "%s: %s%s is a null tensor", f->who, what, number);
    if (!tc__is_arithmetic(m->dtype))
        return tc__fail(f->c, TC_E_DTYPE, "%s: %s%s is %s, floats are needed", f->who, what,
                        number, tc__dtype(m->dtype)->name);
    return tc__fail(f->c, TC_E_SHAPE, "%s: %s%s is %s, its parameter %s", f->who, what,
                    number, tc__dims_text(m, x), tc__dims_text(&f->x, y));
}

static int tc__optim_dead(const tc__updates *l, tc_ctx *c, const char *what, int at,
                          tc_tensor t) {
    char who[120], number[24];
    snprintf(who, sizeof who, "%s: %s%s", l->who, what, tc__updates_number(l, at, number));
    return tc__fail_dead(c, who, t);
}

// Whether t is a float tensor with the sizes of the parameter.
static int tc__optim_operand(const tc__optim *o, const char *what, tc_tensor t) {
    tc__meta m;
    if (!t.id) return tc__optim_refuse(o, what, NULL);
    if (!tc__meta_find(o->f.c, t, &m)) return tc__optim_dead(o->of, o->f.c, what, o->at, t);
    return (tc__is_arithmetic(m.dtype) && tc__optim_fits(o, &m)) ||
           tc__optim_refuse(o, what, &m);
}

// The same for what is written.
static int tc__optim_state(const tc__optim *o, const char *what, tc_tensor t) {
    tc_status s;
    char text[TC__UNWRITABLE_TEXT], number[24];
    if (!tc__optim_operand(o, what, t)) return 0;
    if (!tc__unwritable(o->f.c, t, &s, text)) return 1;
    return tc__fail(o->f.c, s, "%s: %s%s: %s", o->f.who, what,
                    tc__updates_number(o->of, o->at, number), text);
}

// A frame about a parameter; 0 = null or reported.
static int tc__optim_begin(tc__optim *o, const tc__updates *l, int at) {
    o->of = l, o->at = at;
    if (!tc__begin(&o->f, l->who, l->param[at], l->file, l->line)) return 0;
    o->computed = o->f.x.dtype == TC_F64 ? TC_F64 : TC_F32;
    return 1;
}

// Whether a parameter is not null; where it is, another operand tells whose error that is.
static int tc__optim_given(const tc__updates *l, int at) {
    tc__api f;
    char number[24];
    if (l->param[at].id) return 1;
    if (tc__api_of(&f, l->who, tc__updates_first(l), l->file, l->line))
        tc__fail(f.c, TC_E_NULL, "%s: %s%s is a null tensor (an earlier call failed?)",
                 l->who, l->what, tc__updates_number(l, at, number));
    return 0;
}

static int tc__optim_check(const tc__updates *l, int at) {
    tc__optim o;
    if (!tc__optim_given(l, at) || !tc__optim_begin(&o, l, at)) return 0;
    int ok = tc__optim_state(&o, l->what, l->param[at]);
    if (ok && l->grad) ok = tc__optim_operand(&o, "grad", l->grad[at]);
    for (int k = 0; ok && k < TC__OPTIM_STATES; k++)
        if (l->state[k].name)
            ok = tc__optim_state(&o, l->state[k].name, l->state[k].at[at]);
    tc__leave_null(&o.f);
    return ok;
}

// The step counter must be a float of one element in memory of its own.
static int tc__count_check(const tc__updates *l) {
    tc__api f;
    char x[160];
    tc_tensor about = l->step.id ? l->step : tc__updates_first(l);
    if (!tc__api_of(&f, l->who, about, l->file, l->line)) return 0;
    if (!l->step.id) return tc__fail(f.c, TC_E_NULL, "%s: step is a null tensor", l->who);
    if (f.x.rank || !tc__is_arithmetic(f.x.dtype))
        return tc__fail(f.c, TC_E_SHAPE, "%s: step is %s%s, a scalar f32 is needed", l->who,
                        tc__dtype(f.x.dtype)->name, tc__dims_text(&f.x, x));
    return tc__writable(&f, l->step);
}

// What is written, each of which must have memory of its own. 0 = out of memory.
static int tc__updates_written(const tc__updates *l, tc__targets *all) {
    size_t most = (size_t)l->n * (1 + TC__OPTIM_STATES) + 1;
    int ok = TC__VEC_RESERVE(all->c, all->all, most);
    if (l->counted) ok = ok && tc__targets_add(all, l->step, "step", TC__TARGET_OF_ALL);
    for (int i = 0; ok && i < l->n; i++) {
        ok = tc__targets_add(all, l->param[i], l->what, i);
        for (int k = 0; ok && k < TC__OPTIM_STATES; k++)
            if (l->state[k].name)
                ok = tc__targets_add(all, l->state[k].at[i], l->state[k].name, i);
    }
    return ok;
}

// Says of two that are written that one step would leave what only one of them was to become.
static int tc__updates_refuse(const tc__updates *l, const tc__api *f,
                              const tc__target *first, const tc__target *again) {
    char a[24], b[24];
    int both = first->at == again->at; // of one parameter: its number is said once
    int same = first->owner == again->owner && first->layout == again->layout &&
               first->begin == again->begin && !both;
    tc__updates_number(l, again->at, a);
    tc__updates_number(l, first->at, b);
    if (both || first->at == TC__TARGET_OF_ALL) b[0] = 0;
    if (same)
        return tc__fail(f->c, TC_E_ALIAS,
                        "%s: %s%s is %s%s, which would be written twice; give it once",
                        f->who, again->name, a, first->name, b);
    return tc__fail(f->c, TC_E_ALIAS,
                    "%s: %s%s shares memory with %s%s%s, and both are written; give each a "
                    "tensor of its own",
                    f->who, again->name, a, both ? "its " : "", first->name, b);
}

// Each of what is written has memory of its own.
static int tc__updates_apart(const tc__updates *l) {
    tc__api f;
    tc__targets all;
    tc_tensor about = tc__updates_first(l);
    if (!l->n) return 1;
    if (!tc__api_of(&f, l->who, about, l->file, l->line)) return 0;
    memset(&all, 0, sizeof all);
    all.c = f.c;
    int ok = tc__updates_written(l, &all) && tc__targets_look(&all);
    if (ok && all.meet) ok = tc__updates_refuse(l, &f, &all.first, &all.again);
    TC__VEC_FREE(f.c, all.all);
    return ok;
}

// As torch.optim: none is below 0, what means go on by is below 1. Those that a call has not are 0.
static int tc__numbers_check(const tc__updates *l) {
    const tc__optim_set *s = &l->set;
    const struct {
        const char *name;
        double v;
    } number[] = {{"lr", s->lr},
                  {"eps", s->eps},
                  {"weight_decay", s->weight_decay},
                  {"momentum", s->momentum},
                  {"alpha", s->alpha},
                  {"lr_decay", s->lr_decay},
                  {"beta1", s->beta1},
                  {"beta2", s->beta2}};
    tc__api f;
    tc_tensor about = tc__updates_first(l);
    if (!l->n && !about.id) return 1;
    if (!tc__api_of(&f, l->who, about, l->file, l->line)) return 0;
    for (size_t i = 0; i < TC__COUNT(number); i++) {
        if (!tc__number_given(&f, number[i].name, number[i].v)) return 0;
        if (number[i].name[0] == 'b' && number[i].v >= 1)
            return tc__fail(f.c, TC_E_ARG, "%s: %s is %g, less than 1 is needed", l->who,
                            number[i].name, number[i].v);
    }
    if (s->nesterov && s->momentum == 0)
        return tc__fail(f.c, TC_E_ARG,
                        "%s: nesterov is %d and momentum 0, which has nothing to look "
                        "ahead with; give a momentum above 0, or nesterov 0",
                        l->who, s->nesterov);
    return 1;
}

// The factor that lr has here: of tc_lr_scale_begin, null = none.
static tc_tensor tc__lr_scale_of(const tc__updates *l, tc_ctx *c) {
    return l->alone ? tc__null() : tc__lexical_now(c)->lr_scale;
}

// It may have been freed since.
static int tc__lr_scale_check(const tc__updates *l) {
    tc__api f;
    tc__meta m;
    tc_tensor about = tc__updates_first(l);
    if (!about.id || !tc__api_of(&f, l->who, about, l->file, l->line)) return !about.id;
    tc_tensor scale = tc__lr_scale_of(l, f.c);
    if (!l->alone && tc__lexical_now(f.c)->unscaled)
        return tc__fail(f.c, TC_E_STATE,
                        "%s: the tc_lr_scale_begin around it was refused, and lr without "
                        "its factor is another rate; nothing is written",
                        l->who);
    return !scale.id || tc__operand_need(&f, "factor of tc_lr_scale_begin", scale, &m);
}

static int tc__updates_check(const tc__updates *l) {
    int ok = tc__numbers_check(l) && tc__lr_scale_check(l) &&
             (!l->counted || tc__count_check(l));
    for (int i = 0; ok && i < l->n; i++) ok = tc__optim_check(l, i);
    return ok && tc__updates_apart(l);
}
