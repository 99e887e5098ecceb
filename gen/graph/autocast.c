// Autocast. Input: public calls between tc_autocast_begin and its end. Output: casts of their operands,
// recorded like any other, ahead of the op: so gradients go through them, one that is made twice is one
// node, and a region needs no guard beside what it records. tables/autocast.def says which calls are
// cast to what.
//
// Only what a user calls is cast: as long as a call works, others are its parts (tc__core.doing).
// Listed calls look for their range each time, also where they follow a path: that path may have been
// recorded without one.

typedef enum tc__autocast_policy {
    TC__AUTOCAST_NONE,
    TC__AUTOCAST_LOWER,
    TC__AUTOCAST_FLOAT,
    TC__AUTOCAST_PROMOTE
} tc__autocast_policy;

// ---- ranges ----

// What holds where a call says something about it; NULL = refused, with *s.
static tc__lexical *tc__lexical_open(tc_ctx *c, const char *who, const char *file, int line,
                                     tc_status *s) {
    tc__site site;
    site.file = file, site.line = line;
    *s = c ? TC_OK : tc__fail_no_context(who, file, line);
    if (!c) return NULL;
    *s = TC_E_STATE;
    if (!tc__is_ours(c, who)) {
        *s = tc__not_ours(c);
        return NULL;
    }
    tc__site_set(c, site);
    return tc__lexical_now(c);
}

static int tc__autocast_check(tc_ctx *c, const tc__lexical *l, int dtype) {
    static const char who[] = "tc_autocast_begin";
    if (!tc__is_half(dtype) && dtype != TC_F32)
        return tc__fail(c, TC_E_DTYPE,
                        "%s: the dtype is %s; TC_F16, TC_BF16 or, for none, TC_F32 is "
                        "needed",
                        who, tc_dtype_name((tc_dtype)dtype));
    if (l->depth < TC__AUTOCAST_DEEP) return 1;
    return tc__fail(c, TC_E_STATE,
                    "%s: %d ranges are open inside each other, which is the limit; is a "
                    "tc_autocast_end missing?",
                    who, l->depth);
}

// From now on listed calls take the long way: those of the context, and of its parent, whose tensors they may get.
static void tc__autocast_noted(tc_ctx *c) {
    tc_ctx *parent = tc__values_of(c)->parent;
    tc__atomic_store32(&tc__values_of(c)->autocasts, 1);
    if (parent) tc__atomic_store32(&tc__values_of(parent)->autocasts, 1);
}

TCDEF tc_status tc_autocast_begin_at(tc_ctx *tc, tc_dtype dtype, const char *file,
                                     int line) {
    tc_status s;
    tc__lexical *l = tc__lexical_open(tc, "tc_autocast_begin", file, line, &s);
    if (!l) return s;
    tc_status outer = tc__unit_begin(tc);
    int ok = tc__autocast_check(tc, l, (int)dtype);
    if (ok) {
        tc__autocast_noted(tc);
        l->around[l->depth++] = (uint8_t)l->half;
        l->half = tc__is_half((int)dtype) ? (int)dtype : 0;
    }
    return tc__unit_end(tc, outer, ok);
}

TCDEF tc_status tc_autocast_end_at(tc_ctx *tc, const char *file, int line) {
    tc_status s;
    tc__lexical *l = tc__lexical_open(tc, "tc_autocast_end", file, line, &s);
    if (!l) return s;
    tc_status outer = tc__unit_begin(tc);
    int ok = l->depth || tc__fail(tc, TC_E_STATE,
                                  "tc_autocast_end: no tc_autocast_begin is open here; one "
                                  "outside of a region or body ends outside of it");
    if (ok) l->half = l->around[--l->depth];
    return tc__unit_end(tc, outer, ok);
}

// ---- casts ----

// Whether autocast looks at a tensor of this dtype.
static int tc__autocast_eligible(int dtype) {
    return tc__is_float(dtype) && dtype != TC_F64;
}

// What eligible operands become, those that are there. TC_BOOL = nothing: an error, or there are none.
static int tc__autocast_target(const tc__api *f, tc__autocast_policy policy, int half,
                               tc_tensor *const *in, int n) {
    tc__meta m;
    int widest = TC_BOOL;
    if (policy == TC__AUTOCAST_LOWER) return half;
    if (policy == TC__AUTOCAST_FLOAT) return TC_F32;
    for (int i = 0; i < n; i++) {
        if (!in[i]->id) continue;
        if (!tc__meta_get(f, *in[i], &m)) return TC_BOOL;
        if (tc__autocast_eligible(m.dtype)) widest = tc__promote(widest, m.dtype);
    }
    return widest;
}

TC__NOINLINE static int tc__autocast_slow(tc__api *f, tc__autocast_policy policy,
                                          tc_tensor *const *in, int n) {
    tc__meta m;
    int half = f->named ? tc__lexical_now(f->c)->half : 0;
    if (!half || policy == TC__AUTOCAST_NONE) return 1;
    int target = tc__autocast_target(f, policy, half, in, n);
    for (int i = 0; i < n; i++) {
        if (!in[i]->id) continue;
        if (!tc__meta_get(f, *in[i], &m)) return 0;
        if (!tc__autocast_eligible(m.dtype) || m.dtype == target) continue;
        *in[i] = tc__cast(f, *in[i], target);
        if (!in[i]->id) return 0;
    }
    if (tc__autocast_eligible(f->x.dtype)) f->x.dtype = (uint8_t)target;
    return 1;
}

// Casts the operands of the frame's call, the one that it is about too. 0 = reported.
TC__INLINE int tc__autocast(tc__api *f, tc__autocast_policy policy, tc_tensor *const *in,
                            int n) {
    if (TC__LIKELY(!tc__atomic_load32(&tc__values_of(f->c)->autocasts))) return 1;
    return tc__autocast_slow(f, policy, in, n);
}

// ---- element-wise ops that are listed ----

// Whether a call about t looks at its operands.
static int tc__autocasts(tc_tensor t) {
    tc_ctx *c = tc__ctx_of(t);
    return c && tc__lexical_now(c)->half && !tc__core_of(c)->doing;
}

TC__NOINLINE static tc_tensor tc__listed_slow(tc__autocast_policy policy, const char *who,
                                              const tc_tensor *of, int n, const char *file,
                                              int line, tc__op op) {
    tc__api f;
    tc_tensor in[3], *at[3];
    if (!tc__autocasts(of[0])) return tc__op_n(op, of, (uint32_t)n, NULL, 0, file, line);
    if (!tc__begin_together(&f, who, of[0], file, line)) return tc__null();
    for (int i = 0; i < n; i++) in[i] = of[i], at[i] = &in[i];
    if (!tc__autocast(&f, policy, at, n)) return tc__leave_null(&f);
    return tc__leave(&f, tc__op_n(op, in, (uint32_t)n, NULL, 0, file, line));
}

// An op of n operands.
TC__ALWAYS_INLINE tc_tensor tc__listed_op(tc__autocast_policy policy, const char *who,
                                          const tc_tensor *in, int n, const char *file,
                                          int line, tc__op op) {
    uint64_t form = tc__form_of(op, (uint32_t)n, 0);
    tc_tensor t = tc__op_follow_as(TC__LISTED, form, in, (uint32_t)n, NULL, 0);
    return t.id ? t : tc__listed_slow(policy, who, in, n, file, line, op);
}

TC__NOINLINE static tc_tensor tc__listed_scalar_slow(tc__autocast_policy policy,
                                                     const char *who, tc_tensor a, double s,
                                                     const char *file, int line,
                                                     uint64_t form) {
    tc__api f;
    tc_tensor *const at[] = {&a};
    int left = form == tc__form_of_scalar(tc__form_op(form), TC__SCALAR_LEFT);
    if (!tc__autocasts(a))
        return left ? tc__op_scalar_left(who, a, s, file, line, form)
                    : tc__op_scalar(a, s, file, line, form);
    if (!tc__begin_together(&f, who, a, file, line)) return tc__null();
    if (!tc__autocast(&f, policy, at, 1)) return tc__leave_null(&f);
    return tc__leave(&f, tc__op_scalar(a, s, file, line, form));
}

// One with a scalar on one side.
TC__ALWAYS_INLINE tc_tensor tc__listed_scalar(tc__autocast_policy policy, const char *who,
                                              tc_tensor a, double s, const char *file,
                                              int line, uint64_t form) {
    int64_t value;
    memcpy(&value, &s, sizeof s);
    tc_tensor t = tc__op_follow_as(TC__LISTED, form, &a, 1, &value, 1);
    return t.id ? t : tc__listed_scalar_slow(policy, who, a, s, file, line, form);
}
