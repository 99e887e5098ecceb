// Kernels as text for people: what a kernel computes, why its parts are together, what it
// moves. Used by tc_explain, by TC_LOGS=fusion and by tests; LOOP lists themselves print in
// graph/dump.c.

static void tc__report_buffer(tc__text *t, const tc__group *k, size_t i) {
    static const char *const names[] = {"x", "%", "a row", "a tile", "a made row"};
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
    if (b->begin) tc__put(t, " from %lld on", (long long)b->begin);
    if (tc__ix_is_const(b->numel))
        tc__put(
            t, ", %lld bytes",
            (long long)tc__ix_times(tc__ix_value(b->numel), tc__dtype(b->dtype)->bytes));
    tc__put(t, "\n");
}

enum { TC__NAMED_OPS = 6, TC__MOST_OPS = 32 };

static int tc__is_named(const tc__node *n) {
    return n->op == TC_OP_ACC || n->op == TC_OP_RANDOM || n->op == TC_OP_LEFT_SUM ||
           tc__is_alu(n);
}

// Its kind in a list of names, the last two for ops of the user's and copies between devices.
static const char *tc__kernel_kind(const tc__group *k, const char *const *names) {
    return names[(int)k->shape.kind + tc__is_custom(k) + 2 * tc__is_copy(k)];
}

// A name for people, "k0_reduction_mul_max_sub_exp_sum_div": number, kind, and the ops in their order,
// each once.
static void tc__put_kernel_name(tc__text *t, const tc__group *k, uint32_t number) {
    static const char *const kinds[] = {"pointwise", "reduction", "contraction",
                                        "opaque",    "custom",    "copy"};
    const char *ops[TC__MOST_OPS];
    size_t n = 0;
    for (size_t i = 0; i < k->body.node.count && n < TC__MOST_OPS; i++) {
        const tc__node *node = k->body.node.at[i];
        size_t known = 0;
        if (!tc__is_named(node)) continue;
        ops[n] = node->op == TC_OP_ACC ? tc__dump_monoid(node->attr[TC__ACC_MONOID])
                                       : tc__op_name((tc__op)node->op);
        while (strcmp(ops[known], ops[n])) known++;
        n += known == n;
    }
    tc__put(t, "k%u_%s", (unsigned)number, tc__kernel_kind(k, kinds));
    if (k->shape.kind == TC__OPAQUE)
        tc__put(t, "_%s", tc__call_name(t->ctx, k->body.node.at[0]));
    if (!n && k->shape.kind == TC__POINTWISE) tc__put(t, "_copy");
    for (size_t i = 0; i < n && i < TC__NAMED_OPS; i++) tc__put(t, "_%s", ops[i]);
    if (n > TC__NAMED_OPS) tc__put(t, "_and_%u_more", (unsigned)(n - TC__NAMED_OPS));
}

// ---- the calls that a kernel is of ----

static void tc__put_site(tc__text *t, tc__site s) {
    tc__put(t, "%s:%d", s.file ? s.file : "?", s.line);
}

// The call that the user wrote.
static const char *tc__step_call_name(const tc__step *s) {
    return s->call ? s->call : tc__op_name((tc__op)s->op);
}

typedef TC__VEC(const tc__step *) tc__steps;

static int tc__steps_order(const void *a, const void *b) {
    uint32_t x = (*(const tc__step *const *)a)->position,
             y = (*(const tc__step *const *)b)->position;
    return x < y ? -1 : x > y;
}

typedef TC__VEC(uint32_t) tc__node_ids;

// The nodes that kernel k computes: from those it covers back to what it loads. 0 = out of memory.
static int tc__kernel_nodes(tc_ctx *c, const tc__graph *g, const tc__group *k,
                            tc__node_ids *all) {
    size_t nodes = g->node.count + 1;
    uint8_t *seen = TC__NEW_ARRAY(c, uint8_t, nodes);
    int ok = seen != NULL;
    for (size_t i = 0; ok && i < k->buffer.count; i++)
        if (k->buffer.at[i].place == TC__BUF_NODE) seen[k->buffer.at[i].source] = 1;
    for (size_t i = 0; ok && i < k->covers.count; i++) {
        seen[k->covers.at[i]] = 1;
        ok = TC__PUSH(c, *all, k->covers.at[i]);
    }
    for (size_t head = 0; ok && head < all->count; head++) {
        const tc__node *n = g->node.at[all->at[head]];
        for (uint32_t i = 0; ok && i < n->n_in; i++) {
            if (seen[n->in[i]]) continue;
            seen[n->in[i]] = 1;
            ok = TC__PUSH(c, *all, n->in[i]);
        }
    }
    TC__FREE_ARRAY(c, seen, nodes);
    return ok;
}

// The steps whose nodes kernel k computes, in their order, some more than once. 0 = out of memory.
static int tc__kernel_steps(tc_ctx *c, const tc__graph *g, const tc__group *k,
                            tc__steps *all) {
    tc__node_ids node;
    memset(&node, 0, sizeof node);
    int ok = tc__kernel_nodes(c, g, k, &node);
    for (size_t i = 0; ok && i < node.count; i++) {
        const tc__node *n = g->node.at[node.at[i]];
        if (n->from && n->op != TC_OP_INPUT) ok = TC__PUSH(c, *all, n->from);
    }
    TC__VEC_FREE(c, node);
    if (all->count) qsort(all->at, all->count, sizeof *all->at, tc__steps_order);
    return ok;
}

static int tc__same_site(const tc__step *a, const tc__step *b) {
    return a->site.line == b->site.line && a->site.file == b->site.file;
}

// Whether an op is worth a word beside the call that made it: views move nothing.
static int tc__tells(const tc__step *s) {
    return !s->call || (!s->view && strcmp(s->call, tc__op_name((tc__op)s->op)));
}

// "softmax (amax, sub, exp, sum, div)", "mul x2": the ops of the steps that the call at s[0] made, and how
// often each. Those are done with then.
static void tc__put_call_ops(tc__text *t, const tc__step **s, size_t n) {
    const tc__step *lead = s[0];
    uint32_t times[TC__MOST_OPS], ops = 0, more = 0;
    uint16_t op[TC__MOST_OPS];
    for (size_t i = 0; i < n; i++) {
        uint32_t k = 0;
        if (!s[i] || !tc__same_site(lead, s[i]) || lead->call != s[i]->call) continue;
        int tells = tc__tells(s[i]);
        while (tells && k < ops && op[k] != s[i]->op) k++;
        if (tells && k == TC__MOST_OPS)
            more++;
        else if (tells && k == ops)
            op[ops] = s[i]->op, times[ops++] = 1;
        else if (tells)
            times[k]++;
        s[i] = NULL;
    }
    if (lead->call) tc__put(t, ops ? "%s (" : "%s", lead->call);
    for (uint32_t k = 0; k < ops; k++) {
        tc__put(t, "%s%s", k ? ", " : "", tc__op_name((tc__op)op[k]));
        if (times[k] > 1) tc__put(t, " x%u", (unsigned)times[k]);
    }
    if (more) tc__put(t, " and %u more", (unsigned)more);
    if (lead->call && ops) tc__put(t, ")");
}

// All calls at the place of s[0].
static void tc__put_site_calls(tc__text *t, const tc__step **s, size_t n) {
    tc__site site = s[0]->site;
    const tc__step *lead = s[0];
    for (size_t i = 0; i < n; i++) {
        if (!s[i] || !tc__same_site(lead, s[i])) continue;
        if (i) tc__put(t, ", ");
        tc__put_call_ops(t, &s[i], n - i);
    }
    tc__put(t, " at ");
    tc__put_site(t, site);
    tc__put(t, "\n");
}

enum { TC__MOST_CALLS = 24 }; // lines

// "softmax (amax, sub, exp, sum, div), mul at main.c:12": a line behind `lead` for each place that kernel k
// computes ops of, where they were recorded first.
static void tc__put_calls(tc__text *t, const char *lead, const tc__graph *g,
                          const tc__group *k) {
    tc__steps s;
    uint32_t calls = 0;
    memset(&s, 0, sizeof s);
    if (!tc__kernel_steps(t->ctx, g, k, &s)) s.count = 0;
    size_t n = 0;
    for (size_t i = 0; i < s.count; i++)
        if (!n || s.at[n - 1] != s.at[i]) s.at[n++] = s.at[i];
    for (size_t i = 0; i < n; i++) {
        if (!s.at[i] || calls++ >= TC__MOST_CALLS) continue;
        tc__put(t, "%s", lead);
        tc__put_site_calls(t, &s.at[i], n - i);
    }
    if (calls > TC__MOST_CALLS)
        tc__put(t, "%sand %u steps more\n", lead, (unsigned)(calls - TC__MOST_CALLS));
    TC__VEC_FREE(t->ctx, s);
}

// Text `code` of kernel `number` on the log channel "output_code", under the calls that it is of. They are
// no part of the text: equal kernels of two places are one, which shows once.
TC__UNUSED static void tc__log_kernel(tc_ctx *c, const tc__graph *g, const tc__group *k,
                                      uint32_t number, const char *symbol,
                                      const char *code) {
    tc__text t;
    if (!tc__log_on(c, TC__LOG_OUTPUT_CODE)) return;
    tc__text_init(&t, c);
    tc__put(&t, "// ");
    tc__put_kernel_name(&t, k, number);
    tc__put(&t, "\n");
    tc__put_calls(&t, "//     ", g, k);
    if (code)
        tc__put_raw(&t, code + (code[0] == '\n'), strlen(code) - (code[0] == '\n'));
    else
        tc__put(&t, "// is %s, shown already", symbol);
    if (!t.failed) tc__log_text(c, TC__LOG_OUTPUT_CODE, t.at);
    tc__text_free(&t);
}

// ---- the composite ops that it is of ----

enum { TC__PARTS_MOST = 1024 }; // nodes of one that are looked at

// Nodes of a composite op, and a kernel's.
typedef struct tc__parts {
    const tc__graph *g;
    uint8_t *here;             // by node: the kernel computes it
    uint32_t *walked;          // by node: the last composite op that has it, from 1
    tc__node_ids node;         // of that one
    uint32_t computed, within; // how many of them compute, and do so in the kernel
} tc__parts;

static int tc__part_add(tc_ctx *c, tc__parts *p, uint32_t id, uint32_t number) {
    if (id == TC__NO_NODE || p->walked[id] == number) return 1;
    p->walked[id] = number;
    return TC__PUSH(c, p->node, id);
}

// The parts of composite op i: from its result back to its operands, which are none. 0 = out of memory.
static int tc__parts_of(tc_ctx *c, tc__parts *p, size_t i) {
    const tc__composite *f = &p->g->composite.at[i];
    uint32_t number = (uint32_t)i + 1;
    p->node.count = 0, p->computed = p->within = 0;
    for (uint32_t k = 0; k < TC__WHOLE_OPERANDS; k++) {
        uint32_t root = tc__composite_root(p->g, f->in[k]);
        if (root != TC__NO_NODE) p->walked[root] = number;
    }
    if (!tc__part_add(c, p, tc__composite_root(p->g, f->result), number)) return 0;
    for (size_t head = 0; head < p->node.count && head < TC__PARTS_MOST; head++) {
        const tc__node *n = p->g->node.at[p->node.at[head]];
        tc__kind kind = tc__ops[n->op].kind;
        int computes = kind != TC__KIND_MOVE && kind != TC__KIND_SOURCE;
        p->computed += (uint32_t)computes;
        p->within += (uint32_t)(computes && p->here[n->id]);
        for (uint32_t k = 0; k < n->n_in; k++)
            if (!tc__part_add(c, p, n->in[k], number)) return 0;
    }
    return 1;
}

// "layer_norm, a part of attention x2; ": composite ops that hold no others.
static void tc__put_named(tc__text *t, tc__parts *p) {
    uint32_t times[TC__MOST_OPS], ops = 0;
    uint32_t op[TC__MOST_OPS]; // twice it, and 1 for a part
    for (size_t i = 0; i < p->g->composite.count; i++) {
        const tc__composite *f = &p->g->composite.at[i];
        uint32_t k = 0;
        if (tc__composite_of(p->g, tc__composite_root(p->g, f->result), TC_OP_TOTAL) != f)
            continue;
        if (!tc__parts_of(t->ctx, p, i)) return;
        uint32_t name = f->op * 2u + (p->within < p->computed);
        if (!p->within) continue;
        while (k < ops && op[k] != name) k++;
        if (k == TC__MOST_OPS) continue;
        if (k == ops) op[k] = name, times[ops++] = 0;
        times[k]++;
    }
    for (uint32_t k = 0; k < ops; k++) {
        tc__put(t, "%s%s%s", k ? ", " : "", op[k] & 1 ? "a part of " : "",
                tc__op_name((tc__op)(op[k] / 2)));
        if (times[k] > 1) tc__put(t, " x%u", (unsigned)times[k]);
    }
    if (ops) tc__put(t, "; ");
}

// What kernel k is of, as far as that was recorded whole or found to be one.
static void tc__put_composites(tc__text *t, const tc__graph *g, const tc__group *k) {
    size_t n = g->node.count + 1;
    tc__node_ids own;
    tc__parts p;
    if (!g->composite.count) return;
    memset(&own, 0, sizeof own), memset(&p, 0, sizeof p);
    p.g = g;
    p.here = TC__NEW_ARRAY(t->ctx, uint8_t, n);
    p.walked = TC__NEW_ARRAY(t->ctx, uint32_t, n);
    if (p.here && p.walked && tc__kernel_nodes(t->ctx, g, k, &own)) {
        for (size_t i = 0; i < own.count; i++) p.here[own.at[i]] = 1;
        tc__put_named(t, &p);
    }
    if (p.here) TC__FREE_ARRAY(t->ctx, p.here, n);
    if (p.walked) TC__FREE_ARRAY(t->ctx, p.walked, n);
    TC__VEC_FREE(t->ctx, own);
    TC__VEC_FREE(t->ctx, p.node);
}

// "columns 128 x depth 64": what list k ends with.
static void tc__report_extents(tc__text *t, const tc__group *k) {
    tc__put(t, "columns ");
    tc__dump_ix(t, k->body.ix, k->shape.cols);
    if (k->shape.kind != TC__CONTRACTION) return;
    tc__put(t, " x depth ");
    tc__dump_ix(t, k->body.ix, tc__depth_of(k));
}

// Head of a kernel: kind, space, composite ops, reason, TENSOR nodes of g, buffers.
static void tc__report_kernel(tc__text *t, const tc__graph *g, const tc__group *k,
                              uint32_t number) {
    static const char *const kinds[] = {"pointwise", "reduction", "contraction",
                                        "opaque op", "custom op", "copy"};
    tc__put(t, "kernel %u: %s, rows ", (unsigned)number, tc__kernel_kind(k, kinds));
    tc__dump_ix(t, k->body.ix, k->shape.rows);
    tc__put(t, " x ");
    tc__report_extents(t, k);
    tc__put(t, ", vectors along %s\n    together: ",
            k->shape.vector == TC__ROW ? "rows" : "columns");
    tc__put_composites(t, g, k);
    tc__report_why(t, k);
    tc__group part[TC__LIST_PARTS];
    int parts = k->shape.prologue ? tc__parts_of_list(k, part) : 0;
    for (int i = 0; i < parts; i++) {
        tc__put(t, i ? "; " : "\n    in parts: ");
        tc__report_extents(t, &part[i]);
    }
    tc__put(t, "\n    computes:");
    for (size_t i = 0; i < k->covers.count; i++)
        tc__put(t, " %%%u", (unsigned)k->covers.at[i]);
    tc__put(t, "\n");
    for (size_t i = 0; i < k->buffer.count; i++) tc__report_buffer(t, k, i);
}

// The kernels of a program just scheduled, on the log channel "fusion".
static void tc__log_fusion(tc_ctx *c, const tc__graph *g, tc__group *const *k, size_t n) {
    tc__text t;
    if (!tc__log_on(c, TC__LOG_FUSION)) return;
    tc__text_init(&t, c);
    tc__report_count(&t, (uint32_t)n, "kernel");
    tc__put(&t, "\n");
    for (size_t i = 0; i < n; i++) tc__report_kernel(&t, g, k[i], (uint32_t)i);
    if (!t.failed) tc__log_text(c, TC__LOG_FUSION, t.at);
    tc__text_free(&t);
}
