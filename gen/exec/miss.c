// Why a body ran, and what an entry assumes, in words: tc_last_miss, the log channels guards and
// recompiles, tc_explain.

// ---- why the body ran ----

static void tc__fn_missed(tc_fn *f, tc_miss_kind kind, int arg, int dim, int64_t was,
                          int64_t now) {
    f->miss.kind = kind, f->miss.arg = arg, f->miss.dim = dim;
    f->miss.was = was, f->miss.now = now;
}

// Tensor i of the call differs from what entry `e` had.
static void tc__miss_layout(tc_fn *f, const tc__entry *e, int i) {
    const tc__layout *was = tc__layout_at(f->ctx, e->given.at[i].layout);
    const tc__layout *now = tc__layout_at(f->ctx, f->given.at[i].layout);
    int64_t w, n;
    if (was->dtype != now->dtype) {
        tc__fn_missed(f, TC_MISS_DTYPE, i, -1, was->dtype, now->dtype);
        return;
    }
    if (was->rank != now->rank) {
        tc__fn_missed(f, TC_MISS_RANK, i, -1, was->rank, now->rank);
        return;
    }
    for (int part = 0; part < 2; part++) {
        for (int d = 0; d < was->rank; d++) {
            w = part ? was->strides[d] : was->dims[d];
            n = part ? now->strides[d] : now->dims[d];
            if (w == n) continue;
            tc__fn_missed(f, part ? TC_MISS_STRIDE : TC_MISS_DIM, i, d, w, n);
            return;
        }
    }
    if (e->given.at[i].layout && f->given.at[i].layout && was->device != now->device) {
        tc__fn_missed(f, TC_MISS_DEVICE, i, -1, was->device, now->device);
        return;
    }
    // Null was, or is, one of them: a rank that no tensor has.
    tc__fn_missed(f, TC_MISS_RANK, i, -1, e->given.at[i].layout ? was->rank : -1,
                  f->given.at[i].layout ? now->rank : -1);
}

static int tc__miss_given(tc_fn *f, const tc__entry *e, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        const tc__given *was = &e->given.at[i], *now = &f->given.at[i];
        if (was->layout != now->layout)
            tc__miss_layout(f, e, (int)i);
        else if (was->alias != now->alias || was->same != now->same)
            tc__fn_missed(f, TC_MISS_ALIAS, (int)i, -1, was->alias, now->alias);
        else if (was->grad != now->grad)
            tc__fn_missed(f, TC_MISS_GRADIENT, (int)i, -1, was->grad != 0, now->grad != 0);
        else if (was->constant != now->constant)
            tc__fn_missed(f, TC_MISS_CONST, (int)i, -1, 0, 0);
        else if (e->writes && n == e->given.count && e->at.at[i] != tc__given_at(f, i))
            tc__fn_missed(f, TC_MISS_ALIAS, (int)i, -1, was->alias, now->alias);
        else
            continue;
        return 1;
    }
    return 0;
}

static int tc__miss_range(tc_fn *f, const tc__entry *e) {
    for (uint32_t i = 0; i < e->range.count; i++) {
        const tc__snapshot *r = &e->range.at[i];
        const uint8_t *now = (const uint8_t *)r->at;
        size_t at = 0;
        while (at < r->bytes && now[at] == r->copy[at]) at++;
        if (at == r->bytes) continue;
        tc__fn_missed(f, i ? TC_MISS_BYTES : TC_MISS_USER, i ? (int)i - 1 : -1, (int)at,
                      r->copy[at], now[at]);
        return 1;
    }
    return 0;
}

// The reason is told against the most recent entry.
static void tc__miss_find(const tc__fcall *k, const tc__entry *found) {
    tc_fn *f = k->f;
    const tc_ctx *c = f->ctx;
    const tc__entry *e = f->entry;
    f->miss.file = k->site.file, f->miss.line = k->site.line, f->miss.compiled = 0;
    if (f->demoted)
        tc__fn_missed(f, TC_MISS_DEMOTED, -1, -1, 0, 0);
    else if (found)
        tc__fn_missed(f, TC_MISS_CHECK, -1, -1, 0, 0);
    else if (!e)
        tc__fn_missed(f, TC_MISS_FIRST, -1, -1, 0, 0);
    else if (e->n_in != k->n_in)
        tc__fn_missed(f, TC_MISS_COUNT, -1, -1, e->n_in, k->n_in);
    else if (e->n_out != k->n_out || e->n_to != k->n_to)
        tc__fn_missed(f, TC_MISS_COUNT, -1, -1, e->n_out + e->n_to, k->n_out + k->n_to);
    else if (tc__miss_given(f, e, k->n_in + k->n_to))
        return;
    else if (e->device != tc__values_of(f->ctx)->default_device)
        tc__fn_missed(f, TC_MISS_DEVICE, -1, -1, e->device,
                      tc__values_of(f->ctx)->default_device);
    else if (e->evaluates != f->ctx->recorder.evaluates)
        tc__fn_missed(f, TC_MISS_TRAINING, -1, -1, !e->evaluates, e->evaluates);
    else if (e->half != c->recorder.lexical.half)
        tc__fn_missed(f, TC_MISS_AUTOCAST, -1, -1, e->half, c->recorder.lexical.half);
    else if (e->skips != c->recorder.lexical.skips.id)
        tc__fn_missed(f, TC_MISS_STEP, -1, -1, e->skips != 0,
                      c->recorder.lexical.skips.id != 0);
    else if (e->lr_scale != c->recorder.lexical.lr_scale.id)
        tc__fn_missed(f, TC_MISS_LR_SCALE, -1, -1, e->lr_scale != 0,
                      c->recorder.lexical.lr_scale.id != 0);
    else if (!tc__miss_range(f, e))
        tc__fn_missed(f, TC_MISS_CAPTURED, -1, -1, 0, 0);
}

static void tc__put_miss_reason(tc__text *t, const tc_miss *m) {
    static const char *const text[] = {
        "nothing was missed: the body was skipped at every call, or a stance has it run at each",
        "the first call",
        "the second call re-runs the body",
        "the number of inputs or results",
        "dtype",
        "rank",
        "",
        "stride",
        "memory shared with arg",
        "another tc_const",
        "*user",
        "tc_guard_bytes",
        "a tensor used beside the inputs is dead, or of other layout or memory",
        "it is never skipped",
        "",
        "tensors with a gradient",
        "tc_training",
        "autocast",
        "inside a step of a tc_grad_scaler",
        "inside a tc_lr_scale_begin",
    };
    if (m->arg >= 0) tc__put(t, m->kind == TC_MISS_BYTES ? "range %d " : "arg %d ", m->arg);
    if (m->dim >= 0)
        tc__put(t,
                m->kind == TC_MISS_DIM || m->kind == TC_MISS_STRIDE ? "dim %d "
                                                                    : "byte %d of ",
                m->dim);
    tc__put(t, "%s", text[m->kind]);
    if (m->kind == TC_MISS_LR_SCALE && m->was == m->now)
        tc__put(t,
                " of another factor (keep one tensor and tc_fill_ it, or begin in the body "
                "with an input)");
    if (m->was == m->now) return;
    const char *space = *text[m->kind] ? " " : "";
    if (m->kind == TC_MISS_DEVICE)
        tc__put(t, "%sdevice was %s, now %s", m->arg < 0 ? "default " : "",
                tc__device_name(t->ctx, (int)m->was), tc__device_name(t->ctx, (int)m->now));
    else if (m->kind == TC_MISS_AUTOCAST)
        tc__put(t, " was %s, now %s", m->was ? tc__dtype((int)m->was)->name : "off",
                m->now ? tc__dtype((int)m->now)->name : "off");
    else if (m->kind == TC_MISS_DTYPE)
        tc__put(t, "%swas %s, now %s", space, tc__dtype((int)m->was)->name,
                tc__dtype((int)m->now)->name);
    else
        tc__put(t, "%swas %lld, now %lld", space, (long long)m->was, (long long)m->now);
}

static void tc__log_miss(tc_fn *f) {
    tc__text t;
    if (!tc__log_on(f->ctx, TC__LOG_GUARDS)) return;
    tc__text_init(&t, f->ctx);
    tc__put(&t, "function \"%s\": the body runs: ", f->region->name);
    tc__put_miss_reason(&t, &f->miss);
    tc__put(&t, "; called at %s:%d", f->miss.file ? f->miss.file : "?", f->miss.line);
    if (!t.failed) tc__log_text(f->ctx, TC__LOG_GUARDS, t.at);
    tc__text_free(&t);
}

// ---- what an entry assumes, in words ----

// "arg 0": inputs, then destinations, then the tensors used beside them.
static void tc__put_given_name(tc__text *t, const tc__entry *e, uint32_t i) {
    uint32_t n = e->n_in + e->n_to;
    if (i < e->n_in)
        tc__put(t, "arg %u", (unsigned)i);
    else if (i < n)
        tc__put(t, "to %u", (unsigned)(i - e->n_in));
    else
        tc__put(t, "captured %u", (unsigned)(i - n));
}

static void tc__put_given(tc__text *t, const tc__entry *e, uint32_t i) {
    const tc__given *g = &e->given.at[i];
    tc__put_given_name(t, e, i);
    tc__put(t, " ");
    if (!g->layout)
        tc__put(t, "null");
    else
        tc__put_layout(t, g->layout);
    if (g->constant) tc__put(t, ", this tc_const");
    if (g->grad) tc__put(t, ", with this gradient");
    tc__put(t, "\n");
    if (g->same == i && g->alias == i) return;
    tc__put_given_name(t, e, i);
    tc__put(t, g->same != i ? " is " : " shares memory with ");
    tc__put_given_name(t, e, g->same != i ? g->same : g->alias);
    tc__put(t, "\n");
}

// One line each for what a call must be like for the entry to hold.
static void tc__put_entry_guards(tc__text *t, const tc__entry *e) {
    if (e->evaluates) tc__put(t, "tc_training is off\n");
    for (uint32_t i = 0; i < e->given.count; i++) tc__put_given(t, e, i);
    for (size_t i = 0; i < e->range.count; i++)
        if (e->range.at[i].bytes)
            tc__put(t, "%s %zu bytes\n", i ? "tc_guard_bytes" : "*user",
                    e->range.at[i].bytes);
    if (e->half) tc__put(t, "autocast %s\n", tc__dtype(e->half)->name);
    if (e->skips) tc__put(t, "inside this step of a tc_grad_scaler\n");
    if (e->lr_scale) tc__put(t, "inside this tc_lr_scale_begin\n");
}

static void tc__log_entry_guards(const tc__fcall *k, const tc__entry *e) {
    tc_ctx *c = k->f->ctx;
    tc__text who, lines;
    if (!tc__log_on(c, TC__LOG_GUARDS)) return;
    tc__text_init(&who, c);
    tc__text_init(&lines, c);
    tc__put(&who, "function \"%s\", call at ", k->f->region->name);
    tc__put_site(&who, k->site);
    tc__put_entry_guards(&lines, e);
    if (!who.failed && !lines.failed) tc__log_guards(c, who.at, &lines);
    tc__text_free(&who);
    tc__text_free(&lines);
}

// From now on every call runs the body.
static void tc__fn_demote(tc_fn *f, const char *why, tc__site at) {
    if (f->demoted) return;
    f->demoted = why;
    tc__entries_free(f);
    tc__log(f->ctx, TC__LOG_RECOMPILES,
            "function \"%s\": its body is not skipped: %s (%s:%d)", f->region->name, why,
            at.file ? at.file : "?", at.line);
}
