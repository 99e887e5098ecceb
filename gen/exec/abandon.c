// A thread that has ended inside a call: pthread_exit in a body, a host call, an op or a backend of the user's. Input:
// the context as the thread left it, found by the next one that comes. Output: it is as before the call, and no region
// is open: what that one recorded may be half done, so its results are lost, and what it was to write is refused.
//
// Code of the user's runs only where the context is claimed, so tc__recorder.before is there. Memory that only the
// frames of the ended thread knew of is not found again.

static void tc__abandon_visit(tc_ctx *c, tc__visit *v) {
    static const char how[] = "which ended with the thread that was in its call, begun";
    if (v->writes)
        tc__fail(c, TC_E_THREAD,
                 "%s \"%s\": its thread has ended in a call of it; what it writes in place "
                 "has not been written",
                 tc__region_kind(v->region), v->region->name);
    v->state = TC__VISIT_FAILED;
    tc__refuse_writes(c, v);
    if (v->region->function)
        tc__visit_clear(c, v, how, v->begin);
    else
        tc__unbind_to(c, v, 0);
}

// What is recorded, as v, skipped, suspended or disabled ends.
static void tc__abandon_open(tc_ctx *c, tc__visit *v) {
    tc__recorder *r = &c->recorder;
    r->visit = r->suspended = r->hidden = NULL;
    r->depth = r->skipped = r->disabled = 0;
    r->own = NULL;
    memset(&r->floor, 0, sizeof r->floor);
    if (v) tc__abandon_visit(c, v);
    r->lexical = r->before.outermost ? r->before.lexical : c->lexical_before;
    tc__here_leave(c, 0);
}

// Scopes of the call and of its bodies end; what they hold is no one else's.
static void tc__abandon_scopes(tc_ctx *c) {
    tc__values *v = tc__values_of(c);
    v->scope_floor = 0;
    while (v->scope.count > c->recorder.before.scopes) tc__scope_close(c, NULL, 0);
}

static void tc__abandon_functions(tc_ctx *c) {
    for (tc_fn *f = c->fn; f; f = f->next) {
        f->running = 0;
        tc__snapshots_clear(f);
    }
}

// Hook. The calling thread goes on with the context.
static void tc__hook_abandon(tc_ctx *c) {
    tc__core *core = tc__core_of(c);
    const tc__recorder *r = &c->recorder;
    tc__visit *v = r->hidden ? r->hidden : r->visit ? r->visit : r->suspended;
    tc__warn(c, "%s: its thread has ended in a call; what that was to give is lost",
             v             ? v->region->name
             : core->doing ? core->doing
                           : "the context");
    c->bodies = c->hosting = c->too_deep = c->dry = 0, c->abandoned = 1;
    core->calling = 0, core->doing = core->unseen = NULL;
    tc__abandon_open(c, v);
    tc__abandon_scopes(c);
    tc__abandon_functions(c);
    tc__unbind_to(c, &c->eager_visit, 0);
    core->unit_item = TC_OK;
    tc__atomic_store64(&core->user, 0);
}
