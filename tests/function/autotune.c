// "max-autotune": whatever is measured, results have the bits of the default mode and of the interpreter,
// and the user's memory is written once. What was found is found again, by the next context and by the
// next process; what is odd on disk is not. No test asks what was fastest.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

#include "harness.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>

#if TC__JIT

// ---- what a context said ----

static int measured, kept, dropped, late, warnings;
static char said[200000];

static void on_log(void *user, int level, const char *channel, const char *text) {
    size_t n = strlen(said);
    (void)user;
    warnings += level == 1;
    if (strcmp(channel, "autotune")) return;
    snprintf(said + n, sizeof said - n, "%s\n", text);
    dropped += strstr(text, "dropped") != NULL;
    kept += strstr(text, " is kept: ") != NULL;
    late += strstr(text, "no time for ") != NULL;
    measured += !strstr(text, "compiled in") && strstr(text, " us") != NULL;
}

static void forget_log(void) {
    measured = kept = dropped = late = warnings = 0;
    said[0] = 0;
}

// ---- contexts ----

static char folder[40];

static void open_folder(void) {
    strcpy(folder, "/tmp/tc-autotune-XXXXXX");
    test_folder_make(folder);
}

// dir NULL = nothing on disk.
static tc_ctx *open_context(const char *dir) {
    tc_config config = tc_config_default();
    config.logger.log = on_log, config.logs = "autotune";
    config.threads = 2, config.cache_dir = dir, config.no_disk_cache = !dir;
    forget_log();
    return tc_open(&config);
}

static tc_options tuned(int seconds) {
    tc_options o = tc_options_default();
    o.mode = "max-autotune", o.autotune_seconds = seconds;
    return o;
}

enum { LONG = 600 }; // seconds: enough on any machine

// ---- programs ----

enum { ROWS = 40, COLS = 257, DEPTH = 70, MOST = 3 };

typedef struct inputs {
    tc_tensor x, y;  // f32 [ROWS, COLS]
    tc_tensor w, b;  // f32 [COLS]
    tc_tensor d;     // f64 [ROWS, DEPTH]
    tc_tensor i, at; // i32 [ROWS, COLS], i64 [ROWS] below ROWS
    tc_tensor image; // f32 [2, 1, 24, 31]
    tc_tensor big;   // f32 [3 * 2^17]
} inputs;

// A whole number of thousandths: products and sums of them are not exact, so order would show.
static double given(int64_t i) { return (double)((i * 37 + 11) % 2001 - 1000) / 1000; }

static tc_tensor numbers(tc_ctx *tc, tc_dims d, tc_dtype dtype, int from) {
    int64_t n = 1;
    for (int k = 0; k < d.rank; k++) n *= d.size[k];
    char *at = (char *)malloc((size_t)n * 8);
    for (int64_t k = 0; k < n; k++) {
        if (dtype == TC_F32) ((float *)(void *)at)[k] = (float)given(k + from);
        if (dtype == TC_F64) ((double *)(void *)at)[k] = given(k + from);
        if (dtype == TC_I32) ((int32_t *)(void *)at)[k] = (int32_t)((k + from) % 1000);
        if (dtype == TC_I64) ((int64_t *)(void *)at)[k] = (k * 7 + from) % ROWS;
    }
    tc_tensor t = tc_from_data(tc, at, d, dtype);
    free(at);
    return t;
}

static inputs make_inputs(tc_ctx *tc) {
    inputs in;
    in.x = numbers(tc, TC_DIMS(ROWS, COLS), TC_F32, 1);
    in.y = numbers(tc, TC_DIMS(ROWS, COLS), TC_F32, 2);
    in.w = numbers(tc, TC_DIMS(COLS), TC_F32, 3),
    in.b = numbers(tc, TC_DIMS(COLS), TC_F32, 4);
    in.d = numbers(tc, TC_DIMS(ROWS, DEPTH), TC_F64, 5);
    in.i = numbers(tc, TC_DIMS(ROWS, COLS), TC_I32, 6);
    in.at = numbers(tc, TC_DIMS(ROWS), TC_I64, 7);
    in.image = numbers(tc, TC_DIMS(2, 1, 24, 31), TC_F32, 8);
    in.big = numbers(tc, TC_DIMS(3 << 17), TC_F32, 9);
    return in;
}

static int pointwise(tc_ctx *tc, const inputs *in, tc_tensor *out) {
    (void)tc;
    tc_tensor y = tc_add(tc_mul(in->x, in->w), in->b);
    out[0] = tc_add(tc_tanh(tc_mul(y, tc_sigmoid(y))), tc_sin(y));
    return 1;
}

static int large(tc_ctx *tc, const inputs *in, tc_tensor *out) {
    (void)tc;
    out[0] = tc_relu(tc_mul_s(in->big, 3));
    return 1;
}

static int reductions(tc_ctx *tc, const inputs *in, tc_tensor *out) {
    (void)tc;
    out[0] = tc_sum(tc_mul(in->x, in->y), 1);
    out[1] = tc_argmax(in->x, 1);
    out[2] = tc_amax(in->i, 0);
    return 3;
}

static int softmax(tc_ctx *tc, const inputs *in, tc_tensor *out) {
    (void)tc;
    out[0] = tc_softmax(in->x, -1);
    return 1;
}

static int layer_norm(tc_ctx *tc, const inputs *in, tc_tensor *out) {
    (void)tc;
    out[0] = tc_layer_norm(in->x, in->w, in->b, 1e-5);
    return 1;
}

static int products(tc_ctx *tc, const inputs *in, tc_tensor *out) {
    (void)tc;
    out[0] = tc_relu(tc_matmul(in->x, tc_t(in->y)));
    out[1] = tc_matmul(in->d, tc_t(in->d));
    return 2;
}

static int stencil(tc_ctx *tc, const inputs *in, tc_tensor *out) {
    (void)tc;
    tc_tensor s = tc_abs(tc_sub(in->image, tc_avg_pool2d(in->image, 7, 1, 3)));
    out[0] = tc_div(s, tc_add_s(tc_amax_dims(s, TC_DIMS(1, 2, 3), 1), 1e-6));
    return 1;
}

static int gather(tc_ctx *tc, const inputs *in, tc_tensor *out) {
    (void)tc;
    out[0] = tc_mul_s(tc_take(in->x, in->at, 0), 3);
    return 1;
}

static int randoms(tc_ctx *tc, const inputs *in, tc_tensor *out) {
    (void)tc;
    out[0] = tc_dropout(in->x, 0.3);
    return 1;
}

typedef int (*recipe)(tc_ctx *tc, const inputs *in, tc_tensor *out);

typedef struct results {
    int n;
    size_t bytes[MOST];
    unsigned char *at[MOST];
} results;

static tc_status visit(tc_ctx *tc, recipe make, const inputs *in, const tc_options *o,
                       results *r) {
    tc_tensor out[MOST];
    tc_manual_seed(tc, 5);
    tc_trace_begin_at(tc, "tuned", o, "autotune.c", 1);
    int n = make(tc, in, out);
    for (int i = 0; i < n; i++) out[i] = tc_keep(out[i]);
    tc_status s = tc_trace_end(tc);
    for (int i = 0; i < n && r; i++) {
        r->n = n,
        r->bytes[i] = (size_t)tc_numel(out[i]) * tc_dtype_bytes(tc_dtype_of(out[i]));
        r->at[i] = (unsigned char *)malloc(r->bytes[i]);
        CHECK_EQ(tc_read(out[i], r->at[i], r->bytes[i]), TC_OK);
    }
    for (int i = 0; i < n; i++) tc_free(out[i]);
    return s;
}

static void expect_equal(const results *a, const results *b) {
    REQUIRE(a->n == b->n);
    for (int i = 0; i < a->n; i++) {
        REQUIRE(a->bytes[i] == b->bytes[i]);
        CHECK_BYTES(a->at[i], b->at[i], a->bytes[i]);
    }
}

static void free_results(results *r) {
    for (int i = 0; i < r->n; i++) free(r->at[i]);
}

static int no_compiler(tc_ctx *tc) { return tc_stats_get(tc).fallbacks > 0; }

// All kernels of the program are measured; the bits are the interpreter's, then and at the next visit.
static void check_program(recipe make) {
    tc_options o = tuned(LONG), plain = tc_options_default();
    results want, first, second;
    plain.backend = "aot_eager";
    tc_ctx *tc = open_context(NULL), *ref = open_context(NULL);
    inputs in = make_inputs(tc), of_ref = make_inputs(ref);
    CHECK_EQ(visit(ref, make, &of_ref, &plain, &want), TC_OK);
    CHECK_EQ(visit(tc, make, &in, &o, &first), TC_OK);
    if (no_compiler(tc)) SKIP("no compiler");
    tc_stats s = tc_stats_get(tc);
    expect_equal(&first, &want);
    CHECK_EQ(s.autotuned, (uint64_t)tc_region_kernels(tc, "tuned"));
    CHECK(s.autotune_ns > 0);
    CHECK_EQ(kept, (int)s.autotuned);
    CHECK(measured > kept); // there was a choice
    CHECK_EQ(dropped, 0);
    CHECK_EQ(warnings, 0);
    CHECK_EQ(visit(tc, make, &in, &o, &second), TC_OK);
    expect_equal(&second, &want);
    CHECK_EQ(tc_stats_get(tc).autotune_ns, s.autotune_ns);
    CHECK_STR(tc_error_text(tc), "");
    free_results(&want), free_results(&first), free_results(&second);
    tc_close(tc), tc_close(ref);
}

TEST(bits_pointwise) { check_program(pointwise); }
TEST(bits_large) { check_program(large); }
TEST(bits_reductions) { check_program(reductions); }
TEST(bits_softmax) { check_program(softmax); }
TEST(bits_layer_norm) { check_program(layer_norm); }
TEST(bits_products) { check_program(products); }
TEST(bits_stencil) { check_program(stencil); }
TEST(bits_gather) { check_program(gather); }
TEST(bits_random) { check_program(randoms); }

// ---- who is measured, and when ----

TEST(other_modes_measure_nothing) {
    static const char *const modes[] = {NULL, "default", "reduce-overhead"};
    tc_ctx *tc = open_context(NULL);
    inputs in = make_inputs(tc);
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        tc_options o = tuned(LONG);
        o.mode = modes[i];
        CHECK_EQ(visit(tc, softmax, &in, &o, NULL), TC_OK);
        CHECK_EQ(tc_reset(tc), TC_OK);
    }
    CHECK_EQ(tc_stats_get(tc).autotuned, 0);
    CHECK_EQ(tc_stats_get(tc).autotune_ns, 0);
    CHECK_STR(said, "");
    CHECK(!strstr(tc_explain(tc), "autotune: "));
    tc_close(tc);
}

TEST(both_modes_measure) {
    tc_ctx *tc = open_context(NULL);
    inputs in = make_inputs(tc);
    tc_options o = tuned(LONG);
    o.mode = "max-autotune-no-cudagraphs";
    CHECK_EQ(visit(tc, gather, &in, &o, NULL), TC_OK);
    CHECK_EQ(tc_stats_get(tc).autotuned, no_compiler(tc) ? 0 : 1);
    tc_close(tc);
}

TEST(stances_that_do_not_wait_do_not_measure) {
    tc_ctx *tc = open_context(NULL);
    inputs in = make_inputs(tc);
    tc_options o = tuned(LONG);
    results a, b;
    tc_set_stance(tc, TC_STANCE_EAGER_THEN_COMPILE);
    CHECK_EQ(visit(tc, gather, &in, &o, &a), TC_OK);
    CHECK_EQ(tc_wait_compiled(tc), TC_OK);
    CHECK_EQ(visit(tc, gather, &in, &o, &b), TC_OK);
    expect_equal(&a, &b);
    CHECK_EQ(tc_stats_get(tc).autotuned, 0);
    CHECK_EQ(tc_stats_get(tc).autotune_ns, 0);
    if (!no_compiler(tc))
        CHECK(strstr(tc_explain(tc), "autotune: default, not measured\n"));
    free_results(&a), free_results(&b);
    // A program that was made while nothing was compiled is measured when it may be.
    tc_set_stance(tc, TC_STANCE_EAGER_ON_RECOMPILE);
    CHECK_EQ(visit(tc, softmax, &in, &o, NULL), TC_OK);
    CHECK_EQ(tc_stats_get(tc).autotuned, 0);
    tc_set_stance(tc, TC_STANCE_DEFAULT);
    CHECK_EQ(visit(tc, softmax, &in, &o, NULL), TC_OK);
    CHECK_EQ(tc_stats_get(tc).autotuned, no_compiler(tc) ? 0 : 1);
    tc_close(tc);
}

TEST(a_kernel_is_measured_once_however_often_it_stands_in_a_program) {
    tc_ctx *tc = open_context(NULL);
    tc_tensor w = numbers(tc, TC_DIMS(64, 64), TC_F32, 1),
              h = numbers(tc, TC_DIMS(64, 64), TC_F32, 2);
    tc_options o = tuned(LONG);
    tc_trace_begin_with(tc, "layers", &o);
    for (int k = 0; k < 5; k++) h = tc_relu(tc_matmul(h, w));
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    if (no_compiler(tc)) SKIP("no compiler");
    CHECK_EQ(tc_region_kernels(tc, "layers"), 5);
    CHECK_EQ(tc_stats_get(tc).autotuned, 1);
    const char *text = tc_explain(tc);
    int lines = 0;
    while ((text = strstr(text, ", best of ")) != NULL) lines++, text++;
    CHECK_EQ(lines, 5);
    tc_close(tc);
}

// A second is too short for forty kernels of which each has some ten candidates to compile.
TEST(what_there_is_no_time_for_stays_as_it_is) {
    enum { KERNELS = 40 };
    tc_ctx *tc = open_context(NULL), *ref = open_context(NULL);
    tc_options o = tuned(1), plain = tc_options_default();
    static float got[KERNELS], want[KERNELS];
    plain.backend = "aot_eager";
    for (int side = 0; side < 2; side++) {
        tc_ctx *c = side ? tc : ref;
        tc_tensor x = numbers(c, TC_DIMS(8, 400), TC_F32, 1), out[KERNELS];
        tc_trace_begin_with(c, "many", side ? &o : &plain);
        for (int k = 0; k < KERNELS; k++) { // sizes differ, so nothing can be fused
            tc_tensor part = tc_narrow(x, 1, k, 200 + k);
            out[k] = tc_keep(tc_sum_all(tc_exp(tc_softmax(part, 1))));
        }
        CHECK_EQ(tc_trace_end(c), TC_OK);
        for (int k = 0; k < KERNELS; k++)
            CHECK_EQ(tc_read(out[k], side ? &got[k] : &want[k], sizeof *got), TC_OK);
    }
    if (no_compiler(tc)) SKIP("no compiler");
    CHECK_BYTES(got, want, sizeof want);
    CHECK(tc_region_kernels(tc, "many") >= KERNELS);
    CHECK(tc_stats_get(tc).autotuned < (uint64_t)tc_region_kernels(tc, "many"));
    CHECK_EQ(late, 1);
    CHECK(strstr(tc_explain(tc), "autotune: default, there was no time to measure it\n"));
    tc_close(tc), tc_close(ref);
}

// ---- memory of the user's ----

// Kernels that write in place: each writes once, whatever it was measured on.
TEST(in_place_is_done_once) {
    enum { N = 5000 };
    static float a[N + 1], b[N], c[N];
    tc_ctx *tc = open_context(NULL);
    for (int odd = 0; odd < 2; odd++) { // memory that is aligned, and memory that is not
        float *at = a + odd;
        for (int i = 0; i < N; i++) at[i] = (float)i, b[i] = (float)(2 * i), c[i] = 1;
        tc_tensor x = tc_wrap(tc, at, TC_DIMS(N), TC_F32),
                  y = tc_wrap(tc, b, TC_DIMS(N), TC_F32);
        tc_tensor z = tc_wrap(tc, c, TC_DIMS(N), TC_F32), sum;
        tc_options o = tuned(LONG);
        for (int visits = 1; visits < 4; visits++) {
            tc_trace_begin_at(tc, odd ? "odd" : "even", &o, "autotune.c", 2);
            tc_add_(x, y);                          // written by its kernel
            sum = tc_keep(tc_sum(tc_mul(x, z), 0)); // reads what was written
            tc_copy_(z, tc_flip(z, TC_DIMS(0)));    // written back by a copy
            CHECK_EQ(tc_trace_end(tc), TC_OK);
            for (int i = 0; i < N; i++)
                if (at[i] != (float)(i + 2 * i * visits) || b[i] != (float)(2 * i) ||
                    c[i] != 1)
                    FAIL("visit %d, element %d: %g", visits, i, (double)at[i]), i = N;
            double all = 0; // whole numbers below 2^53, which f32 rounds a little
            for (int i = 0; i < N; i++) all += i + 2.0 * i * visits;
            CHECK_NEAR(tc_item(sum), all, all * 1e-5);
            tc_free(sum);
        }
        tc_free(x), tc_free(y), tc_free(z);
    }
    CHECK(no_compiler(tc) || tc_stats_get(tc).autotuned > 0);
    CHECK_EQ(dropped, 0);
    tc_close(tc);
}

// The first kernel as the tuner runs it, but with this code; *w has room for it.
static tc__entrant entrant_of(tc__program *p, tc__kernel_fn run, tc__variant *w) {
    tc__entrant e;
    memset(&e, 0, sizeof e), memset(w, 0, sizeof *w);
    w->group = *p->launch.at[0].group, w->device = &p->ctx->here;
    CHECK(p->ctx->here.runner->vary(p, 0, w));
    memcpy(&w->run.list[0].kernel, &run, sizeof run);
    e.variant = w;
    return e;
}

static size_t differs(const tc__stand *s, const tc__entrant *e) {
    size_t wrong = 0;
    CHECK(tc__entrant_differs(s, e, &wrong));
    return wrong;
}

// A kernel that reads what it writes, as the tuner runs it: as often as it likes, on what was there.
TEST(a_stand_gives_memory_back) {
    enum { N = 1000 };
    static float a[N];
    tc_ctx *tc = open_context(NULL);
    tc_tensor x = tc_wrap(tc, a, TC_DIMS(N), TC_F32);
    for (int i = 0; i < N; i++) a[i] = (float)i;
    tc_trace_begin(tc, "stand");
    tc_mul_s_(x, 2);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    if (no_compiler(tc)) SKIP("no compiler");
    tc__step *s = tc->recorder.region->root.next;
    while (s->next) s = s->next;
    tc__program *p = (tc__program *)s->program;
    REQUIRE(p->launch.count == 1);
    tc__launch *l = &p->launch.at[0];
    tc__stand stand;
    tc__variant w;
    uint64_t ns = 0;
    tc__entrant e = entrant_of(p, l->run, &w);
    CHECK(tc__stand_open(&stand, p, l, UINT64_MAX));
    CHECK(tc__stand_is_in_place(&stand));
    CHECK(tc__heat_want(&stand, &e));
    CHECK_EQ(differs(&stand, &e), 0);
    CHECK(tc__entrant_time(&stand, &e, 1, &ns) && ns > 0);
    for (int i = 0; i < N; i++) CHECK_EQ(a[i], 4 * i); // the region, and once on top of it
    CHECK(tc__stand_reset(&stand));
    for (int i = 0; i < N; i++) CHECK_EQ(a[i], 2 * i);
    tc__stand_close(&stand);
    tc_close(tc);
}

// ---- codes that are wrong ----

static tc__kernel_fn right;

// One element is off by the least there is.
static void wrong_in_one_bit(const tc__kargs *a, int64_t lo, int64_t hi, int32_t worker) {
    right(a, lo, hi, worker);
    for (int i = 0; lo == 0 && i < 3; i++) {
        uint32_t bits;
        memcpy(&bits, (float *)a->buf[i] + 7, sizeof bits);
        bits ^= i == 1;
        if (i == 1) memcpy((float *)a->buf[i] + 7, &bits, sizeof bits);
        if (i == 1) return;
    }
}

static void does_nothing(const tc__kargs *a, int64_t lo, int64_t hi, int32_t worker) {
    (void)a, (void)lo, (void)hi, (void)worker;
}

TEST(wrong_bits_are_seen) {
    enum { N = 100 };
    tc_ctx *tc = open_context(NULL);
    tc_tensor x = numbers(tc, TC_DIMS(N), TC_F32, 1);
    tc_trace_begin(tc, "right");
    tc_tensor y = tc_keep(tc_exp(x));
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    if (no_compiler(tc)) SKIP("no compiler");
    tc__step *s = tc->recorder.region->root.next;
    while (s->next) s = s->next;
    tc__program *p = (tc__program *)s->program;
    tc__launch *l = &p->launch.at[0];
    REQUIRE(p->launch.count == 1 && l->group->buffer.count == 2);
    REQUIRE(l->group->buffer.at[1].written); // what wrong_in_one_bit goes by
    tc__stand stand;
    tc__variant w[3];
    tc__entrant good = entrant_of(p, right = l->run, &w[0]);
    tc__entrant wrong = entrant_of(p, wrong_in_one_bit, &w[1]);
    tc__entrant idle = entrant_of(p, does_nothing, &w[2]);
    CHECK(tc__stand_open(&stand, p, l, UINT64_MAX));
    CHECK(!tc__stand_is_in_place(&stand));
    CHECK(tc__heat_want(&stand, &good));
    CHECK_EQ(differs(&stand, &good), 0);
    CHECK_EQ(differs(&stand, &wrong), 1);
    CHECK_EQ(differs(&stand, &idle), N); // what was there before does not pass for one
    CHECK_EQ(differs(&stand, &good), 0);
    tc__stand_close(&stand);
    tc_free(y);
    tc_close(tc);
}

// ---- remembered ----

TEST(the_next_context_measures_nothing) {
    open_folder();
    tc_options o = tuned(LONG);
    results first, second;
    tc_ctx *tc = open_context(folder);
    inputs in = make_inputs(tc);
    CHECK_EQ(visit(tc, products, &in, &o, &first), TC_OK);
    if (no_compiler(tc)) SKIP("no compiler");
    CHECK_EQ(tc_stats_get(tc).autotuned, 2);
    tc_close(tc);
    tc = open_context(folder);
    in = make_inputs(tc);
    tc_stats before = tc_stats_get(tc);
    CHECK_EQ(visit(tc, products, &in, &o, &second), TC_OK);
    tc_stats after = tc_stats_get(tc);
    expect_equal(&first, &second);
    CHECK_EQ(after.autotuned, 0);
    CHECK_EQ(after.autotune_ns, 0);
    CHECK_EQ(after.compiles - before.compiles, 0); // the chosen ones are on disk
    CHECK_EQ(after.disk_hits - before.disk_hits, 2);
    CHECK_EQ(after.disk_misses - before.disk_misses, 0);
    CHECK_STR(said, "");
    CHECK(strstr(tc_explain(tc), ", known from before\n"));
    // The default mode has its own kernels there.
    CHECK_EQ(tc_reset(tc), TC_OK);
    o.mode = "default";
    free_results(&second);
    CHECK_EQ(visit(tc, products, &in, &o, &second), TC_OK);
    expect_equal(&first, &second);
    CHECK_EQ(tc_stats_get(tc).compiles - before.compiles, 0);
    free_results(&first), free_results(&second);
    tc_close(tc);
    test_folder_remove(folder);
}

TEST(the_next_program_of_the_process_measures_nothing) {
    tc_ctx *tc = open_context(NULL);
    inputs in = make_inputs(tc);
    tc_options o = tuned(LONG);
    CHECK_EQ(visit(tc, softmax, &in, &o, NULL), TC_OK);
    if (no_compiler(tc)) SKIP("no compiler");
    tc_stats s = tc_stats_get(tc);
    CHECK_EQ(s.autotuned, 1);
    tc_trace_begin_with(tc, "another", &o);
    tc_softmax(in.x, -1);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    CHECK_EQ(tc_reset(tc), TC_OK);
    CHECK_EQ(visit(tc, softmax, &in, &o, NULL), TC_OK);
    tc_stats t = tc_stats_get(tc);
    CHECK_EQ(t.autotuned, 1);
    CHECK_EQ(t.autotune_ns, s.autotune_ns);
    CHECK_EQ(t.compiles, s.compiles);
    tc_close(tc);
}

// The key under which a choice for the first kernel of the region that ran last stands.
static int key_of(tc_ctx *tc, tc__text *key) {
    tc__step *s = tc->recorder.region->root.next;
    while (s->next) s = s->next;
    tc__program *p = (tc__program *)s->program;
    tc__launch *l = &p->launch.at[0];
    tc__tuning none;
    memset(&none, 0, sizeof none);
    tc__group_tune(l->group, tc->target, &none);
    tc__text_init(key, tc);
    int ok = tc__desk_ready(&tc->kernels->desk) &&
             tc__choice_key(key, &tc->kernels->desk, p, l->group);
    return ok;
}

// What is on disk is a hint: these are none, and the kernel is measured.
TEST(odd_entries_are_no_hints) {
    static const char *const odd[] = {
        "",
        "tuning 0 0 0 0 0 0 0 0 0; 3 tried; 5 5 ns",      // cut
        "tuning 0 0 0 0 0 9 0 0 0; 3 tried; 5 5 ns\n",    // a tile: it is no product
        "tuning 0 0 0 0 0 0 0 0 200; 3 tried; 5 5 ns\n"}; // no such value
    open_folder();
    tc_options o = tuned(LONG), plain = tc_options_default();
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        tc__text key;
        tc_ctx *tc = open_context(folder);
        inputs in = make_inputs(tc);
        CHECK_EQ(visit(tc, gather, &in, &plain, NULL), TC_OK);
        if (no_compiler(tc)) SKIP("no compiler");
        REQUIRE(key_of(tc, &key));
        CHECK(tc__cache_put(tc->kernels->desk.cache, key.at, key.size, odd[i],
                            strlen(odd[i])));
        tc__text_free(&key);
        tc_close(tc);
        tc = open_context(folder);
        in = make_inputs(tc);
        CHECK_EQ(visit(tc, gather, &in, &o, NULL), TC_OK);
        CHECK_EQ(tc_stats_get(tc).autotuned, 1);
        if (!strstr(said, "; ignored\n")) FAIL("\"%s\" is taken, or not seen", odd[i]);
        CHECK_EQ(warnings, 0);
        tc_close(tc);
    }
    test_folder_remove(folder);
}

// Every byte on disk flipped, in turn by files: nothing is loaded that should not be.
TEST(damaged_files_are_no_hints) {
    open_folder();
    tc_options o = tuned(LONG);
    results first, second;
    char path[400];
    tc_ctx *tc = open_context(folder);
    inputs in = make_inputs(tc);
    CHECK_EQ(visit(tc, gather, &in, &o, &first), TC_OK);
    if (no_compiler(tc)) SKIP("no compiler");
    tc_close(tc);
    snprintf(path, sizeof path, "%s/v1", folder);
    DIR *d = opendir(path);
    REQUIRE(d);
    int files = 0;
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        unsigned char byte;
        if (e->d_name[0] == '.') continue;
        int fd = openat(dirfd(d), e->d_name, O_RDWR);
        REQUIRE(fd >= 0);
        off_t at = lseek(fd, 0, SEEK_END) - 5;
        CHECK_EQ(pread(fd, &byte, 1, at), 1);
        byte ^= 1;
        CHECK_EQ(pwrite(fd, &byte, 1, at), 1);
        close(fd);
        files++;
    }
    closedir(d);
    CHECK(files >= 2); // a kernel, and a choice
    tc = open_context(folder);
    in = make_inputs(tc);
    CHECK_EQ(visit(tc, gather, &in, &o, &second), TC_OK);
    CHECK_EQ(tc_stats_get(tc).autotuned, 1);
    expect_equal(&first, &second);
    free_results(&first), free_results(&second);
    tc_close(tc);
    test_folder_remove(folder);
}

// ---- functions, and sizes at run time ----

static void body(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_sum(tc_exp(tc_mul_s(in[0], 0.5)), 1);
}

TEST(functions_are_measured_once) {
    tc_ctx *tc = open_context(NULL);
    inputs in = make_inputs(tc);
    tc_options o = tuned(LONG);
    tc_fn *f = tc_compile(tc, body, NULL, 0, &o);
    float first[ROWS], next[ROWS];
    for (int k = 0; k < 4; k++) {
        tc_tensor y;
        CHECK_EQ(tc_call(f, &in.x, 1, &y, 1), TC_OK);
        CHECK_EQ(tc_read(y, k ? next : first, sizeof first), TC_OK);
        if (k) CHECK_BYTES(next, first, sizeof first);
        tc_free(y);
    }
    CHECK_EQ(tc_stats_get(tc).autotuned, no_compiler(tc) ? 0 : 1);
    CHECK(tc_stats_get(tc).skips >= 2);
    tc_close(tc);
}

// A program for all sizes is measured at its first ones.
TEST(run_time_sizes_are_measured_once) {
    tc_ctx *tc = open_context(NULL), *ref = open_context(NULL);
    tc_options o = tuned(LONG), plain = tc_options_default();
    o.dynamic = TC_DYNAMIC_ON;
    plain.backend = "aot_eager";
    for (int n = 100; n < 700; n += 150) {
        float *got = (float *)malloc(sizeof(float) * (size_t)(2 * n)), *want = got + n;
        for (int side = 0; side < 2; side++) {
            tc_ctx *c = side ? tc : ref;
            tc_tensor x = numbers(c, TC_DIMS(n, 33), TC_F32, n);
            tc_trace_begin_at(c, "sizes", side ? &o : &plain, "autotune.c", 3);
            tc_tensor y = tc_keep(tc_sum(tc_softmax(x, 1), 1));
            CHECK_EQ(tc_trace_end(c), TC_OK);
            CHECK_EQ(tc_read(y, side ? got : want, sizeof(float) * (size_t)n), TC_OK);
            tc_free(y), tc_free(x);
        }
        CHECK_BYTES(got, want, sizeof(float) * (size_t)n);
        free(got);
    }
    CHECK_EQ(tc_stats_get(tc).programs, 1);
    CHECK_EQ(tc_stats_get(tc).autotuned, no_compiler(tc) ? 0 : 1);
    tc_close(tc), tc_close(ref);
}

// ---- beside other things ----

static int calls;

static tc_status counted(void *user, const tc_buffer *in, int n_in, const tc_buffer *out) {
    (void)user, (void)n_in;
    calls++;
    memcpy(out->data, in->data, sizeof(float) * ROWS * COLS);
    return TC_OK;
}

TEST(functions_of_the_users_are_called_once) {
    tc_ctx *tc = open_context(NULL);
    inputs in = make_inputs(tc);
    tc_options o = tuned(LONG);
    tc_custom_op op;
    memset(&op, 0, sizeof op);
    op.name = "counted", op.run = counted;
    int id = tc_register_op(tc, &op);
    REQUIRE(id > 0);
    tc_trace_begin_with(tc, "custom", &o);
    tc_tensor y = tc_keep(tc_sum_all(tc_custom(tc, id, &in.x, 1)));
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    CHECK_EQ(calls, 1);
    CHECK(isfinite(tc_item(y)));
    CHECK_EQ(tc_stats_get(tc).autotuned, 0);
    tc_close(tc);
}

TEST(an_index_out_of_range_is_an_error_and_nothing_else) {
    static const int64_t far_away[2] = {1, ROWS};
    tc_ctx *tc = open_context(NULL);
    inputs in = make_inputs(tc);
    tc_options o = tuned(LONG);
    tc_tensor at = tc_from_data(tc, far_away, TC_DIMS(2), TC_I64);
    tc_trace_begin_with(tc, "far", &o);
    tc_neg(tc_take(in.x, at, 0));
    tc_add_s_(in.b, 1);
    CHECK_EQ(tc_trace_end(tc), TC_E_INDEX);
    tc_error_clear(tc);
    CHECK_EQ(((const float *)tc_data(in.b))[0], (float)given(4)); // not modified
    tc_close(tc);
}

TEST(with_verify) {
    tc_ctx *tc = open_context(NULL);
    inputs in = make_inputs(tc);
    tc_options o = tuned(LONG);
    o.verify = 1;
    CHECK_EQ(visit(tc, products, &in, &o, NULL), TC_OK);
    CHECK_EQ(visit(tc, products, &in, &o, NULL), TC_OK);
    CHECK_EQ(warnings, 0);
    CHECK_EQ(tc_stats_get(tc).autotuned, no_compiler(tc) ? 0 : 2);
    tc_close(tc);
}

TEST(a_shared_context_asks_its_parent) {
    tc_ctx *tc = open_context(NULL);
    inputs in = make_inputs(tc);
    tc_options o = tuned(LONG);
    o.threads = 1; // as in the child, or it is another question
    CHECK_EQ(visit(tc, gather, &in, &o, NULL), TC_OK);
    if (no_compiler(tc)) SKIP("no compiler");
    tc_ctx *child = tc_open_shared(tc);
    REQUIRE(child);
    CHECK_EQ(visit(child, gather, &in, &o, NULL), TC_OK);
    CHECK_EQ(tc_stats_get(child).autotuned, 0);
    CHECK(strstr(tc_explain(child), ", known from before\n"));
    tc_close(child), tc_close(tc);
}

#    if TC__THREADS
static void *tune_elsewhere(void *arg) {
    tc_ctx *child = (tc_ctx *)arg;
    inputs in = make_inputs(child);
    tc_options o = tuned(LONG);
    CHECK_EQ(visit(child, gather, &in, &o, NULL), TC_OK);
    CHECK_EQ(visit(child, pointwise, &in, &o, NULL), TC_OK);
    return NULL;
}

// Contexts that share what is found, at the same time.
TEST(threads_tune_together) {
    enum { THREADS = 3 };
    tc_config config = tc_config_default();
    config.no_disk_cache = 1;
    pthread_t thread[THREADS];
    tc_ctx *tc = tc_open(&config), *child[THREADS];
    uint64_t all = 0;
    for (int i = 0; i < THREADS; i++) {
        child[i] = tc_open_shared(tc);
        REQUIRE(child[i]);
    }
    for (int i = 0; i < THREADS; i++)
        REQUIRE(!pthread_create(&thread[i], NULL, tune_elsewhere, child[i]));
    for (int i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
    for (int i = 0; i < THREADS; i++) {
        all += tc_stats_get(child[i]).autotuned;
        CHECK_STR(tc_error_text(child[i]), "");
    }
    CHECK(no_compiler(child[0]) || all >= 2); // each kernel by somebody
    for (int i = 0; i < THREADS; i++) tc_close(child[i]);
    tc_close(tc);
}
#    endif

// ---- memory runs out ----

static long left; // allocations until one fails; below 0: none does

static void *failing(void *user, void *p, size_t before, size_t after) {
    (void)user;
    if (after && left >= 0 && left-- == 0) return NULL;
    return checked_realloc(p, before, after);
}

// Wherever measuring runs out of memory, the region works, or says so.
TEST(out_of_memory) {
    tc_options o = tuned(LONG);
    int worked = 0, failed = 0;
    for (long at = 40; at < 1400; at += 97) {
        float result[ROWS];
        tc_config config = tc_config_default();
        config.allocator.realloc = failing, config.logger.log = on_log;
        config.no_disk_cache = 1, config.threads = 2;
        left = -1;
        tc_ctx *tc = tc_open(&config);
        tc_tensor x = tc_full(tc, TC_DIMS(ROWS, 8), 0.5, TC_F32);
        left = at;
        tc_trace_begin_with(tc, "scarce", &o);
        tc_tensor y = tc_keep(tc_sum(x, 1));
        tc_status s = tc_trace_end(tc);
        left = -1;
        if (s) failed++, tc_error_clear(tc);
        if (!s) worked++, CHECK_EQ(tc_read(y, result, sizeof result), TC_OK);
        for (int i = 0; !s && i < ROWS; i++) CHECK_EQ(result[i], 4);
        tc_close(tc);
    }
    CHECK(worked > 0);
    CHECK(failed > 0);
}

// ---- seeing ----

TEST(the_channel_and_the_report) {
    tc_ctx *tc = open_context(NULL);
    inputs in = make_inputs(tc);
    tc_options o = tuned(LONG);
    CHECK_EQ(visit(tc, softmax, &in, &o, NULL), TC_OK);
    if (no_compiler(tc)) SKIP("no compiler");
    CHECK(strstr(
        said, "region \"tuned\", k0_reduction_max_sub_exp_sum_reciprocal_mul: default: "));
    CHECK(strstr(said, "sums in memory: ") || strstr(said, "sums in registers: "));
    CHECK(strstr(said, "threads one: "));
    CHECK(strstr(said, " candidates compiled in "));
    CHECK(strstr(said, " is kept: "));
    CHECK(strstr(said, " us by default, "));
    const char *text = tc_explain(tc);
    CHECK(strstr(text, "\n    autotune: "));
    CHECK(strstr(text, ", best of "));
    CHECK(strstr(text, "\nkernels measured in "));
    CHECK(strstr(text, ", autotune "));
    tc_close(tc);
}

TEST(the_profiler_sees_it) {
    tc_ctx *tc = open_context(NULL);
    inputs in = make_inputs(tc);
    tc_options o = tuned(LONG);
    open_folder();
    char path[100], text[100000];
    snprintf(path, sizeof path, "%s/trace.json", folder);
    CHECK_EQ(tc_profile_begin(tc), TC_OK);
    CHECK_EQ(visit(tc, gather, &in, &o, NULL), TC_OK);
    CHECK_EQ(tc_profile_end(tc), TC_OK);
    CHECK_EQ(tc_profile_trace(tc, path), TC_OK);
    FILE *f = fopen(path, "r");
    REQUIRE(f);
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    CHECK(no_compiler(tc) || strstr(text, "autotune"));
    tc_close(tc);
    test_folder_remove(folder);
}

// What a terminal gets: lines that replace each other, and nothing at the end.
TEST(progress_on_a_terminal) {
    char text[60000];
    size_t n = 0;
    int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    if (terminal < 0 || grantpt(terminal) || unlockpt(terminal)) SKIP("no terminals");
    int screen = open(ptsname(terminal), O_RDWR | O_NOCTTY), saved = dup(2);
    if (screen < 0) SKIP("no terminals");
    dup2(screen, 2);
    tc_config config = tc_config_default();
    config.threads = 2, config.no_disk_cache = 1;
    tc_ctx *tc = tc_open(&config);
    inputs in = make_inputs(tc);
    tc_options o = tuned(LONG);
    CHECK_EQ(visit(tc, gather, &in, &o, NULL), TC_OK);
    fcntl(terminal, F_SETFL, O_NONBLOCK);
    for (ssize_t got; n < sizeof text - 1; n += (size_t)got)
        if ((got = read(terminal, text + n, sizeof text - 1 - n)) <= 0) break;
    text[n] = 0;
    dup2(saved, 2);
    if (no_compiler(tc)) SKIP("no compiler");
    CHECK(strstr(text, "\rautotune: region \"tuned\": kernel 1/1, "));
    CHECK(strstr(text, " candidates, "));
    CHECK(strstr(text, " s of 600 "));
    CHECK(n > 2 && text[n - 1] == '\r' && text[n - 2] == ' ');
    CHECK(!strchr(text, '\n'));
    tc_close(tc);
    close(screen), close(terminal), close(saved);
}

#endif
