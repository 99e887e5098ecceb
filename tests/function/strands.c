// Loops whose threads do not wait for each other: rows of a batch that never meet go through all turns by themselves, and rows
// that do meet do not. Bits are those of one thread, which goes turn by turn; values come from plain C in double precision.
// What a region's loops became is read from tc_explain.
#include "tcompile.h"

#include "harness.h"
#include "help.h"

#include <math.h>

enum { MOST = 1 << 18, RESULTS = 5, WIDE = 128, VISITS = 2 };

typedef struct given {
    tc_tensor x, h, c, w, u, bias; // x [turns, batch, WIDE], h and c [batch, WIDE]
} given;

// Some of the rows, and of what is to be derived by: out[] gets RESULTS at most. Gives how many.
typedef int (*case_of)(tc_ctx *tc, given *g, tc_tensor *out);

static tc_tensor some(tc_ctx *tc, tc_dims d, unsigned seed, double scale) {
    static float p[MOST];
    int64_t n = 1;
    for (int i = 0; i < d.rank; i++) n *= d.size[i];
    for (int64_t i = 0; i < n; i++) p[i] = (float)(scale * test_number((unsigned)i, seed));
    return tc_from_data(tc, p, d, TC_F32);
}

static given give(tc_ctx *tc, int turns, int batch, unsigned seed) {
    given g;
    g.x = some(tc, TC_DIMS(turns, batch, WIDE), seed + 1, 0.5);
    g.h = some(tc, TC_DIMS(batch, WIDE), seed + 2, 0.5);
    g.c = some(tc, TC_DIMS(batch, WIDE), seed + 3, 0.5);
    g.w = some(tc, TC_DIMS(WIDE, WIDE), seed + 4, 0.1);
    g.u = some(tc, TC_DIMS(WIDE, 4 * WIDE), seed + 5, 0.1);
    g.bias = some(tc, TC_DIMS(WIDE), seed + 6, 0.5);
    return g;
}

#define GIVEN ((given *)user)
#define BODY(name)                                                                         \
    static void name(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user)

// ---- rows that never meet ----

BODY(rnn) {
    (void)tc;
    out[0] = out[1] =
        tc_tanh(tc_add(tc_add(tc_matmul(in[0], GIVEN->w), in[1]), GIVEN->bias));
}

static int case_rnn(tc_ctx *tc, given *g, tc_tensor *out) {
    tc_scan(rnn, g, &g->h, 1, &g->x, 1, &out[0], &out[1], 1);
    tc_grad(tc_sum_all(tc_square(out[1])), &g->w, 1, &out[2]);
    (void)tc;
    return 3;
}

BODY(lstm) {
    (void)tc;
    tc_tensor gate[4], all = tc_matmul(tc_add(in[0], in[2]), GIVEN->u);
    tc_chunk(all, 4, 1, gate, 4);
    tc_tensor keep = tc_mul(tc_sigmoid(gate[1]), in[1]);
    out[1] = tc_add(keep, tc_mul(tc_sigmoid(gate[0]), tc_tanh(gate[2])));
    out[0] = out[2] = tc_mul(tc_sigmoid(gate[3]), tc_tanh(out[1]));
}

static int case_lstm(tc_ctx *tc, given *g, tc_tensor *out) {
    tc_tensor first[2], last[2];
    first[0] = g->h, first[1] = g->c;
    tc_scan(lstm, g, first, 2, &g->x, 1, last, &out[0], 1);
    out[1] = last[1];
    tc_tensor of[2] = {g->u, g->x};
    tc_grad(tc_add(tc_sum_all(tc_sin(out[0])), tc_sum_all(last[1])), of, 2, &out[2]);
    (void)tc;
    return 4;
}

// Sums along a row.
BODY(normed) {
    tc_tensor n = tc_layer_norm(tc_add(in[0], in[1]), GIVEN->bias, tc_null(), 1e-5);
    out[0] = out[1] = tc_add(tc_mul_s(in[0], 0.5), tc_mul_s(tc_softmax(n, -1), 3));
    (void)tc;
}

static int case_normed(tc_ctx *tc, given *g, tc_tensor *out) {
    (void)tc;
    tc_scan(normed, g, &g->h, 1, &g->x, 1, &out[0], &out[1], 1);
    tc_grad(tc_sum_all(tc_square(out[1])), &g->x, 1, &out[2]);
    return 3;
}

// ---- rows that meet, each in one turn ----

BODY(rolled) {
    (void)tc, (void)user;
    out[0] = out[1] = tc_add(tc_mul_s(tc_roll(in[0], 1, 0), 0.75), in[1]);
}

BODY(averaged) {
    (void)tc, (void)user;
    out[0] = out[1] =
        tc_sin(tc_add(tc_sub(in[0], tc_mean_dims(in[0], TC_DIMS(0), 1)), in[1]));
}

BODY(turned) {
    (void)tc;
    tc_tensor among = tc_softmax(tc_matmul(in[0], tc_t(in[0])), 1);
    out[0] = out[1] = tc_tanh(tc_add(tc_matmul(tc_matmul(among, in[0]), GIVEN->w), in[1]));
}

BODY(flipped) {
    (void)tc, (void)user;
    out[0] = tc_sin(tc_add(in[0], in[1]));
    out[1] = tc_mul(tc_flip(out[0], TC_DIMS(0)), in[1]);
}

BODY(first_of_all) {
    (void)tc, (void)user;
    out[0] = out[1] = tc_cos(tc_add(tc_add(tc_narrow(in[0], 0, 0, 1), in[0]), in[1]));
}

static int meeting(tc_body body, given *g, tc_tensor *out) {
    tc_scan(body, g, &g->h, 1, &g->x, 1, &out[0], &out[1], 1);
    return 2;
}

static int case_rolled(tc_ctx *tc, given *g, tc_tensor *out) {
    return (void)tc, meeting(rolled, g, out);
}
static int case_averaged(tc_ctx *tc, given *g, tc_tensor *out) {
    return (void)tc, meeting(averaged, g, out);
}
static int case_turned(tc_ctx *tc, given *g, tc_tensor *out) {
    return (void)tc, meeting(turned, g, out);
}
static int case_flipped(tc_ctx *tc, given *g, tc_tensor *out) {
    return (void)tc, meeting(flipped, g, out);
}
static int case_first(tc_ctx *tc, given *g, tc_tensor *out) {
    return (void)tc, meeting(first_of_all, g, out);
}

// ---- the same bits ----

typedef struct bits {
    int n;
    size_t size[RESULTS];
    float at[RESULTS][MOST];
} bits;

// Visit `visit` of the region in a context of so many threads.
static void visit_case(tc_ctx *tc, case_of f, const char *name, int turns, int batch,
                       unsigned seed, bits *b) {
    tc_tensor out[RESULTS];
    tc_scope_begin(tc);
    given g = give(tc, turns, batch, seed);
    BEGIN(name);
    b->n = f(tc, &g, out);
    for (int i = 0; i < b->n; i++) out[i] = tc_keep(out[i]);
    END();
    for (int i = 0; i < b->n; i++) {
        b->size[i] = (size_t)tc_numel(out[i]) * sizeof(float);
        CHECK_EQ(tc_read(out[i], b->at[i], b->size[i]), TC_OK);
    }
    tc_scope_end(tc);
}

static int parts_told(tc_ctx *tc) {
    return strstr(tc_explain(tc), "go through all turns by themselves") != NULL;
}

// falls: into parts where the batch is of 32 rows and there are two threads.
static void check_case(case_of f, const char *name, int falls) {
    static const int sizes[][2] = {{24, 32}, {17, 32}, {12, 7}, {9, 64},
                                   {1, 32},  {2, 32},  {9, 1}};
    static const char *const backends[] = {"aot_eager", "cpu"};
    static bits one, many;
    for (int way = 0; way < 4; way++) {
        tc_ctx *tc = open_as(backends[way % 2], NULL, 1);
        tc_ctx *more = open_as(backends[way % 2], NULL, 2 + way / 2);
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (unsigned v = 0; v < VISITS; v++) {
                int turns = sizes[s][0], batch = sizes[s][1];
                visit_case(tc, f, name, turns, batch, 10 * v, &one);
                visit_case(more, f, name, turns, batch, 10 * v, &many);
                for (int i = 0; i < one.n; i++)
                    if (one.size[i] != many.size[i] ||
                        memcmp(one.at[i], many.at[i], one.size[i]))
                        FAIL("%s, %s, %d threads, %d turns, batch %d: result %d differs",
                             name, backends[way % 2], 2 + way / 2, turns, batch, i);
                if (way < 2 && !s && v && parts_told(more) != falls)
                    FAIL("%s, %s: rows %s by themselves:\n%s", name, backends[way % 2],
                         falls ? "do not go" : "go", tc_explain(more));
            }
        if (tc_error(tc) || tc_error(more))
            FAIL("%s: %s %s", name, tc_error_text(tc), tc_error_text(more));
        tc_close(tc), tc_close(more);
    }
}

// Products that pack rows of the left operand, which are others in each turn: bits of compiled code, by one thread and two,
// are the interpreter's.
TEST(compiled_turns_are_interpreted_ones) {
    static const int batches[] = {32, 48, 64, 80, 128};
    static bits one, other;
    for (size_t s = 0; s < sizeof batches / sizeof *batches; s++)
        for (int threads = 1; threads < 3; threads++) {
            tc_ctx *tc = open_as("aot_eager", NULL, 1),
                   *more = open_as("cpu", NULL, threads);
            visit_case(tc, case_rnn, "rnn", 4, batches[s], 70, &one);
            visit_case(more, case_rnn, "rnn", 4, batches[s], 70, &other);
            for (int i = 0; i < one.n; i++)
                if (one.size[i] != other.size[i] ||
                    memcmp(one.at[i], other.at[i], one.size[i]))
                    FAIL("batch %d, %d threads: result %d differs", batches[s], threads, i);
            tc_close(tc), tc_close(more);
        }
}

TEST(rows_that_never_meet_go_by_themselves) {
    check_case(case_rnn, "rnn", 1);
    check_case(case_lstm, "lstm", 1);
    check_case(case_normed, "normed", 1);
}

TEST(rows_that_meet_do_not) {
    check_case(case_rolled, "rolled", 0);
    check_case(case_averaged, "averaged", 0);
    check_case(case_turned, "turned", 0);
    check_case(case_flipped, "flipped", 0);
    check_case(case_first, "first of all", 0);
}

// ---- values ----

// An LSTM's last h, in double precision.
static void expect_lstm(const float *x, const float *h, const float *c, const float *u,
                        int turns, int batch, double *y) {
    for (int b = 0; b < batch; b++) {
        double state[WIDE], cell[WIDE], all[4 * WIDE];
        for (int i = 0; i < WIDE; i++)
            state[i] = h[b * WIDE + i], cell[i] = c[b * WIDE + i];
        for (int t = 0; t < turns; t++) {
            for (int k = 0; k < 4 * WIDE; k++) {
                all[k] = 0;
                for (int i = 0; i < WIDE; i++)
                    all[k] +=
                        (state[i] + x[(t * batch + b) * WIDE + i]) * u[i * 4 * WIDE + k];
            }
            for (int i = 0; i < WIDE; i++) {
                double in = 1 / (1 + exp(-all[i])), keep = 1 / (1 + exp(-all[WIDE + i]));
                double give = 1 / (1 + exp(-all[3 * WIDE + i]));
                cell[i] = keep * cell[i] + in * tanh(all[2 * WIDE + i]);
                state[i] = give * tanh(cell[i]);
            }
        }
        memcpy(y + b * WIDE, state, sizeof state);
    }
}

BOTH(an_lstm_in_parts_is_that_of_plain_c) {
    enum { TURNS = 50, BATCH = 32 };
    static float x[TURNS * BATCH * WIDE], h[BATCH * WIDE], c[BATCH * WIDE],
        u[4 * WIDE * WIDE], y[BATCH * WIDE];
    static double want[BATCH * WIDE];
    given g = give(tc, TURNS, BATCH, 50);
    tc_tensor first[2], last[2], ys;
    first[0] = g.h, first[1] = g.c;
    for (int i = 0; i < 2; i++) {
        BEGIN("lstm");
        tc_scan(lstm, &g, first, 2, &g.x, 1, last, &ys, 1);
        tc_keep(last[0]);
        END();
    }
    CHECK_EQ(tc_read(g.x, x, sizeof x), TC_OK);
    CHECK_EQ(tc_read(g.h, h, sizeof h), TC_OK);
    CHECK_EQ(tc_read(g.c, c, sizeof c), TC_OK);
    CHECK_EQ(tc_read(g.u, u, sizeof u), TC_OK);
    CHECK_EQ(tc_read(last[0], y, sizeof y), TC_OK);
    expect_lstm(x, h, c, u, TURNS, BATCH, want);
    for (int i = 0; i < BATCH * WIDE; i++)
        if (!(fabs(y[i] - want[i]) < 2e-6)) {
            FAIL("element %d is %.9g, not %.9g", i, y[i], want[i]);
            break;
        }
}
