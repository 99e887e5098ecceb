// The public calls about ops of the user's: registering them, and calling them. Input: descriptors
// and tensors. Output: entries of graph/custom.c, CUSTOM steps. What runs them is exec/custom.c.

// ---- registering ----

static int tc__is_identifier(const char *s) {
    size_t n = 0;
    while (n <= TC__CUSTOM_NAME && tc__is_word(s[n])) n++;
    return n && n <= TC__CUSTOM_NAME && !s[n] && !(*s >= '0' && *s <= '9');
}

// Whether the text has `name` as a word in front of a bracket.
static int tc__source_has(const char *text, const char *name) {
    size_t n = strlen(name);
    for (const char *s = strstr(text, name); s; s = strstr(s + 1, name)) {
        const char *next = s + n;
        if (s > text && tc__is_word(s[-1])) continue;
        while (*next == ' ' || *next == '\t' || *next == '\n' || *next == '\r') next++;
        if (*next == '(') return 1;
    }
    return 0;
}

// What a header says would be no part of the key.
static int tc__source_includes(const char *text) {
    for (const char *s = strchr(text, '#'); s; s = strchr(s + 1, '#')) {
        const char *word = s + 1;
        while (*word == ' ' || *word == '\t') word++;
        if (!strncmp(word, "include", 7)) return 1;
    }
    return 0;
}

static int tc__source_check(tc_ctx *c, const tc_custom_op *op, const char *what,
                            const char *source) {
    if (!source) return 1;
    if (!tc__source_has(source, op->name))
        return tc__fail(c, TC_E_ARG,
                        "tc_register_op: the %s of \"%s\" has no function of that name",
                        what, op->name);
    if (!tc__source_includes(source)) return 1;
    return tc__fail(c, TC_E_ARG,
                    "tc_register_op: the %s of \"%s\" has an #include; what a header says "
                    "is not in its key. Declare what it needs, or give run",
                    what, op->name);
}

static int tc__custom_check(tc_ctx *c, const tc_custom_op *op) {
    const tc__recorder *r = tc__recorder_of(c);
    if (r->visit || r->skipped || r->disabled)
        return tc__fail(c, TC_E_STATE, "tc_register_op: a region is open; call it outside");
    if (!op || !op->name)
        return tc__fail(c, TC_E_NULL, "tc_register_op: %s is null",
                        op ? "the name" : "the op");
    if (!tc__is_identifier(op->name))
        return tc__fail(c, TC_E_ARG,
                        "tc_register_op: the name \"%.80s\" is no C identifier of at most "
                        "%d characters",
                        op->name, TC__CUSTOM_NAME);
    if (tc__custom_named(c, op->name, strlen(op->name)))
        return tc__fail(c, TC_E_ARG,
                        "tc_register_op: \"%s\" is registered already; tc_op_named gives "
                        "its number",
                        op->name);
    if (op->n_in < 0 || op->n_in > TC__CUSTOM_INPUTS)
        return tc__fail(c, TC_E_ARG,
                        "tc_register_op: \"%s\" has %d inputs; 1..%d are possible",
                        op->name, op->n_in, TC__CUSTOM_INPUTS);
    if (!op->run && !op->c_source && !op->cuda_source)
        return tc__fail(c, TC_E_NULL,
                        "tc_register_op: \"%s\" has neither run nor c_source nor "
                        "cuda_source",
                        op->name);
    return tc__source_check(c, op, "c_source", op->c_source) &&
           tc__source_check(c, op, "cuda_source", op->cuda_source);
}

TCDEF int tc_register_op_at(tc_ctx *tc, const tc_custom_op *op, const char *file,
                            int line) {
    tc__api f;
    if (!tc__api_open(&f, tc, "tc_register_op", file, line)) return 0;
    if (!tc__is_ours(tc, f.who) || !tc__custom_check(tc, op)) return 0;
    if (tc__custom_count(tc) >= (1 << TC__CUSTOM_BITS) - 1)
        return tc__fail(tc, TC_E_TOO_BIG, "tc_register_op: more than %d ops",
                        (1 << TC__CUSTOM_BITS) - 1);
    const tc__custom *o = tc__custom_add(tc, op);
    return o ? o->id : 0;
}

TCDEF int tc_op_named(const tc_ctx *tc, const char *name) {
    const tc__custom *o = tc && name ? tc__custom_named(tc, name, strlen(name)) : NULL;
    return o ? o->id : 0;
}

// ---- calling ----

// The op of a number that the user has; NULL = reported.
static const tc__custom *tc__custom_of(tc_ctx *c, int id) {
    const tc__custom *o = tc__custom_at(c, (id & ((1 << TC__CUSTOM_BITS) - 1)) - 1);
    if (o && o->id != id) o = NULL;
    if (!o)
        tc__fail(c, TC_E_ARG,
                 "tc_custom: %d is no op of this context; tc_register_op gives its number",
                 id);
    return o;
}

static int tc__custom_inputs(tc_ctx *c, const tc__custom *o, const tc_tensor *in,
                             int n_in) {
    if (n_in != o->op.n_in)
        return tc__fail(c, TC_E_ARG, "custom op \"%s\": %d inputs are given, it has %d",
                        o->op.name, n_in, o->op.n_in);
    if (!in)
        return tc__fail(c, TC_E_NULL, "custom op \"%s\": a null array of tensors",
                        o->op.name);
    for (int i = 0; i < n_in; i++)
        if (!in[i].id)
            return tc__fail(c, TC_E_NULL,
                            "custom op \"%s\": input %d is a null tensor (an earlier call "
                            "failed?)",
                            o->op.name, i);
    return 1;
}

TCDEF tc_tensor tc_custom_at(tc_ctx *tc, int op, const tc_tensor *in, int n_in,
                             const char *file, int line) {
    tc__api f;
    tc__call k;
    if (!tc__api_open(&f, tc, "tc_custom", file, line)) return tc__null();
    const tc__custom *o = tc__custom_of(tc, op);
    if (!o || !tc__custom_inputs(tc, o, in, n_in)) return tc__null();
    int64_t number = o->number;
    if (tc__ctx_of(in[0]) == tc)
        return tc__op_n(TC_OP_CUSTOM, in, (uint32_t)n_in, &number, 1, file, line);
    memset(&k, 0, sizeof k);
    k.op = TC_OP_CUSTOM, k.n_in = (uint32_t)n_in, k.n_attr = 1, k.in = in, k.attr = &number;
    k.site.file = file, k.site.line = line;
    return tc__record(tc, &k); // reports the foreign tensor
}
