// The guards of functions, one by one: a call that they hold for skips the body and is right; one
// that they do not hold for runs it, is right, and tc_last_miss says why; the first is known still.
// Then what functions write, and what the second call finds out.
#include "tcompile.h"

#include "harness.h"
#include "help.h"
#include "function/tuned.h"

enum { MOST_IN = 3, MOST_OUT = 2 };

static int results; // that the test asks for

// out[0] = in[0] * 3 + in[1]; out[1] = -out[0]
static void work(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    runs++;
    out[0] = tc_add(tc_mul_s(in[0], 3), in[1]);
    if (results > 1) out[1] = tc_neg(out[0]);
}

// Element i, row-major, of a tensor of any dtype.
static double element(tc_tensor t, int i) {
    double x[2 * N];
    tc_tensor d = tc_cast(t, TC_F64);
    int64_t n = tc_numel(d);
    tc_status s = n <= 2 * N ? tc_read(d, x, (size_t)n * sizeof *x) : TC_E_ARG;
    tc_free(d);
    return s || i >= n ? NAN : x[i];
}

// ---- a trial: one function, called in two ways that a guard tells apart ----

typedef struct trial {
    tc_ctx *tc;
    tc_fn *f;
    tc_tensor in[2][MOST_IN]; // by side
    int n_in[2], n_out[2];
    void (*turn)(struct trial *t, int side); // makes the world the side's; may be NULL
    double (*want)(const struct trial *t, int side, int i);
    stand *stand;                 // NULL where the inputs are all there is
    const struct layout_row *row; // of the table that it is made from, or NULL
    const char *name;
} trial;

enum { SKIPPED, RUN };

// One call of a side; its results are right, and the body ran or not.
static void call_side(trial *t, int side, int ran, int line_number) {
    tc_tensor out[MOST_OUT];
    int before = runs;
    results = t->n_out[side];
    if (t->turn) t->turn(t, side);
    tc_status s =
        tc_call_at(t->f, t->in[side], t->n_in[side], out, results, "guards.c", 1234);
    if (s) {
        test_fail(__FILE__, line_number, "%s, side %d: %s", t->name, side,
                  tc_error_text(t->tc));
        tc_error_clear(t->tc);
        return;
    }
    if (runs - before != ran)
        test_fail(__FILE__, line_number, "%s, side %d: the body ran %d times, not %d: %s",
                  t->name, side, runs - before, ran, tc_miss_text(t->f));
    for (int i = 0; i < N; i += 7) {
        double got = element(out[0], i), want = t->want(t, side, i);
        if (got == want && (results == 1 || element(out[1], i) == -want)) continue;
        test_fail(__FILE__, line_number, "%s, side %d [%d]: %g, not %g", t->name, side, i,
                  got, want);
        break;
    }
    for (int i = 0; i < results; i++) tc_free(out[i]);
}
#define SIDE(side, ran) call_side(t, side, ran, __LINE__)

// What tc_last_miss has to say when side 1 first comes.
static void check_miss(const trial *t, const tc_miss *want, const char *text) {
    char line[200];
    tc_miss m = tc_last_miss(t->f);
    if (m.kind != want->kind || m.arg != want->arg || m.dim != want->dim ||
        m.was != want->was || m.now != want->now || m.compiled != want->compiled)
        FAIL("%s: kind %d arg %d dim %d was %lld now %lld compiled %d", t->name, m.kind,
             m.arg, m.dim, (long long)m.was, (long long)m.now, m.compiled);
    CHECK_STR(m.file, "guards.c");
    CHECK_EQ(m.line, 1234);
    snprintf(line, sizeof line, "%s; called at guards.c:1234", text);
    CHECK_STR(tc_miss_text(t->f), line);
}

// The whole course: side 0 settles, side 1 misses and settles, both are known from then on.
static void drive(trial *t, const tc_miss *want, const char *text) {
    MISS(t->f, TC_MISS_NONE);
    SIDE(0, RUN), MISS(t->f, TC_MISS_FIRST);
    SIDE(0, RUN), MISS(t->f, TC_MISS_CHECK);
    SIDE(0, SKIPPED), SIDE(0, SKIPPED);
    SIDE(1, RUN), check_miss(t, want, text);
    SIDE(1, RUN), MISS(t->f, TC_MISS_CHECK);
    SIDE(1, SKIPPED);
    for (int k = 0; k < 30; k++) SIDE(k * 7 / 4 % 2, SKIPPED);
    MISS(t->f, TC_MISS_CHECK);
    CHECK(!tc_fn_demoted(t->f));
}

// ---- guards of the inputs ----

// Where an operand's elements lie in its block.
typedef enum view {
    PLAIN,      // the block is [rows, cols]
    WHOLE,      // a view of all of it
    TRANSPOSED, // the block is [cols, rows]
    STEPPED,    // every other column of [rows, 2 cols]
    SPREAD,     // the block is one row, expanded
    UPPER,      // half of [2 rows, cols]
    LOWER
} view;

typedef struct operand {
    int block; // operands of one number and view share memory; so do UPPER and LOWER, PLAIN and WHOLE
    tc_dtype dtype;
    view view;
    int rank, rows, cols; // rank 1: flattened, 3: [1, rows, cols]
} operand;

static int place(const operand *o, int i, int j) {
    if (o->view == TRANSPOSED) return j * o->rows + i;
    if (o->view == STEPPED) return i * 2 * o->cols + 2 * j;
    if (o->view == SPREAD) return j;
    if (o->view == LOWER) return (o->rows + i) * o->cols + j;
    return i * o->cols + j;
}

static double value(int block, int k) { return (k * 7 + block * 5) % 19 - 9; }

// Element i, row-major, as it broadcasts over COLS columns.
static double operand_value(const operand *o, int i) {
    return value(o->block, place(o, o->rows == 1 ? 0 : i / COLS, i % COLS));
}

static tc_tensor block_tensor(tc_ctx *tc, const operand *o, int rows, int cols) {
    double x[2 * N * 2];
    for (int k = 0; k < rows * cols; k++) x[k] = value(o->block, k);
    return tc_cast(tc_from_data(tc, x, TC_DIMS(rows, cols), TC_F64), o->dtype);
}

static tc_tensor viewed(tc_tensor b, const operand *o) {
    switch (o->view) {
    case PLAIN: return b;
    case WHOLE: return tc_slice(b, 0, 0, o->rows, 1);
    case TRANSPOSED: return tc_t(b);
    case STEPPED: return tc_slice(b, 1, 0, TC_END, 2);
    case SPREAD: return tc_expand(b, TC_DIMS(o->rows, o->cols));
    case UPPER: return tc_slice(b, 0, 0, o->rows, 1);
    case LOWER: return tc_slice(b, 0, o->rows, TC_END, 1);
    }
    return tc_null();
}

// Operand n of a list; earlier ones of its block lend it theirs.
static tc_tensor operand_tensor(tc_ctx *tc, const operand *list, int n, tc_tensor *block) {
    const operand *o = &list[n];
    int rows = o->rows, cols = o->cols, earlier = 0;
    if (o->view == TRANSPOSED) rows = o->cols, cols = o->rows;
    if (o->view == STEPPED) cols *= 2;
    if (o->view == SPREAD) rows = 1;
    if (o->view == UPPER || o->view == LOWER) rows *= 2;
    while (list[earlier].block != o->block) earlier++;
    block[n] = earlier < n ? block[earlier] : block_tensor(tc, o, rows, cols);
    tc_tensor t = viewed(block[n], o);
    if (o->rank == 1) return tc_reshape(t, TC_DIMS(-1));
    return o->rank == 3 ? tc_unsqueeze(t, 0) : t;
}

typedef struct layout_row {
    const char *name;
    operand side[2][2]; // in[0] and in[1] of both sides; a third one is in[1] again
    int n_in[2], n_out[2];
    tc_miss miss;
    const char *text;
} layout_row;

#define OF(block, dtype, view, rank, rows)                                                 \
    { block, TC_##dtype, view, rank, rows, COLS }
#define A OF(0, F32, PLAIN, 2, ROWS)
#define B OF(1, F32, PLAIN, 2, ROWS)
#define TWO                                                                                \
    {2, 2}, { 1, 1 }

// In `miss`: kind, arg, dim, was, now, compiled. Where strides are named, COLS is the one of A.
static const layout_row layouts[] = {
    {"inputs",
     {{A, B}, {A, B}},
     {2, 3},
     {1, 1},
     {TC_MISS_COUNT, -1, -1, 2, 3, 0, NULL, 0},
     "the number of inputs or results was 2, now 3"},
    {"results",
     {{A, B}, {A, B}},
     {2, 2},
     {1, 2},
     {TC_MISS_COUNT, -1, -1, 1, 2, 1, NULL, 0},
     "the number of inputs or results was 1, now 2"},
    {"dtype 0",
     {{A, B}, {OF(0, F64, PLAIN, 2, ROWS), B}},
     TWO,
     {TC_MISS_DTYPE, 0, -1, TC_F32, TC_F64, 1, NULL, 0},
     "arg 0 dtype was f32, now f64"},
    {"dtype 1",
     {{A, B}, {A, OF(1, I32, PLAIN, 2, ROWS)}},
     TWO,
     {TC_MISS_DTYPE, 1, -1, TC_F32, TC_I32, 1, NULL, 0},
     "arg 1 dtype was f32, now i32"},
    {"fewer dimensions",
     {{A, B}, {OF(0, F32, PLAIN, 1, ROWS), OF(1, F32, PLAIN, 1, ROWS)}},
     TWO,
     {TC_MISS_RANK, 0, -1, 2, 1, 1, NULL, 0},
     "arg 0 rank was 2, now 1"},
    {"more dimensions",
     {{A, B}, {A, OF(1, F32, PLAIN, 3, ROWS)}},
     TWO,
     {TC_MISS_RANK, 1, -1, 2, 3, 1, NULL, 0},
     "arg 1 rank was 2, now 3"},
    {"rows",
     {{A, B}, {OF(0, F32, PLAIN, 2, 9), OF(1, F32, PLAIN, 2, 9)}},
     TWO,
     {TC_MISS_DIM, 0, 0, ROWS, 9, 1, NULL, 0},
     "arg 0 dim 0 was 6, now 9"},
    {"one row",
     {{A, B}, {A, OF(1, F32, PLAIN, 2, 1)}},
     TWO,
     {TC_MISS_DIM, 1, 0, ROWS, 1, 1, NULL, 0},
     "arg 1 dim 0 was 6, now 1"},
    {"transposed",
     {{A, B}, {A, OF(1, F32, TRANSPOSED, 2, ROWS)}},
     TWO,
     {TC_MISS_STRIDE, 1, 0, COLS, 1, 1, NULL, 0},
     "arg 1 dim 0 stride was 10, now 1"},
    {"stepped",
     {{A, B}, {OF(0, F32, STEPPED, 2, ROWS), B}},
     TWO,
     {TC_MISS_STRIDE, 0, 0, COLS, 2 * COLS, 1, NULL, 0},
     "arg 0 dim 0 stride was 10, now 20"},
    {"expanded",
     {{A, B}, {A, OF(1, F32, SPREAD, 2, ROWS)}},
     TWO,
     {TC_MISS_STRIDE, 1, 0, COLS, 0, 1, NULL, 0},
     "arg 1 dim 0 stride was 10, now 0"},
    {"one tensor twice",
     {{A, B}, {A, A}},
     TWO,
     {TC_MISS_ALIAS, 1, -1, 1, 0, 1, NULL, 0},
     "arg 1 memory shared with arg was 1, now 0"},
    {"two tensors again",
     {{A, A}, {A, B}},
     TWO,
     {TC_MISS_ALIAS, 1, -1, 0, 1, 1, NULL, 0},
     "arg 1 memory shared with arg was 0, now 1"},
    {"halves of one",
     {{A, B}, {OF(0, F32, UPPER, 2, ROWS), OF(0, F32, LOWER, 2, ROWS)}},
     TWO,
     {TC_MISS_ALIAS, 1, -1, 1, 0, 1, NULL, 0},
     "arg 1 memory shared with arg was 1, now 0"},
};

static double want_layout(const trial *t, int side, int i) {
    const operand *o = t->row->side[side];
    return 3 * operand_value(&o[0], i) + operand_value(&o[1], i);
}

BOTH(layouts_counts_and_shared_memory) {
    for (size_t k = 0; k < sizeof layouts / sizeof *layouts; k++) {
        const layout_row *r = &layouts[k];
        trial t;
        memset(&t, 0, sizeof t);
        t.tc = tc, t.name = r->name, t.row = r, t.want = want_layout;
        t.f = tc_compile(tc, work, NULL, 0, NULL);
        for (int side = 0; side < 2; side++) {
            tc_tensor block[2], *in = t.in[side];
            for (int i = 0; i < 2; i++) in[i] = operand_tensor(tc, r->side[side], i, block);
            in[2] = in[1], t.n_in[side] = r->n_in[side], t.n_out[side] = r->n_out[side];
        }
        drive(&t, &r->miss, r->text);
    }
}

// ---- guards of everything else ----

// A trial of the stand's function, with the same input on both sides.
static trial trial_of(stand *s, tc_ctx *tc, const char *name) {
    trial t;
    memset(&t, 0, sizeof t);
    open_stand(s, tc);
    t.tc = tc, t.name = name, t.f = s->f, t.stand = s;
    for (int side = 0; side < 2; side++)
        t.in[side][0] = s->x, t.n_in[side] = t.n_out[side] = 1;
    return t;
}

// The first byte that differs between two images of the knobs.
static tc_miss user_miss(const knobs *a, const knobs *b, int compiled) {
    const unsigned char *p = (const unsigned char *)a, *q = (const unsigned char *)b;
    tc_miss m = {TC_MISS_USER, -1, 0, 0, 0, compiled, NULL, 0};
    while (p[m.dim] == q[m.dim]) m.dim++;
    m.was = p[m.dim], m.now = q[m.dim];
    return m;
}

static const char *byte_text(const tc_miss *m, const char *what) {
    static char text[100];
    snprintf(text, sizeof text, "%sbyte %d of %s was %d, now %d",
             m->kind == TC_MISS_BYTES ? "range 0 " : "", m->dim, what, (int)m->was,
             (int)m->now);
    return text;
}

static void turn_rate(trial *t, int side) { t->stand->u.rate = side ? 3.5 : 2; }
static double want_rate(const trial *t, int side, int i) {
    (void)t;
    return i * (side ? 3.5 : 2);
}

BOTH(a_number_in_user) {
    stand s;
    trial t = trial_of(&s, tc, "rate");
    knobs other = s.u;
    other.rate = 3.5;
    tc_miss m = user_miss(&s.u, &other, 1);
    t.turn = turn_rate, t.want = want_rate;
    drive(&t, &m, byte_text(&m, "*user"));
}

static void turn_weight(trial *t, int side) { t->stand->u.weight = t->stand->weight[side]; }
static double want_weight(const trial *t, int side, int i) {
    (void)t;
    return 2 * i + 10 + i * (side + 1);
}

// Another weight of the same layout: the body runs, and its program serves both.
BOTH(a_handle_in_user) {
    stand s;
    trial t = trial_of(&s, tc, "weight");
    s.u.weight = s.weight[0];
    knobs other = s.u;
    other.weight = s.weight[1];
    tc_miss m = user_miss(&s.u, &other, 0);
    t.turn = turn_weight, t.want = want_weight;
    drive(&t, &m, byte_text(&m, "*user"));
}

static void turn_mode(trial *t, int side) { t->stand->mode[1] = side; }
static double want_mode(const trial *t, int side, int i) {
    (void)t;
    return side ? -2 * i : 2 * i;
}

BOTH(guarded_bytes) {
    stand s;
    trial t = trial_of(&s, tc, "mode");
    s.u.mode = s.mode;
    const int one = 1;
    const char *bytes = (const char *)&one;
    tc_miss m = {TC_MISS_BYTES, 0, sizeof one, 0, 1, 1, NULL, 0};
    while (!bytes[m.dim - (int)sizeof one]) m.dim++;
    t.turn = turn_mode, t.want = want_mode;
    drive(&t, &m, byte_text(&m, "tc_guard_bytes"));
}

static double want_constant(const trial *t, int side, int i) {
    (void)t;
    return 2.0 * (side ? 5 - i : i);
}

// The contents of a tc_const may be in the code.
BOTH(another_constant) {
    float x[2][N];
    stand s;
    trial t = trial_of(&s, tc, "constant");
    for (int i = 0; i < N; i++) x[0][i] = (float)i, x[1][i] = (float)(5 - i);
    for (int side = 0; side < 2; side++)
        t.in[side][0] = tc_const(tc, x[side], TC_DIMS(N), TC_F32);
    tc_miss m = {TC_MISS_CONST, 0, -1, 0, 0, 0, NULL, 0};
    t.want = want_constant;
    drive(&t, &m, "arg 0 another tc_const");
}

static const char captured_text[] =
    "a tensor used beside the inputs is dead, or of other layout or memory";

// A tensor beside the inputs dies; the body finds another one where it was.
BOTH(a_captured_tensor_dies) {
    stand s;
    tc_tensor z;
    open_stand(&s, tc);
    s.u.beside = &s.beside;
    for (int round = 0; round < 4; round++) {
        runs = 0;
        for (int k = 0; k < 5; k++) {
            CALL(s.f, &s.x, 1, &z, 1);
            CHECK_EQ(AT(z, 9), 18 + 1000 + round);
            if (k == 0) MISS(s.f, round ? TC_MISS_CAPTURED : TC_MISS_FIRST);
            if (k == 1) MISS(s.f, TC_MISS_CHECK);
        }
        CHECK_EQ(runs, 2);
        tc_free(s.beside);
        CHECK_EQ(tc_call(s.f, &s.x, 1, &z, 1), TC_E_DEAD);
        ERROR(TC_E_DEAD, "freed by tc_free");
        CHECK(!z.id);
        MISS(s.f, TC_MISS_CAPTURED);
        CHECK(strstr(tc_miss_text(s.f),
                     "a tensor used beside the inputs is dead, or of other "
                     "layout or memory; called at "));
        CHECK(!tc_fn_demoted(s.f));
        s.beside = line(tc, N, 1001 + round, 0);
    }
}

// It is one of the inputs: the memory they share is another.
BOTH(a_captured_tensor_is_an_input) {
    stand s;
    tc_tensor z;
    open_stand(&s, tc);
    s.u.beside = &s.beside;
    for (int k = 0; k < 4; k++) CALL(s.f, &s.x, 1, &z, 1);
    int before = runs;
    CALL(s.f, &s.beside, 1, &z, 1);
    CHECK_EQ(runs, before + 1);
    CHECK_EQ(AT(z, 9), 3000);
    MISS(s.f, TC_MISS_CAPTURED);
}

// ---- what is written ----

// in[0] -= in[1] / 2; out = 3 in[0], as it is then
static void stepped(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    runs++;
    tc_sub_(in[0], tc_mul_s(in[1], 0.5));
    out[0] = tc_mul_s(in[0], 3);
}

// Two weights in turn, a view of one, the tensor as its own gradient.
BOTH(inputs_written_in_place) {
    tc_fn *f = tc_compile(tc, stepped, NULL, 0, NULL);
    tc_tensor w[2], g = line(tc, N, 0, 2), in[2], z;
    double want[2] = {100, 200}; // element 5
    runs = 0;
    for (int i = 0; i < 2; i++) w[i] = line(tc, N, want[i], 0);
    for (int k = 0; k < 20; k++) {
        in[0] = w[k % 2], in[1] = g;
        CALL(f, in, 2, &z, 1);
        want[k % 2] -= 5;
        CHECK_EQ(AT(z, 5), 3 * want[k % 2]);
        for (int i = 0; i < 2; i++) CHECK_EQ(AT(w[i], 5), want[i]);
        tc_free(z);
    }
    CHECK_EQ(runs, 2);
    in[0] = in[1] = w[0];
    for (int k = 0; k < 4; k++) {
        CALL(f, in, 2, &z, 1);
        want[0] /= 2;
        if (k == 0) CHECK_EQ(tc_last_miss(f).kind, TC_MISS_ALIAS);
        CHECK_EQ(AT(z, 5), 3 * want[0]);
        CHECK_EQ(AT(w[0], 5), want[0]);
    }
    CHECK_EQ(runs, 4);
    in[0] = w[1], in[1] = g;
    CALL(f, in, 2, &z, 1);
    CHECK_EQ(AT(w[1], 5), want[1] - 5);
    CHECK_EQ(runs, 4);
}

// Memory wrapped twice: signatures do not tell, so each call looks.
BOTH(written_memory_that_is_wrapped_twice) {
    float a[N], b[N];
    for (int i = 0; i < N; i++) a[i] = 50, b[i] = (float)(2 * i);
    tc_fn *f = tc_compile(tc, stepped, NULL, 0, NULL);
    tc_tensor in[2], z, once = tc_wrap(tc, a, TC_DIMS(N), TC_F32),
                        again = tc_wrap(tc, a, TC_DIMS(N), TC_F32);
    double want = 50;
    in[0] = once;
    for (int k = 0; k < 24; k++) {
        int apart = k % 4 != 3;
        in[1] = apart ? tc_wrap(tc, b, TC_DIMS(N), TC_F32) : again;
        CHECK_EQ(tc_call(f, in, 2, &z, 1), apart ? TC_OK : TC_E_ALIAS);
        if (apart) {
            want -= 5;
            CHECK_EQ(AT(z, 5), 3 * want);
            tc_free(in[1]), tc_free(z);
        } else {
            ERROR(TC_E_ALIAS, "wraps some of the same memory");
        }
        CHECK_EQ(a[5], want);
    }
}

// out[0] = 2 in[0] + *beside
static void beside_twice(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc;
    runs++;
    out[0] = tc_add(tc_mul_s(in[0], 2), *(const tc_tensor *)user);
}

// Destinations are a part of the signature: apart, the input itself, shifted against it.
BOTH(destinations_and_inputs_share_memory) {
    enum { APART, SAME, SHIFTED, PLACES };
    static const tc_miss_kind kinds[PLACES] = {TC_MISS_FIRST, TC_MISS_ALIAS, TC_MISS_ALIAS};
    tc_tensor whole = line(tc, 2 * N, 0, 0), ten = line(tc, N, 10, 0), to[PLACES],
              x = tc_slice(whole, 0, 0, N, 1);
    tc_fn *f = tc_compile(tc, beside_twice, &ten, 0, NULL);
    to[APART] = line(tc, N, 0, 0), to[SAME] = x;
    to[SHIFTED] = tc_slice(whole, 0, 3, N + 3, 1);
    for (int k = 0; k < 5 * PLACES + 40; k++) {
        double model[2 * N], result[N];
        int p = k < 5 * PLACES ? k / 5 : k * 5 / 3 % PLACES, before = runs;
        for (int i = 0; i < 2 * N; i++) model[i] = i * (k % 3) - k;
        for (int i = 0; i < N; i++) result[i] = 2 * model[i] + 10;
        for (int i = 0; i < N && p != APART; i++) model[p == SAME ? i : i + 3] = result[i];
        tc_scope_begin(tc);
        tc_copy_(whole, line(tc, 2 * N, -k, k % 3));
        tc_scope_end(tc);
        CHECK_EQ(tc_call_into(f, &x, 1, &to[p], 1), TC_OK);
        for (int i = 0; i < 2 * N; i += 3) CHECK_EQ(AT(whole, i), model[i]);
        for (int i = 0; i < N; i += 7) CHECK_EQ(AT(to[p], i), result[i]);
        CHECK_EQ(runs - before, k < 5 * PLACES && k % 5 < 2);
        if (k < 5 * PLACES && k % 5 == 0) CHECK_EQ(tc_last_miss(f).kind, kinds[p]);
    }
    CHECK(!tc_fn_demoted(f));
}

BOTH(destinations_that_cannot_be_written) {
    static const int order[] = {3, 3, 2, 1, 0, 0, 0, 1, 2, 1, 2, 0};
    static const tc_status want[4] = {TC_OK, TC_E_ALIAS, TC_E_BROADCAST, TC_E_ARG};
    float x[N] = {0};
    tc_tensor ten = line(tc, N, 10, 0), in = line(tc, N, 0, 1), to[4], row;
    tc_fn *f = tc_compile(tc, beside_twice, &ten, 0, NULL);
    row = line(tc, 1, 0, 0);
    to[0] = line(tc, N, 0, 0), to[1] = tc_expand(row, TC_DIMS(N));
    to[2] = line(tc, N - 1, 0, 0), to[3] = tc_const(tc, x, TC_DIMS(N), TC_F32);
    for (size_t k = 0; k < sizeof order / sizeof *order; k++) {
        CHECK_EQ(tc_call_into(f, &in, 1, &to[order[k]], 1), want[order[k]]);
        tc_error_clear(tc);
        CHECK_EQ(AT(row, 0), 0);
        CHECK_EQ(AT(to[2], 5), 0);
        CHECK_EQ(AT(to[3], 5), 0);
    }
    CHECK_EQ(AT(to[0], 5), 20);
}

// ---- what is found out at the second call ----

static int flag; // nobody names it

static void by_flag(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    runs++;
    out[0] = flag ? tc_neg(in[0]) : tc_square(in[0]);
}

static const char *const hidden_text =
    "the same inputs gave another recording: it depends on something that is no input; "
    "name it with tc_guard_bytes, or put it in *user";

// A flag that has changed by the second call demotes the function, which is right from then on.
BOTH(a_flag_that_changes_at_once) {
    tc_fn *f = tc_compile(tc, by_flag, NULL, 0, NULL);
    tc_tensor x = line(tc, N, 0, 1), z;
    runs = 0;
    for (int k = 0; k < 60; k++) {
        flag = k == 0 ? 0 : k == 1 ? 1 : k * 5 / 3 % 2;
        CALL(f, &x, 1, &z, 1);
        CHECK_EQ(AT(z, 5), flag ? -5 : 25);
        CHECK_EQ(runs, k + 1);
        tc_free(z);
        if (!k) continue;
        CHECK_STR(tc_fn_demoted(f), hidden_text);
        CHECK_EQ(tc_last_miss(f).kind, k == 1 ? TC_MISS_CHECK : TC_MISS_DEMOTED);
    }
    tc_miss m = tc_last_miss(f);
    CHECK(m.arg == -1 && m.dim == -1 && m.was == 0 && m.now == 0 && !m.compiled);
    CHECK(!strncmp(tc_miss_text(f), "it is never skipped; called at ", 31));
}

// One that changes later is what the contract of tc_body forbids: calls go on as recorded, until
// something that is guarded runs the body again.
BOTH(a_flag_that_changes_later) {
    tc_fn *f = tc_compile(tc, by_flag, NULL, 0, NULL);
    tc_tensor x = line(tc, N, 0, 1), longer = line(tc, N + 1, 0, 1), z;
    flag = runs = 0;
    for (int k = 0; k < 3; k++) CALL(f, &x, 1, &z, 1);
    flag = 1;
    CALL(f, &x, 1, &z, 1);
    CHECK_EQ(AT(z, 5), 25);
    CHECK_EQ(runs, 2);
    for (int k = 0; k < 3; k++) {
        CALL(f, &longer, 1, &z, 1);
        CHECK_EQ(AT(z, 5), -5);
    }
    CHECK_EQ(runs, 4);
    CHECK(!tc_fn_demoted(f));
}

static void by_rand(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    int *drawn = (int *)user;
    (void)tc;
    runs++;
    *drawn = *drawn % 90 + 1 + rand() % 7; // never the same twice
    out[0] = tc_add_s(in[0], *drawn);
}

BOTH(rand_in_the_body) {
    int drawn = 0;
    tc_fn *f = tc_compile(tc, by_rand, &drawn, 0, NULL);
    tc_tensor x = line(tc, N, 0, 1), z;
    runs = 0;
    for (int k = 0; k < 40; k++) {
        CALL(f, &x, 1, &z, 1);
        CHECK_EQ(AT(z, 5), 5 + drawn);
        tc_free(z);
        if (k == 1) CHECK_STR(tc_fn_demoted(f), hidden_text);
    }
    CHECK_EQ(runs, 40);
    CHECK(tc_stats_get(tc).programs <= 2); // the number is given at run time
}

// A counter in *user that the body itself moves. A count that was seen twice is known: such a call
// gives what the body would give and does not move it.
static void counts(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    int *n = (int *)user;
    (void)tc;
    runs++;
    out[0] = tc_add_s(in[0], ++*n);
}

BOTH(a_body_that_changes_user) {
    int n = 0;
    tc_fn *f = tc_compile(tc, counts, &n, sizeof n, NULL);
    tc_tensor x = line(tc, N, 0, 1), z;
    runs = 0;
    for (int k = 0; k < 60; k++) {
        if (k % 10 == 0) n = 0;
        int before = n, ran = runs;
        CALL(f, &x, 1, &z, 1);
        CHECK_EQ(AT(z, 5), 5 + before + 1);
        CHECK_EQ(n, before + runs - ran);
        tc_free(z);
        if (k == 19) CHECK_EQ(runs, 20); // each count twice
    }
    CHECK_EQ(runs, 20);
}
