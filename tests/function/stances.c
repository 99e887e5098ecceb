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

static tc_status count_and_run(void *user, void *state, const tc_graph_run *run) {
    (void)state;
    ++*(int *)user;
    return tc_graph_forward(run);
}

// Counts its runs.
static tc_backend counting_backend(int *count) {
    tc_backend b;
    memset(&b, 0, sizeof b);
    b.name = "counts", b.run = count_and_run, b.user = count;
    return b;
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

// Recorded and run op by op: no code is made, none is used, each call runs the body. What other stances have stays.
TEST(force_eager) {
    tc_ctx *tc = open_backend("cpu");
    tc_fn *f = tc_compile(tc, affine, NULL, 0, NULL);
    runs = 0;
    CHECK_EQ(tc_set_stance(tc, TC_STANCE_FORCE_EAGER), TC_STANCE_DEFAULT);
    for (int k = 0; k < 4; k++) GOOD(N, k);
    CHECK_EQ(tc_stats_get(tc).programs, 2);
    CHECK_EQ(tc_stats_get(tc).compiles, 0);
    CHECK_EQ(tc_region_kernels(tc, "stance"), 2); // one for each op
    CHECK_EQ(runs, 4);
    CHECK_EQ(tc_set_stance(tc, TC_STANCE_DEFAULT), TC_STANCE_FORCE_EAGER);
    for (int k = 0; k < 4; k++) GOOD(N, k);
    tc_stats s = tc_stats_get(tc);
    CHECK_EQ(s.programs, 4);
    CHECK(s.compiles > 0);
    CHECK_EQ(s.skips, 2);
    CHECK_EQ(tc_region_kernels(tc, "stance"), 1);
    for (int k = 0; k < 6; k++) { // even where there is a program, which is there again
        tc_set_stance(tc, k % 2 ? TC_STANCE_DEFAULT : TC_STANCE_FORCE_EAGER);
        runs = 0;
        GOOD(N, 9 + k);
        CHECK_EQ(runs, k % 2 ? 0 : 1);
    }
    tc_stats now = tc_stats_get(tc);
    CHECK_EQ(now.programs, s.programs);
    CHECK_EQ(now.compiles, s.compiles);
    CHECK_EQ(now.skips, s.skips + 3);
    CHECK_EQ(tc_last_miss(f).kind, TC_MISS_CHECK); // of the call before that was no match
    tc_close(tc);
}

static void visit_words(tc_ctx *tc, int way, tc_stance stance) {
    tc_set_stance(tc, stance);
    tc_tensor x = tc_ones(tc, TC_DIMS(3), TC_F32);
    tc_trace_begin_at(tc, "words", NULL, "user.c", 1);
    if (way) tc_neg_at(x, "user.c", 2);
    if (!way) tc_exp_at(x, "user.c", 3);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
}

// The report names the stance where it alone is another, and else what differs.
TEST(why_it_ran_op_by_op) {
    tc_ctx *tc = tc_open(NULL);
    visit_words(tc, 0, TC_STANCE_DEFAULT);
    visit_words(tc, 0, TC_STANCE_FORCE_EAGER);
    const char *text = tc_explain(tc);
    CHECK(strstr(text, "    run op by op: region") && !strstr(text, "compiled again"));
    CHECK(strstr(text, "because it is the first visit under TC_STANCE_FORCE_EAGER\n"));
    visit_words(tc, 1, TC_STANCE_FORCE_EAGER);
    text = tc_explain(tc);
    CHECK(strstr(text, "run op by op: region") &&
          strstr(text, "because step 1 is neg x0") &&
          strstr(text, "(user.c:2), was exp x0"));
    visit_words(tc, 1, TC_STANCE_DEFAULT);
    text = tc_explain(tc);
    CHECK(strstr(text, "compiled again: region") &&
          strstr(text, "because step 0 is neg x0") &&
          strstr(text, "(user.c:2), was exp x0"));
    CHECK(!strstr(text, "force_eager"));
    CHECK_EQ(tc_reset(tc), TC_OK);
    visit_words(tc, 1, TC_STANCE_FORCE_EAGER);
    visit_words(tc, 1, TC_STANCE_DEFAULT);
    text = tc_explain(tc);
    CHECK(strstr(text, "compiled again: region") &&
          strstr(text, "because it is the first visit outside of TC_STANCE_FORCE_EAGER\n"));
    tc_close(tc);
}

// What is made once under it: with run-time sizes, as ever; forgotten by tc_reset; and tc_explain tells it.
TEST(programs_of_force_eager) {
    tc_ctx *tc = open_backend("cpu");
    tc_fn *f = tc_compile(tc, affine, NULL, 0, NULL);
    tc_set_stance(tc, TC_STANCE_FORCE_EAGER);
    for (int k = 0; k < 6; k++) GOOD(N + k, k);
    CHECK_EQ(tc_stats_get(tc).programs, 4); // for one size, and for all
    CHECK(strstr(tc_explain(tc), "op by op: TC_STANCE_FORCE_EAGER"));
    CHECK_EQ(tc_reset(tc), TC_OK);
    CHECK(!strstr(tc_explain(tc), "TC_STANCE_FORCE_EAGER"));
    GOOD(N, 1);
    tc_set_stance(tc, TC_STANCE_DEFAULT);
    GOOD(N, 1);
    CHECK(!tc_error(tc));
    tc_close(tc);
}

static tc_tensor read_inside(tc_ctx *tc, const tc_options *o, tc_tensor x) {
    tc_trace_begin_at(tc, "reads", o, "stances.c", 3);
    tc_tensor y = tc_mul_s(x, 2), z = tc_add_s(y, tc_item(tc_amax_all(y)));
    (void)tc_trace_end(tc);
    return z;
}

// Reads are allowed, the limit does not count, nothing is measured.
TEST(options_that_force_eager_ignores) {
    tc_ctx *tc = open_backend("cpu");
    tc_options o = tc_options_default();
    o.fullgraph = 1, o.recompile_limit = 1, o.dynamic = TC_DYNAMIC_OFF;
    o.mode = "max-autotune";
    tc_set_stance(tc, TC_STANCE_FORCE_EAGER);
    for (int k = 0; k < 4; k++) {
        tc_tensor y = read_inside(tc, &o, line(tc, N + k, 0, 1));
        CHECK_EQ(AT(y, 1), 2 + 2 * (N + k - 1));
    }
    CHECK_EQ(tc_stats_get(tc).autotuned, 0);
    CHECK_EQ(tc_stats_get(tc).compiles, 0);
    CHECK_EQ(tc_stats_get(tc).graph_breaks, 4);
    CHECK(!tc_error(tc));
    tc_set_stance(tc, TC_STANCE_DEFAULT);
    (void)read_inside(tc, &o, line(tc, N, 0, 1));
    ERROR(TC_E_FULLGRAPH, "fullgraph");
    o.fullgraph = 0;
    (void)AT(read_inside(tc, &o, line(tc, N, 0, 1)), 0);
    CHECK(tc_stats_get(tc).compiles > 0); // the limit was not used up
    tc_close(tc);
}

// A registered backend is not asked.
TEST(backends_under_force_eager) {
    tc_ctx *tc = open_backend("cpu");
    tc_options o = tc_options_default();
    int count = 0;
    tc_backend b = counting_backend(&count);
    CHECK_EQ(tc_register_backend(tc, &b), TC_OK);
    o.backend = b.name;
    tc_fn *f = tc_compile(tc, affine, NULL, 0, &o);
    for (int k = 0; k < 3; k++) {
        tc_set_stance(tc, k == 1 ? TC_STANCE_DEFAULT : TC_STANCE_FORCE_EAGER);
        tc_tensor x = line(tc, N, 1, 1), y;
        CALL(f, &x, 1, &y, 1);
        CHECK_EQ(AT(y, 2), 7);
        CHECK_EQ(count, k >= 1);
    }
    CHECK(!tc_error(tc));
    tc_close(tc);
}

// A context that was frozen runs what it has, and refuses the rest.
TEST(frozen_under_force_eager) {
    tc_ctx *tc = open_backend("cpu");
    tc_tensor x = line(tc, N, 3, 0);
    tc_fn *f = tc_compile(tc, affine, NULL, 0, NULL);
    for (int k = 0; k < 3; k++) GOOD(N, k);
    CHECK_EQ(tc_freeze(tc), TC_OK);
    tc_set_stance(tc, TC_STANCE_FORCE_EAGER);
    tc_trace_begin_at(tc, "stance", NULL, "stances.c", 1);
    tc_add_s(tc_mul_s(x, 2), 1);
    CHECK(tc_trace_end(tc) != TC_OK);
    CHECK(tc_error(tc) != TC_OK);
    tc_error_clear(tc);
    CHECK_EQ(tc_thaw(tc), TC_OK);
    for (int k = 0; k < 6; k++) GOOD(N, k);
    CHECK(!tc_error(tc));
    tc_close(tc);
}

// tc_lazy is a region like any other.
TEST(lazy_under_force_eager) {
    tc_ctx *tc = open_backend("cpu");
    tc_tensor x = line(tc, N, 3, 1), g;
    tc_set_stance(tc, TC_STANCE_FORCE_EAGER);
    CHECK_EQ(tc_lazy(tc, 1), TC_OK);
    for (int k = 0; k < 3; k++) {
        tc_grad(tc_sum_all(tc_square(x)), &x, 1, &g);
        CHECK_EQ(tc_eval(tc, &g, 1), TC_OK);
        CHECK_EQ(AT(g, 1), 8);
        tc_free(g);
    }
    CHECK_EQ(tc_lazy(tc, 0), TC_OK);
    CHECK_EQ(tc_stats_get(tc).compiles, 0);
    CHECK(!tc_error(tc));
    tc_close(tc);
}

// A context that is shared takes the stance over.
TEST(children_under_force_eager) {
    tc_ctx *tc = open_backend("cpu");
    tc_set_stance(tc, TC_STANCE_FORCE_EAGER);
    tc_ctx *child = tc_open_shared(tc);
    tc_tensor x = line(child, N, 3, 1), g;
    for (int k = 0; k < 3; k++) {
        tc_trace_begin(child, "child");
        tc_grad(tc_sum_all(tc_square(x)), &x, 1, &g);
        CHECK_EQ(tc_trace_end(child), TC_OK);
        CHECK_EQ(AT(g, 1), 8);
    }
    CHECK_EQ(tc_stats_get(child).compiles, 0);
    CHECK(!tc_error(child) && !tc_error(tc));
    tc_close(child);
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
    ERROR(TC_E_NULL, "tc_set_stance: ");
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
    ERROR(TC_E_NULL, "tc_reset: ");
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
