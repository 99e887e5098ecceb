// A region that writes through a view and reads the tensor behind that: the part is stored at its place, and
// what is read is read there. Values come from plain C in double.
#include "harness.h"

#include "tcompile.h"

#include "help.h"

enum { HEADS = 4, MOST = 4096, TOKENS = 24 };

static int programs_of(tc_ctx *tc) { return (int)tc_stats_get(tc).programs; }

// A row of integers that differ: sums of their products are exact.
static void token(int n, int width, double *row) {
    for (int i = 0; i < HEADS * width; i++) row[i] = (n * 5 + i * 3) % 7 - 3;
}

static tc_tensor tensor_of(tc_ctx *tc, const double *x, tc_dims dims, int n) {
    float f[512];
    for (int i = 0; i < n; i++) f[i] = (float)x[i];
    return tc_from_data(tc, f, dims, TC_F32);
}

// What attention without softmax gives for token n, where the cache has twice the rows: exact, too.
static double attended(int n, int width, int at) {
    double now[512], then[512], sum = 0;
    int head = at / width;
    token(n, width, now);
    for (int i = 0; i <= n; i++) {
        double product = 0;
        token(i, width, then);
        for (int k = head * width; k < (head + 1) * width; k++) product += now[k] * then[k];
        sum += 2 * product * 2 * then[at];
    }
    return sum;
}

// A loop over a cache [HEADS, MOST, width] of which a step writes one row for each head, and reads those so far.
static void check_heads(tc_ctx *tc, const char *name, int width, uint64_t room) {
    tc_tensor cache = tc_zeros(tc, TC_DIMS(HEADS, MOST, width), TC_F32);
    uint64_t arena = tc_stats_get(tc).arena_bytes;
    int before = programs_of(tc);
    for (int n = 0; n < TOKENS; n++) {
        double row[512];
        token(n, width, row);
        tc_tensor x = tensor_of(tc, row, TC_DIMS(HEADS, 1, width), HEADS * width), y;
        BEGIN(name);
        tc_copy_(tc_narrow(cache, 1, n, 1), tc_mul_s(x, 2));
        tc_tensor seen = tc_narrow(cache, 1, 0, n + 1);
        y = tc_keep(tc_matmul(tc_matmul(x, tc_transpose(seen, 1, 2)), seen));
        END();
        for (int i = 0; i < HEADS * width; i++)
            if (AT(y, i) != attended(n, width, i)) FAIL("token %d, %d: %g", n, i, AT(y, i));
        tc_free(x), tc_free(y);
    }
    CHECK_EQ(programs_of(tc) - before, 2);
    if (tc_stats_get(tc).arena_bytes - arena > room)
        FAIL("intermediates take %lld bytes",
             (long long)(tc_stats_get(tc).arena_bytes - arena));
    double row[512];
    token(TOKENS - 1, width, row);
    for (int i = 0; i < HEADS * width; i++)
        CHECK_EQ(AT(tc_narrow(cache, 1, TOKENS - 1, 1), i), 2 * row[i]);
    CHECK_EQ(AT(tc_narrow(cache, 1, TOKENS, 1), 0), 0.0);
    tc_free(cache);
}

BOTH(a_cache_of_heads_is_read_where_it_is_written) {
    check_heads(tc, "heads of 64", 64, 16 << 10);
    check_heads(tc, "heads of 32", 32, 16 << 10);
    check_heads(tc, "heads of 16", 16, 16 << 10);
    check_heads(tc, "heads of 80", 80, 16 << 10);
}

// Rows of 5 are no vectors: stored elsewhere and copied, with the same values.
BOTH(a_cache_of_short_rows_has_the_same_values) {
    check_heads(tc, "heads of 5", 5, UINT64_MAX);
}

// The same of rows that lie together, where the part is a product itself; both caches in one function.
static void decode(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    int64_t n = tc_shape(in[3]).size[0];
    (void)tc, (void)user;
    tc_copy_(tc_narrow(in[1], 0, n - 1, 1), tc_matmul(in[0], in[2]));
    tc_tensor seen = tc_narrow(in[1], 0, 0, n);
    out[0] = tc_matmul(in[0], tc_transpose(seen, 0, 1));
}

BOTH(a_product_is_appended_in_a_function) {
    enum { D = 32 };
    tc_fn *fn = tc_compile(tc, decode, NULL, 0, NULL);
    tc_tensor cache = tc_zeros(tc, TC_DIMS(MOST, D), TC_F32);
    float twice[D * D] = {0};
    for (int i = 0; i < D; i++) twice[i * D + i] = 2;
    tc_tensor w = tc_from_data(tc, twice, TC_DIMS(D, D), TC_F32), y;
    for (int n = 1; n <= TOKENS; n++) {
        double row[512], then[512];
        token(n, D / HEADS, row);
        tc_tensor x = tensor_of(tc, row, TC_DIMS(1, D), D);
        tc_tensor count = tc_zeros(tc, TC_DIMS(n), TC_F32);
        tc_tensor in[4];
        in[0] = x, in[1] = cache, in[2] = w, in[3] = count;
        CHECK_EQ(tc_call(fn, in, 4, &y, 1), TC_OK);
        for (int i = 1; i <= n; i++) {
            double sum = 0;
            token(i, D / HEADS, then);
            for (int k = 0; k < D; k++) sum += row[k] * 2 * then[k];
            if (AT(y, i - 1) != sum)
                FAIL("row %d of %d: %g, not %g", i, n, AT(y, i - 1), sum);
        }
        tc_free(x), tc_free(y), tc_free(count);
    }
    CHECK(tc_stats_get(tc).arena_bytes < 16 << 10);
    tc_free(cache), tc_free(w);
}

// ---- where it has to be as if a new value were made of all of it ----

static tc_tensor rows_of(tc_tensor x, int from, int n) { return tc_narrow(x, 0, from, n); }

// x[r][c] = 100 r + c of 6 x 32, in memory of its own.
static tc_tensor six_rows(tc_ctx *tc) {
    float f[6 * 32];
    for (int i = 0; i < 6 * 32; i++) f[i] = (float)(100 * (i / 32) + i % 32);
    return tc_from_data(tc, f, TC_DIMS(6, 32), TC_F32);
}

#define ROWS(t, a, b, c, d, e, f)                                                          \
    do {                                                                                   \
        static const double want[6] = {a, b, c, d, e, f};                                  \
        for (int r = 0; r < 6; r++)                                                        \
            for (int k = 0; k < 32; k++) CHECK_EQ(AT(t, 32 * r + k), want[r] + k);         \
    } while (0)

BOTH(what_was_there_before_is_read_too) {
    tc_tensor x = six_rows(tc), old, now;
    BEGIN("before and behind");
    old = tc_keep(tc_mul_s(x, 1));
    tc_copy_(rows_of(x, 1, 1), tc_add_s(rows_of(x, 4, 1), 1));
    now = tc_keep(tc_cumsum(x, 0));
    END();
    ROWS(old, 0, 100, 200, 300, 400, 500);
    ROWS(x, 0, 401, 200, 300, 400, 500);
    CHECK_EQ(AT(now, 5 * 32), 1801.0);
    tc_free(x), tc_free(old), tc_free(now);
}

BOTH(parts_that_meet_are_written_in_order) {
    tc_tensor x = six_rows(tc), y, z;
    BEGIN("parts");
    tc_copy_(rows_of(x, 0, 3),
             tc_mul_s(rows_of(tc_flip(tc_mul_s(x, 1), TC_DIMS(0)), 0, 3), 1));
    y = tc_keep(tc_cumsum(x, 0));
    tc_add_s_(rows_of(x, 2, 2), 7);
    tc_add_s_(rows_of(x, 2, 2), 1);
    z = tc_keep(tc_cumsum(x, 0));
    END();
    ROWS(x, 500, 400, 308, 308, 400, 500);
    CHECK_EQ(AT(y, 5 * 32), 500.0 + 400 + 300 + 300 + 400 + 500);
    CHECK_EQ(AT(z, 5 * 32 + 1), 500.0 + 400 + 308 + 308 + 400 + 500 + 6);
    tc_free(x), tc_free(y), tc_free(z);
}

BOTH(a_view_is_written_again_and_read_by_itself) {
    tc_tensor x = six_rows(tc), v, y, z;
    for (int visit = 0; visit < 3; visit++) {
        BEGIN("again");
        v = rows_of(x, 2, 2);
        tc_copy_(v, tc_full(tc, TC_DIMS(2, 32), 3, TC_F32));
        tc_add_s_(v, 4);
        y = tc_keep(tc_mul_s(v, 2));
        tc_mul_s_(v, 10);
        z = tc_keep(tc_cumsum(x, 1));
        END();
        CHECK_EQ(AT(y, 40), 14.0);
        CHECK_EQ(AT(z, 2 * 32 + 31), 70.0 * 32);
        CHECK_EQ(AT(z, 1 * 32 + 31), 100.0 * 32 + 31 * 16);
        CHECK_EQ(AT(x, 3 * 32 + 5), 70.0);
        tc_free(y), tc_free(z);
    }
    tc_free(x);
}

// A run that fails half-way leaves the tensor as it was.
BOTH(what_may_fail_writes_nothing_first) {
    tc_tensor x = six_rows(tc), y = tc_null();
    int64_t at[2] = {5, 9};
    tc_tensor index = tc_from_data(tc, at, TC_DIMS(2), TC_I64);
    BEGIN("fails");
    tc_copy_(rows_of(x, 0, 1), tc_full(tc, TC_DIMS(1, 32), -1, TC_F32));
    y = tc_keep(tc_index_select(x, 0, index));
    (void)tc_trace_end(tc);
    ERROR(TC_E_INDEX, "9");
    CHECK_EQ(AT(x, 3), 3.0);
    (void)y;
    tc_free(x), tc_free(index);
}
