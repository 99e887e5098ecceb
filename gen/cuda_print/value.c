// CUDA dialect, values: the same LOOP lists for NVRTC, no includes. A value is a scalar of one thread.
// What a thread does with a vector of V elements is a loop over them, `l`, that the compiler unrolls;
// before it stand the loads of whole vectors and what is the same for all elements, behind it the
// stores of whole vectors. Where a thread has U vectors there is a loop over `u` that issues all
// loads, then one that computes.
//
// A loop in the text and not copies of each statement: a kernel of halves is a quarter as
// long and reads like its graph. All loads of a loop over u stand before what is computed,
// since only so are they in flight together.

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

// Elements of the vectors that are printed.
static int tc__cuda_width_of(const tc__printer *p) {
    return p->cuda && !p->scalar ? p->cuda->width : 1;
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
    return words[tc__cuda_dtype(p, n)][store];
}

static const char *tc__cuda_wrapped(const tc__printer *p, const tc__node *n, int store) {
    return *tc__cuda_wrap(p, n, store) ? ")" : "";
}

// Where the lanes of a vector are adjacent, or one, its first has the index: so the compiler sees
// which loads of a window are the same.
static void tc__cuda_element(tc__printer *p, const tc__node *n) {
    if (tc__cuda_list_element_at(p, n)) return;
    int lane = p->lane && p->cuda && p->axis == p->cuda->axis;
    tc__access access =
        lane ? tc__device_access(p->g, n->attr[TC__ACCESS_INDEX], p->axis, p->cuda->width)
             : TC__PER_LANE;
    if (access != TC__PER_LANE) p->lane = 0;
    tc__cuda_place_of(p, n->attr[TC__ACCESS_BUFFER], n->attr[TC__ACCESS_INDEX],
                      access == TC__CONTIGUOUS ? " + l" : "", 1);
    if (access != TC__PER_LANE) p->lane = 1;
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

// ---- vectors ----

static int tc__cuda_still(const tc__printer *p, const tc__node *n) {
    return tc__cuda_width_of(p) > 1 &&
           tc__device_is_still(p->g, n, p->cuda->axis, p->cuda->width);
}

static int tc__cuda_wide(const tc__printer *p, const tc__node *n) {
    return tc__cuda_width_of(p) > 1 &&
           tc__device_is_wide(p->g, n, p->cuda->width, p->cuda->axis);
}

static int tc__cuda_early(const tc__printer *p, const tc__node *n) {
    return p->cuda && !p->scalar && tc__device_is_early(p->g, p->cuda, n);
}

// A load of a whole vector that is not issued early: at an index that was loaded, as a row that is
// gathered. It is issued ahead of what is computed for each element.
static int tc__cuda_late(const tc__printer *p, const tc__node *n) {
    if (n->op != TC_OP_LOAD || !p->cuda || p->scalar) return 0;
    const tc__kbuf *b = tc__buffer_of(p->g, n);
    int apart = tc__ix_has_val(p->g->body.ix, n->attr[TC__ACCESS_INDEX]);
    return tc__is_memory(b) && !b->written && apart && n->level == TC__AT_COL &&
           tc__cuda_wide(p, n) && !tc__cuda_early(p, n);
}

// The first load of the element of the row that n loads, -1 where it is not held.
static int64_t tc__cuda_held_by(const tc__printer *p, const tc__node *n) {
    if (!p->cuda || p->scalar || n->op != TC_OP_LOAD) return -1;
    return tc__device_held_load(p->g, p->cuda, n);
}

// A load that is issued now: not of what an earlier phase has loaded.
static int tc__cuda_issues(const tc__printer *p, const tc__node *n) {
    int64_t first = tc__cuda_held_by(p, n);
    if (first >= 0 && p->cuda->hold == TC__DEVICE_SHARED) return 0;
    return tc__cuda_early(p, n) && (first < 0 || first == (int64_t)n->id);
}

// A vector that stays: the thread's registers for its row, `v3[u]`, or `v3` of this vector.
static int tc__cuda_is_array(const tc__printer *p) {
    return p->cuda->hold == TC__DEVICE_REGISTERS || p->cuda->vectors > 1;
}

// `tc_pack<float, 4>`, or `float` where there is one element.
static void tc__cuda_type(tc__printer *p, const char *element, int one) {
    int width = one ? 1 : tc__cuda_width_of(p);
    tc__put(p->out, width > 1 ? "tc_pack<%s, %d>" : "%s", element, width);
}

// What the load n was loaded into: `v3[u].at[l]`.
static void tc__cuda_loaded(tc__printer *p, const tc__node *n, int lanes) {
    int64_t first = tc__cuda_held_by(p, n);
    tc__put(p->out, "v%lld%s", (long long)(first < 0 ? n->id : first),
            tc__cuda_is_array(p) && !tc__cuda_late(p, n) &&
                    (first < 0 || p->cuda->hold == TC__DEVICE_REGISTERS)
                ? "[u]"
                : "");
    if (lanes && tc__cuda_width_of(p) > 1 && !tc__cuda_still(p, n))
        tc__put(p->out, ".at[l]");
}

// What a vector is loaded by, before its address.
static const char *tc__cuda_load_word(const tc__printer *p, const tc__node *n) {
    return tc__device_is_made(p->g, n) ? "*(" : "tc_load(";
}

// `(const tc_pack<float, 4> *)&in0[c]`
static void tc__cuda_address(tc__printer *p, const tc__node *n) {
    tc__put(p->out, n->op == TC_OP_LOAD ? "(const " : "(");
    tc__cuda_type(p, tc__cuda_memory(p, n), 0);
    tc__put(p->out, " *)&");
    tc__cuda_place_of(p, n->attr[TC__ACCESS_BUFFER], n->attr[TC__ACCESS_INDEX], "",
                      tc__cuda_width_of(p));
}

static void tc__cuda_unroll(tc__printer *p, const char *variable, int count) {
    tc__line(p);
    tc__put(p->out, "#pragma unroll\n");
    tc__line(p);
    tc__put(p->out, "for (int %s = 0; %s < %d; %s++)", variable, variable, count, variable);
    tc__block_open(p);
}

// A load of the whole vector: ` = tc_load((const tc_pack<float, 4> *)&in0[c])`.
static void tc__cuda_issue_wide(tc__printer *p, const tc__node *n) {
    if (tc__cuda_guarded(n)) tc__cuda_pred(p, n, TC__LOAD_PREDICATES);
    if (tc__cuda_guarded(n)) tc__put(p->out, " ? ");
    tc__put(p->out, "%s", tc__cuda_load_word(p, n));
    tc__cuda_address(p, n);
    tc__put(p->out, ")");
    if (!tc__cuda_guarded(n)) return;
    tc__put(p->out, " : tc_splat<%s, %d>(", tc__cuda_memory(p, n), tc__cuda_width_of(p));
    tc__cuda_fill(p, n);
    tc__put(p->out, ")");
}

// The load n of vector u, where `guard` holds ("" = always).
static void tc__cuda_issue(tc__printer *p, const tc__node *n, const char *guard, int let) {
    int wide = tc__cuda_wide(p, n), one = tc__cuda_width_of(p) == 1 || tc__cuda_still(p, n);
    tc__line(p);
    if (let) {
        if (wide || one) tc__put(p->out, "const ");
        tc__cuda_type(p, tc__cuda_memory(p, n), one);
        tc__put(p->out, " ");
    }
    if (let && !wide && !one) {
        tc__cuda_loaded(p, n, 0);
        tc__put(p->out, ";\n");
    }
    if (!wide && !one) {
        if (let) tc__line(p);
        tc__put(p->out, "#pragma unroll\n");
        tc__line(p);
        tc__put(p->out, "for (int l = 0; l < %d; l++) ", tc__cuda_width_of(p));
        p->lane = 1;
    }
    if (*guard) tc__put(p->out, "if (%s) ", guard);
    tc__cuda_loaded(p, n, !wide);
    tc__put(p->out, " = ");
    if (wide)
        tc__cuda_issue_wide(p, n);
    else
        tc__cuda_read(p, n);
    tc__put(p->out, ";\n");
    p->lane = 0;
}

// ---- single nodes ----

// An own row that is neither in registers nor in memory: its value is computed again.
static int tc__cuda_again(const tc__printer *p, int64_t b) {
    return p->cuda && tc__device_is_row(p->g, b) && p->cuda->hold != TC__DEVICE_REGISTERS &&
           !p->cuda->kept && tc__device_is_again(p->g, b);
}

// An own row in the thread's registers.
static int tc__cuda_in_registers(const tc__printer *p, int64_t b) {
    return p->cuda && p->cuda->hold == TC__DEVICE_REGISTERS &&
           tc__device_is_own_row(p->g, b);
}

static void tc__cuda_register(tc__printer *p, int64_t b) {
    tc__put_buffer(p, b);
    tc__put(p->out, tc__cuda_width_of(p) > 1 ? "[u].at[l]" : "[u]");
}

static void tc__cuda_load(tc__printer *p, const tc__node *n, int copy) {
    int64_t b = n->attr[TC__LOAD_BUFFER];
    (void)copy;
    tc__put_let(p, n, 0);
    if (tc__cuda_again(p, b)) {
        tc__put_value(p, tc__device_fills(p->g, b)->in[0], 0);
        tc__put(p->out, ";\n");
        return;
    }
    tc__put(p->out, "%s", tc__cuda_wrap(p, n, 0));
    if (tc__cuda_in_registers(p, b))
        tc__cuda_register(p, b);
    else if (tc__cuda_early(p, n) || tc__cuda_late(p, n))
        tc__cuda_loaded(p, n, 1);
    else
        tc__cuda_read(p, n);
    tc__put(p->out, "%s;\n", tc__cuda_wrapped(p, n, 0));
}

// One of the threads that share a row stores what is the row's, and one of its parts before they
// have met. What several blocks make, the one that owns it stores.
static void tc__cuda_elect(tc__printer *p, const tc__node *n) {
    const tc__device_plan *q = p->cuda;
    if (p->owner && tc__buffer_of(p->g, n)->place == TC__BUF_NODE)
        tc__put(p->out, "if (%s) ", p->owner);
    if (q && n->level == TC__AT_ROW && q->form == TC__DEVICE_ROWS && q->sharing > 1)
        tc__put(p->out, "if (x == 0) ");
}

// Whether the vector is stored at once: to memory.
static int tc__cuda_stores_wide(const tc__printer *p, const tc__node *n) {
    return tc__cuda_wide(p, n) &&
           (!tc__device_is_row(p->g, n->attr[TC__STORE_BUFFER]) || p->cuda->kept);
}

static void tc__cuda_store(tc__printer *p, const tc__node *n, int copy) {
    int64_t b = n->attr[TC__STORE_BUFFER];
    (void)copy;
    if (tc__cuda_again(p, b)) return;
    tc__line(p);
    if (tc__cuda_stores_wide(p, n)) {
        int half = tc__is_half(tc__cuda_dtype(p, n)); // all of them are rounded at the end
        tc__put(p->out, "o%u.at[l] = %s", n->id, half ? "" : tc__cuda_wrap(p, n, 1));
        tc__put_value(p, n->in[0], 0);
        tc__put(p->out, "%s;\n", half ? "" : tc__cuda_wrapped(p, n, 1));
        return;
    }
    tc__cuda_elect(p, n);
    if (tc__cuda_in_registers(p, b))
        tc__cuda_register(p, b);
    else
        tc__cuda_element(p, n);
    tc__put(p->out, " = %s", tc__cuda_wrap(p, n, 1));
    tc__put_value(p, n->in[0], 0);
    tc__put(p->out, "%s;\n", tc__cuda_wrapped(p, n, 1));
}

// The store of a whole vector, behind the loop over its elements.
static void tc__cuda_store_wide(tc__printer *p, const tc__node *n) {
    int dtype = tc__cuda_dtype(p, n), made = tc__device_is_made(p->g, n);
    tc__line(p);
    tc__cuda_elect(p, n);
    tc__put(p->out, made ? "*(" : "tc_store(");
    tc__cuda_address(p, n);
    tc__put(p->out, made ? ") = " : ", ");
    if (tc__is_half(dtype))
        tc__put(p->out, "tc_halves_%s(o%u)", tc__dtypes[dtype].name, n->id);
    else
        tc__put(p->out, "o%u", n->id);
    tc__put(p->out, made ? ";\n" : ");\n");
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

// Whether lane 0 of the vector that is printed has an element whose index is a multiple of four.
static int tc__cuda_draws_in_fours(const tc__printer *p, const tc__node *n) {
    const tc__node *at = tc__body(p, n->in[0]);
    int width = tc__cuda_width_of(p);
    return p->lane && !p->scalar && width % 4 == 0 && at->op == TC_OP_INDEX &&
           tc__device_access(p->g, at->attr[TC__INDEX_EXPR], p->cuda->axis, width) ==
               TC__CONTIGUOUS &&
           tc__device_is_aligned(p->g, at->attr[TC__INDEX_EXPR], width, p->cuda->axis);
}

// `draw` and `seed` are read once, at the head of the kernel.
static void tc__cuda_random(tc__printer *p, const tc__node *n, int copy) {
    int fours = tc__cuda_draws_in_fours(p, n);
    tc__put_let(p, n, copy);
    tc__put(p->out, "tc_%s_%s(tc_drawn<%d>(",
            n->attr[TC__RANDOM_KIND] ? "normal" : "uniform", tc__suffix(n->dtype),
            tc__draw_words(n));
    tc__put_value(p, n->in[0], copy);
    tc__put(p->out, fours ? " - l, l" : " & -4, (int)");
    if (!fours) tc__put_value(p, n->in[0], copy);
    tc__put(p->out, "%s, draw + %lld, seed));\n", fours ? "" : " & 3",
            (long long)n->attr[TC__RANDOM_DRAW]);
}

// A cast to a half that is only stored as one: the store rounds.
static int tc__cuda_is_rounded_later(const tc__printer *p, const tc__node *n) {
    if (!tc__is_half(n->dtype) || n->level == TC__AT_LEFT || n->level == TC__AT_RIGHT ||
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

// ---- the nodes of a loop ----

// What a thread does at the columns of a phase: nodes [0, end) that are marked in set[], of which
// those before `begin` belong to earlier phases and are computed again.
typedef struct tc__cuda_loop_body {
    uint8_t *set;
    uint32_t begin, end;
} tc__cuda_loop_body;

// The nodes [begin, end) and what own rows are computed from again. 0 = no memory, reported.
static int tc__cuda_body_open(tc__printer *p, tc__cuda_loop_body *b, uint32_t begin,
                              uint32_t end) {
    b->begin = begin, b->end = end;
    b->set = TC__NEW_ARRAY(p->out->ctx, uint8_t, p->g->body.node.count);
    if (!b->set) {
        p->out->failed = 1;
        return 0;
    }
    for (uint32_t id = begin; id < end; id++) {
        const tc__node *n = tc__body(p, id);
        if (n->op == TC_OP_LOAD && tc__cuda_again(p, n->attr[TC__LOAD_BUFFER]))
            tc__device_needs(
                p->g, tc__body(p, tc__device_fills(p->g, n->attr[TC__LOAD_BUFFER])->in[0]),
                b->set);
    }
    for (uint32_t id = 0; id < begin; id++)
        if (tc__body(p, id)->level != TC__AT_COL) b->set[id] = 0;
    for (uint32_t id = begin; id < end; id++) b->set[id] = 1;
    return 1;
}

static void tc__cuda_body_close(tc__printer *p, tc__cuda_loop_body *b) {
    tc__free(p->out->ctx, b->set, p->g->body.node.count);
}

// Whether load n is issued in this loop.
static int tc__cuda_issues_in(const tc__printer *p, const tc__cuda_loop_body *b,
                              const tc__node *n) {
    return b->set[n->id] && tc__cuda_issues(p, n) &&
           (n->id >= b->begin || tc__cuda_held_by(p, n) < 0);
}

static int tc__cuda_count_issues(const tc__printer *p, const tc__cuda_loop_body *b) {
    int count = 0;
    for (uint32_t id = 0; id < b->end; id++)
        count += tc__cuda_issues_in(p, b, tc__body(p, id));
    return count;
}

static void tc__cuda_issue_all(tc__printer *p, const tc__cuda_loop_body *b,
                               const char *guard, int let) {
    for (uint32_t id = 0; id < b->end; id++)
        if (tc__cuda_issues_in(p, b, tc__body(p, id)))
            tc__cuda_issue(p, tc__body(p, id), guard, let);
}

// Registers for `count` vectors of each load that is issued.
static void tc__cuda_declare(tc__printer *p, const tc__cuda_loop_body *b, int count) {
    for (uint32_t id = 0; id < b->end; id++) {
        const tc__node *n = tc__body(p, id);
        if (!tc__cuda_issues_in(p, b, n)) continue;
        tc__line(p);
        tc__cuda_type(p, tc__cuda_memory(p, n), tc__cuda_still(p, n));
        tc__put(p->out, " v%u[%d];\n", id, count);
    }
}

// Nodes that are the same in the whole vector, in their order.
static void tc__cuda_print_still(tc__printer *p, const tc__cuda_loop_body *b) {
    for (uint32_t id = 0; id < b->end; id++)
        if (b->set[id] && tc__body(p, id)->op != TC_OP_STORE &&
            tc__cuda_still(p, tc__body(p, id)))
            tc__print_node(p, tc__body(p, id));
}

static void tc__cuda_issue_late(tc__printer *p, const tc__cuda_loop_body *b) {
    for (uint32_t id = 0; id < b->end; id++) {
        const tc__node *n = tc__body(p, id);
        if (b->set[id] && tc__cuda_late(p, n)) tc__cuda_issue(p, n, "", 1);
    }
}

static int tc__cuda_is_result(const tc__printer *p, const tc__node *n) {
    return n->op == TC_OP_STORE && tc__cuda_stores_wide(p, n);
}

static void tc__cuda_results(tc__printer *p, const tc__cuda_loop_body *b) {
    for (uint32_t id = b->begin; id < b->end; id++) {
        const tc__node *n = tc__body(p, id);
        if (!tc__cuda_is_result(p, n)) continue;
        tc__line(p);
        tc__cuda_type(
            p, tc__is_half(tc__cuda_dtype(p, n)) ? "float" : tc__cuda_memory(p, n), 0);
        tc__put(p->out, " o%u;\n", id);
    }
}

// `const tc_pack<tc_u16, 8> v3 = keep3[k];` for what the loop reads of the row in shared memory.
static void tc__cuda_take_shared(tc__printer *p, const tc__cuda_loop_body *b) {
    for (uint32_t first = 0; first < b->end && p->cuda->hold == TC__DEVICE_SHARED;
         first++) {
        int used = 0;
        for (uint32_t id = first; id < b->end; id++)
            used |= b->set[id] && tc__cuda_held_by(p, tc__body(p, id)) == (int64_t)first;
        if (!used) continue;
        tc__line(p);
        tc__put(p->out, "const ");
        tc__cuda_type(p, tc__cuda_memory(p, tc__body(p, first)), 0);
        tc__put(p->out, " v%u = keep%u[k];\n", first, first);
    }
}

// The nodes of a vector, when its loads are issued.
static void tc__cuda_compute(tc__printer *p, const tc__cuda_loop_body *b) {
    int lanes = tc__cuda_width_of(p) > 1;
    tc__cuda_take_shared(p, b);
    if (lanes) tc__cuda_print_still(p, b);
    if (lanes) tc__cuda_issue_late(p, b);
    if (lanes) tc__cuda_results(p, b);
    if (lanes) tc__cuda_unroll(p, "l", tc__cuda_width_of(p));
    p->lane = lanes;
    for (uint32_t id = 0; id < b->end; id++) {
        const tc__node *n = tc__body(p, id);
        int still = lanes && n->op != TC_OP_STORE && tc__cuda_still(p, n);
        if (b->set[id] && !still) tc__print_node(p, n);
    }
    p->lane = 0;
    if (!lanes) return;
    tc__block_close(p);
    for (uint32_t id = b->begin; id < b->end; id++)
        if (tc__cuda_is_result(p, tc__body(p, id))) tc__cuda_store_wide(p, tc__body(p, id));
}

// An expression as text, for the lines that a form puts together.
static const char *tc__cuda_text_of(tc__printer *p, tc__text *t, tc__ix e, int bare) {
    tc__text *out = p->out;
    tc__text_init(t, out->ctx);
    p->out = t;
    if (bare)
        tc__put_ix(p, e);
    else
        tc__put_atom(p, e, 0);
    p->out = out;
    out->failed |= t->failed;
    return t->at ? t->at : "";
}
