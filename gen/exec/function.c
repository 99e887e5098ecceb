// Functions: a body recorded as a region, and skipped while its guards hold.
//
// A call first signs its tensors: layout, which earlier one is the same, which shares memory. An
// entry is what one run of the body assumed (that signature, the user's bytes, the tensors it used
// beside its inputs) and the program it led to. Equal signature, equal bytes: the program runs and
// the body does not. Anything else runs the body as a visit of the function's region, where known
// code is found by following; so an entry is only ever a short cut.

// What is assumed of one tensor.
typedef struct tc__given {
    uint32_t layout;      // 0 = the null tensor
    uint16_t same, alias; // first tensor of the call that is this one; on the same storage
    uint64_t constant;    // handle of a tc_const, whose contents may be in the code; else 0
} tc__given;

typedef struct tc__snapshot {
    const void *at; // the user's
    uint8_t *copy;  // owned
    size_t bytes;
} tc__snapshot;

// An address that a short-cut call looks up: of a tensor of the call, or of an output.
typedef struct tc__quick_address {
    void **at;       // in some launch's `buf`
    uint32_t source; // index in given, or of the program's output
    uint32_t bytes;  // of an element
} tc__quick_address;

typedef struct tc__quick {
    const tc__program *program; // that it was made for; NULL = no short cut
    TC__VEC(tc__quick_address) in, out;
    TC__VEC(tc__tensor *) tensor; // of the call before: inputs, destinations, captured
    TC__VEC(uint64_t) id;         //   and their handles
    int writes;                   // some output is written where an external lies
    int plain;                    // no run-time sizes or values, no bytes to compare
} tc__quick;

typedef struct tc__entry {
    tc__step *leaf; // FINISH of the recorded path; owns the program
    uint32_t n_in, n_to, n_out;
    uint32_t draws;              // random numbers drawn
    int checked;                 // the body recorded the same at the second call
    TC__VEC(tc__given) given;    // inputs, destinations, captured tensors
    TC__VEC(tc_tensor) captured; // used beside the inputs
    TC__VEC(uint32_t) source;    // by external: index in given
    TC__VEC(tc__snapshot) range; // *user first, then tc_guard_bytes
    TC__VEC(uint32_t)
    result;                // by result: index of the program's output, or
                           //   TC__EXTERNAL | external
    TC__VEC(int64_t) size; // run-time sizes of the recording, by symbol
    TC__VEC(int64_t) arg;  //   and values, by number
    tc__quick quick;       // see exec/call.c
    struct tc__entry *next;
} tc__entry;

enum { TC__FN_ENTRIES = 64 }; // the least recently used one goes

struct tc_fn {
    tc_ctx *ctx;
    tc__region *region; // of the body's recordings; owned
    const char *name;   // the caller's, static
    tc__site site;
    tc_body body;
    void *user;
    size_t user_bytes;
    tc_options options;
    uint64_t serial;     // of all functions of its context
    const tc_fn *origin; // of the parent context, of which this is an instance; NULL = none
    uint64_t origin_serial;
    tc__entry *entry;             // most recent first; owned
    TC__VEC(tc__given) given;     // of the call that runs
    TC__VEC(tc__tensor *) tensor; //   and its tensors, NULL = null
    TC__VEC(tc__snapshot) range;  // of the body that runs
    uint32_t epoch;               // marks tensors and storage while signing
    tc__visit visit;              // binds externals of a call that skips the body
    const char *demoted;          // static text; NULL = calls may skip the body
    tc_miss miss;
    tc__text text; // of tc_miss_text and tc_fn_demoted
    struct tc_fn *next;
};

typedef struct tc__fcall {
    tc_fn *f;
    const tc_tensor *in, *to;
    tc_tensor *out;
    uint32_t n_in, n_to, n_out; // n_to or n_out is 0
    tc__site site;
} tc__fcall;

// ---- ranges of bytes ----

static void tc__snapshot_free(tc_ctx *c, tc__snapshot *r) {
    tc__free(c, r->copy, r->bytes);
}

static int tc__snapshot_equal(const tc__snapshot *r) {
    return !r->bytes || !memcmp(r->at, r->copy, r->bytes);
}

// Bytes that an earlier range of this run of the body holds have been taken: what the body makes of
// them since then follows from that.
static int tc__snapshot_has(const tc_fn *f, const void *at, size_t bytes) {
    uintptr_t from = (uintptr_t)at;
    for (size_t i = 0; i < f->range.count; i++) {
        const tc__snapshot *r = &f->range.at[i];
        uintptr_t begin = (uintptr_t)r->at;
        if (from >= begin && from - begin <= r->bytes && bytes <= r->bytes - (from - begin))
            return 1;
    }
    return 0;
}

static int tc__snapshot_add(tc_fn *f, const void *at, size_t bytes) {
    tc__snapshot r;
    if (f->range.count && tc__snapshot_has(f, at, bytes)) return 1;
    r.at = at, r.bytes = bytes;
    r.copy = (uint8_t *)tc__alloc(f->ctx, bytes);
    if (!r.copy) return 0;
    if (bytes) memcpy(r.copy, at, bytes);
    if (TC__PUSH(f->ctx, f->range, r)) return 1;
    tc__snapshot_free(f->ctx, &r);
    return 0;
}

static void tc__snapshots_clear(tc_fn *f) {
    for (size_t i = 0; i < f->range.count; i++) tc__snapshot_free(f->ctx, &f->range.at[i]);
    f->range.count = 0;
}

// ---- signatures ----

// Signs tensor i of the call; 0 = it is no tensor in memory.
TC__ALWAYS_INLINE int tc__fn_sign(tc_fn *f, uint32_t i, tc_tensor h) {
    tc__given *g = &f->given.at[i];
    if (!h.id) {
        g->layout = 0, g->same = g->alias = (uint16_t)i, g->constant = 0;
        f->tensor.at[i] = NULL;
        return 1;
    }
    tc__tensor *t = tc__tensor_find(f->ctx, h);
    if (!t) return 0;
    tc__storage *s = t->storage;
    if (t->bind_epoch != f->epoch) t->bind_epoch = f->epoch, t->bind_index = i;
    if (s->bind_epoch != f->epoch) s->bind_epoch = f->epoch, s->bind_index = i;
    g->layout = t->layout, g->constant = s->constant ? h.id : 0;
    g->same = (uint16_t)t->bind_index, g->alias = (uint16_t)s->bind_index;
    f->tensor.at[i] = t;
    return 1;
}

static int tc__fn_room(tc_fn *f, size_t n) {
    tc__given none;
    memset(&none, 0, sizeof none);
    while (f->given.count < n)
        if (!TC__PUSH(f->ctx, f->given, none)) return 0;
    while (f->tensor.count < n)
        if (!TC__PUSH(f->ctx, f->tensor, NULL)) return 0;
    return 1;
}

// Signs the tensors of the call, then `more`; 0 = one of them is not in memory.
static int tc__fn_sign_all(const tc__fcall *k, const tc_tensor *more, size_t n_more) {
    tc_fn *f = k->f;
    uint32_t i = 0;
    f->epoch = tc__epoch_next(tc__values_of(f->ctx));
    for (uint32_t j = 0; j < k->n_in; j++)
        if (!tc__fn_sign(f, i++, k->in[j])) return 0;
    for (uint32_t j = 0; j < k->n_to; j++)
        if (!tc__fn_sign(f, i++, k->to[j])) return 0;
    for (size_t j = 0; j < n_more; j++)
        if (!tc__fn_sign(f, i++, more[j])) return 0;
    return 1;
}

static int tc__entry_ranges_hold(const tc__entry *e) {
    for (size_t i = 0; i < e->range.count; i++)
        if (!tc__snapshot_equal(&e->range.at[i])) return 0;
    return 1;
}

// Whether entry `e` is valid for the call, whose inputs and destinations are signed.
static int tc__entry_holds(const tc__fcall *k, const tc__entry *e) {
    tc_fn *f = k->f;
    size_t n = k->n_in + k->n_to;
    if (e->n_in != k->n_in || e->n_to != k->n_to || e->n_out != k->n_out) return 0;
    if (n && memcmp(f->given.at, e->given.at, n * sizeof *e->given.at)) return 0;
    if (!tc__entry_ranges_hold(e)) return 0;
    if (!e->captured.count) return 1;
    // A fresh signature: an entry tried before this one may have marked other tensors.
    if (e != f->entry && !tc__fn_sign_all(k, NULL, 0)) return 0;
    for (uint32_t i = 0; i < e->captured.count; i++)
        if (!tc__fn_sign(f, (uint32_t)n + i, e->captured.at[i])) return 0;
    return !memcmp(&f->given.at[n], &e->given.at[n],
                   e->captured.count * sizeof *e->given.at);
}

static tc__entry *tc__entry_find(const tc__fcall *k) {
    tc__entry **at = &k->f->entry;
    for (tc__entry *e; (e = *at) != NULL; at = &e->next) {
        if (!tc__entry_holds(k, e)) continue;
        *at = e->next, e->next = k->f->entry, k->f->entry = e;
        return e;
    }
    return NULL;
}

// ---- entries ----

static void tc__entry_free(tc_ctx *c, tc__entry *e) {
    for (size_t i = 0; i < e->range.count; i++) tc__snapshot_free(c, &e->range.at[i]);
    TC__VEC_FREE(c, e->given);
    TC__VEC_FREE(c, e->captured);
    TC__VEC_FREE(c, e->source);
    TC__VEC_FREE(c, e->range);
    TC__VEC_FREE(c, e->result);
    TC__VEC_FREE(c, e->size);
    TC__VEC_FREE(c, e->arg);
    TC__VEC_FREE(c, e->quick.in);
    TC__VEC_FREE(c, e->quick.out);
    TC__VEC_FREE(c, e->quick.tensor);
    TC__VEC_FREE(c, e->quick.id);
    tc__free(c, e, sizeof *e);
}

static void tc__entries_free(tc_fn *f) {
    while (f->entry) {
        tc__entry *next = f->entry->next;
        tc__entry_free(f->ctx, f->entry);
        f->entry = next;
    }
}

static void tc__entries_trim(tc_fn *f) {
    tc__entry **at = &f->entry;
    for (int n = 0; *at && n < TC__FN_ENTRIES; n++) at = &(*at)->next;
    if (!*at) return;
    tc__entry_free(f->ctx, *at);
    *at = NULL;
}

// Where the call gives external `h`: among inputs and destinations, else captured, which it joins.
static int tc__entry_source(const tc__fcall *k, tc__entry *e, tc_tensor h) {
    tc_ctx *c = k->f->ctx;
    uint32_t n = k->n_in + k->n_to, i = 0;
    while (i < n && (i < k->n_in ? k->in[i] : k->to[i - k->n_in]).id != h.id) i++;
    if (i == n) {
        i = n + (uint32_t)e->captured.count;
        if (!TC__PUSH(c, e->captured, h)) return 0;
    }
    return TC__PUSH(c, e->source, i);
}

// Where result `code` of the body is found after a run of program p; 0 = nowhere.
static int tc__entry_result(tc_ctx *c, tc__entry *e, const tc__program *p, uint32_t code) {
    if (code & TC__EXTERNAL) return TC__PUSH(c, e->result, code);
    for (uint32_t i = 0; i < p->output.count; i++)
        if (p->output.at[i].position == code) return TC__PUSH(c, e->result, i);
    return 0;
}

static int tc__entry_fill(const tc__fcall *k, tc__entry *e, const tc__visit *v) {
    tc_fn *f = k->f;
    tc_ctx *c = f->ctx;
    e->leaf = v->at, e->n_in = k->n_in, e->n_to = k->n_to, e->n_out = k->n_out;
    e->draws = (uint32_t)(c->recorder.draw - v->draw);
    for (uint32_t i = 0; i < v->external.count; i++)
        if (!tc__entry_source(k, e, v->external.at[i].handle)) return 0;
    for (uint32_t i = 0; i < e->leaf->n_in; i++)
        if (!tc__entry_result(c, e, (const tc__program *)e->leaf->program, e->leaf->in[i]))
            return 0;
    uint32_t n = k->n_in + k->n_to + (uint32_t)e->captured.count;
    if (!tc__fn_room(f, n)) return 0;
    if (!tc__fn_sign_all(k, e->captured.at, e->captured.count)) return 0;
    for (uint32_t i = 0; i < n; i++)
        if (!TC__PUSH(c, e->given, f->given.at[i])) return 0;
    for (size_t i = 0; i < v->size.count; i++)
        if (!TC__PUSH(c, e->size, v->size.at[i])) return 0;
    for (size_t i = 0; i < v->arg.count; i++)
        if (!TC__PUSH(c, e->arg, v->arg.at[i])) return 0;
    for (size_t i = 0; i < f->range.count; i++)
        if (!TC__PUSH(c, e->range, f->range.at[i])) return 0;
    f->range.count = 0; // they are the entry's now
    return 1;
}

// What the visit that just ended assumed; NULL = out of memory.
static tc__entry *tc__entry_new(const tc__fcall *k, const tc__visit *v) {
    tc_ctx *c = k->f->ctx;
    tc__entry *e = TC__NEW(c, tc__entry);
    if (!e || tc__entry_fill(k, e, v)) return e;
    if (k->f->range.count) e->range.count = 0; // still the function's
    tc__entry_free(c, e);
    return NULL;
}

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
        else if (was->constant != now->constant)
            tc__fn_missed(f, TC_MISS_CONST, (int)i, -1, 0, 0);
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
    else if (!tc__miss_given(f, e, k->n_in + k->n_to) && !tc__miss_range(f, e))
        tc__fn_missed(f, TC_MISS_CAPTURED, -1, -1, 0, 0);
}

static void tc__put_miss_reason(tc__text *t, const tc_miss *m) {
    static const char *const text[] = {
        "the body was skipped at every call",
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
    };
    if (m->arg >= 0) tc__put(t, m->kind == TC_MISS_BYTES ? "range %d " : "arg %d ", m->arg);
    if (m->dim >= 0)
        tc__put(
            t, m->kind == TC_MISS_DIM || m->kind == TC_MISS_STRIDE ? "dim %d " : "byte %d ",
            m->dim);
    tc__put(t, "%s", text[m->kind]);
    if (m->was == m->now) return;
    const char *space = *text[m->kind] ? " " : "";
    if (m->kind == TC_MISS_DTYPE)
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

// From now on every call runs the body.
static void tc__fn_demote(tc_fn *f, const char *why, tc__site at) {
    if (f->demoted) return;
    f->demoted = why;
    tc__entries_free(f);
    tc__log(f->ctx, TC__LOG_RECOMPILES,
            "function \"%s\": its body is not skipped: %s (%s:%d)", f->region->name, why,
            at.file ? at.file : "?", at.line);
}

// ---- running the body ----

static int tc__fn_body(const tc__fcall *k, tc_tensor *out) {
    tc_fn *f = k->f;
    uint32_t n = k->n_out + k->n_to;
    for (uint32_t i = 0; i < n; i++) out[i] = tc__null();
    f->body(f->ctx, k->in, out, f->user);
    if (tc__core_of(f->ctx)->unit_item) return 0;
    for (uint32_t i = 0; i < n; i++)
        if (!out[i].id)
            return tc__fail(f->ctx, TC_E_NULL,
                            "function \"%s\": its body did not set out[%u]",
                            f->region->name, (unsigned)i);
    for (uint32_t i = 0; i < k->n_to; i++)
        if (!tc_copy__at(k->to[i], out[i], k->site.file, k->site.line).id) return 0;
    return 1;
}

// Results of a visit or of eager ops become tensors of the caller's; 0 = none did, reported.
static int tc__fn_hand_out(const tc__fcall *k, const tc_tensor *from) {
    tc_ctx *c = k->f->ctx;
    for (uint32_t i = 0; i < k->n_out; i++) {
        tc__tensor *t = tc__tensor_need(c, k->f->region->name, from[i]);
        tc__storage *s = t ? t->storage : NULL;
        if (s) s->refs++;
        k->out[i] =
            s ? tc__tensor_new(c, t->layout, s, t->offset, k->site.file, k->site.line)
              : tc__null();
        if (k->out[i].id) continue;
        while (i--) {
            tc__slot_free(c, tc__handle_slot(k->out[i]), "lost", k->site.file,
                          k->site.line);
            k->out[i] = tc__null();
        }
        return 0;
    }
    return 1;
}

static const tc__step *tc__path_has(const tc__visit *v, tc__op op) {
    for (size_t i = 0; i < v->path.count; i++)
        if (v->path.at[i]->op == op) return v->path.at[i];
    return NULL;
}

// The body has recorded what entry `e` says: the same path over the same tensors.
static int tc__entry_confirms(const tc__fcall *k, const tc__entry *e, const tc__visit *v) {
    uint32_t n = k->n_in + k->n_to;
    if (v->at != e->leaf || v->external.count != e->source.count) return 0;
    for (uint32_t i = 0; i < v->external.count; i++) {
        uint32_t s = e->source.at[i];
        tc_tensor h = s >= n        ? e->captured.at[s - n]
                      : s < k->n_in ? k->in[s]
                                    : k->to[s - k->n_in];
        if (h.id != v->external.at[i].handle.id) return 0;
    }
    return 1;
}

// The visit is done: remember what it assumed, or why the body cannot be skipped.
static void tc__fn_learn(const tc__fcall *k, tc__visit *v, tc__entry *found) {
    tc_fn *f = k->f;
    const tc__step *s;
    if (f->demoted) return;
    if ((s = tc__path_has(v, TC_OP_BREAK)) != NULL) {
        tc__fn_demote(f, "it reads a value (tc_item, tc_read, tc_print), or calls the host",
                      s->site);
    } else if ((s = tc__path_has(v, TC_OP_KEEP)) != NULL) {
        tc__fn_demote(f, "it keeps a result beside out[]", s->site);
    } else if (!found) {
        tc__entry *e = tc__entry_new(k, v);
        if (!e) return;
        e->next = f->entry, f->entry = e;
        tc__entries_trim(f);
    } else if (tc__entry_confirms(k, found, v)) {
        found->checked = 1;
    } else {
        tc__fn_demote(
            f,
            "the same inputs gave another recording: it depends on something that "
            "is no input; name it with tc_guard_bytes, or put it in *user",
            k->site);
    }
}

// Results from the body's visit; `out` has room for all of them.
static int tc__fn_visit(const tc__fcall *k, tc__entry *found, tc_tensor *out) {
    tc_fn *f = k->f;
    tc_ctx *c = f->ctx;
    tc__recorder *r = tc__recorder_of(c);
    c->begun = tc__now_ns(), c->busy = tc__busy_ns(c);
    if (!tc__visit_open(c, f->region, k->site)) return 0;
    tc__visit *v = r->visit;
    tc__snapshots_clear(f);
    uint64_t programs = c->stats.programs, here = tc__here_enter(c);
    int ok = tc__snapshot_add(f, f->user, f->user_bytes) && tc__fn_body(k, out);
    ok = ok && r->visit == v && !v->broken && tc__visit_finish(c, v, out, k->n_out);
    if (r->visit == v) v->state = ok ? TC__VISIT_DONE : TC__VISIT_FAILED;
    r->visit = NULL, r->depth = 0;
    tc__here_leave(c, here);
    f->miss.compiled = c->stats.programs != programs;
    if (ok) tc__fn_learn(k, v, found);
    ok = ok && tc__fn_hand_out(k, out);
    tc__visit_clear(c, v);
    tc__snapshots_clear(f);
    return ok;
}

// ---- calls ----

static int tc__fn_external(tc_fn *f, tc__tensor *t, tc__visit *v) {
    tc__external e;
    memset(&e, 0, sizeof e);
    e.storage = t->storage, e.layout = t->layout, e.offset = t->offset;
    return TC__PUSH(f->ctx, v->external, e);
}

static int tc__fn_result(const tc__fcall *k, const tc__entry *e, const tc__program *p,
                         uint32_t i) {
    tc_fn *f = k->f;
    uint32_t at = e->result.at[i];
    const tc__output *o = at & TC__EXTERNAL ? NULL : &p->output.at[at];
    uint32_t from = !o ? at & ~TC__EXTERNAL : o->alias ? o->external : UINT32_MAX;
    const tc__external *x = from == UINT32_MAX ? NULL : &f->visit.external.at[from];
    tc__storage *s = x ? x->storage : o->storage;
    s->refs++;
    k->out[i] =
        tc__tensor_new(f->ctx, o ? o->layout : x->layout, s,
                       x ? x->offset + (o ? o->offset : 0) : 0, k->site.file, k->site.line);
    return k->out[i].id != 0;
}

// The sizes and values of a call that skips the body are those of the entry.
static tc__visit *tc__entry_visit(tc_fn *f, const tc__entry *e) {
    tc__visit *v = &f->visit;
    v->size.at = e->size.at, v->size.count = e->size.count;
    v->arg.at = e->arg.at, v->arg.count = e->arg.count;
    return v;
}

// The steps of a recording, for a program that is laid out for other sizes.
static int tc__fn_path(tc_fn *f, tc__step *leaf) {
    tc__visit *v = &f->visit;
    while (v->path.count <= leaf->position)
        if (!TC__PUSH(f->ctx, v->path, NULL)) return 0;
    for (tc__step *s = leaf; s->parent; s = s->parent) v->path.at[s->position] = s;
    return 1;
}

// Runs the program of an entry that holds.
static int tc__fn_skip(const tc__fcall *k, const tc__entry *e) {
    tc_fn *f = k->f;
    tc__visit *v = &f->visit;
    tc__program *p = (tc__program *)e->leaf->program;
    tc__recorder *r = tc__recorder_of(f->ctx);
    v->external.count = 0;
    v->draw = r->draw, r->draw += e->draws;
    for (size_t i = 0; i < e->source.count; i++)
        if (!tc__fn_external(f, f->tensor.at[e->source.at[i]], v)) return 0;
    if (!tc__program_is_laid_out(p, v) && !tc__fn_path(f, e->leaf)) return 0;
    f->ctx->stats.skips++, f->ctx->stats.program_hits++;
    if (!tc__program_run(p, v)) return 0;
    for (uint32_t i = 0; i < k->n_out; i++)
        if (!tc__fn_result(k, e, p, i)) return 0;
    return 1;
}

// Room for `n` tensors: `few`, or memory that tc__tensors_free gives back. NULL = reported.
enum { TC__FEW = 16 };

static tc_tensor *tc__tensors_new(tc_ctx *c, tc_tensor *few, uint32_t n) {
    return n <= TC__FEW ? few : TC__NEW_ARRAY(c, tc_tensor, n);
}

static void tc__tensors_free(tc_ctx *c, tc_tensor *at, const tc_tensor *few, uint32_t n) {
    if (at && at != few) tc__free(c, at, n * sizeof *at);
}

// The function whose body is recorded now, NULL = none.
static tc_fn *tc__fn_recorded(tc_ctx *c) {
    const tc__visit *v = tc__recorder_of(c)->visit;
    tc_fn *f = v && v->region->function ? c->fn : NULL;
    while (f && f->region != v->region) f = f->next;
    return f;
}

// A part of the open region, or eager: the body runs as any code does. What it depends on, a body
// around it depends on too.
static int tc__fn_inline(const tc__fcall *k, tc_tensor *out) {
    tc__api f;
    tc_ctx *c = k->f->ctx;
    tc_fn *outer = tc__fn_recorded(c);
    if (outer && k->f->user_bytes && !tc__snapshot_add(outer, k->f->user, k->f->user_bytes))
        return 0;
    if (!tc__api_open(&f, c, k->f->region->name, k->site.file, k->site.line)) return 0;
    int recording = tc__is_recording(c);
    tc__api_scope(&f);
    uint64_t here = tc__here_enter(c);
    int ok = tc__fn_body(k, out);
    tc__here_leave(c, here);
    if (recording) {
        if (ok && k->n_out) memcpy(k->out, out, k->n_out * sizeof *out);
        return ok;
    }
    ok = ok && tc__fn_hand_out(k, out);
    tc__leave_many(&f, k->out, ok ? (int)k->n_out : 0);
    return ok;
}

static int tc__fn_bring(const tc__fcall *k, const tc_tensor *t, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        if (t[i].id && !tc__tensor_need(k->f->ctx, k->f->region->name, t[i])) return 0;
    return 1;
}

// A call that no entry serves yet.
static int tc__fn_slow(const tc__fcall *k, tc__entry *found, int isolated) {
    tc_tensor few[TC__FEW];
    tc_ctx *c = k->f->ctx;
    uint32_t n = k->n_out + k->n_to;
    tc_tensor *out = tc__tensors_new(c, few, n);
    if (!out) return 0;
    int ok = isolated ? tc__fn_visit(k, found, out) : tc__fn_inline(k, out);
    tc__tensors_free(c, out, few, n);
    return ok;
}

static int tc__fn_is_part(const tc_fn *f) {
    const tc__recorder *r = &f->ctx->recorder;
    return r->visit || r->skipped || tc__runs_eagerly(f->ctx) || f->options.disable;
}

static int tc__fn_run(const tc__fcall *k) {
    tc_fn *f = k->f;
    f->ctx->stats.calls++;
    if (tc__fn_is_part(f)) return tc__fn_slow(k, NULL, 0);
    uint32_t n = k->n_in + k->n_to;
    if (f->given.count < n && !tc__fn_room(f, n)) return 0;
    if (!tc__fn_sign_all(k, NULL, 0)) {
        // Something is not in memory: a forgotten result of a region, or dead.
        if (!tc__fn_bring(k, k->in, k->n_in) || !tc__fn_bring(k, k->to, k->n_to)) return 0;
        if (!tc__fn_sign_all(k, NULL, 0)) return 0;
    }
    tc__entry *e = f->demoted ? NULL : tc__entry_find(k);
    if (e && e->checked && tc__step_is_ready(tc__entry_visit(f, e), e->leaf))
        return tc__fn_skip(k, e);
    tc__miss_find(k, e);
    tc__log_miss(f);
    return tc__fn_slow(k, e, 1);
}

static int tc__fn_check(const tc__fcall *k) {
    const char *name = k->f->region->name;
    tc_ctx *c = k->f->ctx;
    if (k->n_in > UINT16_MAX / 2 || k->n_out + k->n_to > UINT16_MAX / 2)
        return tc__fail(c, TC_E_ARG,
                        "function \"%s\": %d inputs and %d results; 0..%d each", name,
                        (int)k->n_in, (int)(k->n_out + k->n_to), UINT16_MAX / 2);
    if ((k->n_in && !k->in) || (k->n_out && !k->out) || (k->n_to && !k->to))
        return tc__fail(c, TC_E_NULL, "function \"%s\": a null array of tensors", name);
    for (uint32_t i = 0; i < k->n_to; i++)
        if (!k->to[i].id) return tc__fail_null(c, name);
    return 1;
}

static tc_status tc__fn_call(const tc__fcall *k) {
    tc_ctx *c = k->f->ctx;
    tc_status outer = tc__unit_begin(c);
    tc__site_set(c, k->site);
    int ok = tc__fn_check(k);
    for (uint32_t i = 0; ok && i < k->n_out; i++) k->out[i] = tc__null();
    ok = ok && tc__fn_run(k);
    return tc__unit_end(c, outer, ok);
}

// ---- making ----

static void tc__fn_forget_region(tc_fn *f) {
    tc__region **at = &tc__recorder_of(f->ctx)->region;
    while (*at != f->region) at = &(*at)->next;
    *at = f->region->next;
    tc__region_free(f->ctx, f->region);
}

TCDEF tc_fn *tc_compile_at(tc_ctx *tc, tc_body body, void *user, size_t user_bytes,
                           const tc_options *options, const char *name, const char *file,
                           int line) {
    tc__site site;
    if (!tc) return NULL;
    site.file = file, site.line = line;
    tc__site_set(tc, site);
    if (!body || (user_bytes && !user)) {
        tc__fail(tc, TC_E_NULL, "tc_compile: %s is null", body ? "user" : "the body");
        return NULL;
    }
    tc_fn *f = TC__NEW(tc, tc_fn);
    if (!f) return NULL;
    f->ctx = tc;
    f->region = tc__region_new(tc, name ? name : "function", site, 0);
    if (!f->region || !tc__region_options(tc, f->region, "tc_compile", options)) {
        if (f->region) tc__fn_forget_region(f);
        tc__free(tc, f, sizeof *f);
        return NULL;
    }
    f->options = f->region->options;
    f->name = name ? name : "function", f->site = site;
    f->body = body, f->user = user, f->user_bytes = user_bytes;
    f->region->function = 1;
    f->visit.region = f->region;
    tc__text_init(&f->text, tc);
    f->next = tc->fn, tc->fn = f, f->serial = tc->fn_serial++;
    return f;
}

// The bytes of a function that is freed may be gone: entries of others that compare them go too.
static void tc__fn_forget_bytes(tc_ctx *c, const tc_fn *gone) {
    for (tc_fn *f = gone->user_bytes ? c->fn : NULL; f; f = f->next) {
        tc__entry **at = &f->entry;
        for (tc__entry *e; f != gone && (e = *at) != NULL;) {
            size_t i = 1; // range 0 is its own
            while (i < e->range.count && e->range.at[i].at != gone->user) i++;
            if (i >= e->range.count) {
                at = &e->next;
                continue;
            }
            *at = e->next;
            tc__entry_free(c, e);
        }
    }
}

TCDEF tc_fn *tc_fn_in(tc_ctx *tc, const tc_fn *f) {
    if (!tc || !f) return NULL;
    tc_fn *own = tc->fn;
    if (f->ctx == tc) return (tc_fn *)(uintptr_t)f;
    while (own && (own->origin != f || own->origin_serial != f->serial)) own = own->next;
    if (own) return own;
    if (tc__values_of(tc)->parent != f->ctx) {
        tc__fail(
            tc, TC_E_FOREIGN,
            "tc_fn_in: function \"%s\" belongs to a context that this one was not opened "
            "from with tc_open_shared",
            f->name);
        return NULL;
    }
    own = tc_compile_at(tc, f->body, f->user, f->user_bytes, &f->options, f->name,
                        f->site.file, f->site.line);
    if (own) own->origin = f, own->origin_serial = f->serial;
    return own;
}

// The instance of a function that a call is about: of the context of its tensors, or of the child that
// runs on this thread.
static tc_fn *tc__fn_here(const tc__fcall *k) {
    tc_ctx *c = tc__ctx_here(k->f->ctx), *of = NULL;
    if (k->n_in && k->in) of = tc__ctx_of_all(k->in, k->n_in);
    if (c == k->f->ctx && of && tc__values_of(of)->parent == c) c = of;
    return tc_fn_in(c, k->f);
}

// A new region, with nothing recorded; 0 = out of memory, nothing is changed.
static int tc__fn_reset(tc_fn *f) {
    tc__region *old = f->region;
    tc__region *fresh = tc__region_new(f->ctx, old->name, old->begin, 0);
    if (!fresh) return 0;
    fresh->function = 1;
    fresh->options = old->options, fresh->backend = old->backend;
    tc__entries_free(f);
    tc__fn_forget_region(f);
    f->region = f->visit.region = fresh, f->demoted = NULL;
    memset(&f->miss, 0, sizeof f->miss);
    return 1;
}

TCDEF void tc_fn_free(tc_fn *f) {
    if (!f) return;
    tc_ctx *c = f->ctx;
    tc_fn **at = &c->fn;
    tc__fn_forget_bytes(c, f);
    while (*at != f) at = &(*at)->next;
    *at = f->next;
    if (c->recorder.visit && c->recorder.visit->region == f->region)
        tc__visit_abandon(c, c->recorder.visit, "was freed while its body ran");
    tc__entries_free(f);
    tc__snapshots_clear(f);
    tc__fn_forget_region(f);
    TC__VEC_FREE(c, f->given);
    TC__VEC_FREE(c, f->tensor);
    TC__VEC_FREE(c, f->range);
    TC__VEC_FREE(c, f->visit.external);
    TC__VEC_FREE(c, f->visit.path);
    tc__text_free(&f->text);
    tc__free(c, f, sizeof *f);
}

// ---- asking ----

TCDEF void tc_guard_bytes(tc_ctx *tc, const void *at, size_t bytes) {
    tc_fn *f = tc ? tc__fn_recorded(tc) : NULL;
    if (f && bytes) tc__snapshot_add(f, at, bytes);
}

TCDEF int tc_is_compiling(const tc_ctx *tc) { return tc && tc->recorder.visit != NULL; }

TCDEF tc_miss tc_last_miss(const tc_fn *f) {
    tc_miss none;
    memset(&none, 0, sizeof none);
    none.arg = none.dim = -1;
    return f && f->miss.kind ? f->miss : none;
}

TCDEF const char *tc_miss_text(tc_fn *f) {
    if (!f) return "";
    tc_miss m = tc_last_miss(f);
    tc__text_clear(&f->text);
    tc__put_miss_reason(&f->text, &m);
    if (m.kind) tc__put(&f->text, "; called at %s:%d", m.file ? m.file : "?", m.line);
    return f->text.failed ? "" : f->text.at;
}

TCDEF const char *tc_fn_demoted(const tc_fn *f) { return f ? f->demoted : NULL; }
