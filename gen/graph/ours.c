// Which context a call is about, and whether it is this thread's to use. Input: handles, and the thread. Output: a context,
// or an error, which is left where the thread would look for it.

// ---- the thread ----

static int tc__fail_calling(tc_ctx *c, const char *who) {
    return tc__fail(c, TC_E_STATE,
                    "%s: called by a function of a custom op or backend, which must not "
                    "use the context; tc_host_call may",
                    who);
}

// The thread that is in a call of the context, or else began what is open; 0 = none.
TC__INLINE uint64_t tc__user_of(tc_ctx *c) {
    const tc__recorder *r = tc__recorder_of(c);
    uint64_t call = tc__atomic_load64(&r->values.core.user);
    int open = r->visit || r->suspended || r->skipped || r->disabled;
    return call ? call : open ? tc__atomic_load64(&r->thread) : 0;
}

// Whether another thread has the context, or had when it ended. Nothing changes.
static int tc__is_others(tc_ctx *c) {
    uint64_t user = tc__user_of(c);
    return user && user != tc__thread_self();
}

// A call that only looks, or is about no context, fails: what another thread has open goes on.
static void tc__unit_spare(tc_ctx *c, tc_status unit) {
    if (tc__is_others(c)) tc__core_of(c)->unit_item = unit;
}

// Whether that has ended where no other can go on: memory is asked for anywhere.
static int tc__is_lost(tc_ctx *c) {
    return tc__atomic_load32(&tc__core_of(c)->hooking) && !tc__thread_lives(tc__user_of(c));
}

// Another thread uses the context: it has a region open, or is in a call. What it does goes on as if
// this one had not come. Always 0.
static int tc__fail_stranger(tc_ctx *c, const char *who) {
    static const char fix[] =
        "one thread at a time uses a context; wait, or tc_open_shared one for this thread";
    const tc__recorder *r = tc__recorder_of(c);
    const tc__visit *v = r->visit ? r->visit : r->suspended;
    tc_status unit = tc__core_of(c)->unit_item;
    if (tc__is_lost(c))
        tc__fail(
            c, TC_E_THREAD,
            "%s: another thread has ended in the allocator or the logger of tc_config, "
            "which must return; nothing can be done with the context any more",
            who);
    else if (v)
        tc__fail(c, TC_E_THREAD,
                 "%s: another thread has region \"%s\" open since %s:%d; %s", who,
                 v->region->name, v->begin.file ? v->begin.file : "?", v->begin.line, fix);
    else
        tc__fail(c, TC_E_THREAD, "%s: another thread is in a %s with this context; %s", who,
                 r->skipped || r->disabled ? "region" : "call", fix);
    tc__core_of(c)->unit_item = unit;
    return 0;
}

// The thread that began what is open has ended: the calling one goes on with it.
static void tc__inherit(tc_ctx *c) {
    tc__recorder *r = tc__recorder_of(c);
    const tc__visit *v = r->visit ? r->visit : r->suspended;
    tc__open_is_mine(r);
    tc__warn(c, "region \"%s\": its thread has ended; another one goes on with it",
             v ? v->region->name : "?");
}

// Whether another thread has the context.
static int tc__is_stranger(tc_ctx *c) {
    const tc__recorder *r = tc__recorder_of(c);
    const tc__core *core = tc__core_of(c);
    uint64_t call = tc__atomic_load64(&core->user), user = tc__user_of(c);
    if (!user || user == tc__thread_self()) return 0;
    if (tc__is_lost(c) || tc__thread_lives(user)) return 1;
    if (call || core->calling)
        r->hooks->abandon(c);
    else
        tc__inherit(c);
    return 0;
}

TC__NOINLINE static int tc__is_ours_slow(tc_ctx *c, const char *who) {
    if (tc__user_of(c) && tc__is_stranger(c)) return tc__fail_stranger(c, who);
    if (tc__core_of(c)->calling) return tc__fail_calling(c, who);
    tc__ctx_used(tc__values_of(c)->slot_of_ctx, tc__thread_self());
    return 1;
}

// Whether the calling thread may use the context now; 0 = reported. Recording asks at every composite op.
TC__INLINE int tc__is_ours(tc_ctx *c, const char *who) {
    const tc__recorder *r = tc__recorder_of(c);
    int quick = tc__is_open_mine(r) && r->visit && !r->values.core.calling;
    if (TC__LIKELY(quick)) return 1;
    return tc__is_ours_slow(c, who);
}

// The status of a call that this refused.
static tc_status tc__not_ours(tc_ctx *c) {
    return tc__is_stranger(c) ? TC_E_THREAD : TC_E_STATE;
}

// A claim that is refused is reported.
static tc__claim tc__claim_begin(tc_ctx *c, const char *who) {
    tc__claim claim = tc__claim_take(c);
    if (!claim) tc__fail_stranger(c, who);
    return claim;
}

static tc__claim tc__claim_ours(tc_ctx *c, const char *who) {
    return tc__is_ours(c, who) ? tc__claim_begin(c, who) : TC__CLAIM_REFUSED;
}

// ---- the context of a tensor ----

// The context that works on a tensor: the one it belongs to, or a child of that which runs on this
// thread. NULL for a null tensor or a closed context.
TC__ALWAYS_INLINE tc_ctx *tc__ctx_of(tc_tensor t) {
    tc_ctx *c = tc__ctx_at((unsigned)(t.id >> 56));
    if (c && TC__UNLIKELY(tc__atomic_load32(&tc__values_of(c)->children)))
        return tc__ctx_here(c);
    return c;
}

// Whether a call about a parent's tensor, which goes to c as nothing else tells, is child `of`'s, which has a tensor
// of the call.
static int tc__is_rather(tc_ctx *c, const tc_ctx *parent, tc_ctx *of) {
    if (!of || of == c || !parent || tc__values_of(of)->parent != parent) return 0;
    return c == parent || tc__atomic_load64(&tc__values_of(c)->here) != tc__thread_self();
}

// The context of a call: of its first tensor, or a child of that one if a tensor belongs to it.
static tc_ctx *tc__ctx_of_all(const tc_tensor *in, uint32_t n) {
    tc_ctx *c = n ? tc__ctx_of(in[0]) : NULL;
    for (uint32_t i = 1; i < n; i++) {
        if (in[i].id >> 56 == in[i - 1].id >> 56) continue;
        tc_ctx *of = tc__ctx_of(in[i]);
        if (!c || tc__is_rather(c, tc__ctx_at((unsigned)(in[0].id >> 56)), of)) c = of;
    }
    return c;
}

// ---- calls that no handle leads from ----

// The context of an error that no handle leads to: whose region this thread has open, so that its end fails too, else
// the one where this thread would look for it; NULL = neither.
static tc_ctx *tc__ctx_at_hand(void) {
    uint64_t thread = tc__thread_self();
    tc_ctx *likely = tc__ctx_likely(thread);
    if (likely && tc__recorder_of(likely)->visit) return likely;
    for (unsigned slot = 1; slot < TC__CTX_SLOTS; slot++) {
        tc_ctx *c = tc__ctx_is_used(slot, thread) ? tc__ctx_at(slot) : NULL;
        if (c && tc__recorder_of(c)->visit && !tc__is_others(c)) return c;
    }
    return likely;
}

// A tensor that leads to no context: null, or of one that was closed. Gives the status of that, which is left
// as an error in the context at hand; not where another thread is at work.
static tc_status tc__fail_lost(const char *who, tc_tensor t, const char *file, int line) {
    tc_ctx *c = tc__ctx_at_hand();
    tc__site s;
    if (c && tc__is_others(c)) {
        if (!t.id) tc__fail_stranger(c, who);
        return t.id ? TC_E_DEAD : TC_E_THREAD;
    }
    s.file = file, s.line = line;
    if (c) tc__site_set(c, s);
    if (!t.id) {
        if (c) tc__fail_null(c, who);
        return TC_E_NULL;
    }
    if (c)
        tc__fail(
            c, TC_E_DEAD,
            "%s: the tensor belongs to a context that was closed, or never was one: is "
            "the handle initialised?",
            who);
    return TC_E_DEAD;
}

// A call of which nothing leads to a context fails with `status`, as `what` says. The error is left in the context at
// hand; not where another thread is at work.
static tc_status tc__fail_at_hand(tc_status status, const char *who, const char *what,
                                  const char *file, int line) {
    tc_ctx *c = tc__ctx_at_hand();
    tc__site s;
    s.file = file, s.line = line;
    if (!c || tc__is_others(c)) return status;
    tc__site_set(c, s);
    tc__fail(c, status, "%s: %s", who, what);
    return status;
}

// The same of a call that was given NULL for what it is about.
static tc_status tc__fail_missing(const char *who, const char *what, const char *file,
                                  int line) {
    return tc__fail_at_hand(TC_E_NULL, who, what, file, line);
}

static tc_status tc__fail_no_context(const char *who, const char *file, int line) {
    return tc__fail_missing(who, "the context is NULL (did tc_open fail?)", file, line);
}
