// The block interpreter: runs a LOOP list in blocks of up to TC__BLOCK elements of the
// vector axis, one prebuilt loop per node and block. It is the eager backend, tier 0 while
// a compiler works, and the fallback without one; the bits are those of the compiled
// kernel.
//
// exec/interp_plan.c turns a list into a program: a linear array of instructions, each
// with the function that does it; FOR and END move f->pc. Registers live in the worker's
// scratch, which also holds accumulators and ROW buffers; running allocates nothing.
// What reads and writes memory stands in exec/interp_access.c.

// ---- values

static int64_t tc__lanes_of(const tc__frame *f, const tc__insn *i) {
    return i->uniform ? f->isa->lanes : f->n;
}

static void tc__step_block(tc__frame *f, const tc__insn *i) {
    i->block(tc__dst(f, i), &f->reg[i->in[0]], &f->reg[i->in[1]], &f->reg[i->in[2]],
             tc__lanes_of(f, i));
}

// The STORE that follows has nothing left to do where whole vectors were computed in place.
static void tc__step_block_direct(tc__frame *f, const tc__insn *i) {
    i->block(tc__dst_of(f, i, 1), &f->reg[i->in[0]], &f->reg[i->in[1]], &f->reg[i->in[2]],
             f->n);
    f->pc += !(f->n & (TC__BLOCK_VECTOR - 1));
}

// Two FMAs, directly or not.
static void tc__step_fma2(tc__frame *f, const tc__insn *i) {
    const tc__reg *in[TC__FMA2_OPERANDS];
    for (int k = 0; k < TC__FMA2_OPERANDS; k++) in[k] = &f->reg[i->in[k]];
    f->isa->fma2[tc__dtype(i->dtype)->reg](tc__dst_of(f, i, 1), in, f->n);
    f->pc += i->direct && !(f->n & (TC__BLOCK_VECTOR - 1));
}

// A cast that changes nothing: the value has another name.
static void tc__step_rename(tc__frame *f, const tc__insn *i) {
    f->reg[i->dst].at = f->reg[i->in[0]].at;
    f->reg[i->dst].mask = f->reg[i->in[0]].mask;
}

static void tc__step_random(tc__frame *f, const tc__insn *i) {
    i->random(tc__dst(f, i), &f->reg[i->in[0]], f->a->seed, f->a->draw + (uint64_t)i->k,
              tc__lanes_of(f, i));
}

// CONST: k is unused, the value is in fill.
static void tc__step_const(tc__frame *f, const tc__insn *i) {
    tc__fill(f->isa, tc__dst(f, i), &i->fill, tc__reg_width(i->dtype), TC__BLOCK_VECTOR);
}

static void tc__step_arg(tc__frame *f, const tc__insn *i) {
    tc__value v;
    tc__word w;
    memcpy(&v, &f->a->arg[i->k], sizeof v);
    w = tc__word_of(f->isa, i->dtype, v);
    tc__fill(f->isa, tc__dst(f, i), &w, tc__reg_width(i->dtype), TC__BLOCK_VECTOR);
}

static void tc__index_runs(const tc__frame *f, const tc__insn *i, void *d) {
    const tc__path *p = &f->p->path.at[i->item];
    const tc__rect *q;
    tc__runs r;
    for (tc__runs_open(&r), q = &r.now; tc__runs_next(f, p, &r);)
        for (int64_t k = 0; k < q->count; k++) {
            int64_t lane = q->lane + k * q->length, at = q->at + k * q->over;
            if (i->dtype == TC_I32)
                f->isa->ramp_i32((int32_t *)d + lane, at, q->step, q->length);
            else
                f->isa->ramp((int64_t *)d + lane, at, q->step, q->length);
        }
}

static void tc__step_index(tc__frame *f, const tc__insn *i) {
    const tc__path *p = &f->p->path.at[i->item];
    int64_t *d = (int64_t *)tc__dst(f, i), n;
    if (i->uniform) {
        d[0] = tc__expr_at(f, &p->index.at, 0);
        tc__spread(f, d, TC_I64);
        return;
    }
    if (p->run) {
        tc__index_runs(f, i, d);
        return;
    }
    for (int64_t j = 0; j < f->n; j += n) {
        n = tc__lanes_after(f, j);
        tc__expr_lanes(f, &p->index.at, j, 1, n, d + j);
    }
}

static void tc__valid_runs(const tc__frame *f, const tc__path *p, const tc__lanes *d) {
    const tc__rect *q;
    tc__word no, yes;
    tc__runs r;
    no.i64 = yes.i64 = 0, yes.i32 = f->isa->truth;
    for (tc__runs_open(&r), q = &r.now; tc__runs_next(f, p, &r);) {
        tc__rect_fill_part(f, q, d, q->lo, q->hi, &yes);
        tc__rect_fill(f, q, d, &no);
    }
}

static void tc__valid_combs(tc__frame *f, const tc__path *p, int32_t *to) {
    tc__lanes d = {NULL, p->comb, 4};
    tc__comb c;
    for (int64_t t = 0; t < p->comb; t++, tc__comb_close(f, &c)) {
        if (!tc__comb_open(f, p, t, &c)) continue;
        d.at = (char *)(to + c.begin);
        tc__valid_runs(f, c.path, &d);
    }
}

static void tc__step_valid(tc__frame *f, const tc__insn *i) {
    const tc__path *p = &f->p->path.at[i->item];
    int32_t *d = (int32_t *)tc__dst(f, i), truth = f->isa->truth;
    uint8_t keep[TC__EXPR_LANES];
    if (i->uniform) {
        d[0] = tc__path_holds(f, p) ? truth : 0;
        tc__spread(f, d, TC_BOOL);
        return;
    }
    if (p->run) {
        tc__lanes all = {(char *)d, 1, 4};
        tc__valid_runs(f, p, &all);
        return;
    }
    if (p->comb) {
        tc__valid_combs(f, p, d);
        return;
    }
    for (int64_t j = 0, n; j < f->n; j += n) {
        n = tc__lanes_after(f, j);
        tc__path_keep(f, p, j, n, keep);
        for (int64_t l = 0; l < n; l++) d[j + l] = keep[l] ? truth : 0;
    }
}

static int64_t tc__check_one(tc__frame *f, const tc__insn *i, int64_t v, int64_t limit) {
    int64_t x = v < 0 ? v + limit : v;
    if (TC__LIKELY(x >= 0 && x < limit)) return x;
    f->a->flag[0] = i->k + 1;
    f->a->flag[1] = v;
    f->a->flag[2] = limit;
    return x < 0 || limit < 1 ? 0 : limit - 1;
}

static void tc__step_check(tc__frame *f, const tc__insn *i) {
    const tc__reg *r = &f->reg[i->in[0]];
    const int64_t *v = (const int64_t *)r->at;
    int64_t *d = (int64_t *)tc__dst(f, i), n = i->uniform ? 1 : f->n;
    int64_t limit = tc__expr_at(f, &f->p->expr.at[i->item], 0);
    for (int64_t j = 0; j < n; j++) d[j] = tc__check_one(f, i, v[j & r->mask], limit);
    if (i->uniform) tc__spread(f, d, TC_I64);
}

// ---- reductions

static uint8_t *tc__acc_set(const tc__frame *f, const tc__accum *a, int second) {
    return f->scratch + a->at + (second ? (size_t)(a->set * a->width) : 0);
}

static int64_t *tc__acc_index(const tc__frame *f, const tc__accum *a, int second) {
    return (int64_t *)(void *)(f->scratch + a->index) + (second ? a->set : 0);
}

static void tc__acc_reset(const tc__frame *f, const tc__accum *a, int second) {
    tc__word never;
    tc__fill(f->isa, tc__acc_set(f, a, second), &a->identity, a->width, a->set);
    never.i64 = INT64_MAX;
    if (a->arg) tc__fill(f->isa, tc__acc_index(f, a, second), &never, 8, a->set);
}

static void tc__step_acc_new(tc__frame *f, const tc__insn *i) {
    const tc__accum *a = &f->p->acc.at[i->item];
    tc__acc_reset(f, a, 0);
}

// Vectors of columns: the lanes are elements.
static void tc__step_acc_cols(tc__frame *f, const tc__insn *i) {
    const tc__accum *a = &f->p->acc.at[i->item];
    if (a->fold_mul)
        a->fold_mul(tc__acc_set(f, a, 0), &f->reg[i->in[0]], &f->reg[i->in[1]], f->n);
    else
        a->fold(tc__acc_set(f, a, 0), &f->reg[i->in[0]], f->n);
}

static void tc__step_arg_cols(tc__frame *f, const tc__insn *i) {
    const tc__accum *a = &f->p->acc.at[i->item];
    tc__class c = tc__dtype(a->dtype)->reg;
    void *best = tc__acc_set(f, a, 0);
    int64_t *at = tc__acc_index(f, a, 0), index = f->var[TC__COL], n;
    tc__reg x = f->reg[i->in[0]];
    // Lanes that nothing has won are in the first 32 elements.
    int64_t first = at[TC__FOLD_LANES - 1] == INT64_MAX ? TC__FOLD_LANES : 0;
    first = x.mask ? tc__lesser(first, f->n) : f->n;
    tc__arg_fold[c](best, at, &x, index, 1, TC__FOLD_LANES - 1, a->less, first);
    n = (f->n - first) & -TC__FOLD_LANES, index += first;
    x.at = (char *)x.at + first * a->width;
    if (n) f->isa->arg[c](best, at, x.at, index, a->less, n);
    x.at = (char *)x.at + n * a->width;
    tc__arg_fold[c](best, at, &x, index + n, 1, TC__FOLD_LANES - 1, a->less,
                    f->n - first - n);
}

// Vectors of rows: a lane is a block, the column chooses the lane.
static void tc__step_acc_rows(tc__frame *f, const tc__insn *i) {
    const tc__accum *a = &f->p->acc.at[i->item];
    int64_t lane = f->var[TC__COL] % TC__FOLD_LANES;
    tc__reg r;
    r.at = tc__acc_set(f, a, 0) + lane * a->lane * a->width, r.mask = -1;
    a->step(r.at, &r, &f->reg[i->in[0]], NULL, f->n);
}

static void tc__step_arg_rows(tc__frame *f, const tc__insn *i) {
    const tc__accum *a = &f->p->acc.at[i->item];
    int64_t lane = f->var[TC__COL] % TC__FOLD_LANES * a->lane;
    tc__arg_fold[tc__dtype(a->dtype)->reg](tc__acc_set(f, a, 0) + lane * a->width,
                                           tc__acc_index(f, a, 0) + lane, &f->reg[i->in[0]],
                                           f->var[TC__COL], 0, -1, a->less, f->n);
}

// Lanes l and l + half, for every l < half, down to lane 0. n: elements of a lane.
static void tc__acc_join(const tc__frame *f, const tc__accum *a, int second, int64_t n) {
    uint8_t *set = tc__acc_set(f, a, second);
    tc__reg x, y;
    if (a->lane == 1) {
        a->fold(set, NULL, 1);
        return;
    }
    x.mask = y.mask = -1;
    for (int64_t half = TC__FOLD_LANES / 2; half; half /= 2) {
        x.at = set, y.at = set + half * a->lane * a->width;
        for (int64_t l = 0; l < half; l++) {
            a->step(x.at, &x, &y, NULL, n);
            x.at = (uint8_t *)x.at + a->lane * a->width;
            y.at = (uint8_t *)y.at + a->lane * a->width;
        }
    }
}

static void tc__acc_join_arg(const tc__frame *f, const tc__accum *a, int64_t n) {
    tc__arg_merge_fn merge = tc__arg_merge[tc__dtype(a->dtype)->reg];
    uint8_t *set = tc__acc_set(f, a, 0);
    int64_t *at = tc__acc_index(f, a, 0);
    for (int64_t half = TC__FOLD_LANES / 2; half; half /= 2) {
        if (a->lane == 1) merge(set, at, set + half * a->width, at + half, a->less, half);
        for (int64_t l = 0; l < half && a->lane > 1; l++) {
            int64_t x = l * a->lane, y = (l + half) * a->lane;
            merge(set + x * a->width, at + x, set + y * a->width, at + y, a->less, n);
        }
    }
}

// A chunk is over: its result joins lane chunk % 32 of the second set.
static void tc__acc_end_chunk(tc__frame *f, const tc__accum *a, int64_t chunk) {
    int64_t n = a->lane == 1 ? 1 : f->n, lane = chunk % TC__FOLD_LANES;
    uint8_t sum[TC__BLOCK_VECTOR * 8];
    tc__reg x, y;
    if (a->arg) return; // the order of the elements is all that counts
    tc__acc_join(f, a, 0, n);
    x.mask = y.mask = -1;
    x.at = tc__acc_set(f, a, 1) + lane * a->lane * a->width, y.at = tc__acc_set(f, a, 0);
    a->step(a->lane == 1 ? (void *)sum : x.at, &x, &y, NULL, n);
    if (a->lane == 1) memcpy(x.at, sum, (size_t)a->width);
    tc__acc_reset(f, a, 0);
}

// k: the loop that was reduced, so that its chunks are known.
static void tc__step_combine(tc__frame *f, const tc__insn *i) {
    const tc__accum *a = &f->p->acc.at[i->item];
    int second = f->cursor[i->k].chunks > 0;
    int64_t n = a->lane == 1 ? 1 : f->n;
    void *d = tc__dst(f, i);
    tc__acc_join(f, a, second, n);
    memcpy(d, tc__acc_set(f, a, second), (size_t)(n * a->width));
    if (a->lane == 1) tc__spread(f, d, i->dtype);
}

static void tc__step_combine_arg(tc__frame *f, const tc__insn *i) {
    const tc__accum *a = &f->p->acc.at[i->item];
    int64_t n = a->lane == 1 ? 1 : f->n, *at = tc__acc_index(f, a, 0);
    int64_t *d = (int64_t *)tc__dst(f, i);
    tc__acc_join_arg(f, a, n);
    for (int64_t j = 0; j < n; j++) d[j] = at[j] == INT64_MAX ? 0 : at[j];
    if (a->lane == 1) tc__spread(f, d, TC_I64);
}

// ---- sums down the columns: kernel/down_host.c

// The work item of a row.
static int64_t tc__down_item(int64_t row) {
    return row / TC__FOLD_CHUNK * TC__FOLD_LANES + row % TC__FOLD_LANES;
}

// The sums of a work item, from this column on.
static uint8_t *tc__down_sums_of(const tc__frame *f, const tc__accum *a, int64_t item,
                                 int64_t column) {
    int64_t at = a->before * f->down_items * f->down_stride;
    return (uint8_t *)f->a->sums + at + (item * f->down_stride + column) * a->width;
}

static void tc__down_clear(const tc__frame *f, int64_t lo, int64_t hi) {
    for (size_t i = 0; i < f->p->acc.count; i++) {
        const tc__accum *a = &f->p->acc.at[i];
        if (a->down)
            tc__fill(f->isa, tc__down_sums_of(f, a, lo, 0), &a->identity, a->width,
                     (hi - lo) * f->down_stride);
    }
}

static void tc__step_acc_down(tc__frame *f, const tc__insn *i) {
    const tc__accum *a = &f->p->acc.at[i->item];
    tc__reg r;
    r.at = tc__down_sums_of(f, a, tc__down_item(f->var[TC__ROW]), f->var[TC__COL]);
    r.mask = -1;
    a->step(r.at, &r, &f->reg[i->in[0]], NULL, f->n);
}

// The lanes of a chunk side by side, from this column on.
static void tc__down_take_lanes(tc__frame *f, const tc__accum *a, int64_t chunk,
                                int64_t column, int64_t n) {
    uint8_t *set = tc__acc_set(f, a, 0);
    for (int64_t l = 0; l < TC__FOLD_LANES; l++)
        memcpy(set + l * a->lane * a->width,
               tc__down_sums_of(f, a, chunk * TC__FOLD_LANES + l, column),
               (size_t)(n * a->width));
}

static void tc__step_combine_down(tc__frame *f, const tc__insn *i) {
    const tc__accum *a = &f->p->acc.at[i->item];
    int64_t chunks = f->down_items / TC__FOLD_LANES, n;
    uint8_t *d = (uint8_t *)tc__dst(f, i);
    tc__reg x, y;
    x.mask = y.mask = -1, y.at = tc__acc_set(f, a, 0);
    for (int64_t j = 0; j < f->n; j += n) {
        n = tc__lesser(a->lane, f->n - j);
        if (chunks > 1) tc__acc_reset(f, a, 1);
        for (int64_t k = 0; k < chunks; k++) {
            tc__down_take_lanes(f, a, k, f->var[TC__COL] + j, n);
            tc__acc_join(f, a, 0, n);
            if (chunks == 1) continue;
            x.at = tc__acc_set(f, a, 1) + k % TC__FOLD_LANES * a->lane * a->width;
            a->step(x.at, &x, &y, NULL, n);
        }
        if (chunks > 1) tc__acc_join(f, a, 1, n);
        memcpy(d + j * a->width, tc__acc_set(f, a, chunks > 1), (size_t)(n * a->width));
    }
}

// ---- loops

// The block that begins at the cursor; blocks start at multiples of the block size.
static void tc__loop_place(tc__frame *f, const tc__loop *l, const tc__cursor *c) {
    f->var[l->axis] = c->at;
    if (!l->vector) return;
    f->axis = l->axis;
    f->n = tc__lesser(f->p->block - c->at % f->p->block, c->end - c->at);
    if (f->tile_row)
        f->reg[f->part->tile].at = f->tile_row + c->at * tc__reg_width(f->part->dtype);
}

static const tc__accum *tc__loop_acc(const tc__frame *f, const tc__loop *l, uint32_t k) {
    return &f->p->acc.at[f->p->acc_of_loop.at[l->first_acc + k]];
}

static void tc__loop_start_chunks(tc__frame *f, const tc__loop *l, tc__cursor *c) {
    c->chunks = l->chunk && c->end - c->at > l->chunk;
    for (uint32_t k = 0; c->chunks && k < l->accs; k++) {
        const tc__accum *a = tc__loop_acc(f, l, k);
        if (!a->arg) tc__acc_reset(f, a, 1);
    }
}

static void tc__loop_end_chunk(tc__frame *f, const tc__loop *l, tc__cursor *c) {
    for (uint32_t k = 0; k < l->accs; k++)
        tc__acc_end_chunk(f, tc__loop_acc(f, l, k), c->chunks - 1);
    c->chunks++;
}

// The worker's share of the items, as the range of the loop's variable.
static void tc__loop_share(tc__frame *f, const tc__loop *l, tc__cursor *c) {
    int64_t per = f->p->grain, lo = f->lo, hi = f->hi;
    if (f->p->down) { // columns stand behind all rows
        lo = lo > f->down_items ? lo - f->down_items : 0;
        hi = hi > f->down_items ? hi - f->down_items : 0;
    }
    if (l->axis == TC__ROW) per = TC__FOLD_LANES;
    if (!l->vector && !l->once) per = 1;
    if (f->p->flat) per = f->p->flat;
    c->at = lo * per;
    c->end = tc__lesser(hi * per, tc__expr_at(f, &l->end, 0));
}

static void tc__loop_range(tc__frame *f, const tc__loop *l, tc__cursor *c) {
    if (l->bind == TC__BIND_WORKER) {
        tc__loop_share(f, l, c);
        return;
    }
    c->at = tc__expr_at(f, &l->begin, 0);
    c->end = tc__expr_at(f, &l->end, 0);
    if (l->axis == TC__COL && l->vector) {
        if (c->at < f->col_lo) c->at = f->col_lo;
        if (c->end > f->col_hi) c->end = f->col_hi;
    }
}

static void tc__step_for(tc__frame *f, const tc__insn *i) {
    const tc__loop *l = &f->p->loop.at[i->item];
    tc__cursor *c = &f->cursor[i->item];
    tc__loop_range(f, l, c);
    if (c->at >= c->end) {
        c->chunks = 0;
        f->pc = l->after;
        return;
    }
    tc__loop_start_chunks(f, l, c);
    tc__loop_place(f, l, c);
}

static void tc__step_end(tc__frame *f, const tc__insn *i) {
    const tc__loop *l = &f->p->loop.at[i->item];
    tc__cursor *c = &f->cursor[i->item];
    c->at += l->vector ? f->n : 1;
    if (c->chunks && (c->at % l->chunk == 0 || c->at >= c->end))
        tc__loop_end_chunk(f, l, c);
    if (c->at >= c->end) return;
    tc__loop_place(f, l, c);
    f->pc = l->body;
}

// The first row of this item, or of one behind it, that there is; 0 = there is none.
static int tc__down_seek(const tc__frame *f, tc__cursor *c, int64_t item) {
    for (; item < f->hi && item < f->down_items; item++) {
        c->at = item / TC__FOLD_LANES * TC__FOLD_CHUNK + item % TC__FOLD_LANES;
        if (c->at < c->end) return 1;
    }
    return 0;
}

static void tc__step_for_down(tc__frame *f, const tc__insn *i) {
    const tc__loop *l = &f->p->loop.at[i->item];
    tc__cursor *c = &f->cursor[i->item];
    int64_t hi = tc__lesser(f->hi, f->down_items);
    c->end = tc__expr_at(f, &l->end, 0), c->chunks = 0;
    if (f->lo < hi) tc__down_clear(f, f->lo, hi);
    if (tc__down_seek(f, c, f->lo))
        tc__loop_place(f, l, c);
    else
        f->pc = l->after;
}

static void tc__step_end_down(tc__frame *f, const tc__insn *i) {
    const tc__loop *l = &f->p->loop.at[i->item];
    tc__cursor *c = &f->cursor[i->item];
    int64_t item = tc__down_item(c->at);
    c->at += TC__FOLD_LANES;
    int more = c->at < c->end && c->at % TC__FOLD_CHUNK >= TC__FOLD_LANES;
    if (!more && !tc__down_seek(f, c, item + 1)) return;
    tc__loop_place(f, l, c);
    f->pc = l->body;
}

// A worker's loop over columns around the loop that steps through them: sets the range
// once.
static void tc__step_share(tc__frame *f, const tc__insn *i) {
    const tc__loop *l = &f->p->loop.at[i->item];
    tc__cursor c;
    tc__loop_share(f, l, &c);
    f->col_lo = c.at, f->col_hi = c.end;
}

static void tc__step_nothing(tc__frame *f, const tc__insn *i) { (void)f, (void)i; }

static void tc__section_run(tc__frame *f, const tc__section *s) {
    const tc__insn *code = f->p->code.at;
    f->pc = s->first;
    while (f->pc < s->end) {
        const tc__insn *i = &code[f->pc++];
        i->step(f, i);
    }
}

// ---- a run

// Bytes of a row of a ROW or MADE buffer.
static size_t tc__interp_row(const tc__interp *p, const tc__frame *f, uint32_t b) {
    int64_t lanes = p->vector == TC__ROW ? p->block : 1;
    size_t n = (size_t)tc__expr_at(f, &p->row_numel.at[b], 0) * (size_t)lanes;
    n = (n + TC__BLOCK_VECTOR) * tc__dtype(p->buffer.at[b].dtype)->bytes +
        TC__STORAGE_ALIGN;
    return n - n % TC__STORAGE_ALIGN;
}

// Bytes of the area of ROW buffers, and of MADE ones of a block of rows; places them where base is given,
// those that are MADE at this row of the block.
static size_t tc__interp_rows(const tc__interp *p, const tc__frame *f, uint8_t *at,
                              void **base, int64_t row) {
    size_t used = 0;
    for (uint32_t b = 0; b < p->buffers; b++) {
        int made = p->buffer.at[b].place == TC__BUF_MADE;
        if (!made && p->buffer.at[b].place != TC__BUF_ROW) continue;
        size_t n = tc__interp_row(p, f, b);
        if (base) base[b] = at + used + (made ? (size_t)row * n : 0);
        used += made ? TC__TILE_MAX_ROWS * n : n;
    }
    return used;
}

// Row `row` of the block that begins at `first` is at hand.
static void tc__frame_row(tc__frame *f, int64_t first, int64_t row) {
    f->var[TC__ROW] = first + row;
    if (f->p->part.count > 1)
        tc__interp_rows(f->p, f, f->scratch + f->p->fixed, f->base, row);
}

static void tc__frame_open(tc__frame *f, const tc__interp *p, const tc__kargs *a) {
    memset(f, 0, sizeof *f);
    f->p = p, f->a = a, f->isa = p->isa;
    f->axis = p->vector;
    f->col_hi = INT64_MAX;
}

static void tc__frame_place(tc__frame *f, int worker) {
    const tc__interp *p = f->p;
    f->scratch = (uint8_t *)f->a->scratch[worker];
    f->reg = (tc__reg *)(void *)(f->scratch + p->reg_at);
    f->base = (void **)(void *)(f->scratch + p->base_at);
    f->cursor = (tc__cursor *)(void *)(f->scratch + p->cursor_at);
    f->kept = (tc__kept *)(void *)(f->scratch + p->kept_at);
    f->stack = (tc__expr_row *)(void *)(f->scratch + p->stack_at);
    for (size_t i = 0; i < p->kept.count; i++) f->kept[i].n = 0;
    for (size_t i = 0; i < p->home.count; i++) {
        tc__reg *r = &f->reg[p->home.at[i].node];
        r->at = f->scratch + p->home.at[i].at, r->mask = p->home.at[i].mask;
    }
    for (uint32_t b = 0; b < p->buffers; b++) f->base[b] = f->a->buf[b];
    f->tile_area =
        f->scratch + p->fixed + tc__interp_rows(p, f, f->scratch + p->fixed, f->base, 0);
}
