// Random numbers: draws of one stream, which a context counts. Input: public calls. Output: RANDOM
// steps, and what is made of them.

// Attribute `kind` of RANDOM.
enum { TC__DRAW_UNIFORM, TC__DRAW_NORMAL };

static tc_tensor tc__random(tc__api *f, int kind, const tc_dims *d, int dtype);

// A uniform number is cut to the bits of its dtype: rounded, it could be 1.
static tc_tensor tc__random_half(tc__api *f, int kind, const tc_dims *d, int dtype) {
    const char *file = f->file;
    int line = f->line;
    double parts = dtype == TC_F16 ? 2048 : 256;
    tc__api_enter(f);
    tc_tensor u = tc__random(f, kind, d, TC_F32);
    if (kind == TC__DRAW_UNIFORM) {
        u = tc_floor_at(tc_mul_s_at(u, parts, file, line), file, line);
        u = tc_mul_s_at(u, 1 / parts, file, line);
    }
    return tc__leave(f, tc__cast(f, u, dtype));
}

// Attribute `draw` counts from the begin of the visit; an eager draw is 0 and uses the
// recorder's position, which moves on afterwards.
static tc_tensor tc__random(tc__api *f, int kind, const tc_dims *d, int dtype) {
    tc__recorder *r = tc__recorder_of(f->c);
    int64_t attr[2];
    if (!tc__dtype_check(f, dtype)) return tc__null();
    if (!tc__is_arithmetic(dtype)) {
        tc__fail(
            f->c, TC_E_DTYPE,
            "%s: needs a float dtype that is computed with, got %s; tc_randint, or tc_cast afterwards?",
            f->who, tc__dtype(dtype)->name);
        return tc__null();
    }
    if (tc__is_half(dtype)) return tc__random_half(f, kind, d, dtype);
    attr[TC__RANDOM_KIND] = kind;
    attr[TC__RANDOM_DRAW] = r->visit ? (int64_t)(r->draw - r->visit->draw) : 0;
    tc_tensor t = tc__prim_source(f, TC_OP_RANDOM, dtype, d, attr, 2);
    if (t.id) r->draw++;
    return t;
}

TCDEF tc_tensor tc_rand_at(tc_ctx *tc, tc_dims dims, tc_dtype dtype, const char *file,
                           int line) {
    tc__api f;
    if (!tc__api_open(&f, tc, "rand", file, line)) return tc__null();
    return tc__random(&f, TC__DRAW_UNIFORM, &dims, (int)dtype);
}

TCDEF tc_tensor tc_randn_at(tc_ctx *tc, tc_dims dims, tc_dtype dtype, const char *file,
                            int line) {
    tc__api f;
    if (!tc__api_open(&f, tc, "randn", file, line)) return tc__null();
    return tc__random(&f, TC__DRAW_NORMAL, &dims, (int)dtype);
}

// floor(u * (high - low)) + low in f64: u is at most 1 - 2^-53, so high is never reached.
TCDEF tc_tensor tc_randint_at(tc_ctx *tc, int64_t low, int64_t high, tc_dims dims,
                              tc_dtype dtype, const char *file, int line) {
    tc__api f;
    if (!tc__api_open(&f, tc, "randint", file, line) || !tc__dtype_check(&f, (int)dtype))
        return tc__null();
    if (low >= high || !tc__is_whole((double)low) || !tc__is_whole((double)(high - 1)) ||
        high - low > INT64_C(1) << 53) {
        tc__fail(tc, TC_E_ARG,
                 "randint: [%lld, %lld) is empty, wider than 2^53 or beyond it",
                 (long long)low, (long long)high);
        return tc__null();
    }
    tc__api_enter(&f);
    tc_tensor u = tc__random(&f, TC__DRAW_UNIFORM, &dims, TC_F64);
    u = tc_floor_at(tc_mul_s_at(u, (double)(high - low), file, line), file, line);
    u = tc_add_s_at(tc__cast(&f, u, TC_I64), (double)low, file, line);
    return tc__leave(&f, dtype == TC_I64 ? u : tc__cast(&f, u, (int)dtype));
}

// Whether the stream may be looked at or set: the calls that draw stand in order then.
static tc_status tc__stream_check(tc_ctx *c, const char *who) {
    if (!c) return tc__fail_no_context(who, NULL, 0);
    if (!tc__is_ours(c, who)) return tc__not_ours(c);
    if (!tc__is_recording(c)) return TC_OK;
    tc__fail(c, TC_E_STATE, "%s: a region is open; do it before tc_trace_begin or tc_call",
             who);
    return TC_E_STATE;
}

TCDEF tc_status tc_get_rng_state(tc_ctx *tc, tc_rng_state *state) {
    static const char who[] = "tc_get_rng_state";
    tc_status s = tc__stream_check(tc, who);
    if (s) return s;
    if (!state) return tc__fail(tc, TC_E_NULL, "%s: state is NULL", who), TC_E_NULL;
    state->seed = tc__recorder_of(tc)->seed, state->draw = tc__recorder_of(tc)->draw;
    return TC_OK;
}

TCDEF tc_status tc_set_rng_state(tc_ctx *tc, const tc_rng_state *state) {
    static const char who[] = "tc_set_rng_state";
    tc_status s = tc__stream_check(tc, who);
    if (s) return s;
    if (!state) return tc__fail(tc, TC_E_NULL, "%s: state is NULL", who), TC_E_NULL;
    tc__recorder_of(tc)->seed = state->seed, tc__recorder_of(tc)->draw = state->draw;
    return TC_OK;
}

TCDEF tc_status tc_manual_seed(tc_ctx *tc, uint64_t seed) {
    tc_status s = tc__stream_check(tc, "tc_manual_seed");
    if (s) return s;
    tc__recorder_of(tc)->seed = seed, tc__recorder_of(tc)->draw = 0;
    return TC_OK;
}
