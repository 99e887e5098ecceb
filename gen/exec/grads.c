// Tensors in memory that have a gradient. Input: a tensor. Output: beside it one of zeros, which it owns.

// Gives t a gradient, or takes it; 0 = reported.
static int tc__grad_switch(const tc__api *f, tc__tensor *t, tc_tensor x, int on) {
    tc_ctx *c = f->c;
    if (on == (t->grad != 0)) return 1;
    if (!on) tc__grad_free(c, t, f->file, f->line);
    if (on) {
        tc_tensor g = tc_zeros_like_at(x, f->file, f->line);
        tc__tensor *own = g.id ? tc__tensor_find(c, g) : NULL;
        if (!own) return 0;
        tc__tensor_move(c, own, 0), own->held = 1;
        t->grad = g.id;
    }
    tc__fns_look_again(c);
    c->grads_switched++;
    return 1;
}

TCDEF tc_status tc_requires_grad_at(tc_tensor t, int on, const char *file, int line) {
    tc__api f;
    if (!tc__api_of(&f, "tc_requires_grad", t, file, line)) return tc__api_refused(&f, t);
    tc_status outside = tc__outside(f.c, f.who);
    if (outside) return outside;
    tc_status outer = tc__unit_begin(f.c);
    tc__tensor *m = tc__tensor_need(f.c, f.who, t);
    int ok = m != NULL;
    if (ok && !tc__is_arithmetic(f.x.dtype))
        ok = tc__fail(
            f.c, TC_E_DTYPE,
            "%s: the tensor is %s; only floats of 16 bits or more have gradients: cast it first",
            f.who, tc__dtype(f.x.dtype)->name);
    if (ok && tc__is_visit(t) && !tc__known_find(f.c, t.id))
        ok = tc__fail(
            f.c, TC_E_STATE,
            "%s: the tensor ends with the next visit of its region; tc_keep it first",
            f.who);
    ok = ok && tc__grad_switch(&f, m, t, on != 0);
    return tc__unit_end(f.c, outer, ok);
}
