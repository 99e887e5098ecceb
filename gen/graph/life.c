// When tensors end: scopes and tc_free. The table of lifetimes is in api/tensor.h; what regions end is
// graph/record.c's, tc_keep, which may record a step, exec/context.c's.

TCDEF void tc_scope_begin(tc_ctx *tc) {
    tc__values *v = tc__values_of(tc);
    if (!tc)
        tc__fail_no_context("tc_scope_begin", NULL, 0);
    else if (tc__is_ours(tc, "tc_scope_begin"))
        TC__PUSH(tc, v->scope, v->scoped.count);
}

// Ends the innermost scope but for t.
static tc_status tc__scope_leave(tc_ctx *c, const char *who, tc_tensor t, const char *file,
                                 int line) {
    tc__api f;
    if (!tc__api_open(&f, c, who, file, line)) return c ? tc__not_ours(c) : TC_E_NULL;
    if (!tc__values_of(c)->scope.count) {
        tc__fail(c, TC_E_STATE, "%s: no scope is open; each needs its tc_scope_begin", who);
        return TC_E_STATE;
    }
    if (tc__values_of(c)->scope.count <= tc__values_of(c)->scope_floor) {
        tc__fail(c, TC_E_STATE,
                 "%s: the scope was begun by the code that called this function, which is "
                 "to end it",
                 who);
        return TC_E_STATE;
    }
    tc__scope_end(c, &t, 1, file, line);
    tc__values_trim(c);
    if (tc__layouts_are_many(c)) tc__recorder_of(c)->hooks->settle(c);
    return TC_OK;
}

TCDEF tc_status tc_scope_end_at(tc_ctx *tc, const char *file, int line) {
    return tc__scope_leave(tc, "tc_scope_end", tc__null(), file, line);
}

TCDEF tc_tensor tc_scope_return_at(tc_ctx *tc, tc_tensor t, const char *file, int line) {
    return tc__scope_leave(tc, "tc_scope_return", t, file, line) ? tc__null() : t;
}

enum { TC__SHARED_TOLD = 64 << 20 }; // bytes

// Memory stays where a view shows most of it, or has been lent: that is told once, since the view may be one that nobody
// holds. `s` is what the tensor freed at file:line had, of so many bytes, shared then.
static void tc__warn_shared(tc_ctx *c, const tc__storage *s, size_t bytes, const char *file,
                            int line) {
    tc__values *v = tc__values_of(c);
    const tc__tensor *other = NULL;
    if (bytes < TC__SHARED_TOLD || v->warned_shared || tc__core_of(c)->frozen) return;
    for (size_t i = 0; i < v->slot.count && !other; i++)
        if (v->slot.at[i]->epoch && v->slot.at[i]->storage == s) other = v->slot.at[i];
    if (!other || s->bytes != bytes || s->owner != TC__OWNED) return;
    v->warned_shared = 1;
    tc__warn(
        c,
        "tc_free at %s:%d: its %zu MB stay until the view of %s:%d is freed, which shares "
        "them; tc_free it too, or make it in a scope",
        file ? file : "?", line, bytes >> 20, other->file ? other->file : "?", other->line);
}

static int tc__free_refused(tc_ctx *c, tc_tensor t) {
    if (t.id >> 56 == tc__values_of(c)->slot_of_ctx || !tc__import_find(c, t))
        return tc__fail_dead(c, "tc_free", t);
    return tc__fail(
        c, TC_E_FOREIGN,
        "tc_free: the tensor belongs to the context that this one was opened "
        "from with tc_open_shared; free it there, when this thread is not in it");
}

static void tc__free_tensor(tc_ctx *c, tc_tensor t, const char *file, int line) {
    tc__family_settle(c);
    if (tc__is_visit(t)) {
        (void)tc__result_free(c, t, file, line);
        tc__values_trim(c);
        return;
    }
    const tc__tensor *m = tc__slot_find(c, t);
    if (!m) {
        (void)tc__free_refused(c, t);
        return;
    }
    const tc__storage *s = m->storage;
    size_t shared = s->refs > 1 ? s->bytes : 0;
    tc__slot_free(c, tc__handle_slot(t), "freed by tc_free", file, line);
    tc__values_trim(c);
    if (shared) tc__warn_shared(c, s, shared, file, line);
    if (tc__layouts_are_many(c)) tc__recorder_of(c)->hooks->settle(c);
}

TCDEF void tc_free_at(tc_tensor t, const char *file, int line) {
    tc__api f;
    tc_ctx *c = tc__ctx_of(t);
    if (!c || !tc__api_open(&f, c, "tc_free", file, line)) return;
    f.claim = tc__claim_ours(f.c, f.who);
    if (!f.claim) return;
    tc__free_tensor(f.c, t, file, line);
    tc__claim_end(f.c, f.claim);
}
