// C dialect, places: addresses of elements, and the predicates under which one is there, asked for a lane, for
// all lanes at once, or as a mask.

// ---- memory ----

static const char *tc__c_memory(const tc__printer *p, const tc__node *n) {
    return tc__dtypes[tc__buffer_of(p->g, n)->dtype].memory;
}

static const char *tc__c_dtype(const tc__printer *p, const tc__node *n) {
    return tc__dtypes[tc__buffer_of(p->g, n)->dtype].name;
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
    tc__ix part =
        p->outer < 0 ? 0 : tc__row_part(p, n->attr[TC__ACCESS_INDEX], (tc__axis)p->outer);
    tc__row_pointer *q =
        part ? tc__find_pointer(p, n->attr[TC__ACCESS_BUFFER], part) : NULL;
    if (q) {
        tc__put_pointer_name(p, q);
        tc__put(p->out, "%s", join);
        tc__c_rest(p, q, tc__ix_sub(p->g->body.ix, n->attr[TC__ACCESS_INDEX], part));
        tc__put(p->out, "%s", end);
        return;
    }
    tc__put_buffer(p, n->attr[TC__ACCESS_BUFFER]);
    tc__put(p->out, "%s", join);
    if (!tc__is_lane_row(p->g, n, p->axis)) {
        tc__put_ix(p, n->attr[TC__ACCESS_INDEX]);
    } else {
        int shift = p->shift;
        p->shift = 0;
        tc__put(p->out, "32 * (");
        tc__put_ix(p, n->attr[TC__ACCESS_INDEX]);
        tc__put(p->out, ") + r %% 32 + %d%s", shift, p->lane ? " + l" : "");
        p->shift = shift;
    }
    tc__put(p->out, "%s", end);
}

// ---- predicates ----

static int tc__c_pred_first(const tc__node *n) {
    return n->op == TC_OP_LOAD ? TC__LOAD_PREDICATES : 0;
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

// Whether e moves by `step` from lane to lane.
static int tc__c_moves_by(const tc__printer *p, tc__ix e, int step) {
    tc__ix stride;
    return tc__ix_steps(p->g, e, p->axis, p->unit, &stride) && tc__ix_equals(stride, step);
}

// Whether the lanes where the predicate holds are a mask: each pair is the same for all lanes, or its
// expression moves by one, or by one back.
static int tc__c_pred_is_mask(const tc__printer *p, const tc__node *n) {
    for (uint32_t i = (uint32_t)tc__c_pred_first(n); i + 1 < n->n_attr; i += 2) {
        tc__ix e = n->attr[i];
        if (!tc__c_moves_by(p, n->attr[i + 1], 0)) return 0;
        if (!tc__c_moves_by(p, e, 0) && !tc__c_moves_by(p, e, 1) &&
            !tc__c_moves_by(p, e, -1))
            return 0;
    }
    return 1;
}

// Whether pair i of a predicate is the same for all lanes.
static int tc__c_is_still(const tc__printer *p, const tc__node *n, uint32_t i) {
    return tc__c_moves_by(p, n->attr[i], 0);
}

// `(tc_u64)(r - 1) < (tc_u64)(7) && ...`: the pairs that are the same for all lanes; how many there are. `prints` = 0:
// they are only counted.
static int tc__c_still(tc__printer *p, const tc__node *n, int prints) {
    int count = 0;
    for (uint32_t i = (uint32_t)tc__c_pred_first(n); i + 1 < n->n_attr; i += 2) {
        if (!tc__c_is_still(p, n, i)) continue;
        if (count++ && prints) tc__put(p->out, " && ");
        if (prints) tc__c_in_range(p, n->attr[i], n->attr[i + 1]);
    }
    return count;
}

// `tc_inside(c - 1, 1022) & tc_inside(c + 1, 1024)`, in a tail `& tc_lanes(n)`: of pairs that move. One that moves
// back is seen from the limit: 0 <= r - c < 7 says 0 <= 6 - (r - c) < 7. With `still`, `& tc_splat_i32(-(r < 7))`, too.
static void tc__c_mask(tc__printer *p, const tc__node *n, int still) {
    tc__ixpool *x = p->g->body.ix;
    int count = 0;
    for (uint32_t i = (uint32_t)tc__c_pred_first(n); i + 1 < n->n_attr; i += 2) {
        tc__ix e = n->attr[i], limit = n->attr[i + 1];
        int stays = tc__c_is_still(p, n, i), back = tc__c_moves_by(p, e, -1);
        if (stays && !still) continue;
        if (count++) tc__put(p->out, " & ");
        tc__put(p->out, stays ? "tc_splat_i32(-(" : "tc_inside(");
        if (stays) {
            tc__c_in_range(p, e, limit);
        } else {
            tc__put_ix(p,
                       back ? tc__ix_sub(x, limit, tc__ix_add(x, e, tc__ix_const(1))) : e);
            tc__put(p->out, ", ");
            tc__put_ix(p, limit);
        }
        tc__put(p->out, stays ? "))" : ")");
    }
    if (p->tail) tc__put(p->out, " & tc_lanes(n)");
}

// Whether those pairs of a predicate that move do so in turns of two lanes.
static int tc__c_pred_alternates(const tc__printer *p, const tc__node *n) {
    for (uint32_t i = (uint32_t)tc__c_pred_first(n); i + 1 < n->n_attr; i += 2) {
        if (!tc__c_moves_by(p, n->attr[i + 1], 0)) return 0;
        if (!tc__c_is_still(p, n, i) &&
            !tc__ix_repeats(p->g->body.ix, n->attr[i], p->axis, 2, 0))
            return 0;
    }
    return 1;
}

// The pairs that move, at the present shift.
static void tc__c_moving(tc__printer *p, const tc__node *n) {
    int count = 0;
    for (uint32_t i = (uint32_t)tc__c_pred_first(n); i + 1 < n->n_attr; i += 2) {
        if (tc__c_is_still(p, n, i)) continue;
        if (count++) tc__put(p->out, " && ");
        tc__c_in_range(p, n->attr[i], n->attr[i + 1]);
    }
}
