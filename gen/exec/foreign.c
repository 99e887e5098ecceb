// Programs on registered backends: the graph as the backend sees it, and a run of it.
// Input: a program, whole and laid out. The backend gets pure nodes; views of inputs, writes in place
// and results that are the same node stay the runtime's. Sizes are those of one run: the region does not
// promote them, and where a path has run-time sizes already the program is for one set of them.

static tc__foreign *tc__foreign_of(const tc__program *p) {
    return p->foreign && !p->foreign->failed ? p->foreign : NULL;
}

// Whether output i of the program is computed into memory of its own.
static int tc__foreign_computes(const tc__program *p, size_t i) {
    return !p->output.at[i].alias && p->output.at[i].first == i;
}

static void tc__spec_of_node(const tc__program *p, const tc__node *n, tc_spec *s) {
    memset(s, 0, sizeof *s);
    s->dtype = (tc_dtype)n->dtype, s->rank = n->rank;
    for (int d = 0; d < n->rank; d++) s->dims[d] = tc__ix_eval(&p->ix, n->dims[d], NULL);
}

// What is computed again is in the same order for a backend: a reshape to the sizes that it has.
static void tc__foreign_again(const tc__program *p, const tc__node *n, int64_t *attr) {
    for (int d = 0; d < n->rank; d++) attr[d] = tc__ix_eval(&p->ix, n->dims[d], NULL);
}

// The words of a node as tc_graph_text shows them: sizes, which are expressions, by their values.
static void tc__foreign_attr(const tc__program *p, const tc__node *n, int64_t *attr) {
    tc__attr_name a;
    uint32_t at = 0;
    a.rest = tc__ops[n->op].attr;
    while (tc__attr_next(&a)) {
        uint32_t end = at + tc__attr_words(&a, n->n_attr - at);
        for (; at < end; at++)
            attr[at] = a.kind == 's' ? tc__ix_eval(&p->ix, n->attr[at], NULL) : n->attr[at];
    }
}

static int tc__foreign_node(tc__foreign *f, const tc__program *p, const tc__node *n,
                            tc_graph_node *to) {
    int *in = TC__ANEW_ARRAY(&f->arena, int, n->n_in + 1u);
    int again = n->op == TC_OP_AGAIN || n->op == TC_OP_WRT;
    int64_t *attr = TC__ANEW_ARRAY(&f->arena, int64_t, n->n_attr + n->rank + 1u);
    if (!in || !attr) return 0;
    for (uint32_t k = 0; k < n->n_in; k++) in[k] = (int)n->in[k];
    to->op = tc__op_name(again ? TC_OP_RESHAPE : (tc__op)n->op);
    to->n_in = (int)n->n_in, to->in = in;
    to->n_attr = again ? n->rank : (int)n->n_attr, to->attr = attr;
    if (again)
        tc__foreign_again(p, n, attr);
    else
        tc__foreign_attr(p, n, attr);
    tc__spec_of_node(p, n, &to->spec);
    return 1;
}

static int tc__foreign_nodes(tc__foreign *f, const tc__program *p) {
    size_t n = p->graph.node.count, inputs = 0;
    tc_graph_node *node = TC__ANEW_ARRAY(&f->arena, tc_graph_node, n + 1);
    int *input = TC__ANEW_ARRAY(&f->arena, int, n + 1);
    f->in_source = TC__ANEW_ARRAY(&f->arena, uint32_t, n + 1);
    if (!node || !input || !f->in_source) return 0;
    for (size_t i = 0; i < n; i++) {
        const tc__node *from = p->graph.node.at[i];
        if (!tc__foreign_node(f, p, from, &node[i])) return 0;
        if (from->op != TC_OP_INPUT) continue;
        f->in_source[inputs] = (uint32_t)from->attr[TC__INPUT_EXTERNAL];
        input[inputs++] = (int)i;
    }
    f->graph.node = node, f->graph.n_node = (int)n;
    f->graph.input = input, f->graph.n_input = (int)inputs;
    f->in = TC__ANEW_ARRAY(&f->arena, tc_buffer, inputs + 1);
    f->dense = TC__ANEW_ARRAY(&f->arena, uint8_t *, inputs + 1);
    f->dense_bytes = TC__ANEW_ARRAY(&f->arena, size_t, inputs + 1);
    f->arg = TC__ANEW_ARRAY(&f->arena, double, p->arg.count + 1);
    return f->in && f->dense && f->dense_bytes && f->arg;
}

static int tc__foreign_outputs(tc__foreign *f, const tc__program *p) {
    size_t n = p->output.count, outputs = 0;
    int *output = TC__ANEW_ARRAY(&f->arena, int, n + 1);
    f->out_index = TC__ANEW_ARRAY(&f->arena, uint32_t, n + 1);
    f->out = TC__ANEW_ARRAY(&f->arena, tc_buffer, n + 1);
    if (!output || !f->out_index || !f->out) return 0;
    for (size_t i = 0; i < n; i++) {
        if (!tc__foreign_computes(p, i)) continue;
        f->out_index[outputs] = (uint32_t)i;
        output[outputs++] = (int)p->output.at[i].node;
    }
    f->graph.output = output, f->graph.n_output = (int)outputs;
    return 1;
}

static int tc__foreign_failed(tc_ctx *c, tc__program *p, const char *what, tc_status status,
                              const char *why, int suppress) {
    tc__foreign *f = p->foreign;
    if (!suppress)
        return tc__fail(c, TC_E_COMPILER, "backend \"%s\" could not %s \"%s\": %s%s%s",
                        f->backend->name, what, f->graph.name, tc__error_name(status),
                        why ? ": " : "", why ? why : "");
    f->failed = 1;
    tc__warn(c, "backend \"%s\" could not %s \"%s\" (%s%s%s); the interpreter goes on",
             f->backend->name, what, f->graph.name, tc__error_name(status), why ? ": " : "",
             why ? why : "");
    return 1;
}

static int tc__foreign_compile(tc__program *p, const tc__region *r) {
    tc__foreign *f = p->foreign;
    const tc_backend *own = &f->backend->own;
    const char *why = NULL;
    if (!tc__foreign_nodes(f, p) || !tc__foreign_outputs(f, p)) return 0;
    tc__calling calling = tc__calling_begin(p->ctx);
    tc_status s =
        own->compile ? own->compile(own->user, &f->graph, &f->state, &why) : TC_OK;
    tc__calling_end(p->ctx, calling);
    return !s ||
           tc__foreign_failed(p->ctx, p, "compile", s, why, r->options.suppress_errors);
}

// Hands the program to its backend; 0 = reported.
static int tc__foreign_start(tc__program *p, const tc__region *r) {
    tc_ctx *c = p->ctx;
    tc__foreign *f = TC__NEW(c, tc__foreign);
    if (!f) return 0;
    f->ctx = c, f->backend = p->backend, p->foreign = f;
    tc__arena_init(&f->arena, c);
    tc__text_init(&f->text, c);
    tc__text_init(&f->source, c);
    f->graph.name = r->name, f->graph.program = p;
    if (tc__foreign_compile(p, r)) return 1;
    tc__foreign_free(f);
    p->foreign = NULL;
    return 0;
}

// ---- for the backend ----

TCDEF const char *tc_graph_text(const tc_graph *graph) {
    tc__program *p = graph ? (tc__program *)graph->program : NULL;
    if (!p) return NULL;
    tc__text *t = &p->foreign->text;
    uint32_t *at = TC__NEW_ARRAY(p->ctx, uint32_t, graph->n_output);
    tc__text_clear(t);
    for (int i = 0; at && i < graph->n_output; i++) at[i] = (uint32_t)graph->output[i];
    if (at) tc__dump_graph(t, &p->graph, at, (size_t)graph->n_output);
    size_t n = (size_t)graph->n_output + !graph->n_output;
    if (at) TC__FREE_ARRAY(p->ctx, at, n);
    return at && !t->failed ? t->at : NULL;
}

// Kernels that a device has no text for are left out; those that share a launch have one text.
static int tc__foreign_kernels(tc__program *p, const tc__dispatch *r, tc__text *out,
                               const tc__language *d) {
    size_t most = r ? tc__dispatch_most(r) : p->launch.count, n = 0;
    const tc__group **groups = TC__NEW_ARRAY(p->ctx, const tc__group *, most);
    char symbol[32];
    for (uint32_t i = 0; groups && i < most; i++) {
        if (!r)
            groups[n++] = p->launch.at[i].group;
        else if (tc__dispatch_wanted(r, i))
            groups[n++] = tc__dispatch_wanted(r, i)->group;
    }
    int ok = groups && d->prelude(out, groups, (int)n);
    for (size_t i = 0; ok && i < n; i++) {
        snprintf(symbol, sizeof symbol, "kernel_%u", (unsigned)i);
        ok = tc__print_kernel(out, groups[i], d->dialect, symbol);
    }
    if (groups) TC__FREE_ARRAY(p->ctx, groups, most);
    return ok;
}

// The emitted text of all kernels, in the language of where they run.
TC__UNUSED static int tc__program_text(tc__program *p, tc__text *out) {
    int ok = 1;
    for (const tc__dispatch *r = p->dispatch; ok && r; r = r->next)
        ok = tc__foreign_kernels(p, r, out, r->device->own.language);
    return ok && (p->devices && !p->here ? 1 : tc__program_print(p, out));
}

TCDEF const char *tc_graph_source(const tc_graph *graph, const char *language) {
    tc__program *p = graph ? (tc__program *)graph->program : NULL;
    if (!p || !language) return NULL;
    tc__text *t = &p->foreign->source;
    const tc__language *d = tc__language_find(p->ctx, language);
    int ok = 0;
    tc__text_clear(t);
    if (!strcmp(language, "c")) ok = tc__program_print(p, t);
    if (d) ok = tc__foreign_kernels(p, NULL, t, d);
    return ok && !t->failed ? t->at : NULL;
}
