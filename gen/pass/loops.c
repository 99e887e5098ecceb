// Loops -> memory. Input: a TENSOR graph with loops, behind all other passes. Output: one of ordinary nodes, which
// the scheduler knows; where they are in memory that lasts from turn to turn tell its places, and tc__node.loop which
// loop computes a node.
//
// A carry has memory for two turns: `first` is stored before the loop, NOW is what a turn reads and `next` what it
// stores, in turns one half and the other, LEFT what is read behind the loop. What is stacked has memory for all turns:
// a turn stores its `row`, which its products read there, ALL is read behind. A carry that is stacked, as it is or as it will be, has
// a row for each turn behind that of before the loop, and so is stored once: NOW is a row, NEXT the one behind it, ALL what the
// carry was in each turn, AFTER what it became. What else is read is an INPUT, numbered
// from graph.placed on, whose operands are what is stored there before; so the order of kernels is known, and nothing
// below knows of loops but that kernels of one stay together (kernel/schedule.c) and that addresses move on
// (exec/loops.c).

typedef struct tc__unroll {
    tc__rewrite w;
    uint32_t *loop; // by old id: tc__loops_of
    uint8_t *made;  // by old id
    uint32_t
        *store; // by old id of NEXT and STACKED: what each turn stores, 0 = not made yet,
    uint32_t *memory; //   and where
    uint32_t *row;    // by old id: 1 + a STACKED that has it for a row; 0 = none
    uint32_t *
        rows; // by old id of STACKED: 1 + the NEXT of the carry that has its rows, of that CARRY, too; 0 = none
    TC__VEC(uint32_t) waiting;
    TC__VEC(uint32_t) stores; // those of a loop, while what is left of it is made
} tc__unroll;

// Place for new node n; INPUT or what is stored.
static uint32_t tc__spot_add(tc__unroll *u, tc__spot_kind kind, uint32_t memory) {
    tc__spot p;
    p.kind = kind, p.memory = memory, p.node = UINT32_MAX;
    if (!TC__PUSH(u->w.ctx, u->w.to->place, p)) u->w.failed = 1;
    return (uint32_t)u->w.to->place.count - 1;
}

static uint32_t tc__spot_memory(tc__unroll *u, uint32_t loop, int stacked, int carried,
                                const tc__node *row) {
    tc__lasting m;
    memset(&m, 0, sizeof m);
    m.loop = loop, m.stacked = stacked, m.carried = carried, m.dtype = row->dtype,
    m.device = row->device;
    m.numel = tc__node_numel(u->w.to, row);
    if (!TC__PUSH(u->w.ctx, u->w.to->memory, m)) u->w.failed = 1;
    return (uint32_t)u->w.to->memory.count - 1;
}

enum { TC__SPOT_MARK = 1 << 30 }; // DETACH nodes that are stores are like no others

// New node a, stored at a place, in `loop`.
static tc__node *tc__spot_store(tc__unroll *u, tc__spot_kind kind, uint32_t memory,
                                const tc__node *a, uint32_t loop) {
    uint32_t place = tc__spot_add(u, kind, memory);
    int64_t mark = (int64_t)TC__SPOT_MARK + place;
    tc__node *n = tc__make1(u->w.to, TC_OP_DETACH, a, a->rank, a->dims, &mark, 1);
    if (!n || u->w.failed) return NULL;
    u->w.to->place.at[place].node = n->id, n->loop = (uint16_t)loop;
    return n;
}

// What lies at a place, with the sizes of old node n, behind so many stores.
static tc__node *tc__spot_input(tc__unroll *u, tc__spot_kind kind, uint32_t memory,
                                const tc__node *old, uint32_t *in, uint32_t n_in,
                                uint32_t loop) {
    uint32_t place = tc__spot_add(u, kind, memory);
    int64_t external = (int64_t)u->w.to->placed + place;
    tc__node m = *old;
    m.op = TC_OP_INPUT, m.in = in, m.n_in = n_in, m.attr = &external, m.n_attr = 1;
    tc__node *n = tc__node_cons(u->w.to, &m);
    if (!n || u->w.failed) return NULL;
    u->w.to->place.at[place].node = n->id, n->loop = (uint16_t)loop;
    return n;
}

static tc__node *tc__unroll_at(const tc__unroll *u, uint32_t old) {
    return u->w.to->node.at[u->w.at[old]];
}

// ---- what stands before a node ----

static void tc__unroll_wait(tc__unroll *u, uint32_t old) {
    if (!u->made[old] && !TC__PUSH(u->w.ctx, u->waiting, old)) u->w.failed = 1;
}

// All that is stacked in the loop of n, which reads behind it.
static void tc__unroll_rows(tc__unroll *u, const tc__node *n) {
    for (uint32_t i = 0; i < u->w.nodes; i++) {
        const tc__node *m = u->w.from->node.at[i];
        if (u->w.live[i] && m->op == TC_OP_STACKED &&
            m->attr[TC__STACKED_LOOP] == n->attr[TC__STACKED_LOOP])
            tc__unroll_wait(u, m->in[0]);
    }
}

// ---- nodes ----

static tc__node *tc__unroll_carry(tc__unroll *u, const tc__node *n) {
    uint32_t loop = (uint32_t)n->attr[TC__CARRY_LOOP];
    const tc__node *init = tc__unroll_at(u, n->in[0]);
    uint32_t memory = tc__spot_memory(u, loop, u->rows[n->id] != 0, 1, init);
    if (u->w.failed) return NULL;
    uint32_t number = (uint32_t)n->attr[TC__CARRY_NUMBER];
    tc__rounds *l = &u->w.to->loop.at[loop];
    u->w.to->memory.at[memory].number = number;
    if (number + 1 == l->times || number + 1 == l->go) l->asked = memory;
    tc__node *first =
        tc__spot_store(u, TC__SPOT_FIRST, memory, init, u->w.from->loop.at[loop].outer);
    return first ? tc__spot_input(u, TC__SPOT_NOW, memory, n, &first->id, 1, loop + 1)
                 : NULL;
}

// The memory of a carry of the new graph.
static uint32_t tc__carry_memory(const tc__graph *g, int64_t loop, int64_t number) {
    for (uint32_t i = 0; i < g->memory.count; i++) {
        const tc__lasting *m = &g->memory.at[i];
        if (m->carried && m->loop == (uint32_t)loop && m->number == (uint32_t)number)
            return i;
    }
    return 0;
}

// Whether old node n, NEXT or STACKED, stores something in each turn of a loop.
static int tc__unroll_stores(const tc__unroll *u, const tc__node *n, uint32_t loop) {
    return u->w.live[n->id] && (n->op == TC_OP_NEXT || n->op == TC_OP_STACKED) &&
           n->attr[TC__NEXT_LOOP] == (int64_t)loop;
}

// Whether a turn reads the carry of old node n, NEXT.
static int tc__unroll_reads(const tc__unroll *u, const tc__node *n) {
    for (uint32_t i = 0; i < u->w.nodes; i++) {
        const tc__node *m = u->w.from->node.at[i];
        for (uint32_t k = m->op == TC_OP_NEXT; u->w.live[i] && k < m->n_in; k++)
            if (m->in[k] == n->in[0]) return 1;
    }
    return 0;
}

// What NEXT stores where no turn reads its carry, so that nothing else has what was first done before the loop: `a`,
// of two values of which the other one is read.
static tc__node *tc__unroll_behind(tc__unroll *u, const tc__node *n, const tc__node *a,
                                   uint32_t loop) {
    tc__graph *g = u->w.to;
    tc__node *now = tc__unroll_at(u, n->in[0]), *in[3];
    tc__node *yes = tc__make_const(g, TC_BOOL, tc__value_of(1, TC_BOOL));
    in[0] = tc__make_expand(g, yes, a->rank, a->dims);
    in[1] = g->node.at[a->id], in[2] = now;
    tc__node *w = in[0] ? tc__make_alu(g, TC_OP_WHERE, a->dtype, in, 3) : NULL;
    if (w) w->loop = (uint16_t)(loop + 1);
    return w;
}

// Whether the carry of old node n, NEXT, may have a row for each turn: rows lie as turns go, and as many as turns are known. On a
// device rows need not be aligned as memory is.
static int tc__unroll_has_rows(const tc__unroll *u, const tc__node *n) {
    const tc__rounds *l = &u->w.from->loop.at[n->attr[TC__NEXT_LOOP]];
    return !l->backward && !l->times && !l->go && !n->device && tc__unroll_reads(u, n);
}

// Finds the carry of old node s, STACKED, that has its rows.
static void tc__unroll_find_rows(tc__unroll *u, const tc__node *s) {
    for (uint32_t i = 0; i < u->w.nodes; i++) {
        const tc__node *n = u->w.from->node.at[i];
        if (!u->w.live[i] || n->op != TC_OP_NEXT ||
            n->attr[TC__NEXT_LOOP] != s->attr[TC__STACKED_LOOP] ||
            (n->in[0] != s->in[0] && n->in[1] != s->in[0]) || !tc__unroll_has_rows(u, n))
            continue;
        u->rows[s->id] = u->rows[n->in[0]] = i + 1;
        return;
    }
}

// What old node n stores, once; 0 = no memory.
static int tc__unroll_store(tc__unroll *u, const tc__node *n, uint32_t loop) {
    int row = n->op == TC_OP_STACKED;
    const tc__node *a = tc__unroll_at(u, n->in[!row]);
    if (u->store[n->id]) return 1;
    if (row && u->rows[n->id]) { // where its carry does
        uint32_t next = u->rows[n->id] - 1;
        if (!tc__unroll_store(u, u->w.from->node.at[next], loop)) return 0;
        u->store[n->id] = u->store[next], u->memory[n->id] = u->memory[next];
        return 1;
    }
    if (!row && !tc__unroll_reads(u, n)) a = tc__unroll_behind(u, n, a, loop);
    if (!a) return 0;
    uint32_t memory = row ? tc__spot_memory(u, loop, 1, 0, a)
                          : tc__carry_memory(u->w.to, loop, n->attr[TC__NEXT_NUMBER]);
    if (u->w.failed) return 0;
    const tc__node *s =
        tc__spot_store(u, row ? TC__SPOT_ROW : TC__SPOT_NEXT, memory, a, loop + 1);
    if (s) u->store[n->id] = s->id, u->memory[n->id] = memory;
    return s != NULL;
}

// What is left of a loop, behind all its stores.
static tc__node *tc__unroll_left(tc__unroll *u, const tc__node *n, uint32_t loop) {
    int stacked = n->op == TC_OP_STACKED;
    u->stores.count = 0;
    for (uint32_t i = 0; i < u->w.nodes; i++) {
        const tc__node *m = u->w.from->node.at[i];
        if (!tc__unroll_stores(u, m, loop)) continue;
        if (!tc__unroll_store(u, m, loop)) return NULL;
        if (m->op == TC_OP_STACKED && u->rows[i]) continue;
        if (!TC__PUSH(u->w.ctx, u->stores, u->store[i])) return NULL;
    }
    tc__spot_kind kind = stacked ? TC__SPOT_ALL : TC__SPOT_LEFT;
    if (stacked &&
        u->rows[n->id]) { // behind what is stored of its carry before the loop, too
        const tc__node *next = u->w.from->node.at[u->rows[n->id] - 1];
        if (!TC__PUSH(u->w.ctx, u->stores, tc__unroll_at(u, next->in[0])->in[0]))
            return NULL;
        if (n->in[0] == next->in[1]) kind = TC__SPOT_AFTER;
    }
    return tc__spot_input(u, kind, u->memory[stacked ? n->id : n->in[0]], n, u->stores.at,
                          (uint32_t)u->stores.count, u->w.from->loop.at[loop].outer);
}

// Operands of a product of a turn, where they are rows that the turn stores: a matrix has to be in memory, and is once
// so. 0 = no memory.
static int tc__unroll_rows_read(tc__unroll *u, const tc__node *n, uint32_t *in) {
    if (tc__ops[n->op].kind != TC__KIND_CONTRACT || !u->loop[n->id]) return 1;
    for (uint32_t i = 0; i < n->n_in; i++) {
        uint32_t row = u->row[n->in[i]];
        const tc__node *s = row ? u->w.from->node.at[row - 1] : NULL;
        if (!s || s->attr[TC__STACKED_LOOP] + 1 != (int64_t)u->loop[n->id]) continue;
        if (tc__unroll_at(u, n->in[i])->op == TC_OP_INPUT) continue;
        if (!tc__unroll_store(u, s, u->loop[n->id] - 1)) return 0;
        in[i] = u->store[s->id];
    }
    return 1;
}

static tc__node *tc__unroll_node(tc__unroll *u, const tc__node *n) {
    uint32_t in[TC__MAX_OPERANDS];
    u->w.to->from = n->from, u->w.to->device = n->device;
    if (n->op == TC_OP_CARRY) return tc__unroll_carry(u, n);
    if (n->op == TC_OP_CARRIED || n->op == TC_OP_STACKED)
        return tc__unroll_left(u, n, (uint32_t)n->attr[TC__CARRIED_LOOP]);
    if (n->op == TC_OP_NEXT) return tc__unroll_at(u, n->in[1]);
    tc__node m = tc__rewrite_proto(&u->w, n, in);
    if (!tc__unroll_rows_read(u, n, in)) return NULL;
    tc__node *made = tc__node_cons(u->w.to, &m);
    if (made) made->loop = (uint16_t)u->loop[n->id];
    return made;
}

// Makes old node `id`, and before it what it needs.
static int tc__unroll_make(tc__unroll *u, uint32_t id) {
    tc__unroll_wait(u, id);
    while (u->waiting.count && !u->w.failed) {
        uint32_t at = u->waiting.at[u->waiting.count - 1],
                 waits = (uint32_t)u->waiting.count;
        const tc__node *n = u->w.from->node.at[at];
        if (!u->made[at]) {
            for (uint32_t i = 0; i < n->n_in; i++) tc__unroll_wait(u, n->in[i]);
            if (n->op == TC_OP_CARRIED || n->op == TC_OP_STACKED) tc__unroll_rows(u, n);
        }
        if (u->waiting.count > waits) continue;
        u->waiting.count--;
        if (u->made[at]) continue;
        const tc__node *made = tc__unroll_node(u, n);
        if (!made) return 0;
        u->w.at[at] = u->w.output[at] = made->id, u->made[at] = 1;
    }
    return !u->w.failed;
}

// Outputs that are what was left of a loop get memory of their own.
static int tc__unroll_outputs(tc__unroll *u, uint32_t *outputs, size_t n) {
    tc__graph *g = u->w.to;
    for (size_t i = 0; i < n; i++) {
        const tc__node *a = g->node.at[u->w.output[outputs[i]]];
        outputs[i] = a->id;
        if (a->op != TC_OP_INPUT || a->attr[TC__INPUT_EXTERNAL] < (int64_t)g->placed)
            continue;
        int64_t mark = (int64_t)TC__SPOT_MARK * 2 + (int64_t)i;
        a = tc__make1(g, TC_OP_DETACH, a, a->rank, a->dims, &mark, 1);
        if (!a) return 0;
        outputs[i] = a->id;
    }
    return 1;
}

static void tc__unroll_free(tc__unroll *u) {
    tc_ctx *c = u->w.ctx;
    size_t n = u->w.nodes;
    if (u->loop) TC__FREE_ARRAY(c, u->loop, n);
    if (u->made) TC__FREE_ARRAY(c, u->made, n);
    if (u->store) TC__FREE_ARRAY(c, u->store, n);
    if (u->memory) TC__FREE_ARRAY(c, u->memory, n);
    if (u->row) TC__FREE_ARRAY(c, u->row, n);
    if (u->rows) TC__FREE_ARRAY(c, u->rows, n);
    TC__VEC_FREE(c, u->waiting);
    TC__VEC_FREE(c, u->stores);
    tc__rewrite_close(&u->w);
}

// Makes `to`, open and empty, of `from`, which has loops; outputs as of tc__passes_run. INPUTs from number `placed` on are
// places. 0 = reported.
static int tc__loops_run(tc_ctx *c, const tc__graph *from, tc__graph *to, uint32_t placed,
                         uint32_t *outputs, size_t n) {
    tc__unroll u;
    memset(&u, 0, sizeof u);
    int ok = tc__rewrite_open(&u.w, c, from, outputs, n);
    u.w.to = to, to->placed = placed;
    u.loop = tc__loops_of(from), u.made = TC__NEW_ARRAY(c, uint8_t, u.w.nodes);
    u.store = TC__NEW_ARRAY(c, uint32_t, u.w.nodes);
    u.memory = TC__NEW_ARRAY(c, uint32_t, u.w.nodes);
    u.row = TC__NEW_ARRAY(c, uint32_t, u.w.nodes);
    u.rows = TC__NEW_ARRAY(c, uint32_t, u.w.nodes);
    ok = ok && u.loop && u.made && u.store && u.memory && u.row && u.rows &&
         tc__loops_copy(to, from);
    for (uint32_t i = 0; ok && i < u.w.nodes; i++) {
        if (!u.w.live[i] || from->node.at[i]->op != TC_OP_STACKED) continue;
        u.row[from->node.at[i]->in[0]] = i + 1;
        tc__unroll_find_rows(&u, from->node.at[i]);
    }
    for (uint32_t i = 0; ok && i < u.w.nodes; i++)
        ok = !u.w.live[i] || tc__unroll_make(&u, i);
    ok = ok && tc__composites_carry(&u.w) && tc__unroll_outputs(&u, outputs, n);
    tc__unroll_free(&u);
    return ok && tc__checked(c, to, TC__TENSOR);
}
