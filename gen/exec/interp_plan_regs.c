// The interpreter's plan, registers: which values are the same for a block, how long each lives, where it is in scratch, and
// what an accumulator needs. interp_plan.c makes instructions of it.

// ROW buffers hold a block at each element when the vector runs along rows.
static int tc__plan_in_lanes(const tc__planner *b, const tc__node *n) {
    return b->p->vector == TC__ROW && tc__buffer_of(b->g, n)->place == TC__BUF_ROW;
}

// ---- sections, loops, uniform values, lives

static int tc__plan_is_value(const tc__node *n) {
    return n->op != TC_OP_FOR && n->op != TC_OP_END && n->op != TC_OP_NEW &&
           n->op != TC_OP_ACC && n->op != TC_OP_STORE;
}

static tc__interp_part *tc__plan_part(const tc__planner *b, const tc__node *n) {
    size_t i = 0;
    while (n->id >= b->p->part.at[i].end) i++;
    return &b->p->part.at[i];
}

static const tc__section *tc__plan_section(const tc__planner *b, const tc__node *n) {
    const tc__interp_part *part = tc__plan_part(b, n);
    if (n->op == TC_OP_CONST || n->op == TC_OP_ARG) return &b->p->start;
    if (!part->product || !tc__plan_is_value(n)) return &part->main;
    if (n->level == TC__AT_LEFT) return &part->left;
    if (n->level == TC__AT_RIGHT) return &part->right;
    return &part->main;
}

static int tc__plan_uniform(tc__planner *b, const tc__node *n) {
    if (n->op == TC_OP_CONST || n->op == TC_OP_ARG) return 1;
    if (n->op == TC_OP_CONTRACT) return 0;
    if (n->op == TC_OP_COMBINE) return b->p->vector == TC__COL && n->level != TC__AT_COL;
    if (n->op == TC_OP_INDEX)
        return tc__plan_path_uniform(b, n, n->attr[TC__INDEX_EXPR], 1);
    if (n->op == TC_OP_VALID) return tc__plan_path_uniform(b, n, tc__ix_const(0), 0);
    if (n->op == TC_OP_LOAD)
        return !tc__plan_in_lanes(b, n) &&
               tc__plan_path_uniform(b, n, n->attr[TC__ACCESS_INDEX], TC__LOAD_PREDICATES);
    if (n->op == TC_OP_CHECK && !tc__plan_is_still(b, n->attr[TC__CHECK_LIMIT])) return 0;
    for (uint32_t i = 0; i < n->n_in; i++)
        if (!b->uniform[n->in[i]]) return 0;
    return 1;
}

static void tc__plan_open_loop(tc__planner *b, const tc__node *n) {
    tc__loop l;
    memset(&l, 0, sizeof l);
    l.axis = (tc__axis)n->attr[TC__FOR_AXIS], l.bind = (tc__bind)n->attr[TC__FOR_BIND],
    l.chunk = n->attr[TC__FOR_CHUNK];
    l.vector = l.axis == b->p->vector && l.bind != TC__BIND_SERIAL;
    l.begin = tc__plan_expr(b, n->attr[TC__FOR_BEGIN]),
    l.end = tc__plan_expr(b, n->attr[TC__FOR_END]);
    if (b->flat && l.axis == TC__ROW) {
        l.axis = TC__COL, l.vector = 1;
        l.end =
            tc__plan_expr(b, tc__ix_mul(b->g->body.ix, b->g->shape.rows, b->g->shape.cols));
    } else if (b->flat) {
        l.vector = 0;
    }
    for (int k = 0; l.vector && k < b->loops_around; k++) {
        tc__loop *out = &b->p->loop.at[b->around[k]];
        if (out->vector) out->vector = 0, out->once = 1;
    }
    b->loop_of[n->id] = (uint32_t)b->p->loop.count;
    b->loop_node[b->p->loop.count] = n->id;
    if (b->loops_around == TC__PLAN_LOOPS) {
        tc__plan_fail(b, n, "too many nested loops");
        return;
    }
    b->around[b->loops_around++] = (uint32_t)b->p->loop.count;
    if (!TC__PUSH(b->ctx, b->p->loop, l)) b->failed = 1;
}

static void tc__plan_close_loop(tc__planner *b, const tc__node *n) {
    if (!b->loops_around) {
        tc__plan_fail(b, n, "END without FOR");
        return;
    }
    b->loop_of[n->id] = b->around[--b->loops_around];
    b->loop_end[b->loop_of[n->id]] = n->id;
}

// The loop whose chunks an ACC belongs to: the innermost that has chunks, else the
// innermost.
static uint32_t tc__plan_acc_loop(const tc__planner *b) {
    for (int k = b->loops_around; k-- > 0;)
        if (b->p->loop.at[b->around[k]].chunk) return b->around[k];
    return b->around[b->loops_around - 1];
}

// Whether n steps a sum down the columns: what stands before all loops makes them.
static int tc__plan_is_down(const tc__planner *b, const tc__node *n) {
    for (uint32_t i = 0; b->p->down && tc__plan_node(b, i)->op == TC_OP_NEW; i++)
        if (tc__plan_node(b, i)->attr[TC__NEW_ACCUMULATOR] == n->attr[TC__ACC_ACCUMULATOR])
            return 1;
    return 0;
}

static void tc__plan_scan_loops(tc__planner *b) {
    for (uint32_t i = 0; i < b->p->nodes && !b->failed; i++) {
        const tc__node *n = tc__plan_node(b, i);
        b->axis = tc__plan_section(b, n)->axis;
        if (n->op == TC_OP_FOR) tc__plan_open_loop(b, n);
        if (n->op == TC_OP_END) tc__plan_close_loop(b, n);
        if (n->op == TC_OP_ACC && !b->loops_around)
            tc__plan_fail(b, n, "ACC outside loops");
        if (n->op == TC_OP_ACC && b->loops_around)
            b->loop_of[i] = tc__plan_is_down(b, n) ? UINT32_MAX : tc__plan_acc_loop(b);
        if (tc__plan_is_value(n)) b->uniform[i] = (uint8_t)tc__plan_uniform(b, n);
    }
    if (b->loops_around) tc__plan_fail(b, tc__plan_node(b, 0), "FOR without END");
}

// Whether n has no instruction of its own: that of the root of its tree does it.
static int tc__plan_is_inside(const tc__planner *b, uint32_t n) {
    return b->tree[n] && b->tree[n] != n + 1;
}

// The operands of the instruction of n: an FMA that is inside one has those that it has, in its place.
static uint32_t tc__plan_operands(const tc__planner *b, const tc__node *n,
                                  uint32_t in[TC__FMA2_OPERANDS]) {
    const tc__node *sum = n->op == TC_OP_FMA ? tc__plan_node(b, n->in[2]) : NULL;
    if (!sum || sum->op != TC_OP_FMA || b->tree[sum->id] != 1 + n->id) sum = NULL;
    uint32_t own = sum ? 2 : n->n_in < 3 ? n->n_in : 3;
    for (uint32_t k = 0; k < own; k++) in[k] = n->in[k];
    for (uint32_t k = 0; sum && k < 3; k++) in[own++] = sum->in[k];
    return own;
}

// A use at `at`: what was made outside a loop must last until the loop is over. Columns of rows behind one another are none.
static void tc__plan_use(const tc__planner *b, uint32_t made, uint32_t at) {
    uint32_t until = at;
    for (int k = b->flat ? b->loops_around > 0 : b->loops_around; k-- > 0;)
        if (b->loop_node[b->around[k]] > made) until = b->loop_end[b->around[k]];
    if (until > b->last[made]) b->last[made] = until;
    if (!b->where[made]) b->where[made] = at;
}

// Compiled code has the LOADs of a stencil ahead of what uses them. Here each would hold a block until then, so
// one waits for its first use, if that is an operation in the same loop and nothing is stored before.
static int tc__plan_waits(const tc__planner *b, const tc__node *n) {
    const tc__node *user = tc__plan_node(b, b->where[n->id]);
    uint32_t in[TC__FMA2_OPERANDS], operands = tc__plan_operands(b, user, in);
    int used = 0;
    if (n->op != TC_OP_LOAD || b->uniform[n->id] || tc__plan_part(b, n)->product) return 0;
    if (b->tree[n->id]) return 0;
    for (uint32_t k = 0; k < operands; k++) used |= in[k] == n->id;
    for (uint32_t k = 0; k < n->n_attr && used; k++)
        if (tc__attr_is_ix(n, k) && tc__ix_has_val(b->g->body.ix, n->attr[k])) used = 0;
    for (uint32_t i = n->id + 1; i < user->id && used; i++) {
        tc__op op = (tc__op)tc__plan_node(b, i)->op;
        used = (op != TC_OP_FOR || b->flat) && op != TC_OP_END && op != TC_OP_STORE;
    }
    return used;
}

// The LOADs that waited for n.
static uint32_t tc__plan_waited(const tc__planner *b, const tc__node *n,
                                uint32_t loads[TC__FMA2_OPERANDS]) {
    uint32_t in[TC__FMA2_OPERANDS], operands = tc__plan_operands(b, n, in), count = 0;
    for (uint32_t k = 0; k < operands; k++) {
        int again = 0;
        for (uint32_t j = 0; j < k; j++) again |= in[j] == in[k];
        if (!again && b->where[in[k]] == n->id) loads[count++] = in[k];
    }
    return count;
}

// A cast that changes nothing has no register of its own, so its operand lasts as long as it does.
// Neither has one to what is narrower in memory, in the same class, if it is only stored: stores do it.
static int tc__plan_renames(const tc__planner *b, const tc__node *n) {
    if (n->op != TC_OP_CAST) return 0;
    int from = tc__plan_node(b, n->in[0])->dtype;
    if (tc__cast_is_nothing(from, n->dtype)) return 1;
    return b->stored[n->id] && from != TC_BOOL && n->dtype != TC_BOOL &&
           tc__dtype(from)->reg == tc__dtype(n->dtype)->reg && b->p->isa->out[n->dtype];
}

// Which values are used by stores alone, to memory of their dtype.
static void tc__plan_scan_stores(tc__planner *b) {
    for (uint32_t i = 0; i < b->p->nodes; i++) {
        const tc__node *n = tc__plan_node(b, i);
        if (n->op == TC_OP_STORE)
            b->stored[n->in[0]] =
                tc__buffer_of(b->g, n)->dtype == tc__plan_node(b, n->in[0])->dtype;
    }
    for (uint32_t i = 0; i < b->p->nodes; i++) {
        const tc__node *n = tc__plan_node(b, i);
        for (uint32_t k = 0; k < n->n_in && n->op != TC_OP_STORE; k++)
            b->stored[n->in[k]] = 0;
    }
    for (size_t i = 0; i < b->p->part.count; i++) {
        const tc__interp_part *part = &b->p->part.at[i];
        if (part->product) b->stored[part->left_node] = b->stored[part->right_node] = 0;
    }
}

// Whether an INDEX may be one of i32: it moves evenly, and fits.
static int tc__plan_fits(tc__planner *b, const tc__node *n) {
    const tc__ixpool *x = b->g->body.ix;
    if (n->op != TC_OP_INDEX || b->uniform[n->id] || tc__plan_part(b, n)->product) return 0;
    tc__ix e = n->attr[TC__INDEX_EXPR];
    if (tc__ix_lo(x, e) < INT32_MIN || tc__ix_hi(x, e) > INT32_MAX) return 0;
    tc__ixrun r = tc__plan_run(b, e);
    return r.ok && r.run == INT64_MAX;
}

// Indices that only casts use are i32 where they fit: half the registers, and vectors convert them.
static void tc__plan_scan_indices(tc__planner *b) {
    b->axis = b->p->vector;
    for (uint32_t i = 0; i < b->p->nodes; i++)
        b->narrow[i] = (uint8_t)tc__plan_fits(b, tc__plan_node(b, i));
    for (uint32_t i = 0; i < b->p->nodes; i++) {
        const tc__node *n = tc__plan_node(b, i);
        int shorter = n->op == TC_OP_CAST && !tc__cast_is_nothing(TC_I64, n->dtype) &&
                      b->p->isa->cast[tc__loop_from(TC_I32)][n->dtype];
        for (uint32_t k = 0; k < n->n_in && !shorter; k++) b->narrow[n->in[k]] = 0;
    }
}

static void tc__plan_use_val(void *user, uint32_t id) {
    const tc__plan_scan *s = (const tc__plan_scan *)user;
    s->b->narrow[id] = 0;
    tc__plan_use(s->b, id, s->at);
}

static void tc__plan_scan_lives(tc__planner *b) {
    tc__plan_scan s;
    s.b = b, s.differ = 0;
    for (uint32_t i = 0; i < b->p->nodes; i++) {
        const tc__node *n = tc__plan_node(b, i);
        if (n->op == TC_OP_END) b->loops_around--;
        s.at = i;
        uint32_t at = b->tree[i] && b->tree[i] != UINT32_MAX ? b->tree[i] - 1 : i;
        for (uint32_t k = 0; k < n->n_in; k++) tc__plan_use(b, n->in[k], at);
        for (uint32_t k = 0; k < n->n_attr; k++) {
            if (!tc__attr_is_ix(n, k)) continue;
            tc__ix_each_val(b->g->body.ix, n->attr[k], tc__plan_use_val, &s);
        }
        if (n->op == TC_OP_FOR) b->around[b->loops_around++] = b->loop_of[i];
    }
    for (size_t i = 0; i < b->p->part.count; i++) {
        const tc__interp_part *part = &b->p->part.at[i];
        if (part->product) b->last[part->left_node] = b->last[part->right_node] = part->end;
    }
    for (uint32_t i = b->p->nodes; i-- > 0;) {
        const tc__node *n = tc__plan_node(b, i);
        if (tc__plan_renames(b, n) && b->last[n->in[0]] < b->last[i])
            b->last[n->in[0]] = b->last[i];
    }
    for (uint32_t i = 0; i < b->p->nodes; i++)
        if (!tc__plan_waits(b, tc__plan_node(b, i))) b->where[i] = 0;
}

// ---- registers

static uint32_t tc__plan_take_slot(tc__planner *b, int wide) {
    if (!wide) return b->free4.count ? b->free4.at[--b->free4.count] : b->slots4++;
    return b->free8.count ? b->free8.at[--b->free8.count] : b->slots8++;
}

static int tc__plan_is_wide(const tc__planner *b, const tc__node *n) {
    return tc__reg_width(n->dtype) == 8 && !b->narrow[n->id];
}

// Gives back the slots of values that are not used after `at`.
static void tc__plan_end_lives(tc__planner *b, uint32_t at, uint32_t before) {
    for (uint32_t i = 0; i < before; i++) {
        const tc__node *n = tc__plan_node(b, i);
        int ok = 1;
        if (!b->alive[i] || b->last[i] > at) continue;
        if (tc__plan_is_wide(b, n))
            ok = TC__PUSH(b->ctx, b->free8, b->slot[i]);
        else
            ok = TC__PUSH(b->ctx, b->free4, b->slot[i]);
        if (!ok) b->failed = 1;
        b->alive[i] = 0;
    }
}

// A loop that computes element by element may write where its operand ends.
static int tc__plan_is_loop(const tc__planner *b, const tc__node *n) {
    return n->op == TC_OP_CAST || (n->n_in && b->p->isa->alu[n->op][TC_I32]) ||
           (n->n_in && b->p->isa->alu[n->op][TC_F32]) || (n->n_in && n->dtype == TC_BOOL);
}

// Whether a LOAD has one element for most blocks of rows behind one another, as a filter's: its register is one vector then.
static int tc__plan_is_one(tc__planner *b, const tc__node *n) {
    if (!b->flat || n->op != TC_OP_LOAD || b->uniform[n->id]) return 0;
    b->axis = b->p->vector;
    tc__ixrun r = tc__plan_run(b, n->attr[TC__LOAD_INDEX]);
    return r.ok && tc__ix_equals(r.stride, 0) && r.run >= TC__BLOCK;
}

static void tc__plan_give_slot(tc__planner *b, const tc__node *n) {
    b->slot[n->id] = tc__plan_take_slot(b, tc__plan_is_wide(b, n));
    b->alive[n->id] = tc__plan_is_one(b, n) ? 2 : 1;
}

// What is in the cache together at node n.
static void tc__plan_touch(tc__planner *b, uint32_t n) {
    int64_t bytes = 0;
    for (uint32_t i = 0; i <= n; i++)
        if (b->alive[i] == 1) bytes += tc__plan_is_wide(b, tc__plan_node(b, i)) ? 8 : 4;
    if (bytes > b->touched) b->touched = bytes;
}

static void tc__plan_slots(tc__planner *b) {
    uint32_t load[TC__FMA2_OPERANDS], loads;
    for (uint32_t i = 0; i < b->p->nodes; i++) {
        const tc__node *n = tc__plan_node(b, i);
        if (b->where[i] || tc__plan_is_inside(b, i)) continue;
        tc__plan_end_lives(b, i - !!i, i);
        loads = tc__plan_waited(b, n, load);
        for (uint32_t k = 0; k < loads; k++)
            tc__plan_give_slot(b, tc__plan_node(b, load[k]));
        tc__plan_touch(b, i);
        if (tc__plan_is_loop(b, n)) tc__plan_end_lives(b, i, i);
        if (!tc__plan_is_value(n) || b->uniform[i] || n->op == TC_OP_CONTRACT) continue;
        if (!tc__plan_renames(b, n)) tc__plan_give_slot(b, n);
        tc__plan_touch(b, i);
    }
}

// Bytes of accumulators and ROW buffers for one element of a block of rows.
static int64_t tc__plan_row_bytes(const tc__planner *b) {
    int64_t n = 0;
    for (uint32_t i = 0; i < b->p->nodes; i++) {
        const tc__node *a = tc__plan_node(b, i);
        if (a->op == TC_OP_ACC) n += TC__FOLD_LANES * 2 * 8;
    }
    for (uint32_t i = 0; i < b->p->buffers; i++) {
        const tc__kbuf *k = &b->g->buffer.at[i];
        if (k->place != TC__BUF_ROW) continue;
        int64_t most = tc__ix_hi(b->g->body.ix, k->numel); // endless for a run-time size
        n = tc__ix_clamp(n + tc__ix_times(most, (int64_t)tc__dtype(k->dtype)->bytes));
    }
    return tc__ix_clamp(n);
}

// For how many columns of rows behind one another a LOAD stays where it is: whole rows, `most` columns or fewer, else 0.
static int64_t tc__plan_still_run(tc__planner *b, int64_t rows, int64_t most) {
    int64_t best = 0;
    b->axis = b->p->vector;
    for (uint32_t i = 0; i < b->p->nodes; i++) {
        const tc__node *n = tc__plan_node(b, i);
        if (n->op != TC_OP_LOAD || b->uniform[i]) continue;
        tc__ixrun r = tc__plan_run(b, n->attr[TC__LOAD_INDEX]);
        if (r.ok && tc__ix_equals(r.stride, 0) && r.run <= most && r.run % rows == 0)
            best = r.run > best ? r.run : best;
    }
    return best;
}

// The largest power of two that keeps the blocks in cache, those of more than TC__BLOCK in half of it; of short rows behind one another, whole ones, and as many as
// have one value of a LOAD: a filter of its own for each 56 x 56 image takes 0.65 of the time.
static int64_t tc__plan_block(tc__planner *b) {
    int64_t bytes = b->flat ? b->touched : (int64_t)b->slots4 * 4 + (int64_t)b->slots8 * 8;
    int64_t n = TC__BLOCK * 4, row = tc__plan_row_bytes(b), rows = b->p->flat;
    while (rows % TC__BLOCK_VECTOR) rows += b->p->flat;
    while (!b->p->flat && n > TC__BLOCK && bytes > TC__PLAN_BYTES / 2 / n) n /= 2;
    while (n > TC__BLOCK / 4 && bytes > TC__PLAN_BYTES / n) n /= 2;
    int64_t still = rows ? tc__plan_still_run(b, rows, n) : 0;
    rows = still ? still : rows;
    if (b->p->vector == TC__COL) return rows && rows < n ? n - n % rows : n;
    while (n > TC__FOLD_LANES && row > TC__PLAN_ROWS_BYTES / n) n /= 2;
    return n;
}

static size_t tc__plan_area(tc__planner *b, size_t bytes) {
    size_t at = b->used;
    b->used += (bytes + TC__STORAGE_ALIGN - 1) / TC__STORAGE_ALIGN * TC__STORAGE_ALIGN;
    return at;
}

static void tc__plan_homes(tc__planner *b) {
    tc__interp *p = b->p;
    size_t block = (size_t)p->block;
    p->reg_at = tc__plan_area(b, p->nodes * sizeof(tc__reg));
    p->base_at = tc__plan_area(b, p->buffers * sizeof(void *));
    p->cursor_at = tc__plan_area(b, p->loop.count * sizeof(tc__cursor));
    size_t narrow = tc__plan_area(b, b->slots4 * block * 4);
    size_t wide = tc__plan_area(b, b->slots8 * block * 8);
    for (uint32_t i = 0; i < p->nodes; i++) {
        const tc__node *n = tc__plan_node(b, i);
        tc__home h;
        if (!tc__plan_is_value(n)) continue;
        h.node = i, h.mask = b->uniform[i] ? 0 : -1;
        h.at = tc__plan_is_wide(b, n) ? wide + b->slot[i] * block * 8
                                      : narrow + b->slot[i] * block * 4;
        if (n->op == TC_OP_CONTRACT) h.at = 0;
        if (b->uniform[i]) h.at = tc__plan_area(b, TC__BLOCK_VECTOR * 8);
        b->home[i] = h.at;
        if (!TC__PUSH(b->ctx, p->home, h)) b->failed = 1;
    }
}

// ---- accumulators

static void tc__plan_acc_of(tc__planner *b, const tc__node *n) {
    tc__interp *p = b->p;
    tc__accum *a = &p->acc.at[n->attr[TC__ACC_ACCUMULATOR]];
    int op = (int)n->attr[TC__ACC_MONOID], rows = p->vector == TC__ROW;
    a->used = 1;
    a->dtype = tc__plan_node(b, n->in[0])->dtype;
    a->arg = op == TC_OP_ARGMAX || op == TC_OP_ARGMIN, a->less = op == TC_OP_ARGMIN;
    a->identity = tc__word_of(p->isa, a->dtype, tc__identity((tc__op)op, a->dtype));
    a->step = p->isa->alu[op][a->dtype], a->fold = p->isa->fold[op][a->dtype];
    if (b->tree[n->in[0]] == 1 + n->id)
        a->fold_mul = p->isa->fold_mul[tc__dtype(a->dtype)->reg];
    if (!a->arg && (!a->step || !a->fold))
        tc__plan_fail(b, n, "no loop for this reduction");
    a->down = b->loop_of[n->id] == UINT32_MAX;
    a->lane = rows ? p->block : a->down ? (int64_t)TC__FOLD_LANES : 1;
    a->width = tc__reg_width(a->dtype);
    a->set = TC__FOLD_LANES * a->lane + TC__BLOCK_VECTOR;
    size_t sets = a->down || (p->loop.at[b->loop_of[n->id]].chunk && !a->arg) ? 2 : 1;
    a->at = tc__plan_area(b, sets * (size_t)(a->set * a->width));
    if (a->arg) a->index = tc__plan_area(b, (size_t)a->set * 8);
}

// That of n, and room for those before it. 0 = out of memory.
static int tc__plan_add_acc(tc__planner *b, const tc__node *n) {
    tc__accum none;
    memset(&none, 0, sizeof none);
    while (b->p->acc.count <= (size_t)n->attr[TC__ACC_ACCUMULATOR])
        if (!TC__PUSH(b->ctx, b->p->acc, none)) {
            b->failed = 1;
            return 0;
        }
    tc__plan_acc_of(b, n);
    return 1;
}

static void tc__plan_accs_down(tc__planner *b) {
    for (uint32_t i = 0; i < b->p->nodes && b->p->down; i++) {
        const tc__node *n = tc__plan_node(b, i);
        if (n->op == TC_OP_ACC && b->loop_of[i] == UINT32_MAX && !tc__plan_add_acc(b, n))
            return;
    }
    for (uint32_t i = 0; b->p->down && tc__plan_node(b, i)->op == TC_OP_NEW; i++) {
        int64_t number = tc__plan_node(b, i)->attr[TC__NEW_ACCUMULATOR];
        if (number < (int64_t)b->p->acc.count)
            b->p->acc.at[number].before = tc__down_width(b->g, i);
    }
}

static void tc__plan_accs(tc__planner *b) {
    tc__interp *p = b->p;
    tc__plan_accs_down(b);
    for (uint32_t l = 0; l < p->loop.count; l++) {
        p->loop.at[l].first_acc = (uint32_t)p->acc_of_loop.count;
        for (uint32_t i = 0; i < p->nodes; i++) {
            const tc__node *n = tc__plan_node(b, i);
            if (n->op != TC_OP_ACC || b->loop_of[i] != l) continue;
            if (!tc__ix_is_const(tc__plan_node(b, b->loop_node[l])->attr[TC__FOR_BEGIN]) ||
                tc__ix_value(tc__plan_node(b, b->loop_node[l])->attr[TC__FOR_BEGIN]) %
                    TC__FOLD_LANES)
                tc__plan_fail(b, n, "a reduction begins at a multiple of 32");
            if (!tc__plan_add_acc(b, n)) return;
            if (!TC__PUSH(b->ctx, p->acc_of_loop, (uint32_t)n->attr[TC__ACC_ACCUMULATOR]))
                b->failed = 1;
        }
        p->loop.at[l].accs = (uint32_t)p->acc_of_loop.count - p->loop.at[l].first_acc;
    }
}
