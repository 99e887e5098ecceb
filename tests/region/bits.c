// Equal bits: whole regions on awkward sizes and values give, byte for byte, what the
// interpreter gives with one thread: compiled by gcc and by clang, for this CPU and for the
// oldest of its architecture, with one and two threads, unfused, without passes. Any NaN equals
// any NaN. A compiler that is not installed is a skip.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

#define TEST_NO_MAIN
#include "harness.h"

#include "bits.h"

// ---- running and comparing ----

typedef struct results {
    int n;
    tc_dtype dtype[MOST];
    size_t bytes[MOST];
    unsigned char *at[MOST];
} results;

static void free_results(results *r) {
    for (int i = 0; i < r->n; i++) free(r->at[i]);
    r->n = 0;
}

static void run_region_with(tc_ctx *tc, const inputs *in, size_t which,
                            const tc_options *options, results *r) {
    tc_tensor out[MOST];
    tc_scope_begin(tc);
    tc_manual_seed(tc, 11 + which);
    tc_trace_begin_with(tc, regions[which].name, options);
    r->n = regions[which].make(tc, in, out);
    for (int i = 0; i < r->n; i++) out[i] = tc_keep(out[i]);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    for (int i = 0; i < r->n; i++) {
        r->dtype[i] = tc_dtype_of(out[i]);
        r->bytes[i] = (size_t)tc_numel(out[i]) * tc_dtype_bytes(r->dtype[i]);
        r->at[i] = (unsigned char *)calloc(r->bytes[i] + 1, 1);
        CHECK(tc_numel(out[i]) > 0);
        CHECK_EQ(tc_read(out[i], r->at[i], r->bytes[i]), TC_OK);
        tc_free(out[i]);
    }
    tc_scope_end(tc);
    CHECK_STR(tc_error_text(tc), "");
    tc_error_clear(tc);
}

static void run_region(tc_ctx *tc, const inputs *in, size_t which, results *r) {
    run_region_with(tc, in, which, NULL, r);
}

static double element(const results *r, int i, size_t k) {
    float f;
    double d;
    if (r->dtype[i] == TC_F32) return memcpy(&f, r->at[i] + 4 * k, 4), (double)f;
    if (r->dtype[i] == TC_F64) return memcpy(&d, r->at[i] + 8 * k, 8), d;
    return 0;
}

static void compare(const char *name, const results *a, const results *b) {
    REQUIRE(a->n == b->n);
    for (int i = 0; i < a->n; i++) {
        size_t size = tc_dtype_bytes(a->dtype[i]), wrong = 0;
        REQUIRE(a->dtype[i] == b->dtype[i] && a->bytes[i] == b->bytes[i]);
        for (size_t k = 0; k * size < a->bytes[i]; k++) {
            double x = element(a, i, k), y = element(b, i, k);
            if (!memcmp(a->at[i] + k * size, b->at[i] + k * size, size)) continue;
            if ((x == x || y == y) && !wrong++)
                FAIL("%s, result %d, element %lu: %.9g, interpreted %.9g", name, i,
                     (unsigned long)k, y, x);
        }
    }
}

static void no_log(void *user, int level, const char *channel, const char *text) {
    (void)user, (void)channel;
    if (level > 0) printf("%s\n", text);
}

// gcc keeps what it makes for the suite, where that has one that does.
static tc_config config_of(const char *backend, const char *cc, int threads) {
    tc_config config = tc_config_default();
    const char *kept = getenv("TEST_GCC");
    if (cc && !strcmp(cc, "gcc") && kept && *kept) cc = kept;
    config.backend = backend, config.cc = cc, config.threads = threads;
    config.logger.log = no_log;
    return config;
}

enum { REGIONS = sizeof regions / sizeof *regions };

// What each region gives in the interpreter with one thread: once, ahead of all tests, which inherit it.
static results expected[REGIONS];

static void make_expected(void) {
    tc_config plain = config_of("aot_eager", NULL, 1);
    tc_ctx *tc = tc_open(&plain);
    inputs in = make_inputs(tc);
    for (size_t i = 0; i < REGIONS; i++) run_region(tc, &in, i, &expected[i]);
    tc_close(tc);
}

static void check_config(const tc_config *config) {
    int compiled = !strcmp(config->backend, "cpu");
    tc_ctx *tc = tc_open(config);
    inputs in = make_inputs(tc);
    for (size_t i = 0; i < REGIONS; i++) {
        results r;
        if (tc->target == TC__EMIT_PLAIN && compiled && regions[i].slow) continue;
        run_region(tc, &in, i, &r);
        compare(regions[i].name, &expected[i], &r);
        free_results(&r);
    }
    tc_stats s = tc_stats_get(tc);
    CHECK_EQ(s.fallbacks, 0);
    CHECK((s.compiles + s.disk_hits > 0) == compiled);
    tc_close(tc);
}

static const char no_sanitizer[] = "kernels have no sanitizer in them; gcc ran";

static const char for_all[] = "of ./build.sh test all";

// With TC_ISA the suite asks what an older CPU makes of all; what names its instructions ran without.
static const char named[] = "it names its instructions; it runs without TC_ISA";

// What clang makes for the oldest CPU is that of such a test. Of random tunings there is one draw.
static const char as_named[] =
    "a test that names these instructions, or asks the same, runs without TC_ISA";
// What the interpreter does with threads and lists is the same for every CPU.
static int is_oldest(void) {
    const char *isa = getenv("TC_ISA");
    return isa && !strcmp(isa, "baseline");
}

static void check_compiler(const char *cc, int threads, const char *isa) {
    char line[200], why[100];
    if (isa && getenv("TC_ISA")) SKIP(named);
    if (is_oldest() && strcmp(cc, "gcc")) SKIP(as_named);
    if (!test_all() && (isa || strcmp(cc, "gcc"))) SKIP(for_all);
    if (TEST_SANITIZED && (isa || strcmp(cc, "gcc"))) SKIP(no_sanitizer);
    tc_config config = config_of("cpu", cc, threads);
    snprintf(line, sizeof line, "%s --version >/dev/null 2>&1", cc);
    snprintf(why, sizeof why, "no %s", cc);
    if (system(line)) SKIP(why);
    config.isa = isa;
    check_config(&config);
}

// Two threads of the same compiler come last: they find the kernels in the cache.
TEST(gcc) { check_compiler("gcc", 1, NULL); }
TEST(gcc_two_threads) { check_compiler("gcc", 2, NULL); }
TEST(gcc_oldest_cpu) { check_compiler("gcc", 1, "baseline"); }
TEST(gcc_oldest_cpu_two_threads) { check_compiler("gcc", 2, "baseline"); }
TEST(clang) { check_compiler("clang", 1, NULL); }
TEST(clang_two_threads) { check_compiler("clang", 2, NULL); }
TEST(clang_oldest_cpu) { check_compiler("clang", 1, "baseline"); }
TEST(clang_oldest_cpu_two_threads) { check_compiler("clang", 2, "baseline"); }

TEST(compiled_unfused) {
    if (TEST_SANITIZED) SKIP(no_sanitizer);
    tc_config config = config_of("cpu", NULL, 2);
    config.no_fusion = 1;
    check_config(&config);
}

TEST(compiled_without_passes) {
    if (TEST_SANITIZED) SKIP(no_sanitizer);
    tc_config config = config_of("cpu", NULL, 2);
    config.passes_off = "all";
    check_config(&config);
}

TEST(interpreted_two_threads) {
    if (is_oldest()) SKIP(as_named);
    tc_config config = config_of("aot_eager", NULL, 2);
    check_config(&config);
}

TEST(interpreted_unfused) {
    if (is_oldest()) SKIP(as_named);
    tc_config config = config_of("aot_eager", NULL, 2);
    config.no_fusion = 1;
    check_config(&config);
}

TEST(interpreted_without_passes) {
    if (is_oldest()) SKIP(as_named);
    tc_config config = config_of("aot_eager", NULL, 1);
    config.passes_off = "all";
    check_config(&config);
}

// ---- any tuning ----

static uint64_t seed;

// What was chosen of each knob, and a region that has a kernel with that value; -1 = none seen.
typedef struct coverage {
    int used[TC__KNOBS][TC__KNOB_VALUES];
    int region[TC__KNOBS][TC__KNOB_VALUES];
} coverage;

// The program at the end of the only path of the region that ran last.
static tc__program *last_program(tc_ctx *tc) {
    tc__step *s = tc->recorder.region->root.next;
    while (s && s->next) s = s->next;
    return s ? (tc__program *)s->program : NULL;
}

static int news(const coverage *seen, const tc__tuning *t) {
    int n = 0;
    for (int k = 0; k < TC__KNOBS; k++) n += !seen->used[k][t->knob[k]];
    return n;
}

// One of n tunings at random, of those with most values that were never chosen: so what is covered is what
// the kernels have, not what was drawn.
static const tc__tuning *draw(const coverage *seen, const tc__tuning *all, int n) {
    int most = 0, alike = 0;
    for (int i = 0; i < n; i++) {
        int new_ones = news(seen, &all[i]);
        if (new_ones > most) most = new_ones, alike = 0;
        alike += new_ones == most;
    }
    int pick = (int)(bits() % (uint64_t)alike);
    for (int i = 0; i < n; i++)
        if (news(seen, &all[i]) == most && pick-- == 0) return &all[i];
    return all;
}

// Makes believe that some tuning of each kernel was found to be the best.
static void tune_at_random(tc_ctx *tc, tc__program *p, int region, coverage *seen) {
    tc__desk *desk = &tc->kernels->desk;
    REQUIRE(tc__desk_ready(desk));
    for (size_t i = 0; i < p->launch.count; i++) {
        tc__launch *l = &p->launch.at[i];
        tc__tuning all[TC__CANDIDATES];
        tc__chosen c;
        tc__text key;
        uint8_t digest[32];
        memset(&c, 0, sizeof c);
        for (int stage = 0; stage < TC__STAGES; stage++) {
            int n =
                tc__candidates(l->group, tc->target, (tc__tune_stage)stage, &c.tuning, all);
            for (int at = 0; at < n; at++) {
                CHECK(tc__tuning_fits(l->group, tc->target, &all[at]));
                for (int k = 0; k < TC__KNOBS; k++)
                    seen->region[k][all[at].knob[k]] = region;
            }
            c.tuning = *draw(seen, all, n);
        }
        for (int k = 0; k < TC__KNOBS; k++) seen->used[k][c.tuning.knob[k]]++;
        tc__text_init(&key, tc);
        CHECK(tc__choice_key(&key, desk, p, l->group));
        tc__blake2s(digest, NULL, 0, key.at, key.size);
        tc__choice_remember(desk->library, digest, &c);
        tc__text_free(&key);
    }
}

static void run_tuned(tc_ctx *tc, const inputs *in, size_t which, results *r,
                      coverage *seen) {
    tc_options o = tc_options_default();
    o.backend = "aot_eager";
    run_region_with(tc, in, which, &o, r);
    free_results(r);
    uint64_t before = state;
    state += seed;
    tune_at_random(tc, last_program(tc), (int)which, seen);
    state = before;
    CHECK_EQ(tc_reset(tc), TC_OK);
    o.backend = "cpu", o.mode = "max-autotune";
    run_region_with(tc, in, which, &o, r);
    tc__program *p = last_program(tc);
    for (size_t i = 0; i < p->launch.count; i++)
        CHECK_EQ(p->launch.at[i].tuned, TC__TUNED_KNOWN);
}

// A region that has a value which was never chosen; -1 = none.
static int uncovered(const coverage *seen) {
    for (int k = 0; k < TC__KNOBS; k++)
        for (int v = 0; v < TC__KNOB_VALUES; v++)
            if (!seen->used[k][v] && seen->region[k][v] >= 0) return seen->region[k][v];
    return -1;
}

// Every knob of the host has a kernel, but wider vectors where the target has none.
static void check_covered(const coverage *seen, tc__emit target) {
    for (int k = 0; k < TC__KNOBS; k++) {
        int chosen = 0, only_512 = k == TC__KNOB_LANES && target < TC__EMIT_AVX512;
        for (int v = 1; v < TC__KNOB_VALUES; v++) chosen += seen->used[k][v];
        if (!chosen && !only_512 && tc__knobs[k].stage != TC__STAGE_DEVICE)
            FAIL("no kernel had a knob %s", tc__knobs[k].name);
    }
}

// Of the oldest CPU's kernels, which take long to compile, some do.
static int is_tuned(int (*make)(tc_ctx *, const inputs *, tc_tensor *), int capped) {
    return !capped || make == softmaxes || make == network || make == products ||
           make == large;
}

static void check_tuned(tc_ctx *tc, const inputs *in, int which, coverage *seen) {
    results r;
    run_tuned(tc, in, (size_t)which, &r, seen);
    compare(regions[which].name, &expected[which], &r);
    free_results(&r);
}

// No bit depends on how kernels are tuned.
static void check_tunings(const char *cc, const char *isa, uint64_t from) {
    char line[200], why[100];
    tc_config config = config_of("cpu", cc, 2);
    coverage seen;
    memset(&seen.used, 0, sizeof seen.used), memset(&seen.region, -1, sizeof seen.region);
    if (isa && getenv("TC_ISA")) SKIP(named);
    if (is_oldest() && from > 1) SKIP(as_named);
    if (TEST_SANITIZED && from > 1) SKIP(no_sanitizer);
    if (!test_all() && from > 1) SKIP(for_all);
    snprintf(line, sizeof line, "%s --version >/dev/null 2>&1", cc);
    snprintf(why, sizeof why, "no %s", cc);
    if (system(line)) SKIP(why);
    config.isa = isa, config.no_disk_cache = 1;
    tc_ctx *tc = tc_open(&config);
    inputs in = make_inputs(tc);
    seed = from;
    for (int i = 0; i < REGIONS; i++)
        if (!regions[i].slow && is_tuned(regions[i].make, isa != NULL || is_oldest()))
            check_tuned(tc, &in, i, &seen);
    for (int i; (i = uncovered(&seen)) >= 0 && !test_failures;)
        check_tuned(tc, &in, i, &seen);
    check_covered(&seen, tc->target);
    CHECK_EQ(tc_stats_get(tc).fallbacks, 0);
    CHECK_EQ(tc_stats_get(tc).autotuned, 0);
    tc_close(tc);
}

TEST(gcc_tuned_at_random) { check_tunings("gcc", NULL, 1); }
TEST(gcc_tuned_at_random_again) { check_tunings("gcc", NULL, 2); }
TEST(gcc_tuned_avx2) { check_tunings("gcc", "avx2", 5); }
TEST(gcc_tuned_oldest_cpu) { check_tunings("gcc", "baseline", 3); }
TEST(clang_tuned_at_random) { check_tunings("clang", NULL, 4); }

int main(int count, char **args) {
    test_count = count, test_args = args;
    if (!test_option("--list")) make_expected();
    if (!test_failures) return test_main(count, args);
    puts("0 passed, 1 failed");
    return 1;
}
