// CUDA dialect, accumulators of a device's list: an array of a thread's values, by element of its vectors. What threads
// have together is combined as combine.c has it; PUT, GET and LAST move it through memory.

// The statement before n, in its launch, that names the accumulator; NULL = there is none.
static const tc__node *tc__cuda_named_before(const tc__printer *p, uint32_t id,
                                             int64_t accumulator) {
    int64_t number, monoid;
    while (id-- > 0 && tc__body(p, id)->op != TC_OP_LAUNCH) {
        const tc__node *n = tc__body(p, id);
        int named = tc__accumulator_of(n, &number, &monoid);
        if (n->op == TC_OP_NEW) named = 1, number = n->attr[TC__NEW_ACCUMULATOR];
        if (named && number == accumulator) return n;
    }
    return NULL;
}

// An accumulator is an array over the elements of its vectors: made once in a launch, then set again.
static void tc__cuda_list_new(tc__printer *p, const tc__node *n, int copy) {
    int64_t i = n->attr[TC__NEW_ACCUMULATOR];
    int width = (int)n->attr[TC__NEW_WIDTH];
    (void)copy;
    if (tc__cuda_named_before(p, n->id, i))
        tc__cuda_renew(p, i, width);
    else
        tc__cuda_put_new(p, n, width);
}

// Where the thread's value is: element l of the vector loop, else the first.
static const char *tc__cuda_lane(const tc__printer *p) {
    return p->vector ? tc__axis_name(p->vector->axis) : "0";
}

// `work0[4 * r + z]`
static void tc__cuda_put_work(tc__printer *p, const tc__node *n, int64_t buffer) {
    tc__put_buffer(p, buffer);
    tc__put(p->out, "[");
    tc__put_ix(p, n->attr[TC__PUT_INDEX]);
    tc__put(p->out, "]");
}

// `shared0[128 * y + 4 * x + l] = sum0[l];`
static void tc__cuda_list_put(tc__printer *p, const tc__node *n, int copy) {
    int64_t i = n->attr[TC__PUT_ACCUMULATOR];
    const tc__node *last = tc__cuda_named_before(p, n->id, i);
    const char *lane = tc__cuda_lane(p);
    (void)copy;
    tc__line(p);
    tc__cuda_put_work(p, n, n->attr[TC__PUT_BUFFER]);
    tc__put(p->out, " = ");
    if (last->op == TC_OP_COMBINE && !tc__is_arg(&p->acc[i]))
        tc__put_name(p, last, 0);
    else
        tc__put_acc(p, i), tc__put(p->out, "[%s]", lane);
    tc__put(p->out, ";\n");
    if (n->n_attr <= TC__PUT_PLACES) return;
    tc__line(p);
    tc__cuda_put_work(p, n, n->attr[TC__PUT_PLACES]);
    tc__put(p->out, " = at%lld[%s];\n", (long long)i, lane);
}

// `tc_peek(&work0[4 * r + q])`: what other blocks have written is in no register.
static void tc__cuda_peek(tc__printer *p, const tc__node *n, int64_t buffer) {
    int shared = p->g->buffer.at[buffer].place == TC__BUF_SHARED;
    if (!shared) tc__put(p->out, "tc_peek(&");
    tc__cuda_put_work(p, n, buffer);
    if (!shared) tc__put(p->out, ")");
}

// `sum0[l] = tc_acc_add_f32(sum0[l], shared0[128 * n + 4 * x + l]);`
static void tc__cuda_list_get(tc__printer *p, const tc__node *n, int copy) {
    long long i = n->attr[TC__PUT_ACCUMULATOR];
    const tc__acc *a = &p->acc[i];
    const char *lane = tc__cuda_lane(p);
    (void)copy;
    tc__line(p);
    if (!tc__is_arg(a)) {
        tc__put_acc(p, i);
        tc__put(p->out, "[%s] = ", lane);
    }
    tc__cuda_acc_name(p, tc__is_arg(a) ? "keep" : "acc", a);
    tc__put(p->out, "(");
    tc__put_acc(p, i);
    tc__put(p->out, "[%s], ", lane);
    if (tc__is_arg(a)) tc__put(p->out, "at%lld[%s], ", i, lane);
    tc__cuda_peek(p, n, n->attr[TC__PUT_BUFFER]);
    if (tc__is_arg(a)) {
        tc__put(p->out, ", (%s)", tc__cuda_index_type(p));
        tc__cuda_peek(p, n, n->attr[TC__PUT_PLACES]);
    }
    tc__put(p->out, ");\n");
}

// `if (!tc_arrives_last(&ticket0[r], 4)) return;`
static void tc__cuda_list_last(tc__printer *p, const tc__node *n, int copy) {
    (void)copy;
    tc__line(p);
    tc__put(p->out, "if (!tc_arrives_last(&");
    tc__put_buffer(p, n->attr[TC__LAST_BUFFER]);
    tc__put(p->out, "[");
    tc__put_ix(p, n->attr[TC__LAST_INDEX]);
    tc__put(p->out, "], %lld)) return;\n", (long long)n->attr[TC__LAST_COUNT]);
}

// `tc_forget(held0);`
static void tc__cuda_list_forget(tc__printer *p, const tc__node *n, int copy) {
    (void)copy;
    tc__line(p);
    tc__put(p->out, "tc_forget(");
    tc__put_buffer(p, n->attr[TC__FORGET_BUFFER]);
    tc__put(p->out, tc__cuda_is_kept(p, n->attr[TC__FORGET_BUFFER]) ? ".w);\n" : ");\n");
}

// `tc_begun(ticket0);`
static void tc__cuda_list_begun(tc__printer *p, const tc__node *n, int copy) {
    (void)copy;
    tc__line(p);
    tc__put(p->out, "tc_begun(");
    tc__put_buffer(p, n->attr[TC__BEGUN_BUFFER]);
    tc__put(p->out, ");\n");
}

// `const tc_met met = tc_meets(ticket0, 264, shared9);`, and who leaves returns
static void tc__cuda_list_meet(tc__printer *p, const tc__node *n, int copy) {
    (void)copy;
    tc__line(p);
    tc__put(p->out, "const tc_met met = tc_meets(");
    tc__put_buffer(p, n->attr[TC__MEET_BUFFER]);
    tc__put(p->out, ", %lld, ", (long long)n->attr[TC__MEET_COUNT]);
    tc__put_buffer(p, n->attr[TC__MEET_OWN]);
    tc__put(p->out, ");\n");
    tc__line(p);
    tc__put(p->out, "if (met.turn < 0) return;\n");
}

// An element of a vector's accumulator.
static void tc__cuda_list_element(tc__printer *p, const tc__node *n) {
    long long i = n->attr[TC__COMBINE_ACCUMULATOR];
    const char *lane = tc__cuda_lane(p);
    tc__put_let(p, n, 0);
    if (tc__is_arg(&p->acc[i]))
        tc__put(p->out, "at%lld[%s] == %s ? 0 : at%lld[%s];\n", i, lane,
                tc__cuda_no_place(p), i, lane);
    else
        tc__put_acc(p, i), tc__put(p->out, "[%s];\n", lane);
}

static void tc__cuda_list_step(tc__printer *p, const tc__node *n, int copy) {
    (void)copy;
    tc__cuda_put_step(p, n, p->vector ? tc__axis_name(p->vector->axis) : "0", "c");
}

// What all that stand side by side have: they share their barrier.
static void tc__cuda_list_combine(tc__printer *p, const tc__node *n, int copy) {
    (void)copy;
    if (p->vector) {
        tc__cuda_list_element(p, n);
        return;
    }
    if (!tc__cuda_leads_run(p, n)) return;
    tc__cuda_run run = tc__cuda_run_at(p, n);
    p->team = (int)n->attr[TC__COMBINE_THREADS];
    p->cluster =
        n->n_attr > TC__COMBINE_THREADS + 1 ? (int)n->attr[TC__COMBINE_THREADS + 1] : 0;
    tc__cuda_put_run(p, &run);
}
