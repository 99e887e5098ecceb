// Eager code in regions, laziness, programs ahead of time, frozen contexts, questions about sizes.
// Values come from plain C.
#include "tcompile.h"

#include "harness.h"

#include "help.h"

#if defined(__linux__)
#    include <linux/filter.h>
#    include <linux/seccomp.h>
#    include <stddef.h>
#    include <sys/prctl.h>
#    include <sys/syscall.h>
#endif
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 40 };

static int runs; // of bodies

// ---- tc_disable ----

BOTH(eager_code_in_a_region) {
    for (int k = 0; k < 4; k++) {
        tc_tensor x = line(tc, N, k, 1), y, z, w;
        tc_trace_begin(tc, "part");
        y = tc_add_s(x, 1);
        CHECK(tc_is_compiling(tc));
        CHECK_EQ(tc_disable_begin(tc), TC_OK);
        CHECK(!tc_is_compiling(tc));
        z = tc_mul_s(y, 3); // of a result of the region
        CHECK_EQ(AT(z, 2), 3 * (k + 3));
        w = tc_sub(z, x); // of what both have
        CHECK_EQ(tc_disable_end(tc), TC_OK);
        CHECK(tc_is_compiling(tc));
        y = tc_add(tc_neg(w), y);
        CHECK_EQ(tc_trace_end(tc), TC_OK);
        CHECK_EQ(AT(y, 2), -(3 * (k + 3) - (k + 2)) + k + 3);
    }
    CHECK_EQ(tc_stats_get(tc).graph_breaks, 4);
    CHECK_EQ(tc_stats_get(tc).eager_ops, 8);
    CHECK_EQ(tc_stats_get(tc).visits, 4);
}

// What the region wrote in place is seen, though its memory is written at the end only.
BOTH(eager_code_sees_writes_in_place) {
    for (int k = 0; k < 3; k++) {
        tc_tensor x = line(tc, N, k, 1), z;
        tc_trace_begin(tc, "writes");
        tc_add_(x, tc_square(x));
        tc_disable_begin(tc);
        z = tc_mul_s(x, 2);
        CHECK_EQ(AT(z, 3), 2 * ((k + 3) + (k + 3) * (k + 3)));
        tc_disable_end(tc);
        z = tc_add(z, x);
        CHECK_EQ(tc_trace_end(tc), TC_OK);
        CHECK_EQ(AT(z, 3), 3 * ((k + 3) + (k + 3) * (k + 3)));
        CHECK_EQ(AT(x, 3), (k + 3) + (k + 3) * (k + 3));
    }
}

BOTH(eager_code_must_not_write_what_the_region_has) {
    tc_tensor x = line(tc, N, 0, 1), other = line(tc, N, 5, 0), y, view;
    tc_trace_begin(tc, "guarded");
    y = tc_add_s(x, 1);
    tc_disable_begin(tc);
    CHECK_EQ(tc_add_(x, other).id, 0);
    ERROR(TC_E_STATE, "\"guarded\"");
    view = tc_slice(y, 0, 0, 4, 1);
    CHECK_EQ(tc_mul_s_(view, 2).id, 0);
    ERROR(TC_E_STATE, "\"guarded\"");
    tc_mul_s_(other, 2); // nobody's
    CHECK_EQ(AT(other, 1), 10);
    tc_disable_end(tc);
    y = tc_add(y, other);
    tc_trace_end(tc);
    tc_error_clear(tc);
    CHECK_EQ(AT(y, 3), 4 + 10);
    CHECK_EQ(AT(x, 3), 3);
}

static tc_fn *inner;

static void square_plus(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    runs++;
    out[0] = tc_add_s(tc_square(in[0]), 1);
}

// Regions, functions and further pairs inside are eager too.
BOTH(all_is_eager_inside) {
    inner = tc_compile(tc, square_plus, NULL, 0, NULL);
    for (int k = 0; k < 3; k++) {
        tc_tensor x = line(tc, N, k, 1), y, z;
        tc_trace_begin(tc, "outer");
        y = tc_add_s(x, 1);
        tc_disable_begin(tc);
        tc_disable_begin(tc);
        CHECK_EQ(tc_call(inner, &y, 1, &z, 1), TC_OK);
        CHECK_EQ(AT(z, 1), (k + 2) * (k + 2) + 1);
        tc_disable_end(tc);
        tc_trace_begin(tc, "within");
        z = tc_neg(z);
        CHECK(!tc_is_compiling(tc));
        CHECK_EQ(tc_trace_end(tc), TC_OK);
        tc_disable_end(tc);
        z = tc_add(z, y);
        CHECK_EQ(tc_trace_end(tc), TC_OK);
        CHECK_EQ(AT(z, 1), -((k + 2) * (k + 2) + 1) + k + 2);
    }
    CHECK_EQ(tc_stats_get(tc).skips, 0);
    // Outside regions too.
    tc_disable_begin(tc);
    tc_trace_begin(tc, "none");
    tc_tensor t = tc_neg(line(tc, N, 1, 1));
    CHECK(!tc_is_compiling(tc));
    tc_trace_end(tc);
    tc_disable_end(tc);
    CHECK_EQ(AT(t, 0), -1);
}

static void partly_eager(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)user;
    tc_disable_begin(tc);
    tc_tensor y = tc_mul_s(in[0], 2); // of an input alone: no break is needed for it
    tc_disable_end(tc);
    out[0] = tc_add_s(y, 1);
}

BOTH(a_body_with_eager_code_is_not_skipped) {
    tc_fn *f = tc_compile(tc, partly_eager, NULL, 0, NULL);
    for (int k = 0; k < 5; k++) {
        tc_tensor x = line(tc, N, k, 1), y;
        CHECK_EQ(tc_call(f, &x, 1, &y, 1), TC_OK);
        CHECK_EQ(AT(y, 3), 2 * (k + 3) + 1);
    }
    CHECK_EQ(tc_stats_get(tc).skips, 0);
    CHECK(tc_fn_demoted(f) != NULL);
}

BOTH(pairs_must_match) {
    CHECK_EQ(tc_disable_end(tc), TC_E_STATE);
    ERROR(TC_E_STATE, "tc_disable_begin");
    tc_options o = tc_options_default();
    o.fullgraph = 1;
    tc_tensor x = line(tc, N, 0, 1), y;
    tc_trace_begin_with(tc, "whole", &o);
    y = tc_add_s(x, 1);
    tc_disable_begin(tc);
    CHECK_EQ(tc_trace_end(tc), TC_E_REGION);
    ERROR(TC_E_REGION, "tc_disable_begin");
    CHECK_EQ(tc_neg(y).id, 0);
    ERROR(TC_E_FULLGRAPH, "fullgraph");
    tc_disable_end(tc);
    CHECK_EQ(tc_trace_end(tc), TC_E_FULLGRAPH);
    tc_error_clear(tc);
    CHECK_EQ(tc_reset(tc), TC_OK);
    tc_disable_begin(tc);
    CHECK_EQ(tc_reset(tc), TC_E_STATE);
    tc_error_clear(tc);
    tc_disable_end(tc);
    CHECK_EQ(tc_disable_begin(NULL), TC_E_NULL);
    ERROR(TC_E_NULL, "tc_disable_begin: ");
    CHECK_EQ(tc_disable_end(NULL), TC_E_NULL);
    ERROR(TC_E_NULL, "tc_disable_end: ");
}

// ---- laziness ----

BOTH(ops_are_lazy_until_eval) {
    tc_tensor x = line(tc, N, 1, 1), y, z, kept = tc_null();
    CHECK_EQ(tc_lazy(tc, 1), TC_OK);
    for (int k = 0; k < 6; k++) {
        y = tc_add_s(tc_mul_s(x, 2), 1);
        z = tc_sqrt(tc_square(y));
        CHECK_EQ(tc_eval(tc, &z, 1), TC_OK);
        CHECK_EQ(AT(z, 4), 11);
        if (!k) kept = z;
    }
    tc_stats s = tc_stats_get(tc);
    CHECK_EQ(s.eager_ops, 0);
    CHECK_EQ(s.programs, 1); // the same ops, the same program
    CHECK_EQ(s.kernel_runs, 6);
    CHECK_EQ(AT(kept, 4), 11); // what tc_eval named is ours
    tc_free(kept);
    // Reading asks for what it needs, wherever it stands.
    y = tc_neg(x);
    CHECK_EQ(AT(y, 2), -3);
    y = tc_add(y, y);
    CHECK_EQ(AT(y, 2), -6);
    CHECK_EQ(tc_lazy(tc, 0), TC_OK);
    CHECK(!tc_is_compiling(tc));
    y = tc_add_s(x, 1);
    CHECK_EQ(tc_stats_get(tc).eager_ops, 1);
    CHECK_EQ(AT(y, 0), 2);
}

BOTH(lazy_loops_of_other_lengths) {
    tc_lazy(tc, 1);
    for (int k = 0; k < 12; k++) {
        tc_scope_begin(tc);
        tc_tensor x = line(tc, N, 0, 1);
        for (int i = 0; i < k % 3 + 1; i++) x = tc_add_s(x, 1);
        CHECK_EQ(tc_eval(tc, &x, 1), TC_OK);
        CHECK_EQ(AT(x, 5), 5 + k % 3 + 1);
        tc_free(x);
        tc_scope_end(tc);
    }
    CHECK_EQ(tc_stats_get(tc).programs, 3);
    tc_lazy(tc, 0);
}

static int advised;

static void hear_advice(void *user, int level, const char *channel, const char *text) {
    (void)user, (void)channel;
    advised += level > 0 && strstr(text, "for all its rounds where tc_eval ends each");
}

// A state that is consumed and read: one program where tc_eval ends each round, and who does not call it is
// told to.
TEST(lazy_loops_with_a_state) {
    enum { ROUNDS = 40 };
    for (int evals = 0; evals < 2; evals++) {
        tc_config config = tc_config_default();
        config.backend = evals ? "aot_eager" : "cpu"; // only there programs have a limit
        config.threads = 1, config.no_disk_cache = 1;
        config.logger.log = hear_advice, advised = 0;
        tc_ctx *tc = tc_open(&config);
        tc_tensor x = line(tc, N, 1, 0);
        double want = 1;
        tc_lazy(tc, 1);
        for (int k = 0; k < ROUNDS; k++) {
            tc_tensor next = tc_mul_s(x, 0.5), sum = tc_sum_all(tc_square(tc_sub(next, x)));
            if (evals) CHECK_EQ(tc_eval(tc, NULL, 0), TC_OK);
            CHECK_EQ(tc_item(sum) == N * want * want / 4, 1);
            x = next, want /= 2;
        }
        CHECK_EQ(AT(x, 3) == want, 1);
        CHECK_EQ(advised, !evals);
        if (evals) CHECK(tc_stats_get(tc).programs <= 2);
        tc_close(tc);
    }
}

BOTH(eval_without_laziness) {
    tc_tensor x = line(tc, N, 0, 1), y = tc_null();
    CHECK_EQ(tc_eval(tc, &x, 1), TC_OK);
    CHECK_EQ(tc_eval(tc, NULL, 0), TC_OK);
    CHECK_EQ(tc_eval(tc, &y, 1), TC_E_NULL);
    tc_error_clear(tc);
    CHECK_EQ(tc_eval(tc, NULL, 1), TC_E_NULL);
    ERROR(TC_E_NULL, "tc_eval: the list of 1 is NULL");
    CHECK_EQ(tc_eval(tc, &x, -1), TC_E_ARG);
    ERROR(TC_E_ARG, "tc_eval: a list of -1");
    CHECK_EQ(tc_lazy(tc, 2), TC_E_ARG);
    ERROR(TC_E_ARG, "tc_lazy: on is 2; 1 or 0");
    CHECK_EQ(tc_lazy(tc, -1), TC_E_ARG);
    ERROR(TC_E_ARG, "tc_lazy: on is -1; 1 or 0");
    tc_trace_begin(tc, "open");
    CHECK_EQ(tc_eval(tc, &x, 1), TC_E_STATE);
    ERROR(TC_E_STATE, "a region is open");
    CHECK_EQ(tc_lazy(tc, 1), TC_E_STATE);
    tc_error_clear(tc);
    tc_trace_end(tc);
    CHECK_EQ(tc_lazy(tc, 1), TC_OK);
    CHECK_EQ(tc_lazy(tc, 1), TC_OK);
    tc_trace_begin(tc, "inside"); // a part of the lazy region
    CHECK_EQ(tc_lazy(tc, 0), TC_E_STATE);
    tc_error_clear(tc);
    y = tc_neg(x);
    tc_trace_end(tc);
    CHECK_EQ(tc_eval(tc, &y, 1), TC_OK);
    CHECK_EQ(AT(y, 2), -2);
    CHECK_EQ(tc_eval(NULL, NULL, 0), TC_E_NULL);
    ERROR(TC_E_NULL, "tc_eval: ");
    CHECK_EQ(tc_lazy(NULL, 1), TC_E_NULL);
    ERROR(TC_E_NULL, "tc_lazy: ");
} // closed while lazy

// ---- programs ahead of time ----

static tc_spec spec1(tc_dtype dtype, int64_t n) {
    tc_spec s;
    memset(&s, 0, sizeof s);
    s.dtype = dtype, s.rank = 1, s.dims[0] = n;
    return s;
}

BOTH(precompiled_calls_make_nothing) {
    runs = 0;
    tc_fn *f = tc_compile(tc, square_plus, NULL, 0, NULL);
    tc_spec s = spec1(TC_F32, N);
    CHECK_EQ(tc_precompile(f, &s, 1, 1), TC_OK);
    CHECK_EQ(runs, 2);
    tc_stats before = tc_stats_get(tc);
    CHECK_EQ(before.kernel_runs, 0);
    CHECK_EQ(before.programs, 1);
    for (int k = 0; k < 3; k++) {
        tc_tensor x = line(tc, N, k, 1), y;
        CHECK_EQ(tc_call(f, &x, 1, &y, 1), TC_OK);
        CHECK_EQ(AT(y, 2), (k + 2) * (k + 2) + 1);
    }
    tc_stats after = tc_stats_get(tc);
    CHECK_EQ(runs, 2); // the body was not called again
    CHECK_EQ(after.programs, 1);
    CHECK_EQ(after.compiles, before.compiles);
    CHECK_EQ(after.skips, 3);
}

BOTH(precompiled_for_all_sizes) {
    tc_fn *f = tc_compile(tc, square_plus, NULL, 0, NULL);
    for (int n = 10; n <= 30; n += 10) {
        tc_spec s = spec1(TC_F32, n);
        CHECK_EQ(tc_precompile(f, &s, 1, 1), TC_OK);
    }
    CHECK_EQ(tc_stats_get(tc).programs, 2);
    tc_tensor x = line(tc, 77, 1, 1), y;
    CHECK_EQ(tc_call(f, &x, 1, &y, 1), TC_OK);
    CHECK_EQ(AT(y, 76), 77 * 77 + 1);
    CHECK_EQ(tc_stats_get(tc).programs, 2);
}

// Again, for what calls have made their short cut for already: nothing runs on memory that is not there.
BOTH(precompiled_after_calls) {
    tc_fn *f = tc_compile(tc, square_plus, NULL, 0, NULL);
    tc_spec s = spec1(TC_F32, N);
    for (int k = 0; k < 4; k++) {
        tc_tensor x = line(tc, N, k, 1), y;
        CALL(f, &x, 1, &y, 1);
        CHECK_EQ(AT(y, 2), (k + 2) * (k + 2) + 1);
        uint64_t ran = tc_stats_get(tc).kernel_runs;
        for (int i = 0; i < 3; i++) CHECK_EQ(tc_precompile(f, &s, 1, 1), TC_OK);
        CHECK_EQ(tc_stats_get(tc).kernel_runs, ran);
    }
}

static void draws(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)user;
    out[0] = tc_add(in[0], tc_rand(tc, TC_DIMS(N), TC_F32));
}

// Precompiling changes no result: the random stream stands where it stood.
TEST(precompiling_draws_nothing) {
    double got[2];
    for (int warm = 0; warm < 2; warm++) {
        tc_ctx *tc = open_backend("cpu");
        tc_fn *f = tc_compile(tc, draws, NULL, 0, NULL);
        tc_spec s = spec1(TC_F32, N);
        if (warm) CHECK_EQ(tc_precompile(f, &s, 1, 1), TC_OK);
        tc_tensor x = line(tc, N, 0, 1), y;
        CHECK_EQ(tc_call(f, &x, 1, &y, 1), TC_OK);
        got[warm] = AT(y, 7);
        tc_close(tc);
    }
    CHECK_EQ(got[0], got[1]);
}

static void increments(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    tc_add_(*(const tc_tensor *)user, in[0]);
    out[0] = tc_neg(in[0]);
}

// Captured tensors that the body writes are not written.
BOTH(precompiling_writes_nothing) {
    tc_tensor sum = line(tc, N, 0, 0);
    tc_fn *f = tc_compile(tc, increments, &sum, sizeof sum, NULL);
    tc_spec s = spec1(TC_F32, N);
    CHECK_EQ(tc_precompile(f, &s, 1, 1), TC_OK);
    CHECK_EQ(AT(sum, 3), 0);
    for (int k = 1; k < 5; k++) {
        tc_tensor x = line(tc, N, 1, 0), y;
        CHECK_EQ(tc_call(f, &x, 1, &y, 1), TC_OK);
        CHECK_EQ(AT(sum, 3), k);
    }
}

static void reads(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_mul_s(in[0], tc_item(tc_sum_all(in[0])) > 0 ? 2 : 3);
}

// Where the function runs eagerly there is no program, and the body would read what is not there.
BOTH(nothing_to_precompile) {
    tc_options eager = tc_options_default();
    tc_spec s = spec1(TC_F32, N);
    eager.disable = 1;
    tc_fn *f = tc_compile(tc, reads, NULL, 0, &eager);
    CHECK_EQ(tc_precompile(f, &s, 1, 1), TC_OK);
    f = tc_compile(tc, reads, NULL, 0, NULL);
    tc_set_stance(tc, TC_STANCE_FORCE_EAGER);
    CHECK_EQ(tc_precompile(f, &s, 1, 1), TC_OK);
    CHECK_EQ(tc_stats_get(tc).calls, 0);
}

// A tensor that the body makes once, and keeps beside the recording, is made for good.
static tc_tensor made_once;

static void makes_once(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)user;
    tc_disable_begin(tc);
    if (!made_once.id) made_once = tc_full(tc, TC_DIMS(N), 5, TC_F32);
    tc_disable_end(tc);
    out[0] = tc_add(in[0], made_once);
}

BOTH(precompiling_makes_what_is_eager) {
    tc_fn *f = tc_compile(tc, makes_once, NULL, 0, NULL);
    tc_spec s = spec1(TC_F32, N);
    tc_tensor x = line(tc, N, 0, 1), y;
    made_once.id = 0;
    CHECK_EQ(tc_precompile(f, &s, 1, 1), TC_OK);
    CALL(f, &x, 1, &y, 1);
    CHECK_EQ(AT(y, 3), 8);
}

static void wrong(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_matmul(in[0], in[0]);
}

BOTH(precompile_refuses) {
    tc_spec s = spec1(TC_F32, N);
    tc_fn *f = tc_compile(tc, reads, NULL, 0, NULL),
          *g = tc_compile(tc, square_plus, NULL, 0, NULL);
    CHECK_EQ(tc_precompile(f, &s, 1, 1), TC_E_STATE);
    ERROR(TC_E_STATE, "tc_precompile");
    tc_tensor x = line(tc, N, 1, 1), y; // and works nevertheless
    CHECK_EQ(tc_call(f, &x, 1, &y, 1), TC_OK);
    CHECK_EQ(AT(y, 1), 4);
    CHECK_EQ(tc_precompile(NULL, &s, 1, 1), TC_E_NULL);
    ERROR(TC_E_NULL, "tc_precompile: ");
    CHECK_EQ(tc_precompile(g, NULL, 1, 1), TC_E_NULL);
    CHECK_EQ(tc_precompile(g, &s, -1, 1), TC_E_ARG);
    tc_error_clear(tc);
    s.dims[0] = -4;
    CHECK_EQ(tc_precompile(g, &s, 1, 1), TC_E_SHAPE);
    tc_error_clear(tc);
    s = spec1((tc_dtype)99, N);
    CHECK_EQ(tc_precompile(g, &s, 1, 1), TC_E_ARG);
    ERROR(TC_E_ARG, "99");
    s = spec1(TC_F32, N), s.rank = 2, s.dims[1] = N + 1;
    tc_fn *h = tc_compile(tc, wrong, NULL, 0, NULL);
    CHECK_EQ(tc_precompile(h, &s, 1, 1), TC_E_SHAPE);
    tc_error_clear(tc);
    s = spec1(TC_F32, N);
    tc_trace_begin(tc, "open");
    CHECK_EQ(tc_precompile(g, &s, 1, 1), TC_E_STATE);
    tc_error_clear(tc);
    tc_trace_end(tc);
    CHECK_EQ(tc_precompile(g, &s, 1, 1), TC_OK);
}

// ---- frozen ----

static void frees_its_input(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_relu(in[0]);
    tc_free(in[0]);
}

// The body is refused; tensors made later are as ever.
BOTH(precompiling_a_body_that_frees_its_input) {
    tc_fn *f = tc_compile(tc, frees_its_input, NULL, 0, NULL);
    tc_spec s;
    memset(&s, 0, sizeof s);
    s.dtype = TC_F32, s.rank = 2, s.dims[0] = 3, s.dims[1] = 4;
    CHECK_EQ(tc_precompile(f, &s, 1, 1), TC_E_DEAD);
    tc_error_clear(tc);
    tc_tensor a = tc_full(tc, TC_SCALAR, 1, TC_F32), b = tc_full(tc, TC_SCALAR, 2, TC_F32);
    CHECK(a.id != b.id);
    CHECK_EQ(tc_item(a), 1);
    CHECK_EQ(tc_item(b), 2);
}

// Steps beyond every size take what they meet; a tensor without elements needs no memory.
BOTH(edges_of_views) {
    tc_tensor x = line(tc, 10, 0, 1), y = tc_slice(x, 0, 3, TC_END, INT64_MAX);
    CHECK_EQ(tc_numel(y), 1);
    CHECK_EQ(AT(y, 0), 3);
    y = tc_slice(x, 0, 7, 0, INT64_MIN);
    CHECK_EQ(tc_numel(y), 1);
    CHECK_EQ(AT(y, 0), 7);
    y = tc_unfold(x, 0, 2, INT64_MAX);
    CHECK_EQ(tc_dim(y, 0), 1);
    CHECK_EQ(tc_dim(y, 1), 2);
    CHECK_EQ(AT(y, 1), 1);
    tc_tensor none = tc_wrap(tc, NULL, TC_DIMS(0), TC_F32);
    CHECK(tc_relu_(none).id != 0);
}

// With a region open, after others; and with ops that nobody evaluated.
BOTH(closing_in_the_middle) {
    tc_tensor x = line(tc, 8, 0, 1), a;
    for (int open = 0; open < 2; open++) {
        tc_ctx *other = open_backend("aot_eager");
        tc_tensor y = line(other, 8, 0, 1), z;
        tc_trace_begin(other, "first");
        z = tc_exp(y);
        CHECK_EQ(tc_trace_end(other), TC_OK);
        tc_trace_begin(other, "second");
        z = tc_mul(y, z);
        CHECK_EQ(tc_trace_end(other), TC_OK);
        if (open)
            tc_trace_begin(other, "third");
        else
            CHECK_EQ(tc_lazy(other, 1), TC_OK);
        z = tc_add(z, y);
        CHECK(z.id != 0);
        tc_close(other);
    }
    a = tc_add_s(x, 1);
    CHECK_EQ(AT(a, 7), 8);
}

BOTH(frozen_contexts_refuse_what_is_new) {
    tc_fn *f = tc_compile(tc, square_plus, NULL, 0, NULL);
    tc_tensor x = line(tc, N, 0, 1), y = tc_null(), other = line(tc, N + 1, 0, 1), z;
    for (int k = 0; k < 4; k++) {
        CHECK_EQ(tc_call(f, &x, 1, &y, 1), TC_OK);
        tc_free(y);
        BEGIN("warm");
        (void)tc_neg(x);
        END();
    }
    CHECK_EQ(tc_freeze(tc), TC_OK);
    CHECK_EQ(tc_freeze(tc), TC_OK);
    for (int k = 0; k < 4; k++) {
        CHECK_EQ(tc_call(f, &x, 1, &y, 1), TC_OK);
        CHECK_EQ(((const float *)tc_data(y))[3], 10.0f);
        tc_free(y);
    }
    CHECK_EQ(tc_call(f, &other, 1, &z, 1), TC_E_RECOMPILE); // its program is not made
    ERROR(TC_E_RECOMPILE,
          "\"square_plus\" has no program for this, and the context is frozen");
    BEGIN("warm"); // other sizes, then other calls
    CHECK(tc_is_null(tc_neg(other)));
    CHECK_EQ(tc_trace_end(tc), TC_E_RECOMPILE);
    ERROR(TC_E_RECOMPILE, "\"warm\" has no program for this, and the context is frozen");
    BEGIN("warm");
    CHECK(tc_is_null(tc_abs(x)));
    CHECK_EQ(tc_trace_end(tc), TC_E_RECOMPILE);
    ERROR(TC_E_RECOMPILE, "frozen");
    for (int k = 0; k < 3; k++) { // nothing was lost
        BEGIN("warm");
        y = tc_neg(x);
        END();
        CHECK_EQ(((const float *)tc_data(y))[3], -3.0f);
    }
    CHECK_EQ(tc_add(x, x).id, 0); // takes memory
    ERROR(TC_E_STATE, "frozen");
    CHECK_EQ(tc_call(f, &x, 1, &y, 1), TC_OK); // nothing was lost
    CHECK_EQ(((const float *)tc_data(y))[3], 10.0f);
    CHECK_EQ(tc_thaw(tc), TC_OK);
    CHECK_EQ(tc_thaw(tc), TC_OK);
    CHECK_EQ(tc_call(f, &other, 1, &z, 1), TC_OK);
    CHECK_EQ(AT(z, N), N * N + 1);
    tc_trace_begin(tc, "open");
    CHECK_EQ(tc_freeze(tc), TC_E_STATE);
    tc_error_clear(tc);
    tc_trace_end(tc);
    CHECK_EQ(tc_freeze(NULL), TC_E_NULL);
    ERROR(TC_E_NULL, "tc_freeze: ");
    CHECK_EQ(tc_thaw(NULL), TC_E_NULL);
    ERROR(TC_E_NULL, "tc_thaw: ");
}

#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
enum { LONG = 100000 };

// From now on this thread ends at any system call but write, exit, and the clock, which is one on
// machines whose clock the kernel has to read.
static int strict_begin(void) {
#    define ALLOW(number)                                                                  \
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),                                 \
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        ALLOW(SYS_write),
        ALLOW(SYS_exit),
        ALLOW(SYS_clock_gettime),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL),
    };
    struct sock_fprog program;
    program.len = sizeof filter / sizeof *filter, program.filter = filter;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) return 0;
    return !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

// Calls and visits of a frozen context. Writes one byte if all went well.
static void strict_child(int threads, int out) {
    tc_config config = tc_config_default();
    config.threads = threads, config.no_disk_cache = 1;
    tc_ctx *tc = tc_open(&config);
    tc_fn *f = tc_compile(tc, square_plus, NULL, 0, NULL);
    tc_tensor x = tc_arange(tc, 0, LONG, 1, TC_F32), y,
              into = tc_zeros(tc, TC_DIMS(LONG), TC_F32);
    int ok = 1;
    for (int k = 0; k < 1010; k++) {
        if (k == 10) ok &= !tc_freeze(tc) && strict_begin();
        ok &= tc_call(f, &x, 1, &y, 1) == TC_OK;
        ok &= ((const float *)tc_data(y))[100] == 10001.0f;
        tc_free(y);
        ok &= tc_call_into(f, &x, 1, &into, 1) == TC_OK;
        tc_trace_begin(tc, "frozen");
        y = tc_add_s(tc_mul_s(x, 2), 1);
        ok &= tc_trace_end(tc) == TC_OK;
        ok &= ((const float *)tc_data(y))[100] == 201.0f;
    }
    char good = 'y';
    if (ok) ok = write(out, &good, 1) == 1;
    syscall(SYS_exit, !ok);
}

static void strict(int threads) {
    int ends[2];
    char got = 0;
    REQUIRE(!pipe(ends));
    pid_t child = fork();
    if (!child) strict_child(threads, ends[1]);
    close(ends[1]);
    CHECK_EQ(read(ends[0], &got, 1), 1);
    CHECK_EQ(got, 'y');
    kill(child, SIGKILL); // workers outlive the thread that left
    waitpid(child, NULL, 0);
    close(ends[0]);
}

TEST(a_frozen_call_asks_the_system_for_nothing_alone) { strict(1); }
TEST(a_frozen_call_asks_the_system_for_nothing_with_workers) { strict(2); }
#endif

// ---- sizes ----

static void by_size(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    double by = 1;
    if (tc_dim_ge(in[0], 0, 20)) by = 2;
    if (tc_dim_multiple_of(in[0], 0, 8)) by += 10;
    if (tc_dim_lt(in[0], 0, 5)) by += 100;
    out[0] = tc_mul_s(in[0], by);
}

BOTH(questions_about_sizes) {
    static const int sizes[] = {19, 20, 24, 3, 16, 4, 40, 8, 21};
    tc_fn *f = tc_compile(tc, by_size, NULL, 0, NULL);
    for (int k = 0; k < 27; k++) {
        int n = sizes[k % 9];
        double by = (n >= 20 ? 2 : 1) + (n % 8 ? 0 : 10) + (n < 5 ? 100 : 0);
        tc_tensor x = line(tc, n, 1, 1), y;
        CHECK_EQ(tc_call(f, &x, 1, &y, 1), TC_OK);
        CHECK_EQ(AT(y, 2), 3 * by);
    }
    tc_tensor x = line(tc, N, 0, 1);
    CHECK_EQ(tc_dim_multiple_of(x, 0, 0), 0);
    CHECK_EQ(tc_dim_ge(x, -1, N), 1);
    CHECK_EQ(tc_dim_lt(tc_null(), 0, 5), 0);
    CHECK_EQ(tc_dim_ge(x, 3, 0), 0);
    ERROR(TC_E_DIM, "dim");
}

// ---- laziness at odd times ----

BOTH(a_stray_end_under_tc_lazy) {
    tc_tensor x = line(tc, N, 0, 1), y;
    CHECK_EQ(tc_lazy(tc, 1), TC_OK);
    y = tc_add_s(x, 1);
    CHECK_EQ(tc_trace_end(tc), TC_E_REGION);
    ERROR(TC_E_REGION, "without a tc_trace_begin");
    CHECK(tc_is_compiling(tc));
    BEGIN("inside");
    y = tc_mul_s(y, 2);
    END();
    CHECK_EQ(tc_trace_end(tc), TC_E_REGION);
    tc_error_clear(tc);
    CHECK_EQ(tc_eval(tc, &y, 1), TC_OK);
    CHECK_EQ(AT(y, 1), 4);
    CHECK_EQ(tc_lazy(tc, 0), TC_OK);
    CHECK_EQ(tc_trace_end(tc), TC_E_REGION);
    tc_error_clear(tc);
}

// A result of the eval before, stored or not, is the caller's from this one on; a dead one is told.
BOTH(evaluating_earlier_results) {
    tc_tensor x = line(tc, N, 0, 1), y, late, hidden;
    CHECK_EQ(tc_lazy(tc, 1), TC_OK);
    hidden = tc_add_s(x, 2);
    late = tc_mul_s(hidden, 3);
    CHECK_EQ(tc_eval(tc, NULL, 0), TC_OK);
    y = tc_neg(x);
    tc_tensor list[4];
    list[0] = y, list[1] = late, list[2] = hidden, list[3] = x;
    CHECK_EQ(tc_eval(tc, list, 4), TC_OK);
    for (int k = 0; k < 4; k++) {
        tc_add_s(x, k);
        CHECK_EQ(tc_eval(tc, NULL, 0), TC_OK);
    }
    CHECK_EQ(AT(y, 2), -2);
    CHECK_EQ(AT(late, 2), 12);
    CHECK_EQ(AT(hidden, 2), 4);
    for (int i = 0; i < 3; i++) tc_free(list[i]);
    for (int k = 0; k < 3; k++) CHECK_EQ(tc_eval(tc, NULL, 0), TC_OK);
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(tc_eval(tc, &list[i], 1), TC_E_DEAD);
        tc_error_clear(tc);
    }
    CHECK_EQ(tc_lazy(tc, 0), TC_OK);
}

// ---- frozen: statuses ----

static void two_results(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_add_s(in[0], 1), out[1] = tc_add_s(in[0], 2);
}

// What takes memory is TC_E_STATE from every call, and half a result is none.
BOTH(what_takes_memory_while_frozen) {
    tc_tensor x = line(tc, N, 0, 1), y[2];
    tc_fn *f = tc_compile(tc, two_results, NULL, 0, NULL);
    int failed = 0;
    for (int k = 0; k < 5; k++) {
        CALL(f, &x, 1, y, 2);
        tc_free(y[0]), tc_free(y[1]);
    }
    CHECK_EQ(tc_freeze(tc), TC_OK);
    CHECK_EQ(tc_trace_begin(tc, "new"), TC_E_RECOMPILE);
    ERROR(TC_E_RECOMPILE, "\"new\" has no program for this, and the context is frozen");
    CHECK_EQ(tc_reset(tc), TC_E_STATE);
    tc_error_clear(tc);
    CHECK_EQ(tc_print(x), TC_E_STATE);
    tc_error_clear(tc);
    for (int k = 0; k < 100; k++) {
        y[0].id = y[1].id = 77;
        tc_status s = tc_call(f, &x, 1, y, 2);
        if (!s) continue;
        failed++;
        CHECK_EQ(s, TC_E_STATE);
        CHECK(!y[0].id && !y[1].id);
        tc_error_clear(tc);
    }
    CHECK(failed > 0);
    CHECK_EQ(tc_thaw(tc), TC_OK);
    CALL(f, &x, 1, y, 2);
    CHECK_EQ(AT(y[1], 3), 5);
}

// A first compiled run that finds no memory to be compared in is not trusted, and is no error.
TEST(verifying_without_memory) {
    tc_ctx *tc = open_backend("cpu");
    tc_options o = tc_options_default();
    tc_spec s = spec1(TC_F32, N);
    tc_tensor x = line(tc, N, 0, 1), y[3];
    o.verify = 1;
    tc_fn *f = tc_compile(tc, square_plus, NULL, 0, &o);
    CHECK_EQ(tc_precompile(f, &s, 1, 1), TC_OK);
    tc_fn *twin = tc_compile(tc, square_plus, NULL, 0, NULL);
    for (int k = 0; k < 3; k++) CALL(twin, &x, 1, &y[k], 1);
    for (int k = 0; k < 3; k++) tc_free(y[k]);
    tc_tensor bound = line(tc, N, 0, 1); // the function's own room for externals
    CHECK_EQ(tc_freeze(tc), TC_OK);
    tc_status first = tc_call(f, &x, 1, &y[0], 1);
    CHECK(!first == !tc_error(tc));
    if (!first) CHECK_EQ(AT(y[0], 3), 10);
    tc_error_clear(tc);
    CHECK_EQ(tc_thaw(tc), TC_OK);
    CALL(f, &bound, 1, &y[1], 1);
    CHECK_EQ(AT(y[1], 3), 10);
    tc_close(tc);
}

// ---- eager code that needs nothing of the region ----

static void apart(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    tc_disable_begin(tc);
    tc_tensor t = tc_add_s(*(const tc_tensor *)user, 1);
    CHECK_EQ(AT(t, 2), 3);
    tc_disable_end(tc);
    out[0] = tc_add(in[0], t);
}

// It breaks no graph, so fullgraph allows it, in regions and bodies; the body runs at every call.
BOTH(eager_code_apart_from_the_region) {
    tc_tensor x = line(tc, N, 0, 1), y;
    tc_options o = tc_options_default();
    o.fullgraph = 1;
    tc_fn *f = tc_compile(tc, apart, &x, sizeof x, &o);
    for (int k = 0; k < 3; k++) {
        CALL(f, &x, 1, &y, 1);
        CHECK_EQ(AT(y, 2), 5);
    }
    CHECK(tc_fn_demoted(f) && strstr(tc_fn_demoted(f), "tc_disable_begin"));
    CHECK_EQ(tc_stats_get(tc).graph_breaks, 0);
}

static void *strays(void *arg) {
    tc_ctx *tc = (tc_ctx *)arg;
    CHECK_EQ(tc_trace_begin(tc, "mine"), TC_E_THREAD);
    CHECK_EQ(tc_disable_end(tc), TC_E_THREAD);
    return NULL;
}

// A suspended region is still its thread's.
BOTH(another_thread_while_suspended) {
    pthread_t other;
    tc_tensor x = line(tc, N, 0, 1);
    BEGIN("suspended");
    tc_disable_begin(tc);
    REQUIRE(!pthread_create(&other, NULL, strays, tc) && !pthread_join(other, NULL));
    tc_disable_end(tc);
    x = tc_add_s(x, 1);
    END();
    CHECK_EQ(AT(x, 2), 3);
    ERROR(TC_E_THREAD, "suspended");
}
