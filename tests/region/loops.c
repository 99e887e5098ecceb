// Loops whose state is a result of the visit before, used inside the region as well: solvers, cells,
// optimisers. Every form of them has one program per way through the code, once it is known what
// is read late. Values come from plain C loops.
#include "tcompile.h"

#include "harness.h"
#include "help.h"

#include <sys/mman.h>

enum { N = 40, VISITS = 25 }; // more than the 16 elements that are always outputs

// Paths of the region "loop", their programs, and all that were ever made: a path is made
// again once, after the first late read.
#define WAYS(paths) expect_ways(tc, (paths), __FILE__, __LINE__)
static void expect_ways(tc_ctx *tc, int paths, const char *file, int line_number) {
    tc_explanation e = tc_explain_counts(tc, "loop");
    tc_stats s = tc_stats_get(tc);
    if (e.graphs != paths || (int)s.programs > 2 * paths)
        test_fail(file, line_number, "%d paths, %d programs made", e.graphs,
                  (int)s.programs);
}

BOTH(state_that_is_also_consumed) {
    tc_tensor c = line(tc, N, 1, 0);
    double x = 1;
    for (int k = 0; k < VISITS; k++, x /= 2) {
        BEGIN("loop");
        tc_tensor n = tc_mul_s(c, 0.5), s = tc_sum_all(tc_square(tc_sub(n, c)));
        END();
        c = n;
        CHECK_EQ(tc_item(s) == N * x * x / 4, 1);
    }
    CHECK_EQ(AT(c, 3) == x, 1);
    WAYS(1);
}

BOTH(two_states_of_a_cell) {
    tc_tensor h = line(tc, N, 1, 0), c = line(tc, N, 2, 0);
    double x = 1, y = 2;
    for (int k = 0; k < VISITS; k++) {
        BEGIN("loop");
        tc_tensor c2 = tc_add(tc_mul_s(c, 0.5), h), h2 = tc_mul_s(tc_sub(c2, h), 0.25);
        tc_tensor s = tc_sum_all(tc_add(h2, c2));
        END();
        double y2 = y / 2 + x, x2 = (y2 - x) / 4;
        x = x2, y = y2, h = h2, c = c2;
        CHECK_NEAR(tc_item(s), N * (x + y), 1e-5);
    }
    WAYS(1);
}

// Views of one buffer, which both of them are, and of which the region makes more.
BOTH(states_that_are_views) {
    tc_tensor s[2] = {line(tc, N, 1, 0), line(tc, N, 2, 0)};
    double x = 1, y = 2;
    for (int k = 0; k < VISITS; k++) {
        BEGIN("loop");
        tc_tensor g = tc_mul_s(tc_cat(s, 2, 0), 0.5);
        tc_tensor a = tc_slice(g, 0, 0, N, 1), b = tc_slice(g, 0, N, 2 * N, 1);
        tc_tensor sum = tc_sum_all(tc_sub(a, b));
        END();
        s[0] = b, s[1] = a;
        double z = x / 2;
        x = y / 2, y = z;
        CHECK_EQ(tc_item(sum) == N * (y - x), 1);
    }
    WAYS(1);
}

BOTH(a_state_behind_a_break) {
    tc_tensor c = line(tc, N, 1, 0);
    double x = 1;
    for (int k = 0; k < VISITS; k++, x /= 2) {
        BEGIN("loop");
        tc_tensor n = tc_mul_s(c, 0.5);
        CHECK_EQ(tc_item(tc_sum_all(tc_sub(n, c))) == -N * x / 2, 1);
        tc_tensor s = tc_sum_all(n);
        END();
        c = n;
        CHECK_EQ(tc_item(s) == N * x / 2, 1);
    }
    CHECK_EQ(tc_explain_counts(tc, "loop").graphs, 1);
    CHECK_EQ(tc_explain_counts(tc, "loop").programs, 2);
    CHECK(tc_stats_get(tc).programs <= 4);
}

// ---- lifetimes ----

// A state of two visits ago: each of them has used it.
BOTH(states_that_take_turns) {
    tc_tensor a = line(tc, N, 1, 0), b = line(tc, N, 2, 0);
    double x = 1, y = 2;
    for (int k = 0; k < VISITS; k++) {
        BEGIN("loop");
        tc_tensor n = tc_mul_s(tc_add(tc_mul_s(a, 0.5), b), 0.5), s = tc_sum_all(n);
        END();
        double z = (x / 2 + y) / 2;
        b = a, a = n, y = x, x = z;
        CHECK_NEAR(tc_item(s), N * x, 1e-5);
    }
    WAYS(1);
}

// A step that is taken every third time: what was not taken ends, what is used goes on.
BOTH(a_state_that_changes_now_and_then) {
    tc_tensor c = line(tc, N, 1, 0), lost = tc_null();
    double x = 1;
    for (int k = 0; k < VISITS; k++) {
        BEGIN("loop");
        tc_tensor n = tc_mul_s(c, 0.5), s = tc_sum_all(tc_sub(n, c));
        END();
        CHECK_EQ(tc_item(s) == -N * x / 2, 1);
        if (k % 3 == 1) c = n, x /= 2;
        if (k == 6) lost = n;
    }
    WAYS(1);
    CHECK(tc_is_null(tc_neg(lost)));
    ERROR(TC_E_DEAD, "tc_keep");
}

// Two ways through the code, each with a state of its own.
BOTH(a_state_for_each_way) {
    tc_tensor c[2] = {line(tc, N, 1, 0), line(tc, N, 3, 0)};
    double x[2] = {1, 3};
    for (int k = 0; k < VISITS; k++) {
        int w = k % 5 > 2;
        BEGIN("loop");
        tc_tensor n = w ? tc_mul_s(c[w], 0.5) : tc_sub_s(c[w], 1);
        tc_tensor s = tc_sum_all(tc_mul_s(n, 2));
        END();
        c[w] = n, x[w] = w ? x[w] / 2 : x[w] - 1;
        CHECK_EQ(tc_item(s) == 2 * N * x[w], 1);
    }
    CHECK_EQ(tc_explain_counts(tc, "loop").graphs, 2);
    CHECK(tc_stats_get(tc).programs <= 5);
}

// A momentum that moves what it is computed from.
BOTH(a_state_beside_a_write) {
    tc_tensor x = line(tc, N, 1, 0), v = line(tc, N, 0, 0);
    double p = 1, q = 0;
    for (int k = 0; k < VISITS; k++) {
        BEGIN("loop");
        tc_tensor w = tc_add(tc_mul_s(v, 0.5), tc_mul_s(x, -0.25));
        tc_add_(x, w);
        END();
        v = w;
        q = q / 2 - p / 4, p += q;
        CHECK_NEAR(AT(x, 7), p, 1e-6);
    }
    CHECK_NEAR(AT(v, 7), q, 1e-6);
    WAYS(1);
}

// The input is filled again before the state is used: by an op, by a function, by the caller's code.
static void refill(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    tc_copy_(in[0], in[1]);
    out[0] = tc_sum_all(in[1]);
}

BOTH(a_state_of_an_input_that_is_filled_again) {
    for (int way = 0; way < 3; way++) {
        static float memory[N];
        tc_fn *f = tc_compile(tc, refill, NULL, 0, NULL);
        tc_tensor c = line(tc, N, 1, 0), in[2], sum;
        double y = 1;
        for (int i = 0; i < N; i++) memory[i] = 0;
        in[0] = way < 2 ? line(tc, N, 0, 0) : tc_wrap(tc, memory, TC_DIMS(N), TC_F32);
        for (int k = 0; k < VISITS; k++) {
            tc_trace_begin_at(tc, "loop", NULL, "test.c", 10 + way);
            tc_tensor n = tc_add(tc_mul_s(c, 0.5), in[0]), s = tc_sum_all(tc_neg(n));
            END();
            c = n, y = y / 2 + k;
            CHECK_NEAR(tc_item(s), -N * y, 1e-3);
            in[1] = line(tc, N, k + 1, 0);
            if (way == 0) tc_copy_(in[0], in[1]);
            if (way == 1) CALL(f, in, 2, &sum, 1);
            for (int i = 0; way == 2 && i < N; i++) memory[i] = (float)(k + 1);
        }
        CHECK_NEAR(AT(c, 3), y, 1e-5);
        tc_fn_free(f);
    }
}

// A view of a result goes with it, and memory does not grow.
BOTH(views_made_outside) {
    tc_tensor c = line(tc, 5000, 1, 0), kept = tc_null(), view = tc_null();
    double x = 1;
    size_t bytes = 0;
    for (int k = 0; k < VISITS; k++, x /= 2) {
        BEGIN("loop");
        tc_tensor n = tc_mul_s(tc_reshape(c, TC_DIMS(50, 100)), 0.5);
        END();
        CHECK_EQ(tc_item(tc_select(tc_select(n, 0, 3), 0, 4)) == x / 2, 1);
        c = tc_reshape(n, TC_DIMS(5000));
        if (k == 3)
            view = tc_slice(c, 0, 0, 10, 1), kept = tc_keep(tc_slice(c, 0, 0, N, 1));
        if (k == 9) bytes = tc_stats_get(tc).bytes;
    }
    CHECK(tc_stats_get(tc).bytes <= bytes);
    CHECK_EQ(AT(c, 9) == x, 1);
    CHECK_EQ(AT(kept, 9) == 0.0625, 1);
    CHECK(tc_is_null(tc_neg(view)));
    ERROR(TC_E_DEAD, "ended with a later visit");
    tc_free(kept);
}

BOTH(freeing_a_result) {
    enum { LARGE = 1 << 20 };
    static float memory[LARGE];
    tc_tensor x = tc_wrap(tc, memory, TC_DIMS(LARGE), TC_F32), first = tc_null();
    for (int k = 0; k < 3; k++) {
        BEGIN("loop");
        tc_tensor y = tc_add_s(x, 1), z = tc_mul_s(y, 2), w = tc_neg(x);
        END();
        tc_item(tc_select(z, 0, 7));
        if (k == 1) first = z;
        tc_free(z), tc_free(y);
        CHECK_EQ(AT(w, 5), 0);
        CHECK(tc_is_null(tc_neg(z)));
        ERROR(TC_E_DEAD, "freed by tc_free at");
        CHECK_EQ(tc_read(y, memory, sizeof memory), TC_E_DEAD);
        ERROR(TC_E_DEAD, "freed by tc_free at");
        tc_free(z);
        ERROR(TC_E_DEAD, "freed by tc_free at");
    }
    CHECK_EQ(tc_read(first, memory, sizeof memory), TC_E_DEAD);
    ERROR(TC_E_DEAD, "freed by tc_free at");
    tc_reset(tc);
    CHECK(tc_stats_get(tc).bytes < LARGE * sizeof(float));
}

// The error of what tc_reset ended names it; what is the caller's goes on.
BOTH(what_tc_reset_ends) {
    tc_tensor x = line(tc, N, 1, 0), y, kept;
    BEGIN("loop");
    y = tc_mul_s(x, 2), kept = tc_keep(tc_neg(x));
    END();
    tc_tensor view = tc_slice(y, 0, 0, 3, 1), of_kept = tc_slice(kept, 0, 0, 3, 1);
    CHECK_EQ(tc_reset(tc), TC_OK);
    CHECK(tc_is_null(tc_neg(y)));
    ERROR(TC_E_DEAD, "ended with a tc_reset of its region, begun at");
    CHECK(tc_is_null(tc_neg(view)));
    ERROR(TC_E_DEAD, "ended with a tc_reset of its region, begun at");
    CHECK_EQ(AT(kept, 5), -1);
    tc_free(kept);
    CHECK_EQ(AT(of_kept, 2), -1);
}

// One rule for what is the caller's: until tc_free, whatever made it.
BOTH(keeping_anything) {
    tc_tensor x = line(tc, N, 0, 1), eager, late = tc_null(), held = tc_null();
    tc_scope_begin(tc);
    tc_scope_begin(tc);
    eager = tc_keep(tc_add_s(x, 1));
    tc_tensor lost = tc_add_s(x, 2);
    CHECK_EQ(tc_scope_end(tc), TC_OK);
    for (int k = 0; k < 5; k++) {
        BEGIN("loop");
        tc_tensor y = tc_mul_s(x, 3), z = tc_neg(y), h = tc_keep(tc_add(z, x));
        END();
        if (k == 1) late = tc_keep(y), tc_keep(z), held = h; // not stored, stored, kept
        CHECK_EQ(AT(z, 2), -6);
        if (k == 2) CHECK_EQ(tc_scope_end(tc), TC_OK);
    }
    CHECK_EQ(AT(eager, 4), 5);
    CHECK_EQ(AT(late, 4), 12);
    CHECK_EQ(AT(held, 4), -8);
    CHECK(tc_is_null(tc_neg(lost)));
    ERROR(TC_E_DEAD, "scope");
    CHECK_EQ(tc_mark_dynamic(held, 0, 1, 100), TC_OK);
    tc_free(eager), tc_free(late), tc_free(held);
    CHECK(tc_is_null(tc_neg(late)));
    ERROR(TC_E_DEAD, "freed by tc_free");
}

// A loop of eager ops in bounded memory.
BOTH(returning_from_a_scope) {
    tc_tensor u = line(tc, 5000, 1, 0), first = tc_null();
    double x = 1;
    size_t bytes = 0;
    for (int k = 0; k < VISITS; k++) {
        tc_scope_begin(tc);
        tc_tensor t = tc_mul_s(u, 0.5), n = tc_add_s(tc_square(t), 0.25);
        if (!k) first = t;
        tc_free(u);
        u = tc_scope_return(tc, n);
        x = x * x / 4 + 0.25;
        if (k == 3) bytes = tc_stats_get(tc).bytes;
    }
    CHECK_NEAR(AT(u, 77), x, 1e-6);
    CHECK_EQ(tc_stats_get(tc).bytes, bytes);
    CHECK(tc_is_null(tc_neg(first)));
    ERROR(TC_E_DEAD, "scope");
    tc_scope_begin(tc);
    tc_scope_begin(tc);
    tc_tensor inner = tc_scope_return(tc, tc_neg(u)), null = tc_null();
    CHECK_NEAR(AT(inner, 1), -x, 1e-6);
    CHECK(tc_is_null(tc_scope_return(tc, null)));
    CHECK(tc_is_null(tc_neg(inner)));
    ERROR(TC_E_DEAD, "scope");
    CHECK(tc_is_null(tc_scope_return(tc, u)));
    ERROR(TC_E_STATE, "tc_scope_return");
    CHECK_NEAR(AT(u, 2), x, 1e-6);
}

// ---- a cache that grows ----

enum { MOST = 40, HEADS = 2, WIDTH = 512, ROW = HEADS * WIDTH }; // a row of f32 is a page

// The attention of one query over the first n rows, plain; q is scaled.
static void attend(const float *q, const float *keys, const float *values, int n,
                   double *out) {
    for (int h = 0; h < HEADS; h++) {
        double weight[MOST], top = -1e30, sum = 0;
        for (int i = 0; i < n; i++) {
            weight[i] = 0;
            for (int e = 0; e < WIDTH; e++)
                weight[i] += (double)q[h * WIDTH + e] * keys[i * ROW + h * WIDTH + e];
            weight[i] /= sqrt((double)WIDTH);
            if (weight[i] > top) top = weight[i];
        }
        for (int i = 0; i < n; i++) sum += weight[i] = exp(weight[i] - top);
        for (int e = 0; e < WIDTH; e++) {
            out[h * WIDTH + e] = 0;
            for (int i = 0; i < n; i++)
                out[h * WIDTH + e] += weight[i] / sum * values[i * ROW + h * WIDTH + e];
        }
    }
}

// Rows [0, n) of a cache as heads: [HEADS, n, WIDTH], a view. The number of rows is known at run time only.
static tc_tensor heads(tc_tensor cache, int n) {
    tc_tensor rows = tc_narrow(cache, 0, 0, n);
    tc_tensor t = tc_permute(tc_reshape(rows, TC_DIMS(n, HEADS, WIDTH)), TC_DIMS(1, 0, 2));
    tc_mark_dynamic(t, 1, 1, MOST);
    return t;
}

// A row is written at each step and the rows so far are read: two programs, and no row is copied. Rows
// that were written can be read only, rows to come not at all.
BOTH(a_cache_that_is_appended_to) {
    size_t bytes = MOST * ROW * sizeof(float), row = ROW * sizeof(float);
    float *memory[2], *want[2];
    tc_tensor cache[2], x = tc_null();
    float x0[ROW], y[ROW];
    if (sysconf(_SC_PAGESIZE) != (long)row) SKIP("pages of another size");
    for (int c = 0; c < 2; c++) {
        memory[c] =
            (float *)mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        want[c] = (float *)calloc(1, bytes);
        REQUIRE(memory[c] != MAP_FAILED && want[c]);
        cache[c] = tc_wrap(tc, memory[c], TC_DIMS(MOST, ROW), TC_F32);
    }
    for (int i = 0; i < ROW; i++) x0[i] = (float)test_number((unsigned)i, 1);
    x = tc_from_data(tc, x0, TC_DIMS(1, ROW), TC_F32);
    for (int c = 0; c < 2; c++) { // a prompt of one row
        mprotect(memory[c], row, PROT_READ | PROT_WRITE);
        for (int i = 0; i < ROW; i++) memory[c][i] = want[c][i] = x0[ROW - 1 - i];
        mprotect(memory[c], row, PROT_READ);
    }
    for (int n = 1; n < MOST; n++) {
        double out[ROW];
        CHECK_EQ(tc_read(x, y, sizeof y), TC_OK);
        for (int i = 0; i < ROW; i++)
            want[0][n * ROW + i] = y[i] * 2, want[1][n * ROW + i] = y[i] / 2;
        for (int c = 0; c < 2; c++)
            mprotect(memory[c] + n * ROW, row, PROT_READ | PROT_WRITE);
        tc_scope_begin(tc);
        BEGIN("append");
        tc_tensor k = tc_mul_s(x, 2), v = tc_mul_s(x, 0.5);
        END();
        tc_copy_(tc_narrow(cache[0], 0, n, 1), k);
        tc_copy_(tc_narrow(cache[1], 0, n, 1), v);
        for (int c = 0; c < 2; c++) mprotect(memory[c] + n * ROW, row, PROT_READ);
        tc_tensor keys = heads(cache[0], n + 1), values = heads(cache[1], n + 1);
        BEGIN("attend");
        tc_tensor q = tc_reshape(x, TC_DIMS(HEADS, 1, WIDTH));
        tc_tensor a = tc_scaled_dot_product_attention(q, keys, values, tc_null(), 0, 0);
        tc_tensor next = tc_add(tc_mul_s(x, 0.5), tc_reshape(a, TC_DIMS(1, ROW)));
        END();
        attend(y, want[0], want[1], n + 1, out);
        for (int i = 0; i < ROW; i += 77) CHECK_NEAR(AT(next, i), y[i] / 2 + out[i], 1e-5);
        x = next;
        tc_scope_end(tc);
    }
    CHECK_EQ(tc_explain_counts(tc, "append").programs, 1);
    CHECK_EQ(tc_explain_counts(tc, "attend").programs, 1);
    CHECK(tc_stats_get(tc).programs <= 3); // x is read late
    for (int c = 0; c < 2; c++) {
        CHECK_BYTES(memory[c], want[c], bytes);
        tc_free(cache[c]);
        munmap(memory[c], bytes), free(want[c]);
    }
}

// A cache that is made anew by each visit and kept: one program for all lengths.
BOTH(a_kept_cache_of_any_length) {
    tc_tensor cache = tc_null();
    BEGIN("first");
    cache = tc_keep(tc_full(tc, TC_DIMS(2, N), 0, TC_F32));
    END();
    for (int n = 2; n < 20; n++) {
        CHECK_EQ(tc_mark_dynamic(cache, 0, 1, 100), TC_OK);
        BEGIN("loop");
        tc_tensor row = tc_full(tc, TC_DIMS(1, N), 1, TC_F32), pair[2] = {cache, row};
        tc_tensor grown = tc_keep(tc_cat(pair, 2, 0)), s = tc_sum_all(grown);
        END();
        tc_free(cache);
        cache = grown;
        CHECK_EQ(tc_item(s), (n - 1) * N);
        CHECK_EQ(tc_dim(cache, 0), n + 1);
    }
    CHECK_EQ(tc_explain_counts(tc, "loop").programs, 1);
    tc_tensor not_kept = tc_null();
    BEGIN("loop");
    not_kept = tc_neg(cache);
    END();
    CHECK_EQ(tc_mark_dynamic(not_kept, 0, 1, 100), TC_E_ARG);
    ERROR(TC_E_ARG, "tc_keep");
}

// ---- what is read late for the first time is what later visits give ----

// A view shows its memory, whatever was written there since.
BOTH(a_view_read_after_a_write) {
    for (int visit = 0; visit < 3; visit++) {
        tc_tensor x = line(tc, 40, 1, 1);
        BEGIN("views");
        tc_tensor p = tc_slice(tc_reshape(x, TC_DIMS(4, 10)), 1, TC_END, TC_END, -1);
        tc_tensor s = tc_sum_all(tc_tanh(p));
        END();
        tc_fill_(x, 5);
        CHECK_EQ(AT(p, 3), 5);
        tc_fill_(x, 6);
        CHECK_EQ(AT(p, 3), 6);
        CHECK(AT(s, 0) > 30);
        tc_free(x);
    }
}

// Random numbers are those that were used, whatever the seed is by then.
BOTH(random_numbers_read_after_a_seed) {
    for (int visit = 0; visit < 3; visit++) {
        tc_manual_seed(tc, 3);
        BEGIN("mask");
        tc_tensor mask = tc_gt_s(tc_rand(tc, TC_DIMS(100), TC_F32), 0.5);
        tc_tensor kept = tc_sum_all(tc_cast(mask, TC_F32));
        END();
        double used = AT(kept, 0), read = 0;
        tc_manual_seed(tc, 11 + (uint64_t)visit);
        tc_tensor now = tc_cast(mask, TC_F32);
        for (int i = 0; i < 100; i++) read += AT(now, i);
        CHECK_EQ(read, used);
    }
}

// ---- what is told of code that goes wrong ----

static char told[4096];

static void tell(void *user, int level, const char *channel, const char *text) {
    (void)user, (void)channel;
    if (level < 1 || strlen(told) + strlen(text) + 2 > sizeof told) return;
    strcat(strcat(told, text), "\n");
}

static tc_ctx *open_telling(void) {
    tc_config config = tc_config_default();
    config.backend = "aot_eager", config.threads = 1, config.no_disk_cache = 1;
    config.logger.log = tell;
    told[0] = 0;
    return tc_open(&config);
}

// Views that nobody holds keep what they show of what was freed; where they keep all of it, as the user has a pointer
// into it, that is told, with their place. Memory that nobody writes costs nothing here.
TEST(nameless_views_hold_what_they_show) {
    enum { MB = 32, LOOPS = 40 };
    tc_ctx *tc = open_telling();
    size_t before = tc_stats_get(tc).bytes;
    for (int i = 0; i < LOOPS; i++) {
        tc_tensor z = tc_empty(tc, TC_DIMS(MB << 18), TC_F32);
        tc_fill_(tc_slice(z, 0, 0, 9, 1), 7);
        CHECK_EQ(tc_item(tc_slice(z, 0, 3, 4, 1)), 7);
        tc_free(z);
    }
    CHECK(tc_stats_get(tc).bytes < before + (1 << 20));
    CHECK_STR(told, "");
    for (int i = 0; i < LOOPS; i++) {
        tc_tensor z = tc_empty(tc, TC_DIMS(MB << 18), TC_F32);
        CHECK(tc_data(tc_slice(z, 0, 3, 4, 1)) != NULL);
        tc_free(z);
    }
    CHECK(strstr(told, "eager results of tests/region/loops.c:"));
    CHECK(strstr(told, "(a view holds all of the memory that it shows a part of)"));
    told[0] = 0;
    before = tc_stats_get(tc).bytes;
    for (int i = 0; i < LOOPS; i++) {
        tc_scope_begin(tc);
        tc_tensor z = tc_empty(tc, TC_DIMS(MB << 18), TC_F32);
        CHECK_EQ(tc_numel(tc_slice(z, 0, 3, 4, 1)), 1);
        tc_scope_end(tc);
    }
    CHECK(tc_stats_get(tc).bytes < before + (1 << 20));
    CHECK_STR(told, "");
    tc_close(tc);
}

static void leaves_early(tc_ctx *tc, tc_tensor x, int early) {
    tc_trace_begin_at(tc, "inner", NULL, "inner.c", 7);
    (void)tc_exp(x);
    if (!early) (void)tc_trace_end(tc);
}

static tc_status enters(tc_ctx *tc, tc_tensor x, int early) {
    tc_trace_begin_at(tc, "outer", NULL, "outer.c", 3);
    leaves_early(tc, x, early);
    return tc_trace_end(tc);
}

// The first visits of an end tell which region it is of; the files tell nothing here.
TEST(an_inner_region_that_is_left_early) {
    tc_ctx *tc = open_telling();
    tc_tensor x = line(tc, 40, 0, 1);
    CHECK_EQ(enters(tc, x, 0), TC_OK);
    CHECK_EQ(enters(tc, x, 1), TC_E_REGION);
    ERROR(TC_E_REGION, "region \"inner\", begun at inner.c:7, was left without its");
    CHECK_EQ(enters(tc, x, 0), TC_OK);
    CHECK_EQ(tc_trace_end(tc), TC_E_REGION);
    ERROR(TC_E_REGION, "without a tc_trace_begin");
    tc_close(tc);
}

// Where nothing tells: the inner begin takes the end of the region around it, and who stands in that one's
// way is told where both are.
TEST(an_inner_region_that_is_left_at_its_first_visit) {
    static const char where[] =
        "was the region that inner.c:7 begins inside it left without its tc_trace_end?";
    tc_ctx *tc = open_telling();
    tc_tensor x = line(tc, 40, 0, 1);
    CHECK_EQ(enters(tc, x, 1), TC_OK);
    CHECK_EQ(tc_reset(tc), TC_E_STATE);
    ERROR(TC_E_STATE,
          "a region is open, \"outer\" begun at outer.c:3; call it outside; was the");
    (void)enters(tc, x, 1);
    ERROR(TC_E_REGION, "region \"outer\" begun at outer.c:3 was begun again before");
    (void)enters(tc, x, 1);
    ERROR(TC_E_REGION, where);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    CHECK_EQ(enters(tc, x, 0), TC_OK);
    tc_trace_begin_at(tc, "outer", NULL, "outer.c", 3);
    tc_trace_begin_at(tc, "inner", NULL, "inner.c", 7);
    tc_close(tc);
    CHECK(strstr(told, "tc_close: region \"outer\" begun at outer.c:3 is still open"));
    CHECK(strstr(told, where));
}

static int times_told(const char *what) {
    int n = 0;
    for (const char *at = told; (at = strstr(at, what)) != NULL; at++) n++;
    return n;
}

// The outermost region is abandoned, which tells what is lost.
TEST(a_region_that_is_begun_again) {
    tc_ctx *tc = open_telling();
    tc_tensor x = line(tc, 40, 0, 1), y = x;
    for (int k = 0; k < 4; k++) {
        tc_trace_begin(tc, "again");
        if (k == 1) ERROR(TC_E_REGION, "Nothing was recorded in it");
        if (k == 3) ERROR(TC_E_REGION, "What was recorded in it is lost");
        if (k == 0) continue;
        y = tc_add_s(x, 1);
        if (k == 2) continue;
        CHECK_EQ(tc_trace_end(tc), TC_OK);
        CHECK_EQ(AT(y, 3), 4);
    }
    CHECK_STR(told, "");
    tc_close(tc);
}

static int factorials_failed;

static tc_tensor factorial(tc_ctx *tc, tc_tensor x, int n) {
    tc_trace_begin(tc, "factorial");
    tc_tensor y = n ? tc_mul_s(factorial(tc, x, n - 1), n) : x;
    factorials_failed += tc_trace_end(tc) != TC_OK;
    return y;
}

// A function that calls itself: inside an open region it is inlined. On its own the manual forbids it.
TEST(regions_of_a_function_that_calls_itself) {
    tc_ctx *tc = open_telling();
    tc_tensor x = line(tc, 40, 0, 1), y;
    for (int k = 0; k < 3; k++) {
        tc_trace_begin(tc, "around");
        y = factorial(tc, x, 5);
        CHECK_EQ(tc_trace_end(tc), TC_OK);
        CHECK_EQ(AT(y, 2), 240);
        CHECK_EQ(factorials_failed, 0);
        CHECK_STR(tc_error_text(tc), "");
    }
    CHECK_EQ(tc_stats_get(tc).programs, 1);
    (void)factorial(tc, x, 1);
    CHECK(factorials_failed);
    ERROR(TC_E_REGION, "region \"factorial\" begun at");
    tc_close(tc);
}

// Inside an open region a place that begins again may be a function that calls itself: that is told once.
TEST(an_inner_region_that_is_begun_again) {
    tc_ctx *tc = open_telling();
    tc_tensor x = line(tc, 40, 0, 1);
    for (int k = 0; k < 2; k++) {
        tc_tensor y = x;
        tc_trace_begin(tc, "outer");
        for (int i = 0; i < 3; i++) {
            tc_trace_begin(tc, "loop");
            y = tc_add_s(y, 1);
            if (i == 1) continue;
            tc_trace_end(tc);
        }
        tc_trace_end(tc);
        while (tc_is_compiling(tc)) tc_trace_end(tc);
        CHECK_EQ(AT(y, 3), 6);
        tc_error_clear(tc);
    }
    CHECK_EQ(times_told("region \"loop\" is begun again at tests/region/loops.c:"), 1);
    CHECK_EQ(times_told("inside \"outer\", and its tc_trace_end was not called"), 1);
    tc_close(tc);
}

// A region that is left by a break goes on with what is called behind it: that is told when it is long.
TEST(a_region_that_is_left_for_good) {
    tc_ctx *tc = open_telling();
    tc_tensor x = line(tc, 40, 0, 1);
    for (int k = 0; k < 4; k++) {
        tc_trace_begin(tc, "left");
        x = tc_mul_s(x, 0.5);
        if (k == 3) break;
        CHECK_EQ(tc_trace_end(tc), TC_OK);
    }
    for (int k = 0; k < 400; k++) {
        CHECK_STR(k < 200 ? told : "", "");
        x = tc_add_s(x, 1);
        if (k % 20 == 19) CHECK(AT(x, 0) == k + 1);
    }
    CHECK_EQ(times_told("region \"left\" begun at tests/region/loops.c:"), 1);
    CHECK_EQ(times_told("and ended behind 1 before; did a break or return"), 1);
    tc_close(tc);
    CHECK_EQ(times_told("is still open"), 1);
}

// Regions by functions of their own: any end is the innermost one's.
static void open_region(tc_ctx *tc, const char *name) { tc_trace_begin(tc, name); }
static tc_status close_region(tc_ctx *tc) { return tc_trace_end(tc); }

static tc_tensor third(tc_ctx *tc, tc_tensor x, int early) {
    tc_trace_begin(tc, "third");
    x = tc_add_s(x, 1);
    if (!early) CHECK_EQ(tc_trace_end(tc), TC_OK);
    return x;
}

static tc_tensor second(tc_ctx *tc, tc_tensor x, int early) {
    tc_trace_begin(tc, "second");
    x = third(tc, tc_mul_s(x, 2), early);
    if (early > 1) return x;
    CHECK_EQ(tc_trace_end(tc), early ? TC_E_REGION : TC_OK);
    return x;
}

// What was recorded is computed, whatever was left, from the first visit on.
TEST(regions_left_early_lose_nothing) {
    tc_ctx *tc = open_telling();
    tc_tensor x = line(tc, 40, 0, 1);
    for (int k = 0; k < 9; k++) {
        int early = (k + 2) % 3;
        tc_trace_begin(tc, "first");
        tc_tensor y = tc_mul_s(second(tc, x, early), 10);
        CHECK_EQ(tc_trace_end(tc), early ? TC_E_REGION : TC_OK);
        if (early)
            ERROR(TC_E_REGION, early == 2 ? "\"second\", begun" : "\"third\", begun");
        CHECK_EQ(AT(y, 3), 70);
        CHECK_EQ(tc_reset(tc), TC_OK);
    }
    tc_close(tc);
}

TEST(regions_that_functions_begin_and_end) {
    tc_ctx *tc = open_telling();
    tc_tensor x = line(tc, 40, 0, 1);
    for (int k = 0; k < 6; k++) {
        open_region(tc, "a");
        for (int i = 0; i < k; i++) open_region(tc, i % 2 ? "b" : "c");
        tc_tensor y = tc_add_s(x, 1);
        for (int i = 0; i <= k; i++) CHECK_EQ(close_region(tc), TC_OK);
        CHECK_EQ(AT(y, 3), 4);
    }
    CHECK_STR(told, "");
    tc_close(tc);
}
