// Run-time sizes and values: when a second one makes a program for all, how many programs a sequence
// of sizes costs, and that every answer is the eager one's, bit by bit.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

#include "harness.h"
#include "help.h"

// ---- bodies: each takes x[n, m] and gives one result ----

typedef tc_tensor (*body)(tc_tensor x, double s);

static tc_tensor pointwise(tc_tensor x, double s) {
    return tc_relu(tc_add_s(tc_mul_s(x, s), 0.5));
}
static tc_tensor softmax(tc_tensor x, double s) { return tc_softmax(tc_mul_s(x, s), -1); }
static tc_tensor columns(tc_tensor x, double s) { return tc_mul_s(tc_sum(x, 0), s); }
static tc_tensor norm(tc_tensor x, double s) {
    return tc_add_s(tc_layer_norm(x, tc_null(), tc_null(), 1e-5), s);
}
static tc_tensor flatten(tc_tensor x, double s) {
    int64_t n = tc_dim(x, 0), m = tc_dim(x, 1);
    tc_tensor y = tc_reshape(tc_add_s(x, s), TC_DIMS(n * m));
    return tc_reshape(tc_square(y), TC_DIMS(m, n));
}
static tc_tensor turned(tc_tensor x, double s) {
    tc_tensor y = tc_t(tc_mul_s(x, s));
    return tc_add(tc_reshape(tc_contiguous(y), TC_DIMS(tc_numel(x))),
                  tc_scalar(tc__ctx_of(x), s, TC_F32));
}
static tc_tensor product(tc_tensor x, double s) {
    return tc_mul_s(tc_matmul(x, tc_t(x)), s);
}
static tc_tensor shifted(tc_tensor x, double s) {
    int64_t n = tc_dim(x, 0);
    if (n < 2) return tc_mul_s(x, s);
    return tc_sub(tc_narrow(x, 0, 1, n - 1), tc_mul_s(tc_narrow(x, 0, 0, n - 1), s));
}
static tc_tensor joined(tc_tensor x, double s) {
    tc_tensor both[2];
    both[0] = x, both[1] = tc_mul_s(x, s);
    return tc_cat(both, 2, 0);
}
static tc_tensor halves(tc_tensor x, double s) {
    int64_t n = tc_dim(x, 0), m = tc_dim(x, 1);
    if (n % 2) return tc_mul_s(x, s);
    return tc_sum(tc_reshape(tc_mul_s(x, s), TC_DIMS(2, n / 2, m)), 0);
}
static tc_tensor broadcast(tc_tensor x, double s) {
    return tc_add_s(tc_sub(x, tc_amax_dims(x, TC_DIMS(0), TC_KEEPDIM)), s);
}
static tc_tensor written(tc_tensor x, double s) {
    tc_tensor y = tc_mul_s(x, s);
    tc_add_s_(tc_narrow(y, 0, 0, 1), 1);
    return tc_square(y);
}
static tc_tensor filled(tc_tensor x, double s) {
    tc_ctx *tc = tc__ctx_of(x);
    return tc_add(x, tc_mul_s(tc_arange(tc, 0, (double)tc_dim(x, 1), 1, TC_F32), s));
}

static const struct {
    const char *name;
    body run;
} bodies[] = {
    {"pointwise", pointwise}, {"softmax", softmax},     {"columns", columns},
    {"norm", norm},           {"flatten", flatten},     {"turned", turned},
    {"product", product},     {"shifted", shifted},     {"joined", joined},
    {"halves", halves},       {"broadcast", broadcast}, {"written", written},
    {"filled", filled},
};

enum { BODIES = sizeof bodies / sizeof bodies[0], MOST = 70 };

static uint32_t seed;
static int below(int n) {
    seed = seed * 1664525u + 1013904223u;
    return (int)(seed >> 8) % n;
}

static tc_tensor random_tensor(tc_ctx *tc, int n, int m) {
    static float data[MOST * MOST];
    for (int i = 0; i < n * m; i++) data[i] = (float)(below(2001) - 1000) / 256;
    return tc_from_data(tc, data, TC_DIMS(n, m), TC_F32);
}

// The region's result for x is the eager one's.
static void check(tc_ctx *tc, const char *name, body run, tc_tensor x, double s,
                  const tc_options *o) {
    static float want[2 * MOST * MOST], got[2 * MOST * MOST];
    tc_scope_begin(tc);
    tc_tensor e = run(x, s);
    size_t bytes = (size_t)tc_numel(e) * sizeof *want;
    CHECK_EQ(tc_read(e, want, bytes), TC_OK);
    CHECK_EQ(tc_trace_begin_at(tc, name, o, "sizes.c", 1), TC_OK);
    tc_tensor y = run(x, s);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    CHECK_EQ(tc_numel(y), tc_numel(e));
    memset(got, 0xff, bytes);
    CHECK_EQ(tc_read(y, got, bytes), TC_OK);
    if (memcmp(got, want, bytes))
        FAIL("%s: [%lld, %lld] s %g differs from eager", name, (long long)tc_dim(x, 0),
             (long long)tc_dim(x, 1), s);
    tc_scope_end(tc);
}

// ---- promotion ----

// The first size has a program of its own, the second makes one for all.
BOTH(two_programs_for_any_number_of_sizes) {
    static const int rows[] = {20, 33, 21, 20, 47, 64, 33, 18, 70, 20};
    for (int b = 0; b < BODIES; b++) {
        uint64_t before = tc_stats_get(tc).programs;
        int odd = bodies[b].run == halves; // even and odd rows do different things
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
            check(tc, bodies[b].name, bodies[b].run, random_tensor(tc, rows[i], 24), 1.5,
                  NULL);
        uint64_t made = tc_stats_get(tc).programs - before;
        if (made > 2 + 3 * (uint64_t)odd)
            FAIL("%s: %d programs", bodies[b].name, (int)made);
    }
}

BOTH(two_programs_for_any_number_of_values) {
    for (int b = 0; b < BODIES; b++) {
        uint64_t before = tc_stats_get(tc).programs;
        tc_tensor x = random_tensor(tc, 24, 18);
        for (int i = 0; i < 8; i++)
            check(tc, bodies[b].name, bodies[b].run, x, 1 + i * 0.37, NULL);
        uint64_t made = tc_stats_get(tc).programs - before;
        if (made > 2) FAIL("%s: %d programs", bodies[b].name, (int)made);
    }
}

// A thousand random sizes and values: every answer right, and few programs.
BOTH(random_sequences) {
    enum { VISITS = 1000, PROGRAMS = 16 };
    for (int b = 0; b < BODIES; b++) {
        uint64_t before = tc_stats_get(tc).programs;
        seed = 17 + (uint32_t)b;
        for (int i = 0; i < VISITS; i++) {
            int n = below(8) ? 1 + below(MOST - 1) : 1 + below(2);
            int m = below(8) ? 1 + below(MOST - 1) : 1 + below(2);
            tc_tensor x = random_tensor(tc, n, m);
            check(tc, bodies[b].name, bodies[b].run, x, 0.5 + below(7), NULL);
            tc_free(x);
        }
        uint64_t made = tc_stats_get(tc).programs - before;
        // What is one row or column is row-major already: tc_contiguous gives another path.
        if (made > PROGRAMS + 8 * (bodies[b].run == turned))
            FAIL("%s: %d programs", bodies[b].name, (int)made);
    }
}

// ---- choices ----

static uint64_t programs_of(tc_ctx *tc, const char *name, const tc_options *o, int mark,
                            const int *rows, int n) {
    uint64_t before = tc_stats_get(tc).programs;
    for (int i = 0; i < n; i++) {
        tc_tensor x = random_tensor(tc, rows[i], 24);
        if (mark == 1) CHECK_EQ(tc_mark_dynamic(x, 0, 2, 64), TC_OK);
        if (mark == 2) CHECK_EQ(tc_mark_static(x, -2), TC_OK);
        check(tc, name, softmax, x, 2, o);
    }
    return tc_stats_get(tc).programs - before;
}

BOTH(options_and_marks) {
    static const int rows[] = {20, 33, 21, 20, 47, 64};
    tc_options o = tc_options_default();
    CHECK_EQ(programs_of(tc, "auto", &o, 0, rows, 6), 2);
    CHECK_EQ(programs_of(tc, "marked", &o, 1, rows, 6), 1);
    CHECK_EQ(programs_of(tc, "static", &o, 2, rows, 6), 5);
    o.dynamic = TC_DYNAMIC_ON;
    CHECK_EQ(programs_of(tc, "on", &o, 0, rows, 6), 1);
    o.dynamic = TC_DYNAMIC_OFF;
    CHECK_EQ(programs_of(tc, "off", &o, 0, rows, 6), 5);
}

// What a mean divides by is known at run time as its size is: one program, marked or by the option.
static tc_tensor mean_all(tc_tensor x, double s) { return tc_mul_s(tc_mean_all(x), s); }
static tc_tensor mean_rows(tc_tensor x, double s) { return tc_mul_s(tc_mean(x, 0), s); }
static tc_tensor variances(tc_tensor x, double s) {
    return tc_add(tc_mul_s(tc_var(x, 0, 1), s), tc_std(x, 0, 0));
}
static tc_tensor mse(tc_tensor x, double s) { return tc_mse_loss(x, tc_mul_s(x, s)); }
static tc_tensor entropy(tc_tensor x, double s) {
    return tc_cross_entropy(tc_mul_s(x, s), tc_argmax(x, 1));
}

BOTH(means_over_marked_sizes) {
    static const struct {
        const char *name;
        body run;
    } means[] = {{"mean_all", mean_all},
                 {"mean_rows", mean_rows},
                 {"variances", variances},
                 {"mse", mse},
                 {"entropy", entropy}};
    static const int rows[] = {20, 33, 21, 20, 47, 64};
    tc_options on = tc_options_default();
    on.dynamic = TC_DYNAMIC_ON;
    for (size_t b = 0; b < sizeof means / sizeof *means; b++)
        for (int marked = 0; marked < 2; marked++) {
            char name[40];
            snprintf(name, sizeof name, "%s %d", means[b].name, marked);
            uint64_t before = tc_stats_get(tc).programs;
            for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                tc_tensor x = random_tensor(tc, rows[i], 24);
                if (marked) CHECK_EQ(tc_mark_dynamic(x, 0, 0, 0), TC_OK);
                check(tc, name, means[b].run, x, 2, marked ? NULL : &on);
            }
            uint64_t made = tc_stats_get(tc).programs - before;
            CHECK(made == 1 || FAIL("%s: %d programs", name, (int)made));
        }
}

// A size outside the bounds of the mark has a program of its own.
BOTH(bounds_of_a_mark) {
    static const int within[] = {20, 33, 64}, outside[] = {65};
    CHECK_EQ(programs_of(tc, "bounded", NULL, 1, within, 3), 1);
    CHECK_EQ(programs_of(tc, "bounded", NULL, 0, outside, 1), 1);
    tc_tensor x = random_tensor(tc, 20, 24);
    CHECK_EQ(tc_mark_dynamic(x, 0, 21, 64), TC_E_ARG);
    CHECK(strstr(tc_error_text(tc), "size 20, which is not in [21, 64]"));
    tc_error_clear(tc);
    CHECK_EQ(tc_mark_dynamic(x, 0, 1, 19), TC_E_ARG);
    tc_error_clear(tc);
    CHECK_EQ(tc_mark_dynamic(x, 2, 0, 0), TC_E_DIM);
    tc_error_clear(tc);
    CHECK_EQ(tc_mark_static(tc_null(), 0), TC_E_NULL);
    tc_error_clear(tc);
    tc_trace_begin(tc, "inside");
    tc_tensor y = tc_neg(x);
    CHECK_EQ(tc_mark_static(y, 0), TC_E_ARG);
    CHECK(strstr(tc_error_text(tc), "mark that"));
    tc_error_clear(tc);
    tc_trace_end(tc);
}

// tc_scalar: one program from the first value on; eagerly it is a number like any other.
BOTH(scalars) {
    tc_tensor x = random_tensor(tc, 20, 24);
    uint64_t before = tc_stats_get(tc).programs;
    float got[480], in[480];
    tc_read(x, in, sizeof in);
    for (int k = 0; k < 6; k++) {
        tc_trace_begin_at(tc, "rate", NULL, "sizes.c", 2);
        tc_tensor y = tc_mul(x, tc_scalar(tc, 0.25 * k, TC_F32));
        CHECK_EQ(tc_trace_end(tc), TC_OK);
        CHECK_EQ(tc_read(y, got, sizeof got), TC_OK);
        for (int i = 0; i < 480; i++) CHECK_NEAR(got[i], in[i] * 0.25f * (float)k, 0);
    }
    CHECK_EQ(tc_stats_get(tc).programs - before, 1);
    tc_tensor whole = tc_scalar(tc, 7.9, TC_I32);
    CHECK_EQ(tc_item_i64(whole), 7);
    CHECK(!tc_scalar(tc, 1, (tc_dtype)99).id);
    tc_error_clear(tc);
}

static int warnings;
static void count_warning(void *user, int level, const char *channel, const char *text) {
    (void)user, (void)channel;
    warnings += level > 0 && strstr(text, "recompile_limit") != NULL;
}

// Past the limit the interpreter goes on, with the same results and one warning.
TEST(recompile_limit) {
    tc_config config = tc_config_default();
    config.no_disk_cache = 1, config.logger.log = count_warning;
    tc_ctx *tc = tc_open(&config);
    tc_options o = tc_options_default();
    o.dynamic = TC_DYNAMIC_OFF, o.recompile_limit = 3;
    warnings = 0;
    for (int n = 10; n < 18; n++)
        check(tc, "limit", softmax, random_tensor(tc, n, 24), 2, &o);
    CHECK_EQ(tc_stats_get(tc).programs, 8);
    CHECK_EQ(tc_stats_get(tc).compiles, 3);
    CHECK_EQ(warnings, 1);
    CHECK_EQ(tc_error(tc), TC_OK);
    tc_close(tc);
}

// ---- functions ----

static void two(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_softmax(tc_add(in[0], in[1]), -1);
    out[1] = tc_narrow(in[0], 0, 0, 1);
}

// A function keeps a short cut per size, and one program for all of them.
BOTH(functions_of_many_sizes) {
    tc_fn *f = tc_compile(tc, two, NULL, 0, NULL);
    float got[MOST * MOST], want[MOST * MOST];
    for (int k = 0; k < 60; k++) {
        int n = 2 + k % 20;
        tc_tensor in[2], out[2];
        tc_scope_begin(tc);
        in[0] = random_tensor(tc, n, 24), in[1] = random_tensor(tc, n, 24);
        tc_tensor e = tc_softmax(tc_add(in[0], in[1]), -1);
        CHECK_EQ(tc_call(f, in, 2, out, 2), TC_OK);
        tc_read(e, want, (size_t)n * 24 * sizeof *want);
        CHECK_EQ(tc_read(out[0], got, (size_t)n * 24 * sizeof *got), TC_OK);
        CHECK_BYTES(got, want, (size_t)n * 24 * sizeof *got);
        tc_read(in[0], want, (size_t)n * 24 * sizeof *want);
        CHECK_EQ(tc_read(out[1], got, 24 * sizeof *got), TC_OK);
        CHECK_BYTES(got, want, 24 * sizeof *got);
        tc_scope_end(tc);
    }
    CHECK_EQ(tc_stats_get(tc).programs, 2);
    CHECK_EQ(tc_stats_get(tc).skips, 20);
    CHECK(!tc_fn_demoted(f));
}

// ---- data-dependent branches ----

BOTH(sizes_behind_a_graph_break) {
    static const int rows[] = {20, 33, 21, 20, 47, 64, 33, 18};
    static float data[MOST * 24], got[MOST * 24];
    for (int i = 0; i < 32; i++) {
        int n = rows[i % 8], up = i / 8 % 2;
        for (int k = 0; k < n * 24; k++) data[k] = (float)(up ? k : -k) / 16;
        tc_tensor x = tc_from_data(tc, data, TC_DIMS(n, 24), TC_F32);
        tc_trace_begin_at(tc, "branch", NULL, "sizes.c", 3);
        tc_tensor y = tc_add_s(x, 1);
        tc_tensor z = tc_item(tc_sum_all(x)) > 0 ? tc_mul(y, x) : tc_sub(y, x);
        CHECK_EQ(tc_trace_end(tc), TC_OK);
        CHECK_EQ(tc_read(z, got, (size_t)n * 24 * sizeof *got), TC_OK);
        for (int k = 0; k < n * 24; k++)
            CHECK_NEAR(got[k], up ? (data[k] + 1) * data[k] : data[k] + 1 - data[k], 0);
        tc_free(x);
    }
    if (tc_stats_get(tc).programs > 16) FAIL("%d programs", (int)tc_stats_get(tc).programs);
}
