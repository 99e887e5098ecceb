// CUDA dialect, what threads sum together. The order of a reduction is its own: equal from run to run, not equal to the CPU's. A thread has
// an accumulator for each element of its vectors, `sum1[l]`; they are folded, then the lanes of a warp exchange them so
// that all have the result, then the warps of a block through shared memory, and those of a cluster through that of
// each of its blocks. Reductions of one phase share the barrier.

static const char *tc__cuda_no_place(const tc__printer *p) {
    return p->narrow ? "0x7fffffff" : "0x7fffffffffffffffll";
}

static void tc__cuda_identity(tc__printer *p, const tc__acc *a) {
    tc__cuda_constant(p, a->dtype, tc__identity(a->monoid, a->dtype));
}

// `float sum1[4] = {0.0f, 0.0f, 0.0f, 0.0f};`
static void tc__cuda_put_new(tc__printer *p, const tc__node *n, int width) {
    const tc__acc *a = &p->acc[n->attr[TC__NEW_ACCUMULATOR]];
    tc__line(p);
    tc__put(p->out, "%s ", p->d->reg[tc__class_of(a->dtype)]);
    tc__put_acc(p, n->attr[TC__NEW_ACCUMULATOR]);
    tc__put(p->out, "[%d] = {", width);
    for (int l = 0; l < width; l++) {
        if (l) tc__put(p->out, ", ");
        tc__cuda_identity(p, a);
    }
    tc__put(p->out, "};\n");
    if (!tc__is_arg(a)) return;
    tc__line(p);
    tc__put(p->out, "%s at%lld[%d] = {", tc__cuda_index_type(p),
            (long long)n->attr[TC__NEW_ACCUMULATOR], width);
    for (int l = 0; l < width; l++)
        tc__put(p->out, "%s%s", l ? ", " : "", tc__cuda_no_place(p));
    tc__put(p->out, "};\n");
}

// The accumulator as NEW made it.
static void tc__cuda_renew(tc__printer *p, int64_t i, int width) {
    const tc__acc *a = &p->acc[i];
    tc__line(p);
    tc__put(p->out, "for (int l = 0; l < %d; l++) ", width);
    tc__put_acc(p, i);
    tc__put(p->out, "[l] = ");
    tc__cuda_identity(p, a);
    if (tc__is_arg(a))
        tc__put(p->out, ", at%lld[l] = %s", (long long)i, tc__cuda_no_place(p));
    tc__put(p->out, ";\n");
}

static const char *tc__cuda_arg_name(const tc__acc *a) {
    return a->monoid == TC_OP_ARGMAX ? "max" : "min";
}

// What the functions of the accumulator are called: `add_f32`, `max_f32` for the place of the largest.
static void tc__cuda_acc_name(tc__printer *p, const char *lead, const tc__acc *a) {
    tc__put(p->out, "tc_%s_%s_%s", lead,
            tc__is_arg(a) ? tc__cuda_arg_name(a) : tc__op_name(a->monoid),
            tc__suffix(a->dtype));
}

// Element `at` of the accumulator, of column `column`.
static void tc__cuda_put_step(tc__printer *p, const tc__node *n, const char *at,
                              const char *column) {
    long long i = n->attr[TC__ACC_ACCUMULATOR];
    const tc__acc *a = &p->acc[i];
    tc__line(p);
    if (tc__is_arg(a)) {
        tc__cuda_acc_name(p, "keep", a);
        tc__put(p->out, "(best%lld[%s], at%lld[%s], ", i, at, i, at);
        tc__put_value(p, n->in[0], 0);
        tc__put(p->out, ", %s(%s));\n", tc__cuda_index_type(p), column);
        return;
    }
    tc__put_acc(p, i);
    tc__put(p->out, "[%s] = ", at);
    tc__cuda_acc_name(p, "acc", a);
    tc__put(p->out, "(");
    tc__put_acc(p, i);
    tc__put(p->out, "[%s], ", at);
    tc__put_value(p, n->in[0], 0);
    tc__put(p->out, ");\n");
}

// ---- a run of reductions ----

// COMBINE nodes [first, last) stand side by side, for the accumulators of one phase.
typedef struct tc__cuda_run {
    uint32_t first, last;
} tc__cuda_run;

// Of the threads that share a row.
static int tc__cuda_warps(const tc__printer *p) { return p->team / 32; }

// The thread's value over the lanes that share its row, into `all1`; of a place, into element 0.
static void tc__cuda_fold(tc__printer *p, int64_t i, const char *lead) {
    const tc__acc *a = &p->acc[i];
    int lanes = p->team < 32 ? p->team : 32;
    tc__line(p);
    if (tc__is_arg(a)) {
        tc__cuda_acc_name(p, "fold", a);
        tc__put(p->out, "(best%lld, at%lld);\n", (long long)i, (long long)i);
        tc__line(p);
        tc__cuda_acc_name(p, "lanes", a);
        tc__put(p->out, "<%d>(best%lld[0], at%lld[0]);\n", lanes, (long long)i,
                (long long)i);
        return;
    }
    tc__put(p->out, "%s = ", lead);
    tc__cuda_acc_name(p, "lanes", a);
    tc__put(p->out, "<%d>(", lanes);
    tc__cuda_acc_name(p, "fold", a);
    tc__put(p->out, "(");
    tc__put_acc(p, i);
    tc__put(p->out, "));\n");
}

// `const float t15`
static void tc__cuda_let(tc__printer *p, const tc__node *n, char out[64]) {
    snprintf(out, 64, "const %s t%u", p->d->reg[tc__class_of(n->dtype)], n->id);
}

// Whether a statement takes the value of n.
static int tc__cuda_is_used(const tc__printer *p, const tc__node *n) {
    for (uint32_t id = n->id + 1; id < p->g->body.node.count; id++) {
        const tc__node *m = tc__body(p, id);
        for (uint32_t k = 0; k < m->n_in; k++)
            if (m->in[k] == n->id) return 1;
        for (uint32_t k = 0; k < m->n_attr; k++)
            if (tc__attr_is_ix(m, k) && tc__ix_has_val(p->g->body.ix, m->attr[k])) return 1;
    }
    return 0;
}

static void tc__cuda_place_value(tc__printer *p, const tc__node *n) {
    long long i = n->attr[TC__COMBINE_ACCUMULATOR];
    tc__put_let(p, n, 0);
    tc__put(p->out, "at%lld[0] == %s ? 0 : at%lld[0];\n", i, tc__cuda_no_place(p), i);
}

// `__shared__ float part0[8];`, or `float *const part0 = (float *)(shared + 65536);`
static void tc__cuda_slot(tc__printer *p, const char *type, const char *name, int64_t i,
                          int slots, int64_t at) {
    int dynamic = tc__device_is_dynamic(p->g);
    tc__line(p);
    if (!dynamic) {
        tc__put(p->out, "__shared__ %s %s%lld[%d];\n", type, name, (long long)i, slots);
        return;
    }
    tc__ix begin = tc__device_shared_at(p->g, p->g->buffer.count);
    tc__put(p->out, "%s *const %s%lld = (%s *)(shared + ", type, name, (long long)i, type);
    tc__put_ix(p, tc__ix_add(p->g->body.ix, begin, tc__ix_const(at)));
    tc__put(p->out, ");\n");
}

// The slots of an accumulator for the warps that share a row. Where parts have met, all threads have read them.
static void tc__cuda_slots(tc__printer *p, const tc__node *n) {
    int64_t i = n->attr[TC__COMBINE_ACCUMULATOR], at, places = 0;
    const tc__acc *a = &p->acc[i];
    int slots = tc__cuda_warps(p) * (p->cluster ? p->cluster : 1);
    uint32_t launch = n->id;
    if (tc__device_combined_again(p->g, n)) return;
    while (launch && tc__body(p, launch)->op != TC_OP_LAUNCH) launch--;
    at = tc__device_parts_bytes(p->g, launch, n->id);
    tc__device_part_bytes(p->g, tc__body(p, launch), n, &places);
    tc__cuda_slot(p, p->d->reg[tc__class_of(a->dtype)], "part", i, slots, at);
    if (tc__is_arg(a))
        tc__cuda_slot(p, tc__cuda_index_type(p), "place", i, slots, at + places);
}

// What a warp of a cluster has, for all its blocks: each lane writes it into the memory of one.
static void tc__cuda_give_part(tc__printer *p, const tc__node *n) {
    long long id = n->attr[TC__COMBINE_ACCUMULATOR];
    int warps = tc__cuda_warps(p), arg = tc__is_arg(&p->acc[id]);
    tc__line(p);
    tc__put(p->out, "if (x %% 32 < %d) ", p->cluster);
    tc__put(p->out, "tc_cluster_store(&part%lld[z * %d + x / 32], x %% 32, ", id, warps);
    if (arg)
        tc__put(p->out,
                "best%lld[0]), tc_cluster_store(&place%lld[z * %d + x / 32], x %% 32, "
                "at%lld[0]);\n",
                id, id, warps, id);
    else
        tc__put(p->out, "all%u);\n", n->id);
}

// What the warps of all blocks have; the blocks have begun, when they arrived for the first time.
static void tc__cuda_meet_cluster(tc__printer *p, const tc__cuda_run *run) {
    int met = 0;
    for (uint32_t id = 0; id < run->first; id++)
        met |= tc__body(p, id)->op == TC_OP_COMBINE;
    if (!met) tc__line(p);
    if (!met) tc__put(p->out, "tc_cluster_wait();\n");
    for (uint32_t id = run->first; id < run->last; id++)
        tc__cuda_give_part(p, tc__body(p, id));
    tc__line(p);
    tc__put(p->out, "tc_cluster_arrive();\n");
    tc__line(p);
    tc__put(p->out, "tc_cluster_wait();\n");
}

// What each warp has, in shared memory.
static void tc__cuda_share_parts(tc__printer *p, const tc__cuda_run *run) {
    for (uint32_t id = run->first; id < run->last; id++) {
        const tc__node *n = tc__body(p, id);
        const tc__acc *a = &p->acc[n->attr[TC__COMBINE_ACCUMULATOR]];
        char let[64];
        snprintf(let, sizeof let, "const %s all%u", p->d->reg[tc__class_of(a->dtype)], id);
        tc__cuda_slots(p, n);
        tc__cuda_fold(p, n->attr[TC__COMBINE_ACCUMULATOR], let);
    }
    if (p->cluster) {
        tc__cuda_meet_cluster(p, run);
        return;
    }
    for (uint32_t id = run->first; id < run->last; id++) {
        long long i = tc__body(p, id)->attr[TC__COMBINE_ACCUMULATOR];
        tc__line(p);
        tc__put(p->out, "if (x %% 32 == 0) part%lld[x / 32] = ", i);
        if (tc__is_arg(&p->acc[i]))
            tc__put(p->out, "best%lld[0], place%lld[x / 32] = at%lld[0];\n", i, i, i);
        else
            tc__put(p->out, "all%u;\n", id);
    }
    tc__line(p);
    tc__put(p->out, "__syncthreads();\n");
}

// The result of what the warps of a cluster have: a lane sums those of a warp of each block.
static void tc__cuda_put_cluster(tc__printer *p, const tc__acc *a, int64_t i,
                                 const char *let) {
    long long id = (long long)i;
    int blocks = p->cluster, warps = tc__cuda_warps(p);
    tc__line(p);
    if (!tc__is_arg(a)) {
        tc__put(p->out, "%s = ", let);
        tc__cuda_acc_name(p, "lanes", a);
        tc__put(p->out, "<32>(");
        tc__cuda_acc_name(p, "below", a);
        tc__put(p->out, "<%d, %d>(&part%lld[x %% %d]));\n", blocks, warps, id, warps);
        return;
    }
    tc__cuda_acc_name(p, "below", a);
    tc__put(p->out, "<%d, %d>(best%lld[0], at%lld[0], &part%lld[x %% %d], ", blocks, warps,
            id, id, id, warps);
    tc__put(p->out, "&place%lld[x %% %d]);\n", id, warps);
    tc__line(p);
    tc__cuda_acc_name(p, "lanes", a);
    tc__put(p->out, "<32>(best%lld[0], at%lld[0]);\n", id, id);
}

// The same of the warps of a block.
static void tc__cuda_put_block(tc__printer *p, const tc__acc *a, int64_t i,
                               const char *let) {
    long long id = (long long)i;
    int warps = tc__cuda_warps(p);
    tc__line(p);
    if (!tc__is_arg(a)) tc__put(p->out, "%s = ", let);
    tc__cuda_acc_name(p, "parts", a);
    if (tc__is_arg(a))
        tc__put(p->out, "<%d>(best%lld[0], at%lld[0], part%lld, place%lld);\n", warps, id,
                id, id, id);
    else
        tc__put(p->out, "<%d>(part%lld);\n", warps, id);
}

// The results of a run, in all threads that share the row.
static void tc__cuda_put_run(tc__printer *p, const tc__cuda_run *run) {
    char let[64];
    int block = tc__cuda_warps(p) > 1;
    if (block) tc__cuda_share_parts(p, run);
    for (uint32_t id = run->first; id < run->last; id++) {
        const tc__node *n = tc__body(p, id);
        const tc__acc *a = &p->acc[n->attr[TC__COMBINE_ACCUMULATOR]];
        tc__cuda_let(p, n, let);
        if (p->cluster)
            tc__cuda_put_cluster(p, a, n->attr[TC__COMBINE_ACCUMULATOR], let);
        else if (block)
            tc__cuda_put_block(p, a, n->attr[TC__COMBINE_ACCUMULATOR], let);
        else
            tc__cuda_fold(p, n->attr[TC__COMBINE_ACCUMULATOR], let);
        if (tc__is_arg(a) && tc__cuda_is_used(p, n)) tc__cuda_place_value(p, n);
    }
}

// The run that begins at COMBINE n.
static tc__cuda_run tc__cuda_run_at(const tc__printer *p, const tc__node *n) {
    tc__cuda_run run;
    run.first = run.last = n->id;
    while (run.last < p->g->body.node.count && tc__body(p, run.last)->op == TC_OP_COMBINE)
        run.last++;
    return run;
}

static int tc__cuda_leads_run(const tc__printer *p, const tc__node *n) {
    return !n->id || tc__body(p, n->id - 1)->op != TC_OP_COMBINE;
}
