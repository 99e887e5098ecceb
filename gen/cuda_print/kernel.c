// CUDA dialect, kernels: the head of a kernel, and the dialect.
//
// Kernels begin early (sm_90): the first line lets the next launch begin and waits for the
// one before, whose ever that is, so starts overlap: 24 small kernels take 29 us instead of
// 37, a kernel of 130 us 1.5 % less. Nothing of memory is read ahead of the wait, and no
// buffer may be known as constant: ptxas moves ld.global.nc over the wait (12 of 100 calls
// of a layer norm in steps were wrong), which tc_reads prevents and tests look for in the
// PTX. What is lost with nc no row of the bench shows. A text that does not wait (opaque
// ops) starts as ever.

// ---- functions of a monoid ----

// Text with # for what follows tc_<function>_, T for the type and @ for the identity.
static void tc__cuda_pattern(tc__printer *p, const tc__acc *a, const char *s) {
    const char *name = tc__is_arg(a) ? tc__cuda_arg_name(a) : tc__op_name(a->monoid);
    const char *type = p->d->reg[tc__class_of(a->dtype)];
    for (; *s; s++) {
        if (*s == '#')
            tc__put(p->out, "%s_%s", name, tc__suffix(a->dtype));
        else if (*s == '@')
            tc__cuda_identity(p, a);
        else if (*s == '$')
            tc__put(p->out, "%s", type);
        else
            tc__put_raw(p->out, s, 1);
    }
}

static const char tc__cuda_sum_text[] =
    "\n// The elements of a thread.\n"
    "template <int V> TC_FN $ tc_fold_#(const $ (&x)[V]) {\n"
    "    $ y = x[0];\n"
    "    for (int l = 1; l < V; l++) y = tc_acc_#(y, x[l]);\n"
    "    return y;\n"
    "}\n"
    "\n// The values of L lanes that are neighbours; all of them get the result.\n"
    "template <int L> TC_FN $ tc_lanes_#($ x) {\n"
    "    for (int o = L / 2; o; o /= 2) x = tc_acc_#(x, __shfl_xor_sync(~0u, x, o));\n"
    "    return x;\n"
    "}\n"
    "\n// What W warps have put into shared memory; all threads get the result.\n"
    "template <int W> TC_FN $ tc_parts_#(const $ *part) {\n"
    "    const int w = threadIdx.x % 32;\n"
    "    return tc_lanes_#<32>(w < W ? part[w] : @);\n"
    "}\n"
    "\n// H values of shared memory, S apart.\n"
    "template <int H, int S> TC_FN $ tc_below_#(const $ *part) {\n"
    "    $ x = part[0];\n"
    "    for (int y = 1; y < H; y++) x = tc_acc_#(x, part[y * S]);\n"
    "    return x;\n"
    "}\n";

static const char tc__cuda_arg_text[] =
    "\n// (b, j) becomes (v, i) if that is better.\n"
    "template <class I> TC_FN void tc_keep_#($ &b, I &j, $ v, I i) {\n"
    "    const int win = tc_win_#(v, b, i < j);\n"
    "    b = win ? v : b;\n"
    "    j = win ? i : j;\n"
    "}\n"
    "\ntemplate <int V, class I> TC_FN void tc_fold_#($ (&v)[V], I (&i)[V]) {\n"
    "    for (int l = 1; l < V; l++) tc_keep_#(v[0], i[0], v[l], i[l]);\n"
    "}\n"
    "\ntemplate <int L, class I> TC_FN void tc_lanes_#($ &v, I &i) {\n"
    "    for (int o = L / 2; o; o /= 2) {\n"
    "        const $ w = __shfl_xor_sync(~0u, v, o);\n"
    "        const I k = __shfl_xor_sync(~0u, i, o);\n"
    "        tc_keep_#(v, i, w, k);\n"
    "    }\n"
    "}\n"
    "\ntemplate <int W, class I> TC_FN void tc_parts_#($ &v, I &i, const $ *part, const I *place) {\n"
    "    const int w = threadIdx.x % 32 % W;\n"
    "    v = part[w];\n"
    "    i = place[w];\n"
    "    tc_lanes_#<32>(v, i);\n"
    "}\n"
    "\ntemplate <int H, int S, class I> TC_FN void tc_below_#($ &v, I &i, const $ *part, const I *place) {\n"
    "    v = part[0];\n"
    "    i = place[0];\n"
    "    for (int y = 1; y < H; y++) tc_keep_#(v, i, part[y * S], place[y * S]);\n"
    "}\n";

static void tc__cuda_monoid_text(tc__printer *p, const tc__acc *a) {
    tc__cuda_pattern(p, a, tc__is_arg(a) ? tc__cuda_arg_text : tc__cuda_sum_text);
}

// ---- the kernel: (buffers that are memory, in the group's order, then tc_kargs: see tc__grids) ----

// The maps of the template at `id`, in the order of its holes.
static void tc__cuda_map_parameters(tc__printer *p, uint32_t id) {
    const tc__node *n = tc__body(p, id);
    uint32_t end = tc__loop_end(p->g, id);
    for (uint32_t h = id + 1; h < end; h = tc__loop_end(p->g, h) + 1)
        if (tc__hole_is_mapped(n, tc__body(p, h)))
            tc__put(p->out, ", const __grid_constant__ tc_map %s_map",
                    tc__hole_names[tc__body(p, h)->attr[TC__HOLE_HOLE]]);
}

static void tc__cuda_parameters(tc__printer *p) {
    if (p->g->shape.list) {
        tc__cuda_list_parameters(p);
        return;
    }
    for (size_t i = 0; i < p->g->buffer.count; i++) {
        const tc__kbuf *b = &p->g->buffer.at[i];
        if (!tc__is_memory(b)) continue;
        tc__put(p->out, "%s%s *__restrict__ ", b->written ? "" : "const ",
                tc__dtypes[b->dtype].memory);
        tc__put_buffer(p, (int64_t)i);
        tc__put(p->out, tc__cuda_is_checked(p->g, (int64_t)i) ? "_memory, " : ", ");
    }
    if (tc__cuda_has_work(p)) tc__put(p->out, "unsigned char *work, ");
    tc__put(p->out, "const tc_kargs<%d> a", tc__cuda_kargs(p->g));
    for (uint32_t id = 0; id < p->g->body.node.count; id++)
        if (tc__template_is_mapped(tc__body(p, id))) tc__cuda_map_parameters(p, id);
}

static void tc__cuda_args(tc__printer *p) {
    for (size_t id = 0; id < p->g->body.node.count; id++) {
        const tc__node *n = p->g->body.node.at[id];
        int seen = n->op != TC_OP_ARG;
        for (size_t j = 0; j < id && !seen; j++)
            seen = p->g->body.node.at[j]->op == TC_OP_ARG &&
                   p->g->body.node.at[j]->attr[TC__ARG_SLOT] == n->attr[TC__ARG_SLOT];
        if (seen) continue;
        const char *type = p->d->reg[tc__class_of(n->dtype)];
        tc__line(p);
        tc__put(p->out, "const %s arg%lld = (%s)a.arg(%lld).%s;\n", type,
                (long long)n->attr[TC__ARG_SLOT], type, (long long)n->attr[TC__ARG_SLOT],
                tc__is_float(n->dtype) ? "f" : "i");
    }
}

static void tc__cuda_names(tc__printer *p, const tc__text *body) {
    const char *type = tc__cuda_index_type(p);
    if (p->g->shape.list) tc__cuda_list_names(p, body);
    for (int slot = 0, sizes = tc__cuda_sizes(p->g); slot < sizes; slot++) {
        char name[24];
        snprintf(name, sizeof name, "s%d", slot);
        if (!tc__c_mentions(body, name)) continue;
        tc__line(p);
        tc__put(p->out, "const %s %s = %sa.size[%d];\n", type, name,
                p->narrow ? "(int)" : "", slot);
    }
    if (tc__c_mentions(body, "seed")) {
        tc__line(p);
        tc__put(p->out, "const tc_u64 seed = a.state->seed, draw = a.state->draw;\n");
    }
    tc__cuda_args(p);
}

// Waits for the launches before.
static void tc__cuda_begin(tc__printer *p) {
    tc__line(p);
    if (!p->g->shape.list) tc__cuda_reads(p);
    if (tc__device_is_beside(p->g))
        tc__put(p->out, "tc_begin_beside(a.size[%d]);\n", tc__cuda_sizes(p->g));
    else
        tc__put(p->out, "tc_begin();\n");
    if (!p->g->target.guarded) return;
    tc__line(p);
    tc__put(p->out, "if (a.state->failed) return;\n");
}

// A launch as a function: how it is made, and what a thread does.
static void tc__cuda_put_launch(tc__printer *p, const char *symbol, int launch,
                                const tc__grid *grid, int resident, tc__text *body) {
    tc__text *out = p->out;
    tc__cuda_look(p, body);
    p->indent = 0;
    if (launch) tc__put(out, "\n");
    tc__put(out, "// %d threads in a block, ", grid->threads);
    tc__put_ix(p, grid->blocks);
    tc__put(out, " blocks have work%s", p->g->shape.list ? " for a tensor" : "");
    if (grid->cluster) tc__put(out, ", launched in clusters of %d", grid->cluster);
    tc__put(out, "\nextern \"C\" __global__ void __launch_bounds__(%d", grid->threads);
    if (resident) tc__put(out, ", %d", resident);
    tc__put(out, ")\n%s", symbol);
    if (launch) tc__put(out, "_%d", launch);
    tc__put(out, "(");
    tc__cuda_parameters(p);
    tc__put(out, ")");
    tc__block_open(p);
    if (tc__c_mentions(body, "shared") || !tc__ix_equals(grid->shared, 0))
        tc__put(out, "    extern __shared__ __align__(16) char shared[];\n");
    tc__cuda_begin(p);
    tc__cuda_names(p, body);
    tc__put_raw(out, body->at, body->size);
    tc__block_close(p);
    out->failed |= body->failed;
    tc__text_free(body);
}

// All launches of a device's list.
static void tc__cuda_list_kernel(tc__printer *p, const char *symbol) {
    tc__text body, *out = p->out;
    tc__grids grids;
    int launch = 0;
    memset(&grids, 0, sizeof grids);
    tc__device_grids(p->g, &grids);
    for (uint32_t id = 0; id < p->g->body.node.count; id++) {
        const tc__node *n = tc__body(p, id);
        if (n->op != TC_OP_LAUNCH) continue;
        tc__text_init(&body, out->ctx);
        p->out = &body, p->indent = 1, p->narrow = (int)n->attr[TC__LAUNCH_NARROW];
        tc__cuda_launch_body(p, id);
        p->out = out;
        tc__cuda_put_launch(p, symbol, launch, &grids.at[launch],
                            (int)n->attr[TC__LAUNCH_RESIDENT], &body);
        launch++;
    }
}

// What plans and lists print alike; functions in the order of tc__cuda_half_functions.
#define TC__CUDA_VALUES                                                                    \
    {TC_OP_CAST, TC__ONCE, tc__cuda_cast_node}, {TC_OP_INDEX, TC__ONCE, tc__cuda_index},   \
        {TC_OP_CHECK, TC__ONCE, tc__cuda_check}, {TC_OP_VALID, TC__ONCE, tc__cuda_valid},  \
        {TC_OP_ADD, TC__ONCE, tc__cuda_add}, {TC_OP_EXP, TC__ONCE, tc__cuda_fast},         \
        {TC_OP_EXP2, TC__ONCE, tc__cuda_fast}, {TC_OP_LOG, TC__ONCE, tc__cuda_fast},       \
        {TC_OP_LOG2, TC__ONCE, tc__cuda_fast}, {TC_OP_SIN, TC__ONCE, tc__cuda_fast},       \
        {TC_OP_COS, TC__ONCE, tc__cuda_fast}, {TC_OP_TANH, TC__ONCE, tc__cuda_fast},       \
        {TC_OP_SIGMOID, TC__ONCE, tc__cuda_fast}, {TC_OP_SILU, TC__ONCE, tc__cuda_fast},   \
        {TC_OP_GELU_TANH, TC__ONCE, tc__cuda_fast}, {TC_OP_ERF, TC__ONCE, tc__cuda_fast},  \
        {TC_OP_GELU, TC__ONCE, tc__cuda_fast}, {TC_OP_DIV, TC__ONCE, tc__cuda_fast},       \
        {TC_OP_RECIPROCAL, TC__ONCE, tc__cuda_fast},                                       \
        {TC_OP_SQRT, TC__ONCE, tc__cuda_fast}, {TC_OP_RSQRT, TC__ONCE, tc__cuda_fast},

static const tc__print_row tc__cuda_list_table[] = {
    TC__CUDA_VALUES{TC_OP_LOAD, TC__ONCE, tc__cuda_list_load},
    {TC_OP_STORE, TC__ONCE, tc__cuda_list_store},
    {TC_OP_RANDOM, TC__ONCE, tc__cuda_list_random},
    {TC_OP_NEW, TC__ONCE, tc__cuda_list_new},
    {TC_OP_ACC, TC__ONCE, tc__cuda_list_step},
    {TC_OP_COMBINE, TC__ONCE, tc__cuda_list_combine},
    {TC_OP_PUT, TC__ONCE, tc__cuda_list_put},
    {TC_OP_GET, TC__ONCE, tc__cuda_list_get},
    {TC_OP_LAST, TC__ONCE, tc__cuda_list_last},
    {TC_OP_FORGET, TC__ONCE, tc__cuda_list_forget},
    {TC_OP_BEGUN, TC__ONCE, tc__cuda_list_begun},
    {TC_OP_MEET, TC__ONCE, tc__cuda_list_meet},
    {TC_OP_COUNT, TC__ONCE, NULL},
};

static const tc__dialect tc__dialect_cuda = {
    "cuda",
    {"float", "double", "int", "tc_i64"},
    {"float", "double", "int", "tc_i64"},
    "tc_i64",
    1,
    tc__cuda_expr,
    1,
    tc__cuda_list_table,
    tc__cuda_list_kernel,
    NULL,
    tc__cuda_constant,
    tc__cuda_monoid_text,
    tc__cuda_grids,
    tc__print_cuda_opaque,
    tc__has_cuda_opaque,
    tc__device_takes_rows,
    TC__CHAIN_INNER + 1,
    TC__FUSE_LOADS,
    tc__lower_device,
    1,
    tc__device_takes_down,
    tc__device_takes_beside,
    tc__device_order,
};
