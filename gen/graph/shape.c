// Rules of shapes, which the SHAPE column of ops.def names (see infer.c), and the table of ops that has both.

static int tc__shape_none(tc__infer *q) {
    q->out.rank = 0;
    return 1;
}

static int tc__shape_attr(tc__infer *q) { return q->out.rank <= TC_MAX_RANK; }

static int tc__shape_same(tc__infer *q) {
    q->out.rank = q->in[0]->rank;
    memcpy(q->out.dims, q->in[0]->dims, sizeof q->out.dims);
    return 1;
}

static int tc__bcast_fail(tc__infer *q, uint32_t i, int dim) {
    char x[160], y[160];
    return tc__fail(q->ctx, TC_E_BROADCAST,
                    "%s: sizes do not broadcast: %s and %s differ in dimension %d; "
                    "equal sizes or 1 are needed",
                    tc__called(q->ctx, q->op), tc__dims_text(&q->out, x),
                    tc__dims_text(q->in[i], y), dim);
}

// The size that u and v broadcast to; 0 = they do not. One of them that repeats is 1 for good.
static int tc__broadcast(tc__infer *q, tc__ix u, tc__ix v, tc__ix *out) {
    *out = tc__ix_equals(u, 1) ? v : u;
    if (tc__ix_equals(u, 1) || tc__ix_equals(v, 1)) return 1;
    if (tc__know(q, TC__EQUAL, u, v)) {
        *out = tc__ix_is_const(v) ? v : u;
        return 1;
    }
    *out = v;
    if (tc__know(q, TC__EQUAL, u, tc__ix_const(1))) return 1;
    *out = u;
    return tc__know(q, TC__EQUAL, v, tc__ix_const(1));
}

static int tc__shape_bcast(tc__infer *q) {
    q->out.rank = 0;
    for (uint32_t i = 0; i < q->n_in; i++) {
        const tc__meta *m = q->in[i];
        tc__meta a = q->out;
        int rank = a.rank > m->rank ? a.rank : m->rank;
        for (int d = 0; d < rank; d++) {
            int x = d - (rank - a.rank), y = d - (rank - m->rank);
            tc__ix u = x < 0 ? tc__ix_const(1) : a.dims[x],
                   v = y < 0 ? tc__ix_const(1) : m->dims[y];
            if (tc__broadcast(q, u, v, &q->out.dims[d])) continue;
            q->out = a; // the sizes that are told
            return tc__bcast_fail(q, i, d);
        }
        q->out.rank = (uint8_t)rank;
    }
    return 1;
}

// COPY_: the value broadcasts to the destination.
static int tc__shape_assign(tc__infer *q) {
    const tc__meta *to = q->in[0], *m = q->in[1];
    int lead = to->rank - m->rank, ok = lead >= 0;
    tc__shape_same(q);
    for (int i = 0; ok && i < m->rank; i++)
        ok = tc__know(q, TC__EQUAL, m->dims[i], to->dims[lead + i]) ||
             tc__know(q, TC__EQUAL, m->dims[i], tc__ix_const(1));
    return ok || tc__bcast_fail(q, 1, 0);
}

static tc__ix tc__meta_numel(tc__ixpool *p, const tc__meta *m) {
    tc__ix e = tc__ix_const(1);
    for (int i = 0; i < m->rank; i++) e = tc__ix_mul(p, e, m->dims[i]);
    return e;
}

static int tc__shape_sizes(tc__infer *q) {
    q->out.rank = (uint8_t)q->n_attr;
    memcpy(q->out.dims, q->attr, q->n_attr * sizeof *q->attr);
    return 1;
}

static int tc__shape_reshape(tc__infer *q) {
    char x[160], y[160];
    tc__shape_sizes(q);
    tc__ix have = tc__meta_numel(q->ix, q->in[0]), want = tc__meta_numel(q->ix, &q->out);
    if (tc__know(q, TC__EQUAL, want, have)) return 1;
    return tc__fail(q->ctx, TC_E_SHAPE, "%s: %s has %lld elements, %s has %lld",
                    tc__called(q->ctx, q->op), tc__dims_text(q->in[0], x),
                    (long long)tc__ix_value(have), tc__dims_text(&q->out, y),
                    (long long)tc__ix_value(want));
}

static int tc__shape_permute(tc__infer *q) {
    const tc__meta *m = q->in[0];
    uint32_t seen = 0;
    for (uint32_t i = 0; i < q->n_attr; i++) {
        if (q->attr[i] < 0 || q->attr[i] >= m->rank || (seen >> q->attr[i] & 1))
            return tc__fail(q->ctx, TC_E_DIM,
                            "%s: dimension %lld is out of range or repeated; "
                            "the order must name 0..%d once each",
                            tc__called(q->ctx, q->op), (long long)q->attr[i], m->rank - 1);
        seen |= 1u << q->attr[i];
        q->out.dims[i] = m->dims[q->attr[i]];
    }
    q->out.rank = m->rank;
    if (q->n_attr == m->rank) return 1;
    return tc__fail(q->ctx, TC_E_RANK, "%s: %u dimensions given, the tensor has %d",
                    tc__called(q->ctx, q->op), (unsigned)q->n_attr, m->rank);
}

static int tc__shape_expand(tc__infer *q) {
    const tc__meta *m = q->in[0];
    char x[160], y[160];
    tc__shape_sizes(q);
    int ok = q->out.rank >= m->rank, lead = q->out.rank - m->rank;
    for (int i = 0; ok && i < m->rank; i++)
        ok = tc__know(q, TC__EQUAL, m->dims[i], q->out.dims[lead + i]) ||
             tc__know(q, TC__EQUAL, m->dims[i], tc__ix_const(1));
    if (ok) return 1;
    return tc__fail(
        q->ctx, TC_E_BROADCAST, "%s: %s does not expand to %s; only size 1 repeats",
        tc__called(q->ctx, q->op), tc__dims_text(m, x), tc__dims_text(&q->out, y));
}

static int tc__dim_of(tc__infer *q, int64_t dim) {
    if (dim >= 0 && dim < q->in[0]->rank) return 1;
    return tc__fail(q->ctx, TC_E_DIM, "%s: dimension %lld is out of range for rank %d",
                    tc__called(q->ctx, q->op), (long long)dim, q->in[0]->rank);
}

static int tc__shape_slice(tc__infer *q) {
    int64_t dim = q->attr[TC__SLICE_DIM];
    if (!tc__dim_of(q, dim)) return 0;
    tc__shape_same(q);
    q->out.dims[dim] = q->attr[TC__SLICE_COUNT];
    return 1;
}

static int tc__shape_pad(tc__infer *q) {
    int64_t dim = q->attr[TC__PAD_DIM];
    if (!tc__dim_of(q, dim)) return 0;
    tc__shape_same(q);
    tc__ix n = q->out.dims[dim];
    if (!tc__ix_equals(q->attr[TC__PAD_DILATION], 1) &&
        tc__know(q, TC__DIFFER, n, tc__ix_const(0))) {
        n = tc__ix_mul(q->ix, tc__ix_sub(q->ix, n, tc__ix_const(1)),
                       q->attr[TC__PAD_DILATION]);
        n = tc__ix_add(q->ix, n, tc__ix_const(1));
    }
    q->out.dims[dim] = tc__ix_add(
        q->ix, n, tc__ix_add(q->ix, q->attr[TC__PAD_LOW], q->attr[TC__PAD_HIGH]));
    if (tc__know(q, TC__NOT_LESS, q->out.dims[dim], tc__ix_const(0))) return 1;
    tc__ix low = q->attr[TC__PAD_LOW], high = q->attr[TC__PAD_HIGH];
    const char *who = tc__called(q->ctx, q->op);
    char x[160], amounts[60] = "the amounts";
    if (tc__ix_is_const(low) && tc__ix_is_const(high))
        snprintf(amounts, sizeof amounts, "%lld and %lld", (long long)tc__ix_value(low),
                 (long long)tc__ix_value(high));
    return tc__fail(
        q->ctx, TC_E_SHAPE,
        "%s: %s leave dimension %lld of %s a negative size; cut off no more than "
        "there is",
        who, amounts, (long long)dim, tc__dims_text(q->in[0], x));
}

static int tc__shape_window(tc__infer *q) {
    int64_t dim = q->attr[TC__WINDOW_DIM];
    if (!tc__dim_of(q, dim)) return 0;
    tc__shape_same(q);
    if (q->out.rank == TC_MAX_RANK)
        return tc__fail(q->ctx, TC_E_RANK,
                        "%s: the result would have more than %d dimensions",
                        tc__called(q->ctx, q->op), TC_MAX_RANK);
    // count = (n - (size - 1) * dilation - 1) / stride + 1
    tc__ix reach =
        tc__ix_mul(q->ix, tc__ix_sub(q->ix, q->attr[TC__WINDOW_SIZE], tc__ix_const(1)),
                   q->attr[TC__WINDOW_DILATION]);
    tc__ix left =
        tc__ix_sub(q->ix, tc__ix_sub(q->ix, q->out.dims[dim], reach), tc__ix_const(1));
    if (!tc__know(q, TC__NOT_LESS, left, tc__ix_const(0)))
        return tc__fail(q->ctx, TC_E_SHAPE,
                        "%s: size %lld (dilation %lld) is larger than the "
                        "dimension %lld; pad it first?",
                        tc__called(q->ctx, q->op),
                        (long long)tc__ix_value(q->attr[TC__WINDOW_SIZE]),
                        (long long)tc__ix_value(q->attr[TC__WINDOW_DILATION]),
                        (long long)tc__ix_value(q->out.dims[dim]));
    q->out.dims[dim] = tc__ix_add(
        q->ix, tc__ix_div(q->ix, left, q->attr[TC__WINDOW_STRIDE]), tc__ix_const(1));
    q->out.dims[q->out.rank++] = q->attr[TC__WINDOW_SIZE];
    return 1;
}

static int tc__shape_cat(tc__infer *q) {
    int64_t dim = q->attr[TC__CAT_DIM];
    char x[160], y[160];
    if (!tc__dim_of(q, dim)) return 0;
    tc__shape_same(q);
    for (uint32_t i = 1; i < q->n_in; i++) {
        int ok = q->in[i]->rank == q->out.rank;
        for (int d = 0; ok && d < q->out.rank; d++)
            ok = d == dim || tc__know(q, TC__EQUAL, q->in[i]->dims[d], q->out.dims[d]);
        if (!ok)
            return tc__fail(q->ctx, TC_E_SHAPE,
                            "%s: operand %u is %s, operand 0 is %s; all sizes "
                            "but dimension %lld must be equal",
                            tc__called(q->ctx, q->op), (unsigned)i,
                            tc__dims_text(q->in[i], x), tc__dims_text(q->in[0], y),
                            (long long)dim);
        q->out.dims[dim] = tc__ix_add(q->ix, q->out.dims[dim], q->in[i]->dims[dim]);
    }
    return 1;
}

static int tc__index_dtype(tc__infer *q) {
    if (q->in[1]->dtype == TC_I32 || q->in[1]->dtype == TC_I64) return 1;
    return tc__fail(q->ctx, TC_E_DTYPE, "%s: the index must be i32 or i64, got %s",
                    tc__called(q->ctx, q->op), tc__dtype(q->in[1]->dtype)->name);
}

static int tc__shape_take(tc__infer *q) {
    int64_t dim = q->attr[TC__GATHER_DIM];
    const tc__meta *a = q->in[0], *b = q->in[1];
    if (!tc__dim_of(q, dim) || !tc__index_dtype(q)) return 0;
    if (a->rank - 1 + b->rank > TC_MAX_RANK)
        return tc__fail(q->ctx, TC_E_RANK,
                        "%s: the result would have %d dimensions, %d are possible",
                        tc__called(q->ctx, q->op), a->rank - 1 + b->rank, TC_MAX_RANK);
    int n = 0;
    for (int i = 0; i < dim; i++) q->out.dims[n++] = a->dims[i];
    for (int i = 0; i < b->rank; i++) q->out.dims[n++] = b->dims[i];
    for (int i = (int)dim + 1; i < a->rank; i++) q->out.dims[n++] = a->dims[i];
    q->out.rank = (uint8_t)n;
    return 1;
}

static int tc__shape_gather(tc__infer *q) {
    int64_t dim = q->attr[TC__GATHER_DIM];
    const tc__meta *a = q->in[0], *b = q->in[1];
    char x[160], y[160];
    if (!tc__dim_of(q, dim) || !tc__index_dtype(q)) return 0;
    int ok = a->rank == b->rank;
    for (int i = 0; ok && i < a->rank; i++)
        ok = i == dim || tc__know(q, TC__NOT_LESS, a->dims[i], b->dims[i]);
    if (!ok)
        return tc__fail(q->ctx, TC_E_SHAPE,
                        "%s: index %s does not fit %s; outside dimension %lld "
                        "it must not be larger",
                        tc__called(q->ctx, q->op), tc__dims_text(b, x), tc__dims_text(a, y),
                        (long long)dim);
    q->out.rank = b->rank;
    memcpy(q->out.dims, b->dims, sizeof b->dims);
    return 1;
}

// ---- loops ----

static int tc__shape_each(tc__infer *q) {
    if (!q->in[0]->rank)
        return tc__fail(q->ctx, TC_E_RANK, "%s: a number has no rows",
                        tc__called(q->ctx, q->op));
    q->out.rank = (uint8_t)(q->in[0]->rank - 1);
    for (int i = 0; i < q->out.rank; i++) q->out.dims[i] = q->in[0]->dims[i + 1];
    return 1;
}

static int tc__shape_stacked(tc__infer *q) {
    const tc__meta *a = q->in[0];
    if (a->rank == TC_MAX_RANK)
        return tc__fail(q->ctx, TC_E_RANK,
                        "%s: rows of %d dimensions make %d, %d are possible",
                        tc__called(q->ctx, q->op), a->rank, a->rank + 1, TC_MAX_RANK);
    q->out.rank = (uint8_t)(a->rank + 1);
    q->out.dims[0] = q->in[1]->dims[0];
    for (int i = 0; i < a->rank; i++) q->out.dims[i + 1] = a->dims[i];
    return 1;
}

static int tc__shape_reduce(tc__infer *q) {
    char x[160];
    tc__shape_same(q);
    int empty_ok = q->op != TC_OP_AMAX && q->op != TC_OP_AMIN && q->op != TC_OP_ARGMAX &&
                   q->op != TC_OP_ARGMIN;
    for (int i = 0; i < q->out.rank; i++) {
        if (!(q->attr[TC__REDUCE_DIMS] >> i & 1)) continue;
        if (!empty_ok && !tc__know(q, TC__NOT_LESS, q->out.dims[i], tc__ix_const(1)))
            return tc__fail(q->ctx, TC_E_SHAPE,
                            "%s: dimension %d of %s is empty and has no %s",
                            tc__called(q->ctx, q->op), i, tc__dims_text(q->in[0], x),
                            tc__op_name(q->op));
        q->out.dims[i] = tc__ix_const(1);
    }
    return 1;
}

static int tc__shape_matmul(tc__infer *q) {
    const tc__meta *a = q->in[0], *b = q->in[1];
    char x[160], y[160];
    if (a->rank < 2 || b->rank != a->rank)
        return tc__fail(q->ctx, TC_E_RANK,
                        "%s: operands are %s and %s; at least 2 dimensions are "
                        "needed",
                        tc__called(q->ctx, q->op), tc__dims_text(a, x),
                        tc__dims_text(b, y));
    int r = a->rank;
    if (!tc__know(q, TC__EQUAL, a->dims[r - 1], b->dims[r - 2]))
        return tc__fail(q->ctx, TC_E_SHAPE,
                        "%s: inner sizes differ: a is %s, b is %s; transpose "
                        "one of them?",
                        tc__called(q->ctx, q->op), tc__dims_text(a, x),
                        tc__dims_text(b, y));
    // How many matrices there are may be a number in one operand, and a size at run time in the other.
    for (int i = 0; i < r - 2; i++)
        if (!tc__know(q, TC__EQUAL, a->dims[i], b->dims[i])) return tc__bcast_fail(q, 1, i);
    tc__shape_same(q);
    q->out.dims[r - 1] = b->dims[r - 1];
    return 1;
}

// ---- composite ops ----

// q[..., L, E] and v[..., S, F] -> [..., L, F], leading dimensions broadcast.
static int tc__shape_attention(tc__infer *q) {
    const tc__meta *v = q->in[TC__ATTENTION_V];
    tc__ix rows = q->in[0]->dims[q->in[0]->rank - 2];
    if (!tc__know(q, TC__EQUAL, q->out.dims[q->out.rank - 2], rows)) return 0;
    q->out.dims[q->out.rank - 2] = rows;
    q->out.dims[q->out.rank - 1] = v->dims[v->rank - 1];
    return 1;
}

// ---- opaque ops: along the last dimension ----

// Whether the op has n operands and a last dimension, as all that is recorded here has.
static int tc__opaque_check(tc__infer *q, uint32_t n) {
    if (q->n_in != n)
        return tc__fail(q->ctx, TC_E_ARG, "%s: %u operands, it has %u",
                        tc__called(q->ctx, q->op), (unsigned)q->n_in, (unsigned)n);
    if (q->in[0]->rank) return 1;
    return tc__fail(q->ctx, TC_E_RANK, "%s: a scalar has no dimension; reshape it to [1]",
                    tc__called(q->ctx, q->op));
}

// The dtypes that exec/opaque.c has code for; graph/rows.c converts others to one of them.
static int tc__shape_scan(tc__infer *q) {
    int t = q->in[0]->dtype;
    if (!tc__opaque_check(q, 1)) return 0;
    if (t == TC_I64 || t == TC_F32 || t == TC_F64) return tc__shape_same(q);
    return tc__fail(q->ctx, TC_E_DTYPE, "%s: needs i64, f32 or f64, got %s",
                    tc__called(q->ctx, q->op), tc__dtype(t)->name);
}

static int tc__shape_argsort(tc__infer *q) {
    int t = q->in[0]->dtype;
    if (!tc__opaque_check(q, 1)) return 0;
    if (t == TC_I32 || t == TC_I64 || t == TC_F32 || t == TC_F64) return tc__shape_same(q);
    return tc__fail(q->ctx, TC_E_DTYPE, "%s: needs i32, i64, f32 or f64, got %s",
                    tc__called(q->ctx, q->op), tc__dtype(t)->name);
}

static int tc__shape_topk(tc__infer *q) {
    char x[160];
    int64_t k = q->attr[TC__TOPK_K];
    if (!tc__shape_argsort(q)) return 0;
    tc__ix *last = &q->out.dims[q->out.rank - 1];
    if (k < 0 || !tc__know(q, TC__NOT_LESS, *last, tc__ix_const(k)))
        return tc__fail(q->ctx, TC_E_ARG,
                        "%s: k is %lld, the dimension of %s has %lld elements; 0 <= k <= "
                        "that is needed",
                        tc__called(q->ctx, q->op), (long long)k, tc__dims_text(q->in[0], x),
                        (long long)tc__ix_value(*last));
    *last = tc__ix_const(k);
    return 1;
}

// What scatters have in common: an index, and values of the dtype of what they go to.
static int tc__scatter_check(tc__infer *q) {
    if (!tc__opaque_check(q, 3) || !tc__index_dtype(q)) return 0;
    if (q->in[2]->dtype != q->in[0]->dtype)
        return tc__fail(q->ctx, TC_E_DTYPE, "%s: src is %s, the tensor %s; tc_cast src",
                        tc__called(q->ctx, q->op), tc__dtype(q->in[2]->dtype)->name,
                        tc__dtype(q->in[0]->dtype)->name);
    if (q->in[0]->dtype != TC_BOOL || q->op == TC_OP_SCATTER) return 1;
    return tc__fail(q->ctx, TC_E_DTYPE, "%s: not defined on bool; tc_cast to TC_I32 first",
                    tc__called(q->ctx, q->op));
}

static int tc__scatter_fail(tc__infer *q, const char *need) {
    char x[160], y[160], z[160];
    return tc__fail(q->ctx, TC_E_SHAPE, "%s: index %s and src %s do not fit %s; %s",
                    tc__called(q->ctx, q->op), tc__dims_text(q->in[1], x),
                    tc__dims_text(q->in[2], y), tc__dims_text(q->in[0], z), need);
}

static int tc__shape_scatter(tc__infer *q) {
    const tc__meta *a = q->in[0], *b = q->in[1], *c = q->in[2];
    if (!tc__scatter_check(q)) return 0;
    int ok = b->rank == a->rank && c->rank == a->rank;
    for (int i = 0; ok && i < a->rank; i++)
        ok = tc__know(q, TC__EQUAL, b->dims[i], c->dims[i]) &&
             (i == a->rank - 1 || tc__know(q, TC__NOT_LESS, a->dims[i], b->dims[i]));
    tc__shape_same(q);
    return ok || tc__scatter_fail(q, "outside the dimension the index must not be larger");
}

static int tc__shape_index_add(tc__infer *q) {
    const tc__meta *a = q->in[0], *b = q->in[1], *c = q->in[2];
    if (!tc__scatter_check(q)) return 0;
    int ok = b->rank == 1 && c->rank == a->rank &&
             tc__know(q, TC__EQUAL, c->dims[c->rank - 1], b->dims[0]);
    for (int i = 0; ok && i < a->rank - 1; i++)
        ok = tc__know(q, TC__EQUAL, c->dims[i], a->dims[i]);
    tc__shape_same(q);
    return ok || tc__scatter_fail(q, "src has the tensor's sizes, and along the dimension "
                                     "the index's");
}

static int tc__shape_row_add(tc__infer *q) {
    const tc__meta *a = q->in[0], *b = q->in[1], *c = q->in[2];
    if (!tc__scatter_check(q)) return 0;
    int ok = a->rank == 2 && b->rank == 1 && c->rank == 2 &&
             tc__know(q, TC__EQUAL, c->dims[0], b->dims[0]) &&
             tc__know(q, TC__EQUAL, c->dims[1], a->dims[1]);
    tc__shape_same(q);
    return ok || tc__scatter_fail(q, "src has a row for each place of the index");
}

// ---- the user's ops ----

// Sizes of an operand as numbers. Run-time sizes are those of this run from now on: a function of the
// user's knows no symbols. 0 = they cannot be told.
static int tc__spec_of(tc__infer *q, const tc__meta *m, tc_spec *s) {
    tc__ixenv env;
    memset(s, 0, sizeof *s);
    memset(&env, 0, sizeof env);
    env.sym = q->size;
    s->dtype = (tc_dtype)m->dtype, s->rank = m->rank;
    for (int i = 0; i < m->rank; i++) {
        tc__ix e = m->dims[i];
        if (!tc__ix_is_const(e) && !q->size) return 0;
        s->dims[i] = tc__ix_is_const(e) ? tc__ix_value(e) : tc__ix_eval(q->ix, e, &env);
        if (!tc__know(q, TC__EQUAL, e, tc__ix_const(s->dims[i]))) return 0;
    }
    return 1;
}

// What shape() said, if it can be.
static int tc__spec_take(tc__infer *q, const char *name, const tc_spec *s) {
    char who[TC__CUSTOM_NAME + 32];
    snprintf(who, sizeof who, "custom op \"%s\": its shape", name);
    if (!tc__dtype_valid((int)s->dtype))
        return tc__fail(q->ctx, TC_E_DTYPE, "%s: %d is no dtype", who, (int)s->dtype);
    if (!tc__dims_check(q->ctx, who, s->rank, s->dims)) return 0;
    q->out.dtype = (uint8_t)s->dtype, q->out.rank = (uint8_t)s->rank;
    for (int i = 0; i < s->rank; i++) q->out.dims[i] = tc__ix_const(s->dims[i]);
    return 1;
}

static int tc__shape_fail(tc__infer *q, const tc__custom *o, tc_status status) {
    char text[64], dims[160];
    return tc__fail(q->ctx, tc__user_status(status),
                    "custom op \"%s\": its shape function %s for input 0 of %s%s",
                    o->op.name, tc__user_status_text(status, text),
                    tc__dtype(q->in[0]->dtype)->name, tc__dims_text(q->in[0], dims));
}

static int tc__dtype_custom(tc__infer *q) { // the shape rule tells it
    q->out.dtype = q->in[0]->dtype;
    return 1;
}

static int tc__shape_custom(tc__infer *q) {
    const tc__custom *o = tc__custom_at(q->ctx, q->attr[TC__CUSTOM_OP]);
    tc_spec in[TC__CUSTOM_INPUTS], out;
    if (!o || q->n_in != (uint32_t)o->op.n_in)
        return tc__fail(q->ctx, TC_E_ARG, "custom: no op has number %lld and %u inputs",
                        (long long)q->attr[TC__CUSTOM_OP], (unsigned)q->n_in);
    if (!o->op.shape) return tc__shape_same(q);
    for (uint32_t i = 0; i < q->n_in; i++)
        if (!tc__spec_of(q, q->in[i], &in[i]))
            return tc__fail(q->ctx, TC_E_UNSUPPORTED,
                            "custom op \"%s\": input %u has sizes that are not known yet",
                            o->op.name, (unsigned)i);
    out = in[0];
    int cancel = tc__cancel_off();
    tc__core_of(q->ctx)->calling++;
    tc_status status = o->op.shape(o->op.user, in, (int)q->n_in, &out);
    tc__core_of(q->ctx)->calling--;
    tc__cancel_as(cancel);
    return status ? tc__shape_fail(q, o, status) : tc__spec_take(q, o->op.name, &out);
}

#include "out/op_info.inc"

static int tc__is_composite(tc__op op) { return op >= TC_OP_COUNT; }

static const tc__whole_info *tc__whole_of(tc__op op) {
    return &tc__wholes[op - TC_OP_COUNT];
}

// Whether a step of it has one: effects have none, and of a composite op one of its parts has it.
static int tc__has_result(tc__op op) {
    return tc__ops[op].kind != TC__KIND_EFFECT && !tc__is_composite(op);
}

// The op that a CALL is of: of the user's, its name.
static const char *tc__call_name(tc_ctx *c, const tc__node *n) {
    return n->attr[TC__CALL_OP] == TC_OP_CUSTOM ? tc__custom_name(c, n->attr[TC__CALL_WORD])
                                                : tc__op_name((tc__op)n->attr[TC__CALL_OP]);
}

// Of a CALL: where rank and sizes of its result begin, i = 0, or of operand i - 1.
static uint32_t tc__call_rank_at(const tc__node *n, uint32_t i) {
    uint32_t at = TC__CALL_BUFFERS + 1 + (uint32_t)n->attr[TC__CALL_OPERANDS];
    while (i-- > 0) at += 1 + (uint32_t)n->attr[at];
    return at;
}

static int tc__call_word_is_size(const tc__node *n, uint32_t i) {
    uint32_t at = tc__call_rank_at(n, 0);
    while (at < i && i > at + (uint32_t)n->attr[at]) at += 1 + (uint32_t)n->attr[at];
    return at < i;
}

// Whether word i of n is an index expression.
static int tc__attr_is_ix(const tc__node *n, uint32_t i) {
    if (n->op == TC_OP_CALL) return tc__call_word_is_size(n, i);
    return (int)(tc__ops[n->op].sizes >> (i < 31 ? i : 31) & 1);
}

// The same elements, elsewhere in memory.
static int tc__is_layout(const tc__node *n) {
    return tc__ops[n->op].kind == TC__KIND_LAYOUT;
}

// Arithmetic on each element alone.
static int tc__is_alu(const tc__node *n) {
    tc__kind k = tc__ops[n->op].kind;
    return k == TC__KIND_UNARY || k == TC__KIND_BINARY || k == TC__KIND_TERNARY ||
           k == TC__KIND_CAST || k == TC__KIND_LAYOUT;
}
