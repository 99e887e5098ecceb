// Custom ops at run time: what a launch hands to the user's function, which is either host code or
// was compiled from c_source. Both look like a kernel with one work item, so that nothing else
// differs: not the pool (one item stays on the caller's thread), not the floating-point state.
//
// Such an op has no row of its own: CUSTOM of ops.def stands for all of them. A program
// with one may fail half-way, so no kernel of it writes an external directly, and calls
// take the long way. tc__shape_custom asks the user's shape function for numbers, which
// pins run-time sizes to those of the visit; without one sizes stay free. A launch without
// text, or whose text does not compile, keeps the host's function (tc__launch_take); on a
// device the op keeps why (tc__custom.trouble), and the program's launches are made anew
// (tc__dispatch_start_customs).

// Known to compiled code: kernel/print_custom.c.
typedef struct tc__custom_call {
    void *user;
    const tc_buffer *in, *out;
    int n_in;
    tc_status status;
} tc__custom_call;

typedef struct tc__custom_launch {
    tc__custom_call call; // must be first: the kernel finds it in its arguments
    const tc__custom *op;
    tc__opaque opaque;
    tc__kernel_fn host; // calls op->run; NULL = there is none
} tc__custom_launch;

static void tc__custom_host(const tc__kargs *a, int64_t lo, int64_t hi, int32_t worker) {
    tc__custom_launch *l = (tc__custom_launch *)a->buf[0];
    tc__custom_call *k = &l->call;
    (void)lo, (void)hi, (void)worker;
    k->status = l->op->op.run(k->user, k->in, k->n_in, k->out);
}

// The launch of the user's op in kernel k of graph g; NULL = out of memory.
static tc__custom_launch *tc__custom_prepare(tc__arena *a, const tc__graph *g,
                                             const tc__group *k, void *const *base) {
    tc__custom_launch *l = TC__ANEW(a, tc__custom_launch);
    if (!l || !tc__opaque_prepare(&l->opaque, a, g, k, base)) return NULL;
    l->op = tc__custom_of_group(g->ctx, k);
    l->host = l->op->op.run ? tc__custom_host : NULL;
    l->call.user = l->op->op.user, l->call.n_in = (int)l->opaque.node->n_in;
    l->call.out = l->opaque.buffer, l->call.in = l->opaque.buffer + 1;
    l->opaque.argument[0] = l;
    return l;
}

// Before a run: the addresses of the buffers.
static void tc__custom_bind(tc__custom_launch *l) {
    for (uint32_t i = 0; i <= l->opaque.node->n_in; i++)
        l->opaque.buffer[i].data = tc__opaque_data(&l->opaque, (int)i);
    l->call.status = TC_OK;
}

// After it: kernels take bools as 0 and 1. 0 = the function failed, reported.
static int tc__custom_end(tc_ctx *c, tc__custom_launch *l) {
    const tc_buffer *out = l->call.out;
    tc_status status = l->call.status;
    char text[64];
    if (status)
        return tc__fail(c, tc__user_status(status), "custom op \"%s\": its function %s",
                        l->op->op.name, tc__user_status_text(status, text));
    if (out->spec.dtype == TC_BOOL)
        tc__bool_normalise(out->data, tc__numel(out->spec.rank, out->spec.dims));
    return 1;
}
