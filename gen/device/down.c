// The list of rows whose columns are summed as well (kernel/down.c): blocks have several rows, one after the other, as
// rows.c has one, and what they sum of each column in shared memory, where no thread has another's. Then all blocks meet,
// and each sums for some of the columns what all of them have, in their order.
//
//     for i in 0..396 bind=grid, x in 0..256 bind=block
//       begun at ticket0
//       acc4 = new add width=8                       its own columns:
//       for l in 0..8 bind=vector:  put shared0[8*x + l] <- acc4
//       for p in 0..83 bind=serial
//         if 396*p + i < 32768                       r = 396*p + i
//           ..                                       rows.c, and shared0[8*x + l] = shared0[8*x + l] + ..
//       for l in 0..8 bind=vector:  get acc4 <- shared0[8*x + l], put work0[4096*i + c] <- acc4
//       meet 396 at ticket0
//       for j in 0..512 bind=taken                   8 columns each
//         acc6 = new add
//         for q in .., n in .. bind=unroll           parts 22 apart
//           get acc6 <- work0[4096*m + c]            c = 8*j + x%8
//         put shared2[x] <- acc6
//         barrier block
//         ..                                         the first 8 threads have them all, and do the rest
//
// Where a thread has much of a row, sums in registers leave too few of them: a layer norm of 4096 columns with its gradients
// takes 430 us so with 512 threads a multiprocessor, with 1024 the compiler moves registers to memory (900 us). They are in
// shared memory then; what costs little to make of held elements is made again in each loop for the same reason, and the
// compiler is told to FORGET what it had of them.
//
// Short rows are a warp's, which waits for no other: of 8192 x 768, with three sums down the columns, a norm's gradient in
// bf16 takes an H100 45 us so, 73 with a block of three warps for each row. One block of 8 such warps has all of their rows in
// registers, and what they sum, while their next rows come to shared memory, the values of a row with them: 31 us of an H200
// behind its last row, as a copy of as many bytes; 33 by two blocks that ask for a row when they come to it.
//
// No block waits for one that may not have begun: one that comes to the meeting before all have begun leaves, and those that
// come later do what is left. So nothing depends on how many blocks a device has room for. Columns are dealt to them by the
// order in which they came: to ask for each would be a way to memory more.

enum {
    TC__DOWN_J = TC__VAR0,
    TC__DOWN_P = TC__VAR0 + 7,
    TC__DOWN_N = TC__VAR0 + 10,
    TC__DOWN_LANES = 8, // columns that are summed together at the meeting,
    TC__DOWN_BATCH = 12 //   and parts of each that are under way together
};

typedef struct tc__downer {
    tc__rower r; // must be the first: rows.c gives it back
    const tc__group *all;
    tc__down_plan plan;
    tc__ix i, y, x;
    int64_t u;                  // the vector at hand
    int64_t own;                // buffers of what each thread sums: the first
    int64_t sums, accumulators; // down the columns, and accumulators before them
    const tc__node *combine[TC__DOWN_SUMS];
    int64_t ticket, work[TC__DOWN_SUMS], meeting[TC__DOWN_SUMS];
    uint32_t asked[TC__DOWN_ASKED]; // loads that a row begins with
    int64_t next[TC__DOWN_ASKED];   //   and where the next row's come to
    int n_asked;
    uint32_t value[TC__DOWN_VALUES]; // values of a row, the same
    int64_t next_value[TC__DOWN_VALUES], held_value[TC__DOWN_VALUES];
    int n_values;
} tc__downer;

// ---- accumulators ----

// Of sum k: that of vector u, and behind all those the one that parts are summed in.
static int64_t tc__down_number(const tc__downer *d, int64_t k, int64_t u) {
    return d->accumulators + k * (d->plan.q.vectors + 1) + u;
}

static int tc__down_dtype(const tc__downer *d, int64_t k) {
    return tc__sums_dtype(&d->r.v.l, d->combine[k]);
}

static void tc__down_new(tc__downer *d, int64_t k, int64_t u, int width) {
    int64_t attr[3];
    attr[TC__NEW_ACCUMULATOR] = tc__down_number(d, k, u);
    attr[TC__NEW_MONOID] = d->combine[k]->attr[TC__COMBINE_MONOID];
    attr[TC__NEW_WIDTH] = width;
    tc__relist_put(&d->r.v.l, TC_OP_NEW, tc__down_dtype(d, k), attr, 3);
}

static void tc__down_move(tc__downer *d, tc__op op, int64_t k, int64_t u, int64_t buffer,
                          tc__ix e) {
    int64_t attr[4];
    attr[TC__PUT_BUFFER] = buffer, attr[TC__PUT_INDEX] = e;
    attr[TC__PUT_ACCUMULATOR] = tc__down_number(d, k, u);
    attr[TC__PUT_MONOID] = d->combine[k]->attr[TC__COMBINE_MONOID];
    tc__relist_put(&d->r.v.l, op, TC_I64, attr, 4);
}

static void tc__down_new_all(tc__downer *d) {
    for (int64_t k = 0; k < d->sums; k++)
        for (int u = 0; u < d->plan.q.vectors; u++) tc__down_new(d, k, u, d->plan.q.width);
}

static void tc__down_buffers(tc__downer *d, int64_t *buffer, tc__place place,
                             int64_t numel) {
    for (int64_t k = 0; k < d->sums; k++)
        buffer[k] = tc__relist_buffer(&d->r.v.l, place, tc__down_dtype(d, k), numel);
}

// Accumulators of all vectors to their columns of the block's part.
static void tc__down_put_part(tc__downer *d) {
    tc__vectors *v = &d->r.v;
    int64_t columns = tc__ix_value(v->l.from->shape.cols);
    for (int u = 0; u < d->plan.q.vectors; u++) {
        v->u = tc__ix_const(u);
        tc__ix column = tc__rows_open(v);
        tc__ix at = tc__ix_add(v->ix, column, tc__vector_lanes(v, v->width));
        at = tc__vector_ix(v, columns, d->i, at);
        for (int64_t k = 0; k < d->sums; k++)
            tc__down_move(d, TC_OP_PUT, k, u, d->work[k], at);
        tc__vector_lanes_end(v, v->width);
        tc__relist_end_if(&v->l, v->opened);
    }
}

// The thread of its block.
static tc__ix tc__down_thread(const tc__downer *d) {
    return tc__vector_ix(&d->r.v, d->plan.q.sharing, d->y, d->x);
}

// The buffer of what threads sum in their vectors u.
static int64_t tc__down_slot(const tc__downer *d, int64_t k, int64_t u) {
    return d->own + k * d->plan.q.vectors + u;
}

// Accumulators to where the thread has them in shared memory, or from there: each vector in a buffer of its own.
static void tc__down_move_own(tc__downer *d, tc__op op) {
    tc__vectors *v = &d->r.v;
    for (int64_t k = 0; k < d->sums; k++)
        for (int u = 0; u < d->plan.q.vectors; u++) {
            tc__ix lane = tc__vector_lanes(v, v->width);
            int64_t bytes = tc__dtypes[tc__down_dtype(d, k)].bytes;
            tc__down_move(d, op, k, u, tc__down_slot(d, k, u),
                          tc__down_own_at(v, bytes, tc__down_thread(d), lane));
            tc__vector_lanes_end(v, v->width);
        }
}

// Each thread has its sums in memory of its own, or in registers, which hold nothing yet.
static void tc__down_open(tc__downer *d) {
    tc__relist *l = &d->r.v.l;
    d->own = (int64_t)l->to->buffer.count;
    for (int64_t k = 0; k < d->sums; k++)
        for (int u = 0; u < d->plan.q.vectors; u++)
            tc__relist_buffer(
                l, TC__BUF_SHARED, tc__down_dtype(d, k),
                tc__down_own_numel(&d->plan.q, tc__dtypes[tc__down_dtype(d, k)].bytes));
    tc__down_new_all(d);
    if (!d->plan.kept) tc__down_move_own(d, TC_OP_PUT);
}

// Columns of a vector that a thread collects, side by side: all threads, or as many as there are columns, have some.
static int tc__down_few(const tc__downer *d) {
    int each = d->plan.q.threads / d->plan.q.sharing;
    return d->r.v.width > each ? d->r.v.width / each : 1;
}

// Where column `lane` of them is in the memory of warp n.
static tc__ix tc__down_collected(const tc__downer *d, int64_t k, tc__ix n, tc__ix lane) {
    const tc__vectors *v = &d->r.v;
    int few = tc__down_few(d);
    tc__ix lanes = tc__ix_const(v->width / few), thread = tc__down_thread(d);
    tc__ix owner = tc__vector_ix(v, 32, n, tc__ix_div(v->ix, thread, lanes));
    tc__ix first = tc__ix_mod(v->ix, thread, lanes);
    return tc__down_own_at(v, tc__dtypes[tc__down_dtype(d, k)].bytes, owner,
                           tc__vector_ix(v, few, first, lane));
}

// What all warps have of them.
static void tc__down_collect_sums(tc__downer *d) {
    tc__vectors *v = &d->r.v;
    int few = tc__down_few(d);
    tc__ix n = tc__relist_for(&v->l, (tc__axis)TC__DOWN_N, TC__BIND_UNROLL,
                              tc__ix_const(d->plan.q.threads / d->plan.q.sharing));
    for (int64_t k = 0; k < d->sums; k++)
        for (int u = 0; u < d->plan.q.vectors; u++) {
            tc__ix lane = tc__vector_lanes(v, few);
            tc__down_move(d, TC_OP_GET, k, u, tc__down_slot(d, k, u),
                          tc__down_collected(d, k, n, lane));
            tc__vector_lanes_end(v, few);
        }
    tc__relist_end(&v->l, TC__DOWN_N);
}

// What all warps of the block have, to its part: spread over all threads.
static void tc__down_collect_warps(tc__downer *d) {
    tc__vectors *v = &d->r.v;
    tc__relist *l = &v->l;
    int few = tc__down_few(d);
    int64_t columns = tc__ix_value(l->from->shape.cols), vector = (int64_t)32 * v->width;
    tc__ix thread = tc__down_thread(d), busy = tc__ix_const(vector / few);
    if (d->plan.kept) tc__down_move_own(d, TC_OP_PUT);
    tc__relist_barrier(l, 0);
    for (int64_t k = 0; k < d->sums; k++)
        for (int u = 0; u < d->plan.q.vectors; u++) tc__down_new(d, k, u, few);
    int opened = vector / few < d->plan.q.threads && tc__relist_if(l, thread, busy, 0, 0);
    tc__down_collect_sums(d);
    for (int u = 0; u < d->plan.q.vectors; u++) {
        tc__ix column = tc__vector_ix(v, few, thread, tc__ix_const(vector * u));
        int inside = tc__relist_if(l, column, l->from->shape.cols, 0, 0);
        tc__ix lane = tc__vector_lanes(v, few);
        tc__ix at = tc__vector_ix(v, columns, d->i, tc__ix_add(v->ix, column, lane));
        for (int64_t k = 0; k < d->sums; k++)
            tc__down_move(d, TC_OP_PUT, k, u, d->work[k], at);
        tc__vector_lanes_end(v, few);
        tc__relist_end_if(l, inside);
    }
    tc__relist_end_if(l, opened);
}

// What the block has of each column, to its part.
static void tc__down_collect(tc__downer *d) {
    if (d->plan.q.threads > d->plan.q.sharing) {
        tc__down_collect_warps(d);
        return;
    }
    tc__down_new_all(d);
    tc__down_move_own(d, TC_OP_GET);
    tc__down_put_part(d);
}

// ---- rows ----

// The same in registers.
static void tc__down_step_kept(tc__downer *d, const tc__node *n) {
    tc__node m = *n;
    int64_t attr[TC__NODE_WORDS];
    memcpy(attr, n->attr, n->n_attr * sizeof *attr);
    attr[TC__ACC_ACCUMULATOR] =
        tc__down_number(d, n->attr[TC__ACC_ACCUMULATOR] - d->accumulators, d->u);
    m.attr = attr;
    tc__relist_copy(&d->r.v.l, &m);
}

// A step at a column, for vector u of the row at hand.
static void tc__down_step(tc__vectors *v, const tc__node *n, tc__ix lane) {
    tc__downer *d = (tc__downer *)(void *)v;
    tc__relist *l = &v->l;
    if (d->plan.kept) {
        tc__down_step_kept(d, n);
        return;
    }
    int64_t buffer = tc__down_slot(d, n->attr[TC__ACC_ACCUMULATOR] - d->accumulators, d->u);
    int64_t bytes = tc__dtypes[l->to->buffer.at[buffer].dtype].bytes;
    tc__ix at = tc__down_own_at(v, bytes, tc__down_thread(d), lane);
    tc__node m = *n;
    uint32_t in[2];
    tc__relist_load(l, n, buffer, at);
    in[0] = l->at[n->id], in[1] = l->at[n->in[0]];
    m.op = (uint16_t)n->attr[TC__ACC_MONOID], m.in = in, m.n_in = 2, m.n_attr = 0;
    tc__node *made = l->failed ? NULL : tc__node_append(&l->to->body, &m);
    if (!made) l->failed = 1;
    if (made) l->at[n->id] = made->id;
    tc__relist_store(l, n, buffer, at);
}

// Loads that no loop of the row has needed are not held for the steps.
static void tc__down_load(tc__vectors *v) {
    for (uint32_t id = 0; id < v->end; id++)
        if (v->ahead[id] == TC__HOLD_LATER) v->ahead[id] = TC__HOLD_NOT;
}

// The steps down the columns, behind the loop of the row that they stand in.
static void tc__down_behind(tc__rower *t, uint32_t begin, uint32_t end) {
    tc__downer *d = (tc__downer *)(void *)t;
    tc__vectors *v = &t->v;
    int some = 0;
    v->begin = begin, v->end = end, v->sums = TC__SUMS_DOWN;
    tc__vectors_rest(v);
    for (uint32_t id = begin; id < end; id++)
        some |= v->need[id] && v->l.from->body.node.at[id]->op == TC_OP_ACC;
    if (some) tc__down_load(v);
    for (int u = 0; u < v->count && some; u++) {
        v->u = tc__ix_const(u), d->u = u;
        tc__ix column = v->open(v);
        int opened = !v->opened && v->width == 1 && tc__relist_do(&v->l);
        tc__vector_nodes(v, v->l.from, v->need, column, v->width, TC__HOLD_NOT);
        tc__relist_end_if(&v->l, opened || v->opened);
    }
    v->u = tc__ix_const(0), v->sums = TC__SUMS_OF_ROWS;
}

static tc__ix tc__down_row_at(const tc__downer *d, tc__ix turn) {
    const tc__vectors *v = &d->r.v;
    int64_t each = d->plan.q.threads / d->plan.q.sharing;
    tc__ix block = tc__vector_ix(v, d->plan.blocks, turn, d->i);
    return tc__vector_ix(v, each, block, d->y);
}

// Opens the vectors of a thread, one after the other: the first column of the one at hand.
static tc__ix tc__down_each(tc__downer *d) {
    tc__vectors *v = &d->r.v;
    v->u = tc__ix_const(0);
    if (v->count > 1)
        v->u = tc__relist_for(&v->l, (tc__axis)TC__VECTOR_U, TC__BIND_UNROLL,
                              tc__ix_const(v->count));
    return tc__rows_open(v);
}

static void tc__down_each_end(tc__downer *d) {
    tc__vectors *v = &d->r.v;
    tc__relist_end_if(&v->l, v->opened);
    if (v->count > 1) tc__relist_end(&v->l, TC__VECTOR_U);
}

// Where a thread finds its vector at hand of the next row.
static tc__ix tc__down_next_at(tc__downer *d) {
    tc__vectors *v = &d->r.v;
    tc__ix own = tc__vector_ix(v, d->plan.q.threads, v->u, tc__down_thread(d));
    return tc__ix_mul(v->ix, tc__ix_const(v->width), own);
}

// Loads that a row begins with, at once: to registers, with nothing to wait for between them, or to where the thread
// finds them at its next turn.
static void tc__down_ask(tc__downer *d, tc__ix row) {
    tc__vectors *v = &d->r.v;
    const tc__group *g = v->l.from;
    int opened = tc__relist_if(&v->l, row, g->shape.rows, 0, 0) || tc__relist_do(&v->l);
    tc__relist_axis(&v->l, TC__ROW, row);
    tc__ix column = tc__down_each(d), at = tc__down_next_at(d);
    if (!d->plan.ahead) at = tc__ix_mul(v->ix, tc__ix_const(v->width), v->u);
    for (int k = 0; k < d->n_asked; k++)
        tc__relist_copy_vector(&v->l, g->body.node.at[d->asked[k]],
                               d->plan.ahead ? d->next[k] : v->held[d->asked[k]], at,
                               TC__COL, column, v->width);
    tc__down_each_end(d);
    for (int k = 0; k < d->n_values; k++)
        tc__relist_copy_vector(&v->l, g->body.node.at[d->value[k]], d->next_value[k],
                               tc__down_thread(d), TC__COL, tc__ix_const(0), 1);
    tc__relist_end_if(&v->l, opened);
}

// What was asked for is the row at hand now.
static void tc__down_take(tc__downer *d) {
    tc__vectors *v = &d->r.v;
    int64_t attr[TC__COPY_PREDICATES];
    tc__relist_put(&v->l, TC_OP_WAIT, TC_I64, NULL, 0);
    attr[TC__COPY_INDEX] = tc__ix_const(0), attr[TC__COPY_SOURCE] = tc__down_thread(d);
    attr[TC__COPY_ELEMENTS] = 1;
    for (int k = 0; k < d->n_values; k++) {
        attr[TC__COPY_BUFFER] = d->held_value[k], attr[TC__COPY_FROM] = d->next_value[k];
        tc__relist_put(&v->l, TC_OP_COPY, TC_I64, attr, TC__COPY_PREDICATES);
    }
    tc__down_each(d);
    attr[TC__COPY_INDEX] = tc__ix_mul(v->ix, tc__ix_const(v->width), v->u);
    attr[TC__COPY_SOURCE] = tc__down_next_at(d), attr[TC__COPY_ELEMENTS] = v->width;
    for (int k = 0; k < d->n_asked; k++) {
        attr[TC__COPY_BUFFER] = v->held[d->asked[k]], attr[TC__COPY_FROM] = d->next[k];
        tc__relist_put(&v->l, TC_OP_COPY, TC_I64, attr, TC__COPY_PREDICATES);
    }
    tc__down_each_end(d);
}

// The loads of a row are held from here on; where registers have all of it, whatever loops need.
static void tc__down_hold(tc__downer *d) {
    tc__vectors *v = &d->r.v;
    const tc__group *g = v->l.from;
    for (uint32_t id = 0; id < g->body.node.count; id++)
        for (int k = 0; k < d->n_asked; k++)
            if (id == d->asked[k] ||
                tc__device_held_load(g, &d->plan.q, g->body.node.at[id]) ==
                    (int64_t)d->asked[k])
                v->ahead[id] = d->plan.kept ? TC__HOLD_ASKED : TC__HOLD_BEFORE;
}

// A value of the row that it began with. 0 = the node is another.
static int tc__down_row_value(tc__rower *t, const tc__node *n) {
    tc__downer *d = (tc__downer *)(void *)t;
    for (int k = 0; k < d->n_values; k++)
        if (d->value[k] == n->id)
            return tc__relist_load(&t->v.l, n, d->held_value[k], tc__ix_const(0)), 1;
    return 0;
}

// Finds what a row begins with; of more rows than one, each has room for the next one's.
static void tc__down_open_asked(tc__downer *d, tc__ix turns) {
    tc__relist *l = &d->r.v.l;
    const tc__group *g = l->from;
    const tc__device_plan *q = &d->plan.q;
    d->n_asked = tc__down_asks(g, &d->plan, d->asked);
    if (tc__ix_equals(turns, 1)) d->plan.ahead = 0;
    for (int k = 0; k < d->n_asked; k++) {
        const tc__node *n = g->body.node.at[d->asked[k]];
        if (tc__down_is_single(g, q, n)) tc__vector_hold_in(&d->r.v, n, TC__HOLD_ASKED);
        if (d->plan.ahead)
            d->next[k] = tc__relist_buffer(l, TC__BUF_SHARED, tc__buffer_of(g, n)->dtype,
                                           (int64_t)q->threads * q->vectors * q->width);
    }
    if (!d->plan.ahead || !d->plan.kept) return;
    d->n_values = tc__down_asks_values(g, d->value);
    for (int k = 0; k < d->n_values; k++) {
        int dtype = tc__buffer_of(g, g->body.node.at[d->value[k]])->dtype;
        d->next_value[k] = tc__relist_buffer(l, TC__BUF_SHARED, dtype, q->threads);
        d->held_value[k] = tc__relist_buffer(l, TC__BUF_REGISTER, dtype, 1);
    }
}

static void tc__down_rows_all(tc__downer *d) {
    tc__vectors *v = &d->r.v;
    tc__relist *l = &v->l;
    int64_t each = d->plan.q.threads / d->plan.q.sharing;
    tc__ix one = tc__ix_const(1);
    tc__ix turns =
        tc__ix_ceil_div(v->ix, l->from->shape.rows, tc__ix_const(d->plan.blocks * each));
    tc__down_open_asked(d, turns);
    if (d->plan.ahead) tc__down_ask(d, tc__down_row_at(d, tc__ix_const(0)));
    tc__ix p = tc__relist_for(l, (tc__axis)TC__DOWN_P, TC__BIND_SERIAL, turns);
    tc__ix r = tc__down_row_at(d, p);
    uint32_t begin = (uint32_t)l->to->body.node.count;
    int opened = tc__relist_if(l, r, l->from->shape.rows, 0, 0);
    if (d->plan.ahead) tc__down_take(d);
    tc__down_ask(d, d->plan.ahead ? tc__down_row_at(d, tc__ix_add(v->ix, p, one)) : r);
    tc__down_hold(d);
    tc__relist_axis(l, TC__ROW, r);
    tc__rows_body(&d->r);
    tc__relist_end_if(l, opened);
    // What is combined of the next row has the same places in shared memory.
    uint32_t end = (uint32_t)l->to->body.node.count;
    if (d->plan.q.sharing > 32 && tc__device_meetings(l->to, begin, end) < 2)
        tc__relist_barrier(l, 0);
    tc__relist_end(l, TC__DOWN_P);
}

// ---- all rows of the block, and of all blocks ----

// All blocks meet.
static void tc__down_leave(tc__downer *d) {
    int64_t attr[3];
    attr[TC__MEET_BUFFER] = d->ticket, attr[TC__MEET_COUNT] = d->plan.blocks;
    attr[TC__MEET_OWN] = tc__relist_buffer(&d->r.v.l, TC__BUF_SHARED, TC_I32, 2);
    tc__relist_put(&d->r.v.l, TC_OP_MEET, TC_I64, attr, 3);
}

static int64_t tc__down_divisor(int64_t n, int64_t most) {
    while (n % most) most--;
    return most;
}

// Every `below`-th part of column c, in this thread.
static void tc__down_gather(tc__downer *d, tc__ix warp, int64_t below, tc__ix c) {
    tc__vectors *v = &d->r.v;
    tc__relist *l = &v->l;
    int64_t columns = tc__ix_value(l->from->shape.cols), turns = d->plan.blocks / below;
    int64_t most = TC__DOWN_BATCH;
    int64_t batch = tc__down_divisor(turns, turns < most ? turns : most);
    tc__ix q = tc__relist_for(l, (tc__axis)TC__ROWS_Q, TC__BIND_SERIAL,
                              tc__ix_const(turns / batch));
    tc__ix n =
        tc__relist_for(l, (tc__axis)TC__DOWN_N, TC__BIND_UNROLL, tc__ix_const(batch));
    tc__ix part = tc__vector_ix(v, below, tc__vector_ix(v, batch, q, n), warp);
    part = tc__relist_bind(l, TC__ROWS_M, part, tc__ix_const(d->plan.blocks));
    for (int64_t k = 0; k < d->sums; k++)
        tc__down_move(d, TC_OP_GET, k, d->plan.q.vectors, d->work[k],
                      tc__vector_ix(v, columns, part, c));
    tc__relist_end(l, TC__DOWN_N), tc__relist_end(l, TC__ROWS_Q);
}

// What is done with the sums of the column at hand: nodes behind all rows.
static void tc__down_finish(tc__downer *d) {
    tc__relist *l = &d->r.v.l;
    const tc__group *all = d->all;
    for (uint32_t id = tc__down_begin(all) + 1; id + 1 < all->body.node.count; id++) {
        tc__node n = *all->body.node.at[id];
        int64_t attr[TC__COMBINE_THREADS + 1];
        if (n.op == TC_OP_COMBINE) {
            int64_t k = n.attr[TC__COMBINE_ACCUMULATOR] - d->accumulators;
            memcpy(attr, n.attr, TC__COMBINE_THREADS * sizeof *attr);
            attr[TC__COMBINE_ACCUMULATOR] = tc__down_number(d, k, d->plan.q.vectors);
            attr[TC__COMBINE_THREADS] = 1;
            n.attr = attr, n.n_attr = TC__COMBINE_THREADS + 1;
        }
        tc__relist_copy(l, &n);
    }
}

// A few columns: threads have parts of each, the first of them sum what they have.
static void tc__down_meet(tc__downer *d) {
    tc__vectors *v = &d->r.v;
    tc__relist *l = &v->l;
    int64_t u = d->plan.q.vectors;
    tc__ix all = l->from->shape.cols, lanes = tc__ix_const(TC__DOWN_LANES);
    int64_t below = tc__down_divisor(d->plan.blocks, d->plan.q.threads / TC__DOWN_LANES);
    tc__ix thread = tc__down_thread(d);
    tc__ix first = tc__ix_div(v->ix, thread, lanes),
           lane = tc__ix_mod(v->ix, thread, lanes);
    tc__down_buffers(d, d->meeting, TC__BUF_SHARED, d->plan.q.threads);
    tc__ix j = tc__relist_for(l, (tc__axis)TC__DOWN_J, TC__BIND_TAKEN,
                              tc__ix_ceil_div(v->ix, all, lanes));
    tc__ix c = tc__vector_ix(v, TC__DOWN_LANES, j, lane);
    for (int64_t k = 0; k < d->sums; k++) tc__down_new(d, k, u, 1);
    int opened = tc__relist_if(l, first, tc__ix_const(below), c, all);
    if (!opened) opened = tc__relist_do(l);
    tc__relist_axis(l, TC__COL, c);
    tc__down_gather(d, first, below, tc__ix_var(v->ix, TC__COL, all));
    tc__relist_end_if(l, opened);
    for (int64_t k = 0; k < d->sums; k++)
        tc__down_move(d, TC_OP_PUT, k, u, d->meeting[k], thread);
    tc__relist_barrier(l, 0);
    opened = tc__relist_if(l, first, tc__ix_const(1), c, all);
    for (int64_t k = 0; k < d->sums; k++) tc__down_new(d, k, u, 1);
    tc__ix n =
        tc__relist_for(l, (tc__axis)TC__DOWN_N, TC__BIND_UNROLL, tc__ix_const(below));
    for (int64_t k = 0; k < d->sums; k++)
        tc__down_move(d, TC_OP_GET, k, u, d->meeting[k],
                      tc__vector_ix(v, TC__DOWN_LANES, n, lane));
    tc__relist_end(l, TC__DOWN_N);
    tc__relist_axis(l, TC__COL, c);
    tc__down_finish(d);
    tc__relist_end_if(l, opened);
    tc__relist_end(l, TC__DOWN_J);
}

// ---- the list ----

static void tc__down_loops(tc__downer *d) {
    tc__relist *l = &d->r.v.l;
    int sharing = d->plan.q.sharing, each = d->plan.q.threads / sharing;
    int64_t columns = tc__ix_value(l->from->shape.cols);
    d->y = tc__ix_const(0);
    d->i = tc__relist_for(l, (tc__axis)TC__ROWS_I, TC__BIND_GRID,
                          tc__ix_const(d->plan.blocks));
    if (each > 1)
        d->y = tc__relist_for(l, (tc__axis)TC__ROWS_Y, TC__BIND_BLOCK, tc__ix_const(each));
    d->r.x = d->x = tc__relist_for(l, (tc__axis)TC__ROWS_X,
                                   sharing > 32 ? TC__BIND_BLOCK : TC__BIND_LANE,
                                   tc__ix_const(sharing));
    d->ticket = tc__relist_buffer(l, TC__BUF_TICKET, TC_I32, TC__DEVICE_MEETING);
    tc__relist_put(l, TC_OP_BEGUN, TC_I64, &d->ticket, 1);
    tc__down_buffers(d, d->work, TC__BUF_WORK, d->plan.blocks * columns);
    tc__down_open(d);
    tc__down_rows_all(d);
    tc__down_collect(d);
    tc__down_leave(d);
    tc__down_meet(d);
    tc__relist_end(l, TC__ROWS_X);
    if (each > 1) tc__relist_end(l, TC__ROWS_Y);
    tc__relist_end(l, TC__ROWS_I);
}

static void tc__down_find_sums(tc__downer *d) {
    const tc__group *g = d->all;
    d->accumulators = g->body.node.at[0]->attr[TC__NEW_ACCUMULATOR];
    for (uint32_t id = tc__down_begin(g); id < g->body.node.count; id++) {
        const tc__node *n = g->body.node.at[id];
        if (n->op != TC_OP_COMBINE) continue;
        d->combine[n->attr[TC__COMBINE_ACCUMULATOR] - d->accumulators] = n;
        d->sums++;
    }
}

// The list of g, which was taken; NULL = no memory.
static tc__group *tc__lower_down(tc_ctx *c, const tc__group *g) {
    tc__group rows = tc__down_part(g);
    tc__downer *d = TC__NEW(c, tc__downer);
    tc__group *k = NULL;
    if (!d || !tc__down_plan_of(g, &d->plan)) {
        tc__free(c, d, sizeof *d);
        return NULL;
    }
    tc__rows_init(&d->r, &d->plan.q);
    d->all = g;
    tc__down_find_sums(d);
    d->r.v.sums = TC__SUMS_OF_ROWS, d->r.v.down = d->accumulators;
    d->r.behind = tc__down_behind, d->r.value = tc__down_row_value, d->r.cheap = 1,
    d->r.v.step = tc__down_step;
    if (tc__relist_open(&d->r.v.l, c, g) && tc__vectors_begin(&d->r.v, c)) {
        tc__relist_launch(&d->r.v.l, d->plan.q.threads, d->plan.q.narrow, d->plan.resident,
                          0);
        d->r.v.l.from = &rows;
        tc__rows_begin(&d->r);
        tc__down_loops(d);
        d->r.v.l.from = g;
        tc__relist_end(&d->r.v.l, TC__END_BLOCK);
    } else {
        d->r.v.l.failed = 1;
    }
    k = tc__vectors_done(&d->r.v, c);
    tc__free(c, d, sizeof *d);
    return k;
}
