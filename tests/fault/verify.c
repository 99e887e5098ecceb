// Option verify: first runs of compiled code are compared with the interpreter's. The compiler here is
// a script that lies: it makes 4095 of every 4096 in the text before it calls the real one. Values come
// from plain C.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

#include "harness.h"

#include <math.h>
#include <sys/stat.h>

enum { N = 40, TRUE = 4096, LIE = 4095 };

// ---- a compiler ----

static char folder[] = "/tmp/tc-verify-XXXXXX";
static char compiler[64];

// `edit` is what sed does to the text. The answer to -### is none that is understood, so that the
// script itself is what builds.
static void open_compiler(const char *edit) {
    const char *real = getenv("CC") ? getenv("CC") : "cc";
    memcpy(folder + strlen(folder) - 6, "XXXXXX", 6);
    CHECK(mkdtemp(folder) != NULL);
    snprintf(compiler, sizeof compiler, "%s/cc", folder);
    FILE *f = fopen(compiler, "w");
    REQUIRE(f);
    fprintf(f, "#!/bin/sh\n");
    fprintf(f, "case \"$*\" in *-###*) echo nobody knows >&2; exit 0 ;; esac\n");
    fprintf(f,
            "for w; do case $w in *.c) sed '%s' \"$w\" >\"$w.x\" && mv \"$w.x\" \"$w\" ;;",
            edit);
    fprintf(f, " esac; done\nexec %s \"$@\"\n", real);
    fclose(f);
    REQUIRE(!chmod(compiler, 0755));
    unsetenv("CC");
}

static void open_liar(void) { open_compiler("s/4096\\.0f/4095.0f/g"); }

static void close_compiler(void) {
    char command[80];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    CHECK_EQ(system(command), 0);
}

// ---- a context ----

static int warnings;
static char warning[1024];

static void on_log(void *user, int level, const char *channel, const char *text) {
    (void)user, (void)channel;
    if (level != 1) return;
    warnings++;
    snprintf(warning, sizeof warning, "%s", text);
}

static tc_ctx *open_context(int threads) {
    tc_config config = tc_config_default();
    config.threads = threads, config.cc = compiler, config.logger.log = on_log;
    config.no_disk_cache = 1;
    return tc_open(&config);
}

static tc_options verified(void) {
    tc_options o = tc_options_default();
    o.verify = 1;
    return o;
}

static tc_tensor filled(tc_ctx *tc, double v) { return tc_full(tc, TC_DIMS(N), v, TC_F32); }

static double at(tc_tensor t, int i) {
    float x[8 * N];
    size_t n = (size_t)tc_numel(t);
    if (n > 8 * N || tc_read(t, x, n * sizeof *x)) return NAN;
    return (double)x[i];
}

// y = 4096 x
static double visit(tc_ctx *tc, const tc_options *o, double v) {
    tc_tensor x = filled(tc, v);
    tc_trace_begin_at(tc, "times", o, "verify.c", 1);
    tc_tensor y = tc_mul_s(x, TRUE);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    double got = at(y, N - 1);
    tc_free(x);
    return got;
}

static void check_warned(int times) {
    CHECK_EQ(warnings, times);
    if (times) CHECK(strstr(warning, "differ in") && strstr(warning, "stays interpreted"));
}

static void check_tier(tc_ctx *tc, const char *how) {
    if (!strstr(tc_explain(tc), how)) FAIL("no \"%s\" in %s", how, tc_explain(tc));
}

// ---- what lies is caught ----

TEST(without_verify_the_lie_is_believed) {
    open_liar();
    tc_ctx *tc = open_context(1);
    for (int k = 1; k < 4; k++) CHECK_EQ(visit(tc, NULL, k), LIE * k);
    check_warned(0);
    check_tier(tc, "runs compiled");
    tc_close(tc);
    close_compiler();
}

TEST(a_lie_in_a_region) {
    open_liar();
    for (int threads = 1; threads < 3; threads++) {
        tc_options o = verified();
        tc_ctx *tc = open_context(threads);
        warnings = 0;
        for (int k = 1; k < 5; k++) {
            CHECK_EQ(visit(tc, &o, k), TRUE * k);
            check_warned(1);
        }
        CHECK(strstr(warning, "region \"times\"") && strstr(warning, " 40 elements"));
        check_tier(tc, "runs in the interpreter");
        CHECK_EQ(tc_stats_get(tc).kernels_made, 1);
        CHECK_EQ(tc_error(tc), TC_OK);
        tc_close(tc);
    }
    close_compiler();
}

static void times(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_mul_s(in[0], TRUE);
}

// Calls that skip the body too, the short cut among them.
TEST(a_lie_in_a_function) {
    open_liar();
    tc_options o = verified();
    tc_ctx *tc = open_context(1);
    tc_fn *f = tc_compile(tc, times, NULL, 0, &o);
    for (int k = 1; k < 8; k++) {
        tc_tensor x = filled(tc, k), y;
        CHECK_EQ(tc_call(f, &x, 1, &y, 1), TC_OK);
        CHECK_EQ(at(y, 0), TRUE * k);
    }
    CHECK_EQ(tc_stats_get(tc).skips, 5);
    check_warned(1);
    tc_close(tc);
    close_compiler();
}

// The kernel writes the tensor itself; and one where the result is copied there.
TEST(lies_in_place) {
    open_liar();
    tc_options o = verified();
    tc_ctx *tc = open_context(1);
    tc_tensor direct = filled(tc, 1), wide = tc_ones(tc, TC_DIMS(N, 2), TC_F32);
    tc_tensor strided = tc_select(wide, 1, 1);
    double d = 1, s = 1;
    for (int k = 0; k < 4; k++) {
        tc_trace_begin_with(tc, "direct", &o);
        tc_add_s_(direct, TRUE);
        CHECK_EQ(tc_trace_end(tc), TC_OK);
        if (!k) CHECK(strstr(tc_explain(tc), "written by the kernel itself"));
        tc_trace_begin_with(tc, "strided", &o);
        tc_tensor y = tc_mul_s(strided, 2);
        tc_sub_s_(strided, TRUE);
        CHECK_EQ(tc_trace_end(tc), TC_OK);
        CHECK_EQ(at(y, 3), 2 * s);
        d += TRUE, s -= TRUE;
        CHECK_EQ(at(direct, 3), d);
        CHECK_EQ(at(strided, 3), s);
        CHECK_EQ(at(wide, 6), 1);
        check_warned(2);
    }
    tc_close(tc);
    close_compiler();
}

static void accumulate(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    tc_add_(in[0], tc_mul_s(in[1], TRUE));
    out[0] = tc_sum_all(in[1]);
}

TEST(lies_in_place_in_a_function) {
    open_liar();
    tc_options o = verified();
    tc_ctx *tc = open_context(1);
    tc_fn *f = tc_compile(tc, accumulate, NULL, 0, &o);
    tc_tensor in[2], y;
    in[0] = filled(tc, 0), in[1] = filled(tc, 1);
    for (int k = 1; k < 7; k++) {
        CHECK_EQ(tc_call(f, in, 2, &y, 1), TC_OK);
        CHECK_EQ(at(in[0], 5), TRUE * k);
        CHECK_EQ(at(y, 0), N);
    }
    check_warned(1);
    tc_close(tc);
    close_compiler();
}

// Every program is compared: of each segment, and the one for other sizes.
TEST(every_program_is_compared) {
    open_liar();
    tc_options o = verified();
    tc_ctx *tc = open_context(1);
    for (int k = 0; k < 4; k++) {
        int n = 2 * N + k;
        tc_tensor x = tc_ones(tc, TC_DIMS(n), TC_F32);
        tc_trace_begin_with(tc, "segments", &o);
        tc_tensor y = tc_mul_s(x, TRUE);
        double total = tc_item(tc_sum_all(y));
        tc_tensor z = tc_add_s(tc_mul_s(y, 2), TRUE);
        CHECK_EQ(tc_trace_end(tc), TC_OK);
        CHECK_EQ(total, (double)TRUE * n);
        CHECK_EQ(at(z, n - 1), 3 * TRUE);
    }
    CHECK_EQ(warnings, tc_stats_get(tc).programs);
    CHECK(warnings >= 4);
    tc_close(tc);
    close_compiler();
}

// Another program with the same kernel is not taken in either.
TEST(a_kernel_that_is_known_to_the_process) {
    open_liar();
    tc_options o = verified();
    tc_ctx *tc = open_context(1);
    CHECK_EQ(visit(tc, &o, 1), TRUE);
    tc_tensor x = filled(tc, 3);
    tc_trace_begin_with(tc, "the same", &o);
    tc_tensor y = tc_mul_s(x, TRUE);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    CHECK_EQ(at(y, 0), 3 * TRUE);
    CHECK_EQ(tc_stats_get(tc).memory_hits, 1);
    check_warned(2);
    tc_close(tc);
    close_compiler();
}

// Code that comes later is compared when it comes.
TEST(lies_from_the_background) {
    open_liar();
    tc_options o = verified();
    tc_ctx *tc = open_context(1);
    tc_set_stance(tc, TC_STANCE_EAGER_THEN_COMPILE);
    CHECK_EQ(visit(tc, &o, 1), TRUE);
    CHECK_EQ(tc_wait_compiled(tc), TC_OK);
    for (int k = 2; k < 5; k++) CHECK_EQ(visit(tc, &o, k), TRUE * k);
    check_warned(1);
    CHECK_EQ(tc_stats_get(tc).kernels_made, 1);
    tc_close(tc);

    tc = open_context(1); // and where it was put off
    tc_set_stance(tc, TC_STANCE_EAGER_ON_RECOMPILE);
    for (int k = 1; k < 3; k++) CHECK_EQ(visit(tc, &o, k), TRUE * k);
    check_warned(1);
    tc_set_stance(tc, TC_STANCE_DEFAULT);
    for (int k = 1; k < 3; k++) CHECK_EQ(visit(tc, &o, k), TRUE * k);
    check_warned(2);
    tc_close(tc);
    close_compiler();
}

TEST(the_variable_turns_it_on) {
    open_liar();
    setenv("TC_VERIFY", "1", 1);
    tc_ctx *tc = open_context(1);
    CHECK_EQ(visit(tc, NULL, 2), 2 * TRUE);
    check_warned(1);
    tc_close(tc);
    close_compiler();
}

// ---- what is right passes ----

// Many kinds of kernels; everything twice, written in place as well.
TEST(right_code_passes_silently) {
    open_compiler("s/x/x/");
    tc_options o = verified();
    tc_ctx *tc = open_context(2);
    tc_tensor x = tc_randn(tc, TC_DIMS(24, N), TC_F32), state = tc_zeros_like(x);
    for (int k = 0; k < 3; k++) {
        tc_trace_begin_with(tc, "right", &o);
        tc_tensor y = tc_softmax(tc_add(x, tc_scalar(tc, k, TC_F32)), -1);
        tc_add_(state, y);
        tc_tensor z = tc_matmul(y, tc_transpose(x, 0, 1));
        tc_keep(tc_argmax(tc_add(z, tc_rand(tc, TC_DIMS(24), TC_F32)), 0));
        tc_sqrt(tc_sub_s(z, 0.5)); // with NaN
        CHECK_EQ(tc_trace_end(tc), TC_OK);
        CHECK_NEAR(at(tc_sum(state, 1), 3), k + 1, 1e-5);
    }
    check_warned(0);
    check_tier(tc, "runs compiled");
    CHECK_EQ(tc_error(tc), TC_OK);
    tc_close(tc);
    close_compiler();
}

// The lie does not show where x is 0: the first run is believed, and the next that is compared with other
// values is not. Which runs are compared is the same each time.
TEST(later_runs_are_compared) {
    int caught[2][4];
    open_liar();
    for (int turn = 0; turn < 2; turn++)
        for (int every = 1; every < 5; every++) {
            tc_options o = tc_options_default();
            o.verify = every;
            tc_ctx *tc = open_context(1);
            int *at_run = &caught[turn][every - 1];
            warnings = 0;
            CHECK_EQ(visit(tc, &o, 0), 0);
            for (*at_run = 0; *at_run < 100 && !warnings; ++*at_run) {
                double got = visit(tc, &o, 1);
                CHECK_EQ(got, warnings ? TRUE : LIE);
            }
            check_warned(1);
            CHECK_EQ(visit(tc, &o, 2), 2 * TRUE);
            check_warned(1);
            tc_close(tc);
        }
    CHECK(caught[0][0] == 1 && caught[0][3] > 1);
    CHECK_BYTES(caught[0], caught[1], sizeof caught[0]);
    close_compiler();
}

static int custom_calls;

static tc_status times_run(void *user, const tc_buffer *in, int n_in,
                           const tc_buffer *out) {
    const float *x = (const float *)in->data;
    float *y = (float *)out->data;
    (void)user, (void)n_in;
    custom_calls++;
    for (int i = 0; i < N; i++) y[i] = x[i] * 4096.0f;
    return TC_OK;
}

// A custom op's text is compared with its function; the program stays with that where they differ.
TEST(a_lie_in_a_custom_op) {
    open_compiler("s/x/x/");
    for (int lies = 0; lies < 2; lies++) {
        static const char text[2][300] = {
            "tc_status times(void *user, const tc_buffer *in, int n_in, const tc_buffer *out) {"
            "const float *x = in->data; float *y = out->data; (void)user; (void)n_in;"
            "for (int i = 0; i < 40; i++) y[i] = x[i] * 4096.0f; return TC_OK; }",
            "tc_status times(void *user, const tc_buffer *in, int n_in, const tc_buffer *out) {"
            "const float *x = in->data; float *y = out->data; (void)user; (void)n_in;"
            "for (int i = 0; i < 40; i++) y[i] = x[i] * 4095.0f; return TC_OK; }"};
        tc_options o = verified();
        tc_ctx *tc = open_context(1);
        tc_custom_op op;
        memset(&op, 0, sizeof op);
        op.name = "times", op.run = times_run, op.c_source = text[lies];
        int number = tc_register_op(tc, &op);
        CHECK(number != 0);
        warnings = custom_calls = 0;
        for (int k = 1; k < 4; k++) {
            tc_tensor x = filled(tc, k);
            tc_trace_begin_at(tc, "custom", &o, "verify.c", 2);
            tc_tensor y = tc_neg(tc_custom(tc, number, &x, 1));
            CHECK_EQ(tc_trace_end(tc), TC_OK);
            CHECK_EQ(at(y, 7), -TRUE * k);
        }
        check_warned(lies);
        if (lies) CHECK(strstr(warning, "custom op \"times\""));
        CHECK_EQ(custom_calls, 3);
        CHECK_EQ(tc_error(tc), TC_OK);
        tc_close(tc);
    }
    close_compiler();
}

TEST(an_index_out_of_range_is_still_told) {
    open_compiler("s/x/x/");
    tc_options o = verified();
    tc_ctx *tc = open_context(1);
    for (int k = 0; k < 3; k++) {
        int64_t bad = k == 1 ? 2 : N + 5;
        tc_tensor i = tc_from_data(tc, &bad, TC_DIMS(1), TC_I64), x = filled(tc, 7);
        tc_trace_begin_with(tc, "index", &o);
        tc_tensor y = tc_take(x, i, 0);
        CHECK_EQ(tc_trace_end(tc), k == 1 ? TC_OK : TC_E_INDEX);
        tc_error_clear(tc);
        if (k == 1) CHECK_EQ(at(y, 0), 7);
    }
    check_warned(0);
    tc_close(tc);
    close_compiler();
}

// Code that finds an index out of range where none is: values are equal, the flag is not.
TEST(a_lie_about_an_index) {
    open_compiler("s/, 4096, /, 4095, /g");
    for (int verify = 0; verify < 2; verify++) {
        tc_options o = verify ? verified() : tc_options_default();
        tc_ctx *tc = open_context(1);
        tc_tensor x = tc_ones(tc, TC_DIMS(TRUE), TC_F32);
        for (int k = 0; k < 2; k++) {
            int64_t last = TRUE - 1;
            tc_tensor i = tc_from_data(tc, &last, TC_DIMS(1), TC_I64);
            tc_trace_begin_with(tc, "last", &o);
            tc_take(x, i, 0);
            CHECK_EQ(tc_trace_end(tc), verify ? TC_OK : TC_E_INDEX);
            tc_error_clear(tc);
        }
        check_warned(verify);
        tc_close(tc);
    }
    close_compiler();
}

TEST(what_is_equal) {
    float nan1 = NAN, nan2, zero = 0, minus = -0.0f, pair[2] = {1, 2}, other[2] = {1, 3};
    double wide = NAN, wide2 = -wide;
    uint8_t bytes[4] = {0, 1, 2, 3}, bytes2[4] = {0, 9, 2, 9};
    int64_t whole = -1, whole2 = INT64_MAX;
    uint32_t payload = 0xffc00123;
    memcpy(&nan2, &payload, sizeof nan2);
    CHECK_EQ(tc__bits_differ(TC_F32, &nan1, &nan2, 4), 0);
    CHECK_EQ(tc__bits_differ(TC_F32, &nan1, &zero, 4), 1);
    CHECK_EQ(tc__bits_differ(TC_F32, &zero, &minus, 4), 1);
    CHECK_EQ(tc__bits_differ(TC_F32, pair, other, 8), 1);
    CHECK_EQ(tc__bits_differ(TC_F32, pair, pair, 8), 0);
    CHECK_EQ(tc__bits_differ(TC_F64, &wide, &wide2, 8), 0);
    CHECK_EQ(tc__bits_differ(TC_U8, bytes, bytes2, 4), 2);
    CHECK_EQ(tc__bits_differ(TC_BOOL, bytes, bytes2, 1), 0);
    CHECK_EQ(tc__bits_differ(TC_I64, &whole, &whole2, 8), 1);
    CHECK_EQ(tc__bits_differ(TC_I64, &whole, &whole2, 0), 0);
}

// ---- memory that ends ----

static int left = -1; // allocations until they fail; -1 = never

static void *limited(void *user, void *p, size_t old, size_t size) {
    (void)user;
    if (size && left == 0) return NULL;
    if (size && left > 0) left--;
    return checked_realloc(p, old, size);
}

// At each allocation of the first visit: the right result and no error, or the error. The code comes
// from the disk, where the liar has left it.
TEST(out_of_memory_while_it_is_compared) {
    int failed = 0, good = 0;
    char cache[64];
    open_liar();
    snprintf(cache, sizeof cache, "%s/cache", folder);
    for (int k = 0; k < 1000 && good < 3; k++) {
        tc_options o = verified();
        tc_config config = tc_config_default();
        config.threads = 1, config.cc = compiler, config.logger.log = on_log;
        config.cache_dir = cache, config.allocator.realloc = limited;
        tc_ctx *tc = tc_open(&config);
        tc_tensor x = filled(tc, 2);
        CHECK_EQ(tc_trace_begin_with(tc, "poor", &o), TC_OK);
        left = k ? k : -1; // the first one fills the cache
        tc_tensor y = tc_mul_s(x, TRUE);
        tc_add_s_(x, TRUE);
        tc_status s = tc_trace_end(tc);
        int ended = left == 0;
        left = -1;
        if ((s == TC_OK) != (tc_error(tc) == TC_OK))
            FAIL("allocation %d: %s, but %s", k, tc_status_name(s), tc_error_text(tc));
        if (s) CHECK_EQ(s, TC_E_NOMEM);
        tc_error_clear(tc);
        double written = at(x, 1);
        if (s) CHECK_EQ(written, 2);
        // Where there is no memory to compare, that is put off.
        if (!s) CHECK_EQ(written, 2 + TRUE);
        if (!s) CHECK_EQ(at(y, 1), 2 * TRUE);
        failed += s != TC_OK, good += k && !ended;
        tc_close(tc);
    }
    CHECK(failed > 10);
    CHECK_EQ(good, 3);
    close_compiler();
}

// ---- every constant of a kernel ----

enum { CONSTANTS = 34, WIDE = 8 * N };

static double constant(int k) { return 101 + 2 * k; }

// Constants that every element shows, and such that only an element between a threshold and the changed one does.
static tc_tensor many(tc_tensor x) {
    tc_tensor y = x;
    for (int k = 0; k < CONSTANTS; k++)
        y = k % 2 ? tc_add(y, tc_cast(tc_gt_s(x, constant(k)), TC_F32))
                  : tc_add_s(y, constant(k));
    return y;
}

static double expected_many(double x) {
    double y = x;
    for (int k = 0; k < CONSTANTS; k++)
        y += k % 2 ? (double)(x > constant(k)) : constant(k);
    return y;
}

// One visit with whole numbers in [-reach, reach): how many elements are wrong.
static int wrong_elements(tc_ctx *tc, const tc_options *o, unsigned call, unsigned reach) {
    float x[WIDE], y[WIDE];
    int wrong = 0;
    for (unsigned i = 0; i < WIDE; i++)
        x[i] = (float)((int)(test_word(i, call) % (2 * reach)) - (int)reach);
    tc_tensor t = tc_from_data(tc, x, TC_DIMS(WIDE), TC_F32);
    tc_trace_begin_at(tc, "many", o, "verify.c", 2);
    tc_tensor r = many(t);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    CHECK_EQ(tc_read(r, y, sizeof y), TC_OK);
    for (int i = 0; i < WIDE; i++) wrong += (double)y[i] != expected_many((double)x[i]);
    tc_free(t);
    return wrong;
}

// First values are small, so half of the changes do no harm then. One run in four is compared: what does harm is
// caught sooner or later (of 400 runs some 170 show it, so that all 40 that are compared miss it happens in none of 10^9
// tests), and from then on all is right.
TEST(every_changed_constant) {
    tc_options o = verified();
    o.verify = 4;
    for (int k = 0; k < CONSTANTS; k++) {
        char edit[64];
        snprintf(edit, sizeof edit, "s/%d\\.0f/%d.0f/g", (int)constant(k),
                 (int)constant(k) + 1);
        open_compiler(edit);
        tc_ctx *tc = open_context(1);
        int harm = 0;
        warnings = 0;
        for (unsigned call = 0; call < 400 && !warnings; call++)
            harm += wrong_elements(tc, &o, call, call < 2 ? 64 : 256);
        CHECK(warnings == 1 || FAIL("%g was made %g, with %d wrong elements, unnoticed",
                                    constant(k), constant(k) + 1, harm));
        for (unsigned call = 400; call < 410; call++)
            CHECK_EQ(wrong_elements(tc, &o, call, 256), 0);
        tc_close(tc);
        close_compiler();
    }
}

// The same changes do harm where nobody compares: the test above is no test of text that is not there.
TEST(every_changed_constant_does_harm) {
    for (int k = 0; k < CONSTANTS; k++) {
        char edit[64];
        int harm = 0;
        snprintf(edit, sizeof edit, "s/%d\\.0f/%d.0f/g", (int)constant(k),
                 (int)constant(k) + 1);
        open_compiler(edit);
        tc_ctx *tc = open_context(1);
        for (unsigned call = 0; call < 40 && !harm; call++)
            harm = wrong_elements(tc, NULL, call, 256);
        CHECK(harm > 0 || FAIL("%g", constant(k)));
        tc_close(tc);
        close_compiler();
    }
}
