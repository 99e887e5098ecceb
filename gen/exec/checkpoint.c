// tc_checkpoint: a body whose ops are steps of the open visit, between two that tell derivatives not to keep their
// values (graph/recompute.c).

typedef struct tc__checkpoint_call {
    tc_ctx *c;
    tc_body body;
    void *user;
    const tc_tensor *in;
    int n_in, n_out;
    tc__site site;
} tc__checkpoint_call;

static const char tc__checkpoint_name[] = "tc_checkpoint";

// Marks the begin or the end of it in visit v; a turn of a loop is made again anyway. 0 = reported.
static int tc__checkpoint_mark(const tc__checkpoint_call *k, tc__visit *v, int64_t on) {
    tc__call call;
    memset(&call, 0, sizeof call);
    call.op = TC_OP_CHECKPOINT, call.attr = &on, call.n_attr = 1, call.site = k->site;
    return !v || v->at->loop || tc__visit_step(k->c, v, &call) != NULL;
}

static int tc__checkpoint_check(const tc__checkpoint_call *k, const tc_tensor *out) {
    tc_ctx *c = k->c;
    tc__meta m;
    char who[60];
    if (!k->body) return tc__fail(c, TC_E_NULL, "tc_checkpoint: body is NULL");
    if (k->n_in < 0 || k->n_out < 0)
        return tc__fail(c, TC_E_ARG, "tc_checkpoint: %s is %d",
                        k->n_in < 0 ? "n_in" : "n_out", k->n_in < 0 ? k->n_in : k->n_out);
    if ((k->n_in && !k->in) || (k->n_out && !out))
        return tc__fail(c, TC_E_NULL, "tc_checkpoint: %s is NULL",
                        k->n_in && !k->in ? "in" : "out");
    for (int i = 0; i < k->n_in; i++) {
        if (!k->in[i].id)
            return tc__fail(c, TC_E_NULL, "tc_checkpoint: in[%d] is a null tensor", i);
        snprintf(who, sizeof who, "%s: in[%d]", tc__checkpoint_name, i);
        if (!tc__meta_of(c, who, k->in[i], &m)) return 0;
    }
    return 1;
}

// The body, which writes `out`; 0 = reported.
static int tc__checkpoint_body(const tc__checkpoint_call *k, tc_tensor *out) {
    tc_ctx *c = k->c;
    tc__meta m;
    if (!tc__depth_enter(c, &c->bodies, tc__checkpoint_name, "")) return 0;
    tc__nesting was =
        tc__nesting_enter(c, tc__checkpoint_name, "", "checkpoint whose body");
    k->body(c, k->in, out, k->user);
    tc__depth_leave(c, &c->bodies);
    (void)tc__nesting_leave(c, k->site, &was);
    if (tc__core_of(c)->unit_item) return 0;
    for (int i = 0; i < k->n_out; i++)
        if (!tc__body_gave(c, tc__checkpoint_name, "its body", i, out[i], &m)) return 0;
    return 1;
}

static int tc__checkpoint_run(const tc__checkpoint_call *k, tc_tensor *out) {
    tc_tensor few[TC__FEW];
    tc__visit *v = tc__recorder_of(k->c)->visit;
    tc_tensor *own = tc__tensors_new(k->c, few, (uint32_t)k->n_out);
    if (!own) return 0;
    for (int i = 0; i < k->n_out; i++) own[i] = tc__null();
    uint64_t here = tc__here_enter(k->c);
    int ok = tc__checkpoint_mark(k, v, 1) && tc__checkpoint_body(k, own);
    if (tc__recorder_of(k->c)->visit == v) ok = tc__checkpoint_mark(k, v, 0) && ok;
    tc__here_leave(k->c, here);
    if (ok) tc__results_give(out, own, k->n_out);
    tc__tensors_free(k->c, own, few, (uint32_t)k->n_out);
    return ok;
}

TCDEF tc_status tc_checkpoint_at(tc_ctx *tc, tc_body body, void *user, const tc_tensor *in,
                                 int n_in, tc_tensor *out, int n_out, const char *file,
                                 int line) {
    tc__checkpoint_call k;
    if (!tc) {
        tc__results_give(out, NULL, n_out);
        return tc__fail_no_context(tc__checkpoint_name, file, line);
    }
    if (!tc__is_ours(tc, tc__checkpoint_name))
        return tc__results_give(out, NULL, n_out), tc__not_ours(tc);
    k.c = tc, k.body = body, k.user = user, k.in = in, k.n_in = n_in, k.n_out = n_out;
    k.site.file = file, k.site.line = line;
    tc__site_set(tc, k.site);
    tc_status outer = tc__unit_begin(tc);
    int ok = tc__checkpoint_check(&k, out) && tc__checkpoint_run(&k, out);
    if (!ok) tc__results_give(out, NULL, n_out);
    return tc__unit_end(tc, outer, ok);
}
