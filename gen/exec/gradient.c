// Calls of what gives the gradient of an op of the user's. It is code like a body: it may call more of its kind, to a
// limit, and leaves regions, scopes, ranges of autocast and the like as it found them. What it leaves open is reported,
// and closed. What it records, and may write, is graph/grad.c's.

static tc_status tc__hook_gradient(tc_ctx *c, const tc_custom_op *op, const tc_tensor *in,
                                   tc_tensor out, tc_tensor grad_out, tc_tensor *grad_in) {
    tc__site site;
    site.file = tc__core_of(c)->site_file, site.line = tc__core_of(c)->site_line;
    if (!tc__depth_enter(c, &c->bodies, "custom op", op->name)) return TC_E_STATE;
    tc__nesting was = tc__nesting_enter(c, "custom op ", op->name, "op whose gradient");
    was.called = "its gradient";
    tc_status s = op->gradient(c, op->user, in, op->n_in, out, grad_out, grad_in);
    tc__depth_leave(c, &c->bodies);
    (void)tc__nesting_leave(c, site, &was);
    return s;
}
