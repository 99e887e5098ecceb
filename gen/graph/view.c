// Which movement results are views: other sizes, strides and offset over the operand's memory. The
// same answer eagerly and in a region, so that writes in place reach the same elements.
//
// The step of a view holds its layout.

static void tc__shape_of_layout(const tc__layout *l, tc__shape *s) {
    memset(s, 0, sizeof *s);
    s->dtype = l->dtype, s->rank = l->rank, s->contiguous = l->contiguous;
    s->device = l->device;
    for (int i = 0; i < l->rank; i++) {
        s->dims[i] = tc__ix_const(l->dims[i]);
        s->strides[i] = tc__ix_const(l->strides[i]);
    }
}

// Strides that lay `dims` over the elements of `l` in the same order; 0 = a copy is needed.
static int tc__reshape_strides(const tc__layout *l, int rank, const int64_t *dims,
                               int64_t *out) {
    int i = l->rank - 1;
    int64_t stride = 1, left = 0;
    if (l->contiguous) {
        tc__row_major(rank, dims, out);
        return 1;
    }
    for (int d = rank - 1; d >= 0; d--) {
        if (dims[d] == 1) {
            out[d] = 0;
            continue;
        }
        while (left <= 1 && i >= 0) {
            if (l->dims[i] != 1) stride = l->strides[i], left = l->dims[i];
            i--;
        }
        // Join following dimensions that continue this run.
        while (i >= 0 && (l->dims[i] == 1 || l->strides[i] == stride * left)) {
            left *= l->dims[i];
            i--;
        }
        if (left % dims[d]) return 0;
        out[d] = stride;
        stride *= dims[d];
        left /= dims[d];
    }
    return left <= 1;
}

// The result `m` of a movement op over layout `from`: *layout and the offset of its first element.
// 0 = not a view. *layout == 0: out of memory, reported.
static int tc__view_of(tc_ctx *c, tc__op op, const int64_t *attr, uint32_t from,
                       const tc__meta *m, uint32_t *layout, int64_t *offset) {
    const tc__layout *l = tc__layout_at(c, from);
    int64_t dims[TC_MAX_RANK], strides[TC_MAX_RANK];
    for (int i = 0; i < m->rank; i++) dims[i] = tc__ix_value(m->dims[i]);
    *offset = 0;
    switch (op) {
    case TC_OP_RESHAPE:
        if (!l->numel || !tc__reshape_strides(l, m->rank, dims, strides)) return 0;
        break;
    case TC_OP_PERMUTE:
        for (int i = 0; i < m->rank; i++) strides[i] = l->strides[attr[i]];
        break;
    case TC_OP_CENTRED:
    case TC_OP_DETACH: memcpy(strides, l->strides, sizeof strides); break;
    case TC_OP_EXPAND:
        for (int i = 0; i < m->rank; i++) {
            int d = i - (m->rank - l->rank);
            strides[i] = d < 0 || l->dims[d] == 1 ? 0 : l->strides[d];
        }
        break;
    case TC_OP_SLICE:
        memcpy(strides, l->strides, (size_t)m->rank * sizeof *strides);
        *offset = l->numel && m->rank
                      ? tc__ix_value(attr[TC__SLICE_START]) * strides[attr[TC__SLICE_DIM]]
                      : 0;
        strides[attr[TC__SLICE_DIM]] *= tc__ix_value(attr[TC__SLICE_STEP]);
        break;
    default: return 0;
    }
    *layout = tc__layout_on(c, l->device, m->dtype, m->rank, dims, strides);
    return 1;
}
