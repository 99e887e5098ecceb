// Host calls: code of the user's with the values of tensors, at its place among the ops. In a region
// it is a graph break, also where nothing has to run for it: the body of a function that makes one
// must not be skipped.
//
// A call is a BREAK step with all its inputs as operands.

enum { TC__HOST_INPUTS = 64, TC__HOST_FEW = 8 };

// An input while the function runs.
typedef struct tc__host_input {
    tc__storage *storage; // counted
    void *copy;           // of a strided one, owned; else NULL
    size_t bytes;         // of the copy
} tc__host_input;

typedef struct tc__host {
    tc_ctx *c;
    int n;
    tc_host_fn fn;
    void *user;
    tc__site site;
    tc_tensor t[TC__HOST_INPUTS];
    tc__host_input *input;
    tc_buffer *buffer;
} tc__host;

static int tc__host_check(tc_ctx *c, tc_host_fn fn, const tc_tensor *in, int n_in) {
    if (!fn) return tc__fail(c, TC_E_NULL, "host_call: the function is null");
    if (c->dry)
        return tc__fail(c, TC_E_STATE,
                        "host_call: the body calls the host, and tc_precompile has no "
                        "values; call it once instead");
    if (n_in < 0 || n_in > TC__HOST_INPUTS)
        return tc__fail(c, TC_E_ARG, "host_call: %d inputs; 0..%d are possible", n_in,
                        TC__HOST_INPUTS);
    if (n_in && !in) return tc__fail(c, TC_E_NULL, "host_call: a null array of tensors");
    for (int i = 0; i < n_in; i++)
        if (!in[i].id)
            return tc__fail(c, TC_E_NULL,
                            "host_call: input %d is a null tensor (an earlier call "
                            "failed?)",
                            i);
    return 1;
}

// Puts what the inputs need in memory, by one graph break. Between tc_disable_begin and its end they
// are read as eager ops read them.
static int tc__host_break(tc__host *h, const tc_tensor *in, tc__site site) {
    tc_ctx *c = h->c;
    if (c->dry) return tc__fail_dry(c, "host_call");
    int open = c->recorder.visit != NULL, ok = 1;
    for (int i = 0; ok && i < h->n; i++) {
        h->t[i] = open ? tc__written_external(c, in[i], site) : in[i];
        if (!open) ok = tc__region_value(c, "host_call", &h->t[i], site);
    }
    if (!ok || (open && !tc__break_on(c, "host_call", h->t, (uint32_t)h->n, site)))
        return 0;
    for (int i = 0; i < h->n; i++)
        if (!tc__tensor_need(c, "host_call", h->t[i])) return 0;
    return 1;
}

static int tc__host_input_open(tc__host *h, int i) {
    const tc__tensor *m = tc__tensor_need(h->c, "host_call", h->t[i]);
    if (!m || !tc__is_told(h->c, "host_call", h->t[i])) return 0;
    const tc__layout *l = tc__layout_at(h->c, m->layout);
    tc__host_input *in = &h->input[i];
    tc_buffer *b = &h->buffer[i];
    in->storage = m->storage;
    in->storage->refs++;
    b->spec.dtype = (tc_dtype)l->dtype, b->spec.rank = l->rank;
    for (int d = 0; d < l->rank; d++) b->spec.dims[d] = l->dims[d];
    if (!l->numel) return 1;
    b->data = tc__tensor_data(m, l->dtype);
    if (l->contiguous && !l->device) return 1;
    in->bytes = (size_t)l->numel * tc__dtype(l->dtype)->bytes;
    in->copy = tc__alloc(h->c, in->bytes);
    b->data = in->copy;
    if (in->copy && l->device) return tc__device_read(h->c, "host_call", m, in->copy);
    if (in->copy) tc__copy_from_strided(l, m->storage->data, m->offset, in->copy);
    b->data = in->copy;
    return in->copy != NULL;
}

static void tc__host_close(tc__host *h) {
    for (int i = 0; i < h->n; i++) {
        tc__storage_unref(h->c, h->input[i].storage);
        tc__free(h->c, h->input[i].copy, h->input[i].bytes);
    }
}

// Calls the function. 0 = it has left something open, which is reported.
static int tc__host_enter(const tc__host *h, tc_status *status) {
    tc__nesting was = tc__nesting_enter(h->c, "host_call", "", "host call whose function");
    was.called = "its function";
    *status = h->fn(h->user, h->buffer, h->n);
    tc__depth_leave(h->c, &h->c->hosting);
    return tc__nesting_leave(h->c, h->site, &was);
}

// With room for its inputs.
static int tc__host_run(tc__host *h, tc__host_input *input, tc_buffer *buffer) {
    char text[64];
    int ok = 1;
    memset(input, 0, (size_t)h->n * sizeof *input);
    memset(buffer, 0, (size_t)h->n * sizeof *buffer);
    h->input = input, h->buffer = buffer;
    for (int i = 0; ok && i < h->n; i++) ok = tc__host_input_open(h, i);
    ok = ok && tc__depth_enter(h->c, &h->c->hosting, "host_call", "");
    tc_status status = TC_OK;
    ok = ok && tc__host_enter(h, &status);
    tc__host_close(h);
    if (!status) return ok;
    return tc__fail(h->c, tc__user_status(status), "host_call: the function %s",
                    tc__user_status_text(status, text));
}

// With little of the stack, for calls inside each other; a frozen context gives no memory.
static TC__NOINLINE int tc__host_run_few(tc__host *h) {
    tc__host_input input[TC__HOST_FEW];
    tc_buffer buffer[TC__HOST_FEW];
    return tc__host_run(h, input, buffer);
}

static TC__NOINLINE int tc__host_run_many(tc__host *h) {
    tc__host_input input[TC__HOST_INPUTS];
    tc_buffer buffer[TC__HOST_INPUTS];
    return tc__host_run(h, input, buffer);
}

TCDEF tc_status tc_host_call_at(tc_ctx *tc, tc_host_fn fn, void *user, const tc_tensor *in,
                                int n_in, const char *file, int line) {
    tc__host h;
    tc__site site;
    if (!tc) return tc__fail_no_context("tc_host_call", file, line);
    site.file = file, site.line = line;
    tc__site_set(tc, site);
    memset(&h, 0, sizeof h);
    if (!tc__is_ours(tc, "host_call")) return tc__not_ours(tc);
    tc_status outer = tc__unit_begin(tc);
    int ok = tc__host_check(tc, fn, in, n_in);
    if (ok) h.c = tc, h.fn = fn, h.user = user, h.n = n_in, h.site = site;
    ok = ok && tc__host_break(&h, in, site) &&
         (n_in > TC__HOST_FEW ? tc__host_run_many(&h) : tc__host_run_few(&h));
    return tc__unit_end(tc, outer, ok);
}
