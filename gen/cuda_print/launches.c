// CUDA dialect, launches of lists: what stands before the statements (loops.c) of one. Input: a LAUNCH. Output: its variables,
// which are parts of blockIdx and threadIdx, and what the compiler may assume of them, its shared memory, then its statements.

// Whether a loop is over what `bind` tells: blocks, or the threads of one.
static int tc__cuda_is_over(const tc__node *n, int blocks) {
    if (n->op != TC_OP_FOR) return 0;
    int64_t bind = n->attr[TC__FOR_BIND];
    return blocks ? bind == TC__BIND_GRID : bind == TC__BIND_BLOCK || bind == TC__BIND_LANE;
}

// The extents of the loops in [begin, end), of those over what `blocks` tells.
static tc__ix tc__cuda_extents(const tc__printer *p, uint32_t begin, uint32_t end,
                               int blocks) {
    tc__ix all = tc__ix_const(1);
    for (uint32_t id = begin; id < end; id++)
        if (tc__cuda_is_over(tc__body(p, id), blocks))
            all = tc__ix_mul(p->g->body.ix, all, tc__body(p, id)->attr[TC__FOR_END]);
    return all;
}

// `__builtin_assume(x < 256);`: the compiler does not know it of threadIdx.x.
static void tc__cuda_assume(tc__printer *p, uint32_t begin, uint32_t end, uint32_t last) {
    for (uint32_t id = begin; id < end; id++) {
        const tc__node *n = tc__body(p, id);
        if (!tc__cuda_is_over(n, 0)) continue;
        if (!tc__cuda_is_named(p, (tc__axis)n->attr[TC__FOR_AXIS], end, last)) return;
        tc__line(p);
        tc__put(p->out, "__builtin_assume(%s < %lld);\n",
                tc__axis_name(n->attr[TC__FOR_AXIS]),
                (long long)tc__ix_value(n->attr[TC__FOR_END]));
        return; // of others it sees the remainder
    }
}

// `const int j = blockIdx.x / 64, i = blockIdx.x % 64;` of the loops in [begin, end), row-major, that are named
// in what is inside of them, to `last`.
static void tc__cuda_loop_variables(tc__printer *p, uint32_t begin, uint32_t end,
                                    uint32_t last, int blocks) {
    int first = 1;
    for (uint32_t id = begin; id < end; id++) {
        const tc__node *n = tc__body(p, id);
        if (!tc__cuda_is_over(n, blocks) ||
            !tc__cuda_is_named(p, (tc__axis)n->attr[TC__FOR_AXIS], end, last))
            continue;
        tc__ix behind = tc__cuda_extents(p, id + 1, end, blocks);
        int outermost = tc__ix_equals(tc__cuda_extents(p, begin, id, blocks), 1);
        if (first) tc__line(p);
        if (first) tc__put(p->out, "const %s", blocks ? tc__cuda_index_type(p) : "int");
        tc__put(p->out, "%s %s = %s", first ? "" : ",",
                tc__axis_name(n->attr[TC__FOR_AXIS]),
                !blocks            ? "threadIdx.x"
                : p->g->shape.list ? tc__cuda_list_block
                                   : "blockIdx.x");
        if (!tc__ix_equals(behind, 1)) {
            tc__put(p->out, " / ");
            tc__put_atom(p, behind, 0);
        }
        if (!outermost) {
            tc__put(p->out, " %% ");
            tc__put_atom(p, n->attr[TC__FOR_END], 0);
        }
        first = 0;
    }
    if (!first) tc__put(p->out, ";\n");
    if (!blocks) tc__cuda_assume(p, begin, end, last);
}

// `float *const shared0 = (float *)(shared + 64);` of what is asked for at the launch.
static void tc__cuda_dynamic(tc__printer *p, size_t i) {
    const char *type = tc__dtypes[p->g->buffer.at[i].dtype].memory;
    tc__line(p);
    tc__put(p->out, "%s *const ", type);
    tc__put_buffer(p, (int64_t)i);
    tc__put(p->out, " = (%s *)(shared + ", type);
    tc__put_ix(p, tc__device_shared_at(p->g, i));
    tc__put(p->out, ");\n");
}

// `float *const work0 = (float *)(work + 4096);`
static void tc__cuda_work_name(tc__printer *p, size_t i) {
    const tc__kbuf *b = &p->g->buffer.at[i];
    const char *type =
        b->place == TC__BUF_TICKET ? "unsigned" : tc__dtypes[b->dtype].memory;
    tc__line(p);
    tc__put(p->out, "%s *const ", type);
    tc__put_buffer(p, (int64_t)i);
    tc__put(p->out, " = (%s *)(work + ", type);
    tc__put_atom(p, tc__device_work_at(p->g, i), 0);
    tc__put(p->out, ");\n");
}

// Whether the launch's nodes [begin, end) name buffer b.
static int tc__cuda_names_buffer(const tc__printer *p, int64_t b, uint32_t begin,
                                 uint32_t end) {
    for (uint32_t id = begin; id < end; id++) {
        const tc__node *n = tc__body(p, id);
        if ((tc__device_is_memory(n) || n->op == TC_OP_COPY || n->op == TC_OP_LAST ||
             n->op == TC_OP_PUT || n->op == TC_OP_GET || n->op == TC_OP_BEGUN) &&
            n->attr[TC__ACCESS_BUFFER] == b)
            return 1;
        if ((n->op == TC_OP_PUT || n->op == TC_OP_GET) && n->n_attr > TC__PUT_PLACES &&
            n->attr[TC__PUT_PLACES] == b)
            return 1;
        if (n->op == TC_OP_COPY && n->attr[TC__COPY_FROM] == b) return 1;
        if (n->op == TC_OP_MEET && n->attr[TC__MEET_OWN] == b) return 1;
        for (int k = TC__TEMPLATE_SHARED; k <= (int)TC__TEMPLATE_SUMS; k++)
            if (n->op == TC_OP_TEMPLATE && n->attr[k] == b) return 1;
    }
    return 0;
}

// `__shared__ float shared0[1056];` and `float held0[4];` of what nodes [begin, end) name.
static void tc__cuda_own_memory(tc__printer *p, uint32_t begin, uint32_t end) {
    int dynamic = tc__device_is_dynamic(p->g);
    tc__cuda_choose_kept(p, begin, end);
    for (size_t i = 0; i < p->g->buffer.count; i++) {
        const tc__kbuf *b = &p->g->buffer.at[i];
        int kept = tc__cuda_is_kept(p, (int64_t)i);
        int shared = b->place == TC__BUF_SHARED;
        if (!tc__cuda_names_buffer(p, (int64_t)i, begin, end)) continue;
        if (b->place == TC__BUF_TICKET || b->place == TC__BUF_WORK)
            tc__cuda_work_name(p, i);
        if (shared && dynamic) tc__cuda_dynamic(p, i);
        if (!shared && b->place != TC__BUF_REGISTER && b->place != TC__BUF_LOCAL) continue;
        if (shared && dynamic) continue;
        tc__line(p);
        if (kept)
            tc__put(p->out, "tc_kept<%lld> ", (long long)tc__ix_value(b->numel));
        else
            tc__put(p->out, "%s__align__(16) %s ", shared ? "__shared__ " : "",
                    tc__dtypes[b->dtype].memory);
        tc__put_buffer(p, (int64_t)i);
        if (!kept) tc__put(p->out, "[%lld]", (long long)tc__ix_value(b->numel));
        tc__put(p->out, ";\n");
    }
}

// What is in a launch at `id`: the loops over blocks and threads are opened once, around all of it.
static void tc__cuda_launch_body(tc__printer *p, uint32_t id) {
    uint32_t begin = id + 1, end = tc__loop_end(p->g, id);
    while (tc__cuda_is_over(tc__body(p, begin), 0) ||
           tc__cuda_is_over(tc__body(p, begin), 1))
        end = tc__loop_end(p->g, begin++);
    tc__cuda_own_memory(p, begin, end);
    tc__cuda_loop_variables(p, id + 1, begin, end, 1);
    tc__cuda_loop_variables(p, id + 1, begin, end, 0);
    if (tc__body(p, id)->n_attr > TC__LAUNCH_CLUSTER &&
        tc__body(p, begin)->op != TC_OP_TEMPLATE) {
        // No block ends before the others have written to it: what they write, they write before it arrives.
        tc__line(p);
        tc__put(p->out, "tc_cluster_arrive();\n");
    }
    tc__cuda_statements(p, begin, end);
}
