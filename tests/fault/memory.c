// Contexts and functions without memory: each call fails at each of its allocations in turn. It says so
// by its status and the context's error, loses nothing (a context asserts at its end that it has given
// all back), writes nothing, and works when there is memory again.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

#include "harness.h"

#include "help.h"

enum { N = 40, MOST = 4000 };

static int left = -1; // allocations that still work; -1 = all
static char compiler[] = "cc", folder[] = "/tmp/tc-fault-none";

static void *limited(void *user, void *p, size_t old_size, size_t new_size) {
    (void)user, (void)old_size;
    if (!new_size) return free(p), (void *)NULL;
    if (!left) return NULL;
    if (left > 0) left--;
    return realloc(p, new_size);
}

static tc_config limits(const char *backend) {
    tc_config config = tc_config_default();
    config.threads = 1, config.backend = backend, config.allocator.realloc = limited;
    config.cc = compiler, config.cache_dir = folder;
    return config;
}

// What is opened is as asked for: never without its compiler, cache folder or backend.
TEST(opening) {
    tc_config config = limits("aot_eager");
    tc_ctx *tc = NULL;
    int n = 0;
    for (; !tc && n < MOST; n++) left = n, tc = tc_open(&config);
    left = -1;
    REQUIRE(tc && n > 4);
    CHECK_STR(tc->default_backend, "aot_eager");
    CHECK_STR(tc->kernels->library->compiler, compiler);
    CHECK_STR(tc->kernels->library->cache_dir, folder);
    CHECK_EQ(tc_error(tc), TC_OK);
    tc_close(tc);
}

static tc_status copies(void *user, const tc_buffer *in, int n_in, const tc_buffer *out) {
    (void)user, (void)n_in;
    memcpy(out->data, in->data, sizeof(float) * N);
    return TC_OK;
}

static tc_status nothing(void *user, void *state, const tc_graph_run *run) {
    (void)user, (void)state, (void)run;
    return TC_OK;
}

TEST(opening_a_shared_one) {
    tc_config config = limits("aot_eager");
    tc_ctx *tc = tc_open(&config), *child = NULL;
    tc_custom_op op;
    tc_backend backend;
    tc_tensor x = line(tc, N, 0, 1), view = tc_slice(x, 0, 2, 9, 1), kept;
    memset(&op, 0, sizeof op), memset(&backend, 0, sizeof backend);
    op.name = "copies", op.run = copies, backend.name = "own", backend.run = nothing;
    CHECK(tc_register_op(tc, &op) != 0);
    CHECK_EQ(tc_register_backend(tc, &backend), TC_OK);
    BEGIN("kept");
    kept = tc_keep(tc_add_s(x, 1));
    END();
    int n = 0;
    for (; n < MOST; n++) {
        left = n, child = tc_open_shared(tc), left = -1;
        if (child) break;
        ERROR(TC_E_NOMEM, "");
        CHECK_EQ(AT(kept, 1), 2);
    }
    REQUIRE(child && n > 10);
    BEGIN("kept");
    END();
    tc_trace_begin(child, "all");
    tc_tensor y = tc_add(tc_sum_all(view), tc_sum_all(kept));
    CHECK_EQ(tc_trace_end(child), TC_OK);
    CHECK_EQ(AT(y, 0), 7 * 5 + N * (N + 1) / 2);
    tc_close(tc);
    tc_close(child);
}

typedef struct state {
    tc_tensor sum;
    int how;
} state;

// Adds up in place, and gives two results.
static void adds(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    const state *s = (const state *)user;
    tc_tensor y = tc_square(in[0]);
    if (s->how) {
        tc_disable_begin(tc);
        y = tc_contiguous(tc_add_s(y, 0));
        tc_disable_end(tc);
    }
    tc_add_(s->sum, in[0]);
    out[0] = tc_add_s(y, 1), out[1] = tc_neg(in[0]);
}

// The k-th call fails everywhere.
static void calls(int k, int how) {
    tc_config config = limits("aot_eager");
    for (int n = 0; n < MOST; n++) {
        tc_ctx *tc = tc_open(&config);
        state s;
        tc_tensor x = line(tc, N, 1, 1), y[2];
        memset(&s, 0, sizeof s);
        s.sum = line(tc, N, 0, 0), s.how = how;
        tc_fn *f = tc_compile(tc, adds, &s, sizeof s, NULL);
        tc_scope_begin(tc);
        for (int i = 0; i < k; i++) CALL(f, &x, 1, y, 2);
        y[0].id = y[1].id = 77;
        left = n;
        tc_status status = tc_call(f, &x, 1, y, 2);
        left = -1;
        if (status) {
            CHECK_EQ(status, TC_E_NOMEM);
            ERROR(TC_E_NOMEM, "memory");
            CHECK(!y[0].id && !y[1].id);
            CHECK(AT(s.sum, 3) == 4 * k || FAIL("call %d, n %d: %g", k, n, AT(s.sum, 3)));
        }
        if (!status && tc_error(tc)) FAIL("n %d: %s", n, tc_error_text(tc));
        if (status) CALL(f, &x, 1, y, 2);
        CHECK_EQ(AT(y[0], 1), 5);
        CHECK_EQ(AT(y[1], 1), -2);
        CHECK_EQ(AT(s.sum, 3), 4 * (k + 1));
        tc_scope_end(tc);
        CHECK_EQ(tc_error(tc), TC_OK);
        tc_close(tc);
        if (!status) return;
    }
    FAIL("call %d never worked", k);
}

TEST(first_calls) { calls(0, 0); }
TEST(second_calls) { calls(1, 0); }
TEST(skipped_calls) { calls(2, 0); }
TEST(short_calls) { calls(4, 0); }
TEST(first_calls_with_eager_code) { calls(0, 1); }
TEST(later_calls_with_eager_code) { calls(3, 1); }

static void plus_one(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_add_s(in[0], 1);
}

// What `run` does fails everywhere in a new context; TC_OK ends it.
static void everywhere(tc_status (*run)(tc_ctx *tc, tc_tensor x)) {
    tc_config config = limits("aot_eager");
    int n = 0;
    for (tc_status status = TC_E_NOMEM; status && n < MOST; n++) {
        tc_ctx *tc = tc_open(&config);
        tc_tensor x = line(tc, N, 1, 1), y;
        left = n;
        status = run(tc, x);
        left = -1;
        CHECK(!status == !tc_error(tc));
        CHECK(!status || status == TC_E_NOMEM || FAIL("n %d: %d", n, status));
        tc_error_clear(tc);
        tc_lazy(tc, 0);
        tc_error_clear(tc);
        y = tc_add_s(x, 1); // eager again
        CHECK_EQ(AT(y, 0), 2);
        CHECK_EQ(tc_reset(tc), TC_OK);
        CHECK_EQ(tc_error(tc), TC_OK);
        tc_close(tc);
    }
    CHECK(n > 2 && n < MOST);
}

static tc_status is_lazy(tc_ctx *tc, tc_tensor x) {
    tc_tensor y;
    tc_status s = tc_lazy(tc, 1);
    if (s) return s;
    y = tc_add_s(x, 2);
    if (!y.id) return tc_error(tc);
    s = tc_eval(tc, &y, 1);
    return s ? s : tc_lazy(tc, 0);
}

static tc_status keeps(tc_ctx *tc, tc_tensor x) {
    for (int k = 0; k < 5; k++) {
        tc_status s = tc_trace_begin_at(tc, "keeps", NULL, "test.c", 1);
        if (s) return s;
        tc_keep(tc_add_s(x, 1));
        s = tc_trace_end(tc);
        if (s || tc_error(tc)) return s ? s : tc_error(tc);
    }
    return TC_OK;
}

static tc_status precompiles(tc_ctx *tc, tc_tensor x) {
    tc_spec s;
    (void)x;
    memset(&s, 0, sizeof s);
    s.dtype = TC_F32, s.rank = 1, s.dims[0] = N;
    tc_fn *f = tc_compile(tc, plus_one, NULL, 0, NULL);
    return f ? tc_precompile(f, &s, 1, 1) : tc_error(tc);
}

static tc_status sees(void *user, const tc_buffer *in, int n_in) {
    (void)user, (void)in, (void)n_in;
    return TC_OK;
}

static tc_status calls_host(tc_ctx *tc, tc_tensor x) {
    tc_tensor in[2];
    in[0] = x, in[1] = tc_slice(x, 0, 0, 8, 2);
    return in[1].id ? tc_host_call(tc, sees, NULL, in, 2) : tc_error(tc);
}

TEST(laziness) { everywhere(is_lazy); }
TEST(keeping) { everywhere(keeps); }
TEST(precompiling) { everywhere(precompiles); }
TEST(host_calls) { everywhere(calls_host); }
