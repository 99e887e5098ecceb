// CUDA dialect, values: statements of lists for NVRTC, no includes. A value is a scalar of one thread. A vector is a loop
// in the text over its elements, which the compiler unrolls, not copies of each statement: a kernel of halves is a quarter
// as long and reads like its graph.

// ---- constants and elements ----

static void tc__cuda_constant(tc__printer *p, int dtype, tc__value v) {
    if (tc__is_float(dtype)) {
        tc__put_hexfloat(p->out, v.f, dtype != TC_F64);
        return;
    }
    if (v.i == INT64_MIN)
        tc__put(p->out, "(-0x7fffffffffffffffll - 1)");
    else if (dtype == TC_I32 && v.i == INT32_MIN)
        tc__put(p->out, "(-0x7fffffff - 1)");
    else
        tc__put(p->out, dtype == TC_I64 ? "%lldll" : "%lld", (long long)v.i);
}

static const char *tc__cuda_index_type(const tc__printer *p) {
    return p->narrow ? "int" : "tc_i64";
}

static int tc__cuda_dtype(const tc__printer *p, const tc__node *n) {
    return tc__buffer_of(p->g, n)->dtype;
}

static const char *tc__cuda_memory(const tc__printer *p, const tc__node *n) {
    return tc__dtypes[tc__cuda_dtype(p, n)].memory;
}

// What stands around an element of memory, read or written: braces do not narrow an int.
static const char *tc__cuda_wrap(const tc__printer *p, const tc__node *n, int store) {
    static const char *const words[TC_DTYPE_COUNT][2] = {
        {"", "tc_u8("},                       // bool
        {"", "tc_u8("},                       // u8
        {"", "tc_i8("},                       // i8
        {"", "tc_i16("},                      // i16
        {"", ""},                             // i32
        {"", ""},                             // i64
        {"tc_of_f8e4m3(", "tc_bits_f8e4m3("}, // f8e4m3
        {"tc_of_f8e5m2(", "tc_bits_f8e5m2("}, // f8e5m2
        {"tc_of_f16(", "tc_bits_f16("},       // f16
        {"tc_of_bf16(", "tc_bits_bf16("},     // bf16
        {"", ""},                             // f32
        {"", ""}};                            // f64
    return words[tc__cuda_dtype(p, n)][store];
}

static const char *tc__cuda_wrapped(const tc__printer *p, const tc__node *n, int store) {
    return *tc__cuda_wrap(p, n, store) ? ")" : "";
}

static void tc__cuda_pred(tc__printer *p, const tc__node *n, uint32_t first) {
    const char *word = p->narrow ? "unsigned" : "tc_u64";
    for (uint32_t i = first; i + 1 < n->n_attr; i += 2) {
        tc__put(p->out, "%s(%s)(", i > first ? " && " : "", word);
        tc__put_ix(p, n->attr[i]);
        tc__put(p->out, ") < (%s)(", word);
        tc__put_ix(p, n->attr[i + 1]);
        tc__put(p->out, ")");
    }
}

static int tc__cuda_guarded(const tc__node *n) {
    return n->op == TC_OP_LOAD && n->n_attr > TC__LOAD_PREDICATES;
}

// The fill of a guarded load, as memory holds it.
static void tc__cuda_fill(tc__printer *p, const tc__node *n) {
    tc__value fill;
    memcpy(&fill, &n->attr[TC__LOAD_FILL], sizeof fill);
    tc__put(p->out, "%s", tc__cuda_wrap(p, n, 1));
    tc__cuda_constant(p, n->dtype, fill);
    tc__put(p->out, "%s", tc__cuda_wrapped(p, n, 1));
}

// `0 <= e < n ? in0[e] : 0`, as memory holds it.
static void tc__cuda_read(tc__printer *p, const tc__node *n) {
    if (tc__cuda_guarded(n)) tc__cuda_pred(p, n, TC__LOAD_PREDICATES);
    if (tc__cuda_guarded(n)) tc__put(p->out, " ? ");
    tc__cuda_element(p, n);
    if (!tc__cuda_guarded(n)) return;
    tc__put(p->out, " : ");
    tc__cuda_fill(p, n);
}

// ---- single nodes ----

static void tc__cuda_unroll(tc__printer *p, const char *variable, int count) {
    tc__line(p);
    tc__put(p->out, "#pragma unroll\n");
    tc__line(p);
    tc__put(p->out, "for (int %s = 0; %s < %d; %s++)", variable, variable, count, variable);
    tc__block_open(p);
}

static void tc__cuda_index(tc__printer *p, const tc__node *n, int copy) {
    tc__put_let(p, n, copy);
    tc__put_ix(p, n->attr[TC__INDEX_EXPR]);
    tc__put(p->out, ";\n");
}

static void tc__cuda_check(tc__printer *p, const tc__node *n, int copy) {
    tc__put_let(p, n, copy);
    tc__put(p->out, "tc_check(a.state, ");
    tc__put_value(p, n->in[0], copy);
    tc__put(p->out, ", ");
    tc__put_ix(p, n->attr[TC__CHECK_LIMIT]);
    tc__put(p->out, ", %lld);\n", (long long)n->attr[TC__CHECK_SITE]);
}

static void tc__cuda_valid(tc__printer *p, const tc__node *n, int copy) {
    tc__put_let(p, n, copy);
    if (!n->n_attr) tc__put(p->out, "1");
    tc__cuda_pred(p, n, 0);
    tc__put(p->out, ";\n");
}

// `draw` and `seed` are read once, at the head of the kernel.
static void tc__cuda_random(tc__printer *p, const tc__node *n, int copy) {
    tc__put_let(p, n, copy);
    tc__put(p->out, "tc_%s_%s(tc_drawn<%d>(",
            n->attr[TC__RANDOM_KIND] ? "normal" : "uniform", tc__suffix(n->dtype),
            tc__draw_words(n));
    tc__put_value(p, n->in[0], copy);
    tc__put(p->out, " & -4, (int)");
    tc__put_value(p, n->in[0], copy);
    tc__put(p->out, " & 3, draw + %lld, seed));\n", (long long)n->attr[TC__RANDOM_DRAW]);
}

// A cast to a half, or f8, that is only stored as one: the store rounds.
static int tc__cuda_is_rounded_later(const tc__printer *p, const tc__node *n) {
    if (!tc__is_rounded(n->dtype) ||
        tc__class_of(tc__body(p, n->in[0])->dtype) != TC__CLASS_f32)
        return 0;
    for (uint32_t id = 0; id < p->g->body.node.count; id++) {
        const tc__node *user = tc__body(p, id);
        if (user->op == TC_OP_FOR || user->op == TC_OP_END) continue;
        int stores = user->op == TC_OP_STORE && tc__cuda_dtype(p, user) == n->dtype;
        for (uint32_t k = 0; k < user->n_in; k++)
            if (user->in[k] == n->id && !stores) return 0;
    }
    return 1;
}

static void tc__cuda_cast_node(tc__printer *p, const tc__node *n, int copy) {
    if (!tc__cuda_is_rounded_later(p, n)) {
        tc__print_cast(p, n, copy);
        return;
    }
    tc__put_let(p, n, copy);
    tc__put_value(p, n->in[0], copy);
    tc__put(p->out, ";\n");
}

// `tc_reads(in0), tc_reads(in1), ` before a kernel waits: nothing is read of them ahead of that.
static void tc__cuda_reads(tc__printer *p) {
    for (size_t i = 0; i < p->g->buffer.count; i++) {
        const tc__kbuf *b = &p->g->buffer.at[i];
        if (!tc__is_memory(b) || b->written) continue;
        tc__put(p->out, "tc_reads(");
        tc__put_buffer(p, (int64_t)i);
        tc__put(p->out, tc__cuda_is_checked(p->g, (int64_t)i) ? "_memory), " : "), ");
    }
}
