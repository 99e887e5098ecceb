// Opaque ops among others: fused neighbours, sizes at run time, frozen calls, threads, verification,
// what is said of them.
#include "tcompile.h"

#include "harness.h"

#include "help.h"

enum { COLS = 12, BATCHES = 16 };

static float given(int i) { return (float)((i * 37) % 23) - 11; }

static tc_tensor matrix(tc_ctx *tc, int rows) {
    float *p = (float *)malloc(sizeof *p * (size_t)(rows * COLS));
    for (int i = 0; i < rows * COLS; i++) p[i] = given(i);
    tc_tensor t = tc_from_data(tc, p, TC_DIMS(rows, COLS), TC_F32);
    free(p);
    return t;
}

// x * 2 -> cumsum -> + 1
static void check_sums(tc_tensor y, int rows) {
    float *got = (float *)malloc(sizeof *got * (size_t)(rows * COLS));
    CHECK_EQ(tc_read(y, got, sizeof *got * (size_t)(rows * COLS)), TC_OK);
    for (int r = 0; r < rows; r++) {
        double sum = 0;
        for (int c = 0; c < COLS; c++) {
            sum += 2 * (double)given(r * COLS + c);
            CHECK_NEAR(got[r * COLS + c], sum + 1, 0);
        }
    }
    free(got);
}

BOTH(fused_around) {
    tc_tensor x = matrix(tc, 5);
    for (int k = 0; k < 3; k++) {
        BEGIN("around");
        tc_tensor y = tc_add_s(tc_cumsum(tc_mul_s(x, 2), 1), 1);
        END();
        check_sums(y, 5);
    }
    const char *text = tc_explain(tc);
    CHECK_EQ(tc_explain_counts(tc, "around").kernels, 3);
    CHECK(strstr(text, "kernel 1: opaque op, rows 5 x columns 12"));
    CHECK(strstr(text, "runs the library's function as k1_opaque_cumsum"));
}

static int body_runs;

// All of them on a batch: sums, order, the best three, counts by an index.
static void mixed(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    tc_tensor x = tc_mul_s(in[0], 2), at = in[1];
    (void)user;
    body_runs++;
    out[0] = tc_add_s(tc_cumsum(x, 1), 1);
    out[1] = tc_add_s(tc_argsort(tc_neg(x), -1, 0), 1);
    CHECK_EQ(tc_topk(x, 3, 1, 1, &out[2], NULL), TC_OK);
    out[3] = tc_scatter_add(tc_zeros(tc, TC_DIMS(COLS, 2), TC_F32), 0,
                            tc_reshape(at, TC_DIMS(-1, 2)),
                            tc_reshape(tc_narrow(x, 1, 0, 2), TC_DIMS(-1, 2)));
    out[4] = tc_cumsum(x, 0);
}

enum { OUTS = 5 };

static tc_tensor places(tc_ctx *tc, int rows) {
    int64_t *p = (int64_t *)malloc(sizeof *p * (size_t)(2 * rows));
    for (int i = 0; i < 2 * rows; i++) p[i] = i * 5 % COLS - (i % 3 ? 0 : COLS);
    tc_tensor t = tc_from_data(tc, p, TC_DIMS(rows, 2), TC_I64);
    free(p);
    return t;
}

static int compare_floats(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return x < y ? 1 : -(x > y);
}

static void check_mixed(const tc_tensor *out, int rows) {
    static float best[64 * 3], table[COLS * 2], want[COLS * 2], down[64 * COLS];
    static int64_t order[64 * COLS];
    memset(want, 0, sizeof want);
    check_sums(out[0], rows);
    CHECK_EQ(tc_read(out[1], order, sizeof *order * (size_t)(rows * COLS)), TC_OK);
    CHECK_EQ(tc_read(out[2], best, sizeof *best * (size_t)(rows * 3)), TC_OK);
    CHECK_EQ(tc_read(out[3], table, sizeof table), TC_OK);
    CHECK_EQ(tc_read(out[4], down, sizeof *down * (size_t)(rows * COLS)), TC_OK);
    for (int r = 0; r < rows; r++) {
        float row[COLS];
        for (int c = 0; c < COLS; c++) row[c] = 2 * given(r * COLS + c);
        for (int c = 1; c < COLS; c++) {
            int64_t a = order[r * COLS + c - 1] - 1, b = order[r * COLS + c] - 1;
            CHECK(row[a] > row[b] || (row[a] == row[b] && a < b));
        }
        qsort(row, COLS, sizeof *row, compare_floats);
        for (int k = 0; k < 3; k++) CHECK_NEAR(best[r * 3 + k], row[k], 0);
    }
    for (int i = 0; i < 2 * rows; i++)
        want[i * 5 % COLS * 2 + i % 2] += 2 * given(i / 2 * COLS + i % 2);
    for (int i = 0; i < COLS * 2; i++) CHECK_NEAR(table[i], want[i], 0);
    for (int c = 0; c < COLS; c++) {
        float sum = 0;
        for (int r = 0; r < rows; r++) {
            sum += 2 * given(r * COLS + c);
            CHECK_NEAR(down[r * COLS + c], sum, 0);
        }
    }
}

static void sums(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_add_s(tc_cumsum(tc_mul_s(in[0], 2), 1), 1);
}

// A short-cut call, with other tensors each time; then frozen.
BOTH(short_cut) {
    tc_fn *f = tc_compile(tc, sums, NULL, 0, NULL);
    tc_tensor x[6], y;
    for (int k = 0; k < 6; k++)
        x[k] = k == 4 ? tc_zeros(tc, TC_DIMS(4, COLS), TC_F32) : matrix(tc, 4);
    for (int k = 0; k < 24; k++) {
        if (k == 12) CHECK_EQ(tc_freeze(tc), TC_OK);
        CALL(f, &x[k % 6], 1, &y, 1);
        const float *got = (const float *)tc_data(y);
        if (k % 6 == 4)
            for (int i = 0; i < 4 * COLS; i++) CHECK_NEAR(got[i], 1, 0);
        else
            CHECK_NEAR(got[1], 2 * (given(0) + given(1)) + 1, 0);
        tc_free(y);
    }
    CHECK_EQ(tc_thaw(tc), TC_OK);
}

BOTH(batch_sizes) {
    tc_fn *f = tc_compile(tc, mixed, NULL, 0, NULL);
    uint64_t programs = 0;
    for (int k = 0; k < 2 * BATCHES; k++) {
        int rows = 3 + k * 3 % BATCHES;
        tc_tensor in[2], out[OUTS];
        in[0] = matrix(tc, rows), in[1] = places(tc, rows);
        uint64_t before = tc_stats_get(tc).programs;
        CALL(f, in, 2, out, OUTS);
        programs += tc_stats_get(tc).programs - before;
        check_mixed(out, rows);
    }
    CHECK(programs <= 2);
    CHECK(!tc_fn_demoted(f));
}

static void sorted(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    CHECK_EQ(tc_sort(tc_mul_s(in[0], 3), 0, 0, &out[0], &out[1]), TC_OK);
}

// The sorted dimension is what comes at run time: scratch grows, and the way to sort changes.
BOTH(sorting_of_run_time_sizes) {
    tc_fn *f = tc_compile(tc, sorted, NULL, 0, NULL);
    uint64_t programs = 0;
    for (int k = 0; k < BATCHES; k++) {
        int rows = 5 + k * 397 % 700;
        tc_tensor x = matrix(tc, rows), out[2];
        uint64_t before = tc_stats_get(tc).programs;
        CALL(f, &x, 1, out, 2);
        programs += tc_stats_get(tc).programs - before;
        float *v = (float *)malloc(sizeof *v * (size_t)(rows * COLS));
        int64_t *at = (int64_t *)malloc(sizeof *at * (size_t)(rows * COLS));
        CHECK_EQ(tc_read(out[0], v, sizeof *v * (size_t)(rows * COLS)), TC_OK);
        CHECK_EQ(tc_read(out[1], at, sizeof *at * (size_t)(rows * COLS)), TC_OK);
        for (int i = 0; i < rows * COLS; i++) {
            CHECK_NEAR(v[i], 3 * given((int)at[i] * COLS + i % COLS), 0);
            if (i < COLS) continue;
            float was = v[i - COLS];
            CHECK(was < v[i] || (was == v[i] && at[i - COLS] < at[i]));
        }
        free(v), free(at);
    }
    CHECK(programs <= 2);
}

// k is part of the structure, and must not be more than a batch has.
BOTH(topk_of_batches) {
    for (int rows = 6; rows > 2; rows--) {
        tc_tensor x = matrix(tc, rows), v, i;
        BEGIN("best rows");
        tc_status s = tc_topk(x, 4, 0, 0, &v, &i);
        if (rows >= 4) {
            CHECK_EQ(s, TC_OK);
            END();
            CHECK_EQ(tc_dim(v, 0), 4);
            for (int k = 1; k < 4; k++) CHECK(AT(v, k * COLS) >= AT(v, (k - 1) * COLS));
        } else {
            CHECK_EQ(s, TC_E_ARG);
            CHECK(!v.id && !i.id);
            CHECK_EQ(tc_trace_end(tc), TC_E_ARG); // what was asked for is not there
            ERROR(TC_E_ARG, "topk: k is 4");
        }
    }
}

BOTH(precompiled_and_frozen) {
    tc_spec s[2];
    memset(s, 0, sizeof s);
    s[0].dtype = TC_F32, s[0].rank = 2, s[0].dims[0] = 7, s[0].dims[1] = COLS;
    s[1].dtype = TC_I64, s[1].rank = 2, s[1].dims[0] = 7, s[1].dims[1] = 2;
    body_runs = 0;
    tc_fn *f = tc_compile(tc, mixed, NULL, 0, NULL);
    CHECK_EQ(tc_precompile(f, s, 2, OUTS), TC_OK);
    int warm = body_runs;
    tc_tensor in[2], out[OUTS];
    in[0] = matrix(tc, 7), in[1] = places(tc, 7);
    for (int k = 0; k < 3; k++) {
        CALL(f, in, 2, out, OUTS);
        for (int i = 0; i < OUTS; i++) tc_free(out[i]);
    }
    CHECK_EQ(tc_freeze(tc), TC_OK);
    for (int k = 0; k < 3; k++) {
        CALL(f, in, 2, out, OUTS);
        if (k < 2)
            for (int i = 0; i < OUTS; i++) tc_free(out[i]);
    }
    CHECK_EQ(tc_thaw(tc), TC_OK);
    check_mixed(out, 7);
    CHECK_EQ(body_runs, warm);
}

// Wide rows, so that threads share them: the same bits for any number.
static void wide_run(tc_ctx *tc, tc_tensor *out) {
    enum { ROWS = 24, WIDE = 3000 };
    tc_manual_seed(tc, 5);
    tc_tensor x = tc_randn(tc, TC_DIMS(ROWS, WIDE), TC_F32);
    tc_tensor at = tc_randint(tc, 0, 50, TC_DIMS(ROWS, WIDE), TC_I64);
    tc_tensor zeros = tc_zeros(tc, TC_DIMS(ROWS, 50), TC_F32), v;
    BEGIN("wide");
    out[0] = tc_cumsum(x, 1), out[1] = tc_argsort(x, 1, 1);
    out[2] = tc_scatter_add(zeros, 1, at, x), out[3] = tc_scatter(zeros, 1, at, x);
    tc_topk(x, 10, 1, 1, &out[4], &v);
    END();
}

TEST(threads_change_no_bit) {
    static float got[2][24 * 3000];
    for (int i = 0; i < 5; i++) {
        size_t bytes[2];
        for (int run = 0; run < 2; run++) {
            tc_config config = tc_config_default();
            tc_tensor out[5];
            config.threads = run ? 4 : 1, config.no_disk_cache = 1;
            config.backend = "aot_eager";
            tc_ctx *tc = tc_open(&config);
            wide_run(tc, out);
            tc_tensor y = i == 1 ? tc_to_f32(out[i]) : out[i];
            bytes[run] = (size_t)tc_numel(y) * sizeof(float);
            CHECK_EQ(tc_read(y, got[run], bytes[run]), TC_OK);
            CHECK_EQ(tc_error(tc), TC_OK);
            tc_close(tc);
        }
        CHECK_EQ(bytes[0], bytes[1]);
        CHECK_BYTES(got[0], got[1], bytes[0]);
    }
}

// The interpreter and compiled code are compared, and kernels measured, as ever.
TEST(verified_and_tuned) {
    for (int tuned = 0; tuned < 2; tuned++) {
        tc_ctx *tc = open_backend("cpu");
        tc_options o;
        memset(&o, 0, sizeof o);
        o.verify = !tuned;
        if (tuned) o.mode = "max-autotune";
        tc_tensor x = matrix(tc, 9);
        for (int k = 0; k < 3; k++) {
            tc_trace_begin_at(tc, "checked", &o, "rows.c", 3);
            tc_tensor y = tc_add_s(tc_cumsum(tc_mul_s(x, 2), 1), 1);
            END();
            check_sums(y, 9);
        }
        CHECK_EQ(tc_error(tc), TC_OK);
        tc_close(tc);
    }
}

// In place around them: what they read is what was there.
BOTH(in_place) {
    tc_tensor x = matrix(tc, 4), kept = tc_clone(x);
    for (int k = 0; k < 3; k++) {
        BEGIN("in place");
        tc_copy_(x, kept);
        tc_mul_s_(x, 2);
        tc_copy_(x, tc_cumsum(x, 1));
        tc_add_s_(x, 1);
        END();
        check_sums(x, 4);
    }
}
