// Conjugate gradients as one writes them: x, r, p and the square of the residual go from round to
// round, and a value that is read inside the region ends the loop. The number of programs does not
// depend on the number of rounds; where all rounds are in one region it does, and a warning says why.
#include "harness.h"

#include "tcompile.h"

#include "help.h"

enum { N = 64, ROUNDS = 80 };

typedef enum reading { AT_BEGIN, IN_MIDDLE, AT_END, AS_FACTOR } reading;

typedef struct solver {
    tc_tensor a, b, x, r, p, rs;
    int stop;
} solver;

static double matrix(int i, int j) {
    return i == j ? 2.25 + i * 0.125 : i - j == 1 || j - i == 1 ? -1 : 0;
}

static double right(int i) { return i % 7 - 3; }

static tc_tensor square(tc_tensor t) { return tc_sum_all(tc_mul(t, t)); }

static void check_residual(const solver *s, double least) {
    double worst = 0;
    for (int i = 0; i < N; i++) {
        double left = 0;
        for (int j = 0; j < N; j++) left += matrix(i, j) * AT(s->x, j);
        worst = fmax(worst, fabs(left - right(i)));
    }
    CHECK(worst < least || FAIL("A x - b is %g", worst));
}

static solver solver_open(tc_ctx *tc) {
    static float a[N * N], b[N];
    for (int i = 0; i < N * N; i++) a[i] = (float)matrix(i / N, i % N);
    for (int i = 0; i < N; i++) b[i] = (float)right(i);
    solver s;
    s.a = tc_from_data(tc, a, TC_DIMS(N, N), TC_F32);
    s.b = tc_from_data(tc, b, TC_DIMS(N, 1), TC_F32);
    s.x = tc_zeros(tc, TC_DIMS(N, 1), TC_F32), s.r = tc_clone(s.b), s.p = tc_clone(s.b);
    s.rs = square(s.r), s.stop = 0;
    return s;
}

static void read_rest(solver *s, tc_tensor rs) { s->stop = tc_item(rs) < 1e-9; }

static void solver_round(solver *s, reading how) {
    tc_tensor ap = tc_matmul(s->a, s->p);
    if (how == AT_BEGIN) read_rest(s, s->rs);
    tc_tensor alpha = tc_div(s->rs, tc_sum_all(tc_mul(s->p, ap)));
    if (how == AS_FACTOR) {
        double factor = tc_item(alpha);
        s->x = tc_add(s->x, tc_mul_s(s->p, factor));
        s->r = tc_sub(s->r, tc_mul_s(ap, factor));
    } else {
        s->x = tc_add(s->x, tc_mul(alpha, s->p));
        s->r = tc_sub(s->r, tc_mul(alpha, ap));
    }
    tc_tensor rs = square(s->r);
    if (how == IN_MIDDLE) read_rest(s, rs);
    s->p = tc_add(s->r, tc_mul(tc_div(rs, s->rs), s->p));
    s->rs = rs;
    if (how >= AT_END) read_rest(s, rs);
}

static void check_solver(tc_ctx *tc, reading how) {
    solver s = solver_open(tc);
    uint64_t early = 0;
    int rounds = 0;
    char name[16];
    snprintf(name, sizeof name, "cg %d", (int)how);
    for (; rounds < ROUNDS && !s.stop; rounds++) {
        if (rounds == 6) early = tc_stats_get(tc).programs;
        BEGIN(name);
        solver_round(&s, how);
        END();
    }
    CHECK(s.stop && rounds > 20);
    CHECK_EQ(tc_stats_get(tc).programs, early);
    check_residual(&s, 1e-4);
}

BOTH(a_region_for_each_round) {
    for (int how = AT_BEGIN; how <= AS_FACTOR; how++) check_solver(tc, (reading)how);
}

typedef struct heard {
    int warnings, breaks, nothing;
} heard;

static void hear(void *user, int level, const char *channel, const char *text) {
    heard *h = (heard *)user;
    (void)channel;
    h->warnings +=
        level > 0 && strstr(text, "recompile_limit of 8 programs reached") != NULL;
    h->breaks +=
        strstr(text, "graph breaks of one visit, the last at tests/region/solver.c:") !=
        NULL;
    h->nothing += strstr(text, "nothing was recorded behind the graph break at ") != NULL;
}

TEST(all_rounds_in_one_region) {
    heard h = {0, 0, 0};
    tc_config config = tc_config_default();
    tc_options o = tc_options_default();
    config.no_disk_cache = 1, config.logs = "recompiles";
    config.logger.log = hear, config.logger.user = &h, o.recompile_limit = 8;
    tc_ctx *tc = tc_open(&config);
    REQUIRE(tc);
    solver s = solver_open(tc);
    tc_trace_begin_with(tc, "all", &o);
    for (int i = 0; i < 12; i++) solver_round(&s, AT_END);
    END();
    CHECK(AT(s.rs, 0) < 1);
    CHECK_EQ(h.warnings, 1);
    CHECK_EQ(h.breaks, 1);
    CHECK(h.nothing > 4);
    tc_close(tc);
}
