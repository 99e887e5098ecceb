// CUDA dialect, values of a product's threads: operands and epilogues are printed with a copy of a value
// for each element of an access, because pieces of a product name them one by one (print_cuda_matmul.c).
// All other kernels have loops over vectors: print_cuda_value.c.

// Whether V elements of the access that are adjacent along the axis are adjacent and aligned.
static int tc__copied_is_wide_along(const tc__group *g, const tc__node *n, int width,
                                  tc__axis axis) {
    tc__ixpool *x = g->body.ix;
    tc__ix e = n->attr[1], v = tc__ix_find_var(x, e, axis);
    if (width == 1 || n->level == TC__AT_ROW ||
        (n->op == TC_OP_LOAD && n->n_attr > TC__LOAD_FIXED))
        return 0;
    if ((uint32_t)width * tc__dtypes[g->buffer.at[n->attr[0]].dtype].bytes > 16) return 0;
    if (tc__access_along(g, e, axis, width) != TC__CONTIGUOUS) return 0;
    if (v) e = tc__ix_subst(x, e, v, tc__ix_mul(x, v, tc__ix_const(width)));
    return tc__ix_divisor(x, e) % width == 0;
}

static int tc__copied_is_wide(const tc__group *g, const tc__node *n, int width) {
    return tc__copied_is_wide_along(g, n, width, TC__COL);
}

// Elements of a 16-byte access of the widest dtype of the columns' loads and stores; 1 where
// columns do not divide into them.
static int tc__copied_width(const tc__group *g) {
    uint32_t most = 1;
    int wide = 0;
    for (size_t i = 0; i < g->body.node.count; i++) {
        const tc__node *n = g->body.node.at[i];
        if (!tc__cuda_is_memory(n) || n->level != TC__AT_COL) continue;
        uint32_t bytes = tc__dtypes[g->buffer.at[n->attr[0]].dtype].bytes;
        if (bytes > most) most = bytes;
    }
    int width = most < 4 ? 4 : (int)(16 / most);
    for (size_t i = 0; i < g->body.node.count; i++) {
        const tc__node *n = g->body.node.at[i];
        wide |= tc__cuda_is_memory(n) && tc__copied_is_wide(g, n, width);
    }
    return wide && tc__ix_divisor(g->body.ix, g->cols) % width == 0 ? width : 1;
}

// `tc_pack<float, 4>`
static void tc__copied_pack(tc__printer *p, const tc__node *n) {
    tc__put(p->out, "tc_pack<%s, %d>", tc__dtypes[p->g->buffer.at[n->attr[0]].dtype].memory,
            p->copies);
}

static void tc__copied_load_one(tc__printer *p, const tc__node *n, int copy) {
    int guarded = n->n_attr > TC__LOAD_FIXED;
    tc__put_let(p, n, copy);
    if (guarded) {
        tc__cuda_pred(p, n, TC__LOAD_FIXED);
        tc__put(p->out, " ? ");
    }
    tc__put(p->out, "%s", tc__cuda_wrap(p, n, 0));
    tc__cuda_element(p, n);
    tc__put(p->out, "%s", tc__cuda_wrapped(p, n, 0));
    if (guarded) {
        tc__value fill;
        memcpy(&fill, &n->attr[2], sizeof fill);
        tc__put(p->out, " : ");
        tc__cuda_constant(p, n->dtype, fill);
    }
    tc__put(p->out, ";\n");
}

// ` = *(const tc_pack<float, 4> *)&in0[c];`
static void tc__copied_put_wide(tc__printer *p, const tc__node *n) {
    tc__put(p->out, " = *(const ");
    tc__copied_pack(p, n);
    tc__put(p->out, " *)&");
    tc__cuda_element(p, n);
    tc__put(p->out, ";\n");
}

static void tc__copied_load(tc__printer *p, const tc__node *n, int copy) {
    int copies = tc__copies_of(p, n);
    (void)copy;
    if (copies > 1 && tc__copied_is_wide_along(p->g, n, copies, p->axis)) {
        tc__line(p);
        tc__put(p->out, "const ");
        tc__copied_pack(p, n);
        tc__put(p->out, " v%u", n->id);
        tc__copied_put_wide(p, n);
        for (int i = 0; i < copies; i++) {
            tc__put_let(p, n, i);
            tc__put(p->out, "%sv%u.at[%d]%s;\n", tc__cuda_wrap(p, n, 0), n->id, i,
                    tc__cuda_wrapped(p, n, 0));
        }
        return;
    }
    for (int i = 0; i < copies; i++) {
        p->shift = i;
        tc__copied_load_one(p, n, i);
    }
    p->shift = 0;
}

static void tc__copied_store(tc__printer *p, const tc__node *n, int copy) {
    int copies = tc__copies_of(p, n);
    (void)copy;
    if (copies > 1 && tc__copied_is_wide(p->g, n, copies)) {
        tc__line(p);
        tc__put(p->out, "*(");
        tc__copied_pack(p, n);
        tc__put(p->out, " *)&");
        tc__cuda_element(p, n);
        tc__put(p->out, " = {");
        for (int i = 0; i < copies; i++) {
            tc__put(p->out, "%s%s", i ? ", " : "", tc__cuda_wrap(p, n, 1));
            tc__put_value(p, n->in[0], i);
            tc__put(p->out, "%s", tc__cuda_wrapped(p, n, 1));
        }
        tc__put(p->out, "};\n");
        return;
    }
    for (int i = 0; i < copies; i++) {
        p->shift = i;
        tc__line(p);
        tc__cuda_element(p, n);
        tc__put(p->out, " = %s", tc__cuda_wrap(p, n, 1));
        tc__put_value(p, n->in[0], i);
        tc__put(p->out, "%s;\n", tc__cuda_wrapped(p, n, 1));
    }
    p->shift = 0;
}

static void tc__copied_index(tc__printer *p, const tc__node *n, int copy) {
    tc__put_let(p, n, copy);
    tc__put_ix(p, n->attr[0]);
    tc__put(p->out, ";\n");
}

static void tc__copied_check(tc__printer *p, const tc__node *n, int copy) {
    tc__put_let(p, n, copy);
    tc__put(p->out, "tc_check(a.state, ");
    tc__put_value(p, n->in[0], copy);
    tc__put(p->out, ", ");
    tc__put_ix(p, n->attr[0]);
    tc__put(p->out, ", %lld);\n", (long long)n->attr[1]);
}

static void tc__copied_valid(tc__printer *p, const tc__node *n, int copy) {
    tc__put_let(p, n, copy);
    if (!n->n_attr) tc__put(p->out, "1");
    tc__cuda_pred(p, n, 0);
    tc__put(p->out, ";\n");
}

static void tc__copied_loop(tc__printer *p, const tc__node *n, uint32_t begin,
                            uint32_t end) {
    (void)n; // the product has placed rows and columns
    tc__print_range(p, begin, end);
}
