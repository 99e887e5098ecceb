// Functions: when the body is skipped, when it must not be, and what a call leaves behind.
// Every test runs interpreted and compiled; values come from plain C loops.
#include "tcompile.h"

#include "harness.h"
#include "help.h"

#include <pthread.h>
#include <sys/resource.h>

enum { N = 40 };

static int runs; // of bodies

// out = in0 * 3 + in1
static void axpy(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    runs++;
    out[0] = tc_add(tc_mul_s(in[0], 3), in[1]);
}

// ---- skipping ----
BOTH(the_body_runs_twice_and_is_skipped_then) {
    tc_fn *f = tc_compile(tc, axpy, NULL, 0, NULL);
    REQUIRE(f);
    tc_tensor in[2], y;
    runs = 0;
    for (int k = 0; k < 10; k++) {
        in[0] = line(tc, N, k, 1), in[1] = line(tc, N, 100, k);
        CALL(f, in, 2, &y, 1);
        for (int i = 0; i < N; i++) CHECK_EQ(AT(y, i), 3 * (k + i) + 100 + i * k);
        tc_free(y), tc_free(in[0]), tc_free(in[1]);
    }
    CHECK_EQ(runs, 2);
    CHECK_EQ(tc_stats_get(tc).calls, 10);
    CHECK_EQ(tc_stats_get(tc).skips, 8);
    CHECK_EQ(tc_stats_get(tc).programs, 1);
    CHECK_EQ(tc_last_miss(f).kind, TC_MISS_CHECK);
    CHECK(!tc_fn_demoted(f));
}

BOTH(results_are_the_callers_own) {
    tc_fn *f = tc_compile(tc, axpy, NULL, 0, NULL);
    tc_tensor in[2], y[6];
    in[1] = line(tc, N, 0, 0);
    for (int k = 0; k < 6; k++) {
        in[0] = line(tc, N, k, 0);
        CALL(f, in, 2, &y[k], 1);
    }
    for (int k = 0; k < 6; k++) CHECK_EQ(AT(y[k], 7), 3 * k);
    tc_add_s_(y[2], 1); // theirs to write
    CHECK_EQ(AT(y[2], 0), 7);
    CHECK_EQ(AT(y[3], 0), 9);
    CALL(f, in, 2, &y[0], 1);
    CHECK_EQ(AT(y[0], 0), 15);
    CHECK_EQ(AT(y[2], 0), 7);
}

BOTH(results_live_in_the_open_scope) {
    tc_fn *f = tc_compile(tc, axpy, NULL, 0, NULL);
    tc_tensor in[2], y, kept;
    in[0] = in[1] = line(tc, N, 1, 1);
    for (int k = 0; k < 5; k++) {
        tc_scope_begin(tc);
        CALL(f, in, 2, &y, 1);
        CHECK_EQ(AT(y, 0), 4);
        tc_scope_end(tc);
        CHECK(!tc_numel(y) || tc_error(tc) == TC_E_DEAD);
        tc_error_clear(tc);
    }
    CALL(f, in, 2, &kept, 1);
    CHECK_EQ(AT(kept, 1), 8);
}

BOTH(a_steady_call_allocates_nothing) {
    tc_fn *f = tc_compile(tc, axpy, NULL, 0, NULL);
    tc_tensor in[2], y;
    in[0] = line(tc, N, 1, 1), in[1] = line(tc, N, 2, 1);
    uint64_t before = 0;
    for (int k = 0; k < 50; k++) {
        if (k == 10) before = tc_stats_get(tc).allocations;
        CALL(f, in, 2, &y, 1);
        tc_free(y);
    }
    CHECK_EQ(tc_stats_get(tc).allocations, before);
}

// ---- guards: each kind, hit and miss ----

// Calls with x and y until that is skipped, and once more.
static void settle(tc_fn *f, tc_tensor x, tc_tensor y, int line_number) {
    tc_tensor in[2], z;
    in[0] = x, in[1] = y;
    for (int k = 0; k < 3; k++) {
        if (tc_call(f, in, 2, &z, 1)) test_fail(__FILE__, line_number, "call failed");
        tc_free(z);
    }
    int before = runs;
    if (tc_call(f, in, 2, &z, 1) || runs != before)
        test_fail(__FILE__, line_number, "not skipped: %s", tc_miss_text(f));
    tc_free(z);
}
#define SETTLE(x, y) settle(f, (x), (y), __LINE__)

BOTH(guard_sizes) {
    tc_fn *f = tc_compile(tc, axpy, NULL, 0, NULL);
    tc_tensor x = tc_ones(tc, TC_DIMS(4, 6), TC_F32),
              y = tc_ones(tc, TC_DIMS(5, 6), TC_F32);
    SETTLE(x, x);
    SETTLE(y, y);
    tc_tensor in[2], z;
    in[0] = tc_ones(tc, TC_DIMS(5, 7), TC_F32), in[1] = in[0];
    CALL(f, in, 2, &z, 1);
    tc_miss m = tc_last_miss(f);
    CHECK_EQ(m.kind, TC_MISS_DIM);
    CHECK_EQ(m.arg, 0);
    CHECK_EQ(m.dim, 1);
    CHECK_EQ(m.was, 6);
    CHECK_EQ(m.now, 7);
    CHECK(strstr(tc_miss_text(f), "arg 0 dim 1 was 6, now 7; called at "));
    CHECK(strstr(tc_miss_text(f), "function.c:"));
    CHECK_EQ(tc_dim(z, 1), 7);
    int before = runs;
    SETTLE(x, x); // both old ones are known
    SETTLE(y, y);
    CHECK_EQ(runs, before);
}

BOTH(guard_dtype_and_rank) {
    tc_fn *f = tc_compile(tc, axpy, NULL, 0, NULL);
    tc_tensor x = line(tc, N, 0, 1), z, in[2];
    SETTLE(x, x);
    in[0] = in[1] = tc_cast(x, TC_F64);
    CALL(f, in, 2, &z, 1);
    MISS(f, TC_MISS_DTYPE);
    CHECK_EQ(tc_dtype_of(z), TC_F64);
    in[0] = in[1] = tc_cast(tc_reshape(x, TC_DIMS(4, 10)), TC_F64);
    CALL(f, in, 2, &z, 1);
    MISS(f, TC_MISS_RANK);
    CHECK(strstr(tc_miss_text(f), "arg 0 rank was 1, now 2"));
    CHECK_EQ(tc_rank(z), 2);
}

BOTH(guard_strides) {
    tc_fn *f = tc_compile(tc, axpy, NULL, 0, NULL);
    tc_tensor x = tc_reshape(line(tc, 36, 0, 1), TC_DIMS(6, 6)), in[2], z;
    SETTLE(x, x);
    in[0] = tc_transpose(x, 0, 1), in[1] = x;
    CALL(f, in, 2, &z, 1);
    MISS(f, TC_MISS_STRIDE);
    CHECK_EQ(AT(z, 1), 3 * 6 + 1);
}

// Which inputs are one, or share memory.
BOTH(guard_aliases) {
    tc_fn *f = tc_compile(tc, axpy, NULL, 0, NULL);
    tc_tensor a = line(tc, N, 0, 1), b = line(tc, N, 100, 1), in[2], z;
    SETTLE(a, b);
    SETTLE(b, a); // the same pattern
    in[0] = in[1] = a;
    CALL(f, in, 2, &z, 1);
    MISS(f, TC_MISS_ALIAS);
    CHECK_EQ(AT(z, 3), 12);
    tc_tensor both = line(tc, 2 * N, 0, 1);
    in[0] = tc_slice(both, 0, 0, N, 1), in[1] = tc_slice(both, 0, N, 2 * N, 1);
    CALL(f, in, 2, &z, 1);
    MISS(f, TC_MISS_ALIAS);
    CHECK_EQ(AT(z, 3), 9 + N + 3);
    int before = runs;
    SETTLE(a, b);
    CHECK_EQ(runs, before);
}

BOTH(guard_counts) {
    tc_fn *f = tc_compile(tc, axpy, NULL, 0, NULL);
    tc_tensor a = line(tc, N, 0, 1), in[3], z;
    SETTLE(a, a);
    in[0] = in[1] = in[2] = a;
    CALL(f, in, 3, &z, 1);
    MISS(f, TC_MISS_COUNT);
    CHECK_EQ(AT(z, 2), 8);
}

typedef struct step_user {
    double rate;
    int layers;
    tc_tensor weight;
} step_user;

// out = in0 * rate + layers * weight
static void step(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    const step_user *u = (const step_user *)user;
    (void)tc;
    runs++;
    tc_tensor y = tc_mul_s(in[0], u->rate);
    for (int i = 0; i < u->layers; i++) y = tc_add(y, u->weight);
    out[0] = y;
}

// A learning rate, a count and a handle in the user's memory: never a stale answer.
BOTH(guard_user_bytes) {
    step_user u;
    memset(&u, 0, sizeof u);
    u.rate = 1, u.layers = 2, u.weight = line(tc, N, 1, 0);
    tc_fn *f = tc_compile(tc, step, &u, sizeof u, NULL);
    tc_tensor x = line(tc, N, 0, 1), other = line(tc, N, 50, 0), z;
    for (int k = 0; k < 24; k++) {
        u.rate = 1 + k / 4 % 2, u.layers = 1 + k / 8;
        if (k == 20) u.weight = other;
        CALL(f, &x, 1, &z, 1);
        CHECK_EQ(AT(z, 5), 5 * u.rate + u.layers * (k < 20 ? 1 : 50));
        if (k % 4 == 0 && k) MISS(f, TC_MISS_USER);
    }
    int before = runs;
    u.rate = 1, u.layers = 1, u.weight = other;
    CALL(f, &x, 1, &z, 1);
    CHECK_EQ(AT(z, 5), 55);
    CHECK(runs > before);
}

// The contents of a captured tensor are read at every call; its death is noticed.
BOTH(guard_captured) {
    step_user u;
    memset(&u, 0, sizeof u);
    u.rate = 2, u.layers = 1, u.weight = line(tc, N, 1, 0);
    tc_fn *f = tc_compile(tc, step, &u, sizeof u, NULL);
    tc_tensor x = line(tc, N, 0, 1), z;
    for (int k = 0; k < 5; k++) {
        CALL(f, &x, 1, &z, 1);
        CHECK_EQ(AT(z, 5), 10 + 1 + k);
        tc_add_s_(u.weight, 1);
    }
    int before = runs;
    CALL(f, &x, 1, &z, 1);
    CHECK_EQ(runs, before);
    tc_free(u.weight);
    CHECK_EQ(tc_call(f, &x, 1, &z, 1), TC_E_DEAD);
    CHECK(!z.id);
    MISS(f, TC_MISS_CAPTURED);
    ERROR(TC_E_DEAD, "freed by tc_free");
    u.weight = line(tc, N, 7, 0);
    CALL(f, &x, 1, &z, 1);
    CHECK_EQ(AT(z, 5), 17);
}

// A captured tensor that is an input too: another pattern of memory.
BOTH(guard_captured_is_an_input) {
    step_user u;
    memset(&u, 0, sizeof u);
    u.rate = 1, u.layers = 1, u.weight = line(tc, N, 1, 0);
    tc_fn *f = tc_compile(tc, step, &u, sizeof u, NULL);
    tc_tensor x = line(tc, N, 0, 1), z;
    for (int k = 0; k < 9; k++) {
        CALL(f, k % 3 ? &x : &u.weight, 1, &z, 1);
        CHECK_EQ(AT(z, 5), k % 3 ? 6 : 2);
    }
}

// The calls that are recorded give what the body captures, as an input and as a destination: that
// what it captures is no input shows in the calls after them.
BOTH(guard_captured_was_the_input_first) {
    step_user u;
    memset(&u, 0, sizeof u);
    u.rate = 1, u.layers = 1, u.weight = line(tc, N, 1, 0);
    tc_fn *f = tc_compile(tc, step, &u, sizeof u, NULL);
    tc_tensor x = line(tc, N, 0, 1), z;
    for (int k = 0; k < 12; k++) {
        CALL(f, k / 4 % 2 ? &x : &u.weight, 1, &z, 1);
        CHECK_EQ(AT(z, 5), k / 4 % 2 ? 6 : 2);
    }
    runs = 0;
    CALL(f, &x, 1, &z, 1);
    CALL(f, &u.weight, 1, &z, 1);
    CHECK_EQ(runs, 0);
}

BOTH(guard_captured_was_the_destination_first) {
    step_user u;
    memset(&u, 0, sizeof u);
    u.rate = 1, u.layers = 1, u.weight = line(tc, N, 1, 0);
    tc_fn *f = tc_compile(tc, step, &u, sizeof u, NULL);
    tc_tensor x = line(tc, N, 0, 1), z = line(tc, N, 50, 0);
    for (int k = 0; k < 5; k++) { // weight += x
        CHECK_EQ(tc_call_into(f, &x, 1, &u.weight, 1), TC_OK);
        CHECK_EQ(AT(u.weight, 5), 1 + 5 * (k + 1));
    }
    for (int k = 0; k < 5; k++) {
        CHECK_EQ(tc_call_into(f, &x, 1, &z, 1), TC_OK);
        CHECK_EQ(AT(z, 5), 31);
    }
}

// Results that are inputs, or show them, into what the results before them are written to.
static void leapfrog(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_sub(tc_mul_s(in[0], 3), in[1]);
    out[1] = in[0];
    out[2] = tc_flip(tc_reshape(in[1], TC_DIMS(N)), TC_DIMS(0));
}

BOTH(into_what_other_results_show) {
    tc_tensor s[3];
    double a = 2, b = 1;
    s[0] = line(tc, N, a, 0), s[1] = line(tc, N, b, 0), s[2] = line(tc, N, 0, 0);
    tc_fn *f = tc_compile(tc, leapfrog, NULL, 0, NULL);
    for (int i = 0; i < 6; i++) {
        double next = 3 * a - b, was = b;
        b = a, a = next;
        CHECK_EQ(tc_call_into(f, s, 2, s, 3), TC_OK);
        CHECK_EQ(AT(s[0], 5), a);
        CHECK_EQ(AT(s[1], 5), b);
        CHECK_EQ(AT(s[2], 5), was);
    }
}

// Whether it is skipped must not be seen: inputs are the caller's.
static void frees_its_input(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_mul(in[0], in[1]);
    tc_free(in[0]);
}

BOTH(a_body_may_not_free_its_input) {
    tc_fn *f = tc_compile(tc, frees_its_input, NULL, 0, NULL);
    tc_tensor in[2], z;
    in[0] = in[1] = line(tc, N, 0, 1);
    for (int k = 0; k < 3; k++) {
        CHECK_EQ(tc_call(f, in, 2, &z, 1), TC_E_DEAD);
        ERROR(TC_E_DEAD, "its body has freed in[0], which is its caller's");
        CHECK_EQ(AT(in[0], 5), 5);
    }
}

static int mode[3]; // reached by a pointer from the body

static void by_mode(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    const int *m = *(int **)user;
    tc_guard_bytes(tc, m, sizeof mode);
    runs++;
    out[0] = m[1] ? tc_neg(in[0]) : tc_square(in[0]);
}

BOTH(guard_bytes) {
    int *at = mode;
    tc_fn *f = tc_compile(tc, by_mode, &at, sizeof at, NULL);
    tc_tensor x = line(tc, N, 0, 1), z;
    memset(mode, 0, sizeof mode);
    runs = 0;
    for (int k = 0; k < 16; k++) {
        mode[1] = k / 4 % 2;
        CALL(f, &x, 1, &z, 1);
        CHECK_EQ(AT(z, 5), mode[1] ? -5 : 25);
        if (k == 4) MISS(f, TC_MISS_BYTES);
    }
    CHECK_EQ(runs, 4); // each twice
    CHECK(!tc_fn_demoted(f));
    tc_guard_bytes(tc, mode, sizeof mode); // outside it does nothing
}

BOTH(guard_null_inputs) {
    tc_fn *f = tc_compile(tc, axpy, NULL, 0, NULL);
    tc_tensor in[2], z;
    in[0] = line(tc, N, 0, 1), in[1] = tc_null();
    CHECK_EQ(tc_call(f, in, 2, &z, 1), TC_E_NULL);
    ERROR(TC_E_NULL, "null tensor was given");
    in[1] = in[0];
    CALL(f, in, 2, &z, 1);
    CHECK_EQ(AT(z, 1), 4);
}

static void optional_bias(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    runs++;
    out[0] = in[1].id ? tc_add(in[0], in[1]) : tc_neg(in[0]);
}

BOTH(a_null_input_is_a_guard) {
    tc_fn *f = tc_compile(tc, optional_bias, NULL, 0, NULL);
    tc_tensor in[2], z;
    runs = 0;
    in[0] = line(tc, N, 0, 1);
    tc_tensor bias = line(tc, N, 10, 0);
    for (int k = 0; k < 12; k++) {
        in[1] = k / 3 % 2 ? bias : tc_null();
        CALL(f, in, 2, &z, 1);
        CHECK_EQ(AT(z, 5), k / 3 % 2 ? 15 : -5);
    }
    CHECK_EQ(runs, 4);
}

// ---- what cannot be skipped ----

static int hidden;

static void by_hidden(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    runs++;
    out[0] = hidden++ ? tc_neg(in[0]) : tc_square(in[0]);
}

// A global that changes between the first call and the second: found out, and never stale.
BOTH(hidden_state_demotes) {
    tc_fn *f = tc_compile(tc, by_hidden, NULL, 0, NULL);
    tc_tensor x = line(tc, N, 0, 1), z;
    hidden = 0;
    for (int k = 0; k < 6; k++) {
        CALL(f, &x, 1, &z, 1);
        CHECK_EQ(AT(z, 5), k ? -5 : 25);
    }
    REQUIRE(tc_fn_demoted(f));
    CHECK(strstr(tc_fn_demoted(f), "tc_guard_bytes"));
    MISS(f, TC_MISS_DEMOTED);
    CHECK_EQ(hidden, 6);
}

static void by_rand(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    int *drawn = (int *)user;
    (void)tc;
    *drawn = rand() % 1000;
    out[0] = tc_add_s(in[0], *drawn);
}

BOTH(rand_demotes) {
    int drawn = 0;
    tc_fn *f = tc_compile(tc, by_rand, &drawn, 0, NULL);
    tc_tensor x = line(tc, N, 0, 1), z;
    for (int k = 0; k < 6; k++) {
        CALL(f, &x, 1, &z, 1);
        CHECK_EQ(AT(z, 5), 5 + drawn);
    }
    CHECK(tc_fn_demoted(f) != NULL);
}

static void reads(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    double s = tc_item(tc_sum_all(in[0]));
    out[0] = s > 0 ? tc_add_s(in[0], 1) : tc_neg(in[0]);
}

BOTH(a_read_demotes) {
    tc_fn *f = tc_compile(tc, reads, NULL, 0, NULL);
    tc_tensor up = line(tc, N, 1, 1), down = line(tc, N, -1, -1), z;
    for (int k = 0; k < 8; k++) {
        CALL(f, k % 2 ? &up : &down, 1, &z, 1);
        CHECK_EQ(AT(z, 0), k % 2 ? 2 : 1);
    }
    REQUIRE(tc_fn_demoted(f));
    CHECK(strstr(tc_fn_demoted(f), "tc_item"));
}

BOTH(fullgraph_refuses_a_read) {
    tc_options o = tc_options_default();
    o.fullgraph = 1;
    tc_fn *f = tc_compile(tc, reads, NULL, 0, &o);
    tc_tensor x = line(tc, N, 1, 1), z;
    for (int k = 0; k < 3; k++) {
        CHECK_EQ(tc_call(f, &x, 1, &z, 1), TC_E_FULLGRAPH);
        CHECK(!z.id);
        ERROR(TC_E_FULLGRAPH, "reads a value");
    }
}

static tc_tensor escaped;

static void keeps(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    tc_tensor y = tc_square(in[0]);
    escaped = tc_keep(y);
    out[0] = tc_neg(y);
}

BOTH(a_kept_result_demotes) {
    tc_fn *f = tc_compile(tc, keeps, NULL, 0, NULL);
    tc_tensor z;
    for (int k = 0; k < 4; k++) {
        tc_tensor x = line(tc, N, k, 1);
        CALL(f, &x, 1, &z, 1);
        CHECK_EQ(AT(z, 2), -(k + 2) * (k + 2));
        CHECK_EQ(AT(escaped, 2), (k + 2) * (k + 2));
        tc_free(escaped);
    }
    CHECK(tc_fn_demoted(f) != NULL);
}

// ---- results of every kind ----

static void many_kinds(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)user;
    out[0] = in[0];                              // an input
    out[1] = tc_slice(in[0], 0, 2, 10, 1);       // a view of one
    out[2] = tc_neg(in[0]);                      // a result
    out[3] = tc_slice(out[2], 0, 1, 5, 1);       // a view of a result
    out[4] = tc_full(tc, TC_DIMS(3), 7, TC_F32); // a constant
    out[5] = out[2];                             // the same again
    out[6] = tc_sum_all(in[0]);
}

BOTH(results_of_every_kind) {
    tc_fn *f = tc_compile(tc, many_kinds, NULL, 0, NULL);
    for (int k = 0; k < 5; k++) {
        tc_tensor x = line(tc, N, k, 1), z[7];
        CALL(f, &x, 1, z, 7);
        CHECK(z[0].id != x.id);
        CHECK_EQ(AT(z[0], 3), k + 3);
        CHECK_EQ(AT(z[1], 0), k + 2);
        CHECK_EQ(AT(z[2], 4), -(k + 4));
        CHECK_EQ(AT(z[3], 0), -(k + 1));
        CHECK_EQ(AT(z[4], 2), 7);
        CHECK_EQ(AT(z[5], 6), -(k + 6));
        CHECK_EQ(AT(z[6], 0), N * k + N * (N - 1) / 2);
        tc_add_s_(z[0], 100); // is the input
        CHECK_EQ(AT(x, 0), k + 100);
        CHECK_EQ(AT(z[1], 0), k + 102);
        for (int i = 0; i < 7; i++) tc_free(z[i]);
        CHECK_EQ(AT(x, 1), k + 101);
    }
}

static void updates(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    tc_sub_(in[0], tc_mul_s(in[1], 0.5));
    out[0] = tc_sum_all(in[0]);
}

BOTH(inputs_are_written_in_place) {
    tc_fn *f = tc_compile(tc, updates, NULL, 0, NULL);
    tc_tensor in[2], z;
    in[0] = line(tc, N, 100, 0), in[1] = line(tc, N, 2, 0);
    for (int k = 0; k < 6; k++) {
        CALL(f, in, 2, &z, 1);
        CHECK_EQ(AT(in[0], 3), 99 - k);
        CHECK_EQ(AT(z, 0), N * (99 - k));
    }
}

static void nothing(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)in, (void)out, (void)user;
    runs++;
}

BOTH(a_body_without_ops) {
    tc_fn *f = tc_compile(tc, nothing, NULL, 0, NULL);
    runs = 0;
    for (int k = 0; k < 5; k++) CALL(f, NULL, 0, NULL, 0);
    CHECK_EQ(runs, 2);
    tc_tensor z;
    CHECK_EQ(tc_call(f, NULL, 0, &z, 1), TC_E_NULL);
    ERROR(TC_E_NULL, "did not set out[0]");
}

static void draws(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)user;
    runs++;
    out[0] = tc_add(in[0], tc_rand(tc, TC_DIMS(N), TC_F32));
    out[1] = tc_rand(tc, TC_DIMS(N), TC_F32);
}

// The stream goes on, skipped or not, as it does eagerly.
BOTH(random_numbers_go_on) {
    tc_fn *f = tc_compile(tc, draws, NULL, 0, NULL);
    tc_tensor x = line(tc, N, 0, 0), z[2];
    double seen[6][2];
    runs = 0;
    tc_manual_seed(tc, 11);
    for (int k = 0; k < 6; k++) {
        CALL(f, &x, 1, z, 2);
        seen[k][0] = AT(z[0], 3), seen[k][1] = AT(z[1], 3);
    }
    CHECK_EQ(runs, 2);
    tc_manual_seed(tc, 11);
    for (int k = 0; k < 6; k++)
        for (int i = 0; i < 2; i++) {
            tc_tensor r = tc_rand(tc, TC_DIMS(N), TC_F32);
            CHECK_NEAR(AT(r, 3), seen[k][i], 0);
        }
}

// The stream as it was: eagerly, in regions, in functions that skip their body and in loops over draws, with the
// programs that there are.
static void draw_all(tc_ctx *tc, tc_fn *f, tc_tensor x, float seen[4][N]) {
    tc_tensor z[2], in_region;
    size_t bytes = N * sizeof(float);
    CHECK_EQ(tc_read(tc_rand(tc, TC_DIMS(N), TC_F32), seen[0], bytes), TC_OK);
    CALL(f, &x, 1, z, 2);
    BEGIN("draws");
    in_region = tc_mul_s(tc_randn(tc, TC_DIMS(N), TC_F32), 2);
    tc_keep(in_region);
    END();
    CHECK_EQ(tc_read(z[1], seen[1], bytes), TC_OK);
    CHECK_EQ(tc_read(in_region, seen[2], bytes), TC_OK);
    CHECK_EQ(tc_read(tc_dropout(tc_add_s(x, 1), 0.5), seen[3], bytes), TC_OK);
    tc_free(in_region);
}

BOTH(random_numbers_from_a_saved_state) {
    tc_fn *f = tc_compile(tc, draws, NULL, 0, NULL);
    tc_tensor x = line(tc, N, 0, 0);
    static float first[4][N], again[4][N];
    tc_rng_state state, end, now;
    tc_manual_seed(tc, 11);
    CHECK_EQ(tc_get_rng_state(tc, &state), TC_OK);
    CHECK(state.seed == 11 && state.draw == 0);
    for (int k = 0; k < 5; k++) draw_all(tc, f, x, first);
    CHECK_EQ(tc_get_rng_state(tc, &state), TC_OK);
    CHECK(state.seed == 11 && state.draw == 5 * 5);
    draw_all(tc, f, x, first);
    CHECK_EQ(tc_get_rng_state(tc, &end), TC_OK);
    uint64_t programs = tc_stats_get(tc).programs, records = tc_stats_get(tc).records;
    tc_manual_seed(tc, 5);
    draw_all(tc, f, x, again);
    for (int i = 0; i < 4; i++) CHECK(memcmp(first[i], again[i], sizeof first[i]) != 0);
    for (int k = 0; k < 3; k++) {
        CHECK_EQ(tc_set_rng_state(tc, &state), TC_OK);
        draw_all(tc, f, x, again);
        for (int i = 0; i < 4; i++) CHECK_BYTES(again[i], first[i], sizeof first[i]);
        CHECK_EQ(tc_get_rng_state(tc, &now), TC_OK);
        CHECK_BYTES(&now, &end, sizeof end);
    }
    CHECK_EQ(tc_stats_get(tc).programs, programs);
    CHECK_EQ(tc_stats_get(tc).records, records);
    // it is of the stream, not of the context
    tc_ctx *other = open_backend("aot_eager");
    CHECK_EQ(tc_set_rng_state(other, &state), TC_OK);
    CHECK_EQ(tc_read(tc_rand(other, TC_DIMS(N), TC_F32), again[0], sizeof again[0]), TC_OK);
    CHECK_BYTES(again[0], first[0], sizeof first[0]);
    tc_close(other);
    BEGIN("inside");
    now = state;
    CHECK_EQ(tc_get_rng_state(tc, &now), TC_E_STATE);
    CHECK_BYTES(&now, &state, sizeof state);
    ERROR(TC_E_STATE, "tc_get_rng_state: a region is open");
    CHECK_EQ(tc_set_rng_state(tc, &state), TC_E_STATE);
    ERROR(TC_E_STATE, "tc_set_rng_state: a region is open");
    END();
}

// ---- call_into ----

static void centred(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    runs++;
    out[0] = tc_sub(in[0], tc_mean_all(in[0]));
    out[1] = tc_mean_all(in[0]);
}

BOTH(call_into_writes_given_tensors) {
    tc_fn *f = tc_compile(tc, centred, NULL, 0, NULL);
    tc_tensor x = line(tc, N + 1, 0, 1), to[2];
    to[0] = tc_zeros(tc, TC_DIMS(N + 1), TC_F32), to[1] = tc_zeros(tc, TC_SCALAR, TC_F32);
    runs = 0;
    uint64_t before = 0;
    for (int k = 0; k < 20; k++) {
        if (k == 5) before = tc_stats_get(tc).allocations;
        if (k < 5) tc_add_s_(x, 1);
        CHECK_EQ(tc_call_into(f, &x, 1, to, 2), TC_OK);
        if (k >= 5) continue;
        CHECK_EQ(AT(to[0], 0), -N / 2);
        CHECK_EQ(AT(to[1], 0), N / 2 + 1 + k);
    }
    CHECK_EQ(tc_stats_get(tc).allocations, before);
    CHECK_EQ(AT(to[1], 0), N / 2 + 5);
    CHECK_EQ(runs, 2);
}

// Into an input, into a view, and into tensors that share memory.
BOTH(call_into_overlapping_memory) {
    tc_fn *f = tc_compile(tc, axpy, NULL, 0, NULL);
    tc_tensor in[2], whole = line(tc, 2 * N, 0, 1);
    in[0] = line(tc, N, 1, 0), in[1] = line(tc, N, 10, 0);
    for (int k = 0; k < 4; k++) CHECK_EQ(tc_call_into(f, in, 2, in, 1), TC_OK);
    CHECK_EQ(AT(in[0], 2), ((1 * 3 + 10) * 3 + 10) * 27 / 9 * 3 + 3 * 10 + 10);
    tc_tensor half = tc_slice(whole, 0, 1, 2 * N, 2);
    for (int k = 0; k < 4; k++) CHECK_EQ(tc_call_into(f, &in[1] - 1, 2, &half, 1), TC_OK);
    CHECK_EQ(AT(whole, 0), 0);
    CHECK_EQ(AT(whole, 1), 3 * AT(in[0], 0) + 10);
    CHECK_EQ(AT(whole, 2), 2);
}

BOTH(call_into_refuses) {
    tc_fn *f = tc_compile(tc, axpy, NULL, 0, NULL);
    tc_tensor in[2], to = tc_zeros(tc, TC_DIMS(N - 1), TC_F32);
    in[0] = in[1] = line(tc, N, 0, 1);
    for (int k = 0; k < 3; k++) {
        CHECK_EQ(tc_call_into(f, in, 2, &to, 1), TC_E_BROADCAST);
        ERROR(TC_E_BROADCAST, "function \"axpy\": out[0] has sizes [40], which do not "
                              "broadcast to those of to[0], [39]");
        CHECK_EQ(AT(to, 4), 0);
    }
    tc_fn *g = tc_compile(tc, centred, NULL, 0, NULL);
    tc_tensor pair[2] = {tc_full(tc, TC_DIMS(N), 7, TC_F32),
                         tc_zeros(tc, TC_DIMS(0, 3), TC_F32)};
    CHECK_EQ(tc_call_into(g, in, 1, pair, 2), TC_OK); // a scalar goes into all
    tc_fill_(pair[0], 7), pair[1] = pair[0], pair[0] = tc_zeros(tc, TC_DIMS(2), TC_F32);
    CHECK_EQ(tc_call_into(g, in, 1, pair, 2), TC_E_BROADCAST);
    ERROR(TC_E_BROADCAST, "function \"centred\": out[0] has sizes [40]");
    CHECK_EQ(AT(pair[1], 3), 7); // nor is one written that fits
    to = tc_null();
    CHECK_EQ(tc_call_into(f, in, 2, &to, 1), TC_E_NULL);
    ERROR(TC_E_NULL, "null");
}

// ---- bodies that do what no body may ----

static void clears(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)user;
    out[0] = tc_reshape(in[0], TC_DIMS(7));
    tc_error_clear(tc);
    out[0] = tc_neg(in[0]);
}

static void opens_a_scope(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)user;
    tc_scope_begin(tc);
    out[0] = tc_neg(in[0]);
}

static void ends_a_scope(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    out[0] = tc_neg(in[0]);
    if (user)
        (void)tc_scope_return(tc, out[0]);
    else
        tc_scope_end(tc);
}

static void has_a_scope(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)user;
    tc_scope_begin(tc);
    out[0] = tc_scope_return(tc, tc_neg(tc_abs(in[0])));
}

// Each has a status and a text, whether the body is a function's, a part of a region, or eager.
BOTH(what_no_body_may_do) {
    tc_tensor x = line(tc, N, 0, 1), y, kept;
    static const tc_body body[] = {clears, opens_a_scope, ends_a_scope, ends_a_scope};
    static const tc_status status[] = {TC_E_SHAPE, TC_E_STATE, TC_E_STATE, TC_E_STATE};
    static const char *const text[] = {
        "its body got TC_E_SHAPE from a call and cleared it",
        "its body has a tc_scope_begin without its tc_scope_end",
        "tc_scope_end: the scope was begun by the code that called",
        "tc_scope_return: the scope was begun by the code that called"};
    for (int k = 0; k < 4; k++) {
        tc_fn *f = tc_compile(tc, body[k], k == 3 ? tc : NULL, 0, NULL);
        for (int way = 0; way < 4; way++) {
            tc_scope_begin(tc);
            kept = tc_add_s(x, 1);
            if (way == 1) BEGIN("around");
            if (way == 2) tc_disable_begin(tc);
            if (way == 3) tc_set_stance(tc, TC_STANCE_FORCE_EAGER);
            CHECK_EQ(tc_call(f, &x, 1, &y, 1), status[k]);
            CHECK(tc_is_null(y));
            ERROR(status[k], text[k]);
            if (way == 1) (void)tc_trace_end(tc);
            if (way == 2) tc_disable_end(tc);
            tc_set_stance(tc, TC_STANCE_DEFAULT);
            tc_error_clear(tc);
            CHECK_EQ(AT(kept, 2), 3);
            CHECK_EQ(tc_scope_end(tc), TC_OK);
        }
        CHECK_EQ(tc_scope_end(tc), TC_E_STATE);
        tc_error_clear(tc);
        tc_fn_free(f);
    }
    tc_fn *f = tc_compile(tc, has_a_scope, NULL, 0, NULL);
    for (int k = 0; k < 3; k++) {
        CHECK_EQ(tc_call(f, &x, 1, &y, 1), TC_OK);
        CHECK_EQ(AT(y, 3), -3);
    }
}

// ---- nesting ----

static tc_fn *inner;

static void outer(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    tc_tensor pair[2], y;
    (void)tc, (void)user;
    pair[0] = in[0], pair[1] = tc_square(in[0]);
    tc_call(inner, pair, 2, &y, 1);
    pair[0] = y;
    tc_call(inner, pair, 2, &y, 1);
    out[0] = y;
}

// 3 (3x + x^2) + x^2
static double nested(double x) { return 3 * (3 * x + x * x) + x * x; }

BOTH(functions_call_functions) {
    inner = tc_compile(tc, axpy, NULL, 0, NULL);
    tc_fn *f = tc_compile(tc, outer, NULL, 0, NULL);
    for (int k = 0; k < 5; k++) {
        tc_tensor x = line(tc, N, k, 1), z;
        CALL(f, &x, 1, &z, 1);
        CHECK_EQ(AT(z, 3), nested(k + 3));
    }
    CHECK_EQ(tc_stats_get(tc).programs, 1); // inlined
    CHECK(!tc_fn_demoted(f));
}

BOTH(functions_inside_regions) {
    inner = tc_compile(tc, axpy, NULL, 0, NULL);
    for (int k = 0; k < 5; k++) {
        tc_tensor x = line(tc, N, k, 1), z, pair[2];
        tc_trace_begin(tc, "around");
        pair[0] = tc_add_s(x, 1), pair[1] = x;
        CALL(inner, pair, 2, &z, 1);
        z = tc_neg(z);
        tc_trace_end(tc);
        CHECK_EQ(AT(z, 3), -(3 * (k + 4) + k + 3));
    }
    CHECK_EQ(tc_stats_get(tc).programs, 1);
}

static void with_region(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)user;
    tc_trace_begin(tc, "within");
    tc_tensor y = tc_mul_s(in[0], 2);
    tc_trace_end(tc);
    out[0] = tc_add_s(y, 1);
}

BOTH(regions_inside_functions) {
    tc_fn *f = tc_compile(tc, with_region, NULL, 0, NULL);
    for (int k = 0; k < 5; k++) {
        tc_tensor x = line(tc, N, k, 1), z;
        CALL(f, &x, 1, &z, 1);
        CHECK_EQ(AT(z, 3), 2 * (k + 3) + 1);
    }
    CHECK_EQ(tc_stats_get(tc).programs, 1);
    CHECK_EQ(tc_stats_get(tc).skips, 3);
}

static void recursive(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    int *depth = (int *)user;
    (void)tc;
    if (*depth == 0) {
        out[0] = in[0];
        return;
    }
    tc_tensor y = tc_add_s(in[0], *depth);
    --*depth;
    tc_call(inner, &y, 1, out, 1);
    ++*depth;
}

BOTH(a_function_that_calls_itself) {
    int depth = 4;
    inner = tc_compile(tc, recursive, &depth, sizeof depth, NULL);
    tc_tensor x = line(tc, N, 0, 1), z;
    for (int k = 0; k < 4; k++) {
        CALL(inner, &x, 1, &z, 1);
        CHECK_EQ(AT(z, 3), 3 + 4 + 3 + 2 + 1);
    }
    CHECK_EQ(tc_stats_get(tc).skips, 2);
}

// ---- calls without end ----

static void twice_of(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_mul_s(in[0], 2);
}

typedef struct endless {
    tc_fn *next;
    int calls, in_region, by_host; // how often, and in what the call stands
} endless;

static tc_status calls_again(void *user, const tc_buffer *in, int n_in);

static tc_ctx *endless_ctx;
static int endless_bodies;
static int stops_by_stack; // of errors: the stack has no room for 64

static void without_end(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    endless *e = (endless *)user;
    endless_bodies++;
    out[0] = in[0];
    if (e->in_region) tc_trace_begin(tc, "inside");
    for (int i = 0; i < e->calls; i++) {
        if (e->by_host)
            (void)tc_host_call(tc, calls_again, e, in, 1);
        else
            (void)tc_call(e->next, in, 1, out, 1);
    }
    if (e->in_region) (void)tc_trace_end(tc);
}

static tc_status calls_again(void *user, const tc_buffer *in, int n_in) {
    endless *e = (endless *)user;
    (void)in, (void)n_in;
    tc_tensor x = tc_ones(endless_ctx, TC_DIMS(N), TC_F32), y;
    tc_status s = tc_call(e->next, &x, 1, &y, 1);
    tc_free(x);
    return s;
}

static tc_status host_without_end(void *user, const tc_buffer *in, int n_in) {
    (void)in, (void)n_in;
    return tc_host_call((tc_ctx *)user, host_without_end, user, NULL, 0);
}

// An error that tells the limit, which is 64 calls, on a small stack fewer.
static void expect_limit(tc_ctx *tc) {
    int by_stack = strstr(tc_error_text(tc), "all that the stack has room for") != NULL;
    stops_by_stack += by_stack;
    ERROR(TC_E_STATE, by_stack ? "deep" : "nested 64 deep, which is the limit");
}

// It names the function, too, and there is not one call more on the way back; then all is as before.
static void ends(tc_ctx *tc, tc_fn *f, const char *name) {
    tc_tensor x = line(tc, N, 0, 1), y;
    endless_bodies = 0;
    CHECK_EQ(tc_call(f, &x, 1, &y, 1), TC_E_STATE);
    CHECK(!y.id);
    CHECK(strstr(tc_error_text(tc), name) || FAIL("%s", tc_error_text(tc)));
    expect_limit(tc);
    CHECK(endless_bodies > 8 && endless_bodies <= 64);
    tc_fn *other = tc_compile(tc, twice_of, NULL, 0, NULL);
    CALL(other, &x, 1, &y, 1);
    CHECK_EQ(AT(y, 3), 6);
    tc_free(x), tc_free(y);
}

static void call_without_end(tc_ctx *tc) {
    endless_ctx = tc, stops_by_stack = 0;
    for (int k = 0; k < 12; k++) {
        endless one = {NULL, 1 + k % 2, k / 2 % 2, 0}, two = one;
        tc_fn *f = tc_compile_at(tc, without_end, &one, 0, NULL, "one", "test.c", 1);
        tc_fn *g = tc_compile_at(tc, without_end, &two, 0, NULL, "two", "test.c", 2);
        one.by_host = k / 4 == 1;
        one.next = k / 4 == 2 ? g : f, two.next = f;
        ends(tc, f, k / 4 == 1 ? "" : k / 4 == 2 ? "function \"" : "function \"one\"");
        tc_fn_free(f), tc_fn_free(g);
    }
    endless one = {NULL, 2, 0, 0};
    one.next = tc_compile_at(tc, without_end, &one, 0, NULL, "one", "test.c", 1);
    tc_disable_begin(tc);
    ends(tc, one.next, "function \"one\"");
    CHECK_EQ(tc_host_call(tc, host_without_end, tc, NULL, 0), TC_E_STATE);
    expect_limit(tc);
    tc_disable_end(tc);
}

BOTH(calls_without_end) {
    struct rlimit stack;
    call_without_end(tc);
    REQUIRE(!getrlimit(RLIMIT_STACK, &stack));
    if (stack.rlim_cur >= 8 << 20) CHECK_EQ(stops_by_stack, 0);
}

static void *call_without_end_there(void *tc) {
    call_without_end((tc_ctx *)tc);
    return NULL;
}

// A thread's stack of 128 KB ends before there are 64.
BOTH(calls_without_end_on_a_small_stack) {
    pthread_attr_t attr;
    pthread_t thread;
    if (TEST_SANITIZED) return; // their frames are larger
    REQUIRE(!pthread_attr_init(&attr) && !pthread_attr_setstacksize(&attr, 128 << 10));
    REQUIRE(!pthread_create(&thread, &attr, call_without_end_there, tc));
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attr);
    CHECK(stops_by_stack > 0);
}

static void scaled(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc;
    out[0] = tc_mul_s(in[0], *(const double *)user);
}

static void calls_scaled(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    tc_tensor y;
    tc_call(inner, in, 1, &y, 1);
    out[0] = tc_add_s(y, 1);
}

// What an inlined function depends on, the function around it depends on.
BOTH(bytes_of_inner_functions) {
    double *by = (double *)malloc(sizeof *by);
    *by = 2;
    inner = tc_compile(tc, scaled, by, sizeof *by, NULL);
    tc_fn *f = tc_compile(tc, calls_scaled, NULL, 0, NULL);
    tc_tensor x = line(tc, N, 0, 1), z;
    for (int k = 0; k < 12; k++) {
        *by = k < 4 ? 2 : k < 8 ? 3 : 2;
        CALL(f, &x, 1, &z, 1);
        CHECK_EQ(AT(z, 5), 5 * *by + 1);
        if (k == 4) CHECK_EQ(tc_last_miss(f).kind, TC_MISS_BYTES);
    }
    CHECK_EQ(tc_stats_get(tc).skips, 2 + 2 + 4);
    tc_fn_free(inner); // and its bytes with it
    free(by);
    double other = 5;
    inner = tc_compile(tc, scaled, &other, sizeof other, NULL);
    for (int k = 0; k < 4; k++) {
        CALL(f, &x, 1, &z, 1);
        CHECK_EQ(AT(z, 5), 26);
    }
}

// h = f(h): the result of one call is an input of the next.
BOTH(recurrence) {
    tc_fn *f = tc_compile(tc, axpy, NULL, 0, NULL);
    tc_tensor in[2], h = line(tc, N, 1, 0);
    double want = 1;
    in[1] = line(tc, N, -2, 0);
    for (int k = 0; k < 8; k++) {
        tc_tensor next;
        in[0] = h;
        CALL(f, in, 2, &next, 1);
        tc_free(h);
        h = next, want = 3 * want - 2;
        CHECK_EQ(AT(h, 9), want);
    }
}

// Results of a region, computed or not, are inputs too.
BOTH(region_results_are_inputs) {
    tc_fn *f = tc_compile(tc, axpy, NULL, 0, NULL);
    tc_tensor x = line(tc, N, 0, 1);
    for (int k = 0; k < 6; k++) {
        tc_tensor in[2], z;
        tc_trace_begin(tc, "before");
        in[0] = tc_add_s(x, k == 2 ? 1 : 0); // consumed: computed on demand
        in[1] = tc_neg(in[0]);
        tc_trace_end(tc);
        CALL(f, in, 2, &z, 1);
        CHECK_EQ(AT(z, 4), 2 * (4 + (k == 2)));
    }
}

// ---- errors ----

static void mismatched(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    tc_add_s_(in[0], 1);
    out[0] = tc_matmul(in[0], in[1]);
}

BOTH(a_failed_call_writes_nothing) {
    tc_fn *f = tc_compile(tc, mismatched, NULL, 0, NULL);
    tc_tensor in[2], z;
    in[0] = tc_ones(tc, TC_DIMS(4, 6), TC_F32), in[1] = tc_ones(tc, TC_DIMS(5, 7), TC_F32);
    for (int k = 0; k < 3; k++) {
        z = in[0];
        CHECK_EQ(tc_call(f, in, 2, &z, 1), TC_E_SHAPE);
        CHECK(!z.id);
        ERROR(TC_E_SHAPE, "inner sizes differ");
        CHECK_EQ(AT(in[0], 0), 1);
    }
    in[1] = tc_ones(tc, TC_DIMS(6, 7), TC_F32);
    CALL(f, in, 2, &z, 1);
    CHECK_EQ(AT(z, 0), 12);
    CHECK_EQ(AT(in[0], 0), 2);
}

static void unfinished(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)user;
    out[0] = tc_neg(in[0]);
    tc_trace_end(tc); // ends what it did not begin
}

BOTH(bad_calls) {
    tc_fn *f = tc_compile(tc, axpy, NULL, 0, NULL);
    tc_tensor in[2], z = tc_null();
    in[0] = in[1] = line(tc, N, 0, 1);
    CHECK_EQ(tc_call(NULL, in, 2, &z, 1), TC_E_NULL);
    ERROR(TC_E_NULL, "the function is NULL");
    CHECK_EQ(tc_call(f, NULL, 2, &z, 1), TC_E_NULL);
    ERROR(TC_E_NULL, "null array");
    CHECK_EQ(tc_call(f, in, 2, NULL, 1), TC_E_NULL);
    ERROR(TC_E_NULL, "null array");
    CHECK_EQ(tc_call(f, in, -1, &z, 1), TC_E_ARG);
    ERROR(TC_E_ARG, "inputs");
    in[1].id ^= 1 << 30;
    CHECK_EQ(tc_call(f, in, 2, &z, 1), TC_E_DEAD);
    ERROR(TC_E_DEAD, "axpy");
    CHECK(!tc_compile(tc, NULL, NULL, 0, NULL));
    ERROR(TC_E_NULL, "body");
    CHECK(!tc_compile(tc, axpy, NULL, 4, NULL));
    ERROR(TC_E_NULL, "user");
    CHECK(!tc_compile(NULL, axpy, NULL, 0, NULL));
    ERROR(TC_E_NULL, "tc_compile: ");
    tc_fn *g = tc_compile(tc, unfinished, NULL, 0, NULL);
    CHECK(tc_call(g, in, 1, &z, 1) != TC_OK);
    CHECK(tc_error(tc) != TC_OK);
    tc_error_clear(tc);
    in[1] = in[0];
    CALL(f, in, 2, &z, 1);
    CHECK_EQ(AT(z, 1), 4);
    tc_fn_free(g);
    tc_fn_free(NULL);
}

// An earlier error stays, and does not fail a call that is well.
BOTH(the_status_is_the_calls_own) {
    tc_fn *f = tc_compile(tc, axpy, NULL, 0, NULL);
    tc_tensor in[2], z;
    in[0] = in[1] = line(tc, N, 0, 1);
    CHECK(!tc_matmul(in[0], line(tc, N + 1, 0, 1)).id);
    CHECK(tc_error(tc) != TC_OK);
    for (int k = 0; k < 4; k++) CALL(f, in, 2, &z, 1);
    CHECK_EQ(AT(z, 2), 8);
    ERROR(TC_E_SHAPE, "matmul");
}

static void takes(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_index_select(in[0], 0, in[1]);
}

// An index out of range is found at every call, skipped or not.
BOTH(index_errors_of_skipped_calls) {
    tc_fn *f = tc_compile(tc, takes, NULL, 0, NULL);
    int64_t good[3] = {0, 5, 9}, bad[3] = {0, 50, 9};
    tc_tensor in[2], z;
    in[0] = line(tc, N, 0, 1);
    for (int k = 0; k < 6; k++) {
        in[1] = tc_from_data(tc, k % 3 == 2 ? bad : good, TC_DIMS(3), TC_I64);
        tc_status s = tc_call(f, in, 2, &z, 1);
        CHECK_EQ(s, k % 3 == 2 ? TC_E_INDEX : TC_OK);
        if (s) {
            ERROR(TC_E_INDEX, "index 50 is out of range for size 40");
            CHECK(!z.id);
        } else {
            CHECK_EQ(AT(z, 1), 5);
        }
    }
}

BOTH(disabled_functions_run_eagerly) {
    tc_options o = tc_options_default();
    o.disable = 1;
    tc_fn *f = tc_compile(tc, many_kinds, NULL, 0, &o);
    tc_tensor x = line(tc, N, 0, 1), z[7];
    for (int k = 0; k < 3; k++) {
        CALL(f, &x, 1, z, 7);
        CHECK_EQ(AT(z[2], 4), -4);
        CHECK(z[0].id != x.id);
        for (int i = 0; i < 7; i++) tc_free(z[i]);
    }
    CHECK_EQ(AT(x, 4), 4);
    CHECK_EQ(tc_stats_get(tc).programs, 0);
    CHECK(!tc_is_compiling(tc));
}

static int seen_compiling;

static void asks(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)user;
    seen_compiling = tc_is_compiling(tc);
    out[0] = tc_neg(in[0]);
}

BOTH(a_body_knows_that_it_is_recorded) {
    tc_fn *f = tc_compile(tc, asks, NULL, 0, NULL);
    tc_tensor x = line(tc, N, 0, 1), z;
    CALL(f, &x, 1, &z, 1);
    CHECK_EQ(seen_compiling, 1);
    CHECK_EQ(tc_is_compiling(tc), 0);
    CHECK_EQ(tc_is_compiling(NULL), 0);
}

// More signatures than a function remembers.
BOTH(many_signatures) {
    step_user u;
    memset(&u, 0, sizeof u);
    u.layers = 1, u.weight = line(tc, N, 1, 0);
    tc_fn *f = tc_compile(tc, step, &u, sizeof u, NULL);
    tc_tensor x = line(tc, N, 0, 1), z;
    for (int k = 0; k < 200; k++) {
        u.rate = k % 100;
        CALL(f, &x, 1, &z, 1);
        CHECK_EQ(AT(z, 5), 5 * (k % 100) + 1);
        tc_free(z);
    }
    tc_fn_free(f);
}

// Two functions of one body, and many functions.
BOTH(functions_are_apart) {
    step_user u[20];
    tc_fn *f[20];
    tc_tensor x = line(tc, N, 0, 1), z;
    memset(u, 0, sizeof u);
    for (int i = 0; i < 20; i++) {
        u[i].rate = i, u[i].layers = i % 3, u[i].weight = line(tc, N, 1, 0);
        f[i] = tc_compile(tc, step, &u[i], sizeof u[i], NULL);
    }
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < 20; i++) {
            CALL(f[i], &x, 1, &z, 1);
            CHECK_EQ(AT(z, 7), 7 * i + i % 3);
        }
    for (int i = 0; i < 20; i += 2) tc_fn_free(f[i]);
    CALL(f[3], &x, 1, &z, 1);
    CHECK_EQ(AT(z, 7), 21);
}

// ---- bodies that pull the ground from under their call ----

static tc_fn *running;

static void frees_itself(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    int eager = *(const int *)user;
    if (eager) tc_disable_begin(tc);
    tc_fn_free(running);
    ERROR(TC_E_STATE, "tc_fn_free");
    tc_close(tc);
    ERROR(TC_E_STATE, "tc_close");
    if (eager) tc_disable_end(tc);
    out[0] = tc_add_s(in[0], 1);
}

BOTH(a_body_that_frees_its_function_or_context) {
    tc_tensor x = line(tc, 40, 0, 1), y;
    tc_options disabled = tc_options_default();
    disabled.disable = 1;
    for (int way = 0; way < 3; way++) {
        for (int eager = 0; eager < 2; eager++) {
            running = tc_compile(tc, frees_itself, &eager, sizeof eager,
                                 way == 1 ? &disabled : NULL);
            tc_set_stance(tc, way == 2 ? TC_STANCE_FORCE_EAGER : TC_STANCE_DEFAULT);
            for (int k = 0; k < 2; k++) { // the status is that of the misdeed
                CHECK_EQ(tc_call(running, &x, 1, &y, 1), TC_E_STATE);
                ERROR(TC_E_STATE, "its body got TC_E_STATE from a call and cleared it");
            }
            tc_fn_free(running);
        }
    }
}

static void half(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    out[0] = tc_square(in[0]);
    switch (*(const int *)user) {
    case 0: tc_disable_begin(tc); break;
    case 1: tc_trace_begin(tc, "half"); break;
    case 2: tc_trace_begin(tc, "half"), tc_disable_begin(tc); break;
    case 3: tc_disable_begin(tc), tc_trace_begin(tc, "half"); break;
    case 4: tc_disable_end(tc); break;
    }
    out[0] = tc_add_s(in[0], 1);
}

// A body that opens something and does not close it is told so, and what is around it goes on.
BOTH(a_body_with_one_half) {
    tc_tensor x = line(tc, 40, 0, 1), y;
    tc_options eager = tc_options_default();
    eager.disable = 1;
    for (int what = 0; what < 5; what++) {
        for (int how = 0; how < 3; how++) {
            tc_fn *f = tc_compile(tc, half, &what, sizeof what, how == 1 ? &eager : NULL);
            tc_set_stance(tc, how == 2 ? TC_STANCE_FORCE_EAGER : TC_STANCE_DEFAULT);
            CHECK(tc_call(f, &x, 1, &y, 1) != TC_OK);
            CHECK(tc_error(tc) != TC_OK);
            CHECK_EQ(y.id, 0);
            tc_error_clear(tc);
            CHECK(!tc_is_compiling(tc));
            CHECK_EQ(tc_reset(tc), TC_OK);
            CHECK_EQ(tc_disable_end(tc), TC_E_STATE);
            CHECK_EQ(tc_trace_end(tc), TC_E_REGION);
            tc_error_clear(tc);
            tc_fn_free(f);
        }
        tc_set_stance(tc, TC_STANCE_DEFAULT);
        tc_fn *f = tc_compile(tc, half, &what, sizeof what, NULL);
        BEGIN("around");
        tc_tensor z = tc_mul_s(x, 3);
        if (what == 4) tc_disable_begin(tc);
        CHECK(tc_call(f, &x, 1, &y, 1) != TC_OK);
        if (what == 4) CHECK_EQ(tc_disable_end(tc), TC_OK);
        CHECK(tc_is_compiling(tc));
        z = tc_add_s(z, 1);
        CHECK(tc_trace_end(tc) != TC_OK); // of a call in it; all else has run
        CHECK_EQ(AT(z, 2), 7);
        tc_error_clear(tc);
        tc_fn_free(f);
    }
}

BOTH(results_are_null_after_bad_arguments) {
    tc_tensor x = line(tc, 40, 0, 1), y;
    tc_fn *f = tc_compile(tc, half, &x, 0, NULL);
    y.id = 77;
    CHECK_EQ(tc_call(f, NULL, 1, &y, 1), TC_E_NULL);
    CHECK_EQ(y.id, 0);
    y.id = 77;
    CHECK_EQ(tc_call(f, &x, -1, &y, 1), TC_E_ARG);
    CHECK_EQ(y.id, 0);
    tc_error_clear(tc);
}
