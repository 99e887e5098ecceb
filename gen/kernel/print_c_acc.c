// C dialect: constants, and accumulators of reductions. 32 logical lanes are four named
// vectors of 8 (two of 16, eight of 4), as many in memory where the loop body is heavy, or 32 vectors in
// memory where the vector runs along the rows. Behind 8192 columns a second set of lanes takes the
// results of the chunks. argmax and argmin keep a value and an index per lane; their order
// is total, so any order does.

// ---- constants ----

static void tc__c_number(tc__printer *p, int dtype, tc__value v) {
    if (tc__is_float(dtype)) {
        tc__put_hexfloat(p->out, v.f, dtype != TC_F64);
        return;
    }
    if (v.i == INT64_MIN)
        tc__put(p->out, "(-0x7fffffffffffffff - 1)");
    else if (dtype == TC_I32 && v.i == INT32_MIN)
        tc__put(p->out, "(-0x7fffffff - 1)");
    else
        tc__put(p->out, "%lld", (long long)v.i);
}

static void tc__c_constant(tc__printer *p, int dtype, tc__value v) {
    if (dtype == TC_BOOL) v.i = -(v.i != 0);
    tc__put(p->out, "TC_K_%s(", tc__suffix(dtype));
    tc__c_number(p, dtype, v);
    tc__put(p->out, ")");
}

// ---- accumulators ----

static void tc__c_acc_fn(tc__printer *p, const tc__acc *a) {
    tc__put(p->out, "tc_acc_%s_%s", tc__op_name(a->monoid), tc__suffix(a->dtype));
}

// 1 when the winner's index needs 64 bits: 64-bit values, whose masks are as wide, or long
// rows.
static int tc__c_wide_at(const tc__printer *p, const tc__acc *a) {
    tc__class cls = tc__class_of(a->dtype);
    return cls == TC__CLASS_f64 || cls == TC__CLASS_i64 ||
           tc__ix_hi(p->g->body.ix, a->loop->attr[TC__FOR_END]) >= INT32_MAX;
}

static int tc__c_is_chunked(const tc__acc *a) {
    return a->loop->attr[TC__FOR_CHUNK] && !tc__is_arg(a);
}

// Vectors that hold the 32 logical lanes.
static int tc__c_sets(const tc__printer *p) { return TC__LANES / p->unit; }

// The set that a copy of a step adds to: steps along columns may hold all of them more than once.
static int tc__c_set_of(const tc__printer *p, int copy) {
    return p->axis == TC__ROW ? copy : copy % tc__c_sets(p);
}

// max0_2, max0[q], max0[c % 32][2]
static void tc__c_acc_lane(tc__printer *p, int64_t i, int copy) {
    const tc__acc *a = &p->acc[i];
    tc__put_acc(p, i);
    if (tc__is_arg(a) || a->form == TC__ACC_NAMED)
        tc__put(p->out, "_%d", copy);
    else if (a->form == TC__ACC_ARRAY && p->copies > 1)
        tc__put(p->out, "[%d]", copy);
    else if (a->form == TC__ACC_ARRAY)
        tc__put(p->out, "[c / %d %% %d]", p->unit, tc__c_sets(p));
    else
        tc__put(p->out, "[c %% 32][%d]", copy);
}

static void tc__c_identity(tc__printer *p, const tc__acc *a) {
    tc__c_constant(p, a->dtype, tc__identity(a->monoid, a->dtype));
}

// Sets the first set of lanes to the identity; `type` also declares it.
static void tc__c_acc_reset(tc__printer *p, int64_t i, const char *type) {
    const tc__acc *a = &p->acc[i];
    int count = a->form == TC__ACC_LANES ? p->copies : tc__c_sets(p);
    if (a->form == TC__ACC_LANES && *type) {
        tc__line(p);
        tc__put(p->out, "%s", type);
        tc__put_acc(p, i);
        tc__put(p->out, "[%d][%d];\n", a->lanes, p->copies);
    }
    if (a->form == TC__ACC_ARRAY && *type) {
        tc__line(p);
        tc__put(p->out, "%s", type);
        tc__put_acc(p, i);
        tc__put(p->out, "[%d];\n", tc__c_sets(p));
    }
    if (a->form == TC__ACC_LANES) {
        tc__line(p);
        tc__put(p->out, "for (int l = 0; l < %d; l++)", a->lanes);
        tc__block_open(p);
    }
    for (int j = 0; j < count; j++) {
        tc__line(p);
        if (a->form == TC__ACC_NAMED) tc__put(p->out, "%s", type);
        tc__put_acc(p, i);
        tc__put(p->out,
                a->form == TC__ACC_NAMED   ? "_%d = "
                : a->form == TC__ACC_ARRAY ? "[%d] = "
                                           : "[l][%d] = ",
                j);
        tc__c_identity(p, a);
        tc__put(p->out, ";\n");
    }
    if (a->form == TC__ACC_LANES) tc__block_close(p);
}

static void tc__c_new_arg(tc__printer *p, int64_t i) {
    const tc__acc *a = &p->acc[i];
    int wide = tc__c_wide_at(p, a);
    int count = a->form == TC__ACC_LANES   ? p->copies
                : a->form == TC__ACC_NAMED ? tc__c_sets(p)
                                           : 1;
    for (int j = 0; j < count; j++) {
        tc__line(p);
        tc__put(p->out, "%s ", p->d->reg[tc__class_of(a->dtype)]);
        tc__c_acc_lane(p, i, j);
        tc__put(p->out, " = ");
        tc__c_identity(p, a);
        tc__put(p->out, ";\n");
        tc__line(p);
        tc__put(p->out, "%s at%lld_%d = TC_K_%s;\n", wide ? "tc_vl" : "tc_vi", (long long)i,
                j, wide ? "i64(0x7fffffffffffffff)" : "i32(0x7fffffff)");
    }
}

static void tc__c_extent(tc__printer *p, const tc__node *loop) {
    tc__put_ix(
        p, tc__ix_sub(p->g->body.ix, loop->attr[TC__FOR_END], loop->attr[TC__FOR_BEGIN]));
}

// A run-time size may be one chunk: most are, and need no second set.
static void tc__c_if_chunks(tc__printer *p, const tc__node *loop) {
    if (tc__ix_is_const(
            tc__ix_sub(p->g->body.ix, loop->attr[TC__FOR_END], loop->attr[TC__FOR_BEGIN])))
        return;
    tc__put(p->out, "if (");
    tc__c_extent(p, loop);
    tc__put(p->out, " > 8192) ");
}

// The second set of lanes: one result per chunk.
static void tc__c_new_chunks(tc__printer *p, int64_t i) {
    const tc__acc *a = &p->acc[i];
    const char *scalar = p->d->scalar[tc__class_of(a->dtype)];
    tc__value v = tc__identity(a->monoid, a->dtype);
    if (a->dtype == TC_BOOL) v.i = -v.i;
    tc__line(p);
    if (a->form == TC__ACC_LANES) {
        tc__put(p->out, "%s ", p->d->reg[tc__class_of(a->dtype)]);
        tc__put_acc(p, i);
        tc__put(p->out, "_chunk[32][%d];\n", p->copies);
        tc__line(p);
        tc__put(p->out, "for (int l = 0; l < %d; l++) ", 32 * p->copies);
        tc__put_acc(p, i);
        tc__put(p->out, "_chunk[l / %d][l %% %d] = ", p->copies, p->copies);
        tc__c_identity(p, a);
    } else {
        tc__put(p->out, "%s ", scalar);
        tc__put_acc(p, i);
        tc__put(p->out, "_chunk[32], ");
        tc__put_acc(p, i);
        tc__put(p->out, "_last = ");
        tc__c_number(p, a->dtype, v);
        tc__put(p->out, ";\n");
        tc__line(p);
        tc__c_if_chunks(p, a->loop);
        tc__put(p->out, "for (int l = 0; l < 32; l++) ");
        tc__put_acc(p, i);
        tc__put(p->out, "_chunk[l] = ");
        tc__put_acc(p, i);
        tc__put(p->out, "_last");
    }
    tc__put(p->out, ";\n");
}

static void tc__c_new(tc__printer *p, const tc__node *n, int copy) {
    const tc__acc *a = &p->acc[n->attr[TC__NEW_ACCUMULATOR]];
    char type[24];
    (void)copy;
    if (!a->used || a->form == TC__ACC_DOWN) return;
    if (tc__is_arg(a)) {
        tc__c_new_arg(p, n->attr[TC__NEW_ACCUMULATOR]);
        return;
    }
    snprintf(type, sizeof type, "%s ", p->d->reg[tc__class_of(a->dtype)]);
    tc__c_acc_reset(p, n->attr[TC__NEW_ACCUMULATOR], type);
    if (tc__c_is_chunked(a)) tc__c_new_chunks(p, n->attr[TC__NEW_ACCUMULATOR]);
}

// One line: target = monoid(target, value), in a tail only for the counted lanes.
static void tc__c_step_line(tc__printer *p, const tc__node *n, int set, int copy) {
    const tc__acc *a = &p->acc[n->attr[TC__ACC_ACCUMULATOR]];
    int mask = p->tail && p->axis != TC__ROW;
    tc__c_acc_lane(p, n->attr[TC__ACC_ACCUMULATOR], set);
    tc__put(p->out, " = ");
    if (mask)
        tc__put(p->out, "TC_SEL_%s(TC_M_%s(inside), ", tc__suffix(a->dtype),
                tc__suffix(a->dtype));
    tc__c_acc_fn(p, a);
    tc__put(p->out, "(");
    tc__c_acc_lane(p, n->attr[TC__ACC_ACCUMULATOR], set);
    tc__put(p->out, ", ");
    tc__put_value(p, n->in[0], copy);
    tc__put(p->out, ")");
    if (mask) {
        tc__put(p->out, ", ");
        tc__c_acc_lane(p, n->attr[TC__ACC_ACCUMULATOR], set);
        tc__put(p->out, ")");
    }
    tc__put(p->out, ";\n");
}

// The index vector that goes with a value, and the lanes where it wins.
static void tc__c_step_arg(tc__printer *p, const tc__node *n, int copy) {
    int64_t i = n->attr[TC__ACC_ACCUMULATOR];
    const tc__acc *a = &p->acc[i];
    const char *cls = tc__suffix(a->dtype), *at = tc__c_wide_at(p, a) ? "i64" : "i32";
    int narrow_value =
        tc__class_of(a->dtype) == TC__CLASS_f32 || tc__class_of(a->dtype) == TC__CLASS_i32;
    int mixed = narrow_value && tc__c_wide_at(p, a),
        set = p->tail && p->axis != TC__ROW ? 0 : tc__c_set_of(p, copy);
    const char *name = a->monoid == TC_OP_ARGMAX ? "max" : "min";
    if (a->form == TC__ACC_ARRAY) set = 0;
    tc__line(p);
    tc__put(p->out, "{\n");
    p->indent++;
    tc__line(p);
    tc__put(p->out, "const tc_v%s i = tc_%s_%s((tc_%s)(c", at[1] == '6' ? "l" : "i",
            p->axis == TC__ROW ? "splat" : "iota", at, at);
    if (p->axis != TC__ROW && p->shift) tc__put(p->out, " + %d", p->shift);
    tc__put(p->out, "));\n");
    tc__line(p);
    tc__put(p->out, "const %s win = ", narrow_value ? "tc_vi" : "tc_vl");
    if (p->tail && p->axis != TC__ROW) tc__put(p->out, "TC_M_%s(inside) & ", cls);
    tc__put(p->out, "tc_win_%s_%s(", name, cls);
    tc__put_value(p, n->in[0], copy);
    tc__put(p->out, ", best%lld_%d, %sTC_LT_%s(i, at%lld_%d)%s);\n", (long long)i, set,
            mixed ? "TC_B_i64(" : "", at, (long long)i, set, mixed ? ")" : "");
    tc__line(p);
    tc__put(p->out, "best%lld_%d = TC_SEL_%s(win, ", (long long)i, set, cls);
    tc__put_value(p, n->in[0], copy);
    tc__put(p->out, ", best%lld_%d);\n", (long long)i, set);
    tc__line(p);
    tc__put(p->out, "at%lld_%d = TC_SEL_%s(%s, i, at%lld_%d);\n", (long long)i, set, at,
            mixed ? "TC_M_i64(win)" : "win", (long long)i, set);
    tc__block_close(p);
}

// ---- sums down the columns: down_host.c ----

// `sum4_r + c + 8`
static void tc__c_down_at(tc__printer *p, int64_t i, const char *of) {
    tc__put_acc(p, i);
    tc__put(p->out, "%s + c", of);
    if (p->shift) tc__put(p->out, " + %d", p->shift);
}

// `tc_st_f32(sum4_r + c, tc_acc_add_f32(tc_ld_f32(sum4_r + c), t9));`: whole vectors, there is room behind the last column.
static void tc__c_down_step(tc__printer *p, const tc__node *n) {
    int64_t i = n->attr[TC__ACC_ACCUMULATOR];
    const tc__acc *a = &p->acc[i];
    int shift = p->shift;
    for (int j = 0; j < p->copies; j++) {
        p->shift = shift + j * p->unit;
        tc__line(p);
        tc__put(p->out, "tc_st_%s(", tc__suffix(a->dtype));
        tc__c_down_at(p, i, "_r");
        tc__put(p->out, ", ");
        tc__c_acc_fn(p, a);
        tc__put(p->out, "(tc_ld_%s(", tc__suffix(a->dtype));
        tc__c_down_at(p, i, "_r");
        tc__put(p->out, "), ");
        tc__put_value(p, n->in[0], j);
        tc__put(p->out, "));\n");
    }
    p->shift = shift;
}

// `const tc_vf t67 = k0_sum4(sum4 + c, chunks);`, by a function of the kernel: tc__c_down_function.
static void tc__c_down_combine(tc__printer *p, const tc__node *n) {
    int64_t i = n->attr[TC__COMBINE_ACCUMULATOR];
    int shift = p->shift;
    for (int j = 0; j < p->copies; j++) {
        p->shift = shift + j * p->unit;
        tc__put_let(p, n, j);
        tc__put(p->out, "%s_", p->symbol);
        tc__put_acc(p, i);
        tc__put(p->out, "(");
        tc__c_down_at(p, i, "");
        tc__put(p->out, ", ");
        tc__put_ix(p, tc__down_stride(p->g));
        tc__put(p->out, ", ");
        tc__put_ix(p,
                   tc__ix_div(p->g->body.ix, p->g->shape.items, tc__ix_const(TC__LANES)));
        tc__put(p->out, ");\n");
    }
    p->shift = shift;
}

// A function that combines what the items have of a vector of columns: 32 lanes of a chunk, and the chunks likewise.
static void tc__c_down_function(tc__printer *p, int64_t i, const char *symbol) {
    const tc__acc *a = &p->acc[i];
    const char *cls = tc__suffix(a->dtype), *reg = p->d->reg[tc__class_of(a->dtype)];
    static const char *const set[] = {"x", "all"};
    tc__put(p->out, "\nTC_FN %s %s_", reg, symbol);
    tc__put_acc(p, i);
    tc__put(p->out,
            "(const %s *at, tc_i64 stride, tc_i64 chunks) {\n    %s x[32], all[32];\n",
            p->d->scalar[tc__class_of(a->dtype)], reg);
    tc__put(p->out, "    for (int l = 0; l < 32; l++) all[l] = ");
    tc__c_identity(p, a);
    tc__put(p->out, ";\n    for (tc_i64 k = 0; k < chunks; k++, at += 32 * stride) {\n");
    tc__put(p->out,
            "        for (int l = 0; l < 32; l++) x[l] = tc_ld_%s(at + l * stride);\n",
            cls);
    for (int s = 0; s < 2; s++) {
        tc__put(p->out,
                "    %sfor (int h = 16; h; h /= 2)\n        %sfor (int l = 0; l < h; l++) "
                "%s[l] = ",
                s ? "" : "    ", s ? "" : "    ", set[s]);
        tc__c_acc_fn(p, a);
        tc__put(p->out, "(%s[l], %s[l + h]);\n", set[s], set[s]);
        if (s) continue;
        tc__put(p->out, "        if (chunks == 1) return x[0];\n        all[k %% 32] = ");
        tc__c_acc_fn(p, a);
        tc__put(p->out, "(all[k %% 32], x[0]);\n    }\n");
    }
    tc__put(p->out, "    return all[0];\n}\n");
}

// A row value steps every copy too.
static void tc__c_acc(tc__printer *p, const tc__node *n, int copy) {
    const tc__acc *a = &p->acc[n->attr[TC__ACC_ACCUMULATOR]];
    (void)copy;
    if (a->form == TC__ACC_DOWN) {
        tc__c_down_step(p, n);
        return;
    }
    int shift = p->shift,
        counted = p->tail && p->axis != TC__ROW && a->form == TC__ACC_NAMED;
    int times = counted && !tc__is_arg(a) ? tc__c_sets(p) : p->copies;
    for (int j = 0; j < times; j++) {
        p->shift = shift + j * p->unit;
        if (tc__is_arg(a)) {
            tc__c_step_arg(p, n, j);
            continue;
        }
        tc__line(p);
        if (counted) tc__put(p->out, "%sif (part == %d) ", j ? "else " : "", j);
        tc__c_step_line(p, n, tc__c_set_of(p, j), counted ? 0 : j);
    }
    p->shift = shift;
}

static void tc__c_combine_sets(tc__printer *p, int64_t i) {
    const tc__acc *a = &p->acc[i];
    tc__put(p->out, "TC_COMBINE_%s(", tc__suffix(a->dtype));
    tc__c_acc_fn(p, a);
    for (int j = 0; j < tc__c_sets(p); j++) {
        tc__put(p->out, ", ");
        tc__put_acc(p, i);
        tc__put(p->out, a->form == TC__ACC_NAMED ? "_%d" : "[%d]", j);
    }
    tc__put(p->out, ")");
}

// `for (int h = 16; h; h /= 2) ... max0[l][j] = op(max0[l][j], max0[l + h][j]);`
static void tc__c_fold_lanes(tc__printer *p, int64_t i, const char *set, int lanes) {
    const tc__acc *a = &p->acc[i];
    if (lanes < 2) return;
    tc__line(p);
    tc__put(p->out, "for (int h = %d; h; h /= 2) for (int l = 0; l < h; l++)", lanes / 2);
    tc__block_open(p);
    for (int j = 0; j < p->copies; j++) {
        tc__line(p);
        tc__put_acc(p, i);
        tc__put(p->out, "%s[l][%d] = ", set, j);
        tc__c_acc_fn(p, a);
        tc__put(p->out, "(");
        tc__put_acc(p, i);
        tc__put(p->out, "%s[l][%d], ", set, j);
        tc__put_acc(p, i);
        tc__put(p->out, "%s[l + h][%d]);\n", set, j);
    }
    tc__block_close(p);
}

// After a chunk: its result goes to lane chunk % 32 of the second set.
static void tc__c_fold_chunk(tc__printer *p, int64_t i) {
    const tc__acc *a = &p->acc[i];
    const char *cls = tc__suffix(a->dtype);
    if (a->form == TC__ACC_LANES) {
        tc__c_fold_lanes(p, i, "", a->lanes);
        for (int j = 0; j < p->copies; j++) {
            tc__line(p);
            tc__put_acc(p, i);
            tc__put(p->out, "_chunk[chunk / 8192 %% 32][%d] = ", j);
            tc__c_acc_fn(p, a);
            tc__put(p->out, "(");
            tc__put_acc(p, i);
            tc__put(p->out, "_chunk[chunk / 8192 %% 32][%d], ", j);
            tc__put_acc(p, i);
            tc__put(p->out, "[0][%d]);\n", j);
        }
        return;
    }
    tc__line(p);
    tc__put_acc(p, i);
    tc__put(p->out, "_last = ");
    tc__c_combine_sets(p, i);
    tc__put(p->out, ";\n");
    tc__line(p);
    tc__c_if_chunks(p, a->loop);
    tc__put_acc(p, i);
    tc__put(p->out, "_chunk[chunk / 8192 %% 32] = ");
    tc__c_acc_fn(p, a);
    tc__put(p->out, "(tc_splat_%s(", cls);
    tc__put_acc(p, i);
    tc__put(p->out, "_chunk[chunk / 8192 %% 32]), tc_splat_%s(", cls);
    tc__put_acc(p, i);
    tc__put(p->out, "_last))[0];\n");
}

static void tc__c_combine_chunks(tc__printer *p, const tc__node *n, int64_t i) {
    const tc__acc *a = &p->acc[i];
    const char *cls = tc__suffix(a->dtype);
    tc__put_let(p, n, 0);
    tc__put(p->out, "tc_splat_%s(", cls);
    tc__c_extent(p, a->loop);
    tc__put(p->out, " <= 8192 ? ");
    tc__put_acc(p, i);
    tc__put(p->out, "_last\n");
    tc__line(p);
    tc__put(p->out, "    : TC_COMBINE_%s(", cls);
    tc__c_acc_fn(p, a);
    for (int j = 0; j < tc__c_sets(p); j++) {
        tc__put(p->out, ", tc_ld_%s(", cls);
        tc__put_acc(p, i);
        tc__put(p->out, "_chunk + %d)", j * p->unit);
    }
    tc__put(p->out, "));\n");
}

static void tc__c_combine_lanes(tc__printer *p, const tc__node *n, int64_t i) {
    const tc__acc *a = &p->acc[i];
    int chunked = tc__c_is_chunked(a);
    if (!chunked)
        tc__c_fold_lanes(p, i, "", a->lanes);
    else
        tc__c_fold_lanes(p, i, "_chunk", TC__LANES);
    for (int j = 0; j < p->copies; j++) {
        tc__put_let(p, n, j);
        if (chunked) {
            tc__c_extent(p, a->loop);
            tc__put(p->out, " > 8192 ? ");
            tc__put_acc(p, i);
            tc__put(p->out, "_chunk[0][%d] : ", j);
        }
        tc__put_acc(p, i);
        tc__put(p->out, "[0][%d];\n", j);
    }
}

// The winner among the lanes: order does not matter, ties go to the lowest index.
static void tc__c_combine_arg(tc__printer *p, const tc__node *n, int64_t i) {
    const tc__acc *a = &p->acc[i];
    const char *cls = tc__suffix(a->dtype), *at = tc__c_wide_at(p, a) ? "i64" : "i32";
    const char *scalar = p->d->scalar[tc__class_of(a->dtype)];
    int sets = a->form == TC__ACC_NAMED ? tc__c_sets(p) : 1;
    tc__line(p);
    tc__put(p->out, "%s value%lld[%d];\n", scalar, (long long)i, sets * p->unit);
    tc__line(p);
    tc__put(p->out, "tc_%s index%lld[%d];\n", at, (long long)i, sets * p->unit);
    for (int j = 0; j < sets; j++) {
        tc__line(p);
        tc__put(p->out, "tc_st_%s(value%lld + %d, best%lld_%d);\n", cls, (long long)i,
                j * p->unit, (long long)i, j);
        tc__line(p);
        tc__put(p->out, "tc_st_%s(index%lld + %d, at%lld_%d);\n", at, (long long)i,
                j * p->unit, (long long)i, j);
    }
    tc__line(p);
    tc__put(p->out, "int top%lld = 0;\n", (long long)i);
    tc__line(p);
    tc__put(p->out, "for (int l = 1; l < %d; l++)", sets * p->unit);
    tc__block_open(p);
    tc__line(p);
    tc__put(p->out, "const %s v = value%lld[l], b = value%lld[top%lld];\n", scalar,
            (long long)i, (long long)i, (long long)i);
    tc__line(p);
    tc__put(p->out, "const int lower = index%lld[l] < index%lld[top%lld];\n", (long long)i,
            (long long)i, (long long)i);
    tc__line(p);
    tc__put(p->out, "const int same = v == b || (v != v && b != b);\n");
    tc__line(p);
    tc__put(p->out, "if (v %s b || (v != v && b == b) || (same && lower)) top%lld = l;\n",
            a->monoid == TC_OP_ARGMAX ? ">" : "<", (long long)i);
    tc__block_close(p);
    tc__put_let(p, n, 0);
    tc__put(p->out, "tc_splat_i64(index%lld[top%lld] == %s ? 0 : index%lld[top%lld]);\n",
            (long long)i, (long long)i, at[1] == '6' ? "0x7fffffffffffffff" : "0x7fffffff",
            (long long)i, (long long)i);
}

// Vector along the rows: every lane has its own winner.
static void tc__c_combine_arg_rows(tc__printer *p, const tc__node *n, int64_t i) {
    int wide = tc__c_wide_at(p, &p->acc[i]);
    for (int j = 0; j < p->copies; j++) {
        tc__line(p);
        tc__put(p->out, "const tc_vl found%lld_%d = ", (long long)i, j);
        tc__put(p->out, wide ? "at%lld_%d;\n" : "TC_CVT_i32_i64(at%lld_%d);\n",
                (long long)i, j);
        tc__put_let(p, n, j);
        tc__put(p->out,
                "TC_SEL_i64(TC_EQ_i64(found%lld_%d, TC_K_i64(%s)), TC_K_i64(0), "
                "found%lld_%d);\n",
                (long long)i, j, wide ? "0x7fffffffffffffff" : "0x7fffffff", (long long)i,
                j);
    }
}

static void tc__c_combine(tc__printer *p, const tc__node *n, int copy) {
    int64_t i = n->attr[TC__COMBINE_ACCUMULATOR];
    const tc__acc *a = &p->acc[i];
    (void)copy;
    if (a->form == TC__ACC_DOWN) {
        tc__c_down_combine(p, n);
        return;
    }
    if (tc__is_arg(a)) {
        if (p->axis == TC__ROW)
            tc__c_combine_arg_rows(p, n, i);
        else
            tc__c_combine_arg(p, n, i);
        return;
    }
    if (a->form == TC__ACC_LANES) {
        tc__c_combine_lanes(p, n, i);
        return;
    }
    if (tc__c_is_chunked(a)) {
        tc__c_combine_chunks(p, n, i);
        return;
    }
    tc__put_let(p, n, 0);
    tc__put(p->out, "tc_splat_%s(", tc__suffix(a->dtype));
    tc__c_combine_sets(p, i);
    tc__put(p->out, ");\n");
}
