// CUDA dialect, the form "columns": the vector runs along the rows, so a thread has V rows and each
// value of a row is an array over them. Threads side by side have the next rows, threads
// one below the other, `y`, share the columns; what they have is summed from shared memory, top down.

static int tc__cuda_below(const tc__printer *p) {
    return p->cuda->threads / p->cuda->sharing;
}

// Rows of a block.
static int tc__cuda_across(const tc__printer *p) {
    return p->cuda->sharing * p->cuda->width;
}

// Some threads of the last block have no rows.
static int tc__cuda_is_ragged(const tc__printer *p) {
    return tc__ix_divisor(p->g->body.ix, p->g->shape.rows) % tc__cuda_across(p) != 0;
}

static void tc__cuda_each_row(tc__printer *p) {
    if (!p->row_lanes) return;
    tc__cuda_unroll(p, "l", p->cuda->width);
    p->lane = 1;
}

static void tc__cuda_each_row_end(tc__printer *p) {
    if (p->row_lanes) tc__block_close(p);
    p->lane = 0;
}

// Arrays for the values of rows [first, last); of places not where they are those of a part.
static void tc__cuda_row_values(tc__printer *p, uint32_t first, uint32_t last, int part) {
    for (uint32_t id = first; id < last && p->row_lanes; id++) {
        const tc__node *n = tc__body(p, id);
        if (n->op == TC_OP_STORE || n->op == TC_OP_CONST || n->op == TC_OP_ARG) continue;
        if (part && n->op == TC_OP_COMBINE &&
            tc__is_arg(&p->acc[n->attr[TC__COMBINE_ACCUMULATOR]]))
            continue;
        tc__line(p);
        tc__put(p->out, "%s t%u[%d];\n", p->d->reg[tc__class_of(n->dtype)], id,
                p->cuda->width);
    }
}

// ---- reductions ----

// `x * 4 + l`: the row's place in the block.
static const char *tc__cuda_across_at(const tc__printer *p, char out[32]) {
    if (p->row_lanes)
        snprintf(out, 32, "x * %d + l", p->cuda->width);
    else
        snprintf(out, 32, "x");
    return out;
}

static void tc__cuda_share_below(tc__printer *p, const tc__cuda_run *run) {
    char at[32];
    int below = tc__cuda_below(p), across = tc__cuda_across(p);
    const char *l = p->row_lanes ? "l" : "0";
    tc__cuda_across_at(p, at);
    for (uint32_t id = run->first; id < run->last; id++) {
        long long i = tc__body(p, id)->attr[TC__COMBINE_ACCUMULATOR];
        const tc__acc *a = &p->acc[i];
        tc__line(p);
        tc__put(p->out, "__shared__ %s part%lld[%d];\n", p->d->reg[tc__class_of(a->dtype)],
                i, below * across);
        if (!tc__is_arg(a)) continue;
        tc__line(p);
        tc__put(p->out, "__shared__ %s place%lld[%d];\n", tc__cuda_index_type(p), i,
                below * across);
    }
    tc__cuda_each_row(p);
    for (uint32_t id = run->first; id < run->last; id++) {
        long long i = tc__body(p, id)->attr[TC__COMBINE_ACCUMULATOR];
        tc__line(p);
        tc__put(p->out, "part%lld[y * %d + %s] = ", i, across, at);
        tc__put_acc(p, i);
        tc__put(p->out, "[%s]", l);
        if (tc__is_arg(&p->acc[i]))
            tc__put(p->out, ", place%lld[y * %d + %s] = at%lld[%s]", i, across, at, i, l);
        tc__put(p->out, ";\n");
    }
    tc__cuda_each_row_end(p);
    tc__line(p);
    tc__put(p->out, "__syncthreads();\n");
}

// The result of one accumulator for a row.
static void tc__cuda_below_value(tc__printer *p, const tc__node *n, int part) {
    long long i = n->attr[TC__COMBINE_ACCUMULATOR];
    char at[32];
    const tc__acc *a = &p->acc[i];
    int below = tc__cuda_below(p), across = tc__cuda_across(p);
    const char *l = p->row_lanes ? "l" : "0";
    tc__cuda_across_at(p, at);
    if (tc__is_arg(a) && below > 1) {
        tc__line(p);
        tc__cuda_acc_name(p, "below", a);
        tc__put(p->out, "<%d, %d>(best%lld[%s], at%lld[%s], part%lld + %s, place%lld + %s)",
                below, across, i, l, i, l, i, at, i, at);
        tc__put(p->out, ";\n");
    }
    if (tc__is_arg(a) && part) return;
    tc__put_let(p, n, 0);
    if (tc__is_arg(a))
        tc__put(p->out, "at%lld[%s] == %s ? 0 : at%lld[%s]", i, l, tc__cuda_no_place(p), i,
                l);
    if (!tc__is_arg(a) && below > 1) {
        tc__cuda_acc_name(p, "below", a);
        tc__put(p->out, "<%d, %d>(part%lld + %s)", below, across, i, at);
    }
    if (!tc__is_arg(a) && below == 1) {
        tc__put_acc(p, i);
        tc__put(p->out, "[%s]", l);
    }
    tc__put(p->out, ";\n");
}

static void tc__cuda_put_below(tc__printer *p, const tc__cuda_run *run) {
    if (tc__cuda_below(p) > 1) tc__cuda_share_below(p, run);
    tc__cuda_row_values(p, run->first, run->last, run->part);
    tc__cuda_each_row(p);
    for (uint32_t id = run->first; id < run->last; id++)
        tc__cuda_below_value(p, tc__body(p, id), run->part);
    tc__cuda_each_row_end(p);
}

// ---- columns cut into parts ----

// The partial result of a part: parts one below the other, rows side by side.
static void tc__cuda_below_work(tc__printer *p, const char *name, long long i,
                                const char *part) {
    int64_t rows = tc__ix_value(tc__device_blocks(p->g, p->cuda)) / p->cuda->parts *
                   tc__cuda_across(p);
    tc__put(p->out, "%s%lld[%lld * %s + r%s]", name, i, (long long)rows, part,
            p->row_lanes ? " + l" : "");
}

static void tc__cuda_put_part_below(tc__printer *p, const tc__cuda_run *run) {
    const char *l = p->row_lanes ? "l" : "0";
    tc__cuda_run own = *run;
    own.part = 1;
    tc__line(p);
    tc__put(p->out, "{\n");
    p->indent++;
    tc__cuda_put_below(p, &own);
    tc__line(p);
    tc__put(p->out, tc__cuda_is_ragged(p) ? "if (y == 0 && in)" : "if (y == 0)");
    tc__block_open(p);
    tc__cuda_each_row(p);
    for (uint32_t id = run->first; id < run->last; id++) {
        const tc__node *n = tc__body(p, id);
        long long i = n->attr[TC__COMBINE_ACCUMULATOR];
        tc__line(p);
        tc__cuda_below_work(p, "work", i, "part");
        tc__put(p->out, " = ");
        if (tc__is_arg(&p->acc[i]))
            tc__put(p->out, "best%lld[%s]", i, l);
        else
            tc__put_name(p, n, 0);
        tc__put(p->out, ";\n");
        if (!tc__is_arg(&p->acc[i])) continue;
        tc__line(p);
        tc__cuda_below_work(p, "places", i, "part");
        tc__put(p->out, " = at%lld[%s];\n", i, l);
    }
    tc__cuda_each_row_end(p);
    tc__block_close(p);
    tc__block_close(p);
}

static void tc__cuda_gather_below(tc__printer *p, const tc__cuda_run *run) {
    const char *l = p->row_lanes ? "l" : "0";
    tc__line(p);
    tc__put(p->out, "for (int i = y; i < %d; i += %d)", p->cuda->parts, tc__cuda_below(p));
    tc__block_open(p);
    tc__cuda_each_row(p);
    for (uint32_t id = run->first; id < run->last; id++) {
        long long i = tc__body(p, id)->attr[TC__COMBINE_ACCUMULATOR];
        const tc__acc *a = &p->acc[i];
        tc__line(p);
        if (!tc__is_arg(a)) {
            tc__put_acc(p, i);
            tc__put(p->out, "[%s] = ", l);
        }
        tc__cuda_acc_name(p, tc__is_arg(a) ? "keep" : "acc", a);
        tc__put(p->out, "(");
        tc__put_acc(p, i);
        tc__put(p->out, "[%s], ", l);
        if (tc__is_arg(a)) tc__put(p->out, "at%lld[%s], ", i, l);
        tc__put(p->out, "tc_peek(&");
        tc__cuda_below_work(p, "work", i, "i");
        tc__put(p->out, ")");
        if (tc__is_arg(a)) {
            tc__put(p->out, ", (%s)tc_peek(&", tc__cuda_index_type(p));
            tc__cuda_below_work(p, "places", i, "i");
            tc__put(p->out, ")");
        }
        tc__put(p->out, ");\n");
    }
    tc__cuda_each_row_end(p);
    tc__block_close(p);
}

static void tc__cuda_below_run(tc__printer *p, const tc__node *n) {
    tc__cuda_run run = tc__cuda_run_at(p, n);
    if (p->cuda->parts > 1) {
        tc__cuda_work_names(p, &run);
        tc__cuda_put_part_below(p, &run);
        tc__line(p);
        tc__put(p->out,
                "if (!tc_arrives_last((unsigned *)work + blockIdx.x / %d, %d)) return;\n",
                p->cuda->parts, p->cuda->parts);
        p->launch = TC__CUDA_FINISHING;
        tc__cuda_renew(p, &run);
        tc__cuda_gather_below(p, &run);
    }
    tc__cuda_put_below(p, &run);
}

// ---- the form ----

static void tc__cuda_below_columns(tc__printer *p, tc__ix e, uint32_t begin, uint32_t end) {
    const tc__device_plan *q = p->cuda;
    const char *type = tc__cuda_index_type(p);
    tc__cuda_loop_body b;
    tc__cuda_place at;
    tc__text limit;
    char line[160];
    int below = tc__cuda_below(p), ends = q->parts > 1 || tc__cuda_is_ragged(p);
    if (!tc__cuda_body_open(p, &b, begin, end)) return;
    const char *last = tc__cuda_text_of(p, &limit, e, 0);
    if (ends) last = "last";
    const char *first =
        q->parts > 1 ? (below > 1 ? "first + y" : "first") : (below > 1 ? "y" : "0");
    int deep = q->vectors > 1 && tc__cuda_count_issues(p, &b);
    memset(&at, 0, sizeof at);
    tc__line(p);
    tc__put(p->out, "for (%s %s = %s; %s < %s; %s += %d)", type, deep ? "k" : "c", first,
            deep ? "k" : "c", last, deep ? "k" : "c", deep ? below * q->vectors : below);
    tc__block_open(p);
    if (deep) {
        snprintf(line, sizeof line, "const %s c = k + u * %d;", type, below);
        tc__cuda_place_add(&at, "c", line);
        snprintf(at.inside, sizeof at.inside, "c < %s", last);
        snprintf(at.beyond, sizeof at.beyond, "c >= %s", last);
        tc__cuda_declare(p, &b, q->vectors);
        tc__cuda_put_vectors(p, &b, &at, q->vectors);
    } else {
        tc__cuda_issue_all(p, &b, "", 1);
        tc__cuda_compute(p, &b);
    }
    tc__block_close(p);
    tc__text_free(&limit);
    tc__cuda_body_close(p, &b);
}

// Values of rows and their stores that stand side by side: nodes [begin, end) of the list.
static void tc__cuda_below_values(tc__printer *p, uint32_t begin, uint32_t end) {
    tc__cuda_loop_body b;
    if (!tc__cuda_body_open(p, &b, begin, end)) return;
    tc__cuda_row_values(p, begin, end, 0);
    tc__cuda_compute(p, &b);
    tc__cuda_body_close(p, &b);
}

static int tc__cuda_is_row_statement(const tc__node *n) {
    return n->op == TC_OP_FOR || n->op == TC_OP_END || n->op == TC_OP_NEW ||
           n->op == TC_OP_COMBINE;
}

static void tc__cuda_below_nodes(tc__printer *p) {
    uint32_t count = (uint32_t)p->g->body.node.count;
    for (uint32_t id = 0; id < count; id++) {
        const tc__node *n = tc__body(p, id);
        uint32_t last = id;
        if (n->op == TC_OP_NEW) tc__print_node(p, n);
        if (n->op == TC_OP_COMBINE && tc__cuda_leads_run(p, n)) tc__cuda_below_run(p, n);
        if (n->op == TC_OP_FOR && n->attr[TC__FOR_AXIS] == TC__COL) {
            last = tc__loop_end(p->g, id);
            tc__cuda_below_columns(p, n->attr[TC__FOR_END], id + 1, last);
            id = last;
            continue;
        }
        if (tc__cuda_is_row_statement(n)) continue;
        while (last < count && !tc__cuda_is_row_statement(tc__body(p, last))) last++;
        tc__cuda_below_values(p, id, last);
        id = last - 1;
    }
}

static void tc__cuda_below_ends(tc__printer *p, int ragged) {
    const tc__device_plan *q = p->cuda;
    const char *type = tc__cuda_index_type(p);
    if (!ragged && q->parts == 1) return;
    if (q->parts > 1) {
        tc__line(p);
        tc__put(p->out, "const %s first = part * %lld;\n", type,
                (long long)tc__ix_value(q->chunk));
    }
    tc__line(p);
    tc__put(p->out, "const %s last = ", type);
    if (ragged) tc__put(p->out, "in ? ");
    if (q->parts > 1)
        tc__put(p->out, "tc_min(first + %lld, ", (long long)tc__ix_value(q->chunk));
    tc__put_ix(p, p->g->shape.cols);
    if (q->parts > 1) tc__put(p->out, ")");
    if (ragged) tc__put(p->out, " : 0");
    tc__put(p->out, ";\n");
}

static void tc__cuda_columns(tc__printer *p) {
    const tc__device_plan *q = p->cuda;
    const char *type = tc__cuda_index_type(p), *wide = p->narrow ? "" : "(tc_i64)";
    int ragged = tc__cuda_is_ragged(p), below = tc__cuda_below(p);
    tc__line(p);
    if (below > 1)
        tc__put(p->out, "const int x = threadIdx.x %% %d, y = threadIdx.x / %d", q->sharing,
                q->sharing);
    else
        tc__put(p->out, "const int x = threadIdx.x");
    tc__put(p->out, q->parts > 1 ? ", part = blockIdx.x %% %d;\n" : ";\n", q->parts);
    tc__line(p);
    tc__put(p->out, "const %s %s = (%sblockIdx.x", type, ragged ? "row" : "r", wide);
    if (q->parts > 1) tc__put(p->out, " / %d", q->parts);
    tc__put(p->out, " * %d + x)", q->sharing);
    tc__put(p->out, q->width > 1 ? " * %d;\n" : ";\n", q->width);
    if (ragged) {
        tc__line(p);
        tc__put(p->out, "const int in = row < ");
        tc__put_ix(p, p->g->shape.rows);
        tc__put(p->out, ";\n");
        tc__line(p);
        tc__put(p->out, "const %s r = in ? row : 0;\n", type);
    }
    p->row_lanes = q->width > 1;
    tc__cuda_below_ends(p, ragged);
    tc__cuda_below_nodes(p);
    p->row_lanes = 0;
}
