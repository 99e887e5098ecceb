// The public calls for gradients. Input: tensors of the open region. Output: GRADIENT steps, one for each tensor
// that is derived by; graph/build.c makes nodes of them, graph/derive.c knows how.

// ---- what is told ----

// ` "fc.weight"` of a parameter, or else ` of model.c:12`, where t was made; "" = nobody knows.
static const char *tc__tensor_called(const tc__tensor *t, char out[160]) {
    out[0] = 0;
    if (t && t->name)
        snprintf(out, 160, " \"%.150s\"", t->name);
    else if (t && t->file)
        snprintf(out, 160, " of %.140s:%d", t->file, t->line);
    return out;
}

// The same of what `code` is in the path of v.
static const char *tc__code_called(tc_ctx *c, const tc__visit *v, uint32_t code,
                                   char out[160]) {
    uint32_t i = code & ~TC__EXTERNAL;
    out[0] = 0;
    if (code & TC__EXTERNAL) {
        tc_tensor x = i < v->external.count ? v->external.at[i].handle : tc__null();
        return tc__tensor_called(x.id ? tc__tensor_find(c, x) : NULL, out);
    }
    if (i < v->path.count && v->path.at[i]->site.file)
        snprintf(out, 160, " of %.140s:%d", v->path.at[i]->site.file,
                 v->path.at[i]->site.line);
    return out;
}

// The last write in place of what `code` is, before step s; NULL = there is none.
static const tc__step *tc__written_before(const tc__visit *v, const tc__step *s,
                                          uint32_t code) {
    uint32_t root = tc__memory_of(v, code);
    for (const tc__step *w = s; w; w = w->parent)
        if (w->op == TC_OP_COPY_ && tc__memory_of(v, w->in[0]) == root) return w;
    return NULL;
}

// What step s derives does not depend on its operand 0, which it has as `by`.
static void tc__fail_independent(tc_ctx *c, const tc__visit *v, const tc__step *s,
                                 const char *who, const char *by) {
    const tc__step *w = tc__written_before(v, s, s->in[0]);
    char called[160], written[240] = "is it the one that was used?";
    if (w)
        snprintf(
            written, sizeof written,
            "it was written in place at %.140s:%d, and what was used before is not what "
            "it is since",
            w->site.file ? w->site.file : "?", w->site.line);
    tc__fail(c, TC_E_ARG,
             "%s: what is derived does not depend on %s%s that it is derived by; %s", who,
             by, tc__code_called(c, v, s->in[0], called), written);
}

// ---- what is asked ----

// What the frame is about can be derived here; 0 = reported.
static int tc__grad_check(const tc__api *f) {
    if (!tc__is_recording(f->c))
        return tc__fail(
            f->c, TC_E_STATE,
            "%s: there is no graph to derive outside of a region or function, nor where "
            "they run eagerly (TC_DISABLE, option disable, tc_disable_begin); call it "
            "between tc_trace_begin and tc_trace_end. To run those without compiling set "
            "TC_STANCE_FORCE_EAGER",
            f->who);
    if (tc__is_arithmetic(f->x.dtype)) return 1;
    return tc__fail(
        f->c, TC_E_DTYPE,
        "%s: the first operand is %s; only floats of 16 bits or more have gradients: cast it first",
        f->who, tc__dtype(f->x.dtype)->name);
}

static int tc__wrt_check(const tc__api *f, const tc_tensor *wrt, int n,
                         const tc_tensor *out) {
    tc__meta m;
    if (n < 0) return tc__fail(f->c, TC_E_ARG, "%s: n is %d", f->who, n);
    if (n && (!wrt || !out))
        return tc__fail(f->c, TC_E_NULL, "%s: %s is null", f->who, wrt ? "out" : "wrt");
    for (int i = 0; i < n; i++) {
        if (!wrt[i].id)
            return tc__fail(f->c, TC_E_NULL, "%s: wrt[%d] is a null tensor", f->who, i);
        if (!tc__meta_get(f, wrt[i], &m)) return 0;
        if (!tc__is_arithmetic(m.dtype))
            return tc__fail(
                f->c, TC_E_DTYPE,
                "%s: wrt[%d] is %s; only floats of 16 bits or more have gradients: cast it first",
                f->who, i, tc__dtype(m.dtype)->name);
    }
    return 1;
}

// Whether what the frame is about is one number.
static int tc__loss_check(const tc__api *f) {
    char x[160];
    if (tc__meta_elements(&f->x) == 1) return 1;
    return tc__fail(f->c, TC_E_SHAPE,
                    "%s: the loss is %s, one element is needed; reduce it, or use tc_vjp",
                    f->who, tc__dims_text(&f->x, x));
}

// Whether v, which the call has as `name`, is like what the frame is about, which it has as `of`.
static int tc__weights_check(const tc__api *f, const char *name, const char *of,
                             tc_tensor v) {
    tc__meta m;
    char a[160], b[160];
    if (!tc__operand_need(f, name, v, &m)) return 0;
    return tc__meta_alike(&m, &f->x) ||
           tc__fail(f->c, m.dtype == f->x.dtype ? TC_E_SHAPE : TC_E_DTYPE,
                    "%s: %s is %s%s, %s %s%s; they must be alike", f->who, name,
                    tc__dtype(m.dtype)->name, tc__dims_text(&m, a), of,
                    tc__dtype(f->x.dtype)->name, tc__dims_text(&f->x, b));
}

// ---- what a value is made of ----

// As far as the steps tell: more at times than derivatives depend on.
typedef struct tc__needs {
    const tc__visit *v;
    size_t steps;
    uint32_t externals;
    uint8_t *step, *external; // 1 = it is needed
    uint8_t *stops;           // by step: nothing is derived through it
} tc__needs;

static uint8_t *tc__need_of(const tc__needs *n, uint32_t code) {
    return code & TC__EXTERNAL ? &n->external[code & ~TC__EXTERNAL] : &n->step[code];
}

// What it shows, too, as far as derivatives see it.
static void tc__need_code(const tc__needs *n, uint32_t code) {
    *tc__need_of(n, code) = 1;
    while (!(code & TC__EXTERNAL) && n->v->path.at[code]->view && !n->stops[code])
        code = n->v->path.at[code]->in[0];
    *tc__need_of(n, code) = 1;
}

// Whether the value of a step is one for which derivatives are nothing: detached, or no floating one.
static int tc__step_stops(const tc__step *s, int no_grad) {
    if (s->op == TC_OP_CARRY || s->op == TC_OP_NEXT) return 0;
    if (s->op == TC_OP_COPY_) return no_grad; // of what is written
    return tc__has_result((tc__op)s->op) &&
           (no_grad || s->op == TC_OP_DETACH || !tc__is_float(s->meta.dtype));
}

static void tc__needs_stops(const tc__needs *n) {
    int no_grad = 0;
    for (size_t i = 0; i < n->steps; i++) {
        const tc__step *s = n->v->path.at[i];
        if (s->op == TC_OP_NO_GRAD) no_grad += s->attr[TC__NO_GRAD_ON] ? 1 : -1;
        n->stops[i] = (uint8_t)tc__step_stops(s, no_grad);
    }
}

static void tc__needs_walk(const tc__needs *n) {
    for (size_t i = n->steps; i-- > 0;) {
        const tc__step *s = n->v->path.at[i];
        int writes = s->op == TC_OP_COPY_;
        if (writes ? !*tc__need_of(n, tc__memory_of(n->v, s->in[0]))
                   : !n->step[i] || n->stops[i])
            continue;
        for (uint32_t k = 0; k < (n->stops[i] ? 1 : s->n_in); k++)
            tc__need_code(n, s->in[k]);
    }
}

static void tc__needs_close(tc__needs *n, tc_ctx *c) {
    if (n->step) TC__FREE_ARRAY(c, n->step, n->steps + 1);
    if (n->stops) TC__FREE_ARRAY(c, n->stops, n->steps + 1);
    if (n->external) TC__FREE_ARRAY(c, n->external, n->externals + 1);
}

// From y on.
static void tc__needs_from(const tc__needs *n, tc_ctx *c, tc_tensor y) {
    const tc__tensor *t = tc__tensor_find(c, y);
    if (y.id >> TC__SLOT_BITS == n->v->key)
        tc__need_code(n, tc__position(y));
    else if (t && t->bind_epoch == n->v->epoch)
        n->external[t->bind_index] = 1;
    tc__needs_walk(n);
}

// Of y, a tensor of the open region; 0 = reported.
static int tc__needs_open(tc__needs *n, tc_ctx *c, tc_tensor y) {
    const tc__visit *v = tc__recorder_of(c)->visit;
    memset(n, 0, sizeof *n);
    n->v = v, n->steps = v->path.count, n->externals = (uint32_t)v->external.count;
    n->step = TC__NEW_ARRAY(c, uint8_t, n->steps + 1);
    n->external = TC__NEW_ARRAY(c, uint8_t, n->externals + 1);
    n->stops = TC__NEW_ARRAY(c, uint8_t, n->steps + 1);
    if (!n->step || !n->external || !n->stops) return tc__needs_close(n, c), 0;
    tc__needs_stops(n), tc__needs_from(n, c, y);
    return 1;
}

// ---- custom ops ----

static tc_tensor tc__code_handle(const tc__visit *v, uint32_t code) {
    tc_tensor t;
    t.id = v->first | code;
    return code & TC__EXTERNAL ? v->external.at[code & ~TC__EXTERNAL].handle : t;
}

static int tc__own_check(const tc__api *f, const tc__custom *o, const tc_tensor *in,
                         const tc_tensor *g) {
    tc__meta a, b;
    char x[160], y[160];
    for (int i = 0; i < o->op.n_in; i++) {
        if (!g[i].id) continue;
        if (!tc__meta_get(f, in[i], &a) || !tc__meta_get(f, g[i], &b)) return 0;
        if (!tc__meta_alike(&a, &b))
            return tc__fail(
                f->c, TC_E_SHAPE,
                "custom op \"%s\": its gradient gives %s%s for input %d, which is "
                "%s%s",
                o->op.name, tc__dtype(b.dtype)->name, tc__dims_text(&b, y), i,
                tc__dtype(a.dtype)->name, tc__dims_text(&a, x));
    }
    return 1;
}

// Calls the user's function, whose steps begin behind the open path; 0 = reported.
static int tc__own_call(const tc__api *f, const tc__custom *o, const tc_tensor *in,
                        tc_tensor out, tc_tensor seed, tc_tensor *g) {
    tc__recorder *r = tc__recorder_of(f->c);
    const char *outer = r->own;
    uint32_t outer_first = r->own_first;
    char text[64];
    tc__theirs theirs = tc__theirs_begin(f->c);
    r->own = o->op.name, r->own_first = (uint32_t)r->visit->path.count;
    tc_status s = r->hooks->gradient(f->c, &o->op, in, out, seed, g);
    r->own = outer, r->own_first = outer_first;
    tc__theirs_end(f->c, theirs);
    if (s)
        return tc__fail(f->c, tc__user_status(s), "custom op \"%s\": its gradient %s",
                        o->op.name, tc__user_status_text(s, text));
    return !tc__core_of(f->c)->unit_item;
}

// Records what the user's function makes of a seed that stands for the gradient of step `at`.
static int tc__own_record(const tc__api *f, const tc__custom *o, uint32_t at) {
    tc__visit *v = tc__recorder_of(f->c)->visit;
    tc_tensor in[TC__CUSTOM_INPUTS], all[TC__CUSTOM_INPUTS + 2], g[TC__CUSTOM_INPUTS];
    uint32_t n = 2;
    int64_t given = 0, mark = (int64_t)at + 1;
    all[0] = tc__code_handle(v, at);
    for (int i = 0; i < o->op.n_in; i++)
        in[i] = tc__code_handle(v, v->path.at[at]->in[i]), g[i] = tc__null();
    tc_tensor zeros = tc_zeros_like_at(all[0], f->file, f->line);
    all[1] = zeros.id ? tc__prim(f, TC_OP_DETACH, zeros, &mark, 1) : zeros;
    if (!all[1].id) return 0;
    if (!tc__own_call(f, o, in, all[0], all[1], g)) return 0;
    if (!tc__own_check(f, o, in, g)) return 0;
    for (int i = 0; i < o->op.n_in; i++) {
        given |= (int64_t)(g[i].id != 0) << i;
        if (g[i].id) all[n++] = g[i];
    }
    tc__call k;
    memset(&k, 0, sizeof k);
    k.op = TC_OP_OWN_GRADIENT, k.in = all, k.n_in = n, k.attr = &given, k.n_attr = 1;
    k.site.file = f->file, k.site.line = f->line;
    return tc__visit_step(f->c, v, &k) != NULL;
}

// The gradients of the user's ops that y is made of, those that are not recorded yet; 0 = reported.
static int tc__own_gradients(const tc__api *f, const tc__needs *n) {
    for (size_t i = 0; i < n->steps; i++) {
        const tc__step *s = n->v->path.at[i];
        if (s->op == TC_OP_OWN_GRADIENT) n->step[s->in[0]] = 0;
    }
    for (uint32_t i = 0; i < n->steps; i++) {
        const tc__step *s = n->v->path.at[i];
        if (s->op != TC_OP_CUSTOM || !n->step[i]) continue;
        const tc__custom *o = tc__custom_at(f->c, s->attr[TC__CUSTOM_OP]);
        if (o && o->op.gradient && !tc__own_record(f, o, i)) return 0;
    }
    return 1;
}

// The same for a y that nothing else is asked of.
static int tc__owns_of(const tc__api *f, tc_tensor y) {
    tc__needs n;
    if (!tc__custom_count(f->c)) return 1;
    if (!tc__needs_open(&n, f->c, y)) return 0;
    int ok = tc__own_gradients(f, &n);
    tc__needs_close(&n, f->c);
    return ok;
}

// What y changes by with x, which is wrt[number] of the call; v null = each element counts once.
enum { TC__WRT_NONE = -1 }; // of no list: zeros, where y does not depend on it
static tc_tensor tc__gradient(const tc__api *f, tc_tensor y, tc_tensor v, tc_tensor x,
                              int64_t number) {
    tc_tensor in[3];
    in[0] = x, in[1] = y, in[2] = v;
    return tc__prim_n(f, TC_OP_GRADIENT, in, v.id ? 3 : 2, &number, 1);
}

static tc_status tc__grad_all(const char *who, tc_tensor y, const tc_tensor *v,
                              const tc_tensor *wrt, int n, tc_tensor *out, const char *file,
                              int line) {
    tc__api f;
    tc_tensor few[TC__FEW], *own = NULL;
    if (!tc__begin(&f, who, y, file, line))
        return tc__results_give(out, NULL, n), tc__api_refused(&f, y);
    tc_status outer = tc__unit_begin(f.c);
    int ok = tc__grad_check(&f) &&
             (v ? tc__weights_check(&f, "v", "y", *v) : tc__loss_check(&f)) &&
             tc__wrt_check(&f, wrt, n, out) && tc__owns_of(&f, y);
    if (ok) own = tc__tensors_new(f.c, few, (uint32_t)n), ok = own != NULL;
    for (int i = 0; i < n && ok; i++) {
        own[i] = tc__gradient(&f, y, v ? *v : tc__null(), wrt[i], i);
        ok = own[i].id != 0;
    }
    tc_status s = tc__unit_end(f.c, outer, ok);
    tc__results_give(out, s ? NULL : own, n);
    tc__tensors_free(f.c, own, few, (uint32_t)n);
    tc__leave_null(&f);
    return s;
}

TCDEF tc_status tc_grad_at(tc_tensor loss, const tc_tensor *wrt, int n, tc_tensor *out,
                           const char *file, int line) {
    return tc__grad_all("tc_grad", loss, NULL, wrt, n, out, file, line);
}

TCDEF tc_status tc_vjp_at(tc_tensor y, tc_tensor v, const tc_tensor *wrt, int n,
                          tc_tensor *out, const char *file, int line) {
    return tc__grad_all("tc_vjp", y, &v, wrt, n, out, file, line);
}

// What y, which the frame is about, changes by with wrt[i] and t[i] together; null = reported.
static tc_tensor tc__jvp_sum(const tc__api *f, tc_tensor y, const tc_tensor *wrt,
                             const tc_tensor *t, int n) {
    tc_tensor sum = tc__null();
    for (int i = 0; i < n; i++) {
        tc__api inner;
        tc_tensor in[3];
        char name[24], of[24];
        snprintf(name, sizeof name, "t[%d]", i), snprintf(of, sizeof of, "wrt[%d]", i);
        if (!tc__api_about(f, &inner, wrt[i]) || !tc__weights_check(&inner, name, of, t[i]))
            return tc__null();
        in[0] = y, in[1] = wrt[i], in[2] = t[i];
        int64_t number = i;
        tc_tensor part = tc__prim_n(f, TC_OP_JVP, in, 3, &number, 1);
        if (!part.id) return part;
        sum = i ? tc_add_at(sum, part, f->file, f->line) : part;
    }
    return sum;
}

TCDEF tc_status tc_jvp_at(tc_tensor y, const tc_tensor *wrt, const tc_tensor *t, int n,
                          tc_tensor *out, const char *file, int line) {
    tc__api f;
    tc_tensor sum = tc__null();
    if (!tc__begin(&f, "tc_jvp", y, file, line))
        return tc__results_give(out, NULL, 1), tc__api_refused(&f, y);
    tc_status outer = tc__unit_begin(f.c);
    int ok = tc__grad_check(&f) && tc__wrt_check(&f, wrt, n, out) && tc__owns_of(&f, y);
    if (ok && !n) ok = tc__fail(f.c, TC_E_ARG, "tc_jvp: n is 0");
    if (ok && !t) ok = tc__fail(f.c, TC_E_NULL, "tc_jvp: t is null");
    if (ok) sum = tc__jvp_sum(&f, y, wrt, t, n), ok = sum.id != 0;
    tc_status s = tc__unit_end(f.c, outer, ok);
    tc__results_give(out, s ? NULL : &sum, 1);
    tc__leave_null(&f);
    return s;
}

static tc_status tc__no_grad(tc_ctx *c, const char *who, int64_t on, const char *file,
                             int line) {
    tc__call k;
    if (!c) return tc__fail_no_context(who, file, line);
    if (!tc__is_ours(c, who)) return tc__not_ours(c);
    tc__visit *v = tc__recorder_of(c)->visit;
    if (!v) return TC_OK;
    tc_status outer = tc__unit_begin(c);
    memset(&k, 0, sizeof k);
    k.op = TC_OP_NO_GRAD, k.attr = &on, k.n_attr = 1;
    k.site.file = file, k.site.line = line;
    tc__site_set(c, k.site);
    int body = tc__is_in_body(tc__recorder_of(c));
    int ok = on || v->no_grad > (body ? tc__recorder_of(c)->floor.no_grad : 0) ||
             tc__fail(c, TC_E_STATE, "%s: there was no tc_no_grad_begin in this %s", who,
                      body ? "body" : "region");
    ok = ok && tc__visit_step(c, v, &k) != NULL;
    if (ok) v->no_grad += on ? 1 : -1;
    return tc__unit_end(c, outer, ok);
}

TCDEF tc_status tc_no_grad_begin_at(tc_ctx *tc, const char *file, int line) {
    return tc__no_grad(tc, "tc_no_grad_begin", 1, file, line);
}

TCDEF tc_status tc_no_grad_end_at(tc_ctx *tc, const char *file, int line) {
    return tc__no_grad(tc, "tc_no_grad_end", 0, file, line);
}

TCDEF tc_tensor tc_detach_at(tc_tensor x, const char *file, int line) {
    tc__api f;
    if (!tc__api_of(&f, "tc_detach", x, file, line)) return tc__null();
    return tc__detach(&f, x);
}

// ---- tensors that have a gradient ----

// A tensor with a gradient that lies in the same memory as t; NULL = there is none.
static const tc__tensor *tc__grad_beside(tc_ctx *c, const tc__tensor *t) {
    const tc__values *v = tc__values_of(c);
    for (size_t i = 0; i < v->slot.count; i++) {
        const tc__tensor *m = v->slot.at[i];
        if (m->epoch && m->grad && m != t && m->storage == t->storage) return m;
    }
    return NULL;
}

// The loss of f depends on no tensor that has a gradient: what it depends on may show one, or does not count.
static int tc__fail_unreached(const tc__api *f, tc_tensor loss, const tc__needs *n,
                              uint32_t count) {
    char view[160], whole[160];
    memset(n->stops, 0, n->steps + 1);
    tc__needs_from(n, f->c, loss);
    for (uint32_t i = 0; i < count; i++) {
        tc_tensor x = n->v->external.at[i].handle;
        const tc__tensor *t = n->external[i] && x.id ? tc__tensor_find(f->c, x) : NULL;
        if (!t || !t->grad) continue;
        return tc__fail(
            f->c, TC_E_ARG,
            "%s: the loss depends on the tensor%s, which has tc_requires_grad, only through "
            "what nothing is derived through: tc_detach, tc_no_grad_begin, integers or bools",
            f->who, tc__tensor_called(t, view));
    }
    for (uint32_t i = 0; i < count; i++) {
        tc_tensor x = n->v->external.at[i].handle;
        const tc__tensor *t = n->external[i] && x.id ? tc__tensor_find(f->c, x) : NULL;
        const tc__tensor *m = t ? tc__grad_beside(f->c, t) : NULL;
        if (!m) continue;
        return tc__fail(
            f->c, TC_E_ARG,
            "%s: the loss depends on no tensor with tc_requires_grad, but on the tensor%s, a "
            "view of the tensor%s, which has it: a view that is made outside of the region is "
            "a tensor of its own; make it inside",
            f->who, tc__tensor_called(t, view), tc__tensor_called(m, whole));
    }
    return tc__fail(
        f->c, TC_E_ARG,
        "%s: the loss depends on no tensor with tc_requires_grad; switch it on for what is "
        "learned, outside of regions, and compute with that tensor itself: a view of it "
        "that is made outside of the region is a tensor of its own",
        f->who);
}

// Adds to the gradients of the first `count` externals of the visit. A loss of another region, whose graph is gone,
// or that none of them is part of, would teach nothing and tell nobody.
static int tc__backward_all(const tc__api *f, tc_tensor loss, const tc__needs *n,
                            uint32_t count) {
    uint32_t given = 0;
    for (uint32_t i = 0; i < count; i++) {
        tc_tensor x = n->v->external.at[i].handle, grad;
        const tc__tensor *t = n->external[i] && x.id ? tc__tensor_find(f->c, x) : NULL;
        grad.id = t ? t->grad : 0;
        if (!grad.id) continue;
        tc_tensor g = tc__gradient(f, loss, tc__null(), x, TC__WRT_NONE);
        if (!g.id || !tc_add__at(grad, g, f->file, f->line).id) return 0;
        given++;
    }
    if (given) return 1;
    if (loss.id >> TC__SLOT_BITS == n->v->key) return tc__fail_unreached(f, loss, n, count);
    return tc__fail(
        f->c, TC_E_ARG,
        "%s: the loss was not computed in this region or function, where it is a "
        "number: its graph is gone; compute it here",
        f->who);
}

static int tc__backward_from(const tc__api *f, tc_tensor loss) {
    tc__needs n;
    if (!tc__needs_open(&n, f->c, loss)) return 0;
    int ok = tc__own_gradients(f, &n) && tc__backward_all(f, loss, &n, n.externals);
    tc__needs_close(&n, f->c);
    return ok;
}

TCDEF tc_status tc_backward_at(tc_tensor loss, const char *file, int line) {
    tc__api f;
    if (!tc__begin(&f, "tc_backward", loss, file, line)) return tc__api_refused(&f, loss);
    tc_status outer = tc__unit_begin(f.c);
    int ok = tc__grad_check(&f) && tc__loss_check(&f) && tc__backward_from(&f, loss);
    tc_status s = tc__unit_end(f.c, outer, ok);
    tc__leave_null(&f);
    return s;
}

TCDEF tc_tensor tc_grad_of(tc_tensor t) {
    tc_ctx *c = tc__ctx_of(t);
    const tc__tensor *m = c ? tc__tensor_find(c, t) : NULL;
    tc_tensor g;
    g.id = m ? m->grad : 0;
    return g;
}
