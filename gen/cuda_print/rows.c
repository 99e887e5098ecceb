// CUDA dialect, what threads sum together: of lists of devices, and of the rows of a product without a tile, whose loops
// are here, too. The order of a reduction is its own: equal from run to run, not equal to the CPU's. A thread has
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

static void tc__cuda_new(tc__printer *p, const tc__node *n, int copy) {
    (void)copy;
    tc__cuda_put_new(p, n, tc__cuda_width_of(p));
}

static const char *tc__cuda_arg_name(const tc__acc *a) {
    return a->monoid == TC_OP_ARGMAX ? "max" : "min";
}

// What the functions of the accumulator are called: `add_f32`, `max_f32` for the place of the largest.
static void tc__cuda_acc_name(tc__printer *p, const char *lead, const tc__acc *a) {
    tc__put(p->out, "tc_%s_%s_%s", lead,
            tc__is_arg(a) ? tc__cuda_arg_name(a) : tc__ops[a->monoid].name,
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

static void tc__cuda_step(tc__printer *p, const tc__node *n, int copy) {
    (void)copy;
    tc__cuda_put_step(p, n, p->lane ? "l" : "0",
                      p->lane && p->axis == TC__COL ? "c + l" : "c");
}

// ---- a run of reductions ----

// COMBINE nodes [first, last) stand side by side, for the accumulators of one phase.
typedef struct tc__cuda_run {
    uint32_t first, last;
} tc__cuda_run;

// Threads that share a row, and their warps; blocks that do.
static int tc__cuda_team(const tc__printer *p) {
    return p->cuda ? p->cuda->sharing : p->team;
}
static int tc__cuda_warps(const tc__printer *p) { return tc__cuda_team(p) / 32; }
static int tc__cuda_cluster(const tc__printer *p) { return p->cuda ? 0 : p->cluster; }

// The thread's value over the lanes that share its row, into `all1`; of a place, into element 0.
static void tc__cuda_fold(tc__printer *p, int64_t i, const char *lead) {
    const tc__acc *a = &p->acc[i];
    int lanes = tc__cuda_team(p) < 32 ? tc__cuda_team(p) : 32;
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

// Whether the accumulator of COMBINE n was combined before, in its launch.
static int tc__cuda_is_combined_again(const tc__printer *p, const tc__node *n) {
    for (uint32_t id = n->id; id-- > 0 && tc__body(p, id)->op != TC_OP_LAUNCH;)
        if (tc__body(p, id)->op == TC_OP_COMBINE &&
            tc__body(p, id)->attr[TC__COMBINE_ACCUMULATOR] ==
                n->attr[TC__COMBINE_ACCUMULATOR])
            return 1;
    return 0;
}

// The slots of an accumulator for the warps that share a row. Where parts have met, all threads have read them.
static void tc__cuda_slots(tc__printer *p, const tc__node *n) {
    int64_t i = n->attr[TC__COMBINE_ACCUMULATOR];
    const tc__acc *a = &p->acc[i];
    int slots = tc__cuda_warps(p) * (tc__cuda_cluster(p) ? tc__cuda_cluster(p) : 1);
    if (tc__cuda_is_combined_again(p, n)) return;
    tc__line(p);
    tc__put(p->out, "__shared__ %s part%lld[%d];\n", p->d->reg[tc__class_of(a->dtype)],
            (long long)i, slots);
    if (!tc__is_arg(a)) return;
    tc__line(p);
    tc__put(p->out, "__shared__ %s place%lld[%d];\n", tc__cuda_index_type(p), (long long)i,
            slots);
}

// What a warp of a cluster has, for all its blocks: each lane writes it into the memory of one.
static void tc__cuda_give_part(tc__printer *p, const tc__node *n) {
    long long id = n->attr[TC__COMBINE_ACCUMULATOR];
    int warps = tc__cuda_warps(p), arg = tc__is_arg(&p->acc[id]);
    tc__line(p);
    tc__put(p->out, "if (x %% 32 < %d) ", tc__cuda_cluster(p));
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
    if (tc__cuda_cluster(p)) {
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
    int blocks = tc__cuda_cluster(p), warps = tc__cuda_warps(p);
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
        if (tc__cuda_cluster(p))
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

// ---- the columns of a row ----

static void tc__cuda_keep_name(const tc__node *n, char out[24]) {
    snprintf(out, 24, "keep%u", n->id);
}

// Load n puts the row into shared memory.
static int tc__cuda_fills_shared(const tc__printer *p, const tc__cuda_loop_body *b,
                                 const tc__node *n) {
    return p->cuda->hold == TC__DEVICE_SHARED && b->set[n->id] && n->id >= b->begin &&
           tc__cuda_held_by(p, n) == (int64_t)n->id;
}

// Its copy by the engine for that, or by loads where the vector is too small or not one.
static void tc__cuda_fill_shared(tc__printer *p, const tc__node *n) {
    char keep[24];
    uint32_t bytes = (uint32_t)p->cuda->width * tc__device_bytes(p->g, n);
    int async = tc__cuda_wide(p, n) && bytes >= 4;
    int lanes = tc__cuda_width_of(p) > 1 && !async;
    tc__cuda_keep_name(n, keep);
    tc__line(p);
    if (async) {
        tc__put(p->out, "tc_copy_async(&%s[k], ", keep);
        tc__cuda_address(p, n);
        tc__put(p->out, ");\n");
        return;
    }
    if (lanes) tc__put(p->out, "for (int l = 0; l < %d; l++) ", tc__cuda_width_of(p));
    p->lane = lanes;
    tc__put(p->out, "%s[k]%s = ", keep, lanes ? ".at[l]" : "");
    tc__cuda_read(p, n);
    tc__put(p->out, ";\n");
    p->lane = 0;
}

static void tc__cuda_fill_at(tc__printer *p, const tc__cuda_loop_body *b,
                             const tc__cuda_place *at) {
    (void)at;
    for (uint32_t id = b->begin; id < b->end; id++)
        if (tc__cuda_fills_shared(p, b, tc__body(p, id)))
            tc__cuda_fill_shared(p, tc__body(p, id));
}

static int tc__cuda_any_fills(const tc__printer *p, const tc__cuda_loop_body *b) {
    int any = 0;
    for (uint32_t id = b->begin; id < b->end; id++)
        any |= tc__cuda_fills_shared(p, b, tc__body(p, id));
    return any;
}

// Where vectors begin and end for a thread: in a part of the row, or in all of it.
typedef struct tc__cuda_span {
    char first[24], last[64];
} tc__cuda_span;

static tc__cuda_span tc__cuda_span_of(tc__printer *p, tc__ix e) {
    tc__cuda_span s;
    tc__text t;
    tc__ix whole = tc__ix_div(p->g->body.ix, e, tc__ix_const(tc__cuda_width_of(p)));
    snprintf(s.first, sizeof s.first, "x");
    snprintf(s.last, sizeof s.last, "%s", tc__cuda_text_of(p, &t, whole, 0));
    tc__text_free(&t);
    return s;
}

// `const int c = k * 4;`
static void tc__cuda_place_column(tc__printer *p, tc__cuda_place *at) {
    char line[160];
    snprintf(line, sizeof line, "const %s c = k * %d;", tc__cuda_index_type(p),
             p->cuda->width);
    if (p->cuda->width == 1)
        snprintf(line, sizeof line, "const %s c = k;", tc__cuda_index_type(p));
    tc__cuda_place_add(at, "c", line);
}

// A loop over vectors, one at a time; the body names k and c.
static void tc__cuda_simple_loop(tc__printer *p, const tc__cuda_loop_body *b, tc__ix e,
                                 tc__cuda_body_fn print) {
    tc__cuda_span s = tc__cuda_span_of(p, e);
    tc__cuda_place at;
    memset(&at, 0, sizeof at);
    tc__cuda_place_column(p, &at);
    tc__line(p);
    tc__put(p->out, "for (%s k = %s; k < %s; k += %d)", tc__cuda_index_type(p), s.first,
            s.last, p->cuda->sharing);
    tc__block_open(p);
    tc__cuda_at(p, b, &at, print);
    tc__block_close(p);
}

// A loop over U vectors at a time.
static void tc__cuda_deep_loop(tc__printer *p, const tc__cuda_loop_body *b, tc__ix e) {
    const tc__device_plan *q = p->cuda;
    tc__cuda_span s = tc__cuda_span_of(p, e);
    tc__cuda_place at;
    char line[160];
    memset(&at, 0, sizeof at);
    snprintf(line, sizeof line, "const %s k = k0 + u * %d;", tc__cuda_index_type(p),
             q->sharing);
    tc__cuda_place_add(&at, "k", line);
    tc__cuda_place_column(p, &at);
    snprintf(at.inside, sizeof at.inside, "k < %s", s.last);
    snprintf(at.beyond, sizeof at.beyond, "k >= %s", s.last);
    tc__line(p);
    tc__put(p->out, "for (%s k0 = %s; k0 < %s; k0 += %d)", tc__cuda_index_type(p), s.first,
            s.last, q->sharing * q->vectors);
    tc__block_open(p);
    tc__cuda_declare(p, b, q->vectors);
    tc__cuda_put_vectors(p, b, &at, q->vectors);
    tc__block_close(p);
}

// What is left of a row whose columns are not a multiple of V, by the last part of it.
static void tc__cuda_row_tail(tc__printer *p, const tc__cuda_loop_body *b, tc__ix e) {
    const tc__device_plan *q = p->cuda;
    tc__ixpool *x = p->g->body.ix;
    tc__ix width = tc__ix_const(q->width);
    tc__line(p);
    tc__put(p->out, "for (%s c = ", tc__cuda_index_type(p));
    tc__put_ix(p, tc__ix_mul(x, tc__ix_div(x, e, width), width));
    tc__put(p->out, " + x; c < ");
    tc__put_ix(p, e);
    tc__put(p->out, "; c += %d)", q->sharing);
    tc__block_open(p);
    p->scalar = 1;
    tc__cuda_compute(p, b);
    p->scalar = 0;
    tc__block_close(p);
}

// Where vector u of a row in registers is.
static tc__cuda_place tc__cuda_register_place(const tc__printer *p, tc__ix e) {
    const tc__device_plan *q = p->cuda;
    tc__cuda_place at;
    char line[160];
    memset(&at, 0, sizeof at);
    const char *x = q->sharing == 1 ? "" : "x + ";
    if (q->width > 1)
        snprintf(line, sizeof line, "const %s c = (%su * %d) * %d;", tc__cuda_index_type(p),
                 x, q->sharing, q->width);
    else
        snprintf(line, sizeof line, "const %s c = %su * %d;", tc__cuda_index_type(p), x,
                 q->sharing);
    tc__cuda_place_add(&at, "c", line);
    int64_t columns = tc__ix_value(e), across = (int64_t)q->sharing * q->width;
    int64_t whole = columns / across; // of these every thread has one
    if (columns == q->vectors * across) return at;
    char in[32] = "", out[32] = "";
    if (whole > 0) snprintf(in, sizeof in, "u < %lld || ", (long long)whole);
    if (whole > 0) snprintf(out, sizeof out, "u >= %lld && ", (long long)whole);
    snprintf(at.inside, sizeof at.inside, "%sc < %lld", in, (long long)columns);
    snprintf(at.beyond, sizeof at.beyond, "%sc >= %lld", out, (long long)columns);
    return at;
}

// Columns in registers: vectors of known number, so that what is held has constant places.
static void tc__cuda_register_columns(tc__printer *p, const tc__cuda_loop_body *b,
                                      tc__ix e) {
    tc__cuda_place at = tc__cuda_register_place(p, e);
    if (!p->issued) tc__cuda_declare(p, b, p->cuda->vectors);
    tc__cuda_put_vectors(p, b, &at, p->cuda->vectors);
}

static void tc__cuda_row_columns(tc__printer *p, tc__ix e, uint32_t begin, uint32_t end) {
    tc__cuda_loop_body b;
    if (!tc__cuda_body_open(p, &b, begin, end)) return;
    if (tc__cuda_any_fills(p, &b)) {
        tc__cuda_simple_loop(p, &b, e, tc__cuda_fill_at);
        tc__line(p);
        tc__put(p->out, "tc_copy_wait_all();\n");
    }
    if (p->cuda->hold == TC__DEVICE_REGISTERS)
        tc__cuda_register_columns(p, &b, e);
    else if (p->cuda->vectors > 1 && tc__cuda_count_issues(p, &b))
        tc__cuda_deep_loop(p, &b, e);
    else
        tc__cuda_simple_loop(p, &b, e, tc__cuda_one_at);
    if (p->cuda->tail) tc__cuda_row_tail(p, &b, e);
    tc__cuda_body_close(p, &b);
}

// ---- the form ----

// Memory for what is held of a row.
static void tc__cuda_keeps(tc__printer *p) {
    const tc__device_plan *q = p->cuda;
    tc__ix at = tc__device_scratch(p->g, q);
    for (size_t i = 0; i < p->g->buffer.count; i++) {
        if (!tc__cuda_in_registers(p, (int64_t)i)) continue;
        tc__line(p);
        tc__cuda_type(p, tc__dtypes[p->g->buffer.at[i].dtype].memory, 0);
        tc__put(p->out, " ");
        tc__put_buffer(p, (int64_t)i);
        tc__put(p->out, "[%d];\n", q->vectors);
    }
    for (uint32_t i = 0; i < p->g->body.node.count && q->hold == TC__DEVICE_SHARED; i++) {
        const tc__node *n = tc__body(p, i);
        if (tc__cuda_held_by(p, n) != (int64_t)i) continue;
        tc__line(p);
        tc__cuda_type(p, tc__cuda_memory(p, n), 0);
        tc__put(p->out, " *const keep%u = (", i);
        tc__cuda_type(p, tc__cuda_memory(p, n), 0);
        tc__put(p->out, " *)(shared + ");
        tc__put_ix(p, at);
        tc__put(p->out, ");\n");
        at = tc__ix_add(p->g->body.ix, at,
                        tc__ix_const(tc__device_bytes(p->g, n) *
                                     tc__padded(tc__ix_value(p->g->shape.cols), 64)));
    }
}

// The row of a thread.
static void tc__cuda_row_head(tc__printer *p) {
    const tc__device_plan *q = p->cuda;
    int rows = q->threads / q->sharing;
    const char *type = tc__cuda_index_type(p), *wide = p->narrow ? "" : "(tc_i64)";
    char row[80];
    snprintf(row, sizeof row, "%sblockIdx.x * %d + threadIdx.x / %d", wide, rows,
             q->sharing);
    if (rows == 1) snprintf(row, sizeof row, "blockIdx.x");
    int named = rows > 1 || tc__device_names_rows(p->g);
    if (q->sharing > 1) tc__line(p);
    if (rows == 1) tc__put(p->out, "const int x = threadIdx.x;\n");
    if (rows > 1 && q->sharing > 1)
        tc__put(p->out, "const int x = threadIdx.x %% %d;\n", q->sharing);
    if (named) tc__line(p);
    if (named) tc__put(p->out, "const %s r = %s;\n", type, row);
    if (tc__ix_divisor(p->g->body.ix, p->g->shape.rows) % rows == 0) return;
    tc__line(p);
    tc__put(p->out, "if (r >= ");
    tc__put_ix(p, p->g->shape.rows);
    tc__put(p->out, ") return;\n");
}

static void tc__cuda_rows(tc__printer *p) {
    tc__cuda_row_head(p);
    tc__cuda_keeps(p);
    // The operands of a product stand before the loops; it prints them where it is.
    uint32_t first = p->g->shape.kind == TC__CONTRACTION ? tc__contract_rows_loop(p) : 0;
    tc__print_range(p, first, (uint32_t)p->g->body.node.count);
}

// What a loop has stored may be loaded by other threads behind it.
static void tc__cuda_row_barrier(tc__printer *p, uint32_t begin, uint32_t end) {
    int stored = 0, loaded = 0;
    for (uint32_t id = begin; id < p->g->body.node.count; id++) {
        const tc__node *n = tc__body(p, id);
        if (!tc__device_is_memory(n) || tc__cuda_again(p, n->attr[TC__ACCESS_BUFFER]) ||
            tc__cuda_in_registers(p, n->attr[TC__ACCESS_BUFFER]))
            continue;
        int shared = tc__buffer_of(p->g, n)->written ||
                     tc__device_is_row(p->g, n->attr[TC__ACCESS_BUFFER]);
        if (id < end && n->op == TC_OP_STORE) stored = 1;
        if (id >= end && n->op == TC_OP_LOAD && shared) loaded = 1;
    }
    if (!stored || !loaded || p->cuda->sharing == 1) return;
    tc__line(p);
    tc__put(p->out, p->cuda->sharing > 32 ? "__syncthreads();\n" : "__syncwarp();\n");
}
