// Loops of a program: memory that lasts from turn to turn, and the addresses that move with it. Input: places of the
// graph (pass/loops.c), and where its memory is among the intermediates (kernel/plan.c). A turn of a loop is its acts
// between LOOP and AGAIN; what else a turn has of its own is the symbol that is its number, which stands among the
// sizes.

// A buffer of some launch that is a place.
typedef struct tc__sliding {
    void **at;
    uint32_t place;
    size_t begin; // bytes from there on
} tc__sliding;

// While a loop runs, and behind it.
typedef struct tc__looping {
    int64_t turns, turn;         // how many there are; the row that this one is for
    int64_t done;                // turns so far
    uint32_t begin, end;         // acts
    int64_t parts;               // that go through the turns by themselves, 1 = none do,
    int looked, gone;            //   once somebody has looked at that; and they did
    struct tc__strands *strands; // what they have: exec/strands.c
} tc__looping;

typedef struct tc__lasting_now {
    char *at;    // among the intermediates of its device
    size_t step; // bytes from one half or row to the next
} tc__lasting_now;

typedef struct tc__loops {
    tc__looping *run;        // by loop; arena of the program, like all here
    tc__lasting_now *memory; // by memory of the graph
    uint32_t *of;            // by node: 1 + its place, if it is stored in one
    TC__VEC(tc__sliding) moving;
} tc__loops;

static int tc__loops_open(tc__loops *l, tc__arena *a, const tc__graph *g) {
    l->run = TC__ANEW_ARRAY(a, tc__looping, g->loop.count + 1);
    l->memory = TC__ANEW_ARRAY(a, tc__lasting_now, g->memory.count + 1);
    l->of = TC__ANEW_ARRAY(a, uint32_t, g->node.count + 1);
    if (!l->run || !l->memory || !l->of) return 0;
    for (uint32_t i = 0; i < g->place.count; i++)
        if (g->node.at[g->place.at[i].node]->op != TC_OP_INPUT)
            l->of[g->place.at[i].node] = i + 1;
    return 1;
}

// 1 + the place that buffer b is; 0 = it is none.
static uint32_t tc__spot_of(const tc__loops *l, const tc__graph *g, const tc__kbuf *b) {
    if (!g->place.count) return 0;
    if (b->place == TC__BUF_NODE) return l->of[b->source];
    return b->place == TC__BUF_INPUT && b->source >= g->placed ? b->source - g->placed + 1
                                                               : 0;
}

static void tc__loops_close(tc__loops *l, const tc__graph *g) {
    TC__VEC_FREE(g->ctx, l->moving);
}

// The place in a turn of its loop.
static char *tc__spot_in_turn(const tc__lasting_now *m, const tc__graph *g,
                              const tc__spot *p, const tc__looping *r) {
    int rows = g->memory.at[p->memory].stacked;
    int64_t at = 0;
    switch (p->kind) {
    case TC__SPOT_FIRST:
    case TC__SPOT_ALL: break;
    case TC__SPOT_NOW:
    case TC__SPOT_LEFT: at = rows ? r->done : r->done & 1; break;
    case TC__SPOT_NEXT: at = rows ? r->done + 1 : ~r->done & 1; break;
    case TC__SPOT_AFTER: at = 1; break;
    case TC__SPOT_ROW: at = r->turn; break;
    }
    return m->at + (size_t)at * m->step;
}

static char *tc__spot_address(const tc__loops *l, const tc__graph *g, const tc__spot *p) {
    return tc__spot_in_turn(&l->memory[p->memory], g, p,
                            &l->run[g->memory.at[p->memory].loop]);
}

// Addresses of what is of the loop, as it is now.
static void tc__loop_move(const tc__loops *l, const tc__graph *g, uint32_t loop) {
    for (size_t i = 0; i < l->moving.count; i++) {
        const tc__sliding *m = &l->moving.at[i];
        const tc__spot *p = &g->place.at[m->place];
        if (g->memory.at[p->memory].loop == loop)
            *m->at = tc__spot_address(l, g, p) + m->begin;
    }
}

// What the loop asks for how many turns it has, or for another one, is now. A device is waited for. 0 = reported.
static int tc__loop_ask(const tc__loops *l, const tc__graph *g, uint32_t loop, void *to,
                        size_t bytes) {
    const tc__rounds *o = &g->loop.at[loop];
    const tc__lasting_now *m = &l->memory[o->asked];
    const tc__device *d = tc__device_at(g->ctx, g->memory.at[o->asked].device);
    const char *at = m->at + (size_t)(l->run[loop].done & 1) * m->step;
    if (!g->memory.at[o->asked].device) return memcpy(to, at, bytes) != NULL;
    tc_status s = d->own.copy_out(d->own.user, to, at, bytes);
    return !s || tc__device_failed(g->ctx, &d->own, "the number of turns of a loop", s);
}

// Turn `done` of a loop: *more = there is one. 0 = reported.
static int tc__loop_turn(tc__loops *l, const tc__graph *g, uint32_t loop, int64_t *size,
                         int *more) {
    const tc__rounds *o = &g->loop.at[loop];
    tc__looping *r = &l->run[loop];
    uint8_t go = 1;
    if (o->go && !tc__loop_ask(l, g, loop, &go, sizeof go)) return 0;
    *more = go && r->done < r->turns;
    if (*more) r->turn = o->backward ? r->turns - 1 - r->done : r->done;
    size[o->slot] = r->turn;
    tc__loop_move(l, g, loop);
    return 1;
}

static int tc__loop_begin(tc__loops *l, const tc__graph *g, uint32_t loop, int64_t *size,
                          int *more) {
    tc__looping *r = &l->run[loop];
    tc__ixenv env;
    int64_t times;
    memset(&env, 0, sizeof env);
    env.sym = size;
    r->turns = times = tc__ix_eval(g->ix, g->loop.at[loop].turns, &env);
    r->done = r->turn = 0;
    if (g->loop.at[loop].times && !tc__loop_ask(l, g, loop, &times, sizeof times)) return 0;
    if (times < r->turns) r->turns = times < 0 ? 0 : times;
    return tc__loop_turn(l, g, loop, size, more);
}

static int tc__loop_again(tc__loops *l, const tc__graph *g, uint32_t loop, int64_t *size,
                          int *more) {
    l->run[loop].done++;
    return tc__loop_turn(l, g, loop, size, more);
}
