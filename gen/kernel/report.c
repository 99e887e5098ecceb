// Kernels as text for people: what a kernel computes, why its parts are together, what it
// moves. Used by tc_explain, by TC_LOGS=fusion and by tests; LOOP lists themselves print in
// graph/dump.c.

static void tc__report_buffer(tc__text *t, const tc__group *k, size_t i) {
    static const char *const names[] = {"x", "%", "a row", "a tile", "a row of the left"};
    const tc__kbuf *b = &k->buffer.at[i];
    int private_to_worker = !tc__is_memory(b);
    tc__put(t, "    %s b%u = ",
            private_to_worker ? "holds "
            : b->written      ? "writes"
                              : "reads ",
            (unsigned)i);
    if (private_to_worker)
        tc__put(t, "%s", names[b->place]);
    else
        tc__put(t, "%s%u", names[b->place], (unsigned)b->source);
    tc__put(t, ", %s[", tc__dtype(b->dtype)->name);
    tc__dump_ix(t, k->body.ix, b->numel);
    tc__put(t, "]");
    if (tc__ix_is_const(b->numel))
        tc__put(
            t, ", %lld bytes",
            (long long)tc__ix_times(tc__ix_value(b->numel), tc__dtype(b->dtype)->bytes));
    tc__put(t, "\n");
}

enum { TC__NAMED_OPS = 6, TC__MOST_OPS = 32 };

static int tc__is_named(const tc__node *n) {
    return n->op == TC_OP_ACC || n->op == TC_OP_RANDOM || tc__is_alu(n);
}

// Its kind in a list of names, the last for ops of the user's.
static const char *tc__kernel_kind(const tc__group *k, const char *const *names) {
    return names[(int)k->kind + tc__is_custom(k)];
}

// A name for people, "k0_reduction_mul_max_sub_exp_sum_div": number, kind, and the ops in their order,
// each once.
static void tc__put_kernel_name(tc__text *t, const tc__group *k, uint32_t number) {
    static const char *const kinds[] = {"pointwise", "reduction", "contraction", "opaque",
                                        "custom"};
    const char *ops[TC__MOST_OPS];
    size_t n = 0;
    for (size_t i = 0; i < k->body.node.count && n < TC__MOST_OPS; i++) {
        const tc__node *node = k->body.node.at[i];
        size_t known = 0;
        if (!tc__is_named(node)) continue;
        ops[n] = node->op == TC_OP_ACC ? tc__dump_monoid(node->attr[0])
                                       : tc__op_name((tc__op)node->op);
        while (strcmp(ops[known], ops[n])) known++;
        n += known == n;
    }
    tc__put(t, "k%u_%s", (unsigned)number, tc__kernel_kind(k, kinds));
    if (k->kind == TC__OPAQUE) tc__put(t, "_%s", tc__call_name(t->ctx, k->body.node.at[0]));
    if (!n && k->kind == TC__POINTWISE) tc__put(t, "_copy");
    for (size_t i = 0; i < n && i < TC__NAMED_OPS; i++) tc__put(t, "_%s", ops[i]);
    if (n > TC__NAMED_OPS) tc__put(t, "_and_%u_more", (unsigned)(n - TC__NAMED_OPS));
}

// Head of a kernel: kind, space, reason, TENSOR nodes, buffers.
static void tc__report_kernel(tc__text *t, const tc__group *k, uint32_t number) {
    static const char *const kinds[] = {"pointwise", "reduction", "contraction",
                                        "opaque op", "custom op"};
    tc__put(t, "kernel %u: %s, rows ", (unsigned)number, tc__kernel_kind(k, kinds));
    tc__dump_ix(t, k->body.ix, k->rows);
    tc__put(t, " x columns ");
    tc__dump_ix(t, k->body.ix, k->cols);
    if (k->kind == TC__CONTRACTION) {
        tc__put(t, " x depth ");
        tc__dump_ix(t, k->body.ix, k->depth);
    }
    tc__put(
        t, ", vectors along %s\n    together: ", k->vector == TC__ROW ? "rows" : "columns");
    tc__report_why(t, k);
    tc__put(t, "\n    computes:");
    for (size_t i = 0; i < k->covers.count; i++)
        tc__put(t, " %%%u", (unsigned)k->covers.at[i]);
    tc__put(t, "\n");
    for (size_t i = 0; i < k->buffer.count; i++) tc__report_buffer(t, k, i);
}

// The kernels of a program just scheduled, on the log channel "fusion".
static void tc__log_fusion(tc_ctx *c, tc__group *const *k, size_t n) {
    tc__text t;
    if (!tc__log_on(c, TC__LOG_FUSION)) return;
    tc__text_init(&t, c);
    tc__report_count(&t, (uint32_t)n, "kernel");
    tc__put(&t, "\n");
    for (size_t i = 0; i < n; i++) tc__report_kernel(&t, k[i], (uint32_t)i);
    if (!t.failed) tc__log_text(c, TC__LOG_FUSION, t.at);
    tc__text_free(&t);
}
