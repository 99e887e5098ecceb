// Entries of functions: what one run of a body assumed, and the program it led to.
//
// A call first signs its tensors: layout, which earlier one is the same, which shares memory. An
// entry holds that signature, the user's bytes and the tensors used beside the inputs. Equal
// signature, equal bytes: the entry serves the call.
//
// Guards are exact. Layouts are interned, so a guard is one compare per input; another size
// is another entry, for which the body runs again (5 ns per op) and lands on the program
// with run-time sizes. So no answer depends on a guess about how a size was used. A guard
// of a mere relation (tc_dim_ge and the like) would have to prove that nothing else in the
// body, the user's own C code included, looked at the size; following the recording, which
// a re-run is, costs as much as such a proof. They are plain questions, and never give a
// stale answer.

// What is assumed of one tensor.
typedef struct tc__given {
    uint32_t layout;      // 0 = the null tensor
    uint16_t same, alias; // first tensor of the call that is this one; on the same storage
    uint64_t constant;    // handle of a tc_const, whose contents may be in the code; else 0
    uint64_t grad;        // that of its gradient, which the body may write; 0 = none
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
    size_t begin;    // bytes from there on
} tc__quick_address;

typedef struct tc__quick {
    uint64_t serial; // of the program that it was made for; 0 = no short cut
    TC__VEC(tc__quick_address) in, out;
    TC__VEC(tc__tensor *) tensor; // of the call before: inputs, destinations, captured
    TC__VEC(uint64_t) id;         //   and their handles
    int writes;                   // some output is written where an external lies
    int plain;                    // no run-time sizes or values, no bytes to compare
} tc__quick;

typedef struct tc__entry {
    tc__step *leaf; // FINISH of the recorded path; owns the program
    uint32_t n_in, n_to, n_out;
    uint32_t draws;           // random numbers drawn
    int device;               // the default device
    int evaluates;            // tc_training is off
    int half;                 // of autocast, 0 = off
    uint64_t skips;           // handle of what keeps writes from being done; 0 = none
    uint64_t lr_scale;        //   of the factor of rates; 0 = none
    int checked;              // the body recorded the same at the second call
    uint64_t hits;            // calls that skipped the body
    TC__VEC(tc__given) given; // inputs, destinations, captured tensors
    TC__VEC(int64_t)
    at;         // by given: its first element, from that of the first on its storage
    int writes; // the recording writes in place
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

enum {
    TC__FN_ENTRIES = 64,            // the least recently used one goes
    TC__FN_TENSORS = UINT16_MAX / 2 // inputs, and results, of a call
};

struct tc_fn {
    tc_ctx *ctx;
    tc__region *region; // of the body's recordings; owned
    const char *name;   // owned; another thread may read it: tc_fn_in
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
    int running;                  // calls of its body that have not returned
    uint64_t uses;       // when exec/bound.c looked last: visits, calls that skipped it
    uint32_t epoch;      // marks tensors and storage while signing
    tc__visit visit;     // binds externals of a call that skips the body
    const char *demoted; // static text; NULL = calls may skip the body
    tc_miss miss;
    tc__text text; // of tc_miss_text and tc_fn_demoted
    struct tc_fn *next;
};

typedef struct tc__fcall {
    tc_fn *f;
    const tc_tensor *in, *to;
    const tc_tensor
        *seen; // what the body knows inputs, then destinations by; NULL = as they are
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
        g->layout = 0, g->same = g->alias = (uint16_t)i, g->constant = g->grad = 0;
        f->tensor.at[i] = NULL;
        return 1;
    }
    tc__tensor *t = tc__tensor_find(f->ctx, h);
    if (!t) return 0;
    tc__storage *s = t->storage;
    if (t->bind_epoch != f->epoch) t->bind_epoch = f->epoch, t->bind_index = i;
    if (s->bind_epoch != f->epoch) s->bind_epoch = f->epoch, s->bind_index = i;
    g->layout = t->layout, g->constant = s->constant ? h.id : 0;
    g->grad = t->grad;
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

// Where tensor i of the call begins, from the first tensor on its storage.
static int64_t tc__given_at(const tc_fn *f, size_t i) {
    const tc__tensor *t = f->tensor.at[i];
    return t ? t->offset - f->tensor.at[f->given.at[i].alias]->offset : 0;
}

// Whether tensors i and k, on one storage, share the elements that they shared when the entry was made.
static int tc__entry_pair_lies(const tc_fn *f, const tc__entry *e, size_t i, size_t k) {
    const tc__layout *a = tc__layout_at(f->ctx, e->given.at[i].layout);
    const tc__layout *b = tc__layout_at(f->ctx, e->given.at[k].layout);
    int64_t was = e->at.at[k] - e->at.at[i], now = tc__given_at(f, k) - tc__given_at(f, i);
    return was == now ||
           (!tc__layouts_meet(a, 0, b, was) && !tc__layouts_meet(a, 0, b, now));
}

// Whether the signed tensors share memory as those that the entry was made with, if something is written.
static int tc__entry_lies(const tc_fn *f, const tc__entry *e) {
    size_t n = e->given.count, moved = 0;
    for (size_t i = 0; e->writes && i < n; i++) moved += tc__given_at(f, i) != e->at.at[i];
    for (size_t k = 0; moved && k < n; k++)
        for (size_t i = 0; i < k; i++)
            if (e->given.at[i].alias == e->given.at[k].alias &&
                !tc__entry_pair_lies(f, e, i, k))
                return 0;
    return 1;
}

// The SHARE steps before the end of the recording.
static uint32_t tc__entry_shares(const tc__entry *e) {
    uint32_t n = 0;
    for (const tc__step *s = e->leaf->parent; s && s->op == TC_OP_SHARE; s = s->parent) n++;
    return n;
}

// Whether the call is under the same autocast, step of a scaler and factor of rates. Calls that an entry serves are in no visit.
TC__ALWAYS_INLINE int tc__entry_lexical_holds(const tc_fn *f, const tc__entry *e) {
    const tc__lexical *l = &f->ctx->recorder.lexical;
    return e->half == l->half && e->skips == l->skips.id && e->lr_scale == l->lr_scale.id;
}

// Whether entry `e` is valid for the call, whose inputs and destinations are signed.
static int tc__entry_holds(const tc__fcall *k, const tc__entry *e) {
    tc_fn *f = k->f;
    size_t n = k->n_in + k->n_to;
    if (e->n_in != k->n_in || e->n_to != k->n_to || e->n_out != k->n_out) return 0;
    if (n && memcmp(f->given.at, e->given.at, n * sizeof *e->given.at)) return 0;
    if (e->device != tc__values_of(f->ctx)->default_device) return 0;
    if (e->evaluates != f->ctx->recorder.evaluates) return 0;
    if (!tc__entry_lexical_holds(f, e)) return 0;
    if (!tc__entry_ranges_hold(e)) return 0;
    if (!e->captured.count) return tc__entry_lies(f, e);
    // A fresh signature: an entry tried before this one may have marked other tensors.
    if (e != f->entry && !tc__fn_sign_all(k, NULL, 0)) return 0;
    for (uint32_t i = 0; i < e->captured.count; i++)
        if (!tc__fn_sign(f, (uint32_t)n + i, e->captured.at[i])) return 0;
    return !memcmp(&f->given.at[n], &e->given.at[n],
                   e->captured.count * sizeof *e->given.at) &&
           tc__entry_lies(f, e);
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
    if (e->leaf) e->leaf->branch->entries--; // its steps may be forgotten
    TC__VEC_FREE(c, e->given);
    TC__VEC_FREE(c, e->at);
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

// The short cuts, which do not ask for the default device or tc_training, are off until their entries have
// served the long way.
static void tc__fns_look_again(tc_ctx *c) {
    for (tc_fn *f = c->fn; f; f = f->next)
        for (tc__entry *e = f->entry; e; e = e->next) e->quick.serial = 0;
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
    while (i < n && k->seen[i].id != h.id) i++;
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
    e->leaf = v->at, e->leaf->branch->entries++;
    e->n_in = k->n_in, e->n_to = k->n_to, e->n_out = k->n_out;
    e->draws = (uint32_t)(c->recorder.draw - v->draw), e->device = v->device;
    e->evaluates = c->recorder.evaluates;
    e->half = c->recorder.lexical.half, e->skips = c->recorder.lexical.skips.id;
    e->lr_scale = c->recorder.lexical.lr_scale.id;
    for (uint32_t i = 0; i < v->external.count; i++)
        if (!tc__is_hidden(&v->external.at[i]) &&
            !tc__entry_source(k, e, v->external.at[i].handle))
            return 0;
    for (uint32_t i = 0; i < e->leaf->n_in; i++)
        if (!tc__entry_result(c, e, (const tc__program *)e->leaf->program, e->leaf->in[i]))
            return 0;
    uint32_t n = k->n_in + k->n_to + (uint32_t)e->captured.count;
    if (!tc__fn_room(f, n)) return 0;
    if (!tc__fn_sign_all(k, e->captured.at, e->captured.count)) return 0;
    for (uint32_t i = 0; i < n; i++)
        if (!TC__PUSH(c, e->given, f->given.at[i]) ||
            !TC__PUSH(c, e->at, tc__given_at(f, i)))
            return 0;
    e->writes = v->writes;
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
