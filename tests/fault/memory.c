// Contexts and functions without memory: each call fails at each of its allocations in turn. It says so
// by its status and the context's error, loses nothing (a context asserts at its end that it has given
// all back), writes nothing, and works when there is memory again.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

#include "harness.h"

#include "help.h"

enum { N = 40, MOST = 4000 };

static int left = -1;       // allocations that still work; -1 = all
static size_t most_at_once; // larger ones do not work; 0 = all do
static char compiler[] = "cc", folder[] = "/tmp/tc-fault-none";

static void *limited(void *user, void *p, size_t old_size, size_t new_size) {
    (void)user;
    if ((new_size && !left) || (most_at_once && new_size > most_at_once)) return NULL;
    if (new_size && left > 0) left--;
    return checked_realloc(p, old_size, new_size);
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
        if (s) return tc_trace_end(tc), s;
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

// Casts of autocast, eager and recorded, and a step of a scaler.
static tc_status mixes(tc_ctx *tc, tc_tensor x) {
    tc_grad_scaler s;
    tc_autocast_begin(tc, TC_F16);
    tc_tensor g = tc_matmul(x, tc_unsqueeze(x, 1));
    tc_status status = g.id ? tc_grad_scaler_init(tc, &s, 0) : tc_error(tc);
    if (status) return status;
    status = tc_trace_begin_at(tc, "mixes", NULL, "test.c", 1);
    tc_tensor y = tc_sum_all(tc_exp(tc_cast(x, TC_F16)));
    tc_grad_scaler_unscale_(&s, &g, 1);
    tc_grad_scaler_step_begin(&s);
    tc_add_(g, y);
    tc_grad_scaler_step_end(&s);
    tc_grad_scaler_update(&s);
    tc_status end = tc_trace_end(tc);
    return status ? status : end ? end : tc_error(tc);
}

static void inside(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_dropout(tc_exp(tc_sin(in[0])), 0.5);
}

static void around(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    tc_tensor s = tc_sum(tc_square(in[0]), 0);
    out[0] = tc_mul(in[0], s);
    tc_checkpoint(tc, inside, user, out, 1, out, 1);
}

static tc_status checkpoints(tc_ctx *tc, tc_tensor x, int budget) {
    tc_options o = tc_options_default();
    tc_tensor y = x, g;
    o.memory_budget = budget;
    tc_status s = tc_trace_begin_at(tc, "checkpoints", &o, "test.c", 1);
    if (s) return tc_trace_end(tc), s;
    for (int i = 0; i < 3 && !s; i++) s = tc_checkpoint(tc, around, NULL, &y, 1, &y, 1);
    if (!s) s = tc_grad(tc_sum_all(y), &x, 1, &g);
    tc_status end = tc_trace_end(tc);
    return s ? s : end;
}

static tc_status has_checkpoints(tc_ctx *tc, tc_tensor x) { return checkpoints(tc, x, 0); }
static tc_status has_a_budget(tc_ctx *tc, tc_tensor x) { return checkpoints(tc, x, 30); }

// A region that derives, and a function, op by op: from the step that a path begins with on.
static tc_status is_forced(tc_ctx *tc, tc_tensor x) {
    tc_tensor loss, g;
    tc_set_stance(tc, TC_STANCE_FORCE_EAGER);
    for (int k = 0; k < 3; k++) {
        tc_status s = tc_trace_begin_at(tc, "forced", NULL, "test.c", 1);
        if (s) return tc_trace_end(tc), s;
        loss = tc_sum_all(tc_square(x));
        s = loss.id ? tc_grad(loss, &x, 1, &g) : tc_error(tc);
        tc_status end = tc_trace_end(tc);
        if (s || end) return s ? s : end;
    }
    tc_fn *f = tc_compile(tc, plus_one, NULL, 0, NULL);
    return f ? tc_call(f, &x, 1, &g, 1) : tc_error(tc);
}

TEST(op_by_op) { everywhere(is_forced); }
TEST(gradients_of_checkpoints) { everywhere(has_checkpoints); }
TEST(gradients_of_a_budget) { everywhere(has_a_budget); }
static void turn(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = out[1] = tc_sin(tc_add(in[0], in[1]));
}

static tc_status loops(tc_ctx *tc, tc_tensor x) {
    tc_tensor rows = tc_reshape(x, TC_DIMS(2, N / 2)), init = tc_select(rows, 0, 0), last,
              g;
    tc_tensor ys;
    for (int k = 0; k < 2; k++) {
        tc_status s = tc_trace_begin_at(tc, "loops", NULL, "test.c", 1);
        if (s) return tc_trace_end(tc), s;
        tc_scan(turn, NULL, &init, 1, &rows, 1, &last, &ys, 1);
        tc_grad(tc_add(tc_sum_all(last), tc_sum_all(ys)), &rows, 1, &g);
        s = tc_trace_end(tc);
        if (s || tc_error(tc)) return s ? s : tc_error(tc);
    }
    return tc_scan(turn, NULL, &init, 1, &rows, 1, &last, &ys, 1);
}

static tc_status branches(tc_ctx *tc, tc_tensor x) {
    tc_tensor in[2], out[2], p = tc_ones(tc, TC_DIMS(1), TC_BOOL);
    in[0] = in[1] = x;
    tc_status s = tc_trace_begin_at(tc, "branches", NULL, "test.c", 1);
    if (s) return tc_trace_end(tc), s;
    tc_cond(p, turn, turn, NULL, in, 2, out, 2);
    s = tc_trace_end(tc);
    return s ? s : tc_error(tc);
}

TEST(loops_in_the_graph) { everywhere(loops); }
TEST(branches_in_the_graph) { everywhere(branches); }
TEST(laziness) { everywhere(is_lazy); }
TEST(keeping) { everywhere(keeps); }
TEST(mixed_precision) { everywhere(mixes); }
TEST(precompiling) { everywhere(precompiles); }
TEST(host_calls) { everywhere(calls_host); }

// Regions and functions of which nothing runs: the hook hears the sizes of empty arrays, too.
TEST(nothing_to_run) {
    char path[] = "/tmp/tc-nothing-XXXXXX";
    int fd = mkstemp(path);
    tc_config config = limits("cpu");
    tc_ctx *tc = tc_open(&config);
    tc_tensor x = line(tc, N, 1, 1), y;
    for (int i = 0; i < 3; i++) {
        BEGIN("empty");
        END();
        BEGIN("views");
        y = tc_reshape(x, TC_DIMS(2, N / 2));
        END();
        CHECK_EQ(AT(y, 1), 2);
        BEGIN("broken at once");
        CHECK_EQ(AT(x, 0), 1);
        END();
        CHECK_EQ(tc_explain_html(tc, path), TC_OK);
        CHECK(tc_explain(tc) != NULL);
    }
    CHECK_EQ(tc_error(tc), TC_OK);
    tc_close(tc);
    close(fd);
    unlink(path);
}

// A begin that fails has its end all the same, and what is between them is computed.
TEST(begins) {
    tc_config config = limits("aot_eager");
    tc_options o = tc_options_default();
    int n = 0, failed = 1;
    for (; failed && n < MOST; n++) {
        tc_ctx *tc = tc_open(&config);
        tc_tensor x = line(tc, N, 1, 1), y;
        left = n;
        failed = BEGIN("begun") != TC_OK;
        left = -1;
        CHECK(!failed || tc_error(tc) == TC_E_NOMEM);
        tc_error_clear(tc);
        y = tc_add_s(x, 1);
        if (failed) CHECK_EQ(AT(y, 3), 5);
        END();
        CHECK_EQ(AT(y, 3), 5);
        CHECK_EQ(tc_trace_end(tc), TC_E_REGION);
        ERROR(TC_E_REGION, "without a tc_trace_begin");
        o.backend = "nonesuch";
        CHECK(tc_trace_begin_at(tc, "begun", &o, "test.c", 1) != TC_OK);
        tc_error_clear(tc);
        CHECK_EQ(AT(tc_neg(x), 3), -4);
        END();
        CHECK_EQ(tc_reset(tc), TC_OK);
        tc_close(tc);
    }
    CHECK(n > 2 && !failed);
}

// ---- programs without end ----

static int warned;

static void count_warnings(void *user, int level, const char *channel, const char *text) {
    (void)user, (void)channel;
    warned += level > 0 && strstr(text, "ran longest ago are dropped") != NULL;
}

static tc_ctx *open_few(const char *backend, size_t limit) {
    tc_config config = limits(backend);
    config.logger.log = count_warnings, config.no_disk_cache = 1;
    tc_ctx *tc = tc_open(&config);
    tc->programs_limit = limit;
    warned = 0;
    return tc;
}

// A path of its own for each number: x + 1 for a bit that is not set, 2 x for one that is.
static double numbered(tc_ctx *tc, tc_tensor x, int number, int keeps, tc_tensor *kept) {
    double want = 2;
    BEGIN("numbered");
    for (int bit = 0; bit < 10; bit++) {
        int set = number >> bit & 1;
        x = set ? tc_mul_s(x, 2) : tc_add(x, tc_ones_like(x));
        want = set ? 2 * want : want + 1;
    }
    if (keeps) *kept = tc_keep(x);
    END();
    CHECK_EQ(AT(x, 1), want);
    return want;
}

// Memory stays within its bounds, with one warning; what is used stays, and what went comes back.
static void check_paths(const char *backend, tc_stance stance, int paths) {
    enum { LIMIT = 4 << 20 };
    tc_ctx *tc = open_few(backend, LIMIT);
    tc_tensor x = line(tc, N, 1, 1), kept;
    tc_set_stance(tc, stance);
    double want = numbered(tc, x, 0, 1, &kept);
    for (int i = 1; i < paths; i++) {
        numbered(tc, x, i, 0, NULL);
        numbered(tc, x, 3, 0, NULL);
        uint64_t made = tc_stats_get(tc).programs;
        if (i > 3) numbered(tc, x, 3, 0, NULL);
        CHECK_EQ(tc_stats_get(tc).programs, made); // it is in use
        CHECK(tc->programs_held < 2 * (size_t)LIMIT);
    }
    CHECK(tc->programs_live < (uint32_t)paths && warned == 1);
    CHECK_EQ(AT(kept, 1), want);
    uint64_t made = tc_stats_get(tc).programs;
    for (int i = 0; i < 20; i++) numbered(tc, x, i, 0, NULL);
    CHECK(tc_stats_get(tc).programs > made);
    CHECK(tc_explain(tc) != NULL);
    CHECK_EQ(AT(kept, 1), want);
    tc_wait_compiled(tc);
    CHECK_EQ(tc_error(tc), TC_OK);
    tc_close(tc);
}

// What there is no memory for is named by the op that asks for it: a result, or what is stored between kernels.
TEST(what_memory_is_for) {
    tc_config config = limits("aot_eager");
    tc_ctx *tc = tc_open(&config);
    tc_tensor x = tc_ones(tc, TC_DIMS(1000, 1), TC_F32);
    char text[80];
    for (int stored = 0; stored < 2; stored++) {
        most_at_once = 1000000;
        BEGIN("large");
        tc_tensor y = tc_mul(x, tc_t(x));
        int line = __LINE__ - 1;
        tc_tensor z = stored ? tc_sum_all(tc_cumsum(y, 1)) : y;
        CHECK_EQ(tc_trace_end(tc), TC_E_NOMEM);
        snprintf(text, sizeof text, "%smul (tests/fault/memory.c:%d): out of memory",
                 stored ? "intermediates, the largest of " : "", line);
        CHECK(strstr(tc_error_text(tc), text) || FAIL("%s", tc_error_text(tc)));
        tc_error_clear(tc);
        most_at_once = 0;
        BEGIN("large");
        y = tc_mul(x, tc_t(x)), z = stored ? tc_sum_all(tc_cumsum(y, 1)) : y;
        END();
        CHECK_EQ(AT(z, 0), stored ? 1000.0 * 1000 * 1001 / 2 : 1);
    }
    tc_close(tc);
}

TEST(paths_without_end) { check_paths("aot_eager", TC_STANCE_DEFAULT, 400); }
TEST(paths_without_end_in_the_background) {
    check_paths("cpu", TC_STANCE_EAGER_THEN_COMPILE, 300);
}

// Few of them, but each is long: what they hold counts, not how many there are.
TEST(long_paths_without_end) {
    enum { LIMIT = 4 << 20, LENGTH = 600, PATHS_OF_THEM = 60 };
    tc_ctx *tc = open_few("aot_eager", LIMIT);
    tc_tensor x = line(tc, N, 1, 1), y;
    size_t largest = 0;
    for (int i = 0; i < PATHS_OF_THEM; i++) {
        size_t before = tc->programs_held;
        BEGIN("long");
        y = x;
        for (int k = 0; k < LENGTH; k++) y = k == i ? tc_neg(y) : tc_abs(y);
        END();
        CHECK_EQ(AT(y, 2), i == LENGTH - 1 ? -3 : 3);
        if (tc->programs_held > before + largest) largest = tc->programs_held - before;
        if (tc->programs_held > LIMIT + largest)
            FAIL("path %d: %zu bytes, of one %zu", i, tc->programs_held, largest);
    }
    CHECK(largest > LIMIT / PATHS_OF_THEM * 3 / 2 && warned == 1);
    CHECK_EQ(tc_error(tc), TC_OK);
    tc_close(tc);
}

static void sum_of_rows(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_sum(tc_mul_s(in[0], 2), 1);
}

// A function with a program for each size: entries whose programs went, by all their ways.
TEST(sizes_without_end) {
    tc_ctx *tc = open_few("aot_eager", 1 << 20);
    tc_options o = tc_options_default();
    o.dynamic = TC_DYNAMIC_OFF;
    tc_fn *f = tc_compile(tc, sum_of_rows, NULL, 0, &o);
    for (int turn = 0; turn < 2; turn++)
        for (int n = 1; n < 200; n++) {
            tc_scope_begin(tc);
            tc_tensor x = tc_full(tc, TC_DIMS(2, n), 3, TC_F32), y;
            for (int i = 0; i < 5; i++) {
                CALL(f, &x, 1, &y, 1);
                CHECK_EQ(AT(y, 1), 6 * n);
            }
            tc_scope_end(tc);
        }
    CHECK(tc->programs_live < 190 && warned == 1);
    CHECK_EQ(tc_error(tc), TC_OK);
    tc_close(tc);
}

// Eager ops have programs, too.
TEST(eager_sizes_without_end) {
    tc_ctx *tc = open_few("aot_eager", 0);
    for (int n = 1; n < 60; n++) {
        tc_scope_begin(tc);
        if (n % 20 == 0) tc->eager_held = TC__EAGER_BYTES + 1;
        CHECK_EQ(AT(tc_neg(line(tc, n, 5, 1)), 0), -5);
        CHECK_EQ(AT(tc_neg(line(tc, 4, 5, 1)), 3), -8);
        tc_scope_end(tc);
    }
    CHECK(tc->eager_held < TC__EAGER_BYTES && tc->eager_ids.count < 45);
    CHECK_EQ(tc_error(tc), TC_OK);
    tc_close(tc);
}

// memory_mb is theirs, too.
TEST(eager_sizes_in_little_memory) {
    tc_config config = limits("aot_eager");
    config.no_disk_cache = 1, config.memory_mb = 1;
    tc_ctx *tc = tc_open(&config);
    size_t most = 0;
    for (int n = 1; n < 300; n++) {
        tc_scope_begin(tc);
        CHECK_EQ(AT(tc_neg(line(tc, n, 5, 1)), 0), -5);
        if (tc->eager_held > most) most = tc->eager_held;
        tc_scope_end(tc);
    }
    CHECK(most > (1 << 20) / 4 && most < (1 << 20) / 2);
    tc_close(tc);
}

// ---- recordings without end ----

static void count_recordings(void *user, int level, const char *channel, const char *text) {
    (void)user, (void)channel;
    warned += level > 0 && strstr(text, "not visited for longest are dropped") != NULL;
}

static tc_ctx *open_small(const char *backend) {
    tc_config config = limits(backend);
    config.logger.log = count_recordings, config.no_disk_cache = 1, config.memory_mb = 1;
    warned = 0;
    return tc_open(&config);
}

enum { BITS = 9, PATHS = 1 << BITS, SMALL = (1 << 20) / 3, BUSY = 4, BLOCK = 8192 };

// x + 1 or 2 x for each bit of a number, with a value read in the middle: two programs and a break.
static double broken(tc_ctx *tc, tc_tensor x, int number) {
    double want = 1;
    BEGIN("broken");
    for (int bit = 0; bit < BITS; bit++) {
        int set = number >> bit & 1;
        x = set ? tc_mul_s(x, 2) : tc_add(x, tc_ones_like(x));
        want = set ? 2 * want : want + 1;
        if (bit == 4) CHECK_EQ(AT(x, 0), want);
    }
    END();
    CHECK_EQ(AT(x, 0), want);
    return want;
}

// A state that goes on from visit to visit, by one of 40 ways.
static tc_tensor state_step(tc_ctx *tc, tc_tensor h, int way) {
    BEGIN("state");
    for (int k = 0; k < way; k++) h = tc_add_s(h, 0);
    h = tc_add(h, tc_ones_like(h));
    tc_sum_all(tc_square(h)); // h is consumed
    END();
    return h;
}

static void check_recordings(const char *backend, tc_stance stance, int turns) {
    tc_ctx *tc = open_small(backend);
    tc_tensor x = line(tc, N, 1, 1), kept, h = tc_zeros(tc, TC_DIMS(N), TC_F32), late[4];
    double late_want[4];
    size_t most = 0;
    tc_set_stance(tc, stance);
    double want = numbered(tc, x, 5, 1, &kept);
    for (int i = 0; i < turns * PATHS; i++) {
        broken(tc, x, i * 7 % PATHS);
        numbered(tc, x, i % 1024, 0, NULL);
        numbered(tc, x, 3, 0, NULL);
        h = state_step(tc, h, i % 40 < 5 ? i % 40 : 5);
        // Results that nobody stored, of the visits before: their paths are needed.
        late_want[i % 4] = i + 2;
        BEGIN("late");
        late[i % 4] = tc_add_s(x, 1 + i);
        tc_tensor y = tc_neg(late[i % 4]);
        for (int k = 0; k < i % 5; k++) y = tc_exp(y);
        END();
        if (i > 4) CHECK_EQ(AT(late[(i + 2) % 4], 0), late_want[(i + 2) % 4]);
        if (tc->recorder.recorded > most) most = tc->recorder.recorded;
    }
    // What is being compiled in the background is not forgotten: some recordings more, a block each.
    size_t more = stance == TC_STANCE_EAGER_THEN_COMPILE ? (size_t)BUSY * BLOCK : 0;
    CHECK((most > SMALL / 4 * 3 && most < SMALL / 4 * 5 + more && warned == 1) ||
          FAIL("%zu bytes of %d, %d warnings", most, (int)SMALL, warned));
    CHECK_EQ(AT(h, 3), turns * PATHS);
    CHECK_EQ(AT(kept, 1), want);
    for (int i = 0; i < 40; i++) broken(tc, x, i), numbered(tc, x, i, 0, NULL);
    CHECK(tc_explain(tc) != NULL);
    tc_wait_compiled(tc);
    CHECK_EQ(tc_error(tc), TC_OK);
    CHECK_EQ(tc_reset(tc), TC_OK);
    CHECK_EQ(tc->recorder.recorded, 0);
    CHECK_EQ(AT(kept, 1), want);
    tc_close(tc);
}

TEST(recordings_without_end) { check_recordings("aot_eager", TC_STANCE_DEFAULT, 3); }
TEST(recordings_without_end_in_the_background) {
    check_recordings("cpu", TC_STANCE_EAGER_THEN_COMPILE, 1);
}

TEST(recordings_without_end_op_by_op) { check_recordings("cpu", TC_STANCE_FORCE_EAGER, 1); }

static void by_bits(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    int number = *(const int *)user;
    tc_tensor x = in[0];
    for (int bit = 0; bit < 12; bit++)
        x = number >> bit & 1 ? tc_mul_s(x, 2) : tc_add(x, tc_ones_like(x));
    (void)tc;
    out[0] = x;
}

// Entries of a function hold the paths that they lead to, and no others do.
TEST(bodies_without_end) {
    static int number;
    tc_ctx *tc = open_small("aot_eager");
    tc_fn *f = tc_compile(tc, by_bits, &number, sizeof number, NULL);
    tc_tensor x = line(tc, 4, 1, 0), y;
    size_t most = 0;
    for (int i = 0; i < 1500; i++) {
        double want = 1;
        number = i % 3 ? i : 7;
        for (int bit = 0; bit < 12; bit++) want = number >> bit & 1 ? 2 * want : want + 1;
        CALL(f, &x, 1, &y, 1);
        CHECK_EQ(AT(y, 0), want);
        tc_free(y);
        if (tc->recorder.recorded > most) most = tc->recorder.recorded;
    }
    CHECK(tc_stats_get(tc).skips > 400);
    // 64 paths, and what they have in common with others: without an end it would be 20 times SMALL.
    CHECK(most > SMALL / 4 * 3 && most < SMALL * 4 && warned == 1);
    CHECK_EQ(tc_error(tc), TC_OK);
    tc_fn_free(f);
    CHECK_EQ(tc->recorder.recorded, 0);
    tc_close(tc);
}

// ---- regions, functions and sizes without end ----

static int dropped_regions;

static void count_regions(void *user, int level, const char *channel, const char *text) {
    (void)user, (void)channel;
    dropped_regions += level > 0 && strstr(text, "were visited, \"") != NULL;
}

static tc_ctx *open_counting(void) {
    tc_config config = limits("aot_eager");
    config.logger.log = count_regions, config.no_disk_cache = 1, config.memory_mb = 1;
    dropped_regions = 0;
    return tc_open(&config);
}

static void doubled(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_mul_s(in[0], 2);
}

enum { MADE = 3000, USUAL = 5 };

// A region for each name: those of long ago go, with what was not kept; one that is visited all the time stays.
TEST(names_without_end) {
    tc_ctx *tc = open_counting();
    tc_tensor x = line(tc, N, 1, 1), kept = tc_null(), first = tc_null(), y;
    char name[32];
    size_t half = 0;
    int is_told = 0;
    for (int i = 0; i < MADE; i++) {
        snprintf(name, sizeof name, "region %d", i % USUAL ? i : 0);
        BEGIN(name);
        y = tc_add_s(x, i % USUAL ? i : 0);
        if (i == 1) kept = tc_keep(tc_mul_s(x, 3));
        END();
        if (i == 1) first = y;
        CHECK_EQ(AT(y, 2), 3 + (i % USUAL ? i : 0));
        if (i == MADE / 2) half = tc_stats_get(tc).bytes;
        if (dropped_regions && !is_told) {
            CHECK(tc_is_null(tc_select(first, 0, 2)));
            ERROR(TC_E_DEAD, "ended when so many other regions had been visited since");
            is_told = 1;
        }
    }
    CHECK(tc_stats_get(tc).bytes < half * 5 / 4);
    CHECK_EQ(dropped_regions, 1);
    CHECK_EQ(AT(kept, 2), 9);
    CHECK(tc_is_null(tc_select(first, 0, 2)));
    ERROR(TC_E_DEAD, "ended long ago: with a visit on its way that did not use it, ");
    uint64_t programs = tc_stats_get(tc).programs;
    BEGIN("region 0");
    y = tc_add_s(x, 0);
    END();
    CHECK_EQ(tc_stats_get(tc).programs, programs); // it was never dropped
    BEGIN("region 7");
    y = tc_add_s(x, 7);
    END();
    CHECK_EQ(AT(y, 2), 10);
    CHECK_EQ(tc_stats_get(tc).programs, programs + 1);
    tc_close(tc);
}

// Functions that nobody frees forget what they know, in the same order, and can be called as ever.
TEST(functions_without_end) {
    tc_ctx *tc = open_counting();
    tc_tensor x = line(tc, N, 1, 1), y;
    tc_fn *f[MADE];
    size_t half = 0;
    for (int i = 0; i < MADE; i++) {
        f[i] = tc_compile(tc, doubled, NULL, 0, NULL);
        for (int k = 0; k < 3; k++) {
            CALL(f[k ? i : 0], &x, 1, &y, 1);
            CHECK_EQ(AT(y, 2), 6);
            tc_free(y);
        }
        if (i == MADE / 2) half = tc_stats_get(tc).bytes;
    }
    // What stays is the function itself.
    CHECK((tc_stats_get(tc).bytes - half) / (MADE / 2) < 2048);
    CHECK_EQ(dropped_regions, 1);
    uint64_t skips = tc_stats_get(tc).skips;
    CALL(f[0], &x, 1, &y, 1);
    CHECK_EQ(tc_stats_get(tc).skips, skips + 1); // it was never dropped
    for (int i = 1; i < MADE; i += 100) {
        CALL(f[i], &x, 1, &y, 1);
        CHECK_EQ(AT(y, 2), 6);
    }
    for (int i = 0; i < MADE; i += 2) tc_fn_free(f[i]);
    CHECK_EQ(tc_error(tc), TC_OK);
    tc_close(tc);
}

// Tensors of so many sizes, eager, in a region, and given to a function; those that live on keep what they are.
TEST(layouts_without_end) {
    enum { SIZES = 40000, LIVE = 50 };
    tc_ctx *tc = open_counting();
    tc_tensor all = tc_ones(tc, TC_DIMS(300 * 300), TC_F32), y, live[LIVE];
    tc_fn *f = tc_compile(tc, doubled, NULL, 0, NULL);
    size_t half = 0;
    for (int i = 0; i < SIZES; i++) {
        int64_t a = 1 + test_word((unsigned)i, 1) % 300,
                b = 1 + test_word((unsigned)i, 2) % 300;
        tc_scope_begin(tc);
        tc_tensor x = tc_reshape(tc_narrow(all, 0, 0, a * b), TC_DIMS(a, b));
        if (i < LIVE) live[i] = tc_keep(tc_t(x));
        if (i % 8 == 0) {
            CALL(f, &x, 1, &y, 1);
            CHECK(tc_dim(y, 0) == a && tc_dim(y, 1) == b);
        }
        if (i % 8 == 1) {
            BEGIN("sized");
            y = tc_sum_all(x);
            END();
            CHECK_EQ(AT(y, 0), a * b);
        }
        if (i % 3) tc_free(x);
        tc_scope_end(tc);
        if (i == SIZES / 2) half = tc_stats_get(tc).bytes;
    }
    CHECK(tc->recorder.values.layout.count < 5000);
    CHECK(tc_stats_get(tc).bytes < half + half / 4);
    for (int i = 0; i < LIVE; i++) {
        int64_t a = 1 + test_word((unsigned)i, 1) % 300,
                b = 1 + test_word((unsigned)i, 2) % 300;
        CHECK(tc_dim(live[i], 0) == b && tc_dim(live[i], 1) == a);
        CHECK_EQ(tc_item(tc_sum_all(live[i])), a * b);
    }
    CHECK_EQ(tc_error(tc), TC_OK);
    tc_close(tc);
}

// What the machine has no memory for is an error: the system would end the process when it is written. All that was there
// stays, and there is memory again when something is freed.
static void grows_to_the_end(int scopes) {
    enum { N = 1 << 18, MOST = 200 };
    tc_ctx *tc = tc_open(NULL);
    tc_tensor x[MOST];
    int n = 0;
    REQUIRE(tc);
    CHECK(tc__core_of(tc)->most > 0);
    tc_tensor state = tc_ones(tc, TC_DIMS(N), TC_F32);
    tc__core_of(tc)->most = tc__core_of(tc)->bytes + MOST / 2 * N * sizeof(float);
    while (n < MOST) {
        if (scopes) tc_scope_begin(tc);
        tc_tensor next = tc_add_s(state, 1);
        if (scopes) tc_free(state), next = tc_scope_return(tc, next);
        if (tc_is_null(next)) break;
        x[n++] = state = next;
    }
    CHECK(scopes ? n == MOST : n > MOST / 3 && n < MOST);
    CHECK_EQ(tc_error(tc), scopes ? TC_OK : TC_E_NOMEM);
    CHECK(scopes || strstr(tc_error_text(tc), "wrap loops in tc_scope_begin"));
    tc_error_clear(tc);
    CHECK_EQ(tc_get(state, TC_DIMS(N - 1)), n + 1);
    for (int i = 0; i + 1 < n && !scopes; i++) tc_free(x[i]);
    CHECK_EQ(tc_get(tc_add_s(state, 1), TC_DIMS(0)), n + 2);
    CHECK_STR(tc_error_text(tc), "");
    tc_close(tc);
}

TEST(eager_results_to_the_end_of_memory) { grows_to_the_end(0); }
TEST(eager_results_in_scopes) { grows_to_the_end(1); }
