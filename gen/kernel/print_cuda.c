// CUDA dialect: the same LOOP lists for NVRTC, no includes. A value is a scalar of one
// thread; an unrolled thread keeps V copies, the elements of one 16-byte access. How the
// loops map is data, made from the list by tc__cuda_plan:
//
//   flat   pointwise: threads walk rows x columns / V in a grid stride
//   rows   a warp or a block for each row, threads walk its columns; sums by shuffles, then
//          shared. Where a thread has few columns they stay in its registers: the row is
//          read once. Longer rows, and rows of unknown length, are read in every phase
//   lanes  the vector runs along the rows: a thread for each row, columns in series
//   tile   pointwise with loads dense along the rows: 32 x 32 tiles turned in shared memory
//
// The order of a reduction here is its own: equal from run to run, not equal to the CPU's.

typedef enum tc__cuda_form {
    TC__CUDA_FLAT,
    TC__CUDA_ROWS,
    TC__CUDA_LANES,
    TC__CUDA_TILE
} tc__cuda_form;

enum {
    TC__CUDA_THREADS = 256,
    TC__CUDA_MOST = 1024,
    TC__CUDA_TILE_SIZE = 32,
    TC__CUDA_WARPS = 4,     // rows of a block with a warp for each row
    TC__CUDA_WARP_MOST = 8, // 16-byte accesses of a row by one thread of such a warp
    TC__CUDA_MANY = 4,      // and of a thread where a block shares a row
    TC__CUDA_HELD = 64      // elements that a thread holds in registers
};

// What a launch needs to know: threads of a block, and blocks that have work.
typedef struct tc__cuda_plan {
    tc__cuda_form form;
    int threads, width; // width: V
    int sharing;        // ROWS: threads that share a row
    int steps; // ROWS: accesses of a thread that cover its row, 0 = unknown or many
    tc__ix blocks;
} tc__cuda_plan;

static int tc__cuda_is_memory(const tc__node *n) {
    return n->op == TC_OP_LOAD || n->op == TC_OP_STORE;
}

// A load that a tile turns: dense along the rows and not along the columns.
static int tc__cuda_is_turned(const tc__group *g, const tc__node *n) {
    if (n->op != TC_OP_LOAD || n->n_attr > TC__LOAD_FIXED || n->level != TC__AT_COL)
        return 0;
    if (g->buffer.at[n->attr[0]].place == TC__BUF_ROW ||
        tc__ix_has_val(g->body.ix, n->attr[1]))
        return 0;
    tc__ixrun run = tc__ix_run(g->body.ix, n->attr[1], TC__ROW);
    return run.ok && run.run == INT64_MAX && tc__ix_equals(run.stride, 1) &&
           tc__access_along(g, n->attr[1], TC__COL, 1) == TC__PER_LANE;
}

// Whether V elements of the access that are adjacent along the axis are adjacent and aligned.
static int tc__cuda_is_wide_along(const tc__group *g, const tc__node *n, int width,
                                  tc__axis axis) {
    tc__ixpool *x = g->body.ix;
    tc__ix e = n->attr[1], v = tc__ix_find_var(x, e, axis);
    if (width == 1 || n->level != TC__AT_COL ||
        (n->op == TC_OP_LOAD && n->n_attr > TC__LOAD_FIXED))
        return 0;
    if (tc__access_along(g, e, axis, width) != TC__CONTIGUOUS) return 0;
    if (v) e = tc__ix_subst(x, e, v, tc__ix_mul(x, v, tc__ix_const(width)));
    return tc__ix_divisor(x, e) % width == 0;
}

static int tc__cuda_is_wide(const tc__group *g, const tc__node *n, int width) {
    return tc__cuda_is_wide_along(g, n, width, TC__COL);
}

// Elements of a 16-byte access of the widest dtype of the columns' loads and stores; 1 where
// columns do not divide into them.
static int tc__cuda_width(const tc__group *g) {
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
        wide |= tc__cuda_is_memory(n) && tc__cuda_is_wide(g, n, width);
    }
    return wide && tc__ix_divisor(g->body.ix, g->cols) % width == 0 ? width : 1;
}

// A tile is filled by 16-byte accesses if all its turned loads can be.
static int tc__cuda_tile_width(const tc__group *g) {
    int width = tc__cuda_width(g);
    if (tc__ix_divisor(g->body.ix, g->rows) % width) return 1;
    for (size_t i = 0; i < g->body.node.count; i++) {
        const tc__node *n = g->body.node.at[i];
        if (tc__cuda_is_turned(g, n) && !tc__cuda_is_wide_along(g, n, width, TC__ROW))
            return 1;
    }
    return width;
}

// ---- columns held in registers ----

// Buffer b is the scratch of a row whose every access is at the thread's own column.
static int tc__cuda_is_own_row(const tc__group *g, int64_t b) {
    if (g->buffer.at[b].place != TC__BUF_ROW) return 0;
    for (size_t i = 0; i < g->body.node.count; i++) {
        const tc__node *n = g->body.node.at[i];
        if (!tc__cuda_is_memory(n) || n->attr[0] != b) continue;
        if (n->level != TC__AT_COL || n->n_attr > TC__LOAD_FIXED ||
            n->attr[1] != tc__ix_var(g->body.ix, TC__COL, g->cols))
            return 0;
    }
    return 1;
}

static int tc__cuda_same_load(const tc__node *n, const tc__node *m) {
    return m->op == TC_OP_LOAD && m->attr[0] == n->attr[0] && m->attr[1] == n->attr[1] &&
           m->n_attr == TC__LOAD_FIXED && m->level == TC__AT_COL;
}

// The first load of what n loads, if n or a later phase loads it again and nothing writes it
// in between: its id, else -1.
static int64_t tc__cuda_first_load(const tc__group *g, const tc__node *n) {
    int64_t first = -1;
    int count = 0;
    if (n->op != TC_OP_LOAD || n->n_attr > TC__LOAD_FIXED || n->level != TC__AT_COL)
        return -1;
    if (g->buffer.at[n->attr[0]].written || g->buffer.at[n->attr[0]].place == TC__BUF_ROW)
        return -1;
    for (size_t i = 0; i < g->body.node.count; i++) {
        if (!tc__cuda_same_load(n, g->body.node.at[i])) continue;
        if (first < 0) first = (int64_t)i;
        count++;
    }
    return count > 1 ? first : -1;
}

// Elements of each column that stay in registers: own rows, and loads of several phases.
static int tc__cuda_held(const tc__group *g) {
    int held = 0;
    for (size_t i = 0; i < g->buffer.count; i++) held += tc__cuda_is_own_row(g, (int64_t)i);
    for (size_t i = 0; i < g->body.node.count; i++)
        held += tc__cuda_first_load(g, g->body.node.at[i]) == (int64_t)i;
    return held;
}

static int tc__cuda_has_shared_row(const tc__group *g) {
    for (size_t i = 0; i < g->buffer.count; i++)
        if (g->buffer.at[i].place == TC__BUF_ROW && !tc__cuda_is_own_row(g, (int64_t)i))
            return 1;
    return 0;
}

// Threads for rows of a known length: a warp as long as it can hold the row.
static void tc__cuda_share(const tc__group *g, tc__cuda_plan *q, int64_t accesses) {
    int warp = accesses <= 32 * TC__CUDA_WARP_MOST && !tc__cuda_has_shared_row(g);
    int64_t threads = warp ? 32 : tc__padded((accesses - 1) / TC__CUDA_MANY + 1, 32);
    if (threads > TC__CUDA_MOST) threads = TC__CUDA_MOST;
    q->sharing = (int)threads;
    q->threads = warp ? 32 * TC__CUDA_WARPS : (int)threads;
    int64_t steps = (accesses - 1) / threads + 1, held = tc__cuda_held(g);
    if (held && held * steps * q->width <= TC__CUDA_HELD) q->steps = (int)steps;
}

static tc__ix tc__cuda_blocks(const tc__group *g, const tc__cuda_plan *q) {
    tc__ixpool *x = g->body.ix;
    tc__ix columns = tc__ix_ceil_div(x, g->cols, tc__ix_const(q->width)),
           threads = tc__ix_const(q->threads), tile = tc__ix_const(TC__CUDA_TILE_SIZE);
    if (q->form == TC__CUDA_FLAT)
        return tc__ix_ceil_div(x, tc__ix_mul(x, g->rows, columns), threads);
    if (q->form == TC__CUDA_LANES) return tc__ix_ceil_div(x, g->rows, threads);
    if (q->form == TC__CUDA_ROWS)
        return tc__ix_ceil_div(x, g->rows, tc__ix_const(q->threads / q->sharing));
    return tc__ix_mul(x, tc__ix_ceil_div(x, g->rows, tile),
                      tc__ix_ceil_div(x, g->cols, tile));
}

static tc__cuda_plan tc__cuda_plan_of(const tc__group *g) {
    tc__cuda_plan q;
    int turned = 0;
    for (size_t i = 0; i < g->body.node.count; i++)
        turned |= tc__cuda_is_turned(g, g->body.node.at[i]);
    q.form = g->kind == TC__POINTWISE ? (turned ? TC__CUDA_TILE : TC__CUDA_FLAT)
             : g->vector == TC__ROW   ? TC__CUDA_LANES
                                      : TC__CUDA_ROWS;
    q.width = q.form == TC__CUDA_LANES  ? 1
              : q.form == TC__CUDA_TILE ? tc__cuda_tile_width(g)
                                        : tc__cuda_width(g);
    q.threads = q.sharing = TC__CUDA_THREADS, q.steps = 0;
    tc__ix accesses = tc__ix_ceil_div(g->body.ix, g->cols, tc__ix_const(q.width));
    if (q.form == TC__CUDA_ROWS && tc__ix_is_const(accesses) && tc__ix_value(accesses) > 0)
        tc__cuda_share(g, &q, tc__ix_value(accesses));
    q.blocks = tc__cuda_blocks(g, &q);
    return q;
}

// ---- values ----

static void tc__cuda_constant(tc__printer *p, int dtype, tc__value v) {
    if (tc__is_float(dtype)) {
        tc__put_hexfloat(p->out, v.f, dtype == TC_F32);
        return;
    }
    if (v.i == INT64_MIN)
        tc__put(p->out, "(-0x7fffffffffffffffll - 1)");
    else if (dtype == TC_I32 && v.i == INT32_MIN)
        tc__put(p->out, "(-0x7fffffff - 1)");
    else
        tc__put(p->out, dtype == TC_I64 ? "%lldll" : "%lld", (long long)v.i);
}

static void tc__cuda_element(tc__printer *p, const tc__node *n) {
    tc__put_buffer(p, n->attr[0]);
    tc__put(p->out, "[");
    tc__put_ix(p, n->attr[1]);
    tc__put(p->out, "]");
}

// `tc_pack<float, 4>`
static void tc__cuda_pack(tc__printer *p, const tc__node *n) {
    tc__put(p->out, "tc_pack<%s, %d>", p->d->memory[p->g->buffer.at[n->attr[0]].dtype],
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
        tc__put(p->out, p->copies > 1 ? "tile%u[x + %d][i];\n" : "tile%u[x][i];\n", n->id,
                copy);
        return;
    }
    if (guarded) {
        tc__cuda_pred(p, n, TC__LOAD_FIXED);
        tc__put(p->out, " ? ");
    }
    tc__cuda_element(p, n);
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
        tc__cuda_put_held(p, n, 1);
        tc__put(p->out, ".at[%d];\n", i);
    }
}

static void tc__cuda_load(tc__printer *p, const tc__node *n, int copy) {
    int copies = tc__copies_of(p, n);
    (void)copy;
    if (tc__cuda_put_held(p, n, 0)) {
        tc__cuda_load_held(p, n);
        return;
    }
    if (copies > 1 && tc__cuda_is_wide(p->g, n, copies)) {
        tc__line(p);
        tc__put(p->out, "const ");
        tc__cuda_pack(p, n);
        tc__put(p->out, " v%u", n->id);
        tc__cuda_put_wide(p, n);
        for (int i = 0; i < copies; i++) {
            tc__put_let(p, n, i);
            tc__put(p->out, "v%u.at[%d];\n", n->id, i);
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
            tc__put(p->out, i ? ", " : "");
            tc__put_value(p, n->in[0], i);
        }
        tc__put(p->out, "};\n");
        return;
    }
    for (int i = 0; i < copies; i++) {
        p->shift = i;
        tc__line(p);
        if (p->row_block && n->level == TC__AT_ROW) tc__put(p->out, "if (x == 0) ");
        tc__cuda_element(p, n);
        tc__put(p->out, " = ");
        tc__put_value(p, n->in[0], i);
        tc__put(p->out, ";\n");
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
    tc__put(p->out, "tc_check(a, ");
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
    const char *cls = a->dtype == TC_U8 && !tc__is_arg(a) ? "u8" : tc__suffix(a->dtype);
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
    const char *cls = a->dtype == TC_U8 ? "u8" : tc__suffix(a->dtype),
               *name = tc__ops[a->monoid].name;
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
    const char *cls = a->dtype == TC_U8 && !tc__is_arg(a) ? "u8" : tc__suffix(a->dtype);
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

static void tc__cuda_all(tc__printer *p) {
    tc__print_range(p, 0, (uint32_t)p->g->body.node.count);
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
        tc__put(p->out, "tc_pack<%s, %d> ", p->d->memory[p->g->buffer.at[i].dtype],
                q->width);
        tc__put_buffer(p, (int64_t)i);
        tc__put(p->out, "[%d];\n", q->steps);
    }
    for (size_t i = 0; i < p->g->body.node.count; i++) {
        const tc__node *n = p->g->body.node.at[i];
        if (tc__cuda_first_load(p->g, n) != (int64_t)i) continue;
        tc__line(p);
        tc__put(p->out, "tc_pack<%s, %d> keep%u[%d];\n",
                p->d->memory[p->g->buffer.at[n->attr[0]].dtype], q->width, n->id, q->steps);
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
                p->d->memory[n->dtype], n->id);
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

// ---- the kernel: (buffers that are memory, in the group's order, then tc_kargs) ----

static void tc__cuda_parameters(tc__printer *p) {
    for (size_t i = 0; i < p->g->buffer.count; i++) {
        const tc__kbuf *b = &p->g->buffer.at[i];
        if (b->place == TC__BUF_ROW || b->place == TC__BUF_TILE) continue;
        tc__put(p->out, "%s%s *", b->written ? "" : "const ", p->d->memory[b->dtype]);
        tc__put_buffer(p, (int64_t)i);
        tc__put(p->out, ", ");
    }
    tc__put(p->out, "const tc_kargs a");
}

// The scratch of a row that threads hold in registers.
static int tc__cuda_is_register(const tc__printer *p, int64_t b) {
    return p->steps && tc__cuda_is_own_row(p->g, b);
}

static int tc__cuda_has_shared(const tc__printer *p) {
    for (size_t i = 0; i < p->g->buffer.count && p->axis == TC__COL; i++)
        if (p->g->buffer.at[i].place == TC__BUF_ROW && !tc__cuda_is_register(p, (int64_t)i))
            return 1;
    return 0;
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
        const char *type = p->d->memory[b->dtype];
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
        tc__put(p->out, "const %s %s = (%s)a.arg[%lld].%s;\n",
                p->d->reg[tc__class_of(n->dtype)], name, p->d->reg[tc__class_of(n->dtype)],
                (long long)n->attr[0], tc__is_float(n->dtype) ? "f" : "i");
    }
}

static void tc__cuda_kernel(tc__printer *p, const char *symbol) {
    static void (*const forms[])(tc__printer *, const tc__cuda_plan *) = {
        tc__cuda_flat, tc__cuda_rows, tc__cuda_lanes, tc__cuda_tile};
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
    tc__put(out,
            " blocks have work\nextern \"C\" __global__ void __launch_bounds__(%d)\n%s(",
            q.threads, symbol);
    tc__cuda_parameters(p);
    tc__put(out, ")");
    tc__block_open(p);
    if (tc__cuda_has_shared(p)) tc__put(out, "    extern __shared__ char shared[];\n");
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
    {TC_OP_COUNT, TC__ONCE, NULL},
};

static const tc__dialect tc__dialect_cuda = {
    "cuda",
    {"float", "double", "int", "tc_i64"},
    {"float", "double", "int", "tc_i64"},
    {"tc_u8", "tc_u8", "int", "tc_i64", "float", "double"},
    "tc_i64",
    1,
    1,
    tc__cuda_row_table,
    tc__cuda_kernel,
    tc__cuda_loop,
    tc__cuda_constant,
    tc__cuda_block_text,
};

// ---- the head of a file ----

static const char *const tc__text_cuda[] = {
    "#define TC_FN static __device__ __forceinline__",
    "#define TC_N(name) tc_##name",
    "typedef unsigned char tc_u8;",
    "typedef long long tc_i64;",
    "typedef unsigned long long tc_u64;",
    "",
    "union tc_scalar {",
    "    double f;",
    "    tc_i64 i;",
    "};",
    "",
    "struct tc_kargs {",
    "    const tc_i64 *size;    // run-time sizes",
    "    const tc_scalar *arg;  // run-time scalars",
    "    tc_i64 *flag;          // an index out of range: site + 1, value, limit",
    "    tc_u64 seed, draw;     // of the random numbers",
    "};",
    "",
    "template <class T, int V> struct __align__(sizeof(T) * V) tc_pack {",
    "    T at[V];",
    "};",
    "",
    "// fn: floor_div",
    "TC_FN tc_i64 TC_N(floor_div)(tc_i64 a, tc_i64 b) { return a / b - (a % b < 0); }",
    "",
    "// fn: floor_mod",
    "TC_FN tc_i64 TC_N(floor_mod)(tc_i64 a, tc_i64 b) { return a % b < 0 ? a % b + b : a "
    "% b; }",
    "",
    "// fn: min",
    "TC_FN tc_i64 TC_N(min)(tc_i64 a, tc_i64 b) { return a < b ? a : b; }",
    "",
    "// fn: check",
    "// Index v made safe: negative ones count from the end, others are clamped and "
    "flagged.",
    "TC_FN tc_i64 TC_N(check)(const tc_kargs &a, tc_i64 v, tc_i64 limit, tc_i64 site) {",
    "    const tc_i64 w = v < 0 ? (tc_i64)((tc_u64)v + (tc_u64)limit) : v;",
    "    if ((tc_u64)w < (tc_u64)limit) return w;",
    "    a.flag[1] = v;",
    "    a.flag[2] = limit;",
    "    a.flag[0] = site + 1;",
    "    return w < 0 || limit <= 0 ? 0 : limit - 1;",
    "}",
    "",
};

// Macros of ops.def for each class: T the type, U the unsigned type that arithmetic wraps
// in.
static const char *const tc__text_cuda_class[] = {
    "#define TC_ADD_@(a, b) ((T)((U)(a) + (U)(b)))",
    "#define TC_SUB_@(a, b) ((T)((U)(a) - (U)(b)))",
    "#define TC_MUL_@(a, b) ((T)((U)(a) * (U)(b)))",
    "#define TC_NEG_@(a) ((T)((U)0 - (U)(a)))",
    "#define TC_SEL_@(m, a, b) ((m) ? (a) : (b))",
    "#define TC_LT_@(a, b) ((a) < (b))",
    "#define TC_LE_@(a, b) ((a) <= (b))",
    "#define TC_GT_@(a, b) ((a) > (b))",
    "#define TC_GE_@(a, b) ((a) >= (b))",
    "#define TC_EQ_@(a, b) ((a) == (b))",
    "#define TC_NE_@(a, b) ((a) != (b))",
    "#define TC_M_@(b) (b)",
    "#define TC_B_@(m) (m)",
};

// Functions of float and double: the name in ops.def and its body over x, y; # is the
// suffix of the CUDA function (f or nothing), @ the class.
static const char *const tc__cuda_functions[][2] = {
    {"exp", "exp#(x)"},
    {"exp2", "exp2#(x)"},
    {"expm1", "expm1#(x)"},
    {"log", "log#(x)"},
    {"log2", "log2#(x)"},
    {"log10", "log10#(x)"},
    {"log1p", "log1p#(x)"},
    {"sin", "sin#(x)"},
    {"cos", "cos#(x)"},
    {"tan", "tan#(x)"},
    {"asin", "asin#(x)"},
    {"acos", "acos#(x)"},
    {"atan", "atan#(x)"},
    {"sinh", "sinh#(x)"},
    {"cosh", "cosh#(x)"},
    {"tanh", "tanh#(x)"},
    {"erf", "erf#(x)"},
    {"floor", "floor#(x)"},
    {"ceil", "ceil#(x)"},
    {"trunc", "trunc#(x)"},
    {"round", "rint#(x)"},
    {"abs", "fabs#(x)"},
    {"sqrt", "sqrt#(x)"},
    {"rsqrt", "(T)1 / sqrt#(x)"},
    {"sign", "x > 0 ? (T)1 : x < 0 ? (T)-1 : x"},
    {"sigmoid", "(T)1 / ((T)1 + exp#(-x))"},
    {"silu", "x / ((T)1 + exp#(-x))"},
    {"gelu", "x * (T)0.5 * erfc#(x * (T)-0.70710678118654752)"},
    {"gelu_tanh",
     "x * (T)0.5 * ((T)1 + tanh#((T)0.79788456080286536 * (x + (T)0.044715 * x * x * x)))"},
    {"softplus", "fmax#(x, (T)0) + log1p#(exp#(-fabs#(x)))"},
    {"pow", "pow#(x, y)"},
    {"atan2", "atan2#(x, y)"},
    {"fmod", "fmod#(x, y)"},
    {"remainder", "tc_wrap_@(fmod#(x, y), y)"},
    {"floor_divide", "floor#((x - tc_wrap_@(fmod#(x, y), y)) / y + (T)0.5)"},
    {"wrap", "x != 0 && (x < 0) != (y < 0) ? x + y : x"},
    {"fma", "fma#(x, y, z)"}};

// Conversions saturate and take NaN to 0 already, but for 64 bits and bytes.
static const char *tc__cuda_cast(int from, int to) {
    if (to == TC_BOOL) return "x != 0";
    if (to == TC_U8 && tc__is_float(from)) return "x > 0 ? x < 255 ? (int)x : 255 : 0";
    if (to == TC_U8) return "(int)(x & 255)";
    if (to == TC_I64 && tc__is_float(from)) return "x != x ? 0 : (tc_i64)x";
    return "(T)x";
}

static void tc__put_pattern(tc__text *out, const char *s, const char *cls,
                            const char *suffix) {
    for (; *s; s++) {
        if (*s == '@')
            tc__put(out, "%s", cls);
        else if (*s == '#')
            tc__put(out, "%s", suffix);
        else
            tc__put_raw(out, s, 1);
    }
}

// Replaces T and U by types: done by typedefs around each function, for short text.
static void tc__cuda_function(tc__text *out, const char *name, const char *body,
                              const char *cls, const char *type, const char *argument,
                              const char *suffix) {
    int three = strstr(body, "z)") != NULL,
        two = three || strstr(body, "y)") || strstr(body, "y <");
    tc__put(out, "TC_FN %s tc_%s(%s x", type, name, argument);
    if (two) tc__put(out, ", %s y", type);
    if (three) tc__put(out, ", %s z", type);
    tc__put(out, ") {\n    typedef %s T;\n    return (T)(", type);
    tc__put_pattern(out, body, cls, suffix);
    tc__put(out, ");\n}\n\n");
}

static int tc__uses_word(const tc__text *kernels, const char *name) {
    char word[64];
    snprintf(word, sizeof word, "tc_%s", name);
    return tc__c_mentions(kernels, word);
}

// Appends the macros among `lines` that kernels or functions use.
static void tc__cuda_put_used(tc__text *out, const char *lines, const tc__text *kernels,
                              const tc__text *functions) {
    const char *s = lines, *end;
    char name[64];
    for (; (end = strchr(s, '\n')) != NULL; s = end + 1) {
        const char *word = s + strlen("#define ");
        snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "("), word);
        if (tc__c_mentions(kernels, name) || tc__c_mentions(functions, name))
            tc__put_raw(out, s, (size_t)(end - s) + 1);
    }
}

static void tc__cuda_macros(tc__text *out) {
    static const char *const types[TC__CLASSES][2] = {{"float", "float"},
                                                      {"double", "double"},
                                                      {"int", "unsigned"},
                                                      {"tc_i64", "tc_u64"}};
    for (int cls = 0; cls < TC__CLASSES; cls++) {
        for (size_t i = 0; i < TC__COUNT(tc__text_cuda_class); i++) {
            for (const char *s = tc__text_cuda_class[i]; *s; s++) {
                if (*s == '@')
                    tc__put(out, "%s", tc__class_names[cls]);
                else if (s[0] == '(' && (s[1] == 'T' || s[1] == 'U') && s[2] == ')') {
                    tc__put(out, "(%s)", types[cls][s[1] == 'U']);
                    s += 2;
                } else
                    tc__put_raw(out, s, 1);
            }
            tc__put(out, "\n");
        }
    }
    tc__put(out,
            "#define TC_NOT(m) (!(m))\n#define TC_SQRT_f32(x) sqrtf(x)\n#define "
            "TC_SQRT_f64(x) sqrt(x)\n"
            "#define TC_FMA_f32(a, b, c) fmaf(a, b, c)\n#define TC_FMA_f64(a, b, c) ((a) * "
            "(b) + (c))\n");
}

static void tc__cuda_math(tc__text *out, const tc__text *kernels) {
    char name[64];
    for (int wide = 0; wide < 2; wide++) {
        const char *cls = wide ? "f64" : "f32", *type = wide ? "double" : "float";
        for (size_t i = TC__COUNT(tc__cuda_functions); i-- > 0;) {
            snprintf(name, sizeof name, "%s_%s", tc__cuda_functions[i][0], cls);
            int wrap = !strcmp(tc__cuda_functions[i][0], "wrap");
            snprintf(name, sizeof name, "%s_%s",
                     wrap ? "remainder" : tc__cuda_functions[i][0], cls);
            int used = tc__uses_word(kernels, name);
            snprintf(name, sizeof name, "floor_divide_%s", cls);
            used |= wrap && tc__uses_word(kernels, name);
            snprintf(name, sizeof name, "%s_%s", tc__cuda_functions[i][0], cls);
            if (used)
                tc__cuda_function(out, name, tc__cuda_functions[i][1], cls, type, type,
                                  wide ? "" : "f");
        }
    }
    for (int from = 0; from < TC_DTYPE_COUNT; from++) {
        for (int to = 0; to < TC_DTYPE_COUNT; to++) {
            snprintf(name, sizeof name, "cast_%s_%s", tc__dtypes[from].name,
                     tc__dtypes[to].name);
            if (tc__uses_word(kernels, name))
                tc__cuda_function(out, name, tc__cuda_cast(from, to), "",
                                  tc__dialect_cuda.reg[tc__class_of(to)],
                                  tc__dialect_cuda.reg[tc__class_of(from)], "");
        }
    }
}

// Appends the head of a CUDA file that holds the kernels of `groups`. 1, or 0 = reported.
TC__UNUSED static int tc__print_cuda_prelude(tc__text *out, const tc__group *const *groups,
                                             int count) {
    static const tc__prelude_text texts[] = {
        {tc__text_cuda, (uint32_t)TC__COUNT(tc__text_cuda)}};
    tc__prelude q;
    tc__text kernels, functions, macros;
    tc__text_init(&kernels, out->ctx);
    tc__text_init(&functions, out->ctx);
    tc__text_init(&macros, out->ctx);
    tc__prelude_open(&q, out->ctx, texts, 1);
    int ok = tc__prelude_mark(&q, &tc__dialect_cuda, groups, count);
    for (int i = 0; i < count && ok; i++)
        ok = tc__print_kernel(&kernels, groups[i], &tc__dialect_cuda, "kernel");
    tc__put(
        out,
        "// Kernels made by tcompile, for NVRTC: --gpu-architecture=sm_90a -fmad=false\n");
    if (ok) tc__put_sections(out, &q);
    tc__cuda_math(&functions, &kernels);
    ok = ok && tc__put_monoids(&functions, &tc__dialect_cuda, groups, count);
    tc__cuda_macros(&macros);
    ok = ok && !kernels.failed && !functions.failed && !macros.failed;
    if (ok) tc__cuda_put_used(out, macros.at, &kernels, &functions);
    if (ok && functions.size) tc__put(out, "\n");
    if (ok) tc__put_raw(out, functions.at, functions.size);
    tc__prelude_close(&q);
    tc__text_free(&kernels);
    tc__text_free(&functions);
    tc__text_free(&macros);
    return ok && !out->failed;
}
