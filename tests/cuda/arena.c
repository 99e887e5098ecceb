// One place on a device for what the programs of a context store between their kernels, and for what they write in
// place when they end: of which size it is, and that results are right when it has grown. Values come from plain
// C and are exact in f32; bytes are counted by hand. On a GPU or on the emulator.
#include "tcompile.h"

#include "tcompile_cuda.h"

#define TEST_NO_MAIN
#include "harness.h"
#include "help.h"
#include "tools/cuda_device.h"

#include <math.h>

enum { MIB = 1 << 20, SMALL = 80000, LARGE = 300000 }; // elements: 0.3 and 1.15 MiB

// A kernel for each op, so that what is between them is stored.
static tc_ctx *open_context(void) {
    tc_config config = tc_config_default();
    config.threads = 2, config.no_fusion = 1;
    return tc_open(&config);
}

// The ways to run; `old`: with a driver that has no virtual memory.
typedef struct way {
    const char *variable, *value;
    int old;
} way;

static const way ways[] = {{"TC_MODE", "default", 0},
                           {"TC_BACKEND", "cudagraphs", 0},
                           {"TC_BACKEND", "cudagraphs", 1}};

static int open_way(tc_ctx *tc, const way *w) {
    if (w->old && !(use_emulator() && fake_build("old.so", "-DFAKE_OLD", fake_sources) &&
                    fake_use("old.so")))
        return FAIL("no old driver");
    return open_device(tc);
}

static void in_way(const way *w, void (*body)(tc_ctx *, const way *)) {
    int failed = test_failures;
    if (w->old && device_is_real) return;
    setenv(w->variable, w->value, 1);
    tc_ctx *tc = open_context();
    REQUIRE(open_way(tc, w));
    if (fake) fake->last_first = 1; // of a graph, what may run early does
    body(tc, w);
    if (tc_error(tc)) FAIL("error left over: %s", tc_error_text(tc));
    tc_close(tc);
    check_device_closed();
    unsetenv(w->variable);
    if (test_failures > failed)
        printf("  (%s %s%s)\n", w->variable, w->value, w->old ? ", old" : "");
}

#define WAYS(name)                                                                         \
    static void body_##name(tc_ctx *tc, const way *w);                                     \
    TEST(name##_chosen) { in_way(&ways[0], body_##name); }                                 \
    TEST(name##_graphs) { in_way(&ways[1], body_##name); }                                 \
    TEST(name##_old) { in_way(&ways[2], body_##name); }                                    \
    static void body_##name(tc_ctx *tc, const way *w)

// What the context says that it holds: tensors in use, and the place of programs, in MiB.
typedef struct held {
    double tensors, programs;
} held;

static double bytes_behind(const char *text, const char *word) {
    double x = -1;
    char unit[8] = "";
    const char *at = strstr(text, word);
    if (!at || sscanf(at + strlen(word), " %lf %7[A-Za-z]", &x, unit) != 2) return -1;
    return strstr(unit, "MiB") ? x : strstr(unit, "KiB") ? x / 1024 : x / MIB;
}

static held held_now(tc_ctx *tc) {
    char text[512] = "";
    held h;
    CHECK(tc_cuda_memory(tc, 0, text, sizeof text));
    h.tensors = bytes_behind(text, "tensors hold");
    h.programs = bytes_behind(text, "plans hold");
    return h;
}

static tc_tensor there(tc_ctx *tc, int n, double from, double step) {
    tc_tensor t = line(tc, n, from, step), d = tc_to(t, DEVICE_NAME);
    tc_free(t);
    return d;
}

static float *elements(tc_tensor t, int n) {
    float *x = (float *)calloc((size_t)n, sizeof *x);
    CHECK_EQ(tc_read(t, x, (size_t)n * sizeof *x), TC_OK);
    return x;
}

// ---- what is stored between kernels ----

// a, 2 a, their product, and in its place that less a, are three tensors that live at once.
static void four(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    tc_tensor a = tc_add_s(in[0], 1), b = tc_mul_s(a, 2), c = tc_mul(a, b);
    out[0] = tc_add(tc_sub(c, a), b); // c - a + b
}

// x is `from` everywhere but for its last element, which is `last`.
static void check_four(tc_ctx *tc, tc_fn *f, int n, double from, double last) {
    tc_scope_begin(tc);
    float *x = (float *)calloc((size_t)n, sizeof *x);
    for (int i = 0; i < n; i++) x[i] = (float)(i == n - 1 ? last : from);
    tc_tensor in = tc_to(tc_from_data(tc, x, TC_DIMS(n), TC_F32), DEVICE_NAME), out;
    CALL(f, &in, 1, &out, 1);
    float *y = elements(out, n);
    int bad = 0;
    for (int i = 0; i < n && bad < 2; i++) {
        double a = (double)x[i] + 1, want = a * (2 * a) - a + 2 * a;
        if ((double)y[i] != want)
            bad++, FAIL("element %d of %d: %g, not %g", i, n, y[i], want);
    }
    free(x), free(y);
    tc_scope_end(tc);
}

// Memory is mapped by 2 MiB: three small tensors are 2, three large ones 4. An old driver gives at least twice what
// was there, which stays.
static void check_order(tc_ctx *tc, const way *w, int first, int second) {
    tc_fn *f[2];
    int n[2];
    n[0] = first, n[1] = second;
    for (int i = 0; i < 2; i++) f[i] = tc_compile(tc, four, NULL, 0, NULL);
    for (int turn = 0; turn < 3; turn++)
        for (int i = 0; i < 2; i++) check_four(tc, f[i], n[i], turn + 2 * i, 7 - turn);
    double most = w->old && first < second ? 2 + 4 : 4;
    CHECK_EQ(held_now(tc).programs, most);
}

WAYS(a_larger_program_comes_second) { check_order(tc, w, SMALL, LARGE); }
WAYS(a_larger_program_comes_first) { check_order(tc, w, LARGE, SMALL); }

// ---- what is written in place ----

enum { PARTS = 3 };

// All of x is written in place, by a program that may fail at an index before it has written.
static void step(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    const double *factor = (const double *)user;
    (void)tc;
    out[0] = tc_sum_all(tc_take(in[PARTS], in[PARTS + 1], 0));
    for (int i = 0; i < PARTS; i++)
        tc_copy_(in[i], tc_add(tc_mul_s(in[i], *factor), out[0]));
}

typedef struct stepping {
    tc_tensor in[PARTS + 2];
    double value[PARTS]; // of all elements but the last, which is one more
} stepping;

static tc_tensor index_of(tc_ctx *tc, int64_t a, int64_t b) {
    int64_t at[2];
    at[0] = a, at[1] = b;
    tc_tensor t = tc_from_data(tc, at, TC_DIMS(2), TC_I64), d = tc_to(t, DEVICE_NAME);
    tc_free(t);
    return d;
}

static void check_parts(const stepping *s, int n) {
    for (int i = 0; i < PARTS; i++) {
        float *x = elements(s->in[i], n);
        int bad = 0;
        for (int k = 0; k < n && bad < 2; k++)
            if ((double)x[k] != s->value[i])
                bad++, FAIL("part %d, element %d: %g, not %g", i, k, x[k], s->value[i]);
        free(x);
    }
}

// Elements 1 and 3 of 10, 11, ... are 24.
static void run_step(tc_fn *f, stepping *s, double factor) {
    tc_tensor out;
    CALL(f, s->in, PARTS + 2, &out, 1);
    CHECK_EQ(AT(out, 0), 24);
    tc_free(out);
    for (int i = 0; i < PARTS; i++) s->value[i] = s->value[i] * factor + 24;
}

// Two programs of one step, as the first and the later ones of a training loop: neither has memory of its own
// for what it writes, which kernels write themselves. Two products are there at once.
WAYS(two_programs_write_in_place) {
    static const double factor[] = {2, 3, 1};
    stepping s;
    tc_fn *f[2];
    for (int i = 0; i < PARTS; i++) s.in[i] = there(tc, LARGE, i, 0), s.value[i] = i;
    s.in[PARTS] = there(tc, 8, 10, 1), s.in[PARTS + 1] = index_of(tc, 1, 3);
    for (int i = 0; i < 2; i++)
        f[i] = tc_compile(tc, step, (void *)(uintptr_t)&factor[i], 0, NULL);
    held before = held_now(tc);
    for (int turn = 0; turn < 3; turn++)
        for (int i = 0; i < 2; i++) run_step(f[i], &s, factor[i]);
    held after = held_now(tc);
    CHECK(after.tensors < before.tensors + 0.1 ||
          FAIL("tensors: %g MiB, then %g", before.tensors, after.tensors));
    CHECK_EQ(after.programs, 2);
    check_parts(&s, LARGE);
    (void)w;
}

// Nothing is written when an index is out of range, and later calls are right.
WAYS(an_index_out_of_range_writes_nothing) {
    static const double factor = 2;
    stepping s;
    tc_tensor good, out;
    for (int i = 0; i < PARTS; i++) s.in[i] = there(tc, 300, i, 0), s.value[i] = i;
    s.in[PARTS] = there(tc, 8, 10, 1), s.in[PARTS + 1] = good = index_of(tc, 1, 3);
    tc_fn *f = tc_compile(tc, step, (void *)(uintptr_t)&factor, 0, NULL);
    run_step(f, &s, factor);
    s.in[PARTS + 1] = index_of(tc, 1, 8);
    CHECK_EQ(tc_call(f, s.in, PARTS + 2, &out, 1), TC_E_INDEX);
    tc_error_clear(tc);
    check_parts(&s, 300);
    s.in[PARTS + 1] = good;
    run_step(f, &s, factor);
    check_parts(&s, 300);
    (void)w;
}

// One value that goes to two tensors, to a view, and is a result as well: only what is no result is an
// intermediate.
WAYS(one_value_goes_to_several_places) {
    tc_tensor x = there(tc, 64, 1, 1), a = there(tc, 64, 0, 0), b = there(tc, 128, 0, 0),
              c = there(tc, 64, 0, 0), from = there(tc, 8, 10, 1), at = index_of(tc, 1, 3),
              y, z;
    for (int k = 0; k < 3; k++) {
        BEGIN("several");
        tc_tensor sum = tc_sum_all(tc_take(from, at, 0));
        y = tc_keep(tc_add(tc_mul_s(x, k + 1), sum));
        z = tc_mul_s(y, 2);
        tc_copy_(a, z);
        tc_copy_(tc_slice(b, 0, 0, TC_END, 2), z);
        tc_copy_(c, y);
        END();
        for (int i = 0; i < 64; i += 21) {
            double want = (k + 1) * (1 + i) + 24;
            CHECK_EQ(AT(y, i), want);
            CHECK_EQ(AT(a, i), 2 * want);
            CHECK_EQ(AT(b, 2 * i), 2 * want);
            CHECK_EQ(AT(b, 2 * i + 1), 0);
            CHECK_EQ(AT(c, i), want);
        }
        tc_free(y);
    }
    (void)w;
}

// ---- memory of loops ----

enum { TURNS = 6 };

static void turn(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_add(in[0], in[1]);
    out[1] = tc_mul_s(out[0], 2);
}

// in: what a carry is at first, and a row for each turn.
static void rolling(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    tc_tensor last, rows, before = tc_mul_s(in[0], 3), behind;
    CHECK_EQ(tc_scan(turn, NULL, &before, 1, &in[1], 1, &last, &rows, 1), TC_OK);
    behind = tc_sum(rows, 0);
    out[0] = tc_add(tc_add(behind, last), in[0]);
}

static void check_rolling(tc_ctx *tc, tc_fn *f, int n, int from) {
    tc_scope_begin(tc);
    tc_tensor in[2], out;
    in[0] = there(tc, n, from, 1);
    in[1] = tc_reshape(there(tc, TURNS * n, 0, 0.125), TC_DIMS(TURNS, n));
    CALL(f, in, 2, &out, 1);
    float *y = elements(out, n);
    int bad = 0;
    for (int i = 0; i < n && bad < 2; i++) {
        double carry = 3.0 * (from + i), want = 0;
        for (int t = 0; t < TURNS; t++) carry += 0.125 * (t * n + i), want += 2 * carry;
        want += carry + from + i;
        if ((double)y[i] != want) bad++, FAIL("%d of %d: %g, not %g", i, n, y[i], want);
    }
    free(y);
    tc_scope_end(tc);
}

// What a loop keeps from turn to turn, 0.5 and 1 MiB here, is among what is between kernels, of each program.
WAYS(loops_share_it_too) {
    static const int n[] = {16384, 32768};
    tc_fn *f[2];
    for (int i = 0; i < 2; i++) f[i] = tc_compile(tc, rolling, NULL, 0, NULL);
    held before = held_now(tc);
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 2; i++) check_rolling(tc, f[i], n[i], k + i);
    held after = held_now(tc);
    double results = 2 * (n[0] + n[1]) * 4.0 / MIB; // that programs keep for the next call
    CHECK(after.tensors < before.tensors + results + 0.1 ||
          FAIL("tensors: %g MiB, then %g", before.tensors, after.tensors));
    CHECK_EQ(after.programs, 2);
    (void)w;
}

// ---- lists of tensors ----

enum { PARAMS = 12, EACH = 700 };

// AdamW's first step moves each element by the rate against the sign of its gradient. A gradient takes two launches,
// the updates one: what they store lies where nothing was that they read.
TEST(an_optimiser_that_writes_beside_is_a_list) {
    tc_config config = tc_config_default();
    tc_ctx *tc = tc_open(&config);
    REQUIRE(open_device(tc));
    tc_tensor w[PARAMS], g[PARAMS], m[PARAMS], v[PARAMS];
    for (int i = 0; i < PARAMS; i++) {
        w[i] = there(tc, EACH + i, 1, 0);
        m[i] = there(tc, EACH + i, 0, 0), v[i] = there(tc, EACH + i, 0, 0);
    }
    tc_tensor steps = tc_to(tc_zeros(tc, TC_SCALAR, TC_F32), DEVICE_NAME);
    tc_tensor from = there(tc, 8, 10, 1), at = index_of(tc, 1, 3);
    uint64_t runs = tc_stats_get(tc).kernel_runs;
    BEGIN("optimiser");
    tc_tensor sum = tc_sum_all(tc_take(from, at, 0)); // 24
    for (int i = 0; i < PARAMS; i++) // of w and not of w, each stored since rows are summed
        g[i] = tc_mul_s(tc_cumsum(tc_mul(w[i], sum), 0), i % 2 ? -1 : 1);
    tc_adamw_list_(w, g, m, v, PARAMS, steps, 0.5, 0.9, 0.95, 1e-8, 0);
    END();
    runs = tc_stats_get(tc).kernel_runs - runs;
    CHECK(runs <= 2 * PARAMS + 4 || FAIL("%d launches", (int)runs));
    for (int i = 0; i < PARAMS; i++)
        for (int k = 0; k < EACH + i; k += EACH - 1) {
            double want = i % 2 ? 1.5 : 0.5;
            CHECK(fabs(AT(w[i], k) - want) < 1e-5 || FAIL("%d: %g", i, AT(w[i], k)));
        }
    tc_close(tc);
    check_device_closed();
}
