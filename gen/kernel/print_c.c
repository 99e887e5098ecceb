// C dialect: LOOP lists for gcc and clang with vector types (cpu/vector.h), no includes.
// Every value is a vector of p->unit lanes (lanes.c: 8, 16 or 4), a row value has
// equal ones, so an expression is the same text and the same bits everywhere. Loops of 32
// elements hold four, two or eight named copies of each value; what is left runs one vector at a
// time with n counted lanes.

// ---- borders ----

// `(tc_u64)(r - 1) < (tc_u64)(1022)`: what a box asks of the row.
static void tc__c_box_rows(tc__printer *p, const tc__kbox *box) {
    for (uint32_t i = 2; i < box->count; i += 2) {
        if (i > 2) tc__put(p->out, " && ");
        tc__put_fact(p, box->pair[i], box->pair[i + 1]);
    }
}

// `if (r >= 1 && ... && c >= 1) for (const tc_i64 last = 1023 - 16; c <= last; c += 16)`
static void tc__c_box_head(tc__printer *p, const tc__node *n, const tc__c_range *r,
                           const tc__kbox *box) {
    tc__ixpool *x = p->g->body.ix;
    tc__line(p);
    tc__put(p->out, "if (");
    tc__c_box_rows(p, box);
    if (box->count > 2) tc__put(p->out, " && ");
    if (r->step > p->unit && tc__c_loop_has_acc(p, n, 1, 0)) // sums have their lanes
        tc__put(p->out, "c %% %d == 0 && ", r->step);
    tc__put(p->out, "c >= ");
    tc__put_ix(p, tc__box_begin(x, box));
    tc__put(p->out, ") for (const %s last = tc_min(", p->d->index);
    tc__put_ix(p, tc__box_end(x, box));
    tc__put(p->out, ", ");
    tc__c_bound(p, r, "end", r->end);
    tc__put(p->out, ") - %d; c <= last; c += %d)", r->step, r->step);
    tc__block_open(p);
}

// The whole steps inside of a box, from a column on that follows a border.
static void tc__c_box(tc__printer *p, const tc__node *n, const tc__c_range *r,
                      const tc__kbox *box, uint32_t begin, uint32_t end) {
    const tc__group *whole = p->g;
    tc__boxed b;
    if (!tc__boxed_open(p->out->ctx, whole, box, begin, end, &b)) p->out->failed = 1;
    if (!p->out->failed) {
        tc__c_box_head(p, n, r, box);
        p->copies = r->step / p->unit;
        tc__c_prefetch(p, n);
        p->g = &b.g, p->need = b.need;
        tc__c_body(p, n, begin, end);
        p->g = whole, p->need = NULL, p->copies = 1;
        tc__block_close(p);
    }
    tc__boxed_close(p->out->ctx, &b);
}

enum {
    TC__SIDES_NODES =
        240, // of a loop whose border is printed in parts, each of which is compiled
    TC__SIDES_CHOICES = 2 // among columns that a border makes, for which that is worth it
};

// How often a loop chooses between what stands at its columns, as a pad of elements of the tensor does at both ends.
static int tc__c_choices(const tc__printer *p, uint32_t begin, uint32_t end) {
    int n = 0;
    for (uint32_t id = begin; id < end; id++)
        n += tc__body(p, id)->op == TC_OP_VALID &&
             tc__pred_along(p->g, tc__body(p, id), p->axis, p->unit) == 2;
    return n;
}

// Whether the border of a loop with this one box is printed in parts: before the box, in its columns, and behind
// it, which decides most of what edges ask. Sums need their vectors at fixed places. Maps of 128 x 128 that are
// reflected by one: 1.3 -> 1.1 times their inside alone, 3x3 of them 1.35 -> 1.25; the compiler takes a quarter longer.
static int tc__c_has_sides(const tc__printer *p, const tc__node *n, tc__kbox *box,
                           uint32_t begin, uint32_t end) {
    tc__kbox second;
    return tc__box_at(n, 0, box) && !tc__box_at(n, 1, &second) &&
           end - begin <= TC__SIDES_NODES && !tc__c_loop_has_acc(p, n, 1, 0) &&
           tc__c_choices(p, begin, end) >= TC__SIDES_CHOICES;
}

// A vector of the border whose first column is at least `low`, and whose last is before `high`.
static void tc__c_side(tc__printer *p, const tc__node *n, const tc__c_range *r, tc__ix low,
                       tc__ix high, uint32_t begin, uint32_t end) {
    tc__ixpool *x = p->g->body.ix;
    const tc__group *whole = p->g;
    tc__kbox box;
    tc__boxed b;
    int64_t pair[2];
    pair[0] = tc__ix_sub(x, tc__ix_var(x, TC__COL, p->g->shape.cols), low);
    pair[1] = tc__ix_sub(x, high, low);
    box.pair = pair, box.count = 2;
    tc__block_open(p);
    if (!tc__boxed_open(p->out->ctx, whole, &box, begin, end, &b)) p->out->failed = 1;
    if (!p->out->failed) {
        p->g = &b.g, p->need = b.need;
        tc__c_counted(p, n, r, begin, end);
        p->g = whole, p->need = NULL;
    }
    tc__boxed_close(p->out->ctx, &b);
    tc__block_close(p);
}

// `if (c < 1) { ... } else if (c + 16 <= 127) { ... } else { ... }`
static void tc__c_sides(tc__printer *p, const tc__node *n, const tc__c_range *r,
                        const tc__kbox *box, uint32_t begin, uint32_t end) {
    tc__ixpool *x = p->g->body.ix;
    tc__ix first = tc__box_begin(x, box), last = tc__box_end(x, box);
    tc__ix rest = tc__ix_const(p->unit - 1), none = tc__ix_const(0);
    tc__line(p);
    if (!tc__ix_equals(first, 0)) {
        tc__put(p->out, "if (c < ");
        tc__put_ix(p, first);
        tc__put(p->out, ")");
        tc__c_side(p, n, r, none, tc__ix_add(x, first, rest), begin, end);
        tc__line(p);
        tc__put(p->out, "else ");
    }
    tc__put(p->out, "if (c + %d <= ", p->unit);
    tc__put_ix(p, last);
    tc__put(p->out, ")");
    tc__c_side(p, n, r, first, last, begin, end);
    tc__line(p);
    tc__put(p->out, "else");
    tc__c_side(p, n, r, tc__ix_sub(x, last, rest), n->attr[TC__FOR_END], begin, end);
}

// A loop with boxes: where none begins, a vector of the border, as what is left after whole steps.
static void tc__c_bordered(tc__printer *p, const tc__node *n, const tc__c_range *r,
                           uint32_t begin, uint32_t end) {
    tc__kbox box;
    tc__line(p);
    tc__put(p->out, "for (%s c = ", p->d->index);
    tc__c_bound(p, r, "begin", r->begin);
    tc__put(p->out, "; c < ");
    tc__c_bound(p, r, "end", r->end);
    tc__put(p->out, "; c += %d)", p->unit);
    tc__block_open(p);
    for (uint32_t i = 0; tc__box_at(n, i, &box); i++) tc__c_box(p, n, r, &box, begin, end);
    tc__line(p);
    tc__put(p->out, "if (c >= ");
    tc__c_bound(p, r, "end", r->end);
    tc__put(p->out, ") break;\n");
    if (tc__c_has_sides(p, n, &box, begin, end))
        tc__c_sides(p, n, r, &box, begin, end);
    else
        tc__c_counted(p, n, r, begin, end);
    tc__block_close(p);
}

// Whole steps, and what is left.
static void tc__c_range_steps(tc__printer *p, const tc__node *n, const tc__c_range *r,
                              uint32_t begin, uint32_t end) {
    if (!r->known || r->full > r->begin) {
        tc__c_head(p, tc__axis_name(n->attr[TC__FOR_AXIS]), r, 0, r->step);
        p->copies = r->step / p->unit;
        tc__c_prefetch(p, n);
        tc__c_body(p, n, begin, end);
        p->copies = 1;
        tc__block_close(p);
    }
    if (r->tail && (!r->known || r->end > r->full)) tc__c_tail(p, n, r, begin, end);
}

// Whether what stands at a known range of columns of a row is asked for by its place: what is first and last of it
// goes apart then, a vector each, at numbers that decide what an edge asks, or make its masks constants. Maps of 64 x 64
// that are reflected by one: 2.5 -> 1.1 times their inside alone, of 56 x 56 2.3 -> 1.3; 5x5 means of 256 x 256 over
// zeros 1.32 -> 1.04, of 28 x 28 1.53 -> 1.16, 3x3 of 14 x 14 1.46 -> 1.07 (Zen 5).
static int tc__c_has_ends(const tc__printer *p, const tc__node *n, const tc__c_range *r,
                          uint32_t begin, uint32_t end) {
    if (!r->known || end - begin > TC__SIDES_NODES || tc__c_loop_has_acc(p, n, 1, 0))
        return 0;
    for (uint32_t id = begin; id < end; id++) {
        const tc__node *of = tc__body(p, id);
        if (tc__has_pairs(of) && tc__pred_along(p->g, of, p->axis, p->unit) == 2 &&
            tc__c_pred_is_mask(p, of))
            return 1;
    }
    return 0;
}

// Columns [low, high) of a range in steps of this size, and what is left of them, without what their place decides.
static void tc__c_piece(tc__printer *p, const tc__node *n, const tc__c_range *r,
                        int64_t low, int64_t high, int step, uint32_t begin, uint32_t end) {
    tc__ixpool *x = p->g->body.ix;
    const tc__group *whole = p->g;
    const uint8_t *need = p->need;
    tc__c_range part = *r;
    tc__kbox box;
    tc__boxed b;
    int64_t pair[2];
    if (low >= high) return;
    part.begin = low, part.end = high, part.step = step;
    part.full = high - (high - low) % step, part.tail = part.full < high;
    pair[0] = tc__ix_sub(x, tc__ix_var(x, TC__COL, p->g->shape.cols), tc__ix_const(low));
    pair[1] = tc__ix_const(high - low);
    box.pair = pair, box.count = 2;
    if (!tc__boxed_open(p->out->ctx, whole, &box, begin, end, &b)) p->out->failed = 1;
    if (!p->out->failed) {
        p->g = &b.g, p->need = b.need;
        tc__c_range_steps(p, n, &part, begin, end);
        p->g = whole, p->need = need;
    }
    tc__boxed_close(p->out->ctx, &b);
}

// The vectors of a range that reach before column `low`, those inside, and those that reach behind `high`.
static void tc__c_pieces(tc__printer *p, const tc__node *n, const tc__c_range *r,
                         int64_t low, int64_t high, uint32_t begin, uint32_t end) {
    int64_t unit = p->unit, at = r->begin, last = at + (high - at) / unit * unit,
            first = at + (low - at + unit - 1) / unit * unit,
            full = r->end - (r->end - at) % unit;
    if (first > last) first = last;
    int64_t inside = last - (last - first) % r->step;
    tc__c_piece(p, n, r, at, first, p->unit, begin, end);
    tc__c_piece(p, n, r, first, inside, r->step, begin, end);
    tc__c_piece(p, n, r, inside, last, p->unit, begin, end);
    tc__c_piece(p, n, r, last, full, p->unit, begin, end);
    tc__c_piece(p, n, r, full, r->end, p->unit, begin, end);
}

// Columns of a known range that edges do not reach: those of the box, or all but the first and the last one.
static void tc__c_inside(const tc__printer *p, const tc__c_range *r, const tc__kbox *box,
                         int64_t *low, int64_t *high) {
    tc__ix first = box ? tc__box_begin(p->g->body.ix, box) : 0,
           last = box ? tc__box_end(p->g->body.ix, box) : 0;
    *low = r->begin + 1, *high = r->end > r->begin ? r->end - 1 : r->end;
    if (box && tc__ix_is_const(first) && tc__ix_value(first) > *low)
        *low = tc__ix_value(first);
    if (box && tc__ix_is_const(last) && tc__ix_value(last) < *high)
        *high = tc__ix_value(last);
}

// The columns of a row in pieces, if their places are numbers that decide anything, in steps of this size.
static void tc__c_row_steps(tc__printer *p, const tc__node *n, const tc__c_range *r,
                            const tc__kbox *box, int step, uint32_t begin, uint32_t end) {
    tc__c_range part = *r;
    int64_t low, high;
    if (!tc__c_has_ends(p, n, r, begin, end)) {
        tc__c_range_steps(p, n, r, begin, end);
        return;
    }
    part.step = step;
    tc__c_inside(p, r, box, &low, &high);
    tc__c_pieces(p, n, &part, low, high, begin, end);
}

// `if (r % 14 >= 1 && ...) { the loop without what the box says of the row }`
static void tc__c_row_box(tc__printer *p, const tc__node *n, const tc__c_range *r,
                          const tc__kbox *box, uint32_t begin, uint32_t end) {
    tc__ixpool *x = p->g->body.ix;
    const tc__group *whole = p->g;
    int64_t pair[2 * TC__BOX_AXES];
    tc__kbox rows = *box;
    tc__boxed b;
    memcpy(pair, box->pair, box->count * sizeof *pair);
    pair[0] =
        tc__ix_sub(x, tc__ix_var(x, TC__COL, p->g->shape.cols), n->attr[TC__FOR_BEGIN]);
    pair[1] = tc__ix_sub(x, n->attr[TC__FOR_END], n->attr[TC__FOR_BEGIN]);
    rows.pair = pair;
    if (!tc__boxed_open(p->out->ctx, whole, &rows, begin, end, &b)) p->out->failed = 1;
    if (!p->out->failed) {
        tc__put(p->out, "if (");
        tc__c_box_rows(p, &rows);
        tc__put(p->out, ")");
        tc__block_open(p);
        p->g = &b.g, p->need = b.need;
        tc__c_row_steps(p, n, r, box, r->step, begin, end);
        p->g = whole, p->need = NULL;
        tc__block_close(p);
    }
    tc__boxed_close(p->out->ctx, &b);
}

// A loop whose boxes are of whole rows, or cut a known range: nothing is asked between its columns, which may be few. Rows
// of no box go one vector at a time: they are few.
static void tc__c_row_boxes(tc__printer *p, const tc__node *n, const tc__c_range *r,
                            uint32_t begin, uint32_t end) {
    tc__kbox box;
    for (uint32_t i = 0; tc__box_at(n, i, &box); i++) {
        if (box.count == 2) {
            tc__c_row_steps(p, n, r, &box, r->step, begin, end);
            return;
        }
        tc__line(p);
        if (i) tc__put(p->out, "else ");
        tc__c_row_box(p, n, r, &box, begin, end);
    }
    tc__line(p);
    tc__put(p->out, "else");
    tc__block_open(p);
    tc__c_row_steps(p, n, r, &box, p->unit, begin, end);
    tc__block_close(p);
}

// Whether boxes are of whole rows, or the only one cuts columns at known places.
static int tc__c_boxes_are_rows(const tc__printer *p, const tc__node *n,
                                const tc__c_range *r, uint32_t begin, uint32_t end) {
    tc__kbox second;
    return tc__boxes_are_rows(p->g->body.ix, n) ||
           (!tc__box_at(n, 1, &second) && tc__c_has_ends(p, n, r, begin, end));
}

static void tc__c_steps(tc__printer *p, const tc__node *n, uint32_t begin, uint32_t end,
                        int chunked) {
    tc__c_range r = tc__c_span(p, n, chunked);
    if (n->n_attr == TC__FOR_BOXES)
        tc__c_row_steps(p, n, &r, NULL, r.step, begin, end);
    else if (tc__c_boxes_are_rows(p, n, &r, begin, end))
        tc__c_row_boxes(p, n, &r, begin, end);
    else
        tc__c_bordered(p, n, &r, begin, end);
}

// The steps of a loop over at most 8192 elements, or its chunks of 8192.
static void
tc__c_each_chunk(tc__printer *p, const tc__node *n, uint32_t begin, uint32_t end,
                 void (*steps)(tc__printer *, const tc__node *, uint32_t, uint32_t, int)) {
    if (!n->attr[TC__FOR_CHUNK] || !tc__c_loop_has_acc(p, n, 0, 1)) {
        steps(p, n, begin, end, 0);
        return;
    }
    tc__line(p);
    tc__put(p->out, "for (%s chunk = ", p->d->index);
    tc__put_ix(p, n->attr[TC__FOR_BEGIN]);
    tc__put(p->out, "; chunk < ");
    tc__put_ix(p, n->attr[TC__FOR_END]);
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

// The loads of [begin, end) from a column that comes later, a cache line at a time.
static void tc__c_columns_ahead(tc__printer *p, uint32_t begin, uint32_t end) {
    tc__ixpool *x = p->g->body.ix;
    for (uint32_t id = begin; id < end; id++) {
        const tc__node *n = tc__body(p, id);
        if (n->op != TC_OP_LOAD || n->level == TC__AT_ROW) continue;
        tc__ix at = n->attr[TC__LOAD_INDEX], c = tc__ix_find_var(x, at, TC__COL);
        int line = 64 / (int)tc__dtypes[tc__buffer_of(p->g, n)->dtype].bytes;
        if (!c) continue;
        at = tc__ix_subst(x, at, c, tc__ix_add(x, c, tc__ix_const(TC__ROW_AHEAD)));
        for (int j = 0; j < p->copies * p->unit; j += line) {
            tc__line(p);
            tc__put(p->out, "__builtin_prefetch(");
            tc__put_at(p, n->attr[TC__LOAD_BUFFER], at);
            tc__put(p->out, j ? " + %d);\n" : ");\n", j);
        }
    }
}

static void tc__c_serial(tc__printer *p, const tc__node *n, uint32_t begin, uint32_t end,
                         int chunked) {
    const char *v = tc__axis_name(n->attr[TC__FOR_AXIS]);
    int worker = n->attr[TC__FOR_BIND] == TC__BIND_WORKER,
        items = p->g->shape.split_columns == TC__COLUMNS_BY_ITEM &&
                n->attr[TC__FOR_AXIS] == TC__ROW;
    if (items) {
        tc__line(p);
        tc__put(p->out, "for (%s item = lo; item < hi; item++)", p->d->index);
        tc__block_open(p);
    }
    tc__line(p);
    tc__put(p->out, "for (%s %s = ", p->d->index, v);
    int block = worker && tc__has_blocks(p->g);
    if (worker)
        tc__put(p->out, block ? "r0" : "lo");
    else if (chunked)
        tc__put(p->out, "chunk");
    else
        tc__put_ix(p, n->attr[TC__FOR_BEGIN]);
    tc__put(p->out, "; %s < ", v);
    if (worker)
        tc__put(p->out, block ? "r1" : "hi");
    else if (chunked)
        tc__put(p->out, "tc_min(chunk + 8192, ");
    if (!worker) tc__put_ix(p, n->attr[TC__FOR_END]);
    tc__put(p->out, "%s; %s++)", chunked ? ")" : "", v);
    tc__block_open(p);
    if (p->axis == TC__ROW && p->copies * p->unit > (int)TC__LANES)
        tc__c_columns_ahead(p, begin, end);
    tc__c_body(p, n, begin, end);
    tc__block_close(p);
    if (items) tc__block_close(p);
}

// `for (tc_i64 i = item * 800; i < last * 800; i += 8) tc_st_f32(sum4 + i, TC_K_f32(0));`
static void tc__c_down_clear(tc__printer *p) {
    for (int i = 0; i < TC__PRINT_ACCS; i++) {
        const tc__acc *a = &p->acc[i];
        if (!a->used || a->form != TC__ACC_DOWN) continue;
        tc__line(p);
        tc__put(p->out, "for (tc_i64 i = item * stride; i < last * stride; i += %d) ",
                p->unit);
        tc__put(p->out, "tc_st_%s(", tc__suffix(a->dtype));
        tc__put_acc(p, i);
        tc__put(p->out, " + i, ");
        tc__c_identity(p, a);
        tc__put(p->out, ");\n");
    }
}

// `float *const sum4_r = sum4 + (item + r - next) * 800;`: the sums that row r adds to.
static void tc__c_down_of_row(tc__printer *p) {
    for (int i = 0; i < TC__PRINT_ACCS; i++) {
        const tc__acc *a = &p->acc[i];
        if (!a->used || a->form != TC__ACC_DOWN) continue;
        tc__line(p);
        tc__put(p->out, "%s *const ", p->d->scalar[tc__class_of(a->dtype)]);
        tc__put_acc(p, i);
        tc__put(p->out, "_r = ");
        tc__put_acc(p, i);
        tc__put(p->out, " + (item + r - next) * stride;\n");
    }
}

// `const tc_i64 stride = 800, row_items = 32; float *const sum4 = (float *)a->sums;`
static void tc__c_down_head(tc__printer *p) {
    tc__ixpool *x = p->g->body.ix;
    tc__line(p);
    tc__put(p->out, "const tc_i64 stride = ");
    tc__put_ix(p, tc__down_stride(p->g));
    tc__put(p->out, ", row_items = ");
    tc__put_ix(p, p->g->shape.items);
    tc__put(p->out, ";\n");
    for (uint32_t id = 0; id < p->down; id++) {
        const tc__node *n = tc__body(p, id);
        int64_t i = n->op == TC_OP_NEW ? n->attr[TC__NEW_ACCUMULATOR] : 0;
        if (n->op != TC_OP_NEW || p->acc[i].form != TC__ACC_DOWN) continue;
        const char *type = p->d->scalar[tc__class_of(p->acc[i].dtype)];
        tc__line(p);
        tc__put(p->out, "%s *const ", type);
        tc__put_acc(p, i);
        tc__put(p->out, " = (%s *)(void *)((char *)a->sums + ", type);
        tc__put_ix(
            p, tc__ix_mul(x, tc__down_numel(p->g), tc__ix_const(tc__down_width(p->g, id))));
        tc__put(p->out, ");\n");
    }
}

// The rows of a list whose columns are summed, too: those of a lane of a chunk, of a few lanes together.
static void tc__c_down_rows(tc__printer *p, const tc__node *n, uint32_t begin,
                            uint32_t end) {
    long long together = (long long)tc__down_together(p->g);
    tc__c_down_head(p);
    tc__line(p);
    tc__put(p->out,
            "for (tc_i64 item = lo, last; item < tc_min(hi, row_items); item = last)");
    tc__block_open(p);
    tc__line(p);
    tc__put(p->out, "last = tc_min(item - item %% %lld + %lld, tc_min(hi, row_items));\n",
            together, together);
    tc__c_down_clear(p);
    tc__line(p);
    tc__put(p->out, "const tc_i64 rows = tc_min((item / 32 + 1) * 8192, ");
    tc__put_ix(p, n->attr[TC__FOR_END]);
    tc__put(p->out, ");\n");
    tc__line(p);
    tc__put(p->out,
            "for (tc_i64 next = item / 32 * 8192 + item %% 32; next < rows; next += "
            "32) for (tc_i64 r = next; r < tc_min(next + last - item, rows); r++)");
    tc__block_open(p);
    tc__c_down_of_row(p);
    tc__c_body(p, n, begin, end);
    tc__block_close(p);
    tc__block_close(p);
}

static void tc__c_loop(tc__printer *p, const tc__node *n, uint32_t begin, uint32_t end) {
    if (p->down && n->attr[TC__FOR_AXIS] == TC__ROW) {
        tc__c_down_rows(p, n, begin, end);
        return;
    }
    int vector = n->attr[TC__FOR_AXIS] == (int64_t)p->axis &&
                 n->attr[TC__FOR_BIND] != TC__BIND_SERIAL;
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
        int made = b->place == TC__BUF_MADE;
        int scratch = b->place == TC__BUF_ROW || b->place == TC__BUF_TILE || made;
        const char *type = tc__dtypes[b->dtype].memory,
                   *c = b->written || scratch ? "" : "const ";
        char name[24];
        tc__buffer_name(p, (int64_t)i, name);
        if (made) strcat(name, "_rows");
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
            seen |= o->op == TC_OP_ARG && o->attr[TC__ARG_SLOT] == n->attr[TC__ARG_SLOT];
        }
        if (n->op != TC_OP_ARG || seen) continue;
        tc__class cls = tc__class_of(n->dtype);
        snprintf(name, sizeof name, "arg%lld", (long long)n->attr[TC__ARG_SLOT]);
        if (!tc__c_mentions(body, name)) continue;
        tc__line(p);
        tc__put(p->out, "const %s %s = tc_splat_%s(", p->d->reg[cls], name,
                tc__class_names[cls]);
        if (n->dtype == TC_BOOL)
            tc__put(p->out, "-(a->arg[%lld].i != 0));\n", (long long)n->attr[TC__ARG_SLOT]);
        else
            tc__put(p->out, "(%s)a->arg[%lld].%s);\n", p->d->scalar[cls],
                    (long long)n->attr[TC__ARG_SLOT], tc__is_float(n->dtype) ? "f" : "i");
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
    if (tc__has_blocks(p->g)) tc__print_contract_blocks(p, symbol);
    p->symbol = symbol;
    for (int i = 0; p->down && i < TC__PRINT_ACCS; i++)
        if (p->acc[i].used && p->acc[i].form == TC__ACC_DOWN)
            tc__c_down_function(p, i, symbol);
    tc__text body, *out = p->out;
    tc__text_init(&body, out->ctx);
    p->out = &body, p->indent = 1;
    if (tc__has_parts(p->g))
        tc__print_parts(p, symbol);
    else if (p->g->shape.kind == TC__CONTRACTION)
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
    NULL,
    0,
    tc__c_rows,
    tc__c_kernel,
    tc__c_loop,
    tc__c_constant,
    NULL,
    NULL,
    tc__c_opaque,
    tc__has_source,
    tc__c_takes_rows,
    2,
    TC__FUSE_BORDERS,
    NULL,
    0,
    tc__c_takes_down,
    NULL,
    NULL,
};
