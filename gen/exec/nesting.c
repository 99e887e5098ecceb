// What code of the user's that is called inside of others must leave as it found it: regions, scopes, ranges of autocast and
// tc_no_grad. So bodies of functions, loops and checkpoints, and gradients of the user's ops. What is left open is reported,
// and closed for it.

// What a body must leave as it found it. It is told of as `kind` "name", or without a name, and `called`.
typedef struct tc__nesting {
    const char *kind, *name, *called;
    const tc__visit *visit;
    int depth, skipped, disabled;
    size_t scopes, floor;     // scopes open, and how many of them are not the code's to end
    int no_grad;              // begins without their end
    tc__lexical *at, lexical; // what it says around its calls, and where that stands
} tc__nesting;

static tc__nesting tc__nesting_of(tc_ctx *c, const char *kind, const char *name) {
    const tc__recorder *r = tc__recorder_of(c);
    tc__nesting n;
    n.kind = kind, n.name = name, n.called = "its body";
    n.visit = r->visit;
    n.depth = r->depth, n.skipped = r->skipped, n.disabled = r->disabled;
    n.scopes = r->values.scope.count, n.floor = r->values.scope_floor;
    n.no_grad = n.visit ? n.visit->no_grad : 0;
    n.at = tc__lexical_now(c), n.lexical = *n.at;
    return n;
}

// Ranges that the body has left open, of autocast and the like, end with it.
static void tc__nesting_leave(tc_ctx *c, const tc__nesting *was) {
    const tc__visit *v = tc__recorder_of(c)->visit;
    *was->at = was->lexical;
    if (!v || v != was->visit) return;
    const char *file = tc__core_of(c)->site_file;
    int line = tc__core_of(c)->site_line;
    while (v->no_grad > was->no_grad && !tc_no_grad_end_at(c, file, line)) continue;
    while (v->no_grad < was->no_grad && !tc_no_grad_begin_at(c, file, line)) continue;
}

// Whether no other region is open than before, though maybe another part of it.
static int tc__nesting_fits(const tc__recorder *r, const tc__nesting *was) {
    return !r->visit || r->visit == was->visit;
}

// Scopes that the body has left open are reported, and closed. It cannot end others: tc__scope_leave.
static void tc__scopes_check(tc_ctx *c, tc__site site, const tc__nesting *was) {
    tc__values *v = tc__values_of(c);
    const char *mark = *was->name ? "\"" : "";
    v->scope_floor = was->floor;
    if (v->scope.count <= was->scopes) return;
    tc__fail(c, TC_E_STATE, "%s%s%s%s: %s has a tc_scope_begin without its tc_scope_end",
             was->kind, mark, was->name, mark, was->called);
    while (v->scope.count > was->scopes) tc__scope_close(c, site.file, site.line);
}

// Else it is reported, and done for the body, so that the code around it goes on as if it had.
static void tc__nesting_check(tc_ctx *c, const tc__nesting *was) {
    tc__recorder *r = tc__recorder_of(c);
    const char *mark = *was->name ? "\"" : "";
    int disables = r->disabled != was->disabled;
    if (!disables && r->depth == was->depth && r->skipped == was->skipped &&
        tc__nesting_fits(r, was))
        return;
    tc__fail(c, TC_E_REGION, "%s%s%s%s: %s has a %s without its other half", was->kind,
             mark, was->name, mark, was->called,
             disables ? "tc_disable_begin or tc_disable_end"
                      : "tc_trace_begin or tc_trace_end");
    if (r->disabled && !was->disabled)
        r->visit = r->suspended, r->suspended = NULL;
    else if (!r->disabled && was->disabled)
        r->suspended = r->visit, r->visit = NULL;
    if (!tc__nesting_fits(r, was))
        tc__visit_abandon(c, r->visit, "was not ended by the body that began it");
    r->depth = was->depth, r->skipped = was->skipped, r->disabled = was->disabled;
}
