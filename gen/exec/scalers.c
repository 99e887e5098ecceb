// Making and ending a tc_grad_scaler. Input: a context, outside of regions. Output: three tensors of the caller's.

TCDEF void tc_grad_scaler_free_at(tc_grad_scaler *s, const char *file, int line) {
    if (!s) return;
    if (s->scale.id) tc_free_at(s->scale, file, line);
    if (s->growth_tracker.id) tc_free_at(s->growth_tracker, file, line);
    if (s->found_inf.id) tc_free_at(s->found_inf, file, line);
    memset(s, 0, sizeof *s);
}

static int tc__scaler_make(tc_ctx *c, tc_grad_scaler *s, double scale, const char *file,
                           int line) {
    if (scale == 0) scale = 65536;
    if (!(scale > 0 && scale <= 3.4028234663852886e38))
        return tc__fail(c, TC_E_ARG,
                        "tc_grad_scaler_init: the scale is %g; a finite number above 0, or "
                        "0 for 65536, is needed",
                        scale);
    s->scale = tc_full_at(c, TC_SCALAR, scale, TC_F32, file, line);
    s->growth_tracker = tc_zeros_at(c, TC_SCALAR, TC_I32, file, line);
    s->found_inf = tc_zeros_at(c, TC_SCALAR, TC_BOOL, file, line);
    s->growth_factor = 2, s->backoff_factor = 0.5, s->growth_interval = 2000;
    return s->scale.id && s->growth_tracker.id && s->found_inf.id;
}

TCDEF tc_status tc_grad_scaler_init_at(tc_ctx *tc, tc_grad_scaler *s, double scale,
                                       const char *file, int line) {
    tc__site site;
    site.file = file, site.line = line;
    if (s) memset(s, 0, sizeof *s);
    if (!tc) return tc__fail_no_context("tc_grad_scaler_init", file, line);
    tc__site_set(tc, site);
    tc_status outside = tc__outside(tc, "tc_grad_scaler_init");
    if (outside) return outside;
    tc_status outer = tc__unit_begin(tc);
    int ok = s || tc__fail(tc, TC_E_NULL, "tc_grad_scaler_init: the scaler is NULL");
    ok = ok && tc__scaler_make(tc, s, scale, file, line);
    tc_status status = tc__unit_end(tc, outer, ok);
    if (!ok) tc_grad_scaler_free_at(s, file, line);
    return status;
}
