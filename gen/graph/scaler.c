// The scale of a loss whose gradients are f16. Input: a tc_grad_scaler, the loss, the gradients. Output: steps. The
// flag found_inf, the scale and its counter are tensors that nothing reads on the host: whether a step is made
// is chosen at each write between step_begin and step_end (tc__assign_unless), so no optimiser knows of it.
// Formulas are those of torch.amp.GradScaler and its kernel _amp_update_scale_.

// What was done with a scaler, which found_inf has a note of.
enum {
    TC__SCALER_SCALED = 1,   // a loss, since the last update
    TC__SCALER_UNSCALED = 2, // gradients, since then,
    TC__SCALER_EVER = 4,     //   or ever
    TC__SCALER_IN_BODY = 8   // of a function: calls that skip it make no note
};

static void tc__scaler_note(tc_ctx *c, const tc_grad_scaler *s, int ends, int begins) {
    tc__tensor *t = tc__slot_find(c, s->found_inf);
    if (!t) return;
    t->scaling = (uint8_t)((t->scaling & ~ends) | begins);
    if (tc__lexical_now(c)->body) t->scaling |= TC__SCALER_IN_BODY;
}

// Whether gradients of a scaled loss were unscaled, as far as code says that has run; 0 = reported.
static int tc__scaler_unscaled(const tc__api *f, const tc_grad_scaler *s) {
    const tc__tensor *t = tc__slot_find(f->c, s->found_inf);
    int is = t ? t->scaling : 0;
    int unscaled = is & TC__SCALER_IN_BODY ? TC__SCALER_EVER : TC__SCALER_UNSCALED;
    if (!(is & TC__SCALER_SCALED) || is & unscaled) return 1;
    return tc__fail(
        f->c, TC_E_STATE,
        "%s: a loss was multiplied by the scale, and no gradient was divided by "
        "it since the last tc_grad_scaler_update; call tc_grad_scaler_unscale_ "
        "first",
        f->who);
}

// Whether there is a scaler; 0 = reported.
static int tc__scaler_given(const tc_grad_scaler *s, const char *who, const char *file,
                            int line) {
    if (s && s->scale.id) return 1;
    tc__fail_missing(who,
                     s ? "the scaler has no tensors: tc_grad_scaler_init was not called or "
                         "failed, or it was freed"
                       : "the scaler is NULL",
                     file, line);
    return 0;
}

// A frame about the scale, for a call that stands outside of steps. 0 = reported, with *s.
static int tc__scaler_begin(tc__api *f, const tc_grad_scaler *scaler, const char *who,
                            const char *file, int line, tc_status *s) {
    *s = TC_E_NULL;
    if (!tc__scaler_given(scaler, who, file, line)) return 0;
    if (!tc__begin(f, who, scaler->scale, file, line)) {
        *s = tc__api_refused(f, scaler->scale);
        return 0;
    }
    if (!tc__lexical_now(f->c)->skips.id) return 1;
    tc__fail(f->c, TC_E_STATE,
             "%s: inside a step, which may be skipped; call it ahead of "
             "tc_grad_scaler_step_begin, or behind its end",
             who);
    tc__leave_null(f);
    *s = TC_E_STATE;
    return 0;
}

TCDEF tc_tensor tc_grad_scaler_scale_at(const tc_grad_scaler *s, tc_tensor loss,
                                        const char *file, int line) {
    tc_status status;
    tc__meta m;
    tc__api frame, *f = &frame;
    if (!tc__scaler_begin(f, s, "tc_grad_scaler_scale", file, line, &status))
        return tc__null();
    if (!tc__operand_need(f, "loss", loss, &m)) return tc__leave_null(f);
    tc_tensor y = tc_mul(loss, s->scale);
    if (y.id) tc__scaler_note(f->c, s, 0, TC__SCALER_SCALED);
    return tc__leave(f, y);
}

// Whether any element of g is infinite or NaN.
static tc_tensor tc__not_finite(const tc__api *f, tc_tensor g) {
    return tc_logical_not(tc_all_all(tc_isfinite(g)));
}

// 1 / scale, rounded once.
static tc_tensor tc__scaler_inverse(const tc__api *f, tc_tensor scale) {
    return tc_cast(tc_reciprocal(tc_cast(scale, TC_F64)), TC_F32);
}

// found_inf, and whether any of n gradients is not finite.
static tc_tensor tc__scaler_found(const tc__api *f, const tc_grad_scaler *s,
                                  const tc_tensor *grads, int n) {
    tc_tensor found = s->found_inf;
    for (int i = 0; i < n && found.id; i++) {
        tc_tensor bad = tc__not_finite(f, grads[i]);
        found = tc_logical_or(found, bad);
    }
    return found;
}

TCDEF tc_status tc_grad_scaler_unscale__at(const tc_grad_scaler *s, const tc_tensor *grads,
                                           int n, const char *file, int line) {
    static const char who[] = "tc_grad_scaler_unscale_";
    tc_status status;
    tc__api frame, *f = &frame;
    if (!tc__scaler_begin(f, s, who, file, line, &status)) return status;
    tc_status outer = tc__unit_begin(f->c);
    tc__updates l = tc__updates_clip(who, grads, n, 0, tc__clip_norm_formula, file, line);
    l.about = s->scale;
    int ok = tc__updates_context(&l, &status) && tc__updates_check(&l);
    tc_tensor found = ok ? tc__scaler_found(f, s, grads, n) : tc__null();
    tc_tensor by = found.id ? tc__scaler_inverse(f, s->scale) : found;
    ok = by.id && tc_copy_(s->found_inf, found).id && tc__updates_write(f, &l, by);
    status = tc__unit_end(f->c, outer, ok || (!n && !status));
    if (!status) tc__scaler_note(f->c, s, 0, TC__SCALER_UNSCALED | TC__SCALER_EVER);
    tc__leave_null(f);
    return status;
}

// The scale by `factor`, in f64 as PyTorch has it.
static tc_tensor tc__scaler_times(const tc__api *f, tc_tensor scale, double factor) {
    return tc_cast(tc_mul_s(tc_cast(scale, TC_F64), factor), TC_F32);
}

// A scale that would be infinite does not grow; it is counted anew all the same.
static int tc__scaler_next(const tc__api *f, const tc_grad_scaler *s) {
    tc_tensor counted = tc_add_s(s->growth_tracker, 1);
    tc_tensor full = tc_eq_s(counted, s->growth_interval);
    tc_tensor grown = tc__scaler_times(f, s->scale, s->growth_factor);
    tc_tensor grows = tc_logical_and(full, tc_isfinite(grown));
    tc_tensor kept = tc_where(grows, grown, s->scale);
    tc_tensor less = tc__scaler_times(f, s->scale, s->backoff_factor);
    tc_tensor scale = tc_where(s->found_inf, less, kept);
    tc_tensor anew = tc_logical_or(s->found_inf, full);
    tc_tensor tracker = tc_where(anew, tc_zeros_like(counted), counted);
    return tc_copy_(s->scale, scale).id && tc_copy_(s->growth_tracker, tracker).id &&
           tc_zero_(s->found_inf).id;
}

static int tc__scaler_check(const tc__api *f, const tc_grad_scaler *s) {
    int ok = s->growth_factor > 1 && s->backoff_factor > 0 && s->backoff_factor < 1 &&
             s->growth_interval > 0;
    return ok || tc__fail(f->c, TC_E_ARG,
                          "%s: growth_factor is %g, backoff_factor %g, growth_interval %d; "
                          "above 1, between 0 and 1, and at least 1 are needed",
                          f->who, s->growth_factor, s->backoff_factor, s->growth_interval);
}

TCDEF tc_status tc_grad_scaler_update_at(const tc_grad_scaler *s, const char *file,
                                         int line) {
    tc_status status;
    tc__api f;
    if (!tc__scaler_begin(&f, s, "tc_grad_scaler_update", file, line, &status))
        return status;
    tc_status outer = tc__unit_begin(f.c);
    int ok =
        tc__scaler_check(&f, s) && tc__scaler_unscaled(&f, s) && tc__scaler_next(&f, s);
    status = tc__unit_end(f.c, outer, ok);
    if (ok) tc__scaler_note(f.c, s, TC__SCALER_SCALED | TC__SCALER_UNSCALED, 0);
    tc__leave_null(&f);
    return status;
}

// ---- a step ----

TCDEF tc_status tc_grad_scaler_step_begin_at(const tc_grad_scaler *s, const char *file,
                                             int line) {
    tc_status status;
    tc__api f;
    if (!tc__scaler_begin(&f, s, "tc_grad_scaler_step_begin", file, line, &status))
        return status;
    tc_status outer = tc__unit_begin(f.c);
    tc__meta m;
    int ok = tc__operand_given(&f, "found_inf", s->found_inf) &&
             tc__meta_get(&f, s->found_inf, &m) && tc__scaler_unscaled(&f, s);
    status = tc__unit_end(f.c, outer, ok);
    tc__leave_null(&f);
    tc__lexical *l = tc__lexical_now(f.c);
    if (ok) l->skips = s->found_inf, l->stepping = 1;
    return status;
}

TCDEF tc_status tc_grad_scaler_step_end_at(const tc_grad_scaler *s, const char *file,
                                           int line) {
    static const char who[] = "tc_grad_scaler_step_end";
    tc_status status;
    if (!tc__scaler_given(s, who, file, line)) return TC_E_NULL;
    tc_ctx *c = tc__ctx_of(s->scale);
    if (!c) return tc__fail_lost(who, s->scale, file, line);
    tc__lexical *l = tc__lexical_open(c, who, file, line, &status);
    if (!l) return status;
    tc_status outer = tc__unit_begin(c);
    int ok = (l->stepping && l->skips.id == s->found_inf.id) ||
             tc__fail(c, TC_E_STATE,
                      "%s: no tc_grad_scaler_step_begin of this scaler is open here; one "
                      "outside of a region or body ends outside of it",
                      who);
    if (ok) l->skips = tc__null(), l->stepping = 0;
    return tc__unit_end(c, outer, ok);
}
