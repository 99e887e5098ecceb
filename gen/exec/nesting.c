// What code of the user's that is called inside of others must leave as it found it: regions, scopes, ranges of autocast and
// tc_no_grad. So bodies of functions, loops and checkpoints, gradients of the user's ops, and host calls. What was open around
// it, it cannot end: calls that would are refused (tc__recorder.floor, tc__values.scope_floor). What it leaves open is
// reported, but for ranges, and closed for it.

// What such code is told of as, `kind` "name" or without a name, and `called`; and how it was before.
typedef struct tc__nesting {
    const char *kind, *name, *called;
    tc__floor was; // what was open,
    size_t scopes; //   scopes, too
    int outermost; //   no region was
    tc__lexical *at,
        lexical;        // what the code around says around its calls, and where that stands
    tc__floor floor;    // what that code itself cannot end,
    size_t scope_floor; //   and how many scopes
} tc__nesting;

static tc__nesting tc__nesting_enter(tc_ctx *c, const char *kind, const char *name,
                                     const char *whose) {
    tc__recorder *r = tc__recorder_of(c);
    tc__nesting n;
    n.kind = kind, n.name = name, n.called = "its body";
    n.was.whose = whose, n.was.visit = r->visit;
    n.was.depth = r->depth, n.was.skipped = r->skipped, n.was.disabled = r->disabled;
    n.was.no_grad = r->visit ? r->visit->no_grad : 0;
    n.scopes = r->values.scope.count, n.outermost = tc__begins_outermost(r);
    n.at = tc__lexical_now(c), n.lexical = *n.at;
    n.floor = r->floor, n.scope_floor = r->values.scope_floor;
    r->floor = n.was, r->values.scope_floor = n.scopes;
    *n.at = tc__lexical_inside(n.at);
    return n;
}

// Ranges that the code has left open, of autocast and the like, end with it.
static void tc__nesting_ranges(tc_ctx *c, tc__site site, const tc__nesting *n) {
    const tc__visit *v = tc__recorder_of(c)->visit;
    *n->at = n->lexical;
    if (!v || v != n->was.visit) return;
    while (v->no_grad > n->was.no_grad && !tc_no_grad_end_at(c, site.file, site.line))
        continue;
}

static void tc__nesting_fail(tc_ctx *c, tc_status s, const tc__nesting *n,
                             const char *begin, const char *end) {
    const char *mark = *n->name ? "\"" : "";
    tc__fail(c, s, "%s%s%s%s: %s has a %s without its %s", n->kind, mark, n->name, mark,
             n->called, begin, end);
}

// Scopes that the code has left open are reported, and closed. 0 = there were some.
static int tc__nesting_scopes(tc_ctx *c, tc__site site, const tc__nesting *n) {
    tc__values *v = tc__values_of(c);
    v->scope_floor = n->scope_floor;
    if (v->scope.count <= n->scopes) return 1;
    tc__nesting_fail(c, TC_E_STATE, n, "tc_scope_begin", "tc_scope_end");
    while (v->scope.count > n->scopes) tc__scope_close(c, site.file, site.line);
    return 0;
}

// Eager code in a region that was left open is reported, and ends. 0 = there was some.
static int tc__nesting_disables(tc_ctx *c, const tc__nesting *n) {
    tc__recorder *r = tc__recorder_of(c);
    if (r->disabled <= n->was.disabled) return 1;
    tc__nesting_fail(c, TC_E_REGION, n, "tc_disable_begin", "tc_disable_end");
    r->disabled = n->was.disabled;
    if (r->disabled) return 0;
    r->visit = r->suspended, r->suspended = NULL;
    if (r->visit) tc__visit_remember(c, r->visit);
    return 0;
}

// Regions that were left open are reported, and end: one that is a part of the region around it goes on as that, one that
// is not is lost. 0 = there were some.
static int tc__nesting_regions(tc_ctx *c, const tc__nesting *n) {
    tc__recorder *r = tc__recorder_of(c);
    int other = r->visit && r->visit != n->was.visit;
    if (!other && r->depth == n->was.depth && r->skipped == n->was.skipped) return 1;
    tc__nesting_fail(c, TC_E_REGION, n, "tc_trace_begin", "tc_trace_end");
    if (other) tc__visit_abandon(c, r->visit, "was not ended by the body that began it");
    r->depth = n->was.depth, r->skipped = n->was.skipped;
    if (n->outermost) (void)tc__unit_end(c, c->around, 0);
    return 0;
}

// The code has returned to the call at this site. 0 = it left something open, which is reported.
static int tc__nesting_leave(tc_ctx *c, tc__site site, const tc__nesting *n) {
    tc__site_set(c, site);
    int ok = tc__nesting_scopes(c, site, n);
    ok &= tc__nesting_disables(c, n);
    ok &= tc__nesting_regions(c, n);
    tc__nesting_ranges(c, site, n);
    tc__recorder_of(c)->floor = n->floor;
    return ok;
}
