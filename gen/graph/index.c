// Indexing: takes, gathers and scatters, whose index is a tensor.

// ---- indexing ----

static tc_tensor tc__index_op(const tc__api *f, tc__op op, tc_tensor t, tc_tensor index,
                              int64_t dim) {
    tc_tensor in[2];
    in[0] = t, in[1] = index;
    return tc__prim_n(f, op, in, 2, &dim, 1);
}

// ~2^62: leaves a place as it is, and puts a negative number so far below 0 that no size brings it back.
static const int64_t tc__front_mask = ~((int64_t)1 << 62);

// An index whose negative numbers do not count from the end, but are out of range, at an `and` for each.
static tc_tensor tc__from_front(const tc__api *f, tc_tensor index) {
    tc_dims none = TC_SCALAR;
    tc_tensor mask = tc__prim_source(f, TC_OP_CONST, TC_I64, &none, &tc__front_mask, 1);
    return tc_bitwise_and_at(tc__cast(f, index, TC_I64), mask, f->file, f->line);
}

// The number that was meant by one that was found out of range.
static int64_t tc__from_front_told(int64_t v) {
    const int64_t far_away = -((int64_t)1 << 61), given = v | ~tc__front_mask;
    return v < far_away && given >= far_away ? given : v;
}

TCDEF tc_tensor tc_take_at(tc_tensor t, tc_tensor index, int dim, const char *file,
                           int line) {
    tc__api f;
    int64_t k = dim;
    if (!tc__api_of(&f, "take", t, file, line) || !tc__dim_need(&f, &k)) return tc__null();
    return tc__index_op(&f, TC_OP_TAKE, t, index, k);
}

TCDEF tc_tensor tc_index_select_at(tc_tensor t, int dim, tc_tensor index, const char *file,
                                   int line) {
    tc__api f;
    tc__meta m;
    int64_t k = dim;
    tc_dims none = TC_SCALAR;
    if (!tc__begin_two(&f, "index_select", t, index, file, line)) return tc__null();
    if (!tc__dim_check(&f, f.x.rank, &k) || !tc__meta_get(&f, index, &m))
        return tc__leave_null(&f);
    if (m.rank > 1) {
        tc__fail(f.c, TC_E_RANK,
                 "index_select: the index has %d dimensions, 1 is needed; use tc_take",
                 m.rank);
        return tc__leave_null(&f);
    }
    if (!f.x.rank && tc__meta_elements(&m) != 1) {
        tc__fail(f.c, TC_E_SHAPE,
                 "index_select: %lld indices into a scalar, which has one element",
                 (long long)tc__meta_elements(&m));
        return tc__leave_null(&f);
    }
    index = tc__as_vector(&f, index);
    tc_tensor y = tc__index_op(&f, TC_OP_TAKE, tc__as_vector(&f, t), index, k);
    return tc__leave(&f, f.x.rank ? y : tc__reshape(&f, y, &none));
}

TCDEF tc_tensor tc_embedding_at(tc_tensor weight, tc_tensor index, const char *file,
                                int line) {
    tc__api f;
    char x[160];
    if (!tc__api_of(&f, "embedding", weight, file, line)) return tc__null();
    if (f.x.rank == 2) return tc__index_op(&f, TC_OP_TAKE, weight, index, 0);
    tc__fail(f.c, TC_E_RANK,
             "embedding: the weight is %s, [rows, width] is needed; weight first, then "
             "index",
             tc__dims_text(&f.x, x));
    return tc__null();
}

TCDEF tc_tensor tc_gather_at(tc_tensor t, int dim, tc_tensor index, const char *file,
                             int line) {
    tc__api f;
    int64_t k = dim;
    tc__meta m;
    tc_dims none = TC_SCALAR;
    if (!tc__begin_two(&f, "gather", t, index, file, line)) return tc__null();
    if (!tc__dim_check(&f, f.x.rank, &k) || !tc__meta_get(&f, index, &m))
        return tc__leave_null(&f);
    if (f.x.rank <= 1) t = tc__as_vector(&f, t), index = tc__as_vector(&f, index);
    tc_tensor y = tc__index_op(&f, TC_OP_GATHER, t, index, k);
    return tc__leave(&f, m.rank ? y : tc__reshape(&f, y, &none));
}

TCDEF tc_tensor tc_one_hot_at(tc_tensor index, int64_t classes, const char *file,
                              int line) {
    tc__api f;
    if (!tc__begin_together(&f, "one_hot", index, file, line)) return tc__null();
    tc_dims one = tc_dims_of(1, &classes);
    if (classes < 0) {
        tc__fail(f.c, TC_E_ARG, "one_hot: %lld classes", (long long)classes);
        return tc__leave_null(&f);
    }
    tc_tensor number = tc__iota(&f, &one, 0);
    // Class numbers taken by the index: an index made safe, as any other.
    tc_tensor safe = tc__index_op(&f, TC_OP_TAKE, number, index, 0);
    tc_tensor hit = tc_eq_at(tc_unsqueeze_at(safe, -1, file, line), number, file, line);
    return tc__leave(&f, tc__cast(&f, hit, TC_I64));
}

// t where column - row <= diagonal (low = 1) or >= diagonal, else zero.
static tc_tensor tc__triangle(tc__api *f, tc_tensor t, int64_t diagonal, int low) {
    const char *file = f->file;
    int line = f->line;
    if (f->x.rank < 2) {
        tc__fail(f->c, TC_E_RANK, "%s: rank %d; at least 2 is needed", f->who, f->x.rank);
        return tc__leave_null(f);
    }
    tc_dims d =
        TC_DIMS(tc__meta_size(&f->x, f->x.rank - 2), tc__meta_size(&f->x, f->x.rank - 1));
    tc_tensor edge = tc_add_s_at(tc__iota(f, &d, 0), (double)diagonal, file, line);
    tc_tensor column = tc__iota(f, &d, 1);
    tc_tensor in =
        low ? tc_le_at(column, edge, file, line) : tc_ge_at(column, edge, file, line);
    return tc__leave(f, tc_where_at(in, t, tc__scalar(f, 0, f->x.dtype), file, line));
}

TCDEF tc_tensor tc_tril_at(tc_tensor t, int64_t diagonal, const char *file, int line) {
    tc__api f;
    return tc__begin_together(&f, "tril", t, file, line) ? tc__triangle(&f, t, diagonal, 1)
                                                         : tc__null();
}

TCDEF tc_tensor tc_triu_at(tc_tensor t, int64_t diagonal, const char *file, int line) {
    tc__api f;
    return tc__begin_together(&f, "triu", t, file, line) ? tc__triangle(&f, t, diagonal, 0)
                                                         : tc__null();
}

TCDEF tc_tensor tc_masked_fill_at(tc_tensor t, tc_tensor mask, double value,
                                  const char *file, int line) {
    tc__api f;
    if (!tc__begin_two(&f, "masked_fill", t, mask, file, line)) return tc__null();
    tc_tensor fill = tc__scalar(&f, value, f.x.dtype);
    return tc__leave(&f, tc_where_at(mask, fill, t, file, line));
}
