// Runs the list of a device (gen/device) on the host, block by block. What stands between two barriers is run
// thread by thread, in order or backwards: where results differ, a barrier is missing. Memory is of dtypes
// that registers hold as they are; sums are combined in pairs, so tests have values whose sums are exact. Clusters are
// run by the emulator alone (tests/cuda).
#ifndef DEVICE_RUN_H
#define DEVICE_RUN_H

#include "tools/device_sums.h"

typedef struct device_run {
    const tc__group *k;
    void **memory;       // by buffer
    const int64_t *size; // run-time sizes
    int backwards;
    int64_t (*vars)[TC__VAR_END], *var; // by thread; its own
    int thread;                         // at hand
    int64_t lane;                       // element of the vector loop at hand, 0 outside
    run_sum *sum;                       // by accumulator
    uint8_t left[RUN_THREADS];          // the thread has done its part
    int threads;
    tc__word *value; // its own, by node
    tc__word *values;
} device_run;

static int64_t run_ix(device_run *d, tc__ix e) {
    const tc__ixpool *x = d->k->body.ix;
    if (tc__ix_is_const(e)) return tc__ix_value(e);
    const tc__ixnode *n = tc__ix_node(x, e);
    int64_t sum = n->base, a, b;
    switch (n->kind) {
    case TC__IX_SYM: return d->size[n->a];
    case TC__IX_VAR: return d->var[n->a];
    case TC__IX_VAL: return d->value[n->a].i64;
    case TC__IX_DIV: return tc__ix_floor_div(run_ix(d, n->a), run_ix(d, n->b));
    case TC__IX_MOD:
        a = run_ix(d, n->a), b = run_ix(d, n->b);
        return a - b * tc__ix_floor_div(a, b);
    case TC__IX_MIN: a = run_ix(d, n->a), b = run_ix(d, n->b); return a < b ? a : b;
    case TC__IX_POLY: break;
    }
    for (uint32_t i = 0; i < n->count; i++) {
        const tc__ixterm *t = &x->term.at[n->first + i];
        int64_t product = t->coef;
        for (int k = 0; k < TC__IX_ATOMS && t->atom[k]; k++)
            product *= run_ix(d, t->atom[k]);
        sum += product;
    }
    return sum;
}

// Whether all 0 <= e < limit from word `first` on hold.
static int run_holds(device_run *d, const tc__node *n, uint32_t first) {
    for (uint32_t i = first; i + 1 < n->n_attr; i += 2) {
        int64_t e = run_ix(d, n->attr[i]);
        if (e < 0 || e >= run_ix(d, n->attr[i + 1])) return 0;
    }
    return 1;
}

// An element of memory, which is inside of its buffer.
static void *run_element(device_run *d, const tc__node *n) {
    int64_t b = n->attr[TC__ACCESS_BUFFER], e = run_ix(d, n->attr[TC__ACCESS_INDEX]);
    const tc__kbuf *buffer = &d->k->buffer.at[b];
    int64_t numel = run_ix(d, buffer->numel);
    CHECK(e >= 0 && e < numel);
    if (buffer->place == TC__BUF_REGISTER || buffer->place == TC__BUF_LOCAL)
        e += d->thread * numel;
    return (char *)d->memory[b] + e * (int64_t)tc__dtype(buffer->dtype)->bytes;
}

// Adjacent elements, as bytes.
static void run_copy(device_run *d, const tc__node *n) {
    tc__node m = *n;
    int64_t words[TC__LOAD_PREDICATES], nothing = 0;
    int inside = 1;
    for (uint32_t i = TC__COPY_PREDICATES; i + 1 < n->n_attr; i += 2) {
        int64_t e = run_ix(d, n->attr[i]);
        inside &= e >= 0 && e < run_ix(d, n->attr[i + 1]);
    }
    for (int64_t i = 0; i < n->attr[TC__COPY_ELEMENTS]; i++) {
        tc__ix step = tc__ix_const(i);
        m.attr = words, m.n_attr = TC__LOAD_PREDICATES;
        words[TC__ACCESS_BUFFER] = n->attr[TC__COPY_FROM];
        words[TC__ACCESS_INDEX] = tc__ix_add(d->k->body.ix, n->attr[TC__COPY_SOURCE], step);
        const void *from = inside ? run_element(d, &m) : &nothing;
        words[TC__ACCESS_BUFFER] = n->attr[TC__COPY_BUFFER];
        words[TC__ACCESS_INDEX] = tc__ix_add(d->k->body.ix, n->attr[TC__COPY_INDEX], step);
        memcpy(run_element(d, &m), from,
               tc__dtype(d->k->buffer.at[n->attr[TC__COPY_BUFFER]].dtype)->bytes);
    }
}

static void run_value(device_run *d, const tc__node *n) {
    tc__word in[3][TC__BLOCK_VECTOR], out[TC__BLOCK_VECTOR];
    tc__reg reg[3];
    memset(in, 0, sizeof in), memset(out, 0, sizeof out);
    for (uint32_t i = 0; i < n->n_in; i++) {
        in[i][0] = d->value[n->in[i]];
        reg[i].at = in[i], reg[i].mask = 0;
    }
    int dtype = n->n_in ? d->k->body.node.at[n->in[0]]->dtype : n->dtype;
    const tc__isa *isa = &tc__isa_scalar;
    tc__block_fn step = n->op == TC_OP_CAST ? isa->cast[tc__loop_from(dtype)][n->dtype]
                                            : isa->alu[n->op][dtype];
    REQUIRE(step != NULL);
    step(out, &reg[0], &reg[1], &reg[2], 1);
    d->value[n->id] = out[0];
}

// PUT and GET: the element at hand of an accumulator, and its place.
static void run_move(device_run *d, const tc__node *n) {
    run_sum *s = &d->sum[n->attr[TC__PUT_ACCUMULATOR]];
    tc__word *value = &s->value[d->thread][d->lane], there;
    int64_t *place = &s->place[d->thread][d->lane], at = INT64_MAX;
    size_t bytes = tc__dtype(s->dtype)->bytes;
    tc__node places = *n;
    int64_t words[2];
    words[TC__PUT_BUFFER] = n->n_attr > TC__PUT_PLACES ? n->attr[TC__PUT_PLACES] : 0;
    words[TC__PUT_INDEX] = n->attr[TC__PUT_INDEX], places.attr = words;
    memset(&there, 0, sizeof there);
    if (n->op == TC_OP_PUT) {
        memcpy(run_element(d, n), value, bytes);
        if (run_finds_place(s)) memcpy(run_element(d, &places), place, sizeof *place);
        return;
    }
    memcpy(&there, run_element(d, n), bytes);
    if (run_finds_place(s)) memcpy(&at, run_element(d, &places), sizeof at);
    run_step(s, value, place, there, at);
}

// The value that COMBINE n has for the thread at hand.
static void run_result(device_run *d, const tc__node *n) {
    const run_sum *s = &d->sum[n->attr[TC__COMBINE_ACCUMULATOR]];
    int64_t place = s->place[d->thread][d->lane];
    d->value[n->id] = s->value[d->thread][d->lane];
    if (run_finds_place(s)) d->value[n->id].i64 = place == INT64_MAX ? 0 : place;
}

static void run_node(device_run *d, const tc__node *n) {
    size_t bytes = tc__dtype(n->dtype)->bytes;
    tc__value v;
    switch (n->op) {
    case TC_OP_CONST:
        memcpy(&v, &n->attr[TC__CONST_BITS], sizeof v);
        d->value[n->id] = tc__word_of(&tc__isa_scalar, n->dtype, v);
        return;
    case TC_OP_LOAD:
        memcpy(&v, &n->attr[TC__LOAD_FILL], sizeof v);
        d->value[n->id] = tc__word_of(&tc__isa_scalar, n->dtype, v);
        if (run_holds(d, n, TC__LOAD_PREDICATES))
            memcpy(&d->value[n->id], run_element(d, n), bytes);
        return;
    case TC_OP_STORE: memcpy(run_element(d, n), &d->value[n->in[0]], bytes); return;
    case TC_OP_INDEX: d->value[n->id].i64 = run_ix(d, n->attr[TC__INDEX_EXPR]); return;
    case TC_OP_COPY: run_copy(d, n); return;
    case TC_OP_NEW: run_new(&d->sum[n->attr[TC__NEW_ACCUMULATOR]], d->thread, n); return;
    case TC_OP_PUT:
    case TC_OP_GET: run_move(d, n); return;
    case TC_OP_COMBINE: run_result(d, n); return;
    case TC_OP_ACC: {
        run_sum *s = &d->sum[n->attr[TC__ACC_ACCUMULATOR]];
        run_step(s, &s->value[d->thread][d->lane], &s->place[d->thread][d->lane],
                 d->value[n->in[0]], d->var[TC__COL]);
        return;
    }
    case TC_OP_WAIT:
    case TC_OP_FORGET: return;
    case TC_OP_BEGUN: // once for a block
        if (!d->thread) ++*(uint32_t *)d->memory[n->attr[TC__BEGUN_BUFFER]];
        return;
    case TC_OP_LEAVE: d->left[d->thread] = !run_holds(d, n, TC__LEAVE_PREDICATES); return;
    case TC_OP_VALID: d->value[n->id].i64 = run_holds(d, n, 0) ? -1 : 0; return;
    case TC_OP_CHECK: // all are inside
        d->value[n->id] = d->value[n->in[0]];
        CHECK(d->value[n->id].i64 >= 0 &&
              d->value[n->id].i64 < run_ix(d, n->attr[TC__CHECK_LIMIT]));
        return;
    case TC_OP_AXIS:
        d->var[n->attr[TC__AXIS_AXIS]] = run_ix(d, n->attr[TC__AXIS_VALUE]);
        CHECK(run_ix(d, n->attr[TC__AXIS_VALUE]) < run_ix(d, n->attr[TC__AXIS_EXTENT]));
        CHECK(run_ix(d, n->attr[TC__AXIS_VALUE]) >= 0);
        return;
    default: run_value(d, n);
    }
}

// The ELSE of the IF at `id`, its END where there is none.
static uint32_t run_else(const device_run *d, uint32_t id, uint32_t end) {
    for (id++; id < end; id++) {
        const tc__node *n = d->k->body.node.at[id];
        if (n->op == TC_OP_ELSE) return id;
        if (tc__opens(n)) id = tc__loop_end(d->k, id);
    }
    return end;
}

// Statements [begin, end) by one thread: there is no barrier among them.
static void run_statements(device_run *d, uint32_t begin, uint32_t end) {
    for (uint32_t id = begin; id < end && !d->left[d->thread]; id++) {
        const tc__node *n = d->k->body.node.at[id];
        uint32_t last = tc__opens(n) ? tc__loop_end(d->k, id) : id;
        if (n->op == TC_OP_FOR) {
            int64_t extent = run_ix(d, n->attr[TC__FOR_END]),
                    *at = &d->var[n->attr[TC__FOR_AXIS]];
            int vector = n->attr[TC__FOR_BIND] == TC__BIND_VECTOR;
            for (*at = 0; *at < extent; ++*at) {
                d->lane = vector ? *at : 0;
                run_statements(d, id + 1, last);
            }
            d->lane = 0;
        } else if (n->op == TC_OP_IF) {
            uint32_t other = run_else(d, id, last);
            if (run_holds(d, n, TC__IF_PREDICATES))
                run_statements(d, id + 1, other);
            else if (other < last)
                run_statements(d, other + 1, last);
        } else {
            run_node(d, n);
        }
        id = last;
    }
}

// Sets the variables of the loops in [begin, end) that `blocks` tells for one of all their turns.
static void run_place(device_run *d, uint32_t begin, uint32_t end, int blocks,
                      int64_t turn) {
    for (uint32_t id = end; id-- > begin;) {
        const tc__node *n = d->k->body.node.at[id];
        if ((n->attr[TC__FOR_BIND] == TC__BIND_GRID) != blocks) continue;
        int64_t extent = run_ix(d, n->attr[TC__FOR_END]);
        d->var[n->attr[TC__FOR_AXIS]] = turn % extent;
        turn /= extent;
    }
}

static void run_be(device_run *d, int thread) {
    d->thread = thread, d->var = d->vars[thread];
    d->value = d->values + (size_t)thread * d->k->body.node.count;
}

static uint32_t run_last(const device_run *d, uint32_t id) {
    return tc__opens(d->k->body.node.at[id]) ? tc__loop_end(d->k, id) : id;
}

// Whether all threads meet at the statement, or in it where it is an IF or a loop.
static int run_is_together(const device_run *d, uint32_t id) {
    const tc__node *n = d->k->body.node.at[id];
    if (n->op == TC_OP_IF || n->op == TC_OP_FOR)
        for (uint32_t k = id + 1; k < tc__loop_end(d->k, id); k = run_last(d, k) + 1)
            if (run_is_together(d, k)) return 1;
    if (n->op == TC_OP_COMBINE) return n->attr[TC__COMBINE_THREADS] > 1;
    return n->op == TC_OP_BARRIER || n->op == TC_OP_LAST || n->op == TC_OP_MEET ||
           n->op == TC_OP_TEMPLATE;
}

#include "tools/device_template.h"

// What threads do together: 1, or 0 = the block has done its part.
static int run_together(device_run *d, const tc__node *n) {
    if (n->op == TC_OP_LAST) {
        uint32_t *ticket = (uint32_t *)run_element(d, n);
        if (++*ticket < n->attr[TC__LAST_COUNT]) return 0;
        *ticket = 0;
    }
    if (n->op == TC_OP_MEET) { // blocks are run one after the other: the last does it all
        uint32_t *ticket = (uint32_t *)d->memory[n->attr[TC__MEET_BUFFER]];
        CHECK(ticket[0] > ticket[1]);
        return ++ticket[1] == n->attr[TC__MEET_COUNT];
    }
    if (n->op == TC_OP_TEMPLATE) run_be(d, 0), run_template(d, n);
    if (n->op != TC_OP_COMBINE) return 1;
    int share = (int)n->attr[TC__COMBINE_THREADS];
    for (int i = 0; i < d->threads; i += share)
        run_combine(&d->sum[n->attr[TC__COMBINE_ACCUMULATOR]], i, share);
    for (int i = 0; i < d->threads; i++) run_be(d, i), run_result(d, n);
    return 1;
}

static int run_all(device_run *d, uint32_t begin, uint32_t end);

// A loop in which all threads meet, turn by turn.
static int run_turns(device_run *d, uint32_t id) {
    const tc__node *n = d->k->body.node.at[id];
    run_be(d, 0);
    int64_t extent = run_ix(d, n->attr[TC__FOR_END]);
    for (int64_t turn = 0; turn < extent; turn++) {
        for (int i = 0; i < d->threads; i++)
            run_be(d, i), d->var[n->attr[TC__FOR_AXIS]] = turn;
        if (!run_all(d, id + 1, tc__loop_end(d->k, id))) return 0;
    }
    return 1;
}

// What threads do together at statement id, or those of them that go into an IF; 0 = the block has done its part.
static int run_meeting(device_run *d, uint32_t id) {
    const tc__node *n = d->k->body.node.at[id];
    uint8_t left[RUN_THREADS];
    if (n->op == TC_OP_FOR) return run_turns(d, id);
    if (n->op != TC_OP_IF) return run_together(d, n);
    memcpy(left, d->left, sizeof left);
    for (int i = 0; i < d->threads; i++) {
        run_be(d, i);
        d->left[i] |= !run_holds(d, n, TC__IF_PREDICATES);
    }
    int goes_on = run_all(d, id + 1, tc__loop_end(d->k, id));
    memcpy(d->left, left, sizeof left);
    return goes_on;
}

// Statements [begin, end) by all threads of a block, from barrier to barrier; 0 = it has done its part.
static int run_all(device_run *d, uint32_t begin, uint32_t end) {
    for (uint32_t at = begin; at < end; at++) {
        uint32_t stop = at;
        while (stop < end && !run_is_together(d, stop)) stop = run_last(d, stop) + 1;
        for (int i = 0; i < d->threads; i++) {
            run_be(d, d->backwards ? d->threads - 1 - i : i);
            run_statements(d, at, stop);
        }
        if (stop < end && !run_meeting(d, stop)) return 0;
        at = stop < end ? run_last(d, stop) : stop;
    }
    return 1;
}

// One block: its outer loops are [loops, begin).
static void run_block(device_run *d, uint32_t loops, uint32_t begin, uint32_t end,
                      int threads) {
    memset(d->left, 0, sizeof d->left);
    d->threads = threads;
    for (int i = 0; i < threads; i++) run_be(d, i), run_place(d, loops, begin, 0, i);
    run_all(d, begin, end);
}

// How many of a buffer there are; 0 = it is a tensor's.
static size_t run_copies(const tc__kbuf *b) {
    switch (b->place) {
    case TC__BUF_SHARED:
    case TC__BUF_WORK:
    case TC__BUF_GIVEN:
    case TC__BUF_TICKET: return 1;
    case TC__BUF_REGISTER:
    case TC__BUF_LOCAL: return RUN_THREADS;
    default: return 0;
    }
}

// Runs a list; memory of blocks and threads is made here.
static void run_device(const tc__group *k, void **memory, const int64_t *size,
                       int backwards) {
    device_run d;
    tc__grids grids;
    memset(&d, 0, sizeof d), memset(&grids, 0, sizeof grids);
    d.k = k, d.memory = memory, d.size = size, d.backwards = backwards;
    d.values = (tc__word *)calloc(k->body.node.count * RUN_THREADS, sizeof *d.values);
    d.vars = (int64_t(*)[TC__VAR_END])calloc(RUN_THREADS, sizeof *d.vars);
    d.sum = (run_sum *)calloc(RUN_SUMS, sizeof *d.sum);
    for (size_t i = 0; i < k->buffer.count; i++)
        if (run_copies(&k->buffer.at[i]))
            memory[i] = calloc((size_t)tc__ix_value(k->buffer.at[i].numel),
                               8 * run_copies(&k->buffer.at[i]));
    for (uint32_t id = 0; k->body.node.at[id]->op != TC_OP_LAUNCH; id++)
        for (int i = 0; i < RUN_THREADS; i++) // what is given
            run_be(&d, i), run_node(&d, k->body.node.at[id]);
    tc__device_grids(k, &grids);
    for (uint32_t id = 0, launch = 0; id < k->body.node.count; id++) {
        if (k->body.node.at[id]->op != TC_OP_LAUNCH) continue;
        uint32_t begin = id + 1, end = tc__loop_end(k, id);
        while (k->body.node.at[begin]->op == TC_OP_FOR &&
               tc__device_is_outer(k->body.node.at[begin]))
            end = tc__loop_end(k, begin++);
        int64_t blocks = run_ix(&d, grids.at[launch].blocks);
        for (int64_t block = 0; block < blocks; block++) {
            for (int i = 0; i < RUN_THREADS; i++)
                run_be(&d, i), run_place(&d, id + 1, begin, 1, block);
            run_block(&d, id + 1, begin, end, grids.at[launch].threads);
        }
        launch++;
    }
    for (size_t i = 0; i < k->buffer.count; i++)
        if (run_copies(&k->buffer.at[i])) free(memory[i]), memory[i] = NULL;
    free(d.values), free(d.vars), free(d.sum);
}

#endif
