// Host calls: the user's code at its place among ops, with the values there.
#include "tcompile.h"

#include "harness.h"

#include "help.h"

enum { ROWS = 4, COLS = 10, N = ROWS * COLS, MOST = 64 };

static tc_tensor matrix(tc_ctx *tc) {
    float p[N];
    for (int i = 0; i < N; i++) p[i] = (float)i;
    return tc_from_data(tc, p, TC_DIMS(ROWS, COLS), TC_F32);
}

// What a host function was given, call after call.
typedef struct notes {
    int calls, n_in[MOST];
    double value[MOST][4]; // elements 0, 1, 11 and the last of input 0
    tc_spec spec[MOST];
    tc_status status;
    tc_ctx *tc;
    tc_tensor made;
} notes;

static tc_status note(void *user, const tc_buffer *in, int n_in) {
    notes *w = (notes *)user;
    int k = w->calls++ % MOST;
    w->n_in[k] = n_in;
    if (!n_in) return w->status;
    const float *x = (const float *)in[0].data;
    int64_t n = 1;
    w->spec[k] = in[0].spec;
    for (int i = 0; i < in[0].spec.rank; i++) n *= in[0].spec.dims[i];
    if (!x != !n) return TC_E_INTERNAL;
    for (int i = 0; i < 4 && n; i++) {
        int64_t at = i == 2 ? 11 : i == 3 ? n - 1 : i;
        w->value[k][i] = at < n ? (double)x[at] : -1;
    }
    return w->status;
}

static double at(tc_tensor t, int i) {
    float p[N];
    return tc_read(t, p, (size_t)tc_numel(t) * sizeof *p) ? -12345 : (double)p[i];
}

BOTH(values_and_order_inside_a_region) {
    notes w;
    memset(&w, 0, sizeof w);
    tc_tensor a = matrix(tc), z = tc_null();
    for (int k = 0; k < 3; k++) {
        BEGIN("order");
        tc_tensor x = tc_add_s(a, 100 * k);
        CHECK_EQ(tc_host_call(tc, note, &w, &x, 1), TC_OK);
        CHECK_EQ(w.calls, 3 * k + 1); // now, not at the end
        tc_tensor y = tc_mul_s(x, 2);
        CHECK_EQ(tc_host_call(tc, note, &w, &y, 1), TC_OK);
        CHECK_EQ(tc_host_call(tc, note, &w, &a, 1), TC_OK);
        CHECK_EQ(w.calls, 3 * k + 3);
        z = tc_add(y, x); // uses what was computed before the calls
        END();
        CHECK_EQ(w.value[3 * k][1], 1 + 100 * k);
        CHECK_EQ(w.value[3 * k][3], N - 1 + 100 * k);
        CHECK_EQ(w.value[3 * k + 1][2], 2 * (11 + 100 * k));
        CHECK_EQ(w.value[3 * k + 2][2], 11);
        CHECK_EQ(at(z, 7), 3 * (7 + 100 * k));
    }
    CHECK_EQ(w.spec[0].rank, 2);
    CHECK_EQ(w.spec[0].dims[0], ROWS);
    CHECK_EQ(w.spec[0].dims[1], COLS);
    CHECK_EQ(w.spec[0].dtype, TC_F32);
    CHECK_EQ(tc_stats_get(tc).graph_breaks, 9);
}

static tc_status adds_up(void *user, const tc_buffer *in, int n_in) {
    double *sum = (double *)user;
    *sum = 0;
    for (int k = 0; k < n_in; k++) {
        int64_t n = 1;
        for (int i = 0; i < in[k].spec.rank; i++) n *= in[k].spec.dims[i];
        for (int64_t i = 0; i < n; i++)
            *sum += in[k].spec.dtype == TC_F32   ? (double)((const float *)in[k].data)[i]
                    : in[k].spec.dtype == TC_I64 ? (double)((const int64_t *)in[k].data)[i]
                                                 : ((const double *)in[k].data)[i];
    }
    return TC_OK;
}

BOTH(one_break_for_all_inputs) {
    tc_tensor a = matrix(tc), in[5];
    double sum = -1;
    for (int k = 0; k < 3; k++) {
        int before = (int)tc_stats_get(tc).graph_breaks;
        int programs = (int)tc_stats_get(tc).programs;
        BEGIN("several");
        in[0] = tc_add_s(a, 1), in[1] = tc_mul_s(in[0], 2);
        in[2] = tc_cast(in[1], TC_F64), in[3] = a;
        in[4] = tc_argmax(in[1], -1);
        CHECK_EQ(tc_host_call(tc, adds_up, &sum, in, 5), TC_OK);
        tc_tensor y = tc_sub(in[1], in[0]);
        END();
        double all = N * (N - 1) / 2;
        CHECK_EQ(sum, (all + N) * 5 + all + ROWS * (COLS - 1));
        CHECK_EQ(tc_stats_get(tc).graph_breaks, before + 1);
        CHECK_EQ(at(y, 5), 6);
        if (k == 0) CHECK_EQ(tc_stats_get(tc).programs, 2);
        if (k == 2) CHECK_EQ(tc_stats_get(tc).programs, programs);
    }
}

BOTH(sixty_four_inputs) {
    tc_tensor a = matrix(tc), in[65];
    double sum = -1;
    BEGIN("many");
    for (int k = 0; k < 65; k++) in[k] = k % 2 ? a : tc_add_s(a, k);
    CHECK_EQ(tc_host_call(tc, adds_up, &sum, in, 64), TC_OK);
    CHECK_EQ(tc_host_call(tc, adds_up, &sum, in, 65), TC_E_ARG);
    ERROR(TC_E_ARG, "65 inputs");
    END();
    CHECK_EQ(sum, 64 * (N * (N - 1) / 2) + N * (31 * 32));
}

BOTH(outside_regions) {
    notes w;
    memset(&w, 0, sizeof w);
    tc_tensor a = matrix(tc), t = tc_t(a);
    CHECK_EQ(tc_host_call(tc, note, &w, &a, 1), TC_OK);
    CHECK_EQ(tc_host_call(tc, note, &w, &t, 1), TC_OK);
    CHECK_EQ(tc_host_call(tc, note, &w, NULL, 0), TC_OK);
    CHECK_EQ(w.calls, 3);
    CHECK_EQ(w.value[0][2], 11);
    CHECK_EQ(w.value[1][1], COLS); // row-major, whatever its strides
    CHECK_EQ(w.spec[1].dims[0], COLS);
    CHECK_EQ(w.n_in[2], 0);
    CHECK_EQ(tc_stats_get(tc).graph_breaks, 0);
    // A result that its region did not store is computed first.
    BEGIN("forgotten");
    tc_tensor y = tc_add_s(a, 1), z = tc_mul_s(y, 2);
    END();
    CHECK_EQ(tc_host_call(tc, note, &w, &y, 1), TC_OK);
    CHECK_EQ(w.value[3][2], 12);
    (void)z;
}

BOTH(views_and_empty_tensors) {
    notes w;
    memset(&w, 0, sizeof w);
    tc_tensor a = matrix(tc);
    for (int region = 0; region < 2; region++) {
        w.calls = 0;
        if (region) BEGIN("views");
        tc_tensor v = tc_slice(tc_add_s(a, 1), 1, 1, TC_END, 2), t = tc_t(a);
        tc_tensor e = tc_expand(tc_narrow(a, 0, 1, 1), TC_DIMS(ROWS, COLS));
        tc_tensor none = tc_add_s(tc_narrow(a, 0, 0, 0), 1);
        CHECK_EQ(tc_host_call(tc, note, &w, &v, 1), TC_OK);
        CHECK_EQ(tc_host_call(tc, note, &w, &t, 1), TC_OK);
        CHECK_EQ(tc_host_call(tc, note, &w, &e, 1), TC_OK);
        CHECK_EQ(tc_host_call(tc, note, &w, &none, 1), TC_OK);
        if (region) END();
        CHECK_EQ(w.value[0][1], 4);
        CHECK_EQ(w.value[0][2], 2 * COLS + 2 + 2);
        CHECK_EQ(w.value[1][1], COLS);
        CHECK_EQ(w.value[2][3], 2 * COLS - 1);
        CHECK_EQ(w.value[2][2], COLS + 1);
        CHECK_EQ(w.spec[3].dims[0], 0);
        CHECK_EQ(w.spec[3].dims[1], COLS);
    }
}

BOTH(it_sees_writes_in_place) {
    notes w;
    memset(&w, 0, sizeof w);
    tc_tensor a = matrix(tc);
    for (int k = 0; k < 2; k++) {
        w.calls = 0;
        BEGIN("writes");
        CHECK_EQ(tc_host_call(tc, note, &w, &a, 1), TC_OK);
        tc_add_s_(a, 1);
        CHECK_EQ(tc_host_call(tc, note, &w, &a, 1), TC_OK);
        tc_tensor both[2];
        both[0] = tc_mul_s(a, 2), both[1] = a;
        CHECK_EQ(tc_host_call(tc, note, &w, both, 2), TC_OK);
        tc_fill_(tc_narrow(a, 1, 0, 1), 7);
        CHECK_EQ(tc_host_call(tc, note, &w, &a, 1), TC_OK);
        END();
        double before = k ? 12 : 11;
        CHECK_EQ(w.value[0][2], before);
        CHECK_EQ(w.value[1][2], before + 1);
        CHECK_EQ(w.value[2][2], 2 * (before + 1));
        CHECK_EQ(w.value[3][2], before + 1);
        CHECK_EQ(w.value[3][0], 7);
        CHECK_EQ(at(a, 11), before + 1);
        CHECK_EQ(at(a, 10), 7);
    }
}

BOTH(sizes_and_values_that_change) {
    notes w;
    memset(&w, 0, sizeof w);
    for (int k = 0; k < 8; k++) {
        float p[200];
        int n = 12 + 3 * k;
        for (int i = 0; i < n; i++) p[i] = (float)(i + k);
        tc_tensor a = tc_from_data(tc, p, TC_DIMS(n), TC_F32);
        w.calls = 0;
        BEGIN("sizes");
        tc_tensor x = tc_mul_s(a, 2 + k);
        CHECK_EQ(tc_host_call(tc, note, &w, &x, 1), TC_OK);
        tc_tensor y = tc_add_s(x, 1);
        END();
        CHECK_EQ(w.spec[0].dims[0], n);
        CHECK_EQ(w.value[0][3], (n - 1 + k) * (2 + k));
        CHECK_EQ(at(y, 3), (3 + k) * (2 + k) + 1);
    }
    CHECK(tc_stats_get(tc).programs <= 2 * 3);
}

// ---- functions ----
static int body_runs;
static void calls_host(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    tc_tensor y = tc_add_s(in[0], 1);
    body_runs++;
    tc_host_call(tc, note, *(notes **)user, &y, 1);
    out[0] = tc_mul_s(y, 2);
}
static void calls_host_plainly(tc_ctx *tc, const tc_tensor *in, tc_tensor *out,
                               void *user) {
    body_runs++;
    tc_host_call(tc, note, *(notes **)user, NULL, 0);
    out[0] = tc_mul_s(in[0], 2);
}
static void calls_host_with_input(tc_ctx *tc, const tc_tensor *in, tc_tensor *out,
                                  void *user) {
    body_runs++;
    tc_host_call(tc, note, *(notes **)user, in, 1);
    out[0] = tc_mul_s(in[0], 2);
}

BOTH(a_body_is_not_skipped) {
    static const tc_body bodies[] = {calls_host, calls_host_plainly, calls_host_with_input};
    for (int k = 0; k < 3; k++) {
        notes w, *at_w = &w;
        memset(&w, 0, sizeof w);
        body_runs = 0;
        tc_fn *f = tc_compile(tc, bodies[k], &at_w, sizeof at_w, NULL);
        for (int i = 0; i < 5; i++) {
            tc_tensor a = matrix(tc), y;
            CHECK_EQ(tc_call(f, &a, 1, &y, 1), TC_OK);
            CHECK_EQ(at(y, 4), k ? 8 : 10);
        }
        CHECK_EQ(body_runs, 5);
        CHECK_EQ(w.calls, 5);
        if (CHECK(tc_fn_demoted(f) != NULL)) CHECK(strstr(tc_fn_demoted(f), "host"));
    }
}

// A read of an input decides: it is no result of the body, and yet the body depends on it.
static void reads_its_input(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_item(in[1]) > 0 ? tc_add_s(in[0], 1) : tc_sub_s(in[0], 1);
}

static tc_tensor outside; // captured by the body
static void reads_outside(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_item(outside) > 0 ? tc_add_s(in[0], 1) : tc_sub_s(in[0], 1);
}

BOTH(a_body_that_reads_from_outside_is_not_skipped) {
    tc_fn *f[2];
    f[0] = tc_compile(tc, reads_its_input, NULL, 0, NULL);
    f[1] = tc_compile(tc, reads_outside, NULL, 0, NULL);
    for (int k = 0; k < 8; k++) {
        tc_tensor in[2], y;
        in[0] = matrix(tc);
        in[1] = outside = tc_full(tc, TC_SCALAR, k < 4 ? 1 : -1, TC_F32);
        for (int i = 0; i < 2; i++) {
            CHECK_EQ(tc_call(f[i], in, 2 - i, &y, 1), TC_OK);
            CHECK_EQ(at(y, 5), k < 4 ? 6 : 4);
        }
    }
    CHECK(tc_fn_demoted(f[0]) && tc_fn_demoted(f[1]));
}

// ---- fullgraph, errors ----
BOTH(fullgraph_forbids_it) {
    notes w;
    memset(&w, 0, sizeof w);
    tc_options o = tc_options_default();
    o.fullgraph = 1;
    tc_tensor a = matrix(tc);
    for (int k = 0; k < 3; k++) { // of a result, an input, nothing
        tc_trace_begin_at(tc, "whole", &o, "host.c", 50 + k);
        tc_tensor y = tc_add_s(a, 1);
        int line = __LINE__ + 1;
        CHECK_EQ(tc_host_call(tc, note, &w, k ? &a : &y, k < 2), TC_E_FULLGRAPH);
        CHECK_EQ(tc_error_line(tc), line);
        CHECK(strstr(tc_error_file(tc), "host.c"));
        CHECK(strstr(tc_error_text(tc), "\"whole\""));
        ERROR(TC_E_FULLGRAPH, "host_call");
        CHECK_EQ(tc_trace_end(tc), TC_E_FULLGRAPH);
    }
    CHECK_EQ(w.calls, 0);
    CHECK_EQ(tc_host_call(tc, note, &w, &a, 1), TC_OK); // outside it is no break
    CHECK_EQ(w.calls, 1);
}

BOTH(what_the_function_returns) {
    notes w;
    memset(&w, 0, sizeof w);
    tc_tensor a = matrix(tc);
    static const tc_status from[] = {TC_E_IO, 3, -999};
    for (int region = 0; region < 2; region++) {
        for (int k = 0; k < 3; k++) {
            w.status = from[k];
            if (region) BEGIN("returns");
            tc_tensor y = tc_add_s(a, 1);
            CHECK_EQ(tc_host_call(tc, note, &w, &y, 1), k ? TC_E_ARG : TC_E_IO);
            ERROR(k ? TC_E_ARG : TC_E_IO, k ? "no status" : "returned TC_E_IO");
            tc_tensor z = tc_mul_s(y, 2); // the region goes on
            if (region) END();
            CHECK_EQ(at(z, 3), 8);
        }
    }
}

static tc_status refuses(void *user, const tc_buffer *in, int n_in, const tc_buffer *out) {
    (void)user, (void)in, (void)n_in, (void)out;
    return TC_E_BACKEND;
}

BOTH(wrong_calls) {
    notes w;
    tc_custom_op op;
    memset(&w, 0, sizeof w), memset(&op, 0, sizeof op);
    op.name = "refuses", op.run = refuses;
    int id = tc_register_op(tc, &op);
    tc_tensor a = matrix(tc), dead = tc_add_s(a, 1), none = tc_null();
    tc_free(dead);
    CHECK_EQ(tc_host_call(NULL, note, &w, &a, 1), TC_E_NULL);
    ERROR(TC_E_NULL, "tc_host_call: ");
    for (int region = 0; region < 2; region++) {
        if (region) BEGIN("wrong");
        CHECK_EQ(tc_host_call(tc, NULL, &w, &a, 1), TC_E_NULL);
        ERROR(TC_E_NULL, "the function is null");
        CHECK_EQ(tc_host_call(tc, note, &w, NULL, 1), TC_E_NULL);
        ERROR(TC_E_NULL, "null array");
        CHECK_EQ(tc_host_call(tc, note, &w, &none, 1), TC_E_NULL);
        ERROR(TC_E_NULL, "input 0 is a null tensor");
        CHECK_EQ(tc_host_call(tc, note, &w, &a, -1), TC_E_ARG);
        ERROR(TC_E_ARG, "-1 inputs");
        CHECK_EQ(tc_host_call(tc, note, &w, &dead, 1), TC_E_DEAD);
        tc_error_clear(tc);
        if (region) END();
    }
    // What an input needs may fail: then the function is not called.
    BEGIN("needs");
    tc_tensor y = tc_custom(tc, id, &a, 1);
    CHECK_EQ(tc_host_call(tc, note, &w, &y, 1), TC_E_BACKEND);
    ERROR(TC_E_BACKEND, "refuses");
    tc_trace_end(tc);
    tc_error_clear(tc);
    CHECK_EQ(w.calls, 0);
}

// ---- the function uses the context ----
static tc_status goes_on(void *user, const tc_buffer *in, int n_in) {
    notes *w = (notes *)user;
    const float *x = (const float *)in[0].data;
    (void)n_in;
    w->calls++;
    w->made = tc_full(w->tc, TC_DIMS(ROWS, COLS), (double)x[3], TC_F32);
    w->value[0][0] = tc_item(tc_sum_all(w->made)); // a break inside the break
    return x[3] > 0 ? TC_OK : TC_E_INTERNAL;
}

BOTH(ops_inside_the_function) {
    notes w;
    memset(&w, 0, sizeof w);
    w.tc = tc;
    tc_tensor a = matrix(tc);
    for (int k = 0; k < 3; k++) {
        BEGIN("inside");
        tc_tensor x = tc_add_s(a, 1);
        CHECK_EQ(tc_host_call(tc, goes_on, &w, &x, 1), TC_OK);
        tc_tensor y = tc_mul(x, w.made);
        END();
        CHECK_EQ(w.value[0][0], 4 * N);
        CHECK_EQ(at(y, 5), 24);
    }
}

BOTH(regions_that_run_eagerly) {
    notes w;
    memset(&w, 0, sizeof w);
    tc_options o = tc_options_default();
    o.disable = 1, o.fullgraph = 1;
    tc_tensor a = matrix(tc);
    tc_trace_begin_at(tc, "disabled", &o, "host.c", 60);
    tc_tensor y = tc_add_s(a, 1);
    CHECK_EQ(tc_host_call(tc, note, &w, &y, 1), TC_OK);
    END();
    CHECK_EQ(w.value[0][2], 12);
    CHECK_EQ(tc_stats_get(tc).graph_breaks, 0);
}

// Eager code inside a region: what it needs of the region is computed for it.
BOTH(between_disable_begin_and_end) {
    notes w;
    memset(&w, 0, sizeof w);
    tc_tensor a = matrix(tc);
    for (int k = 0; k < 3; k++) {
        w.calls = 0;
        BEGIN("suspended");
        tc_tensor x = tc_add_s(a, 1 + k);
        tc_disable_begin(tc);
        tc_tensor in[2];
        in[0] = tc_mul_s(x, 2), in[1] = x;
        CHECK_EQ(tc_host_call(tc, note, &w, in, 2), TC_OK);
        CHECK_EQ(tc_host_call(tc, note, &w, &x, 1), TC_OK);
        CHECK_EQ(tc_host_call(tc, note, &w, NULL, 0), TC_OK);
        tc_disable_end(tc);
        tc_tensor y = tc_sub(in[0], x);
        END();
        CHECK_EQ(w.calls, 3);
        CHECK_EQ(w.value[0][2], 2 * (12 + k));
        CHECK_EQ(w.value[1][2], 12 + k);
        CHECK_EQ(at(y, 3), 4 + k);
    }
}

BOTH(nothing_is_called_ahead_of_time) {
    static const tc_body bodies[] = {calls_host, calls_host_plainly, calls_host_with_input};
    for (int k = 0; k < 3; k++) {
        notes w, *at_w = &w;
        tc_spec spec;
        memset(&w, 0, sizeof w), memset(&spec, 0, sizeof spec);
        spec.dtype = TC_F32, spec.rank = 2, spec.dims[0] = ROWS, spec.dims[1] = COLS;
        tc_fn *f = tc_compile(tc, bodies[k], &at_w, sizeof at_w, NULL);
        CHECK_EQ(tc_precompile(f, &spec, 1, 1), TC_E_STATE);
        ERROR(TC_E_STATE, "tc_precompile");
        CHECK_EQ(w.calls, 0);
    }
}

BOTH(recorded_lazily) {
    notes w;
    memset(&w, 0, sizeof w);
    tc_tensor a = matrix(tc);
    CHECK_EQ(tc_lazy(tc, 1), TC_OK);
    for (int k = 0; k < 2; k++) {
        tc_tensor x = tc_add_s(a, 1);
        CHECK_EQ(tc_host_call(tc, note, &w, &x, 1), TC_OK);
        tc_tensor y = tc_mul_s(x, 2);
        CHECK_EQ(tc_eval(tc, &y, 1), TC_OK);
        CHECK_EQ(at(y, 2), 6);
        tc_free(y);
    }
    CHECK_EQ(tc_lazy(tc, 0), TC_OK);
    CHECK_EQ(w.calls, 2);
    CHECK_EQ(w.value[1][2], 12);
}

// The branch that the host takes is another path; nothing is new in the end.
BOTH(the_host_decides) {
    notes w;
    uint64_t known = 0;
    memset(&w, 0, sizeof w);
    tc_tensor a = matrix(tc);
    for (int k = 0; k < 8; k++) {
        w.calls = 0;
        BEGIN("decides");
        tc_tensor x = tc_add_s(a, k % 2 ? 100 : 0);
        tc_host_call(tc, note, &w, &x, 1);
        tc_tensor y = w.value[0][0] > 50 ? tc_sub_s(x, 100) : tc_mul_s(x, 2);
        END();
        CHECK_EQ(at(y, 6), k % 2 ? 6 : 12);
        if (k == 5) known = tc_stats_get(tc).programs;
    }
    CHECK_EQ(tc_stats_get(tc).visits, 8);
    CHECK_EQ(tc_stats_get(tc).programs, known);
}

TEST(it_is_said_in_the_logs) {
    tc_ctx *tc = open_backend("aot_eager");
    notes w;
    memset(&w, 0, sizeof w);
    tc_tensor a = matrix(tc);
    BEGIN("told");
    tc_tensor y = tc_add_s(a, 1);
    tc_host_call_at(tc, note, &w, &y, 1, "app.c", 321);
    tc_tensor z = tc_mul_s(y, 2);
    END();
    (void)z;
    CHECK(strstr(tc_explain(tc), "app.c:321"));
    CHECK(strstr(tc_explain(tc), "1 graph break"));
    tc_close(tc);
}

// ---- between tc_disable_begin and its end ----

static double seen_there;

static tc_status sees(void *user, const tc_buffer *in, int n_in) {
    (void)user;
    seen_there = n_in ? (double)((const float *)in[0].data)[2] : -1;
    return TC_OK;
}

static void calls_eagerly(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)user;
    tc_tensor y = tc_square(in[0]);
    tc_disable_begin(tc);
    tc_host_call(tc, sees, NULL, &y, 1);
    tc_disable_end(tc);
    out[0] = tc_add_s(y, 1);
}

// It sees what the suspended region has computed and written in place.
BOTH(where_a_region_is_suspended) {
    tc_fn *f = tc_compile(tc, calls_eagerly, NULL, 0, NULL);
    for (int k = 0; k < 3; k++) {
        tc_tensor x = line(tc, 40, k, 1), y;
        double square = (k + 2) * (k + 2);
        BEGIN("suspended");
        y = tc_square(x);
        tc_add_(x, y);
        tc_disable_begin(tc);
        CHECK_EQ(tc_host_call(tc, sees, NULL, &y, 1), TC_OK);
        CHECK_EQ(seen_there, square);
        CHECK_EQ(tc_host_call(tc, sees, NULL, &x, 1), TC_OK);
        CHECK_EQ(seen_there, k + 2 + square);
        tc_disable_end(tc);
        END();
        CHECK_EQ(AT(x, 2), k + 2 + square);
        x = line(tc, 40, k, 1);
        CALL(f, &x, 1, &y, 1);
        CHECK_EQ(seen_there, square);
        CHECK_EQ(AT(y, 2), square + 1);
    }
}

static void calls_with_nothing(tc_ctx *tc, const tc_tensor *in, tc_tensor *out,
                               void *user) {
    (void)user;
    tc_disable_begin(tc);
    tc_host_call(tc, sees, NULL, NULL, 0);
    tc_disable_end(tc);
    out[0] = tc_add_s(in[0], 1);
}

BOTH(not_while_precompiling) {
    tc_spec s;
    memset(&s, 0, sizeof s);
    s.dtype = TC_F32, s.rank = 1, s.dims[0] = 40;
    tc_fn *f = tc_compile(tc, calls_with_nothing, NULL, 0, NULL);
    seen_there = 5;
    CHECK_EQ(tc_precompile(f, &s, 1, 1), TC_E_STATE);
    ERROR(TC_E_STATE, "tc_precompile");
    CHECK_EQ(seen_there, 5);
}

static tc_status closes(void *user, const tc_buffer *in, int n_in) {
    (void)in, (void)n_in;
    tc_close((tc_ctx *)user);
    return TC_OK;
}

BOTH(it_cannot_close_the_context) {
    tc_tensor x = line(tc, 40, 0, 1);
    CHECK_EQ(tc_host_call(tc, closes, tc, NULL, 0), TC_OK);
    ERROR(TC_E_STATE, "tc_close");
    BEGIN("around");
    x = tc_add_s(x, 1);
    tc_host_call(tc, closes, tc, NULL, 0);
    ERROR(TC_E_STATE, "tc_close");
    END();
    CHECK_EQ(AT(x, 2), 3);
}
