// What could go stale in functions that skip their bodies: over many calls, whatever changes between
// them, results are those of sums done by hand. Then functions in functions and regions, and random
// calls against a model of the memory they read and write.
#include "tcompile.h"

#include "harness.h"
#include "help.h"
#include "function/tuned.h"

// ---- what could go stale ----

// A stand and what its tensors hold, as the test knows it.
typedef struct known {
    stand s;
    float wrapped[N]; // memory of weight[2]
    tc_tensor weight[3];
    double x, w[3], beside; // value of each element
    int which;              // weight in use
} known;

// One thing changes, most often something that a call looks at.
static void change(known *k, tc_ctx *tc) {
    stand *s = &k->s;
    int v = 1 + below(5), i = below(3);
    switch (below(9)) {
    case 0: s->u.rate = v; return;
    case 1: s->mode[below(2)] = below(2); return;
    case 2: s->u.weight = k->weight[k->which = i]; return;
    case 3: tc_fill_(k->weight[i], k->w[i] = 10 * v); return;
    case 4: tc_add_s_(k->weight[i], 1), k->w[i]++; return;
    case 5: // through the memory that the tensor borrows
        for (int j = 0; j < N; j++) k->wrapped[j] = (float)(100 * v);
        k->w[2] = 100 * v;
        return;
    case 6: // most likely in the place of the one before
        tc_free(s->x), s->x = tc_full(tc, TC_DIMS(N), k->x = v, TC_F32);
        return;
    case 7: // found to be dead, and there anew
        tc_free(s->beside), s->beside = tc_full(tc, TC_DIMS(N), k->beside = -v, TC_F32);
        return;
    case 8: // a weight that dies takes its handle with it
        if (i == 2) return;
        tc_free(k->weight[i]);
        k->weight[i] = tc_full(tc, TC_DIMS(N), k->w[i] = 7 * v, TC_F32);
        if (k->which == i) s->u.weight = k->weight[i];
        return;
    }
}

BOTH(nothing_goes_stale) {
    enum { CALLS = 3000 };
    known k;
    memset(&k, 0, sizeof k);
    open_stand(&k.s, tc);
    tc_free(k.s.x), tc_free(k.s.beside);
    k.s.x = tc_full(tc, TC_DIMS(N), k.x = 3, TC_F32);
    k.s.beside = tc_full(tc, TC_DIMS(N), k.beside = -2, TC_F32);
    for (int i = 0; i < 2; i++) k.weight[i] = tc_full(tc, TC_DIMS(N), 0, TC_F32);
    k.weight[2] = tc_wrap(tc, k.wrapped, TC_DIMS(N), TC_F32);
    k.s.u.weight = k.weight[0], k.s.u.mode = k.s.mode, k.s.u.beside = &k.s.beside;
    seed = 5;
    for (int i = 0; i < CALLS; i++) {
        tc_tensor z;
        if (below(3)) change(&k, tc);
        if (tc_call(k.s.f, &k.s.x, 1, &z, 1)) {
            FAIL("call %d: %s", i, tc_error_text(tc));
            tc_error_clear(tc);
            continue;
        }
        double want = k.x * k.s.u.rate + k.w[k.which] + k.beside;
        CHECK_EQ(AT(z, i % N), k.s.mode[1] ? -want : want);
        tc_free(z);
    }
    CHECK(!tc_fn_demoted(k.s.f));
    CHECK(tc_stats_get(tc).skips > CALLS / 4);
    CHECK(tc_stats_get(tc).programs <= 4); // rates and modes, whatever the tensors
}

// Tensors that are freed and made again, in memory of the test's that is always the same, and in the
// library's that mostly is.
BOTH(inputs_at_the_address_of_dead_ones) {
    enum { CALLS = 200 };
    static float memory[N];
    stand s;
    open_stand(&s, tc);
    for (int k = 0; k < CALLS; k++) {
        tc_tensor z, x = line(tc, N, k, k % 3);
        if (k / 10 % 2) {
            CHECK_EQ(tc_read(x, memory, sizeof memory), TC_OK);
            tc_free(x);
            x = tc_wrap(tc, memory, TC_DIMS(N), TC_F32);
        }
        CALL(s.f, &x, 1, &z, 1);
        CHECK_EQ(AT(z, 9), 2 * (k + 9 * (k % 3)));
        tc_free(x), tc_free(z);
        CHECK_EQ(k % 5 ? TC_E_DEAD : tc_call(s.f, &x, 1, &z, 1), TC_E_DEAD);
        tc_error_clear(tc);
    }
    CHECK(tc_stats_get(tc).skips >= CALLS - 2);
}

// Handles of another context, with the same slots: refused at every place, and nothing is lost.
static void doubles(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_mul_s(in[0], 2);
}

// A call remembers its tensors; those of regions are gone when they are freed, or the region has gone
// the same way again.
BOTH(results_of_regions_that_died) {
    tc_fn *f = tc_compile(tc, doubles, NULL, 0, NULL);
    tc_tensor x = line(tc, 40, 0, 1), kept, last, y;
    for (int k = 0; k < 4; k++) {
        BEGIN("made");
        tc_tensor t = tc_add_s(x, k);
        if (!k) kept = tc_keep(t);
        END();
        last = t;
    }
    for (int k = 0; k < 6; k++) {
        CALL(f, &kept, 1, &y, 1);
        CHECK_EQ(AT(y, 5), 10);
    }
    tc_free(kept);
    CHECK_EQ(tc_call(f, &kept, 1, &y, 1), TC_E_DEAD);
    tc_error_clear(tc);
    for (int k = 0; k < 6; k++) {
        CALL(f, &last, 1, &y, 1);
        CHECK_EQ(AT(y, 5), 2 * (5 + 3));
    }
    for (int k = 0; k < 2; k++) { // other ways do not end it
        BEGIN("made");
        for (int i = 0; i < 300; i++) tc_add_s(x, i);
        END();
    }
    CALL(f, &last, 1, &y, 1);
    CHECK_EQ(AT(y, 5), 2 * (5 + 3));
    BEGIN("made");
    tc_add_s(x, 7);
    END();
    CHECK_EQ(tc_call(f, &last, 1, &y, 1), TC_E_DEAD);
    tc_error_clear(tc);
}

BOTH(tensors_of_another_context) {
    tc_ctx *there = open_backend("aot_eager");
    float x[N] = {0};
    stand s;
    open_stand(&s, tc);
    s.u.beside = &s.beside;
    tc_tensor same[40], to = line(tc, N, 0, 0), z;
    for (int i = 0; i < 40; i++) same[i] = line(there, N, 77, 0);
    for (int k = 0; k < 80; k++) {
        tc_tensor other = same[k % 40], mine = s.beside;
        CALL(s.f, &s.x, 1, &z, 1);
        CHECK_EQ(AT(z, 9), 1018);
        tc_free(z);
        if (k % 4 == 0) CHECK_EQ(tc_call(s.f, &other, 1, &z, 1), TC_E_FOREIGN);
        if (k % 4 == 1) CHECK_EQ(tc_call_into(s.f, &s.x, 1, &other, 1), TC_E_FOREIGN);
        if (k % 4 == 2) CHECK_EQ(tc_call_into(s.f, &s.x, 1, &to, 1), TC_OK);
        if (k % 4 == 3) {
            tc_free(s.beside), s.beside = other;
            CHECK_EQ(tc_call(s.f, &s.x, 1, &z, 1), TC_E_FOREIGN);
            mine = s.beside = line(tc, N, 1000, 0);
        }
        if (k % 4 != 2) ERROR(TC_E_FOREIGN, "belongs to context");
        CHECK_EQ(s.beside.id, mine.id);
        CHECK_EQ(tc_error(there), TC_OK);
    }
    CHECK_EQ(tc_read(same[3], x, sizeof x), TC_OK);
    CHECK_EQ(x[9], 77);
    tc_close(there);
}

// ---- functions in functions and regions ----

static tc_fn *inner_fn, *middle_fn;

// The knobs of a function two calls further in: bytes of *user, of tc_guard_bytes, handles, tensors.
BOTH(knobs_of_a_function_inside) {
    stand s;
    tc_tensor z, outer_z;
    double w = 5, beside = 1000;
    open_stand(&s, tc);
    s.u.mode = s.mode, s.u.beside = &s.beside, s.u.weight = line(tc, N, w, 0);
    inner_fn = s.f;
    middle_fn = tc_compile(tc, around, &inner_fn, sizeof inner_fn, NULL);
    tc_fn *f = tc_compile(tc, around, &middle_fn, sizeof middle_fn, NULL);
    seed = 9;
    for (int k = 0; k < 600; k++) {
        int what = below(8), v = 1 + below(3);
        if (what == 0) s.u.rate = v;
        if (what == 1) s.mode[1] = v % 2;
        if (what == 2) s.u.weight = line(tc, N, w = v, 0);
        if (what == 3) tc_fill_(s.u.weight, w = 20 * v);
        if (what == 4) tc_free(s.beside), s.beside = line(tc, N, beside = 50 * v, 0);
        CALL(f, &s.x, 1, &outer_z, 1);
        CALL(k % 2 ? inner_fn : middle_fn, &s.x, 1, &z, 1);
        double sum = 9 * s.u.rate + w + beside, want = s.mode[1] ? -sum : sum;
        CHECK_EQ(AT(outer_z, 9), want + 2);
        CHECK_EQ(AT(z, 9), want + (k % 2 ? 0 : 1));
        tc_free(z), tc_free(outer_z);
    }
    CHECK(!tc_fn_demoted(f) && !tc_fn_demoted(middle_fn) && !tc_fn_demoted(inner_fn));
    CHECK(tc_stats_get(tc).skips > 300);
}

// A region inside a body, which a region of the same name and place goes around, or a function.
static void with_region(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    const double *rate = (const double *)user;
    runs++;
    BEGIN("within");
    tc_tensor y = tc_mul_s(in[0], *rate);
    END();
    out[0] = tc_add_s(y, 1);
}

BOTH(regions_and_functions_in_each_other) {
    double rate = 2;
    tc_fn *f = tc_compile(tc, with_region, &rate, sizeof rate, NULL);
    tc_fn *g = tc_compile(tc, around, &f, sizeof f, NULL);
    seed = 3;
    for (int k = 0; k < 300; k++) {
        tc_tensor x = line(tc, N, k, 1), z, y;
        rate = 2 + below(3);
        double want = (k + 5) * rate + 1;
        if (k % 3 == 0) {
            CALL(f, &x, 1, &z, 1);
            CHECK_EQ(AT(z, 5), want);
            tc_free(z);
        } else if (k % 3 == 1) {
            CALL(g, &x, 1, &z, 1);
            CHECK_EQ(AT(z, 5), want + 1);
            tc_free(z);
        } else {
            BEGIN("around");
            CALL(f, &x, 1, &y, 1);
            CALL(g, &y, 1, &z, 1);
            z = tc_neg(z);
            END();
            CHECK_EQ(AT(z, 5), -(want * rate + 1 + 1));
        }
        tc_free(x);
    }
    CHECK(!tc_fn_demoted(f) && !tc_fn_demoted(g));
    CHECK(tc_stats_get(tc).skips >= 200 - 2 * 3 * 2);
    CHECK(tc_stats_get(tc).programs <= 6); // two for each: a rate, any rate
}

// By how much a function calls itself; two functions that call each other.
typedef struct ladder {
    tc_fn *next;
    int *depth; // shared by all; guarded
} ladder;

static void climbs(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    const ladder *l = (const ladder *)user;
    tc_guard_bytes(tc, l->depth, sizeof *l->depth);
    runs++;
    out[0] = in[0];
    if (*l->depth <= 0) return;
    tc_tensor y = tc_add_s(in[0], *l->depth);
    --*l->depth;
    CALL(l->next, &y, 1, out, 1);
    ++*l->depth;
}

static void check_ladder(tc_ctx *tc, tc_fn *f, int *depth) {
    tc_tensor x = line(tc, N, 0, 1), z;
    seed = 21;
    for (int k = 0; k < 120; k++) {
        int d = *depth = below(6), before = runs;
        CALL(f, &x, 1, &z, 1);
        CHECK_EQ(*depth, d);
        CHECK_EQ(AT(z, 5), 5 + d * (d + 1) / 2);
        CHECK(runs == before || runs == before + d + 1);
        tc_free(z);
    }
    CHECK(!tc_fn_demoted(f));
    CHECK_EQ(tc_stats_get(tc).skips, 120 - 2 * 6);
}

BOTH(a_function_that_calls_itself) {
    int depth = 0;
    ladder one = {NULL, &depth};
    tc_fn *f = tc_compile(tc, climbs, &one, sizeof one, NULL);
    one.next = f;
    check_ladder(tc, f, &depth);
}

BOTH(two_functions_that_call_each_other) {
    int depth = 0;
    ladder one = {NULL, &depth}, two = {NULL, &depth};
    tc_fn *f = tc_compile(tc, climbs, &one, sizeof one, NULL);
    one.next = tc_compile(tc, climbs, &two, sizeof two, NULL);
    two.next = f;
    check_ladder(tc, f, &depth);
}

// Bodies that free what others hold.
static void frees(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    tc_tensor *beside = (tc_tensor *)user;
    (void)tc;
    runs++;
    out[0] = tc_add(in[0], *beside);
    tc_free(*beside);
}

BOTH(a_body_that_frees_its_tensors) {
    tc_tensor beside = line(tc, N, 10, 0), x = line(tc, N, 0, 1), z;
    tc_fn *f = tc_compile(tc, frees, &beside, 0, NULL);
    runs = 0;
    for (int k = 0; k < 10; k++) {
        CALL(f, &x, 1, &z, 1);
        CHECK_EQ(AT(z, 5), 15 + k);
        CHECK_EQ(tc_call(f, &x, 1, &z, 1), TC_E_DEAD);
        ERROR(TC_E_DEAD, "freed by tc_free");
        x = line(tc, N, k + 1, 1), beside = line(tc, N, 10, 0);
    }
    CHECK_EQ(runs, 20); // what it captures was dead
}

// ---- random calls against a model of memory ----

enum { BLOCKS = 3, SIZE = 2 * N, VIEWS = 5, PLACES = BLOCKS * VIEWS, COPIES = 2 };

// Where element i of view v lies in its block.
static int in_block(int v, int i) {
    static const int begin[VIEWS] = {0, N, N / 2, 0, 1}, step[VIEWS] = {1, 1, 1, 2, 2};
    return begin[v] + step[v] * i;
}

// Blocks of memory, seen by the library and by the model. A place is a block and a view of it.
typedef struct memory {
    tc_tensor block[BLOCKS];
    tc_tensor at[PLACES]
                [COPIES]; // two handles of each place; the second ones only beside inputs
    double model[BLOCKS][SIZE];
    float wrapped[SIZE]; // block 2
} memory;

static void refill(memory *m, tc_ctx *tc, int b) {
    float x[SIZE];
    for (int i = 0; i < SIZE; i++) m->model[b][i] = x[i] = (float)(below(9) - 4);
    if (b == 2) memcpy(m->wrapped, x, sizeof x);
    tc_scope_begin(tc);
    if (b != 2) tc_copy_(m->block[b], tc_from_data(tc, x, TC_DIMS(SIZE), TC_F32));
    tc_scope_end(tc);
}

static void open_memory(memory *m, tc_ctx *tc) {
    memset(m, 0, sizeof *m);
    m->block[0] = line(tc, SIZE, 0, 0), m->block[1] = line(tc, SIZE, 0, 0);
    m->block[2] = tc_wrap(tc, m->wrapped, TC_DIMS(SIZE), TC_F32);
    for (int b = 0; b < BLOCKS; b++) refill(m, tc, b);
    for (int p = 0; p < PLACES; p++)
        for (int k = 0; k < COPIES; k++) {
            int from = in_block(p % VIEWS, 0), by = in_block(p % VIEWS, 1) - from;
            m->at[p][k] = tc_slice(m->block[p / VIEWS], 0, from, from + by * N, by);
        }
}

// What one call does: places, -1 = none.
typedef struct deed {
    int in[2], beside, to; // to: call_into
    int write;             // 1: in[0] += 1 first; 2: and at the end in[1] = the result
    int rate;
} deed;

typedef struct orders { // the bytes of *user
    tc_tensor beside;
    int write, rate;
} orders;

static void obeys(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    const orders *u = (const orders *)user;
    (void)tc;
    runs++;
    if (u->write) tc_add_s_(in[0], 1);
    tc_tensor y = tc_add(tc_mul_s(in[0], u->rate), in[1]);
    if (u->beside.id) y = tc_add(y, u->beside);
    if (u->write > 1) tc_copy_(in[1], y);
    out[0] = y;
}

static double *cell(memory *m, int p, int i) {
    return &m->model[p / VIEWS][in_block(p % VIEWS, i)];
}

static void do_in_model(memory *m, const deed *d, double *y) {
    for (int i = 0; i < N && d->write; i++) ++*cell(m, d->in[0], i);
    for (int i = 0; i < N; i++) {
        y[i] = *cell(m, d->in[0], i) * d->rate + *cell(m, d->in[1], i);
        if (d->beside >= 0) y[i] += *cell(m, d->beside, i);
    }
    for (int i = 0; i < N && d->write > 1; i++) *cell(m, d->in[1], i) = y[i];
    for (int i = 0; i < N && d->to >= 0; i++) *cell(m, d->to, i) = y[i];
}

// Whether the tensor at p, which is written, has another at q on its memory.
static int meets(int p, int q, int other_handle) {
    return q >= 0 && p / VIEWS == q / VIEWS && (p != q || other_handle);
}

static deed random_deed(void) {
    deed d;
    for (int i = 0; i < 2; i++) d.in[i] = below(PLACES);
    d.beside = below(2) ? below(PLACES) : -1, d.to = below(2) ? below(PLACES) : -1;
    d.write = below(2) ? 0 : below(3), d.rate = 1 + below(2);
    return d;
}

static int same_memory(memory *m) {
    float x[SIZE];
    for (int b = 0; b < BLOCKS; b++) {
        CHECK_EQ(tc_read(m->block[b], x, sizeof x), TC_OK);
        for (int i = 0; i < SIZE; i++)
            if ((double)x[i] != m->model[b][i]) return 0;
    }
    return 1;
}

// One call, in the library and in the model: the same result, the same memory after it.
static int do_both(memory *m, tc_fn *f, orders *u, const deed *d, int copy) {
    static double y[N];
    tc_tensor in[2], z = tc_null();
    int ok = 1;
    do_in_model(m, d, y);
    u->beside = d->beside < 0 ? tc_null() : m->at[d->beside][copy];
    u->write = d->write, u->rate = d->rate;
    for (int i = 0; i < 2; i++) in[i] = m->at[d->in[i]][0];
    tc_status s =
        d->to < 0 ? tc_call(f, in, 2, &z, 1) : tc_call_into(f, in, 2, &m->at[d->to][0], 1);
    CHECK_EQ(s, TC_OK);
    for (int i = 0; i < N && z.id && ok; i += 11) ok = AT(z, i) == y[i];
    tc_free(z);
    return ok && same_memory(m);
}

static int is_large(const memory *m, int b) {
    for (int i = 0; i < SIZE; i++)
        if (fabs(m->model[b][i]) > 1e4) return 1;
    return 0;
}

// A few deeds in random order, so that most are known; then others.
static void random_calls(tc_ctx *tc, int beside_copy) {
    enum { SETS = 6, DEEDS = 8, CALLS_PER_SET = 90 };
    static memory m;
    orders u;
    seed = 77;
    memset(&u, 0, sizeof u);
    open_memory(&m, tc);
    tc_options o = tc_options_default();
    o.recompile_limit = 1000;
    tc_fn *f = tc_compile(tc, obeys, &u, sizeof u, &o);
    for (int set = 0; set < SETS; set++) {
        deed d[DEEDS];
        for (int i = 0; i < DEEDS; i++) d[i] = random_deed();
        for (int k = 0; k < CALLS_PER_SET; k++) {
            const deed *one = &d[below(DEEDS)];
            if (!below(3)) refill(&m, tc, below(BLOCKS));
            for (int b = 0; b < BLOCKS; b++)
                if (is_large(&m, b)) refill(&m, tc, b);
            if (!do_both(&m, f, &u, one, beside_copy))
                FAIL("set %d call %d: in %d %d beside %d to %d write %d rate %d", set, k,
                     one->in[0], one->in[1], one->beside, one->to, one->write, one->rate);
        }
    }
    CHECK(!tc_fn_demoted(f));
    CHECK(tc_stats_get(tc).skips > SETS * CALLS_PER_SET / 2);
}

BOTH(random_calls_over_shared_memory) { random_calls(tc, 1); }
