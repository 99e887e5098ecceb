// C dialect: LOOP lists for gcc and clang with vector types (cpu/vector.h), no includes.
// Every value is a vector of p->unit lanes (8, with AVX-512 mostly 16), a row value has
// equal ones, so an expression is the same text and the same bits everywhere. Loops of 32
// elements hold four or two named copies of each value; what is left runs one vector at a
// time with n counted lanes.

// ---- memory ----

static const char *tc__c_memory(const tc__printer *p, const tc__node *n) {
    return tc__dtypes[p->g->buffer.at[n->attr[0]].dtype].memory;
}

static const char *tc__c_dtype(const tc__printer *p, const tc__node *n) {
    return tc__dtypes[p->g->buffer.at[n->attr[0]].dtype].name;
}

// What follows a row pointer: the rest of the index, and the lane where the vector is the
// row.
static void tc__c_rest(tc__printer *p, const tc__row_pointer *q, tc__ix rest) {
    int zero = tc__ix_equals(rest, 0);
    if (!zero) tc__put_ix(p, rest);
    if (q->stride && p->shift) {
        tc__put(p->out, "%s%lld", zero ? "" : " + ", (long long)(q->stride * p->shift));
        zero = 0;
    }
    if (q->stride && p->lane) {
        tc__put(p->out, "%s%lld * l", zero ? "" : " + ", (long long)q->stride);
        zero = 0;
    }
    if (zero) tc__put(p->out, "0");
}

// `in0_r + c + 8` or, as an element, `in0_r[c + 8]`.
static void tc__c_address(tc__printer *p, const tc__node *n, int element) {
    const char *join = element ? "[" : " + ", *end = element ? "]" : "";
    tc__ix part = p->outer < 0 ? 0 : tc__row_part(p, n->attr[1], (tc__axis)p->outer);
    tc__row_pointer *q = part ? tc__find_pointer(p, n->attr[0], part) : NULL;
    if (q) {
        tc__put_pointer_name(p, q);
        tc__put(p->out, "%s", join);
        tc__c_rest(p, q, tc__ix_sub(p->g->body.ix, n->attr[1], part));
        tc__put(p->out, "%s", end);
        return;
    }
    tc__put_buffer(p, n->attr[0]);
    tc__put(p->out, "%s", join);
    if (!tc__is_lane_row(p->g, n, p->axis)) {
        tc__put_ix(p, n->attr[1]);
    } else {
        int shift = p->shift;
        p->shift = 0;
        tc__put(p->out, "32 * (");
        tc__put_ix(p, n->attr[1]);
        tc__put(p->out, ") + r %% 32 + %d%s", shift, p->lane ? " + l" : "");
        p->shift = shift;
    }
    tc__put(p->out, "%s", end);
}

// ---- predicates ----

static int tc__c_pred_first(const tc__node *n) {
    return n->op == TC_OP_LOAD ? TC__LOAD_FIXED : 0;
}

static void tc__c_in_range(tc__printer *p, tc__ix e, tc__ix limit) {
    tc__put(p->out, "(tc_u64)(");
    tc__put_ix(p, e);
    tc__put(p->out, ") < (tc_u64)(");
    tc__put_ix(p, limit);
    tc__put(p->out, ")");
}

// All pairs at the present shift and lane.
static void tc__c_pred(tc__printer *p, const tc__node *n) {
    for (uint32_t i = (uint32_t)tc__c_pred_first(n); i + 1 < n->n_attr; i += 2) {
        if (i > (uint32_t)tc__c_pred_first(n)) tc__put(p->out, " && ");
        tc__c_in_range(p, n->attr[i], n->attr[i + 1]);
    }
}

// Whether the predicate holds for a vector when it holds for its first and last lane.
static int tc__c_pred_is_range(const tc__printer *p, const tc__node *n) {
    for (uint32_t i = (uint32_t)tc__c_pred_first(n); i + 1 < n->n_attr; i += 2) {
        tc__ix stride;
        if (tc__access_along(p->g, n->attr[i + 1], p->axis, p->unit) != TC__UNIFORM)
            return 0;
        if (!tc__ix_steps(p->g, n->attr[i], p->axis, p->unit, &stride)) return 0;
        if (!tc__ix_is_const(stride)) return 0;
    }
    return 1;
}

// The same for all lanes at once: first lane, and last lane where it differs.
static void tc__c_pred_all(tc__printer *p, const tc__node *n) {
    tc__c_pred(p, n);
    p->shift += p->unit - 1;
    for (uint32_t i = (uint32_t)tc__c_pred_first(n); i + 1 < n->n_attr; i += 2) {
        if (tc__access_along(p->g, n->attr[i], p->axis, p->unit) == TC__UNIFORM) continue;
        tc__put(p->out, " && ");
        tc__c_in_range(p, n->attr[i], n->attr[i + 1]);
    }
    p->shift -= p->unit - 1;
}

// ---- loads and stores ----

// `tc_ld_f32(in0_r + c)`, in a tail `tc_ldn_f32(in0_r + c, n)`
static void tc__c_vector_load(tc__printer *p, const tc__node *n) {
    int whole = !p->tail || tc__is_lane_row(p->g, n, p->axis);
    tc__put(p->out, "tc_ld%s_%s(", whole ? "" : "n", tc__c_dtype(p, n));
    tc__c_address(p, n, 0);
    tc__put(p->out, whole ? ")" : ", n)");
}

static void tc__c_uniform_load(tc__printer *p, const tc__node *n) {
    int dtype = p->g->buffer.at[n->attr[0]].dtype;
    if (tc__is_half(dtype)) {
        tc__put(p->out, "tc_of_%s(tc_splat_i32(", tc__dtypes[dtype].name);
        tc__c_address(p, n, 1);
        tc__put(p->out, "))");
        return;
    }
    tc__put(p->out, "tc_splat_%s(", tc__suffix(dtype));
    if (dtype == TC_BOOL) tc__put(p->out, "-(");
    tc__c_address(p, n, 1);
    tc__put(p->out, dtype == TC_BOOL ? " != 0))" : ")");
}

static tc__value tc__c_fill(const tc__node *n) {
    tc__value v;
    memcpy(&v, &n->attr[2], sizeof v);
    return v;
}

// A number as memory of dtype holds it.
static void tc__c_memory_number(tc__printer *p, int dtype, tc__value v) {
    if (tc__is_half(dtype)) {
        uint16_t bits;
        tc__value_store(&bits, 0, dtype, v);
        tc__put(p->out, "0x%04x", bits);
        return;
    }
    tc__c_number(p, dtype, v);
}

// `for (int l = 0; l < 8; l++) `
static void tc__c_lane_loop(tc__printer *p) {
    tc__put(p->out, "for (int l = 0; l < ");
    if (p->tail)
        tc__put(p->out, "n; l++) ");
    else
        tc__put(p->out, "%d; l++) ", p->unit);
}

// `float x5[8]; for (...) x5[l] = ...;`
static void tc__c_gather(tc__printer *p, const tc__node *n, int copy, int pred) {
    const char *memory = tc__c_memory(p, n);
    tc__value fill = tc__c_fill(n);
    tc__line(p);
    tc__put(p->out, "%s x%u_%d[%d]%s;\n", memory, n->id, copy, p->unit,
            p->tail && !pred ? " = {0}" : "");
    if (pred) {
        tc__line(p);
        tc__put(p->out, "for (int l = 0; l < %d; l++) x%u_%d[l] = ", p->unit, n->id, copy);
        tc__c_memory_number(p, n->dtype, fill);
        tc__put(p->out, ";\n");
    }
    tc__line(p);
    tc__c_lane_loop(p);
    p->lane = 1;
    if (pred) {
        tc__put(p->out, "if (");
        tc__c_pred(p, n);
        tc__put(p->out, ") ");
    }
    tc__put(p->out, "x%u_%d[l] = ", n->id, copy);
    tc__c_address(p, n, 1);
    p->lane = 0;
    tc__put(p->out, ";\n");
}

static void tc__c_gathered(tc__printer *p, const tc__node *n, int copy) {
    tc__put(p->out, "tc_ld_%s(x%u_%d);\n", tc__c_dtype(p, n), n->id, copy);
}

// `tc_vf t5; if (inside) t5 = load; else { lane by lane }`
static void tc__c_guarded_load(tc__printer *p, const tc__node *n, int copy, int pred) {
    tc__line(p);
    tc__put(p->out, "%s ", p->d->reg[tc__class_of(n->dtype)]);
    tc__put_name(p, n, copy);
    tc__put(p->out, " = ");
    tc__c_constant(p, n->dtype, tc__c_fill(n));
    tc__put(p->out, ";\n");
    tc__line(p);
    tc__put(p->out, "if (");
    if (pred == 1)
        tc__c_pred(p, n);
    else
        tc__c_pred_all(p, n);
    tc__put(p->out, ") ");
    tc__put_name(p, n, copy);
    tc__put(p->out, " = ");
    if (tc__access_along(p->g, n->attr[1], p->axis, p->unit) == TC__UNIFORM)
        tc__c_uniform_load(p, n);
    else
        tc__c_vector_load(p, n);
    tc__put(p->out, ";\n");
    if (pred == 1) return;
    tc__line(p);
    tc__put(p->out, "else");
    tc__block_open(p);
    tc__c_gather(p, n, copy, 1);
    tc__line(p);
    tc__put_name(p, n, copy);
    tc__put(p->out, " = ");
    tc__c_gathered(p, n, copy);
    tc__block_close(p);
}

static tc__access tc__c_access(const tc__printer *p, const tc__node *n) {
    if (tc__is_lane_row(p->g, n, p->axis)) return TC__CONTIGUOUS;
    return tc__access_along(p->g, n->attr[1], p->axis, p->unit);
}

static void tc__c_load(tc__printer *p, const tc__node *n, int copy) {
    tc__access access = tc__c_access(p, n);
    int pred = tc__pred_along(p->g, n, p->axis, p->unit);
    int guard = pred == 1 && access != TC__PER_LANE;
    if (pred == 2 && access == TC__CONTIGUOUS && !p->tail)
        guard = tc__c_pred_is_range(p, n);
    if (guard) {
        tc__c_guarded_load(p, n, copy, pred);
        return;
    }
    if (pred || access == TC__PER_LANE) {
        tc__c_gather(p, n, copy, pred);
        tc__put_let(p, n, copy);
        tc__c_gathered(p, n, copy);
        return;
    }
    tc__put_let(p, n, copy);
    if (access == TC__UNIFORM)
        tc__c_uniform_load(p, n);
    else
        tc__c_vector_load(p, n);
    tc__put(p->out, ";\n");
}

// Lane `at` of a stored value as a memory element.
static void tc__c_element(tc__printer *p, const tc__node *n, int copy, const char *at) {
    int dtype = p->g->buffer.at[n->attr[0]].dtype, own = tc__is_own_class(dtype);
    if (!own) tc__put(p->out, "(%s)(", tc__c_memory(p, n));
    if (tc__is_half(dtype)) tc__put(p->out, "tc_bits_%s(", tc__dtypes[dtype].name);
    tc__put_value(p, n->in[0], copy);
    if (tc__is_half(dtype)) tc__put(p->out, ")");
    tc__put(p->out, "[%s]%s", at, own ? "" : dtype == TC_BOOL ? " & 1)" : ")");
}

// Non-temporal stores need addresses that are multiples of the vector; bases are.
static int tc__c_streams(const tc__printer *p, const tc__node *n) {
    int dtype = p->g->buffer.at[n->attr[0]].dtype;
    int least = p->g->tuning.knob[TC__KNOB_STORES] == TC__STORES_STREAMED
                    ? TC__STORE_MAY_STREAM
                    : TC__STORE_STREAMS;
    if (p->g->tuning.knob[TC__KNOB_STORES] == TC__STORES_CACHED) return 0;
    if (n->n_attr < 3 || n->attr[2] < least || tc__dtypes[dtype].bytes < 4 || p->tail)
        return 0;
    tc__ixpool *x = p->g->body.ix;
    tc__ix e = n->attr[1], v = tc__ix_find_var(x, e, p->axis);
    if (v) e = tc__ix_subst(x, e, v, tc__ix_mul(x, v, tc__ix_const(p->unit)));
    return tc__ix_divisor(x, e) % p->unit == 0;
}

static void tc__c_store(tc__printer *p, const tc__node *n, int copy) {
    tc__access access = tc__c_access(p, n);
    int lane_row = tc__is_lane_row(p->g, n, p->axis), counted = p->tail && !lane_row;
    tc__line(p);
    if (access == TC__CONTIGUOUS) {
        tc__put(p->out, "tc_%s_%s(",
                counted               ? "stn"
                : tc__c_streams(p, n) ? "nt"
                                      : "st",
                tc__c_dtype(p, n));
        tc__c_address(p, n, 0);
        tc__put(p->out, ", ");
        tc__put_value(p, n->in[0], copy);
        tc__put(p->out, counted ? ", n);\n" : ");\n");
        return;
    }
    if (access == TC__PER_LANE) {
        tc__c_lane_loop(p);
        p->lane = 1;
    }
    tc__c_address(p, n, 1);
    tc__put(p->out, " = ");
    int constant = !tc__lanes_differ(tc__body(p, n->in[0]), p->axis);
    tc__c_element(p, n, copy, p->lane && !constant ? "l" : "0");
    p->lane = 0;
    tc__put(p->out, ";\n");
}

// ---- other values ----

static void tc__c_index(tc__printer *p, const tc__node *n, int copy) {
    tc__ix e = n->attr[0], stride;
    int steps =
        tc__lanes_differ(n, p->axis) && tc__ix_steps(p->g, e, p->axis, p->unit, &stride);
    if (!tc__lanes_differ(n, p->axis) || (steps && tc__ix_is_const(stride))) {
        int64_t s = steps ? tc__ix_value(stride) : 0;
        tc__put_let(p, n, copy);
        tc__put(p->out, s == 1 ? "tc_iota_i64(" : "tc_splat_i64(");
        tc__put_ix(p, e);
        tc__put(p->out, ")");
        if (s && s != 1) tc__put(p->out, " + tc_iota_i64(0) * %lld", (long long)s);
        tc__put(p->out, ";\n");
        return;
    }
    tc__line(p);
    tc__put(p->out, "tc_i64 x%u_%d[%d];\n", n->id, copy, p->unit);
    tc__line(p);
    p->lane = 1;
    tc__put(p->out, "for (int l = 0; l < %d; l++) x%u_%d[l] = ", p->unit, n->id, copy);
    tc__put_ix(p, e);
    p->lane = 0;
    tc__put(p->out, ";\n");
    tc__put_let(p, n, copy);
    tc__put(p->out, "tc_ld_i64(x%u_%d);\n", n->id, copy);
}

static void tc__c_check(tc__printer *p, const tc__node *n, int copy) {
    int one = !tc__lanes_differ(n, p->axis);
    tc__put_let(p, n, copy);
    tc__put(p->out, one ? "tc_check_one(a, " : "tc_check(a, ");
    tc__put_value(p, n->in[0], copy);
    tc__put(p->out, ", ");
    tc__put_ix(p, n->attr[0]);
    tc__put(p->out, ", %lld", (long long)n->attr[1]);
    if (!one && p->tail) tc__put(p->out, ", n");
    if (!one && !p->tail) tc__put(p->out, ", %d", p->unit);
    tc__put(p->out, ");\n");
}

static void tc__c_valid(tc__printer *p, const tc__node *n, int copy) {
    if (tc__pred_along(p->g, n, p->axis, p->unit) != 2) {
        tc__put_let(p, n, copy);
        tc__put(p->out, "tc_splat_i32(-(");
        if (n->n_attr)
            tc__c_pred(p, n);
        else
            tc__put(p->out, "1");
        tc__put(p->out, "));\n");
        return;
    }
    tc__line(p);
    tc__put(p->out, "tc_i32 x%u_%d[%d];\n", n->id, copy, p->unit);
    tc__line(p);
    p->lane = 1;
    tc__put(p->out, "for (int l = 0; l < %d; l++) x%u_%d[l] = -(", p->unit, n->id, copy);
    tc__c_pred(p, n);
    p->lane = 0;
    tc__put(p->out, ");\n");
    tc__put_let(p, n, copy);
    tc__put(p->out, "tc_ld_i32(x%u_%d);\n", n->id, copy);
}

static void tc__c_random(tc__printer *p, const tc__node *n, int copy) {
    const char *cls = tc__suffix(n->dtype);
    int words = (n->attr[0] ? 2 : 1) * (n->dtype == TC_F64 ? 2 : 1);
    tc__line(p);
    tc__put(p->out, "tc_vu w%u_%d[4];\n", n->id, copy);
    tc__line(p);
    tc__put(p->out, "tc_philox(");
    tc__put_value(p, n->in[0], copy);
    tc__put(p->out, ", draw + %lld, seed, w%u_%d);\n", (long long)n->attr[1], n->id, copy);
    tc__put_let(p, n, copy);
    tc__put(p->out, "tc_%s_%s(w%u_%d[0]", n->attr[0] ? "normal" : "uniform", cls, n->id,
            copy);
    for (int w = 1; w < words; w++) tc__put(p->out, ", w%u_%d[%d]", n->id, copy, w);
    tc__put(p->out, ");\n");
}

// exp and log in the form that the range of the operand allows.
static void tc__c_ranged(tc__printer *p, const tc__node *n, int copy) {
    const char *form = tc__ranged_form(p->g, n);
    if (!form) {
        tc__print_alu(p, n, copy);
        return;
    }
    tc__put_let(p, n, copy);
    tc__put(p->out, "tc_%s_%s(", form, tc__suffix(n->dtype));
    tc__put_value(p, n->in[0], copy);
    tc__put(p->out, ");\n");
}

// The first of the nodes sin(x) and cos(x) that stand in one loop with n, when both do.
static const tc__node *tc__c_turn(const tc__printer *p, const tc__node *n) {
    const tc__node *first = NULL, *other = NULL;
    for (size_t i = 0; i < p->g->body.node.count; i++) {
        const tc__node *o = p->g->body.node.at[i];
        if ((o->op != TC_OP_SIN && o->op != TC_OP_COS) || o->in[0] != n->in[0]) continue;
        if (o->level != n->level || o->phase != n->phase) continue;
        if (o->op != n->op) other = o;
        if (!first) first = o;
    }
    return other && n->dtype == TC_F32 ? first : NULL;
}

// sin(x) and cos(x) share the reduction of x to an eighth of a turn.
static void tc__c_trig(tc__printer *p, const tc__node *n, int copy) {
    const tc__node *first = tc__c_turn(p, n);
    if (!first) {
        tc__print_alu(p, n, copy);
        return;
    }
    if (n == first) {
        tc__line(p);
        tc__put(p->out, "tc_vf turn%u_%d;\n", n->id, copy);
        tc__line(p);
        tc__put(p->out, "const tc_vi quarter%u_%d = tc_trig_reduce_f32(", n->id, copy);
        tc__put_value(p, n->in[0], copy);
        tc__put(p->out, ", &turn%u_%d);\n", n->id, copy);
    }
    tc__put_let(p, n, copy);
    tc__put(p->out, n->op == TC_OP_SIN ? "tc_sin_of_f32(" : "tc_cos_of_f32(");
    if (n->op == TC_OP_SIN) tc__put_value(p, n->in[0], copy);
    tc__put(p->out, "%squarter%u_%d, turn%u_%d);\n", n->op == TC_OP_SIN ? ", " : "",
            first->id, copy, first->id, copy);
}

// The product's value at (r, c): finished rows lie in the tile.
static void tc__c_contract(tc__printer *p, const tc__node *n, int copy) {
    tc__put_let(p, n, copy);
    tc__put(p->out, "tc_ld_%s(prod_r + c", tc__suffix(n->dtype)); // rows are padded
    if (p->shift) tc__put(p->out, " + %d", p->shift);
    tc__put(p->out, ");\n");
}

// ---- loops ----

// Columns of a row whose successor is asked for early: a few cache lines, and what stays in
// half of an L2 beside the present one. Layer norm of 4096 columns: 5.5 -> 3.95 ms.
enum { TC__PREFETCH_FROM = 256, TC__PREFETCH_TO = 1 << 15 };

// Where a loop runs: numbers where they are known, else names made by tc__c_span.
typedef struct tc__c_range {
    int known;
    int64_t begin, end, full; // full: the end of whole steps
    uint32_t id;              // of the FOR: end7, full7
    int tail;                 // 0: every step is whole
    int step;
} tc__c_range;

static int tc__c_loop_has_acc(const tc__printer *p, const tc__node *loop, int arg,
                              int chunked) {
    for (int i = 0; i < TC__PRINT_ACCS; i++) {
        const tc__acc *a = &p->acc[i];
        if (!a->used || a->loop != loop) continue;
        if ((arg || !tc__is_arg(a)) && (!chunked || tc__c_is_chunked(a))) return 1;
    }
    return 0;
}

// Elements that one step of a loop along the vector takes.
static int tc__loop_step(const tc__printer *p, const tc__node *n) {
    int knob = p->g->tuning.knob[TC__KNOB_STEPS];
    if (n->attr[0] == TC__ROW) return TC__LANES;
    if (tc__c_loop_has_acc(p, n, 1, 0))
        return tc__sums_are_named(p->g, n) ? (int)TC__LANES : p->unit;
    if (knob == TC__STEPS_VECTOR) return p->unit;
    if (knob == TC__STEPS_TWICE) return 2 * TC__LANES;
    return knob == TC__STEPS_LANES || n->attr[2] >= 4 ? (int)TC__LANES : p->unit;
}

static int tc__c_has_tail(const tc__printer *p, const tc__node *n, int step) {
    tc__ixpool *x = p->g->body.ix;
    tc__ix count = tc__ix_sub(x, n->attr[5], n->attr[4]);
    if (n->attr[1] == TC__BIND_WORKER && p->axis == TC__COL && p->g->grain % step) return 1;
    if (p->parts && p->part_step % step) return 1;
    return tc__ix_divisor(x, count) % step != 0;
}

static void tc__c_bound(tc__printer *p, const tc__c_range *r, const char *name,
                        int64_t value) {
    if (r->known)
        tc__put(p->out, "%lld", (long long)value);
    else
        tc__put(p->out, "%s%u", name, r->id);
}

// `const tc_i64 begin7 = ..., end7 = ..., full7 = ...;` where they are not plain numbers.
static tc__c_range tc__c_span(tc__printer *p, const tc__node *n, int chunked) {
    tc__c_range r;
    memset(&r, 0, sizeof r);
    int worker = n->attr[1] == TC__BIND_WORKER;
    long long grain = p->axis == TC__ROW ? (long long)TC__LANES : (long long)p->g->grain;
    r.id = n->id, r.step = tc__loop_step(p, n), r.tail = tc__c_has_tail(p, n, r.step);
    if (!worker && !chunked && !p->parts && tc__ix_is_const(n->attr[4]) &&
        tc__ix_is_const(n->attr[5])) {
        r.known = 1, r.begin = tc__ix_value(n->attr[4]), r.end = tc__ix_value(n->attr[5]);
        r.full = r.end > r.begin ? r.end - (r.end - r.begin) % r.step : r.begin;
        return r;
    }
    tc__line(p);
    tc__put(p->out, "const %s begin%u = ", p->d->index, r.id);
    if (worker)
        tc__put(p->out, "lo * %lld", grain);
    else if (chunked)
        tc__put(p->out, "chunk");
    else if (p->parts)
        tc__put(p->out, "c0");
    else
        tc__put_ix(p, n->attr[4]);
    tc__put(p->out, ", end%u = ", r.id);
    if (worker) tc__put(p->out, "tc_min(hi * %lld, ", grain);
    if (chunked) tc__put(p->out, "tc_min(chunk + 8192, ");
    if (p->parts)
        tc__put(p->out, "c1");
    else
        tc__put_ix(p, n->attr[5]);
    tc__put(p->out, worker || chunked ? ");\n" : ";\n");
    if (!r.tail) return r;
    tc__line(p);
    tc__put(
        p->out,
        "const %s full%u = end%u > begin%u ? end%u - (end%u - begin%u) %% %d : begin%u;\n",
        p->d->index, r.id, r.id, r.id, r.id, r.id, r.id, r.step, r.id);
    return r;
}

// Row pointers for the accesses inside the loops nested in [begin, end).
static void tc__c_pointers(tc__printer *p, uint32_t begin, uint32_t end, tc__axis axis) {
    int depth = 0;
    for (uint32_t id = begin; id < end; id++) {
        const tc__node *n = tc__body(p, id);
        depth += (n->op == TC_OP_FOR) - (n->op == TC_OP_END);
        if (!depth || (n->op != TC_OP_LOAD && n->op != TC_OP_STORE)) continue;
        tc__row_pointer *q = tc__add_pointer(p, n, axis);
        if (!q) continue;
        const tc__kbuf *b = &p->g->buffer.at[q->buffer];
        tc__line(p);
        tc__put(p->out, "%s%s *", b->written || b->place == TC__BUF_ROW ? "" : "const ",
                tc__dtypes[b->dtype].memory);
        tc__put_pointer_name(p, q);
        tc__put(p->out, " = ");
        tc__put_buffer(p, q->buffer);
        tc__put(p->out, " + ");
        tc__put_ix(p, q->part);
        tc__put(p->out, ";\n");
    }
}

static void tc__c_body(tc__printer *p, const tc__node *n, uint32_t begin, uint32_t end) {
    int outer = p->outer, pointers = p->pointers;
    if (n->attr[0] == TC__ROW && p->g->kind == TC__CONTRACTION) {
        tc__class cls = tc__class_of(tc__body(p, p->g->left)->dtype);
        tc__line(p);
        tc__put(p->out, "const %s *prod_r = tile + (r - r0) * wide - c0;\n",
                p->d->scalar[cls]);
    }
    if (n->attr[0] == TC__ROW) {
        p->outer = TC__ROW;
        tc__c_pointers(p, begin, end, TC__ROW);
    }
    tc__print_range(p, begin, end);
    p->outer = outer, p->pointers = pointers;
}

static void tc__c_head(tc__printer *p, const char *v, const tc__c_range *r, int from,
                       int step) {
    tc__line(p);
    tc__put(p->out, "for (%s %s = ", p->d->index, v);
    tc__c_bound(p, r, from ? "full" : "begin", from ? r->full : r->begin);
    tc__put(p->out, "; %s < ", v);
    if (!from && r->tail)
        tc__c_bound(p, r, "full", r->full);
    else
        tc__c_bound(p, r, "end", r->end);
    tc__put(p->out, "; %s += %d)", v, step);
    tc__block_open(p);
}

// What is left after the whole steps, one vector at a time.
static void tc__c_tail(tc__printer *p, const tc__node *n, const tc__c_range *r,
                       uint32_t begin, uint32_t end) {
    const char *v = tc__axis_names[n->attr[0]];
    tc__c_head(p, v, r, 1, p->unit);
    tc__line(p);
    tc__put(p->out, "const int n = (int)tc_min(");
    tc__c_bound(p, r, "end", r->end);
    tc__put(p->out, " - %s, %d);\n", v, p->unit);
    if (p->axis == TC__COL && tc__c_loop_has_acc(p, n, 1, 0)) {
        tc__line(p);
        tc__put(p->out, "const tc_vi inside = tc_lanes(n);\n");
    }
    if (p->axis == TC__COL && r->step > p->unit && tc__c_loop_has_acc(p, n, 0, 0)) {
        tc__line(p);
        tc__put(p->out, "const int part = (int)(c / %d %% %d);\n", p->unit,
                TC__LANES / p->unit);
    }
    p->tail = 1;
    tc__c_body(p, n, begin, end);
    p->tail = 0;
    tc__block_close(p);
}

// ---- the next row ----

// The FOR over columns that is first (or last) in the body; NULL = none.
static const tc__node *tc__c_column_loop(const tc__group *g, int last) {
    const tc__node *found = NULL;
    for (size_t i = 0; i < g->body.node.count; i++) {
        const tc__node *n = g->body.node.at[i];
        if (n->op == TC_OP_FOR && n->attr[0] == TC__COL && (last || !found)) found = n;
    }
    return found;
}

// Rows that several phases go over are in the caches but for the first phase, which waits
// for memory while the last one leaves it idle: so that one asks for the next row.
static int tc__may_prefetch(const tc__group *g) {
    return g->kind == TC__REDUCTION && g->vector == TC__COL &&
           tc__c_column_loop(g, 0) != tc__c_column_loop(g, 1);
}

static int tc__prefetches(const tc__group *g) {
    int knob = g->tuning.knob[TC__KNOB_PREFETCH];
    int64_t columns = tc__ix_hi(g->body.ix, g->cols);
    if (knob || !tc__may_prefetch(g)) return knob == TC__PREFETCH_ON && tc__may_prefetch(g);
    return columns >= TC__PREFETCH_FROM && columns <= TC__PREFETCH_TO;
}

// The distance to the same column of the next row, 0 = n is no stream of whole rows.
static int64_t tc__c_row_stride(const tc__printer *p, const tc__node *n) {
    const tc__kbuf *b = &p->g->buffer.at[n->attr[0]];
    if (!tc__is_memory(b) || b->written) return 0;
    if (n->n_attr > TC__LOAD_FIXED || tc__ix_has_val(p->g->body.ix, n->attr[1])) return 0;
    if (tc__access_along(p->g, n->attr[1], TC__COL, p->unit) != TC__CONTIGUOUS) return 0;
    tc__ixrun run = tc__ix_run(p->g->body.ix, n->attr[1], TC__ROW);
    int plain = run.ok && run.run == INT64_MAX && tc__ix_is_const(run.stride);
    return plain ? tc__ix_value(run.stride) : 0;
}

// `__builtin_prefetch(in0_r + c + 4096, 0, 2);` for each cache line of a step.
static void tc__c_prefetch(tc__printer *p, const tc__node *loop) {
    int last = p->outer == TC__ROW && loop == tc__c_column_loop(p->g, 1);
    if (!last || !tc__prefetches(p->g)) return;
    uint32_t begin = tc__c_column_loop(p->g, 0)->id;
    for (uint32_t id = begin; id < tc__loop_end(p->g, begin); id++) {
        const tc__node *n = tc__body(p, id);
        int64_t stride = n->op == TC_OP_LOAD ? tc__c_row_stride(p, n) : 0;
        if (!stride) continue;
        int line = 64 / (int)tc__dtypes[p->g->buffer.at[n->attr[0]].dtype].bytes;
        for (int shift = 0; shift < p->copies * p->unit; shift += line) {
            p->shift = shift;
            tc__line(p);
            tc__put(p->out, "__builtin_prefetch(");
            tc__c_address(p, n, 0);
            tc__put(p->out, " + %lld, 0, 2);\n", (long long)stride);
        }
        p->shift = 0;
    }
}

static void tc__c_steps(tc__printer *p, const tc__node *n, uint32_t begin, uint32_t end,
                        int chunked) {
    tc__c_range r = tc__c_span(p, n, chunked);
    if (!r.known || r.full > r.begin) {
        tc__c_head(p, tc__axis_names[n->attr[0]], &r, 0, r.step);
        p->copies = r.step / p->unit;
        tc__c_prefetch(p, n);
        tc__c_body(p, n, begin, end);
        p->copies = 1;
        tc__block_close(p);
    }
    if (r.tail && (!r.known || r.end > r.full)) tc__c_tail(p, n, &r, begin, end);
}

// The steps of a loop over at most 8192 elements, or its chunks of 8192.
static void
tc__c_each_chunk(tc__printer *p, const tc__node *n, uint32_t begin, uint32_t end,
                 void (*steps)(tc__printer *, const tc__node *, uint32_t, uint32_t, int)) {
    if (!n->attr[3] || !tc__c_loop_has_acc(p, n, 0, 1)) {
        steps(p, n, begin, end, 0);
        return;
    }
    tc__line(p);
    tc__put(p->out, "for (%s chunk = ", p->d->index);
    tc__put_ix(p, n->attr[4]);
    tc__put(p->out, "; chunk < ");
    tc__put_ix(p, n->attr[5]);
    tc__put(p->out, "; chunk += 8192)");
    tc__block_open(p);
    for (int i = 0; i < TC__PRINT_ACCS; i++)
        if (p->acc[i].used && p->acc[i].loop == n && tc__c_is_chunked(&p->acc[i]))
            tc__c_acc_reset(p, i, "");
    steps(p, n, begin, end, 1);
    for (int i = 0; i < TC__PRINT_ACCS; i++)
        if (p->acc[i].used && p->acc[i].loop == n && tc__c_is_chunked(&p->acc[i]))
            tc__c_fold_chunk(p, i);
    tc__block_close(p);
}

static void tc__c_serial(tc__printer *p, const tc__node *n, uint32_t begin, uint32_t end,
                         int chunked) {
    const char *v = tc__axis_names[n->attr[0]];
    int worker = n->attr[1] == TC__BIND_WORKER;
    tc__line(p);
    tc__put(p->out, "for (%s %s = ", p->d->index, v);
    int product = worker && p->g->kind == TC__CONTRACTION;
    if (worker)
        tc__put(p->out, product ? "r0" : "lo");
    else if (chunked)
        tc__put(p->out, "chunk");
    else
        tc__put_ix(p, n->attr[4]);
    tc__put(p->out, "; %s < ", v);
    if (worker)
        tc__put(p->out, product ? "r1" : "hi");
    else if (chunked)
        tc__put(p->out, "tc_min(chunk + 8192, ");
    if (!worker) tc__put_ix(p, n->attr[5]);
    tc__put(p->out, "%s; %s++)", chunked ? ")" : "", v);
    tc__block_open(p);
    tc__c_body(p, n, begin, end);
    tc__block_close(p);
}

static void tc__c_loop(tc__printer *p, const tc__node *n, uint32_t begin, uint32_t end) {
    int vector = n->attr[0] == (int64_t)p->axis && n->attr[1] != TC__BIND_SERIAL;
    tc__c_each_chunk(p, n, begin, end, vector ? tc__c_steps : tc__c_serial);
}

// ---- the kernel ----

// Whether the word stands in the text.
static int tc__c_mentions(const tc__text *body, const char *word) {
    size_t n = strlen(word);
    for (const char *s = strstr(body->at, word); s; s = strstr(s + n, word))
        if (!tc__is_word(s[n]) && (s == body->at || !tc__is_word(s[-1]))) return 1;
    return 0;
}

// `const tc_i64 s0 = a->size[0];` for every s<slot> in the body.
static void tc__c_sizes(tc__printer *p, const tc__text *body) {
    int64_t last = -1;
    for (size_t i = 0; i < p->g->body.ix->node.count; i++) {
        const tc__ixnode *n = &p->g->body.ix->node.at[i];
        if (n->kind == TC__IX_SYM && n->a > last) last = n->a;
    }
    for (int64_t slot = 0; slot <= last; slot++) {
        char name[24];
        snprintf(name, sizeof name, "s%lld", (long long)slot);
        if (!tc__c_mentions(body, name)) continue;
        tc__line(p);
        tc__put(p->out, "const tc_i64 %s = a->size[%lld];\n", name, (long long)slot);
    }
}

static void tc__c_buffers(tc__printer *p, const tc__text *body) {
    for (size_t i = 0; i < p->g->buffer.count; i++) {
        const tc__kbuf *b = &p->g->buffer.at[i];
        int scratch = b->place == TC__BUF_ROW || b->place == TC__BUF_TILE;
        const char *type = tc__dtypes[b->dtype].memory,
                   *c = b->written || scratch ? "" : "const ";
        char name[24];
        tc__buffer_name(p, (int64_t)i, name);
        if (!tc__c_mentions(body, name)) continue;
        tc__line(p);
        tc__put(p->out, "%s%s *%s = (%s%s *)", c, type, name, c, type);
        if (!scratch) tc__put(p->out, "a->buf[%u];\n", (unsigned)i);
        if (!scratch) continue;
        tc__put(p->out, "(void *)((char *)a->scratch[worker] + ");
        tc__put_ix(p, b->offset);
        tc__put(p->out, ");\n");
    }
}

static void tc__c_args(tc__printer *p, const tc__text *body) {
    for (size_t id = 0; id < p->g->body.node.count; id++) {
        const tc__node *n = p->g->body.node.at[id];
        char name[24];
        int seen = 0;
        for (size_t j = 0; j < id && n->op == TC_OP_ARG; j++) {
            const tc__node *o = p->g->body.node.at[j];
            seen |= o->op == TC_OP_ARG && o->attr[0] == n->attr[0];
        }
        if (n->op != TC_OP_ARG || seen) continue;
        tc__class cls = tc__class_of(n->dtype);
        snprintf(name, sizeof name, "arg%lld", (long long)n->attr[0]);
        if (!tc__c_mentions(body, name)) continue;
        tc__line(p);
        tc__put(p->out, "const %s %s = tc_splat_%s(", p->d->reg[cls], name,
                tc__class_names[cls]);
        if (n->dtype == TC_BOOL)
            tc__put(p->out, "-(a->arg[%lld].i != 0));\n", (long long)n->attr[0]);
        else
            tc__put(p->out, "(%s)a->arg[%lld].%s);\n", p->d->scalar[cls],
                    (long long)n->attr[0], tc__is_float(n->dtype) ? "f" : "i");
    }
}

static int tc__c_has_row_buffer(const tc__printer *p) {
    for (size_t i = 0; i < p->g->buffer.count; i++)
        if (p->g->buffer.at[i].place == TC__BUF_ROW) return 1;
    return 0;
}

static int tc__c_has_streams(const tc__printer *p) {
    for (size_t id = 0; id < p->g->body.node.count; id++) {
        const tc__node *n = p->g->body.node.at[id];
        if (n->op == TC_OP_STORE && tc__c_streams(p, n)) return 1;
    }
    return 0;
}

static void tc__c_kernel(tc__printer *p, const char *symbol) {
    if (p->g->kind == TC__CONTRACTION) tc__print_contract_block(p, symbol);
    tc__text body, *out = p->out;
    tc__text_init(&body, out->ctx);
    p->out = &body, p->indent = 1;
    if (p->g->kind == TC__CONTRACTION)
        tc__print_contract(p, symbol);
    else
        tc__print_range(p, 0, (uint32_t)p->g->body.node.count);
    p->out = out, p->indent = 0;
    tc__put(out,
            "TC_KERNEL void %s(const tc_kargs *a, tc_i64 lo, tc_i64 hi, tc_i32 worker)",
            symbol);
    tc__block_open(p);
    if (!tc__c_mentions(&body, "worker") && !tc__c_has_row_buffer(p))
        tc__put(out, "    (void)worker;\n");
    tc__c_sizes(p, &body);
    tc__c_buffers(p, &body);
    tc__c_args(p, &body);
    if (tc__c_mentions(&body, "seed"))
        tc__put(out, "    const tc_u64 seed = a->seed, draw = a->draw;\n");
    tc__put_raw(out, body.at, body.size);
    if (tc__c_has_streams(p)) tc__put(out, "    tc_fence();\n");
    tc__block_close(p);
    out->failed |= body.failed;
    tc__text_free(&body);
}

static const tc__print_row tc__c_rows[] = {
    {TC_OP_LOAD, TC__PER_COPY, tc__c_load}, // uniform, a vector, or lane by lane
    {TC_OP_STORE, TC__PER_COPY, tc__c_store},
    {TC_OP_INDEX, TC__PER_COPY, tc__c_index},
    {TC_OP_CHECK, TC__PER_COPY, tc__c_check},
    {TC_OP_VALID, TC__PER_COPY, tc__c_valid},
    {TC_OP_RANDOM, TC__PER_COPY, tc__c_random},
    {TC_OP_CONTRACT, TC__PER_COPY, tc__c_contract},
    {TC_OP_EXP, TC__PER_COPY, tc__c_ranged},
    {TC_OP_LOG, TC__PER_COPY, tc__c_ranged},
    {TC_OP_SIN, TC__PER_COPY, tc__c_trig},
    {TC_OP_COS, TC__PER_COPY, tc__c_trig},
    {TC_OP_NEW, TC__ONCE, tc__c_new},
    {TC_OP_ACC, TC__ONCE, tc__c_acc}, // prints all copies itself
    {TC_OP_COMBINE, TC__ONCE, tc__c_combine},
    {TC_OP_COUNT, TC__ONCE, NULL},
};

// Only those of the user's.
static int tc__c_opaque(tc__text *out, const tc__group *g, const tc__dialect *d,
                        const char *symbol) {
    (void)d;
    return tc__print_custom(out, g, symbol);
}

static const tc__dialect tc__dialect_c = {
    "c",
    {"tc_vf", "tc_vd", "tc_vi", "tc_vl"},
    {"float", "double", "tc_i32", "tc_i64"},
    "tc_i64",
    0,
    0,
    tc__c_rows,
    tc__c_kernel,
    tc__c_loop,
    tc__c_constant,
    NULL,
    NULL,
    tc__c_opaque,
    tc__has_source,
    NULL,
    TC__FUSE,
};
