// CUDA dialect: the same LOOP lists for NVRTC, no includes. A value is a scalar of one
// thread; an unrolled thread keeps V copies, the elements of one 16-byte access. How the
// loops map is in the plan (print_cuda_plan.c).
// The order of a reduction here is its own: equal from run to run, not equal to the CPU's.

// ---- values ----

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

// What stands around an element of memory, read or written: braces do not narrow an int.
static const char *tc__cuda_wrap(const tc__printer *p, const tc__node *n, int store) {
    static const char *const words[TC_DTYPE_COUNT][2] = {
        {"", "tc_u8("},                   // bool
        {"", "tc_u8("},                   // u8
        {"", "tc_i8("},                   // i8
        {"", "tc_i16("},                  // i16
        {"", ""},                         // i32
        {"", ""},                         // i64
        {"tc_of_f16(", "tc_bits_f16("},   // f16
        {"tc_of_bf16(", "tc_bits_bf16("}, // bf16
        {"", ""},                         // f32
        {"", ""}};                        // f64
    return words[p->g->buffer.at[n->attr[0]].dtype][store];
}

static const char *tc__cuda_wrapped(const tc__printer *p, const tc__node *n, int store) {
    return *tc__cuda_wrap(p, n, store) ? ")" : "";
}

static void tc__cuda_element(tc__printer *p, const tc__node *n) {
    tc__put_buffer(p, n->attr[0]);
    tc__put(p->out, "[");
    tc__put_ix(p, n->attr[1]);
    tc__put(p->out, "]");
}

// `tc_pack<float, 4>`
static void tc__cuda_pack(tc__printer *p, const tc__node *n) {
    tc__put(p->out, "tc_pack<%s, %d>", tc__dtypes[p->g->buffer.at[n->attr[0]].dtype].memory,
            p->copies);
}

static void tc__cuda_pred(tc__printer *p, const tc__node *n, uint32_t first) {
    for (uint32_t i = first; i + 1 < n->n_attr; i += 2) {
        tc__put(p->out, "%s(tc_u64)(", i > first ? " && " : "");
        tc__put_ix(p, n->attr[i]);
        tc__put(p->out, ") < (tc_u64)(");
        tc__put_ix(p, n->attr[i + 1]);
        tc__put(p->out, ")");
    }
}

static void tc__cuda_load_one(tc__printer *p, const tc__node *n, int copy) {
    int guarded = n->n_attr > TC__LOAD_FIXED;
    tc__put_let(p, n, copy);
    if (tc__cuda_is_turned(p->g, n) && p->turned) {
        tc__put(p->out, "%stile%u[x", tc__cuda_wrap(p, n, 0), n->id);
        if (p->copies > 1) tc__put(p->out, " + %d", copy);
        tc__put(p->out, "][i]%s;\n", tc__cuda_wrapped(p, n, 0));
        return;
    }
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
static void tc__cuda_put_wide(tc__printer *p, const tc__node *n) {
    tc__put(p->out, " = *(const ");
    tc__cuda_pack(p, n);
    tc__put(p->out, " *)&");
    tc__cuda_element(p, n);
    tc__put(p->out, ";\n");
}

// What the thread holds of a row: `row0` or `keep3`, the id of the first load. 0 = not held.
static int tc__cuda_put_held(tc__printer *p, const tc__node *n, int put) {
    if (!p->steps || !tc__cuda_is_memory(n)) return 0;
    int own = tc__cuda_is_own_row(p->g, n->attr[0]);
    int64_t first = tc__cuda_first_load(p->g, n);
    if (!own && first < 0) return 0;
    if (put && own) tc__put_buffer(p, n->attr[0]);
    if (put && !own) tc__put(p->out, "keep%lld", (long long)first);
    if (put) tc__put(p->out, "[step]");
    return 1;
}

// The first load of a held element.
static void tc__cuda_hold(tc__printer *p, const tc__node *n) {
    if (p->copies > 1 && tc__cuda_is_wide(p->g, n, p->copies)) {
        tc__line(p);
        tc__cuda_put_held(p, n, 1);
        tc__cuda_put_wide(p, n);
        return;
    }
    for (int i = 0; i < p->copies; i++) {
        p->shift = i;
        tc__line(p);
        tc__cuda_put_held(p, n, 1);
        tc__put(p->out, ".at[%d] = ", i);
        tc__cuda_element(p, n);
        tc__put(p->out, ";\n");
    }
    p->shift = 0;
}

static void tc__cuda_load_held(tc__printer *p, const tc__node *n) {
    if (tc__cuda_first_load(p->g, n) == (int64_t)n->id) tc__cuda_hold(p, n);
    for (int i = 0; i < p->copies; i++) {
        tc__put_let(p, n, i);
        tc__put(p->out, "%s", tc__cuda_wrap(p, n, 0));
        tc__cuda_put_held(p, n, 1);
        tc__put(p->out, ".at[%d]%s;\n", i, tc__cuda_wrapped(p, n, 0));
    }
}

static void tc__cuda_load(tc__printer *p, const tc__node *n, int copy) {
    int copies = tc__copies_of(p, n);
    (void)copy;
    if (tc__cuda_put_held(p, n, 0)) {
        tc__cuda_load_held(p, n);
        return;
    }
    if (copies > 1 && tc__cuda_is_wide_along(p->g, n, copies, p->axis)) {
        tc__line(p);
        tc__put(p->out, "const ");
        tc__cuda_pack(p, n);
        tc__put(p->out, " v%u", n->id);
        tc__cuda_put_wide(p, n);
        for (int i = 0; i < copies; i++) {
            tc__put_let(p, n, i);
            tc__put(p->out, "%sv%u.at[%d]%s;\n", tc__cuda_wrap(p, n, 0), n->id, i,
                    tc__cuda_wrapped(p, n, 0));
        }
        return;
    }
    for (int i = 0; i < copies; i++) {
        p->shift = i;
        tc__cuda_load_one(p, n, i);
    }
    p->shift = 0;
}

static void tc__cuda_store(tc__printer *p, const tc__node *n, int copy) {
    int copies = tc__copies_of(p, n);
    (void)copy;
    int held = tc__cuda_put_held(p, n, 0);
    if (held || (copies > 1 && tc__cuda_is_wide(p->g, n, copies))) {
        tc__line(p);
        if (!held) {
            tc__put(p->out, "*(");
            tc__cuda_pack(p, n);
            tc__put(p->out, " *)&");
            tc__cuda_element(p, n);
        }
        tc__cuda_put_held(p, n, 1);
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
        if (p->row_block && n->level == TC__AT_ROW) tc__put(p->out, "if (x == 0) ");
        tc__cuda_element(p, n);
        tc__put(p->out, " = %s", tc__cuda_wrap(p, n, 1));
        tc__put_value(p, n->in[0], i);
        tc__put(p->out, "%s;\n", tc__cuda_wrapped(p, n, 1));
    }
    p->shift = 0;
}

static void tc__cuda_index(tc__printer *p, const tc__node *n, int copy) {
    tc__put_let(p, n, copy);
    tc__put_ix(p, n->attr[0]);
    tc__put(p->out, ";\n");
}

static void tc__cuda_check(tc__printer *p, const tc__node *n, int copy) {
    tc__put_let(p, n, copy);
    tc__put(p->out, "tc_check(a.state, ");
    tc__put_value(p, n->in[0], copy);
    tc__put(p->out, ", ");
    tc__put_ix(p, n->attr[0]);
    tc__put(p->out, ", %lld);\n", (long long)n->attr[1]);
}

static void tc__cuda_valid(tc__printer *p, const tc__node *n, int copy) {
    tc__put_let(p, n, copy);
    if (!n->n_attr) tc__put(p->out, "1");
    tc__cuda_pred(p, n, 0);
    tc__put(p->out, ";\n");
}

// ---- reductions ----

static void tc__cuda_new(tc__printer *p, const tc__node *n, int copy) {
    const tc__acc *a = &p->acc[n->attr[0]];
    (void)copy;
    for (int j = 0; j < p->acc_copies; j++) {
        tc__line(p);
        tc__put(p->out, "%s ", p->d->reg[tc__class_of(a->dtype)]);
        tc__put_acc(p, n->attr[0]);
        tc__put(p->out, "_%d = ", j);
        tc__cuda_constant(p, a->dtype, tc__identity(a->monoid, a->dtype));
        tc__put(p->out, ";\n");
        if (!tc__is_arg(a)) continue;
        tc__line(p);
        tc__put(p->out, "tc_i64 at%lld_%d = 0x7fffffffffffffffll;\n", (long long)n->attr[0],
                j);
    }
}

static const char *tc__cuda_arg_name(const tc__acc *a) {
    return a->monoid == TC_OP_ARGMAX ? "max" : "min";
}

static void tc__cuda_step(tc__printer *p, const tc__node *n, int copy) {
    long long i = n->attr[1];
    const tc__acc *a = &p->acc[i];
    const char *cls = tc__suffix(a->dtype);
    (void)copy;
    for (int j = 0; j < p->acc_copies; j++) {
        tc__line(p);
        if (tc__is_arg(a)) {
            tc__put(p->out, "tc_keep_%s_%s(best%lld_%d, at%lld_%d, ", tc__cuda_arg_name(a),
                    cls, i, j, i, j);
            tc__put_value(p, n->in[0], j);
            tc__put(p->out, ", c + %d);\n", j);
            continue;
        }
        tc__put_acc(p, i);
        tc__put(p->out, "_%d = tc_acc_%s_%s(", j, tc__ops[a->monoid].name, cls);
        tc__put_acc(p, i);
        tc__put(p->out, "_%d, ", j);
        tc__put_value(p, n->in[0], j);
        tc__put(p->out, ");\n");
    }
}

static void tc__cuda_combine_arg(tc__printer *p, const tc__node *n, const tc__acc *a) {
    long long i = n->attr[0];
    const char *name = tc__cuda_arg_name(a), *cls = tc__suffix(a->dtype);
    for (int j = 1; j < p->acc_copies; j++) {
        tc__line(p);
        tc__put(p->out, "tc_keep_%s_%s(best%lld_0, at%lld_0, best%lld_%d, at%lld_%d);\n",
                name, cls, i, i, i, j, i, j);
    }
    if (p->row_block) {
        tc__line(p);
        tc__put(p->out, "tc_block_%s_%s<%d>(best%lld_0, at%lld_0);\n", name, cls,
                p->row_block / 32, i, i);
    }
    tc__put_let(p, n, 0);
    tc__put(p->out, "at%lld_0 == 0x7fffffffffffffffll ? 0 : at%lld_0;\n", i, i);
}

static void tc__cuda_combine(tc__printer *p, const tc__node *n, int copy) {
    const tc__acc *a = &p->acc[n->attr[0]];
    const char *cls = tc__suffix(a->dtype), *name = tc__ops[a->monoid].name;
    (void)copy;
    if (tc__is_arg(a)) {
        tc__cuda_combine_arg(p, n, a);
        return;
    }
    for (int j = 1; j < p->acc_copies; j++) {
        tc__line(p);
        tc__put_acc(p, n->attr[0]);
        tc__put(p->out, "_0 = tc_acc_%s_%s(", name, cls);
        tc__put_acc(p, n->attr[0]);
        tc__put(p->out, "_0, ");
        tc__put_acc(p, n->attr[0]);
        tc__put(p->out, "_%d);\n", j);
    }
    tc__put_let(p, n, 0);
    if (p->row_block) tc__put(p->out, "tc_block_%s_%s<%d>(", name, cls, p->row_block / 32);
    tc__put_acc(p, n->attr[0]);
    tc__put(p->out, p->row_block ? "_0);\n" : "_0;\n");
}

// The block's version of a step function: all threads get the result.
static void tc__cuda_block_text(tc__printer *p, const tc__acc *a) {
    const char *type = p->d->reg[tc__class_of(a->dtype)], *name = tc__ops[a->monoid].name;
    const char *cls = tc__suffix(a->dtype);
    if (tc__is_arg(a)) {
        const char *best = tc__cuda_arg_name(a);
        tc__put(
            p->out,
            "\nTC_FN void tc_keep_%s_%s(%s &b, tc_i64 &j, %s v, tc_i64 i) {\n"
            "    const int win = tc_win_%s_%s(v, b, i < j);\n    b = win ? v : b;\n    j "
            "= win ? i : j;\n}\n",
            best, cls, type, type, best, cls);
        tc__put(
            p->out,
            "\ntemplate <int W> TC_FN void tc_block_%s_%s(%s &v, tc_i64 &i) {\n"
            "    __shared__ %s value[W];\n    __shared__ tc_i64 index[W];\n"
            "    for (int o = 16; o; o /= 2) tc_keep_%s_%s(v, i, __shfl_down_sync(~0u, v, "
            "o),\n"
            "                                          __shfl_down_sync(~0u, i, o));\n",
            best, cls, type, type, best, cls);
        tc__put(
            p->out,
            "    if (W == 1) {\n        v = __shfl_sync(~0u, v, 0), i = __shfl_sync(~0u, i, "
            "0);\n        return;\n    }\n"
            "    __syncthreads();\n    if (threadIdx.x %% 32 == 0) value[threadIdx.x / "
            "32] = v, "
            "index[threadIdx.x / 32] = i;\n    __syncthreads();\n    v = value[0], i = "
            "index[0];\n"
            "    for (int w = 1; w < W; w++) tc_keep_%s_%s(v, i, value[w], index[w]);\n}\n",
            best, cls);
        return;
    }
    tc__put(
        p->out,
        "\ntemplate <int W> TC_FN %s tc_block_%s_%s(%s x) {\n    __shared__ %s part[W];\n"
        "    for (int o = 16; o; o /= 2) x = tc_acc_%s_%s(x, __shfl_down_sync(~0u, x, "
        "o));\n",
        type, name, cls, type, type, name, cls);
    tc__put(
        p->out,
        "    if (W == 1) return __shfl_sync(~0u, x, 0);\n    __syncthreads();\n"
        "    if (threadIdx.x %% 32 == 0) part[threadIdx.x / 32] = x;\n    "
        "__syncthreads();\n    x = part[0];\n"
        "    for (int w = 1; w < W; w++) x = tc_acc_%s_%s(x, part[w]);\n    return x;\n}\n",
        name, cls);
}

// ---- loops ----

static int tc__cuda_has(const tc__group *g, uint32_t begin, uint32_t end, tc__op op) {
    for (uint32_t id = begin; id < end; id++)
        if (g->body.node.at[id]->op == op) return 1;
    return 0;
}

// `for` over the columns up to e, and its bracket.
static void tc__cuda_loop_head(tc__printer *p, tc__ix e) {
    tc__line(p);
    if (p->row_block) {
        tc__put(p->out, "for (tc_i64 c = x");
        if (p->acc_copies > 1) tc__put(p->out, " * %d", p->acc_copies);
        tc__put(p->out, "; c < ");
        tc__put_ix(p, e);
        tc__put(p->out, "; c += %d)", p->row_block * p->acc_copies);
    } else {
        tc__put(p->out, "for (tc_i64 c = 0; c < ");
        tc__put_ix(p, e);
        tc__put(p->out, "; c++)");
    }
    tc__block_open(p);
}

// The same in steps of known number, so that what is held has constant places.
static void tc__cuda_steps_head(tc__printer *p, tc__ix e, const tc__text *body) {
    int whole = tc__ix_equals(e, (int64_t)p->steps * p->row_block * p->acc_copies);
    tc__line(p);
    tc__put(p->out, "#pragma unroll\n");
    tc__line(p);
    tc__put(p->out, "for (int step = 0; step < %d; step++)", p->steps);
    tc__block_open(p);
    if (whole && !tc__c_mentions(body, "c")) return;
    tc__line(p);
    tc__put(p->out,
            p->acc_copies > 1 ? "const tc_i64 c = (x + step * %d) * %d;\n"
                              : "const tc_i64 c = x + step * %d;\n",
            p->row_block, p->acc_copies);
    if (whole) return;
    tc__line(p);
    tc__put(p->out, "if (c >= ");
    tc__put_ix(p, e);
    tc__put(p->out, ") break;\n");
}

static void tc__cuda_columns(tc__printer *p, tc__ix e, uint32_t begin, uint32_t end) {
    tc__text body, *out = p->out;
    tc__text_init(&body, out->ctx);
    p->out = &body, p->indent++;
    p->copies = p->acc_copies;
    tc__print_range(p, begin, end);
    p->copies = 1;
    p->out = out, p->indent--;
    if (p->steps)
        tc__cuda_steps_head(p, e, &body);
    else
        tc__cuda_loop_head(p, e);
    tc__put_raw(out, body.at, body.size);
    tc__block_close(p);
    out->failed |= body.failed;
    tc__text_free(&body);
}

// Columns of a row: threads that share it in steps of V, or one thread in series.
static void tc__cuda_loop(tc__printer *p, const tc__node *n, uint32_t begin, uint32_t end) {
    if (n->attr[0] == TC__ROW) { // the kernel has placed the rows
        tc__print_range(p, begin, end);
        return;
    }
    if (!p->in_row) {
        tc__print_range(p, begin, end);
        return;
    }
    tc__cuda_columns(p, n->attr[5], begin, end);
    if (!p->row_block || !tc__cuda_has(p->g, begin, end, TC_OP_STORE)) return;
    if (p->steps && !tc__cuda_has_shared_row(p->g)) return;
    if (!tc__cuda_has(p->g, end, (uint32_t)p->g->body.node.count, TC_OP_LOAD)) return;
    tc__line(p);
    tc__put(p->out, "__syncthreads();\n"); // what was stored may be loaded by other threads
}

static void tc__cuda_let(tc__printer *p, const char *name, const char *lead, tc__ix e,
                         const char *tail) {
    tc__line(p);
    tc__put(p->out, "const tc_i64 %s = %s", name, lead);
    tc__put_atom(p, e, 0);
    tc__put(p->out, "%s;\n", tail);
}

// All but the operands of a product, which stand before the loops.
static void tc__cuda_all(tc__printer *p) {
    uint32_t first = p->g->kind == TC__CONTRACTION ? tc__contract_rows_loop(p) : 0;
    tc__print_range(p, first, (uint32_t)p->g->body.node.count);
}

static int tc__cuda_names_rows(const tc__group *g) {
    for (size_t id = 0; id < g->body.node.count; id++) {
        const tc__node *n = g->body.node.at[id];
        for (uint32_t i = 0; i < n->n_attr; i++)
            if (tc__attr_is_ix(n, i) && tc__ix_uses(g->body.ix, n->attr[i], TC__ROW))
                return 1;
    }
    return 0;
}

static void tc__cuda_flat(tc__printer *p, const tc__cuda_plan *q) {
    tc__ix columns = tc__ix_div(p->g->body.ix, p->g->cols, tc__ix_const(q->width));
    tc__line(p);
    tc__put(p->out, "for (tc_i64 i = (tc_i64)blockIdx.x * %d + threadIdx.x; i < ",
            q->threads);
    tc__put_ix(p, tc__ix_mul(p->g->body.ix, p->g->rows, columns));
    tc__put(p->out, "; i += (tc_i64)gridDim.x * %d)", q->threads);
    tc__block_open(p);
    if (tc__cuda_names_rows(p->g)) tc__cuda_let(p, "r", "i / ", columns, "");
    tc__line(p);
    tc__put(p->out, "const tc_i64 c = i");
    if (!tc__ix_equals(p->g->rows, 1)) {
        tc__put(p->out, " %% ");
        tc__put_atom(p, columns, 0);
    }
    tc__put(p->out, q->width > 1 ? " * %d;\n" : ";\n", q->width);
    p->copies = q->width;
    tc__cuda_all(p);
    tc__block_close(p);
}

// Registers for what the thread holds of a row.
static void tc__cuda_keeps(tc__printer *p, const tc__cuda_plan *q) {
    for (size_t i = 0; i < p->g->buffer.count; i++) {
        if (!tc__cuda_is_own_row(p->g, (int64_t)i)) continue;
        tc__line(p);
        tc__put(p->out, "tc_pack<%s, %d> ", tc__dtypes[p->g->buffer.at[i].dtype].memory,
                q->width);
        tc__put_buffer(p, (int64_t)i);
        tc__put(p->out, "[%d];\n", q->steps);
    }
    for (size_t i = 0; i < p->g->body.node.count; i++) {
        const tc__node *n = p->g->body.node.at[i];
        if (tc__cuda_first_load(p->g, n) != (int64_t)i) continue;
        tc__line(p);
        tc__put(p->out, "tc_pack<%s, %d> keep%u[%d];\n",
                tc__dtypes[p->g->buffer.at[n->attr[0]].dtype].memory, q->width, n->id,
                q->steps);
    }
}

static void tc__cuda_rows(tc__printer *p, const tc__cuda_plan *q) {
    int rows = q->threads / q->sharing;
    tc__line(p);
    tc__put(p->out,
            rows > 1 ? "const int x = threadIdx.x %% %d;\n"
                     : "const int x = threadIdx.x;\n",
            q->sharing);
    tc__line(p);
    tc__put(p->out, "for (tc_i64 r = ");
    if (rows > 1)
        tc__put(p->out, "(tc_i64)blockIdx.x * %d + threadIdx.x / %d; r < ", rows,
                q->sharing);
    else
        tc__put(p->out, "blockIdx.x; r < ");
    tc__put_ix(p, p->g->rows);
    tc__put(p->out, rows > 1 ? "; r += (tc_i64)gridDim.x * %d)" : "; r += gridDim.x)",
            rows);
    tc__block_open(p);
    p->row_block = q->sharing, p->acc_copies = q->width, p->in_row = 1;
    p->steps = q->steps;
    if (q->steps) tc__cuda_keeps(p, q);
    tc__cuda_all(p);
    if (rows == 1 &&
        (tc__cuda_has_shared_row(p->g) || (!q->steps && tc__cuda_held(p->g)))) {
        tc__line(p);
        tc__put(p->out, "__syncthreads();\n"); // before the next row
    }
    tc__block_close(p);
}

static void tc__cuda_lanes(tc__printer *p, const tc__cuda_plan *q) {
    tc__line(p);
    tc__put(p->out, "for (tc_i64 r = (tc_i64)blockIdx.x * %d + threadIdx.x; r < ",
            q->threads);
    tc__put_ix(p, p->g->rows);
    tc__put(p->out, "; r += (tc_i64)gridDim.x * %d)", q->threads);
    tc__block_open(p);
    p->acc_copies = 1, p->in_row = 1;
    tc__cuda_all(p);
    tc__block_close(p);
}

static void tc__cuda_inside(tc__printer *p) {
    tc__line(p);
    tc__put(p->out, "if (r < ");
    tc__put_ix(p, p->g->rows);
    tc__put(p->out, " && c < ");
    tc__put_ix(p, p->g->cols);
    tc__put(p->out, ")");
}

// Lines of a tile: a pass of the block covers 8 V of the 32.
static void tc__cuda_lines(tc__printer *p, int width) {
    tc__line(p);
    if (8 * width < TC__CUDA_TILE_SIZE) {
        tc__put(p->out, "for (int i = y; i < 32; i += %d)", 8 * width);
        tc__block_open(p);
        return;
    }
    tc__put(p->out, "{\n");
    p->indent++;
    tc__line(p);
    tc__put(p->out, "const int i = y;\n");
}

static void tc__cuda_fill_tile(tc__printer *p, const tc__node *n, int width) {
    if (width == 1) {
        tc__line(p);
        tc__put(p->out, "tile%u[i][x] = ", n->id);
        tc__cuda_element(p, n);
        tc__put(p->out, ";\n");
        return;
    }
    p->copies = width;
    tc__line(p);
    tc__put(p->out, "const ");
    tc__cuda_pack(p, n);
    tc__put(p->out, " v%u", n->id);
    tc__cuda_put_wide(p, n);
    p->copies = 1;
    for (int u = 0; u < width; u++) {
        tc__line(p);
        tc__put(p->out, "tile%u[i][x + %d] = v%u.at[%d];\n", n->id, u, n->id, u);
    }
}

// The tile of every turned load, read along the rows.
static void tc__cuda_fill_tiles(tc__printer *p, int width) {
    tc__cuda_lines(p, width);
    tc__line(p);
    tc__put(p->out, "const tc_i64 r = r0 + x, c = c0 + i;\n");
    tc__cuda_inside(p);
    tc__block_open(p);
    for (size_t id = 0; id < p->g->body.node.count; id++) {
        const tc__node *n = p->g->body.node.at[id];
        if (tc__cuda_is_turned(p->g, n)) tc__cuda_fill_tile(p, n, width);
    }
    tc__block_close(p);
    tc__block_close(p);
}

static void tc__cuda_tile_memory(tc__printer *p) {
    for (size_t id = 0; id < p->g->body.node.count; id++) {
        const tc__node *n = p->g->body.node.at[id];
        if (!tc__cuda_is_turned(p->g, n)) continue;
        tc__line(p);
        tc__put(p->out, "__shared__ %s tile%u[32][33];  // 33: no two rows in one bank\n",
                tc__dtypes[n->dtype].memory, n->id);
    }
}

static void tc__cuda_tile(tc__printer *p, const tc__cuda_plan *q) {
    tc__ix across =
        tc__ix_ceil_div(p->g->body.ix, p->g->cols, tc__ix_const(TC__CUDA_TILE_SIZE));
    tc__cuda_tile_memory(p);
    tc__line(p);
    tc__put(p->out, "const int x = threadIdx.x %% %d", TC__CUDA_TILE_SIZE / q->width);
    if (q->width > 1) tc__put(p->out, " * %d", q->width);
    tc__put(p->out, ", y = threadIdx.x / %d;\n", TC__CUDA_TILE_SIZE / q->width);
    tc__line(p);
    tc__put(p->out, "for (tc_i64 tile = blockIdx.x; tile < ");
    tc__put_ix(p, q->blocks);
    tc__put(p->out, "; tile += gridDim.x)");
    tc__block_open(p);
    tc__cuda_let(p, "r0", "tile / ", across, " * 32");
    tc__cuda_let(p, "c0", "tile % ", across, " * 32");
    tc__line(p);
    tc__put(p->out, "__syncthreads();\n");
    tc__cuda_fill_tiles(p, q->width);
    tc__line(p);
    tc__put(p->out, "__syncthreads();\n");
    tc__cuda_lines(p, q->width);
    tc__line(p);
    tc__put(p->out, "const tc_i64 r = r0 + i, c = c0 + x;\n");
    tc__cuda_inside(p);
    tc__block_open(p);
    p->turned = 1, p->copies = q->width;
    tc__cuda_all(p);
    p->turned = 0, p->copies = 1;
    tc__block_close(p);
    tc__block_close(p);
    tc__block_close(p);
}

static void tc__cuda_product(tc__printer *p, const tc__cuda_plan *q) {
    (void)q;
    tc__print_product(p);
}

// ---- the kernel: (buffers that are memory, in the group's order, then tc_kargs: see tc__grids) ----

static void tc__cuda_parameters(tc__printer *p) {
    for (size_t i = 0; i < p->g->buffer.count; i++) {
        const tc__kbuf *b = &p->g->buffer.at[i];
        if (b->place == TC__BUF_ROW || b->place == TC__BUF_TILE) continue;
        tc__put(p->out, "%s%s *__restrict__ ", b->written ? "" : "const ",
                tc__dtypes[b->dtype].memory);
        tc__put_buffer(p, (int64_t)i);
        tc__put(p->out, ", ");
    }
    int sizes = tc__cuda_sizes(p->g);
    tc__put(p->out, "const tc_kargs<%d> a", sizes ? sizes : 1);
}

// The scratch of a row that threads hold in registers.
static int tc__cuda_is_register(const tc__printer *p, int64_t b) {
    return p->steps && tc__cuda_is_own_row(p->g, b);
}

static void tc__cuda_names(tc__printer *p, const tc__text *body) {
    for (int64_t slot = 0; slot < 64; slot++) {
        char name[24];
        snprintf(name, sizeof name, "s%lld", (long long)slot);
        if (!tc__c_mentions(body, name)) continue;
        tc__line(p);
        tc__put(p->out, "const tc_i64 %s = a.size[%lld];\n", name, (long long)slot);
    }
    for (size_t i = 0; i < p->g->buffer.count; i++) {
        const tc__kbuf *b = &p->g->buffer.at[i];
        if (b->place != TC__BUF_ROW || tc__cuda_is_register(p, (int64_t)i)) continue;
        const char *type = tc__dtypes[b->dtype].memory;
        tc__line(p);
        if (p->axis == TC__ROW) { // of one thread
            tc__put(p->out, "%s ", type);
            tc__put_buffer(p, (int64_t)i);
            tc__put(p->out, "[");
            tc__put_ix(p, b->numel);
            tc__put(p->out, "];\n");
            continue;
        }
        tc__put(p->out, "%s *", type);
        tc__put_buffer(p, (int64_t)i);
        tc__put(p->out, " = (%s *)(shared + ", type);
        tc__put_ix(p, b->offset);
        tc__put(p->out, ");\n");
    }
    for (size_t id = 0; id < p->g->body.node.count; id++) {
        const tc__node *n = p->g->body.node.at[id];
        char name[24];
        int seen = n->op != TC_OP_ARG;
        for (size_t j = 0; j < id && !seen; j++)
            seen = p->g->body.node.at[j]->op == TC_OP_ARG &&
                   p->g->body.node.at[j]->attr[0] == n->attr[0];
        if (seen) continue;
        snprintf(name, sizeof name, "arg%lld", (long long)n->attr[0]);
        tc__line(p);
        tc__put(p->out, "const %s %s = (%s)a.arg(%lld).%s;\n",
                p->d->reg[tc__class_of(n->dtype)], name, p->d->reg[tc__class_of(n->dtype)],
                (long long)n->attr[0], tc__is_float(n->dtype) ? "f" : "i");
    }
}

static void tc__cuda_kernel(tc__printer *p, const char *symbol) {
    static void (*const forms[])(tc__printer *, const tc__cuda_plan *) = {
        tc__cuda_flat, tc__cuda_rows, tc__cuda_lanes, tc__cuda_tile, tc__cuda_product};
    tc__cuda_plan q = tc__cuda_plan_of(p->g);
    tc__text body, *out = p->out;
    tc__text_init(&body, out->ctx);
    p->out = &body, p->indent = 1, p->acc_copies = 1;
    p->axis = q.form == TC__CUDA_LANES ? TC__ROW : TC__COL;
    forms[q.form](p, &q);
    for (size_t i = 0; i < p->g->buffer.count && p->axis == TC__ROW; i++) {
        const tc__kbuf *b = &p->g->buffer.at[i];
        if (b->place != TC__BUF_ROW || tc__ix_is_const(b->numel)) continue;
        out->failed =
            !tc__fail(out->ctx, TC_E_UNSUPPORTED, "cuda: a row buffer of unknown size");
    }
    p->out = out, p->indent = 0;
    tc__put(out, "// %d threads in a block, ", q.threads);
    tc__put_ix(p, q.blocks);
    tc__put(out, " blocks have work\nextern \"C\" __global__ void __launch_bounds__(%d",
            q.threads);
    if (q.resident) tc__put(out, ", %d", q.resident);
    tc__put(out, ")\n%s(", symbol);
    tc__cuda_parameters(p);
    tc__put(out, ")");
    tc__block_open(p);
    if (!tc__ix_equals(q.shared, 0)) tc__put(out, "    extern __shared__ char shared[];\n");
    tc__cuda_names(p, &body);
    tc__put_raw(out, body.at, body.size);
    tc__block_close(p);
    out->failed |= body.failed;
    tc__text_free(&body);
}

static const tc__print_row tc__cuda_row_table[] = {
    {TC_OP_LOAD, TC__ONCE, tc__cuda_load}, // one access of 16 bytes, or each copy
    {TC_OP_STORE, TC__ONCE, tc__cuda_store},
    {TC_OP_INDEX, TC__PER_COPY, tc__cuda_index},
    {TC_OP_CHECK, TC__PER_COPY, tc__cuda_check},
    {TC_OP_VALID, TC__PER_COPY, tc__cuda_valid},
    {TC_OP_NEW, TC__ONCE, tc__cuda_new},
    {TC_OP_ACC, TC__ONCE, tc__cuda_step},
    {TC_OP_COMBINE, TC__ONCE, tc__cuda_combine},
    {TC_OP_CONTRACT, TC__ONCE, tc__cuda_contract},
    {TC_OP_COUNT, TC__ONCE, NULL},
};

static const tc__dialect tc__dialect_cuda = {
    "cuda",
    {"float", "double", "int", "tc_i64"},
    {"float", "double", "int", "tc_i64"},
    "tc_i64",
    1,
    1,
    tc__cuda_row_table,
    tc__cuda_kernel,
    tc__cuda_loop,
    tc__cuda_constant,
    tc__cuda_block_text,
    tc__cuda_grids,
    tc__print_cuda_opaque,
    tc__has_cuda_opaque,
};
