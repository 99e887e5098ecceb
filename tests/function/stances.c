// Stances, each at a first call, a hit and a miss; and tc_reset.
#include "tcompile.h"

#include "harness.h"
#include "help.h"

enum { N = 40 };

static int runs;

static void affine(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    runs++;
    out[0] = tc_add_s(tc_mul_s(in[0], 2), 1);
}

// A visit of one region, a call of one function; their results.
typedef struct both {
    tc_status region, call;
    double r, c;
} both;

static both go(tc_ctx *tc, tc_fn *f, int n, double v) {
    both b;
    tc_tensor x = line(tc, n, v, 0), y, z;
    tc_trace_begin_at(tc, "stance", NULL, "stances.c", 1);
    y = tc_add_s(tc_mul_s(x, 2), 1);
    b.region = tc_trace_end(tc);
    b.call = tc_call(f, &x, 1, &z, 1);
    b.r = b.region ? 0 : AT(y, 0), b.c = b.call ? 0 : AT(z, 0);
    return b;
}

#define GOOD(n, v)                                                                         \
    do {                                                                                   \
        both b_ = go(tc, f, n, v);                                                         \
        CHECK_EQ(b_.region, TC_OK);                                                        \
        CHECK_EQ(b_.call, TC_OK);                                                          \
        CHECK_EQ(b_.r, 2 * (v) + 1);                                                       \
        CHECK_EQ(b_.c, 2 * (v) + 1);                                                       \
    } while (0)

#define REFUSED(n, v)                                                                      \
    do {                                                                                   \
        both b_ = go(tc, f, n, v);                                                         \
        CHECK_EQ(b_.region, TC_E_RECOMPILE);                                               \
        CHECK_EQ(b_.call, TC_E_RECOMPILE);                                                 \
        CHECK(strstr(tc_error_text(tc), "fail_on_recompile"));                             \
        tc_error_clear(tc);                                                                \
    } while (0)

TEST(force_eager) {
    tc_ctx *tc = open_backend("cpu");
    tc_fn *f = tc_compile(tc, affine, NULL, 0, NULL);
    CHECK_EQ(tc_set_stance(tc, TC_STANCE_FORCE_EAGER), TC_STANCE_DEFAULT);
    for (int k = 0; k < 4; k++) GOOD(N, k);
    CHECK_EQ(tc_stats_get(tc).programs, 0);
    CHECK_EQ(tc_stats_get(tc).compiles, 0);
    CHECK_EQ(tc_set_stance(tc, TC_STANCE_DEFAULT), TC_STANCE_FORCE_EAGER);
    for (int k = 0; k < 4; k++) GOOD(N, k);
    tc_stats s = tc_stats_get(tc);
    CHECK_EQ(s.programs, 2);
    tc_set_stance(tc, TC_STANCE_FORCE_EAGER); // even where there is a program
    GOOD(N, 9);
    CHECK_EQ(tc_stats_get(tc).visits, s.visits);
    CHECK_EQ(tc_stats_get(tc).skips, s.skips);
    tc_close(tc);
}

TEST(eager_on_recompile) {
    tc_ctx *tc = open_backend("cpu");
    tc_fn *f = tc_compile(tc, affine, NULL, 0, NULL);
    tc_set_stance(tc, TC_STANCE_EAGER_ON_RECOMPILE);
    for (int k = 0; k < 3; k++) GOOD(N, k); // the first call and hits of it
    CHECK_EQ(tc_stats_get(tc).compiles, 0);
    CHECK_EQ(tc_stats_get(tc).programs, 2);
    tc_set_stance(tc, TC_STANCE_DEFAULT);
    GOOD(N, 4); // compiled now
    CHECK(tc_stats_get(tc).compiles > 0);
    uint64_t compiles = tc_stats_get(tc).compiles;
    tc_set_stance(tc, TC_STANCE_EAGER_ON_RECOMPILE);
    GOOD(N, 5);     // a hit
    GOOD(N + 7, 6); // a miss
    CHECK_EQ(tc_stats_get(tc).compiles, compiles);
    tc_close(tc);
}

TEST(fail_on_recompile) {
    tc_ctx *tc = open_backend("cpu");
    tc_fn *f = tc_compile(tc, affine, NULL, 0, NULL);
    tc_set_stance(tc, TC_STANCE_FAIL_ON_RECOMPILE);
    REFUSED(N, 1); // a first call
    tc_set_stance(tc, TC_STANCE_DEFAULT);
    GOOD(N, 2);
    tc_set_stance(tc, TC_STANCE_FAIL_ON_RECOMPILE);
    for (int k = 0; k < 4; k++) GOOD(N, k); // hits
    REFUSED(N + 7, 3);                      // a miss
    GOOD(N, 4);
    tc_set_stance(tc, TC_STANCE_DEFAULT);
    GOOD(N + 7, 5);
    tc_set_stance(tc, TC_STANCE_FAIL_ON_RECOMPILE);
    GOOD(N + 9, 6); // run-time sizes need no other program
    tc_close(tc);
}

// What is refused leaves its inputs as they were.
TEST(refused_regions_write_nothing) {
    tc_ctx *tc = open_backend("cpu");
    tc_tensor x = line(tc, N, 3, 0);
    tc_set_stance(tc, TC_STANCE_FAIL_ON_RECOMPILE);
    tc_trace_begin(tc, "writes");
    tc_add_s_(x, 1);
    CHECK_EQ(tc_trace_end(tc), TC_E_RECOMPILE);
    tc_error_clear(tc);
    CHECK_EQ(AT(x, 0), 3);
    tc_close(tc);
}

TEST(bad_stances) {
    tc_ctx *tc = open_backend("cpu");
    CHECK_EQ(tc_set_stance(NULL, TC_STANCE_DEFAULT), TC_STANCE_DEFAULT);
    tc_set_stance(tc, (tc_stance)17);
    CHECK_EQ(tc_error(tc), TC_E_ARG);
    tc_error_clear(tc);
    tc_trace_begin(tc, "open");
    tc_set_stance(tc, TC_STANCE_FORCE_EAGER);
    CHECK_EQ(tc_error(tc), TC_E_STATE);
    tc_error_clear(tc);
    CHECK_EQ(tc_reset(tc), TC_E_STATE);
    tc_error_clear(tc);
    tc_trace_end(tc);
    CHECK_EQ(tc_set_stance(tc, TC_STANCE_DEFAULT), TC_STANCE_DEFAULT);
    CHECK_EQ(tc_reset(NULL), TC_E_NULL);
    tc_close(tc);
}

// Everything is recorded and made again; tensors of the caller's live on.
TEST(reset) {
    tc_ctx *tc = open_backend("cpu");
    tc_fn *f = tc_compile(tc, affine, NULL, 0, NULL);
    tc_tensor x = line(tc, N, 3, 0), y, kept;
    for (int k = 0; k < 3; k++) GOOD(N, k);
    tc_call(f, &x, 1, &y, 1);
    tc_trace_begin(tc, "keeps");
    kept = tc_keep(tc_neg(x));
    tc_trace_end(tc);
    uint64_t programs = tc_stats_get(tc).programs, compiles = tc_stats_get(tc).compiles;
    runs = 0;
    CHECK_EQ(tc_reset(tc), TC_OK);
    CHECK_EQ(AT(y, 0), 7);
    CHECK_EQ(AT(kept, 0), -3);
    for (int k = 0; k < 4; k++) GOOD(N, k);
    CHECK_EQ(runs, 2);
    CHECK_EQ(tc_stats_get(tc).programs, programs + 2);
    CHECK_EQ(tc_stats_get(tc).compiles, compiles); // the kernels were there
    CHECK_EQ(tc_last_miss(f).kind, TC_MISS_CHECK);
    tc_close(tc);
}
