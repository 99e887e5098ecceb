// From a LOOP list to a program of the interpreter, and the three calls of the rest of the
// library: tc__interp_prepare, tc__interp_scratch_bytes, tc__interp_run. Order of the
// work: which values are uniform, how long each lives, how large a block is, where
// registers are, then the instructions. Constants go to a section of their own, run once.

typedef struct tc__plan_rule {
    tc__op op;
    void (*plan)(tc__planner *b, const tc__node *n, tc__insn *i);
} tc__plan_rule;

// ---- instructions

// Whether value n may be in memory from node `from` on: nothing is stored while it is needed.
static int tc__plan_may_alias(const tc__planner *b, const tc__node *n, uint32_t from) {
    if (tc__dtype(n->dtype)->bytes != (uint32_t)tc__reg_width(n->dtype)) return 0;
    if (tc__plan_section(b, n) != &tc__plan_part(b, n)->main) return 1;
    for (uint32_t i = from + 1; i < b->last[n->id] && i < b->p->nodes; i++)
        if (tc__plan_node(b, i)->op == TC_OP_STORE) return 0;
    return 1;
}

// Lets the loop or LOAD just before a plain STORE write to memory itself.
static void tc__plan_store_direct(tc__planner *b, const tc__node *n, const tc__insn *i) {
    const tc__node *v = tc__plan_node(b, n->in[0]);
    tc__insn *last;
    if (b->p->code.count <= tc__plan_part(b, n)->main.first) return;
    last = &b->p->code.at[b->p->code.count - 1];
    int narrow =
        last->dst == v->id && last->step == tc__step_narrow; // it has no other place
    if (i->step != tc__step_store_plain) {
        if (narrow) tc__plan_fail(b, n, "narrow elements are stored side by side");
        return;
    }
    if (narrow) last->direct = i->item + 1;
    if (last->dst != v->id || last->uniform || !tc__plan_may_alias(b, v, n->id)) return;
    if (last->step == tc__step_block) last->step = tc__step_block_direct;
    if (last->step == tc__step_block_direct || last->step == tc__step_choose ||
        last->step == tc__step_fma2 || v->op == TC_OP_LOAD)
        last->direct = i->item + 1;
}

static void tc__plan_load(tc__planner *b, const tc__node *n, tc__insn *i) {
    tc__value fill;
    int lanes = tc__plan_in_lanes(b, n);
    i->item = tc__plan_path(b, n, n->attr[TC__LOAD_INDEX], TC__LOAD_PREDICATES,
                            (uint32_t)n->attr[TC__LOAD_BUFFER]);
    if (b->failed) return;
    tc__path *p = &b->p->path.at[i->item];
    memcpy(&fill, &n->attr[TC__LOAD_FILL], sizeof fill);
    i->fill = tc__word_of(b->p->isa, n->dtype, fill);
    p->scale = lanes ? b->p->block : 1; // a whole block at each element
    i->alias = (uint8_t)tc__plan_may_alias(b, n, n->id);
    i->step = p->run ? tc__step_load_runs : tc__step_load_lanes;
    if (p->comb && !b->p->isa->in[n->dtype]) i->step = tc__step_load_combs;
    if (p->whole) i->step = tc__step_load_whole;
    if (p->plain) i->step = tc__step_load_plain;
    if (i->uniform) i->step = tc__step_load_uniform;
    if (lanes)
        i->step = !p->limits && tc__plan_is_still(b, n->attr[TC__LOAD_INDEX])
                      ? tc__step_load_plain
                      : tc__step_load_lanes;
    if (i->step == tc__step_load_runs)
        i->k = (int64_t)tc__plan_area(b, TC__BLOCK_VECTOR * 8);
}

static void tc__plan_store(tc__planner *b, const tc__node *n, tc__insn *i) {
    int lanes = tc__plan_in_lanes(b, n),
        still = tc__plan_is_still(b, n->attr[TC__STORE_INDEX]);
    i->item = tc__plan_path(b, n, n->attr[TC__STORE_INDEX], n->n_attr,
                            (uint32_t)n->attr[TC__STORE_BUFFER]);
    if (b->failed) return;
    tc__path *p = &b->p->path.at[i->item];
    i->dtype = tc__plan_node(b, n->in[0])->dtype;
    p->scale = lanes ? b->p->block : 1;
    i->step = p->run ? tc__step_store_runs : tc__step_store_lanes;
    if (p->plain) i->step = tc__step_store_plain;
    if (still && !lanes) i->step = tc__step_store_one;
    if (lanes) i->step = still ? tc__step_store_plain : tc__step_store_lanes;
    tc__plan_store_direct(b, n, i);
}

static void tc__plan_index(tc__planner *b, const tc__node *n, tc__insn *i) {
    i->item = tc__plan_path(b, n, n->attr[TC__INDEX_EXPR], n->n_attr, 0);
    i->step = tc__step_index;
    if (b->narrow[n->id]) i->dtype = TC_I32;
}

static void tc__plan_valid(tc__planner *b, const tc__node *n, tc__insn *i) {
    i->item = tc__plan_path(b, n, tc__ix_const(0), 0, 0);
    i->step = tc__step_valid;
}

static void tc__plan_check(tc__planner *b, const tc__node *n, tc__insn *i) {
    tc__expr e = tc__plan_expr(b, n->attr[TC__CHECK_LIMIT]);
    if (!tc__plan_is_still(b, n->attr[TC__CHECK_LIMIT]))
        tc__plan_fail(b, n, "limit differs between lanes");
    if (!TC__PUSH(b->ctx, b->p->expr, e)) b->failed = 1;
    i->item = (uint32_t)b->p->expr.count - 1;
    i->k = n->attr[TC__CHECK_SITE];
    i->step = tc__step_check;
}

static void tc__plan_const(tc__planner *b, const tc__node *n, tc__insn *i) {
    tc__value v;
    memcpy(&v, &n->attr[TC__CONST_BITS], sizeof v);
    i->fill = tc__word_of(b->p->isa, n->dtype, v);
    i->step = tc__step_const;
}

static void tc__plan_arg(tc__planner *b, const tc__node *n, tc__insn *i) {
    (void)b;
    i->k = n->attr[TC__ARG_SLOT];
    i->step = tc__step_arg;
}

static void tc__plan_random(tc__planner *b, const tc__node *n, tc__insn *i) {
    if (!tc__is_float(n->dtype)) tc__plan_fail(b, n, "random numbers are f32 or f64");
    i->random = b->p->isa->random[n->attr[TC__RANDOM_KIND] != 0][n->dtype == TC_F64];
    i->k = n->attr[TC__RANDOM_DRAW];
    i->step = tc__step_random;
}

static void tc__plan_cast(tc__planner *b, const tc__node *n, tc__insn *i) {
    int from = b->narrow[n->in[0]] ? (int)TC_I32 : tc__plan_node(b, n->in[0])->dtype;
    i->block = b->p->isa->cast[tc__loop_from(from)][n->dtype];
    i->step = tc__plan_renames(b, n) ? tc__step_rename : tc__step_block;
}

static void tc__plan_new(tc__planner *b, const tc__node *n, tc__insn *i) {
    i->item = (uint32_t)n->attr[TC__NEW_ACCUMULATOR];
    i->step = tc__step_acc_new;
    if (i->item >= b->p->acc.count || !b->p->acc.at[i->item].used ||
        b->p->acc.at[i->item].down)
        i->step = tc__step_nothing;
}

static void tc__plan_acc(tc__planner *b, const tc__node *n, tc__insn *i) {
    int rows = b->p->vector == TC__ROW;
    i->item = (uint32_t)n->attr[TC__ACC_ACCUMULATOR];
    i->step = rows ? tc__step_acc_rows : tc__step_acc_cols;
    if (b->p->acc.at[i->item].arg) i->step = rows ? tc__step_arg_rows : tc__step_arg_cols;
    if (b->p->acc.at[i->item].down) i->step = tc__step_acc_down;
    if (!b->p->acc.at[i->item].fold_mul) return;
    const tc__node *product = tc__plan_node(b, n->in[0]);
    i->in[0] = product->in[0], i->in[1] = product->in[product->n_in - 1];
}

static void tc__plan_combine(tc__planner *b, const tc__node *n, tc__insn *i) {
    i->item = (uint32_t)n->attr[TC__COMBINE_ACCUMULATOR];
    if (i->item >= b->p->acc.count || !b->p->acc.at[i->item].used) {
        tc__plan_fail(b, n, "COMBINE of an accumulator without ACC");
        return;
    }
    for (uint32_t l = 0; l < b->p->loop.count; l++) {
        const tc__loop *loop = &b->p->loop.at[l];
        for (uint32_t k = 0; k < loop->accs; k++)
            if (b->p->acc_of_loop.at[loop->first_acc + k] == i->item) i->k = l;
    }
    i->step = b->p->acc.at[i->item].arg    ? tc__step_combine_arg
              : b->p->acc.at[i->item].down ? tc__step_combine_down
                                           : tc__step_combine;
}

static void tc__plan_for(tc__planner *b, const tc__node *n, tc__insn *i) {
    i->item = b->loop_of[n->id];
    tc__loop *l = &b->p->loop.at[i->item];
    l->body = (uint32_t)b->p->code.count + 1;
    i->step = l->once ? tc__step_share : tc__step_for;
    if (b->p->down && l->axis == TC__ROW) i->step = tc__step_for_down;
    if (b->flat && n->attr[TC__FOR_AXIS] == TC__COL) i->step = tc__step_nothing;
    if (b->p->blocks && l->bind == TC__BIND_WORKER) i->step = tc__step_nothing;
}

static void tc__plan_end(tc__planner *b, const tc__node *n, tc__insn *i) {
    i->item = b->loop_of[n->id];
    tc__loop *l = &b->p->loop.at[i->item];
    l->after = (uint32_t)b->p->code.count + 1;
    i->step = l->once || (b->flat && !l->vector) ? tc__step_nothing : tc__step_end;
    if (b->p->down && l->axis == TC__ROW) i->step = tc__step_end_down;
    if (b->p->blocks && l->bind == TC__BIND_WORKER) i->step = tc__step_nothing;
}

static void tc__plan_contract(tc__planner *b, const tc__node *n, tc__insn *i) {
    tc__plan_part(b, n)->tile = n->id;
    i->step = tc__step_nothing;
}

// Ops that are no block loop.
static const tc__plan_rule tc__plan_rules[] = {
    {TC_OP_LOAD, tc__plan_load},         {TC_OP_STORE, tc__plan_store},
    {TC_OP_INDEX, tc__plan_index},       {TC_OP_VALID, tc__plan_valid},
    {TC_OP_CHECK, tc__plan_check},       {TC_OP_CONST, tc__plan_const},
    {TC_OP_ARG, tc__plan_arg},           {TC_OP_RANDOM, tc__plan_random},
    {TC_OP_CAST, tc__plan_cast},         {TC_OP_NEW, tc__plan_new},
    {TC_OP_ACC, tc__plan_acc},           {TC_OP_COMBINE, tc__plan_combine},
    {TC_OP_FOR, tc__plan_for},           {TC_OP_END, tc__plan_end},
    {TC_OP_CONTRACT, tc__plan_contract},
};

// The loop of an op is chosen by its operands' dtype, that of WHERE by its result's.
static void tc__plan_loop(tc__planner *b, const tc__node *n, tc__insn *i) {
    int dtype =
        n->op == TC_OP_WHERE || !n->n_in ? n->dtype : tc__plan_node(b, n->in[0])->dtype;
    i->block = b->p->isa->alu[n->op][dtype];
    i->step = tc__step_block;
    if (!i->block) tc__plan_fail(b, n, "no block loop for this op and dtype");
}

static void tc__plan_insn(tc__planner *b, const tc__node *n) {
    tc__insn i;
    memset(&i, 0, sizeof i);
    i.dst = n->id, i.dtype = n->dtype, i.uniform = b->uniform[n->id];
    i.home = (int64_t)b->home[n->id];
    for (uint32_t k = 0; k < TC__FMA2_OPERANDS; k++) i.in[k] = n->id;
    if (tc__plan_operands(b, n, i.in) == TC__FMA2_OPERANDS) i.step = tc__step_fma2;
    if (b->tree[n->id]) tc__plan_root(b, n, &i);
    for (size_t k = 0; k < TC__COUNT(tc__plan_rules) && !i.step; k++)
        if (tc__plan_rules[k].op == (tc__op)n->op) tc__plan_rules[k].plan(b, n, &i);
    if (!i.step && !b->failed) tc__plan_loop(b, n, &i);
    if (!b->failed && !TC__PUSH(b->ctx, b->p->code, i)) b->failed = 1;
}

static void tc__plan_code(tc__planner *b, tc__section *s) {
    uint32_t load[TC__FMA2_OPERANDS], loads;
    s->first = (uint32_t)b->p->code.count;
    b->axis = s->axis;
    for (uint32_t i = 0; i < b->p->nodes && !b->failed; i++) {
        const tc__node *n = tc__plan_node(b, i);
        if (tc__plan_section(b, n) != s || b->where[i] || tc__plan_is_inside(b, i))
            continue;
        loads = tc__plan_waited(b, n, load);
        for (uint32_t k = 0; k < loads; k++) tc__plan_insn(b, tc__plan_node(b, load[k]));
        tc__plan_insn(b, n);
    }
    s->end = (uint32_t)b->p->code.count;
}

// ---- contractions

// Along which of two axes the loads of an operand run in memory.
static tc__axis tc__plan_operand_axis(const tc__planner *b, const tc__interp_part *part,
                                      tc__level level, tc__axis first, tc__axis other) {
    for (uint32_t i = part->begin; i < part->end; i++) {
        const tc__node *n = tc__plan_node(b, i);
        if (n->op != TC_OP_LOAD || n->level != level) continue;
        if (tc__buffer_of(b->g, n)->place == TC__BUF_MADE) return TC__DEPTH;
        tc__ixrun x = tc__ix_run(b->g->body.ix, n->attr[TC__LOAD_INDEX], first);
        tc__ixrun y = tc__ix_run(b->g->body.ix, n->attr[TC__LOAD_INDEX], other);
        if (x.ok && tc__ix_equals(x.stride, 1)) return first;
        if (y.ok && tc__ix_equals(y.stride, 1)) return other;
    }
    return first;
}

// A right operand that is a plain LOAD with columns side by side and steady rows stays
// there.
static void tc__plan_right_in_memory(tc__planner *b, tc__interp_part *part) {
    const tc__node *n = tc__plan_node(b, part->right_node);
    part->right_path = UINT32_MAX;
    if (n->op != TC_OP_LOAD || part->right.axis != TC__COL ||
        n->n_attr > TC__LOAD_PREDICATES)
        return;
    tc__ixrun c = tc__ix_run(b->g->body.ix, n->attr[TC__LOAD_INDEX], TC__COL);
    tc__ixrun k = tc__ix_run(b->g->body.ix, n->attr[TC__LOAD_INDEX], TC__DEPTH);
    if (tc__ix_has_val(b->g->body.ix, n->attr[TC__LOAD_INDEX]) ||
        !tc__is_own_class(n->dtype))
        return;
    if (!c.ok || c.run != INT64_MAX || !tc__ix_equals(c.stride, 1)) return;
    if (!k.ok || k.run != INT64_MAX) return;
    for (uint32_t i = part->right.first; i < part->right.end; i++)
        if (b->p->code.at[i].dst == n->id) part->right_path = b->p->code.at[i].item;
    part->right_step = tc__plan_expr(b, k.stride);
}

// ---- parts

// The part that list g ends with.
static void tc__plan_add_part(tc__planner *b, const tc__group *g, uint32_t begin) {
    tc__interp_part part;
    memset(&part, 0, sizeof part);
    part.begin = begin, part.end = (uint32_t)g->body.node.count;
    part.main.axis = b->p->vector;
    part.product = g->shape.kind == TC__CONTRACTION;
    if (part.product) {
        const tc__node *contract = tc__contract_of(g);
        part.left_node = contract->in[0], part.right_node = contract->in[1];
        part.dtype = contract->dtype;
        part.left.axis = tc__plan_operand_axis(b, &part, TC__AT_LEFT, TC__DEPTH, TC__ROW);
        part.right.axis = tc__plan_operand_axis(b, &part, TC__AT_RIGHT, TC__COL, TC__DEPTH);
    }
    if (!TC__PUSH(b->ctx, b->p->part, part)) b->failed = 1;
}

static void tc__plan_list_parts(tc__planner *b) {
    tc__group part[TC__LIST_PARTS];
    uint32_t begin = 0;
    int n = tc__has_parts(b->g) ? tc__parts_of_list(b->g, part) : 1;
    b->p->blocks = tc__has_blocks(b->g);
    if (n == 1) tc__plan_add_part(b, b->g, 0);
    for (int i = 0; n > 1 && i < n; i++) {
        tc__plan_add_part(b, &part[i], begin);
        begin = (uint32_t)part[i].body.node.count;
    }
}

// Sizes of the part that list g ends with.
static void tc__plan_part_sizes(tc__planner *b, tc__interp_part *part, const tc__group *g) {
    part->cols = tc__plan_expr(b, g->shape.cols);
    part->wide = tc__plan_expr(b, g->shape.wide ? g->shape.wide : g->shape.cols);
    if (part->product) part->depth = tc__plan_expr(b, tc__depth_of(g));
}

// ---- copies that turn their data

enum {
    TC__PLAN_STRIP = 8
}; // rows and columns of the smallest, and elements from column to column

// The distance of rows that lie side by side in what is read, and how many do: a digit of the row, or the one above it.
static int tc__plan_turn_rows(tc__planner *b, tc__ix index) {
    tc__ixpool *x = b->g->body.ix;
    tc__ixrun r = tc__ix_run(x, index, TC__ROW);
    tc__ix row = tc__ix_find_var(x, index, TC__ROW);
    b->p->turn_every = 1;
    if (r.ok && row && r.run != INT64_MAX && !tc__ix_equals(r.stride, 1)) {
        b->p->turn_every = r.run;
        if (!tc__ix_is_const(r.stride)) return 0;
        index = tc__ix_subst(x, index, row, tc__ix_mul(x, tc__ix_const(r.run), row));
        r = tc__ix_run(x, index, TC__ROW);
    }
    b->p->turn_length = r.run;
    return r.ok && tc__ix_equals(r.stride, 1) && r.run >= TC__PLAN_STRIP;
}

// Whether the list is a loop over columns in one over rows that only copies, and what lies side by side are rows.
static int tc__plan_is_turn(tc__planner *b) {
    static const tc__op list[] = {TC_OP_FOR,   TC_OP_FOR, TC_OP_LOAD,
                                  TC_OP_STORE, TC_OP_END, TC_OP_END};
    if (b->p->nodes != TC__COUNT(list) || b->g->shape.kind != TC__POINTWISE) return 0;
    for (uint32_t i = 0; i < b->p->nodes; i++)
        if (tc__plan_node(b, i)->op != list[i]) return 0;
    const tc__node *load = tc__plan_node(b, 2), *store = tc__plan_node(b, 3);
    if (b->p->vector != TC__COL || store->in[0] != 2) return 0;
    if (tc__plan_node(b, 0)->attr[TC__FOR_AXIS] != TC__ROW) return 0;
    if (tc__plan_node(b, 1)->attr[TC__FOR_AXIS] != TC__COL) return 0;
    if (tc__buffer_of(b->g, store)->dtype != load->dtype) return 0;
    tc__ix index = load->attr[TC__LOAD_INDEX];
    tc__ixrun to = tc__ix_run(b->g->body.ix, store->attr[TC__STORE_INDEX], TC__ROW);
    if (!tc__plan_is_plain(b, store, TC__STORE_KIND + 1)) return 0;
    if (!to.ok || to.run != INT64_MAX || !tc__ix_is_const(to.stride)) return 0;
    b->p->turn_to = tc__ix_value(to.stride);
    if (load->n_attr > TC__LOAD_PREDICATES || tc__ix_has_val(b->g->body.ix, index))
        return 0;
    if (tc__ix_hi(b->g->body.ix, b->g->shape.cols) < TC__PLAN_STRIP) return 0;
    tc__ixrun c = tc__ix_run(b->g->body.ix, index, TC__COL);
    if (!c.ok || c.run != INT64_MAX || !tc__ix_is_const(c.stride)) return 0;
    int64_t stride = tc__ix_value(c.stride);
    if (stride < TC__PLAN_STRIP && stride > -TC__PLAN_STRIP) return 0;
    return tc__plan_turn_rows(b, index);
}

// The first instruction of the list does all of it.
static void tc__plan_turn(tc__planner *b) {
    tc__insn *code = b->p->code.at + b->p->part.at[0].main.first;
    if (b->failed) return;
    code[0].step = tc__step_turn, code[0].dtype = code[2].dtype;
    code[0].in[0] = code[2].item, code[0].in[1] = code[3].item;
}

// ---- entry points

static void tc__plan_buffers(tc__planner *b) {
    tc__interp *p = b->p;
    b->axis = p->vector;
    for (uint32_t i = 0; i < p->buffers; i++) {
        const tc__kbuf *k = &b->g->buffer.at[i];
        int row = k->place == TC__BUF_ROW || k->place == TC__BUF_MADE;
        tc__expr numel = tc__plan_expr(b, row ? k->numel : tc__ix_const(0));
        if (!TC__PUSH(b->ctx, p->row_numel, numel)) b->failed = 1;
        if (!TC__PUSH(b->ctx, p->buffer, *k)) b->failed = 1;
    }
    p->rows = tc__plan_expr(b, b->g->shape.rows);
    if (p->down) {
        p->down_items = tc__plan_expr(b, b->g->shape.items);
        p->down_stride = tc__plan_expr(b, tc__down_stride(b->g));
    }
    if (p->blocks) p->batch = tc__plan_expr(b, b->g->shape.batch);
    for (size_t i = 0; i < p->part.count; i++) {
        tc__group part = *b->g;
        if (p->part.count > 1) part = tc__part_at(b->g, p->part.at[i].begin);
        tc__plan_part_sizes(b, &p->part.at[i], &part);
    }
}

static void tc__plan_part_code(tc__planner *b, tc__interp_part *part) {
    if (part->product) tc__plan_code(b, &part->left);
    if (part->product) tc__plan_code(b, &part->right);
    tc__plan_code(b, &part->main);
    if (part->product && !b->failed) tc__plan_right_in_memory(b, part);
}

static int tc__plan_open(tc__planner *b, tc_ctx *c, tc__group *g, tc__arena *a) {
    size_t n = g->body.node.count + 1;
    b->ctx = c, b->g = g;
    b->uniform = TC__ANEW_ARRAY(a, uint8_t, n);
    b->alive = TC__ANEW_ARRAY(a, uint8_t, n);
    b->stored = TC__ANEW_ARRAY(a, uint8_t, n);
    b->narrow = TC__ANEW_ARRAY(a, uint8_t, n);
    b->uses = TC__ANEW_ARRAY(a, uint32_t, n);
    b->tree = TC__ANEW_ARRAY(a, uint32_t, n);
    b->last = TC__ANEW_ARRAY(a, uint32_t, n);
    b->where = TC__ANEW_ARRAY(a, uint32_t, n);
    b->slot = TC__ANEW_ARRAY(a, uint32_t, n);
    b->loop_of = TC__ANEW_ARRAY(a, uint32_t, n);
    b->loop_node = TC__ANEW_ARRAY(a, uint32_t, n);
    b->loop_end = TC__ANEW_ARRAY(a, uint32_t, n);
    b->home = TC__ANEW_ARRAY(a, size_t, n);
    return b->uniform && b->alive && b->stored && b->narrow && b->uses && b->tree &&
           b->last && b->where && b->slot && b->loop_of && b->loop_node && b->loop_end &&
           b->home;
}

// Short rows of a list that only computes element by element: blocks take many of them.
static int tc__plan_rows_are_short(const tc__planner *b) {
    const tc__group *g = b->g;
    const tc__node *last = NULL;
    uint32_t loops = 0;
    if (g->shape.kind != TC__POINTWISE || g->shape.vector != TC__COL ||
        tc__ix_equals(g->shape.rows, 1))
        return 0;
    if (!tc__ix_is_const(g->shape.cols) || tc__ix_value(g->shape.cols) > TC__PLAN_SHORT_ROW)
        return 0;
    for (uint32_t i = 0; i < b->p->nodes; last = tc__plan_node(b, i++)) {
        const tc__node *n = tc__plan_node(b, i);
        tc__axis axis = loops ? TC__COL : TC__ROW;
        if (n->op == TC_OP_END && last->op != TC_OP_END && i + 2 != b->p->nodes) return 0;
        if (n->op != TC_OP_FOR) continue;
        if (loops++ > 1 || n->attr[TC__FOR_AXIS] != (int64_t)axis || n->attr[TC__FOR_BEGIN])
            return 0;
        if ((n->attr[TC__FOR_BIND] == TC__BIND_WORKER) != (axis == TC__ROW)) return 0;
    }
    return loops == 2;
}

static void tc__plan_run_all(tc__planner *b) {
    tc__interp *p = b->p;
    tc__plan_list_parts(b);
    if (b->failed) return;
    b->axis = p->vector;
    int turn = tc__plan_is_turn(b);
    if (!turn && tc__plan_rows_are_short(b)) {
        tc__ixpool *x = b->g->body.ix;
        b->flat = tc__ix_var(x, TC__COL, tc__ix_mul(x, b->g->shape.rows, b->g->shape.cols));
        p->flat = tc__ix_value(b->g->shape.cols);
    }
    tc__plan_scan_loops(b);
    tc__plan_scan_stores(b);
    if (b->failed) return;
    tc__plan_scan_indices(b);
    tc__plan_scan_choices(b);
    tc__plan_scan_products(b);
    tc__plan_scan_sums(b);
    tc__plan_scan_narrow(b);
    tc__plan_scan_lives(b);
    tc__plan_slots(b);
    if (b->failed) return;
    p->block = tc__plan_block(b);
    tc__plan_homes(b);
    tc__plan_accs(b);
    if (b->failed) return;
    tc__plan_buffers(b);
    tc__plan_code(b, &p->start);
    for (size_t i = 0; i < p->part.count; i++) tc__plan_part_code(b, &p->part.at[i]);
    if (turn) tc__plan_turn(b);
    p->kept_at = tc__plan_area(b, p->kept.count * sizeof(tc__kept));
    p->stack_at = tc__plan_area(b, p->deepest * sizeof(tc__expr_row));
    p->square_at = tc__plan_area(b, turn ? TC__STRIP_BYTES * TC__STRIP_COLS : 0);
    p->fixed = b->used;
}

static void tc__interp_free(tc__interp *p) {
    tc_ctx *c;
    if (!p) return;
    c = p->ctx;
    TC__VEC_FREE(c, p->code);
    TC__VEC_FREE(c, p->part);
    TC__VEC_FREE(c, p->steps);
    TC__VEC_FREE(c, p->path);
    TC__VEC_FREE(c, p->limit);
    TC__VEC_FREE(c, p->choice);
    TC__VEC_FREE(c, p->loop);
    TC__VEC_FREE(c, p->acc);
    TC__VEC_FREE(c, p->acc_of_loop);
    TC__VEC_FREE(c, p->home);
    TC__VEC_FREE(c, p->expr);
    TC__VEC_FREE(c, p->row_numel);
    TC__VEC_FREE(c, p->buffer);
    TC__VEC_FREE(c, p->kept);
    tc__free(c, p, sizeof *p);
}

// The program of a LOOP list for an instruction set (NULL: the best of this CPU). It does
// not refer to the group any more. NULL = reported.
static tc__interp *tc__interp_prepare_for(tc_ctx *c, tc__group *g, const tc__isa *isa) {
    tc__planner b;
    tc__arena a;
    memset(&b, 0, sizeof b);
    tc__arena_init(&a, c);
    b.p = TC__NEW(c, tc__interp);
    if (b.p) b.p->ctx = c;
    if (!b.p || !tc__plan_open(&b, c, g, &a)) b.failed = 1;
    if (!b.failed) {
        b.p->isa = isa ? isa : tc__isa_best(tc__cpu_of(c));
        b.p->vector = b.p->start.axis = g->shape.vector;
        b.p->kind = g->shape.kind, b.p->grain = g->shape.grain;
        b.p->nodes = (uint32_t)g->body.node.count;
        b.p->buffers = (uint32_t)g->buffer.count;
        b.p->down = tc__down_begin(g) != 0;
        tc__plan_run_all(&b);
    }
    TC__VEC_FREE(c, b.free4);
    TC__VEC_FREE(c, b.free8);
    tc__arena_free(&a);
    if (!b.failed) return b.p;
    tc__interp_free(b.p);
    return NULL;
}

static tc__interp *tc__interp_prepare(tc_ctx *c, tc__group *g) {
    return tc__interp_prepare_for(c, g, NULL);
}

// Bytes of scratch that each worker needs for these sizes.
static size_t tc__interp_scratch_bytes(const tc__interp *p, const int64_t *size) {
    tc__frame f;
    tc__kargs a;
    tc__tile t;
    size_t n, tiles = 0;
    memset(&a, 0, sizeof a);
    a.size = size;
    tc__frame_open(&f, p, &a);
    n = p->fixed + tc__interp_rows(p, &f, NULL, NULL, 0);
    for (size_t i = 0; i < p->part.count; i++) {
        f.part = &p->part.at[i];
        size_t own = f.part->product ? tc__tile_open(&f, &t, NULL) : 0;
        if (own > tiles) tiles = own;
    }
    return n + tiles;
}

// Items [lo, hi), as a compiled kernel would do them. a->scratch[worker] as above.
static void tc__interp_run(const tc__interp *p, const tc__kargs *a, int64_t lo, int64_t hi,
                           int32_t worker) {
    tc__frame f;
    tc__frame_open(&f, p, a);
    f.lo = lo, f.hi = hi;
    tc__frame_place(&f, worker);
    if (p->down) {
        f.down_items = tc__expr_at(&f, &p->down_items, 0);
        f.down_stride = tc__expr_at(&f, &p->down_stride, 0);
    }
    tc__section_run(&f, &p->start);
    f.part = &p->part.at[p->part.count - 1];
    if (p->blocks)
        tc__contract_run(&f);
    else
        tc__section_run(&f, &f.part->main);
}
