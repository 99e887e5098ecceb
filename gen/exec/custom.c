// Custom ops at run time: what a launch hands to the user's function, which is either host code or
// was compiled from c_source. Both look like a kernel with one work item, so that nothing else
// differs: not the pool (one item stays on the caller's thread), not the floating-point state.

typedef void (*tc__kernel_fn)(const tc__kargs *a, int64_t lo, int64_t hi, int32_t worker);

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
    const tc__node *node;  // of the program's TENSOR graph
    const int64_t *number; // of the buffers: the result's, then the operands'
    tc_buffer *buffer;     // the same, filled
    void *argument[1];     // the kernel's `buf`
    tc__kernel_fn host;    // calls op->run; NULL = there is none
} tc__custom_launch;

static void tc__custom_host(const tc__kargs *a, int64_t lo, int64_t hi, int32_t worker) {
    tc__custom_launch *l = (tc__custom_launch *)a->buf[0];
    tc__custom_call *k = &l->call;
    (void)lo, (void)hi, (void)worker;
    k->status = l->op->op.run(k->user, k->in, k->n_in, k->out);
}

// The launch of the OPAQUE kernel k of graph g; NULL = out of memory.
static tc__custom_launch *tc__custom_prepare(tc__arena *a, const tc__graph *g,
                                             const tc__group *k) {
    tc__custom_launch *l = TC__ANEW(a, tc__custom_launch);
    const tc__node *call = k->body.node.at[0];
    if (!l) return NULL;
    l->op = tc__custom_at(g->ctx, call->attr[0]);
    l->node = g->node.at[k->covers.at[0]];
    l->number = call->attr + 1;
    l->buffer = TC__ANEW_ARRAY(a, tc_buffer, l->node->n_in + 1);
    if (!l->buffer) return NULL;
    l->host = l->op->op.run ? tc__custom_host : NULL;
    l->call.user = l->op->op.user, l->call.n_in = (int)l->node->n_in;
    l->call.out = l->buffer, l->call.in = l->buffer + 1;
    l->argument[0] = l;
    return l;
}

// The specs of the buffers for the sizes of a run.
static void tc__custom_lay_out(tc__custom_launch *l, const tc__graph *g,
                               const tc__ixenv *env) {
    for (uint32_t i = 0; i <= l->node->n_in; i++) {
        const tc__node *n = i ? tc__operand(g, l->node, i - 1) : l->node;
        tc_spec *s = &l->buffer[i].spec;
        memset(s, 0, sizeof *s);
        s->dtype = (tc_dtype)n->dtype, s->rank = n->rank;
        for (int d = 0; d < n->rank; d++) s->dims[d] = tc__ix_eval(g->ix, n->dims[d], env);
    }
}

// Before a run: the addresses of the buffers, `base` by buffer of the kernel.
static void tc__custom_bind(tc__custom_launch *l, void *const *base) {
    for (uint32_t i = 0; i <= l->node->n_in; i++)
        l->buffer[i].data = l->number[i] < 0 ? NULL : base[l->number[i]];
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
